/* protocol.h - trials on standard input, one answer a line: how a calibration drives perf-ab.
 *
 *   --batch   T id n metric threshold, then n lines "first a b"  -> id verdict ratio low high more
 *   --seq     the same, used pair by pair                        -> id verdict pairs
 *   --sample  V id n statistic, then n values                    -> id estimate low high
 * threshold is a ratio candidate / baseline; statistic is p50, p99.9, ... or mean.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_PROTOCOL_H
#define PERF_TOOLS_PROTOCOL_H

#include "judge.h"

typedef struct ab_lines {               /* standard input, a line at a time                       */
    char     text[512];
    size_t   number;
    ab_error e;
} ab_lines;

PERF_FN int ab_next(ab_lines *l)
{
    if (!fgets(l->text, sizeof l->text, stdin))
        return 0;
    l->number++;
    return 1;
}

PERF_FN int ab_protocol_fail_(ab_lines *l, size_t column, const char *what)
{
    ab_fail(&l->e, "(standard input)", l->number, column, "%s", what);
    fprintf(stderr, "perf-ab: %s\n", l->e.text);
    return AB_UNUSABLE;
}

/* Reads the next number of the line; 0 when there is none. */
PERF_FN int ab_field_number_(const char **p, double *x)
{
    char *end;

    *x = strtod(*p, &end);
    if (end == *p)
        return 0;
    *p = end;
    return 1;
}

typedef struct ab_trial {
    char      id[64], what[32];
    size_t    n;
    perf_rule rule;
    double    p;                        /* --sample: the quantile, below 0 for the mean           */
    ab_values a, b;
} ab_trial;

/* Reads one trial.  1: done; 0: no more; -1: broken, already said so. */
PERF_FN int ab_trial_(ab_lines *l, ab_trial *t, int pairs)
{
    double      n, threshold = 1.0, x, y = 0.0;
    const char *p;
    int         fields, metric;

    t->a.n = t->b.n = 0;
    if (!ab_next(l))
        return 0;
    fields = pairs ? sscanf(l->text, "T %63s %lf %31s %lf", t->id, &n, t->what, &threshold) - 1
                   : sscanf(l->text, "V %63s %lf %31s", t->id, &n, t->what);
    if (fields != 3 || !(n >= 0.0 && n < 1e9)) {
        ab_protocol_fail_(l, 1, pairs ? "expected: T id n metric threshold"
                                      : "expected: V id n statistic");
        return -1;
    }
    metric = ab_metric_of(t->what);
    if (pairs && (metric < 0 || !(threshold > 0.0) || !perf_is_finite_(threshold))) {
        ab_protocol_fail_(l, 1, "a metric or a threshold that is none");
        return -1;
    }
    if (pairs)
        t->rule = ab_rule_of_ratio(threshold, (perf_metric)metric);
    t->p = t->what[0] == 'p' ? strtod(t->what + 1, NULL) / 100.0 : -1.0;
    if (!pairs && (!(t->p < 1.0) || (t->p <= 0.0 && strcmp(t->what, "mean") != 0))) {
        ab_protocol_fail_(l, 1, "a statistic that is none: p50, p95, p99.9, ..., mean");
        return -1;
    }
    for (t->n = (size_t)n; t->a.n < t->n;) {
        p = l->text;
        if (!ab_next(l)) {
            ab_protocol_fail_(l, 1, "the input ends in the middle of a trial");
            return -1;
        }
        if ((pairs && !ab_field_number_(&p, &x)) || !ab_field_number_(&p, &x) ||
            (pairs && !ab_field_number_(&p, &y))) {
            ab_protocol_fail_(l, 1 + (size_t)(p - l->text), "expected a number");
            return -1;
        }
        ab_push(&t->a, x);
        if (pairs)
            ab_push(&t->b, y);
    }
    return 1;
}

PERF_FN void ab_answer_pairs_(const ab_trial *t, double confidence)
{
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;

    o.rule = t->rule;
    o.confidence = confidence;
    o.design = PERF_DESIGN_RANDOM;
    o.tick = ab_clock_step(t->a.x, t->n, t->b.x, t->n, "");
    v = perf_compare_pairs(t->a.x, t->b.x, t->n, &o);
    printf("%s %s %.17g %.17g %.17g %.17g\n", t->id, perf_decision_text(v.decision),
           v.ratio.estimate, v.ratio.low, v.ratio.high, v.pairs_needed);
}

PERF_FN void ab_answer_seq_(const ab_trial *t, double confidence)
{
    perf_seq s;
    size_t   i;

    (void)perf_seq_init(&s, &t->rule, confidence, 0.0);
    for (i = 0; i < t->n && s.decision == PERF_INCONCLUSIVE; i++)
        if (t->rule.metric == PERF_METRIC_THROUGHPUT)       /* rates: the larger one costs less   */
            perf_seq_add(&s, t->b.x[i], t->a.x[i]);
        else
            perf_seq_add(&s, t->a.x[i], t->b.x[i]);
    printf("%s %s %zu\n", t->id, perf_decision_text(s.decision), i);
}

PERF_FN void ab_answer_sample_(ab_trial *t, double confidence)
{
    perf_interval r;

    if (t->p < 0.0) {
        r = ab_mean_interval(t->a.x, t->n, confidence);
    } else {
        perf_sort_values_(t->a.x, t->n);
        r = perf_quantile_interval_(t->a.x, t->n, t->p, confidence);
    }
    printf("%s %.17g %.17g %.17g\n", t->id, r.estimate, r.low, r.high);
}

typedef enum ab_protocol { AB_BATCH, AB_SEQ, AB_SAMPLE } ab_protocol;

PERF_FN int ab_serve(ab_protocol how, double confidence)
{
    ab_lines l;
    ab_trial t;
    int      more;

    memset(&l, 0, sizeof l);
    memset(&t, 0, sizeof t);
    while ((more = ab_trial_(&l, &t, how != AB_SAMPLE)) > 0) {
        if (how == AB_SEQ && !ab_is_typical(t.rule.metric)) {
            ab_protocol_fail_(&l, 1, "pair by pair there is only the metric pair");
            more = -1;
            break;
        }
        if (how == AB_BATCH)
            ab_answer_pairs_(&t, confidence);
        else if (how == AB_SEQ)
            ab_answer_seq_(&t, confidence);
        else
            ab_answer_sample_(&t, confidence);
    }
    free(t.a.x);
    free(t.b.x);
    if (more == 0 && fflush(stdout) != 0)
        return AB_UNUSABLE;
    return more < 0 ? AB_UNUSABLE : AB_ACCEPT;
}

#endif
