"""perfh.torch: a training step of PyTorch, in perf.h's report.  Plain Python.

    for x, y in perfh.torch.steps(perfh.torch.data(loader)):    # waits for data, by stage
        with perfh.torch.modules(model, depth=2):               # forward and backward of modules
            model(x)

torch is imported by what you call, not by this module.  All times are the host's: on a device a
forward is the time to launch its work, unless the block around it synchronises.
"""
import functools
import importlib
import os
import sys
import threading
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

import perfh

__all__ = ["Compiled", "MemoryRow", "compiled", "data", "memory", "modules", "optimizer",
           "record_function", "records", "steps"]


def _torch() -> Any:
    """The package torch.  ImportError: it is not installed."""
    return importlib.import_module("torch")


# ---- data ----------------------------------------------------------------------------------------

class _Reads:
    """A dataset whose samples are read in a scope.  Everything else goes to the dataset itself."""

    def __init__(self, dataset: Any, name: str) -> None:
        self.__dict__.update(_dataset=dataset, _name=name)

    def __getitem__(self, index: Any) -> Any:
        with perfh.scope(self._name):
            return self._dataset[index]

    def __len__(self) -> int:
        return len(self._dataset)

    def __iter__(self) -> Iterator[Any]:
        samples = iter(self._dataset)
        while True:
            with perfh.scope(self._name):
                try:
                    sample = next(samples)
                except StopIteration:
                    return
            yield sample

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_dataset"], name)
        return perfh.scope(self._name)(value) if name == "__getitems__" else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._dataset, name, value)

    def __reduce__(self) -> Any:            # for workers that are spawned
        return _Reads, (self._dataset, self._name)


class _Collate:
    """A loader's collate_fn in a scope."""

    def __init__(self, function: Callable[[Any], Any], name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, samples: Any) -> Any:
        with perfh.scope(self.name):
            return self.function(samples)


class _Data:
    """What data() returns: iterate it as you would the loader."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader, self._name = loader, name

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_loader"], name)

    def _begin(self) -> Iterator[Any]:
        """The loader's iterator.  While it is made the loader has a dataset and a collate_fn that
        are scopes: the iterator and its workers keep them, the loader gets its own back."""
        loader, own = self._loader, getattr(self._loader, "__dict__", {})
        if not _is_loader(loader):
            return iter(loader)
        before = {"dataset": own["dataset"], "collate_fn": own["collate_fn"]}
        own["collate_fn"] = _Collate(own["collate_fn"], self._name + " collate")
        if not _is_pipe(own["dataset"]):
            own["dataset"] = _Reads(own["dataset"], self._name + " read")
        try:
            return iter(loader)
        finally:
            own.update(before)

    def __iter__(self) -> Iterator[Any]:
        with perfh.wait(self._name + " start"):
            batches = self._begin()
        return _Batches(batches, self._name)


class _Batches:
    def __init__(self, batches: Iterator[Any], name: str) -> None:
        self.batches, self.name = batches, name

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with perfh.wait(self.name):
            return next(self.batches)


def _is_loader(loader: Any) -> bool:
    found: Any = sys.modules.get("torch.utils.data")    # who has a loader has imported it
    own = getattr(loader, "__dict__", {})
    return bool(found) and isinstance(loader, found.DataLoader) and \
        "dataset" in own and "collate_fn" in own


def _is_pipe(dataset: Any) -> bool:
    """torch looks at the class of a data pipe: it stays what it is."""
    return any(kind.__name__ in ("IterDataPipe", "MapDataPipe") for kind in type(dataset).__mro__)


def data(loader: Iterable[Any], name: str = "data") -> Any:
    """for batch in perfh.torch.data(loader): what the loop waits for a batch is the wait `name`.

    Of a torch DataLoader also, in its workers or in this process: "data read", each sample that the
    dataset reads, and "data collate", each batch that is put together; "data start" is what it
    takes to start the workers.  What workers record comes back as with all of perfh.  Any other
    iterable has the wait alone.  One call more than batches is counted: the one that finds the end.
    The loader itself stays as it is."""
    if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
        raise TypeError(f"perfh.torch.data: {type(loader).__name__} cannot be iterated")
    return _Data(loader, name)


def steps(batches: Iterable[Any], *, wait: int = 1, warmup: int = 1, active: int = 10,
          repeat: int = 0, name: str = "step") -> Iterator[Any]:
    """for batch in perfh.torch.steps(perfh.torch.data(loader)): each pass is the scope `name`.

    It begins before the batch is waited for.  Only active steps are recorded, as perfh.schedule
    says: `wait` steps pass by, `warmup` follow, `active` count, `repeat` times (0: until the end).
    When they are done the loop goes on, unrecorded."""
    source = iter(batches) if not isinstance(batches, _Data) else None
    with perfh.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat) as schedule:
        while True:
            schedule.step()
            with perfh.scope(name):
                if source is None:
                    source = iter(batches)
                try:
                    batch = next(source)
                except StopIteration:
                    return
                yield batch


# ---- modules -------------------------------------------------------------------------------------

def _tensors(value: Any, found: List[Any], deep: int = 0) -> List[Any]:
    """The tensors in what a module takes or returns that need a gradient."""
    if hasattr(value, "requires_grad") and hasattr(value, "register_hook"):
        if value.requires_grad:
            found.append(value)
    elif isinstance(value, dict) and deep < 5:
        for one in value.values():
            _tensors(one, found, deep + 1)
    elif isinstance(value, (list, tuple)) and deep < 5:
        for one in value:
            _tensors(one, found, deep + 1)
    return found


class _Backward:
    """The backward of one call of a module: from its first output's gradient to its last input's."""

    def __init__(self, owner: "_Modules", name: str) -> None:
        self.owner, self.name, self.inputs = owner, name, 0
        self.left, self.span = 0, None  # type: int, Any

    def begin(self, gradient: Any) -> None:
        if self.span is not None or not self.owner.on:
            return
        self.left = self.inputs
        self.span = perfh.span(self.name)
        self.span.__enter__()
        self.owner.opened(self)

    def input_done(self, gradient: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.end()

    def end(self) -> None:
        span, self.span = self.span, None
        if span is not None:
            span.end()
            self.owner.running.pop(id(self), None)


class _Modules:
    """What modules() returns: a block in which the hooks are there."""

    def __init__(self, model: Any, depth: int, backward: bool) -> None:
        self.model, self.depth, self.backward = model, depth, backward
        self.handles = []  # type: List[Any]
        self.on = False
        self.running = {}  # type: Dict[int, _Backward]
        self.asked = False
        self.local = threading.local()

    def __enter__(self) -> "_Modules":
        if self.on:
            raise RuntimeError("these modules are watched already: make one block for each")
        self.on = True
        try:
            for path, module in _to_depth(self.model, self.depth):
                self._watch(path or type(self.model).__name__, module, not path)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        self.on = False
        for handle in self.handles:
            handle.remove()
        self.handles = []
        self._close_all()

    def _watch(self, name: str, module: Any, is_root: bool) -> None:
        def before(module: Any, inputs: Any, more: Any = None) -> None:
            if is_root:
                self._close_all()               # what an exception has left open
            call = None
            if self.backward:
                call = _Backward(self, name + " backward")
                for one in _tensors((inputs, more), []):
                    one.register_hook(call.input_done)
                    call.inputs += 1
            scope = perfh.scope(name)
            self._stack().append((module, scope, call))
            scope.__enter__()

        def after(module: Any, *rest: Any) -> None:
            call = self._leave(module)
            if call is not None:
                for one in _tensors(rest[-1], []):
                    one.register_hook(call.begin)

        self.handles.append(_register(module.register_forward_pre_hook, before, with_kwargs=True))
        self.handles.append(_register(module.register_forward_hook, after, with_kwargs=True,
                                      always_call=True))

    def _stack(self) -> List[Any]:
        if not hasattr(self.local, "stack"):
            self.local.stack = []
        return self.local.stack

    def _leave(self, module: Any) -> Optional[_Backward]:
        """Ends the scope of that module, and of those in it that an exception has left."""
        stack = self._stack()
        if not any(entry[0] is module for entry in stack):
            return None
        while stack:
            left, scope, call = stack.pop()
            scope.__exit__(None, None, None)
            if left is module:
                return call
        return None

    def opened(self, call: _Backward) -> None:
        self.running[id(call)] = call
        if self.asked:
            return
        try:
            _torch().autograd.Variable._execution_engine.queue_callback(self._backward_ends)
            self.asked = True
        except (AttributeError, RuntimeError):          # no such engine: the block's end ends them
            pass

    def _backward_ends(self) -> None:
        self.asked = False
        for call in list(self.running.values()):
            call.end()

    def _close_all(self) -> None:
        stack = self._stack()
        while stack:
            stack.pop()[1].__exit__(None, None, None)
        self._backward_ends()


def _register(register: Callable[..., Any], hook: Callable[..., Any], **wanted: bool) -> Any:
    """A hook with all options that this torch knows: before 2.0 there are none."""
    try:
        return register(hook, **wanted)
    except TypeError:
        return register(hook)


def _to_depth(model: Any, depth: int) -> Iterator[Any]:
    """(path, module) of the model and what is in it, to that depth.  Of a compiled model itself
    alone: hooks inside would break its graph."""
    if hasattr(model, "_orig_mod"):
        yield "", model
        return
    for path, module in model.named_modules():
        if not path or path.count(".") < depth:
            yield path, module


def modules(model: Any, depth: int = 2, *, backward: bool = True) -> Any:
    """with perfh.torch.modules(model): forward and backward of modules, by their paths.

    depth: how many names of a path ("layer1.0" has two); 0 is the model alone, which goes by its
    class.  A forward is a scope, a backward the span "PATH backward", from the gradient of what
    the module returned to that of what it took; where it took nothing that needs a gradient, to the
    end of the backward pass.  The hooks go at the end of the block, also by an exception.  They
    cost some 10 us a module and forward, 20 with its backward.  Enter it around what you call, in
    the thread that calls.  A model of torch.compile is one module."""
    if not hasattr(model, "named_modules"):
        raise TypeError(f"perfh.torch.modules: {type(model).__name__} is no torch module")
    if depth < 0:
        raise ValueError(f"depth={depth}: 0 or more")
    return _Modules(model, depth, backward)


# ---- optimiser -----------------------------------------------------------------------------------

def _timed_method(owner: Any, method: str, name: str) -> None:
    bound = getattr(owner, method)
    if getattr(bound, "_perfh", False):
        return

    @functools.wraps(getattr(bound, "__func__", bound))
    def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        with perfh.scope(name):
            return bound(*args, **kwargs)
    timed._perfh = True  # type: ignore[attr-defined]
    setattr(owner, method, types.MethodType(timed, owner))


def optimizer(opt: Any, name: str = "optimizer") -> Any:
    """Makes opt.step() and opt.zero_grad() scopes, "optimizer step" and so on.  Returns opt.

    A second call changes nothing.  Schedulers of the learning rate and GradScaler go on working."""
    for method in ("step", "zero_grad"):
        if not callable(getattr(opt, method, None)):
            raise TypeError(f"perfh.torch.optimizer: {type(opt).__name__} has no {method}()")
    for method in ("step", "zero_grad"):
        _timed_method(opt, method, f"{name} {method}")
    return opt


# ---- memory --------------------------------------------------------------------------------------

class MemoryRow(NamedTuple):
    """Memory at the end of a phase, in bytes."""
    phase: str
    allocated: int                      # of the device; on a CPU: resident memory of the process
    change: int                         # of allocated, in this phase
    reserved: int                       # by torch for the device; 0 on a CPU
    peak: int                           # of allocated in this phase; on a CPU since the process began


def _resident() -> int:
    """Resident memory in bytes; 0: the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _resident_peak() -> int:
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.1f} MB"


class _Memory:
    """What memory() returns: call it with a name at the end of each phase."""

    def __init__(self, device: Any) -> None:
        self.rows = []  # type: List[MemoryRow]
        self.cuda = _cuda() if device is None or str(device).startswith("cuda") else None
        self.device = device
        self.last = self._read()[0]

    def _read(self) -> Any:
        if self.cuda is None:
            now = _resident()
            return now, 0, max(now, _resident_peak())
        self.cuda.synchronize(self.device)
        found = (self.cuda.memory_allocated(self.device), self.cuda.memory_reserved(self.device),
                 self.cuda.max_memory_allocated(self.device))
        self.cuda.reset_peak_memory_stats(self.device)
        return found

    def __call__(self, phase: str) -> MemoryRow:
        now, reserved, peak = self._read()
        row = MemoryRow(str(phase), now, now - self.last, reserved, peak)
        self.last = now
        self.rows.append(row)
        try:
            perfh.memory_mark(phase)
        except perfh.Error:                     # this system tells nothing of a process
            pass
        return row

    def __str__(self) -> str:
        where = "device" if self.cuda is not None else "resident"
        width = max([len(row.phase) for row in self.rows] + [len("phase")])
        lines = [f"{'phase':<{width}}  {'change':>12}  {where:>12}  {'reserved':>12}  {'peak':>12}"]
        for row in self.rows:
            reserved = _megabytes(row.reserved) if row.reserved else "-"
            lines.append(f"{row.phase:<{width}}  {row.change / 1e6:>+9.1f} MB  "
                         f"{_megabytes(row.allocated):>12}  {reserved:>12}  "
                         f"{_megabytes(row.peak):>12}")
        return "\n".join(lines) + "\n"


def _cuda() -> Any:
    cuda = _torch().cuda
    return cuda if cuda.is_available() else None


def memory(device: Any = None) -> Any:
    """mark = perfh.torch.memory(); model = Net(); mark("model"); loss = f(model); mark("activations")

    Then loss.backward(), mark("gradients"), opt.step(), mark("optimiser state"), print(mark): by
    how much each phase has grown.  mark.rows has them as MemoryRow.  With a CUDA device: what torch
    has allocated there; it synchronises, and resets torch's peak.  Else, or with device="cpu":
    resident memory of the process.  Each mark is also a perfh.memory_mark."""
    return _Memory(device)


# ---- torch.compile -------------------------------------------------------------------------------

def _counters() -> Dict[str, Dict[str, int]]:
    """What torch._dynamo has counted; empty where this torch has none."""
    try:
        found = importlib.import_module("torch._dynamo.utils").counters
        return {key: dict(found[key]) for key in ("frames", "stats", "graph_break")}
    except (ImportError, AttributeError, KeyError):
        return {}


def _grown(before: Dict[str, Dict[str, int]], after: Dict[str, Dict[str, int]], kind: str
           ) -> Dict[str, int]:
    had = before.get(kind, {})
    now = after.get(kind, {})
    return {key: n - had.get(key, 0) for key, n in now.items() if n > had.get(key, 0)}


class Compiled:
    """What compiled() returns: call it as you would the function.

    calls                       how often it was called
    compilations                calls in which torch compiled something
    graphs                      graphs that torch made
    graph_breaks                why torch left a graph: {reason: how often}"""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function, self.name = function, name
        self.calls = self.compilations = self.graphs = 0
        self.graph_breaks = {}  # type: Dict[str, int]

    @property
    def recompilations(self) -> int:
        """Calls after the first in which torch compiled something."""
        return max(0, self.compilations - 1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before, lap = _counters(), perfh.lap()
        compiled_now = True                     # also when it raises: it did not get to run
        try:
            result = self.function(*args, **kwargs)
            compiled_now = self._count(before, _counters())
            return result
        finally:
            self.calls += 1
            lap(self.name + " (compiles)" if compiled_now else self.name)

    def _count(self, before: Dict[str, Dict[str, int]], after: Dict[str, Dict[str, int]]) -> bool:
        """Did torch compile in this call?"""
        compiled_now = bool(_grown(before, after, "frames")) or bool(_grown(before, after, "stats"))
        self.compilations += compiled_now
        self.graphs += _grown(before, after, "stats").get("unique_graphs", 0)
        for reason, n in _grown(before, after, "graph_break").items():
            self.graph_breaks[reason] = self.graph_breaks.get(reason, 0) + n
        return compiled_now

    def __str__(self) -> str:
        text = (f"{self.name}: {self.calls} calls, {self.compilations} compiled "
                f"({self.recompilations} again), {self.graphs} graphs, "
                f"{sum(self.graph_breaks.values())} graph breaks")
        for reason, n in self.graph_breaks.items():
            text += f"\n    {n} x {reason.strip().splitlines()[0]}"
        return text


def compiled(function: Callable[..., Any], name: Optional[str] = None) -> Compiled:
    """f = perfh.torch.compiled(torch.compile(f)): calls that compile are apart from those that run.

    They are the rows "NAME (compiles)" and NAME.  print(f) says how often torch compiled, again,
    and where it broke the graph.  It looks at the counters of torch._dynamo, which the process has
    once: compile nothing else in another thread meanwhile."""
    if not callable(function):
        raise TypeError(f"perfh.torch.compiled: {type(function).__name__} cannot be called")
    if name is None:
        inner = getattr(function, "_orig_mod", None)
        name = type(inner).__name__ if inner is not None else \
            getattr(function, "__name__", type(function).__name__)
    return Compiled(function, name)


# ---- torch.profiler ------------------------------------------------------------------------------

class record_function:
    """with perfh.torch.record_function("load"): a scope, and a block of torch.profiler's trace."""

    def __init__(self, name: str) -> None:
        self.scope = perfh.scope(name)
        self.record = _torch().profiler.record_function(name)

    def __enter__(self) -> "record_function":
        self.record.__enter__()
        self.scope.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        self.scope.__exit__(kind, value, traceback)
        self.record.__exit__(kind, value, traceback)


class _Records:
    """What records() returns."""

    def __enter__(self) -> "_Records":
        kind = _torch().autograd.profiler.record_function
        self.kind, self.enter, self.exit = kind, kind.__enter__, kind.__exit__
        enter, leave = self.enter, self.exit

        @functools.wraps(enter)
        def enter_(block: Any) -> Any:
            scope = perfh.scope(block.name)
            entered = enter(block)
            block._perfh = scope
            scope.__enter__()
            return entered

        @functools.wraps(leave)
        def exit_(block: Any, *error: Any) -> Any:
            scope = block.__dict__.pop("_perfh", None)
            if scope is not None:
                scope.__exit__(None, None, None)
            return leave(block, *error)
        kind.__enter__, kind.__exit__ = enter_, exit_
        return self

    def __exit__(self, *error: Any) -> None:
        self.kind.__enter__, self.kind.__exit__ = self.enter, self.exit


def records() -> Any:
    """with perfh.torch.records(): every torch.profiler.record_function block of Python is a scope.

    torch's own are among them, such as "Optimizer.step#SGD.step"."""
    return _Records()
