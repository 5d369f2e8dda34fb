# perf_counters.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_counters.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_bound cimport *
from perfh.perf_calibration cimport *
from perfh.perf_case cimport *
from perfh.perf_chrome cimport *
from perfh.perf_clock cimport *
from perfh.perf_hist cimport *
from perfh.perf_record cimport *
from perfh.perf_report cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_counters.h" nogil:
    ctypedef enum perf_counter:
        PERF_COUNTER_INSTRUCTIONS
        PERF_COUNTER_CYCLES
        PERF_COUNTER_BRANCHES
        PERF_COUNTER_BRANCH_MISSES
        PERF_COUNTER_L1D_MISSES
        PERF_COUNTER_LLC_MISSES
        PERF_COUNTER_PAGE_FAULTS
        PERF_COUNTER_SWITCHES
        PERF_COUNTER_MIGRATIONS
        PERF_COUNTER_TASK_CLOCK
        PERF_COUNTER_COUNT

    ctypedef struct perf_counters_opts:
        uint32_t which
        int threads
        int kernel
        int process
        int scopes

    ctypedef struct perf_counters:
        pass

    perf_counters perf_counters_open(const perf_counters_opts *opts) noexcept
    perf_status perf_counters_start(perf_counters *counters) noexcept
    perf_status perf_counters_stop(perf_counters *counters) noexcept
    void perf_counters_close(perf_counters *counters) noexcept
    const char *perf_counters_why(perf_counters *counters, perf_counter which) noexcept
    const char *perf_counters_text(perf_counters *counters) noexcept
    perf_status perf_counters_loop(perf_counters *counters, perf_loop *loop) noexcept
    perf_verdict perf_counters_judge(perf_counters *counters, const perf_rule *rule) noexcept
