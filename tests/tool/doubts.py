#!/usr/bin/env python3
"""Columns that are no measurements in pairs are refused, with file and column; --trust judges them.

    doubts.py TOOL
"""
import json
import random

from tool import Checks

DICE = random.Random(11)


def noisy(n, middle):
    return [middle * (1 + 0.05 * DICE.random()) for _ in range(n)]


def blocks(x, size):
    return [v for i in range(0, len(x), size) for v in sorted(x[i:i + size])]


def swapped(x):
    """Sorted, but for two pairs."""
    x = sorted(x)
    for i, k in ((3, 30), (9, 40)):
        x[i], x[k] = x[k], x[i]
    return x


def smoothed(n, middle, width=5):
    """Moving averages: each value has most of the last one in it."""
    x = noisy(n + width - 1, middle)
    return [sum(x[i:i + width]) / width for i in range(n)]


def honest(n, kind):
    """Two columns that a clock could have read."""
    def bell():
        return DICE.gauss(0, 1)
    if kind == 0:
        return noisy(n, 100), noisy(n, 100)
    if kind == 1:
        return [float(round(v)) for v in noisy(n, 100)], [float(round(v)) for v in noisy(n, 100)]
    if kind == 2:
        return [float(DICE.randint(1, 3)) for _ in range(n)], [float(DICE.randint(1, 3)) for _ in range(n)]
    if kind == 3:                       # a machine that gets slower
        return tuple([100 + 0.2 * i + bell() for i in range(n)] for _ in (0, 1))
    if kind == 4:
        return tuple([100 * (1 + 0.03 * DICE.paretovariate(2)) for _ in range(n)] for _ in (0, 1))
    return tuple([100 + bell() + 30 * (DICE.random() < 0.1) for _ in range(n)] for _ in (0, 1))


def main():
    c = Checks("doubts")
    a, b = noisy(24, 100), noisy(24, 104)
    lies = {
        "sorted": (sorted(a), sorted(b), "sorted by value: the order of time is lost"),
        "reversed": (sorted(a)[::-1], sorted(b)[::-1], "largest first"),
        "copied": (a, a, "the same numbers as the other side: a copy"),
        "scaled": (a, [1.02 * x for x in a], "computed, not measured"),
        "doubled": ([x for x in a for _ in (0, 1)], [x for x in b for _ in (0, 1)], "each value is written more than once"),
        "repeated": (a * 2, b * 2, "the same values again and again"),
        "alternating": ([x for p in zip(a, noisy(24, 300)) for x in p], noisy(48, 200), "large and small values alternate"),
        "triples": ([x for x in a for _ in range(3)][:-1], [x for x in b for _ in range(3)][:-1], "each value is written more than once"),
        "shuffled": (a, DICE.sample(a, len(a)), "the same numbers as the other side in another order: a copy"),
        "backwards": (a, a[::-1], "the same numbers as the other side in another order: a copy"),
        "shifted": (a, [x + 0.5 for x in a], "the other side plus a constant: computed, not measured"),
        "in blocks": (blocks(a + b, 5), blocks(noisy(48, 100), 5), "sorted by value, in parts: the order of time is lost"),
        "two sorted halves": (sorted(a) + sorted(b), sorted(b) + sorted(noisy(24, 98)), "sorted by value, in parts"),
        "all but two": (swapped(a + b), swapped(noisy(48, 101)), "sorted by value, in parts"),
        "mirrored": (a + a[::-1], b + b[::-1], "the same pairs again: rows are copies"),
        "two rows for one": (*zip(*DICE.sample(list(zip(a + a, b + b)), 48)), "the same pairs again: rows are copies"),
        "partly in us": (a + noisy(16, 100), [x * 1e-3 for x in noisy(16, 100)] + b, "some values are near 1,000 times the others"),
        "other unit": (a, [x * 1e-3 for x in noisy(24, 104)], "are the units the same?"),
    }
    ask = ("--accept", "no regression beyond 10 %")
    for what, (x, y, says) in lies.items():
        one, two = (c.file(f"{n}.txt", "".join(f"{v!r}\n" for v in z)) for n, z in (("before", x), ("after", y)))
        text = "a,b\n" + "".join(f"{v!r},{w!r}\n" for v, w in zip(x, y))
        if what not in ("other unit", "partly in us"):
            pairs = c.file("pairs.csv", text)
            out = c.status(3, pairs, *ask, has=says)
            c.check("pairs.csv: column " in out and "(baseline)" in out or "(candidate)" in out, f"{what}: no file or no column: {out}")
            status, _, err = c.run(pairs, *ask, "--trust")
            c.check(status != 3, f"{what}: --trust: {err}")
        else:
            named = c.file("named.csv", "a,b,unit\n" + "".join(f"{v!r},{w!r},ns\n" for v, w in zip(x, y)))
            status, _, err = c.run(named, *ask)
            c.check(status != 3, f"both in ns: {err}")
        out = c.status(3, one, two, "--paired", *ask, has=says)
        c.check(".txt: the values: " in out and "--trust judges them" in out, f"{what}: {out}")
        status, _, err = c.run(one, two, "--paired", *ask, "--trust")
        c.check(status != 3, f"{what}: --trust: {err}")
        status, _, err = c.run(one, two, *ask)          # no pairs are claimed
        c.check(status == 2, f"{what}: without --paired: {status} {err}")

    # One of several benchmarks costs itself.
    rows = [("good", v, w) for v, w in zip(noisy(24, 100), noisy(24, 100))] + [("bad", v, w) for v, w in zip(sorted(a), sorted(b))]
    file = c.file("some.csv", "name,a,b\n" + "".join(f"{n},{v!r},{w!r}\n" for n, v, w in rows))
    out = c.status(2, file, *ask, has="some.csv: column a (baseline) of 'bad': sorted by value")
    _, out, _ = c.run(file, *ask, "--json", "-")
    c.check({r["name"]: r["decision"] for r in json.loads(out)["benchmarks"]} == {"good": "ACCEPT", "bad": "INCONCLUSIVE"}, out)

    # What is honest is not doubted: noise, few values, ties of a coarse clock, constants.
    wrong = 0
    for k in range(200):
        coarse = k % 4 == 1
        x, y = ([round(v, 0 if coarse else 6) for v in noisy(8 + k % 30, 100)] for _ in (0, 1))
        if k % 4 == 2:
            x = [5.0] * len(x)
        if k % 4 == 3:
            x, y = [float(DICE.randint(1, 2)) for _ in x], [float(DICE.randint(1, 2)) for _ in x]
        text = "a,b,unit\n" + "".join(f"{v},{w},ns\n" for v, w in zip(x, y))
        wrong += c.run(c.file("honest.csv", text), *ask)[0] == 3
    c.check(wrong == 0, f"{wrong} of 200 honest files are refused")
    text, refused, asked = "name,a,b,unit\n", 0, 3000
    for k in range(asked):
        text += "".join(f"n{k},{v:.6g},{w:.6g},ns\n" for v, w in zip(*honest(8 + k % 33, k % 6)))
    _, out, err = c.run(c.file("many.csv", text), "--accept", "no regression beyond 50 %", "--json", "-")
    refused = sum("--trust judges it" in json.dumps(row) for row in json.loads(out)["benchmarks"])
    c.check(refused <= 3, f"{refused} of {asked} honest benchmarks are refused: {err[:300]}")

    # Neighbours that are alike: no verdict at the threshold; sides that are far apart have one.
    decided = 0
    for _ in range(60):
        text = "a,b\n" + "".join(f"{v!r},{w!r}\n" for v, w in zip(smoothed(40, 100), smoothed(40, 100)))
        decided += c.run(c.file("smooth.csv", text), "--accept", "no regression beyond 0.0001 %")[0] != 2
    c.check(decided <= 3, f"{decided} of 60 moving averages of equal code are decided")
    c.status(2, c.file("smooth.csv", text), "--accept", "no regression beyond 0.0001 %", has="pairs in a row have like ratios")
    text = "a,b\n" + "".join(f"{v!r},{w!r}\n" for v, w in zip(smoothed(40, 200), smoothed(40, 100)))
    c.status(0, c.file("far.csv", text), "--accept", "speedup >= 1.3")
    c.finish()


main()
