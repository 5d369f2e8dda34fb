#!/bin/sh
# Compiles each public header as the first and only include, twice, in the oldest standard; all of them
# in one file in each newer one, in a random order and backwards, between headers that collide; and
# every body of every public function, as strictly as the compiler can be asked.  Looks at what the object files hold, links with no library but libc, and runs.
#
#     tests/alone/compile.sh COMPILER [single]      gcc g++ clang clang++ musl-gcc tcc nvcc gcc-m32 ...
#
# single: perf.h as tools/single.py makes it, alone in its folder.
# CI=true: more settings for the bodies.  SEED=n repeats an order.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/flags.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose

compiler=${1:?which compiler?}
single=${2:-}
cc=$compiler
ext=c
target=
standards='c99 c11 c17'
strict=$warn_c
bodies='-O0|-O2|-O0 -DPERF_DISABLE=1'
more=                                     # with CI=true
link='-nodefaultlibs -lc -lgcc'           # no -lm, no -lpthread, no -ldl, no -lstdc++
link_cxx='-nodefaultlibs -lstdc++ -lgcc_s -lgcc -lc'     # where a body may meet an exception
collide='linux/perf_event.h windows.h tgmath.h hostile.h'
symbols=yes
run=yes
each=yes                                  # each header alone: a question for one compiler of each C library

case $compiler in
gcc)
    need gcc
    more='-O1 -ffast-math -march=native -funsigned-char'
    ;;
g++)
    need gcc g++
    ext=cpp standards='c++11 c++2a' strict=$warn_cxx
    more='-O0 -fno-exceptions -fno-rtti'
    ;;
clang)
    need clang
    strict="$everything -Werror"
    ;;
clang++)
    need clang clang++
    ext=cpp standards='c++11 c++2a' strict="$everything -Werror" each=no
    bodies='-O0|-O0 -DPERF_DISABLE=1'     # its warnings are the same at every level
    more='-O0 -fno-exceptions -fno-rtti -funsigned-char'
    ;;
musl-gcc)
    need musl-gcc
    standards=c99 bodies='-O1' more='' link="-static $link" symbols=no
    ;;
tcc)
    need tcc
    standards=c99 strict='-Wall -Werror' bodies='-O0|-O0 -DPERF_DISABLE=1' more='' link='' symbols=no
    ;;
nvcc)
    need_nvcc
    ext=cu standards='c++17' strict=$warn_nvcc link='' symbols=no
    bodies='-O0' more='-O2 -std=c++20 -DPERF_DISABLE=1'
    ;;
gcc-m32)                                  # the three below compile for machines we may not have
    printf '#include <string.h>\n' | gcc -m32 -fsyntax-only -x c - 2>/dev/null ||
        missing "gcc -m32 has no C headers here"
    cc=gcc target=-m32 run=no link=none standards=c99 bodies='-O0' more='-O1' symbols=no each=no
    ;;
*-gcc)
    need "$compiler"
    link='' run=no standards=c99 bodies='-O0|-O0 -DPERF_DISABLE=1' more='-O1' symbols=no
    case $compiler in aarch64*) each=no ;; esac
    ;;
*)
    echo "unknown compiler: $compiler"
    exit 1
    ;;
esac
case $compiler$(uname -m) in
gccx86_64 | clangx86_64) more="$more${more:+|}-O1 -masm=intel" ;;     # the other syntax of assembly code
esac
[ "${CI:-}" != true ] || [ -z "$more" ] || bodies="$bodies|$more"

start_work
cd "$root" || exit 1
include="$target -I. -Itests/alone"
public=$(headers)
if [ -n "$single" ]; then
    mkdir "$work/single"
    try 'tools/single.py' python3 tools/single.py "$work/single"
    cp tests/alone/hostile.h "$work/single/"
    include="$target -I$work/single"                      # in a .cu file it brings perf_cuda.h
    public=perf.h bodies='-O0'
fi
# nvcc has no -fsyntax-only, and what it reads g++ reads, too: only the headers that a .cu file includes.
alone=$public
[ "$ext" != cu ] || [ -n "$single" ] ||
    alone='perf.h perf_cuda.h perf_gpu_bench.h perf_kernel.h perf_nvtx.h'
[ $each = yes ] || alone=
seed=${SEED:-$(date +%s)}
order=$(python3 -c 'import random, sys
headers = sys.argv[2:]
random.Random(int(sys.argv[1])).shuffle(headers)
print(*headers)' "$seed" $public)
echo "seed $seed: $order"
backwards=
for header in $order; do
    backwards="$header $backwards"
done

# includes HEADER...: their lines; "windows.h" finds <windows.h>
includes()
{
    [ $# -eq 0 ] || printf '#include "%s"\n' "$@"
}

# compile WHAT FLAGS: the file $work/f.$ext, without a warning
compile()
{
    if [ "$ext" = cu ] || [ "$compiler" = tcc ]; then
        try "$1" "$cc" $strict $include $2 -c "$work/f.$ext" -o "$work/f.o"
    else
        try "$1" "$cc" $strict $include $2 -fsyntax-only "$work/f.$ext"
    fi
}

first_std=${standards%% *}
for header in $alone; do
    includes $header $header >"$work/f.$ext"
    compile "$compiler -std=$first_std: $header, twice" "-std=$first_std"
done
for std in ${standards#"$first_std"}; do
    includes $order >"$work/f.$ext"
    compile "$compiler -std=$std: $order" "-std=$std"
done

# Each header before and after each other one, and before and after headers that own many names.
others=
for other in $collide; do
    includes $other >"$work/f.$ext"
    ! "$cc" $include -w -E "$work/f.$ext" >/dev/null 2>&1 || others="$others $other"
done
includes stdio.h $others $order >"$work/f.$ext"
compile "$compiler:$others, then $order" "-std=$first_std"
includes $backwards $others >"$work/f.$ext"
compile "$compiler: $backwards, then$others" "-std=$first_std"

# All bodies.  The list of functions is what the preprocessor left of the headers.
includes $order >"$work/all.$ext"
if [ "$ext" = cu ]; then
    g++ -x c++ -E -P $include "$work/all.cu" >"$work/all.i"
else
    "$cc" -std="$first_std" -E -P $include "$work/all.$ext" >"$work/all.i"
fi
python3 tests/api.py touch "$work/all.i" $order >"$work/touch.$ext"

# Bytes of text (with constants and unwind tables) and initialised data of an object.
bytes()
{
    size "$1" | awk 'NR == 2 { print $1, $2 }'
}

# costs_nothing FLAGS HEADER...: an object that only includes them is as big as an empty one
costs_nothing()
{
    flags_=$1
    shift
    echo 'typedef int nothing;' >"$work/empty.$ext"
    { includes "$@"; cat "$work/empty.$ext"; } >"$work/unused.$ext"
    "$cc" $flags_ -c "$work/empty.$ext" -o "$work/empty.o" &&
        "$cc" $flags_ $include -c "$work/unused.$ext" -o "$work/unused.o" &&
        [ "$(bytes "$work/unused.o")" = "$(bytes "$work/empty.o")" ]
}

# The compiler's own: a name with a dot (a constant inside a function, a jump table), a reserved
# one, clang's table of a function that must not throw.
no_foreign_names()
{
    nm -C --defined-only "$work/touch.o" | cut -c20- |
        grep -Ev '^(perf(_|::)|((guard variable|vtable|typeinfo( name)?) for )?perf(_|::))' |
        grep -Ev '^(main|touched)$|[.]|^__|^GCC_except_table' >"$work/foreign" || true
    [ ! -s "$work/foreign" ] ||
        fail "$compiler $1: symbols without perf_:" "$(tr '\n' ' ' <"$work/foreign")"
    nm -u "$work/touch.o" | awk '$1 == "U" { print $2 }' |
        grep -E '^(pthread_|thrd_|mtx_|sem_|shm_|timer_|dl(open|sym|close|error|addr)$)' \
            >"$work/foreign" || true
    [ ! -s "$work/foreign" ] ||
        fail "$compiler $1: needs -lpthread, -lrt or -ldl where libc is older than glibc 2.34:" \
             "$(tr '\n' ' ' <"$work/foreign")"
}

if [ $symbols = yes ]; then
    need nm size
    idle=$(echo $order | sed 's/perf_auto\.h//; s/perf_cupti\.h//; s/perf_rocprofiler\.h//')     # whose include is their use
    for level in -O0 -O2; do
        tried=$((tried + 1))
        costs_nothing "-std=$first_std $level" $idle && continue
        for header in $idle; do
            costs_nothing "-std=$first_std $level" $header ||
                fail "$compiler $level: an unused #include \"$header\" costs bytes (text data:" \
                     "$(bytes "$work/unused.o"), without it $(bytes "$work/empty.o"))"
        done
    done
fi

case $cc in
g++) driver=gcc ;;                        # the C driver adds no C++ library
clang++) driver=clang ;;
*) driver=$cc ;;
esac
old_ifs=$IFS
IFS='|'
for flags in $bodies; do
    IFS=$old_ifs
    case $flags in *-std=*) ;; *) flags="-std=$first_std $flags" ;; esac
    rm -f "$work/touch.o" "$work/touch"
    try "$compiler: all bodies, $flags" \
        "$cc" $strict $include $flags -c "$work/touch.$ext" -o "$work/touch.o"
    [ -f "$work/touch.o" ] || continue
    [ $symbols = no ] || no_foreign_names "$flags"
    [ "$link" != none ] || continue
    case $ext$flags in
    cpp*-fno-exceptions*) libraries=$link ;;
    cpp*) libraries=$link_cxx ;;
    *) libraries=$link ;;
    esac
    try "$compiler: links with '$libraries' only, $flags" \
        "$driver" "$work/touch.o" -o "$work/touch" $libraries
    [ "$run" = no ] || [ ! -f "$work/touch" ] || try "$compiler: runs, $flags" "$work/touch"
done
IFS=$old_ifs

finish
