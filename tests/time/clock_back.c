/* clock_back.c - a clock that is set back (a restored container, a moved machine): scopes, phases and spans across
 * the step are lost to it by name, all that begin after it are counted, and no fork is blamed. */
#include <stdint.h>

static uint64_t now_ns = UINT64_C(10000000000000);

static uint64_t fake(void)
{
    return now_ns += 10;
}

#define PERF_CLOCK_FN fake
#include "rows.h"
#include "perf_trace.h"

#define STEP UINT64_C(500000000000)

static void work(int back)
{
    PERF_SCOPE("work");
    now_ns += 1000;
    if (back)
        now_ns -= STEP;
    now_ns += 1000;
}

static void recursion(int depth, int back)
{
    PERF_SCOPE("recursion");
    now_ns += 1000;
    if (depth)
        recursion(depth - 1, back);
    else if (back)
        now_ns -= STEP;
}

static void notes_are(double lost)
{
    char *text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);

    CHECK(number_of("lost_to_clock") == lost, "%g lost to the clock, not %g", number_of("lost_to_clock"), lost);
    CHECK(number_of("begun_before_fork") == 0 && number_of("never_ended") == 0 && number_of("open") == 0,
          "%g before a fork, %g never ended, %g open", number_of("begun_before_fork"), number_of("never_ended"),
          number_of("open"));
    CHECK(!strstr(text, "fork"), "%s", text);
    CHECK((strstr(text, "the clock was set back") != NULL) == (lost > 0), "%s", text);
    free(text);
}

static void times_of(const char *name, double calls, double longest)
{
    row r = row_of(name, "scope");

    CHECK(r.calls == calls && r.max < longest && r.total < longest * (calls + 1) && r.self <= r.total,
          "%s: %g calls, total %g, self %g, max %g", name, r.calls, r.total, r.self, r.max);
}

/* A phase and a span across the step. */
static void phases(void)
{
    perf_async span, later;
    perf_lap   lap;
    int        i;

    perf_reset();
    lap = perf_lap_begin();
    span = perf_async_begin("span", 0);
    for (i = 0; i < 5; i++) {
        now_ns += 1000;
        if (i == 2)
            now_ns -= STEP;
        PERF_LAP(&lap, "phase");
    }
    perf_async_end(&span);
    later = perf_async_begin("span", 0);
    now_ns += 1000;
    perf_async_end(&later);
    times_of("phase", 4, 3000);
    CHECK(row_of("span", "async").calls == 1 && row_of("span", "async").max < 3000, "%g spans, longest %g",
          row_of("span", "async").calls, row_of("span", "async").max);
    notes_are(2);
}

static void scopes(void)
{
    int i;

    perf_reset();
    for (i = 0; i < 4; i++) {
        PERF_SCOPE("outer");
        work(i == 1);
        work(0);
    }
    times_of("outer", 3, 6000);
    times_of("work", 7, 3000);
    notes_are(2);
}

int main(void)
{
    char *text;
    int   i;

    for (i = 0; i < 6; i++)
        work(i == 3);
    times_of("work", 5, 3000);
    notes_are(1);
    perf_reset();
    notes_are(0);
    scopes();
    perf_reset();
    for (i = 0; i < 4; i++)
        recursion(3, i == 2);
    times_of("recursion", 12, 6000);
    notes_are(4);
    phases();
    now_ns = STEP / 2;                  /* a machine just started: the step goes below zero       */
    scopes();
    now_ns = STEP / 2;
    phases();
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    CHECK(perf_clock().warnings & PERF_CLOCK_BACKWARDS, "%x", perf_clock().warnings);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text) && !strstr(text, "e+"), "%s", text);
    remove(scratch_file());
    free(text);
    return check_done();
}
