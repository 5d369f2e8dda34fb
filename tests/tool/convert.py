#!/usr/bin/env python3
"""perf-ab convert: what it writes is read back with the same values, by perf-ab and, where they are
installed, by the libraries of others.

    convert.py TOOL
"""
import json
import random

from tool import DATA, Checks

DICE = random.Random(5)


def results(name, runs, scopes=()):
    return json.dumps({"perf_results": 1, "runs": [{"run": str(k), "machine": "box", "time": 1795600000 + k} for k in range(runs)],
                       "benchmarks": [{"name": n, "unit": unit, "run": str(k), "samples": [
                           round(scale * (1 + DICE.random()), 3) for _ in range(5)]}
                           for k in range(runs) for n, unit, scale in ((name, "ns", 100), ("rate of it", "B/s", 5e6), (name, "B", 4096))],
                       "scopes": [dict(s, run=str(k)) for k in range(runs) for s in scopes]})


def values(c, file, *options):
    """All values that perf-ab reads, by name."""
    out = c.work / "read.json"
    c.status(0, "convert", file, "--to", "results", "-o", out, *options)
    found = {}
    for b in json.loads(out.read_text())["benchmarks"]:
        found.setdefault((b["name"], b["unit"]), []).extend(b.get("samples", []) or b.get("baseline", []) + b.get("candidate", []))
    return found


def measurements(c):
    file = c.file("a.json", results("copy \u00e9 4 KiB", 3))
    want = values(c, file)
    c.check(sorted(map(len, want.values())) == [15, 15, 15], f"{want}")
    for to in ("results", "google", "go"):
        out = c.work / f"out.{to}"
        said = c.status(0, "convert", file, "--to", to, "-o", out)
        got = values(c, out)
        times = {k: v for k, v in want.items() if k[1] == "ns"}
        if to == "google":
            c.check(got == times, f"Google: {got} not {times}")
            c.check("2 benchmarks whose figures are no times" in said, f"{said}")
            c.check(json.loads(out.read_text())["context"]["host_name"] == "box", "the machine is lost")
        elif to == "go":
            lines = out.read_text().splitlines()
            c.check(len(lines) == 45 and all(" " not in line.split("\t")[0] for line in lines), f"{lines[:3]}")
            c.check(got.get(("Copy_\u00e9_4_KiB", "ns")) == times[("copy \u00e9 4 KiB", "ns")], f"Go: {got}")
        else:
            c.check(got == want, f"results: {got}")
    c.status(0, "convert", file, "--to", "csv", has="copy \u00e9 4 KiB,ns,0,")
    pairs = values(c, DATA / "results_pairs.json")
    out = c.status(0, "convert", DATA / "results_pairs.json", "--to", "go", has="BenchmarkCopy/candidate")
    c.check(out.count("ns/op") == len(pairs[("copy", "ns")]), out)
    for name in ("google_a.json", "go_a.txt", "hyperfine.json", "pyperf_a.json", "pytest.json", "jmh.json", "asv.json", "catch2.xml", "raw.csv"):
        c.status(0, "convert", DATA / name, "--to", "go", has="Benchmark")
    hostile = c.file("hostile.json", results("a\u009b2J\"\\ =1", 1))
    for to in ("results", "google", "go", "csv", "openmetrics"):
        out = c.status(0, "convert", hostile, "--to", to)
        c.check("\u009b" not in out, f"{to}: a control character got through")
        if to in ("results", "google"):
            c.status(0, "convert", hostile, "--to", to, "-o", c.work / "hostile.out")
            json.loads((c.work / "hostile.out").read_text())
    # Names that CSV would take for a comment, or lose blanks of; dates that are none; a rate beyond all numbers.
    odd = c.file("odd.json", json.dumps({"perf_results": 1, "benchmarks": [
        {"name": n, "unit": "ns", "samples": [1]} for n in ("#1", " x", "y ", "z")]}))
    c.status(0, "convert", odd, "--to", "csv", "-o", c.work / "odd.csv")
    c.check([n for n, _ in values(c, c.work / "odd.csv")] == ["#1", " x", "y ", "z"], (c.work / "odd.csv").read_text())
    late = c.file("late.json", json.dumps({"date": 1e300, "params": {"machine": "m"}, "result_columns": ["result", "params"],
                                           "results": {"time_x": [[0.5], []]}}))
    c.status(0, "convert", late, "--to", "google", has='"date": ""')
    rates = [{"benchmark": f"o.{n}", "mode": "thrpt", "primaryMetric": {"scoreUnit": "ops/us", "rawData": [[x, 2]]}}
             for n, x in (("good", 1), ("huge", 1e308))]
    out = c.status(0, "convert", c.file("huge.json", json.dumps(rates)), "--to", "csv", has="'o.huge (mode=thrpt)'")
    c.check("out of range" in out and "null" not in out and "o.good (mode=thrpt),ops/s,1,1000000" in out, out)
    mixed = c.file("mixed.json", json.dumps({"benchmarks": [{"name": "a", "real_time": 1}, {
        "name": "b_mean", "run_name": "b", "run_type": "aggregate", "real_time": 1}]}))
    for args in ("convert", mixed, "--to", "csv"), ("merge", mixed), ("history", mixed):
        c.status(0, *args, has="'b': ")
    for empty in ({"machine_info": {}, "benchmarks": [{"fullname": "t::a", "stats": {"data": []}}, {"fullname": "t::b", "stats": {"data": [1]}}]},
                  {"results": [{"command": "t::a", "times": []}, {"command": "t::b", "times": [1]}]}):
        for args in ("--to", "csv"), ("--to", "results"):
            c.status(0, "convert", c.file("empty.json", json.dumps(empty)), *args, has="not converted: 't::a': it has no values")
    # Names that are one word to Go stay apart, and each has its own in all runs.
    alike = c.file("alike.csv", "name,unit,run,value\ncopy,ns,1,5\nCopy,ns,1,7\na b,ns,1,2\na_b,ns,1,3\ncopy,ns,2,6\nCopy,ns,2,8\n")
    out = c.status(0, "convert", alike, "--to", "go").splitlines()
    c.check([tuple(line.split()[::2]) for line in out] == [("BenchmarkCopy", "5"), ("BenchmarkCopy", "6"), ("BenchmarkCopy#01", "7"),
            ("BenchmarkCopy#01", "8"), ("BenchmarkA_b", "2"), ("BenchmarkA_b#01", "3")], f"{out}")
    # Time, memory and a rate of one name come back from CSV apart; a comparison takes those it asks for.
    kinds = c.file("kinds.json", json.dumps({"perf_results": 1, "benchmarks": [
        {"name": "copy", "unit": unit, "run": "1", "samples": [x, x + 1, x + 2]} for unit, x in (
            ("ns", 5), ("B", 4096), ("MB/s", 7), ("frames", 2))] + [{"name": "x", "unit": "ns", "run": "1", "samples": [3]}]}))
    back = c.work / "kinds.csv"
    c.status(0, "convert", kinds, "--to", "csv", "-o", back)
    both = [json.loads(c.run("convert", file, "--to", "results")[1] or "{}").get("benchmarks") for file in (kinds, back)]
    c.check(both[0] == both[1] and len(both[0]) == 5, f"{both}")
    back.write_text("".join(line for line in back.read_text().splitlines(True) if "frames" not in line))
    for metric, before, names in (("time", 6, ["copy", "x"]), ("memory", 4097, ["copy"]), ("throughput", 8, ["copy"])):
        report = json.loads(c.status(2, back, back, "--metric", metric, "--json", "-") or "{}").get("benchmarks", [])
        if c.check([row["name"] for row in report] == names, f"{metric}: {report}"):
            c.check([rule["before"] for rule in report[0]["rules"]] == [before], f"{metric}: {report[0]}")
    c.status(3, c.file("frames.csv", "name,unit,value\nx,ns,1\nx,frames,1\n"), back, has="another unit than above for the same")
    # The sides of a pair are no other benchmark's, whatever that is called.
    duel = c.file("duel.json", json.dumps({"perf_results": 1, "benchmarks": [{"name": "x", "unit": "ns", "baseline": [5], "candidate": [3]}]}))
    alone = c.file("alone.json", json.dumps({"perf_results": 1, "benchmarks": [{"name": "x/baseline", "unit": "ns", "samples": [9]}]}))
    for to, mark in (("csv", "x{},ns"), ("go", "BenchmarkX{}\t"), ("google", '"run_name": "x{}"'), ("openmetrics", 'benchmark="x{}"}}')):
        out = c.status(0, "convert", duel, alone, "--to", to)
        c.check([out.count(mark.format(s)) for s in ("/baseline", "/candidate", "/baseline-2")] == [1, 1, 1], f"{to}: {out}")
    old = c.file("old.json", "old\n")
    c.status(3, "convert", "nowhere.json", "--to", "go", "-o", old, has="cannot be opened")
    c.check(old.read_text() == "old\n", "the old file is gone")


def openmetrics(c):
    scope = {"name": "de\"code", "kind": "scope", "calls": 30, "total": 60000.0, "max": 9000.0, "buckets": [[1000.0, 20], [4000.0, 10]]}
    file = c.file("s.json", results("x", 2, [scope, dict(scope, name="later", kind="async"), dict(scope, kind="wait")]))
    text = c.status(0, "convert", file, "--to", "openmetrics")
    c.check(text.rstrip().splitlines()[-2 if "perf-ab:" in text else -1] == "# EOF", text[-300:])
    for line in ('perf_scope_seconds_bucket{scope="de\\"code",le="1e-06"} 40', 'perf_scope_seconds_count{scope="de\\"code"} 60',
                 'perf_scope_seconds_bucket{scope="de\\"code",le="+Inf"} 60', 'perf_async_seconds_count{scope="later"} 60',
                 'perf_scope_seconds_bucket{scope="de\\"code",kind="wait",le="+Inf"} 60',
                 'perf_scope_seconds_sum{scope="de\\"code",kind="wait"} '):
        c.check(line in text, f"no '{line}' in {text[:1500]}")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("not tried: prometheus-client is not installed")
        return
    families = list(text_string_to_metric_families(text[:text.index("# EOF")] + "# EOF\n"))
    c.check({f.name for f in families} == {"perf_scope_seconds", "perf_async_seconds", "perf_benchmark_seconds"}, f"{families}")


# One interval of 1,000 values of 1000 ns, V2 encoding, two digits, written by perf_hlog_text.
def histograms(c):
    lines = (c.work / "one.hlog")
    made = c.work / "make.c"
    made.write_text('#include "perf_hlog.h"\n#include <stdio.h>\nint main(void){static perf_hist h; static char t[65536];'
                    'perf_hlog_interval iv; memset(&iv,0,sizeof iv); iv.start_seconds=100; iv.length_seconds=2; int i;'
                    'for(i=1;i<=1000;i++) perf_hist_add(&h,(uint64_t)i*1000); fputs(PERF_HLOG_HEADER,stdout);'
                    'if(perf_hlog_text(t,sizeof t,&h,&iv)) fputs(t,stdout); iv.start_seconds=102; if(perf_hlog_text(t,sizeof t,&h,&iv)) fputs(t,stdout); return 0;}')
    import shutil
    import subprocess
    from tool import ROOT
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler or subprocess.run([compiler, "-I", ROOT, made, "-o", c.work / "make"], capture_output=True).returncode:
        print("not tried: no compiler")
        return
    lines.write_bytes(subprocess.run([c.work / "make"], capture_output=True).stdout)
    out = c.status(0, "convert", lines, "--to", "percentiles", has="count 2000")
    middle = [line.split() for line in out.splitlines() if " 0.5000000000 " in line]
    c.check(middle and abs(float(middle[0][0]) - 500000) < 5000, f"{out}")
    c.status(0, "convert", lines, lines, "--to", "percentiles", has="count 4000")
    c.status(0, "convert", lines, "--to", "bars", has="p50")
    c.status(0, "convert", lines, "--to", "prometheus", "--name", "latency", has="# EOF")
    c.status(3, "convert", lines, "--to", "prometheus", "--name", "4 x", has="no name of a metric")
    otlp = json.loads(c.status(0, "convert", lines, "--to", "otlp", "--name", "latency", "--unit", "ns"))
    c.check("2000" in json.dumps(otlp), f"{otlp}")
    otlp = json.loads(c.status(0, "convert", lines, "--to", "otlp", "--name", 'a "b"\\ \u00e9', "--unit", "{call}"))
    metric = otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]
    c.check((metric["name"], metric["unit"]) == ('a "b"\\ \u00e9', "{call}"), f"{metric}")
    c.check(sum(map(int, metric["exponentialHistogram"]["dataPoints"][0]["positive"]["bucketCounts"])) == 2000, f"{metric}")
    c.status(3, "convert", c.file("bad.hlog", lines.read_text().replace(",HISTF", ",XXXX")), "--to", "bars", has="line of a histogram log")
    c.status(3, "convert", c.file("none.hlog", "#[comment]\n"), "--to", "bars", has="no interval of a histogram log")


def main():
    c = Checks("convert")
    measurements(c)
    openmetrics(c)
    histograms(c)
    own = c.file("own.csv", "name,value\nx,1\n")
    c.status(3, "convert", own, "--to", "csv", "-o", "./own.csv", has="would replace the measurements")
    c.check(own.read_text() == "name,value\nx,1\n", "convert has replaced its input")
    c.status(3, "convert", "--to", "go", has="nothing to convert")
    c.status(3, "convert", "x", has="--to google, go")
    c.status(3, "convert", "x", "--to", "pdf", has="not 'pdf'")
    c.status(3, "convert", "x", "--to", has="its value is missing")
    c.finish()


main()
