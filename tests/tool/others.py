#!/usr/bin/env python3
"""Files of other tools: what names a benchmark is its identity, nothing is dropped without a word,
what is broken costs its own benchmark, and a refusal names the cause and what would work.

    others.py TOOL
"""
import json
import random
import shutil

from tool import Checks

DICE = random.Random(7)


ASK = ("--random", "--accept", "no regression beyond 50 %")


def noisy(n, middle, spread=0.01):
    return [middle * (1 + spread * DICE.uniform(-1, 1)) for _ in range(n)]


def names_of(c, *args):
    """The benchmarks of a report, by name."""
    status, out, err = c.run(*args, "--json", "-")
    if not c.check(status != 3, f"{args}: {err}"):
        return {}
    report = json.loads(out)
    return {b["name"]: b for b in report["benchmarks"]}


def google(*entries, **context):
    return json.dumps({"context": context, "benchmarks": list(entries)})


def gb(name, times, **more):
    return [{"name": name, "run_name": name, "run_type": "iteration", "iterations": 10, "real_time": t,
             "cpu_time": t, "time_unit": "ns", **more} for t in times]


def identity(c):
    """Parameters, package, arguments."""
    scan = [{"command": "sleep", "times": noisy(6, 0.1 * n), "exit_codes": [0] * 6, "parameters": {"n": str(n)}} for n in (1, 2)]
    file = c.file("scan.json", json.dumps({"results": scan}))
    rows = names_of(c, file, file, "--random")
    c.check(set(rows) == {"sleep (n=1)", "sleep (n=2)"}, f"hyperfine's parameters: {set(rows)}")
    for entry in scan:
        del entry["parameters"]
    file = c.file("twice.json", json.dumps({"results": scan}))
    rows = names_of(c, file, file, "--random")
    c.check(set(rows) == {"sleep", "sleep (2)"}, f"one command twice: {set(rows)}")

    def go(*packages):
        return "".join(f"pkg: {p}\n" + "".join(f"BenchmarkX-8 100 {t:.0f} ns/op\n" for t in noisy(6, m)) for p, m in packages)
    one, both = c.file("one.txt", go(("m/a", 100))), c.file("both.txt", go(("m/b", 900), ("m/a", 100)))
    c.status(0, one, both, *ASK, has="1 only in B, not judged: m/b.X-8")
    c.status(0, one, c.file("none.txt", go(("m/a", 100)).replace("pkg: m/a\n", "goos: linux\n")), *ASK, has="X-8")

    head = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\n"
    def raw(factor):
        return head + "".join(f"sort,quick,{size},,,{factor * size * 100 * k * (1 + DICE.random() / 100)},ns,{k}\n"
                              for size in (10, 1000) for k in range(1, 31))
    a, b = c.file("raw_a.csv", raw(1)), c.file("raw_b.csv", raw(10))
    rows = names_of(c, a, b, "--random", "--accept", "no regression beyond 5 %")
    c.check(set(rows) == {"sort/quick/10", "sort/quick/1000"}, f"criterion's raw.csv: {set(rows)}")
    c.check(all(r["decision"] == "REJECT" and 9 < r["rules"][0]["ratio"]["estimate"] < 11 for r in rows.values()), f"{rows}")
    c.status(1, a, b, "--random", "--accept", "no regression beyond 5 %", has="(criterion)")

    jmh = [{"jmhVersion": "1.37", "benchmark": "org.P.run", "mode": mode, "threads": t, "params": {"size": size},
            "primaryMetric": {"score": 1, "scoreUnit": unit, "rawData": [noisy(3, 12.0), noisy(3, 12.1)]}}
           for mode, unit, t, size in (("avgt", "us/op", 1, "8"), ("avgt", "us/op", 1, "64"), ("ss", "us/op", 1, "8"), ("avgt", "us/op", 4, "8"),
                                       ("thrpt", "ops/us", 1, "8"))]
    file = c.file("jmh.json", json.dumps(jmh))
    rows = names_of(c, file, file)
    c.check(set(rows) == {"org.P.run (size=8)", "org.P.run (size=64)", "org.P.run (size=8, mode=ss)", "org.P.run (size=8, threads=4)"}, f"JMH: {set(rows)}")
    c.check(rows and all(11000 < r["rules"][0]["before"] < 13000 for r in rows.values()), "JMH's us/op as ns")
    rows = names_of(c, file, file, "--metric", "throughput")
    c.check(set(rows) == {"org.P.run (size=8, mode=thrpt)"} and 11e6 < rows.popitem()[1]["rules"][0]["before"] < 13e6, f"JMH's rate: {rows}")
    jmh[0]["primaryMetric"] = {"scoreUnit": "ms/op", "rawDataHistogram": [[[[1.0, 5], [2.0, 5]]], [[[1.5, 4]]]]}
    file = c.file("jmh2.json", json.dumps(jmh[:1]))
    rows = names_of(c, file, file)
    c.check("14 and 14 values" in rows["org.P.run (size=8)"]["rules"][0]["data"], f"JMH's histogram: {rows}")
    jmh[0]["primaryMetric"]["rawDataHistogram"] = [[[[1.0, 2e6]]]]
    c.status(3, c.file("jmh3.json", json.dumps(jmh[:1])), file, has="a million times at most")


def dotnet(job="Job-A", factor=1.0, n=12):
    def one(mode, stage, k, ns):
        return {"IterationMode": mode, "IterationStage": stage, "LaunchIndex": 1, "IterationIndex": k, "Operations": 16, "Nanoseconds": 16 * ns}
    values = noisy(n, 50 * factor)
    return {"FullName": "N.C.M(x: 1)", "DisplayInfo": f"C.M: {job} [x=1]", "Statistics": {"OriginalValues": values},
            "Measurements": [one("Overhead", "Jitting", 1, 9e9), one("Workload", "Warmup", 1, 8e9)] +
                            [one("Workload", "Result", k, v) for k, v in enumerate(values)]}


def readers(c):
    """Formats with single values."""
    file = c.file("net.json", json.dumps({"Title": "t", "Benchmarks": [dotnet(), dotnet("Job-B", 3)]}))
    rows = names_of(c, file, file)
    c.check(set(rows) == {"N.C.M(x: 1)", "C.M: Job-B [x=1]"}, f"two jobs: {set(rows)}")
    c.check(48 < rows["N.C.M(x: 1)"]["rules"][0]["before"] < 52 and "12 and 12 values" in rows["N.C.M(x: 1)"]["rules"][0]["data"], f"{rows}")
    brief = dotnet()
    del brief["Measurements"]
    file = c.file("brief.json", json.dumps({"Benchmarks": [brief]}))
    c.check(48 < names_of(c, file, file)["N.C.M(x: 1)"]["rules"][0]["before"] < 52, "BenchmarkDotNet's brief JSON")
    brief["Statistics"] = None
    c.status(2, c.file("broken.json", json.dumps({"Benchmarks": [brief, dotnet("Job-B")]})), file, has="failed in A")

    folder = c.work / "target" / "criterion" / "sum"
    for run, ns in (("base", 5.0), ("new", 5.5)):
        (folder / run).mkdir(parents=True)
        (folder / run / "sample.json").write_text(json.dumps({"sampling_mode": "Linear", "iters": [10.0 * k for k in range(1, 31)],
                                                              "times": [10.0 * k * v for k, v in zip(range(1, 31), noisy(30, ns))]}))
    rows = names_of(c, folder / "base" / "sample.json", folder / "new" / "sample.json")
    c.check(set(rows) == {"sum"} and 1.08 < rows["sum"]["rules"][0]["ratio"]["estimate"] < 1.12, f"criterion: {rows}")
    # One function in two groups is two benchmarks; benchmark.json knows the names that make no folder.
    for group, ns in (("read", 5.0), ("write", 50.0)):
        for run in ("base", "new"):
            folder = c.work / "target" / "criterion" / group / "all" / run
            folder.mkdir(parents=True)
            (folder / "sample.json").write_text(json.dumps({"iters": [1.0] * 9, "times": [ns] * 9}))
    samples = [c.work / "target" / "criterion" / group / "all" / "new" / "sample.json" for group in ("read", "write")]
    out = c.status(0, "convert", *samples, "--to", "csv") or ""
    c.check({line.split(",")[0] for line in out.splitlines()[1:]} == {"read/all", "write/all"}, f"criterion, two groups: {out}")
    copied = c.work / "before"
    shutil.copytree(c.work / "target" / "criterion", copied)
    out = c.run("convert", copied / "read" / "all" / "new" / "sample.json", "--to", "csv", cwd=copied)[1]
    c.check(out.splitlines()[1].startswith("all,"), f"criterion, folders of another name: {out}")
    for group in ("read", "write"):
        (copied / group / "all" / "new" / "benchmark.json").write_text(json.dumps({"group_id": group, "full_id": f"{group}: \u00e9/all"}))
    kept = json.loads(c.run("convert", *(copied / g / "all" / "new" / "sample.json" for g in ("read", "write")), "--to", "results")[1])
    c.check([b["name"] for b in kept["benchmarks"]] == ["read: \u00e9/all", "write: \u00e9/all"], f"criterion, benchmark.json: {kept}")
    for broken in ("", "[]", '{"full_id": 3}'):
        (copied / "read" / "all" / "new" / "benchmark.json").write_text(broken)
        out = c.run("convert", copied / "read" / "all" / "new" / "sample.json", "--to", "csv")[1]
        c.check(out.splitlines()[1].startswith("all,"), f"criterion, benchmark.json is {broken!r}: {out}")

    pytest = {"machine_info": {"node": "host"}, "datetime": "2026-01-01T00:00:00+00:00", "benchmarks": [
        {"name": "test_a[1]", "fullname": "t.py::test_a[1]", "stats": {"data": noisy(12, 1e-3)}},
        {"name": "test_a[2]", "fullname": "t.py::test_a[2]", "stats": {"mean": 1.0}}]}
    file = c.file("pytest.json", json.dumps(pytest))
    out = c.status(2, file, file, has="1.00")
    c.check("t.py::test_a[2]: refused in A" in out and "--benchmark-save-data" in out, f"without its data: {out}")

    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "samples"]
    asv = {"result_columns": columns, "params": {"machine": "m"}, "results": {
        "b.T.time_x": [[1e-6, 2e-6, None, float("nan")], [["1", "2"], ["'a'", "'b'"]], "v", 1795628892904, 1.0, None,
                       [noisy(10, 1e-6), noisy(10, 2e-6), None, None]],
        "b.T.mem_x": [[800], [], "v", 1795628892904, 1.0], "b.T.time_gone": [None, [], "v"], "b.T.track_x": [[0], [], "v"]}}
    file = c.file("asv.json", json.dumps(asv))
    rows = names_of(c, file, file)
    c.check(set(rows) == {"b.T.time_x(1, 'a')", "b.T.time_x(1, 'b')", "b.T.time_x(2, 'a')", "b.T.time_gone", "b.T.track_x"}, f"asv: {set(rows)}")
    c.check(990 < rows["b.T.time_x(1, 'a')"]["rules"][0]["before"] < 1010, f"asv's seconds: {rows}")
    out = c.status(2, file, file, has="'b.T.time_x(2, 'b')', skipped in A and B")
    c.check("failed in A" in out and "--record-samples" in out, f"asv: what is not there: {out}")
    c.status(2, file, file, "--metric", "memory", has="800 B")

    xml = c.file("catch2.xml", '<?xml version="1.0"?><Catch2TestRun name="t">\n<!-- <mean value="7"/> -->\n<TestCase name="a &amp; &lt;b>">'
                 '<Section name="s"><BenchmarkResults name="x" samples="20">\n<mean value="12.5" lowerBound="1"/></BenchmarkResults></Section>'
                 '<BenchmarkResults name="y"><failed message="boom"/></BenchmarkResults></TestCase></Catch2TestRun>')
    rows = names_of(c, xml, xml)
    c.check(set(rows) == {"a & <b>/s/x", "a & <b>/y"} and rows["a & <b>/s/x"]["rules"][0]["before"] == 12.5, f"Catch2: {rows}")
    c.status(2, xml, xml, has="boom")
    c.status(3, c.file("other.xml", "<html></html>"), xml, has="XML without a benchmark of Catch2")


def go_text(c):
    """Logs, failures, units."""
    log = c.file("log.txt", "goos: linux\nBenchmarkA-8            2024/01/01 10:00:00 started\n 1000        1200 ns/op\n"
                 "BenchmarkA-8            1000        1210 ns/op\nBenchmarkB\nBenchmarkB-8            1000        1e+03 ns/op     NaN widgets/op   +Inf x/op\n"
                 "--- FAIL: BenchmarkF-8\n    x_test.go:9: boom\n--- BENCH: BenchmarkG-8\n    x_test.go:9: hello\n"
                 "BenchmarkH-8            1000        1.5 \u00b5s/op\nBenchmarkL-8 a log line\nsome logBenchmarkM-8 10 12 ns/op\nFAIL\tx [build failed]\n")
    rows = names_of(c, log, log)
    c.check(set(rows) == {"A-8", "B-8", "F-8", "H-8", "L-8"}, f"{set(rows)}")
    c.check("2 and 2 values" in rows["A-8"]["rules"][0]["data"], f"a log line took a value: {rows['A-8']}")
    c.check(rows["H-8"]["rules"][0]["before"] == 1500, f"microseconds: {rows['H-8']}")
    out = c.status(2, log, log, has="F-8: failed in A: ")
    for text in ("log.txt:7:11: x_test.go:9: boom", "figures in a line that does not begin with Benchmark", "FAIL\tx [build failed]".replace("\t", "?")):
        c.check(text in out, f"does not say '{text}': {out}")
    lost = c.file("lost.txt", "BenchmarkA-8 100 12 ns/op\nBenchmarkL-8 a log line\nBenchmarkA-8 100 12 ns/op\n")
    c.status(2, lost, lost, has="lost.txt:2:1: a name without its figures")

    events = []
    for package, value in (("x", 1200), ("y", 90)):
        for k in range(6):
            events += [{"Action": "output", "Package": package, "Test": "BenchmarkA", "Output": text}
                       for text in ("BenchmarkA-8 \t", f" 1000\t {value + k} ns/op\n")]
        events.append({"Action": "output", "Package": package, "Output": "PASS\n"})
    mixed = [e for pair in zip(events[:13], events[13:]) for e in pair]        # packages run side by side
    file = c.file("events.json", "\n".join(map(json.dumps, [{"Action": "start", "Package": "x"}] + mixed)) + "\n")
    rows = names_of(c, file, file)
    c.check(set(rows) == {"x.A-8", "y.A-8"} and rows["y.A-8"]["rules"][0]["before"] == 92.5, f"go test -json: {rows}")
    mixed[4]["Output"] = "BenchmarkZ-8 10 -5 ns/op\n"
    out = c.status(2, c.file("events2.json", "\n".join(map(json.dumps, mixed))), file, has="events2.json:5:1: negative")
    c.status(3, c.file("events3.json", json.dumps(mixed[0]) + "\n{x\n"), file, has="events3.json:2:1: an event of go test -json that is no JSON")

    zero = c.file("zero.txt", "BenchmarkA-8 100 12 ns/op 0 faults\nBenchmarkA-8 100 12 ns/op 3 faults\nBenchmarkA-8 100 12 ns/op 0 faults\n")
    c.status(2, zero, zero, "--value", "faults", "--random", has="0 faults")
    c.status(3, c.file("frac.txt", zero.read_text().replace(" 3 ", " 0.3 ")), zero, "--value", "faults", has="0 beside fractions")
    units = c.file("units.txt", "BenchmarkA 1 100 total-bytes 5 user-ns/op\n")
    c.status(3, units, units, has="there are: total-bytes, user-ns/op (--value UNIT)")


def broken(c):
    """A bad row costs its own benchmark; good ones beside it are judged."""
    good = gb("BM_b", noisy(8, 5))
    a = c.file("a.json", google(*good))
    for what, entries, says in (
            ("zero", gb("BM_empty", [0.0]), "refused in A"), ("text", gb("BM_t", ["1"]), 'expected a number called "real_time"'),
            ("failed", gb("BM_f", [0.0], error_occurred=True, error_message="out of memory"), "failed in A: "),
            ("message", gb("BM_f", [0.0], error_occurred=True, error_message="out of memory"), "out of memory"),
            ("aggregates", [{"name": "BM_m_mean", "run_name": "BM_m", "run_type": "aggregate", "real_time": 5.0}], "only aggregates")):
        file = c.file(f"{what}.json", google(*entries, *good))
        for args in ((file, file), (file, a)):
            rows = names_of(c, *args, *ASK)
            c.check(rows.get("BM_b", {}).get("decision") == "ACCEPT", f"{what}: {rows}")
            c.status(2, *args, *ASK, has=says)
        c.status(0, a, file, *ASK, has="1 only in B, not judged: BM_")
    two = c.file("two.json", google(*gb("BM_f", noisy(8, 7)), *good))
    out = c.status(2, two, c.file("lost.json", google(*gb("BM_f", [0.0], error_occurred=True, error_message="out of memory"), *good)),
                   *ASK, has="BM_f: failed in B: ")
    c.check("out of memory" in out and "missing" not in out, f"{out}")
    c.status(0, a, two, *ASK, has="1 only in B, not judged: BM_f")
    skip = c.file("skip.json", google(*gb("BM_g", [0.0], skipped=True, skip_message="no GPU"), *good))
    c.status(0, skip, skip, *ASK, has="'BM_g', skipped in A and B")
    fit = [{"name": "BM_a_BigO", "cpu_coefficient": 1.2, "big_o": "N"}, {"name": "BM_a_RMS", "rms": 2e-2}]
    file = c.file("fit.json", google(*good, *fit))
    c.status(0, file, file, *ASK, has="a fitted complexity, which is no measurement (2 of them)")
    text = google(*[dict(e, ratio=1.25) for e in good]).replace("1.25", "-nan", 1).replace("1.25", "inf", 1).replace("1.25", "Infinity")
    file = c.file("nan.json", text)
    c.status(0, file, file, *ASK)
    file = c.file("nantime.json", google(*good, *gb("BM_n", [1.25])).replace("1.25", "NaN"))
    c.status(2, file, file, *ASK, has="not a finite number")

    rows = [f"good,{v}" for v in noisy(8, 5)] + ["bad,fast", "bad,3"]
    file = c.file("bad.csv", "name,value\n" + "\n".join(rows) + "\nshort\n")
    out = c.status(2, file, file, *ASK, has="bad: refused in A: ")
    c.check("bad.csv:10:5: expected a number: 'fast'" in out and "short: refused" in out, f"{out}")
    file = c.file("more.csv", "name,threads,value,seed\n" + "".join(f"x,{k},{v},1\n" for k, v in enumerate(noisy(8, 5))))
    c.status(2, file, file, has="more.csv:1:6: columns that are not used: threads, seed")
    for option in (("--quiet",), ("--csv", "-")):
        _, out, err = c.run(file, file, *option)
        c.check("threads, seed" in err, f"{option}: no word of what is not used: {out}{err}")
    mixed = c.file("mixed.json", json.dumps({"benchmarks": [{"metadata": {"name": "p"}, "runs": [{"values": noisy(8, 1)}]},
                                                            {"metadata": {"name": "q"}, "runs": [{"values": [1, -1]}]}]}))
    c.status(2, mixed, mixed, *ASK, has="q: refused in A: ")
    c.status(0, "merge", mixed, "-o", c.work / "merged.json", has="not merged: 'q'")
    c.check([b["name"] for b in json.loads((c.work / "merged.json").read_text())["benchmarks"]] == ["p"] * 1, "merged a broken one")


REFUSED = [
    ("hyperfine's CSV", "command,mean,stddev,median,user,system,min,max\nsleep 0.1,0.1,0.002,0.1,0.001,0.001,0.1,0.12\n", "--export-json"),
    ("JMH's CSV", '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n"x","avgt",1,5,1.0,0.1,"us/op"\n', "-rf json"),
    ("BenchmarkDotNet's CSV", "Method,Job,Mean,Error\nM,Job-A,1 ns,1 ns\n", "--exporters fulljson"),
    ("pytest-benchmark's CSV", "name,min,max,mean,stddev\ntest_a,1,2,1.5,0.1\n", "--benchmark-json"),
    ("Catch2's text", "benchmark name                       samples       iterations    estimated\nx 20 21369 2.1 ms\n", "-r xml"),
    ("cargo bench", "running 1 test\ntest a ... bench:       1,234 ns/iter (+/- 56)\n", "criterion's sample.json or raw.csv"),
    ("data.js", "window.BENCHMARK_DATA = {\n}\n", "no single values"),
    ("vitest", json.dumps({"files": [{"filepath": "x", "groups": []}]}), "vitest's format is not read"),
    ("estimates.json", json.dumps({"mean": {}, "median": {}, "median_abs_dev": {}, "slope": {}}), "sample.json"),
    ("perf stat -x", "12.34,msec,task-clock,12340000,100.00,0.9,CPUs utilized\n5,,context-switches,1,100.00,,\n", "perf-ab run measures commands"),
    ("perf stat -x;", "12,34;msec;task-clock;12340000;100,00;0,9;CPUs utilized\n", "perf-ab run measures commands"),
    ("joined by cat", google(*gb("x", [1.0])) + "\n" + google(*gb("x", [1.0])), "a second JSON document in one file"),
    ("behind a log", 'Running "x"\n' + google(*gb("x", [1.0])), "JSON begins in line 2: remove what stands before it"),
    ("behind a quote", '"Running"x\n' + google(*gb("x", [1.0])), "JSON begins in line 2: remove what stands before it"),
]


def refused(c):
    good = c.file("good.txt", "5\n" * 8)
    for what, text, says in REFUSED:
        c.status(3, c.file(what, text), good, has=says)
    for name in ("pytest", "jmh", "benchmarkdotnet", "asv", "catch2"):
        c.status(3, good, good, "--format", name, has="good.txt:1:")


def linear(c):
    """The work grows as the number of entries: twice the entries, about twice the instructions of a reader.

    Counted in output of the tool itself would be exact; times of ten and of hundred thousand characters
    differ by more than any noise where a reader is quadratic, so a bound of 8 for 4 times the entries is safe.
    """
    import resource
    makers = {
        "hyperfine": lambda n: json.dumps({"results": [{"command": f"c{i}", "times": [1.5, 1.6]} for i in range(n)]}),
        "pyperf": lambda n: json.dumps({"benchmarks": [{"metadata": {"name": f"b{i}"}, "runs": [{"values": [1.5, 1.6]}]} for i in range(n)]}),
        "refused": lambda n: google(*[e for i in range(n) for e in gb(f"b{i}", [0.0 if i else 1.0])]),
        "runs": lambda n: "name,run,value\n" + "".join(f"b,{(i * 7919) % 5000},1.5\n" for i in range(10 * n)),
        "go": lambda n: "".join(f"BenchmarkX{i}-8 100 {0 if i else 5} ns/op\n" for i in range(n)),
        "skipped": lambda n: google(*gb("b", [1.0]), *[e for i in range(n) for e in gb(f"b{i}", [0.0], skipped=True, skip_message=str(i))]),
    }
    for name, make in makers.items():
        spent = []
        for n in (2500, 10000):
            file = c.file("many", make(n))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            c.status(2, file, file, "--quiet")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime - before.ru_utime)
        c.check(spent[1] < 9 * spent[0] + 0.2, f"{name}: processor time {spent[0]:.2f} s for 2,500 entries, {spent[1]:.2f} for 10,000")


def main():
    c = Checks("others")
    for part in (identity, readers, go_text, broken, refused, linear):
        part(c)
    c.finish()


main()
