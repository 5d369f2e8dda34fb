"""A C++ extension of PyTorch that marks its scopes: one report with Python.

    pip install torch ninja ./cython && python3 examples/python/cpp_extension.py

Compiles for up to a minute.  You will see a tree with "normalize" and "square root" of C++ below
"step" of Python, and the extension's own benchmark under it."""
import perfh
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include "perf.h"

torch::Tensor normalize(torch::Tensor x)
{
    PERF_SCOPE("normalize");
    torch::Tensor norm = x.pow(2).sum();
    {
        PERF_SCOPE("square root");
        norm = norm.sqrt();
    }
    return x / norm;
}

double bench(torch::Tensor x)
{
    perf_bench b = perf_bench_begin("x * 2", NULL);
    while (perf_bench_next(&b)) {
        torch::Tensor y = x * 2;
        perf_keep(y.data_ptr());
    }
    return perf_bench_end(&b).time.p50;
}
"""

extension = load_inline("perf_example", SOURCE, functions=["normalize", "bench"],
                        extra_include_paths=[perfh.get_include()], extra_cflags=["-O2"])
x = torch.rand(1000)
for _ in range(10):
    with perfh.scope("step"):
        extension.normalize(x)
assert extension.bench(x) > 0
print(perfh.report_text("tree"))
