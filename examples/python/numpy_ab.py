"""Is NumPy's dot product really ten times as fast as the loop, and are the results alike?

    pip install numpy ./cython && python3 examples/python/numpy_ab.py

You will see a verdict with the speed-up and its 95 % interval, and the report of both."""
import numpy as np
import perfh

x = np.random.default_rng(1).random(10000)


def loop(x):
    return sum(v * v for v in x)


print(perfh.ab(loop, lambda x: x @ x, x, rule="speedup >= 10", close=1e-9, name="squares"))
print(perfh.report_text())
