# perf_tally.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_tally.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
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
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_tally.h" nogil:
    ctypedef struct perf_tally:
        perf_hist hist
        uint64_t calls
        uint64_t sum_ns
        uint64_t total_ns
        uint64_t self_ns
        uint64_t parts
        uint64_t most_ns
        uint64_t least_ns
        uint32_t most
        uint32_t least
        double imbalance

    perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out) noexcept
    perf_status perf_tally_merge(perf_tally *into, const perf_tally *from_) noexcept
