#!/bin/sh
# What a header leaves in an object file: nothing when it is only included, and nothing but names
# that begin with perf when everything in it is used.  Needs no library but libc.
#
#     tests/alone/symbols.sh gcc|g++|clang|clang++
. "$(dirname "$0")/../lib.sh"

cc=${1:?which compiler?}
need "$cc" nm size
case $cc in
*++) ext=cpp std=-std=c++11 ;;
*)   ext=c std=-std=c99 ;;
esac
start_work
public=$(headers)

# Bytes of text (with constants and unwind tables) and initialised data of an object.
bytes()
{
    size "$1" | awk 'NR == 2 { print $1, $2 }'
}

echo 'typedef int nothing;' >"$work/empty.$ext"
for level in -O0 -O2; do
    try "$cc $level: an empty file" "$cc" "$std" $level -c "$work/empty.$ext" -o "$work/empty.o"
    for header in $public; do
        printf '#include "%s"\ntypedef int nothing;\n' "$header" >"$work/unused.$ext"
        rm -f "$work/unused.o"
        try "$cc $level: $header" \
            "$cc" "$std" $level -I"$root" -c "$work/unused.$ext" -o "$work/unused.o"
        [ -f "$work/unused.o" ] || continue
        with=$(bytes "$work/unused.o")
        without=$(bytes "$work/empty.o")
        [ "$with" = "$without" ] ||
            fail "$cc $level: an unused #include \"$header\" costs bytes" \
                 "(text data: $with, without it $without)"
    done
done

# The compiler's own: a name with a dot (a constant inside a function, a jump table), a reserved
# one, clang's table of a function that must not throw.
for header in $public; do
    printf '#include "%s"\n' "$header"
done >"$work/all.$ext"
"$cc" "$std" -E -P -I"$root" "$work/all.$ext" >"$work/all.i"
# shellcheck disable=SC2086
python3 "$root/tests/api.py" touch "$work/all.i" $public >"$work/touch.$ext"
for flags in -O0 -O2 '-O2 -DPERF_DISABLE=1'; do
    rm -f "$work/touch.o"
    # shellcheck disable=SC2086
    try "$cc $flags: all bodies" \
        "$cc" "$std" $flags -I"$root" -c "$work/touch.$ext" -o "$work/touch.o"
    [ -f "$work/touch.o" ] || continue
    nm -C --defined-only "$work/touch.o" | cut -c20- |
        grep -Ev '^(perf(_|::)|((guard variable|vtable|typeinfo( name)?) for )?perf(_|::))' |
        grep -Ev '^(main|touched)$|[.]|^__|^GCC_except_table' >"$work/foreign" || true
    [ ! -s "$work/foreign" ] ||
        fail "$cc $flags: symbols without perf_:" "$(tr '\n' ' ' <"$work/foreign")"
    nm -u "$work/touch.o" | awk '$1 == "U" { print $2 }' |
        grep -E '^(pthread_|thrd_|mtx_|sem_|shm_|timer_|dl(open|sym|close|error|addr)$)' \
            >"$work/foreign" || true
    [ ! -s "$work/foreign" ] ||
        fail "$cc $flags: needs -lpthread, -lrt or -ldl where libc is older than glibc 2.34:" \
             "$(tr '\n' ' ' <"$work/foreign")"
done

finish
