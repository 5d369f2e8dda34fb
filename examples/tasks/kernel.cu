// How long does a kernel take, from a cold cache, without the cost of its launch?
#include "perf_gpu_bench.h"
#include <stdio.h>

__global__ void scale(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
}

int main()
{
    const int    n = 1 << 24;
    float       *x = nullptr;
    cudaStream_t stream;

    if (cudaMalloc(&x, n * sizeof *x) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess) {
        puts("no CUDA device");
        return 77;
    }
    perf_gpu_bench b = perf_gpu_bench_begin("scale", stream, NULL);
    while (perf_gpu_bench_next(&b))
        scale<<<n / 256, 256, 0, stream>>>(x);
    perf_gpu_bench_end(&b);
    return perf_report();
}
