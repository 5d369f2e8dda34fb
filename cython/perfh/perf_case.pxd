# perf_case.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_case.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_BENCH          for C and C++ only
#     PERF_BENCH_N        for C and C++ only
#     PERF_BENCH_ARGS     for C and C++ only
#     PERF_BENCH_THREADS  for C and C++ only
#     PERF_BENCH_T        for C and C++ only
#     PERF_BENCH_F        for C and C++ only
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_case.h" nogil:
    void perf_bench_rates(perf_bench *bench, double bytes, double items) noexcept
    void perf_bench_fail(perf_bench *bench, const char *why) noexcept
    void perf_bench_counter(perf_bench *bench, const char *name, double value) noexcept
