#!/usr/bin/env python3
"""How much of each header do the tests run?

    tools/coverage.py [--build FOLDER] [--again] [--only WORD]... [--missing HEADER] [--markdown]

Builds the tests a second time with gcc --coverage, at -O0, runs those that run compiled programs of
ours, and prints lines and branches of each header that no test has run.  A line counts as run when
any program ran it; so does each way of a branch.  Ways that only a C++ exception takes do not count.

    --build FOLDER    where to build (build-coverage); what was run there before counts as well
    --again           count anew what is there, run nothing
    --only WORD       run only the tests of this suite, or whose name contains this; may be given again
    --missing HEADER  also print this header's lines that never ran, with ways that were never taken (which of how
                      many, counted from 1), and the functions they are in
    --markdown        the table as tests/coverage.md has it

Children that end by check_exit() of tests/check.h leave counts, those that end by a signal do not; scripts that
build programs are run with a compiler that adds --coverage.  Needs gcc, gcov, meson.  The faults alone take ten minutes."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Tests that build their own programs; they are started with the compilers of shims().
SCRIPTS = {"harness", "at exit", "modules", "core gcc", "meters", "mutations", "fake driver gcc", "unloaded module gcc", "engine gcc",
           "quickstart, planted defects", "c gpu_stream, simulated driver", "ranges gcc"}
# The same programs with other switches, or under a tool that cannot count; signals: a handler that interrupts
# code compiled with -O0 in the middle of an addition.
LEFT_OUT = ("signals", "tsan", "valgrind", "sanitized", "hot path", "ten thousand ranks")
# -O0 also where a test asks for -O2, whose branches are the compiler's; what is always inlined is counted once, not
# at each place that calls it.
FLAGS = "-DCHECK_COVERAGE -O0"
IN_C = "-D__always_inline__=__unused__"     # libstdc++ needs the word


def command(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, **options).stdout


def shims(build):
    """Compilers that count: a script's `gcc -c f.c` becomes `gcc --coverage -c f.c`, and what they write
    down of each call has a name of its own.  Not where that changes what is tested."""
    folder, counts = build / "shims", build / "counts"
    folder.mkdir(exist_ok=True)
    counts.mkdir(exist_ok=True)
    for name in ("gcc", "g++", "cc", "c++"):
        real = command("sh", "-c", f"command -v {name}").decode().strip()
        shim = folder / name
        shim.write_text(f"""#!/bin/sh
case " $* " in *" -nodefaultlibs "* | *" -flto"* | *" -E "* | *fsanitize=thread*) exec {real} "$@" ;; esac
for word; do
    shift
    case $word in -fsanitize=* | -fno-sanitize* | -O*) ;; *) set -- "$@" "$word" ;; esac
done
exec {real} --coverage {FLAGS} {IN_C if name in ('gcc', 'cc') else ''} -dumpdir "{counts}/$$-" "$@"
""")
        shim.chmod(0o755)
    return folder


def wanted(test, only):
    counted = test["depends"] and not any(word in test["name"] for word in LEFT_OUT)
    suites = [suite.split(":")[-1] for suite in test["suite"]]
    return (counted or test["name"] in SCRIPTS) and (not only or any(w in suites or w in test["name"] for w in only))


def run_tests(build, only):
    meson = "meson"
    if not (build / "build.ninja").exists():
        command(meson, "setup", str(build), str(ROOT), "-Db_coverage=true", "-Doptimization=0", "-Dwerror=false",
                f"-Dc_args={FLAGS} {IN_C}", f"-Dcpp_args={FLAGS}")
    tests = [t for t in json.loads(command(meson, "introspect", str(build), "--tests")) if wanted(t, only)]
    programs = {target["id"]: target["filename"][0]
                for target in json.loads(command(meson, "introspect", str(build), "--targets"))}
    needed = {os.path.relpath(programs[i], build) for test in tests for i in test["depends"]}
    command("ninja", "-C", str(build), *sorted(needed))
    scratch = build / "scratch"
    scratch.mkdir(exist_ok=True)
    environment = dict(os.environ, KEEP="1", TMPDIR=str(scratch),
                       PATH=f"{shims(build)}:{os.environ['PATH']}")
    names = sorted({t["name"] for t in tests})
    subprocess.run([meson, "test", "-C", str(build), "--no-rebuild", "-t", "5", *names],
                   env=environment, stdout=sys.stderr, check=False)


class Header:
    def __init__(self):
        self.lines = collections.Counter()           # line: times run
        self.branches = {}                           # (line, how many, which): times taken
        self.straight = set()                        # lines that some compilation has without branches
        self.function = {}                           # line: function

    def best_ways(self):
        """{line: [taken or not]}.  Compilations differ in how many branches a line has (C, C++, a macro); the one
        whose share is best counts.  Where one has none, what others have is their compiler's: a loop that clears
        an array, what follows a call that might throw."""
        found = collections.defaultdict(list)
        for (line, many, _), taken in sorted(self.branches.items()):
            found[line, many].append(taken > 0)
        best = {}
        for (line, _), ways in found.items():
            if line in self.straight:
                continue
            if line not in best or sum(ways) / len(ways) > sum(best[line]) / len(best[line]):
                best[line] = ways
        return best


def count(build):
    """Adds up what all programs ran: {header name: Header}."""
    headers = collections.defaultdict(Header)
    def read(data):
        return command("gcov", "--json-format", "--stdout", "--branch-probabilities", data.name,
                       cwd=data.parent, stderr=subprocess.DEVNULL)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outs = list(pool.map(read, sorted(build.rglob("*.gcda"))))
    for out in outs:
        for text in out.splitlines():
            for source in json.loads(text)["files"]:
                path = pathlib.Path(source["file"])
                if not (path.name.startswith("perf") and path.suffix == ".h") or path.name == "perf-ab.h":
                    continue
                if (ROOT / path.name).exists():
                    add(headers[path.name], source["lines"])
    for name, header in headers.items():         # the end of a function that returns before it is no line
        text = (ROOT / name).read_text().splitlines()
        for line in [n for n, run in header.lines.items() if not run and text[n - 1].strip() == "}"]:
            del header.lines[line]
    return headers


def add(header, lines):
    for line in lines:
        number = line["line_number"]
        header.lines[number] += line["count"]
        if line.get("function_name"):
            header.function[number] = line["function_name"]
        ways = [b for b in line["branches"] if not b["throw"]]
        if not line["branches"]:
            header.straight.add(number)
        for which, way in enumerate(ways):
            key = (number, len(ways), which)
            header.branches[key] = header.branches.get(key, 0) + way["count"]


def ways_of(header):
    best = header.best_ways().values()
    return sum(map(sum, best)), sum(map(len, best))


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def table(headers, markdown):
    edge = "| " if markdown else ""
    if markdown:
        print("| header | lines | run | branches | taken |\n|---|---|---|---|---|")
    sums = [0, 0, 0, 0]
    for name in sorted(headers):
        header = headers[name]
        taken, ways = ways_of(header)
        row = [sum(1 for n in header.lines.values() if n), len(header.lines), taken, ways]
        sums = [a + b for a, b in zip(sums, row)]
        show(f"`{name}`" if markdown else name, row, edge)
    show("together", sums, edge)


def show(name, row, edge):
    run, lines, taken, ways = row
    cells = [f"{name:18}", f"{lines:6}", f"{percent(run, lines):>8}", f"{ways:6}", f"{percent(taken, ways):>8}"]
    print(edge + (" | " if edge else "  ").join(cells) + (" |" if edge else ""))


def missing(header, name):
    """The lines that never ran or whose ways were not all taken, each run of neighbours with its function."""
    text = (ROOT / name).read_text().splitlines()
    last = None
    for line in sorted(header.lines):
        ways = header.best_ways().get(line, [])
        if header.lines[line] and all(ways):
            continue
        if header.function.get(line) != last:
            last = header.function.get(line)
            print(f"{name}: {last}")
        not_taken = [str(i) for i, taken in enumerate(ways, 1) if not taken]
        what = f"{','.join(not_taken)} of {len(ways)}" if header.lines[line] else "never"
        print(f"  {line:5} {what:14} {text[line - 1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-coverage")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--missing", action="append", default=[])
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    if not args.again:
        run_tests(build, args.only)
    headers = count(build)
    if not headers:
        sys.exit("coverage.py: no counts; was anything run?")
    table(headers, args.markdown)
    for name in args.missing:
        missing(headers[name], name)


if __name__ == "__main__":
    main()
