#!/usr/bin/env python3
"""perf-ab run: turns, coins, decisions, failures, signals.  Nothing here depends on how fast the
machine is: where a figure matters, the commands report one.

    commands.py TOOL
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from tool import Checks

# Reports a figure around $1 with a spread of 1 %, which comes from a counter file: no clock.
REPORT = ("n=$(cat {0} 2>/dev/null || echo 0); echo $((n + 1)) > {0}; "
          "echo \"pass 7 took $(( {1} * (1000 + (n * 7919 % 21) - 10) / 1000 )) {2}\"")


def reporters(c, a, b, unit="ns"):
    return "--", REPORT.format(c.work / "na", a, unit), "--", REPORT.format(c.work / "nb", b, unit)


def decisions(c):
    run = ("run", "--shell", "--reported=took", "--unit", "ns")
    c.status(0, *run, *reporters(c, 100000, 50000), has="ACCEPT: 1 benchmark")
    c.status(1, *run, *reporters(c, 100000, 101000), has="REJECT")
    c.status(2, *run, "--accept", "speedup >= 1", *reporters(c, 100000, 100000), has="at the threshold")
    c.status(0, *run, "--accept", "no regression beyond 5 %", *reporters(c, 100000, 100000))
    c.status(1, *run, "--accept", "no regression beyond 5 %", *reporters(c, 100000, 120000))
    for unit, metric in (("ns", "time"), ("MB/s", "throughput")):       # memory is what the system says, no time or rate
        good = (100000, 50000) if unit == "ns" else (50000, 100000)
        for rule, status in (("no regression beyond 60 % on memory", 0), ("speedup >= 1.6 on memory", 1)):
            out = c.status(status, "run", "--shell", "--reported=took", "--unit", unit, "--accept",
                           f"speedup >= 1.3 on {metric}", "--accept", rule, *reporters(c, *good, unit)) or ""
            c.check(re.search(r"memory +\d+ B ", out), f"peak memory: {out}")
    c.status(0, "run", "--shell", "--reported=took", "--unit", "B", "--accept", "down >= 20 % on memory",
             *reporters(c, 100000, 50000, "B"))
    c.status(1, "run", "--shell", "--reported=took", "--unit", "MB/s", "--accept",
             "speedup >= 1.3 on throughput", *reporters(c, 100000, 50000, "MB/s"))
    c.status(0, "run", "--shell", "--reported=took", "--unit", "MB/s", "--accept",
             "speedup >= 1.3 on throughput", *reporters(c, 50000, 100000, "MB/s"))
    # A rule that needs all pairs is judged at the end.
    c.status(0, *run, "--pairs", "80", "--accept", "speedup >= 1.3 on p95", *reporters(c, 100000, 50000))
    c.status(2, *run, "--pairs", "10", "--accept", "speedup >= 1.3 on p95", *reporters(c, 100000, 50000))
    # It stops as soon as it is decided, and keeps what it measured.
    c.status(0, *run, "--save", c.work / "kept.json", *reporters(c, 100000, 50000))
    kept = json.loads((c.work / "kept.json").read_text())["benchmarks"][0]
    pairs = len(kept["baseline"])
    c.check(7 <= pairs <= 12 and len(kept["candidate"]) == pairs, f"took {pairs} pairs")
    c.check(kept["design"] == "pairs" and kept["unit"] == "ns", f"kept as {kept['design']}, {kept['unit']}")
    c.status(0, c.work / "kept.json", has="ACCEPT")
    _, out, _ = c.run(*run, "--json", "-", *reporters(c, 100000, 50000))
    c.check(json.loads(out)["benchmarks"][0]["rules"][0]["before"] > 9e4, f"JSON of a run: {out}")
    # Wall time: sleeping 1 ms or 30 ms.
    c.status(0, "run", "--", "sleep", "0.03", "--", "sleep", "0.001", has="wall time")


def decided_interval(c):
    """A decided verdict prints an interval that leaves the threshold out."""
    for after in range(150000, 230000, 5000):
        _, out, err = c.run("run", "--shell", "--reported=took", "--unit", "ns", "--json", "-",
                            *reporters(c, 300000, after))
        rule = json.loads(out)["benchmarks"][0]["rules"][0] if out else {}
        if not c.check(rule.get("decision") == "ACCEPT", f"{after}: {err}{rule}"):
            continue
        low, high = rule["speedup"]["low"], rule["speedup"]["high"]
        c.check(low is not None and low > 1.3 and (high is None or low < high),
                f"300000 to {after}: ACCEPT of 1.3x with [{low}, {high}]")


def turns(c):
    """The log shows who began and who ended: never two at a time, and a coin decides who is first."""
    log = c.work / "log"

    def one(name):
        return f"echo +{name} >> {log}; echo -{name} >> {log}; echo 5 {len(name)}"
    for seed in ("1", "1", "2"):
        log.write_text("")
        c.run("run", "--shell", "--reported", "--pairs", "40", "--warmup", "2", "--seed", seed, "--accept",
              "speedup >= 1.000001", "--", one("A"), "--", one("B"))
        lines = log.read_text().split()
        c.check(all(lines[i] == "+" + lines[i + 1][1:] and lines[i + 1][0] == "-"
                    for i in range(0, len(lines), 2)), f"seed {seed}: two commands at a time")
        order = "".join(x[1] for x in lines[0::2])
        c.check(order[:4] == "ABAB", f"warm-up {order[:4]}")
        measured = [order[i:i + 2] for i in range(4, len(order), 2)]
        c.check(all(sorted(p) == ["A", "B"] for p in measured), f"not pairs: {measured}")
        if len(measured) == 40:
            first = sum(p == "AB" for p in measured)
            c.check(8 <= first <= 32, f"seed {seed}: A first {first} times of 40")
        print(f"seed {seed}: {len(measured)} pairs, {order[4:24]}...")


def failures(c):
    good, slow = ("--", "true"), ("--", "sleep", "0.01")
    c.status(3, "run", *good, "--", "false", has="ended with status 1 (command B, pair 1)")
    c.status(3, "run", "--", "sh", "-c", "exit 7", *good, has="ended with status 7 (command A, pair 1)")
    c.status(3, "run", "--", "sh", "-c", "kill -9 $$", *good, has="killed by signal 9")
    c.status(3, "run", "--", "no-such-command", *good, has="no-such-command: cannot be run: No such file")
    c.status(3, "run", "--", str(c.work), *good, has="cannot be run")
    c.status(3, "run", "--warmup", "0", "--reported", "--", "echo", "none", *good, has="printed no such number")
    c.status(3, "run", "--reported", "--", "echo", "0", "--", "echo", "5", has="not positive")
    c.status(3, "run", "--reported", "--", "echo", "-3", "--", "echo", "5", has="not positive")
    c.status(3, "run", "--reported=time:", "--", "echo", "5", "--", "echo", "5", has="printed no such number")
    c.status(3, "run", has="two commands are needed")
    c.status(3, "run", *good, has="two commands are needed")
    c.status(3, "run", *good, "--", has="two commands are needed")
    c.status(3, "run", "true", "true", has="stand behind --")
    for number in ("0", "1.5", "-1"):
        c.status(3, "run", "--pairs", number, *good, *good, has="a whole number")
    c.status(3, "run", "--pairs", "few", *good, *good, has="a whole number")
    c.status(3, "run", "--budget", "0.000001", *slow, *slow, has="the budget is too short")
    c.status(3, "run", "--pairs", "2", "--save", "no/where.json", *good, *good, has="cannot be written")
    # A failing pair later on.
    flag = c.work / "flag"
    c.status(3, "run", "--shell", "--reported", "--accept", "speedup >= 1", "--",
             f"echo x >> {flag}; test $(wc -l < {flag}) -lt 5 && echo 5", "--", "echo 5", has="command A, pair 4")


def reported(c):
    def value(text, *how, unit="ns"):
        _, out, _ = c.run("run", *how, "--unit", unit, "--pairs", "1", "--json", "-", "--", "printf", text, "--",
                          "printf", text)
        return json.loads(out)["benchmarks"][0]["rules"][0]["before"] if out else None
    # --unit ns: a number without a unit has this one, others are brought to it.
    for text, how, want in (("1 2 3\\n", "--reported", 3), ("12.5ms", "--reported", 12.5e6),
                            ("v2 9 x86_64", "--reported", 9), ("a=4 b=5 a=6 b=7", "--reported=a=", 6),
                            ("1e3", "--reported", 1000), (".25 s", "--reported", 0.25e9), ("of file.5", "--reported", 5),
                            ("mean 4.5 s, max 9 s", "--reported=mean", 4.5e9)):
        got = value(text, how)
        c.check(got == want, f"'{text}' {how}: {got}, not {want}")
    c.check(value("2.5", "--reported", unit="s") in (2.5, 2.5e9), "unit")
    for text in ("9,5 s", "1,234.5"):
        for how in ("--reported", "--reported=took "):
            c.status(3, "run", how, "--", "echo", "took", text, "--", "echo", "took 5", has="comma")
    for text in ("nan (12 runs)", " NaN s, 12", ": inf ms of 12", "= -nan(ind) 12"):
        c.status(3, "run", "--reported=took", "--", "echo", f"took{text}", "--", "echo", "took 5", has="NaN or infinity")
    c.check(value("took information 12 ns", "--reported=took") == 12, "a word that begins with inf")
    for text in ("1_234_567 ns", "1'234'567 ns", "1_999"):
        for how in ("--reported", "--reported=took", "--each"):
            c.status(3, "run", how, "--", "echo", "took", text, "--", "echo", "took 5", has="in groups")
    c.check(value("step_5_of_9 12 'a'", "--reported") == 12, "digits of a name")


def coarse(c):
    """What a command reports has the step of its clock, as the same numbers in a file."""
    for a, b, unit, rule in (("0.120000", "0.110000", "s", "down >= 5 %"), ("0.125000", "0.109375", "s", "down >= 5 %"),
                             ("8.3333333333333", "9.0909090909091", "items/s", "speedup >= 1.05 on throughput")):
        out = c.status(2, "run", "--pairs", "12", "--reported", "--unit", unit, "--accept", rule, "--", "echo", a, "--",
                       "echo", b)
        c.check("coarse" in out, out)
    c.status(0, "run", "--reported", "--unit", "s", "--accept", "down >= 5 %", "--", "echo", "0.120003", "--", "echo",
             "0.110001")
    # The first pair may be a slow one: its step is not that of the others.
    n = c.work / "n"
    first = f"echo x >> {n}; if [ $(wc -l < {n}) -lt 3 ]; then echo 50000; else echo $(( $RANDOM_ % 2 + 11 ))0; fi"
    c.status(2, "run", "--shell", "--warmup", "0", "--reported", "--unit", "ms", "--pairs", "12", "--accept", "down >= 5 %",
             "--", first.replace("$RANDOM_ % 2 + 11", "12"), "--", first.replace("$RANDOM_ % 2 + 11", "11"))


def changes_its_mind(c):
    """Decided by the first pairs, taken back by the next, which another rule needed: no answer."""
    n = c.work / "n"
    n.unlink(missing_ok=True)
    out = c.status(2, "run", "--shell", "--warmup", "0", "--reported", "--pairs", "17", "--json", "-", "--accept",
                   "down >= 5 %", "--accept", "down >= 1 % on p95", "--", "echo 1001", "--",
                   f"echo x >> {n}; k=$(wc -l < {n}); if [ $k -lt 9 ]; then echo 90$k; else echo $((1300 + k)); fi")
    v = json.loads(out)["benchmarks"][0] if out else {"rules": [{"ratio": {"low": 0, "estimate": 0, "high": 0}}], "settle": ""}
    r = v["rules"][0]["ratio"]
    c.check(r["low"] <= r["estimate"] <= r["high"] and "say the opposite" in v["settle"], f"{v}")


def outputs(c):
    """A named pipe is read to its end; a report never replaces what it is about."""
    pipe, a = c.work / "pipe", c.file("a.txt", "10.1\n10.2\n10.3\n" * 3)
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    run = subprocess.Popen([c.tool, "run", "--pairs", "1", "--quiet", "--json", pipe, "--", "true", "--", "true"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        c.check(json.loads(reader.communicate(timeout=30)[0] or "{}").get("perf_ab") == 1, "nothing came through the pipe")
        c.check(run.wait(timeout=30) == 2, f"status {run.returncode}")
    except subprocess.TimeoutExpired:
        c.check(False, "still waits for a reader of the pipe")
    for p in (reader, run):
        p.kill()
        p.wait()
    os.symlink(a, c.work / "link.txt")
    for option in ("--json", "--csv", "--markdown", "--html"):
        for to in (a, c.work / "link.txt", "./a.txt"):
            c.status(3, a, a, "--paired", option, to, has="would replace the measurements")
    c.check(a.read_text().startswith("10.1"), a.read_text())
    trace = c.file("trace.json", '{"traceEvents": []}')
    c.status(3, "diagnose", trace, "--json", "./trace.json", has="would replace the measurements")
    c.status(3, "diagnose", a, "--against", trace, "--json", trace, has="would replace the measurements")
    for option in ("--trace", "--flame"):
        c.status(3, "look", trace, option, "./trace.json", has="would replace the measurements")
    c.status(3, "look", trace, "--trace", "x", "--flame", "x", has="two reports into one")
    many = ("run", "--confidence", "0.9999", "--reported", "--parameter", "x=1..102", "--", "echo", "{x}000")
    c.status(3, *many, has="too much for 101 comparisons")


def signals(c):
    """Interrupted: it ends as an interrupted program does, takes its child along, and reports."""
    for number in (signal.SIGINT, signal.SIGTERM):
        mark = c.work / "pid"
        mark.unlink(missing_ok=True)
        p = subprocess.Popen([c.tool, "run", "--warmup", "0", "--accept", "speedup >= 1", "--", "sh", "-c",
                              f"echo $$ > {mark}; exec sleep 60", "--", "sh", "-c",
                              f"echo $$ > {mark}; exec sleep 60"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not mark.exists() or not mark.read_text().strip():
            time.sleep(0.01)
        p.send_signal(number)
        try:
            p.communicate(timeout=30)
            c.check(p.returncode == -number, f"signal {number}: ended with {p.returncode}")
        except subprocess.TimeoutExpired:
            p.kill()
            c.check(False, f"signal {number}: did not end")
        child = int(mark.read_text())
        try:
            os.kill(child, 0)
            c.check(False, f"signal {number}: the command still runs")
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            c.check(True, "")
    # Between pairs: what has been measured is reported.
    count = c.work / "count"
    p = subprocess.Popen([c.tool, "run", "--shell", "--reported", "--pairs", "1000000", "--accept",
                          "speedup >= 1", "--", f"echo x >> {count}; echo 5", "--", "echo 5"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not count.exists() or len(count.read_text()) < 20:
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=60)
    c.check("INCONCLUSIVE: 1 benchmark" in out and p.returncode == -signal.SIGTERM,
            f"interrupted between pairs: {p.returncode}\n{out}{err}")


def main():
    c = Checks("commands")
    for part in (decisions, decided_interval, turns, failures, reported, coarse, changes_its_mind,
                 outputs, signals):
        part(c)
    c.finish()


main()
