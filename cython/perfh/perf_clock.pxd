# perf_clock.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_clock.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *

cdef extern from "perf_clock.h" nogil:
    enum:
        PERF_CLOCK_AUTO
        PERF_CLOCK_MONOTONIC
        PERF_CLOCK_TSC
        PERF_CLOCK

    uint64_t perf_ticks() noexcept
    uint64_t perf_now() noexcept
