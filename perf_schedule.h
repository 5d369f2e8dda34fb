/* perf_schedule.h - which steps of a long loop are recorded?
 *
 *     perf_schedule s = perf_schedule_begin(NULL);     // wait 1, warm up 1, record 3, and again
 *     for (i = 0; i < n; i++) {
 *         perf_schedule_step(&s);                  // first thing in each step
 *         work();
 *     }
 *     perf_schedule_end(&s);
 *
 * Sections (search for ">>"):  schedule  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_SCHEDULE_H
#define PERF_SCHEDULE_H

#include "perf_record.h"

PERF_BEGIN_DECLS

/* >>schedule: record some steps of a long loop ---------------------------------------------------
 * Each cycle waits, warms up, then records: scopes, traces and device timers of the whole process
 * are on in active steps only, whatever thread they run in, and as they were before after the end.
 * Scopes that are open when a phase changes are finished as they were begun.  One thread steps.  */
typedef enum perf_phase {
    PERF_PHASE_WAIT,
    PERF_PHASE_WARMUP,                  /* off too: a step to fill caches that were let go cold   */
    PERF_PHASE_ACTIVE,
    PERF_PHASE_DONE                     /* all cycles are over: off                               */
} perf_phase;

typedef struct perf_schedule_opts {     /* zero = default; negative = none                        */
    int skip;                           /* steps before the first cycle; 0 -> none                */
    int wait;                           /* steps of each cycle; 0 -> 1                            */
    int warmup;                         /* 0 -> 1                                                 */
    int active;                         /* 0 or negative -> 3                                     */
    int repeat;                         /* cycles; 0 or negative -> until the end                 */
} perf_schedule_opts;

typedef struct perf_schedule {          /* read it; the library writes it                         */
    perf_schedule_opts opts;            /* what really runs                                       */
    perf_phase         phase;           /* of the step under way                                  */
    uint64_t           step;            /* steps begun                                            */
    uint64_t           cycle;           /* cycles begun; 0 while skipping                         */
    uint64_t           recorded;        /* active steps begun                                     */
    int                open;            /* 1: between begin and end                               */
    int                was_on;          /* whether recording was on before                        */
} perf_schedule;

/* Switches recording off until the first active step; NULL: defaults.  s.opts is what runs. */
PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts);

/* A step begins: returns its phase.  NULL, before begin or after end: PERF_PHASE_DONE. */
PERF_FN perf_phase perf_schedule_step(perf_schedule *s);

/* Recording is as it was before begin.  PERF_ESTATE: no begin; PERF_ENODATA: no active step. */
PERF_FN perf_status perf_schedule_end(perf_schedule *s);

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* An option of a schedule: 0 means `otherwise`, negative none. */
PERF_FN int perf_schedule_steps_(int asked, int otherwise)
{
    if (asked < 0)
        return 0;
    if (asked == 0)
        return otherwise;
    return asked;
}

PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts)
{
    perf_schedule_opts o = PERF_ZERO;
    perf_registry_    *r = perf_registry_get_();
    perf_schedule      s = PERF_ZERO;

    if (opts)
        o = *opts;
    o.skip = perf_schedule_steps_(o.skip, 0);
    o.wait = perf_schedule_steps_(o.wait, 1);
    o.warmup = perf_schedule_steps_(o.warmup, 1);
    if (o.active <= 0)
        o.active = 3;
    o.repeat = perf_schedule_steps_(o.repeat, 0);
    s.opts = o;
    s.phase = PERF_PHASE_WAIT;
    if (PERF_DISABLE)
        s.phase = PERF_PHASE_DONE;
    s.open = !PERF_DISABLE;
    s.was_on = r && !PERF_GET_(&r->off);
    perf_enable(0);
    return s;
}

/* The phase of the step that has begun; *cycle: its cycle, 0 while steps are skipped. */
PERF_FN perf_phase perf_schedule_phase_(const perf_schedule *s, uint64_t *cycle)
{
    const perf_schedule_opts *o = &s->opts;
    const int64_t             warm = PERF_CAST_(int64_t, o->wait) + o->warmup;
    const int64_t             length = warm + o->active;
    const int64_t             step = PERF_CAST_(int64_t, s->step) - 1 - o->skip;
    int64_t                   within, over;

    *cycle = 0;
    if (step < 0)
        return PERF_PHASE_WAIT;
    over = step / length;                           /* cycles that are complete                   */
    *cycle = PERF_CAST_(uint64_t, over + 1);
    if (o->repeat && over >= o->repeat) {
        *cycle = PERF_CAST_(uint64_t, o->repeat);
        return PERF_PHASE_DONE;
    }
    within = step % length;
    if (within < o->wait)
        return PERF_PHASE_WAIT;
    if (within < warm)
        return PERF_PHASE_WARMUP;
    return PERF_PHASE_ACTIVE;
}

PERF_FN perf_phase perf_schedule_step(perf_schedule *s)
{
    perf_phase was;

    if (!s || !s->open)
        return PERF_PHASE_DONE;
    was = s->phase;
    s->step++;
    s->phase = perf_schedule_phase_(s, &s->cycle);
    if (s->phase == PERF_PHASE_ACTIVE)
        s->recorded++;
    if ((s->phase == PERF_PHASE_ACTIVE) != (was == PERF_PHASE_ACTIVE))
        perf_enable(s->phase == PERF_PHASE_ACTIVE);
    return s->phase;
}

PERF_FN perf_status perf_schedule_end(perf_schedule *s)
{
    if (PERF_DISABLE && (!s || !s->open))
        return PERF_EDISABLED;
    if (!s || !s->open)
        return PERF_ESTATE;
    perf_enable(s->was_on);
    s->open = 0;
    s->phase = PERF_PHASE_DONE;
    if (!s->recorded)
        return PERF_ENODATA;
    return PERF_OK;
}

PERF_END_DECLS

#endif /* PERF_SCHEDULE_H */
