#!/usr/bin/env python3
"""Planted changes are found, equal code is not accused, and nobody gets a verdict they have no data for.

    verdicts.py TOOL [SEED]
"""
import datetime
import json
import math
import random
import re
import sys

from tool import DATA, Checks

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FAMILIES = 60
GUARD = ("--accept", "no regression beyond 2 %")
rng = random.Random(SEED)


def noisy(n, middle, spread=0.01, dice=rng):
    return [middle * math.exp(dice.gauss(0, spread)) for _ in range(n)]


def drifting(n, middle):
    """A machine that gets slower: the last value is 30 % above the first."""
    return [middle * (1 + 0.3 * i / n) * math.exp(rng.gauss(0, 0.01)) for i in range(n)]


def csv_pairs(rows, head="name,a,b"):
    return head + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)


def google(values, name="BM_x", more=""):
    return json.dumps({"context": {}, "benchmarks": [
        {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": i, "real_time": v,
         "cpu_time": v, "time_unit": "us"} for i, v in enumerate(values)]})


def results(values, **more):
    return json.dumps({"perf_results": 1, "benchmarks": [{"name": "x", "unit": "us", "samples": values,
                                                          **more}]})


FORMATS = {
    "plain": lambda v: "".join(f"{x:.5f}\n" for x in v),
    "csv": lambda v: "name,value\n" + "".join(f"x,{x:.5f}\n" for x in v),
    "go": lambda v: "goos: linux\n" + "".join(f"BenchmarkX-8\t100\t{x:.2f} ns/op\n" for x in v),
    "google": google,
    "results": results,
    "hyperfine": lambda v: json.dumps({"results": [{"command": "x", "times": v}]}),
    "pyperf": lambda v: json.dumps({"version": "1.0", "metadata": {"name": "x", "unit": "second"},
                                    "benchmarks": [{"runs": [{"values": [x]} for x in v]}]}),
}


def planted_changes(c):
    """In every format and every way to vouch: 30 % faster, 10 % slower, the same."""
    base = noisy(30, 100)
    for name, write in FORMATS.items():
        a = c.file(f"a.{name}", write(base))
        faster = c.file(f"faster.{name}", write(noisy(30, 70)))
        slower = c.file(f"slower.{name}", write(noisy(30, 110)))
        equal = c.file(f"equal.{name}", write([v * (1.004, 1 / 1.004)[i % 2] for i, v in enumerate(base)]))
        for how in ("--paired", "--random"):
            c.status(0, a, faster, how, has="ACCEPT: 1 benchmark")
            c.status(1, a, slower, how, *GUARD, has="REJECT: 1 benchmark")
            c.status(0, a, equal, how, *GUARD)
            c.status(1, a, equal, how, has="REJECT")        # it is no 1.3 times as fast
            c.status(2, a, equal, how, "--accept", "speedup >= 1", has="INCONCLUSIVE")
        c.status(2, a, faster, has="would ACCEPT")
        c.status(2, a, slower, *GUARD, has="would REJECT")
        c.status(2, a, faster, has="not interleaved")
        c.status(2, a, c.file(f"two.{name}", write([70.0, 71.0])), has="not interleaved, and 4 more")
    mixed = c.file("mixed.google", google(noisy(30, 0.070)))     # us against ns
    c.status(0, c.file("ns.go", "goos: x\n" + "".join(f"BenchmarkBM_x 9 {v:.3f} ns/op\n" for v in base)),
             mixed, "--paired", has="100")


def drift_is_not_a_change(c):
    """The same code, measured one after the other while the machine slows down."""
    whole = drifting(60, 100)
    a, b = c.numbers("first", whole[:30]), c.numbers("then", whole[30:])
    c.status(2, a, b, *GUARD, has="not interleaved")
    turns = [(whole[i], whole[i + 1]) if rng.random() < 0.5 else (whole[i + 1], whole[i])
             for i in range(0, 60, 2)]
    c.status(0, c.file("turns.csv", csv_pairs(turns, "a,b")), "--accept", "no regression beyond 5 %")


def order_of_pairs(c):
    rows = [(rng.getrandbits(1), a, b) for a, b in zip(noisy(20, 100), noisy(20, 70))]
    c.status(0, c.file("coin.csv", csv_pairs(rows, "first,a,b")))
    same = [(0, a, b) for _, a, b in rows]
    c.status(2, c.file("same.csv", csv_pairs(same, "first,a,b")), has="always measured first")
    # Each benchmark needs a coin of its own, and so do processes of one pair each.
    two = [(name, first, a, b) for _, a, b in rows for name, first in (("x", 0), ("y", 1))]
    c.status(2, c.file("two.csv", csv_pairs(two, "name,first,a,b")), has="0 ACCEPT, 0 REJECT, 2 INCONCLUSIVE")
    for name, status, first in (("coin", 0, rows), ("same", 2, same)):
        c.status(status, c.file(f"{name}_runs.csv", csv_pairs([(k, *r) for k, r in enumerate(first)], "run,first,a,b")))
    single = [c.file(f"single{k}.csv", csv_pairs([r], "first,a,b")) for k, r in enumerate(same)]
    c.status(0, "merge", *single, "-o", c.work / "singles.json")
    c.status(2, c.work / "singles.json", has="always measured first")
    listed = json.dumps({"perf_results": 1, "benchmarks": [
        {"name": "x", "unit": "ns", "design": "separate", "baseline": [r[1] for r in rows],
         "candidate": [r[2] for r in rows]}]})
    c.status(2, c.file("separate.json", listed), has="always measured first")
    c.status(0, c.file("pairs.json", listed.replace("separate", "pairs")))
    both = [c.file(f"r{k}.json", results([r[k] for r in rows], design="random")) for k in (1, 2)]
    c.status(0, *both)


def runs(c):
    """Processes differ by 5 %, the values within one by 0.1 %: the process is the unit."""
    def run(middle):
        return noisy(20, middle * math.exp(rng.gauss(0, 0.05)), 0.001)
    a = [c.numbers(f"a{i}", run(100)) for i in range(10)]
    same = [c.numbers(f"s{i}", run(100)) for i in range(10)]
    half = [c.numbers(f"h{i}", run(50)) for i in range(10)]
    turns = "--turns"
    c.status(0, *a, "--", *half, turns, has="and 9 more")
    c.status(2, *a, "--", *half, has="nothing says that the runs took turns: --turns vouches for it")
    c.status(2, *a, "--", *same, turns, "--accept", "speedup >= 1", has="pairs of runs")
    c.status(2, *a[:5], "--", *half[:5], turns, has="at least 1 more pair of runs")
    c.status(0, *a[:6], "--", *half[:6], turns)
    c.status(2, *a[:7], "--", *half[:6], turns, has="no pairs")
    # The same through run ids, in either file's order, and through perf-ab merge.
    def table(files, order):
        rows = [(i, v) for i in order for v in files[i].read_text().split()]
        return "run,value\n" + "".join(f"{i},{v}\n" for i, v in rows)
    c.status(0, c.file("a.csv", table(a, range(10))), c.file("h.csv", table(half, range(9, -1, -1))), turns)
    c.status(2, c.file("a.csv", table(a, range(10))), c.file("h.csv", table(half, range(1, 8))), turns,
             has="no pairs")
    # Hosts that differ by a factor of ten: only run by run is there anything to see.
    host = {i: 100 * (i + 1) for i in range(10)}
    fast = [c.numbers(f"f{i}", noisy(9, 0.8 * host[i], 0.001)) for i in range(10)]
    slow = [c.numbers(f"g{i}", noisy(9, host[i], 0.001)) for i in range(10)]
    c.status(0, c.file("g.csv", table(slow, range(10))), c.file("f.csv", table(fast, range(9, -1, -1))),
             "--accept", "speedup >= 1.2", turns)
    for name, files in (("am.json", a), ("hm.json", half)):
        c.status(0, "merge", *files, "-o", c.work / name)
    c.status(0, c.work / "am.json", c.work / "hm.json", turns, has="ACCEPT: 1 benchmark")
    merged = json.loads((c.work / "am.json").read_text())
    c.check([b["run"] for b in merged["benchmarks"]] == [str(i) for i in range(1, 11)], "runs of a merge")
    c.check(merged["benchmarks"][3]["samples"] == [float(v) for v in a[3].read_text().split()],
            "values of a merge")
    # Runs of pairs: each process is one figure.
    pairs = [c.file(f"p{i}.csv", csv_pairs(zip(run(100), run(70)), "a,b")) for i in range(8)]
    c.status(0, "merge", *pairs, "-o", c.work / "pm.json")
    c.status(0, c.work / "pm.json", "--accept", "speedup >= 1.2")
    c.status(0, "merge", *pairs[:4], "-o", c.work / "pm4.json")
    c.status(2, c.work / "pm4.json", "--accept", "speedup >= 1.2", has="2 more pairs of runs")
    # Two ranks that both call themselves 0, time and memory side by side.
    rank = json.dumps({"perf_results": 1, "benchmarks": [
        {"name": "x", "unit": "us", "run": "0", "samples": [1, 2]},
        {"name": "x", "unit": "B", "run": "0", "samples": [0, 7]}]})
    out = c.status(0, "merge", c.file("rank0.json", rank), c.file("rank1.json", rank))
    c.check(out and [(b["unit"], b["run"], b["samples"]) for b in json.loads(out)["benchmarks"]] ==
            [("ns", "0", [1000, 2000]), ("ns", "2.0", [1000, 2000]), ("B", "0", [0, 7]), ("B", "2.0", [0, 7])],
            f"merge of two ranks: {out}")
    c.status(3, "merge", pairs[0], c.file("single.csv", "value\n1\n"), has="pairs here, single values")


def provenance(c):
    """Files that say when and where each run was: turns are judged, anything else is not."""
    def file(name, runs, write):
        """runs: (seconds, machine, middle)"""
        parts = []
        for k, (time, machine, middle) in enumerate(runs):
            stamp = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
            if write == "google":
                local = stamp.astimezone(datetime.timezone(datetime.timedelta(hours=-3.5)))
                text = json.dumps({"context": {"date": local.isoformat(), "host_name": machine}, "benchmarks": [
                    {"name": "x", "real_time": v, "time_unit": "us"} for v in noisy(5, middle, 0.001)]})
            else:
                text = json.dumps({"perf_results": 1, "runs": [{"run": f"{name}{k}", "time": time, "machine": machine}],
                                   "benchmarks": [{"name": "x", "unit": "us", "run": f"{name}{k}",
                                                   "samples": noisy(5, middle, 0.001)}]})
            parts.append(c.file(f"{name}.{k}.{write}", text))
        c.status(0, "merge", *parts, "-o", c.work / f"{name}.json")
        return c.work / f"{name}.json"

    day, n = 1_700_000_000, 8
    coin = [0, 1, 1, 0, 1, 0, 0, 1]
    for write in ("results", "google"):
        def ask(status, a, b, *more, has=None):
            c.status(status, file("a", a, write), file("b", b, write), *more, has=has)
        a = [(day + 100 * i + 10 * coin[i], "one", 100) for i in range(n)]
        b = [(day + 100 * i + 10 - 10 * coin[i], "one", 70) for i in range(n)]
        ask(0, a, b, has="8 runs")
        if write == "results":                                      # with ids of their own: any order
            ask(0, a[::-1], b, has="8 runs")
        half = [(t // 20 * 20, m, v) for t, m, v in a], [(t // 20 * 20, m, v) for t, m, v in b]
        vague = "too coarse to show that the runs took turns: --turns"
        ask(2, *half, has=vague)                                    # a clock that cannot tell who was first
        ask(2, [(t // 100 * 100, m, v) for t, m, v in a], b, has=vague)         # A never was, or not after B
        ask(0, [(t // 100 * 100, m, v) if i < 5 else (t, m, v) for i, (t, m, v) in enumerate(a)], b)
        ask(2, [(day, m, v) for t, m, v in a], [(day, m, v) for t, m, v in b], has=vague)   # all in one second:
        ask(2, [(day, m, v) for t, m, v in a], [(day, m, 130) for t, m, v in b], has=vague)  # all of A, then all of B
        ask(2, [(day - (i == 0) + (i == 7), m, v) for i, (t, m, v) in enumerate(a)],
            [(day, m, v) for t, m, v in b], has=vague)
        ask(0, [(day, m, v) for t, m, v in a], [(day, m, v) for t, m, v in b], "--turns")
        ask(2, a, [(t + 86400, m, v) for t, m, v in b], has="the runs took no turns")
        ask(2, a, [(t + 300, m, v) for t, m, v in b], has="the runs took no turns")
        ask(2, a, [(t, "two", v) for t, m, v in b], has="A ran on one, B on two")
        ask(2, a, [(t + 15, m, v) for t, m, v in a], has="A always ran first")
        ask(0, a, [(t + 86400, "two", v) for t, m, v in b], "--turns")
        ask(1, a, [(t + 86400, m, 101) for t, m, v in b], "--turns")
    # One run each: no order of the values makes up for two machines.
    for machine, status in (("one", 0), ("two", 2)):
        both = [c.file(f"{n}.json", json.dumps({
            "perf_results": 1, "runs": [{"run": "r", "time": day, "machine": m}], "benchmarks": [
                {"name": "x", "unit": "us", "run": "r", "design": "random", "samples": noisy(20, middle)}]}))
                for n, m, middle in (("a", "one", 100), ("b", machine, 70))]
        c.status(status, *both, has="ACCEPT" if status == 0 else "A ran on one, B on two")
    # Nor is there one order of what was measured hours apart, whatever the files claim.
    for apart, status, more in ((600, 0, ()), (86400, 2, ()), (-86400, 2, ()), (86400, 0, ("--random",))):
        both = [c.file(f"{n}.json", json.dumps({
            "perf_results": 1, "runs": [{"run": "r", "time": when, "machine": "one"}], "benchmarks": [
                {"name": "x", "unit": "us", "run": "r", "design": "random", "samples": [middle + i * 7 % 20 / 10 for i in range(20)]}]}))
                for n, when, middle in (("a", day, 100), ("b", day + apart, 70))]
        c.status(status, *both, *more, has="ACCEPT" if status == 0 else "24 hours apart: no random order")
    both[0].write_text(both[0].read_text().replace(f'"time": {day}, ', ""))
    for machines, status in (("one one", 0), ("two two", 2), ("one two", 2)):
        b = c.file("b.json", json.dumps({
            "perf_results": 1, "runs": [{"run": str(i), "machine": m} for i, m in enumerate(machines.split())],
            "benchmarks": [{"name": "x", "unit": "us", "run": str(i), "design": "random", "samples": noisy(20, 70)}
                           for i in range(2)]}))
        c.status(status, both[0], b, has="ACCEPT" if status == 0 else "A ran on one, B on two")
        c.status(1 if status == 0 else 2, b, both[0], *GUARD)
    # Simulated: the machine drifts by 3 % between the two days; the code is equal.
    for _ in range(10):
        a = [(day + 100 * i, "one", 100 * math.exp(rng.gauss(0, 0.01))) for i in range(n)]
        b = [(day + 86400 + 100 * i, "one", 103 * math.exp(rng.gauss(0, 0.01))) for i in range(n)]
        c.status(2, file("a", a, "results"), file("b", b, "results"), *GUARD)


def clock_steps(c):
    """What a coarse clock cannot tell apart is not decided; what it can is."""
    def ask(status, a, b, *rule, has=None, how="--paired"):
        c.status(status, c.file("a.txt", a), c.file("b.txt", b), how, "--accept", *rule, has=has)
    for how in ("--paired", "--random"):
        ask(2, "0.12\n" * 8, "0.11\n" * 8, "down >= 5 %", how=how, has="steps of 0.01")
        ask(2, "0.120000\n" * 8, "0.110000\n" * 8, "down >= 5 %", how=how)
        ask(2, "120000000\n" * 8, "110000000\n" * 8, "down >= 5 %", how=how)
        ask(2, "15.625\n" * 8, "31.25\n" * 8, "no regression beyond 50 %", how=how)
        ask(0, "0.12\n" * 8, "0.06\n" * 8, "down >= 20 %", how=how)
        ask(1, "0.12\n" * 8, "0.24\n" * 8, "no regression beyond 20 %", how=how)
        ask(2, "6.283185307179586\n" * 8, "6.283185307179586\n" * 8, "no regression beyond 2 %", how=how)
        ask(0, "7.001\n" * 8, "7.001\n" * 8, "no regression beyond 2 %", how=how)
        ask(0, "123457\n" * 8, "61729\n" * 8, "down >= 20 %", how=how)
    # Counts are exact, whatever their value.
    def count(n):
        return json.dumps({"perf_results": 1, "benchmarks": [{"name": "x", "unit": "instructions",
                                                              "samples": [n] * 8}]})
    c.status(0, c.file("a.json", count(1000)), c.file("b.json", count(1000)), "--paired", *GUARD)
    c.status(1, c.file("a.json", count(1000)), c.file("b.json", count(1100)), "--paired", *GUARD)
    # A step that the file names.
    def known(value, step):
        return json.dumps({"perf_results": 1, "benchmarks": [
            {"name": "x", "unit": "ms", "step": step, "samples": [value + i / 1e4 for i in range(8)]}]})
    for step, status in ((0.001, 0), (10, 2)):
        c.status(status, c.file("a.json", known(100, step)), c.file("b.json", known(94, step)), "--paired",
                 "--accept", "down >= 4 %")
    # Simulated: jobs of 110 to 140 ms, equal code, a clock of 10 ms that nobody names.
    wrong = 0
    for _ in range(60):
        def read(middle):
            return "".join(f"{10 * int((middle + rng.gauss(0, 0.3)) / 10)}\n" for _ in range(8))
        middle = rng.uniform(110, 140)
        status, _, _ = c.run(c.file("a.txt", read(middle)), c.file("b.txt", read(middle * 0.98)), "--paired",
                             "--accept", "down >= 2 %")
        wrong += status != 2
    c.check(wrong <= 4, f"a clock of 10 ms: {wrong} of 60 at the threshold were decided")
    print(f"a clock of 10 ms: {wrong} of 60 at the threshold were decided")


def other_clocks(c):
    """Where one side alone comes from a coarse clock, and where rates were made of coarse times."""
    fine = "".join(f"{0.1131 + i / 1e4:.4f}\n" for i in range(8))
    coarse, rule = "0.12\n" * 8, ("--accept", "down >= 2 %")
    for how in ("--paired", "--random"):
        c.status(2, c.file("a.txt", coarse), c.file("b.txt", fine), how, "--trust", *rule, has="steps of 0.01")
        c.status(2, c.file("b.txt", fine), c.file("a.txt", coarse), how, "--trust", "--accept", "no regression beyond 2 %")
        c.status(0, c.file("a.txt", "16.6\n" * 8), c.file("b.txt", "15.1\n15.23\n15.07\n15.16\n" * 2), how, *rule)

    def rates(values):
        return json.dumps({"perf_results": 1, "benchmarks": [{"name": "x", "unit": "items/s", "design": "random",
                                                              "samples": values}]})
    wrong = 0
    for _ in range(60):                         # a quarter of the time exactly, read by a clock of 10 ms
        middle = rng.uniform(110, 140)
        a, b = ([1000 / (10 * int(v / 10)) for v in noisy(30, middle / by, 0.02)] for by in (1, 4))
        status, _, _ = c.run(c.file("a.json", rates(a)), c.file("b.json", rates(b)), "--accept",
                             "speedup >= 4 on throughput")
        wrong += status != 2
    c.check(wrong <= 4, f"rates of a clock of 10 ms: {wrong} of 60 at the threshold were decided")
    c.status(2, c.file("a.json", rates([100 / 12] * 8)), c.file("b.json", rates([100 / 12, 100 / 11] * 4)), "--accept",
             "speedup >= 1.1 on throughput", has="clock is too coarse")


def failed_commands(c):
    """A command that fails at once is not the faster one; two that always fail may be meant (grep), if it is said."""
    def file(codes):
        times = [noisy(8, 1), noisy(8, 0.01)]
        return c.file("h.json", json.dumps({"results": [
            {"command": n, "times": t, "exit_codes": [k] * 8} for n, t, k in zip("ab", times, codes)]}))
    c.status(0, file((0, 0)), "--random")
    c.status(2, file((1, 1)), "--random", has="all runs ended with a failure: not judged")
    c.status(2, file((1, 1)), "--random", has="8 of 8 runs of A and 8 of 8 of B ended with a failure")
    c.status(0, file((1, 1)), "--random", "--ignore-failure", has="8 of 8 of B ended with a failure")
    c.status(2, file((0, 1)), "--random", "--ignore-failure", has="not the same work")
    c.status(2, file((0, 1)), "--random", has="0 runs of A and 8 of B ended with a failure")
    c.status(2, file((0, None)), "--random", has="not the same work")
    # Nor is it after a merge, or another one.
    alone = [c.file(f"h{k}.json", json.dumps({"results": [{"command": "x", "times": noisy(8, t), "exit_codes": [k] * 8}]}))
             for k, t in ((0, 1), (1, 0.01))]
    for k in (0, 1):
        c.status(0, "merge", alone[k], "-o", c.work / "once.json")
        c.status(0, "merge", c.work / "once.json", "-o", c.work / f"m{k}.json")
    c.status(2, c.work / "m0.json", c.work / "m1.json", "--random", has="0 runs of A and 8 of B ended with a failure")


def rules(c):
    base = noisy(100, 100)
    spiky = [v * 0.7 * (3 if i % 6 == 0 else 1) for i, v in enumerate(noisy(100, 100))]
    a, b = c.numbers("base", base), c.numbers("spiky", spiky)
    c.status(0, a, b, "--paired")
    c.status(1, a, b, "--paired", "--accept", "no regression beyond 5 % on p95")
    c.status(1, a, b, "--paired", "--accept", "speedup >= 1.3", "--accept", "no regression beyond 5 % on p95",
             has="AND")
    c.status(2, a, b, "--paired", "--accept", "speedup >= 1.3", "--accept", "no regression beyond 5 % on p99",
             has="more pairs")
    c.status(0, a, b, "--paired", "--accept", "speedup >= 1.3", "--accept", "down >= 20 % on p50")
    c.status(1, a, b, "--paired", "--metric", "p95", *GUARD, has="p95 no more")
    c.status(0, a, b, "--paired", "--confidence", "0.99", has="99 % intervals")
    c.status(3, a, b, *["--accept", "speedup >= 1.3"] * 9, has="more than 8 rules")
    for threshold, status in (("0.8", 0), ("0.72", 0), ("0.6", 1), ("1.05", 0)):
        c.status(status, a, b, threshold, "pair")
    c.status(2, a, b, "0.8")


def joined(c):
    """Four rules, each exactly at its threshold: any of them rejects, and all of them rarely do."""
    trials = 1000
    rows = [(f"t{t}", a, b) for t in range(trials) for a, b in zip(noisy(100, 100), noisy(100, 100))]
    rules = [w for m in ("time", "p50", "mean", "p95") for w in ("--accept", f"speedup >= 1 on {m}")]
    _, out, _ = c.run(c.file("joined.csv", csv_pairs(rows)), *rules, "--json", "-")
    said = [b["alone"] for b in json.loads(out)["benchmarks"]]
    wrong = said.count("REJECT")
    print(f"four rules at their thresholds: {wrong} of {trials} rejected")
    c.check(wrong <= trials * 0.025 + 3 * math.sqrt(trials * 0.025 * 0.975), f"joined rules reject {wrong} of {trials}")


def other_figures(c):
    def go(ns, size, rate, count):
        return "goos: linux\n" + "".join(f"BenchmarkX-8 10 {v:.3f} ns/op {rate / v:.3f} MB/s {size} B/op {count} "
                                         "allocs/op\n" for v in ns)
    a = c.file("a.go", go(noisy(20, 100), 4096, 1e5, 0))
    b = c.file("b.go", go(noisy(20, 70), 2048, 1e5, 1))
    c.status(0, a, b, "--random", "--accept", "down >= 40 % on memory", has="2048 B/op")
    c.status(0, a, b, "--random", "--accept", "speedup >= 1.3 on throughput", has="MB/s")
    c.status(1, b, a, "--random", "--accept", "no regression beyond 2 % on throughput")
    c.status(0, a, b, "--random", "--accept", "speedup >= 1.3", "--accept", "down >= 40 % on memory")
    c.status(1, a, b, "--random", "--value", "allocs/op", "--accept", "no regression beyond 5 % on memory",
             has="0 allocs/op")                          # from none to one
    c.status(0, a, a, "--random", "--value", "allocs/op", "--accept", "no regression beyond 5 % on memory")
    c.status(0, b, a, "--random", "--value", "allocs/op", "--accept", "down >= 20 % on memory")
    c.status(3, a, b, "--value", "MB/s", "--metric", "p95", has="its metric is throughput")
    c.status(2, DATA / "google_a.json", DATA / "google_b.json", "--metric", "throughput", has="items/s")


def numbers(c):
    """Two files that nobody can judge: their numbers are there all the same."""
    names = ["one", "two", "three"]
    base = {n: noisy(20, 100 * (i + 1), 0.02) for i, n in enumerate(names)}
    after = {n: [v * f for v in noisy(20, 100 * (i + 1), 0.02)] for i, (n, f) in enumerate(zip(names, (0.5, 1, 2.5)))}

    def write(name, table, n=20):
        return c.file(name, "name,value\n" + "".join(f"{k},{x}\n" for k, v in table.items() for x in v[:n]))
    a, b = write("na.csv", base), write("nb.csv", after)
    out = c.status(2, a, b, *GUARD, has="geometric mean")
    c.check(out.count("+- ") == 6, f"an interval for each side of each benchmark:\n{out}")
    _, out, _ = c.run(a, b, *GUARD, "--json", "-")
    r = json.loads(out)
    rows = [x["rules"][0]["ratio"] for x in r["benchmarks"]]
    for key in ("low", "estimate", "high"):
        want = math.exp(sum(math.log(x[key]) for x in rows) / 3)
        c.check(abs(r["geometric_mean"][0]["ratio"][key] / want - 1) < 1e-9, f"geometric mean: {key}")
    c.check("+-" not in c.status(1, a, b, "--paired", *GUARD), "pairs are about their ratio")
    out = c.status(2, write("na.csv", base, 3), write("nb.csv", after, 3), *GUARD, has="~: half the range")
    c.check(out.count(" ~ ") == 6 and "+-" not in out, f"three values have a range:\n{out}")
    c.check("geometric mean" not in c.status(2, c.numbers("p", base["one"]), c.numbers("q", base["two"])),
            "the mean of one")


def forest(c):
    """One row far off does not flatten the others, and the axis has labels on both sides of them."""
    def rows(ratios, spread=0.01, n=20):
        return csv_pairs([(f"b{k}", a, b * r) for k, r in enumerate(ratios)
                          for a, b in zip(noisy(n, 100, spread), noisy(n, 100, spread))])

    def plot(ratios, *rule):
        _, out, err = c.run(c.file("forest.csv", rows(ratios)), "--plot", "--accept", *rule)
        part = out.split("verdict\n", 1)[1].split("\n\n")[1].split("\n") if "verdict\n" in out else [err]
        c.check(len(part) >= len(ratios) + 2, f"{ratios}: a plot of {len(part)} lines\n{out}")
        return part[:len(ratios)], part[len(ratios)], out
    near = [1, 1.01, 0.99, 1.005, 0.7, 1, 1.015, 0.995]
    lines, axis, out = plot(near, "no regression beyond 2 %")
    wide = [len(line) - 4 - len(line[4:].lstrip(" |:")) for line in lines]
    spans = [line.rindex("]") - line.index("[") for line in lines if "[" in line]
    c.check(len(spans) == 7 and min(spans) >= 6, f"flattened:\n{out}{wide}")
    c.check("<" in lines[4] and "[" not in lines[4], f"the row far off:\n{out}")
    for ratios, rule in ((near, "no regression beyond 2 %"), ([0.5, 2.5], "speedup >= 1.3"), ([0.5, 2.4], "speedup >= 1.3"), ([1], "speedup >= 1"),
                         ([1.0001, 1.0002], "no regression beyond 0.1 %"), ([30, 0.01], "down >= 20 %")):
        lines, axis, out = plot(ratios, rule)
        first, last = len(axis) - len(axis.lstrip()), len(axis.rstrip())
        ends = [(line.index("["), line.rindex("]")) for line in lines if "[" in line and "]" in line]
        c.check(all(first <= low and high <= last for low, high in ends), f"{ratios}: labels {first}..{last} {ends}\n{out}")
        c.check(len(axis.replace(" %", "%").split()) >= 2, f"{ratios}: {axis}")
    _, page, _ = c.run(c.file("forest.csv", rows(near)), "--html", "-", *GUARD)
    spans = [float(m[1]) - float(m[0]) for m in re.findall(
        r'stroke-width="2"><line x1="([0-9.]+)" y1="13" x2="([0-9.]+)"', page)]
    c.check(len(spans) == 9 and sum(s > 20 for s in spans) >= 7, f"the page is flattened: {spans}")
    # What would have been found, in words.
    _, page, _ = c.run(c.file("few.csv", rows([1], 0.5, 7)), "--html", "-", *GUARD)
    c.check("only a change by a factor of" in page, "a change of 190 % is a factor")
    _, page, _ = c.run(c.file("many.csv", rows([1], 0.01, 30)), "--html", "-", *GUARD)
    c.check(re.search(r"A change of [0-9.]+ % would have been found", page), "what would have been found")


def family(c):
    """Twenty comparisons of equal code: one is accused by chance, Holm protects it."""
    wrong_alone = wrong_family = 0
    dice = random.Random(f"{SEED} family")              # its own: no check before it moves its counts
    for _ in range(FAMILIES):
        rows = [(f"b{k}", a, b) for k in range(20)
                for a, b in zip(noisy(12, 100, 0.02, dice), noisy(12, 100, 0.02, dice))]
        file = c.file("family.csv", csv_pairs(rows))
        _, out, _ = c.run(file, "--accept", "speedup >= 1", "--json", "-")
        benchmarks = json.loads(out)["benchmarks"]
        wrong_alone += any(b["alone"] != "INCONCLUSIVE" for b in benchmarks)
        wrong_family += any(b["decision"] != "INCONCLUSIVE" for b in benchmarks)
        c.check(all(b["p_holm"] >= b["p"] for b in benchmarks), "Holm made a p-value smaller")
    print(f"{FAMILIES} families of 20 equal benchmarks: some verdict alone in {wrong_alone}, after Holm in "
          f"{wrong_family}")
    c.check(wrong_alone > FAMILIES / 8, "uncorrected, some of 20 are accused in 30 % of the families")
    c.check(wrong_family <= FAMILIES * 0.05 + 3 * math.sqrt(FAMILIES * 0.05 * 0.95),
            "Holm lets too many through")
    rows = [("same", a, b) for a, b in zip(noisy(20, 100), noisy(20, 100))]
    rows += [("half", a, b) for a, b in zip(noisy(20, 100), noisy(20, 50))]
    c.status(1, c.file("two.csv", csv_pairs(rows)), has="1 ACCEPT, 1 REJECT, 0 INCONCLUSIVE (Holm over 2)")
    # Signed ranks of 8 pairs cannot decide one of 12: that is said, and 9 can.
    for pairs, status in ((8, 2), (9, 0)):
        rows = [(f"b{k}", a, b) for k in range(12) for a, b in zip(noisy(pairs, 100), noisy(pairs, 50))]
        c.status(status, c.file("few.csv", csv_pairs(rows)), "--paired",
                 has="it takes 9 pairs at least" if status else "12 ACCEPT")
    # A benchmark that B has lost is not accepted; one that is new there is only named.
    lost = [c.file(f"{n}.csv", "name,value\n" + "".join(f"{m},{v}\n" for m in n for v in noisy(9, 100)))
            for n in ("xy", "xz")]
    c.status(2, *lost, "--paired", *GUARD, has="B does not have it")
    c.status(2, *lost, "--paired", *GUARD, has="1 only in B, not judged")


def main():
    c = Checks("verdicts")
    print(f"seed {SEED}")
    for part in (planted_changes, drift_is_not_a_change, order_of_pairs, runs, provenance, clock_steps, other_clocks,
                 failed_commands, rules, joined, other_figures, numbers, forest, family):
        part(c)
    c.status(0, "--version", has="perf-ab ")
    c.status(0, "--help", has="usage")
    c.finish()


main()
