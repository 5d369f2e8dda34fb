"""Is the new training step faster, and does it train the same?

    pip install ./cython && python3 examples/python/two_steps.py

You will see two verdicts.  The first step is faster and leaves the same weights: ACCEPT.  The second
is as fast, but learns something else: REJECT.  Modules and optimisers of torch have the two
functions of Model, too: state=[model, optimiser]."""
import perfh

DATA = [(i / 500, 3 * i / 500) for i in range(500)]


class Model:
    w = 0.0

    def state_dict(self):
        return {"w": self.w}

    def load_state_dict(self, state):
        self.w = state["w"]


model = Model()


def slow():
    """Computes the error of each point for the gradient, and again for the loss."""
    gradient = sum([2 * (model.w * x - y) * x for x, y in DATA]) / len(DATA)
    loss = sum([(model.w * x - y) ** 2 for x, y in DATA]) / len(DATA)
    model.w -= 0.1 * gradient
    return loss


def fast(rate=0.1):
    """Computes them once, and multiplies by what is the same for all at the end."""
    w = model.w
    errors = [w * x - y for x, y in DATA]
    gradient = 2 * sum([e * x for e, (x, _) in zip(errors, DATA)]) / len(DATA)
    model.w -= rate * gradient
    return sum([e * e for e in errors]) / len(DATA)


def wrong():
    return fast(rate=0.2)


slow()                                          # a first step: its state is where both begin
print(perfh.torch.ab(slow, fast, state=model, rule="speedup >= 1.1"))
print(perfh.torch.ab(slow, wrong, state=model, rule="speedup >= 1.1"))
print(f"w is {model.w:.3f}, as before")
