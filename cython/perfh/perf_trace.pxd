# perf_trace.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_trace.h; cython/README.md shows the use.
from libc.stdint cimport int64_t
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

cdef extern from "perf_trace.h" nogil:
    enum:
        PERF_STREAM_BYTES

    perf_status perf_trace_save_perfetto(const char *path) noexcept
    perf_status perf_trace_stream(const char *path) noexcept
    perf_status perf_trace_stream_flush() noexcept

    ctypedef struct perf_trace_part:
        const char *path
        const char *name
        int64_t offset_ns
        int64_t bound_ns

    perf_status perf_trace_merge(const char *out, const perf_trace_part *part,
            size_t n, size_t *bad) noexcept
