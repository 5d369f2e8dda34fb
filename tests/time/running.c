/* running.c - a report says how much of the time the process had a processor. */
#include "perf.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double figure(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? atof(at + strlen(key)) : -1.0;
}

int main(void)
{
    static char      text[65536];
    struct timespec  nap = {0, 300000000};
    perf_report_opts o = perf_report_opts_default();
    double           cpu, wall;

    {
        PERF_SCOPE("nap");
        nanosleep(&nap, NULL);
    }
    o.view = PERF_VIEW_JSON;
    perf_report_text(text, sizeof text, &o);
    cpu = figure(text, "\"cpu_ns\":");
    wall = figure(text, "\"wall_ns\":");
    CHECK(wall > 299e6 && cpu >= 0 && cpu < wall / 2, "%g of %g", cpu, wall);
    CHECK(figure(text, "\"preemptions\":") >= 0, "%s", text);
    perf_report_text(text, sizeof text, NULL);
    CHECK(figure(text, "\nprocessor time: ") >= 0, "%s", text);
    perf_reset();
    perf_report_text(text, sizeof text, &o);
    CHECK(figure(text, "\"wall_ns\":") < wall, "a reset begins anew: %s", text);
    return check_done();
}
