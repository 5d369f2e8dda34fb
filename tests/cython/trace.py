"""perfh.diagnose(trace): a path or a profiler goes to perf-ab (here a stand-in), errors are sentences.
With the path of perf-ab as argument the real one reads a trace, too."""
import json
import os
import pathlib
import sys
import tempfile

import perfh

TOOL = f'''#!{sys.executable}
import json, sys
command, path, option, figures = sys.argv[1:5]
assert (command, option) == ("diagnose", "--json")
if "broken" in open(path).read():
    sys.exit("perf-ab: " + path + ": not JSON")
json.dump({{"traces": [{{"bound": "data", "share": 0.5}}]}}, open(figures, "w"))
print("bound by: data", path.rpartition("/")[2], *sys.argv[5:])
'''


class Profiler:
    def __init__(self, text="{}"):
        self.text = text

    def export_chrome_trace(self, path):
        pathlib.Path(path).write_text(self.text)


def fails(kind, trace, words, **more):
    try:
        perfh.diagnose(trace, **more)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("no " + kind.__name__)


def events():
    """Ten steps of 1 ms that wait for a loader for 0.9 ms."""
    common = {"ph": "X", "pid": 1, "tid": 1}
    for i in range(10):
        yield {**common, "cat": "user_annotation", "name": f"ProfilerStep#{i}", "ts": i * 1000, "dur": 1000}
        yield {**common, "cat": "cpu_op", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
               "ts": i * 1000 + 10, "dur": 900}
        yield {**common, "cat": "cpu_op", "name": "aten::mm", "ts": i * 1000 + 920, "dur": 60}


with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
    tool, good, broken = (pathlib.Path(scratch, name) for name in ("perf-ab", "good", "broken"))
    tool.write_text(TOOL)
    tool.chmod(0o755)
    good.write_text("{}")
    broken.write_text("broken")
    os.environ["PERF_AB"] = str(tool)
    for trace, name in ((good, "good"), (str(good), "good"), (os.fsencode(good), "good"), (Profiler(), "trace.json")):
        found = perfh.diagnose(trace)
        assert found.bound == "data" and found.figures["share"] == 0.5, found
        assert str(found) == found.text == f"bound by: data {name}\n", found
    found = perfh.diagnose(Profiler(), against=Profiler())
    assert found.text == "bound by: data trace.json --against after.json\n", found      # no path that is gone
    fails(ValueError, broken, "not JSON")
    fails(ValueError, Profiler("broken"), "not JSON")
    fails(FileNotFoundError, scratch + "/none", "no such trace")
    fails(FileNotFoundError, good, "no such trace", against=scratch + "/none")
    fails(TypeError, None, "against", against=good)
    os.environ["PERF_AB"] = scratch + "/nowhere"
    fails(FileNotFoundError, good, "needs the program perf-ab, and " + scratch + "/nowhere is not there")
    if sys.argv[1:]:
        os.environ["PERF_AB"] = sys.argv[1]
        found = perfh.diagnose(Profiler(json.dumps({"traceEvents": list(events())})))
        assert found.bound == "data" and found.figures["steps"]["count"] == 10, found
        assert "bound by: data" in found.text and scratch not in found.text, found.text
        fails(ValueError, broken, "broken")
print("ok")
