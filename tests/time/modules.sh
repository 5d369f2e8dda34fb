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
