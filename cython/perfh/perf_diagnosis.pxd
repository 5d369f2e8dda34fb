# perf_diagnosis.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_diagnosis.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
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

cdef extern from "perf_diagnosis.h" nogil:
    enum:
        PERF_DIAGNOSIS

    ctypedef struct perf_diagnosis:
        perf_bound_by bound
        double share[13]
        char unit[128]
        uint64_t calls
        double mean_ns
        perf_summary time
        char where[256]
        double where_share
        double where_ns
        double where_calls
        double best
        double best_run
        double overlapped
        const char *advice
        char verify[224]
        perf_counted counted

    perf_status perf_diagnose(perf_diagnosis *diagnosis) noexcept
