"""perfh.diagnose(trace): what perf-ab diagnose says of a trace of torch.profiler.  Plain Python."""
import json
import os
import shutil
import subprocess
import tempfile
from typing import NamedTuple


class TraceDiagnosis(NamedTuple):
    """What a trace shows; str() of it are the five lines and their evidence."""
    bound: str                          # "data", "host launch", "synchronisation", ...
    figures: dict                       # what perf-ab diagnose --json writes of the trace
    text: str

    def __str__(self):
        return self.text


def _tool():
    """The program perf-ab.  FileNotFoundError: it is not installed."""
    asked = os.environ.get("PERF_AB") or "perf-ab"
    found = shutil.which(asked)
    if not found:
        raise FileNotFoundError(f"perfh.diagnose of a trace needs the program perf-ab, and {asked} "
                                "is not there: install perf.h's tools, or name it in PERF_AB")
    return found


def _file(trace, folder, name):
    """The path of a trace: of a profiler it is written to that folder first."""
    if hasattr(trace, "export_chrome_trace"):
        path = os.path.join(folder, name)
        trace.export_chrome_trace(path)
        return path
    path = os.path.abspath(os.fsdecode(trace))
    if not os.path.exists(path):
        raise FileNotFoundError(f"no such trace: {path}")
    return path


def diagnose(trace, against=None):
    """trace: a torch.profiler object after its block, or the path of a trace that it wrote.
    against: another one, taken after a change: the text says what has changed."""
    tool = _tool()
    with tempfile.TemporaryDirectory(prefix="perfh-") as folder:
        figures = os.path.join(folder, "figures.json")
        command = [tool, "diagnose", _file(trace, folder, "trace.json"), "--json", figures]
        if against is not None:
            command += ["--against", _file(against, folder, "after.json")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip()
            raise ValueError(words or f"perf-ab ended with {done.returncode} and said nothing")
        with open(figures, encoding="utf-8") as f:
            first = json.load(f)["traces"][0]
        text = done.stdout.decode("utf-8", "replace")
        return TraceDiagnosis(first["bound"], first, text.replace(folder + os.sep, ""))
