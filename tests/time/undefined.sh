#!/bin/sh
# What clang's sanitizer takes for undefined and gcc's does not: an offset from a null pointer, of 0 as well.
. "$(dirname "$0")/../lib.sh"
need clang
start_work
cd "$work"
for t in trace remarks; do
    try "$t compiles" clang -std=c99 -O0 -fsanitize=undefined -fno-sanitize-recover=all -I"$root" -I"$root/tests" -pthread \
        "$root/tests/time/$t.c" -o "$t"
    try "$t" "./$t"
done
finish
