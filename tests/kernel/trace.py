#!/usr/bin/env python3
"""The trace of in-kernel timers, read as a viewer would.

trace.py MACHINE        MACHINE: the program of machine.cpp
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "kernel.json")
    subprocess.run([os.path.realpath(sys.argv[1]), path], check=True)
    trace = json.load(open(path, encoding="utf-8"))

events = trace["traceEvents"]
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
check(sorted(processes.values()) == ["SM 0", "SM 1", "SM 2"], f"a process for each SM: {processes}")
timed = [e for e in events if e["ph"] != "M"]
check(len(timed) == 5 * 3 * 2 * 3, f"{len(timed)} events: three of each warp")
check({e["pid"] for e in timed} == set(processes), "events belong to SMs")
check(min(processes) > 1 << 22, f"no process of Linux has such a number: {processes}")
check(trace["otherData"] == {"dropped_records": 30, "missed_warps": 0, "ns_per_cycle": "0.5000"},
      trace["otherData"])

tracks = collections.defaultdict(list)
for e in timed:
    tracks[e["pid"], e["tid"]].append(e)
check(sorted(tracks) == [(p, t) for p in sorted(processes) for t in (0, 1)], "two warps at a time")
for key, row in tracks.items():
    row.sort(key=lambda e: e["ts"])
    for a, b in zip(row, row[1:]):
        check(a["ts"] + a.get("dur", 0) <= b["ts"] + 0.0011, f"no overlap on a track: {a} {b}")

names = collections.Counter(e["name"] for e in timed)
check(names == {"instant": 30, '"quoted\\"\n\ufffd': 18, "x" * 255: 18, "scope 3": 12, "scope 7": 12},
      names)
first = min(timed, key=lambda e: e["ts"])
check(abs(first["ts"] - 1005) < 0.002, f"moved by host_ns: {first}")
for e in timed:
    x, y, z = e["args"]["block"].split(",")
    check(int(x) % 1000000 == 0 and processes[e["pid"]] == f"SM {y}" and z == "0", e)
    if e["ph"] == "i":
        check(e["args"]["value"] == int(x) // 1000000 and e["s"] == "t", e)
    else:
        check(e["ph"] == "X" and e["args"]["cycles"] == 10000 and abs(e["dur"] - 5) < 0.0021, e)
check({e["args"]["block"].split(",")[0] for e in timed} ==
      {str(1000000 * i) for i in range(5)}, "all blocks")
print(f"{len(timed)} events, {failed} failed checks")
sys.exit(failed != 0)
