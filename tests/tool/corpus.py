#!/usr/bin/env python3
"""Files that the real tools write here and now: all of their benchmarks are read, none is invented.

    corpus.py TOOL [PYTHON]

PYTHON has pytest-benchmark, pyperf and asv (tests/python.txt).  A tool that is not installed is
named; where none is, the test is skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from tool import ROOT, Checks

WORLD = dict(os.environ, HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1", GIT_CONFIG_GLOBAL="/dev/null")


class Missing(Exception):
    """The tool that writes the files is not there."""


def call(c, *args, **more):
    more.setdefault("cwd", c.work)
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=280, env=WORLD,
                          stdin=subprocess.DEVNULL, **more)
    return done


def written(c, what, done, *files):
    """Those files are there."""
    lacking = [f for f in files if not (c.work / f).exists() or not (c.work / f).stat().st_size]
    return c.check(not lacking, f"{what} wrote no {lacking}: {done.stdout[-500:]} {done.stderr[-1500:]}")


def python_with(module):
    candidates = sys.argv[2:3] + [str(ROOT / "build-python" / "bin" / "python3"), sys.executable]
    for python in candidates:
        if shutil.which(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    raise Missing(f"{module} (tests/python.txt)")


def rows_of(c, a, b, *options):
    status, out, err = c.run(a, b, *options, "--json", "-")
    if not c.check(status in (0, 1, 2), f"{a}, {b}: {status} {err}"):
        return {}, err
    report = json.loads(out)
    return {r["name"]: r for r in report["benchmarks"]}, out + err


def expect(c, what, rows, names, data=None):
    c.check(set(rows) == set(names), f"{what}: {sorted(rows)}, not {sorted(names)}")
    for name, row in rows.items():
        if row["rules"] and data:
            c.check(row["rules"][0]["data"].startswith(data), f"{what}: {name}: {row['rules'][0]['data']}")
        if row["rules"]:
            c.check(0 < row["rules"][0]["before"] < 1e9, f"{what}: {name}: {row['rules'][0]['before']} ns")


def pytest_benchmark(c):
    python = python_with("pytest_benchmark")
    c.file("test_sums.py", '''import pytest

@pytest.mark.parametrize("n", [10, 1000])
def test_sum(benchmark, n):
    benchmark.pedantic(lambda: sum(range(n)), rounds=12, iterations=10)

def test_skipped(benchmark):
    pytest.skip("no device")
''')
    for name in ("a.json", "b.json"):
        done = call(c, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sums.py", f"--benchmark-json={name}")
    written(c, "pytest-benchmark", done, "a.json", "b.json")
    rows, _ = rows_of(c, "a.json", "b.json")
    expect(c, "pytest-benchmark", rows, ["test_sums.py::test_sum[10]", "test_sums.py::test_sum[1000]"], "12 and 12 values")


def pyperf(c):
    python = python_with("pyperf")
    script = c.file("sums.py", '''import pyperf
runner = pyperf.Runner(processes=2, values=3, warmups=1, min_time=0.001)
runner.timeit("sum 10", "sum(range(10))")
runner.timeit("sum 1000", "sum(range(1000))")
''')
    for name in ("pa.json", "pb.json"):
        done = call(c, python, script, "-o", name)
    written(c, "pyperf", done, "pa.json", "pb.json")
    rows, _ = rows_of(c, "pa.json", "pb.json")
    expect(c, "pyperf", rows, ["sum 10", "sum 1000"])


ASV = '''class TimeSuite:
    params = [[10, 1000], ["a", "b"]]
    param_names = ["n", "s"]
    number, repeat = 10, 5
    def setup(self, n, s):
        if n == 1000 and s == "b":
            raise NotImplementedError
    def time_sum(self, n, s):
        sum(range(n))

class Others:
    number, repeat = 10, 5
    def time_len(self):
        len("abc")
    def time_broken(self):
        raise ValueError
    def peakmem_list(self):
        return [0] * 100000
'''


def asv(c):
    python = python_with("asv")
    if not shutil.which("git"):
        raise Missing("git, which asv needs")
    project = c.work / "project"
    (project / "benchmarks").mkdir(parents=True)
    (project / "benchmarks" / "__init__.py").write_text("")
    (project / "benchmarks" / "sums.py").write_text(ASV)
    (project / "asv.conf.json").write_text(json.dumps({
        "version": 1, "project": "x", "project_url": "", "repo": ".", "environment_type": "existing",
        "benchmark_dir": "benchmarks", "results_dir": "results", "html_dir": "html"}))
    for args in (["init", "-q", "."], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"]):
        call(c, "git", *args, cwd=project)
    commit = call(c, "git", "rev-parse", "HEAD", cwd=project).stdout.strip()
    machine = ["--machine", "here"]
    config = pathlib.Path(c.work / "home")
    config.mkdir()
    world = dict(WORLD, HOME=str(config))
    for args in (["machine", "--yes", *machine], ["run", "--python=same", "--record-samples", "--set-commit-hash", commit, *machine]):
        done = subprocess.run([python, "-m", "asv", *args], cwd=project, env=world, capture_output=True, text=True, timeout=280)
    found = [f for f in (project / "results").rglob("*.json") if f.name.startswith(commit[:8])]
    if not c.check(len(found) == 1, f"asv wrote {found}: {done.stdout[-800:]} {done.stderr[-800:]}"):
        return
    rows, said = rows_of(c, found[0], found[0])
    expect(c, "asv", rows, ["sums.Others.time_len", "sums.Others.time_broken", "sums.TimeSuite.time_sum(10, 'a')",
                            "sums.TimeSuite.time_sum(10, 'b')", "sums.TimeSuite.time_sum(1000, 'a')"])
    c.check("time_sum(1000, 'b')" in said and "skipped in A and B" in said, f"asv: what was skipped: {said[-900:]}")
    rows, _ = rows_of(c, found[0], found[0], "--metric", "memory")
    expect(c, "asv, memory", rows, ["sums.Others.peakmem_list"])
    status, out, err = c.run("history", project / "results", "--json", "-")
    if c.check(status == 0, f"asv, the folder as a history: {err}"):
        history = {b["name"]: b for b in json.loads(out)["benchmarks"]}
        c.check("sums.Others.time_len" in history and history["sums.Others.time_len"]["runs"][0]["label"] == commit[:10],
                f"asv, the folder as a history: {out[:900]}")


GOOGLE = r'''#include <benchmark/benchmark.h>
#include <cmath>
static void BM_sum(benchmark::State &s)
{
    for (auto _ : s) {
        int64_t sum = 0;
        for (int64_t i = 0; i < s.range(0); i++)
            benchmark::DoNotOptimize(sum += i);
    }
    s.SetComplexityN(s.range(0));
    s.counters["ratio"] = std::nan("");
}
BENCHMARK(BM_sum)->Arg(8)->Arg(64)->Complexity(benchmark::oN);
static void BM_fails(benchmark::State &s)
{
    s.SkipWithError("no device");
    for (auto _ : s) {
    }
}
BENCHMARK(BM_fails);
static void BM_means(benchmark::State &s)
{
    for (auto _ : s)
        benchmark::DoNotOptimize(s.iterations());
}
BENCHMARK(BM_means)->ReportAggregatesOnly(true)->Repetitions(3);
BENCHMARK_MAIN();
'''


def google(c):
    if not shutil.which("g++"):
        raise Missing("g++")
    c.file("gb.cpp", GOOGLE)
    done = call(c, "g++", "-O1", "gb.cpp", "-lbenchmark", "-lpthread", "-o", "gb")
    if done.returncode:
        raise Missing("libbenchmark-dev")
    for name in ("ga.json", "gb.json"):
        done = call(c, "./gb", "--benchmark_min_time=0.001", "--benchmark_repetitions=6", f"--benchmark_out={name}")
    written(c, "Google Benchmark", done, "ga.json", "gb.json")
    rows, said = rows_of(c, "ga.json", "gb.json")
    expect(c, "Google Benchmark", rows, ["BM_sum/8", "BM_sum/64", "BM_fails", "BM_means/repeats:3"], "6 and 6 values")
    c.check("failed in A" in said and "no device" in said and "only aggregates" in said, f"Google Benchmark: {said[-900:]}")


CATCH = r'''#ifdef V2
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#else
#include <catch2/catch_test_macros.hpp>
#include <catch2/benchmark/catch_benchmark.hpp>
#endif
#include <stdexcept>
TEST_CASE("sums & <more>")
{
    volatile int n = 0;
    BENCHMARK("ten") { for (int i = 0; i < 10; i++) n = n + i; return n; };
    SECTION("deep") { BENCHMARK("hundred") { for (int i = 0; i < 100; i++) n = n + i; return n; }; }
}
TEST_CASE("bad") { BENCHMARK("fails") { throw std::runtime_error("boom"); return 1; }; }
'''


def catch2(c):
    if not shutil.which("g++"):
        raise Missing("g++")
    c.file("c2.cpp", CATCH)
    for flags in (["-DV2", "c2.cpp"], ["-std=c++17", "c2.cpp", "-lCatch2Main", "-lCatch2"]):
        if call(c, "g++", "-O1", *flags, "-o", "c2").returncode == 0:
            break
    else:
        raise Missing("catch2")
    for name in ("ca.xml", "cb.xml"):
        done = call(c, "./c2", "-r", "xml", "--benchmark-samples", "10", "--benchmark-warmup-time", "1", "-o", name)
    written(c, "Catch2", done, "ca.xml", "cb.xml")
    rows, said = rows_of(c, "ca.xml", "cb.xml")
    expect(c, "Catch2", rows, ["sums & <more>/ten", "sums & <more>/deep/hundred", "bad/fails"], "1 and 1 values")
    c.check("boom" in said, f"Catch2's failure: {said}")
    text = call(c, "./c2", "--benchmark-samples", "10", "--benchmark-warmup-time", "1").stdout
    c.status(3, c.file("c2.txt", text), "ca.xml", has="-r xml")


def hyperfine(c):
    if not shutil.which("hyperfine"):
        raise Missing("hyperfine")
    done = call(c, "hyperfine", "-N", "-r", "6", "-L", "n", "1,2", "--export-json", "h.json", "--export-csv", "h.csv",
                "-n", "pause", "-n", "pause", "sleep 0.00{n}")
    if not (c.work / "h.json").exists():            # versions that want a name for each
        done = call(c, "hyperfine", "-N", "-r", "6", "-L", "n", "1,2", "--export-json", "h.json", "--export-csv", "h.csv", "sleep 0.00{n}")
    written(c, "hyperfine", done, "h.json", "h.csv")
    rows, _ = rows_of(c, "h.json", "h.json")
    c.check(len(rows) == 2 and all("(n=" in name for name in rows), f"hyperfine: {sorted(rows)}")
    expect(c, "hyperfine", rows, list(rows), "6 and 6 values")
    c.status(3, "h.csv", "h.json", has="--export-json")
    done = call(c, "hyperfine", "-N", "-i", "-r", "6", "--export-json", "f.json", "false")
    written(c, "hyperfine -i", done, "f.json")
    c.status(2, "f.json", "f.json", "--random", has="all runs ended with a failure: not judged")


def main():
    c = Checks("corpus")
    missing = []
    for part in (pytest_benchmark, pyperf, asv, google, catch2, hyperfine):
        try:
            part(c)
        except Missing as e:
            missing.append(str(e))
    for what in missing:
        print(f"not tried: {what} is not installed")
    if not c.passed and not c.failed:
        sys.exit(77)
    c.finish()


main()
