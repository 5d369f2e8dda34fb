#!/usr/bin/env python3
"""perf-ab look: loops, Perfetto's protobuf, the flame page, images that go, programs that cannot be read."""
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from looking import CC, HERE, ROOT, Looks, Target

sys.path.insert(0, str(HERE.parent))
from pftrace import fields  # noqa: E402

c = Looks("look more")
target = c.build()

# ---- loops --------------------------------------------------------------------------------------
with Target(target, "loops") as t:
    count, median, baseline, candidate = map(float, t.own.split())
    data = json.loads(c.run("look", t.pid, "--view", "json")[1])
    loops = {one["name"]: one for one in data["loops"]}
    c.check(list(loops) == ["spin \033[2J", "spin less", "still"], f"loops: {loops}")
    one = loops["spin \033[2J"]
    c.check(one["done"] and one["kind"] == "bench" and one["samples"] == count and
            abs(one["median_ns"] - median) <= 2e-3, f"bench: {one}, not {count} of {median}")
    one = loops["spin less"]
    c.check(one["kind"] == "A/B" and abs(one["median_ns"] - baseline) <= 2e-3 and
            abs(one["candidate_ns"] - candidate) <= 2e-3 and 0.2 < one["ratio"] < 1, f"A/B: {one}, not {baseline} {candidate}")
    c.check(not loops["still"]["done"] and "median_ns" not in loops["still"], f"{loops['still']}")
    _, out, _ = c.run("look", t.pid)
    c.check(re.search(r"still +bench +runs now", out) and re.search(r"spin less +A/B", out), f"table:\n{out}")
    c.check("\033" not in out, "the name of a loop steers the terminal")


# ---- protobuf, decoded by the rules of the wire -------------------------------------------------
def double_of(value):
    """A number of the wire: eight bytes are a double."""
    return struct.unpack("<d", value)[0] if isinstance(value, bytes) and len(value) == 8 else value


def events(path):
    """(time, type, track, name, {remark: value}, counter) of each event, and the tracks."""
    found, tracks = [], {}
    for number, packet in fields(path.read_bytes()):
        assert number == 1
        packet = dict(fields(packet))
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = track
        if 11 in packet:
            event = fields(packet[11])
            flat = dict(event)
            told = [dict(fields(v)) for k, v in event if k == 4]
            found.append((packet[8], flat[9], flat[11], flat.get(23, b"").decode(),
                          {r[10].decode(): r[6].decode() if 6 in r else double_of(r[5]) for r in told},
                          double_of(flat.get(44))))
    return found, tracks


def nested(found, tracks, where):
    """Each track's begins and ends, in order; {name: [length]} and the names that stay open."""
    lengths, still = {}, []
    for track in tracks:
        stack, last = [], 0
        for when, kind, _, name, _, _ in [e for e in found if e[2] == track and e[1] in (1, 2)]:
            c.check(when >= last or 2 in tracks[track], f"{where}: time goes back on {tracks[track]}")
            last = when
            if kind == 1:
                stack.append((name, when))
            elif c.check(stack, f"{where}: an end without a begin"):
                name, begin = stack.pop()
                lengths.setdefault(name, []).append(when - begin)
        still += [name for name, _ in stack]
    return lengths, still


with Target(target, "work", "60") as t:
    path = c.work / "trace.pftrace"
    c.check(c.run("look", t.pid, "--trace", path, "--trace", path)[0] == 0, "no protobuf")
    c.run("look", t.pid, "--trace", c.work / "same.json")
    found, tracks = events(path)
    own = c.rows(t.own)
    lengths, still = nested(found, tracks, "work")
    for name in ("leaf", "again", "work", "request", "first phase"):
        kind = "async" if name == "request" else "scope"
        c.check(len(lengths.get(name, ())) == int(own[name, kind]["calls"]), f"protobuf: {len(lengths.get(name, ()))} of {name}")
    chrome = json.loads((c.work / "same.json").read_text())["traceEvents"]
    for name in ("leaf", "again"):
        want = sorted(round(e["dur"] * 1e3) for e in chrome if e["name"] == name and e["ph"] == "X")
        c.check(sorted(lengths[name]) == want, f"protobuf and Chrome differ in the lengths of {name}")
    c.check(still == ["main"], f"open at the end: {still}")
    c.check(sum(e[1] == 3 and e[3] == "flush" for e in found) == int(own["flush", "instant"]["calls"]), "instants")
    values = [e[5] for e in found if e[1] == 4]
    c.check(len(values) == 60 and values and max(values) == 6, f"counter: {len(values)}")
    c.check(any(e[4] == {"rows": 16.0, "file": "a/b.c"} or e[4].get("file") == "a/b.c" for e in found), "remarks")
    try:
        from google.protobuf.unknown_fields import UnknownFieldSet
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        print("not tried: Perfetto's own schema (tests/python.txt)")
    else:
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(path.read_bytes())

        def known(message):
            c.check(not len(UnknownFieldSet(message)), f"a field that the schema does not know: {message.DESCRIPTOR.name}")
            for field, value in message.ListFields():
                if field.type == field.TYPE_MESSAGE:
                    for one in value if field.is_repeated else [value]:
                        known(one)

        known(trace)
        c.check(len(trace.packet) > 500 and trace.packet[0].clock_snapshot.primary_trace_clock == 3, "packets")
with Target(target, "threads", "3") as t:
    c.run("look", t.pid, "--trace", path)
    found, tracks = events(path)
    names = [dict(fields(v[4])).get(5, b"").decode() for v in tracks.values() if 4 in v]
    c.check(sum(n.startswith("worker") for n in names) == 3, f"threads: {names}")
    c.check(sorted(nested(found, tracks, "threads")[1]) == ["in here"] * 3 + ["stuck"] * 3, "open in threads")
with Target(target, "hostile") as t:
    c.check(c.run("look", t.pid, "--trace", path)[0] == 0 and events(path)[0], "a hostile name as protobuf")

# ---- the page: what it does in a browser is in tests/pages -------------------------------------
with Target(target, "work", "60") as t:
    page = c.work / "flame.html"
    c.run("look", t.pid, "--flame", page)
    text = page.read_text()
    script = re.search(r"<script>(.*)</script>", text, re.S)
    c.check(script and "http" not in text, "no script, or something is loaded")
    c.check(text.count("<div ") == text.count("</div>") > 4, "boxes that are not closed")

# ---- an image comes and goes while it is read ---------------------------------------------------
plugin = c.file("plugin.c", '#include "perf_scope.h"\nvoid act(void) { PERF_SCOPE("in the plugin"); }\n')
subprocess.run([*CC, "-O0", "-w", "-shared", "-fPIC", f"-I{ROOT}", str(plugin), "-o", str(c.work / "plugin.so")], check=True)
host = c.file("host.c", """#define PERF_AT_EXIT 1
#include "perf.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **v)
{
    int i, k;
    puts("begin\\nend");
    fflush(stdout);
    for (k = 0; ; k++) {
        void *p = dlopen(v[1], RTLD_NOW | RTLD_LOCAL);
        void (*act)(void) = (void (*)(void))dlsym(p, "act");
        for (i = 0; i < 10; i++) { PERF_SCOPE("call"); act(); }
        dlclose(p);
    }
}
""")
subprocess.run([*CC, "-O0", "-w", f"-I{ROOT}", str(host), "-o", str(c.work / "host"), "-ldl"], check=True)
with Target(c.work / "host", c.work / "plugin.so") as t:
    time.sleep(0.1)
    last = 0
    for turn in range(15):
        status, out, err = c.run("look", t.pid, "--view", "csv")
        rows = c.rows(out)
        calls = int(rows.get(("call", "scope"), {}).get("calls", -1))
        inside = int(rows.get(("in the plugin", "scope"), {}).get("calls", -1))
        c.check(status == 0 and calls >= last and abs(inside - calls) <= 2000, f"unload {turn}: {status} {calls} {inside} {err}")
        last = calls
    status, out, err = c.run("top", t.pid, "--once", "--interval", "0.05")
    c.check(status == 0 and "in the plugin" in out, f"top of it: {status} {err}")
    c.check(t.process.poll() is None, "the program has ended")


# ---- what cannot be read ------------------------------------------------------------------------
def elf(bits, order, kind, machine):
    """The head of an ELF file that does nothing."""
    e = "<" if order == 1 else ">"
    ident = b"\x7fELF" + bytes([bits, order, 1]) + bytes(9)
    if bits == 1:
        return ident + struct.pack(e + "HHIIIIIHHHHHH", kind, machine, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0) + bytes(200)
    return ident + struct.pack(e + "HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0) + bytes(200)


for name, head, has in (("narrow", elf(1, 1, 4, 3), "32 bits"), ("wide", elf(2, 2, 4, 22), "other byte order"),
                        ("both", elf(1, 2, 4, 8), "32 bits"), ("alien", elf(2, 1, 4, 243), "another processor"),
                        ("program", elf(2, 1, 3, 62), "is a program")):
    c.status(3, "look", c.file(name, head), has=has)
if os.uname().machine == "x86_64":
    code = bytes.fromhex("b81d000000cd80ebf7")                  # a program of 32 bits that waits for a signal
    small = c.file("small", elf(1, 1, 2, 3)[:24] + struct.pack("<III", 0x8048054, 52, 0) + elf(1, 1, 2, 3)[36:52] + struct.pack(
        "<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096) + code)
    small.chmod(0o755)
    try:
        with subprocess.Popen([str(small)]) as process:
            time.sleep(0.2)
            if process.poll() is None:
                c.status(3, "look", process.pid, has="program of 32 bits")
            else:
                print("not tried: this kernel runs no program of 32 bits")
            process.kill()
    except OSError:
        print("not tried: this kernel runs no program of 32 bits")
if os.geteuid() == 0:
    nobody = 65534
    hide = c.file("hide.c", "#include <sys/prctl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) {"
                  "prctl(PR_SET_DUMPABLE, 0); puts(\"end\"); fflush(stdout); pause(); return 0; }\n")
    hidden = c.work / "hidden"
    subprocess.run([*CC, "-w", str(hide), "-o", str(hidden)], check=True)
    c.work.chmod(0o755)

    def alone():
        os.setgroups([])
        os.setuid(nobody)
        ctypes.CDLL(None).prctl(4, 1)

    with subprocess.Popen([str(hidden)], preexec_fn=alone, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        if os.access(c.tool, os.X_OK):
            shutil.copy(c.tool, c.work / "tool")
            (c.work / "tool").chmod(0o755)
            done = subprocess.run([str(c.work / "tool"), "look", str(process.pid)], preexec_fn=alone, capture_output=True,
                                  text=True, cwd="/")
            c.check(done.returncode == 3 and ("dumpable" in done.stderr or "belongs to user" in done.stderr or
                                              "ptrace_scope" in done.stderr), f"not dumpable: {done}")
        process.kill()
refusals = c.work / "refusals"
subprocess.run([*CC, "-O0", "-w", f"-I{ROOT}", str(HERE / "refusals.c"), "-o", str(refusals)], check=True)
done = subprocess.run([str(refusals)], capture_output=True, text=True)
c.check(done.returncode == 0, done.stdout)

# ---- a clock that is set otherwise, in a time namespace -----------------------------------------
(c.work / "quiet.c").write_text('''#include "perf.h"
#include <stdio.h>
int main(void) { { PERF_SCOPE("once"); } puts("ready"); fflush(stdout); getchar(); return perf_error(); }
''')
subprocess.run([*CC, "-O0", "-w", f"-I{ROOT}", str(c.work / "quiet.c"), "-o", str(c.work / "quiet")], check=True)
elsewhere = ["unshare", "--time", "--fork", "--monotonic"]
rates = []
for how in ([], [*elsewhere, "5000"], [*elsewhere, "-100"]):
    if how and (not shutil.which("unshare") or subprocess.run([*how, "true"], capture_output=True).returncode):
        continue                        # not root, or a system without them
    with subprocess.Popen([*how, "sh", "-c", f"echo $$; exec {c.work / 'quiet'}"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        pid = process.stdout.readline().strip()
        process.stdout.readline()
        status, out, said = c.run("look", pid)
        process.stdin.close()
    rate = [line.split()[1] for line in out.splitlines() if line.startswith("clock: ")]
    rates.append(float(rate[0]) if rate else 0)
    c.check(status == 0 and 0.98 * rates[0] < rates[-1] < 1.02 * rates[0], f"{how}: {rates} {out} {said}")

# ---- the layout of an older program is refused --------------------------------------------------
older = c.work / "older"
shutil.copytree(ROOT, older, ignore=lambda folder, names: [n for n in names if not n.startswith("perf") or not n.endswith(".h")])
text = (older / "perf_layout.h").read_text()
cut = text.replace("PERF_LAYOUT_VERSION_ 3", "PERF_LAYOUT_VERSION_ 2")
c.check(cut != text, "the layout has another version now")
(older / "perf_layout.h").write_text(cut)
program = c.work / "old"
subprocess.run([*CC, "-O0", "-w", f"-I{older}", str(HERE / "target.c"), "-o", str(program), "-lpthread"], check=True)
with Target(program, "work", "30") as t:
    status, out, said = c.run("look", t.pid)
    c.check(status and "another layout (2)" in said and "Traceback" not in out, f"an older program: {status} {said}")
c.finish()
