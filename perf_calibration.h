/* perf_calibration.h - how long is a tick, and how good is the clock?
 *
 *     uint64_t t = perf_ticks();
 *     work();
 *     printf("%g ns\n", perf_ticks_to_ns(perf_ticks() - t));
 *
 * Sections (search for ">>"):  clock  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CALIBRATION_H
#define PERF_CALIBRATION_H

#include "perf_registry.h"

PERF_BEGIN_DECLS

/* >>clock ------------------------------------------------------------------------------------- */

/* The bits of perf_clock_info.warnings; the report has a sentence for each.                      */
typedef enum perf_clock_warning {
    PERF_CLOCK_OK = 0,
    PERF_CLOCK_NOT_INVARIANT = 1,       /* the counter changes speed: clock_gettime used instead  */
    PERF_CLOCK_BACKWARDS = 4,           /* the clock was seen going backwards                     */
    PERF_CLOCK_ROUGH = 8,               /* calibrated for too short: worse than 0.1 %             */
    PERF_CLOCK_MIXED = 16,              /* files of this program disagree about PERF_CLOCK        */
    PERF_CLOCK_STANDS = 32              /* the system's clock stands still: a tick is 1 ns        */
} perf_clock_warning;

typedef struct perf_clock_info {
    const char *name;           /* "tsc", "cntvct", "rdtime", "clock_gettime", "qpc", "custom"    */
    double      hz;             /* ticks a second                                                 */
    double      tick_ns;        /* nanoseconds a tick                                             */
    double      resolution_ns;  /* usual step from one reading to the next that differs           */
    double      cost_ns;        /* one reading                                                    */
    double      error_ppm;      /* bound on the error of tick_ns                                  */
    uint32_t    warnings;       /* PERF_CLOCK_... bits                                            */
} perf_clock_info;

/* A difference of two perf_ticks() in nanoseconds.  The first call of this, of perf_clock() or of a
 * scope starts the calibration, which gets better by itself: perf_clock().error_ppm is the
 * bound.  The rate is good to some 1 % at once, 100 ppm after 100 us, 1 ppm after 10 ms.         */
PERF_FN double perf_ticks_to_ns(uint64_t ticks);

/* What the scopes are timed with; measures resolution and cost anew (some 20 us). */
PERF_FN perf_clock_info perf_clock(void);

/* >>internal: what other headers may use -------------------------------------------------------
 *   perf_calibrate_  the first reading of both clocks, NULL while another thread takes it
 *   perf_scope_ticks_, perf_scope_tick_ns_  time of scopes                                       */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- calibration ---- */

/* A reading of both clocks, the narrowest of eight: an interrupt lands in one or two of them.
 * Takes 0.5 us.                                                                                  */
PERF_COLD_FN_ perf_pair_ perf_pair_read_(void)
{
    perf_pair_ best = PERF_ZERO;
    int        i;

    best.width = ~UINT64_C(0);
    for (i = 0; i < 8; i++) {
        uint64_t before = perf_ticks();
        uint64_t ns = perf_now();
        uint64_t width = perf_ticks() - before;
        if (width < best.width) {
            best.ticks = before + width / 2;
            best.ns = ns;
            best.width = width;
        }
    }
    return best;
}

/* The calibration of this image, its first reading taken; NULL while another thread takes it. */
PERF_COLD_FN_ perf_calibration_ *perf_calibrate_(void)
{
    perf_calibration_    *calibration = &perf_anchor_v1_.clock;
    const perf_registry_ *reg;

    if (PERF_ACQ_(&calibration->state) != 2 && perf_claim_(&calibration->state, 0, 1)) {
        reg = PERF_ACQ_(&perf_anchor_v1_.registry);
        if (reg && reg->made.width)             /* an image that comes late knows the rate, too   */
            calibration->first = reg->made;
        else
            calibration->first = perf_pair_read_();
        PERF_REL_(&calibration->state, 2u);
    }
    if (PERF_ACQ_(&calibration->state) != 2)
        return PERF_NULL_;
    return calibration;
}

#define PERF_CLOCK_PATIENCE_ (UINT64_C(1) << 24)    /* ticks to wait for a clock to move: 5 ms    */

#if PERF_CLOCK != PERF_CLOCK_MONOTONIC
/* A reading of both clocks at least a microsecond after `first`, or after all patience. */
PERF_COLD_FN_ perf_pair_ perf_pair_after_(const perf_pair_ *first)
{
    uint64_t   since = perf_ticks();
    perf_pair_ pair;

    do
        pair = perf_pair_read_();
    while (pair.ns < first->ns + 1000 && pair.ticks - since < PERF_CLOCK_PATIENCE_);
    return pair;
}

/* What a calibration says that cannot be made better now: the rate known so far, else 1. */
PERF_COLD_FN_ double perf_tick_ns_kept_(const perf_calibration_ *calibration)
{
    if (!PERF_GET_(&calibration->length))
        return 1.0;
    return perf_from_bits_(PERF_GET_(&calibration->tick_ns));
}

/* Nanoseconds a tick, from the first pair and a later one.  That is taken anew when the distance of
 * the two has doubled.                                                                           */
PERF_COLD_FN_ double perf_tick_ns_(void)
{
    perf_calibration_ mine = PERF_ZERO, *calibration = perf_calibrate_();
    perf_pair_        pair;
    uint64_t          length, slack, now;
    double            rate, ppm;

    if (!calibration) {                         /* another thread is at it this microsecond       */
        mine.first = perf_pair_read_();
        calibration = &mine;
    }
    length = PERF_GET_(&calibration->length);
    now = perf_ticks();
    if (length && now < calibration->first.ticks) { /* the counter was set back                   */
        PERF_SET_(&calibration->warnings, PERF_CAST_(uint32_t, PERF_CLOCK_BACKWARDS));
        return perf_tick_ns_kept_(calibration);
    }
    if (length && now - calibration->first.ticks < 2 * length)
        return perf_tick_ns_kept_(calibration);
    pair = perf_pair_after_(&calibration->first);
    if (pair.ns < calibration->first.ns + 1000) {
        PERF_SET_(&calibration->warnings, PERF_CAST_(uint32_t, PERF_CLOCK_STANDS));
        return perf_tick_ns_kept_(calibration);
    }
    if (pair.ticks <= calibration->first.ticks) {
        mine.first = perf_pair_read_();         /* what it was before says nothing                */
        PERF_SET_(&calibration->warnings, PERF_CAST_(uint32_t, PERF_CLOCK_BACKWARDS));
        calibration = &mine;
        pair = perf_pair_after_(&calibration->first);
    }
    PERF_SET_(&calibration->warnings, 0u);
    length = pair.ticks - calibration->first.ticks;
    rate = PERF_CAST_(double, pair.ns - calibration->first.ns) / PERF_CAST_(double, length);
    slack = pair.width - calibration->first.width;
    if (pair.width < calibration->first.width)
        slack = calibration->first.width - pair.width;
    /* both pairs lie anywhere in a clock's step, 10 ns: 108 ppm after 100 us, 11 ppm after 1 ms */
    ppm = (10.0 / rate + PERF_CAST_(double, slack) / 2) / PERF_CAST_(double, length) * 1e6;
    PERF_SET_(&calibration->tick_ns, perf_bits_(rate));
    PERF_SET_(&calibration->error_ppm, perf_bits_(ppm));
    PERF_SET_(&calibration->length, length);
    return rate;
}
#else
PERF_FN double perf_tick_ns_(void)
{
    return 1.0;
}
#endif

PERF_FN double perf_ticks_to_ns(uint64_t ticks)
{
    return PERF_CAST_(double, ticks) * perf_tick_ns_();
}

/* ---- the clock's quality ---- */

#if PERF_ARCH_X86_
#define PERF_COUNTER_NAME_ "tsc"
#elif defined(__aarch64__)
#define PERF_COUNTER_NAME_ "cntvct"
#else
#define PERF_COUNTER_NAME_ "rdtime"
#endif
#if defined(_WIN32)
#define PERF_SYSTEM_CLOCK_NAME_ "qpc"
#else
#define PERF_SYSTEM_CLOCK_NAME_ "clock_gettime"
#endif

/* A reading of the clock that scopes use: 1 the counter, 0 the system's. */
PERF_FN uint64_t perf_clock_read_(int counter)
{
    if (counter)
        return perf_ticks();
    return perf_now();
}

#define PERF_CLOCK_READINGS_ 32         /* of a run                                               */
#define PERF_CLOCK_RUNS_     16

/* Some readings: how long they took, and the smallest step between two of them. */
typedef struct perf_clock_run_ {
    uint64_t took, step;                /* in ticks of that clock; step UINT64_MAX: it stood      */
    int      backwards;                 /* 1: a reading was before the last one                   */
} perf_clock_run_;

PERF_FN perf_clock_run_ perf_clock_run_of_(int counter)
{
    perf_clock_run_ run = PERF_ZERO;
    uint64_t        first = perf_clock_read_(counter), last = first, now;
    int             i;

    run.step = ~UINT64_C(0);
    for (i = 0; i < PERF_CLOCK_READINGS_; i++) {
        now = perf_clock_read_(counter);
        if (now != last && now - last < run.step)
            run.step = now - last;
        if (now < last)
            run.backwards = 1;
        last = now;
    }
    run.took = last - first;
    return run;
}

/* What the clock is called. */
PERF_FN const char *perf_clock_name_(int counter)
{
#if defined(PERF_CLOCK_FN)
    (void)counter;
    return "custom";
#else
    if (counter)
        return PERF_COUNTER_NAME_;
    return PERF_SYSTEM_CLOCK_NAME_;
#endif
}

/* Step and cost of the clock that scopes use, from some runs.  Some counters of virtual machines
 * step by 25 ticks and now and then by one, so the step is the median, over the runs, of the
 * smallest step in each; `step` holds them sorted.                                               */
PERF_FN perf_clock_info perf_clock(void)
{
    perf_registry_ *reg = PERF_ACQ_(&perf_anchor_v1_.registry);
    perf_clock_info clock = PERF_ZERO;
    perf_clock_run_ run;
    uint64_t        step[PERF_CLOCK_RUNS_], best = ~UINT64_C(0), median;
    int             i, at, counter = PERF_CLOCK != PERF_CLOCK_MONOTONIC;

    if (reg)
        counter = !reg->clock;
    for (i = 0; i < PERF_CLOCK_RUNS_; i++) {
        run = perf_clock_run_of_(counter);
        if (run.backwards)
            clock.warnings |= PERF_CLOCK_BACKWARDS;
        if (run.took < best)
            best = run.took;
        for (at = i; at && step[at - 1] > run.step; at--)
            step[at] = step[at - 1];
        step[at] = run.step;
    }
    median = step[PERF_CLOCK_RUNS_ / 2];
    clock.name = perf_clock_name_(counter);
    clock.tick_ns = 1.0;
    if (counter) {
        clock.tick_ns = perf_tick_ns_();
        clock.error_ppm = perf_from_bits_(PERF_GET_(&perf_anchor_v1_.clock.error_ppm));
        clock.warnings |= PERF_GET_(&perf_anchor_v1_.clock.warnings);
    }
    clock.hz = 1e9 / clock.tick_ns;
    if (median != ~UINT64_C(0))
        clock.resolution_ns = PERF_CAST_(double, median) * clock.tick_ns;
    clock.cost_ns = PERF_CAST_(double, best) / PERF_CLOCK_READINGS_ * clock.tick_ns;
    if (clock.error_ppm > 1000)
        clock.warnings |= PERF_CLOCK_ROUGH;
    if (reg)
        clock.warnings |= PERF_GET_(&reg->warnings);
    return clock;
}

/* A reading of the clock that scopes use: perf_ticks(), or what stands for it in this process. */
PERF_COLD_FN_ uint64_t perf_scope_ticks_(const perf_registry_ *reg)
{
    if (!reg->clock)
        return perf_ticks();
    if (reg->custom)
        return reg->custom();
    return perf_now();
}

/* Nanoseconds of one of them; `reg` NULL: of a reading of the counter. */
PERF_FN double perf_scope_tick_ns_(const perf_registry_ *reg)
{
    if (reg && reg->clock)
        return 1.0;
    return perf_ticks_to_ns(1);
}

PERF_END_DECLS

#if !PERF_ONE_CORE_
#include "perf_record.h"        /* see perf_scope.h                                               */
#endif
#endif /* PERF_CALIBRATION_H */
