#!/usr/bin/env python3
"""Every format in, every format out: the output of fixed calls is that of golden/.

    golden.py TOOL             compares
    golden.py TOOL --update    writes golden/ anew: read the difference before you commit it
"""
import csv
import html.parser
import io
import json
import re
import sys

from tool import DATA, HERE, Checks

GUARD = ["--accept", "no regression beyond 2 %"]
CALLS = {
    "plain": ["plain_a.txt", "plain_b.txt"],
    "plain_paired": ["plain_a.txt", "plain_b.txt", "--paired"],
    "plain_random": ["plain_a.txt", "plain_b.txt", "--random", "--accept", "down >= 20 % on p50"],
    "csv_pairs": ["pairs.csv"],
    "csv_two_rules": ["pairs.csv", *GUARD, "--accept", "speedup >= 1.1 on mean"],
    "csv_runs": ["runs_a.csv", "runs_b.csv"],
    "csv_turns": ["runs_a.csv", "runs_b.csv", "--turns"],
    "google": ["google_a.json", "google_b.json", *GUARD],
    "google_cpu": ["google_a.json", "google_b.json", *GUARD, "--value", "cpu_time"],
    "google_rate": ["google_a.json", "google_b.json", "--metric", "throughput"],
    "go": ["go_a.txt", "go_b.txt", *GUARD],
    "go_memory": ["go_a.txt", "go_b.txt", "--accept", "down >= 1 % on memory"],
    "hyperfine": ["hyperfine.json", *GUARD],
    "pyperf": ["pyperf_a.json", "pyperf_b.json", *GUARD],
    "pyperf_random": ["pyperf_a.json", "pyperf_b.json", *GUARD, "--random"],
    "results": ["results_pairs.json", "--accept", "speedup >= 2"],
    "ratio": ["plain_a.txt", "plain_b.txt", "0.77"],
    "ratio_pair": ["plain_a.txt", "plain_b.txt", "0.77", "pair"],
}
WRITERS = {"csv": "--csv", "md": "--markdown", "json": "--json"}


def same(a, b):
    """Equal, floating-point numbers up to the last digits of another compiler."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


class Page(html.parser.HTMLParser):
    """Is every element closed, and does nothing refer to another place?"""

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.count = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        for name, value in attributes:
            if name in ("src", "srcset", "data") or (name == "href" and not value.startswith("#")):
                self.bad.append(f"<{tag} {name}={value}>")
            if name.startswith("on"):
                self.bad.append(f"<{tag} {name}>")
            if re.search(r"\b(nan|inf)\b", value or "", re.I) and tag != "a":
                self.bad.append(f"<{tag} {name}={value}>")
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}> closes nothing")


def check_page(c, name, text, rows):
    page = Page()
    page.feed(text)
    c.check(not page.bad and not page.open, f"{name}: {page.bad[:3]} {page.open[:3]}")
    for outside in ("http", "//", "@import", "url(", "<script", "<link", "<iframe"):
        c.check(outside not in text, f"{name}: the page holds '{outside}'")
    c.check(page.count.get("svg", 0) >= 1 + rows, f"{name}: {page.count.get('svg')} plots")


def check_written(c, name, args, update):
    written = {}
    for suffix, option in WRITERS.items():
        status, out, err = c.run(*args, option, "-", cwd=DATA)
        written[suffix] = out
        path = HERE / "golden" / f"{name}.{suffix}"
        if update:
            path.write_text(out)
            continue
        want = path.read_text() if path.exists() else "(no such file)"
        equal = same(json.loads(out), json.loads(want)) if suffix == "json" and out else out == want
        c.check(equal, f"{name}: {option} differs from {path.name}:\n{out}{err}")
    report = json.loads(written["json"])
    rows = list(csv.DictReader(io.StringIO(written["csv"])))
    c.check({r["name"] for r in rows} == {b["name"] for b in report["benchmarks"]},
            f"{name}: CSV and JSON name different benchmarks")
    c.check(status == report["status"], f"{name}: the JSON says {report['status']}, the exit {status}")
    status, out, err = c.run(*args, "--html", "-", cwd=DATA)
    check_page(c, name, out, len(rows))


def main():
    c = Checks("golden")
    update = "--update" in sys.argv
    for name, args in CALLS.items():
        status, out, err = c.run(*args, cwd=DATA)
        text = f"$ perf-ab {' '.join(args)}\n{out}{err}status {status}\n"
        path = HERE / "golden" / f"{name}.txt"
        if update:
            path.write_text(text)
        else:
            want = path.read_text() if path.exists() else "(no such file)\n"
            c.check(text == want, f"{name}\n--- wanted\n{want}+++ got\n{text}")
        if name in ("csv_two_rules", "google", "results"):
            check_written(c, name, args, update)
    c.finish()


main()
