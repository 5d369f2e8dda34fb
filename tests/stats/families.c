/* Families, runs, p-values, planning: against R and NIST, and against their promises. */
#include <stdlib.h>

static int memory_left = -1;            /* so often there is some; -1: always                      */
static void *some_memory(size_t bytes)
{
    if (!memory_left)
        return NULL;
    memory_left -= memory_left > 0;
    return malloc(bytes);
}
#define PERF_MALLOC(bytes) some_memory(bytes)
#define PERF_FREE(p) free(p)
#include "perf.h"
#include "perf_results.h"
#include "check.h"
#include "numbers.h"

#include <string.h>
#include "inside.h"
#include "tools/stats.h"

static char     folder[512];
static uint64_t state = 20261121;

static double normal(void)
{
    return math_normal(((double)(check_random(&state) >> 11) + 0.5) / 9007199254740992.0);
}

static int near(double a, double b, double tolerance)
{
    double gap = a > b ? a - b : b - a, size = b < 0.0 ? -b : b;
    return gap <= tolerance * (size > 1.0 ? size : 1.0);
}

/* R's p.adjust; the file has the columns set, i, p, holm among others. */
static void adjustments(void)
{
    static double p[4096], holm[4096], got[4096];
    char          path[800], line[512], header[512] = "", set[64] = "", *c[16];
    int           col_p = -1, col_holm = -1, cols, sets = 0, i;
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
                }
                CHECK(col_p > 0 && col_holm > 0, "columns of %s: %s", path, header);
                if (col_p < 0)
                    break;
                continue;
            }
        }
        if (n && (!q || strcmp(set, c[0]))) {       /* a set is complete                          */
            CHECK(baseline_holm(p, n, got) == PERF_OK, "holm");
            for (k = 0; k < n && near(got[k], holm[k], 1e-12); k++)
                ;
            CHECK(k == n, "Holm, set %s, p[%lu] = %g: %.17g, R %.17g", set, (unsigned long)k,
                  p[k], got[k], holm[k]);
            sets++;
            n = 0;
        }
        if (!q)
            break;
        snprintf(set, sizeof set, "%s", c[0]);
        p[n] = strtod(c[col_p], NULL);
        holm[n++] = strtod(c[col_holm], NULL);
    }
    if (f)
        fclose(f);
    CHECK(sets >= 5, "only %d sets", sets);
    CHECK(baseline_holm(NULL, 3, got) == PERF_EINVAL && baseline_holm(p, 0, got) == PERF_ENODATA,
          "bad input");
    CHECK(baseline_holm(p, (size_t)-1, got) == PERF_ENOMEM, "more than there can be");
    p[0] = CHECK_NAN;
    p[1] = 0.01;
    CHECK(baseline_holm(p, 2, p) == PERF_OK && p[0] == 1.0 && p[1] == 0.02, "NaN counts as 1");
    p[0] = -1.0;
    p[1] = 7.0;
    p[2] = 0.01;
    CHECK(baseline_holm(p, 3, p) == PERF_OK && p[0] == 1.0 && p[1] == 1.0 && p[2] == 0.03,
          "so does what is no probability: %g %g %g", p[0], p[1], p[2]);
}

/* Neighbours in time that are alike widen the interval; neighbours that alternate do not narrow it. */
static void series(void)
{
    static const struct {
        double rho;
        size_t n;
        int    most;                                /* misses of 400: 5 % and 3 standard errors;  */
    } world[] = {{0.0, 100, 33}, {0.7, 100, 33}, {0.95, 300, 58}};  /* 10 % at rho 0.95           */
    double        x[300], sorted[300], c, d;
    perf_interval q, plain;
    size_t        i, w;
    int           trial, missed, plainly = 0;

    for (i = 0; i < 100; i++)
        x[i] = sorted[i] = ((i % 2 && i != 93) || i == 8 ? 2.0 : 1.0) + 0.001 * (double)i;
    stats_sort(sorted, 100);
    q = stats_interval_series(x, 100, 0.5, 0.95);
    plain = stats_interval(sorted, 100, 0.5, 0.95);
    CHECK(q.low <= plain.low && q.high >= plain.high && isfinite(q.low) && isfinite(q.high),
          "alternating: [%g, %g], independent [%g, %g]", q.low, q.high, plain.low, plain.high);
    for (w = 0; w < 3; w++) {
        missed = plainly = 0;
        for (trial = 0; trial < 400; trial++) {
            c = normal();
            d = math_sqrt(1.0 - world[w].rho * world[w].rho);
            for (i = 0; i < world[w].n; i++) {
                x[i] = sorted[i] = c;
                c = world[w].rho * c + d * normal();
            }
            q = stats_interval_series(x, world[w].n, 0.5, 0.0);
            missed += q.low > 0.0 || q.high < 0.0;
            stats_sort(sorted, world[w].n);
            q = stats_interval(sorted, world[w].n, 0.5, 0.0);
            plainly += q.low > 0.0 || q.high < 0.0;
        }
        CHECK(missed <= world[w].most, "rho %g, n %lu: %d of 400 missed", world[w].rho,
              (unsigned long)world[w].n, missed);
    }
    CHECK(plainly > 200, "which is why: %d of 400 missed by the plain one", plainly);
    for (i = 0; i < 300; i++)
        x[i] = i < 150 ? 1.0 : 2.0;
    q = stats_interval_series(x, 300, 0.99, 0.95);
    CHECK(q.high == CHECK_INF, "p99 of two levels is unbounded: %g", q.high);
    /* Every batch has one value of each tenth: the variance of their means is 0, and its floor counts.  Places of
     * the limits by SciPy: n_eff = 100 (norm.ppf(.975) / t.ppf(.975, 9))^2, beta.ppf(.025, k, n_eff - k + 1).  */
    for (i = 0; i < 100; i++)
        x[i] = (double)(i % 10 * 10 + i / 10);
    for (w = 0; w < 4; w++) {
        static const double p[4][4] = {{0.5, 0.95, 38, 62}, {0.9, 0.95, 80, 96}, {0.2, 0.95, 11, 31}, {0.5, 0.99, 33, 67}};
        q = stats_interval_series(x, 100, p[w][0], p[w][1]);
        CHECK(q.low == p[w][2] && q.high == p[w][3], "p = %g: [%g, %g], SciPy [%g, %g]", p[w][0], q.low, q.high,
              p[w][2], p[w][3]);
    }
    for (i = 0; i < 100; i++)                       /* a trend: variance 25 / 9, n_eff 6.76       */
        x[i] = (double)i;
    q = stats_interval_series(x, 100, 0.5, 0.95);
    CHECK(q.low == 13.0 && q.high == 87.0, "a trend: [%g, %g]", q.low, q.high);
    /* SciPy: beta.ppf(tail, a, b) n = 0.89, 9.9, 0.002                                           */
    CHECK(stats_share_low(40, 0.975, 1.025, 0.025) == 0 && stats_share_low(100, 3.0, 5.0, 0.025) == 9 &&
              stats_share_low(1000, 0.5, 9.0, 0.005) == 0, "places of shares");
    q = stats_interval_series(x, 39, 0.5, 0.95);
    CHECK(isnan(q.low) && isnan(q.estimate), "39 values");
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
        {"no regression beyond 0 %", PERF_RULE_NO_REGRESSION, PERF_METRIC_PAIR, 5e-324},
        {"speedup >= 1.2 on throughput", PERF_RULE_SPEEDUP, PERF_METRIC_THROUGHPUT, 1.2},
        {"instructions down >= 5 %", PERF_RULE_REDUCTION, PERF_METRIC_INSTRUCTIONS, 5.0},
        {"down >= 5 % on cycles", PERF_RULE_REDUCTION, PERF_METRIC_CYCLES, 5.0},
        {"branches no more than 2 % worse", PERF_RULE_NO_REGRESSION, PERF_METRIC_BRANCHES, 2.0},
        {"branch-misses no more than 3", PERF_RULE_NO_REGRESSION, PERF_METRIC_BRANCH_MISSES, 3.0},
        {"Branch misses down >= 4%", PERF_RULE_REDUCTION, PERF_METRIC_BRANCH_MISSES, 4.0},
    };
    static const char *const bad[] = {"", "speedup", "speedup >= ", "speedup >= -1", "speedup >= 0",
        "speedup > 1.3", "down >= 100 %", "down >= 20 % on p42", "speedup >= 1.3 please",
        "no regression", "no more", "cycles", "down >= 5 % worse", "faster", "speedup >= 1e3", "down >= nan", "speedup >= 99999999999999999",
        "speedup >= 1.3x on", "no regression beyond %"};
    perf_rule r;
    size_t    i;

    for (i = 0; i < sizeof good / sizeof *good; i++) {
        memset(&r, 0, sizeof r);
        CHECK(perf_rule_parse(good[i].text, &r) == PERF_OK && r.kind == good[i].kind &&
                  r.metric == good[i].metric && r.amount == good[i].amount, "\"%s\"", good[i].text);
    }
    r = perf_rule_make(PERF_RULE_SPEEDUP, 1.7, PERF_METRIC_P99);
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(perf_rule_parse(bad[i], &r) == PERF_EFORMAT && r.amount == 1.7, "\"%s\"", bad[i]);
    CHECK(perf_rule_parse("memory down >= 10 % on p95", &r) == PERF_OK && r.memory &&
              r.metric == PERF_METRIC_P95, "p95 of memory");
    CHECK(perf_rule_parse("p95 down >= 10 %", &r) == PERF_OK && !r.memory, "p95 of time");
    CHECK(perf_rule_parse("p95 down >= 10 % on p99", &r) == PERF_EFORMAT &&
              perf_rule_parse("memory down >= 10 % on throughput", &r) == PERF_EFORMAT &&
              perf_rule_parse("throughput down >= 10 % on p95", &r) == PERF_EFORMAT, "two metrics");
    CHECK(perf_rule_parse("mean down >= 10 % on mean", &r) == PERF_OK && r.metric == PERF_METRIC_MEAN,
          "the same twice");
    r = perf_rule_make(PERF_RULE_NO_REGRESSION, 0.0, PERF_METRIC_PAIR);
    CHECK(rule_threshold(&r) == 1.0, "no regression beyond 0 %%: %g", rule_threshold(&r));
    r = perf_rule_make(PERF_RULE_REDUCTION, 0.0, PERF_METRIC_PAIR);
    CHECK(rule_threshold(&r) == 1.0, "down by 0 %%: %g", rule_threshold(&r));
    r = perf_rule_make(PERF_RULE_SPEEDUP, 0.0, PERF_METRIC_PAIR);
    CHECK(isnan(rule_threshold(&r)), "0 times as fast is no rule: %g", rule_threshold(&r));
    CHECK(perf_rule_parse(NULL, &r) == PERF_EINVAL && perf_rule_parse("down >= 5 %", NULL) ==
          PERF_EINVAL, "NULL");
}

static void runs(void)
{
    double            a[120], b[120];
    double            by_run[2][10];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               i, trial, false_alarms = 0, pooled = 0;

    /* Layout: each process has its own offset, 3 % here; within a process there is no noise to speak of.
     * Pooling the samples takes 10 processes for 100 values; by run they are 10.                  */
    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
    for (trial = 0; trial < 400; trial++) {
        for (i = 0; i < 100; i++) {
            static double offset_a, offset_b;
            if (i % 10 == 0) {
                offset_a = 0.03 * normal();
                offset_b = 0.03 * normal();
            }
            a[i] = 100.0 * math_exp(offset_a + 0.001 * normal());
            b[i] = 100.0 * math_exp(offset_b + 0.001 * normal());
        }
        for (i = 0; i < 10; i++) {
            by_run[0][i] = perf_summarize(a + 10 * i, 10).p50;
            by_run[1][i] = perf_summarize(b + 10 * i, 10).p50;
        }
        v = perf_compare_pairs(by_run[0], by_run[1], 10, &o);
        false_alarms += v.decision != PERF_INCONCLUSIVE;
        pooled += perf_compare_pairs(a, b, 100, &o).decision != PERF_INCONCLUSIVE;
    }
    CHECK(false_alarms <= 400 * 0.05 + 14, "by run: %d of 400 false alarms", false_alarms);
    CHECK(pooled > 80, "pooled: %d of 400, which is why runs are the unit", pooled);
}

/* Four rules joined, all exactly on their thresholds: REJECT of any is REJECT of all. */
static void joined(void)
{
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v[4];
    double            a[30], b[30], many[200], twice[200];
    int               trial, rule, i, wrong = 0, right = 0, held = 0;

    o.rules = 4;
    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    for (trial = 0; trial < 1000; trial++) {
        for (rule = 0; rule < 4; rule++) {
            for (i = 0; i < 30; i++) {
                a[i] = math_exp(0.03 * normal());
                b[i] = math_exp(0.03 * normal()) / 1.3;
            }
            v[rule] = perf_compare_pairs(a, b, 30, &o);
        }
        if (strstr(v[3].reason, "alone it would be REJECT")) {
            perf_verdict      strict;
            perf_compare_opts alone = o;
            alone.rules = 0;
            alone.confidence = 1.0 - 0.05 / 4.0;    /* Bonferroni                                 */
            strict = perf_compare_pairs(a, b, 30, &alone);
            CHECK(strict.decision == PERF_INCONCLUSIVE && v[3].decision == PERF_INCONCLUSIVE &&
                      v[3].pairs_needed == strict.pairs_needed && v[3].ratio.low == strict.ratio.low &&
                      v[3].ratio.high < strict.ratio.high, "%g more, %g", v[3].pairs_needed, strict.pairs_needed);
            held++;
        }
        wrong += v[0].decision == PERF_REJECT || v[1].decision == PERF_REJECT ||
                 v[2].decision == PERF_REJECT || v[3].decision == PERF_REJECT;
        for (i = 0; i < 30; i++)
            b[i] *= 0.97;
        v[0] = perf_compare_pairs(a, b, 30, &o);
        o.rules = 0;
        v[1] = perf_compare_pairs(a, b, 30, &o);
        o.rules = 4;
        right += v[0].decision == v[1].decision && v[0].ratio.high == v[1].ratio.high &&
                 v[0].ratio.low <= v[1].ratio.low;
    }
    CHECK(wrong <= 40, "joined REJECT: %d of 1000", wrong);     /* 2.5 % and 3 standard errors    */
    CHECK(held >= 5, "only %d of 1000 held by the others", held);
    CHECK(right == 1000, "ACCEPT needs no correction: %d of 1000", right);
    v[0] = perf_compare_pairs(a, b, 6, &o);
    CHECK(v[0].decision == PERF_ACCEPT || (v[0].ratio.low == 0.0 && v[0].decision != PERF_REJECT),
          "6 pairs cannot be that sure: %s", perf_verdict_text(&v[0]));
    v[0] = perf_compare(a, 30, b, 30, &o);
    CHECK(v[0].status == PERF_OK, "separate samples: %s", perf_verdict_text(&v[0]));
    for (i = 0; i < 200; i++) {
        many[i] = 100.0 * math_exp(0.03 * normal());
        twice[i] = 200.0 * math_exp(0.03 * normal());
    }
    memory_left = 1;                                /* that of the answer alone                   */
    v[0] = perf_compare_pairs(many, twice, 200, &o);
    memory_left = -1;
    CHECK(v[0].status == PERF_ENOMEM && v[0].decision == PERF_INCONCLUSIVE, "no memory for the higher confidence: %s",
          perf_verdict_text(&v[0]));
    CHECK(perf_compare_pairs(many, twice, 200, &o).decision == PERF_REJECT, "200 pairs, twice as long");
    o.rules = -1;
    CHECK(perf_compare_pairs(a, b, 30, &o).status == PERF_EINVAL, "-1 rules");
}

static void p_values(void)
{
    double       a[60], b[60], c[60];
    double       p;
    int          i, trial, low = 0;

    for (i = 0; i < 60; i++) {
        a[i] = 100.0 * math_exp(0.02 * normal());
        c[i] = 50.0 * math_exp(0.02 * normal());
    }
    p = ab_pairs_p(a, c, 60, NULL);
    CHECK(p < 1e-5, "a clear answer: p = %g", p);
    for (trial = 0; trial < 300; trial++) {
        perf_compare_opts o = PERF_ZERO;
        o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
        for (i = 0; i < 30; i++) {
            a[i] = math_exp(0.1 * normal());
            b[i] = math_exp(0.1 * normal());
        }
        p = ab_pairs_p(a, b, 30, &o);
        low += p <= 0.1;
        CHECK((p <= 0.05) == (perf_compare_pairs(a, b, 30, &o).decision != PERF_INCONCLUSIVE) ||
                  (p > 0.0499 && p < 0.0501), "p and verdict agree: %g", p);
    }
    CHECK(low >= 8 && low <= 54, "p <= 0.1 in %d of 300 under no difference", low);
}

int main(int argc, char **argv)
{
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : "tests/data/oracle");
    printf("seed %llu\n", (unsigned long long)state);
    adjustments();
    series();
    rules();
    runs();
    joined();
    p_values();
    return check_done();
}
