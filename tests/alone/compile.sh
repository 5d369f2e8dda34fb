#!/bin/sh
# Compiles each public header alone, twice, in many orders, beside headers that collide, and then
# every body of every public function, as strictly as the compiler can be asked.  Links the result
# with no library but libc, and runs it.
#
#     tests/alone/compile.sh COMPILER       gcc g++ clang clang++ musl-gcc tcc nvcc gcc-m32 ...
. "$(dirname "$0")/../lib.sh"
. "$root/tests/flags.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose

compiler=${1:?which compiler?}
cc=$compiler
ext=c
target=
standards='c99 c11 c17'
strict=$warn_c
bodies='-O0|-O2|-O3 -ffast-math -march=native|-Os -funsigned-char|-O0 -DPERF_DISABLE=1|-O2 -DPERF_DISABLE=1'
link='-nodefaultlibs -lc -lgcc'           # no -lm, no -lpthread, no -ldl, no -lstdc++
link_cxx='-nodefaultlibs -lstdc++ -lgcc_s -lgcc -lc'     # where a body may meet an exception
collide='<linux/perf_event.h>|<windows.h>|"hostile.h"'
orders=all
run=yes

case $compiler in
gcc)
    need gcc
    ;;
g++)
    need gcc g++
    ext=cpp standards='c++11 c++2a' strict=$warn_cxx orders=few
    bodies="$bodies|-O2 -fno-exceptions -fno-rtti"
    ;;
clang)
    need clang
    strict="$everything -Werror" orders=few
    ;;
clang++)
    need clang clang++
    ext=cpp standards='c++11 c++2a' strict="$everything -Werror"
    bodies="$bodies|-O2 -fno-exceptions -fno-rtti"
    ;;
musl-gcc)
    need musl-gcc
    collide='"hostile.h"' orders=few
    link="-static $link"
    ;;
tcc)
    need tcc
    standards=c99 strict='-Wall -Werror' bodies='-O0|-O0 -DPERF_DISABLE=1' link=''
    ;;
nvcc)
    need_nvcc
    ext=cu standards='c++17' strict=$warn_nvcc link='' collide='"hostile.h"' orders=few
    bodies='-O0|-O2 -std=c++14 -DPERF_DISABLE=1|-O2 -std=c++20'
    ;;
gcc-m32)                                  # the three below compile for machines we may not have
    printf '#include <string.h>\n' | gcc -m32 -fsyntax-only -x c - 2>/dev/null ||
        missing "gcc -m32 has no C headers here"
    cc=gcc target=-m32 run=no link=none orders=few
    ;;
*-gcc)
    need "$compiler"
    link='' run=no bodies='-O0|-O2|-O2 -DPERF_DISABLE=1' orders=few
    ;;
*)
    echo "unknown compiler: $compiler"
    exit 1
    ;;
esac

start_work
cd "$root" || exit 1
include="$target -I. -Itests/alone"
public=$(headers)

# One order a line.  few: each header alone, all of them forwards and backwards, so that each stands
# before and after each other one.  all: also each one twice, and each one first.
orders()
{
    printf '%s\n' $public
    set -- $public
    for first in $public; do
        backwards=
        for b; do
            backwards="$b $backwards"
        done
        printf '%s\n' "$*" "$backwards"
        [ "$orders" = all ] || return 0
        echo "$first $first"
        shift
        set -- "$@" "$first"
    done
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

for std in $standards; do
    [ "$std" = "${standards%% *}" ] || orders=few
    orders >"$work/orders"
    while read -r order; do
        for header in $order; do
            printf '#include "%s"\n' "$header"
        done >"$work/f.$ext"
        compile "$compiler -std=$std: $order" "-std=$std"
    done <"$work/orders"
done

# Before and after headers that own many names.
first_std=${standards%% *}
old_ifs=$IFS
IFS='|'
for other in $collide; do
    IFS=$old_ifs
    printf '#include %s\n' "$other" >"$work/f.$ext"
    "$cc" $include -w -E "$work/f.$ext" >/dev/null 2>&1 || continue       # not on this system
    for header in $public; do
        printf '#include <stdio.h>\n#include %s\n#include "%s"\n' "$other" "$header" >"$work/f.$ext"
        compile "$compiler: $header after $other" "-std=$first_std"
        printf '#include "%s"\n#include %s\n' "$header" "$other" >"$work/f.$ext"
        compile "$compiler: $header before $other" "-std=$first_std"
    done
done

# All bodies.  The list of functions is what the preprocessor left of the headers.
for header in $public; do
    printf '#include "%s"\n' "$header"
done >"$work/all.$ext"
if [ "$ext" = cu ]; then
    g++ -x c++ -E -P $include "$work/all.cu" >"$work/all.i"
else
    "$cc" -std="$first_std" -E -P $include "$work/all.$ext" >"$work/all.i"
fi
python3 "$root/tests/api.py" touch "$work/all.i" $public >"$work/touch.$ext"

case $cc in
g++) driver=gcc ;;                        # the C driver adds no C++ library
clang++) driver=clang ;;
*) driver=$cc ;;
esac
for std in $standards; do
    IFS='|'
    for flags in $bodies; do
        IFS=$old_ifs
        [ "$std" = "$first_std" ] || [ "$flags" = -O2 ] || continue
        case $flags in *-std=*) ;; *) flags="-std=$std $flags" ;; esac
        rm -f "$work/touch.o" "$work/touch"
        try "$compiler: all bodies, $flags" \
            "$cc" $strict $include $flags -c "$work/touch.$ext" -o "$work/touch.o"
        [ -f "$work/touch.o" ] || continue
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
done

finish
