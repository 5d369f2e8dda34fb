# perf_bound.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_bound.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *
from perfh.perf_calibration cimport *
from perfh.perf_clock cimport *
from perfh.perf_record cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_bound.h" nogil:
    ctypedef enum perf_bound_by:
        PERF_BY_UNKNOWN
        PERF_BY_DATA
        PERF_BY_LOCKS
        PERF_BY_NO_PROCESSOR
        PERF_BY_MEMORY
        PERF_BY_CPU
        PERF_BY_DEVICE
        PERF_BY_COPIES
        PERF_BY_SYNCS
        PERF_BY_LAUNCHES
        PERF_BY_CACHE_MISSES
        PERF_BY_BRANCH_MISSES
        PERF_BY_FRONT_END

    ctypedef struct perf_lost:
        double share
        double per_1000
        double ipc
        const char *scope

    ctypedef struct perf_counted:
        uint64_t calls
        uint64_t scaled
        double ipc
        perf_lost lost[3]

    const char *perf_diagnosis_text(perf_bound_by bound) noexcept
