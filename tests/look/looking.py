"""What the tests of perf-ab look and top share: programs that are looked at."""
import csv
import io
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tool"))
from tool import ROOT, Checks  # noqa: E402

CC = os.environ.get("CC", "gcc").split()


def compiler():
    """gcc or another compiler; skips without one."""
    if not shutil.which(CC[-1]):
        print(f"skipped: {CC[-1]} is not installed")
        sys.exit(77)
    return CC


class Looks(Checks):
    """Checks with a scratch folder where targets are built."""

    def __init__(self, what):
        super().__init__(what)
        if sys.platform != "linux":
            print("skipped: other systems than Linux are not read")
            sys.exit(77)
        compiler()

    def build(self, source="target.c", *flags, name=None):
        """A program from a file of this folder."""
        out = self.work / (name or source.split(".")[0])
        subprocess.run([*CC, "-O0", "-g", "-w", f"-I{ROOT}", *flags, str(HERE / source), "-o", str(out),
                        "-lpthread"], check=True, capture_output=True)
        return out

    def rows(self, text):
        """CSV by name and kind."""
        return {(r["name"], r["kind"]): r for r in csv.DictReader(io.StringIO(text))}


class Target:
    """A program that has told its own numbers and waits."""

    def __init__(self, *command, env=None):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, errors="surrogateescape", env=env)
        lines = []
        for line in self.process.stdout:
            if line == "end\n":
                break
            lines.append(line)
        self.own = "".join(lines).partition("begin\n")[2]
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
