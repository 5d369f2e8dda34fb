/* What do the warps of a kernel do, and when?  Timers inside the kernel, as a time line.
 *
 *     nvcc -O2 -I. examples/cuda/kernel_timeline.cu -o kernel_timeline && ./kernel_timeline
 *
 * You will see how many events came back and how many were dropped, the length of an SM's cycle and how
 * well the clocks of one SM agree, then for each scope ("load", "multiply", "wait", "store") its share of
 * the time and its median, and the waits of all warps as a histogram filled on the device.
 * kernel_timeline.json opens in ui.perfetto.dev: a process for each SM, a track for each warp that was
 * there at the same time.  Exit status: 77 without a CUDA device, 1 when a call fails.            */
#include "perf_kernel.h"
#include <stdio.h>

enum { TILE = 256, TILES = 8, BLOCKS = 512, SCOPES = 4 };
enum { LOAD, MULTIPLY, WAIT, STORE, TILE_DONE };
static const char *const scope_name[] = {"load", "multiply", "wait", "store", "tile done"};

static int failed(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    return e != cudaSuccess;
}

__global__ void chain(perf_kernel_buffer *buffer, perf_hist *waits, float *data)
{
    perf_kernel_sink sink(buffer);              /* one ring of records for each warp              */
    __shared__ float tile[TILE];

    for (unsigned t = 0; t < TILES; t++) {
        float *at = data + (blockIdx.x * TILES + t) * TILE, x = 0;
        {
            PERF_KERNEL_SCOPE(sink, LOAD);
            tile[threadIdx.x] = at[threadIdx.x];
        }
        {
            PERF_KERNEL_SCOPE(sink, MULTIPLY);
            for (unsigned i = 0; i < 200 * (1 + threadIdx.x / 32); i++)     /* later warps: longer */
                x = x * 0.999f + 1.0f;
        }
        {
            PERF_KERNEL_SCOPE(sink, WAIT);
            PERF_KERNEL_HIST(waits);            /* the same block's cycles, as a distribution      */
            __syncthreads();
        }
        {
            PERF_KERNEL_SCOPE(sink, STORE);
            at[threadIdx.x] = x + tile[(threadIdx.x + 1) % TILE];
        }
        PERF_KERNEL_INSTANT(sink, TILE_DONE, t);
        __syncthreads();
    }
}

static int show(void *image, size_t bytes, void *waits, size_t waits_bytes)
{
    static perf_hist   per_scope[SCOPES];
    const perf_hist   *cycles = perf_hist_attach(waits, waits_bytes);
    double             total[SCOPES] = {0, 0, 0, 0}, all = 0;
    perf_kernel_info   info;
    perf_kernel_event *event;

    if (perf_kernel_decode(image, bytes, NULL, 0, &info) != PERF_OK || !info.events)
        return 1;
    event = static_cast<perf_kernel_event *>(malloc(info.events * sizeof *event));
    if (!event || perf_kernel_decode(image, bytes, event, info.events, &info) != PERF_OK)
        return 1;
    printf("%llu events of %u warps on %u SMs; %llu records dropped, %llu warps without a ring\n",
           static_cast<unsigned long long>(info.events), info.rings, info.sms,
           static_cast<unsigned long long>(info.dropped),
           static_cast<unsigned long long>(info.missed_warps));
    if (info.cycle_ns > 0)
        printf("a cycle is %.4f ns; clocks agree within %.0f ns\n", info.cycle_ns, info.error_ns);
    else
        printf("too short to tell the length of a cycle: read ns as cycles\n");
    for (uint64_t i = 0; i < info.events; i++)
        if (!event[i].instant && event[i].id < SCOPES) {
            total[event[i].id] += static_cast<double>(event[i].ns);
            all += static_cast<double>(event[i].ns);
            perf_hist_add(&per_scope[event[i].id], event[i].ns);
        }
    for (int i = 0; i < SCOPES; i++)
        printf("%-10s %5.1f %%   median %8.0f ns\n", scope_name[i],
               all > 0 ? 100 * total[i] / all : 0.0, perf_hist_quantile(&per_scope[i], 0.5));
    free(event);
    if (!cycles)
        return 1;
    printf("waits at the barrier: %llu, median %.0f cycles, 99 %% below %.0f\n",
           static_cast<unsigned long long>(perf_hist_count(cycles)),
           perf_hist_quantile(cycles, 0.5), perf_hist_quantile(cycles, 0.99));
    return perf_kernel_trace_save("kernel_timeline.json", image, bytes, scope_name, 5, 0) != PERF_OK;
}

int main()
{
    const unsigned warps = BLOCKS * TILE / 32;
    const size_t   data_bytes = sizeof(float) * TILE * TILES * BLOCKS;
    const size_t   bytes = perf_kernel_bytes(warps, TILES * (SCOPES + 1));
    int            devices = 0, status = 1;
    void          *device = NULL, *waits = NULL, *image = malloc(bytes), *host_waits;
    float         *data = NULL;

    host_waits = calloc(1, sizeof(perf_hist));  /* all zero is a histogram of the fixed form       */
    if (!image || !host_waits)
        return 1;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing to time\n");
        return 77;
    }
    if (failed(cudaMalloc(&device, bytes), "cudaMalloc") ||
        failed(cudaMalloc(&waits, sizeof(perf_hist)), "cudaMalloc") ||
        failed(cudaMalloc(&data, data_bytes), "cudaMalloc") ||
        failed(cudaMemset(data, 0, data_bytes), "cudaMemset") ||
        perf_kernel_prepare(image, bytes, device, warps, TILES * (SCOPES + 1), 0) != PERF_OK)
        return 1;
    for (int run = 0; run < 2; run++) {         /* the first one loads the code                    */
        if (failed(cudaMemcpy(device, image, bytes, cudaMemcpyHostToDevice), "copy in") ||
            failed(cudaMemset(waits, 0, sizeof(perf_hist)), "cudaMemset"))
            return 1;
        chain<<<BLOCKS, TILE>>>(static_cast<perf_kernel_buffer *>(device),
                                static_cast<perf_hist *>(waits), data);
    }
    if (!failed(cudaGetLastError(), "launch") &&
        !failed(cudaMemcpy(image, device, bytes, cudaMemcpyDeviceToHost), "copy back") &&
        !failed(cudaMemcpy(host_waits, waits, sizeof(perf_hist), cudaMemcpyDeviceToHost), "copy back"))
        status = show(image, bytes, host_waits, sizeof(perf_hist));
    if (!status)
        printf("wrote kernel_timeline.json\n");
    cudaFree(device);
    cudaFree(waits);
    cudaFree(data);
    free(image);
    free(host_waits);
    return status;
}
