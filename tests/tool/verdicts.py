#!/usr/bin/env python3
"""Planted changes are found, equal code is not accused, and nobody gets a verdict they have no data for.

    verdicts.py TOOL [SEED]
"""
import json
import math
import random
import sys

from tool import DATA, Checks

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FAMILIES = 60
GUARD = ("--accept", "no regression beyond 2 %")
rng = random.Random(SEED)


def noisy(n, middle, spread=0.01):
    return [middle * math.exp(rng.gauss(0, spread)) for _ in range(n)]


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
    c.status(0, *a, "--", *half, has="and 9 more")
    c.status(2, *a, "--", *same, "--accept", "speedup >= 1", has="pairs of runs")
    c.status(2, *a[:5], "--", *half[:5], has="1 more pairs of runs")
    c.status(0, *a[:6], "--", *half[:6])
    c.status(2, *a[:7], "--", *half[:6], has="no pairs")
    # The same through run ids, in either file's order, and through perf-ab merge.
    def table(files, order):
        rows = [(i, v) for i in order for v in files[i].read_text().split()]
        return "run,value\n" + "".join(f"{i},{v}\n" for i, v in rows)
    c.status(0, c.file("a.csv", table(a, range(10))), c.file("h.csv", table(half, range(9, -1, -1))))
    c.status(2, c.file("a.csv", table(a, range(10))), c.file("h.csv", table(half, range(1, 8))),
             has="no pairs")
    # Hosts that differ by a factor of ten: only run by run is there anything to see.
    host = {i: 100 * (i + 1) for i in range(10)}
    fast = [c.numbers(f"f{i}", noisy(9, 0.8 * host[i], 0.001)) for i in range(10)]
    slow = [c.numbers(f"g{i}", noisy(9, host[i], 0.001)) for i in range(10)]
    c.status(0, c.file("g.csv", table(slow, range(10))), c.file("f.csv", table(fast, range(9, -1, -1))),
             "--accept", "speedup >= 1.2")
    for name, files in (("am.json", a), ("hm.json", half)):
        c.status(0, "merge", *files, "-o", c.work / name)
    c.status(0, c.work / "am.json", c.work / "hm.json", has="ACCEPT: 1 benchmark")
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


def family(c):
    """Twenty comparisons of equal code: one is accused by chance, Holm protects it."""
    wrong_alone = wrong_family = 0
    for _ in range(FAMILIES):
        rows = [(f"b{k}", a, b) for k in range(20)
                for a, b in zip(noisy(12, 100, 0.02), noisy(12, 100, 0.02))]
        file = c.file("family.csv", csv_pairs(rows))
        _, out, _ = c.run(file, "--accept", "speedup >= 1", "--json", "-")
        benchmarks = json.loads(out)["benchmarks"]
        wrong_alone += any(b["alone"] != "INCONCLUSIVE" for b in benchmarks)
        wrong_family += any(b["decision"] != "INCONCLUSIVE" for b in benchmarks)
        c.check(all(b["p_holm"] >= b["p"] for b in benchmarks), "Holm made a p-value smaller")
    print(f"{FAMILIES} families of 20 equal benchmarks: some verdict alone in {wrong_alone}, after Holm in "
          f"{wrong_family}")
    c.check(wrong_alone > FAMILIES / 3, "uncorrected, some of 20 should be accused in 60 % of the families")
    c.check(wrong_family <= FAMILIES * 0.05 + 3 * math.sqrt(FAMILIES * 0.05 * 0.95),
            "Holm lets too many through")
    rows = [("same", a, b) for a, b in zip(noisy(20, 100), noisy(20, 100))]
    rows += [("half", a, b) for a, b in zip(noisy(20, 100), noisy(20, 50))]
    c.status(1, c.file("two.csv", csv_pairs(rows)), has="1 ACCEPT, 1 REJECT, 0 INCONCLUSIVE (Holm over 2)")
    # A benchmark that B has lost is not accepted; one that is new there is only named.
    lost = [c.file(f"{n}.csv", "name,value\n" + "".join(f"{m},{v}\n" for m in n for v in noisy(9, 100)))
            for n in ("xy", "xz")]
    c.status(2, *lost, "--paired", *GUARD, has="B does not have it")
    c.status(2, *lost, "--paired", *GUARD, has="1 only in B, not judged")


def main():
    c = Checks("verdicts")
    print(f"seed {SEED}")
    for part in (planted_changes, drift_is_not_a_change, order_of_pairs, runs, rules, other_figures, family):
        part(c)
    c.status(0, "--version", has="perf-ab ")
    c.status(0, "--help", has="usage")
    c.finish()


main()
