#!/bin/sh
# Rules on counts, held against a baseline by a program of benchmarks: alone and joined with time.
. "$(dirname "$0")/../lib.sh"
need gcc python3
start_work
cd "$work"
export PERF_MACHINE=test

cat >two.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(counted)
{
    const char *n = getenv("N"), *missed = getenv("MISSED");
    if (n && getenv("EARLY"))
        perf_bench_counter(&b, "instructions", atof(n));
    while (perf_bench_next(&b))
        perf_clobber();
    if (n && !getenv("EARLY"))
        perf_bench_counter(&b, "instructions", atof(n));
    if (missed)
        perf_bench_counter(&b, "branch misses", atof(missed));
}
PERF_BENCH(timed)
{
    while (perf_bench_next(&b))
        perf_clobber();
}
C
try 'a program' gcc -O2 -I "$root" two.c -o two -lm

# asks STATUS WORD RULE...: that exit status, and a line of the output that matches WORD
asks()
{
    wanted=$1
    word=$2
    shift 2
    tried=$((tried + 1))
    status=0
    ./two --no-env --budget 0.01 --compare base.json "$@" >said 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: status $status, not $wanted: $(cat said)"
    grep -q -e "$word" said || fail "$*: no '$word' in: $(cat said)"
}

for n in 1 2 3 4 5 6 7; do
    N=100$n MISSED=0 ./two --no-env --budget 0.01 --add base.json >/dev/null
done
try 'planted times, slower than any now' python3 "$root/tests/planted.py" base.json counted=100 timed=100
less='instructions down >= 5 %'
same='instructions no more than 2 % worse'
export N=1003
asks 0 'counted .* 1004 .* 1003 .*ACCEPT$' --accept "$same"
asks 0 'timed .*INCONCLUSIVE: this run did not count it' --accept "$same"
asks 0 'counted .*INCONCLUSIVE: this run did not count it' --accept 'cycles no more than 2 % worse'
asks 3 'not decided' --strict --accept 'cycles no more than 2 % worse'
N=900 asks 0 'counted .* 900.00 .*ACCEPT$' --accept "$less"
N=1100 asks 1 'counted .*REJECT$' --accept "$same"
N=1100 asks 1 'counted .*REJECT$' --accept 'no regression beyond 900 %' --accept "$same"
N=1100 asks 1 'counted .*REJECT$' --accept "$same" --accept 'no regression beyond 900 %'
asks 0 'counted .* 1003 .*ACCEPT$' --accept 'no regression beyond 900 %' --accept "$same"
N=1031.4 asks 1 'counted .*REJECT' --accept "$same"               # between 2.5 and 5 %: one rule may, two may not
N=1031.4 asks 0 'counted .*INCONCLUSIVE (alone REJECT)' --accept "$same" --accept 'no regression beyond 900 %'
MISSED=0.5 asks 1 'counted .* 0.01 .* 0.50 .*REJECT$' --accept 'branch-misses no more than 2 % worse'
MISSED=0 asks 0 'counted .*ACCEPT$' --accept 'branch-misses no more than 2 % worse'
asks 2 'two rules at most' --accept "$same" --accept "$less" --accept 'p50 down >= 2 %'
asks 2 'measure time and counts, not .memory' --accept 'memory down >= 10 %'

# --counters, on a processor that has them (shim.c) and on this one.  A rule on counts asks for them.
# A number that the body gives under such a name stays.
unset N
try 'a processor with counters' gcc -shared -fPIC -O1 "$root/tests/counters/shim.c" -o shim.so -ldl
with_counters()
{
    LD_PRELOAD=$work/shim.so asks "$@"
}
with_counters 0 '^    instructions 0\.[0-9]*, cycles 0\.[0-9]*, branches .*, branch misses .*, IPC 2$' --counters --filter timed
with_counters 0 'timed .*INCONCLUSIVE: the saved runs did not count it' --accept "$same" --filter timed
N=7 with_counters 0 '^    instructions 7, cycles 0\.[0-9]*, branches' --counters --filter counted
N=7 EARLY=1 with_counters 0 '^    instructions 7, cycles 0\.[0-9]*, branches' --counters --filter counted
with_counters 0 '"cycles":0\.' --counters --filter timed --output -
with_counters 0 '"IPC": *2\b' --counters --filter timed --output - --format google
asks 0 '^timed .* ns' --counters --filter timed
tried=$((tried + 1))
grep -q '^counters: no .*: \|branch misses [0-9]' said || fail "neither counted nor said why: $(cat said)"
export N=1003

# What one of two rules REJECTs is marked by --add, and does not become what is normal.
N=1100 asks 1 'REJECT$' --accept "$same" --accept 'no regression beyond 900 %' --add base.json
tried=$((tried + 1))
grep -q '"level":"rejected"' base.json || fail "a REJECT by the first rule has no mark"

# No baseline with counts, and damaged ones.
./two --no-env --budget 0.01 --save base.json >/dev/null
MISSED=1 asks 0 'counted .*INCONCLUSIVE: the saved runs did not count it' --accept 'branch-misses no more than 2 % worse'
N=nan ./two --no-env --budget 0.01 --save base.json >/dev/null
asks 0 'counted .*INCONCLUSIVE: the saved runs did not count it' --accept "$same"
printf '{"perf_results": 1, "benchmarks": [{"name": "counted", "samples": [1], "counters": [3]}]}' >base.json
asks 2 'byte' --accept "$same"
asks 2 'byte' --accept "$same" --accept "$less"
finish
