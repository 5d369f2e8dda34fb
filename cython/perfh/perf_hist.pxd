# perf_hist.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_hist.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *

cdef extern from "perf_hist.h" nogil:
    const double PERF_HIST_NO_DATA

    ctypedef struct perf_hist:
        pass

    ctypedef struct perf_hist_opts:
        int bits
        int counter_bytes
        uint64_t highest
        uint64_t lowest
        double unit

    size_t perf_hist_bytes(const perf_hist_opts *opts) noexcept
    perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *opts) noexcept
    perf_hist *perf_hist_attach(void *mem, size_t bytes) noexcept
    void perf_hist_add(perf_hist *hist, uint64_t ns) noexcept
    void perf_hist_add_own(perf_hist *hist, uint64_t value) noexcept
    void perf_hist_add_shared(perf_hist *hist, uint64_t ns) noexcept
    void perf_hist_add_n(perf_hist *hist, uint64_t ns, uint64_t n) noexcept
    void perf_hist_add_double(perf_hist *hist, double ns) noexcept
    uint64_t perf_hist_count(const perf_hist *hist) noexcept
    uint64_t perf_hist_lost(const perf_hist *hist) noexcept
    double perf_hist_mean(const perf_hist *hist) noexcept
    double perf_hist_std(const perf_hist *hist) noexcept
    double perf_hist_quantile(const perf_hist *hist, double q) noexcept
    uint64_t perf_hist_rank(const perf_hist *hist, double value) noexcept

    ctypedef struct perf_hist_bucket:
        uint64_t lower
        uint64_t upper
        uint64_t count
        uint64_t below

    int perf_hist_next(const perf_hist *hist, perf_hist_bucket *bucket) noexcept
    perf_status perf_hist_merge(perf_hist *into, const perf_hist *from_) noexcept
    perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from_) noexcept
    perf_status perf_hist_copy(perf_hist *into, const perf_hist *from_) noexcept
    void perf_hist_reset(perf_hist *hist) noexcept
