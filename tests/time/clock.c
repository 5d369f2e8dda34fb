/* The clocks agree, never run backwards, and say how good they are. */
#include "rows.h"
#include "perf_trace.h"
#include "inside.h"

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

/* While another thread takes the first reading, a rate comes from a reading of one's own. */
static void meanwhile(void)
{
    core_clock *c = core_clock_of_all(), before = *c;
    double      rate = perf_ticks_to_ns(1000000), mine;

    core_clock_set(1);
    CHECK(!core_calibrate(), "it is not ready");
    mine = perf_ticks_to_ns(1000000);
    CHECK(mine > 0.9 * rate && mine < 1.1 * rate, "%g, not %g", mine, rate);
    core_clock_set(2);
    CHECK(c->first.ticks == before.first.ticks && c->tick_ns == before.tick_ns && c->length == before.length,
          "nothing of it is kept");
}

/* Where the counter changes its speed scopes are timed by the system's clock. */
static void without_counter(void)
{
    core_registry *r = core_get();
    perf_scope     s;
    perf_async     span;
    uint64_t       least, most;

    r->clock = 1;
    r->warnings = PERF_CLOCK_NOT_INVARIANT;
    perf_reset();
    core_asks(r);
    most = perf_now();
    s = perf_scope_begin("by the system's clock");
    span = perf_async_begin("span", 0);
    least = perf_now();
    while (perf_now() < least + 1000000) {
    }
    least = perf_now() - least;
    perf_async_end(&span);
    perf_scope_end(&s);
    most = perf_now() - most;
    CHECK(row_of("by the system's clock", "scope").total >= (double)least &&
              row_of("by the system's clock", "scope").total <= (double)most,
          "%g of %g .. %g", row_of("by the system's clock", "scope").total, (double)least, (double)most);
    CHECK(row_of("span", "async").total >= (double)least && row_of("span", "async").total <= (double)most, "span");
    CHECK(!strcmp(perf_clock().name, CORE_SYSTEM_CLOCK) && perf_clock().hz > 0.999e9 && perf_clock().hz < 1.001e9,
          "%s %g", perf_clock().name, perf_clock().hz);
    CHECK(perf_clock().warnings & PERF_CLOCK_NOT_INVARIANT, "%u", perf_clock().warnings);
    r->clock = 0;
    r->warnings = 0;
    core_asks(r);
}

/* PERF_TRACE_EVENTS 0: scopes are counted, a trace is empty, none is streamed. */
static void without_ring(void)
{
    core_registry *r = core_get();
    uint64_t       events = r->ring_events;
    char          *text;

    perf_reset();
    r->ring_events = 0;
    perf_trace_enable(1);
    {
        PERF_SCOPE("without a ring");
    }
    CHECK(row_of("without a ring", "scope").calls == 1, "counted");
    CHECK(perf_trace_stream(scratch_file()) == PERF_ESTATE, "nothing to stream");
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text) && !strstr(text, "without a ring"), "%s", text);
    free(text);
    remove(scratch_file());
    r->ring_events = events;
    perf_trace_enable(1);
}

/* A buffer of the length that was asked for holds the text, though the clock is known better meanwhile. */
static void same_length(void)
{
    static const double ppm[] = {134, 9.75, 10, 999, 0.01};
    const uint64_t      length = core_clock_of_all()->length, error = core_clock_of_all()->error_ppm;
    perf_report_opts    o = PERF_ZERO;
    size_t              asked, got, i;
    int                 view;

    core_clock_of_all()->length = UINT64_MAX / 4;       /* not measured again */
    for (view = PERF_VIEW_TABLE; view <= PERF_VIEW_JSON; view++) {
        o.view = (perf_view)view;
        memcpy(&core_clock_of_all()->error_ppm, &ppm[1], sizeof *ppm);
        asked = perf_report_text(NULL, 0, &o);
        for (i = 0; i < sizeof ppm / sizeof *ppm; i++) {
            memcpy(&core_clock_of_all()->error_ppm, &ppm[i], sizeof *ppm);
            got = perf_report_text(NULL, 0, &o);
            CHECK(got == asked, "view %d within %g ppm: %zu bytes, not %zu", view, ppm[i], got, asked);
        }
    }
    core_clock_of_all()->length = length;
    core_clock_of_all()->error_ppm = error;
}

int main(void)
{
    uint64_t        n0, t0, last, t, n;
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
    ns = (double)core_clock_of_all()->length * c.tick_ns;      /* a step of 10 ns in that time, at least */
    CHECK(!CORE_HAS_COUNTER || (ns > 1e6 && c.error_ppm > 0.99 * 10 / ns * 1e6), "%g ppm of %g ns", c.error_ppm, ns);
    CHECK(c.hz * c.tick_ns > 0.999999e9 && c.hz * c.tick_ns < 1.000001e9, "hz and tick_ns");
    CHECK(perf_ticks_to_ns(0) < 1e-9, "no time");
    CHECK(!(c.warnings & (PERF_CLOCK_BACKWARDS | PERF_CLOCK_ROUGH)), "%u", c.warnings);
    meanwhile();
    without_counter();
    without_ring();
    if (CORE_HAS_COUNTER)
        same_length();
    return check_done();
}
