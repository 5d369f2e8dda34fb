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
module c clang '-O2 -ftls-model=global-dynamic'
program gcc -O2
program clang -O0
program gcc '-O2 -flto'
program gcc '-O2 -ffunction-sections -Wl,--gc-sections -s'
module a gcc '-O2 -flto -Wl,--gc-sections'
module b clang '-O2 -s'
module c gcc "-O2 -Wl,--version-script=$here/modules.map"
program gcc -O2
if command -v musl-gcc >/dev/null; then
    module a musl-gcc -O2
    module b musl-gcc -O2
    module c musl-gcc -O2
    program musl-gcc -O2
fi
finish
