/* ranks.h - perf-ab merge: which of the runs is slowest, and traces of several processes in one.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_RANKS_H
#define PERF_TOOLS_RANKS_H

#include "ab.h"

#include "perf_trace.h"

/* ---- the slowest run, and how uneven they are ---- */

/* A line a benchmark that has several runs: percentiles over all values, the run with the largest
 * median (of rates: the smallest), and by how much it lies beyond the mean of the medians.  Pairs
 * are judged, not summed up: their candidate counts.                                             */
PERF_FN void ab_print_ranks(FILE *f, const ab_set *set)
{
    static const double at[] = {0.50, 0.95, 0.99};
    ab_text text[4];
    size_t  i, k, n, lines = 0;

    for (i = 0; i < set->n; i++) {
        const ab_series *s = &set->s[i];
        int              side = s->design == AB_PAIRS, rate = ab_unit_kind(s->unit) == AB_RATE;
        double           worst = 0.0, sum = 0.0, *all;
        const char      *who = "";
        if (s->runs < 2)
            continue;
        for (k = n = 0; k < s->runs; k++)
            n += s->run[k].v[side].n;
        all = (double *)ab_grow(NULL, n + 1, sizeof *all);
        for (k = n = 0; k < s->runs; k++) {
            const ab_values *v = &s->run[k].v[side];
            double           median;
            memcpy(all + n, v->x, v->n * sizeof *all);
            perf_sort_values(all + n, v->n);
            median = perf_quantile(all + n, v->n, 0.5);
            n += v->n;
            sum += median;
            if (!k || (rate ? median < worst : median > worst)) {
                worst = median;
                who = s->run[k].id ? s->run[k].id : "";
            }
        }
        perf_sort_values(all, n);
        if (!lines++)
            fputs("  benchmark                 runs     values        p50        p95        p99  "
                  "slowest run (its median, beyond the mean)\n", f);
        for (k = 0; k < 4; k++)
            text[k] = ab_quantity(k < 3 ? perf_quantile(all, n, at[k]) : worst, s->unit);
        fprintf(f, "  %-24.60s %5zu %10zu %10s %10s %10s  %.40s (%s, %+.1f %%)\n", s->name, s->runs,
                n, text[0].s, text[1].s, text[2].s, who, text[3].s,
                100.0 * (worst * (double)s->runs / sum - 1.0));
        free(all);
    }
}

/* ---- traces ---- */

/* Is this file a trace of perf.h?  Judged by its first bytes; 0 also when it cannot be read. */
PERF_FN int ab_is_trace(const char *path)
{
    static const char pf[] = "\xe2\x03";        /* a packet whose first field describes a track   */
    char   head[32];
    FILE  *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;

    if (f)
        fclose(f);
    head[n] = '\0';
    return (n > 4 && head[0] == 0x0a && !memcmp(head + 2, pf, 2)) ||
           !strncmp(head, "{\"displayTimeUnit\"", 18) || !strncmp(head, "[\n{\"ph\":", 8);
}

/* "+1200+-30" or "-5000": ns to add, and the bound.  0: it is neither. */
PERF_FN int ab_offset(const char *text, perf_trace_part *part)
{
    char  *end;
    double x = strtod(text, &end), bound = 0.0;

    if (end == text || !(x > -9e18 && x < 9e18))
        return 0;
    if (!strncmp(end, "+-", 2)) {
        text = end + 2;
        bound = strtod(text, &end);
        if (end == text || !(bound >= 0.0 && bound < 9e18))
            return 0;
    }
    part->offset_ns = (int64_t)x;
    part->bound_ns = (int64_t)bound;
    return !*end;
}

PERF_FN int ab_merge_traces(const char *out, const perf_trace_part *part, size_t n)
{
    size_t      bad = n;
    perf_status s = perf_trace_merge(out, part, n, &bad);

    if (s == PERF_OK)
        return AB_ACCEPT;
    fprintf(stderr, "perf-ab: %s: %s\n", bad < n ? part[bad].path : out,
            s == PERF_EFORMAT ? "not a trace that perf.h wrote, or not of the kind of the first one"
                              : perf_status_text(s));
    return AB_UNUSABLE;
}

#endif
