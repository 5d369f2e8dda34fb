/* perf_loop.h - the engine of the loops: clocks, slices, decisions; variants and schedules.
 *
 *     int v = perf_variant("parser", 0);       // PERF_VARIANT="parser=B" in the environment: 1
 *
 * Baseline and candidate run in turns, in slices, by three clocks; docs/loops.md says how a loop
 * stops and what it may say.  A file that includes this header and runs a loop holds the engine for
 * those that include perf_bench.h alone.
 * Sections (search for ">>"):  variant  schedule  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LOOP_H
#define PERF_LOOP_H

#ifndef PERF_BENCH_H
#define PERF_LOOP_IS_HERE_ 1    /* this file's loops call the engine below, not another's         */
#endif
#include "perf_bench.h"
#include "perf_report.h"

PERF_BEGIN_DECLS

/* >>variant: the switch to ship with a change ----------------------------------------------------
 * The environment can choose a variant by name without a new build, to roll a change back:
 *     PERF_VARIANT="parser=A,sum=1" ./program
 * A or 0 is the baseline, B or 1 the candidate, C or 2 the next one, in either case of letters.
 * perf_ab and perf_race loops of that name then run this variant alone and are INCONCLUSIVE.     */

/* The variant that PERF_VARIANT asks for, else `otherwise`.  If the value is missing or none of
 * the above, or PERF_VARIANT has no `=`, it is `otherwise`, and perf_error() says PERF_EFORMAT.
 * Reads the environment at each call (some 100 ns): keep the answer.  Works with PERF_DISABLE=1,
 * too, as a shipped program needs it.  Any thread, while none changes the environment.           */
PERF_FN int perf_variant(const char *name, int otherwise);

/* >>schedule: record some steps of a long loop ---------------------------------------------------
 *
 *     perf_schedule s = perf_schedule_begin(NULL);
 *     for (step = 0; step < steps; step++) {
 *         perf_schedule_step(&s);                  // first thing in each step
 *         train();
 *     }
 *     perf_schedule_end(&s);
 *
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

PERF_FN perf_schedule_opts perf_schedule_opts_default(void);    /* all zero; for C++11 and Cython */

/* Switches recording off until the first active step; NULL: defaults.  s.opts is what runs. */
PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts);

/* A step begins: returns its phase.  NULL, before begin or after end: PERF_PHASE_DONE. */
PERF_FN perf_phase perf_schedule_step(perf_schedule *s);

/* Recording is as it was before begin.  PERF_ESTATE: no begin; PERF_ENODATA: no active step. */
PERF_FN perf_status perf_schedule_end(perf_schedule *s);

/* >>internal: what other headers may use ---------------------------------------------------------
 *   PERF_LOOP_IS_HERE_      1: the loops of this file call the engine below, not another file's
 *   PERF_LOOP_NO_MEMORY_    the state pointer of a loop that got no memory
 *   PERF_LOOP_IS_ONE_, PERF_LOOP_KIND_  1: it is neither NULL nor that; its kind: 1 bench, 2 A/B,
 *                           3 race, 0 none
 *   perf_loop_state_, perf_slice_  a loop and its arms; loop.done 1: `result` or `ab` is complete
 *   perf_loop_pages_        a state with its arms and room for samples, in fresh pages, all zero;
 *                           kept until perf_reset(); NULL: no memory
 *   perf_loop_stop_, perf_loop_done_  no more slices, and why, returns 0; its result is complete
 *   perf_duel_judge_        a verdict from pairs, their bets and the interval of their log ratios
 *   perf_loop_add_          hands a loop to the report; copies the name, returns 1 if it was cut
 *   perf_bench_summary_     the summary of n slices in time order; neighbours may be alike
 *   perf_result_rates_      fills in GB/s, items/s, GFLOP/s from the median and opts
 *   PERF_LOOP_MAX_SAMPLES_  the most that anybody may ask for
 *   perf_or_default_, perf_timer_since_  x in low .. high, 0 or NaN: `otherwise`; ns, also below 0
 *   PERF_ENGINE_            leaves a table under a symbol for the linker, where it stands        */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* ---- timing a slice ----
 *
 * By the wall's clock; slices that outlast a scheduler's turn by the processor time of this thread
 * and of the whole process as well.                                                              */

enum { PERF_BY_WALL_, PERF_BY_THREAD_, PERF_BY_PROCESS_, PERF_CLOCKS_ };

typedef struct perf_timer_ {
    uint64_t    began;
    uint64_t    at[PERF_CLOCKS_];       /* readings at the start of the slice                     */
    uint64_t    paused_at[PERF_CLOCKS_];
    double      paused_ns[PERF_CLOCKS_];    /* of this slice                                      */
    double      overhead_ns[PERF_CLOCKS_];  /* what an empty slice shows                          */
    double      ns[PERF_CLOCKS_];       /* the last slice                                         */
    double      wall_ns, waited_ns;     /* over the slices that all clocks saw: wall, wall beyond */
    double      others_ns;              /* the thread's time, the process's beyond the thread's   */
    double      tick_ns;
    double      least_ns;               /* the shortest slice that took any time; 0: none yet     */
    double      spent_ns;               /* in slices so far                                       */
    int         clocks;                 /* 1: the wall's alone; 3                                 */
    int         one_clock;              /* 1: this system or PERF_CLOCK_FN has no other           */
    int         coarse;                 /* 1: a slice took no time: a tick is longer than that    */
    int         paused;
    int64_t     waits_at, forced_at;    /* switches when the slice began, see perf_switches_      */
    uint64_t    slices, waiting_slices; /* all; those that gave up the processor                  */
    int         backwards, unresumed;
    int         pauses;                 /* of this slice                                          */
    int         pause_known;            /* for so many clocks is it known what a pause costs      */
    double      pause_ns[PERF_CLOCKS_]; /* what a pause and its resume show beside what they hide */
    double      pause_doubt_ns;         /* by so much more or less, as the work around them is    */
} perf_timer_;

#define PERF_RACE_MOST_       64
#define PERF_CONTROL_PAIRS_   6         /* after a lead                                           */
#define PERF_CONTROL_LEADS_   5         /* until a control has failed                             */
#define PERF_CONTROL_MOST_    (2 * PERF_CONTROL_PAIRS_ * PERF_CONTROL_LEADS_)
#define PERF_ALONE_           16        /* slices of the leads that are kept                      */

/* One arm: a bench has one, an A/B loop two, a race up to 64. */
typedef struct perf_slice_ {
    uint64_t      batch;                /* iterations per slice                                   */
    uint64_t      runs;                 /* iterations so far                                      */
    double        fastest;              /* of the readings at this batch, ns a slice              */
    double        first_ns;
    double        wall_ns, wait_ns, wait_sq;    /* sums over the slices that all clocks saw: wall,*/
    uint64_t      timed;                /* wall beyond processor time, its squares; how many      */
    double        forced;               /* switches in them that the body did not ask for         */
    double        doubt_ns;             /* of a slice, by the pauses in it                        */
    int           readings;             /* at this batch                                          */
    int           steady;               /* the batch is chosen                                    */
    double       *ns;                   /* ns per iteration, by slice; room for all that may come */
    double       *cpu;                  /* likewise by processor time                             */
    size_t        count;
    double        pending[2];           /* ns, cpu: of the round under way                        */
                                        /* against variant 0, of the other variants:              */
    perf_seq      seq[2];               /* the bets by the wall's clock and by processor time     */
    perf_interval kept;                 /* of the log ratio, at kept_at pairs, by clock kept_by   */
    double        again[PERF_CONTROL_MOST_];    /* control: log ratios                            */
    int           sides;                /* control: 1 confirmed below the threshold, 2 above it,  */
                                        /* 4 not confirmed; of all votes                          */
    int           against;              /* control: it disagrees                                  */
} perf_slice_;

struct perf_loop_state_;

/* How slices are run and timed: the host's clocks below, or a device's events (perf_gpu_bench.h).
 * The engine calls them in this order: begin, the body, end; both once for each slice.
 *   begin   starts the clocks of a slice of that arm; s->arm[arm].batch iterations follow
 *   end     reads them into s->timer.ns[].  1: file it; 0: it does not count, the arm runs again.
 *           `now` is the wall's clock, read before anything else
 *   want    ns that a slice should last at least
 *   grown   all batches are found; 0: the loop ends with s->status
 * Times of a filling without processor time stay by the wall's clock: s->timer.clocks is 1.      */
typedef struct perf_filling_ {
    void   (*begin)(struct perf_loop_state_ *s, int arm);
    int    (*end)(struct perf_loop_state_ *s, int arm, uint64_t now);
    double (*want)(const struct perf_loop_state_ *s);
    int    (*grown)(struct perf_loop_state_ *s);
} perf_filling_;

/* A loop of any kind. */
typedef struct perf_loop_state_ {
    perf_loop_       loop;              /* first: the list is of these                            */
    perf_bench_opts  opts;              /* of other loops: max_seconds, slice_ns, before, user    */
    perf_ab_opts     ask;
    perf_timer_      timer;
    const perf_filling_ *fill;          /* how a slice is timed                                   */
    void            *own;               /* of the filling                                         */
    perf_slice_     *arm;               /* [variants]                                             */
    perf_race_entry *entry;             /* [variants]                                             */
    unsigned char   *first;             /* [rounds] the variant that began the round              */
    double          *logs;              /* [rounds] room for log ratios                           */
    int            (*round)(struct perf_loop_state_ *, uint64_t now);   /* a round is complete,   */
                                        /* or a slice of the control is; 1: stop                  */
    uint64_t         coin;
    int              variants, running; /* running: 1 when one is forced                          */
    int              forced;            /* the variant, or -1                                     */
    int              phase, at, left_to_warm, typical;
    size_t           look_at;           /* rounds at which to look at the answer again            */
    size_t           lead, lead_left;   /* control: slices that the fastest runs alone            */
    size_t           again_count, kept_at, alone_count;
    double           alone[PERF_ALONE_];    /* ns an iteration of the fastest in its leads        */
    double           alone_ratio;       /* as in perf_ab_result                                   */
    double           control_end;       /* ns since begin: the control in hand then is the last   */
    double           round_ns;          /* the last round, with what is not timed                 */
    uint64_t         round_began, stands;   /* stands: since when the clock does, by the system's */
    int              control_pairs, control_at, control_rounds, fastest;
    int              leads, restarts, anew;     /* leads: since the pairs began, or began anew;   */
                                        /* anew 1: they do so after the lead under way            */
    int              kept_by;           /* see perf_loop_by_                                      */
    int              hurry;             /* 1: no time to find a batch; the first round tells      */
    int              warming, last;     /* warming: this slice is not filed; the arm that ran     */
    const char      *refused;           /* the option that cannot be meant, or NULL               */
    const char      *ended;             /* what is missing as max_seconds ended the loop, or NULL */
    unsigned char    order[PERF_RACE_MOST_];    /* of the round under way                         */
    perf_status      status;
    perf_accuracy    seen;
    uint32_t         warnings;
    perf_result      result;            /* of its kind                                            */
    perf_ab_result   ab;
    perf_race_result race;
} perf_loop_state_;

enum { PERF_LOOP_START_, PERF_LOOP_COLD_, PERF_LOOP_GROW_, PERF_LOOP_WARM_, PERF_LOOP_SAMPLE_,
       PERF_LOOP_CONTROL_, PERF_LOOP_DONE_ };

/* Returns 1, hidden from gcc.  gcc treats a function that always calls a cold one as cold, too, and
 * so its callers, up to the user's loop, which it would then optimise for size.              */
PERF_INLINE_FN_ int perf_not_cold_(void)
{
    int yes = 1;

#if !PERF_TCC_
    __asm__("" : "+r"(yes));
#endif
    return yes;
}

/* The compiler must take *x for changed here. */
PERF_INLINE_FN_ void perf_hide_(uint64_t *x)
{
#if !PERF_TCC_
    __asm__ __volatile__("" : "+r"(*x));
#else
    (void)x;
#endif
}

#define PERF_LOOP_NO_MEMORY_(T) PERF_PTR_(T *, PERF_CAST_(uintptr_t, 1)) /* stands for a state */
#define PERF_LOOP_IS_ONE_(s)    (PERF_PTR_(uintptr_t, s) > 1)   /* not NULL, not NO_MEMORY        */
#define PERF_LOOP_KIND_(s)      (PERF_LOOP_IS_ONE_(s) ? PERF_PTR_(const perf_loop_ *, s)->kind : 0)
#define PERF_LOOP_SAMPLES_      1000    /* of a bench that looks for a narrow interval            */
#define PERF_LOOP_LEAST_        3       /* however slow the body is                               */
#define PERF_LOOP_MAX_SAMPLES_  1000000
#define PERF_LOOP_AT_MOST_(x, most) ((x) < (most) ? (x) : (most))
#define PERF_LOOP_LONG_NS_      300e3   /* slices above this are timed by all clocks, which cost  */
                                        /* some 2 us; shorter ones others mostly leave alone      */
#define PERF_LOOP_LITTLE_       0.02    /* too small a share of the time to choose a clock by     */
#define PERF_LOOP_TURN_NS_      100e3   /* of processor time.  Linux gives turns of 0.75 to 4 ms  */
                                        /* (measured beside 8 busy loops: 3.5), and 0.5 where     */
                                        /* somebody wakes up every 20 us                          */
#define PERF_LOOP_STEPS_BACK_   100     /* a clock that steps back this often is no clock         */
#define PERF_LOOP_ROUNDS_       8.0     /* two arms or more: so many rounds must fit for a batch  */
#define PERF_LOOP_FULL_         0.7     /* of the slice that was asked for: long enough           */
#define PERF_LONG_BESIDE_       4.0     /* a slice this much longer leaves cold caches behind     */

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
    perf_unlock_(r);
    return cut;
}

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

/* One of the three clocks, in ns; 0: this system does not say. */
PERF_FN uint64_t perf_timer_clock_(int i)
{
#if defined(PERF_TEST_CPU_FN)
    return i == PERF_BY_WALL_ ? perf_now() : PERF_TEST_CPU_FN(i);
#elif defined(PERF_CLOCK_FN)                        /* one clock of yours and one of ours: no     */
    return i == PERF_BY_WALL_ ? perf_now() : 0;
#else
    return i == PERF_BY_WALL_ ? perf_now()
                              : perf_system_ns_(i == PERF_BY_THREAD_ ? PERF_CLOCK_THREAD_ID_
                                                                     : PERF_CLOCK_PROCESS_ID_);
#endif
}

/* The cost of one reading and its smallest step, from 100 back-to-back readings.  If it moves by 1
 * at most in each, from as many as it takes to step twice, but no more than 10 million.          */
PERF_COLD_FN_ double perf_clock_probe_(int clock, double *tick)
{
    uint64_t best = UINT64_MAX, step = UINT64_MAX, first, last, t;
    double   cost;
    int      i, steps = 0;

    first = last = perf_timer_clock_(clock);
    for (i = 1; i <= 100; i++, last = t) {
        t = perf_timer_clock_(clock);
        step = t != last && t - last < step ? t - last : step;
        best = i % 20 || t - first > best ? best : t - first;
        first = i % 20 ? first : t;
    }
    for (i = 0; best <= 20 && steps < 2 && i < 10000000; i++, last = t) {
        t = perf_timer_clock_(clock);
        if (t - last < 2)
            continue;
        step = steps++ ? t - first : step;
        first = t;
    }
    cost = best > 20000000 ? 0.0 : PERF_CAST_(double, best) / 20.0;     /* it stepped each time   */
    *tick = step > 1000000000 ? 1.0 : PERF_CAST_(double, step);
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

PERF_FN double perf_timer_since_(uint64_t then, uint64_t now)
{
    return PERF_CAST_(double, PERF_CAST_(int64_t, now - then));
}

/* Reads the clocks, the wall's last: nothing comes between it and the body. */
PERF_FN void perf_timer_start_(perf_timer_ *t)
{
    int i;

    t->paused = t->pauses = 0;
    PERF_LIBC_(memset)(t->paused_ns, 0, sizeof t->paused_ns);
    t->waits_at = t->clocks > 1 ? perf_switches_(&t->forced_at) : -1;
    for (i = t->clocks; i--;)
        t->at[i] = perf_timer_clock_(i);
}

/* Reads them after the body: `now` is the wall's clock.  0: it went backwards, file nothing. */
PERF_FN int perf_timer_stop_(perf_timer_ *t, uint64_t now, perf_slice_ *p)
{
    double  raw[PERF_CLOCKS_] = {0.0, 0.0, 0.0}, wait, others, ns;
    int64_t forced = 0;
    int     i;

    for (i = 0; i < t->clocks; i++) {
        raw[i] = perf_timer_since_(t->at[i], t->paused ? t->paused_at[i]
                                             : i ? perf_timer_clock_(i) : now);
        t->ns[i] = raw[i] - t->paused_ns[i] - t->overhead_ns[i];
        t->ns[i] = t->ns[i] > 0.0 ? t->ns[i] : 0.0;
    }
    t->unresumed |= t->paused;
    ns = t->pause_doubt_ns * t->pauses;
    p->doubt_ns = p->doubt_ns > ns ? p->doubt_ns : ns;
    p->runs += p->batch;
    if (raw[0] < 0.0) {
        t->backwards++;
        return 0;
    }
    if (!(raw[0] > t->overhead_ns[PERF_BY_WALL_]))  /* it stood still, or went by its least step  */
        t->coarse |= p->batch > 1 || p->steady || !(raw[0] > 0.0);
    else if (!(t->least_ns > 0.0) || raw[0] < t->least_ns)
        t->least_ns = raw[0];
    t->spent_ns += raw[0];
    if (t->clocks > 1) {
        wait = t->ns[PERF_BY_WALL_] - t->ns[PERF_BY_THREAD_];
        wait = wait > 0.0 ? wait : 0.0;
        others = t->ns[PERF_BY_PROCESS_] - t->ns[PERF_BY_THREAD_];
        t->wall_ns += t->ns[PERF_BY_WALL_];
        t->waited_ns += wait;
        t->others_ns += others > 0.0 ? others : 0.0;
        p->wall_ns += t->ns[PERF_BY_WALL_];
        p->wait_ns += wait;
        p->wait_sq += wait * wait;
        p->timed++;
        t->slices++;
        t->waiting_slices += t->waits_at >= 0 && perf_switches_(&forced) > t->waits_at;
        p->forced += t->waits_at >= 0 ? PERF_CAST_(double, forced - t->forced_at) : 0.0;
    }
    return 1;
}

/* The step of the clock.  Where the probe found none, or the least of several, some slices take no
 * time at all, and the shortest of the others is a step or two.                                  */
PERF_FN double perf_timer_tick_(const perf_timer_ *t)
{
    return t->coarse && t->least_ns > t->tick_ns && t->tick_ns <= 1000.0 ? t->least_ns : t->tick_ns;
}

/* Whether the time is up, or would be after `ahead` more ns. */
PERF_FN int perf_timer_late_(const perf_timer_ *t, uint64_t now, double max_seconds, double ahead)
{
    return perf_timer_since_(t->began, now) + ahead > max_seconds * 1e9 ||
           t->spent_ns > max_seconds * 1e9;
}

PERF_FN void perf_host_begin_(perf_loop_state_ *s, int arm)
{
    (void)arm;
    perf_timer_start_(&s->timer);
}

PERF_FN int perf_host_end_(perf_loop_state_ *s, int arm, uint64_t now)
{
    return perf_timer_stop_(&s->timer, now, &s->arm[arm]);
}

/* As long as asked for, or 30 steps of a coarse clock, if the time allows. */
PERF_COLD_FN_ double perf_host_want_(const perf_loop_state_ *s)
{
    const double most = s->opts.max_seconds * 1e9 / 32.0;
    double       steps = s->timer.coarse ? 30.0 * perf_timer_tick_(&s->timer) : 0.0;

    steps = PERF_LOOP_AT_MOST_(steps, most);
    return steps > s->opts.slice_ns ? steps : s->opts.slice_ns;
}

/* Long slices are timed by processor time, too. */
PERF_COLD_FN_ int perf_host_grown_(perf_loop_state_ *s)
{
    const perf_slice_ *p;
    int                i;

    for (i = 0; i < s->running; i++) {
        p = &s->arm[s->order[i]];
        perf_timer_choose_(&s->timer, p->fastest > 0.0 ? p->fastest : p->first_ns);
    }
    return 1;
}

PERF_FN const perf_filling_ *perf_host_filling_(void)
{
    static const perf_filling_ host = {perf_host_begin_, perf_host_end_, perf_host_want_,
                                       perf_host_grown_};

    return &host;
}

/* Nothing after it begins before all before it has ended: a reading of the clock is where it stands. */
PERF_FN void perf_fence_(void)
{
#if PERF_TCC_
    ;
#elif defined(__x86_64__) || defined(__SSE2__)
    __asm__ __volatile__("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" : : : "memory");
#else
    perf_clobber();
#endif
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
        paused = perf_timer_since_(t->paused_at[i], perf_timer_clock_(i));
        t->paused_ns[i] += paused >= 0.0 ? paused + t->pause_ns[i] : 0.0;
    }
    perf_fence_();
}

enum { PERF_PROBE_PAIRS_ = 32, PERF_PROBE_CHAIN_ = 24, PERF_PROBE_TRIES_ = 9 };

/* ns a pair that 32 pairs show; each is followed by a chain of so many steps. */
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
        for (i = 0, x = 1; i < steps; i++) {        /* without a pause, the next chain overlaps it */
            x = x * UINT64_C(6364136223846793005) + 1;
            perf_hide_(&x);
        }
    }
    perf_fence_();
    for (i = 0; i < t->clocks; i++) {
        ns[i] = perf_timer_since_(began[i], perf_timer_clock_(i)) - t->paused_ns[i];
        ns[i] = (ns[i] - t->overhead_ns[i]) / PERF_CAST_(double, PERF_PROBE_PAIRS_);
    }
}

/* What a pair costs, by each clock: between nothing, and between work that cannot overlap it.  The
 * lesser is taken off; the doubt is their difference and half of what tries differ by.           */
PERF_COLD_FN_ void perf_pause_probe_(const perf_timer_ *real, perf_timer_ *to)
{
    perf_timer_ t = *real;
    double      bare[PERF_CLOCKS_], chain[PERF_CLOCKS_], alone[PERF_CLOCKS_];
    double      between[PERF_CLOCKS_][PERF_PROBE_TRIES_], among[PERF_CLOCKS_][PERF_PROBE_TRIES_];
    double      low, high, spread = 0.0;
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
        to->pause_ns[i] = low < high ? low : high;
        if (i == PERF_BY_WALL_)
            spread = between[i][PERF_PROBE_TRIES_ - 2] - between[i][1];
        low = low < high ? high - low : low - high;
        if (i == PERF_BY_WALL_ || low > to->pause_doubt_ns)
            to->pause_doubt_ns = low;
    }
    to->pause_doubt_ns += 0.5 * spread;
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

/* ---- variant ---- */

/* A letter in either case or a number below 64; -1: none of these. */
PERF_COLD_FN_ int perf_variant_number_(const char *p, size_t n)
{
    size_t i;
    int    v = 0;

    if (n == 1 && (p[0] | 32) >= 'a' && (p[0] | 32) <= 'z')
        return (p[0] | 32) - 'a';
    for (i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9' || i == 2)
            return -1;
        v = 10 * v + (p[i] - '0');
    }
    return n && v < PERF_RACE_MOST_ ? v : -1;
}

/* A mistyped rollback must not pass in silence: every report notes it. */
PERF_COLD_FN_ void perf_variant_bad_(perf_status why)
{
    perf_registry_ *r = perf_registry_get_();

    if (r) {
        PERF_SET_(&r->bad_variant, 1u);
        perf_fail_(r, why);
    }
}

PERF_FN int perf_variant(const char *name, int otherwise)
{
    const char *p = perf_getenv_("PERF_VARIANT"), *to;
    size_t      n = name ? PERF_LIBC_(strlen)(name) : 0, length;
    int         v = -1, bad = p && n && *p && !PERF_LIBC_(strchr)(p, '=');

    for (; p && n && *p && !bad; p += PERF_LIBC_(strcspn)(p, ","), p += *p == ',') {
        p += *name == ' ' ? 0 : PERF_LIBC_(strspn)(p, " ");
        if (PERF_LIBC_(strncmp)(p, name, n) != 0)
            continue;
        p += n;                                     /* a name may have commas and = of its own    */
        to = p + PERF_LIBC_(strspn)(p, " ");
        if (*to == '=' && !PERF_LIBC_(memchr)(to + 1, '=', PERF_LIBC_(strcspn)(to + 1, ","))) {
            to += 1 + PERF_LIBC_(strspn)(to + 1, " ");
            length = PERF_LIBC_(strcspn)(to, ", ");
            p = to + length + PERF_LIBC_(strspn)(to + length, " ");
            v = !*p || *p == ',' ? perf_variant_number_(to, length) : -1;
            if (v >= 0)
                return v;
            bad = 1;
        } else if (!*to || *to == ',') {
            bad = 1;
        }
    }
    if (bad)
        perf_variant_bad_(PERF_EFORMAT);
    return otherwise;
}

/* ---- what all loops do: slices, from the first run to the last round ---- */

/* The loop that begin returns; s NULL: out of memory. */
PERF_COLD_FN_ perf_loop perf_loop_new_(perf_loop_state_ *s)
{
    perf_loop l = PERF_ZERO;

    l.first = l.variant = -1;
    l.state = s ? s : PERF_LOOP_NO_MEMORY_(perf_loop_state_);
    l.pause = s ? perf_loop_pause_ : PERF_NULL_;
    return l;
}

/* Why a loop of another state than `kind` cannot end: no memory, no begin, or ended already. */
PERF_COLD_FN_ perf_status perf_loop_over_(const perf_loop_state_ *s, int kind)
{
    if (s && !PERF_LOOP_IS_ONE_(s))
        return PERF_ENOMEM;
    return PERF_LOOP_KIND_(s) != kind || PERF_ACQ_(&s->loop.done) ? PERF_ESTATE : PERF_OK;
}

/* Pages are touched only as far as they are used: most of them stay free. */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_pages_(size_t arms, size_t rounds)
{
    perf_loop_state_ *s;
    double           *at;
    size_t            i, of_arms = arms * (sizeof *s->arm + sizeof *s->entry);
    size_t            bytes = sizeof *s + of_arms + rounds * ((2 * arms + 1) * sizeof *at + 1);

    s = PERF_CAST_(perf_loop_state_ *, perf_pages_(bytes, 0));
    if (!s)
        return s;
    s->loop.pages = bytes;
    s->arm = PERF_PTR_(perf_slice_ *, s + 1);
    s->entry = PERF_PTR_(perf_race_entry *, s->arm + arms);
    at = PERF_PTR_(double *, s->entry + arms);
    for (i = 0; i < arms; i++, at += 2 * rounds) {
        s->arm[i].ns = at;
        s->arm[i].cpu = at + rounds;
        s->arm[i].batch = 1;
        s->order[i] = PERF_CAST_(unsigned char, i);
    }
    s->logs = at;
    s->first = PERF_PTR_(unsigned char *, at + rounds);
    s->variants = s->running = PERF_CAST_(int, arms);
    return s;
}

/* A new state: its clock is probed, its coin set, it is in the report's list.  NULL: no memory. */
PERF_COLD_FN_ perf_loop_state_ *perf_loop_start_(const char *name, int kind, size_t arms,
                                                 size_t rounds, int optimised)
{
    perf_loop_state_ *s = perf_loop_pages_(arms, rounds);

    if (!s)
        return s;
    s->warnings = optimised ? 0u : PERF_CAST_(uint32_t, PERF_WARN_UNOPTIMISED);
    s->timer.began = perf_now();
    s->timer.overhead_ns[PERF_BY_WALL_] = perf_clock_probe_(PERF_BY_WALL_, &s->timer.tick_ns);
    s->timer.coarse = s->timer.tick_ns > 1000.0;
    s->timer.clocks = 1;
    s->coin = (s->timer.began ^ (perf_ticks() << 20)) | 1;
    s->forced = -1;
    s->fill = perf_host_filling_();
    if (perf_loop_add_(&s->loop, kind, name))
        s->warnings |= PERF_CAST_(uint32_t, PERF_WARN_NAME);
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

/* All arms without a batch have been read at a common one.  It grows until three readings in a row
 * are long enough; two for a batch of one, or one if that takes much of the time.  Arms within a
 * factor of four share their batch: two that walk the same memory then stand at the same place. 0:
 * there is no body: a million iterations (100 million by a clock of milliseconds) took less time
 * than the loop's own branch.                                                                    */
PERF_COLD_FN_ int perf_loop_grow_(perf_loop_state_ *s, double want, int late)
{
    perf_slice_ *p = &s->arm[s->order[0]];
    double       slowest = 0.0, factor;
    int          i, enough, need;

    for (i = s->running; i--;)
        if (!s->arm[s->order[i]].steady) {
            p = &s->arm[s->order[i]];
            s->at = i;
            slowest = p->fastest > slowest ? p->fastest : slowest;
        }
    enough = !s->timer.coarse ? 1000000 : s->timer.least_ns > 0.0 ? 100000000 : 10000000;
    if (p->batch >= PERF_CAST_(uint64_t, enough) && slowest < 0.03 * PERF_CAST_(double, p->batch))
        return 0;
    enough = slowest >= PERF_LOOP_FULL_ * want || late;
    need = p->batch > 1 ? 3 : 16.0 * slowest < s->opts.max_seconds * 1e9 ? 2 : 1;
    if (enough && p->readings < need && !late)
        return 1;
    factor = slowest > 0.0 ? want / slowest : 10.0;
    factor = factor > 10.0 ? 10.0 : factor < 1.2 ? 1.2 : factor;    /* one reading may mislead    */
    for (; s->at < s->running; s->at++) {
        p = &s->arm[s->order[s->at]];
        if (p->steady)
            continue;
        p->steady = enough && (late || PERF_LONG_BESIDE_ * p->fastest >= slowest ||
                               p->fastest >= PERF_LOOP_FULL_ * want);
        p->readings = p->steady ? p->readings : 0;
        if (!enough)
            p->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, p->batch) * factor) + 1;
    }
    return 1;
}

/* All batches are found: the warm-up begins, or the first round.  0: the filling ends the loop. */
PERF_COLD_FN_ int perf_loop_grown_(perf_loop_state_ *s, int late)
{
    s->phase = s->left_to_warm > 0 && !late ? PERF_LOOP_WARM_ : PERF_LOOP_SAMPLE_;
    perf_loop_shuffle_(s);
    s->round_began = perf_now();
    return s->fill->grown(s);
}

/* Each variant has run once.  If too few such rounds fit into the time, none of it goes into
 * finding a batch and warming up: the next runs are samples.                                     */
PERF_COLD_FN_ int perf_loop_cold_(perf_loop_state_ *s)
{
    double all = 0.0;
    int    i;

    for (i = 0; i < s->running; i++)
        all += s->arm[s->order[i]].first_ns;
    s->hurry = (s->variants > 1 ? PERF_LOOP_ROUNDS_ * all : all) > s->opts.max_seconds * 1e9;
    s->phase = PERF_LOOP_GROW_;
    perf_loop_shuffle_(s);
    for (i = 0; i < s->running; i++)
        s->arm[s->order[i]].steady = s->hurry;
    return s->hurry ? perf_loop_grown_(s, 1) : 1;
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

/* Starts the slice of order[at].  After a slice much longer than it, it runs twice, and the second
 * run counts: the first finds cold caches, as it would not if it ran alone.                      */
PERF_COLD_FN_ uint64_t perf_loop_go_(perf_loop_state_ *s)
{
    int          v = s->order[s->at];
    perf_slice_ *p = &s->arm[v];

    s->warming = s->phase >= PERF_LOOP_WARM_ && s->last != v && !s->warming &&
                 s->arm[s->last].fastest > PERF_LONG_BESIDE_ * p->fastest;
    if (s->opts.before)
        s->opts.before(s->opts.user, v);
    s->fill->begin(s, v);
    return 64 * p->batch + PERF_CAST_(uint64_t, v);
}

PERF_FN uint64_t perf_loop_stop_(perf_loop_state_ *s, perf_status why)
{
    s->status = why;
    s->phase = PERF_LOOP_DONE_;
    return 0;
}

/* A slice has ended: file it, choose the next one.  Returns 64 * iterations + variant, or 0.     */
PERF_OUTLINE_FN_ uint64_t perf_loop_slice_(struct perf_loop_state_ *s, int kind)
{
    uint64_t     now = perf_now();
    perf_slice_ *p;
    double       ns, want;
    int          late, good = 1, complete = 0, i, is = PERF_LOOP_KIND_(s);

    if (!is || (is == 1) != (kind == 1) || s->phase == PERF_LOOP_DONE_)
        return 0;
    p = &s->arm[s->order[s->at]];
    if (s->phase != PERF_LOOP_START_)
        good = s->fill->end(s, s->order[s->at], now);
    s->stands = now != s->timer.at[PERF_BY_WALL_] ? 0
                : s->stands ? s->stands : perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
    if ((!good && s->timer.backwards > PERF_LOOP_STEPS_BACK_) ||
        (s->stands && perf_timer_since_(s->stands, perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_)) >
                          1e8 + s->opts.max_seconds * 1e9))
        return perf_loop_stop_(s, PERF_ERANGE);
    if (s->warming)
        return perf_loop_go_(s);
    s->last = s->order[s->at];
    ns = s->timer.ns[PERF_BY_WALL_];
    want = s->fill->want(s);
    late = perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.0);
    switch (good || s->phase == PERF_LOOP_COLD_ ? s->phase : PERF_LOOP_DONE_) {
    case PERF_LOOP_START_:
        perf_loop_shuffle_(s);
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        p->first_ns = p->fastest = p->pending[0] = ns;
        complete = ++s->at == s->running && late && s->variants > 1;
        if (s->at == s->running && !complete && !perf_loop_cold_(s))    /* else the only pair     */
            return perf_loop_stop_(s, s->status);
        break;
    case PERF_LOOP_GROW_:
        p->fastest = p->readings++ && p->fastest < ns ? p->fastest : ns;
        s->at++;
        if (perf_loop_unsteady_(s))
            break;
        if (!perf_loop_grow_(s, want, late))
            return perf_loop_stop_(s, s->timer.unresumed ? PERF_ESTATE
                                      : now == s->timer.began ? PERF_ERANGE : PERF_EDELETED);
        perf_loop_shuffle_(s);
        if (!perf_loop_unsteady_(s) && !perf_loop_grown_(s, late))
            return perf_loop_stop_(s, s->status);
        break;
    case PERF_LOOP_WARM_:
        if (++s->at == s->running) {
            want = PERF_LOOP_LEAST_ * ns;           /* what has to come after the warm-up         */
            late = perf_timer_late_(&s->timer, now, s->opts.max_seconds, want);
            if (--s->left_to_warm <= 0 || late)
                s->phase = PERF_LOOP_SAMPLE_;
            perf_loop_shuffle_(s);
        }
        break;
    case PERF_LOOP_SAMPLE_:
        p->pending[0] = ns / PERF_CAST_(double, p->batch);
        p->pending[1] = s->timer.ns[PERF_BY_THREAD_] / PERF_CAST_(double, p->batch);
        complete = ++s->at == s->running && !perf_loop_was_cold_(s, want);
        break;
    default:                                        /* a control's slice, which is for s->round;  */
        complete = good;                            /* or the clock stepped back: again           */
    }
    if (complete && s->phase != PERF_LOOP_CONTROL_) {
        s->first[s->arm[s->order[0]].count] = s->order[0];
        for (i = 0; i < s->running; i++) {
            p = &s->arm[s->order[i]];
            p->cpu[p->count] = p->pending[1];
            p->ns[p->count++] = p->pending[0];
        }
    }
    if (complete && s->round(s, now))
        return perf_loop_stop_(s, PERF_OK);
    if (complete && s->phase == PERF_LOOP_SAMPLE_)
        perf_loop_shuffle_(s);
    return perf_loop_go_(s);
}

/* There are no more slices.  Takes the warnings about them. */
PERF_COLD_FN_ void perf_loop_settle_(perf_loop_state_ *s, int64_t left)
{
    perf_slice_ *p = &s->arm[s->order[s->at < s->running ? s->at : 0]];

    if (s->phase != PERF_LOOP_DONE_ && s->phase != PERF_LOOP_START_ && left >= 0)
        p->runs += p->batch - PERF_CAST_(uint64_t, left);       /* a slice that a break cut       */
    if (s->phase != PERF_LOOP_DONE_)
        s->warnings |= PERF_WARN_STOPPED;
    if (s->timer.backwards)
        s->warnings |= PERF_WARN_CLOCK;
    if (s->timer.unresumed)
        s->warnings |= PERF_WARN_PAUSED;
    s->phase = PERF_LOOP_DONE_;
}

/* The result of its kind is complete: from now on reports see it. */
/* Where readers find the values of the arms: by the wall's clock or by processor time. */
PERF_COLD_FN_ void perf_loop_samples_(perf_loop_state_ *s)
{
    perf_loop_  *loop = &s->loop;
    perf_decides decides = s->result.decides;
    int          i;

    if (loop->kind == 2)
        decides = s->ab.decides;
    loop->samples = s->arm[0].count;
    for (i = 0; i < loop->kind && i < 2; i++) {
        loop->sample[i] = s->arm[i].ns;
        if (decides == PERF_DECIDES_CPU)
            loop->sample[i] = s->arm[i].cpu;
        if (s->arm[i].count < loop->samples)
            loop->samples = s->arm[i].count;
    }
}

PERF_COLD_FN_ void perf_loop_done_(perf_loop_state_ *s, const void *result)
{
    perf_loop_samples_(s);
    s->loop.result = result;
    PERF_REL_(&s->loop.done, 1);
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
        ns = (perf_timer_since_(t, perf_now()) - overhead) / 20000.0;
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
    double       gap;
    uint32_t     w = 0;

    /* A deleted body leaves the loop, up to 3 cycles of it in 25 runs measured; an honest single
     * multiply is in that range too, so a bench only warns, while a verdict is withheld.         */
    if (all->count && all->p50 < 5.0 && all->p50 < 5.0 * perf_loop_empty_ns_(overhead))
        w |= PERF_WARN_EMPTY_BODY;
    if (n >= 30) {
        early = perf_summarize(x, n / 3);
        late = perf_summarize(x + (n - n / 3), n / 3);
        gap = early.p50 > late.p50 ? early.p50 - late.p50 : late.p50 - early.p50;
        if (gap > 0.05 * all->p50 &&
            (early.p50_low > late.p50_high || late.p50_low > early.p50_high))
            w |= PERF_WARN_DRIFT;
    }
    return w;
}

PERF_FN double perf_or_default_(double x, double low, double high, double otherwise)
{
    return !(x > 0.0) ? otherwise : x < low ? low : x > high ? high : x;
}

/* 1: variants i and j waited for different shares of their time, by a tenth of it and by three
 * standard errors.  Then one waits for work that is done elsewhere, in another process say.      */
PERF_COLD_FN_ int perf_loop_waits_apart_(const perf_slice_ *a, const perf_slice_ *b)
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

/* Which clock the answers rest on, and why.  That depends on waits and switches alone, never on who
 * is faster.  Work that other threads of this process do during a slice belongs to the body, as far
 * as anybody can tell: then the thread's processor time is not its cost.                         */
PERF_COLD_FN_ perf_decides perf_loop_decides_(const perf_loop_state_ *s, const char **why)
{
    const perf_timer_ *t = &s->timer;
    const perf_slice_ *p;
    const char        *text = PERF_NULL_;
    int                i;

    if (t->clocks == 1)
        text = t->one_clock               ? "there is no other clock"
               : s->arm[s->order[0]].steady ? "the slices are short"
                                            : "there was no time for more than first calls";
    else if (t->waits_at < 0)
        text = "this system does not tell own waits from waits for the processor";
    else if (10 * t->waiting_slices > t->slices)
        text = "the body waits by itself";
    else if (t->others_ns > PERF_LOOP_LITTLE_ * t->wall_ns)
        text = "other threads of this program worked at the same time";
    else if (!(t->waited_ns > PERF_LOOP_LITTLE_ * t->wall_ns))
        text = "it hardly ever waited for the processor";
    for (i = 0; i < s->variants && !text; i++) {
        p = &s->arm[i];
        if (PERF_LOOP_TURN_NS_ * p->forced > p->wall_ns - p->wait_ns)
            text = "the body gives the processor up by itself, as sched_yield does";
        else if (i && perf_loop_waits_apart_(&s->arm[0], p))
            text = "the variants waited differently, perhaps for others who worked for them";
    }
    if (why)
        *why = text ? text : "others had the processor for part of the time";
    return text ? PERF_DECIDES_WALL : PERF_DECIDES_CPU;
}

/* Times and bets of an arm by the clock that decides: 0 the wall, 1 processor time. */
PERF_FN int perf_loop_by_(const perf_loop_state_ *s)
{
    return perf_loop_decides_(s, PERF_NULL_) == PERF_DECIDES_CPU;
}

PERF_FN const double *perf_loop_times_(const perf_loop_state_ *s, int i)
{
    return perf_loop_by_(s) ? s->arm[i].cpu : s->arm[i].ns;
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

PERF_COLD_FN_ const char *perf_duel_refused_(const char *name, const perf_ab_opts *o)
{
    if (name && !*name)
        return "the name of the loop is empty";
    if (!o)
        return PERF_NULL_;
    PERF_OPTION_BAD_(o, min_pairs)
    PERF_OPTION_BAD_(o, max_pairs)
    PERF_OPTION_BAD_(o, max_seconds)
    PERF_OPTION_BAD_(o, slice_ns)
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

/* ---- bench ---- */

PERF_FN perf_bench_opts perf_bench_resolved_(const perf_bench_opts *opts)
{
    perf_bench_opts o = opts ? *opts : perf_bench_opts_default();

    o.warmup = o.warmup ? o.warmup < 0 ? 0 : o.warmup : 5;
    o.samples = o.samples < 0 ? 0 : PERF_LOOP_AT_MOST_(o.samples, PERF_LOOP_MAX_SAMPLES_);
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

/* The summary of a bench's slices, its interval allowing for neighbours that are alike. */
PERF_COLD_FN_ perf_summary perf_bench_summary_(const double *x, size_t n)
{
    perf_summary  sum = perf_summarize(x, n);
    perf_interval q;

    if (n >= 40) {
        q = perf_quantile_interval_series_(x, n, 0.5, 0.95);
        sum.p50_low = q.low;
        sum.p50_high = q.high;
    }
    return sum;
}

PERF_FN int perf_bench_narrow_(const perf_loop_state_ *s, const perf_summary *sum)
{
    return sum->p50_high - sum->p50_low <= 2.0 * s->opts.rel_ci * sum->p50;
}

/* 1 when sampling may end: the median is known well enough, or samples or time have run out. */
PERF_COLD_FN_ int perf_bench_enough_(perf_loop_state_ *s, uint64_t now)
{
    const perf_slice_ *p = &s->arm[0];
    perf_summary       sum;

    if (p->count >= PERF_LOOP_LEAST_ && perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.0))
        return 1;
    if (s->opts.samples)
        return p->count >= PERF_CAST_(size_t, s->opts.samples);
    if (p->count >= PERF_LOOP_SAMPLES_)
        return 1;
    if (p->count < s->look_at || !perf_timer_late_(&s->timer, now, s->opts.min_seconds, 0.0))
        return 0;
    s->look_at = p->count + p->count / 4;
    sum = perf_bench_summary_(perf_loop_times_(s, 0), p->count);
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
        s->round = perf_bench_enough_;
        s->look_at = 30;
        s->left_to_warm = o.warmup;
        perf_loop_refuse_(s, perf_bench_refused_(name, PERF_CAST_(const perf_bench_opts *, opts)));
    }
    return perf_loop_new_(s);
}

PERF_COLD_FN_ void perf_result_rates_(perf_result *r)
{
    double ns = perf_result_main_(r)->p50;

    if (!(ns > 0.0))
        return;
    r->gb_per_s = r->opts.bytes / ns;
    r->items_per_s = r->opts.items / ns * 1e9;
    r->gflop_per_s = r->opts.flops / ns;
    if (r->opts.peak_gb_per_s > 0.0)
        r->percent_of_peak_gb = 100.0 * r->gb_per_s / r->opts.peak_gb_per_s;
    if (r->opts.peak_gflop_per_s > 0.0)
        r->percent_of_peak_gflop = 100.0 * r->gflop_per_s / r->opts.peak_gflop_per_s;
}

/* The interval of the median, by so many ns more on each side. */
PERF_COLD_FN_ void perf_summary_widen_(perf_summary *s, double by)
{
    s->p50_low = s->p50_low > by ? s->p50_low - by : 0.0;
    s->p50_high += by;
}

PERF_OUTLINE_FN_ perf_result perf_bench_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_result         r = PERF_ZERO;
    const perf_slice_  *p;
    const perf_summary *sum;
    double              step;

    r.why = "nothing was measured";
    r.status = perf_loop_over_(s, 1);
    if (r.status != PERF_OK)
        return r;
    perf_loop_settle_(s, left);
    p = &s->arm[0];
    r.decides = perf_loop_decides_(s, &r.why);
    r.why = s->refused ? s->refused : r.why;
    r.time.status = s->status;                      /* never a plausible time beside a failure    */
    if (s->status == PERF_OK)
        r.time = perf_bench_summary_(p->ns, p->count);
    if (s->status == PERF_OK && s->timer.clocks > 1)
        r.cpu = perf_bench_summary_(p->cpu, p->count);
    sum = perf_result_main_(&r);
    r.first_ns = p->first_ns;
    r.overhead_ns = s->timer.overhead_ns[PERF_BY_WALL_];
    r.batch = p->batch;
    r.iterations = p->runs;
    r.opts = s->opts;
    r.status = s->status == PERF_OK && !r.time.count ? PERF_ENODATA : s->status;
    r.warnings = s->warnings | sum->warnings;
    if (r.time.count) {
        if (s->timer.coarse && r.decides == PERF_DECIDES_WALL) {    /* right to a step            */
            step = perf_timer_tick_(&s->timer) / PERF_CAST_(double, p->batch);
            perf_summary_widen_(&r.time, step);
            if (step > 0.001 * r.time.p50)
                r.warnings |= PERF_WARN_RESOLUTION;
        }
        step = p->doubt_ns / PERF_CAST_(double, p->batch);
        perf_summary_widen_(&r.time, step);
        if (r.cpu.count)
            perf_summary_widen_(&r.cpu, step);
        if (step > 0.01 * sum->p50)
            r.warnings |= PERF_WARN_PAUSES;
        r.warnings |= perf_slice_warnings_(perf_loop_times_(s, 0), p->count, sum, r.overhead_ns);
        if (!perf_bench_narrow_(s, sum))
            r.warnings |= PERF_WARN_NOISY;
        perf_result_rates_(&r);
    }
    s->result = r;
    perf_loop_done_(s, &s->result);
    return r;
}

/* ---- ab and race: 2 to 64 variants ---- */

#define PERF_CONTROL_LEAD_NS_ 20e6      /* the longest lead: some turns of any scheduler          */
#define PERF_CONTROL_LONG_    0.5       /* all leads: half of the time to the first decision      */
#define PERF_CONTROL_LEAST_NS_ 2e9      /* or this long, for a quick loop                         */
#define PERF_CONTROL_ROUNDS_  8.0       /* rounds that a control takes, about                     */
#define PERF_CONTROL_LARGE_   0.0953    /* log of 1.1: a larger difference takes one more lead    */
#define PERF_RESTARTS_        8         /* so often pairs that disagree are taken anew            */
#define PERF_CONTROL_SURE_    2.5       /* standard errors between two medians that differ: a     */
                                        /* chance of 1 in 80                                      */
#define PERF_CONTROL_SMALL_   0.002     /* a difference of logs that never counts: the step of a  */
                                        /* clock, the place of the code                           */
#define PERF_MEDIAN_ERROR_    1.8582    /* standard error of a median over mad / sqrt(n), of a    */
                                        /* normal law: sqrt(pi / 2) * 1.4826                      */
#define PERF_ALONE_APART_     1.15      /* beyond what neighbours do to lone times (2 to 8 %)     */
#define PERF_ALONE_SLOW_      2.0       /* and beyond what a processor's changing clock does      */

PERF_FN perf_ab_opts perf_duel_resolved_(const perf_ab_opts *opts, int variants)
{
    perf_ab_opts o = opts ? *opts : perf_ab_opts_default();

    o.accept = perf_compare_opts_resolved_(&o.accept);
    o.accept.design = PERF_DESIGN_RANDOM;
    o.min_pairs = o.min_pairs <= 0 ? 22 + variants      /* to tell the best from all others       */
                                   : PERF_LOOP_AT_MOST_(o.min_pairs, PERF_LOOP_MAX_SAMPLES_);
    if (o.max_pairs <= 0)
        o.max_pairs = variants > 2 ? 1000 : o.accept.rule.metric == PERF_METRIC_PAIR ? 5000 : 400;
    o.max_pairs = PERF_LOOP_AT_MOST_(o.max_pairs, PERF_LOOP_MAX_SAMPLES_);
    o.max_pairs = o.max_pairs < o.min_pairs ? o.min_pairs : o.max_pairs;
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    if (o.slice_ns > o.max_seconds * 1e9 / 64.0)    /* room for the pairs that an answer takes    */
        o.slice_ns = perf_or_default_(o.max_seconds * 1e9 / 64.0, 1e3, 1e9, 1e3);
    o.control = o.control < 0 ? -1 : 1;
    return o;
}

/* The log resolution of one pair, from the step of the clock and the length of the slices. */
PERF_FN double perf_duel_tick_(const perf_loop_state_ *s, int i, int j)
{
    double a = s->arm[j].fastest, b = s->arm[i].fastest, tick = perf_timer_tick_(&s->timer);

    return perf_step_log_((tick + s->arm[j].doubt_ns) / a, (tick + s->arm[i].doubt_ns) / b);
}

/* Log ratios of variants i and j into s->logs, leaving out pairs that have none; returns how many.
 * only: the variant that began the round, or -1 for all.                                         */
PERF_COLD_FN_ size_t perf_duel_logs_(const perf_loop_state_ *s, int i, int j, int only)
{
    const double *a = perf_loop_times_(s, i), *b = perf_loop_times_(s, j);
    size_t        n = 0, k;

    for (k = 0; k < s->arm[0].count; k++)
        if (a[k] > 0.0 && b[k] > 0.0 && (only < 0 || s->first[k] == only))
            s->logs[n++] = perf_log_(b[k]) - perf_log_(a[k]);
    return n;
}

/* A median of log ratios, its standard error and the median distance from it. */
typedef struct perf_centre_ {
    double at, error, spread;
} perf_centre_;

/* The centre of n log ratios, whose order is changed. */
PERF_COLD_FN_ perf_centre_ perf_duel_centre_(double *d, size_t n)
{
    perf_centre_ c;
    size_t       k;

    perf_sort_values_(d, n);
    c.at = perf_quantile_(d, n, 0.5);
    for (k = 0; k < n; k++)
        d[k] = d[k] < c.at ? c.at - d[k] : d[k] - c.at;
    perf_sort_values_(d, n);
    c.spread = perf_quantile_(d, n, 0.5);
    c.error = PERF_MEDIAN_ERROR_ * c.spread / perf_sqrt_(PERF_CAST_(double, n));
    return c;
}

/* 1: two medians differ by more than noise explains, and by more than a trifle.  Of many variants,
 * by more than noise makes the farthest of them differ.                                          */
PERF_COLD_FN_ int perf_duel_differ_(const perf_loop_state_ *s, perf_centre_ a, perf_centre_ b)
{
    double gap = a.at < b.at ? b.at - a.at : a.at - b.at;
    double sure = PERF_CONTROL_SURE_ * PERF_CONTROL_SURE_ + 2.0 * perf_log_(s->variants - 1.0);

    return gap > PERF_CONTROL_SMALL_ && gap * gap > sure * (a.error * a.error + b.error * b.error);
}

/* Is the second of a pair faster, whichever variant it is?  Then it finds in the caches what the
 * first one left there, and the verdict depends on how often each began.  1: the pairs that one
 * began and those that the other began lie on two sides of the threshold, well apart.            */
PERF_COLD_FN_ int perf_duel_order_matters_(const perf_loop_state_ *s)
{
    double       t = perf_log_(perf_rule_threshold_(&s->ask.accept.rule));
    perf_centre_ c[2];
    size_t       k;
    int          i;

    if (s->running != 2 || s->arm[0].count < 16)
        return 0;
    for (i = 0; i < 2; i++) {
        k = perf_duel_logs_(s, 0, 1, i);
        if (k < 2)
            return 0;
        c[i] = perf_duel_centre_(s->logs, k);
        c[i].error = 2.0 * c[i].spread / PERF_CONTROL_SURE_;
    }
    return perf_duel_differ_(s, c[0], c[1]) && (c[0].at < t) != (c[1].at < t);
}

/* 1: some variant has another ratio in the first half of the pairs than in the second. */
PERF_COLD_FN_ int perf_duel_drifts_(const perf_loop_state_ *s)
{
    size_t k;
    int    i, drifts = 0;

    for (i = 1; i < s->variants; i++) {
        k = perf_duel_logs_(s, 0, i, -1);
        drifts |= k >= 8 && perf_duel_differ_(s, perf_duel_centre_(s->logs, k / 2),
                                              perf_duel_centre_(s->logs + k / 2, k - k / 2));
    }
    return drifts;
}

/* The intervals of all log ratios, widened by the resolution of the clock. */
PERF_COLD_FN_ void perf_duel_keep_(perf_loop_state_ *s)
{
    double c;
    size_t k;
    int    i, by = perf_loop_by_(s);

    for (i = 1; i < s->variants; i++) {
        c = s->ask.accept.confidence;
        if (s->variants > 2 || s->ask.accept.rules > 1)
            c = 1.0 - 2.0 / s->arm[i].seq[by].level;
        k = perf_duel_logs_(s, 0, i, -1);
        s->arm[i].kept = perf_widen_(perf_seq_interval(s->logs, k, c), perf_duel_tick_(s, i, 0));
    }
    s->kept_at = s->arm[0].count;
    s->kept_by = by;
}

/* 1: there is a decision that the control has to check. */
PERF_COLD_FN_ int perf_duel_wants_control_(const perf_loop_state_ *s)
{
    int i, by = perf_loop_by_(s), any = !s->typical;

    for (i = 1; i < s->variants; i++)
        any |= s->arm[i].seq[by].decision != PERF_INCONCLUSIVE;
    return any && s->ask.control > 0 && s->running > 1;
}

/* The level of a bet when so many questions are open, each of so many rules.  Taking pairs anew is
 * another try: each try may be wrong half as often as the one before.                            */
PERF_FN double perf_duel_level_(const perf_loop_state_ *s, int open)
{
    open *= s->ask.accept.rules > 1 ? s->ask.accept.rules : 1;
    return PERF_CAST_(double, open << s->restarts) * 2.0 / (1.0 - s->ask.accept.confidence);
}

/* A round is complete.  1: stop, also when the control (or else half a round) would not fit.     */
PERF_COLD_FN_ int perf_duel_enough_(perf_loop_state_ *s, uint64_t now)
{
    size_t    n = s->arm[s->order[0]].count, least = PERF_CAST_(size_t, s->ask.min_pairs);
    perf_seq *q;
    double    ahead;
    int       i, open = 0, by = perf_loop_by_(s);

    s->round_ns = perf_timer_since_(s->round_began, now);
    s->round_began = now;
    ahead = 0.5 * s->round_ns;
    if (perf_duel_wants_control_(s)) {
        ahead = 0.25 * PERF_CAST_(double, n) * s->round_ns;     /* the lead, no longer than that  */
        ahead = ahead < PERF_CONTROL_LEAD_NS_ ? ahead : PERF_CONTROL_LEAD_NS_;
        ahead += PERF_CONTROL_ROUNDS_ * s->round_ns;
    }
    if (n >= PERF_CAST_(size_t, s->ask.max_pairs))
        return 1;
    if (perf_timer_late_(&s->timer, now, s->opts.max_seconds, ahead)) {
        if (n < least)
            s->ended = "opts.max_seconds ended it, too few pairs for an answer";
        return 1;
    }
    if (s->running == 1)
        return n >= least;
    if (!s->typical)
        return 0;
    for (i = 1; i < s->variants; i++)
        open += s->arm[i].seq[by].decision == PERF_INCONCLUSIVE;
    for (i = 1; i < s->variants && s->variants > 2; i++)    /* Holm: one question fewer is open   */
        s->arm[i].seq[by].level = perf_duel_level_(s, open ? open : 1);
    if (!open && n >= least && n >= s->kept_at + s->kept_at / 8) {
        perf_duel_keep_(s);
        for (i = 1; i < s->variants; i++) {         /* the interval may be a pair behind          */
            q = &s->arm[i].seq[by];
            open |= (q->decision == PERF_ACCEPT ? s->arm[i].kept.high >= q->log_threshold
                                                : s->arm[i].kept.low <= q->log_threshold);
        }
        return !open;
    }
    if (n >= s->look_at) {
        s->look_at = 2 * n;
        return perf_duel_order_matters_(s);         /* more of the same will not help             */
    }
    return 0;
}

/* The bets after one more round.  They begin when the length of the slices is known: they allow
 * for that and for the step of the clock.                                                        */
PERF_COLD_FN_ void perf_duel_bet_(perf_loop_state_ *s)
{
    size_t       n = s->arm[0].count;
    perf_slice_ *p;
    int          i;

    for (i = 1; i < s->variants; i++) {
        p = &s->arm[i];
        if (n == 1) {
            (void)perf_seq_init(&p->seq[0], &s->ask.accept.rule, s->ask.accept.confidence,
                                perf_duel_tick_(s, i, 0));
            p->seq[0].level = perf_duel_level_(s, s->variants - 1);
            p->seq[1] = p->seq[0];
        }
        (void)perf_seq_add(&p->seq[0], s->arm[0].ns[n - 1], p->ns[n - 1]);
        if (s->timer.clocks > 1)
            (void)perf_seq_add(&p->seq[1], s->arm[0].cpu[n - 1], p->cpu[n - 1]);
    }
}

/* The control gives the fastest variant a lead: it runs alone for about half as many slices as it
 * had, by chance more or less; the n-th lead is n times as long, and twice that after each new
 * beginning.  Then they take turns for some pairs.  If it was fast because another variant walked
 * ahead and warmed its memory, it now walks ahead itself, and is slow.  Pairs are compared and not
 * lone times, as neighbours move lone times by 2 to 8 % within a millisecond (measured).         */
PERF_COLD_FN_ void perf_duel_lead_(perf_loop_state_ *s)
{
    double m, slices, least = PERF_INF_;
    int    i;

    for (i = 0; i < s->variants; i++) {
        m = perf_summarize(perf_loop_times_(s, i), s->arm[i].count).p50;
        if (m < least) {
            least = m;
            s->fastest = i;
        }
    }
    for (s->at = 0; s->order[s->at] != s->fastest; s->at++)
        ;
    least *= PERF_CAST_(double, s->arm[s->fastest].batch);
    m = PERF_CONTROL_LEAD_NS_ * (1 + s->restarts) / (least + 1.0);      /* at most                */
    slices = PERF_CAST_(double, s->arm[0].count * PERF_CAST_(size_t, 1 + s->leads) << s->restarts);
    slices = slices < m + 4.0 ? slices : m + 4.0;
    slices *= 0.25 + 0.5 * PERF_CAST_(double, perf_random_(&s->coin) >> 32) / 4294967296.0;
    s->lead = slices < 4.0 ? 4 : PERF_CAST_(size_t, slices);
    s->control_pairs = m < 1.0       ? PERF_CONTROL_PAIRS_ / 2
                       : s->restarts ? 2 * PERF_CONTROL_PAIRS_ : PERF_CONTROL_PAIRS_;
    s->lead = m < 1.0 ? 2 : s->lead;
    s->lead_left = s->lead;
    s->control_at = -1;                             /* the first pair only warms up               */
    s->phase = PERF_LOOP_CONTROL_;
}

/* 1: pairs may be taken anew.  Where opts.before sets up the state, nothing is shared. */
PERF_COLD_FN_ int perf_duel_may_restart_(const perf_loop_state_ *s, uint64_t now)
{
    int    pairs = s->typical ? s->ask.min_pairs : s->ask.max_pairs;
    double ahead = PERF_CONTROL_LEAD_NS_ * (2 + s->restarts) +
                   s->round_ns * (PERF_CONTROL_ROUNDS_ + pairs);

    return s->restarts < PERF_RESTARTS_ && s->ask.control > 0 && !s->opts.before &&
           perf_timer_since_(s->timer.began, now) + ahead < s->control_end;
}

/* Drops what was measured so far: pairs in turns begin anew. */
PERF_COLD_FN_ void perf_duel_restart_(perf_loop_state_ *s)
{
    int i;

    for (i = 0; i < s->variants; i++)
        s->arm[i].count = 0;
    s->kept_at = s->again_count = 0;
    s->look_at = 60;
    s->leads = s->anew = 0;
    s->restarts++;
    s->phase = PERF_LOOP_SAMPLE_;
    s->round_began = perf_now();
}

/* The pairs after a lead are complete: do they change the answer of the pairs in turns?
 *   confirmed  they give the same answer by two standard errors, whatever their ratio
 *   alike      their median is off by at most half of the way to the threshold, and is that precise
 * If the ratios differ, the variants seem to share state: pairs in turns begin anew.  Otherwise the
 * control is over once a lead is confirmed or alike; it takes a lead more if pairs were taken anew,
 * one more if the variants differ by 10 %, and one more if by half.  In the end the control
 * rejects an answer if the ratios still differ; or if they lie on two sides of the threshold, in
 * pairs taken anew or after the last lead; or if the last lead of pairs taken anew was neither
 * confirmed nor alike.  But never if every lead confirmed the answer.  1: the control is over.   */
PERF_COLD_FN_ int perf_duel_vote_(perf_loop_state_ *s)
{
    double       t = perf_log_(perf_rule_threshold_(&s->ask.accept.rule)), c[PERF_CONTROL_MOST_];
    double       far_off, gap;
    uint64_t     now = perf_now();
    perf_centre_ turns, all, last;
    size_t       k, m = s->again_count, new_at = m - PERF_CAST_(size_t, s->control_at);
    int          i, over = 1, anew = 0, need = 0, more, differ, confirmed, aside;

    s->control_rounds++;
    s->leads++;
    for (i = 1; i < s->variants; i++) {
        k = perf_duel_logs_(s, 0, i, -1);
        turns = perf_duel_centre_(s->logs, k);
        PERF_LIBC_(memcpy)(c, s->arm[i].again, m * sizeof *c);
        all = perf_duel_centre_(c, m);
        PERF_LIBC_(memcpy)(c, s->arm[i].again, m * sizeof *c);
        last = new_at < m ? perf_duel_centre_(c + new_at, m - new_at) : all;
        s->entry[i].control_ratio = perf_exp_(all.at);
        far_off = turns.at < t ? t - turns.at : turns.at - t;
        gap = turns.at < all.at ? all.at - turns.at : turns.at - all.at;
        differ = perf_duel_differ_(s, turns, all);
        anew |= differ || perf_duel_differ_(s, turns, last);
        confirmed = (turns.at < t ? t - all.at : all.at - t) > 2.0 * all.error;
        over &= confirmed || (2.0 * all.error <= far_off &&
                              (gap <= 0.5 * far_off || gap <= PERF_CONTROL_SMALL_));
        s->arm[i].sides |= !confirmed ? 4 : turns.at < t ? 1 : 2;
        aside = (all.at < t) != (turns.at < t) ? s->restarts || s->leads >= PERF_CONTROL_LEADS_
                    : s->restarts && s->leads >= PERF_CONTROL_LEADS_ && !confirmed &&
                          gap > 0.5 * far_off;
        s->arm[i].against = (differ || aside) && s->arm[i].sides > 2;
        gap = turns.at < 0.0 ? -turns.at : turns.at;
        more = (gap > PERF_CONTROL_LARGE_) + (gap > 4.0 * PERF_CONTROL_LARGE_);
        need = more > need ? more : need;
    }
    if (anew && perf_duel_may_restart_(s, now)) {
        perf_duel_restart_(s);
        return 0;
    }
    return (over && s->leads > need + (s->restarts > 0)) || s->leads >= PERF_CONTROL_LEADS_ ||
           perf_timer_since_(s->timer.began, now) > s->control_end;
}

/* One slice of the control has ended.  1: the control is over. */
PERF_COLD_FN_ int perf_duel_control_slice_(perf_loop_state_ *s, uint64_t now)
{
    perf_slice_ *p = &s->arm[s->order[s->at]];
    int          i;

    p->pending[0] = s->timer.ns[perf_loop_by_(s) ? PERF_BY_THREAD_ : PERF_BY_WALL_] /
                    PERF_CAST_(double, p->batch);
    if (s->lead_left) {
        if (2 * s->lead_left <= s->lead + 1)
            s->alone[s->alone_count++ % PERF_ALONE_] = p->pending[0];
        if (!--s->lead_left && s->anew)
            perf_duel_restart_(s);
        else if (!s->lead_left)
            perf_loop_shuffle_(s);
        return 0;
    }
    if (++s->at < s->running)
        return 0;
    if (s->control_at >= 0) {
        for (i = 1; i < s->variants; i++)
            s->arm[i].again[s->again_count] =
                perf_log_(s->arm[i].pending[0]) - perf_log_(s->arm[0].pending[0]);
        s->again_count++;
    }
    s->control_at++;
    perf_loop_shuffle_(s);
    if (perf_timer_late_(&s->timer, now, s->opts.max_seconds, 0.5 * s->round_ns)) {
        if (s->again_count >= PERF_CONTROL_PAIRS_ / 2)
            (void)perf_duel_vote_(s);
        else
            s->ended = "opts.max_seconds ended it within the control: more of it, or "
                       "opts.control = -1";
        return s->phase == PERF_LOOP_CONTROL_;
    }
    if (s->control_at < s->control_pairs)
        return 0;
    if (perf_duel_vote_(s))
        return 1;
    if (s->phase == PERF_LOOP_CONTROL_)
        perf_duel_lead_(s);
    return 0;
}

/* The step of an A/B loop or race: 1 ends it. */
PERF_COLD_FN_ int perf_duel_round_(perf_loop_state_ *s, uint64_t now)
{
    double took, more;

    if (s->phase == PERF_LOOP_CONTROL_)
        return perf_duel_control_slice_(s, now);
    if (s->running > 1)
        perf_duel_bet_(s);
    if (!perf_duel_enough_(s, now))
        return 0;
    took = perf_timer_since_(s->timer.began, now);
    if (!(s->control_end > 0.0)) {
        more = PERF_CONTROL_LONG_ * took;
        s->control_end = took + (more < PERF_CONTROL_LEAST_NS_ ? PERF_CONTROL_LEAST_NS_ : more);
        s->control_end = PERF_LOOP_AT_MOST_(s->control_end, s->opts.max_seconds * 1e9);
    }
    if (perf_duel_may_restart_(s, now) &&
        (perf_duel_order_matters_(s) || (perf_duel_wants_control_(s) && perf_duel_drifts_(s)))) {
        s->anew = 1;
        perf_duel_lead_(s);
        return 0;
    }
    if (!perf_duel_wants_control_(s))
        return 1;
    if (took + 0.5 * s->round_ns > s->opts.max_seconds * 1e9) {
        s->ended = "opts.max_seconds ended it before the control: more of it, or opts.control = -1";
        return 1;
    }
    perf_duel_lead_(s);
    return 0;
}

PERF_OUTLINE_FN_ perf_loop perf_duel_open_(const char *name, int kind, int variants,
                                           const void *opts, int optimised)
{
    int               in_range = variants >= 2 && variants <= PERF_RACE_MOST_;
    int               k = in_range ? variants : 2;
    perf_ab_opts      o = perf_duel_resolved_(PERF_CAST_(const perf_ab_opts *, opts), k);
    perf_metric       m = o.accept.rule.metric;
    perf_loop_state_ *s = PERF_NULL_;

    if (perf_not_cold_())
        s = perf_loop_start_(name, kind, PERF_CAST_(size_t, k), PERF_CAST_(size_t, o.max_pairs),
                             optimised);
    if (!s)
        return perf_loop_new_(s);
    s->coin = o.seed = o.seed ? o.seed : s->coin;
    s->ask = o;
    s->opts.max_seconds = o.max_seconds;
    s->opts.slice_ns = o.slice_ns;
    s->opts.before = o.before;
    s->opts.user = o.user;
    s->round = perf_duel_round_;
    s->typical = m == PERF_METRIC_PAIR;
    s->left_to_warm = 2;
    s->look_at = 60;
    s->forced = perf_variant(name, -1);
    if (s->forced >= k) {
        s->forced = -1;
        perf_variant_bad_(PERF_ERANGE);
    }
    if (s->forced >= 0) {
        s->running = 1;
        s->order[0] = PERF_CAST_(unsigned char, s->forced);
    }
    if (perf_verdict_start_(&o.accept).status != PERF_OK || !in_range ||
        (kind == 3 && !s->typical) || m == PERF_METRIC_MEMORY || m == PERF_METRIC_THROUGHPUT)
        (void)perf_loop_stop_(s, PERF_EINVAL);
    perf_loop_refuse_(s, perf_duel_refused_(name, PERF_CAST_(const perf_ab_opts *, opts)));
    return perf_loop_new_(s);
}

/* 1: a verdict by processor time is the opposite of what the wall's clock says: by its bets, or by
 * its medians, if their ratio is off by more than a factor of two.                               */
PERF_COLD_FN_ int perf_duel_wall_objects_(const perf_loop_state_ *s, int i, const perf_verdict *v)
{
    const perf_slice_ *a = &s->arm[0], *b = &s->arm[i];
    double             ratio, cpu = v->ratio.estimate;

    if (!perf_loop_by_(s) || v->decision == PERF_INCONCLUSIVE)
        return 0;
    if (b->seq[0].decision != PERF_INCONCLUSIVE && b->seq[0].decision != v->decision)
        return 1;
    ratio = perf_summarize(b->ns, b->count).p50 / perf_summarize(a->ns, a->count).p50;
    return (ratio < v->threshold) != (v->decision == PERF_ACCEPT) &&
           (ratio > 2.0 * cpu || cpu > 2.0 * ratio);
}

/* What the bets decided, with the interval that goes with them; sorts the k log ratios d of times
 * whose clock's step is `tick` as a log.                                                         */
PERF_COLD_FN_ void perf_duel_judge_(perf_verdict *v, perf_interval kept, double *d, size_t k,
                                    double tick, const perf_seq *q, const perf_compare_opts *o)
{
    v->excluded = q->excluded;
    perf_verdict_finish_(v, kept, PERF_CAST_(double, v->pairs), o);
    perf_sort_values_(d, k);
    if (perf_lopsided_(d, k, 2.58, tick))
        v->warnings |= PERF_WARN_SHAPE;
    if (v->decision != PERF_INCONCLUSIVE && (v->warnings & PERF_WARN_SHAPE) &&
        !(v->warnings & PERF_WARN_OUTPUTS))
        v->reason = v->decision == PERF_ACCEPT
                        ? "the median of the pairs' ratios clears the threshold"
                        : "the median of the pairs' ratios misses the threshold";
    if (v->decision == PERF_ACCEPT && q->decision != PERF_ACCEPT)
        perf_verdict_cap_(v, "the interval contains the threshold");
}

/* The verdict on variant i. */
PERF_COLD_FN_ perf_verdict perf_duel_verdict_(perf_loop_state_ *s, int i, size_t n)
{
    perf_compare_opts o = s->ask.accept;
    perf_verdict      v;
    perf_seq         *q = &s->arm[i].seq[perf_loop_by_(s)];

    if ((s->variants > 2 || o.rules > 1) && s->typical && q->level > 0.0)       /* as the bets    */
        o.confidence = 1.0 - 2.0 / q->level;
    o.guard.seen = s->seen.compared ? s->seen : o.guard.seen;
    v = perf_verdict_start_(&o);
    if (n && v.status == PERF_OK && !s->typical)
        v = perf_compare_pairs(perf_loop_times_(s, 0), perf_loop_times_(s, i), n, &o);
    if (s->timer.clocks > 1)
        v.clock = perf_loop_by_(s) ? "by processor time" : "by the wall's clock";
    if (!n || v.status != PERF_OK || !s->typical)
        return v;
    if (s->kept_at != n || s->kept_by != perf_loop_by_(s))  /* the control may change the clock */
        perf_duel_keep_(s);
    v.pairs = n;
    perf_duel_judge_(&v, s->arm[i].kept, s->logs, perf_duel_logs_(s, 0, i, -1),
                     perf_duel_tick_(s, i, 0), q, &o);
    if (perf_duel_wall_objects_(s, i, &v))
        perf_verdict_cap_(&v, "by the wall's clock the answer is the opposite: does one of them "
                              "wait for others who work for it?");
    return v;
}

/* What the faster one took alone, in the control's leads, over what it took in turns; 0: none. */
PERF_COLD_FN_ double perf_duel_alone_(const perf_loop_state_ *s)
{
    size_t n = s->alone_count < PERF_ALONE_ ? s->alone_count : PERF_ALONE_;

    return !n ? 0.0 : perf_summarize(s->alone, n).p50 /
                    perf_summarize(perf_loop_times_(s, s->fastest), s->arm[s->fastest].count).p50;
}

/* Withholds the verdict on variant i, or explains why there is none. */
PERF_COLD_FN_ void perf_duel_veto_(perf_loop_state_ *s, int i, perf_verdict *v)
{
    double alone = perf_duel_alone_(s), ratio = v->ratio.estimate, missing;

    if (v->decision == PERF_INCONCLUSIVE || (v->warnings & PERF_WARN_OUTPUTS))
        s->arm[i].against = 0;                      /* there is nothing to withhold               */
    if (v->status != PERF_OK || !v->pairs || (v->warnings & PERF_WARN_OUTPUTS))
        return;                                     /* wrong outputs stay wrong, however fast     */
    if (s->running == 2 && perf_duel_order_matters_(s)) {
        s->arm[i].against = 0;
        v->decision = PERF_INCONCLUSIVE;
        v->reason = "the second of a pair is faster, whichever it is: they share state; set it up "
                    "anew in opts.before";
        v->pairs_needed = PERF_INF_;
    } else if (s->arm[i].against) {
        perf_verdict_cap_(v, "the control would change the answer: after the faster one ran alone "
                             "the ratio is another; if they share state, set it up anew in "
                             "opts.before");
    } else if (s->restarts && alone > PERF_ALONE_SLOW_ && (!s->fastest || s->fastest == i) &&
               (ratio < v->threshold) !=
                   ((s->fastest ? ratio * alone : ratio / alone) < v->threshold)) {
        s->arm[i].against = v->decision != PERF_INCONCLUSIVE;
        perf_verdict_cap_(v, "the faster one is slow when it runs alone: if they share state, set "
                             "it up anew in opts.before");
    }
    if (s->ended && v->decision == PERF_INCONCLUSIVE && !s->arm[i].against) {
        missing = s->ask.min_pairs - PERF_CAST_(double, v->pairs);
        v->pairs_needed = v->pairs_needed > missing ? v->pairs_needed : missing;
        v->reason = s->ended;
    } else if (s->ended && s->ask.control > 0 && !s->control_rounds) {
        perf_verdict_cap_(v, s->ended);
    }
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
        k = perf_duel_logs_(s, r->best, j, -1);
        tick = perf_duel_tick_(s, j, r->best);
        for (i = 0; i < k; i++)
            s->logs[i] -= tick + 1e-12;
        s->entry[j].within_noise = j == r->best || !perf_seq_excludes_(s->logs, k, 0.0, 1.0, level);
        s->entry[j].behind = j == r->best ? 1.0 : perf_exp_(perf_duel_centre_(s->logs, k).at + tick);
    }
}

/* Fills the entries of all variants, and what A/B loops and races both tell. */
PERF_COLD_FN_ perf_race_result perf_duel_found_(perf_loop_state_ *s, int64_t left)
{
    perf_race_result r = PERF_ZERO;
    perf_race_entry *e;
    uint32_t         seen, base = 0;
    perf_out_        o;
    double           alone;
    size_t           n;
    int              i;

    perf_loop_settle_(s, left);
    n = s->status == PERF_OK ? s->arm[s->order[0]].count : 0;
    r.entry = s->entry;
    r.count = s->variants;
    r.best = -1;
    r.overhead_ns = s->timer.overhead_ns[PERF_BY_WALL_];
    r.seconds = perf_timer_since_(s->timer.began, perf_now()) * 1e-9;
    r.opts = s->ask;
    r.status = s->status == PERF_OK && !n ? PERF_ENODATA : s->status;
    r.decides = perf_loop_decides_(s, &r.why);
    r.why = s->refused ? s->refused : r.why;
    r.control_rounds = s->control_rounds;
    r.forced = s->forced >= 0;
    r.rounds = n;
    r.warnings = s->warnings;
    for (i = 0; i < r.count; i++) {
        e = &s->entry[i];
        if (!e->name[0]) {
            o = perf_out_open_(e->name, sizeof e->name);
            perf_put_u64_(&o, PERF_CAST_(uint64_t, i));
        }
        e->first_ns = s->arm[i].first_ns;
        e->batch = s->arm[i].batch;
        e->verdict = perf_duel_verdict_(s, i ? i : 1, i && !r.forced ? n : 0);
        if (!n) {
            e->verdict.status = r.status;
            e->verdict.reason =
                s->refused ? s->refused
                : r.status != PERF_EDELETED || s->loop.kind == 3 ? perf_status_text(r.status)
                : s->order[s->at < s->running ? s->at : 0]
                    ? "the compiler deleted the candidate's body: perf_keep() its result"
                    : "the compiler deleted the baseline's body: perf_keep() its result";
            continue;
        }
        if (r.forced)
            e->verdict.reason = "PERF_VARIANT forced one variant: nothing to compare it with";
        else if (!i)
            e->verdict.reason = "this is the baseline";
        if (!s->arm[i].count)
            continue;
        e->time = perf_summarize(perf_loop_times_(s, i), n);
        seen = perf_slice_warnings_(perf_loop_times_(s, i), n, &e->time, r.overhead_ns);
        base = i ? base : seen;                     /* rounds do not mind a drift                 */
        r.warnings |= seen & ~PERF_CAST_(uint32_t, PERF_WARN_DRIFT);
        r.warnings |= i ? e->verdict.warnings : 0u;
        perf_duel_veto_(s, i, &e->verdict);
        if ((seen | base) & PERF_WARN_EMPTY_BODY)
            perf_verdict_cap_(&e->verdict, seen & PERF_WARN_EMPTY_BODY
                                  ? "the candidate takes little longer than an empty loop: was it "
                                    "deleted? perf_keep() its result"
                                  : "the baseline takes little longer than an empty loop: was it "
                                    "deleted? perf_keep() its result");
    }
    alone = n ? perf_duel_alone_(s) : 0.0;
    if (alone > 0.0) {
        s->alone_ratio = s->entry[1].verdict.ratio.estimate * (s->fastest ? alone : 1.0 / alone);
        if (alone * PERF_ALONE_APART_ < 1.0)
            r.warnings |= PERF_WARN_TURNS;
    }
    return r;
}

PERF_OUTLINE_FN_ perf_ab_result perf_ab_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_ab_result   r = PERF_ZERO;
    perf_race_result both;
    size_t           n[2];                      /* none after a failure, or where not run         */

    r.why = "nothing was measured";
    r.status = r.verdict.status = perf_loop_over_(s, 2);
    if (r.status != PERF_OK) {
        r.verdict.reason = perf_status_text(r.status);
        return r;
    }
    both = perf_duel_found_(s, left);
    n[0] = both.rounds ? s->arm[0].count : 0;
    n[1] = both.rounds ? s->arm[1].count : 0;
    r.verdict = s->entry[1].verdict;
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
    r.control_failed = both.rounds && s->arm[1].against;
    r.alone_ratio = s->alone_ratio;
    s->ab = r;
    perf_loop_done_(s, &s->ab);
    return r;
}

PERF_OUTLINE_FN_ perf_race_result perf_race_close_(struct perf_loop_state_ *s, int64_t left)
{
    perf_race_result r = PERF_ZERO;

    r.best = -1;
    r.why = "nothing was measured";
    r.status = perf_loop_over_(s, 3);
    if (r.status != PERF_OK)
        return r;
    r = perf_duel_found_(s, left);
    perf_race_rank_(s, &r);
    if (r.status == PERF_EINVAL) {
        r.entry = PERF_NULL_;
        r.count = 0;
    }
    s->race = r;
    perf_loop_done_(s, &s->race);
    return r;
}

PERF_FN void perf_worse_(double *worst, double seen)
{
    if (!(seen <= *worst))                          /* NaN is the worst, and stays                */
        *worst = perf_is_nan_(*worst) ? *worst : seen;
}

PERF_OUTLINE_FN_ void perf_duel_accuracy_(struct perf_loop_state_ *s, perf_accuracy seen)
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

PERF_OUTLINE_FN_ void perf_duel_name_(struct perf_loop_state_ *s, int variant, const char *name)
{
    perf_out_ o;

    if (PERF_LOOP_KIND_(s) != 3 || variant < 0 || variant >= s->variants || !name)
        return;
    o = perf_out_open_(s->entry[variant].name, sizeof s->entry[variant].name);
    perf_put_(&o, name);
}

/* ---- the engine for files that include perf_bench.h alone ----
 *
 * A pointer to the table, in a group of sections of which the linker keeps one.  It is written into
 * the file that uses the function, so a file that runs no loop carries no engine.                */
#if PERF_ONE_CORE_
#if defined(__aarch64__)
#define PERF_ENGINE_(symbol, table)                                                               \
    __asm__ __volatile__(PERF_ENGINE_TEXT_(symbol, "%0") : : "S"(&(table)))
#else
#define PERF_ENGINE_(symbol, table)                                                               \
    __asm__ __volatile__(PERF_ENGINE_TEXT_(symbol, "%c0") : : "i"(&(table)))
#endif
#define PERF_ENGINE_TEXT_(symbol, table)                                                          \
    ".ifndef " symbol "\n"                                                                        \
    ".pushsection .data.rel.ro.perf_h,\"awG\",%%progbits," symbol ",comdat\n"                     \
    ".balign 8\n.weak " symbol "\n.hidden " symbol "\n" symbol ":\n"                             \
    ".quad " table "\n.popsection\n.endif\n"
#else
#define PERF_ENGINE_(symbol, table) ((void)0)
#endif
#if !PERF_DISABLE
#if PERF_LOOP_IS_HERE_
#define PERF_ENGINE_FN_(name) PERF_FN const perf_loop_engine_ *name(void)
#else                           /* perf_bench.h came first: this file holds the engine for it     */
#define PERF_ENGINE_FN_(name)                                                                     \
    PERF_ATTR_((__used__)) static const perf_loop_engine_ *PERF_CAT_(name, here_)(void)
#endif
#define PERF_ENGINE_OF_(name, symbol, open, bench, ab, race, text, accuracy, called)              \
    PERF_ENGINE_FN_(name)                                                                         \
    {                                                                                             \
        static const perf_loop_engine_ table = {                                                  \
            PERF_CAST_(uint32_t, sizeof(perf_loop_engine_)), 1, open, perf_loop_slice_,           \
            bench, ab, race, text, accuracy, called};                                             \
                                                                                                  \
        PERF_ENGINE_(symbol, table);                                                              \
        return &table;                                                                            \
    }
PERF_ENGINE_OF_(perf_bench_engine_get_, PERF_BENCH_SYMBOL_, perf_bench_open_, perf_bench_close_,
                PERF_NULL_, PERF_NULL_, perf_result_words_, PERF_NULL_, PERF_NULL_)
PERF_ENGINE_OF_(perf_duel_engine_get_, PERF_DUEL_SYMBOL_, perf_duel_open_, PERF_NULL_,
                perf_ab_close_, perf_race_close_, PERF_NULL_, perf_duel_accuracy_, perf_duel_name_)
#endif

/* ---- schedule ---- */

PERF_FN perf_schedule_opts perf_schedule_opts_default(void)
{
    perf_schedule_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts)
{
    perf_schedule_opts o = opts ? *opts : perf_schedule_opts_default();
    perf_registry_    *r = perf_registry_get_();
    perf_schedule      s = PERF_ZERO;

    o.skip = o.skip < 0 ? 0 : o.skip;
    o.wait = o.wait < 0 ? 0 : o.wait ? o.wait : 1;
    o.warmup = o.warmup < 0 ? 0 : o.warmup ? o.warmup : 1;
    o.active = o.active > 0 ? o.active : 3;
    o.repeat = o.repeat < 0 ? 0 : o.repeat;
    s.opts = o;
    s.phase = PERF_DISABLE ? PERF_PHASE_DONE : PERF_PHASE_WAIT;
    s.open = !PERF_DISABLE;
    s.was_on = r && !PERF_GET_(&r->off);
    perf_enable(0);
    return s;
}

PERF_FN perf_phase perf_schedule_phase_(const perf_schedule *s, uint64_t *cycle)
{
    const perf_schedule_opts *o = &s->opts;
    int64_t warm = PERF_CAST_(int64_t, o->wait) + o->warmup, all = warm + o->active, n;
    int64_t step = PERF_CAST_(int64_t, s->step) - 1 - o->skip;

    *cycle = 0;
    if (step < 0)
        return PERF_PHASE_WAIT;
    n = o->repeat && step / all >= o->repeat ? o->repeat : step / all + 1;
    *cycle = PERF_CAST_(uint64_t, n);
    if (step / all >= n)
        return PERF_PHASE_DONE;
    step %= all;
    return step < o->wait ? PERF_PHASE_WAIT : step < warm ? PERF_PHASE_WARMUP : PERF_PHASE_ACTIVE;
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
    if (!s || !s->open)
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ESTATE;
    perf_enable(s->was_on);
    s->open = 0;
    s->phase = PERF_PHASE_DONE;
    return s->recorded ? PERF_OK : PERF_ENODATA;
}

PERF_END_DECLS

#endif /* PERF_LOOP_H */
