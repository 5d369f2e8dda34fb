# perf_trace.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_trace.h; cython/README.md shows the use.
from perfh.perf cimport *
from perfh.perf_stats cimport *

cdef extern from "perf_trace.h" nogil:
    perf_status perf_trace_save_perfetto(const char *path) noexcept
    perf_status perf_trace_save_folded(const char *path) noexcept
    perf_status perf_trace_save_flame(const char *path, const char *title) noexcept
