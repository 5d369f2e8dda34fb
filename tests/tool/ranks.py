"""perf-ab merge: the slowest rank and the imbalance; traces of several processes in one."""
import json
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

from tool import Checks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pftrace import field, packet, processes, slices  # noqa: E402

CHROME = """{"displayTimeUnit":"ns","traceEvents":[
{"ph":"X","name":"step","ts":1.250,"dur":4.500,"pid":77,"tid":78}
]}
"""


def trace(c, name, begin):
    """As perf.h writes it: a process 77 with a thread, and a scope of 4.5 us."""
    def event(kind, ns, *more):
        return packet(field(11, field(9, kind) + field(11, 77 << 32 | 2) + b"".join(more)), field(8, ns),
                      field(58, 3), field(10, 1))

    path = c.work / name
    path.write_bytes(packet(field(60, field(1, 77 << 32) + field(3, field(1, 77))), field(10, 1)) +
                     packet(field(60, field(1, 77 << 32 | 2) + field(4, field(1, 77) + field(2, 78))), field(10, 1)) +
                     event(1, begin, field(23, "step")) + event(2, begin + 4500))
    return path


def results(rank, factor):
    random.seed(rank)
    return json.dumps({"perf_results": 1, "benchmarks": [
        {"name": "step", "unit": "us", "run": f"rank {rank}",
         "samples": [factor * random.uniform(99, 101) for _ in range(200)]},
        {"name": "once", "unit": "ms", "run": f"rank {rank}", "samples": [5]},
        {"name": "rate", "unit": "items/s", "run": f"rank {rank}", "samples": [1000 / factor]}]})


def main():
    c = Checks("ranks")
    ranks = [c.file(f"rank{i}.json", results(i, 1.3 if i == 2 else 1.0)) for i in range(4)]
    out = c.status(0, "merge", *ranks, "-o", c.work / "all.json", has="rank 2 (130.0 us, +20.9 %)") or ""
    lines = {line.split()[0]: line for line in out.splitlines()[1:]}
    c.check(lines.get("step", "").split()[1:3] == ["4", "800"], f"runs and values: {out}")
    c.check("rank 2" in lines.get("rate", ""), f"of a rate the smallest is the slowest: {out}")
    c.check("131" in lines.get("step", "").split("rank")[0], f"p99 over all: {out}")
    c.check(len(json.loads((c.work / "all.json").read_text())["benchmarks"]) == 12, "all are in the file")
    one = c.status(0, "merge", ranks[0], "-o", c.work / "one.json")
    c.check(one == "", f"a single run has no slowest: {one}")

    # Scopes of a file with a byte order mark, or with NaN among its samples.
    for before, sample in (("\ufeff", 1), ("", float("nan"))):
        file = c.file("scopes.json", before + json.dumps({
            "perf_results": 1, "benchmarks": [{"name": "x", "samples": [1]}, {"name": "y", "samples": [sample]}],
            "scopes": [{"name": "work", "kind": "scope", "run": "1", "calls": 3, "total": 300, "max": 150}]}))
        c.status(0, "merge", file, ranks[0], "-o", c.work / "scopes.all")
        kept = json.loads((c.work / "scopes.all").read_text()).get("scopes", [])
        c.check([(s["name"], s["calls"]) for s in kept] == [("work", 3)], f"{before!r} {sample}: {kept}")

    # A rank whose file has several runs: each keeps its scopes, its machine and its values, in every benchmark.
    several = [c.file(f"several.{rank}.json", json.dumps({
        "perf_results": 1, "runs": [{"run": run, "machine": f"{run}{rank}", "time": 1000} for run in "abc"],
        "benchmarks": [{"name": name, "unit": "ns", "run": run, "samples": [100 * rank + "abc".index(run)]}
                       for name, runs in (("one", "abc"), ("two", "ca")) for run in runs],
        "scopes": [{"name": "work", "kind": "scope", "run": run, "calls": 3, "total": 300, "max": "abc".index(run) + 1} for run in "bc"],
    })) for rank in (4, 7)]
    c.status(0, "merge", "--ranks", *several, "-o", c.work / "several.all")
    kept = json.loads((c.work / "several.all").read_text())
    names = [f"rank {rank}{run}" for rank in (4, 7) for run in ("", ".2", ".3")]
    c.check([(r["run"], r["machine"]) for r in kept["runs"]] == list(zip(names, "a4 b4 c4 a7 b7 c7".split())), f"{kept['runs']}")
    for b in kept["benchmarks"]:
        c.check(b["samples"] == [100 * int(b["run"][5]) + names.index(b["run"]) % 3], f"{b}")
    c.check([(s["run"], s["max"]) for s in kept["scopes"]] == [(names[i], i % 3 + 1) for i in (1, 2, 4, 5)], f"{kept['scopes']}")
    alone = c.file("alone.3.json", json.dumps({"perf_results": 1, "runs": [{"run": "a", "machine": "m", "time": 1}],
                                               "benchmarks": [{"name": "x", "samples": [1]}]}))
    c.status(0, "merge", "--ranks", alone, several[0], "-o", c.work / "several.all")
    kept = json.loads((c.work / "several.all").read_text())
    c.check([r["run"] for r in kept["runs"]] == ["rank 3", *names[:3]] and kept["benchmarks"][0]["run"] == "rank 3", f"{kept}")

    # A file that the result replaces is there until that is whole, with its mode; a link is replaced.
    kept = c.file("kept.json", results(0, 1.0))
    kept.chmod(0o640)
    was = kept.read_text()
    done = subprocess.run([c.tool, "merge", kept, *ranks, "-o", kept], capture_output=True, preexec_fn=lambda: (
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))))
    c.check(done.returncode == 3 and b"kept.json: cannot be written: File too large" in done.stderr, f"{done}")
    c.check(kept.read_text() == was and not list(c.work.glob("*.part")), "the full disk took a file")
    (c.work / "link.json").symlink_to("kept.json")
    c.status(0, "merge", kept, ranks[1], "-o", kept)
    c.check(kept.stat().st_mode & 0o777 == 0o640, "merged onto itself: mode")
    c.status(0, "merge", kept, ranks[1], "-o", c.work / "link.json")
    c.check(not (c.work / "link.json").is_symlink(), "a link is written through")
    sizes = [len(json.loads((c.work / name).read_text())["benchmarks"]) for name in ("kept.json", "link.json")]
    c.check(sizes == [6, 9], f"merged onto itself, then beside: {sizes}")

    # Names and machines come out of files: they do not steer the terminal, and are no half characters.
    def from_afar(name, machine, run):
        return json.dumps({"perf_results": 1, "runs": [{"run": run, "machine": machine, "time": 1000}], "benchmarks": [
            {"name": name, "unit": "ns", "run": run, "samples": [100 + i for i in range(9)]}], "scopes": [
            {"name": name, "kind": "scope", "run": run, "calls": 3, "total": 300 * len(run), "max": 100, "buckets": [[100, 3]]}]})
    name = "\x1b[2J" + 70 * "\u00e9"
    far = [c.file(f"far{i}.json", from_afar(name, f"\x1b[{i}m", i * "\x1b[1m" + 70 * "\u00e9")) for i in (1, 2)]
    for args in (("merge", *far, "-o", c.work / "far.json"), (far[0], far[1])):
        out = c.status(2 if args[0] != "merge" else 0, *args) or ""
        c.check("\x1b" not in out and "?[" in out and "\ufffd" not in out, f"{args}: {out!r}")

    # Names that differ only in bytes that are no UTF-8 are two, before a merge and after it.
    latin = c.file("latin.txt", b"BenchmarkCaf\xe9 1 100 ns/op\nBenchmarkCaf\xe8 1 300 ns/op\nBenchmark\xc3\xa9 1 7 ns/op\n")
    c.status(0, "merge", latin, latin, "-o", c.work / "latin.json")
    c.status(2, latin, c.work / "latin.json", has="3 benchmarks")
    kept = json.loads((c.work / "latin.json").read_text())["benchmarks"]
    c.check([(b["name"], b["samples"]) for b in kept] == [(n, [x]) for n, x in (("Caf\ufffde9", 100), ("Caf\ufffde8", 300),
                                                                               ("\u00e9", 7)) for _ in range(2)], f"{kept}")

    # Marks of runs stay, and ids and what is known of the runs stay together where two files have one id.
    def of_runs(*runs):
        return json.dumps({"perf_results": 1, "benchmarks": [{"name": "x", "unit": "ns", "run": r, "samples": [i + 1], **more}
                                                             for i, (r, more) in enumerate(runs)],
                           "runs": [{"run": r, "time": 1000 + i, "machine": "m"} for i, (r, _) in enumerate(runs)]})
    one, other = c.file("one.json", of_runs(("n1", {}))), c.file("other.json", of_runs(
        ("n1", {"level": "past"}), ("n2", {"level": "rejected"}), ("n3", {"level": "undecided"})))
    for args in ("merge", one, other), ("convert", one, other, "--to", "results"):
        kept = json.loads(c.status(0, *args))
        c.check([(b["run"], b.get("level")) for b in kept["benchmarks"]] == [
            ("n1", None), ("2.n1", "past"), ("2.n2", "rejected"), ("2.n3", "undecided")], f"{args}: {kept}")
        c.check([(r["run"], r["time"]) for r in kept["runs"]] == [
            ("n1", 1000), ("2.n1", 1000), ("2.n2", 1001), ("2.n3", 1002)], f"{args}: {kept['runs']}")
    machine = c.file("machine.json", '{"context": {"host_name": "m"}, "benchmarks": [{"name": "x", "real_time": 1}]}')
    kept = json.loads(c.status(0, "merge", machine, one))
    c.check([r["machine"] for r in kept["runs"]] == ["m", "m"], f"a machine without a time is lost: {kept}")

    a, b = trace(c, "a.pftrace", 1000250), trace(c, "b.pftrace", 2000250)
    c.status(0, "merge", "--ranks", a, "--name", "gpu box", "--offset", "-500000+-40", b, "-o", c.work / "m.pftrace")
    steps = slices(c.work / "m.pftrace")
    c.check([s[3] for s in steps] == [1000250, 1500250] and len({s[0] for s in steps}) == 2, f"{steps}")
    c.check(processes(c.work / "m.pftrace") == {steps[0][0]: ("rank 0", []), steps[1][0]: (
        "gpu box", ["clock moved by -500000 ns, within 40 ns"])}, f"{processes(c.work / 'm.pftrace')}")
    c.status(0, "merge", c.work / "m.pftrace", a, "-o", c.work / "again.pftrace")
    c.check(len({s[0] for s in slices(c.work / "again.pftrace")}) == 3, "merged once more")
    c.status(3, "merge", c.file("c.json", CHROME), "-o", c.work / "x", has="perf_trace_save_perfetto")

    c.status(3, "merge", a, has="-o FILE")
    c.status(3, "merge", a, ranks[0], "-o", c.work / "x", has="rank0.json")
    c.status(3, "merge", ranks[0], a, "-o", c.work / "x", has="a.pftrace")
    c.status(3, "merge", a, c.work / "missing", "-o", c.work / "x", has="missing")
    c.status(3, "merge", a, "--name", "x", "-o", c.work / "x", has="before the file")
    c.status(3, "merge", "--offset", "5x", a, "-o", c.work / "x", has="an offset is")
    c.status(3, "merge", "--offset", "5+-nan", a, "-o", c.work / "x", has="an offset is")
    c.status(3, "merge", a, "-o", "/no/such/folder/x", has="folder")
    c.check(not (c.work / "x").exists(), "a failed merge leaves a file")
    c.finish()


main()
