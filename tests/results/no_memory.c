/* no_memory.c DIR: the system gives memory so many times, and then once or for ever no more: from the very
 * first call on, before there is a registry.  A process for each.  Nothing crashes; whatever was not
 * counted is told by perf_error(), and without a registry every call says that there is no memory.  */
#include "no_maps.h"
#include <pthread.h>
#include <stdlib.h>

static int no_scratch;           /* whether malloc() gives the headers nothing */
#define PERF_MALLOC(bytes) (no_scratch ? NULL : malloc(bytes))
#define PERF_FREE(p) free(p)
#include "perf.h"
#include "perf_counters.h"
#include "perf_diagnosis.h"
#include "perf_export.h"
#include "perf_memory.h"
#include "perf_nvtx.h"
#include "perf_tally.h"
#include "perf_trace.h"
#include "time/rows.h"
#define CHILD_FORK _Fork         /* memory is counted from the first call on */
#include "child.h"
#include "inside.h"

static char path[500];

enum { NAMES = 300, DEPTH = 40 };

static void nested(int level)
{
    static char name[DEPTH][12];
    perf_scope  s;

    snprintf(name[level], sizeof name[level], "level %d", level % 100);
    s = perf_scope_begin(name[level]);
    PERF_SCOPE("recursive");
    if (level + 1 < DEPTH)
        nested(level + 1);
    perf_scope_end(&s);
}

static void *thread(void *unused)
{
    perf_lap lap = perf_lap_begin();

    nested(0);
    PERF_LAP(&lap, "in a thread");
    return unused;
}

/* Returns how many scopes it began. */
static int record(void)
{
    static char name[NAMES][16];
    pthread_t   t;
    perf_async  span;
    perf_scope  a, b;
    perf_fiber  from = PERF_ZERO, to = PERF_ZERO;
    int         i;

    for (i = 0; i < NAMES; i++) {
        perf_scope s;
        snprintf(name[i], sizeof name[i], "name %d", i % 1000);
        s = perf_scope_begin(name[i]);
        perf_scope_value("value", i);
        perf_scope_end(&s);
    }
    span = perf_async_begin("span", 0);
    perf_async_end(&span);
    PERF_COUNT("counter", 1);
    perf_scope_text("text", "words");
    a = perf_scope_begin("a");
    b = perf_scope_begin("b");
    perf_scope_end(&a);
    perf_scope_end(&b);
    perf_thread_name("main");
    perf_fiber_switch(&from, &to);
    perf_fiber_switch(&to, &from);
    nested(0);
    i = pthread_create(&t, NULL, thread, NULL);
    if (!i)
        pthread_join(t, NULL);
    return NAMES + 2 + 2 * DEPTH + (i ? 0 : 2 * DEPTH + 1);
}

static double calls_of_all(void)
{
    static char text[1 << 20];
    perf_report_opts o = PERF_ZERO;
    const char *at = text;
    double      sum = 0;

    o.view = PERF_VIEW_CSV;
    *text = '\0';
    if (perf_report_text(text, sizeof text, &o) >= sizeof text)
        return -1;
    while ((at = strstr(at, ",scope,")) != NULL) {
        at += 7;
        sum += strtod(at, NULL);
    }
    return sum;
}

/* Without a registry. */
static void nowhere(void)
{
    perf_counters_opts scopes = PERF_ZERO;
    perf_counters  c;
    perf_tally     t;
    perf_diagnosis d;
    char           text[4000];

    scopes.scopes = 1;
    c = perf_counters_open(&scopes);
    CHECK(perf_counters_start(&c) == PERF_ENOMEM && perf_counters_stop(&c) == PERF_ESTATE, "counters of scopes");
    perf_counters_close(&c);

    CHECK(perf_error() == PERF_ENOMEM, "%s", perf_status_text(perf_error()));
    CHECK(perf_trace_save(path) == PERF_ENOMEM && perf_trace_save_perfetto(path) == PERF_ENOMEM &&
              perf_trace_stream(path) == PERF_ENOMEM && perf_export_save(path, PERF_EXPORT_FLAME, NULL) == PERF_ENOMEM,
          "files");
    CHECK(perf_trace_stream_flush() == PERF_ESTATE && perf_trace_stream(NULL) == PERF_ESTATE, "no stream");
    CHECK(perf_tally_of("a", 0, &t) != PERF_OK && perf_memory_mark("now") != PERF_OK && perf_diagnose(&d) == PERF_ENOMEM,
          "numbers");
    CHECK(core_sink_none() == PERF_ENOMEM, "sink");
    CHECK(perf_report_text(text, sizeof text, NULL) > 0, "a report all the same");
    CHECK(perf_results_save(path, NULL) == PERF_OK, "results of nothing");
    perf_enable(0);
    perf_trace_enable(0);
    perf_reset();
    CHECK(perf_error() == PERF_ENOMEM, "%s", perf_status_text(perf_error()));
}

static void tour(void)
{
    perf_schedule_opts o = PERF_ZERO;
    perf_schedule      schedule;
    double             calls, lost;
    int                no_registry = fails_at == 0;     /* then nobody could count what was lost */
    int                began = record();

    fails_at = -1;              /* from here on there is memory again */
    calls = calls_of_all();
    lost = (double)core_uncounted();
    CHECK(calls == began || (refused && perf_error() != PERF_OK), "%g of %d scopes, %d refusals, %s", calls, began,
          refused, perf_status_text(perf_error()));
    CHECK(calls <= began && (no_registry || calls + lost >= began), "%g of %d, %g lost", calls, began, lost);
    perf_reset();
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    began = record();
    CHECK(calls_of_all() == began, "memory is back: %g of %d", calls_of_all(), began);
    perf_reset();
    schedule = perf_schedule_begin(&o);
    (void)perf_schedule_step(&schedule);
    (void)perf_schedule_end(&schedule);
}

enum { KNOWN = 150 };

static perf_scope across;
static char       known[KNOWN][16];

/* Every kind of mark, of names that are known; returns how many. */
static int marks(void)
{
    perf_scope s;
    int        i;

    perf_count("a counter", 1);
    perf_scope_value("a value", 2);
    for (i = 0; i < KNOWN; i++) {
        s = perf_scope_begin(known[i]);
        perf_scope_end(&s);
    }
    return KNOWN + 2;
}

/* A thread that has used up its memory to the last byte: each mark is counted, or counted as lost, or both, where
 * there is no room for its percentile only. */
static void *drained(void *unused)
{
    core_recorder *t;
    uint64_t        before;
    int             n;

    { PERF_SCOPE("a counter"); }
    t = core_here_made();
    fails_at = maps;
    for_ever = 1;
    while (core_take_own(t)) {
    }
    before = core_calls_of(t);
    errno = 77;
    n = 1 + marks();
    CHECK(errno == 77, "marks leave errno as it is: %d", errno);
    perf_scope_end(&across);    /* begun elsewhere */
    CHECK(core_lost_by(t) <= (uint64_t)n && core_calls_of(t) - before <= 20 &&
              core_calls_of(t) - before + core_lost_by(t) >= (uint64_t)n, "%g counted, %g lost of %d",
          (double)(core_calls_of(t) - before), (double)core_lost_by(t), n);
    CHECK(perf_error() == PERF_ENOMEM, "%s", perf_status_text(perf_error()));
    fails_at = -1;
    before = core_calls_of(t) + core_lost_by(t);
    n = marks();
    CHECK(core_calls_of(t) + core_lost_by(t) - before == (uint64_t)n, "memory is back: %g of %d",
          (double)(core_calls_of(t) + core_lost_by(t) - before), n);
    before = core_calls_of(t);
    (void)marks();
    CHECK(core_calls_of(t) - before == (uint64_t)n, "all of them: %g of %d", (double)(core_calls_of(t) - before), n);
    return unused;
}

static void thread_without(void)
{
    pthread_t t;
    int       i;

    for (i = 0; i < KNOWN; i++)
        snprintf(known[i], sizeof known[i], "known %d", i);
    (void)marks();
    across = perf_scope_begin("across");
    CHECK(!pthread_create(&t, NULL, drained, NULL) && !pthread_join(t, NULL), "thread");

    /* a stream's file needs a name beside it while it is made */
    no_scratch = 1;
    CHECK(perf_trace_stream(path) == PERF_ENOMEM, "no memory for a name");
    no_scratch = 0;

    /* a stream that has no room to remember what it wrote: it ends, and says so */
    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "stream");
    fails_at = maps;
    for_ever = 1;
    while (core_take_shared()) {
    }
    (void)marks();
    CHECK(perf_trace_stream_flush() == PERF_EIO && perf_error() != PERF_OK, "%s", perf_status_text(perf_error()));
    fails_at = -1;
    CHECK(perf_trace_stream(NULL) == PERF_EIO && perf_trace_stream(path) == PERF_OK, "and the next one is whole");
    (void)marks();
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    (void)remove(path);

    /* a name that cannot be kept: there is no memory, not a name too many */
    perf_reset();
    fails_at = maps;
    while (core_take_shared()) {
    }
    across = perf_scope_begin("a new name");
    perf_scope_end(&across);
    CHECK(perf_error() == PERF_ENOMEM, "%s", perf_status_text(perf_error()));
    fails_at = -1;
}

static long fails;          /* the call at which there is no memory, -1: none */
static int  ever, what;     /* and none after it; 0: marks, 1: the tour, 2: a thread */

static void child(void)
{
    no_maps(fails, ever);
    if (what == 2) {
        thread_without();
    } else if (what) {
        tour();
    } else {
        (void)record();
        nowhere();
    }
    fails_at = -1;
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/file", argc > 1 ? argv[1] : ".");
    what = 1;
    fails = -1;
    CHECK(child_of(child) == 0, "nothing fails");
    what = 2;
    CHECK(child_of(child) == 0, "a thread without memory");
    what = 1;
    for (ever = 0; ever < 2; ever++)
        for (fails = 0; fails < 24; fails++)
            CHECK(child_of(child) == 0, "no memory at call %ld%s", fails, ever ? " and for ever" : "");
    what = 0;
    fails = 0;
    CHECK(child_of(child) == 0, "no registry at all");
    return check_done();
}
