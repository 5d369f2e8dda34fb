#!/usr/bin/env python3
"""How often perf-ab is wrong, in worlds whose truth is known.

    calibration.py TOOL [SEED [TRIALS]]

Each world is a machine: a factor on every time, as it passes.  A pair takes two neighbouring slots
of it, a coin says which side gets which.  Every error rate must be within its bar plus three
standard errors (docs/statistics-evidence.md).  With 200 cells one of them is unlucky now and then:
such a cell is asked again, with four times as many fresh trials, and then counts.
"""
import math
import random
import subprocess
import sys

from tool import Checks

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
TRIALS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
THRESHOLD = 1 / 1.3


# ---- worlds: n factors in time order -----------------------------------------------------------

def quiet(r, n):
    return [math.exp(r.gauss(0, 0.05)) for _ in range(n)]


def sluggish(r, n):
    """Neighbours are alike: an autoregressive log factor, 0.9."""
    x, out = r.gauss(0, 0.1), []
    for _ in range(n):
        x = 0.9 * x + r.gauss(0, 0.1 * math.sqrt(1 - 0.81))
        out.append(math.exp(x + r.gauss(0, 0.02)))
    return out


def warming(r, n):
    return [math.exp(0.4 * i / n + r.gauss(0, 0.03)) for i in range(n)]


def stepping(r, n):
    """The clock changes between two frequencies."""
    fast, out = r.random() < 0.5, []
    for _ in range(n):
        fast ^= r.random() < 0.03
        out.append((1.0 if fast else 1.45) * math.exp(r.gauss(0, 0.02)))
    return out


def bursty(r, n):
    """A neighbour takes the processor for a while."""
    left, out = 0, []
    for _ in range(n):
        left = left - 1 if left else (r.randint(3, 20) if r.random() < 0.02 else 0)
        out.append((3.0 if left else 1.0) * math.exp(r.gauss(0, 0.03)))
    return out


def rhythmic(r, n):
    """Every second slot is slower: fatal for strict alternation."""
    phase = r.randint(0, 1)
    return [(1.2 if (i + phase) % 2 else 1.0) * math.exp(r.gauss(0, 0.02)) for i in range(n)]


def ticking(r, n):
    """A clock of 1 % steps."""
    return [round(100 * math.exp(r.gauss(0, 0.03))) / 100 for _ in range(n)]


def spiky(r, n):
    """Rare long interruptions of any length."""
    return [math.exp(r.gauss(0, 0.03)) * (1 + r.paretovariate(1.2) if r.random() < 0.05 else 1) for _ in range(n)]


WORLDS = [quiet, sluggish, warming, stepping, bursty, rhythmic, ticking, spiky]


def pairs(r, world, n, ratio):
    slots = world(r, 2 * n)
    for i in range(0, 2 * n, 2):
        first = r.randint(0, 1)
        a, b = (slots[i + 1], slots[i]) if first else (slots[i], slots[i + 1])
        yield first, 1000 * a, 1000 * b * ratio


# ---- asking ------------------------------------------------------------------------------------

class Cells(Checks):
    def ask(self, mode, lines):
        done = subprocess.run([self.tool, mode], input="\n".join(lines) + "\n", capture_output=True,
                              text=True, timeout=300)
        self.check(done.returncode == 0, f"{mode}: {done.stderr}")
        return [line.split() for line in done.stdout.splitlines()]

    def trials(self, mode, world, n, ratio, threshold, metric="pair", trials=TRIALS):
        r = random.Random(f"{SEED} {mode} {world.__name__} {n} {ratio} {metric} {trials}")
        lines = []
        for t in range(trials):
            lines.append(f"T {t} {n} {metric} {threshold!r}")
            lines += [f"{first} {a!r} {b!r}" for first, a, b in pairs(r, world, n, ratio)]
        return self.ask(mode, lines), lines

    def at_most(self, what, bar, trials, wrong):
        """wrong(trials): how often each of some errors occurred; none more often than the bar."""
        for attempt in (trials, 4 * trials):
            limit = bar + 3 * math.sqrt(bar * (1 - bar) / attempt)
            counts = wrong(attempt)
            if max(counts) <= limit * attempt:
                break
            print(f"{what}: {counts} of {attempt}" + (", asked again" if attempt == trials else ""))
        self.check(max(counts) <= limit * attempt, f"{what}: {counts} of {attempt}, above {limit:.3f}")

    def at_least(self, what, count, n, bar):
        limit = bar - 3 * math.sqrt(bar * (1 - bar) / n)
        self.check(count / n >= limit, f"{what}: {count} of {n} is below {limit:.3f}")


def said(answers, decision):
    return sum(a[1] == decision for a in answers)


def boundary(c, world):
    """The truth is the threshold: either answer is false."""
    def wrong(mode, n, trials):
        answers, _ = c.trials(mode, world, n, THRESHOLD, THRESHOLD, trials=trials)
        return [said(answers, "ACCEPT"), said(answers, "REJECT")]
    for n in (10, 30, 100):
        c.at_most(f"{world.__name__}, {n} pairs at the boundary", 0.025, TRIALS,
                  lambda trials: wrong("--batch", n, trials))
    c.at_most(f"{world.__name__}, pair by pair at the boundary", 0.025, TRIALS // 2,
              lambda trials: wrong("--seq", 300, trials))


def equal_code(c, world):
    def wrong(metric, n, trials):
        answers, _ = c.trials("--batch", world, n, 1, 1, metric, trials)
        return [trials - said(answers, "INCONCLUSIVE")]
    for metric, n in (("pair", 30), ("p50", 100), ("mean", 100), ("p95", 200)):
        c.at_most(f"{world.__name__}, A/A, {metric}", 0.05, TRIALS // 3 if n > 100 else TRIALS,
                  lambda trials: wrong(metric, n, trials))


def sequential(c, world):
    """True effects are found, quickly; nothing that comes later changes an answer."""
    for ratio, right, most in ((THRESHOLD * 0.95, "ACCEPT", 40), (THRESHOLD * 0.78, "ACCEPT", 12),
                               (1.0, "REJECT", 12)):
        answers, lines = c.trials("--seq", world, 500, ratio, THRESHOLD, trials=TRIALS // 10)
        used = [int(a[2]) for a in answers]
        if world in (quiet, warming, ticking):      # elsewhere the noise exceeds the effect
            c.at_least(f"{world.__name__}, truth {ratio:.3f}", said(answers, right), len(answers), 0.97)
            c.check(sum(used) / len(used) <= most, f"{world.__name__}: {sum(used) / len(used):.1f} pairs")
        changed, trial, k = [], -1, 0
        for line in lines:
            if line[0] == "T":
                trial, k = trial + 1, 0
            else:
                k += 1
                if k > used[trial]:
                    line = "0 1 9999"
            changed.append(line)
        c.check(c.ask("--seq", changed) == answers, f"{world.__name__}: later data changed an answer")


def power(c):
    answers, _ = c.trials("--batch", quiet, 30, 0.95, 1)
    c.at_least("5 % faster, 30 quiet pairs", said(answers, "ACCEPT"), len(answers), 0.9)


POPULATIONS = {
    "lognormal": (lambda r: math.exp(r.gauss(0, 0.3)), lambda z: math.exp(0.3 * z)),
    "exponential": (lambda r: 1 + r.expovariate(1), lambda z: 1 - math.log(0.5 * math.erfc(z / math.sqrt(2)))),
    "uniform": (lambda r: 1 + r.random(), lambda z: 1 + 0.5 * math.erfc(-z / math.sqrt(2))),
}
NORMAL = {"p50": 0.0, "p95": 1.6448536269514722, "p99": 2.3263478740408408}


def intervals(c):
    """Does a 95 % interval hold the truth in 95 %?"""
    def sample(name, statistic, n, trials):
        draw, quantile = POPULATIONS[name]
        r, truth, lines = random.Random(f"{SEED} {name} {statistic} {n} {trials}"), quantile(NORMAL[statistic]), []
        for t in range(trials):
            lines.append(f"V {t} {n} {statistic}")
            lines += [repr(draw(r)) for _ in range(n)]
        return [sum(not float(low) <= truth <= float(high) for _, _, low, high in c.ask("--sample", lines))]

    def ratio(name, metric, n, trials):
        draw, _ = POPULATIONS[name]
        r, lines = random.Random(f"{SEED} {name} ratio {metric} {n} {trials}"), []
        for t in range(trials):
            lines.append(f"T {t} {n} {metric} 0.8")
            lines += [f"0 {draw(r)!r} {0.8 * draw(r)!r}" for _ in range(n)]
        return [sum(not float(a[3]) <= 0.8 <= float(a[4]) for a in c.ask("--batch", lines))]

    for name in POPULATIONS:
        for statistic, n in (("p50", 10), ("p50", 50), ("p95", 100), ("p99", 400)):
            c.at_most(f"{name}, interval of {statistic}, n = {n}", 0.05, TRIALS,
                      lambda trials: sample(name, statistic, n, trials))
        for metric, n in (("p50", 20), ("p50", 100), ("p95", 150), ("mean", 30)):
            c.at_most(f"{name}, interval of the ratio of {metric}, n = {n}", 0.05, TRIALS,
                      lambda trials: ratio(name, metric, n, trials))


def main():
    c = Cells("calibration")
    print(f"seed {SEED}, {TRIALS} trials")
    for world in WORLDS:
        boundary(c, world)
        equal_code(c, world)
        sequential(c, world)
    power(c)
    intervals(c)
    c.finish()


main()
