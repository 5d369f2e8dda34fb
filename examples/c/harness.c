/* A program of benchmarks in one file: no main() to write, options included.
 *
 *     cc -O2 -I. examples/c/harness.c -o harness && ./harness
 *     ./harness --list;  ./harness --filter copy --json results.json;  ./harness --help
 *
 * You will see the environment in one line, then a table: the median time of one iteration with its
 * interval, percentiles, and the rate for the copy; how a hash grows with n; and a counter that
 * two threads share, dearer than on one thread where they really run at once, and one counter each.
 * To keep a baseline and check against it: docs/results.md.                                      */
#define PERF_MAIN 1
#include "perf.h"
#include <string.h>

PERF_BENCH(copy_4k)
{
    static char from[4096], to[4096];

    perf_keep(from);                            /* a static that nobody writes would be a constant */
    perf_bench_rates(&b, sizeof to, 0);         /* bytes and items an iteration: GB/s, items/s    */
    while (perf_bench_next(&b)) {
        memcpy(to, from, sizeof to);
        perf_keep(to);
    }
}

/* n comes with PERF_BENCH_N: 64, 128, ... 65536.  Each step needs the last, so it cannot be skipped. */
PERF_BENCH_N(hash_bytes, 64, 65536)
{
    static unsigned char text[65536];
    uint32_t             hash = 0;
    size_t               i;

    for (i = 0; i < n; i++)
        text[i] = (unsigned char)(i * 7);
    while (perf_bench_next(&b)) {
        for (i = 0; i < n; i++)
            hash = (hash ^ text[i]) * UINT32_C(16777619);
        perf_keep(hash);
    }
}

/* `thread` and `threads` come with PERF_BENCH_THREADS: here on 1 thread, then on 2. */
static struct counter {
    uint64_t n;
    char     room[120];                         /* a cache line of its own                        */
} counters[3];

PERF_BENCH_THREADS(count_shared, 1, 2)
{
    while (perf_bench_next(&b))
        __atomic_fetch_add(&counters[2].n, 1, __ATOMIC_RELAXED);
}

PERF_BENCH_THREADS(count_own, 1, 2)
{
    while (perf_bench_next(&b))
        __atomic_fetch_add(&counters[thread % 2].n, 1, __ATOMIC_RELAXED);
}
