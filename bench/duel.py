#!/usr/bin/env python3
"""Who is right about a change of 0 or 2 %, and how long does it take: perf_ab, Google Benchmark with its
compare.py, perf-ab run and hyperfine, in turns on the same machine in the same minutes.

    python3 bench/duel.py PERF_AB [ROUNDS] [loops|commands]

PERF_AB: the built tools/perf-ab.  Needs g++ and the Debian packages libbenchmark-dev, libbenchmark-tools (and NumPy
and SciPy, which its compare.py imports) and hyperfine.  Load the machine as you like.

Each tool is run as its manual says.  Google Benchmark: ten repetitions of each body, and the U test of compare.py at
its 5 %, in a program each (base, then cand: two builds cannot share one) and with --benchmark_enable_random_interleaving
in one.  hyperfine: its default of ten runs or three seconds a command; "changed" is what it prints when the error
it prints does not reach a ratio of 1.  perf_ab and perf-ab run: "no more than 1 % slower?".
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPARE = "/usr/share/benchmark/compare.py"


def output_of(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def build(folder):
    loops, command = os.path.join(folder, "duel_loops"), os.path.join(folder, "chain")
    subprocess.run(["g++", "-O2", f"-I{ROOT}", ROOT / "bench/duel_loops.cpp", "-o", loops, "-lbenchmark", "-lpthread"],
                   check=True)
    source = """#include <stdlib.h>
    int main(int argc, char **argv)
    {
        unsigned long x = 3;
        long          n = atol(argv[argc - 1]);
        for (; n > 0; n--) {
            x *= 0xd1342543de82ef95u;
            __asm__ volatile("" : "+r"(x));
        }
        return x == 0;
    }"""
    subprocess.run(["gcc", "-O2", "-x", "c", "-", "-o", command], input=source, text=True, check=True)
    return loops, command


def u_test(folder, *how):
    """The answer of compare.py: its U test at 5 %, and the change of the median."""
    report = os.path.join(folder, "compare.json")
    output_of(sys.executable, COMPARE, "-d", report, *how)
    with open(report, encoding="utf-8") as file:
        for row in json.load(file):
            if "utest" in row and "cpu_pvalue" in row["utest"]:
                ratio = 1.0 + statistics.median([m["cpu"] for m in row["measurements"]])
                if row["utest"]["cpu_pvalue"] >= 0.05:
                    return "same", ratio
                return ("slower" if ratio > 1.0 else "faster"), ratio
    return "open", 1.0


def google(folder, loops, n, mixed):
    options = ["--benchmark_repetitions=10", "--benchmark_out_format=json"]
    files = [os.path.join(folder, f) for f in ("base.json", "cand.json")]
    if mixed:
        output_of(loops, "google", n, *options, "--benchmark_enable_random_interleaving=true",
                  f"--benchmark_out={files[0]}")
        return u_test(folder, "filters", files[0], "base", "cand")
    for file, name, length in zip(files, ("base", "cand"), ("1000", n)):
        output_of(loops, "google", length, *options, "--benchmark_filter=^cand$", f"--benchmark_out={file}")
    return u_test(folder, "benchmarks", *files)


def perf(loops, n):
    word, ratio, _ = output_of(loops, "perf", n, "1").split()
    return word, float(ratio)


def hyperfine(folder, commands):
    report = os.path.join(folder, "hyperfine.json")
    output_of("hyperfine", "-N", "--export-json", report, *commands)
    with open(report, encoding="utf-8") as file:
        base, cand = json.load(file)["results"]
    ratio = cand["mean"] / base["mean"]
    error = ratio * ((cand["stddev"] / cand["mean"]) ** 2 + (base["stddev"] / base["mean"]) ** 2) ** 0.5
    return ("slower" if ratio - error > 1.0 else "faster" if ratio + error < 1.0 else "same"), ratio


def perf_ab(tool, commands):
    text = output_of(tool, "run", "--accept", "no regression beyond 1 %", "--quiet", "--json", "-",
                     "--", *commands[0].split(), "--", *commands[1].split())
    report = json.loads(text)
    word = {"ACCEPT": "same", "REJECT": "slower"}.get(report["decision"], "open")
    return word, report["benchmarks"][0]["rules"][0]["ratio"]["estimate"]


def main():
    tool, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    which = sys.argv[3] if len(sys.argv) > 3 else "loops"
    with tempfile.TemporaryDirectory() as folder:
        loops, chain = build(folder)
        if which == "loops":
            players = {
                "perf_ab": lambda extra: perf(loops, str(1000 + 10 * extra)),
                "Google Benchmark": lambda extra: google(folder, loops, str(1000 + 10 * extra), False),
                "the same, interleaved": lambda extra: google(folder, loops, str(1000 + 10 * extra), True),
            }
        else:
            pair = lambda extra: [f"{chain} 10000000", f"{chain} {100000 * (100 + extra)}"]
            players = {
                "perf-ab run": lambda extra: perf_ab(tool, pair(extra)),
                "hyperfine": lambda extra: hyperfine(folder, pair(extra)),
            }
        print(f"{'tool':24} truth    right   wrong    open   |ratio - truth| p50   seconds p50    (load {os.getloadavg()[0]:.1f})")
        for extra in (0, 2):
            rows = {name: [] for name in players}
            for _ in range(rounds):
                for name, play in players.items():
                    began = time.monotonic()
                    word, ratio = play(extra)
                    rows[name].append((word, ratio, time.monotonic() - began))
            for name, row in rows.items():
                words = [w for w, _, _ in row]
                right = words.count("slower" if extra else "same")
                wrong = words.count("faster") + (words.count("slower") if not extra else
                                                 words.count("same") if name.startswith("perf") else 0)
                off = statistics.median(abs(100 * (r - 1) - extra) for _, r, _ in row)
                print(f"{name:24} +{extra:2d} %  {right:6d}  {wrong:6d}  {rounds - right - wrong:6d}   {off:14.2f} pp"
                      f"   {statistics.median(s for _, _, s in row):12.3f}", flush=True)


main()
