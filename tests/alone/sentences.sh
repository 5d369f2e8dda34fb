#!/bin/sh
# What is written wrong ends the compilation with one sentence that says what to do, and a jump past a
# scope does not compile at all.
#
#     tests/alone/sentences.sh gcc|clang|g++|clang++
. "$(dirname "$0")/../lib.sh"
compiler=${1:?which compiler?}
need "$compiler"
start_work
cd "$work"
ext=c
case $compiler in
*++) ext=cpp ;;
esac

# refused WHAT SENTENCE ERRORS FLAG...: so many errors, one of which says this
refused()
{
    what=$1 sentence=$2 errors=$3
    shift 3
    tried=$((tried + 1))
    if "$compiler" "$@" -I"$root" -c "program.$ext" -o program.o 2>said; then
        fail "$what: compiles with $compiler"
    elif ! grep -q "$sentence" said; then
        cat said
        fail "$what: $compiler does not say \"$sentence\""
    elif [ "$(grep -c 'error:' said)" -gt "$errors" ]; then
        cat said
        fail "$what: more than $errors errors with $compiler"
    fi
}

# program TEXT: of the next test
program()
{
    printf '%s\n' "$1" >"program.$ext"
}

for mark in 'PERF_SCOPE(name)' 'PERF_WAIT(name)' 'PERF_COUNT(name, 1.0)' 'PERF_INSTANT(name)'; do
    program "#include \"perf_scope.h\"
void work(const char *name);
void work(const char *name)
{
    $mark;
}"
    if [ $ext = c ]; then
        refused "$mark" this_name_must_be_a_literal_but_perf_scope_begin_takes_any 1 -std=c99
    else
        refused "$mark" 'perf.h: this name must be a literal' 1 -std=c++11
    fi
done

program '#include "perf_scope.h"
int work(int argument);
int work(int argument)
{
    if (argument)
        goto out;
    PERF_SCOPE("work");
    argument++;
out:
    return argument;
}'
refused 'a goto past a scope' 'jump\|cannot jump' 3
program '#include "perf_scope.h"
int work(int argument);
int work(int argument)
{
    switch (argument) {
    case 1:
        argument++;
        PERF_SCOPE("work");
        break;
    case 2:
        return 3;
    }
    return 4;
}'
refused 'a case label behind a scope' 'jump' 3
program '#include "perf_scope.h"
int work(int argument);
int work(int argument)
{
    switch (argument) {
    case 1: {
        PERF_SCOPE("work");
        if (argument)
            goto out;
        break;
    }
    case 2:
        goto out;
    }
    {
        PERF_SCOPE("more");
        argument++;
    }
out:
    return 4;
}'
vla=
[ $ext != c ] || vla='-std=c99 -Wvla'
# shellcheck disable=SC2086
try 'jumps out of scopes, and braces' "$compiler" $vla -Wall -Wextra -Wpedantic -Werror -I"$root" -c "program.$ext" -o program.o

for header in perf.h perf_scope.h perf_stats.h; do
    program "#include \"$header\""
    if [ $ext = c ]; then
        refused "$header in C90" 'perf.h needs C99' 2 -ansi
        refused "$header in C90" 'perf.h needs C99' 2 -std=c90
    else
        refused "$header in C++98" 'perf.h needs C++11' 2 -std=gnu++98
    fi
done

# lacks SENTENCE: two files that nobody gave an engine have one complaint of the linker, which says what to do
lacks()
{
    { cat "program.$ext"; echo 'int main(void) { twin(0); work(0); return 0; }'; } >"main.$ext"
    sed -i '1a void twin(void *);' "main.$ext"
    sed 's/work/twin/' "program.$ext" >"twin.$ext"
    tried=$((tried + 1))
    if "$compiler" -O2 -I"$root" "main.$ext" "twin.$ext" -o program 2>said; then
        fail "links without $1"
    elif [ "$(grep -c '/ld: ' said)" != 1 ] || ! grep -q "undefined .*$1" said; then
        cat said
        fail "$compiler does not say in one line: $1"
    fi
}

case "$(uname -m)-$(uname -s)" in
x86_64-Linux | aarch64-Linux)
    program '#include "perf_bench.h"
void work(void *x) { perf_bench b = perf_bench_begin("work", PERF_NULL_); while (perf_bench_next(&b)) perf_keep(x); }'
    lacks perf_bench_h_alone__include_perf_h_in_one_file_that_runs_a_bench
    program '#include "perf_gpu_scope.h"
void work(void *x) { PERF_GPU_SCOPE("work", x); PERF_GPU_PART("part", x); }'
    lacks perf_gpu_scope_h_alone__call_perf_gpu_collect_in_one_file_that_includes_perf_cuda_h
    ;;
esac

program '#define PERF_AT_EXIT 1
#include "perf_scope.h"
int main(void)
{
    PERF_SCOPE("whole");
    return 0;
}'
try 'PERF_AT_EXIT above perf_scope.h' "$compiler" -I"$root" "program.$ext" -o program
tried=$((tried + 1))
PERF_REPORT=1 ./program 2>&1 | grep -q whole || fail 'PERF_AT_EXIT above perf_scope.h: no report'
program '#define PERF_AT_EXIT 1
#include "perf_scope.h"
#include "perf.h"
int main(void)
{
    PERF_SCOPE("whole");
    return 0;
}'
try 'and perf.h after it' "$compiler" -I"$root" "program.$ext" -o program
tried=$((tried + 1))
PERF_REPORT=1 ./program 2>&1 | grep -q whole || fail 'PERF_AT_EXIT, perf_scope.h, perf.h: no report'
finish
