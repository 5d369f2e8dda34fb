#!/usr/bin/env python3
"""perf-ab history: every run is a point, in the order of time and apart by machine.

    history.py TOOL
"""
import json
import os

from tool import DATA, Checks


def night(c, k, machine="box", factor=1.0):
    return c.file(f"night-{machine}-{k:02}.json", json.dumps({
        "perf_results": 1, "runs": [{"run": "a", "time": 1795600000 + 86400 * k, "machine": machine}],
        "benchmarks": [{"name": n, "unit": "ns", "run": "a", "samples": [m * f * factor] * 3}
                       for n, m, f in (("steady", 100, 1), ("step", 5000, 1.12 if k >= 30 else 1))]}))


def main():
    c = Checks("history")
    nights = [night(c, k) for k in range(40)]
    utf8, plain = dict(os.environ, LC_ALL="C.UTF-8"), dict(os.environ, LC_ALL="C")
    status, out, _ = c.run("history", *nights[::-1], env=utf8)              # given backwards: time decides
    rows = out.splitlines()
    c.check(status == 0 and rows[1].split()[:2] == ["step", "40"], f"what changed most comes first: {out}")
    c.check(rows[1].split()[-1] == "\u2581" * 30 + "\u2588" * 10, f"a curve of the step: {rows[1]}")
    c.check("+12.0 %" in rows[1] and "5.000 us" in rows[1] and "5.600 us" in rows[1], rows[1])
    c.check(set(rows[2].split()[-1]) == {"\u2585"}, f"no change is no curve: {rows[2]}")
    _, out, _ = c.run("history", *nights, env=plain)
    c.check(out.isascii() and "_" * 30 + "#" * 10 in out, f"without UTF-8: {out}")

    report = json.loads(c.run("history", *nights, "--json", "-")[1])
    step = report["benchmarks"][0]
    c.check(step["name"] == "step" and [round(p["median"]) for p in step["runs"]] == [5000] * 30 + [5600] * 10, f"{step}")
    times = [p["time"] for p in step["runs"]]
    c.check(times == sorted(times) and len(set(times)) == 40, f"{times}")

    both = nights + [night(c, k, "other", 3) for k in range(40)]
    report = json.loads(c.run("history", *both, "--json", "-")[1])
    c.check(len(report["benchmarks"]) == 4 and {b["machine"] for b in report["benchmarks"]} == {"box", "other"}, "machines apart")
    c.check(all(len(b["runs"]) == 40 for b in report["benchmarks"]), "runs of one machine on another's curve")
    c.status(0, "history", *both, has="other")

    c.status(0, "merge", *nights[:5], "-o", c.work / "all.json")
    c.status(0, "history", c.work / "all.json", has="  5   100.0 ns")
    c.status(0, "history", DATA / "google_a.json", DATA / "google_b.json", has="not shown: 'BM_skipped'")
    c.status(0, "history", *nights[:2], "--json", c.work / "h.json", has="step")
    c.check(json.loads((c.work / "h.json").read_text())["perf_history"] == 1, "the file of JSON")
    bad = night(c, 1, "bo\u009bx")
    out = c.status(0, "history", bad, nights[0])
    c.check("\u009b" not in out, "a machine's name steers the terminal")
    c.status(3, "history", has="a history of which files?")
    c.status(3, "history", "--html", nights[0], has="no such option")
    c.status(3, "history", "nowhere", has="cannot be opened")
    c.finish()


main()
