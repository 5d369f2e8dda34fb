#!/usr/bin/env python3
"""Would the tests notice, if a line of a header were wrong?

    tools/mutants.py [--number N] [--seed S] [--jobs J] [--only FUNCTION] [HEADER...]

Changes one place of a header at a time (a comparison, an arithmetic sign, a constant, a condition, a
statement that goes), compiles the tests of that header against the copy and runs them.  A mutant that
no test fails on has survived, and is printed with its line.  Without HEADER those of TESTS below.

    --number N   so many mutants a header, drawn by the seed (40); 0: every one, which takes hours
    --seed S     another draw (1)
    --only NAME  only places in functions whose name contains this

Some survivors are equivalent: tests/coverage.md lists those that were looked at, with the reason.  The
exit status is 1 when one survived that is not listed there.  Needs gcc."""
import argparse
import concurrent.futures
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tests" / "coverage.md"
ORACLE = ROOT / "tests" / "data" / "oracle"
HOT = "-DPERF_TEST_HOT"        # else a test with a clock of its own never takes the hot path
# header: its tests, those that notice most first; a source, and what it is run with; -D... is for the compiler.
TESTS = {
    "perf_hist.h": [("hist/core.c",), ("hist/truth.c",), ("hist/interval.c",), ("hist/peers.c",),
                    ("formats/hlog.c", ROOT / "tests/data/hlog"), ("hist/live.c",)],
    "perf_stats.h": [("stats/compare.c",), ("stats/math.c", ROOT / "tests/stats/functions.csv"),
                     ("stats/oracle.c", ORACLE), ("stats/families.c", ORACLE), ("hist/interval.c",),
                     ("time/loop_sim.c", "1", "few")],
    "perf_record.h": (RECORDING := [
        ("time/scopes.c", HOT), ("time/scopes.c",), ("time/tree.c", HOT, "1"), ("time/trace.c", HOT), ("time/tree.c", "1"),
        ("time/stream.c", HOT), ("time/remarks.c", HOT), ("time/threads.c",), ("time/fork.c",), ("time/trace.c",), ("time/stream.c",),
        ("time/remarks.c",), ("time/stands.c",), ("results/refusals.c",), ("time/clock.c",), ("nvtx/live.c",),
        ("time/golden.c", ROOT / "tests/time/report.txt"), ("time/fork.c", "-DUNWIPED"), ("time/running.c",), ("time/crowd.c",),
        ("time/signals.c",), ("time/anywhere.c",)]),
    "perf_scope.h": RECORDING,
    "perf_tally.h": [("mpi/tally.c",), ("time/scopes.c",), ("results/refusals.c",)],
}
FLAGS = ["-std=c99", "-O1", "-w", "-D_DEFAULT_SOURCE"]

# What is replaced, by what.  Each is tried at every place in a body where it matches.
CHANGES = [(re.compile(pattern), new) for pattern, new in [
    (r"(?<![<>=!+\-*/&|^%])<(?![<=])(?= )", "<="), (r"(?<![\->])>(?![>=])(?= )", ">="),
    (r"<=(?= )", "<"), (r">=(?= )", ">"), (r"==", "!="), (r"!=", "=="),
    (r"&&", "||"), (r"\|\|", "&&"), (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r"(?<=[\w)\]]) \* (?=[\w(])", " / "), (r"(?<=[\w)\]]) / (?=[\w(])", " * "),
    (r"\+\+", "--"), (r"\+=", "-="), (r"-=", "+="), (r"<<", ">>"), (r">>", "<<"),
    (r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "2"), (r"(?<![\w.])0\.5(?!\w)", "0.6"),
    (r"if \((?=[^;]*$)", "if (0 && "), (r"if \(!", "if ("), (r"return (?=[^;]*;)", "return -"),
    (r"^(\s+)(?=[a-z][\w\->.\[\]]* [-+|&^]?= |perf_\w+\()", r"\1if (0) "),
]]


def bodies(text):
    """(line number, line, function) of what stands inside functions; comments and macros do not."""
    name, inside, comment = "", False, False
    for number, line in enumerate(text.splitlines()):
        start = re.match(r"(?:PERF_\w+ |static )+.*?(\w+)\(", line)
        if start:
            name = start.group(1)
        if line == "{":
            inside = True
        elif line == "}":
            inside = False
        code = re.sub(r"/\*.*?\*/", "", line)
        if comment:
            comment = "*/" not in line
            continue
        comment = "/*" in code
        if inside and code.strip() and not comment and not code.lstrip().startswith(("#", "*")) and not code.endswith("\\"):
            yield number, code.split("/*")[0], name


def mutants(header, only):
    """Every one: (line number, old line, new line, function)."""
    found = []
    for number, line, name in bodies((ROOT / header).read_text()):
        if only not in name:
            continue
        for pattern, new in CHANGES:
            for match in pattern.finditer(re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' * len(m.group()), line)):
                changed = line[:match.start()] + match.expand(new) + line[match.end():]
                found.append((number, line, changed, name))
    return found


def run(words, seconds, **options):
    try:
        return subprocess.run(words, timeout=seconds, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, **options).returncode
    except subprocess.TimeoutExpired:
        return "hangs"


def judge(header, mutant):
    """Which test noticed, "" when none, None when it does not compile."""
    number, _, changed, _ = mutant
    with tempfile.TemporaryDirectory(prefix="mutant.") as place:
        place = pathlib.Path(place)
        for file in ROOT.glob("perf*.h"):
            shutil.copy(file, place)
        lines = (ROOT / header).read_text().splitlines()
        lines[number] = changed
        (place / header).write_text("\n".join(lines) + "\n")
        for source, *arguments in TESTS[header]:
            program = place / "test"
            defines = [word for word in arguments if str(word).startswith("-D")]
            arguments = [word for word in arguments if word not in defines]
            if run(["gcc", *FLAGS, *defines, f"-I{place}", f"-I{ROOT}/tests", f"-I{ROOT}/tests/hist",
                    str(ROOT / "tests" / source), "-o", str(program), "-lm", "-lpthread"], 300):
                return None
            if run([str(program), *map(str, arguments)], 120, cwd=place):
                return source
    return ""


def tell(mutant, noticed):
    """Progress, on standard error."""
    print(f"{mutant[0] + 1}: {noticed or ('does not compile' if noticed is None else 'SURVIVED')}: {mutant[2].strip()}",
          file=sys.stderr, flush=True)
    return noticed


def listed():
    """The lines of code that tests/coverage.md gives a reason for: - `` code ``: reason"""
    text = KNOWN.read_text() if KNOWN.exists() else ""
    return {" ".join(code.split()) for code in re.findall(r"^- `` (.*?) ``:", text, re.M | re.S)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("headers", nargs="*", default=list(TESTS))
    args = parser.parse_args()
    reasons, open_ones = listed(), 0
    for header in args.headers:
        unchanged = (0, *[(ROOT / header).read_text().splitlines()[0]] * 2, "")
        if judge(header, unchanged):
            sys.exit(f"mutants.py: the tests of {header} fail without a change")
        chosen = mutants(header, args.only)
        random.Random(args.seed).shuffle(chosen)
        chosen = chosen[:args.number or len(chosen)]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            answers = list(pool.map(lambda m: tell(m, judge(header, m)), chosen))
        counted = [(m, a) for m, a in zip(chosen, answers) if a is not None]
        survived = [m for m, a in counted if a == ""]
        print(f"{header}: {len(counted)} mutants, {len(counted) - len(survived)} noticed, {len(survived)} survived")
        for number, old, new, name in survived:
            known = " ".join(new.split()) in reasons
            open_ones += not known
            print(f"  {number + 1}, {name}{' (listed)' if known else ''}\n    - {old.strip()}\n    + {new.strip()}", flush=True)
    sys.exit(open_ones > 0)


if __name__ == "__main__":
    main()
