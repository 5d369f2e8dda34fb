#!/usr/bin/env python3
"""How many instructions does one record cost, with its loop?  callgrind counts them exactly: no
clock, no noise.  Two loop lengths are compared, so that everything else cancels.
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
static uint64_t v[65536];
int main(int argc, char **argv)
{
    long n = atol(argv[1]) * 65536, i;
    uint64_t x = 88172645463325252u, mem[4000];
    perf_hist_opts o = PERF_ZERO;
    perf_hist *small, *wide;
    (void)argc;
    o.bits = 6;
    small = perf_hist_init(mem, sizeof mem, &o);
    o.counter_bytes = 8;
    wide = perf_hist_init(malloc(perf_hist_bytes(&o)), perf_hist_bytes(&o), &o);
    for (i = 0; i < 65536; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        v[i] = 1000 + x % 50000;
        perf_hist_add(&fixed, v[i]);
        perf_hist_add_own(small, v[i]);
        perf_hist_add_own(wide, v[i]);
    }
    for (i = 0; i < n; i += 65536) {
        long j;
        switch (atoi(argv[2])) {
LOOPS
        }
    }
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
LOOPS = "\n".join(f"        case {i}:\n            for (j = 0; j < 65536; j++)\n"
                  f"                {record};\n            break;"
                  for i, (record, _) in enumerate(RECORDS))
BUILDS = [["-O2"], ["-O3"], ["-O2", "-march=haswell"], ["-O3", "-march=haswell"]]


def count(program, loops, which):
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out.name, program, str(loops),
             str(which)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stdout).group(1))


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
                subprocess.run([compiler, *flags, "-std=c99", "-I", root, "-x", "c", "-", "-o", exe],
                               input=PROGRAM.replace("LOOPS", LOOPS), text=True, check=True)
                for which, row in enumerate(rows):
                    # The run that records more often, less the one that records less often.
                    row.append((count(exe, 4, which) - count(exe, 2, which)) / (2 * 65536))
            for (record, most), row in zip(RECORDS, rows):
                ok = max(row) <= most + 0.1
                passed, failed = passed + ok, failed + (not ok)
                print(f"{compiler:6} {record:38} " + " ".join(f"{x:5.2f}" for x in row) +
                      f"   {'' if ok else 'FAILED: '}at most {most}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
