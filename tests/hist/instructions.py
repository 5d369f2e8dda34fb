#!/usr/bin/env python3
"""How many instructions does one record cost, with its loop?  callgrind counts them exactly: no
clock, no noise.  Each loop is a function of its own, so that one run counts them all.
usage: instructions.py SOURCE_ROOT      exit status 77 (skipped) without valgrind, 1 if CI=true"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include "perf_stats.h"
#include <stdlib.h>
static perf_hist fixed;
static perf_hist *small, *wide;
static uint64_t v[COUNT];
LOOPS
int main(void)
{
    long i;
    uint64_t x = 88172645463325252u, mem[4000];
    perf_hist_opts o = PERF_ZERO;
    o.bits = 6;
    small = perf_hist_init(mem, sizeof mem, &o);
    o.counter_bytes = 8;
    wide = perf_hist_init(malloc(perf_hist_bytes(&o)), perf_hist_bytes(&o), &o);
    for (i = 0; i < COUNT; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        v[i] = 1000 + x % 50000;
        perf_hist_add(&fixed, v[i]);
        perf_hist_add_own(small, v[i]);
        perf_hist_add_own(wide, v[i]);
    }
CALLS
    return perf_hist_count(&fixed) == 0 || perf_hist_count(small) == 0 || perf_hist_count(wide) == 0;
}
"""
# record, most instructions allowed
RECORDS = [
    ("perf_hist_add(&fixed, v[j])", 16),
    ("perf_hist_add_own(wide, v[j])", 19),
    ("perf_hist_add_own(small, v[j])", 23),        # clang 19; 22 by gcc and clang 14
    ("perf_hist_add(wide, v[j])", 40),
    ("perf_hist_add(small, v[j])", 40),
]
COUNT = 65536
LOOP = """
static void __attribute__((noinline)) record_%d(perf_hist *small, perf_hist *wide)
{
    long j;
    (void)small, (void)wide;
    for (j = 0; j < COUNT; j++)
        %s;
}
"""
LOOPS = "".join(LOOP % (i, record) for i, (record, _) in enumerate(RECORDS))
CALLS = "".join(f"    record_{i}(small, wide);\n" for i in range(len(RECORDS)))
BUILDS = [["-O2"], ["-O3"], ["-O2", "-march=haswell"], ["-O3", "-march=haswell"]]


def counts(program):
    """The instructions of each loop, and of what it calls, by the profile that callgrind writes: lines
    of a function's own cost and of its calls' cost end with the number."""
    with tempfile.NamedTemporaryFile(mode="r") as out:
        subprocess.run(["valgrind", "--tool=callgrind", "--compress-strings=no", "--callgrind-out-file=" + out.name,
                        program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        profile = out.read()
    found = [0] * len(RECORDS)
    for function in re.split(r"^fn=", profile, flags=re.M)[1:]:
        which = re.match(r"record_(\d+)", function)
        if which:
            found[int(which[1])] += sum(int(n) for n in re.findall(r"^[-+*\d]+ (\d+)$", function, re.M))
    return found


def main():
    root = sys.argv[1]
    if not shutil.which("valgrind"):
        print("no valgrind")
        return 1 if os.environ.get("CI") == "true" else 77
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        exe = os.path.join(scratch, "record")
        for compiler in compilers:
            rows = [[] for _ in RECORDS]
            for flags in BUILDS if os.uname().machine == "x86_64" else BUILDS[:2]:
                subprocess.run([compiler, *flags, "-std=c99", f"-DCOUNT={COUNT}", "-I", root, "-x", "c", "-", "-o", exe],
                               input=PROGRAM.replace("LOOPS", LOOPS).replace("CALLS", CALLS), text=True, check=True)
                for row, all_of_it in zip(rows, counts(exe)):
                    row.append(all_of_it / COUNT)
            for (record, most), row in zip(RECORDS, rows):
                ok = max(row) <= most + 0.1
                passed, failed = passed + ok, failed + (not ok)
                print(f"{compiler:6} {record:38} " + " ".join(f"{x:5.2f}" for x in row) +
                      f"   {'' if ok else 'FAILED: '}at most {most}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
