"""Functions that nobody marked: perfh.auto and python -m perfh run count every call, and end as the program does."""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import perfh

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
    run(folder, "nowhere.py", status=2)
    (folder / "broken.py").write_text("def f():\n    raise KeyError('planted')\nf()\n")
    out, err = run(folder, "broken.py", status=1)
    assert "KeyError: 'planted'" in err and rows(err)["broken.f"] == 1, err

    # In a program: what is open when it begins and ends is no harm, and after it nothing is counted.
    sys.path.insert(0, scratch)
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
    assert perfh.status() == 0, perfh.status_text(perfh.status())
    try:
        perfh.auto()
        raise AssertionError("no pattern was taken")
    except ValueError as error:
        assert "which modules" in str(error)
print("ok")
