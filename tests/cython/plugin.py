"""The plugin for pytest: what it measures, keeps, compares and refuses, and how pytest ends."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = '''
import os
TIMES = int(os.environ.get("PLANTED", "1"))

def work():
    return sum(range(1000 * TIMES))

def test_one(perf_bench):
    result = perf_bench(work, max_seconds=0.05)
    assert result.time.p50 > 0 and result.name.endswith("::test_one")

def test_two(perf_bench):
    perf_bench(sorted, [3, 1, 2], max_seconds=0.05)
    assert perf_bench(len, "x", max_seconds=0.05).name.endswith("::test_two (2)")

def test_three(perf_ab):
    assert perf_ab(lambda: sum(range(1000)), lambda: 1, rule="speedup >= 2", name="mine", max_seconds=60).name == "mine"
'''


def pytest(*options, status, says=(), not_says=(), **environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
                          capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    text = done.stdout + done.stderr
    assert done.returncode == status, (options, done.returncode, text)
    for words in says:
        assert words in text, (words, text)
    for words in (*not_says, "Traceback", "INTERNALERROR"):
        assert words not in text, (words, text)
    return text


with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
    os.chdir(scratch)
    pathlib.Path("test_speed.py").write_text(TESTS)
    pathlib.Path("test_plain.py").write_text("def test_nothing():\n    pass\n")
    pathlib.Path("test_import.py").write_text(
        "import sys\ndef test_late():\n    assert 'perfh' not in sys.modules\n")

    # Whoever asks for nothing gets nothing, not even an import.
    pytest("test_plain.py", "test_import.py", status=0, not_says=["perfh"])
    pytest("test_speed.py", status=0, says=["= perfh =", "test_speed.py::test_one: median", "mine: ACCEPT"])

    # The first run has nothing to be compared with; later ones have.
    both = ("--perfh-save", "runs.json", "--perfh-compare", "runs.json", "test_speed.py")
    pytest(*both, "--perfh-label", "first", status=0, says=["no run is saved yet", "this run was added"])
    assert '"first"' in pathlib.Path("runs.json").read_text()
    for _ in range(6):
        pytest("--perfh-save", "runs.json", "test_speed.py", status=0, says=["this run was added"])
    planted = pathlib.Path(__file__).resolve().parent.parent / "planted.py"
    subprocess.run([sys.executable, planted, "runs.json", "test_speed.py::test_one=20000"], check=True)
    before = pathlib.Path("runs.json").read_bytes()
    pytest(*both, PLANTED="30", status=1, says=["test_one: REJECT", "3 passed", "REJECT: 4 measurements",
                                                "not saved, because"])
    assert pathlib.Path("runs.json").read_bytes() == before
    pytest("--perfh-compare", "runs.json", "--perfh-rule", "no regression beyond 99999 %", "test_speed.py",
           PLANTED="30", status=0, says=["against runs.json, 7 runs, no regression beyond 99999 %", " 0 REJECT"])
    pytest("--perfh-compare", "runs.json", "--perfh-rule", "no regression beyond 99999 %", "-k", "test_two", status=0,
           says=["test_one: INCONCLUSIVE", "saved, but not measured now"])
    pytest("--perfh-compare", "runs.json", "test_speed.py", PERF_MACHINE="another", status=0,
           says=["7 runs of another machine or build were not used"])

    # Two long names that begin alike stay apart, whichever of them runs.
    pathlib.Path("test_long.py").write_text(
        "import pytest\n@pytest.mark.parametrize('x', ['A' * 300 + end for end in 'BC'], ids=str)\n"
        "def test_long(perf_bench, x):\n    perf_bench(len, x, max_seconds=0.01)\n")
    pytest("--perfh-save", "long.json", "test_long.py", status=0, says=["this run was added"])
    names = [one["name"] for one in json.loads(pathlib.Path("long.json").read_text())["benchmarks"]]
    assert len(set(names)) == 2 and not [name for name in names if name.endswith(" (2)")], names
    pytest("--perfh-save", "last.json", "-k", "C]", "test_long.py", status=0, says=["this run was added"])
    assert f'"{names[1]}"' in pathlib.Path("last.json").read_text()

    # A test that fails is not hidden, and its run is not kept.
    pathlib.Path("test_fails.py").write_text("def test_fails(perf_bench):\n    perf_bench(len, '')\n    assert 0\n")
    pytest("--perfh-save", "failed.json", "test_fails.py", status=1, says=["not saved, because this run failed"])
    assert not os.path.exists("failed.json")

    # What is no file of runs, or of a newer version, is refused before the first test, and stays as it is.
    for wrong in ("no JSON", "{}", '{"perf_results":2,"benchmarks":"'):
        pathlib.Path("foreign.json").write_text(wrong)
        pytest("--perfh-save", "foreign.json", "test_speed.py", status=4,
               says=["ERROR: perfh: --perfh-save foreign.json: no file of this kind, or one of a newer version"])
        assert pathlib.Path("foreign.json").read_text() == wrong and not os.path.exists("foreign.json.damaged")
    pathlib.Path("half.json").write_text('{"perf_results":1,"benchmarks":[')
    pytest("--perfh-save", "half.json", "test_speed.py", status=0, says=["half.json: this run was added"])
    assert os.path.exists("half.json.damaged")

    # What cannot be done is said in a sentence.
    pathlib.Path("broken.json").write_text("no JSON")
    pytest("--perfh-compare", "broken.json", "test_speed.py", status=1, says=["cannot compare: broken.json: "])
    for options, words in ((("--perfh-compare", "none.json"), "no such file; --perfh-save none.json makes it"),
                           (("--perfh-save", "nowhere/x.json"), "there is no such folder"),
                           (("--perfh-save", "."), "the name of a file is wanted"),
                           (("--perfh-save", ""), "the name of a file is wanted"),
                           (("--perfh-rule", "speedup >= 2"), "give that, too"),
                           (("--perfh-label", "x"), "give that, too"),
                           ((*both[:4], "--perfh-rule", "faster"), "write 'speedup >= 1.3'")):
        pytest(*options, status=4, says=["ERROR: perfh: ", words])
    pathlib.Path("conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--numprocesses')\n")     # as pytest-xdist has
    pytest(*both[:2], "-p", "no:xdist", "--numprocesses", "2", status=4, says=["run without -n"])
    pathlib.Path("conftest.py").unlink()
    pytest("--perfh-save", "x.json", "test_plain.py", status=0, says=["nothing was measured"])
    pytest("-p", "no:perfh", "--perfh-save", "x.json", status=4, says=["unrecognized arguments"])
print("ok")
