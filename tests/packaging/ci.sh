#!/bin/sh
# packaging/ci as a user would copy it: a repository whose change is slower, faster, or does not build.
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
    ./compare.sh HEAD~1 'cc -O1 bench.c -o bench' ./bench "$3" >../said 2>&1 || status=$?
    [ "$status" = "$1" ] || { fail "status $status, not $1"; cat ../said; }
    try "perf.md says $2" grep -q "$2" perf.md
    try 'perf.html is a page' grep -q '<!DOCTYPE html>' perf.html
    try 'no work tree is left behind' [ "$(git worktree list | wc -l)" -eq 1 ]
}
printf 'bench\nperf.md\nperf.html\n' >.gitignore
commit 20000000
commit 60000000
compare 1 REJECT 'no regression beyond 20 %'
commit 10000000
compare 0 ACCEPT 'speedup >= 2'
echo 'nonsense' >bench.c
status=0
./compare.sh HEAD 'cc -O1 bench.c -o bench' ./bench >../said 2>&1 || status=$?
try 'a change that does not build: 3' [ "$status" = 3 ]
try 'and it says so' grep -q 'the change does not build' ../said
for file in github gitlab; do
    if python3 -c 'import yaml' 2>/dev/null; then
        try "$file.yml is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' \
            "$root/packaging/ci/$file.yml"
    fi
done
finish
