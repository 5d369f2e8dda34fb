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
        "other unit": (a, [x * 1e-3 for x in noisy(24, 104)], "are the units the same?"),
    }
    ask = ("--accept", "no regression beyond 10 %")
    for what, (x, y, says) in lies.items():
        one, two = (c.file(f"{n}.txt", "".join(f"{v!r}\n" for v in z)) for n, z in (("before", x), ("after", y)))
        text = "a,b\n" + "".join(f"{v!r},{w!r}\n" for v, w in zip(x, y))
        if what != "other unit":
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
    c.finish()


main()
