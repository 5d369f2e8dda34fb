# cython: language_level=3, boundscheck=False, wraparound=False
"""Three ways to add the squares of an array, and which of two is faster.

    pip install cython numpy setuptools ./cython        # in the top folder
    cd examples/cython
    python3 setup.py build_ext --inplace
    python3 -c "import sums; sums.main()"

You will see two verdicts, each from runs in turns whose order a coin decided: a typed memoryview
against a naive loop over the array (some hundred times as fast; asked for 10 times), and NumPy
against the memoryview (asked for 1.3 times; for one small array NumPy's call may or may not win,
the verdict says).  Then the report: "main", "naive" and "numpy" are scopes around one plain run, made
in Python; "memoryview" is a scope inside the function, so it counts the calls of both loops too.
`ask` shows the loop in Cython's own words; from Python, perfh.ab(naive, memoryview, x) does it."""
import numpy as np
import perfh
from perfh.perf cimport *


def naive(x):
    """No types: every element becomes a Python object."""
    sum = 0.0
    for v in x:
        sum += v * v
    return sum


cdef double typed(const double[::1] x) noexcept nogil:
    cdef double sum = 0
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        sum += x[i] * x[i]
    return sum


def memoryview(const double[::1] x):
    cdef double sum
    cdef perf_scope s = perf_scope_begin(b"memoryview")
    try:                                    # closed by an exception or a return, too
        with nogil:
            sum = typed(x)
        return sum
    finally:
        perf_scope_end(&s)


def numpy(x):
    return np.dot(x, x)


def ask(name, baseline, candidate, double factor, x):
    """The verdict on "candidate is at least `factor` times as fast as baseline", and its text."""
    cdef perf_ab_opts o = perf_ab_opts_default()    # the other fields keep their defaults
    cdef perf_ab_result r
    cdef perf_ab ab
    cdef perf_accuracy seen
    cdef double expected = baseline(x), got = candidate(x)
    cdef int v

    seen = perf_accuracy_f64(&expected, &got, 1)
    o.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, factor, PERF_METRIC_PAIR)
    o.accept.guard.required = 1                     # nothing is accepted that is not right
    o.accept.guard.seen = seen
    o.accept.guard.limit.rel = 1e-9
    ab = perf_ab_begin(name.encode(), &o)
    try:
        v = perf_ab_next(&ab)
        while v >= 0:
            if v:
                candidate(x)
            else:
                baseline(x)
            v = perf_ab_next(&ab)
    finally:                                        # an exception in one of them ends the loop
        r = perf_ab_end(&ab)
    return perf_decision_text(r.verdict.decision).decode(), perf_verdict_text(&r.verdict).decode()


def main(size=10000):
    x = np.random.default_rng(1).random(size)
    with perfh.scope("main"):
        with perfh.scope("naive"):
            naive(x)
        memoryview(x)
        with perfh.scope("numpy"):
            numpy(x)
    print("memoryview against naive:", ask("memoryview", naive, memoryview, 10, x)[1])
    print("numpy against memoryview:", ask("numpy", memoryview, numpy, 1.3, x)[1])
    print(perfh.report_text())
