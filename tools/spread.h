/* spread.h - a command that prints several values a run: how much they vary within a run and
 * between runs, and how many values a run pay (Kalibera and Jones 2013).  All in logs.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_SPREAD_H
#define PERF_TOOLS_SPREAD_H

#include "judge.h"

typedef struct ab_spread {              /* of one command, over its runs                          */
    ab_values centre;                   /* mean log of each run                                   */
    ab_values count;                    /* values of each run                                     */
    double    squares;                  /* within runs: squared distances to the run's mean log   */
    double    value_ns, run_ns;         /* sums of the values (0: no times) and of the wall time  */
} ab_spread;

/* Takes in the values of one run, in ns or in no unit of time, and its wall time. */
PERF_FN void ab_spread_add(ab_spread *s, const double *x, size_t n, int is_time, double wall_ns)
{
    double mean = 0.0, gap;
    size_t i;

    for (i = 0; i < n; i++)
        mean += perf_log_(x[i]) / (double)n;
    for (i = 0; i < n; i++) {
        gap = perf_log_(x[i]) - mean;
        s->squares += gap * gap;
        s->value_ns += is_time ? x[i] : 0.0;
    }
    ab_push(&s->centre, mean);
    ab_push(&s->count, (double)n);
    s->run_ns += wall_ns;
}

/* Variance of a value around its run, and of a run's centre beyond what its values explain. */
PERF_FN ab_between ab_spread_between(const ab_spread *s)
{
    ab_between  b;
    double      mean = 0.0, total = 0.0, inverse = 0.0, gap, each, start;
    size_t      i, runs = s->centre.n;

    memset(&b, 0, sizeof b);
    for (i = 0; i < runs; i++) {
        mean += s->centre.x[i] / (double)runs;
        b.values += (size_t)s->count.x[i];
        inverse += 1.0 / s->count.x[i] / (double)runs;
    }
    if (runs < 2 || b.values < 2 * runs)
        return b;                                   /* too few to tell them apart                 */
    for (i = 0; i < runs; i++) {
        gap = s->centre.x[i] - mean;
        total += gap * gap / (double)(runs - 1);
    }
    b.within = s->squares / (double)(b.values - runs);
    b.runs = total - b.within * inverse;
    if (b.runs < 0.0)
        b.runs = 0.0;
    each = s->value_ns / (double)b.values;
    start = (s->run_ns - s->value_ns) / (double)runs;
    if (each > 0.0 && start > 0.0 && b.runs > 1e-12)    /* else what a value costs is not known,  */
        b.best = perf_sqrt_(start / each * b.within / b.runs);  /* or runs differ by chance       */
    if (b.best > 0.0)
        b.best = b.best < 1000.0 ? (double)(size_t)(b.best + 1.0) : 1000.0;
    return b;
}

/* Pairs of runs after which the ratio is known to 1 %: pi / 2 times as many as a mean needs, as
 * signs decide, and 2.25 times as many again, as they are looked at after each pair.             */
PERF_FN double ab_spread_pairs(const ab_between *a, const ab_between *b)
{
    const double width = 0.01, z = 1.96, by_bets = 1.57 * 2.25;
    double       of_a, of_b, pairs;

    if (!a->values || !b->values || !(a->best > 0.0) || !(b->best > 0.0))
        return 0.0;
    of_a = a->runs + a->within / a->best;
    of_b = b->runs + b->within / b->best;
    pairs = (double)(size_t)(by_bets * z * z * (of_a + of_b) / (width * width) + 1.0);
    return pairs > 7.0 ? pairs : 7.0;               /* with fewer nothing is decided              */
}

#endif
