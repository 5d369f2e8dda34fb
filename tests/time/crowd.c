/* 64 threads that mark without a pause, while others report, reset, stream and save: built with
 * ThreadSanitizer, and plain.  After it, with nothing reset any more, no mark is missing.        */
#define PERF_TRACE_EVENTS 1024
#define PERF_DIAGNOSIS 1
#include <stdint.h>
#include "rows.h"
#include "perf_diagnosis.h"
#include "perf_trace.h"
#include <pthread.h>

#define THREADS 64
#if defined(__SANITIZE_THREAD__)
#define ROUNDS 50
#else
#define ROUNDS 1500
#endif

static int running = THREADS, counted, wrong, unsaved;

static void *mark(void *arg)
{
    int        n = (int)(intptr_t)arg, i;
    perf_lap   lap = perf_lap_begin();
    perf_fiber home = PERF_ZERO, away = PERF_ZERO;

    perf_thread_name("one of many");
    for (i = 0; i < ROUNDS; i++) {
        char       name[32];
        perf_async a = perf_async_begin("span", 0);
        PERF_SCOPE("outer");
        snprintf(name, sizeof name, "name %d", (i * 7 + n) % 200);
        PERF_SCOPE_VALUE("round", i);
        perf_thread_name(i % 3 ? name : NULL);
        {
            PERF_SCOPE("inner");
            perf_scope s = perf_scope_begin(name);
            PERF_SCOPE_TEXT("text", name);
            PERF_COUNT("queue", n);
            perf_scope_end(&s);
        }
        perf_fiber_switch(&home, &away);
        { PERF_SCOPE("fibre"); }
        perf_fiber_switch(&away, &home);
        perf_scope_text("here", name);
        PERF_LAP(&lap, "lap");
        perf_async_end(&a);
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_ACQ_REL);
    return NULL;
}

static int more(void)
{
    return !counted && __atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0;
}

static void *report(void *arg)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE, PERF_VIEW_JSON, PERF_VIEW_DIAGNOSIS};
    static char            text[1 << 20];
    perf_report_opts       o = PERF_ZERO;
    int                    i = 0;

    (void)arg;
    o.rows = -1;
    do {
        o.view = view[i++ % 4];
        wrong |= perf_report_text(text, sizeof text, &o) >= sizeof text;
    } while (more());
    return NULL;
}

static void *reset(void *arg)
{
    (void)arg;
    while (more()) {
        perf_reset();
        perf_trace_enable(0);
        perf_trace_enable(1);
        (void)perf_clock();
        (void)perf_ticks_to_ns(1);
    }
    return NULL;
}

static void *save(void *arg)
{
    do
        unsaved |= perf_trace_save((const char *)arg) != PERF_OK;
    while (more());
    return NULL;
}

static void *stream(void *arg)
{
    do {
        (void)perf_trace_stream((const char *)arg);
        (void)perf_trace_stream_flush();
        (void)perf_trace_stream(NULL);
    } while (more());
    return NULL;
}

static void crowd(void)
{
    pthread_t thread[THREADS], other[4];
    char      json[80], pf[96];
    intptr_t  i;

    snprintf(json, sizeof json, "crowd-%s", scratch_file());
    snprintf(pf, sizeof pf, "%s.pftrace", json);
    running = THREADS;
    for (i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, mark, (void *)i);
    pthread_create(&other[0], NULL, report, NULL);
    pthread_create(&other[1], NULL, reset, NULL);
    pthread_create(&other[2], NULL, save, json);
    pthread_create(&other[3], NULL, stream, pf);
    for (i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < 4; i++)
        pthread_join(other[i], NULL);
    remove(json);
    remove(pf);
}

int main(void)
{
    double sum = 0;
    char   name[32];
    int    i;

    crowd();
    perf_reset();
    counted = 1;                                /* again, and nobody resets                       */
    crowd();
    for (i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "name %d", i);
        sum += row_of(name, "scope").calls;
    }
    CHECK(!wrong && !unsaved, "a report or a file failed");
    CHECK(sum == THREADS * ROUNDS, "%g", sum);
    CHECK(row_of("outer", "scope").calls == THREADS * ROUNDS, "outer");
    CHECK(row_of("fibre", "scope").calls == THREADS * ROUNDS, "fibre");
    CHECK(row_of("lap", "scope").calls == THREADS * ROUNDS, "lap");
    CHECK(row_of("span", "async").calls == THREADS * ROUNDS, "span");
    CHECK(row_of("here", "instant").calls == THREADS * ROUNDS, "here");
    return check_done();
}
