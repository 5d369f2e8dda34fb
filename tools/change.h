/* change.h - where did a history change?  Change points of a series of medians.
 *
 * Of all stretches of a series the one is found that differs most from what lies outside it; a step
 * is a stretch up to the end.  It counts if Student's t says so, with an error that is wider the
 * more a value resembles those before (days of a week, states of a machine that last), and if most
 * of its values lie there.  A line through the series is asked, too, for creeps.  Machines wander:
 * so a step or a ramp must also explain what a level that wanders by itself does not.  Then the
 * pieces are looked at.
 * perf_results.h asks the same of its 30 runs, for one change for the worse: the error is its.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_CHANGE_H
#define PERF_TOOLS_CHANGE_H

#include "judge.h"
#include "perf_results.h"

enum {
    CHANGE_LEAST = 5,                   /* values on each side of a cut                           */
    CHANGE_MOST = 16,                   /* cuts of one series                                     */
    CHANGE_TAKEN = 4,                   /* other steps that may lie beside one                    */
    CHANGE_NEAR = 2,                    /* neighbours on each side that tell whether one lies off */
    CHANGE_FULL = 2048                  /* of more places only so many are tried, then those near */
};

#define CHANGE_P     0.003              /* chance of error of one look, two-sided                 */
#define CHANGE_NONE  1e9                /* a p of what is no level                                */
#define CHANGE_MIXED 0.35               /* of a level, so many may lie nearer to the rest         */
#define CHANGE_VISIT 0.65               /* a value that lies so far on the way to the other level */
#define CHANGE_STEP  0.007              /* chance of error of a step where the level wanders      */
#define CHANGE_RAMP  0.02               /* of a creep that goes on, and of one that has ended     */
#define CHANGE_CREEP 0.05               /* log: what creeps by less in all may be the machine     */
#define CHANGE_OFF   2.4                /* off is what lies so many times as far as nine of ten   */

typedef struct change_point {
    size_t at;                          /* the first value of the new level                       */
    double ratio;                       /* median of the new level over that before               */
    int    creeps;                      /* 1: a line says it better than a step                   */
} change_point;

typedef struct changes {
    change_point point[CHANGE_MOST];    /* in order                                               */
    size_t       n;
} changes;

/* A stretch y[from .. to) of a series. */
typedef struct change_stretch {
    size_t from, to;                    /* to 0: there is none                                    */
    double between;                     /* sum of squares between it and the rest                 */
    double p;                           /* of no change; 1 and more: nothing                      */
} change_stretch;

/* Logs of the values; one that lies far off its neighbours is moved in. */
PERF_FN void change_logs(const double *x, size_t n, double *y)
{
    double *off = (double *)ab_grow(NULL, 2 * n, sizeof *off), *sorted = off + n, most;
    double  near[2 * CHANGE_NEAR + 1];
    size_t  i, k, from, to;

    for (i = 0; i < n; i++) {
        from = i < CHANGE_NEAR ? 0 : i - CHANGE_NEAR;
        to = i + CHANGE_NEAR < n ? i + CHANGE_NEAR + 1 : n;
        for (k = from; k < to; k++)
            near[k - from] = perf_log_(x[k]);
        y[i] = ab_statistic(near, to - from, PERF_METRIC_P50);
        off[i] = perf_log_(x[i]) - y[i];
        sorted[i] = ab_abs(off[i]);
    }
    perf_sort_values_(sorted, n);
    most = CHANGE_OFF * perf_quantile_(sorted, n, 0.9);
    for (i = 0; i < n; i++) {
        if (off[i] > most)
            off[i] = most;
        if (off[i] < -most)
            off[i] = -most;
        y[i] += off[i];
    }
    free(off);
}

/* The p of a change: `scale` times the residuals' deviation is its error; tries: places where it
 * might have been.  How much runs resemble each other is itself estimated: where so many count as
 * one, the chance of error is that of all of them.                                               */
PERF_FN double change_p(const double *residual, size_t n, double size, double scale, double tries)
{
    perf_change_ change;

    memset(&change, 0, sizeof change);
    perf_change_error_(&change, residual, n, scale);
    tries *= ((double)n - 2.0) / change.df;
    return 2.0 * tries * perf_t_cdf_(-ab_abs(size) / change.se, change.df);
}

/* The best stretch with low->from <= from <= high->from, every `step`, the same of its end.
 * sum[i]: of the first i values; all add up to 0.  What follows it is no shorter than a level.   */
PERF_FN change_stretch change_search(const double *sum, size_t n, const change_stretch *low,
                                     const change_stretch *high, size_t step)
{
    change_stretch best = {0, 0, -1.0, 2.0};
    double         part, between;
    size_t         i, j;

    for (i = low->from; i <= high->from; i += step)
        for (j = low->to; j <= high->to; j += step) {
            if (i < CHANGE_LEAST || j < i + CHANGE_LEAST || (j < n && j + CHANGE_LEAST > n))
                continue;
            part = sum[j] - sum[i];
            between = part * part * (1.0 / (double)(j - i) + 1.0 / (double)(n - j + i));
            if (between > best.between) {
                best.from = i;
                best.to = j;
                best.between = between;
            }
        }
    return best;
}

/* The better of two. */
PERF_FN change_stretch change_better(change_stretch one, change_stretch other)
{
    return one.between >= other.between ? one : other;
}

/* Searches all stretches: of a long series first a part of them. */
PERF_FN change_stretch change_find(const double *sum, size_t n)
{
    const size_t   step = n / CHANGE_FULL + 1;
    change_stretch low = {CHANGE_LEAST, 2 * CHANGE_LEAST, 0.0, 0.0}, high = {n, n, 0.0, 0.0}, best;

    best = change_search(sum, n, &low, &high, step);
    low.to = n;
    best = change_better(best, change_search(sum, n, &low, &high, step));
    if (step == 1 || !best.to)
        return best;
    low.from = best.from > step ? best.from - step : 0;
    high.from = best.from + step < n ? best.from + step : n;
    low.to = best.to == n ? n : best.to - step;
    high.to = best.to + step < n ? best.to + step : n;
    return change_better(best, change_search(sum, n, &low, &high, 1));
}

/* 1: of the values in the stretch, or (inside 0) of the rest, more visit the other level in a row
 * than chance makes: states that last, and no level.  `here` and `there`: both levels.           */
PERF_FN int change_visits(const double *y, size_t n, const change_stretch *stretch, int inside,
                          double here, double there)
{
    const double way = there - here;
    double       chance, all = 0.0, away = 0.0, pairs = 0.0;
    int          visits, before = 0;
    size_t       i;

    for (i = 0; i < n; i++) {
        visits = (y[i] - here) * way > CHANGE_VISIT * way * way;
        if ((i >= stretch->from && i < stretch->to) == inside) {
            all += 1.0;
            away += visits;
            pairs += visits && before;
            before = visits;
        } else {
            before = 0;
        }
    }
    chance = away * (away - 1.0) / all;
    return pairs > 0.0 && pairs > chance + 3.0 * perf_sqrt_(chance);
}

/* 1: too many of a stretch lie nearer to the rest than to its mean, or one of both visits the other
 * level: no level, but some nights of another state, and nights beside them.                     */
PERF_FN int change_mixed(const double *y, size_t n, const change_stretch *stretch, double inside,
                         double outside)
{
    const double middle = 0.5 * (inside + outside);
    size_t       i, nearer = 0;

    for (i = stretch->from; i < stretch->to; i++)
        nearer += (y[i] < middle) == (inside > outside);
    return (double)nearer > CHANGE_MIXED * (double)(stretch->to - stretch->from) ||
           change_visits(y, n, stretch, 1, inside, outside) ||
           change_visits(y, n, stretch, 0, outside, inside);
}

/* Places where such a stretch might have been. */
PERF_FN double change_tries(const change_stretch *stretch, size_t n)
{
    return stretch->to == n ? (double)n : 0.25 * (double)n * (double)n;
}

/* The pieces of a series: from edge[i] to edge[i + 1]. */
typedef struct change_pieces {
    size_t edge[CHANGE_TAKEN + 4];
    size_t n;                           /* pieces                                                 */
} change_pieces;

PERF_FN void change_edge(change_pieces *pieces, size_t at)
{
    size_t i = ++pieces->n;

    for (; pieces->edge[i - 1] > at; i--)
        pieces->edge[i] = pieces->edge[i - 1];
    pieces->edge[i] = at;
}

/* Cuts one piece in two, where the levels differ most; what is left around the levels of all pieces
 * are the residuals.  sum: of y.                                                                 */
PERF_FN void change_take(const double *y, const double *sum, change_pieces *pieces,
                         double *residual)
{
    double best = -1.0, part, length, left, between, mean;
    size_t at = 0, i, k;

    for (i = 0; i < pieces->n; i++) {
        part = sum[pieces->edge[i + 1]] - sum[pieces->edge[i]];
        length = (double)(pieces->edge[i + 1] - pieces->edge[i]);
        for (k = pieces->edge[i] + CHANGE_LEAST; k + CHANGE_LEAST <= pieces->edge[i + 1]; k++) {
            left = (double)(k - pieces->edge[i]);
            mean = sum[k] - sum[pieces->edge[i]] - part * left / length;
            between = mean * mean * (1.0 / left + 1.0 / (length - left));
            if (between > best) {
                best = between;
                at = k;
            }
        }
    }
    if (at)
        change_edge(pieces, at);
    for (i = 0; i < pieces->n; i++) {
        part = sum[pieces->edge[i + 1]] - sum[pieces->edge[i]];
        mean = part / (double)(pieces->edge[i + 1] - pieces->edge[i]);
        for (k = pieces->edge[i]; k < pieces->edge[i + 1]; k++)
            residual[k] = y[k] - mean;
    }
}

/* The p of a stretch beside other steps: what they leave in the residuals looks like runs that
 * resemble each other.  So up to CHANGE_TAKEN more cuts are made first, each at the price of all the
 * places where it might have been.                                                               */
PERF_FN double change_beside_steps(const double *y, size_t n, const change_stretch *stretch,
                                   double size, double scale)
{
    double       *sum = (double *)ab_grow(NULL, 2 * n + 1, sizeof *sum), *residual = sum + n + 1;
    double        tries = change_tries(stretch, n), best = CHANGE_NONE, p;
    change_pieces pieces = {{0, 0}, 1};
    size_t        i;

    for (sum[0] = 0.0, i = 0; i < n; i++)
        sum[i + 1] = sum[i] + y[i];
    pieces.edge[1] = n;
    change_edge(&pieces, stretch->from);
    if (stretch->to < n)
        change_edge(&pieces, stretch->to);
    for (i = 0; i < CHANGE_TAKEN; i++) {
        change_take(y, sum, &pieces, residual);
        tries *= (double)n;
        p = change_p(residual, n, size, scale, tries);
        best = p < best ? p : best;
    }
    free(sum);
    return best;
}

/* The stretch that differs most from the rest. */
PERF_FN change_stretch change_step(const double *y, size_t n)
{
    double        *sum = (double *)ab_grow(NULL, 2 * n + 1, sizeof *sum), *residual = sum + n + 1;
    double         mean = 0.0, in, inside, outside, tries, scale;
    change_stretch best;
    size_t         i;

    for (i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (sum[0] = 0.0, i = 0; i < n; i++)
        sum[i + 1] = sum[i] + y[i] - mean;
    best = change_find(sum, n);
    if (best.to) {
        in = (double)(best.to - best.from);
        inside = (sum[best.to] - sum[best.from]) / in;
        outside = -inside * in / ((double)n - in);
        for (i = 0; i < n; i++)
            residual[i] = y[i] - mean - (i >= best.from && i < best.to ? inside : outside);
        tries = change_tries(&best, n);
        scale = perf_sqrt_(1.0 / in + 1.0 / ((double)n - in));
        best.p = change_p(residual, n, inside - outside, scale, tries);
        if (!(best.p < CHANGE_P))
            best.p = change_beside_steps(y, n, &best, inside - outside, scale);
        if (change_mixed(y, n, &best, mean + inside, mean + outside))
            best.p = CHANGE_NONE;
    }
    free(sum);
    return best;
}

/* The p of the slope of the line of least squares. */
PERF_FN double change_line(const double *y, size_t n)
{
    const double middle = 0.5 * ((double)n - 1.0);
    double      *residual = (double *)ab_grow(NULL, n, sizeof *residual), p;
    double       mean = 0.0, xx = 0.0, xy = 0.0, x;
    size_t       i;

    for (i = 0; i < n; i++) {
        x = (double)i - middle;
        mean += y[i] / (double)n;
        xx += x * x;
        xy += x * y[i];
    }
    for (i = 0; i < n; i++)
        residual[i] = y[i] - mean - xy / xx * ((double)i - middle);
    p = change_p(residual, n, xy / xx, 1.0 / perf_sqrt_(xx), 2.0);
    free(residual);
    return p;
}

/* How well noise and a level that wanders explain a series, with a step or a ramp and without. */
typedef struct change_fit {
    double without, with;               /* logs of the likelihoods                                */
} change_fit;

/* Of the differences of neighbours, noise alone (share 0) makes the variance 2 and, from one to
 * the next, the covariance -1; a random walk alone (share 1) makes 1 and 0.  A step is one
 * difference, at each of its ends; a ramp is in all between stretch->from and stretch->to.       */
PERF_FN change_fit change_fit_of(const double *y, size_t n, const change_stretch *stretch, int ramp,
                                 double share)
{
    const double least = 0.001;         /* as of runs that all take the same time                 */
    double       all = (double)n - 1.0, variance = 2.0 - share, factor = 0.0, logs = 0.0;
    double       move = 0.0, shape = 0.0, squares = all * least * least, both = 0.0, shapes = 0.0;
    change_fit   fit;
    size_t       i;

    for (i = 1; i < n; i++) {
        move = y[i] - y[i - 1] - factor * move;
        shape *= -factor;
        if (ramp)
            shape += i > stretch->from && i < stretch->to;
        else
            shape += (i == stretch->from) - (i == stretch->to);
        squares += move * move / variance;
        both += move * shape / variance;
        shapes += shape * shape / variance;
        logs += perf_log_(variance);
        factor = (share - 1.0) / variance;
        variance = 2.0 - share - factor * (share - 1.0);
    }
    fit.without = -0.5 * (all * perf_log_(squares) + logs);
    fit.with = -0.5 * (all * perf_log_(squares - both * both / shapes) + logs);
    return fit;
}

/* The p of a step or a ramp where the level wanders by itself, as far as explains most: of the
 * likelihoods' ratio.                                                                            */
PERF_FN double change_beside_walk(const double *y, size_t n, const change_stretch *stretch,
                                  int ramp, double tries)
{
    static const double share[] = {0.0, 0.001, 0.003, 0.01, 0.03, 0.09, 0.23, 0.5, 0.75, 0.9, 1.0};
    const double        df = (double)n - 2.0;
    change_fit          best = change_fit_of(y, n, stretch, ramp, share[0]), fit;
    double              ratio;
    size_t              i;

    for (i = 1; i < sizeof share / sizeof *share; i++) {
        fit = change_fit_of(y, n, stretch, ramp, share[i]);
        best.without = fit.without > best.without ? fit.without : best.without;
        best.with = fit.with > best.with ? fit.with : best.with;
    }
    ratio = perf_exp_(2.0 * (best.with - best.without) / (df + 1.0));
    return 2.0 * tries * perf_t_cdf_(-perf_sqrt_(df * (ratio - 1.0)), df);
}

/* How far the line of least squares goes in n values. */
PERF_FN double change_goes(const double *y, size_t n)
{
    const double middle = 0.5 * ((double)n - 1.0);
    double       xx = 0.0, xy = 0.0, x;
    size_t       i;

    for (i = 0; i < n; i++) {
        x = (double)i - middle;
        xx += x * x;
        xy += x * y[i];
    }
    return ab_abs(xy / xx * (double)n);
}

/* The p of a ramp through y[from .. to) of a series whose level wanders. */
PERF_FN double change_ramp_in(const double *y, size_t n, size_t from, size_t to)
{
    change_stretch stretch = {0, 0, 0.0, 0.0};

    stretch.from = from;
    stretch.to = to;
    if (change_goes(y + from, to - from) < CHANGE_CREEP)
        return CHANGE_NONE;
    return change_beside_walk(y, n, &stretch, 1, 1.0);
}

/* The likeliest ramp that goes on: through all of a series, its last half, quarter ... */
PERF_FN double change_ramp(const double *y, size_t n)
{
    double tries = 0.0, best = CHANGE_NONE, p;
    size_t length;

    for (length = n; length >= 2 * CHANGE_LEAST; length /= 2) {
        tries += 1.0;
        p = change_ramp_in(y, n, n - length, n);
        best = p < best ? p : best;
    }
    return best * tries;
}

/* The likeliest one that has ended.  Tried are lengths of 3/4 of the series, 3/4 of that ..., from
 * its end on, by a third of their length.                                                        */
PERF_FN double change_ramp_ended(const double *y, size_t n)
{
    double tries = 0.0, best = CHANGE_NONE, p;
    size_t length, to;

    for (length = n * 3 / 4; length >= 2 * CHANGE_LEAST; length = length * 3 / 4)
        for (to = n - length / 3; to >= length; to -= length / 3) {
            tries += 1.0;
            p = change_ramp_in(y, n, to - length, to);
            best = p < best ? p : best;
        }
    return best * tries;
}

PERF_FN void change_add(changes *found, size_t at, int creeps)
{
    if (found->n == CHANGE_MOST)
        return;
    found->point[found->n].at = at;
    found->point[found->n++].creeps = creeps;
}

/* Cuts y[from .. to) where it changed, and the pieces again. */
PERF_FN void change_cut(changes *found, const double *y, size_t from, size_t to)
{
    const size_t   n = to - from;
    change_stretch best;
    double         step = CHANGE_NONE, ramp, ended;

    if (n < 2 * CHANGE_LEAST || found->n == CHANGE_MOST)
        return;
    best = change_step(y + from, n);
    if (!best.to || !(best.p < CHANGE_P || change_line(y + from, n) < CHANGE_P))
        return;
    if (best.p < CHANGE_NONE)
        step = change_beside_walk(y + from, n, &best, 0, change_tries(&best, n));
    ramp = change_ramp(y + from, n);
    ended = change_ramp_ended(y + from, n);
    ramp = ended < ramp ? ended : ramp;
    if (!(step < CHANGE_STEP || ramp < CHANGE_RAMP))
        return;
    change_cut(found, y, from, from + best.from);
    change_add(found, from + best.from, ramp < step);
    change_cut(found, y, from + best.from, from + best.to);
    if (best.to == n)
        return;
    change_add(found, from + best.to, 0);
    change_cut(found, y, from + best.to, to);
}

/* All changes of x[0 .. n), which are above 0. */
PERF_FN changes changes_of(const double *x, size_t n)
{
    double *y = (double *)ab_grow(NULL, n, sizeof *y);
    changes c;
    size_t  i, begin = 0, end;

    memset(&c, 0, sizeof c);
    change_logs(x, n, y);
    change_cut(&c, y, 0, n);
    free(y);
    for (i = 0; i < c.n; i++) {
        end = i + 1 < c.n ? c.point[i + 1].at : n;
        c.point[i].ratio =
            ab_statistic(x + c.point[i].at, end - c.point[i].at, PERF_METRIC_P50) /
            ab_statistic(x + begin, c.point[i].at - begin, PERF_METRIC_P50);
        begin = c.point[i].at;
    }
    return c;
}

#endif
