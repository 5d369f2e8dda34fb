"""A training loop that waits for its data: what bounds it, and is the cure one?

    pip install ./cython && python3 examples/python/data_bound.py

You will see five lines that say "waiting for data", five more with four readers beside the loop, and
a verdict.  A DataLoader of torch goes in the same way: perfh.torch.data(loader) shows what its
workers do, too."""
import time
from concurrent.futures import ThreadPoolExecutor

import perfh


def read(i):
    time.sleep(0.008)                           # a slow disk
    return [float(i)] * 1000


def epoch(batches):
    loss = 0.0
    for batch in perfh.torch.steps(perfh.torch.data(batches), wait=0, warmup=1, active=100):
        with perfh.scope("forward"):
            loss += sum(x * x for x in batch)
        with perfh.gpu_wait("loss.item"):
            time.sleep(0.002)                   # what a device would take
    return loss


readers = ThreadPoolExecutor(4)
epoch(read(i) for i in range(20))
print(perfh.report_text("diagnosis"))
perfh.reset()
epoch(readers.map(read, range(20)))
print(perfh.report_text("diagnosis"))
print(perfh.ab(lambda: epoch(read(i) for i in range(8)), lambda: epoch(readers.map(read, range(8))),
               rule="speedup >= 1.3", close=0, name="four readers"))
