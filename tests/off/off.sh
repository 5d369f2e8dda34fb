#!/bin/sh
# Off means off: built with PERF_DISABLE=1, an instrumented file gives the object that the same file
# gives without any instrumentation in its source: the same code, constants and data, byte for byte.
# Zero-initialised memory (.bss) is only noted: the one weak object of the process may be named there.
#
#     tests/off/off.sh gcc|g++|clang|clang++
. "$(dirname "$0")/../lib.sh"

cc=${1:?which compiler?}
need "$cc" objcopy objdump nm size
case $cc in
*++) std='-x c++ -std=c++11' ;;
*)   std='-std=c99' ;;
esac
start_work

# The sections that end up in the program, one name a line.
sections()
{
    objdump -h "$1" | awk '$2 ~ /^\.(text|rodata|data|tdata|init_array|ctors|eh_frame)/ { print $2, $3 }'
}

# same FILE FLAGS
same()
{
    what="$cc $2: $1 with PERF_DISABLE=1"
    rm -f "$work"/*.o
    # shellcheck disable=SC2086
    try "$what" "$cc" $std $2 -I"$root" -DPERF_DISABLE=1 -c "$root/tests/off/$1" -o "$work/off.o"
    # shellcheck disable=SC2086
    try "$what (plain twin)" "$cc" $std $2 -DPLAIN -c "$root/tests/off/$1" -o "$work/plain.o"
    [ -f "$work/off.o" ] && [ -f "$work/plain.o" ] || return 0

    sections "$work/off.o" >"$work/off.sections"
    sections "$work/plain.o" >"$work/plain.sections"
    try "$what: sections and their sizes" diff "$work/plain.sections" "$work/off.sections"
    while read -r section _; do
        for side in off plain; do
            objcopy -O binary --set-section-flags "$section=alloc,load,contents" \
                -j "$section" "$work/$side.o" "$work/$side.bin"
        done
        try "$what: bytes of $section" cmp "$work/plain.bin" "$work/off.bin"
    done <"$work/plain.sections"
    try "$what: text and data" [ "$(size "$work/off.o" | awk 'NR == 2 { print $1, $2 }')" = \
        "$(size "$work/plain.o" | awk 'NR == 2 { print $1, $2 }')" ]
    nm "$work/off.o" | awk '/perf/ { print $2, $3 }' >>"$work/symbols"
}

for level in -O0 -O1 -O2 -Os -O3; do
    same macros.c $level
done
for level in -O0 -O2; do
    same macros.c "$level -DSCOPES_ONLY"
done
for level in -Os -O2; do
    same calls.c $level
done

# Unoptimised, calls leave some code of their own, but nothing that other images would find.
# shellcheck disable=SC2086
try "$cc -O0: calls.c" "$cc" $std -O0 -I"$root" -DPERF_DISABLE=1 -c "$root/tests/off/calls.c" -o "$work/off.o"
try "$cc -O0: no note of an image" [ "$(objdump -h "$work/off.o" | grep -c note.perf_h)" = 0 ]

[ ! -s "$work/symbols" ] ||
    echo "note: symbols in objects that are off: $(sort -u "$work/symbols" | tr '\n' ' ')"

# The twin can be told apart: without PERF_DISABLE the code differs.
# shellcheck disable=SC2086
if "$cc" $std -O2 -I"$root" -c "$root/tests/off/macros.c" -o "$work/on.o" 2>/dev/null; then
    # shellcheck disable=SC2086
    "$cc" $std -O2 -DPLAIN -c "$root/tests/off/macros.c" -o "$work/plain.o"
    [ "$(size "$work/on.o" | awk 'NR == 2 { print $1 }')" != \
        "$(size "$work/plain.o" | awk 'NR == 2 { print $1 }')" ] ||
        fail "$cc: instrumented and plain code are equal when on: this test sees nothing"
fi

finish
