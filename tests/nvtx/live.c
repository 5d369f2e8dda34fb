/* A sink comes and goes while four threads open and close scopes: no race (built with
 * -fsanitize=thread), every call of begin has its end, and afterwards the hot path is back.      */
#include "perf.h"
#include "perf_nvtx.h"          /* perf_sink_set_ */
#include "../check.h"
#include <pthread.h>
#include <string.h>

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

static const perf_sink_ sink = {sizeof(perf_sink_), begin, end, open_span, close_span, mark, name, NULL, NULL};

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

/* ---- a tool that is instrumented itself: its own marks are counted, and it does not hear them ---- */

static int heard[6];            /* begin, end, open, close, mark, name */

static void use(int what)
{
    perf_async span;

    heard[what]++;
    PERF_SCOPE("in the tool");
    PERF_COUNT("tool", 1.0);
    PERF_INSTANT("tool");
    span = perf_async_begin("tool", 0);
    perf_async_end(&span);
    perf_thread_name("tool");
}

static void own_begin(perf_recorder_ *t, const perf_label_ *l, uint32_t depth)
{
    (void)l;
    (void)depth;
    t->ranges++;
    use(0);
}

static void own_end(perf_recorder_ *t, uint32_t depth)
{
    (void)depth;
    t->ranges--;
    use(1);
}

static int no_span(const perf_label_ *l, uint64_t *range)
{
    (void)l;
    (void)range;
    heard[2]++;
    return 0;
}

static void no_close(uint64_t range)
{
    (void)range;
    heard[3]++;
}

static void one_mark(const perf_label_ *l)
{
    heard[4] += strcmp(l->text, "tool") != 0;
    heard[5] += !strcmp(l->text, "tool");
}

static const perf_sink_ own = {sizeof(perf_sink_), own_begin, own_end, no_span, no_close, one_mark, name, NULL, NULL};

static uint64_t calls_of(const char *text, uint32_t kind)
{
    uint64_t        calls = 0;
    uint32_t        id;
    perf_recorder_ *t;
    perf_cell_     *c;

    for (t = perf_anchor_v1_.registry->recorders; t; t = t->next)
        for (id = 1; id < t->room; id++)
            if (t->cell[id] && perf_anchor_v1_.registry->names[id]->kind == kind && !strcmp(perf_anchor_v1_.registry->names[id]->site.name, text)) {
                c = t->cell[id];
                do
                    calls += c->count;
                while ((c = c->kin) != t->cell[id]);
            }
    return calls;
}

static void instrumented(void)
{
    perf_recorder_ *t;
    perf_async      span;
    perf_scope      s;
    perf_lap        lap;

    CHECK(perf_sink_set_(NULL, &own) == PERF_OK, "sink");
    { PERF_SCOPE("outside"); }
    PERF_COUNT("outside", 1.0);
    PERF_INSTANT("outside");
    span = perf_async_begin("outside", 0);      /* the tool has no span for it */
    perf_async_end(&span);
    lap = perf_lap_begin();
    PERF_LAP(&lap, "phase");
    PERF_LAP(&lap, "phase");
    t = perf_self_v1_;
    CHECK(heard[0] == 1 && heard[1] == 1 && heard[2] == 1 && heard[3] == 0 && heard[4] == 4 && heard[5] == 0, "%d %d %d %d %d %d", heard[0],
          heard[1], heard[2], heard[3], heard[4], heard[5]);
    CHECK(calls_of("in the tool", PERF_KIND_SCOPE_) == 2 && calls_of("tool", PERF_KIND_COUNT_) == 2 && calls_of("tool", PERF_KIND_ASYNC_) == 2,
          "its own are counted: %d", (int)calls_of("in the tool", PERF_KIND_SCOPE_));
    CHECK(calls_of("phase", PERF_KIND_SCOPE_) == 2 && calls_of("outside", PERF_KIND_SCOPE_) == 1, "and those of the program");

    /* it goes away while a range is open, and comes again after another begin */
    s = perf_scope_begin("outside");
    CHECK(t->ranges == 1 && perf_sink_set_(&own, NULL) == PERF_OK, "gone");
    perf_scope_end(&s);
    CHECK(heard[1] == 1 && t->ranges == 1 && calls_of("outside", PERF_KIND_SCOPE_) == 2, "nobody is told");
    t->ranges = 0;
    { PERF_SCOPE("outside"); }
    perf_word_set_(&t->request, PERF_ASK_TRACE_);       /* asked meanwhile, with a tool there */
    CHECK(perf_sink_set_(NULL, &own) == PERF_OK, "back");
    perf_word_set_(&t->request, PERF_ASK_TRACE_);
    { PERF_SCOPE("outside"); }
    perf_word_set_(&t->request, PERF_ASK_TRACE_);
    PERF_LAP(&lap, "phase");
    CHECK(!PERF_GET_(&t->request) && heard[0] == 3 && heard[1] == 2, "served: %x, %d begins", PERF_GET_(&t->request), heard[0]);
    CHECK(perf_sink_set_(&own, NULL) == PERF_OK && t->ranges == 0, "gone");
}

int main(void)
{
    pthread_t       thread[THREADS];
    uint64_t        rounds[THREADS], all = 0, calls = 0, turns;
    perf_recorder_ *t;
    int             i, ok = 1;

    for (i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &rounds[i]);
    for (i = 0; i < 500 || !PERF_GET_(&begins); i++) {          /* threads may be slow to start */
        ok &= perf_sink_set_(NULL, &sink) == PERF_OK;
        ok &= perf_sink_set_(NULL, &sink) == PERF_ESTATE;
        (void)perf_sched_yield_();
        ok &= perf_sink_set_(&sink, NULL) == PERF_OK;
    }
    turns = (uint64_t)i;
    PERF_SET_(&stop, 1u);
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        all += rounds[i];
    }
    CHECK(ok, "a sink is installed once and taken away once");
    CHECK(begins > 0, "the sink heard %.0f of %.0f scopes", (double)begins, (double)all);
    CHECK(begins - ends <= turns * THREADS, "begins %.0f, ends %.0f", (double)begins, (double)ends);
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
    CHECK(perf_self_v1_->quick != NULL || perf_anchor_v1_.registry->clock, "the hot path is back");
    CHECK(perf_error() == PERF_OK, "no error: %s", perf_status_text(perf_error()));
    instrumented();
    CHECK(perf_error() == PERF_OK, "no error: %s", perf_status_text(perf_error()));
    return check_done();
}
