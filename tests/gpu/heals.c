/* After something went wrong, the next scope is right: a device reset under a driver that tells no ids
 * of contexts, a failed call, a capture mode that was not put back, a time that runs backwards.  And a
 * bench leaves captures of others alone.  Virtual time, and the hot path of scopes on it.          */
#include <stdint.h>
#define PERF_CLOCK_FN sim_clock
#define PERF_TEST_HOT
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "../check.h"

static perf_gpu_backend table;

static perf_stream start(void)
{
    const uint64_t now = sim.now;

    sim_stop();
    sim_reset();
    sim.now += now;
    table = sim_table();
    table.error_waits = NULL;
    (void)perf_gpu_use(&table);
    perf_reset();
    return sim_stream(0);
}

static perf_gpu_stats all(void)
{
    return perf_gpu_stats_of(NULL);
}

static void scope(const char *name, perf_stream stream)
{
    perf_gpu_scope s = perf_gpu_scope_begin(name, stream);

    (void)sim_work(stream, 1000);
    perf_gpu_scope_end(&s);
}

/* Before CUDA 12 nothing says that a context was destroyed, and its successor has the same address.
 * in_flight: a scope is when that happens; else only what others are placed by shows it. */
static void reset_without_ids(int in_flight)
{
    perf_stream stream;
    uint64_t    least = 0;
    int         i, round;

    (void)start();
    table.ctx_id = NULL;
    (void)perf_gpu_use(&table);
    stream = sim_stream(0);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 20; i++)
            scope("before", stream);
        (void)perf_gpu_collect_sync();
        if (in_flight)
            scope("in flight", stream);
        sim_device_reset(0);
        sim_host(10000000);
        stream = sim_stream(0);
        for (i = 0; i < 1000; i++) {
            scope("after", stream);
            sim_host(2000);
            if (i % 100 == 0)
                (void)perf_gpu_collect();
        }
        (void)perf_gpu_collect_sync();
        least += in_flight ? 999 : 899;         /* else all that were begun before the first collect are lost */
        CHECK(perf_gpu_stats_of("after").scopes >= least, "round %d: %d after the reset", round,
              (int)perf_gpu_stats_of("after").scopes);
        CHECK(all().scopes + all().dropped + all().failed + all().pending == (uint64_t)((1020 + in_flight) * (round + 1)), "round %d: all are counted", round);
    }
    CHECK(sim.stale < 20, "%d times an event of a context that is gone", (int)sim.stale);
    sim_stop();
}

/* The driver fails once and works again. */
static void told_once(void)
{
    perf_stream stream = start();
    int         i;

    scope("good", stream);
    sim_fail(SIM_event_record, 1, 719, 0);
    scope("bad", stream);
    CHECK(perf_gpu_collect_sync() == PERF_EGPU, "the failure is told");
    for (i = 0; i < 3; i++) {
        scope("good", stream);
        CHECK(perf_gpu_collect_sync() == PERF_OK, "%d: told again", i);
    }
    CHECK(perf_gpu_stats_of(NULL).error == 719 && all().failed == 1 && all().scopes == 4, "the first error stays: %d", perf_gpu_stats_of(NULL).error);
    sim_fail(SIM_event_record, 1, 719, 0);
    scope("bad", stream);
    CHECK(perf_gpu_collect() == PERF_EGPU && perf_gpu_collect() == PERF_OK, "a second one is told, too");
    sim_stop();
}

/* The thread's capture mode is put back, if the first attempt fails, too. */
static void mode_restored(void)
{
    uint64_t    calls, n;
    perf_stream stream;

    for (n = 1; n < 12; n++) {
        stream = start();
        scope("k", stream);
        calls = sim.calls[SIM_capture_mode];
        sim_fail(SIM_capture_mode, n, 999, 0);
        (void)perf_gpu_collect();
        (void)perf_gpu_memory_mark("mark");
        (void)perf_gpu_collect_sync();
        CHECK(sim_mode == 0, "call %d of %d: mode %d", (int)n, (int)(sim.calls[SIM_capture_mode] - calls), sim_mode);
        sim_stop();
    }
}

/* Another stream is captured while a bench or an A/B loop ends. */
static void bench_ends(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream = start(), other = sim_stream(0);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    void               *graph = NULL;

    o.samples = 20;
    b = perf_gpu_bench_begin("k", stream, &o);
    while (perf_gpu_bench_next(&b))
        (void)sim_work(stream, 20000);
    (void)sim_capture_begin(other, 2);
    (void)sim_work(other, 1000);
    r = perf_gpu_bench_end(&b);
    CHECK(sim_capture_end(other, &graph) == 0 && !sim.spoilt, "%d captures spoilt", (int)sim.spoilt);
    CHECK(r.status == PERF_OK && r.time.count == 20, "%s", r.text);
    CHECK(!sim.modules && !sim.allocations && !sim.bytes, "%d modules, %d allocations are left", (int)sim.modules, (int)sim.allocations);
    (void)sim_graph_destroy(graph);
    sim_stop();
}

static int elapsed_calls;

static int backwards_elapsed(float *ms, void *start_event, void *stop_event)
{
    int code = sim_event_elapsed(ms, start_event, stop_event);

    if (!code && *ms < 0.01f && ++elapsed_calls % 10 == 0)
        *ms = -0.00001f;
    return code;
}

/* Short scopes of AMD's read less than nothing now and then: as 0, and counted. */
static void backwards(void)
{
    perf_stream stream = start();
    char        text[8192];
    int         i;

    table.event_elapsed = backwards_elapsed;
    for (i = 0; i < 200; i++) {
        scope("short", stream);
        sim_host(5000);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(all().scopes == 200 && all().failed == 0 && all().backwards > 10, "%d scopes, %d backwards", (int)all().scopes, (int)all().backwards);
    (void)perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "had a negative time in the driver, read as 0"), "%s", text);
    sim_stop();
}

int main(void)
{
    reset_without_ids(1);
    reset_without_ids(0);
    told_once();
    mode_restored();
    bench_ends();
    backwards();
    return check_done();
}
