"""perfh.torch: a training step of PyTorch, in perf.h's report.  Plain Python.

    for x, y in perfh.torch.steps(perfh.torch.data(loader)):    # waits for data, by stage
        with perfh.torch.modules(model, depth=2):               # forward and backward of modules
            model(x)

torch is imported by what you call, not by this module.  All times are the host's: on a device a
forward is the time to launch its work, unless the block around it synchronises.
"""
import copy
import functools
import importlib
import inspect
import os
import random
import sys
import threading
import time
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

import perfh

__all__ = ["Compiled", "MemoryRow", "ab", "compiled", "data", "memory", "modules", "optimizer",
           "record_function", "records", "scaler", "steps"]


def _torch() -> Any:
    """The package torch.  ImportError: it is not installed."""
    return importlib.import_module("torch")


# ---- data ----------------------------------------------------------------------------------------

class _Reads:
    """A dataset whose samples are read in a scope.  Everything else goes to the dataset itself."""

    def __init__(self, dataset: Any, name: str) -> None:
        self.__dict__.update(_dataset=dataset, _name=name)

    # A worker_init_fn may ask isinstance(info.dataset, ...).
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._dataset)

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
    """A loader's collate_fn in a scope; its batch says when it was made, where that is `sent`."""

    def __init__(self, function: Callable[[Any], Any], name: str, sent: bool, device: Any) -> None:
        self.function, self.name, self.sent, self.device = function, name, sent, device

    def __call__(self, samples: Any) -> Any:
        with perfh.scope(self.name + " collate"):
            batch = self.function(samples)
        return _Sent(batch, self.name, self.device) if self.sent else batch


class _Sent:
    """A batch on its way to the loop."""

    def __init__(self, batch: Any, name: str, device: Any) -> None:
        self.batch, self.name, self.device = batch, name, device
        self.made_ns = time.monotonic_ns()      # one clock for all processes of a machine
        self.pin_ns = 0

    def pin_memory(self) -> "_Sent":
        """torch calls this where the loader pins memory, in its thread."""
        before = time.monotonic_ns()
        with perfh.scope(self.name + " pin"):
            pin: Any = importlib.import_module("torch.utils.data._utils.pin_memory")
            self.batch = pin.pin_memory(self.batch, self.device)
        self.pin_ns = time.monotonic_ns() - before
        return self

    def arrives(self, asked_ns: int) -> Any:
        """The batch; counts if it was made before the loop asked, else how long it took to come."""
        was_ready = self.made_ns < asked_ns
        perfh.count(self.name + " ready", was_ready)
        if not was_ready:
            took = time.monotonic_ns() - self.made_ns - self.pin_ns
            perfh.count(self.name + " hand-over (us)", took / 1e3)
        return self.batch


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
        own["collate_fn"] = _Collate(own["collate_fn"], self._name, _may_send(loader),
                                     own.get("pin_memory_device") or None)
        if not _is_pipe(own["dataset"]):
            own["dataset"] = _Reads(own["dataset"], self._name + " read")
        try:
            return iter(loader)
        finally:
            own.update(before)

    def __iter__(self) -> Iterator[Any]:
        with perfh.wait(self._name + " start"):
            batches = self._begin()
        has_workers = bool(getattr(self._loader, "num_workers", 0))
        return _Batches(batches, self._name, has_workers)


class _Batches:
    def __init__(self, batches: Iterator[Any], name: str, has_workers: bool) -> None:
        self.batches, self.name, self.has_workers = batches, name, has_workers

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        asked_ns = time.monotonic_ns()
        with perfh.wait(self.name):
            batch = next(self.batches)
        if not isinstance(batch, _Sent):
            return batch
        return batch.arrives(asked_ns) if self.has_workers else batch.batch


def _may_send(loader: Any) -> bool:
    """May its batches be wrapped on their way?  Not where others than our loop may take them: a
    loader that looks at them itself, or workers that outlive the loop."""
    found: Any = sys.modules.get("torch.utils.data")
    passes_on = type(loader).__iter__ is found.DataLoader.__iter__
    has_a_way = bool(getattr(loader, "num_workers", 0) or getattr(loader, "pin_memory", False))
    return passes_on and has_a_way and not getattr(loader, "persistent_workers", False)


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

    Of a torch DataLoader also, in its workers or in this process:
    data start      what it takes to start the workers
    data read       each sample that the dataset reads
    data collate    each batch that is put together
    data pin        each batch that is copied to pinned memory
    data ready      1 for each batch that a worker had made before the loop asked for one, else 0
    data hand-over (us)     how long the others were on their way, without the pin
    The last three are missing with persistent_workers, and of loaders with their own __iter__.
    What workers record comes back as with all of perfh.

    Any other iterable has the wait alone.  One call more than batches is counted: the one that
    finds the end.  The loader itself stays as it is."""
    if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
        raise TypeError(f"perfh.torch.data: {type(loader).__name__} cannot be iterated")
    return _Data(loader, name)


def steps(batches: Iterable[Any], *, wait: int = 1, warmup: int = 1, active: int = 10,
          repeat: int = 0, name: str = "step") -> Iterator[Any]:
    """for batch in perfh.torch.steps(perfh.torch.data(loader)): each pass is the scope `name`.

    It begins before the batch is waited for.  Only active steps are recorded, as perfh.schedule
    says: `wait` steps pass by, `warmup` follow, `active` count, `repeat` times (0: until the end).
    When they are done the loop goes on, unrecorded.  Workers of a loader record all that they do:
    they read ahead, and know no step.  They start before the first step."""
    source = iter(batches)                  # a worker that starts in a step would inherit its phase
    with perfh.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat) as schedule:
        while True:
            schedule.step()
            with perfh.scope(name):
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
    """One call's backward: from its first output's gradient to its last input's."""

    def __init__(self, owner: "_Modules", name: str) -> None:
        self.owner, self.name, self.inputs = owner, name, 0
        self.left, self.span = 0, None  # type: int, Any
        self.ran = False
        self.kept = []  # type: List[Any]       # handles on leaves: a graph takes others along

    def begin(self, gradient: Any) -> None:
        if self.span is not None or not self.owner.on:
            return
        self.left, self.ran = self.inputs, True
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

    def forget(self) -> None:
        """Takes the hooks off what outlives the graph."""
        for handle in self.kept:
            handle.remove()
        self.kept = []


def _nothing(*what: Any) -> None:
    """A hook that does nothing."""


def _no_hook() -> Any:
    return _nothing


class _Hook:
    """A hook of one module.  Copies of the module, and files, get one that does nothing."""

    def __init__(self, owner: "_Modules", name: str, is_root: bool) -> None:
        self.owner, self.name, self.is_root = owner, name, is_root

    def __reduce__(self) -> Any:
        return _no_hook, ()


class _Before(_Hook):
    def __call__(self, module: Any, inputs: Any, more: Any = None) -> None:
        if not _compiling(self.owner.compiling):
            self.owner.before(self.name, self.is_root, module, (inputs, more))


class _After(_Hook):
    def __call__(self, module: Any, *rest: Any) -> None:
        if not _compiling(self.owner.compiling):
            self.owner.after(module, rest[-1])


def _compiling(asks: Any) -> bool:
    """Does torch.compile look at this hook?  Then there is nothing in it, and no graph breaks."""
    return asks is not None and asks()


class _Modules:
    """What modules() returns: a block in which the hooks are there."""

    def __init__(self, model: Any, depth: int, backward: bool) -> None:
        self.model, self.depth, self.backward = model, depth, backward
        self.always = "always_call" in inspect.signature(model.register_forward_hook).parameters
        self.compiling = getattr(getattr(_torch(), "compiler", None), "is_compiling", None)
        self.handles = []  # type: List[Any]
        self.on = False
        self.running = {}  # type: Dict[int, _Backward]
        self.keeps = {}  # type: Dict[int, _Backward]
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
        for call in list(self.keeps.values()):
            call.forget()
        self.keeps = {}

    def _watch(self, name: str, module: Any, is_root: bool) -> None:
        before, after = _Before(self, name, is_root), _After(self, name, is_root)
        self.handles.append(_register(module.register_forward_pre_hook, before, with_kwargs=True))
        # prepend: of two blocks around one model the inner one ends its scopes first
        self.handles.append(_register(module.register_forward_hook, after, prepend=True,
                                      with_kwargs=True, always_call=True))

    def before(self, name: str, is_root: bool, module: Any, inputs: Any) -> None:
        is_recursive = self.always and bool(self._stack())
        if is_root and not is_recursive:
            self._close_all()                   # what an exception has left open
        call, taken = None, []  # type: Optional[_Backward], List[Any]
        if self.backward:
            call = _Backward(self, name + " backward")
            for one in _tensors(inputs, []):
                taken.append((one, one._version, one.register_hook(call.input_done)))
            call.inputs = len(taken)
        scope = perfh.scope(name)
        self._stack().append((module, scope, call, taken))
        scope.__enter__()

    def after(self, module: Any, output: Any) -> None:
        call, taken = self._leave(module)
        if call is None:
            return
        made = [one for one in _tensors(output, []) if not _passed_on(one, taken, call)]
        for one in made:
            one.register_hook(call.begin)
        call.kept = [handle for one, _, handle in taken if one.is_leaf or not made]
        if not made:                            # under no_grad: it has no backward
            call.forget()
        elif call.kept:
            self.keeps[id(call)] = call

    def _stack(self) -> List[Any]:
        if not hasattr(self.local, "stack"):
            self.local.stack = []
        return self.local.stack

    def _leave(self, module: Any) -> Any:
        """Ends the scope of that module, and of those in it that an exception has left.  Returns
        its backward and the tensors that it took."""
        stack = self._stack()
        if not any(entry[0] is module for entry in stack):
            return None, []
        while stack:
            left, scope, call, taken = stack.pop()
            scope.__exit__(None, None, None)
            if left is module:
                return call, taken
        return None, []

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
        for call in list(self.keeps.values()):
            if call.ran:                        # not in its own hook: torch walks through them
                call.forget()
                self.keeps.pop(id(call), None)

    def _close_all(self) -> None:
        stack = self._stack()
        while stack:
            stack.pop()[1].__exit__(None, None, None)
        self._backward_ends()


def _passed_on(tensor: Any, taken: List[Any], call: _Backward) -> bool:
    """Does the module return what it took, unchanged?  Then it has no part in its backward."""
    for one, version, handle in taken:
        if one is tensor and one._version == version:
            handle.remove()
            call.inputs -= 1
            return True
    return False


def _register(register: Callable[..., Any], hook: Callable[..., Any], **wanted: bool) -> Any:
    """A hook with all options that this torch knows: before 2.0 it has none."""
    try:
        return register(hook, **wanted)
    except TypeError:
        handle = register(hook)
    if wanted.get("prepend"):
        handle.hooks_dict_ref().move_to_end(handle.id, last=False)
    return handle


def _is_compiled(module: Any) -> bool:
    """Is it what torch.compile made of a module?"""
    return hasattr(module, "_orig_mod")


def _is_scripted(module: Any) -> bool:
    """A module of torch.jit takes no hooks."""
    return any(kind.__name__ == "ScriptModule" for kind in type(module).__mro__)


def _to_depth(model: Any, depth: int) -> Iterator[Any]:
    """(path, module) of the model and what is in it, to that depth; nothing of what is compiled."""
    inside = []  # type: List[str]              # paths with a dot behind, of what is compiled
    for path, module in model.named_modules():
        if path and path.count(".") >= depth or any(path.startswith(one) for one in inside):
            continue
        if _is_compiled(module) or _is_scripted(module):
            inside.append(path + "." if path else "")
        if not _is_scripted(module):
            yield path, module


def modules(model: Any, depth: int = 2, *, backward: bool = True) -> Any:
    """with perfh.torch.modules(model): forward and backward of modules, by their paths.

    depth: how many names of a path ("layer1.0" has two); 0 is the model alone, which goes by its
    class.  A forward is a scope, a backward the span "PATH backward", from the gradient of what
    the module returned to that of what it took; where it took nothing that needs a gradient, to the
    end of the backward pass.  What returns its input as it was (Identity) has none.  The hooks go
    at the end of the block, also by an exception.  They cost some 10 us a module and forward, 20
    with its backward.  Enter it around what you call, in the thread that calls.

    A module that torch.compile returned is one row: nothing inside it is watched, and the block
    breaks no graph.  What is compiled in place, and modules of torch.jit, have no rows.  In eval a
    TransformerEncoder with hooks leaves its fast path.  Before torch 2.0 a model that calls itself
    is one call."""
    if not hasattr(model, "named_modules"):
        raise TypeError(f"perfh.torch.modules: {type(model).__name__} is no torch module")
    if _is_scripted(model):
        raise TypeError("perfh.torch.modules: a module of torch.jit takes no hooks: call it in "
                        "`with perfh.scope(...)`")
    if depth < 0:
        raise ValueError(f"depth={depth}: 0 or more")
    return _Modules(model, depth, backward)


# ---- optimiser -----------------------------------------------------------------------------------

def _timed_method(owner: Any, method: str, name: str) -> None:
    bound = getattr(owner, method)
    if getattr(bound, "_perfh", False):
        return
    function = getattr(bound, "__func__", None)

    @functools.wraps(getattr(bound, "__func__", bound))
    def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        with perfh.scope(name):
            if function is None:
                return bound(*args, **kwargs)
            return function(self, *args, **kwargs)      # of a copy: the copy
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


def _counted_step(scaler: Any, name: str) -> None:
    """Makes scaler.step(opt) a scope, and counts the steps that it skips."""
    bound = scaler.step

    @functools.wraps(getattr(bound, "__func__", bound))
    def step(self: Any, opt: Any, *args: Any, **kwargs: Any) -> Any:
        own, inner = vars(opt), opt.step
        had, stepped = "step" in own, []  # type: bool, List[int]

        @functools.wraps(inner)
        def seen(*rest: Any, **more: Any) -> Any:
            stepped.append(1)
            return inner(*rest, **more)
        opt.step = seen
        try:
            with perfh.scope(name + " step"):
                result = bound(opt, *args, **kwargs)
        finally:
            if had:
                opt.step = inner
            else:
                del opt.step
        perfh.count(name + " skipped", 0 if stepped else 1)
        return result
    step._perfh = True  # type: ignore[attr-defined]
    scaler.step = types.MethodType(step, scaler)


def scaler(scaler: Any, name: str = "scaler") -> Any:
    """Makes step(opt), unscale_(opt) and update() of a GradScaler scopes.  Returns the scaler.

    "scaler skipped" has a count for each step: 1 where the gradients had Inf or NaN and opt.step()
    was left out, else 0; its mean is the share of skipped steps.  On a device "scaler step" waits
    for that answer.  A fused optimiser decides on the device: its steps count as taken.  A second
    call changes nothing."""
    for method in ("step", "unscale_", "update"):
        if not callable(getattr(scaler, method, None)):
            raise TypeError(f"perfh.torch.scaler: {type(scaler).__name__} has no {method}()")
    for method in ("unscale_", "update"):
        _timed_method(scaler, method, f"{name} {method.rstrip('_')}")
    if not getattr(scaler.step, "_perfh", False):
        _counted_step(scaler, name)
    return scaler


# ---- two steps -----------------------------------------------------------------------------------

def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and hasattr(value, "norm") and hasattr(value, "shape")


def _on_device() -> Any:
    """torch.cuda, where this process uses it already; None: it does not."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda if cuda is not None and cuda.is_initialized() else None


class _State:
    """What two steps share, as it is now: states, gradients, random numbers."""

    def __init__(self, shared: List[Any]) -> None:
        self.shared, self.torch, self.device = shared, sys.modules.get("torch"), _on_device()
        self.states = [copy.deepcopy(one.state_dict()) for one in shared]
        self.gradients = [(p, None if p.grad is None else p.grad.clone()) for one in shared
                          if hasattr(one, "parameters") for p in one.parameters()]
        self.random = random.getstate()
        if self.torch is not None:
            self.of_torch = self.torch.get_rng_state()
        if self.device is not None:
            self.of_device = self.device.get_rng_state_all()

    def restore(self) -> None:
        for one, state in zip(self.shared, self.states):
            one.load_state_dict(copy.deepcopy(state))       # an optimiser keeps what it is given
        for parameter, gradient in self.gradients:
            parameter.grad = None if gradient is None else gradient.clone()
        random.setstate(self.random)
        if self.torch is not None:
            self.torch.set_rng_state(self.of_torch)
        if self.device is not None:
            self.device.set_rng_state_all(self.of_device)
            self.device.synchronize()


def _kept(value: Any) -> Any:
    """What a step returned, as it is now."""
    if _is_tensor(value):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _kept(one) for key, one in value.items()}
    return [_kept(one) for one in value] if isinstance(value, (list, tuple)) else value


def _figures(value: Any) -> Any:
    """The tensors and numbers of a state: nothing else in it is compared."""
    if isinstance(value, dict):
        return {str(key): _figures(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_figures(one) for one in value]
    return value if _is_tensor(value) or isinstance(value, (int, float)) else None


def _sized(a: Any, b: Any) -> Any:
    """a and b with two tensors of one shape as two numbers: the size of the first, and that plus
    the size of their difference."""
    if _is_tensor(a) and _is_tensor(b) and a.shape == b.shape:
        a, b = a.detach().cpu().double(), b.detach().cpu().double()
        size, off = float(a.norm()), float((a - b).norm())
        return (size, size + off) if size + off == size + off else (size, float(b.norm()))
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        both = {key: _sized(a[key], b[key]) for key in a}
        return {key: x for key, (x, _) in both.items()}, {key: y for key, (_, y) in both.items()}
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [_sized(x, y) for x, y in zip(a, b)]
        return [x for x, _ in pairs], [y for _, y in pairs]
    return a, b


def _differ(a: Any, b: Any, close: float) -> bool:
    compare = importlib.import_module("perfh._compare")
    return any(not compare.alike(x, y, close) for x, y in zip(*compare.pairs_of(a, b)))


def _outcomes(steps: List[Callable[..., Any]], args: Any, start: _State, close: float) -> Any:
    """What each step returns and leaves behind, from the same state, to be compared."""
    ends = []
    for step in (steps[0], *steps):
        start.restore()
        output = _kept(step(*args))
        ends.append([output, _figures([copy.deepcopy(one.state_dict()) for one in start.shared])])
    first, again = _sized(ends[0], ends[1])
    if _differ(first, again, close):
        raise ValueError("perfh.torch.ab: step_a gives another result when it starts from the same "
                         "state again: name all that it changes in state=, or pass close=None")
    of_a, of_b = _sized(ends[1], ends[2])
    _differ(of_a, of_b, close)              # raises where they have not one form: before all timing
    return of_a, of_b


def ab(step_a: Callable[..., Any], step_b: Callable[..., Any], *args: Any, state: Any,
       close: Optional[float] = 1e-4, before: Optional[Callable[[int], Any]] = None,
       **options: Any) -> Any:
    """Is the training step step_b(*args) better than step_a(*args) by as much as the rule asks?

    state       what both change: the model, the optimiser, a scheduler, a scaler, or a list of
                these; whatever has state_dict() and load_state_dict()
    close       how far what they return and the state after one step may lie apart, relative to
                the size of each tensor: beyond it the answer is REJECT; None does not look
    rule, name, max_seconds, confidence, before     as in perfh.ab

    Both start from the state that there is now: it is restored before each slice of calls, with
    gradients and the random numbers of Python and torch, and at the end, also by an exception.
    Take a first step before, or each slice begins with an optimiser without state.  Where the
    process uses a CUDA device each call ends with synchronize().  ValueError: step_a from the same
    state gives another result, so it changes more than state."""
    shared = list(state) if isinstance(state, (list, tuple)) else [state]
    for one in shared:
        if not hasattr(one, "state_dict") or not hasattr(one, "load_state_dict"):
            raise TypeError(f"perfh.torch.ab: state: {type(one).__name__} has no state_dict() and "
                            "load_state_dict()")
    if not shared:
        raise ValueError("perfh.torch.ab: state is empty: for steps that change nothing there is "
                         "perfh.ab")
    for step in (step_a, step_b):
        if inspect.isgeneratorfunction(step) or inspect.iscoroutinefunction(step):
            raise TypeError(f"perfh.torch.ab: {getattr(step, '__name__', step)} is a generator or "
                            "coroutine function: calling it runs nothing")
    options.setdefault("name", getattr(step_b, "__name__", type(step_b).__name__))
    start = _State(shared)

    def timed(step: Callable[..., Any], outcome: Any) -> Callable[[], Any]:
        def call() -> Any:
            step(*args)
            if start.device is not None:
                start.device.synchronize()
            return outcome
        return call

    def again(variant: int) -> None:
        start.restore()
        if before is not None:
            before(variant)

    try:
        outcomes = (None, None)
        if close is not None:
            outcomes = _outcomes([step_a, step_b], args, start, close)
        return perfh.ab(timed(step_a, outcomes[0]), timed(step_b, outcomes[1]), close=close,
                        before=again, **options)
    finally:
        start.restore()


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
        self.most = 0                   # of what was resident; the system's own figure may lag
        self.last = self._read()[0]

    def _read(self) -> Any:
        if self.cuda is None:
            now = _resident()
            self.most = max(self.most, now, _resident_peak())
            return now, 0, self.most
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
    if str(device).startswith("cuda") and _cuda() is None:
        raise ValueError(f"perfh.torch.memory: device={device!r}: this torch has no CUDA device")
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
    """with perfh.torch.record_function("load"): a scope, and a block of torch.profiler's trace.
    Above a function: each call of it."""

    def __init__(self, name: str) -> None:
        self.name, self.scope = name, perfh.scope(name)
        self.record = _torch().profiler.record_function(name)
        self.record._perfh_seen = True          # for records(): it has its scope

    def __call__(self, function: Any) -> Any:
        """As a decorator."""
        perfh.scope(self.name)(function)        # TypeError: what a scope cannot decorate

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)
        return recorded

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
            entered = enter(block)
            if not hasattr(block, "_perfh_seen"):
                block._perfh = perfh.scope(block.name)
                block._perfh.__enter__()
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
