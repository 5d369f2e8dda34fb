# perf_hlog.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_hlog.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *
from perfh.perf_hist cimport *

cdef extern from "perf_hlog.h" nogil:
    ctypedef struct perf_hlog_interval:
        double start_seconds
        double length_seconds
        const char *tag
        size_t tag_size
        double max_unit
        double max
        double ratio
        uint64_t count
        int version
        int digits
        size_t offset

    size_t perf_hlog_text(char *out, size_t cap, const perf_hist *h,
            const perf_hlog_interval *iv) noexcept

    ctypedef struct perf_hlog_reader:
        const char *text
        size_t size
        size_t at
        size_t error_at
        double start_seconds
        double base_seconds

    perf_status perf_hlog_next(perf_hlog_reader *r, perf_hlog_interval *iv,
            perf_hist *into) noexcept
    int perf_hist_next_step(const perf_hist *h, perf_hist_bucket *b, uint64_t first,
            double times) noexcept

    ctypedef struct perf_hist_level:
        double quantile
        double value
        uint64_t count

    int perf_hist_next_level(const perf_hist *h, perf_hist_level *l, int steps) noexcept
    size_t perf_hist_bars_text(char *out, size_t cap, const perf_hist *h, int rows,
            int columns, int utf8) noexcept
    size_t perf_hist_otlp_text(char *out, size_t cap, const perf_hist *h,
            const char *name, const char *unit, uint64_t start_ns, uint64_t end_ns) noexcept
    size_t perf_hist_prometheus_text(char *out, size_t cap, const perf_hist *h,
            const char *name) noexcept
