#!/bin/sh
# Does the quickstart tell a faster counter from a slower one, a wrong one, and no file from a file?
# The defects are planted in copies of its source.
set -eu
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need gcc
start_work

# A clock of its own: 8 units a byte by bytes, 1 by words, give or take an eighth.  So no verdict here
# hangs on how busy the machine is.
cat > "$work/clock.h" <<'C'
#include <stdint.h>
static uint64_t planted_ns = 1000000, planted_dice = 1;
static uint64_t planted_clock(void)
{
    return planted_ns += 20;
}
static void planted_time(uint64_t ns)
{
    planted_dice = planted_dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    planted_ns += ns + (planted_dice >> 33) % (ns / 8 + 1);
}
#define PERF_CLOCK_FN planted_clock
C
{
    echo '#include "clock.h"'
    sed 's/^    size_t i, lines = 0;$/&\n    planted_time(8 * n);/
         s/^    size_t         i = 0, lines = 0;$/&\n    planted_time(n);/' "$root/examples/c/quickstart.c"
} > "$work/timed.c"
test "$(grep -c planted_time "$work/timed.c")" -eq 2 || fail "the two counters are no longer found"

# build NAME SED-SCRIPT: the quickstart with a change; fails when the change did not apply
build()
{
    sed "$2" "$work/timed.c" > "$work/$1.c"
    if [ -n "$2" ] && cmp -s "$work/timed.c" "$work/$1.c"; then
        fail "the change for $1 no longer applies"
    fi
    try "$1 compiles" gcc -O2 -I"$root" "$work/$1.c" -o "$work/$1"
}

# run NAME FILE STATUS WORDS: exit status and words of the output
run()
{
    status=0
    (cd "$work" && "./$1" "$2") > "$work/out" 2>&1 || status=$?
    tried=$((tried + 1))
    if [ "$status" -ne "$3" ] || ! grep -q "$4" "$work/out"; then
        fail "$1 $2: status $status, wanted $3 and '$4'"
        cat "$work/out"
    fi
}

: > "$work/empty"
head -c 1000 "$root/README.md" > "$work/small"

build plain ''
run plain "$root/perf.h" 0 '^ACCEPT: speed-up'
run plain "$work/small" 0 'they agree'
run plain "$work/empty" 2 'is empty'
run plain "$work/missing" 2 'cannot open'
run plain "$work" 2 'cannot read'
run plain "$root/perf.h" 0 '^trace: trace.json'

# a regression: the byte loop against itself is not 1.3 times as fast
build regression 's/variant ? count_wordwise(text, n) : count_bytewise/variant ? count_bytewise(text, n) : count_bytewise/'
run regression "$root/perf.h" 1 '^REJECT'
# the faster one as the baseline
build swapped 's/variant ? count_wordwise(text, n) : count_bytewise/variant ? count_bytewise(text, n) : count_wordwise/'
run swapped "$root/perf.h" 1 '^REJECT'
# a fast counter that is wrong by one line
build wrong 's/    for (; i < n; i++)$/    lines++;\n&/'
run wrong "$root/perf.h" 1 'THEY DIFFER'
# a counter that does nothing
build nothing 's/lines = variant ? count_wordwise(text, n)/lines = variant ? (planted_time(n), (size_t)0)/; s/counted = variant ? count_wordwise(text, n)/counted = variant ? (planted_time(n), (size_t)0)/'
run nothing "$root/perf.h" 1 'THEY DIFFER'
# the trace cannot be written
build nowhere 's/"trace.json"/"no such folder\/trace.json"/'
run nowhere "$root/perf.h" 0 'trace: not written'
finish
