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

    size_t perf_hlog_text(char *out, size_t cap, const perf_hist *hist,
            const perf_hlog_interval *iv) noexcept

    ctypedef struct perf_hlog_reader:
        const char *text
        size_t size
        size_t at
        size_t error_at
        double start_seconds
        double base_seconds

    perf_status perf_hlog_next(perf_hlog_reader *reader, perf_hlog_interval *iv,
            perf_hist *into) noexcept
