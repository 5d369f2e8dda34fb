#!/bin/sh
# packaging/ci as a user would copy it: a repository whose change is slower, faster, or does not build;
# then a program of benchmarks whose change is slower, fails, or writes nothing.
. "$(dirname "$0")/../lib.sh"
need gcc git python3
[ "${1:?usage: ci.sh PERF_AB}" != none ] || missing 'Jansson is not installed'
start_work
PERF_AB=$(realpath "$1") PERF_BUDGET=60
export PERF_AB PERF_BUDGET

mkdir "$work/user"
cd "$work/user"
git init -q .
cp "$root/packaging/ci/compare.sh" .
commit()                                  # commit LOOPS
{
    printf 'int main(void) { for (volatile long i = 0; i < %s; i++) {} return 0; }\n' "$1" >bench.c
    git add -A
    git -c user.name=x -c user.email=x@example.org commit -q -m "$1"
}
compare()                                 # compare STATUS WORD RULE
{
    status=0
    ./compare.sh HEAD~1 "$build" "$run" "$3" >../said 2>&1 || status=$?
    [ "$status" = "$1" ] || { fail "status $status, not $1"; cat ../said; }
    try "perf.md says $2" grep -q "$2" perf.md
    try 'perf.html is a page' grep -q '<!DOCTYPE html>' perf.html
    try 'no work tree is left behind' [ "$(git worktree list | wc -l)" -eq 1 ]
}
printf 'bench\nperf.md\nperf.html\n' >.gitignore
build='gcc -O1 bench.c -o bench' run=./bench
commit 20000000
commit 60000000
compare 1 REJECT 'no regression beyond 20 %'
commit 10000000
compare 0 ACCEPT 'speedup >= 2'
echo 'nonsense' >bench.c
status=0
./compare.sh HEAD "$build" "$run" >../said 2>&1 || status=$?
try 'a change that does not build: 3' [ "$status" = 3 ]
try 'and it says so' grep -q 'the change does not build' ../said

# A program of benchmarks takes no longer when what it measures does.
harness()                                 # harness STEPS
{
    cat >bench.c <<END
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(steps)
{
    while (perf_bench_next(&b))
        for (int i = 0; i < $1; i++)
            perf_clobber();
}
END
    git -c user.name=x -c user.email=x@example.org commit -q -a -m "$1 steps"
}
build="gcc -O2 -I$root bench.c -o bench" run='./bench --budget 0.1 --json {out}'
harness 3000
harness 60000
compare 1 REJECT 'no regression beyond 20 %'
try 'the benchmark is named' grep -q 'steps' perf.md
try 'and the two files, without folders' grep -q 'before: base.json, after: change.json' perf.md
status=0
./compare.sh HEAD~1 "$build" './bench --budget 0.1 # {out}' >../said 2>&1 || status=$?
try 'a program that writes no results: 3' [ "$status" = 3 ]
try 'and it is said' grep -q 'wrote no results to {out}' ../said
status=0
./compare.sh HEAD~1 "$build" './bench --no-such-option {out}' >../said 2>&1 || status=$?
try 'a program that fails: 3' [ "$status" = 3 ]
status=0
PERF_AB=no-such-tool ./compare.sh HEAD~1 "$build" "$run" >../said 2>&1 || status=$?
try 'no perf-ab: 3, before anything is built' [ "$status" = 3 ]
try 'and it is said' grep -q 'PERF_AB names it' ../said

# The history: the first runs decide nothing, a slower program is confirmed and kept out of what is normal.
cat >again.c <<'C'
#include <stdint.h>
#include <stdlib.h>
uint64_t planted_clock(void);
#define PERF_CLOCK_FN planted_clock     /* its own, so that no busy machine decides */
#define PERF_MAIN 1
#include "perf.h"
#include <unistd.h>
static uint64_t at = 1;
uint64_t planted_clock(void) { return at += 2; }
PERF_BENCH(work)
{
    const uint64_t ns = (getenv("SLOW") ? 600000 : 6000) + ((uint32_t)getpid() * 2654435761u >> 29);
    while (perf_bench_next(&b))
        at += ns;
}
C
try 'again.c' gcc -O2 -I"$root" again.c -o again
cp "$root/packaging/ci/nightly.sh" .
nightly()                                 # nightly STATUS WORDS
{
    status=0
    ./nightly.sh base.json ./again --budget 0.05 --accept 'no regression beyond 300 %' >../said 2>&1 || status=$?
    [ "$status" = "$1" ] || { fail "nightly.sh: status $status, not $1"; cat ../said; }
    try "it says $2" grep -q "$2" ../said
}
tame()                                    # what is saved is a day older
{
    try 'a day between two runs' python3 "$root/tests/planted.py" base.json
}
PERF_ADD=no nightly 3 'no such history yet'
for i in 1 2 3 4 5 6; do nightly 3 'not decided'; done
tame
nightly 0 'no slower'
tame
SLOW=1 nightly 1 'confirmed'
SLOW=1 PERF_ADD=no nightly 1 'since run 8'
try 'the comment has the verdict' grep -q '^REJECT: 1 entry' perf-history.md
try 'and the table' grep -q '^| work |' perf-history.md
try 'and there is a page' grep -q '<!DOCTYPE html>' perf-history.html
tame
nightly 0 'kept out of the baseline: work, 1 run'
"$PERF_AB" history base.json --json history.json >/dev/null
try 'nine runs, one of them REJECTed' python3 -c 'import json
runs = json.load(open("history.json"))["benchmarks"][0]["runs"]
assert [r.get("level") for r in runs] == [None] * 7 + ["rejected", None], runs'
status=0
./nightly.sh base.json ./no-such-program >../said 2>&1 || status=$?
try 'no program: 2' [ "$status" = 2 ]

for file in github gitlab nightly-github nightly-gitlab; do
    if python3 -c 'import yaml' 2>/dev/null; then
        try "$file.yml is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' \
            "$root/packaging/ci/$file.yml"
    fi
done
finish
