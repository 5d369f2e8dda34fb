/* How long does y = a x + y take on an AMD GPU?  The calls are those of the CUDA examples.
 *
 *     hipcc -O2 -I. examples/hip/saxpy.hip -o saxpy && ./saxpy
 *
 * You will see the median with its interval and the bandwidth, and what the library did to get there; then
 * the device time of ten copies to the device, timed by scopes.
 * Exit status: 77 without a device, 1 when a measurement fails.                                   */
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <string.h>
#include "perf_gpu_bench.h"

__global__ void saxpy(size_t n, float a, const float *x, float *y)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const size_t        n = 16 << 20;
    const unsigned      blocks = static_cast<unsigned>((n + 255) / 256);
    perf_gpu_bench_opts o = PERF_ZERO;
    int                 devices = 0, bad = 0;
    hipStream_t         stream;
    float              *x = NULL, *y = NULL, *host = NULL;

    if (hipGetDeviceCount(&devices) != hipSuccess || devices < 1) {
        printf("no HIP device: nothing to time\n");
        return 77;
    }
    if (hipStreamCreate(&stream) != hipSuccess || hipMalloc(&x, n * sizeof *x) != hipSuccess ||
        hipMalloc(&y, n * sizeof *y) != hipSuccess ||
        hipHostMalloc(&host, n * sizeof *host, 0) != hipSuccess ||
        hipMemset(x, 0, n * sizeof *x) != hipSuccess || hipMemset(y, 0, n * sizeof *y) != hipSuccess)
        return 1;
    memset(host, 0, n * sizeof *host);

    o.bytes = 3.0 * static_cast<double>(n * sizeof(float));     /* two reads and a write           */
    perf_gpu_bench b = perf_gpu_bench_begin("saxpy", stream, &o);
    while (perf_gpu_bench_next(&b))
        saxpy<<<blocks, 256, 0, stream>>>(n, 2.0f, x, y);
    perf_gpu_result r = perf_gpu_bench_end(&b);
    if (r.status == PERF_OK && r.time.count)
        printf("saxpy %.2f us [%.2f, %.2f]  %.1f GB/s\n%s\n", r.time.p50 / 1e3, r.time.p50_low / 1e3,
               r.time.p50_high / 1e3, r.gb_per_s, r.text);
    else
        printf("saxpy: %s: %s\n", perf_status_text(r.status), r.text);
    bad = r.status != PERF_OK;

    for (int i = 0; i < 10; i++) {
        PERF_GPU_COPY_IN("x", stream);
        bad |= hipMemcpyAsync(x, host, n * sizeof *x, hipMemcpyHostToDevice, stream) != hipSuccess;
    }
    (void)perf_gpu_collect_sync();
    perf_gpu_stats s = perf_gpu_stats_of("x");
    printf("%llu copies to the device, %.2f us each\n", static_cast<unsigned long long>(s.scopes),
           s.scopes ? s.device_ns / static_cast<double>(s.scopes) / 1e3 : 0.0);
    bad |= hipFree(x) != hipSuccess || hipFree(y) != hipSuccess || hipHostFree(host) != hipSuccess ||
           hipStreamDestroy(stream) != hipSuccess;
    return bad;
}
