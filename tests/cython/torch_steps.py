"""perfh.torch: data, modules, optimiser, memory, torch.compile, record_function.
What needs no torch is tried everywhere, hooks and A/B with a stand-in; the rest says
"skipped: no torch" where there is none."""
import copy
import importlib.util
import json
import multiprocessing
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import types

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
    twin = copy.deepcopy(opt)
    twin.step()
    assert opt.log == ["zero", "step"] and twin.log == ["zero", "step", "step"]
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
        ready = found.get("data ready")
        assert (ready is not None) == bool(workers), found
        late = found.get("data hand-over (us)")
        if workers:                             # each was ready, or its way is known
            came_late = late.calls if late else 0
            assert ready.calls == 4 and round(ready.mean_ns * 4) + came_late == 4, found
            assert not late or late.min_ns > 0, late
    perfh.reset()                               # workers start before the steps that do not count
    loader = torch.utils.data.DataLoader(Squares(), 3, num_workers=2)
    assert len([x for x in pt.steps(pt.data(loader), wait=1, warmup=1, active=2)]) == 4
    assert calls("step", "data", "data start", "data read", "data collate") == [2, 2, 1, 12, 4], rows()
    perfh.reset()
    kept = torch.utils.data.DataLoader(Squares(), 3, num_workers=1, persistent_workers=True)
    for _ in range(2):                          # its workers serve both: no batch is wrapped
        assert [type(x) for x in pt.data(kept)] == [type(x) for x in kept] == [torch.Tensor] * 4
    assert "data ready" not in rows() and calls("data") == [10], rows()
    del kept
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


def seen_order(run):
    """run() under trace: {name: [(begin, end)]} of spans, {name: [when]} of instants."""
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    perfh.trace_enable(True)
    perfh.reset()
    run()
    perfh.trace_enable(False)
    perfh.trace_save(path)
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    begins = {(e["name"], e["id"]): e["ts"] for e in events if e["ph"] == "b"}
    found = {}
    for e in events:
        if e["ph"] == "e":
            found.setdefault(e["name"], []).append((begins[e["name"], e["id"]], e["ts"]))
        elif e["ph"] == "i":
            found.setdefault(e["name"], []).append(e["ts"])
    return found


def layers(torch):
    """Modules whose backward passes leave instants at known places."""
    def says(tensor, name):
        tensor.register_hook(lambda gradient: perfh.instant(name))
        return tensor

    class First(torch.nn.Module):
        def forward(self, x):
            return says(x * x, "in first") * x

    class Two(torch.nn.Module):
        def forward(self, z, u):
            a = says(z * z, "before z is done")
            return a + u * u                    # torch goes backward through u first

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.same, self.second = First(), torch.nn.Identity(), First()

        def forward(self, x, again=False):
            if again:
                x = self(x)
            return self.second(self.same(self.first(x)))

    return Net(), Two()


def of_backward_spans(torch):
    """Where a backward span begins and ends: by what happens before and after, no times."""
    net, two = layers(torch)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)

    def run():
        with pt.modules(net):
            net(x).sum().backward()
    found = seen_order(run)
    second, first = sorted(found["in first"])           # both modules are of one class
    (begin, end), = found["second backward"]
    assert begin <= second <= end <= first, found       # it ends where the next one begins
    (begin, end), = found["first backward"]
    assert second <= begin <= first <= end, found
    (begin, end), = found["Net backward"]
    assert begin <= second and first <= end, found
    assert "same backward" not in found, found          # it passes on what it took

    def run_two():
        with pt.modules(two):
            two(x, u).sum().backward()
    found = seen_order(run_two)
    (begin, end), = found["Two backward"]
    assert begin <= found["before z is done"][0] <= end, found      # its last input, not its first

    def recursive():
        with pt.modules(net, depth=0):
            net(x, again=True).sum().backward()
    if pt.modules(net).always:                          # torch 2.0 and later, the stand-in
        found = seen_order(recursive)
        assert len(found["Net backward"]) == calls("Net")[0] == 2, found
    perfh.reset()
    with pt.modules(net), pt.modules(net, depth=0):     # two blocks around one model
        net(x).sum().backward()
    assert calls("Net", "first", "Net backward") == [2, 1, 2], perfh.report_text()
    assert perfh.status() == 0, perfh.status_text(perfh.status())
    assert hooks(net) == hooks(two) == 0
    perfh.reset()


def of_what_outlives(torch):
    """Copies of a watched model are not watched, and nothing stays on a leaf."""
    net = layers(torch)[0]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    own = list(x._backward_hooks or []) if HAS_TORCH else list(x.hooks)
    with pt.modules(net):
        twin, written = copy.deepcopy(net.same), pickle.dumps(net.same)
        for _ in range(3):
            net(x).sum().backward()
        assert (list(x._backward_hooks or []) if HAS_TORCH else x.hooks) == own
        net(x)                                          # no backward follows
    assert (list(x._backward_hooks or []) if HAS_TORCH else x.hooks) == own
    perfh.reset()
    for one in (twin, pickle.loads(written)):
        assert one(x) is x
    assert not rows(), rows()


class Weights:
    """Something with a state, and with gradients of nothing."""
    def __init__(self):
        self.w, self.steps, self.unseen = [1.0, 2.0], 0, 0

    def state_dict(self):
        return {"w": self.w, "steps": self.steps, "kind": object}

    def load_state_dict(self, state):
        self.w, self.steps = state["w"], state["steps"]

    def step(self, rate):
        for i, w in enumerate(self.w):          # in place, as an optimiser does
            self.w[i] = w * rate
        self.steps += 1
        return self.steps


def of_two_steps():
    model = Weights()
    model.step(0.5)
    verdict = pt.ab(lambda: model.step(0.5), lambda: model.step(0.5 + 1e-9), state=model,
                    rule="no regression beyond 50 %", max_seconds=0.2)
    assert "differ" not in verdict.reason, verdict
    assert (model.w, model.steps) == ([0.5, 1.0], 1), model.__dict__
    verdict = pt.ab(model.step, lambda rate: model.step(rate * 0.999), 0.5, state=[model],
                    max_seconds=0.2)
    assert verdict.rejected and "differ" in verdict.reason, verdict
    verdict = pt.ab(model.step, lambda rate: model.step(0.1), 0.5, state=model, close=None,
                    max_seconds=0.2)
    assert "differ" not in verdict.reason, verdict

    def more():                                 # what it changes is not in its state
        model.unseen += 1
        return model.step(0.5) * model.unseen
    fails(ValueError, "name all that it changes", pt.ab, more, more, state=model)

    def breaks():
        model.step(0.1)
        raise KeyError("planted")
    fails(KeyError, "planted", pt.ab, breaks, breaks, state=model)
    assert (model.w, model.steps) == ([0.5, 1.0], 1), model.__dict__
    fails(TypeError, "int has no state_dict()", pt.ab, more, more, state=5)
    fails(ValueError, "state is empty", pt.ab, more, more, state=[])

    def yields():
        yield model.step(0.5)
    fails(TypeError, "runs nothing", pt.ab, yields, yields, state=model)


def of_tensors_in_ab(torch):
    """Tensors are held against each other by their size: a small element may be off by much."""
    model = Weights()
    outcome = torch.tensor([1e6, 1e-6])
    verdict = pt.ab(lambda: outcome, lambda: torch.tensor([1e6, 3e-6]), state=model, max_seconds=0.2)
    assert "differ" not in verdict.reason, verdict
    for wrong in ([1.001e6, 1e-6], [float("nan"), 1e-6], [1e6]):
        try:
            verdict = pt.ab(lambda: outcome, lambda: torch.tensor(wrong), state=model, max_seconds=0.1)
            assert verdict.rejected and "differ" in verdict.reason, verdict
        except ValueError as error:
            assert len(wrong) == 1 and "2 and 1 elements" in str(error), error


    nothing = torch.tensor([float("nan")])
    verdict = pt.ab(lambda: nothing, lambda: nothing, state=model, max_seconds=0.1)
    assert "differ" not in verdict.reason, verdict
    verdict = pt.ab(lambda: nothing, lambda: torch.tensor([1.0]), state=model, max_seconds=0.1)
    assert verdict.rejected and "differ" in verdict.reason, verdict


def of_loaders(stand_in):
    """What a loader does with the dataset that it is given: asks its class, sends it, sets it."""
    class Loader:
        def __init__(self, dataset):
            self.dataset, self.collate_fn = dataset, list

        def __iter__(self):
            assert isinstance(self.dataset, Squares) and not isinstance(self.dataset, Weights)
            dataset = pickle.loads(pickle.dumps(self.dataset))
            assert isinstance(dataset, Squares)
            dataset.limit = 6
            return iter([self.collate_fn([dataset[i] for i in range(k, k + 3)]) for k in (0, 3)])

    sys.modules["torch.utils.data"] = stand_in
    sys.modules["torch.utils.data._utils.pin_memory"] = types.SimpleNamespace(
        pin_memory=lambda batch, device: [device, *batch])
    stand_in.DataLoader = Loader
    perfh.reset()
    loader = Loader(Squares())
    for batch in pt.data(loader):               # left early, and then once more
        break
    assert [batch for batch in pt.data(loader)] == [[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]]
    assert batch == [0.0, 1.0, 4.0] and type(loader.dataset) is Squares
    assert calls("data", "data start", "data read", "data collate") == [4, 2, 12, 4], rows()

    class Pins(Loader):                         # as torch does where there is a device
        pin_memory, pin_memory_device, num_workers = True, "", 1

        def __iter__(self):                     # one batch is made now, one when it is asked for
            dataset, collate = self.dataset, self.collate_fn
            first = collate([dataset[0], dataset[1]])
            return ((collate([dataset[2]]) if k else first).pin_memory() for k in range(2))
    perfh.reset()
    stand_in.DataLoader = Pins
    assert [batch for batch in pt.data(Pins(Squares()))] == [[None, 0.0, 1.0], [None, 4.0]]
    found = rows()
    assert calls("data pin", "data ready") == [2, 2] and found["data ready"].mean_ns == 0.5, found
    assert found["data hand-over (us)"].calls == 1, found
    perfh.reset()
    assert len([batch for batch in pt.data(type("Other", (Pins,), {"__iter__": Loader.__iter__})(
        Squares()))][0]) == 3 and "data ready" not in rows(), rows()
    del sys.modules["torch.utils.data._utils.pin_memory"]
    del sys.modules["torch.utils.data"]


class FakeScaler:
    """A GradScaler whose every second step finds an Inf."""
    def __init__(self):
        self.n, self.scale = 0, 1024.0

    def unscale_(self, opt):
        self.n += 1

    def step(self, opt):
        return opt.step() if self.n % 2 else None

    def update(self):
        self.scale /= 2


def of_scalers():
    perfh.reset()
    opt, scaler = pt.optimizer(FakeOptimizer()), FakeScaler()
    own = opt.step
    assert pt.scaler(pt.scaler(scaler)) is scaler
    for _ in range(4):
        scaler.unscale_(opt)
        scaler.step(opt)
        scaler.update()
    assert opt.step is own and opt.log == ["step", "step"] and scaler.scale == 64.0
    assert calls("scaler step", "scaler unscale", "scaler update", "optimizer step") == [4, 4, 4, 2]
    skipped = rows()["scaler skipped"]
    assert (skipped.calls, skipped.mean_ns) == (4, 0.5), skipped
    fails(TypeError, "int has no step()", pt.scaler, 5)
    plain = FakeOptimizer()
    scaler.n = 1
    scaler.step(plain)
    assert "step" not in vars(plain) and plain.log == ["step"]


def of_a_real_scaler(torch):
    if not hasattr(torch.amp, "GradScaler"):
        print("skipped: a GradScaler on a CPU, which this torch has not")
        return
    perfh.reset()
    model = net(torch)
    opt = pt.optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    scaler = pt.scaler(torch.amp.GradScaler("cpu", init_scale=4.0))
    for factor in (1.0, float("inf"), 1.0, float("inf")):
        opt.zero_grad()
        scaler.scale(model(torch.ones(2, 4) * factor).sum()).backward()
        scaler.unscale_(opt)
        scaler.step(opt)
        scaler.update()
    assert calls("scaler step", "scaler unscale", "scaler update", "optimizer step") == [4, 4, 4, 2]
    assert rows()["scaler skipped"].mean_ns == 0.5 and scaler.get_scale() == 1.0


def of_a_real_step(torch):
    """Adam, a schedule of rates, dropout and batch norm: all is as it was after the A/B."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    rates = torch.optim.lr_scheduler.StepLR(opt, 2)
    x = torch.randn(16, 8)

    def step(factor=1.0):
        opt.zero_grad()
        loss = model(x).pow(2).mean()
        (loss * factor).backward()
        opt.step()
        rates.step()
        return loss

    def states():
        return [x.tolist() if hasattr(x, "tolist") else x for one in (model, opt, rates)
                for x in flat(one.state_dict())]

    step()
    before, random = states(), torch.get_rng_state()
    verdict = pt.ab(step, lambda: step(), state=[model, opt, rates], max_seconds=0.5,
                    rule="no regression beyond 50 %")
    assert "differ" not in verdict.reason, verdict
    assert states() == before and torch.equal(random, torch.get_rng_state())
    verdict = pt.ab(step, lambda: step(2.0), state=[model, opt, rates], max_seconds=0.5)
    assert verdict.rejected and "differ" in verdict.reason, verdict
    fails(ValueError, "name all that it changes", pt.ab, step, step, state=model)


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [x for one in value for x in flat(one)] if isinstance(value, (list, tuple)) else [value]


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

    # The hooks are not in what torch compiles: the graph stays whole, also below them.
    plain = net(torch)
    whole = torch.compile(lambda x: plain(x) * 2, backend="eager", fullgraph=True)
    outer = torch.nn.Sequential(torch.compile(net(torch), backend="eager"), torch.nn.Linear(1, 1))
    perfh.reset()
    with pt.modules(plain), pt.modules(outer, depth=4):
        for _ in range(2):
            whole(torch.ones(2, 4)).sum().backward()
            outer(torch.ones(2, 4)).sum().backward()
    assert set(rows()) == {name + more for name in ("Sequential", "0", "1")
                           for more in ("", " backward")}, perfh.report_text()
    assert calls("Sequential", "0", "1 backward") == [2, 2, 2]


def of_examples(perf_ab):
    """The step of examples/python, and two ranks whose files are merged."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")
    step = subprocess.run([sys.executable, os.path.join(folder, "torch_step.py")], text=True,
                          capture_output=True, check=True, timeout=300).stdout
    for line in ("^bound by: waiting for data; ", "^where: step > data: ", "^ .* 11 +data$",
                 "^ .* 11      1$", "^optimizer step +11 ", "^Sequential backward +11 ",
                 "^decode +96 ", "^data read +96 ", "^data collate +12 ", "^data ready +11 ", "^training "):
        assert re.search(line, step, re.M), (line, step)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(s.getsockname()[1]), "WORLD_SIZE": "2"}
    out = tempfile.mkdtemp()
    ranks = [subprocess.Popen([sys.executable, os.path.join(folder, "ddp_ranks.py"), out],
                              env=dict(os.environ, **place, RANK=str(rank))) for rank in range(2)]
    assert [rank.wait(timeout=300) for rank in ranks] == [0, 0]
    files = [os.path.join(out, f"results.{rank}.json") for rank in range(2)]
    totals = []
    for path in files:
        with open(path) as f:
            found = {scope["name"]: scope for scope in json.load(f)["scopes"]}
        assert all(found[name]["calls"] == 20 for name in
                   ("step", "data", "DistributedDataParallel", "backward", "optimizer step")), found
        totals.append(found["data"]["total"])
    assert totals[1] > 20 * 20e6 - 1e6, totals          # ns: it slept in each
    if perf_ab:
        merged = subprocess.run([perf_ab, "merge", "--ranks", *files, "-o", files[0] + ".all"],
                                text=True, capture_output=True, check=True)
        assert re.search("^ *data +2 +40 ", merged.stdout + merged.stderr, re.M), merged


def of_cpp_extension():
    """examples/python/cpp_extension.py: perf.h in C++, one report with Python."""
    if not (shutil.which("ninja") and shutil.which("c++")) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        print("skipped in perfh.torch: cpp_extension.py needs ninja, a C++ compiler and Python's headers")
        return
    example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python", "cpp_extension.py")
    with tempfile.TemporaryDirectory(prefix="perfh.") as folder:
        said = subprocess.run([sys.executable, example], text=True, capture_output=True, timeout=600,
                              env={**os.environ, "TORCH_EXTENSIONS_DIR": folder})
    assert said.returncode == 0, said.stderr
    for line in (" 10  step$", " 10    normalize$", " 10      square root$", r"^  x \* 2 "):
        assert re.search(line, said.stdout, re.M), (line, said.stdout)
    assert "without optimisation" not in said.stdout, said.stdout


def of_profiler(torch):
    perfh.reset()
    own = torch.profiler.record_function
    entered = own.__enter__
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        with pt.record_function("both"):
            torch.ones(2) + 1
        with pt.records(), own("theirs"):
            torch.ones(2) + 1
            with pt.record_function("once"):
                pass
        with own("unseen"):
            pass
        above = pt.record_function("above")(lambda x: x + 1)
        assert above(1) == 2 and above(2) == 3
    assert calls("both", "theirs", "unseen", "once", "above") == [1, 1, 0, 1, 2], rows()
    fails(TypeError, "decorates functions", pt.record_function("above"), 5)
    assert {"both", "theirs", "unseen", "once", "above"} <= {event.name for event in prof.events()}
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
    of_two_steps()
    of_scalers()
    if not HAS_TORCH:
        import torch_stand_in
        sys.modules["torch"] = torch_stand_in
        of_backward_spans(torch_stand_in)
        of_what_outlives(torch_stand_in)
        of_tensors_in_ab(torch_stand_in)
        of_loaders(torch_stand_in)
        print("skipped: no torch")
        return
    import torch
    sys.modules["perfh._workers"]._PATIENCE = 60        # a busy machine lets a worker wait
    torch.set_num_threads(1)
    for part in (in_workers, of_modules, of_backward_spans, of_what_outlives, of_tensors_in_ab,
                 of_optimizers, of_a_real_scaler, of_a_real_step, of_compile, of_profiler, of_ab):
        part(torch)
    of_examples(sys.argv[1] if len(sys.argv) > 1 else None)
    of_cpp_extension()
    assert perfh.status() == 0, perfh.status_text(perfh.status())
    assert not multiprocessing.active_children()
    print("ok")


if __name__ == "__main__":
    main()
