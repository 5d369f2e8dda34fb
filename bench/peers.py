#!/usr/bin/env python3
"""What do other tools cost beside ours: a scope, and a program whose functions nobody has marked?

    bench/peers.py [--rounds N] [--keep FOLDER] [scopes] [unmarked]

scopes: a function with one scope, called at one place and at 1,000 in random order; the unit is two readings of the
counter in a function of the same program.  Tools that take whole functions get the function without the scope.
unmarked: processor time of zopfli, Lua and lzip (C++) out of Debian's sources, as a multiple of the same program
without the tool; gcc -O2, XRay of clang -O2 over clang's.  What the tools write goes to files, and counts.
Programs take turns; each figure is the least of the rounds.  What is not installed is left out: uftrace, clang with
its XRay, gprof's start files.  PERFH_SPALL and PERFH_TRACY name the folders of spall.h and tracy/Tracy.hpp;
PERFH_KEEP stands for --keep.
"""
import argparse
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import real

ROOT = real.ROOT
PLACES = 1000
SCOPES = """
#include <x86intrin.h>
#include <stdio.h>
#define PLAIN __attribute__((noinline, no_instrument_function)) NEVER
#define CLOBBER() __asm__ __volatile__("" : : : "memory")
typedef unsigned long long number;
%(functions)s
static void (*const scope[])() = {%(scopes)s};
static void (*const pair[])() = {%(pairs)s};
static const unsigned short order[] = {%(order)s};
enum { CALLS = sizeof order / sizeof *order, ROUNDS = 40 };
PLAIN static double ticks(void (*const *of)(), int one)
{
    number t = __rdtsc();
    for (int i = 0; i < CALLS; i++)
        of[one ? 7 : order[i]]();
    return (double)(__rdtsc() - t) / CALLS;
}
PLAIN int main()
{
    double least[4] = {1e30, 1e30, 1e30, 1e30};
    START();
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 4; k++) {
            double d = ticks(k & 1 ? pair : scope, k < 2);
            least[k] = d < least[k] ? d : least[k];
        }
    long kb = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %%ld", &kb);
    fprintf(stderr, "measured %%.3f %%.3f %%ld\\n", least[0] / least[1], least[2] / least[3], kb);
    STOP();
}
"""
NOTHING = "#define SCOPE(name)\n#define START()\n#define STOP()\n#define NEVER\n"
HEADS = {
    "nothing": NOTHING,
    "perf.h": '#include "perf.h"\n#define SCOPE(name) PERF_SCOPE(name)\n#define START()\n'
              "#define STOP() return perf_error() != PERF_OK\n#define NEVER\n",
    "perf_auto.h": '#include "perf_auto.h"\n#define SCOPE(name)\n#define START()\n'
                   "#define STOP() return perf_error() != PERF_OK\n#define NEVER\n",
    "spall": """#include "spall.h"
#include <x86intrin.h>
static SpallProfile all;
static SpallBuffer  here;
static char         room[1 << 20];
struct spalled {
    spalled(const char *name, int n) { spall_buffer_begin(&all, &here, name, n, __rdtsc()); }
    ~spalled() { spall_buffer_end(&all, &here, __rdtsc()); }
};
#define SCOPE(name) spalled s(name, sizeof name - 1)
#define START() spall_init_file("spall.out", 1, &all); here.data = room; here.length = sizeof room; \\
    spall_buffer_init(&all, &here)
#define STOP()
#define NEVER
""",
    "tracy": '#include "tracy/Tracy.hpp"\n#define SCOPE(name) ZoneScopedN(name)\n#define START()\n#define STOP()\n'
             "#define NEVER\n",
    "xray": NOTHING.replace("NEVER", "NEVER __attribute__((xray_never_instrument))"),
}
XRAY_FLAGS = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
LZIP = {"package": "lzip", "sources": ["*.cc"], "without": [], "cflags": ['-DPROGVERSION="1"'], "ldflags": []}
READS = '#define PERF_AT_EXIT 1\n#include "perf_auto.h"\n'


def peers():
    """{name: (compiler, flags, head, command before, environment)} of those that are here"""
    spall, tracy = os.environ.get("PERFH_SPALL"), os.environ.get("PERFH_TRACY")
    found = {"nothing": ("g++", [], "nothing", []), "perf.h": ("g++", [], "perf.h", []),
             "perf_auto.h": ("g++", ["-finstrument-functions", "-DPERF_AUTO"], "perf_auto.h", []),
             "gprof": ("g++", ["-pg"], "nothing", [])}
    if spall:
        found["spall"] = ("g++", [f"-I{spall}"], "spall", [])
    if tracy:
        found["Tracy"] = ("g++", [f"-I{tracy}", "-DTRACY_ENABLE", f"{tracy}/TracyClient.cpp", "-pthread", "-ldl"],
                          "tracy", [])
    if shutil.which("uftrace"):
        found["uftrace"] = ("g++", ["-finstrument-functions"], "nothing", ["uftrace", "record", "-d", "uftrace.out"])
    if shutil.which("clang++"):
        found["XRay"] = ("clang++", XRAY_FLAGS, "xray", [])
    return found


def run(command, place):
    """(processor time, what it said); what the tools wrote is deleted"""
    here = place / "run"
    here.mkdir()
    environment = {**os.environ, "XRAY_OPTIONS": "patch_premain=true xray_mode=xray-basic verbosity=0",
                   "TRACY_NO_SYS_TRACE": "1"}
    was = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=here, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(here)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stderr}")
    return now.ru_utime + now.ru_stime - was.ru_utime - was.ru_stime, done.stderr


def scopes_source(head):
    """Each place is a function with a scope, and one with two readings."""
    draw = random.Random(1)
    functions = [f'__attribute__((noinline)) void f{i}() {{ SCOPE("f{i}"); CLOBBER(); }}\n'
                 f"PLAIN void g{i}() {{ static number sum; number t = __rdtsc(); CLOBBER(); sum += __rdtsc() - t; }}"
                 for i in range(PLACES)]
    return head + SCOPES % {
        "functions": "\n".join(functions), "scopes": ", ".join(f"f{i}" for i in range(PLACES)),
        "pairs": ", ".join(f"g{i}" for i in range(PLACES)),
        "order": ", ".join(str(draw.randrange(PLACES)) for _ in range(10000))}


def scopes(place, rounds):
    least = {}
    here = peers()
    for name, (compiler, flags, head, _) in here.items():
        source = place / f"{name}.cpp"
        source.write_text(scopes_source(HEADS[head]), encoding="utf-8")
        subprocess.run([compiler, "-O2", "-w", f"-I{ROOT}", str(source), *flags, "-o", str(place / f"{name}.run")],
                       check=True)
    for _ in range(rounds):
        for name, (_, _, _, before) in here.items():
            said = run([*before, str(place / f"{name}.run")], place)[1]
            line = next(line for line in said.splitlines() if line.startswith("measured "))
            values = [float(v) for v in line.split()[1:]]
            least[name] = [min(pair) for pair in zip(least.get(name, values), values)]
    calls = 2 * 40 * 10000
    base = least.pop("nothing")
    print(f"a scope or call, in pairs of readings; memory after {calls} of them, beyond a program without")
    for name, (one, many, kb) in least.items():
        print(f"{name:<12} one place {one:.2f}, 1,000 places {many:.2f}, {max(kb - base[2], 0) / 1024:.1f} MB")


def build_unmarked(name, program, folder, place):
    """{kind: (file, its baseline's kind)}"""
    cpp = program["sources"][0].endswith(".cc")
    gcc, clang = ("g++", "clang++") if cpp else ("gcc", "clang")
    kinds = {"bare": (gcc, [], "bare"), "perf_auto.h": (gcc, ["-finstrument-functions", "-DPERF_AUTO"], "bare"),
             "gprof": (gcc, ["-pg"], "bare")}
    if shutil.which("uftrace"):
        kinds["uftrace"] = (gcc, ["-finstrument-functions"], "bare")
    if shutil.which(clang):
        kinds["bare clang"] = (clang, [], "bare clang")
        kinds["XRay"] = (clang, XRAY_FLAGS, "bare clang")
    sources = [str(s) for pattern in program["sources"] for s in sorted(folder.glob(pattern))
               if s.name not in program["without"] and not s.name.startswith("real_")]
    (place / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "here"\n', encoding="utf-8")
    reads = place / ("reads.cpp" if cpp else "reads.c")
    reads.write_text(READS, encoding="utf-8")
    for kind, (compiler, flags, _) in kinds.items():
        own = [str(reads)] if kind == "perf_auto.h" else []
        subprocess.run([compiler, "-O2", "-w", f"-I{ROOT}", f"-I{place}", f"-I{folder}", *program["cflags"], *flags,
                        *sources, *own, "-o", str(place / f"{name}_{kind}"), *program["ldflags"]], check=True)
    return {kind: (place / f"{name}_{kind}", base) for kind, (_, _, base) in kinds.items()}


def unmarked(place, rounds):
    for name, size in (("zopfli", 24), ("lua", 60), ("lzip", 200)):
        program, work = real.PROGRAMS.get(name, LZIP), place / name
        work.mkdir(parents=True, exist_ok=True)
        built = build_unmarked(name, program, real.fetch(program["package"], work), work)
        least = {kind: 1e30 for kind in built}
        args = real.command("zopfli" if name == "lzip" else name, work, size)[1:]
        for _ in range(rounds):
            for kind, (file, _) in built.items():
                before = ["uftrace", "record", "-d", "uftrace.out", "--no-libcall"] if kind == "uftrace" else []
                least[kind] = min(least[kind], run([*before, str(file), *args], work)[0])
        ratios = [f"{kind} {least[kind] / least[base]:.2f}" for kind, (_, base) in built.items() if kind != base]
        print(f"{name}: {least['bare']:.2f} s; times that: {', '.join(ratios)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", metavar="FOLDER", default=os.environ.get("PERFH_KEEP"), help="work there, and leave it")
    parser.add_argument("what", nargs="*", help="scopes or unmarked; default: both")
    args = parser.parse_args()
    questions = {"scopes": scopes, "unmarked": unmarked}
    if not set(args.what) <= set(questions):
        parser.error("scopes or unmarked")
    with tempfile.TemporaryDirectory(prefix="perfh.") as folder:
        place = pathlib.Path(args.keep or folder).resolve()
        place.mkdir(parents=True, exist_ok=True)
        for name in args.what or questions:
            questions[name](place, args.rounds)


if __name__ == "__main__":
    sys.exit(main())
