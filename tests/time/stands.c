/* A system clock that stands still, as under libfaketime: nothing hangs, and the report says so.  The
 * program's own clock_gettime takes the place of the system's.                                   */
#include "perf.h"
#include "check.h"
#include <string.h>

struct when {
    long sec, nsec;
};

int clock_gettime(int id, struct when *t);

int clock_gettime(int id, struct when *t)
{
    (void)id;
    t->sec = 1000;
    t->nsec = 0;
    return 0;
}

int main(void)
{
    static char     text[8192];
    perf_clock_info c;
    int             i;

    for (i = 0; i < 100; i++) {
        PERF_SCOPE("scope");
        perf_clobber();
    }
    (void)perf_report_text(text, sizeof text, NULL);
    CHECK(perf_report_text(NULL, 0, NULL) > 100, "%s", text);
    c = perf_clock();
    if (!strcmp(c.name, "clock_gettime"))           /* no counter here: every time is 0           */
        CHECK(c.tick_ns > 0, "%g", c.tick_ns);
    else
        CHECK(c.warnings & PERF_CLOCK_STANDS, "warnings %u", c.warnings);
    return check_done();
}
