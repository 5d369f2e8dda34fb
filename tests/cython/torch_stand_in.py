"""The names of torch that perfh.torch's hooks and perfh.torch.ab touch, for machines without torch.

One-dimensional tensors, +, * and sum, and a backward pass in torch's order: the node that was made
last runs first, a leaf takes its gradient at once, and the hooks of a tensor run when its gradient
is complete.  It shows what our code does with such hooks, and says nothing about torch itself.
"""
import heapq
import itertools
import types

_NUMBERS = itertools.count()
_CALLBACKS = []


class _Handle:
    def __init__(self, hooks, hook, first=False):
        self.hooks, self.hook = hooks, hook
        hooks.insert(0 if first else len(hooks), hook)

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


class Tensor:
    dtype = "torch.float64"

    def __init__(self, values, requires_grad=False, parents=()):
        self.values, self.requires_grad, self.parents = list(values), requires_grad, parents
        self.grad, self.hooks, self._version, self.number = None, [], 0, next(_NUMBERS)

    @property
    def shape(self):
        return (len(self.values),)

    @property
    def is_leaf(self):
        return not self.parents

    def register_hook(self, hook):
        return _Handle(self.hooks, hook)

    def detach(self):
        return Tensor(self.values)

    clone = cpu = double = detach

    def norm(self):
        return sum(x * x for x in self.values) ** 0.5

    def tolist(self):
        return list(self.values)

    def _made(self, values, *parents):
        kept = [(tensor, back) for tensor, back in parents if tensor.requires_grad]
        return Tensor(values, bool(kept), kept)

    def __add__(self, other):
        return self._made([a + b for a, b in zip(self.values, other.values)],
                          (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        return Tensor([a - b for a, b in zip(self.values, other.values)])

    def __mul__(self, other):
        return self._made([a * b for a, b in zip(self.values, other.values)],
                          (self, lambda g: [x * b for x, b in zip(g, other.values)]),
                          (other, lambda g: [x * a for x, a in zip(g, self.values)]))

    def sum(self):
        return self._made([sum(self.values)], (self, lambda g: g * len(self.values)))

    def _uses(self):
        """For each tensor below: how many gradients it waits for."""
        uses, todo = {}, [self]
        while todo:
            for parent, _ in todo.pop().parents:
                if id(parent) not in uses:
                    todo.append(parent)
                uses[id(parent)] = uses.get(id(parent), 0) + 1
        return uses

    def _take(self, gradient):
        old = self.grad.values if self.grad is not None else [0.0] * len(gradient)
        self.grad = Tensor([a + b for a, b in zip(old, gradient)])

    def backward(self):
        _CALLBACKS.clear()
        found, uses, queue = {id(self): [1.0]}, self._uses(), [(0, 0, self)]
        while queue:
            tensor = heapq.heappop(queue)[2]
            gradient = found.pop(id(tensor))
            for hook in list(tensor.hooks):
                hook(gradient)
            if not tensor.parents:
                tensor._take(gradient)
            for parent, back in tensor.parents:
                sofar = found.get(id(parent), [0.0] * len(parent.values))
                found[id(parent)] = [a + b for a, b in zip(sofar, back(gradient))]
                uses[id(parent)] -= 1
                if not uses[id(parent)]:        # a leaf is sooner than all others
                    heapq.heappush(queue, (bool(parent.parents), -parent.number, parent))
        while _CALLBACKS:
            _CALLBACKS.pop()()


class Module:
    training = True

    def __init__(self):
        self._forward_hooks, self._forward_pre_hooks, self._backward_hooks = [], [], []

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return _Handle(self._forward_pre_hooks, hook, prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return _Handle(self._forward_hooks, hook, prepend)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in vars(self).items():
            if isinstance(child, Module):
                yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def __call__(self, *args, **kwargs):
        result = None
        for hook in self._forward_pre_hooks:
            hook(self, args, kwargs)
        try:
            result = self.forward(*args, **kwargs)
        finally:
            for hook in self._forward_hooks:
                hook(self, args, kwargs, result)
        return result


class Identity(Module):
    def forward(self, x):
        return x


nn = types.SimpleNamespace(Module=Module, Identity=Identity)
tensor = Tensor
cuda = types.SimpleNamespace(is_initialized=lambda: False, is_available=lambda: False)
autograd = types.SimpleNamespace(Variable=types.SimpleNamespace(
    _execution_engine=types.SimpleNamespace(queue_callback=_CALLBACKS.append)))


def get_rng_state():
    return None


def set_rng_state(state):
    assert state is None
