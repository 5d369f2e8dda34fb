"""perfh.torch: data, modules, optimiser, memory, torch.compile, record_function.
What needs no torch is tried everywhere; the rest says "skipped: no torch" where there is none."""
import importlib.util
import multiprocessing
import re
import sys

import perfh
import perfh.torch as pt

HAS_TORCH = importlib.util.find_spec("torch") is not None


def rows():
    return {row.name: row for row in perfh.scopes()}


def calls(*names):
    found = rows()
    return [found[name].calls if name in found else 0 for name in names]


def fails(kind, words, function, *args, **more):
    try:
        function(*args, **more)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError("no " + kind.__name__)


class FakeOptimizer:
    def __init__(self):
        self.log = []

    def step(self, closure=None):
        self.log.append("step")
        return closure() if closure else None

    def zero_grad(self):
        self.log.append("zero")


def without_torch():
    assert "torch" not in sys.modules and perfh.torch is pt
    perfh.reset()
    assert list(pt.data([1, 2, 3], "batches")) == [1, 2, 3] and len(pt.data([1, 2])) == 2
    row = rows()["batches"]
    assert (row.kind, row.calls) == ("wait", 4), row
    fails(TypeError, "cannot be iterated", pt.data, 5)

    # Ten steps: one waits, one warms up, three count, and again; then no more are recorded.
    perfh.reset()
    seen = [x for x in pt.steps(pt.data(range(30)), wait=1, warmup=1, active=3, repeat=2)]
    assert seen == list(range(30)) and calls("step", "data") == [6, 6], perfh.report_text()
    perfh.reset()
    for _ in pt.steps(range(30), wait=0, warmup=0, active=1):
        break                                   # what is left early is recorded, and nothing stays open
    with perfh.scope("after"):
        pass
    assert calls("step", "after") == [1, 1], perfh.report_text()
    fails(ValueError, "active=0", list, pt.steps([1], active=0))

    perfh.reset()
    opt = FakeOptimizer()
    assert pt.optimizer(pt.optimizer(opt)) is opt
    opt.zero_grad()
    assert opt.step(lambda: 5) == 5 and opt.log == ["zero", "step"]
    assert calls("optimizer step", "optimizer zero_grad") == [1, 1], perfh.report_text()
    fails(TypeError, "int has no step()", pt.optimizer, 5)
    fails(TypeError, "int is no torch module", pt.modules, 5)
    fails(TypeError, "int cannot be called", pt.compiled, 5)

    mark = pt.memory("cpu")
    kept = bytearray(b"x" * 50_000_000)
    row = mark("model")
    assert row.phase == "model" and 40e6 < row.change < 80e6 and row.peak >= row.allocated > 50e6, row
    assert "model" in str(mark) and "+5" in str(mark), str(mark)
    assert "phase" in perfh.report_text() and len(kept) == 50_000_000
    assert "torch" not in sys.modules


class Squares:
    """A dataset; for workers it is found by its name."""
    limit = 12

    def __len__(self):
        return self.limit

    def __getitem__(self, i):
        if i >= self.limit:
            raise IndexError(i)
        return float(i * i)


def in_workers(torch):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([1.0, 2.0, 3.0, 4.0])

    for workers, kind in ((0, None), (2, "fork"), (2, "spawn")):
        perfh.reset()
        loader = torch.utils.data.DataLoader(Squares(), batch_size=3, num_workers=workers,
                                             multiprocessing_context=kind)
        before = loader.dataset, loader.collate_fn
        watched = pt.data(loader)
        assert len(watched) == 4 and watched.batch_size == 3
        batches = [batch.tolist() for batch in watched]
        assert batches == [batch.tolist() for batch in loader] and len(batches) == 4
        assert (loader.dataset, loader.collate_fn) == before
        found = rows()
        assert calls("data", "data start", "data read", "data collate") == [5, 1, 12, 4], (kind, found)
        assert found["data"].kind == found["data start"].kind == "wait"
        assert found["data read"].where == ("worker" if workers else ""), found["data read"]
    perfh.reset()
    loader = torch.utils.data.DataLoader(Stream(), batch_size=2)
    assert [x.tolist() for x in pt.data(loader)] == [[1.0, 2.0], [3.0, 4.0]]
    assert calls("data read", "data collate") == [5, 2], perfh.report_text()


def net(torch, fails=False):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.act, self.second = nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 8)

        def forward(self, x):
            if self.training and fails:
                raise KeyError("planted")
            return x + self.second(self.act(self.first(x)))

    return nn.Sequential(nn.Linear(4, 8), Block(), nn.Linear(8, 1))


def hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks)
               for m in model.modules())


def of_modules(torch):
    torch.manual_seed(1)
    x = torch.randn(16, 4)
    model = net(torch)
    plain = model(x).sum()
    plain.backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    perfh.reset()
    with pt.modules(model, depth=2):
        for _ in range(3):
            model.zero_grad()
            loss = model(x).sum()
            loss.backward()
    assert all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected))
    assert hooks(model) == 0
    names = ["Sequential", "0", "1", "1.first", "1.act", "1.second", "2"]
    assert calls(*names) == [3] * 7, perfh.report_text()
    assert calls(*[name + " backward" for name in names]) == [3] * 7, perfh.report_text()
    found = rows()
    assert found["Sequential"].total_ns >= found["1"].total_ns >= found["1.second"].total_ns
    assert found["Sequential backward"].total_ns >= found["1.second backward"].total_ns > 0
    model(x).sum().backward()                       # nothing is watched any more
    assert calls("Sequential") == [3]

    perfh.reset()
    with pt.modules(model, depth=0, backward=False), torch.no_grad():
        model(x)
    assert calls("Sequential", "0", "Sequential backward") == [1, 0, 0]
    perfh.reset()
    with pt.modules(model), torch.no_grad():        # no gradient, no backward
        model(x)
    assert calls("Sequential", "Sequential backward") == [1, 0]

    # An exception in a module leaves no hook and no open scope.
    broken = net(torch, fails=True)
    for _ in range(2):
        try:
            with pt.modules(broken):
                broken(x)
        except KeyError:
            pass
        assert hooks(broken) == 0
    perfh.reset()
    with perfh.scope("alone"):
        pass
    assert re.search(r" 1  alone$", perfh.report_text("tree"), re.M), perfh.report_text("tree")     # at the top
    with pt.modules(broken):
        for _ in range(2):
            try:
                broken(x)
            except KeyError:
                pass
    assert calls("1", "Sequential", "2") == [2, 2, 0], perfh.report_text()
    fails(ValueError, "depth=-1", pt.modules, model, -1)


def of_optimizers(torch):
    perfh.reset()
    model = net(torch)
    opt = pt.optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    rates = torch.optim.lr_scheduler.StepLR(opt, 1)
    for _ in range(2):
        opt.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        opt.step()
        rates.step()
    assert calls("optimizer step", "optimizer zero_grad") == [2, 2], perfh.report_text()
    assert abs(opt.param_groups[0]["lr"] - 0.001) < 1e-9


def of_compile(torch):
    if not hasattr(torch, "compile"):
        print("skipped: torch.compile, which this torch has not")
        return
    perfh.reset()

    def doubled(x):
        y = x * 2
        print(end="")                               # breaks the graph
        return y + 1

    f = pt.compiled(torch.compile(doubled, backend="eager"))
    for n in (3, 3, 3, 3):
        assert f(torch.ones(n)).tolist() == [3.0] * n
    assert (f.calls, f.compilations, f.recompilations) == (4, 1, 0), str(f)
    assert f.graphs == 2 and sum(f.graph_breaks.values()) >= 1, str(f)
    assert calls("doubled", "doubled (compiles)") == [3, 1], perfh.report_text()
    f(torch.ones(3, 3))
    f(torch.ones(3, 3))
    assert (f.calls, f.compilations, f.recompilations) == (6, 2, 1), str(f)
    assert str(f).startswith("doubled: 6 calls, 2 compiled (1 again), ") and "graph break" in str(f), str(f)
    model = torch.compile(net(torch), backend="eager")
    perfh.reset()
    with pt.modules(model):
        for _ in range(2):
            model(torch.ones(2, 4)).sum().backward()
    assert calls("OptimizedModule", "0") == [2, 0], perfh.report_text()


def of_profiler(torch):
    perfh.reset()
    own = torch.profiler.record_function
    entered = own.__enter__
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        with pt.record_function("both"):
            torch.ones(2) + 1
        with pt.records(), own("theirs"):
            torch.ones(2) + 1
        with own("unseen"):
            pass
    assert calls("both", "theirs", "unseen") == [1, 1, 0], perfh.report_text()
    assert {"both", "theirs", "unseen"} <= {event.name for event in prof.events()}
    assert own.__enter__ is entered


def of_ab(torch):
    x = torch.randn(200, 4)

    def loop():
        return torch.stack([row.sum() for row in x])

    verdict = perfh.ab(loop, lambda: x.sum(1), rule="speedup >= 2", close=1e-4, max_seconds=20)
    assert not verdict.rejected, verdict
    wrong = perfh.ab(loop, lambda: x.sum(1) + 1, rule="speedup >= 2", close=1e-4, max_seconds=1)
    assert wrong.rejected and "differ" in str(wrong) or "accura" in str(wrong), wrong


def main():
    without_torch()
    if not HAS_TORCH:
        print("skipped: no torch")
        return
    import torch
    sys.modules["perfh._workers"]._PATIENCE = 60        # a busy machine lets a worker wait
    torch.set_num_threads(1)
    for part in (in_workers, of_modules, of_optimizers, of_compile, of_profiler, of_ab):
        part(torch)
    assert perfh.status() == 0, perfh.status_text(perfh.status())
    assert not multiprocessing.active_children()
    print("ok")


if __name__ == "__main__":
    main()
