"""Two ranks of DistributedDataParallel on a CPU: which one do the others wait for?

    torchrun --nproc_per_node 2 examples/python/ddp_ranks.py OUT
    perf-ab merge --ranks OUT/results.*.json -o OUT/all.json

You will see a row for each scope, with the slowest rank: the last one reads slowly, so that the
others wait for it in their backward pass, where gradients are summed.  Needs torch and
`pip install ./cython`."""
import os
import sys
import time

import perfh
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


def batches(n, seconds):
    for _ in range(n):
        time.sleep(seconds)                     # a slow disk, on one of the machines
        yield torch.randn(16, 32), torch.randn(16, 1)


distributed.init_process_group("gloo")
rank, ranks = distributed.get_rank(), distributed.get_world_size()
torch.set_num_threads(1)
model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1)))
opt = perfh.torch.optimizer(torch.optim.SGD(model.parameters(), lr=0.01))
loader = perfh.torch.data(batches(22, 0.02 if rank == ranks - 1 else 0.0))
for x, y in perfh.torch.steps(loader, active=20):
    opt.zero_grad()
    with perfh.torch.modules(model, depth=0):
        loss = nn.functional.mse_loss(model(x), y)
    with perfh.scope("backward"):               # it ends when the gradients of all ranks are there
        loss.backward()
    opt.step()
perfh.results_save(os.path.join(sys.argv[1], f"results.{rank}.json"), label=f"rank {rank}")
distributed.destroy_process_group()
