"""The Python package as a user of Python sees it: bench, ab, compare, decorators, reports, types."""
import array
import ast
import asyncio
import contextlib
import html.parser
import inspect
import io
import math
import pathlib
import sys
import threading

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

v = perfh.ab(slow, quick, rule="speedup >= 3", close=0)
assert v and v.accepted and not v.rejected and v.decision == "ACCEPT", v
assert v.name == "quick" and v.rule == "speedup >= 3" and abs(v.threshold - 1 / 3) < 1e-12
assert 3 < v.speedup.low <= v.speedup.estimate <= v.speedup.high, v.speedup
assert abs(v.ratio.low * v.speedup.high - 1) < 1e-9
assert v.pairs >= 7 and v.confidence == 0.95 and v.text.startswith("ACCEPT: speed-up")
assert v.candidate.p50 < v.baseline.p50 and min(v.first_ns) > 0 and "ACCEPT" in repr(v)
assert v.baseline.p50_low <= v.baseline.p50 <= v.baseline.p50_high
v = perfh.ab(quick, slow, 10, rule="no regression beyond 20 %", name="slower")
assert v.rejected and not v and v.name == "slower", v
v = perfh.ab(slow, lambda: quick() + 1, close=1e-9)
assert v.rejected and "differ" in v.reason and any("outputs" in w for w in v.warnings), v
v = perfh.ab(lambda: [1.0, 2.0], lambda: (1.0, 2.0 + 1e-12), close=1e-9, max_seconds=0.05)
assert not any("outputs" in w for w in v.warnings), v
raises(ValueError, lambda: perfh.ab(lambda: 1, lambda: [1, 2], close=1), "returned 1 numbers")
raises(ValueError, lambda: perfh.ab(lambda: [], lambda: [], close=1), "no number")
raises(TypeError, lambda: perfh.ab(lambda: None, lambda: None, close=1))
raises(ValueError, lambda: perfh.ab(slow, quick, rule="nonsense"), "speedup >= 1.3")
raises(ValueError, lambda: perfh.ab(slow, quick, rule=None), "speedup >= 1.3")
raises(TypeError, lambda: perfh.ab(slow))
raises(TypeError, lambda: perfh.ab(slow, 5))


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
assert perfh.ab(slow, quick)
seen = set()
perfh.ab(slow, quick, before=seen.add)
assert seen == {0, 1}, seen

# ---- bench -------------------------------------------------------------------------------------

one, ten = perfh.bench(slow, 20), perfh.bench(slow, 200, name="ten times")
assert one.name == "slow" and ten.name == "ten times" and one.first_ns > 0 and one.iterations > 3
assert 4 < ten.time.p50 / one.time.p50 < 25, (one, ten)
assert one.time.count >= 3 and one.time.min <= one.time.p50 <= one.time.max
assert str(one) == one.text and "median" in one.text and "slow" in repr(one)
assert "GB/s" in perfh.bench(slow, bytes=4096, max_seconds=0.05).text
assert "items/s" in perfh.bench(slow, items=20, max_seconds=0.05).text
raises(TypeError, lambda: perfh.bench(5))
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
assert raises(perfh.Error, lambda: perfh.compare([math.nan], [1.0])).status
raises(TypeError, lambda: perfh.compare(["x"], [1.0]))

# ---- what a notebook and a person see ----------------------------------------------------------


class Balance(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], set()
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
Balance(perfh.compare([1.0], [2.0])._repr_html_())      # unbounded ends: no picture

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

# ---- report, version, types --------------------------------------------------------------------

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
for kind in (perfh.Result, perfh.Verdict):
    fields = {n.target.id for n in typed[kind.__name__].body if isinstance(n, ast.AnnAssign)}
    assert fields == set(kind.__slots__), fields ^ set(kind.__slots__)
for kind in (perfh.Summary, perfh.Interval):
    fields = [n.target.id for n in typed[kind.__name__].body if isinstance(n, ast.AnnAssign)]
    assert fields == [n for n in kind.__annotations__], kind
print("ok")
