/* perf_told.h - what a body tells its loop: rates, numbers, outputs seen.
 *
 * The bodies behind perf_bench_rates and perf_bench_counter of perf_case.h, and behind
 * perf_ab_accuracy.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TOLD_H
#define PERF_TOLD_H

#include "perf_loop.h"

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_told_rates_, perf_told_counter_  the functions of the engine
 *   perf_told_place_  the value of a counter by its name                                         */

/* >>private: bodies, called through the engine of perf_loop.h ---------------------------------*/

PERF_BEGIN_DECLS

/* Is it a rate, or 0? */
PERF_FN int perf_told_is_rate_(double x)
{
    return x >= 0.0 && x <= 1e30;
}

PERF_FN void perf_told_rates_(perf_loop *l, double bytes, double items)
{
    perf_loop_state_ *s = perf_bench_state_(l);

    if (!s)
        return;
    if (!perf_told_is_rate_(bytes)) {
        perf_bench_failed_(l, "perf_bench_rates: `bytes` is not within 0 .. 1e30");
        return;
    }
    if (!perf_told_is_rate_(items)) {
        perf_bench_failed_(l, "perf_bench_rates: `items` is not within 0 .. 1e30");
        return;
    }
    s->opts.bytes = perf_or_default_(bytes, 1e-30, 1e30, 0.0);
    s->opts.items = perf_or_default_(items, 1e-30, 1e30, 0.0);
}

/* The value of that counter, 0 if it is new; NULL: no more room, or the loop has ended. */
PERF_FN double *perf_told_place_(perf_loop_ *loop, const char *name)
{
    perf_out_ out;
    int       i = 0;

    if (!name || !*name)
        name = "(unnamed)";
    while (i < PERF_COUNTERS_ && loop->counter[i][0] &&
           PERF_LIBC_(strncmp)(loop->counter[i], name, sizeof loop->counter[i] - 1))
        i++;
    if (i == PERF_COUNTERS_ || PERF_ACQ_(&loop->done))
        return PERF_NULL_;
    out = perf_out_open_(loop->counter[i], sizeof loop->counter[i]);
    perf_put_(&out, name);
    return &loop->value[i];
}

PERF_FN void perf_told_counter_(perf_loop *l, const char *name, double value)
{
    perf_loop_state_ *s = perf_bench_state_(l);
    double           *place;

    if (!s)
        return;
    place = perf_told_place_(&s->loop, name);
    if (place)
        *place = value;
    else
        perf_bench_failed_(l, "perf_bench_counter: more than 16 names");
}

PERF_FN void perf_worse_(double *worst, double seen)
{
    if (!(seen <= *worst))                          /* NaN is the worst, and stays                */
        *worst = perf_is_nan_(*worst) ? *worst : seen;
}

PERF_FN void perf_race_accuracy_(struct perf_loop_state_ *s, perf_accuracy seen)
{
    if (PERF_LOOP_KIND_(s) > 1 && !seen.compared && perf_is_nan_(seen.max_abs))
        s->ask.accept.guard.required = 1;           /* it looked at nothing                       */
    if (PERF_LOOP_KIND_(s) < 2 || !seen.compared)
        return;
    perf_worse_(&s->seen.max_abs, seen.max_abs);
    perf_worse_(&s->seen.max_rel, seen.max_rel);
    perf_worse_(&s->seen.max_ulp, seen.max_ulp);
    s->seen.compared += seen.compared;
}

PERF_END_DECLS

#endif /* PERF_TOLD_H */
