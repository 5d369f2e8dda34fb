# perf_results.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_results.h; cython/README.md shows the use.
from libc.stdio cimport FILE
from perfh.perf cimport *
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
from perfh.perf_saved cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_results.h" nogil:
    ctypedef struct perf_baseline_opts:
        perf_results_opts now
        perf_compare_opts accept
        int any_machine
        int most_unchanged

    ctypedef struct perf_baseline_entry:
        const char *name
        perf_baseline_kind kind
        size_t runs
        int missing
        double before
        double now
        perf_verdict verdict
        perf_decision decision
        double p
        const char *since
        const char *since_label
        size_t since_number
        int creeps
        double spread
        int again
        int withdrawn
        double unseen

    ctypedef struct perf_baseline_odd:
        const char *run
        const char *label
        const char *entry
        size_t number
        double time_s
        double load
        double ratio

    ctypedef struct perf_baseline:
        pass

    perf_baseline perf_baseline_check(const char *path, const perf_baseline_opts *opts) noexcept
    void perf_baseline_free(perf_baseline *baseline) noexcept
    perf_status perf_baseline_to(FILE *file, const perf_baseline *baseline) noexcept
