#!/bin/sh
# perfh as a user of Python sees it: python.py, and examples/python as their first comments say.
# usage: python.sh [PERF_AB]
perf_ab=$([ "${1:-none}" = none ] || realpath "$1")
. "$(dirname "$0")/lib.sh"
need gcc
need_python Cython mesonpy
start_work
install_perfh
cd "$work"
try 'bench, ab, compare, decorators, types' python3 "$root/tests/cython/python.py"
try 'counts, or why there are none' python3 "$root/tests/cython/counts.py"
try 'a processor with counters' gcc -shared -fPIC -O1 "$root/tests/counters/shim.c" -o shim.so -ldl
try 'counts on it' env LD_PRELOAD="$work/shim.so" SHIM=1 python3 "$root/tests/cython/counts.py"
try 'workers come back' python3 "$root/tests/cython/workers.py"
try 'a trace of torch.profiler' python3 "$root/tests/cython/trace.py" ${perf_ab:+"$perf_ab"}
try 'perfh.torch' python3 "$root/tests/cython/torch_steps.py" ${perf_ab:+"$perf_ab"}
python3 -c 'import torch' 2>/dev/null || echo 'skipped in perfh.torch, torch_step.py, ddp_ranks.py and cpp_extension.py: no torch'
mkdir cuda
try 'a simulated driver' gcc -O1 -fPIC -shared -fvisibility=hidden "-I$root" "$root/tests/gpu/fake_libcuda.c" -o cuda/libcuda.so.1
try 'device scopes on it' env LD_LIBRARY_PATH="$work/cuda" python3 "$root/tests/cython/gpu.py" driver
try 'device_bound.py' sh -c 'LD_LIBRARY_PATH=cuda python3 "$1/tests/cython/torch_on_sim.py" \
    "$1/examples/python/device_bound.py" >device_bound.txt' - "$root"
for line in '(launches|no processor|cannot tell|device); .*launches [0-9]+ %' 'copies; .*copies ([5-9].|100) %' 'syncs; .*syncs ([5-9].|100) %' \
            'device; .*device ([5-9].|100) %'; do
    try "its steps: $line" grep -Eq "^bound by: ($line)" device_bound.txt      # others may take the processor
done
try 'their cures' [ "$(grep -Ec '^(ACCEPT|INCONCLUSIVE): ' device_bound.txt)" = 4 ]
mkdir no_cuda                            # a file that is no library: a machine without a driver
touch no_cuda/libcuda.so.1
try 'and without a driver' env LD_LIBRARY_PATH="$work/no_cuda" python3 "$root/tests/cython/gpu.py" none
try 'functions that nobody marked' python3 "$root/tests/cython/auto.py"

# Cython's own hooks: functions, with CYTHON_TRACE lines, too.  Under Python 3.12 they tell nobody.
cat >cymod.pyx <<'EOT'
# cython: language_level=3, profile=True, linetrace=True
cdef long inner(long n):
    return n * 2


def solve(n):
    a = inner(n)
    return a + inner(a)
EOT
cat >use.py <<'EOT'
import sys
import cymod
import perfh

with perfh.auto("cymod", lines="cymod.solve"):
    for i in range(5):
        cymod.solve(i)
calls = {row.name: row.calls for row in perfh.scopes()}
want = {"cymod.inner": 10, "cymod.solve": 5, "cymod:7 a = inner(n)": 5, "cymod:8 return a + inner(a)": 5}
assert calls == want or not calls and sys.version_info[:2] == (3, 12), calls
EOT
build_cymod()
{
    python3 -m cython -3 cymod.pyx && gcc -O1 -shared -fPIC -DCYTHON_TRACE=1 \
        "-I$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" cymod.c \
        -o "cymod$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
}
try 'a module of Cython with linetrace' build_cymod
try 'its functions and lines' env PYTHONPATH="$PYTHONPATH:." python3 use.py
try 'the version' [ "$(python3 -c 'import perfh; print(perfh.__version__)')" = \
    "$(sh "$root/tests/version.sh")" ]

# pip shows what a build says with -v alone; without a compiler the headers install, with a hint.
try 'no compiler: it installs' sh -c 'CC=/nowhere/cc python3 -m pip install -v --no-build-isolation \
    --no-deps --target "$1/plain" "$1/source/cython" >"$1/plain.txt" 2>&1' - "$work"
try 'with a hint' grep -q 'need a C compiler' "$work/plain.txt"
try 'and names what is missing when asked' sh -c 'PYTHONPATH=$1/plain python3 -c "import perfh; perfh.ab" 2>&1 |
    grep -q "ImportError: perfh.ab needs the compiled part"' - "$work"

try "the tutorial's part in Python and Cython" \
    sh -c 'python3 "$1/tests/docs/docs.py" outputs tutorial.md python3 >tutorial.txt 2>&1 &&
        ! grep skipped tutorial.txt || { cat tutorial.txt; false; }' - "$root"
for example in data_bound memory_phases two_steps; do
    try "$example.py" sh -c 'python3 "$1/examples/python/$2.py" >"$2.txt"' - "$root" "$example"
done
try 'it waits for data' sh -c 'grep "^bound by" data_bound.txt | head -1 | grep -q "waiting for data; "'
try 'where it does' sh -c 'grep "^where" data_bound.txt | head -1 | grep -q "step > data: "'
try 'its verdict' grep -Eq '^(ACCEPT|INCONCLUSIVE): speed-up' data_bound.txt
try 'the activations take most' grep -qx 'largest: activations' memory_phases.txt
try 'the same step is not rejected' sh -c 'head -1 two_steps.txt | grep -Eq "^(ACCEPT|INCONCLUSIVE): "'
try 'another one is' grep -q '^REJECT: .* the outputs differ' two_steps.txt
try 'and the model is as it was' grep -qx 'w is 0.199, as before' two_steps.txt
if python3 -c 'import numpy' 2>/dev/null; then
    try 'numpy_ab.py' sh -c 'python3 "$1/examples/python/numpy_ab.py" >numpy.txt' - "$root"
    try 'its verdict' grep -Eq '^(ACCEPT|INCONCLUSIVE): speed-up' numpy.txt   # a busy machine may run out of time
    lines=$(grep -Evc '^$|^"""|^    pip|^You will|^#' "$root/examples/python/numpy_ab.py")
    try "in ten lines: $lines" [ "$lines" -le 10 ]
fi
if python3 -c 'import pytest' 2>/dev/null; then
    try 'the plugin for pytest' python3 "$root/tests/cython/plugin.py"
    try 'without the compiled part it says so' sh -c 'PYTHONPATH=$1/plain python3 -m pytest -q -p no:cacheprovider \
        --perfh-save x.json >plain-pytest.txt 2>&1; grep -q "ERROR: perfh: perfh.status needs the compiled part" plain-pytest.txt' - "$work"
    cp "$root"/examples/python/test_speed.py "$work/"
    try 'the example for pytest' python3 -m pytest -q -p no:cacheprovider test_speed.py
    cat >test_planted.py <<'EOT'
from test_speed import WORDS, by_adding, by_joining


def test_slower(perf_ab):
    perf_ab(by_joining, by_adding, WORDS, rule="no regression beyond 5 %", max_seconds=60)


def test_undecided(perf_ab):
    perf_ab(by_joining, by_joining, WORDS, rule="speedup >= 1.3", max_seconds=1e-9)
EOT
    python3 -m pytest -q -p no:cacheprovider test_planted.py >planted.txt 2>&1 || true
    try 'a slower candidate fails its test, with the verdict' grep -q 'REJECT: ' planted.txt
    try 'no evidence skips it' grep -q '1 failed, 1 skipped' planted.txt
fi
finish
