/* What a GPU scope costs, for cost.sh: ./cost KIND N on a driver that does nothing.
 *
 *     calls    N times what nobody can save: two records, is the stream being captured?
 *     scope    N scopes instead
 *     harvest  and their collection
 *     asks     and instead of a collection N times the two questions it cannot do without
 *
 * Before that come scopes and collections until events exist and pages are touched; what this takes hangs
 * on the wall's clock, so only counted() counts.                                                   */
#define PERF_GPU_SLOTS 65536
#include "perf_cuda.h"
#include <stdlib.h>
#include "../inside.h"

static int event, context;
static int ctx_get(void **c) { *c = &context; return 0; }
static int event_create(void **e, unsigned f) { (void)f; *e = &event; return 0; }
static int one_event(void *e) { (void)e; return 0; }
static int event_record(void *e, void *s) { (void)e; (void)s; return 0; }
static int capturing(void *s, int *c) { (void)s; *c = 0; return 0; }

/* 10 us of work each 20 us. */
static int event_elapsed(float *ms, void *start, void *stop)
{
    *ms = start == stop ? 0.01f : 0.02f;
    return 0;
}

static perf_gpu_backend table;

static __attribute__((__noinline__, __hot__)) void calls(long n, void *stream)
{
    int status = 0;

    for (; n; n--) {
        (void)table.event_record(&event, stream);
        (void)table.event_record(&event, stream);
        (void)table.stream_capturing(stream, &status);
        perf_clobber();
    }
}

static __attribute__((__noinline__, __hot__)) void asks(long n)
{
    float ms;

    for (; n; n--) {
        (void)table.event_elapsed(&ms, &event, &event);
        (void)table.event_elapsed(&ms, &event, &event);
        perf_clobber();
    }
}

/* The scope that makes sure of its context comes every 0.1 ms of the wall's clock, which runs on while
 * callgrind counts: not one of these. */
static __attribute__((__noinline__, __hot__)) void scopes(long n, void *stream)
{
    gpu_believes_its_context();
#if defined(NESTED)                             /* and of different names */
    for (; n; n -= 2) {
        PERF_GPU_SCOPE("outer", stream);
        {
            PERF_GPU_SCOPE("inner", stream);
            perf_clobber();
        }
    }
#else
    for (; n; n--) {
        PERF_GPU_SCOPE("scope", stream);
        perf_clobber();
    }
#endif
}

/* callgrind is told this name. */
void counted(const char *kind, long n, void *stream);
__attribute__((__noinline__)) void counted(const char *kind, long n, void *stream)
{
    if (!strcmp(kind, "calls"))
        calls(n, stream);
    if (!strcmp(kind, "scope") || !strcmp(kind, "harvest") || !strcmp(kind, "asks"))
        scopes(n, stream);
    if (!strcmp(kind, "asks"))
        asks(n);
    if (!strcmp(kind, "harvest"))
        (void)perf_gpu_collect();
}

int main(int argc, char **argv)
{
    const char    *kind = argc > 1 ? argv[1] : "scope";
    long           n = argc > 2 ? atol(argv[2]) : 1, expected = 0;
    void          *stream = argc ? &table : NULL;       /* no constant, as in a program */
    perf_gpu_stats a;

    table.size = sizeof table;
    table.name = "nothing";
    table.ctx_get = ctx_get;
    table.event_create = event_create;
    table.event_destroy = table.event_query = table.event_sync = one_event;
    table.event_record = event_record;
    table.event_elapsed = event_elapsed;
    table.stream_query = table.stream_sync = one_event;
    table.stream_capturing = capturing;
    if (perf_gpu_use(&table) != PERF_OK)
        return 1;
    for (; expected < 2 * PERF_GPU_SLOTS; expected += n) {      /* until no slot is new */
        scopes(n, stream);
        (void)perf_gpu_collect();
    }
    counted(kind, n, stream);
    expected += !strcmp(kind, "harvest") ? n : 0;
    a = perf_gpu_stats_of(NULL);
    _Exit(a.scopes != (uint64_t)expected || a.dropped || a.failed);    /* no handlers: they collect */
}
