"""perfh-config, or python -m perfh: where things are, for build systems."""
import argparse

import perfh


def main():
    parser = argparse.ArgumentParser(prog="perfh-config", description="Where perfh's files are.")
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
