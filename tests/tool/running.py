#!/usr/bin/env python3
"""perf-ab run: races, parameters, what runs around the commands, what they use, and that nothing of
them is left behind.  Nothing here depends on how fast the machine is.

    running.py TOOL
"""
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import time

from tool import ROOT, Checks


def figure(c, name, value):
    """A command that reports a figure near `value`, with a spread of 1 % that comes from a file."""
    n = c.work / f"n{name}"
    return ("--", f"n=$(cat {n} 2>/dev/null || echo 0); echo $((n + 1)) > {n}; echo {name} >> {c.work}/log; "
                  f"echo $(( {value} * (1000 + (n * 7919 % 21) - 10) / 1000 ))")


def fresh(c):
    for f in c.work.glob("n*"):
        f.unlink()
    (c.work / "log").write_text("")


def logged(c):
    return (c.work / "log").read_text().split()


def report(c, status, *args):
    got, out, err = c.run("run", "--json", "-", *args)
    c.check(got == status, f"run {args}: status {got}, not {status}\n{out}{err}")
    return json.loads(out) if out else {"benchmarks": []}


def race(c):
    fresh(c)
    r = report(c, 1, "--shell", "--reported", "--unit", "ns", "--pairs", "20", "--seed", "7", "--save", c.work / "kept.json",
               *figure(c, "A", 100000), *figure(c, "B", 50000), *figure(c, "C", 76923), *figure(c, "D", 150000))
    verdicts = [b["decision"] for b in r["benchmarks"]]
    c.check(verdicts[0] == "ACCEPT" and verdicts[2] == "REJECT", f"race: {verdicts}")
    # Every round is a permutation of who is left; who is decided takes no further part.
    log, orders = logged(c)[4:], set()
    runs = [u["runs"] for u in r["commands"]]
    for k in range(max(runs)):
        left = [name for name, n in zip("ABCD", runs) if n > k]
        turn, log = log[:len(left)], log[len(left):]
        c.check(sorted(turn) == left, f"round {k}: {turn} of {left}")
        orders.add("".join(turn))
    c.check(not log and len(orders) > 4, f"orders of the rounds: {orders}")
    c.check(runs[0] == max(runs) and runs[1] < runs[2], f"runs of each: {runs}")
    kept = json.loads((c.work / "kept.json").read_text())["benchmarks"]
    c.check([len(b["baseline"]) for b in kept] == runs[1:], "kept pairs")
    c.check("geometric_mean" not in r, "the mean of rivals")
    # Two that look the same are two.
    fresh(c)
    out = c.status(1, "run", "--shell", "--reported", *figure(c, "A", 1000000), *figure(c, "A", 1000000)[:1], "echo 9000000",
                   "--", "echo 9000000", has="2 benchmarks, 0 ACCEPT, 2 REJECT")
    c.check(out.count("echo 9000000") >= 4, out)


def family(c):
    """All verdicts of a race together are wrong in 5 % at most: so each takes more than one alone."""
    c.status(2, "run", "--pairs", "2", "--reported", "--", "echo", "5", "--", "echo", "9", has="at least 5 more pairs")
    # A program that prints its unit as it fits: 850 us are less than 12 ms.
    for options, b, has in (((), "850 us", "0.85"), (("--unit", "us"), "850 us", "850"), (("--unit", "us"), "0.85ms,", "850"),
                            (("--each", "--unit", "ns"), "0.00085 s\n0.85 ms\n850 us", "850")):
        c.status(0, "run", "--seed", "4", "--pairs", "8", "--reported", *options, "--", "printf", "12 ms\n", "--", "printf", b, has=has)
    pairs = []
    for rivals in (1, 3, 7):
        commands = [w for i in range(rivals) for w in ("--", "echo", str(5000 + i))]
        r = report(c, 0, "--reported", "--", "echo", "9999", *commands)
        pairs.append([u["runs"] for u in r["commands"]])
    c.check([p[0] for p in pairs] == [7, 9, 10] and all(set(p) == {p[0]} for p in pairs), f"pairs: {pairs}")


def the_same(c):
    """Both limits: what lies outside is rejected on either side, also of rates."""
    for unit in ("ns", "MB/s"):
        for after, status, below, above in ((100100, 0, 1 / 1.02, 1.02), (130000, 1, 1.02, 2), (70000, 1, 0.5, 1 / 1.02)):
            fresh(c)
            r = report(c, status, "--accept", "same within 2 %", "--shell", "--reported", "--unit", unit, "--seed", "3",
                       *figure(c, "A", 100000), *figure(c, "B", after))
            ratio = r["benchmarks"][0]["rules"][0]["ratio"]
            if unit == "ns":
                c.check(below < ratio["low"] and ratio["high"] < above, f"{after} {unit}: {ratio}")


def placement(c):
    """Each process has an environment of another size, unless that is switched off."""
    fresh(c)
    c.status(2, "run", "--shell", "--pairs", "6", "--seed", "4", *["--", f"echo ${{#PERF_PLACEMENT}} >> {c.work}/log"] * 2)
    sizes = [int(x) for x in logged(c)]
    c.check(len(set(sizes)) > 10 and max(sizes) < 4096 and max(sizes) > 1500, f"sizes: {sizes}")
    fresh(c)
    c.status(2, "run", "--shell", "--pairs", "6", "--no-placement", *["--", f"echo x${{PERF_PLACEMENT}} >> {c.work}/log"] * 2)
    c.check(set(logged(c)) == {"x"}, f"sizes: {logged(c)}")
    fresh(c)                                             # an own one is replaced, and what else is there stays
    c.run("run", "--shell", "--pairs", "1", *["--", f"env | grep -c PERF_PLACEMENT >> {c.work}/log; echo $KEPT >> {c.work}/log"] * 2,
          env={**os.environ, "PERF_PLACEMENT": "mine", "KEPT": "7"})
    c.check(set(logged(c)) == {"1", "7"}, f"{logged(c)}")


def each(c):
    """Several numbers a run: its median counts, and what varies within runs and between them is told."""
    def lines(name, values):                             # each call prints the next row of values
        for k, row in enumerate(values):
            (c.work / f"{name}{k}").write_text("".join(f"slice: {x:.3f} ms, of 8\n" for x in row))
        n = c.work / f"n{name}"
        return ("--", f"n=$(cat {n} 2>/dev/null || echo 0); echo $((n + 1)) > {n}; cat {c.work}/{name}$((n % {len(values)}))")
    fresh(c)
    still = [[10, 10.2, 9.8, 30], [10.1, 10.3, 9.9, 29]]
    r = report(c, 0, "--each=slice: ", "--unit", "ms", "--shell", *lines("w", still), *lines("v", [[x / 2 for x in row] for row in still]))
    rule, used = r["benchmarks"][0]["rules"][0], r["commands"][0]
    c.check(abs(rule["before"] - 10.15) < 0.1 and abs(rule["ratio"]["estimate"] - 0.5) < 0.02, f"medians of runs: {rule}")
    c.check(used["values"] == 4 * used["runs"] and 0.3 < used["sd_within_run"] < 0.8 and used["sd_between_runs"] == 0,
            f"all of it is within: {used}")
    fresh(c)                                             # runs that differ by 10 %, values that repeat to 0.1 %
    apart = [[f * x for x in (10, 10.01, 9.99)] for f in (1.0, 1.1, 0.9, 1.05, 0.95)]
    r = report(c, 0, "--each=slice: ", "--unit", "ms", "--shell", "--accept", "speedup >= 1.2", *lines("p", apart),
               *lines("q", [[x / 2 for x in row] for row in apart]))
    used = r["commands"][0]
    c.check(0.04 < used["sd_between_runs"] < 0.12 and used["sd_within_run"] < 0.003, f"between: {used}")
    c.check(used["best_values_a_run"] in (0, 1), f"more values do not pay: {used}")
    out = c.status(0, "run", "--each", "--accept", "speedup >= 1.2", "--shell", "--", "printf '1 a 5\\n\\nno\\n2 b 7\\n9 c 6\\n'",
                   "--", "printf '1 a 2\\n2 b 3\\n'", has="between runs")
    c.check("  6    2.5  7 pairs" in out, out)  # the median of the last numbers of lines
    c.status(3, "run", "--each=none", "--", "echo", "7", "--", "echo", "8", has="printed no such number")
    c.status(3, "run", "--each", "--", "echo", "0", "--", "echo", "8", has="not positive")
    # Of more than 32 MB the beginning is lost: no numbers of it may be missing unsaid.
    long = "echo took 7; yes 11111111 | head -n 5000000"
    for how, b in (("--each", long), ("--each=took", long + "; echo took 9"), ("--reported=took", long)):
        c.status(3, "run", "--shell", "--pairs", "1", "--warmup", "0", how, "--", b, "--", "echo took 5",
                 has="printed more than 32 MB, and its beginning is lost")
    for how, a in (("--reported=took", long + "; echo took 8"), ("--reported", long), ("--each", "yes 1111111 | head -n 3000000")):
        c.status(2, "run", "--shell", "--pairs", "1", "--warmup", "0", how, "--", a, "--", "echo took 5")
    # Units that differ, and cannot be converted for sure; never compared as bare numbers.
    for a, b in (("1.2 MB", "900 KB"), ("900 KiB", "1.2 MiB"), ("1.5G", "900M"), ("59 s", "1.2"),
                 ("1.2", "59 s"), ("12 %", "0.12"), ("5 s", "4 KB"), ("900 MFlops", "1.2 GFlops"), ("900 mJ", "1.2 J"), ("900 Kops", "1.2 Mops"),
                 ("900 kilobytes", "1.2 megabytes"), ("900 Mb", "900 MB")):
        c.status(3, "run", "--reported", "--", "echo", a, "--", "echo", b, has="in another unit than before")
    for unit, a, b in (("KB", "900", "1.2 MB"), ("KB", "1.2 MB", "900"), ("ms", "400", "5 KB"), ("MB/s", "12 s", "7 ms"),
                       ("MB/s", "900 MB/s", "1.2 GB/s"), ("MB/s", "12 ms", "24 ms"), ("B", "12 ms", "24 ms"), ("B", "12 MB/s", "24 MB/s"),
                       ("ops", "12 ops/s", "24 ops/s")):
        c.status(3, "run", "--reported", "--unit", unit, "--", "echo", a, "--", "echo", b, has="in another unit")
    for a in ("1m5.0s", "took 0:01:30", "1h2m", "real 1m 5.00s", "1 min 5 s", "1:30 min"):
        c.status(3, "run", "--reported", "--", "echo", a, "--", "echo", "59 s", has="a time in parts")
        c.status(3, "run", "--reported=x", "--", "echo", f"x {a.split(' ', 1)[-1] if a[0] > '9' else a}", "--", "echo", "x 59 s", has="a time in parts")
    for a, b in (("59 s", "1.2 minutes"), ("850 us", "1.2 msec"), ("2 h", "9000 seconds"), ("100 KB", "150 KB"), ("850 us/iter", "1.2 ms/iter"),
                 ("p99:12.5 ms", "p99:15.5 ms"), ("1000 old/out", "1500 new/out"),
                 ("100 byte", "150 bytes"), ('{"t":"850us"}', '{"t":"1.2ms"}'), ("850 microseconds/iter", "1.2 milliseconds/iter")):
        c.status(1, "run", "--pairs", "8", "--seed", "2", "--reported", "--", "echo", a, "--", "echo", b, has="REJECT")
    c.status(0, "run", "--pairs", "8", "--seed", "2", "--reported", "--", "echo", "401 files", "--", "echo", "207 file", has="ACCEPT")
    c.status(1, "run", "--pairs", "8", "--seed", "2", "--reported", "--unit", "ms", "--", "echo", "400", "--", "echo", "0.6 s", has="REJECT")
    c.status(1, "run", "--pairs", "8", "--seed", "2", "--reported", "--unit", "minutes", "--", "echo", "59 s", "--", "echo", "1.2 minutes", has="REJECT")


PLACED = r"""
#define PERF_CLOCK_FN placed_clock
#include <stdint.h>
static uint64_t placed_clock(void);
#define PERF_MAIN 1
#include "perf.h"
#include <stdlib.h>
static uint64_t now_ns = 1000;
static uint64_t placed_clock(void) { return now_ns += 10; }
PERF_BENCH(placed)                      /* each process has a speed of its own, within 6 % */
{
    const char    *own = getenv("OWN"), *place = getenv("PERF_PLACEMENT");
    const uint64_t size = place ? strlen(place) : 0;

    while (perf_bench_next(&b))
        now_ns += (uint64_t)atoi(own) * (1000 + size * 7919 % 61) / 1000;
}
"""


def programs_of_benchmarks(c):
    """The process is the unit: thousands of slices in two of them are two values."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return
    built = subprocess.run([compiler, "-w", "-I", ROOT, "-o", c.work / "bench", c.file("placed.c", PLACED)],
                           capture_output=True, text=True)
    if not c.check(built.returncode == 0, built.stderr):
        return
    how = ["--shell", "--each", "--unit", "ns", "--seed", "3", "--accept", "no regression beyond 2 %"]
    def one(ns):
        return "--", f"OWN={ns} {c.work}/bench --filter '^placed$' --output - --format go"
    r = report(c, 1, *how, *one(10000), *one(12000))
    rule, used = r["benchmarks"][0]["rules"][0], r["commands"]
    c.check(rule["data"] == "7 pairs" and used[0]["runs"] == 7, f"a pair of processes is one: {rule}")
    c.check(all(u["values"] > 10 * u["runs"] and 0.003 < u["sd_between_runs"] < 0.04 and u["sd_within_run"] < 0.001 for u in used),
            f"between and within: {used}")


def duet(c):
    """Both at once, on a processor each; what fails, takes too long or is interrupted ends both."""
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    if len(cpus) < 2:
        c.status(3, "run", "--duet", "--", "true", "--", "true", has="needs two processors")
        return
    c.status(3, "run", "--duet", "--", "true", "--", "true", "--", "true", has="two commands at once, not 3")
    def meet(me, other):                                 # ends when each has heard of the other
        return ("--", f"grep Cpus_allowed_list /proc/self/status | tr -d '\\n' | tail -c 4 >> {c.work}/log; echo {me} >> {c.work}/log; "
                      f"mkfifo {c.work}/{me} 2>/dev/null; echo x > {c.work}/{me} & read y < {c.work}/{other}; wait; echo {5 if me == 'a' else 9}")
    fresh(c)
    for fifo in ("a", "b"):
        os.mkfifo(c.work / fifo)
    r = report(c, 1, "--shell", "--duet", "--warmup", "0", "--seed", "2", "--reported", "--timeout", "60", *meet("a", "b"), *meet("b", "a"))
    c.check([u["runs"] for u in r["commands"]] == [7, 7], f"pairs: {r['commands']}")
    places = {line for line in (c.work / "log").read_text().split("\n") if line}
    c.check(len(places) >= 4, f"either on either processor: {places}")
    c.status(3, "run", "--duet", "--warmup", "0", "--", "true", "--", "false", has="ended with status 1 (command B, pair 1)")
    c.status(3, "run", "--duet", "--warmup", "0", "--", "no/such/program", "--", "true", has="no/such/program: cannot be run: No such file")
    c.status(3, "run", "--duet", "--warmup", "0", "--timeout", "0.3", "--", "true", "--", "sleep", "1000", has="before the timeout")
    mark = f"9{os.getpid()}"
    for number in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([c.tool, "run", "--duet", "--warmup", "0", "--", "sleep", mark, "--", "sleep", mark + "1"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heard)
        for _ in range(2000):
            if len(running(mark)) == 2:
                break
            time.sleep(0.01)
        p.send_signal(number)
        c.check(p.wait(timeout=60) == -number and not running(mark), f"{number}: {p.returncode}, left: {running(mark)}")


def running(mark):
    """Processes with that in their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == b"sleep" and words[1].startswith(mark.encode()):
            found.append(path.parent.name)
    return found


def parameters(c):
    r = report(c, 1, "--shell", "--reported", "--parameter", "n=1,2", "--parameter", "x=ab,cd", "--", "echo 100{n} #{x}",
               "--", "echo 200{n} #{x}{y}{")
    c.check([b["name"] for b in r["benchmarks"]] == ["n=1 x=ab", "n=2 x=ab", "n=1 x=cd", "n=2 x=cd"], f"{r}")
    c.check([b["rules"][0]["after"] for b in r["benchmarks"]] == [2001, 2002, 2001, 2002], f"{r}")
    c.check([u["command"] for u in r["commands"]][-1] == "echo 2002 #cd{y}{", f"{r['commands']}")
    c.check(abs(r["geometric_mean"][0]["ratio"]["estimate"] - 2) < 0.01, "the mean over parameters")
    out = c.run("run", "--reported", "--parameter", "n=1,2", "--", "echo", "100", "--", "echo", "20{n}")[1]
    c.check("before (A): echo 100 " in out and "after  (B): echo 20{n} " in out, out)
    # One command: its values compete with the first one.
    for text, want in (("4,2,1", "421"), ("1..3", "123"), ("2..8:3", "258"), ("0.5..1:0.25", ["0.50", "0.75", "1.00"]),
                       ("7", None), ("1..1", None)):
        done = c.run("run", "--reported", "--json", "-", "--parameter", f"p={text}", "--", "echo", "{p}")
        if want is None:
            c.check(done[0] == 3 and "nothing to compare" in done[2], f"p={text}: {done}")
            continue
        got = [u["command"] for u in json.loads(done[1])["commands"]]
        c.check(got == [f"echo {v}" for v in want], f"p={text}: {got}")
    for bad in ("p", "=1", "p="):
        c.status(3, "run", "--parameter", bad, "--", "echo", "{p}", has="expected NAME=1,2,3")
    c.status(3, "run", "--parameter", "p=1,2", "--", "echo", "--", "echo", "x", has="no command and no helper holds {p}")
    c.status(3, "run", "--parameter", "p=1,2", "--prepare", "true {p}", "--", "echo", has="the command does not hold {p}")
    c.status(3, "run", "--parameter", "p=1,2", "--parameter", "p=3", "--", "echo", "{p}", has="{p} is given twice")
    c.status(3, "run", "--parameter", "p=1," + "y" * 160, "--", "echo", "{p}", has="159 bytes")   # not cut off
    for bad in ("1e-3..2e-3:5e-4", "0..1:1e-1", "0..1E1", "0x10..0x12", "0..0.0000000000002:0.0000000000001"):
        c.status(3, "run", "--parameter", f"p={bad}", "--", "echo", "{p}", has="a range has at most 12 decimals and no exponents")
    c.status(3, "run", "--parameter", "p=1e300..1e301:1e300", "--", "echo", "{p}", has="beyond 1e15")
    fresh(c)                                             # a parameter of what is prepared alone
    c.status(1, "run", "--reported", "--parameter", "n=1,2", "--prepare", f"echo {{n}} >> {c.work}/log", "--", "echo", "5",
             "--", "echo", "9", has="2 benchmarks")
    c.check(set(logged(c)) == {"1", "2"}, f"{logged(c)}")
    for text in ("p=8..1", "p=0..1:0", "p=1..2:-1"):
        c.status(3, "run", "--parameter", text, "--", "echo", "{p}", "--", "echo", has="a range goes up")
    c.status(3, "run", "--parameter", "p=1..5000", "--", "echo", "{p}", has="more than 1000 values")
    c.status(3, "run", "--parameter", "p=1..40", "--parameter", "q=1..40", "--", "echo", "{p}{q}", has="more than 1000")


def around(c):
    """Set up once, prepared before each run, cleaned up at the end, whatever the end."""
    def say(what):
        return f"echo {what} >> {c.work}/log"
    helpers = ("--setup", say("setup"), "--prepare", say("pA"), "--prepare", say("pB"), "--cleanup", say("clean"))
    fresh(c)
    c.status(2, "run", "--shell", "--pairs", "3", "--seed", "1", *helpers, "--", say("A"), "--", say("B"))
    log = logged(c)
    c.check(log[0] == "setup" and log[-1] == "clean" and log.count("setup") == log.count("clean") == 1, f"{log}")
    c.check(log[1:5] == ["pA", "A", "pB", "B"] and len(log) == 2 + 4 * 4, f"{log}")
    c.check(all(log[i] == "p" + log[i + 1] for i in range(1, len(log) - 1, 2)), f"{log}")
    fresh(c)
    c.status(3, "run", "--shell", *helpers, "--", "false", "--", "true", has="ended with status 1")
    c.check(logged(c) == ["setup", "pA", "clean"], f"after a failure: {logged(c)}")
    fresh(c)
    report(c, 1, "--reported", "--parameter", "n=3,8", "--setup", say("s{n}"), "--prepare", say("p{n}"), "--cleanup",
           say("c{n}"), "--", "echo", "{n}")
    log = logged(c)
    c.check(log[:2] == ["s3", "s8"] and log[-2:] == ["c3", "c8"] and log.count("p3") == log.count("p8"), f"{log}")
    c.status(3, "run", "--setup", "exit 4", "--", "true", "--", "true", has="--setup: 'exit 4' ended with status 4")
    c.status(3, "run", "--prepare", "kill -9 $$", "--", "true", "--", "true", has="killed by signal 9")
    c.status(2, "run", "--pairs", "1", "--cleanup", "exit 5", "--", "true", "--", "true",
             has="--cleanup: 'exit 5' ended with status 5")
    c.status(3, "run", *["--prepare", "true"] * 3, "--", "true", "--", "true", has="once for all commands, or once")
    # Untimed: with its preparation A would take a hundred times as long as B.
    c.status(1, "run", "--accept", "speedup >= 5", "--prepare", "sleep 0.1", "--prepare", ":", "--", "true", "--", "true")


def linked(c):
    """--link: before each run, the objects in an order of coins; what is none stays in its place."""
    log = c.work / "log"
    for name in "abc":
        (c.work / f"{name}.o").write_text("")
    run = ("run", "--pairs", "12", "--warmup", "0", "--seed", "3", "--reported", "--accept", "p99 down >= 20 %")
    same = ("--", "echo", "5", "--", "echo", "5")        # a rule on p99 is judged after the last round
    for objects in (f"{c.work}/a.o {c.work}/b.o {c.work}/c.o", f"{c.work}/?.o"):
        fresh(c)
        c.status(2, *run, "--link", f"echo ld -o out.o {objects} -lm >> {log}", *same)
        lines = log.read_text().splitlines()
        c.check(len(lines) == 24 and len(set(lines)) == 6, f"orders: {lines}")
        c.check(all(x.startswith("ld -o out.o /") and x.endswith(".o -lm") for x in lines), f"{lines}")
        c.check(all(sorted(x.split()) == sorted(lines[0].split()) for x in lines), f"objects: {lines}")
    fresh(c)                                             # one for each, and before what prepares
    c.status(2, *run[:1], "--pairs", "1", *run[3:], "--link", f"echo A a.o b.o >> {log}", "--link", f"echo B a.o b.o >> {log}",
             "--prepare", f"echo p >> {log}", *same)
    c.check(sorted(x[0] for x in log.read_text().splitlines()) == ["A", "B", "p", "p"] and log.read_text()[0] in "AB",
            log.read_text())
    fresh(c)                                             # lines, blanks and what -o names stay as they are
    c.status(2, *run[:1], "--pairs", "1", *run[3:], "--link", f"echo 'a  b' -ox.o a.o b.o >> {log}\necho 2 >> {log}", *same)
    first, second = log.read_text().splitlines()[:2]
    c.check(first in ("a  b -ox.o a.o b.o", "a  b -ox.o b.o a.o") and second == "2", log.read_text())
    c.status(3, *run, "--link", "cc -op.o a.o", *same, has="two words that end in .o are needed")
    c.status(3, *run, "--link", "cc -o p a.o", *same, has="two words that end in .o are needed")
    c.status(3, *run, "--link", "false a.o b.o", *same, has=".o' ended with status 1")
    c.status(3, *run, *["--link", "true a.o b.o"] * 3, *same, has="once for all commands, or once")


def failures_ignored(c):
    run = ("run", "--ignore-failure", "--shell", "--reported", "--unit", "ns")
    c.status(0, *run, "--", "echo 1001; exit 3", "--", "echo 503", has="failed")
    r = report(c, 0, *run[1:], "--", "echo 1001; kill $$", "--", "echo 503")
    c.check(r["commands"][0]["failed"] == r["commands"][0]["runs"] > 5 and r["commands"][1]["failed"] == 0, f"{r}")
    c.status(3, *run, "--", "exit 3", "--", "echo 500", has="printed no such number")
    # What is kept says so, too.
    kept = c.work / "failed.json"
    c.status(0, *run, "--save", kept, "--", "echo 1001; exit 3", "--", "echo 503")
    n = len(json.loads(kept.read_text())["benchmarks"][0]["baseline"])
    c.status(0, kept, has=f"{n} of {2 * n} runs ended with a failure")
    c.status(0, *run, "--save", kept, "--", "echo 1001; exit 3", "--", "echo 503; exit 3")
    c.status(2, kept, has="all runs ended with a failure: not judged")
    c.status(0, kept, "--ignore-failure")


def used(c):
    """Processor time and memory are those of the command and of the children it waited for."""
    busy = "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done"
    r = report(c, 0, "--measure", "cpu", "--shell", "--", f"sh -c '{busy}'; true", "--", "sleep 0.001")
    a, b = r["commands"]
    c.check(a["user_ns"] > b["user_ns"] and a["wall_ns"] >= 0.5 * a["user_ns"] and a["memory_bytes"] > 1e5, f"{r}")
    c.check(r["benchmarks"][0]["unit"] == "ns" and r["benchmarks"][0]["rules"][0]["before"] > 1e6, f"{r}")
    big = "x=$(head -c 4000000 /dev/zero | tr '\\0' x)"
    memory = ("run", "--shell", "--accept", "memory down >= 50 %")
    if "sanitized" not in c.tool:                   # what perf-ab took to read an output is not the next command's
        r = report(c, 2, "--reported", "--pairs", "2", "--shell", "--", "yes 5 | head -c 40000000", "--", "echo 5")
        c.check(r["commands"][1]["memory_bytes"] < 8e6, f"{r['commands']}")
        c.status(0, *memory, "--", big, "--", "true", has="ACCEPT")
        c.status(1, *memory, "--", "true", "--", big, has="REJECT")
        c.status(1, "run", "--shell", "--measure", "memory", "--accept", "no regression beyond 10 %", "--", "true", "--", big,
                 has="peak memory")
    # What the kernel's ticks cannot tell apart is not decided.
    for rule in ("speedup >= 1", "no regression beyond 20 %"):
        c.status(2, "run", "--measure", "system", "--pairs", "12", "--accept", rule, "--", "true", "--", "true",
                 has="the values come in steps of 10.00 ms")
    c.status(3, "run", "--measure", "joules", "--", "true", "--", "true", has="is measured, not")
    c.status(3, "run", "--reported", "--unit", "MB/s", "--metric", "p95", "--", "echo", "5", "--", "echo", "6",
             has="its metric is throughput")
    c.status(0, "run", "--reported", "--unit", "MB/s", "--", "echo", "5", "--", "echo", "9", has="1.80x")
    # Times are no throughput, where longer would be better.
    for options, has in ((("--metric", "throughput"), "no throughput; --reported takes a number"),
                         (("--measure", "memory", "--metric", "throughput"), "no throughput"),
                         (("--reported", "--unit", "ms", "--metric", "throughput"), "in ms: that is no throughput"),
                         (("--reported", "--unit", "msec", "--metric", "throughput"), "in msec: that is no throughput")):
        c.status(3, "run", *options, "--", "echo", "5", "--", "echo", "9", has=has)


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(c, file, what):
    """All processes whose numbers are in the file have ended, at once or very soon."""
    pids = [int(p) for p in file.read_text().split()]
    for _ in range(500):
        left = [p for p in pids if alive(p)]
        if not left:
            break
        time.sleep(0.02)
    c.check(pids and not left, f"{what}: {len(left)} of {len(pids)} are still running")
    for p in left:
        os.kill(p, signal.SIGKILL)
    file.unlink()


def heard():
    """What a shell sets for a job in the background must not decide here."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def left_behind(c):
    pids = c.work / "pids"
    many = f"sleep 300 & echo $! >> {pids}; sleep 301 & echo $! >> {pids}; echo $$ >> {pids}; "
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        for stubborn in ("", "trap '' INT TERM HUP QUIT; "):
            p = subprocess.Popen([c.tool, "run", "--shell", "--warmup", "0", "--cleanup", f"echo clean >> {c.work}/ended",
                                  "--", stubborn + many + "wait", "--", "true"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, preexec_fn=heard,
                                 cwd=c.work)
            while p.poll() is None and (not pids.exists() or pids.read_text().count("\n") < 3):
                time.sleep(0.01)
            p.send_signal(number)
            _, err = p.communicate(timeout=60)
            c.check(p.returncode == -number, f"signal {number}: ended with {p.returncode} {err}")
            gone(c, pids, f"signal {number} {stubborn}")
            c.check((c.work / "ended").exists(), f"signal {number}: no cleanup")
            (c.work / "ended").unlink(missing_ok=True)
    for what, how in (("timeout", ("--warmup", "0", "--", many + "wait", "--", many + "wait")),
                      ("timeout, deaf", ("--ignore-failure", "--", "trap '' TERM; " + many + "wait; wait", "--", "true"))):
        for seconds in ("0.5", "4", "32"):              # on a busy machine the shell may not have begun within the first
            c.status(3, "run", "--shell", "--timeout", seconds, *how, has="did not end before the timeout")
            if pids.exists() and pids.read_text().count("\n") > 2:
                break
            pids.unlink(missing_ok=True)
        gone(c, pids, what)
    # A child in the background holds the pipe: the number counts as soon as the command has ended.
    began = time.monotonic()
    c.status(0, "run", "--shell", "--reported", "--", f"sleep 300 & echo $! >> {pids}; echo 9", "--", "echo 5")
    c.check(time.monotonic() - began < 250, "it waited for a child in the background")
    gone(c, pids, "background")
    # A server that --setup or --prepare starts lives as long as it is needed.
    serve = f"sleep 300 > /dev/null & echo $! >> {pids}"
    for how in ("--setup", "--prepare"):
        c.status(2, "run", "--shell", "--pairs", "2", how, serve, "--", f"kill -0 $(tail -n 1 {pids})", "--",
                 f"kill -0 $(tail -n 1 {pids})")
        gone(c, pids, how)


def deaf(c):
    """What ignores SIGTERM is ended a second later, and a run that has to go on hears no SIGHUP."""
    pids = c.work / "pids"
    stay = f"sh -c \"trap '' TERM; echo \\$\\$ >> {pids}; while :; do sleep 0.1; done\" > /dev/null & "
    wait = f"while ! test -s {pids}; do sleep 0.01; done; "
    c.status(2, "run", "--shell", "--reported", "--pairs", "1", "--warmup", "0", "--", stay + wait + "echo 9", "--", "echo 5")
    gone(c, pids, "a deaf child")
    c.status(2, "run", "--shell", "--pairs", "1", "--warmup", "0", "--prepare", stay + wait, "--", "true", "--", "true")
    gone(c, pids, "a deaf helper")
    # nohup ignores SIGHUP; somebody else blocks all signals, or ignores SIGCHLD.
    mark = c.work / "mark"
    for how in ("nohup", "blocked", "ignored"):
        def before():
            heard()
            if how == "blocked":
                signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
            else:
                signal.signal(signal.SIGHUP if how == "nohup" else signal.SIGCHLD, signal.SIG_IGN)
        mark.unlink(missing_ok=True)
        p = subprocess.Popen([c.tool, "run", "--shell", "--reported", "--pairs", "2", "--", f"echo x > {mark}; echo 5", "--",
                              "echo 6"], stdout=subprocess.PIPE, text=True, preexec_fn=before, cwd=c.work)
        while how == "nohup" and p.poll() is None and not mark.exists():
            time.sleep(0.001)
        if how == "nohup":
            p.send_signal(signal.SIGHUP)
        try:
            out, _ = p.communicate(timeout=100)
            c.check(p.returncode == 2 and "1 INCONCLUSIVE" in out, f"{how}: {p.returncode} {out}")
        except subprocess.TimeoutExpired:
            p.kill()
            c.check(False, f"{how}: it hangs")


def terminal(c):
    """A command that asks the terminal for a password, say, does not get it: a sentence, no endless wait."""
    for args in (("--", "sh", "-c", "read x </dev/tty", "--", "true"), ("--", "sh", "-c", "cat </dev/tty | cat", "--", "true"),
                 ("--ignore-failure", "--", "true", "--", "stty", "-F", "/dev/tty", "sane"),
                 ("--prepare", "head -1 /dev/tty", "--", "true", "--", "true"),
                 ("--setup", "head -1 /dev/tty", "--", "true", "--", "true")):
        try:
            pid, fd = pty.fork()
        except OSError as e:                             # a bare chroot
            print(f"no terminal to be had here: {e}")
            return
        if not pid:
            os.execv(c.tool, [c.tool, "run", "--pairs", "2", *args])
        out, until = b"", time.monotonic() + 60
        while time.monotonic() < until:
            if not select.select([fd], [], [], 0.1)[0]:
                continue
            try:
                out += os.read(fd, 4096)
            except OSError:                              # its end
                break
        else:
            os.kill(pid, signal.SIGKILL)
        os.close(fd)
        status = os.waitpid(pid, 0)[1]
        c.check(status == 3 << 8 and b"waited for the terminal" in out, f"{args}: {status} {out}")


def stopped(c):
    """A command that stops itself, and that nobody wakes, is no endless wait; one that is woken goes on."""
    stop, woken = "kill -STOP $$; exit 0", "(while kill -CONT $$; do sleep 0.01; done) & kill -STOP $$; exit 0"
    for args in (("--", stop, "--", "true"), ("--ignore-failure", "--", "true", "--", stop), ("--reported", "--", f"echo 5; {stop}", "--", "echo 5"),
                 ("--prepare", stop, "--", "true", "--", "true"), ("--setup", "kill -TSTP $$", "--", "true", "--", "true")):
        p = subprocess.Popen([c.tool, "run", "--shell", "--pairs", "2", *args], stderr=subprocess.PIPE, text=True)
        try:
            err = p.communicate(timeout=60)[1]
            c.check(p.returncode == 3 and "was stopped (SIGSTOP?)" in err, f"{args}: {p.returncode} {err}")
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGTERM)
            p.wait()
            c.check(False, f"{args}: it waits for ever")
    # Who wakes it, us or Python may get no processor for a second: once in five is enough.
    said = []
    while len(said) < 5 and said[-1:] != [2]:
        said.append(c.run("run", "--shell", "--pairs", "1", "--warmup", "0", "--", woken, "--", "true")[0])
    c.check(said[-1] == 2, f"one that is woken: {said}")
    # All are stopped for longer than that, as by a batch system, and perf-ab is woken first.
    pid, said = c.work / "stopped", []
    while len(said) < 5 and said[-1:] != [2]:
        pid.unlink(missing_ok=True)
        p = subprocess.Popen([c.tool, "run", "--shell", "--pairs", "1", "--warmup", "0", "--", "true", "--",
                              f"test -s {pid} || {{ echo $$ > {pid}; sleep 0.1; }}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while p.poll() is None and not (pid.exists() and pid.read_text().endswith("\n")):
            time.sleep(0.001)
        child = int(pid.read_text())
        for who, what, seconds in ((child, signal.SIGSTOP, 0.2), (p.pid, signal.SIGSTOP, 1.5), (p.pid, signal.SIGCONT, 0.3), (child, signal.SIGCONT, 0)):
            try:
                os.kill(who, what)
            except ProcessLookupError:              # it has been ended
                break
            time.sleep(seconds)
        said.append(p.wait())
    c.check(said[-1] == 2, f"woken behind perf-ab: {said}")


def closed(c):
    """A closed standard output is an error, not a pipe of ours; an output that cannot be written is one
    before anything runs."""
    run = ("run", "--reported", "--pairs", "2", "--", "echo", "5", "--", "echo", "6")
    for args in (run, ("--help",), ("--version",), ("merge", c.file("m.txt", "1\n"))):
        for to in (">&-", "> /dev/full"):
            done = subprocess.run(["sh", "-c", f'exec "$@" {to}', "sh", c.tool, *map(str, args)], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=100)
            c.check(done.returncode == 3 and "cannot be written" in done.stderr, f"{args} {to}: {done}")
    for to in (">&-", "> /dev/full"):
        done = subprocess.run(["sh", "-c", f'exec "$@" {to}', "sh", c.tool, "--batch"], input="T 1 2 pair 0.5\n0 1 2\n1 1 2\n",
                              capture_output=True, text=True, timeout=100)
        c.check(done.returncode == 3 and "standard output cannot be written" in done.stderr, f"--batch {to}: {done}")
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- 2>&-', "sh", c.tool, *run], capture_output=True, text=True, timeout=100)
    c.check(done.returncode == 2 and "1 INCONCLUSIVE" in done.stdout, f"no input, no errors: {done}")
    for gone_pipe in ("stdout", "stderr"):               # nobody reads: it cleans up all the same
        clean = c.work / "clean"
        p = subprocess.Popen([c.tool, "run", "--pairs", "2", "--show-output", "--cleanup", f"echo x > {clean}", "--", "sleep",
                              "0.05", "--", "false" if gone_pipe == "stderr" else "true"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, preexec_fn=heard)
        getattr(p, gone_pipe).close()
        c.check(p.wait(timeout=100) == 3 and clean.exists(), f"nobody reads {gone_pipe}: {p.returncode}")
        clean.unlink(missing_ok=True)
        (p.stderr if gone_pipe == "stdout" else p.stdout).close()
    mark = c.work / "ran"
    for option in ("--json", "--csv", "--markdown", "--html", "--save"):
        c.status(3, "run", option, "no/where", "--", "touch", mark, "--", "true", has="no/where: cannot be written: No such file")
        c.check(not mark.exists(), f"{option}: measured for nothing")
    new = c.work / "new.json"
    c.status(3, "run", "--json", new, "--", "false", "--", "true", has="ended with status 1")
    c.check(not new.exists(), "a report of nothing")
    link = c.work / "link"                               # to nothing: the check before leaves it
    link.symlink_to("named.html")
    c.status(3, "run", "--json", link, "--html", "no/where", "--", "true", "--", "true", has="no/where: cannot be written")
    c.check(link.is_symlink(), "a link to nothing is gone")
    out = c.status(3, "run", "--save", "/dev/full", *run[1:], has="/dev/full: cannot be written: No space")
    c.check("1 INCONCLUSIVE" in out, f"the report is lost with the file: {out}")


def main():
    c = Checks("running")
    for part in (race, family, the_same, placement, each, programs_of_benchmarks, duet, parameters, around, linked, failures_ignored, used, left_behind, deaf, terminal, stopped, closed):
        part(c)
    c.finish()


main()
