"""pytest with perfh: two fixtures, and runs that are kept and held against each other.

    def test_parse(perf_bench):
        perf_bench(parse, TEXT)             # how long; the name is the test's

    def test_new_is_no_slower(perf_ab):
        perf_ab(old, new, TEXT, rule="no regression beyond 5 %", close=0)

    pytest --perfh-save runs.json           adds this run to the file
    pytest --perfh-compare runs.json        exit status 1 where one of them is REJECTed

Installed with perfh; pytest finds it by itself.  `-p no:perfh` leaves it out.  perfh is imported
when a test or an option asks for it.
"""
import hashlib
import os

import pytest

_KEY = pytest.StashKey()                # of the config: a _Session


def pytest_addoption(parser):
    group = parser.getgroup("perfh", "perfh: how fast, and slower than before?")
    group.addoption("--perfh-save", metavar="FILE",
                    help="add what this run measured to a file of runs")
    group.addoption("--perfh-compare", metavar="FILE",
                    help="hold this run against a file of runs; REJECT: exit status 1")
    group.addoption("--perfh-rule", metavar="RULE", default=None,
                    help="what --perfh-compare asks; default: 'no regression beyond 5 %%'")
    group.addoption("--perfh-label", metavar="TEXT", default=None,
                    help="what --perfh-save calls this run, as a commit")
    group.addoption("--perfh-any-machine", action="store_true",
                    help="runs of other machines count like those of this one")


_MOST = 240                             # bytes: the library keeps 255, and a number may follow


def _short(name):
    """A long name's end is a hash of all of it: by its beginning it might be another test's."""
    whole = name.encode("utf-8", "replace")
    if len(whole) <= _MOST:
        return name
    end = "..." + hashlib.sha256(whole).hexdigest()[:12]
    return whole[:_MOST - len(end)].decode("utf-8", "ignore") + end


class _Session:
    """What was asked of this run of pytest, and what came of it."""

    def __init__(self, options):
        self.save, self.compare = options.perfh_save, options.perfh_compare
        self.rule, self.label = options.perfh_rule, options.perfh_label
        self.any_machine = options.perfh_any_machine
        self.lines = []                 # of the summary
        self.measured = []              # results and verdicts of the tests
        self.names = {}                 # name of a measurement: how often it was given

    def name_of(self, request):
        """The test's name; its second measurement gets a number."""
        name = _short(request.node.nodeid)
        self.names[name] = self.names.get(name, 0) + 1
        return name if self.names[name] == 1 else f"{name} ({self.names[name]})"


def _usage(words):
    return pytest.UsageError("perfh: " + words)


def _import_perfh():
    """perfh with its compiled part; ImportError with a sentence where there is none."""
    import perfh
    perfh.status()
    return perfh


# Of a file of runs: --perfh-save moves it out of the way.
_DAMAGED = ("malformed or truncated data", "value out of range")


def _refuse(s, config):
    """Errors that are known before the first test."""
    try:
        perfh = _import_perfh()
    except ImportError as error:
        raise _usage(str(error)) from None
    if getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None):
        raise _usage("--perfh-save and --perfh-compare need all tests in one process, without "
                     "others beside them: run without -n")
    for option, path in (("--perfh-save", s.save), ("--perfh-compare", s.compare)):
        if path is not None and (not path or os.path.isdir(path)):
            raise _usage(f"{option} {path or repr('')}: the name of a file is wanted")
        if path and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise _usage(f"{option} {path}: there is no such folder")
    if s.compare and not os.path.exists(s.compare) and s.save != s.compare:
        raise _usage(f"--perfh-compare {s.compare}: no such file; --perfh-save {s.compare} makes it")
    if s.save and os.path.isfile(s.save) and os.path.getsize(s.save):
        try:
            perfh.baseline_check(s.save)
        except perfh.Error as error:
            if perfh.status_text(error.status) not in _DAMAGED:
                raise _usage(f"--perfh-save {error}") from None
    if s.rule is not None:
        try:
            perfh.compare([1.0], [1.0], rule=s.rule)
        except ValueError as error:
            raise _usage(f"--perfh-rule: {error}") from None


def pytest_configure(config):
    s = config.stash[_KEY] = _Session(config.option)
    if s.rule is not None and s.compare is None:
        raise _usage("--perfh-rule says what --perfh-compare FILE asks: give that, too")
    if s.label is not None and s.save is None:
        raise _usage("--perfh-label names what --perfh-save FILE adds: give that, too")
    if s.save is not None or s.compare is not None:
        _refuse(s, config)


# ---- fixtures ------------------------------------------------------------------------------------

def _need_perfh():
    try:
        return _import_perfh()
    except ImportError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def perf_bench(request):
    """perf_bench(f, *args, name=, ...): how long one call takes, a perfh.Result.  The name, by which
    runs are compared, is that of the test."""
    perfh, s = _need_perfh(), request.config.stash[_KEY]

    def measure(function, *args, **options):
        options.setdefault("name", s.name_of(request))
        result = perfh.bench(function, *args, **options)
        s.measured.append(result)
        return result
    return measure


@pytest.fixture
def perf_ab(request):
    """perf_ab(f, g, *args, rule=...): fails when g is shown to miss the rule, skips when undecided."""
    perfh, s = _need_perfh(), request.config.stash[_KEY]

    def ask(baseline, candidate, *args, **options):
        options.setdefault("name", s.name_of(request))
        verdict = perfh.ab(baseline, candidate, *args, **options)
        s.measured.append(verdict)
        print(verdict)                                  # pytest -s, and with a failure
        if verdict.rejected:
            pytest.fail(verdict.text, pytrace=False)
        if not verdict:
            pytest.skip(verdict.text)
        return verdict
    return ask


# ---- the end of a run ----------------------------------------------------------------------------

def _verdict(e):
    """The text of an entry; where all entries together ask for more, the decision before it."""
    return e.text if e.text.startswith(e.decision) else f"{e.decision} (alone {e.text})"


def _compare(s, perfh):
    """Says how this run stands.  True: nothing was REJECTed."""
    if not os.path.exists(s.compare):
        s.lines.append(f"{s.compare}: no run is saved yet, nothing was compared")
        return True
    try:
        found = perfh.baseline_check(s.compare, s.rule, any_machine=s.any_machine)
    except perfh.Error as error:
        s.lines.append(f"cannot compare: {error}")
        return False
    rejected = [e for e in found.entries if e.decision == "REJECT"]
    s.lines.append(f"against {s.compare}, {found.runs} runs, {s.rule or 'no regression beyond 5 %'}:")
    s.lines += [f"  {e.name}: {_verdict(e)}" for e in found.entries]
    if found.other_runs:
        s.lines.append(f"  {found.other_runs} runs of another machine or build were not used"
                       " (--perfh-any-machine takes those of other machines)")
    counts = [f"{sum(e.decision == kind for e in found.entries)} {kind}"
              for kind in ("ACCEPT", "REJECT", "INCONCLUSIVE")]
    s.lines.append("REJECT: " * bool(rejected) + f"{len(found.entries)} measurements: " + ", ".join(counts))
    return not rejected


def _save(s, perfh, fine):
    if not fine:
        s.lines.append(f"{s.save}: not saved, because this run failed")
        return True
    try:
        perfh.baseline_save(s.save, s.label)
    except perfh.Error as error:
        s.lines.append(f"cannot save: {error}")
        return False
    s.lines.append(f"{s.save}: this run was added")
    return True


def pytest_sessionfinish(session, exitstatus):
    s = session.config.stash.get(_KEY, None)
    if s is None or not (s.save or s.compare) or session.config.option.collectonly:
        return
    if not s.measured:
        s.lines.append("nothing was measured: no test that ran uses perf_bench or perf_ab")
        return
    perfh = _import_perfh()
    fine = not s.compare or _compare(s, perfh)
    if s.save:
        fine = _save(s, perfh, fine and exitstatus == 0) and fine
    if not fine and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    s = config.stash.get(_KEY, None)
    if s is None or not (s.measured or s.lines):
        return
    terminalreporter.section("perfh")
    for line in [f"{one.name}: {one.text}" for one in s.measured] + s.lines:
        terminalreporter.write_line(line)
