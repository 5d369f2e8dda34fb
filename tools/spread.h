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
PERF_FN void ab_spread_add(ab_spread *spread, const double *x, size_t n, int is_time,
                           double wall_ns)
{
    double mean = 0.0, gap;
    size_t i;

    for (i = 0; i < n; i++)
        mean += perf_log_(x[i]) / (double)n;
    for (i = 0; i < n; i++) {
        gap = perf_log_(x[i]) - mean;
        spread->squares += gap * gap;
        spread->value_ns += is_time ? x[i] : 0.0;
    }
    ab_push(&spread->centre, mean);
    ab_push(&spread->count, (double)n);
    spread->run_ns += wall_ns;
}

/* Variance of a value around its run, and of a run's centre beyond what its values explain. */
PERF_FN ab_between ab_spread_between(const ab_spread *spread)
{
    ab_between  between;
    double      mean = 0.0, total = 0.0, inverse = 0.0, gap, each, start;
    size_t      i, runs = spread->centre.n;

    memset(&between, 0, sizeof between);
    for (i = 0; i < runs; i++) {
        mean += spread->centre.x[i] / (double)runs;
        between.values += (size_t)spread->count.x[i];
        inverse += 1.0 / spread->count.x[i] / (double)runs;
    }
    if (runs < 2 || between.values < 2 * runs)
        return between;                             /* too few to tell them apart                 */
    for (i = 0; i < runs; i++) {
        gap = spread->centre.x[i] - mean;
        total += gap * gap / (double)(runs - 1);
    }
    between.within = spread->squares / (double)(between.values - runs);
    between.runs = total - between.within * inverse;
    if (between.runs < 0.0)
        between.runs = 0.0;
    each = spread->value_ns / (double)between.values;
    start = (spread->run_ns - spread->value_ns) / (double)runs;
    /* else what a value costs is not known, or runs differ by chance */
    if (each > 0.0 && start > 0.0 && between.runs > 1e-12)
        between.best = perf_sqrt_(start / each * between.within / between.runs);
    if (between.best > 0.0)
        between.best = between.best < 1000.0 ? (double)(size_t)(between.best + 1.0) : 1000.0;
    return between;
}

/* Pairs of runs after which the ratio is known to 1 %: pi / 2 times as many as a mean needs, as
 * signs decide, and 2.25 times as many again, as they are looked at after each pair.             */
PERF_FN double ab_spread_pairs(const ab_between *first, const ab_between *second)
{
    const double width = 0.01, z = 1.96, by_bets = 1.57 * 2.25;
    double       of_first, of_second, pairs;

    if (!first->values || !second->values || !(first->best > 0.0) || !(second->best > 0.0))
        return 0.0;
    of_first = first->runs + first->within / first->best;
    of_second = second->runs + second->within / second->best;
    pairs = (double)(size_t)(by_bets * z * z * (of_first + of_second) / (width * width) + 1.0);
    return pairs > 7.0 ? pairs : 7.0;               /* with fewer nothing is decided              */
}

#endif
