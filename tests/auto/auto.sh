#!/bin/sh
# Does perf_auto.h see each call of a program built with -finstrument-functions, under its caller and
# its name, and only what its filters let through?
#
#     tests/auto/auto.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
compiler=${1:?which compiler?}
cxx=g++
[ "$compiler" != clang ] || cxx=clang++
need "$compiler" $cxx strip
start_work
cd "$work"
here=$root/tests/auto

# paths FILE: each row of a report's tree as "calls path", sorted
paths()
{
    awk '/ scope$/ && /of parent/ { at = index($0, "scope"); next }
        !at || !/^ *[0-9.]+ %/ { next }
        {
            name = substr($0, at)
            calls = substr($0, 1, at - 1)
            sub(/ +$/, "", calls)
            sub(/.* /, "", calls)
            depth = match(name, /[^ ]/) - 1
            path[depth / 2] = substr(name, depth + 1)
            text = path[0]
            for (i = 1; i <= depth / 2; i++)
                text = text "/" path[i]
            print calls, text
        }' "$1" | LC_ALL=C sort
}

# report FILTER COMMAND...: its tree in $work/tree, all that it said in $work/said
report()
{
    PERF_AUTO=$1
    shift
    export PERF_AUTO
    PERF_REPORT=tree "$@" >said 2>&1 || fail "$*: status $?"
    unset PERF_AUTO
    paths said >tree
}

# same WHAT: is the tree as on standard input?
same()
{
    tried=$((tried + 1))
    cat >wanted
    cmp -s wanted tree || {
        fail "$1, $compiler: the tree differs"
        diff wanted tree || true
        cat said
    }
}

says()
{
    tried=$((tried + 1))
    grep -q -- "$1" said || fail "$compiler: not said: $1: $(cat said)"
}

says_not()
{
    tried=$((tried + 1))
    ! grep -q -- "$1" said || fail "$compiler: said: $1: $(cat said)"
}

flags='-g -finstrument-functions'
# shellcheck disable=SC2086
try reads "$compiler" -O0 $flags -DPERF_SAYS -I"$root" -c "$here/reads.c" -o reads.o
for level in -O0 -O2; do
    # shellcheck disable=SC2086
    {
    try "object $level" "$compiler" $level $flags -shared -fPIC "$here/twin.c" -o libtwin.so
    try "calls $level" "$compiler" $level $flags -DPERF_AUTO -I"$root" "$here/calls.c" reads.o \
        -L. -ltwin -Wl,-rpath,"$work" -o calls
    }
    report '' ./calls
    same "all $level" <<'END'
1 main
1 main/in_twin
1 main/in_twin/twin (twin.c)
1 main/marked
1 main/marked/a mark
1 main/marked/a mark/leaf
1 main/server
1 main/signals
1 main/signals/on_signal
1 main/signals/on_signal/leaf
1 main/sorts
1 main/twin
177 main/fib
2 main/catcher/thrown/leaf
2 main/leaf
3 main/catcher
3 main/catcher/leaf
3 main/catcher/thrown
3 main/sorts/order
5 main/server/thrown
5 main/server/thrown/leaf
END
    says 'status: ok'
    says_not 'not counted\|never ended\|still open'

    report '*leaf,s*,-s?gnals,-*@calls.c' ./calls
    same "none of a source file $level" <<'END'
1 a mark
END
    report 'twin*@libtwin.so,*fib' ./calls
    same "by object $level" <<'END'
1 a mark
1 twin
177 fib
END
    report 'depth=2,-a*,-fib,-s*' ./calls
    same "depth $level" <<'END'
1 main
1 main/in_twin
1 main/marked
1 main/marked/a mark
1 main/on_signal
1 main/twin
2 main/leaf
3 main/catcher
3 main/order
5 main/thrown
END
    report 'dept=8' ./calls
    says 'status: invalid argument'
    report 'leaf,depth=x,least=5' ./calls
    says 'status: invalid argument'
    for wrong in 'depth=' 'depth=1x' 'depth=12345678901'; do
        report "$wrong" ./calls
        says 'status: invalid argument'
        tried=$((tried + 1))
        grep -q 'main/marked/a mark$' tree || fail "PERF_AUTO=$wrong is ignored, not obeyed: $(cat tree)"
    done
    report '-leaf' ./calls down
    says 'status: a fixed limit\|not counted'
    report '' ./calls down
    tried=$((tried + 1))
    grep -q '^1 main/leaf$' tree || fail "after 70000 calls at once: $(cat tree said)"
    report 'leaf' ./calls fork
    says_not 'begun before'
    PERF_AUTO=least=1ms PERF_TRACE=trace.json ./calls least 2>said
    tried=$((tried + 1))
    few=$(tr '{' '\n' <trace.json | grep -c '"name": *"leaf"' || true)
    grep -q '"slow"' trace.json || fail "$compiler: a long call is not in the trace"
    [ "$few" -lt 500 ] || fail "$compiler: $few short calls in the trace"
done

# A mark in a file without -DPERF_AUTO: our own functions are none of the tree's.
# shellcheck disable=SC2086
try 'without PERF_AUTO' "$compiler" -O0 $flags -I"$root" "$here/calls.c" reads.o -L. -ltwin \
    -Wl,-rpath,"$work" -o plain
report 'marked,leaf,perf*' ./plain
grep -q '^1 marked/a mark/leaf$' tree || fail "$compiler: a mark: $(cat said)"
tried=$((tried + 1))
! grep -q 'perf_[a-z_]*_$' tree || fail "$compiler: our own functions: $(cat said)"

try strip strip calls
report '' ./calls
says ' 177  *0x[0-9a-f]*$'

# shellcheck disable=SC2086
{
try 'classes' $cxx -O1 $flags -DPERF_AUTO "$here/classes.cpp" reads.o -pthread -o classes
}
report '-std::*,-ns::parser::parser*,-*~parser*' ./classes
same classes <<'END'
1 main
100 work(void*)/catcher(ns::parser&)/ns::parser::parse(int)
2 work(void*)
2 work(void*)/ns::parser::parse(char const*)
20 work(void*)/after()
20 work(void*)/catcher(ns::parser&)
END
says_not 'not counted\|never ended\|still open'

# A closed object's functions keep their names: another one does not come to lie where it was.
cat >opens.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    while (--argc) {
        void *object = dlopen(*++argv, RTLD_NOW);
        ((void (*)(void))dlsym(object, "run"))();
        dlclose(object);
    }
    return 0;
}
C
for of in first second third; do
    printf 'void run(void);\nstatic __attribute__((__noinline__)) void %s(void) { __asm__ volatile(""); }\nvoid run(void) { %s(); }\n' \
        $of $of >$of.c
    # shellcheck disable=SC2086
    try "$of.so" "$compiler" -O1 $flags -shared -fPIC $of.c -o $of.so
done
# shellcheck disable=SC2086
try opens "$compiler" -O1 $flags -rdynamic opens.c reads.o -o opens -ldl
report first,second,third ./opens ./first.so ./second.so ./third.so ./first.so
same 'closed objects' <<'END'
1 second
1 third
2 first
END

# A library's constructor waits for a thread, in which the first function of that library is called.
cat >waits.c <<'C'
#include <pthread.h>
static void *thread(void *unused)
{
    return unused;
}
__attribute__((__constructor__, __no_instrument_function__)) static void begin(void)
{
    pthread_t of;
    if (!pthread_create(&of, 0, thread, 0))
        pthread_join(of, 0);
}
void run(void);
void run(void)
{
}
C
# shellcheck disable=SC2086
try waits.so "$compiler" -O1 $flags -shared -fPIC waits.c -o waits.so -pthread
report thread,run timeout 30 ./opens ./waits.so
same 'a thread of a constructor' <<'END'
1 run
1 thread
END

# Two files with the header, one with PERF_DISABLE: they link, and the first serves.
# shellcheck disable=SC2086
{
echo '#include "perf_auto.h"' >second.c
try 'second' "$compiler" $flags -I"$root" -c second.c -o second.o
try 'twice' "$compiler" $flags "$here/twin.c" -shared -fPIC -o libtwin.so
try 'twice' "$compiler" $flags -DPERF_AUTO -I"$root" "$here/calls.c" reads.o second.o -L. -ltwin \
    -Wl,-rpath,"$work" -o twice
try 'off' "$compiler" $flags -DPERF_DISABLE=1 -I"$root" "$here/calls.c" "$here/twin.c" \
    "$here/reads.c" -o off
}
report fib ./twice
same twice <<'END'
1 a mark
177 fib
END
try 'off runs' ./off
finish
