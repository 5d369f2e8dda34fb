"""Functions that nobody marked: perfh.auto and python -m perfh run count every call, and end as the program does."""
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import perfh

def interrupt(*_):
    raise KeyboardInterrupt


SCRIPT = '''
import json, sys, threading
import planted
class C:
    def method(self, n):
        return planted.helper(n)
def generator(n):
    for i in range(n):
        yield i
def recursive(n):
    return recursive(n - 1) if n else 0
def fails():
    raise ValueError
def leaves():
    sys.exit(3)
if __name__ == "__main__":
    for _ in range(100):
        C().method(5)
    list(generator(3))
    recursive(5)
    try:
        fails()
    except ValueError:
        pass
    t = threading.Thread(target=recursive, args=(3,))
    t.start()
    t.join()
    json.dumps([1] * 10)
    print(sys.argv[1:], __name__)
    leaves()
'''


def rows(text):
    return {line.split(",")[0].strip('"'): int(line.split(",")[2]) for line in text.splitlines()
            if line.startswith('"')}


def run(folder, *more, status):
    done = subprocess.run([sys.executable, "-m", "perfh", "run", "--view", "csv", *more], capture_output=True,
                          text=True, cwd=folder, timeout=100)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout, done.stderr


with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
    folder = pathlib.Path(scratch)
    (folder / "script.py").write_text(SCRIPT)
    (folder / "planted.py").write_text("def helper(n):\n    return [i for i in range(n)]\n")
    out, err = run(folder, "script.py", "a", "--only", "x", status=3)
    assert out == "['a', '--only', 'x'] __main__\n", out
    calls = rows(err)
    want = {"planted.helper": 100, "script.fails": 1, "script.leaves": 1, "script.recursive": 10, "script.generator": 4,
            "script.<module>": 1}
    assert {name: calls.get(name) for name in want} == want, calls
    assert not any(name.startswith(("json", "threading", "perfh")) for name in calls), calls
    out, err = run(folder, "--only", "planted", "--flame", "f.html", "--trace", "t.json", "script.py", status=3)
    assert set(rows(err)) == {"planted.helper", "planted.<module>"}, err
    assert (folder / "f.html").stat().st_size > 1000 and "planted.helper" in (folder / "t.json").read_text()
    out, err = run(folder, "--only", "nothing*", "--lines", "planted.no", "script.py", status=3)
    assert "no function was called whose module is nothing*" in err, err
    assert "no function was called that is planted.no" in err, err
    run(folder, "nowhere.py", status=2)
    told = subprocess.run([sys.executable, "-m", "perfh", "--help"], capture_output=True, text=True, check=True)
    assert "perfh run" in told.stdout, told.stdout
    out, err = run(folder, "--only", "planted", "--lines", "__main__.recursive", "--lines", "planted.h*", "script.py", status=3)
    calls = rows(err)
    want = {"planted.helper": 100, "planted.<module>": 1, "planted:2 return [i for i in range(n)]": 100,
            "script.recursive": 10, "script:11 return recursive(n - 1) if n else 0": 10}
    assert calls == want, calls
    (folder / "broken.py").write_text("def f():\n    raise KeyError('planted')\nf()\n")
    out, err = run(folder, "broken.py", status=1)
    assert "KeyError: 'planted'" in err and rows(err)["broken.f"] == 1, err

    # Lines: of a loop each turn; a function whose code is the same in another file has its own name.
    sys.path.insert(0, scratch)
    loops = "def helper(n):\n    x = 0\n    for i in range(n):\n        x += nap(i)\n    return x\n\ndef nap(i):\n    yield_ = i\n    return i\n" \
        "def items(n):\n    for i in range(n):\n        yield i\n"
    for name in ("one", "two"):
        (folder / f"same_{name}.py").write_text(loops)
    import same_one
    import same_two
    perfh.reset()
    with perfh.auto("same_*", lines=["same_two.*", same_one.nap]):
        same_one.helper(3)
        same_two.helper(4)
        same_two.helper(4)
        list(same_two.items(2))
    counted = {r.name: r.calls for r in perfh.scopes()}
    want = {"same_one.helper": 1, "same_two.helper": 2, "same_one.nap": 3, "same_two.nap": 8,
            "same_one:8 yield_ = i": 3, "same_one:9 return i": 3, "same_two:8 yield_ = i": 8,
            "same_two:9 return i": 8, "same_two:2 x = 0": 2, "same_two:3 for i in range(n):": 10,
            "same_two:4 x += nap(i)": 8, "same_two:5 return x": 2, "same_two.items": 3,
            "same_two:11 for i in range(n):": 3, "same_two:12 yield i": 2}
    assert counted == want, counted
    found = {r.name: r for r in perfh.scopes()}
    assert found["same_two:4 x += nap(i)"].total_ns >= found["same_two.nap"].total_ns     # it calls that
    perfh.reset()
    with perfh.auto(lines=same_one.items):      # that function alone
        same_one.helper(2)
        list(same_one.items(1))
    assert {r.name for r in perfh.scopes()} == {"same_one.items", "same_one:11 for i in range(n):",
                                                "same_one:12 yield i"}, perfh.scopes()
    assert sys.gettrace() is None and sys.getprofile() is None
    for bad in (5, [len], [None]):
        try:
            perfh.auto(lines=bad)
            raise AssertionError(bad)
        except TypeError as error:
            assert "lines" in str(error) or "iterable" in str(error), error

    # In a program: what is open when it begins and ends is no harm, and after it nothing is counted.
    import planted
    perfh.reset()

    def begins():
        a = perfh.auto("planted")
        planted.helper(1)
        return a

    started = begins()
    threads = [threading.Thread(target=lambda: [planted.helper(1) for _ in range(50)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    started.stop()
    started.stop()
    planted.helper(1)
    assert sys.getprofile() is None
    assert {r.name: r.calls for r in perfh.scopes()} == {"planted.helper": 201}, perfh.scopes()
    with perfh.auto(folder=scratch):
        planted.helper(1)
    assert {r.name: r.calls for r in perfh.scopes()} == {"planted.helper": 202}

    # sys.monitoring sees threads that ran before, leaves other profilers alone, and two go together.
    if hasattr(sys, "monitoring"):
        perfh.reset()
        go, done = threading.Event(), threading.Event()
        t = threading.Thread(target=lambda: (go.wait(), planted.helper(1), done.set()))
        t.start()
        seen = []
        sys.setprofile(lambda *_: seen.append(1))
        with perfh.auto("planted"), perfh.auto("same_one"):
            go.set()
            done.wait()
            planted.helper(1)
            list(same_one.items(2))
        sys.setprofile(None)
        t.join()
        assert seen and {r.name: r.calls for r in perfh.scopes()} == {"planted.helper": 2, "same_one.items": 3}, perfh.scopes()
        assert not any(sys.monitoring.get_tool(i) for i in range(5))
    # Ctrl-C while a name is made arrives, and the calls after it count.
    perfh.reset()
    look, fnmatch.fnmatchcase = fnmatch.fnmatchcase, interrupt
    with perfh.auto("planted"):
        try:
            planted.helper(1)
            raise AssertionError("Ctrl-C was lost")
        except KeyboardInterrupt:
            fnmatch.fnmatchcase = look
        planted.helper(1)
        planted.helper(1)
    assert {r.name: r.calls for r in perfh.scopes()} == {"planted.helper": 2}, perfh.scopes()
    assert perfh.status() == 0, perfh.status_text(perfh.status())
    try:
        perfh.auto()
        raise AssertionError("no pattern was taken")
    except ValueError as error:
        assert "which modules" in str(error)
print("ok")
