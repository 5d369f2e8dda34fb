#!/bin/sh
# perf-ab look and top at a Python process: scopes of Python code and of a Cython module, to the unit.
#     python.sh PERF-AB
. "$(dirname "$0")/../cython/lib.sh"
tool=$1
[ "$tool" != none ] || missing "perf-ab was not built: it needs Jansson"
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac     # the build gives a path of its own folder
[ "$(uname -s)" = Linux ] || missing "other systems than Linux are not read"
need gcc
need_python Cython mesonpy setuptools wheel
start_work
install_perfh

mkdir "$work/module"
cat >"$work/module/inner.pyx" <<'EOT'
# cython: language_level=3
from perfh.perf cimport *

def run(int times, call):
    cdef perf_scope outer = perf_scope_begin(b"of Cython")
    cdef perf_scope each
    cdef int i
    for i in range(times):
        each = perf_scope_begin(b"each turn")
        perf_scope_end(&each)
    call()
    perf_scope_end(&outer)
EOT
cat >"$work/module/setup.py" <<'EOT'
import perfh
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="inner", version="1", py_modules=[], ext_modules=cythonize([
    Extension("inner", ["inner.pyx"], include_dirs=[perfh.get_include()])]))
EOT
try 'build a module' pip_install "$work/module" "$work/site"

cd "$work"
cat >server.py <<'EOT'
import sys
import threading

import inner
import perfh


@perfh.scope
def handle(n):
    return sum(range(n))


def wait():
    with open("own.csv", "w") as file:
        file.write(perfh.report_text("csv"))
    print("ready", flush=True)
    sys.stdin.readline()


for _ in range(17):
    handle(1000)
thread = threading.Thread(target=lambda: inner.run(5, lambda: None))
thread.start()
thread.join()
with perfh.scope("request"):
    inner.run(29, wait)
EOT
cat >watch.py <<'EOT'
import csv
import json
import subprocess
import sys

tool = sys.argv[1]
server = subprocess.Popen([sys.executable, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
try:
    assert server.stdout.readline() == "ready\n"

    def look(*args):
        done = subprocess.run([tool, *args], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(text):
        return {row["name"]: row for row in csv.DictReader(text.splitlines())}

    own, seen = rows(open("own.csv").read()), rows(look("look", str(server.pid), "--view", "csv"))
    for name, calls in (("handle", 17), ("each turn", 34), ("of Cython", 1)):
        assert int(seen[name]["calls"]) == int(own[name]["calls"]) == calls, (name, seen[name], own[name])
    assert seen["handle"]["p50_ns"] == own["handle"]["p50_ns"], (seen["handle"], own["handle"])
    text = look("look", str(server.pid))
    assert "request > of Cython" in text, text
    now = json.loads(look("top", str(server.pid), "--once", "--json", "--interval", "0.05"))
    assert "of Cython" in json.dumps(now), now
finally:
    server.kill()
    server.wait()
EOT
try 'a Python process, from outside' python3 watch.py "$tool"
finish
