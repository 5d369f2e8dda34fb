#!/bin/sh
# packaging/ci as a user would copy it: a repository whose change is slower, faster, or does not build;
# then a program of benchmarks whose change is slower, fails, or writes nothing.
. "$(dirname "$0")/../lib.sh"
need gcc git python3
echo '#include <jansson.h>' | gcc -fsyntax-only -x c - 2>/dev/null || missing 'Jansson is not installed'
start_work
try 'perf-ab' gcc -O1 -I"$root" "$root/tools/perf-ab.c" -ljansson -o "$work/perf-ab"
PERF_AB=$work/perf-ab PERF_BUDGET=60
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

for file in github gitlab; do
    if python3 -c 'import yaml' 2>/dev/null; then
        try "$file.yml is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' \
            "$root/packaging/ci/$file.yml"
    fi
done
finish
