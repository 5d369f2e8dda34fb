/* A program of benchmarks whose loops run on a device, here the simulated one: sizes are swept, energy
 * goes into the files, --profile runs each body once between the profiler's start and stop.       */
#define PERF_CLOCK_FN sim_clock
#include <unistd.h>
#include "sim.h"

#define main harness                    /* the program under test; the test's own main() is below */
#define PERF_MAIN 1
#include "../../perf_main.h"
#undef main
#include "../../perf_gpu_bench.h"
#include "check.h"

static int    runs, profiled, fails, chosen;
static double p50[16], gb_per_s[16], joules;
static size_t sizes;

PERF_BENCH_N(scale, 1 << 12, 1 << 17)
{
    perf_stream         stream = sim_stream(0);
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      g;
    perf_gpu_result     r;

    perf_bench_rates(&b, 8.0 * (double)n, (double)n);
    perf_bench_counter(&b, "of its own", 7);
    o.energy = 0.3;
    o.in_place_of = &b;
    g = perf_gpu_bench_begin(NULL, stream, &o);
    while (perf_gpu_bench_next(&g)) {
        (void)sim_work(stream, n);
        runs++;
        profiled += sim.profiled;
    }
    r = perf_gpu_bench_end(&g);
    p50[sizes % 16] = r.time.p50;
    joules = r.joules;
    gb_per_s[sizes++ % 16] = r.gb_per_s;
}

/* What the loop on the device says itself goes before what the benchmark said. */
PERF_BENCH(own_options)
{
    perf_stream         stream = sim_stream(0);
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      g;
    perf_gpu_result     r;

    perf_bench_rates(&b, 8.0, 1.0);
    o.bytes = 20000;
    o.items = 7;
    o.max_seconds = 1.5;
    o.in_place_of = &b;
    g = perf_gpu_bench_begin(NULL, stream, &o);
    while (perf_gpu_bench_next(&g))
        (void)sim_work(stream, 10000);
    r = perf_gpu_bench_end(&g);
    chosen += r.status == PERF_OK && r.opts.bytes > 19999 && r.opts.items > 6.9 && r.opts.max_seconds > 1.4 &&
              r.gb_per_s > 1.9 && r.gb_per_s < 2.1;
}

PERF_BENCH(wrong)
{
    perf_stream         stream = sim_stream(0);
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      g;

    o.in_place_of = &b;
    g = perf_gpu_bench_begin("not its name", stream, &o);
    while (perf_gpu_bench_next(&g)) {
        (void)sim_work(stream, 5000);
        perf_bench_fail(&b, "as planned");
        fails++;
    }
    CHECK(perf_gpu_bench_end(&g).time.count == 0, "failed at once");
}

PERF_BENCH_THREADS(crew, 1, 2)
{
    runs++;
    profiled += threads == 1 && !thread;
    while (perf_bench_next(&b))
        perf_clobber();
}

/* Runs the program with these arguments; its exit status. */
static int program(const char *a, const char *b, const char *c)
{
    char  own[4][64];
    char *argv[6] = {own[0], own[1], own[2], own[3], NULL, NULL};
    int   i, n = 2 + (a != NULL) + (b != NULL) + (c != NULL);
    char  env[] = "--no-env";

    for (i = 0; i < 4; i++)
        snprintf(own[i], sizeof own[i], "%s", i == 0 ? "harness" : i == 1 ? a ? a : "" : i == 2 ? b ? b : "" : c ? c : "");
    argv[n - 1] = env;
    runs = profiled = fails = 0;
    sizes = 0;
    return harness(n, argv);
}

static void test_sweep(void)
{
    char   file[64];
    size_t i, n;
    char   text[60000] = "";
    FILE  *f;

    snprintf(file, sizeof file, "gpu_harness.%u.json", (unsigned)getpid());
    CHECK(program("--filter=scale", "--json", file) == 0, "status");
    CHECK(sizes == 6, "%d sizes", (int)sizes);
    for (i = 0; i < sizes; i++) {
        const double want = (double)(4096 << i);
        CHECK(p50[i] > want - 32 && p50[i] < want + 32, "%g: %g", want, p50[i]);
        CHECK(gb_per_s[i] > 7.9 && gb_per_s[i] < 8.1, "%g GB/s", gb_per_s[i]);
    }
    f = fopen(file, "r");
    n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    (void)remove(file);
    CHECK(n > 0 && n < sizeof text - 1, "%d bytes", (int)n);
    for (i = 0; i < sizes; i++) {
        char name[40], *at;
        snprintf(name, sizeof name, "\"scale/%d\"", 4096 << i);
        at = strstr(text, name);
        CHECK(at && !strstr(at + 1, name), "once: %s", name);
        CHECK(at && strstr(at, "\"step\":") && atof(strstr(at, "\"step\":") + 7) > 0.01, "%s: the step of the events", name);
        at = at ? strstr(at, "\"of its own\":7,\"joules\":") : NULL;
        CHECK(at && atof(at + 24) > 0, "%s: its numbers", name);
    }
    CHECK(joules > 0.9 * 131e-6 * 300 && joules < 1.1 * 131e-6 * 300, "%g J", joules);
}

int main(void)
{
    sim_start();
    test_sweep();
    CHECK(program("--filter=wrong", NULL, NULL) == 2 && fails == 1, "%d", fails);
    CHECK(program("--filter=own_options", NULL, NULL) == 0 && chosen == 1, "%d", chosen);
    CHECK(program("--profile", NULL, NULL) == 0, "status");
    CHECK(sizes == 6 && runs == 8 && profiled == 8 && fails == 1, "%d runs, %d of them seen", runs, profiled);
    CHECK(!sim.profiled && sim.calls[SIM_profiler_start] == 8 && sim.calls[SIM_profiler_stop] == 8, "%d",
          (int)sim.calls[SIM_profiler_start]);
    sim_stop();
    return check_done();
}
