#!/bin/sh
# One core in a program: files that only mark record through the file that reads, whichever image it is
# in and in whatever order images are loaded; where nobody reads, nothing is kept.
#
#     tests/core/core.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2086
cc=${1:?which compiler?}
[ "$cc" = gcc ] && cxx=g++ || cxx=clang++
need "$cc" "$cxx"
start_work
here=$root/tests/core
cd "$work"

# built WHAT SOURCE... -- FLAGS
built()
{
    what=$1 out=$2
    shift 2
    try "$what" "$@" -I"$root" -o "$out"
}

for flags in -O2 '-O1 -fPIE -pie' '-O0 -fno-pie -no-pie' '-O1 -flto' '-O1 -ffunction-sections -Wl,--gc-sections -s'; do
    built "one program: $flags" one $cc $flags -DMARK=mark "$here/mark.c" "$here/read.c" "$here/program.c"
    try "one program: $flags: every call" ./one 10
    built "nobody reads: $flags" none $cc $flags -DMARK=mark "$here/none.c" "$here/mark.c"
    try "nobody reads: $flags: nothing is kept" ./none
done
for events in -1 0x8000000000000001u; do        # no trace; one that no memory holds
    built "$events events" one $cc -O2 -DPERF_TRACE_EVENTS=$events -DMARK=mark "$here/mark.c" "$here/read.c" "$here/program.c"
    try "$events events: every call" timeout 60 ./one 10
done
for file in mark.c read.c; do
    try "$file as C++" $cxx -O2 -DMARK=mark -I"$root" -x c++ -c "$here/$file" -o "${file%.c}.o"
done
try 'early.cpp' $cxx -O2 -c "$here/early.cpp" -o early.o
try 'program.c' $cc -O2 -c "$here/program.c" -o program.o
try 'C++: links' $cxx early.o mark.o read.o program.o -o cpp
try 'C++: a constructor before main is recorded' ./cpp 11
built 'streams: a module' streams.so $cc -O2 -shared -fPIC -DMODULE "$here/streams.c"
built 'streams' streams $cc -O2 "$here/streams.c" -ldl
try 'streams of two images in turns: no more memory than two' ./streams ./streams.so
if $cc -static -O2 -x c - -o static_probe 2>/dev/null <<'C'
int main(void) { return 0; }
C
then
    built 'static' static $cc -static -O2 -DMARK=mark "$here/mark.c" "$here/read.c" "$here/program.c"
    try 'static: every call' ./static 10
fi

for flags in -O0 -O2; do
    for name in first second; do
        try "$name.so $flags" $cc $flags -fPIC -shared -DMARK=mark -I"$root" "$here/mark.c" -o $name.so
    done
    try "core.so $flags" $cc $flags -fPIC -shared -I"$root" "$here/read.c" -o core.so
    try "modules $flags" $cc $flags "$here/modules.c" -o modules -ldl
    try "marks, then the core: $flags" ./modules before ./first.so core ./core.so after ./second.so
    try "the core, then marks: $flags" ./modules core ./core.so after ./first.so after ./second.so
    try "marks alone twice, then the core: $flags" ./modules before ./first.so before ./second.so core ./core.so
done

finish
