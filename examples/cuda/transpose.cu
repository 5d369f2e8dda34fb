/* Is the transpose through shared memory at least 1.3 times as fast as the plain one, and still right?
 *
 *     nvcc -O2 -I. examples/cuda/transpose.cu -o transpose && ./transpose
 *     ./transpose --broken              the candidate forgets one row
 *
 * You will see a sentence with the decision, the speed-up and its interval: ACCEPT when the tiled
 * kernel is at least 1.3 times as fast.  The outputs are compared bit for bit first; with --broken the
 * decision is REJECT however fast the kernel is.
 * Exit status: 0 for ACCEPT, 1 for REJECT, 2 for INCONCLUSIVE, 77 without a CUDA device, 3 when a
 * call fails.                                                                                     */
#include "perf_gpu_bench.h"
#include <stdio.h>
#include <string.h>

enum { SIDE = 4096, TILE = 32, ROWS = 8 };

__global__ void naive(float *out, const float *in)
{
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (unsigned i = 0; i < TILE; i += ROWS)
        out[x * static_cast<size_t>(SIDE) + y + i] = in[(y + i) * static_cast<size_t>(SIDE) + x];
}

__global__ void tiled(float *out, const float *in, unsigned skip)
{
    __shared__ float tile[TILE][TILE + 1];
    unsigned         x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (unsigned i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * static_cast<size_t>(SIDE) + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += ROWS)
        if (y + i != skip)
            out[(y + i) * static_cast<size_t>(SIDE) + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main(int argc, char **argv)
{
    const size_t   n = static_cast<size_t>(SIDE) * SIDE, bytes = n * sizeof(float);
    const unsigned skip = argc > 1 && strcmp(argv[1], "--broken") == 0 ? 17 : ~0u;
    const dim3     grid(SIDE / TILE, SIDE / TILE), block(TILE, ROWS);
    int            devices = 0, v;
    cudaStream_t   stream;
    float         *in = NULL, *out[2] = {NULL, NULL};
    float         *host = static_cast<float *>(malloc(bytes));
    float         *want = static_cast<float *>(malloc(bytes));

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing to compare\n");
        return 77;
    }
    if (!host || !want || cudaStreamCreate(&stream) != cudaSuccess ||
        cudaMalloc(&in, bytes) != cudaSuccess || cudaMalloc(&out[0], bytes) != cudaSuccess ||
        cudaMalloc(&out[1], bytes) != cudaSuccess)
        return 3;
    for (size_t i = 0; i < n; i++)
        host[i] = static_cast<float>(i % 8191);
    if (cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaMemset(out[0], 0, bytes) != cudaSuccess || cudaMemset(out[1], 0, bytes) != cudaSuccess)
        return 3;

    /* Right before fast: the outputs of both, held against each other bit for bit. */
    perf_gpu_ab_opts o = PERF_ZERO;
    naive<<<grid, block, 0, stream>>>(out[0], in);
    tiled<<<grid, block, 0, stream>>>(out[1], in, skip);
    if (cudaStreamSynchronize(stream) != cudaSuccess ||
        cudaMemcpy(want, out[0], bytes, cudaMemcpyDeviceToHost) != cudaSuccess ||
        cudaMemcpy(host, out[1], bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 3;
    o.accept.guard.required = 1;
    o.accept.guard.seen = perf_accuracy_f32(want, host, n);
    o.device.bytes = 2.0 * static_cast<double>(bytes);

    perf_gpu_ab ab = perf_gpu_ab_begin("transpose", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        if (v)
            tiled<<<grid, block, 0, stream>>>(out[1], in, skip);
        else
            naive<<<grid, block, 0, stream>>>(out[0], in);
    }
    perf_gpu_ab_result r = perf_gpu_ab_end(&ab);

    printf("%s\n", perf_verdict_text(&r.verdict));
    printf("naive %.1f us, %.0f GB/s; tiled %.1f us, %.0f GB/s; largest difference %g of %llu elements\n",
           r.baseline.time.p50 / 1e3, r.baseline.gb_per_s, r.candidate.time.p50 / 1e3,
           r.candidate.gb_per_s, o.accept.guard.seen.max_abs,
           static_cast<unsigned long long>(o.accept.guard.seen.compared));
    if (r.status != PERF_OK) {
        printf("%s: %s\n", perf_status_text(r.status), r.candidate.text);
        return 3;
    }
    cudaFree(in);
    cudaFree(out[0]);
    cudaFree(out[1]);
    cudaStreamDestroy(stream);
    free(host);
    free(want);
    if (r.verdict.decision == PERF_INCONCLUSIVE)
        return 2;
    return r.verdict.decision == PERF_ACCEPT ? 0 : 1;
}
