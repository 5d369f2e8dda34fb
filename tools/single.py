#!/usr/bin/env python3
"""single.py [FOLDER]: the headers of the library as three files, for who wants to copy one.

    perf.h        the host's part: scopes, loops, reports; with PERF_ALL=1 also traces, memory,
                  diagnosis, results and baselines, logs of histograms, counters
    perf_stats.h  numbers, histogram, verdicts: no clock, no thread
    perf_cuda.h   devices; uses the perf.h beside it, and holds it for a folder that has none

FOLDER is single_include/ unless given.  Each is made of the headers of the tree, whose include guards
stay: a file may include both.  `single.py --check` says whether the committed files are the ones that
the headers of the tree give.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'#\s*include "(perf\w*\.h)"')

# What perf.h brings when it is asked to, below its other rooms.
ON_REQUEST = [("PERF_ALL || defined(PERF_MAIN) || defined(PERF_AT_EXIT) || PERF_NVTX || PERF_ROCTX", ["perf_sink.h"]),
              ("PERF_NVTX || PERF_ROCTX", ["perf_nvtx.h"]),
              ("PERF_ALL || defined(PERF_MAIN) || defined(PERF_AT_EXIT)", ["perf_proc.h"]),
              ("PERF_ALL || defined(PERF_MAIN) || defined(PERF_AT_EXIT)", ["perf_counters.h"]),
              ("PERF_ALL || defined(PERF_MAIN)", ["perf_export.h", "perf_main.h"]),
              ("PERF_ALL || defined(PERF_AT_EXIT)", ["perf_diagnosis.h"]),
              ("PERF_ALL", ["perf_trace.h", "perf_memory.h", "perf_tally.h", "perf_hlog.h"])]
DEVICES = ["perf_cuda.h", "perf_gpu_bench.h", "perf_kernel.h"]
# Included under a condition, these stand in the same file, above that line or below: the line can go.
# Any other #include under a condition is an error.
FOLLOWS = {"perf_record.h", "perf_report.h", "perf_loop.h", "perf_hist.h", "perf_export.h",
           "perf_counters.h", "perf_main.h", "perf_diagnosis.h", "perf_nvtx.h"}
# These stay #includes of a file that lies beside the three, or is one of them.
STAYS = {"perf.h", "perf_cuda.h", "perf_gpu_driver.h"}


def inlined(name, seen):
    """The lines of a header, with those of the headers that it includes, each once."""
    seen.add(name)
    depth, lines = 0, [f"/* ==== {name} ==== */"]
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        word = re.match(r"\s*#\s*(if|endif)", line)
        depth += {"if": 1, "endif": -1}[word.group(1)] if word else 0
        found = INCLUDE.match(line)
        other = found.group(1) if found else None
        if not found:
            lines.append(line)
        elif other in seen:
            pass
        elif depth == 1:                        # the include guard, no condition
            lines += [*inlined(other, seen), f"/* ==== {name}, continued ==== */"]
        elif other in STAYS:
            lines.append(line)
        elif other not in FOLLOWS:
            sys.exit(f"single.py: {name} includes {other} under a condition")
    return lines


def first(name):
    return [f"/* {name} in one file, made by tools/single.py of the headers of the repository. */"]


def host(seen):
    lines = ["#ifndef PERF_ALL                /* 1: also what no program needs at first           */",
             "#define PERF_ALL 0", "#endif", *inlined("perf.h", seen)]
    for condition, names in ON_REQUEST:
        wanted = [line for name in names if name not in seen for line in inlined(name, seen)]
        lines += [f"#if {condition}", *wanted, "#endif"]
    return lines


def devices():
    """The host's part only where no other file has it."""
    seen = set()
    within = host(seen)
    lines = ["#if defined(__has_include)", '#if __has_include("perf.h")', '#include "perf.h"',
             "#endif", "#endif", "#ifndef PERF_H", *within, "#endif"]
    for name in DEVICES:
        lines += inlined(name, seen) if name not in seen else []
    return lines + ["#if PERF_ALL", *inlined("perf_cupti.h", seen), *inlined("perf_rocprofiler.h", seen), "#endif"]


def files():
    return {"perf.h": first("perf.h") + host(set()),
            "perf_stats.h": first("perf_stats.h") + inlined("perf_stats.h", set()),
            "perf_cuda.h": first("perf_cuda.h") + devices()}


def main(arguments):
    check = arguments[:1] == ["--check"]
    folder = pathlib.Path(arguments[0]) if arguments and not check else ROOT / "single_include"
    stale = 0
    folder.mkdir(exist_ok=True)
    for name, lines in files().items():
        text, path = "\n".join(lines) + "\n", folder / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"FAILED: single_include/{name} is stale: run tools/single.py")
            stale += 1
    return stale != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
