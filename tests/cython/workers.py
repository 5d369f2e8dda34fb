"""Scopes of worker processes in the report of their parent: forked, spawned, pooled, nested, killed."""
import concurrent.futures
import glob
import json
import multiprocessing as mp
import os
import signal
import subprocess
import sys
import tempfile
import threading

import perfh


NO_FOLDER = '''
import multiprocessing, tempfile
def refuse():
    raise FileNotFoundError("No usable temporary directory found")
tempfile.gettempdir = refuse
import perfh
def work():
    with perfh.scope("of a worker"):
        pass
with perfh.scope("alone"):
    pass
p = multiprocessing.get_context("fork").Process(target=work)
p.start()
p.join()
for row in perfh.scopes():
    print(row.name, row.calls)
perfh.report_text()
perfh.reset()
'''


@perfh.scope
def item(i):
    with perfh.scope("decode"):
        return sum(range(i % 7 * 100))


def work(n):
    for i in range(n):
        item(i)
    return n


def nest(n):
    work(n)
    child = mp.get_context("fork").Process(target=work, args=(n,))
    child.start()
    child.join()


def threaded(n):
    threads = [threading.Thread(target=work, args=(n,)) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def stay(ready):
    work(5)
    ready.set()
    signal.pause()


def leaves(n):
    work(n)
    os._exit(0)


def counts(values):
    for value in values:
        perfh.count("queue", value)
    work(1)


def waits(ready, go):
    work(5)
    ready.set()
    go.wait()
    work(3)


def of_workers():
    return {row.name: row for row in perfh.scopes() if row.where == "worker"}


def calls(name="item"):
    return of_workers()[name].calls if name in of_workers() else 0


def run(kind, target, n, processes=2):
    context = mp.get_context(kind)
    them = [context.Process(target=target, args=(n,)) for _ in range(processes)]
    for p in them:
        p.start()
    for p in them:
        p.join()
        assert p.exitcode == 0, p.exitcode


def main():
    sys.modules["perfh._workers"]._PATIENCE = 60        # a busy machine lets a worker wait
    assert "workers" not in perfh.report_text()
    expected = 0
    for kind in mp.get_all_start_methods():
        run(kind, work, 40)
        expected += 80
        assert calls() == calls("decode") == expected, (kind, calls(), expected)
    run("fork", nest, 10, 1)
    run("fork", threaded, 10, 1)
    expected += 50
    assert calls() == expected, (calls(), expected)

    # A pool's workers leave by themselves when it is closed.
    with mp.get_context("fork").Pool(2) as pool:
        assert pool.map(work, [7] * 6) == [7] * 6
        pool.close()
        pool.join()
    expected += 42
    assert calls() == expected, (calls(), expected)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(work, [3] * 4)) == [3] * 4
    expected += 12
    assert calls() == expected, (calls(), expected)

    # So are those of a pool that is terminated, and of a worker that leaves by os._exit().
    for kind in mp.get_all_start_methods():
        with mp.get_context(kind).Pool(2) as pool:
            pool.map(item, range(100))
        run(kind, leaves, 30, 1)
        expected += 130
        assert calls() == expected, (kind, calls(), expected, perfh.report_text())
    assert "is lost" not in perfh.report_text() and "in no row" not in perfh.report_text(), perfh.report_text()

    # One that runs on is in the report, once, and perfh.reset() reaches it.
    context = mp.get_context("fork")
    ready, go = context.Event(), context.Event()
    p = context.Process(target=waits, args=(ready, go))
    p.start()
    ready.wait()
    for _ in range(3):
        assert calls() == expected + 5 and "1 still runs" in perfh.report_text(), perfh.report_text()
    go.set()
    p.join()
    expected += 8
    assert calls() == expected and "still runs" not in perfh.report_text()

    # What a killed one had written is taken, and it is counted.
    context = mp.get_context("fork")
    ready = context.Event()
    p = context.Process(target=stay, args=(ready,))
    p.start()
    ready.wait()
    expected += 5
    assert calls() == expected          # it has written
    os.kill(p.pid, signal.SIGKILL)
    p.join()
    text = perfh.report_text()
    assert "; 1 ended by a signal: up to a second" in text and "in no row" not in text, text
    assert calls() == expected, (calls(), expected)

    # A counter has its values, whatever their sign; an infinite one, which JSON cannot hold, costs no row.
    run("fork", counts, (-5, -7), 2)
    row = of_workers()["queue"]
    assert row == (row.name, "counter", 4, 0, 0, -6, -7, 0, 0, 0, -5, "worker"), row
    run("fork", counts, (float("inf"),), 1)
    expected += 3
    row = of_workers()["queue"]
    assert calls() == expected and row.calls == 5 and row.max_ns != row.max_ns, (calls(), expected, row)
    found = json.loads(perfh.report_text("json"), parse_constant=lambda word: 1 / 0)["workers"]
    assert [one["max_ns"] for one in found["scopes"] if one["name"] == "queue"] == [None], found
    assert '"queue",worker counter,5,0.000,0.000,,,0.000' in perfh.report_text("csv")
    assert "is lost" not in perfh.report_text(), perfh.report_text()

    # What this process has recorded itself stays apart, and is as exact as before.
    work(4)
    mine = {row.name: row.calls for row in perfh.scopes() if not row.where}
    assert mine["item"] == 4, mine
    found = json.loads(perfh.report_text("json"))
    assert found["workers"]["lost"] == 0 and found["workers"]["cut"] == 1 and found["workers"]["processes"] >= 10, found["workers"]
    row = of_workers()["item"]
    assert 0 < row.min_ns <= row.p50_ns <= row.p95_ns <= row.p99_ns <= row.max_ns < row.total_ns, row
    assert abs(row.mean_ns * row.calls / row.total_ns - 1) < 1e-9 and row.self_ns < row.total_ns
    assert f'"item",worker scope,{expected},' in perfh.report_text("csv")
    for view in ("table", "tree", "diagnosis"):
        assert "scope of workers" in perfh.report_text(view), view

    # A file that no worker of ours wrote is no reason to fail.
    with open(os.path.join(os.environ["PERFH_WORKERS"], "1.json"), "w") as f:
        f.write('{"scopes": [{"name": 5}')
    assert "; 1 ended by a signal or by _exit" in perfh.report_text()

    # A program that is started, not a worker, keeps what it records.
    out = subprocess.run([sys.executable, "-c", "import perfh\nwith perfh.scope('alone'): pass\nprint(perfh.scopes())"],
                         capture_output=True, text=True, check=True)
    assert "alone" in out.stdout and "alone" not in of_workers()

    # Where no folder can be written (a container that only reads), all works but the report of workers.
    out = subprocess.run([sys.executable, "-c", NO_FOLDER], capture_output=True, text=True)
    assert (out.returncode, out.stdout.split()) == (0, ["alone", "1"]), out

    perfh.reset()
    assert "workers" not in perfh.report_text() and not perfh.scopes()
    pid = os.fork()
    if not pid:
        work(2)
        os._exit(0)
    os.waitpid(pid, 0)
    assert "forked process" in perfh.report_text()          # the core counts it
    print("ok")


if __name__ == "__main__":
    if "child" in sys.argv:
        main()
    else:                               # nothing is left behind
        with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
            done = subprocess.run([sys.executable, __file__, "child"], env={**os.environ, "TMPDIR": scratch})
            assert done.returncode == 0
            assert not glob.glob(os.path.join(scratch, "perfh-*")), os.listdir(scratch)
