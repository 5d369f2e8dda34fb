#!/bin/sh
# Does the quickstart tell a faster checksum from a slower one, a wrong one, and no file from a file?
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
    sed '/^static uint32_t checksum(/,/^}/s/^    uint32_t a = 1, b = 0;$/&\n    planted_time(8 * n);/
         /^static uint32_t checksum_lazy(/,/^}/s/^    uint32_t a = 1, b = 0;$/&\n    planted_time(n);/' \
        "$root/examples/c/quickstart.c"
} > "$work/timed.c"
test "$(grep -c planted_time "$work/timed.c")" -eq 2 || fail "the two checksums are no longer found"

# build NAME SED-SCRIPT: the quickstart with a change; fails when the change did not apply
build()
{
    sed "$2" "$work/timed.c" > "$work/$1.c"
    if [ -n "$2" ] && cmp -s "$work/timed.c" "$work/$1.c"; then
        fail "the change for $1 no longer applies"
    fi
    try "$1 compiles" gcc -O0 -I"$root" "$work/$1.c" -o "$work/$1"
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
run plain "$root/perf.h" 0 'checksum: ACCEPT: speed-up'
run plain "$work/small" 0 'checksum: ACCEPT: speed-up'
run plain "$root/perf.h" 0 '^read file  '
run plain "$work/empty" 2 'nothing to read'
run plain "$work/missing" 2 'nothing to read'
run plain "$work" 2 'nothing to read'

# a regression: the plain checksum against itself is not 1.3 times as fast
build regression 's/v ? checksum_lazy(n) : checksum(n)/v ? checksum(n) : checksum(n)/'
run regression "$root/perf.h" 1 'checksum: REJECT'
# the faster one as the baseline
build swapped 's/v ? checksum_lazy(n) : checksum(n)/v ? checksum(n) : checksum_lazy(n)/'
run swapped "$root/perf.h" 1 'checksum: REJECT'
# a fast checksum that is wrong
build wrong 's/b += a += text\[i\];/b += a ^= text[i];/'
run wrong "$root/perf.h" 2 'checksums differ'
finish
