"""The names of torch that examples/python/device_bound.py uses, on the simulated driver of tests/gpu in
real time: kernels take as long as their tensors are large.  It computes nothing.

    torch_on_sim.py EXAMPLE                 LD_LIBRARY_PATH has the driver"""
import ctypes
import math
import runpy
import sys
import time
import types

_FAKE = ctypes.CDLL("libcuda.so.1")
_FAKE.fake_stream.restype = ctypes.c_void_p
_FAKE.fake_work.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
assert _FAKE.cuInit(0) == 0
_FAKE.fake_start_real()
_STREAM = _FAKE.fake_stream(0)
_FAKE.cuStreamQuery.argtypes = (ctypes.c_void_p,)
_NAP = 0.0003                           # seconds: who sleeps is woken soon, also on a busy machine


def _runs(us):
    assert _FAKE.fake_work(_STREAM, int(us * 1000)) == 0


class Tensor:
    def __init__(self, *shape, per_us=4e6):
        self.shape, self.per_us = shape, per_us         # numbers that a kernel passes in a us

    def mul_(self, factor):
        _runs(1 + math.prod(self.shape) / self.per_us)
        return self

    def __matmul__(self, other):
        _runs(math.prod(self.shape) / self.per_us * 5000)
        return Tensor(*self.shape, per_us=self.per_us)

    def sum(self):
        _runs(2)
        return Tensor()

    def half(self):
        return Tensor(*self.shape, per_us=self.per_us * 3)

    def to(self, device):
        _runs(math.prod(self.shape) / 200)              # pageable: the call waits
        _synchronize()
        return Tensor(*self.shape)

    def item(self):
        time.sleep(_NAP)                                # its way to the host
        _synchronize()
        return 0.0


def _synchronize():
    while _FAKE.cuStreamQuery(_STREAM):
        time.sleep(_NAP)


torch = types.ModuleType("torch")
torch.rand = lambda *shape, device="cpu": Tensor(*shape)
torch.cuda = types.SimpleNamespace(synchronize=_synchronize,
                                   current_stream=lambda: types.SimpleNamespace(cuda_stream=_STREAM))
sys.modules["torch"] = torch
runpy.run_path(sys.argv[1])
