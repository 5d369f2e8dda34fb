# perf_gpu_scope.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_gpu_scope.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_GPU_SCOPE     g = perf_gpu_scope_begin(b"x", stream), try/finally: perf_gpu_scope_end(&g)
#     PERF_GPU_PART      for C and C++ only
#     PERF_GPU_COPY_IN   g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_HOST_TO_DEVICE), the same end
#     PERF_GPU_COPY_OUT  g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_DEVICE_TO_HOST), the same end
#     PERF_GPU_COPY      g = perf_gpu_copy_begin(b"x", stream, PERF_GPU_DEVICE_TO_DEVICE), the same end
#     PERF_GPU_WAIT      s = perf_wait_begin(b"x"): counted as a wait for data, not for the device
from perfh.perf_base cimport *
from perfh.perf_clock cimport *
from perfh.perf_scope cimport *

cdef extern from "perf_gpu_scope.h" nogil:
    ctypedef void *perf_stream

    ctypedef struct perf_gpu_scope:
        pass

    ctypedef enum perf_gpu_kind:
        PERF_GPU_KERNEL
        PERF_GPU_HOST_TO_DEVICE
        PERF_GPU_DEVICE_TO_HOST
        PERF_GPU_DEVICE_TO_DEVICE

    perf_gpu_scope perf_gpu_scope_begin(const char *name, perf_stream stream) noexcept
    perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream,
            perf_gpu_kind kind) noexcept
    void perf_gpu_scope_end(perf_gpu_scope *scope) noexcept
