/* stats.h - statistics that perf-ab alone asks for, on top of perf_stats.h.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_STATS_H
#define PERF_TOOLS_STATS_H

#include "perf_stats.h"

#include <string.h>

/* Mean with Student's interval.  n = 1 or a value that is not finite gives an infinite interval. */
PERF_FN perf_interval ab_mean_interval(const double *x, size_t n, double confidence)
{
    perf_interval interval = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    perf_moments_ moments;
    double        c = perf_confidence_(confidence), half = PERF_INF_;

    if (!x || !n || perf_is_nan_(c))
        return interval;
    moments = perf_moments_of_(x, n);
    interval.low = -PERF_INF_;
    interval.high = PERF_INF_;
    if (!perf_is_finite_(moments.mean))
        return interval;
    if (n > 1)
        half = perf_t_quantile_(0.5 + 0.5 * c, PERF_CAST_(double, n - 1)) * moments.std /
               perf_sqrt_(PERF_CAST_(double, n));
    interval.estimate = moments.mean;
    if (half < PERF_INF_) {
        interval.low = moments.mean - half;
        interval.high = moments.mean + half;
    }
    return interval;
}

/* The two-sided p-value of "the ratio is the threshold": the largest 1 - confidence at which
 * perf_compare_pairs still decides, searched between 0.5 and 0.000001.  1: never decides.        */
PERF_FN double ab_pairs_p(const double *baseline, const double *candidate, size_t n,
                          const perf_compare_opts *opts)
{
    perf_compare_opts o = PERF_ZERO;
    double            low = perf_log_(1e-6), high = 0.0, mid = perf_log_(0.5);  /* of its log     */
    int               i;

    if (opts)
        o = *opts;
    memset(&o.guard, 0, sizeof o.guard);
    for (i = 0; i < 31; i++) {
        o.confidence = 1.0 - perf_exp_(mid);
        if (perf_compare_pairs(baseline, candidate, n, &o).decision != PERF_INCONCLUSIVE)
            high = mid;
        else if (i == 0)
            return 1.0;
        else
            low = mid;
        mid = 0.5 * (low + high);
    }
    return perf_exp_(high);
}

#endif
