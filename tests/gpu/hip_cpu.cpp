/* HIP that runs on the host (HIP-CPU): scopes, memory and a bench. */
#include <hip/hip_runtime.h>
#include "perf_gpu_bench.h"

#include "check.h"

__global__ void work(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}

int main(void)
{
    const uint32_t       blocks = 16, threads = 64;
    void                *x = NULL;
    hipStream_t          stream;
    perf_gpu_bench_opts  o = perf_gpu_bench_opts_default();
    int                  i;

    CHECK(hipStreamCreate(&stream) == hipSuccess && hipMalloc(&x, 4096) == hipSuccess, "set-up");
    memset(x, 0, 4096);
    for (i = 0; i < 20; i++) {
        PERF_GPU_SCOPE("work", stream);
        hipLaunchKernelGGL(work, dim3(blocks), dim3(threads), 0, stream,
                           static_cast<float *>(x), 1000);
    }
    CHECK(perf_gpu_status() == PERF_OK && !strcmp(perf_gpu_table()->name, "HIP"), "%d", perf_gpu_status());
    CHECK(perf_gpu_collect() == PERF_OK && perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("work").scopes == 20 && perf_gpu_stats_of("work").device_ns > 0, "%g", perf_gpu_stats_of("work").device_ns);
    CHECK(perf_gpu_memory_mark("mark") == PERF_OK, "%s", perf_gpu_error_text());

    o.samples = 5;
    perf_gpu_bench b = perf_gpu_bench_begin("work", stream, &o);
    while (perf_gpu_bench_next(&b))
        hipLaunchKernelGGL(work, dim3(blocks), dim3(threads), 0, stream,
                           static_cast<float *>(x), 1000);
    perf_gpu_result r = perf_gpu_bench_end(&b);
    CHECK((r.status == PERF_OK || r.status == PERF_ENODATA) && r.samples == 5 && !r.code, "%s", r.text);
    return check_done();
}
