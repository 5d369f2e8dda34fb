"""Four training steps that the device, or the way to it, holds back: does the report say how?

    pip install torch ./cython && python3 examples/python/device_bound.py

Needs a CUDA device.  You will see the five lines of each step and a verdict on its cure: 200 small
kernels say "launches", a batch that is copied each time "copies", loss.item() after each piece
"syncs", one large product "device".  data_bound.py and memory_phases.py are the other two that a
training step may suffer from."""
import perfh
import torch

stream = torch.cuda.current_stream()
small = [torch.rand(64, 64, device="cuda") for _ in range(200)]
together = torch.rand(200, 64, 64, device="cuda")
batch = torch.rand(2048, 2048)
resident = batch.to("cuda")
large = torch.rand(4096, 4096, device="cuda")
half = large.half()


def many_launches():
    for x in small:
        with perfh.gpu_scope("scale", stream):
            x.mul_(0.5)


def one_launch():
    with perfh.gpu_scope("scale", stream):
        together.mul_(0.5)


def copied():
    with perfh.gpu_scope("batch in", stream, copy="in"), perfh.gpu_wait("batch.to"):
        batch.to("cuda")


def kept():
    resident.mul_(0.5)


def item_each_time():
    for x in small[:20]:
        with perfh.gpu_scope("scale", stream):
            x.mul_(0.5)
        with perfh.gpu_wait("loss.item"):
            x.sum().item()


def item_at_the_end():
    for x in small[:20]:
        with perfh.gpu_scope("scale", stream):
            x.mul_(0.5)
    with perfh.gpu_wait("loss.item"):
        x.sum().item()


def large_product(x=large):
    with perfh.gpu_scope("product", stream):
        loss = (x @ x).sum()
    with perfh.gpu_wait("loss.item"):
        loss.item()


def product_of_halves():
    large_product(half)


def to_its_end(step):
    step()
    torch.cuda.synchronize()


for slow, cure in ((many_launches, one_launch), (copied, kept), (item_each_time, item_at_the_end),
                   (large_product, product_of_halves)):
    to_its_end(slow)
    perfh.reset()
    for _ in range(20):
        with perfh.scope(slow.__name__):
            slow()
    torch.cuda.synchronize()
    print(perfh.report_text("diagnosis"))
    print(perfh.ab(to_its_end, lambda step: to_its_end(cure), slow, rule="speedup >= 1.3",
                   name=cure.__name__, max_seconds=3))
