/* step.c - a training step on the simulated device, and a faster kernel for it (docs/cuda.md) */
#include "tests/gpu/sim.h"              /* a simulated device; your program has a real one */
#include "perf_gpu_bench.h"

static void attention(void *stream, int fused)
{
    (void)sim_work(stream, fused ? 1300000 : 2400000);  /* your kernels, old and new */
}

static void step(void *stream)
{
    PERF_SCOPE("step");
    {
        PERF_WAIT("next batch");
        sim_host(200000);
    }
    {
        PERF_GPU_COPY_IN("batch", stream);
        (void)sim_work(stream, 150000);
    }
    {
        PERF_GPU_SCOPE("attention", stream);
        attention(stream, 0);
    }
    {
        PERF_GPU_SCOPE("optimizer", stream);
        (void)sim_work(stream, 400000);
    }
    PERF_GPU_WAIT("loss");
    (void)sim_stream_sync(stream);
}

int main(void)
{
    void              *stream;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                i, v;

    sim_start();
    stream = sim_stream(0);
    for (i = 0; i < 200; i++) {
        step(stream);
        if (!i)
            (void)perf_gpu_collect_sync();              /* ties the two clocks together */
    }
    (void)perf_report();                                /* 1: what takes the time? */

    ab = perf_gpu_ab_begin("attention", stream, NULL);  /* 2: is the new one 1.3 times as fast? */
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        attention(stream, v);
    r = perf_gpu_ab_end(&ab);
    puts(perf_verdict_text(&r.verdict));
    puts(r.candidate.text);
    return r.verdict.decision != PERF_ACCEPT;
}
