#!/usr/bin/env python3
"""HdrHistogram itself (its Python package) reads our logs and percentile lists, and we read its logs.

    peer.py PROGRAM          built from peer.c
"""
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader, HistogramLogWriter
except ImportError as error:
    if os.environ.get("CI") == "true":
        sys.exit(f"failed: {error} (CI=true)")
    print(f"skipped: {error} (tests/python.txt)")
    sys.exit(77)

PROGRAM = os.path.abspath(sys.argv[1])
passed = failed = 0


def check(condition, what):
    global passed, failed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print(f"FAILED: {what}")


def new():
    return HdrHistogram(1, 2 ** 36, 3)


def ours(folder):
    subprocess.run([PROGRAM, "write", folder], check=True)
    total = new()
    reader = HistogramLogReader(str(folder / "ours.hlog"), new())
    for k, tag in enumerate((None, "get", "put")):
        got = reader.get_next_interval_histogram()
        check(got is not None, f"interval {k} is missing")
        if got is None:
            return
        values = list(map(int, (folder / f"{k}.txt").read_text().split()))
        want = new()
        for v in values:
            want.record_value(v)
            total.record_value(v)
        check(got.get_total_count() == len(values), f"{k}: {got.get_total_count()} values")
        for p in (0, 1, 25, 50, 90, 99, 99.9, 100):
            check(got.get_value_at_percentile(p) == want.get_value_at_percentile(p),
                  f"{k}: p{p}: {got.get_value_at_percentile(p)}, not {want.get_value_at_percentile(p)}")
        check(got.get_tag() == tag, f"{k}: tag {got.get_tag()}")
        start = got.get_start_time_stamp() / 1000
        check(abs(start - 10 * k) < 1e-6 or abs(start - 1441812279.474 - 10 * k) < 1e-3, f"{k}: begins at {start}")
        check(abs(got.get_end_time_stamp() - got.get_start_time_stamp() - 10000) < 2, f"{k}: length")
    check(reader.get_next_interval_histogram() is None, "a fourth interval")

    # levels of percentiles: every one of ours agrees with HdrHistogram's own answer
    lines = [x.split() for x in (folder / "levels.txt").read_text().splitlines()]
    check(len(lines) > 40, f"{len(lines)} lines of percentiles")
    for value, fraction, below in lines:            # they round the rank, we take the next one
        low, high = (total.get_value_at_percentile(max(0, min(100, 100 * (float(fraction) + by))))
                     for by in (-1 / total.get_total_count(), 1 / total.get_total_count()))
        check(low * 0.998 - 1 <= float(value) <= high * 1.002 + 1, f"p{fraction}: {value}, theirs {low} to {high}")
        check(int(below) >= float(fraction) * total.get_total_count() - 1, f"p{fraction}: {below} values")
    check(int(lines[-1][2]) == total.get_total_count(), lines[-1])


def theirs(folder):
    seed = random.randrange(2 ** 32)
    print(f"seed {seed}")
    random.seed(seed)
    log = folder / "theirs.hlog"
    want = []
    with open(log, "w") as file:
        writer = HistogramLogWriter(file)
        writer.output_comment("by HdrHistogram")
        writer.output_log_format_version()
        file.write("#[StartTime: 1441812279.474 (seconds since epoch), 2015-09-09]\n")     # theirs fails
        writer.output_legend()
        for k in range(4):
            h = new()
            values = [random.randrange(1, 2 ** random.randrange(1, 34)) for _ in range(3000)]
            for v in values:
                h.record_value(v)
            h.set_start_time_stamp(1441812279474 + 1000 * k)
            h.set_end_time_stamp(1441812280474 + 1000 * k)
            writer.output_interval_histogram(h)
            want.append((k, values, h))
    read = subprocess.run([PROGRAM, "read", log], capture_output=True, text=True)
    rows = [row.split("|") for row in read.stdout.splitlines()]
    check(read.returncode == 0 and len(rows) == 4, f"we read {read.stdout}")
    for (k, values, h), row in zip(want, rows):
        check(abs(float(row[1]) - (1441812279.474 + k)) < 0.002, f"start {row}")
        check(int(row[2]) == len(values), f"count {row}")
        for text, p in zip(row[3:], (0, 50, 99, 100)):
            expect = h.get_value_at_percentile(p)
            check(abs(float(text) - expect) <= 0.005 * expect + 1, f"{k} p{p}: {text}, theirs {expect}")


with tempfile.TemporaryDirectory() as work:
    ours(Path(work))
    theirs(Path(work))
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
