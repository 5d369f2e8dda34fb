#!/usr/bin/env python3
"""Do OpenTelemetry's and Prometheus's own packages read the histograms that we write, and find the
same counts and percentiles?      collectors.py PROGRAM (see peer.c)      77: a package is missing"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)

passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAILED:", what)


def near(x, want, relative):
    return abs(x - want) <= relative * abs(want) + 1e-12


def quantile(buckets, zeros, q):
    """buckets: (lower, upper, count) in ascending order"""
    want = q * (zeros + sum(b[2] for b in buckets))
    for lower, upper, n in buckets:
        zeros += n
        if zeros >= want:
            return lower, upper
    return None


def compare(name, buckets, zeros, count, p50, p99, lowest, highest):
    check(zeros + sum(b[2] for b in buckets) == count, f"{name}: counts")
    check(zeros == count // 100, f"{name}: {zeros} zeros")
    check(0 < len(buckets) <= 160, f"{name}: {len(buckets)} buckets")
    for q, value in ((0.5, p50), (0.99, p99)):
        low, high = quantile(buckets, zeros, q)
        check(low * 0.999 < value <= high * 1.001, f"{name}: p{100 * q} {value} in ({low}, {high}]")
    first, last = ([b for b in buckets if b[2]][k] for k in (0, -1))
    check(first[1] >= lowest, f"{name}: lowest {lowest} in {first}")
    check(last[0] < highest <= last[1] * 1.001, f"{name}: highest {highest} in {last}")


with tempfile.TemporaryDirectory() as work:
    run = subprocess.run([sys.argv[1], "collect", work], capture_output=True, text=True, check=True)
    count, total, least, p50, p99, most = (float(x) for x in run.stdout.split())

    request = json_format.Parse(Path(work, "otlp.json").read_text(), ExportMetricsServiceRequest())
    metric = request.resource_metrics[0].scope_metrics[0].metrics[0]
    point = metric.exponential_histogram.data_points[0]
    check(metric.name == 'a "b"\\' and metric.unit == "us", f"name {metric.name}, unit {metric.unit}")
    check(point.start_time_unix_nano == 1441812279474000000, "start")
    check(point.count == count and near(point.sum, total, 1e-9), "count and sum")
    check(point.min == least and near(point.max, most, 1e-9), "extremes")
    base, offset = 2.0 ** 2.0 ** -point.scale, point.positive.offset
    buckets = [(base ** (offset + i), base ** (offset + i + 1), n)
               for i, n in enumerate(point.positive.bucket_counts)]
    compare("OpenTelemetry", buckets, point.zero_count, count, p50, p99, 1.5, most)

    family, = text_string_to_metric_families(Path(work, "prometheus.txt").read_text())
    h = family.samples[0].native_histogram
    check(family.name == "latency_us" and family.type == "histogram", "name and type")
    check(h.count_value == count and near(h.sum_value, total, 1e-9), "count and sum")
    check(-4 <= h.schema <= 8, f"schema {h.schema}")
    base, index, n, deltas, buckets = 2.0 ** 2.0 ** -h.schema, 0, 0, list(h.pos_deltas), []
    for span in h.pos_spans:
        index += span.offset
        for _ in range(span.length):
            n += deltas.pop(0)
            buckets.append((base ** (index - 1), base ** index, n))
            index += 1
    check(not deltas, "as many deltas as buckets")
    compare("Prometheus", buckets, h.zero_count, count, p50, p99, 1.5, most)

    rows = Path(work, "bars.txt").read_text().splitlines()[1:]
    check(abs(sum(float(row[14:20]) for row in rows) - 100) < 1, "shares of the bars")
    check(any(" p50" in row for row in rows) and any(" p99" in row for row in rows), "marks")
    check(all(len(row) <= 80 for row in rows), "no row is wider than asked for")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
