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
 *   PERF_LOOP_KIND_         of a state: 1 bench, 2 A/B, 3 race, 0 none (NULL, or no memory)
 *   perf_loop_pages_        a state with its arms, room for samples and bytes of a filling, in
 *                           fresh pages, all zero; in the report's list, unless `kind` is 0; kept
 *                           until perf_reset(); NULL: no memory
 *   perf_told_place_        the value of a loop's counter by its name; NULL: no room, or it ended
 *   perf_race_pages_        likewise of two arms, with a question, or refused, or one arm forced
 *   perf_ab_found_          the result of an A/B loop that has ended; `left`: of its last slice
 */

/* >>private: bodies: first helpers, callees above their callers; last the way of a measurement - */

/* The functions of that way. */
PERF_FN const perf_filling_ *perf_host_filling_(void);
PERF_FN int perf_host_end_(perf_loop_state_ *s, int number, uint64_t now);
PERF_FN uint64_t perf_timer_clock_(int i);
PERF_COLD_DECL_ int perf_loop_no_clock_(perf_loop_state_ *s, uint64_t now);
PERF_FN int perf_timer_late_(const perf_timer_ *t, uint64_t now, double max_seconds, double ahead);
PERF_COLD_DECL_ int perf_loop_sample_ended_(perf_loop_state_ *s, perf_loop_arm_ *arm);
PERF_COLD_DECL_ int perf_loop_round_ended_(perf_loop_state_ *s, uint64_t now);
PERF_COLD_DECL_ int perf_race_round_(perf_loop_state_ *s, uint64_t now);
PERF_COLD_DECL_ void perf_race_bet_(perf_loop_state_ *s);
PERF_COLD_DECL_ int perf_race_spent_(perf_loop_state_ *s, uint64_t now);
PERF_COLD_DECL_ int perf_race_settled_(perf_loop_state_ *s, uint64_t now);
PERF_COLD_DECL_ int perf_race_still_open_(perf_loop_state_ *s);
PERF_FN int perf_loop_by_(const perf_loop_state_ *s);
PERF_COLD_DECL_ perf_decides perf_loop_decides_(const perf_loop_state_ *s, const char **why);
PERF_COLD_DECL_ int perf_race_interval_open_(perf_loop_state_ *s);
PERF_COLD_DECL_ perf_compare_opts perf_race_asked_(const perf_loop_state_ *s, int i);
PERF_COLD_DECL_ perf_verdict perf_race_judge_(const perf_loop_state_ *s, int i, size_t n,
                                              const perf_compare_opts *o);
PERF_COLD_DECL_ size_t perf_race_logs_(const perf_loop_state_ *s, int i, int j, perf_pick_ pick);
PERF_COLD_DECL_ int perf_race_gravest_(const perf_loop_state_ *s);
PERF_COLD_DECL_ int perf_race_objection_(const perf_loop_state_ *s, int i);
PERF_COLD_DECL_ uint64_t perf_loop_count_(perf_loop_state_ *s);
PERF_COLD_DECL_ perf_status perf_loop_over_(const perf_loop_state_ *s, int kind);
PERF_COLD_DECL_ perf_ab_result perf_ab_found_(perf_loop_state_ *s, int64_t left);
PERF_COLD_DECL_ perf_race_result perf_race_found_(perf_loop_state_ *s, int64_t left);
PERF_COLD_DECL_ void perf_loop_settle_(perf_loop_state_ *s, int64_t left);
PERF_COLD_DECL_ perf_race_result perf_race_head_(perf_loop_state_ *s);
PERF_COLD_DECL_ uint32_t perf_race_fill_(perf_loop_state_ *s, int i, size_t n);
PERF_COLD_DECL_ perf_verdict perf_race_decide_(const perf_loop_state_ *s, int i, size_t n);
PERF_COLD_DECL_ int perf_race_no_body_(perf_verdict *v, uint32_t of_baseline,
                                       uint32_t of_candidate);
PERF_COLD_DECL_ void perf_race_veto_(perf_loop_state_ *s, int i, perf_verdict *v);

/* ---- timing a slice ---- */

#define PERF_LOOP_NO_MEMORY_(T) PERF_PTR_(T *, PERF_CAST_(uintptr_t, 1)) /* stands for a state */
#define PERF_LOOP_IS_ONE_(s)    (PERF_PTR_(uintptr_t, s) > 1)   /* not NULL, not NO_MEMORY        */
#define PERF_LOOP_KIND_(s)      (PERF_LOOP_IS_ONE_(s) ? PERF_PTR_(const perf_loop_ *, s)->kind : 0)
#define PERF_LOOP_SAMPLES_      1000    /* of a bench that looks for a narrow interval            */
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
#define PERF_LONG_BESIDE_       4.0     /* a slice this much longer leaves cold caches behind     */

/* How often this thread gave the processor up by itself (sleep, read, wait for a lock); -1: the
 * system does not say.  *forced: how often somebody took it; Linux counts sched_yield there.*/
PERF_COLD_FN_ int64_t perf_switches_(int64_t *forced)
{
#if defined(PERF_TEST_WAITS_FN)
    return PERF_TEST_WAITS_FN(forced);
#elif defined(__linux__) && PERF_LP64_UNIX_
    struct perf_usage_ u;

    if (perf_getrusage_(1, &u))
        return *forced = -1;
    *forced = u.nivcsw;
    return u.nvcsw;
#else
    return *forced = -1;
#endif
}

/* The cost of one reading and its smallest step, from 100 back-to-back readings.  A clock that
 * hardly moves in them is read until it has stepped twice, at most 10 million times.             */
PERF_COLD_FN_ double perf_clock_probe_(int clock, double *tick)
{
    uint64_t best = UINT64_MAX, step = UINT64_MAX, first, last, t;
    double   cost;
    int      i, steps = 0;

    first = last = perf_timer_clock_(clock);
    for (i = 1; i <= 100; i++, last = t) {
        t = perf_timer_clock_(clock);
        if (t != last && t - last < step)
            step = t - last;
        if (i % 20)
            continue;
        if (t - first < best)
            best = t - first;
        first = t;
    }
    for (i = 0; best <= 20 && steps < 2 && i < 10000000; i++, last = t) {
        t = perf_timer_clock_(clock);
        if (t - last < 2)
            continue;
        if (steps++)
            step = t - first;
        first = t;
    }
    cost = PERF_CAST_(double, best) / 20.0;
    if (best > 20000000)                            /* it stepped each time                       */
        cost = 0.0;
    *tick = PERF_CAST_(double, step);
    if (step > 1000000000)
        *tick = 1.0;
    if (*tick > cost && cost > 1.0)     /* finer than a reading: its step stays unseen            */
        *tick = cost;
    return cost;
}

/* Adds the other clocks once it is known that slices are long.  An empty slice holds one reading
 * of its own clock and two of each clock that is read within.                                    */
PERF_COLD_FN_ void perf_timer_choose_(perf_timer_ *t, double slice_ns)
{
    double inner = 2.0 * t->overhead_ns[PERF_BY_WALL_], cost, tick;
    int    i;

    t->one_clock = !perf_timer_clock_(PERF_BY_THREAD_);
    if (t->clocks > 1 || t->one_clock || !(slice_ns > PERF_LOOP_LONG_NS_))
        return;
    for (i = 1; i < PERF_CLOCKS_; i++) {
        cost = perf_clock_probe_(i, &tick);
        t->overhead_ns[i] = cost + inner;
        inner += 2.0 * cost;
    }
    t->clocks = PERF_CLOCKS_;
}

/* Reads the clocks, the wall's last: nothing comes between it and the body. */
PERF_FN void perf_host_begin_(perf_loop_state_ *s, int arm)
{
    perf_timer_ *t = &s->timer;
    int          i;

    (void)arm;
    t->paused = t->pauses = 0;
    PERF_LIBC_(memset)(t->paused_ns, 0, sizeof t->paused_ns);
    t->waits_at = -1;
    if (t->clocks > 1)
        t->waits_at = perf_switches_(&t->forced_at);
    for (i = t->clocks; i--;)
        t->at[i] = perf_timer_clock_(i);
}

/* Adds up how far the clocks of a slice are apart, and who gave the processor up in it. */
PERF_FN void perf_timer_compare_(perf_timer_ *t, perf_loop_arm_ *arm)
{
    const double thread = t->ns[PERF_BY_THREAD_];
    const double wait = perf_most_(t->ns[PERF_BY_WALL_] - thread, 0.0);
    int64_t      forced = 0;

    t->wall_ns += t->ns[PERF_BY_WALL_];
    t->waited_ns += wait;
    t->others_ns += perf_most_(t->ns[PERF_BY_PROCESS_] - thread, 0.0);
    arm->wall_ns += t->ns[PERF_BY_WALL_];
    arm->wait_ns += wait;
    arm->wait_sq += wait * wait;
    arm->timed++;
    t->slices++;
    if (t->waits_at < 0)
        return;
    t->waiting_slices += perf_switches_(&forced) > t->waits_at;
    arm->forced += PERF_CAST_(double, forced - t->forced_at);
}

/* The step of the clock.  The probe may have found none, or too small a one.  Then some slices take
 * no time at all, and the shortest of the others takes a step or two.                            */
PERF_FN double perf_timer_tick_(const perf_timer_ *t)
{
    if (t->coarse && t->tick_ns <= 1000.0)
        return perf_most_(t->least_ns, t->tick_ns);
    return t->tick_ns;
}

/* As long as asked for, or 30 steps of a coarse clock, if the time allows. */
PERF_COLD_FN_ double perf_host_want_(const perf_loop_state_ *s)
{
    const double most = s->opts.max_seconds * 1e9 / 32.0;
    const double steps = 30.0 * perf_timer_tick_(&s->timer);

    if (!s->timer.coarse)
        return s->opts.slice_ns;
    return perf_most_(perf_least_(steps, most), s->opts.slice_ns);
}

/* Long slices are timed by processor time, too. */
PERF_COLD_FN_ int perf_host_grown_(perf_loop_state_ *s)
{
    const perf_loop_arm_ *arm;
    int                   i;

    for (i = 0; i < s->running; i++) {
        arm = &s->arm[s->order[i]];
        perf_timer_choose_(&s->timer, arm->fastest > 0.0 ? arm->fastest : arm->first_ns);
    }
    return 1;
}

PERF_FN void perf_timer_pause_(perf_timer_ *t)
{
    int i;

    perf_fence_();
    t->paused = 1;
    for (i = 0; i < t->clocks; i++)
        t->paused_at[i] = perf_timer_clock_(i);
}

PERF_FN void perf_timer_resume_(perf_timer_ *t)
{
    double paused;
    int    i;

    t->paused = 0;
    t->pauses++;
    for (i = t->clocks; i--;) {
        paused = perf_since_(t->paused_at[i], perf_timer_clock_(i));
        if (paused >= 0.0)
            t->paused_ns[i] += paused + t->pause_ns[i];
    }
    perf_fence_();
}

enum { PERF_PROBE_PAIRS_ = 32, PERF_PROBE_CHAIN_ = 24, PERF_PROBE_TRIES_ = 9 };

/* The ns that a pair of pause and resume costs, from 32 of them, each before a chain of `steps`
 * multiplications; without `pairs` the chains alone.                                             */
PERF_COLD_FN_ void perf_pause_try_(perf_timer_ *t, int pairs, int steps, double *ns)
{
    void (*volatile pause)(perf_timer_ *) = perf_timer_pause_;  /* called as a body calls it      */
    void (*volatile resume)(perf_timer_ *) = perf_timer_resume_;
    uint64_t began[PERF_CLOCKS_], x;
    int      i, k;

    PERF_LIBC_(memset)(t->paused_ns, 0, sizeof t->paused_ns);
    for (i = t->clocks; i--;)
        began[i] = perf_timer_clock_(i);
    perf_fence_();
    for (k = 0; k < PERF_PROBE_PAIRS_; k++) {
        if (pairs) {
            pause(t);
            resume(t);
        }
        for (i = 0, x = 1; i < steps; i++) {        /* the next overlaps it           */
            x = x * UINT64_C(6364136223846793005) + 1;
            perf_hide_(&x);
        }
    }
    perf_fence_();
    for (i = 0; i < t->clocks; i++) {
        ns[i] = perf_since_(began[i], perf_timer_clock_(i)) - t->paused_ns[i];
        ns[i] = (ns[i] - t->overhead_ns[i]) / PERF_CAST_(double, PERF_PROBE_PAIRS_);
    }
}

/* What a pair of pause and resume costs by each clock: with nothing between pairs, and with work
 * that cannot overlap them.  The smaller cost is subtracted.  The uncertainty is the difference of
 * both, and half of what the tries differ by.                                                    */
PERF_COLD_FN_ void perf_pause_probe_(const perf_timer_ *real, perf_timer_ *to)
{
    perf_timer_ t = *real;
    double      bare[PERF_CLOCKS_], chain[PERF_CLOCKS_], alone[PERF_CLOCKS_];
    double      between[PERF_CLOCKS_][PERF_PROBE_TRIES_], among[PERF_CLOCKS_][PERF_PROBE_TRIES_];
    double      low, high, doubt = 0.0;
    int         i, k;

    PERF_LIBC_(memset)(t.pause_ns, 0, sizeof t.pause_ns);
    for (k = 0; k < PERF_PROBE_TRIES_; k++) {
        perf_pause_try_(&t, 1, 0, bare);
        perf_pause_try_(&t, 1, PERF_PROBE_CHAIN_, chain);
        perf_pause_try_(&t, 0, PERF_PROBE_CHAIN_, alone);
        for (i = 0; i < t.clocks; i++) {
            between[i][k] = bare[i];
            among[i][k] = chain[i] - alone[i];
        }
    }
    for (i = 0; i < t.clocks; i++) {
        perf_sort_values_(between[i], PERF_PROBE_TRIES_);
        perf_sort_values_(among[i], PERF_PROBE_TRIES_);
        low = between[i][PERF_PROBE_TRIES_ / 2];
        high = among[i][PERF_PROBE_TRIES_ / 2];
        to->pause_ns[i] = perf_least_(low, high);
        doubt = perf_most_(doubt, perf_fabs_(low - high));
    }
    i = PERF_BY_WALL_;
    to->pause_doubt_ns = doubt + 0.5 * (between[i][PERF_PROBE_TRIES_ - 2] - between[i][1]);
}

/* Pauses (on 1) or resumes; a doubled one is ignored. */
PERF_OUTLINE_FN_ void perf_loop_pause_(struct perf_loop_state_ *s, int on)
{
    perf_timer_ *t = &s->timer;

    if (t->paused == on)
        return;
    if (!on) {
        perf_timer_resume_(t);
        return;
    }
    perf_timer_pause_(t);
    if (t->pause_known == t->clocks)
        return;
    t->pause_known = t->clocks;                     /* within the pause, so that it is not timed  */
    perf_pause_probe_(t, t);
}

/* ---- what all loops do: slices, from the first run to the last round ---- */

/* The loop that begin returns; s NULL: out of memory. */
PERF_COLD_FN_ perf_loop perf_loop_new_(perf_loop_state_ *s)
{
    perf_loop l = PERF_ZERO;

    l.first = l.variant = -1;
    l.state = PERF_LOOP_NO_MEMORY_(perf_loop_state_);
    if (!s)
        return l;
    l.state = s;
    l.pause = perf_loop_pause_;
    return l;
}

/* Hands a loop to the report, with a copy of its name.  Returns 1 if the name was cut. */
PERF_COLD_FN_ int perf_loop_add_(perf_loop_ *l, int kind, const char *name)
{
    perf_registry_ *r = perf_registry_get_();
    uint32_t        length;
    int             cut;

    if (!name || !*name)
        name = "(unnamed)";
    length = perf_name_length_(name);
    cut = name[length] != '\0';
    PERF_LIBC_(memcpy)(l->name, name, length);
    l->name[length] = '\0';
    l->kind = kind;
    if (!r || !perf_lock_(r))                       /* inside a signal handler: only not reported */
        return cut;
    if (cut) {
        PERF_ADD_(r->cut_names, 1);
        perf_fail_(r, PERF_ELIMIT);
    }
    l->next = r->results;
    PERF_REL_(&r->results, l);
    perf_unlock_(&r->lock);
    return cut;
}

PERF_FN int perf_bench_enough_(perf_loop_state_ *s, uint64_t now);
/* own: bytes for a filling.  Pages are touched only as far as they are used: most stay free. */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_pages_(const char *name, int kind, size_t arms,
                                                 size_t rounds, size_t own)
{
    perf_loop_state_ *s;
    double           *at;
    size_t            i, of_arms = arms * (sizeof *s->arm + sizeof *s->entry);
    size_t            of_rounds = rounds * ((2 * arms + 2) * sizeof *at + 2);
    size_t            bytes = sizeof *s + of_arms + of_rounds + own;

    s = PERF_CAST_(perf_loop_state_ *, perf_pages_(bytes, 0));
    if (!s)
        return s;
    s->loop.pages = bytes;
    s->arm = PERF_PTR_(perf_loop_arm_ *, s + 1);
    s->entry = PERF_PTR_(perf_race_entry *, s->arm + arms);
    at = PERF_PTR_(double *, s->entry + arms);
    for (i = 0; i < arms; i++, at += 2 * rounds) {
        s->arm[i].ns = at;
        s->arm[i].cpu = at + rounds;
        s->arm[i].batch = 1;
        s->order[i] = PERF_CAST_(unsigned char, i);
    }
    s->logs = at;
    s->when = at + rounds;
    s->own = at + 2 * rounds;
    s->first = PERF_PTR_(unsigned char *, s->own) + own;
    s->led = s->first + rounds;
    s->variants = s->running = PERF_CAST_(int, arms);
    s->timer.began = perf_now();
    s->timer.clocks = 1;
    s->coin = (s->timer.began ^ (perf_ticks() << 20)) | 1;
    s->forced = -1;
    s->round = perf_bench_enough_;
    s->look_at = 30;
    if (kind && perf_loop_add_(&s->loop, kind, name))
        s->warnings = PERF_CAST_(uint32_t, PERF_WARN_NAME);
    return s;
}

/* A new state of the host: its clock is probed.  NULL: no memory. */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_start_(const char *name, int kind, size_t arms,
                                                 size_t rounds, int optimised)
{
    perf_loop_state_ *s = perf_loop_pages_(name, kind, arms, rounds, 0);

    if (!s)
        return s;
    if (!optimised)
        s->warnings |= PERF_CAST_(uint32_t, PERF_WARN_UNOPTIMISED);
    s->timer.overhead_ns[PERF_BY_WALL_] = perf_clock_probe_(PERF_BY_WALL_, &s->timer.tick_ns);
    s->timer.coarse = s->timer.tick_ns > 1000.0;
    s->fill = perf_host_filling_();
    return s;
}

/* A new order for the next round: each equally likely. */
PERF_COLD_FN_ void perf_loop_shuffle_(perf_loop_state_ *s)
{
    unsigned char one;
    int           i, j;

    s->at = 0;
    for (i = s->running - 1; i > 0; i--) {
        j = PERF_CAST_(int, (perf_random_(&s->coin) >> 32) * PERF_CAST_(uint64_t, i + 1) >> 32);
        one = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = one;
    }
}

/* The next arm of this round whose batch is still to be found.  0: none. */
PERF_FN int perf_loop_unsteady_(perf_loop_state_ *s)
{
    while (s->at < s->running && s->arm[s->order[s->at]].steady)
        s->at++;
    return s->at < s->running;
}

/* Readings of a batch that are long enough before it counts as found. */
enum { PERF_READINGS_OF_BATCH_ = 3, PERF_READINGS_OF_ONE_ = 2, PERF_READINGS_OF_SLOW_ = 1 };

PERF_COLD_FN_ int perf_loop_readings_needed_(const perf_loop_state_ *s, uint64_t batch,
                                             double slowest)
{
    if (batch > 1)
        return PERF_READINGS_OF_BATCH_;
    if (16.0 * slowest < s->opts.max_seconds * 1e9)
        return PERF_READINGS_OF_ONE_;
    return PERF_READINGS_OF_SLOW_;                  /* one takes much of the time                 */
}

/* 1: there is no body: a million iterations (100 million by a clock of milliseconds) took less time
 * than the loop's own branch.                                                                    */
PERF_COLD_FN_ int perf_loop_empty_(const perf_loop_state_ *s, uint64_t batch, double slowest)
{
    uint64_t enough = 1000000;

    if (s->timer.coarse)
        enough = 10000000;
    if (s->timer.coarse && s->timer.least_ns > 0.0)
        enough = 100000000;
    return batch >= enough && slowest < 0.03 * PERF_CAST_(double, batch);
}

/* How many times larger the next batch is; one reading may mislead. */
PERF_COLD_FN_ double perf_loop_growth_(double want, double slowest)
{
    const double most = 10.0, least = 1.2;

    if (!(slowest > 0.0))
        return most;
    return perf_most_(perf_least_(want / slowest, most), least);
}

PERF_FN int perf_loop_is_full_(const perf_loop_arm_ *arm)
{
    return arm->most && arm->batch >= arm->most;
}

/* All arms without a batch were read at a common one.  It grows until enough readings in a row are
 * long enough; one with a limit, late or not.  Arms within a factor of four share it: two that walk
 * the same memory then stand at the same place.  0: there is no body.                            */
PERF_COLD_FN_ int perf_loop_grow_(perf_loop_state_ *s, double want, int late)
{
    const double    full = PERF_LOOP_FULL_ * want;
    perf_loop_arm_ *arm = &s->arm[s->order[0]];
    double          slowest = 0.0, factor;
    int             i, enough, all_full = 1;

    for (i = s->running; i--;)
        if (!s->arm[s->order[i]].steady) {
            arm = &s->arm[s->order[i]];
            s->at = i;
            slowest = perf_most_(arm->fastest, slowest);
            all_full &= perf_loop_is_full_(arm);
        }
    if (perf_loop_empty_(s, arm->batch, slowest))
        return 0;
    late = late && !arm->most;
    enough = slowest >= full || late || all_full;
    if (enough && !late && arm->readings < perf_loop_readings_needed_(s, arm->batch, slowest))
        return 1;
    factor = perf_loop_growth_(want, slowest);
    for (; s->at < s->running; s->at++) {
        arm = &s->arm[s->order[s->at]];
        if (arm->steady)
            continue;
        arm->steady = enough && (late || s->fill->beside * arm->fastest >= slowest ||
                                 arm->fastest >= full || perf_loop_is_full_(arm));
        if (!arm->steady)
            arm->readings = 0;
        if (!enough)
            arm->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, arm->batch) * factor) + 1;
        if (perf_loop_is_full_(arm))
            arm->batch = arm->most;
    }
    return 1;
}

/* All batches are found: the warm-up begins, or the first round.  0: the filling ends the loop. */
PERF_COLD_FN_ int perf_loop_grown_(perf_loop_state_ *s, int late)
{
    s->phase = PERF_LOOP_SAMPLE_;
    if (s->left_to_warm > 0 && !late)
        s->phase = PERF_LOOP_WARM_;
    perf_loop_shuffle_(s);
    s->round_began = perf_now();
    return s->fill->grown(s);
}

/* Each variant has run once.  If too few such rounds fit into the time, the loop neither looks for
 * a batch nor warms up: the next runs are samples.                                               */
PERF_COLD_FN_ int perf_loop_cold_(perf_loop_state_ *s)
{
    double all = 0.0;
    int    i;

    for (i = 0; i < s->running; i++)
        all += s->arm[s->order[i]].first_ns;
    if (s->variants > 1)
        all *= PERF_LOOP_ROUNDS_;
    s->hurry = all > s->opts.max_seconds * 1e9;
    s->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(s);
    for (i = 0; i < s->running; i++)
        s->arm[s->order[i]].steady = s->hurry;
    if (s->hurry)
        return perf_loop_grown_(s, 1);
    return 1;
}

/* After a first round without a batch: finds one after all, if only the first run was slow. */
PERF_COLD_FN_ int perf_loop_was_cold_(perf_loop_state_ *s, double want)
{
    int i;

    if (!s->hurry)
        return 0;
    s->hurry = 0;
    for (i = 0; i < s->running; i++)
        if (s->arm[s->order[i]].pending[0] >= PERF_LOOP_FULL_ * want)
            return 0;
    for (i = 0; i < s->running; i++)
        s->arm[s->order[i]].steady = 0;
    s->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(s);
    return 1;
}

/* 1: variants i and j waited for different shares of their time, by a tenth of it and by three
 * standard errors.  Then one waits for work that is done elsewhere, in another process say.      */
PERF_COLD_FN_ int perf_loop_waits_apart_(const perf_loop_arm_ *a, const perf_loop_arm_ *b)
{
    double square = 0.0, apart = 0.0;
    int    i;

    for (i = 0; i < 2; i++, a = b) {
        if (!(a->wall_ns > 0.0))
            return 0;
        apart = a->wait_ns / a->wall_ns - apart;
        square += (a->wait_sq - a->wait_ns * a->wait_ns / PERF_CAST_(double, a->timed)) /
                  (a->wall_ns * a->wall_ns);
    }
    return apart * apart > 0.01 && apart * apart > 9.0 * square;
}

/* Why the wall's clock alone timed the slices. */
PERF_COLD_FN_ const char *perf_loop_why_one_clock_(const perf_loop_state_ *s)
{
    if (s->timer.one_clock)
        return "there is no other clock";
    if (s->arm[s->order[0]].steady)
        return "the slices are short";
    return "there was no time for more than first calls";
}

PERF_FN const double *perf_loop_times_(const perf_loop_state_ *s, int i)
{
    if (perf_loop_by_(s))
        return s->arm[i].cpu;
    return s->arm[i].ns;
}

/* Uncounted slices of variant v right before its counted one.  At least one after a slice much
 * longer than its own, which leaves cold caches behind.                                          */
PERF_COLD_FN_ size_t perf_loop_leads_(const perf_loop_state_ *s, int v)
{
    const perf_loop_arm_ *arm = &s->arm[v];
    const double          beside = s->fill->beside;
    const int             after_long = beside > 0.0 && s->last != v &&
                                       s->arm[s->last].fastest > beside * arm->fastest;
    double                slices;

    if (s->phase < PERF_LOOP_WARM_)
        return 0;
    if (!(s->round_lead_ns > 0.0))
        return PERF_CAST_(size_t, after_long);
    slices = s->round_lead_ns / (arm->fastest + 1.0) + 0.5;
    return PERF_CAST_(size_t, perf_most_(perf_least_(slices, 1e6), 1.0));
}

/* Processor time of this thread, or else the wall's clock: others must not make a lead longer. */
PERF_COLD_FN_ uint64_t perf_loop_own_time_(void)
{
    uint64_t ns = perf_timer_clock_(PERF_BY_THREAD_);

    return ns ? ns : perf_now();
}

/* Starts a slice of order[at]. */
PERF_COLD_FN_ uint64_t perf_loop_go_(perf_loop_state_ *s)
{
    int v = s->order[s->at];

    if (s->opts.before)
        s->opts.before(s->opts.user, v);
    s->fill->begin(s, v);
    if (s->phase == PERF_LOOP_DONE_)
        return 0;
    return 64 * s->arm[v].batch + PERF_CAST_(uint64_t, v);
}

/* It is the turn of order[at]: its lead, then the slice that counts. */
PERF_COLD_FN_ uint64_t perf_loop_turn_begins_(perf_loop_state_ *s)
{
    int v = s->order[s->at];

    s->leads_left = perf_loop_leads_(s, v);
    s->arm[v].lead_runs = 0;
    if (s->longer)
        s->arm[v].lead_began = perf_loop_own_time_();
    return perf_loop_go_(s);
}

PERF_FN uint64_t perf_loop_stop_(perf_loop_state_ *s, perf_status why)
{
    s->status = why;
    s->phase = PERF_LOOP_DONE_;
    return 0;
}

/* A slice of a lead has ended. */
PERF_COLD_FN_ void perf_loop_led_(perf_loop_state_ *s, perf_loop_arm_ *arm)
{
    s->leads_left--;
    arm->lead_runs += arm->batch;
    if (!s->leads_left && s->longer)
        arm->lead_ended = perf_loop_own_time_();
}

/* The first call of an arm has ended.  1: that completes the only round there is time for. */
PERF_COLD_FN_ int perf_loop_first_ended_(perf_loop_state_ *s, perf_loop_arm_ *arm, int late)
{
    arm->first_ns = arm->fastest = arm->pending[0] = s->timer.ns[PERF_BY_WALL_];
    if (++s->at < s->running)
        return 0;
    if (s->fill->warm) {
        s->phase = PERF_LOOP_HEAT_;
        perf_loop_shuffle_(s);
        return 0;
    }
    if (late && s->variants > 1)
        return 1;
    if (!perf_loop_cold_(s))
        (void)perf_loop_stop_(s, s->status);
    return 0;
}

/* A run before batches are looked for has ended. */
PERF_COLD_FN_ void perf_loop_heated_(perf_loop_state_ *s, int late)
{
    if (++s->at < s->running)
        return;
    if (s->fill->warm(s, late))
        s->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(s);
}

/* A reading at a batch that may be too small has ended. */
PERF_COLD_FN_ void perf_loop_reading_ended_(perf_loop_state_ *s, perf_loop_arm_ *arm, uint64_t now,
                                            int late)
{
    double ns = s->timer.ns[PERF_BY_WALL_];

    if (!arm->readings++ || ns < arm->fastest)
        arm->fastest = ns;
    s->at++;
    if (perf_loop_unsteady_(s))
        return;
    if (!perf_loop_grow_(s, s->fill->want(s), late)) {
        if (s->timer.unresumed)
            (void)perf_loop_stop_(s, PERF_ESTATE);
        else if (now == s->timer.began)
            (void)perf_loop_stop_(s, PERF_ERANGE);
        else
            (void)perf_loop_stop_(s, PERF_EDELETED);
        return;
    }
    perf_loop_shuffle_(s);
    if (!perf_loop_unsteady_(s) && !perf_loop_grown_(s, late))
        (void)perf_loop_stop_(s, s->status);
}

PERF_COLD_FN_ void perf_loop_warm_up_ended_(perf_loop_state_ *s, uint64_t now)
{
    const double ahead = PERF_LOOP_LEAST_ * s->timer.ns[PERF_BY_WALL_];    /* what has to come   */

    if (++s->at < s->running)
        return;
    s->left_to_warm--;
    if (s->left_to_warm <= 0 || perf_timer_late_(&s->timer, now, s->opts.max_seconds, ahead))
        s->phase = PERF_LOOP_SAMPLE_;
    perf_loop_shuffle_(s);
}

/* A longer lead and the slice after it, by the same clock, ns an iteration. */
PERF_COLD_FN_ void perf_loop_file_lead_(perf_loop_state_ *s, perf_loop_arm_ *arm)
{
    const double lead = perf_since_(arm->lead_began, arm->lead_ended);
    const double after = perf_since_(arm->lead_ended, perf_loop_own_time_());

    s->longer_own_ns += lead + after;
    arm->led_ns = lead / perf_most_(PERF_CAST_(double, arm->lead_runs), 1.0);
    arm->after_ns = after / PERF_CAST_(double, arm->batch);
    arm->as_timed = s->fill == perf_host_filling_() && !s->opts.before && !s->timer.pause_known &&
                    s->timer.ns[PERF_BY_WALL_] <= after;
}

/* How the leads of a round compare, into `owed` of all variants but 0.  On a busy machine a reading
 * of processor time may be off by half a slice: leads then compare with the slices as they were
 * timed.  With untimed work, or waits, only with those right after them.                         */
PERF_COLD_FN_ void perf_loop_file_leads_(perf_loop_state_ *s)
{
    const perf_loop_arm_ *a = &s->arm[0];
    perf_loop_arm_       *b;
    perf_owed_           *to;
    int                   i;

    for (i = 1; i < s->running; i++) {
        b = &s->arm[i];
        if (!(a->led_ns > 0.0 && a->after_ns > 0.0 && b->led_ns > 0.0 && b->after_ns > 0.0))
            continue;
        to = &b->owed[b->owed_count++ % PERF_OWED_];
        to->log_ratio = perf_log_(b->led_ns / a->led_ns);
        to->as_timed = a->as_timed && b->as_timed;
        to->later = b->lead_began > a->lead_began;
        if (!to->as_timed)
            to->log_ratio -= perf_log_(b->after_ns / a->after_ns);
    }
}

/* The arm of the slice under way; between two rounds the first of the next. */
PERF_COLD_FN_ int perf_loop_arm_now_(const perf_loop_state_ *s)
{
    if (s->at < s->running)
        return s->order[s->at];
    return s->order[0];
}

/* ns per iteration of an empty loop that the compiler may not delete, the best of 5. */
PERF_COLD_FN_ double perf_loop_empty_ns_(double overhead)
{
    double   best = PERF_INF_, ns;
    uint64_t t, n;
    int      i;

    for (i = 0; i < 5; i++) {
        t = perf_now();
        for (n = 20000; n; n--)
            perf_clobber();
        ns = (perf_since_(t, perf_now()) - overhead) / 20000.0;
        if (ns < best)
            best = ns;
    }
    return best;
}

/* x: ns per iteration by slice, in time order. */
PERF_COLD_FN_ uint32_t perf_slice_warnings_(const double *x, size_t n, const perf_summary *all,
                                            double overhead)
{
    perf_summary early, late;
    uint32_t     w = 0;

    /* A deleted body leaves the loop, up to 3 cycles of it in 25 runs measured; an honest single
     * multiply is in that range too, so a bench only warns, while a verdict is withheld.         */
    if (all->count && all->p50 < 5.0 && all->p50 < 5.0 * perf_loop_empty_ns_(overhead))
        w |= PERF_WARN_EMPTY_BODY;
    if (n >= 30) {
        early = perf_summarize(x, n / 3);
        late = perf_summarize(x + (n - n / 3), n / 3);
        if (perf_fabs_(early.p50 - late.p50) > 0.05 * all->p50 &&
            (early.p50_low > late.p50_high || late.p50_low > early.p50_high))
            w |= PERF_WARN_DRIFT;
    }
    return w;
}

/* ---- refused options ---- */

#define PERF_OPTION_BAD_(opts, member)                                                            \
    if (!((opts)->member >= 0))                                                                   \
        return "opts." #member " is below zero or no number";

/* Says which option cannot be meant; NULL: none. */
PERF_COLD_FN_ const char *perf_bench_refused_(const char *name, const perf_bench_opts *o)
{
    if (name && !*name)
        return "the name of the loop is empty";
    if (!o)
        return PERF_NULL_;
    PERF_OPTION_BAD_(o, samples)
    PERF_OPTION_BAD_(o, rel_ci)
    PERF_OPTION_BAD_(o, max_seconds)
    PERF_OPTION_BAD_(o, min_seconds)
    PERF_OPTION_BAD_(o, slice_ns)
    PERF_OPTION_BAD_(o, bytes)
    PERF_OPTION_BAD_(o, items)
    PERF_OPTION_BAD_(o, flops)
    PERF_OPTION_BAD_(o, peak_gb_per_s)
    PERF_OPTION_BAD_(o, peak_gflop_per_s)
    return PERF_NULL_;
}

PERF_COLD_FN_ const char *perf_race_refused_(const char *name, const perf_ab_opts *o)
{
    if (name && !*name)
        return "the name of the loop is empty";
    if (!o)
        return PERF_NULL_;
    PERF_OPTION_BAD_(o, min_pairs)
    PERF_OPTION_BAD_(o, max_pairs)
    PERF_OPTION_BAD_(o, max_seconds)
    PERF_OPTION_BAD_(o, slice_ns)
    if ((o->also.metric || o->also.kind || o->also.amount > 0.0) &&
        (o->also.metric < PERF_METRIC_INSTRUCTIONS || o->also.metric > PERF_METRIC_BRANCH_MISSES))
        return "opts.also is no rule on a count";
    return PERF_NULL_;
}

/* The loop runs zero times, and its result says why.  NULL: nothing happens. */
PERF_COLD_FN_ void perf_loop_refuse_(perf_loop_state_ *s, const char *why)
{
    if (!why)
        return;
    s->refused = s->loop.note = why;
    (void)perf_loop_stop_(s, PERF_EINVAL);
}

/* ---- what a body tells its bench: a failure, rates, numbers ---- */

/* The body says that it has failed: the loop ends. */
PERF_FN void perf_bench_failed_(perf_loop *l, const char *why)
{
    perf_loop_state_ *s = l->state;

    if (PERF_LOOP_KIND_(s) != 1 || PERF_ACQ_(&s->loop.done))
        return;
    (void)perf_loop_stop_(s, PERF_EFAILED);
    s->loop.note = why;
    l->left = 0;
}

/* Is it a rate, or 0? */
PERF_FN int perf_told_is_rate_(double x)
{
    return x >= 0.0 && x <= 1e30;
}

PERF_FN void perf_told_rates_(perf_loop *l, double bytes, double items)
{
    perf_loop_state_ *s = l->state;

    if (PERF_LOOP_KIND_(s) != 1)
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

PERF_FN void perf_told_counter_(perf_loop *l, const char *name, double value)
{
    perf_loop_state_ *s = l->state;
    double           *place;

    if (PERF_LOOP_KIND_(s) != 1)
        return;
    place = perf_told_place_(&s->loop, name);
    if (place)
        *place = value;
    else
        perf_bench_failed_(l, "perf_bench_counter: more than 16 names");
}

/* ---- bench ---- */

PERF_FN perf_bench_opts perf_bench_resolved_(const perf_bench_opts *opts)
{
    perf_bench_opts o = PERF_ZERO;

    if (opts)
        o = *opts;
    if (!o.warmup)
        o.warmup = 5;
    if (o.warmup < 0)
        o.warmup = 0;
    o.samples = perf_clamp_(o.samples, 0, PERF_LOOP_MAX_SAMPLES_);
    o.rel_ci = perf_or_default_(o.rel_ci, 1e-6, 1.0, 0.01);
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 1.0);
    o.min_seconds = perf_or_default_(o.min_seconds, 1e-9, o.max_seconds, 0.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    if (o.slice_ns * PERF_LOOP_FULL_ * PERF_LOOP_SAMPLES_ < o.min_seconds * 1e9)
        o.slice_ns = o.min_seconds * 1e9 / (PERF_LOOP_FULL_ * PERF_LOOP_SAMPLES_);
    o.bytes = perf_or_default_(o.bytes, 1e-30, 1e30, 0.0);
    o.items = perf_or_default_(o.items, 1e-30, 1e30, 0.0);
    o.flops = perf_or_default_(o.flops, 1e-30, 1e30, 0.0);
    o.peak_gb_per_s = perf_or_default_(o.peak_gb_per_s, 1e-30, 1e30, 0.0);
    o.peak_gflop_per_s = perf_or_default_(o.peak_gflop_per_s, 1e-30, 1e30, 0.0);
    return o;
}

PERF_FN int perf_bench_narrow_(const perf_loop_state_ *s, const perf_summary *sum)
{
    return sum->p50_high - sum->p50_low <= 2.0 * s->opts.rel_ci * sum->p50;
}

/* 1 when sampling may end: the median is known well enough, or samples or time have run out. */
PERF_FN int perf_bench_enough_(perf_loop_state_ *s, uint64_t now)
{
    const perf_loop_arm_ *arm = &s->arm[0];
    const int             late = perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.0);
    perf_summary          sum;

    if (late && arm->count >= PERF_LOOP_LEAST_)
        return 1;
    if (s->opts.samples)
        return arm->count >= PERF_CAST_(size_t, s->opts.samples);
    if (arm->count >= PERF_LOOP_SAMPLES_)
        return 1;
    if (arm->count < s->look_at || !perf_timer_late_(&s->timer, now, s->opts.min_seconds, 0.0))
        return 0;
    s->look_at = arm->count + arm->count / 4;
    sum = perf_summarize_series_(perf_loop_times_(s, 0), arm->count);
    return perf_bench_narrow_(s, &sum);
}

PERF_OUTLINE_FN_ perf_loop perf_bench_open_(const char *name, int kind, int variants,
                                            const void *opts, int optimised)
{
    perf_bench_opts   o = perf_bench_resolved_(PERF_CAST_(const perf_bench_opts *, opts));
    size_t            room = o.samples ? PERF_CAST_(size_t, o.samples) : PERF_LOOP_SAMPLES_;
    perf_loop_state_ *s = PERF_NULL_;

    if (perf_not_cold_())
        s = perf_loop_start_(name, kind, PERF_CAST_(size_t, variants), room, optimised);
    if (s) {
        s->opts = o;
        s->left_to_warm = o.warmup;
        perf_loop_refuse_(s, perf_bench_refused_(name, PERF_CAST_(const perf_bench_opts *, opts)));
    }
    return perf_loop_new_(s);
}

/* The interval of the median, by so many ns more on each side. */
PERF_COLD_FN_ void perf_summary_widen_(perf_summary *s, double by)
{
    s->p50_low = perf_most_(s->p50_low - by, 0.0);
    s->p50_high += by;
}

/* Widens the intervals by the step of a coarse clock and by the uncertain cost of pauses. */
PERF_COLD_FN_ void perf_bench_doubt_(const perf_loop_state_ *s, perf_result *r)
{
    const double batch = PERF_CAST_(double, r->batch);
    const double pauses = s->arm[0].doubt_ns / batch;
    const double step = perf_timer_tick_(&s->timer) / batch;

    if (s->timer.coarse && r->decides == PERF_DECIDES_WALL) {
        perf_summary_widen_(&r->time, step);
        if (step > 0.001 * r->time.p50)
            r->warnings |= PERF_WARN_RESOLUTION;
    }
    perf_summary_widen_(&r->time, pauses);
    if (r->cpu.count)
        perf_summary_widen_(&r->cpu, pauses);
    if (pauses > 0.01 * perf_result_main_(r)->p50)
        r->warnings |= PERF_WARN_PAUSES;
}

/* PERF_ENODATA where a loop went well and has none of these. */
PERF_FN perf_status perf_loop_status_(const perf_loop_state_ *s, uint64_t count)
{
    if (s->status == PERF_OK && !count)
        return PERF_ENODATA;
    return s->status;
}

/* Which clock decides, and why; or why it was refused. */
PERF_COLD_FN_ perf_decides perf_loop_clock_(const perf_loop_state_ *s, const char **why)
{
    const perf_decides decides = perf_loop_decides_(s, why);

    if (s->refused)
        *why = s->refused;
    return decides;
}

PERF_OUTLINE_FN_ perf_result perf_bench_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_result           r = PERF_ZERO;
    const perf_loop_arm_ *arm;
    const perf_summary   *sum;

    r.why = "nothing was measured";
    r.status = perf_loop_over_(s, 1);
    if (r.status != PERF_OK)
        return r;
    perf_loop_settle_(s, left);
    arm = &s->arm[0];
    r.decides = perf_loop_clock_(s, &r.why);
    r.time.status = s->status;                      /* never a plausible time beside a failure    */
    if (s->status == PERF_OK)
        r.time = perf_summarize_series_(arm->ns, arm->count);
    if (s->status == PERF_OK && s->timer.clocks > 1)
        r.cpu = perf_summarize_series_(arm->cpu, arm->count);
    sum = perf_result_main_(&r);
    r.first_ns = arm->first_ns;
    r.overhead_ns = s->timer.overhead_ns[PERF_BY_WALL_];
    r.batch = arm->batch;
    r.iterations = arm->runs;
    r.opts = s->opts;
    r.status = perf_loop_status_(s, r.time.count);
    r.warnings = s->warnings | sum->warnings;
    if (r.time.count) {
        perf_bench_doubt_(s, &r);
        r.warnings |= perf_slice_warnings_(perf_loop_times_(s, 0), arm->count, sum, r.overhead_ns);
        if (!perf_bench_narrow_(s, sum))
            r.warnings |= PERF_WARN_NOISY;
        perf_result_rates_(&r);
    }
    s->result = r;
    perf_loop_done_(s, &s->result);
    return s->result;
}

/* ---- ab and race: 2 to 64 variants ---- */

#define PERF_LEAD_MOST_NS_    20e6      /* the longest lead: some turns of any scheduler          */
#define PERF_LEAD_FIRST_      4.0       /* slices, when leads are found to be needed              */
#define PERF_LEAD_GROWS_      4.0       /* times as long where that was not enough                */
#define PERF_LONGER_SHARE_    0.5       /* of the time that longer leads may take                 */
#define PERF_LONGER_PART_     8.0       /* those of one round take no more than this part of it   */
#define PERF_LONGER_LEAST_    5         /* rounds with longer leads for an answer                 */
#define PERF_LONGER_HURRIED_  4         /* likewise, where a round takes long or nobody waits     */
#define PERF_LONGER_TELL_     3         /* values that tell anything; of a debt, in either order  */
#define PERF_ROUND_SLOW_NS_   20e6
#define PERF_RESTARTS_        8         /* so often pairs that disagree are taken anew            */
#define PERF_RACE_SECONDS_    0.5       /* default of min_seconds: the last third comes after a   */
                                        /* warm-up of 0.3 s                                       */
#define PERF_SURE_            2.5       /* standard errors between two medians that differ: a     */
                                        /* chance of 1 in 80                                      */
#define PERF_TRIFLE_LEAST_    0.002     /* a difference of logs that never counts: the step of a  */
                                        /* clock, the place of the code                           */
#define PERF_TRIFLE_MOST_     0.01      /* one that always counts                                 */
#define PERF_DEBT_LEAST_      0.02      /* of an iteration                                        */
#define PERF_DEBT_LIKELY_     1.5       /* standard errors: more leads have to tell               */
#define PERF_DEBT_SURE_       3.0
#define PERF_MEDIAN_ERROR_    1.8582    /* standard error of a median over mad / sqrt(n), of a    */
                                        /* normal law: sqrt(pi / 2) * 1.4826                      */
#define PERF_TURNS_APART_     1.15      /* ratio in turns against that with leads: a note         */

/* Pairs at most, where nobody said so. */
PERF_FN int perf_race_usual_most_(const perf_ab_opts *o, int variants)
{
    if (variants > 2)
        return 1000;
    if (o->accept.rule.metric == PERF_METRIC_PAIR)
        return 5000;
    return 400;
}

PERF_FN perf_ab_opts perf_race_resolved_(const perf_ab_opts *opts, int variants)
{
    perf_ab_opts o = PERF_ZERO;
    double       slice_most;

    if (opts)
        o = *opts;
    o.accept = perf_compare_opts_resolved_(&o.accept);
    o.accept.design = PERF_DESIGN_RANDOM;
    if (o.also.metric)
        o.accept.rules = perf_clamp_(o.accept.rules, 2, 1000);
    if (o.min_pairs <= 0)
        o.min_pairs = 22 + variants;                /* to tell the best from all others           */
    o.min_pairs = perf_clamp_(o.min_pairs, 1, PERF_LOOP_MAX_SAMPLES_);
    if (o.max_pairs <= 0)
        o.max_pairs = perf_race_usual_most_(&o, variants);
    o.max_pairs = perf_clamp_(o.max_pairs, o.min_pairs, PERF_LOOP_MAX_SAMPLES_);
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    slice_most = o.max_seconds * 1e9 / 64.0;        /* room for the pairs that an answer takes    */
    o.slice_ns = perf_most_(perf_least_(o.slice_ns, slice_most), 1e3);
    if (o.control >= 0)
        o.control = 1;
    else
        o.control = -1;
    if (o.min_seconds < 0.0)
        o.min_seconds = -1.0;
    else
        o.min_seconds = perf_or_default_(o.min_seconds, 1e-9, o.max_seconds,
                                         perf_least_(PERF_RACE_SECONDS_, 0.5 * o.max_seconds));
    return o;
}

/* The log resolution of one pair, from the step of the clock and the length of the slices. */
PERF_FN double perf_race_tick_(const perf_loop_state_ *s, int i, int j)
{
    double a = s->arm[j].fastest, b = s->arm[i].fastest, tick = perf_timer_tick_(&s->timer);

    return perf_step_log_((tick + s->arm[j].doubt_ns) / a, (tick + s->arm[i].doubt_ns) / b);
}

PERF_FN int perf_pair_picked_(const perf_loop_state_ *s, size_t k, perf_pick_ pick)
{
    const double from = s->when[0], to = s->when[s->arm[0].count - 1], third = (to - from) / 3.0;

    switch (PERF_CAST_(int, pick)) {
    case PERF_USUAL_PAIRS_:
        return !s->led[k];
    case PERF_LONGER_PAIRS_:
        return s->led[k];
    case PERF_EARLY_PAIRS_:
        return k < 5 || s->when[k] <= from + third;     /* others may have had most of it         */
    case PERF_LATE_PAIRS_:
        return s->when[k] >= to - third;
    case PERF_BEGUN_BY_0_:
        return !s->led[k] && s->first[k] == 0;
    case PERF_BEGUN_BY_1_:
        return !s->led[k] && s->first[k] == 1;
    default:
        return 1;
    }
}

/* The centre of n values, whose order is changed. */
PERF_COLD_FN_ perf_centre_ perf_race_centre_(double *d, size_t n)
{
    perf_centre_ c = PERF_ZERO;
    size_t       k;

    c.n = n;
    c.error = PERF_INF_;
    if (!n)
        return c;
    perf_sort_values_(d, n);
    c.at = perf_quantile_(d, n, 0.5);
    for (k = 0; k < n; k++)
        d[k] = perf_fabs_(d[k] - c.at);
    perf_sort_values_(d, n);
    c.spread = perf_quantile_(d, n, 0.5);
    c.error = PERF_MEDIAN_ERROR_ * c.spread / perf_sqrt_(PERF_CAST_(double, n));
    return c;
}

/* The centre of variant i against variant 0, of some pairs. */
PERF_COLD_FN_ perf_centre_ perf_race_centre_of_(const perf_loop_state_ *s, int i, perf_pick_ pick)
{
    return perf_race_centre_(s->logs, perf_race_logs_(s, 0, i, pick));
}

/* How far the ratio is from the threshold, or the nearer limit, as logs. */
PERF_FN double perf_race_margin_(const perf_loop_state_ *s, double ratio)
{
    return perf_fabs_(perf_rule_room_(&s->ask.accept.rule, ratio));
}

/* 1: two ratios, as logs, give the same answer. */
PERF_FN int perf_race_alike_(const perf_loop_state_ *s, double one, double other)
{
    const perf_rule *rule = &s->ask.accept.rule;

    return (perf_rule_room_(rule, one) > 0.0) == (perf_rule_room_(rule, other) > 0.0);
}

/* The largest difference of two ratios that does not matter this far from the threshold. */
PERF_FN double perf_race_trifle_(double margin)
{
    return perf_or_default_(0.25 * margin, PERF_TRIFLE_LEAST_, PERF_TRIFLE_MOST_,
                            PERF_TRIFLE_LEAST_);
}

/* 1: two medians differ by more than noise explains, and by more than a trifle.  Of many variants,
 * by more than noise makes the farthest of them differ.                                          */
PERF_COLD_FN_ int perf_race_differ_(const perf_loop_state_ *s, perf_centre_ a, perf_centre_ b,
                                    double trifle)
{
    const double gap = perf_fabs_(a.at - b.at);
    const double sure = PERF_SURE_ * PERF_SURE_ + 2.0 * perf_log_(s->variants - 1.0);

    return gap > trifle && gap * gap > sure * (a.error * a.error + b.error * b.error);
}

/* 1: the answer is the same at both medians, and as far beyond the second as that is beyond the
 * first, by more than noise explains.  Then the difference of the medians does not matter.       */
PERF_COLD_FN_ int perf_race_beyond_doubt_(const perf_loop_state_ *s, perf_centre_ from,
                                          perf_centre_ to)
{
    const double further = 2.0 * to.at - from.at;

    return perf_race_alike_(s, from.at, to.at) && perf_race_alike_(s, to.at, further) &&
           perf_race_margin_(s, from.at) > PERF_SURE_ * from.error &&
           perf_race_margin_(s, further) > 2.0 * PERF_SURE_ * to.error;
}

/* 1: the second of a pair is faster, whichever variant it is.  Then the answer depends on how often
 * each began: the pairs that one began and those that the other began lie on two sides of the
 * threshold, well apart.                                                                         */
PERF_COLD_FN_ int perf_race_order_matters_(const perf_loop_state_ *s)
{
    perf_centre_ a, b;

    if (s->running != 2 || s->arm[0].count < 16)
        return 0;
    a = perf_race_centre_of_(s, 1, PERF_BEGUN_BY_0_);
    b = perf_race_centre_of_(s, 1, PERF_BEGUN_BY_1_);
    if (a.n < 2 || b.n < 2 || perf_race_alike_(s, a.at, b.at))
        return 0;
    a.error = 2.0 * a.spread / PERF_SURE_;
    b.error = 2.0 * b.spread / PERF_SURE_;
    return perf_race_differ_(s, a, b, PERF_TRIFLE_LEAST_);
}

/* The level of a bet when so many questions are open, each of so many rules.  Taking pairs anew is
 * another try: each try may be wrong half as often as the one before.                            */
PERF_FN double perf_race_level_(const perf_loop_state_ *s, int open)
{
    if (s->ask.accept.rules > 1)
        open *= s->ask.accept.rules;
    return PERF_CAST_(double, open << s->restarts) * 2.0 / (1.0 - s->ask.accept.confidence);
}

/* ---- what may be said against an answer: docs/loops.md has the table ---- */

/* 1: longer leads change the ratio.  `lenient`: only if that may change the answer. */
PERF_COLD_FN_ int perf_race_leads_matter_(const perf_loop_state_ *s, int i, int lenient)
{
    const perf_centre_ usual = perf_race_centre_of_(s, i, PERF_USUAL_PAIRS_);
    const perf_centre_ longer = perf_race_centre_of_(s, i, PERF_LONGER_PAIRS_);

    if (longer.n < PERF_LONGER_TELL_ || usual.n < PERF_LONGER_TELL_ ||
        !perf_race_differ_(s, usual, longer, perf_race_trifle_(perf_race_margin_(s, usual.at))))
        return 0;
    return !lenient || !perf_race_beyond_doubt_(s, usual, longer);
}

/* What too few pairs mean.  Loops with slow rounds, and those that shall end at once, do not wait
 * for more.                                                                                      */
PERF_FN int perf_race_cannot_tell_(const perf_loop_state_ *s)
{
    const int waits = s->ask.min_seconds > 0.0 && s->round_least_ns < PERF_ROUND_SLOW_NS_;

    if (waits)
        return PERF_TOO_FEW_;
    return PERF_NO_OBJECTION_;
}

/* PERF_RATIO_DRIFTS_, or that there are too few pairs to tell; few pairs in all tell nothing. */
PERF_COLD_FN_ int perf_race_drifts_(const perf_loop_state_ *s, int i)
{
    const perf_centre_ early = perf_race_centre_of_(s, i, PERF_EARLY_PAIRS_);
    const perf_centre_ late = perf_race_centre_of_(s, i, PERF_LATE_PAIRS_);

    if (s->arm[0].count < 15)
        return PERF_NO_OBJECTION_;
    if (early.n < 5 || late.n < 5)
        return perf_race_cannot_tell_(s);
    if (perf_race_differ_(s, early, late, perf_race_trifle_(perf_race_margin_(s, late.at))) &&
        !perf_race_beyond_doubt_(s, early, late))
        return PERF_RATIO_DRIFTS_;
    return PERF_NO_OBJECTION_;
}

/* What longer leads of variant i, or of variant 0, took beyond its slices where the other one had
 * run before, as a share of an iteration.  `at`: the log ratio of the slices.                    */
PERF_COLD_FN_ perf_centre_ perf_race_owed_(const perf_loop_state_ *s, int i, int of_i, double at)
{
    const perf_loop_arm_ *arm = &s->arm[i];
    double                owed[PERF_OWED_], beyond;
    size_t                k, found = 0;

    for (k = 0; k < arm->owed_count && k < PERF_OWED_; k++) {
        if (arm->owed[k].later != of_i)
            continue;
        beyond = arm->owed[k].log_ratio;
        if (arm->owed[k].as_timed)
            beyond -= at;
        if (!of_i)
            beyond = -beyond;
        owed[found++] = perf_exp_(beyond) - 1.0;
    }
    return perf_race_centre_(owed, found);
}

/* PERF_DEBT_: one variant takes longer in its leads than in the slices after them, because it does
 * work that the other left.  If that time counted for the other, the answer would change.  Where
 * that is likely but not sure, more leads have to tell.  Shares are of an iteration of variant 0.*/
PERF_COLD_FN_ int perf_race_in_debt_(const perf_loop_state_ *s, int i)
{
    const perf_centre_ all = perf_race_centre_of_(s, i, PERF_ALL_PAIRS_);
    const double       ratio = perf_exp_(all.at);
    const perf_centre_ a = perf_race_owed_(s, i, 0, all.at), b = perf_race_owed_(s, i, 1, all.at);
    const double       share = a.at - ratio * b.at, gap = perf_fabs_(share);
    const double       of_b = ratio * b.error, of_all = (1.0 + ratio) * all.error;
    const double       error = perf_sqrt_(a.error * a.error + of_b * of_b + of_all * of_all);
    const int          untimed = s->opts.before || s->timer.pause_known;   /* makes leads noisy   */
    double             in_full = ratio + share;

    if (a.n < PERF_LONGER_TELL_ || b.n < PERF_LONGER_TELL_)
        return perf_race_cannot_tell_(s);
    if (!(share > 0.0))
        in_full = ratio / (1.0 - share);
    if (gap < PERF_DEBT_LEAST_ || perf_race_alike_(s, all.at, perf_log_(in_full)))
        return PERF_NO_OBJECTION_;
    if (gap >= PERF_DEBT_SURE_ * error)
        return PERF_DEBT_;
    if (gap < PERF_DEBT_LIKELY_ * error || (untimed && s->lenient))
        return PERF_NO_OBJECTION_;
    if (perf_race_cannot_tell_(s) == PERF_TOO_FEW_)
        return PERF_DEBT_PERHAPS_;
    return PERF_NO_OBJECTION_;
}

/* 1: the pairs with longer leads give the same answer by themselves, or the same ratio. */
PERF_COLD_FN_ int perf_race_confirmed_(const perf_loop_state_ *s, int i)
{
    const perf_centre_ all = perf_race_centre_of_(s, i, PERF_ALL_PAIRS_);
    const perf_centre_ longer = perf_race_centre_of_(s, i, PERF_LONGER_PAIRS_);
    const double       margin = perf_race_margin_(s, all.at);
    const int          same_side = perf_race_alike_(s, all.at, longer.at);
    const int          precise = 2.0 * longer.error <= margin;

    if (same_side && !(s->lead_ns > 0.0))
        return 1;                               /* nothing has ever spoken against it             */
    if (same_side && perf_race_margin_(s, longer.at) > 2.0 * longer.error)
        return 1;
    return precise && perf_fabs_(all.at - longer.at) <= 0.5 * margin;
}

/* The slowest slice, without what is not timed. */
PERF_FN double perf_race_slice_ns_(const perf_loop_state_ *s)
{
    double slowest = 0.0;
    int    i;

    for (i = 0; i < s->variants; i++)
        slowest = perf_most_(s->arm[i].fastest, slowest);
    return slowest;
}

/* The lead that all slices get where the one they had was not enough. */
PERF_FN double perf_race_next_lead_(const perf_loop_state_ *s)
{
    double first = PERF_LEAD_FIRST_ * perf_race_slice_ns_(s);

    if (!(s->lead_ns > 0.0))
        return perf_least_(first, PERF_LEAD_MOST_NS_);
    return perf_least_(s->lead_ns * PERF_LEAD_GROWS_, PERF_LEAD_MOST_NS_);
}

/* ns since begin, or in slices if the clock was set back. */
PERF_FN double perf_race_took_(const perf_loop_state_ *s, uint64_t now)
{
    return perf_most_(perf_since_(s->timer.began, now), s->timer.spent_ns);
}

/* 1: there is time to take all pairs anew with that lead. */
PERF_COLD_FN_ int perf_race_may_restart_(const perf_loop_state_ *s, uint64_t now, double lead_ns)
{
    double round = s->round_ns;

    if (lead_ns > 0.0)
        round = perf_most_(s->variants * (lead_ns + 2.0 * perf_race_slice_ns_(s)), round);
    return s->restarts < PERF_RESTARTS_ &&
           !perf_timer_late_(&s->timer, now, s->opts.max_seconds, s->ask.min_pairs * round);
}

/* Drops what was measured so far: pairs begin anew, with that lead. */
PERF_COLD_FN_ void perf_race_restart_(perf_loop_state_ *s, double lead_ns)
{
    int i;

    for (i = 1; i < s->variants && !(s->lead_ns > 0.0) && lead_ns > 0.0; i++)
        s->arm[i].turns_ratio = perf_exp_(perf_race_centre_of_(s, i, PERF_USUAL_PAIRS_).at);
    for (i = 0; i < s->variants; i++)
        s->arm[i].count = s->arm[i].owed_count = 0;
    s->looked_at = s->longer_count = 0;
    s->few_longer = 0;
    s->round_least_ns = 0.0;
    s->look_at = 32;
    s->lead_ns = lead_ns;
    s->restarts++;
}

/* 1: the next round is one with longer leads: one of four by chance, and as many as it takes. */
PERF_COLD_FN_ int perf_race_draws_longer_(perf_loop_state_ *s)
{
    const int heads = !(perf_random_(&s->coin) >> 62);

    if (s->ask.control < 0 || s->running < 2)
        return 0;
    return heads || s->few_longer;
}

/* The lead of the next round: the usual one, or one of a longer length by chance. */
PERF_COLD_FN_ void perf_race_draw_lead_(perf_loop_state_ *s, uint64_t now)
{
    const double slice = perf_race_slice_ns_(s), took = perf_race_took_(s, now);
    double       least = 2.0 * slice, most, chance, cost;

    s->round_lead_ns = s->lead_ns;
    s->longer = 0;
    if (!perf_race_draws_longer_(s))
        return;
    if (slice > 1e6)
        least = slice;
    least = perf_most_(least, PERF_LEAD_GROWS_ * s->lead_ns);
    most = perf_least_(took / (PERF_LONGER_PART_ * s->variants), PERF_LEAD_MOST_NS_);
    if (s->few_longer && s->longer_ns > 2.0 * s->longer_own_ns)
        most = PERF_LEAD_GROWS_ * least;            /* others take most of it: many, not long     */
    most = perf_most_(most, least);
    chance = PERF_CAST_(double, perf_random_(&s->coin) >> 32) / 4294967296.0;
    least = least * perf_exp_(chance * perf_log_(most / least));
    cost = s->variants * (least + slice);
    if ((s->longer_ns > PERF_LONGER_SHARE_ * took && !s->few_longer) ||
        perf_timer_late_(&s->timer, now, s->opts.max_seconds, cost))
        return;
    s->round_lead_ns = least;
    s->longer = 1;
    s->control_rounds++;
}

/* The pairs disagree: they are taken anew, with longer leads if need be.  1: there is no time. */
PERF_COLD_FN_ int perf_race_anew_(perf_loop_state_ *s, uint64_t now, int objection)
{
    const int turns = objection == PERF_TURNS_MATTER_;
    double    lead = s->lead_ns;

    if (turns)
        lead = perf_race_next_lead_(s);
    if (turns && !(lead > s->lead_ns))
        return 1;                                   /* it is as long as it may be                 */
    if (!perf_race_may_restart_(s, now, lead))
        return 1;
    perf_race_restart_(s, lead);
    return 0;
}

/* Only that variant runs; below 0: all do, and every report notes a number that is too high. */
PERF_COLD_FN_ void perf_race_force_(perf_loop_state_ *s, int variant)
{
    perf_registry_ *r = perf_registry_get_();

    if (variant >= s->variants && r) {
        PERF_SET_(&r->bad_variant, 1u);
        perf_fail_(r, PERF_ERANGE);
    }
    if (variant < 0 || variant >= s->variants)
        return;
    s->forced = variant;
    s->running = 1;
    s->order[0] = PERF_CAST_(unsigned char, variant);
}

/* 1: a verdict by processor time is the opposite of what the wall's clock says: by its bets, or by
 * its medians, if their ratio is off by more than a factor of two.                               */
PERF_COLD_FN_ int perf_race_wall_objects_(const perf_loop_state_ *s, int i, const perf_verdict *v)
{
    const perf_loop_arm_ *a = &s->arm[0], *b = &s->arm[i];
    double                ratio, cpu = v->ratio.estimate;

    if (!perf_loop_by_(s) || v->decision == PERF_INCONCLUSIVE)
        return 0;
    if (b->seq[0].decision != PERF_INCONCLUSIVE && b->seq[0].decision != v->decision)
        return 1;
    ratio = perf_summarize(b->ns, b->count).p50 / perf_summarize(a->ns, a->count).p50;
    return (perf_rule_room_(&v->rule, perf_log_(ratio)) > 0.0) != (v->decision == PERF_ACCEPT) &&
           (ratio > 2.0 * cpu || cpu > 2.0 * ratio);
}

/* Refuses a rule that no loop can hold, and those on counts until the loop counts. */
PERF_COLD_FN_ void perf_race_check_(perf_loop_state_ *s, int in_range)
{
    const perf_metric m = s->ask.accept.rule.metric;
    const int         on_count = m >= PERF_METRIC_INSTRUCTIONS;

    if (perf_race_decide_(s, 1, 0).status != PERF_OK || !in_range ||
        (s->loop.kind > 2 && !s->typical && !on_count))
        (void)perf_loop_stop_(s, PERF_EINVAL);
    else if (!s->refused && (m >= PERF_METRIC_MEMORY || s->ask.also.metric)) {
        if (m < PERF_METRIC_MEMORY || on_count)
            s->on_counts = on_count + 2 * (s->ask.also.metric != PERF_METRIC_PAIR);
        perf_loop_refuse_(s, "a rule is not on time: on counts a loop needs perf_counters_loop()");
    }
}

/* What a new A/B loop or race asks for; `o` is resolved. */
PERF_COLD_FN_ void perf_race_ask_(perf_loop_state_ *s, const char *name, const perf_ab_opts *o,
                                  int in_range)
{
    perf_race_force_(s, perf_variant(name, -1));
    s->ask = *o;
    if (!s->ask.seed)
        s->ask.seed = s->coin;
    s->coin = s->ask.seed;
    s->opts.max_seconds = o->max_seconds;
    s->opts.slice_ns = o->slice_ns;
    s->opts.before = o->before;
    s->opts.user = o->user;
    s->round = perf_race_round_;
    s->typical = o->accept.rule.metric == PERF_METRIC_PAIR;
    s->look_at = 32;
    perf_race_check_(s, in_range);
}

/* Of two arms.  own: bytes for a filling, and more for each round. */
PERF_COLD_FN_ perf_loop_state_ *perf_race_pages_(const char *name, int kind,
                                                 const perf_ab_opts *opts, size_t own,
                                                 size_t own_a_round)
{
    const perf_ab_opts o = perf_race_resolved_(opts, 2);
    const size_t       rounds = PERF_CAST_(size_t, o.max_pairs);
    perf_loop_state_  *s = perf_loop_pages_(name, kind, 2, rounds, own + rounds * own_a_round);

    if (s)
        perf_race_ask_(s, name, &o, 1);
    return s;
}

PERF_OUTLINE_FN_ perf_loop perf_race_open_(const char *name, int kind, int variants,
                                           const void *opts, int optimised)
{
    const int         k = perf_clamp_(variants, 2, PERF_RACE_MOST_);
    perf_ab_opts      o;
    perf_loop_state_ *s = PERF_NULL_;

    o = perf_race_resolved_(PERF_CAST_(const perf_ab_opts *, opts), k);
    if (perf_not_cold_())
        s = perf_loop_start_(name, kind, PERF_CAST_(size_t, k), PERF_CAST_(size_t, o.max_pairs),
                             optimised);
    if (!s)
        return perf_loop_new_(s);
    s->left_to_warm = 2;
    perf_loop_refuse_(s, perf_race_refused_(name, PERF_CAST_(const perf_ab_opts *, opts)));
    perf_race_ask_(s, name, &o, k == variants);
    return perf_loop_new_(s);
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

/* A ratio that changes with time is named for itself: those pairs stand at other times, too. */
PERF_COLD_FN_ const char *perf_race_objects_(const perf_loop_state_ *s, int i, int objection)
{
    if (objection == PERF_TURNS_MATTER_ && perf_race_drifts_(s, i) == PERF_RATIO_DRIFTS_)
        objection = PERF_RATIO_DRIFTS_;
    return perf_objection_text_(objection);
}

/* 1: the ratio in turns without leads is far from that of the verdict. */
PERF_COLD_FN_ int perf_race_turns_apart_(const perf_loop_state_ *s)
{
    double apart;
    int    i;

    for (i = 1; i < s->variants; i++) {
        apart = s->arm[i].turns_ratio / s->entry[i].verdict.ratio.estimate;
        if (apart > PERF_TURNS_APART_ || (apart > 0.0 && apart * PERF_TURNS_APART_ < 1.0))
            return 1;
    }
    return 0;
}

/* How many of n times are a quarter slower than their median. */
PERF_COLD_FN_ double perf_slow_ones_(const double *x, size_t n, double median)
{
    double slow = 0.0;
    size_t k;

    for (k = 0; k < n; k++)
        slow += x[k] > 1.25 * median;
    return slow;
}

/* Adds the ratio of means or p99 to an answer that it contradicts.  Then one arm has slow slices
 * that the other has not (by three standard errors), and that ratio lies on the other side of the
 * threshold.                                                                                     */
PERF_COLD_FN_ void perf_race_shape_(const perf_loop_state_ *s, int i, perf_verdict *v)
{
    const double      *x = perf_loop_times_(s, 0), *y = perf_loop_times_(s, i);
    const size_t       count = s->arm[0].count;
    const perf_summary a = perf_summarize(x, count), b = perf_summarize(y, count);
    const double       n = PERF_CAST_(double, count), p = perf_slow_ones_(x, count, a.p50);
    const double       q = perf_slow_ones_(y, count, b.p50), both = (p + q) / (2.0 * n);
    const int          unlike = (p - q) * (p - q) > 9.0 * 2.0 * n * both * (1.0 - both);
    const int          accepted = v->decision == PERF_ACCEPT;

    if (v->decision == PERF_INCONCLUSIVE || count < 20 || !unlike)
        return;
    if ((perf_rule_room_(&v->rule, perf_log_(b.mean / a.mean)) > 0.0) != accepted)
        v->mean_ratio = b.mean / a.mean;
    if ((perf_rule_room_(&v->rule, perf_log_(b.p99 / a.p99)) > 0.0) != accepted)
        v->p99_ratio = b.p99 / a.p99;
    if (v->mean_ratio > 0.0 || v->p99_ratio > 0.0 || (q > p) == accepted)
        v->warnings |= PERF_WARN_SHAPE;
}

/* Names the best variant, and those not shown to be slower than it: they lost a bet on "slower than
 * the best", at a level that covers all pairs of variants.                                       */
PERF_COLD_FN_ void perf_race_rank_(perf_loop_state_ *s, perf_race_result *r)
{
    double  level = s->variants * (s->variants - 1.0) / (1.0 - s->ask.accept.confidence), tick;
    size_t  k, i;
    int     j;

    for (j = 0; j < s->variants; j++)
        if (s->entry[j].time.count &&
            (r->best < 0 || s->entry[j].time.p50 < s->entry[r->best].time.p50))
            r->best = j;
    for (j = 0; r->best >= 0 && j < s->variants; j++) {
        if (!s->entry[j].time.count)
            continue;                               /* another one was forced                     */
        k = perf_race_logs_(s, r->best, j, PERF_ALL_PAIRS_);
        tick = perf_race_tick_(s, j, r->best);
        for (i = 0; i < k; i++)
            s->logs[i] -= tick + 1e-12;
        s->entry[j].within_noise = !(perf_seq_interval(s->logs, k, 1.0 - 2.0 / level).low > 0.0);
        s->entry[j].behind = 1.0;
        if (j != r->best)
            s->entry[j].behind = perf_exp_(perf_race_centre_(s->logs, k).at + tick);
    }
}

/* Why a loop without a single pair has no verdict. */
PERF_COLD_FN_ const char *perf_race_why_none_(const perf_loop_state_ *s, perf_status status)
{
    if (s->refused)
        return s->refused;
    if (status != PERF_EDELETED || s->loop.kind == 3)
        return perf_status_text(status);
    if (perf_loop_arm_now_(s))
        return "the compiler deleted the candidate's body: perf_keep() its result";
    return "the compiler deleted the baseline's body: perf_keep() its result";
}

PERF_OUTLINE_FN_ perf_race_result perf_race_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_race_result r = PERF_ZERO;

    r.best = -1;
    r.why = "nothing was measured";
    r.status = perf_loop_over_(s, 3);
    if (r.status != PERF_OK)
        return r;
    r = perf_race_found_(s, left);
    perf_race_rank_(s, &r);
    if (r.status == PERF_EINVAL) {
        r.entry = PERF_NULL_;
        r.count = 0;
    }
    s->race = r;
    perf_loop_done_(s, &s->race);
    return s->race;
}

PERF_OUTLINE_FN_ void perf_race_title_(struct perf_loop_state_ *s, int variant, const char *name)
{
    perf_out_ o;

    if (PERF_LOOP_KIND_(s) != 3 || variant < 0 || variant >= s->variants || !name)
        return;
    o = perf_out_open_(s->entry[variant].name, sizeof s->entry[variant].name);
    perf_put_(&o, name);
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

/* ---- the way of a measurement, from its body to its result: callers above what they call ---- */

/* A slice has ended: file it, choose the next one.  Returns 64 * iterations + variant, or 0.     */
PERF_OUTLINE_FN_ uint64_t perf_loop_slice_(struct perf_loop_state_ *s, int kind)
{
    const uint64_t  now = perf_now();
    const int       is = PERF_LOOP_KIND_(s);
    perf_loop_arm_ *arm;
    int             late, good = 1, complete = 0;

    if (!is || (is == 1) != (kind == 1) || s->phase == PERF_LOOP_DONE_)
        return 0;
    if (s->phase == PERF_LOOP_COUNT_)
        return perf_loop_count_(s);
    arm = &s->arm[s->order[s->at]];
    if (s->phase != PERF_LOOP_START_)
        good = s->fill->end(s, s->order[s->at], now);
    if (s->phase == PERF_LOOP_DONE_)
        return 0;
    if (perf_loop_no_clock_(s, now))
        return perf_loop_stop_(s, PERF_ERANGE);
    if (s->leads_left) {
        perf_loop_led_(s, arm);
        return perf_loop_go_(s);
    }
    if (!good && s->phase != PERF_LOOP_COLD_)
        return perf_loop_go_(s);                    /* the clock stepped back: again              */
    s->last = s->order[s->at];
    late = perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.0);
    switch (s->phase) {
    case PERF_LOOP_START_:
        perf_loop_shuffle_(s);
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        complete = perf_loop_first_ended_(s, arm, late);
        break;
    case PERF_LOOP_HEAT_:
        perf_loop_heated_(s, late);
        break;
    case PERF_LOOP_GROW_:
        perf_loop_reading_ended_(s, arm, now, late);
        break;
    case PERF_LOOP_WARM_:
        perf_loop_warm_up_ended_(s, now);
        break;
    default:
        complete = perf_loop_sample_ended_(s, arm);
    }
    if (s->phase == PERF_LOOP_DONE_)
        return 0;
    if (complete) {
        if (perf_loop_round_ended_(s, now))
            return perf_loop_count_(s);
        if (s->phase == PERF_LOOP_SAMPLE_)
            perf_loop_shuffle_(s);
    }
    return perf_loop_turn_begins_(s);
}

PERF_FN const perf_filling_ *perf_host_filling_(void)
{
    static const perf_filling_ host = {perf_host_begin_, perf_host_end_, perf_host_want_,
                                       perf_host_grown_, PERF_NULL_, PERF_NULL_, PERF_NULL_,
                                       PERF_LONG_BESIDE_};

    return &host;
}

/* Reads them after the body: `now` is the wall's clock.  0: it went backwards, file nothing. */
PERF_FN int perf_host_end_(perf_loop_state_ *s, int number, uint64_t now)
{
    perf_timer_    *t = &s->timer;
    perf_loop_arm_ *arm = &s->arm[number];
    double          raw[PERF_CLOCKS_] = {0.0, 0.0, 0.0};
    int             i;

    for (i = 0; i < t->clocks; i++) {
        uint64_t end = now;
        if (t->paused)
            end = t->paused_at[i];
        else if (i != PERF_BY_WALL_)
            end = perf_timer_clock_(i);
        raw[i] = perf_since_(t->at[i], end);
        t->ns[i] = perf_most_(raw[i] - t->paused_ns[i] - t->overhead_ns[i], 0.0);
    }
    t->unresumed |= t->paused;
    arm->doubt_ns = perf_most_(arm->doubt_ns, t->pause_doubt_ns * t->pauses);
    arm->runs += arm->batch;
    if (raw[0] < 0.0) {
        t->backwards++;
        return 0;
    }
    if (!(raw[0] > t->overhead_ns[PERF_BY_WALL_]))  /* it stood still, or went by its least step  */
        t->coarse |= arm->batch > 1 || arm->steady || !(raw[0] > 0.0);
    else if (!(t->least_ns > 0.0) || raw[0] < t->least_ns)
        t->least_ns = raw[0];
    t->spent_ns += raw[0];
    if (t->clocks > 1)
        perf_timer_compare_(t, arm);
    return 1;
}

/* One of the three clocks, in ns; 0: this system does not say. */
PERF_FN uint64_t perf_timer_clock_(int i)
{
    if (i == PERF_BY_WALL_)
        return perf_now();
#if defined(PERF_TEST_CPU_FN)
    return PERF_TEST_CPU_FN(i);
#elif defined(PERF_CLOCK_FN)                        /* one clock of yours and one of ours: no     */
    return 0;
#else
    if (i == PERF_BY_THREAD_)
        return perf_system_ns_(PERF_CLOCK_THREAD_ID_);
    return perf_system_ns_(PERF_CLOCK_PROCESS_ID_);
#endif
}

/* 1: the clock steps back again and again, or stands still. */
PERF_COLD_FN_ int perf_loop_no_clock_(perf_loop_state_ *s, uint64_t now)
{
    if (s->timer.backwards > PERF_LOOP_STEPS_BACK_)
        return 1;
    if (now != s->timer.at[PERF_BY_WALL_]) {
        s->stands = 0;
        return 0;
    }
    if (!s->stands)
        s->stands = perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
    return perf_since_(s->stands, perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_)) >
           1e8 + s->opts.max_seconds * 1e9;
}

/* Whether the time is up, or would be after `ahead` more ns. */
PERF_FN int perf_timer_late_(const perf_timer_ *t, uint64_t now, double max_seconds, double ahead)
{
    return perf_since_(t->began, now) + ahead > max_seconds * 1e9 ||
           t->spent_ns > max_seconds * 1e9;
}

/* A slice that counts has ended.  1: that completes a round. */
PERF_COLD_FN_ int perf_loop_sample_ended_(perf_loop_state_ *s, perf_loop_arm_ *arm)
{
    if (s->longer)
        perf_loop_file_lead_(s, arm);
    arm->pending[0] = s->timer.ns[PERF_BY_WALL_] / PERF_CAST_(double, arm->batch);
    arm->pending[1] = s->timer.ns[PERF_BY_THREAD_] / PERF_CAST_(double, arm->batch);
    return ++s->at == s->running && !perf_loop_was_cold_(s, s->fill->want(s));
}

/* A round is complete: files it.  1: it was the last. */
PERF_COLD_FN_ int perf_loop_round_ended_(perf_loop_state_ *s, uint64_t now)
{
    const size_t    round = s->arm[s->order[0]].count;
    perf_loop_arm_ *arm;
    int             i, enough = 0;

    if (!s->fill->keep || s->fill->keep(s)) {
        s->first[round] = s->order[0];
        s->led[round] = PERF_CAST_(unsigned char, s->longer);
        s->when[round] = s->timer.spent_ns;
        for (i = 0; i < s->running; i++) {
            arm = &s->arm[s->order[i]];
            arm->cpu[arm->count] = arm->pending[1];
            arm->ns[arm->count++] = arm->pending[0];
        }
        s->longer_count += PERF_CAST_(size_t, s->longer);
        if (s->longer)
            perf_loop_file_leads_(s);
        enough = s->round(s, now);
    }
    if (s->fill->stop)
        return s->fill->stop(s, enough);
    return enough;
}

/* A round of an A/B loop or race is complete: 1 ends it. */
PERF_COLD_FN_ int perf_race_round_(perf_loop_state_ *s, uint64_t now)
{
    const double took = perf_since_(s->round_began, now);

    if (s->longer)
        s->longer_ns += took;
    else
        s->round_ns = took;
    if (!s->longer && (took < s->round_least_ns || !(s->round_least_ns > 0.0)))
        s->round_least_ns = took;
    s->round_began = now;
    if (s->running > 1)
        perf_race_bet_(s);
    if (perf_race_spent_(s, now))
        return 1;
    if (s->running == 1)
        return s->arm[s->order[0]].count >= PERF_CAST_(size_t, s->ask.min_pairs);
    if (perf_race_settled_(s, now))
        return 1;
    perf_race_draw_lead_(s, now);
    return 0;
}

/* The bets after one more round.  They begin when the length of the slices is known: they allow
 * for that and for the step of the clock.                                                        */
PERF_COLD_FN_ void perf_race_bet_(perf_loop_state_ *s)
{
    size_t          n = s->arm[0].count;
    perf_loop_arm_ *arm;
    int             i;

    for (i = 1; i < s->variants; i++) {
        arm = &s->arm[i];
        if (n == 1) {
            (void)perf_seq_init(&arm->seq[0], &s->ask.accept.rule, s->ask.accept.confidence,
                                perf_race_tick_(s, i, 0));
            arm->seq[0].level = perf_race_level_(s, s->variants - 1);
            arm->seq[1] = arm->seq[0];
        }
        (void)perf_seq_add(&arm->seq[0], s->arm[0].ns[n - 1], arm->ns[n - 1]);
        if (s->timer.clocks > 1)
            (void)perf_seq_add(&arm->seq[1], s->arm[0].cpu[n - 1], arm->cpu[n - 1]);
    }
}

/* 1: there is no room or no time for another round. */
PERF_COLD_FN_ int perf_race_spent_(perf_loop_state_ *s, uint64_t now)
{
    const size_t n = s->arm[s->order[0]].count;

    if (n >= PERF_CAST_(size_t, s->ask.max_pairs))
        return 1;
    if (!perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.5 * s->round_ns))
        return 0;
    if (n < PERF_CAST_(size_t, s->ask.min_pairs))
        s->ended = "opts.max_seconds ended it, too few pairs for an answer";
    return 1;
}

/* 1: the loop ends: nothing speaks against the answers, or more of it will not help. */
PERF_COLD_FN_ int perf_race_settled_(perf_loop_state_ *s, uint64_t now)
{
    const size_t n = s->arm[0].count;
    const int    decided = s->typical && !perf_race_still_open_(s);
    const double took = perf_race_took_(s, now);
    const int    late = took > 0.5e9 * s->opts.max_seconds;
    const int    again = n >= s->looked_at + s->looked_at / 8 ||
                      (late && s->few_longer && !s->lenient);   /* they had their time            */
    const int    full = decided && n >= PERF_CAST_(size_t, s->ask.min_pairs) && again &&
                     took >= s->ask.min_seconds * 1e9;
    int          objection;

    if (full) {
        if (perf_race_interval_open_(s))
            return 0;
        s->lenient = late;
        objection = perf_race_gravest_(s);
        s->few_longer = objection == PERF_TOO_FEW_ || objection == PERF_DEBT_PERHAPS_;
        if (objection >= PERF_RATIO_DRIFTS_)
            return perf_race_anew_(s, now, objection);
        return objection == PERF_NO_OBJECTION_;
    }
    if (n < s->look_at)
        return 0;
    s->look_at = 2 * n;
    if (perf_race_gravest_(s) != PERF_TURNS_MATTER_)
        return 0;
    (void)perf_race_anew_(s, now, PERF_TURNS_MATTER_);
    return 0;
}

/* How many variants are not decided yet.  Holm: the fewer, the less evidence each needs. */
PERF_COLD_FN_ int perf_race_still_open_(perf_loop_state_ *s)
{
    double level;
    int    i, open = 0, by = perf_loop_by_(s);

    for (i = 1; i < s->variants; i++)
        open += s->arm[i].seq[by].decision == PERF_INCONCLUSIVE;
    level = perf_race_level_(s, perf_clamp_(open, 1, PERF_RACE_MOST_));
    for (i = 1; i < s->variants && s->variants > 2; i++)
        s->arm[i].seq[by].level = level;
    return open;
}

/* Times and bets of an arm by the clock that decides: 0 the wall, 1 processor time. */
PERF_FN int perf_loop_by_(const perf_loop_state_ *s)
{
    return perf_loop_decides_(s, PERF_NULL_) == PERF_DECIDES_CPU;
}

/* Which clock the answers rest on, and why.  That depends on waits and switches alone, never on who
 * is faster.  Work that other threads of this process do during a slice belongs to the body, as far
 * as anybody can tell: then the thread's processor time is not its cost.                         */
PERF_COLD_FN_ perf_decides perf_loop_decides_(const perf_loop_state_ *s, const char **why)
{
    const perf_timer_    *t = &s->timer;
    const perf_loop_arm_ *arm;
    const char           *text = PERF_NULL_;
    int                   i;

    if (t->clocks == 1)
        text = perf_loop_why_one_clock_(s);
    else if (t->waits_at < 0)
        text = "this system does not tell own waits from waits for the processor";
    else if (10 * t->waiting_slices > t->slices)
        text = "the body waits by itself";
    else if (t->others_ns > PERF_LOOP_LITTLE_ * t->wall_ns)
        text = "other threads of this program worked at the same time";
    else if (!(t->waited_ns > PERF_LOOP_LITTLE_ * t->wall_ns))
        text = "it hardly ever waited for the processor";
    for (i = 0; i < s->variants && !text; i++) {
        arm = &s->arm[i];
        if (PERF_LOOP_TURN_NS_ * arm->forced > arm->wall_ns - arm->wait_ns)
            text = "the body gives the processor up by itself, as sched_yield does";
        else if (i && perf_loop_waits_apart_(&s->arm[0], arm))
            text = "the variants waited differently, perhaps for others who worked for them";
    }
    if (why)
        *why = text ? text : "others had the processor for part of the time";
    if (text)
        return PERF_DECIDES_WALL;
    return PERF_DECIDES_CPU;
}

/* 1: an interval does not give the answer of its bets yet: it may be a pair behind them. */
PERF_COLD_FN_ int perf_race_interval_open_(perf_loop_state_ *s)
{
    const perf_guard  none = PERF_ZERO;
    perf_compare_opts o;
    int               i, open = 0, by = perf_loop_by_(s);

    s->looked_at = s->arm[0].count;
    for (i = 1; i < s->variants; i++) {
        o = perf_race_asked_(s, i);
        o.guard = none;
        open |= s->arm[i].seq[by].decision != perf_race_judge_(s, i, s->looked_at, &o).decision;
    }
    return open;
}

/* What is asked of variant i, with the confidence that its bets have to reach. */
PERF_COLD_FN_ perf_compare_opts perf_race_asked_(const perf_loop_state_ *s, int i)
{
    const double      level = s->arm[i].seq[perf_loop_by_(s)].level;
    perf_compare_opts o = s->ask.accept;

    if ((s->variants > 2 || o.rules > 1) && s->typical && level > 0.0)
        o.confidence = 1.0 - 2.0 / level;
    return o;
}

/* What the bets on variant i and the interval of its log ratios say to that, after n rounds. */
PERF_COLD_FN_ perf_verdict perf_race_judge_(const perf_loop_state_ *s, int i, size_t n,
                                            const perf_compare_opts *o)
{
    const size_t logs = perf_race_logs_(s, 0, i, PERF_ALL_PAIRS_);
    perf_seq     bets = s->arm[i].seq[perf_loop_by_(s)];

    bets.tick = perf_race_tick_(s, i, 0);           /* pauses may have made it longer             */
    return perf_pairs_judge_(&bets, s->logs, logs, n, o);
}

/* Log ratios of variants i and j into s->logs; returns how many pairs have one. */
PERF_COLD_FN_ size_t perf_race_logs_(const perf_loop_state_ *s, int i, int j, perf_pick_ pick)
{
    const double *a = perf_loop_times_(s, i), *b = perf_loop_times_(s, j);
    size_t        n = 0, k;

    for (k = 0; k < s->arm[0].count; k++)
        if (a[k] > 0.0 && b[k] > 0.0 && perf_pair_picked_(s, k, pick))
            s->logs[n++] = perf_log_(b[k]) - perf_log_(a[k]);
    return n;
}

PERF_COLD_FN_ int perf_race_gravest_(const perf_loop_state_ *s)
{
    int i, one, gravest = PERF_NO_OBJECTION_;

    for (i = 1; i < s->variants; i++) {
        one = perf_race_objection_(s, i);
        if (one > gravest)
            gravest = one;
    }
    return gravest;
}

/* What speaks against an answer on variant i, the gravest first. */
PERF_COLD_FN_ int perf_race_objection_(const perf_loop_state_ *s, int i)
{
    const int hurried = s->round_least_ns > PERF_ROUND_SLOW_NS_ || s->ask.min_seconds < 0.0;
    size_t    least = PERF_LONGER_LEAST_;
    int       drifts, debt;

    if (hurried)
        least = PERF_LONGER_HURRIED_;
    if (s->ask.control < 0 || s->running < 2)
        return PERF_NO_OBJECTION_;
    if (perf_race_leads_matter_(s, i, s->lenient) || perf_race_order_matters_(s))
        return PERF_TURNS_MATTER_;
    drifts = perf_race_drifts_(s, i);
    if (drifts != PERF_NO_OBJECTION_)
        return drifts;
    if (s->longer_count < least)
        return PERF_TOO_FEW_;
    debt = perf_race_in_debt_(s, i);
    if (debt != PERF_NO_OBJECTION_)
        return debt;
    if (!perf_race_confirmed_(s, i))
        return PERF_NOT_CONFIRMED_;
    return PERF_NO_OBJECTION_;
}

/* The timed slices are over.  Slices for the processor's counters follow, if somebody asked. */
PERF_COLD_FN_ uint64_t perf_loop_count_(perf_loop_state_ *s)
{
    uint64_t next = 0;

    s->phase = PERF_LOOP_COUNT_;
    if (s->counted)
        next = s->counted(s);
    if (!next)
        return perf_loop_stop_(s, s->status);
    return next;
}

PERF_OUTLINE_FN_ perf_ab_result perf_ab_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_ab_result r = PERF_ZERO;

    r.why = "nothing was measured";
    r.status = r.verdict.status = perf_loop_over_(s, 2);
    if (r.status != PERF_OK) {
        r.verdict.reason = perf_status_text(r.status);
        return r;
    }
    s->ab = perf_ab_found_(s, left);
    perf_loop_done_(s, &s->ab);
    return s->ab;
}

/* Why a loop of another state than `kind` cannot end: no memory, no begin, or ended already. */
PERF_COLD_FN_ perf_status perf_loop_over_(const perf_loop_state_ *s, int kind)
{
    if (s && !PERF_LOOP_IS_ONE_(s))
        return PERF_ENOMEM;
    if (PERF_LOOP_KIND_(s) != kind || PERF_ACQ_(&s->loop.done))
        return PERF_ESTATE;
    return PERF_OK;
}

/* The result of an A/B loop. */
PERF_COLD_FN_ perf_ab_result perf_ab_found_(perf_loop_state_ *s, int64_t left)
{
    perf_ab_result   r = PERF_ZERO;
    perf_race_result both = perf_race_found_(s, left);
    size_t           n[2];
    int              i;

    for (i = 0; i < 2; i++)                     /* 0: after a failure, or where it did not run    */
        n[i] = both.rounds ? s->arm[i].count : 0;
    r.verdict = s->entry[1].verdict;
    r.parts = s->entry[1].parts;
    PERF_LIBC_(memcpy)(r.part, s->entry[1].part, sizeof r.part);
    r.first_baseline_ns = s->arm[0].first_ns;
    r.first_candidate_ns = s->arm[1].first_ns;
    r.overhead_ns = both.overhead_ns;
    r.batch_baseline = s->arm[0].batch;
    r.batch_candidate = s->arm[1].batch;
    r.seconds = both.seconds;
    r.opts = both.opts;
    r.status = both.status;
    r.warnings = both.warnings;
    r.decides = both.decides;
    r.why = both.why;
    r.control_ratio = s->entry[1].control_ratio;
    r.control_rounds = both.control_rounds;
    r.forced = both.forced;
    r.baseline = perf_summarize(s->arm[0].ns, n[0]);
    r.candidate = perf_summarize(s->arm[1].ns, n[1]);
    if (s->timer.clocks > 1) {
        r.baseline_cpu = perf_summarize(s->arm[0].cpu, n[0]);
        r.candidate_cpu = perf_summarize(s->arm[1].cpu, n[1]);
    }
    r.control_failed = both.rounds && s->arm[1].objection != PERF_NO_OBJECTION_;
    r.turns_ratio = s->arm[1].turns_ratio;
    return r;
}

/* Fills the entries of all variants, and what A/B loops and races both tell. */
PERF_COLD_FN_ perf_race_result perf_race_found_(perf_loop_state_ *s, int64_t left)
{
    const uint32_t   drift = PERF_CAST_(uint32_t, PERF_WARN_DRIFT);     /* rounds do not mind it  */
    perf_race_result r;
    perf_race_entry *e;
    uint32_t         seen, base = 0;
    int              i;

    perf_loop_settle_(s, left);
    r = perf_race_head_(s);
    for (i = 0; i < r.count; i++) {
        e = &s->entry[i];
        seen = perf_race_fill_(s, i, PERF_CAST_(size_t, r.rounds));
        if (!r.rounds) {
            e->verdict.status = r.status;
            e->verdict.reason = perf_race_why_none_(s, r.status);
            continue;
        }
        if (!s->arm[i].count)
            continue;
        r.warnings |= seen & ~drift;
        if (i == 0)
            base = seen;
        else
            r.warnings |= e->verdict.warnings;
        if (!perf_race_no_body_(&e->verdict, base, seen))
            perf_race_veto_(s, i, &e->verdict);
    }
    if (r.rounds && perf_race_turns_apart_(s))
        r.warnings |= PERF_WARN_TURNS;
    if (s->judge)
        s->judge(s);
    r.opts = s->ask;
    return r;
}

/* There are no more slices.  Takes the warnings about them. */
PERF_COLD_FN_ void perf_loop_settle_(perf_loop_state_ *s, int64_t left)
{
    perf_loop_arm_ *arm = &s->arm[perf_loop_arm_now_(s)];
    const int       timing = s->phase < PERF_LOOP_COUNT_, counting = s->phase == PERF_LOOP_COUNT_;

    if (timing && s->phase != PERF_LOOP_START_ && left >= 0)
        arm->runs += arm->batch - PERF_CAST_(uint64_t, left);   /* a slice that a break cut       */
    if (timing)
        s->warnings |= PERF_WARN_STOPPED;
    if (s->timer.backwards)
        s->warnings |= PERF_WARN_CLOCK;
    if (s->timer.unresumed)
        s->warnings |= PERF_WARN_PAUSED;
    s->phase = PERF_LOOP_DONE_;
    if (counting)                               /* a break cut a counted slice: it ends, too      */
        (void)s->counted(s);
}

/* What A/B loops and races both tell beside the entries. */
PERF_COLD_FN_ perf_race_result perf_race_head_(perf_loop_state_ *s)
{
    perf_race_result r = PERF_ZERO;

    if (s->status == PERF_OK)
        r.rounds = s->arm[s->order[0]].count;
    r.entry = s->entry;
    r.count = s->variants;
    r.best = -1;
    r.overhead_ns = s->timer.overhead_ns[PERF_BY_WALL_];
    r.seconds = perf_since_(s->timer.began, perf_now()) * 1e-9;
    r.opts = s->ask;
    r.status = perf_loop_status_(s, r.rounds);
    r.decides = perf_loop_clock_(s, &r.why);
    r.control_rounds = s->control_rounds;
    r.forced = s->forced >= 0;
    r.warnings = s->warnings;
    return r;
}

/* Fills the entry of variant i, of n rounds; the baseline has no verdict, nor one that is forced.
 * Returns the warnings about its times.                                                          */
PERF_COLD_FN_ uint32_t perf_race_fill_(perf_loop_state_ *s, int i, size_t n)
{
    const int        forced = s->forced >= 0;
    perf_race_entry *e = &s->entry[i];
    perf_out_        o;

    if (!e->name[0]) {
        o = perf_out_open_(e->name, sizeof e->name);
        perf_put_u64_(&o, PERF_CAST_(uint64_t, i));
    }
    e->first_ns = s->arm[i].first_ns;
    e->batch = s->arm[i].batch;
    if (i == 0 || forced)
        e->verdict = perf_race_decide_(s, 1, 0);
    else
        e->verdict = perf_race_decide_(s, i, n);
    if (n && forced)
        e->verdict.reason = "PERF_VARIANT forced one variant: nothing to compare it with";
    else if (n && i == 0)
        e->verdict.reason = "this is the baseline";
    if (!n || !s->arm[i].count)
        return 0;
    e->time = perf_summarize(perf_loop_times_(s, i), n);
    if (s->fill != perf_host_filling_())
        return 0;                                   /* those are about the host's clocks          */
    return perf_slice_warnings_(perf_loop_times_(s, i), n, &e->time,
                                s->timer.overhead_ns[PERF_BY_WALL_]);
}

/* The verdict on variant i after n rounds, by the rule alone; n 0: it says nothing yet. */
PERF_COLD_FN_ perf_verdict perf_race_decide_(const perf_loop_state_ *s, int i, size_t n)
{
    perf_compare_opts o = perf_race_asked_(s, i);
    perf_verdict      v;

    if (s->seen.compared)
        o.guard.seen = s->seen;
    if (!n)                                         /* no slice has a length yet to divide by     */
        v = perf_verdict_of_(&o, PERF_NULL_, 0.0, 0.0);
    else if (!s->typical)
        v = perf_compare_pairs(perf_loop_times_(s, 0), perf_loop_times_(s, i), n, &o);
    else
        v = perf_race_judge_(s, i, n, &o);
    if (s->timer.clocks > 1)
        v.clock = perf_loop_by_(s) ? "by processor time" : "by the wall's clock";
    if (s->typical && perf_race_wall_objects_(s, i, &v))
        perf_verdict_cap_(&v, "by the wall's clock the answer is the opposite: does one of them "
                              "wait for others who work for it?");
    return v;
}

/* No verdict on an arm that takes little longer than an empty loop.  1: it is withheld. */
PERF_COLD_FN_ int perf_race_no_body_(perf_verdict *v, uint32_t of_baseline, uint32_t of_candidate)
{
    const int decided = v->decision != PERF_INCONCLUSIVE;

    if (of_candidate & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(v, "the candidate takes little longer than an empty loop: was it "
                             "deleted? perf_keep() its result");
    else if (of_baseline & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(v, "the baseline takes little longer than an empty loop: was it "
                             "deleted? perf_keep() its result");
    return decided && v->decision == PERF_INCONCLUSIVE;
}

/* Withholds the verdict on variant i, or explains why there is none. */
PERF_COLD_FN_ void perf_race_veto_(perf_loop_state_ *s, int i, perf_verdict *v)
{
    const int    decided = v->decision != PERF_INCONCLUSIVE;
    perf_centre_ longer;
    double       missing;
    int          objection;

    if (v->status != PERF_OK || !v->pairs || (v->warnings & PERF_WARN_OUTPUTS))
        return;                                     /* wrong outputs stay wrong, however fast     */
    s->lenient = 1;
    objection = perf_race_objection_(s, i);
    if (objection == PERF_TOO_FEW_ && perf_race_slice_ns_(s) > PERF_LEAD_MOST_NS_)
        objection = PERF_NO_OBJECTION_; /* a slice leads itself, and time is over                 */
    longer = perf_race_centre_of_(s, i, PERF_LONGER_PAIRS_);
    if (longer.n)
        s->entry[i].control_ratio = perf_exp_(longer.at);
    if (objection == PERF_TURNS_MATTER_ || (decided && objection != PERF_NO_OBJECTION_) ||
        (decided && s->ask.control > 0 && perf_race_leads_matter_(s, i, 0)))
        v->led_ratio = s->entry[i].control_ratio;
    if (decided && objection != PERF_NO_OBJECTION_) {
        s->arm[i].objection = objection;
        perf_verdict_cap_(v, perf_race_objects_(s, i, objection));
    } else if (!decided && objection == PERF_TURNS_MATTER_) {
        v->reason = perf_race_objects_(s, i, objection);
        v->pairs_needed = PERF_INF_;
    } else if (!decided && s->ended) {
        missing = s->ask.min_pairs - PERF_CAST_(double, v->pairs);
        v->pairs_needed = perf_most_(v->pairs_needed, missing);
        v->reason = s->ended;
    }
    perf_race_shape_(s, i, v);
}

#if !PERF_DISABLE
PERF_BENCH_ENGINE_(perf_bench_open_, perf_loop_slice_, perf_bench_close_, PERF_NULL_, PERF_NULL_,
                   perf_result_words_, perf_told_rates_, perf_bench_failed_, perf_told_counter_,
                   PERF_NULL_, PERF_NULL_)
PERF_RACE_ENGINE_(perf_race_open_, perf_loop_slice_, PERF_NULL_, perf_ab_close_, perf_race_close_,
                  PERF_NULL_, PERF_NULL_, PERF_NULL_, PERF_NULL_, perf_race_accuracy_,
                  perf_race_title_)
#endif

PERF_END_DECLS
#endif /* PERF_LOOP_H */
