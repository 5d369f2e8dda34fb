/* Are verdicts right, symmetric, monotone, and silent where nothing can be said?
 * Random samples: the seed is printed and may be given as the first argument.                     */
#include "perf_stats.h"
#include "check.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>
#include "inside.h"

static uint64_t state;

static double uniform(void)                     /* in (0, 1)                                      */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return math_normal(uniform());
}

/* n pairs around 100, candidate `ratio` times the baseline, with drift and rare spikes in both. */
static void make_pairs(double *a, double *b, size_t n, double ratio, double noise)
{
    size_t i;

    for (i = 0; i < n; i++) {
        double drift = 100.0 * (1.0 + 0.1 * (double)i / (double)n);
        a[i] = drift * math_exp(noise * normal()) * (uniform() < 0.02 ? 5.0 : 1.0);
        b[i] = drift * math_exp(noise * normal()) * ratio * (uniform() < 0.02 ? 5.0 : 1.0);
    }
}

static perf_compare_opts with_rule(perf_rule rule)
{
    perf_compare_opts o = PERF_ZERO;
    o.rule = rule;
    return o;
}

static void plain_cases(void)
{
    double            a[60], b[60];
    perf_compare_opts o;
    perf_verdict      v;

    make_pairs(a, b, 60, 0.5, 0.03);
    v = perf_compare_pairs(a, b, 60, NULL);
    CHECK(v.decision == PERF_ACCEPT && v.speedup.low > 1.3 && v.pairs == 60, "%s",
          perf_verdict_text(&v));
    CHECK(v.rule.amount == 1.3 && v.threshold == 1.0 / 1.3 && v.pairs_needed == 0.0, "defaults filled in");
    v.led_ratio = 0.625;                        /* said as the rule says it                       */
    CHECK(strstr(perf_verdict_text(&v), "; after longer leads 1.6000x"), "%s", v.text);
    v = perf_compare_pairs(b, a, 60, NULL);
    CHECK(v.decision == PERF_REJECT, "%s", perf_verdict_text(&v));
    make_pairs(a, b, 60, 3e6, 0.03);
    v = perf_compare_pairs(a, b, 60, NULL);
    CHECK(strstr(perf_verdict_text(&v), "speed-up 0.00000033") && strstr(v.text, "x (95 % CI 0.0000003"), "%s", v.text);
    make_pairs(a, b, 60, 1.0 / 1.3, 0.03);
    v = perf_compare_pairs(a, b, 60, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE || v.ratio.high > 1.0 / 1.35, "%s",
          perf_verdict_text(&v));
    make_pairs(a, b, 60, 1.0, 0.01);
    o = with_rule(perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, PERF_METRIC_PAIR));
    v = perf_compare_pairs(a, b, 60, &o);
    CHECK(v.decision == PERF_ACCEPT, "no regression: %s", perf_verdict_text(&v));
    v.led_ratio = 0.625;
    CHECK(strstr(perf_verdict_text(&v), "; after longer leads -37.5"), "%s", v.text);
    o = with_rule(perf_rule_make(PERF_RULE_REDUCTION, 20.0, PERF_METRIC_PAIR));
    v = perf_compare_pairs(a, b, 60, &o);
    CHECK(v.decision == PERF_REJECT && v.threshold == 0.8, "reduction: %s", perf_verdict_text(&v));
    o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_THROUGHPUT));
    make_pairs(a, b, 60, 2.0, 0.03);            /* as rates: twice as many                        */
    v = perf_compare_pairs(a, b, 60, &o);
    CHECK(v.decision == PERF_ACCEPT && v.speedup.estimate > 1.9, "rates: %s",
          perf_verdict_text(&v));
}

/* Every metric: swapping the arms mirrors the interval; scaling both changes nothing. */
static void symmetry(void)
{
    static double a[400], b[400], c[400], d[400];
    int           m;
    size_t        i;

    make_pairs(a, b, 400, 0.9, 0.1);
    for (i = 0; i < 400; i++) {
        c[i] = a[i] * 1e-9;
        d[i] = b[i] * 1e-9;
    }
    for (m = PERF_METRIC_PAIR; m <= PERF_METRIC_THROUGHPUT; m++) {
        perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.05, (perf_metric)m));
        perf_verdict      ab = perf_compare_pairs(a, b, 400, &o);
        perf_verdict      ba = perf_compare_pairs(b, a, 400, &o);
        perf_verdict      cd = perf_compare_pairs(c, d, 400, &o);
        CHECK(ab.ratio.low * ba.ratio.high - 1.0 < 1e-9 && ab.ratio.low * ba.ratio.high - 1.0 > -1e-9,
              "metric %d: swap mirrors the low end: %.12g %.12g", m, ab.ratio.low, ba.ratio.high);
        CHECK(ab.ratio.high * ba.ratio.low - 1.0 < 1e-9 && ab.ratio.high * ba.ratio.low - 1.0 > -1e-9,
              "metric %d: swap mirrors the high end", m);
        CHECK(ab.ratio.low / cd.ratio.low - 1.0 < 1e-9 && cd.ratio.low / ab.ratio.low - 1.0 < 1e-9,
              "metric %d: scale does not matter", m);
        CHECK(ab.ratio.low <= ab.ratio.estimate && ab.ratio.estimate <= ab.ratio.high,
              "metric %d: the estimate lies inside", m);
    }
    for (i = 0; i < 40; i++) {                  /* skewed; eight times as slow is only that       */
        a[i] = 1.0 - math_log(uniform());
        b[i] = 1.0 - 0.9 * math_log(uniform());
        d[i] = 8.0 * b[i];
    }
    for (m = PERF_METRIC_PAIR; m <= 2 * PERF_METRIC_MEMORY + 1; m++) {
        perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.05, (perf_metric)(m / 2)));
        perf_verdict      ab, ad;
        o.tick = -1.0;
        ab = m % 2 ? perf_compare(a, 40, b, 30, &o) : perf_compare_pairs(a, b, 40, &o);
        ad = m % 2 ? perf_compare(a, 40, d, 30, &o) : perf_compare_pairs(a, d, 40, &o);
        CHECK(8.0 * ab.ratio.low - ad.ratio.low <= 1e-9 * ad.ratio.low && ad.ratio.low - 8.0 * ab.ratio.low <= 1e-9 * ad.ratio.low
                  && (!isfinite(ab.ratio.high) || (8.0 * ab.ratio.high - ad.ratio.high < 1e-9 * ad.ratio.high &&
                      ad.ratio.high - 8.0 * ab.ratio.high < 1e-9 * ad.ratio.high)),
              "metric %d of %s: [%.12g, %.12g], eight times [%.12g, %.12g]", m / 2, m % 2 ? "samples" : "pairs",
              ab.ratio.low, ab.ratio.high, ad.ratio.low, ad.ratio.high);
    }
}

static void capped(void)
{
    double            a[40], b[40];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    double            one = 1.0, off = 1.5, nan = CHECK_NAN;

    make_pairs(a, b, 40, 0.3, 0.02);
    v = perf_compare(a, 40, b, 40, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE && (v.warnings & PERF_WARN_ORDER) &&
              v.ratio.high < 1.0 / 1.3, "a saved baseline decides nothing: %s", v.reason);
    CHECK(v.pairs_needed == CHECK_INF, "and no number of values will: %g", v.pairs_needed);
    o.design = PERF_DESIGN_RANDOM;
    v = perf_compare(a, 40, b, 40, &o);
    CHECK(v.decision == PERF_ACCEPT, "unless the order was random: %s", perf_verdict_text(&v));
    o.guard.required = 1;
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE, "missing accuracy check: %s", v.reason);
    o.guard.seen = perf_accuracy_f64(&one, &off, 1);
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_REJECT, "failed accuracy check: %s", v.reason);
    o.guard.limit.rel = 0.6;
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_ACCEPT, "tolerated: %s", v.reason);
    o.guard.seen = perf_accuracy_f64(&one, &nan, 1);
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_REJECT, "NaN is not tolerated: %s", v.reason);
    b[7] = nan;
    o.guard.required = 0;
    memset(&o.guard.seen, 0, sizeof o.guard.seen);
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.excluded == 1 && v.status == PERF_ERANGE,
          "a NaN among the times: %s", perf_verdict_text(&v));
}

/* A limit that is set asks for a check: nothing that was not checked may pass, and no other doubt
 * hides outputs that were checked and are wrong.                                                 */
static void guards(void)
{
    const double nan = CHECK_NAN;
    const struct {
        const char    *what;
        perf_tolerance limit;
        perf_status    status;
    } unchecked[] = {
        {"a limit, but no check", {0.0, 0.1, 0.0}, PERF_OK},
        {"a NaN limit", {nan, 0.0, 0.0}, PERF_EINVAL},
        {"a NaN beside a limit", {0.0, 0.5, nan}, PERF_EINVAL},
        {"a negative limit", {0.0, -1.0, 0.0}, PERF_EINVAL},
    };
    double            a[40], b[40];
    const double      one = 1.0, off = 1.5;
    perf_compare_opts o;
    perf_verdict      v;
    perf_guard        g = PERF_ZERO;
    size_t            i;

    make_pairs(a, b, 40, 0.3, 0.02);
    for (i = 0; i < sizeof unchecked / sizeof *unchecked; i++) {
        memset(&o, 0, sizeof o);
        o.guard.limit = unchecked[i].limit;
        v = perf_compare_pairs(a, b, 40, &o);
        CHECK(v.decision == PERF_INCONCLUSIVE && v.status == unchecked[i].status, "%s: %s",
              unchecked[i].what, v.reason);
        v = perf_compare_pairs(a, b, 40, NULL);
        perf_verdict_guard_(&v, &o.guard);
        CHECK(v.decision == PERF_INCONCLUSIVE, "%s, afterwards: %s", unchecked[i].what, v.reason);
        if (unchecked[i].status != PERF_OK) {
            o.guard.seen = perf_accuracy_f64(&one, &one, 1);
            CHECK(!perf_accuracy_ok_(&o.guard.seen, &o.guard.limit), "%s", unchecked[i].what);
            v = perf_compare_pairs(a, b, 40, NULL);
            perf_verdict_guard_(&v, &o.guard);
            CHECK(v.decision == PERF_INCONCLUSIVE, "%s, equal outputs: %s", unchecked[i].what, v.reason);
        }
    }
    for (i = 0; i < 3; i++) {                   /* a check of nothing, with no limit set          */
        memset(&o, 0, sizeof o);
        o.guard.seen = perf_accuracy_f64(i == 1 ? NULL : &one, i == 2 ? NULL : &one, i > 0);
        v = perf_compare_pairs(a, b, 40, &o);
        CHECK(v.decision == PERF_INCONCLUSIVE, "a check of nothing (%d): %s", (int)i, v.reason);
    }

    g.seen = perf_accuracy_f64(&one, &off, 1);
    for (i = 0; i < 4; i++) {                   /* wrong outputs, and another doubt               */
        memset(&o, 0, sizeof o);
        o.guard = g;
        make_pairs(a, b, 40, 0.3, 0.02);
        if (i == 1)
            b[7] = nan;
        if (i == 2)
            o.design = PERF_DESIGN_SEPARATE;
        if (i == 3)
            a[3] = a[4] * 1e6;
        o.rule.metric = i == 3 ? PERF_METRIC_MEAN : PERF_METRIC_PAIR;
        v = i == 0 ? perf_compare(a, 40, b, 40, &o) : perf_compare_pairs(a, b, 40, &o);
        perf_verdict_cap_(&v, "the control failed");
        CHECK(v.decision == PERF_REJECT && (v.warnings & PERF_WARN_OUTPUTS) &&
                  strcmp(v.reason, "the control failed") != 0,
              "wrong outputs, doubt %d: %s", (int)i, perf_verdict_text(&v));
    }
}

/* What the guard withholds keeps the guard's reason, whatever the clock. */
static void guard_and_clock(void)
{
    double            a[40], b[40];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               i;

    for (i = 0; i < 40; i++) {
        a[i] = 100.0 + i * 7 % 5;
        b[i] = 50.0 + i * 3 % 4;
    }
    o.guard.required = 1;
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && strstr(v.reason, "accuracy check was not made"), "%s", v.reason);
}

/* No number of further values is named where none is enough. */
static void no_number(void)
{
    const double      tick[] = {5.0, 160.0, 0.5};
    double            a[30], b[30];
    perf_interval     x;
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               i;

    for (i = 0; i < 30; i++) {
        a[i] = 90.0 + (i * 7 + 0.3) * 20.0 / 210.0;
        b[i] = 0.779 * a[i] * (1.0 + 0.004 * (i * 11 % 30 - 14.5));
    }
    for (i = 0; i < 3; i++) {
        o.tick = tick[i];
        v = perf_compare_pairs(a, b, 30, &o);
        perf_verdict_text(&v);
        CHECK(v.decision == PERF_INCONCLUSIVE && (v.pairs_needed < CHECK_INF) == (i == 2) &&
                  !strstr(v.text, "too coarse") == (i == 2) && !strstr(v.text, " more would") == (i < 2),
              "a step of %g: %s", tick[i], v.text);
        x.low = -0.3;
        x.estimate = math_log(0.779);
        x.high = -0.2;
        o = perf_compare_opts_resolved_(&o);
        v = perf_verdict_of_(&o, &x, perf_step_log_(tick[i] / 78.0, 0.0), 30.0);
        CHECK(v.decision == PERF_INCONCLUSIVE && (v.pairs_needed < CHECK_INF) == (i == 2), "a step of %g: %g", tick[i], v.pairs_needed);
    }
    o.tick = -1.0;
    v = perf_compare(a, 30, b, 30, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.pairs_needed == CHECK_INF, "separate: %s", perf_verdict_text(&v));
    a[3] = 0.0;
    v = perf_compare_pairs(a, b, 30, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.pairs_needed == CHECK_INF, "a zero: %s", perf_verdict_text(&v));
    o.guard.seen = perf_accuracy_f64(a, b, 30);
    v = perf_compare_pairs(a, b, 30, &o);
    CHECK(v.decision == PERF_REJECT && v.pairs_needed == 0.0, "wrong outputs: %g", v.pairs_needed);
}

/* Joined rules: the interval that is shown is the one that decides. */
static void joined(void)
{
    double            a[40], b[40];
    perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SAME, 2.0, PERF_METRIC_PAIR));
    perf_verdict      v;
    int               i, k;

    for (k = -40; k < 60; k++) {                /* past the lower limit in small steps            */
        for (i = 0; i < 40; i++) {
            a[i] = 100.0 + 0.013 * (i * 7 % 40);
            b[i] = a[i] * (0.98 + 0.0005 * k) * (1.0 + 0.001 * (i * 11 % 40 - 19.5));
        }
        o.rules = 20;
        o.tick = -1.0;
        v = perf_compare_pairs(a, b, 40, &o);
        CHECK(v.decision != PERF_ACCEPT || (v.ratio.low > 1.0 / 1.02 && v.ratio.high < 1.02 && v.speedup.high < 1.02),
              "%d: %s", k, perf_verdict_text(&v));
        CHECK((v.decision == PERF_REJECT) == (v.ratio.low > 1.02 || v.ratio.high < 1.0 / 1.02),
              "REJECT if the interval lies outside of a limit, %d: %s", k, perf_verdict_text(&v));
    }
    o.confidence = 0.999999;                    /* the highest, and above it for a REJECT         */
    o.rules = 1000;
    for (i = 0; i < 40; i++) {
        a[i] = 100.0 + 0.013 * (i * 7 % 40);
        b[i] = 2.0 * a[i] * (1.0 + 0.001 * (i * 11 % 40 - 19.5));
    }
    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_REJECT && v.ratio.low > 1.3, "twice as long: %s", perf_verdict_text(&v));
    v = perf_compare_pairs(a, b, 21, &o);
    CHECK(v.ratio.low >= 0.0 && v.pairs_needed >= 1.0, "21 pairs: %g", v.pairs_needed);
}

static void bad_input(void)
{
    static const double odd[] = {0.0, -1.0, 1e308, 1e-308, 5e-324};
    double              a[50], b[50];
    perf_compare_opts   o = PERF_ZERO;
    perf_verdict        v;
    perf_summary        s;
    size_t              i, n;
    int                 m;

    for (i = 0; i < 50; i++)
        a[i] = b[i] = 100.0;
    v = perf_compare_pairs(NULL, b, 50, NULL);
    CHECK(v.status == PERF_EINVAL && v.decision == PERF_INCONCLUSIVE, "NULL");
    v = perf_compare_pairs(a, b, 0, NULL);
    CHECK(v.status == PERF_ENODATA && v.reason, "no pairs");
    v = perf_compare(a, 0, b, 50, NULL);
    CHECK(v.status == PERF_ENODATA, "one empty arm");
    o.confidence = 2.0;
    v = perf_compare_pairs(a, b, 50, &o);
    CHECK(v.status == PERF_EINVAL, "confidence 2");
    o.confidence = CHECK_NAN;
    v = perf_compare_pairs(a, b, 50, &o);
    CHECK(v.status == PERF_EINVAL, "confidence NaN");
    o.confidence = 0.0;
    o.rule.amount = -3.0;
    v = perf_compare_pairs(a, b, 50, &o);
    CHECK(v.status == PERF_EINVAL && strlen(perf_verdict_text(&v)) > 10, "negative speed-up");
    o.rule.kind = PERF_RULE_SAME;
    v = perf_compare_pairs(a, b, 50, &o);
    CHECK(v.status == PERF_EINVAL && perf_rule_parse("same within -3 %", &o.rule) == PERF_EFORMAT,
          "the same within -3 %%: %s", perf_verdict_text(&v));
    o.rule.kind = PERF_RULE_SPEEDUP;
    o.rule.amount = 1.0;                        /* exactly equal constants: nobody is faster      */
    for (m = PERF_METRIC_PAIR; m <= PERF_METRIC_THROUGHPUT; m++) {
        o.rule.metric = (perf_metric)m;
        v = perf_compare_pairs(a, b, 50, &o);
        CHECK(v.decision == PERF_INCONCLUSIVE, "constants, metric %d: %s", m,
              perf_verdict_text(&v));
        for (n = 1; n < 12; n++) {              /* tiny n: never a crash, never an early verdict  */
            double few[12], many[12];
            make_pairs(few, many, n, 0.1, 0.01);
            v = perf_compare_pairs(few, many, n, &o);
            CHECK(n >= 6 || m == PERF_METRIC_MEAN || v.decision == PERF_INCONCLUSIVE,
                  "n = %lu, metric %d", (unsigned long)n, m);
        }
        for (i = 0; i < sizeof odd / sizeof *odd; i++) {
            b[3] = odd[i];
            v = perf_compare_pairs(a, b, 50, &o);
            CHECK(v.reason && *perf_verdict_text(&v), "odd value %g", odd[i]);
            CHECK(odd[i] > 0.0 || v.decision == PERF_INCONCLUSIVE, "odd value %g decides", odd[i]);
        }
        b[3] = 100.0;
    }
    for (i = 0; i < 50; i++)
        a[i] = i % 2 ? 1e308 : 9e307;
    s = perf_summarize(a, 50);
    CHECK(s.mean > 9e307 && s.mean < 1e308 && s.std > 4e306, "1e308: mean %g std %g", s.mean, s.std);
    s = perf_summarize(NULL, 3);
    CHECK(s.count == 0 && s.status == PERF_EINVAL, "NULL sample");
    s = perf_summarize(a, 0);
    CHECK(s.count == 0 && s.status == PERF_ENODATA && s.p50 == 0.0, "empty sample");
    a[0] = CHECK_NAN;
    a[1] = -5.0;
    a[2] = CHECK_INF;
    s = perf_summarize(a, 50);
    CHECK(s.excluded == 3 && s.count == 47 && (s.warnings & PERF_WARN_BAD_VALUES), "bad values counted");
    s = perf_summarize(a, 3);
    CHECK(s.count == 0 && s.status == PERF_ENODATA && s.excluded == 3, "only bad values");
    CHECK(perf_quantile_(a, 0, 0.5) != 0.0 && isnan(perf_quantile_(b, 5, 1.5)), "quantile");
    CHECK(strcmp(perf_status_text((perf_status)999), "unknown status") == 0, "status text");
    CHECK(perf_verdict_text(NULL)[0] == '\0', "NULL verdict");
    perf_verdict_guard_(NULL, NULL);
}

static void accuracy(void)
{
    const double   ref[4] = {1.0, -2.0, 0.0, 1e-300}, near[4] = {1.0 + 2.3e-16, -2.0, 0.0, 1e-300};
    const double   zeros[2] = {0.0, -0.0}, minus[2] = {-0.0, 0.0};
    const double   inf[1] = {CHECK_INF}, same_inf[1] = {CHECK_INF}, neg_inf[1] = {-CHECK_INF};
    const float    f[2] = {1.0f, 2.0f}, g[2] = {1.0000001f, 2.0f};
    const double   nan = CHECK_NAN, unknown[4] = {1.0, 0.0, CHECK_NAN, 1.0};
    perf_accuracy  a;
    perf_tolerance t = PERF_ZERO;
    int            i;

    a = perf_accuracy_f64(ref, ref, 4);
    CHECK(perf_accuracy_ok_(&a, NULL) && a.compared == 4 && a.max_ulp == 0.0, "identical");
    a = perf_accuracy_f64(ref, near, 4);
    CHECK(!perf_accuracy_ok_(&a, NULL) && a.max_ulp == 1.0, "one ulp off: %g", a.max_ulp);
    t.ulp = 1.0;
    CHECK(perf_accuracy_ok_(&a, &t), "one ulp allowed");
    t.abs = 1e-17;
    CHECK(!perf_accuracy_ok_(&a, &t), "every limit that is set must hold");
    a = perf_accuracy_f64(zeros, minus, 2);
    CHECK(perf_accuracy_ok_(&a, NULL), "zero has no sign here");
    a = perf_accuracy_f64(inf, same_inf, 1);
    CHECK(perf_accuracy_ok_(&a, NULL), "the same infinity");
    a = perf_accuracy_f64(inf, neg_inf, 1);
    CHECK(!perf_accuracy_ok_(&a, &t) && isnan(a.max_abs), "another infinity");
    a = perf_accuracy_f64(NULL, ref, 4);
    CHECK(!perf_accuracy_ok_(&a, &t) && a.compared == 0, "not evaluated");
    a.compared = 1;                             /* figures of one's own: any of them tells         */
    a.max_rel = a.max_ulp = 0.0;
    a.max_abs = 0.4;
    CHECK(!perf_accuracy_ok_(&a, NULL), "no limit means equal, whichever figure says that it is not");
    a.max_abs = 0.0;
    a.max_rel = 0.4;
    CHECK(!perf_accuracy_ok_(&a, NULL), "so does the relative one");
    CHECK(!perf_accuracy_ok_(NULL, NULL), "NULL");
    a = perf_accuracy_f32(f, g, 2);
    CHECK(a.max_ulp == 1.0 && a.max_rel > 1e-7 && a.max_rel < 1.3e-7, "float: %g", a.max_rel);
    for (i = 0; i < 6; i++) {                   /* representable steps: IEEE 754's nextUp         */
        static const double x[6][3] = {{-1.0, -1.0 - 2.2204460492503131e-16, 1}, {-1.0 - 2.2204460492503131e-16, -1.0, 1},
                                       {-5e-324, 5e-324, 2}, {5e-324, -5e-324, 2}, {-1e-323, 0.0, 2}, {0.0, -1.5e-323, 3}};
        a = perf_accuracy_f64(x[i], x[i] + 1, 1);
        CHECK(a.max_ulp == x[i][2] && perf_accuracy_ok_(&a, NULL) == 0, "%g to %g: %g steps", x[i][0], x[i][1], a.max_ulp);
    }
    a = perf_accuracy_f64(unknown, unknown + 2, 2);
    CHECK(isnan(a.max_abs) && isnan(a.max_rel) && isnan(a.max_ulp), "what was NaN once stays it");
    a = perf_accuracy_f64(&nan, &nan, 1);
    CHECK(a.compared == 1 && a.max_abs == 0.0 && a.max_ulp == 0.0 && perf_accuracy_ok_(&a, NULL) == 1, "both say NaN");
    a = perf_accuracy_f64(ref, ref, 4);
    CHECK(perf_accuracy_ok_(&a, NULL) == 1 && perf_accuracy_ok_(&a, &t) == 1, "1 and nothing else");
}

/* The bets: false verdicts at the boundary, power off it, and no dependence on what comes later. */
static void sequential(void)
{
    perf_rule rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    int       trial, wrong[2] = {0, 0}, right = 0, pairs = 0, i;

    for (trial = 0; trial < 1000; trial++) {
        perf_seq s;
        double   drift = 1.0;

        perf_seq_init(&s, &rule, 0.0, 0.0);
        for (i = 0; i < 200 && s.decision == PERF_INCONCLUSIVE; i++) {
            drift *= math_exp(0.02 * normal());
            perf_seq_add(&s, drift * math_exp(0.03 * normal()),
                         drift * math_exp(0.03 * normal()) / 1.3);
        }
        wrong[0] += s.decision == PERF_ACCEPT;
        wrong[1] += s.decision == PERF_REJECT;
        perf_seq_init(&s, &rule, 0.0, 0.0);
        for (i = 0; i < 200 && s.decision == PERF_INCONCLUSIVE; i++)
            perf_seq_add(&s, math_exp(0.03 * normal()), math_exp(0.03 * normal()) / 1.3 * 0.95);
        right += s.decision == PERF_ACCEPT;
        pairs += i;
    }
    /* 2.5 % of 1,000 plus three standard errors of a proportion. */
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "false verdicts at the boundary: %d and %d of 1000",
          wrong[0], wrong[1]);
    CHECK(right >= 990 && pairs < 20 * 1000, "5 %% beyond: %d right, %.1f pairs each", right,
          pairs / 1000.0);
}

static void sequential_edges(void)
{
    perf_rule     rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR), bad = rule;
    perf_seq      s;
    perf_interval q;
    double        d[64] = {0};
    int           i;

    bad.amount = CHECK_NAN;
    CHECK(perf_seq_init(NULL, &rule, 0.0, 0.0) == PERF_EINVAL, "NULL");
    CHECK(perf_seq_init(&s, &bad, 0.0, 0.0) == PERF_EINVAL, "rule without a number");
    for (i = 0; i < 2000; i++)                  /* more than doubles a stake can make                  */
        perf_seq_add(&s, 1.0, 1e-6);
    CHECK(s.decision == PERF_INCONCLUSIVE, "never decides then");
    CHECK(perf_seq_init(&s, &rule, 0.0, -1.0) == PERF_EINVAL, "negative tick");
    CHECK(perf_seq_init(&s, NULL, 0.0, 0.0) == PERF_OK, "defaults");
    perf_seq_add(&s, 0.0, 1.0);
    perf_seq_add(&s, 1.0, CHECK_NAN);
    CHECK(s.excluded == 2 && s.pairs == 0, "bad values counted, not used");
    for (i = 0; i < 64; i++)
        perf_seq_add(&s, 1.3, 1.0);             /* exactly on the threshold: a tie for ever       */
    CHECK(s.decision == PERF_INCONCLUSIVE, "ties decide nothing");
    CHECK(perf_seq_add(NULL, 1.0, 1.0) == PERF_INCONCLUSIVE, "NULL");
    perf_seq_init(&s, NULL, 0.0, 0.0);
    for (i = 0; i < 7; i++)                     /* all on one side: 43 after seven, 40 are needed */
        CHECK(perf_seq_add(&s, 2.0, 1.0) == (i < 6 ? PERF_INCONCLUSIVE : PERF_ACCEPT), "pair %d", i);
    CHECK(perf_seq_add(&s, 0.0, 1.0) == PERF_ACCEPT && perf_seq_add(&s, 1.0, 9.0) == PERF_ACCEPT &&
              s.decided_at == 7 && s.pairs == 8 && s.excluded == 1, "what is decided stays, and is told");
    q = perf_seq_interval(d, 64, 1.0 - 1e-8);   /* a race of many, at 0.999999 for all of them */
    CHECK(isfinite(q.estimate) && isfinite(q.low) && isfinite(q.high), "surer than one may ask: %g", q.estimate);
    q = perf_seq_interval(d, 0, 0.0);
    CHECK(!isfinite(q.low) && !isfinite(q.high), "no data, no bounds");
    for (i = 0; i < 64; i++)
        d[i] = 0.01 * normal();
    q = perf_seq_interval(d, 6, 0.0);
    CHECK(!isfinite(q.low) && !isfinite(q.high), "6 pairs, no bounds");
    q = perf_seq_interval(d, 64, 0.0);
    CHECK(q.low < q.estimate && q.estimate < q.high && q.high - q.low < 0.03, "64 pairs: [%g, %g]",
          q.low, q.high);
    for (i = 0; i < 64; i++)
        d[i] = 0.25;
    q = perf_seq_interval(d, 64, 0.0);
    CHECK(q.low <= 0.25 && q.high >= 0.25 && q.high - q.low < 1e-3, "constant: [%g, %g]", q.low,
          q.high);
}

/* Monotone: a harder rule never turns REJECT into ACCEPT; more of the same data never widens. */
static void monotone(void)
{
    static double a[4000], b[4000];
    double        factor;
    int           was = PERF_ACCEPT, n;
    double        width = CHECK_INF;

    make_pairs(a, b, 4000, 0.7, 0.05);
    for (factor = 1.05; factor < 2.0; factor *= 1.02) {
        perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, factor, PERF_METRIC_PAIR));
        perf_verdict      v = perf_compare_pairs(a, b, 200, &o);
        CHECK(!(was == PERF_REJECT && v.decision != PERF_REJECT), "rule %g", factor);
        was = v.decision;
    }
    CHECK(was == PERF_REJECT, "the hardest rule is missed");
    for (n = 10; n <= 4000; n *= 16) {          /* of ten pairs alone the spread is hardly known          */
        perf_verdict v = perf_compare_pairs(a, b, (size_t)n, NULL);
        CHECK(v.ratio.high - v.ratio.low < width, "n = %d narrows", n);
        width = v.ratio.high - v.ratio.low;
    }
}

/* Constants that nothing else here would miss. */
static void constants(void)
{
    double x[100];
    int    trial, i, said = 0;

    for (i = 0; i < 100; i++)                   /* 10 of 100 repeat: a step; 4: none              */
        x[i] = i < 10 ? 1000.0 : 1000.0 + i;
    CHECK(perf_step_of_(x, 100, 0) > 0.99 && perf_step_of_(x, 100, 0) < 10.01, "%g",
          perf_step_of_(x, 100, 0));
    for (i = 0; i < 100; i++)                   /* 5 of the 99 steps are none: above 5 %          */
        x[i] = i < 6 ? 1000.0 : 1000.0 + i;
    CHECK(perf_step_of_(x, 100, 0) > 0.99 && perf_step_of_(x, 100, 0) < 1.01, "%g", perf_step_of_(x, 100, 0));
    for (i = 0; i < 100; i++)
        x[i] = i < 5 ? 1000.0 : 1000.0 + i;
    CHECK(!(perf_step_of_(x, 100, 0) > 0.0), "4 repeats: %g", perf_step_of_(x, 100, 0));
    for (i = 0; i < 30; i++)
        x[i] = i;
    {
        perf_arms_ arms = PERF_ZERO;
        arms.a = arms.b = arms.sorted_a = arms.sorted_b = x;
        arms.na = arms.nb = 30;
        CHECK(perf_pair_shrink_(&arms, 0.5) == 0.3, "pairs never narrow below 0.3");
    }
    for (i = 0; i < 99; i++)                    /* the last one carries 19 %, 8 % of the sum      */
        x[i] = 1.0;
    x[99] = 24.0;
    CHECK(perf_mean_hostage_(x, 100), "19 percent");
    x[99] = 9.0;
    CHECK(!perf_mean_hostage_(x, 100), "8 percent");
    for (trial = 0; trial < 1000; trial++) {    /* 1.4 standard errors: 15 % of like shapes       */
        for (i = 0; i < 100; i++)
            x[i] = normal();
        perf_sort_values_(x, 100);
        said += perf_lopsided_(x, 100, 1.4, 0.0);
    }
    CHECK(said > 100 && said < 210, "%d of 1000 called lopsided", said);
    {   /* splitmix64.c (Vigna), state 1234567: its first five numbers */
        static const uint64_t want[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                        UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                        UINT64_C(16408922859458223821)};
        uint64_t s = 1234567;
        for (i = 0; i < 5 && check_random(&s) == want[i]; i++)
            ;
        CHECK(i == 5, "number %d", i);
    }
}

/* How many more pairs: n ((2.80 / 1.96)^2 (h / gap)^2 - 1), 80 % power (norm.ppf of SciPy: 2.0432). */
static void planned(void)
{
    static const double c[][4] = {{0.1, 0.07, 20, 63.396}, {0.1, -0.07, 20, 63.396}, {0.2, 0.05, 37, 1172.576}};
    perf_compare_opts o = perf_compare_opts_resolved_(NULL);
    perf_verdict      v;
    size_t            i;
    double            a[20], b[20];

    for (i = 0; i < 3; i++) {
        perf_interval r = {-c[i][0], 0.0, c[i][0]};
        double        t;
        v = perf_verdict_start_(&o);
        t = math_log(v.threshold);
        r.low += t + c[i][1];
        r.estimate += t + c[i][1];
        r.high += t + c[i][1];
        perf_verdict_finish_(&v, r, c[i][2], &o);
        CHECK(v.decision == PERF_INCONCLUSIVE && v.pairs_needed > c[i][3] * 0.995 && v.pairs_needed < c[i][3] * 1.005,
              "%g more, %g by the formula", v.pairs_needed, c[i][3]);
        CHECK(!(v.warnings & PERF_WARN_UNBOUNDED), "bounded");
    }
    for (i = 0; i < 20; i++) {
        a[i] = 100.0 + (double)i;
        b[i] = 100.0 - (double)i;
    }
    v = perf_compare_pairs(a, b, 4, NULL);          /* 2 / 2^6 is the first chance below 5 %      */
    CHECK(v.pairs_needed == 2.0 && (v.warnings & PERF_WARN_UNBOUNDED), "4 pairs: %g more", v.pairs_needed);
    v = perf_compare_pairs(a, b, 20, NULL);
    CHECK(!(v.warnings & PERF_WARN_UNBOUNDED), "20 pairs");
}

/* Rates, more is better: the counts stay with their arms. */
static void rates(void)
{
    perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_THROUGHPUT));
    double            a[30], b[20];
    perf_verdict      v;
    size_t            i;

    for (i = 0; i < 30; i++)
        a[i] = math_exp(0.01 * normal());
    for (i = 0; i < 20; i++)
        b[i] = 2.0 * math_exp(0.01 * normal());
    o.design = PERF_DESIGN_RANDOM;
    v = perf_compare(a, 30, b, 20, &o);
    CHECK(v.decision == PERF_ACCEPT && v.baseline_values == 30 && v.candidate_values == 20, "%s",
          perf_verdict_text(&v));
    v = perf_compare_pairs(a, b, 20, &o);
    CHECK(v.decision == PERF_ACCEPT && v.baseline_values == 0, "%s", perf_verdict_text(&v));
}

/* The k-th Walsh average by selection equals the one by brute force, ties or not, also where no number
 * lies between two of them.                                                                       */
static void walsh(void)
{
    double   d[41], all[41 * 21];
    int      round;
    size_t   n, i, j, k;

    for (round = 0; round < 360; round++) {
        size_t m = 0;
        n = round < 300 ? 1 + (size_t)(uniform() * 40.0) : 3 + (size_t)(round % 30);
        for (i = 0; i < n; i++)
            d[i] = round >= 330 ? 1.0 + 2.220446049250313e-16 * (double)(int)(4.0 * uniform())
                   : round >= 300 ? (double)(i == 0)
                   : round % 3 ? normal() : (double)(int)(3.0 * normal());
        perf_sort_values_(d, n);
        for (i = 0; i < n; i++)
            for (j = i; j < n; j++)
                all[m++] = 0.5 * (d[i] + d[j]);
        perf_sort_values_(all, m);
        for (k = 1; k <= m; k++)
            if (perf_walsh_kth_(d, n, k) != all[k - 1])
                break;
        CHECK(k > m, "n = %lu, k = %lu of %lu", (unsigned long)n, (unsigned long)k,
              (unsigned long)m);
    }
    for (round = 0; round < 3 * 256; round++) { /* all of four neighbours, 0 to 3 steps up: halves round up or down */
        double first = round < 256 ? 1.0 : round < 512 ? -1.0 - 1e-15 : 0.0, step = round < 512 ? 2.220446049250313e-16 : 5e-324;
        size_t m = 0;
        for (i = 0; i < 4; i++)
            d[i] = first + step * (double)(round >> 2 * i & 3);
        perf_sort_values_(d, 4);
        for (i = 0; i < 4; i++)
            for (j = i; j < 4; j++)
                all[m++] = 0.5 * (d[i] + d[j]);
        perf_sort_values_(all, m);
        for (k = 1; k <= m && perf_walsh_kth_(d, 4, k) == all[k - 1]; k++)
            ;
        CHECK(k > m, "neighbours %d, k = %lu", round, (unsigned long)k);
    }
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void sorting(void)
{
    static double x[3000], y[3000];
    int           kind;
    size_t        i, n;

    for (kind = 0; kind < 60; kind++) {
        n = (size_t)(uniform() * 3000.0);
        for (i = 0; i < n; i++)
            x[i] = kind % 6 == 0 ? (double)i : kind % 6 == 1 ? -(double)i
                   : kind % 6 == 2 ? (double)(i % 7) : kind % 6 == 3 ? 1.0
                   : kind % 6 == 4 ? (double)(i < n / 2 ? i : n - i) : normal();
        memcpy(y, x, sizeof x);
        perf_sort_values_(x, n);
        qsort(y, n, sizeof *y, ascending);
        CHECK(!memcmp(x, y, n * sizeof *x), "kind %d, n = %lu", kind, (unsigned long)n);
    }
    for (kind = 0; kind < 40; kind++) {         /* all sizes of numbers, both zeros, and NaN      */
        size_t nans = 0;
        n = 300 + (size_t)(uniform() * 2700.0);
        for (i = 0; i < n; i++) {
            uint64_t bits = check_random(&state);
            x[i] = kind % 4 ? check_from_bits(bits) : i % 3 ? 0.0 : i % 2 ? -0.0 : 5e-324;
            if (kind % 4 == 2)
                x[i] = i % 2 ? CHECK_NAN : i % 3 ? CHECK_INF : -CHECK_INF;
            nans += isnan(x[i]) != 0;
        }
        perf_sort_values_(x, n);
        for (i = 1; i < n - nans && x[i - 1] <= x[i]; i++)
            ;
        CHECK(n == nans || i == n - nans, "kind %d: %lu of %lu", kind, (unsigned long)i,
              (unsigned long)n);
        for (i = n - nans; i < n && isnan(x[i]); i++)
            ;
        CHECK(i == n, "what is no number stands at the end, kind %d", kind);
    }
}

static void texts(void)
{
    double            a[40], b[40];
    perf_compare_opts mean = PERF_ZERO;
    perf_verdict      v;
    size_t            i;

    for (i = 0; i < 40; i++) {
        a[i] = 100.0 + (double)(i % 7) * 0.1;
        b[i] = 50.0 + (double)(i % 5) * 0.1;
    }
    v = perf_compare_pairs(a, b, 40, NULL);
    perf_verdict_text(&v);
    CHECK(strstr(v.text, "ACCEPT: speed-up ") == v.text && strstr(v.text, "asked: speed-up >= 1.3x")
              && strstr(v.text, "40 pairs") && strstr(v.text, "95 % CI"), "%s", v.text);
    v.rule = perf_rule_make(PERF_RULE_REDUCTION, 20.0, PERF_METRIC_PAIR);
    v.ratio.low = 0.4;
    v.ratio.estimate = 0.607;
    v.ratio.high = 1.25;
    CHECK(strstr(perf_verdict_text(&v), "ACCEPT: -39.3 % (95 % CI -60.0 % to +25.0 %), asked: time down by >= 20 %; 40"),
          "%s", v.text);
    v.ratio.low = 0.99;                         /* two digits of the width                        */
    v.ratio.estimate = 0.991;
    v.ratio.high = 0.9921;
    CHECK(strstr(perf_verdict_text(&v), "ACCEPT: -0.90 % (95 % CI -1.00 % to -0.79 %), asked"), "%s", v.text);
    v.confidence = 0.975;
    CHECK(strstr(perf_verdict_text(&v), "ACCEPT: -0.90 % (97.5 % CI -1.00 % to -0.79 %), asked"), "%s", v.text);
    for (i = 0; i < 7; i++) {                   /* as many decimals as it has, up to 4            */
        static const double      confidence[] = {0.8, 0.9525, 0.9545, 0.9955, 0.9973, 0.999, 0.999999};
        static const char *const shown[] = {"(80 %", "(95.25 %", "(95.45 %", "(99.55 %", "(99.73 %", "(99.9 %", "(99.9999 %"};
        v.confidence = confidence[i];
        CHECK(strstr(perf_verdict_text(&v), shown[i]), "%s is missing: %s", shown[i], v.text);
    }
    v.confidence = 1.0 - 0.05 / 3.0;            /* three rules */
    CHECK(strstr(perf_verdict_text(&v), "(98.3 % CI "), "%s", v.text);
    v.confidence = 1.0 - 0.00001 / 63.0;        /* 64 variants */
    CHECK(strstr(perf_verdict_text(&v), "(99.999984127 % CI "), "%s", v.text);
    v.ratio.estimate = 0.607;
    v.ratio.high = CHECK_INF;
    CHECK(strstr(perf_verdict_text(&v), "ACCEPT: -39.30 % (no interval yet), asked"), "%s", v.text);
    mean.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_MEAN);
    v = perf_compare_pairs(a, b, 1, &mean);
    CHECK(strstr(perf_verdict_text(&v), "about 1 more would"), "the mean of one pair: %s", v.text);
    v = perf_compare_pairs(a, b, 3, NULL);
    perf_verdict_text(&v);
    CHECK(strstr(v.text, "INCONCLUSIVE: ") == v.text && strstr(v.text, "too few"), "%s", v.text);
    CHECK(perf_quantile_min_count_(0.5, 0.95) == 6 && perf_quantile_min_count_(0.95, 0.95) == 72 &&
              perf_quantile_min_count_(0.99, 0.95) == 368 && perf_quantile_min_count_(0.9, 0.95) == 36,
          "fewest values: %lu %lu", (unsigned long)perf_quantile_min_count_(0.5, 0.95),
          (unsigned long)perf_quantile_min_count_(0.95, 0.95));
    CHECK(perf_quantile_min_count_(1e-9, 0.95) == (sizeof(size_t) > 4 ? 3688879453 : 0) &&
              perf_quantile_min_count_(1e-17, 0.95) / 1000000000 ==
                  (sizeof(size_t) > 4 ? 368887945 : 0) &&
              perf_quantile_min_count_(5e-324, 0.95) == 0 && perf_quantile_min_count_(1e-3, 0.95) == 3688,
          "rare: %lu", (unsigned long)perf_quantile_min_count_(1e-17, 0.95));
}

/* What each refinement is there for: without it one of these fails. */
static void refinements(void)
{
    double            a[200], b[200];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               i, trial, wrong = 0;

    o.tick = -1.0;
    for (trial = 1; trial < 200; trial++) {     /* no noise, exactly on the threshold             */
        for (i = 0; i < 40; i++) {
            a[i] = 1.37 * trial;
            b[i] = a[i] / 1.3;
        }
        v = perf_compare_pairs(a, b, 40, &o);
        CHECK(v.decision == PERF_INCONCLUSIVE, "rounding of the logs decides nothing: %s",
              perf_verdict_text(&v));
    }

    o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR));
    for (i = 0; i < 40; i++) {                  /* a clock of 5 %: 100 or 105                     */
        a[i] = i % 3 ? 105.0 : 100.0;
        b[i] = 100.0;
    }
    v = perf_compare_pairs(a, b, 40, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && (v.warnings & PERF_WARN_RESOLUTION),
          "below one tick: %s", perf_verdict_text(&v));
    o.tick = 5.0;
    CHECK(perf_compare_pairs(a, b, 40, &o).decision == PERF_INCONCLUSIVE, "tick known");

    o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_P50));
    for (trial = 0; trial < 400; trial++) {     /* independent arms: pairing may not narrow       */
        for (i = 0; i < 100; i++) {
            a[i] = math_exp(0.3 * normal());
            b[i] = math_exp(0.3 * normal());
        }
        wrong += perf_compare_pairs(a, b, 100, &o).decision != PERF_INCONCLUSIVE;
    }
    CHECK(wrong <= 20 + 13, "p50 of independent arms: %d of 400 false", wrong);

    o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_MEAN));
    for (i = 0; i < 30; i++) {                  /* arms that vary together: pairing must narrow   */
        a[i] = math_exp(0.3 * normal());
        b[i] = a[i] * 0.95 * math_exp(0.01 * normal());
    }
    v = perf_compare_pairs(a, b, 30, &o);
    CHECK(v.decision == PERF_ACCEPT, "mean, common noise: %s", perf_verdict_text(&v));
    a[3] = 1000.0;
    b[4] = 0.5;
    v = perf_compare_pairs(a, b, 30, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && (v.warnings & PERF_WARN_MEAN), "hostage: %s",
          perf_verdict_text(&v));

    CHECK(perf_rank_low_(6.0, 0.5, 1.0 / 64.0) == 1 && perf_rank_low_(6.0, 0.5, 0.0156) == 0,
          "P(Bin = 0) = 1/64 exactly still qualifies");
}

/* Every ratio is 3, but the logs of them differ in their last bits. */
static void rounded_logs(void)
{
    double            a[20], b[20];
    perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_NO_REGRESSION, 202.0, PERF_METRIC_PAIR));
    perf_verdict      v;
    int               i;

    for (i = 0; i < 20; i++) {
        a[i] = 100.0 + i * 7 % 20;
        b[i] = 3.0 * a[i];
    }
    o.tick = -1.0;
    v = perf_compare_pairs(a, b, 20, &o);
    CHECK(v.decision == PERF_ACCEPT && !(v.warnings & PERF_WARN_SHAPE) && v.ratio.high < 3.0000001,
          "three times, exactly: %s", perf_verdict_text(&v));
}

enum { DOWN, NEAREST, UP, ANY };                /* how a clock that steps is read                 */

static double whole(double x)
{
    return (double)(uint64_t)x;
}

static double reading(double x, double step, int how)
{
    return whole(x / step + (how == DOWN ? 0.0 : how == NEAREST ? 0.5 : how == UP ? 0.999999 : uniform())) *
           step;
}

/* Exactly on the threshold, read by a clock of coarse steps, the step known or not: no answer may be
 * wrong more often than 2.5 % a side.  Seen before: ACCEPT in 60 to 100 % of the trials.          */
static void clock_steps(void)
{
    static const struct {
        double from, to, sd, step, factor;
        int    n;
    } world[] = {{1.0, 1.02, 0.003, 0.02, 1.0, 10}, {1.0, 1.02, 0.003, 0.02, 1.3, 10},
                 {110.0, 140.0, 0.3, 10.0, 1.0, 8}, {110.0, 140.0, 0.3, 10.0, 2.0, 8},
                 {110.0, 140.0, 0.3, 10.0, 4.0, 8}, {110.0, 140.0, 0.3, 10.0, 8.0, 8}};
    double            a[10], b[10];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               w, known, how, trial, i, accept, reject;

    for (w = 0; w < 6; w++)
        for (known = 0; known < 2; known++)
            for (how = DOWN; how <= ANY; how++) {
                accept = reject = 0;
                for (trial = 0; trial < 400; trial++) {
                    double x = world[w].from + (world[w].to - world[w].from) * uniform();
                    for (i = 0; i < world[w].n; i++) {
                        a[i] = reading(x + world[w].sd * normal(), world[w].step, how);
                        b[i] = reading(x / world[w].factor + world[w].sd * normal(), world[w].step, how);
                    }
                    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, world[w].factor, PERF_METRIC_PAIR);
                    o.tick = known ? world[w].step : 0.0;
                    v = perf_compare_pairs(a, b, (size_t)world[w].n, &o);
                    accept += v.decision == PERF_ACCEPT;
                    reject += v.decision == PERF_REJECT;
                }                               /* 2.5 % of 400 and three standard errors         */
                CHECK(accept <= 19 && reject <= 19, "world %d, step %s, read %d: %d ACCEPT, %d REJECT", w,
                      known ? "known" : "unknown", how, accept, reject);
            }

    for (i = 0; i < 8; i++) {                   /* the printed decimals are a step, too           */
        a[i] = 0.12;
        b[i] = 0.11;
    }
    o.tick = 0.0;
    o.rule = perf_rule_make(PERF_RULE_REDUCTION, 2.0, PERF_METRIC_PAIR);
    v = perf_compare_pairs(a, b, 8, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.ratio.high / v.ratio.low > 1.15 &&
              (v.warnings & PERF_WARN_RESOLUTION) && strstr(v.reason, "coarse") && v.pairs_needed == CHECK_INF,
          "eight times 0.12 and 0.11: %s", perf_verdict_text(&v));
    for (i = 0; i < 8; i++)                     /* far more than one step                         */
        b[i] = i % 2 ? 0.05 : 0.06;
    v = perf_compare_pairs(a, b, 8, &o);
    CHECK(v.decision == PERF_ACCEPT, "0.12 and half of it: %s", perf_verdict_text(&v));
    for (i = 0; i < 8; i++) {                   /* one arm shows no repeats, the other no gap     */
        a[i] = 5.15 + 0.03 * (double)i;
        b[i] = 0.13;
    }
    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 38.0, PERF_METRIC_PAIR);
    v = perf_compare_pairs(a, b, 8, &o);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.ratio.high / v.ratio.low > 1.15 &&
              (v.warnings & PERF_WARN_RESOLUTION), "5.15 and more by 0.13: %s", perf_verdict_text(&v));
    o.rule = perf_rule_make(PERF_RULE_REDUCTION, 2.0, PERF_METRIC_MEMORY);  /* bytes are counted                  */
    for (i = 0; i < 8; i++) {
        a[i] = 120.0;
        b[i] = 110.0;
    }
    v = perf_compare_pairs(a, b, 8, &o);
    CHECK(v.decision == PERF_ACCEPT, "fewer bytes: %s", perf_verdict_text(&v));
}

/* The same where one side only was read by such a clock, and where rates were made of its readings:
 * 1 / time.  Counts wrong answers exactly at the threshold.                                       */
static void other_clocks(void)
{
    static const char *const name[] = {"A in steps", "B in steps", "rates", "rates, far apart"};
    static double     a[30], b[30];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               w, pairs, how, trial, i, accept, reject;

    o.design = PERF_DESIGN_RANDOM;
    for (w = 0; w < 4; w++)
        for (pairs = 0; pairs < 2; pairs++)
            for (how = DOWN; how <= ANY; how++) {
                double factor = w == 3 ? 4.0 : 1.0, sd = w == 3 ? 0.02 : 0.003;
                accept = reject = 0;
                o.rule = perf_rule_make(PERF_RULE_SPEEDUP, factor, w < 2 ? PERF_METRIC_PAIR : PERF_METRIC_THROUGHPUT);
                for (trial = 0; trial < 400; trial++) {
                    double x = 100.0 + 30.0 * uniform();
                    for (i = 0; i < 30; i++) {
                        a[i] = x * math_exp(sd * normal());
                        b[i] = x / factor * math_exp(sd * normal());
                        a[i] = w != 1 ? reading(a[i], 10.0, how) : a[i];
                        b[i] = w != 0 ? reading(b[i], 10.0, how) : b[i];
                        a[i] = w > 1 ? 1e6 / a[i] : a[i];
                        b[i] = w > 1 ? 1e6 / b[i] : b[i];
                    }
                    v = pairs ? perf_compare_pairs(a, b, 30, &o) : perf_compare(a, 30, b, 30, &o);
                    accept += v.decision == PERF_ACCEPT;
                    reject += v.decision == PERF_REJECT;
                }                               /* 2.5 % of 400 and three standard errors         */
                CHECK(accept <= 19 && reject <= 19, "%s, %s, read %d: %d ACCEPT, %d REJECT", name[w],
                      pairs ? "pairs" : "two samples", how, accept, reject);
            }
    for (i = 0; i < 30; i++) {                  /* a limit of one decimal, and times by ours      */
        a[i] = 16.6;
        b[i] = 15.0 + 0.1 * normal();
    }
    o.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 0.0, PERF_METRIC_PAIR);
    v = perf_compare(a, 30, b, 30, &o);
    CHECK(v.decision == PERF_ACCEPT, "within 16.6: %s", perf_verdict_text(&v));
}

/* Few values beside many: the few may have missed the tail that the many show.  Wrong answers exactly
 * at the threshold, of spikes in 30 % (mean) and of normal, exponential noise (p95).               */
static void two_sizes(void)
{
    static const size_t few[] = {3, 6, 10};
    static double     a[1000], b[1000];
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    int               w, k, turn, trial, accept, reject;
    size_t            i, na, nb;

    o.design = PERF_DESIGN_RANDOM;
    for (w = 0; w < 3; w++)
        for (k = 0; k < 3; k++)
            for (turn = 0; turn < 2; turn++) {
                accept = reject = 0;
                na = turn ? 1000 : few[k];
                nb = turn ? few[k] : 1000;
                o.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 5.0, w ? PERF_METRIC_P95 : PERF_METRIC_MEAN);
                for (trial = 0; trial < 400; trial++) {
                    for (i = 0; i < na + nb; i++) {
                        double x = w == 0   ? (uniform() < 0.3 ? 1.0 + 0.3 * uniform() : 1.0) + 0.01 * normal()
                                   : w == 1 ? 1.0 + 0.03 * normal() : 1.0 - 0.3 * math_log(uniform());
                        *(i < na ? a + i : b + (i - na)) = i < na ? x : 1.05 * x;
                    }
                    v = perf_compare(a, na, b, nb, &o);
                    accept += v.decision == PERF_ACCEPT;
                    reject += v.decision == PERF_REJECT;
                }
                CHECK(accept <= 19 && reject <= 19, "world %d, %lu and %lu values: %d ACCEPT, %d REJECT", w,
                      (unsigned long)na, (unsigned long)nb, accept, reject);
            }
}

/* A processor that changes between two speeds, every so many measurements.  Both halves of most pairs
 * then meet the same one, but medians jump from one to the other.                                 */
static void two_speeds(void)
{
    static const int every[] = {1, 3, 7, 9};
    double            pair[2], a[100], b[100];
    perf_compare_opts o = with_rule(perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_P50));
    perf_verdict      v;
    int               w, n, trial, begin, coin, accept, reject;
    int               i;

    for (w = 0; w < 4; w++)
        for (n = 20; n <= 100; n += 16) {
            accept = reject = 0;
            for (trial = 0; trial < 400; trial++) {
                begin = (int)(uniform() * 2.0 * every[w]);
                for (i = 0; i < 2 * n; i++) {
                    pair[i % 2] = (begin + i) / every[w] % 2 ? 1.1 : 1.0;
                    pair[i % 2] *= math_exp(0.003 * normal());
                    coin = uniform() < 0.5;
                    if (i % 2) {
                        a[i / 2] = pair[coin];
                        b[i / 2] = pair[1 - coin];
                    }
                }
                v = perf_compare_pairs(a, b, (size_t)n, &o);
                accept += v.decision == PERF_ACCEPT;
                reject += v.decision == PERF_REJECT;
            }
            CHECK(accept <= 24 && reject <= 24, "speed changes after %d, %d pairs: %d ACCEPT, %d REJECT",
                  every[w], n, accept, reject);
        }
}

/* The unit of the values changes nothing, however large or small it makes them. */
static void units(void)
{
    static const double unit[] = {1e-300, 1e-150, 1e-110, 1e110, 1e150, 1e300};
    double              a[20], b[20], x[20], y[20];
    perf_compare_opts   o = PERF_ZERO;
    perf_verdict        v, u;
    int                 i, j, k, m, apart;

    make_pairs(a, b, 20, 0.98, 0.01);
    for (m = PERF_METRIC_PAIR; m <= PERF_METRIC_MEAN; m++)
        for (apart = 0; apart < 2; apart++)
            for (j = 0; j < 6; j++)
                for (k = 0; k < 6; k++) {
                    for (i = 0; i < 20; i++) {
                        x[i] = a[i] * unit[j];
                        y[i] = b[i] * unit[k];
                    }
                    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, (perf_metric)m);
                    v = apart ? perf_compare(a, 20, b, 20, &o) : perf_compare_pairs(a, b, 20, &o);
                    o.rule = perf_rule_make(PERF_RULE_SPEEDUP, unit[j] / unit[k], (perf_metric)m);
                    if (isnan(perf_rule_threshold_(&o.rule)) || unit[j] / unit[k] > 1e200 ||
                        unit[k] / unit[j] > 1e200)
                        continue;
                    u = apart ? perf_compare(x, 20, y, 20, &o) : perf_compare_pairs(x, y, 20, &o);
                    v.ratio.low *= unit[k] / unit[j];
                    v.ratio.high *= unit[k] / unit[j];
                    CHECK(u.decision == v.decision && u.warnings == v.warnings &&
                              u.ratio.low >= v.ratio.low * (1.0 - 1e-9) &&
                              u.ratio.low <= v.ratio.low * (1.0 + 1e-9) &&
                              !(u.ratio.high < v.ratio.high * (1.0 - 1e-9)) &&
                              !(u.ratio.high > v.ratio.high * (1.0 + 1e-9)),
                          "metric %d, units %g and %g: %s", m, unit[j], unit[k], perf_verdict_text(&u));
                }
}

/* A verdict says the rule that it was held against, and a rate the way it went. */
static void rules_in_words(void)
{
    static const char *const rule[][2] = {
        {"down >= 12.5 %", "time down by >= 12.5 %"},
        {"no regression beyond 0.04 %", "time no more than 0.04 % worse"},
        {"no regression beyond 2 %", "time no more than 2.0 % worse"},
        {"no regression beyond 12.25 % on p95", "p95 no more than 12.25 % worse"},
        {"down >= 20 %", "time down by >= 20 %"},
        {"down >= 99.99 %", "time down by >= 99.99 %"},
        {"speedup >= 1.0005", "speed-up >= 1.0005x"},
        {"speedup >= 0.05", "speed-up >= 0.05x"},
        {"speedup >= 2", "speed-up >= 2.0x"},
        {"speedup >= 1.25 on mean", "mean better by >= 1.25x"},
        {"no regression beyond 0 %", "time no more than 0.0 % worse"}};
    perf_compare_opts o = PERF_ZERO;
    double            a[20], b[20];
    perf_verdict      v;
    char              text[80];
    size_t            i;

    for (i = 0; i < sizeof rule / sizeof *rule; i++) {
        perf_out_ out = perf_out_open_(text, sizeof text);
        CHECK(perf_rule_parse(rule[i][0], &o.rule) == PERF_OK, "%s", rule[i][0]);
        perf_put_rule_(&out, &o.rule);
        CHECK(!strcmp(text, rule[i][1]), "'%s' reads '%s'", rule[i][0], text);
    }
    for (i = 0; i < 20; i++) {
        a[i] = 1000.0 + 0.01 * normal();
        b[i] = 899.98 + 0.01 * normal();        /* whatever normal() says: -10.00 %               */
    }
    o.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 5.0, PERF_METRIC_THROUGHPUT);
    v = perf_compare_pairs(a, b, 20, &o);
    CHECK(strstr(perf_verdict_text(&v), "REJECT: -10.00"), "a tenth less throughput: %s", v.text);
}

/* Pairs whose arms differ in more than a factor. */
enum { TAIL, MODES, SPIKES };

static void unlike(int kind, double *a, double *b, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (kind == TAIL) {                     /* median of the ratio: 1 + 0.3 log 2             */
            a[i] = math_exp(0.001 * normal());
            b[i] = (1.0 - 0.3 * math_log(uniform())) / (1.0 + 0.3 * 0.69314718055994531);
        } else if (kind == MODES) {             /* slow: 30 % of one, 45 % of the other           */
            a[i] = math_exp(0.02 * normal()) * (uniform() < 0.30 ? 1.3 : 1.0);
            b[i] = math_exp(0.02 * normal()) * (uniform() < 0.45 ? 1.3 : 1.0);
        } else {                                /* interrupts of one length, a tenth of the work  */
            a[i] = math_exp(0.03 * normal()) + (uniform() < 0.3 ? 0.3 + 0.3 * uniform() : 0.0);
            b[i] = math_exp(0.03 * normal()) * 0.1 + (uniform() < 0.3 ? 0.3 + 0.3 * uniform() : 0.0);
        }
}

/* Arms of unlike shape.  Bars: 2.5 % of 1,000 and three standard errors. */
static void shapes(void)
{
    static double     a[500], b[500];
    perf_compare_opts o = PERF_ZERO;
    perf_rule         rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
    perf_verdict      v;
    perf_seq          s;
    int               trial, wrong[2], said = 0, i, n;

    wrong[0] = wrong[1] = 0;
    for (trial = 0; trial < 1000; trial++) {    /* pair by pair, exactly at the median ratio      */
        unlike(TAIL, a, b, 500);
        perf_seq_init(&s, &rule, 0.0, 0.0);
        for (i = 0; i < 500 && s.decision == PERF_INCONCLUSIVE; i++)
            perf_seq_add(&s, a[i], b[i]);
        wrong[0] += s.decision == PERF_ACCEPT;
        wrong[1] += s.decision == PERF_REJECT;
    }
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "sequential, a tail: %d ACCEPT, %d REJECT of 1000",
          wrong[0], wrong[1]);

    wrong[0] = wrong[1] = 0;
    for (trial = 0; trial < 1000; trial++) {    /* spikes that hit the short arm ten times harder */
        unlike(SPIKES, a, b, 100);
        o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 10.0, PERF_METRIC_PAIR);
        v = perf_compare_pairs(a, b, 100, &o);
        wrong[0] += v.decision == PERF_ACCEPT;
        wrong[1] += v.decision == PERF_REJECT;
        said += (v.warnings & PERF_WARN_SHAPE) != 0;
    }
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "fixed, spikes: %d ACCEPT, %d REJECT of 1000", wrong[0],
          wrong[1]);
    CHECK(said >= 800, "the difference in shape is seen and said: %d of 1000", said);

    wrong[0] = wrong[1] = 0;
    for (trial = 0; trial < 1000; trial++) {    /* a tail in one arm, exactly at the median ratio */
        unlike(TAIL, a, b, 30);
        o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
        v = perf_compare_pairs(a, b, 30, &o);
        wrong[0] += v.decision == PERF_ACCEPT;
        wrong[1] += v.decision == PERF_REJECT;
    }
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "fixed, a tail: %d ACCEPT, %d REJECT of 1000", wrong[0],
          wrong[1]);

    wrong[0] = wrong[1] = 0;
    for (trial = 0; trial < 1000; trial++) {    /* medians: 0.02 z(0.5 / 0.7), 0.02 z(0.5 / 0.55) */
        unlike(MODES, a, b, 30);
        for (i = 0; i < 30; i++)
            b[i] /= 1.015504;
        o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_P50);
        v = perf_compare_pairs(a, b, 30, &o);
        wrong[0] += v.decision == PERF_ACCEPT;
        wrong[1] += v.decision == PERF_REJECT;
    }
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "p50 of pairs, two modes: %d ACCEPT, %d REJECT of 1000",
          wrong[0], wrong[1]);

    for (n = 7; n <= 24; n += n < 10 ? 3 : n < 12 ? 2 : 12) {
        wrong[0] = wrong[1] = 0;                /* two speeds in turn, or three; a coin deals them */
        for (trial = 0; trial < 1000; trial++) {
            int turn = (int)(3.0 * uniform());
            for (i = 0; i < n; i++, turn += 2) {
                double x = 1.0 + 0.2 * (turn % (n == 12 ? 3 : 2)), y = 1.0 + 0.2 * ((turn + 1) % (n == 12 ? 3 : 2));
                int    first = uniform() < 0.5;
                a[i] = (first ? x : y) * math_exp(0.01 * normal());
                b[i] = (first ? y : x) * math_exp(0.01 * normal());
            }
            o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_P50);
            v = perf_compare_pairs(a, b, (size_t)n, &o);
            wrong[0] += v.decision == PERF_ACCEPT;
            wrong[1] += v.decision == PERF_REJECT;
        }
        CHECK(wrong[0] <= 40 && wrong[1] <= 40, "p50 of %d pairs, speeds in turn: %d ACCEPT, %d REJECT of 1000",
              n, wrong[0], wrong[1]);
    }

    wrong[0] = wrong[1] = 0;
    for (trial = 0; trial < 1000; trial++) {    /* the mean of a skewed arm                       */
        unlike(TAIL, a, b, 30);
        for (i = 0; i < 30; i++)
            b[i] *= (1.0 + 0.3 * 0.69314718055994531) / 1.3;
        o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_MEAN);
        v = perf_compare_pairs(a, b, 30, &o);
        wrong[0] += v.decision == PERF_ACCEPT;
        wrong[1] += v.decision == PERF_REJECT;
    }
    CHECK(wrong[0] <= 40 && wrong[1] <= 40, "mean, a tail: %d ACCEPT, %d REJECT of 1000", wrong[0],
          wrong[1]);

    for (i = 0; i < 100; i++) {                 /* mirrored d is like; a tail on one side is not  */
        a[i] = i < 50 ? -1.0 - 0.01 * i : 1.0 + 0.01 * (i - 50);
        b[i] = i < 50 ? -1.0 - 0.01 * i : 1.0 + 0.5 * (i - 50);
    }
    perf_sort_values_(a, 100);
    perf_sort_values_(b, 100);
    CHECK(!perf_lopsided_(a, 100, 1.4, 0.0) && perf_lopsided_(b, 100, 1.4, 0.0), "lopsided");
    for (i = 0; i < 100; i++)
        a[i] = 1.0;
    CHECK(!perf_lopsided_(a, 100, 1.4, 0.0) && !perf_lopsided_(a, 1, 1.4, 0.0) && !perf_lopsided_(a, 2, 1.4, 0.0), "all equal");
    for (i = 0; i < 100; i++)                   /* a clock's steps: the middle lies between two of them */
        a[i] = i < 10 ? 0.0 : i < 60 ? 1.0 : i < 95 ? 2.0 : 3.0;
    CHECK(perf_lopsided_(a, 100, 2.58, 0.0) && !perf_lopsided_(a, 100, 2.58, 1.0) && !perf_lopsided_(a, 100, 2.58, CHECK_INF) &&
          perf_lopsided_(b, 100, 2.58, 1.0) && !perf_lopsided_(b, 99, 2.58, CHECK_INF), "steps");
}

/* The interval that goes with a decision excludes the threshold, whenever it was taken. */
static void sequential_interval(void)
{
    static const double effect[] = {0.5, 0.05, 0.02, -0.03, -1.0}, spread[] = {0.001, 0.03, 0.5};
    perf_rule     rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    perf_seq      s;
    perf_interval q;
    double        d[300], tick;
    int           e, w, trial, i, decided = 0;

    for (e = 0; e < 5; e++)
        for (w = 0; w < 3; w++)
            for (trial = 0; trial < 60; trial++) {
                tick = trial % 3 * 0.002;
                perf_seq_init(&s, &rule, trial % 2 ? 0.99 : 0.0, tick);
                for (i = 0; i < 300 && s.decision == PERF_INCONCLUSIVE; i++) {
                    double x = math_exp(normal() * 0.1), y = x * math_exp(spread[w] * normal() - effect[e]);
                    perf_seq_add(&s, x, y / 1.3);
                    d[i] = math_log(y / 1.3) - math_log(x);
                }
                q = perf_widen_(perf_seq_interval(d, (size_t)i, trial % 2 ? 0.99 : 0.95), tick);
                decided += s.decision != PERF_INCONCLUSIVE;
                CHECK(s.decision == PERF_INCONCLUSIVE ||
                          (s.decision == PERF_ACCEPT ? q.high < s.log_threshold && isfinite(q.high)
                                                     : q.low > s.log_threshold && isfinite(q.low)),
                      "effect %g, spread %g: %s after %d pairs, [%g, %g]", effect[e], spread[w],
                      perf_decision_text(s.decision), i, q.low, q.high);
                CHECK(q.low <= q.estimate && q.estimate <= q.high, "[%g, %g, %g]", q.low, q.estimate, q.high);
                CHECK(s.decision != PERF_INCONCLUSIVE || (q.low <= s.log_threshold &&
                          q.high >= s.log_threshold), "open, but [%g, %g]", q.low, q.high);
                CHECK(i < 9 || spread[w] > 0.1 || (isfinite(q.low) && isfinite(q.high)),
                      "%d pairs: [%g, %g]", i, q.low, q.high);
            }
    CHECK(decided > 500, "%d of 900 decided", decided);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261121;
    printf("seed %llu\n", (unsigned long long)state);
    plain_cases();
    symmetry();
    capped();
    guards();
    guard_and_clock();
    no_number();
    joined();
    bad_input();
    accuracy();
    sequential();
    sequential_edges();
    monotone();
    constants();
    planned();
    rates();
    walsh();
    sorting();
    texts();
    refinements();
    rounded_logs();
    clock_steps();
    other_clocks();
    two_sizes();
    two_speeds();
    units();
    rules_in_words();
    shapes();
    sequential_interval();
    return check_done();
}
