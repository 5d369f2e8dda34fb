#!/usr/bin/env python3
"""perf-ab history: every run is a point, in the order of time and apart by machine.

    history.py TOOL
"""
import fcntl
import html.parser
import json
import math
import os
import random
import subprocess
import time

from tool import DATA, Checks


def night(c, k, machine="box", factor=1.0):
    return c.file(f"night-{machine}-{k:02}.json", json.dumps({
        "perf_results": 1, "runs": [{"run": "a", "time": 1795600000 + 86400 * k, "machine": machine}],
        "benchmarks": [{"name": n, "unit": "ns", "run": "a", "samples": [m * f * factor] * 3}
                       for n, m, f in (("steady", 100, 1), ("step", 5000, 1.12 if k >= 30 else 1))]}))


class Page(html.parser.HTMLParser):
    """What is open, what was closed wrongly, what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.loads, self.seen = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href")]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def changes(c):
    """A step is found and dated on every later night; noise alone is not one; each form says it."""
    dice = random.Random(11)

    def history(name, step, creep=0.0, nights=60, slow=()):
        return {"perf_results": 1, "runs": [{"run": str(k), "time": 1795600000 + 86400 * k, "machine": "box", "label": f"c{k:02}"}
                                            for k in range(nights)],
                "benchmarks": [{"name": name, "unit": "ns", "run": str(k), "samples": [
                    100 * (step if k >= 30 else 1) * (1.2 if k in slow else 1) * (1 + creep) ** k * math.exp(dice.gauss(0, 0.02)) for _ in range(7)]}
                    for k in range(nights)]}

    page, note = c.work / "page.html", c.work / "note.md"
    name = "st<e>p & \"it\" | *x*"
    for nights in (40, 60):
        file = c.file("step.json", json.dumps(history(name, 1.12, nights=nights)))
        out = c.status(0, "history", file, "--html", page, "--markdown", note, has=f"since run 31 of {nights} (c30, 2026-12-25)")
        c.check(" % since run" in out and "+1" in out, out)
    text = page.read_text()
    parsed = Page(text)
    c.check(not parsed.loads and "http" not in text and "url(" not in text, f"the page loads {parsed.loads}")
    c.check(not parsed.wrong and parsed.open == [], f"the page is not closed: {parsed.open} {parsed.wrong}")
    c.check(text.count("<circle") == 60 and text.count('class="cut"') == 1 and text.count('class="level"') == 2, "points, levels")
    c.check("st&lt;e&gt;p &amp; &quot;it&quot;" in text and "prefers-color-scheme:dark" in text and "width=device-width" in text, "page")
    c.check("since run 31 of 60" in text and "<title>run 31, c30: " in text, "the change is not on the page")
    c.check("st\\<e\\>p &amp; \"it\" \\| \\*x\\*" in note.read_text() and "1 of 1 histories" in note.read_text(), note.read_text())
    found = json.loads(c.run("history", file, "--json", "-")[1])["benchmarks"][0]
    c.check([p["at"] for p in found["changes"]] == [30] and 1.08 < found["changes"][0]["ratio"] < 1.16, f"{found['changes']}")
    c.check(all(p["low"] <= p["median"] <= p["high"] for p in found["runs"]) and found["runs"][3]["label"] == "c03", "runs")
    file = c.file("creep.json", json.dumps(history("creep", 1, 0.005)))
    c.status(0, "history", file, has="creep: +")
    ended = history("ended", 1, nights=100)         # a creep that has ended is a change for good
    for b in ended["benchmarks"]:
        b["samples"] = [v * 1.005 ** max(0, min(int(b["run"]) - 40, 25)) for v in b["samples"]]
    c.status(0, "history", c.file("ended.json", json.dumps(ended)), has="ended: +")
    quiet = [json.loads(c.run("history", c.file("quiet.json", json.dumps(history("quiet", 1))), "--json", "-")[1])
             for _ in range(20)]
    c.check(sum(bool(q["benchmarks"][0]["changes"]) for q in quiet) <= 2, "changes where nothing changed")
    state = [json.loads(c.run("history", c.file("state.json", json.dumps(history("state", 1, slow=range(k, k + 3)))), "--json", "-")[1])
             for k in range(10, 50, 4)]
    c.check(sum(bool(q["benchmarks"][0]["changes"]) for q in state) <= 1, "three slow nights are called a change")
    c.status(0, "history", file, "--markdown", "-", has="| creep | box | 60 |")
    merged = c.work / "merged.json"
    c.status(0, "merge", file, "-o", merged)
    c.check(len(json.loads(merged.read_text())["benchmarks"]) == 60, "merged")


def wanders(c):
    """A level that wanders by itself, or lasts for days here and there, is no change; what is beyond it is one."""
    dice = random.Random(31)

    def found(name, levels):
        """Of so many histories of log levels, give or take 1 %, how many changed, and which creep."""
        c.file(name, json.dumps({
            "perf_results": 1, "runs": [{"run": str(k), "time": 1795600000 + 86400 * k, "machine": "box"} for k in range(len(levels[0]))],
            "benchmarks": [{"name": f"{i}", "unit": "ns", "run": str(k), "samples": [100 * math.exp(y + dice.gauss(0, 0.01))] * 3}
                           for i, level in enumerate(levels) for k, y in enumerate(level)]}))
        rows = json.loads(c.run("history", name, "--json", "-")[1])["benchmarks"]
        return sum(bool(r["changes"]) for r in rows), [p["creeps"] for r in rows for p in r["changes"]]

    def walk():
        y = [0.0]
        while len(y) < 100:
            y.append(y[-1] + dice.gauss(0, 0.002))
        return y

    def states(of):
        return [0.08 * (letter == "#") for letter in of]

    walks = [walk() for _ in range(40)]
    c.check(found("walk.json", walks)[0] <= 3, "random walks are called changes")
    c.check(found("drift.json", [[0.0003 * k for k in range(100)] for _ in range(10)])[0] == 0, "3 % in 100 nights")
    c.check(found("states.json", [states(of) for of in (
        "#######...#................#.................##......................#######################....",
        "##...........##########################...#######............................................###",
        "....#################..#..###################################.#####.............................",
        "...##########################...#######......................................................###",
        "####..###################.#############....########################.........................####")])[0] == 0, "two speeds")
    stepped, creeps = found("step.json", [[v + 0.12 * (k >= 60) for k, v in enumerate(y)] for y in walks])
    c.check(stepped >= 30 and sum(map(bool, creeps)) <= 4, f"a step beyond a walk: {stepped} of 40, {creeps}")
    stairs = [[0.18 * (k * steps // 90) for k in range(90)] for steps in (2, 3, 4) for _ in range(5)]
    c.check(found("stairs.json", stairs)[0] == 15, "steps one after the other hide each other")
    crept, creeps = found("ramp.json", [[0.005 * max(0, k - 83) for k in range(100)] for _ in range(20)])
    c.check(crept >= 19, f"a creep to 8 % after 83 nights: {crept} of 20")


def exact(c):
    """Counts, and times that repeat to the last digit: what is left of equal values is rounding."""
    for before, after, n in ((100, 102, 20), (100, 120, 20), (1000, 1100, 20), (100, 300, 30)):
        c.file("exact.json", json.dumps({
            "perf_results": 1, "runs": [{"run": str(k), "time": 1795600000 + 86400 * k, "machine": "box"} for k in range(2 * n)],
            "benchmarks": [{"name": "f", "unit": "ns", "run": str(k), "samples": [after if k >= n else before] * 3} for k in range(2 * n)]}))
        c.status(0, "history", "exact.json", has=f"since run {n + 1} of {2 * n}")


def undecided(c):
    """A run that a check left open is named, and counts."""
    file = c.file("open.json", json.dumps({
        "perf_results": 1, "runs": [{"run": f"r{k}", "time": 1795600000 + 86400 * k, "machine": "m"} for k in range(12)],
        "benchmarks": [{"name": "x", "unit": "ns", "run": f"r{k}", "samples": [100 + k % 3] * 3} | ({"level": "undecided"} if k > 8 else {})
                       for k in range(12)]}))
    page = c.work / "open.html"
    out = c.status(0, "history", file, "--html", page, has="not decided when they were saved: x, 3 runs since run 10 of 12\n")
    c.check("REJECTed" not in out, out)
    c.check(page.read_text().count('class="run undecided"') == 3, "the page")
    levels = [p.get("level") for p in json.loads(c.run("history", file, "--json", "-")[1])["benchmarks"][0]["runs"]]
    c.check(levels == [None] * 9 + ["undecided"] * 3, f"{levels}")


def accept(c):
    """REJECTed runs are shown; accepting a change marks what was before it, on the machine that has it."""
    def entry(name, k, machine, factor, level=None):
        e = {"name": name, "unit": "ns", "run": f"{machine}{k}", "step": 0.1, "samples": [round(100.1 * factor + 0.1 * (k % 3), 3)] * 3}
        return e | ({"level": level} if level else {})

    file = c.file("accept.json", json.dumps({
        "perf_results": 1, "other": {"x": [1, 0.1]},
        "runs": [{"run": f"{m}{k}", "time": 1795600000 + 86400 * k, "machine": m, "label": f"c{k}"} for m in "pq" for k in range(12)],
        "benchmarks": [entry("a@b", k, m, 1.5 if m == "p" and k >= 8 else 1, "rejected" if m == "p" and k >= 8 else None)
                       for m in "pq" for k in range(12)] + [entry("other", k, "p", 1) for k in range(12)]}))
    before = file.read_text()
    c.status(0, "history", file, has="kept out of the baseline: a@b, 4 runs since run 9 of 12")
    c.status(3, "history", "--accept-change", "nobody", file, has="no such entry: 'nobody'")
    c.status(3, "history", "--accept-change", "other", file, has="no change is known")
    c.status(3, "history", "--accept-change", "a@b@c99", file, has="no change is known")
    c.status(3, "history", "--accept-change", "a@b", file, file, has="needs one file")
    c.status(3, "history", file, "--accept-change", has="its value is missing")
    c.status(3, "history", "--accept-change", "BM_copy", DATA / "google_a.json", has="file of perf_results")
    c.check(file.read_text() == before, "a refusal changes the file")
    for option in ("--json", "--html", "--markdown"):
        c.status(3, "history", "--accept-change", "a@b", file, option, c.work / "report", has="--accept-change writes no report")
    c.check(file.read_text() == before and not (c.work / "report").exists(), "a refusal changes the file")
    digits = c.file("digits.json", before.replace("0.1]", "0.12345678901234567]"))
    c.status(0, "history", "--accept-change", "a@b", digits)
    c.check(json.loads(digits.read_text())["other"]["x"][1] == 0.12345678901234567, "a number has lost its last digits")
    marked = c.file("marked.json", "\ufeff" + before)
    c.status(0, "history", "--accept-change", "a@b", marked, has="accepted: a@b, run 9 of 12 and later, on p")
    nan = c.file("nan.json", before.replace("]}]}", ", NaN]}]}"))
    c.status(3, "history", "--accept-change", "a@b", nan, has="nan.json:1:")
    c.check("NaN" in nan.read_text(), "a file with NaN was changed")
    c.status(0, "history", "--accept-change", "a@b", file, has="accepted: a@b, run 9 of 12 and later, on p")
    now, was = json.loads(file.read_text()), json.loads(before)
    for e in was["benchmarks"]:
        e.pop("level", None)
        if e["name"] == "a@b" and e["run"][0] == "p" and int(e["run"][1:]) < 8:
            e["level"] = "past"
    c.check(now == was, "the file says something else besides")
    out = c.status(0, "history", file)
    c.check("kept out" not in out, out)
    c.status(0, "history", "--accept-change", "a@b@c10", file, has="run 11 of 12 and later, on p")
    levels = [e.get("level") for e in json.loads(file.read_text())["benchmarks"] if e["name"] == "a@b"]
    c.check(levels == (["past"] * 10 + [None] * 2) * 2, f"a label of both machines: {levels}")
    c.status(0, "history", "--accept-change", "a@b@p6", file, has="run 7 of 12")
    report = json.loads(c.run("history", file, "--json", "-")[1])["benchmarks"]
    c.check(sum(p.get("level") == "past" for p in next(b for b in report if b["name"] == "a@b" and b["machine"] == "p")["runs"]) == 6,
            "levels in JSON")
    for name in (b"caf\xe9", b"caf\xe9@c9", "caf\ufffd".encode()):
        latin = c.file("latin.json", before.replace("a@b", "caf\\ufffd"))
        c.status(0, "history", "--accept-change", os.fsdecode(name), latin, has="and later, on p")
    c.status(3, "history", "--accept-change", "cafe", latin, has="no such entry")
    # Time and memory of one name are two histories: that of the memory did not change.
    memory = [dict(entry("a@b", k, "p", 1), unit="B") for k in range(12)]
    rejected = json.loads(before)
    both = c.file("both.json", json.dumps(dict(rejected, benchmarks=rejected["benchmarks"] + memory)))
    c.status(0, "history", "--accept-change", "a@b@c8", c.file("one.json", both.read_text()))
    c.status(0, "history", "--accept-change", "a@b", both, has="run 9 of 12 and later, on p")
    for file, want in ((both, [None] * 12), (c.work / "one.json", ["past"] * 8 + [None] * 4)):
        levels = [e.get("level") for e in json.loads(file.read_text())["benchmarks"] if e["unit"] == "B"]
        c.check(levels == want, f"{file}: {levels}")
    merged = c.file("steps.json", json.dumps({"perf_results": 1, "benchmarks": [
        entry("s", k, "", 1.5 if k >= 20 else 1, None if k >= 20 else "past") for k in range(40)]}))
    c.status(0, "history", merged, has=" % since run 21 of 40, accepted")


def turns(c):
    """While a program adds a run, which takes the lock of the folder, --accept-change waits: that run is not lost."""
    def document(nights):
        return json.dumps({"perf_results": 1, "runs": [{"run": str(k), "time": 1795600000 + 86400 * k} for k in range(nights)],
                           "benchmarks": [{"name": "x", "unit": "ns", "run": str(k), "samples": [150 if k > 5 else 100 + k % 3] * 3}
                                          for k in range(nights)]})

    for _ in range(20):
        file = c.file("turns.json", document(12))
        folder = os.open(c.work, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        began = time.monotonic()
        accepting = subprocess.Popen([c.tool, "history", "--accept-change", "x@7", file], stdout=subprocess.DEVNULL)
        time.sleep(0.1)
        c.file("turns.json", document(13))
        os.close(folder)
        in_time = time.monotonic() - began < 0.2            # it gives up after a second of looking
        status = accepting.wait()
        if in_time:
            break
    entries = json.loads(file.read_text())["benchmarks"]
    c.check(not in_time or (status == 0 and len(entries) == 13 and sum("level" in e for e in entries) == 6),
            f"status {status}, {len(entries)} runs, {sum('level' in e for e in entries)} marked")


def imports(c):
    """asv's folder, data.js of github-action-benchmark, Google Benchmark's files of many days."""
    folder = c.work / "results" / "box"
    folder.mkdir(parents=True)
    (folder.parent / "benchmarks.json").write_text("{}")
    (folder / "machine.json").write_text("{}")
    for k in range(12):
        (folder / f"{(7 * k) % 12:02}-env.json").write_text(json.dumps({
            "version": 2, "commit_hash": f"{k:02}abcdef0123456789", "date": 1700000000000 + 86400000 * k, "params": {"machine": "box"},
            "result_columns": ["result", "params", "started_at"],
            "results": {"suite.time_x": [[0.001 * (2 if k >= 6 else 1) + 1e-6 * (k % 3)], [], 1795628892904 - k]}}))
    c.status(0, "history", folder.parent, has="+99.9 % since run 7 of 12 (06abcdef01, 2023-11-20)")
    data = c.file("data.js", "window.BENCHMARK_DATA = " + json.dumps({"lastUpdate": 1, "repoUrl": "u", "entries": {"Go": [
        {"commit": {"id": f"{k:02}fedcba9876543210"}, "date": 1700000000000 + 86400000 * k, "tool": "go",
         "benches": [{"name": "parse", "value": (300 if k >= 8 else 200) + k % 2, "unit": "ns/iter", "range": "± 3"}]}
        for k in range(16)]}}) + ";\n")
    c.status(0, "history", data, has="since run 9 of 16 (08fedcba98, 2023-11-22)")
    c.check("200.0 ns" in c.run("history", data)[1], "the unit")
    benches = [(10, 0), (11, 5), ("12", 7), (-13, 7), (0, 7)]
    odd = c.file("odd.js", "window.BENCHMARK_DATA = " + json.dumps({"lastUpdate": 1, "entries": {"Go": [
        {"date": 1, "commit": {"id": "aaaaaaaaa\u00e9a"}, "benches": [
        {"name": "x", "value": t, "unit": "ns/op"}, {"name": "y", "value": n, "unit": "allocs/op\t9 times"}]} for t, n in benches]}}))
    out = c.status(0, "history", odd, has="2   10.00 ns   11.00 ns")
    c.check("5 0 allocs/op" in out, f"a count of zero: {out}")
    for part in ("run 3: expected a number", "run 4: negative", "run 5: zero"):
        c.check(f"not shown: {odd}: 'x' of {part}" in out, f"{part}: {out}")
    whole = data.read_text()
    for text, says in (("window.BENCHMARK_DATA = {", ":1:2"), ("window.BENCHMARK_DATA = 3", ":1:23"), (whole[:300], "data.js of github-action-benchmark, not JSON:"),
                       ('window.BENCHMARK_DATA =\n{"a": 1,,}', ":2:"), ('window.BENCHMARK_DATA = {"a": 1}', 'it has no "entries"'),
                       ('window.BENCHMARK_DATA = {"entries": [1]}', 'it has no "entries"'),
                       ('window.BENCHMARK_DATA = {"entries": {"a": [{"benches": [{"name": 1}, 2, {"name": "x", "value": "7"}]}, null]}}', "no value")):
        c.status(3, "history", c.file("bad.js", text), has=says)
        c.check(c.run("history", c.file("bad.js", text))[2].count("\n") == 1, f"one sentence for {text}")
    real = DATA / "github_action.json"                  # of the action itself, with external-data-json-path
    for file in (real, c.file("real.js", "window.BENCHMARK_DATA = " + real.read_text())):
        out = c.status(0, "history", file, has="BenchmarkSum: +19.7 % since run 7 of 12 (06fedcba98, 2026-11-26)")
        c.check("102.5 ns/op" not in out and out.count(" ns ") >= 2 and "BenchmarkSum - B/op" in out, out)
    c.status(3, "history", c.file("bad.json", '{\n  "lastUpdate": 1795715561502,\n  "repoUrl": 3}'), has='it has no "entries"')
    (c.work / "nothing").mkdir()
    c.status(3, "history", c.work / "nothing", has="no results in the folder")
    asv = (folder / "00-env.json").read_text()
    for text in (asv[:120], asv.replace("[[0.001", '[["x"'), asv.replace('"results": {', '"results": 3, "x": {')):
        c.status(3, "history", c.file("bad.json", text))
    days = [c.file(f"google-{k:02}.json", json.dumps({
        "context": {"date": f"2026-11-{k + 1:02}T03:00:00+00:00", "host_name": "ci"},
        "benchmarks": [{"name": "BM_x", "run_name": "BM_x", "run_type": "iteration", "real_time": (20 if k >= 7 else 10) + 0.01 * (k % 3),
                        "cpu_time": 1, "time_unit": "us", "iterations": 1}]})) for k in range(14)]
    c.status(0, "history", *days[::-1], has=" % since run 8 of 14 (2026-11-08)")


def main():
    c = Checks("history")
    nights = [night(c, k) for k in range(40)]
    utf8, plain = dict(os.environ, LC_ALL="C.UTF-8"), dict(os.environ, LC_ALL="C")
    status, out, _ = c.run("history", *nights[::-1], env=utf8)              # given backwards: time decides
    rows = out.splitlines()
    c.check(status == 0 and rows[1].split()[:2] == ["step", "40"], f"what changed most comes first: {out}")
    c.check(rows[1].split()[-1] == "\u2581" * 30 + "\u2588" * 10, f"a curve of the step: {rows[1]}")
    c.check("+12.0 %" in rows[1] and "5.000 us" in rows[1] and "5.600 us" in rows[1], rows[1])
    c.check(set(rows[2].split()[-1]) == {"\u2585"}, f"no change is no curve: {rows[2]}")
    _, out, _ = c.run("history", *nights, env=plain)
    c.check(out.isascii() and "_" * 30 + "#" * 10 in out, f"without UTF-8: {out}")

    report = json.loads(c.run("history", *nights, "--json", "-")[1])
    step = report["benchmarks"][0]
    c.check(step["name"] == "step" and [round(p["median"]) for p in step["runs"]] == [5000] * 30 + [5600] * 10, f"{step}")
    times = [p["time"] for p in step["runs"]]
    c.check(times == sorted(times) and len(set(times)) == 40, f"{times}")

    both = nights + [night(c, k, "other", 3) for k in range(40)]
    report = json.loads(c.run("history", *both, "--json", "-")[1])
    c.check(len(report["benchmarks"]) == 4 and {b["machine"] for b in report["benchmarks"]} == {"box", "other"}, "machines apart")
    c.check(all(len(b["runs"]) == 40 for b in report["benchmarks"]), "runs of one machine on another's curve")
    c.status(0, "history", *both, has="other")

    c.status(0, "merge", *nights[:5], "-o", c.work / "all.json")
    c.status(0, "history", c.work / "all.json", has="  5   100.0 ns")
    c.status(0, "history", DATA / "google_a.json", DATA / "google_b.json", has="not shown: 'BM_skipped'")
    c.status(0, "history", *nights[:2], "--json", c.work / "h.json", has="step")
    c.check(json.loads((c.work / "h.json").read_text())["perf_history"] == 1, "the file of JSON")
    bad = night(c, 1, "bo\u009bx")
    out = c.status(0, "history", bad, nights[0])
    c.check("\u009b" not in out, "a machine's name steers the terminal")
    c.status(3, "history", has="a history of which files?")
    c.status(3, "history", "--sideways", nights[0], has="no such option")
    c.status(3, "history", nights[0], "--html", has="its value is missing")
    c.status(3, "history", nights[0], "--html", "-", "--json", "-", has="two reports into one")
    before, same = nights[0].read_bytes(), c.work / "same"
    for option in ("--json", "--html", "--markdown"):
        c.status(3, "history", nights[0], option, f"./{nights[0].name}", has="would replace the measurements")
        c.status(3, "history", *nights[:2], "--html", same, option.replace("html", "json"), same, has="two reports into one")
    (c.work / "nights").mkdir()
    (c.work / "nights" / "one.json").write_bytes(before)
    c.status(3, "history", "nights", "--json", "nights/one.json", has="would replace the measurements")
    c.check(nights[0].read_bytes() == before and not same.exists(), "a history has replaced its own file")
    c.status(3, "history", nights[0], "--html", "/nowhere/x", has="cannot be written")
    changes(c)
    wanders(c)
    exact(c)
    undecided(c)
    accept(c)
    turns(c)
    imports(c)
    c.status(3, "history", "nowhere", has="cannot be opened")
    c.finish()


main()
