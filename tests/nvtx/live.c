/* A sink comes and goes while four threads open and close scopes: no race (built with
 * -fsanitize=thread), every call of begin has its end, and afterwards the hot path is back.      */
#include "perf.h"
#include "perf_nvtx.h"          /* perf_sink_set_ */
#include "../check.h"
#include <pthread.h>

#define THREADS 4
#define ROUNDS  20000

static uint64_t begins, ends, depths;
static uint32_t stop;

static void add(uint64_t *p, uint64_t n)
{
    (void)__atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static void begin(perf_recorder_ *t, const perf_label_ *l, uint32_t depth)
{
    add(&depths, depth);
    if (strcmp(l->text, "scope"))
        add(&depths, UINT64_C(1) << 60);
    t->ranges++;
    add(&begins, 1);
}

static void end(perf_recorder_ *t, uint32_t depth)
{
    if (depth < 1)
        add(&depths, UINT64_C(1) << 60);
    t->ranges--;
    add(&ends, 1);
}

static int open_span(const perf_label_ *l, uint64_t *range)
{
    (void)l;
    *range = 1;
    return 1;
}

static void close_span(uint64_t range)
{
    (void)range;
}

static void mark(const perf_label_ *l)
{
    (void)l;
}

static void name(const char *text)
{
    (void)text;
}

static const perf_sink_ sink = {sizeof(perf_sink_), begin, end, open_span, close_span, mark, name};

static void *work(void *rounds)
{
    long i;

    for (i = 0; i < ROUNDS || !PERF_GET_(&stop); i++) {
        PERF_SCOPE("scope");
        PERF_COUNT("count", 1.0);
    }
    *(uint64_t *)rounds = (uint64_t)i;
    return NULL;
}

int main(void)
{
    pthread_t       thread[THREADS];
    uint64_t        rounds[THREADS], all = 0, calls = 0;
    perf_recorder_ *t;
    int             i, ok = 1;

    for (i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &rounds[i]);
    for (i = 0; i < 500; i++) {
        ok &= perf_sink_set_(NULL, &sink) == PERF_OK;
        ok &= perf_sink_set_(NULL, &sink) == PERF_ESTATE;
        (void)perf_sched_yield_();
        ok &= perf_sink_set_(&sink, NULL) == PERF_OK;
    }
    PERF_SET_(&stop, 1u);
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        all += rounds[i];
    }
    CHECK(ok, "a sink is installed once and taken away once");
    CHECK(begins > 0, "the sink heard %.0f of %.0f scopes", (double)begins, (double)all);
    CHECK(begins - ends <= 500 * THREADS, "begins %.0f, ends %.0f", (double)begins, (double)ends);
    CHECK(!(depths >> 60), "the sink hears right names and depths");
    for (t = perf_anchor_v1_.registry->recorders; t; t = t->next) {
        uint32_t id;
        for (id = 1; id < t->room; id++)
            if (t->cell[id] &&
                !strcmp(perf_anchor_v1_.registry->names[id]->site.name, "scope"))
                calls += t->cell[id]->count;
    }
    CHECK(calls == all, "%.0f scopes counted of %.0f", (double)calls, (double)all);
    { PERF_SCOPE("scope"); }
    CHECK(perf_self_v1_->cells != 0, "the hot path is back");
    CHECK(perf_error() == PERF_OK, "no error: %s", perf_status_text(perf_error()));
    return check_done();
}
