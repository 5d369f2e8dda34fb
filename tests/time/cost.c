/* Loops for cost.sh: ./cost KIND ROUNDS. */
#include "perf.h"
#include <stdlib.h>

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
    static PERF_ATTR_((__noinline__, __cold__, __unused__)) void name(long n)                                                       \
    {                                                                                             \
        for (; n; n--) {                                                                          \
            body;                                                                                 \
            perf_clobber();                                                                       \
        }                                                                                         \
    }

LOOP(empty, )
LOOP(scope, PERF_SCOPE("scope"))

static PERF_ATTR_((__noinline__, __cold__, __unused__)) void lap(long n)
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
    if (!strcmp(argv[1], "lap"))
        lap(n);
    if (!strcmp(argv[1], "off")) {
        perf_enable(0);
        scope(n);
    }
    return 0;
}
#endif
