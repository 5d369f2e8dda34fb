/* step.c - a clock that steps by 10 ns and now and then by 1: its step is 10. */
#include <stdint.h>

static uint64_t readings;

static uint64_t stepping(void)
{
    readings++;
    return readings / 3 * 10 + (readings + 47) / 96;
}

#define PERF_CLOCK_FN stepping
#include "perf.h"
#include "check.h"

int main(void)
{
    perf_clock_info c = perf_clock();

    CHECK(c.resolution_ns > 9.5 && c.resolution_ns < 10.5, "%g ns", c.resolution_ns);
    return check_done();
}
