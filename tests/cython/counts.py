"""perfh counts: what the processor of this machine did in a call, or why there is no count.  With
SHIM=1 tests/counters/shim.c is preloaded: an instruction takes half a cycle."""
import json
import os
import subprocess
import sys
import time

import perfh


def raises(kind, call, words=""):
    try:
        got = call()
    except kind as error:
        assert words in str(error), (words, str(error))
        return
    raise AssertionError(f"no {kind.__name__}, but {got!r}")


def slow(n=20):
    s = 0
    for x in range(n):
        s += x
    return s


def quick(n=20):
    return sum(range(n))


def naps():
    with perfh.pause():
        time.sleep(0.0001)
    return slow()


counted_by = perfh.bench(slow, counters=True, max_seconds=0.05)
assert perfh.bench(slow, max_seconds=0.02).counts is None and isinstance(counted_by.counts, perfh.Counts)
c = counted_by.counts
assert (c.instructions is None) == ("instructions" in c.note) and c.instructions != 0, c
assert ": " in c.note or c.branch_misses is not None, c
assert (c.ipc is None) == (c.instructions is None or c.cycles is None) and str(c), c
if os.environ.get("SHIM"):              # it counts an instruction for half a cycle
    assert c.note == "" and c.instructions > 0 and abs(c.ipc - 2) < 1e-6, c
paused = perfh.bench(naps, counters=True, max_seconds=0.1).counts
assert paused.instructions is None and "while paused" in paused.note, paused
both = ("instructions down >= 2 %", "p50 no regression beyond 900 %")
v = perfh.ab(slow, quick, 50, rule=both, max_seconds=0.2)
assert v.rule is both and [p.rule for p in v.parts] == [both[1], both[0]], v.parts
assert v.decision in [p.decision for p in v.parts] and "by two rules: " in v.text, v.text
assert all(p.text in v.text for p in v.parts) and len(v.counts) == 2, v.text
if c.instructions is None:
    assert v.parts[1].decision == "INCONCLUSIVE" and v.parts[1].reason in c.note, (v.parts[1], c)
    assert not v and v.counts[0].note, v
v = perfh.ab(slow, quick, 50, rule="instructions down >= 2 %", max_seconds=0.1)
assert v.parts == () and v.counts and v.baseline.count, v
assert perfh.ab(slow, quick, 50, counters=True, max_seconds=0.05).counts[1].note == c.note
many = perfh.race([slow, quick], 50, rule=list(both[:1]), max_seconds=0.1)
assert all(e.counts is not None for e in many.entries) and str(many.entries[0].counts) in str(many), many
many = perfh.race([slow, quick], 50, rule=("down >= 2 %", "cycles down >= 2 %"), max_seconds=0.1)
assert len(many.entries[1].verdict.parts) == 2 and "by two rules" in str(many), many
for bad in ((), ("down >= 5 %",) * 2, both + both[:1], ("instructions down >= 2 %", "p99 up")):
    raises(ValueError, lambda bad=bad: perfh.ab(slow, quick, 3, rule=bad), "rule")
raises(ZeroDivisionError, lambda: perfh.bench(lambda: 1 // 0, counters=True))
print("counts passed:", c)

# PERF_COUNTERS=1: scopes count, and the diagnosis has what they counted.
steps = """
import perfh
for i in range(20):
    with perfh.scope("step"):
        pass
print(perfh.report_text("json"))
print("#", perfh.report_text("diagnosis"))
assert "PERF_COUNTERS is set, but" not in perfh.report_text(), perfh.report_text()
"""
for asked in ("1", "0"):
    out = subprocess.run([sys.executable, "-c", steps], env=dict(os.environ, PERF_COUNTERS=asked), stdout=subprocess.PIPE,
                         universal_newlines=True, check=True).stdout
    report, _, lines = out.partition("\n# ")
    report = json.loads(report)
    told = [one for one in report.get("counters", ()) if one["path"] == ["step"]]
    if asked == "0":
        assert "counters" not in report and "counted" not in report["diagnosis"] and "counted: " not in lines, out
    elif os.environ.get("SHIM"):
        assert told[0]["calls"] == 20 and told[0]["ipc"] == 0.5 and told[0]["llc_misses"] == 50, told
        counted = report["diagnosis"]["counted"]
        assert counted["ipc"] == 0.5 and counted["cache misses"]["in"] == "step", counted
        assert "\ncounted: IPC 0.50; of the cycles about 88 % cache misses (most in step: IPC 0.50, 50.0 a 1,000" in lines, lines
    else:
        assert told or "counters_missing" in report, report
