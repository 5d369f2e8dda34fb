/* Loops for cost.sh: ./cost KIND ROUNDS. */
#include "perf.h"
#include <stdlib.h>
#include <string.h>

#ifdef SITES
#define SITE { PERF_SCOPE("site"); perf_clobber(); }
void sites(void);
void sites(void)
{
    SITE
#if SITES > 1
    SITE SITE SITE SITE SITE SITE SITE SITE
#endif
}
#else
#define LOOP(name, body)                                                                          \
    static __attribute__((__noinline__, __cold__, __unused__)) void name(long n)                                                       \
    {                                                                                             \
        for (; n; n--) {                                                                          \
            body;                                                                                 \
            perf_clobber();                                                                       \
        }                                                                                         \
    }

LOOP(empty, )
LOOP(scope, PERF_SCOPE("scope"))

#ifdef CALLS            /* a program of its own: sites beside it cost the plain scope two instructions */
static __attribute__((__noinline__)) void calls_itself(int deep)
{
    PERF_SCOPE("calls itself");
    if (deep)
        calls_itself(0);
    perf_clobber();
}
LOOP(again, calls_itself(1))

static __attribute__((__noinline__)) void called(void)
{
    PERF_SCOPE("called");
    perf_clobber();
}
LOOP(callers, { PERF_SCOPE("one"); called(); } { PERF_SCOPE("other"); called(); })
#endif

static __attribute__((__noinline__, __cold__, __unused__)) void lap(long n)
{
    perf_lap l = perf_lap_begin();

    for (; n; n--) {
        PERF_LAP(&l, "lap");
        perf_clobber();
    }
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 1;

    if (!strcmp(argv[1], "empty"))
        empty(n);
    if (!strcmp(argv[1], "event"))
        scope(n);
    if (!strcmp(argv[1], "scope")) {
        perf_trace_enable(0);
        scope(n);
    }
#ifdef CALLS
    if (!strcmp(argv[1], "again"))
        again(n);
    if (!strcmp(argv[1], "callers"))
        callers(n);
#endif
    if (!strcmp(argv[1], "lap"))
        lap(n);
    if (!strcmp(argv[1], "off")) {
        perf_enable(0);
        scope(n);
    }
    return 0;
}
#endif
