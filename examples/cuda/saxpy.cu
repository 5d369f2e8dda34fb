/* How long does y = a x + y take, and how close is it to what the memory can do?
 *
 *     nvcc -O2 -I. examples/cuda/saxpy.cu -o saxpy && ./saxpy
 *
 * You will see one line for each of four ways to time the same kernel: with the cache flushed before
 * each sample, with what the run before left in the cache, as a CUDA graph, and on 64 KB, where a launch
 * costs more than the work.  Each has the median with its 95 % interval, the bandwidth and its share of
 * the read bandwidth measured just before, and what the library did to get there (samples, step of the
 * event clock, samples without proof that no host time leaked in).
 * Exit status: 77 without a CUDA device, 1 when a measurement fails.                              */
#include "perf_gpu_bench.h"
#include <stdio.h>

__global__ void saxpy(size_t n, float a, const float *x, float *y)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

static int measure(const char *name, cudaStream_t stream, perf_gpu_cache cache, int graph, size_t n,
                   const float *x, float *y)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    const unsigned      blocks = static_cast<unsigned>((n + 255) / 256);

    o.cache = cache;
    o.graph = graph;
    o.bytes = 3.0 * static_cast<double>(n * sizeof(float));     /* two reads and a write           */
    perf_gpu_bench b = perf_gpu_bench_begin(name, stream, &o);
    while (perf_gpu_bench_next(&b))
        saxpy<<<blocks, 256, 0, stream>>>(n, 2.0f, x, y);
    perf_gpu_result r = perf_gpu_bench_end(&b);
    if (r.status != PERF_OK || !r.time.count) {
        printf("%-12s %s: %s\n", name, perf_status_text(r.status), r.text);
        return 1;
    }
    printf("%-12s %9.2f us [%.2f, %.2f]  %7.1f GB/s", name, r.time.p50 / 1e3,
           r.time.p50_low / 1e3, r.time.p50_high / 1e3, r.gb_per_s);
    if (r.peak_gb_per_s > 0)
        printf(" = %.1f %% of %.1f", 100 * r.gb_per_s / r.peak_gb_per_s, r.peak_gb_per_s);
    printf("\n             %s\n", r.text);
    return 0;
}

int main()
{
    const size_t n = 16 << 20;
    int          devices = 0, bad;
    cudaStream_t stream;
    float       *x = NULL, *y = NULL;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing to time\n");
        return 77;
    }
    if (cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc(&x, n * sizeof *x) != cudaSuccess ||
        cudaMalloc(&y, n * sizeof *y) != cudaSuccess ||
        cudaMemset(x, 0, n * sizeof *x) != cudaSuccess ||
        cudaMemset(y, 0, n * sizeof *y) != cudaSuccess) {
        printf("set-up: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    bad = measure("cold 64 MB", stream, PERF_GPU_COLD, 0, n, x, y);
    bad |= measure("hot 64 MB", stream, PERF_GPU_HOT, 0, n, x, y);
    bad |= measure("graph", stream, PERF_GPU_HOT, 1, n, x, y);
    bad |= measure("hot 64 KB", stream, PERF_GPU_HOT, 0, 16384, x, y);
    cudaFree(x);
    cudaFree(y);
    cudaStreamDestroy(stream);
    return bad;
}
