/* perf_loop.h - the engine of the loops: clocks, slices, decisions.
 *
 *     perf_bench b = perf_bench_begin("work", NULL);       // perf_bench.h has the calls
 *     while (perf_bench_next(&b))
 *         work();
 *     perf_result r = perf_bench_end(&b);
 *
 * Baseline and candidate run in turns, in slices, by three clocks; docs/loops.md says how a loop
 * stops and what it may say.  A file that includes this header and runs a loop holds the engine for
 * those that include perf_bench.h alone.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LOOP_H
#define PERF_LOOP_H

#include "perf_bench.h"
#include "perf_loop_state.h"
#include "perf_report.h"
#include "perf_schedule.h"
#include "perf_variant.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use ---------------------------------------------------------
 *   perf_loop_kind_         of a state: PERF_LOOP_BENCH_, _AB_, _RACE_; 0: NULL, or no memory
 *   perf_loop_pages_        a state with its arms, all zero, kept until perf_reset(); in the
 *                           report's list unless `kind` is 0; NULL: no memory
 *   perf_race_pages_        likewise of two arms, with a question, or refused, or one arm forced
 *   perf_told_place_        the value of a loop's counter by its name; NULL: no room, or it ended
 *   perf_ab_found_          the result of an A/B loop that has ended; `left`: of its last slice
 */

/* >>private: bodies: first helpers, callees above their callers; last the way of a measurement - */

/* The functions of that way. */
PERF_FN int perf_host_end_(perf_loop_state_ *state, int variant, uint64_t now);
PERF_FN void perf_timer_add_waits_(perf_timer_ *timer, perf_loop_arm_ *arm);
PERF_COLD_DECL_ int perf_loop_no_clock_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ void perf_loop_lead_slice_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm);
PERF_COLD_DECL_ uint64_t perf_loop_begin_slice_(perf_loop_state_ *state);
PERF_COLD_DECL_ int perf_loop_first_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm, int late);
PERF_COLD_DECL_ int perf_loop_begin_rounds_(perf_loop_state_ *state, int late);
PERF_COLD_DECL_ void perf_loop_heated_(perf_loop_state_ *state, int late);
PERF_COLD_DECL_ void perf_loop_reading_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm,
                                              uint64_t now, int late);
PERF_COLD_DECL_ int perf_loop_grow_(perf_loop_state_ *state, double want, int late);
PERF_COLD_DECL_ void perf_loop_warm_up_ended_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ int perf_loop_sample_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm);
PERF_COLD_DECL_ void perf_loop_time_lead_(perf_loop_state_ *state, perf_loop_arm_ *arm);
PERF_COLD_DECL_ int perf_loop_was_cold_(perf_loop_state_ *state, double want);
PERF_COLD_DECL_ int perf_loop_round_ended_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ void perf_loop_compare_leads_(perf_loop_state_ *state);
PERF_COLD_DECL_ int perf_race_round_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ void perf_race_bet_(perf_loop_state_ *state);
PERF_COLD_DECL_ int perf_race_settled_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ int perf_race_open_bets_(perf_loop_state_ *state);
PERF_COLD_DECL_ perf_decides perf_loop_decides_(const perf_loop_state_ *state, const char **why);
PERF_COLD_DECL_ int perf_race_interval_differs_(perf_loop_state_ *state);
PERF_COLD_DECL_ perf_compare_opts perf_race_asked_(const perf_loop_state_ *state, int i);
PERF_COLD_DECL_ int perf_race_gravest_objection_(const perf_loop_state_ *state);
PERF_COLD_DECL_ int perf_race_objection_(const perf_loop_state_ *state, int i);
PERF_COLD_DECL_ void perf_race_draw_lead_(perf_loop_state_ *state, uint64_t now);
PERF_COLD_DECL_ uint64_t perf_loop_count_(perf_loop_state_ *state);
PERF_COLD_DECL_ uint64_t perf_loop_turn_begins_(perf_loop_state_ *state);
PERF_COLD_DECL_ size_t perf_loop_leads_(const perf_loop_state_ *state, int variant);
PERF_COLD_DECL_ perf_ab_result perf_ab_found_(perf_loop_state_ *state, int64_t left);
PERF_COLD_DECL_ perf_race_result perf_race_found_(perf_loop_state_ *state, int64_t left);
PERF_COLD_DECL_ uint32_t perf_race_fill_(perf_loop_state_ *state, int i, size_t n);
PERF_COLD_DECL_ perf_verdict perf_race_decide_(const perf_loop_state_ *state, int i, size_t n);
PERF_COLD_DECL_ perf_verdict perf_race_judge_(const perf_loop_state_ *state, int i, size_t n,
                                              const perf_compare_opts *opts);
PERF_COLD_DECL_ void perf_race_veto_(perf_loop_state_ *state, int i, perf_verdict *verdict);

/* ---- timing a slice ---- */

#define PERF_LOOP_NO_MEMORY_    PERF_PTR_(perf_loop_state_ *, PERF_CAST_(uintptr_t, 1))
#define PERF_LOOP_SLICES_PLANNED_      1000    /* of a bench that looks for a narrow interval     */
#define PERF_LOOP_LEAST_        3       /* however slow the body is                               */
#define PERF_LOOP_MAX_SAMPLES_  1000000
#define PERF_LOOP_LONG_NS_      300e3   /* slices above this are timed by all clocks, which cost  */
                                        /* some 2 us; shorter ones others mostly leave alone      */
#define PERF_LOOP_LITTLE_       0.02    /* too small a share of the time to choose a clock by     */
#define PERF_LOOP_TURN_NS_      100e3   /* of processor time.  Linux gives turns of 0.75 to 4 ms, */
                                        /* and of 0.5 where somebody wakes up every 20 us         */
#define PERF_LOOP_STEPS_BACK_   100     /* a clock that steps back this often is no clock         */
#define PERF_LOOP_ROUNDS_       8.0     /* two arms or more: so many rounds must fit for a batch  */
#define PERF_LOOP_FULL_         0.7     /* of the slice that was asked for: long enough           */
#define PERF_LOOP_GROWS_MOST_   10.0    /* times larger the next batch: one reading may mislead   */
#define PERF_LOOP_GROWS_LEAST_  1.2
#define PERF_PROBE_READINGS_    20      /* of a clock: a group, whose time tells what each costs  */
#define PERF_LONG_BESIDE_       4.0     /* a slice this much longer leaves cold caches behind     */

/* See the internal section.  A state that is no memory is no address. */
PERF_FN int perf_loop_kind_(const perf_loop_state_ *state)
{
    return state && state != PERF_LOOP_NO_MEMORY_ ? state->loop.kind : 0;
}

/* How often this thread gave the processor up by itself (sleep, read, wait for a lock); -1: the
 * system does not say.  *forced: how often somebody took it; Linux counts sched_yield there.*/
PERF_COLD_FN_ int64_t perf_switches_(int64_t *forced)
{
#if defined(PERF_TEST_WAITS_FN)
    return PERF_TEST_WAITS_FN(forced);
#elif defined(__linux__) && PERF_LP64_UNIX_
    struct perf_usage_ usage;

    if (perf_getrusage_(1, &usage))
        return *forced = -1;
    *forced = usage.nivcsw;
    return usage.nvcsw;
#else
    return *forced = -1;
#endif
}

/* One of the three clocks, in ns; 0: this system does not say. */
PERF_FN uint64_t perf_timer_clock_(int i)
{
    if (i == PERF_BY_WALL_)
        return perf_now();
#if defined(PERF_TEST_CPU_FN)
    return PERF_TEST_CPU_FN(i);
#elif defined(PERF_CLOCK_FN)                        /* your clock does not compare with others    */
    return 0;
#else
    if (i == PERF_BY_THREAD_)
        return perf_system_ns_(PERF_CLOCK_THREAD_ID_);
    return perf_system_ns_(PERF_CLOCK_PROCESS_ID_);
#endif
}

/* ns from a change of a clock to the next, both of 2 ns or more; `otherwise`: not seen. */
PERF_COLD_FN_ uint64_t perf_clock_step_(int clock, uint64_t otherwise)
{
    uint64_t last = perf_timer_clock_(clock), ticks, changed = 0;
    int      i, changes = 0;

    for (i = 0; i < 10000000; i++) {
        ticks = perf_timer_clock_(clock);
        if (ticks - last >= 2) {
            if (changes++)
                return ticks - changed;
            changed = ticks;
        }
        last = ticks;
    }
    return otherwise;
}

/* The cost of one reading and its smallest step, from five groups of back-to-back readings. */
PERF_COLD_FN_ double perf_clock_probe_(int clock, double *tick)
{
    uint64_t fastest = UINT64_MAX, step = UINT64_MAX, began, last, ticks;
    double   cost;
    int      i;

    began = last = perf_timer_clock_(clock);
    for (i = 1; i <= 5 * PERF_PROBE_READINGS_; i++) {
        ticks = perf_timer_clock_(clock);
        if (ticks != last && ticks - last < step)
            step = ticks - last;
        last = ticks;
        if (i % PERF_PROBE_READINGS_)
            continue;
        if (ticks - began < fastest)
            fastest = ticks - began;
        began = ticks;
    }
    if (fastest <= PERF_PROBE_READINGS_)            /* it hardly moved                            */
        step = perf_clock_step_(clock, step);
    cost = PERF_CAST_(double, fastest) / PERF_PROBE_READINGS_;
    if (cost > 1e6)                     /* each reading saw a step: it tells nothing of the cost  */
        cost = 0.0;
    *tick = PERF_CAST_(double, step);
    if (step > 1000000000)              /* over a second: no change was seen, or it was set       */
        *tick = 1.0;
    if (*tick > cost && cost > 1.0)     /* finer than a reading: its step stays unseen            */
        *tick = cost;
    return cost;
}

/* Adds the other clocks if slices are long.  An empty slice holds one reading of its own clock and
 * two of each clock within.                                                                      */
PERF_COLD_FN_ void perf_timer_choose_(perf_timer_ *timer, double slice_ns)
{
    double inner = 2.0 * timer->overhead_ns[PERF_BY_WALL_], cost, tick;
    int    i;

    timer->one_clock = !perf_timer_clock_(PERF_BY_THREAD_);
    if (timer->clocks > 1 || timer->one_clock || !(slice_ns > PERF_LOOP_LONG_NS_))
        return;
    for (i = 1; i < PERF_CLOCKS_; i++) {
        cost = perf_clock_probe_(i, &tick);
        timer->overhead_ns[i] = cost + inner;
        inner += 2.0 * cost;
    }
    timer->clocks = PERF_CLOCKS_;
}

/* Reads the clocks, the wall's last: nothing comes between it and the body. */
PERF_FN void perf_host_begin_(perf_loop_state_ *state, int arm)
{
    perf_timer_ *timer = &state->timer;
    int          i;

    (void)arm;
    timer->paused = timer->pauses = 0;
    PERF_LIBC_(memset)(timer->paused_ns, 0, sizeof timer->paused_ns);
    timer->waits_at = -1;
    if (timer->clocks > 1)
        timer->waits_at = perf_switches_(&timer->forced_at);
    for (i = timer->clocks - 1; i >= 0; i--)
        timer->at[i] = perf_timer_clock_(i);
}

/* The step of the clock.  The probe may have found none, or too small a one.  Then some slices take
 * no time at all, and the shortest of the others takes a step or two.                            */
PERF_FN double perf_timer_tick_(const perf_timer_ *timer)
{
    if (timer->coarse && timer->tick_ns <= 1000.0)
        return perf_most_(timer->least_ns, timer->tick_ns);
    return timer->tick_ns;
}

/* Whether the time is up, or would be after `ahead` more ns. */
PERF_FN int perf_timer_late_(const perf_timer_ *timer, uint64_t now, double max_seconds,
                             double ahead)
{
    return perf_since_(timer->began, now) + ahead > max_seconds * 1e9 ||
           timer->spent_ns > max_seconds * 1e9;
}

/* As long as asked for, or 30 steps of a coarse clock, if the time allows. */
PERF_COLD_FN_ double perf_host_want_(const perf_loop_state_ *state)
{
    const double most = state->opts.max_seconds * 1e9 / 32.0;
    const double steps = 30.0 * perf_timer_tick_(&state->timer);

    if (!state->timer.coarse)
        return state->opts.slice_ns;
    return perf_most_(perf_least_(steps, most), state->opts.slice_ns);
}

/* Long slices are timed by processor time, too. */
PERF_COLD_FN_ int perf_host_grown_(perf_loop_state_ *state)
{
    const perf_loop_arm_ *arm;
    int                   i;

    for (i = 0; i < state->running; i++) {
        arm = &state->arm[state->order[i]];
        perf_timer_choose_(&state->timer, arm->fastest > 0.0 ? arm->fastest : arm->first_ns);
    }
    return 1;
}

PERF_FN const perf_filling_ *perf_host_filling_(void)
{
    static const perf_filling_ host = {perf_host_begin_, perf_host_end_, perf_host_want_,
                                       perf_host_grown_, PERF_NULL_, PERF_NULL_, PERF_NULL_,
                                       PERF_LONG_BESIDE_};

    return &host;
}

PERF_FN void perf_timer_pause_(perf_timer_ *timer)
{
    int i;

    perf_fence_();
    timer->paused = 1;
    for (i = 0; i < timer->clocks; i++)
        timer->paused_at[i] = perf_timer_clock_(i);
}

PERF_FN void perf_timer_resume_(perf_timer_ *timer)
{
    double paused;
    int    i;

    timer->paused = 0;
    timer->pauses++;
    for (i = timer->clocks - 1; i >= 0; i--) {
        paused = perf_since_(timer->paused_at[i], perf_timer_clock_(i));
        if (paused >= 0.0)
            timer->paused_ns[i] += paused + timer->pause_ns[i];
    }
    perf_fence_();
}

enum { PERF_PROBE_PAIRS_ = 32, PERF_PROBE_CHAIN_ = 24, PERF_PROBE_TRIES_ = 9 };

/* ns[]: what a pair of pause and resume costs before a chain of `steps` multiplications, by each
 * clock; without `pairs` what the chain costs.                                                   */
PERF_COLD_FN_ void perf_pause_try_(perf_timer_ *timer, int pairs, int steps, double *ns)
{
    void (*volatile pause)(perf_timer_ *) = perf_timer_pause_;  /* called as a body calls it      */
    void (*volatile resume)(perf_timer_ *) = perf_timer_resume_;
    uint64_t began[PERF_CLOCKS_], product;
    int      clock, pair, step;

    PERF_LIBC_(memset)(timer->paused_ns, 0, sizeof timer->paused_ns);
    for (clock = timer->clocks - 1; clock >= 0; clock--)
        began[clock] = perf_timer_clock_(clock);
    perf_fence_();
    for (pair = 0; pair < PERF_PROBE_PAIRS_; pair++) {
        if (pairs) {
            pause(timer);
            resume(timer);
        }
        product = 1;
        for (step = 0; step < steps; step++) {  /* without steps the next pair overlaps this one  */
            product = product * UINT64_C(6364136223846793005) + 1;
            perf_hide_(&product);
        }
    }
    perf_fence_();
    for (clock = 0; clock < timer->clocks; clock++) {
        ns[clock] = perf_since_(began[clock], perf_timer_clock_(clock)) - timer->paused_ns[clock];
        ns[clock] = (ns[clock] - timer->overhead_ns[clock]) /
                    PERF_CAST_(double, PERF_PROBE_PAIRS_);
    }
}

/* What a pair of pause and resume costs: the smaller of two costs, dense pairs and pairs with work
 * between.  The doubt is their difference, and half of what the tries differ by.                 */
PERF_COLD_FN_ void perf_pause_probe_(perf_timer_ *timer)
{
    perf_timer_ probe = *timer;
    double      bare[PERF_CLOCKS_], with_work[PERF_CLOCKS_], work[PERF_CLOCKS_];
    double      dense[PERF_CLOCKS_][PERF_PROBE_TRIES_], spaced[PERF_CLOCKS_][PERF_PROBE_TRIES_];
    double      low, high, doubt = 0.0, *wall = dense[PERF_BY_WALL_];
    int         clock, k;

    PERF_LIBC_(memset)(probe.pause_ns, 0, sizeof probe.pause_ns);
    for (k = 0; k < PERF_PROBE_TRIES_; k++) {
        perf_pause_try_(&probe, 1, 0, bare);
        perf_pause_try_(&probe, 1, PERF_PROBE_CHAIN_, with_work);
        perf_pause_try_(&probe, 0, PERF_PROBE_CHAIN_, work);
        for (clock = 0; clock < probe.clocks; clock++) {
            dense[clock][k] = bare[clock];
            spaced[clock][k] = with_work[clock] - work[clock];
        }
    }
    for (clock = 0; clock < probe.clocks; clock++) {
        perf_sort_values_(dense[clock], PERF_PROBE_TRIES_);
        perf_sort_values_(spaced[clock], PERF_PROBE_TRIES_);
        low = dense[clock][PERF_PROBE_TRIES_ / 2];
        high = spaced[clock][PERF_PROBE_TRIES_ / 2];
        timer->pause_ns[clock] = perf_least_(low, high);
        doubt = perf_most_(doubt, perf_fabs_(low - high));
    }
    timer->pause_doubt_ns = doubt + 0.5 * (wall[PERF_PROBE_TRIES_ - 2] - wall[1]);
}

/* Pauses (on 1) or resumes; a doubled one is ignored. */
PERF_OUTLINE_FN_ void perf_loop_pause_(struct perf_loop_state_ *state, int on)
{
    perf_timer_ *timer = &state->timer;

    if (timer->paused == on)
        return;
    if (!on) {
        perf_timer_resume_(timer);
        return;
    }
    perf_timer_pause_(timer);
    if (timer->pause_known == timer->clocks)
        return;
    timer->pause_known = timer->clocks;             /* within the pause, so that it is not timed  */
    perf_pause_probe_(timer);
}

/* ---- what all loops do: slices, from the first run to the last round ---- */

/* The loop that begin returns; `state` NULL: out of memory. */
PERF_COLD_FN_ perf_loop perf_loop_new_(perf_loop_state_ *state)
{
    perf_loop loop = PERF_ZERO;

    loop.first = loop.variant = -1;
    loop.state = PERF_LOOP_NO_MEMORY_;
    if (!state)
        return loop;
    loop.state = state;
    loop.pause = perf_loop_pause_;
    return loop;
}

/* Hands a loop to the report, with a copy of its name.  Returns 1 if the name was cut. */
PERF_COLD_FN_ int perf_loop_add_(perf_kept_loop_ *loop, int kind, const char *name)
{
    perf_registry_ *reg = perf_registry_get_();
    uint32_t        length;
    int             cut;

    if (!name || !*name)
        name = "(unnamed)";
    length = perf_name_length_(name);
    cut = name[length] != '\0';
    PERF_LIBC_(memcpy)(loop->name, name, length);
    loop->name[length] = '\0';
    loop->kind = kind;
    if (!reg || !perf_lock_(reg))                   /* inside a signal handler: only not reported */
        return cut;
    if (cut) {
        PERF_ADD_(reg->cut_names, 1);
        perf_fail_(reg, PERF_ELIMIT);
    }
    loop->next = reg->results;
    PERF_REL_(&reg->results, loop);
    perf_unlock_(&reg->lock);
    return cut;
}

PERF_FN int perf_bench_enough_(perf_loop_state_ *state, uint64_t now);

/* A new state, until told otherwise of a bench; NULL: no memory.  One block: the state, its arms
 * and entries; [rounds] of ns and of cpu for each arm, of logs, when; `own` bytes for a filling;
 * [rounds] of first, led.  Pages that nobody touches take no memory: most of it stays free.      */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_pages_(const char *name, int kind, size_t arms,
                                                 size_t rounds, size_t own)
{
    perf_loop_state_ *state;
    double           *values;
    size_t            i, of_arms = arms * (sizeof *state->arm + sizeof *state->entry);
    size_t            of_rounds = rounds * ((2 * arms + 2) * sizeof *values + 2);
    size_t            bytes = sizeof *state + of_arms + of_rounds + own;

    state = PERF_CAST_(perf_loop_state_ *, perf_pages_(bytes, 0));
    if (!state)
        return state;
    state->loop.pages = bytes;
    state->arm = PERF_PTR_(perf_loop_arm_ *, state + 1);
    state->entry = PERF_PTR_(perf_race_entry *, state->arm + arms);
    values = PERF_PTR_(double *, state->entry + arms);
    for (i = 0; i < arms; i++) {
        state->arm[i].ns = values;
        state->arm[i].cpu = values + rounds;
        state->arm[i].batch = 1;
        state->order[i] = PERF_CAST_(unsigned char, i);
        values += 2 * rounds;
    }
    state->logs = values;
    state->when = values + rounds;
    state->own = values + 2 * rounds;
    state->first = PERF_PTR_(unsigned char *, state->own) + own;
    state->led = state->first + rounds;
    state->variants = state->running = PERF_CAST_(int, arms);
    state->timer.began = perf_now();
    state->timer.clocks = 1;
    state->coin = (state->timer.began ^ (perf_ticks() << 20)) | 1;
    state->forced = -1;
    state->enough = perf_bench_enough_;
    state->look_at = 30;
    if (kind && perf_loop_add_(&state->loop, kind, name))
        state->warnings = PERF_CAST_(uint32_t, PERF_WARN_NAME);
    return state;
}

/* A new state of the host: its clock is probed.  NULL: no memory. */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_start_(const char *name, int kind, size_t arms,
                                                 size_t rounds, int optimised)
{
    perf_loop_state_ *state = perf_loop_pages_(name, kind, arms, rounds, 0);

    if (!state)
        return state;
    if (!optimised)
        state->warnings |= PERF_CAST_(uint32_t, PERF_WARN_UNOPTIMISED);
    state->timer.overhead_ns[PERF_BY_WALL_] =
        perf_clock_probe_(PERF_BY_WALL_, &state->timer.tick_ns);
    state->timer.coarse = state->timer.tick_ns > 1000.0;
    state->fill = perf_host_filling_();
    return state;
}

/* A new order for the next round: each equally likely. */
PERF_COLD_FN_ void perf_loop_shuffle_(perf_loop_state_ *state)
{
    unsigned char one;
    int           i, j;

    state->at = 0;
    for (i = state->running - 1; i > 0; i--) {
        j = PERF_CAST_(int, (perf_random_(&state->coin) >> 32) * PERF_CAST_(uint64_t, i + 1) >> 32);
        one = state->order[i];
        state->order[i] = state->order[j];
        state->order[j] = one;
    }
}

/* The next arm of this round whose batch is still to be found.  0: none. */
PERF_FN int perf_loop_unsteady_(perf_loop_state_ *state)
{
    while (state->at < state->running && state->arm[state->order[state->at]].steady)
        state->at++;
    return state->at < state->running;
}

/* Readings of a batch that are long enough before it counts as found. */
enum { PERF_READINGS_OF_BATCH_ = 3, PERF_READINGS_OF_ONE_ = 2, PERF_READINGS_OF_SLOW_ = 1 };

PERF_COLD_FN_ int perf_loop_readings_needed_(const perf_loop_state_ *state, uint64_t batch,
                                             double slowest)
{
    if (batch > 1)
        return PERF_READINGS_OF_BATCH_;
    if (16.0 * slowest < state->opts.max_seconds * 1e9)
        return PERF_READINGS_OF_ONE_;
    return PERF_READINGS_OF_SLOW_;                  /* one takes much of the time                 */
}

/* 1: there is no body: a million iterations, more by a coarse clock, took less time than the loop's
 * own branches.                                                                                  */
PERF_COLD_FN_ int perf_loop_has_no_body_(const perf_loop_state_ *state, uint64_t batch,
                                         double slowest)
{
    uint64_t enough = 1000000;

    if (state->timer.coarse)
        enough = 10000000;
    if (state->timer.coarse && state->timer.least_ns > 0.0)
        enough = 100000000;
    return batch >= enough && slowest < 0.03 * PERF_CAST_(double, batch);
}

PERF_FN int perf_loop_is_full_(const perf_loop_arm_ *arm)
{
    return arm->most && arm->batch >= arm->most;
}

/* 1: two variants waited for different shares of their time, by a tenth of it and by three standard
 * errors.  Then one waits for work that is done elsewhere, in another process say.               */
PERF_COLD_FN_ int perf_loop_waits_apart_(const perf_loop_arm_ *one, const perf_loop_arm_ *other)
{
    const perf_loop_arm_ *arm = one;
    double                share[2], variance = 0.0, apart;
    int                   i;

    for (i = 0; i < 2; i++) {
        if (!(arm->wall_ns > 0.0))
            return 0;
        share[i] = arm->wait_ns / arm->wall_ns;
        variance += (arm->wait_sq - arm->wait_ns * arm->wait_ns / PERF_CAST_(double, arm->timed)) /
                    (arm->wall_ns * arm->wall_ns);
        arm = other;
    }
    apart = share[1] - share[0];
    return apart * apart > 0.01 && apart * apart > 9.0 * variance;
}

PERF_FN const double *perf_loop_times_(const perf_loop_state_ *state, int i)
{
    if (perf_loop_decides_(state, PERF_NULL_) == PERF_DECIDES_CPU)
        return state->arm[i].cpu;
    return state->arm[i].ns;
}

/* Processor time of this thread, or else the wall's clock: others must not make a lead longer. */
PERF_COLD_FN_ uint64_t perf_loop_own_time_(void)
{
    uint64_t ns = perf_timer_clock_(PERF_BY_THREAD_);

    return ns ? ns : perf_now();
}

PERF_FN uint64_t perf_loop_stop_(perf_loop_state_ *state, perf_status why)
{
    state->status = why;
    state->phase = PERF_LOOP_DONE_;
    return 0;
}

/* The arm of the slice under way; between two rounds the first of the next. */
PERF_COLD_FN_ int perf_loop_arm_now_(const perf_loop_state_ *state)
{
    if (state->at < state->running)
        return state->order[state->at];
    return state->order[0];
}

/* ns per iteration of an empty loop that the compiler may not delete, the best of 5. */
PERF_COLD_FN_ double perf_loop_empty_ns_(double overhead)
{
    const int iterations = 20000;
    double    best = PERF_INF_, ns;
    uint64_t  began;
    int       i, left;

    for (i = 0; i < 5; i++) {
        began = perf_now();
        for (left = iterations; left; left--)
            perf_clobber();
        ns = perf_since_(began, perf_now()) - overhead;
        best = perf_least_(best, ns / iterations);
    }
    return best;
}

/* Warnings about n slices.  ns[]: of an iteration, in time order; `all`: their summary. */
PERF_COLD_FN_ uint32_t perf_slice_warnings_(const double *ns, size_t n, const perf_summary *all,
                                            double overhead)
{
    perf_summary early, late;
    uint32_t     warnings = 0;

    /* A deleted body leaves the loop, up to 3 cycles of it in 25 runs measured; an honest single
     * multiply is in that range too, so a bench only warns, while a verdict is withheld.         */
    if (all->count && all->p50 < 5.0 && all->p50 < 5.0 * perf_loop_empty_ns_(overhead))
        warnings |= PERF_WARN_EMPTY_BODY;
    if (n >= 30) {
        early = perf_summarize(ns, n / 3);
        late = perf_summarize(ns + (n - n / 3), n / 3);
        if (perf_fabs_(early.p50 - late.p50) > 0.05 * all->p50 &&
            (early.p50_low > late.p50_high || late.p50_low > early.p50_high))
            warnings |= PERF_WARN_DRIFT;
    }
    return warnings;
}

/* ---- refused options ---- */

#define PERF_OPTION_BAD_(opts, member)                                                            \
    if (!((opts)->member >= 0))                                                                   \
        return "opts." #member " is below zero or no number";

/* Says which option cannot be meant; NULL: none. */
PERF_COLD_FN_ const char *perf_bench_refused_(const char *name, const perf_bench_opts *opts)
{
    if (name && !*name)
        return "the name of the loop is empty";
    if (!opts)
        return PERF_NULL_;
    PERF_OPTION_BAD_(opts, samples)
    PERF_OPTION_BAD_(opts, rel_ci)
    PERF_OPTION_BAD_(opts, max_seconds)
    PERF_OPTION_BAD_(opts, min_seconds)
    PERF_OPTION_BAD_(opts, slice_ns)
    PERF_OPTION_BAD_(opts, bytes)
    PERF_OPTION_BAD_(opts, items)
    PERF_OPTION_BAD_(opts, flops)
    PERF_OPTION_BAD_(opts, peak_gb_per_s)
    PERF_OPTION_BAD_(opts, peak_gflop_per_s)
    return PERF_NULL_;
}

PERF_COLD_FN_ const char *perf_race_refused_(const char *name, const perf_ab_opts *opts)
{
    if (name && !*name)
        return "the name of the loop is empty";
    if (!opts)
        return PERF_NULL_;
    PERF_OPTION_BAD_(opts, min_pairs)
    PERF_OPTION_BAD_(opts, max_pairs)
    PERF_OPTION_BAD_(opts, max_seconds)
    PERF_OPTION_BAD_(opts, slice_ns)
    if ((opts->also.metric || opts->also.kind || opts->also.amount > 0.0) &&
        (opts->also.metric < PERF_METRIC_INSTRUCTIONS ||
         opts->also.metric > PERF_METRIC_BRANCH_MISSES))
        return "opts.also is no rule on a count";
    return PERF_NULL_;
}

/* The loop runs zero times, and its result says why.  NULL: nothing happens. */
PERF_COLD_FN_ void perf_loop_refuse_(perf_loop_state_ *state, const char *why)
{
    if (!why)
        return;
    state->refused = state->loop.note = why;
    (void)perf_loop_stop_(state, PERF_EINVAL);
}

/* ---- what a body tells its bench: a failure, rates, numbers ---- */

/* The body says that it has failed: the loop ends. */
PERF_FN void perf_bench_failed_(perf_loop *loop, const char *why)
{
    perf_loop_state_ *state = loop->state;

    if (perf_loop_kind_(state) != PERF_LOOP_BENCH_ || PERF_ACQ_(&state->loop.done))
        return;
    (void)perf_loop_stop_(state, PERF_EFAILED);
    state->loop.note = why;
    loop->left = 0;
}

PERF_FN void perf_told_rates_(perf_loop *loop, double bytes, double items)
{
    perf_loop_state_ *state = loop->state;

    if (perf_loop_kind_(state) != PERF_LOOP_BENCH_)
        return;
    if (!(bytes >= 0.0 && bytes <= 1e30)) {
        perf_bench_failed_(loop, "perf_bench_rates: `bytes` is not within 0 .. 1e30");
    } else if (!(items >= 0.0 && items <= 1e30)) {
        perf_bench_failed_(loop, "perf_bench_rates: `items` is not within 0 .. 1e30");
    } else {
        state->opts.bytes = perf_or_default_(bytes, 1e-30, 1e30, 0.0);
        state->opts.items = perf_or_default_(items, 1e-30, 1e30, 0.0);
    }
}

/* The value of that counter, 0 if it is new; NULL: no more room, or the loop has ended. */
PERF_FN double *perf_told_place_(perf_kept_loop_ *loop, const char *name)
{
    const size_t room = sizeof loop->value / sizeof *loop->value;
    perf_out_    out;
    size_t       i = 0;

    if (!name || !*name)
        name = "(unnamed)";
    while (loop->counter[i][0] &&
           PERF_LIBC_(strncmp)(loop->counter[i], name, sizeof loop->counter[i] - 1))
        i++;
    if (i == room || PERF_ACQ_(&loop->done))
        return PERF_NULL_;
    out = perf_out_open_(loop->counter[i], sizeof loop->counter[i]);
    perf_put_(&out, name);
    return &loop->value[i];
}

PERF_FN void perf_told_counter_(perf_loop *loop, const char *name, double value)
{
    perf_loop_state_ *state = loop->state;
    double           *place;

    if (perf_loop_kind_(state) != PERF_LOOP_BENCH_)
        return;
    place = perf_told_place_(&state->loop, name);
    if (place)
        *place = value;
    else
        perf_bench_failed_(loop, "perf_bench_counter: more than 16 names");
}

/* ---- bench ---- */

PERF_FN perf_bench_opts perf_bench_resolved_(const perf_bench_opts *opts)
{
    perf_bench_opts options = PERF_ZERO;

    if (opts)
        options = *opts;
    if (!options.warmup)
        options.warmup = 5;
    if (options.warmup < 0)
        options.warmup = 0;
    options.samples = perf_clamp_(options.samples, 0, PERF_LOOP_MAX_SAMPLES_);
    options.rel_ci = perf_or_default_(options.rel_ci, 1e-6, 1.0, 0.01);
    options.max_seconds = perf_or_default_(options.max_seconds, 1e-6, 1e6, 1.0);
    options.min_seconds = perf_or_default_(options.min_seconds, 1e-9, options.max_seconds, 0.0);
    options.slice_ns = perf_or_default_(options.slice_ns, 1e3, 1e9, 50e3);
    if (options.slice_ns * PERF_LOOP_FULL_ * PERF_LOOP_SLICES_PLANNED_ < options.min_seconds * 1e9)
        options.slice_ns =
            options.min_seconds * 1e9 / (PERF_LOOP_FULL_ * PERF_LOOP_SLICES_PLANNED_);
    options.bytes = perf_or_default_(options.bytes, 1e-30, 1e30, 0.0);
    options.items = perf_or_default_(options.items, 1e-30, 1e30, 0.0);
    options.flops = perf_or_default_(options.flops, 1e-30, 1e30, 0.0);
    options.peak_gb_per_s = perf_or_default_(options.peak_gb_per_s, 1e-30, 1e30, 0.0);
    options.peak_gflop_per_s = perf_or_default_(options.peak_gflop_per_s, 1e-30, 1e30, 0.0);
    return options;
}

PERF_FN int perf_bench_narrow_(const perf_loop_state_ *state, const perf_summary *sum)
{
    return sum->p50_high - sum->p50_low <= 2.0 * state->opts.rel_ci * sum->p50;
}

/* 1 when sampling may end: the median is known well enough, or samples or time have run out. */
PERF_FN int perf_bench_enough_(perf_loop_state_ *state, uint64_t now)
{
    const perf_loop_arm_ *arm = &state->arm[0];
    const int             late = perf_timer_late_(&state->timer, now, state->opts.max_seconds, 0.0);
    perf_summary          sum;

    if (late && arm->count >= PERF_LOOP_LEAST_)
        return 1;
    if (state->opts.samples)
        return arm->count >= PERF_CAST_(size_t, state->opts.samples);
    if (arm->count >= PERF_LOOP_SLICES_PLANNED_)
        return 1;
    if (arm->count < state->look_at ||
        !perf_timer_late_(&state->timer, now, state->opts.min_seconds, 0.0))
        return 0;
    state->look_at = arm->count + arm->count / 4;
    sum = perf_summarize_series_(perf_loop_times_(state, 0), arm->count);
    return perf_bench_narrow_(state, &sum);
}

PERF_OUTLINE_FN_ perf_loop perf_bench_open_(const char *name, int kind, int variants,
                                            const void *opts, int optimised)
{
    const perf_bench_opts *asked = PERF_CAST_(const perf_bench_opts *, opts);
    const perf_bench_opts  options = perf_bench_resolved_(asked);
    size_t                 room = PERF_LOOP_SLICES_PLANNED_;
    perf_loop_state_      *state = PERF_NULL_;

    if (options.samples)
        room = PERF_CAST_(size_t, options.samples);
    if (perf_not_cold_())
        state = perf_loop_start_(name, kind, PERF_CAST_(size_t, variants), room, optimised);
    if (state) {
        state->opts = options;
        state->left_to_warm = options.warmup;
        perf_loop_refuse_(state, perf_bench_refused_(name, asked));
    }
    return perf_loop_new_(state);
}

/* The interval of the median, by so many ns more on each side. */
PERF_COLD_FN_ void perf_summary_widen_(perf_summary *summary, double by)
{
    summary->p50_low = perf_most_(summary->p50_low - by, 0.0);
    summary->p50_high += by;
}

/* Widens the intervals by the step of a coarse clock and by the uncertain cost of pauses. */
PERF_COLD_FN_ void perf_bench_doubt_(const perf_loop_state_ *state, perf_result *result)
{
    const double batch = PERF_CAST_(double, result->batch);
    const double pauses = state->arm[0].doubt_ns / batch;
    const double step = perf_timer_tick_(&state->timer) / batch;

    if (state->timer.coarse && result->decides == PERF_DECIDES_WALL) {
        perf_summary_widen_(&result->time, step);
        if (step > 0.001 * result->time.p50)
            result->warnings |= PERF_WARN_RESOLUTION;
    }
    perf_summary_widen_(&result->time, pauses);
    if (result->cpu.count)
        perf_summary_widen_(&result->cpu, pauses);
    if (pauses > 0.01 * perf_result_main_(result)->p50)
        result->warnings |= PERF_WARN_PAUSES;
}

/* PERF_ENODATA where a loop went well and has none of these. */
PERF_FN perf_status perf_loop_status_(const perf_loop_state_ *state, uint64_t count)
{
    if (state->status == PERF_OK && !count)
        return PERF_ENODATA;
    return state->status;
}

/* PERF_OK; or why this is no loop of that kind to be ended: no memory, no begin, ended already. */
PERF_COLD_FN_ perf_status perf_loop_may_end_(const perf_loop_state_ *state, int kind)
{
    if (state == PERF_LOOP_NO_MEMORY_)
        return PERF_ENOMEM;
    if (perf_loop_kind_(state) != kind || PERF_ACQ_(&state->loop.done))
        return PERF_ESTATE;
    return PERF_OK;
}

/* There are no more slices.  Takes the warnings about them. */
PERF_COLD_FN_ void perf_loop_slices_over_(perf_loop_state_ *state, int64_t left)
{
    perf_loop_arm_ *arm = &state->arm[perf_loop_arm_now_(state)];
    const int       timing = state->phase < PERF_LOOP_COUNT_,
                    counting = state->phase == PERF_LOOP_COUNT_;

    if (timing && state->phase != PERF_LOOP_START_ && left >= 0)
        arm->runs += arm->batch - PERF_CAST_(uint64_t, left);   /* a slice that a break cut       */
    if (timing)
        state->warnings |= PERF_WARN_STOPPED;
    if (state->timer.backwards)
        state->warnings |= PERF_WARN_CLOCK;
    if (state->timer.unresumed)
        state->warnings |= PERF_WARN_PAUSED;
    state->phase = PERF_LOOP_DONE_;
    if (counting)                               /* a break cut a counted slice: it ends, too      */
        (void)state->counted(state);
}

PERF_OUTLINE_FN_ perf_result perf_bench_close_(struct perf_loop_state_ *state, int64_t left)
{
    perf_result           result = PERF_ZERO;
    const perf_loop_arm_ *arm;
    const perf_summary   *sum;

    result.why = "nothing was measured";
    result.status = perf_loop_may_end_(state, PERF_LOOP_BENCH_);
    if (result.status != PERF_OK)
        return result;
    perf_loop_slices_over_(state, left);
    arm = &state->arm[0];
    result.decides = perf_loop_decides_(state, &result.why);
    result.time.status = state->status;             /* never a plausible time beside a failure    */
    if (state->status == PERF_OK)
        result.time = perf_summarize_series_(arm->ns, arm->count);
    if (state->status == PERF_OK && state->timer.clocks > 1)
        result.cpu = perf_summarize_series_(arm->cpu, arm->count);
    sum = perf_result_main_(&result);
    result.first_ns = arm->first_ns;
    result.overhead_ns = state->timer.overhead_ns[PERF_BY_WALL_];
    result.batch = arm->batch;
    result.iterations = arm->runs;
    result.opts = state->opts;
    result.status = perf_loop_status_(state, result.time.count);
    result.warnings = state->warnings | sum->warnings;
    if (result.time.count) {
        perf_bench_doubt_(state, &result);
        result.warnings |= perf_slice_warnings_(perf_loop_times_(state, 0), arm->count, sum,
                                                result.overhead_ns);
        if (!perf_bench_narrow_(state, sum))
            result.warnings |= PERF_WARN_NOISY;
        perf_result_rates_(&result);
    }
    state->result = result;
    perf_loop_done_(state, &state->result);
    return state->result;
}

/* ---- ab and race: 2 to 64 variants ---- */

#define PERF_LEAD_MOST_NS_    20e6      /* the longest lead: some turns of any scheduler          */
#define PERF_LEAD_FIRST_      4.0       /* slices, when leads are found to be needed              */
#define PERF_LEAD_GROWS_      4.0       /* times as long where that was not enough                */
#define PERF_LONGER_SHARE_    0.5       /* at most, of the time so far: rounds with longer leads  */
#define PERF_LONGER_PART_     8.0       /* 1 / 8 of the time so far, at most: leads of one round  */
#define PERF_LONGER_LEAST_    5         /* such rounds that an answer needs                       */
#define PERF_LONGER_HURRIED_  4         /* likewise if rounds are slow or opts.min_seconds < 0    */
#define PERF_LONGER_TELL_     3         /* values that a median needs; of a debt, each variant's  */
#define PERF_ROUND_SLOW_NS_   20e6      /* a round of more is slow                                */
#define PERF_RESTARTS_        8         /* so often pairs that disagree are taken anew            */
#define PERF_RACE_SECONDS_    0.5       /* default of min_seconds: its last third is warmed up    */
#define PERF_SURE_            2.5       /* standard errors between medians that differ: 1 in 80   */
#define PERF_TRIFLE_LEAST_    0.002     /* a difference of logs that never counts: code placement */
#define PERF_TRIFLE_MOST_     0.01      /* one that always counts                                 */
#define PERF_DEBT_LEAST_      0.02      /* of an iteration                                        */
#define PERF_DEBT_LIKELY_     1.5       /* standard errors: more leads have to tell               */
#define PERF_DEBT_SURE_       3.0
#define PERF_MEDIAN_ERROR_    1.8582    /* sqrt(pi / 2) * 1.4826: of a median, over mad / sqrt(n) */
#define PERF_TURNS_APART_     1.15      /* ratio in turns against that with leads: a note         */

/* Pairs at most, where nobody said so. */
PERF_FN int perf_race_usual_most_(const perf_ab_opts *opts, int variants)
{
    if (variants > 2)
        return 1000;
    if (opts->accept.rule.metric == PERF_METRIC_PAIR)
        return 5000;
    return 400;
}

PERF_FN perf_ab_opts perf_race_resolved_(const perf_ab_opts *opts, int variants)
{
    perf_ab_opts options = PERF_ZERO;
    double       slice_most;

    if (opts)
        options = *opts;
    options.accept = perf_compare_opts_resolved_(&options.accept);
    options.accept.design = PERF_DESIGN_RANDOM;
    if (options.also.metric)
        options.accept.rules = perf_clamp_(options.accept.rules, 2, 1000);
    if (options.min_pairs <= 0)
        options.min_pairs = 22 + variants;          /* to tell the best from all others           */
    options.min_pairs = perf_clamp_(options.min_pairs, 1, PERF_LOOP_MAX_SAMPLES_);
    if (options.max_pairs <= 0)
        options.max_pairs = perf_race_usual_most_(&options, variants);
    options.max_pairs = perf_clamp_(options.max_pairs, options.min_pairs, PERF_LOOP_MAX_SAMPLES_);
    options.max_seconds = perf_or_default_(options.max_seconds, 1e-6, 1e6, 2.0);
    options.slice_ns = perf_or_default_(options.slice_ns, 1e3, 1e9, 50e3);
    slice_most = options.max_seconds * 1e9 / 64.0;  /* room for the pairs that an answer takes    */
    options.slice_ns = perf_most_(perf_least_(options.slice_ns, slice_most), 1e3);
    options.control = options.control < 0 ? -1 : 1;
    if (options.min_seconds < 0.0)
        options.min_seconds = -1.0;
    else
        options.min_seconds = perf_or_default_(options.min_seconds, 1e-9, options.max_seconds,
                                               perf_least_(PERF_RACE_SECONDS_,
                                                           0.5 * options.max_seconds));
    return options;
}

/* How far the log ratio of a pair may be off, by the step of the clock and the cost of pauses. */
PERF_FN double perf_race_tick_(const perf_loop_state_ *state, int i, int j)
{
    const perf_loop_arm_ *arm = &state->arm[i], *other = &state->arm[j];
    const double          tick = perf_timer_tick_(&state->timer);

    return perf_step_log_((tick + arm->doubt_ns) / arm->fastest,
                          (tick + other->doubt_ns) / other->fastest);
}

PERF_FN int perf_pair_picked_(const perf_loop_state_ *state, size_t pair, perf_pick_ pick)
{
    const double begin = state->when[0], end = state->when[state->arm[0].count - 1];
    const double third = (end - begin) / 3.0;

    switch (PERF_CAST_(int, pick)) {
    case PERF_USUAL_PAIRS_:
        return !state->led[pair];
    case PERF_LONGER_PAIRS_:
        return state->led[pair];
    case PERF_EARLY_PAIRS_:
        return pair < 5 ||      /* others may have had most of that third                         */
               state->when[pair] <= begin + third;
    case PERF_LATE_PAIRS_:
        return state->when[pair] >= end - third;
    case PERF_BEGUN_BY_0_:
        return !state->led[pair] && state->first[pair] == 0;
    case PERF_BEGUN_BY_1_:
        return !state->led[pair] && state->first[pair] == 1;
    default:
        return 1;
    }
}

/* Log ratios of variants i and j into state->logs; returns how many pairs have one. */
PERF_COLD_FN_ size_t perf_race_logs_(const perf_loop_state_ *state, int i, int j, perf_pick_ pick)
{
    const double *a = perf_loop_times_(state, i), *b = perf_loop_times_(state, j);
    size_t        n = 0, k;

    for (k = 0; k < state->arm[0].count; k++)
        if (a[k] > 0.0 && b[k] > 0.0 && perf_pair_picked_(state, k, pick))
            state->logs[n++] = perf_log_(b[k]) - perf_log_(a[k]);
    return n;
}

/* The centre of n values, whose order is changed. */
PERF_COLD_FN_ perf_centre_ perf_race_centre_(double *value, size_t n)
{
    perf_centre_ centre = PERF_ZERO;
    size_t       k;

    centre.n = n;
    centre.error = PERF_INF_;
    if (!n)
        return centre;
    perf_sort_values_(value, n);
    centre.at = perf_quantile_(value, n, 0.5);
    for (k = 0; k < n; k++)
        value[k] = perf_fabs_(value[k] - centre.at);
    perf_sort_values_(value, n);
    centre.spread = perf_quantile_(value, n, 0.5);
    centre.error = PERF_MEDIAN_ERROR_ * centre.spread / perf_sqrt_(PERF_CAST_(double, n));
    return centre;
}

/* The centre of variant i against variant 0, of some pairs. */
PERF_COLD_FN_ perf_centre_ perf_race_centre_of_(const perf_loop_state_ *state, int i,
                                                perf_pick_ pick)
{
    return perf_race_centre_(state->logs, perf_race_logs_(state, 0, i, pick));
}

/* How far the ratio is from the threshold, or the nearer limit, as logs. */
PERF_FN double perf_race_margin_(const perf_loop_state_ *state, double ratio)
{
    return perf_fabs_(perf_rule_room_(&state->ask.accept.rule, ratio));
}

/* 1: two ratios, as logs, give the same answer. */
PERF_FN int perf_race_alike_(const perf_loop_state_ *state, double one, double other)
{
    const perf_rule *rule = &state->ask.accept.rule;

    return (perf_rule_room_(rule, one) > 0.0) == (perf_rule_room_(rule, other) > 0.0);
}

/* The largest difference of two ratios that does not matter this far from the threshold. */
PERF_FN double perf_race_trifle_(double margin)
{
    return perf_or_default_(0.25 * margin, PERF_TRIFLE_LEAST_, PERF_TRIFLE_MOST_,
                            PERF_TRIFLE_LEAST_);
}

/* 1: two medians differ by more than noise explains, and by more than a trifle:
 *     gap^2 > (PERF_SURE_^2 + 2 log(variants - 1)) * (sum of their squared errors)
 * Of many variants noise alone makes the farthest differ more: hence the logarithm.              */
PERF_COLD_FN_ int perf_race_differ_(const perf_loop_state_ *state, perf_centre_ a, perf_centre_ b,
                                    double trifle)
{
    const double gap = perf_fabs_(a.at - b.at);
    const double sure = PERF_SURE_ * PERF_SURE_ + 2.0 * perf_log_(state->variants - 1.0);

    return gap > trifle && gap * gap > sure * (a.error * a.error + b.error * b.error);
}

/* 1: the answer is the same at both medians, and would be if they were twice as far apart, by more
 * than noise explains.  Then their difference does not matter.                                   */
PERF_COLD_FN_ int perf_race_beyond_doubt_(const perf_loop_state_ *state, perf_centre_ a,
                                          perf_centre_ b)
{
    const double further = b.at + (b.at - a.at);

    return perf_race_alike_(state, a.at, b.at) && perf_race_alike_(state, b.at, further) &&
           perf_race_margin_(state, a.at) > PERF_SURE_ * a.error &&
           perf_race_margin_(state, further) > 2.0 * PERF_SURE_ * b.error;
}

/* 1: the second of a pair is faster, whichever variant it is.  Then the answer depends on how often
 * each began: the pairs that one began and those that the other began lie on two sides of the
 * threshold, further apart than 2 sqrt(sum of their squared spreads).                            */
PERF_COLD_FN_ int perf_race_order_matters_(const perf_loop_state_ *state)
{
    perf_centre_ a, b;

    if (state->running != 2 || state->arm[0].count < 16)
        return 0;
    a = perf_race_centre_of_(state, 1, PERF_BEGUN_BY_0_);
    b = perf_race_centre_of_(state, 1, PERF_BEGUN_BY_1_);
    if (a.n < 2 || b.n < 2 || perf_race_alike_(state, a.at, b.at))
        return 0;
    a.error = 2.0 * a.spread / PERF_SURE_;      /* perf_race_differ_ multiplies by PERF_SURE_     */
    b.error = 2.0 * b.spread / PERF_SURE_;
    return perf_race_differ_(state, a, b, PERF_TRIFLE_LEAST_);
}

/* The level of a bet: 2 * open * rules * 2^restarts / (1 - confidence).  `open`: variants that are
 * not decided yet.  Each time pairs are taken anew is another try, with half the chance to err.  */
PERF_FN double perf_race_level_(const perf_loop_state_ *state, int open)
{
    int tests = open;

    if (state->ask.accept.rules > 1)
        tests *= state->ask.accept.rules;
    return PERF_CAST_(double, tests << state->restarts) * 2.0 /
           (1.0 - state->ask.accept.confidence);
}

/* ---- what may be said against an answer: docs/statistics-evidence.md has the table ---- */

/* 1: longer leads change the ratio.  `lenient`: only if that may change the answer. */
PERF_COLD_FN_ int perf_race_leads_matter_(const perf_loop_state_ *state, int i, int lenient)
{
    const perf_centre_ usual = perf_race_centre_of_(state, i, PERF_USUAL_PAIRS_);
    const perf_centre_ longer = perf_race_centre_of_(state, i, PERF_LONGER_PAIRS_);

    if (longer.n < PERF_LONGER_TELL_ || usual.n < PERF_LONGER_TELL_ ||
        !perf_race_differ_(state, usual, longer,
                           perf_race_trifle_(perf_race_margin_(state, usual.at))))
        return 0;
    return !lenient || !perf_race_beyond_doubt_(state, usual, longer);
}

/* What too few pairs mean.  Loops that have slow rounds, or shall end at once, do not wait. */
PERF_FN int perf_race_cannot_tell_(const perf_loop_state_ *state)
{
    if (state->ask.min_seconds > 0.0 && state->round_least_ns < PERF_ROUND_SLOW_NS_)
        return PERF_TOO_FEW_;
    return PERF_NO_OBJECTION_;
}

/* PERF_RATIO_DRIFTS_, or that there are too few pairs to tell; few pairs in all tell nothing. */
PERF_COLD_FN_ int perf_race_drifts_(const perf_loop_state_ *state, int i)
{
    const perf_centre_ early = perf_race_centre_of_(state, i, PERF_EARLY_PAIRS_);
    const perf_centre_ late = perf_race_centre_of_(state, i, PERF_LATE_PAIRS_);

    if (state->arm[0].count < 15)
        return PERF_NO_OBJECTION_;
    if (early.n < 5 || late.n < 5)
        return perf_race_cannot_tell_(state);
    if (perf_race_differ_(state, early, late,
                          perf_race_trifle_(perf_race_margin_(state, late.at))) &&
        !perf_race_beyond_doubt_(state, early, late))
        return PERF_RATIO_DRIFTS_;
    return PERF_NO_OBJECTION_;
}

/* By what share of an iteration longer leads took more time than slices do: those of variant i
 * (of_i 1) or of variant 0, in rounds where the other one of the two had run before.  log_ratio: of
 * their slices, i over 0.                                                                        */
PERF_COLD_FN_ perf_centre_ perf_race_owed_(const perf_loop_state_ *state, int i, int of_i,
                                           double log_ratio)
{
    const perf_loop_arm_ *arm = &state->arm[i];
    double                owed[PERF_OWED_], beyond;
    size_t                k, found = 0;

    for (k = 0; k < arm->owed_count && k < PERF_OWED_; k++) {
        if (arm->owed[k].later != of_i)
            continue;
        beyond = arm->owed[k].log_ratio;
        if (arm->owed[k].as_timed)
            beyond -= log_ratio;
        if (!of_i)
            beyond = -beyond;
        owed[found++] = perf_exp_(beyond) - 1.0;
    }
    return perf_race_centre_(owed, found);
}

/* PERF_DEBT_: one variant takes longer in its leads than in the slices after them, because it does
 * work that the other left.  If that time counted for the other, the answer would change.  Where
 * that is likely but not sure, more leads have to tell.  Shares are of an iteration of variant 0.*/
PERF_COLD_FN_ int perf_race_in_debt_(const perf_loop_state_ *state, int i)
{
    const perf_centre_ all = perf_race_centre_of_(state, i, PERF_ALL_PAIRS_);
    const double       ratio = perf_exp_(all.at);
    const perf_centre_ of_0 = perf_race_owed_(state, i, 0, all.at);
    const perf_centre_ of_i = perf_race_owed_(state, i, 1, all.at);
    const double       share = of_0.at - ratio * of_i.at, gap = perf_fabs_(share);
    const double       error_i = ratio * of_i.error, error_all = (1.0 + ratio) * all.error;
    const double       error = perf_sqrt_(of_0.error * of_0.error + error_i * error_i +
                                          error_all * error_all);
    const int          untimed = state->opts.before || state->timer.pause_known; /* noisy leads */
    double             in_full = ratio + share;     /* if 0 does work that i left: add it to i    */

    if (of_0.n < PERF_LONGER_TELL_ || of_i.n < PERF_LONGER_TELL_)
        return perf_race_cannot_tell_(state);
    if (!(share > 0.0))                         /* if i does work that 0 left: add it to 0        */
        in_full = ratio / (1.0 - share);
    if (gap < PERF_DEBT_LEAST_ || perf_race_alike_(state, all.at, perf_log_(in_full)))
        return PERF_NO_OBJECTION_;
    if (gap >= PERF_DEBT_SURE_ * error)
        return PERF_DEBT_;
    if (gap < PERF_DEBT_LIKELY_ * error || (untimed && state->lenient))
        return PERF_NO_OBJECTION_;
    if (perf_race_cannot_tell_(state) == PERF_TOO_FEW_)
        return PERF_DEBT_PERHAPS_;
    return PERF_NO_OBJECTION_;
}

/* 1: the pairs with longer leads give the same answer by themselves, or the same ratio. */
PERF_COLD_FN_ int perf_race_confirmed_(const perf_loop_state_ *state, int i)
{
    const perf_centre_ all = perf_race_centre_of_(state, i, PERF_ALL_PAIRS_);
    const perf_centre_ longer = perf_race_centre_of_(state, i, PERF_LONGER_PAIRS_);
    const double       margin = perf_race_margin_(state, all.at);
    const int          same_side = perf_race_alike_(state, all.at, longer.at);
    const int          precise = 2.0 * longer.error <= margin;

    if (same_side && !(state->lead_ns > 0.0))
        return 1;                               /* nothing has ever spoken against it             */
    if (same_side && perf_race_margin_(state, longer.at) > 2.0 * longer.error)
        return 1;
    return precise && perf_fabs_(all.at - longer.at) <= 0.5 * margin;
}

/* The quickest slice of the slowest variant, timed parts alone. */
PERF_FN double perf_race_slice_ns_(const perf_loop_state_ *state)
{
    double slowest = 0.0;
    int    i;

    for (i = 0; i < state->variants; i++)
        slowest = perf_most_(state->arm[i].fastest, slowest);
    return slowest;
}

/* ns since begin, or in slices if the clock was set back. */
PERF_FN double perf_race_took_(const perf_loop_state_ *state, uint64_t now)
{
    return perf_most_(perf_since_(state->timer.began, now), state->timer.spent_ns);
}

/* 1: there is time to take all pairs anew with that lead. */
PERF_COLD_FN_ int perf_race_may_restart_(const perf_loop_state_ *state, uint64_t now,
                                         double lead_ns)
{
    double round = state->round_ns;

    if (lead_ns > 0.0)
        round = perf_most_(state->variants * (lead_ns + 2.0 * perf_race_slice_ns_(state)), round);
    return state->restarts < PERF_RESTARTS_ &&
           !perf_timer_late_(&state->timer, now, state->opts.max_seconds,
                             state->ask.min_pairs * round);
}

/* Drops what was measured so far: pairs begin anew, with that lead. */
PERF_COLD_FN_ void perf_race_restart_(perf_loop_state_ *state, double lead_ns)
{
    const int first_leads = lead_ns > 0.0 && !(state->lead_ns > 0.0);
    int       i;

    for (i = 1; first_leads && i < state->variants; i++)
        state->arm[i].turns_ratio = perf_exp_(perf_race_centre_of_(state, i, PERF_USUAL_PAIRS_).at);
    for (i = 0; i < state->variants; i++)
        state->arm[i].count = state->arm[i].owed_count = 0;
    state->looked_at = state->longer_count = 0;
    state->few_longer = 0;
    state->round_least_ns = 0.0;
    state->look_at = 32;
    state->lead_ns = lead_ns;
    state->restarts++;
}

/* The pairs disagree: they are taken anew.  If leads change the ratio, all slices get leads, or
 * longer ones than they had.  1: those are as long as they may be, or there is no time.          */
PERF_COLD_FN_ int perf_race_anew_(perf_loop_state_ *state, uint64_t now, int objection)
{
    const int turns = objection == PERF_TURNS_MATTER_;
    double    lead = state->lead_ns;

    if (turns && lead > 0.0)
        lead = perf_least_(PERF_LEAD_GROWS_ * lead, PERF_LEAD_MOST_NS_);
    else if (turns)
        lead = perf_least_(PERF_LEAD_FIRST_ * perf_race_slice_ns_(state), PERF_LEAD_MOST_NS_);
    if (turns && !(lead > state->lead_ns))
        return 1;
    if (!perf_race_may_restart_(state, now, lead))
        return 1;
    perf_race_restart_(state, lead);
    return 0;
}

/* Only that variant runs; below 0: all do, and every report notes a number that is too high. */
PERF_COLD_FN_ void perf_race_force_(perf_loop_state_ *state, int variant)
{
    perf_registry_ *reg = perf_registry_get_();

    if (variant >= state->variants && reg) {
        PERF_SET_(&reg->bad_variant, 1u);
        perf_fail_(reg, PERF_ERANGE);
    }
    if (variant < 0 || variant >= state->variants)
        return;
    state->forced = variant;
    state->running = 1;
    state->order[0] = PERF_CAST_(unsigned char, variant);
}

/* 1: a verdict by processor time is the opposite of what the wall's clock says: by its bets, or by
 * its medians, if their ratio is off by more than a factor of two.                               */
PERF_COLD_FN_ int perf_race_wall_objects_(const perf_loop_state_ *state, int i,
                                          const perf_verdict *verdict)
{
    const perf_loop_arm_ *arm = &state->arm[0], *other = &state->arm[i];
    double                ratio, cpu = verdict->ratio.estimate;
    int                   accepted, apart;

    if (verdict->decision == PERF_INCONCLUSIVE ||
        perf_loop_decides_(state, PERF_NULL_) == PERF_DECIDES_WALL)
        return 0;
    if (other->seq[0].decision != PERF_INCONCLUSIVE && other->seq[0].decision != verdict->decision)
        return 1;
    ratio = perf_summarize(other->ns, other->count).p50 / perf_summarize(arm->ns, arm->count).p50;
    accepted = perf_rule_room_(&verdict->rule, perf_log_(ratio)) > 0.0;
    apart = ratio > 2.0 * cpu || cpu > 2.0 * ratio;
    return apart && accepted != (verdict->decision == PERF_ACCEPT);
}

/* Refuses a rule that no loop can hold, and those on counts until the loop counts. */
PERF_COLD_FN_ void perf_race_check_(perf_loop_state_ *state, int in_range)
{
    const perf_metric metric = state->ask.accept.rule.metric;
    const int         on_count = metric >= PERF_METRIC_INSTRUCTIONS;
    const int         on_time = metric < PERF_METRIC_MEMORY;
    const int         also = state->ask.also.metric != PERF_METRIC_PAIR;
    const int         is_race = state->loop.kind == PERF_LOOP_RACE_;

    if (perf_race_decide_(state, 1, 0).status != PERF_OK || !in_range ||
        (is_race && !on_count && !state->typical)) {
        (void)perf_loop_stop_(state, PERF_EINVAL);
        return;
    }
    if (state->refused || (on_time && !also))
        return;
    if (on_time || on_count)
        state->on_counts = on_count + 2 * also;
    perf_loop_refuse_(state, "a rule is not on time: on counts a loop needs perf_counters_loop()");
}

/* What a new A/B loop or race asks for, in resolved opts.  in_range 0: too few or many variants. */
PERF_COLD_FN_ void perf_race_ask_(perf_loop_state_ *state, const char *name,
                                  const perf_ab_opts *opts, int in_range)
{
    perf_race_force_(state, perf_variant(name, -1));
    state->ask = *opts;
    if (!state->ask.seed)
        state->ask.seed = state->coin;
    state->coin = state->ask.seed;
    state->opts.max_seconds = opts->max_seconds;
    state->opts.slice_ns = opts->slice_ns;
    state->opts.before = opts->before;
    state->opts.user = opts->user;
    state->enough = perf_race_round_;
    state->typical = opts->accept.rule.metric == PERF_METRIC_PAIR;
    state->look_at = 32;
    perf_race_check_(state, in_range);
}

/* Of two arms.  own: bytes for a filling, and more for each round. */
PERF_COLD_FN_ perf_loop_state_ *perf_race_pages_(const char *name, int kind,
                                                 const perf_ab_opts *opts, size_t own,
                                                 size_t own_a_round)
{
    const perf_ab_opts options = perf_race_resolved_(opts, 2);
    const size_t       rounds = PERF_CAST_(size_t, options.max_pairs);
    perf_loop_state_  *state = perf_loop_pages_(name, kind, 2, rounds, own + rounds * own_a_round);

    if (state)
        perf_race_ask_(state, name, &options, 1);
    return state;
}

PERF_OUTLINE_FN_ perf_loop perf_race_open_(const char *name, int kind, int variants,
                                           const void *opts, int optimised)
{
    const int           arms = perf_clamp_(variants, 2, PERF_RACE_MOST_);
    const perf_ab_opts *asked = PERF_CAST_(const perf_ab_opts *, opts);
    const perf_ab_opts  options = perf_race_resolved_(asked, arms);
    perf_loop_state_   *state = PERF_NULL_;

    if (perf_not_cold_())
        state = perf_loop_start_(name, kind, PERF_CAST_(size_t, arms),
                                 PERF_CAST_(size_t, options.max_pairs), optimised);
    if (!state)
        return perf_loop_new_(state);
    state->left_to_warm = 2;
    perf_loop_refuse_(state, perf_race_refused_(name, asked));
    perf_race_ask_(state, name, &options, arms == variants);
    return perf_loop_new_(state);
}

PERF_COLD_FN_ const char *perf_objection_text_(int objection)
{
    switch (objection) {
    case PERF_TURNS_MATTER_:
        return "after longer leads the ratio is another: they share state; set it up anew in "
               "opts.before";
    case PERF_RATIO_DRIFTS_:
        return "the last third of the pairs has another ratio than the first: warm up, or "
               "measure longer";
    case PERF_DEBT_:
        return "one of them leaves work to the other: with it the answer would change";
    case PERF_DEBT_PERHAPS_:
        return "one of them may leave work to the other: more of opts.max_seconds";
    case PERF_NOT_CONFIRMED_:
        return "the pairs after longer leads do not confirm it: more of opts.max_seconds";
    default:
        return "too few pairs after longer leads or at the end: more of opts.max_seconds, or "
               "opts.control = -1";
    }
}

/* 1: the ratio in turns without leads is far from that of the verdict. */
PERF_COLD_FN_ int perf_race_turns_apart_(const perf_loop_state_ *state)
{
    double apart;
    int    i;

    for (i = 1; i < state->variants; i++) {
        apart = state->arm[i].turns_ratio / state->entry[i].verdict.ratio.estimate;
        if (apart > PERF_TURNS_APART_ || (apart > 0.0 && apart * PERF_TURNS_APART_ < 1.0))
            return 1;
    }
    return 0;
}

/* No verdict on an arm that takes little longer than an empty loop.  1: it is withheld. */
PERF_COLD_FN_ int perf_race_no_body_(perf_verdict *verdict, uint32_t of_baseline,
                                     uint32_t of_candidate)
{
    const int decided = verdict->decision != PERF_INCONCLUSIVE;

    if (of_candidate & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(verdict, "the candidate takes little longer than an empty loop: was it "
                                   "deleted? perf_keep() its result");
    else if (of_baseline & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(verdict, "the baseline takes little longer than an empty loop: was it "
                                   "deleted? perf_keep() its result");
    return decided && verdict->decision == PERF_INCONCLUSIVE;
}

/* How many of n times are a quarter slower than their median. */
PERF_COLD_FN_ double perf_slow_ones_(const double *ns, size_t n, double median)
{
    double slow = 0.0;
    size_t i;

    for (i = 0; i < n; i++)
        slow += ns[i] > 1.25 * median;
    return slow;
}

/* Adds the ratio of means or p99 to an answer that it contradicts.  One arm then has more slow
 * slices, by three standard errors, and that ratio is beyond the threshold.                      */
PERF_COLD_FN_ void perf_race_shape_(const perf_loop_state_ *state, int i, perf_verdict *verdict)
{
    const double      *base_ns = perf_loop_times_(state, 0), *ns = perf_loop_times_(state, i);
    const size_t       count = state->arm[0].count;
    const perf_summary base = perf_summarize(base_ns, count), arm = perf_summarize(ns, count);
    const double       n = PERF_CAST_(double, count);
    const double       base_slow = perf_slow_ones_(base_ns, count, base.p50);
    const double       slow = perf_slow_ones_(ns, count, arm.p50), more = slow - base_slow;
    const double       share = (base_slow + slow) / (2.0 * n);
    const int          unlike = more * more > 9.0 * 2.0 * n * share * (1.0 - share);
    const int          accepted = verdict->decision == PERF_ACCEPT;

    if (verdict->decision == PERF_INCONCLUSIVE || count < 20 || !unlike)
        return;
    if ((perf_rule_room_(&verdict->rule, perf_log_(arm.mean / base.mean)) > 0.0) != accepted)
        verdict->mean_ratio = arm.mean / base.mean;
    if ((perf_rule_room_(&verdict->rule, perf_log_(arm.p99 / base.p99)) > 0.0) != accepted)
        verdict->p99_ratio = arm.p99 / base.p99;
    if (verdict->mean_ratio > 0.0 || verdict->p99_ratio > 0.0 || (more > 0.0) == accepted)
        verdict->warnings |= PERF_WARN_SHAPE;
}

/* Names the best variant, and those not shown to be slower than it: they lost a bet on "slower than
 * the best", at the level variants * (variants - 1) / (1 - confidence) for all pairs of them.    */
PERF_COLD_FN_ void perf_race_rank_(perf_loop_state_ *state, perf_race_result *result)
{
    const int    arms = state->variants;
    const double level = arms * (arms - 1.0) / (1.0 - state->ask.accept.confidence);
    double       tick;
    size_t       n, k;
    int          i;

    for (i = 0; i < arms; i++)
        if (state->entry[i].time.count &&
            (result->best < 0 || state->entry[i].time.p50 < state->entry[result->best].time.p50))
            result->best = i;
    for (i = 0; result->best >= 0 && i < arms; i++) {
        if (!state->entry[i].time.count)
            continue;                               /* another one was forced                     */
        n = perf_race_logs_(state, result->best, i, PERF_ALL_PAIRS_);
        tick = perf_race_tick_(state, result->best, i);
        for (k = 0; k < n; k++)
            state->logs[k] -= tick + 1e-12;
        state->entry[i].within_noise =
            !(perf_seq_interval(state->logs, n, 1.0 - 2.0 / level).low > 0.0);
        state->entry[i].behind = 1.0;
        if (i != result->best)
            state->entry[i].behind = perf_exp_(perf_race_centre_(state->logs, n).at + tick);
    }
}

/* Why a loop without a single pair has no verdict. */
PERF_COLD_FN_ const char *perf_race_why_none_(const perf_loop_state_ *state, perf_status status)
{
    if (state->refused)
        return state->refused;
    if (status != PERF_EDELETED || state->loop.kind == PERF_LOOP_RACE_)
        return perf_status_text(status);
    if (perf_loop_arm_now_(state))
        return "the compiler deleted the candidate's body: perf_keep() its result";
    return "the compiler deleted the baseline's body: perf_keep() its result";
}

PERF_OUTLINE_FN_ perf_race_result perf_race_close_(struct perf_loop_state_ *state, int64_t left)
{
    perf_race_result result = PERF_ZERO;

    result.best = -1;
    result.why = "nothing was measured";
    result.status = perf_loop_may_end_(state, PERF_LOOP_RACE_);
    if (result.status != PERF_OK)
        return result;
    result = perf_race_found_(state, left);
    perf_race_rank_(state, &result);
    if (result.status == PERF_EINVAL) {
        result.entry = PERF_NULL_;
        result.count = 0;
    }
    state->race = result;
    perf_loop_done_(state, &state->race);
    return state->race;
}

PERF_OUTLINE_FN_ void perf_race_title_(struct perf_loop_state_ *state, int variant,
                                       const char *name)
{
    perf_out_ out;

    if (perf_loop_kind_(state) != PERF_LOOP_RACE_ || !name || variant < 0 ||
        variant >= state->variants)
        return;
    out = perf_out_open_(state->entry[variant].name, sizeof state->entry[variant].name);
    perf_put_(&out, name);
}

PERF_FN void perf_worse_(double *worst, double seen)
{
    if (!(seen <= *worst) && !perf_is_nan_(*worst)) /* NaN is the worst, and stays                */
        *worst = seen;
}

PERF_FN void perf_race_accuracy_(struct perf_loop_state_ *state, perf_accuracy seen)
{
    if (perf_loop_kind_(state) < PERF_LOOP_AB_)
        return;
    if (!seen.compared && perf_is_nan_(seen.max_abs))
        state->ask.accept.guard.required = 1;       /* it looked at nothing                       */
    if (!seen.compared)
        return;
    perf_worse_(&state->seen.max_abs, seen.max_abs);
    perf_worse_(&state->seen.max_rel, seen.max_rel);
    perf_worse_(&state->seen.max_ulp, seen.max_ulp);
    state->seen.compared += seen.compared;
}

/* ---- the way of a measurement, from its body to its result: callers above what they call ---- */

/* A slice has ended: file it, choose the next one.  Returns 64 * iterations + variant; 0: done.  */
PERF_OUTLINE_FN_ uint64_t perf_loop_slice_(struct perf_loop_state_ *state, int kind)
{
    const uint64_t  now = perf_now();
    const int       own_kind = perf_loop_kind_(state);
    const int       by_its_next = (own_kind == PERF_LOOP_BENCH_) == (kind == PERF_LOOP_BENCH_);
    perf_loop_arm_ *arm;
    int             variant, late, good = 1, complete = 0;

    if (!own_kind || !by_its_next || state->phase == PERF_LOOP_DONE_)
        return 0;
    if (state->phase == PERF_LOOP_COUNT_)
        return perf_loop_count_(state);         /* more slices for perf_counters_loop()           */
    variant = state->order[state->at];
    arm = &state->arm[variant];
    if (state->phase != PERF_LOOP_START_)
        good = state->fill->end(state, variant, now);   /* perf_host_end_: into timer.ns[]        */
    if (state->phase == PERF_LOOP_DONE_)
        return 0;
    if (perf_loop_no_clock_(state, now))
        return perf_loop_stop_(state, PERF_ERANGE);
    if (state->leads_left) {
        perf_loop_lead_slice_ended_(state, arm);
        return perf_loop_begin_slice_(state);
    }
    if (!good && state->phase != PERF_LOOP_COLD_)
        return perf_loop_begin_slice_(state);   /* the clock stepped back: again                  */
    state->last = variant;
    late = perf_timer_late_(&state->timer, now, state->opts.max_seconds, 0.0);
    switch (state->phase) {
    case PERF_LOOP_START_:                      /* nothing has run yet                            */
        perf_loop_shuffle_(state);
        state->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:                       /* a first call, into arm->first_ns               */
        complete = perf_loop_first_ended_(state, arm, late);
        break;
    case PERF_LOOP_HEAT_:                       /* a device warms up, the host does not           */
        perf_loop_heated_(state, late);
        break;
    case PERF_LOOP_GROW_:                       /* arm->batch grows until slices are long         */
        perf_loop_reading_ended_(state, arm, now, late);
        break;
    case PERF_LOOP_WARM_:                       /* slices of the warm-up are thrown away          */
        perf_loop_warm_up_ended_(state, now);
        break;
    default:                                    /* a sample                                       */
        complete = perf_loop_sample_ended_(state, arm);
    }
    if (state->phase == PERF_LOOP_DONE_)
        return 0;
    if (complete) {
        if (perf_loop_round_ended_(state, now))
            return perf_loop_count_(state);     /* the last round                                 */
        if (state->phase == PERF_LOOP_SAMPLE_)
            perf_loop_shuffle_(state);
    }
    return perf_loop_turn_begins_(state);       /* of order[at]: its lead, then a slice           */
}

/* Reads the clocks after the body (the wall's is `now`): timer->ns[] is the slice, without pauses
 * and the clocks' own cost.  0: the wall's clock went backwards, file nothing.                   */
PERF_FN int perf_host_end_(perf_loop_state_ *state, int variant, uint64_t now)
{
    perf_timer_    *timer = &state->timer;
    perf_loop_arm_ *arm = &state->arm[variant];
    double          passed, wall = 0.0;             /* pauses and the clock's cost included       */
    uint64_t        end;
    int             i;

    for (i = 0; i < timer->clocks; i++) {
        end = now;
        if (timer->paused)
            end = timer->paused_at[i];
        else if (i != PERF_BY_WALL_)
            end = perf_timer_clock_(i);
        passed = perf_since_(timer->at[i], end);
        if (i == PERF_BY_WALL_)
            wall = passed;
        timer->ns[i] = perf_most_(passed - timer->paused_ns[i] - timer->overhead_ns[i], 0.0);
    }
    timer->unresumed |= timer->paused;
    arm->doubt_ns = perf_most_(arm->doubt_ns, timer->pause_doubt_ns * timer->pauses);
    arm->runs += arm->batch;
    if (wall < 0.0) {
        timer->backwards++;
        return 0;
    }
    if (!(wall > timer->overhead_ns[PERF_BY_WALL_])) {  /* it stood still, or went by one step    */
        if (arm->batch > 1 || arm->steady || !(wall > 0.0))
            timer->coarse = 1;
    } else if (!(timer->least_ns > 0.0) || wall < timer->least_ns) {
        timer->least_ns = wall;
    }
    timer->spent_ns += wall;
    if (timer->clocks > 1)
        perf_timer_add_waits_(timer, arm);
    return 1;
}

/* Adds up how far the clocks of a slice are apart, and who gave the processor up in it. */
PERF_FN void perf_timer_add_waits_(perf_timer_ *timer, perf_loop_arm_ *arm)
{
    const double thread = timer->ns[PERF_BY_THREAD_];
    const double wait = perf_most_(timer->ns[PERF_BY_WALL_] - thread, 0.0);
    int64_t      forced = 0;

    timer->wall_ns += timer->ns[PERF_BY_WALL_];
    timer->waited_ns += wait;
    timer->others_ns += perf_most_(timer->ns[PERF_BY_PROCESS_] - thread, 0.0);
    arm->wall_ns += timer->ns[PERF_BY_WALL_];
    arm->wait_ns += wait;
    arm->wait_sq += wait * wait;
    arm->timed++;
    timer->slices++;
    if (timer->waits_at < 0)
        return;
    timer->waiting_slices += perf_switches_(&forced) > timer->waits_at;
    arm->forced += PERF_CAST_(double, forced - timer->forced_at);
}

/* 1: the clock steps back again and again, or stands still. */
PERF_COLD_FN_ int perf_loop_no_clock_(perf_loop_state_ *state, uint64_t now)
{
    if (state->timer.backwards > PERF_LOOP_STEPS_BACK_)
        return 1;
    if (now != state->timer.at[PERF_BY_WALL_]) {
        state->stands = 0;
        return 0;
    }
    if (!state->stands)
        state->stands = perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
    return perf_since_(state->stands, perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_)) >
           1e8 + state->opts.max_seconds * 1e9;
}

/* A slice of a lead has ended: one less is to come, and its iterations are counted. */
PERF_COLD_FN_ void perf_loop_lead_slice_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm)
{
    state->leads_left--;
    arm->lead_runs += arm->batch;
    if (!state->leads_left && state->longer)
        arm->lead_ended = perf_loop_own_time_();
}

/* Starts a slice of order[at]: opts.before, then its clocks.  Returns it as perf_loop_slice_ does;
 * 0: the filling has ended the loop.                                                             */
PERF_COLD_FN_ uint64_t perf_loop_begin_slice_(perf_loop_state_ *state)
{
    int variant = state->order[state->at];

    if (state->opts.before)
        state->opts.before(state->opts.user, variant);
    state->fill->begin(state, variant);
    if (state->phase == PERF_LOOP_DONE_)
        return 0;
    return 64 * state->arm[variant].batch + PERF_CAST_(uint64_t, variant);
}

/* The first call of an arm has ended.  After the last of them batches are looked for.  In a hurry,
 * when few such rounds fit into the time, samples follow at once: no batch, no warm-up.  1: there
 * is no time even for that, and these calls are a round.                                         */
PERF_COLD_FN_ int perf_loop_first_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm, int late)
{
    double all = 0.0;
    int    i;

    arm->first_ns = arm->fastest = arm->pending[0] = state->timer.ns[PERF_BY_WALL_];
    if (++state->at < state->running)
        return 0;
    if (state->fill->warm) {
        state->phase = PERF_LOOP_HEAT_;
        perf_loop_shuffle_(state);
        return 0;
    }
    if (late && state->variants > 1)
        return 1;
    for (i = 0; i < state->running; i++)
        all += state->arm[state->order[i]].first_ns;
    if (state->variants > 1)
        all *= PERF_LOOP_ROUNDS_;
    state->hurry = all > state->opts.max_seconds * 1e9;
    state->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(state);
    for (i = 0; i < state->running; i++)
        state->arm[state->order[i]].steady = state->hurry;
    if (state->hurry && !perf_loop_begin_rounds_(state, 1))
        (void)perf_loop_stop_(state, state->status);
    return 0;
}

/* All batches are found: the warm-up begins, or the first round.  0: the filling ends the loop. */
PERF_COLD_FN_ int perf_loop_begin_rounds_(perf_loop_state_ *state, int late)
{
    state->phase = PERF_LOOP_SAMPLE_;
    if (state->left_to_warm > 0 && !late)
        state->phase = PERF_LOOP_WARM_;
    perf_loop_shuffle_(state);
    state->round_began = perf_now();
    return state->fill->grown(state);
}

/* A run before batches are looked for has ended. */
PERF_COLD_FN_ void perf_loop_heated_(perf_loop_state_ *state, int late)
{
    if (++state->at < state->running)
        return;
    if (state->fill->warm(state, late))
        state->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(state);
}

/* A reading at a batch that may be too small has ended.  After the last one of a round the batches
 * grow, or are found: then the loop goes on to the warm-up.                                      */
PERF_COLD_FN_ void perf_loop_reading_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm,
                                            uint64_t now, int late)
{
    double ns = state->timer.ns[PERF_BY_WALL_];

    if (!arm->readings++ || ns < arm->fastest)
        arm->fastest = ns;
    state->at++;
    if (perf_loop_unsteady_(state))
        return;
    if (!perf_loop_grow_(state, state->fill->want(state), late)) {
        if (state->timer.unresumed)
            (void)perf_loop_stop_(state, PERF_ESTATE);
        else if (now == state->timer.began)
            (void)perf_loop_stop_(state, PERF_ERANGE);
        else
            (void)perf_loop_stop_(state, PERF_EDELETED);
        return;
    }
    perf_loop_shuffle_(state);
    if (!perf_loop_unsteady_(state) && !perf_loop_begin_rounds_(state, late))
        (void)perf_loop_stop_(state, state->status);
}

/* All arms without a batch were read at a common one.  It grows until enough readings in a row are
 * long enough; when it is late, the one they have is taken.  Arms within a factor of four share it:
 * two that walk the same memory then stand at the same place.  0: there is no body.              */
PERF_COLD_FN_ int perf_loop_grow_(perf_loop_state_ *state, double want, int late)
{
    const double    full = PERF_LOOP_FULL_ * want;
    perf_loop_arm_ *first, *arm;
    double          slowest = 0.0, factor = PERF_LOOP_GROWS_MOST_;
    int             i, hurried, enough, fits, all_full = 1;

    state->at = 0;
    (void)perf_loop_unsteady_(state);
    first = &state->arm[state->order[state->at]];
    for (i = state->at; i < state->running; i++) {
        arm = &state->arm[state->order[i]];
        if (arm->steady)
            continue;
        slowest = perf_most_(arm->fastest, slowest);
        all_full &= perf_loop_is_full_(arm);
    }
    if (perf_loop_has_no_body_(state, first->batch, slowest))
        return 0;
    hurried = late && !first->most;
    enough = slowest >= full || hurried || all_full;
    if (enough && !hurried &&
        first->readings < perf_loop_readings_needed_(state, first->batch, slowest))
        return 1;
    if (slowest > 0.0)
        factor = perf_most_(perf_least_(want / slowest, factor), PERF_LOOP_GROWS_LEAST_);
    for (; state->at < state->running; state->at++) {
        arm = &state->arm[state->order[state->at]];
        if (arm->steady)
            continue;
        fits = arm->fastest >= full || state->fill->beside * arm->fastest >= slowest;
        arm->steady = enough && (hurried || fits || perf_loop_is_full_(arm));
        if (!arm->steady)
            arm->readings = 0;
        if (!enough)
            arm->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, arm->batch) * factor) + 1;
        if (perf_loop_is_full_(arm))
            arm->batch = arm->most;
    }
    return 1;
}

/* A slice of the warm-up has ended.  Samples follow after its rounds, or where time is short. */
PERF_COLD_FN_ void perf_loop_warm_up_ended_(perf_loop_state_ *state, uint64_t now)
{
    const double ahead = PERF_LOOP_LEAST_ * state->timer.ns[PERF_BY_WALL_]; /* what has to come   */

    if (++state->at < state->running)
        return;
    state->left_to_warm--;
    if (state->left_to_warm <= 0 ||
        perf_timer_late_(&state->timer, now, state->opts.max_seconds, ahead))
        state->phase = PERF_LOOP_SAMPLE_;
    perf_loop_shuffle_(state);
}

/* A slice that counts has ended: its ns per iteration wait until the round is complete.  1: it is
 * complete.                                                                                      */
PERF_COLD_FN_ int perf_loop_sample_ended_(perf_loop_state_ *state, perf_loop_arm_ *arm)
{
    if (state->longer)
        perf_loop_time_lead_(state, arm);
    arm->pending[0] = state->timer.ns[PERF_BY_WALL_] / PERF_CAST_(double, arm->batch);
    arm->pending[1] = state->timer.ns[PERF_BY_THREAD_] / PERF_CAST_(double, arm->batch);
    if (++state->at < state->running)
        return 0;
    return !perf_loop_was_cold_(state, state->fill->want(state));  /* else: first find batches    */
}

/* A longer lead and the slice after it, by the same clock, ns an iteration. */
PERF_COLD_FN_ void perf_loop_time_lead_(perf_loop_state_ *state, perf_loop_arm_ *arm)
{
    const double lead = perf_since_(arm->lead_began, arm->lead_ended);
    const double after = perf_since_(arm->lead_ended, perf_loop_own_time_());

    state->longer_own_ns += lead + after;
    arm->led_ns = lead / perf_most_(PERF_CAST_(double, arm->lead_runs), 1.0);
    arm->after_ns = after / PERF_CAST_(double, arm->batch);
    arm->as_timed = state->fill == perf_host_filling_() && !state->opts.before &&
                    !state->timer.pause_known && state->timer.ns[PERF_BY_WALL_] <= after;
}

/* A round of a loop in a hurry, which has no batches, is complete.  1: every arm was quick now,
 * only its first call was slow.  Batches are looked for after all, the round is not filed.       */
PERF_COLD_FN_ int perf_loop_was_cold_(perf_loop_state_ *state, double want)
{
    int i;

    if (!state->hurry)
        return 0;
    state->hurry = 0;
    for (i = 0; i < state->running; i++)
        if (state->arm[state->order[i]].pending[0] >= PERF_LOOP_FULL_ * want)
            return 0;
    for (i = 0; i < state->running; i++)
        state->arm[state->order[i]].steady = 0;
    state->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(state);
    return 1;
}

/* A round is complete: files its times.  1: it was the last, says state->enough or the filling. */
PERF_COLD_FN_ int perf_loop_round_ended_(perf_loop_state_ *state, uint64_t now)
{
    const size_t    round = state->arm[state->order[0]].count;
    perf_loop_arm_ *arm;
    int             i, enough = 0;

    if (!state->fill->keep || state->fill->keep(state)) {
        state->first[round] = state->order[0];
        state->led[round] = PERF_CAST_(unsigned char, state->longer);
        state->when[round] = state->timer.spent_ns;
        for (i = 0; i < state->running; i++) {
            arm = &state->arm[state->order[i]];
            arm->cpu[arm->count] = arm->pending[1];
            arm->ns[arm->count++] = arm->pending[0];
        }
        state->longer_count += PERF_CAST_(size_t, state->longer);
        if (state->longer)
            perf_loop_compare_leads_(state);
        enough = state->enough(state, now);     /* perf_race_round_, perf_bench_enough_           */
    }
    if (state->fill->stop)
        return state->fill->stop(state, enough);
    return enough;
}

/* How the leads of a round compare, into `owed` of all variants but 0.  On a busy machine a reading
 * of processor time may be off by half a slice: leads then compare with the slices as they were
 * timed.  With untimed work, or waits, only with those right after them.                         */
PERF_COLD_FN_ void perf_loop_compare_leads_(perf_loop_state_ *state)
{
    const perf_loop_arm_ *arm = &state->arm[0];
    perf_loop_arm_       *other;
    perf_owed_           *to;
    int                   i;

    for (i = 1; i < state->running; i++) {
        other = &state->arm[i];
        if (!(arm->led_ns > 0.0 && arm->after_ns > 0.0 && other->led_ns > 0.0 &&
              other->after_ns > 0.0))
            continue;
        to = &other->owed[other->owed_count++ % PERF_OWED_];
        to->log_ratio = perf_log_(other->led_ns / arm->led_ns);
        to->as_timed = arm->as_timed && other->as_timed;
        to->later = other->lead_began > arm->lead_began;
        if (!to->as_timed)
            to->log_ratio -= perf_log_(other->after_ns / arm->after_ns);
    }
}

/* A round of an A/B loop or race is complete: 1 ends it. */
PERF_COLD_FN_ int perf_race_round_(perf_loop_state_ *state, uint64_t now)
{
    const double took = perf_since_(state->round_began, now);
    const size_t rounds = state->arm[state->order[0]].count;
    const int    few = rounds < PERF_CAST_(size_t, state->ask.min_pairs);

    if (state->longer)
        state->longer_ns += took;
    else
        state->round_ns = took;
    if (!state->longer && (took < state->round_least_ns || !(state->round_least_ns > 0.0)))
        state->round_least_ns = took;
    state->round_began = now;
    if (state->running > 1)
        perf_race_bet_(state);
    if (rounds >= PERF_CAST_(size_t, state->ask.max_pairs))
        return 1;
    if (perf_timer_late_(&state->timer, now, state->opts.max_seconds, 0.5 * state->round_ns)) {
        if (few)
            state->ended = "opts.max_seconds ended it, too few pairs for an answer";
        return 1;
    }
    if (state->running == 1)
        return !few;
    if (perf_race_settled_(state, now))
        return 1;
    perf_race_draw_lead_(state, now);           /* of the next round                              */
    return 0;
}

/* The bets after one more round.  They begin with the first: only then is their tick known. */
PERF_COLD_FN_ void perf_race_bet_(perf_loop_state_ *state)
{
    size_t          rounds = state->arm[0].count;
    perf_loop_arm_ *arm;
    int             i;

    for (i = 1; i < state->variants; i++) {
        arm = &state->arm[i];
        if (rounds == 1) {
            (void)perf_seq_init(&arm->seq[0], &state->ask.accept.rule, state->ask.accept.confidence,
                                perf_race_tick_(state, 0, i));
            arm->seq[0].level = perf_race_level_(state, state->variants - 1);
            arm->seq[1] = arm->seq[0];
        }
        (void)perf_seq_add(&arm->seq[0], state->arm[0].ns[rounds - 1], arm->ns[rounds - 1]);
        if (state->timer.clocks > 1)
            (void)perf_seq_add(&arm->seq[1], state->arm[0].cpu[rounds - 1], arm->cpu[rounds - 1]);
    }
}

/* 1: the loop ends: nothing speaks against the answers, or more of it will not help.  It looks in
 * full when all are decided: each time after an eighth more rounds, and at once when it gets late
 * while longer leads are too few.  Else after 32, 64, ... rounds, for turns that matter.         */
PERF_COLD_FN_ int perf_race_settled_(perf_loop_state_ *state, uint64_t now)
{
    const size_t rounds = state->arm[0].count;
    const int    decided = state->typical && !perf_race_open_bets_(state);
    const double took = perf_race_took_(state, now);
    const int    late = took > 0.5e9 * state->opts.max_seconds;
    const int    first_late = late && state->few_longer && !state->lenient;
    const int    grown = rounds >= state->looked_at + state->looked_at / 8;
    const int    enough = rounds >= PERF_CAST_(size_t, state->ask.min_pairs) &&
                       took >= state->ask.min_seconds * 1e9;
    int          objection;

    if (decided && enough && (grown || first_late)) {
        if (perf_race_interval_differs_(state))  /* from the bets: a pair later it may not        */
            return 0;
        state->lenient = late;
        objection = perf_race_gravest_objection_(state);
        state->few_longer = objection == PERF_TOO_FEW_ || objection == PERF_DEBT_PERHAPS_;
        if (objection >= PERF_RATIO_DRIFTS_)
            return perf_race_anew_(state, now, objection);
        return objection == PERF_NO_OBJECTION_;
    }
    if (rounds < state->look_at)
        return 0;
    state->look_at = 2 * rounds;
    if (perf_race_gravest_objection_(state) == PERF_TURNS_MATTER_)
        (void)perf_race_anew_(state, now, PERF_TURNS_MATTER_);
    return 0;
}

/* How many variants are not decided yet.  Holm: the fewer, the less evidence each needs. */
PERF_COLD_FN_ int perf_race_open_bets_(perf_loop_state_ *state)
{
    const perf_decides by = perf_loop_decides_(state, PERF_NULL_);
    double             level;
    int                i, open = 0;

    for (i = 1; i < state->variants; i++)
        open += state->arm[i].seq[by].decision == PERF_INCONCLUSIVE;
    level = perf_race_level_(state, perf_clamp_(open, 1, PERF_RACE_MOST_));
    for (i = 1; i < state->variants && state->variants > 2; i++)
        state->arm[i].seq[by].level = level;
    return open;
}

/* Which clock the answers rest on; *why: a sentence, or which option was refused.  It depends on
 * waits and switches alone, never on who is faster.  Work of other threads of this process belongs
 * to the body, as far as anybody can tell: then the thread's time is not its cost.               */
PERF_COLD_FN_ perf_decides perf_loop_decides_(const perf_loop_state_ *state, const char **why)
{
    const perf_timer_    *timer = &state->timer;
    const perf_loop_arm_ *arm;
    const char           *text = PERF_NULL_;
    int                   i;

    if (timer->one_clock)
        text = "there is no other clock";
    else if (timer->clocks == 1 && state->arm[state->order[0]].steady)
        text = "the slices are short";
    else if (timer->clocks == 1)
        text = "there was no time for more than first calls";
    else if (timer->waits_at < 0)
        text = "this system does not tell own waits from waits for the processor";
    else if (10 * timer->waiting_slices > timer->slices)
        text = "the body waits by itself";
    else if (timer->others_ns > PERF_LOOP_LITTLE_ * timer->wall_ns)
        text = "other threads of this program worked at the same time";
    else if (!(timer->waited_ns > PERF_LOOP_LITTLE_ * timer->wall_ns))
        text = "it hardly ever waited for the processor";
    for (i = 0; i < state->variants && !text; i++) {
        arm = &state->arm[i];
        if (PERF_LOOP_TURN_NS_ * arm->forced > arm->wall_ns - arm->wait_ns)
            text = "the body gives the processor up by itself, as sched_yield does";
        else if (i && perf_loop_waits_apart_(&state->arm[0], arm))
            text = "the variants waited differently, perhaps for others who worked for them";
    }
    if (why && state->refused)
        *why = state->refused;
    else if (why)
        *why = text ? text : "others had the processor for part of the time";
    if (text)
        return PERF_DECIDES_WALL;
    return PERF_DECIDES_CPU;
}

/* 1: the interval of a variant does not give the answer of its bets. */
PERF_COLD_FN_ int perf_race_interval_differs_(perf_loop_state_ *state)
{
    const perf_decides by = perf_loop_decides_(state, PERF_NULL_);
    const perf_guard   none = PERF_ZERO;
    perf_compare_opts  opts;
    int                i, differs = 0;

    state->looked_at = state->arm[0].count;
    for (i = 1; i < state->variants; i++) {
        opts = perf_race_asked_(state, i);
        opts.guard = none;
        differs |= state->arm[i].seq[by].decision !=
                   perf_race_judge_(state, i, state->looked_at, &opts).decision;
    }
    return differs;
}

/* What is asked of variant i, with the confidence that its bets have to reach. */
PERF_COLD_FN_ perf_compare_opts perf_race_asked_(const perf_loop_state_ *state, int i)
{
    const perf_decides by = perf_loop_decides_(state, PERF_NULL_);
    const double       level = state->arm[i].seq[by].level;
    perf_compare_opts  opts = state->ask.accept;

    if ((state->variants > 2 || opts.rules > 1) && state->typical && level > 0.0)
        opts.confidence = 1.0 - 2.0 / level;
    return opts;
}

/* The gravest objection to the answer on any variant. */
PERF_COLD_FN_ int perf_race_gravest_objection_(const perf_loop_state_ *state)
{
    int i, one, gravest = PERF_NO_OBJECTION_;

    for (i = 1; i < state->variants; i++) {
        one = perf_race_objection_(state, i);
        if (one > gravest)
            gravest = one;
    }
    return gravest;
}

/* What speaks against an answer on variant i, the gravest first. */
PERF_COLD_FN_ int perf_race_objection_(const perf_loop_state_ *state, int i)
{
    const int hurried = state->round_least_ns > PERF_ROUND_SLOW_NS_ || state->ask.min_seconds < 0.0;
    size_t    least = PERF_LONGER_LEAST_;
    int       drifts, debt;

    if (hurried)
        least = PERF_LONGER_HURRIED_;
    if (state->ask.control < 0 || state->running < 2)
        return PERF_NO_OBJECTION_;
    if (perf_race_leads_matter_(state, i, state->lenient) || perf_race_order_matters_(state))
        return PERF_TURNS_MATTER_;
    drifts = perf_race_drifts_(state, i);
    if (drifts != PERF_NO_OBJECTION_)
        return drifts;
    if (state->longer_count < least)
        return PERF_TOO_FEW_;
    debt = perf_race_in_debt_(state, i);
    if (debt != PERF_NO_OBJECTION_)
        return debt;
    if (!perf_race_confirmed_(state, i))
        return PERF_NOT_CONFIRMED_;
    return PERF_NO_OBJECTION_;
}

/* Draws the lead of the next round: the usual one; in one round of four, and always while those are
 * too few, a longer one.  Its length is even on a scale of logs, from `least` to `most`.         */
PERF_COLD_FN_ void perf_race_draw_lead_(perf_loop_state_ *state, uint64_t now)
{
    const double slice = perf_race_slice_ns_(state), took = perf_race_took_(state, now);
    const int    drawn = !(perf_random_(&state->coin) >> 62);   /* two bits are 0: one of four    */
    double       least = 2.0 * slice, most, chance, lead, cost;

    state->round_lead_ns = state->lead_ns;
    state->longer = 0;
    if (state->ask.control < 0 || state->running < 2 || !(drawn || state->few_longer))
        return;
    if (slice > 1e6)                            /* over 1 ms: one slice is lead enough            */
        least = slice;
    least = perf_most_(least, PERF_LEAD_GROWS_ * state->lead_ns);
    most = perf_least_(took / (PERF_LONGER_PART_ * state->variants), PERF_LEAD_MOST_NS_);
    if (state->few_longer && state->longer_ns > 2.0 * state->longer_own_ns)
        most = PERF_LEAD_GROWS_ * least;            /* others take most of it: many, not long     */
    most = perf_most_(most, least);
    chance = PERF_CAST_(double, perf_random_(&state->coin) >> 32) / 4294967296.0;
    lead = least * perf_exp_(chance * perf_log_(most / least));
    cost = state->variants * (lead + slice);
    if ((state->longer_ns > PERF_LONGER_SHARE_ * took && !state->few_longer) ||
        perf_timer_late_(&state->timer, now, state->opts.max_seconds, cost))
        return;
    state->round_lead_ns = lead;
    state->longer = 1;
    state->control_rounds++;
}

/* The timed slices are over.  Slices for the processor's counters follow, if somebody asked. */
PERF_COLD_FN_ uint64_t perf_loop_count_(perf_loop_state_ *state)
{
    uint64_t next = 0;

    state->phase = PERF_LOOP_COUNT_;
    if (state->counted)
        next = state->counted(state);
    if (!next)
        return perf_loop_stop_(state, state->status);
    return next;
}

/* It is the turn of order[at]: its lead, then the slice that counts. */
PERF_COLD_FN_ uint64_t perf_loop_turn_begins_(perf_loop_state_ *state)
{
    int variant = state->order[state->at];

    state->leads_left = perf_loop_leads_(state, variant);
    state->arm[variant].lead_runs = 0;
    if (state->longer)
        state->arm[variant].lead_began = perf_loop_own_time_();
    return perf_loop_begin_slice_(state);
}

/* How many uncounted slices a variant runs before its counted one.  At least one after a much
 * longer slice, which leaves cold caches behind.                                                 */
PERF_COLD_FN_ size_t perf_loop_leads_(const perf_loop_state_ *state, int variant)
{
    const perf_loop_arm_ *arm = &state->arm[variant];
    const double          beside = state->fill->beside;
    const int             after_long = beside > 0.0 && state->last != variant &&
                                       state->arm[state->last].fastest > beside * arm->fastest;
    double                slices;

    if (state->phase < PERF_LOOP_WARM_)
        return 0;
    if (!(state->round_lead_ns > 0.0))
        return PERF_CAST_(size_t, after_long);
    slices = state->round_lead_ns / (arm->fastest + 1.0) + 0.5;
    return PERF_CAST_(size_t, perf_most_(perf_least_(slices, 1e6), 1.0));
}

PERF_OUTLINE_FN_ perf_ab_result perf_ab_close_(struct perf_loop_state_ *state, int64_t left)
{
    perf_ab_result result = PERF_ZERO;

    result.why = "nothing was measured";
    result.status = result.verdict.status = perf_loop_may_end_(state, PERF_LOOP_AB_);
    if (result.status != PERF_OK) {
        result.verdict.reason = perf_status_text(result.status);
        return result;
    }
    state->ab = perf_ab_found_(state, left);
    perf_loop_done_(state, &state->ab);
    return state->ab;
}

/* The result of an A/B loop: what perf_race_found_ says of two variants, with names for both. */
PERF_COLD_FN_ perf_ab_result perf_ab_found_(perf_loop_state_ *state, int64_t left)
{
    perf_ab_result   result = PERF_ZERO;
    perf_race_result both = perf_race_found_(state, left);
    size_t           count[2];
    int              i;

    for (i = 0; i < 2; i++)                     /* 0: after a failure, or where it did not run    */
        count[i] = both.rounds ? state->arm[i].count : 0;
    result.verdict = state->entry[1].verdict;
    result.parts = state->entry[1].parts;
    PERF_LIBC_(memcpy)(result.part, state->entry[1].part, sizeof result.part);
    result.first_baseline_ns = state->arm[0].first_ns;
    result.first_candidate_ns = state->arm[1].first_ns;
    result.overhead_ns = both.overhead_ns;
    result.batch_baseline = state->arm[0].batch;
    result.batch_candidate = state->arm[1].batch;
    result.seconds = both.seconds;
    result.opts = both.opts;
    result.status = both.status;
    result.warnings = both.warnings;
    result.decides = both.decides;
    result.why = both.why;
    result.control_ratio = state->entry[1].control_ratio;
    result.control_rounds = both.control_rounds;
    result.forced = both.forced;
    result.baseline = perf_summarize(state->arm[0].ns, count[0]);
    result.candidate = perf_summarize(state->arm[1].ns, count[1]);
    if (state->timer.clocks > 1) {
        result.baseline_cpu = perf_summarize(state->arm[0].cpu, count[0]);
        result.candidate_cpu = perf_summarize(state->arm[1].cpu, count[1]);
    }
    result.control_failed = both.rounds && state->arm[1].objection != PERF_NO_OBJECTION_;
    result.turns_ratio = state->arm[1].turns_ratio;
    return result;
}

/* What A/B loops and races both tell; fills the entries of all variants. */
PERF_COLD_FN_ perf_race_result perf_race_found_(perf_loop_state_ *state, int64_t left)
{
    const uint32_t   drift = PERF_CAST_(uint32_t, PERF_WARN_DRIFT);     /* rounds do not mind it  */
    perf_race_result result = PERF_ZERO;
    perf_race_entry *entry;
    uint32_t         of_variant, of_baseline = 0;
    int              i;

    perf_loop_slices_over_(state, left);
    if (state->status == PERF_OK)
        result.rounds = state->arm[state->order[0]].count;
    result.entry = state->entry;
    result.count = state->variants;
    result.best = -1;
    result.overhead_ns = state->timer.overhead_ns[PERF_BY_WALL_];
    result.seconds = perf_since_(state->timer.began, perf_now()) * 1e-9;
    result.status = perf_loop_status_(state, result.rounds);
    result.decides = perf_loop_decides_(state, &result.why);
    result.control_rounds = state->control_rounds;
    result.forced = state->forced >= 0;
    result.warnings = state->warnings;
    for (i = 0; i < result.count; i++) {
        entry = &state->entry[i];
        of_variant = perf_race_fill_(state, i, PERF_CAST_(size_t, result.rounds));
        if (!result.rounds) {
            entry->verdict.status = result.status;
            entry->verdict.reason = perf_race_why_none_(state, result.status);
            continue;
        }
        if (!state->arm[i].count)
            continue;
        result.warnings |= of_variant & ~drift;
        if (i == 0)
            of_baseline = of_variant;
        else
            result.warnings |= entry->verdict.warnings;
        if (!perf_race_no_body_(&entry->verdict, of_baseline, of_variant))
            perf_race_veto_(state, i, &entry->verdict);
    }
    if (result.rounds && perf_race_turns_apart_(state))
        result.warnings |= PERF_WARN_TURNS;
    if (state->judge)
        state->judge(state);
    result.opts = state->ask;                       /* with the rule as `judge` leaves it         */
    return result;
}

/* Fills the entry of variant i, of n rounds: its times, and the verdict of perf_race_decide_.
 * Returns the warnings about its times.                                                          */
PERF_COLD_FN_ uint32_t perf_race_fill_(perf_loop_state_ *state, int i, size_t n)
{
    const int        forced = state->forced >= 0;
    perf_race_entry *entry = &state->entry[i];
    perf_out_        out;

    if (!entry->name[0]) {
        out = perf_out_open_(entry->name, sizeof entry->name);
        perf_put_u64_(&out, PERF_CAST_(uint64_t, i));
    }
    entry->first_ns = state->arm[i].first_ns;
    entry->batch = state->arm[i].batch;
    if (i == 0 || forced)
        entry->verdict = perf_race_decide_(state, 1, 0);
    else
        entry->verdict = perf_race_decide_(state, i, n);
    if (n && forced)
        entry->verdict.reason = "PERF_VARIANT forced one variant: nothing to compare it with";
    else if (n && i == 0)
        entry->verdict.reason = "this is the baseline";
    if (!n || !state->arm[i].count)
        return 0;
    entry->time = perf_summarize(perf_loop_times_(state, i), n);
    if (state->fill != perf_host_filling_())
        return 0;                                   /* those are about the host's clocks          */
    return perf_slice_warnings_(perf_loop_times_(state, i), n, &entry->time,
                                state->timer.overhead_ns[PERF_BY_WALL_]);
}

/* The verdict on variant i after n rounds, by the rule alone; n 0: it says nothing yet. */
PERF_COLD_FN_ perf_verdict perf_race_decide_(const perf_loop_state_ *state, int i, size_t n)
{
    static const char *const clock[] = {"by the wall's clock", "by processor time"};
    perf_compare_opts        opts = perf_race_asked_(state, i);   /* state->ask.accept            */
    perf_verdict             verdict;

    if (state->seen.compared)
        opts.guard.seen = state->seen;
    if (!n)                                         /* no slice has a length yet to divide by     */
        verdict = perf_verdict_of_(&opts, PERF_NULL_, 0.0, 0.0);
    else if (!state->typical)
        verdict =
            perf_compare_pairs(perf_loop_times_(state, 0), perf_loop_times_(state, i), n, &opts);
    else
        verdict = perf_race_judge_(state, i, n, &opts);
    if (state->timer.clocks > 1)
        verdict.clock = clock[perf_loop_decides_(state, PERF_NULL_)];
    if (state->typical && perf_race_wall_objects_(state, i, &verdict))
        perf_verdict_cap_(&verdict,
                          "by the wall's clock the answer is the opposite: does one of them "
                                    "wait for others who work for it?");
    return verdict;
}

/* The verdict on variant i after n rounds, from its bets and the interval of its log ratios. */
PERF_COLD_FN_ perf_verdict perf_race_judge_(const perf_loop_state_ *state, int i, size_t n,
                                            const perf_compare_opts *opts)
{
    const size_t logs = perf_race_logs_(state, 0, i, PERF_ALL_PAIRS_);
    perf_seq     bets = state->arm[i].seq[perf_loop_decides_(state, PERF_NULL_)];

    bets.tick = perf_race_tick_(state, 0, i);       /* pauses may have made it longer             */
    return perf_pairs_judge_(&bets, state->logs, logs, n, opts);
}

/* Withholds the verdict on variant i, or explains why there is none. */
PERF_COLD_FN_ void perf_race_veto_(perf_loop_state_ *state, int i, perf_verdict *verdict)
{
    const int    decided = verdict->decision != PERF_INCONCLUSIVE;
    perf_centre_ longer;
    double       missing;
    int          objection, turns, named;

    if (verdict->status != PERF_OK || !verdict->pairs || (verdict->warnings & PERF_WARN_OUTPUTS))
        return;                                     /* wrong outputs stay wrong, however fast     */
    state->lenient = 1;
    objection = perf_race_objection_(state, i);
    if (objection == PERF_TOO_FEW_ && perf_race_slice_ns_(state) > PERF_LEAD_MOST_NS_)
        objection = PERF_NO_OBJECTION_; /* a slice leads itself, and time is over                 */
    turns = objection == PERF_TURNS_MATTER_;
    named = objection;
    if (turns && perf_race_drifts_(state, i) == PERF_RATIO_DRIFTS_)
        named = PERF_RATIO_DRIFTS_;     /* pairs with longer leads stand at other times, too      */
    longer = perf_race_centre_of_(state, i, PERF_LONGER_PAIRS_);
    if (longer.n)
        state->entry[i].control_ratio = perf_exp_(longer.at);
    if (turns || (decided && objection != PERF_NO_OBJECTION_) ||
        (decided && state->ask.control > 0 && perf_race_leads_matter_(state, i, 0)))
        verdict->led_ratio = state->entry[i].control_ratio;
    if (decided && objection != PERF_NO_OBJECTION_) {
        state->arm[i].objection = objection;
        perf_verdict_cap_(verdict, perf_objection_text_(named));
    } else if (!decided && turns) {
        verdict->reason = perf_objection_text_(named);
        verdict->pairs_needed = PERF_INF_;
    } else if (!decided && state->ended) {
        missing = state->ask.min_pairs - PERF_CAST_(double, verdict->pairs);
        verdict->pairs_needed = perf_most_(verdict->pairs_needed, missing);
        verdict->reason = state->ended;
    }
    perf_race_shape_(state, i, verdict);
}

#if !PERF_DISABLE
/* open, slice, bench, ab, race, text, rates, failed, counter, accuracy, name: perf_loop_engine_ */
PERF_BENCH_ENGINE_(perf_bench_open_, perf_loop_slice_, perf_bench_close_, PERF_NULL_, PERF_NULL_,
                   perf_result_words_, perf_told_rates_, perf_bench_failed_, perf_told_counter_,
                   PERF_NULL_, PERF_NULL_)
PERF_RACE_ENGINE_(perf_race_open_, perf_loop_slice_, PERF_NULL_, perf_ab_close_, perf_race_close_,
                  PERF_NULL_, PERF_NULL_, PERF_NULL_, PERF_NULL_, perf_race_accuracy_,
                  perf_race_title_)
#endif

PERF_END_DECLS
#endif /* PERF_LOOP_H */
