#!/usr/bin/env python3
"""perf-ab look at core files: what a program was doing when it died.  Whole ones, filtered, packed, cut, damaged."""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys

from looking import Looks, Target

c = Looks("cores")
target = c.build()
seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
print(f"seed {seed}")
chance = random.Random(seed)
sanitized = "sanitized" in sys.argv[1]


def kernel_core(program, *args, coredump_filter=None):
    """The core file that the kernel writes; None where it goes elsewhere."""
    folder = c.work / f"core{chance.randrange(1 << 30)}"
    folder.mkdir()

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if coredump_filter is not None:
            pathlib.Path("/proc/self/coredump_filter").write_text(str(coredump_filter))

    subprocess.run([str(program), *map(str, args)], cwd=folder, preexec_fn=prepare, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = list(folder.glob("*core*"))
    return found[0] if found else None


def live_core(t):
    """A core file of a program that goes on; None without gcore."""
    if not shutil.which("gcore"):
        return None
    done = subprocess.run(["gcore", "-o", str(c.work / "live"), str(t.pid)], capture_output=True, text=True)
    path = c.work / f"live.{t.pid}"
    return path if done.returncode == 0 and path.exists() else None


cores = 0
for flags in ([], ["-static"], ["-s", "-fPIE", "-pie"]):
    program = c.build("target.c", *flags, name="dies")
    for mask in (None, 0x33, 0x31, 0x21, 0x1, 0x7f):
        core = kernel_core(program, "crash", coredump_filter=mask)
        if core is None:
            continue
        cores += 1
        text = c.status(0, "look", core, has="It died here (signal 11, SIGSEGV)")
        c.check(": run > decode\n" in text, f"{flags} {mask}: not where it died:\n{text}")
        data = json.loads(c.run("look", core, "--view", "json")[1])
        calls = {r["name"]: r["calls"] for r in data["scopes"]}
        c.check(calls.get("work") == 100 and calls.get("leaf") == 350, f"{flags} {mask}: {calls}")
        core.unlink()
core = kernel_core(c.build("target.c", name="dies"), "crash", "1")
if core:
    c.status(0, "look", core, has="SIGABRT")
    os.rename(c.work / "dies", c.work / "moved")
    c.status(0, "look", core, has="run > decode")       # its file is gone: the core has what is needed
    trace = c.work / "trace.json"
    c.check(c.run("look", core, "--trace", trace)[0] == 0, "no trace of a core")
    events = json.loads(trace.read_text())["traceEvents"]
    c.check(sum(e["name"] == "leaf" for e in events) == 350, "the trace of a core")
    c.check({"run", "decode"} <= {e["name"] for e in events if e["ph"] == "B"}, "the open scopes of a core's trace")
if not cores:
    print("the kernel writes core files elsewhere here: those of gcore alone")

with Target(c.build("target.c", name="lives"), "threads", "3") as t:
    live = live_core(t)
    own = c.rows(t.own)
    if live:
        seen = c.rows(c.run("look", live, "--view", "csv")[1])
        c.check(own.keys() == seen.keys() and all(own[k]["calls"] == seen[k]["calls"] for k in own),
                f"gcore: {seen.keys()}")
        text = c.run("look", live)[1]
        c.check(text.count("stuck > in here") == 3, f"gcore: the open scopes:\n{text}")

whole = core or live
if whole is None:
    print("skipped: no core file can be made here (core_pattern, gcore)")
    sys.exit(77)

if shutil.which("zstd"):
    packed = c.work / "packed.zst"
    subprocess.run(["zstd", "-q", "-f", str(whole), "-o", str(packed)], check=True)
    status, out, err = c.run("look", packed)
    c.check((status == 0 and out == c.run("look", whole)[1]) or "libzstd" in err, f"packed: {status} {err}")
    cut = c.work / "cut.zst"
    cut.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    c.status(3, "look", cut, has="damaged or cut off" if "libzstd" not in err else "libzstd")

# Cut at any place, and damaged: an answer or a sentence, soon, and nothing else.
data = whole.read_bytes()
bad = c.work / "bad.core"


def survives(what):
    try:
        done = subprocess.run([c.tool, "look", str(bad), "--view", chance.choice(["table", "tree", "json", "csv"]),
                               "--trace", str(c.work / "bad.json"), "--flame", str(c.work / "bad.html")],
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        c.check(False, f"seed {seed}: {what}: longer than 60 s")
        return
    said = done.stderr.decode(errors="replace")
    c.check(done.returncode in (0, 3) and "Sanitizer" not in said and "runtime error" not in said,
            f"seed {seed}: {what}: status {done.returncode}: {said[:1500]}")
    c.check(b"\033" not in done.stdout + done.stderr, f"seed {seed}: {what}: steers a terminal")


for _ in range(20):
    at = chance.randrange(len(data))
    bad.write_bytes(data[:at])
    survives(f"cut at {at}")
# Where something stands: pages that are not empty, and in them words that are not.
words = [i for i in range(0, len(data) - 8, 8) if data[i:i + 8] != bytes(8)]
odd = [0, 1, 7, 0xff, 0xffff, 0xffffffff, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
for turn in range(150 if sanitized else 100):
    damaged = bytearray(data)
    for _ in range(chance.choice([1, 3, 30, 1000])):
        at = chance.choice(words)
        kind = chance.randrange(4)
        if kind == 0:
            value = chance.choice(odd)
        elif kind == 1:
            value = int.from_bytes(data[at:at + 8], "little") ^ 1 << chance.randrange(64)
        elif kind == 2:                         # another place: cycles, and one thing for another
            other = chance.choice(words)
            value = int.from_bytes(data[other:other + 8], "little")
        else:
            value = chance.getrandbits(64)
        damaged[at:at + 8] = value.to_bytes(8, "little")
    bad.write_bytes(damaged)
    survives(f"turn {turn}")
bad.write_bytes(b"")
c.status(3, "look", bad, has="no process and no core file")
c.status(3, "look", "/dev/zero", has="is no file")
c.finish()
