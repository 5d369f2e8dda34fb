# perf_record.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_record.h; cython/README.md shows the use.
from perfh.perf_base cimport *
from perfh.perf_calibration cimport *
from perfh.perf_clock cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_record.h" nogil:
    enum:
        PERF_TRACE_EVENTS

    void perf_enable(int on) noexcept
    void perf_trace_enable(int on) noexcept
    void perf_reset() noexcept
    perf_status perf_error() noexcept
