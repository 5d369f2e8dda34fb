/* perf_stats.h - summaries, confidence intervals, accept/reject decisions.
 *
 *     perf_summary s = perf_summarize(ns, 100);      // median, p95, p99 with their intervals
 *
 *     perf_verdict v = perf_compare_pairs(old_ns, new_ns, 30, NULL);   // taken in random order
 *     puts(perf_verdict_text(&v));                   // "ACCEPT: speed-up 1.42x (95 % CI ..."
 *
 * C99, C++11, CUDA, Cython.  libc only, no -lm, no global state, no clock, no thread.
 * It measures nothing itself: perf.h does, and has its numbers judged here.
 * Sections (search for ">>"):  math  summary  compare  sequential  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_STATS_H
#define PERF_STATS_H

#include "perf_hist.h"
#include "perf_text.h"
#include "perf_verdict.h"

PERF_BEGIN_DECLS

/* Static English text of one warning bit (1u << n); never NULL. */
PERF_FN const char *perf_warning_text(uint32_t bit);

/* >>math: what libm would give, without linking it -----------------------------------------------
 * Each line gives the relative error against 60-digit references (tests/stats/math.c).  Any thread,
 * no state.  Outside the domain the answer is NaN; infinities are honoured.  docs/statistics.md has
 * the formulas and their sources.                                                                */
PERF_FN double perf_log(double x);              /* natural; 3e-16; log(0) = -inf                  */
PERF_FN double perf_log1p(double x);            /* log(1 + x) without losing small x; 4e-16       */
PERF_FN double perf_exp(double x);              /* 3e-16; 0 below -745.2, inf above 709.8         */
PERF_FN double perf_erfc(double x);             /* exact in the tail; 1e-13                       */
PERF_FN double perf_normal_cdf(double z);       /* P(Z <= z), Z standard normal                   */
PERF_FN double perf_normal_quantile(double p);  /* 0 -> -inf, 1 -> inf                            */
PERF_FN double perf_beta_cdf(double x, double a, double b);      /* regularised incomplete beta   */
PERF_FN double perf_t_cdf(double t, double df);                  /* Student t, df > 0             */
PERF_FN double perf_t_quantile(double p, double df);
PERF_FN double perf_binomial_cdf(double k, double n, double p);  /* P(X <= k), X ~ Bin(n, p)      */

/* >>summary: without an array the status is PERF_EINVAL, or else the answer is NaN ------- */

/* Summary of x[0..n).  x is not changed; sorts a copy, so it allocates above 256 values. */
PERF_FN perf_summary perf_summarize(const double *x, size_t n);

/* Quantile p (0..1) of an ascending array, type 7.  NaN when n is 0 or p is outside 0..1. */
PERF_FN double perf_quantile(const double *sorted, size_t n, double p);

/* The same with its exact interval; confidence 0 means 0.95; a side without bound is +-infinity. */
PERF_FN perf_interval perf_quantile_interval(const double *sorted, size_t n, double p,
                                             double confidence);

/* The same from a histogram.  The limits are the outer ends of the buckets that hold the two
 * ranks: it covers no less often than from the values themselves, and is wider by a bucket on
 * either side at most (2^-K each).  All NaN: no values, or p or confidence out of range.         */
PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *h, double p, double confidence);

/* Interval of a quantile when neighbours in time are alike: x in time order, at least 40 values.
 * The effective number of values comes from 10 batches (Korn and Graubard 1998).  Allocates.     */
PERF_FN perf_interval perf_quantile_interval_series(const double *x, size_t n, double p,
                                                    double confidence);

/* Mean with Student's interval.  One rare spike moves it far: prefer quantiles for durations.
 * n = 1 or a non-finite value gives an infinite interval; n = 0 gives NaN.                       */
PERF_FN perf_interval perf_mean_interval(const double *x, size_t n, double confidence);

/* Fewest values for which a two-sided interval of quantile p is bounded on both sides; 0: never. */
PERF_FN size_t perf_quantile_min_count(double p, double confidence);

/* Sorts upwards: n log n always, no allocation, little recursion.  NaN come last.  x: not NULL. */
PERF_FN void perf_sort_values(double *x, size_t n);

/* >>compare: without an array the status is PERF_EINVAL; without a rule the default ------- */

PERF_FN perf_compare_opts perf_compare_opts_default(void);  /* all zero; for C++11 and Cython     */
PERF_FN perf_compare_opts perf_compare_opts_resolved(const perf_compare_opts *opts); /* what runs */

/* Rules by a number that is taken as it is: 0 percent is a threshold of 1; a factor of 0 is no
 * rule (NaN).  (In a perf_rule of your own an amount of 0 takes the default of its kind.)        */
PERF_FN perf_rule perf_rule_speedup(double factor, perf_metric metric);
PERF_FN perf_rule perf_rule_reduction(double percent, perf_metric metric);      /* down by >= %   */
PERF_FN perf_rule perf_rule_no_regression(double percent, perf_metric metric);  /* worse by <= %  */

/* The rule (NULL: default) as the largest acceptable ratio candidate / baseline; NaN: invalid. */
PERF_FN double perf_rule_threshold(const perf_rule *rule);

/* n pairs in the order of time, each measured back to back in an order chosen by a fair coin.
 * Allocates above 128 pairs.  n < 6 is INCONCLUSIVE (95 %; of means n < 2); opts NULL: defaults. */
PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts);

/* Two separate samples, any sizes.  Honest only if the order of all measurements was random: say
 * so with opts->design, or the verdict stays INCONCLUSIVE (the interval is still computed).      */
PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts);

/* One line of English into v->text, which it returns.  NULL gives "". */
PERF_FN const char *perf_verdict_text(perf_verdict *v);
PERF_FN const char *perf_decision_text(perf_decision d);    /* "ACCEPT", "REJECT", "INCONCLUSIVE" */

/* Applies an accuracy check to a finished verdict.  Failed: REJECT, whatever else is in doubt.
 * Asked for but not made, or an invalid limit: no ACCEPT.  Passed, or NULL: nothing changes.     */
PERF_FN void perf_verdict_guard(perf_verdict *v, const perf_guard *guard);

/* Largest errors of out[] against reference[], n elements; NULL or n = 0: `compared` is 0, errors
 * are NaN, and a guard with them lets nothing be ACCEPTed.                                       */
PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n);

/* 1 only when something was compared and every limit that was set holds. */
PERF_FN int perf_accuracy_ok(const perf_accuracy *seen, const perf_tolerance *limit);

/* A rule from text: "speedup >= 1.3", "down >= 20 % on p95", "no regression beyond 2 % on mean".
 * "memory down >= 10 %" names the metric first; "memory down >= 10 % on p95" is about the p95 of
 * memory.  Leading "latency", a trailing "x" or "%" and letter case do not matter; metrics: time
 * p50 p95 p99 mean memory throughput.  NULL: PERF_EINVAL; else PERF_EFORMAT.  Then *out stays. */
PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out);

/* The two-sided p-value of "the ratio is the threshold": the largest 1 - confidence at which
 * perf_compare_pairs still decides, searched between 0.5 and 0.000001.  1: never decides.        */
PERF_FN double perf_compare_pairs_p(const double *baseline, const double *candidate, size_t n,
                                    const perf_compare_opts *opts);

/* p-values of a family of n questions, adjusted (Holm 1979): if you compare them with alpha, any
 * false answer among all has a chance below alpha.  out may be p; what is no probability counts as
 * 1. PERF_EINVAL for NULL, PERF_ENODATA for n = 0, PERF_ENOMEM above 256 values without memory.  */
PERF_FN perf_status perf_adjust_holm(const double *p, size_t n, double *out);

/* >>sequential: look after every pair, stop when it is decided ------------------------------------
 * Bets on the signs of log(candidate / baseline) - log(threshold).  If the threshold is the median
 * of the ratio within a pair, the signs are fair whatever the noise and the shapes.  So you may
 * look after every pair, with any budget, and each wrong answer still has a chance of at most half
 * of 1 - confidence (Ville's inequality).                                                        */
#define PERF_SEQ_BETS_ 7

typedef struct perf_seq {               /* fixed size, no pointer: copy it, keep it anywhere      */
    double         log_threshold;
    double         tick;                /* the clock's step as a log, conceded on both sides      */
    double         level;               /* evidence needed: 2 / (1 - confidence)                  */
    uint64_t       pairs, excluded;
    uint64_t       decided_at;          /* pairs used by the decision, 0 while open               */
    perf_decision  decision;
    double         accept[PERF_SEQ_BETS_];      /* private: the capital of those who bet on it    */
    double         reject[PERF_SEQ_BETS_];
} perf_seq;

/* rule NULL: speed-up >= 1.3x; confidence 0: 0.95; tick: clock resolution / typical value, >= 0.
 * PERF_EINVAL: s NULL, or a rule without a threshold: then perf_seq_add never decides.           */
PERF_FN perf_status perf_seq_init(perf_seq *s, const perf_rule *rule, double confidence,
                                  double tick);

/* One more pair.  Returns the decision so far; once taken it stays.  Values that are not positive
 * numbers are counted in `excluded` and change nothing.                                          */
PERF_FN perf_decision perf_seq_add(perf_seq *s, double baseline, double candidate);

/* Interval of the median log ratio that is valid at whatever pair you stopped: log_ratio[0..n) in
 * time order.  At the pair where the bets decide, it excludes the threshold; if you go on and the
 * median comes back over it, the interval follows.  Unbounded below 7 pairs (95 %), and when there
 * is no memory above 256.  About 2 log2(n) passes over the data.                                 */
PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_is_duration_      1: finite and above 0
 *   perf_random_           64 random bits (splitmix64) from a state of the caller's
 *   perf_metric_p_         the quantile that a metric is about; 0.5 for those that are none
 *   perf_step_log_, perf_widen_  what a clock's step may hide, as a log; an interval widened by it
 *   perf_seq_excludes_     1: the bets have ever excluded a log ratio on one side
 *   perf_verdict_start_, perf_verdict_finish_, perf_verdict_cap_  a verdict without numbers; the
 *                     decision from a log interval; withholds one, but never a guard's
 *   perf_lopsided_  1: the arms differ in shape, so pairs and medians may say different things
 *   perf_put_rule_, perf_put_interval_  a rule and an answer as words
 *   perf_skip_number_      reads a plain decimal number; NULL: there is none                     */

/* >>private: bodies, callees before their callers -------------------------------------------- */

/* ---- math ---- */

#define PERF_LN2_HI_ 6.93147180369123816490e-01     /* upper bits of ln 2: k * this is exact      */
#define PERF_LN2_LO_ 1.90821492927058770002e-10     /* ln 2 minus the above                       */

/* c[0] + c[1] x + ... + c[degree] x^degree. */
PERF_FN double perf_poly_(double x, const double *c, int degree)
{
    double sum = c[degree];

    while (degree--)
        sum = sum * x + c[degree];
    return sum;
}

/* log(1 + f) - f for -0.3 < f < 0.42, from log(1 + f) = 2 atanh(s), s = f / (2 + f): the leading
 * terms cancel on paper instead of in the machine.  Eleven terms: |s| < 0.18, next one < 1e-18.  */
PERF_FN double perf_log1p_minus_(double f)
{
    double s = f / (2.0 + f), z = s * s;
    double r = z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 +
               z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19 + z * (2.0 / 21 +
               z * (2.0 / 23)))))))))));
    return s * (r - f);
}

PERF_FN double perf_log(double x)
{
    uint64_t u = perf_bits_(x);
    int      k;
    double   f, r;

    if (perf_is_nan_(x) || (u >> 63 && x < 0.0))
        return PERF_NAN_;
    if (!(u << 1))
        return -PERF_INF_;
    if (!perf_is_finite_(x))
        return x;
    if (u < UINT64_C(0x0010000000000000))           /* subnormal: 2^54 times it                   */
        return perf_log(x * 18014398509481984.0) - 37.429947750237047899;
    k = PERF_CAST_(int, u >> 52) - 1023;
    u = (u & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    if (u > UINT64_C(0x3ff6a09e667f3bcd)) {         /* above sqrt(2): halve, so |log| stays small */
        u -= UINT64_C(0x0010000000000000);
        k++;
    }
    f = perf_from_bits_(u) - 1.0;
    r = perf_log1p_minus_(f) + PERF_CAST_(double, k) * PERF_LN2_LO_;
    return PERF_CAST_(double, k) * PERF_LN2_HI_ + (f + r);
}

PERF_FN double perf_log1p(double x)
{
    double u;

    if (x > -0.29 && x < 0.41)
        return x + perf_log1p_minus_(x);
    if (!(x > -1.0) || x > 1e300)
        return perf_log(1.0 + x);
    u = 1.0 + x;
    return perf_log(u) + (x - (u - 1.0)) / u;       /* what the addition rounded away             */
}

/* log(1 + x) - x for any x > -1. */
PERF_FN double perf_log1pmx_(double x)
{
    return x > -0.29 && x < 0.41 ? perf_log1p_minus_(x) : perf_log1p(x) - x;
}

/* 2^k * x, two steps so that a subnormal result rounds once at the end. */
PERF_FN double perf_scale2_(double x, int k)
{
    int half = k / 2;
    double a = perf_from_bits_(PERF_CAST_(uint64_t, half + 1023) << 52);
    double b = perf_from_bits_(PERF_CAST_(uint64_t, k - half + 1023) << 52);
    return x * a * b;
}

PERF_FN double perf_exp(double x)
{
    /* 1 / (k + 2)!: |r| <= 0.347, the terms left out are below 1e-18 */
    static const double term[12] = {0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                                    1.0 / 479001600, 1.0 / 6227020800.0};
    double k, r;
    int    n;

    if (perf_is_nan_(x))
        return x;
    if (x > 709.8 || x < -745.2)
        return x > 0.0 ? PERF_INF_ : 0.0;
    k = x * 1.44269504088896340736;                 /* 1 / ln 2                                   */
    n = PERF_CAST_(int, k + (k < 0.0 ? -0.5 : 0.5));
    k = PERF_CAST_(double, n);
    r = (x - k * PERF_LN2_HI_) - k * PERF_LN2_LO_;
    return perf_scale2_(1.0 + (r + r * r * perf_poly_(r, term, 11)), n);
}

/* exp(-x * x): the square is split so that its rounding error does not grow with x. */
PERF_FN double perf_exp_neg_square_(double x)
{
    double hi = perf_from_bits_(perf_bits_(x) & UINT64_C(0xfffffffff8000000));
    return perf_exp(-hi * hi) * perf_exp(-(x - hi) * (x + hi));
}

/* F(1/2, 1; c; -w) by Gauss's continued fraction (DLMF 15.7.5), all of whose terms are positive. */
PERF_FN double perf_gauss_fraction_(double c, double w)
{
    double f = 1.0, up = 1.0, down = 0.0, change = 1.0, m, k;
    int    i;

    for (i = 1; i < 2000 && (change > 1e-16 || change < -1e-16); i++) {
        m = PERF_CAST_(double, i / 2);
        k = i % 2 ? (0.5 + m) * (c - 1.0 + m) : m * (c + m - 1.5);
        k *= w / ((c + i - 2.0) * (c + i - 1.0));
        up = 1.0 + k / up;
        down = 1.0 / (1.0 + k * down);
        f *= up * down;
        change = i < 3 ? 1.0 : up * down - 1.0;
    }
    return 1.0 / f;
}

/* Below 2: erf by its all-positive series (Abramowitz & Stegun 7.1.6). */
PERF_FN double perf_erfc(double x)
{
    double term = x, sum = x;
    int    n;

    if (perf_is_nan_(x))
        return x;
    if (x < 0.0)
        return 2.0 - perf_erfc(-x);
    if (x > 27.3)
        return 0.0;
    for (n = 1; x < 2.0 && n < 80 && term > sum * 1e-17; n++) {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    if (x < 2.0)
        return 1.0 - 1.12837916709551257390 * perf_exp_neg_square_(x) * sum;    /* 2 / sqrt(pi)   */
    return 0.56418958354775628695 * perf_exp_neg_square_(x) / x *       /* 1 / sqrt(pi)           */
           perf_gauss_fraction_(1e18, 1e18 / (x * x));      /* c to infinity: DLMF 7.9.1          */
}

/* log gamma(x) minus Stirling's (x - 1/2) log x - x + log sqrt(2 pi); x > 0.  Series from
 * Abramowitz & Stegun 6.1.41 above 15, the recurrence gamma(x+1) = x gamma(x) below.             */
PERF_FN double perf_stirling_rest_(double x)
{
    double sum = 0.0, z;

    while (x < 15.0) {
        sum += (x + 0.5) * perf_log1p(1.0 / x) - 1.0;
        x += 1.0;
    }
    z = 1.0 / (x * x);
    return sum + (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 -
                 z * (691.0 / 360360 - z * (1.0 / 156))))))) / x;
}

PERF_FN double perf_normal_cdf(double z)
{
    return 0.5 * perf_erfc(-z * 0.70710678118654752440);
}

/* Wichura's AS 241 (Applied Statistics 37, 1988), constants of PPND16; 7e-16 down to p = 1e-300.
 * Three ranges, each the ratio of two polynomials of degree 7.                                   */
PERF_FN double perf_normal_quantile(double p)
{
    static const double c[3][2][8] = {
        {{3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
          13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
          33430.575583588128105, 2509.0809287301226727},
         {1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
          21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
          5226.4952788528545610}},
        {{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
          3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
          0.0227238449892691845833, 7.74545014278341407640e-4},
         {1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
          0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
          1.05075007164441684324e-9}},
        {{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
          0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
          2.71155556874348757815e-5, 2.01033439929228813265e-7},
         {1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
          7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
          2.04426310338993978564e-15}}};
    double q = p - 0.5, r;
    int    k;

    if (!(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    if (q < 0.425 && q > -0.425) {
        r = 0.180625 - q * q;
        return q * perf_poly_(r, c[0][0], 7) / perf_poly_(r, c[0][1], 7);
    }
    r = q < 0.0 ? p : 1.0 - p;
    if (!(r > 0.0))
        return q < 0.0 ? -PERF_INF_ : PERF_INF_;
    r = perf_sqrt(-perf_log(r));
    k = r <= 5.0 ? 1 : 2;
    r -= k == 1 ? 1.6 : 5.0;
    r = perf_poly_(r, c[k][0], 7) / perf_poly_(r, c[k][1], 7);
    return q < 0.0 ? -r : r;
}

/* x^a y^b / B(a, b) with x + y = 1, after Loader's saddle point form ("Fast and accurate
 * computation of binomial probabilities", 2000).  delta = a y - b x comes from the caller, who
 * may know it without cancellation.                                                              */
PERF_FN double perf_beta_front_(double x, double y, double a, double b, double delta)
{
    double da = -a * perf_log1pmx_(-delta / a), db = -b * perf_log1pmx_(delta / b);

    if (delta > 0.5 * a)                            /* far from the mean nothing cancels, and     */
        da = a * perf_log(a / (a + b) / x) - delta; /* 1 - delta / a would lose a tiny x          */
    if (-delta > 0.5 * b)
        db = b * perf_log(b / (a + b) / y) + delta;
    return perf_exp(perf_stirling_rest_(a + b) - perf_stirling_rest_(a) - perf_stirling_rest_(b) -
                    da - db) *
           perf_sqrt(a / (a + b) * b * 0.15915494309189533577);         /* 1 / (2 pi)             */
}

/* The continued fraction of I_x(a, b) (NIST DLMF 8.17.22) by Lentz's method; x below the mean. */
PERF_FN double perf_beta_fraction_(double x, double a, double b)
{
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), f, step, m, t;
    int    i;

    f = d = 1.0 / (d < 1e-300 && d > -1e-300 ? 1e-300 : d);
    for (i = 2; i < 200000; i++) {                  /* even and odd terms                         */
        m = PERF_CAST_(double, i / 2);
        t = i % 2 ? -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
                  : m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 + t * d;
        c = 1.0 + t / c;
        d = 1.0 / (d < 1e-300 && d > -1e-300 ? 1e-300 : d);
        c = c < 1e-300 && c > -1e-300 ? 1e-300 : c;
        step = d * c;
        f *= step;
        if (i % 2 && step - 1.0 < 1e-16 && step - 1.0 > -1e-16)
            break;
    }
    return f;
}

/* I_x(a, b), x + y = 1; a small one is computed itself, not as 1 minus the rest. */
PERF_FN double perf_beta_tail_(double x, double y, double a, double b, double delta)
{
    double front;

    if (!(x > 0.0) || !(y > 0.0))
        return x > 0.0 ? 1.0 : 0.0;
    front = perf_beta_front_(x, y, a, b, delta);
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * perf_beta_fraction_(x, a, b) / a;
    return 1.0 - front * perf_beta_fraction_(y, b, a) / b;
}

PERF_FN double perf_beta_cdf(double x, double a, double b)
{
    if (!(a > 0.0) || !(b > 0.0) || !perf_is_finite_(a + b) || !(x >= 0.0 && x <= 1.0))
        return PERF_NAN_;
    return perf_beta_tail_(x, 1.0 - x, a, b, a * (1.0 - x) - b * x);
}

/* P(T > t), t >= 0; *fall: its relative decrease with log t.  With a = df / 2 it is half of I_x(a,
 * 1/2), x = a / (a + t^2 / 2), as DLMF 8.17.7 writes it: nothing cancels where x is near 1.      */
PERF_FN double perf_t_upper_(double t, double df, double *fall)
{
    double a = 0.5 * df, s = 0.5 * t * t, x = a / (a + s), y = s / (a + s), power;

    if (t > 1e140) {                                /* a power law by now; t * t would overflow   */
        power = perf_exp(df * (perf_log(1e140) - perf_log(t)));
        s = perf_t_upper_(1e140, df, fall) * power;
        *fall *= power;
        return s;
    }
    *fall = t > 0.0 ? perf_beta_front_(x, y, a, 0.5, x * (s - 0.5)) : 0.0;
    if (t < 1.0)
        return 0.5 - *fall * perf_beta_fraction_(y, 0.5, a);
    return *fall * perf_gauss_fraction_(a + 1.0, a / s) / (df * y);
}

PERF_FN double perf_t_cdf(double t, double df)
{
    double fall, tail;

    if (perf_is_nan_(t) || !(df > 0.0))
        return PERF_NAN_;
    if (!(df < 1e15))
        return perf_normal_cdf(t);
    tail = perf_t_upper_(t < 0.0 ? -t : t, df, &fall);
    return t < 0.0 ? tail : 1.0 - tail;
}

/* Newton on the log of the tail against log t, kept inside a shrinking bracket.  It begins at the
 * normal quantile, which is always nearer to 0.                                                  */
PERF_FN double perf_t_quantile(double p, double df)
{
    double q = p < 0.5 ? p : 1.0 - p, t = -perf_normal_quantile(q), low = t, high = PERF_INF_;
    double tail, next, fall;
    int    i;

    if (!(p >= 0.0 && p <= 1.0) || !(df > 0.0))
        return PERF_NAN_;
    for (i = 0; i < 200 && df < 1e15 && t > 0.0 && perf_is_finite_(t); i++) {
        tail = perf_t_upper_(t, df, &fall);
        if (tail > q)
            low = t;
        else
            high = t;
        next = tail > 0.0 ? t * perf_exp(perf_log(tail / q) * (tail / fall)) : 0.0;
        if (next - t < t * 2e-16 && t - next < t * 2e-16)
            break;
        if (!(next > low && next < high))
            next = perf_sqrt(low) * perf_sqrt(high);
        t = next;
    }
    return p < 0.5 ? -t : t;
}

PERF_FN double perf_binomial_cdf(double k, double n, double p)
{
    if (!(n >= 0.0) || !(p >= 0.0 && p <= 1.0) || perf_is_nan_(k) || !perf_is_finite_(n))
        return PERF_NAN_;
    k = k < 0.0 ? -1.0 : k > 9e15 ? k : PERF_CAST_(double, PERF_CAST_(int64_t, k));
    if (k < 0.0 || k >= n)
        return k < 0.0 ? 0.0 : 1.0;
    return perf_beta_tail_(1.0 - p, p, n - k, k + 1.0, (n - k) * p - (k + 1.0) * (1.0 - p));
}

/* ---- summary ---- */

#define PERF_WARN_TEXT_(name, bit, text) if (b == 1u << (bit)) return text;
PERF_FN const char *perf_warning_text(uint32_t b)
{
    PERF_WARN_LIST_(PERF_WARN_TEXT_)
    return "unknown warning";
}
#undef PERF_WARN_TEXT_

/* 0 -> 0.95; NaN for what is no sensible two-sided confidence. */
PERF_FN double perf_confidence_(double c)
{
    if (!(c < 0.0) && !(c > 0.0) && !perf_is_nan_(c))
        return 0.95;
    return c >= 0.5 && c <= 0.999999 ? c : PERF_NAN_;
}

/* Moves what is < pivot (or <= with equal = 1) to the front; returns how many those are.  There is
 * no branch on the data, as half of them would be mispredicted: that took the signed-rank interval
 * of 1,000 pairs from 149 to 124 us.                                                             */
PERF_FN size_t perf_partition_(double *x, size_t n, double pivot, int equal)
{
    size_t i, j = 0;

    for (i = 0; i < n; i++) {
        double t = x[i];
        x[i] = x[j];
        x[j] = t;
        j += PERF_CAST_(size_t, (t < pivot) | (equal & (t <= pivot)));
    }
    return j;
}

/* Moves what lies below the middle of the extremes to the front; returns how many those are, 0: all
 * are equal.  Each such cut halves the range of the values, so 2,100 of them sort anything.      */
PERF_FN size_t perf_sort_cut_(double *x, size_t n)
{
    double low = x[0], high = x[0], pivot;
    size_t i;

    for (i = 1; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    pivot = 0.5 * low + 0.5 * high;
    return low < high ? perf_partition_(x, n, pivot > low ? pivot : high, 0) : 0;
}

/* Quicksort on the median of three, with a cut in its place where that would part badly.  Only the
 * smaller part is sorted by a call; few values are sorted by insertion.                          */
PERF_FN void perf_sort_part_(double *x, size_t n)
{
    size_t i, j;

    while (n > 24) {
        double a = x[0], b = x[n / 2], c = x[n - 1];
        size_t k = perf_partition_(x, n, a < b ? (b < c ? b : a < c ? c : a)
                                               : (a < c ? a : b < c ? c : b), 0);
        if (k < n / 16 || n - k < n / 16)
            k = perf_sort_cut_(x, n);
        if (!k)
            return;
        if (k < n - k) {
            perf_sort_part_(x, k);
            x += k;
            n -= k;
        } else {
            perf_sort_part_(x + k, n - k);
            n = k;
        }
    }
    for (i = 1; i < n; i++) {
        double v = x[i];
        for (j = i; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

PERF_FN void perf_sort_values(double *x, size_t n)
{
    perf_sort_part_(x, perf_partition_(x, n, PERF_INF_, 1));    /* NaN stay behind the numbers    */
}

/* `local` when it is large enough, else allocated; NULL when that fails. */
PERF_FN double *perf_scratch_(double *local, size_t local_n, size_t n)
{
    if (n <= local_n)
        return local;
    if (n > SIZE_MAX / sizeof(double))
        return PERF_NULL_;
    return PERF_CAST_(double *, PERF_MALLOC(n * sizeof(double)));
}

PERF_FN void perf_scratch_free_(double *p, const double *local)
{
    if (p != local)
        PERF_FREE(p);
}

PERF_FN double perf_quantile(const double *sorted, size_t n, double p)
{
    double h, f, d;
    size_t i;

    if (!sorted || !n || !(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    h = PERF_CAST_(double, n - 1) * p;
    i = PERF_CAST_(size_t, h);
    if (i >= n - 1)
        return sorted[n - 1];
    f = h - PERF_CAST_(double, i);
    d = sorted[i + 1] - sorted[i];
    if (!(f > 0.0) || !(d > 0.0))                   /* infinities, too                            */
        return sorted[i];
    return perf_is_finite_(d) ? sorted[i] + f * d : (1.0 - f) * sorted[i] + f * sorted[i + 1];
}

/* Largest r with P(Bin(n, p) <= r - 1) <= a: x_(r) is a lower limit with error <= a; 0: none. */
PERF_FN uint64_t perf_rank_low_(double n, double p, double a)
{
    uint64_t low = 0, high = PERF_CAST_(uint64_t, n) + 1, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;               /* equality qualifies                         */
        if (perf_binomial_cdf(PERF_CAST_(double, mid - 1), n, p) <= a * (1.0 + 1e-12))
            low = mid;
        else
            high = mid;
    }
    return low;
}

PERF_FN perf_interval perf_quantile_interval(const double *sorted, size_t n, double p,
                                             double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        c = perf_confidence_(confidence), all = PERF_CAST_(double, n);
    uint64_t      low, high;

    if (!sorted || !n || perf_is_nan_(c) || !(p >= 0.0 && p <= 1.0))
        return r;
    low = perf_rank_low_(all, p, 0.5 - 0.5 * c);
    high = perf_rank_low_(all, 1.0 - p, 0.5 - 0.5 * c);
    r.estimate = perf_quantile(sorted, n, p);
    r.low = low ? sorted[low - 1] : -PERF_INF_;
    r.high = high ? sorted[n - high] : PERF_INF_;
    return r;
}

/* The bucket that holds a rank, cut to the extremes. */
PERF_FN perf_hist_bucket perf_hist_bucket_of_(const perf_hist *h, uint64_t rank)
{
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         min, max;

    (void)perf_hist_extremes_(h, &min, &max);
    while (perf_hist_next(h, &b) && b.below + b.count < rank)
        continue;
    b.lower = b.lower < min ? min : b.lower;
    b.upper = b.upper > max ? max : b.upper;
    return b;
}

PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *h, double p, double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    uint64_t      count = perf_hist_count(h), low, high;
    double        tail = 0.5 - 0.5 * perf_confidence_(confidence), n = PERF_CAST_(double, count);
    double        each = n > 1e12 ? n / 1e12 : 1.0; /* no narrower than that of 1e12 values       */

    if (count == 0 || perf_is_nan_(tail) || !(p >= 0.0 && p <= 1.0))
        return r;
    low = PERF_CAST_(uint64_t, each * PERF_CAST_(double, perf_rank_low_(n / each, p, tail)));
    high = PERF_CAST_(uint64_t, each * PERF_CAST_(double, perf_rank_low_(n / each, 1.0 - p, tail)));
    low = low < count ? low : count;
    high = high < count ? high : count;
    r.estimate = perf_hist_quantile(h, p);
    each = perf_hist_unit_(h);
    r.low = low ? each * PERF_CAST_(double, perf_hist_bucket_of_(h, low).lower) : -PERF_INF_;
    high = count + 1 - high;
    r.high = high > count ? PERF_INF_
                          : each * PERF_CAST_(double, perf_hist_bucket_of_(h, high).upper);
    return r;
}

PERF_FN size_t perf_quantile_min_count(double p, double confidence)
{
    double c = perf_confidence_(confidence);

    if (perf_is_nan_(c) || !(p > 0.0 && p < 1.0))
        return 0;
    c = perf_log(0.5 - 0.5 * c) /                   /* max(p, 1 - p)^n <= (1 - confidence) / 2    */
        (p > 0.5 ? perf_log(p) : perf_log1p(-p));
    if (!(c < 0.5 * PERF_CAST_(double, SIZE_MAX)))
        return 0;                                   /* no array has that many                     */
    return PERF_CAST_(size_t, c) + (c > PERF_CAST_(double, PERF_CAST_(size_t, c)) ? 1u : 0u);
}

/* Largest i < n with I(i / n; a, b) <= tail: Clopper and Pearson's lower limit, as a place. */
PERF_FN size_t perf_share_low_(size_t n, double a, double b, double tail)
{
    size_t low = 0, high = n, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;
        if (perf_beta_cdf(PERF_CAST_(double, mid) / PERF_CAST_(double, n), a, b) <= tail)
            low = mid;
        else
            high = mid;
    }
    return low;
}

PERF_FN perf_interval perf_quantile_interval_series(const double *x, size_t n, double p,
                                                    double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        local[256], *s, c = perf_confidence_(confidence), q, var = 0.0, n_eff, t;
    size_t        i, j, batch = n / 10;

    if (!x || n < 40 || perf_is_nan_(c) || !(p > 0.0 && p < 1.0))
        return r;
    s = perf_scratch_(local, 256, n);
    if (!s)
        return r;
    PERF_LIBC_(memcpy)(s, x, n * sizeof *s);
    perf_sort_values(s, n);
    q = perf_quantile(s, n, p);
    for (i = 0; i < 10; i++) {                      /* long-run variance of 1{x <= q} from the    */
        double sum = 0.0;                           /* means of 10 batches                        */
        for (j = 0; j < batch; j++)
            sum += x[i * batch + j] <= q ? 1.0 : 0.0;
        sum = sum / PERF_CAST_(double, batch) - p;
        var += sum * sum;
    }
    var = var / 9.0 * PERF_CAST_(double, batch);
    if (!(var > p * (1.0 - p)))                     /* never claim more than n independent values */
        var = p * (1.0 - p);
    t = perf_normal_quantile(0.5 + 0.5 * c) / perf_t_quantile(0.5 + 0.5 * c, 9.0);
    n_eff = PERF_CAST_(double, n) * p * (1.0 - p) / var * t * t;
    r.low = -PERF_INF_;
    r.estimate = q;
    r.high = PERF_INF_;
    if (n_eff >= 1.0) {                             /* Clopper-Pearson limits of p at n_eff, read */
        double k = n_eff * p, tail = 0.5 - 0.5 * c, edge = perf_exp(perf_log(tail) / n_eff);
        if (!(1.0 - p > edge))
            r.low = s[perf_share_low_(n, k, n_eff - k + 1.0, tail)];
        i = perf_share_low_(n, n_eff - k, k + 1.0, tail);
        if (!(p > edge))
            r.high = s[i ? n - i : n - 1];
    }
    perf_scratch_free_(s, local);
    return r;
}

typedef struct perf_moments_ {
    double mean, std, cubes;                        /* std: n - 1 in the denominator; cubes: sum  */
} perf_moments_;                                    /* of cubed distances over the cubed mean     */

/* Neumaier's sum, then the corrected second pass (Chan, Golub, LeVeque 1983).  The largest value is
 * scaled by a power of two to about 1 first, so that no sum and no cube leaves the range.        */
PERF_FN perf_moments_ perf_moments_of_(const double *x, size_t n)
{
    perf_moments_ m = PERF_ZERO;
    double        sum = 0.0, lost = 0.0, d1 = 0.0, d2 = 0.0, d3 = 0.0, top = 0.0;
    double        count = PERF_CAST_(double, n), scale;
    size_t        i;
    int           k;

    for (i = 0; i < n; i++)
        top = x[i] > top ? x[i] : -x[i] > top ? -x[i] : top;
    k = 1023 - PERF_CAST_(int, perf_bits_(top) >> 52);
    scale = perf_scale2_(1.0, k < 1000 ? k : 1000);
    for (i = 0; i < n; i++) {
        double v = x[i] * scale, t = sum + v;
        double a = sum < 0.0 ? -sum : sum, b = v < 0.0 ? -v : v;
        lost += a >= b ? (sum - t) + v : (v - t) + sum;
        sum = t;
    }
    sum += lost;
    m.mean = n ? sum / count : 0.0;
    for (i = 0; i < n; i++) {
        double d = x[i] * scale - m.mean;
        d1 += d;
        d2 += d * d;
        d3 += d * d * d;
    }
    d2 -= d1 * d1 / count;
    m.cubes = d3 / (m.mean * m.mean * m.mean);
    m.mean /= scale;
    m.std = n > 1 && d2 > 0.0 ? perf_sqrt(d2 / (count - 1.0)) / scale : 0.0;
    return m;
}

PERF_FN perf_interval perf_mean_interval(const double *x, size_t n, double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    perf_moments_ m;
    double        c = perf_confidence_(confidence), h = PERF_INF_;

    if (!x || !n || perf_is_nan_(c))
        return r;
    m = perf_moments_of_(x, n);
    if (!perf_is_finite_(m.mean))
        m.mean = PERF_NAN_;
    else if (n > 1)
        h = perf_t_quantile(0.5 + 0.5 * c, PERF_CAST_(double, n - 1)) * m.std /
            perf_sqrt(PERF_CAST_(double, n));
    r.estimate = m.mean;
    r.low = h < PERF_INF_ ? m.mean - h : -PERF_INF_;
    r.high = h < PERF_INF_ ? m.mean + h : PERF_INF_;
    return r;
}

PERF_FN perf_summary perf_summarize(const double *x, size_t n)
{
    perf_summary  r = PERF_ZERO;
    perf_interval q;
    perf_moments_ m;
    double        local[256], *s;
    size_t        i, k = 0;

    r.confidence = 0.95;
    r.status = !n ? PERF_ENODATA : x ? PERF_ENOMEM : PERF_EINVAL;
    s = x && n ? perf_scratch_(local, 256, n) : PERF_NULL_;
    if (!s)
        return r;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(x[i]) && x[i] >= 0.0)
            s[k++] = x[i];
    r.status = k ? PERF_OK : PERF_ENODATA;
    r.excluded = n - k;
    if (r.excluded)
        r.warnings |= PERF_WARN_BAD_VALUES;
    if (k) {
        m = perf_moments_of_(s, k);                 /* before sorting: the order of time          */
        perf_sort_values(s, k);
        r.count = k;
        r.min = s[0];
        r.max = s[k - 1];
        r.mean = m.mean;
        r.std = m.std;
        q = perf_quantile_interval(s, k, 0.50, 0.95);
        r.p50 = q.estimate;
        r.p50_low = q.low;
        r.p50_high = q.high;
        q = perf_quantile_interval(s, k, 0.95, 0.95);
        r.p95 = q.estimate;
        r.p95_low = q.low;
        r.p95_high = q.high;
        q = perf_quantile_interval(s, k, 0.99, 0.95);
        r.p99 = q.estimate;
        r.p99_low = q.low;
        r.p99_high = q.high;
        if (!perf_is_finite_(r.p50_low) || !perf_is_finite_(r.p50_high) ||
            !perf_is_finite_(r.p95_high) || !perf_is_finite_(r.p99_high))
            r.warnings |= PERF_WARN_UNBOUNDED;
        if ((r.max - r.p50) / PERF_CAST_(double, k) > 0.1 * m.mean)
            r.warnings |= PERF_WARN_MEAN;
        for (i = 0; i < k; i++)
            s[i] = s[i] < r.p50 ? r.p50 - s[i] : s[i] - r.p50;
        perf_sort_values(s, k);
        r.mad = perf_quantile(s, k, 0.5);
    }
    perf_scratch_free_(s, local);
    return r;
}

/* ---- compare ---- */

PERF_FN perf_compare_opts perf_compare_opts_default(void)
{
    perf_compare_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_rule perf_rule_resolved_(perf_rule r)
{
    if (!(r.amount < 0.0) && !(r.amount > 0.0) && !perf_is_nan_(r.amount))
        r.amount = r.kind == PERF_RULE_SPEEDUP ? 1.3 : r.kind == PERF_RULE_REDUCTION ? 20.0 : 2.0;
    return r;
}

/* 1: every limit is 0 or a positive number. */
PERF_FN int perf_tolerance_ok_(const perf_tolerance *t)
{
    return t->abs >= 0.0 && t->rel >= 0.0 && t->ulp >= 0.0;
}

PERF_FN int perf_guard_asked_(const perf_guard *g)
{
    return g->required || g->seen.compared || perf_is_nan_(g->seen.max_abs) ||
           !perf_tolerance_ok_(&g->limit) || g->limit.abs + g->limit.rel + g->limit.ulp > 0.0;
}

PERF_FN perf_compare_opts perf_compare_opts_resolved(const perf_compare_opts *opts)
{
    perf_compare_opts o = opts ? *opts : perf_compare_opts_default();

    o.confidence = perf_confidence_(o.confidence);
    o.rule = perf_rule_resolved_(o.rule);
    o.guard.required = perf_guard_asked_(&o.guard);
    return o;
}

PERF_FN perf_rule perf_rule_make_(perf_rule_kind kind, perf_metric metric, double amount)
{
    perf_rule r = {kind, metric, amount, 0};

    if (!(amount < 0.0) && !(amount > 0.0))         /* a 0 is meant: no default                   */
        r.amount = kind == PERF_RULE_SPEEDUP || perf_is_nan_(amount) ? PERF_NAN_ : 5e-324;
    return r;
}

PERF_FN perf_rule perf_rule_speedup(double factor, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_SPEEDUP, metric, factor);
}

PERF_FN perf_rule perf_rule_reduction(double percent, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_REDUCTION, metric, percent);
}

PERF_FN perf_rule perf_rule_no_regression(double percent, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_NO_REGRESSION, metric, percent);
}

PERF_FN double perf_rule_threshold(const perf_rule *rule)
{
    perf_rule none = PERF_ZERO, r = perf_rule_resolved_(rule ? *rule : none);
    double    t = PERF_NAN_;

    if (r.kind == PERF_RULE_SPEEDUP)
        t = 1.0 / r.amount;
    else if (r.kind == PERF_RULE_REDUCTION)
        t = 1.0 - r.amount / 100.0;
    else if (r.kind == PERF_RULE_NO_REGRESSION)
        t = 1.0 + r.amount / 100.0;
    return perf_is_finite_(t) && t > 0.0 ? t : PERF_NAN_;
}

/* The step of the clock (or printing) in sorted values, or in 1 / rates: their smallest distance,
 * if 5 % or more repeat.  0: none shows; infinite: all are equal.  Below 1e-9: rounding.         */
PERF_FN double perf_step_seen_(const double *sorted, size_t n, int rates)
{
    double gap = PERF_INF_;
    size_t i, ties = 0;

    for (i = 1; i < n; i++) {
        double d = sorted[i] - sorted[i - 1];
        if (!(d > 1e-9 * sorted[i]))
            ties++;
        else if ((d = rates ? d / sorted[i] / sorted[i - 1] : d) < gap)
            gap = d;
    }
    return ties * 20 < n - 1 ? 0.0 : gap;
}

/* The largest number that a and b are multiples of, by Euclid; 1e-9 of the larger stands for 0. */
PERF_FN double perf_step_common_(double a, double b)
{
    double least = 1e-9 * (a > b ? a : b), rest;

    while (b > least) {
        rest = a - b * PERF_CAST_(double, PERF_CAST_(uint64_t, a / b));
        a = b;
        b = rest < b - least ? rest : 0.0;
    }
    return a;
}

/* The largest power of ten that x is a multiple of: its decimals. */
PERF_FN double perf_step_decimal_(double x)
{
    double p = 1.0;

    while (p < x && p < 1e300)
        p *= 10.0;
    while (p > x || perf_step_common_(x, p) < 0.9 * p)
        p *= 0.1;
    return p;
}

/* How far the log of a ratio may be off when both sides are read in steps; a and b are the step
 * over the value of each side.  Rounding each to the nearest step gives log((1 + s/2) / (1 - s/2))
 * at worst.  That also covers one side read a whole step too short, log(1 + s).                  */
PERF_FN double perf_step_log_(double a, double b)
{
    double s = a > b ? a : b;

    return s < 2.0 ? perf_log1p(2.0 * s / (2.0 - s)) : PERF_INF_;
}

/* The same from values and the clock's step; 0: what both arms show, or the times behind rates. */
PERF_FN double perf_tick_log_(const double *sorted_a, size_t na, const double *sorted_b, size_t nb,
                              double tick, int rates)
{
    double a = perf_step_seen_(sorted_a, na, rates), b = perf_step_seen_(sorted_b, nb, rates);
    double x = perf_quantile(sorted_a, na, 0.5), y = perf_quantile(sorted_b, nb, 0.5);
    int    flat = !perf_is_finite_(a + b);          /* all values of an arm are equal             */

    x = rates ? 1.0 / x : x;
    y = rates ? 1.0 / y : y;
    if (tick < 0.0 || !perf_is_finite_(x + y))
        return 0.0;
    if (!(tick > 0.0)) {
        tick = (a > b) == flat ? b : a;             /* the larger, or that which is finite        */
        if (!perf_is_finite_(tick))
            tick = perf_step_common_(x, y);
        else if (flat && !(tick > 0.0))             /* the other one shows none: another clock    */
            tick = perf_step_decimal_(a > b ? x : y);
    }
    return perf_step_log_(tick / x, tick / y);
}

/* P(W <= k) for Wilcoxon's signed-rank W of n > 80 values.  W is a sum of independent terms that
 * are 0 or j, so its cumulants are sums of powers of j; a uniform number added to W makes it
 * continuous without changing P(W <= k).  Edgeworth's series to order 1/n^3 (Cramer 1946, 17.7). */
PERF_FN double perf_signed_rank_cdf_(double n, double k)
{
    double s1 = 0.5 * n * (n + 1.0), s2 = s1 * (2.0 * n + 1.0) / 3.0, n2 = n * n;    /* sums of j */
    double s4 = s2 * (3.0 * n2 + 3.0 * n - 1.0) / 5.0;
    double s6 = s2 * (3.0 * n2 * n2 + 6.0 * n2 * n - 3.0 * n + 1.0) / 7.0;
    double s8 = s2 * (n2 * (n2 * (5.0 * n2 + 15.0 * n + 5.0) - 15.0 * n - 1.0) + 9.0 * n - 3.0) /
                15.0;
    double v = s2 / 4.0 + 1.0 / 12, v2 = v * v;
    double l4 = -(s4 / 8.0 + 1.0 / 120) / v2, l6 = (s6 / 4.0 + 1.0 / 252) / (v2 * v);
    double l8 = -(17.0 / 16 * s8 + 1.0 / 240) / (v2 * v2);
    double x = (k + 0.5 - 0.5 * s1) / perf_sqrt(v), y = x * x;
    double h3 = y - 3.0, h5 = y * (y - 10.0) + 15.0, h7 = y * (y * (y - 21.0) + 105.0) - 105.0;
    double h9 = y * (y * (y * (y - 36.0) + 378.0) - 1260.0) + 945.0;
    double h11 = y * (y * (y * (y * (y - 55.0) + 990.0) - 6930.0) + 17325.0) - 10395.0;

    return perf_normal_cdf(x) - 0.39894228040143267794 * perf_exp(-0.5 * y) * x *
           (l4 / 24.0 * h3 + l6 / 720.0 * h5 + (l4 * l4 / 1152.0 + l8 / 40320.0) * h7 +
            l4 * l6 / 17280.0 * h9 + l4 * l4 * l4 / 82944.0 * h11);
}

/* Largest k with P(W <= k - 1) <= tail: the k-th smallest and k-th largest Walsh average bound the
 * centre.  Counted to n = 80, from there on by the series, which gave the counted k for every n to
 * 400 at twelve tails from 0.25 to 0.00001 (tests/stats/oracle.c).                               */
PERF_FN uint64_t perf_signed_rank_k_(size_t n, double tail)
{
    double   ways[80 * 81 / 4 + 1], total = 0.0, nn = PERF_CAST_(double, n), x;
    size_t   i, w, top = n * (n + 1) / 4;
    uint64_t k = 0;

    if (n > 80) {
        double z = perf_normal_quantile(tail);
        x = nn * (nn + 1.0) / 4.0 + z * perf_sqrt(nn * (nn + 1.0) * (2.0 * nn + 1.0) / 24.0);
        k = x < 1.0 ? 0 : PERF_CAST_(uint64_t, x);  /* near it by the normal law, then steps      */
        while (k && perf_signed_rank_cdf_(nn, PERF_CAST_(double, k) - 1.0) > tail)
            k--;
        while (perf_signed_rank_cdf_(nn, PERF_CAST_(double, k)) <= tail)
            k++;
        return k;
    }
    for (w = 0; w <= top; w++)
        ways[w] = 0.0;
    ways[0] = perf_scale2_(1.0, -PERF_CAST_(int, n));
    for (i = 1; i <= n; i++)
        for (w = top; w >= i; w--)
            ways[w] += ways[w - i];
    for (w = 0; w <= top && (total += ways[w]) <= tail * (1.0 + 1e-12); w++)
        k++;
    return k;
}

/* Walsh averages (d[i] + d[j]) / 2, j >= i, of sorted d: how many <= t; *top: the last, or d[0] */
PERF_FN uint64_t perf_walsh_count_(const double *d, size_t n, double t, double *top)
{
    uint64_t count = 0;
    size_t   i, end = n;

    *top = d[0];
    for (i = 0; i < n; i++) {
        double x = d[0];
        while (end > i && (x = 0.5 * (d[i] + d[end - 1])) > t)
            end--;
        if (end <= i)
            break;
        *top = x > *top ? x : *top;
        count += end - i;
    }
    return count;
}

/* The k-th smallest Walsh average (1 = smallest), exactly: numbers between the averages would turn
 * ties into false verdicts.  It lies in (lo, hi], or is d[0]; hi is an average, and `upto` of them
 * are not above it.  Each count is one walk along the diagonal, O(n).                            */
PERF_FN double perf_walsh_kth_(const double *d, size_t n, uint64_t k)
{
    double   lo = d[0], hi = d[n - 1], t, f, top;
    double   spread = (d[n - 1 - n / 4] - d[n / 4]) * 0.524;    /* of the averages, were d normal */
    uint64_t below = 0, upto = n, c;
    int      turn;

    upto = upto * (upto + 1) / 2;
    t = d[n / 2] + spread * perf_normal_quantile((PERF_CAST_(double, k) - 0.5) /
                                                 PERF_CAST_(double, upto));
    for (turn = 0; upto > k && lo < hi && turn < 500; turn++) {
        f = (PERF_CAST_(double, k - below) - 0.5) / PERF_CAST_(double, upto - below);
        if (turn % 4 == 3)                          /* the last number before hi: do equal ones   */
            t = hi - (hi < 0.0 ? -hi : hi) * 1.2e-16 - 5e-324;      /* begin at hi?               */
        else if (turn)                              /* halve, too: interpolation may crawl        */
            t = lo + (turn % 4 == 2 ? 0.5 : f) * (hi - lo);
        if (!(t > lo && t < hi))
            t = lo + 0.5 * (hi - lo);
        if (!(t < hi))
            t = lo;                                 /* no number between lo and hi                */
        c = perf_walsh_count_(d, n, t, &top);
        if (c >= k) {
            hi = top;
            upto = c;
        } else if (!(t > lo)) {
            break;
        } else {
            lo = t;
            below = c;
        }
    }
    return hi;
}

/* Log interval of the centre of d: estimate = median of the Walsh averages.  Sorts d. */
PERF_FN perf_interval perf_signed_rank_(double *d, size_t n, double tail)
{
    perf_interval r;
    uint64_t      m = n, k = perf_signed_rank_k_(n, tail);

    m = m * (m + 1) / 2;                            /* Walsh averages                             */
    perf_sort_values(d, n);
    r.estimate = perf_walsh_kth_(d, n, (m + 1) / 2);
    if (m % 2 == 0)
        r.estimate = 0.5 * (r.estimate + perf_walsh_kth_(d, n, m / 2 + 1));
    r.low = k ? perf_walsh_kth_(d, n, k) : -PERF_INF_;
    r.high = k ? perf_walsh_kth_(d, n, m + 1 - k) : PERF_INF_;
    return r;
}

/* Lower limit of quantile p of positive values by Nyblom's interpolation between order statistics
 * (1992); sign -1 reads the array backwards, for the upper limit; 0, infinite: there is none.    */
PERF_FN double perf_nyblom_(const double *sorted, size_t n, double p, double tail, int sign)
{
    double nn = PERF_CAST_(double, n), low, next, x, y, lambda, k;
    uint64_t r = perf_rank_low_(nn, p, tail);       /* P(Bin >= r) >= 1 - tail                    */

    if (!r || !perf_rank_low_(nn, 1.0 - p, tail))   /* both sides or none: it is not right yet    */
        return sign > 0 ? 0.0 : PERF_INF_;
    x = sign > 0 ? sorted[r - 1] : sorted[n - r];
    if (r >= n)
        return x;
    y = sign > 0 ? sorted[r] : sorted[n - r - 1];
    k = PERF_CAST_(double, r);
    low = 1.0 - perf_binomial_cdf(k - 1.0, nn, p);
    next = 1.0 - perf_binomial_cdf(k, nn, p);
    if (!(low > 1.0 - tail))
        return x;
    lambda = 1.0 / (1.0 + k * (1.0 - p) / ((nn - k) * p) * (1.0 - tail - next) /
                              (low - (1.0 - tail)));
    return x + lambda * (y - x);
}

PERF_FN perf_interval perf_hull_(perf_interval x, perf_interval y)
{
    x.low = y.low < x.low ? y.low : x.low;
    x.high = y.high > x.high ? y.high : x.high;
    return x;
}

/* Log interval of the ratio of two quantiles: MOVER (Zou and Donner 2008) on the limits of each
 * arm.  `shrink` narrows it for pairs that vary together, 1 for separate samples.  Where the values
 * jump from one speed to another, the limits at ranks so much nearer are farther: these, too.   */
PERF_FN perf_interval perf_quantile_ratio_(const double *a, size_t na, const double *b, size_t nb,
                                           double p, double tail, double shrink)
{
    perf_interval r, jump;
    double la = perf_nyblom_(a, na, p, tail, 1), ua = perf_nyblom_(a, na, 1.0 - p, tail, -1);
    double lb = perf_nyblom_(b, nb, p, tail, 1), ub = perf_nyblom_(b, nb, 1.0 - p, tail, -1);
    double ta = perf_log(perf_quantile(a, na, p)), tb = perf_log(perf_quantile(b, nb, p));
    double down_a = ta - perf_log(la), up_a = perf_log(ua) - ta;
    double down_b = tb - perf_log(lb), up_b = perf_log(ub) - tb;

    r.estimate = tb - ta;
    r.low = r.estimate - shrink * perf_sqrt(down_b * down_b + up_a * up_a);
    r.high = r.estimate + shrink * perf_sqrt(up_b * up_b + down_a * down_a);
    if (!(shrink < 1.0) && !(shrink > 1.0))
        return r;
    tail = perf_normal_cdf(shrink * perf_normal_quantile(tail));
    jump = perf_quantile_ratio_(a, na, b, nb, p, tail, 1.0);
    return perf_is_finite_(jump.high - jump.low) ? perf_hull_(r, jump) : r;
}

/* How much pairing narrows the ratio of quantiles: from how often one alone is below its own. */
PERF_FN double perf_pair_shrink_(const double *a, const double *b, size_t n, double qa, double qb,
                                 double p)
{
    double sum = 0.0, sq = 0.0, nn = PERF_CAST_(double, n), f;
    size_t i;

    for (i = 0; i < n; i++) {
        double c = (b[i] <= qb ? 1.0 : 0.0) - (a[i] <= qa ? 1.0 : 0.0);
        sum += c;
        sq += c * c;
    }
    f = perf_sqrt((sq / nn - sum / nn * (sum / nn)) / (2.0 * p * (1.0 - p)));
    if (f < 1.0) {                                  /* it is an estimate: one standard error more */
        f *= 1.0 + 1.0 / perf_sqrt(2.0 * nn * p * (1.0 - p));
        f = f > 1.0 ? 1.0 : f;
    }
    return f < 0.3 ? 0.3 : f;
}

/* Log interval of mean(b) / mean(a) by Fieller's theorem (1954), each value as a part of its arm's
 * mean.  paired: covariance and n - 1 degrees of freedom, else Welch's.  Skewed values make t
 * unequal on its two sides: the end that this leaves too short moves out by Johnson's correction
 * (1978), 2.5 times, because small samples show less skewness than there is (docs/statistics.md).*/
PERF_FN perf_interval perf_mean_ratio_(const double *a, size_t na, const double *b, size_t nb,
                                       double tail, int paired)
{
    perf_interval r = {-PERF_INF_, 0.0, PERF_INF_};
    perf_moments_ ma = perf_moments_of_(a, na), mb = perf_moments_of_(b, nb);
    double        ka = PERF_CAST_(double, na), kb = PERF_CAST_(double, nb), var = 0.0, cubes = 0.0,
                  sa = ma.std / ma.mean, sb = mb.std / mb.mean, df = ka - 1.0, t2, va, vb, cov, qa,
                  qb, root;
    size_t        i;

    r.estimate = perf_log(mb.mean) - perf_log(ma.mean);
    if (na < 2 || nb < 2)
        return r;
    va = (na < nb && sa < sb ? sb * sb : sa * sa) / ka; /* few values see little of a tail: then  */
    vb = (nb < na && sb < sa ? sa * sa : sb * sb) / kb; /* the spread of many counts for them     */
    if (paired) {
        for (i = 0; i < na; i++) {
            double d = b[i] / mb.mean - a[i] / ma.mean;
            var += d * d / (df * ka);
            cubes += d * d * d / (ka * ka * ka);
        }
    } else {
        var = va + vb;
        df = var > 0.0 ? var * var / (va * va / df + vb * vb / (kb - 1.0)) : df;
        cubes = mb.cubes / (kb * kb * kb) - ma.cubes / (ka * ka * ka);
    }
    cov = 0.5 * (va + vb - var);
    t2 = perf_t_quantile(1.0 - tail, df);
    t2 *= t2;
    qa = 1.0 - t2 * va;                             /* the ratios theta with                      */
    qb = 1.0 - t2 * cov;                            /* qa theta^2 - 2 qb theta + 1 - t2 vb <= 0   */
    root = t2 * (var - t2 * (va * vb - cov * cov)); /* a quarter of its discriminant              */
    if (!(qa > 1e-9))                               /* the baseline's mean may be 0, nearly       */
        return r;
    root = root > 0.0 ? perf_sqrt(root) : 0.0;
    r.high = r.estimate + perf_log((qb + root) / qa);
    r.low = qb > root ? r.estimate + perf_log((qb - root) / qa) : -PERF_INF_;
    cubes = var > 0.0 ? 2.5 * cubes / (6.0 * var) * (1.0 + 2.0 * t2) : 0.0;
    r.high += cubes > 0.0 ? cubes : 0.0;
    r.low += cubes < 0.0 ? cubes : 0.0;
    return r;
}

PERF_FN double perf_metric_p_(perf_metric m)
{
    return m == PERF_METRIC_P99 ? 0.99 : m == PERF_METRIC_P95 ? 0.95 : 0.5;
}

/* A verdict that says nothing yet, with the rule it will be held against. */
PERF_FN perf_verdict perf_verdict_start_(const perf_compare_opts *o)
{
    perf_verdict v = PERF_ZERO;

    v.reason = "no measurements";
    v.rule = o->rule;
    v.threshold = perf_rule_threshold(&o->rule);
    v.confidence = o->confidence;
    v.ratio.high = v.speedup.high = PERF_INF_;
    v.ratio.estimate = v.speedup.estimate = PERF_NAN_;
    v.min_detectable_change = v.pairs_needed = PERF_INF_;
    if (perf_is_nan_(v.threshold) || perf_is_nan_(v.confidence) || perf_is_nan_(o->tick) ||
        PERF_CAST_(unsigned, o->rule.metric) > PERF_METRIC_THROUGHPUT ||
        PERF_CAST_(unsigned, o->design) > PERF_DESIGN_SEPARATE || o->rules > 1000 || o->rules < 0 ||
        !perf_tolerance_ok_(&o->guard.limit)) {
        v.status = PERF_EINVAL;
        v.reason = "the rule or an option is out of its range";
    }
    return v;
}

/* Withholds the decision for `reason`, whatever the numbers say.  Wrong outputs stay REJECTed. */
PERF_FN void perf_verdict_cap_(perf_verdict *v, const char *reason)
{
    if (v->decision == PERF_INCONCLUSIVE || (v->warnings & PERF_WARN_OUTPUTS))
        return;
    v->decision = PERF_INCONCLUSIVE;
    v->reason = reason;
    v->pairs_needed = PERF_INF_;
}

PERF_FN void perf_verdict_guard(perf_verdict *v, const perf_guard *g)
{
    if (!v || !g || !perf_guard_asked_(g) || (v->status != PERF_OK && !v->pairs))
        return;                                     /* what was not measured stays so             */
    if (!perf_tolerance_ok_(&g->limit)) {
        perf_verdict_cap_(v, "a limit of the accuracy check is negative or not a number");
    } else if (g->seen.compared && !perf_accuracy_ok(&g->seen, &g->limit)) {
        v->decision = PERF_REJECT;
        v->reason = "the outputs differ by more than the tolerance";
        v->warnings |= PERF_WARN_OUTPUTS;
        v->pairs_needed = 0.0;
    } else if (!g->seen.compared && v->decision == PERF_ACCEPT) {
        perf_verdict_cap_(v, "fast enough, but the required accuracy check was not made");
    }
}

/* Fills in the verdict from a log interval that already includes the resolution of the clock. */
PERF_FN void perf_verdict_finish_(perf_verdict *v, perf_interval log_ratio, double n,
                                  const perf_compare_opts *o)
{
    double t = perf_log(v->threshold), h, gap;

    v->ratio.low = perf_exp(log_ratio.low);
    v->ratio.estimate = perf_exp(log_ratio.estimate);
    v->ratio.high = perf_exp(log_ratio.high);
    v->speedup.low = perf_exp(-log_ratio.high);
    v->speedup.estimate = perf_exp(-log_ratio.estimate);
    v->speedup.high = perf_exp(-log_ratio.low);
    h = 0.5 * (log_ratio.high - log_ratio.low);
    if (perf_is_finite_(h))                         /* 2.80 = z(.975) + z(.80)                    */
        v->min_detectable_change = perf_exp(h * (2.80 / 1.96)) - 1.0;
    if (log_ratio.high < t) {
        v->decision = PERF_ACCEPT;
        v->reason = "the whole interval clears the threshold";
    } else if (log_ratio.low > t) {
        v->decision = PERF_REJECT;
        v->reason = "the whole interval misses the threshold";
    } else {
        v->decision = PERF_INCONCLUSIVE;
        v->reason = perf_is_finite_(h) ? "the interval contains the threshold"
                                       : "too few measurements for an interval";
    }
    v->pairs_needed = 0.0;
    if (v->decision == PERF_INCONCLUSIVE) {
        size_t min = perf_quantile_min_count(perf_metric_p_(v->rule.metric), v->confidence);
        gap = (log_ratio.estimate - t) / h;
        v->pairs_needed = n * (2.04 / (gap * gap) - 1.0);       /* 2.04 = (2.80 / 1.96)^2         */
        if (!perf_is_finite_(h))
            v->pairs_needed = PERF_CAST_(double, min) > n ? PERF_CAST_(double, min) - n : n;
        if (!(v->pairs_needed >= 1.0))
            v->pairs_needed = 1.0;
    }
    if (!perf_is_finite_(h))
        v->warnings |= PERF_WARN_UNBOUNDED;
    perf_verdict_guard(v, &o->guard);
}

PERF_FN perf_interval perf_widen_(perf_interval x, double by)
{
    by += 1e-12;                                    /* rounding of the logs: ties stay ties       */
    x.low -= by;
    x.high += by;
    return x;
}

/* 1: one value is so large a part of the sum that the mean says little about the others. */
PERF_FN int perf_mean_hostage_(const double *sorted, size_t n)
{
    return (sorted[n - 1] - perf_quantile(sorted, n, 0.5)) / PERF_CAST_(double, n) >
           0.1 * perf_moments_of_(sorted, n).mean;
}

/* Are sorted log ratios lopsided?  Arms of one shape differ by a shift of logs, and then d is
 * symmetric.  Signed ranks of the distances to the median are summed; 0.126 n^3 is the variance
 * for normal d.  1 above so many standard errors: 1.4 where a false 1 only costs width and a miss
 * may cost a wrong answer (rates: docs/statistics.md), 2.58 where it is said: 1 in 100.  What the
 * step of a clock may hide, as a log, is no difference.                                          */
PERF_FN int perf_lopsided_(const double *d, size_t n, double errors, double step)
{
    double m = perf_quantile(d, n, 0.5), rank = n % 2 ? 1.0 : 0.0, sum = 0.0, down, up;
    size_t low = n / 2, high = (n + 1) / 2;         /* what is left: below low, from high on      */

    while (low > 0 || high < n) {
        down = low > 0 ? m - d[low - 1] : PERF_INF_;
        up = high < n ? d[high] - m : PERF_INF_;
        rank += 1.0;
        if (high == n || up - step > down) {
            sum -= rank;
            low--;
        } else if (low == 0 || up < down - step) {
            sum += rank;
            high++;
        } else {                                    /* the same rank on both sides                */
            rank += 1.0;
            low--;
            high++;
        }
    }
    return sum * sum > errors * errors * 0.126 * rank * rank * rank;
}

/* 1: the middle halves of the sorted arms differ so much in relative width that their shapes do,
 * too.  3.3 / sqrt(n) is twice the standard error of the log of the quotient for normal values.  */
PERF_FN int perf_unlike_(const double *a, const double *b, size_t n)
{
    double most = perf_exp(3.3 / perf_sqrt(PERF_CAST_(double, n)));
    double x = perf_log(a[n - 1 - n / 4] / a[n / 4]), y = perf_log(b[n - 1 - n / 4] / b[n / 4]);

    return x > y * most || y > x * most;
}

/* The log interval of the chosen metric for two arms.  d holds log ratios per pair with room for
 * the sorted arms behind them, or is NULL for separate samples, which are sorted where they are. */
PERF_FN void perf_verdict_arms_(perf_verdict *v, double *a, size_t na, double *b, size_t nb,
                                double *d, const perf_compare_opts *o)
{
    perf_interval r = {0.0, 0.0, 0.0};
    perf_metric   metric = o->rule.metric;
    double        p = perf_metric_p_(metric), tail = 0.5 - 0.5 * o->confidence, tick, shrink = 1.0;
    double        step, t = perf_log(v->threshold), *x = d ? d + na : a, *y = d ? x + na : b;
    int           exact, shape = 0;
    int           typical = metric == PERF_METRIC_PAIR || metric == PERF_METRIC_MEMORY ||
                            metric == PERF_METRIC_THROUGHPUT;
    int           quantile = metric != PERF_METRIC_MEAN && !(d && typical);

    if (metric == PERF_METRIC_MEAN)
        r = perf_mean_ratio_(a, na, b, nb, tail, d != PERF_NULL_);
    PERF_LIBC_(memmove)(x, a, na * sizeof *a);
    PERF_LIBC_(memmove)(y, b, nb * sizeof *b);
    perf_sort_values(x, na);
    perf_sort_values(y, nb);
    if (d && typical) {
        r = perf_signed_rank_(d, na, tail);
        shape = perf_lopsided_(d, na, 1.4, 0.0) || perf_unlike_(x, y, na);
    }
    if (d && (shape || quantile))
        shrink = perf_pair_shrink_(a, b, na, perf_quantile(x, na, p), perf_quantile(y, nb, p), p);
    a = x;
    b = y;
    exact = (o->rule.memory || metric == PERF_METRIC_MEMORY) && !(o->tick > 0.0);
    tick = perf_tick_log_(a, na, b, nb, exact ? -1.0 : o->tick, 0); /* bytes are counted          */
    if (metric == PERF_METRIC_THROUGHPUT && !(o->tick < 0.0)) {
        step = perf_tick_log_(a, na, b, nb, 0.0, 1);
        tick = step > tick ? step : tick;
    }
    if (metric == PERF_METRIC_MEAN && (perf_mean_hostage_(a, na) || perf_mean_hostage_(b, nb)))
        v->warnings |= PERF_WARN_MEAN;
    if (quantile)
        r = perf_quantile_ratio_(a, na, b, nb, p, tail, shrink);
    if (d && metric == PERF_METRIC_P50 && na < 32)  /* medians of few jump between two speeds     */
        r = perf_hull_(r, perf_signed_rank_(d, na, tail));
    if (shape) {                                    /* then three ways to say "typical" differ:   */
        v->warnings |= PERF_WARN_SHAPE;             /* what is said holds for all of them         */
        r = perf_hull_(r, perf_quantile_ratio_(a, na, b, nb, p, tail, shrink));
        r = perf_hull_(r, perf_quantile_interval(d, na, 0.5, o->confidence));
        r.estimate = perf_quantile(d, na, 0.5);
    }
    if (tick > 0.0 && tick > 0.1 * (r.high - r.low))
        v->warnings |= PERF_WARN_RESOLUTION;
    v->pairs = na < nb ? na : nb;
    perf_verdict_finish_(v, perf_widen_(r, tick), PERF_CAST_(double, v->pairs), o);
    if (v->decision == PERF_INCONCLUSIVE && (r.high < t || r.low > t) && tick > 0.0) {
        v->reason = "the clock is too coarse for this: time more work at once";
        v->pairs_needed = PERF_INF_;
    }
    if (v->warnings & PERF_WARN_MEAN)
        perf_verdict_cap_(v, "one value carries over 10 % of the sum: the mean is not identified");
}

PERF_FN int perf_is_duration_(double x)
{
    return perf_is_finite_(x) && x > 0.0;
}

/* Both kinds of comparison; pairs: nx = ny.  With joined rules `strict` must say REJECT, too, at
 * the confidence at which all together err as seldom as one.  ACCEPT needs none: all must agree. */
PERF_FN perf_verdict perf_compare_arms_(const double *x, size_t nx, const double *y, size_t ny,
                                        int paired, perf_compare_opts o)
{
    perf_verdict v = perf_verdict_start_(&o), strict;
    double       rules = PERF_CAST_(double, o.rules);
    double       local[5 * 128], *a, *b, *d;
    size_t       n = nx > ny ? nx : ny, na = 0, nb = 0, i;
    int          rates = o.rule.metric == PERF_METRIC_THROUGHPUT;

    if (v.status == PERF_OK && (!nx || !ny || !x || !y))
        v.status = nx && ny ? PERF_EINVAL : PERF_ENODATA;
    if (v.status != PERF_OK)
        return v;
    if (o.rules > 1) {
        perf_compare_opts alone = o;
        alone.rules = o.rules = 1;
        o.confidence = 1.0 - (1.0 - o.confidence) / rules;
        strict = perf_compare_arms_(x, nx, y, ny, paired, o);
        v = perf_compare_arms_(x, nx, y, ny, paired, alone);
        v.ratio.low = strict.ratio.low;
        v.speedup.high = strict.speedup.high;
        if (v.decision == PERF_REJECT && strict.decision != PERF_REJECT) {
            v.decision = PERF_INCONCLUSIVE;
            v.reason = "alone it would be REJECT; among several rules that is not sure enough";
            v.pairs_needed = strict.pairs_needed;
        }
        return v;
    }
    a = n > SIZE_MAX / 64 ? PERF_NULL_ : perf_scratch_(local, 5 * 128, 5 * n);
    if (!a) {
        v.status = PERF_ENOMEM;
        return v;
    }
    b = a + n;
    d = b + n;
    for (i = 0; i < n; i++) {
        int good_x = i < nx && perf_is_duration_(x[i]), good_y = i < ny && perf_is_duration_(y[i]);
        if (paired && good_x && good_y)
            d[na] = perf_log(y[i]) - perf_log(x[i]);
        if (good_x && (good_y || !paired))
            a[na++] = x[i];
        if (good_y && (good_x || !paired))
            b[nb++] = y[i];
    }
    v.excluded = nx - na + (paired ? 0 : ny - nb);
    for (i = 0; i < na && paired && rates; i++)
        d[i] = -d[i];
    if (na && nb)                                   /* of rates more is better: arms change sides */
        perf_verdict_arms_(&v, rates ? b : a, rates ? nb : na, rates ? a : b, rates ? na : nb,
                           paired ? d : PERF_NULL_, &o);
    v.baseline_values = paired ? 0 : na;
    v.candidate_values = paired ? 0 : nb;
    perf_scratch_free_(a, local);
    if (v.excluded) {
        v.status = na && nb ? PERF_ERANGE : PERF_ENODATA;
        v.warnings |= PERF_WARN_BAD_VALUES;
        perf_verdict_cap_(&v, "some values are no positive numbers: measure again");
    }
    if (o.design == PERF_DESIGN_SEPARATE || (o.design != PERF_DESIGN_RANDOM && !paired)) {
        v.warnings |= PERF_WARN_ORDER;
        perf_verdict_cap_(&v, "not interleaved: a drift between the two runs would look the same");
    }
    return v;
}

PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts)
{
    return perf_compare_arms_(baseline, n, candidate, n, 1, perf_compare_opts_resolved(opts));
}

PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts)
{
    return perf_compare_arms_(baseline, nb, candidate, nc, 0, perf_compare_opts_resolved(opts));
}

PERF_FN const char *perf_decision_text(perf_decision d)
{
    return d == PERF_ACCEPT ? "ACCEPT" : d == PERF_REJECT ? "REJECT" : "INCONCLUSIVE";
}

/* A factor, "1.42x", or a change of so many percent. */
PERF_FN void perf_put_change_(perf_out_ *o, double x, int factor, int digits)
{
    double shown = factor ? x : (x - 1.0) * 100.0;

    if (perf_is_finite_(shown)) {
        perf_put_(o, factor || shown < 0.0 ? "" : "+");
        perf_put_fixed_(o, shown, factor && x < 0.001 ? 9 : digits);
        perf_put_(o, factor ? "x" : " %");
    } else {
        perf_put_(o, "unbounded");
    }
}

/* All digits of what was asked for.  A rate "down" would be worse: its inverse is meant. */
PERF_FN void perf_put_rule_(perf_out_ *o, const perf_rule *r)
{
    static const char *const what[] = {"time", "median", "p95", "p99", "mean", "memory",
                                       "throughput", "1 / throughput"};
    int         factor = r->kind == PERF_RULE_SPEEDUP, down = r->kind == PERF_RULE_REDUCTION;
    int         k = PERF_CAST_(int, r->metric) + (down && r->metric == PERF_METRIC_THROUGHPUT);
    int         plain = factor && !k && !r->memory, digits = 0;
    double      p = r->amount > 1e-7 && r->amount < 1e15 ? perf_step_decimal_(r->amount) : 1.0;

    for (p = (factor || r->amount < 10.0) && p > 0.1 ? 0.1 : p; p < 0.5 && digits < 6; p *= 10.0)
        digits++;
    perf_put_(o, r->memory ? "memory " : "");
    perf_put_(o, plain ? "speed-up" : PERF_CAST_(unsigned, r->metric) > 6 ? "metric" : what[k]);
    perf_put_(o, plain ? " >= " : factor ? " better by >= " : down ? " down by >= "
                                                                   : " no more than ");
    perf_put_fixed_(o, r->amount, digits);
    perf_put_(o, factor ? "x" : down ? " %" : " % worse");
}

/* "1.42x (95 % CI 1.38x to 1.46x)"; in a table "+2.1 % [-0.3 %, +4.6 %]", or no interval. */
PERF_FN void perf_put_interval_(perf_out_ *o, const perf_verdict *v, int speedup, int table)
{
    int rate = v->rule.metric == PERF_METRIC_THROUGHPUT;    /* then ratios are of its inverse     */
    const perf_interval *x = speedup || rate ? &v->speedup : &v->ratio;
    double width = (speedup ? 1.0 : 100.0) * (x->high - x->low), percent = v->confidence * 100.0;
    int    digits, open = !perf_is_finite_(x->high) || !(v->ratio.low > 0.0) ||
                          !perf_is_finite_(v->ratio.high);

    for (digits = 1; digits < 5 && width < 10.0; digits++)      /* show two digits of the width:  */
        width *= 10.0;
    digits -= digits > 2;                           /* 0.37 -> 2, 0.0021 -> 4; 1 to 4             */
    perf_put_change_(o, x->estimate, speedup, !open ? digits : table ? 1 : 2);
    perf_put_(o, !open ? table ? " [" : " (" : table ? "" : " (no interval yet)");
    if (open)
        return;
    if (!table)
        perf_putf_(o, perf_step_decimal_(percent) > 0.5 ? "%.0f %% CI " :
                      percent > 99.55 ? "%.4f %% CI " : "%.1f %% CI ", percent);
    perf_put_change_(o, x->low, speedup, digits);
    perf_put_(o, table ? ", " : " to ");
    perf_put_change_(o, x->high, speedup, digits);
    perf_put_char_(o, table ? ']' : ')');
}

PERF_FN const char *perf_verdict_text(perf_verdict *v)
{
    perf_out_ o;

    if (!v)
        return "";
    o = perf_out_open_(v->text, sizeof v->text);
    perf_putf_(&o, "%s: ", perf_decision_text(v->decision));
    if (!v->pairs) {
        perf_putf_(&o, "not measured: %s", v->reason ? v->reason : perf_status_text(v->status));
        return v->text;
    }
    if (v->rule.kind == PERF_RULE_SPEEDUP)
        perf_put_(&o, "speed-up ");
    perf_put_interval_(&o, v, v->rule.kind == PERF_RULE_SPEEDUP, 0);
    perf_put_(&o, ", asked: ");
    perf_put_rule_(&o, &v->rule);
    perf_putf_(&o, "; %s%s", v->clock ? v->clock : "", v->clock ? "; " : "");
    if (v->baseline_values)
        perf_putf_(&o, "%.0f and %.0f values; ", PERF_CAST_(double, v->baseline_values),
                   PERF_CAST_(double, v->candidate_values));
    else
        perf_putf_(&o, "%.0f pair%s; ", PERF_CAST_(double, v->pairs), v->pairs == 1 ? "" : "s");
    perf_put_(&o, v->reason ? v->reason : "no reason given");
    if (v->warnings & PERF_WARN_SHAPE)
        perf_putf_(&o, "; %s", perf_warning_text(PERF_WARN_SHAPE));
    if (v->decision == PERF_INCONCLUSIVE && v->pairs_needed > 0.0 && v->pairs_needed < 1e6)
        perf_putf_(&o, "; about %.0f more would probably settle it",
                   PERF_CAST_(double, PERF_CAST_(int64_t, v->pairs_needed + 0.999999)));
    return v->text;
}

/* Floating-point bits as integers in numeric order: their difference counts representable steps. */
PERF_FN double perf_ulp_gap_(uint64_t a, uint64_t b, int bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);

    a = a & sign ? sign - (a & (sign - 1)) : sign + a;
    b = b & sign ? sign - (b & (sign - 1)) : sign + b;
    return PERF_CAST_(double, a > b ? a - b : b - a);
}

PERF_FN void perf_accuracy_add_(perf_accuracy *r, double ref, double out, double ulp)
{
    double d = out - ref, mag = ref < 0.0 ? -ref : ref;

    r->compared++;
    if (perf_is_nan_(ref) && perf_is_nan_(out))
        return;                                     /* both say "not a number": they agree        */
    if (!perf_is_finite_(ref) || !perf_is_finite_(out)) {
        if (ulp > 0.0 || perf_is_nan_(ref) || perf_is_nan_(out))
            r->max_abs = r->max_rel = r->max_ulp = PERF_NAN_;
        return;
    }
    if (perf_is_nan_(r->max_abs))
        return;
    d = d < 0.0 ? -d : d;
    r->max_abs = d > r->max_abs ? d : r->max_abs;
    r->max_ulp = ulp > r->max_ulp ? ulp : r->max_ulp;
    if (d > 0.0 && (!(mag > 0.0) || d / mag > r->max_rel))
        r->max_rel = mag > 0.0 ? d / mag : PERF_INF_;
}

/* Exactly one of the two kinds of arrays is not NULL. */
PERF_FN perf_accuracy perf_accuracy_of_(const double *x, const double *y, const float *x32,
                                        const float *y32, size_t n)
{
    perf_accuracy r = PERF_ZERO;
    uint32_t      a, b;
    size_t        i;

    if (!n || !(x ? y != PERF_NULL_ : x32 && y32)) {
        r.max_abs = r.max_rel = r.max_ulp = PERF_NAN_;
        return r;
    }
    for (i = 0; i < n && x; i++)
        perf_accuracy_add_(&r, x[i], y[i], perf_ulp_gap_(perf_bits_(x[i]), perf_bits_(y[i]), 64));
    for (i = 0; i < n && x32; i++) {
        PERF_LIBC_(memcpy)(&a, x32 + i, sizeof a);
        PERF_LIBC_(memcpy)(&b, y32 + i, sizeof b);
        perf_accuracy_add_(&r, PERF_CAST_(double, x32[i]), PERF_CAST_(double, y32[i]),
                           perf_ulp_gap_(a, b, 32));
    }
    return r;
}

PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n)
{
    return perf_accuracy_of_(reference, out, PERF_NULL_, PERF_NULL_, n);
}

PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n)
{
    return perf_accuracy_of_(PERF_NULL_, PERF_NULL_, reference, out, n);
}

PERF_FN int perf_accuracy_ok(const perf_accuracy *seen, const perf_tolerance *limit)
{
    perf_tolerance none = PERF_ZERO;

    limit = limit ? limit : &none;
    if (!seen || !seen->compared || perf_is_nan_(seen->max_abs) || !perf_tolerance_ok_(limit))
        return 0;
    if (!(limit->abs > 0.0) && !(limit->rel > 0.0) && !(limit->ulp > 0.0))
        return seen->max_abs <= 0.0 && seen->max_rel <= 0.0 && seen->max_ulp <= 0.0;
    return (!(limit->abs > 0.0) || seen->max_abs <= limit->abs) &&
           (!(limit->rel > 0.0) || seen->max_rel <= limit->rel) &&
           (!(limit->ulp > 0.0) || seen->max_ulp <= limit->ulp);
}

/* ---- rules from text, families ---- */

/* Skips blanks and, without regard to case, `word`; NULL when it is not there. */
PERF_FN const char *perf_skip_word_(const char *s, const char *word)
{
    while (*s == ' ' || *s == '\t')
        s++;
    for (; *word && (*s >= 'A' && *s <= 'Z' ? *s + 32 : *s) == *word; word++)
        s++;
    return *word ? PERF_NULL_ : s;
}

/* A plain decimal number; NULL when there is none. */
PERF_FN const char *perf_skip_number_(const char *s, double *out)
{
    double x = 0.0, unit = 0.0;                     /* unit 0: no point yet                       */
    int    digits = 0;

    for (s = perf_skip_word_(s, ""); digits < 15; s++)
        if (*s >= '0' && *s <= '9') {
            x = 10.0 * x + (*s - '0');
            unit *= 10.0;
            digits++;
        } else if (*s == '.' && !(unit > 0.0)) {
            unit = 1.0;
        } else {
            break;
        }
    *out = unit > 0.0 ? x / unit : x;
    return digits && digits < 15 ? s : PERF_NULL_;
}

PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out)
{
    static const char *const metric[] = {"time", "p50", "p95", "p99", "mean", "memory",
                                         "throughput"};
    static const char *const form[4][2] = {{"speedup", ">="}, {"speed-up", ">="},
                                           {"no regression", "beyond"}, {"down", ">="}};
    perf_rule   r = PERF_ZERO;
    const char *s = text, *t;
    int         i;

    if (!s || !out)
        return PERF_EINVAL;
    if ((t = perf_skip_word_(s, "latency")) != PERF_NULL_)
        s = t;
    for (i = 0; i < 7; i++)
        if ((t = perf_skip_word_(s, metric[i])) != PERF_NULL_) {
            r.metric = PERF_CAST_(perf_metric, i);
            s = t;
            break;
        }
    for (i = 0, t = PERF_NULL_; i < 4 && !t; i++) {
        t = perf_skip_word_(s, form[i][0]);
        t = t ? perf_skip_word_(t, form[i][1]) : t;
    }
    s = t ? perf_skip_number_(t, &r.amount) : t;
    if (!s)
        return PERF_EFORMAT;
    r.kind = i < 3 ? PERF_RULE_SPEEDUP : i == 3 ? PERF_RULE_NO_REGRESSION : PERF_RULE_REDUCTION;
    r = perf_rule_make_(r.kind, r.metric, r.amount);
    if ((t = perf_skip_word_(s, r.kind == PERF_RULE_SPEEDUP ? "x" : "%")) != PERF_NULL_)
        s = t;
    if ((t = perf_skip_word_(s, "on")) != PERF_NULL_) {
        for (i = 0; i < 7 && !perf_skip_word_(t, metric[i]); i++)
            ;
        if (i == 7)
            return PERF_EFORMAT;
        r.memory = r.metric == PERF_METRIC_MEMORY && i >= PERF_METRIC_P50 && i <= PERF_METRIC_MEAN;
        if (!r.memory && r.metric != PERF_METRIC_PAIR && r.metric != PERF_CAST_(perf_metric, i))
            return PERF_EFORMAT;                    /* two metrics: which one?                    */
        r.metric = PERF_CAST_(perf_metric, i);
        s = perf_skip_word_(t, metric[i]);
    }
    if (*perf_skip_word_(s, "") || perf_is_nan_(perf_rule_threshold(&r)))
        return PERF_EFORMAT;
    *out = r;
    return PERF_OK;
}

PERF_FN double perf_compare_pairs_p(const double *baseline, const double *candidate, size_t n,
                                    const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    double            lo = perf_log(1e-6), hi = 0.0, mid;               /* log of 1 - confidence  */
    int               i;

    PERF_LIBC_(memset)(&o.guard, 0, sizeof o.guard);
    for (i = 0; i < 31; i++) {                      /* first 0.5, if at all                       */
        mid = i ? 0.5 * (lo + hi) : perf_log(0.5);
        o.confidence = 1.0 - perf_exp(mid);
        if (perf_compare_arms_(baseline, n, candidate, n, 1, o).decision != PERF_INCONCLUSIVE)
            hi = mid;
        else if (i)
            lo = mid;
        else
            return 1.0;
    }
    return perf_exp(hi);
}

PERF_FN perf_status perf_adjust_holm(const double *p, size_t n, double *out)
{
    double local[512], *sorted, *adjusted, run = 0.0, a;
    size_t i, low, high, k;

    if (!p || !out || !n)
        return n ? PERF_EINVAL : PERF_ENODATA;
    sorted = n > SIZE_MAX / 32 ? PERF_NULL_ : perf_scratch_(local, 512, 2 * n);
    if (!sorted)
        return PERF_ENOMEM;
    adjusted = sorted + n;
    for (i = 0; i < n; i++)
        sorted[i] = out[i] = p[i] >= 0.0 ? p[i] : 1.0;
    perf_sort_values(sorted, n);
    for (i = 0; i < n; i++) {                       /* running maxima of (n - i) p, at most 1     */
        a = sorted[i] * PERF_CAST_(double, n - i);
        adjusted[i] = run = a > 1.0 ? 1.0 : a > run ? a : run;
    }
    for (i = 0; i < n; i++) {                       /* its place; equal p share that of the first */
        for (low = 0, high = n; low < high;) {
            k = low + (high - low) / 2;
            if (sorted[k] < out[i])
                low = k + 1;
            else
                high = k;
        }
        out[i] = adjusted[low];
    }
    perf_scratch_free_(sorted, local);
    return PERF_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014): 64 random bits. */
PERF_FN uint64_t perf_random_(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- sequential ---- */

/* One round of bets: each stakes a fixed share of its capital on x having the sign of `toward`.
 * Returns the sum of the capitals, which starts at 1 and exceeds L with probability at most 1/L if
 * the signs are fair (Ville 1939).  The stakes cover weak and strong effects; seven pairs that
 * agree make 43, which passes 40.                                                                */
PERF_FN double perf_seq_bet_(double *capital, double x, double toward)
{
    static const double stake[PERF_SEQ_BETS_] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0};
    double win = x * toward > 0.0 ? 1.0 : x * toward < 0.0 ? -1.0 : 0.0, sum = 0.0;
    int    i;

    for (i = 0; i < PERF_SEQ_BETS_; i++)
        sum += capital[i] *= 1.0 + stake[i] * win;
    return sum;
}

PERF_FN void perf_seq_start_(double *capital)
{
    static const double share[PERF_SEQ_BETS_] = {0.04, 0.06, 0.12, 0.20, 0.22, 0.17, 0.19};

    PERF_LIBC_(memcpy)(capital, share, sizeof share);
}

PERF_FN perf_status perf_seq_init(perf_seq *s, const perf_rule *rule, double confidence,
                                  double tick)
{
    double t = perf_rule_threshold(rule), c = perf_confidence_(confidence);

    if (!s)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(s, 0, sizeof *s);
    perf_seq_start_(s->accept);
    perf_seq_start_(s->reject);
    s->level = PERF_NAN_;                           /* which no capital reaches                   */
    if (perf_is_nan_(t) || perf_is_nan_(c) || !(tick >= 0.0))
        return PERF_EINVAL;
    s->log_threshold = perf_log(t);
    s->tick = tick + 1e-12;                         /* rounding of the logs: ties stay ties       */
    s->level = 2.0 / (1.0 - c);
    return PERF_OK;
}

PERF_FN perf_decision perf_seq_add(perf_seq *s, double baseline, double candidate)
{
    double d;

    if (!s)
        return PERF_INCONCLUSIVE;
    if (!perf_is_duration_(baseline) || !perf_is_duration_(candidate)) {
        s->excluded++;
        return s->decision;
    }
    s->pairs++;
    if (s->decision != PERF_INCONCLUSIVE || s->pairs > 0x7fffffffu)
        return s->decision;
    d = perf_log(candidate) - perf_log(baseline) - s->log_threshold;
    if (perf_seq_bet_(s->accept, d + s->tick, -1.0) >= s->level)
        s->decision = PERF_ACCEPT;
    if (perf_seq_bet_(s->reject, d - s->tick, 1.0) >= s->level)
        s->decision = s->decision == PERF_ACCEPT ? PERF_INCONCLUSIVE : PERF_REJECT;
    if (s->decision != PERF_INCONCLUSIVE)
        s->decided_at = s->pairs;
    return s->decision;
}

/* 1: the bet that the centre lies in direction `toward` of theta was ever won at `level`. */
PERF_FN int perf_seq_excludes_(const double *d, size_t n, double theta, double toward, double level)
{
    double capital[PERF_SEQ_BETS_];
    size_t i;

    perf_seq_start_(capital);
    for (i = 0; i < n && perf_seq_bet_(capital, d[i] - theta, toward) < level; i++)
        continue;
    return i < n;
}

/* How many of the sorted values, from one end, the bets have excluded on that side.  The capital
 * falls as theta moves towards the data, so the excluded have no gaps: bisection.                */
PERF_FN size_t perf_seq_excluded_(const double *log_ratio, size_t n, const double *sorted, size_t k,
                                  double toward, double level)
{
    size_t low = 0, high = k, mid;                  /* excluded just before the low-th value      */
    double x, y;

    while (high > low) {
        mid = low + (high - low + 1) / 2;
        x = toward > 0.0 ? sorted[mid - 1] : sorted[k - mid];
        y = mid == 1 ? x - toward : toward > 0.0 ? sorted[mid - 2] : sorted[k - mid + 1];
        if (perf_seq_excludes_(log_ratio, n, 0.5 * (x + y), toward, level))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence)
{
    perf_interval r = {-PERF_INF_, PERF_NAN_, PERF_INF_};
    double        c = perf_confidence_(confidence), local[256], *s;
    size_t        i, k = 0, low, high;

    if (!log_ratio || !n || perf_is_nan_(c))
        return r;
    s = perf_scratch_(local, 256, n);
    if (!s)
        return r;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(log_ratio[i]))
            s[k++] = log_ratio[i];
    perf_sort_values(s, k);
    low = perf_seq_excluded_(log_ratio, n, s, k, 1.0, 2.0 / (1.0 - c));
    high = perf_seq_excluded_(log_ratio, n, s, k, -1.0, 2.0 / (1.0 - c));
    r.estimate = perf_quantile(s, k, 0.5);
    if (low)
        r.low = s[low - 1] < r.estimate ? s[low - 1] : r.estimate;
    if (high)                                       /* the median may since have come back over   */
        r.high = s[k - high] > r.estimate ? s[k - high] : r.estimate;   /* the bets' limit        */
    perf_scratch_free_(s, local);
    return r;
}

PERF_END_DECLS

#endif /* PERF_STATS_H */
