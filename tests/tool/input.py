#!/usr/bin/env python3
"""Bad input ends with status 3 and a message with file, line and column; odd but good input does not.

    input.py TOOL
"""
import json
import re
import resource
import subprocess

from tool import DATA, ROOT, Checks

LEAST = 1 << 30                         # bytes of memory that are enough to refuse anything

GOOD = "".join(f"{10 + i % 7 * 0.01:.3f}\n" for i in range(20))


def json_results(samples, name='"x"', unit='"ns"'):
    return ('{"perf_results": 1,\n "benchmarks": [\n  {"name": %s, "unit": %s,\n   "samples": %s}]}\n'
            % (name, unit, samples))


# name, content, where, what the message says
BAD = [
    ("word", "1.5\n2.5\nabc\n", "3:1", "expected a number: 'abc'"),
    ("half", "1.5\n2.5x\n", "2:1", "expected a number: '2.5x'"),
    ("two", "1.5\n 2.5 2.6\n", "2:6", "a second number on one line"),
    ("nan", "1.5\nnan\n", "2:1", "not a finite number: 'nan'"),
    ("nan first", "NaN\n", "1:1", "not a finite number"),
    ("inf", "1.5\r\n\r\n  inf\r\n", "3:3", "not a finite number: 'inf'"),
    ("minus inf", "1.5\n-inf\n", "2:1", "not a finite number"),
    ("overflow", "1.5\n1e309\n", "2:1", "not a finite number: '1e309'"),
    ("zero", "# a comment\n1.5\n0\n", "3:1", "zero"),
    ("minus zero", "1.5\n-0.0\n", "2:1", "zero"),
    ("underflow", "1.5\n1e-400\n", "2:1", "zero"),
    ("negative", "1.5\n-2\n", "2:1", "negative: '-2'"),
    ("hexadecimal", "1.5\n0x10\n", "2:1", "expected a number: '0x10'"),
    ("cut exponent", "1.5\n2e\n", "2:1", "expected a number: '2e'"),
    ("comma", "1,5\n2,5\n", "1:1", "a decimal comma? write 1.5, not 1,5"),
    ("comma behind a sign", "-1,5\n", "1:1", "a decimal comma? write 1.5"),
    ("comma behind thousands", "1.234,56\n", "1:1", "a decimal comma? write 1.5"),
    ("comma before a unit", "0,5 s\n0,6 s\n", "1:1", "a decimal comma? write 1.5"),
    ("pairs without a header", "1;2\n3;4\n", "1:1", "pairs need a header line 'a,b'"),
    ("comma later", "1.5\n2,5\n", "2:1", "a decimal comma: write 1.5, not 1,5: '2,5'"),
    ("comma in columns", "name;value\nx;2,5\n", "2:3", "a decimal comma: write 1.5"),
    ("commas between semicolons", "1,5;2,4\n1,6;2,5\n", "1:1", "a decimal comma: write 1.5, not 1,5: '1,5'"),
    ("comma between commas", "name,value\nx,2,5\n", "2:1", "decimal commas? write 1.5"),
    ("empty", "", "1:1", "nothing to read"),
    ("comments only", "# one\n# two\n\n", "1:1", "nothing to read"),
    ("BOM only", "\ufeff", "1:1", "nothing to read"),
    ("UTF-16", "1.5\n".encode("utf-16"), "1:1", "UTF-16 text: save it as UTF-8"),
    ("binary", b"\x7fELF\x02\x01\x00\x00", "1:7", "this is no text file"),
    ("long token", "1.5\n" + "9" * 100 + "x\n", "2:1", "'..."),
    ("CSV header", "name,iterations\nx,3\n", "1:1", "the header needs columns"),
    ("CSV header only", "name,value\n", "2:1", "no value in this file"),
    ("CSV short row", "name,value\nx,3\nx\n", "3:1", "1 fields where the header has 2"),
    ("CSV long row", "name,value\nx,3\nx,3,4\n", "3:1", "3 fields where the header has 2"),
    ("CSV value", "name,value\nx,3\nx,fast\n", "3:3", "expected a number: 'fast'"),
    ("CSV no value", "name,value\nx,3\nx,\n", "3:3", "expected a number"),
    ("CSV zero", "a,b\n1,2\n1,0\n", "3:3", "zero"),
    ("CSV negative", "a;b\r\n1;2\r\n-1;2\r\n", "3:1", "negative"),
    ("CSV quote", 'name,value\n"x,3\n', "2:1", "this quote is never closed"),
    ("CSV after quote", 'name,value\n"x"y,3\n', "2:4", "text after a closing quote"),
    ("CSV twice", "value,time\n1,2\n", "1:7", "two columns of one meaning"),
    ("CSV units", "name,unit,value\nx,ns,1\nx,frames,1\n", "3:10", "another unit"),
    ("CSV wide", ",".join("abc" for _ in range(300)) + "\n", "1:1025", "more than 256 columns"),
    ("Go failed", "goos: linux\n--- FAIL: BenchmarkY\n    y_test.go:3: boom\n", "2:11", "boom"),
    ("Go cut", "goos: linux\nBenchmarkX-8 100 12 ns/op 5\n", "2:27", "is the line cut off?"),
    ("Go zero", "goos: linux\nBenchmarkX-8 100 0 ns/op\n", "2:18", "zero"),
    ("Go none", "goos: linux\nPASS\n", "1:1", "no line with results"),
    ("JSON cut", json_results("[1, 2, 3]")[:-5], "4:", "not JSON"),
    ("JSON NaN", json_results("[1, NaN]"), "4:19", "not a finite number"),
    ("JSON infinity", json_results("[1, -inf, 2]"), "4:19", "not a finite number"),
    ("JSON overflow", json_results("[1, 1e999]"), "4:", "not JSON"),
    ("JSON twice", '{"perf_results": 1, "perf_results": 1}', "1:", "not JSON: duplicate"),
    ("JSON after", json_results("[1]") + "x\n", "5:1", "not JSON"),
    ("JSON UTF-8", json_results("[1]", name='"\udcff"').encode("utf-8", "surrogateescape"), "3:",
     "not JSON"),
    ("JSON zero", json_results("[1,\n    2,\n    0]"), "6:5", "zero"),
    ("JSON escapes", json_results("[1, 2, 0]", name='"a\\"], [\\\\"'), "4:22", "zero"),
    ("JSON negative", json_results("[1, 2, -3]"), "4:22", "negative"),
    ("JSON text", json_results('[1, "2"]'), "4:19", "expected a number"),
    ("JSON null", json_results("[1, null]"), "4:19", "expected a number"),
    ("JSON samples", json_results("5"), "3:3", '"samples"'),
    ("JSON empty", json_results("[]"), "5:1", "no value in this file"),
    ("JSON scopes", '{"perf_results": 1, "benchmarks": [], "scopes": [{"name": "x", "calls": 7}]}', "1:1",
     "scopes, but no benchmark: perf_baseline_check() compares"),
    ("JSON name", json_results("[1]", name="7"), "3:3", '"name"'),
    ("JSON memory", json_results("[1]", unit='"B"'), "1:1", "--metric memory"),
    ("JSON other", '{"hello": 1}', "1:1", "JSON that is none of"),
    ("JSON list", "[1, 2, 3]", "1:1", "JSON that is none of"),
    ("JSON version", '{"perf_results": 2, "benchmarks": []}', "1:1", "version"),
    ("JSON verdicts", '{"perf_ab": 1, "benchmarks": []}', "1:1", "it reads measurements"),
    ("JSON unpaired", '{"perf_results": 1, "benchmarks": [{"name": "x",\n"baseline": [1, 2], "candidate": '
     '[1]}]}', "1:36", "differ in length"),
    ("JSON deep", "[" * 100000, "1:", "not JSON: maximum parsing depth"),
    ("JSON deep object", '{"a":' * 5000 + "1" + "}" * 5000, "1:", "not JSON: maximum parsing depth"),
    ("Google aggregates", '{"benchmarks": [{"name": "x", "run_type": "aggregate", "real_time": 1}]}',
     "1:17", "only aggregates"),
    ("Google time", '{"benchmarks": [\n{"name": "x", "real_time": "1"}]}', "2:1", '"real_time"'),
    ("Google zero", '{"benchmarks": [\n{"name": "x",\n "real_time": 0}]}', "3:15", "zero"),
    ("hyperfine times", '{"results": [\n{"command": "x", "mean": 1}]}', "2:1", '"times"'),
    ("pyperf negative", '{"benchmarks": [{"runs": [{"values": [1]},\n{"values": [-1]}]}]}', "2:13",
     "negative"),
]

# name, content: read like GOOD
FINE = [
    ("CRLF", GOOD.replace("\n", "\r\n")),
    ("BOM", "\ufeff" + GOOD),
    ("comments", "# head\n\n" + GOOD.replace("\n", "  # one\n")),
    ("no newline at the end", GOOD.rstrip("\n")),
    ("spaces", "\t " + GOOD.replace("\n", " \t\n\t ")),
    ("exponents", GOOD.replace("10.", "1.0e1 #").replace("#0", "#")),
    ("CSV", "value\n" + GOOD),
    ("CSV any title", "latency_us\n" + GOOD),
    ("CSV tabs", "name\tvalue\n" + "".join(f"x\t{v}\n" for v in GOOD.split())),
    ("CSV semicolon in a title", '"name; or ""it""",value\n' + "".join(f"x,{v}\n" for v in GOOD.split())),
    ("CSV tab in a title", 'name,"value", "a\tb"\n' + "".join(f"x,{v},1\n" for v in GOOD.split())),
    ("CSV comma in a title", 'name;value;"a,b"\n' + "".join(f"x;{v};1\n" for v in GOOD.split())),
    ("CSV inches", 'name 5";value\n' + "".join(f"x;{v}\n" for v in GOOD.split())),
    ("CSV quotes", '"value"\n' + "".join(f'"{v}"\n' for v in GOOD.split())),
    ("JSON", json_results("[%s]" % ",".join(GOOD.split()), unit='""')),
    ("JSON integers", json_results("[%s]" % ",".join(v.replace(".", "") for v in GOOD.split()), unit='""')),
    ("JSON BOM", "\ufeff" + json_results("[%s]" % ",".join(GOOD.split()), unit='""')),
]


def rates_of(c):
    return c.file("rates.csv", "a,b,unit\n" + "1.001,2.001,MB/s\n" * 20)


def skipped(c):
    """Google Benchmark's SkipWithMessage and SkipWithError: no time, no error of ours."""
    entry = '{"name": "%s", "run_name": "%s", "run_type": "iteration", "real_time": %s, "time_unit": "ns"%s}'
    for more in ('"skipped": true, "skip_message": "no GPU"', '"error_occurred": true, "error_message": "no"'):
        text = '{"context": {}, "benchmarks": [%s, %s]}' % (entry % ("x", "x", "5.0", ""),
                                                            entry % ("y", "y", "0.0", ", " + more))
        c.status(2, c.file("skipped.json", text), c.file("skipped2.json", text), has="5.000 ns")


def zeros(c):
    """A count of 0 is 0 in all that is written; 0 beside parts of a unit is no count."""
    def counts(name, unit, *values):
        return c.file(f"{name}.csv", "name,unit,value\n" + "".join(f"x,{unit},{v}\n" for v in values))
    for unit, values in (("errors", (0, 0, 3)), ("MB", (0, 0, 3.5)), ("MB", (0.25, 0.5)), ("B", (0, 0, 1))):
        file = counts("zeros", unit, *values)
        kept = json.loads(c.status(0, "convert", file, "--to", "results"))["benchmarks"][0]["samples"]
        c.check(kept == list(values), f"{unit} {values}: {kept}")
    none, few = counts("none", "errors", *[0] * 8), counts("few", "errors", *[3] * 8)
    report = json.loads(c.run(none, few, "--json", "-")[1])["benchmarks"][0]["rules"][0]
    c.check((report["before"], report["after"]) == (0, 3), f"{report}")
    c.check(c.run(none, few, "--csv", "-")[1].splitlines()[1].split(",")[3:5] == ["0", "3"], "the CSV")
    past = json.loads(c.run("history", none, few, "--json", "-")[1])["benchmarks"][0]["runs"]
    c.check([r["median"] for r in past] == [0, 3], f"{past}")
    c.status(0, "history", none, few, has=" 0 errors ")
    c.status(0, "history", counts("part", "MB", 0.3), has=" 0.3 MB ")
    # 0 MB, kept as half a unit, against 0.3 MB was "memory down by 37 %".
    c.status(2, counts("without", "MB", *[0] * 12), counts("parts", "MB", *[0.31 + i % 3 / 100 for i in range(12)]), "--random",
             "--accept", "memory down >= 10 %", has="0 on one side, fractions of MB on the other")
    c.status(3, counts("mixed", "MB", 0, 0.3), few, "--metric", "memory", has="0 beside fractions of MB")


def read_once(c):
    """Pipes are read once, whatever asks for them again."""
    def one(name, ns):
        return c.file(name, json.dumps({"benchmarks": [{"name": "x", "real_time": ns + i % 3, "time_unit": "ns", "max_bytes_used": 100}
                                                       for i in range(9)]}))
    a, b = one("once_a.json", 10), one("once_b.json", 20)
    asked = ("--accept", "no regression beyond 2 %", "--accept", "memory down >= 2 %")
    want = c.run(a, b, *asked)[1].split("asked:")[1]
    for args, text in ((("-", b), a.read_text()), (("/dev/stdin", b), a.read_text())):
        c.status(2, *args, *asked, text=text, has=want)
    both = c.run("merge", a, b)[1]
    c.status(0, "merge", "/dev/stdin", b, text=a.read_text(), has=both)
    log = DATA.parent / "hlog" / "jHiccup-2.0.7S.logV2.hlog"
    want = c.run("convert", log, "--to", "percentiles")[1]
    c.check(len(want) > 1000, f"{want}")
    for name in ("-", "/dev/stdin"):
        c.status(0, "convert", name, "--to", "percentiles", text=log.read_text(), has=want)


def main():
    c = Checks("input")
    good = c.file("good.txt", GOOD)
    for name, content, where, what in BAD:
        bad = c.file(name, content)
        for args in ((bad, good), (good, bad)):
            out = c.status(3, *args, has=what)
            c.check(not out or f"{bad}:{where}" in out, f"{name}: not at {where}: {out}")
            c.check(not out or len(out) < 700, f"{name}: a message of {len(out)} bytes")
    for name, content in FINE:
        c.status(2, c.file(name, content), good, has="INCONCLUSIVE")

    # Few or odd numbers are no error: nothing can be concluded, and it says why.
    for name, content in (("one", "5\n"), ("five", "5\n" * 5), ("constant", "5\n" * 30), ("huge", "1e308\n" * 30),
                          ("tiny", "1e-300\n" * 30), ("subnormal", "5e-324\n" * 30)):
        c.status(2, c.file(name, content), good, has="not interleaved")
        c.status(2, good, c.file(name, content), has="not interleaved")
    for name, content in (("one", "5\n"), ("five", "5\n" * 5)):
        c.status(2, c.file(name, content), c.file(name, content), "--paired", has="5 more pairs" if name == "one" else "at least 1 more pair\n")
    c.status(2, c.file("ties", "5\n" * 30), c.file("ties", "5\n" * 30), "1", "pair", has="INCONCLUSIVE")
    c.status(3, good, c.file("short", GOOD[:-7]), "--paired", has="20 values in A and 19 in B")

    # The terminal is not steered by what a file holds.
    out = c.status(3, c.file("escape", "1\n\x1b[2Jx\n"), good, has="expected a number")
    c.check("\x1b" not in out, "an escape sequence got through in a message")
    rows = "".join(f"n\x1b[2J,{v}\n" for v in GOOD.split())
    out = c.status(2, c.file("names.csv", "name,value\n" + rows), c.file("names2.csv", "name,value\n" + rows))
    c.check("\x1b" not in out, "an escape sequence got through in a table")

    page = c.file("page.csv", "name,value\n" + "".join(f'"<img src=x> & \'""",{v}\n' for v in GOOD.split()))
    for option, bad in (("--html", "<img"), ("--markdown", "<img")):
        out = c.status(2, page, page, option, "-")
        c.check(out and bad not in out.replace("\\<img", ""), f"{option} lets '{bad}' through")

    # Nor is a browser, by names, units, machines or runs, in one or in several benchmarks and rules.
    bad = "<img src=x>|&lt;"
    def hostile(name, machine, runs, design):
        where = [f"{k}{bad}" for k in range(runs)]
        return c.file(name, json.dumps({
            "perf_results": 1, "runs": [{"run": run, "machine": machine + bad, "time": 1000} for run in where],
            "benchmarks": [{"name": f"{k}{bad}", "unit": bad, "run": run, "design": design, "samples":
                            [(1 if name == "a" else 2) * float(x) for x in GOOD.split()]} for run in where for k in (0, 1)]}))
    for runs, design in ((1, "separate"), (1, "random"), (8, "separate")):
        sides = hostile("a", "one", runs, design), hostile("b", "two", runs, design)
        for more in ((), ("--accept", "down >= 5 % on p50", "--accept", "down >= 5 %")):
            page = c.status(2, *sides, *more, "--html", "-", has="two&lt;img src=x&gt;|&amp;lt;")
            c.check(page and "<img" not in page and "<i" not in page.replace("<i>", ""), f"{runs} runs, {design}: HTML")
            text = c.status(2, *sides, *more, "--markdown", "-", has="two\\<img src=x\\>\\|&amp;lt;") or ""
            c.check("<img" not in text.replace("\\<", ""), f"{runs} runs, {design}: Markdown: {text}")
            rows = [line for line in text.splitlines() if line.startswith("|")]
            c.check(len({line.replace("\\|", "").count("|") for line in rows}) == 1, f"columns of Markdown: {text}")
    c.status(3, c.file("report.csv", c.status(0, rates_of(c), "--metric", "throughput", "--csv", "-") or ""),
             has="these are verdicts that perf-ab wrote")

    # Files and calls that are none.
    c.status(3, "nowhere.txt", good, has="nowhere.txt: cannot be opened: No such file")
    c.status(3, c.work, good, has="cannot be read: Is a directory")
    c.status(3, good, good, "--json", "no/such/x.json", has="cannot be written: No such file")
    c.status(3, good, has="one file must hold pairs")
    c.status(3, good, good, good, has="more than two files")
    c.status(3, good, "--", has="which files?")
    c.status(3, "--nonsense", good, has="no such option")
    c.status(3, good, good, "--json", has="its value is missing")
    c.status(3, good, good, "--accept", "faster", has="not a rule")
    c.status(3, good, good, "--confidence", "95", has="0.5 and 0.9999")
    c.status(3, good, good, "--metric", "p42", has="no such metric")
    c.status(3, good, good, "--json", "no/such/folder/x.json", has="cannot be written")
    c.status(3, DATA / "pairs.csv", DATA / "pairs.csv", has="hold pairs")
    c.status(3, DATA / "google_a.json", DATA / "pyperf_a.json", has="no benchmark of that name is in both")
    c.status(3, DATA / "google_a.json", DATA / "google_b.json", "--value", "nothing", has="--value")
    c.status(3, good, good, "--format", "go", has="no line with results")
    c.status(3, has="usage")

    # Options of the other kind of work are not passed over, and help is help wherever it stands.
    for option in (("--pairs", "5"), ("--shell",), ("--reported=x",), ("--save", "x")):
        c.status(3, good, good, *option, has="only perf-ab run takes the option")
    for option in (("--paired",), ("--value", "x")):
        c.status(3, "run", *option, "--", "true", "--", "true", has="measures itself")
    c.status(3, "run", "--unit", "ms", "--", "true", "--", "true", has="--unit is that of --reported numbers")
    c.status(3, "run", "--reported", "--measure", "cpu", "--", "true", "--", "true", has="one of them")
    for to in ("-", "x.json"):
        c.status(3, good, good, "--json", to, "--csv", to, has=f"two reports into one: '{to}'")
    c.status(3, "run", "--html", "x", "--save", "x", "--", "true", "--", "true", has="two reports into one")
    c.status(3, "run", "--save", "-", "--", "true", "--", "true", has="--save needs a file")
    for args in (("run", "--help"), ("merge", "-h"), (good, good, "--help")):
        c.status(0, *args, has="usage: perf-ab A B")
    c.status(0, "run", "--version", has="perf-ab ")

    # One benchmark on each side is meant, whatever its name; the report says so.
    old, new = (c.file(f"{n}.json", json_results("[%s]" % ",".join(GOOD.split()), name=f'"{n}"')) for n in ("old", "new"))
    for option in ("--plot", "--csv", "--json", "--markdown", "--html"):
        c.status(2, old, new, option, *(["-"] if option != "--plot" else []), has="old -> new" if option == "--plot" else "new")
    c.status(2, old, new, has="names differ: the only benchmark of A is compared with the only one of B")
    c.check("names differ" not in c.status(2, old, old), "names that are equal")
    c.status(3, good, old, has="the other one names none")

    # Times are neither memory nor throughput, where less would be worse.
    times = c.file("times.csv", "a,b,unit\n" + "2.001,1.001,ms\n" * 20)
    rates = rates_of(c)
    flies = DATA / "hyperfine.json"
    for metric, has in (("memory", "that is no memory"), ("throughput", "that is no throughput")):
        c.status(3, times, "--metric", metric, has=has)
        c.status(3, flies, "--metric", metric, has="this file has times")
    c.status(3, rates, "--metric", "memory", has="that is no memory")
    c.status(3, times, "--accept", "memory down >= 10 % on p95", has="that is no memory")
    c.status(0, times, has="ACCEPT")
    c.status(0, rates, "--metric", "throughput", has="ACCEPT")

    # Units of time by other names are times; what only looks like one is not.
    for unit, ns in (("nsec", 2), ("usecs", 2000), ("msec", 2000000), ("seconds", 2000000000), ("minutes", 120000000000),
                     ("hr", 7200000000000), ("h", 7200000000000)):
        c.status(0, "convert", c.file("units.csv", f"name,value,unit\nx,2,{unit}\n"), "--to", "csv", has=f"x,ns,,{ns}\n")
    for unit in ("mss", "hs", "m", "nsecss", "minu"):
        c.status(0, "convert", c.file("units.csv", f"name,value,unit\nx,2,{unit}\n"), "--to", "csv", has=f"x,{unit},,2\n")

    # Calibration input.
    c.status(3, "--batch", text="hello\n", has="(standard input):1:1: expected: T id n metric threshold")
    c.status(3, "--batch", text="T 1 2 pair 0.5\n0 1 2\n", has="ends in the middle")
    c.status(3, "--batch", text="T 1 1 pair 0.5\n0 1 x\n", has="(standard input):2:")
    c.status(3, "--seq", text="T 1 0 p95 0.5\n", has="only the metric pair")
    c.status(3, "--sample", text="V 1 1 p0\n", has="statistic")
    c.status(0, "--batch", text="")
    c.status(0, "--batch", text="T a 1 pair 0.5\n0 nan 1\n", has="a INCONCLUSIVE nan 0 inf")
    c.status(0, "--sample", text="V s 1 p50\n2.5\n", has="s 2.5 -inf inf")

    # Without an end: a sentence, and no gigabytes on the way to it.
    def stingy():
        resource.setrlimit(resource.RLIMIT_AS, (LEAST, LEAST))
    for args, text, has in ((("/dev/zero", good), None, "zero bytes: this is no text file"),
                            (("-", good), "1.5\n" * 68_000_000, "more than 256 MiB"),
                            (("merge", "/dev/zero"), None, "zero bytes")):
        limit = None if "sanitized" in c.tool else stingy
        done = subprocess.run([c.tool, *map(str, args)], input=text and text.encode(), timeout=120,
                              capture_output=True, preexec_fn=limit)
        c.check(done.returncode == 3 and has in done.stderr.decode(),
                f"{args}: {done.returncode} {done.stderr[:300]}")

    # Without memory for a file, which is at fault is not the file.
    large = c.work / "large.json"
    values = [100.5 + i % 7 for i in range(2000)]
    large.write_text(json.dumps({"perf_results": 1, "benchmarks": [
        {"name": f"n{i}", "unit": "ns", "baseline": values, "candidate": values} for i in range(60)]}))
    said = set()
    for megabytes in () if "sanitized" in c.tool else range(8, 24):
        done = subprocess.run([c.tool, "--trust", "--quiet", str(large)], timeout=120, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2))
        if done.returncode == 3:
            said.add(done.stderr.strip())
    c.check(all("out of memory" in text for text in said), f"{said}")

    # Files of one benchmark, with and without a unit.
    widgets, bare = (c.file(f"{n}.csv", f"name,value,unit\nx,1,{n}\nx,2,{n}\n") for n in ("widgets", ""))
    c.status(3, "history", widgets, bare, has="'x': no unit here, unit widgets in a file before")
    c.status(3, "history", bare, widgets, has="'x': unit widgets here, no unit in a file before")
    c.status(3, widgets, bare, "--", widgets, widgets, has="no unit here")
    c.status(0, "history", bare, bare)

    # Every option of --help is in the manual, of which some commands have pages of their own, and on the man page.
    _, text, _ = c.run("--help")
    options = set(re.findall(r"(?<![-a-z])--[a-z][-a-z]+", text))
    c.check(len(options) > 30, f"--help names {len(options)} options")
    manual = [ROOT / "docs" / f"{name}.md" for name in ("perf-ab", "history", "look", "diagnose")]
    for page, parts in (ROOT / "docs" / "perf-ab.md", manual), (ROOT / "tools" / "perf-ab.1", [ROOT / "tools" / "perf-ab.1"]):
        known = "".join(p.read_text() for p in parts).replace("\\-", "-")
        for option in sorted(options):
            c.check(re.search(f"{option}(?![-a-z])", known), f"{page.name} does not know {option}")

    # Large: JSON of a million numbers, ten thousand benchmarks.
    big = c.file("big.json", json_results("[%s]" % ",".join(["1.5", "1.6"] * 500000)))
    c.status(2, big, big, "--quiet")
    many = c.file("many.csv", "name,value\n" + "".join(f"b{i},{i + 1}\n" for i in range(10000)))
    c.status(2, many, many, has="10000 benchmarks")
    c.status(3, c.file("runs.csv", "run,value\n" + "".join(f"{i},1\n" for i in range(10002))), good,
             has="more than 10,000 runs")
    skipped(c)
    zeros(c)
    read_once(c)
    c.finish()


main()
