#!/usr/bin/env python3
"""planted.py FILE [NAME=NS...]: other times in a baseline, so that a busy machine decides no test.

The entries of each NAME get NS nanoseconds.  Other entries stay.  A day lies between two runs."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    results = json.load(f)
ns_of = dict(word.rsplit("=", 1) for word in sys.argv[2:])
for i, entry in enumerate(results["benchmarks"]):
    if entry["name"] in ns_of:
        ns = float(ns_of[entry["name"]])
        entry["samples"] = [ns * (1 + 0.001 * (i % 3)) for _ in entry["samples"]]
for i, run in enumerate(results["runs"]):
    run["time"] -= 86400 * (len(results["runs"]) - i)
with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write(json.dumps(results, separators=(",", ":")).replace("},{", "},\n{"))
