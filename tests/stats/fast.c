/* Built with -ffast-math, which takes 1 for 1 and a bit: what iterates ends all the same, and finds
 * the usual intervals.  Where it does not end, 20 s of processor time are the limit. */
#define _GNU_SOURCE 1
#include "perf_stats.h"
#include "check.h"
#include <sys/resource.h>

int main(void)
{
    const struct rlimit most = {20, 20};
    static double       x[300];
    perf_compare_opts   o = PERF_ZERO;
    perf_verdict        v;
    perf_summary        s;
    int                 i, n;

    (void)setrlimit(RLIMIT_CPU, &most);
    for (n = 1; n <= 300; n++) {
        for (i = 0; i < n; i++)
            x[i] = 1.0 + i;
        s = perf_summarize(x, (size_t)n);
        CHECK(s.p50_low <= s.p50 && s.p50 <= s.p50_high, "n %d: %g in [%g, %g]", n, s.p50, s.p50_low, s.p50_high);
        CHECK(n < 10 || (s.p50_low > 1.0 && s.p50_high < n), "n %d: [%g, %g]", n, s.p50_low, s.p50_high);
    }
    /* A 0 that is meant is the smallest number there is, which that option's code takes for 0. */
    o.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 0.0, PERF_METRIC_PAIR);
    v = perf_compare_pairs(x, x, 20, &o);
    CHECK(v.threshold > 0.999 && v.threshold < 1.001, "0 %% allowed: %g", v.threshold);
    return check_done();
}
