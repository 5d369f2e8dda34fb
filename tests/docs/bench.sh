#!/bin/sh
# bench/run: does it build, run, write results that perf-ab reads, and say what failed?  No time is
# asserted: programs that take a second are enough.
. "$(dirname "$0")/../lib.sh"
need gcc python3
start_work
cp -r "$root"/perf*.h "$root/bench" "$root/tools" "$work/"
cd "$work"
try 'two programs' sh -c 'bench/run --quick --repeat 2 --out one.json ranks scope_threads >said'
for line in 'scope_threads: the same in two threads' ' ratio .*again' ' merge .* us .*again' 'wrote .*one.json'; do
    try "it says: $line" grep -q "$line" said
done
try 'results with two runs each' python3 -c '
import json
r = json.load(open("one.json"))
assert r["perf_results"] == 1 and r["machine"]["compiler"] and len(r["programs"]) == 4
names = {(b["name"], b["run"]) for b in r["benchmarks"]}
assert len(names) == 4 and ("ranks: merge", "turn 2") in names, names
assert all(b["samples"][0] > 0 for b in r["benchmarks"])'
try "README's figures are those of the committed run" python3 "$root/bench/run" --check
cp "$root/README.md" .
try 'they are written' sh -c 'bench/run --tables && cmp README.md "$1/README.md"' - "$root"
sed -i 's/^| a lap, `PERF_LAP` | .* |$/| a lap, `PERF_LAP` | 0.1 times |/' README.md
try 'a figure that nobody measured is noticed' sh -c '! bench/run --check >said'
try 'a list' sh -c 'bench/run --list | grep -q "^duel "'
try 'an unknown name' sh -c '! bench/run nonsense 2>said && grep -q "see --list" said'
echo '#error planted' >>bench/ranks.c
status=0
bench/run --out two.json ranks >said 2>&1 || status=$?
try 'what does not build fails it' [ "$status" = 1 ]
try 'and is named' grep -q 'FAILED: ranks does not build' said
if echo '#include <jansson.h>' | gcc -fsyntax-only -x c - 2>/dev/null; then
    status=0
    bench/run --repeat 1 --out two.json --against one.json scope_threads >said 2>&1 || status=$?
    try 'perf-ab is asked, and one run after the other is no evidence' [ "$status" = 2 ]
    try 'its table' grep -q 'scope_threads: ratio .*INCONCLUSIVE' said
fi
finish
