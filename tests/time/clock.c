/* The clocks agree, never run backwards, and say how good they are. */
#include "rows.h"

/* Both clocks at one moment: the closest of many, for between two readings others may run. */
static void both(uint64_t *ns, uint64_t *ticks)
{
    uint64_t best = UINT64_MAX, before, at, width;
    int      i;

    for (i = 0; i < 200; i++) {
        before = perf_ticks();
        at = perf_now();
        width = perf_ticks() - before;
        if (width < best) {
            best = width;
            *ns = at;
            *ticks = before + width / 2;
        }
    }
}

int main(void)
{
    uint64_t        n0, t0, last, t, n, cpu = perf_cpu_now();
    perf_clock_info c;
    double          ns, error;
    int             i;

    both(&n0, &t0);
    last = n0;

    (void)perf_ticks_to_ns(1);          /* the calibration begins */
    for (i = 0; i < 100000; i++) {
        t = perf_now();
        CHECK(t >= last, "perf_now went back by %llu", (unsigned long long)(last - t));
        last = t;
    }
    while (perf_now() < n0 + 20000000) {
    }
    both(&n, &t);
    ns = perf_ticks_to_ns(t - t0);
    error = ns / (double)(n - n0) - 1;
    CHECK(error < 20e-6 && error > -20e-6, "20 ms differ by %.0f ppm", error * 1e6);
    c = perf_clock();
    CHECK(c.name && c.hz > 1e6 && c.tick_ns > 0 && c.resolution_ns > 0 && c.resolution_ns < 1e6 && c.cost_ns > 0,
          "%s %g %g %g %g", c.name, c.hz, c.tick_ns, c.resolution_ns, c.cost_ns);
    CHECK(c.error_ppm >= 0 && c.error_ppm < 20, "%g ppm", c.error_ppm);
    CHECK(c.hz * c.tick_ns > 0.999999e9 && c.hz * c.tick_ns < 1.000001e9, "hz and tick_ns");
    CHECK(perf_cpu_now() >= cpu, "processor time");
    CHECK(perf_ticks_to_ns(0) < 1e-9, "no time");
    CHECK(strlen(perf_clock_warning_text(PERF_CLOCK_NOT_INVARIANT)) > 10, "text");
    CHECK(!strcmp(perf_clock_warning_text(0), "no warning"), "text");
    CHECK(!(c.warnings & (PERF_CLOCK_BACKWARDS | PERF_CLOCK_ROUGH)), "%u", c.warnings);
    return check_done();
}
