/* GPU scopes on the simulated device in real time: threads that really run beside each other, calls
 * that really wait, contexts that belong to threads, a device that is reset.
 *
 *     real [NAME]...                           all parts, or those                                */
#include <stdint.h>
#define _GNU_SOURCE 1
#include "sim.h"
#include "../../perf_gpu_bench.h"

#include "check.h"
#include "inside.h"
#include <pthread.h>
#include <unistd.h>

static perf_gpu_stats all(void)
{
    return perf_gpu_stats_of(NULL);
}

static uint64_t accounted(void)
{
    perf_gpu_stats a = all();

    return a.scopes + a.pending + a.dropped + a.captured + a.no_context + a.failed + a.no_gpu;
}

static perf_stream start(void)
{
    sim_stop();
    sim_start_real();
    perf_reset();
    return sim_stream(0);
}

static void one(const char *name, perf_stream stream, uint64_t ns)
{
    perf_gpu_scope s = perf_gpu_scope_begin(name, stream);
    (void)sim_work(stream, ns);
    perf_gpu_scope_end(&s);
}

static void *wait_for_all(void *arg)
{
    (void)arg;
    sim_device(0);
    (void)perf_gpu_collect_sync();
    return NULL;
}

/* A thread waits for a stream that another thread holds back.  That one must be able to do all it
 * likes until it lets the stream go: scopes in a capture, scopes that fail, marks, reports. */
static void deadlock(void)
{
    static uint32_t flag;
    perf_stream     stream = start(), other = sim_stream(0);
    void           *graph = NULL;
    pthread_t       thread;
    char            text[64];
    int             i;

    (void)sim_wait_value32(stream, (uint64_t)(uintptr_t)&flag, 1, 0);
    one("held back", stream, 1000);
    (void)pthread_create(&thread, NULL, wait_for_all, NULL);
    while (!__atomic_load_n(&sim.calls[SIM_event_sync], __ATOMIC_RELAXED))
        (void)sched_yield();
    (void)sim_capture_begin(other, 2);
    one("captured", other, 1000);
    (void)sim_capture_end(other, &graph);
    (void)sim_graph_destroy(graph);
    sim_fail(SIM_event_record, 1, 719, 0);
    one("fails", other, 1000);
    for (i = 0; i < 3000; i++)                  /* and more than the ring holds */
        one("many", other, 10);
    (void)perf_gpu_memory_mark("mark");
    (void)perf_gpu_memory_note("note", 1.0);
    (void)perf_report_text(text, sizeof text, NULL);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    (void)pthread_join(thread, NULL);
    sim_device(0);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("held back").scopes == 1, "%g", (double)perf_gpu_stats_of("held back").scopes);
    CHECK(all().captured == 1 && all().failed == 1 && accounted() == 3003, "%g", (double)accounted());
    sim_stop();
}

static int waiting;

/* Who has waited loses his processor before he can say so. */
static int late_sync(void *event)
{
    int code = sim_event_sync(event);

    sim_spend((uint64_t)core_thread_id() % 7 * 20000);
    return code;
}

static void *wait_on_and_on(void *arg)
{
    (void)arg;
    sim_device(0);
    while (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
        (void)perf_gpu_collect_sync();
    return NULL;
}

/* Many wait for the scopes of one, who goes on: each is counted once, and none is taken twice. */
static void waiters(void)
{
    static perf_gpu_backend t;
    perf_stream             stream = start(), other = sim_stream(0);
    pthread_t               thread[6];
    int                     i;

    t = *perf_gpu_table();
    t.event_sync = late_sync;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    waiting = 1;
    for (i = 0; i < 6; i++)
        (void)pthread_create(&thread[i], NULL, wait_on_and_on, NULL);
    sim_device(0);
    for (i = 0; i < 3000; i++) {
        one("waited for", i & 1 ? other : stream, 2000);
        if (i % 16 == 0) {
            (void)perf_gpu_collect_sync();
            CHECK(perf_gpu_stats_of("waited for").scopes + all().dropped == (uint64_t)i + 1, "%d: %g", i,
                  (double)perf_gpu_stats_of("waited for").scopes);
        }
    }
    __atomic_store_n(&waiting, 0, __ATOMIC_RELAXED);
    for (i = 0; i < 6; i++)
        (void)pthread_join(thread[i], NULL);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 3000 && accounted() == 3000 && !all().failed, "%g of 3000, %g failed: %s", (double)all().scopes,
          (double)all().failed, perf_gpu_error_text());
    sim_stop();
}

/* ---- nothing is lost ---- */

enum { THREADS = 16, SCOPES = 6000 };
static int collecting;

static void *work(void *arg)
{
    perf_stream stream = sim_stream(0);
    int         i;

    (void)arg;
    for (i = 0; i < SCOPES; i++) {
        {
            PERF_GPU_SCOPE("busy thread", stream);
            (void)sim_work(stream, 500);
        }
        sim_spend(5000);
    }
    return NULL;
}

static void *collect(void *arg)
{
    (void)arg;
    sim_device(0);
    while (__atomic_load_n(&collecting, __ATOMIC_RELAXED))
        (void)perf_gpu_collect();
    return NULL;
}

/* As long as the device keeps up, no scope is dropped, whoever collects meanwhile. */
static void drops(void)
{
    pthread_t thread[THREADS], collector;
    int       with, i;

    for (with = 0; with < 2; with++) {
        (void)start();
        sim.launch_ns = 500;
        sim.cost[SIM_event_record] = 100;
        sim.cost[SIM_event_elapsed] = 300;
        collecting = with;
        if (with)
            (void)pthread_create(&collector, NULL, collect, NULL);
        for (i = 0; i < THREADS; i++)
            (void)pthread_create(&thread[i], NULL, work, NULL);
        for (i = 0; i < THREADS; i++)
            (void)pthread_join(thread[i], NULL);
        __atomic_store_n(&collecting, 0, __ATOMIC_RELAXED);
        if (with)
            (void)pthread_join(collector, NULL);
        sim_device(0);
        (void)perf_gpu_collect_sync();
        CHECK(all().scopes == THREADS * SCOPES && !all().dropped, "%s: %g scopes, %g dropped", with ? "with a collector" : "alone",
              (double)all().scopes, (double)all().dropped);
        CHECK(!sim.wrong_context && !sim.bad_handle, "handles");
        sim_stop();
    }
}

/* No thread pays for the whole ring: the driver is asked a few times in a begin, and no more. */
static void spread(void)
{
    perf_stream stream = start();
    uint64_t    before, worst = 0;
    int         i;

    for (i = 0; i < 5000; i++) {
        perf_gpu_scope s;
        before = sim.calls[SIM_event_elapsed];
        s = perf_gpu_scope_begin("spread", stream);
        before = sim.calls[SIM_event_elapsed] - before;
        worst = before > worst ? before : worst;
        perf_gpu_scope_end(&s);
    }
    CHECK(worst > 0 && worst <= 2 * GPU_QUESTIONS + 20, "%d questions in one begin", (int)worst);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 5000, "%g", (double)all().scopes);
    sim_stop();
}

/* ---- contexts ---- */

static void *fresh(void *stream)
{
    sim_device(-1);
    one("fresh thread", stream, 1000);
    one("fresh thread", NULL, 1000);            /* whose default stream would that be? */
    return NULL;
}

static void fresh_threads(void)
{
    perf_stream stream = start();
    pthread_t   thread;
    int         i, strict;

    for (strict = 0; strict < 2; strict++) {
        sim.no_current = strict;
        for (i = 0; i < 10; i++) {
            (void)pthread_create(&thread, NULL, fresh, stream);
            (void)pthread_join(thread, NULL);
        }
    }
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 20 && all().no_context == 20, "%g, %g without context", (double)all().scopes,
          (double)all().no_context);
    CHECK(!sim.wrong_context && sim.contexts == 1, "contexts");
    sim_stop();
}

/* cudaDeviceReset(): the handles that follow look like those before.  Old events never come back. */
static void reset_device(void)
{
    perf_stream stream = start();
    int         round, i;

    for (round = 0; round < 4; round++) {
        for (i = 0; i < 100; i++)
            one("before and after", stream, 1000);
        for (i = 0; i < 10; i++)
            one("default", NULL, 1000);
        if (round % 2)
            (void)perf_gpu_collect_sync();
        sim_device_reset(0);
        sim_spend(round % 2 ? 0 : 1000000);     /* a real one takes longer still */
    }
    one("before and after", stream, 1000);
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(!sim.stale, "%d times a handle of before", (int)sim.stale);
    CHECK(all().scopes >= 221 && accounted() == 441 && !all().failed, "%g scopes, %g dropped, %g failed", (double)all().scopes,
          (double)all().dropped, (double)all().failed);
    sim_stop();
}

static uint64_t calls(void)
{
    uint64_t n = 0;
    int      f;

    for (f = 0; f < SIM_FUNCTIONS; f++)
        n += f == SIM_ctx_id ? 0 : sim.calls[f];        /* one each 0.1 ms, however many scopes    */
    return n;
}

/* What a scope costs in calls of the driver, fetching aside. */
static void costs(void)
{
    perf_stream stream = start();
    uint64_t    before, fetch;
    int         i, which;

    for (which = 0; which < 2; which++) {
        for (i = 0; i < 2 * PERF_GPU_SLOTS; i++)        /* until all events are made */
            one("warm", which ? stream : NULL, 0);
        (void)perf_gpu_collect_sync();
        before = calls();
        fetch = sim.calls[SIM_event_elapsed] + sim.calls[SIM_event_create];
        for (i = 0; i < 400; i++)
            one("counted", which ? stream : NULL, 0);
        before = calls() - before - (sim.calls[SIM_event_elapsed] + sim.calls[SIM_event_create] - fetch);
        printf("stream %s: %.2f calls a scope\n", which ? "of ours" : "NULL", (double)before / 400);
        CHECK((double)before / 400 <= (which ? 3.1 : 5.1), "%g calls a scope", (double)before / 400);
    }
    sim_stop();
}

static void *own_stream(void *arg)
{
    (void)arg;
    sim_device(0);
    one("own", (perf_stream)(uintptr_t)2, 1000);
    sim_spend(1000000);
    return NULL;
}

static void own_streams(void)
{
    pthread_t thread[3];
    char      text[20000];
    int       i;

    (void)start();
    for (i = 0; i < 3; i++)
        (void)pthread_create(&thread[i], NULL, own_stream, NULL);
    for (i = 0; i < 3; i++)
        (void)pthread_join(thread[i], NULL);
    (void)perf_gpu_collect_sync();
    CHECK(perf_trace_save("/dev/null") == PERF_OK, "trace");
    {
        char   name[64];                    /* of this process alone: builds of this test run at once */
        FILE  *f;
        size_t n = 0;
        snprintf(name, sizeof name, "gpu-real-trace-%ld.json", (long)getpid());
        CHECK(perf_trace_save(name) == PERF_OK, "trace");
        f = fopen(name, "r");
        n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[n] = 0;
        if (f)
            (void)fclose(f);
        (void)remove(name);
    }
    CHECK(strstr(text, "GPU 0 stream per thread\"") && strstr(text, "GPU 0 stream per thread 2\"") &&
          strstr(text, "GPU 0 stream per thread 3\""), "%s", text);
    sim_stop();
}

/* ---- errors ---- */

/* As in the table of HIP. */
static int record_guarded(void *event, void *stream)
{
    return sim.unread ? PERF_GPU_UNREAD : sim_event_record(event, stream);
}

static int capturing_guarded(void *stream, int *status)
{
    return sim.unread ? PERF_GPU_UNREAD : sim_stream_capturing(stream, status);
}

/* The program's own error waits to be read: no call may wipe it, before, in and after a scope. */
static void unread(void)
{
    perf_gpu_backend t;
    perf_stream      stream = start();
    int              i;

    t = sim_table();
    t.event_record = record_guarded;
    t.stream_capturing = capturing_guarded;
    t.ctx_id = NULL;                                /* HIP has none                               */
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    for (i = 0; i < 40; i++) {
        perf_gpu_scope s;
        sim.unread = i % 4 == 1 ? 700 : 0;
        s = perf_gpu_scope_begin("unread", i % 8 < 4 ? stream : NULL);
        if (i % 4 == 2)
            sim.unread = 700;
        else if (i % 4 != 1)
            (void)sim_work(stream, 1000);
        if (i % 4 == 3)
            (void)perf_gpu_collect();
        perf_gpu_scope_end(&s);
        if (i % 4 == 1 || i % 4 == 2)
            (void)perf_gpu_collect_sync();
        CHECK(!sim.wiped, "scope %d: %d wiped", i, (int)sim.wiped);
        sim.wiped = 0;
        sim.unread = 0;
    }
    (void)perf_gpu_collect_sync();
    CHECK(accounted() == 40 && all().scopes == 20 && all().dropped == 20, "%g scopes, %g dropped", (double)all().scopes,
          (double)all().dropped);
    sim_stop();
}

static void *short_work(void *stream)
{
    int i;

    sim_device(0);
    for (i = 0; i < 60; i++) {
        one("faults", stream, 100);
        if (i % 20 == 19)
            (void)perf_gpu_collect();
    }
    return NULL;
}

/* An error of each call in turn, in whichever thread it falls: all scopes are somewhere. */
static void faults(void)
{
    static const int codes[] = {1, 2, 201, 400, 700, 709, 907};
    pthread_t        thread[3];
    perf_stream      stream[3];
    int              f, i, c;

    for (f = 0; f < SIM_FUNCTIONS; f++)
        for (c = 0; c < 7; c++) {
            stream[0] = start();
            stream[1] = sim_stream(0);
            stream[2] = sim_stream(0);
            sim.launch_ns = 0;
            memset(sim.cost, 0, sizeof sim.cost);
            sim_fail((sim_fn)f, (uint64_t)(1 + 7 * c), codes[c], 0);
            for (i = 0; i < 3; i++)
                (void)pthread_create(&thread[i], NULL, short_work, stream[i]);
            for (i = 0; i < 3; i++)
                (void)pthread_join(thread[i], NULL);
            memset(sim.fault, 0, sizeof sim.fault);
            (void)perf_gpu_collect_sync();
            CHECK(accounted() == 180, "function %d, code %d: %g of 180", f, codes[c], (double)accounted());
            CHECK(f == SIM_ctx_id || all().scopes >= 170, "function %d, code %d: %g scopes", f, codes[c], (double)all().scopes);
            sim_stop();
        }
}

/* ---- the clock ---- */

/* Streams that finish in another order than they were begun, a step and a drift: each scope lies on
 * the host's clock where the report says it does. */
static void clock_of(uint64_t step_ns, double ppm)
{
    enum { N = 300 };
    static double   truth[N];
    static uint64_t begin[N];
    perf_stream     stream[3];
    gpu_ring       *ring = NULL;
    const uint64_t  ticks = perf_ticks(), ns = perf_now();
    double          worst = 0, error, tick;
    uint32_t        k;
    int             i;

    stream[0] = start();
    stream[1] = sim_stream(0);
    stream[2] = sim_stream(0);
    sim.quantum_ns = step_ns;
    sim.drift_ppm[0] = ppm;
    for (i = 0; i < N; i++) {
        perf_gpu_scope s = perf_gpu_scope_begin("clock", stream[i % 3]);
        begin[i] = s.slot->begin;
        ring = s.slot->ring;
        (void)sim_work(stream[i % 3], i % 3 ? 2000 : 300000);
        truth[i] = (double)((sim_event *)s.slot->start)->at;
        perf_gpu_scope_end(&s);
        if (i % 50 == 49)
            (void)perf_gpu_collect_sync();
        else if (i % 10 == 9)
            (void)perf_gpu_collect();
    }
    (void)perf_gpu_collect_sync();
    tick = perf_clock().tick_ns;
    for (i = 0; i < N; i++)
        for (k = 0; ring && k < 8 * ring->cap; k++)
            if (ring->done[k].begin == begin[i]) {
                error = (double)(int64_t)(ring->done[k].at - ticks) * tick - (truth[i] - (double)ns);
                worst = (error < 0 ? -error : error) > worst ? (error < 0 ? -error : error) : worst;
            }
    /* The pair of readings above, and the step of the event clock, are not the line's. */
    CHECK(worst <= all().aligned_ns + 20000 + (double)step_ns, "%g ns off, within %g said", worst, all().aligned_ns);
    CHECK(all().scopes == N, "%g", (double)all().scopes);
    printf("step %g ns, %g ppm: %.0f ns off at worst, within %.0f said\n", (double)step_ns, ppm, worst, all().aligned_ns);
    sim_stop();
}

static void clocks(void)
{
    clock_of(32, 50);
    clock_of(500, -50);
    clock_of(1000, 300);
    clock_of(1000, -300);
}

/* The gate on a driver's thread opens by itself, after the limit; and at once where it is open. */
static void host_gate(void)
{
    gpu_gate shut = {0, 0, 3000000}, open = {1, 0, UINT64_MAX};
    uint64_t began = perf_now();

    gpu_gate_wait(&shut);
    CHECK(shut.out == 2 && perf_now() - began >= 3000000, "%u", shut.out);
    gpu_gate_wait(&open);
    CHECK(open.out == 1, "%u", open.out);
}

static void *first_scopes(void *stream)
{
    int i;

    sim_device(0);
    for (i = 0; i < 900; i++)
        one("beside a reset", stream, 100);
    return NULL;
}

/* perf_reset() while a thread makes its first scopes. */
static void reset_beside(void)
{
    perf_stream stream;
    pthread_t   thread;
    int         i;

    sim_start_real();
    stream = sim_stream(0);
    (void)pthread_create(&thread, NULL, first_scopes, stream);
    for (i = 0; i < 200; i++)
        perf_reset();
    (void)pthread_join(thread, NULL);
    perf_reset();
    one("k", stream, 100);
    CHECK(perf_gpu_collect_sync() == PERF_OK && perf_gpu_stats_of("k").scopes == 1, "%s", perf_gpu_error_text());
    sim_stop();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void      (*part)(void);
    } parts[] = {{"deadlock", deadlock}, {"waiters", waiters}, {"drops", drops}, {"spread", spread}, {"fresh", fresh_threads},
                 {"reset", reset_device}, {"costs", costs}, {"own", own_streams}, {"unread", unread},
                 {"faults", faults}, {"clocks", clocks}, {"host gate", host_gate}, {"reset beside", reset_beside}};
    size_t i;
    int    k;

    (void)alarm(600);                           /* a part that hangs has failed */
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (k = 1; k < argc && strcmp(argv[k], parts[i].name); k++) {
        }
        if (argc == 1 || k < argc)
            parts[i].part();
    }
    return check_done();
}
