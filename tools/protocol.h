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
#include "say.h"

typedef struct ab_lines {               /* standard input, a line at a time                       */
    char     text[512];
    size_t   number;
    ab_error e;
} ab_lines;

PERF_FN int ab_next(ab_lines *lines)
{
    if (!fgets(lines->text, sizeof lines->text, stdin))
        return 0;
    lines->number++;
    return 1;
}

PERF_FN int ab_protocol_fail_(ab_lines *lines, size_t column, const char *what)
{
    ab_fail(&lines->e, "(standard input)", lines->number, column, "%s", what);
    fprintf(stderr, "perf-ab: %s\n", lines->e.text);
    return AB_UNUSABLE;
}

/* Reads the next number of the line; 0 when there is none. */
PERF_FN int ab_field_number_(const char **at, double *x)
{
    char *end;

    *x = strtod(*at, &end);
    if (end == *at)
        return 0;
    *at = end;
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
PERF_FN int ab_trial_(ab_lines *lines, ab_trial *trial, int pairs)
{
    double      n, threshold = 1.0, x, y = 0.0;
    const char *at;
    int         fields, metric;

    trial->a.n = trial->b.n = 0;
    if (!ab_next(lines))
        return 0;
    fields = pairs ? sscanf(lines->text, "T %63s %lf %31s %lf", trial->id, &n, trial->what,
                            &threshold) - 1
                   : sscanf(lines->text, "V %63s %lf %31s", trial->id, &n, trial->what);
    if (fields != 3 || !(n >= 0.0 && n < 1e9)) {
        ab_protocol_fail_(lines, 1, pairs ? "expected: T id n metric threshold"
                                          : "expected: V id n statistic");
        return -1;
    }
    metric = ab_metric_of(trial->what);
    if (pairs && (metric < 0 || !(threshold > 0.0) || !perf_is_finite_(threshold))) {
        ab_protocol_fail_(lines, 1, "a metric or a threshold that is none");
        return -1;
    }
    if (pairs)
        trial->rule = ab_rule_of_ratio(threshold, (perf_metric)metric);
    trial->p = trial->what[0] == 'p' ? strtod(trial->what + 1, NULL) / 100.0 : -1.0;
    if (!pairs && (!(trial->p < 1.0) || (trial->p <= 0.0 && strcmp(trial->what, "mean") != 0))) {
        ab_protocol_fail_(lines, 1, "a statistic that is none: p50, p95, p99.9, ..., mean");
        return -1;
    }
    for (trial->n = (size_t)n; trial->a.n < trial->n;) {
        at = lines->text;
        if (!ab_next(lines)) {
            ab_protocol_fail_(lines, 1, "the input ends in the middle of a trial");
            return -1;
        }
        if ((pairs && !ab_field_number_(&at, &x)) || !ab_field_number_(&at, &x) ||
            (pairs && !ab_field_number_(&at, &y))) {
            ab_protocol_fail_(lines, 1 + (size_t)(at - lines->text), "expected a number");
            return -1;
        }
        ab_push(&trial->a, x);
        if (pairs)
            ab_push(&trial->b, y);
    }
    return 1;
}

PERF_FN void ab_answer_pairs_(const ab_trial *trial, double confidence)
{
    perf_compare_opts opts = PERF_ZERO;
    perf_verdict      verdict;

    opts.rule = trial->rule;
    opts.confidence = confidence;
    opts.design = PERF_DESIGN_RANDOM;
    opts.tick = ab_clock_step(trial->a.x, trial->n, trial->b.x, trial->n, "");
    verdict = perf_compare_pairs(trial->a.x, trial->b.x, trial->n, &opts);
    printf("%s %s %.17g %.17g %.17g %.17g\n", trial->id, perf_decision_text(verdict.decision),
           verdict.ratio.estimate, verdict.ratio.low, verdict.ratio.high, verdict.pairs_needed);
}

PERF_FN void ab_answer_seq_(const ab_trial *trial, double confidence)
{
    perf_seq seq;
    size_t   i;

    (void)perf_seq_init(&seq, &trial->rule, confidence, 0.0);
    for (i = 0; i < trial->n && seq.decision == PERF_INCONCLUSIVE; i++)
        if (trial->rule.metric == PERF_METRIC_THROUGHPUT)   /* rates: the larger one costs less   */
            perf_seq_add(&seq, trial->b.x[i], trial->a.x[i]);
        else
            perf_seq_add(&seq, trial->a.x[i], trial->b.x[i]);
    printf("%s %s %zu\n", trial->id, perf_decision_text(seq.decision), i);
}

PERF_FN void ab_answer_sample_(ab_trial *trial, double confidence)
{
    perf_interval interval;

    if (trial->p < 0.0) {
        interval = ab_mean_interval(trial->a.x, trial->n, confidence);
    } else {
        perf_sort_values_(trial->a.x, trial->n);
        interval = perf_quantile_interval_(trial->a.x, trial->n, trial->p, confidence);
    }
    printf("%s %.17g %.17g %.17g\n", trial->id, interval.estimate, interval.low, interval.high);
}

typedef enum ab_protocol { AB_BATCH, AB_SEQ, AB_SAMPLE } ab_protocol;

PERF_FN int ab_serve(ab_protocol how, double confidence)
{
    ab_lines lines;
    ab_trial trial;
    int      more;

    memset(&lines, 0, sizeof lines);
    memset(&trial, 0, sizeof trial);
    while ((more = ab_trial_(&lines, &trial, how != AB_SAMPLE)) > 0) {
        if (how == AB_SEQ && !ab_is_typical(trial.rule.metric)) {
            ab_protocol_fail_(&lines, 1, "pair by pair there is only the metric pair");
            more = -1;
            break;
        }
        if (how == AB_BATCH)
            ab_answer_pairs_(&trial, confidence);
        else if (how == AB_SEQ)
            ab_answer_seq_(&trial, confidence);
        else
            ab_answer_sample_(&trial, confidence);
    }
    free(trial.a.x);
    free(trial.b.x);
    return more < 0 ? AB_UNUSABLE : written();
}

#endif
