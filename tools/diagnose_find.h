/* diagnose_find.h - what bounds the program of a trace: where the time of its window went.
 *
 *     diag_found found;
 *     diag_find(&found, &trace);
 *     puts(diag_bound_text(found.bound));          // "host launch"
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
#define DIAG_LONG_NS    1000000         /* a stretch without operators that is more than Python's */
#define DIAG_CLEARLY    1.5             /* times all else: work held back, which a trace rarely   */
                                        /* explains                                               */
#define DIAG_WARM       1.5             /* times the median: a first step that is longer          */
#define DIAG_ANCESTORS  256             /* looked at above an event                               */
enum { DIAG_FAMILIES = 32 };

typedef enum diag_bound {
    DIAG_UNKNOWN, DIAG_BY_DATA, DIAG_BY_LAUNCH, DIAG_BY_COPIES, DIAG_BY_SYNC, DIAG_BY_COMPUTE,
    DIAG_BY_MEMORY, DIAG_BY_COLLECTIVES, DIAG_BY_HOST,
    DIAG_BY_PAUSE,                      /* one long gap, where nothing shows that it repeats      */
    DIAG_BY_CODE,                       /* the host's own code, outside of operators              */
    DIAG_BY_OTHERS,                     /* launched work is held back by what nobody sees         */
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
    DIAG_WHY_CODE,                      /* the host runs outside of operators, 1 ms or longer     */
    DIAG_WHY_UNSEEN,                    /* its launch is not in the file                          */
    DIAG_WHY_END,                       /* nothing more comes                                     */
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
    uint32_t    lane;                   /* of the steps                                           */
    size_t      steps, warmup, cut;     /* cut: 1, the last one was cut short                     */
    double      warmup_ns;
    perf_summary time;                  /* of a step                                              */
    int64_t     begin, end;             /* the window                                             */
    int         has_device;
    diag_names  devices;                /* of the trace; what is found is of the busiest          */
    size_t      device;                 /* its place there                                        */
    char       *other;                  /* of each lane: 1, it is of another device               */
    diag_spans  compute, collective, copy, busy, data, sync, host, talk;
    int64_t     only_collective, only_copy, idle, why[DIAG_WHYS];
    int64_t     unmarked;               /* of why[DIAG_WHY_HOST]: outside of all operators        */
    int64_t     fetching;               /* ns: waits of the host, with what fetches around them   */
    int64_t     pause;                  /* the longest gap in which the host launched nothing     */
    uint32_t    pause_at;               /* 1 + the event that ended it                            */
    int         pause_is_code;          /* 1: most of it outside of operators                     */
    uint64_t    gaps;
    diag_sums   kernels, paths, hosts, syncs, moves, operators, datas, talks;
    diag_sums   drained;                /* idle time by the wait that the device ran empty in     */
    diag_sums   codes, held;            /* of DIAG_WHY_CODE and DIAG_WHY_STREAM, by place         */
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

PERF_FN double diag_window(const diag_found *found)
{
    return found->end > found->begin ? (double)(found->end - found->begin) : 1.0;
}

/* ---- steps and window ---- */

PERF_FN int diag_is_step(const char *name, int by_optimizer)
{
    return diag_starts(name, by_optimizer ? "Optimizer.step#" : "ProfilerStep");
}

/* The thread of the host that has most of the steps, 1 + its place; 0: none. */
PERF_FN uint32_t diag_step_lane(const diag_trace *trace, int by_optimizer, size_t *most)
{
    size_t  *count = (size_t *)ab_grow(NULL, trace->lanes.n, sizeof *count), i;
    uint32_t lane = 0;

    memset(count, 0, trace->lanes.n * sizeof *count);
    *most = 0;
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (!diag_of_host(event) || !diag_is_step(diag_text_of(trace, event), by_optimizer))
            continue;
        if (++count[event->lane] > *most) {
            *most = count[event->lane];
            lane = event->lane + 1;
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
PERF_FN void diag_trim_steps(diag_found *found, const diag_span *at)
{
    const double median = diag_median(found->step, found->steps);
    size_t       n = found->steps, first = 0, i;

    if (n > 1 && found->step[n - 1] < median / 4) {
        found->cut = 1;
        n--;
    }
    while (n >= 3 && first < n / 2 && found->step[first] > DIAG_WARM * median)
        found->warmup_ns += found->step[first++];
    found->warmup = first;
    found->steps = n - first;
    for (i = 0; i < found->steps; i++)
        found->step[i] = found->step[i + first];
    found->begin = at[first].begin;
    found->end = at[n - 1].end;
    found->time = perf_summarize(found->step, found->steps);
}

/* Finds the steps: PyTorch's marks, else from one step of an optimizer to the next. */
PERF_FN void diag_find_steps(diag_found *found)
{
    const diag_trace *trace = found->t;
    size_t            most, i, n = 0;
    int               by_optimizer = 0;
    uint32_t          lane = diag_step_lane(trace, 0, &most);
    diag_span        *at;

    found->step_word = "";
    if (!lane) {
        by_optimizer = 1;
        lane = diag_step_lane(trace, 1, &most);
        if (most < 4)
            return;
    }
    found->lane = lane - 1;
    found->step_word = by_optimizer ? "from one Optimizer.step to the next" : "ProfilerStep";
    at = (diag_span *)ab_grow(NULL, most, sizeof *at);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (!diag_of_host(event) || event->lane + 1 != lane ||
            !diag_is_step(diag_text_of(trace, event), by_optimizer))
            continue;
        if (by_optimizer && n)
            at[n - 1].end = event->begin;
        at[n].begin = event->begin;
        at[n++].end = event->end;
    }
    n -= (size_t)by_optimizer;
    found->step = (double *)ab_grow(NULL, n, sizeof *found->step);
    for (i = 0; i < n; i++)
        found->step[i] = (double)(at[i].end - at[i].begin);
    found->steps = n;
    diag_trim_steps(found, at);
    free(at);
}

/* Finds the busiest device: one that waits shall not look busy because another one works. */
PERF_FN void diag_find_devices(diag_found *found)
{
    const diag_trace *trace = found->t;
    uint32_t *of = (uint32_t *)ab_grow(NULL, trace->lanes.n, sizeof *of); /* 1 + device of a lane */
    int64_t  *busy = (int64_t *)ab_grow(NULL, trace->lanes.n, sizeof *busy);
    size_t    i;

    memset(of, 0, trace->lanes.n * sizeof *of);
    memset(busy, 0, trace->lanes.n * sizeof *busy);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        char              process[100];
        if (!diag_of_device(event))
            continue;
        if (!of[event->lane]) {
            snprintf(process, sizeof process, "%s", trace->lanes.text[event->lane]);
            process[strcspn(process, "/")] = '\0';
            of[event->lane] = diag_name(&found->devices, process) + 1;
        }
        busy[of[event->lane] - 1] += event->end - event->begin;
    }
    for (i = 0; i < found->devices.n; i++)
        found->device = busy[i] > busy[found->device] ? i : found->device;
    found->has_device = found->devices.n > 0;
    found->other = (char *)ab_grow(NULL, trace->lanes.n, 1);
    for (i = 0; i < trace->lanes.n; i++)
        found->other[i] = (char)(of[i] && of[i] != found->device + 1);
    free(of);
    free(busy);
}

/* Is an event of a device part of the window: launched in it, or without a launch, begun in it? */
PERF_FN int diag_in_window(const diag_found *found, const diag_event *event)
{
    const int64_t at = event->in ? found->t->event[event->in - 1].begin : event->begin;

    if (found->other[event->lane])
        return 0;
    if (!found->steps)
        return 1;
    return at >= found->begin && at < found->end;
}

/* The window, from the steps or from what the device did. */
PERF_FN void diag_find_window(diag_found *found)
{
    const diag_trace *trace = found->t;
    int64_t           first = INT64_MAX, last = INT64_MIN;
    size_t            i;

    diag_find_devices(found);
    diag_find_steps(found);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (diag_of_device(event) != found->has_device || !diag_in_window(found, event))
            continue;
        if (!found->has_device && (!diag_of_host(event) || found->steps))
            continue;
        first = event->begin < first ? event->begin : first;
        last = event->end > last ? event->end : last;
    }
    if (!found->steps) {
        found->begin = first;
        found->end = last;
    } else if (last > found->end) {
        found->end = last;
    }
}

/* ---- where an event stands ---- */

typedef struct diag_place {             /* 1 + places of events; 0: none                          */
    uint32_t note, module, outer, inner, caller;
} diag_place;

/* The operators, the module and the annotation around the event at `at` (1 + its place). */
PERF_FN diag_place diag_place_of(const diag_trace *trace, uint32_t at)
{
    diag_place place = {0, 0, 0, 0, 0};
    int        i;

    for (i = 0; at && i < DIAG_ANCESTORS; i++) {
        const diag_event *event = &trace->event[at - 1];
        const char       *name = diag_text_of(trace, event);
        if (event->kind == DIAG_OPERATOR) {
            place.caller = place.inner && !place.caller ? at : place.caller;
            place.inner = place.inner ? place.inner : at;
            place.outer = at;
        } else if (event->kind == DIAG_MODULE && !place.module) {
            place.module = at;
        } else if (event->kind == DIAG_NOTE && !diag_is_step(name, 0)) {
            place.note = at;
        }
        at = event->in;
    }
    return place;
}

/* One number for all events of one place. */
PERF_FN uint64_t diag_place_key(const diag_trace *trace, diag_place place)
{
    const uint32_t part[4] = {place.note, place.module, place.outer, place.inner};
    uint64_t       key = 0;
    int            i;

    for (i = 0; i < 4; i++)
        key = key * UINT64_C(1000003) + (part[i] ? trace->event[part[i] - 1].name + 1 : 0);
    return key;
}

/* Adds to the sum of the place where the event at `at` stands. */
PERF_FN void diag_sum_place(const diag_trace *trace, diag_sums *sums, uint32_t at, int64_t ns)
{
    if (ns > 0 && at)
        diag_sum_add(sums, diag_place_key(trace, diag_place_of(trace, at)), ns, at - 1);
}

/* Adds to the sum of the place that launched the event of a device `at` (its place), or of the
 * event's own name where nothing is around the launch.                                           */
PERF_FN void diag_sum_launched(const diag_trace *trace, diag_sums *sums, uint32_t at, int64_t ns)
{
    const diag_event *event = &trace->event[at];
    const diag_place  place = diag_place_of(trace, event->in);

    if (ns <= 0)
        return;
    if (place.note || place.module || place.outer)
        diag_sum_add(sums, diag_place_key(trace, place), ns, event->in - 1);
    else
        diag_sum_add(sums, ~(uint64_t)event->name, ns, at);
}

/* ---- the host ---- */

/* Which calls wait for the device, a byte an event: those that say so, and copies to pageable
 * memory of the host whose call lasts until the copy is over.                                    */
PERF_FN char *diag_mark_waits(const diag_trace *trace, const diag_class *is)
{
    char  *waits = (char *)ab_grow(NULL, trace->n, 1);
    size_t i;

    memset(waits, 0, trace->n);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (event->kind == DIAG_RUNTIME && is[event->name].sync)
            waits[i] = 1;
        if (event->kind != DIAG_COPY || !event->in ||
            diag_direction_of(diag_text_of(trace, event)) != DIAG_TO_HOST)
            continue;
        if (trace->event[event->in - 1].end >= event->end)
            waits[event->in - 1] = 1;
    }
    return waits;
}

/* What an operator did itself: its time without that of what lies in it, an event each. */
PERF_FN int64_t *diag_self_times(const diag_trace *trace)
{
    int64_t *self = (int64_t *)ab_grow(NULL, trace->n, sizeof *self);
    size_t   i;

    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        self[i] = event->end - event->begin;
        if (diag_of_host(event) && event->in)
            self[event->in - 1] -= self[i];
    }
    return self;
}

/* One event of the host, from `begin` to `end` inside the window. */
PERF_FN void diag_host_event(diag_found *found, size_t i, int64_t begin, int64_t end)
{
    const diag_trace *trace = found->t;
    const diag_event *event = &trace->event[i];
    const char       *name = diag_text_of(trace, event);
    const uint32_t    at = (uint32_t)i;

    if (found->is[event->name].data) {
        diag_span_add(&found->data, begin, end, at);
        diag_sum_add(&found->datas, event->name, end - begin, at);
    } else if (found->is[event->name].talk) {
        diag_span_add(&found->talk, begin, end, at);
        diag_sum_add(&found->talks, event->name, end - begin, at);
    } else if (event->kind == DIAG_OPERATOR) {
        diag_span_add(&found->host, begin, end, at);
    }
    if (event->kind == DIAG_OPERATOR && !strcmp(name, "aten::copy_")) {
        const diag_place place = diag_place_of(trace, at + 1);
        found->copy_calls++;
        diag_sum_add(&found->copy_from, place.caller ? trace->event[place.caller - 1].name + 1 : 0,
                     end - begin, at);
    }
}

/* A wait of the host: the call at `at`, or the operators around it that only fetch a number. */
PERF_FN void diag_wait_event(diag_found *found, uint32_t at, int64_t begin, int64_t end)
{
    const diag_trace *trace = found->t;
    const diag_event *event = &trace->event[at];
    int               fetches = 0;

    diag_span_add(&found->sync, begin, end, at);
    diag_sum_place(trace, &found->syncs, at + 1, end - begin);
    while (event->in && diag_is_fetch(diag_text_of(trace, &trace->event[event->in - 1]))) {
        event = &trace->event[event->in - 1];
        fetches = 1;
    }
    found->fetches += (uint64_t)fetches;
    found->fetching += fetches ? event->end - event->begin : end - begin;
}

/* What the host did in the window. */
PERF_FN void diag_find_host(diag_found *found)
{
    const diag_trace *trace = found->t;
    char             *waits = diag_mark_waits(trace, found->is);
    int64_t          *self = diag_self_times(trace), begin, end;
    size_t            i;

    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        begin = event->begin > found->begin ? event->begin : found->begin;
        end = event->end < found->end ? event->end : found->end;
        if (!diag_of_host(event) || end <= begin)
            continue;
        diag_host_event(found, i, begin, end);
        if (event->kind == DIAG_OPERATOR && self[i] > 0 && event->begin >= found->begin &&
            event->end <= found->end)
            diag_sum_add(&found->operators, event->name, self[i], (uint32_t)i);
        if (waits[i])
            diag_wait_event(found, (uint32_t)i, begin, end);
    }
    free(self);
    free(waits);
}

/* ---- the device ---- */

/* What a kernel is counted under. */
PERF_FN void diag_kernel_event(diag_found *found, const diag_event *event, uint32_t at)
{
    size_t             families;
    const diag_family *family = diag_families(&families);
    const size_t       which = found->is[event->name].family;
    const int64_t      ns = event->end - event->begin;

    found->family_ns[which] += ns;
    found->family_count[which]++;
    found->kernels_all++;
    found->kernel_ns += ns;
    if (family[which].memory)
        found->memory_ns += ns;
    if (ns < DIAG_TINY_NS) {
        found->tiny++;
        found->tiny_ns += ns;
    }
    diag_sum_add(&found->kernels, event->name, ns, at);
    if (which > 0)
        diag_sum_launched(found->t, &found->paths, at, ns);
}

PERF_FN void diag_copy_event(diag_found *found, const diag_event *event, uint32_t at)
{
    const char          *name = diag_text_of(found->t, event);
    const diag_direction way = diag_direction_of(name);
    diag_move           *move = &found->move[way][diag_memory_of(name)];

    move->count++;
    move->bytes += event->bytes;
    move->ns += event->end - event->begin;
    diag_sum_add(&found->moves, event->name, event->end - event->begin, at);
}

/* Mean occupancy, and the share of kernels with less than one block an SM, by time. */
PERF_FN void diag_find_fill(diag_found *found)
{
    const diag_trace *trace = found->t;
    double            known = 0, sum = 0, sized = 0, few = 0;
    size_t            i;

    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        const double      ns = (double)(event->end - event->begin);
        if (event->kind != DIAG_KERNEL || !diag_in_window(found, event) ||
            !found->is[event->name].family)
            continue;
        if (event->occupancy >= 0) {
            known += ns;
            sum += ns * (double)event->occupancy;
        }
        if (event->blocks >= 0) {
            sized += ns;
            few += event->blocks < 1 ? ns : 0;
        }
    }
    found->occupancy = known > 0 ? sum / known : -1;
    found->few_blocks = sized > 0 ? few / sized : -1;
}

/* Times from launch to begin, and how many launches wait at a time. */
PERF_FN void diag_find_queue(diag_found *found)
{
    const diag_trace *trace = found->t;
    double           *launch = (double *)ab_grow(NULL, trace->n, sizeof *launch), sum = 0, length;
    double           *start = (double *)ab_grow(NULL, trace->n, sizeof *start);
    size_t            i, n = 0, begun = 0;

    found->delay = (double *)ab_grow(NULL, trace->n, sizeof *found->delay);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (!diag_of_device(event) || !event->in || !diag_in_window(found, event))
            continue;
        launch[n] = (double)(trace->event[event->in - 1].begin - found->begin);
        start[n] = (double)(event->begin - found->begin);
        found->delay[n] = start[n] > launch[n] ? start[n] - launch[n] : 0;
        n++;
    }
    if (n)
        qsort(launch, n, sizeof *launch, diag_by_value);
    for (i = 0; i < n; i++) {
        while (begun < n && start[begun] <= launch[i])
            begun++;
        length = i + 1 > begun ? (double)(i + 1 - begun) : 0;
        sum += length;
        found->queue_most = length > found->queue_most ? length : found->queue_most;
    }
    found->queue_mean = n ? sum / (double)n : 0;
    found->delays = n;
    found->delay_p50 = diag_quantile(found->delay, n, 0.5);
    found->delay_p95 = diag_quantile(found->delay, n, 0.95);
    free(launch);
    free(start);
}

/* The end of a gap, from the launch of the next work on.  Returns when the host was done with it. */
PERF_FN int64_t diag_gap_end(diag_found *found, const diag_event *launch, int64_t launched,
                             int64_t end)
{
    int64_t done = launched;

    if (launched < end && diag_is_copy_call(diag_text_of(found->t, launch))) {
        found->why[DIAG_WHY_COPY] += end - launched;
        return done;
    }
    if (launched < end && launch->end > launched &&
        launch->end - launch->begin > DIAG_CALL_NS) {
        done = launch->end < end ? launch->end : end;
        found->why[DIAG_WHY_CALL] += done - launched;
    }
    if (done < end)
        found->why[end - done > DIAG_START_NS ? DIAG_WHY_STREAM : DIAG_WHY_START] += end - done;
    return done;
}

/* A gap in which the host launched nothing, or was in the call that launches. */
PERF_FN void diag_gap_of_host(diag_found *found, int64_t ns, int64_t code, uint32_t next)
{
    if (ns > found->pause) {
        found->pause = ns;
        found->pause_at = next;
        found->pause_is_code = code > ns / 2;
    }
}

/* The annotation or module of a thread that is open at `time`; 0: there is none.  1 + its place. */
PERF_FN uint32_t diag_note_at(const diag_trace *trace, uint32_t lane, int64_t time)
{
    enum { FAR = 4096 };                /* events of other threads that are passed over           */
    size_t   low = 0, high = trace->n, mid, i;
    uint32_t at = 0;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (trace->event[mid].begin <= time)
            low = mid + 1;
        else
            high = mid;
    }
    for (i = low; i > 0 && low - i < FAR && !at; i--)
        if (diag_of_host(&trace->event[i - 1]) && trace->event[i - 1].lane == lane)
            at = (uint32_t)i;
    for (; at; at = trace->event[at - 1].in) {
        const diag_event *event = &trace->event[at - 1];
        const int is_named = event->kind == DIAG_NOTE || event->kind == DIAG_MODULE;
        if (is_named && event->end > time && !diag_is_step(diag_text_of(trace, event), 0))
            return at;
    }
    return 0;
}

/* The next piece of time that ends behind `at`: in operators, loaders or collectives of the host.
 * It begins at `end` where there is none.                                                        */
PERF_FN diag_span diag_host_next(const diag_found *found, int64_t at, int64_t end)
{
    const diag_spans *of[3] = {&found->host, &found->data, &found->talk};
    diag_span         next = {0, 0, UINT32_MAX};
    size_t            i, k;

    next.begin = next.end = end;
    for (k = 0; k < 3; k++) {
        i = diag_span_at(of[k], at);
        if (i < of[k]->n && of[k]->s[i].begin < next.begin)
            next = of[k]->s[i];
    }
    return next;
}

/* A stretch of the host outside of those: named by its annotation, else by what follows. */
PERF_FN void diag_code_event(diag_found *found, int64_t begin, int64_t end, uint32_t follows)
{
    const diag_trace *trace = found->t;
    uint32_t          lane = found->lane, host = follows, note;

    if (follows && diag_of_device(&trace->event[follows - 1]))
        host = trace->event[follows - 1].in;
    if (host)
        lane = trace->event[host - 1].lane;
    note = diag_note_at(trace, lane, begin + (end - begin) / 2);
    if (note || host == follows)
        diag_sum_place(trace, &found->codes, note ? note : follows, end - begin);
    else
        diag_sum_launched(trace, &found->codes, follows - 1, end - begin);
}

/* How much of [begin, end) the host spends outside of those, in stretches of `least` ns or longer.
 * `last` (1 + its place, 0: nothing) follows the last one.                                       */
PERF_FN int64_t diag_host_code(diag_found *found, int64_t begin, int64_t end, int64_t least,
                               uint32_t last)
{
    int64_t sum = 0, at = begin;

    while (at < end) {
        const diag_span next = diag_host_next(found, at, end);
        if (next.begin - at >= least) {
            diag_code_event(found, at, next.begin,
                            next.first == UINT32_MAX ? last : next.first + 1);
            sum += next.begin - at;
        }
        at = next.end > at ? next.end : end;
    }
    return sum;
}

/* What of a gap the host is the reason for: from `begin` until `launched`, without `data`.  A wait
 * is the reason for a gap that is shorter: without it the host would have been ahead by as much. */
PERF_FN void diag_gap_before(diag_found *found, int64_t begin, int64_t launched, int64_t data,
                             int64_t done, uint32_t next)
{
    const diag_trace *trace = found->t;
    const uint32_t    launch = next ? trace->event[next - 1].in : 0;
    const int64_t     ns = launched - begin - data;
    const size_t      at = diag_span_at(&found->sync, begin - 1);
    const diag_span  *wait = at < found->sync.n ? &found->sync.s[at] : NULL;
    int64_t           code = 0;

    if (wait && wait->begin > begin)
        wait = NULL;
    if ((launch || (found->steps && !next)) && !(wait && wait->end - wait->begin >= ns))
        code = diag_host_code(found, begin, launched, DIAG_LONG_NS, next);
    found->why[DIAG_WHY_CODE] += code;
    if (wait) {
        found->why[DIAG_WHY_SYNC] += ns - code;
        diag_sum_place(trace, &found->drained, wait->first + 1, ns - code);
    } else if (launch) {
        found->why[DIAG_WHY_HOST] += ns - code;
        found->unmarked += ns - code - diag_span_within(&found->host, begin, launched);
        diag_sum_launched(trace, &found->hosts, next - 1, ns + done);
        diag_gap_of_host(found, ns + done, code, next);
    } else {
        found->why[next ? DIAG_WHY_UNSEEN : DIAG_WHY_END] += ns - code;
    }
}

/* Why the device idled from `begin` on until the event `next` (1 + its place; 0: the end). */
PERF_FN void diag_gap(diag_found *found, int64_t begin, int64_t end, uint32_t next)
{
    const diag_trace *trace = found->t;
    const diag_event *launch = NULL;
    int64_t           launched = end, done, data, held;

    if (end <= begin)
        return;
    found->gaps++;
    if (next && trace->event[next - 1].in)
        launch = &trace->event[trace->event[next - 1].in - 1];
    if (launch && launch->begin < end)
        launched = launch->begin > begin ? launch->begin : begin;
    held = found->why[DIAG_WHY_STREAM];
    done = diag_gap_end(found, launch, launched, end) - launched;
    held = found->why[DIAG_WHY_STREAM] - held;
    if (launch)
        diag_sum_launched(trace, &found->held, next - 1, held);
    data = diag_span_within(&found->data, begin, launched);
    found->why[DIAG_WHY_DATA] += data;
    diag_gap_before(found, begin, launched, data, done, next);
}

/* What the device did there, from the window's begin on: where its clock and the host's disagree, an
 * event may begin before its launch.                                                             */
PERF_FN void diag_span_of_device(const diag_found *found, diag_spans *to, uint32_t which)
{
    const diag_event *event = &found->t->event[which];
    const int64_t     begin = event->begin > found->begin ? event->begin : found->begin;

    if (event->end >= begin)
        diag_span_add(to, begin, event->end, which);
}

/* What the device did in the window, and why it idled. */
PERF_FN void diag_find_device(diag_found *found)
{
    const diag_trace *trace = found->t;
    int64_t           at = found->begin;
    size_t            i;

    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        const uint32_t    which = (uint32_t)i;
        if (!diag_of_device(event) || !diag_in_window(found, event))
            continue;
        diag_span_of_device(found, &found->busy, which);
        if (event->kind != DIAG_KERNEL) {
            diag_span_of_device(found, &found->copy, which);
            if (event->kind == DIAG_COPY)
                diag_copy_event(found, event, which);
            continue;
        }
        diag_kernel_event(found, event, which);
        if (!found->is[event->name].family)
            diag_span_of_device(found, &found->collective, which);
        else
            diag_span_of_device(found, &found->compute, which);
    }
    for (i = 0; i < found->busy.n; i++) {
        diag_gap(found, at, found->busy.s[i].begin, found->busy.s[i].first + 1);
        at = found->busy.s[i].end;
    }
    diag_gap(found, at, found->end, 0);
    found->only_collective =
        diag_span_either(&found->collective, &found->compute) - found->compute.total;
    found->only_copy = found->busy.total - found->compute.total - found->only_collective;
    found->idle = found->end - found->begin - found->busy.total;
    found->idle = found->idle > 0 ? found->idle : 0;
    diag_find_fill(found);
    diag_find_queue(found);
}

/* ---- the answer ---- */

/* One long gap in a trace of at most one step says nothing about the next steps.  It is counted
 * for itself, unless the rest of its kind takes as long.  Half as long will do for code outside of
 * operators, which seldom loads something at its first use.                                      */
PERF_FN void diag_share_pause(const diag_found *found, double *share)
{
    const double pause = (double)found->pause / diag_window(found);
    double      *of = &share[found->pause_is_code ? DIAG_BY_CODE : DIAG_BY_LAUNCH];

    if (found->steps >= 2 || *of - pause >= (found->pause_is_code ? pause / 2 : pause))
        return;
    share[DIAG_BY_PAUSE] = pause;
    *of -= pause;
}

/* Shares of the window by what bounds a device. */
PERF_FN void diag_share_device(const diag_found *found, double *share)
{
    const double window = diag_window(found);
    const double held = (double)found->why[DIAG_WHY_STREAM] / window;
    int          i, clearly = 1;

    share[DIAG_BY_DATA] = (double)found->why[DIAG_WHY_DATA] / window;
    share[DIAG_BY_LAUNCH] =
        (double)(found->why[DIAG_WHY_HOST] + found->why[DIAG_WHY_CALL]) / window;
    share[DIAG_BY_CODE] = (double)found->why[DIAG_WHY_CODE] / window;
    diag_share_pause(found, share);
    share[DIAG_BY_COPIES] = (double)(found->only_copy + found->why[DIAG_WHY_COPY]) / window;
    share[DIAG_BY_SYNC] = (double)found->why[DIAG_WHY_SYNC] / window;
    share[DIAG_BY_COMPUTE] = (double)found->compute.total / window;
    share[DIAG_BY_COLLECTIVES] = (double)found->only_collective / window;
    for (i = 0; i < DIAG_BOUNDS; i++)
        clearly &= held > DIAG_CLEARLY * share[i];
    share[DIAG_BY_OTHERS] = clearly ? held : 0;
}

/* Time in operators that no loader calls, ns. */
PERF_FN int64_t diag_operators(const diag_found *found)
{
    return diag_span_either(&found->host, &found->data) - found->data.total;
}

/* Shares of the window where the trace has no device. */
PERF_FN void diag_share_host(diag_found *found, double *share)
{
    const double window = diag_window(found);
    const double talk =
        (double)(diag_span_either(&found->talk, &found->host) - found->host.total) / window;
    const double data = (double)found->data.total / window;
    const double host = (double)diag_operators(found) / window;

    share[DIAG_BY_DATA] = data;
    share[DIAG_BY_HOST] = host;
    share[DIAG_BY_COLLECTIVES] = talk;
    if (found->steps)
        share[DIAG_BY_CODE] = (double)found->why[DIAG_WHY_CODE] / window;
}

/* The largest share of the window wins, if it is worth a look. */
PERF_FN void diag_decide(diag_found *found)
{
    double share[DIAG_BOUNDS];
    int    i, best = DIAG_UNKNOWN;

    memset(share, 0, sizeof share);
    if (found->has_device)
        diag_share_device(found, share);
    else
        diag_share_host(found, share);
    for (i = DIAG_BY_DATA; i < DIAG_BOUNDS; i++)
        if (share[i] >= DIAG_SHARE && share[i] > share[best])
            best = i;
    found->bound = (diag_bound)best;
    found->share = share[best];
    if (best == DIAG_BY_COMPUTE && found->memory_ns * 2 > found->kernel_ns - found->family_ns[0])
        found->bound = DIAG_BY_MEMORY;
}

/* How much of the window would go if what is advised took no time. */
PERF_FN double diag_removable(const diag_found *found)
{
    const double window = diag_window(found);
    int64_t      most = 0;
    size_t       i;

    if (found->bound == DIAG_BY_PAUSE)
        return 0;
    if (found->bound == DIAG_BY_MEMORY)
        return found->share * (double)found->memory_ns /
               (double)(found->kernel_ns - found->family_ns[0]);
    if (found->bound == DIAG_BY_SYNC && (double)found->fetching / window < found->share)
        return (double)found->fetching / window;
    if (found->bound == DIAG_BY_HOST)
        return found->operators.n ? (double)found->operators.s[0].ns / window : 0;
    if (found->bound != DIAG_BY_COMPUTE)
        return found->share;
    for (i = 1; i < DIAG_FAMILIES; i++)
        most = found->family_ns[i] > most ? found->family_ns[i] : most;
    return found->share * (double)most / (double)(found->kernel_ns - found->family_ns[0]);
}

PERF_FN void diag_found_free(diag_found *found)
{
    diag_spans *spans[8] = {&found->compute, &found->collective, &found->copy, &found->busy,
                            &found->data, &found->sync, &found->host, &found->talk};
    diag_sums  *sums[12] = {&found->kernels, &found->paths, &found->hosts, &found->syncs,
                            &found->moves, &found->drained, &found->operators, &found->datas,
                            &found->talks, &found->copy_from, &found->codes, &found->held};
    size_t      i;

    for (i = 0; i < sizeof spans / sizeof *spans; i++)
        free(spans[i]->s);
    for (i = 0; i < sizeof sums / sizeof *sums; i++)
        diag_sums_free(sums[i]);
    diag_names_free(&found->devices);
    free(found->other);
    free(found->is);
    free(found->step);
    free(found->delay);
    memset(found, 0, sizeof *found);
}

/* Looks at a trace, which must live as long as what was found; diag_found_free() after it. */
PERF_FN void diag_find(diag_found *found, const diag_trace *trace)
{
    double removable;

    memset(found, 0, sizeof *found);
    found->t = trace;
    found->is = diag_classes(trace);
    diag_find_window(found);
    diag_find_host(found);
    if (found->has_device)
        diag_find_device(found);
    else
        found->why[DIAG_WHY_CODE] = diag_host_code(found, found->begin, found->end, 1, 0);
    diag_sums_sort(&found->kernels);
    diag_sums_sort(&found->paths);
    diag_sums_sort(&found->hosts);
    diag_sums_sort(&found->syncs);
    diag_sums_sort(&found->drained);
    diag_sums_sort(&found->moves);
    diag_sums_sort(&found->operators);
    diag_sums_sort(&found->datas);
    diag_sums_sort(&found->talks);
    diag_sums_sort(&found->copy_from);
    diag_sums_sort(&found->codes);
    diag_sums_sort(&found->held);
    diag_decide(found);
    removable = diag_removable(found);
    found->best = 1 / (1 - (removable < 0.999 ? removable : 0.999));
}

#endif
