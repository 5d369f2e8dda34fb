/* perf_stats.h - summaries, confidence intervals, accept/reject decisions.
 *
 *     perf_summary s = perf_summarize(ns, 100);      // median, p95, p99 with their intervals
 *
 *     perf_verdict v = perf_compare_pairs(old_ns, new_ns, 30, NULL);   // taken in random order
 *     puts(perf_verdict_text(&v));                   // "ACCEPT: speed-up 1.42x (95 % CI ..."
 *
 * C99, C++11, CUDA, Cython.  libc only, no -lm, no global state, no clock, no thread.
 * It measures nothing itself: perf.h does, and has its numbers judged here.
 * Sections (search for ">>"):  summary  compare  sequential  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_STATS_H
#define PERF_STATS_H

#include "perf_hist.h"
#include "perf_math.h"
#include "perf_text.h"
#include "perf_verdict.h"

PERF_BEGIN_DECLS

/* >>summary: without an array the status is PERF_EINVAL, or else the answer is NaN ------- */

/* Summary of x[0..n).  x is not changed; sorts a copy, so it allocates above 256 values. */
PERF_FN perf_summary perf_summarize(const double *x, size_t n);

/* Quantile p (0..1) of a histogram with its exact binomial interval.  confidence 0 means 0.95.  The
 * limits are the outer ends of the buckets that hold the two ranks: it covers no less often than
 * from the values themselves, and is wider by a bucket on either side at most (2^-K each).  A side
 * without bound is +-infinity.  All NaN: no values, or p or confidence out of range.             */
PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *hist, double p,
                                                  double confidence);

/* >>compare: without an array the status is PERF_EINVAL; without a rule the default ------- */

/* A rule by a number that is taken as it is: 0 percent is a threshold of 1; a factor of 0 is no
 * rule (NaN).  (In a perf_rule of your own an amount of 0 takes the default of its kind.)        */
PERF_FN perf_rule perf_rule_make(perf_rule_kind kind, double amount, perf_metric metric);

/* A rule from text: "speedup >= 1.3", "down >= 20 % on p95", "no regression beyond 2 % on mean",
 * "same within 2 %" (neither faster nor slower by more), "cycles no more than 2 % worse".
 * "memory down >= 10 %" names the metric first; "memory down >= 10 % on p95" is about the p95 of
 * memory.  Leading "latency", a trailing "x" or "%" and letter case do not matter; metrics: time
 * p50 p95 p99 mean memory throughput instructions cycles branches branch-misses.
 * NULL: PERF_EINVAL; else PERF_EFORMAT.  Then *out stays.                                        */
PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out);

/* n pairs in the order of time, each measured back to back in an order chosen by a fair coin.
 * Allocates above 128 pairs.  n < 6 is INCONCLUSIVE (95 %; of means n < 2); opts NULL: defaults. */
PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts);

/* Two separate samples, any sizes.  Honest only if the order of all measurements was random: say
 * so with opts->design, or the verdict stays INCONCLUSIVE (the interval is still computed).      */
PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts);

/* One line of English into verdict->text, which it returns.  NULL gives "". */
PERF_FN const char *perf_verdict_text(perf_verdict *verdict);

/* "ACCEPT", "REJECT", "INCONCLUSIVE". */
PERF_FN const char *perf_decision_text(perf_decision decision);

/* Largest errors of out[] against reference[], n elements; NULL or n = 0: `compared` is 0, errors
 * are NaN, and a guard with them lets nothing be ACCEPTed.                                       */
PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n);

/* >>sequential: look after every pair, stop when it is decided ------------------------------------
 * Bets on the signs of log(candidate / baseline) - log(threshold).  If the threshold is the median
 * of the ratio within a pair, the signs are fair whatever the noise and the shapes.  So you may
 * look after every pair, with any budget, and each wrong answer still has a chance of at most half
 * of 1 - confidence (Ville's inequality).  PERF_RULE_SAME has two limits: a wrong REJECT has a
 * chance of at most 1 - confidence.                                                              */
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
    perf_rule_kind kind;
    int            below, above;        /* PERF_RULE_SAME: that limit is known to hold            */
    double         faster[PERF_SEQ_BETS_];      /* ... capital of bets against the lower limit    */
    double         slower[PERF_SEQ_BETS_];      /* ... and for it                                 */
} perf_seq;

/* rule NULL: speed-up >= 1.3x; confidence 0: 0.95; tick: clock resolution / typical value, >= 0;
 * from 2 on nothing can be decided.  PERF_EINVAL: `seq` NULL, or a rule without a threshold: then
 * perf_seq_add never decides.                                                                    */
PERF_FN perf_status perf_seq_init(perf_seq *seq, const perf_rule *rule, double confidence,
                                  double tick);

/* One more pair.  Returns the decision so far; once taken it stays.  Values that are not positive
 * numbers are counted in `excluded` and change nothing.                                          */
PERF_FN perf_decision perf_seq_add(perf_seq *seq, double baseline, double candidate);

/* Interval of the median log ratio that is valid at whatever pair you stopped: log_ratio[0..n) in
 * time order.  At the pair where the bets decide, it excludes the threshold; if you go on and the
 * median comes back over it, the interval follows.  confidence: .5 to below 1, 0 is .95.  Unbounded
 * below 7 pairs (95 %), for another confidence, and when there is no memory above 256.  About
 * 2 log2(n) passes over the data.                                                                */
PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_compare_opts_resolved_  options with their defaults filled in (NULL: all)
 *   perf_step_log_         what a clock's step may hide, as a log
 *   perf_verdict_of_       a verdict from a log interval and what a step hides of it, over n
 *                          measurements; without numbers if that is NULL, or opts are refused
 *   perf_verdict_cap_      withholds a decision, but never a guard's
 *   perf_pairs_judge_      a verdict from the bets on pairs and the log ratios of those
 *   perf_summarize_series_  a summary where neighbours in time may be alike (40 values)
 *   perf_rule_room_        how far a ratio is from another answer
 *   perf_put_rule_, perf_put_interval_  a rule and an answer as words                            */

/* >>private: bodies, callees before their callers; bets and verdicts the other way round ------- */

/* ---- summary ---- */

/* The confidence itself; 0: 0.95.  NaN: outside 0.5 to 0.999999. */
PERF_FN double perf_confidence_(double confidence)
{
    if (perf_is_zero_(confidence))
        return 0.95;
    if (confidence >= 0.5 && confidence <= 0.999999)
        return confidence;
    return PERF_NAN_;
}

/* The same, but up to 1: what is one of many is asked for at a higher one. */
PERF_FN double perf_confidence_of_each_(double confidence)
{
    if (confidence > 0.999999 && confidence < 1.0)
        return confidence;
    return perf_confidence_(confidence);
}

/* `local` if n numbers fit there, else memory; NULL: there is none.  To be given back below. */
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

/* The largest r with P(Bin(n, p) <= r - 1) <= tail.  The r-th smallest value x_(r) is a lower limit
 * with that error; 0: there is none.                                                             */
PERF_FN uint64_t perf_rank_low_(double n, double p, double tail)
{
    uint64_t low = 0, high = PERF_CAST_(uint64_t, n) + 1, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;               /* equality qualifies                         */
        if (perf_binomial_cdf_(PERF_CAST_(double, mid - 1), n, p) <= tail * (1.0 + 1e-12))
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Quantile p (0..1) of an ascending array (type 7) with its exact binomial interval.  confidence 0
 * means 0.95.  A side without bound is +-infinity.  NaN: n is 0, p or confidence out of range.   */
PERF_FN perf_interval perf_quantile_interval_(const double *sorted, size_t n, double p,
                                              double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        tail = 0.5 - 0.5 * perf_confidence_of_each_(confidence);
    double        all = PERF_CAST_(double, n);
    uint64_t      low, high;

    if (!sorted || !n || perf_is_nan_(tail) || !(p >= 0.0 && p <= 1.0))
        return result;
    low = perf_rank_low_(all, p, tail);
    high = perf_rank_low_(all, 1.0 - p, tail);
    result.estimate = perf_quantile_(sorted, n, p);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (low)
        result.low = sorted[low - 1];
    if (high)
        result.high = sorted[n - high];
    return result;
}

/* The same for any number of values.  Above 1e12 it counts in blocks of values, not one by one. */
PERF_FN uint64_t perf_hist_rank_low_(uint64_t count, double p, double tail)
{
    double   n = PERF_CAST_(double, count), block = perf_most_(n / 1e12, 1.0);
    uint64_t rank = PERF_CAST_(uint64_t,
                               block * PERF_CAST_(double, perf_rank_low_(n / block, p, tail)));

    if (rank > count)
        return count;
    return rank;
}

/* The lower end (upper 1: the upper) of the bucket that holds a rank, within the extremes. */
PERF_FN double perf_hist_edge_(const perf_hist *hist, uint64_t rank, int upper)
{
    perf_hist_bucket bucket = PERF_ZERO;
    const double     unit = perf_hist_shape_of_(hist).unit;

    while (perf_hist_next(hist, &bucket) && bucket.below + bucket.count < rank)
        continue;
    if (upper)
        return perf_least_(PERF_CAST_(double, bucket.upper) * unit, perf_hist_quantile(hist, 1.0));
    return perf_most_(PERF_CAST_(double, bucket.lower) * unit, perf_hist_quantile(hist, 0.0));
}

PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *hist, double p,
                                                  double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    uint64_t      count = perf_hist_count(hist), low, high;
    double        tail = 0.5 - 0.5 * perf_confidence_(confidence);

    if (count == 0 || perf_is_nan_(tail) || !(p >= 0.0 && p <= 1.0))
        return result;
    low = perf_hist_rank_low_(count, p, tail);
    high = perf_hist_rank_low_(count, 1.0 - p, tail);
    result.estimate = perf_hist_quantile(hist, p);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (low)
        result.low = perf_hist_edge_(hist, low, 0);
    if (high)
        result.high = perf_hist_edge_(hist, count + 1 - high, 1);
    return result;
}

/* The smallest n with max(p, 1 - p)^n <= (1 - confidence) / 2: fewer values do not bound quantile
 * p.  0: there is none.                                                                          */
PERF_FN size_t perf_quantile_min_count_(double p, double confidence)
{
    double tail = 0.5 - 0.5 * perf_confidence_of_each_(confidence), log_larger, least;
    size_t whole;

    if (perf_is_nan_(tail) || !(p > 0.0 && p < 1.0))
        return 0;
    if (p > 0.5)
        log_larger = perf_log_(p);
    else
        log_larger = perf_log1p_(-p);
    least = perf_log_(tail) / log_larger;
    if (!(least < 0.5 * PERF_CAST_(double, SIZE_MAX)))
        return 0;                                   /* no array has that many                     */
    whole = PERF_CAST_(size_t, least);
    return whole + (least > PERF_CAST_(double, whole));
}

/* Largest i < n with I(i / n; a, b) <= tail: Clopper and Pearson's lower limit, as a place. */
PERF_FN size_t perf_share_low_(size_t n, double a, double b, double tail)
{
    size_t low = 0, high = n, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;
        if (perf_beta_cdf_(PERF_CAST_(double, mid) / PERF_CAST_(double, n), a, b) <= tail)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* n times the variance of the mean of the indicator {x <= quantile}, whose mean is p.  From the
 * means of 10 batches in time order (Korn and Graubard 1998).  At least p (1 - p): never more than
 * n independent values.                                                                          */
PERF_FN double perf_long_run_variance_(const double *x, size_t n, double quantile, double p)
{
    const size_t batches = 10, batch = n / batches;
    double       var = 0.0, off;
    size_t       i, j;

    for (i = 0; i < batches; i++) {
        double below = 0.0;
        for (j = 0; j < batch; j++)
            if (x[i * batch + j] <= quantile)
                below += 1.0;
        off = below / PERF_CAST_(double, batch) - p;
        var += off * off;
    }
    var = var / PERF_CAST_(double, batches - 1) * PERF_CAST_(double, batch);
    if (!(var > p * (1.0 - p)))
        return p * (1.0 - p);
    return var;
}

/* The interval of quantile p of values in time order, neighbours of which may be alike.  They count
 * as n p (1 - p) / variance * (z / t_9)^2 independent ones.  Clopper and Pearson's limits of p at
 * that number are read back as quantiles (Woodruff 1952).  All NaN: fewer than 40, no memory
 * above 256, x NULL, or p or confidence out of range.                                            */
PERF_FN perf_interval perf_quantile_interval_series_(const double *x, size_t n, double p,
                                                     double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        local[256], *sorted, var, z_by_t, effective, below, edge, tail;
    size_t        from_top;

    confidence = perf_confidence_(confidence);
    tail = 0.5 - 0.5 * confidence;
    if (!x || n < 40 || perf_is_nan_(tail) || !(p > 0.0 && p < 1.0))
        return result;
    sorted = perf_scratch_(local, 256, n);
    if (!sorted)
        return result;
    PERF_LIBC_(memcpy)(sorted, x, n * sizeof *sorted);
    perf_sort_values_(sorted, n);
    result.low = -PERF_INF_;
    result.estimate = perf_quantile_(sorted, n, p);
    result.high = PERF_INF_;
    var = perf_long_run_variance_(x, n, result.estimate, p);
    z_by_t = perf_normal_quantile_(0.5 + 0.5 * confidence) /
             perf_t_quantile_(0.5 + 0.5 * confidence, 9.0);
    effective = PERF_CAST_(double, n) * p * (1.0 - p) / var * z_by_t * z_by_t;
    if (effective >= 1.0) {
        below = effective * p;
        edge = perf_exp_(perf_log_(tail) / effective);          /* p beyond it has no limit there */
        if (!(1.0 - p > edge))
            result.low = sorted[perf_share_low_(n, below, effective - below + 1.0, tail)];
        from_top = perf_share_low_(n, effective - below, below + 1.0, tail);
        if (from_top == 0)
            from_top = 1;
        if (!(p > edge))
            result.high = sorted[n - from_top];
    }
    perf_scratch_free_(sorted, local);
    return result;
}

typedef struct perf_moments_ {
    double mean;
    double std;                                     /* n - 1 in the denominator                   */
    double cubes;                                   /* sum of (x - mean)^3 / mean^3               */
} perf_moments_;

/* Neumaier's compensated sum of scale * x[i]. */
PERF_FN double perf_sum_scaled_(const double *x, size_t n, double scale)
{
    double sum = 0.0, lost = 0.0;
    size_t i;

    for (i = 0; i < n; i++) {
        double value = x[i] * scale, next = sum + value;
        if (perf_fabs_(sum) >= perf_fabs_(value))
            lost += (sum - next) + value;
        else
            lost += (value - next) + sum;
        sum = next;
    }
    return sum + lost;
}

/* The mean, then the corrected second pass (Chan, Golub, LeVeque 1983).  A power of two scales the
 * largest value to about 1 first, so that no sum and no cube leaves the range.                   */
PERF_FN perf_moments_ perf_moments_of_(const double *x, size_t n)
{
    perf_moments_ moments = PERF_ZERO;
    double        sum = 0.0, squares = 0.0, cubes = 0.0, count = PERF_CAST_(double, n);
    double        largest = 0.0, scale;
    size_t        i;
    int           power;

    for (i = 0; i < n; i++)
        largest = perf_most_(perf_fabs_(x[i]), largest);
    power = 1023 - PERF_CAST_(int, perf_bits_(largest) >> 52);
    if (power > 1000)
        power = 1000;
    if (power < -1022)                              /* the smallest that keeps all digits         */
        power = -1022;
    scale = perf_from_bits_(PERF_CAST_(uint64_t, 1023 + power) << 52);      /* 2^power            */
    if (n)
        moments.mean = perf_sum_scaled_(x, n, scale) / count;
    for (i = 0; i < n; i++) {
        double off = x[i] * scale - moments.mean;
        sum += off;
        squares += off * off;
        cubes += off * off * off;
    }
    squares -= sum * sum / count;
    moments.cubes = cubes / (moments.mean * moments.mean * moments.mean);
    moments.mean /= scale;
    if (n > 1 && squares > 0.0)
        moments.std = perf_sqrt_(squares / (count - 1.0)) / scale;
    return moments;
}

/* The median distance to the median.  Overwrites x. */
PERF_FN double perf_mad_(double *x, size_t n, double median)
{
    size_t i;

    for (i = 0; i < n; i++)
        x[i] = perf_fabs_(x[i] - median);
    perf_sort_values_(x, n);
    return perf_quantile_(x, n, 0.5);
}

/* The numbers of n good values in x, n > 0, which are sorted and overwritten. */
PERF_FN void perf_summary_fill_(perf_summary *summary, double *x, size_t n)
{
    perf_moments_ moments = perf_moments_of_(x, n); /* before sorting: the order of time          */
    perf_interval interval;
    int           bounded;

    perf_sort_values_(x, n);
    summary->count = n;
    summary->min = x[0];
    summary->max = x[n - 1];
    summary->mean = moments.mean;
    summary->std = moments.std;
    interval = perf_quantile_interval_(x, n, 0.50, 0.95);
    summary->p50 = interval.estimate;
    summary->p50_low = interval.low;
    summary->p50_high = interval.high;
    interval = perf_quantile_interval_(x, n, 0.95, 0.95);
    summary->p95 = interval.estimate;
    summary->p95_low = interval.low;
    summary->p95_high = interval.high;
    interval = perf_quantile_interval_(x, n, 0.99, 0.95);
    summary->p99 = interval.estimate;
    summary->p99_low = interval.low;
    summary->p99_high = interval.high;
    bounded = perf_is_finite_(summary->p50_low) && perf_is_finite_(summary->p50_high) &&
              perf_is_finite_(summary->p95_high) && perf_is_finite_(summary->p99_high);
    if (!bounded)
        summary->warnings |= PERF_WARN_UNBOUNDED;
    if ((summary->max - summary->p50) / PERF_CAST_(double, n) > 0.1 * moments.mean)
        summary->warnings |= PERF_WARN_MEAN;
    summary->mad = perf_mad_(x, n, summary->p50);
}

PERF_FN perf_summary perf_summarize(const double *x, size_t n)
{
    perf_summary summary = PERF_ZERO;
    double       local[256], *good;
    size_t       i, count = 0;

    summary.confidence = 0.95;
    summary.status = PERF_ENODATA;
    if (!n)
        return summary;
    summary.status = PERF_EINVAL;
    if (!x)
        return summary;
    good = perf_scratch_(local, 256, n);
    summary.status = PERF_ENOMEM;
    if (!good)
        return summary;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(x[i]) && x[i] >= 0.0)
            good[count++] = x[i];
    summary.excluded = n - count;
    if (summary.excluded)
        summary.warnings |= PERF_WARN_BAD_VALUES;
    summary.status = PERF_ENODATA;
    if (count) {
        summary.status = PERF_OK;
        perf_summary_fill_(&summary, good, count);
    }
    perf_scratch_free_(good, local);
    return summary;
}

/* The summary of values in time order.  From 40 on the interval of its median allows for neighbours
 * that are alike.                                                                                */
PERF_COLD_FN_ perf_summary perf_summarize_series_(const double *x, size_t n)
{
    perf_summary  summary = perf_summarize(x, n);
    perf_interval interval;

    if (n >= 40) {
        interval = perf_quantile_interval_series_(x, n, 0.5, 0.95);
        summary.p50_low = interval.low;
        summary.p50_high = interval.high;
    }
    return summary;
}

/* ---- rules ---- */

/* The rule, with the default amount of its kind in place of 0. */
PERF_FN perf_rule perf_rule_resolved_(perf_rule rule)
{
    if (!perf_is_zero_(rule.amount))
        return rule;
    rule.amount = 2.0;
    if (rule.kind == PERF_RULE_SPEEDUP)
        rule.amount = 1.3;
    if (rule.kind == PERF_RULE_REDUCTION)
        rule.amount = 20.0;
    return rule;
}

PERF_FN perf_rule perf_rule_make(perf_rule_kind kind, double amount, perf_metric metric)
{
    perf_rule rule = {kind, metric, amount, 0};

    if (amount < 0.0 || amount > 0.0)
        return rule;
    rule.amount = PERF_NAN_;
    if (kind != PERF_RULE_SPEEDUP && !perf_is_nan_(amount))
        rule.amount = 5e-324;                       /* a 0 is meant: no default                   */
    return rule;
}

/* The rule (NULL: default) as the largest acceptable ratio candidate / baseline; NaN: invalid.  Of
 * PERF_RULE_SAME its inverse is the smallest.                                                    */
PERF_FN double perf_rule_threshold_(const perf_rule *rule)
{
    perf_rule none = PERF_ZERO, found;
    double    threshold = PERF_NAN_;

    if (!rule)
        rule = &none;
    found = perf_rule_resolved_(*rule);
    if (found.kind == PERF_RULE_SPEEDUP)
        threshold = 1.0 / found.amount;
    else if (found.kind == PERF_RULE_REDUCTION)
        threshold = 1.0 - found.amount / 100.0;
    else if (found.kind == PERF_RULE_NO_REGRESSION || found.kind == PERF_RULE_SAME)
        threshold = 1.0 + found.amount / 100.0;
    if (found.kind == PERF_RULE_SAME && threshold < 1.0)
        return PERF_NAN_;
    if (!perf_is_duration_(threshold))
        return PERF_NAN_;
    return threshold;
}

/* Skips the name of a metric, which goes to *metric; NULL: there is none. */
PERF_FN const char *perf_skip_metric_(const char *text, perf_metric *metric)
{
    static const char *const name[] = {"time", "p50", "p95", "p99", "mean", "memory", "throughput",
                                       "instructions", "cycles", "branches", "branch-misses",
                                       "branch misses"};
    int i;

    for (i = 0; i < 12; i++) {
        const char *after = perf_skip_word_(text, name[i]);
        if (after) {
            *metric = PERF_CAST_(perf_metric, i);
            if (i > PERF_METRIC_BRANCH_MISSES)      /* its other spelling                         */
                *metric = PERF_METRIC_BRANCH_MISSES;
            return after;
        }
    }
    return PERF_NULL_;
}

/* Skips "speedup >=", "no regression beyond", "down >=", "same within" and the amount; NULL: there
 * is none.                                                                                       */
PERF_FN const char *perf_skip_form_(const char *text, perf_rule_kind *kind, double *amount)
{
    static const struct {
        const char    *verb, *relation;
        perf_rule_kind kind;
    } form[6] = {{"speedup", ">=", PERF_RULE_SPEEDUP},
                 {"speed-up", ">=", PERF_RULE_SPEEDUP},
                 {"no regression", "beyond", PERF_RULE_NO_REGRESSION},
                 {"no more", "than", PERF_RULE_NO_REGRESSION},
                 {"down", ">=", PERF_RULE_REDUCTION},
                 {"same", "within", PERF_RULE_SAME}};
    int i;

    for (i = 0; i < 6; i++) {
        const char *after = perf_skip_word_(text, form[i].verb);
        if (after)
            after = perf_skip_word_(after, form[i].relation);
        if (after) {
            *kind = form[i].kind;
            return perf_skip_number_(after, amount);
        }
    }
    return PERF_NULL_;
}

/* Adds what "on METRIC" at the end says.  0: the rule is about another metric already. */
PERF_FN int perf_rule_on_(perf_rule *rule, perf_metric metric)
{
    if (rule->metric == PERF_METRIC_MEMORY && metric >= PERF_METRIC_P50 &&
        metric <= PERF_METRIC_MEAN)
        rule->memory = 1;
    else if (rule->metric != PERF_METRIC_PAIR && rule->metric != metric)
        return 0;
    rule->metric = metric;
    return 1;
}

/* What is behind `word` if that comes next, else `text`. */
PERF_FN const char *perf_skip_maybe_(const char *text, const char *word)
{
    const char *after = perf_skip_word_(text, word);

    if (after)
        return after;
    return text;
}

PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out)
{
    perf_rule      rule;
    perf_rule_kind kind = PERF_RULE_SPEEDUP;
    perf_metric    metric = PERF_METRIC_PAIR;
    const char    *rest, *after;
    double         amount = 0.0;

    if (!text || !out)
        return PERF_EINVAL;
    rest = perf_skip_maybe_(text, "latency");
    after = perf_skip_metric_(rest, &metric);
    if (after)
        rest = after;
    rest = perf_skip_form_(rest, &kind, &amount);
    if (!rest)
        return PERF_EFORMAT;
    rule = perf_rule_make(kind, amount, metric);
    if (kind == PERF_RULE_SPEEDUP)
        rest = perf_skip_maybe_(rest, "x");
    else
        rest = perf_skip_maybe_(rest, "%");
    if (kind == PERF_RULE_NO_REGRESSION)
        rest = perf_skip_maybe_(rest, "worse");
    after = perf_skip_word_(rest, "on");
    if (after) {
        rest = perf_skip_metric_(after, &metric);
        if (!rest || !perf_rule_on_(&rule, metric))
            return PERF_EFORMAT;
    }
    if (*perf_skip_word_(rest, "") || perf_is_nan_(perf_rule_threshold_(&rule)))
        return PERF_EFORMAT;
    *out = rule;
    return PERF_OK;
}

/* 1: every limit is 0 or a positive number. */
PERF_FN int perf_tolerance_ok_(const perf_tolerance *tolerance)
{
    return tolerance->abs >= 0.0 && tolerance->rel >= 0.0 && tolerance->ulp >= 0.0;
}

/* 1: the caller asks for an accuracy check, or has made one. */
PERF_FN int perf_guard_asked_(const perf_guard *guard)
{
    return guard->required || guard->seen.compared || perf_is_nan_(guard->seen.max_abs) ||
           !perf_tolerance_ok_(&guard->limit) ||
           guard->limit.abs + guard->limit.rel + guard->limit.ulp > 0.0;
}

PERF_FN perf_compare_opts perf_compare_opts_resolved_(const perf_compare_opts *opts)
{
    perf_compare_opts options = PERF_ZERO;

    if (opts)
        options = *opts;
    options.confidence = perf_confidence_(options.confidence);
    options.rule = perf_rule_resolved_(options.rule);
    options.guard.required = perf_guard_asked_(&options.guard);
    return options;
}

/* ---- steps of a clock ---- */

/* The step of the clock (or of printing) that sorted values show: their smallest distance, if 5 %
 * or more are equal.  `rates`: in 1 / value.  0: none shows; infinite: all are equal.  Distances
 * below 1e-9 of a value are rounding.                                                            */
PERF_FN double perf_step_of_(const double *sorted, size_t n, int rates)
{
    double gap = PERF_INF_;
    size_t i, ties = 0;

    for (i = 1; i < n; i++) {
        double distance = sorted[i] - sorted[i - 1];
        if (!(distance > 1e-9 * sorted[i])) {
            ties++;
            continue;
        }
        if (rates)
            distance = distance / sorted[i] / sorted[i - 1];
        gap = perf_least_(distance, gap);
    }
    if (ties * 20 < n - 1)
        return 0.0;
    return gap;
}

/* The largest number that a and b are multiples of, by Euclid; 1e-9 of the larger stands for 0. */
PERF_FN double perf_step_common_(double a, double b)
{
    double least = 1e-9 * perf_most_(a, b), rest;

    while (b > least) {
        rest = a - b * PERF_CAST_(double, PERF_CAST_(uint64_t, a / b));
        a = b;
        if (rest < b - least)
            b = rest;
        else
            b = 0.0;
    }
    return a;
}

/* The largest power of ten, at most x, that x is a multiple of: the place of its last decimal. */
PERF_FN double perf_step_decimal_(double x)
{
    double power = 1.0;

    while (power < x && power < 1e300)
        power *= 10.0;
    while (power > x || perf_step_common_(x, power) < 0.9 * power)
        power *= 0.1;
    return power;
}

/* How far the log of a ratio may be off when both sides are read in steps; a, b: the step over the
 * value of each side.  With s, the larger, rounding to the nearest step is off by log((1 + s/2) /
 * (1 - s/2)) at worst.  That also covers one side read a whole step too short, log(1 + s).
 * Infinite: s is 2 or more.                                                                      */
PERF_FN double perf_step_log_(double a, double b)
{
    double step = perf_most_(a, b);

    if (!(step < 2.0))
        return PERF_INF_;
    return perf_log1p_(2.0 * step / (2.0 - step));
}

/* The step of both arms, from the one that each shows (see perf_step_of_) and its typical
 * value.                                                                                         */
PERF_FN double perf_step_shown_(double step_a, double step_b, double typical_a, double typical_b)
{
    const int flat = !perf_is_finite_(step_a + step_b);     /* all values of an arm are equal     */
    double    step;

    if (!flat)
        return perf_most_(step_a, step_b);
    step = perf_least_(step_a, step_b);             /* of the other arm                           */
    if (!perf_is_finite_(step))
        return perf_step_common_(typical_a, typical_b);
    if (step > 0.0)
        return step;
    if (step_a > step_b)                            /* the other shows none: it has another clock */
        return perf_step_decimal_(typical_a);
    return perf_step_decimal_(typical_b);
}

/* How far the log of the ratio may be off by the clock's step.  tick: that step; 0: what both arms
 * show (`rates`: the times behind them); negative: the values are exact.                         */
PERF_FN double perf_tick_log_(const double *sorted_a, size_t na, const double *sorted_b, size_t nb,
                              double tick, int rates)
{
    double typical_a = perf_quantile_(sorted_a, na, 0.5);
    double typical_b = perf_quantile_(sorted_b, nb, 0.5);

    if (rates) {
        typical_a = 1.0 / typical_a;
        typical_b = 1.0 / typical_b;
    }
    if (tick < 0.0 || !perf_is_finite_(typical_a + typical_b))
        return 0.0;
    if (!(tick > 0.0))
        tick = perf_step_shown_(perf_step_of_(sorted_a, na, rates),
                                perf_step_of_(sorted_b, nb, rates), typical_a, typical_b);
    return perf_step_log_(tick / typical_a, tick / typical_b);
}

/* ---- intervals of a ratio, as logs ---- */

/* Rounding moves a log ratio by less: what differs by no more is a tie. */
#define PERF_LOG_ROUNDING_ 1e-12

/* The smallest interval that holds both; the estimate is that of the first. */
PERF_FN perf_interval perf_hull_(perf_interval x, perf_interval y)
{
    x.low = perf_least_(y.low, x.low);
    x.high = perf_most_(y.high, x.high);
    return x;
}

PERF_FN perf_interval perf_widen_(perf_interval x, double by)
{
    by += PERF_LOG_ROUNDING_;
    x.low -= by;
    x.high += by;
    return x;
}

/* P(W <= k) for Wilcoxon's signed-rank W of n > 80 values.  W is a sum of independent terms that
 * are 0 or j, so its cumulants are sums of powers of j: s1, s2, s4, s6, s8.  A uniform number added
 * to W makes it continuous without changing P(W <= k).  Edgeworth's series to order 1/n^3 (Cramer
 * 1946, 17.7): h3 .. h11 are Hermite polynomials over x.                                         */
PERF_FN double perf_signed_rank_cdf_(double n, double k)
{
    double s1 = 0.5 * n * (n + 1.0), s2 = s1 * (2.0 * n + 1.0) / 3.0, n2 = n * n;
    double s4 = s2 * (3.0 * n2 + 3.0 * n - 1.0) / 5.0;
    double s6 = s2 * (3.0 * n2 * n2 + 6.0 * n2 * n - 3.0 * n + 1.0) / 7.0;
    double s8 = s2 * (n2 * (n2 * (5.0 * n2 + 15.0 * n + 5.0) - 15.0 * n - 1.0) + 9.0 * n - 3.0) /
                15.0;
    double variance = s2 / 4.0 + 1.0 / 12, variance2 = variance * variance;
    double l4 = -(s4 / 8.0 + 1.0 / 120) / variance2;
    double l6 = (s6 / 4.0 + 1.0 / 252) / (variance2 * variance);
    double l8 = -(17.0 / 16 * s8 + 1.0 / 240) / (variance2 * variance2);
    double x = (k + 0.5 - 0.5 * s1) / perf_sqrt_(variance), y = x * x;
    double h3 = y - 3.0, h5 = y * (y - 10.0) + 15.0, h7 = y * (y * (y - 21.0) + 105.0) - 105.0;
    double h9 = y * (y * (y * (y - 36.0) + 378.0) - 1260.0) + 945.0;
    double h11 = y * (y * (y * (y * (y - 55.0) + 990.0) - 6930.0) + 17325.0) - 10395.0;

    return perf_normal_cdf_(x) - 0.39894228040143267794 * perf_exp_(-0.5 * y) * x *
           (l4 / 24.0 * h3 + l6 / 720.0 * h5 + (l4 * l4 / 1152.0 + l8 / 40320.0) * h7 +
            l4 * l6 / 17280.0 * h9 + l4 * l4 * l4 / 82944.0 * h11);
}

#define PERF_SIGNED_RANK_COUNTED_ 80

/* perf_signed_rank_k_ for n <= 80: counts the subsets of ranks with each sum. */
PERF_FN uint64_t perf_signed_rank_counted_(size_t n, double tail)
{
    double   ways[PERF_SIGNED_RANK_COUNTED_ * (PERF_SIGNED_RANK_COUNTED_ + 1) / 4 + 1], total = 0.0;
    size_t   rank, sum, top = n * (n + 1) / 4;
    uint64_t k = 0;

    for (sum = 0; sum <= top; sum++)
        ways[sum] = 0.0;
    ways[0] = perf_from_bits_(PERF_CAST_(uint64_t, 1023 - n) << 52);        /* 2^-n               */
    for (rank = 1; rank <= n; rank++)
        for (sum = top; sum >= rank; sum--)
            ways[sum] += ways[sum - rank];
    for (sum = 0; sum <= top; sum++) {
        total += ways[sum];
        if (total > tail * (1.0 + 1e-12))
            break;
        k++;
    }
    return k;
}

/* Largest k with P(W <= k - 1) <= tail: the k-th smallest and k-th largest Walsh average bound the
 * centre.  Above 80 by the series, which gave the counted k for every n to 400 at twelve tails from
 * 0.25 to 0.00001 (tests/stats/oracle.c).                                                        */
PERF_FN uint64_t perf_signed_rank_k_(size_t n, double tail)
{
    double   all = PERF_CAST_(double, n), guess;
    uint64_t k = 0;

    if (n <= PERF_SIGNED_RANK_COUNTED_)
        return perf_signed_rank_counted_(n, tail);
    guess = all * (all + 1.0) / 4.0 + perf_normal_quantile_(tail) *
            perf_sqrt_(all * (all + 1.0) * (2.0 * all + 1.0) / 24.0);
    if (guess >= 1.0)
        k = PERF_CAST_(uint64_t, guess);            /* by the normal law, then steps              */
    while (k && perf_signed_rank_cdf_(all, PERF_CAST_(double, k) - 1.0) > tail)
        k--;
    while (perf_signed_rank_cdf_(all, PERF_CAST_(double, k)) <= tail)
        k++;
    return k;
}

/* How many Walsh averages (d[i] + d[j]) / 2, j >= i, of sorted d are <= cut.  *top: the largest of
 * those, or d[0].  One walk along the diagonal, O(n).                                            */
PERF_FN uint64_t perf_walsh_count_(const double *d, size_t n, double cut, double *top)
{
    uint64_t count = 0;
    size_t   i, end = n;

    *top = d[0];
    for (i = 0; i < n; i++) {
        while (end > i && 0.5 * (d[i] + d[end - 1]) > cut)
            end--;
        if (end <= i)
            break;
        *top = perf_most_(0.5 * (d[i] + d[end - 1]), *top);
        count += end - i;
    }
    return count;
}

/* A search for the k-th smallest of `upto` averages: it lies in (low, high], or is d[0]. */
typedef struct perf_walsh_ {
    double   low, high;                             /* high is itself an average                  */
    uint64_t below, upto;                           /* how many are <= low, <= high               */
} perf_walsh_;

/* Where to look next: by interpolation between the ranks.  But it may crawl, so every fourth turn
 * takes the middle; and every fourth the last number before high, in case equal averages begin
 * there.                                                                                         */
PERF_FN double perf_walsh_guess_(const perf_walsh_ *walsh, uint64_t k, int turn)
{
    double part = (PERF_CAST_(double, k - walsh->below) - 0.5) /
                  PERF_CAST_(double, walsh->upto - walsh->below);

    if (turn % 4 == 3)
        return walsh->high - perf_fabs_(walsh->high) * 1.2e-16 - 5e-324;
    if (turn % 4 == 2)
        part = 0.5;
    return walsh->low + part * (walsh->high - walsh->low);
}

/* The k-th smallest Walsh average (1 = smallest), exactly: numbers between the averages would turn
 * ties into false verdicts.                                                                      */
PERF_FN double perf_walsh_kth_(const double *d, size_t n, uint64_t k)
{
    perf_walsh_ walsh = PERF_ZERO;
    double      cut, top, spread = (d[n - 1 - n / 4] - d[n / 4]) * 0.524;  /* of a normal d       */
    uint64_t    count;
    int         turn;

    walsh.low = d[0];
    walsh.high = d[n - 1];
    walsh.upto = PERF_CAST_(uint64_t, n) * (n + UINT64_C(1)) / 2;
    cut = d[n / 2] + spread * perf_normal_quantile_((PERF_CAST_(double, k) - 0.5) /
                                                  PERF_CAST_(double, walsh.upto));
    for (turn = 0; walsh.upto > k && walsh.low < walsh.high && turn < 500; turn++) {
        if (turn)
            cut = perf_walsh_guess_(&walsh, k, turn);
        if (!(cut > walsh.low && cut < walsh.high))
            cut = walsh.low + 0.5 * (walsh.high - walsh.low);
        if (!(cut < walsh.high))
            cut = walsh.low;                        /* no number between low and high             */
        count = perf_walsh_count_(d, n, cut, &top);
        if (count >= k) {
            walsh.high = top;
            walsh.upto = count;
        } else if (!(cut > walsh.low)) {
            break;
        } else {
            walsh.low = cut;
            walsh.below = count;
        }
    }
    return walsh.high;
}

/* Log interval of the centre of d: estimate = median of the Walsh averages.  Sorts d. */
PERF_FN perf_interval perf_signed_rank_(double *d, size_t n, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    uint64_t      k = perf_signed_rank_k_(n, tail);
    uint64_t      averages = PERF_CAST_(uint64_t, n) * (n + UINT64_C(1)) / 2;

    perf_sort_values_(d, n);
    result.estimate = perf_walsh_kth_(d, n, (averages + 1) / 2);
    if (averages % 2 == 0)
        result.estimate = 0.5 * (result.estimate + perf_walsh_kth_(d, n, averages / 2 + 1));
    if (k) {
        result.low = perf_walsh_kth_(d, n, k);
        result.high = perf_walsh_kth_(d, n, averages + 1 - k);
    }
    return result;
}

/* Values of two arms, all positive.  Of rates more is better: there `a` holds the candidate's. */
typedef struct perf_arms_ {
    double *a, *b;                                  /* in the order of time                       */
    size_t  na, nb;
    double *logs;                                   /* log(b[i] / a[i]) of pairs; NULL: separate  */
    double *sorted_a, *sorted_b;
} perf_arms_;

/* Medians of fewer pairs are not interpolated: values of two speeds have none in between. */
#define PERF_FEW_MEDIANS_ 32

/* The lower limit of quantile p of positive values, by Nyblom's interpolation between order
 * statistics (1992).  sign -1 reads the array backwards, for the upper limit.  0 or infinite: there
 * is none.  exact 1: the order statistic itself.                                                 */
PERF_FN double perf_nyblom_(const double *sorted, size_t n, double p, double tail, int sign,
                            int exact)
{
    double   all = PERF_CAST_(double, n), here, next, covers_here, covers_next, part, k;
    uint64_t r = perf_rank_low_(all, p, tail);      /* P(Bin >= r) >= 1 - tail                    */

    if (!r || !perf_rank_low_(all, 1.0 - p, tail)) {    /* both sides or none: few are not right  */
        if (sign > 0)
            return 0.0;
        return PERF_INF_;
    }
    here = sorted[r - 1];
    if (sign < 0)
        here = sorted[n - r];
    if (r >= n || exact)
        return here;
    next = sorted[r];
    if (sign < 0)
        next = sorted[n - r - 1];
    k = PERF_CAST_(double, r);
    covers_here = 1.0 - perf_binomial_cdf_(k - 1.0, all, p);
    covers_next = 1.0 - perf_binomial_cdf_(k, all, p);
    if (!(covers_here > 1.0 - tail))
        return here;
    part = 1.0 / (1.0 + k * (1.0 - p) / ((all - k) * p) * (1.0 - tail - covers_next) /
                            (covers_here - (1.0 - tail)));
    return here + part * (next - here);
}

/* 1: values have two speeds near quantile p, and few lie in between: a sixteenth of those between
 * its limits (95 %, or more if asked) fills .45 of their log width.  Fewer than ten neighbours
 * leave such a gap by chance.                                                                    */
PERF_FN int perf_jumps_(const double *sorted, size_t n, double p, double tail)
{
    const double   all = PERF_CAST_(double, n), each = perf_least_(tail, 0.025);
    const uint64_t low = perf_rank_low_(all, p, each), high = perf_rank_low_(all, 1.0 - p, each);
    const double  *from = sorted + low, *to = sorted + n - high;
    const double  *end = to - (to - from + 1) / 16;
    double         widest = 1.0;

    if (!low || !high || to - from < 9)
        return 0;
    for (; from <= end; from++)
        widest = perf_most_(widest, from[to - end] / from[-1]);
    return perf_log_(widest) > 0.45 * perf_log_(*to / sorted[low - 1]);
}

/* The log interval of the ratio of two quantiles: MOVER (Zou and Donner 2008) on the limits of each
 * arm.  low = estimate - shrink * sqrt(down_b^2 + up_a^2); high is its mirror.  An arm that jumps
 * has nothing between its order statistics.  If both do, each estimate may be of the wrong speed:
 * then the sum takes the place of the root, with half the error for each.                        */
PERF_FN perf_interval perf_quantile_ratio_plain_(const perf_arms_ *arms, double p, double tail,
                                                 double shrink)
{
    perf_interval result;
    const int few = arms->logs && arms->na < PERF_FEW_MEDIANS_;
    const int jumps_a = perf_jumps_(arms->sorted_a, arms->na, p, tail);
    const int jumps_b = perf_jumps_(arms->sorted_b, arms->nb, p, tail);
    const double each = jumps_a && jumps_b ? 0.5 * tail : tail;
    double low_a = perf_nyblom_(arms->sorted_a, arms->na, p, each, 1, few || jumps_a);
    double high_a = perf_nyblom_(arms->sorted_a, arms->na, 1.0 - p, each, -1, few || jumps_a);
    double low_b = perf_nyblom_(arms->sorted_b, arms->nb, p, each, 1, few || jumps_b);
    double high_b = perf_nyblom_(arms->sorted_b, arms->nb, 1.0 - p, each, -1, few || jumps_b);
    double log_a = perf_log_(perf_quantile_(arms->sorted_a, arms->na, p));
    double log_b = perf_log_(perf_quantile_(arms->sorted_b, arms->nb, p));
    double down_a = log_a - perf_log_(low_a), up_a = perf_log_(high_a) - log_a;
    double down_b = log_b - perf_log_(low_b), up_b = perf_log_(high_b) - log_b;
    double down = perf_sqrt_(down_b * down_b + up_a * up_a);
    double up = perf_sqrt_(up_b * up_b + down_a * down_a);

    if (jumps_a && jumps_b) {
        down = down_b + up_a;
        up = up_b + down_a;
    }
    result.estimate = log_b - log_a;
    result.low = result.estimate - shrink * down;
    result.high = result.estimate + shrink * up;
    return result;
}

/* The same, with `shrink` as below; 1: separate samples.  Where values jump from one speed to
 * another, limits at ranks that are nearer by `shrink` may lie farther out: the interval holds
 * those, too.                                                                                    */
PERF_FN perf_interval perf_quantile_ratio_(const perf_arms_ *arms, double p, double tail,
                                           double shrink)
{
    perf_interval result = perf_quantile_ratio_plain_(arms, p, tail, shrink), jump;

    if (!(shrink < 1.0) && !(shrink > 1.0))
        return result;
    tail = perf_normal_cdf_(shrink * perf_normal_quantile_(tail));
    jump = perf_quantile_ratio_plain_(arms, p, tail, 1.0);
    if (!perf_is_finite_(jump.high - jump.low))
        return result;
    return perf_hull_(result, jump);
}

/* How much pairing narrows the interval of the ratio of quantiles p, from 0.3 to 1 and above:
 * shrink^2 = Var(1{b <= quantile_b} - 1{a <= quantile_a}) / (2 p (1 - p)).  It is an estimate:
 * below 1 one standard error is added.                                                           */
PERF_FN double perf_pair_shrink_(const perf_arms_ *arms, double p)
{
    double quantile_a = perf_quantile_(arms->sorted_a, arms->na, p);
    double quantile_b = perf_quantile_(arms->sorted_b, arms->nb, p);
    double sum = 0.0, squares = 0.0, n = PERF_CAST_(double, arms->na), shrink;
    size_t i;

    for (i = 0; i < arms->na; i++) {
        double differs =
            PERF_CAST_(double, (arms->b[i] <= quantile_b) - (arms->a[i] <= quantile_a));
        sum += differs;
        squares += differs * differs;
    }
    shrink = perf_sqrt_((squares / n - sum / n * (sum / n)) / (2.0 * p * (1.0 - p)));
    if (shrink < 1.0)
        shrink = perf_least_(shrink * (1.0 + 1.0 / perf_sqrt_(2.0 * n * p * (1.0 - p))), 1.0);
    return perf_most_(shrink, 0.3);
}

/* What Fieller's interval needs of two means: each value as a part of its arm's mean. */
typedef struct perf_means_ {
    double var_a, var_b, var;                       /* of mean a, of mean b, of their difference  */
    double df;                                      /* degrees of freedom                         */
    double cubes;                                   /* third cumulant of the difference           */
} perf_means_;

/* Pairs: the covariance counts, n - 1 degrees of freedom. */
PERF_FN void perf_means_paired_(perf_means_ *means, const perf_arms_ *arms, double mean_a,
                                double mean_b)
{
    double n = PERF_CAST_(double, arms->na);
    size_t i;

    means->df = n - 1.0;
    for (i = 0; i < arms->na; i++) {
        double d = arms->b[i] / mean_b - arms->a[i] / mean_a;
        means->var += d * d / (means->df * n);
        means->cubes += d * d * d / (n * n * n);
    }
}

/* Separate samples: Welch's degrees of freedom. */
PERF_FN void perf_means_separate_(perf_means_ *means, const perf_arms_ *arms, double cubes_a,
                                  double cubes_b)
{
    double na = PERF_CAST_(double, arms->na), nb = PERF_CAST_(double, arms->nb);

    means->var = means->var_a + means->var_b;
    means->df = na - 1.0;
    if (means->var > 0.0)
        means->df = means->var * means->var /
                    (means->var_a * means->var_a / means->df +
                     means->var_b * means->var_b / (nb - 1.0));
    means->cubes = cubes_b / (nb * nb * nb) - cubes_a / (na * na * na);
}

/* The log ratios theta with qa theta^2 - 2 qb theta + 1 - t^2 var_b <= 0 (Fieller 1954), around
 * the estimate.  Skewed values make t unequal on its two sides: the end that this leaves too short
 * moves out by Johnson's correction (1978), 2.5 times, because small samples show less skewness
 * than there is (docs/statistics-evidence.md).                                                   */
PERF_FN perf_interval perf_fieller_(const perf_means_ *means, double estimate, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    double        cov = 0.5 * (means->var_a + means->var_b - means->var), t2, qa, qb;
    double        quarter, root = 0.0, shift = 0.0;

    result.estimate = estimate;
    t2 = perf_t_quantile_(1.0 - tail, means->df);
    t2 *= t2;
    qa = 1.0 - t2 * means->var_a;
    qb = 1.0 - t2 * cov;
    if (!(qa > 1e-9))                               /* the baseline's mean may be 0, nearly       */
        return result;
    quarter = t2 * (means->var - t2 * (means->var_a * means->var_b - cov * cov));
    if (quarter > 0.0)                              /* of the discriminant                        */
        root = perf_sqrt_(quarter);
    result.high = estimate + perf_log_((qb + root) / qa);
    if (qb > root)
        result.low = estimate + perf_log_((qb - root) / qa);
    if (means->var > 0.0)
        shift = 2.5 * means->cubes / (6.0 * means->var) * (1.0 + 2.0 * t2);
    if (shift > 0.0)
        result.high += shift;
    if (shift < 0.0)
        result.low += shift;
    return result;
}

/* The log interval of mean(b) / mean(a).  Few values see little of a tail: the arm with fewer
 * values counts as no less spread than the other.                                                */
PERF_FN perf_interval perf_mean_ratio_(const perf_arms_ *arms, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    perf_means_   means = PERF_ZERO;
    perf_moments_ a = perf_moments_of_(arms->a, arms->na), b = perf_moments_of_(arms->b, arms->nb);
    double        spread_a = a.std / a.mean, spread_b = b.std / b.mean;

    result.estimate = perf_log_(b.mean) - perf_log_(a.mean);
    if (arms->na < 2 || arms->nb < 2)
        return result;
    if (arms->na < arms->nb)
        spread_a = perf_most_(spread_b, spread_a);
    else if (arms->nb < arms->na)
        spread_b = perf_most_(spread_a, spread_b);
    means.var_a = spread_a * spread_a / PERF_CAST_(double, arms->na);
    means.var_b = spread_b * spread_b / PERF_CAST_(double, arms->nb);
    if (arms->logs)
        perf_means_paired_(&means, arms, a.mean, b.mean);
    else
        perf_means_separate_(&means, arms, a.cubes, b.cubes);
    return perf_fieller_(&means, result.estimate, tail);
}

/* 1: one value is so large a part of the sum that the mean says little about the others. */
PERF_FN int perf_mean_hostage_(const double *sorted, size_t n)
{
    return (sorted[n - 1] - perf_quantile_(sorted, n, 0.5)) / PERF_CAST_(double, n) >
           0.1 * perf_moments_of_(sorted, n).mean;
}

/* ---- shapes ---- */

/* How lopsided sorted x is, in standard errors of a normal law; below 0: to the left.  Each
 * distance to the median has a rank; the sum of the ranks, with their signs, has a variance of
 * 0.126 n^3.  Distances that differ by no more than `step`, which a clock may hide, share a
 * rank.                                                                                          */
PERF_FN double perf_lopsidedness_(const double *x, size_t n, double step)
{
    double median = perf_quantile_(x, n, 0.5), rank = PERF_CAST_(double, n % 2), sum = 0.0;
    size_t low = n / 2, high = (n + 1) / 2;         /* what is left: below low, from high on      */

    while (low > 0 || high < n) {
        double down = PERF_INF_, up = PERF_INF_;
        if (low > 0)
            down = median - x[low - 1];
        if (high < n)
            up = x[high] - median;
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
    return sum / perf_sqrt_(0.126 * rank * rank * rank);
}

/* 1: sorted d is lopsided by more than so many standard errors.  Arms of one shape differ by a
 * shift of logs, and then d is symmetric.  errors: 1.4 where a false 1 only costs width and a miss
 * may cost a wrong answer (rates: docs/statistics-evidence.md); 2.58 where it is said: 1 in 100. */
PERF_FN int perf_lopsided_(const double *d, size_t n, double errors, double step)
{
    return perf_fabs_(perf_lopsidedness_(d, n, step)) > errors;
}

/* 1: the sorted arms are lopsided to unlike sides, as of two speeds that overlap where one arm is
 * mostly fast and the other mostly slow.                                                         */
PERF_FN int perf_mirrored_(const perf_arms_ *arms)
{
    const double errors = 1.7;
    const double apart = perf_lopsidedness_(arms->sorted_b, arms->nb, 0.0) -
                         perf_lopsidedness_(arms->sorted_a, arms->na, 0.0);

    return apart * apart > 2.0 * errors * errors;
}

/* 1: the middle halves of the sorted arms differ so much in relative width that their shapes do,
 * too.  3.3 / sqrt(n) is twice the standard error of the log of the quotient for normal values.  */
PERF_FN int perf_unlike_(const perf_arms_ *arms)
{
    size_t low = arms->na / 4, high = arms->na - 1 - low;
    double most = perf_exp_(3.3 / perf_sqrt_(PERF_CAST_(double, arms->na)));
    double width_a = perf_log_(arms->sorted_a[high] / arms->sorted_a[low]);
    double width_b = perf_log_(arms->sorted_b[high] / arms->sorted_b[low]);

    return width_a > width_b * most || width_b > width_a * most;
}

/* How many more values of sorted d lie far above the middle than far below, or the other way round;
 * far: four times the width of the middle half.  Rare pauses of one arm look so, and signed ranks
 * find little where they are one in seven.                                                       */
PERF_FN double perf_spikes_excess_(const double *d, size_t n)
{
    double median = perf_quantile_(d, n, 0.5), excess = 0.0;
    double middle = perf_quantile_(d, n, 0.75) - perf_quantile_(d, n, 0.25);
    double far_off = 4.0 * middle + PERF_LOG_ROUNDING_;
    size_t i;

    for (i = 0; i < n; i++) {
        if (d[i] - median > far_off)
            excess += 1.0;
        if (median - d[i] > far_off)
            excess -= 1.0;
    }
    return perf_fabs_(excess);
}

/* ---- sequential ---- */

PERF_FN double perf_seq_bet_(double *capital, double x, double toward);

PERF_FN void perf_seq_start_(double *capital)
{
    static const double share[PERF_SEQ_BETS_] = {0.04, 0.06, 0.12, 0.20, 0.22, 0.17, 0.19};

    PERF_LIBC_(memcpy)(capital, share, sizeof share);
}

PERF_FN perf_status perf_seq_init(perf_seq *seq, const perf_rule *rule, double confidence,
                                  double tick)
{
    double threshold = perf_rule_threshold_(rule);

    if (!seq)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(seq, 0, sizeof *seq);
    perf_seq_start_(seq->accept);
    perf_seq_start_(seq->reject);
    perf_seq_start_(seq->faster);
    perf_seq_start_(seq->slower);
    seq->level = PERF_NAN_;                         /* which no capital reaches                   */
    confidence = perf_confidence_(confidence);
    if (perf_is_nan_(threshold) || perf_is_nan_(confidence) || !(tick >= 0.0))
        return PERF_EINVAL;
    if (rule)
        seq->kind = rule->kind;
    seq->log_threshold = perf_log_(threshold);
    seq->tick = perf_step_log_(tick, tick) + PERF_LOG_ROUNDING_;
    seq->level = 2.0 / (1.0 - confidence);
    return PERF_OK;
}

/* "The same within x %": ACCEPT when the bets against both limits have been won, REJECT when one
 * for lying outside has.                                                                         */
PERF_FN void perf_seq_same_(perf_seq *seq, double log_ratio, int *accept, int *reject)
{
    double from_lower = log_ratio + seq->log_threshold;

    if (*accept)
        seq->below = 1;
    if (perf_seq_bet_(seq->slower, from_lower - seq->tick, 1.0) >= seq->level)
        seq->above = 1;
    if (perf_seq_bet_(seq->faster, from_lower + seq->tick, -1.0) >= seq->level)
        *reject = 1;
    *accept = seq->below && seq->above;
}

PERF_FN perf_decision perf_seq_add(perf_seq *seq, double baseline, double candidate)
{
    double log_ratio;
    int    accept, reject;

    if (!seq)
        return PERF_INCONCLUSIVE;
    if (!perf_is_duration_(baseline) || !perf_is_duration_(candidate)) {
        seq->excluded++;
        return seq->decision;
    }
    seq->pairs++;
    if (seq->decision != PERF_INCONCLUSIVE || seq->pairs > 0x7fffffffu)
        return seq->decision;
    log_ratio = perf_log_(candidate) - perf_log_(baseline);
    accept =
        perf_seq_bet_(seq->accept, log_ratio - seq->log_threshold + seq->tick, -1.0) >= seq->level;
    reject =
        perf_seq_bet_(seq->reject, log_ratio - seq->log_threshold - seq->tick, 1.0) >= seq->level;
    if (seq->kind == PERF_RULE_SAME)
        perf_seq_same_(seq, log_ratio, &accept, &reject);
    if (accept == reject)
        return PERF_INCONCLUSIVE;
    seq->decision = PERF_REJECT;
    if (accept)
        seq->decision = PERF_ACCEPT;
    seq->decided_at = seq->pairs;
    return seq->decision;
}

/* One round of bets: each stakes a fixed share of its capital on x having the sign of `toward`.
 * Returns the sum of the capitals, which starts at 1 and exceeds L with probability at most 1/L if
 * the signs are fair (Ville 1939).  The stakes cover weak and strong effects; seven pairs that
 * agree make 43, which passes 40.                                                                */
PERF_FN double perf_seq_bet_(double *capital, double x, double toward)
{
    static const double stake[PERF_SEQ_BETS_] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0};
    double win = PERF_CAST_(double, (x * toward > 0.0) - (x * toward < 0.0)), sum = 0.0;
    int    i;

    for (i = 0; i < PERF_SEQ_BETS_; i++) {
        capital[i] *= 1.0 + stake[i] * win;
        sum += capital[i];
    }
    return sum;
}

/* From bets and a log interval to the verdict: callers above what they call. */
PERF_FN perf_verdict perf_verdict_of_(const perf_compare_opts *opts, const perf_interval *log_ratio,
                                      double unseen, double n);
PERF_FN void perf_verdict_finish_(perf_verdict *verdict, perf_interval log_ratio, double n,
                                  const perf_compare_opts *opts);
PERF_FN perf_decision perf_rule_answer_(const perf_rule *rule, perf_interval log_ratio);
PERF_FN void perf_verdict_cap_(perf_verdict *verdict, const char *reason);

/* The answer of the interval of n log ratios, which come in the order of time, and are sorted.  An
 * ACCEPT needs that of the bets, too.  pairs: with those that have no log ratio.                 */
PERF_COLD_FN_ perf_verdict perf_pairs_judge_(const perf_seq *bets, double *logs, size_t n,
                                             size_t pairs, const perf_compare_opts *opts)
{
    const perf_interval log_ratio = perf_seq_interval(logs, n, opts->confidence);
    perf_verdict        verdict =
        perf_verdict_of_(opts, &log_ratio, bets->tick, PERF_CAST_(double, pairs));
    perf_seq            agree = PERF_ZERO;
    int                 by_median;

    perf_seq_start_(agree.accept);                  /* how many pairs decide, if all agree        */
    agree.level = 2.0 / (1.0 - verdict.confidence);
    while ((verdict.warnings & PERF_WARN_UNBOUNDED) && !agree.decided_at)
        (void)perf_seq_add(&agree, 2.0, 1.0);
    if (agree.decided_at > n)
        verdict.pairs_needed = PERF_CAST_(double, agree.decided_at - n);
    verdict.pairs = pairs;
    verdict.excluded = bets->excluded;
    perf_sort_values_(logs, n);
    if (perf_lopsided_(logs, n, 2.58, bets->tick))
        verdict.warnings |= PERF_WARN_SHAPE;
    by_median = (verdict.warnings & PERF_WARN_SHAPE) && !(verdict.warnings & PERF_WARN_OUTPUTS);
    if (by_median && verdict.decision == PERF_ACCEPT)
        verdict.reason = "the median of the pairs' ratios clears the threshold";
    else if (by_median && verdict.decision == PERF_REJECT)
        verdict.reason = "the median of the pairs' ratios misses the threshold";
    if (verdict.decision == PERF_ACCEPT && bets->decision != PERF_ACCEPT)
        perf_verdict_cap_(&verdict,
                          "the pairs disagree: the interval clears it, too few of them do");
    return verdict;
}

/* 1: the bet that the centre lies in direction `toward` of theta was ever won at `level`. */
PERF_FN int perf_seq_rules_out_(const double *d, size_t n, double theta, double toward,
                                double level)
{
    double capital[PERF_SEQ_BETS_];
    size_t i;

    perf_seq_start_(capital);
    for (i = 0; i < n; i++)
        if (!(perf_seq_bet_(capital, d[i] - theta, toward) < level))
            return 1;
    return 0;
}

/* Log ratios: in the order of time, and those that are finite in ascending order. */
typedef struct perf_logs_ {
    const double *in_time, *sorted;
    size_t        n, finite;
} perf_logs_;

/* Half-way between sorted value i and the one before it, of the first a little beyond.  Values
 * count from 1, from the low end if toward > 0, else from the high end.                          */
PERF_FN double perf_seq_between_(const perf_logs_ *logs, size_t i, double toward)
{
    double here, before;

    if (toward > 0.0)
        here = logs->sorted[i - 1];
    else
        here = logs->sorted[logs->finite - i];
    if (i == 1)
        before = here - toward;
    else if (toward > 0.0)
        before = logs->sorted[i - 2];
    else
        before = logs->sorted[logs->finite - i + 1];
    return 0.5 * (here + before);
}

/* How many of the sorted values, from one end, the bets have excluded on that side.  The capital
 * falls as theta moves towards the data, so the excluded ones have no gaps: bisection.           */
PERF_FN size_t perf_seq_excluded_(const perf_logs_ *logs, double toward, double level)
{
    size_t low = 0, high = logs->finite, mid;       /* excluded just before the low-th value      */

    while (high > low) {
        mid = low + (high - low + 1) / 2;
        if (perf_seq_rules_out_(logs->in_time, logs->n, perf_seq_between_(logs, mid, toward),
                                toward, level))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence)
{
    perf_interval result = {-PERF_INF_, PERF_NAN_, PERF_INF_};
    double        level, local[256], *sorted;
    perf_logs_    logs = PERF_ZERO;
    size_t        i, finite = 0, low, high;

    confidence = perf_confidence_of_each_(confidence);
    if (!log_ratio || !n || perf_is_nan_(confidence))
        return result;
    sorted = perf_scratch_(local, 256, n);
    if (!sorted)
        return result;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(log_ratio[i]))
            sorted[finite++] = log_ratio[i];
    perf_sort_values_(sorted, finite);
    logs.in_time = log_ratio;
    logs.n = n;
    logs.sorted = sorted;
    logs.finite = finite;
    level = 2.0 / (1.0 - confidence);
    /* How many of the smallest, and of the largest values the bets rule out as the median. */
    low = perf_seq_excluded_(&logs, 1.0, level);
    high = perf_seq_excluded_(&logs, -1.0, level);
    result.estimate = perf_quantile_(sorted, finite, 0.5);
    /* The median may have come back over a limit of the bets since. */
    if (low)
        result.low = perf_least_(sorted[low - 1], result.estimate);
    if (high)
        result.high = perf_most_(sorted[finite - high], result.estimate);
    perf_scratch_free_(sorted, local);
    return result;
}

/* ---- verdicts ---- */

PERF_FN double perf_metric_p_(perf_metric metric)
{
    if (metric == PERF_METRIC_P99)
        return 0.99;
    if (metric == PERF_METRIC_P95)
        return 0.95;
    return 0.5;
}

/* A verdict that says nothing yet, with the rule it will be held against. */
PERF_FN perf_verdict perf_verdict_start_(const perf_compare_opts *opts)
{
    perf_verdict verdict = PERF_ZERO;
    int          in_range;

    verdict.reason = "no measurements";
    verdict.rule = opts->rule;
    verdict.threshold = perf_rule_threshold_(&opts->rule);
    verdict.confidence = opts->confidence;
    verdict.ratio.high = verdict.speedup.high = PERF_INF_;
    verdict.ratio.estimate = verdict.speedup.estimate = PERF_NAN_;
    verdict.min_detectable_change = verdict.pairs_needed = PERF_INF_;
    in_range = !perf_is_nan_(verdict.threshold) && !perf_is_nan_(verdict.confidence) &&
               !perf_is_nan_(opts->tick) &&
               PERF_CAST_(unsigned, opts->rule.metric) <= PERF_METRIC_BRANCH_MISSES &&
               PERF_CAST_(unsigned, opts->design) <= PERF_DESIGN_SEPARATE && opts->rules >= 0 &&
               opts->rules <= 1000 && perf_tolerance_ok_(&opts->guard.limit);
    if (!in_range) {
        verdict.status = PERF_EINVAL;
        verdict.reason = "the rule or an option is out of its range";
    }
    return verdict;
}

/* Withholds the decision for `reason`, whatever the numbers say.  Wrong outputs stay REJECTed. */
PERF_FN void perf_verdict_cap_(perf_verdict *verdict, const char *reason)
{
    if (verdict->decision == PERF_INCONCLUSIVE || (verdict->warnings & PERF_WARN_OUTPUTS))
        return;
    verdict->decision = PERF_INCONCLUSIVE;
    verdict->reason = reason;
    verdict->pairs_needed = PERF_INF_;
}

/* 1: the error is within a limit that is set; a limit of 0 is none. */
PERF_FN int perf_within_(double error, double limit)
{
    return !(limit > 0.0) || error <= limit;
}

/* 1 only when something was compared and every limit that was set holds.  None set: bit for bit. */
PERF_FN int perf_accuracy_ok_(const perf_accuracy *seen, const perf_tolerance *limit)
{
    perf_tolerance none = PERF_ZERO;
    int            any_limit;

    if (!limit)
        limit = &none;
    if (!seen || !seen->compared || perf_is_nan_(seen->max_abs) || !perf_tolerance_ok_(limit))
        return 0;
    any_limit = limit->abs > 0.0 || limit->rel > 0.0 || limit->ulp > 0.0;
    if (!any_limit)
        return seen->max_abs <= 0.0 && seen->max_rel <= 0.0 && seen->max_ulp <= 0.0;
    return perf_within_(seen->max_abs, limit->abs) && perf_within_(seen->max_rel, limit->rel) &&
           perf_within_(seen->max_ulp, limit->ulp);
}

/* Applies an accuracy check to a finished verdict.  Failed: REJECT, whatever else is in doubt.
 * Asked for but not made, or an invalid limit: no ACCEPT.  Passed, or NULL: nothing changes.     */
PERF_FN void perf_verdict_guard_(perf_verdict *verdict, const perf_guard *guard)
{
    if (!verdict || !guard || !perf_guard_asked_(guard) ||
        (verdict->status != PERF_OK && !verdict->pairs))
        return;                                     /* what was not measured stays so             */
    if (!perf_tolerance_ok_(&guard->limit)) {
        perf_verdict_cap_(verdict, "a limit of the accuracy check is negative or not a number");
    } else if (guard->seen.compared && !perf_accuracy_ok_(&guard->seen, &guard->limit)) {
        verdict->decision = PERF_REJECT;
        verdict->reason = "the outputs differ by more than the tolerance";
        verdict->warnings |= PERF_WARN_OUTPUTS;
        verdict->pairs_needed = 0.0;
    } else if (!guard->seen.compared && verdict->decision == PERF_ACCEPT) {
        perf_verdict_cap_(verdict, "fast enough, but the required accuracy check was not made");
    }
}

/* Further pairs for an 80 % chance of an answer: n ((2.80 / 1.96)^2 (half / gap)^2 - 1), but 1 at
 * least.  gap: of the estimate to the threshold, as a log.                                       */
PERF_FN double perf_pairs_needed_(const perf_verdict *verdict, double n, double half, double gap)
{
    double least, needed = n * (2.04 / (gap / half * (gap / half)) - 1.0);

    if (!perf_is_finite_(half)) {
        least = 2.0;
        if (verdict->rule.metric != PERF_METRIC_MEAN)
            least = PERF_CAST_(double,
                               perf_quantile_min_count_(perf_metric_p_(verdict->rule.metric),
                                                        verdict->confidence));
        needed = n;
        if (least > n)
            needed = least - n;
    }
    if (!(needed >= 1.0))
        return 1.0;
    return needed;
}

/* How far a log ratio is from where the answer changes: above 0 the rule holds.  "The same within
 * x %": to the nearer limit.                                                                     */
PERF_FN double perf_rule_room_(const perf_rule *rule, double log_ratio)
{
    const double log_t = perf_log_(perf_rule_threshold_(rule));

    if (rule->kind == PERF_RULE_SAME)
        return log_t - perf_fabs_(log_ratio);
    return log_t - log_ratio;
}

/* No number of pairs is enough if `unseen`, as a log, is as much as the estimate needs to pass.
 * exact: the interval without that; where there is none yet, more values are needed first.       */
PERF_FN void perf_verdict_hidden_(perf_verdict *verdict, perf_interval exact, double unseen)
{
    if (verdict->decision == PERF_INCONCLUSIVE && perf_is_finite_(exact.low) &&
        perf_is_finite_(exact.high) &&
        unseen >= perf_fabs_(perf_rule_room_(&verdict->rule, exact.estimate)))
        verdict->pairs_needed = PERF_INF_;
}

/* perf_verdict_finish_ makes it; without a log interval, or with refused opts, it says nothing. */
PERF_FN perf_verdict perf_verdict_of_(const perf_compare_opts *opts, const perf_interval *log_ratio,
                                      double unseen, double n)
{
    perf_verdict verdict = perf_verdict_start_(opts);

    if (log_ratio && verdict.status == PERF_OK) {
        perf_verdict_finish_(&verdict, perf_widen_(*log_ratio, unseen), n, opts);
        perf_verdict_hidden_(&verdict, *log_ratio, unseen);
    }
    return verdict;
}

/* The answer of a log interval, which includes what the clock hides already, with its reason. */
PERF_FN void perf_verdict_finish_(perf_verdict *verdict, perf_interval log_ratio, double n,
                                  const perf_compare_opts *opts)
{
    static const char *const reason[3] = {"the interval contains the threshold",
                                          "the whole interval clears the threshold",
                                          "the whole interval misses the threshold"};
    static const char *const of_same[3] = {"the interval contains a limit",
                                           "the whole interval lies within both limits",
                                           "the whole interval lies outside the limits"};
    double half = 0.5 * (log_ratio.high - log_ratio.low), room;
    int    bounded = perf_is_finite_(half);

    verdict->ratio.low = perf_exp_(log_ratio.low);
    verdict->ratio.estimate = perf_exp_(log_ratio.estimate);
    verdict->ratio.high = perf_exp_(log_ratio.high);
    verdict->speedup.low = perf_exp_(-log_ratio.high);
    verdict->speedup.estimate = perf_exp_(-log_ratio.estimate);
    verdict->speedup.high = perf_exp_(-log_ratio.low);
    if (bounded)                                    /* 2.80 = z(.975) + z(.80)                    */
        verdict->min_detectable_change = perf_exp_(half * (2.80 / 1.96)) - 1.0;
    else
        verdict->warnings |= PERF_WARN_UNBOUNDED;
    verdict->pairs_needed = 0.0;
    verdict->decision = perf_rule_answer_(&verdict->rule, log_ratio);
    verdict->reason = reason[verdict->decision];
    if (verdict->rule.kind == PERF_RULE_SAME)
        verdict->reason = of_same[verdict->decision];
    if (verdict->decision == PERF_INCONCLUSIVE) {
        room = perf_rule_room_(&verdict->rule, log_ratio.estimate);
        verdict->pairs_needed = perf_pairs_needed_(verdict, n, half, room);
        if (!bounded)
            verdict->reason = "too few measurements for an interval";
    }
    perf_verdict_guard_(verdict, &opts->guard);
}

/* What a log interval says to a rule.  Each limit of "the same within x %" is a one-sided test, and
 * ACCEPT needs both (Schuirmann 1987).                                                           */
PERF_FN perf_decision perf_rule_answer_(const perf_rule *rule, perf_interval log_ratio)
{
    const double log_t = perf_log_(perf_rule_threshold_(rule));
    const int    same = rule->kind == PERF_RULE_SAME;

    if (log_ratio.low > log_t || (same && log_ratio.high < -log_t))
        return PERF_REJECT;
    if (log_ratio.high < log_t && (!same || log_ratio.low > -log_t))
        return PERF_ACCEPT;
    return PERF_INCONCLUSIVE;
}

/* What the clock's step may hide in the ratio of the arms, as a log. */
PERF_FN double perf_arms_tick_(const perf_arms_ *arms, const perf_compare_opts *opts)
{
    const int is_count = opts->rule.memory || opts->rule.metric == PERF_METRIC_MEMORY ||
                         opts->rule.metric > PERF_METRIC_THROUGHPUT;
    double    tick = opts->tick, unseen;

    if (is_count && !(tick > 0.0))
        tick = -1.0;                                /* bytes and instructions are exact           */
    unseen = perf_tick_log_(arms->sorted_a, arms->na, arms->sorted_b, arms->nb, tick, 0);
    if (opts->rule.metric == PERF_METRIC_THROUGHPUT && !(opts->tick < 0.0))
        unseen = perf_most_(perf_tick_log_(arms->sorted_a, arms->na, arms->sorted_b, arms->nb, 0.0,
                                           1), unseen);
    return unseen;
}

/* 1: the metric is about the typical ratio, not about a quantile of each arm or a mean. */
PERF_FN int perf_metric_is_typical_(perf_metric metric)
{
    return metric == PERF_METRIC_PAIR || metric >= PERF_METRIC_MEMORY;
}

/* Below this many pairs the typical ratio holds the interval from signs, too: where one arm has two
 * speeds, signed ranks of few pairs are wrong in up to .13 a side.                               */
#define PERF_FEW_PAIRS_ 20

/* 1: the sorted logs have a gap at their middle, as of two speeds.  It fills .4 of their interval
 * from signs (95 %), or the median and `centre`, that of signed ranks, differ by .17 of it.  Of one
 * shape, .15 of 20 pairs look so, .05 of 24, .02 of 36.                                          */
PERF_FN int perf_split_(const double *d, size_t n, double centre)
{
    const perf_interval signs = perf_quantile_interval_(d, n, 0.5, 0.95);
    const double        width = signs.high - signs.low;
    size_t              i;

    if (perf_fabs_(signs.estimate - centre) > 0.17 * width)
        return 1;
    for (i = 1; i < n; i++)
        if (d[i - 1] >= signs.low && d[i] <= signs.high && d[i] - d[i - 1] > 0.4 * width)
            return 1;
    return 0;
}

/* The typical ratio of pairs.  Arms of one shape: the interval from signed ranks.  Else the median
 * of the pairs' ratios (from signs) and the ratio of medians differ: the answer holds for both.
 * Sorts the logs.                                                                                */
PERF_FN perf_interval perf_typical_pairs_(perf_verdict *verdict, const perf_arms_ *arms,
                                          double tail)
{
    perf_interval ranks = perf_signed_rank_(arms->logs, arms->na, tail);
    perf_interval signs = perf_quantile_interval_(arms->logs, arms->na, 0.5, verdict->confidence),
                  result;
    double        excess = perf_spikes_excess_(arms->logs, arms->na);
    const int     unlike = perf_lopsided_(arms->logs, arms->na, 1.4, PERF_LOG_ROUNDING_) ||
                           perf_unlike_(arms);

    if (unlike || excess >= 3.0)
        verdict->warnings |= PERF_WARN_SHAPE;
    if (unlike || excess > 0.0) {
        result =
            perf_hull_(signs, perf_quantile_ratio_(arms, 0.5, tail, perf_pair_shrink_(arms, 0.5)));
        result.estimate = perf_quantile_(arms->logs, arms->na, 0.5);
        return result;
    }
    if (arms->na < PERF_FEW_PAIRS_ || perf_split_(arms->logs, arms->na, ranks.estimate) ||
        perf_mirrored_(arms))
        return perf_hull_(ranks, signs);
    return ranks;
}

/* The ratio of medians with both at their worst limits: asks nothing of the laws of the arms. */
PERF_FN perf_interval perf_medians_apart_(const perf_arms_ *arms, double confidence)
{
    const perf_interval a = perf_quantile_interval_(arms->sorted_a, arms->na, 0.5, confidence);
    const perf_interval b = perf_quantile_interval_(arms->sorted_b, arms->nb, 0.5, confidence);
    perf_interval       result;

    result.estimate = perf_log_(b.estimate / a.estimate);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (b.low > 0.0 && perf_is_finite_(a.high))
        result.low = perf_log_(b.low / a.high);
    if (a.low > 0.0 && perf_is_finite_(b.high))
        result.high = perf_log_(b.high / a.low);
    return result;
}

/* The ratio of medians of pairs.  Medians of few jump between two speeds: so below 32 pairs the
 * interval holds that of the typical ratio, below 20 the one from signs.  Where the arms spread
 * unlike, a root of squares takes lumps for a law: it holds the worst limits.  Sorts the logs.   */
PERF_FN perf_interval perf_median_pairs_(const perf_arms_ *arms, double confidence)
{
    double        tail = 0.5 - 0.5 * confidence;
    perf_interval result = perf_quantile_ratio_(arms, 0.5, tail, perf_pair_shrink_(arms, 0.5));

    if (arms->na < PERF_FEW_MEDIANS_)
        result = perf_hull_(result, perf_signed_rank_(arms->logs, arms->na, tail));
    if (arms->na < PERF_FEW_PAIRS_)
        result = perf_hull_(result, perf_quantile_interval_(arms->logs, arms->na, 0.5, confidence));
    if (perf_unlike_(arms))
        result = perf_hull_(result, perf_medians_apart_(arms, confidence));
    return result;
}

/* The log interval of the metric that the rule is about. */
PERF_FN perf_interval perf_arms_interval_(perf_verdict *verdict, const perf_arms_ *arms)
{
    perf_metric   metric = verdict->rule.metric;
    perf_interval result;
    double        p = perf_metric_p_(metric), tail = 0.5 - 0.5 * verdict->confidence, shrink = 1.0;

    if (metric == PERF_METRIC_MEAN) {
        result = perf_mean_ratio_(arms, tail);
        if (perf_mean_hostage_(arms->sorted_a, arms->na) ||
            perf_mean_hostage_(arms->sorted_b, arms->nb))
            verdict->warnings |= PERF_WARN_MEAN;
        return result;
    }
    if (arms->logs && perf_metric_is_typical_(metric))
        return perf_typical_pairs_(verdict, arms, tail);
    if (arms->logs && metric == PERF_METRIC_P50)
        return perf_median_pairs_(arms, verdict->confidence);
    if (arms->logs)
        shrink = perf_pair_shrink_(arms, p);
    return perf_quantile_ratio_(arms, p, tail, shrink);
}

/* Says of an interval that the clock's step, as a log, makes undecided that this does so.  It may
 * do so for any number of pairs: if it hides all that is between the estimate and the threshold. */
PERF_FN void perf_verdict_coarse_(perf_verdict *verdict, perf_interval exact, double tick)
{
    const perf_rule *rule = &verdict->rule;
    int              hides_all;

    if (verdict->decision != PERF_INCONCLUSIVE ||
        perf_rule_answer_(rule, perf_widen_(exact, tick)) != PERF_INCONCLUSIVE)
        return;                                     /* else the guard has withheld the answer     */
    perf_verdict_hidden_(verdict, exact, tick);
    hides_all = !perf_is_finite_(verdict->pairs_needed) &&
                (verdict->warnings & PERF_WARN_RESOLUTION);
    if (hides_all || perf_rule_answer_(rule, exact) != PERF_INCONCLUSIVE) {
        verdict->reason = "the clock is too coarse for this: time more work at once";
        verdict->pairs_needed = PERF_INF_;
    }
}

/* Judges two arms: values are good, and there is one at least of each. */
PERF_FN void perf_verdict_arms_(perf_verdict *verdict, const perf_arms_ *arms,
                                const perf_compare_opts *opts)
{
    perf_interval result;
    double        tick;
    int           few_medians;

    PERF_LIBC_(memcpy)(arms->sorted_a, arms->a, arms->na * sizeof *arms->a);
    PERF_LIBC_(memcpy)(arms->sorted_b, arms->b, arms->nb * sizeof *arms->b);
    perf_sort_values_(arms->sorted_a, arms->na);
    perf_sort_values_(arms->sorted_b, arms->nb);
    result = perf_arms_interval_(verdict, arms);
    tick = perf_arms_tick_(arms, opts);
    if (tick > 0.0 && tick > 0.1 * (result.high - result.low))
        verdict->warnings |= PERF_WARN_RESOLUTION;
    verdict->pairs = arms->na;
    if (arms->nb < arms->na)
        verdict->pairs = arms->nb;
    perf_verdict_finish_(verdict, perf_widen_(result, tick), PERF_CAST_(double, verdict->pairs),
                         opts);
    if (tick > 0.0)
        perf_verdict_coarse_(verdict, result, tick);
    if (verdict->warnings & PERF_WARN_MEAN)
        perf_verdict_cap_(verdict,
                          "one value carries over 10 % of the sum: the mean is not identified");
    few_medians = arms->logs && arms->na < 100 && verdict->rule.metric == PERF_METRIC_P50;
    if (few_medians && perf_unlike_(arms)) {
        verdict->warnings |= PERF_WARN_SHAPE;
        perf_verdict_cap_(verdict,
                          "medians of so few values mean little where the two differ in shape");
    }
}

/* What was handed over to be compared; pairs: nx is ny. */
typedef struct perf_samples_ {
    const double *x, *y;                            /* baseline, candidate                        */
    size_t        nx, ny;
    int           paired;
} perf_samples_;

/* Copies the values that are positive numbers: of pairs only whole ones.  Returns how many of the
 * values (or pairs) were left out.                                                               */
PERF_FN uint64_t perf_samples_gather_(const perf_samples_ *in, perf_arms_ *arms)
{
    size_t n = in->nx, i;

    if (in->ny > n)
        n = in->ny;
    for (i = 0; i < n; i++) {
        int good_x = i < in->nx && perf_is_duration_(in->x[i]);
        int good_y = i < in->ny && perf_is_duration_(in->y[i]);
        if (in->paired && good_x && good_y)
            arms->logs[arms->na] = perf_log_(in->y[i]) - perf_log_(in->x[i]);
        if (good_x && (good_y || !in->paired))
            arms->a[arms->na++] = in->x[i];
        if (good_y && (good_x || !in->paired))
            arms->b[arms->nb++] = in->y[i];
    }
    if (in->paired)
        return in->nx - arms->na;
    return in->nx - arms->na + (in->ny - arms->nb);
}

/* Of rates more is better: the arms change sides. */
PERF_FN void perf_arms_swap_(perf_arms_ *arms)
{
    double *a = arms->a;
    size_t  na = arms->na, i;

    arms->a = arms->b;
    arms->na = arms->nb;
    arms->b = a;
    arms->nb = na;
    for (i = 0; i < arms->na && arms->logs; i++)
        arms->logs[i] = -arms->logs[i];
}

/* What is known to be wrong with the way in which the values came about. */
PERF_FN void perf_verdict_doubt_(perf_verdict *verdict, const perf_samples_ *in, perf_design design)
{
    const int ordered = design == PERF_DESIGN_RANDOM ||
                        (in->paired && design != PERF_DESIGN_SEPARATE);

    if (verdict->excluded) {
        verdict->warnings |= PERF_WARN_BAD_VALUES;
        perf_verdict_cap_(verdict, "some values are no positive numbers: measure again");
    }
    if (!ordered) {
        verdict->warnings |= PERF_WARN_ORDER;
        perf_verdict_cap_(verdict,
                          "not interleaved: a drift between the two runs would look the same");
    }
    if (verdict->decision == PERF_INCONCLUSIVE && (verdict->excluded || !ordered) &&
        verdict->ratio.low > 0.0 && perf_is_finite_(verdict->ratio.high))
        verdict->pairs_needed = PERF_INF_;          /* else an interval comes first               */
}

/* One rule, alone. */
PERF_FN perf_verdict perf_compare_alone_(const perf_samples_ *in, const perf_compare_opts *opts)
{
    perf_verdict verdict = perf_verdict_start_(opts);
    perf_arms_   arms = PERF_ZERO;
    double       local[5 * 128], *memory = PERF_NULL_;
    size_t       n = in->nx;

    if (in->ny > n)
        n = in->ny;
    if (n <= SIZE_MAX / 64)
        memory = perf_scratch_(local, 5 * 128, 5 * n);
    if (!memory) {
        verdict.status = PERF_ENOMEM;
        return verdict;
    }
    arms.a = memory;
    arms.b = memory + n;
    arms.sorted_a = memory + 2 * n;
    arms.sorted_b = memory + 3 * n;
    if (in->paired)
        arms.logs = memory + 4 * n;
    verdict.excluded = perf_samples_gather_(in, &arms);
    if (!in->paired) {
        verdict.baseline_values = arms.na;
        verdict.candidate_values = arms.nb;
    }
    if (verdict.excluded)
        verdict.status = PERF_ENODATA;
    if (arms.na && arms.nb) {
        if (opts->rule.metric == PERF_METRIC_THROUGHPUT)
            perf_arms_swap_(&arms);
        perf_verdict_arms_(&verdict, &arms, opts);
        if (verdict.excluded)
            verdict.status = PERF_ERANGE;
    }
    perf_scratch_free_(memory, local);
    perf_verdict_doubt_(&verdict, in, opts->design);
    return verdict;
}

/* With joined rules a REJECT must also hold at a higher confidence: at that all rules together err
 * as seldom as one.  An ACCEPT needs no correction: all rules must agree.                        */
PERF_FN perf_verdict perf_compare_samples_(const perf_samples_ *in, const perf_compare_opts *opts)
{
    perf_compare_opts options = *opts;
    perf_verdict      verdict = perf_verdict_start_(&options), strict;

    if (verdict.status == PERF_OK && (!in->nx || !in->ny))
        verdict.status = PERF_ENODATA;
    if (verdict.status == PERF_OK && (!in->x || !in->y))
        verdict.status = PERF_EINVAL;
    if (verdict.status != PERF_OK)
        return verdict;
    options.rules = 1;
    verdict = perf_compare_alone_(in, &options);
    if (opts->rules <= 1)
        return verdict;
    options.confidence = 1.0 - (1.0 - options.confidence) / PERF_CAST_(double, opts->rules);
    strict = perf_compare_alone_(in, &options);
    if (strict.status == PERF_ENOMEM)
        return strict;
    if (verdict.decision != PERF_ACCEPT) {          /* the interval shown is the one that decides */
        if (verdict.rule.kind != PERF_RULE_SAME) {
            strict.ratio.high = verdict.ratio.high;
            strict.speedup.low = verdict.speedup.low;
        }
        verdict.ratio = strict.ratio;
        verdict.speedup = strict.speedup;
    }
    if (verdict.decision == PERF_REJECT && strict.decision != PERF_REJECT) {
        verdict.decision = PERF_INCONCLUSIVE;
        verdict.reason = "alone it would be REJECT; among several rules that is not sure enough";
        verdict.pairs_needed = strict.pairs_needed;
    }
    return verdict;
}

PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts)
{
    perf_compare_opts options = perf_compare_opts_resolved_(opts);
    perf_samples_     in = PERF_ZERO;

    in.x = baseline;
    in.y = candidate;
    in.nx = in.ny = n;
    in.paired = 1;
    return perf_compare_samples_(&in, &options);
}

PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts)
{
    perf_compare_opts options = perf_compare_opts_resolved_(opts);
    perf_samples_     in = PERF_ZERO;

    in.x = baseline;
    in.y = candidate;
    in.nx = nb;
    in.ny = nc;
    return perf_compare_samples_(&in, &options);
}

/* ---- verdicts as text ---- */

/* A change of so many percent: "+2.1 %". */
PERF_FN void perf_put_percent_(perf_out_ *out, double ratio, int digits)
{
    double percent = (ratio - 1.0) * 100.0;

    if (!perf_is_finite_(percent)) {
        perf_put_(out, "unbounded");
        return;
    }
    if (percent >= 0.0)
        perf_put_char_(out, '+');
    perf_put_fixed_(out, percent, digits);
    perf_put_(out, " %");
}

/* A factor: "1.42x". */
PERF_FN void perf_put_factor_(perf_out_ *out, double factor, int digits)
{
    if (!perf_is_finite_(factor)) {
        perf_put_(out, "unbounded");
        return;
    }
    if (factor < 0.001)
        digits = 9;
    perf_put_fixed_(out, factor, digits);
    perf_put_char_(out, 'x');
}

PERF_FN void perf_put_change_(perf_out_ *out, double x, int is_factor, int digits)
{
    if (is_factor)
        perf_put_factor_(out, x, digits);
    else
        perf_put_percent_(out, x, digits);
}

PERF_FN const char *perf_decision_text(perf_decision decision)
{
    if (decision == PERF_ACCEPT)
        return "ACCEPT";
    if (decision == PERF_REJECT)
        return "REJECT";
    return "INCONCLUSIVE";
}

/* Digits after the point, 1 to 4, that show two digits of a width: 0.37 -> 2, 0.0021 -> 4. */
PERF_FN int perf_digits_of_width_(double width)
{
    int digits;

    for (digits = 1; digits < 5 && width < 10.0; digits++)
        width *= 10.0;
    if (digits > 2)
        return digits - 1;
    return digits;
}

/* "95 % CI ", with as many decimals as the confidence has, if it has no more than 4. */
PERF_FN void perf_put_confidence_(perf_out_ *out, double confidence)
{
    double percent = confidence * 100.0, step = perf_step_decimal_(percent);
    int    digits = 0;

    for (; step < 0.5 && digits < 5; step *= 10.0)
        digits++;
    if (digits == 5 && percent > 99.55)
        digits = 4;
    else if (digits == 5)                           /* 1 - 0.05 / 3                               */
        digits = 1;
    digits += 5 * (percent >= 99.99995);            /* of one of many: never "100.0000 %"         */
    perf_put_fixed_(out, percent, digits);
    perf_put_(out, " % CI ");
}

/* The answer as a speed-up, "1.42x (95 % CI 1.38x to 1.46x)", or else as a change, "+2.1 % (...)".
 * In a table "+2.1 % [-0.3 %, +4.6 %]".  Without limits the estimate alone.                      */
PERF_FN void perf_put_interval_(perf_out_ *out, const perf_verdict *verdict, int speedup, int table)
{
    const perf_interval *x = &verdict->ratio;
    double               width;
    int                  digits, bounded;

    if (speedup || verdict->rule.metric == PERF_METRIC_THROUGHPUT) /* ratios of rates are inverse */
        x = &verdict->speedup;
    width = x->high - x->low;
    if (!speedup)
        width *= 100.0;
    bounded = perf_is_finite_(x->high) && verdict->ratio.low > 0.0 &&
              perf_is_finite_(verdict->ratio.high);
    digits = perf_digits_of_width_(width);
    if (!bounded)
        digits = table ? 1 : 2;
    perf_put_change_(out, x->estimate, speedup, digits);
    if (!bounded) {
        perf_put_(out, table ? "" : " (no interval yet)");
        return;
    }
    perf_put_(out, table ? " [" : " (");
    if (!table)
        perf_put_confidence_(out, verdict->confidence);
    perf_put_change_(out, x->low, speedup, digits);
    perf_put_(out, table ? ", " : " to ");
    perf_put_change_(out, x->high, speedup, digits);
    perf_put_char_(out, table ? ']' : ')');
}

/* Decimals that show all of a rule's amount: 6 at most, for a factor or below 10 % at least one. */
PERF_FN int perf_rule_decimals_(const perf_rule *rule)
{
    double step = 1.0;
    int    digits = 0;

    if (rule->amount > 1e-7 && rule->amount < 1e15)
        step = perf_step_decimal_(rule->amount);
    if (step > 0.1 && (rule->kind == PERF_RULE_SPEEDUP || rule->amount < 10.0))
        step = 0.1;
    for (; step < 0.5 && digits < 6; step *= 10.0)
        digits++;
    return digits;
}

/* What a rule is about.  A rate "down" would be worse: its inverse is meant. */
PERF_FN const char *perf_rule_subject_(const perf_rule *rule)
{
    static const char *const name[] = {"time", "median", "p95", "p99", "mean", "memory",
                                       "throughput", "instructions", "cycles", "branches",
                                       "branch misses"};

    if (PERF_CAST_(unsigned, rule->metric) > PERF_METRIC_BRANCH_MISSES)
        return "metric";
    if (rule->kind == PERF_RULE_REDUCTION && rule->metric == PERF_METRIC_THROUGHPUT)
        return "1 / throughput";
    return name[rule->metric];
}

/* "speed-up >= 1.3x", "memory p95 down by >= 20 %", "mean no more than 2.0 % worse". */
PERF_FN void perf_put_rule_(perf_out_ *out, const perf_rule *rule)
{
    const int is_speedup = rule->kind == PERF_RULE_SPEEDUP;

    if (rule->memory)
        perf_put_(out, "memory ");
    if (is_speedup && rule->metric == PERF_METRIC_PAIR && !rule->memory) {
        perf_put_(out, "speed-up >= ");
    } else {
        perf_put_(out, perf_rule_subject_(rule));
        if (is_speedup)
            perf_put_(out, " better by >= ");
        else if (rule->kind == PERF_RULE_REDUCTION)
            perf_put_(out, " down by >= ");
        else if (rule->kind == PERF_RULE_SAME)
            perf_put_(out, " the same within ");
        else
            perf_put_(out, " no more than ");
    }
    perf_put_fixed_(out, rule->amount, perf_rule_decimals_(rule));
    if (is_speedup)
        perf_put_(out, "x");
    else if (rule->kind == PERF_RULE_REDUCTION || rule->kind == PERF_RULE_SAME)
        perf_put_(out, " %");
    else
        perf_put_(out, " % worse");
}

/* How many values the answer rests on. */
PERF_FN void perf_put_evidence_(perf_out_ *out, const perf_verdict *verdict)
{
    if (verdict->baseline_values) {
        perf_put_u64_(out, verdict->baseline_values);
        perf_put_(out, " and ");
        perf_put_u64_(out, verdict->candidate_values);
        perf_put_(out, " values; ");
        return;
    }
    perf_put_u64_(out, verdict->pairs);
    perf_put_(out, verdict->pairs == 1 ? " pair; " : " pairs; ");
}

PERF_FN const char *perf_verdict_text(perf_verdict *verdict)
{
    perf_out_   out;
    const char *reason;
    int         speedup;

    if (!verdict)
        return "";
    out = perf_out_open_(verdict->text, sizeof verdict->text);
    perf_put_(&out, perf_decision_text(verdict->decision));
    perf_put_(&out, ": ");
    reason = verdict->reason;
    if (!verdict->pairs) {
        if (!reason)
            reason = perf_status_text(verdict->status);
        perf_put_(&out, "not measured: ");
        perf_put_(&out, reason);
        return verdict->text;
    }
    if (!reason)
        reason = "no reason given";
    speedup = verdict->rule.kind == PERF_RULE_SPEEDUP;
    if (speedup)
        perf_put_(&out, "speed-up ");
    perf_put_interval_(&out, verdict, speedup, 0);
    perf_put_(&out, ", asked: ");
    perf_put_rule_(&out, &verdict->rule);
    perf_put_(&out, "; ");
    if (verdict->clock) {
        perf_put_(&out, verdict->clock);
        perf_put_(&out, "; ");
    }
    perf_put_evidence_(&out, verdict);
    perf_put_(&out, reason);
    if (verdict->led_ratio > 0.0) {
        perf_put_(&out, "; after longer leads ");
        perf_put_change_(&out, speedup ? 1.0 / verdict->led_ratio : verdict->led_ratio, speedup, 4);
    }
    if (verdict->mean_ratio > 0.0) {
        perf_put_(&out, "; but the ratio of means is ");
        perf_put_fixed_(&out, verdict->mean_ratio, 3);
    }
    if (verdict->p99_ratio > 0.0) {
        perf_put_(&out, "; but the ratio of p99 is ");
        perf_put_fixed_(&out, verdict->p99_ratio, 3);
    }
    if (verdict->warnings & PERF_WARN_SHAPE) {
        perf_put_(&out, "; ");
        perf_put_(&out, perf_warning_text(PERF_WARN_SHAPE));
    }
    if (verdict->decision == PERF_INCONCLUSIVE && verdict->pairs_needed > 0.0 &&
        verdict->pairs_needed < 1e6) {
        perf_put_(&out, "; about ");
        perf_put_u64_(&out, PERF_CAST_(uint64_t, verdict->pairs_needed + 0.999999));
        perf_put_(&out, " more would probably settle it");
    }
    return verdict->text;
}

/* ---- accuracy ---- */

/* Bits of a floating-point number as an integer that grows with it: their difference counts the
 * representable numbers in between.  sign: its highest bit.                                      */
PERF_FN uint64_t perf_ulp_order_(uint64_t bits, uint64_t sign)
{
    if (bits & sign)
        return sign - (bits & (sign - 1));
    return sign + bits;
}

PERF_FN double perf_ulp_gap_(uint64_t a, uint64_t b, uint64_t sign)
{
    a = perf_ulp_order_(a, sign);
    b = perf_ulp_order_(b, sign);
    if (a > b)
        return PERF_CAST_(double, a - b);
    return PERF_CAST_(double, b - a);
}

/* One more element of the outputs; ulp: how many representable numbers lie between. */
PERF_FN void perf_accuracy_add_(perf_accuracy *accuracy, double ref, double out, double ulp)
{
    double error = perf_fabs_(out - ref), size = perf_fabs_(ref);

    accuracy->compared++;
    if (perf_is_nan_(ref) && perf_is_nan_(out))
        return;                                     /* both say "not a number": they agree        */
    if (!perf_is_finite_(ref) || !perf_is_finite_(out)) {
        if (ulp > 0.0 || perf_is_nan_(ref) || perf_is_nan_(out))
            accuracy->max_abs = accuracy->max_rel = accuracy->max_ulp = PERF_NAN_;
        return;
    }
    if (perf_is_nan_(accuracy->max_abs))
        return;
    accuracy->max_abs = perf_most_(error, accuracy->max_abs);
    accuracy->max_ulp = perf_most_(ulp, accuracy->max_ulp);
    if (!(error > 0.0))
        return;
    if (size > 0.0)
        accuracy->max_rel = perf_most_(error / size, accuracy->max_rel);
    else
        accuracy->max_rel = PERF_INF_;
}

PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n)
{
    perf_accuracy accuracy = PERF_ZERO;
    size_t        i;

    if (!n || !reference || !out) {
        accuracy.max_abs = accuracy.max_rel = accuracy.max_ulp = PERF_NAN_;
        return accuracy;
    }
    for (i = 0; i < n; i++)
        perf_accuracy_add_(&accuracy, reference[i], out[i],
                           perf_ulp_gap_(perf_bits_(reference[i]), perf_bits_(out[i]),
                                         UINT64_C(1) << 63));
    return accuracy;
}

PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n)
{
    perf_accuracy accuracy = PERF_ZERO;
    uint32_t      a, b;
    size_t        i;

    if (!n || !reference || !out) {
        accuracy.max_abs = accuracy.max_rel = accuracy.max_ulp = PERF_NAN_;
        return accuracy;
    }
    for (i = 0; i < n; i++) {
        PERF_LIBC_(memcpy)(&a, reference + i, sizeof a);
        PERF_LIBC_(memcpy)(&b, out + i, sizeof b);
        perf_accuracy_add_(&accuracy, PERF_CAST_(double, reference[i]), PERF_CAST_(double, out[i]),
                           perf_ulp_gap_(a, b, UINT64_C(1) << 31));
    }
    return accuracy;
}

PERF_END_DECLS

#endif /* PERF_STATS_H */
