#!/usr/bin/env python3
"""perf-ab top: do its intervals add up, does its screen fit, does it live with targets that end or change?"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from looking import Looks, Target

c = Looks("top")
target = c.build()
PATIENCE = 60                           # seconds: who shares a processor may wait for his turn


def lines(*args):
    """The objects of --json, one an interval."""
    text, found = c.run("top", *args, "--json")[1], []
    decoder = json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def calls(report, name):
    return next((r["calls"] for r in report["scopes"] if r["name"] == name), 0)


# What the intervals say is what lies between two looks around them.
with Target(target, "busy") as t:
    time.sleep(0.2)
    before = json.loads(c.run("look", t.pid, "--view", "json")[1])
    found = lines(t.pid, "--interval", "0.2", "--count", "3")
    after = json.loads(c.run("look", t.pid, "--view", "json")[1])
    c.check(len(found) == 3, f"{len(found)} intervals")
    inside, around = sum(calls(f, "work") for f in found), calls(after, "work") - calls(before, "work")
    c.check(0 < inside <= around, f"{inside} calls in the intervals, {around} around them")
    for f in found:
        c.check(0.15 < f["interval_s"], f"an interval of {f['interval_s']} s")
        for r in f["scopes"]:
            c.check(r["calls"] > 0 and r["self_ns"] <= r["total_ns"] + 1, f"{r}")
            c.check(r["p50_ns"] <= r["p95_ns"] <= r["p99_ns"] <= r["max_ns"] + 1, f"percentiles: {r}")
        phases = sum(r["calls"] for r in f["scopes"] if r["name"] == "first phase")
        c.check(abs(phases - calls(f, "work")) <= 60, f"phases and rounds of one interval: {f['scopes']}")
    c.status(0, "top", t.pid, "--once", "--interval", "0.6", has="calls/s")
    c.status(0, "top", t.pid, "--once", "--interval", "0.6", "--tree", has="of total")
    c.status(0, "top", t.pid, "--once", "--interval", "0.6", "--thread", str(t.pid), has="work")
    for how in ("--once", "--json"):                # no thread of that number: not all of them under it
        c.status(3, "top", t.pid, how, "--count", "1", "--thread", "1", has="has no thread 1 with marks")
    for sort in ("self", "total", "calls", "mean", "max", "p99", "name"):
        c.status(0, "top", t.pid, "--once", "--interval", "0.6", "--sort", sort, has="work")
    out = c.run("top", t.pid, "--once", "--interval", "0.6", "--width", "60")[1]
    c.check(max(map(len, out.partition("waiting for")[0].splitlines())) <= 60, f"lines of more than 60 columns:\n{out}")

# A thread that hangs is named, and for how long.
with Target(target, "threads", "2") as t:
    out = c.run("top", t.pid, "--once", "--interval", "0.3")[1]
    found = re.search(r"open for (\S+) (m?s): stuck > in here", out)
    c.check(found is not None, f"what hangs is not named:\n{out}")

# One that ends, is killed, or becomes another program while it is looked at.
def watch(pid):
    """A perf-ab top that has shown its first interval."""
    p = subprocess.Popen([c.tool, "top", str(pid), "--interval", "0.05", "--count", "1000"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    return p


with Target(target, "work", "100") as t:
    watcher = watch(t.pid)
    time.sleep(0.2)
    t.process.kill()
    t.process.wait()
    out, err = watcher.communicate(timeout=PATIENCE)
    c.check(watcher.returncode == 0 and "has ended" in err, f"killed: {watcher.returncode} {err}")
with Target(target, "exec", "100") as t:
    watcher = watch(t.pid)
    t.go_on()                                   # execs, and waits again
    until, now = time.monotonic() + PATIENCE, 0
    while now != 7 and time.monotonic() < until:
        time.sleep(0.1)
        text = c.run("look", t.pid, "--view", "json")[1]    # none while it has just begun
        now = calls(json.loads(text), "work") if text else 0
    c.check(now == 7, f"after the exec: {now} calls")
    time.sleep(0.5)
    c.check(watcher.poll() is None, "an exec ends the watching")
    t.process.kill()
    t.process.wait()
    out, err = watcher.communicate(timeout=PATIENCE)
    c.check("AddressSanitizer" not in err, err)


class Screen:
    """perf-ab top in a terminal of that size."""

    def __init__(self, pid, rows, columns, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(c.tool, [c.tool, "top", str(pid), *args])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seen, seconds=PATIENCE):
        """What comes until seen(it), at least for a moment."""
        text, until, ends = b"", time.monotonic() + seconds, time.monotonic() + min(seconds, 0.3)
        while time.monotonic() < ends or (time.monotonic() < until and not seen(text.decode(errors="replace"))):
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    more = os.read(self.fd, 65536)
                except OSError:
                    break
                if not more:
                    break
                text += more
        return text.decode(errors="replace")

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self.read(None, 0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        return -1


def last_picture(text):
    picture = text.rsplit("\033[H", 1)[-1]
    return re.sub(r"\033\[[?0-9;]*[A-Za-z]", "", picture).replace("\r", "").splitlines()


def fits(rows, columns):
    """Is the last picture a whole one of that size?  The first ones may be from before the size was known."""
    def seen(text):
        picture = last_picture(text)
        return any("work" in line for line in picture) and len(picture) < rows and max(map(len, picture)) <= columns
    return seen


with Target(target, "busy") as t:
    for rows, columns in ((15, 60), (24, 80), (50, 200)):
        s = Screen(t.pid, rows, columns, "--interval", "0.1")
        text = s.read(fits(rows, columns))
        c.check(fits(rows, columns)(text), f"{rows}x{columns}: {last_picture(text)}")
        text = s.read(fits(rows, columns))              # and so are those that follow
        c.check(fits(rows, columns)(text), f"{rows}x{columns}: {last_picture(text)}")
        s.press("q")
        c.check(s.end() == 0, "q does not end it")
    s = Screen(t.pid, 24, 100, "--interval", "0.1")
    s.read(lambda text: "work" in text)
    for keys, want in (("v", "of total"), ("v", "calls/s"), ("?", "the next thread alone"), ("?", "work"), ("h", "thread"),
                       ("h", "work"), ("i", "since the"), ("r", "since the reset"), ("p", "paused"), (" ", "work"),
                       ("n", "work"), ("+", "work"), ("-", "work"), ("\033[A", "work"), ("zZ\0", "work")):
        s.press(keys)
        text = s.read(lambda text: want in text)
        c.check(want in text, f"key {keys!r}: '{want}' is not shown: {last_picture(text)}")
    s.press("\x03")
    c.check(s.end() == 0, "Ctrl-C does not end it")
    s = Screen(t.pid, 24, 80, "--interval", "0.1")
    text = s.read(lambda text: "work" in text)
    c.check("\033[?1049h" in text, "the screen of before is not kept")
    os.kill(s.pid, signal.SIGTERM)
    text = s.read(lambda text: "\033[?1049l" in text)
    c.check("\033[?1049l" in text and "\033[?25h" in text, "a signal leaves the terminal as it is")
    s.end()
    s = Screen(t.pid, 24, 80, "--interval", "0.1")
    s.read(lambda text: "work" in text)
    fcntl.ioctl(s.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 15, 60, 0, 0))
    text = s.read(fits(15, 60))
    c.check(fits(15, 60)(text), f"after a change of size: {last_picture(text)}")
    s.press("q")
    s.end()
for args in (["--interval", "0"], ["--interval", "x"], ["--count", "0"], ["--sort", "size"], ["--width", "10"]):
    c.status(3, "top", "1", *args, has="takes" if args[0] != "--sort" else "sort")
c.finish()
