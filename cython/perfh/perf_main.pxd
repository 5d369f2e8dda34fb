# perf_main.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_main.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_BENCH          for C and C++ only
#     PERF_BENCH_N        for C and C++ only
#     PERF_BENCH_THREADS  for C and C++ only
from perfh.perf cimport *
from perfh.perf_stats cimport *

cdef extern from "perf_main.h" nogil:
    void perf_bench_rates(perf_bench *b, double bytes, double items) noexcept

    ctypedef struct perf_complexity:
        const char *name
        const char *closest
        const char *rival
        double factor
        double error

    perf_complexity perf_complexity_fit(const double *n, const double *ns,
            size_t count) noexcept
