#!/bin/sh
# Does `zig translate-c perf.h` give a Zig program the numbers: summaries, verdicts, histograms?  What it
# cannot translate (scopes, loops: inline assembly, threads) it leaves as a reference to C.
# Needs zig: `pip install ziglang` (100 MB) brings one.
. "$(dirname "$0")/../lib.sh"

if command -v zig >/dev/null; then
    zig() { command zig "$@"; }
elif python3 -c 'import ziglang' 2>/dev/null; then
    zig() { python3 -m ziglang "$@"; }
else
    skip 'no zig: pip install ziglang'
fi
start_work
cd "$work"
LIMIT=224
translate() { zig translate-c -lc "-I$root" "$root/perf.h" >perf.zig; }
try 'translate-c' translate
left=$(grep -c 'unable to translate' perf.zig)
echo "$left names are not translated (at most $LIMIT), $(grep 'unable to translate' perf.zig | grep -civ perf) of them of libc"
try 'few are left out' [ "$left" -le $LIMIT ]
cat >use.zig <<'EOF'
const c = @import("perf.zig");
var hist = @import("std").mem.zeroes(c.perf_hist);

pub export fn main() c_int {
    const before = [_]f64{ 20, 21, 20, 22, 20, 21, 20, 21, 22, 20 };
    const after = [_]f64{ 10, 11, 10, 12, 10, 11, 10, 11, 12, 10 };
    const s = c.perf_summarize(&after, after.len);
    if (s.count != 10 or s.p50 < 10 or s.p50 > 11) return 1;
    const v = c.perf_compare_pairs(&before, &after, after.len, null);
    if (v.decision != c.PERF_ACCEPT or v.speedup.estimate < 1.8) return 2;
    const w = c.perf_compare_pairs(&after, &before, after.len, null);
    if (w.decision != c.PERF_REJECT) return 3;
    for (1..101) |ns| c.perf_hist_add(&hist, ns);
    if (c.perf_hist_count(&hist) != 100 or c.perf_hist_quantile(&hist, 1) != 100) return 4;
    return c.perf_status_text(c.PERF_OK)[0] - 'o';
}
EOF
try 'a Zig program' zig build-exe use.zig -lc
try 'runs' ./use
finish
