"""perfh-config, or python -m perfh: where things are, for build systems.  python -m perfh run: a
script with scopes around its functions."""
import argparse
import fnmatch
import os
import sys

import perfh


def run(arguments):
    """python -m perfh run [--only PATTERN]... [--lines FUNCTION]... [--view V] [--flame F] [--trace F] script.py ..."""
    parser = argparse.ArgumentParser(prog="python -m perfh run", description="Runs a script; its functions are scopes.")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN",
                        help="modules whose functions count, as pkg.*; may be given again; __main__ is "
                        "the script.  Default: all whose file lies below the script's folder")
    parser.add_argument("--lines", action="append", default=[], metavar="FUNCTION",
                        help="each line of that function is a scope, too: script.solve, 'pkg.mod.*'")
    parser.add_argument("--view", default="table", choices=("table", "tree", "csv", "json", "diagnosis"))
    parser.add_argument("--flame", metavar="FILE", help="a page that shows where the time went")
    parser.add_argument("--trace", metavar="FILE", help="Chrome JSON; .pftrace: Perfetto")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    o = parser.parse_args(arguments)
    if not os.path.exists(o.script):
        parser.error(f"no such script: {o.script}")
    folder = os.path.dirname(os.path.abspath(o.script))
    stem = os.path.splitext(os.path.basename(o.script))[0]
    o.lines = [stem + one[len("__main__"):] if one.startswith("__main__.") else one for one in o.lines]
    sys.argv = [o.script, *o.arguments]
    sys.path[0] = folder
    with open(o.script, "rb") as f:
        code = compile(f.read(), os.path.abspath(o.script), "exec")
    main = type(sys)("__main__")            # what pickle looks for
    main.__file__ = os.path.abspath(o.script)
    sys.modules["__main__"] = main
    with perfh.auto(*o.only, folder=folder, lines=o.lines):
        try:
            exec(code, main.__dict__)
        finally:
            perfh.report(view=o.view)
            _say_what_is_missing(o)
            if o.flame:
                perfh.export(o.flame)
            if o.trace:
                perfh.trace_save(o.trace)


def _say_what_is_missing(o):
    names = [row.name for row in perfh.scopes()]
    if o.only and not names:
        print(f"note: no function was called whose module is {' or '.join(o.only)}", file=sys.stderr)
    for wanted in o.lines:
        if not any(fnmatch.fnmatchcase(name, wanted) for name in names):
            print(f"note: no function was called that is {wanted}", file=sys.stderr)


def main():
    if sys.argv[1:2] == ["run"]:
        run(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="perfh-config", description="Where perfh's files are.",
                                     epilog="python -m perfh run SCRIPT runs a script whose functions are scopes: "
                                     "python -m perfh run --help")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--includedir", action="store_const", dest="get", const=perfh.get_include,
                       help="the folder with perf.h")
    which.add_argument("--cflags", action="store_const", dest="get",
                       const=lambda: "-I" + perfh.get_include(), help="for the C compiler")
    which.add_argument("--cmakedir", action="store_const", dest="get", const=perfh.get_cmake_dir,
                       help="for CMake: -Dperfh_DIR=")
    which.add_argument("--cythondir", action="store_const", dest="get",
                       const=perfh.get_cython_dir, help="for cython -I")
    print(parser.parse_args().get())


if __name__ == "__main__":
    main()
