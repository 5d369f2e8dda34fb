/* nvcc -default-stream per-thread, hipcc -fgpu-default-stream=per-thread: stream NULL is the calling thread's own, for scopes, benches and
 * A/B loops, and for the helper kernels that go through the driver, which knows nothing of the flag. */
#if defined(AS_HIPCC_NAMES_IT)
#define __HIP_API_PER_THREAD_DEFAULT_STREAM__ 1
#else
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#endif
#define PERF_CLOCK_FN sim_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "check.h"

/* What <<<...>>> without a stream does there. */
static void launch(uint64_t ns)
{
    (void)sim_work((perf_stream)(uintptr_t)2, ns);
}

static void test_bench(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 c;

    for (c = 0; c < 3; c++) {
        sim_start();
        (void)sim_stream(0);
        o.cache = c ? PERF_GPU_HOT : PERF_GPU_COLD;
        o.graph = c == 2;
        b = perf_gpu_bench_begin("own stream", NULL, &o);
        while (perf_gpu_bench_next(&b))
            launch(10000);
        r = perf_gpu_bench_end(&b);
        CHECK(r.status == PERF_OK && r.time.count >= 30, "%d: %s", c, r.text);
        CHECK(r.time.p50 > 9960 && r.time.p50 < 10040, "%d: %g", c, r.time.p50);
        CHECK(!r.exposed.count && !(r.warnings & PERF_WARN_STREAM) && r.graph == o.graph, "%d: %s", c, r.text);
        sim_stop();
    }
}

static void test_ab(void)
{
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                v;

    sim_start();
    (void)sim_stream(0);
    ab = perf_gpu_ab_begin("own stream", NULL, NULL);
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        launch(v ? 10000 : 20000);
    r = perf_gpu_ab_end(&ab);
    CHECK(r.status == PERF_OK && r.verdict.decision == PERF_ACCEPT, "%s", r.candidate.text);
    sim_stop();
}

static void test_scope(void)
{
    perf_gpu_stats a;
    perf_stream    other;

    sim_start();
    other = sim_stream(0);
    {
        PERF_GPU_SCOPE("own stream", NULL);
        launch(10000);
    }
    {
        PERF_GPU_SCOPE("another", other);
        (void)sim_work(other, 20000);
    }
    (void)perf_gpu_collect_sync();
    a = perf_gpu_stats_of("own stream");
    CHECK(a.scopes == 1 && a.device_ns >= 10000 && a.device_ns < 13000, "%g", a.device_ns);
    a = perf_gpu_stats_of("another");
    CHECK(a.scopes == 1 && a.device_ns >= 20000 && a.device_ns < 23000, "%g", a.device_ns);
    sim_stop();
}

int main(void)
{
    test_bench();
    test_ab();
    test_scope();
    return check_done();
}
