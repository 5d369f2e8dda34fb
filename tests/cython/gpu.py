"""perfh.gpu_scope on the simulated driver of tests/gpu (LD_LIBRARY_PATH has it), and without a driver.

usage: gpu.py driver | none"""
import ctypes
import sys
import time

import perfh


def raises(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)


class Stream:
    def __init__(self, handle):
        self.cuda_stream = handle


raises(TypeError, lambda: perfh.gpu_scope("x", "stream"), "stream='stream': a stream's handle")
raises(TypeError, lambda: perfh.gpu_scope("x", -1), "stream=-1")
raises(ValueError, lambda: perfh.gpu_scope("x", copy="up"), "copy='up': one of in, out, within")
def bound(fake, handle, work, wait_ms, waits=1):
    """Steps that enqueue the work (name, copy, ns) and wait for it: what bounds them?"""
    perfh.reset()
    for _ in range(10):
        with perfh.scope("step"):
            for _ in range(waits):
                for name, copy, ns in work:
                    with perfh.gpu_scope(name, handle, copy=copy):
                        fake.fake_work(handle, ns)
                with perfh.gpu_wait("loss.item"):
                    time.sleep(wait_ms / 1e3)
    perfh.gpu_collect(wait=True)
    found = perfh.diagnose()
    assert found.where == "step > loss.item" and "bound by: " + found.bound in found.text, found
    return found.bound


def of_scenarios(fake, handle):
    """A host that waits: for a busy device, for its copies, or again and again for very little."""
    gemm, copied = ("gemm", None, 50_000_000), ("batch", "in", 90_000_000)
    assert bound(fake, handle, [gemm], 5) == "device"
    assert bound(fake, handle, [copied, gemm], 15) == "copies"
    assert bound(fake, handle, [("small", None, 20_000)], 5, waits=4) == "syncs"
    rows = {row.name: row for row in perfh.scopes()}
    assert (rows["loss.item"].calls, rows["loss.item"].kind) == (40, "sync"), rows["loss.item"]
    assert "wait once a unit" in perfh.report_text("diagnosis"), perfh.report_text("diagnosis")

    @perfh.gpu_wait
    def item():
        return 5
    assert item() == 5 and "item" in str(perfh.scopes())


if sys.argv[1] == "none":
    with perfh.gpu_wait("loss.item"):           # host time: it needs no device
        pass
    assert [row.kind for row in perfh.scopes()] == ["sync"]
    perfh.reset()
    for _ in range(3):
        with perfh.gpu_scope("x"):
            pass
    assert "3 device scopes were skipped: no GPU driver" in perfh.report_text()
    assert not perfh.scopes() and perfh.status() == 0
    raises(perfh.Error, perfh.gpu_collect, "no GPU")
else:
    fake = ctypes.CDLL("libcuda.so.1")
    fake.fake_stream.restype = ctypes.c_void_p
    fake.fake_work.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
    assert fake.cuInit(0) == 0
    fake.fake_start()
    handle = fake.fake_stream(0)
    for stream in (handle, Stream(handle), ctypes.c_void_p(handle)):
        for _ in range(100):
            with perfh.gpu_scope("gemm", stream):
                fake.fake_work(handle, 5000)
    for copy in ("in", "out", "within"):
        with perfh.gpu_scope("copy " + copy, handle, copy=copy):
            fake.fake_work(handle, 7000)
    reused = perfh.gpu_scope("reused", handle)
    for _ in range(2):
        with reused:
            raises(RuntimeError, reused.__enter__, "already open")
            fake.fake_work(handle, 1000)
    perfh.gpu_collect(wait=True)
    rows = {row.name: row for row in perfh.scopes()}
    assert {name: row.calls for name, row in rows.items()} == {
        "gemm": 300, "copy in": 1, "copy out": 1, "copy within": 1, "reused": 2}, rows
    assert rows["gemm"].p50_ns >= 4900 and rows["gemm"].kind != "scope", rows["gemm"]
    of_scenarios(fake, handle)
    assert len({rows["copy " + copy].kind for copy in ("in", "out", "within")} | {rows["gemm"].kind}) == 4, rows
print("ok")
