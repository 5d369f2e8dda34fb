/* perf_bench.h - loops that measure: how long, which is faster, which of many is fastest?
 *
 *     perf_bench b = perf_bench_begin("copy 4 KiB", NULL);
 *     while (perf_bench_next(&b)) {
 *         memcpy(dst, src, 4096);
 *         perf_keep(dst);                      // or the compiler may delete the whole body
 *     }
 *     perf_result r = perf_bench_end(&b);      // r.time.p50, r.first_ns, r.status
 *
 * A file that includes this header alone carries no engine: some file of the program must include
 * perf.h and run a loop too.  Otherwise the linker names a symbol that says so.
 * Sections (search for ">>"):  bench  ab  race  internal  private  c++
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_BENCH_H
#define PERF_BENCH_H

#include "perf_verdict.h"

PERF_BEGIN_DECLS

/* >>bench: how long does one iteration take? -----------------------------------------------------
 *
 * The first iteration is timed on its own (first_ns).  Then iterations are batched into slices of
 * 50 us, shorter than a scheduler's turn, so that most slices are untouched by other programs;
 * the clock's own cost is taken off each slice; sampling stops when the median is known to 1 %.
 * Leaving early is fine: the result has what was measured so far.  A loop belongs to one thread;
 * each may run its own.  A NULL loop: end says PERF_ESTATE, others do nothing; not for next().
 *
 * Slices over 300 us outlast a scheduler's turn on a busy machine.  They are timed by the wall's
 * clock, by this thread's processor time and by the whole process's; `decides` says which counts:
 *   cpu   the body was ready to run, but other programs had the processor for over 2 % of the time;
 *         a verdict is withheld if the wall's clock is as sure of the opposite
 *   wall  otherwise: the body waits by itself (it sleeps, reads or locks in a tenth of the slices,
 *         or calls sched_yield each 0.1 ms), other threads of the program worked for over 2 % of
 *         the time, the variants waited for unlike shares of their time, there was hardly any
 *         wait, or the system does not tell (only 64-bit Linux does)                             */
typedef void (*perf_before_fn)(void *user, int variant);

/* Which of the two clocks a result rests on. */
typedef enum perf_decides { PERF_DECIDES_WALL, PERF_DECIDES_CPU } perf_decides;

/* A number below zero or NaN is refused, but for warmup: status PERF_EINVAL, `why` names it. */
typedef struct perf_bench_opts {        /* zero = default                                         */
    int    warmup;                      /* warm-up slices; 0 -> 5, < 0 -> none; at least 3 calls */
    int    samples;                     /* slices; 0 -> 30 .. 1000, until rel_ci; n > 0 -> n      */
    double rel_ci;                      /* stop when the median's 95 % interval is no wider than  */
                                        /* +- this share of the median; 0 -> 0.01                 */
    double max_seconds;                 /* 0 -> 1.0; a slow body still gets 3 samples             */
    double slice_ns;                    /* 0 -> 50,000; 1,000 .. 1e9                              */
    double bytes, items;                /* per iteration, for GB/s and items/s in the report      */
    double flops;                       /* likewise, for GFLOP/s                                  */
    double peak_gb_per_s;               /* ceilings of your machine, for "percent of peak";       */
    double peak_gflop_per_s;            /* 0: none                                                */
    perf_before_fn before;              /* called outside the timing before each slice, as        */
    void          *user;                /* before(user, 0); may not throw; NULL: nothing          */
    double         min_seconds;         /* goes on for so long even if the median is known, in    */
                                        /* longer slices; 0: does not; at most max_seconds        */
} perf_bench_opts;

typedef struct perf_result {
    perf_summary    time;               /* ns per iteration by the wall's clock; count == 0: not  */
                                        /* measured, see status                                   */
    double          first_ns;           /* the first iteration alone; 0 when it never ran         */
    double          overhead_ns;        /* clock cost taken off every slice                       */
    uint64_t        batch;              /* iterations per slice                                   */
    uint64_t        iterations;         /* all iterations, warm-up included                       */
    perf_bench_opts opts;               /* what really ran, defaults filled in                    */
    perf_status     status;
    uint32_t        warnings;           /* PERF_WARN_ bits                                        */
    perf_summary    cpu;                /* the same by processor time; count == 0: not taken      */
    perf_decides    decides;            /* which of the two is the answer                         */
    const char     *why;                /* one static sentence about that, never NULL             */
    double          gb_per_s;           /* from the median that decides; 0: not asked for         */
    double          items_per_s, gflop_per_s;
    double          percent_of_peak_gb; /* 0: no ceiling given                                    */
    double          percent_of_peak_gflop;
    char            text[1400];         /* filled by perf_result_text                             */
} perf_result;

/* A loop under way.  Its members are private and live in registers: leave them alone, and pass it
 * only to the functions of its own kind (an end of another kind leaves it unmeasured).           */
typedef struct perf_loop {
    int64_t                   left;     /* iterations of this slice that are still to come        */
    int64_t                   first;    /* `left` at the first iteration of a slice               */
    struct perf_loop_state_  *state;
    void                    (*pause)(struct perf_loop_state_ *, int on);
    int                       variant;  /* of the slice under way, -1: none                       */
} perf_loop;
typedef perf_loop perf_bench;           /* one that answers: how long?                        */

#if defined(__cplusplus)        /* what PERF_ZERO makes, for Cython, and to assign it             */
#define perf_bench_opts_default() perf_bench_opts()
#define perf_ab_opts_default()    perf_ab_opts()
#else
#define perf_bench_opts_default() ((perf_bench_opts)PERF_ZERO)
#define perf_ab_opts_default()    ((perf_ab_opts)PERF_ZERO)
#endif

/* Allocates.  name: any text, 255 bytes of it are copied; NULL is "(unnamed)", "" is refused.
 * A longer name is cut, noted at the result and counted among the losses.  opts NULL: defaults.
 * Without memory the loop runs zero times, and perf_bench_end says PERF_ENOMEM.                  */
PERF_FN perf_bench  perf_bench_begin(const char *name, const perf_bench_opts *opts);

/* 1: run the body once; 0: done.  One branch, as a rule. */
PERF_FN int perf_bench_next(perf_bench *bench);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_result perf_bench_end(perf_bench *bench);

/* Around work that is not to be timed, in any loop: bench, A/B or race.  What a pair costs is
 * measured at the first pause and taken off.  Some ns stay open, as the work around it overlaps the
 * reading of the clock: intervals hold them, and over 1 % there is a note (PERF_WARN_PAUSES).  So:
 * once a slice, or around microseconds.  A pause that is not resumed lasts until the last iteration
 * of the slice, and the result says so.  A second pause, or one outside of a loop, is ignored.   */
PERF_FN void perf_bench_pause(perf_loop *loop);
PERF_FN void perf_bench_resume(perf_loop *loop);

/* 1 in the first iteration of each slice, for set-up without a callback:
 *     if (perf_loop_slice_begins(&b)) { perf_bench_pause(&b); refill(); perf_bench_resume(&b); }
 * One compare an iteration, and nothing where it is not called.                                  */
PERF_FN int perf_loop_slice_begins(const perf_loop *loop);

/* One line of English into result->text, which it returns: median, interval, rates, percent of the
 * ceilings, which clock decided, and every note that the report has.  NULL gives "".             */
PERF_FN const char *perf_result_text(perf_result *result);

/* perf_keep(x): the compiler must assume that x is read here, so x gets computed.  x is any value
 * or object: an array, and what a pointer points to, count as read too; a struct is taken where it
 * lies, without a copy.  No memory clobber: other variables stay in registers.  (In C a macro, the
 * only one in lower case, because it takes any type; C++ has the templates at the end.)          */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__TINYC__)
#define PERF_KEEP_(x) ((void)(x))               /* tcc deletes nothing                            */
#elif defined(__clang__)                        /* clang 14 stores each double for "r,m" and "g" */
                                                /* but not for "X".  volatile asm reads memory.   */
                                                /* What "X" refuses goes through memory           */
#if defined(__AVX512F__)
#define PERF_KEEP_WIDEST_ 64u
#elif defined(__AVX__)
#define PERF_KEEP_WIDEST_ 32u
#else
#define PERF_KEEP_WIDEST_ 16u
#endif
#if defined(__cplusplus)
#define PERF_KEEP_SIZE_(x) (::perf::kept_<Type_>::size)
#else
#define PERF_KEEP_SIZE_(x)          /* of the value: a bit-field has no sizeof */                 \
    sizeof((void)0, __builtin_choose_expr(__builtin_classify_type(x) == 5, 0, (x)))
#endif
#define PERF_KEEP_IS_VECTOR_(x)                                                                   \
    (__builtin_classify_type(x) == -1 || __builtin_classify_type(x) == 19)
#define PERF_KEEP_HAS_NONE_(x)      /* 8: floating, 9: complex */                                 \
    ((__builtin_classify_type(x) == 8 && PERF_KEEP_SIZE_(x) > 8) ||                               \
     __builtin_classify_type(x) == 9 ||                                                           \
     (PERF_KEEP_IS_VECTOR_(x) &&                                                                  \
      (PERF_KEEP_SIZE_(x) < 16 || PERF_KEEP_SIZE_(x) > PERF_KEEP_WIDEST_)))
#if defined(__cplusplus)
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (PERF_KEEP_HAS_NONE_(x))                                                               \
            __asm__ __volatile__("" : : "m"(x));                                                  \
        else                                                                                      \
            __asm__ __volatile__("" : : "X"(x));                                                  \
    } while (0)
#else
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (PERF_KEEP_HAS_NONE_(x)) {                                                             \
            __typeof__((void)0, __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), (x), 0))            \
                perf_v_ = __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), (x), 0);                  \
            __asm__ __volatile__("" : : "m"(perf_v_));                                            \
        } else {                        /* the value of an integer, which may be a bit-field */   \
            __asm__ __volatile__("" : : "X"(__builtin_choose_expr(                                \
                __builtin_classify_type(x) >= 1 && __builtin_classify_type(x) <= 4,               \
                ((void)0, (x)),                                                                   \
                __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), 0, (x)))));                         \
        }                                                                                         \
    } while (0)
#endif
#elif defined(__cplusplus)
#define PERF_KEEP_(x) __asm__ __volatile__("" : : "g,x"(x))
#else
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (__builtin_classify_type(x) == 5) {  /* a pointer, or an array */ \
            uintptr_t perf_p_ = (uintptr_t)__builtin_choose_expr(                                 \
                __builtin_classify_type(x) == 5, (x), 0);                                         \
            __asm__ __volatile__("" : : "r"(perf_p_), "m"(*(char (*)[])perf_p_));                 \
        } else {                                                                                  \
            __asm__ __volatile__("" : : "g,x"(x));                                                \
        }                                                                                         \
    } while (0)
#endif
#ifndef __cplusplus
#define perf_keep(x) PERF_KEEP_(x)      /* see above                                              */
#endif

/* The compiler must assume that all memory in the reach of other code is read and written here. A
 * static that nobody writes is a constant, unless its address went somewhere: perf_keep() it.    */
PERF_FN void perf_clobber(void);

/* >>ab: is the candidate faster than the baseline? -----------------------------------------------
 *
 *     int v;
 *     perf_ab ab = perf_ab_begin("count lines", NULL);         // asks for a speed-up >= 1.3x
 *     while ((v = perf_ab_next(&ab)) >= 0) {
 *         if (v) n = candidate(text);
 *         else   n = baseline(text);
 *         perf_keep(n);
 *     }
 *     perf_ab_result r = perf_ab_end(&ab);                     // r.verdict.decision
 *
 * Baseline and candidate take turns in slices of 50 us, in an order chosen by a coin for each pair,
 * so that no drift, clock step or neighbour can favour one of them.  The loop stops as soon as the
 * question is decided (and enough pairs are there to print a fair interval), or when the budget
 * ends: then the verdict is INCONCLUSIVE and says how much more it would take.  Slices over 300 us
 * are decided by processor time where that is fairer, see >>bench.  A slice that comes after one
 * four times as long runs twice, and only the second run counts.
 *
 * Two variants that share state (caches, a branch predictor, an allocator) can differ in turns and
 * not alone.  So in one pair of four each slice comes after a lead: uncounted calls of its own
 * variant.  If that changes the ratio, all slices get leads, longer ones until it stays.  If it
 * does not, or the ratio still changes in time, the decision is withheld.  Cure: opts.before.    */
/* A number below zero or NaN is refused, but for control and min_seconds: status
 * PERF_EINVAL, and the verdict's reason says so.                                                */
typedef struct perf_ab_opts {           /* zero = default                                         */
    perf_compare_opts accept;           /* what to accept; default: speed-up >= 1.3x at 95 %; a   */
                                        /* rule on memory or throughput: PERF_EINVAL; on a count: */
                                        /* too, unless perf_counters_loop() makes the loop count  */
    int      min_pairs;                 /* at least so many, if there is time; 0 -> 22 + variants */
    int      max_pairs;                 /* 0 -> 5,000 (typical ratio), 400 (quantiles, mean)      */
    double   max_seconds;               /* 0 -> 2.0, control included; at least the first run of  */
                                        /* each and one pair                                      */
    double   slice_ns;                  /* 0 -> 50,000; 1,000 .. a 64th of max_seconds            */
    uint64_t seed;                      /* of the coin; 0 -> from the clock, shown in the result  */
    int      control;                   /* 0 -> on, < 0 -> off                                    */
    perf_before_fn before;              /* called outside the timing before each slice, as        */
    void          *user;                /* before(user, variant); may not throw; NULL: nothing    */
    double   min_seconds;               /* no answer before, so that no warm-up decides; 0 -> 0.5 */
                                        /* or half of max_seconds; < 0: as soon as it is decided  */
    perf_rule also;                     /* a second rule, on a count, which has to hold, too;     */
                                        /* all zero: none.  PERF_EINVAL: on no count, or the loop */
                                        /* does not count (perf_counters_loop)                    */
} perf_ab_opts;

typedef struct perf_ab_result {
    perf_verdict verdict;               /* perf_verdict_text(&r.verdict) for a sentence           */
    perf_summary baseline, candidate;   /* ns per iteration; count == 0: not measured             */
    double       first_baseline_ns;     /* the first run of each, alone                           */
    double       first_candidate_ns;
    double       overhead_ns;           /* clock cost taken off every slice                       */
    uint64_t     batch_baseline;        /* iterations per slice                                   */
    uint64_t     batch_candidate;
    double       seconds;               /* from begin to end                                      */
    perf_ab_opts opts;                  /* what really ran                                        */
    perf_status  status;                /* anything but PERF_OK: the verdict is INCONCLUSIVE      */
    uint32_t     warnings;
    perf_summary baseline_cpu;          /* processor time; count == 0: not taken                  */
    perf_summary candidate_cpu;
    perf_decides decides;               /* which clock the verdict rests on                       */
    const char  *why;                   /* one static sentence about that, never NULL             */
    double       control_ratio;         /* candidate / baseline after longer leads; 0: none       */
    int          control_rounds;        /* pairs with longer leads                                */
    int          control_failed;        /* 1: the verdict was withheld because of them            */
    double       turns_ratio;           /* candidate / baseline in turns without leads; 0: the    */
                                        /* verdict's is that, as leads were not needed            */
    int          forced;                /* 1: PERF_VARIANT let only one of the two run            */
    int          parts;                 /* 2: there are two rules, and verdict is the worse part; */
                                        /* 0: there is one                                        */
    perf_verdict part[2];               /* by opts.accept.rule, by opts.also                      */
} perf_ab_result;

typedef perf_loop perf_ab;              /* one that answers: which of two is faster?          */

/* Allocates.  name copied, NULL is "(unnamed)"; opts NULL: defaults. */
PERF_FN perf_ab        perf_ab_begin(const char *name, const perf_ab_opts *opts);

/* 0: run the baseline once; 1: run the candidate once; -1: done.  One decrement, one branch. */
PERF_FN int            perf_ab_next(perf_ab *ab);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_ab_result perf_ab_end(perf_ab *ab);

/* Tells the loop what an accuracy check has seen: between begin and end, outside the timing (after
 * the loop, or paused).  The worst of several calls counts, against opts.accept.guard.limit (all
 * zero: bit for bit).  With guard.required, or after an empty check, only what passes is ACCEPTed.
 *     perf_ab_accuracy(&ab, perf_accuracy_f32(reference, out, n));                               */
PERF_FN void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen);

/* >>race: which of 2 to 64 variants is fastest? --------------------------------------------------
 *
 *     perf_race race = perf_race_begin("sort", 4, NULL);
 *     while ((v = perf_race_next(&race)) >= 0)
 *         run(v);                                              // 0 .. 3; 0 is the baseline
 *     perf_race_result r = perf_race_end(&race);               // r.best, r.entry[v].within_noise
 *
 * Each round runs every variant once, in a new random order.  Each is compared with variant 0 by
 * the rule of opts.accept.  The chance that any verdict is wrong is at most 1 - confidence (Holm's
 * levels).  The race stops when all are decided.  Options as for perf_ab; max_pairs counts rounds,
 * 0 -> 1,000; a rule on a quantile or the mean is PERF_EINVAL.                                   */
typedef struct perf_race_entry {
    char         name[32];              /* given by perf_race_name, else its number               */
    perf_summary time;                  /* ns per iteration by the clock that decides             */
    double       first_ns;
    uint64_t     batch;                 /* iterations per slice                                   */
    perf_verdict verdict;               /* against variant 0; of variant 0: not measured          */
    double       behind;                /* typical ratio to the best one, 1 for itself; may be    */
                                        /* below 1 for one within noise                           */
    int          within_noise;          /* 1: not shown to be slower than the best one            */
    double       control_ratio;         /* to variant 0 after longer leads; 0: none               */
    double       counted[4];            /* instructions, cycles, branches, branch misses of an    */
                                        /* iteration; NaN: that is missing; all 0: none counted   */
    int          parts;                 /* as in perf_ab_result                                   */
    perf_verdict part[2];
} perf_race_entry;

typedef struct perf_race_result {
    const perf_race_entry *entry;       /* [count], kept until perf_reset(); NULL: none           */
    int          count;
    int          best;                  /* smallest median; -1: nothing measured                  */
    uint64_t     rounds;
    double       overhead_ns, seconds;
    perf_ab_opts opts;                  /* what really ran                                        */
    perf_status  status;
    uint32_t     warnings;
    perf_decides decides;
    const char  *why;                   /* one static sentence about that, never NULL             */
    int          control_rounds;
    int          forced;                /* 1: PERF_VARIANT let only one of them run               */
} perf_race_result;

typedef perf_loop perf_race;            /* one that answers: which of many is fastest?        */

/* Allocates.  variants outside 2 .. 64: the loop runs zero times, PERF_EINVAL. */
PERF_FN perf_race        perf_race_begin(const char *name, int variants, const perf_ab_opts *opts);
PERF_FN int              perf_race_next(perf_race *race);   /* the variant to run once; -1: done  */
PERF_FN perf_race_result perf_race_end(perf_race *race);    /* as for perf_ab                     */

/* What a variant is called in the report; copied, 31 bytes.  Between begin and end. */
PERF_FN void             perf_race_name(perf_race *race, int variant, const char *name);

/* >>internal: what other headers may use ---------------------------------------------------------
 * perf_loop_engine_, the functions of one kind of loop, which a loop calls through a pointer:
 *   PERF_BENCH_ENGINE_, PERF_RACE_ENGINE_  define what returns it, from the functions
 *   PERF_LOOP_BENCH_, PERF_LOOP_AB_, PERF_LOOP_RACE_  kinds of loops                             */

/* >>private: bodies, callees before their callers; loops the other way round ------------------- */

PERF_INLINE_FN_ void perf_clobber(void)
{
#if !PERF_TCC_
    __asm__ __volatile__("" : : : "memory");
#endif
}

/* ---- the engine, seen from a loop ---- */

enum { PERF_LOOP_BENCH_ = 1, PERF_LOOP_AB_, PERF_LOOP_RACE_ };  /* kinds of loops; 0: none        */

/* Of benches, or of A/B loops and races.  Both tables stand at the end of perf_loop.h: `slice` is
 * perf_loop_slice_, `ab` is perf_ab_close_.                                                      */
typedef struct perf_loop_engine_ {
    uint32_t size, abi;
    perf_loop        (*open)(const char *name, int kind, int variants, const void *opts,
                             int optimised);
    uint64_t         (*slice)(struct perf_loop_state_ *, int kind);     /* the next: iterations * */
                                                                        /* 64 + variant; 0: done  */
    perf_result      (*bench)(struct perf_loop_state_ *, int64_t left); /* each ends its kind;    */
    perf_ab_result   (*ab)(struct perf_loop_state_ *, int64_t left);    /* the others are NULL    */
    perf_race_result (*race)(struct perf_loop_state_ *, int64_t left);
    const char      *(*text)(perf_result *);
    void             (*rates)(perf_loop *, double bytes, double items);
    void             (*failed)(perf_loop *, const char *why);
    void             (*counter)(perf_loop *, const char *name, double value);
    void             (*accuracy)(struct perf_loop_state_ *, perf_accuracy seen);
    void             (*name)(struct perf_loop_state_ *, int variant, const char *name);
} perf_loop_engine_;

#define PERF_BENCH_SYMBOL_ "perf_bench_h_alone__include_perf_h_in_one_file_that_runs_a_bench"
#define PERF_RACE_SYMBOL_  "perf_bench_h_alone__include_perf_h_in_one_file_that_runs_an_ab_or_race"

/* Where loops find their engine.  perf_loop.h makes it for this file's loops or, where it comes
 * after them, for files that include this header alone.                                          */
#if PERF_DISABLE                /* there is none, and nobody asks for it                          */
#define PERF_ENGINE_SEEN_(name, symbol)                                                           \
    PERF_FN const perf_loop_engine_ *name(void) { return PERF_NULL_; }
#elif defined(PERF_LOOP_H) || !PERF_ONE_CORE_   /* perf_loop.h includes us, or follows at the end */
#define PERF_ENGINE_SEEN_(name, symbol) PERF_FN const perf_loop_engine_ *name(void);
#define PERF_ENGINE_FN_(name)           PERF_FN const perf_loop_engine_ *name(void)
#else
#define PERF_ENGINE_SEEN_(name, symbol) PERF_WANTED_FN_(perf_loop_engine_, name, symbol)
#define PERF_ENGINE_FN_(name)                                                                     \
    PERF_ATTR_((__used__)) static const perf_loop_engine_ *PERF_CAT_(name, here_)(void)
#endif
#define PERF_ENGINE_MADE_(name, symbol, ...) \
    PERF_ENGINE_FN_(name) \
    { \
        static const perf_loop_engine_ table = {sizeof(perf_loop_engine_), 1, __VA_ARGS__}; \
        PERF_ENGINE_(symbol, table); \
        return &table; \
    }
#define PERF_BENCH_ENGINE_(...) \
    PERF_ENGINE_MADE_(perf_bench_engine_get_, PERF_BENCH_SYMBOL_, __VA_ARGS__)
#define PERF_RACE_ENGINE_(...) \
    PERF_ENGINE_MADE_(perf_race_engine_get_, PERF_RACE_SYMBOL_, __VA_ARGS__)
PERF_ENGINE_SEEN_(perf_bench_engine_get_, PERF_BENCH_SYMBOL_)
PERF_ENGINE_SEEN_(perf_race_engine_get_, PERF_RACE_SYMBOL_)

#if defined(__OPTIMIZE__)
#define PERF_OPTIMISED_ 1
#else
#define PERF_OPTIMISED_ 0
#endif

/* --left >= 0 in one instruction and a branch.  clang makes two of the plain form. */
#if defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
PERF_INLINE_FN_ int perf_loop_goes_on_(int64_t *left)
{
    uint64_t bits;
    int      over = __builtin_sub_overflow(PERF_CAST_(uint64_t, *left), UINT64_C(1), &bits);

    *left = PERF_CAST_(int64_t, bits);
    return !over;
}
#define PERF_LOOP_GOES_ON_(left) perf_loop_goes_on_(&(left))
#else
#define PERF_LOOP_GOES_ON_(left) (--(left) >= 0)
#endif
#if !PERF_TCC_
#define PERF_LOOP_KNOWN_(x) do { if (!(x)) __builtin_unreachable(); } while (0)
#else
#define PERF_LOOP_KNOWN_(x) ((void)0)
#endif

PERF_INLINE_FN_ perf_loop perf_loop_begin_(const perf_loop_engine_ *engine, const char *name,
                                           int kind, int variants, const void *opts)
{
    perf_loop off = {1, 0, PERF_NULL_, PERF_NULL_, 0};  /* the body runs once, unmeasured         */

    return PERF_DISABLE ? off : engine->open(name, kind, variants, opts, PERF_OPTIMISED_);
}

/* Takes the state out of *loop, which is then a loop that has ended. */
PERF_INLINE_FN_ perf_loop perf_loop_take_(perf_loop *loop)
{
    perf_loop was = PERF_ZERO;

    if (loop) {
        was = *loop;
        PERF_LIBC_(memset)(loop, 0, sizeof *loop);
        loop->first = loop->variant = -1;
    }
    return was;
}

/* Stands below perf_ab_next. */
PERF_INLINE_FN_ int perf_loop_turn_(const perf_loop_engine_ *engine, perf_loop *loop, int kind);

PERF_INLINE_FN_ perf_bench perf_bench_begin(const char *name, const perf_bench_opts *opts)
{
    return perf_loop_begin_(perf_bench_engine_get_(), name, PERF_LOOP_BENCH_, 1, opts);
}

/* The state travels by value and comes back by value, so the counter's address is never taken and
 * both stay in registers: the loop is the body, one decrement and one branch.                    */
PERF_INLINE_FN_ int perf_bench_next(perf_bench *bench)
{
    if (PERF_LIKELY_(PERF_LOOP_GOES_ON_(bench->left)))
        return 1;
    return perf_loop_turn_(perf_bench_engine_get_(), bench, PERF_LOOP_BENCH_);
}

PERF_INLINE_FN_ perf_result perf_bench_end(perf_bench *bench)
{
    perf_result result = PERF_ZERO;
    perf_loop   was = perf_loop_take_(bench);

    if (!PERF_DISABLE)
        return perf_bench_engine_get_()->bench(was.state, was.left);    /* perf_bench_close_      */
    result.status = PERF_EDISABLED;
    result.why = perf_status_text(PERF_EDISABLED);
    return result;
}

PERF_FN const char *perf_result_text(perf_result *result)
{
    if (!PERF_DISABLE)
        return perf_bench_engine_get_()->text(result);
    return result ? result->text : "";
}

/* The clobbers keep the body's memory accesses on their side of a pause. */
PERF_INLINE_FN_ void perf_bench_pause(perf_loop *loop)
{
    perf_clobber();
    if (loop && loop->pause)
        loop->pause(loop->state, 1);
}

PERF_INLINE_FN_ void perf_bench_resume(perf_loop *loop)
{
    if (loop && loop->pause)
        loop->pause(loop->state, 0);
    perf_clobber();
}

PERF_INLINE_FN_ int perf_loop_slice_begins(const perf_loop *loop)
{
    return loop && loop->left == loop->first;
}

PERF_INLINE_FN_ perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts)
{
    return perf_loop_begin_(perf_race_engine_get_(), name, PERF_LOOP_AB_, 2, opts);
}

PERF_INLINE_FN_ int perf_ab_next(perf_ab *ab)
{
    if (PERF_LIKELY_(PERF_LOOP_GOES_ON_(ab->left))) {   /* --left >= 0                            */
        PERF_LOOP_KNOWN_(ab->variant >= 0);     /* so that the caller's `>= 0` costs no branch    */
        return ab->variant;
    }
    (void)perf_loop_turn_(perf_race_engine_get_(), ab, PERF_LOOP_AB_);
    return ab->variant;
}

/* A slice has ended, or *loop is all zero (not begun, or ended): perf_loop_slice_ chooses the next
 * slice, whose first iteration this call stands for.  0: there is none.                          */
PERF_INLINE_FN_ int perf_loop_turn_(const perf_loop_engine_ *engine, perf_loop *loop, int kind)
{
    uint64_t slice = PERF_DISABLE ? 0 : engine->slice(loop->state, kind);

    loop->left = loop->first = PERF_CAST_(int64_t, slice >> 6) - (slice != 0);
    loop->variant = slice ? PERF_CAST_(int, slice & 63) : -1;
    return slice != 0;
}

PERF_INLINE_FN_ perf_ab_result perf_ab_end(perf_ab *ab)
{
    perf_ab_result result = PERF_ZERO;
    perf_loop      was = perf_loop_take_(ab);

    if (!PERF_DISABLE)
        return perf_race_engine_get_()->ab(was.state, was.left);        /* perf_ab_close_         */
    result.status = result.verdict.status = PERF_EDISABLED;
    result.why = result.verdict.reason = perf_status_text(PERF_EDISABLED);
    return result;
}

PERF_INLINE_FN_ void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen)
{
    if (ab && !PERF_DISABLE)
        perf_race_engine_get_()->accuracy(ab->state, seen);
}

PERF_INLINE_FN_ perf_race perf_race_begin(const char *name, int variants, const perf_ab_opts *opts)
{
    return perf_loop_begin_(perf_race_engine_get_(), name, PERF_LOOP_RACE_, variants, opts);
}

PERF_INLINE_FN_ int perf_race_next(perf_race *race)
{
    return perf_ab_next(race);
}

PERF_INLINE_FN_ perf_race_result perf_race_end(perf_race *race)
{
    perf_race_result none = PERF_ZERO;
    perf_loop        was = perf_loop_take_(race);

    if (!PERF_DISABLE)
        return perf_race_engine_get_()->race(was.state, was.left);      /* perf_race_close_       */
    none.best = -1;
    none.status = PERF_EDISABLED;
    none.why = perf_status_text(PERF_EDISABLED);
    return none;
}

PERF_FN void perf_race_name(perf_race *race, int variant, const char *name)
{
    if (race && !PERF_DISABLE)
        perf_race_engine_get_()->name(race->state, variant, name);
}

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

#ifdef __cplusplus
namespace perf {

#if defined(__clang__)
template <class Type_, bool Function_ = __is_function(Type_)> struct kept_ {
    static const size_t size = sizeof(Type_);
};
template <class Type_> struct kept_<Type_, true> {
    static const size_t size = sizeof(void *);
};
#endif

/* How perf_keep holds on to a value: scalars in a register, objects where they lie. */
template <bool Object_> struct keep_ {
    template <class Type_> static void at(const Type_ &x)
    {
        PERF_KEEP_(x);
    }
};
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
template <> struct keep_<true> {
    template <class Type_> static void at(const Type_ &x)
    {
        __asm__ __volatile__("" : : "m"(x));
    }
};
#endif

} /* namespace perf */

template <class Type_> inline void perf_keep(const Type_ &x)
{
    ::perf::keep_<__is_class(Type_) || __is_union(Type_)>::at(x);
}
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
template <class Type_, size_t Count_> inline void perf_keep(const Type_ (&x)[Count_])
{
    __asm__ __volatile__("" : : "m"(x));
}
template <class Type_> inline void perf_keep(Type_ *const &p) /* what it points to counts as read */
{
    __asm__ __volatile__("" : : "r"(p),
                         "m"(*reinterpret_cast<char (*)[]>(reinterpret_cast<uintptr_t>(p))));
}
#endif
#endif

#include "perf_case.h"          /* PERF_BENCH and its kin                                         */
#if !PERF_ONE_CORE_ && !defined(PERF_REPORT_H) && !defined(PERF_LOOP_ROWS_H) &&                    \
    !defined(PERF_LOOP_STATE_H)
#include "perf_loop.h"          /* here every file that runs a loop carries the engine            */
#endif
#endif /* PERF_BENCH_H */
