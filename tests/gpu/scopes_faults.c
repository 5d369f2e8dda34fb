/* Device scopes when the program, the driver or the clock does something at the wrong moment: another table
 * while scopes are open, devices that are reset, a driver that ends at each of its calls, a clock that goes back
 * or begins at 0.  Nothing crashes, no old handle is used, what is lost is counted, the next scope works.
 * Virtual time, and the hot path of scopes on it.                                                 */
#include <stdint.h>
#define PERF_CLOCK_FN sim_clock
#define PERF_TEST_HOT
#define PERF_GPU_SLOTS 16
#include "sim.h"

#include "../time/rows.h"
#include "child.h"
#include "unwiped.h"
#include "wiped.h"
#include "../inside.h"

#include <pthread.h>
#include "../numbers.h"

static perf_gpu_backend table;

static perf_stream start(void)
{
    const uint64_t now = sim.now;

    sim_stop();
    sim_reset();
    sim.now += now;                             /* the host's clock never goes back unasked */
    table = sim_table();
    table.error_waits = NULL;
    CHECK(perf_gpu_use(&table) == PERF_OK, "table");
    perf_reset();
    return sim_stream(0);
}

static perf_gpu_stats all(void)
{
    return perf_gpu_stats_of(NULL);
}

static int accounted(void)
{
    perf_gpu_stats a = all();

    return (int)(a.scopes + a.pending + a.dropped + a.captured + a.no_context + a.failed + a.no_gpu);
}

static void one(const char *name, perf_stream stream, uint64_t ns)
{
    perf_gpu_scope s = perf_gpu_scope_begin(name, stream);
    (void)sim_work(stream, ns);
    perf_gpu_scope_end(&s);
}

/* After whatever it was: a scope is timed, nothing of the driver's was misused. */
static void works(perf_stream stream, const char *what)
{
    const uint64_t before = perf_gpu_stats_of("works").scopes;

    sim_host(1000000);
    one("works", stream, 1000);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("works").scopes == before + 1, "%s: %s", what, perf_gpu_error_text());
    CHECK(!sim.stale && !sim.wrong_context && !sim.bad_handle && !sim.deadlocks, "%s: %d old, %d wrong, %d bad handles", what,
          (int)sim.stale, (int)sim.wrong_context, (int)sim.bad_handle);
}

/* ---- another table ---- */

/* What is open when the table changes is dropped, as is what has ended. */
static void other_table(void)
{
    perf_stream      stream = start();
    perf_gpu_backend other = table;
    perf_gpu_scope   open, inside;

    one("ended", stream, 1000);
    open = perf_gpu_scope_begin("open", stream);
    inside = perf_gpu_scope_begin("inside", NULL);
    CHECK(perf_gpu_use(&other) == PERF_OK, "use");
    CHECK(all().dropped == 1, "%d dropped", (int)all().dropped);
    perf_gpu_scope_end(&inside);
    perf_gpu_scope_end(&open);
    CHECK(all().dropped == 3 && accounted() == 3, "%d dropped of %d", (int)all().dropped, accounted());
    works(stream, "another table");
    CHECK(accounted() == 4, "%d", accounted());
    sim_stop();
    CHECK(!sim.events, "%d events left", (int)sim.events);
}

/* A part of a graph that is open then: its events are another driver's, who may not even know such parts. */
static void other_table_part(void)
{
    perf_gpu_backend other;
    perf_gpu_scope   part;
    perf_stream      stream;
    void            *graph = NULL;
    uint64_t         calls;
    int              without;

    for (without = 0; without < 3; without++) {
        stream = start();
        other = table;
        if (without)
            other.event_record_flags = NULL;
        CHECK(sim_capture_begin(stream, 2) == 0, "capture");
        part = gpu_part_begin("part", stream);
        calls = sim.calls[SIM_event_record_flags];
        CHECK(perf_gpu_use(without == 2 ? NULL : &other) == PERF_OK, "use");
        perf_gpu_scope_end(&part);
        CHECK(sim.calls[SIM_event_record_flags] == calls, "the new table was asked about an event of the old one");
        CHECK(sim_capture_end(stream, &graph) == 0 && sim_graph_destroy(graph) == 0, "capture");
        CHECK(all().dropped == 1 && accounted() == 1, "%d dropped of %d", (int)all().dropped, accounted());
        CHECK(perf_gpu_use(&table) == PERF_OK, "use");
        works(stream, "another table, a part is open");
        sim_stop();
    }
}

/* Marks of memory, and then a table that knows nothing about it. */
static void other_table_memory(void)
{
    perf_gpu_backend other;
    perf_stream      stream = start();
    char            *text;

    CHECK(perf_gpu_memory_mark("load") == PERF_OK, "mark");
    other = table;
    other.mem_info = NULL;
    CHECK(perf_gpu_use(&other) == PERF_OK && perf_gpu_memory_mark("none") == PERF_ENODATA, "use");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "\nload "), "what was marked stays: %s", text);
    free(text);
    perf_reset();
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(!strstr(text, "\nload "), "%s", text);
    free(text);
    works(stream, "no memory");
    sim_stop();
}

/* ---- devices that are reset ---- */

/* A thread that takes turns between two devices, one of which is reset: none of its old events is used, though
 * the other context has just been found alive. */
static void reset_of_one(void)
{
    perf_stream first = start(), second = sim_stream(1);
    int         i;

    for (i = 0; i < 20; i++) {
        one("first", first, 1000);
        one("second", second, 1000);
        sim_host(200000);
        if (i == 9)
            sim_device_reset(1);                /* the streams that follow look just the same */
    }
    CHECK(!sim.stale, "%d times an event of before", (int)sim.stale);
    sim_device(0);
    (void)perf_gpu_collect_sync();
    sim_device(1);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("first").scopes == 20 && accounted() == 40, "%d", accounted());
    CHECK(perf_gpu_stats_of("second").scopes >= 10 && !all().failed, "%d", (int)perf_gpu_stats_of("second").scopes);
    works(second, "one device was reset");
    sim_stop();
}

/* Scopes that follow each other within less than the 0.1 ms after which the context is asked for again. */
static void reset_in_between(void)
{
    perf_stream stream;
    uint64_t    stale;
    int         i, which;

    for (which = 0; which < 2; which++) {
        stream = start();
        for (i = 0; i < 40; i++) {
            one("close", which ? stream : NULL, 100);
            sim_host(30000);
        }
        sim_device_reset(0);
        for (i = 0, stale = 0; i < 40; i++) {
            one("close", which ? stream : NULL, 100);
            sim_host(30000);
            stale = i < 4 ? sim.stale : stale;
        }
        CHECK(sim.stale == stale && stale <= 10, "%d: %d old events, %d of them later than 0.1 ms after the reset", which, (int)sim.stale,
              (int)(sim.stale - stale));
        sim.stale = 0;
        (void)perf_gpu_collect_sync();
        CHECK(accounted() == 80 && perf_gpu_stats_of("close").scopes >= 36, "%d: %d of %d", which, (int)perf_gpu_stats_of("close").scopes, accounted());
        works(stream, "reset in between");
        sim_stop();
    }
}

/* The hot path finds its context gone. */
static void reset_hot(void)
{
    perf_stream stream = start();
    int         i;

    for (i = 0; i < 100; i++) {                 /* each slot knows the stream */
        one("before", stream, 100);
        sim_host(20000);
        if (i % 8 == 7)
            (void)perf_gpu_collect();
    }
    (void)perf_gpu_collect_sync();
    for (i = 0; i < 4; i++)                     /* these renew what the fetching made old */
        one("before", stream, 100);
    sim_device_reset(0);
    stream = sim_stream(0);
    sim_host(200000);
    one("after", stream, 100);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("before").scopes == 100 && perf_gpu_stats_of("after").scopes == 1, "%d", (int)perf_gpu_stats_of("before").scopes);
    CHECK(accounted() == 105 && all().dropped == 4, "%d dropped", (int)all().dropped);
    works(stream, "hot");
    sim_stop();
}

/* A part that is open when its device is reset. */
static void reset_part(void)
{
    perf_stream    stream = start();
    perf_gpu_scope part;
    void          *graph = NULL;

    one("before", stream, 100);
    CHECK(sim_capture_begin(stream, 2) == 0, "capture");
    part = gpu_part_begin("part", stream);
    sim_device_reset(0);                        /* which ends the capture, too */
    sim_host(200000);
    perf_gpu_scope_end(&part);
    (void)sim_capture_end(stream, &graph);
    CHECK(!sim.stale, "%d times an event of before", (int)sim.stale);
    CHECK(accounted() == 2 && all().dropped == 2, "%d dropped of %d", (int)all().dropped, accounted());
    stream = sim_stream(0);
    works(stream, "a part in a reset");
    sim_stop();
}

/* A process that forks within a part and within a scope: in the child their ends do nothing, who may go on with a
 * driver of its own. */
static void forked(void)
{
    perf_stream    stream = start(), other = sim_stream(0);
    perf_gpu_scope part, scope;
    void          *graph = NULL;
    int            status, i, wiped = pages_are_wiped();
    pid_t          child;

    one("before", stream, 100);
    for (i = 0; i < 40; i++) {                  /* all slots know it */
        one("around", other, 100);
        (void)perf_gpu_collect_sync();
    }
    CHECK(sim_capture_begin(stream, 2) == 0, "capture");
    part = gpu_part_begin("part", stream);
    scope = perf_gpu_scope_begin("around", other);
    fflush(stdout);
    child = fork();
    if (!child) {
        const uint64_t records = sim.calls[SIM_event_record] + sim.calls[SIM_event_record_flags];
        alarm(30);
#if PERF_LP64_UNIX_ && !defined(UNWIPED)        /* else each would call it once */
        perf_gpu_scope_end(&scope);
        perf_gpu_scope_end(&part);
#endif
        CHECK(accounted() == 0, "%d", accounted());
        sim_host(1000000);
        one("the hot path", other, 10);
        CHECK(accounted() == 1, "%d", accounted());
        CHECK(records == sim.calls[SIM_event_record] + sim.calls[SIM_event_record_flags] || !wiped,
              "the parent's driver was called");
        (void)sim_capture_end(stream, &graph);
        CHECK(perf_gpu_use(&table) == PERF_OK, "its own");
        works(stream, "child");
        fflush(stdout);
        check_exit(check_failed_ != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "child: %d", status);
    perf_gpu_scope_end(&scope);
    perf_gpu_scope_end(&part);
    CHECK(sim_capture_end(stream, &graph) == 0 && graph, "capture");
    (void)sim_graph_launch(graph, stream);
    (void)sim_stream_sync(stream);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("around").scopes == 41 && perf_gpu_stats_of("part").scopes == 1 && accounted() == 43, "%d", accounted());
    works(stream, "parent");
    sim_stop();
}

/* ---- who comes late ---- */

/* A thread that has read a slot's functions, and lost its processor while the driver ended, or while another
 * table came: it calls nobody, and knows that it has to begin anew. */
static void late(void)
{
    perf_gpu_backend other;
    perf_stream      stream;
    perf_gpu_scope   s, hot;
    perf_gpu_ring_  *ring;
    int            (*record)(void *, void *);
    void            *arg;
    uint64_t         calls;
    int              ended;

    for (ended = 0; ended < 2; ended++) {
        stream = start();
        one("hot", stream, 100);
        hot = perf_gpu_scope_begin("hot", stream);
        s = perf_gpu_scope_begin("default stream", NULL);
        ring = s.slot->ring;
        record = s.slot->record;
        arg = s.slot->arg;
        CHECK(perf_gpu_core_get_()->renew(ring), "its context lives");
        other = table;
        if (ended) {
            sim.down = 1;
            CHECK(perf_gpu_status() == PERF_EGPU, "ended");
        } else {
            CHECK(perf_gpu_use(&other) == PERF_OK, "use");
        }
        calls = sim.calls[SIM_event_record] + sim.calls[SIM_ctx_id];
        CHECK(!perf_gpu_core_get_()->renew(ring), "%d: its context lives no more", ended);
        if (ended)
            CHECK(record(arg, NULL) == PERF_GPU_SHUT_DOWN, "recorded");
        perf_gpu_scope_end(&s);
        perf_gpu_scope_end(&hot);
        CHECK(calls == sim.calls[SIM_event_record] + sim.calls[SIM_ctx_id], "%d: an old event was used", ended);
        CHECK(accounted() == 3 && all().scopes == 0, "%d: %d", ended, accounted());
        sim.down = 0;
        CHECK(perf_gpu_use(&table) == PERF_OK, "use");
        perf_reset();
        sim_device(0);
        works(sim_stream(0), "late");
        sim.events = 0;
        sim_stop();
    }
}

/* Another thread has lost its processor while it fetches: the owner goes on in up to eight rings, then it drops. */
static void many_rings(void)
{
    perf_stream      stream = start();
    perf_gpu_state_ *g = perf_gpu_state_get_();
    perf_gpu_ring_  *ring;
    int              i, rings = 0;

    for (i = 0; i < 300; i++) {
        for (ring = g->rings; ring; ring = ring->next)
            (void)perf_claim_(&ring->lock, 0, 12345678);
        one("held", stream, 10);
    }
    for (ring = g->rings; ring; ring = ring->next, rings++)
        PERF_REL_(&ring->lock, 0u);
    CHECK(rings == PERF_GPU_RINGS_ && all().pending == 8 * PERF_GPU_SLOTS && all().dropped == 300 - 8 * PERF_GPU_SLOTS,
          "%d rings, %d pending, %d dropped", rings, (int)all().pending, (int)all().dropped);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 8 * PERF_GPU_SLOTS && accounted() == 300, "%d scopes", (int)all().scopes);
    works(stream, "many rings");
    sim_stop();
    CHECK(!sim.events, "%d events left", (int)sim.events);
}

/* Another thread loses its processor in the middle of giving a slot back: its `begin` says free already, its `key` is
 * to come.  Nobody takes it before, else it would be taken twice, and a scope be lost. */
static void half_free(void)
{
    perf_stream      stream = start(), other = sim_stream(0);
    perf_gpu_scope   scope[PERF_GPU_SLOTS];
    perf_gpu_slot_  *half;
    uint32_t         word = 0;
    int              i;

    for (i = 0; i < 2 * PERF_GPU_SLOTS; i++) {  /* each slot knows the stream */
        one("known", stream, 10);
        sim_host(1000000);
        (void)perf_gpu_collect();
    }
    half = perf_gpu_self_v1_.ring->at;
    CHECK(half->home == PERF_GPU_KEY_(stream) && half->key == half->home, "it goes the short way");
    half->key = 0;
    CHECK(perf_claim_(&half->ring->lock, 0, 12345678), "another fetches");
    (void)sim_wait_value32(other, (uint64_t)(uintptr_t)&word, 1, 0);
    scope[0] = perf_gpu_scope_begin("slow", other);
    CHECK(scope[0].slot && scope[0].slot != half, "taken before it was free");
    perf_gpu_scope_end(&scope[0]);
    half->key = PERF_GPU_KEY_(stream);          /* he goes on */
    PERF_REL_(&half->ring->lock, 0u);
    for (i = 0; i < PERF_GPU_SLOTS; i++) {
        scope[i] = perf_gpu_scope_begin("known", stream);
        perf_gpu_scope_end(&scope[i]);
    }
    word = 1;
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("slow").scopes == 1 && accounted() == 3 * PERF_GPU_SLOTS + 1, "%d, %d of %d", (int)perf_gpu_stats_of("slow").scopes,
          accounted(), 3 * PERF_GPU_SLOTS + 1);
    works(stream, "half free");
    sim_stop();
}

static void *ends_it(void *scope)
{
    sim_device(0);
    perf_gpu_scope_end((perf_gpu_scope *)scope);
    return NULL;
}

/* A stream that goes before its scope has ended, in a thread that has never had one itself. */
static void ended_elsewhere(void)
{
    perf_stream    stream = start(), other = sim_stream(0);
    perf_gpu_scope s;
    pthread_t      thread;

    s = perf_gpu_scope_begin("elsewhere", stream);
    (void)sim_stream_destroy(stream);
    CHECK(pthread_create(&thread, NULL, ends_it, &s) == 0 && pthread_join(thread, NULL) == 0, "thread");
    CHECK(all().failed == 1 && accounted() == 1 && perf_gpu_stats_of(NULL).error == 400, "%s", perf_gpu_error_text());
    sim.bad_handle = 0;
    works(other, "elsewhere");
    sim_stop();
}

/* One stream is captured, another was destroyed after its scope: the wait leaves out the captured one only, however
 * much it has in flight. */
static void waits_beside(void)
{
    perf_stream stream = start(), other = sim_stream(0), third = sim_stream(0);
    void       *graph = NULL;
    uint64_t    asked;
    int         i;

    one("gone", third, 40000000);
    one("beside", other, 50000000);
    for (i = 0; i < 4; i++)
        one("captured later", stream, 100000000);
    CHECK(sim_capture_begin(stream, 0) == 0 && sim_stream_destroy(third) == 0, "capture");
    asked = sim.calls[SIM_stream_capturing];
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(sim.calls[SIM_stream_capturing] - asked == 2, "%d questions", (int)(sim.calls[SIM_stream_capturing] - asked));
    CHECK(perf_gpu_stats_of("beside").scopes == 1 && perf_gpu_stats_of("gone").scopes == 1 && !all().failed, "%d pending", (int)all().pending);
    CHECK(sim_capture_end(stream, &graph) == 0 && sim_graph_destroy(graph) == 0 && !sim.spoilt, "%d spoilt", (int)sim.spoilt);
    third = sim_stream(0);
    one("gone, and nothing else", third, 40000000);
    (void)sim_stream_destroy(third);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 7 && accounted() == 7, "%d of %d", (int)all().scopes, accounted());
    sim.bad_handle = 0;
    works(stream, "beside");
    sim_stop();
}

static uint64_t calls_at_exit;
static int      scopes_at_exit;

/* Runs after ours, for it was there first. */
static void look_at_exit(void)
{
    int wrong = 0;

    if (scopes_at_exit)
        wrong = all().pending != 0 || (int)all().scopes != scopes_at_exit;
    else
        wrong = calls_at_exit != sim.calls[SIM_event_elapsed] + sim.calls[SIM_ctx_id];
    if (wrong)
        printf("at exit: %d pending, %d scopes of %d\n", (int)all().pending, (int)all().scopes, scopes_at_exit);
    fflush(stdout);
    if (wrong)
        check_exit(1);
}

static int exit_of(int own)
{
    perf_stream stream;
    int         status = -1;
    pid_t       child;

    fflush(stdout);
    child = fork();
    if (!child) {
        (void)alarm(30);
        if (own)
            (void)atexit(look_at_exit);
        scopes_at_exit = own == 1 ? 3 : 0;
        if (own) {
            stream = start();
            one("at exit", stream, 10);
            one("at exit", stream, 10);
            one("at exit", stream, 10);
            sim_host(1000000);
        }
        if (own == 2)
            CHECK(perf_gpu_use(&table) == PERF_OK, "other");
        calls_at_exit = sim.calls[SIM_event_elapsed] + sim.calls[SIM_ctx_id];
        exit(0);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* The end of a process fetches what has finished; that of a child of it calls no driver that was not its own. */
static void exits(void)
{
    perf_stream stream;

    CHECK(!PERF_DL_ || (exit_of(1) == 0 && exit_of(2) == 0), "at exit");         /* no driver is found elsewhere */
    (void)atexit(look_at_exit);
    stream = start();
    one("parent's", stream, 10);
    sim_host(1000000);
    CHECK(exit_of(0) == 0, "a child's exit");
    (void)perf_gpu_collect();
    CHECK(all().scopes == 1, "the parent's");
    sim_stop();
}

/* ---- the driver ---- */

/* The id of a context: destroyed, or not to be had at the moment. */
static void ids(void)
{
    perf_stream stream = start();

    one("before", stream, 100);
    sim_host(200000);
    sim_fail(SIM_ctx_id, 1, 709, 0);            /* CUDA_ERROR_CONTEXT_IS_DESTROYED */
    one("after", stream, 100);
    (void)perf_gpu_collect_sync();
    CHECK(all().dropped == 1 && perf_gpu_stats_of("after").scopes == 1, "%d dropped", (int)all().dropped);
    sim_fail(SIM_ctx_id, 1, 999, 0);
    one("new stream", sim_stream(0), 100);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("new stream").scopes == 1 && accounted() == 3, "%d", accounted());
    works(stream, "ids");
    stream = start();
    sim_fail(SIM_ctx_id, 1, 999, 0);            /* at the first scope of a context, and then it is known */
    one("first", stream, 100);
    one("second", sim_stream(0), 100);
    (void)perf_gpu_collect_sync();
    CHECK(all().scopes == 2 && !all().dropped, "%d dropped", (int)all().dropped);
    works(stream, "no id at first");
    sim_stop();
    CHECK(!sim.events, "%d events left", (int)sim.events);
}

static int gone; /* 1: the context of device 1 was destroyed */

static int enters(void *ctx)
{
    return gone && ctx == sim.ctx[1] ? 709 : sim_ctx_set(ctx);
}

/* A context is destroyed under a driver that tells no ids: what was in flight there is dropped, once, and all is well. */
static void destroyed_without_ids(void)
{
    perf_stream stream = start(), other;
    int         i;

    table.ctx_id = NULL;
    table.ctx_set = enters;
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");
    other = sim_stream(1);
    one("gone", other, 100);
    one("gone", other, 100);
    sim_device(0);
    one("stays", stream, 100);
    sim_device_reset(1);
    gone = 1;
    for (i = 0; i < 3; i++)
        CHECK(perf_gpu_collect_sync() == PERF_OK, "%d: %s", i, perf_gpu_error_text());
    gone = 0;
    CHECK(all().dropped == 2 && all().scopes == 1 && !all().pending, "%d dropped, %d pending", (int)all().dropped, (int)all().pending);
    CHECK(sim.stale == 1, "%d times an event of a context that is gone", (int)sim.stale);
    sim.stale = 0;
    works(stream, "destroyed");
    sim_stop();
}

/* An error of the program's own waits to be read: nothing is called, on the hot path and when results and parts of
 * graphs are fetched. */
static void unread(void)
{
    perf_stream stream = start();
    void       *graph = NULL;
    int         i;

    table.error_waits = sim_error_waits;
    for (i = 0; i < 40; i++) {                  /* each slot knows the stream */
        one("warm", stream, 10);
        sim_host(10000);
    }
    (void)perf_gpu_collect_sync();
    perf_reset();
    one("hot", stream, 10);
    one("hot", stream, 10);
    CHECK(sim_capture_begin(stream, 2) == 0, "capture");
    {
        PERF_GPU_PART("part", stream);
        (void)sim_work(stream, 10);
    }
    CHECK(sim_capture_end(stream, &graph) == 0 && sim_graph_launch(graph, stream) == 0, "graph");
    sim_host(1000000);
    sim.unread = 700;
    one("hot", stream, 10);
    sim.unread = sim.wiped ? 0 : 700;           /* sim_work() is no call of the table */
    CHECK(perf_gpu_collect() == PERF_OK && !sim.wiped, "wiped");
    sim.unread = 0;
    CHECK(all().scopes == 0 && all().dropped == 1, "%d, %d", (int)all().scopes, (int)all().dropped);
    CHECK(perf_gpu_collect() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("hot").scopes == 2 && perf_gpu_stats_of("part").scopes == 1, "%d", (int)all().scopes);
    (void)sim_graph_destroy(graph);
    works(stream, "unread");
    sim_stop();
}

/* Switched off nothing is asked, nothing counted; it works when it is on again. */
static void off(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s;
    uint64_t       calls;

    one("on", stream, 10);
    perf_enable(0);
    calls = sim.calls[SIM_ctx_get] + sim.calls[SIM_event_record] + sim.calls[SIM_stream_capturing];
    {
        PERF_GPU_SCOPE("off", stream);
        PERF_GPU_PART("off", stream);
    }
    s = gpu_part_begin("off", stream);
    perf_gpu_scope_end(&s);
    s = perf_gpu_scope_begin("off", stream);
    perf_gpu_scope_end(&s);
    CHECK(calls == sim.calls[SIM_ctx_get] + sim.calls[SIM_event_record] + sim.calls[SIM_stream_capturing], "asked");
    perf_enable(1);
    s = perf_gpu_copy_begin("no such kind", stream, (perf_gpu_kind)0);
    perf_gpu_scope_end(&s);
    (void)perf_gpu_collect_sync();
    CHECK(accounted() == 2 && row_of("no such kind", "device").calls == 1, "%d", accounted());
    works(stream, "off");
    sim_stop();
}

/* Parts where they cannot be: no driver, no answer about captures, a stream or a context that the driver does not tell,
 * and the thread's own default stream. */
static void parts_refused(void)
{
    perf_stream    stream = start(), other;
    perf_gpu_scope s;
    void          *graph = NULL;

    (void)sim_capture_begin((void *)(uintptr_t)2, 2);
    one("own default", (void *)(uintptr_t)2, 10);
    CHECK(all().captured == 1 && sim_capture_end((void *)(uintptr_t)2, &graph) == 0, "%d", (int)all().captured);
    (void)sim_graph_destroy(graph);

    table.stream_capturing = NULL;              /* then it is an ordinary scope */
    s = gpu_part_begin("not asked", stream);
    perf_gpu_scope_end(&s);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("not asked").scopes == 1, "%d", accounted());
    table.stream_capturing = sim_stream_capturing;
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");

    (void)sim_capture_begin(stream, 2);
    sim_fail(SIM_stream_capturing, 1, 999, 0);
    s = gpu_part_begin("no answer", stream);
    perf_gpu_scope_end(&s);
    CHECK(accounted() == 3 && all().captured == 2, "%d of %d", (int)all().captured, accounted());
    sim_host(200000);
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");
    sim_fail(SIM_stream_ctx, 1, 999, 0);
    s = gpu_part_begin("no context", stream);
    perf_gpu_scope_end(&s);
    CHECK(accounted() == 4 && all().failed == 1 && perf_gpu_stats_of(NULL).error == 999, "%d of %d", (int)all().failed, accounted());
    s = gpu_part_begin("no answer about the context", stream);
    sim_fail(SIM_ctx_id, 1, 999, 0);            /* of the moment: it does not end all for good */
    perf_gpu_scope_end(&s);
    CHECK(accounted() == 5 && all().failed == 2 && perf_gpu_status() == PERF_OK, "%s", perf_gpu_error_text());
    s = gpu_part_begin("ended", stream);
    sim.down = 1;
    CHECK(perf_gpu_status() == PERF_EGPU, "ended");
    perf_gpu_scope_end(&s);
    CHECK(accounted() == 6 && all().failed == 3, "%d of %d", (int)all().failed, accounted());
    sim.down = 0;
    CHECK(perf_gpu_use(NULL) == PERF_OK && !perf_gpu_table(), "no driver here");
    s = gpu_part_begin("nowhere", stream);
    perf_gpu_scope_end(&s);
    CHECK(all().no_gpu == 1 && accounted() == 7, "%d", accounted());
    (void)sim_capture_end(stream, &graph);
    (void)sim_graph_destroy(graph);
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");
    perf_reset();
    other = sim_stream(0);
    works(other, "parts");
    sim_stop();
}

/* Answers about times that are made up: the n-th question, and what it gets; n 0: none. */
static int   lie_at, lies, lie_code;
static float lie;

static int lying_elapsed(float *ms, void *begin, void *end)
{
    int code = sim_event_elapsed(ms, begin, end);

    if (!code && lie_at && ++lies == lie_at) {
        *ms = lie;
        return lie_code;
    }
    return code;
}

/* Each replay of a part is read once, and whole: a device that begins the next one while it is read, times that cannot
 * be, errors, a context that is gone. */
static void parts_read(void)
{
    static const float odd[] = {1e12f, -1.0f, 1e30f, 0.0f};
    perf_stream        stream = start(), other = sim_stream(0);
    void              *graph = NULL, *second = NULL;
    uint64_t           want = 0;
    int                i;

    table.event_elapsed = lying_elapsed;
    (void)sim_capture_begin(stream, 2);
    {
        PERF_GPU_PART("first", stream);
        (void)sim_work(stream, 5000);
    }
    CHECK(sim_capture_end(stream, &graph) == 0, "capture");
    (void)sim_capture_begin(other, 2);
    {
        PERF_GPU_PART("second", other);
        (void)sim_work(other, 7000);
    }
    CHECK(sim_capture_end(other, &second) == 0, "capture");
    (void)sim_graph_launch(graph, stream);
    (void)sim_stream_sync(stream);
    (void)perf_gpu_collect();
    CHECK(accounted() == 0, "no scope ties the clocks yet: %d", accounted());
    one("ties", stream, 10);
    (void)perf_gpu_collect_sync();              /* reads the replay of before, too */
    CHECK(perf_gpu_stats_of("first").scopes == 1, "%d", (int)perf_gpu_stats_of("first").scopes);
    want = 1;
    for (i = 0; i < 12; i++) {
        sim_host(1000000);
        (void)sim_graph_launch(graph, stream);
        (void)sim_stream_sync(stream);
        sim_host(100000);
        lies = 0;
        lie_at = i % 3 + 1;                     /* start, length, start again */
        lie = odd[i / 3];
        lie_code = i / 3 == 3 ? 600 : 0;
        (void)perf_gpu_collect();
        CHECK(perf_gpu_stats_of("first").scopes == want && lies >= lie_at, "%d: %d of %d", i, (int)perf_gpu_stats_of("first").scopes,
              (int)want);
        lie_at = 0;
        (void)perf_gpu_collect();
        want++;
        CHECK(perf_gpu_stats_of("first").scopes == want, "%d: %d of %d", i, (int)perf_gpu_stats_of("first").scopes, (int)want);
    }
    sim_host(1000000);
    (void)sim_graph_launch(second, other);
    (void)sim_stream_sync(other);
    sim_fail(SIM_ctx_get, 1, 999, 0);           /* its context cannot be entered now */
    (void)perf_gpu_collect();
    sim.fault[SIM_ctx_get].left = 0;
    (void)perf_gpu_collect();
    CHECK(perf_gpu_stats_of("second").scopes == 1 && perf_gpu_stats_of("first").scopes == want, "%d", (int)perf_gpu_stats_of("second").scopes);
    CHECK(perf_gpu_stats_of("second").device_ns > 6900 && perf_gpu_stats_of("second").device_ns < 7100, "%g ns",
          perf_gpu_stats_of("second").device_ns);
    CHECK(perf_gpu_stats_of("first").device_ns > 4900.0 * (double)want && perf_gpu_stats_of("first").device_ns < 5100.0 * (double)want, "%g ns",
          perf_gpu_stats_of("first").device_ns);
    works(stream, "parts");
    (void)sim_graph_launch(second, other);      /* and then its device is reset */
    sim_device_reset(0);
    sim_host(200000);
    (void)perf_gpu_collect();
    CHECK(!sim.stale && perf_gpu_stats_of("second").scopes == 1, "%d stale", (int)sim.stale);
    (void)sim_graph_destroy(graph);
    (void)sim_graph_destroy(second);
    sim_stop();
}

/* A replay far behind the last scope, read once more after scopes have come: the last digits of its start differ then,
 * and it is the same replay all the same; the next one is another. */
static void parts_far(void)
{
    perf_stream stream;
    void       *graph, *exec;
    int         round, i, ties;

    for (round = 0; round < 100; round++) {
        stream = start();
        (void)sim_capture_begin(stream, 2);
        {
            PERF_GPU_PART("far", stream);
            (void)sim_work(stream, 1000);
        }
        CHECK(sim_capture_end(stream, &graph) == 0 && sim_graph_instantiate(&exec, graph, 0) == 0, "graph");
        one("ties", stream, 1000);
        (void)perf_gpu_collect_sync();
        sim_host(UINT64_C(100000000000) + (uint64_t)round * 777);
        for (i = 1; i < 3; i++) {
            (void)sim_graph_launch(exec, stream);
            (void)sim_stream_sync(stream);
            (void)perf_gpu_collect();
            for (ties = 0; ties < 5; ties++) {
                sim_host(20000000);
                one("ties", stream, 1000);
                (void)perf_gpu_collect_sync();
            }
            CHECK(perf_gpu_stats_of("far").scopes == (uint64_t)i, "%d: %d of %d", round, (int)perf_gpu_stats_of("far").scopes, i);
        }
        (void)sim_graph_destroy(graph);
        (void)sim_graph_exec_destroy(exec);
        sim_stop();
    }
}

/* The driver ends while the parts are read: the others are left alone. */
static void parts_end(void)
{
    perf_stream stream = start();
    void       *graph = NULL;
    int         i;

    (void)sim_capture_begin(stream, 2);
    for (i = 0; i < 4; i++) {
        PERF_GPU_PART("part", stream);
        (void)sim_work(stream, 100);
    }
    CHECK(sim_capture_end(stream, &graph) == 0, "capture");
    one("ties", stream, 10);
    (void)sim_graph_launch(graph, stream);
    (void)sim_stream_sync(stream);
    (void)perf_gpu_collect_sync();
    (void)sim_graph_launch(graph, stream);
    (void)sim_stream_sync(stream);
    sim_fail(SIM_ctx_id, 3, 4, 2);
    CHECK(perf_gpu_collect() == PERF_EGPU && perf_gpu_stats_of(NULL).error == 4, "%d", perf_gpu_stats_of(NULL).error);
    CHECK(sim.calls_down == 0 && perf_gpu_stats_of("part").scopes >= 4, "%d calls after the end", (int)sim.calls_down);
    (void)sim_graph_destroy(graph);
    sim.down = 0;
    sim_stop();
}

static float odd_ms;

static int odd_elapsed(float *ms, void *begin, void *end)
{
    int code = sim_event_elapsed(ms, begin, end);

    *ms = !code && odd_ms > 0 ? odd_ms : *ms;
    return code;
}

/* A time that cannot be is an error of the driver's, with a code and words. */
static void odd_times(void)
{
    perf_stream stream = start();

    table.event_elapsed = odd_elapsed;
    odd_ms = 1e20f;
    one("odd", stream, 1000);
    CHECK(perf_gpu_collect_sync() == PERF_EGPU, "failed, and nobody says so");
    CHECK(perf_gpu_stats_of(NULL).error == 999 && strstr(perf_gpu_error_text(), "event_elapsed: 999"), "%d %s", perf_gpu_stats_of(NULL).error,
          perf_gpu_error_text());
    CHECK(all().failed == 1 && !all().scopes, "%d", (int)all().failed);
    odd_ms = 0;
    works(stream, "odd times");
    sim_stop();
}

#define SIM_NAME(f) #f,
static const char *const name_of[] = {SIM_ALL(SIM_NAME)};

static void workload(perf_stream *stream, int n)
{
    perf_gpu_scope part;
    void          *graph = NULL;
    int            i;

    for (i = 0; i < n; i++) {
        one("device", stream[i % 3], 1000);
        sim_host(i % 4 ? 20000 : 150000);
        if (i % 3 == 2)
            (void)perf_gpu_collect();
    }
    if (!sim_capture_begin(stream[1], 2)) {
        part = gpu_part_begin("part", stream[1]);
        (void)sim_work(stream[1], 100);
        perf_gpu_scope_end(&part);
        if (!sim_capture_end(stream[1], &graph)) {
            (void)sim_graph_launch(graph, stream[1]);
            (void)sim_graph_destroy(graph);
        }
    }
    (void)perf_gpu_memory_mark("phase");
    (void)perf_gpu_collect_sync();
}

/* The driver ends at a call: all scopes are somewhere, it is left alone, and another one works. */
static void ends(void)
{
    perf_stream stream[3];
    uint64_t    n;
    int         f, down = 0;

    for (f = 0; f < SIM_FUNCTIONS; f++)
        for (n = 1; n < 40; n += n < 4 ? 1 : n) {
            stream[1] = start();
            stream[0] = sim_stream(1);
            stream[2] = NULL;
            sim_device(0);
            sim_fail((sim_fn)f, n, 4, 2);
            workload(stream, 20);
            CHECK(accounted() >= 20 && accounted() <= 22, "%s call %d: %d of 20", name_of[f], (int)n, accounted());
            CHECK(sim.calls_down <= 8, "%s call %d: %d calls after the end", name_of[f], (int)n, (int)sim.calls_down);
            CHECK(!sim.down || perf_gpu_status() == PERF_EGPU || sim.calls_down == 0, "%s call %d: %d", name_of[f], (int)n, (int)perf_gpu_status());
            down += sim.down;
            sim.calls_down = 0;
            one("after the end", stream[1], 100);
            CHECK(perf_report_text(NULL, 0, NULL) > 0, "report");
            sim.down = 0;
            memset(sim.fault, 0, sizeof sim.fault);
            CHECK(perf_gpu_use(&table) == PERF_OK, "another one");
            sim.events = 0;
            perf_reset();
            sim_device(0);
            sim.sticky = 0;
            stream[1] = sim_stream(0);
            works(stream[1], name_of[f]);
            sim_stop();
        }
    CHECK(down > 50, "%d ends", down);
}

/* ---- where a scope lies ---- */

static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t below(uint64_t n)
{
    return check_random(&seed) % n;
}

/* Scopes of three streams, nested and not, short and long, fetched at any time: each is found, with its length, and lies
 * on the device's clock where it was, however far from and in whichever order to those before. */
static void any_order(void)
{
    enum { N = 60 };
    perf_stream           stream[3];
    static perf_gpu_scope open[N];
    static double         truth[N], length[N];
    static uint64_t       begin[N];
    perf_gpu_ring_       *ring;
    double                zero = -1, error, worst = 0, dt;
    int                   round, i, k, found, all_found = 0, in;
    uint32_t              j;
    uint64_t              total = 0;

    stream[0] = start();
    stream[1] = sim_stream(0);
    stream[2] = sim_stream(0);
    for (round = 0; round < 400; round++) {
        const int n = 1 + (int)below(10);
        for (i = 0; i < n; i++) {
            perf_stream s = stream[below(3)];
            if (!below(4))
                (void)sim_work(s, below(40000000));
            open[i] = perf_gpu_scope_begin("any", s);
            CHECK(open[i].slot != NULL, "%d: dropped", round);
            if (!open[i].slot)
                return;
            begin[i] = open[i].slot->begin;
            truth[i] = sim_device_ns(0, ((sim_event *)open[i].slot->start)->at);
            (void)sim_work(s, 100 + below(below(3) ? 3000 : 30000000));
            in = !below(3);                     /* ends later: nested, or crossed */
            if (!in || i == n - 1)
                for (k = 0; k <= i; k++)
                    if (open[k].slot) {
                        perf_gpu_slot_ *slot = open[k].slot;
                        perf_gpu_scope_end(&open[k]);
                        length[k] = sim_device_ns(0, ((sim_event *)slot->stop)->at) - truth[k];
                    }
            sim_host(below(4) ? below(20000) : below(30000000));
            if (!below(6))
                (void)perf_gpu_collect();
        }
        total += (uint64_t)n;
        if (!below(3))
            sim_host(UINT64_C(1000000) << below(12));
        (void)perf_gpu_collect_sync();
        ring = perf_gpu_self_v1_.ring;
        for (i = 0; i < n; i++) {
            for (j = 0, found = 0; j < 8 * ring->cap && !found; j++)
                if (ring->done[j].begin == begin[i]) {
                    found = 1;
                    if (zero < 0)
                        zero = truth[i] - ring->done[j].start_ns;
                    error = ring->done[j].start_ns - (truth[i] - zero);
                    worst = (error < 0 ? -error : error) > worst ? (error < 0 ? -error : error) : worst;
                    dt = ring->done[j].ns - length[i];
                    CHECK((dt < 0 ? -dt : dt) <= 1 + 1e-7 * length[i], "%d: %g ns instead of %g", round, ring->done[j].ns, length[i]);
                }
            all_found += found;
        }
    }
    /* 4 s away a float of ms has steps of 0.24 us; the gaps are 20 a second or fewer. */
    CHECK(worst < 400 * 130.0, "%g ns off", worst);
    CHECK(all_found == (int)total && all().scopes == total && accounted() == (int)total, "%d of %d found, %d dropped", all_found, (int)total,
          (int)all().dropped);
    printf("%d scopes in any order: %g ns off at worst\n", (int)total, worst);
    works(stream[0], "any order");
    sim_stop();
}

/* The same workload with each question about times answered once by something else, and with each event that is made
 * refused once: one scope at most has failed, with a code, and the lengths of all others are right. */
static void lied_to(void)
{
    static const float odd[] = {1e12f, -1.0f, 1e20f, 0.0f, 20.0f};
    perf_stream        stream[2];
    perf_gpu_stats     a;
    int                n, i, what, failed = 0;

    for (what = 0; what < 6; what++)
        for (n = 1; n < 60; n++) {
            stream[0] = start();
            stream[1] = sim_stream(0);
            table.event_elapsed = lying_elapsed;
            lies = 0;
            lie_at = what < 5 ? n : 0;
            lie = odd[what % 5];
            lie_code = what == 3 ? 999 : 0;
            if (what == 3)
                memset(&lie, 0xff, sizeof lie);
            if (what == 5)
                sim_fail(SIM_event_create, (uint64_t)n, 2, 0);
            for (i = 0; i < 20; i++) {
                one("lied to", stream[i & 1], 5000);
                sim_host(i % 5 == 4 ? 20000000 : 300000);
                if (i % 3 == 2)
                    (void)perf_gpu_collect();
            }
            (void)perf_gpu_collect_sync();
            a = all();
            CHECK(accounted() == 20 && a.scopes >= 19 && !a.pending, "%d, %d: %d scopes", what, n, (int)a.scopes);
            CHECK(a.failed <= 1 && (a.failed != 0) == (perf_gpu_stats_of(NULL).error != 0), "%d, %d: %d", what, n, perf_gpu_stats_of(NULL).error);
            if (what < 4)                       /* 4: 20 ms is a time that can be */
                CHECK(a.device_ns > 7400.0 * (double)(a.scopes - a.backwards) &&
                      a.device_ns < 7600.0 * (double)(a.scopes - a.backwards), "%d, %d: %g ns", what, n, a.device_ns);
            CHECK(!a.backwards || what == 1, "%d, %d: %d read as 0", what, n, (int)a.backwards);
            failed += (int)(a.failed + a.backwards);
            lie_at = 0;
            works(stream[0], "lied to");
            sim_stop();
        }
    CHECK(failed > 60, "%d of 360 failed", failed);
}

/* Two clocks that part at another rate from one day to the next: what was learnt is forgotten, and the bound that is
 * said holds. */
static void another_rate(void)
{
    perf_stream     stream = start();
    perf_gpu_scope  s;
    perf_gpu_ring_ *ring = NULL;
    perf_gpu_line_ *line;
    double          now, truth, error, narrow = 0;
    uint64_t        begin;
    uint32_t        j;
    int             i;

    sim.drift_ppm[0] = 300;
    for (i = 0; i < 400; i++) {
        if (i == 200) {
            now = sim_device_ns(0, sim.now);
            narrow = perf_gpu_state_get_()->lines->rate_high - perf_gpu_state_get_()->lines->pace.rate_low;
            sim.drift_ppm[0] = -300;            /* no step, only another rate */
            sim.offset_ns[0] += (int64_t)(now - sim_device_ns(0, sim.now));
        }
        sim_host(100000000);
        s = perf_gpu_scope_begin("rate", stream);
        ring = s.slot->ring;
        begin = s.slot->begin;
        truth = (double)((sim_event *)s.slot->start)->at;
        (void)sim_work(stream, 10000);
        perf_gpu_scope_end(&s);
        (void)perf_gpu_collect_sync();
        if (i < 205 && i >= 200)
            continue;                           /* until it has shown */
        for (j = 0; j < 8 * ring->cap; j++)
            if (ring->done[j].begin == begin) {
                error = (double)ring->done[j].at - truth;
                CHECK((error < 0 ? -error : error) <= all().aligned_ns, "%d: %g ns off, %g said", i, error, all().aligned_ns);
            }
    }
    line = ring->line;
    CHECK(narrow < 1e-4 && line->rate_high > -300e-6 && line->pace.rate_low < 400e-6, "%g; now %g to %g", narrow, line->pace.rate_low,
          line->rate_high);
    works(stream, "another rate");
    sim_stop();
}

/* Forty scopes in each other, and long ones in long ones: all are in the sums, and in the trace with their lengths. */
static void nested(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s[12], first;
    char          *text, *at;
    double         longest = 0, us;
    int            i, n = 0;

    one("before", stream, 10);
    (void)perf_gpu_collect_sync();
    first = perf_gpu_scope_begin("begun before the reset", stream);
    sim_host(1000);
    perf_reset();
    for (i = 0; i < 12; i++)
        s[i] = perf_gpu_scope_begin("long", stream);
    (void)sim_work(stream, UINT64_C(6000000000));
    for (i = 12; i--;)
        perf_gpu_scope_end(&s[i]);
    perf_gpu_scope_end(&first);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("long").scopes == 12 && accounted() == 12, "%d", accounted());
    CHECK(row_of("long", "device").min > 5.9e9 && row_of("long", "device").max < 6.1e9, "%g", row_of("long", "device").max);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    (void)remove(scratch_file());
    CHECK(json_valid(text), "trace");
    for (at = text; (at = strstr(at, "\"name\":\"long\"")) != NULL; at++, n++) {
        us = strtod(strstr(at, "\"dur\":") + 6, NULL);
        longest = us > longest ? us : longest;
        CHECK(us > 5.9e6 && us < 6.1e6, "%g us", us);
    }
    CHECK(n == 12 && !strstr(text, "begun before"), "%d in the trace", n);
    free(text);
    works(stream, "nested");
    sim_stop();
}

/* More names than have rows of their own: the sums hold, by class. */
static void many_names(void)
{
    perf_stream    stream = start();
    perf_gpu_stats a;
    perf_gpu_scope s;
    char           name[32];
    int            i;

    one("works", stream, 1000);
    (void)perf_gpu_collect_sync();
    perf_reset();
    for (i = 0; i < 4400; i++) {
        snprintf(name, sizeof name, "name %d", i);
        s = perf_gpu_copy_begin(name, stream, i % 4 ? PERF_GPU_KERNEL : PERF_GPU_HOST_TO_DEVICE);
        (void)sim_work(stream, 1000);
        perf_gpu_scope_end(&s);
        sim_host(10000);
        if (i % 8 == 7)
            (void)perf_gpu_collect_sync();
    }
    a = all();
    CHECK(a.scopes == 4400 && accounted() == 4400, "%d", accounted());
    CHECK(a.device_ns > 4400 * 3400.0 && a.device_ns < 4400 * 3600.0, "%g ns", a.device_ns);
    CHECK(a.copy_ns > 0.249 * a.device_ns && a.copy_ns < 0.251 * a.device_ns, "%g of %g", a.copy_ns, a.device_ns);
    CHECK(row_of("name 4399", "device").calls == 1 && row_of("name 4396", "copy in").calls == 1, "rows of the report");
    works(stream, "many names");
    sim_stop();
}

/* ---- memory ---- */

/* Each of the driver's functions for memory missing, and failing at each of its calls: the mark stands, with what is
 * known, and the next one is whole. */
static void memory(void)
{
    static const sim_fn fn[] = {SIM_pool_get, SIM_pool_value, SIM_pool_value, SIM_pool_value, SIM_pool_set, SIM_capture_mode,
                                SIM_ctx_device};
    perf_gpu_mark_ *m;
    perf_stream     stream;
    uint64_t        block;
    char           *text;
    int             i;

    for (i = 0; i < 14; i++) {
        stream = start();
        (void)sim_mem_alloc(&block, (size_t)5 << 30);
        (void)sim_mem_free(block);
        (void)sim_mem_alloc(&block, (size_t)2 << 30);
        if (i < 7) {
            sim_fail(fn[i], i == 2 ? 2 : i == 3 ? 3 : 1, 801, 0);
        } else {
            table.pool_get = i == 7 ? NULL : table.pool_get;
            table.pool_value = i == 8 ? NULL : table.pool_value;
            table.pool_set = i == 9 ? NULL : table.pool_set;
            table.capture_mode = i == 10 ? NULL : table.capture_mode;
            table.ctx_device = i == 11 ? NULL : table.ctx_device;
        }
        CHECK(perf_gpu_memory_mark("first") == PERF_OK && !perf_gpu_stats_of(NULL).error, "%d: %s", i, perf_gpu_error_text());
        memset(sim.fault, 0, sizeof sim.fault);
        table = sim_table();
        table.error_waits = NULL;
        m = perf_gpu_memory_get_()->marks;
        CHECK(m && m->used > 2147483647.0 && m->used < 2147483649.0 && m->total > 8e10, "%d: %g in use", i, m ? m->used : -1);
        CHECK(m && m->peak >= m->needed, "%d: a peak of %g, %g in use", i, m->peak, m->needed);
        sim.used_high[0] = sim.used[0];         /* as a mark that went well has set it */
        (void)sim_mem_free(block);
        (void)sim_mem_alloc(&block, (size_t)4 << 30);
        (void)sim_mem_free(block);
        CHECK(perf_gpu_memory_mark("second") == PERF_OK, "%d", i);
        m = m->next;
        CHECK(m && m->used < 1 && m->peak > 4294967295.0 && m->peak < 4294967297.0, "%d: a peak of %g", i, m ? m->peak : -1);
        works(stream, "memory");
        sim_stop();
    }
    /* Two phases that do not fit: the note names the first.  A reset without a context forgets the marks all the same. */
    stream = start();
    (void)perf_gpu_memory_note("planned", 1e11);
    CHECK(perf_gpu_memory_mark("too large") == PERF_OK && perf_gpu_memory_mark("as large") == PERF_OK, "mark");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "note: too large is the first phase that does not fit") && !strstr(text, "note: as large"), "%s", text);
    free(text);
    (void)perf_gpu_memory_note("planned", -1e11);
    sim_device(-1);
    perf_reset();
    CHECK(!perf_gpu_memory_get_()->marks, "marks");
    sim_device(0);
    works(stream, "memory");
    sim_stop();
}

/* ---- the clock ---- */

/* The host's clock goes back by a millisecond within a scope, and between two. */
static void clock_back(void)
{
    perf_stream    stream = start();
    perf_gpu_scope s;
    perf_gpu_stats a;
    int            i;

    one("steady", stream, 1000);
    (void)perf_gpu_collect_sync();
    for (i = 0; i < 10; i++) {
        sim_host(5000000);
        s = perf_gpu_scope_begin("back", stream);
        sim.now -= 1000000;
        (void)sim_work(stream, 1000);
        perf_gpu_scope_end(&s);
        sim_host(3000000);
        (void)perf_gpu_collect_sync();
    }
    a = perf_gpu_stats_of("back");
    CHECK(a.scopes == 10 && a.submit_ns >= 0 && a.submit_ns < 10 * 10000.0, "%g ns to submit", a.submit_ns);
    CHECK(a.lag_ns >= 0 && a.lag_ns < 1e8, "%g ns of lag", a.lag_ns);
    works(stream, "back");
    sim_stop();
}

/* A clock that begins at 0, as that of a simulation does. */
static void clock_at_zero(void)
{
    perf_stream    stream;
    perf_gpu_scope s[4];
    int            i;

    sim_stop();
    sim_reset();
    table = sim_table();
    table.error_waits = NULL;
    sim.now = 0;
    memset(sim.cost, 0, sizeof sim.cost);
    sim.launch_ns = 0;
    CHECK(perf_gpu_use(&table) == PERF_OK, "table");
    perf_reset();
    stream = sim_stream(0);
    for (i = 0; i < 4; i++)
        s[i] = perf_gpu_scope_begin("at zero", stream);
    (void)sim_work(stream, 1000);
    (void)perf_gpu_collect();
    for (i = 0; i < 40; i++)                    /* the ring has gone round once */
        one("more", stream, 10);
    CHECK(accounted() == 40, "%d, and 4 are open", accounted());
    sim_host(1000000);
    for (i = 0; i < 4; i++)
        perf_gpu_scope_end(&s[i]);
    (void)perf_gpu_collect_sync();
    CHECK(accounted() == 44 && perf_gpu_stats_of("at zero").scopes == 4, "%d of 44", accounted());
    works(stream, "at zero");
    sim_stop();
}

int main(void)
{
    CHECK(child_of(other_table) == 0, "another table");
    CHECK(child_of(other_table_part) == 0, "another table, a part");
    CHECK(child_of(other_table_memory) == 0, "another table, memory");
    CHECK(child_of(reset_of_one) == 0, "one of two devices is reset");
    CHECK(child_of(reset_in_between) == 0, "a reset in between");
    CHECK(child_of(reset_hot) == 0, "a reset, hot");
    CHECK(child_of(reset_part) == 0, "a reset, a part");
    CHECK(child_of(forked) == 0, "a fork");
    CHECK(child_of(late) == 0, "who comes late");
    CHECK(child_of(many_rings) == 0, "many rings");
    CHECK(child_of(half_free) == 0, "half free");
    CHECK(child_of(ended_elsewhere) == 0, "ended elsewhere");
    CHECK(child_of(exits) == 0, "exit");
    CHECK(child_of(waits_beside) == 0, "waits beside a capture");
    CHECK(child_of(ids) == 0, "ids");
    CHECK(child_of(destroyed_without_ids) == 0, "destroyed without ids");
    CHECK(child_of(unread) == 0, "an unread error");
    CHECK(child_of(off) == 0, "off");
    CHECK(child_of(parts_refused) == 0, "parts refused");
    CHECK(child_of(parts_read) == 0, "parts read");
    CHECK(child_of(parts_far) == 0, "parts, far behind");
    CHECK(child_of(parts_end) == 0, "parts, and the driver ends");
    CHECK(child_of(odd_times) == 0, "odd times");
    CHECK(child_of(ends) == 0, "the driver ends");
    CHECK(child_of(any_order) == 0, "any order");
    CHECK(child_of(lied_to) == 0, "lied to");
    CHECK(child_of(another_rate) == 0, "another rate");
    CHECK(child_of(nested) == 0, "nested");
    CHECK(child_of(many_names) == 0, "many names");
    CHECK(sizeof(size_t) < 8 || child_of(memory) == 0, "memory");
    CHECK(child_of(clock_back) == 0, "a clock goes back");
    CHECK(child_of(clock_at_zero) == 0, "a clock begins at 0");
    return check_done();
}
