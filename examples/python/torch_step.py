"""A training step of PyTorch: where does its time go, and where its memory?

    pip install torch ./cython && python3 examples/python/torch_step.py

You will see five lines that say "waiting for data", a tree with the loader's wait, each module and
the optimiser, the backward passes and what the workers did below it, and a row for each phase of
memory."""
import time

import perfh
import torch
from torch import nn


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, i):
        with perfh.scope("decode"):             # in a worker: it comes back
            time.sleep(0.005)
        return torch.randn(64), torch.randn(1)


def main():
    torch.set_num_threads(1)
    mark = perfh.torch.memory()
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
    mark("model")
    opt = perfh.torch.optimizer(torch.optim.Adam(model.parameters()))
    loader = perfh.torch.data(torch.utils.data.DataLoader(Slow(), batch_size=8, num_workers=2))
    with perfh.torch.modules(model):
        for x, y in perfh.torch.steps(loader, wait=0, warmup=1, active=11):
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            opt.step()
    mark("training")
    print(perfh.report_text("diagnosis"))
    print(perfh.report_text("tree"))
    print(perfh.report_text())
    print(mark)


if __name__ == "__main__":                      # workers may be spawned
    main()
