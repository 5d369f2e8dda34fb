"""What worker processes have recorded, in the report of their parent.  Plain Python.

A worker of multiprocessing, concurrent.futures, a DataLoader or joblib writes its scopes to a folder
of its parent when it ends.  The parent adds them up when it reports: calls and times exactly,
percentiles from the histograms.  A worker that a signal ended left a mark that it began, and is
counted as lost.  No signal is caught: Python runs a handler only between two of its own steps, and a
worker that waits in the system would then outlive its SIGTERM.  Processes made by os.fork() alone
are counted by the core, and named in a note.
"""
import atexit
import json
import os
import shutil
import sys
import tempfile
import threading
from typing import Any, Dict

_VARIABLE = "PERFH_WORKERS"             # the folder, for children of whatever kind
_STATE: Dict[str, Any] = {"folder": None, "owner": 0, "began": None, "merged": {}, "workers": 0, "lost": 0}
_LOCK = threading.Lock()
_MOST_FILE = 64 << 20                   # bytes of a worker's file that are read


class _Anchor:
    """What multiprocessing keeps a weak reference to."""


_ANCHOR = _Anchor()


def _core():
    return sys.modules["perfh._python"]


# ---- in a worker ---------------------------------------------------------------------------------

def _util():
    """multiprocessing.util, where it is in use already; None: this process knows no workers."""
    return sys.modules.get("multiprocessing.util")


def _is_worker():
    process = sys.modules.get("multiprocessing.process")
    return bool(process) and process.current_process().name != "MainProcess"


def _path(end):
    return os.path.join(_STATE["folder"], f"{os.getpid()}.{end}")


def _leave():
    """Writes what was recorded, and forgets it: the parent has it from here on."""
    if _STATE["began"] != os.getpid():
        return
    _STATE["began"] = None
    try:
        _core().results_save(_path("part"))
        os.replace(_path("part"), _path("json"))
        _core().reset()
    except Exception:                   # the folder is gone: the parent has ended
        pass


def _begin(_=None):
    """A worker begins: it says so, and will write when it ends."""
    util = _util()
    folder = os.environ.get(_VARIABLE)
    if not util or not folder or _STATE["began"] == os.getpid() or _STATE["owner"] == os.getpid():
        return
    _STATE["folder"] = folder
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(_path("began"), "x"):
            pass
    except OSError:
        return
    _STATE["began"] = os.getpid()
    util.Finalize(None, _leave, exitpriority=-1000)


def _after_fork():
    """In the child of any fork.  multiprocessing clears what is to be done at the end, and calls
    back only after that."""
    _STATE.update(merged={}, workers=0, lost=0, began=None)
    util = _util()
    if util:
        util.register_after_fork(_ANCHOR, _begin)


def _begin_here():
    """At import: a spawned worker, or the process that will have workers."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
    if _is_worker() and os.environ.get(_VARIABLE):
        _begin()
        util = _util()
        if util:                        # cleared between here and the worker's function
            util.register_after_fork(_ANCHOR, lambda _: _again())
        return
    folder = os.path.join(tempfile.gettempdir(), f"perfh-{os.getpid()}-{os.urandom(6).hex()}")
    os.environ[_VARIABLE] = folder
    _STATE.update(folder=folder, owner=os.getpid())
    atexit.register(_clean)


def _again():
    util = _util()
    if _STATE["began"] == os.getpid():
        util.Finalize(None, _leave, exitpriority=-1000)
    else:
        _begin()


# ---- in the parent -------------------------------------------------------------------------------

def _clean():
    if _STATE["owner"] == os.getpid():
        shutil.rmtree(_STATE["folder"], ignore_errors=True)


def _alive(pid):
    """Is that process still there?  One that has ended but was not waited for is not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return f.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except FileNotFoundError:
        return False if os.path.exists("/proc/self/stat") else _answers(pid)
    except OSError:
        return _answers(pid)


def _answers(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _take(path):
    """Adds a worker's file to what is known."""
    if os.path.getsize(path) > _MOST_FILE:
        raise ValueError("too large")
    with open(path, encoding="utf-8", errors="replace") as f:
        found = json.load(f)
    for scope in found.get("scopes", ()):
        key = (str(scope["name"]), str(scope["kind"]))
        row = _STATE["merged"].setdefault(key, {"calls": 0, "total": 0.0, "self": 0.0, "min": None,
                                                "max": 0.0, "buckets": {}})
        calls = int(scope["calls"])
        if not calls:
            continue
        row["calls"] += calls
        row["total"] += float(scope.get("total", 0.0))
        row["self"] += float(scope.get("self", 0.0))
        row["max"] = max(row["max"], float(scope.get("max", 0.0)))
        least = float(scope.get("min", 0.0))
        row["min"] = least if row["min"] is None else min(row["min"], least)
        for middle, n in scope.get("buckets", ()):
            row["buckets"][middle] = row["buckets"].get(middle, 0) + n


def _gather():
    """Reads what ended workers have left.  Any thread."""
    folder = _STATE["folder"]
    with _LOCK:
        if _STATE["owner"] != os.getpid() or not folder or not os.path.isdir(folder):
            return
        for name in sorted(os.listdir(folder)):
            pid, _, end = name.partition(".")
            path = os.path.join(folder, name)
            if end == "json":
                try:
                    _take(path)
                    _STATE["workers"] += 1
                except (OSError, ValueError, KeyError, TypeError):
                    _STATE["lost"] += 1
                for gone in (path, os.path.join(folder, f"{pid}.began")):
                    if os.path.exists(gone):
                        os.unlink(gone)
            elif end == "began" and pid.isdigit() and not _alive(int(pid)) and \
                    not os.path.exists(os.path.join(folder, f"{pid}.json")):
                _STATE["lost"] += 1
                os.unlink(path)


def forget():
    """What perfh.reset() does to what workers have left."""
    _gather()
    _STATE.update(merged={}, workers=0, lost=0)


def _quantile(row, q):
    """Nearest rank, as in the report; the ends are exact."""
    rank, seen = max(1, -int(-q * row["calls"] // 1)), 0
    for middle in sorted(row["buckets"]):
        seen += row["buckets"][middle]
        if seen >= rank:
            return min(max(middle, row["min"]), row["max"])
    return row["max"]


def _figures(key, row):
    least = row["min"] or 0.0
    return {"name": key[0], "kind": key[1], "calls": row["calls"], "total_ns": row["total"],
            "self_ns": row["self"], "mean_ns": row["total"] / row["calls"], "min_ns": least,
            "p50_ns": _quantile(row, .5), "p95_ns": _quantile(row, .95), "p99_ns": _quantile(row, .99),
            "max_ns": row["max"]}


def _all():
    _gather()
    with _LOCK:
        merged = [_figures(key, row) for key, row in _STATE["merged"].items() if row["calls"]]
    return sorted(merged, key=lambda r: (-r["self_ns"], r["name"]))


def rows(report, kind):
    """The scopes of a JSON report and those of workers, each as a `kind`."""
    own = json.loads(report)["scopes"]
    fields = [name for name in kind._fields if name != "where"]
    found = [kind(*[row[name] for name in fields]) for row in own]
    return found + [kind(*[row[name] for name in fields], "worker") for row in _all()]


def _table(found):
    from perfh._results import ns_text

    width = min(60, max([len(row["name"]) for row in found] + [20]))
    lines = [f"{'scope of workers':<{width}}  {'calls':>9}" +
             "".join(f"{title:>10}" for title in ("total", "self", "mean", "p50", "p95", "p99", "max"))]
    for row in found:
        name = "".join(c if c.isprintable() else "?" for c in row["name"])[:width]
        cells = ("total_ns", "self_ns", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")
        timed = row["kind"] in ("scope", "wait", "async")
        lines.append(f"{name:<{width}}  {row['calls']:>9}" +
                     "".join(f"{ns_text(row[c]) if timed else '':>10}" for c in cells))
    return "\n".join(lines) + "\n"


def _summary():
    workers, lost = _STATE["workers"], _STATE["lost"]
    text = f"workers: {workers} process{'es' if workers != 1 else ''} came back"
    if lost:
        text += (f"; {lost} ended by a signal, what they recorded is lost (a Pool: pool.close() and "
                 "pool.join() before its block ends)")
    return text


def with_workers(report, view):
    """A report of this process with what its workers recorded behind it."""
    found = _all()
    if not found and not _STATE["lost"]:
        return report
    if view == "json":
        end = report.rstrip().rindex("}")
        more = {"processes": _STATE["workers"], "lost": _STATE["lost"], "scopes": found}
        return report[:end] + ',\n"workers":' + json.dumps(more) + "}\n"
    if view == "csv":
        cells = ("calls", "total_ns", "self_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns",
                 "max_ns")
        return report + "".join(
            '"{}",worker {},{},0.000\n'.format(row["name"].replace('"', '""'), row["kind"],
                                               ",".join(str(row[cells[0]]) if c == cells[0] else
                                                        f"{row[c]:.3f}" for c in cells))
            for row in found)
    return report + ("" if report.endswith("\n\n") else "\n") + _summary() + "\n" + (
        _table(found) if found else "")


_begin_here()
