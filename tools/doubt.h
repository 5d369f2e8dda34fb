/* doubt.h - columns of a file that are no measurements in the order of time: sorted, repeated,
 * copied, computed, of two units.  By chance an honest file is doubted in 1 of 10,000.
 * And pairs that are fewer measurements than they look: neighbours are alike.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DOUBT_H
#define PERF_TOOLS_DOUBT_H

#include "ab.h"
#include "perf_results.h"

#define AB_DOUBT_LOG   (-9.21)          /* log of the chance, 1 in 10,000, that begins a doubt    */
#define AB_DOUBT_ERRORS 3.8             /* standard errors with that chance                       */
#define AB_FAR          4.0             /* spreads of a side: sides so far apart need no test     */

/* What chance makes of a column: logs of two probabilities. */
typedef struct ab_chance {
    double log_order;                   /* its values in random order come out sorted             */
    double log_tie;                     /* two of them are equal                                  */
} ab_chance;

typedef struct ab_doubted {             /* of one side                                            */
    const double *x;                    /* as in the file                                         */
    double       *sorted;
    size_t        n;
} ab_doubted;

/* With m_i values of each kind: the product of m_i! over n!, and the sum of (m_i / n)^2. */
PERF_FN ab_chance ab_chance_of(const double *sorted, size_t n)
{
    ab_chance chance = PERF_ZERO;
    double       all = (double)n, ties = 0.0, run = 0.0;
    size_t       i;

    for (i = 0; i < n; i++) {
        run += 1.0;
        chance.log_order += perf_log_(run) - perf_log_((double)(i + 1));
        if (i + 1 == n || sorted[i + 1] > sorted[i]) {
            ties += run / all * (run / all);
            run = 0.0;
        }
    }
    chance.log_tie = perf_log_(ties);
    return chance;
}

/* 1: no value is below (toward -1: above) the one before it. */
PERF_FN int ab_is_monotone(const double *x, size_t n, double toward)
{
    size_t i;

    for (i = 1; i < n; i++)
        if ((x[i] - x[i - 1]) * toward < 0.0)
            return 0;
    return 1;
}

/* 1: all values stand in groups of `each` equal ones. */
PERF_FN int ab_is_doubled(const double *x, size_t n, size_t each)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (x[i] < x[i - i % each] || x[i] > x[i - i % each])
            return 0;
    return 1;
}

/* 1: from `period` on the values are those that stood so much earlier. */
PERF_FN int ab_is_periodic(const double *x, size_t n, size_t period)
{
    size_t i;

    for (i = period; i < n; i++)
        if (x[i] < x[i - period] || x[i] > x[i - period])
            return 0;
    return 1;
}

/* 1: every second value is above the median, the others are below. */
PERF_FN int ab_is_alternating(const double *x, size_t n, double median)
{
    size_t i;

    for (i = 1; i < n; i++)
        if (!((x[i] - median) * (x[i - 1] - median) < 0.0))
            return 0;
    return 1;
}

/* 1: as many equal values as `equal` are no chance. */
PERF_FN int ab_is_no_chance(const ab_chance *chance, size_t equal)
{
    return chance->log_tie * (double)equal < AB_DOUBT_LOG;
}

/* 1: rises (toward -1: falls) are far too rare, and each of the few undoes much of the others: the
 * column is sorted in parts, or but for some values.  A machine that slowly gets slower has small
 * ones.                                                                                          */
PERF_FN int ab_is_sorted_in_parts(const ab_doubted *column, double toward)
{
    double against = 0.0, steps = 0.0, back = 0.0, step, middle;
    size_t i;

    for (i = 1; i < column->n; i++) {
        step = (column->x[i] - column->x[i - 1]) * toward;
        steps += step < 0.0 || step > 0.0;
        against += step < 0.0;
        back -= step < 0.0 ? step : 0.0;
    }
    middle = perf_quantile_(column->sorted, column->n, 0.75) -
             perf_quantile_(column->sorted, column->n, 0.25);
    return against > 0.0 && back > 0.5 * middle * against &&
           steps - 2.0 * against > 2.0 * AB_DOUBT_ERRORS * perf_sqrt_((steps + 2.0) / 12.0);
}

/* 1: values of two units: some, a tenth at least, are near 1,000 or a million times the others. */
PERF_FN int ab_is_of_two_units(const ab_doubted *column)
{
    const double *s = column->sorted;
    size_t        i, cut = 0, least = column->n / 10 > 2 ? column->n / 10 : 2;
    double        ratio, gap = 100.0;

    for (i = 1; i < column->n; i++)
        if (s[i - 1] > 0.0 && s[i] / s[i - 1] > gap) {
            gap = s[i] / s[i - 1];
            cut = i;
        }
    if (cut < least || column->n - cut < least)
        return 0;
    ratio = perf_quantile_(s + cut, column->n - cut, 0.5) / perf_quantile_(s, cut, 0.5);
    for (; ratio > 5e4; ratio /= 1e3)
        continue;
    return ratio > 500.0 && ratio < 2000.0;
}

/* What speaks against one column. */
PERF_FN const char *ab_order_doubt(const ab_doubted *column)
{
    const double   *x = column->x;
    const size_t    n = column->n;
    const ab_chance chance = ab_chance_of(column->sorted, n);
    size_t          k;

    if (chance.log_order < AB_DOUBT_LOG && ab_is_monotone(x, n, 1.0))
        return "sorted by value: the order of time is lost";
    if (chance.log_order < AB_DOUBT_LOG && ab_is_monotone(x, n, -1.0))
        return "sorted by value, largest first: the order of time is lost";
    for (k = 2; k <= n / 2 && k <= 16; k++)
        if (ab_is_no_chance(&chance, n - (n + k - 1) / k) && ab_is_doubled(x, n, k))
            return "each value is written more than once";
    for (k = 2; k <= n / 2; k++)
        if (ab_is_no_chance(&chance, n - k) && ab_is_periodic(x, n, k))
            return "the same values again and again: parts of it are copies";
    if (n >= 18 && ab_is_alternating(x, n, perf_quantile_(column->sorted, n, 0.5)))
        return "large and small values alternate: are these two columns in one?";
    if (ab_is_sorted_in_parts(column, 1.0) || ab_is_sorted_in_parts(column, -1.0))
        return "sorted by value, in parts: the order of time is lost";
    if (ab_is_of_two_units(column))
        return "some values are near 1,000 times the others: are the units the same?";
    return NULL;
}

/* How many values differ from each other. */
PERF_FN size_t ab_kinds(const ab_doubted *column)
{
    size_t i, kinds = 1;

    for (i = 1; i < column->n; i++)
        kinds += column->sorted[i] > column->sorted[i - 1];
    return kinds;
}

/* What speaks against two columns of n values each: one is the other, or made from it. */
PERF_FN const char *ab_copy_doubt(const ab_doubted *one, const ab_doubted *other)
{
    double low = PERF_INF_, high = 0.0, least = PERF_INF_, most = -PERF_INF_, ratio, gap, spread;
    int    in_order = 1, in_all = one->n >= 8 && 4 * ab_kinds(one) >= 3 * one->n;
    size_t i;

    for (i = 0; i < one->n; i++) {
        ratio = other->x[i] / one->x[i];
        gap = other->x[i] - one->x[i];
        low = ratio < low ? ratio : low;
        high = ratio > high ? ratio : high;
        least = gap < least ? gap : least;
        most = gap > most ? gap : most;
        in_order &= !(gap < 0.0 || gap > 0.0);
        in_all &= !(other->sorted[i] < one->sorted[i] || other->sorted[i] > one->sorted[i]);
    }
    if (in_order)
        return "the same numbers as the other side: a copy";
    if (in_all)
        return "the same numbers as the other side in another order: a copy";
    spread = one->sorted[one->n - 1] - one->sorted[0];
    if (high - low <= 1e-9 * high || (high / low - 1.0) * one->sorted[0] <= 1e-4 * spread)
        return "the other side times a constant: computed, not measured";
    if (most - least <= 1e-4 * spread)
        return "the other side plus a constant: computed, not measured";
    return NULL;
}

typedef struct ab_two {                 /* a row of two columns                                   */
    double a, b;
} ab_two;

PERF_FN int ab_by_two(const void *a_, const void *b_)
{
    const ab_two *one = (const ab_two *)a_, *other = (const ab_two *)b_;

    if (one->a < other->a || one->a > other->a)
        return one->a < other->a ? -1 : 1;
    return (one->b > other->b) - (one->b < other->b);
}

/* Steps of its clock in the middle four fifths of a column, at least: the least distance of two
 * values is one step or more.                                                                    */
PERF_FN double ab_levels(const ab_doubted *column)
{
    double step = PERF_INF_;
    size_t i;

    for (i = 1; i < column->n; i++)
        if (column->sorted[i] > column->sorted[i - 1] &&
            column->sorted[i] - column->sorted[i - 1] < step)
            step = column->sorted[i] - column->sorted[i - 1];
    return (perf_quantile_(column->sorted, column->n, 0.9) -
            perf_quantile_(column->sorted, column->n, 0.1)) / step;
}

/* 1: a fifth of the rows or more, and three at least, stand elsewhere once more, and a coarse clock
 * explains no tenth of that.                                                                     */
PERF_FN int ab_rows_repeat(const ab_doubted *one, const ab_doubted *other)
{
    const double n = (double)one->n;
    ab_two      *row = (ab_two *)ab_grow(NULL, one->n, sizeof *row);
    size_t       i, again = 0;

    for (i = 0; i < one->n; i++) {
        row[i].a = one->x[i];
        row[i].b = other->x[i];
    }
    qsort(row, one->n, sizeof *row, ab_by_two);
    for (i = 1; i < one->n; i++)
        again += !ab_by_two(&row[i - 1], &row[i]);
    free(row);
    return again >= 3 && 5 * again >= one->n &&
           0.1 * (double)again * ab_levels(one) * ab_levels(other) > 0.5 * n * n;
}

/* What speaks against both columns together. */
PERF_FN const char *ab_pair_doubt(const ab_doubted *one, const ab_doubted *other)
{
    const ab_chance chance = ab_chance_of(one->sorted, one->n);
    const char     *doubt = NULL;
    double          ratio;

    if (one->n == other->n && ab_is_no_chance(&chance, one->n))
        doubt = ab_copy_doubt(one, other);
    if (!doubt && one->n == other->n && ab_rows_repeat(one, other))
        doubt = "the same pairs again: rows are copies";
    if (doubt)
        return doubt;
    ratio = perf_quantile_(other->sorted, other->n, 0.5) / perf_quantile_(one->sorted, one->n, 0.5);
    if (ratio > 900.0 || ratio < 1.0 / 900.0)
        return "the two sides differ by a factor near 1,000 or more: are the units the same?";
    return NULL;
}

/* A column of good values; its sorted copy is the caller's to free.  0: some are no durations. */
PERF_FN int ab_doubted_of(ab_doubted *column, const double *x, size_t n)
{
    size_t i;

    memset(column, 0, sizeof *column);
    for (i = 0; i < n; i++)
        if (!(x[i] > 0.0) || !perf_is_finite_(x[i]))
            return 0;                               /* refused anyway                             */
    column->x = x;
    column->n = n;
    column->sorted = (double *)ab_grow(NULL, n, sizeof *column->sorted);
    memcpy(column->sorted, x, n * sizeof *x);
    perf_sort_values_(column->sorted, n);
    return 1;
}

/* Why x[0..n) is no series of measurements in time order, as a static sentence; NULL: nothing
 * speaks against it.  `other` (NULL: none) is the column of the other side: is the one a copy of
 * the other, or in another unit?                                                                 */
PERF_FN const char *ab_column_doubt(const double *x, size_t n, const double *other, size_t n_other)
{
    const char *doubt = NULL;
    ab_doubted   of, beside;

    if (!x || !n || !ab_doubted_of(&of, x, n))
        return NULL;
    doubt = ab_order_doubt(&of);
    if (!doubt && other && n_other && ab_doubted_of(&beside, other, n_other)) {
        doubt = ab_pair_doubt(&of, &beside);
        free(beside.sorted);
    }
    free(of.sorted);
    return doubt;
}

/* ---- neighbours ---- */

/* The log ratios of n pairs, in the order of time, as distances of their ranks from the middle. */
PERF_FN double *ab_log_ranks(const double *a, const double *b, size_t n)
{
    double *rank = (double *)ab_grow(NULL, 3 * n, sizeof *rank);
    double *sorted = rank + n, *upside = sorted + n;
    size_t  i;

    for (i = 0; i < n; i++) {
        sorted[i] = perf_log_(b[i]) - perf_log_(a[i]);
        rank[i] = sorted[i];
        upside[i] = -sorted[i];
    }
    perf_sort_values_(sorted, n);
    perf_sort_values_(upside, n);
    for (i = 0; i < n; i++)                         /* below it, less above it                    */
        rank[i] = (double)perf_sorted_place_(sorted, n, rank[i]) -
                  (double)perf_sorted_place_(upside, n, -rank[i]);
    return rank;
}

/* 1: neighbouring pairs have alike ratios.  A coin for each pair makes the products of neighbours
 * fair signs, whatever the machine does: 2 standard errors and a correlation of .3, by
 * chance in 37 of 2,000 honest benchmarks (simulated).                                           */
PERF_FN int ab_neighbours_alike(const double *a, const double *b, size_t n)
{
    double *rank, together = 0.0, squares = 0.0, noise = 0.0, product;
    size_t  i;

    if (n < 6)
        return 0;
    rank = ab_log_ranks(a, b, n);
    for (i = 0; i < n; i++) {
        squares += rank[i] * rank[i];
        if (i) {
            product = rank[i] * rank[i - 1];
            together += product;
            noise += product * product;
        }
    }
    free(rank);
    together += squares / (double)n;                /* ranks around their own middle: less so much*/
    return squares > 0.0 && together > 0.3 * squares && together > 2.0 * perf_sqrt_(noise);
}

/* How far x varies: 1.4826 times the median distance of its logs from their median. */
PERF_FN double ab_log_spread(const double *x, size_t n)
{
    double *logs = (double *)ab_grow(NULL, n, sizeof *logs), spread;
    size_t  i;

    for (i = 0; i < n; i++)
        logs[i] = perf_log_(x[i]);
    perf_sort_values_(logs, n);
    spread = 1.4826 * perf_mad_(logs, n, perf_quantile_(logs, n, 0.5));
    free(logs);
    return spread;
}

#endif
