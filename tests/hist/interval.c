/* Intervals of quantiles straight from the histogram: how often do they hold the true quantile, and
 * how much wider are they than those of the sorted values?                                        */
#include "samples.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 1000 };

static perf_hist h;
static double    sorted[5000];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void coverage(size_t n, double p, uint64_t seed)
{
    rng    r = {seed};
    double truth = 10000.0 * math_exp(0.8 * math_normal(p));
    int    run, held = 0, values_held = 0;
    size_t i;

    for (run = 0; run < RUNS; run++) {
        perf_interval q, v;
        perf_hist_reset(&h);
        for (i = 0; i < n; i++) {
            uint64_t x = lognormal(&r);
            sorted[i] = (double)x;
            perf_hist_add(&h, x);
        }
        qsort(sorted, n, sizeof *sorted, ascending);
        q = perf_hist_quantile_interval(&h, p, 0.95);
        v = stats_interval(sorted, n, p, 0.95);
        held += q.low <= truth && truth <= q.high;
        values_held += v.low <= truth && truth <= v.high;
        CHECK(q.low <= v.low && q.high >= v.high, "n %zu p %g: inside that of the values", n, p);
        CHECK(q.low >= v.low * (1.0 - 1.0 / 128) - 1.0 || v.low < 0.0, "n %zu p %g: too low", n, p);
        CHECK(q.high <= v.high * (1.0 + 1.0 / 128) + 1.0, "n %zu p %g: too high", n, p);
        CHECK(q.low <= q.estimate && q.estimate <= q.high, "estimate");
    }
    printf("n %4zu p%-4g covered %.2f %% (the values themselves %.2f %%)\n", n, 100.0 * p,
           100.0 * held / RUNS, 100.0 * values_held / RUNS);
    CHECK(held >= 0.929 * RUNS, "n %zu p %g: %d of %d", n, p, held, RUNS);  /* 3 sigma below 95 %   */
    if (n == 5000)
        CHECK(held <= 0.985 * RUNS, "n %zu p %g: %d of %d", n, p, held, RUNS);
}

int main(void)
{
    static const size_t n[3] = {30, 200, 5000};
    static const double p[3] = {0.5, 0.95, 0.99};
    perf_interval       q;
    int                 i, k;

    printf("seeds 241..249\n");
    for (i = 0; i < 3; i++)
        for (k = 0; k < 3; k++)
            coverage(n[i], p[k], (uint64_t)(241 + 3 * i + k));
    perf_hist_reset(&h);
    q = perf_hist_quantile_interval(&h, 0.5, 0.95);
    CHECK(isnan(q.estimate) && isnan(q.low), "no values");
    perf_hist_add(&h, 7);
    q = perf_hist_quantile_interval(&h, 0.5, 0.95);
    CHECK(q.estimate <= 7.0 && q.low < -1e300 && q.high > 1e300, "one value bounds nothing");
    CHECK(isnan(perf_hist_quantile_interval(&h, 2.0, 0.95).low), "p out of range");
    CHECK(isnan(perf_hist_quantile_interval(NULL, 0.5, 0.95).low), "NULL");
    perf_hist_add_n(&h, 9, UINT64_C(1) << 60);  /* ranks beyond a double's digits                   */
    q = perf_hist_quantile_interval(&h, 0.5, 0.95);
    CHECK(q.low >= 7.0 && q.high <= 9.0, "2^60 values");
    q = perf_hist_quantile_interval(&h, 1.0, 0.95);
    CHECK(q.low >= 7.0 && q.low <= 9.0, "p100: %g", q.low);
    return check_done();
}
