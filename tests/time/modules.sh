#!/bin/sh
# One registry over an executable and three shared objects loaded RTLD_LOCAL, from mixed compilers and
# flags, and with none of them in the executable.
#
#     tests/time/modules.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2086
need gcc g++ clang
start_work
here=$root/tests/time
cd "$work"

# module LETTER COMPILER FLAGS
module()
{
    try "$1.so with $2 $3" $2 $3 -fPIC -shared -I"$root" -DNAME="\"in $1\"" "$here/module.c" -o "$1.so"
}

# program COMPILER FLAGS
program()
{
    try "program with $1 $2" $1 $2 -I"$root" -I"$root/tests" "$here/modules.c" -o program -ldl
    try "one registry: $1 $2" ./program
}

module a gcc -O2
module b 'g++ -x c++' -O0
module c clang '-O1 -ftls-model=global-dynamic'
program gcc -O2
program clang -O0
program gcc '-O1 -flto'
program gcc '-O1 -ffunction-sections -Wl,--gc-sections -s'
module a gcc '-O1 -flto -Wl,--gc-sections'
module b clang '-O0 -s'
module c gcc "-O0 -Wl,--version-script=$here/modules.map"
program gcc -O0
module a gcc -O2
try closed.c gcc -O2 -I"$root" -I"$root/tests" "$here/closed.c" -o closed -ldl
try "loops of a closed module" ./closed
mkdir other
for header in "$root"/perf*.h; do           # another release: what threads and the process keep is longer
    sed -e 's/^#define PERF_VERSION .*/#define PERF_VERSION 9999/' \
        -e 's/^    perf_cell_ \*\*quick; .*/    uint64_t other_release[9];\n&/' \
        -e 's/^    uint64_t        ring_events;/    uint64_t other_release[3];\n&/' "$header" >"other/${header##*/}"
done
try 'it differs' test "$(cat other/*.h | grep -c 'other_release\|VERSION 9999')" = 3
try other.so gcc -O1 -fPIC -shared -Iother -DNAME='"in other"' "$here/module.c" -o other.so
try other.o gcc -O1 -fPIC -c -Iother -Drun=run2 -Dseen=seen2 -Dloops=loops2 -DNAME='"in other"' "$here/module.c" -o other.o
try both.so gcc -O1 -fPIC -shared -I"$root" -DNAME='"in a"' "$here/module.c" other.o -o both.so
try 'two releases' ./closed releases
try other.o g++ -x c++ -O0 -fPIC -c -Iother -Drun=run2 -Dseen=seen2 -Dloops=loops2 -DNAME='"in other"' "$here/module.c" -o other.o
try both.so g++ -O0 -fPIC -shared -I"$root" -DNAME='"in a"' -x c++ "$here/module.c" -x none other.o -o both.so
try 'two releases in C++' ./closed releases
module a gcc '-O2 -DOWN_CLOCK'
module b clang '-O2 -DOWN_CLOCK'
try "clock of a closed module" ./closed clock
if command -v musl-gcc >/dev/null; then
    for letter in a b c; do
        module $letter musl-gcc -O0
    done
    program musl-gcc -O0
fi
finish
