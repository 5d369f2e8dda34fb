"""What the tests of perf-ab share.  Each is called with the path of the tool, or `none`."""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = ROOT / "tests" / "data" / "formats"
SECONDS = 120                           # for one call


def tool():
    """The path of perf-ab.  Skips where it could not be built: then Jansson is missing."""
    if len(sys.argv) < 2 or sys.argv[1] == "none":
        print("skipped: perf-ab was not built (Jansson is not installed: libjansson-dev)")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    return str(pathlib.Path(sys.argv[1]).resolve())


class Checks:
    """Counts; ends the program with 0 only when something was checked and nothing failed."""

    def __init__(self, what):
        self.what, self.tool, self.passed, self.failed = what, tool(), 0, 0
        self.scratch = tempfile.TemporaryDirectory(prefix="perfh.")
        self.work = pathlib.Path(self.scratch.name)

    def check(self, condition, message):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 20:
                print(f"FAILED: {message}")
        return condition

    def run(self, *args, text=None, cwd=None, env=None):
        """(status, stdout, stderr) of perf-ab."""
        done = subprocess.run([self.tool, *map(str, args)], input=text, capture_output=True, text=True,
                              errors="replace", cwd=cwd or self.work, timeout=SECONDS, env=env,
                              stdin=subprocess.DEVNULL if text is None else None)
        for bad in ("AddressSanitizer", "runtime error", "LeakSanitizer"):
            if bad in done.stderr:
                self.check(False, f"{args}: {done.stderr[:2000]}")
        return done.returncode, done.stdout, done.stderr

    def file(self, name, content):
        """A scratch file; its name."""
        path = self.work / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def numbers(self, name, values):
        return self.file(name, "".join(f"{v:.6f}\n" for v in values))

    def status(self, want, *args, has=None, text=None):
        """Calls perf-ab and checks its exit status, and that its output has a text."""
        status, out, err = self.run(*args, text=text)
        shown = f"perf-ab {' '.join(map(str, args))}"
        ok = self.check(status == want, f"{shown}\n    status {status}, not {want}\n{out}{err}")
        if has is not None:
            ok = self.check(has in out + err, f"{shown}\n    does not say '{has}':\n{out}{err}") and ok
        return out + err if ok else ""

    def finish(self):
        self.scratch.cleanup()
        print(f"{self.what}: {self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
