/* diagnose_find.h - what bounds the program of a trace: where the time of its window went.
 *
 *     diag_found f;
 *     diag_find(&f, &trace);
 *     puts(diag_bound_text(f.bound));              // "host launch"
 *
 * The window: the steps without warm-up, up to the end of what they launched; without steps, from
 * the first kernel or copy to the end of the last.  A device's time in it has four parts that add
 * up: computing; only communicating; only copying; idle.  Idle time is asked why.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_FIND_H
#define PERF_TOOLS_DIAGNOSE_FIND_H

#include "diagnose_kernel.h"
#include "diagnose_spans.h"

#define DIAG_SHARE      0.25            /* of the window: what has less bounds nothing            */
#define DIAG_TINY_NS    10000           /* a kernel that is shorter is tiny                       */
#define DIAG_START_NS   20000           /* from launch to begin: what starting alone may take     */
#define DIAG_CALL_NS    200000          /* a call that launches and lasts longer loads something  */
#define DIAG_WARM       1.5             /* times the median: a first step that is longer          */
#define DIAG_ANCESTORS  256             /* looked at above an event                               */
enum { DIAG_FAMILIES = 32 };

typedef enum diag_bound {
    DIAG_UNKNOWN, DIAG_BY_DATA, DIAG_BY_LAUNCH, DIAG_BY_COPIES, DIAG_BY_SYNC, DIAG_BY_COMPUTE,
    DIAG_BY_MEMORY, DIAG_BY_COLLECTIVES, DIAG_BY_HOST,
    DIAG_BY_PAUSE,                      /* one long gap, where nothing shows that it repeats      */
    DIAG_BOUNDS
} diag_bound;

typedef enum diag_why {                 /* a device idles                                         */
    DIAG_WHY_DATA,                      /* the host waits for data                                */
    DIAG_WHY_SYNC,                      /* the host waited for the device, which ran empty        */
    DIAG_WHY_COPY,                      /* the host prepares a copy                               */
    DIAG_WHY_HOST,                      /* the host has not launched yet                          */
    DIAG_WHY_CALL,                      /* the call that launches lasts: it loads the kernel, ... */
    DIAG_WHY_STREAM,                    /* launched, but held back: by another stream or rank, or */
                                        /* by work that is not in the file                        */
    DIAG_WHY_START,                     /* launched: the time a start takes                       */
    DIAG_WHY_END,                       /* nothing more comes, or its launch is not in the file   */
    DIAG_WHYS
} diag_why;

typedef struct diag_move {              /* copies of one direction and kind of memory             */
    uint64_t count, bytes;
    int64_t  ns;
} diag_move;

typedef struct diag_found {
    const diag_trace *t;
    diag_class *is;                     /* of each name                                           */
    const char *step_word;              /* how steps were found; "": not                          */
    double     *step;                   /* ns, without warm-up                                    */
    size_t      steps, warmup, cut;     /* cut: 1, the last one was cut short                     */
    double      warmup_ns;
    perf_summary time;                  /* of a step                                              */
    int64_t     begin, end;             /* the window                                             */
    int         has_device;
    diag_spans  compute, collective, copy, busy, data, sync, host, talk;
    int64_t     only_collective, only_copy, idle, why[DIAG_WHYS];
    int64_t     unmarked;               /* of why[DIAG_WHY_HOST]: outside of all operators        */
    int64_t     pause;                  /* the longest gap in which the host launched nothing     */
    uint32_t    pause_at;               /* 1 + the event that ended it                            */
    uint64_t    gaps;
    diag_sums   kernels, paths, hosts, syncs, moves, operators, datas, talks;
    diag_sums   drained;                /* idle time by the wait that the device ran empty in     */
    diag_sums   copy_from;              /* callers of aten::copy_                                 */
    uint64_t    copy_calls;             /* of aten::copy_ in the window                           */
    diag_move   move[DIAG_DIRECTIONS][DIAG_MEMORIES];
    int64_t     family_ns[DIAG_FAMILIES];
    uint64_t    family_count[DIAG_FAMILIES];
    uint64_t    kernels_all, tiny, fetches;
    int64_t     tiny_ns, kernel_ns, memory_ns;
    double     *delay;                  /* from launch to begin, ns                               */
    size_t      delays;
    double      delay_p50, delay_p95, queue_mean, queue_most;
    double      occupancy, few_blocks;  /* by kernel time: mean in percent; share with less than  */
                                        /* one block an SM; negative: the file does not say       */
    diag_bound  bound;
    double      share;                  /* of the window that goes with it                        */
    double      best;                   /* so many times as fast without it                       */
} diag_found;

PERF_FN double diag_window(const diag_found *f)
{
    return f->end > f->begin ? (double)(f->end - f->begin) : 1.0;
}

/* ---- steps and window ---- */

PERF_FN int diag_is_step(const char *name, int by_optimizer)
{
    return diag_starts(name, by_optimizer ? "Optimizer.step#" : "ProfilerStep");
}

/* The thread of the host that has most of the steps, 1 + its place; 0: none. */
PERF_FN uint32_t diag_step_lane(const diag_trace *t, int by_optimizer, size_t *most)
{
    size_t  *count = (size_t *)ab_grow(NULL, t->lanes.n, sizeof *count), i;
    uint32_t lane = 0;

    memset(count, 0, t->lanes.n * sizeof *count);
    *most = 0;
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (!diag_of_host(e) || !diag_is_step(diag_text_of(t, e), by_optimizer))
            continue;
        if (++count[e->lane] > *most) {
            *most = count[e->lane];
            lane = e->lane + 1;
        }
    }
    free(count);
    return lane;
}

PERF_FN int diag_by_value(const void *a_, const void *b_)
{
    const double a = *(const double *)a_, b = *(const double *)b_;

    return (a > b) - (a < b);
}

/* A quantile of values in any order; sorts them. */
PERF_FN double diag_quantile(double *x, size_t n, double p)
{
    if (!n)
        return 0.0;
    qsort(x, n, sizeof *x, diag_by_value);
    return x[(size_t)(p * (double)(n - 1) + 0.5)];
}

PERF_FN double diag_median(const double *x, size_t n)
{
    double *copy = (double *)ab_grow(NULL, n, sizeof *copy), median;

    memcpy(copy, x, n * sizeof *copy);
    median = diag_quantile(copy, n, 0.5);
    free(copy);
    return median;
}

/* Leaves long first steps and a last one that was cut short apart; moves the window. */
PERF_FN void diag_trim_steps(diag_found *f, const diag_span *at)
{
    const double median = diag_median(f->step, f->steps);
    size_t       n = f->steps, first = 0, i;

    if (n > 1 && f->step[n - 1] < median / 4) {
        f->cut = 1;
        n--;
    }
    while (n >= 4 && first < n / 2 && f->step[first] > DIAG_WARM * median)
        f->warmup_ns += f->step[first++];
    f->warmup = first;
    f->steps = n - first;
    for (i = 0; i < f->steps; i++)
        f->step[i] = f->step[i + first];
    f->begin = at[first].begin;
    f->end = at[n - 1].end;
    f->time = perf_summarize(f->step, f->steps);
}

/* Finds the steps: PyTorch's marks, else from one step of an optimizer to the next. */
PERF_FN void diag_find_steps(diag_found *f)
{
    const diag_trace *t = f->t;
    size_t            most, i, n = 0;
    int               by_optimizer = 0;
    uint32_t          lane = diag_step_lane(t, 0, &most);
    diag_span        *at;

    f->step_word = "";
    if (!lane) {
        by_optimizer = 1;
        lane = diag_step_lane(t, 1, &most);
        if (most < 4)
            return;
    }
    f->step_word = by_optimizer ? "from one Optimizer.step to the next" : "ProfilerStep";
    at = (diag_span *)ab_grow(NULL, most, sizeof *at);
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (!diag_of_host(e) || e->lane + 1 != lane ||
            !diag_is_step(diag_text_of(t, e), by_optimizer))
            continue;
        if (by_optimizer && n)
            at[n - 1].end = e->begin;
        at[n].begin = e->begin;
        at[n++].end = e->end;
    }
    n -= (size_t)by_optimizer;
    f->step = (double *)ab_grow(NULL, n, sizeof *f->step);
    for (i = 0; i < n; i++)
        f->step[i] = (double)(at[i].end - at[i].begin);
    f->steps = n;
    diag_trim_steps(f, at);
    free(at);
}

/* Is an event of a device part of the window: launched in it, or without a launch, begun in it? */
PERF_FN int diag_in_window(const diag_found *f, const diag_event *e)
{
    const int64_t at = e->in ? f->t->event[e->in - 1].begin : e->begin;

    if (!f->steps)
        return 1;
    return at >= f->begin && at < f->end;
}

/* The window, from the steps or from what the device did. */
PERF_FN void diag_find_window(diag_found *f)
{
    const diag_trace *t = f->t;
    int64_t           first = INT64_MAX, last = INT64_MIN;
    size_t            i;

    for (i = 0; i < t->n; i++)
        f->has_device |= diag_of_device(&t->event[i]);
    diag_find_steps(f);
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (diag_of_device(e) != f->has_device || !diag_in_window(f, e))
            continue;
        if (!f->has_device && (!diag_of_host(e) || f->steps))
            continue;
        first = e->begin < first ? e->begin : first;
        last = e->end > last ? e->end : last;
    }
    if (!f->steps) {
        f->begin = first;
        f->end = last;
    } else if (last > f->end) {
        f->end = last;
    }
}

/* ---- where an event stands ---- */

typedef struct diag_place {             /* 1 + places of events; 0: none                          */
    uint32_t note, module, outer, inner, caller;
} diag_place;

/* The operators, the module and the annotation around the event at `at` (1 + its place). */
PERF_FN diag_place diag_place_of(const diag_trace *t, uint32_t at)
{
    diag_place p = {0, 0, 0, 0, 0};
    int        i;

    for (i = 0; at && i < DIAG_ANCESTORS; i++) {
        const diag_event *e = &t->event[at - 1];
        const char       *name = diag_text_of(t, e);
        if (e->kind == DIAG_OPERATOR) {
            p.caller = p.inner && !p.caller ? at : p.caller;
            p.inner = p.inner ? p.inner : at;
            p.outer = at;
        } else if (e->kind == DIAG_MODULE && !p.module) {
            p.module = at;
        } else if (e->kind == DIAG_NOTE && !diag_is_step(name, 0)) {
            p.note = at;
        }
        at = e->in;
    }
    return p;
}

/* One number for all events of one place. */
PERF_FN uint64_t diag_place_key(const diag_trace *t, diag_place p)
{
    const uint32_t part[4] = {p.note, p.module, p.outer, p.inner};
    uint64_t       key = 0;
    int            i;

    for (i = 0; i < 4; i++)
        key = key * UINT64_C(1000003) + (part[i] ? t->event[part[i] - 1].name + 1 : 0);
    return key;
}

/* Adds to the sum of the place where the event at `at` stands. */
PERF_FN void diag_sum_place(const diag_trace *t, diag_sums *sums, uint32_t at, int64_t ns)
{
    if (ns > 0 && at)
        diag_sum_add(sums, diag_place_key(t, diag_place_of(t, at)), ns, at - 1);
}

/* ---- the host ---- */

/* Which calls wait for the device, a byte an event: those that say so, and copies to pageable
 * memory of the host whose call lasts until the copy is over.                                    */
PERF_FN char *diag_mark_waits(const diag_trace *t, const diag_class *is)
{
    char  *waits = (char *)ab_grow(NULL, t->n, 1);
    size_t i;

    memset(waits, 0, t->n);
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (e->kind == DIAG_RUNTIME && is[e->name].sync)
            waits[i] = 1;
        if (e->kind != DIAG_COPY || !e->in ||
            diag_direction_of(diag_text_of(t, e)) != DIAG_TO_HOST)
            continue;
        if (t->event[e->in - 1].end >= e->end)
            waits[e->in - 1] = 1;
    }
    return waits;
}

/* What an operator did itself: its time without that of what lies in it, an event each. */
PERF_FN int64_t *diag_self_times(const diag_trace *t)
{
    int64_t *self = (int64_t *)ab_grow(NULL, t->n, sizeof *self);
    size_t   i;

    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        self[i] = e->end - e->begin;
        if (diag_of_host(e) && e->in)
            self[e->in - 1] -= self[i];
    }
    return self;
}

/* One event of the host, from `begin` to `end` inside the window. */
PERF_FN void diag_host_event(diag_found *f, size_t i, int64_t begin, int64_t end)
{
    const diag_trace *t = f->t;
    const diag_event *e = &t->event[i];
    const char       *name = diag_text_of(t, e);
    const uint32_t    at = (uint32_t)i;

    if (f->is[e->name].data) {
        diag_span_add(&f->data, begin, end, at);
        diag_sum_add(&f->datas, e->name, end - begin, at);
    } else if (f->is[e->name].talk) {
        diag_span_add(&f->talk, begin, end, at);
        diag_sum_add(&f->talks, e->name, end - begin, at);
    } else if (e->kind == DIAG_OPERATOR) {
        diag_span_add(&f->host, begin, end, at);
    }
    if (e->kind == DIAG_OPERATOR && !strcmp(name, "aten::copy_")) {
        const diag_place p = diag_place_of(t, at + 1);
        f->copy_calls++;
        diag_sum_add(&f->copy_from, p.caller ? t->event[p.caller - 1].name + 1 : 0, end - begin,
                     at);
    }
}

/* What the host did in the window. */
PERF_FN void diag_find_host(diag_found *f)
{
    const diag_trace *t = f->t;
    char             *waits = diag_mark_waits(t, f->is);
    int64_t          *self = diag_self_times(t), begin, end;
    size_t            i;

    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        begin = e->begin > f->begin ? e->begin : f->begin;
        end = e->end < f->end ? e->end : f->end;
        if (!diag_of_host(e) || end <= begin)
            continue;
        diag_host_event(f, i, begin, end);
        if (e->kind == DIAG_OPERATOR && self[i] > 0 && e->begin >= f->begin && e->end <= f->end)
            diag_sum_add(&f->operators, e->name, self[i], (uint32_t)i);
        if (!waits[i])
            continue;
        diag_span_add(&f->sync, begin, end, (uint32_t)i);
        diag_sum_place(t, &f->syncs, (uint32_t)i + 1, end - begin);
        if (e->in && diag_is_fetch(diag_text_of(t, &t->event[e->in - 1])))
            f->fetches++;
    }
    free(self);
    free(waits);
}

/* ---- the device ---- */

/* What a kernel is counted under. */
PERF_FN void diag_kernel_event(diag_found *f, const diag_event *e, uint32_t at)
{
    size_t             families;
    const diag_family *family = diag_families(&families);
    const size_t       which = f->is[e->name].family;
    const int64_t      ns = e->end - e->begin;

    f->family_ns[which] += ns;
    f->family_count[which]++;
    f->kernels_all++;
    f->kernel_ns += ns;
    if (family[which].memory)
        f->memory_ns += ns;
    if (ns < DIAG_TINY_NS) {
        f->tiny++;
        f->tiny_ns += ns;
    }
    diag_sum_add(&f->kernels, e->name, ns, at);
    if (which > 0)
        diag_sum_place(f->t, &f->paths, e->in, ns);
}

PERF_FN void diag_copy_event(diag_found *f, const diag_event *e, uint32_t at)
{
    const char          *name = diag_text_of(f->t, e);
    const diag_direction way = diag_direction_of(name);
    diag_move           *m = &f->move[way][diag_memory_of(name)];

    m->count++;
    m->bytes += e->bytes;
    m->ns += e->end - e->begin;
    diag_sum_add(&f->moves, e->name, e->end - e->begin, at);
}

/* Mean occupancy, and the share of kernels with less than one block an SM, by time. */
PERF_FN void diag_find_fill(diag_found *f)
{
    const diag_trace *t = f->t;
    double            known = 0, sum = 0, sized = 0, few = 0;
    size_t            i;

    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        const double      ns = (double)(e->end - e->begin);
        if (e->kind != DIAG_KERNEL || !diag_in_window(f, e) || !f->is[e->name].family)
            continue;
        if (e->occupancy >= 0) {
            known += ns;
            sum += ns * (double)e->occupancy;
        }
        if (e->blocks >= 0) {
            sized += ns;
            few += e->blocks < 1 ? ns : 0;
        }
    }
    f->occupancy = known > 0 ? sum / known : -1;
    f->few_blocks = sized > 0 ? few / sized : -1;
}

/* Times from launch to begin, and how many launches wait at a time. */
PERF_FN void diag_find_queue(diag_found *f)
{
    const diag_trace *t = f->t;
    double           *launch = (double *)ab_grow(NULL, t->n, sizeof *launch), sum = 0, length;
    double           *start = (double *)ab_grow(NULL, t->n, sizeof *start);
    size_t            i, n = 0, begun = 0;

    f->delay = (double *)ab_grow(NULL, t->n, sizeof *f->delay);
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (!diag_of_device(e) || !e->in || !diag_in_window(f, e))
            continue;
        launch[n] = (double)(t->event[e->in - 1].begin - f->begin);
        start[n] = (double)(e->begin - f->begin);
        f->delay[n] = start[n] > launch[n] ? start[n] - launch[n] : 0;
        n++;
    }
    if (n)
        qsort(launch, n, sizeof *launch, diag_by_value);
    for (i = 0; i < n; i++) {
        while (begun < n && start[begun] <= launch[i])
            begun++;
        length = i + 1 > begun ? (double)(i + 1 - begun) : 0;
        sum += length;
        f->queue_most = length > f->queue_most ? length : f->queue_most;
    }
    f->queue_mean = n ? sum / (double)n : 0;
    f->delays = n;
    f->delay_p50 = diag_quantile(f->delay, n, 0.5);
    f->delay_p95 = diag_quantile(f->delay, n, 0.95);
    free(launch);
    free(start);
}

/* The end of a gap, from the launch of the next work on.  Returns when the host was done with it. */
PERF_FN int64_t diag_gap_end(diag_found *f, const diag_event *launch, int64_t launched, int64_t end)
{
    int64_t done = launched;

    if (launched < end && diag_is_copy_call(diag_text_of(f->t, launch))) {
        f->why[DIAG_WHY_COPY] += end - launched;
        return done;
    }
    if (launched < end && launch->end > launched &&
        launch->end - launch->begin > DIAG_CALL_NS) {
        done = launch->end < end ? launch->end : end;
        f->why[DIAG_WHY_CALL] += done - launched;
    }
    if (done < end)
        f->why[end - done > DIAG_START_NS ? DIAG_WHY_STREAM : DIAG_WHY_START] += end - done;
    return done;
}

/* A gap in which the host launched nothing, or was in the call that launches. */
PERF_FN void diag_gap_of_host(diag_found *f, int64_t ns, uint32_t next)
{
    if (ns > f->pause) {
        f->pause = ns;
        f->pause_at = next;
    }
}

/* Why the device idled from `begin` on until the event `next` (1 + its place; 0: the end). */
PERF_FN void diag_gap(diag_found *f, int64_t begin, int64_t end, uint32_t next)
{
    const diag_trace *t = f->t;
    const diag_event *launch = NULL;
    int64_t           launched = end, done, data;
    size_t            sync;

    if (end <= begin)
        return;
    f->gaps++;
    if (next && t->event[next - 1].in)
        launch = &t->event[t->event[next - 1].in - 1];
    if (launch && launch->begin < end)
        launched = launch->begin > begin ? launch->begin : begin;
    done = diag_gap_end(f, launch, launched, end) - launched;
    data = diag_span_within(&f->data, begin, launched);
    f->why[DIAG_WHY_DATA] += data;
    launched -= data;
    sync = diag_span_at(&f->sync, begin - 1);
    if (sync < f->sync.n && f->sync.s[sync].begin <= begin) {
        f->why[DIAG_WHY_SYNC] += launched - begin;
        diag_sum_place(t, &f->drained, f->sync.s[sync].first + 1, launched - begin);
    } else if (launch) {
        f->why[DIAG_WHY_HOST] += launched - begin;
        f->unmarked += launched - begin - diag_span_within(&f->host, begin, launched);
        diag_sum_place(t, &f->hosts, (uint32_t)(launch - t->event) + 1, launched - begin + done);
        diag_gap_of_host(f, launched - begin + done, next);
    } else {
        f->why[DIAG_WHY_END] += launched - begin;
    }
}

/* What the device did in the window, and why it idled. */
PERF_FN void diag_find_device(diag_found *f)
{
    const diag_trace *t = f->t;
    int64_t           at = f->begin;
    size_t            i;

    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        const uint32_t    which = (uint32_t)i;
        if (!diag_of_device(e) || !diag_in_window(f, e))
            continue;
        diag_span_add(&f->busy, e->begin, e->end, which);
        if (e->kind != DIAG_KERNEL) {
            diag_span_add(&f->copy, e->begin, e->end, which);
            if (e->kind == DIAG_COPY)
                diag_copy_event(f, e, which);
            continue;
        }
        diag_kernel_event(f, e, which);
        if (!f->is[e->name].family)
            diag_span_add(&f->collective, e->begin, e->end, which);
        else
            diag_span_add(&f->compute, e->begin, e->end, which);
    }
    for (i = 0; i < f->busy.n; i++) {
        diag_gap(f, at, f->busy.s[i].begin, f->busy.s[i].first + 1);
        at = f->busy.s[i].end;
    }
    diag_gap(f, at, f->end, 0);
    f->only_collective = diag_span_either(&f->collective, &f->compute) - f->compute.total;
    f->only_copy = f->busy.total - f->compute.total - f->only_collective;
    f->idle = f->end - f->begin - f->busy.total;
    f->idle = f->idle > 0 ? f->idle : 0;
    diag_find_fill(f);
    diag_find_queue(f);
}

/* ---- the answer ---- */

/* The largest share of the window wins, if it is worth a look. */
PERF_FN void diag_decide(diag_found *f)
{
    const double window = diag_window(f);
    double       share[DIAG_BOUNDS];
    int          i, best = DIAG_UNKNOWN;

    memset(share, 0, sizeof share);
    if (f->has_device) {
        share[DIAG_BY_DATA] = (double)f->why[DIAG_WHY_DATA] / window;
        share[DIAG_BY_LAUNCH] = (double)(f->why[DIAG_WHY_HOST] + f->why[DIAG_WHY_CALL]) / window;
        if (f->steps < 2) {
            share[DIAG_BY_PAUSE] = (double)f->pause / window;
            share[DIAG_BY_LAUNCH] -= share[DIAG_BY_PAUSE];
        }
        share[DIAG_BY_COPIES] = (double)(f->only_copy + f->why[DIAG_WHY_COPY]) / window;
        share[DIAG_BY_SYNC] = (double)f->why[DIAG_WHY_SYNC] / window;
        share[DIAG_BY_COMPUTE] = (double)f->compute.total / window;
        share[DIAG_BY_COLLECTIVES] = (double)f->only_collective / window;
    } else {
        share[DIAG_BY_DATA] = (double)f->data.total / window;
        share[DIAG_BY_HOST] = (double)f->host.total / window;
        share[DIAG_BY_COLLECTIVES] = (double)(diag_span_either(&f->talk, &f->host) -
                                              f->host.total) / window;
    }
    for (i = DIAG_BY_DATA; i < DIAG_BOUNDS; i++)
        if (share[i] >= DIAG_SHARE && share[i] > share[best])
            best = i;
    f->bound = (diag_bound)best;
    f->share = share[best];
    if (best == DIAG_BY_COMPUTE && f->memory_ns * 2 > f->kernel_ns - f->family_ns[0])
        f->bound = DIAG_BY_MEMORY;
}

/* How much of the window would go if what is advised took no time. */
PERF_FN double diag_removable(const diag_found *f)
{
    const double window = diag_window(f);
    int64_t      most = 0;
    size_t       i;

    if (f->bound == DIAG_BY_PAUSE)
        return 0;
    if (f->bound == DIAG_BY_MEMORY)
        return f->share * (double)f->memory_ns / (double)(f->kernel_ns - f->family_ns[0]);
    if (f->bound == DIAG_BY_HOST)
        return f->operators.n ? (double)f->operators.s[0].ns / window : 0;
    if (f->bound != DIAG_BY_COMPUTE)
        return f->share;
    for (i = 1; i < DIAG_FAMILIES; i++)
        most = f->family_ns[i] > most ? f->family_ns[i] : most;
    return f->share * (double)most / (double)(f->kernel_ns - f->family_ns[0]);
}

PERF_FN void diag_found_free(diag_found *f)
{
    diag_spans *spans[8] = {&f->compute, &f->collective, &f->copy, &f->busy,
                            &f->data, &f->sync, &f->host, &f->talk};
    diag_sums  *sums[10] = {&f->kernels, &f->paths, &f->hosts, &f->syncs, &f->moves, &f->drained,
                            &f->operators, &f->datas, &f->talks, &f->copy_from};
    size_t      i;

    for (i = 0; i < sizeof spans / sizeof *spans; i++)
        free(spans[i]->s);
    for (i = 0; i < sizeof sums / sizeof *sums; i++)
        diag_sums_free(sums[i]);
    free(f->is);
    free(f->step);
    free(f->delay);
    memset(f, 0, sizeof *f);
}

/* Looks at a trace, which must live as long as what was found; diag_found_free() after it. */
PERF_FN void diag_find(diag_found *f, const diag_trace *t)
{
    double removable;

    memset(f, 0, sizeof *f);
    f->t = t;
    f->is = diag_classes(t);
    diag_find_window(f);
    diag_find_host(f);
    if (f->has_device)
        diag_find_device(f);
    diag_sums_sort(&f->kernels);
    diag_sums_sort(&f->paths);
    diag_sums_sort(&f->hosts);
    diag_sums_sort(&f->syncs);
    diag_sums_sort(&f->drained);
    diag_sums_sort(&f->moves);
    diag_sums_sort(&f->operators);
    diag_sums_sort(&f->datas);
    diag_sums_sort(&f->talks);
    diag_sums_sort(&f->copy_from);
    diag_decide(f);
    removable = diag_removable(f);
    f->best = 1 / (1 - (removable < 0.999 ? removable : 0.999));
}

#endif
