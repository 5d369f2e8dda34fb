/* Does it scale?  Rates add up over the threads; "speed-up" is over one thread. */
#define PERF_MAIN 1
#include "perf.h"

static uint64_t shared;

PERF_BENCH_THREADS(count, 1, 4)                 /* on 1, 2 and 4 threads at once              */
{
    perf_bench_rates(&b, 0, 1);                 /* one item an iteration: items/s             */
    while (perf_bench_next(&b))
        __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
}
