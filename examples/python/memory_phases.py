"""Which phase of a training step takes the memory?

    pip install ./cython && python3 examples/python/memory_phases.py

You will see a row for each phase, with what it added.  This process keeps bytes where a model would
keep tensors; with torch and a CUDA device leave out "cpu": then the rows are what torch allocated."""
import perfh


def tensor(megabytes):
    values = bytearray(megabytes * 1_000_000)
    values[::4096] = bytes(len(values[::4096]))     # what nobody has written takes no memory
    return values


mark = perfh.torch.memory("cpu")
model = tensor(20)
mark("model")
activations = tensor(60)
mark("activations")
gradients = tensor(20)
mark("gradients")
state = tensor(40)                              # two numbers a weight, as Adam has
mark("optimiser state")
activations = None
mark("freed")
print(mark)
print("largest:", max(mark.rows, key=lambda row: row.change).phase)
