"""perf-ab merge: the slowest rank and the imbalance; traces of several processes in one."""
import json
import random

from tool import Checks

TRACE = """[
{"ph":"M","name":"process_labels","args":{"labels":"perf.h"},"pid":77},
{"ph":"X","name":"step \\"pid\\":9 \\u0001","ts":%d.250,"dur":4.500,"pid":77,"tid":78},
{"ph":"C","name":"q","args":{"value":null},"ts":%d.000,"pid":77,"tid":78}"""


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

    a, b = c.file("a.json", TRACE % (1000, 1001)), c.file("b.json", TRACE % (2000, 2001) + "\n]\n")
    c.status(0, "merge", "--ranks", a, "--name", "gpu box", "--offset", "-500000+-40", b, "-o", c.work / "m.json")
    trace = json.loads((c.work / "m.json").read_text())["traceEvents"]
    steps = [e for e in trace if e["ph"] == "X"]
    c.check([e["ts"] for e in steps] == [1000.25, 1500.25] and len({e["pid"] for e in steps}) == 2, f"{trace}")
    c.check(steps[0]["name"] == 'step "pid":9 \x01', f"{steps}")
    names = {e["args"]["name"]: e["pid"] for e in trace if e["name"] == "process_name"}
    c.check(names == {"rank 0": steps[0]["pid"], "gpu box": steps[1]["pid"]}, f"{names}")
    c.check(any(e.get("args", {}).get("labels") == "clock moved by -500000 ns, within 40 ns" for e in trace), "bound")
    c.status(0, "merge", c.work / "m.json", a, "-o", c.work / "again.json")
    again = json.loads((c.work / "again.json").read_text())["traceEvents"]
    c.check(len({e["pid"] for e in again if e["ph"] == "X"}) == 3, "merged once more")

    c.status(3, "merge", a, has="-o FILE")
    c.status(3, "merge", a, ranks[0], "-o", c.work / "x", has="rank0.json")
    c.status(3, "merge", ranks[0], a, "-o", c.work / "x", has="a.json")
    c.status(3, "merge", a, c.work / "missing", "-o", c.work / "x", has="missing")
    c.status(3, "merge", a, "--name", "x", "-o", c.work / "x", has="before the file")
    c.status(3, "merge", "--offset", "5x", a, "-o", c.work / "x", has="an offset is")
    c.status(3, "merge", "--offset", "5+-nan", a, "-o", c.work / "x", has="an offset is")
    c.status(3, "merge", a, "-o", "/no/such/folder/x", has="folder")
    c.check(not (c.work / "x").exists(), "a failed merge leaves a file")
    c.finish()


main()
