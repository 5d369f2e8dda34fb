#!/usr/bin/env python3
"""Twelve processes, started as torchrun starts them: one file of results and one trace each become
one table and one trace, with perf-ab merge.

    launcher.py PERF_AB WORKER
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pftrace                          # noqa: E402

WORLD = 12                              # "10" sorts before "2": the shell's order is not the ranks'
failed = passed = 0


def check(condition, what):
    global failed, passed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print(f"FAILED: {str(what)[:1500]}")


def tool(*arguments, status=0):
    done = subprocess.run([perf_ab, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    check(done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def launch(worker, folder):
    for start in (0, 6):                # as many nodes
        running = [subprocess.Popen([worker, str(folder)], env=dict(
            os.environ, RANK=str(rank), LOCAL_RANK=str(rank - start), WORLD_SIZE=str(WORLD),
            LOCAL_WORLD_SIZE="6", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500"))
            for rank in range(start, start + 6)]
        check([p.wait(timeout=60) for p in running] == [0] * 6, "workers")


def line(out, name):
    found = [row for row in out.splitlines() if row.startswith(f"  {name} ")]
    check(len(found) == 1, f"lines of {name}: {found}\n{out}")
    return found[0][27:].split() if found else [""] * 20


def results(folder):
    files = sorted(folder.glob("results.*.json"), key=str)          # as the shell does
    out = tool("merge", "--ranks", *files, "-o", folder / "all.json")
    print(out)
    step = line(out, "step")
    check(step[:2] == ["12", "1200"], step)
    check(abs(float(step[2]) / 1.6 - 1) < 0.02 and step[3] == "ms", step)
    forward = line(out, "forward")
    check(abs(float(forward[2]) - 1.0) < 0.02 and abs(float(forward[4]) - 1.5) < 0.03 and
          forward[8:] == ["1.500", "ms", "rank", "11", "(150.0", "ms,", "+44.0", "%)"], forward)
    save = line(out, "save")
    check(save[:2] == ["1", "1"] and save[-6:] == ["rank", "0", "(5.000", "ms,", "+1100.0", "%)"], save)
    check("loss" not in out, "a counter has no length")

    merged = json.loads((folder / "all.json").read_text())
    runs = {f"rank {i}" for i in range(WORLD)}
    check({s["run"] for s in merged["scopes"]} == runs == {r["run"] for r in merged["runs"]}, "ids of runs")
    check(len(merged["scopes"]) == 4 * WORLD + 1, len(merged["scopes"]))
    for rank in range(WORLD):
        mine = next(s for s in merged["scopes"] if s["run"] == f"rank {rank}" and s["name"] == "forward")
        check(mine["total"] == (150e6 if rank == WORLD - 1 else 100e6), f"rank {rank} has other numbers: {mine}")
    try:
        import jsonschema
        schema = Path(__file__).resolve().parents[2] / "docs" / "perf_results.schema.json"
        errors = list(jsonschema.Draft202012Validator(json.loads(schema.read_text())).iter_errors(merged))
        check(not errors, f"schema: {[e.message[:200] for e in errors[:3]]}")
    except ImportError:
        check(os.environ.get("CI") != "true", "jsonschema is missing (tests/python.txt)")

    again = tool("merge", folder / "all.json", "-o", folder / "again.json")
    check(again == out, f"merged once more:\n{again}")
    plain = tool("merge", files[0], files[0], "-o", folder / "twice.json")
    check(line(plain, "step")[:2] == ["2", "200"], f"one run given twice is two: {plain}")
    check(tool("merge", files[0], "-o", folder / "one.json") == "", "one run has no slowest")
    both = json.loads(files[0].read_text())
    both["benchmarks"] = [{"name": "copy", "unit": "ns", "run": both["runs"][0]["run"], "samples": [5, 6, 7]}]
    (folder / "both.0.json").write_text(json.dumps(both))
    (folder / "both.1.json").write_text(json.dumps(both))
    out = tool("merge", "--ranks", folder / "both.0.json", folder / "both.1.json", "-o", folder / "both.json")
    check(line(out, "copy")[:2] == ["2", "6"] and line(out, "step")[:2] == ["2", "200"], out)
    check({b["run"] for b in json.loads((folder / "both.json").read_text())["benchmarks"]} == {"rank 0", "rank 1"},
          "benchmarks, too, are the ranks'")

    good = json.loads(files[0].read_text())
    for key, value in (("name", 5), ("kind", None), ("calls", -1), ("calls", "many"), ("total", "x"),
                       ("buckets", {}), ("buckets", [[1, 2, 3]]), ("buckets", [[1, 0]]), ("buckets", [[-1, 1]])):
        bad = json.loads(json.dumps(good))
        bad["scopes"][1][key] = value
        (folder / "bad.json").write_text(json.dumps(bad))
        out = tool("merge", files[1], folder / "bad.json", "-o", folder / "x.json", status=3)
        check("bad.json: scope 2" in out and not (folder / "x.json").exists(), f"{key} {value}: {out}")


def traces(folder):
    files = sorted(folder.glob("trace.*.pftrace"), key=str)
    tool("merge", "--ranks", *files, "-o", folder / "trace.pftrace")
    names = {pid: name for pid, (name, _) in pftrace.processes(folder / "trace.pftrace").items()}
    check(sorted(names.values()) == sorted(f"rank {i}" for i in range(WORLD)), names)
    forward = {}
    for pid, _, name, begin, end in pftrace.slices(folder / "trace.pftrace"):
        if name == "forward":
            forward.setdefault(names[pid], set()).add(end - begin)
    check(forward == {f"rank {i}": {1500000 if i == WORLD - 1 else 1000000} for i in range(WORLD)},
          f"each rank has its own times: {forward}")
    out = tool("merge", "--offset", "-9e17", files[0], files[1], "-o", folder / "before.pftrace", status=3)
    check("add the same number to the --offset" in out and not (folder / "before.pftrace").exists(), out)


def numbers(folder):
    """Which number in a file's name is the rank?"""
    for names, want in ((["job7.rank1.json", "job7.rank0.json"], ["rank 1", "rank 0"]),
                        (["rank3-of-4.json", "rank1-of-4.json"], ["rank 3", "rank 1"]),
                        (["a.json", "b.json"], ["rank 0", "rank 1"]),
                        (["a1.json", "b.json"], ["rank 0", "rank 1"]),
                        (["a1.json", "c1.json"], ["rank 0", "rank 1"]),
                        (["99999999999999999999.json", "c2.json"], ["rank 0", "rank 1"])):
        for name, text in zip(names, ("a", "b")):
            (folder / name).write_text(json.dumps({"perf_results": 1, "benchmarks": [], "scopes": [
                {"name": text, "kind": "scope", "run": text, "calls": 1, "total": 5, "max": 5, "buckets": [[5, 1]]}]}))
        tool("merge", "--ranks", *(folder / n for n in names), "-o", folder / "numbers.json")
        got = [s["run"] for s in json.loads((folder / "numbers.json").read_text())["scopes"]]
        check(got == want, f"{names}: {got}")


perf_ab, program = map(os.path.abspath, sys.argv[1:3])
if not os.path.exists(perf_ab):
    missing = "perf-ab was not built: Jansson is missing"
    sys.exit(f"failed: {missing} (CI=true)") if os.environ.get("CI") == "true" else print(f"skipped: {missing}")
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    launch(program, Path(work))
    results(Path(work))
    traces(Path(work))
    numbers(Path(work))
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
