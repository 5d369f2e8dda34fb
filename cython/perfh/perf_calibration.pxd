# perf_calibration.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_calibration.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
from perfh.perf_base cimport *
from perfh.perf_clock cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_calibration.h" nogil:
    ctypedef enum perf_clock_warning:
        PERF_CLOCK_OK
        PERF_CLOCK_NOT_INVARIANT
        PERF_CLOCK_BACKWARDS
        PERF_CLOCK_ROUGH
        PERF_CLOCK_MIXED
        PERF_CLOCK_STANDS

    ctypedef struct perf_clock_info:
        const char *name
        double hz
        double tick_ns
        double resolution_ns
        double cost_ns
        double error_ppm
        uint32_t warnings

    double perf_ticks_to_ns(uint64_t ticks) noexcept
    perf_clock_info perf_clock() noexcept
