# perf_cuda.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_cuda.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_GPU_SCOPE     g = perf_gpu_scope_begin(b"x", stream), try/finally: perf_gpu_scope_end(&g)
#     PERF_GPU_COPY_IN   g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_IN), the same end
#     PERF_GPU_COPY_OUT  g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_OUT), the same end
#     PERF_GPU_COPY      g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_WITHIN), the same end
#     PERF_GPU_WAIT      s = perf_wait_begin(b"x"): counted as a wait for data, not for the device
from libc.stdint cimport uint32_t, uint64_t
from perfh.perf cimport *
from perfh.perf_stats cimport *

cdef extern from "perf_cuda.h" nogil:
    enum:
        PERF_GPU_SLOTS
        PERF_HIP
        PERF_GPU_TABLE_PER_THREAD
        PERF_GPU_TABLE_SIMULATED
        PERF_GPU_POOL_RESERVED
        PERF_GPU_POOL_RESERVED_HIGH
        PERF_GPU_POOL_USED
        PERF_GPU_POOL_USED_HIGH
        PERF_GPU_NOT_READY
        PERF_GPU_BAD_HANDLE
        PERF_GPU_SHUT_DOWN

    ctypedef void *perf_stream

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
        int (*ctx_push)(void *) noexcept nogil
        int (*ctx_pop)(void **) noexcept nogil
        int (*ctx_device)(int *) noexcept nogil
        int (*stream_ctx)(void *, void **) noexcept nogil
        int (*device_count)(int *) noexcept nogil
        int (*device_attribute)(int *, int, int) noexcept nogil
        int (*device_name)(char *, int, int) noexcept nogil
        int (*stream_create)(void **, unsigned int) noexcept nogil
        int (*stream_destroy)(void *) noexcept nogil
        int (*stream_wait)(void *, void *, unsigned int) noexcept nogil
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
        int (*wait_value32)(void *, uint64_t, uint32_t, unsigned int) noexcept nogil
        int (*write_value32)(void *, uint64_t, uint32_t, unsigned int) noexcept nogil
        int (*mem_info)(size_t *, size_t *) noexcept nogil
        int (*mem_alloc)(uint64_t *, size_t) noexcept nogil
        int (*mem_free)(uint64_t) noexcept nogil
        int (*host_alloc)(void **, size_t, unsigned int) noexcept nogil
        int (*host_free)(void *) noexcept nogil
        int (*host_address)(uint64_t *, void *, unsigned int) noexcept nogil
        int (*copy)(uint64_t, uint64_t, size_t, void *) noexcept nogil
        int (*fill)(uint64_t, unsigned char, size_t, void *) noexcept nogil
        int (*pool_get)(void **, int) noexcept nogil
        int (*pool_value)(void *, int, void *) noexcept nogil
        int (*module_load)(void **, const void *) noexcept nogil
        int (*module_unload)(void *) noexcept nogil
        int (*module_function)(void **, void *, const char *) noexcept nogil
        int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, void *, void **, void **) noexcept nogil
        int (*error_name)(int, const char **) noexcept nogil
        int (*error_text)(int, const char **) noexcept nogil
        int (*ctx_sync)() noexcept nogil
        int (*device_clock)(int, unsigned int *, uint64_t *) noexcept nogil

    perf_status perf_gpu_use(const perf_gpu_backend *table) noexcept
    const perf_gpu_backend *perf_gpu_table() noexcept
    perf_status perf_gpu_status() noexcept
    int perf_gpu_error_code() noexcept
    const char *perf_gpu_error_text() noexcept

    ctypedef struct perf_gpu_scope:
        pass

    ctypedef enum perf_gpu_kind:
        PERF_GPU_KERNEL
        PERF_GPU_IN
        PERF_GPU_OUT
        PERF_GPU_WITHIN

    perf_gpu_scope perf_gpu_scope_begin(const char *name, perf_stream stream) noexcept
    perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream,
            perf_gpu_kind kind) noexcept
    void perf_gpu_scope_end(perf_gpu_scope *scope) noexcept
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
        uint64_t pending
        uint64_t dropped
        uint64_t captured
        uint64_t no_context
        uint64_t failed
        uint64_t no_gpu

    perf_gpu_stats perf_gpu_stats_of(const char *name) noexcept
    perf_status perf_gpu_memory_mark(const char *phase) noexcept
    perf_status perf_gpu_memory_note(const char *what, double bytes) noexcept

    ctypedef enum perf_bound:
        PERF_BOUND_UNKNOWN
        PERF_BOUND_DATA
        PERF_BOUND_HOST
        PERF_BOUND_SYNC
        PERF_BOUND_DEVICE
        PERF_BOUND_COPY

    ctypedef struct perf_bottleneck_info:
        perf_bound bound
        double wait_share
        double sync_share
        double busy_share
        double copy_share
        double starved_share

    size_t perf_bottleneck(char *buf, size_t cap, perf_bottleneck_info *info) noexcept
    const char *perf_bound_text(perf_bound bound) noexcept
