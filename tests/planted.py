#!/usr/bin/env python3
"""planted.py FILE NAME=NS...: other times in a baseline, so that a busy machine decides no test.

The entries of each NAME get NS nanoseconds.  NAME=NS,LIMIT,SLOW: those whose median is over LIMIT get
SLOW nanoseconds instead.  Other entries stay.  A day lies between two runs."""
import json
import statistics
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    results = json.load(f)
planted = {}
for word in sys.argv[2:]:
    name, numbers = word.rsplit("=", 1)
    planted[name] = [float(number) for number in numbers.split(",")]
for i, entry in enumerate(results["benchmarks"]):
    if entry["name"] in planted:
        ns, *limit_and_slow = planted[entry["name"]]
        if limit_and_slow and statistics.median(entry["samples"]) > limit_and_slow[0]:
            ns = limit_and_slow[1]
        entry["samples"] = [ns * (1 + 0.001 * (i % 3)) for _ in entry["samples"]]
for i, run in enumerate(results["runs"]):
    run["time"] -= 86400 * (len(results["runs"]) - i)
with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write(json.dumps(results, separators=(",", ":")).replace("},{", "},\n{"))
