# perf_gpu_driver.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_gpu_driver.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
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

cdef extern from "perf_gpu_driver.h" nogil:
    enum:
        PERF_HIP
        PERF_GPU_TABLE_SIMULATED
        PERF_GPU_TABLE_AMD
        PERF_GPU_POOL_RESERVED
        PERF_GPU_POOL_USED
        PERF_GPU_POOL_USED_HIGH
        PERF_GPU_NOT_READY
        PERF_GPU_SHUT_DOWN
        PERF_GPU_UNREAD

    ctypedef struct perf_gpu_backend:
        uint32_t size
        uint32_t flags
        const char *name
        int (*ctx_get)(void **) noexcept nogil
        int (*event_create)(void **, unsigned int) noexcept nogil
        int (*event_destroy)(void *) noexcept nogil
        int (*event_record)(void *, void *) noexcept nogil
        int (*event_query)(void *) noexcept nogil
        int (*event_sync)(void *) noexcept nogil
        int (*event_elapsed)(float *, void *, void *) noexcept nogil
        int (*stream_query)(void *) noexcept nogil
        int (*stream_sync)(void *) noexcept nogil
        int (*ctx_set)(void *) noexcept nogil
        int (*ctx_device)(int *) noexcept nogil
        int (*stream_ctx)(void *, void **) noexcept nogil
        int (*device_attribute)(int *, int, int) noexcept nogil
        int (*stream_capturing)(void *, int *) noexcept nogil
        int (*capture_mode)(int *) noexcept nogil
        int (*capture_begin)(void *, int) noexcept nogil
        int (*capture_end)(void *, void **) noexcept nogil
        int (*graph_instantiate)(void **, void *, unsigned long long) noexcept nogil
        int (*graph_launch)(void *, void *) noexcept nogil
        int (*graph_exec_destroy)(void *) noexcept nogil
        int (*graph_destroy)(void *) noexcept nogil
        int (*event_record_flags)(void *, void *, unsigned int) noexcept nogil
        int (*host_func)(void *, void (*)(void *), void *) noexcept nogil
        int (*mem_info)(size_t *, size_t *) noexcept nogil
        int (*mem_alloc)(uint64_t *, size_t) noexcept nogil
        int (*mem_free)(uint64_t) noexcept nogil
        int (*host_alloc)(void **, size_t, unsigned int) noexcept nogil
        int (*host_free)(void *) noexcept nogil
        int (*host_address)(uint64_t *, void *, unsigned int) noexcept nogil
        int (*fill)(uint64_t, unsigned char, size_t, void *) noexcept nogil
        int (*pool_get)(void **, int) noexcept nogil
        int (*pool_value)(void *, int, void *) noexcept nogil
        int (*module_load)(void **, const void *) noexcept nogil
        int (*module_unload)(void *) noexcept nogil
        int (*module_function)(void **, void *, const char *) noexcept nogil
        int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, void *, void **, void **) noexcept nogil
        int (*error_name)(int, const char **) noexcept nogil
        int (*error_text)(int, const char **) noexcept nogil
        int (*device_clock)(int, unsigned int *, uint64_t *) noexcept nogil
        int (*ctx_id)(void *, unsigned long long *) noexcept nogil
        int (*ctx_record)(void *, void *) noexcept nogil
        int (*mem_alloc_on)(uint64_t *, size_t, void *) noexcept nogil
        int (*mem_free_on)(uint64_t, void *) noexcept nogil
        int (*error_waits)() noexcept nogil
        int (*pool_set)(void *, int, void *) noexcept nogil
        int (*ctx_limit)(size_t *, int) noexcept nogil
        int (*l2_release)() noexcept nogil
        int (*device_bus)(char *, int, int) noexcept nogil
        int (*device_meter)(int, int, double *) noexcept nogil
        int (*profiler_start)() noexcept nogil
        int (*profiler_stop)() noexcept nogil
        int (*error_peek)() noexcept nogil
        int (*error_clear)() noexcept nogil
        int (*device_name)(char *, int, int) noexcept nogil

    const perf_gpu_backend *perf_gpu_table() noexcept
    perf_status perf_gpu_status() noexcept
    const char *perf_gpu_error_text() noexcept
