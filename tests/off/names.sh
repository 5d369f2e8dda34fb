#!/bin/sh
# Every public name exists whether measuring is on or off: the macros and, as functions or macros,
# the functions.  A program must compile both ways without an #ifdef of its own.
. "$(dirname "$0")/../lib.sh"

need gcc
start_work
public=$(headers)

for header in $public; do
    printf '#include "%s"\n' "$header"
done >"$work/all.c"

public_macros()
{
    gcc -dM -E -I"$root" "$1" "$work/all.c" |
        sed -n "s/^#define \($2\)[ (].*/\1/p" | sort
}
public_macros -DPERF_DISABLE=0 'PERF_[A-Z0-9_]*[A-Z0-9]' >"$work/on"
public_macros -DPERF_DISABLE=1 'PERF_[A-Z0-9_]*[A-Z0-9]' >"$work/off"
try 'macros with PERF_DISABLE=0 (<) and 1 (>)' diff "$work/on" "$work/off"

# A macro in lower case stands for a function: in the other state it may be either.
for state in 0 1; do
    cp "$work/all.c" "$work/either.c"
    for name in $(public_macros -DPERF_DISABLE=$((1 - state)) 'perf_[a-z0-9_]*[a-z0-9]'); do
        printf '#ifndef %s\nvoid (*const %s_there)(void) = (void (*)(void))%s;\n#endif\n' \
            "$name" "$name" "$name" >>"$work/either.c"
    done
    try "macros like functions, with PERF_DISABLE=$state" \
        gcc -std=c99 -Wall -Werror -I"$root" -DPERF_DISABLE=$state -fsyntax-only "$work/either.c"
done

# Both lists of functions, each touched in both states.
for list in 0 1; do
    gcc -E -P -I"$root" -DPERF_DISABLE=$list "$work/all.c" >"$work/all.i"
    # shellcheck disable=SC2086
    python3 "$root/tests/api.py" touch "$work/all.i" $public >"$work/touch.c"
    for state in 0 1; do
        try "functions of PERF_DISABLE=$list with PERF_DISABLE=$state" \
            gcc -std=c99 -Wall -Werror -I"$root" -DPERF_DISABLE=$state "$work/touch.c" \
            -o "$work/touch"
        try "the same runs" "$work/touch"
    done
done

finish
