# cython: language_level=3
"""Device time of what a stream does: PyTorch's, CuPy's or anybody's, given by its raw pointer.

    pip install cython setuptools ./cython              # in the top folder
    cd examples/cython
    python3 setup.py build_ext --inplace
    python3 -c "import stream; stream.main()"

With PyTorch or CuPy and a GPU you will see twenty matrix products in the report: the row "matmul" is
time of the device, "enqueue" what Python needed to hand them over, "synchronize" what it waited.
Without them it says so and ends.  Nothing but main() imports either: `gpu_scope` takes any
cudaStream_t, CUstream or hipStream_t as a number."""
from libc.stdint cimport uintptr_t

import perfh
from perfh.perf cimport *
from perfh.perf_cuda cimport *


cdef class gpu_scope:
    """with gpu_scope("matmul", stream.cuda_stream): ...    what is enqueued there; never waits"""
    cdef bytes name
    cdef uintptr_t stream
    cdef perf_gpu_scope s

    def __cinit__(self, name, uintptr_t stream):
        self.name = name.encode()
        self.stream = stream

    def __enter__(self):
        self.s = perf_gpu_scope_begin(self.name, <perf_stream>self.stream)
        return self

    def __exit__(self, kind, value, traceback):
        perf_gpu_scope_end(&self.s)             # a second end does nothing
        return False


def status():
    """PERF_OK and what it means in words: would a gpu_scope record something now?"""
    cdef perf_status s = perf_gpu_status()
    return <int>s, perf_status_text(s).decode()


def device_ns(name):
    """(scopes, ns on the device) of a name; waits until they are finished."""
    cdef perf_gpu_stats s
    cdef bytes text = name.encode()
    cdef const char *at = text
    with nogil:
        perf_gpu_collect_sync()
        s = perf_gpu_stats_of(at)
    return s.scopes, s.device_ns


cdef int launches(uintptr_t stream, int n, int (*launch)(uintptr_t) noexcept nogil) noexcept nogil:
    """The same without Python: what a nogil loop around kernels of one's own looks like."""
    cdef perf_gpu_scope s
    cdef int i, failed = 0
    for i in range(n):
        s = perf_gpu_scope_begin(b"launch", <perf_stream>stream)
        failed += launch(stream) != 0
        perf_gpu_scope_end(&s)
    return failed


def launch_many(uintptr_t function, uintptr_t stream, int n):
    """Calls a C function of one's own (its address as a number) n times; how many calls failed."""
    cdef int failed
    with nogil:
        failed = launches(stream, n, <int (*)(uintptr_t) noexcept nogil>function)
    return failed


def source():
    """(a function that multiplies matrices, the pointer of its stream, a function that waits)"""
    try:
        import torch
        if torch.cuda.is_available():
            a = torch.ones(2048, 2048, device="cuda")
            return lambda: a @ a, torch.cuda.current_stream().cuda_stream, torch.cuda.synchronize
    except ImportError:
        pass
    try:
        import cupy
        if cupy.cuda.runtime.getDeviceCount() > 0:
            b = cupy.ones((2048, 2048), dtype=cupy.float32)
            stream = cupy.cuda.get_current_stream()
            return lambda: b @ b, stream.ptr, stream.synchronize
    except Exception as error:                  # not installed, or its driver is missing
        print(f"CuPy: {error}")
    return None


def main():
    found = source()
    if found is None:
        print("skipped: needs PyTorch or CuPy, and a GPU")
        return
    multiply, stream, synchronize = found
    multiply()                                  # the first one loads libraries
    synchronize()
    for _ in range(20):
        with perfh.scope("enqueue"), gpu_scope("matmul", stream):
            multiply()
    with perfh.scope("synchronize"):
        synchronize()
    scopes, ns = device_ns("matmul")
    print(f"{scopes} products, {ns / max(scopes, 1) / 1e3:.1f} us each on the device")
    perfh.report()
