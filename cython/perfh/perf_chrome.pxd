# perf_chrome.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_chrome.h; cython/README.md shows the use.
from perfh.perf_base cimport *
from perfh.perf_calibration cimport *
from perfh.perf_clock cimport *
from perfh.perf_record cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_chrome.h" nogil:
    perf_status perf_trace_save(const char *path) noexcept
