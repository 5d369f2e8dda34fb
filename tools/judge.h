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

PERF_FN int ab_is_typical(perf_metric m)
{
    return m == PERF_METRIC_PAIR || m >= PERF_METRIC_MEMORY;
}

PERF_FN ab_kind ab_rule_kind(const perf_rule *r)
{
    if (r->metric == PERF_METRIC_MEMORY || r->memory)
        return AB_MEMORY;
    if (r->metric >= PERF_METRIC_INSTRUCTIONS)
        return AB_OTHER;
    return r->metric == PERF_METRIC_THROUGHPUT ? AB_RATE : AB_TIME;
}

/* A ratio candidate / baseline as a rule. */
PERF_FN perf_rule ab_rule_of_ratio(double t, perf_metric m)
{
    return t > 1.0 ? perf_rule_make(PERF_RULE_NO_REGRESSION, (t - 1.0) * 100.0, m) : perf_rule_make(PERF_RULE_SPEEDUP, 1.0 / t, m);
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

PERF_FN const char *ab_metric_name(perf_metric m)
{
    static const char *const name[] = {"time", "p50", "p95", "p99", "mean", "memory", "throughput",
                                       "instructions", "cycles", "branches", "branch-misses"};
    return (unsigned)m <= PERF_METRIC_BRANCH_MISSES ? name[m] : "?";
}

/* The rule in words, as the library says it. */
PERF_FN ab_text ab_rule_text(const perf_rule *r)
{
    ab_text   t;
    perf_out_ o;

    o.p = t.s;
    o.len = 0;
    o.cap = sizeof t.s;
    t.s[0] = '\0';
    perf_put_rule_(&o, r);
    return t;
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
PERF_FN double ab_quantile_of(perf_metric m)
{
    if (m == PERF_METRIC_P99)
        return 0.99;
    return m == PERF_METRIC_P95 ? 0.95 : 0.5;
}

/* The figure of one sample that the metric is about.  A quantile needs the two values around its
 * place, not a sorted array: a million values take a fifth of the time.                          */
PERF_FN double ab_statistic(const double *x, size_t n, perf_metric m)
{
    double *s, r, p = ab_quantile_of(m), t;
    size_t  k, i, least;

    if (!n)
        return perf_from_bits_(UINT64_C(0x7ff8000000000000));
    if (m == PERF_METRIC_MEAN)
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
PERF_FN const char *ab_misfit(const perf_rule *r, const char *unit)
{
    const ab_kind kind = ab_unit_kind(unit);

    if (r->metric >= PERF_METRIC_INSTRUCTIONS && *unit && strcmp(unit, perf_rule_subject_(r)) != 0)
        return "that is no such count";
    if (r->metric == PERF_METRIC_THROUGHPUT && kind != AB_RATE && kind != AB_OTHER)
        return "that is no throughput";
    return ab_rule_kind(r) == AB_MEMORY && (kind == AB_TIME || kind == AB_RATE) ? "that is no memory"
                                                                               : NULL;
}

/* ---- the numbers behind one verdict ---- */

PERF_FN size_t ab_total(const ab_series *s)
{
    size_t i, n = 0;

    for (i = 0; i < s->runs; i++)
        n += s->run[i].v[0].n;
    return n;
}

/* All values of one arm, run after run; borrowed when there is one run. */
PERF_FN void ab_flat_(ab_data *d, int side, const ab_series *s, int arm)
{
    size_t i;

    d->n[side] = ab_total(s);
    if (s->runs == 1) {
        d->x[side] = s->run[0].v[arm].x;
        return;
    }
    d->x[side] = (double *)ab_grow(NULL, d->n[side], sizeof(double));
    d->own[side] = 1;
    for (i = 0, d->n[side] = 0; i < s->runs; i++) {
        memcpy(d->x[side] + d->n[side], s->run[i].v[arm].x, s->run[i].v[arm].n * sizeof(double));
        d->n[side] += s->run[i].v[arm].n;
    }
}

/* One figure a run.  Runs of pairs: the candidate's is the baseline's times the typical ratio
 * within the run, so that a drift inside a run cancels.                                          */
PERF_FN void ab_by_run_(ab_data *d, const ab_series *a, const ab_series *b, const size_t *match)
{
    perf_metric  m = d->rule.metric;
    perf_verdict v;
    size_t       i, k;

    d->how = AB_HOW_RUNS;
    d->n[0] = a->runs;
    d->n[1] = b->runs;
    for (k = 0; k < 2; k++) {
        d->x[k] = (double *)ab_grow(NULL, d->n[k], sizeof(double));
        d->own[k] = 1;
    }
    for (i = 0; i < a->runs; i++)
        d->x[0][i] = ab_statistic(a->run[i].v[0].x, a->run[i].v[0].n, m);
    for (i = 0; i < b->runs; i++) {
        const ab_values *x = b->run[match ? match[i] : i].v;
        if (a != b) {
            d->x[1][i] = ab_statistic(x[0].x, x[0].n, m);
        } else if (ab_is_typical(m)) {
            perf_compare_opts o = PERF_ZERO;
            o.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.0, PERF_METRIC_PAIR);
            v = perf_compare_pairs(x[0].x, x[1].x, x[0].n, &o);
            d->x[1][i] = d->x[0][i] * v.ratio.estimate;
        } else {
            d->x[1][i] = ab_statistic(x[1].x, x[1].n, m);
        }
    }
    if (m != PERF_METRIC_THROUGHPUT)
        d->rule.metric = PERF_METRIC_PAIR;
}

typedef struct ab_when {                /* a run and its place in time                            */
    double time;
    size_t run;
} ab_when;

PERF_FN int ab_by_time_(const void *a_, const void *b_)
{
    const ab_when *a = (const ab_when *)a_, *b = (const ab_when *)b_;

    if (a->time > b->time)
        return 1;
    if (a->time < b->time)
        return -1;
    return (a->run > b->run) - (a->run < b->run);
}

/* order[k] is the k-th run in time; in order of the file where a run does not say when it was.
 * Returns whether all say it.                                                                    */
PERF_FN int ab_in_time_(const ab_series *s, ab_when *order)
{
    size_t i;
    int    known = s->runs > 0;

    for (i = 0; i < s->runs; i++) {
        known &= s->run[i].time > 0.0;
        order[i].time = s->run[i].time;
        order[i].run = i;
    }
    if (known)
        qsort(order, s->runs, sizeof *order, ab_by_time_);
    return known;
}

/* Pairs runs: by id where both sides use the same ids; else the first of A with the first of B, and
 * so on.  match[i] is the run of b that belongs to run i of a.  0: they cannot be paired.        */
PERF_FN int ab_match_runs_(const ab_series *a, const ab_series *b, size_t *match)
{
    ab_when *order;
    size_t   i, k, found = 0;

    if (a->runs != b->runs)
        return 0;
    for (i = 0; i < a->runs; i++)
        for (k = 0; k < b->runs; k++)
            if (a->run[i].id && b->run[k].id && !strcmp(a->run[i].id, b->run[k].id)) {
                match[i] = k;
                found++;
                break;
            }
    if (found)
        return found == a->runs;
    order = (ab_when *)ab_grow(NULL, 2 * a->runs, sizeof *order);
    if (!ab_in_time_(a, order) || !ab_in_time_(b, order + a->runs))
        for (i = 0; i < a->runs; i++)
            order[i].run = order[a->runs + i].run = i;
    for (i = 0; i < a->runs; i++)
        match[order[i].run] = order[a->runs + i].run;
    free(order);
    return 1;
}

/* Says so where a run of B was on another machine than the first of A, or the other way round. */
PERF_FN void ab_elsewhere_(const ab_series *a, const ab_series *b, char *cap, size_t size)
{
    const char *x = a->run[0].machine, *y = b->run[0].machine;
    size_t      i;

    for (i = 1; i < b->runs && x && y && !strcmp(x, y); i++)
        y = b->run[i].machine;
    for (i = 1; i < a->runs && x && y && !strcmp(x, y); i++)
        x = a->run[i].machine;
    if (x && y && strcmp(x, y) != 0)
        snprintf(cap, size, "A ran on %.60s, B on %.60s", x, y);
}

/* Were the pairs of runs measured in turns, a coin deciding who goes first?  The files say when and
 * where each run was.  "" in cap: yes.  A pair must be over before the next one begins, and each
 * side must have been first.  Times are often whole seconds: equal ones deny nothing, but show
 * nothing either (eight of A, then eight of B, within one second), so half of the pairs must begin
 * later than the one before ended.                                                               */
PERF_FN void ab_took_turns_(const ab_series *a, const ab_series *b, const size_t *match, char *cap,
                            size_t size)
{
    ab_when *pair = (ab_when *)ab_grow(NULL, a->runs, sizeof *pair);
    size_t   i, first[2] = {0, 0}, turns = 0, apart = 1;
    double   last = 0.0;
    int      known = 1;

    *cap = '\0';
    for (i = 0; i < a->runs && !*cap; i++) {
        const ab_run *x = &a->run[i], *y = &b->run[match[i]];
        if (x->machine && y->machine && strcmp(x->machine, y->machine) != 0)
            snprintf(cap, size, "A ran on %.60s, B on %.60s", x->machine, y->machine);
        known &= x->time > 0.0 && y->time > 0.0;
        pair[i].time = x->time < y->time ? x->time : y->time;
        pair[i].run = i;
        first[0] += x->time < y->time;
        first[1] += y->time < x->time;
    }
    if (!*cap && !known)
        snprintf(cap, size, "nothing says that the runs took turns: --turns vouches for it");
    if (!*cap) {
        qsort(pair, a->runs, sizeof *pair, ab_by_time_);
        for (i = 0; i < a->runs; i++) {
            double x = a->run[pair[i].run].time, y = b->run[match[pair[i].run]].time;
            turns += pair[i].time >= last;
            apart += i && pair[i].time > last;
            last = x > y ? x : y;
        }
        if (turns < a->runs)
            snprintf(cap, size, "the runs took no turns: the files say when each was measured");
        else if (a->runs > 1 && (first[0] == a->runs || first[1] == a->runs))
            snprintf(cap, size, "%c always ran first: no coin decided the order",
                     first[0] ? 'A' : 'B');
        else if (a->runs > 1 && (!first[0] || !first[1] || 2 * apart < a->runs))
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
PERF_FN void ab_failures_(ab_data *d, const ab_series *a, const ab_series *b, int they_count)
{
    const size_t na = ab_total(a), nb = ab_total(b);
    const int    unlike = a->failed * nb != b->failed * na;
    const int    all = a->failed >= na && b->failed >= nb;

    if (unlike)
        snprintf(d->cap, sizeof d->cap,
                 "%zu runs of A and %zu of B ended with a failure: not the same work", a->failed,
                 b->failed);
    else if (a->failed && all && !they_count)
        snprintf(d->cap, sizeof d->cap,
                 "all runs ended with a failure: not judged, unless --ignore-failure is given");
}

/* The unit of both sides, and whether the rule is about such figures.  -1 with a message. */
PERF_FN int ab_collect_unit_(ab_data *d, const ab_series *a, const ab_series *b, const char *who,
                             ab_error *e)
{
    d->unit = *a->unit ? a->unit : b->unit;
    if (!*a->unit != !*b->unit)
        return ab_fail(e, who, 0, 0, "benchmark '%.80s' is in %.40s on one side, the other one names "
                       "none: say it there, too (unit of a CSV, of --reported)", a->name, d->unit);
    if (*a->unit && *b->unit && strcmp(a->unit, b->unit) != 0)
        return ab_fail(e, who, 0, 0,
                       "benchmark '%.80s' is in %.40s on one side and %.40s on the other", a->name,
                       a->unit, b->unit);
    if (ab_misfit(&d->rule, d->unit))
        return ab_fail(e, who, 0, 0, "'%.80s' is in %.40s: %s", a->name, d->unit,
                       ab_misfit(&d->rule, d->unit));
    if (ab_unit_kind(d->unit) == AB_RATE) {
        if (!ab_is_typical(d->rule.metric))
            return ab_fail(e, who, 0, 0,
                           "'%.80s' is a rate (%.40s): its metric is throughput, not %s", a->name,
                           d->unit, ab_metric_name(d->rule.metric));
        d->rule.metric = PERF_METRIC_THROUGHPUT;
    }
    return 0;
}

/* Runs of both sides, paired where they can be. */
PERF_FN void ab_collect_runs_(ab_data *d, const ab_series *a, const ab_series *b, ab_vouch vouch)
{
    size_t *match = (size_t *)ab_grow(NULL, a->runs, sizeof *match);
    int     paired = ab_match_runs_(a, b, match);

    ab_by_run_(d, a, b, paired ? match : NULL);
    if (!paired) {
        d->how = AB_HOW_SEPARATE;
        snprintf(d->cap, sizeof d->cap, "%s",
                 "the runs of A and B are no pairs: their numbers or ids differ");
    } else if (vouch == AB_VOUCH_NONE && !*d->cap) {
        ab_took_turns_(a, b, match, d->cap, sizeof d->cap);
    }
    free(match);
}

/* What two files without runs that could be paired are evidence for. */
PERF_FN ab_how ab_how_of_(const ab_series *a, const ab_series *b, ab_vouch vouch)
{
    if (vouch == AB_VOUCH_PAIRED)
        return AB_HOW_PAIRS;
    if (vouch == AB_VOUCH_RANDOM || (a->design == AB_RANDOM && b->design == AB_RANDOM))
        return AB_HOW_RANDOM;
    return AB_HOW_SEPARATE;
}

/* Chooses the design and collects the numbers.  -1: not usable, with a message. */
PERF_FN int ab_collect(ab_data *d, const ab_series *a, const ab_series *b, const ab_plan *plan,
                       const char *who, ab_error *e)
{
    const int named = a->runs > 1 && b->runs > 1 && !a->processes && !b->processes;
    ab_how    how;

    if (ab_collect_unit_(d, a, b, who, e) < 0)
        return -1;
    d->tick = a->step > b->step ? a->step : b->step;
    d->counts = a->zeros || b->zeros;
    ab_failures_(d, a, b, plan->failures_count);
    if (a == b && a->same_order)
        snprintf(d->cap, sizeof d->cap, "%s",
                 "the same side was always measured first: no coin decided the order");
    if (a == b && a->runs == 1) {
        d->how = AB_HOW_PAIRS;
        ab_flat_(d, 0, a, 0);
        ab_flat_(d, 1, a, 1);
        return 0;
    }
    if (a == b) {
        ab_by_run_(d, a, a, NULL);
        return 0;
    }
    if (plan->vouch == AB_VOUCH_TURNS || (plan->vouch == AB_VOUCH_NONE && named)) {
        ab_collect_runs_(d, a, b, plan->vouch);
        return 0;
    }
    how = d->how = ab_how_of_(a, b, plan->vouch);
    if (plan->vouch == AB_VOUCH_NONE && !*d->cap)
        ab_elsewhere_(a, b, d->cap, sizeof d->cap);
    if (how != AB_HOW_PAIRS && a->runs >= AB_ENOUGH_RUNS && b->runs >= AB_ENOUGH_RUNS) {
        ab_by_run_(d, a, b, NULL);                  /* processes differ from each other: they are */
        d->how = how;                               /* what was repeated, not their values        */
        return 0;
    }
    ab_flat_(d, 0, a, 0);
    ab_flat_(d, 1, b, 0);
    if (how == AB_HOW_PAIRS && d->n[0] != d->n[1])
        return ab_fail(e, who, 0, 0, "no pairs: benchmark '%.80s' has %zu values in A and %zu in B",
                       a->name, d->n[0], d->n[1]);
    return 0;
}

/* Why the numbers of a side are no series of measurements in pairs; NULL: nothing speaks against it.
 * Pairs that were sorted, repeated or copied would decide anything.  copies: look for those, too. */
PERF_FN const char *ab_doubt(const ab_data *d, int side, int copies)
{
    const char *doubt;

    if (d->how != AB_HOW_PAIRS)
        return NULL;
    doubt = ab_column_doubt(d->x[side], d->n[side], copies ? d->x[!side] : NULL,
                            copies ? d->n[!side] : 0);
    if (doubt && *d->unit && strstr(doubt, "units"))        /* both sides say theirs              */
        return NULL;
    return doubt;
}

PERF_FN void ab_data_free(ab_data *d)
{
    int k;

    for (k = 0; k < 2; k++)
        if (d->own[k])
            free(d->x[k]);
}

/* ---- verdicts ---- */

PERF_FN perf_verdict ab_verdict(const ab_data *d, double confidence)
{
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;

    o.rule = d->rule;
    o.confidence = confidence;
    o.tick = d->tick;
    o.design = d->how == AB_HOW_SEPARATE ? PERF_DESIGN_SEPARATE : PERF_DESIGN_RANDOM;
    v = d->how == AB_HOW_PAIRS || d->how == AB_HOW_RUNS
            ? perf_compare_pairs(d->x[0], d->x[1], d->n[0], &o)
            : perf_compare(d->x[0], d->n[0], d->x[1], d->n[1], &o);
    if (*d->cap)
        perf_verdict_cap_(&v, d->cap);
    return v;
}

/* 1: the sides differ from what is asked by far more than either varies. */
PERF_FN int ab_is_far(const ab_data *d, double confidence)
{
    const perf_verdict v = ab_verdict(d, confidence);
    double             spread = 0.0, one;
    int                side;

    for (side = 0; side < 2; side++) {
        one = ab_log_spread(d->x[side], d->n[side]);
        spread = one > spread ? one : spread;
    }
    return perf_fabs_(perf_log_(v.ratio.estimate) - perf_log_(v.threshold)) > AB_FAR * spread;
}

/* Pairs that count for fewer measurements than they are get no verdict, unless it is clear. */
PERF_FN void ab_doubt_pairs(ab_data *d, double confidence)
{
    if (d->how != AB_HOW_PAIRS || *d->cap || d->n[0] != d->n[1])
        return;
    if (ab_neighbours_alike(d->x[0], d->x[1], d->n[0]) && !ab_is_far(d, confidence))
        snprintf(d->cap, sizeof d->cap, "%s",
                 "pairs in a row have like ratios, and count for fewer; --trust judges them");
}

/* The level that each of `rules` rules needs for a REJECT: any of them is enough for one, so that
 * their errors add up.  An ACCEPT needs all of them, and no correction.                          */
PERF_FN double ab_reject_level(double confidence, int rules)
{
    return 1.0 - (1.0 - confidence) / (double)rules;
}

/* The verdict of one of several rules. */
PERF_FN perf_verdict ab_verdict_among(const ab_data *d, double confidence, int rules)
{
    perf_verdict v = ab_verdict(d, confidence);

    if (v.decision == PERF_REJECT && rules > 1 &&
        ab_verdict(d, ab_reject_level(confidence, rules)).decision != PERF_REJECT)
        perf_verdict_cap_(&v, "alone it would be REJECT; among several rules that is not sure");
    return v;
}

/* The largest 1 - confidence at which the data still decide; 1: not even at 0.5. */
PERF_FN double ab_p_value_(const ab_data *d)
{
    perf_compare_opts o = PERF_ZERO;
    double            low = perf_log_(1e-6), high = perf_log_(0.5), mid;
    int               i;

    if (d->how == AB_HOW_SEPARATE || *d->cap)
        return 1.0;
    if (d->how != AB_HOW_RANDOM) {
        o.rule = d->rule;
        o.tick = d->tick;
        return ab_pairs_p(d->x[0], d->x[1], d->n[0], &o);
    }
    if (ab_verdict(d, 0.5).decision == PERF_INCONCLUSIVE)
        return 1.0;
    if (ab_verdict(d, 1.0 - 1e-6).decision != PERF_INCONCLUSIVE)
        return 1e-6;                                /* that or less                               */
    for (i = 0; i < 14; i++) {
        mid = 0.5 * (low + high);
        if (ab_verdict(d, 1.0 - perf_exp_(mid)).decision != PERF_INCONCLUSIVE)
            high = mid;
        else
            low = mid;
    }
    return perf_exp_(high);
}

/* With fewer pairs not one of so many benchmarks can be decided: the least p of signed ranks is 2^(1 - n). */
PERF_FN size_t ab_fewest_pairs_(const ab_report *r)
{
    double p = PERF_CAST_(double, r->judged);
    size_t n;

    for (n = 1; n < 60 && p > 1.0 - r->plan.confidence + 1e-9; n++)
        p *= 0.5;
    return n;
}

/* The figure of one side, with an interval of its own unless the values are pairs. */
PERF_FN void ab_show_(ab_data *d, int side, double confidence)
{
    size_t        n = d->n[side];
    perf_metric   m = d->rule.metric;
    perf_interval i;
    double       *s, below, above, width;

    d->shown[side] = ab_statistic(d->x[side], n, m);
    d->off[side] = -1.0;
    if (d->how == AB_HOW_PAIRS || d->how == AB_HOW_RUNS || n < 2 || !(d->shown[side] > 0.0))
        return;
    s = (double *)ab_grow(NULL, n, sizeof *s);
    memcpy(s, d->x[side], n * sizeof *s);
    perf_sort_values_(s, n);
    i = m == PERF_METRIC_MEAN ? ab_mean_interval(s, n, confidence)
                              : perf_quantile_interval_(s, n, ab_quantile_of(m), confidence);
    below = i.estimate - i.low;
    above = i.high - i.estimate;
    d->ranged[side] = !perf_is_finite_(below + above);
    width = above > below ? above : below;
    if (d->ranged[side])
        width = s[n - 1] - s[0];
    d->off[side] = width / d->shown[side];
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
PERF_FN int ab_too_coarse_(const ab_data *d)
{
    double by = d->tick > 0.0 && d->shown[0] > 0.0 && d->shown[1] > 0.0
                    ? ab_log_step(d->tick, d->shown[0], d->shown[1]) : 0.0;

    return (d->v.warnings & PERF_WARN_RESOLUTION) &&
           (by >= 50.0 || d->v.ratio.high * perf_exp_(-0.9 * by) < d->v.threshold ||
            d->v.ratio.low * perf_exp_(0.9 * by) > d->v.threshold);
}

/* What the interval says where something else withholds the answer: "would ACCEPT", or "". */
PERF_FN const char *ab_would_(const ab_data *d)
{
    const perf_verdict *v = &d->v;
    const double        lowest = d->rule.kind == PERF_RULE_SAME ? 1.0 / v->threshold : 0.0;

    if (v->ratio.high < v->threshold && v->ratio.low > lowest)
        return "would ACCEPT";
    if (v->ratio.low > v->threshold || v->ratio.high < lowest)
        return "would REJECT";
    return "";
}

/* What would settle one rule; "" when it is decided. */
PERF_FN void ab_settle_(const ab_data *d, char *out, size_t size)
{
    const perf_verdict *v = &d->v;
    const char         *what = d->how == AB_HOW_RUNS || d->how == AB_HOW_PAIRS ? "pair" : "value";
    static const char *const whose[] = {"", " of runs", " on each side", " on each side"};
    const char         *of = whose[d->how];
    const char         *would = ab_would_(d);
    double  more = v->pairs_needed < 1e9 ? (double)(uint64_t)v->pairs_needed : 0.0;
    ab_text step = ab_quantity(d->tick, d->unit);

    more += v->pairs_needed > more;                         /* up to the next whole one                   */
    *out = '\0';
    if (v->decision != PERF_INCONCLUSIVE)
        return;
    if (*d->cap)
        snprintf(out, size, "%s%s%s", d->cap, *would ? "; the numbers " : "", would);
    else if (v->warnings & PERF_WARN_MEAN)
        snprintf(out, size, "%s; ask for p50 or p99 instead", v->reason);
    else if (d->how == AB_HOW_SEPARATE && (v->warnings & PERF_WARN_UNBOUNDED) && v->pairs_needed < 1e9)
        snprintf(out, size,
                 "not interleaved, and %.0f more value%s needed on each side: measure in turns "
                 "(perf-ab run), or give %d pairs of runs", more, more > 1.0 ? "s are" : " is",
                 AB_ENOUGH_RUNS);
    else if (d->how == AB_HOW_SEPARATE)
        snprintf(out, size,
                 "not interleaved%s%s: measure in turns (perf-ab run), or give %d pairs of runs",
                 *would ? "; the numbers " : "", would, AB_ENOUGH_RUNS);
    else if (ab_too_coarse_(d))
        snprintf(out, size,
                 "the values come in steps of %.60s, too coarse for this question: time more work "
                 "per value", step.s);
    else if (*would || !strncmp(v->reason, "the clock is too coarse", 23))
        snprintf(out, size, "%s", v->reason);
    else if (v->pairs_needed < 1e9)
        snprintf(out, size, "%s %.0f more %s%s%s", v->warnings & PERF_WARN_UNBOUNDED ? "at least"
                 : "about", more, what, more > 1.0 ? "s" : "", of);
    else
        snprintf(out, size, "no number of %ss%s: the effect sits at the threshold", what, of);
}

/* What would settle a row that has no values on some side. */
PERF_FN void ab_settle_missing_(const ab_report *r, ab_row *row)
{
    if (r->sequential)
        snprintf(row->settle, sizeof row->settle,
                 "not measured: the budget, or a signal, ended it before");
    else if (*row->why)
        memcpy(row->settle, row->why, sizeof row->settle);
    else
        snprintf(row->settle, sizeof row->settle, "%s does not have it: measure it there, too",
                 row->missing);
}

/* The family-wise p-values (Holm) of the rows that could be decided at all. */
PERF_FN void ab_family_(ab_report *r)
{
    double *p = (double *)ab_grow(NULL, r->judged, sizeof *p);
    size_t  i, n = 0;

    for (i = 0; i < r->n; i++)
        if (r->row[i].open)
            p[n++] = r->row[i].p;
    if (perf_adjust_holm_(p, n, p) == PERF_OK)
        for (i = n = 0; i < r->n; i++)
            if (r->row[i].open)
                r->row[i].holm = p[n++];
    free(p);
}

/* The verdicts of one row, each rule by itself. */
PERF_FN void ab_judge_row_(ab_report *r, ab_row *row)
{
    int k;

    for (k = 0; k < r->plan.rules && !row->missing; k++) {
        ab_data *d = &row->d[k];
        if (!(d->tick > 0.0) && !(d->tick < 0.0))
            d->tick = ab_clock_step(d->x[0], d->n[0], d->x[1], d->n[1], d->unit);
        if (!r->sequential)
            d->v = ab_verdict_among(d, r->plan.confidence, r->plan.rules);
        ab_show_(d, 0, r->plan.confidence);
        ab_show_(d, 1, r->plan.confidence);
        row->open |= d->how != AB_HOW_SEPARATE && !*d->cap;
    }
    row->alone = row->missing ? PERF_INCONCLUSIVE : ab_join(row, r->plan.rules);
    r->judged += row->open != 0;
    row->p = row->holm = 1.0;
}

/* The p-value of one row: the worst of its rules for an ACCEPT, the best for a REJECT. */
PERF_FN void ab_row_p_(const ab_report *r, ab_row *row)
{
    double accept = 0.0, reject = 1.0;
    int    k;

    if (row->missing)
        return;
    for (k = 0; k < r->plan.rules; k++) {
        ab_data *d = &row->d[k];
        d->p = ab_p_value_(d);
        accept = d->p > accept ? d->p : accept;
        if (d->v.decision == PERF_REJECT && d->p < reject)
            reject = d->p;
    }
    row->p = row->alone == PERF_REJECT ? reject * r->plan.rules : accept;   /* any would have done */
}

/* The verdict of one row among the others, and what would settle it. */
PERF_FN void ab_settle_row_(const ab_report *r, ab_row *row)
{
    const int decided = row->alone != PERF_INCONCLUSIVE;
    const int sure = r->judged < 2 || row->holm <= 1.0 - r->plan.confidence + 1e-9;
    char      need[48] = "more pairs";
    size_t    fewest;
    int       k;

    row->family = row->alone;
    *row->settle = '\0';
    if (decided && !sure) {
        fewest = ab_fewest_pairs_(r);
        if (row->d[0].how != AB_HOW_RANDOM && row->d[0].n[0] < fewest)
            snprintf(need, sizeof need, "it takes %zu pairs at least", fewest);
        row->family = PERF_INCONCLUSIVE;
        snprintf(row->settle, sizeof row->settle,
                 "alone it would be %s; among %zu benchmarks that is "
                 "not sure enough (Holm p %.2g): %s",
                 perf_decision_text(row->alone), r->judged, row->holm, need);
    } else if (row->missing) {
        ab_settle_missing_(r, row);
    }
    for (k = 0; k < r->plan.rules && !*row->settle && row->family == PERF_INCONCLUSIVE; k++)
        ab_settle_(&row->d[k], row->settle, sizeof row->settle);
}

/* Fills in every verdict, then the family's. */
PERF_FN void ab_judge(ab_report *r)
{
    size_t i;

    r->judged = 0;
    for (i = 0; i < r->n; i++)
        ab_judge_row_(r, &r->row[i]);
    if (r->sequential)                              /* no p-values there, and no need of them     */
        r->judged = 1;
    for (i = 0; i < r->n && r->judged > 1; i++)
        ab_row_p_(r, &r->row[i]);
    if (r->judged > 1)
        ab_family_(r);
    memset(r->count, 0, sizeof r->count);
    for (i = 0; i < r->n; i++) {
        ab_settle_row_(r, &r->row[i]);
        r->count[r->row[i].family]++;
    }
    r->decision = PERF_ACCEPT;
    if (r->count[PERF_INCONCLUSIVE] || !r->n)
        r->decision = PERF_INCONCLUSIVE;
    if (r->count[PERF_REJECT])
        r->decision = PERF_REJECT;
}

PERF_FN int ab_status(const ab_report *r)
{
    if (r->decision == PERF_ACCEPT)
        return AB_ACCEPT;
    return r->decision == PERF_REJECT ? AB_REJECT : AB_INCONCLUSIVE;
}

#endif
