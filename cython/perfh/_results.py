"""What perfh.bench, perfh.ab and perfh.compare return.  Plain Python: no measurement happens here."""
import html as _html
import math as _math
from dataclasses import dataclass
from typing import NamedTuple, Optional


class Interval(NamedTuple):
    """An estimate with the bounds of its confidence interval; an end that too few values leave
    unbounded is 0 or infinite."""
    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class Summary:
    """One sample of values, in their own unit (times of perfh.bench and perfh.ab: ns a call).
    count 0: nothing was measured, and every other number is 0."""
    count: int
    min: float
    max: float
    mean: float
    std: float
    p50: float
    p95: float
    p99: float
    p50_low: float                      # 95 % intervals; an infinite end: too few values to bound it
    p50_high: float
    p95_low: float
    p95_high: float
    p99_low: float
    p99_high: float


class Row(NamedTuple):
    """One scope, wait, span, counter or instant: what perfh.scopes() lists.  Times in ns; of a counter
    its values, NaN for one that is infinite.  where: "" for this process, "worker" for what workers
    recorded."""
    name: str
    kind: str
    calls: int
    total_ns: float
    self_ns: float
    mean_ns: float
    min_ns: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    max_ns: float
    where: str = ""


class Diagnosis(NamedTuple):
    """What perfh.diagnose() has found; str() of it are five lines."""
    bound: str                          # "cpu", "waiting for data", "cannot tell", ...
    unit: str                           # the outermost scope that repeats
    calls: int
    mean_ns: float
    where: str                          # path of scopes
    where_share: float                  # of the unit's time
    best: float                         # so many times as fast without it
    advice: str
    verify: str
    text: str

    def __str__(self):
        return self.text


class BaselineEntry(NamedTuple):
    """One entry of a Baseline.  before, now: ns (of an A/B loop a ratio); 0: none."""
    name: str
    decision: str
    runs: int                           # saved runs that it was compared with; 0: it is new
    missing: bool                       # saved, but not measured in this run
    before: float
    now: float
    text: str


class Baseline(NamedTuple):
    """What perfh.baseline_check() says.  True in a condition only when it is ACCEPT."""
    decision: str
    runs: int                           # in the file
    other_runs: int                     # of another machine or build: not used
    entries: list

    def __bool__(self):
        return self.decision == "ACCEPT"

    def __str__(self):
        lines = [f"{self.decision}: {len(self.entries)} entries against {self.runs} runs"]
        lines += [f"  {e.name}: {e.text}" for e in self.entries]
        return "\n".join(lines)


def pause_times(pause, n):
    """Pauses n times: perfh.bench asks what that costs as Python runs it."""
    for _ in range(n):
        with pause():
            pass


def ns_text(ns):
    """Nanoseconds for people: three digits, ns to s."""
    if not _math.isfinite(ns):
        return str(ns)
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(ns) >= factor:
            ns /= factor
            break
    else:
        unit = "ns"
    digits = 0 if abs(ns) >= 100 else 1 if abs(ns) >= 10 else 2
    return f"{ns:.{digits}f} {unit}"


def _table(head, rows):
    cell = '<{0} style="text-align:{1};padding:2px 10px">{2}</{0}>'
    lines = ["".join(cell.format(tag, "left" if i == 0 else "right", _html.escape(str(text)))
                     for i, text in enumerate(line))
             for tag, line in [("th", head), *(("td", row) for row in rows)]]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _time_row(name, time, first_ns):
    def marked(value, high):            # as in the report: "~" before what cannot be bounded
        return ("" if _math.isfinite(high) else "~") + ns_text(value)

    return (name, ns_text(time.p50), f"[{ns_text(time.p50_low)}, {ns_text(time.p50_high)}]",
            marked(time.p95, time.p95_high), marked(time.p99, time.p99_high), ns_text(first_ns),
            time.count)


_TIME_HEAD = ("", "median", "95 % interval", "p95", "p99", "first", "slices")


class Counts(NamedTuple):
    """What the processor counts in one call, the call from Python included; None: it is missing."""
    instructions: Optional[float]
    cycles: Optional[float]
    branches: Optional[float]
    branch_misses: Optional[float]
    note: str                           # "" or what is missing, and why

    @property
    def ipc(self):
        """Instructions in a cycle."""
        return self.instructions / self.cycles if self.instructions and self.cycles else None

    def __str__(self):
        said = [f"{value:.4g} {name.replace('_', ' ')}" for name, value in zip(self._fields, self[:4])
                if value is not None]
        if self.ipc:
            said.append(f"IPC {self.ipc:.2f}")
        return "; ".join(part for part in (", ".join(said), self.note) if part)


class Result:
    """How long one call takes: what perfh.bench returns.

    name        as given, or the function's
    time        Summary in ns a call, of slices of many calls; the call from Python is in it
    first_ns    the first call alone
    iterations  calls in all, warm-up included
    warnings    a tuple of sentences to read the numbers with; docs/troubleshooting.md has each
    text        the line of the report
    counts      Counts of one call with counters=True, else None                                """
    __slots__ = ("name", "time", "first_ns", "iterations", "warnings", "text", "counts")

    def __init__(self, name, time, first_ns, iterations, warnings, text, counts=None):
        self.name, self.time, self.first_ns, self.counts = name, time, first_ns, counts
        self.iterations, self.warnings, self.text = iterations, warnings, text

    def __str__(self):
        return self.text

    def __repr__(self):
        return (f"<perfh.Result {self.name}: {ns_text(self.time.p50)} "
                f"[{ns_text(self.time.p50_low)}, {ns_text(self.time.p50_high)}]>")

    def _repr_html_(self):
        notes = "".join(f"<br>note: {_html.escape(text)}" for text in self.warnings
                        if not text.startswith("too few values"))       # the "~" says that
        return _table(_TIME_HEAD, [_time_row(self.name, self.time, self.first_ns)]) + notes


class Rows(list):
    """What perfh.scopes() returns: a list, and in a notebook a table."""

    def _repr_html_(self):
        head = ("", "kind", "calls", "total", "self", "mean", "p50", "p95", "p99", "max")
        return _table(head, [(r.name, " ".join(filter(None, (r.where, r.kind))), r.calls,
                              *(ns_text(x) if r.kind != "counter" else f"{x:g}" for x in (
                                  r.total_ns, r.self_ns, r.mean_ns, r.p50_ns, r.p95_ns, r.p99_ns, r.max_ns)))
                             for r in self])


_COLOURS = {"ACCEPT": "#1a7f37", "REJECT": "#cf222e", "INCONCLUSIVE": "#9a6700"}


class Verdict:
    """The answer of perfh.ab and perfh.compare.  True in a condition only when it is ACCEPT.

    decision    "ACCEPT", "REJECT" or "INCONCLUSIVE"; reason: one sentence why
    rule        what was asked, as given; threshold: the same as a ratio candidate / baseline
    ratio       Interval of candidate / baseline; speedup: of baseline / candidate
    pairs       pairs it rests on; pairs_needed: INCONCLUSIVE: how many more would probably settle
                it, infinite when no number would; else 0
    baseline, candidate         Summary of each: ns a call, of compare in the unit of its values
    first_ns    the first call of each, alone; None for compare
    warnings    a tuple of sentences to read the numbers with; docs/troubleshooting.md has each
    text        one sentence with all of it
    parts       of two rules the Verdict on each, in the order given; the whole is the worse one: its
                numbers are that one's.  Of one rule ()
    counts      (Counts of the baseline, of the candidate) if they were counted, else None      """
    __slots__ = ("name", "decision", "reason", "rule", "threshold", "confidence", "ratio", "speedup",
                 "pairs", "pairs_needed", "baseline", "candidate", "first_ns", "warnings", "text",
                 "parts", "counts")

    def __init__(self, parts=(), counts=None, **fields):
        for name in self.__slots__[:-2]:
            setattr(self, name, fields[name])
        self.parts, self.counts = parts, counts
        if parts:
            self.text = f"{self.decision} by two rules: " + "; and ".join(part.text for part in parts)

    @property
    def accepted(self):
        return self.decision == "ACCEPT"

    @property
    def rejected(self):
        return self.decision == "REJECT"

    def __bool__(self):
        return self.accepted

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<perfh.Verdict {self.name}: {self.text}>"

    def _picture(self):
        """The interval of the speed-up on a line with the threshold, as SVG; "" when unbounded."""
        low, mid, high = self.speedup
        asked = 1 / self.threshold if self.threshold > 0 else 0
        if not (0 < low and _math.isfinite(high) and 0 < asked < _math.inf):
            return ""
        ends = [_math.log(x) for x in (low, mid, high, asked, 1.0)]
        first, span = min(ends), (max(ends) - min(ends)) or 1.0
        a, m, b, t, one = (20 + 260 * (e - first) / span for e in ends)
        colour = _COLOURS[self.decision]
        return (f'<svg width="300" height="34" role="img" aria-label="speed-up {mid:.3g}">'
                f'<line x1="{one:.1f}" y1="4" x2="{one:.1f}" y2="20" stroke="#888"/>'
                f'<line x1="{t:.1f}" y1="4" x2="{t:.1f}" y2="20" stroke="#888" stroke-dasharray="3"/>'
                f'<line x1="{a:.1f}" y1="12" x2="{max(b, a + 1):.1f}" y2="12" stroke="{colour}" '
                f'stroke-width="3"/><circle cx="{m:.1f}" cy="12" r="4" fill="{colour}"/>'
                f'<text x="{one:.1f}" y="32" font-size="10" text-anchor="middle" fill="#888">1</text>'
                f'<text x="{t:.1f}" y="32" font-size="10" text-anchor="middle" fill="#888">'
                f'{asked:.3g}</text></svg>')

    def _repr_html_(self):
        first = self.first_ns or (0.0, 0.0)
        line = (f'<b style="color:{_COLOURS[self.decision]}">{self.decision}</b>'
                f'{_html.escape(self.text[len(self.decision):])}')
        table = "" if self.first_ns is None else _table(_TIME_HEAD, [
            _time_row("baseline", self.baseline, first[0]),
            _time_row("candidate", self.candidate, first[1])])
        return f"<div>{line}</div>{self._picture()}{table}"


class Results(list):
    """What perfh.sweep returns: a list of Results; a line for each, in a notebook a table."""

    def __str__(self):
        return "\n".join(f"{result.name}: {result.text}" for result in self)

    def _repr_html_(self):
        return _table(_TIME_HEAD, [_time_row(r.name, r.time, r.first_ns) for r in self])


class RaceEntry(NamedTuple):
    """One function of a Race."""
    name: str
    time: Summary                       # ns a call
    first_ns: float                     # the first call alone
    verdict: object                     # Verdict against the first function; None: it is the first
    behind: float                       # typical ratio to the best one, 1 for itself; may be below 1 within noise
    within_noise: bool                  # not shown to be slower than the best one
    counts: object = None               # Counts of a call, if they were counted

    def _place(self, is_best):
        if is_best:
            return "the best"
        return "within noise of the best" if self.within_noise else f"{self.behind:.3g} x the best"


class Race:
    """Which of many is fastest: what perfh.race returns.

    name, entries               entries: a RaceEntry for each function, in the order given
    best                        name of the one with the smallest median; None: nothing was measured
    rounds                      how often all of them took a turn
    warnings                    a tuple of sentences; docs/troubleshooting.md has each
    text                        a line for each, the best first                                 """
    __slots__ = ("name", "entries", "best", "rounds", "warnings", "text")

    def __init__(self, name, entries, best, rounds, warnings):
        self.name, self.entries, self.rounds, self.warnings = name, entries, rounds, warnings
        self.best = entries[best].name if 0 <= best < len(entries) else None
        self.text = self._text()

    def _ranked(self):
        return sorted(self.entries, key=lambda e: (e.name != self.best, e.time.p50))

    def _text(self):
        width = max((len(e.name) for e in self.entries), default=0)
        lines = [f"{self.name}: {self.rounds} rounds, the best is {self.best}"]
        for e in self._ranked():
            says = "this is the baseline" if e.verdict is None else e.verdict.text
            lines.append(f"  {e.name:<{width}}  {ns_text(e.time.p50):>8}  "
                         f"{e._place(e.name == self.best)}; {says}")
            if e.counts is not None:
                lines.append(f"      {e.counts}")
        return "\n".join(lines + [f"  note: {text}" for text in self.warnings])

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<perfh.Race {self.name}: {self.best}>"

    def _repr_html_(self):
        notes = "".join(f"<br>note: {_html.escape(text)}" for text in self.warnings)
        return _table((*_TIME_HEAD, "place", "against the first"), [
            (*_time_row(e.name, e.time, e.first_ns), e._place(e.name == self.best),
             "" if e.verdict is None else e.verdict.decision) for e in self._ranked()]) + notes
