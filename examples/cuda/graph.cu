/* How much of a small kernel's time is the launch, and what does a CUDA graph save?
 *
 *     nvcc -O2 -I. examples/cuda/graph.cu -o graph && ./graph
 *
 * You will see, for a chain of 20 small kernels, what the host pays to enqueue it and what the device
 * takes: launched one by one, and captured once and launched as a graph.  Then a graph of the program's
 * own, timed as any other work: scopes around its launch are recorded, the scope inside the capture
 * is skipped and counted, because what is captured does not run.
 * Exit status: 77 without a CUDA device, 1 when a call fails.                                     */
#include "perf_gpu_bench.h"
#include <stdio.h>

enum { CHAIN = 20, N = 65536 };

__global__ void add(float *x, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += by;
}

static void chain(cudaStream_t stream, float *x)
{
    PERF_GPU_SCOPE("chain", stream);
    for (int i = 0; i < CHAIN; i++)
        add<<<N / 256, 256, 0, stream>>>(x, 1.0f);
}

static int timed(const char *name, int graph, cudaStream_t stream, float *x)
{
    perf_gpu_bench_opts o = PERF_ZERO;

    o.cache = PERF_GPU_HOT;
    o.graph = graph;
    perf_gpu_bench b = perf_gpu_bench_begin(name, stream, &o);
    while (perf_gpu_bench_next(&b))
        for (int i = 0; i < CHAIN; i++)
            add<<<N / 256, 256, 0, stream>>>(x, 1.0f);
    perf_gpu_result r = perf_gpu_bench_end(&b);
    if (r.status != PERF_OK || !r.time.count) {
        printf("%s: %s: %s\n", name, perf_status_text(r.status), r.text);
        return 1;
    }
    printf("%-12s device %8.2f us [%.2f, %.2f]   host %8.2f us\n", name, r.time.p50 / 1e3,
           r.time.p50_low / 1e3, r.time.p50_high / 1e3, r.launch.p50 / 1e3);
    return 0;
}

int main()
{
    int             devices = 0, bad;
    cudaStream_t    stream;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    float          *x = NULL;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing to launch\n");
        return 77;
    }
    if (cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc(&x, N * sizeof *x) != cudaSuccess ||
        cudaMemset(x, 0, N * sizeof *x) != cudaSuccess) {
        printf("set-up: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    bad = timed("one by one", 0, stream, x);
    bad |= timed("as a graph", 1, stream, x);

    /* A graph of the program's own. */
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess)
        return 1;
    chain(stream, x);                           /* its scope is skipped: nothing runs here         */
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess ||
        cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess)
        return 1;
    for (int i = 0; i < 100; i++) {
        PERF_GPU_SCOPE("graph launch", stream);
        bad |= cudaGraphLaunch(exec, stream) != cudaSuccess;
    }
    (void)perf_gpu_collect_sync();
    perf_gpu_stats s = perf_gpu_stats_of("graph launch"), all = perf_gpu_stats_of(NULL);
    printf("%llu launches of the own graph: %.2f us each on the device; %llu scope skipped in capture\n",
           static_cast<unsigned long long>(s.scopes),
           s.scopes ? s.device_ns / static_cast<double>(s.scopes) / 1e3 : 0.0,
           static_cast<unsigned long long>(all.captured));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(x);
    cudaStreamDestroy(stream);
    return bad;
}
