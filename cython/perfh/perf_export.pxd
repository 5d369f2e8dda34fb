# perf_export.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_export.h; cython/README.md shows the use.
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
from perfh.perf_results cimport *
from perfh.perf_saved cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_export.h" nogil:
    ctypedef enum perf_export_format:
        PERF_EXPORT_GOOGLE
        PERF_EXPORT_GO
        PERF_EXPORT_OPENMETRICS
        PERF_EXPORT_FOLDED
        PERF_EXPORT_FLAME

    perf_status perf_export_save(const char *path, perf_export_format format,
            const perf_results_opts *opts) noexcept
