/* One process of a job as torchrun starts it: RANK and WORLD_SIZE in the environment say which.  In
 * simulated time, so the numbers are known; writes results.RANK.json and trace.RANK.pftrace into the
 * folder that its argument names.                                                                */
#include <stdio.h>
#include <stdint.h>
static uint64_t now_ns = 1000000;
static uint64_t sim_now(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN sim_now
#include "perf.h"
#include "perf_results.h"
#include "perf_trace.h"
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *rank = getenv("RANK"), *world = getenv("WORLD_SIZE");
    char        path[512];
    int         i, r = rank ? atoi(rank) : 0, last = r == (world ? atoi(world) : 1) - 1;

    for (i = 0; i < 100; i++) {
        PERF_SCOPE("step");
        {
            PERF_SCOPE("forward");
            now_ns += last ? 1500000 : 1000000;
        }
        {
            PERF_WAIT("all \"reduce\"");
            now_ns += last ? 100000 : 600000;
        }
        PERF_COUNT("loss", 1.0 / (i + 1));
    }
    if (r == 0) {
        PERF_SCOPE("save");
        now_ns += 5000000;
    }
    snprintf(path, sizeof path, "%s/results.%d.json", argc > 1 ? argv[1] : ".", r);
    if (perf_results_save(path, NULL) != PERF_OK)
        return 1;
    snprintf(path, sizeof path, "%s/trace.%d.pftrace", argc > 1 ? argv[1] : ".", r);
    return perf_trace_save_perfetto(path) != PERF_OK;
}
