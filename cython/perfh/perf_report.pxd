# perf_report.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_report.h; cython/README.md shows the use.
from libc.stdio cimport FILE
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_bound cimport *
from perfh.perf_calibration cimport *
from perfh.perf_case cimport *
from perfh.perf_chrome cimport *
from perfh.perf_clock cimport *
from perfh.perf_hist cimport *
from perfh.perf_record cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_report.h" nogil:
    enum:
        PERF_AT_EXIT

    ctypedef enum perf_sort:
        PERF_SORT_SELF
        PERF_SORT_TOTAL
        PERF_SORT_CALLS
        PERF_SORT_MEAN
        PERF_SORT_MAX
        PERF_SORT_NAME

    ctypedef enum perf_view:
        PERF_VIEW_TABLE
        PERF_VIEW_TREE
        PERF_VIEW_CSV
        PERF_VIEW_JSON
        PERF_VIEW_DIAGNOSIS

    ctypedef struct perf_report_opts:
        perf_sort sort
        int rows
        perf_view view
        int width

    perf_status perf_report() noexcept
    perf_status perf_report_to(FILE *file, const perf_report_opts *opts) noexcept
    size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts) noexcept
