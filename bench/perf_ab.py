#!/usr/bin/env python3
"""What perf-ab costs on two files of a million numbers: seconds, and the most memory it held.

    python3 bench/perf_ab.py PERF_AB [N]

Aim: a second and 64 MB.
"""
import os
import random
import subprocess
import sys
import tempfile
import time


def measure(command):
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


def main():
    tool, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    source = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        a, b = (os.path.join(scratch, name) for name in "ab")
        for path, middle in ((a, 100), (b, 98)):
            with open(path, "w") as file:
                file.writelines(f"{middle * source.lognormvariate(0, 0.1):.17g}\n" for _ in range(n))
        for how in ([], ["--paired"], ["--metric", "p99"], ["--html", os.path.join(scratch, "page.html")]):
            wall, cpu, memory, status = min(measure([tool, a, b, *how]) for _ in range(3))
            print(f"{' '.join(how[:2]).replace(scratch + '/', ''):18} {wall:6.2f} s  {cpu:6.2f} s of CPU  "
                  f"{memory:5.0f} MB  status {status}")


main()
