#!/usr/bin/env python3
"""perf-ab diagnose against HolisticTraceAnalysis (PyPI): do both count the same in the same trace?

    holistic.py TOOL [TRACE...]

Idle, computing and other time of the window, time by kind of kernel, and what of the collectives runs
beside computing agree within HTA's rounding (begin and end are cut to 1 us).  Two things are done to a trace before:
the records of waits (cuda_sync) go, as HTA takes those with a stream for work of the device, and so do
marks of steps, by which each cuts its window in its own way.
"""
import gzip
import importlib.util
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

GEMM, NCCL = "ampere_sgemm_128x64_nn", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"


def made(rng):
    """Kernels, collectives and copies on three streams, at random; the launches before them."""
    events, link = [], 100000           # HTA keeps them in as few bits as their values need
    for lane in range(3):
        at = 1000
        for _ in range(rng.randint(5, 40)):
            at, link = at + rng.randint(0, 60), link + 1
            dur, is_copy = rng.randint(1, 50), lane == 2
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100,
                           "ts": 10 * (link - 100000), "dur": 5, "args": {"correlation": link, "cbid": 1}})
            events.append({"ph": "X", "cat": "gpu_memcpy" if is_copy else "kernel", "pid": 0, "tid": 7 + lane,
                           "name": ["Memcpy HtoD (Pinned -> Device)", GEMM, NCCL][(lane + 1) % 3], "ts": at, "dur": dur,
                           "args": {"correlation": link, "stream": 7 + lane, "device": 0}})
            at += dur
    return {"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events}


def plain(trace):
    """A trace without what the two take differently."""
    steps = ("ProfilerStep", "Optimizer.step")
    kept = [e for e in trace["traceEvents"] if e.get("cat") != "cuda_sync" and not str(e.get("name")).startswith(steps)]
    return {**trace, "traceEvents": kept}


def of_hta(folder, path):
    from hta.trace_analysis import TraceAnalysis
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = TraceAnalysis(trace_files={0: path}, trace_dir=folder)
        times = trace.get_temporal_breakdown(visualize=False).iloc[0]
        kinds, _ = trace.get_gpu_kernel_breakdown(visualize=False)
        overlap = trace.get_comm_comp_overlap(visualize=False).iloc[0]
    kind = dict(zip(kinds["kernel_type"], kinds["sum"]))
    return {"window": times["kernel_time(us)"], "idle": times["idle_time(us)"], "compute": times["compute_time(us)"],
            "collective": sum(us for name, us in kind.items() if "COMMUNICATION" in name),
            "copy": sum(us for name, us in kind.items() if "MEMORY" in name),
            "overlap %": overlap["comp_comm_overlap_pctg"]}


def of_ours(tool, path):
    out = subprocess.run([tool, "diagnose", path, "--json", "-"], capture_output=True, check=True).stdout
    one = json.loads(out)["traces"][0]
    found = {key: one[key.replace("idle", "idle_all") + "_ns"] / 1e3 for key in
             ("window", "idle", "compute", "collective", "copy")}
    if one["collective_ns"]:
        found["overlap %"] = 100 * one["overlap_collective_ns"] / one["collective_ns"]
    return found


def agree(tool, name, trace):
    """Prints both figures.  How many differ."""
    trace = plain(trace)
    of_device = [e for e in trace["traceEvents"] if e.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset")]
    is_whole = all(e["ts"] == int(e["ts"]) and e["dur"] == int(e["dur"]) for e in of_device)
    rounding = 0.001 if is_whole else 2 * len(of_device)        # us: HTA cuts begin and end of each
    with tempfile.TemporaryDirectory(prefix="perfh.") as folder:
        path = os.path.join(folder, "trace.json")
        pathlib.Path(path).write_text(json.dumps(trace))
        theirs, ours = of_hta(folder, path), of_ours(tool, path)
    different = 0
    for key, mine in ours.items():
        fine = abs(theirs[key] - mine) <= (0.1 if key == "overlap %" else rounding)
        different += not fine
        print(f"{'' if fine else 'FAILED: '}{name}: {key}: {mine:.10g}, HTA {theirs[key]}")
    return different


def main():
    if importlib.util.find_spec("hta") is None:
        print("skipped: HolisticTraceAnalysis is not installed (pip install HolisticTraceAnalysis)")
        return 77
    logging.disable(logging.CRITICAL)
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    traces = [(f"trace {i}", made(rng)) for i in range(4)]
    for path in sys.argv[2:]:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as f:
            traces.append((path, json.load(f)))
    different = sum(agree(sys.argv[1], name, trace) for name, trace in traces)
    print(f"{len(traces)} traces, {different} figures differ")
    return different > 0


sys.exit(main())
