/* GPU scopes on the simulated device: durations, lags, streams, devices, threads, full rings,
 * captures, clocks, resets, memory, bottlenecks, what reports and traces say of them, and every call
 * of the driver made to fail.  Times are virtual, so the answers are exact.                       */
#include <stdint.h>
#define PERF_CLOCK_FN sim_clock
#define PERF_GPU_SLOTS 64
#define PERF_TRACE_EVENTS 1024
#include "sim.h"

#include "../time/rows.h"
#include "wiped.h"
#include "../inside.h"
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM PERF_GPU_SLOTS             /* scopes of one thread and context in flight */
#define NEAR(x, y, by) (fabs((double)(x) - (double)(y)) <= (by))

/* A fresh machine, and nothing recorded. */
static perf_stream start(void)
{
    const uint64_t now = sim.now;

    sim_stop();
    sim_start();
    sim.now += now;                                 /* the host's clock never goes back */
    perf_reset();
    return sim_stream(0);
}

static perf_gpu_stats all(void)
{
    return perf_gpu_stats_of(NULL);
}

/* Every scope that was begun and ended is somewhere. */
static uint64_t accounted(void)
{
    perf_gpu_stats a = all();

    return a.scopes + a.pending + a.dropped + a.captured + a.no_context + a.failed + a.no_gpu;
}

static void one(const char *name, perf_stream stream, uint64_t ns)
{
    perf_gpu_scope s = perf_gpu_scope_begin(name, stream);
    (void)sim_work(stream, ns);
    perf_gpu_scope_end(&s);
}

/* ---- what a scope measures ---- */

static void durations(void)
{
    perf_stream    stream = start();
    perf_gpu_stats a;
    row            r;
    int            i;

    one("first", stream, 10);               /* waited for: ties the two clocks together */
    (void)perf_gpu_collect_sync();
    sim_host(100000);
    for (i = 0; i < 20; i++) {
        (void)sim_work(stream, 50000);              /* keeps the device busy while the host launches */
        {
            PERF_GPU_SCOPE("kernel", stream);
            (void)sim_work(stream, 10000);
        }
        sim_host(200000);
    }
    CHECK(all().pending == 20 && all().scopes == 1, "nothing is fetched unasked");
    CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
    a = perf_gpu_stats_of("kernel");
    CHECK(a.scopes == 20 && NEAR(a.device_ns, 200000, 20 * 32), "20 kernels of 10 us: %g", a.device_ns);
    /* Two records of 800 ns, one question of 20 ns, one launch of 2.5 us. */
    CHECK(NEAR(a.submit_ns, 20 * 4120.0, 1), "time of the host: %g", a.submit_ns);
    /* Launched 2.5 us after the work before, which starts 3 us after its launch and takes 50 us. */
    CHECK(a.lag_ns / 20 > 45000 && a.lag_ns / 20 <= 53000, "from the host to the device: %g", a.lag_ns / 20);
    CHECK(a.lag_max_ns >= a.lag_ns / 20 && a.lag_max_ns <= 53100, "%g", a.lag_max_ns);
    r = row_of("kernel", "device");
    CHECK(r.calls == 20 && NEAR(r.total, a.device_ns, 40) && NEAR(r.p50, 10000, 160), "row: %g", r.p50);
    a = all();
    CHECK(a.scopes == 21 && !a.pending && !a.dropped && !a.failed, "%g", (double)a.scopes);
    CHECK(a.aligned_ns > 0 && a.aligned_ns < 20000, "clocks within %g", a.aligned_ns);
    CHECK(NEAR(a.busy_ns, 203300, 700) && a.span_ns > 4000000 && a.span_ns < 4200000, "%g of %g", a.busy_ns, a.span_ns);
    CHECK(perf_gpu_stats_of("no such name").scopes == 0, "a name nobody used");
    CHECK(sim.calls[SIM_event_sync] == 1 && !sim.calls[SIM_stream_sync], "a wait");
    CHECK(sim.calls[SIM_event_query] + sim.calls[SIM_stream_query] == 0, "a query");

    /* An idle device: the launch is inside, as it is on a real one. */
    stream = start();
    sim_host(100000);
    one("alone", stream, 10000);
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    a = perf_gpu_stats_of("alone");
    CHECK(a.scopes == 1 && NEAR(a.device_ns, 12500, 40), "%g", a.device_ns);

    /* Nested, and the ends in another order, and in no order at all. */
    stream = start();
    {
        PERF_GPU_SCOPE("outer", stream);
        {
            PERF_GPU_SCOPE("inner", stream);
            (void)sim_work(stream, 30000);
        }
        (void)sim_work(stream, 20000);
    }
    {
        perf_gpu_scope x = perf_gpu_scope_begin("x", stream), y = perf_gpu_scope_begin("y", stream);
        perf_gpu_scope copy = x;
        (void)sim_work(stream, 1000);
        perf_gpu_scope_end(&x);
        perf_gpu_scope_end(&x);
        perf_gpu_scope_end(&y);
        perf_gpu_scope_end(NULL);
        (void)copy;
    }
    {
        perf_gpu_scope deep[40];
        for (i = 0; i < 40; i++)
            deep[i] = perf_gpu_scope_begin("deep", stream);
        (void)sim_work(stream, 5000);
        for (i = 40; i--;)
            perf_gpu_scope_end(&deep[i]);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("deep").scopes == 40 && perf_gpu_stats_of("deep").device_ns > 40 * 5000.0, "forty in each other");
    CHECK(perf_gpu_stats_of("outer").device_ns > perf_gpu_stats_of("inner").device_ns + 19000, "nesting");
    CHECK(all().scopes == 44 && accounted() == 44, "%g scopes", (double)all().scopes);
    sim_stop();
    CHECK(!sim.events && !sim.wrong_context && !sim.bad_handle, "%d events left", (int)sim.events);
}

static void kinds(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s;

    {
        PERF_GPU_COPY_IN("in", stream);
        (void)sim_work(stream, 1000);
    }
    {
        PERF_GPU_COPY_OUT("out", stream);
        (void)sim_work(stream, 2000);
    }
    {
        PERF_GPU_COPY("within", stream);
        (void)sim_work(stream, 3000);
    }
    {
        PERF_GPU_WAIT("wait");
        (void)sim_stream_sync(stream);
    }
    s = perf_gpu_copy_begin("odd kind", stream, (perf_gpu_kind)99);
    perf_gpu_scope_end(&s);
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(row_of("in", "copy in").calls == 1 && row_of("out", "copy out").calls == 1, "copies");
    CHECK(row_of("within", "copy").calls == 1 && row_of("odd kind", "device").calls == 1, "copies");
    CHECK(row_of("wait", "sync").total > 5000, "waited %g", row_of("wait", "sync").total);
    sim_stop();
}

/* ---- streams, devices, threads ---- */

typedef struct job {
    int         device, scopes, moved;
    perf_stream stream[3];
    const char *name;
} job;

/* Its own context, or none of its own and streams of both devices. */
static void *work(void *arg)
{
    job       *j = (job *)arg;
    void      *before = NULL, *after = NULL;
    int        i;

    sim_device(j->device);
    (void)sim_ctx_get(&before);
    for (i = 0; i < j->scopes; i++) {
        perf_stream stream = j->stream[i % 3];
        {
            PERF_SCOPE("host part");
            one(j->name, stream, 1000);
        }
        sim_host(1500);
        if (i % 16 == 15)
            (void)perf_gpu_collect();
    }
    (void)sim_ctx_get(&after);
    j->moved = before != after;
    return NULL;
}

static void threads(void)
{
    enum { N = 4, SCOPES = 480 };
    pthread_t      thread[N];
    job            j[N];
    static const char *const name[N] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    perf_gpu_stats a;
    int            i, k;

    (void)start();
    for (i = 0; i < N; i++) {
        j[i].device = i % 2;
        j[i].scopes = SCOPES;
        j[i].moved = 0;
        j[i].name = name[i];
        for (k = 0; k < 3; k++)
            j[i].stream[k] = sim_stream((i + k) % 2);   /* also of the device that is not current */
    }
    for (i = 0; i < N; i++)
        (void)pthread_create(&thread[i], NULL, work, &j[i]);
    for (i = 0; i < N; i++)
        (void)pthread_join(thread[i], NULL);
    for (i = 0; i < SIM_DEVICES; i++) {
        sim_device(i);
        CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    }
    a = all();
    CHECK(accounted() == N * SCOPES && !a.pending && !a.failed, "%g of %d", (double)accounted(), N * SCOPES);
    CHECK(a.scopes + a.dropped == N * SCOPES, "%g and %g", (double)a.scopes, (double)a.dropped);
    CHECK(a.scopes > N * SCOPES / 2, "only %g", (double)a.scopes);
    for (i = 0; i < N; i++)
        CHECK(perf_gpu_stats_of(name[i]).scopes <= SCOPES && !j[i].moved, "%s", name[i]);
    CHECK(row_of("host part", "scope").calls == N * SCOPES, "scopes of the host");
    CHECK(!sim.wrong_context && !sim.bad_handle && sim.contexts == 2, "%d wrong contexts", (int)sim.wrong_context);
    CHECK(sim.most_events <= N * 2 * (2 * PERF_GPU_SLOTS + 2), "%d events", (int)sim.most_events);
    sim_stop();
    CHECK(!sim.events, "%d events left", (int)sim.events);
}

/* A scope that one thread begins and another ends. */
static void *end_it(void *scope)
{
    perf_gpu_scope_end((perf_gpu_scope *)scope);
    return NULL;
}

static void handed_over(void)
{
    perf_stream    stream = start();
    pthread_t      thread;
    int            i;

    for (i = 0; i < 3 * PERF_GPU_SLOTS; i++) {
        perf_gpu_scope s = perf_gpu_scope_begin("handed over", stream);
        (void)sim_work(stream, 1000);
        (void)pthread_create(&thread, NULL, end_it, &s);
        (void)pthread_join(thread, NULL);
        sim_host(10000);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(all().scopes == 3 * PERF_GPU_SLOTS && !all().dropped, "%g", (double)all().scopes);
    sim_stop();
}

/* No context: nothing is recorded, and none is made.  Default streams belong to the current one. */
static void contexts(void)
{
    perf_stream    stream = start();
    void          *ctx = NULL;
    char          *text;
    perf_gpu_stats a;

    sim_device(-1);
    CHECK(perf_gpu_status() == PERF_ENOGPU, "no context");
    {
        PERF_GPU_SCOPE("k", NULL);
    }
    CHECK(all().no_context == 1 && perf_gpu_collect_sync() == PERF_ENOGPU, "%g", (double)all().no_context);
    CHECK(perf_gpu_memory_mark("none") == PERF_ENOGPU, "a mark without a context");
    CHECK(sim.contexts == 1 && !sim.surfaced[201], "a context was made, or asked for in vain");
    sim_device(1);
    one("k", stream, 1000);                         /* device 0's stream while device 1 is current */
    one("k", NULL, 1000);
    one("k", (perf_stream)(uintptr_t)1, 1000);
    (void)sim_ctx_get(&ctx);
    CHECK(ctx == sim_context(1), "the context is left as it was");
    sim_host(1000000);
    CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
    a = all();
    CHECK(a.scopes == 3 && a.no_context == 1 && !sim.wrong_context, "%g", (double)a.scopes);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "trace");
    text = file_text(scratch_file());           /* NULL and 1 are one stream */
    CHECK(strstr(text, "\"GPU 1 stream default\"") && !strstr(strstr(text, "\"GPU 1 stream default\"") + 1, "\"GPU 1 stream default\""),
          "%s", text);
    free(text);
    (void)remove(scratch_file());

    /* A default stream means another context in the end than at the begin. */
    {
        perf_gpu_scope s = perf_gpu_scope_begin("default", NULL);
        (void)sim_work(NULL, 1000);
        sim_device(0);
        perf_gpu_scope_end(&s);
    }
    sim_host(1000000);
    (void)perf_gpu_collect();
    /* The end is tried where it is, which the driver refuses, and then in the context of the begin. */
    CHECK(all().scopes == 4 && sim.wrong_context == 1, "%g, %g wrong", (double)all().scopes, (double)sim.wrong_context);
    sim_stop();
}

/* ---- the room for scopes in flight ---- */

static void full(void)
{
    static uint32_t flag;
    perf_stream     stream = start();
    perf_gpu_stats  a;
    int             i, round;

    for (round = 0; round < 3; round++) {
        perf_reset();
        __atomic_store_n(&flag, 0, __ATOMIC_RELEASE);
        (void)sim_wait_value32(stream, (uint64_t)(uintptr_t)&flag, 1, 0);
        for (i = 0; i < 500; i++)
            one("held back", stream, 1000);
        a = all();
        CHECK(a.pending == ROOM && a.dropped == 500 - ROOM, "%g in flight, %g dropped", (double)a.pending,
              (double)a.dropped);
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
        sim_host(1000000);
        sim_host(1000000);
        CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
        a = all();
        CHECK(a.scopes == ROOM && !a.pending && accounted() == 500, "%g fetched", (double)a.scopes);
        CHECK(row_of("held back", "device").calls == (double)ROOM, "%g", row_of("held back", "device").calls);
    }
    CHECK(sim.most_events <= 2 * PERF_GPU_SLOTS + 2, "%d events", (int)sim.most_events);

    /* As long as the device keeps up nothing is lost, however many there are. */
    perf_reset();
    for (i = 0; i < 20000; i++) {
        one("kept up", stream, 1000);
        sim_host(5000);
    }
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 20000 && !all().dropped, "%g; %g pending, %g dropped, %g failed",
          (double)all().scopes, (double)all().pending, (double)all().dropped, (double)all().failed);
    CHECK(sim.most_events <= 2 * PERF_GPU_SLOTS + 2, "%d events", (int)sim.most_events);
    sim_stop();
    CHECK(!sim.events, "%d events left", (int)sim.events);
}

/* ---- captures ---- */

static void *collect_often(void *stop)
{
    sim_device(0);
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE))
        (void)perf_gpu_collect();
    return NULL;
}

static void captures(void)
{
    perf_stream stream = start(), other = sim_stream(0);
    pthread_t   thread;
    void       *graph = NULL, *exec = NULL;
    int         i, stop = 0, whole = 0, nodes = 0;

    one("before", stream, 1000);
    (void)pthread_create(&thread, NULL, collect_often, &stop);
    for (i = 0; i < 1000; i++) {                /* another thread collects all the while */
        (void)sim_capture_begin(stream, 0);
        {
            PERF_GPU_SCOPE("captured", stream);
            (void)sim_work(stream, 1000);
        }
        one("beside", other, 1000);             /* another stream meanwhile: recorded */
        if (i % 100 == 0)
            (void)perf_gpu_memory_mark("inside");
        graph = NULL;
        whole += sim_capture_end(stream, &graph) == 0 && graph;
        if (!graph)
            continue;
        nodes += (int)((sim_graph *)graph)->items.count;
        (void)sim_graph_destroy(graph);
        sim_host(10000);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    (void)pthread_join(thread, NULL);
    CHECK(whole == 1000 && nodes == 1000 && !sim.spoilt, "%d whole, %d nodes, %d spoilt", whole, nodes, (int)sim.spoilt);
    (void)perf_gpu_collect_sync();
    /* While the other thread holds the lock a full ring cannot be emptied: those are dropped. */
    CHECK(accounted() == 2001 && all().captured > 0 && !all().failed && !all().pending, "%g skipped, %g recorded",
          (double)all().captured, (double)all().scopes);
    CHECK(all().captured <= 1000 && all().scopes <= 1001, "%g skipped", (double)all().captured);
    CHECK(!sim.surfaced[900] && !sim.surfaced[901] && !sim.surfaced[907], "a capture's error surfaced");
    CHECK(!perf_gpu_stats_of(NULL).error, "%s", perf_gpu_error_text());

    /* A capture that begins, or ends, inside a scope. */
    perf_reset();
    {
        perf_gpu_scope s = perf_gpu_scope_begin("half", stream);
        (void)sim_capture_begin(stream, 0);
        (void)sim_work(stream, 1000);
        perf_gpu_scope_end(&s);
        CHECK(sim_capture_end(stream, &graph) == 0, "ended");
        (void)sim_graph_instantiate(&exec, graph, 0);
        (void)sim_graph_launch(exec, stream);
        (void)sim_graph_destroy(graph);
        (void)sim_graph_exec_destroy(exec);
        (void)sim_capture_begin(stream, 0);
        s = perf_gpu_scope_begin("half", stream);
        CHECK(sim_capture_end(stream, &graph) == 0, "ended");
        (void)sim_graph_destroy(graph);
        perf_gpu_scope_end(&s);
    }
    one("after", stream, 1000);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("after").scopes == 1 && accounted() == 3 && !sim.spoilt, "%g", (double)accounted());

    /* The default stream while another, a blocking one, captures. */
    perf_reset();
    ((sim_stream *)other)->flags = 0;
    (void)sim_capture_begin(other, 0);
    {
        perf_gpu_scope s = perf_gpu_scope_begin("default", NULL);
        perf_gpu_scope_end(&s);
    }
    CHECK(sim_capture_end(other, &graph) == 0 && !sim.spoilt, "%d spoilt", (int)sim.spoilt);
    (void)sim_graph_destroy(graph);
    CHECK(all().captured == 1, "%g", (double)all().captured);
    sim_stop();
}

/* ---- clocks ---- */

/* Where the scope that began at `begin` was placed, in ticks; 0: it was not fetched. */
static uint64_t placed(const perf_gpu_ring_ *ring, uint64_t begin)
{
    uint32_t i;

    for (i = 0; i < 8 * ring->cap; i++)
        if (ring->done[i].begin == begin)
            return ring->done[i].at;
    return 0;
}

/* An hour on a device whose clock drifts.  The device's time line may be wrong by no more than
 * `allowed` at its end, and each scope lies where the report says it does.  With a wait after each
 * batch the two clocks are tied within `tied`. */
static void clocks(double ppm, uint64_t pause, uint64_t seconds, double allowed, double tied)
{
    static perf_gpu_slot_ *slot[40];
    static double          truth[40];
    static uint64_t        begin[40];
    perf_stream            stream = start();
    perf_gpu_line_        *line = NULL;
    perf_gpu_stats         a;
    double                 first = 0, end, worst = 0, error = 0, last = 0;
    uint64_t               until = sim.now + seconds * UINT64_C(1000000000);
    int                    n = 0, i, k = 0;

    sim.drift_ppm[0] = ppm;
    while (sim.now < until) {
        perf_gpu_scope s;
        if (tied > 0)                               /* waited for at once, or only some time later */
            sim_host(pause + (uint64_t)(k++ % 7) * 1001);
        s = perf_gpu_scope_begin("tick", stream);
        slot[n] = s.slot;
        begin[n] = s.slot->begin;
        (void)sim_work(stream, 10000);
        truth[n] = (double)((sim_event *)s.slot->start)->at;
        perf_gpu_scope_end(&s);
        n++;
        if (!(tied > 0))
            sim_host(pause + (uint64_t)(k++ % 7) * 1001);
        if (n < 40 && !(tied > 0 && !line))     /* the first alone: what it says holds from there on */
            continue;
        if (!line) {
            line = slot[0]->ring->line;
            first = sim_device_ns(0, (uint64_t)truth[0]);
        }
        (void)(tied > 0 ? perf_gpu_collect_sync() : perf_gpu_collect());
        a = all();
        for (i = 0; i < n; i++) {
            error = (double)placed(slot[0]->ring, begin[i]) - truth[i];
            worst = fabs(error) > worst ? fabs(error) : worst;
            CHECK(fabs(error) <= a.aligned_ns, "%g ns away, said %g, at %g s", error, a.aligned_ns, truth[i] * 1e-9);
        }
        last = truth[n - 1];
        n = 0;
    }
    if (!line)
        return;
    end = sim_device_ns(0, ((sim_event *)line->anchor)->at) - first;
    CHECK(NEAR(line->anchor_ns, end, allowed), "after %g s: %g ns off", end * 1e-9, line->anchor_ns - end);
    CHECK(!(tied > 0) || all().aligned_ns <= tied, "clocks within %g ns", all().aligned_ns);
    printf("%g ppm, a scope each %g ms, %g s: device time line %g ns off; on the host's clock %g ns off at the end, "
           "%g at worst, within %g said\n", ppm, (double)pause * 1e-6, (last - 1e9) * 1e-9, line->anchor_ns - end,
           error, worst, all().aligned_ns);
    sim_stop();
}

/* A device that is never idle, with a clock that runs fast: nothing says where its scopes really lie
 * but the limit of the drift, and the bound has to grow with it. */
static void busy_clock(double ppm)
{
    perf_gpu_slot_ *slot[10];
    perf_stream     stream = start();
    double          truth[10], error = 0;
    uint64_t        begin[10], at;
    int             i, round;

    sim.drift_ppm[0] = ppm;
    one("first", stream, 10);
    (void)perf_gpu_collect_sync();
    (void)sim_work(stream, 20000000);               /* always 20 ms ahead */
    for (round = 0; round < 300; round++) {
        for (i = 0; i < 10; i++) {
            perf_gpu_scope s = perf_gpu_scope_begin("busy", stream);
            slot[i] = s.slot;
            begin[i] = s.slot->begin;
            (void)sim_work(stream, 2000000);
            truth[i] = (double)((sim_event *)s.slot->start)->at;
            perf_gpu_scope_end(&s);
        }
        sim_host(20000000 - 10 * 4120);
        (void)sim_work(stream, 0);
        sim_host(0);
        (void)perf_gpu_collect();
        for (i = 0; i < 10 && (at = placed(slot[0]->ring, begin[i])) != 0; i++) {
            error = (double)at - truth[i];
            CHECK(fabs(error) <= all().aligned_ns, "%g ns away, said %g", error, all().aligned_ns);
        }
    }
    printf("%g ppm, never idle, 6 s: %g ns off, within %g said\n", ppm, error, all().aligned_ns);
    sim_stop();
}

/* ---- report and trace ---- */

typedef struct zone {
    char   name[32];
    double start, length, track;        /* us */
} zone;

static size_t zones(const char *text, zone *z, size_t room)
{
    size_t n = 0;

    while (n < room && (text = strstr(text, "{\"ph\":\"X\",\"name\":\"")) != NULL) {
        text += 18;
        memset(&z[n], 0, sizeof z[n]);
        memcpy(z[n].name, text, strcspn(text, "\"") < 31 ? strcspn(text, "\"") : 31);
        z[n].start = strtod(strstr(text, "\"ts\":") + 5, NULL);
        z[n].length = strtod(strstr(text, "\"dur\":") + 6, NULL);
        z[n++].track = strtod(strstr(text, "\"tid\":") + 6, NULL);
    }
    return n;
}

static void joined(void)
{
    perf_stream stream = start(), second = sim_stream(1);
    static zone z[64];
    zone       *host = NULL, *outer = NULL, *inner = NULL, *other = NULL;
    double      within;
    size_t      n, i;
    char       *text;

    sim_device(0);
    sim_host(1000000);
    {
        PERF_SCOPE("host");
        PERF_GPU_SCOPE("outer", stream);
        {
            PERF_GPU_SCOPE("inner \"1\"", stream);
            (void)sim_work(stream, 40000);
        }
        (void)sim_work(stream, 20000);
        one("second", second, 30000);
    }
    sim_host(1000000);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");      /* fetches by itself */
    text = file_text(scratch_file());
    (void)remove(scratch_file());
    CHECK(json_valid(text), "%.3000s", text);
    CHECK(strstr(text, "GPU 0 stream 1") && strstr(text, "GPU 1 stream 1"), "%.3000s", text);
    n = zones(text, z, 64);
    for (i = 0; i < n; i++) {
        host = strcmp(z[i].name, "host") ? host : &z[i];
        outer = strcmp(z[i].name, "outer") ? outer : &z[i];
        inner = strncmp(z[i].name, "inner", 5) ? inner : &z[i];
        other = strcmp(z[i].name, "second") ? other : &z[i];
    }
    CHECK(host && outer && inner && other, "%.3000s", text);
    free(text);
    if (!host || !outer || !inner || !other)
        return;
    within = all().aligned_ns * 1e-3;
    CHECK(within >= 0 && within < 2000, "%g", within);
    CHECK(outer->track == inner->track && outer->track != other->track && outer->track != host->track, "tracks");
    CHECK(outer->start <= inner->start && outer->start + outer->length >= inner->start + inner->length, "nesting");
    CHECK(NEAR(inner->length, 42.5, 0.1) && outer->length > 63, "%g %g", inner->length, outer->length);
    CHECK(outer->start >= host->start, "starts before the host asked for it");
    CHECK(NEAR(other->length, 32.5, 0.1) && NEAR(other->start, host->start, within + 20), "%g", other->start - host->start);

    CHECK(row_of("outer", "device").calls == 1 && row_of("second", "device").calls == 1, "rows");
    text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
    CHECK(json_valid(text), "%s", text);
    free(text);
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);        /* a line for each device, and what bounds */
    CHECK(strstr(text, "\nGPU 0: busy ") && strstr(text, "\nGPU 1: busy ") && strstr(text, "\nbottleneck: "), "%s", text);
    free(text);
    sim_stop();
}

/* Percentiles of device times, from the same histogram as the host's. */
static void percentiles(void)
{
    perf_stream stream = start();
    row         r;
    int         i;

    for (i = 0; i < 1000; i++) {
        (void)sim_work(stream, 30000);
        one("mixed", stream, 1000 + 1000 * (uint64_t)(i % 100));
        sim_host(200000);
        if (i % 20 == 19)
            (void)perf_gpu_collect();
    }
    (void)perf_gpu_collect_sync();
    r = row_of("mixed", "device");
    CHECK(r.calls == 1000 && NEAR(r.p50, 50000, 1000) && NEAR(r.p95, 95000, 2000) && NEAR(r.p99, 99000, 2000), "%g %g %g",
          r.p50, r.p95, r.p99);
    CHECK(NEAR(r.min, 1000, 40) && NEAR(r.max, 100000, 40), "%g %g", r.min, r.max);
    sim_stop();
}

static void resets(void)
{
    perf_stream    stream = start();
    perf_gpu_stats a;

    one("old", stream, 10000);
    sim_host(1000000);
    (void)perf_gpu_collect();
    one("in flight", stream, 10000);
    (void)perf_gpu_memory_mark("old");
    CHECK(all().aligned_ns > 0, "%g", all().aligned_ns);
    perf_reset();
    CHECK(all().aligned_ns < 0, "no scope since the reset, and %g ns off", all().aligned_ns);
    sim_host(1000000);
    one("new", stream, 10000);
    sim_host(1000000);
    CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
    a = all();
    CHECK(a.scopes == 1 && perf_gpu_stats_of("new").scopes == 1, "%g scopes", (double)a.scopes);
    CHECK(a.busy_ns < 20000 && row_of("in flight", "device").calls == 0 && row_of("old", "device").calls == 0, "%g",
          a.busy_ns);
    perf_enable(0);
    one("off", stream, 10000);
    perf_enable(1);
    (void)perf_gpu_collect_sync();
    CHECK(accounted() == 1, "recorded while switched off");
    sim_stop();
}

/* ---- busy ---- */

static void *behind(void *stream)
{
    sim_device(0);
    (void)sim_work(stream, 1000000);
    one("behind other work", stream, 100000);
    return NULL;
}

/* Two streams; what begins second on the host starts first on the device, where the other stream has work before its
 * scope: both count as busy.  how 0: fetched together; 1: round by round; 2: of two threads, the late one second, whose
 * first one is lost: it shows that there are such. */
static void late_starts(void)
{
    perf_stream    stream, other;
    perf_gpu_stats a;
    pthread_t      thread;
    int            how, i;

    for (how = 0; how < 3; how++) {
        stream = start();
        other = sim_stream(0);
        one("first", other, 1000);              /* this thread's ring is the older one */
        (void)perf_gpu_collect_sync();
        perf_reset();
        for (i = 0; i < 20; i++) {
            if (how == 2)
                CHECK(pthread_create(&thread, NULL, behind, stream) == 0 && pthread_join(thread, NULL) == 0, "thread");
            else
                (void)behind(stream);
            one("beside", other, 900000);
            sim_host(1100000);
            if (how)
                (void)perf_gpu_collect();
        }
        (void)perf_gpu_collect_sync();
        a = all();
        CHECK(a.scopes == 40 && NEAR(a.busy_ns, 20 * 1002500.0, how < 2 ? 200000 : 1000000), "%d: busy %g ns of %g", how, a.busy_ns, a.span_ns);
        CHECK(a.busy_ns <= a.span_ns && a.starved_ns >= 0 && a.starved_ns <= a.span_ns - a.busy_ns + 1, "%d: starved %g", how, a.starved_ns);
        sim_stop();
    }
}

/* ---- memory ---- */

/* The numbers of a phase's line, in GiB. */
static int phase(const char *text, const char *name, double v[5])
{
    char at[64];
    int  i;

    snprintf(at, sizeof at, "\n%s ", name);
    text = strstr(text, at);
    if (!text)
        return 0;
    text += strlen(at);
    (void)strtod(text, (char **)&text);                     /* the device */
    for (i = 0; i < 5; i++) {
        double by;
        v[i] = strtod(text, (char **)&text);
        text += strspn(text, " ");
        by = *text == 'G' ? 1 : *text == 'M' ? 1.0 / 1024 : *text == 'K' ? 1.0 / 1048576 : 1.0 / 1073741824;
        v[i] *= by;
        text += strcspn(text, " \n");
    }
    return 1;
}

static void memory(void)
{
    const size_t gib = (size_t)1 << 30;
    uint64_t     a = 0, b = 0;
    double       v[5] = {0};
    char        *text;

    (void)start();
    CHECK(perf_gpu_memory_note("x", (double)NAN) == PERF_EINVAL && perf_gpu_memory_note("x", HUGE_VAL) == PERF_EINVAL, "NaN");
    (void)sim_mem_alloc(&a, 2 * gib);
    CHECK(perf_gpu_memory_mark("load") == PERF_OK, "mark");
    (void)sim_mem_alloc(&b, 5 * gib);
    (void)sim_mem_free(b);                                  /* up and down again: only a peak */
    CHECK(perf_gpu_memory_mark("forward") == PERF_OK, "mark");
    (void)sim_mem_alloc(&b, gib);
    (void)perf_gpu_memory_note("weights", 3.0 * (double)gib);
    (void)perf_gpu_memory_note(NULL, -1.0 * (double)gib);
    CHECK(perf_gpu_memory_mark("backward") == PERF_OK, "mark");
    (void)sim_mem_free(a);
    CHECK(perf_gpu_memory_mark(NULL) == PERF_OK, "mark without a name");
    (void)perf_gpu_memory_note("planned", 90.0 * (double)gib);
    CHECK(perf_gpu_memory_mark("too large") == PERF_OK, "mark");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "device memory phase"), "%s", text);
    CHECK(phase(text, "load", v) && NEAR(v[0], 2, 0.01) && NEAR(v[1], 2, 0.01) && NEAR(v[4], 80, 0.01), "%s", text);
    CHECK(phase(text, "forward", v) && NEAR(v[0], 2, 0.01) && NEAR(v[1], 0, 0.01) && NEAR(v[2], 7, 0.01), "%g: %s", v[2], text);
    CHECK(phase(text, "backward", v) && NEAR(v[0], 3, 0.01) && NEAR(v[1], 1, 0.01) && NEAR(v[3], 2, 0.01), "%s", text);
    CHECK(phase(text, "(null)", v) && NEAR(v[0], 1, 0.01) && NEAR(v[1], -2, 0.01) && NEAR(v[2], 3, 0.01), "%s", text);
    CHECK(phase(text, "too large", v) && v[2] > 90, "%s", text);
    CHECK(strstr(text, "does not fit") && strstr(text, "note: too large is the first phase that does not fit on GPU 0"),
          "%s", text);
    free(text);

    /* The other device has a table of its own; what the driver cannot say is a status. */
    sim_device(1);
    CHECK(perf_gpu_memory_mark("other device") == PERF_OK, "mark");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(phase(text, "other device", v) && NEAR(v[0], 0, 0.01), "%s", text);
    free(text);
    sim_fail(SIM_mem_info, 1, 700, 0);
    CHECK(perf_gpu_memory_mark("fails") == PERF_EGPU && perf_gpu_stats_of(NULL).error == 700, "%d", perf_gpu_stats_of(NULL).error);
    CHECK(strstr(perf_gpu_error_text(), "mem_info: 700 SIM_ERROR_ILLEGAL_ADDRESS: an illegal memory access"), "%s",
          perf_gpu_error_text());
    perf_reset();
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(!strstr(text, "device memory phase") && !perf_gpu_stats_of(NULL).error && !*perf_gpu_error_text(), "%s", text);
    free(text);
    (void)perf_gpu_memory_note(NULL, -92.0 * (double)gib);
    sim_stop();
}

/* A phase's peak is its own: the one before does not show in it, nor that before a reset; without the pool's
 * marks, what was in use at the two ends. */
static void peaks(void)
{
    static const size_t most[3] = {40, 30, 50};
    static perf_gpu_backend t;
    double              v[5] = {0};
    char               *text, name[3][16];
    int                 i, how;

    for (how = 0; how < 2; how++) {
        (void)start();
        t = sim_table();
        if (how)
            t.pool_set = NULL;
        CHECK(perf_gpu_use(&t) == PERF_OK, "table");
        for (i = 0; i < 3; i++) {
            uint64_t a = 0;
            snprintf(name[i], sizeof name[i], "peak %d", (int)most[i]);
            (void)sim_mem_alloc(&a, most[i] << 30);
            (void)sim_mem_free(a);
            CHECK(perf_gpu_memory_mark(name[i]) == PERF_OK, "mark");
        }
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        for (i = 0; i < 3; i++)
            CHECK(phase(text, name[i], v) && NEAR(v[2], how ? 0 : (double)most[i], 0.01), "%d %s: %g: %s", how,
                  name[i], v[2], text);
        free(text);
        {
            uint64_t a = 0;
            (void)sim_mem_alloc(&a, (size_t)60 << 30);
            (void)sim_mem_free(a);
        }
        perf_reset();
        CHECK(perf_gpu_memory_mark("peak 0") == PERF_OK, "mark");
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(phase(text, "peak 0", v) && NEAR(v[2], 0, 0.01), "%d: %g: %s", how, v[2], text);
        free(text);
        sim_stop();
    }
}

/* ---- parts of graphs ---- */

static void forward(perf_stream stream, uint64_t ns)
{
    PERF_GPU_PART("forward", stream);
    (void)sim_work(stream, ns);
    {
        PERF_GPU_PART("attention", stream);
        (void)sim_work(stream, 2 * ns);
    }
}

static void replay(void *graph, perf_stream stream)
{
    PERF_GPU_SCOPE("replay", stream);
    (void)sim_graph_launch(graph, stream);
}

/* Each replay of a graph times its parts anew: those that somebody fetches in between. */
static void graph_parts(void)
{
    perf_stream    stream = start(), other = sim_stream(0);
    void          *graph = NULL;
    perf_gpu_stats a;
    perf_gpu_scope s;
    int            i;

    forward(stream, 1000);                      /* outside of a capture: an ordinary scope */
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("forward").scopes == 1 && NEAR(perf_gpu_stats_of("attention").device_ns, 2000, 3000),
          "%g", perf_gpu_stats_of("attention").device_ns);
    perf_reset();
    (void)sim_capture_begin(other, 0);
    forward(other, 5000);
    s = gpu_part_begin("by name", other);
    (void)sim_work(other, 700);
    perf_gpu_scope_end(&s);
    {
        PERF_GPU_SCOPE("skipped", other);
        (void)sim_work(other, 100);
    }
    CHECK(sim_capture_end(other, &graph) == 0 && graph, "capture");
    CHECK(perf_gpu_collect_sync() == PERF_OK && all().scopes == 0 && all().captured == 1, "%g", (double)all().captured);
    for (i = 0; i < 200; i++) {
        replay(graph, stream);
        CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());     /* in the middle of it */
        (void)sim_stream_sync(stream);
        CHECK(perf_gpu_collect() == PERF_OK && perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
        CHECK(perf_gpu_stats_of("attention").scopes == (uint64_t)i + 1, "%d: %g", i,
              (double)perf_gpu_stats_of("attention").scopes);
        sim_host(i % 50 ? 1000 : 3000000000u);
    }
    a = perf_gpu_stats_of("attention");
    CHECK(a.scopes == 200 && NEAR(a.device_ns, 200 * 10000, 200 * 64), "%g ns", a.device_ns);
    a = perf_gpu_stats_of("forward");
    CHECK(a.scopes == 200 && NEAR(a.device_ns, 200 * 15000, 200 * 64) && !(a.lag_ns > 0), "%g ns", a.device_ns);
    CHECK(perf_gpu_stats_of("by name").scopes == 200 && perf_gpu_stats_of("replay").scopes == 200, "rows");
    CHECK(!all().failed && !all().dropped && !sim.wrong_context && !sim.spoilt, "%s", perf_gpu_error_text());
    for (i = 0; i < 3; i++)                     /* nobody fetches between: the newest one counts */
        replay(graph, stream);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("forward").scopes == 201 && perf_gpu_stats_of("replay").scopes == 203, "%g",
          (double)perf_gpu_stats_of("forward").scopes);
    replay(graph, stream);                      /* done before the reset, not fetched: not counted after it */
    (void)sim_stream_sync(stream);
    sim_host(1000000);
    perf_reset();
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("forward").scopes == 0, "%g", (double)perf_gpu_stats_of("forward").scopes);
    (void)sim_graph_destroy(graph);
    sim_stop();
}

/* Without the driver's function, with an error at either node, and where there is no more room. */
static void graph_parts_refused(void)
{
    static perf_gpu_backend t;
    perf_stream             stream = start();
    void                   *graph = NULL;
    int                     i;

    t = sim_table();
    t.event_record_flags = NULL;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    (void)sim_capture_begin(stream, 0);
    forward(stream, 1000);
    (void)sim_capture_end(stream, &graph);
    (void)sim_graph_destroy(graph);
    CHECK(all().captured == 2 && !all().failed, "%g", (double)all().captured);
    for (i = 1; i <= 4; i++) {
        stream = start();
        (void)sim_capture_begin(stream, 0);
        sim_fail(i == 3 ? SIM_event_create : SIM_event_record_flags, i == 2 ? 4 : 1, i == 4 ? 900 : 700, 0);
        forward(stream, 1000);
        CHECK(sim_capture_end(stream, &graph) == 0, "%d", i);
        (void)sim_graph_destroy(graph);
        CHECK(all().failed + all().captured == 1, "%d: %g", i, (double)all().failed);
        sim_stop();
    }
    stream = start();
    (void)sim_capture_begin(stream, 0);
    for (i = 0; i < 1030; i++) {
        PERF_GPU_PART("many", stream);
        (void)sim_work(stream, 10);
    }
    (void)sim_capture_end(stream, &graph);
    CHECK(all().captured == 6, "%g", (double)all().captured);
    one("ties the clocks", stream, 1000);
    (void)sim_graph_launch(graph, stream);
    (void)perf_gpu_collect_sync();
    (void)sim_stream_sync(stream);
    sim_host(100000);
    (void)perf_gpu_collect();
    CHECK(perf_gpu_stats_of("many").scopes == 1024, "%g", (double)perf_gpu_stats_of("many").scopes);
    (void)sim_graph_destroy(graph);
    sim_stop();
}

/* ---- what a driver may do to us ---- */

static float odd_ms;

static int odd_elapsed(float *ms, void *start, void *stop)
{
    int code = sim_event_elapsed(ms, start, stop);

    if (!code && odd_ms > 0)
        *ms = odd_ms;
    return code;
}

/* A length that nothing on earth has is a failure, not a place in a histogram. */
static void impossible_lengths(void)
{
    static const float      odd[] = {1e30f, 3e38f, 2e11f, 1e15f};
    static perf_gpu_backend t;
    perf_stream             stream;
    size_t                  i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        stream = start();
        t = sim_table();
        t.event_elapsed = odd_elapsed;
        CHECK(perf_gpu_use(&t) == PERF_OK, "table");
        odd_ms = odd[i];
        one("odd", stream, 1000);
        (void)perf_gpu_collect_sync();
        odd_ms = 0;
        CHECK(all().scopes == 0 && all().failed == 1, "%g ms: %g", (double)odd[i], (double)all().scopes);
        one("even", stream, 1000);
        (void)perf_gpu_collect_sync();
        CHECK(perf_gpu_stats_of("even").scopes == 1 && accounted() == 2, "%g", (double)accounted());
        sim_stop();
    }
}

/* An answer of the moment must not end all scopes for good. */
static void passing_error(void)
{
    perf_gpu_scope s;

    (void)start();
    one("before", NULL, 1000);
    s = perf_gpu_scope_begin("during", NULL);
    sim_host(1000000);
    sim_fail(SIM_ctx_id, 1, 999, 0);
    perf_gpu_scope_end(&s);
    CHECK(perf_gpu_status() == PERF_OK, "%s", perf_gpu_error_text());
    one("after", NULL, 1000);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("before").scopes == 1 && perf_gpu_stats_of("after").scopes == 1, "%s", perf_gpu_error_text());
    CHECK(accounted() == 3, "%g", (double)accounted());
    sim_stop();
}

/* A device that was reset is noticed within 0.1 ms, by the clock and not by a count of ticks. */
static void reset_soon(void)
{
    perf_stream stream = start();
    int         i;

    one("before", stream, 1000);
    one("before", stream, 1000);
    for (i = 0; i < 3; i++) {
        sim_device_reset(0);
        sim_host(110000);
        one("after", stream, 1000);
        CHECK(!sim.stale, "an event of before the reset was used");
        stream = sim_stream(0);
        one("after", stream, 1000);
    }
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("after").scopes >= 2, "%g", (double)perf_gpu_stats_of("after").scopes);
    sim_stop();
}

/* A scope that is open while its device is reset, and ends after others have noticed: dropped, and gone with a
 * reset of the counts. */
static void ended_late(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s = perf_gpu_scope_begin("open", stream);

    one("in flight", stream, 1000);
    sim_device_reset(0);
    sim_host(110000);
    stream = sim_stream(0);
    one("after", stream, 1000);
    perf_gpu_scope_end(&s);
    (void)perf_gpu_collect_sync();
    CHECK(all().dropped == 2 && all().scopes == 1 && accounted() == 3, "%g dropped", (double)all().dropped);
    CHECK(!sim.stale, "an event of before the reset was used");
    perf_reset();
    CHECK(accounted() == 0, "%g", (double)accounted());
    sim_stop();
}

/* Errors where the program waits or asks. */
static void asked_at_a_bad_time(void)
{
    perf_stream stream = start();

    one("slow", stream, 1000000);
    sim_fail(SIM_event_sync, 1, 700, 0);
    CHECK(perf_gpu_collect_sync() == PERF_EGPU && perf_gpu_stats_of(NULL).error == 700, "%d", perf_gpu_stats_of(NULL).error);
    perf_reset();
    sim_fail(SIM_ctx_get, 2, 700, 0);
    CHECK(perf_gpu_collect_sync() == PERF_EGPU && perf_gpu_stats_of(NULL).error == 700, "context: %d", perf_gpu_stats_of(NULL).error);
    CHECK(perf_gpu_collect() == PERF_OK && perf_error() == PERF_EGPU, "told once");
    perf_reset();
    sim_fail(SIM_pool_set, 1, 1, 0);
    CHECK(perf_gpu_memory_mark("no pool") == PERF_OK, "mark");
    sim_fail(SIM_ctx_get, 1, 4, 2);
    CHECK(perf_gpu_status() == PERF_EGPU && perf_gpu_stats_of(NULL).error == 4, "%d", perf_gpu_stats_of(NULL).error);
    CHECK(perf_gpu_status() == PERF_EGPU && perf_gpu_memory_mark("down") == PERF_EGPU, "down");
    sim.down = 0;
    sim_stop();
}

/* Somebody who has lost his processor holds the report: results wait, scopes go on. */
static void booking_late(void)
{
    perf_stream      stream = start();
    perf_gpu_state_ *g;
    uint32_t         other = 12345678;
    int              i;

    one("kernel", stream, 10);
    (void)perf_gpu_collect_sync();
    g = perf_gpu_state_if_any_();
    CHECK(perf_claim_(&g->lock, 0, other), "lock");
    for (i = 0; i < 64 * PERF_GPU_SLOTS; i++)
        one("kernel", stream, 10);
    PERF_REL_(&g->lock, 0u);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 64 * PERF_GPU_SLOTS + 1 && !all().dropped, "%g scopes, %g dropped", (double)all().scopes, (double)all().dropped);
    sim_stop();

    stream = start();                           /* or he is about to tie the clock of the device */
    one("kernel", stream, 10);
    g = perf_gpu_state_if_any_();
    CHECK(perf_claim_(&g->lines->lock, 0, other), "lock");
    for (i = 0; i < 5 * PERF_GPU_SLOTS; i++)
        one("kernel", stream, 10);
    PERF_REL_(&g->lines->lock, 0u);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 5 * PERF_GPU_SLOTS + 1 && !all().dropped, "%g scopes, %g dropped", (double)all().scopes, (double)all().dropped);
    sim_stop();
}

/* ---- bottlenecks ---- */

static perf_gpu_bound_ held_back_by(const char *expected)
{
    perf_gpu_bound_ e;
    perf_gpu_stats  a;
    char            line[64], *report;

    (void)perf_gpu_collect();
    a = all();
    perf_gpu_evidence_(&e, &a);
    CHECK(!strcmp(e.bound, expected) || !PERF_SYS_GETTID_,      /* else: which is the main thread?  */
          "%s instead of %s", e.bound, expected);
    report = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    (void)snprintf(line, sizeof line, "\nbottleneck: %s: ", e.bound);
    CHECK(!strstr(report, line) == !a.scopes, "the report of %s:\n%s", e.bound, report);
    free(report);
    return e;
}

static void bottlenecks(void)
{
    perf_stream     stream = start(), other;
    perf_gpu_bound_ e;
    int             i;

    e = held_back_by("cannot tell");
    CHECK(e.wait < 0 && e.busy < 0 && e.copy < 0, "evidence out of nothing");

    for (i = 0; i < 30; i++) {                      /* the device is always busy */
        PERF_SCOPE("step");
        one("kernel", stream, 100000);
        one("kernel", stream, 100000);
        {
            PERF_GPU_WAIT("sync");
            (void)sim_stream_sync(stream);
        }
    }
    e = held_back_by("device");
    CHECK(e.busy > 0.8 && e.busy <= 1 && (e.sync > 0.5 || !PERF_SYS_GETTID_) && e.copy == 0, "%g", e.busy);

    stream = start();                               /* one of two has little to do */
    other = sim_stream(1);
    sim_device(0);
    for (i = 0; i < 30; i++) {
        PERF_SCOPE("step");
        if (i % 29 == 0)
            one("small", other, 1000);
        one("kernel", stream, 200000);
        PERF_GPU_WAIT("sync");
        (void)sim_stream_sync(stream);
    }
    e = held_back_by("device");
    CHECK(e.busy > 0.8 && e.starved < 0.2, "%g %g", e.busy, e.starved);

    stream = start();
    for (i = 0; i < 30; i++) {
        PERF_SCOPE("step");
        PERF_GPU_COPY_IN("weights", stream);
        (void)sim_work(stream, 300000);
        one("kernel", stream, 1000);
        PERF_GPU_WAIT("sync");
        (void)sim_stream_sync(stream);
    }
    e = held_back_by("copies");
    CHECK(e.copy > 0.9, "%g", e.copy);

    stream = start();
    for (i = 0; i < 30; i++) {                      /* the host prepares, the device stands idle */
        PERF_SCOPE("step");
        sim_host(100000);
        one("kernel", stream, 10000);
    }
    e = held_back_by("launches");
    CHECK(e.starved > 0.7 && e.busy < 0.3 && (e.sync == 0 || !PERF_SYS_GETTID_), "%g", e.starved);

    stream = start();
    for (i = 0; i < 30; i++) {                      /* each kernel is waited for at once */
        PERF_SCOPE("step");
        one("kernel", stream, 10000);
        {
            PERF_GPU_WAIT("sync");
            (void)sim_stream_sync(stream);
        }
        sim_host(15000);
    }
    e = held_back_by("syncs");
    CHECK((e.sync > 0.3 && e.busy < 0.8) || !PERF_SYS_GETTID_, "%g", e.sync);

    stream = start();
    for (i = 0; i < 30; i++) {
        PERF_SCOPE("step");
        {
            PERF_WAIT("next batch");
            sim_host(400000);
        }
        one("kernel", stream, 300000);
        {
            PERF_GPU_WAIT("sync");
            (void)sim_stream_sync(stream);
        }
    }
    e = held_back_by("waiting for data");
    CHECK((e.wait > 0.3 && e.wait < 0.7) || !PERF_SYS_GETTID_, "%g", e.wait);

    sim_stop();
}

/* ---- failures ---- */

#define SIM_NAME(f) #f,
static const char *const name_of[] = {SIM_ALL(SIM_NAME)};

enum { BEFORE = 4, DURING = 12, AFTER = 4 };

static void workload(perf_stream *stream, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        PERF_SCOPE("host");
        {
            PERF_GPU_SCOPE("device", stream[i % 3]);
            (void)sim_work(stream[i % 3], 1000);
        }
        sim_host(20000);
        if (i % 3 == 2)
            (void)perf_gpu_collect();
    }
    (void)perf_gpu_collect_sync();
}

static void failures(void)
{
    static const int codes[] = {1, 2, 4, 100, 201, 400, 700, 719, 900, 907, 999, 600};
    static const sim_fn fns[] = {SIM_ctx_get, SIM_event_create, SIM_event_destroy, SIM_event_record, SIM_event_sync,
                                 SIM_event_elapsed, SIM_ctx_set, SIM_ctx_device, SIM_stream_ctx,
                                 SIM_stream_capturing, SIM_capture_mode, SIM_mem_info, SIM_pool_get, SIM_pool_value,
                                 SIM_error_name, SIM_error_text};
    perf_stream stream[3];
    size_t      f, c;
    int         n, sticky, cases = 0, reported = 0;

    for (f = 0; f < sizeof fns / sizeof *fns; f++)
        for (c = 0; c < sizeof codes / sizeof *codes; c++)
            for (n = 1; n < 12; n += n < 2 ? 1 : 4)
                for (sticky = 0; sticky < 2; sticky++) {
                    perf_gpu_stats a;
                    uint64_t       expected = BEFORE + DURING + AFTER, kept, down;
                    int64_t        allowed;
                    perf_status    mark;

                    (void)start();
                    stream[0] = sim_stream(1);
                    stream[1] = sim_stream(0);
                    stream[2] = NULL;
                    workload(stream, BEFORE);
                    CHECK(perf_gpu_stats_of("device").scopes == BEFORE - 1 + (all().pending == 0), "%g before",
                          (double)perf_gpu_stats_of("device").scopes);
                    kept = all().scopes;
                    sim_fail(fns[f], (uint64_t)n, codes[c], sticky);
                    workload(stream, DURING);
                    mark = perf_gpu_memory_mark("phase");
                    sim.sticky = 0;                         /* a driver that is well again */
                    memset(sim.fault, 0, sizeof sim.fault);
                    workload(stream, AFTER);
                    a = all();
                    cases++;
#define WHERE "%s call %d code %d%s", name_of[fns[f]], n, codes[c], sticky ? " sticky" : ""
                    CHECK(a.scopes >= kept, WHERE);
                    CHECK(row_of("host", "scope").calls == (double)expected, WHERE);
                    down = perf_gpu_status() == PERF_EGPU;
                    CHECK(accounted() == expected || down, WHERE);
                    CHECK(down == 0 || codes[c] == 4, WHERE);
                    CHECK(down || perf_gpu_stats_of("device").scopes >= kept + AFTER - 1, WHERE);
                    CHECK(!sim.wrong_context, WHERE);
                    CHECK(mark == PERF_OK || mark == PERF_EGPU || mark == PERF_ENOGPU, WHERE);
                    if (a.failed) {
                        CHECK(perf_gpu_stats_of(NULL).error == codes[c], WHERE);
                        CHECK(*perf_gpu_error_text() && perf_error() == PERF_EGPU, WHERE);
                        reported++;
                    }
                    CHECK(down || fns[f] == SIM_capture_mode || sticky || sim_mode == 0, WHERE);
                    CHECK(sticky || sim_depth == 1 || down, WHERE);
                    sim_device(0);
                    sim_mode = 0;
                    sim_stop();
                    /* Of a context that is said to be no more nothing is touched again. */
                    allowed = fns[f] == SIM_event_destroy || down || (sticky && codes[c] == 201) ? 1000 : 0;
                    CHECK(sim.events <= allowed, WHERE);
                    if (down)
                        CHECK(sim.calls_down == 0, WHERE);
                }
    printf("%d failures, %d of them reported\n", cases, reported);
    CHECK(reported > 200, "%d", reported);
}

/* A stream that is gone: the error has words, the others go on, its handle may be used again. */
static void destroyed(void)
{
    perf_stream stream = start(), other = sim_stream(0);

    one("k", stream, 1000);
    sim_host(1000000);
    (void)sim_stream_destroy(stream);
    one("gone", stream, 1000);
    one("other", other, 1000);
    CHECK(perf_gpu_collect_sync() == PERF_EGPU, "the failure is told");
    CHECK(all().failed == 1 && all().scopes == 2 && accounted() == 3, "%g", (double)all().failed);
    CHECK(perf_gpu_stats_of(NULL).error == 400, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_collect() == PERF_OK && perf_error() == PERF_EGPU, "told once, and the driver works again");
    sim_fail(SIM_event_record, 1, 700, 0);
    one("other", other, 1000);
    CHECK(all().failed == 2 && perf_gpu_stats_of(NULL).error == 400, "not the first error: %s", perf_gpu_error_text());
    sim_stop();
}

/* The address of a stream that is gone comes back as a stream of another device: the first scope finds
 * that out, asks again, and no scope is lost. */
static void reused(void)
{
    perf_stream stream = start(), other = sim_stream(1);
    int         i;

    for (i = 0; i < 3000; i++) {                    /* every slot has seen the stream */
        one("before", stream, 1000);
        if (i % 100 == 99) {
            sim_host(1000000);
            (void)perf_gpu_collect();
        }
    }
    ((sim_stream *)stream)->ctx = ((sim_stream *)other)->ctx;
    for (i = 0; i < 10; i++)
        one("after", stream, 1000);
    sim_host(1000000);
    CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(all().failed == 0 && perf_gpu_stats_of("after").scopes == 10, "%d failed", (int)all().failed);
    sim_stop();
}

/* Work of 2^32 ticks and more takes two entries of the ring: what is overwritten is counted in scopes. */
static void long_ones(void)
{
    perf_stream     stream = start();
    perf_registry_ *r = perf_registry_get_();
    const int       n = (int)r->ring_events / 2 + 1000;
    int             i;

    for (i = 0; i < n; i++) {
        one("long", stream, UINT64_C(5000000000));
        sim_host(UINT64_C(6000000000));
        if (i % 100 == 99)
            (void)perf_gpu_collect();
    }
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("long").scopes == (uint64_t)n, "%g", (double)perf_gpu_stats_of("long").scopes);
    CHECK(perf_losses_sum_(r).n[PERF_LOSS_OVERWRITTEN_] == 1000, "%g overwritten", (double)perf_losses_sum_(r).n[PERF_LOSS_OVERWRITTEN_]);
    sim_stop();
}

/* A device that is lost, and a driver that has shut down: nothing is called any more. */
static void shut_down(void)
{
    perf_stream stream = start();
    uint64_t    calls;

    one("kept", stream, 1000);
    sim_host(1000000);
    (void)perf_gpu_collect();
    one("in flight", stream, 1000);
    sim.down = 1;
    one("after", stream, 1000);
    CHECK(perf_gpu_status() == PERF_EGPU, "%s", perf_status_text(perf_gpu_status()));
    calls = sim.calls_down;
    one("after", stream, 1000);
    (void)perf_gpu_collect();
    (void)perf_gpu_collect_sync();
    (void)perf_gpu_memory_mark("after");
    CHECK(perf_gpu_stats_of(NULL).error == 4 && row_of("kept", "device").calls == 1, "%s", perf_gpu_error_text());
    CHECK(sim.calls_down == calls, "%d calls after the driver had gone", (int)(sim.calls_down - calls));
    CHECK(perf_gpu_stats_of("kept").scopes == 1, "what was fetched before");
    sim.down = 0;
    sim_stop();
}

/* A fork inside a scope: its end does nothing in the child, who calls no driver that was not his. */
static void forks(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s;
    uint64_t       records;
    int            status = -1, i;
    pid_t          child;

    for (i = 0; i < 3; i++)
        one("before", stream, 1000);
    sim_host(1000000);
    (void)perf_gpu_collect();
    s = perf_gpu_scope_begin("around", stream);
    records = sim.calls[SIM_event_record];
    child = fork();
    if (!child) {
        if (PERF_LP64_UNIX_)                    /* else no page is wiped, and it would call once */
            perf_gpu_scope_end(&s);
        one("child", stream, 1000);
        check_exit(sim.calls[SIM_event_record] != records);
    }
    (void)waitpid(child, &status, 0);
    perf_gpu_scope_end(&s);
    CHECK(status == 0 || !pages_are_wiped(), "the child: %d", status);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 4 && accounted() == 4, "%g", (double)all().scopes);
    sim_stop();
}

/* Tables that cannot be. */
static void tables(void)
{
    perf_gpu_backend t;

    (void)start();
    t = sim_table();
    t.event_elapsed = NULL;
    CHECK(perf_gpu_use(&t) == PERF_EINVAL, "a table without event_elapsed");
    t = sim_table();
    t.size = 12;
    CHECK(perf_gpu_use(&t) == PERF_EINVAL, "a table of 12 bytes");
    t.size = 0;
    CHECK(perf_gpu_use(&t) == PERF_EINVAL, "a table of no size");
    CHECK(perf_gpu_status() == PERF_OK, "the one before stays");
    {                                               /* the nine and nothing else */
        perf_gpu_backend nine;
        perf_stream      stream = sim_stream(0);
        t = sim_table();
        memset(&nine, 0, sizeof nine);
        nine.size = t.size;
        nine.name = t.name;
        nine.ctx_get = t.ctx_get;
        nine.event_create = t.event_create;
        nine.event_destroy = t.event_destroy;
        nine.event_record = t.event_record;
        nine.event_query = t.event_query;
        nine.event_sync = t.event_sync;
        nine.event_elapsed = t.event_elapsed;
        nine.stream_query = t.stream_query;
        nine.stream_sync = t.stream_sync;
        CHECK(perf_gpu_use(&nine) == PERF_OK, "nine functions");
        one("nine", stream, 1000);
        one("nine", NULL, 1000);
        CHECK(perf_gpu_collect_sync() == PERF_OK && perf_gpu_stats_of("nine").scopes == 2, "%g",
              (double)perf_gpu_stats_of("nine").scopes);
        CHECK(perf_gpu_memory_mark("nine") == PERF_ENODATA, "no mem_info");
        (void)perf_gpu_use(NULL);
    }
    sim_stop();
}

int main(int argc, char **argv)
{
    (void)argv;
    threads();
    handed_over();
    captures();
    if (argc > 1)                                   /* threads only */
        return check_done();
    durations();
    kinds();
    contexts();
    full();
    clocks(40, 9900000, 3600, 250, 0);
    clocks(-100, 9900000, 3600, 250, 0);
    clocks(300, 9900000, 600, 250, 0);
    clocks(-300, 9900000, 600, 250, 0);
    /* Waits each 40 scopes: in the 0.08 and 0.4 s until the next the clocks may part by 1000 ppm of
     * that, and as much again is allowed for the first of a batch, whom the last one places. */
    clocks(40, 2000000, 600, 250, 160000 + 20000);
    clocks(-40, 9900000, 3600, 250, 800000 + 20000);
    clocks(300, 2000000, 600, 250, 160000 + 20000);
    clocks(-300, 9900000, 3600, 250, 800000 + 20000);
    /* The driver's float has steps of 61 ns at a second: half of that for each gap. */
    clocks(40, UINT64_C(1000000000), 3600, 3600 * 30.5, 0);
    busy_clock(80);
    busy_clock(-80);
    busy_clock(300);
    busy_clock(-300);
    joined();
    percentiles();
    resets();
    late_starts();
    if (sizeof(size_t) > 4)                     /* its sizes do not fit elsewhere */
        memory();
    if (sizeof(size_t) > 4)
        peaks();
    graph_parts();
    graph_parts_refused();
    impossible_lengths();
    passing_error();
    reset_soon();
    ended_late();
    asked_at_a_bad_time();
    booking_late();
    bottlenecks();
    failures();
    destroyed();
    reused();
    long_ones();
    shut_down();
    forks();
    tables();
    return check_done();
}
