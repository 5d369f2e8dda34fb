/* perf_loop_state.h - what does a loop keep while it runs? its clocks, arms, rounds: types only.
 *
 *     #include "perf_loop.h"                   // has what works with them; never this one alone
 *
 * The host's loops and those of a device keep the same, each with a filling that times its slices.
 * Sections (search for ">>"):  internal
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LOOP_STATE_H
#define PERF_LOOP_STATE_H

#include "perf_bench.h"
#include "perf_registry.h"
#include "perf_stats.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use: all of it -------------------------------------------- */

/* Slices are timed by the wall's clock; those that outlast a scheduler's turn by the processor time
 * of this thread and of the whole process as well.                                               */
enum { PERF_BY_WALL_, PERF_BY_THREAD_, PERF_BY_PROCESS_, PERF_CLOCKS_ };

typedef struct perf_timer_ {
    uint64_t    began;
    uint64_t    at[PERF_CLOCKS_];       /* readings at the start of the slice                     */
    uint64_t    paused_at[PERF_CLOCKS_];
    double      paused_ns[PERF_CLOCKS_];    /* of this slice                                      */
    double      overhead_ns[PERF_CLOCKS_];  /* what an empty slice shows                          */
    double      ns[PERF_CLOCKS_];       /* the last slice                                         */
    /* sums over the slices that all three clocks saw:                                            */
    double      wall_ns;
    double      waited_ns;              /* wall - thread                                          */
    double      others_ns;              /* process - thread                                       */
    double      tick_ns;                /* the smallest step of the wall's clock that was seen    */
    double      least_ns;               /* the shortest slice that took any time; 0: none yet     */
    double      spent_ns;               /* in slices so far                                       */
    int         clocks;                 /* that are read: 1, the wall's alone, or all 3           */
    int         one_clock;              /* 1: this system or PERF_CLOCK_FN has no other           */
    int         coarse;                 /* 1: a slice took no time: a tick is longer than that    */
    int         paused;                 /* 1: now                                                 */
    int64_t     waits_at, forced_at;    /* switches when the slice began, see perf_switches_; -1: */
                                        /* not known                                              */
    uint64_t    slices;                 /* that all three clocks saw                              */
    uint64_t    waiting_slices;         /* in which this thread gave the processor up by itself   */
    int         backwards;              /* so often the clock went back in a slice                */
    int         unresumed;              /* 1: a slice ended in a pause                            */
    int         pauses;                 /* of this slice                                          */
    int         pause_known;            /* `clocks` when the next two were measured; 0: not yet   */
    double      pause_ns[PERF_CLOCKS_]; /* cost of a pause and its resume that they do not hide   */
    double      pause_doubt_ns;         /* it may be off by so much                               */
} perf_timer_;

enum { PERF_RACE_MOST_ = 64 };          /* variants                                               */

struct perf_loop_arm_;
struct perf_filling_;

/* A loop of any kind. */
typedef struct perf_loop_state_ {
    perf_kept_loop_  loop;              /* first: the list is of these                            */
    perf_bench_opts  opts;              /* of other loops: max_seconds, slice_ns, before, user    */
    perf_ab_opts     ask;
    perf_timer_      timer;
    const struct perf_filling_ *fill;   /* how a slice is timed: by the host, or by a device      */
    void            *own;               /* of the filling                                         */
    struct perf_loop_arm_ *arm;         /* [variants]                                             */
    perf_race_entry *entry;             /* [variants]                                             */
    unsigned char   *first;             /* [rounds] the variant that began the round              */
    double          *logs;              /* [rounds] room for log ratios                           */
    /* a round is complete; 1: it was the last: perf_bench_enough_ or perf_race_round_            */
    int            (*enough)(struct perf_loop_state_ *, uint64_t now);
    /* after the timed slices: the next one that is counted, as perf_loop_slice_ returns it; 0:   */
    /* enough.  NULL: nobody counts                                                               */
    uint64_t       (*counted)(struct perf_loop_state_ *);
    void            *counters;          /* of perf_counters.h                                     */
    void           (*judge)(struct perf_loop_state_ *);     /* judges counts; changes the entries */
    uint64_t         coin;              /* state of the random numbers                            */
    int              variants, running; /* running: 1 when one is forced                          */
    int              forced;            /* the variant, or -1                                     */
    int              phase;             /* PERF_LOOP_START_ ... PERF_LOOP_DONE_                   */
    int              at;                /* place in `order` of the slice under way                */
    int              left_to_warm;      /* rounds of the warm-up                                  */
    int              typical;           /* 1: the rule is on the typical ratio: bets are made     */
    unsigned char   *led;               /* [rounds] 1: each slice had a longer lead               */
    double          *when;              /* [rounds] ns in slices until its end                    */
    size_t           look_at;           /* rounds at which to look at the answer again            */
    size_t           looked_at;         /* rounds when it was last looked at in full              */
    size_t           leads_left;        /* slices of the lead under way                           */
    size_t           longer_count;      /* rounds with longer leads since the pairs began anew    */
    double           lead_ns;           /* the lead that each slice has; 0: none                  */
    double           round_lead_ns;     /* of this round                                          */
    double           longer_ns;         /* all rounds with longer leads took                      */
    double           longer_own_ns;     /* their leads and slices took, by processor time         */
    double           round_ns;          /* the last other round took, with what is not timed      */
    double           round_least_ns;    /* the shortest such one since the pairs began anew       */
    uint64_t         round_began;
    uint64_t         stands;            /* since when our clock stands, by the system's; 0: it    */
                                        /* does not                                               */
    int              longer;            /* 1: this round has longer leads                         */
    int              lenient;           /* 1: it is late, leads will mend the ratio no more       */
    int              on_counts;         /* 1: opts.accept is on a count, 2: opts.also; 3: both    */
    int              few_longer;        /* 1: an answer waits for more rounds with longer leads   */
    int              control_rounds;    /* rounds with longer leads in all                        */
    int              restarts;          /* so often the pairs began anew                          */
    int              hurry;             /* 1: no time to find a batch; the first round tells      */
    int              last;              /* the variant that ran before                            */
    const char      *refused;           /* the option that cannot be meant, or NULL               */
    const char      *ended;             /* what is missing as max_seconds ended the loop, or NULL */
    unsigned char    order[PERF_RACE_MOST_];    /* of the round under way                         */
    perf_status      status;
    perf_accuracy    seen;              /* the worst that perf_ab_accuracy() was told             */
    uint32_t         warnings;          /* PERF_WARN_ bits                                        */
    perf_result      result;            /* of a bench, complete when loop.done is 1               */
    perf_ab_result   ab;
    perf_race_result race;
} perf_loop_state_;

/* Phases of a loop, in this order. */
enum {
    PERF_LOOP_START_,                   /* nothing has run yet                                    */
    PERF_LOOP_COLD_,                    /* the first run of each arm                              */
    PERF_LOOP_HEAT_,                    /* rounds until a device is warm                          */
    PERF_LOOP_GROW_,                    /* batches are found                                      */
    PERF_LOOP_WARM_,                    /* rounds that are thrown away                            */
    PERF_LOOP_SAMPLE_,                  /* rounds that count                                      */
    PERF_LOOP_COUNT_,                   /* slices for the processor's counters                    */
    PERF_LOOP_DONE_
};

enum { PERF_OWED_ = 64 };               /* longer leads that are kept                             */

/* A longer lead of a variant against that of variant 0 in the same round. */
typedef struct perf_owed_ {
    double log_ratio;                   /* of an iteration in both leads                          */
    int    as_timed;                    /* 0: less the log ratio of the slices right after them   */
    int    later;                       /* 1: variant 0 had run before                            */
} perf_owed_;

/* One arm: a bench has one, an A/B loop two, a race up to 64. */
typedef struct perf_loop_arm_ {
    uint64_t      batch;                /* iterations per slice                                   */
    uint64_t      most;                 /* likewise, at most; 0: no limit                         */
    uint64_t      runs;                 /* iterations so far                                      */
    double        fastest;              /* of the readings at this batch, ns a slice              */
    double        first_ns;
    /* sums over the slices that all three clocks saw:                                            */
    double        wall_ns, wait_ns;     /* wait: wall - thread                                    */
    double        wait_sq;              /* squares of the waits                                   */
    uint64_t      timed;                /* how many such slices                                   */
    double        forced;               /* switches in them that the body did not ask for         */
    double        doubt_ns;             /* of a slice, by the pauses in it                        */
    int           readings;             /* at this batch                                          */
    int           steady;               /* 1: the batch is chosen                                 */
    double       *ns;                   /* ns per iteration, by slice; room for all that may come */
    double       *cpu;                  /* likewise by processor time                             */
    size_t        count;
    double        pending[2];           /* ns, cpu: of the round under way                        */
    perf_seq      seq[2];               /* [perf_decides] bets against variant 0, by either clock */
    /* the lead of this round; times are of a longer one:                                         */
    uint64_t      lead_began, lead_ended;       /* processor time                                 */
    uint64_t      lead_runs;            /* iterations                                             */
    double        led_ns, after_ns;     /* an iteration of the lead, of the slice after it        */
    int           as_timed;             /* 1: that slice was all processor time, and all timed    */
    /* against variant 0:                                                                         */
    perf_owed_    owed[PERF_OWED_];     /* longer leads, the latest; a ring                       */
    size_t        owed_count;           /* of all that were                                       */
    double        turns_ratio;          /* to variant 0, in turns without leads; 0: is the result */
    int           objection;            /* PERF_NO_OBJECTION_, or why the answer is withheld      */
} perf_loop_arm_;

/* How slices are run and timed: by the host's clocks (perf_host_begin_, perf_host_end_ and so on in
 * perf_loop.h), or by those of a device (perf_gpu_bench.h).  Called in this order: begin, the body,
 * end; both once a slice.
 *   begin   starts the clocks of a slice of that arm; state->arm[arm].batch iterations follow
 *   end     reads them into state->timer.ns[].  1: file it; 0: it does not count, and runs again.
 *           `now` is the wall's clock, read before anything else
 *   want    ns that a slice should last at least
 *   grown   all batches are found; 0: the loop ends with state->status
 *   warm    every arm has run once more, by single iterations.  1: batches may be looked for; 0:
 *           another such round.  NULL: no such rounds
 *   keep    a round of samples is complete; 0: it does not count.  NULL: each does
 *   stop    that round is over; `enough`: what the loop's own rule says, 0 where it did not count.
 *           1: there are no more.  NULL: as that rule says
 *   beside  a slice up to so many times as long as another has its batch; a longer one leaves cold
 *           caches behind, and the other one runs twice.  0: neither
 * Begin and end may set state->phase to PERF_LOOP_DONE_: the loop has ended, with state->status.
 * Times of a filling without processor time stay by the wall's clock: state->timer.clocks is 1.  */
typedef struct perf_filling_ {
    void   (*begin)(struct perf_loop_state_ *state, int arm);
    int    (*end)(struct perf_loop_state_ *state, int arm, uint64_t now);
    double (*want)(const struct perf_loop_state_ *state);
    int    (*grown)(struct perf_loop_state_ *state);
    int    (*warm)(struct perf_loop_state_ *state, int late);
    int    (*keep)(struct perf_loop_state_ *state);
    int    (*stop)(struct perf_loop_state_ *state, int enough);
    double beside;
} perf_filling_;

/* What may be said against an answer: docs/statistics-evidence.md has the table. */
enum {
    PERF_NO_OBJECTION_,
    PERF_TOO_FEW_,                      /* rounds with longer leads, or in the last third         */
    PERF_DEBT_PERHAPS_,                 /* one may leave work to the other                        */
    PERF_NOT_CONFIRMED_,                /* by the rounds with longer leads                        */
    PERF_DEBT_,                         /* one leaves work to the other                           */
    PERF_RATIO_DRIFTS_,                 /* the last third of the pairs has another ratio          */
    PERF_TURNS_MATTER_                  /* longer leads make another ratio                        */
};

/* Which of the pairs. */
typedef enum perf_pick_ {
    PERF_ALL_PAIRS_,
    PERF_USUAL_PAIRS_,                  /* led as most are, or not at all                         */
    PERF_LONGER_PAIRS_,                 /* with longer leads                                      */
    PERF_EARLY_PAIRS_,                  /* of the first third of the time                         */
    PERF_LATE_PAIRS_,                   /* of the last                                            */
    PERF_BEGUN_BY_0_,                   /* usual ones, by the variant that ran first              */
    PERF_BEGUN_BY_1_
} perf_pick_;

/* A median of log ratios, its standard error and the median distance from it. */
typedef struct perf_centre_ {
    double at, error, spread;
    size_t n;
} perf_centre_;

PERF_END_DECLS

#if !PERF_ONE_CORE_ && !defined(PERF_LOOP_ROWS_H)
#include "perf_loop.h"          /* see perf_bench.h                                               */
#endif
#endif /* PERF_LOOP_STATE_H */
