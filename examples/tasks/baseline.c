/* Did it get slower since the last release?
 *     ./baseline --add base.json               keep this run, eight times or more
 *     ./baseline --compare base.json           exit status 1: something is slower            */
#define PERF_MAIN 1
#include "perf.h"
#include <stdio.h>

PERF_BENCH(format)
{
    char text[64];

    while (perf_bench_next(&b)) {
        snprintf(text, sizeof text, "%d items in %.3f s", 42, 1.5);
        perf_keep(text);
    }
}
