"""The Python package as a user of Python sees it: bench, ab, compare, decorators, reports, types."""
import array
import ast
import asyncio
import contextlib
import datetime
import decimal
import enum
import fractions
import functools
import gc
import html.parser
import inspect
import io
import json
import math
import os
import pathlib
import pickle
import random
import re
import signal
import sys
import tempfile
import threading
import time

import perfh


def raises(kind, call, words=""):
    try:
        got = call()
    except kind as error:
        assert words in str(error), (words, str(error))
        return error
    raise AssertionError(f"no {kind.__name__}, but {got!r}")


def rows():
    found = {}
    for line in perfh.report_text("csv").splitlines()[1:]:
        cells = line.split(",")
        found[cells[0].strip('"')] = (cells[1], int(cells[2] or 0))
    return found


def slow(n=20):
    total = 0
    for i in range(n * 100):
        total += i
    return total


def quick(n=20):
    return n * 100 * (n * 100 - 1) // 2


# ---- ab ----------------------------------------------------------------------------------------

v = perfh.ab(slow, quick, rule="speedup >= 3", close=0, max_seconds=60)
assert v and v.accepted and not v.rejected and v.decision == "ACCEPT", v
assert v.name == "quick" and v.rule == "speedup >= 3" and abs(v.threshold - 1 / 3) < 1e-12
assert 3 < v.speedup.low <= v.speedup.estimate <= v.speedup.high, v.speedup
assert abs(v.ratio.low * v.speedup.high - 1) < 1e-9
assert v.pairs >= 7 and v.confidence == 0.95 and v.text.startswith("ACCEPT: speed-up")
assert v.candidate.p50 < v.baseline.p50 and min(v.first_ns) > 0 and "ACCEPT" in repr(v)
assert v.baseline.p50_low <= v.baseline.p50 <= v.baseline.p50_high
v = perfh.ab(quick, slow, 10, rule="no regression beyond 20 %", name="slower", max_seconds=60)
assert v.rejected and not v and v.name == "slower", v
v = perfh.ab(slow, lambda: quick() + 1, close=1e-9)
assert v.rejected and "differ" in v.reason and any("outputs" in w for w in v.warnings), v
v = perfh.ab(lambda: [1.0, 2.0], lambda: (1.0, 2.0 + 1e-12), close=1e-9, max_seconds=0.05)
assert not any("outputs" in w for w in v.warnings), v
raises(ValueError, lambda: perfh.ab(lambda: 1, lambda: [1, 2], close=1), "returned 1 numbers")
raises(ValueError, lambda: perfh.ab(lambda: [], lambda: [], close=1), "no number")
raises(ValueError, lambda: perfh.ab(slow, quick, rule="nonsense"), "speedup >= 1.3")
raises(ValueError, lambda: perfh.ab(slow, quick, rule=None), "speedup >= 1.3")
raises(TypeError, lambda: perfh.ab(slow))
raises(TypeError, lambda: perfh.ab(slow, 5), "perfh.ab cannot call 5: pass a function")
raises(TypeError, lambda: perfh.bench(None), "perfh.bench cannot call None: pass a function")
raises(TypeError, lambda: perfh.auto(sys), "the name of a module is wanted")
for save in (perfh.results_save, perfh.baseline_save, perfh.trace_save, perfh.export, perfh.baseline_check):
    raises(perfh.Error, lambda: save("/nowhere/x.json"), "/nowhere/x.json: there is no such folder")
raises(TypeError, lambda: perfh.bench(slow, before=3), "before=3: a function")
raises(TypeError, lambda: perfh.variant("v", "A"), "otherwise='A': the number of a variant")
raises(perfh.Error, lambda: perfh.diagnose(), "no data: no scope was called 8 times")
raises(perfh.Error, lambda: perfh.baseline_check("no.json"), "no.json: no data: there is no such file")
raises(perfh.Error, lambda: perfh.baseline_check(__file__), "python.py: no file of this kind")


# ---- what two functions return ---------------------------------------------------------------------

def agree(a, b, close=1e-9):
    """Are they alike to perfh.ab?  Both bodies are equally fast: only the outputs can REJECT."""
    v = perfh.ab(lambda: a, lambda: b, close=close, max_seconds=0.003)
    return not any("outputs" in w for w in v.warnings) and "differ" not in v.reason


Colour = enum.Enum("Colour", "RED BLUE")
assert agree(Colour.RED, Colour.RED) and not agree(Colour.RED, Colour.BLUE)
try:
    import numpy as np
except ImportError:
    np = None
if np:
    for a, b in ((2 ** 60, 2 ** 60 + 1), (-2 ** 63, -2 ** 63 + 1), (2 ** 53, 2 ** 53 + 1)):     # no double tells these
        assert not agree(np.array([a]), np.array([b]), close=0), (a, b)
        assert agree(np.array([a]), np.array([a]), close=0), a
    masked = [np.ma.array([1, 2], mask=mask) for mask in ([0, 1], [0, 1], [0, 0])]
    assert agree(masked[0], masked[1]) and not agree(masked[0], masked[2])
    matrix = np.matrix([[1, 2], [3, 4]])                    # its ravel() has two dimensions
    assert agree(matrix, np.array([[1, 2], [3, 4]])) and not agree(matrix, np.array([[1, 2], [3, 5]]))
    of_matrix = perfh.Histogram()
    of_matrix.add(matrix)
    assert [b[0] for b in of_matrix.buckets()] == [1, 2, 3, 4]


class Table:
    """What perfh uses of a table of pandas: names twice, and an index."""

    class _Cells:
        def __init__(self, cells):
            self.cells = cells

        def __getitem__(self, at):
            return array.array("q", self.cells[at[1]])

    def __init__(self, columns, index, *cells):
        self.columns, self.index, self.iloc = columns, array.array("q", index), Table._Cells(cells)


table = Table(["a", "a"], [0, 1], [1, 2], [3, 4])
assert agree(table, Table(["a", "a"], [0, 1], [1, 2], [3, 4]))
for other in (Table(["a", "a"], [0, 1], [1, 2], [3, 5]), Table(["a", "a"], [0, 2], [1, 2], [3, 4]),
              Table(["a", "b"], [0, 1], [1, 2], [3, 4])):
    assert not agree(table, other), other

F = fractions.Fraction
for a, b in ((1, 1.0), ("x", "x"), (b"x", bytearray(b"x")), (None, None), (True, 1), (1 + 2j, 1 + 2j),
             ({1: 2, "k": [1, (2, 3)]}, {"k": (1.0, [2, 3]), 1: 2}), ({1, 2}, {2, 1}), (F(1, 3), F(1, 3)),
             (10 ** 400, 10 ** 400), (decimal.Decimal("1.5"), 1.5), (datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)),
             (math.nan, math.nan), ([[1, 2], [3]], [[1, 2], [3]]), (F(1, 3), 1 / 3)):
    assert agree(a, b), (a, b)
for a, b in (({1: 2}, {1: 3}), ("x", "y"), (b"x", "x"), (None, 0), (None, "None"), (1 + 2j, 1 + 3j), ({1}, {2}), ([1, "a"], [1, "b"]),
             ({"k": [1, {"m": 2}]}, {"k": [1, {"m": 3}]}), (F(1, 3), F(1, 2)), (10 ** 400, 10 ** 400 + 1), (1, math.nan),
             (2 ** 60, 2 ** 60 + 1), (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)), ("1", 1),
             (decimal.Decimal("1.5"), decimal.Decimal("1.6"))):
    assert not agree(a, b, close=0), (a, b)
for a, b, words in (([1], [1, 2], "returned 1 numbers"), ({1: 2}, {2: 2}, "keys that one alone has: 1, 2"),
                    ([[1, 2], [3]], [[1], [2, 3]], "[0]: 2 and 1 elements"), ([], [], "nothing to compare")):
    raises(ValueError, lambda: agree(a, b), words)
raises(TypeError, lambda: agree(object(), object()), "close: outputs of the type object")
deep = []
for _ in range(300):
    deep = [deep]
raises(ValueError, lambda: agree(deep, deep), "nested")


async def coroutine():
    pass


def generator():
    yield 1


for f in (coroutine, generator, functools.partial(coroutine)):
    raises(TypeError, lambda: perfh.bench(f), "perfh.bench cannot call")
    raises(TypeError, lambda: perfh.ab(slow, f), "perfh.ab cannot call")
for f in (lambda: coroutine(), lambda: generator()):
    raises(TypeError, lambda: perfh.bench(f), "nobody has run")
    raises(TypeError, lambda: perfh.ab(f, slow, max_seconds=0.01), "nobody has run")
for bad in (95, -0.1, 1, math.nan):
    for call in (lambda: perfh.ab(slow, quick, confidence=bad), lambda: perfh.compare([1.0], [1.0], confidence=bad),
                 lambda: perfh.baseline_check("none.json", confidence=bad)):
        raises(ValueError, call, f"confidence={bad:g}: between 0 and 1")
raises(ValueError, lambda: perfh.ab(slow, quick, close=-1), "close=-1")
raises(ValueError, lambda: perfh.ab(slow, quick, max_seconds=-1), "max_seconds=-1")
raises(ValueError, lambda: perfh.bench(slow, max_seconds=math.nan), "max_seconds=nan")


# Advice names what Python has.
short = perfh.ab(slow, quick, name="opts.max_seconds", max_seconds=1e-9)
assert "max_seconds= ended it" in short.reason and short.reason in short.text, short
assert "opts.max_seconds" in perfh.report_text()               # a name of the user's stays
from perfh._words import in_python  # noqa: E402
assert in_python("too few pairs after longer leads or at the end: more of opts.max_seconds, or opts.control = -1") == \
    "too few pairs after longer leads or at the end: more of max_seconds="
perfh.reset()
assert "put one step in perfh.scope()" in perfh.report_text("diagnosis")


# An exception in a body or a hook ends the loop and comes out; the next loop works.
class Planted(Exception):
    pass


def fails_at(n):
    calls = [0]

    def body(*_):
        calls[0] += 1
        if calls[0] > n:
            raise Planted
    return body


raises(Planted, lambda: perfh.ab(slow, fails_at(50)))
raises(Planted, lambda: perfh.ab(slow, quick, before=fails_at(3)))
raises(Planted, lambda: perfh.bench(fails_at(1000)))
raises(Planted, lambda: perfh.bench(slow, before=fails_at(0)))
assert perfh.ab(slow, quick, max_seconds=60)


# Ctrl-C ends a loop over functions of C, which never run a line of Python, within the slice.
def interrupted(number, frame):
    raise Planted


handler = signal.signal(signal.SIGPROF, interrupted)
for call in (lambda: perfh.ab(time.time, time.time, rule="speedup >= 1.001", name="time", max_seconds=60),
             lambda: perfh.race([time.time, time.time], rule="speedup >= 1.001", name="time", max_seconds=60)):
    perfh.reset()
    signal.setitimer(signal.ITIMER_PROF, 0.05)    # of processor time: the loop has begun
    raises(Planted, call)
    assert "the loop was left before it was done" in perfh.report_text()
signal.signal(signal.SIGPROF, handler)
seen = set()
perfh.ab(slow, quick, before=seen.add)
assert seen == {0, 1}, seen

# ---- bench -------------------------------------------------------------------------------------

one, more = perfh.bench(slow, 20), perfh.bench(slow, 2000, name="more")
assert one.name == "slow" and more.name == "more" and one.first_ns > 0 and one.iterations > 3
assert more.time.p50 > one.time.p50, (one, more)      # 100 times as much work, on however busy a machine
assert one.time.count >= 3 and one.time.min <= one.time.p50 <= one.time.max
assert str(one) == one.text and "median" in one.text and "slow" in repr(one)
assert "GB/s" in perfh.bench(slow, bytes=4096, max_seconds=0.05).text
assert "items/s" in perfh.bench(slow, items=20, max_seconds=0.05).text
raises(TypeError, lambda: perfh.bench(5))


# What is paused does not count, in either loop; what Python's calls of pause() cost is said.
def naps():
    with perfh.pause():
        time.sleep(0.002)


def naps_twice():
    perfh.pause()
    time.sleep(0.001)
    perfh.resume()
    slow()
    with perfh.pause():
        time.sleep(0.001)


r = perfh.bench(naps, max_seconds=0.2)
assert r.time.min < 1e6, r.time
noted = re.search(r"pause\(\) and resume\(\) are in it, about ([0-9]+) ns", " ".join(r.warnings))
assert noted or r.time.p50 > 5000, (r.time, r.warnings)         # asleep on a busy machine: they are under 1 %
part = int(noted[1]) if noted else 1
assert r.time.p50_low <= max(r.time.p50 - 2 * (part - 1), 0), (r.time, part)        # the interval holds that
assert perfh.bench(naps_twice, max_seconds=0.2).time.min < 1e6
v = perfh.ab(naps_twice, naps_twice, max_seconds=0.3, rule="no regression beyond 50 %")
assert v.baseline.min < 1e6 and v.candidate.min < 1e6, v
assert not any("pause()" in w for w in perfh.bench(slow, max_seconds=0.05).warnings)
with perfh.pause():                     # outside of a loop: nothing
    perfh.resume()


def leaves_paused():
    perfh.pause()
    raises(TypeError, lambda: perfh.bench(5))
    raise OSError


raises(OSError, lambda: perfh.bench(leaves_paused))
assert perfh.bench(slow, max_seconds=0.05).time.count
results = {}
threads = [threading.Thread(target=lambda k=k: results.update({k: perfh.bench(slow, name=str(k))}))
           for k in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert len(results) == 3 and all(r.time.count for r in results.values())

# ---- many threads: with a GIL or without one, every call is counted while another reads ------------


@perfh.scope
def counted():
    with perfh.scope("within"):
        perfh.count("counted once", 1)


threads = [threading.Thread(target=lambda: [counted() for _ in range(500)]) for _ in range(16)]
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
for t in threads:
    t.start()
for _ in range(10):
    assert perfh.report_text("csv")
for t in threads:
    t.join()
assert [rows()[n][1] for n in ("counted", "within", "counted once")] == [8000] * 3, rows()
assert getattr(sys, "_is_gil_enabled", lambda: True)() == gil          # importing perfh turned none on

# ---- compare -----------------------------------------------------------------------------------

before = [12.1, 12.4, 11.9, 12.2, 12.0, 12.3, 12.1, 12.2]
after = [9.0, 9.2, 8.9, 9.1, 9.3, 9.0, 9.1, 9.2]
v = perfh.compare(before, after, rule="down >= 20 %", paired=True)
assert v.accepted and v.pairs == 8 and v.first_ns is None and abs(v.baseline.p50 - 12.15) < 1e-9, v
v = perfh.compare(before, after, rule="down >= 20 %")
assert v.decision == "INCONCLUSIVE" and "interleaved" in v.reason, v
v = perfh.compare(array.array("d", before), memoryview(array.array("d", after)), rule="down >= 30 %",
                  random=True)
assert v.rejected or v.decision == "INCONCLUSIVE", v
assert perfh.compare(before, after, random=True, paired=False, rule="speedup >= 1.1").accepted
raises(ValueError, lambda: perfh.compare(before, after[1:], paired=True), "8 values before and 7")
raises(ValueError, lambda: perfh.compare(before, after, paired=True, random=True))
assert raises(perfh.Error, lambda: perfh.compare([], [])).status
assert raises(perfh.Error, lambda: perfh.compare([math.nan], [1.0]), "no data: no measurements").status
for call in (perfh.bench, lambda f, name: perfh.ab(f, f, name=name), lambda f, name: perfh.race([f, f], name=name)):
    raises(perfh.Error, lambda: call(slow, name=""), "invalid argument: the name of the loop is empty")
raises(TypeError, lambda: perfh.compare(["x"], [1.0]))

# ---- what a notebook and a person see ----------------------------------------------------------


class Balance(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), text
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


hostile = perfh.bench(quick, name="<script>\"&'", max_seconds=0.05)
assert "script" not in Balance(hostile._repr_html_()).tags and "&lt;script" in hostile._repr_html_()
shown = perfh.ab(slow, quick, name="<b>", max_seconds=0.1)
assert {"table", "svg", "circle"} <= Balance(shown._repr_html_()).tags
Balance(perfh.compare(before, after, paired=True)._repr_html_())
with perfh.scope("<i>"):
    perfh.count("queue", 12)
shown = perfh.scopes()._repr_html_()
assert "table" in Balance(shown).tags and "&lt;i&gt;" in shown and shown.count("<tr>") == len(perfh.scopes()) + 1
assert perfh.scopes() == list(perfh.scopes()) and ">12</td>" in shown, shown
perfh.count("endless", math.inf)        # JSON has no such number
[row] = [row for row in perfh.scopes() if row.name == "endless"]
assert math.isnan(row.mean_ns) and math.isnan(row.max_ns) and ">nan</td>" in Balance(perfh.scopes()._repr_html_()).text, row
perfh.reset()
Balance(perfh.compare([1.0], [2.0])._repr_html_())      # unbounded ends: no picture

# ---- race, sweep -------------------------------------------------------------------------------

many = perfh.race({"slow": slow, "quick": quick, "same": lambda n: quick(n)}, 300, close=0, name="add",
                  max_seconds=0.3)
assert [e.name for e in many.entries] == ["slow", "quick", "same"] and many.best in ("quick", "same"), many
assert many.entries[0].verdict is None and many.rounds >= 1, many
assert next(e.behind for e in many.entries if e.name == many.best) == 1 and many.entries[0].behind > 1.5, many
assert all(e.behind >= 1 or e.within_noise for e in many.entries), many     # the best is by medians, this by pairs
assert all(e.verdict.baseline == many.entries[0].time for e in many.entries[1:]), many
assert f"the best is {many.best}" in str(many) and many.best in repr(many) and "slow, " not in str(many)
Balance(many._repr_html_())
assert "add, quick" in perfh.report_text()
seen = []
perfh.race([slow, slow], 3, before=seen.append, max_seconds=0.05)
assert set(seen) == {0, 1}, seen
assert "slow (1)" in str(perfh.race([slow, slow], 3, max_seconds=0.05))
raises(ValueError, lambda: perfh.race([slow], 3), "1 functions: 2 to 64")
raises(ValueError, lambda: perfh.race([slow] * 65, 3), "65 functions")
raises(TypeError, lambda: perfh.race([slow, 5], 3), "int cannot be called")
raises(ValueError, lambda: perfh.race([slow, lambda n: 1], 3, close=0), "<lambda> returns something else than slow")
for a, b in ((math.inf, 1.0), (-math.inf, math.inf), (1.0, math.inf)):      # as ab: nothing finite is close to it
    raises(ValueError, lambda: perfh.race([lambda: a, lambda: b], close=1e-9), f"{b:g}, not {a:g}")
raises(ValueError, lambda: perfh.race([slow, quick], 3, rule="speedup >= 1.3 on p95"), "a race holds typical times")
raises(ValueError, lambda: perfh.race([slow, quick], 3, confidence=95), "confidence=95")
raises(TypeError, lambda: perfh.race([slow, asyncio.sleep], 3), "coroutine")
raises(TypeError, lambda: perfh.race([slow, lambda n: asyncio.sleep(n)], 3), "nobody has run")
raises(ZeroDivisionError, lambda: perfh.race([slow, lambda n: 1 // 0], 3))

lengths = perfh.sweep(slow, [10, (1000,)], items=lambda n: n, max_seconds=0.05)
assert [r.name for r in lengths] == ["slow/10", "slow/1000"] and lengths[0].time.p50 < lengths[1].time.p50
assert "items/s" in str(lengths) and str(lengths).startswith("slow/10: median "), str(lengths)
Balance(lengths._repr_html_())
pairs = perfh.sweep(max, [(4, 8), (4, 8), ("x" * 50, "y")], name="most", max_seconds=0.02)
assert [r.name for r in pairs] == ["most/0", "most/1", "most/2"], pairs
raises(ValueError, lambda: perfh.sweep(slow, []), "no arguments")
raises(TypeError, lambda: perfh.sweep(asyncio.sleep, [1]), "coroutine")

# ---- decorators --------------------------------------------------------------------------------

perfh.reset()


@perfh.scope
def bare(n):
    "doc"
    return n and bare(n - 1)


class Class:
    @perfh.scope
    def method(self, x):
        return self, x

    @staticmethod
    @perfh.scope
    def static(x):
        return x

    @perfh.scope(wait=True)
    def waits(self):
        return 1


@perfh.span
async def request(x):
    await asyncio.sleep(0)
    return x


@perfh.span("named")
async def named():
    await asyncio.sleep(0)


@perfh.span
def plain(x):
    return x


async def all_of():
    return await asyncio.gather(request(1), request(2), named())


c = Class()
assert bare(3) == 0 and bare.__name__ == "bare" and bare.__doc__ == "doc"
assert c.method(4) == (c, 4) and Class.static(5) == 5 and c.waits() == 1 and plain(6) == 6
assert asyncio.run(all_of()) == [1, 2, None] and inspect.iscoroutinefunction(request)
for name, row in {"bare": ("scope", 4), "Class.method": ("scope", 1), "Class.static": ("scope", 1),
                  "Class.waits": ("wait", 1), "request": ("async", 2), "named": ("async", 1),
                  "plain": ("async", 1)}.items():
    assert rows().get(name) == row, (name, rows())
raises(TypeError, lambda: perfh.scope(asyncio.sleep), "@perfh.span")
raises(TypeError, lambda: perfh.scope(Class), "class")
raises(TypeError, lambda: perfh.scope("x")(5), "int")
raises(TypeError, lambda: perfh.scope().__enter__(), "needs a name")
raises(TypeError, lambda: perfh.span().__enter__(), "needs a name")
raises(TypeError, lambda: perfh.span(lambda: (yield)), "generator")

# ---- the rest of the library -----------------------------------------------------------------------

perfh.reset()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="perfh."))
for i in range(30):
    with perfh.scope("unit"):
        lap = perfh.lap()
        slow(1)
        lap("read")
        slow(2)
        lap("parse")
        with perfh.wait("queue"):
            slow(3)
        perfh.value("rows", i)
        perfh.text("file", f"part {i}")
found = {row.name: row for row in perfh.scopes()}
assert found["unit"].calls == found["read"].calls == found["parse"].calls == 30, found
assert found["queue"].kind == "wait" and found["unit"].total_ns > found["parse"].total_ns > 0
assert found["unit"].where == "" and found["unit"].min_ns <= found["unit"].p50_ns <= found["unit"].max_ns
d = perfh.diagnose()
assert d.unit == "unit" and d.calls == 30 and d.best >= 1 and str(d) == d.text
for view in (d.text, perfh.report_text("diagnosis")):
    assert [line.split(":")[0] for line in view.splitlines()[:5]] == ["baseline", "bound by", "where", "try", "verify"], view
other = []
t = threading.Thread(target=lambda: other.append(raises(RuntimeError, lambda: lap("late"), "thread")))
t.start()
t.join()
assert other
perfh.export(scratch / "flame.html")
assert "<html" in (scratch / "flame.html").read_text().lower()
perfh.export(scratch / "folded.txt", "folded")
assert "unit;queue" in (scratch / "folded.txt").read_text()
perfh.trace_save(scratch / "t.json")
assert "part 29" in (scratch / "t.json").read_text()
perfh.trace_save(scratch / "t.pftrace")
assert (scratch / "t.pftrace").stat().st_size > 500
raises(ValueError, lambda: perfh.export(scratch / "x", "svg"), "format='svg': one of flame")
assert raises(perfh.Error, lambda: perfh.results_save(scratch / "no" / "x")).status
perfh.results_save(scratch / "r.json", label="one")
saved = json.loads((scratch / "r.json").read_text())
assert any(s["name"] == "unit" and s["calls"] == 30 for s in saved["scopes"]) and "one" in json.dumps(saved["runs"])
perfh.baseline_save(scratch / "b.json")
checked = perfh.baseline_check(scratch / "b.json", rule="no regression beyond 20 %")
assert checked.runs == 1 and {e.name for e in checked.entries} >= {"unit", "queue"}, checked
assert checked.decision in ("ACCEPT", "INCONCLUSIVE", "REJECT") and bool(checked) == (checked.decision == "ACCEPT")
assert str(checked).startswith(checked.decision) and "unit" in str(checked)
assert "saved by this run, " in str(checked) and "INCONCLUSIVE: INCONCLUSIVE" not in str(checked), str(checked)
(scratch / "bad.json").write_text("{")
assert raises(perfh.Error, lambda: perfh.baseline_check(scratch / "bad.json")).status

os.environ["PERF_VARIANT"] = "parser=B,sum=0"
assert (perfh.variant("parser"), perfh.variant("sum", 1), perfh.variant("other", 1)) == (1, 0, 1)
del os.environ["PERF_VARIANT"]
perfh.reset()
with perfh.schedule(wait=1, warmup=1, active=2, repeat=2) as s:
    phases = []
    for _ in range(9):
        phases.append(s.step())
        with perfh.scope("step"):
            pass
assert phases == ["wait", "warmup", "active", "active"] * 2 + ["done"] and s.recorded == 4, phases
assert {row.name: row.calls for row in perfh.scopes()}["step"] == 4
with perfh.schedule(wait=0, warmup=0, active=1) as s:
    assert [s.step(), s.step()] == ["active", "active"]
perfh.reset()
s = perfh.schedule()                    # not entered: it switches nothing off
with perfh.scope("before the schedule"):
    pass
assert [s.step() for _ in range(3)] == ["wait", "warmup", "active"]
raises(RuntimeError, s.__enter__, "already open")
s = perfh.schedule()
assert s.step() == "wait"
del s                                   # nor does one that is gone
gc.collect()
with perfh.scope("after the schedule"):
    pass
assert {"before the schedule", "after the schedule"} <= {row.name for row in perfh.scopes()}, perfh.scopes()
outer, inner = [perfh.schedule(wait=1, warmup=0, active=1) for _ in range(2)]
for s in (outer, inner, outer):
    s.step()
outer.__exit__(None, None, None)        # the inner one waits, and decides now
with perfh.scope("in the inner wait"):
    pass
inner.step()
with perfh.scope("in the inner step"):
    pass
inner.__exit__(None, None, None)        # as it was before both
with perfh.scope("after both"):
    pass
assert {"in the inner step", "after both"} <= {row.name for row in perfh.scopes()}, perfh.scopes()
assert "in the inner wait" not in {row.name for row in perfh.scopes()}, perfh.scopes()
for bad in ("wait", "warmup", "repeat", "skip"):
    raises(ValueError, lambda: perfh.schedule(**{bad: -1}), f"{bad}=-1")
raises(ValueError, lambda: perfh.schedule(active=0), "active=0")

h, rng = perfh.Histogram(), random.Random(7)
assert h.count == 0 and math.isnan(h.quantile(.5)) and math.isnan(h.mean) and not h.buckets()
numbers = [rng.randrange(1, 10 ** 6) for _ in range(5000)]
h.add(array.array("d", numbers))
h.add(17)
h.add(17, times=3)
numbers = sorted(numbers + [17] * 4)
assert len(h) == h.count == 5004 and h.quantile(0) == numbers[0] and h.quantile(1) == numbers[-1]
for q in (.01, .5, .95, .999):
    want = numbers[max(1, math.ceil(q * len(numbers))) - 1]
    assert abs(h.quantile(q) / want - 1) < 2 ** -8, (q, h.quantile(q), want)
assert list(h.quantiles([.5, .9])) == [h.quantile(.5), h.quantile(.9)]
assert abs(h.mean * len(numbers) / sum(numbers) - 1) < 2 ** -8 and h.std > 0, (h.mean, sum(numbers) / len(numbers))
assert sum(n for _, _, n in h.buckets()) == 5004 and h.rank(1e9) == 5004 and h.rank(0) == 0
twin = pickle.loads(pickle.dumps(h))
twin += h
assert twin.count == 10008 and twin.quantile(.5) == h.quantile(.5)
twin -= h
assert twin.count == 5004 and twin.to_bytes() != b"" and twin.buckets() == h.buckets()
for bad in (b"", b"x" * 100, h.to_bytes()[:-8]):
    raises(ValueError, lambda: perfh.Histogram.from_bytes(bad), "no histogram")
for bad in (-1, 15, 40):
    raises(ValueError, lambda: perfh.Histogram(bits=bad), f"bits={bad}: not between 1 and 14")
raises(ValueError, lambda: h.quantile(2), "q=2")
twin = pickle.loads(pickle.dumps(h))
twin += twin
assert twin.count == 10008 and [n for _, _, n in twin.buckets()] == [2 * n for _, _, n in h.buckets()]
twin -= twin
assert twin.count == 0 and math.isnan(twin.quantile(.5))
for wrong in (None, 5):
    raises(TypeError, lambda: twin.__iadd__(wrong))
    raises(TypeError, lambda: twin.__isub__(wrong))
h.reset()
assert h.count == 0
for huge in (2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, 10 ** 400, 1e19, math.inf, [2 ** 64 - 1]):
    h.add(huge)
assert h.count == 8 and h.lost == 0 and h.quantile(0) == h.quantile(1) == 2.0 ** 63, (h.count, h.lost)
h.reset()
for none in (-1, -10 ** 400, -.5, math.nan, -math.inf):
    h.add(none)
    h.add(none, times=2)
assert h.count == 0 and h.lost == 15, (h.count, h.lost)
for x in (-.4, .4, .5, 1.49, 2.5):
    one, other = perfh.Histogram(), perfh.Histogram()
    one.add(x, times=3)
    other.add([x] * 3)
    assert one.buckets() == other.buckets() and one.count == 3, (x, one.buckets(), other.buckets())
h.add(1.5, times=10 ** 15)                      # at once
assert h.count + h.lost == 10 ** 15 + 15, (h.count, h.lost)
for name in ("a\0b", "a\0c", b"bytes", b"a\0d"):             # none is cut, and none is shown as Python writes it
    with perfh.scope(name):
        pass
    shown = (name if isinstance(name, str) else name.decode())
    assert perfh.bench(len, "", name=name, max_seconds=.001).name == shown
    assert shown.replace("\0", "\ufffd") in [row.name for row in perfh.scopes()], perfh.scopes()
    assert perfh.ab(len, len, "", name=name, max_seconds=.001).name == perfh.compare([1.0], [1.0], name=name).name == shown
    assert perfh.race({name: len, "other": len}, "", max_seconds=.001).entries[0].name == shown
for wrong in (property, functools.cached_property, classmethod):
    for place in (perfh.scope("x"), perfh.scope, perfh.wait, perfh.span):
        raises(TypeError, lambda: place(wrong(slow)), "put it below @" + wrong.__name__)
raises(ValueError, lambda: perfh.bench(slow, bytes=-5), "bytes=-5: 0 or more")
raises(ValueError, lambda: perfh.bench(slow, items=math.nan), "items=nan: 0 or more")
raises(TypeError, lambda: perfh.compare([1.0], "x"), "numbers are wanted, not str")

# ---- report, version, types --------------------------------------------------------------------

c.method(1)
out = io.StringIO()
perfh.report(out, view="csv")
assert "Class.method" in out.getvalue()
with contextlib.redirect_stderr(io.StringIO()) as err:
    perfh.report()
assert "Class.method" in err.getvalue() and "clock" in err.getvalue()
raises(ValueError, lambda: perfh.report(view="nonsense"))
raises(ValueError, lambda: perfh.trace_save("trace\0.json"), "null byte")

import perfh._python as module  # noqa: E402
folder = pathlib.Path(perfh.__file__).parent
assert (folder / "py.typed").exists()
stub = ast.parse((folder / "__init__.pyi").read_text())
typed = {n.name: n for n in stub.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
named = {n for n in typed if not n.startswith("_")} | {
    n.target.id for n in stub.body if isinstance(n, ast.AnnAssign)}
assert named == set(perfh.__all__), named ^ set(perfh.__all__)
assert all(hasattr(perfh, name) and name in dir(perfh) for name in perfh.__all__)
for name, node in typed.items():
    if isinstance(node, ast.FunctionDef):
        args = node.args
        wanted = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]
        found = [p.name for p in inspect.signature(getattr(perfh, name)).parameters.values()
                 if p.kind is not p.VAR_POSITIONAL]
        assert [w for w in wanted] == found, (name, wanted, found)
for kind in (perfh.Result, perfh.Verdict, perfh.Race):
    fields = {n.target.id for n in typed[kind.__name__].body if isinstance(n, ast.AnnAssign)}
    assert fields == set(kind.__slots__), fields ^ set(kind.__slots__)
for kind in (perfh.Summary, perfh.Interval):
    fields = [n.target.id for n in typed[kind.__name__].body if isinstance(n, ast.AnnAssign)]
    assert fields == [n for n in kind.__annotations__], kind
print("ok")
