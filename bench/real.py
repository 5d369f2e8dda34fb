#!/usr/bin/env python3
"""What a scope costs in real programs: every function of Lua and of zopfli, and 16 hot ones of SQLite, become one.

    bench/real.py [--layouts N] [--rounds N] [--beside NAME=FOLDER] [--keep FOLDER] [lua] [zopfli] [sqlite]

Fetches their Debian sources (apt-get source, with a source list of its own), puts a line at the
beginning of every function, and builds each program with gcc -O2: without (bare), with a count of
calls, with two readings of the counter that are subtracted and summed (pair), with PERF_SCOPE
(perf), and with that of the headers in another folder (--beside).  Where the linker puts the functions
alone moves a time by up to .3 pairs, so each build is linked in several orders of its objects, the same
for all builds.  In each order the runs take turns at random, and a scope adds (perf - bare) / (pair -
bare) pairs, of the least times.  A line says scopes a run, processor time of each build (median), the
median of these pairs over the orders, with the least and the most, and the instructions that callgrind
counts for one scope on a shorter run.
Needs: Debian or Ubuntu with dpkg-dev, gcc and valgrind; for SQLite make and tclsh, too.
"""
import argparse
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """
#ifdef REAL_PERF
#include "perf_scope.h"
#define REAL_SCOPE(name) PERF_SCOPE(name)
#elif defined(REAL_PAIR)
#include <x86intrin.h>
struct real_pair { unsigned long long begin, *sum; };
static inline void real_end(struct real_pair *p) { *p->sum += __rdtsc() - p->begin; }
#define REAL_SCOPE(name) static unsigned long long real_sum; __attribute__((cleanup(real_end))) \\
    struct real_pair real_here = {__rdtsc(), &real_sum}
#elif defined(REAL_COUNT)
extern unsigned long long real_count;
#define REAL_SCOPE(name) real_count++
#else
#define REAL_SCOPE(name) (void)0
#endif
#line 1
"""
TAIL = """
#ifdef REAL_COUNT
#include <stdio.h>
unsigned long long real_count;
__attribute__((destructor)) static void real_print(void) { fprintf(stderr, "scopes %llu\\n", real_count); }
#elif defined(REAL_PERF)
#include "perf.h"
#include <stdlib.h>
__attribute__((destructor)) static void real_print(void)
{
    if (getenv("REAL_REPORT"))
        perf_report();
}
#endif
"""
LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 600 * SIZE do t[i] = tostring((i * 7919) % 10007) .. "x" end
table.sort(t)
local s = table.concat(t, ",")
local n = 0
for w in s:gmatch("%d+") do n = n + #w end
for i = 1, 200 * SIZE do t[i] = string.format("%5.2f %s", i / 3, t[i]:rep(2)):upper() end
print(n, #s, fib(12 + SIZE // 100), #table.concat(t))
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300 * SIZE)
INSERT INTO t SELECT i, 'row ' || (i * 7919 % 10007), i * 31 % 977 FROM n;
CREATE INDEX by_b ON t(b);
CREATE INDEX by_c ON t(c, b);
SELECT count(*), sum(length(u.b)) FROM t JOIN t AS u ON u.b = t.b WHERE t.c < 50;
SELECT c, count(*), max(b) FROM t GROUP BY c ORDER BY 2 DESC, 1 LIMIT 5;
UPDATE t SET b = b || 'x' WHERE c % 3 = 0;
DELETE FROM t WHERE c % 7 = 1;
"""
HOT_OF_SQLITE = """sqlite3VdbeExec sqlite3BtreeTableMoveto sqlite3BtreeIndexMoveto sqlite3BtreeInsert sqlite3BtreeNext
sqlite3BtreeDelete sqlite3VdbeRecordUnpack sqlite3VdbeRecordCompareWithSkip vdbeRecordCompareString moveToRoot moveToChild
btreeParseCellPtr btreeParseCellPtrIndex sqlite3PagerUnrefNotNull getPageNormal balance""".split()
PROGRAMS = {
    "lua": {"package": "lua5.4", "sources": ["src/*.c"], "without": ["luac.c"], "cflags": ["-DLUA_USE_LINUX"],
            "ldflags": ["-lm", "-ldl"]},
    "zopfli": {"package": "zopfli", "sources": ["src/zopfli/*.c"], "without": [], "cflags": [], "ldflags": ["-lm"]},
    "sqlite": {"package": "sqlite3", "sources": ["sqlite3.c", "shell.c"], "without": [], "cflags": ["-DSQLITE_THREADSAFE=0", "-D_GNU_SOURCE"],
               "ldflags": ["-lm"], "prepare": "./configure --disable-tcl && make sqlite3.c shell.c", "only": HOT_OF_SQLITE},
}
FUNCTION = re.compile(r"^(?!(?:typedef|struct|union|enum|extern|#|/|\*|\}|else|if|for|while|switch|do)\b)"
                      r"(?:local |static |[A-Za-z_])[^;={}#]*?\([^;{}#]*?\)\s*\{[ \t]*(?=\n|/\*)", re.M)

NAME = re.compile(r"(\w+)\)?\s*\(")


def fetch(package, place):
    if here := [p for p in place.glob(package + "-*") if p.is_dir()]:
        return here[0]
    lists = place / "lists"
    (lists / "partial").mkdir(parents=True)
    (place / "cache").mkdir()
    name = re.search(r"VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(encoding="utf-8")).group(1)
    (place / "list").write_text("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                                f"http://deb.debian.org/debian {name} main\n", encoding="utf-8")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={place}/list", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={place}/cache"]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "source", package], check=True, cwd=place, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return next(p for p in place.iterdir() if p.is_dir() and p.name.startswith(package + "-"))


def instrument(text, only):
    def begin(m):
        name = NAME.search(m.group()).group(1)
        return f'{m.group()} REAL_SCOPE("{name}");' if not only or name in only else m.group()
    return HEAD + FUNCTION.sub(begin, text)


def compiled(program, folder, place, roots):
    """{build: its objects}; `roots`: where the headers of a build with scopes are."""
    p = PROGRAMS[program]
    sources = []
    if "prepare" in p and not (folder / p["sources"][0]).exists():
        subprocess.run(p["prepare"], shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for pattern in p["sources"]:
        for source in sorted(folder.glob(pattern)):
            if source.name in p["without"] or source.name.startswith("real_"):
                continue
            made = source.with_name("real_" + source.name)
            made.write_text(instrument(source.read_text(encoding="latin-1"), p.get("only")), encoding="latin-1")
            sources.append(made)
    (place / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "here"\n', encoding="utf-8")
    (place / "tail.c").write_text(TAIL, encoding="utf-8")
    objects = {}
    for kind in ["BARE", "COUNT", "PAIR", *roots]:
        objects[kind] = [place / f"{kind}_{source.stem}.o" for source in [*sources, place / "tail.c"]]
        for source, made in zip([*sources, place / "tail.c"], objects[kind]):
            subprocess.run(["gcc", "-O2", "-w", "-c", f"-I{roots.get(kind, ROOT)}", f"-I{place}", f"-I{folder}",
                            f"-DREAL_{'PERF' if kind in roots else kind}", *p["cflags"], str(source), "-o", str(made)],
                           check=True)
    return objects


def link(program, place, objects, order):
    for kind, files in objects.items():
        subprocess.run(["gcc", *(str(files[i]) for i in order), "-o", str(place / f"{program}_{kind}"),
                        *PROGRAMS[program]["ldflags"]], check=True)


def command(program, place, size):
    if program == "lua":
        (place / "work.lua").write_text(f"local SIZE = {size}\n" + LUA, encoding="utf-8")
        return [str(place / "lua_"), str(place / "work.lua")]
    if program == "sqlite":
        (place / "work.sql").write_text(SQL.replace("SIZE", str(size)), encoding="utf-8")
        return [str(place / "sqlite_"), ":memory:", f".read {place}/work.sql"]
    data = place / f"data{size}"
    if not data.exists():
        text = b"".join(p.read_bytes() for p in sorted(ROOT.glob("*.h")))
        data.write_bytes(text[:size * 400])
    return [str(place / "zopfli_"), "-c", str(data)]


def run(program, kind, place, size, before=()):
    args = command(program, place, size)
    args[0] += kind
    was = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*before, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - was.ru_utime - was.ru_stime, done.stderr


def instructions(program, kind, place, size):
    log = run(program, kind, place, size, ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"])[1]
    return int(re.search(r"Collected : (\d+)", log).group(1))


def scopes(program, place, size):
    return int(re.search(r"scopes (\d+)", run(program, "COUNT", place, size)[1]).group(1))


def measure(program, place, objects, layouts, rounds, size):
    """{build: its times}, {build: the pairs of each layout}"""
    time = {kind: [] for kind in objects if kind != "COUNT"}
    pairs = {kind: [] for kind in time if kind not in ("BARE", "PAIR")}
    chance = random.Random(program)                     # the same layouts each time
    order = list(range(len(objects["BARE"])))
    for _ in range(layouts):
        chance.shuffle(order)
        link(program, place, objects, order)
        here = {kind: [] for kind in time}
        for _ in range(rounds):
            for kind in chance.sample(list(here), len(here)):
                here[kind].append(run(program, kind, place, size)[0])
        bare, pair = min(here["BARE"]), min(here["PAIR"])
        for kind, seconds in here.items():
            time[kind] += seconds
            if kind in pairs:
                pairs[kind].append((min(seconds) - bare) / (pair - bare))
    return time, pairs


def report(program, args, place):
    roots = {"PERF": ROOT}
    if args.beside:
        name, _, root = args.beside.partition("=")
        roots[name] = pathlib.Path(root).resolve()
    objects = compiled(program, fetch(PROGRAMS[program]["package"], place), place, roots)
    link(program, place, objects, range(len(objects["BARE"])))
    few, many = {"lua": (50, 300), "zopfli": (8, 100), "sqlite": (10, 600)}[program]
    per = [scopes(program, place, size) for size in (few, 2 * few)]
    cost = {kind: instructions(program, kind, place, 2 * few) - instructions(program, kind, place, few)
            for kind in objects if kind != "COUNT"}
    count = scopes(program, place, many)
    time, pairs = measure(program, place, objects, args.layouts, args.rounds, many)
    for kind, ratios in pairs.items():
        print(f"{program if kind == 'PERF' else program + ', ' + kind}: {count} scopes;"
              f" {statistics.median(time['BARE']):.2f} s bare, {statistics.median(time['PAIR']):.2f} s with pairs,"
              f" {statistics.median(time[kind]):.2f} s with scopes; {statistics.median(ratios):.2f} pairs a scope"
              f" [{min(ratios):.2f}, {max(ratios):.2f}];"
              f" {(cost[kind] - cost['BARE']) / (per[1] - per[0]):.1f} instructions a scope,"
              f" {(cost['PAIR'] - cost['BARE']) / (per[1] - per[0]):.1f} a pair", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layouts", type=int, default=5, help="orders of the objects")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each build in each order")
    parser.add_argument("--beside", metavar="NAME=FOLDER", help="headers in another folder, in the same runs")
    parser.add_argument("--keep", metavar="FOLDER", help="work there, and leave it")
    parser.add_argument("program", nargs="*", help=" or ".join(PROGRAMS))
    args = parser.parse_args()
    if not set(args.program) <= set(PROGRAMS):
        parser.error("programs are " + ", ".join(PROGRAMS))
    for program in args.program or PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="perfh.") as folder:
            place = pathlib.Path(args.keep or folder) / program
            place.mkdir(parents=True, exist_ok=True)
            report(program, args, place)


if __name__ == "__main__":
    sys.exit(main())
