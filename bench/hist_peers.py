#!/usr/bin/env python3
"""Our histogram beside those that PyPI ships, on the same million lognormal values in one run.

    pip install hdrhistogram ddsketch datasketches numpy
    python3 bench/hist_peers.py

hdrhistogram and ddsketch record in Python: compare their records with each other, not with C.
hdrhistogram's encoder and decoder of counts are C and its compression is zlib; datasketches is C++
and takes whole arrays, so those ratios say something about the algorithms.  Each figure is the
least of several rounds.  A peer that is not installed is left out."""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
N = 1_000_000
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)

OURS = r"""
#define _DEFAULT_SOURCE 1
#include "perf_hlog.h"
#include "samples.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define N %d
static uint64_t v[N];
static char text[1 << 22];
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#define LEAST(name, per, statement) do { int k; double best = 1e300; \
    for (k = 0; k < 20; k++) { double t = now_ns(); statement; t = now_ns() - t; \
        if (t < best) best = t; } printf("%%s %%.3f\n", name, best / (per)); } while (0)
int main(int argc, char **argv)
{
    static const double q[6] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    double out[6];
    rng r = {1};
    perf_hist_opts o = PERF_ZERO;
    perf_hist *h;
    perf_hlog_interval iv = PERF_ZERO;
    size_t n, i;
    FILE *f = fopen(argv[1], "wb");
    (void)argc;
    for (i = 0; i < N; i++)
        v[i] = lognormal(&r);
    fwrite(v, 8, N, f);
    fclose(f);
    {
        static perf_hist fixed;
        LEAST("record", N, for (i = 0; i < N; i++) perf_hist_add(&fixed, v[i]));
    }
    o.bits = 10;
    o.counter_bytes = 8;
    n = perf_hist_bytes(&o);
    h = perf_hist_init(malloc(n), n, &o);
    for (i = 0; i < N; i++)
        perf_hist_add(h, v[i]);
    LEAST("six", 1, for (i = 0; i < 6; i++) out[i] = perf_hist_quantile(h, q[i]));
    LEAST("encode", 1, perf_hlog_text(text, sizeof text, h, &iv));
    f = fopen(argv[2], "wb");
    n = perf_hlog_text(text, sizeof text, h, &iv);
    fwrite(text, 1, n, f);
    fclose(f);
    for (i = 0; i < 6; i++)
        printf("q%%zu %%.3f\n", i, out[i]);
    return 0;
}
"""


def least(action, rounds=5):
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter_ns()
        action()
        best = min(best, time.perf_counter_ns() - start)
    return best


def row(name, figure, ours, unit):
    print(f"  {name:34} {figure:12.2f} {unit}  {figure / ours:10.1f}x ours")


def main():
    try:
        import numpy as np
    except ImportError:
        print("numpy is missing")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        exe, values, log = (os.path.join(scratch, x) for x in ("ours", "values", "log"))
        subprocess.run(["cc", "-O2", "-std=c99", "-I", ROOT, "-I", os.path.join(ROOT, "tests/hist"),
                        "-x", "c", "-", "-o", exe], input=OURS % N, text=True, check=True)
        out = subprocess.run([exe, values, log], stdout=subprocess.PIPE, text=True, check=True).stdout
        ours = {k: float(x) for k, x in re.findall(r"(\w+) ([\d.]+)", out)}
        v = np.fromfile(values, dtype=np.uint64)
        line = open(log, encoding="ascii").read().strip().rsplit(",", 1)[1]
    exact = np.sort(v)[[int(np.ceil(q * N)) - 1 for q in QUANTILES]]
    print(f"ours: record {ours['record']:.2f} ns, six percentiles {ours['six']:.0f} ns, "
          f"a log line {ours['encode'] / 1000:.1f} us; largest error of the six "
          f"{max(abs(ours[f'q{i}'] / exact[i] - 1) for i in range(6)):.2e}")
    try:
        from hdrh.histogram import HdrHistogram
    except ImportError:
        print("hdrhistogram is missing")
    else:
        peer, few = HdrHistogram(1, 3_600_000_000_000, 3), [int(x) for x in v[:20000]]
        row("hdrhistogram record (Python)",
            least(lambda: [peer.record_value(x) for x in few], 2) / len(few), ours["record"], "ns")
        decoded = HdrHistogram.decode(line)
        peer = HdrHistogram(1, 3_600_000_000_000, 3)
        for x in v:
            peer.record_value(int(x))
        wrong = sum(decoded.get_count_at_index(i) != peer.get_count_at_index(i)
                    for i in range(peer.counts_len)) if decoded.counts_len >= peer.counts_len else \
            sum(decoded.get_count_at_index(i) != peer.get_count_at_index(i)
                for i in range(decoded.counts_len))
        print(f"  hdrhistogram decodes our line: {wrong} counts differ, total {decoded.total_count}")
        row("hdrhistogram six percentiles", least(lambda: peer.get_percentile_to_value_dict(
            [100 * q for q in QUANTILES]), 3), ours["six"], "ns")
        row("hdrhistogram encode (C and zlib)", least(peer.encode, 20) / 1000,
            ours["encode"] / 1000, "us")
    try:
        from ddsketch import DDSketch
    except ImportError:
        print("ddsketch is missing")
    else:
        peer, few = DDSketch(0.01), [float(x) for x in v[:20000]]
        row("ddsketch 1 % record (Python)", least(lambda: [peer.add(x) for x in few], 2) / len(few),
            ours["record"], "ns")
        row("ddsketch six percentiles", least(
            lambda: [peer.get_quantile_value(q) for q in QUANTILES], 5), ours["six"], "ns")
    try:
        import datasketches
    except ImportError:
        print("datasketches is missing")
    else:
        doubles = v.astype(np.float64)
        for name, make in (("KLL 200", lambda: datasketches.kll_doubles_sketch(200)),
                           ("REQ 12", lambda: datasketches.req_floats_sketch(12)),
                           ("t-digest 200", lambda: datasketches.tdigest_double(200))):
            peer = make()
            data = doubles.astype(np.float32) if "REQ" in name else doubles
            row(f"datasketches {name} record (C++)", least(lambda: peer.update(data), 3) / N,
                ours["record"], "ns")
            row(f"datasketches {name} six", least(
                lambda: [peer.get_quantile(q) for q in QUANTILES], 5), ours["six"], "ns")
            error = max(abs(peer.get_quantile(q) / x - 1) for q, x in zip(QUANTILES, exact))
            print(f"  datasketches {name}: largest error of the six {error:.2e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
