# perf_variant.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_variant.h; cython/README.md shows the use.
from perfh.perf_base cimport *
from perfh.perf_calibration cimport *
from perfh.perf_clock cimport *
from perfh.perf_record cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_variant.h" nogil:
    int perf_variant(const char *name, int otherwise) noexcept
