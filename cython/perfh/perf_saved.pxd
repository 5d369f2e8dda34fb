# perf_saved.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_saved.h; cython/README.md shows the use.
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
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_saved.h" nogil:
    ctypedef struct perf_results_item:
        const char *name
        const perf_result *result
        const double *samples
        size_t count

    ctypedef struct perf_results_opts:
        const perf_results_item *items
        size_t count
        int no_scopes
        const char *run
        const char *machine
        double time_s
        const char * *context
        const char *label
        const char * *rejected
        const char * *accepted
        const char * *undecided
        int alone

    ctypedef enum perf_baseline_kind:
        PERF_BASELINE_BENCH
        PERF_BASELINE_AB
        PERF_BASELINE_SCOPE

    perf_status perf_results_save(const char *path, const perf_results_opts *opts) noexcept
    perf_status perf_baseline_add(const char *path, const perf_results_opts *opts) noexcept
