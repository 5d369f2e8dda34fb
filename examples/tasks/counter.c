/* How do I show a number of my own beside the time? */
#define PERF_MAIN 1
#include "perf.h"
#include <string.h>

PERF_BENCH(compress)
{
    static char from[4096], to[4096];
    size_t      kept = 0;

    memset(from, 'x', sizeof from);
    while (perf_bench_next(&b)) {
        kept = 0;
        for (size_t i = 0; i < sizeof from; i++)
            if (!i || from[i] != from[i - 1])
                to[kept++] = from[i];
        perf_keep(to);
    }
    perf_bench_counter(&b, "ratio", (double)sizeof from / (double)(kept ? kept : 1));
}
