"""What worker processes have recorded, in the report of their parent.  Plain Python.

A worker of multiprocessing, concurrent.futures, a DataLoader or joblib writes its scopes to a folder
of its parent when it ends.  The parent adds them up when it reports: calls and times exactly,
percentiles from the histograms.  A worker that runs on writes when the parent asks, and every second
(_watch.h); one that SIGTERM ends, as a Pool does, writes before.  Of one that was killed what it
wrote last is taken, and it is counted: as cut off, or as lost where it had written nothing.
Processes made by os.fork() alone are counted by the core, and named in a note.
"""
import atexit
import copy
import functools
import json
import math
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from typing import Any, Dict

_VARIABLE = "PERFH_WORKERS"             # the folder, for children of whatever kind
_STATE: Dict[str, Any] = {"folder": None, "owner": 0, "began": None, "merged": {}, "workers": 0, "lost": 0,
                          "cut": 0, "running": {}, "shown": 0}
_LOCK = threading.Lock()
_MOST_FILE = 64 << 20                   # bytes of a worker's file that are read
_PATIENCE = 0.5                         # seconds for which a report waits for workers that run
_ENDS = ("began", "ask", "last", "json")


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
    """Writes what was recorded: the parent has it from here on."""
    if _STATE["began"] != os.getpid():
        return
    _STATE["began"] = None
    try:
        if not _core().watch_end(True) or not os.path.exists(_path("json")):
            _core().results_save(_path("json"))
    except Exception:                   # the folder is gone: the parent has ended
        pass


def _begin(_=None):
    """A worker begins: it says so, and will write when it ends."""
    util = _util()
    folder = os.environ.get(_VARIABLE)
    if not util or not folder or _STATE["began"] == os.getpid() or _STATE["owner"] == os.getpid():
        return
    _STATE["folder"] = folder
    _STATE["began"] = os.getpid()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _watch()                        # first: who is ended before the next line has lost nothing
        with open(_path("began"), "x") as f:
            f.write("forked" if _STATE["owner"] else "")        # then the core counts its calls
    except OSError:
        _unwatch()
        _STATE["began"] = None
        return
    util.Finalize(None, _leave, exitpriority=-1000)
    _wrap_exit()


def _watch():
    if _STATE["began"] == os.getpid():
        _core().watch_begin(_path("last"), _path("json"), _path("ask"))


def _unwatch():
    """Before a worker forks: its thread would be half a thread in the child."""
    if _STATE["began"] == os.getpid():
        _core().watch_end(False)


def _wrap_exit():
    """os._exit() in a worker writes first: a loader's worker may leave by it."""
    leave = os._exit
    if hasattr(leave, "_perfh"):
        return

    @functools.wraps(leave)
    def exit_(status):
        _leave()
        leave(status)
    exit_._perfh = True
    os._exit = exit_


def _after_fork():
    """In the child of any fork.  multiprocessing clears what is to be done at the end, and calls
    back only after that."""
    _STATE.update(merged={}, workers=0, lost=0, began=None, cut=0, running={}, shown=0)
    if "perfh._python" in sys.modules and hasattr(_core(), "watch_forked"):
        _core().watch_forked()
    util = _util()
    if util:
        util.register_after_fork(_ANCHOR, _begin)


def begin_here():
    """At import: a spawned worker, or the process that will have workers."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_unwatch, after_in_parent=_watch, after_in_child=_after_fork)
    if _is_worker() and os.environ.get(_VARIABLE):
        _begin()
        util = _util()
        if util:                        # cleared between here and the worker's function
            util.register_after_fork(_ANCHOR, lambda _: _again())
        return
    try:
        folder = os.path.join(tempfile.gettempdir(), f"perfh-{os.getpid()}-{os.urandom(6).hex()}")
    except OSError:                     # nothing can be written here: what workers record is not seen
        os.environ.pop(_VARIABLE, None)
        return
    os.environ[_VARIABLE] = folder
    _STATE.update(folder=folder, owner=os.getpid())
    atexit.register(_clean)


def _again():
    util = _util()
    if util and _STATE["began"] == os.getpid():
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


def _read(path):
    """The scopes of a worker's file."""
    if os.path.getsize(path) > _MOST_FILE:
        raise ValueError("too large")
    with open(path, encoding="utf-8", errors="replace") as f:
        return list(json.load(f).get("scopes", ()))


def _number(scope, field):
    """A number of a file or report; NaN where it says null: JSON has no infinite one."""
    value = scope.get(field, 0.0)
    return math.nan if value is None else value


def _further(pick, a, b):
    """The lesser or the larger one; None: there was none before.  What is NaN stays so."""
    if a is None or b != b:
        return b
    return pick(a, b) if a == a else a


def _add(merged, scopes):
    """Adds the scopes of a worker.  Returns their calls."""
    calls_of_all = 0
    for scope in scopes:
        key = (str(scope["name"]), str(scope["kind"]))
        row = merged.setdefault(key, {"calls": 0, "total": 0.0, "self": 0.0, "sum": 0.0, "min": None,
                                      "max": None, "buckets": {}})
        calls = int(scope["calls"])
        calls_of_all += calls
        if not calls:
            continue
        row["calls"] += calls
        row["total"] += float(_number(scope, "total"))
        row["self"] += float(_number(scope, "self"))
        row["sum"] += float(_number(scope, "mean")) * calls
        row["max"] = _further(max, row["max"], float(_number(scope, "max")))
        row["min"] = _further(min, row["min"], float(_number(scope, "min")))
        for middle, n in scope.get("buckets", ()):
            row["buckets"][middle] = row["buckets"].get(middle, 0) + n
    return calls_of_all


def _of(pid, end):
    return os.path.join(_STATE["folder"], f"{pid}.{end}")


def _forget_files(pid):
    for end in _ENDS:
        try:
            os.unlink(_of(pid, end))
        except OSError:
            pass


def _when(pid):
    """What tells one writing of a worker from the next; None: it has not written yet."""
    try:
        found = os.stat(_of(pid, "last"))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _tell(pid, what):
    """Asks a worker that runs.  False: it does not listen."""
    try:
        pipe = os.open(_of(pid, "ask"), os.O_WRONLY | os.O_NONBLOCK)
    except (OSError, AttributeError):
        return False
    try:
        return os.write(pipe, what) == 1
    except OSError:
        return False
    finally:
        os.close(pipe)


def _ask(pids):
    """Has workers that run write now, and waits for them, but not long."""
    before = {pid: _when(pid) for pid in pids}
    waited = {pid for pid in pids if _tell(pid, b"a")}
    until = time.monotonic() + _PATIENCE
    while waited and time.monotonic() < until:
        time.sleep(0.002)
        waited = {pid for pid in waited if _when(pid) == before[pid] and
                  not os.path.exists(_of(pid, "json")) and _alive(int(pid))}


def _is_forked(pid):
    try:
        with open(_of(pid, "began")) as f:
            return f.read(8) == "forked"
    except OSError:
        return False


def _take_ended(pid):
    """What a worker has left that is no more: all, what it wrote last, or nothing."""
    whole = os.path.exists(_of(pid, "json"))
    if not whole and not os.path.exists(_of(pid, "began")):
        _forget_files(pid)              # it had not begun
        return
    try:
        calls = _add(_STATE["merged"], _read(_of(pid, "json" if whole else "last")))
        _STATE["workers" if whole else "cut"] += 1
        if _is_forked(pid):             # the core counts its calls, too
            _STATE["shown"] += calls
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        _STATE["lost"] += 1
    _forget_files(pid)


def _take_running(pid):
    try:
        _STATE["running"][pid] = (_read(_of(pid, "last")), _is_forked(pid))
    except (OSError, ValueError, AttributeError):
        pass


def _gather():
    """Reads what workers have written.  Any thread."""
    folder = _STATE["folder"]
    with _LOCK:
        _STATE["running"] = {}
        if _STATE["owner"] != os.getpid() or not folder or not os.path.isdir(folder):
            return
        pids = sorted({name.partition(".")[0] for name in os.listdir(folder)} - {""})
        pids = [pid for pid in pids if pid.isdigit()]
        running = [pid for pid in pids if not os.path.exists(_of(pid, "json")) and _alive(int(pid))]
        _ask(running)
        for pid in pids:
            if pid in running and not os.path.exists(_of(pid, "json")) and _alive(int(pid)):
                _take_running(pid)
            else:
                _take_ended(pid)


def forget():
    """What perfh.reset() does to what workers have recorded, also in those that run."""
    _gather()
    with _LOCK:
        for pid in _STATE["running"]:
            _tell(pid, b"r")
        _STATE.update(merged={}, workers=0, lost=0, cut=0, running={}, shown=0)


def _quantile(row, q):
    """Nearest rank, as in the report; the ends are exact."""
    rank, seen = max(1, -int(-q * row["calls"] // 1)), 0
    for middle in sorted(row["buckets"]):
        seen += row["buckets"][middle]
        if seen >= rank:
            return min(max(middle, row["min"]), row["max"])
    return row["max"]


def _figures(key, row):
    """As in a report: a counter has its values, and neither times nor percentiles."""
    counts = key[1] == "counter"
    p50, p95, p99 = (0.0 if counts else _quantile(row, q) for q in (.5, .95, .99))
    return {"name": key[0], "kind": key[1], "calls": row["calls"], "total_ns": row["total"],
            "self_ns": row["self"], "mean_ns": row["sum" if counts else "total"] / row["calls"],
            "min_ns": row["min"], "p50_ns": p50, "p95_ns": p95, "p99_ns": p99, "max_ns": row["max"]}


def _all():
    _gather()
    with _LOCK:
        merged = copy.deepcopy(_STATE["merged"])
        for scopes, _ in _STATE["running"].values():
            try:
                _add(merged, scopes)
            except (ValueError, KeyError, TypeError, AttributeError):
                pass                    # no file of ours
    found = [_figures(key, row) for key, row in merged.items() if row["calls"]]
    return sorted(found, key=lambda r: (-r["self_ns"], r["name"]))


def rows(report, kind):
    """The scopes of a JSON report and those of workers, each as a `kind`."""
    own = json.loads(report)["scopes"]
    fields = [name for name in kind._fields if name != "where"]
    found = [kind(*[_number(row, name) for name in fields]) for row in own]
    return found + [kind(*[row[name] for name in fields], "worker") for row in _all()]


def _table(found):
    from perfh._results import ns_text

    width = min(60, max([len(row["name"]) for row in found] + [20]))
    lines = [f"{'scope of workers':<{width}}  {'calls':>9}" +
             "".join(f"{title:>10}" for title in ("total", "self", "mean", "p50", "p95", "p99", "max"))]
    for row in found:
        name = "".join(c if c.isprintable() else "?" for c in row["name"])[:width]
        cells = ("total_ns", "self_ns", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")
        timed = row["kind"] in ("scope", "wait", "sync", "async")
        lines.append(f"{name:<{width}}  {row['calls']:>9}" +
                     "".join(f"{ns_text(row[c]) if timed else '':>10}" for c in cells))
    return "\n".join(lines) + "\n"


def _summary():
    workers, lost, cut, running = (_STATE["workers"], _STATE["lost"], _STATE["cut"],
                                   len(_STATE["running"]))
    text = f"workers: {workers} process{'es' if workers != 1 else ''} came back"
    if running:
        text += f", {running} still run{'s' if running == 1 else ''}"
    if cut:
        text += f"; {cut} ended by a signal: up to a second before that is missing"
    if lost:
        text += f"; {lost} ended by a signal or by _exit, what they recorded is lost"
    return text


_NOTE = re.compile(r"^note: \d+ forked process(?:es)? recorded (\d+) calls that are in no row: .*\n",
                   re.M)


def _without_shown(report):
    """The core's note of forked processes, without the calls that stand below."""
    shown = _STATE["shown"]
    for scopes, forked in list(_STATE["running"].values()):
        shown += sum(int(scope.get("calls", 0)) for scope in scopes) if forked else 0
    found = _NOTE.search(report)
    if not found or not shown:
        return report
    left = int(found.group(1)) - shown
    note = f"note: {left} calls of forked processes are in no row\n" if left > 0 else ""
    return report[:found.start()] + note + report[found.end():]


def with_workers(report, view):
    """A report of this process with what its workers recorded behind it."""
    found = _all()
    if not found and not _STATE["lost"] and not _STATE["cut"]:
        return report
    if view == "json":
        end = report.rstrip().rindex("}")
        more = {"processes": _STATE["workers"], "running": len(_STATE["running"]), "cut": _STATE["cut"],
                "lost": _STATE["lost"],
                "scopes": [{k: None if x != x or x in (math.inf, -math.inf) else x for k, x in row.items()}
                           for row in found]}
        return report[:end] + ',\n"workers":' + json.dumps(more) + "}\n"
    if view == "csv":
        cells = ("calls", "total_ns", "self_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns",
                 "max_ns")
        return report + "".join(
            '"{}",worker {},{},0.000\n'.format(row["name"].replace('"', '""'), row["kind"],
                                               ",".join(str(row[cells[0]]) if c == cells[0] else
                                                        f"{row[c]:.3f}" if math.isfinite(row[c]) else ""
                                                        for c in cells))
            for row in found)
    report = _without_shown(report)
    return report + ("" if report.endswith("\n\n") else "\n") + _summary() + "\n" + (
        _table(found) if found else "")

