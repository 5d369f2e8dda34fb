#!/bin/sh
# Does a tool hear every scope of a program of C, C++ and a shared object, exactly and balanced, when
# one file says PERF_NVTX 1?  The tools are libraries built here: inject.c for NVTX, roctx.c.
#
#     tests/nvtx/nvtx.sh gcc|clang|nvcc       nvcc: the file with PERF_NVTX 1 is a .cu
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/flags.sh
. "$root/tests/flags.sh"
cc=${1:?which compiler?}
case $cc in
clang) cxx=clang++ ;;
*)     cxx=g++ ;;
esac
[ "$cc" != nvcc ] || need_nvcc
need "$cc" "$cxx" python3
nvtx=$(find_nvtx) || missing "nvtx3/nvToolsExt.h, of the CUDA toolkit, is not installed"
start_work
here=$root/tests/nvtx
cd "$work"
c=$cc
[ "$cc" != nvcc ] || c=gcc
level=-O2
[ "$c" != clang ] || level=-O0
strict="-std=gnu11 $level -g $warn_c -I$root"

# shellcheck disable=SC2086
{
    try "inject.c" $c -O1 -shared -fPIC -I"$nvtx" "$here/inject.c" -o inject.so
    try "roctx.c" $c -O1 -shared -fPIC "$here/roctx.c" -o libroctx64.so
    try "main.c" $c $strict -c "$here/main.c" -o main.o
    try "other.cpp" "$cxx" -O2 $warn_cxx -I"$root" -c "$here/other.cpp" -o other.o
    try "module.c" $c $strict -shared -fPIC "$here/module.c" -o module.so
    if [ "$cc" = nvcc ]; then
        try "provider.cu" nvcc $warn_nvcc -O2 -I"$root" -isystem "$nvtx" -x cu -c "$here/provider.c" -o provider.o
    else
        try "provider.c, -I" $c $strict -I"$nvtx" -c "$here/provider.c" -o provider.o
        try "provider.c as C99" $c -std=c99 -pedantic-errors $warn_c -I"$root" -I"$nvtx" -c \
            "$here/provider.c" -o c99.o
        try "provider.c as C++11" "$cxx" -x c++ -std=c++11 $warn_cxx -I"$root" -I"$nvtx" -c \
            "$here/provider.c" -o cxx.o
        [ "$cc" != clang ] || try "provider.c, -Weverything" clang -std=c99 $everything -Werror \
            -I"$root" -I"$nvtx" -c "$here/provider.c" -o everything.o
    fi
    try "twice.c" $c $strict -I"$nvtx" -c "$here/provider.c" -o twice.o
    try "roctx provider" $c $strict -DROCTX -c "$here/provider.c" -o roctx.o
    try "module with the provider" $c $strict -I"$nvtx" -shared -fPIC "$here/module.c" \
        "$here/provider.c" -o late.so
}
[ "$failed" -eq 0 ] || finish
link=$cxx
[ "$cc" != nvcc ] || link=nvcc
try "link" "$link" provider.o main.o other.o -lpthread -ldl -o prog
try "link, two files that ask" "$link" provider.o twice.o main.o other.o -lpthread -ldl -o prog2
try "link, nobody asks" "$cxx" main.o other.o -pthread -ldl -o plain
try "marks.c" "$c" -O2 -I"$root" -c "$here/marks.c" -o marks.o
try "link, marks alone" "$link" marks.o provider.o -ldl -o marks
try "link, marks, nobody asks" "$c" marks.o -ldl -o plain-marks
try "link, roctx" "$cxx" roctx.o main.o other.o -pthread -ldl -o rocprog

# heard KIND LOG COMMAND...
heard()
{
    kind=$1 log=$2
    shift 2
    try "$* ($kind)" env NVTX_LOG="$log" "$@"
    try "$log" python3 "$here/check.py" "$log" "$kind"
}
export NVTX_INJECTION64_PATH="$work/inject.so"
heard nvtx full ./prog ./module.so
heard nvtx twice ./prog2 ./module.so
heard late late ./plain ./late.so
heard bare bare env NVTX_TOOL=bare ./prog ./module.so
heard roctx roctx env LD_LIBRARY_PATH=. ./rocprog ./module.so

# A tool that is instrumented itself: none of its own marks is heard, and the program's all are, whatever comes first.
lines() { awk -F '\t' -v c="$2" -v t="$3" '$2 == c && $4 == t { n++ } END { print n + 0 }' "$1"; }
odd="$c -std=gnu11 -O1 -g -I$root -I$root/tests"
# shellcheck disable=SC2086
{
    try "odd.c" $odd -isystem "$nvtx" -DPERF_NVTX=1 -rdynamic "$here/odd.c" -o odd -lpthread -ldl
    try "odd.c, roctx" $odd -DPERF_ROCTX=1 -rdynamic "$here/odd.c" -o rococo -lpthread -ldl
}
for first in scope mark async name; do
    for tool in odd rococo; do
        p=r: log=$tool-$first
        [ $tool = odd ] || p=a:
        try "$tool $first" env NVTX_LOG="$log" LD_LIBRARY_PATH=. ./$tool $first
        more=$([ $first = scope ] && echo 1 || echo 0)
        try "$tool $first: scopes" [ "$(lines "$log" push ${p}scope)" = $((1 + more)) ]
        more=$([ $first = mark ] && echo 1 || echo 0)
        try "$tool $first: marks" [ "$(lines "$log" mark ${p}mark)" = $((1 + more)) ]
        more=$([ $first = async ] && echo 1 || echo 0)
        try "$tool $first: spans" [ "$(lines "$log" start ${p}span)" = $((1 + more)) ]
        try "$tool $first: the second thread" [ "$(lines "$log" push "${p}second thread")" = 1 ]
        try "$tool $first: none of its own" [ "$(grep -v register "$log" | grep -c "in the tool")" = 0 ]
        try "$tool $first: up to where the memory ends" [ "$(lines "$log" push ${p}deep)" = 32768 ]
        try "$tool $first: the last" [ "$(lines "$log" push ${p}last)" = 1 ]
        try "$tool $first: as many ends" [ "$(cut -f 2 "$log" | grep -c push)" = "$(cut -f 2 "$log" | grep -c pop)" ]
    done
    try "odd $first, deaf" env NVTX_LOG=deaf-$first NVTX_TOOL=deaf ./odd $first
    try "only its arrival" [ "$(cut -f 2 deaf-$first)" = attach ]
done
# Device scopes, copies and parts: ranges from begin to end on the host, each closed; streams have titles.
ranges() { awk -F '\t' -v t="$2" '$2 == "start" && $4 == t { n++ } END { print n + 0 }' "$1"; }
# shellcheck disable=SC2086
{
    try "device.c" $odd -isystem "$nvtx" -DPERF_NVTX=1 "$here/device.c" -o device -lpthread -ldl
    try "device.c, roctx" $odd -DPERF_ROCTX=1 "$here/device.c" -o rocdevice -lpthread -ldl
}
for tool in device rocdevice; do
    p=r: log=log-$tool
    [ $tool = device ] || p=a:
    try "$tool" env NVTX_LOG="$log" LD_LIBRARY_PATH=. ./$tool
    for name in outer:50 inner:50 in:50 out:50 default:1 part:1; do
        try "$tool: ${name%:*}" [ "$(ranges "$log" "$p${name%:*}")" = "${name#*:}" ]
    done
    try "$tool: as many ends" [ "$(cut -f 2 "$log" | grep -c '^end')" = 202 ]
    for title in 'GPU 0 stream 1' 'GPU 0 stream 2'; do
        try "$tool: $title" [ "$(grep stream "$log" | grep -c "$title")" = 1 ]
    done
done
try "copies have a class of their own" [ "$(awk -F '\t' '$2 == "start" && $4 == "r:in" && $5 == 8' log-device | wc -l)" = 50 ]
try "and a title" grep -q "category.*8.copy in" log-device

try "no numbers" [ "$(lines rococo-scope mark a:none)$(lines rococo-scope mark 'a:two = 2')" = 21 ]
try "marks alone" env NVTX_LOG=marks-alone NVTX_TOOL=marks ./odd scope
try "heard" [ "$(lines marks-alone mark a:mark)$(lines marks-alone push a:scope)" = 10 ]
for f in roctxRangePushA roctxRangePop roctxMarkA roctxRangeStartA roctxRangeStop; do
    mkdir "no-$f"
    try "roctx without $f" $c -O1 -shared -fPIC "-D$f=not_$f" "$here/roctx.c" -o "no-$f/libroctx64.so"
    try "is none" env NVTX_LOG="no-$f/log" NVTX_TOOL=deaf LD_LIBRARY_PATH="no-$f" ./rococo scope
    try "and nothing is heard" [ ! -e "no-$f/log" ]
done

# Programs that only mark.
pushes() { awk -F '\t' '$2 == "push" { sub("r:", "", $4); printf "%s ", $4 }' "$1"; }
try "marks" env NVTX_LOG=marks.log ./marks
try "all heard: $(pushes marks.log)" [ "$(pushes marks.log)" = 'early middle late ' ]
if [ "$cc" != nvcc ]; then
    try "marks, then a module that asks" env NVTX_LOG=then.log ./plain-marks ./late.so
    try "heard from then on: $(pushes then.log)" [ "$(pushes then.log)" = 'middle late ' ]
fi

# Nobody listens: nothing is heard, and the program does not notice.
try "a deaf tool" env NVTX_LOG=deaf NVTX_TOOL=deaf ./prog ./module.so
try "only its arrival" [ "$(cut -f 2 deaf)" = attach ]
try "no provider" env NVTX_LOG=nothing ./plain ./module.so
try "nothing" [ ! -e nothing ]
try "no roctx library" ./rocprog ./module.so
NVTX_INJECTION64_PATH=/nowhere/at.all
try "a wrong path" ./prog ./module.so
unset NVTX_INJECTION64_PATH
try "no tool" ./prog ./module.so
finish
