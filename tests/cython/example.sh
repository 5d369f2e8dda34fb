#!/bin/sh
# examples/cython as its first comment says, and the defects that its verdicts must see.
. "$(dirname "$0")/lib.sh"
need gcc
need_python Cython mesonpy setuptools numpy
start_work
install_perfh

cp -r "$root/examples/cython" "$work/example"
cd "$work/example"
try 'build_ext' python3 setup.py build_ext --inplace
for once in 1 2 3; do                   # by the wall's clock: one run may be disturbed
    python3 -c 'import sums; sums.main()' >"$work/out" 2>&1 || fail "main() failed, run $once"
    ! grep -q '^memoryview against naive: ACCEPT: speed-up' "$work/out" || break
done
cat "$work/out"
for line in '^memoryview against naive: ACCEPT: speed-up' \
            '^numpy against memoryview: (ACCEPT|REJECT|INCONCLUSIVE): ' \
            '^main +1 ' '^naive +1 ' '^numpy +1 ' '^memoryview +[0-9]+ ' \
            '^  memoryview, candidate' '^  numpy, baseline'; do
    try "its output: $line" grep -Eq "$line" "$work/out"
done
try 'a slower, a wrong and a raising candidate' python3 -c '
import numpy as np
import sums
x = np.ones(2000)
def comes(wanted, *question):
    return any(sums.ask(*question, x)[0] == wanted for _ in range(5))   # one may be disturbed
assert comes("REJECT", "slower", sums.memoryview, sums.naive, 1.3)
wrong = sums.ask("wrong", sums.naive, lambda x: 2 * sums.memoryview(x), 1.3, x)
assert wrong[0] == "REJECT", wrong
calls = []
def raises(x):
    calls.append(1)
    if len(calls) > 50:
        raise ValueError("as planned")
    return sums.memoryview(x)
try:
    sums.ask("raises", sums.memoryview, raises, 1.3, x)
except ValueError:
    pass
else:
    raise SystemExit("the exception was swallowed")
assert comes("ACCEPT", "after it", sums.naive, sums.memoryview, 10)'

# stream.pyx: with PyTorch or CuPy where a machine has them, always on a simulated device.
python3 -c 'import stream; stream.main()' >"$work/stream" 2>&1 || { fail 'stream.main() failed'; cat "$work/stream"; }
try 'it says what it did' grep -Eq '^(skipped: needs PyTorch or CuPy, and a GPU|[0-9]+ products, )' "$work/stream"
if ! grep -q '^skipped' "$work/stream"; then
    cat "$work/stream"
    try 'matmul is in the report' grep -Eq '^matmul +20 ' "$work/stream"
fi
mkdir "$work/fake"
try 'a simulated driver' gcc -O1 -shared -fPIC -I"$root" "$root/tests/gpu/fake_libcuda.c" \
    -o "$work/fake/libcuda.so.1"
cat >"$work/example/on_fake.py" <<'EOT'
import ctypes
import sys

import perfh
import stream

assert "torch" not in sys.modules and "cupy" not in sys.modules
cuda = ctypes.CDLL("libcuda.so.1")
cuda.fake_start()
assert cuda.cuInit(0) == 0
cuda.fake_stream.restype = ctypes.c_void_p
one, two = cuda.fake_stream(0), cuda.fake_stream(0)
assert stream.status() == (0, "ok"), stream.status()


def work(at, ns):
    assert cuda.fake_work(ctypes.c_void_p(at), ctypes.c_ulong(ns)) == 0


for _ in range(20):
    with stream.gpu_scope("short", one):
        work(one, 10000)
    with stream.gpu_scope("long", two):
        work(two, 100000)
try:
    with stream.gpu_scope("raises", one):
        work(one, 10000)
        raise KeyError("as planned")
except KeyError:
    pass
for name, count, us in (("short", 20, 10), ("long", 20, 100), ("raises", 1, 10)):
    scopes, ns = stream.device_ns(name)
    assert scopes == count and us * count <= ns / 1e3 <= (us + 4) * count, (name, scopes, ns)

step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t)(
    lambda at: cuda.fake_work(ctypes.c_void_p(at), ctypes.c_ulong(50000)))
assert stream.launch_many(ctypes.cast(step, ctypes.c_void_p).value, two, 5) == 0
scopes, ns = stream.device_ns("launch")
assert scopes == 5 and 250 <= ns / 1e3 <= 270, (scopes, ns)
rows = perfh.report_text("csv")
for row in '"short",device,20,', '"long",device,20,', '"launch",device,5,':
    assert row in rows, (row, rows)
cuda.fake_down()
with stream.gpu_scope("after the driver", one):
    pass
assert stream.device_ns("after the driver")[0] == 0
EOT
try 'device times on a simulated device' env LD_LIBRARY_PATH="$work/fake" python3 on_fake.py
finish
