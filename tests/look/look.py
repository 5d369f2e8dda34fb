#!/usr/bin/env python3
"""perf-ab look: are the numbers of a running program those that it reports itself at the same moment?"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

from looking import ROOT, CC, HERE, Looks, Target

c = Looks("look")
EXACT = ["calls"]
TIMES = ["total_ns", "self_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "last"]


def same(program, *args, where=""):
    """Compares what a target says itself with what is read of it."""
    with Target(program, *args) as t:
        status, out, err = c.run("look", t.pid, "--view", "csv")
        c.check(status == 0, f"{where}{args}: status {status}: {err}")
        own, seen = c.rows(t.own), c.rows(out)
        c.check(bool(own) and own.keys() == seen.keys(),
                f"{where}{args}: other rows: {sorted(own.keys() ^ seen.keys())[:4]}")
        both = own.keys() & seen.keys()
        most = max(both, key=lambda k: float(own[k]["total_ns"]))
        factor = float(seen[most]["total_ns"]) / float(own[most]["total_ns"])
        c.check(abs(factor - 1) < 1e-3, f"{where}{args}: the clocks differ by {factor}")
        for key in both:
            for column in EXACT:
                c.check(own[key][column] == seen[key][column], f"{where}{args} {key} {column}: "
                        f"{seen[key][column]}, not {own[key][column]}")
            for column in TIMES:
                want, got = float(own[key][column]), float(seen[key][column])
                want *= 1 if key[1] in ("counter", "instant") else factor       # both know the length of a tick
                c.check(abs(want - got) <= 2e-3 + 1e-6 * abs(want), f"{where}{args} {key} {column}: {got}, not {want}")
        return c.run("look", t.pid), json.loads(c.run("look", t.pid, "--view", "json")[1])


target = c.build()
for args in (["work"], ["threads", "5"], ["names", "2000"], ["reset"], ["off"], ["fibers"]):
    same(target, *args)
(_, text, _), data = same(target, "threads", "3")
c.check(text.count("in here") >= 3 and "stuck > in here" in text, f"the open scopes are not named:\n{text}")
named = [t for t in data["threads"] if t["name"].startswith("worker")]
c.check(len(named) == 3 and all(t["open"] == ["stuck", "in here"] for t in named), f"threads: {named}")
c.check(all(t["open_ns"] and t["open_ns"] > 0 for t in named), f"not known since when they are open: {named}")
(_, text, _), data = same(target, "off")
c.check("switched off" in text, f"it is not said that recording is off:\n{text}")
(_, text, _), data = same(target, "fibers")
c.check("coroutine" in text and "outer of one" in text, f"the coroutine that waits is not named:\n{text}")

# Each way to build a program.
for flags in (["-static"], ["-s"], ["-fPIE", "-pie", "-s"], ["-no-pie"], ["-static-pie", "-fPIE"], ["-O2"],
              ["-ffunction-sections", "-Wl,--gc-sections"], ["-DPERF_CLOCK=1"], ["-DPERF_TRACE_EVENTS=0"], ["-O1", "-flto"]):
    same(c.build("target.c", *flags, name="other"), "work", "60", where=f"{flags} ")

# The traces of both agree in what they hold.
with Target(target, "work", "200") as t:
    trace = c.work / "trace.json"
    c.check(c.run("look", t.pid, "--trace", trace)[0] == 0, "no trace")
    events = json.loads(trace.read_text())["traceEvents"]
    own = c.rows(t.own)
    for name, kind, ph in (("leaf", "scope", "X"), ("again", "scope", "X"), ("queue", "counter", "C"),
                           ("request", "async", "b"), ("flush", "instant", "i")):
        n = sum(1 for e in events if e["name"] == name and e["ph"] == ph)
        c.check(n == int(own[name, kind]["calls"]), f"trace: {n} events of {name}, not {own[name, kind]['calls']}")
    c.check(any(e["ph"] == "B" and e["name"] == "main" for e in events), "the open scope is not in the trace")
    c.check(any(e.get("args") == {"file": "a/b.c"} for e in events), "the text of a scope is not in the trace")
    spans = [e["id"] for e in events if e["ph"] == "b"]
    c.check(spans and all(one.count("/") == 1 for one in spans), f"ids of spans without the number of the name: {spans[:3]}")
    total = sum(e["dur"] for e in events if e["name"] == "leaf")
    c.check(abs(total * 1e3 - float(own["leaf", "scope"]["total_ns"])) < 2e3 + len(events), "lengths in the trace")
    folded = c.work / "stacks.folded"
    c.check(c.run("look", t.pid, "--flame", folded)[0] == 0, "no folded stacks")
    lines = dict(line.rsplit(" ", 1) for line in folded.read_text().splitlines())
    c.check(any(key.endswith("work;leaf") for key in lines), f"stacks: {list(lines)[:5]}")
    c.check(c.run("look", t.pid, "--flame", c.work / "flame.html")[0] == 0, "no page")
    c.check("leaf" in (c.work / "flame.html").read_text(), "the page has no box")
    for view in ("tree", "diagnosis", "table"):
        c.status(0, "look", t.pid, "--view", view, has="leaf" if view != "diagnosis" else "most time")
    c.status(3, "look", t.pid, "--trace", "/nowhere/x", has="cannot be written")
    for view in ("table", "json"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([c.tool, "look", str(t.pid), "--view", view], stdout=full, stderr=subprocess.PIPE, text=True)
        c.check(done.returncode == 3 and "standard output cannot be written" in done.stderr, f"{view} to a full disk: {done}")

# Names that would steer a terminal, a page or a spreadsheet.
with Target(target, "hostile") as t:
    for view in ("table", "tree", "csv", "json", "diagnosis"):
        _, out, err = c.run("look", t.pid, "--view", view)
        bad = [x for x in ("\033", "\x9b", "\u009b", "\a") if x in out + err]
        c.check(not bad, f"{view}: {bad} in the output")
    _, out, _ = c.run("look", t.pid)
    c.check("\u202e" not in out, "a name turns the direction of the text")
    json.loads(c.run("look", t.pid, "--view", "json")[1])
    c.run("look", t.pid, "--trace", c.work / "h.json", "--flame", c.work / "h.html")
    for view in ("table", "tree"):                      # one that is asked for is shown beside a file, too
        out = c.run("look", t.pid, "--view", view, "--trace", c.work / "h.json")[1]
        c.check("process" in out, f"--view {view} --trace shows nothing")
    json.loads((c.work / "h.json").read_text())
    c.check("<b>&\"" not in (c.work / "h.html").read_text(), "a name is code in the page")

# What cannot be read, and why.
with Target(c.build("marks.c")) as t:
    c.status(3, "look", t.pid, has="PERF_AT_EXIT")
    c.status(3, "top", t.pid, has="PERF_AT_EXIT")
with Target(target, "nothing") as t:
    c.status(3, "look", t.pid, has="has not recorded anything yet")
c.status(3, "look", os.getpid(), has="has no marks")
c.status(3, "look", "99999999", has="no process")
c.status(3, "look", "no such program", has="no process is called")
c.status(3, "look", __file__, has="no process and no core file")
c.status(3, "look", sys.executable, has="not the core file")
c.status(3, "look", has="which program")
c.status(3, "look", "1", "--view", "nonsense", has="are views")
c.status(3, "look", "1", "--sideways", has="no such option")
if os.geteuid() == 0:
    with Target(target, "work") as t:
        import pwd
        nobody = pwd.getpwnam("nobody").pw_uid
        with tempfile.TemporaryDirectory() as folder:           # he may not enter ours
            os.chmod(folder, 0o755)
            tool = shutil.copy(c.tool, folder)
            done = subprocess.run([tool, "look", str(t.pid)], capture_output=True, text=True,
                                  preexec_fn=lambda: os.setuid(nobody), cwd="/")
        c.check(done.returncode == 3 and ("belongs to user" in done.stderr or "Permission" in done.stderr or
                                          "may not" in done.stderr), f"another user's: {done}")

# The name of a program, a child after a fork, and one of 10,000 names.
with Target(c.build("target.c", name="lookedat"), "work", "20") as t:
    c.status(0, "look", "lookedat", has="leaf")
with Target(target, "fork") as t:
    children = subprocess.run(["pgrep", "-P", str(t.pid)], capture_output=True, text=True).stdout.split()
    for child in children:
        own, seen = c.rows(t.own), c.rows(c.run("look", child, "--view", "csv")[1])
        c.check(seen.keys() == own.keys() and all(seen[k]["calls"] == own[k]["calls"] for k in own), f"child: {seen.keys()}")
        subprocess.run(["kill", "-9", child], check=False)
same(target, "names", "10000")
same(target, "threads", "256")

# A plugin that sees no symbol of the program (RTLD_LOCAL), and marks of its own.
plugin = c.file("plugin.c", '#include "perf_scope.h"\nvoid act(void) { PERF_SCOPE("in the plugin"); }\n')
subprocess.run([*CC, "-O0", "-w", "-shared", "-fPIC", f"-I{ROOT}", str(plugin), "-o", str(c.work / "plugin.so")], check=True)
host = c.file("host.c", """#define PERF_AT_EXIT 1
#include "perf.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **v)
{
    void *p = dlopen(v[1], RTLD_NOW | RTLD_LOCAL);
    void (*act)(void) = (void (*)(void))dlsym(p, "act");
    int i;
    for (i = 0; i < 123; i++) { PERF_SCOPE("call"); act(); }
    puts("begin\\nend");
    fflush(stdout);
    return getchar() == 1;
}
""")
subprocess.run([*CC, "-O0", "-w", f"-I{ROOT}", str(host), "-o", str(c.work / "host"), "-ldl"], check=True)
with Target(c.work / "host", c.work / "plugin.so") as t:
    seen = c.rows(c.run("look", t.pid, "--view", "csv")[1])
    c.check(seen.get(("in the plugin", "scope"), {}).get("calls") == "123", f"plugin: {seen.keys()}")
c.finish()
