#!/usr/bin/env python3
"""Traces with one planted bottleneck each: is it named, with the right numbers?  Hostile files get a sentence.

    diagnose.py TOOL [SEED]

Sums, overlap and idle time are counted a second time here, by painting every microsecond.
"""
import gzip
import json
import pathlib
import random
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
from tool import Checks  # noqa: E402

HOST, BACK, STREAM, SIDE = (100, 100), (100, 101), (0, 7), (0, 20)
GEMM = "ampere_sgemm_128x64_nn"
ADD = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array"
       "<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)")
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
DATA = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
BASE = 1_700_000_000_000_000            # us: as large as real ones


class Trace:
    """Events of a trace, times in us from 0."""

    def __init__(self, **about):
        self.events, self.link, self.about = [], 0, about

    def add(self, category, name, where, ts, dur, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": where[0], "tid": where[1],
                            "ts": BASE + ts, "dur": dur, "args": args})

    def op(self, name, ts, dur, where=HOST):
        self.add("cpu_op", name, where, ts, dur)

    def note(self, name, ts, dur):
        self.add("user_annotation", name, HOST, ts, dur)

    def step(self, number, ts, dur):
        self.note(f"ProfilerStep#{number}", ts, dur)

    def call(self, name, ts, dur, where=HOST):
        self.link += 1
        self.add("cuda_runtime", name, where, ts, dur, correlation=self.link)

    def kernel(self, name, ts, at, dur, stream=STREAM, call=5, where=HOST, **args):
        """Launched at `ts`, running from `at` on."""
        self.call("cudaLaunchKernel", ts, call, where)
        self.add("kernel", name, stream, at, dur, correlation=self.link, **args)

    def copy(self, way, ts, call, at, dur, size=1 << 20, stream=STREAM):
        self.call("cudaMemcpyAsync", ts, call)
        self.add("gpu_memcpy", f"Memcpy {way}", stream, at, dur, correlation=self.link, bytes=size)

    def text(self):
        return json.dumps({**self.about, "schemaVersion": 1, "traceEvents": self.events})

    def save(self, c, name, packed=False):
        text = self.text().encode()
        return c.file(name, gzip.compress(text, 1) if packed else text)


# ---- worlds ----

def data_bound():
    t = Trace()
    for i in range(6):
        at = i * 1000
        t.step(i, at, 1000)
        t.op(DATA, at, 700)
        t.op("aten::mm", at + 700, 50)
        t.kernel(GEMM, at + 710, at + 730, 250)
    return t


def launch_bound():
    t = Trace()
    for i in range(6):
        t.step(i, i * 1000, 1000)
        t.note("forward", i * 1000 + 10, 980)
        for k in range(19):
            t.op("aten::add", i * 1000 + 20 + k * 50, 45)
            t.kernel(ADD, i * 1000 + 60 + k * 50, i * 1000 + 66 + k * 50, 4)
    return t


def copy_bound():
    t = Trace()
    for i in range(6):
        at = i * 1000
        t.step(i, at, 1000)
        t.op("aten::to", at, 620)
        t.op("aten::_to_copy", at + 5, 610)
        t.op("aten::copy_", at + 10, 600)
        t.copy("HtoD (Pageable -> Device)", at + 20, 590, at + 50, 550, 4 << 20)
        t.kernel(GEMM, at + 650, at + 660, 300)
    return t


def sync_bound():
    t = Trace()
    for i in range(6):
        for k in range(4):
            at = i * 1000 + k * 250
            t.op("aten::mm", at, 40)
            t.kernel(GEMM, at + 10, at + 30, 60)
            t.op("aten::item", at + 50, 60)
            t.op("aten::_local_scalar_dense", at + 52, 56)
            t.copy("DtoH (Device -> Pageable)", at + 60, 10, at + 92, 2, 4)
            t.call("cudaStreamSynchronize", at + 75, 30)
        t.step(i, i * 1000, 1000)
    return t


def device_bound(kernel):
    t = Trace()
    for i in range(8):
        at = i * 1000
        t.step(i, at, 1000 if i else 3000)
        for k in range(10):
            t.kernel(kernel, at + 2 + k * 5, at + 10 + k * 100, 98, **{"est. achieved occupancy %": 50,
                                                                      "blocks per SM": 0.5 if k else 8.0})
    return t


def communication_bound():
    t = Trace(distributedInfo={"rank": 3, "world_size": 8})
    for i in range(6):
        at = i * 1000
        t.step(i, at, 1000)
        t.kernel(GEMM, at + 5, at + 20, 300)
        t.kernel(NCCL, at + 30, at + 220, 700, SIDE)
    return t


def host_only():
    t = Trace()
    for i in range(6):
        t.step(i, i * 1000, 1000)
        t.op("aten::linear", i * 1000 + 10, 900)
        t.op("aten::addmm", i * 1000 + 20, 800)
    return t


def nothing_repeats():
    t = Trace()
    t.op("aten::empty", 0, 10)
    t.op("aten::empty", 1000, 10)
    return t


def one_pause(steps=1):
    """Ten kernels, and 5 ms before one of them in which its launch loads it."""
    t = Trace()
    for i in range(steps):
        at = i * 7000
        t.step(i, at, 7000)
        for k in range(10):
            t.kernel(GEMM, at + 100 * k, at + 100 * k + 6, 90)
        t.op("aten::conv2d", at + 1100, 5000)
        t.kernel(GEMM, at + 1600, at + 6000, 90, call=4300)
    return t


def own_code(item=False, note="", steps=6):
    """Ten products, perhaps their sum by .item(), then 20 ms of Python, perhaps with a name."""
    t = Trace()
    for i in range(steps):
        at = i * 21000
        t.step(i, at, 21000)
        for k in range(10):
            t.op("aten::mm", at + k * 60, 30)
            t.kernel(GEMM, at + k * 60 + 5, at + k * 60 + 15, 50)
        if item:
            t.op("aten::item", at + 650, 60)
            t.copy("DtoH (Device -> Pageable)", at + 655, 10, at + 680, 2, 4)
            t.call("cudaStreamSynchronize", at + 666, 30)
        if note:
            t.note(note, at + 750, 20200)
    return t


def two_pauses():
    t = Trace()
    t.step(0, 0, 62000)
    for k in range(3):
        t.op("aten::mm", k * 30500, 30)
        t.kernel(GEMM, k * 30500 + 5, k * 30500 + 15, 35)
    return t


def held_back():
    """Launched at once, begun 500 us later, and nothing in the trace that runs before."""
    t = Trace()
    for i in range(6):
        t.step(i, i * 1000, 1000)
        t.kernel(GEMM, i * 1000 + 5, i * 1000 + 600, 300)
    return t


def slow_python():
    t = Trace()
    for i in range(6):
        t.step(i, i * 1000, 1000)
        t.op("aten::addmm", i * 1000 + 20, 300)
    return t


WORLDS = [
    ("code", own_code, "host code", "before aten::mm: ", .90),
    ("code after item", lambda: own_code(item=True), "host code", "before aten::mm: ", .80),
    ("code with a name", lambda: own_code(note="augment"), "host code", "where: augment: ", .90),
    ("two pauses", two_pauses, "host code", "before aten::mm: ", .90),
    ("code at the end", lambda: own_code(steps=1), "host code", "after the last operator", .90),
    ("held", held_back, "held back", "before " + GEMM, .50),
    ("slow Python", slow_python, "host code", "before aten::addmm", .60),
    ("data", data_bound, "data", "_MultiProcessingDataLoaderIter", .70),
    ("launches", launch_bound, "host launch", "forward > aten::add", .80),
    ("copies", copy_bound, "copies", "Memcpy HtoD (Pageable -> Device)", .57),
    ("item", sync_bound, "synchronisation", "aten::item > aten::_local_scalar_dense", .50),
    ("gemm", lambda: device_bound(GEMM), "device compute", None, .95),
    ("elementwise", lambda: device_bound(ADD), "memory traffic", None, .95),
    ("nccl", communication_bound, "communication", "ncclDevKernel_AllReduce", .55),
    ("host", host_only, "host compute", "aten::addmm", .85),
    ("pause", one_pause, "one pause", "before aten::conv2d: 4.904 ms, ", .70),
    ("loads", lambda: one_pause(3), "host launch", "aten::conv2d", .70),
    ("nothing", nothing_repeats, "cannot tell", None, 0),
]


def worlds(c):
    for name, make, bound, where, share in WORLDS:
        for packed in (False, True):
            path = make().save(c, f"{name}.json{'.gz' if packed else ''}", packed)
            out = c.status(0, "diagnose", path, has=f"bound by: {bound}")
            lines = out.splitlines()
            heads = [line.split(":")[0] for line in lines[1:6]]
            c.check(heads == ["baseline", "bound by", "where", "try", "verify"], f"{name}: the lines are {heads}")
            c.check(where is None or where in lines[3], f"{name}: not '{where}': {lines[3]}")
        one = json.loads(c.status(0, "diagnose", path, "--json", "-"))["traces"][0]
        c.check(one["bound"] == bound, f"{name}: JSON says {one['bound']}")
        c.check(one["share"] >= share, f"{name}: a share of {one['share']}, planted at least {share}")
        c.check(bound in ("cannot tell", "one pause") or 1 < one["best"] <= 1 / (1 - min(one["share"], .999)) + 1e-9,
                f"{name}: at most {one['best']} with a share of {one['share']}")


def evidence(c):
    """Figures that a world has by construction."""
    out = c.status(0, "diagnose", copy_bound().save(c, "c.json"), has="copies to the device, pageable: 1 a step")
    c.check("aten::_to_copy: another dtype or device" in out, "who asked for aten::copy_")
    out = c.status(0, "diagnose", sync_bound().save(c, "s.json"), has="to fetch a number (.item() and the like): ")
    c.check("drained by a synchronisation" in out, "why the device idled")
    one = json.loads(c.status(0, "diagnose", sync_bound().save(c, "s.json"), "--json", "-"))["traces"][0]
    c.check(one["fetches"] == 24, f"{one['fetches']} waits under .item(), planted 6 * 4")
    c.check(one["tiny_kernels"] == 0, "no tiny kernels were planted")
    one = json.loads(c.status(0, "diagnose", launch_bound().save(c, "l.json"), "--json", "-"))["traces"][0]
    c.check(one["tiny_kernels"] == 6 * 19 and one["queue_most"] == 1 and one["launch_p50_ns"] == 6000,
            f"{one['tiny_kernels']} tiny, queue {one['queue_most']}, {one['launch_p50_ns']} ns to begin")
    out = c.status(0, "diagnose", device_bound(GEMM).save(c, "g.json"), has="7 steps (ProfilerStep): mean 1.000 ms, std 0 ns")
    c.check("warm-up apart: 1, 3.000 ms" in out, f"the first step is apart: {out}")
    c.check("occupancy (estimated, by kernel time): 50 %; less than one block an SM: 90.0 %" in out, f"occupancy: {out}")
    out = c.status(0, "diagnose", device_bound(ADD).save(c, "e.json"), has="vectorized_elementwise_kernel: CUDAFunctor_add")
    c.check("100.0 %" in out and "elementwise\n" in out, "the family of an elementwise kernel")
    t = communication_bound()
    t.events = [e for e in t.events if "ProfilerStep" not in e["name"]]
    for i in range(7):
        t.note("Optimizer.step#SGD.step", i * 1000, 50)
    c.status(0, "diagnose", t.save(c, "o.json"), has="6 steps (from one Optimizer.step to the next): mean 1.000 ms")
    one = json.loads(c.status(0, "diagnose", one_pause(3).save(c, "l.json"), "--json", "-"))["traces"][0]
    c.check(one["idle_ns"]["in a long launch call"] == 3 * 4300000, f"calls that load: {one['idle_ns']}")
    t = Trace()
    for i in range(3):                  # as many as schedule(active=3) records
        t.step(i, 3000 * (i > 0) + i * 1000, 1000 if i else 4000)
        t.kernel(GEMM, 3000 * (i > 0) + i * 1000 + 5, 3000 * (i > 0) + i * 1000 + 10, 900)
    out = c.status(0, "diagnose", t.save(c, "three.json"), has="bound by: device compute")
    c.check("2 steps (ProfilerStep): mean 1.000 ms" in out and "warm-up apart: 1, " in out, f"the first of three: {out}")
    t = Trace()
    for i in range(6):                  # 5 ms of waiting, 20 ms of Python with a module's name
        t.step(i, i * 26000, 26000)
        t.kernel(GEMM, i * 26000, i * 26000 + 10, 5000)
        t.call("cudaDeviceSynchronize", i * 26000 + 30, 5000)
        t.add("python_function", "nn.Module: Linear_0", HOST, i * 26000 + 5100, 20000)
    one = json.loads(c.status(0, "diagnose", t.save(c, "both.json"), "--json", "-"))["traces"][0]
    most = max(row["ns"] for row in one["host_code"]) / one["window_ns"]
    c.check(one["bound"] == "host code" and most <= one["share"] + 1e-9, f"a part of {one['share']} is {most}")
    t = launch_bound()
    t.step(6, 6000, 12)
    c.status(0, "diagnose", t.save(c, "cut.json"), has="the last one, cut short, apart")
    t = Trace()
    t.add("Operator", "aten::mm", HOST, 0, 10)
    t.add("Runtime", "cudaLaunchKernel", HOST, 2, 5, correlation=9)
    t.add("Kernel", GEMM, STREAM, 20, 10, correlation=9)
    c.status(0, "diagnose", c.file("old.json", json.dumps(t.events)), has="aten::mm")       # an array, older names


FAMILIES = """convolution: volta_fp16_s884cudnn_fp16_128x128_ldg8_splitK_relu_f2f_exp_small_nhwc_tn_v1
convolution: igemm_fwd_gtcx2_nhwc_fp16_bx0_ex0_bt128x128x32
convolution: miopenSp3AsmConv_v30_3_1_gfx90a_fp32_f2x3_stride1
matrix product: nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT
matrix product: Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_SE
matrix product: triton_tem_fused_mm_3
matrix product: matmul_kernel
attention: void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<2> > >(flash::Params)
attention: void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<int> >(ck_tile::Kargs)
attention: _attn_fwd
batch or layer norm: MIOpenBatchNormFwdTrainSpatial
batch or layer norm: triton_red_fused_native_layer_norm_1
pooling: mloPoolingG
layout change: void at::native::im2col_kernel<float>(long, float const*)
collectives: void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)
collectives: void flashinfer::trtllm_allreduce_fusion::kernel<8>(int)
elementwise: void kernelPointwiseApply2<TensorAddOp<float>, float>(OffsetInfo)
Triton: triton_poi_fused_add_relu_0
other kernels: my_own_kernel"""


def names(c):
    """Kernels of V100, H100, AMD and Triton by their families; what older releases and ROCm write otherwise."""
    t, want = Trace(), {}
    for i, line in enumerate(FAMILIES.splitlines()):
        family, name = line.split(": ", 1)
        t.kernel(name, i * 100, i * 100 + 10, i + 1)
        want[family] = want.get(family, 0) + (i + 1) * 1000
    one = json.loads(c.status(0, "diagnose", t.save(c, "names.json"), "--json", "-"))["traces"][0]
    got = {family: ns for family, ns in one["family_ns"].items() if ns}
    c.check(got == want, f"families: {got}, planted {want}")
    t = Trace()
    for i in range(6):                  # PyTorch 1.8: its own annotations are operators
        t.add("Operator", f"ProfilerStep#{i}", HOST, i * 1000, 1000)
        t.add("Operator", "aten::addmm", HOST, i * 1000 + 20, 300)
    one = json.loads(c.status(0, "diagnose", t.save(c, "steps.json"), "--json", "-"))["traces"][0]
    c.check([o["name"] for o in one["operators"]] == ["aten::addmm"], f"a step is no operator: {one['operators']}")
    events = []                         # a PyTorch without Kineto, as Debian's: an array, and no categories
    for i in range(4):
        for name, ts, dur in ((f"ProfilerStep#{i}", 0, 900), ("augment", 10, 500), ("aten::addmm", 600, 200)):
            events.append({"name": name, "ph": "X", "ts": i * 900 + ts, "dur": dur, "tid": 1, "pid": "CPU functions",
                           "args": {}})
        events.append({**events[-1], "name": "enumerate(DataLoader)#x", "ts": i * 900 + 580, "dur": 10})
        events.append({**events[-1], "name": "aten::stack"})
    out = c.status(0, "diagnose", c.file("legacy.json", json.dumps(events)), has="bound by: host code")
    c.check("operators 22.2 %, data 1.1 %, neither 76.7 %" in out, f"shares that add up: {out}")
    c.check("4 steps (ProfilerStep): mean 900.0 us" in out and "where: augment: " in out, f"without Kineto: {out}")
    t = Trace()
    t.call("hipMemcpyWithStream", 0, 100)
    t.add("gpu_memcpy", "CopyHostToDevice", STREAM, 10, 80, correlation=t.link)
    out = c.status(0, "diagnose", t.save(c, "rocm.json"), has="copies to the device: 1 in all")
    c.check("pinned" not in out.split("evidence:")[-1], f"ROCm does not say which memory: {out}")


def limits(c):
    """What a trace lacks is said; one device's idling is not hidden by another's work."""
    t = Trace()
    for i in range(6):
        t.step(i, i * 1000, 1000)
        t.add("kernel", GEMM, STREAM, i * 1000 + 300, 200)
    out = c.status(0, "diagnose", t.save(c, "unseen.json"), has="bound by: cannot tell")
    c.check("try: profile with ProfilerActivity.CPU, too" in out, f"a trace without launches: {out}")
    c.check("nothing more launched 100" not in out, f"launches that are not in the file: {out}")
    t = Trace()
    for i in range(6):                  # each does half
        t.step(i, i * 1000, 1000)
        t.kernel(GEMM, i * 1000 + 5, i * 1000 + 10, 490, (0, 7))
        t.kernel(GEMM, i * 1000 + 6, i * 1000 + 505, 480, (1, 7))
    out = c.status(0, "diagnose", t.save(c, "devices.json"), has="the busiest of 2 devices: 0")
    c.check("device computes 49.0 %" in out, f"half of the time: {out}")
    one = json.loads(c.status(0, "diagnose", sync_bound().save(c, "s.json"), "--json", "-"))["traces"][0]
    c.check(abs(one["best"] - 1 / (1 - .24)) < .01, f"without 4 * 60 us of .item(): at most {one['best']}")
    t = Trace()                         # the clock of a device that is behind the host's by 0.9 ms
    for i in range(6):
        t.step(i, i * 1000, 1000)
        for k in range(2):
            t.kernel(GEMM, i * 1000 + 12 + 10 * k, i * 1000 + (100 + 400 * k if i else 800 * k - 900), 300)
    one = json.loads(c.status(0, "diagnose", t.save(c, "early.json"), "--json", "-"))["traces"][0]
    c.check(sum(one["idle_ns"].values()) == one["idle_all_ns"] and one["busy_ns"] == 3_200_000,
            f"kernels before their launch: busy {one['busy_ns']}, idle {one['idle_all_ns']}: {one['idle_ns']}")


def painted(t):
    """ns of computing, collectives, copies, of what overlaps, and the window: microsecond by microsecond."""
    kinds = {}
    for e in t.events:
        kind = {"kernel": "collective" if "nccl" in e["name"] else "compute", "gpu_memcpy": "copy"}.get(e["cat"])
        if kind:
            kinds.setdefault(kind, set()).update(range(e["ts"] - BASE, e["ts"] - BASE + e["dur"]))
    compute, collective, copy = (kinds.get(k, set()) for k in ("compute", "collective", "copy"))
    every = compute | collective | copy
    window = max(every) + 1 - min(every)
    return {"window_ns": window, "busy_ns": len(every), "compute_ns": len(compute), "copy_ns": len(copy),
            "collective_ns": len(collective), "only_collective_ns": len(collective - compute),
            "only_copy_ns": len(copy - compute - collective), "overlap_copy_ns": len(copy & compute),
            "overlap_collective_ns": len(collective & compute), "idle_all_ns": window - len(every)}


def oracle(c, rng):
    for number in range(40):
        t, at = Trace(), [0, 0, 0]
        for _ in range(rng.randint(1, 60)):
            lane = rng.randrange(3)
            at[lane] += rng.randint(0, 60)
            dur, ts = rng.randint(0, 50), max(0, at[lane] - rng.randint(0, 30))
            stream = (0, 7 + lane)
            if lane == 2:
                t.copy(rng.choice(["DtoH (Device -> Pinned)", "HtoD (Pinned -> Device)"]), ts, 2, at[lane], dur, 9, stream)
            else:
                t.kernel(NCCL if lane else GEMM, ts, at[lane], dur, stream, call=rng.choice((5, 300)))
            at[lane] += dur
        if not any(e["dur"] for e in t.events if e["cat"] in ("kernel", "gpu_memcpy")):
            continue
        want = painted(t)
        rng.shuffle(t.events)
        one = json.loads(c.status(0, "diagnose", t.save(c, "r.json"), "--json", "-") or "{}")["traces"][0]
        for key, ns in want.items():
            if key in ("window_ns", "idle_all_ns"):     # events of no length reach further than what is painted
                c.check(one[key] >= ns * 1000, f"trace {number}: {key} is {one[key]}, painted {ns * 1000}")
            else:
                c.check(one[key] == ns * 1000, f"trace {number}: {key} is {one[key]}, painted {ns * 1000}")
        parts = one["compute_ns"] + one["only_collective_ns"] + one["only_copy_ns"] + one["idle_all_ns"]
        c.check(parts == one["window_ns"], f"trace {number}: parts add up to {parts} of {one['window_ns']}")
        why = sum(one["idle_ns"].values())
        c.check(why == one["idle_all_ns"], f"trace {number}: idle {one['idle_all_ns']}, explained {why}")


def several(c):
    ranks = []
    for rank in range(4):
        t = communication_bound()
        t.about["distributedInfo"]["rank"] = rank
        for e in t.events:
            if rank == 2 and e["name"] == GEMM:
                e["dur"] = 600
            if rank == 2 and e["name"] == NCCL:
                e["ts"] += 400
                e["dur"] -= 400
        ranks.append(t.save(c, f"rank{rank}.json"))
    out = c.status(0, "diagnose", *ranks, has="slowest: rank 2: its own work takes")
    c.check(out.count("\n   ") >= 4, "a row a rank")
    c.status(0, "diagnose", *ranks[:2], has="slowest: rank")                # ranks differ
    before, after = launch_bound(), launch_bound()
    after.events = [e for e in after.events if e["name"] != ADD or e["ts"] % 3]
    for i in range(6):
        after.kernel(GEMM, i * 1000 + 5, i * 1000 + 12, 20)
    a, b = before.save(c, "before.json"), after.save(c, "after.json")
    for args in ((a, "--against", b), (a, b)):
        out = c.status(0, "diagnose", *args, has="one trace is one run")
        c.check(f"{GEMM} (new)" in out, f"a new kernel: {out}")
        row = [line for line in out.splitlines() if "CUDAFunctor_add" in line]
        c.check(len(row) == 1 and row[0].split()[0:2] == ["76.00", "us"], f"calls of a kernel: {row}")
    c.status(0, "diagnose", a, b, "--ranks", has="slowest: rank")
    c.status(0, "diagnose", b, "--against", a, has=f"{GEMM} (gone)")
    c.status(0, "diagnose", a, "--against", a, has="no difference")
    c.status(0, "diagnose", a, "--json", c.work / "out.json")
    c.check(json.loads((c.work / "out.json").read_text())["perf_diagnose"] == 1, "--json FILE")


def members(c, rng):
    """A file of gzip may be several in a row (RFC 1952); what is behind them is left alone."""
    text = launch_bound().text().encode()
    size = len(text)
    want = c.run("diagnose", c.file("members", text))[1]
    for cut in ([size // 2], [1], sorted(rng.randrange(size) for _ in range(40))):
        packed = [gzip.compress(text[a:b]) for a, b in zip([0, *cut], [*cut, size])]
        for behind in (b"", b"\0" * 512):
            out = c.status(0, "diagnose", c.file("members", b"".join(packed) + behind))
            c.check(out == want, f"{len(packed)} members: {out}")
        c.status(3, "diagnose", c.file("members", b"".join(packed[:-1])), has="cut off")
        c.status(3, "diagnose", c.file("members", packed[0][:-9]), has="cut off")


def refused(c, rng):
    good = launch_bound().text()
    for name, content, has in (
            ("empty", "", "this file is empty"), ("word", "hello", "not JSON: unexpected 'h'"),
            ("zero", b"\0" * 5000, "unexpected byte 0x00"), ("other", '{"a": [1, 2]}', 'without "traceEvents"'),
            ("none", '{"traceEvents": []}', "no operator, kernel or step"),
            ("deep", '{"a": ' + "[" * 100000, "nested more than 256 deep"),
            ("deep args", '{"traceEvents": [{"args": {"x": ' + '{"a":' * 5000, "nested more than 256 deep"),
            ("comma", '{"traceEvents": [{"ph": "X",, }]}', "not JSON: unexpected ','"),
            ("bracket", '{"a": [1, 2}, "traceEvents": []}', "not JSON: unexpected '}'"),
            ("packed", gzip.compress(good.encode())[:-200], "cut off"),
            ("damaged", gzip.compress(good.encode())[:300] + b"\x99" * 500, "damaged")):
        c.status(3, "diagnose", c.file(f"{name}.json", content), has=has)
    long = json.loads(good)
    for event in long["traceEvents"]:
        event["ts"] = event.get("ts", 0) - 3.9e15 * (event.get("ph") == "X")
        if event.get("ph") == "X":
            event["dur"] = 3.9e15
    c.run("diagnose", c.file("long.json", json.dumps(long)))         # sums that wrap are seen by UBSan
    for _ in range(40):
        c.status(3, "diagnose", c.file("short.json", good[:rng.randrange(1, len(good) - 2)]), has="cut off")
    huge = json.loads(good)
    for i, value in enumerate((1e300, -1e300, 10 ** 40, 1e18, "x", None, float("nan"))):
        huge["traceEvents"][i * 3]["ts" if i % 2 else "dur"] = value
    huge["traceEvents"][30]["args"] = {"correlation": 1e300, "bytes": -5, "blocks per SM": "many"}
    out = c.status(0, "diagnose", c.file("huge.json", json.dumps(huge)), has="bound by: host launch")
    c.check("left out: 7 events whose time is none" in out, f"what was left out: {out}")
    bad = launch_bound()
    for e in bad.events:
        e["name"] = "\x1b[2J" + e["name"] if e["cat"] == "kernel" else e["name"]
    for more in ((), ("--json", "-")):
        out = c.status(0, "diagnose", bad.save(c, "escape.json"), *more)
        c.check("\x1b" not in out, "an escape sequence got through")
    c.status(3, "diagnose", has="diagnose which trace?")
    c.status(3, "diagnose", "nowhere.json", has="nowhere.json: cannot be opened")
    c.status(3, "diagnose", c.work, has="Is a directory")
    c.status(3, "diagnose", c.work / "word.json", "--nonsense", has="no such option")
    a = c.file("good.json", good)
    c.status(3, "diagnose", a, a, a, "--against", a, has="--against compares one trace with")
    c.status(3, "diagnose", a, "--json", "no/such/x.json", has="cannot be written")
    c.status(0, "diagnose", "-", text=good, has="bound by: host launch")


def mutated(c, rng):
    """Whatever a byte becomes: an answer, or a sentence."""
    good = sync_bound().text()[:6000].rsplit("}, {", 1)[0] + "}]}"
    for _ in range(150):
        text = bytearray(good.encode())
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(text))
            text[at:at + rng.choice((0, 1, 1, 5))] = bytes(rng.choice(b'{}[]",:0919eE.-\\ux\xff') for _ in range(rng.randint(0, 3)))
        status, out, err = c.run("diagnose", c.file("m.json", bytes(text)))
        c.check(status == 0 or (status == 3 and err.startswith("perf-ab: ")), f"status {status}: {out[:200]}{err[:500]}")


def large(c):
    """Memory does not grow with what is passed over: 200 MB of one text, in a sixth of that memory."""
    def stingy():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 27, 1 << 27))
    path = c.work / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as f:
        f.write(b'{"junk": "')
        for _ in range(200):
            f.write(b"a" * 1000000)
        f.write(b'", ' + launch_bound().text().encode()[1:])
    done = subprocess.run([c.tool, "diagnose", path], capture_output=True, text=True, timeout=120,
                          preexec_fn=None if "sanitized" in c.tool else stingy)
    c.check(done.returncode == 0 and "host launch" in done.stdout, f"{done.returncode}: {done.stderr[:300]}")


def main():
    c = Checks("diagnose")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    worlds(c)
    evidence(c)
    names(c)
    limits(c)
    oracle(c, rng)
    several(c)
    members(c, rng)
    refused(c, rng)
    mutated(c, rng)
    large(c)
    c.finish()


main()
