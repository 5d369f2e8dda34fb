#!/usr/bin/env python3
"""Runs examples/mpi/ranks with 4 ranks: on this machine, where only what every load allows is
asked, and on simulated machines (sim.h) whose numbers are known.

    ranks.py REAL SIMULATED         the two programs
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pftrace                          # noqa: E402

RANKS, STEPS, SKEW = 4, 20, 1.7e9
failed = passed = 0


def check(condition, what):
    global failed, passed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print(f"FAILED: {what}")


def mpirun(program, *arguments):
    env = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_plm_rsh_agent="sh",
               OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_btl="self,vader")
    done = subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", str(RANKS), program,
                           *arguments], env=env, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def phase(out, name):
    """calls, p50, p95, p99, max (us), slowest rank, its total (ms), imbalance (%)"""
    m = re.search(rf"^  {name} +(\d+) calls  p50 +([\d.]+)  p95 +([\d.]+)  p99 +([\d.]+)  max +([\d.]+) us  "
                  r"slowest: rank (\d+), ([\d.]+) ms, ([+-][\d.]+) %$", out, flags=re.M)
    check(m, f"no line for {name}:\n{out}")
    return [float(x) for x in m.groups()] if m else [0.0] * 8


def clocks(out):
    found = {int(r): (int(o), int(b)) for r, o, b in
             re.findall(r"^  clock of rank (\d+): ([+-]\d+) ns, within (\d+) ns$", out, flags=re.M)}
    check(sorted(found) == list(range(1, RANKS)), f"clocks of {sorted(found)}")
    return {0: (0, 0), **found}


def trace(path, out):
    """{rank: {name: [(begin, end) in ns]}} of the merged file, and that it says what was printed."""
    found = pftrace.processes(path)
    names = {pid: name for pid, (name, _) in found.items()}
    check(sorted(names.values()) == [f"rank {i}" for i in range(RANKS)], f"processes {names}")
    labels = {name: "".join(labels) for name, labels in found.values()}
    for rank, (offset, bound) in clocks(out).items():
        check(not rank or labels[f"rank {rank}"] == f"clock moved by {offset} ns, within {bound} ns", labels)
    times = {i: {} for i in range(RANKS)}
    for pid, _, name, begin, end in pftrace.slices(path):
        times[int(names[pid].split()[1])].setdefault(name, []).append((begin, end))
    for rank, scopes in times.items():
        for name, list_ in scopes.items():
            list_.sort()
        check({k: len(v) for k, v in scopes.items()} == {"compute": STEPS, "wait": STEPS}, f"{rank}: scopes")
    return times


def barriers(times, out, slack):
    """Nobody leaves a barrier before everybody is in it, as far as the clocks are known."""
    bound = {r: b for r, (_, b) in clocks(out).items()}
    for step in range(STEPS):
        for a in range(RANKS):
            for b in range(RANKS):
                left, entered = times[a]["wait"][step][1], times[b]["wait"][step][0]
                check(left - entered >= -(bound[a] + bound[b] + slack), f"step {step}: rank {a} left {entered - left} "
                      f"ns before rank {b} entered, bounds {bound[a]} and {bound[b]}")


def both(out, path):
    check(re.search(rf"^{RANKS} ranks, {RANKS} in the sum, \d+ bytes each in one reduction$", out, flags=re.M), out)
    check(f"  messages {RANKS * STEPS}, p50 65 KB, largest {64 + RANKS - 1} KB" in out, out)
    check(f"{path}: ok" in out, out)
    check(not [f for f in os.listdir(os.path.dirname(path)) if ".rank" in f], "parts are left")


def real(program, folder):
    path = os.path.join(folder, "real.pftrace")
    status, out, err = mpirun(program, path)
    check(status == 0, f"status {status}\n{out}\n{err}")
    print(out)
    both(out, path)
    calls, p50, p95, p99, most, slowest, total, _ = phase(out, "compute")
    check(calls == RANKS * STEPS and 2000 <= p50 <= p95 <= p99 <= most, "order")
    check(most >= 3000 and p99 >= 3000 * 0.98 and total >= 40, "at least what was slept")
    check(0 <= slowest < RANKS, slowest)
    for rank, (offset, bound) in clocks(out).items():
        check(abs(offset) <= bound, f"rank {rank} has the same clock, found {offset} +- {bound}")
    # the rate of the counter that scopes use is calibrated by each process: 0.2 % of what it has run
    barriers(trace(path, out), out, 5e6)


def simulated(program, folder):
    path = os.path.join(folder, "simulated.pftrace")
    status, out, err = mpirun(program, path)
    check(status == 0, f"status {status}\n{out}\n{err}")
    print(out)
    both(out, path)
    near = lambda x, want, share: abs(x / want - 1) <= share        # noqa: E731
    calls, p50, p95, p99, most, slowest, total, over = phase(out, "compute")
    check(calls == RANKS * STEPS and near(p50, 2000, 0.02) and near(p95, 3000, 0.02)
          and near(p99, 3000, 0.02) and near(most, 3000.2, 1e-4), "compute: percentiles")
    check(slowest == 3 and near(total, 60.004, 1e-3) and near(over, 33.3, 0.01), "compute: slowest rank")
    calls, p50, _, _, most, slowest, total, over = phase(out, "wait")
    check(calls == RANKS * STEPS and near(p50, 1000, 0.02) and slowest < 3 and near(total, 20, 0.02)
          and near(over, 33.3, 0.05), "wait")
    for rank, (offset, bound) in clocks(out).items():
        for at in (0, 61e6):                            # the truth at the start, and at the end
            true = -(SKEW * rank + 20e-6 * rank * (1e6 + at))
            check(abs(offset - true) <= bound, f"rank {rank}: {offset} +- {bound}, true {true}")
        check(bound < 8000, f"rank {rank}: a bound of {bound} ns says nothing")
    times = trace(path, out)
    barriers(times, out, 100)
    for step in range(STEPS):
        ends = [times[r]["wait"][step][1] for r in range(RANKS)]
        check(max(ends) - min(ends) < 16000, f"step {step} ends {max(ends) - min(ends)} ns apart")

    status, out, err = mpirun(program, os.path.join(folder, "no", "such", "folder.pftrace"))
    check(status != 0 and "folder.pftrace: ok" not in out and "no/such" in out, f"no folder: {status} {out} {err}")


with tempfile.TemporaryDirectory() as work:
    real(os.path.abspath(sys.argv[1]), work)
    simulated(os.path.abspath(sys.argv[2]), work)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
