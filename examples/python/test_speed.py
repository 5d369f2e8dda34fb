"""Tests that ask how fast: pytest examples/python

You will see three tests pass: joining is at least twice as fast as adding up strings, and the same
function is not slower than itself by over 30 %.  Needs pytest and `pip install ./cython`, which
brings the fixtures perf_ab and perf_bench."""


def by_adding(words):
    text = ""
    for word in words:
        text = text + word + "\n"
    return len(text)


def by_joining(words):
    return len("\n".join(words)) + 1


WORDS = ["word"] * 2000


def test_joining_is_faster(perf_ab):
    assert perf_ab(by_adding, by_joining, WORDS, rule="speedup >= 2", close=0).speedup.low > 1


def test_no_regression(perf_ab):
    perf_ab(by_joining, by_joining, WORDS, rule="no regression beyond 30 %", close=0)


def test_how_long(perf_bench):
    perf_bench(by_joining, WORDS)           # pytest --perfh-save runs.json keeps it
