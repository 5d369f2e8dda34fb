#!/usr/bin/env python3
"""Each format of perf_results.h read by the tool it is for.

    formats.py DIR PERF_AB     DIR: what `write DIR` left there (known numbers, hostile names)

Tools that are missing are a failure with CI=true, and named otherwise.
"""
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

where = Path(sys.argv[1])
perf_ab = sys.argv[2] if len(sys.argv) > 2 else None
passed = failed = 0
absent = []
NAMES = {"copy 4 KiB", "duel/baseline", "duel/candidate"}


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}")


def run(*command, text=None, status=0):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f"{command[:4]}: status {done.returncode}\n{done.stdout[-1500:]}"
                                     f"\n{done.stderr[-1500:]}")
    return done.stdout + done.stderr


def need(module):
    try:
        return __import__(module, fromlist=["x"])
    except ImportError:
        absent.append(module)
        return None


def strict(name):
    def twice(pairs):
        keys = [k for k, _ in pairs]
        check(len(keys) == len(set(keys)), f"{name}: the same member twice in {keys}")
        return dict(pairs)

    def constant(text):
        check(False, f"{name}: {text} is no JSON")
    return json.loads((where / name).read_text(encoding="utf-8"), object_pairs_hook=twice,
                      parse_constant=constant)


# ---- our own: the schema, perf-ab, and against each other ----
own = strict("json")
samples = {b["name"]: b["samples"] for b in own["benchmarks"] if "samples" in b}
duel = next(b for b in own["benchmarks"] if b["name"] == "duel")
samples["duel/baseline"], samples["duel/candidate"] = duel["baseline"], duel["candidate"]
hostile = next(n for n in samples if n.startswith("quo"))
check(hostile == 'quo"te \\back\nline\ttab\x01 \ufffd\ufffd( \u00e9 a/b <&> {x="1"} %d', hostile)
check(len(samples["copy 4 KiB"]) == 40 and all(1000 <= x < 1020 for x in samples["copy 4 KiB"]),
      "samples of copy 4 KiB")
check(all(1000 <= a < 1020 and 700 <= b < 720 for a, b in zip(duel["baseline"], duel["candidate"])),
      "pairs of duel")
check(duel["verdict"]["decision"] == "ACCEPT", duel["verdict"])
check(next(b for b in own["benchmarks"] if b["name"] == "broken")["status"] == "no data", "broken")
check(own["runs"][0]["date"] == "2026-11-21T12:00:00Z" and own["runs"][0]["machine"] == 'ma"chine\n1',
      own["runs"])
load = next(s for s in own["scopes"] if s["name"] == "load")
check(load["calls"] == 100 and abs(load["mean"] - 50550) < 1, load)
check(sum(c for _, c in load["buckets"]) == 100, load)
check(abs(load["buckets"][0][0] / 1050 - 1) < 0.016, load["buckets"][0])
queue = next(s for s in own["scopes"] if s["name"] == "queue")
check((queue["min"], queue["max"], queue["last"], queue["calls"]) == (0.5, 50, 50, 100), queue)
jsonschema = need("jsonschema")
if jsonschema:
    root = Path(__file__).resolve().parents[2]
    schema = json.loads((root / "docs" / "perf_results.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema)
    for name in ("json", "memory", "values"):
        errors = [e.message[:200] for e in valid.iter_errors(strict(name))]
        check(not errors, f"{name}: {errors[:3]}")
    broken = strict("json")
    del broken["benchmarks"][0]["name"]
    check(not valid.is_valid(broken), "the schema takes an entry without a name")
    broken = strict("json")
    broken["benchmarks"][0]["samples"][0] = -1
    check(not valid.is_valid(broken), "the schema takes a negative time")
if perf_ab:                             # it wants pairs and single values in files of their own
    for name, part in (("pairs", [duel]), ("single", [b for b in own["benchmarks"] if b.get("samples")])):
        (where / name).write_text(json.dumps(dict(own, benchmarks=part)))
    told = run(perf_ab, str(where / "pairs"), "--accept", "speedup >= 1.3")
    check("duel" in told and "ACCEPT" in told, told)
    for name, names in (("single", {"copy 4 KiB"}), ("google", NAMES),
                        ("go", {"Copy_4_KiB", "Duel/candidate"})):
        told = run(perf_ab, str(where / name), str(where / name), "--accept",
                   "no regression beyond 2 %", status=2)
        for n in names:
            check(n in told, f"perf-ab {name}: no {n} in\n{told}")

# ---- Google Benchmark: compare.py of its own ----
google = strict("google")
for b in google["benchmarks"]:
    check({"name", "run_name", "run_type", "iterations", "real_time", "cpu_time", "time_unit"} <= set(b),
          b)
for name in NAMES:
    got = [b["real_time"] for b in google["benchmarks"]
           if b["run_name"] == name and b["run_type"] == "iteration"]
    check(got == samples[name], f"google: samples of {name}")
copy = next(b for b in google["benchmarks"] if b["name"] == "copy 4 KiB")
check(math.isclose(copy["bytes_per_second"], 4096e9 / copy["real_time"], rel_tol=1e-9), copy)
check(any(b.get("error_occurred") and b["name"] == "broken" for b in google["benchmarks"]), "broken")
for b in google["benchmarks"]:          # items / std would be no rate, and no std of rates
    if b.get("aggregate_name") == "stddev":
        check(not any("per_second" in key for key in b), b)
check(any(b["name"] == "copy 4 KiB_stddev" for b in google["benchmarks"]), "stddev")
compare = Path("/usr/share/benchmark/compare.py")
if not compare.exists():
    absent.append("compare.py (libbenchmark-tools)")
elif need("scipy.stats"):
    ok = [b for b in google["benchmarks"] if not b.get("error_occurred")]
    slow = where / "google_slow.json"
    slow.write_text(json.dumps(dict(google, benchmarks=[dict(b, real_time=b["real_time"] * 1.5,
                                                             cpu_time=b["cpu_time"] * 1.5)
                                                        for b in ok])))
    told = run(sys.executable, str(compare), "--no-color", "-a", "benchmarks", str(where / "google"),
               str(slow))
    row = [line for line in told.splitlines() if line.startswith("copy 4 KiB_pvalue")]
    check(len(row) == 1 and row[0].split()[3] == "0.0000", f"compare.py: {told}")
    row = [line for line in told.splitlines() if line.startswith("copy 4 KiB_median")]
    check(len(row) == 1 and "+0.5000" in row[0], f"compare.py: {told}")

# ---- Go: a reader as strict as the format's description; benchstat where it is installed ----
lines = (where / "go").read_bytes().decode("utf-8").split("\n")
check(lines[-1] == "", "go: the last line ends")
got = {}
for line in lines[:-1]:
    if re.fullmatch(r"[a-z][^\s:A-Z]*: .*", line):
        check(not got, "go: a configuration line behind results")
        continue
    fields = line.split()
    m = re.fullmatch(r"Benchmark([^a-z\s]\S*)?", fields[0])
    check(m and len(fields) % 2 == 0 and re.fullmatch(r"[1-9][0-9]*", fields[1]), line)
    values = dict(zip(fields[3::2], map(float, fields[2::2])))
    check("ns/op" in values, line)
    got.setdefault(m.group(1), []).append(values)
check([v["ns/op"] for v in got["Copy_4_KiB"]] == samples["copy 4 KiB"], "go: samples")
check(len(got) == 4, got.keys())
check(math.isclose(got["Copy_4_KiB"][0]["MB/s"], 4096e3 / samples["copy 4 KiB"][0], rel_tol=1e-9), "MB/s")
if shutil.which("benchstat"):
    check("Copy_4_KiB" in run("benchstat", str(where / "go"), str(where / "go")), "benchstat")
else:
    print("benchstat is not installed (no Debian package): read by our own strict reader only")

# ---- OpenMetrics: promtool, and the strict parser of prometheus_client ----
metrics = (where / "openmetrics").read_text(encoding="utf-8")
series = [re.sub(r" [^ ]*$", "", line) for line in metrics.split("\n") if line and line[0] != "#"]
check(len(set(series)) == len(series), f"a series stands twice: {[s for s in series if series.count(s) > 1][:3]}")
check('perf_scope_seconds_count{scope="load",kind="wait"} 1\n' in metrics, "the wait of that name")
if shutil.which("promtool"):
    told = run("promtool", "check", "metrics", text=metrics)
    check(not told.strip(), f"promtool: {told}")
    run("promtool", "check", "metrics", text=metrics.replace("perf_value{", "perf_value{{"),
        status=1)
else:
    absent.append("promtool (prometheus)")
if need("prometheus_client"):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    families = {f.name: f for f in text_string_to_metric_families(metrics)}
    check({"perf_scope_seconds", "perf_async_seconds", "perf_value", "perf_benchmark_seconds"}
          == set(families), families.keys())
    value = {(s.name, tuple(s.labels.items())): s.value for f in families.values() for s in f.samples}
    bucket = {s.labels["le"]: s.value for s in families["perf_scope_seconds"].samples
              if s.name.endswith("_bucket") and s.labels["scope"] == "load" and "kind" not in s.labels}
    check(bucket["+Inf"] == 100 and 48 <= bucket["0.00005"] <= 51, bucket)
    check(math.isclose(value[("perf_scope_seconds_sum", (("scope", "load"),))], 5.055e-3, rel_tol=1e-6),
          "sum")
    check(value[("perf_value", (("counter", "queue"),))] == 50, "queue")
    check(any(s.labels.get("scope", "").startswith('quo"te \\back\nline?tab?')
              for s in families["perf_scope_seconds"].samples), "hostile label")

if absent:
    print("missing: " + ", ".join(absent))
    if os.environ.get("CI") == "true":
        failed += len(absent)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
