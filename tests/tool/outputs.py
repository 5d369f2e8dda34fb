#!/usr/bin/env python3
"""Reports appear whole or not at all, follow no link, and steer neither a terminal nor a spreadsheet.

    outputs.py TOOL
"""
import csv
import io
import json
import random
import resource
import signal
import subprocess
import time

from tool import Checks

WRITERS = ("--html", "--json", "--csv", "--markdown")


def sides(c, names, count=20):
    """Two files of the same benchmarks."""
    def one(name, factor):
        return c.file(name, json.dumps({"perf_results": 1, "benchmarks": [
            {"name": n, "unit": "ns", "samples": [factor * (100 + i % 7) for i in range(count)]} for n in names]}))
    return one("a.json", 1.0), one("b.json", 1.25)


def whole(c):
    """On a full disk the old report stays; a link is replaced, what it names is not touched."""
    a, b = sides(c, ["x", "y"])

    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    for option in WRITERS:
        report = c.file("report", "the old report\n")
        done = subprocess.run([c.tool, a, b, "--quiet", option, report], capture_output=True, preexec_fn=full, text=True)
        c.check(done.returncode == 3 and "report: cannot be written: File too large" in done.stderr, f"{option}: {done}")
        c.check(report.read_text() == "the old report\n", f"{option}: a full disk took the old report")
        c.check(not list(c.work.glob("*.part")), f"{option}: part of a report is left")
        link, named = c.work / "link", c.file("named", "not to be touched\n")
        link.symlink_to("named")
        c.status(2, a, b, "--quiet", option, link)
        c.check(named.read_text() == "not to be touched\n", f"{option} follows a link")
        c.check(not link.is_symlink() and link.stat().st_size > 100, f"{option}: the link is not replaced")
        link.unlink()
        report.chmod(0o640)
        c.status(2, a, b, "--quiet", option, report)
        c.check(report.stat().st_mode & 0o777 == 0o640, f"{option}: mode {report.stat().st_mode:o}")


def killed(c):
    """kill -9 at any moment leaves the old report or the new one."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    a, b = sides(c, [f"benchmark {i}" for i in range(60)], 200)
    page = c.work / "page.html"
    call = [c.tool, a, b, "--quiet", "--html", page]
    begun = time.monotonic()
    subprocess.run(call)
    lasts = time.monotonic() - begun
    size = page.stat().st_size
    cut = 0
    for _ in range(40):
        p = subprocess.Popen(call)
        time.sleep(dice.uniform(0.3, 1.1) * lasts)
        p.kill()
        p.wait()
        cut += page.stat().st_size != size or not page.read_text().rstrip().endswith("</html>")
    c.check(cut == 0, f"{cut} of 40 pages are cut")


HOSTILE = {"CSI in 8 bits": "a\u009b31mRED", "string ends": "a\u009c\u0090b", "NEL": "a\u0085b", "ESC": "a\x1b[2Jb",
           "DEL": "a\x7fb", "right to left": "a\u202egnp.exe", "isolate": "a\u2066b", "line separator": "a\u2028b"}


def steering(c):
    """No name of a file steers the terminal, whatever is written there."""
    for what, name in HOSTILE.items():
        bad = [ch for ch in name if not ch.isprintable()]
        a, b = sides(c, [name, "x"])
        outputs = [c.run(a, b, option, "-") for option in WRITERS]
        outputs += [c.run(a, b, "--plot"), c.run(a, c.file("other.json", json.dumps({"benchmarks": [
            {"name": "z", "real_time": name}]}))), c.run("merge", a, b, "-o", c.work / "all.json"),
            c.run("no" + name, b), c.run(a, b, "--" + name), c.run(a, b, "--json", "no/" + name)]
        for status, out, err in outputs:
            c.check(not any(ch in out + err for ch in bad), f"{what}: got through: {(out + err)[:300]!r}")
        read = json.loads(outputs[1][1])["benchmarks"][0]["name"]
        c.check(read == name, f"{what}: JSON says {read!r}")
        saved = json.loads((c.work / "all.json").read_text())["benchmarks"][0]["name"]
        c.check(saved == name, f"{what}: merged as {saved!r}")
    for byte in (b"\x9b", b"\xff"):
        c.file("raw.csv", b"name,value\n" + b"".join(b"a" + byte + b"31m,%d\n" % v for v in range(10, 30)))
        done = subprocess.run([c.tool, "raw.csv", "raw.csv"], capture_output=True, cwd=c.work)
        c.check(done.returncode == 2 and byte not in done.stdout, f"{byte} got through: {done}")


def formulas(c):
    """Cells that a spreadsheet would run are text."""
    names = ["=1+2", "+1", "-1", "@SUM(1)", "=cmd|' /C calc'!A0,\"", "plain"]
    a, b = sides(c, names)
    rows = list(csv.reader(io.StringIO(c.run(a, b, "--csv", "-")[1])))
    c.check([r[0] for r in rows[1:]] == ["'" + n for n in names[:-1]] + ["plain"], f"{[r[0] for r in rows]}")
    c.check(not any(cell[:1] in "=@" for r in rows for cell in r if cell), f"a cell begins a formula: {rows}")


def long_names(c):
    """Long names that differ in their last letter stay apart; none is cut inside a character."""
    names = ["a" * 200 + "x", "a" * 200 + "y", "a" + "\u65e5" * 84]
    a, b = sides(c, names)
    _, table, _ = c.run(a, b, "--html", "page.html", "--markdown", "table.md")
    rows = [line.split()[0] for line in table.splitlines() if line.startswith("  a") and "INCONCLUSIVE" in line]
    c.check(len(set(rows)) == 3 and all("..." in row for row in rows), f"rows: {rows}")
    c.check("?" not in table, f"a character is cut: {rows}")
    a, b = sides(c, ["\U0001f680x", "abc"])         # two columns of a terminal, one character
    at = [line.index(" ns") for line in c.run(a, b)[1].splitlines() if "INCONCLUSIVE" in line and " ns" in line]
    c.check(at[0] + 1 == at[1], f"a rocket moves its row: {at}")
    for page in ("page.html", "table.md"):
        text = (c.work / page).read_text()
        c.check(all(name in text for name in names), f"{page}: a name is cut")


def rejected_first(c):
    """Of very many benchmarks the page plots the REJECTed ones, wherever they stand."""
    def one(name, factor):
        return c.file(name, json.dumps({"perf_results": 1, "benchmarks": [
            {"name": f"b{k}", "unit": "ns", "design": "random",
             "samples": [(factor if k > 117 else 1) * (100 + i % 7) for i in range(30)]} for k in range(120)]}))
    c.run(one("a.json", 1), one("b.json", 9), "--accept", "no regression beyond 5 %", "--quiet", "--html", "many.html")
    text = (c.work / "many.html").read_text()
    c.check(text.count("<section>") == text.count("<a class") == 100, f"{text.count('<section>')} plots")
    c.check(all(f'<h2 id="b{k}">b{k} ' in text for k in (0, 97, 118, 119)), "a REJECT has no plot")


def two_names(c):
    """Two reports into one file, by two names of it, and a report into the file that standard input is."""
    a, b = sides(c, ["x"])
    (c.work / "folder").mkdir()
    for one, other in (("new", "./new"), ("folder/new", "folder/../folder/new"), (c.work / "new", "new")):
        c.status(3, a, b, "--json", one, "--csv", other, has="two reports into one")
        c.check(not (c.work / one).exists(), f"{one}: written")
    c.status(2, a, b, "--quiet", "--json", "new", "--csv", "folder/new")
    c.status(2, a, b, "--quiet", "--json", "/dev/null", "--csv", "/dev/null")
    for args in ((a, "-", "--csv", b), ("convert", "-", "--to", "csv", "-o", b), ("history", "-", "--json", b)):
        was = b.read_text()
        with open(b) as given:
            done = subprocess.run([c.tool, *args], stdin=given, capture_output=True, text=True, cwd=c.work)
        c.check(done.returncode == 3 and "would replace" in done.stderr and b.read_text() == was, f"{args}: {done}")
    c.status(3, "history", "--accept-change", "x", "-", text=a.read_text(), has="not standard input")


def main():
    c = Checks("outputs")
    whole(c)
    killed(c)
    steering(c)
    formulas(c)
    long_names(c)
    rejected_first(c)
    two_names(c)
    c.finish()


main()
