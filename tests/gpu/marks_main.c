/* Reads what marks.c has marked. */
#include <stdint.h>
#define _GNU_SOURCE 1
#include "sim.h"
#include "../time/rows.h"

void nested(void *stream, int (*work)(void *stream, uint64_t ns));
void waits(void (*sleep)(uint64_t ns));

static int work(void *stream, uint64_t ns)
{
    return sim_work(stream, ns);
}

static void pass(uint64_t ns)
{
    sim_host(ns);
}

int main(void)
{
    perf_gpu_stats a, b;
    int            i;

    sim_start_real();
    for (i = 0; i < 100; i++) {
        nested(sim_stream(0), work);
        waits(pass);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    a = perf_gpu_stats_of("outer");
    b = perf_gpu_stats_of("inner");
    CHECK(a.scopes == 100 && b.scopes == 100, "%d and %d scopes", (int)a.scopes, (int)b.scopes);
    CHECK(a.device_ns > b.device_ns + 9e5 && b.device_ns > 1.9e6, "%g in %g", b.device_ns, a.device_ns);
    CHECK(row_of("inner", "copy in").calls == 100 && row_of("outer", "device").calls == 100, "rows of the device");
    CHECK(row_of("wait", "sync").calls == 100, "%g", row_of("wait", "sync").calls);
    sim_stop();
    return check_done();
}
