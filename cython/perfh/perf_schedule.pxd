# perf_schedule.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_schedule.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *
from perfh.perf_calibration cimport *
from perfh.perf_clock cimport *
from perfh.perf_record cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_schedule.h" nogil:
    ctypedef enum perf_phase:
        PERF_PHASE_WAIT
        PERF_PHASE_WARMUP
        PERF_PHASE_ACTIVE
        PERF_PHASE_DONE

    ctypedef struct perf_schedule_opts:
        int skip
        int wait
        int warmup
        int active
        int repeat

    ctypedef struct perf_schedule:
        perf_schedule_opts opts
        perf_phase phase
        uint64_t step
        uint64_t cycle
        uint64_t recorded
        int open
        int was_on

    perf_schedule perf_schedule_begin(const perf_schedule_opts *opts) noexcept
    perf_phase perf_schedule_step(perf_schedule *schedule) noexcept
    perf_status perf_schedule_end(perf_schedule *schedule) noexcept
