#!/usr/bin/env python3
"""single.py OUT: all rooms of perf.h in one file, for who wants to copy no more than that.

Takes perf.h and puts each of our headers that it includes in place of the #include, once, and theirs
likewise.  What stands in OPTIONAL stays an #include: most programs need none of it, and copy it too
when they do.  An #include under a condition cannot be replaced so and is an error.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONAL = {"perf_cuda.h", "perf_gpu_bench.h", "perf_kernel.h", "perf_nvtx.h", "perf_trace.h",
            "perf_json.h", "perf_saved.h", "perf_results.h", "perf_export.h", "perf_main.h", "perf_gpu_driver.h", "perf_gpu_memory.h", "perf_gpu_scope.h",
            "perf_hlog.h", "perf_tally.h",
            "perf_memory.h", "perf_diagnosis.h", "perf_proc.h", "perf_counters.h"}
# What a room includes last where there is no core in another file: here it follows anyway.
LAST = {("perf_core.h", "perf_record.h"), ("perf_scope.h", "perf_record.h"),
        ("perf_registry.h", "perf_record.h"),
        ("perf_calibration.h", "perf_record.h"), ("perf_layout.h", "perf_record.h"),
        ("perf_scope.h", "perf_report.h"),
        ("perf_bench.h", "perf_loop.h"),
        ("perf_report.h", "perf_loop.h"), ("perf_loop_rows.h", "perf_loop.h"),
        ("perf_gpu_scope.h", "perf_cuda.h")}


def inlined(name, seen):
    """The lines of a header, with those of its rooms."""
    text = (ROOT / name).read_text(encoding="utf-8")
    depth, lines = 0, []
    for line in text.splitlines():
        word = re.match(r"\s*#\s*(if|endif)", line)
        depth += {"if": 1, "endif": -1}[word.group(1)] if word else 0
        room = re.match(r'#\s*include "(perf\w*\.h)"', line)
        if not room or room.group(1) in OPTIONAL:
            lines.append(line)
        elif depth > 1 and (name, room.group(1)) in LAST:
            lines.append("/* it follows below */")
        elif room.group(1) not in seen:
            if depth > 1:                       # 1: the include guard
                sys.exit(f"single.py: {name} includes {room.group(1)} under a condition")
            seen.add(room.group(1))
            lines += [f"/* ==== {room.group(1)} ==== */", *inlined(room.group(1), seen),
                      f"/* ==== {name}, continued ==== */"]
    return lines


def main(out):
    text = "\n".join(inlined("perf.h", {"perf.h"})) + "\n"
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
