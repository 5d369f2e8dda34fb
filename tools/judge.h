/* judge.h - matches the benchmarks of two sides by name and holds each against the rules.
 *
 * What is compared depends on how the numbers came about (docs/perf-ab.md):
 *   pairs      value i of A and of B belong together, their order was random: signed ranks
 *   run pairs  several processes of each side: one figure a process, then as pairs
 *   random     the order of all measurements was random: two samples
 *   separate   one side after the other: two samples, and never more than INCONCLUSIVE
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_JUDGE_H
#define PERF_TOOLS_JUDGE_H

#include "ab.h"
#include "doubt.h"
#include "stats.h"

enum { AB_RULES = 8, AB_ENOUGH_RUNS = 6 };

typedef enum ab_how { AB_HOW_PAIRS, AB_HOW_RUNS, AB_HOW_RANDOM, AB_HOW_SEPARATE } ab_how;

typedef enum ab_vouch { AB_VOUCH_NONE, AB_VOUCH_PAIRED, AB_VOUCH_RANDOM, AB_VOUCH_TURNS } ab_vouch;

typedef struct ab_plan {                /* what is asked for                                      */
    perf_rule rule[AB_RULES];
    ab_kind   kind[AB_RULES];           /* which figures the rule is about                        */
    int       rules;
    double    confidence;
    ab_vouch  vouch;
    int       failures_count;           /* 1: runs that ended with a failure are judged, too      */
    int       trust;                    /* 1: columns that look like no measurements are judged   */
} ab_plan;

typedef struct ab_data {                /* one benchmark under one rule                           */
    ab_how       how;
    const char  *unit;
    double      *x[2];                  /* A and B in time order, one figure a run for run pairs  */
    size_t       n[2];
    int          own[2];                /* 1: x is ours to free                                   */
    perf_rule    rule;                  /* as judged                                              */
    double       tick;                  /* step of the clock; 0: ab_judge finds it, < 0: none     */
    double       shown[2];              /* before and after                                       */
    double       off[2];                /* half-width of their intervals, as a share; < 0: none   */
    int          ranged[2];             /* 1: too few values, it is the range                     */
    int          counts;                /* 1: some values are counts of 0, kept as AB_ZERO_COUNT  */
    char         cap[200];              /* why the verdict may not be more than INCONCLUSIVE; ""  */
    perf_verdict v;
    double       p;                     /* see ab_p_value_; filled for families only              */
} ab_data;

typedef struct ab_row {
    const char   *name;
    const char   *missing;              /* "A" or "B": no values there; NULL: both have some      */
    const char   *absent[2];            /* for A and B: "missing", "failed" ...; NULL: has values */
    int           doubted;              /* 1: refused for what its columns look like              */
    char          why[900];             /* the same in words; "" where nothing is known           */
    ab_data       d[AB_RULES];
    int           open;                 /* a verdict other than INCONCLUSIVE was possible         */
    perf_decision alone, family;        /* by itself, and among all of them (Holm)                */
    double        p, holm;
    char          settle[900];          /* what would settle an INCONCLUSIVE; "" when decided     */
} ab_row;

typedef struct ab_between {             /* how several values a run vary; all 0: one a run        */
    size_t values;
    double runs, within;                /* variances of logs: between runs, around a run's centre */
    double best;                        /* values a run that pay; 0: not known, or runs are alike */
} ab_between;

typedef struct ab_usage {               /* what a command of perf-ab run took, medians            */
    char      *name;
    double     median[4];               /* wall, user and system time in ns, memory in bytes      */
    size_t     runs, failed;
    ab_between between;
} ab_usage;

typedef struct ab_report {
    const char *name[2];                /* what A and B are called                                */
    char       *owned[2];               /* the same, where the report has to free it              */
    const char *format[2];
    ab_plan     plan;
    ab_row     *row;
    size_t      n;
    size_t      fresh;                  /* benchmarks that only B has                             */
    const char *fresh_name[3];          /* the first of them                                      */
    char       *known;                  /* for each of B: 1 where A has it                        */
    ab_set      about;                  /* its notes: values that are not used, and why           */
    int         sequential;             /* decided pair by pair, the rows' levels corrected       */
    int         plot;                   /* the table ends with a forest plot                      */
    char       *unlike;                 /* the row of two benchmarks of different names, or NULL  */
    ab_usage   *usage;                  /* of each command, or NULL                               */
    size_t      usages;
    double      pairs_for_1_percent;    /* of runs with the best number of values; 0: not known   */
    size_t      judged;                 /* size of the family                                     */
    size_t      count[3];               /* rows by perf_decision                                  */
    perf_decision decision;
} ab_report;

PERF_FN int ab_is_typical(perf_metric metric)
{
    return metric == PERF_METRIC_PAIR || metric >= PERF_METRIC_MEMORY;
}

PERF_FN ab_kind ab_rule_kind(const perf_rule *rule)
{
    if (rule->metric == PERF_METRIC_MEMORY || rule->memory)
        return AB_MEMORY;
    if (rule->metric >= PERF_METRIC_INSTRUCTIONS)
        return AB_OTHER;
    return rule->metric == PERF_METRIC_THROUGHPUT ? AB_RATE : AB_TIME;
}

/* A ratio candidate / baseline as a rule. */
PERF_FN perf_rule ab_rule_of_ratio(double ratio, perf_metric metric)
{
    return ratio > 1.0 ? perf_rule_make(PERF_RULE_NO_REGRESSION, (ratio - 1.0) * 100.0, metric)
                       : perf_rule_make(PERF_RULE_SPEEDUP, 1.0 / ratio, metric);
}

/* The metric of that name, or -1. */
PERF_FN int ab_metric_of(const char *name)
{
    static const char *const known[] = {"pair", "p50",    "p95",       "p99",
                                        "mean", "memory", "throughput"};
    int i;

    for (i = 0; i < 7; i++)
        if (!strcmp(name, known[i]))
            return i;
    if (!strcmp(name, "time"))
        return (int)PERF_METRIC_PAIR;
    return !strcmp(name, "median") ? (int)PERF_METRIC_P50 : -1;
}

PERF_FN const char *ab_metric_name(perf_metric metric)
{
    static const char *const name[] = {"time", "p50", "p95", "p99", "mean", "memory", "throughput",
                                       "instructions", "cycles", "branches", "branch-misses"};
    return (unsigned)metric <= PERF_METRIC_BRANCH_MISSES ? name[metric] : "?";
}

/* The rule in words, as the library says it. */
PERF_FN ab_text ab_rule_text(const perf_rule *rule)
{
    ab_text   text;
    perf_out_ out;

    out.p = text.s;
    out.len = 0;
    out.cap = sizeof text.s;
    text.s[0] = '\0';
    perf_put_rule_(&out, rule);
    return text;
}

/* Puts the k-th smallest (0 = smallest) of x[0..n) at x[k], smaller ones before it (Hoare 1961). */
PERF_FN void ab_select(double *x, size_t n, size_t k)
{
    size_t part;

    while (n > 24) {
        part = perf_sort_cut_(x, n);
        if (!part)
            return;                             /* all are equal                                  */
        if (k < part) {
            n = part;
        } else {
            x += part;
            n -= part;
            k -= part;
        }
    }
    perf_sort_values_(x, n);
}

/* The quantile that a metric is about. */
PERF_FN double ab_quantile_of(perf_metric metric)
{
    if (metric == PERF_METRIC_P99)
        return 0.99;
    return metric == PERF_METRIC_P95 ? 0.95 : 0.5;
}

/* The figure of one sample that the metric is about.  A quantile needs the two values around its
 * place, not a sorted array: a million values take a fifth of the time.                          */
PERF_FN double ab_statistic(const double *x, size_t n, perf_metric metric)
{
    double *s, r, p = ab_quantile_of(metric), t;
    size_t  k, i, least;

    if (!n)
        return perf_from_bits_(UINT64_C(0x7ff8000000000000));
    if (metric == PERF_METRIC_MEAN)
        return ab_mean_interval(x, n, 0.0).estimate;
    s = (double *)ab_grow(NULL, n, sizeof *s);
    memcpy(s, x, n * sizeof *s);
    k = (size_t)((double)(n - 1) * p);
    ab_select(s, n, k);
    for (i = least = k + 1; i < n; i++)
        least = s[i] < s[least] ? i : least;
    if (least < n) {
        t = s[k + 1];
        s[k + 1] = s[least];
        s[least] = t;
    }
    r = perf_quantile_(s, n, p);
    free(s);
    return r;
}

/* Why figures in this unit are not what the rule is about; NULL: they may be.  Of times a rule on
 * throughput would call the longer ones better.                                                  */
PERF_FN const char *ab_misfit(const perf_rule *rule, const char *unit)
{
    const ab_kind kind = ab_unit_kind(unit);

    if (rule->metric >= PERF_METRIC_INSTRUCTIONS && *unit &&
        strcmp(unit, perf_rule_subject_(rule)) != 0)
        return "that is no such count";
    if (rule->metric == PERF_METRIC_THROUGHPUT && kind != AB_RATE && kind != AB_OTHER)
        return "that is no throughput";
    return ab_rule_kind(rule) == AB_MEMORY && (kind == AB_TIME || kind == AB_RATE)
               ? "that is no memory" : NULL;
}

/* ---- the numbers behind one verdict ---- */

/* All values of one arm, run after run; borrowed when there is one run. */
PERF_FN void ab_flat_(ab_data *data, int side, const ab_series *series, int arm)
{
    size_t i;

    data->n[side] = ab_total(series);
    if (series->runs == 1) {
        data->x[side] = series->run[0].v[arm].x;
        return;
    }
    data->x[side] = (double *)ab_grow(NULL, data->n[side], sizeof(double));
    data->own[side] = 1;
    for (i = 0, data->n[side] = 0; i < series->runs; i++) {
        memcpy(data->x[side] + data->n[side], series->run[i].v[arm].x,
               series->run[i].v[arm].n * sizeof(double));
        data->n[side] += series->run[i].v[arm].n;
    }
}

/* One figure a run.  Runs of pairs: the candidate's is the baseline's times the typical ratio
 * within the run, so that a drift inside a run cancels.                                          */
PERF_FN void ab_by_run_(ab_data *data, const ab_series *first, const ab_series *second,
                        const size_t *match)
{
    perf_metric  metric = data->rule.metric;
    perf_verdict verdict;
    size_t       i, k;

    data->how = AB_HOW_RUNS;
    data->n[0] = first->runs;
    data->n[1] = second->runs;
    for (k = 0; k < 2; k++) {
        data->x[k] = (double *)ab_grow(NULL, data->n[k], sizeof(double));
        data->own[k] = 1;
    }
    for (i = 0; i < first->runs; i++)
        data->x[0][i] = ab_statistic(first->run[i].v[0].x, first->run[i].v[0].n, metric);
    for (i = 0; i < second->runs; i++) {
        const ab_values *values = second->run[match ? match[i] : i].v;
        if (first != second) {
            data->x[1][i] = ab_statistic(values[0].x, values[0].n, metric);
        } else if (ab_is_typical(metric)) {
            perf_compare_opts opts = PERF_ZERO;
            opts.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
            verdict = perf_compare_pairs(values[0].x, values[1].x, values[0].n, &opts);
            data->x[1][i] = data->x[0][i] * verdict.ratio.estimate;
        } else {
            data->x[1][i] = ab_statistic(values[1].x, values[1].n, metric);
        }
    }
    if (metric != PERF_METRIC_THROUGHPUT)
        data->rule.metric = PERF_METRIC_PAIR;
}

typedef struct ab_when {                /* a run and its place in time                            */
    double time;
    size_t run;
} ab_when;

PERF_FN int ab_by_time_(const void *a_, const void *b_)
{
    const ab_when *one = (const ab_when *)a_, *other = (const ab_when *)b_;

    if (one->time > other->time)
        return 1;
    if (one->time < other->time)
        return -1;
    return (one->run > other->run) - (one->run < other->run);
}

/* order[k] is the k-th run in time; in order of the file where a run does not say when it was.
 * Returns whether all say it.                                                                    */
PERF_FN int ab_in_time_(const ab_series *series, ab_when *order)
{
    size_t i;
    int    known = series->runs > 0;

    for (i = 0; i < series->runs; i++) {
        known &= series->run[i].time > 0.0;
        order[i].time = series->run[i].time;
        order[i].run = i;
    }
    if (known)
        qsort(order, series->runs, sizeof *order, ab_by_time_);
    return known;
}

/* Pairs runs: by id where both sides use the same ids; else the first of A with the first of B, and
 * so on.  match[i] is the run of `second` that belongs to run i of `first`.  0: they cannot be
 * paired.                                                                                        */
PERF_FN int ab_match_runs_(const ab_series *first, const ab_series *second, size_t *match)
{
    ab_when *order;
    size_t   i, k, found = 0;

    if (first->runs != second->runs)
        return 0;
    for (i = 0; i < first->runs; i++)
        for (k = 0; k < second->runs; k++)
            if (first->run[i].id && second->run[k].id &&
                !strcmp(first->run[i].id, second->run[k].id)) {
                match[i] = k;
                found++;
                break;
            }
    if (found)
        return found == first->runs;
    order = (ab_when *)ab_grow(NULL, 2 * first->runs, sizeof *order);
    if (!ab_in_time_(first, order) || !ab_in_time_(second, order + first->runs))
        for (i = 0; i < first->runs; i++)
            order[i].run = order[first->runs + i].run = i;
    for (i = 0; i < first->runs; i++)
        match[order[i].run] = order[first->runs + i].run;
    free(order);
    return 1;
}

/* Says so where a run of B was on another machine than the first of A, or the other way round. */
PERF_FN void ab_elsewhere_(const ab_series *first, const ab_series *second, char *cap, size_t size)
{
    const char *x = first->run[0].machine, *y = second->run[0].machine;
    size_t      i;

    for (i = 1; i < second->runs && x && y && !strcmp(x, y); i++)
        y = second->run[i].machine;
    for (i = 1; i < first->runs && x && y && !strcmp(x, y); i++)
        x = first->run[i].machine;
    if (x && y && strcmp(x, y) != 0)
        snprintf(cap, size, "A ran on %.60s, B on %.60s", x, y);
}

/* Says so where files claim one random order of all values, and yet all of one side was over an hour or
 * more before the other one began.                                                               */
PERF_FN void ab_apart_(const ab_series *first, const ab_series *second, char *cap, size_t size)
{
    const ab_series *side[2];
    double           low[2], high[2], gap;
    size_t           i;
    int              k, known = first->runs && second->runs;

    side[0] = first;
    side[1] = second;
    for (k = 0; k < 2 && known; k++) {
        low[k] = high[k] = side[k]->run[0].time;
        for (i = 0; i < side[k]->runs; i++) {
            const double time = side[k]->run[i].time;
            low[k] = time < low[k] ? time : low[k];
            high[k] = time > high[k] ? time : high[k];
        }
        known &= low[k] > 0.0;
    }
    if (!known)
        return;
    gap = low[1] - high[0] > low[0] - high[1] ? low[1] - high[0] : low[0] - high[1];
    if (gap >= 3600.0)
        snprintf(cap, size, "the files say that A and B were measured %.0f hours apart: no random "
                 "order; --random vouches for it", gap / 3600.0);
}

/* Were the pairs of runs measured in turns, a coin deciding who goes first?  The files say when and
 * where each run was.  "" in cap: yes.  A pair must be over before the next one begins, and each
 * side must have been first.  Times are often whole seconds: equal ones deny nothing, but show
 * nothing either (eight of A, then eight of B, within one second), so half of the pairs must begin
 * later than the one before ended.                                                               */
PERF_FN void ab_took_turns_(const ab_series *first, const ab_series *second, const size_t *match,
                            char *cap, size_t size)
{
    ab_when *pair = (ab_when *)ab_grow(NULL, first->runs, sizeof *pair);
    size_t   i, led[2] = {0, 0}, turns = 0, apart = 1;
    double   last = 0.0;
    int      known = 1;

    *cap = '\0';
    for (i = 0; i < first->runs && !*cap; i++) {
        const ab_run *x = &first->run[i], *y = &second->run[match[i]];
        if (x->machine && y->machine && strcmp(x->machine, y->machine) != 0)
            snprintf(cap, size, "A ran on %.60s, B on %.60s", x->machine, y->machine);
        known &= x->time > 0.0 && y->time > 0.0;
        pair[i].time = x->time < y->time ? x->time : y->time;
        pair[i].run = i;
        led[0] += x->time < y->time;
        led[1] += y->time < x->time;
    }
    if (!*cap && !known)
        snprintf(cap, size, "nothing says that the runs took turns: --turns vouches for it");
    if (!*cap) {
        qsort(pair, first->runs, sizeof *pair, ab_by_time_);
        for (i = 0; i < first->runs; i++) {
            double x = first->run[pair[i].run].time, y = second->run[match[pair[i].run]].time;
            turns += pair[i].time >= last;
            apart += i && pair[i].time > last;
            last = x > y ? x : y;
        }
        if (turns < first->runs)
            snprintf(cap, size, "the runs took no turns: the files say when each was measured");
        else if (first->runs > 1 && (led[0] == first->runs || led[1] == first->runs))
            snprintf(cap, size, "%c always ran first: no coin decided the order",
                     led[0] ? 'A' : 'B');
        else if (first->runs > 1 && (!led[0] || !led[1] || 2 * apart < first->runs))
            snprintf(cap, size, "the times in the files are too coarse to show that the runs took "
                     "turns: --turns vouches for it");
    }
    free(pair);
}

/* ---- the step of the clock ---- */

/* Is x a whole multiple of p, as far as a double can tell? */
PERF_FN int ab_is_multiple_(double x, double p)
{
    double q = x / p;

    return q >= 4e15 || ab_abs(q - (double)(uint64_t)(q + 0.5)) <= 1e-15 * q;
}

/* The largest power of ten that all values are multiples of: what was printed, or counted; 0: finer
 * than a double can show.                                                                        */
PERF_FN double ab_decimal_step_(double p, const double *x, size_t n)
{
    size_t i;

    for (i = 0; i < n && p > 0.0; i++)
        while (p > 0.0 && !ab_is_multiple_(x[i], p)) {
            p = p > 1.5 ? p / 10.0 : 1.0 / (double)(uint64_t)(10.0 / p + 0.5);
            if (p < 1e-15 * x[i] || p < 1e-12)
                p = 0.0;
        }
    return p;
}

/* The smallest gap between values of which many are equal; 0: few are, or all are.  The first
 * thousands of values tell it.                                                                   */
PERF_FN double ab_gap_step_(const double *x, size_t n)
{
    double *s, gap = 0.0;
    size_t  i, ties = 0;

    n = n < 4096 ? n : 4096;
    s = (double *)ab_grow(NULL, n, sizeof *s);
    memcpy(s, x, n * sizeof *s);
    perf_sort_values_(s, n);
    for (i = 1; i < n; i++) {
        double d = s[i] - s[i - 1];
        ties += !(d > 1e-13 * s[i]);
        if (d > 1e-13 * s[i] && !(gap > 0.0 && gap < d))
            gap = d;
    }
    free(s);
    return ties * 20 >= n ? gap : 0.0;
}

PERF_FN int ab_is_constant_(const double *x, size_t n)
{
    size_t i;

    for (i = 1; i < n; i++)
        if (x[i] < x[0] || x[i] > x[0])
            return 0;
    return n > 0;
}

/* The largest step of a kind that clocks have, and decimals, of which both constants are multiples:
 * 1, 2, 4 and 5 ms, 1/64 and 1/256 s and the like; 0: none that is a 1e-9th of them or more.     */
PERF_FN double ab_common_step_(double a, double b)
{
    static const double kind[] = {9.765625, 7.8125, 5.0, 4.0, 3.90625, 2.5, 2.0, 1.5625, 1.0};
    double small = a < b ? a : b, power;
    size_t i;

    for (power = 1e12; power > 1e-9 * small; power = power > 1.5 ? power / 10.0 : power * 0.1)
        for (i = 0; i < sizeof kind / sizeof *kind; i++)
            if (ab_is_multiple_(a, kind[i] * power) && ab_is_multiple_(b, kind[i] * power))
                return kind[i] * power;
    return 0.0;
}

/* What the values of both sides could be told apart by, in their unit; below 0: they are exact.
 * A clock that ticks every 10 ms gives 0.12 and 0.11 s, however often it is asked.  Where neither
 * side varies and no step is seen, it may be all that lies between them.  Counts go in ones.     */
PERF_FN double ab_clock_step(const double *a, size_t na, const double *b, size_t nb,
                             const char *unit)
{
    ab_kind kind = ab_unit_kind(unit);
    double  p, ga, gb;

    if (kind == AB_MEMORY || !na || !nb)
        return -1.0;
    p = ab_decimal_step_(kind == AB_TIME || !*unit ? 1e12 : 1.0, a, na);
    p = ab_decimal_step_(p, b, nb);
    if (kind == AB_OTHER && *unit)
        return p > 0.0 ? p : -1.0;
    if (kind != AB_RATE && ab_is_constant_(a, na) && ab_is_constant_(b, nb)) {
        p = ab_common_step_(a[0], b[0]);
        ga = ab_abs(a[0] - b[0]);
        if (p > 0.0)
            return p;
        return ga > 0.0 ? ga : a[0];
    }
    ga = ab_gap_step_(a, na);
    gb = ab_gap_step_(b, nb);
    if (!(ga > 0.0) && !(gb > 0.0) && ab_is_constant_(a, na) != ab_is_constant_(b, nb))
        ga = perf_step_decimal_(ab_is_constant_(a, na) ? a[0] : b[0]);  /* by another clock       */
    p = ga > p ? ga : p;
    p = gb > p ? gb : p;
    if (p > 0.0)
        return p;
    return kind == AB_RATE ? 0.0 : -1.0;            /* of rates the library looks on              */
}

/* How far the log of b / a may be off because both were read in steps: rounded to the nearest, or
 * cut off, in which case one side alone is off by a whole step.  A value of half a step may be
 * anything: 50, which nothing exceeds.                                                           */
PERF_FN double ab_log_step(double step, double a, double b)
{
    double small = a < b ? a : b, both;

    if (!(step > 0.0))
        return 0.0;
    if (!(0.5 * step < 0.999 * small))
        return 50.0;
    both = perf_log1p_(0.5 * step / a) - perf_log1p_(-0.5 * step / b);
    a = perf_log1p_(0.5 * step / b) - perf_log1p_(-0.5 * step / a);
    both = a > both ? a : both;
    a = perf_log1p_(step / small);
    return a > both ? a : both;
}

/* Commands that failed did not do the work: said, and not judged unless the user wants it. */
PERF_FN void ab_failures_(ab_data *data, const ab_series *first, const ab_series *second,
                          int they_count)
{
    const size_t na = ab_total(first), nb = ab_total(second);
    const int    unlike = first->failed * nb != second->failed * na;
    const int    all = first == second ? first->failed >= 2 * na      /* those of both commands */
                                       : first->failed >= na && second->failed >= nb;

    if (unlike)
        snprintf(data->cap, sizeof data->cap,
                 "%zu runs of A and %zu of B ended with a failure: not the same work",
                 first->failed, second->failed);
    else if (first->failed && all && !they_count)
        snprintf(data->cap, sizeof data->cap,
                 "all runs ended with a failure: not judged, unless --ignore-failure is given");
}

/* The unit of both sides, and whether the rule is about such figures.  -1 with a message. */
PERF_FN int ab_collect_unit_(ab_data *data, const ab_series *first, const ab_series *second,
                             const char *who, ab_error *error)
{
    data->unit = *first->unit ? first->unit : second->unit;
    if (!*first->unit != !*second->unit)
        return ab_fail(error, who, 0, 0,
                       "benchmark '%.80s' is in %.40s on one side, the other one names "
                       "none: say it there, too (unit of a CSV, of --reported)", first->name,
                       data->unit);
    if (*first->unit && *second->unit && strcmp(first->unit, second->unit) != 0)
        return ab_fail(error, who, 0, 0,
                       "benchmark '%.80s' is in %.40s on one side and %.40s on the other",
                       first->name, first->unit, second->unit);
    if (ab_misfit(&data->rule, data->unit))
        return ab_fail(error, who, 0, 0, "'%.80s' is in %.40s: %s", first->name, data->unit,
                       ab_misfit(&data->rule, data->unit));
    if (ab_unit_kind(data->unit) == AB_RATE) {
        if (!ab_is_typical(data->rule.metric))
            return ab_fail(error, who, 0, 0,
                           "'%.80s' is a rate (%.40s): its metric is throughput, not %s",
                           first->name, data->unit, ab_metric_name(data->rule.metric));
        data->rule.metric = PERF_METRIC_THROUGHPUT;
    }
    return 0;
}

/* Runs of both sides, paired where they can be. */
PERF_FN void ab_collect_runs_(ab_data *data, const ab_series *first, const ab_series *second,
                              ab_vouch vouch)
{
    size_t *match = (size_t *)ab_grow(NULL, first->runs, sizeof *match);
    int     paired = ab_match_runs_(first, second, match);

    ab_by_run_(data, first, second, paired ? match : NULL);
    if (!paired) {
        data->how = AB_HOW_SEPARATE;
        snprintf(data->cap, sizeof data->cap, "%s",
                 "the runs of A and B are no pairs: their numbers or ids differ");
    } else if (vouch == AB_VOUCH_NONE && !*data->cap) {
        ab_took_turns_(first, second, match, data->cap, sizeof data->cap);
    }
    free(match);
}

/* What two files without runs that could be paired are evidence for. */
PERF_FN ab_how ab_how_of_(const ab_series *first, const ab_series *second, ab_vouch vouch)
{
    if (vouch == AB_VOUCH_PAIRED)
        return AB_HOW_PAIRS;
    if (vouch == AB_VOUCH_RANDOM || (first->design == AB_RANDOM && second->design == AB_RANDOM))
        return AB_HOW_RANDOM;
    return AB_HOW_SEPARATE;
}

/* Chooses the design and collects the numbers.  -1: not usable, with a message. */
PERF_FN int ab_collect(ab_data *data, const ab_series *first, const ab_series *second,
                       const ab_plan *plan, const char *who, ab_error *error)
{
    const int named =
        first->runs > 1 && second->runs > 1 && !first->processes && !second->processes;
    ab_how    how;

    if (ab_collect_unit_(data, first, second, who, error) < 0)
        return -1;
    data->tick = first->step > second->step ? first->step : second->step;
    data->counts = first->zeros || second->zeros;
    ab_failures_(data, first, second, plan->failures_count);
    if (ab_is_odd_zero(first, second))
        snprintf(data->cap, sizeof data->cap,
                 "0 on one side, fractions of %.40s on the other: no counts, and no ratio to 0",
                 data->unit);
    if (first == second && ab_is_same_order(first))
        snprintf(data->cap, sizeof data->cap, "%s",
                 "the same side was always measured first: no coin decided the order");
    if (first == second && first->runs == 1) {
        data->how = AB_HOW_PAIRS;
        ab_flat_(data, 0, first, 0);
        ab_flat_(data, 1, first, 1);
        return 0;
    }
    if (first == second) {
        ab_by_run_(data, first, first, NULL);
        return 0;
    }
    if (plan->vouch == AB_VOUCH_TURNS || (plan->vouch == AB_VOUCH_NONE && named)) {
        ab_collect_runs_(data, first, second, plan->vouch);
        return 0;
    }
    how = data->how = ab_how_of_(first, second, plan->vouch);
    if (plan->vouch == AB_VOUCH_NONE && !*data->cap)
        ab_elsewhere_(first, second, data->cap, sizeof data->cap);
    if (plan->vouch == AB_VOUCH_NONE && !*data->cap && how == AB_HOW_RANDOM)
        ab_apart_(first, second, data->cap, sizeof data->cap);
    if (how != AB_HOW_PAIRS && first->runs >= AB_ENOUGH_RUNS && second->runs >= AB_ENOUGH_RUNS) {
        ab_by_run_(data, first, second, NULL);      /* processes differ from each other: they are */
        data->how = how;                            /* what was repeated, not their values        */
        return 0;
    }
    ab_flat_(data, 0, first, 0);
    ab_flat_(data, 1, second, 0);
    if (how == AB_HOW_PAIRS && data->n[0] != data->n[1])
        return ab_fail(error, who, 0, 0,
                       "no pairs: benchmark '%.80s' has %zu values in A and %zu in B", first->name,
                       data->n[0], data->n[1]);
    return 0;
}

/* Why the numbers of a side are no series of measurements in pairs; NULL: nothing speaks against it.
 * Pairs that were sorted, repeated or copied would decide anything.  copies: look for those, too. */
PERF_FN const char *ab_doubt(const ab_data *data, int side, int copies)
{
    const char *doubt;

    if (data->how != AB_HOW_PAIRS)
        return NULL;
    doubt = ab_column_doubt(data->x[side], data->n[side], copies ? data->x[!side] : NULL,
                            copies ? data->n[!side] : 0);
    if (doubt && *data->unit && strstr(doubt, "units"))     /* both sides say theirs              */
        return NULL;
    return doubt;
}

PERF_FN void ab_data_free(ab_data *data)
{
    int k;

    for (k = 0; k < 2; k++)
        if (data->own[k])
            free(data->x[k]);
}

/* ---- verdicts ---- */

PERF_FN perf_verdict ab_verdict(const ab_data *data, double confidence)
{
    perf_compare_opts opts = PERF_ZERO;
    perf_verdict      verdict;

    opts.rule = data->rule;
    opts.confidence = confidence;
    opts.tick = data->tick;
    opts.design = data->how == AB_HOW_SEPARATE ? PERF_DESIGN_SEPARATE : PERF_DESIGN_RANDOM;
    verdict = data->how == AB_HOW_PAIRS || data->how == AB_HOW_RUNS
            ? perf_compare_pairs(data->x[0], data->x[1], data->n[0], &opts)
            : perf_compare(data->x[0], data->n[0], data->x[1], data->n[1], &opts);
    if (*data->cap)
        perf_verdict_cap_(&verdict, data->cap);
    return verdict;
}

/* 1: the sides differ from what is asked by far more than either varies. */
PERF_FN int ab_is_far(const ab_data *data, double confidence)
{
    const perf_verdict verdict = ab_verdict(data, confidence);
    double             spread = 0.0, one;
    int                side;

    for (side = 0; side < 2; side++) {
        one = ab_log_spread(data->x[side], data->n[side]);
        spread = one > spread ? one : spread;
    }
    return perf_fabs_(perf_log_(verdict.ratio.estimate) - perf_log_(verdict.threshold)) >
           AB_FAR * spread;
}

/* Pairs that count for fewer measurements than they are get no verdict, unless it is clear. */
PERF_FN void ab_doubt_pairs(ab_data *data, double confidence)
{
    if (data->how != AB_HOW_PAIRS || *data->cap || data->n[0] != data->n[1])
        return;
    if (ab_neighbours_alike(data->x[0], data->x[1], data->n[0]) && !ab_is_far(data, confidence))
        snprintf(data->cap, sizeof data->cap, "%s",
                 "pairs in a row have like ratios, and count for fewer; --trust judges them");
}

/* The level that each of `rules` rules needs for a REJECT: any of them is enough for one, so that
 * their errors add up.  An ACCEPT needs all of them, and no correction.                          */
PERF_FN double ab_reject_level(double confidence, int rules)
{
    return 1.0 - (1.0 - confidence) / (double)rules;
}

/* The verdict of one of several rules. */
PERF_FN perf_verdict ab_verdict_among(const ab_data *data, double confidence, int rules)
{
    perf_verdict verdict = ab_verdict(data, confidence);

    if (verdict.decision == PERF_REJECT && rules > 1 &&
        ab_verdict(data, ab_reject_level(confidence, rules)).decision != PERF_REJECT)
        perf_verdict_cap_(&verdict,
                          "alone it would be REJECT; among several rules that is not sure");
    return verdict;
}

/* The largest 1 - confidence at which the data still decide; 1: not even at 0.5. */
PERF_FN double ab_p_value_(const ab_data *data)
{
    perf_compare_opts opts = PERF_ZERO;
    double            low = perf_log_(1e-6), high = perf_log_(0.5), mid;
    int               i;

    if (data->how == AB_HOW_SEPARATE || *data->cap)
        return 1.0;
    if (data->how != AB_HOW_RANDOM) {
        opts.rule = data->rule;
        opts.tick = data->tick;
        return ab_pairs_p(data->x[0], data->x[1], data->n[0], &opts);
    }
    if (ab_verdict(data, 0.5).decision == PERF_INCONCLUSIVE)
        return 1.0;
    if (ab_verdict(data, 1.0 - 1e-6).decision != PERF_INCONCLUSIVE)
        return 1e-6;                                /* that or less                               */
    for (i = 0; i < 14; i++) {
        mid = 0.5 * (low + high);
        if (ab_verdict(data, 1.0 - perf_exp_(mid)).decision != PERF_INCONCLUSIVE)
            high = mid;
        else
            low = mid;
    }
    return perf_exp_(high);
}

/* With fewer pairs not one of so many benchmarks can be decided: the least p of signed ranks is
 * 2^(1 - n).                                                                                     */
PERF_FN size_t ab_fewest_pairs_(const ab_report *report)
{
    double p = PERF_CAST_(double, report->judged);
    size_t n;

    for (n = 1; n < 60 && p > 1.0 - report->plan.confidence + 1e-9; n++)
        p *= 0.5;
    return n;
}

/* The figure of one side, with an interval of its own unless the values are pairs. */
PERF_FN void ab_show_(ab_data *data, int side, double confidence)
{
    size_t        n = data->n[side];
    perf_metric   metric = data->rule.metric;
    perf_interval interval;
    double       *s, below, above, width;

    data->shown[side] = ab_statistic(data->x[side], n, metric);
    data->off[side] = -1.0;
    if (data->how == AB_HOW_PAIRS || data->how == AB_HOW_RUNS || n < 2 ||
        !(data->shown[side] > 0.0))
        return;
    s = (double *)ab_grow(NULL, n, sizeof *s);
    memcpy(s, data->x[side], n * sizeof *s);
    perf_sort_values_(s, n);
    if (metric == PERF_METRIC_MEAN)
        interval = ab_mean_interval(s, n, confidence);
    else
        interval = perf_quantile_interval_(s, n, ab_quantile_of(metric), confidence);
    below = interval.estimate - interval.low;
    above = interval.high - interval.estimate;
    data->ranged[side] = !perf_is_finite_(below + above);
    width = above > below ? above : below;
    if (data->ranged[side])
        width = s[n - 1] - s[0];
    data->off[side] = width / data->shown[side];
    free(s);
}

/* All rules must hold: one REJECT rejects, and it takes every ACCEPT to accept. */
PERF_FN perf_decision ab_join(const ab_row *row, int rules)
{
    int i, accepted = 0;

    for (i = 0; i < rules; i++) {
        if (row->d[i].v.decision == PERF_REJECT)
            return PERF_REJECT;
        accepted += row->d[i].v.decision == PERF_ACCEPT;
    }
    return accepted == rules ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

/* Would finer values have decided, clearly? */
PERF_FN int ab_too_coarse_(const ab_data *data)
{
    double by = data->tick > 0.0 && data->shown[0] > 0.0 && data->shown[1] > 0.0
                    ? ab_log_step(data->tick, data->shown[0], data->shown[1]) : 0.0;

    return (data->v.warnings & PERF_WARN_RESOLUTION) &&
           (by >= 50.0 || data->v.ratio.high * perf_exp_(-0.9 * by) < data->v.threshold ||
            data->v.ratio.low * perf_exp_(0.9 * by) > data->v.threshold);
}

/* What the interval says where something else withholds the answer: "would ACCEPT", or "". */
PERF_FN const char *ab_would_(const ab_data *data)
{
    const perf_verdict *verdict = &data->v;
    const double        lowest = data->rule.kind == PERF_RULE_SAME ? 1.0 / verdict->threshold : 0.0;

    if (verdict->ratio.high < verdict->threshold && verdict->ratio.low > lowest)
        return "would ACCEPT";
    if (verdict->ratio.low > verdict->threshold || verdict->ratio.high < lowest)
        return "would REJECT";
    return "";
}

/* What would settle one rule; "" when it is decided. */
PERF_FN void ab_settle_(const ab_data *data, char *out, size_t size)
{
    const perf_verdict *verdict = &data->v;
    const char         *what =
        data->how == AB_HOW_RUNS || data->how == AB_HOW_PAIRS ? "pair" : "value";
    static const char *const whose[] = {"", " of runs", " on each side", " on each side"};
    const char         *of = whose[data->how];
    const char         *would = ab_would_(data);
    double  more = verdict->pairs_needed < 1e9 ? (double)(uint64_t)verdict->pairs_needed : 0.0;
    ab_text step = ab_quantity(data->tick, data->unit);

    more += verdict->pairs_needed > more;                   /* up to the next whole one           */
    *out = '\0';
    if (verdict->decision != PERF_INCONCLUSIVE)
        return;
    if (*data->cap)
        snprintf(out, size, "%s%s%s", data->cap, *would ? "; the numbers " : "", would);
    else if (verdict->warnings & PERF_WARN_MEAN)
        snprintf(out, size, "%s; ask for p50 or p99 instead", verdict->reason);
    else if (data->how == AB_HOW_SEPARATE && (verdict->warnings & PERF_WARN_UNBOUNDED) &&
             verdict->pairs_needed < 1e9)
        snprintf(out, size,
                 "not interleaved, and %.0f more value%s needed on each side: measure in turns "
                 "(perf-ab run), or give %d pairs of runs", more, more > 1.0 ? "s are" : " is",
                 AB_ENOUGH_RUNS);
    else if (data->how == AB_HOW_SEPARATE)
        snprintf(out, size,
                 "not interleaved%s%s: measure in turns (perf-ab run), or give %d pairs of runs",
                 *would ? "; the numbers " : "", would, AB_ENOUGH_RUNS);
    else if (ab_too_coarse_(data))
        snprintf(out, size,
                 "the values come in steps of %.60s, too coarse for this question: time more work "
                 "per value", step.s);
    else if (*would || !strncmp(verdict->reason, "the clock is too coarse", 23))
        snprintf(out, size, "%s", verdict->reason);
    else if (verdict->pairs_needed < 1e9)
        snprintf(out, size, "%s %.0f more %s%s%s",
                 verdict->warnings & PERF_WARN_UNBOUNDED ? "at least" : "about", more, what,
                 more > 1.0 ? "s" : "", of);
    else
        snprintf(out, size, "no number of %ss%s: the effect sits at the threshold", what, of);
}

/* What would settle a row that has no values on some side. */
PERF_FN void ab_settle_missing_(const ab_report *report, ab_row *row)
{
    if (report->sequential)
        snprintf(row->settle, sizeof row->settle,
                 "not measured: the budget, or a signal, ended it before");
    else if (*row->why)
        memcpy(row->settle, row->why, sizeof row->settle);
    else
        snprintf(row->settle, sizeof row->settle, "%s does not have it: measure it there, too",
                 row->missing);
}

/* The family-wise p-values (Holm) of the rows that could be decided at all. */
PERF_FN void ab_family_(ab_report *report)
{
    double *p = (double *)ab_grow(NULL, report->judged, sizeof *p);
    size_t  i, n = 0;

    for (i = 0; i < report->n; i++)
        if (report->row[i].open)
            p[n++] = report->row[i].p;
    if (perf_adjust_holm_(p, n, p) == PERF_OK)
        for (i = n = 0; i < report->n; i++)
            if (report->row[i].open)
                report->row[i].holm = p[n++];
    free(p);
}

/* The verdicts of one row, each rule by itself. */
PERF_FN void ab_judge_row_(ab_report *report, ab_row *row)
{
    int k;

    for (k = 0; k < report->plan.rules && !row->missing; k++) {
        ab_data *data = &row->d[k];
        if (!(data->tick > 0.0) && !(data->tick < 0.0))
            data->tick = ab_clock_step(data->x[0], data->n[0], data->x[1], data->n[1], data->unit);
        if (!report->sequential)
            data->v = ab_verdict_among(data, report->plan.confidence, report->plan.rules);
        ab_show_(data, 0, report->plan.confidence);
        ab_show_(data, 1, report->plan.confidence);
        row->open |= data->how != AB_HOW_SEPARATE && !*data->cap;
    }
    row->alone = row->missing ? PERF_INCONCLUSIVE : ab_join(row, report->plan.rules);
    report->judged += row->open != 0;
    row->p = row->holm = 1.0;
}

/* The p-value of one row: the worst of its rules for an ACCEPT, the best for a REJECT. */
PERF_FN void ab_row_p_(const ab_report *report, ab_row *row)
{
    double accept = 0.0, reject = 1.0;
    int    k;

    if (row->missing)
        return;
    for (k = 0; k < report->plan.rules; k++) {
        ab_data *data = &row->d[k];
        data->p = ab_p_value_(data);
        accept = data->p > accept ? data->p : accept;
        if (data->v.decision == PERF_REJECT && data->p < reject)
            reject = data->p;
    }
    /* any would have done */
    row->p = row->alone == PERF_REJECT ? reject * report->plan.rules : accept;
}

/* The verdict of one row among the others, and what would settle it. */
PERF_FN void ab_settle_row_(const ab_report *report, ab_row *row)
{
    const int decided = row->alone != PERF_INCONCLUSIVE;
    const int sure = report->judged < 2 || row->holm <= 1.0 - report->plan.confidence + 1e-9;
    char      need[48] = "more pairs";
    size_t    fewest;
    int       k;

    row->family = row->alone;
    *row->settle = '\0';
    if (decided && !sure) {
        fewest = ab_fewest_pairs_(report);
        if (row->d[0].how != AB_HOW_RANDOM && row->d[0].n[0] < fewest)
            snprintf(need, sizeof need, "it takes %zu pairs at least", fewest);
        row->family = PERF_INCONCLUSIVE;
        snprintf(row->settle, sizeof row->settle,
                 "alone it would be %s; among %zu benchmarks that is "
                 "not sure enough (Holm p %.2g): %s",
                 perf_decision_text(row->alone), report->judged, row->holm, need);
    } else if (row->missing) {
        ab_settle_missing_(report, row);
    }
    for (k = 0; k < report->plan.rules && !*row->settle && row->family == PERF_INCONCLUSIVE; k++)
        ab_settle_(&row->d[k], row->settle, sizeof row->settle);
}

/* Fills in every verdict, then the family's. */
PERF_FN void ab_judge(ab_report *report)
{
    size_t i;

    report->judged = 0;
    for (i = 0; i < report->n; i++)
        ab_judge_row_(report, &report->row[i]);
    if (report->sequential)                         /* no p-values there, and no need of them     */
        report->judged = 1;
    for (i = 0; i < report->n && report->judged > 1; i++)
        ab_row_p_(report, &report->row[i]);
    if (report->judged > 1)
        ab_family_(report);
    memset(report->count, 0, sizeof report->count);
    for (i = 0; i < report->n; i++) {
        ab_settle_row_(report, &report->row[i]);
        report->count[report->row[i].family]++;
    }
    report->decision = PERF_ACCEPT;
    if (report->count[PERF_INCONCLUSIVE] || !report->n)
        report->decision = PERF_INCONCLUSIVE;
    if (report->count[PERF_REJECT])
        report->decision = PERF_REJECT;
}

PERF_FN int ab_status(const ab_report *report)
{
    if (report->decision == PERF_ACCEPT)
        return AB_ACCEPT;
    return report->decision == PERF_REJECT ? AB_REJECT : AB_INCONCLUSIVE;
}

#endif
