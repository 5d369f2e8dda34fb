/* What the calls for devices do without memory, call by call, and while this very thread holds a lock (as a
 * signal handler that came in between): nothing crashes or hangs, what is not recorded is counted or told, and
 * afterwards all is as before.  A process for each.                                               */
#include "no_maps.h"
#include <pthread.h>
#include <stdlib.h>

#define PERF_CLOCK_FN sim_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "time/rows.h"
#define CHILD_FORK _Fork         /* memory is counted from the first call on */
#include "child.h"
#include "../inside.h"

enum { ROUNDS = 30 };

static perf_gpu_backend table;

static void machine(perf_stream stream[3])
{
    sim_reset();
    table = sim_table();
    table.error_waits = NULL;
    stream[0] = sim_stream(1);
    stream[1] = sim_stream(0);
    stream[2] = NULL;
}

/* Scopes, copies and waits on two devices; returns how many were begun. */
static int record(perf_stream *stream)
{
    perf_gpu_scope s;
    int            i;

    for (i = 0; i < ROUNDS; i++) {
        sim_device(i % 2);
        {
            PERF_GPU_SCOPE("device", stream[i % 2 ? 0 : 1 + i % 4 / 2]);
            (void)sim_work(stream[i % 2 ? 0 : 1 + i % 4 / 2], 1000);
        }
        s = perf_gpu_copy_begin("copy", stream[i % 2 ? 0 : 1], PERF_GPU_HOST_TO_DEVICE);
        (void)sim_work(stream[i % 2 ? 0 : 1], 500);
        perf_gpu_scope_end(&s);
        sim_host(20000);
        (void)perf_gpu_collect();
    }
    for (i = 0; i < 2; i++) {
        sim_device(i);
        (void)perf_gpu_collect_sync();
    }
    return 2 * ROUNDS;
}

static uint64_t accounted(void)
{
    perf_gpu_stats a = perf_gpu_stats_of(NULL);

    return a.scopes + a.pending + a.dropped + a.captured + a.no_context + a.failed + a.no_gpu;
}

/* A bench and a duel: measured, or refused with a status; without a table there is no device. */
static void loops(perf_stream stream, int driver)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_ab_opts    a = PERF_ZERO;
    perf_gpu_ab_result  e;
    perf_gpu_result     r;
    perf_gpu_bench      b;
    perf_gpu_ab         ab;
    int                 v, poor = refused;

    o.samples = 5;
    o.cache = PERF_GPU_HOT;
    b = perf_gpu_bench_begin("bench", stream, &o);
    while (perf_gpu_bench_next(&b))
        (void)sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    poor = refused - poor;
    CHECK((r.status == PERF_OK && driver) || (r.status == PERF_ENOGPU && !driver) || (poor && r.status == PERF_ENOMEM && r.time.count == 0), "%s", perf_status_text(r.status));
    poor = refused;
    a.device = o;
    a.max_pairs = a.min_pairs = 6;
    ab = perf_gpu_ab_begin("duel", stream, &a);
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        (void)sim_work(stream, v ? 5000 : 10000);
    e = perf_gpu_ab_end(&ab);
    CHECK((e.status == PERF_OK && driver) || (e.status == PERF_ENOGPU && !driver) || (refused > poor && e.status == PERF_ENOMEM && e.verdict.decision == PERF_INCONCLUSIVE), "%s",
          perf_status_text(e.status));
}

/* All of it while memory fails, then once more with memory. */
static void tour(void)
{
    static char text[200000];
    perf_stream stream[3];
    perf_status used, mark, note;
    uint64_t    began, seen;
    int         poor;

    CHECK(perf_gpu_stats_of(NULL).error == 0 && !*perf_gpu_error_text(), "nothing was asked yet");
    machine(stream);
    used = perf_gpu_use(&table);
    CHECK(used == PERF_OK || (used == PERF_ENOMEM && refused), "%s", perf_status_text(used));
    CHECK((perf_gpu_status() == PERF_OK) == (used == PERF_OK), "%s", perf_status_text(perf_gpu_status()));
    began = (uint64_t)record(stream);
    sim_device(0);
    mark = perf_gpu_memory_mark("phase");
    note = perf_gpu_memory_note("notes", 1e6);
    CHECK(mark == PERF_OK || (refused && (mark == PERF_ENOMEM || mark == PERF_ENOGPU)), "%s", perf_status_text(mark));
    CHECK(note == PERF_OK || (refused && note == PERF_ENOMEM), "%s", perf_status_text(note));
    loops(stream[1], used == PERF_OK);
    seen = accounted();
    poor = refused;
    fails_at = -1;              /* from here on there is memory again */
    if (used != PERF_OK) {
        CHECK(perf_gpu_use(&table) == PERF_OK, "a table, once there is memory");
        seen = began;
    }
    CHECK(seen == began || (poor && seen <= began && perf_error() != PERF_OK), "%d of %d, %d refusals, %s", (int)seen, (int)began, poor,
          perf_status_text(perf_error()));
    CHECK(perf_report_text(text, sizeof text, NULL) < sizeof text, "report");
    CHECK(!sim.wrong_context && !sim.bad_handle && !sim.deadlocks, "contexts and handles");
    perf_reset();
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    began = (uint64_t)record(stream);
    CHECK(accounted() == began && perf_gpu_stats_of("device").scopes == ROUNDS && perf_gpu_stats_of("copy").scopes == ROUNDS,
          "memory is back: %d and %d of %d", (int)perf_gpu_stats_of("device").scopes, (int)perf_gpu_stats_of("copy").scopes, ROUNDS);
    sim_device(0);
    loops(stream[1], 1);
    CHECK(perf_gpu_memory_mark("now") == PERF_OK && perf_gpu_use(NULL) == PERF_OK, "mark");
    CHECK(sim.events == 0 && sim.modules == 0 && sim.graphs == 0, "%d events left", (int)sim.events);
}

/* The lock of the registry is ours from the very first call on; then, one after the other, all others. */
static void locked(void)
{
    static char       text[200000];
    perf_registry_   *r = perf_registry_get_();
    perf_gpu_state_  *g;
    perf_gpu_line_   *l;
    perf_gpu_ring_   *ring;
    perf_stream       stream[3];
    perf_gpu_scope    s;
    uint64_t          before;
    void             *graph = NULL;

    CHECK(perf_lock_(r), "ours");
    CHECK(!perf_gpu_table() && perf_gpu_status() == PERF_ENOGPU && perf_gpu_stats_of(NULL).error == 0, "no driver yet");
    machine(stream);
    CHECK(perf_gpu_use(&table) == PERF_ENOMEM && perf_gpu_memory_note("x", 1) == PERF_ENOMEM, "nowhere to keep it");
    CHECK(!perf_gpu_driver_get_() && !perf_gpu_state_get_(), "nothing was made");
    perf_unlock_(&r->lock);
    CHECK(perf_gpu_driver_get_() != NULL && perf_lock_(r), "a driver, no state");
    CHECK(!perf_gpu_table() && !perf_gpu_state_get_() && perf_gpu_use(&table) == PERF_ENOMEM, "not asked for a library");
    perf_unlock_(&r->lock);

    CHECK(perf_gpu_use(&table) == PERF_OK && perf_gpu_memory_note(NULL, 0) == PERF_OK && perf_lock_(r), "a table");
    sim_device(0);
    s = perf_gpu_scope_begin("locked", stream[1]);
    perf_gpu_scope_end(&s);
    CHECK(perf_gpu_memory_mark("locked") == PERF_ESTATE, "no mark");
    sim_fail(SIM_mem_info, 1, 700, 0);
    CHECK(perf_gpu_memory_mark("locked") == PERF_EGPU && perf_gpu_stats_of(NULL).error == 0 && perf_error() != PERF_OK, "an error without its words");
    perf_unlock_(&r->lock);
    perf_reset();
    (void)record(stream);
    before = perf_gpu_stats_of("device").scopes;
    CHECK(before == ROUNDS, "%d", (int)before);

    g = perf_gpu_state_if_any_();
    sim_device(0);
    CHECK(perf_lock_word_(&g->lock, 1) && !perf_lock_word_(&g->lock, 1) && !perf_lock_word_(&g->lock, 0), "ours");
    CHECK(perf_gpu_stats_of("device").scopes == 0 && perf_gpu_stats_of("device").aligned_ns < 0, "no numbers");
    CHECK(perf_gpu_use(NULL) == PERF_ESTATE, "not now");
    CHECK(perf_lock_word_(&perf_gpu_memory_get_()->lock, 1), "ours, too");
    CHECK(perf_gpu_memory_note("x", 1) == PERF_ESTATE && perf_gpu_memory_mark("x") == PERF_ESTATE, "not now");
    perf_unlock_(&perf_gpu_memory_get_()->lock);
    CHECK(perf_report_text(text, sizeof text, NULL) < sizeof text && !strstr(text, "gpu 0"), "%s", text);
    perf_reset();
    (void)perf_gpu_collect();
    perf_unlock_(&g->lock);
    CHECK(perf_gpu_stats_of("device").scopes == before, "not forgotten: %d", (int)perf_gpu_stats_of("device").scopes);

    /* a line's and a ring's: their scopes stay pending */
    perf_reset();
    for (l = g->lines; l; l = l->next)
        CHECK(perf_lock_word_(&l->lock, 1), "a line");
    (void)record(stream);
    for (l = g->lines; l; l = l->next)
        perf_unlock_(&l->lock);
    CHECK(accounted() == 2 * ROUNDS, "%d", (int)accounted());
    (void)record(stream);
    CHECK(accounted() == 4 * ROUNDS && perf_gpu_stats_of(NULL).pending == 0, "%d, %d pending", (int)accounted(), (int)perf_gpu_stats_of(NULL).pending);
    perf_reset();
    for (ring = g->rings; ring; ring = ring->next)
        CHECK(perf_lock_word_(&ring->lock, 1), "a ring");
    (void)record(stream);
    CHECK(perf_gpu_stats_of(NULL).scopes == 0, "none was fetched");
    for (ring = g->rings; ring; ring = ring->next)
        perf_unlock_(&ring->lock);
    (void)record(stream);
    CHECK(accounted() == 4 * ROUNDS && perf_gpu_stats_of(NULL).pending == 0, "%d, %d pending", (int)accounted(), (int)perf_gpu_stats_of(NULL).pending);

    /* part of a graph, recorded while the lock is ours: dropped */
    CHECK(sim_capture_begin(stream[1], 2) == 0 && perf_lock_(r), "capture");
    s = gpu_part_begin("part", stream[1]);
    perf_gpu_scope_end(&s);
    perf_unlock_(&r->lock);
    CHECK(sim_capture_end(stream[1], &graph) == 0, "capture");
    (void)sim_graph_destroy(graph);
    CHECK(perf_gpu_use(NULL) == PERF_OK, "gone");
    CHECK(perf_gpu_stats_of("part").scopes == 0, "%d", (int)perf_gpu_stats_of("part").scopes);
}

static void known(perf_stream stream)
{
    PERF_GPU_SCOPE("known", stream);
    (void)sim_work(stream, 1000);
}

static int stays; /* 1: the thread below is there; 2: it may go */

static void *beside(void *stream)
{
    sim_device(1);
    known(stream);
    __atomic_store_n(&stays, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&stays, __ATOMIC_ACQUIRE) != 2)
        (void)sched_yield();
    return NULL;
}

/* The registry's lock is ours, and the name is known: what is new then is a context, a thread's ring in it, the line of
 * a stream, part of a graph.  Each is dropped and counted; afterwards it works. */
static void locked_later(void)
{
    perf_registry_ *r = perf_registry_get_();
    perf_stream     stream[3], other;
    perf_gpu_scope  part;
    pthread_t       thread;
    void           *graph = NULL;
    int             i;

    machine(stream);
    CHECK(perf_gpu_use(&table) == PERF_OK, "table");
    sim_device(0);
    known(stream[1]);
    (void)perf_gpu_collect_sync();
    CHECK(perf_lock_(r), "ours");
    known(stream[0]);
    CHECK(accounted() == 2 && perf_gpu_stats_of(NULL).dropped == 1, "a context: %d dropped", (int)perf_gpu_stats_of(NULL).dropped);
    perf_unlock_(&r->lock);
    CHECK(pthread_create(&thread, NULL, beside, stream[0]) == 0, "thread");
    while (__atomic_load_n(&stays, __ATOMIC_ACQUIRE) != 1)
        (void)sched_yield();
    other = sim_stream(0);
    sim_host(1000000);
    (void)perf_gpu_collect();
    CHECK(perf_lock_(r), "ours");
    for (i = 0; i < 3; i++)
        known(stream[0]);
    CHECK(accounted() == 6 && perf_gpu_stats_of(NULL).dropped == 4, "a ring: %d dropped", (int)perf_gpu_stats_of(NULL).dropped);
    known(other);
    (void)perf_gpu_collect_sync();
    CHECK(accounted() == 7 && perf_gpu_stats_of(NULL).dropped == 5, "a line: %d dropped", (int)perf_gpu_stats_of(NULL).dropped);
    perf_unlock_(&r->lock);
    __atomic_store_n(&stays, 2, __ATOMIC_RELEASE);
    (void)pthread_join(thread, NULL);
    CHECK(sim_capture_begin(other, 2) == 0, "capture");
    part = gpu_part_begin("known", other);
    CHECK(perf_lock_(r), "ours");
    perf_gpu_scope_end(&part);
    CHECK(accounted() == 8 && perf_gpu_stats_of(NULL).dropped == 6, "a part: %d dropped", (int)perf_gpu_stats_of(NULL).dropped);
    {
        PERF_GPU_PART("new name", other);
    }
    perf_unlock_(&r->lock);
    CHECK(accounted() == 9 && perf_gpu_stats_of(NULL).captured == 1, "no part: %d", (int)perf_gpu_stats_of(NULL).captured);
    CHECK(sim_capture_end(other, &graph) == 0 && sim_graph_destroy(graph) == 0, "capture");
    perf_reset();
    sim_host(1000000);
    known(stream[0]);
    known(other);
    for (i = 0; i < 2; i++) {
        sim_device(i);
        (void)perf_gpu_collect_sync();
    }
    CHECK(perf_gpu_stats_of("known").scopes == 2, "%d", (int)perf_gpu_stats_of("known").scopes);
    CHECK(perf_gpu_use(NULL) == PERF_OK && sim.events == 2, "%d events left, and the two of the part", (int)sim.events - 2);
}

/* No memory when a second ring is needed, and for the line of a stream, its rows and its lengths. */
static void poor_later(void)
{
    perf_gpu_state_ *g;
    perf_gpu_ring_  *ring;
    perf_stream      stream[3], other = NULL;
    perf_gpu_scope   s;
    uint64_t         cap;
    char             name[32];
    int              i, k, poor = 0;

    machine(stream);
    CHECK(perf_gpu_use(&table) == PERF_OK, "table");
    sim_device(0);
    known(stream[1]);
    (void)perf_gpu_collect_sync();
    g = perf_gpu_state_if_any_();
    ring = g->rings;
    cap = ring->cap;
    CHECK(perf_claim_(&ring->lock, 0, 12345678), "another fetches");
    no_maps(0, 1);
    for (i = 0; i < 1500; i++)
        known(stream[1]);
    CHECK(accounted() == 1501 && perf_gpu_stats_of(NULL).dropped == 1500 - cap, "%d dropped", (int)perf_gpu_stats_of(NULL).dropped);
    PERF_REL_(&ring->lock, 0u);
    no_maps(-1, 0);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("known").scopes == cap + 1, "%d", (int)perf_gpu_stats_of("known").scopes);
    for (k = 0; k < 8; k++) {
        perf_reset();
        other = sim_stream(0);
        for (i = 0; i < 40; i++) {              /* lengths far apart: each takes room of its own */
            PERF_GPU_SCOPE("lengths", other);
            (void)sim_work(other, UINT64_C(1) << i);
        }
        refused = 0;
        no_maps(k, 1);
        (void)perf_gpu_collect_sync();
        no_maps(-1, 0);
        poor += refused != 0;
        CHECK(accounted() == 40 && perf_gpu_stats_of(NULL).dropped == (refused ? 40 : 0), "%d: %d scopes, %d dropped, %d refusals", k,
              (int)perf_gpu_stats_of("lengths").scopes, (int)perf_gpu_stats_of(NULL).dropped, refused);
    }
    CHECK(poor > 2, "%d without memory", poor);
    perf_reset();
    for (k = 0; k < 12; k++) {                  /* ten lengths have entries, then 3 MB are wanted for counters */
        no_maps(k < 10 ? -1 : 0, 1);
        for (i = 0; i < 600; i++) {
            snprintf(name, sizeof name, "name %d", i);
            s = perf_gpu_scope_begin(name, other);
            (void)sim_work(other, UINT64_C(1000) << k);
            perf_gpu_scope_end(&s);
        }
        (void)perf_gpu_collect_sync();
        no_maps(-1, 0);
    }
    CHECK(accounted() == 7200 && perf_gpu_stats_of(NULL).scopes == 7200, "%d scopes", (int)perf_gpu_stats_of(NULL).scopes);
    CHECK(perf_error() == PERF_ENOMEM, "lengths are missing from the percentiles, and nobody says so");
    perf_reset();
    sim_host(UINT64_C(1) << 42);
    known(other);
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("known").scopes == 1 && perf_gpu_stats_of(NULL).dropped == 0, "there is memory again");
    CHECK(perf_gpu_use(NULL) == PERF_OK && !sim.events, "%d events left", (int)sim.events);
}

/* Each of the nine that a table must have; a table without ctx_set cannot go to another device. */
static void lacking(void)
{
    perf_stream stream[3];
    int         i;

    machine(stream);
    for (i = 0; i < 9; i++) {
        perf_gpu_backend t = table;
        memset((char *)&t + offsetof(perf_gpu_backend, ctx_get) + (size_t)i * sizeof t.ctx_get, 0, sizeof t.ctx_get);
        CHECK(perf_gpu_use(&t) == PERF_EINVAL, "without function %d", i);
    }
    table.ctx_set = NULL;
    CHECK(perf_gpu_use(&table) == PERF_OK, "without ctx_set");
    sim_device(1);
    for (i = 0; i < ROUNDS; i++) {
        {
            PERF_GPU_SCOPE("own", stream[0]);
            (void)sim_work(stream[0], 1000);
        }
        {
            PERF_GPU_SCOPE("other", stream[1]);         /* of device 0 */
            (void)sim_work(stream[1], 1000);
        }
    }
    (void)perf_gpu_collect_sync();
    CHECK(perf_gpu_stats_of("own").scopes == ROUNDS && !sim.wrong_context, "%d", (int)perf_gpu_stats_of("own").scopes);
    CHECK(perf_gpu_stats_of("other").scopes == 0 && accounted() == 2 * ROUNDS, "%d of another device", (int)accounted() - ROUNDS);
    table.ctx_device = NULL;
    table.error_name = NULL;
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");
    perf_reset();
    sim_fail(SIM_event_record, 1, 700, 0);
    {
        PERF_GPU_SCOPE("own", stream[0]);
    }
    CHECK(!strcmp(perf_gpu_error_text(), "event_record: 700: an illegal memory access was encountered (simulated)"), "%s", perf_gpu_error_text());
    perf_reset();
    table.error_name = sim_error_name;
    table.error_text = NULL;
    CHECK(perf_gpu_use(&table) == PERF_OK, "use");
    sim_fail(SIM_event_record, 1, 700, 0);
    {
        PERF_GPU_SCOPE("own", stream[0]);
    }
    CHECK(!strcmp(perf_gpu_error_text(), "event_record: 700 SIM_ERROR_ILLEGAL_ADDRESS"), "%s", perf_gpu_error_text());
    CHECK(perf_gpu_memory_mark("mark") == PERF_OK, "without ctx_device");
    table.device_meter = NULL;
    CHECK(perf_gpu_meter_(&table, 0, 1) < 0, "nobody measures what is simulated");
    table.flags = 0;
    fails_at = maps;
    CHECK(perf_gpu_meter_(&table, 0, 1) < 0, "no memory for a library's functions");
    fails_at = -1;
    CHECK(perf_gpu_meter_(&table, 0, 1) < 0, "asked once only");
    table.mem_info = NULL;
    CHECK(perf_gpu_use(&table) == PERF_OK && perf_gpu_memory_mark("mark") == PERF_ENODATA, "without mem_info");
    CHECK(perf_gpu_use(NULL) == PERF_OK, "gone");
}

static long fails; /* the call at which there is no memory */
static int  ever;  /* and none after it */

static void child(void)
{
    no_maps(fails, ever);
    tour();
    fails_at = -1;
}

int main(void)
{
    CHECK(child_of(tour) == 0, "nothing fails");
    CHECK(child_of(locked) == 0, "locks");
    CHECK(child_of(locked_later) == 0, "locks, later");
    CHECK(sizeof(void *) < 8 || child_of(poor_later) == 0, "no memory, later");
    CHECK(child_of(lacking) == 0, "tables");
    for (ever = 0; ever < 2; ever++)
        for (fails = 0; fails < 24; fails++)
            CHECK(child_of(child) == 0, "no memory at call %ld%s", fails, ever ? " and for ever" : "");
    return check_done();
}
