#!/usr/bin/env python3
"""macros.py FOLDER HEADER...: 1 if one defines, undefines or names what is not ours to name."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import api  # noqa: E402

# Made and taken back in the same file: a setting of NVIDIA's headers, with PERF_NVTX 1 only, and the
# types that NVRTC has no header for.
BORROWED = {"NVTX_AS_SYSTEM_HEADER", "uint32_t", "uint64_t", "uintptr_t"}


def main(path):
    name = pathlib.Path(path).name
    source = pathlib.Path(path).read_text(encoding="utf-8")
    code = api.blank_comments(source)
    bad = 0
    for macro, line in api.macros(source):
        if not macro.startswith(("PERF_", "perf_")) and macro not in BORROWED:
            print(f"{name}:{line}: macro {macro} does not begin with PERF_ or perf_")
            bad = 1
    for match in re.finditer(r"^[ \t]*#[ \t]*undef[ \t]+(?!PERF_)(\w+)", code, flags=re.M):
        if match.group(1) in BORROWED:
            continue
        print(f"{name}:{code.count(chr(10), 0, match.start()) + 1}: undefines {match.group(1)}")
        bad = 1
    for number, line in enumerate(code.splitlines(), 1):
        if line.lstrip().startswith("#include"):
            continue
        text = re.sub(r'"(\\.|[^"\\])*"', '""', line)               # a sentence may name anything
        for word in re.findall(r"\b\w+", text):
            if api.KERNEL_NAME.match(word):
                print(f"{name}:{number}: {word} is a name that <linux/perf_event.h> may own")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(max([main(f"{sys.argv[1]}/{header}") for header in sys.argv[2:]]))
