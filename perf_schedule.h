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
PERF_FN perf_phase perf_schedule_step(perf_schedule *schedule);

/* Recording is as it was before begin.  PERF_ESTATE: no begin; PERF_ENODATA: no active step. */
PERF_FN perf_status perf_schedule_end(perf_schedule *schedule);

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
    perf_schedule_opts options = PERF_ZERO;
    perf_registry_    *reg = perf_registry_get_();
    perf_schedule      schedule = PERF_ZERO;

    if (opts)
        options = *opts;
    options.skip = perf_schedule_steps_(options.skip, 0);
    options.wait = perf_schedule_steps_(options.wait, 1);
    options.warmup = perf_schedule_steps_(options.warmup, 1);
    if (options.active <= 0)
        options.active = 3;
    options.repeat = perf_schedule_steps_(options.repeat, 0);
    schedule.opts = options;
    schedule.phase = PERF_PHASE_WAIT;
    if (PERF_DISABLE)
        schedule.phase = PERF_PHASE_DONE;
    schedule.open = !PERF_DISABLE;
    schedule.was_on = reg && !PERF_GET_(&reg->off);
    perf_enable(0);
    return schedule;
}

/* The phase of the step that has begun; *cycle: its cycle, 0 while steps are skipped. */
PERF_FN perf_phase perf_schedule_phase_(const perf_schedule *schedule, uint64_t *cycle)
{
    const perf_schedule_opts *opts = &schedule->opts;
    const int64_t             warm = PERF_CAST_(int64_t, opts->wait) + opts->warmup;
    const int64_t             length = warm + opts->active;
    const int64_t             step = PERF_CAST_(int64_t, schedule->step) - 1 - opts->skip;
    int64_t                   within, over;

    *cycle = 0;
    if (step < 0)
        return PERF_PHASE_WAIT;
    over = step / length;                           /* cycles that are complete                   */
    *cycle = PERF_CAST_(uint64_t, over + 1);
    if (opts->repeat && over >= opts->repeat) {
        *cycle = PERF_CAST_(uint64_t, opts->repeat);
        return PERF_PHASE_DONE;
    }
    within = step % length;
    if (within < opts->wait)
        return PERF_PHASE_WAIT;
    if (within < warm)
        return PERF_PHASE_WARMUP;
    return PERF_PHASE_ACTIVE;
}

PERF_FN perf_phase perf_schedule_step(perf_schedule *schedule)
{
    int was_active, active;

    if (!schedule || !schedule->open)
        return PERF_PHASE_DONE;
    was_active = schedule->phase == PERF_PHASE_ACTIVE;
    schedule->step++;
    schedule->phase = perf_schedule_phase_(schedule, &schedule->cycle);
    active = schedule->phase == PERF_PHASE_ACTIVE;
    schedule->recorded += PERF_CAST_(uint64_t, active);
    if (active != was_active)
        perf_enable(active);
    return schedule->phase;
}

PERF_FN perf_status perf_schedule_end(perf_schedule *schedule)
{
    if (PERF_DISABLE && (!schedule || !schedule->open))
        return PERF_EDISABLED;
    if (!schedule || !schedule->open)
        return PERF_ESTATE;
    perf_enable(schedule->was_on);
    schedule->open = 0;
    schedule->phase = PERF_PHASE_DONE;
    if (!schedule->recorded)
        return PERF_ENODATA;
    return PERF_OK;
}

PERF_END_DECLS

#endif /* PERF_SCHEDULE_H */
