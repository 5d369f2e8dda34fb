/* Families, runs, controls, planning, resampling: against R and NIST, and against their promises. */
#include "perf_stats.h"
#include "check.h"

#include <stdlib.h>

static char     folder[512];
static uint64_t state = 20261121;

static double normal(void)
{
    return perf_normal_quantile(((double)(perf_random_(&state) >> 11) + 0.5) / 9007199254740992.0);
}

static int near(double a, double b, double tolerance)
{
    double gap = a > b ? a - b : b - a, size = b < 0.0 ? -b : b;
    return gap <= tolerance * (size > 1.0 ? size : 1.0);
}

/* R's p.adjust; the file has the columns set, i, p, holm, BH among others. */
static void adjustments(void)
{
    static double p[4096], holm[4096], bh[4096], got[4096];
    char          path[800], line[512], header[512] = "", set[64] = "", *c[16];
    int           col_p = -1, col_holm = -1, col_bh = -1, cols, sets = 0, i;
    size_t        n = 0, k;
    FILE         *f;

    snprintf(path, sizeof path, "%s/r_padjust.csv", folder);
    f = fopen(path, "r");
    CHECK(f != NULL, "cannot open %s", path);
    for (;;) {
        char *q = f && fgets(line, sizeof line, f) ? line : NULL;
        cols = 0;
        if (q) {
            line[strcspn(line, "\r\n")] = '\0';
            if (!*header)
                snprintf(header, sizeof header, "%s", line);
            for (; cols < 16; cols++) {
                c[cols] = q;
                q += strcspn(q, ",");
                if (!*q)
                    break;
                *q++ = '\0';
            }
            cols++;
            if (col_p < 0) {
                for (i = 0; i < cols; i++) {
                    if (!strcmp(c[i], "p"))
                        col_p = i;
                    if (!strcmp(c[i], "holm"))
                        col_holm = i;
                    if (!strcmp(c[i], "BH"))
                        col_bh = i;
                }
                CHECK(col_p > 0 && col_holm > 0 && col_bh > 0, "columns of %s: %s", path, header);
                if (col_p < 0)
                    break;
                continue;
            }
        }
        if (n && (!q || strcmp(set, c[0]))) {       /* a set is complete                          */
            CHECK(perf_adjust_holm(p, n, got) == PERF_OK, "holm");
            for (k = 0; k < n && near(got[k], holm[k], 1e-12); k++)
                ;
            CHECK(k == n, "Holm, set %s, p[%lu] = %g: %.17g, R %.17g", set, (unsigned long)k,
                  p[k], got[k], holm[k]);
            CHECK(perf_adjust_bh(p, n, got) == PERF_OK, "bh");
            for (k = 0; k < n && near(got[k], bh[k], 1e-12); k++)
                ;
            CHECK(k == n, "BH, set %s, p[%lu] = %g: %.17g, R %.17g", set, (unsigned long)k, p[k],
                  got[k], bh[k]);
            sets++;
            n = 0;
        }
        if (!q)
            break;
        snprintf(set, sizeof set, "%s", c[0]);
        p[n] = strtod(c[col_p], NULL);
        holm[n] = strtod(c[col_holm], NULL);
        bh[n++] = strtod(c[col_bh], NULL);
    }
    if (f)
        fclose(f);
    CHECK(sets >= 5, "only %d sets", sets);
    CHECK(perf_adjust_holm(NULL, 3, got) == PERF_EINVAL && perf_adjust_bh(p, 0, got) == PERF_ENODATA,
          "bad input");
    p[0] = PERF_NAN_;
    p[1] = 0.01;
    CHECK(perf_adjust_holm(p, 2, p) == PERF_OK && p[0] == 1.0 && p[1] == 0.02, "NaN counts as 1");
}

static void autocorrelation(void)
{
    static const struct {
        const char *name;
        double      r1;
    } set[] = {
        {"Lew", -0.307304800605679455}, {"Lottery", -0.120948622967392867},
        {"Mavro", 0.937989183438248072}, {"Michelso", 0.535199668621283316},
        {"NumAcc1", -0.5}, {"NumAcc2", -0.999}, {"NumAcc3", -0.999}, {"NumAcc4", -0.999},
        {"PiDigits", -0.00355099287237972154},
    };
    static double x[6000];
    char          path[800], line[128];
    size_t        i, n;
    FILE         *f;

    for (i = 0; i < sizeof set / sizeof *set; i++) {
        double r, error;
        snprintf(path, sizeof path, "%s/nist_%s.csv", folder, set[i].name);
        f = fopen(path, "r");
        for (n = 0; f && n < 6000 && fgets(line, sizeof line, f); n++)
            x[n] = strtod(line, NULL);
        if (f)
            fclose(f);
        r = perf_autocorrelation(x, n, 1);
        error = r / set[i].r1 - 1.0;
        error = error < 0.0 ? -error : error;
        /* 10 digits; NumAcc3 and NumAcc4 lose what binary64 cannot hold of their input.          */
        CHECK(error < (i == 6 ? 1e-8 : i == 7 ? 1e-7 : 1e-10), "%s: %.17g, off by %g", set[i].name, r,
              error);
    }
    CHECK(perf_is_nan_(perf_autocorrelation(x, 3, 3)) && perf_is_nan_(perf_autocorrelation(NULL, 3, 1)),
          "bad input");
}

static void rules(void)
{
    static const struct {
        const char    *text;
        perf_rule_kind kind;
        perf_metric    metric;
        double         amount;
    } good[] = {
        {"speedup >= 1.3", PERF_RULE_SPEEDUP, PERF_METRIC_PAIR, 1.3},
        {"speed-up >= 2x", PERF_RULE_SPEEDUP, PERF_METRIC_PAIR, 2.0},
        {"Speedup>=1.05x on P95", PERF_RULE_SPEEDUP, PERF_METRIC_P95, 1.05},
        {"  latency  down >= 20 %  ", PERF_RULE_REDUCTION, PERF_METRIC_PAIR, 20.0},
        {"down >= 12.5% on memory", PERF_RULE_REDUCTION, PERF_METRIC_MEMORY, 12.5},
        {"memory down >= 10 %", PERF_RULE_REDUCTION, PERF_METRIC_MEMORY, 10.0},
        {"p95 down >= 5%", PERF_RULE_REDUCTION, PERF_METRIC_P95, 5.0},
        {"no regression beyond 2 % on mean", PERF_RULE_NO_REGRESSION, PERF_METRIC_MEAN, 2.0},
        {"speedup >= 1.2 on throughput", PERF_RULE_SPEEDUP, PERF_METRIC_THROUGHPUT, 1.2},
    };
    static const char *const bad[] = {"", "speedup", "speedup >= ", "speedup >= -1", "speedup >= 0",
        "speedup > 1.3", "down >= 100 %", "down >= 20 % on p42", "speedup >= 1.3 please",
        "no regression", "faster", "speedup >= 1e3", "down >= nan", "speedup >= 99999999999999999",
        "speedup >= 1.3x on", "no regression beyond %"};
    perf_rule r;
    size_t    i;

    for (i = 0; i < sizeof good / sizeof *good; i++) {
        memset(&r, 0, sizeof r);
        CHECK(perf_rule_parse(good[i].text, &r) == PERF_OK && r.kind == good[i].kind &&
                  r.metric == good[i].metric && r.amount == good[i].amount, "\"%s\"", good[i].text);
    }
    r = perf_rule_speedup(1.7, PERF_METRIC_P99);
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(perf_rule_parse(bad[i], &r) == PERF_EFORMAT && r.amount == 1.7, "\"%s\"", bad[i]);
    CHECK(perf_rule_parse(NULL, &r) == PERF_EINVAL && perf_rule_parse("down >= 5 %", NULL) ==
          PERF_EINVAL, "NULL");
}

static void runs(void)
{
    double            a[120], b[120];
    uint32_t          ra[120], rb[120];
    perf_compare_opts o = perf_compare_opts_default();
    perf_verdict      v, all[3];
    int               i, trial, false_alarms = 0, pooled = 0;

    /* Layout: each process has its own offset, 3 % here; within a process there is no noise to speak of.
     * Pooling the samples takes 10 processes for 100 values; by run they are 10.                  */
    o.rule = perf_rule_speedup(1.0, PERF_METRIC_PAIR);
    for (trial = 0; trial < 400; trial++) {
        for (i = 0; i < 100; i++) {
            static double offset_a, offset_b;
            if (i % 10 == 0) {
                offset_a = 0.03 * normal();
                offset_b = 0.03 * normal();
            }
            ra[i] = rb[i] = (uint32_t)(i / 10);
            a[i] = 100.0 * perf_exp(offset_a + 0.001 * normal());
            b[i] = 100.0 * perf_exp(offset_b + 0.001 * normal());
        }
        v = perf_compare_runs(a, ra, 100, b, rb, 100, &o);
        false_alarms += v.decision != PERF_INCONCLUSIVE;
        pooled += perf_compare_pairs(a, b, 100, &o).decision != PERF_INCONCLUSIVE;
    }
    CHECK(false_alarms <= 400 * 0.05 + 14, "by run: %d of 400 false alarms", false_alarms);
    CHECK(pooled > 100, "pooled: %d of 400, which is why runs are the unit", pooled);
    CHECK(v.pairs == 10, "ten runs are ten values: %lu", (unsigned long)v.pairs);
    for (i = 0; i < 100; i++)
        b[i] = a[i] * 0.5;
    o = perf_compare_opts_default();
    v = perf_compare_runs(a, ra, 100, b, rb, 100, &o);
    CHECK(v.decision == PERF_ACCEPT, "%s", perf_verdict_text(&v));
    v = perf_compare_runs(a, ra, 50, b, rb, 50, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.pairs == 5, "5 runs are too few: %s",
          perf_verdict_text(&v));
    o.design = PERF_DESIGN_SEPARATE;
    v = perf_compare_runs(a, ra, 100, b, rb, 100, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE, "runs one after the other: %s", v.reason);
    v = perf_compare_runs(a, NULL, 100, b, rb, 100, NULL);
    CHECK(v.status == PERF_EINVAL, "NULL");
    all[0] = all[1] = all[2] = v;
    all[0].decision = all[1].decision = all[2].decision = PERF_ACCEPT;
    CHECK(perf_verdict_all(all, 3) == PERF_ACCEPT && perf_verdict_all(all, 0) == PERF_INCONCLUSIVE &&
              perf_verdict_all(NULL, 2) == PERF_INCONCLUSIVE, "AND");
    all[1].decision = PERF_INCONCLUSIVE;
    CHECK(perf_verdict_all(all, 3) == PERF_INCONCLUSIVE, "AND: one open");
    all[2].decision = PERF_REJECT;
    CHECK(perf_verdict_all(all, 3) == PERF_REJECT, "AND: one rejected");
}

static void controls(void)
{
    double       a[60], b[60], c[60];
    perf_verdict v;
    double       p;
    int          i, trial, low = 0;

    for (i = 0; i < 60; i++) {
        a[i] = 100.0 * perf_exp(0.02 * normal());
        b[i] = 100.0 * perf_exp(0.02 * normal());
        c[i] = 50.0 * perf_exp(0.02 * normal());
    }
    v = perf_compare_pairs(a, c, 60, NULL);
    CHECK(v.decision == PERF_ACCEPT && !perf_verdict_control(&v, a, b, 60) &&
              v.decision == PERF_ACCEPT, "a control that holds changes nothing");
    for (i = 0; i < 60; i++)
        b[i] = a[i] * 1.1;
    CHECK(perf_verdict_control(&v, a, b, 60) && v.decision == PERF_INCONCLUSIVE,
          "the same code differs: %s", v.reason);
    v = perf_compare_pairs(a, c, 60, NULL);
    CHECK(perf_verdict_control(&v, a, b, 0) && v.decision == PERF_INCONCLUSIVE, "no control data");
    CHECK(!perf_verdict_control(NULL, a, b, 60), "NULL");

    p = perf_compare_pairs_p(a, c, 60, NULL);
    CHECK(p < 1e-5, "a clear answer: p = %g", p);
    for (trial = 0; trial < 300; trial++) {
        perf_compare_opts o = perf_compare_opts_default();
        o.rule = perf_rule_speedup(1.0, PERF_METRIC_PAIR);
        for (i = 0; i < 30; i++) {
            a[i] = perf_exp(0.1 * normal());
            b[i] = perf_exp(0.1 * normal());
        }
        p = perf_compare_pairs_p(a, b, 30, &o);
        low += p <= 0.1;
        CHECK((p <= 0.05) == (perf_compare_pairs(a, b, 30, &o).decision != PERF_INCONCLUSIVE) ||
                  (p > 0.0499 && p < 0.0501), "p and verdict agree: %g", p);
    }
    CHECK(low >= 8 && low <= 54, "p <= 0.1 in %d of 300 under no difference", low);
    low = 0;
    for (trial = 0; trial < 200; trial++) {         /* the swap test keeps its level, in the tail */
        for (i = 0; i < 60; i++) {
            a[i] = perf_exp(normal());
            b[i] = perf_exp(normal());
        }
        low += perf_swap_test(a, b, 60, 0.95, 199, (uint64_t)trial + 1) <= 0.05;
    }
    CHECK(low <= 10 + 10, "swap test: %d of 200 at 5 %%", low);
    for (i = 0; i < 60; i++)
        b[i] = a[i] * (i % 10 == 0 ? 9.0 : 1.0);
    CHECK(perf_is_nan_(perf_swap_test(a, b, 1, 0.5, 0, 1)) &&
              perf_is_nan_(perf_swap_test(a, NULL, 60, 0.5, 0, 1)) &&
              perf_is_nan_(perf_swap_test(a, b, 60, 1.5, 0, 1)), "swap test: bad input");
}

static void planning(void)
{
    double need = perf_pairs_needed(0.95 / 1.3, 1.0 / 1.3, 0.042, 0.0), x[400];
    int    trial, i, right = 0;

    CHECK(need > 5.9 && need < 8.0, "5 %% away, 4.2 %% noise: %g pairs", need);
    CHECK(perf_pairs_needed(1.0, 1.0, 0.1, 0.8) == PERF_INF_ &&
              perf_is_nan_(perf_pairs_needed(1.0, 1.0, -1.0, 0.8)) &&
              perf_is_nan_(perf_pairs_needed(-1.0, 1.0, 0.1, 0.8)), "no number would do");
    need = perf_pairs_needed(0.97, 1.0, 0.05, 0.9);
    for (trial = 0; trial < 400; trial++) {         /* the plan keeps its promise                 */
        static double         ones[400];
        perf_compare_opts     o = perf_compare_opts_default();
        int                   n = (int)(need + 1.0);
        o.rule = perf_rule_speedup(1.0, PERF_METRIC_PAIR);
        o.tick = -1.0;                          /* the ones are exact, not a coarse clock         */
        for (i = 0; i < n; i++) {
            ones[i] = 1.0;
            x[i] = 0.97 * perf_exp(0.05 * normal());
        }
        right += perf_compare_pairs(ones, x, (size_t)n, &o).decision == PERF_ACCEPT;
    }
    CHECK(right >= 400 * 0.9 - 18, "planned for 90 %%: %d of 400", right);
}

static void groups(void)
{
    perf_compare_opts o = perf_compare_opts_default();
    double            a[480], b[480];
    int               trial, wrong = 0;
    size_t            n, i;

    for (trial = 0; trial < 500; trial++) {         /* at the boundary, 15 looks, 2.5 % each way  */
        perf_verdict v = PERF_ZERO;
        for (i = 0; i < 480; i++) {
            a[i] = perf_exp(0.05 * normal());
            b[i] = perf_exp(0.05 * normal()) / 1.3;
        }
        for (n = 1; n <= 480 && v.decision == PERF_INCONCLUSIVE; n++)
            if (perf_group_is_look(n))
                v = perf_compare_group(a, b, n, &o);
        wrong += v.decision != PERF_INCONCLUSIVE;
    }
    CHECK(wrong <= 25 + 15, "group-sequential: %d of 500 false", wrong);
    CHECK(perf_compare_group(a, b, 10, NULL).decision == PERF_INCONCLUSIVE, "not a look");
    o.confidence = 0.99;
    CHECK(perf_compare_group(a, b, 12, &o).status == PERF_EINVAL, "levels are for 95 %%");
}

/* Percentile bootstrap of the mean and of quantiles against the normal and the exact answer. */
static void bootstrap(void)
{
    double        x[1001];
    perf_interval q, exact;
    size_t        i;

    for (i = 0; i < 1001; i++)
        x[i] = 10.0 + normal();
    q = perf_bootstrap_mean(x, 1001, 20000, 0.0, 7);
    exact = perf_mean_interval(x, 1001, 0.95);
    CHECK(near(q.high - q.low, exact.high - exact.low, 0.03 * (exact.high - exact.low)) &&
              q.estimate == exact.estimate, "mean: [%g, %g], Student [%g, %g]", q.low, q.high,
          exact.low, exact.high);
    perf_sort_values(x, 1001);
    q = perf_bootstrap_quantile(x, 1001, 0.5, 20000, 0.0, 7);
    exact = perf_quantile_interval(x, 1001, 0.5, 0.95);
    CHECK(near(q.low, exact.low, 0.002) && near(q.high, exact.high, 0.002),
          "median: [%g, %g], exact [%g, %g]", q.low, q.high, exact.low, exact.high);
    q = perf_bootstrap_mean(NULL, 5, 0, 0.0, 1);
    CHECK(perf_is_nan_(q.low) && perf_is_nan_(q.high), "NULL");
    q = perf_bootstrap_quantile(x, 0, 0.5, 0, 0.0, 1);
    CHECK(perf_is_nan_(q.estimate), "empty");
    q = perf_bootstrap_mean(x, 1, 100, 0.0, 1);
    CHECK(q.low == x[0] && q.high == x[0], "one value");
}

int main(int argc, char **argv)
{
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : "tests/data/oracle");
    printf("seed %llu\n", (unsigned long long)state);
    adjustments();
    autocorrelation();
    rules();
    runs();
    controls();
    planning();
    groups();
    bootstrap();
    return check_done();
}
