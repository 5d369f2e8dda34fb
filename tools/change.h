/* change.h - where did a history change?  Change points of a series of medians.
 *
 * A series is cut where the mean ranks of both sides differ most, then both pieces again.  A cut
 * counts if none of 399 shuffled series has one as large.  Blocks are shuffled, not single values,
 * as neighbours in a history are alike: days of a week, states of a machine that last.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_CHANGE_H
#define PERF_TOOLS_CHANGE_H

#include "judge.h"

enum {
    CHANGE_LEAST = 5,                   /* values on each side of a cut                           */
    CHANGE_MOST = 16,                   /* cuts of one series                                     */
    CHANGE_SHUFFLES = 399,
    CHANGE_BLOCKS = 20,                 /* at least so many blocks, none longer than ...          */
    CHANGE_BLOCK = 7
};

typedef struct change_point {
    size_t at;                          /* the first value of the new level                       */
    double ratio;                       /* median of the new level over that before               */
} change_point;

typedef struct changes {
    change_point point[CHANGE_MOST];    /* in order                                               */
    size_t       n;
} changes;

/* A number of a fixed sequence: the same history always has the same answer. */
PERF_FN uint64_t change_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Ranks of n values, from 1; equal ones get the middle of theirs. */
PERF_FN void change_ranks(const double *x, size_t n, double *rank)
{
    size_t i, j;

    for (i = 0; i < n; i++) {
        size_t below = 0, same = 0;
        for (j = 0; j < n; j++) {
            below += x[j] < x[i];
            same += !(x[j] < x[i]) && !(x[j] > x[i]);
        }
        rank[i] = (double)below + 0.5 * (double)(same + 1);
    }
}

/* The cut with the largest difference of mean ranks, weighted by the lengths; *at: where. */
PERF_FN double change_largest(const double *rank, size_t n, size_t *at)
{
    const double middle = 0.5 * (double)(n + 1);
    double       sum = 0.0, best = -1.0, weight, size;
    size_t       i;

    for (i = 1; i + CHANGE_LEAST <= n; i++) {
        sum += rank[i - 1] - middle;
        if (i < CHANGE_LEAST)
            continue;
        weight = perf_sqrt_((double)i * (double)(n - i));
        size = ab_abs(sum) / weight;
        if (size > best) {
            best = size;
            *at = i;
        }
    }
    return best;
}

/* Puts blocks of `length` values into another order. */
PERF_FN void change_shuffle(const double *rank, size_t n, size_t length, double *to,
                            uint64_t *state)
{
    const size_t blocks = (n + length - 1) / length;
    size_t      *order = (size_t *)ab_grow(NULL, blocks, sizeof *order), i, j, k, count = 0;

    for (i = 0; i < blocks; i++) {
        j = (size_t)(change_random(state) % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < blocks; i++)
        for (k = order[i] * length; k < n && k < (order[i] + 1) * length; k++)
            to[count++] = rank[k];
    free(order);
}

/* 1: no shuffled series has a cut as large. */
PERF_FN int change_is_one(const double *rank, size_t n, double size)
{
    size_t   length = n / CHANGE_BLOCKS, unused = 0;
    double  *shuffled = (double *)ab_grow(NULL, n, sizeof *shuffled);
    uint64_t state = n;
    int      i, is_one = 1;

    length = length > CHANGE_BLOCK ? CHANGE_BLOCK : length;
    length = length < 1 ? 1 : length;
    for (i = 0; i < CHANGE_SHUFFLES && is_one; i++) {
        change_shuffle(rank, n, length, shuffled, &state);
        is_one = change_largest(shuffled, n, &unused) < size;
    }
    free(shuffled);
    return is_one;
}

/* Cuts x[from .. to) where it changed, and the pieces again. */
PERF_FN void change_cut(changes *c, const double *x, size_t from, size_t to)
{
    const size_t n = to - from;
    double      *rank, size;
    size_t       at = 0;
    int          is_one;

    if (n < 2 * CHANGE_LEAST || c->n == CHANGE_MOST)
        return;
    rank = (double *)ab_grow(NULL, n, sizeof *rank);
    change_ranks(x + from, n, rank);
    size = change_largest(rank, n, &at);
    is_one = change_is_one(rank, n, size);
    free(rank);
    if (!is_one)
        return;
    change_cut(c, x, from, from + at);
    if (c->n < CHANGE_MOST)
        c->point[c->n++].at = from + at;
    change_cut(c, x, from + at, to);
}

/* All changes of x[0 .. n). */
PERF_FN changes changes_of(const double *x, size_t n)
{
    changes c;
    size_t  i, begin = 0, end;

    memset(&c, 0, sizeof c);
    change_cut(&c, x, 0, n);
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
