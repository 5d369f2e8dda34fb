/* Kernels record into the caller-owned form in device memory; the host records the same values.
 * Same counters, or the test fails.  Exit status 77 (skipped) without a device.                  */
#include "samples.h"
#include "../check.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void record(perf_hist *h, const uint64_t *v, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        perf_hist_add_shared(h, v[i]);
}

int main()
{
    static const int n = 1 << 20;
    uint64_t        *v = static_cast<uint64_t *>(malloc(n * sizeof *v)), *dv;
    rng              r = {111};
    int              devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no device\n");
        return 77;
    }
    printf("seed 111\n");
    for (int i = 0; i < n; i++)
        v[i] = i % 100 ? rng_magnitude(&r, 64) : 0;
    cudaMalloc(&dv, n * sizeof *v);
    cudaMemcpy(dv, v, n * sizeof *v, cudaMemcpyHostToDevice);
    for (int bits = 0; bits <= 12; bits++) {
        perf_hist_opts o = PERF_ZERO;
        o.bits = bits;
        size_t     bytes = bits ? perf_hist_bytes(&o) : sizeof(perf_hist);
        void      *m = calloc(1, bytes), *k = calloc(1, bytes), *dm;
        perf_hist *host = bits ? perf_hist_init(m, bytes, &o) : perf_hist_attach(m, bytes);
        perf_hist *back = bits ? perf_hist_init(k, bytes, &o) : perf_hist_attach(k, bytes);
        cudaMalloc(&dm, bytes);
        cudaMemcpy(dm, m, bytes, cudaMemcpyHostToDevice);
        record<<<(n + 255) / 256, 256>>>(static_cast<perf_hist *>(dm), dv, n);
        CHECK(cudaMemcpy(k, dm, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "kernel");
        for (int i = 0; i < n; i++)
            perf_hist_add(host, v[i]);
        CHECK(!memcmp(hist_cells(host), hist_cells(back),
                      hist_cell_bytes(host)), "bits %d: counters", bits);
        CHECK(perf_hist_count(host) == perf_hist_count(back) &&
                  perf_hist_quantile(host, 0) == perf_hist_quantile(back, 0) &&
                  perf_hist_quantile(host, 1) == perf_hist_quantile(back, 1) &&
                  perf_hist_lost(host) == perf_hist_lost(back), "bits %d: head", bits);
        cudaFree(dm);
        free(m);
        free(k);
    }
    cudaFree(dv);
    free(v);
    return check_done();
}
