"""Where the package finds what it installs: beside itself in a source distribution, else above.

    layout.py folder | headers | package | version | dist
"""
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "headers" if (HERE / "headers").is_dir() else HERE.parent


def headers():
    return sorted(FOLDER.glob("perf*.h"))


def version():
    """PERF_VERSION, which one of the headers defines, is major * 10000 + minor * 100 + patch."""
    text = "".join(path.read_text(encoding="utf-8") for path in headers())
    number = int(re.search(r"^#define PERF_VERSION (\d+)", text, flags=re.M).group(1))
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def dist():
    """Run by `meson dist`: puts what lies above into the copy that becomes the archive."""
    root = pathlib.Path(os.environ["MESON_DIST_ROOT"])
    if not (root / "meson.build").exists() or (root / "perf.h").exists():
        root = root / "cython"              # some versions of meson copy the whole repository
    target = root / "headers"
    (target / "cmake").mkdir(parents=True, exist_ok=True)
    for path in headers():
        shutil.copy(path, target)
    for path in (FOLDER / "cmake").glob("perfh*.in"):
        shutil.copy(path, target / "cmake")
    shutil.copy(FOLDER / "LICENSE", target)


def main(what):
    if what == "dist":
        dist()
    else:
        package = sorted(p for p in (HERE / "perfh").iterdir()
                         if p.suffix in (".py", ".pyi", ".pxd", ".typed"))
        print({"folder": lambda: FOLDER,
               "headers": lambda: "\n".join(map(str, headers())),
               "package": lambda: "\n".join(map(str, package)),
               "version": version}[what]())


if __name__ == "__main__":
    main(sys.argv[1])
