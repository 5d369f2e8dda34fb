# perf_cuda.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_cuda.h; cython/README.md shows the use.
from libc.stdint cimport uint64_t
from perfh.perf cimport *
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_bound cimport *
from perfh.perf_calibration cimport *
from perfh.perf_case cimport *
from perfh.perf_chrome cimport *
from perfh.perf_clock cimport *
from perfh.perf_gpu_driver cimport *
from perfh.perf_gpu_memory cimport *
from perfh.perf_gpu_scope cimport *
from perfh.perf_hist cimport *
from perfh.perf_record cimport *
from perfh.perf_report cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_cuda.h" nogil:
    enum:
        PERF_GPU_SLOTS

    perf_status perf_gpu_use(const perf_gpu_backend *table) noexcept
    perf_status perf_gpu_collect() noexcept
    perf_status perf_gpu_collect_sync() noexcept

    ctypedef struct perf_gpu_stats:
        uint64_t scopes
        double device_ns
        double submit_ns
        double lag_ns
        double lag_max_ns
        double busy_ns
        double span_ns
        double aligned_ns
        double starved_ns
        double copy_ns
        uint64_t pending
        uint64_t dropped
        uint64_t captured
        uint64_t no_context
        uint64_t failed
        uint64_t no_gpu
        int error
        uint64_t backwards

    perf_gpu_stats perf_gpu_stats_of(const char *name) noexcept
