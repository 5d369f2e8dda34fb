#!/bin/sh
# A wheel for everybody: does auditwheel give it a manylinux name, does it install and run in a clean
# environment without a compiler, and does its .pyi say what the module is (mypy's stubtest)?
. "$(dirname "$0")/lib.sh"
need gcc
need_python Cython mesonpy
start_work
copy_sources
cd "$work"
build_wheel
rm -rf source

if python3 -c 'import auditwheel' 2>/dev/null && command -v patchelf >/dev/null; then
    try 'auditwheel repair' python3 -m auditwheel repair --wheel-dir many "$wheel"
    wheel=$(echo many/perfh-*.whl)
    echo "${wheel##*/}"
    try 'a manylinux wheel' sh -c 'case $1 in *manylinux*) ;; *) false ;; esac' - "$wheel"
    try 'no library comes along' sh -c '! python3 -m zipfile -l "$1" | grep "\.libs/"' - "$wheel"
else
    echo "no auditwheel or patchelf: the wheel keeps its local name"
fi

try 'a clean environment' python3 -m venv clean
try 'pip install' clean/bin/python -m pip install --quiet --no-deps "$wheel"
cat >use.py <<'EOT'
import asyncio
import os
import shutil
import sys

import perfh

assert not shutil.which("cc") and not shutil.which("gcc")
assert perfh.__file__.startswith(sys.prefix), perfh.__file__
assert os.path.exists(os.path.join(perfh.get_include(), "perf.h"))


@perfh.scope
def work(n):
    return sum(range(n))


@perfh.span
async def request():
    await asyncio.sleep(0)


with perfh.scope("block"):
    work(1000)
asyncio.run(request())
for name in ("work", "block", "request"):
    assert name in perfh.report_text("csv"), name
assert any(perfh.ab(work, lambda n: n * (n - 1) // 2, 10000, rule="speedup >= 2", close=0).accepted
           for _ in range(5))         # one run may be disturbed
assert "table" in perfh.bench(work, 1000, max_seconds=0.05)._repr_html_()
assert not perfh.compare([2.0] * 20, [1.0] * 20).accepted     # nobody vouches for the order
EOT
try 'it runs there, with nothing else on the path' env -i PATH="$work/clean/bin" clean/bin/python -I use.py
try 'perfh-config' sh -c '[ -f "$(clean/bin/perfh-config --includedir)/perf.h" ]'

if python3 -c 'import mypy.stubtest' 2>/dev/null; then
    site=$(clean/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    check_types() { PYTHONPATH=$1 MYPYPATH=$1 python3 -m mypy.stubtest perfh --concise --allowlist allowed; }
    echo 'perfh\._.*' >allowed                 # what is compiled, or no part of the interface
    try 'stubtest' check_types "$site"
    cp -r "$site" planted
    sed -i 's/def reset() -> None/def reset(now: int) -> None/' planted/perfh/__init__.pyi
    check_types planted >planted.txt 2>&1 || true
    try 'stubtest sees a planted argument' grep -q 'perfh.reset' planted.txt
    echo 'import perfh; perfh.torch.data([1]); perfh.torch.nothing' >uses.py
    MYPYPATH=$site python3 -m mypy uses.py >uses.txt 2>&1 || true
    try 'type checkers see perfh.torch' sh -c 'grep -q "no attribute .nothing" uses.txt && ! grep -q "attribute .torch" uses.txt'
else
    echo "no mypy: the types were not checked by it"
fi
finish
