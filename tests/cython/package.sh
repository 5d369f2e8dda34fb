#!/bin/sh
# The package in front/ as its authors wrote it, then instrumented; built as its users would.
#
#     tests/cython/package.sh [setuptools] [scikit-build-core] [meson-python]
. "$(dirname "$0")/lib.sh"
need gcc g++ patch cmake meson ninja
need_python Cython mesonpy setuptools wheel scikit_build_core
start_work
install_perfh

cd "$work"
cat >use.py <<'EOT'
import random
import sys
import array
import front
import perfh

random.seed(7)
points = [[random.random(), random.random(), random.random()] for _ in range(500)]
flat = memoryview(array.array("d", [x for p in points for x in p])).cast("B").cast("d", (500, 3))
with perfh.scope("python"):
    best = front.Problem(flat).solve()
brute = sorted(tuple(p) for p in points if not any(
    all(a <= b for a, b in zip(q, p)) and q != p for q in points))
assert sorted(best) == brute, "the instrumented solver is wrong"
perfh.report()
rows = {line.split(",")[0].strip('"'): line.split(",") for line in
        perfh.report_text("csv").splitlines()[1:]}
for name in ("python", "solve", "sort", "sweep"):
    assert rows[name][2] == "1", (name, rows)
inside = float(rows["sort"][3]) + float(rows["sweep"][3])
assert 0 < inside <= float(rows["solve"][3]) <= float(rows["python"][3]), rows
EOT

added=$(grep -c '^+[^+]' "$root/tests/cython/front/perf.patch")
try "under 10 lines instrument it: $added" [ "$added" -lt 10 ]

[ $# -gt 0 ] || set -- setuptools scikit-build-core meson-python
for builder in "$@"; do
    mkdir "$builder" "$builder/site"
    cp -r "$root/tests/cython/front/$builder"/* "$root/tests/cython/front/src" "$builder/"
    try 'the patch applies' patch -p1 -d "$builder/src" -i "$root/tests/cython/front/perf.patch"
    try "$builder: pip install" pip_install "./$builder" "$work/$builder/site"
    try "$builder: it runs, and the report has its phases" \
        env PYTHONPATH="$work/$builder/site:$PYTHONPATH" python3 use.py
done
[ "$failed" -gt 0 ] || cat "$work/output"
finish
