/* look_loops.h - the benches and A/B loops of a program: what has ended, and what still runs.
 *
 * The samples of a loop that has ended lie in the memory of the program; medians are made here.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_LOOPS_H
#define PERF_TOOLS_LOOK_LOOPS_H

#include "judge.h"
#include "look_layout.h"
#include "look_read.h"

enum { LOOK_LOOPS = 4096, LOOK_SAMPLES = 1000000 };
enum { LOOK_BENCH = 1, LOOK_AB = 2, LOOK_RACE = 3 };    /* kinds; part of the layout              */

typedef struct look_loop {
    char     name[LOOK_NAME_BYTES + 1];
    int      kind, done;
    uint64_t samples;                   /* 0: none that can be read                               */
    double   median[2];                 /* ns; of A/B: baseline, candidate                        */
    double   ratio;                     /* of A/B: typical candidate / baseline of a pair         */
} look_loop;

typedef struct look_loops {
    look_loop *loop;                    /* in the order in which they were begun                  */
    size_t     n;
    int        cut_off;                 /* 1: there were more                                     */
} look_loops;

PERF_FN void look_loops_free(look_loops *all)
{
    free(all->loop);
    memset(all, 0, sizeof *all);
}

/* ---- reading ---- */

/* 1: all are times. */
PERF_FN int look_samples_sane(const double *x, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!(x[i] > 0.0 && perf_is_finite_(x[i])))
            return 0;
    return 1;
}

/* Medians of a loop whose samples lie at these addresses. */
PERF_FN void look_read_samples(look_target *target, look_loop *one, const uint64_t *at,
                               uint64_t samples)
{
    const int    arms = one->kind == LOOK_AB ? 2 : 1;
    const size_t n = (size_t)samples;
    double      *x[2] = {NULL, NULL};
    size_t       i;
    int          arm, whole = n > 0 && samples <= LOOK_SAMPLES;

    for (arm = 0; arm < arms && whole; arm++) {
        x[arm] = (double *)ab_grow(NULL, n, sizeof **x);
        whole = look_fetch_one(target, at[arm], x[arm], n * sizeof **x) &&
                look_samples_sane(x[arm], n);
    }
    if (whole) {
        double *ratio = (double *)ab_grow(NULL, n, sizeof *ratio);
        for (i = 0; i < n && arms == 2; i++)
            ratio[i] = x[1][i] / x[0][i];
        one->samples = samples;
        for (arm = 0; arm < arms; arm++)
            one->median[arm] = ab_statistic(x[arm], n, PERF_METRIC_P50);
        if (arms == 2)
            one->ratio = ab_statistic(ratio, n, PERF_METRIC_P50);
        free(ratio);
    }
    free(x[0]);
    free(x[1]);
}

/* The loop at an address; *next: that of the one begun before it.  0: it cannot be read. */
PERF_FN int look_read_loop(look_target *target, const look_layout *layout, uint64_t at,
                           look_loop *one, int *forgotten, uint64_t *next)
{
    uint64_t sample[2] = {0, 0}, samples = 0;
    uint32_t kind = 0, gone = 0, done = 0;

    memset(one, 0, sizeof *one);
    if (!look_fetch_one(target, at + layout->at[LOOK_LOOP_NEXT], next, sizeof *next) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_KIND], &kind, sizeof kind) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_FORGOTTEN], &gone, sizeof gone) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_DONE], &done, sizeof done) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_NAME], one->name, LOOK_NAME_BYTES) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_SAMPLE], sample, sizeof sample) ||
        !look_fetch_one(target, at + layout->at[LOOK_LOOP_SAMPLES], &samples, sizeof samples))
        return 0;
    one->kind = (int)(kind & 3);
    one->done = done != 0;
    *forgotten = gone != 0 || !one->kind;
    if (one->done && one->kind != LOOK_RACE && !*forgotten)
        look_read_samples(target, one, sample, samples);
    return 1;
}

/* All loops that the program has not forgotten. */
PERF_FN look_loops look_read_loops(look_target *target, const look_program *program)
{
    look_loops all;
    look_loop  one;
    uint64_t   at = 0, next;
    size_t     seen = 0, i;
    int        forgotten;

    memset(&all, 0, sizeof all);
    if (!look_fetch_one(target, program->registry + program->layout.at[LOOK_REGISTRY_LOOPS], &at,
                        sizeof at))
        return all;
    for (; at && seen < LOOK_LOOPS && target->bytes < LOOK_BYTES; at = next, seen++) {
        if (!look_read_loop(target, &program->layout, at, &one, &forgotten, &next))
            break;
        if (forgotten)
            continue;
        all.loop = (look_loop *)ab_grow(all.loop, all.n + 1, sizeof *all.loop);
        all.loop[all.n++] = one;
    }
    all.cut_off = at != 0;
    for (i = 0; i < all.n / 2; i++) {           /* the list has the newest first                  */
        one = all.loop[i];
        all.loop[i] = all.loop[all.n - 1 - i];
        all.loop[all.n - 1 - i] = one;
    }
    return all;
}

/* ---- writing ---- */

PERF_FN const char *look_loop_kind(const look_loop *one)
{
    static const char *const text[] = {"", "bench", "A/B", "race"};

    return text[one->kind];
}

PERF_FN void look_put_loop(perf_out_ *out, const look_loop *one)
{
    char shown[LOOK_NAME_BYTES + 1];

    memcpy(shown, one->name, sizeof shown);
    ab_make_safe(shown);
    perf_putf_(out, "%-36s%6s", shown, look_loop_kind(one));
    if (!one->done) {
        perf_put_(out, "  runs now\n");
        return;
    }
    if (!one->samples) {
        perf_put_(out, "  has ended\n");
        return;
    }
    perf_putf_(out, "%9.0f", (double)one->samples);
    perf_put_ns_in_(out, one->median[0], 12);
    if (one->kind == LOOK_AB) {
        perf_put_ns_in_(out, one->median[1], 12);
        perf_putf_(out, "%9.3f", one->ratio);
    }
    perf_put_(out, "\n");
}

/* A row a loop; nothing where there is none. */
PERF_FN void look_put_loops(perf_out_ *out, const look_loops *all)
{
    size_t i;

    if (!all->n)
        return;
    perf_putf_(out, "\n%-36s%6s%9s%12s%12s%9s\n", "loop", "kind", "samples", "median", "candidate",
               "ratio");
    for (i = 0; i < all->n; i++)
        look_put_loop(out, &all->loop[i]);
    if (all->cut_off)
        perf_put_(out, "note: there are more loops than this tool reads\n");
}

/* ,"loops":[...] */
PERF_FN void look_put_loops_json(perf_out_ *out, const look_loops *all)
{
    size_t i;

    perf_put_(out, ",\"loops\":[");
    for (i = 0; i < all->n; i++) {
        const look_loop *one = &all->loop[i];
        perf_put_(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        perf_put_json_(out, one->name);
        perf_putf_(out, ",\"kind\":\"%s\",\"done\":%s,\"samples\":%.0f", look_loop_kind(one),
                   one->done ? "true" : "false", (double)one->samples);
        if (one->samples)
            perf_putf_(out, ",\"median_ns\":%.3f", one->median[0]);
        if (one->samples && one->kind == LOOK_AB)
            perf_putf_(out, ",\"candidate_ns\":%.3f,\"ratio\":%.6f", one->median[1], one->ratio);
        perf_put_(out, "}");
    }
    perf_put_(out, "]");
}

#endif /* PERF_TOOLS_LOOK_LOOPS_H */
