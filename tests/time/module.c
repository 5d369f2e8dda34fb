/* A shared object with scopes and loops of its own; built several times with another NAME; with
 * OWN_CLOCK their clock is a function of it.                                                      */
#include <stdint.h>
#ifdef OWN_CLOCK
static uint64_t own_clock(void)
{
    static uint64_t t;

    return t += 1000;
}
#define PERF_CLOCK_FN own_clock
#endif
#include "perf.h"
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
__attribute__((__visibility__("default"))) int run(int n);
#ifdef __cplusplus
extern "C"
#endif
__attribute__((__visibility__("default"))) int seen(const char *text);
#ifdef __cplusplus
extern "C"
#endif
__attribute__((__visibility__("default"))) int loops(int n);

int seen(const char *text)              /* is it in this module's report?                         */
{
    static char      report[8192];
    perf_report_opts o = PERF_ZERO;

    o.view = PERF_VIEW_CSV;
    return perf_report_text(report, sizeof report, &o) < sizeof report && strstr(report, text) != 0;
}

int run(int n)
{
    int i;

    for (i = 0; i < n; i++) {
        PERF_SCOPE("shared");
        {
            PERF_SCOPE(NAME);
            perf_clobber();
        }
    }
    return perf_error() == PERF_OK;
}

int loops(int n)
{
    perf_ab_opts o = PERF_ZERO;
    perf_ab      ab;
    perf_race    race;
    perf_bench   bench = perf_bench_begin("failed " NAME, NULL);
    int          i, turn;

    o.max_seconds = 0.02;
    ab = perf_ab_begin("a/b " NAME, &o);
    while ((turn = perf_ab_next(&ab)) >= 0)
        for (i = 0; i < n << turn; i++)
            perf_clobber();
    (void)perf_ab_end(&ab);
    race = perf_race_begin("race " NAME, 3, &o);
    while ((turn = perf_race_next(&race)) >= 0)
        for (i = 0; i < n << turn; i++)
            perf_clobber();
    (void)perf_race_end(&race);
    perf_bench_fail(&bench, "body of " NAME " is wrong");
    (void)perf_bench_end(&bench);
    o.min_pairs = -1;
    ab = perf_ab_begin("refused " NAME, &o);
    (void)perf_ab_end(&ab);
    return 1;
}
