#!/bin/sh
# Two extension modules (one C, one C++) and Python code in one process: one report, one trace; a
# module that only marks counts from `import perfh` on.  And what else the package promises.
. "$(dirname "$0")/lib.sh"
need gcc g++
need_python Cython mesonpy setuptools wheel
start_work
install_perfh

mkdir "$work/two"
cat >"$work/two/first.pyx" <<'EOT'
# cython: language_level=3
from perfh.perf cimport *

def run(call):
    cdef perf_scope s = perf_scope_begin(b"shared")
    cdef perf_scope own = perf_scope_begin(b"only first")
    try:
        call()
    finally:
        perf_scope_end(&own)
        perf_scope_end(&s)

def save(path):
    return perf_trace_save(path.encode())
EOT
sed 's/only first/only second/' "$work/two/first.pyx" >"$work/two/second.pyx"
sed '/^def save/,$d; s/shared/marked/' "$work/two/first.pyx" >"$work/two/marks.pyx"
cat >"$work/two/setup.py" <<'EOT'
import perfh
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="two", version="1", py_modules=[], ext_modules=cythonize([
    Extension("first", ["first.pyx"], include_dirs=[perfh.get_include()]),
    Extension("marks", ["marks.pyx"], include_dirs=[perfh.get_include()]),
    Extension("second", ["second.pyx"], include_dirs=[perfh.get_include()], language="c++")]))
EOT
try 'build two modules' pip_install "$work/two" "$work/site"

cd "$work"
cat >use.py <<'EOT'
import asyncio
import json
import threading
import perfh
import first
import second

assert first.__file__.endswith(".so") and first.__file__ != second.__file__
with perfh.scope("outer"):
    first.run(lambda: second.run(lambda: None))
thread = threading.Thread(target=lambda: second.run(lambda: None))
thread.start()
thread.join()

@perfh.scope("recursive")
def down(n):
    "doc"
    return n and down(n - 1)

assert down(4) == 0 and down.__name__ == "down" and down.__doc__ == "doc"
try:
    with perfh.scope("raises"):
        raise KeyError(1)
except KeyError:
    pass

async def later():
    pass

try:
    perfh.scope("later")(later)
    raise AssertionError("a coroutine was decorated: only its making would be timed")
except TypeError:
    pass

async def request(name):
    with perfh.span(name):
        await asyncio.sleep(0)

async def both():
    await asyncio.gather(request("request"), request("request"))

asyncio.run(both())
with perfh.scope("data", wait=True):
    pass
perfh.count("queue", 3)
perfh.instant("now")
perfh.thread_name("main")

rows = {}
for line in perfh.report_text("csv").splitlines()[1:]:
    cells = line.split(",")
    rows[cells[0].strip('"')] = (cells[1], int(cells[2]))
expected = {"shared": ("scope", 3), "only first": ("scope", 1), "only second": ("scope", 2),
            "outer": ("scope", 1), "recursive": ("scope", 5), "raises": ("scope", 1),
            "request": ("async", 2), "data": ("wait", 1), "queue": ("counter", 1)}
for name, row in expected.items():
    assert rows.get(name) == row, (name, rows)
assert perfh.status() == 0 and perfh.status_text(0) == "ok"
json.loads(perfh.report_text("json"))
assert "outer" in perfh.report_text("tree", "name", -1)

assert first.save("first.json") == 0
assert second.save("second.json") == 0
perfh.trace_save("python.json")
traces = [json.load(open(f"{name}.json"))["traceEvents"] for name in ("first", "second", "python")]
for trace in traces:
    names = {e["name"] for e in trace}
    assert {"outer", "only first", "only second", "raises", "now"} <= names, names
    assert len({e["pid"] for e in trace}) == 1
    assert len({e.get("tid") for e in trace if e["name"] == "only second"}) == 2
    assert any(e.get("args", {}).get("name") == "main" for e in trace)
what = [[(e["name"], e["ph"], e["pid"], e.get("tid")) for e in trace] for trace in traces]
assert what[0] == what[1] == what[2], "the modules write different traces"

scope = perfh.scope("once")
with scope:
    try:
        with scope:
            raise SystemExit("an open scope was opened again")
    except RuntimeError:
        pass
for call in (lambda: perfh.trace_save("/nowhere/x.json"), lambda: perfh.report_text("nonsense"),
             lambda: perfh.report_text(sort="nonsense"), lambda: perfh.nonsense):
    try:
        call()
    except (perfh.Error, ValueError, AttributeError):
        continue
    raise SystemExit("bad input was taken")
try:
    perfh.trace_save("/nowhere/x.json")
except perfh.Error as error:
    assert error.status and str(error) == "/nowhere/x.json: there is no such folder", error
perfh.enable(False)
with perfh.scope("switched off"):
    pass
perfh.enable()
perfh.reset()
assert "once" not in perfh.report_text() and "switched off" not in perfh.report_text()
EOT
try 'one registry' python3 use.py

try 'perfh-config: the folder of perf.h' sh -c 'test -f "$(python3 -m perfh --includedir)/perf.h"'
try 'perfh.pc: a C program' sh -c '
    echo "#include <perf.h>
int main(void) { return perf_status_text(PERF_OK)[0] != 111; }" >pc.c
    gcc $(PKG_CONFIG_PATH=site/perfh/pkgconfig pkg-config --cflags perfh) pc.c -o pc && ./pc'
try 'perfh.pc: cythondir' sh -c '
    test -f "$(PKG_CONFIG_PATH=site/perfh/pkgconfig pkg-config --variable=cythondir perfh)/perfh/perf.pxd"'
try 'the version is PERF_VERSION' [ "$(python3 -c 'import perfh; print(perfh.__version__)')" = \
    "$(sh "$root/tests/version.sh")" ]
try 'the distribution has that version too' [ "$(python3 -c '
import importlib.metadata; print(importlib.metadata.version("perfh"))')" = \
    "$(sh "$root/tests/version.sh")" ]

try 'a module that only marks: counted before any function of perfh is called' python3 -c '
import marks, perfh
marks.run(lambda: marks.run(lambda: None))
rows = [line for line in perfh.report_text("csv").splitlines() if "marked" in line]
assert rows and rows[0].startswith("\"marked\",scope,2,"), rows'

# Without the compiled module the headers still install, and the error says what to do.
rm -f "$work"/site/perfh/_python*.so
try 'without the module: a clear error' python3 -c '
import perfh
perfh.get_include()
try:
    perfh.scope
except ImportError as error:
    assert "compiler" in str(error), error
else:
    raise SystemExit("no error")'
finish
