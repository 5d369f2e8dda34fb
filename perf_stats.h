/* perf_stats.h - percentiles, confidence intervals, accept/reject decisions.
 *
 *     perf_hist h = PERF_ZERO;                       // ready: nothing to set up or free
 *     for (i = 0; i < n; i++) perf_hist_add(&h, ns[i]);
 *     printf("p99 = %.0f ns\n", perf_hist_quantile(&h, 0.99));
 *
 *     perf_verdict v = perf_compare_pairs(old_ns, new_ns, 30, NULL);   // taken in random order
 *     puts(perf_verdict_text(&v));                   // "ACCEPT: speed-up 1.42x (95 % CI ..."
 *
 * C99, C++11, CUDA, Cython.  One file, libc only, no -lm, no global state, no clock, no thread.
 * It does not measure anything: perf.h does, and feeds what it measured in here.
 * Sections (search for ">>"):  config  platform  types  math  histogram  summary  compare
 *                              sequential  private
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_STATS_H

#ifndef PERF_BASE_SEEN_         /* this much of the file is all that perf_scope.h takes           */
#define PERF_BASE_SEEN_ 1

/* The one hand-written version of the project: major * 10000 + minor * 100 + patch. */
#define PERF_VERSION 100

#include <stddef.h>
#include <stdint.h>

/* >>config ----------------------------------------------------------------------------------
 * Every macro may be set before the first include (or with -D).  None changes the layout of
 * anything that two files share, so files built with different settings link together.          */

#ifndef PERF_DISABLE
#define PERF_DISABLE 0          /* 1: every scope, timer and PERF_ macro compiles to nothing      */
#endif
#ifndef PERF_MALLOC             /* scratch for sorting more than a few hundred values; may fail   */
#if defined(__GNUC__) && !defined(__TINYC__)
#define PERF_MALLOC(bytes) __builtin_malloc(bytes)   /* saves every user the parse of <stdlib.h>  */
#define PERF_FREE(p)       __builtin_free(p)         /* gives back what PERF_MALLOC gave          */
#else
#include <stdlib.h>
#define PERF_MALLOC(bytes) malloc(bytes)
#define PERF_FREE(p)       free(p)
#endif
#endif

/* >>platform --------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define PERF_BEGIN_DECLS extern "C" {           /* around declarations that C and C++ share       */
#define PERF_END_DECLS   }                      /* closes PERF_BEGIN_DECLS                        */
#define PERF_ZERO        {}                     /* spells "all zero" without a warning            */
#define PERF_NULL_       nullptr
#define PERF_CAST_(T, x) static_cast<T>(x)
#define PERF_PTR_(T, p)  reinterpret_cast<T>(p) /* T is a pointer type                            */
#else
#define PERF_BEGIN_DECLS
#define PERF_END_DECLS
#define PERF_ZERO        {0}
#define PERF_NULL_       ((void *)0)
#define PERF_CAST_(T, x) ((T)(x))
#define PERF_PTR_(T, p)  ((T)(p))
#endif

#define PERF_FN static inline                   /* every public function: no symbol, no link      */

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PERF_HD_FN static inline __host__ __device__
#else
#define PERF_HD_FN static inline                /* callable from kernels where there are kernels  */
#endif

#if defined(__TINYC__)
#define PERF_ATTR_(x) __attribute(x)            /* glibc erases __attribute__ for tcc (measured)  */
#define PERF_LIKELY_(x)   (x)
#define PERF_UNLIKELY_(x) (x)
#elif defined(__GNUC__)
#define PERF_ATTR_(x) __attribute__(x)
#define PERF_LIKELY_(x)   __builtin_expect(!!(x), 1)
#define PERF_UNLIKELY_(x) __builtin_expect(!!(x), 0)
#else
#define PERF_ATTR_(x)
#define PERF_LIKELY_(x)   (x)
#define PERF_UNLIKELY_(x) (x)
#endif
/* A function of <string.h>, whose parse the compiler saves a file that only marks scopes. */
#if defined(__GNUC__) && !defined(__TINYC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define PERF_LIBC_(function) __builtin_##function
#else
#include <string.h>
#define PERF_LIBC_(function) function
#endif

#define PERF_CAT2_(a, b) a##b
#define PERF_CAT_(a, b)  PERF_CAT2_(a, b)

PERF_BEGIN_DECLS

/* >>types ------------------------------------------------------------------------------------- */

/* What went wrong, in one list: the enum, the texts and docs all come from here. */
#define PERF_STATUS_LIST_(X)                                                                      \
    X(PERF_OK,        "ok")                                                                       \
    X(PERF_EINVAL,    "invalid argument")                                                         \
    X(PERF_ENODATA,   "no data")                                                                  \
    X(PERF_ENOMEM,    "out of memory")                                                            \
    X(PERF_EIO,       "input/output error")                                                       \
    X(PERF_EFORMAT,   "malformed or truncated data")                                              \
    X(PERF_ERANGE,    "value out of range")                                                       \
    X(PERF_ESTATE,    "called out of order (no begin, or already ended)")                         \
    X(PERF_EDELETED,  "the compiler deleted the body: pass its result to perf_keep()")            \
    X(PERF_EDISABLED, "compiled with PERF_DISABLE=1")                                             \
    X(PERF_ELIMIT,    "a fixed limit of this library was reached")                                \
    X(PERF_ENOGPU,    "no GPU: no driver, no device, or no context current in this thread")       \
    X(PERF_EGPU,      "the GPU's driver reported an error: see perf_gpu_error_text()")            \
    X(PERF_ESTREAM,   "nothing ran on the timed stream: was it launched on another one?")

#define PERF_STATUS_ENUM_(name, text) name,
/* The result of a call that can fail; PERF_OK is 0. */
typedef enum perf_status { PERF_STATUS_LIST_(PERF_STATUS_ENUM_) PERF_STATUS_COUNT_ } perf_status;
#undef PERF_STATUS_ENUM_

PERF_HD_FN uint64_t perf_bits_(double x)
{
    uint64_t u;
    PERF_LIBC_(memcpy)(&u, &x, sizeof u);
    return u;
}

PERF_HD_FN double perf_from_bits_(uint64_t u)
{
    double x;
    PERF_LIBC_(memcpy)(&x, &u, sizeof x);
    return x;
}

/* Bit tests, not x == x: -ffast-math may fold the comparison, never these. */
PERF_HD_FN int perf_is_nan_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000);
}

PERF_END_DECLS
#endif /* PERF_BASE_SEEN_ */

#ifndef PERF_SCOPES_ONLY_
#define PERF_STATS_H

#include <float.h>
#include <string.h>

PERF_BEGIN_DECLS

/* What a result should be read with, as bits.  A warning never changes a number. */
#define PERF_WARN_LIST_(X)                                                                        \
    X(PERF_WARN_UNBOUNDED,   0, "too few values to bound every interval")                         \
    X(PERF_WARN_BAD_VALUES,  1, "values that are no positive numbers were left out")              \
    X(PERF_WARN_RESOLUTION,  2, "the clock's resolution widens the interval")                     \
    X(PERF_WARN_MEAN,        3, "one value carries over 10 % of the sum: the mean means little")  \
    X(PERF_WARN_ORDER,       4, "not measured in random order")                                   \
    X(PERF_WARN_NOISY,       5, "the interval is wider than asked for")                           \
    X(PERF_WARN_EMPTY_BODY,  6, "little more than an empty loop: was the body deleted? perf_keep() it") \
    X(PERF_WARN_DRIFT,       7, "times still drifted after the warm-up")                          \
    X(PERF_WARN_STOPPED,     8, "the loop was left before it was done")                           \
    X(PERF_WARN_UNOPTIMISED, 9, "compiled without optimisation")                                  \
    X(PERF_WARN_CLOCK,      10, "the clock went backwards: those slices were thrown away")        \
    X(PERF_WARN_EXPOSED,    12, "GPU samples that host time may have leaked into were left out")  \
    X(PERF_WARN_THROTTLED,  13, "the GPU slowed itself down during some samples")                 \
    X(PERF_WARN_STREAM,     14, "the GPU worked on other streams than the timed one")             \
    X(PERF_WARN_NOT_COLD,   15, "nothing here can flush the L2 cache: these are warm times")      \
    X(PERF_WARN_NO_GRAPH,   16, "the body could not be captured: timed as it is, without a graph")

#define PERF_WARN_ENUM_(name, bit, text) name = 1 << (bit),
/* The bits by name; `warnings` fields hold any number of them. */
typedef enum perf_warning { PERF_WARN_LIST_(PERF_WARN_ENUM_) PERF_WARN_NONE = 0 } perf_warning;
#undef PERF_WARN_ENUM_

/* Static English text of one warning bit (1u << n); never NULL. */
PERF_FN const char *perf_warning_text(uint32_t bit);

/* An estimate with the bounds of its confidence interval. */
typedef struct perf_interval {
    double low, estimate, high;
} perf_interval;

/* Static English text of a status; never NULL, "unknown status" for any other number. */
PERF_FN const char *perf_status_text(perf_status s);

/* >>math: what libm would give, without linking it -----------------------------------------------
 * Relative error against 60-digit references (tests/stats/math.c): see each line.  Any thread, no
 * state.  Outside the domain the answer is NaN; infinities are honoured.  docs/statistics.md has
 * the formulas and their sources.                                                                */
PERF_FN double perf_sqrt(double x);             /* correctly rounded on x86-64 and AArch64        */
PERF_FN double perf_log(double x);              /* natural; 3e-16; log(0) = -inf                  */
PERF_FN double perf_log1p(double x);            /* log(1 + x) without losing local x; 4e-16       */
PERF_FN double perf_exp(double x);              /* 3e-16; 0 below -745.2, inf above 709.8         */
PERF_FN double perf_erf(double x);              /* 1e-15                                          */
PERF_FN double perf_erfc(double x);             /* 1 - erf(x) kept exact in the tail; 1e-13       */
PERF_FN double perf_lgamma(double x);           /* log of gamma(x), x > 0; 1e-14                  */
PERF_FN double perf_normal_cdf(double z);       /* P(Z <= z), Z standard normal                   */
PERF_FN double perf_normal_quantile(double p);  /* 0 -> -inf, 1 -> inf                            */
PERF_FN double perf_beta_cdf(double x, double a, double b);      /* regularised incomplete beta   */
PERF_FN double perf_beta_quantile(double p, double a, double b); /* x with beta_cdf(x) = p        */
PERF_FN double perf_t_cdf(double t, double df);                  /* Student t, df > 0             */
PERF_FN double perf_t_quantile(double p, double df);
PERF_FN double perf_binomial_cdf(double k, double n, double p);  /* P(X <= k), X ~ Bin(n, p)      */
PERF_FN double perf_binomial_quantile(double q, double n, double p); /* smallest k: cdf(k) >= q   */

/* >>histogram ----------------------------------------------------------------------------------
 * A histogram holds any number of unsigned 64-bit values (here: ns, but any unit will do) in
 * buckets whose width grows with the value, so that a percentile is known to a fixed relative
 * error however many values there were.  Bucket edges are those of HdrHistogram.
 *
 * Two forms, one pointer type, the same functions:
 *   perf_hist h = PERF_ZERO;   43 KB, 64-bit counters, percentiles within 2^-8 (0.4 %), and the
 *                              cheapest record: 16 instructions with its loop
 *   perf_hist_init(mem, ...)   precision, range and counter size chosen at run time, in memory
 *                              that you own: 0.1 % over 1 ns..1 h in 69 KB, 1 % in 9.5 KB
 * There is no pointer inside: either form may be copied with memcpy (perf_hist_size bytes), sent,
 * mapped by two processes, or live in device memory.
 *
 * Rank rule: quantile q of n values is the value of rank ceil(q * n), at least 1 (nearest rank).
 * The answer is the midpoint of that value's bucket, never outside [min, max]; q = 0 and q = 1
 * give the exact extremes.  Zero is a value like any other.  A value above the range keeps its
 * count, takes part in every percentile and is answered by the exact maximum.  Negative (from bit
 * 63 up) and NaN values are counted by perf_hist_invalid and take no part.
 *
 * Threads: one writer and no reader at a time, except where a function says otherwise.
 * No function here allocates, waits, prints or needs <math.h>.                                  */

#define PERF_HIST_NO_DATA (-1.0)    /* what a number is when there are no values: never a time    */
#define PERF_HIST_BITS_    7        /* of the fixed form: 2^7 buckets an octave                   */
#define PERF_HIST_OCTAVES_ 42       /* of the fixed form: 1 ns .. 73 minutes                      */
#define PERF_HIST_FIXED_   (PERF_HIST_OCTAVES_ << PERF_HIST_BITS_)

/* The front of every histogram.  All zero is an empty fixed form.  Counters follow it. */
typedef struct perf_hist_head_ {
    uint64_t lo;                    /* fixed form: lo <= v < lo + width is surely in range, with  */
    uint64_t width;                 /*   an extreme on either side, so one compare admits it      */
    uint64_t lo32;                  /* the same for 32-bit counters: a record meant for one form  */
    uint64_t width32;               /*   finds an empty window in the other and takes the slow way*/
    uint64_t sum;                   /* of all values, modulo 2^64                                 */
    uint64_t not_min;               /* ~minimum, so that zero means none                          */
    uint64_t max;
    uint64_t zeros;
    uint64_t over;                  /* values above `highest`                                     */
    uint64_t invalid;               /* negative or NaN                                            */
    uint64_t lost;                  /* records that met a full 32-bit counter                     */
    uint64_t highest;               /* largest value with a bucket; 0: fixed form                 */
    uint32_t counters;
    uint32_t bias;                  /* index = (bits of the double >> shift) - bias               */
    uint8_t  bits;                  /* K: 2^K buckets an octave                                   */
    uint8_t  bytes;                 /* of a counter: 4 or 8                                       */
    uint8_t  shift;
    uint8_t  reserved[5];
} perf_hist_head_;

typedef struct perf_hist {          /* read it through the functions below                        */
    perf_hist_head_ head;
    uint64_t        counter[PERF_HIST_FIXED_];
    uint64_t        sums[4];        /* with head.sum the sum; a record picks one by its bucket    */
} perf_hist;

/* ---- caller-owned memory ---- */

typedef struct perf_hist_opts {     /* zero = default                                             */
    int      bits;                  /* 0 -> 7   K, 1..14: percentiles within 2^-(K+1)             */
    int      counter_bytes;         /* 0 -> 4   or 8                                              */
    uint64_t highest;               /* 0 -> 3.6e12 (1 h in ns); above it values count as `over`   */
} perf_hist_opts;

PERF_FN perf_hist_opts perf_hist_opts_default(void);        /* all zero; for C++11 and Cython      */
PERF_FN perf_hist_opts perf_hist_opts_resolved(const perf_hist_opts *o);    /* what really runs    */

/* The smallest `bits` that keeps percentiles within this relative error: 0.01 -> 6, 0.001 -> 9. */
PERF_FN int perf_hist_bits_for(double relative_error);

/* Bytes that a histogram with these options needs; 0: the options are out of range. */
PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o);

/* Makes an empty histogram in `mem` (8-byte aligned, yours, needs no freeing) and returns it.
 * NULL: memory too small, misaligned or options out of range.  Do not copy it with `=`, which
 * would copy sizeof(perf_hist) bytes: use perf_hist_copy or memcpy of perf_hist_size bytes.      */
PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o);

/* Histogram in memory that somebody else filled (a mapping, a message).  NULL: not one of ours. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes);

/* Bytes this histogram occupies.  All-zero memory counts as the fixed form. */
PERF_FN size_t perf_hist_size(const perf_hist *h);

/* ---- record ----  `h` must not be NULL; every form of histogram is accepted by every record   */

/* Inlined; fastest for the fixed form. */
PERF_FN void perf_hist_add(perf_hist *h, uint64_t ns);

/* The same without keeping the sum: mean and sum then come from the buckets (see there). */
PERF_FN void perf_hist_add_nosum(perf_hist *h, uint64_t ns);

/* Inlined; fastest for 32-bit counters in caller-owned memory, where it keeps no sum either.
 * One writer; perf_hist_snapshot may read from other threads at any time.                        */
PERF_FN void perf_hist_add32(perf_hist *h, uint64_t value);

/* One writer; perf_hist_snapshot may read from other threads or processes at any time. */
PERF_FN void perf_hist_add_live(perf_hist *h, uint64_t ns);

/* Any number of writers, on the host or on the device; not together with the forms above.
 * perf_hist_snapshot may read at any time (on the device: after the kernel).                     */
PERF_HD_FN void perf_hist_add_shared(perf_hist *h, uint64_t ns);

/* `n` times the same value. */
PERF_FN void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n);

/* Rounded to the nearest integer; -0.5 and below, and NaN, are invalid.  Infinity is `over`. */
PERF_FN void perf_hist_add_double(perf_hist *h, double ns);

/* Coordinated omission: a value that took longer than the interval at which it should have been
 * asked for hides the ones not asked meanwhile; adds ns, ns - interval, ... down to interval.
 * interval 0: only ns.  Cost grows with the number of buckets, not of values.                    */
PERF_FN void perf_hist_add_corrected(perf_hist *h, uint64_t ns, uint64_t interval);

/* ---- read ----  PERF_HIST_NO_DATA when there are no values or h is NULL                       */

PERF_FN uint64_t perf_hist_count(const perf_hist *h);      /* values, without the invalid ones   */
PERF_FN uint64_t perf_hist_over(const perf_hist *h);       /* of them, above the range           */
PERF_FN uint64_t perf_hist_invalid(const perf_hist *h);    /* negative or NaN                    */
PERF_FN uint64_t perf_hist_lost(const perf_hist *h);       /* met a full 32-bit counter          */
PERF_FN double   perf_hist_min(const perf_hist *h);        /* exact (below 2^53)                 */
PERF_FN double   perf_hist_max(const perf_hist *h);        /* likewise                            */

/* Exact when every record kept the sum, also past 2^64: the buckets tell how often it wrapped.
 * Otherwise the sum of bucket midpoints.  Either way within 2^-K.                                */
PERF_FN double perf_hist_sum(const perf_hist *h);
PERF_FN double perf_hist_mean(const perf_hist *h);

/* Sample standard deviation (n - 1), from bucket midpoints with Sheppard's correction.  Values above
 * the range (perf_hist_over) count as half-way between its end and the maximum: rough then.       */
PERF_FN double perf_hist_std(const perf_hist *h);

/* 0 <= q <= 1, else PERF_HIST_NO_DATA. */
PERF_FN double perf_hist_quantile(const perf_hist *h, double q);

/* n quantiles, in any order, in one pass.  PERF_ENODATA: empty, out[] all PERF_HIST_NO_DATA.
 * PERF_EINVAL: some q outside [0, 1] (its out is PERF_HIST_NO_DATA, the others are answered).    */
PERF_FN perf_status perf_hist_quantiles(const perf_hist *h, const double *q, size_t n,
                                        double *out);

/* Values in the buckets from that of `lo` through that of `hi`, and their mean. */
PERF_FN uint64_t perf_hist_count_between(const perf_hist *h, uint64_t lo, uint64_t hi);
PERF_FN double   perf_hist_mean_between(const perf_hist *h, uint64_t lo, uint64_t hi);

/* Occupied buckets in ascending order:
 *     perf_hist_bucket b = PERF_ZERO;
 *     while (perf_hist_next(h, &b)) use(b.lower, b.upper, b.count);
 * `upper` is inclusive.  Values above the range come last as one bucket up to the maximum.       */
typedef struct perf_hist_bucket {
    uint64_t lower, upper;
    uint64_t count;                 /* values in this bucket, never 0                             */
    uint64_t below;                 /* values in all buckets before it                            */
    size_t   next_, end_;           /* where the walk is                                          */
} perf_hist_bucket;
PERF_FN int perf_hist_next(const perf_hist *h, perf_hist_bucket *b);

/* ---- combine ----  a call that fails leaves `into` as it was                                  */

/* into += from, exactly and in any order the same bits.  `from` may be finer than `into` (its
 * buckets nest), not coarser: PERF_EINVAL.  PERF_ERANGE: a counter of `into` would overflow.     */
PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from);

/* into -= from: undoes a merge, and turns two snapshots into an interval.  PERF_ERANGE: `from`
 * is not contained in `into`.  The extremes become those of the buckets that remain.             */
PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from);

/* into = from, also to fewer bits (reduces the precision) or another counter size. */
PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from);

/* Empty again; touches only the memory that was used. */
PERF_FN void perf_hist_reset(perf_hist *h);

/* into = a moment of `live`, which another thread or process may be writing with add_live, add32
 * or add_shared.  Same form required (else PERF_EINVAL).  Count, percentiles and extremes agree
 * with each other whatever the writer does.                                                      */
PERF_FN perf_status perf_hist_snapshot(perf_hist *into, const perf_hist *live);

/* into += from, corrected afterwards for coordinated omission as perf_hist_add_corrected does,
 * with every value taken at its bucket's midpoint.                                               */
PERF_FN perf_status perf_hist_merge_corrected(perf_hist *into, const perf_hist *from,
                                              uint64_t interval);

/* ---- frozen: many percentiles of a histogram that no longer changes ---- */

typedef struct perf_hist_frozen perf_hist_frozen;

/* Bytes needed to freeze h as it is now; 0: no data. */
PERF_FN size_t perf_hist_frozen_bytes(const perf_hist *h);

/* Prefix sums in your memory (8-byte aligned); NULL: too small or no data. */
PERF_FN perf_hist_frozen *perf_hist_freeze(const perf_hist *h, void *mem, size_t bytes);

/* The same answer as perf_hist_quantile, in logarithmic time. */
PERF_FN double perf_hist_frozen_quantile(const perf_hist_frozen *f, double q);

/* >>summary: one sample of durations (or bytes, or anything >= 0) ---------------------------------
 * Values that are NaN, infinite or negative are left out and counted in `bad`.  Intervals are exact
 * binomial order-statistic intervals: right for any distribution of independent values, and
 * infinite on the side for which n is too local (95 %: p50 needs 6 values, p95 72, p99 368).     */
typedef struct perf_summary {
    uint64_t    count;                  /* values used; 0: no data, every other number is 0       */
    uint64_t    bad;                    /* values left out                                        */
    double      min, max;
    double      mean, std;              /* std: n - 1 in the denominator; 0 for one value         */
    double      mad;                    /* median distance to the median, not scaled              */
    double      p50, p95, p99;          /* linear interpolation (R's type 7)                      */
    double      p50_low, p50_high;      /* interval of p50 at `confidence`; +-infinity: unbounded */
    double      p95_low, p95_high;
    double      p99_low, p99_high;
    double      confidence;             /* 0.95                                                   */
    perf_status status;                 /* PERF_OK, PERF_ENODATA, PERF_EINVAL or PERF_ENOMEM      */
    uint32_t    warnings;               /* PERF_WARN_ bits                                        */
} perf_summary;

/* Summary of x[0..n).  x is not changed; sorts a copy, so it allocates above 256 values. */
PERF_FN perf_summary perf_summarize(const double *x, size_t n);

/* Quantile p (0..1) of an ascending array, type 7.  NaN when n is 0 or p is outside 0..1. */
PERF_FN double perf_quantile(const double *sorted, size_t n, double p);

/* The same with its exact interval; confidence 0 means 0.95; a side without bound is +-infinity. */
PERF_FN perf_interval perf_quantile_interval(const double *sorted, size_t n, double p,
                                             double confidence);

/* Interval of a quantile when neighbours in time are alike: x in time order, at least 40 values.
 * The effective number of values comes from 10 batches (Korn and Graubard 1998).  Allocates.     */
PERF_FN perf_interval perf_quantile_interval_series(const double *x, size_t n, double p,
                                                    double confidence);

/* Mean with Student's interval.  Wide open to rare spikes: prefer quantiles for durations.  n = 1
 * or a non-finite value gives an infinite interval; n = 0 gives NaN.                             */
PERF_FN perf_interval perf_mean_interval(const double *x, size_t n, double confidence);

/* Fewest values for which a two-sided interval of quantile p is bounded on both sides; 0: never. */
PERF_FN size_t perf_quantile_min_count(double p, double confidence);

/* Ascending sort without recursion limits or allocation; n log n always.  No NaN, please. */
PERF_FN void perf_sort_values(double *x, size_t n);

/* >>compare: is the candidate better by as much as you asked? -------------------------------------
 * ACCEPT: the whole interval clears the threshold.  REJECT: the whole interval misses it.
 * INCONCLUSIVE: neither; `more` says how many further pairs would probably settle it.  Each wrong
 * answer has at most half of 1 - confidence (2.5 %).  docs/statistics.md says why.               */
typedef enum perf_decision { PERF_INCONCLUSIVE, PERF_ACCEPT, PERF_REJECT } perf_decision;

typedef enum perf_metric {              /* what is compared, candidate against baseline           */
    PERF_METRIC_PAIR,                   /* the typical ratio within a pair; separate samples: p50 */
    PERF_METRIC_P50,
    PERF_METRIC_P95,
    PERF_METRIC_P99,
    PERF_METRIC_MEAN,
    PERF_METRIC_MEMORY,                 /* like PAIR; only the wording differs                    */
    PERF_METRIC_THROUGHPUT              /* like PAIR; more is better                              */
} perf_metric;

typedef enum perf_rule_kind {
    PERF_RULE_SPEEDUP,                  /* amount: factor;  0 -> 1.3   "speed-up >= 1.3x"         */
    PERF_RULE_REDUCTION,                /* amount: percent; 0 -> 20    "down >= 20 %"             */
    PERF_RULE_NO_REGRESSION             /* amount: percent; 0 -> 2     "no more than 2 % worse"   */
} perf_rule_kind;

typedef struct perf_rule {              /* an acceptance rule as data; all zero: speed-up >= 1.3x */
    perf_rule_kind kind;
    perf_metric    metric;
    double         amount;
} perf_rule;

typedef enum perf_design {              /* how the two samples came about                         */
    PERF_DESIGN_UNKNOWN,                /* pairs: trusts that each pair was taken in coin order;  */
                                        /* separate samples: never better than INCONCLUSIVE       */
    PERF_DESIGN_RANDOM,                 /* the order of measurement was randomised: you vouch     */
    PERF_DESIGN_SEPARATE                /* one after the other (a saved baseline): INCONCLUSIVE   */
} perf_design;

/* Largest differences between two arrays of outputs, and how much of them is tolerated. */
typedef struct perf_accuracy {
    double   max_abs, max_rel, max_ulp; /* NaN when an element is NaN or infinite on one side only */
    uint64_t compared;                  /* elements looked at; 0: the guard was not evaluated     */
} perf_accuracy;

typedef struct perf_tolerance {         /* each > 0 limits that error; all zero: bit for bit equal */
    double abs, rel, ulp;
} perf_tolerance;

typedef struct perf_guard {
    int            required;            /* 1: without a passed check nothing is ACCEPTed          */
    perf_accuracy  seen;                /* from perf_accuracy_f64 and friends                     */
    perf_tolerance limit;
} perf_guard;

typedef struct perf_compare_opts {      /* zero = default                                         */
    double      confidence;             /* 0 -> 0.95, of the two-sided interval; 0.5 .. 0.9999    */
    perf_rule   rule;                   /* 0 -> speed-up >= 1.3x                                  */
    perf_design design;
    double      tick;                   /* resolution of the clock, in the unit of the samples;   */
                                        /* 0 -> guessed from ties, < 0 -> values are exact        */
    perf_guard  guard;
} perf_compare_opts;

/* The answer, with everything it rests on.  Valid as long as you keep it; no pointer into data. */
typedef struct perf_verdict {
    perf_decision decision;
    perf_status   status;               /* PERF_OK or why nothing can be said                     */
    const char   *reason;               /* one static sentence, never NULL                        */
    perf_rule     rule;                 /* as held against, defaults filled in                    */
    double        threshold;            /* the same as a ratio candidate / baseline               */
    double        confidence;
    perf_interval ratio;                /* candidate / baseline; low 0 or high inf: unbounded     */
    perf_interval speedup;              /* baseline / candidate (throughput: the inverse)         */
    uint64_t      pairs;                /* pairs used; separate samples: the smaller count        */
    uint64_t      baseline_values;      /* separate samples: values used of each; pairs: 0        */
    uint64_t      candidate_values;
    uint64_t      bad;                  /* values left out: NaN, infinite, zero or negative       */
    double        mde;                  /* smallest change found with 80 % chance at this n: 0.02 */
                                        /* is 2 %; inf: none                                      */
    double        more;                 /* INCONCLUSIVE: further pairs for an 80 % chance of an   */
                                        /* answer; inf: no number would do; else 0                */
    uint32_t      warnings;             /* PERF_WARN_ bits                                        */
    char          text[240];            /* filled by perf_verdict_text                            */
} perf_verdict;

PERF_FN perf_compare_opts perf_compare_opts_default(void);  /* all zero; for C++11 and Cython     */
PERF_FN perf_compare_opts perf_compare_opts_resolved(const perf_compare_opts *opts); /* what runs */

/* Rules spelled out; an amount of 0 takes the default of its kind. */
PERF_FN perf_rule perf_rule_speedup(double factor, perf_metric metric);
PERF_FN perf_rule perf_rule_reduction(double percent, perf_metric metric);      /* down by >= %   */
PERF_FN perf_rule perf_rule_no_regression(double percent, perf_metric metric);  /* worse by <= %  */

/* The rule as the largest acceptable ratio candidate / baseline; NaN when the amount is not one. */
PERF_FN double perf_rule_threshold(const perf_rule *rule);

/* n pairs in the order of time, each measured back to back in an order chosen by a fair coin.
 * Arrays are not changed.  Allocates above 128 pairs.  n < 6 is INCONCLUSIVE; NULL opts: defaults. */
PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts);

/* Two separate samples, any sizes.  Honest only if the order of all measurements was random: say
 * so with opts->design, or the verdict stays INCONCLUSIVE (the interval is still computed).      */
PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts);

/* One line of English into v->text, which it returns.  NULL gives "". */
PERF_FN const char *perf_verdict_text(perf_verdict *v);
PERF_FN const char *perf_decision_text(perf_decision d);    /* "ACCEPT", "REJECT", "INCONCLUSIVE" */

/* Holds a finished verdict against an accuracy check: failed -> REJECT; required but not made ->
 * no ACCEPT; passed -> unchanged.  NULL does nothing.                                            */
PERF_FN void perf_verdict_guard(perf_verdict *v, const perf_guard *guard);

/* Largest errors of out[] against reference[], n elements; NULL or n = 0: not evaluated. */
PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_f16(const uint16_t *reference, const uint16_t *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_bf16(const uint16_t *reference, const uint16_t *out, size_t n);

/* 1 only when something was compared and every limit that was set holds. */
PERF_FN int perf_accuracy_ok(const perf_accuracy *seen, const perf_tolerance *limit);

/* A rule from text: "speedup >= 1.3", "down >= 20 % on p95", "no regression beyond 2 % on mean".
 * "memory down >= 10 %" names the metric first.  Leading "latency", a trailing "x" or "%" and letter
 * case do not matter; metrics: time p50 p95 p99 mean memory throughput.  PERF_EFORMAT (out unchanged)
 * for anything else.                                                                             */
PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out);

/* Several rules joined by AND: REJECT if any is, else INCONCLUSIVE if any is; none: INCONCLUSIVE. */
PERF_FN perf_decision perf_verdict_all(const perf_verdict *v, size_t n);

/* The two-sided p-value of "the ratio is the threshold": the largest 1 - confidence at which
 * perf_compare_pairs still decides, searched between 0.5 and 0.000001.  1: never decides.        */
PERF_FN double perf_compare_pairs_p(const double *baseline, const double *candidate, size_t n,
                                    const perf_compare_opts *opts);

/* p-values of a family of n questions, adjusted: Holm 1979 (any false answer at most alpha; for
 * gates), Benjamini and Hochberg 1995 (share of false answers; for dashboards).  out may be p;
 * NaN counts as 1.  PERF_EINVAL for NULL, PERF_ENOMEM above 256 without memory.                  */
PERF_FN perf_status perf_adjust_holm(const double *p, size_t n, double *out);
PERF_FN perf_status perf_adjust_bh(const double *p, size_t n, double *out);     /* see above      */

/* Results of several processes: values of one run share its id, 0 and up.  The median of each run
 * is one value, runs with the same id in both arms are one pair.  Fewer than 6 pairs of runs:
 * INCONCLUSIVE.  The runs must have taken turns in random order (design SEPARATE: they did not). */
PERF_FN perf_verdict perf_compare_runs(const double *baseline, const uint32_t *baseline_run,
                                       size_t nb, const double *candidate,
                                       const uint32_t *candidate_run, size_t nc,
                                       const perf_compare_opts *opts);

/* Control: a1[i] and a2[i] are the same code, measured in turns like a pair.  If even they differ
 * (their interval at v->confidence excludes 1) the verdict is withheld.  Returns 1 when it was.  */
PERF_FN int perf_verdict_control(perf_verdict *v, const double *a1, const double *a2, size_t n);

/* Chance of a difference in quantile p (0..1) as large as seen, if each pair's coin had fallen the
 * other way now and then: exact for equal arms, any tail.  resamples 0 -> 999; NaN on bad input. */
PERF_FN double perf_swap_test(const double *baseline, const double *candidate, size_t n, double p,
                              int resamples, uint64_t seed);

/* Pairs needed to tell a true ratio from the threshold with the given chance (0 -> 0.8), sd being
 * the standard deviation of the log ratios.  inf when they are equal; NaN on bad input.          */
PERF_FN double perf_pairs_needed(double ratio, double threshold, double sd, double chance);

/* Autocorrelation at a lag, -1..1: above 0.1 neighbours are alike and plain intervals too narrow. */
PERF_FN double perf_autocorrelation(const double *x, size_t n, size_t lag);

/* Percentile bootstrap, for statistics without a formula and for comparison with other tools:
 * under-covers small samples (Efron 1979).  resamples 0 -> 9,999.  Allocates.                    */
PERF_FN perf_interval perf_bootstrap_mean(const double *x, size_t n, size_t resamples,
                                          double confidence, uint64_t seed);
PERF_FN perf_interval perf_bootstrap_quantile(const double *sorted, size_t n, double p,
                                              size_t resamples, double confidence, uint64_t seed);

/* >>sequential: look after every pair, stop when it is decided ------------------------------------
 * A betting process on the signs of log(candidate / baseline) - log(threshold): fair signs (coin
 * order) make it a martingale whatever the noise, so it may be looked at after every pair with any
 * budget, and each wrong answer still has at most half of 1 - confidence (Ville's inequality).   */
#define PERF_SEQ_BETS_    8
#define PERF_SEQ_BUCKETS_ 384

typedef struct perf_seq_side_ {         /* private: one of the two bets                           */
    double   capital[PERF_SEQ_BETS_];
    uint32_t seen[PERF_SEQ_BUCKETS_];   /* |x| by size, for its running median                    */
    uint32_t n, below, median;
} perf_seq_side_;

typedef struct perf_seq {               /* fixed size, no pointer: copy it, keep it anywhere      */
    double         log_threshold;
    double         tick;                /* log resolution given away on both sides                */
    double         level;               /* evidence needed: 2 / (1 - confidence)                  */
    uint64_t       pairs, bad;
    uint64_t       decided_at;          /* pairs used by the decision, 0 while open               */
    perf_decision  decision;
    perf_seq_side_ accept, reject;
} perf_seq;

/* rule NULL: speed-up >= 1.3x; confidence 0: 0.95; tick: clock resolution / typical value, >= 0.
 * PERF_EINVAL for a rule without a threshold: then perf_seq_add never decides.                   */
PERF_FN perf_status perf_seq_init(perf_seq *s, const perf_rule *rule, double confidence,
                                  double tick);

/* One more pair.  Returns the decision so far; once taken it stays.  Values that are not positive
 * numbers are counted in `bad` and change nothing.                                               */
PERF_FN perf_decision perf_seq_add(perf_seq *s, double baseline, double candidate);

/* Interval of the typical log ratio that is valid at whatever pair you stopped: log_ratio[0..n) in
 * time order.  Infinite below 7 pairs.  About 50 passes over the data.                           */
PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence);

/* Known budget: look only at 9, 12, 16, 21, 28, 37, 49, 65, 86, 115, 153, 203, 270, 360 and 480
 * pairs (Pocock's equal levels, one-sided 0.00321 each for 2.5 % over all).  1 at such an n.     */
PERF_FN int perf_group_is_look(size_t n);

/* The verdict at such a look, for the 95 % the levels were computed for; INCONCLUSIVE in between. */
PERF_FN perf_verdict perf_compare_group(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts);

/* >>private: bodies, in the order of the prototypes --------------------------------------------- */

#define PERF_STATUS_TEXT_(name, text) case name: return text;
PERF_FN const char *perf_status_text(perf_status s)
{
    switch (s) {
        PERF_STATUS_LIST_(PERF_STATUS_TEXT_)
    case PERF_STATUS_COUNT_: break;
    }
    return "unknown status";
}
#undef PERF_STATUS_TEXT_

/* ---- numbers the compiler may not fold away under -ffast-math ---- */

#define PERF_INF_ perf_from_bits_(UINT64_C(0x7ff0000000000000))
#define PERF_NAN_ perf_from_bits_(UINT64_C(0x7ff8000000000000))

PERF_HD_FN int perf_is_finite_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
}

/* ---- math ---- */

#define PERF_LN2_HI_ 6.93147180369123816490e-01     /* upper bits of ln 2: k * this is exact      */
#define PERF_LN2_LO_ 1.90821492927058770002e-10     /* ln 2 minus the above                       */
#define PERF_LN_SQRT_2PI_ 0.91893853320467274178    /* log(sqrt(2 pi))                            */

PERF_FN double perf_sqrt(double x)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__TINYC__)
    double r;
    __asm__("sqrtsd %1, %0" : "=x"(r) : "x"(x));    /* __builtin_sqrt would call libm at -O0      */
    return r;
#elif defined(__GNUC__) && defined(__aarch64__)
    double r;
    __asm__("fsqrt %d0, %d1" : "=w"(r) : "w"(x));
    return r;
#else
    double y, scale = 1.0;
    int    i;

    if (!(x > 0.0) || !perf_is_finite_(x))
        return perf_is_nan_(x) || x < 0.0 ? PERF_NAN_ : x;
    if (x < 1e-290) {                               /* halving the exponent needs a normal number */
        x *= 18014398509481984.0;                   /* 2^54                                       */
        scale = 1.0 / 134217728.0;                  /* 2^-27                                      */
    }
    y = perf_from_bits_((perf_bits_(x) >> 1) + (UINT64_C(511) << 52) + (UINT64_C(1) << 51));
    for (i = 0; i < 5; i++)                         /* Newton doubles the digits: 5 are plenty    */
        y = 0.5 * (y + x / y);
    return y * scale;
#endif
}

/* log(1 + f) - f for -0.3 < f < 0.42, from log(1 + f) = 2 atanh(s), s = f / (2 + f): the leading
 * terms cancel on paper instead of in the machine.  Eleven terms: |s| < 0.18, next one < 1e-18.  */
PERF_FN double perf_log1p_minus_(double f)
{
    double s = f / (2.0 + f), z = s * s;
    double r = z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 +
               z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19 + z * (2.0 / 21 +
               z * (2.0 / 23)))))))))));
    return s * (r - f);
}

PERF_FN double perf_log(double x)
{
    uint64_t u = perf_bits_(x);
    int      k = 0;
    double   f, r;

    if (perf_is_nan_(x) || (u >> 63 && x < 0.0))
        return PERF_NAN_;
    if (!(u << 1))
        return -PERF_INF_;
    if (!perf_is_finite_(x))
        return x;
    if (u < UINT64_C(0x0010000000000000)) {         /* subnormal                                  */
        u = perf_bits_(x * 18014398509481984.0);
        k = -54;
    }
    k += PERF_CAST_(int, u >> 52) - 1023;
    u = (u & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    if (u > UINT64_C(0x3ff6a09e667f3bcd)) {         /* above sqrt(2): halve, so |log| stays local */
        u -= UINT64_C(0x0010000000000000);
        k++;
    }
    f = perf_from_bits_(u) - 1.0;
    r = perf_log1p_minus_(f) + PERF_CAST_(double, k) * PERF_LN2_LO_;
    return PERF_CAST_(double, k) * PERF_LN2_HI_ + (f + r);
}

PERF_FN double perf_log1p(double x)
{
    double u;

    if (x > -0.29 && x < 0.41)
        return x + perf_log1p_minus_(x);
    if (!(x > -1.0) || x > 1e300)
        return perf_log(1.0 + x);
    u = 1.0 + x;
    return perf_log(u) + (x - (u - 1.0)) / u;       /* what the addition rounded away             */
}

/* log(1 + x) - x for any x > -1. */
PERF_FN double perf_log1pmx_(double x)
{
    return x > -0.29 && x < 0.41 ? perf_log1p_minus_(x) : perf_log1p(x) - x;
}

/* 2^k * x, two steps so that a subnormal result rounds once at the end. */
PERF_FN double perf_scale2_(double x, int k)
{
    int half = k / 2;
    double a = perf_from_bits_(PERF_CAST_(uint64_t, half + 1023) << 52);
    double b = perf_from_bits_(PERF_CAST_(uint64_t, k - half + 1023) << 52);
    return x * a * b;
}

PERF_FN double perf_exp(double x)
{
    double k, r, s = 0.0;
    int    n;

    if (perf_is_nan_(x))
        return x;
    if (x > 709.8)
        return PERF_INF_;
    if (x < -745.2)
        return 0.0;
    k = x * 1.44269504088896340736;                 /* 1 / ln 2                                   */
    n = PERF_CAST_(int, k + (k < 0.0 ? -0.5 : 0.5));
    k = PERF_CAST_(double, n);
    r = (x - k * PERF_LN2_HI_) - k * PERF_LN2_LO_;  /* |r| <= 0.347: 14 Taylor terms, < 1e-18     */
    s = 1.0 / 6227020800.0;
    s = s * r + 1.0 / 479001600.0;
    s = s * r + 1.0 / 39916800.0;
    s = s * r + 1.0 / 3628800.0;
    s = s * r + 1.0 / 362880.0;
    s = s * r + 1.0 / 40320.0;
    s = s * r + 1.0 / 5040.0;
    s = s * r + 1.0 / 720.0;
    s = s * r + 1.0 / 120.0;
    s = s * r + 1.0 / 24.0;
    s = s * r + 1.0 / 6.0;
    s = s * r + 0.5;
    return perf_scale2_(1.0 + (r + r * r * s), n);
}

/* exp(-x * x): the square is split so that its rounding error does not grow with x. */
PERF_FN double perf_exp_neg_square_(double x)
{
    double hi = perf_from_bits_(perf_bits_(x) & UINT64_C(0xfffffffff8000000));
    return perf_exp(-hi * hi) * perf_exp(-(x - hi) * (x + hi));
}

/* erf by its all-positive series (Abramowitz & Stegun 7.1.6), for 0 <= x < 2. */
PERF_FN double perf_erf_series_(double x)
{
    double term = x, sum = x;
    int    n;

    for (n = 1; n < 80 && term > sum * 1e-17; n++) {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    return 1.12837916709551257390 * perf_exp_neg_square_(x) * sum;      /* 2 / sqrt(pi)           */
}

/* erfc by its continued fraction (Abramowitz & Stegun 7.1.14), evaluated bottom-up; x >= 2. */
PERF_FN double perf_erfc_fraction_(double x)
{
    double f = 0.0;
    int    n;

    for (n = x < 4.0 ? 80 : 30; n > 0; n--)
        f = 0.5 * n / (x + f);
    return 0.56418958354775628695 * perf_exp_neg_square_(x) / (x + f);  /* 1 / sqrt(pi)           */
}

PERF_FN double perf_erf(double x)
{
    double a = x < 0.0 ? -x : x, r;

    if (perf_is_nan_(x))
        return x;
    r = a < 2.0 ? perf_erf_series_(a) : a > 6.0 ? 1.0 : 1.0 - perf_erfc_fraction_(a);
    return x < 0.0 ? -r : r;
}

PERF_FN double perf_erfc(double x)
{
    if (perf_is_nan_(x))
        return x;
    if (x < 0.0)
        return 1.0 + perf_erf(-x);
    if (x < 2.0)
        return 1.0 - perf_erf_series_(x);
    return x > 27.3 ? 0.0 : perf_erfc_fraction_(x);
}

/* log gamma(x) minus Stirling's (x - 1/2) log x - x + log sqrt(2 pi); x > 0.  Series from
 * Abramowitz & Stegun 6.1.41 above 15, the recurrence gamma(x+1) = x gamma(x) below.             */
PERF_FN double perf_stirling_rest_(double x)
{
    double sum = 0.0, z;

    while (x < 15.0) {
        sum += (x + 0.5) * perf_log1p(1.0 / x) - 1.0;
        x += 1.0;
    }
    z = 1.0 / (x * x);
    return sum + (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 -
                 z * (691.0 / 360360 - z * (1.0 / 156))))))) / x;
}

/* log gamma(2 + z), |z| <= 0.25: the roots at 1 and 2 need a form that is exactly 0 there
 * (Abramowitz & Stegun 6.1.33; the constants are 1 - Euler's and (zeta(k) - 1) / k, k = 2..19).  */
PERF_FN double perf_lgamma_near_2_(double z)
{
    double s = 1.0043224823968099609e-7;
    s = 2.1207184805554665869e-7 - z * s;
    s = 4.4924691987645660433e-7 - z * s;
    s = 9.5514121304074198329e-7 - z * s;
    s = 2.0392157538013662368e-6 - z * s;
    s = 4.3748667899074878042e-6 - z * s;
    s = 9.439488275268395904e-6 - z * s;
    s = 2.0507212775670691553e-5 - z * s;
    s = 4.49262367381331417e-5 - z * s;
    s = 9.9457512781808533715e-5 - z * s;
    s = 2.2315475845357937976e-4 - z * s;
    s = 5.0966952474304242234e-4 - z * s;
    s = 1.1927539117032609771e-3 - z * s;
    s = 2.8905103307415232858e-3 - z * s;
    s = 7.3855510286739852663e-3 - z * s;
    s = 2.0580808427784547879e-2 - z * s;
    s = 6.7352301053198095133e-2 - z * s;
    s = 3.2246703342411321824e-1 - z * s;
    return z * (0.42278433509846713939 + z * s);
}

PERF_FN double perf_lgamma(double x)
{
    if (perf_is_nan_(x) || x < 0.0)
        return PERF_NAN_;
    if (!perf_is_finite_(x) || !(x > 0.0))
        return PERF_INF_;
    if (x < 1e-290)
        return -perf_log(x);
    if (x >= 0.75 && x <= 1.25)
        return perf_lgamma_near_2_(x - 1.0) - perf_log1p(x - 1.0);
    if (x >= 1.75 && x <= 2.25)
        return perf_lgamma_near_2_(x - 2.0);
    return (x - 0.5) * perf_log(x) - x + PERF_LN_SQRT_2PI_ + perf_stirling_rest_(x);
}

PERF_FN double perf_normal_cdf(double z)
{
    return 0.5 * perf_erfc(-z * 0.70710678118654752440);
}

/* Ratio of two polynomials of degree 7, constant term first. */
PERF_FN double perf_ratio7_(double x, const double *num, const double *den)
{
    double n = num[7], d = den[7];
    int    i;

    for (i = 6; i >= 0; i--) {
        n = n * x + num[i];
        d = d * x + den[i];
    }
    return n / d;
}

/* Wichura's AS 241 (Applied Statistics 37, 1988), constants of PPND16; 7e-16 down to p = 1e-300. */
PERF_FN double perf_normal_quantile(double p)
{
    static const double mid_num[8] = {3.3871328727963666080, 133.14166789178437745,
        1971.5909503065514427, 13731.693765509461125, 45921.953931549871457,
        67265.770927008700853, 33430.575583588128105, 2509.0809287301226727};
    static const double mid_den[8] = {1.0, 42.313330701600911252, 687.18700749205790830,
        5394.1960214247511077, 21213.794301586595867, 39307.895800092710610,
        28729.085735721942674, 5226.4952788528545610};
    static const double near_num[8] = {1.42343711074968357734, 4.63033784615654529590,
        5.76949722146069140550, 3.64784832476320460504, 1.27045825245236838258,
        0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4};
    static const double near_den[8] = {1.0, 2.05319162663775882187, 1.67638483018380384940,
        0.689767334985100004550, 0.148103976427480074590, 0.0151986665636164571966,
        5.47593808499534494600e-4, 1.05075007164441684324e-9};
    static const double far_num[8] = {6.65790464350110377720, 5.46378491116411436990,
        1.78482653991729133580, 0.296560571828504891230, 0.0265321895265761230930,
        1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_den[8] = {1.0, 0.599832206555887937690, 0.136929880922735805310,
        0.0148753612908506148525, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
        1.42151175831644588870e-7, 2.04426310338993978564e-15};
    double q = p - 0.5, r;

    if (!(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    if (q < 0.425 && q > -0.425)
        return q * perf_ratio7_(0.180625 - q * q, mid_num, mid_den);
    r = q < 0.0 ? p : 1.0 - p;
    if (!(r > 0.0))
        return q < 0.0 ? -PERF_INF_ : PERF_INF_;
    r = perf_sqrt(-perf_log(r));
    r = r <= 5.0 ? perf_ratio7_(r - 1.6, near_num, near_den)
                 : perf_ratio7_(r - 5.0, far_num, far_den);
    return q < 0.0 ? -r : r;
}

/* x^a y^b / B(a, b) with x + y = 1, after Loader's saddle point form ("Fast and accurate
 * computation of binomial probabilities", 2000).  delta = a y - b x comes from the caller, who
 * may know it without cancellation.                                                              */
PERF_FN double perf_beta_front_(double x, double y, double a, double b, double delta)
{
    double da = -a * perf_log1pmx_(-delta / a), db = -b * perf_log1pmx_(delta / b);

    if (delta > 0.5 * a)                            /* far from the mean nothing cancels, and     */
        da = a * perf_log(a / (a + b) / x) - delta; /* 1 - delta / a would lose a tiny x          */
    if (-delta > 0.5 * b)
        db = b * perf_log(b / (a + b) / y) + delta;
    return perf_exp(perf_stirling_rest_(a + b) - perf_stirling_rest_(a) - perf_stirling_rest_(b) -
                    da - db) *
           perf_sqrt(a / (a + b) * b * 0.15915494309189533577);         /* 1 / (2 pi)             */
}

/* The continued fraction of I_x(a, b) (NIST DLMF 8.17.22) by Lentz's method; x below the mean. */
PERF_FN double perf_beta_fraction_(double x, double a, double b)
{
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), f, step, m, t;
    int    i;

    if (d < 1e-300 && d > -1e-300)
        d = 1e-300;
    d = 1.0 / d;
    f = d;
    for (i = 1; i < 100000; i++) {
        m = PERF_CAST_(double, i);
        t = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 + t * d;
        c = 1.0 + t / c;
        d = 1.0 / (d < 1e-300 && d > -1e-300 ? 1e-300 : d);
        c = c < 1e-300 && c > -1e-300 ? 1e-300 : c;
        f *= d * c;
        t = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 + t * d;
        c = 1.0 + t / c;
        d = 1.0 / (d < 1e-300 && d > -1e-300 ? 1e-300 : d);
        c = c < 1e-300 && c > -1e-300 ? 1e-300 : c;
        step = d * c;
        f *= step;
        if (step - 1.0 < 1e-16 && step - 1.0 > -1e-16)
            break;
    }
    return f;
}

/* I_x(a, b), or with upper = 1 its complement, x + y = 1; each tail computed, never 1 - small. */
PERF_FN double perf_beta_tail_(double x, double y, double a, double b, double delta, int upper)
{
    double front, r;
    int    below;

    if (!(x > 0.0))
        return upper ? 1.0 : 0.0;
    if (!(y > 0.0))
        return upper ? 0.0 : 1.0;
    front = perf_beta_front_(x, y, a, b, delta);
    below = x < (a + 1.0) / (a + b + 2.0);
    r = below ? front * perf_beta_fraction_(x, a, b) / a
              : front * perf_beta_fraction_(y, b, a) / b;
    return below == upper ? 1.0 - r : r;
}

PERF_FN double perf_beta_cdf(double x, double a, double b)
{
    if (!(a > 0.0) || !(b > 0.0) || !perf_is_finite_(a + b) || !(x >= 0.0 && x <= 1.0))
        return PERF_NAN_;
    return perf_beta_tail_(x, 1.0 - x, a, b, a * (1.0 - x) - b * x, 0);
}

/* Newton on log I(x) against log x, from a guess, kept inside a shrinking bracket; p <= 1/2. */
PERF_FN double perf_beta_quantile_lower_(double p, double a, double b)
{
    double lo = 0.0, hi = 1.0, x, next, f, slope, lp = perf_log(p);
    int    i;

    x = perf_exp((lp + perf_log(a) + perf_lgamma(a) + perf_lgamma(b) - perf_lgamma(a + b)) / a);
    if (!(x < a / (a + b)))                         /* the small-x power law overshoots: use the  */
        x = a / (a + b);                            /* mean                                       */
    if (!(x > 0.0))
        return 0.0;
    for (i = 0; i < 200; i++) {
        double y = 1.0 - x, delta = a * y - b * x;
        f = perf_beta_tail_(x, y, a, b, delta, 0);
        if (f < p)
            lo = x;
        else
            hi = x;
        slope = perf_beta_front_(x, y, a, b, delta) / (y * f);      /* d log I / d log x          */
        next = f > 0.0 && slope > 0.0 ? x * perf_exp((lp - perf_log(f)) / slope) : -1.0;
        if (!(next > lo && next < hi))
            next = lo > 0.0 && hi / lo > 4.0 ? perf_sqrt(lo) * perf_sqrt(hi) : 0.5 * (lo + hi);
        if (next - x < x * 1e-16 && x - next < x * 1e-16)
            return next;
        if (!(hi - lo > hi * 1e-16))
            return x;
        x = next;
    }
    return x;
}

PERF_FN double perf_beta_quantile(double p, double a, double b)
{
    if (!(a > 0.0) || !(b > 0.0) || !perf_is_finite_(a + b) || !(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    if (!(p > 0.0))
        return 0.0;
    if (!(p < 1.0))
        return 1.0;
    if (p <= perf_beta_cdf(a / (a + b), a, b))
        return perf_beta_quantile_lower_(p, a, b);
    return 1.0 - perf_beta_quantile_lower_(1.0 - p, b, a);
}

/* P(T > t) for t >= 0: half of I_x(df/2, 1/2), x = df / (df + t^2). */
PERF_FN double perf_t_upper_(double t, double df)
{
    double s = t * t, x = df / (df + s), y = s / (df + s);

    if (!perf_is_finite_(s))
        return 0.0;
    return 0.5 * perf_beta_tail_(x, y, 0.5 * df, 0.5, 0.5 * x * (s - 1.0), 0);
}

PERF_FN double perf_t_cdf(double t, double df)
{
    if (perf_is_nan_(t) || !(df > 0.0))
        return PERF_NAN_;
    if (!perf_is_finite_(df) || df > 1e10)
        return perf_normal_cdf(t);
    return t < 0.0 ? perf_t_upper_(-t, df) : 1.0 - perf_t_upper_(t, df);
}

/* Newton on the log of the tail against log t.  The start is the expansion in 1/df (Abramowitz &
 * Stegun 26.7.5), or for few degrees of freedom the power law that bounds the tail from above.   */
PERF_FN double perf_t_quantile(double p, double df)
{
    double q = p < 0.5 ? p : 1.0 - p, z, t, tail, lq, log_c, step;
    int    i;

    if (!(p >= 0.0 && p <= 1.0) || !(df > 0.0))
        return PERF_NAN_;
    if (!(q > 0.0))
        return p < 0.5 ? -PERF_INF_ : PERF_INF_;
    z = -perf_normal_quantile(q);
    if (!perf_is_finite_(df) || df > 1e10 || !(z > 0.0))
        return p < 0.5 ? -z : z;
    lq = perf_log(q);
    log_c = perf_lgamma(0.5 * df + 0.5) - perf_lgamma(0.5 * df) -
            0.5 * perf_log(df * 3.14159265358979323846);        /* log of the density at 0        */
    t = z + z * (z * z + 1.0) / (4.0 * df) +
        z * ((5.0 * z * z + 16.0) * z * z + 3.0) / (96.0 * df * df);
    if (df < 5.0 || q < 1e-10)
        t = perf_exp((log_c + (0.5 * df - 0.5) * perf_log(df) - lq) / df);
    for (i = 0; i < 100; i++) {
        tail = perf_t_upper_(t, df);
        if (!(tail > 0.0))
            break;
        tail = perf_log(tail);
        step = (tail - lq) * perf_exp(tail - log_c + (0.5 * df + 0.5) * perf_log1p(t / df * t));
        if (t > 1.0)
            t *= perf_exp(step / t);
        else
            t = t + step > 0.0 ? t + step : 0.5 * t;
        if (step < t * 1e-15 && step > -t * 1e-15)
            break;
    }
    return p < 0.5 ? -t : t;
}

PERF_FN double perf_binomial_cdf(double k, double n, double p)
{
    if (!(n >= 0.0) || !(p >= 0.0 && p <= 1.0) || perf_is_nan_(k) || !perf_is_finite_(n))
        return PERF_NAN_;
    k = PERF_CAST_(double, PERF_CAST_(int64_t, k < 0.0 ? -1.0 : k > 9e15 ? 9e15 : k));
    if (k < 0.0)
        return 0.0;
    if (k >= n)
        return 1.0;
    return perf_beta_tail_(1.0 - p, p, n - k, k + 1.0, (n - k) * p - (k + 1.0) * (1.0 - p), 0);
}

PERF_FN double perf_binomial_quantile(double q, double n, double p)
{
    double lo = -1.0, hi = n, mid;

    if (!(n >= 0.0 && n < 9e15) || !(p >= 0.0 && p <= 1.0) || !(q >= 0.0 && q <= 1.0))
        return PERF_NAN_;
    while (hi - lo > 1.0) {                         /* cdf(lo) < q <= cdf(hi)                     */
        mid = PERF_CAST_(double, PERF_CAST_(int64_t, 0.5 * (lo + hi)));
        if (mid <= lo)
            mid = lo + 1.0;
        if (perf_binomial_cdf(mid, n, p) >= q)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}

/* ---- text: a bounded writer.  No printf: no locale, no stdio, and fast enough for traces ---- */

typedef struct perf_out_ {
    char  *p;           /* where to write; NULL with cap 0 only counts                            */
    size_t len;         /* characters asked for so far, also past the end                         */
    size_t cap;         /* size of p; output is always NUL-terminated when cap > 0                */
} perf_out_;

PERF_FN void perf_put_char_(perf_out_ *o, char c)
{
    if (o->len + 1 < o->cap) {
        o->p[o->len] = c;
        o->p[o->len + 1] = '\0';
    }
    o->len++;
}

PERF_FN void perf_put_(perf_out_ *o, const char *s)
{
    while (*s)
        perf_put_char_(o, *s++);
}

PERF_FN void perf_put_u64_(perf_out_ *o, uint64_t v)
{
    char   digits[20];
    size_t n = 0;

    do {
        digits[n++] = PERF_CAST_(char, '0' + PERF_CAST_(int, v % 10));
        v /= 10;
    } while (v);
    while (n)
        perf_put_char_(o, digits[--n]);
}

/* x with `decimals` (0..9) digits after the point, rounded to nearest; "nan", "inf" spelled out. */
PERF_FN void perf_put_fixed_(perf_out_ *o, double x, int decimals)
{
    uint64_t scale = 1, whole, frac;
    int      i;

    if (perf_is_nan_(x)) {
        perf_put_(o, "nan");
        return;
    }
    if (perf_bits_(x) >> 63) {
        perf_put_char_(o, '-');
        x = -x;
    }
    if (!perf_is_finite_(x)) {
        perf_put_(o, "inf");
        return;
    }
    for (i = 0; i < decimals; i++)
        scale *= 10;
    if (x >= 1e18) {                            /* too large for the split below                  */
        int e = 0;
        while (x >= 10.0) {
            x /= 10.0;
            e++;
        }
        perf_put_fixed_(o, x, decimals > 6 ? 6 : decimals < 2 ? 2 : decimals);
        perf_put_char_(o, 'e');
        perf_put_u64_(o, PERF_CAST_(uint64_t, e));
        return;
    }
    whole = PERF_CAST_(uint64_t, x);
    frac = PERF_CAST_(uint64_t, (x - PERF_CAST_(double, whole)) * PERF_CAST_(double, scale) + 0.5);
    if (frac >= scale) {
        whole++;
        frac -= scale;
    }
    perf_put_u64_(o, whole);
    if (decimals > 0) {
        perf_put_char_(o, '.');
        while ((scale /= 10) > 1 && frac < scale)
            perf_put_char_(o, '0');
        perf_put_u64_(o, frac);
    }
}

/* ---- histogram ----
 *
 * The index is the top of the double: (double)v has its exponent above its mantissa, so the bits
 * from 52-K up count octaves and, within each, 2^K equal steps: one conversion, one shift.
 * The fixed form uses that number as it is.  Caller-owned memory uses the compact index, which is
 * v itself below 2^(K+1) and then goes on without a gap: octaves shorter than 2^K cost no unused
 * counters (0.1 %: 69 KB in place of 86).  Both are equal from 2^K up, except for a constant.     */

#if defined(__GNUC__) && !defined(__TINYC__)
#define PERF_RELAXED_LOAD_(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define PERF_RELAXED_STORE_(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define PERF_RELAXED_ADD_(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#else                               /* no threads promised there                                  */
#define PERF_RELAXED_LOAD_(p)     (*(p))
#define PERF_RELAXED_STORE_(p, v) (*(p) = (v))
#define PERF_RELAXED_ADD_(p, v)   ((*(p) += (v)) - (v))
#endif

/* Kept out of every caller of a record.  gcc -O0 would emit it in every file that includes us, and
 * at -O0 nothing is inlined anyway.                                                              */
#if defined(__OPTIMIZE__)
#define PERF_HIST_SLOW_ static PERF_ATTR_((__noinline__))
#else
#define PERF_HIST_SLOW_ PERF_FN
#endif

/* What an inlined record needs of the fixed form, as constants. */
#define PERF_HIST_SHIFT_ (52 - PERF_HIST_BITS_)
#define PERF_HIST_BIAS_  (UINT64_C(1023) << PERF_HIST_BITS_)
#define PERF_HIST_HIGHEST_ ((UINT64_C(1) << PERF_HIST_OCTAVES_) - 1)
#define PERF_HIST_FULL_  UINT32_C(0xff000000)   /* shared 32-bit counters stop here: 2^24 writers */
                                                /* may pass it together without a wrap            */

typedef struct perf_hist_shape_ {
    uint64_t highest;
    size_t   counters;
    unsigned bits;
    unsigned bytes;
    int      compact;
} perf_hist_shape_;

/* The head by its own type: caller-owned memory may be smaller than a perf_hist. */
PERF_HD_FN perf_hist_head_ *perf_hist_at_(perf_hist *h)
{
    return PERF_PTR_(perf_hist_head_ *, h);
}

PERF_HD_FN const perf_hist_head_ *perf_hist_peek_(const perf_hist *h)
{
    return PERF_PTR_(const perf_hist_head_ *, h);
}

PERF_HD_FN void *perf_hist_cells_(perf_hist *h)
{
    return PERF_PTR_(char *, h) + sizeof(perf_hist_head_);
}

PERF_HD_FN const void *perf_hist_peek_cells_(const perf_hist *h)
{
    return PERF_PTR_(const char *, h) + sizeof(perf_hist_head_);
}

PERF_HD_FN perf_hist_shape_ perf_hist_shape_of_(const perf_hist *h)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    perf_hist_shape_       s;

    s.compact = d->highest != 0;
    s.highest = s.compact ? d->highest : PERF_HIST_HIGHEST_;
    s.counters = s.compact ? d->counters : PERF_HIST_FIXED_;
    s.bits = s.compact ? d->bits : PERF_HIST_BITS_;
    s.bytes = s.compact ? d->bytes : 8;
    return s;
}

/* Position of the highest set bit of v, v > 0. */
PERF_HD_FN unsigned perf_top_bit_(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return PERF_CAST_(unsigned, 63 - __clzll(PERF_CAST_(long long, v)));
#elif defined(__GNUC__) && !defined(__TINYC__)
    return 63u ^ PERF_CAST_(unsigned, __builtin_clzll(v));
#else
    unsigned extra = v >> 53 ? 11 : 0;      /* the conversion is exact below 2^53                  */

    v >>= extra;
    return PERF_CAST_(unsigned, perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v))) >> 52) -
           1023 + extra;
#endif
}

/* Bucket of v, 1 <= v <= highest.  Integer arithmetic: the same on a device as on the host. */
PERF_HD_FN uint64_t perf_hist_index_(const perf_hist_shape_ *s, uint64_t v)
{
    unsigned e = perf_top_bit_(v), k = s->bits;
    uint64_t step = e >= k ? v >> (e - k) : v << (k - e);   /* in [2^K, 2^(K+1))                   */

    if (!s->compact)
        return (PERF_CAST_(uint64_t, e) << k) + step - (UINT64_C(1) << k);
    if (e <= k)
        return v;
    return (PERF_CAST_(uint64_t, e - k) << k) + step;
}

/* First value of bucket i; *width becomes the number of integers in it. */
PERF_HD_FN uint64_t perf_hist_lower_(const perf_hist_shape_ *s, size_t i, uint64_t *width)
{
    unsigned k = s->bits, e = PERF_CAST_(unsigned, i >> k);
    uint64_t step = (i & ((PERF_CAST_(size_t, 1) << k) - 1)) | (PERF_CAST_(size_t, 1) << k);

    *width = 1;
    if (s->compact) {
        if (e < 2)
            return i;
        *width = UINT64_C(1) << (e - 1);
        return step << (e - 1);
    }
    if (e < k)
        return step >> (k - e);
    *width = UINT64_C(1) << (e - k);
    return step << (e - k);
}

PERF_FN uint64_t perf_hist_cell_(const perf_hist *h, const perf_hist_shape_ *s, size_t i)
{
    const void *cells = perf_hist_peek_cells_(h);

    if (s->bytes == 4)
        return PERF_CAST_(const uint32_t *, cells)[i];
    return PERF_CAST_(const uint64_t *, cells)[i];
}

/* Buckets that may be occupied: [*first, return value). */
PERF_FN size_t perf_hist_touched_(const perf_hist *h, const perf_hist_shape_ *s, size_t *first)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    uint64_t               lo = ~PERF_RELAXED_LOAD_(&d->not_min), hi = PERF_RELAXED_LOAD_(&d->max);
    size_t                 end;

    lo += lo == 0;
    if (hi > s->highest)
        hi = s->highest;
    *first = 0;
    if (lo > hi)
        return 0;
    *first = PERF_CAST_(size_t, perf_hist_index_(s, lo));
    end = PERF_CAST_(size_t, perf_hist_index_(s, hi)) + 1;
    return end <= s->counters ? end : s->counters;
}

/* ---- histogram: caller-owned memory ---- */

PERF_FN perf_hist_opts perf_hist_opts_default(void)
{
    perf_hist_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_hist_opts perf_hist_opts_resolved(const perf_hist_opts *o)
{
    perf_hist_opts r = o ? *o : perf_hist_opts_default();

    if (r.bits == 0)
        r.bits = 7;
    if (r.counter_bytes == 0)
        r.counter_bytes = 4;
    if (r.highest == 0)
        r.highest = UINT64_C(3600000000000);
    return r;
}

PERF_FN int perf_hist_bits_for(double relative_error)
{
    int    bits = 1;
    double bound = 0.25;

    while (bits < 14 && !(bound <= relative_error)) {
        bound *= 0.5;
        bits++;
    }
    return bits;
}

/* 0: options out of range.  The layout goes to *s. */
PERF_FN size_t perf_hist_plan_(const perf_hist_opts *o, perf_hist_shape_ *s)
{
    perf_hist_opts r = perf_hist_opts_resolved(o);

    if (r.bits < 1 || r.bits > 14 || (r.counter_bytes != 4 && r.counter_bytes != 8) ||
        r.highest < 2 || r.highest >> 63)
        return 0;
    s->bits = PERF_CAST_(unsigned, r.bits);
    s->bytes = PERF_CAST_(unsigned, r.counter_bytes);
    s->compact = 1;
    s->highest = r.highest;
    s->counters = PERF_CAST_(size_t, perf_hist_index_(s, r.highest)) + 1;
    return (sizeof(perf_hist_head_) + s->counters * s->bytes + 7) & ~PERF_CAST_(size_t, 7);
}

PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;

    return perf_hist_plan_(o, &s);
}

PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;
    perf_hist_head_ *d = PERF_CAST_(perf_hist_head_ *, mem);
    size_t           need = perf_hist_plan_(o, &s);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist *, PERF_NULL_);
    memset(mem, 0, need);
    d->highest = s.highest;
    d->counters = PERF_CAST_(uint32_t, s.counters);
    d->bits = PERF_CAST_(uint8_t, s.bits);
    d->bytes = PERF_CAST_(uint8_t, s.bytes);
    d->shift = PERF_CAST_(uint8_t, 52 - s.bits);
    d->bias = (1022 + s.bits) << s.bits;
    return PERF_CAST_(perf_hist *, mem);
}

/* Is [lo, lo + width) a window that no record could leave the counters through? */
PERF_FN int perf_hist_window_ok_(uint64_t lo, uint64_t width, uint64_t least, uint64_t highest)
{
    return width == 0 || (lo >= least && lo <= highest && width - 1 <= highest - lo);
}

PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes)
{
    const perf_hist_head_ *d = PERF_CAST_(const perf_hist_head_ *, mem);
    perf_hist_opts         o = PERF_ZERO;
    perf_hist_shape_       s = PERF_ZERO;
    perf_hist             *none = PERF_CAST_(perf_hist *, PERF_NULL_);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || bytes < sizeof *d)
        return none;
    if (d->highest == 0) {
        if (bytes < sizeof(perf_hist) || d->counters || d->bits || d->width32 ||
            !perf_hist_window_ok_(d->lo, d->width, 1, PERF_HIST_HIGHEST_))
            return none;
        return PERF_CAST_(perf_hist *, mem);
    }
    o.bits = d->bits;
    o.counter_bytes = d->bytes;
    o.highest = d->highest;
    if (o.bits == 0 || o.counter_bytes == 0 || perf_hist_plan_(&o, &s) > bytes ||
        perf_hist_bytes(&o) == 0 || s.counters != d->counters || d->shift != 52 - s.bits ||
        d->bias != (1022 + s.bits) << s.bits || d->width || (d->width32 && s.bytes != 4) ||
        !perf_hist_window_ok_(d->lo32, d->width32, UINT64_C(1) << s.bits, s.highest))
        return none;
    return PERF_CAST_(perf_hist *, mem);
}

PERF_FN size_t perf_hist_size(const perf_hist *h)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);

    if (!s.compact)
        return sizeof(perf_hist);
    return (sizeof(perf_hist_head_) + s.counters * s.bytes + 7) & ~PERF_CAST_(size_t, 7);
}

/* ---- histogram: record ---- */

PERF_FN void perf_hist_widen_(uint64_t *lo, uint64_t *width, uint64_t v)
{
    if (*width == 0) {
        *lo = v;
        *width = 1;
    } else if (v < *lo) {
        *width += *lo - v;
        *lo = v;
    } else if (v - *lo >= *width) {
        *width = v - *lo + 1;
    }
}

/* Adds n to one of 64 bits that nobody else writes; what does not fit is `lost`. */
PERF_FN void perf_hist_raise_(perf_hist_head_ *d, uint64_t *c, uint64_t n)
{
    uint64_t room = UINT64_MAX - *c;

    if (n > room) {
        PERF_RELAXED_STORE_(&d->lost, d->lost + (n - room));
        n = room;
    }
    PERF_RELAXED_STORE_(c, *c + n);
}

/* The same to a counter of either size. */
PERF_FN void perf_hist_grow_(perf_hist *h, const perf_hist_shape_ *s, size_t i, uint64_t n)
{
    perf_hist_head_ *d = perf_hist_at_(h);

    if (s->bytes == 4) {
        uint32_t *c = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) + i;
        uint64_t  room = UINT32_MAX - *c;
        if (n > room) {
            PERF_RELAXED_STORE_(&d->lost, d->lost + (n - room));
            n = room;
        }
        PERF_RELAXED_STORE_(c, PERF_CAST_(uint32_t, *c + n));
    } else {
        perf_hist_raise_(d, PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + i, n);
    }
}

/* Every record that the inlined compare did not admit: a new extreme, zero, out of range, small
 * values of the compact form, another form.  n values like v whose sum is `sum`.                 */
PERF_HIST_SLOW_ void perf_hist_put_(perf_hist *h, uint64_t v, uint64_t n, uint64_t sum)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s = perf_hist_shape_of_(h);

    if (n == 0)
        return;
    if (v >> 63) {
        PERF_RELAXED_STORE_(&d->invalid, d->invalid + n);
        return;
    }
    PERF_RELAXED_STORE_(&d->sum, d->sum + sum);
    if (~v > d->not_min)
        PERF_RELAXED_STORE_(&d->not_min, ~v);
    if (v > d->max)
        PERF_RELAXED_STORE_(&d->max, v);
    if (v == 0) {
        perf_hist_raise_(d, &d->zeros, n);
    } else if (v > s.highest) {
        perf_hist_raise_(d, &d->over, n);
    } else {
        perf_hist_grow_(h, &s, PERF_CAST_(size_t, perf_hist_index_(&s, v)), n);
        if (!s.compact)
            perf_hist_widen_(&d->lo, &d->width, v);
        else if (s.bytes == 4 && v >> s.bits && !(v >> 53))  /* exact as a double */
            perf_hist_widen_(&d->lo32, &d->width32, v);
    }
}

/* Top bits of the double of v, which has passed the window: counter number plus PERF_HIST_BIAS_. */
PERF_FN uint64_t perf_hist_top_(uint64_t v)
{
    uint64_t u = perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v))) >> PERF_HIST_SHIFT_;

#if defined(__GNUC__) && !defined(__TINYC__)
    __asm__("" : "+r"(u));      /* for a constant v outside the window gcc warns of a bad subscript,
                                   not seeing that the window keeps it out; no instruction        */
#endif
    return u;
}

PERF_FN uint64_t *perf_hist_fixed_cell_(perf_hist *h, uint64_t top)
{
    return PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + (top - PERF_HIST_BIAS_);
}

/* One sum would make every record wait until the one before has stored it (2.5 in place of 1.4 ns
 * on a Xeon); with four, only records near each other wait, and those wait for their counter
 * anyway.  A record updates one sum and one counter: two neighbouring accumulators would be joined
 * into one vector by clang and by gcc -march=native, and the next load would wait for both stores
 * (8.9 in place of 1.9 cycles; bench/hist.c shows it).                                            */
PERF_FN uint64_t *perf_hist_fixed_sum_(perf_hist *h, uint64_t top)
{
    return PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + (PERF_HIST_FIXED_ + (top & 3));
}

PERF_FN void perf_hist_add(perf_hist *h, uint64_t ns)
{
    const perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t               top;

    if (PERF_UNLIKELY_(ns - d->lo >= d->width)) {
        perf_hist_put_(h, ns, 1, ns);
        return;
    }
    top = perf_hist_top_(ns);
    *perf_hist_fixed_sum_(h, top) += ns;
    ++*perf_hist_fixed_cell_(h, top);
}

PERF_FN void perf_hist_add_nosum(perf_hist *h, uint64_t ns)
{
    const perf_hist_head_ *d = perf_hist_at_(h);

    if (PERF_UNLIKELY_(ns - d->lo >= d->width)) {
        perf_hist_put_(h, ns, 1, 0);
        return;
    }
    ++*perf_hist_fixed_cell_(h, perf_hist_top_(ns));
}

PERF_FN void perf_hist_add_live(perf_hist *h, uint64_t ns)
{
    const perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t              *cell, *sum, top;

    if (PERF_UNLIKELY_(ns - d->lo >= d->width)) {
        perf_hist_put_(h, ns, 1, ns);
        return;
    }
    top = perf_hist_top_(ns);
    sum = perf_hist_fixed_sum_(h, top);
    cell = perf_hist_fixed_cell_(h, top);
    PERF_RELAXED_STORE_(sum, *sum + ns);
    PERF_RELAXED_STORE_(cell, *cell + 1);
}

PERF_FN void perf_hist_add32(perf_hist *h, uint64_t value)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint32_t        *c, n;

    if (PERF_UNLIKELY_(value - d->lo32 >= d->width32)) {
        perf_hist_put_(h, value, 1, 0);
        return;
    }
    c = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) +
        ((perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, value))) >> d->shift) - d->bias);
    n = *c + 1;
    if (PERF_UNLIKELY_(n == 0)) {
        perf_hist_put_(h, value, 1, 0);
        return;
    }
    PERF_RELAXED_STORE_(c, n);
}

PERF_HD_FN void perf_shared_add_(uint64_t *p, uint64_t n)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    atomicAdd(PERF_PTR_(unsigned long long *, p), n);
#else
    (void)PERF_RELAXED_ADD_(p, n);
#endif
}

PERF_HD_FN void perf_shared_max_(uint64_t *p, uint64_t v)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    if (v > *PERF_PTR_(volatile uint64_t *, p))
        atomicMax(PERF_PTR_(unsigned long long *, p), v);
#elif defined(__GNUC__) && !defined(__TINYC__)
    uint64_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);

    while (v > seen && !__atomic_compare_exchange_n(p, &seen, v, 1, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED))
        continue;
#else
    if (v > *p)
        *p = v;
#endif
}

PERF_HD_FN uint32_t perf_shared_add32_(uint32_t *p, uint32_t n)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return atomicAdd(p, n);
#else
    return PERF_RELAXED_ADD_(p, n);
#endif
}

PERF_HD_FN void perf_hist_add_shared(perf_hist *h, uint64_t ns)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s = perf_hist_shape_of_(h);

    if (ns >> 63) {
        perf_shared_add_(&d->invalid, 1);
        return;
    }
    perf_shared_max_(&d->not_min, ~ns);
    perf_shared_max_(&d->max, ns);
    if (ns == 0) {
        perf_shared_add_(&d->zeros, 1);
    } else if (ns > s.highest) {
        perf_shared_add_(&d->over, 1);
    } else if (s.bytes == 4) {
        uint32_t *c = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) + perf_hist_index_(&s, ns);
        if (perf_shared_add32_(c, 1) >= PERF_HIST_FULL_) {
            (void)perf_shared_add32_(c, UINT32_MAX);        /* take it back                       */
            perf_shared_add_(&d->lost, 1);
        }
    } else {
        perf_shared_add_(PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + perf_hist_index_(&s, ns), 1);
    }
}

PERF_FN void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n)
{
    perf_hist_put_(h, ns, n, ns * n);
}

/* More than any integer here: `over`, also where the range ends with the largest of them. */
PERF_FN void perf_hist_put_over_(perf_hist *h)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t         v = UINT64_MAX >> 1;

    PERF_RELAXED_STORE_(&d->sum, d->sum + v);
    if (~v > d->not_min)
        PERF_RELAXED_STORE_(&d->not_min, ~v);
    PERF_RELAXED_STORE_(&d->max, v);
    perf_hist_raise_(d, &d->over, 1);
}

PERF_FN void perf_hist_add_double(perf_hist *h, double ns)
{
    uint64_t v;

    if (perf_is_nan_(ns) || ns <= -0.5) {
        perf_hist_put_(h, UINT64_MAX, 1, 0);
    } else if (!perf_is_finite_(ns) || ns >= 9223372036854775808.0) {
        perf_hist_put_over_(h);
    } else {
        v = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
        perf_hist_add(h, v + (ns - PERF_CAST_(double, PERF_CAST_(int64_t, v)) >= 0.5));
    }
}

/* n times: ns and the missing values below it.  All that fall in one bucket are added at once. */
PERF_FN void perf_hist_put_corrected_(perf_hist *h, uint64_t ns, uint64_t interval, uint64_t n)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    uint64_t         v, last, width, steps;

    perf_hist_put_(h, ns, n, ns * n);
    if (interval == 0 || ns >> 63 || ns / 2 < interval)
        return;
    last = ns - interval;
    for (v = interval + ns % interval; v <= last; v += steps * interval) {
        uint64_t upper = last, pairs;
        if (v <= s.highest) {
            upper = perf_hist_lower_(&s, PERF_CAST_(size_t, perf_hist_index_(&s, v)), &width);
            upper += width - 1;
        }
        if (upper > last)
            upper = last;
        steps = (upper - v) / interval + 1;
        pairs = steps % 2 ? steps * ((steps - 1) / 2) : steps / 2 * (steps - 1);
        perf_hist_put_(h, v, steps * n, (v * steps + interval * pairs) * n);
    }
}

PERF_FN void perf_hist_add_corrected(perf_hist *h, uint64_t ns, uint64_t interval)
{
    perf_hist_put_corrected_(h, ns, interval, 1);
}

/* ---- histogram: read ---- */

/* Several neighbouring counters at once, as wide as the target that the file is compiled for;
 * one at a time where the compiler has no vector types.                                           */
#if defined(__GNUC__) && !defined(__TINYC__) && !defined(__NVCC__) &&                              \
    (defined(__SSE2__) || defined(__aarch64__))
#define PERF_VECTORS_ 1
#define PERF_UNROLL_  _Pragma("GCC unroll 32")      /* gcc -O2 does not on its own                 */
#if defined(__AVX512F__)
#define PERF_VECTOR_(T) T __attribute__((vector_size(64), aligned(4), may_alias))
#elif defined(__AVX2__)
#define PERF_VECTOR_(T) T __attribute__((vector_size(32), aligned(4), may_alias))
#else
#define PERF_VECTOR_(T) T __attribute__((vector_size(16), aligned(4), may_alias))
#endif
typedef PERF_VECTOR_(uint64_t) perf_lanes64_;
typedef PERF_VECTOR_(uint32_t) perf_lanes32_;
#undef PERF_VECTOR_
#else
#define PERF_UNROLL_
typedef uint64_t perf_lanes64_;
typedef uint32_t perf_lanes32_;
#endif
#define PERF_LANES64_ (sizeof(perf_lanes64_) / sizeof(uint64_t))
#define PERF_LANES32_ (sizeof(perf_lanes32_) / sizeof(uint32_t))

PERF_FN uint64_t perf_lanes_total_(perf_lanes64_ v)
{
#if defined(PERF_VECTORS_)
    uint64_t sum = v[0];
    size_t   i;

    for (i = 1; i < PERF_LANES64_; i++)
        sum += v[i];
    return sum;
#else
    return v;
#endif
}

/* Sums of 64 counters, the unit of a query's blocks. */
#if defined(PERF_VECTORS_)
PERF_FN uint64_t perf_sum64x64_(const uint64_t *c)
{
    const perf_lanes64_ *v = PERF_PTR_(const perf_lanes64_ *, c);
    perf_lanes64_        a = PERF_ZERO, b = PERF_ZERO;
    size_t               i;

    PERF_UNROLL_ for (i = 0; i < 64 / PERF_LANES64_; i += 2)
    {
        a += v[i];
        b += v[i + 1];
    }
    return perf_lanes_total_(a + b);
}

/* 32-bit counters two by two: one sum of the pairs as they lie, one of their upper halves; their
 * difference is the lower halves.  Cheaper than widening every counter, and it cannot overflow.  */
PERF_FN uint64_t perf_sum32x64_(const uint32_t *c)
{
    const perf_lanes64_ *v = PERF_PTR_(const perf_lanes64_ *, c);
    perf_lanes64_        pairs = PERF_ZERO, upper = PERF_ZERO;
    size_t               i;

    PERF_UNROLL_ for (i = 0; i < 64 / PERF_LANES32_; i++)
    {
        pairs += v[i];
        upper += v[i] >> 32;
    }
    return perf_lanes_total_(pairs - (upper << 32) + upper);
}
#else
PERF_FN uint64_t perf_sum64x64_(const uint64_t *c)
{
    uint64_t sum = 0;
    int      i;

    for (i = 0; i < 64; i++)
        sum += c[i];
    return sum;
}

PERF_FN uint64_t perf_sum32x64_(const uint32_t *c)
{
    uint64_t sum = 0;
    int      i;

    for (i = 0; i < 64; i++)
        sum += c[i];
    return sum;
}
#endif

/* A query reads some 60 to 120 KB of counters.  Where the file is not compiled for AVX2 and the
 * processor has it, that part runs in twice as wide registers: 0.7 to 0.85 of the time on Zen 3,
 * where the second-level cache is the limit then.  The first query asks, with three cpuid.        */
#if defined(PERF_VECTORS_) && defined(__x86_64__) && !defined(__AVX2__) &&                        \
    !defined(_WIN32)            /* whose stack is aligned to 16 bytes only                        */
#define PERF_AVX2_FN_ static inline PERF_ATTR_((__target__("avx2"))) uint64_t
typedef uint64_t perf_wide_ __attribute__((vector_size(32), aligned(4), may_alias));

PERF_FN int perf_has_avx2_(void)
{
    static uint32_t known;                      /* 0: not asked yet, 1: no, 2: yes                */
    uint32_t        yes = PERF_RELAXED_LOAD_(&known), a, b, c, d;

    if (!yes) {
        yes = 1;
        __asm__ __volatile__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
        if (a >= 7) {
            __asm__ __volatile__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(1), "c"(0));
            if ((c & 0x18000000u) == 0x18000000u) {     /* AVX, and the system saves registers    */
                __asm__ __volatile__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
                if ((a & 6u) == 6u) {
                    __asm__ __volatile__("cpuid"
                                         : "=a"(a), "=b"(b), "=c"(c), "=d"(d)
                                         : "a"(7), "c"(0));
                    yes += b >> 5 & 1u;
                }
            }
        }
        PERF_RELAXED_STORE_(&known, yes);
    }
    return yes == 2;
}

/* The sums of n blocks of `block` counters (64 or a multiple), and of all of them. */
PERF_AVX2_FN_ perf_avx2_sums64_(const uint64_t *c, size_t block, size_t n, uint64_t *sums)
{
    uint64_t total = 0;
    size_t   i, k;

    for (k = 0; k < n; k++) {
        const perf_wide_ *v = PERF_PTR_(const perf_wide_ *, c + k * block);
        perf_wide_        s0 = v[0], s1 = v[1], s2 = v[2], s3 = v[3];

        PERF_UNROLL_ for (i = 4; i < 16; i += 4)
        {
            s0 += v[i];
            s1 += v[i + 1];
            s2 += v[i + 2];
            s3 += v[i + 3];
        }
        for (i = 16; i < block / 4; i += 4) {
            s0 += v[i];
            s1 += v[i + 1];
            s2 += v[i + 2];
            s3 += v[i + 3];
        }
        s0 += s1 + (s2 + s3);
        sums[k] = s0[0] + s0[1] + s0[2] + s0[3];
        total += sums[k];
    }
    return total;
}

PERF_AVX2_FN_ perf_avx2_sums32_(const uint32_t *c, size_t block, size_t n, uint64_t *sums)
{
    uint64_t total = 0;
    size_t   i, k;

    for (k = 0; k < n; k++) {
        const perf_wide_ *v = PERF_PTR_(const perf_wide_ *, c + k * block);
        perf_wide_        p0 = v[0], p1 = v[1], u0 = v[0] >> 32, u1 = v[1] >> 32;

        PERF_UNROLL_ for (i = 2; i < 8; i += 2)
        {
            p0 += v[i];
            p1 += v[i + 1];
            u0 += v[i] >> 32;
            u1 += v[i + 1] >> 32;
        }
        for (i = 8; i < block / 8; i += 2) {
            p0 += v[i];
            p1 += v[i + 1];
            u0 += v[i] >> 32;
            u1 += v[i + 1] >> 32;
        }
        p0 += p1;
        u0 += u1;
        p0 += u0 - (u0 << 32);
        sums[k] = p0[0] + p0[1] + p0[2] + p0[3];
        total += sums[k];
    }
    return total;
}
#endif

PERF_FN uint64_t perf_sum64_(const uint64_t *c, size_t n)
{
    uint64_t sum = 0;

    for (; n >= 64; n -= 64, c += 64)
        sum += perf_sum64x64_(c);
    while (n)
        sum += c[--n];
    return sum;
}

PERF_FN uint64_t perf_sum32_(const uint32_t *c, size_t n)
{
    uint64_t sum = 0;

    for (; n >= 64; n -= 64, c += 64)
        sum += perf_sum32x64_(c);
    while (n)
        sum += c[--n];
    return sum;
}

PERF_FN uint64_t perf_hist_sum_cells_(const perf_hist *h, const perf_hist_shape_ *s, size_t first,
                                      size_t n)
{
    const void *cells = perf_hist_peek_cells_(h);

    return s->bytes == 4 ? perf_sum32_(PERF_CAST_(const uint32_t *, cells) + first, n)
                         : perf_sum64_(PERF_CAST_(const uint64_t *, cells) + first, n);
}

/* The sum as far as records kept it, modulo 2^64. */
PERF_FN uint64_t perf_hist_kept_sum_(const perf_hist *h)
{
    uint64_t sum = PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->sum);
    int      i;

    if (!perf_hist_peek_(h)->highest)
        for (i = 0; i < 4; i++)
            sum += PERF_RELAXED_LOAD_(&h->sums[i]);
    return sum;
}

PERF_FN uint64_t perf_hist_count(const perf_hist *h)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    perf_hist_shape_       s;
    size_t                 first, end;

    if (!h)
        return 0;
    s = perf_hist_shape_of_(h);
    end = perf_hist_touched_(h, &s, &first);
    return d->zeros + d->over + perf_hist_sum_cells_(h, &s, first, end - first);
}

PERF_FN uint64_t perf_hist_over(const perf_hist *h)
{
    return h ? PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->over) : 0;
}

PERF_FN uint64_t perf_hist_invalid(const perf_hist *h)
{
    return h ? PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->invalid) : 0;
}

PERF_FN uint64_t perf_hist_lost(const perf_hist *h)
{
    return h ? PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->lost) : 0;
}

PERF_FN double perf_hist_min(const perf_hist *h)
{
    uint64_t not_min = h ? PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->not_min) : 0;

    return not_min ? PERF_CAST_(double, ~not_min) : PERF_HIST_NO_DATA;
}

PERF_FN double perf_hist_max(const perf_hist *h)
{
    uint64_t not_min = h ? PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->not_min) : 0;

    return not_min ? PERF_CAST_(double, PERF_RELAXED_LOAD_(&perf_hist_peek_(h)->max))
                   : PERF_HIST_NO_DATA;
}

/* One step of the walk: next_ is 0 at the start, then 1 + index of the bucket to look at. */
PERF_FN int perf_hist_next(const perf_hist *h, perf_hist_bucket *b)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    perf_hist_shape_       s;
    uint64_t               width;

    if (!h || !b)
        return 0;
    s = perf_hist_shape_of_(h);
    b->below += b->count;
    b->count = 0;
    if (b->next_ == 0) {
        b->end_ = perf_hist_touched_(h, &s, &b->next_) + 1;
        b->next_++;
        b->lower = b->upper = 0;
        b->count = d->zeros;
        if (b->count)
            return 1;
    }
    while (b->next_ < b->end_) {
        size_t i = b->next_++ - 1;
        b->count = perf_hist_cell_(h, &s, i);
        if (b->count) {
            b->lower = perf_hist_lower_(&s, i, &width);
            b->upper = b->lower + width - 1;
            return 1;
        }
    }
    if (b->next_ == b->end_ && d->over) {
        b->next_++;
        b->count = d->over;
        b->lower = s.highest + 1;
        b->upper = d->max > s.highest ? d->max : s.highest + 1;
        return 1;
    }
    return 0;
}

PERF_FN double perf_hist_clamp_(const perf_hist *h, double x)
{
    double lo = perf_hist_min(h), hi = perf_hist_max(h);

    return x < lo ? lo : x > hi ? hi : x;
}

/* Middle of the integers of a bucket, as far as they are within the extremes. */
PERF_FN double perf_hist_middle_(const perf_hist *h, uint64_t lower, uint64_t width)
{
    return perf_hist_clamp_(h, PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1));
}

PERF_FN double perf_hist_sum(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    double           low = 0.0, mid = 0.0, high = 0.0, sum, wraps;

    while (perf_hist_next(h, &b)) {
        double n = PERF_CAST_(double, b.count);
        low += n * PERF_CAST_(double, b.lower);
        mid += n * perf_hist_middle_(h, b.lower, b.upper - b.lower + 1);
        high += n * PERF_CAST_(double, b.upper);
    }
    if (b.below == 0)
        return PERF_HIST_NO_DATA;
    /* The kept sum is exact modulo 2^64; the buckets say which multiple.  One that no multiple
     * brings between their edges is not the sum of these records.                                */
    sum = PERF_CAST_(double, perf_hist_kept_sum_(h));
    wraps = (mid - sum) / 18446744073709551616.0;
    if (wraps > 0.5 && wraps < 4e15)
        sum += 18446744073709551616.0 *
               PERF_CAST_(double, PERF_CAST_(int64_t, wraps + 0.5));
    return sum >= low * (1.0 - 1e-12) && sum <= high * (1.0 + 1e-12) ? sum : mid;
}

PERF_FN double perf_hist_mean(const perf_hist *h)
{
    uint64_t n = perf_hist_count(h);

    return n ? perf_hist_clamp_(h, perf_hist_sum(h) / PERF_CAST_(double, n)) : PERF_HIST_NO_DATA;
}


PERF_FN double perf_hist_std(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         highest = h ? perf_hist_shape_of_(h).highest : 0;
    double           n, pivot, mean, s1 = 0.0, s2 = 0.0, within = 0.0, var, limit;

    n = PERF_CAST_(double, perf_hist_count(h));
    if (n < 1.0)
        return PERF_HIST_NO_DATA;
    mean = perf_hist_mean(h);
    pivot = mean;                   /* deviations from near the mean: no cancellation             */
    while (perf_hist_next(h, &b)) {
        double c = PERF_CAST_(double, b.count), w = PERF_CAST_(double, b.upper - b.lower) + 1.0;
        double x = perf_hist_middle_(h, b.lower, b.upper - b.lower + 1) - pivot;
        s1 += c * x;
        s2 += c * x * x;
        if (b.upper <= highest)                 /* not what lies above the range: one wide bucket */
            within += c * (w * w - 1.0) / 12.0; /* Sheppard, for integers                         */
    }
    if (n < 2.0)
        return 0.0;
    var = s2 - s1 * s1 / n - within;
    if (var < 0.0)
        var = 0.0;
    limit = (perf_hist_max(h) - mean) * (mean - perf_hist_min(h)) * n;  /* Bhatia and Davis       */
    if (var > limit)
        var = limit;
    return perf_sqrt(var / (n - 1.0));
}

/* Sums of up to 256 blocks of counters: what several quantiles need to find their bucket. */
typedef struct perf_hist_scan_ {
    perf_hist_shape_ shape;
    size_t           first, end, block;     /* counters; `block` of them per sum                  */
    size_t           blocks;
    uint64_t         total;
    double           min, max;
    uint64_t         sums[256];
} perf_hist_scan_;

PERF_FN void perf_hist_scan_blocks_(const perf_hist *h, perf_hist_scan_ *s)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    size_t                 i;

    s->shape = perf_hist_shape_of_(h);
    s->end = perf_hist_touched_(h, &s->shape, &s->first);
    s->first &= ~PERF_CAST_(size_t, 63);        /* whole blocks: the ones around are zero          */
    s->end = (s->end + 63) & ~PERF_CAST_(size_t, 63);
    if (s->end > s->shape.counters)
        s->end = s->shape.counters;
    s->min = perf_hist_min(h);
    s->max = perf_hist_max(h);
    for (s->block = 64; (s->end - s->first) / s->block >= 256; s->block *= 2)
        continue;
    s->blocks = 0;
    s->total = d->zeros + d->over;
    i = s->first;
#if defined(PERF_AVX2_FN_)
    if (s->end - i >= 4 * s->block && perf_has_avx2_()) {
        const void *cells = perf_hist_peek_cells_(h);

        s->blocks = (s->end - i) / s->block;
        s->total += s->shape.bytes == 4
                        ? perf_avx2_sums32_(PERF_CAST_(const uint32_t *, cells) + i, s->block,
                                            s->blocks, s->sums)
                        : perf_avx2_sums64_(PERF_CAST_(const uint64_t *, cells) + i, s->block,
                                            s->blocks, s->sums);
        i += s->blocks * s->block;
    }
#endif
    for (; i < s->end; i += s->block) {
        size_t n = s->end - i < s->block ? s->end - i : s->block;
        s->sums[s->blocks] = perf_hist_sum_cells_(h, &s->shape, i, n);
        s->total += s->sums[s->blocks++];
    }
}

/* The bucket in [j, end) where the running count reaches rank.  Eight at a time first: additions
 * that do not wait for each other.                                                               */
#define PERF_WALK_(T)                                                                             \
    do {                                                                                          \
        const T *c = PERF_CAST_(const T *, cells);                                                \
        for (; end - j >= 8; j += 8) {                                                            \
            const T *p = c + j;                                                                   \
            uint64_t a = PERF_CAST_(uint64_t, p[0]) + p[1], b = PERF_CAST_(uint64_t, p[2]) + p[3];\
            a += PERF_CAST_(uint64_t, p[4]) + p[5];                                               \
            b += PERF_CAST_(uint64_t, p[6]) + p[7];                                               \
            if (below + a + b >= rank)                                                            \
                break;                                                                            \
            below += a + b;                                                                       \
        }                                                                                         \
        while ((below += c[j]) < rank && j < end)                                                 \
            j++;                                                                                  \
    } while (0)

PERF_FN size_t perf_hist_walk_(const perf_hist *h, const perf_hist_shape_ *s, size_t j, size_t end,
                               uint64_t below, uint64_t rank)
{
    const void *cells = perf_hist_peek_cells_(h);

    end--;
    if (s->bytes == 4)
        PERF_WALK_(uint32_t);
    else
        PERF_WALK_(uint64_t);
    return j;
}
#undef PERF_WALK_

/* ceil(q * n), at least 1; a product that is an integer but for rounding is that integer. */
PERF_FN uint64_t perf_hist_rank_(double q, uint64_t n)
{
    double   r = q * PERF_CAST_(double, n);
    uint64_t t;

    if (r >= 9.2e18)
        return n;
    t = PERF_CAST_(uint64_t, r);
    if (r - PERF_CAST_(double, t) > r * 4.5e-16)
        t++;
    return t < 1 ? 1 : t > n ? n : t;
}

PERF_FN perf_status perf_hist_quantiles(const perf_hist *h, const double *q, size_t n, double *out)
{
    perf_hist_scan_ s;
    perf_status     status = PERF_OK;
    uint64_t        below = 0, zeros;
    size_t          i, k = 0;

    if (!h || (n && (!q || !out)))
        return PERF_EINVAL;
    perf_hist_scan_blocks_(h, &s);
    zeros = perf_hist_peek_(h)->zeros;
    below = zeros;
    for (i = 0; i < n; i++) {
        uint64_t rank, width, lower;
        size_t   j;

        out[i] = PERF_HIST_NO_DATA;
        if (perf_is_nan_(q[i]) || q[i] < 0.0 || q[i] > 1.0) {
            status = PERF_EINVAL;
            continue;
        }
        if (s.total == 0)
            continue;
        rank = perf_hist_rank_(q[i], s.total);
        if (rank == 1 || rank == s.total) {
            out[i] = rank == 1 && s.total > 1 ? s.min : s.max;
            continue;
        }
        if (rank <= below) {                    /* the list went back: start again                */
            k = 0;
            below = zeros;
        }
        if (rank <= zeros) {
            out[i] = 0.0;
            continue;
        }
        while (k < s.blocks && rank - below > s.sums[k])
            below += s.sums[k++];
        if (k == s.blocks) {
            out[i] = s.max;                     /* above the range                                 */
            continue;
        }
        j = s.first + k * s.block;
        j = perf_hist_walk_(h, &s.shape, j, s.end - j < s.block ? s.end : j + s.block, below, rank);
        lower = perf_hist_lower_(&s.shape, j, &width);
        out[i] = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1);
        out[i] = out[i] < s.min ? s.min : out[i] > s.max ? s.max : out[i];
    }
    return status == PERF_OK && s.total == 0 ? PERF_ENODATA : status;
}

PERF_FN double perf_hist_quantile(const perf_hist *h, double q)
{
    double x = PERF_HIST_NO_DATA;

    (void)perf_hist_quantiles(h, &q, 1, &x);
    return x;
}

PERF_FN uint64_t perf_hist_count_between(const perf_hist *h, uint64_t lo, uint64_t hi)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    perf_hist_shape_       s;
    size_t                 first, end, a, b;
    uint64_t               n = 0;

    if (!h || lo > hi)
        return 0;
    s = perf_hist_shape_of_(h);
    end = perf_hist_touched_(h, &s, &first);
    if (lo == 0)
        n += d->zeros;
    if (hi > s.highest && lo <= d->max)
        n += d->over;
    if (hi == 0 || lo > s.highest)
        return n;
    a = PERF_CAST_(size_t, perf_hist_index_(&s, lo ? lo : 1));
    b = PERF_CAST_(size_t, perf_hist_index_(&s, hi < s.highest ? hi : s.highest)) + 1;
    if (a < first)
        a = first;
    if (b > end)
        b = end;
    return a < b ? n + perf_hist_sum_cells_(h, &s, a, b - a) : n;
}

PERF_FN double perf_hist_mean_between(const perf_hist *h, uint64_t lo, uint64_t hi)
{
    perf_hist_bucket b = PERF_ZERO;
    double           n = 0.0, sum = 0.0;

    if (PERF_CAST_(double, lo) <= perf_hist_min(h) && PERF_CAST_(double, hi) >= perf_hist_max(h))
        return perf_hist_mean(h);
    while (perf_hist_next(h, &b)) {
        if (b.upper < lo || b.lower > hi)
            continue;
        n += PERF_CAST_(double, b.count);
        sum += PERF_CAST_(double, b.count) * perf_hist_middle_(h, b.lower, b.upper - b.lower + 1);
    }
    return n > 0.0 ? sum / n : PERF_HIST_NO_DATA;
}

/* ---- histogram: combine ---- */

/* a[i] += b[i] or -= b[i]; true if any carried or borrowed, so that the caller can undo it.
 * z is the result; the top bit of `spill` says so, for 64 bits as long as counts stay below 2^63. */
#define PERF_HIST_COMBINE_(name, T, V, lanes, op, spill)                                          \
    PERF_FN int name(T *a, const T *b, size_t n)                                                  \
    {                                                                                             \
        V      any = PERF_ZERO;                                                                   \
        T      part[lanes], rest = 0;                                                             \
        size_t i;                                                                                 \
        for (; n >= 4 * (lanes); n -= 4 * (lanes), a += 4 * (lanes), b += 4 * (lanes)) {          \
            V       *p = PERF_PTR_(V *, a);                                                       \
            const V *q = PERF_PTR_(const V *, b);                                                 \
            PERF_UNROLL_ for (i = 0; i < 4; i++)                                                  \
            {                                                                                     \
                V x = p[i], y = q[i], z = x op y;                                                 \
                p[i] = z;                                                                         \
                any |= (spill);                                                                   \
            }                                                                                     \
        }                                                                                         \
        for (i = 0; i < n; i++) {                                                                 \
            T x = a[i], y = b[i], z = x op y;                                                     \
            a[i] = z;                                                                             \
            rest |= (spill);                                                                      \
        }                                                                                         \
        memcpy(part, &any, sizeof part);                                                          \
        for (i = 0; i < (lanes); i++)                                                             \
            rest |= part[i];                                                                      \
        return (rest >> (8 * sizeof(T) - 1)) != 0;                                                \
    }
PERF_HIST_COMBINE_(perf_add32_, uint32_t, perf_lanes32_, PERF_LANES32_, +, (x & y) | ((x | y) & ~z))
PERF_HIST_COMBINE_(perf_sub32_, uint32_t, perf_lanes32_, PERF_LANES32_, -, (~x & y) | ((~x | y) & z))
PERF_HIST_COMBINE_(perf_add64_, uint64_t, perf_lanes64_, PERF_LANES64_, +, z)
PERF_HIST_COMBINE_(perf_sub64_, uint64_t, perf_lanes64_, PERF_LANES64_, -, z)
#undef PERF_HIST_COMBINE_

PERF_FN int perf_hist_same_(const perf_hist_shape_ *a, const perf_hist_shape_ *b)
{
    return a->bits == b->bits && a->bytes == b->bytes && a->compact == b->compact &&
           a->counters == b->counters;
}

/* Adds or subtracts [first, first + n) of equal shapes; true: a counter over- or underflowed. */
PERF_FN int perf_hist_apply_same_(perf_hist *into, const perf_hist *from,
                                  const perf_hist_shape_ *s, size_t first, size_t n, int minus)
{
    if (s->bytes == 4) {
        uint32_t       *a = PERF_CAST_(uint32_t *, perf_hist_cells_(into)) + first;
        const uint32_t *b = PERF_CAST_(const uint32_t *, perf_hist_peek_cells_(from)) + first;
        return minus ? perf_sub32_(a, b, n) : perf_add32_(a, b, n);
    } else {
        uint64_t       *a = PERF_CAST_(uint64_t *, perf_hist_cells_(into)) + first;
        const uint64_t *b = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(from)) + first;
        return minus ? perf_sub64_(a, b, n) : perf_add64_(a, b, n);
    }
}

/* n more (or fewer) values like v; 0: the counter cannot hold that, nothing is changed. */
PERF_FN int perf_hist_bump_(perf_hist *h, const perf_hist_shape_ *s, uint64_t v, uint64_t n,
                            int minus)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t        *c = v ? &d->over : &d->zeros, sum;

    if (v > 0 && v <= s->highest) {
        uint64_t i = perf_hist_index_(s, v);
        if (s->bytes == 4) {
            uint32_t *c32 = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) + i;
            sum = minus ? *c32 - n : *c32 + n;
            if (n > UINT32_MAX || sum > UINT32_MAX)
                return 0;
            *c32 = PERF_CAST_(uint32_t, sum);
            return 1;
        }
        c = PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + i;
    }
    sum = minus ? *c - n : *c + n;
    if ((n | sum) >> 63)
        return 0;
    *c = sum;
    return 1;
}

/* Bucket by bucket, into an equal or coarser shape.  True: done.  Else a counter could not hold its
 * part and `into` is as before.                                                                  */
PERF_FN int perf_hist_apply_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_shape_ s = perf_hist_shape_of_(into);
    perf_hist_bucket b = PERF_ZERO, undo = PERF_ZERO;
    uint64_t         highest = perf_hist_shape_of_(from).highest;

    while (perf_hist_next(from, &b)) {          /* what was above the range stays `over`           */
        if (perf_hist_bump_(into, &s, b.lower > highest ? UINT64_MAX : b.lower, b.count, minus))
            continue;
        while (perf_hist_next(from, &undo) && undo.lower != b.lower)
            (void)perf_hist_bump_(into, &s, undo.lower, undo.count, !minus);
        return 0;
    }
    return 1;
}

PERF_FN perf_status perf_hist_combine_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);
    perf_hist_shape_       s, t;
    size_t                 first, end;

    if (!into || !from || into == from)
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(from);
    if (t.bits < s.bits)
        return PERF_EINVAL;
    if (minus && (d->zeros < f->zeros || d->invalid < f->invalid || d->lost < f->lost))
        return PERF_ERANGE;
    if (perf_hist_same_(&s, &t)) {
        end = perf_hist_touched_(from, &t, &first);
        if ((minus && d->over < f->over) ||
            perf_hist_apply_same_(into, from, &s, first, end - first, minus)) {
            if (!(minus && d->over < f->over))
                (void)perf_hist_apply_same_(into, from, &s, first, end - first, !minus);
            return PERF_ERANGE;
        }
        d->zeros += minus ? 0 - f->zeros : f->zeros;
        d->over += minus ? 0 - f->over : f->over;
    } else if (!perf_hist_apply_(into, from, minus)) {
        return PERF_ERANGE;
    }
    d->sum += minus ? 0 - perf_hist_kept_sum_(from) : perf_hist_kept_sum_(from);
    d->invalid += minus ? 0 - f->invalid : f->invalid;
    d->lost += minus ? 0 - f->lost : f->lost;
    return PERF_OK;
}

PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from)
{
    perf_status            status = perf_hist_combine_(into, from, 0);
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);

    if (status == PERF_OK) {        /* the windows stay: what they admit is still no new extreme  */
        d->not_min = f->not_min > d->not_min ? f->not_min : d->not_min;
        d->max = f->max > d->max ? f->max : d->max;
    }
    return status;
}

/* Extremes that the occupied buckets allow, as near as possible to those given; windows closed. */
PERF_FN void perf_hist_settle_(perf_hist *h, uint64_t min, uint64_t max)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         first[2] = {0, 0}, last[2] = {0, 0};

    d->lo = d->width = d->lo32 = d->width32 = 0;
    while (perf_hist_next(h, &b)) {
        if (b.below == 0) {
            first[0] = b.lower;
            first[1] = b.upper;
        }
        last[0] = b.lower;
        last[1] = b.upper;
    }
    d->not_min = d->max = 0;
    if (b.below == 0)
        return;
    d->not_min = ~(min < first[0] ? first[0] : min > first[1] ? first[1] : min);
    d->max = max < last[0] ? last[0] : max > last[1] ? last[1] : max;
    if (b.below == 1)
        d->not_min = ~d->max;                   /* one value has no two extremes                  */
}

PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from)
{
    perf_status status = perf_hist_combine_(into, from, 1);

    if (status == PERF_OK)
        perf_hist_settle_(into, ~perf_hist_peek_(into)->not_min, perf_hist_peek_(into)->max);
    return status;
}

PERF_FN void perf_hist_reset(perf_hist *h)
{
    perf_hist_head_ *d = perf_hist_at_(h), kept;
    perf_hist_shape_ s;
    size_t           first, end;

    if (!h)
        return;
    s = perf_hist_shape_of_(h);
    end = perf_hist_touched_(h, &s, &first);
    if (first < end)
        memset(PERF_PTR_(char *, h) + sizeof *d + first * s.bytes, 0, (end - first) * s.bytes);
    kept = *d;
    if (!kept.highest)
        memset(h->sums, 0, sizeof h->sums);
    memset(d, 0, sizeof *d);
    d->highest = kept.highest;
    d->counters = kept.counters;
    d->bias = kept.bias;
    d->bits = kept.bits;
    d->bytes = kept.bytes;
    d->shift = kept.shift;
}

/* Whether every counter of an empty `into` can hold its part of `from`. */
PERF_FN int perf_hist_fits_(const perf_hist_shape_ *s, const perf_hist *from)
{
    uint64_t         n = 0, at = UINT64_MAX, highest = perf_hist_shape_of_(from).highest;
    perf_hist_bucket b = PERF_ZERO;

    while (perf_hist_next(from, &b)) {          /* ascending: what shares a counter is together   */
        int      in = b.lower && b.lower <= highest && b.lower <= s->highest;
        uint64_t i = in ? perf_hist_index_(s, b.lower) : b.lower ? UINT64_MAX - 1 : UINT64_MAX - 2;
        uint64_t most = in && s->bytes == 4 ? UINT32_MAX : UINT64_MAX >> 1;
        n = i == at ? n : 0;
        at = i;
        if (b.count > most - n)
            return 0;
        n += b.count;
    }
    return 1;
}

PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from)
{
    perf_hist_shape_ s, t;

    if (!into || !from || into == from)
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(from);
    if (t.bits < s.bits)
        return PERF_EINVAL;
    if (!(s.bytes == 4 && perf_hist_same_(&s, &t)) && !perf_hist_fits_(&s, from))
        return PERF_ERANGE;
    perf_hist_reset(into);
    return perf_hist_merge(into, from);
}

PERF_FN perf_status perf_hist_snapshot(perf_hist *into, const perf_hist *live)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(live);
    perf_hist_shape_       s, t;
    size_t                 i, end;

    if (!into || !live || into == live)
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(live);
    if (!perf_hist_same_(&s, &t))
        return PERF_EINVAL;
    perf_hist_reset(into);
    end = perf_hist_touched_(live, &t, &i);
    if (s.bytes == 4) {
        uint32_t       *a = PERF_CAST_(uint32_t *, perf_hist_cells_(into));
        const uint32_t *b = PERF_CAST_(const uint32_t *, perf_hist_peek_cells_(live));
        for (; i < end; i++)
            a[i] = PERF_RELAXED_LOAD_(&b[i]);
    } else {
        uint64_t       *a = PERF_CAST_(uint64_t *, perf_hist_cells_(into));
        const uint64_t *b = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(live));
        for (; i < end; i++)
            a[i] = PERF_RELAXED_LOAD_(&b[i]);
    }
    d->zeros = PERF_RELAXED_LOAD_(&f->zeros);
    d->over = PERF_RELAXED_LOAD_(&f->over);
    d->invalid = PERF_RELAXED_LOAD_(&f->invalid);
    d->lost = PERF_RELAXED_LOAD_(&f->lost);
    d->sum = perf_hist_kept_sum_(live);
    d->not_min = PERF_RELAXED_LOAD_(&f->not_min);   /* the walk below needs the touched range      */
    d->max = PERF_RELAXED_LOAD_(&f->max);
    perf_hist_settle_(into, ~d->not_min, d->max);
    return PERF_OK;
}

PERF_FN perf_status perf_hist_merge_corrected(perf_hist *into, const perf_hist *from,
                                              uint64_t interval)
{
    perf_hist_bucket b = PERF_ZERO;

    if (!into || !from || into == from)
        return PERF_EINVAL;
    while (perf_hist_next(from, &b))
        perf_hist_put_corrected_(into, b.lower + (b.upper - b.lower) / 2, interval, b.count);
    perf_hist_at_(into)->invalid += perf_hist_peek_(from)->invalid;
    perf_hist_at_(into)->lost += perf_hist_peek_(from)->lost;
    return PERF_OK;
}

/* ---- histogram: frozen ---- */

struct perf_hist_frozen {           /* cumulative counts follow, one for each touched bucket      */
    perf_hist_shape_ shape;
    double           min, max;
    uint64_t         zeros, total;
    size_t           first, n;
};

PERF_FN size_t perf_hist_frozen_bytes(const perf_hist *h)
{
    perf_hist_shape_ s;
    size_t           first, end;

    if (perf_hist_count(h) == 0)
        return 0;
    s = perf_hist_shape_of_(h);
    end = perf_hist_touched_(h, &s, &first);
    return sizeof(perf_hist_frozen) + (end - first) * sizeof(uint64_t);
}

PERF_FN perf_hist_frozen *perf_hist_freeze(const perf_hist *h, void *mem, size_t bytes)
{
    perf_hist_frozen *f = PERF_CAST_(perf_hist_frozen *, mem);
    size_t            need = perf_hist_frozen_bytes(h), i, end;
    uint64_t         *below, acc;
    void             *cells;

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist_frozen *, PERF_NULL_);
    f->shape = perf_hist_shape_of_(h);
    f->min = perf_hist_min(h);
    f->max = perf_hist_max(h);
    f->zeros = perf_hist_peek_(h)->zeros;
    f->total = perf_hist_count(h);
    end = perf_hist_touched_(h, &f->shape, &f->first);
    f->n = end - f->first;
    cells = PERF_PTR_(char *, f) + sizeof *f;
    below = PERF_CAST_(uint64_t *, cells);
    acc = f->zeros;
    for (i = 0; i < f->n; i++) {
        acc += perf_hist_cell_(h, &f->shape, f->first + i);
        below[i] = acc;
    }
    return f;
}

PERF_FN double perf_hist_frozen_quantile(const perf_hist_frozen *f, double q)
{
    const void     *cells;
    const uint64_t *below;
    uint64_t        rank, width, lower;
    size_t          a = 0, n;
    double          x;

    if (!f || perf_is_nan_(q) || q < 0.0 || q > 1.0)
        return PERF_HIST_NO_DATA;
    rank = perf_hist_rank_(q, f->total);
    if (rank == 1 || rank == f->total)
        return rank == 1 && f->total > 1 ? f->min : f->max;
    if (rank <= f->zeros)
        return 0.0;
    cells = PERF_PTR_(const char *, f) + sizeof *f;
    below = PERF_CAST_(const uint64_t *, cells);
    n = f->n;
    while (n > 0) {                             /* first bucket with below[] >= rank              */
        size_t half = n / 2;
        if (below[a + half] < rank) {
            a += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (a >= f->n)
        return f->max;
    lower = perf_hist_lower_(&f->shape, f->first + a, &width);
    x = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1);
    return x < f->min ? f->min : x > f->max ? f->max : x;
}

/* ---- summary ---- */

#define PERF_WARN_TEXT_(name, bit, text) if (b == 1u << (bit)) return text;
PERF_FN const char *perf_warning_text(uint32_t b)
{
    PERF_WARN_LIST_(PERF_WARN_TEXT_)
    return "unknown warning";
}
#undef PERF_WARN_TEXT_

/* 0 -> 0.95; NaN for what is no sensible two-sided confidence. */
PERF_FN double perf_confidence_(double c)
{
    if (!(c < 0.0) && !(c > 0.0) && !perf_is_nan_(c))
        return 0.95;
    return c >= 0.5 && c <= 0.999999 ? c : PERF_NAN_;
}

PERF_FN void perf_sort_insert_(double *x, size_t n)
{
    size_t i, j;

    for (i = 1; i < n; i++) {
        double v = x[i];
        for (j = i; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

PERF_FN void perf_sort_sift_(double *x, size_t root, size_t n)
{
    double v = x[root];
    size_t child;

    while ((child = 2 * root + 1) < n) {
        if (child + 1 < n && x[child] < x[child + 1])
            child++;
        if (!(v < x[child]))
            break;
        x[root] = x[child];
        root = child;
    }
    x[root] = v;
}

PERF_FN void perf_sort_heap_(double *x, size_t n)
{
    size_t i;

    for (i = n / 2; i-- > 0;)
        perf_sort_sift_(x, i, n);
    for (i = n; i-- > 1;) {
        double v = x[0];
        x[0] = x[i];
        x[i] = v;
        perf_sort_sift_(x, 0, i);
    }
}

/* Moves what is < pivot (or <= with equal = 1) to the front; returns how many those are.  Without a
 * branch on the data, which would be mispredicted every other time: the signed-rank interval of
 * 1,000 pairs went from 149 to 124 us with it.                                                    */
PERF_FN size_t perf_partition_(double *x, size_t n, double pivot, int equal)
{
    size_t i, j = 0;

    for (i = 0; i < n; i++) {
        double t = x[i];
        x[i] = x[j];
        x[j] = t;
        j += PERF_CAST_(size_t, (t < pivot) | (equal & (t <= pivot)));
    }
    return j;
}

PERF_FN double perf_median_of_3_(const double *x, size_t n)
{
    double a = x[0], b = x[n / 2], c = x[n - 1];
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Quicksort on the median of three, smaller part first; heapsort when the pivots keep being bad. */
PERF_FN void perf_sort_values(double *x, size_t n)
{
    struct {
        double *x;
        size_t  n;
        int     budget;
    } stack[64];
    int    top = 0, budget = 0;
    size_t k;

    for (k = n; k; k >>= 1)
        budget += 2;
    for (;;) {
        while (n > 24) {
            double pivot = perf_median_of_3_(x, n);

            if (!budget--) {
                perf_sort_heap_(x, n);
                n = 0;
                break;
            }
            k = perf_partition_(x, n, pivot, 0);
            if (!k) {                               /* the pivot is the smallest: its equals are  */
                k = perf_partition_(x, n, pivot, 1);        /* in place now                       */
                x += k;
                n -= k;
                budget++;
            } else if (k < n - k) {                 /* the larger part waits: 64 levels suffice   */
                stack[top].x = x + k;
                stack[top].n = n - k;
                stack[top++].budget = budget;
                n = k;
            } else {
                stack[top].x = x;
                stack[top].n = k;
                stack[top++].budget = budget;
                x += k;
                n -= k;
            }
        }
        perf_sort_insert_(x, n);
        if (!top)
            return;
        top--;
        x = stack[top].x;
        n = stack[top].n;
        budget = stack[top].budget;
    }
}

/* `local` when it is large enough, else allocated; NULL when that fails. */
PERF_FN double *perf_scratch_(double *local, size_t local_n, size_t n)
{
    if (n <= local_n)
        return local;
    if (n > PERF_CAST_(size_t, -1) / sizeof(double))
        return PERF_CAST_(double *, PERF_NULL_);
    return PERF_CAST_(double *, PERF_MALLOC(n * sizeof(double)));
}

PERF_FN void perf_scratch_free_(double *p, const double *local)
{
    if (p != local)
        PERF_FREE(p);
}

PERF_FN double perf_quantile(const double *sorted, size_t n, double p)
{
    double h, f;
    size_t i;

    if (!sorted || !n || !(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    h = PERF_CAST_(double, n - 1) * p;
    i = PERF_CAST_(size_t, h);
    if (i >= n - 1)
        return sorted[n - 1];
    f = h - PERF_CAST_(double, i);
    return sorted[i] + f * (sorted[i + 1] - sorted[i]);
}

/* Largest r with P(Bin(n, p) <= r - 1) <= a: x_(r) is a lower limit with error <= a; 0: none. */
PERF_FN size_t perf_rank_low_(double n, double p, double a)
{
    double k = perf_binomial_quantile(a, n, p);     /* smallest k with cdf(k) >= a                */

    if (perf_is_nan_(k))
        return 0;
    if (perf_binomial_cdf(k, n, p) <= a * (1.0 + 1e-12))    /* equality qualifies                  */
        k += 1.0;
    return PERF_CAST_(size_t, k);
}

PERF_FN perf_interval perf_quantile_ranks_(const double *sorted, size_t n, double n_eff, double p,
                                           double p_low, double p_high, double tail)
{
    perf_interval r;
    double        all = PERF_CAST_(double, n);
    size_t        low, high;

    /* n_eff values behave like n: move the ranks in proportion (equal when n_eff == n). */
    low = PERF_CAST_(size_t, PERF_CAST_(double, perf_rank_low_(n_eff, p_low, tail)) * all / n_eff);
    high = PERF_CAST_(size_t, PERF_CAST_(double, perf_rank_low_(n_eff, 1.0 - p_high, tail)) * all /
                                  n_eff);
    r.estimate = perf_quantile(sorted, n, p);
    r.low = low ? sorted[low - 1] : -PERF_INF_;
    r.high = high ? sorted[n - high] : PERF_INF_;
    return r;
}

PERF_FN perf_interval perf_quantile_interval(const double *sorted, size_t n, double p,
                                             double confidence)
{
    perf_interval none = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        c = perf_confidence_(confidence);

    if (!sorted || !n || perf_is_nan_(c) || !(p >= 0.0 && p <= 1.0))
        return none;
    return perf_quantile_ranks_(sorted, n, PERF_CAST_(double, n), p, p, p, 0.5 - 0.5 * c);
}

PERF_FN size_t perf_quantile_min_count(double p, double confidence)
{
    double c = perf_confidence_(confidence), tail = p > 0.5 ? p : 1.0 - p;

    if (perf_is_nan_(c) || !(p > 0.0 && p < 1.0))
        return 0;
    c = perf_log(0.5 - 0.5 * c) / perf_log(tail);   /* tail^n <= (1 - confidence) / 2             */
    return PERF_CAST_(size_t, c) + (c > PERF_CAST_(double, PERF_CAST_(size_t, c)) ? 1u : 0u);
}

PERF_FN perf_interval perf_quantile_interval_series(const double *x, size_t n, double p,
                                                    double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        local[256], *s, c = perf_confidence_(confidence), q, var = 0.0, n_eff, t;
    size_t        i, j, batch = n / 10, below = 0;

    if (!x || n < 40 || perf_is_nan_(c) || !(p > 0.0 && p < 1.0))
        return r;
    s = perf_scratch_(local, 256, n);
    if (!s)
        return r;
    memcpy(s, x, n * sizeof *s);
    perf_sort_values(s, n);
    q = perf_quantile(s, n, p);
    for (i = 0; i < n; i++)
        below += x[i] <= q;
    for (i = 0; i < 10; i++) {                      /* long-run variance of 1{x <= q} from the    */
        double sum = 0.0;                           /* means of 10 batches                        */
        for (j = 0; j < batch; j++)
            sum += x[i * batch + j] <= q ? 1.0 : 0.0;
        sum = sum / PERF_CAST_(double, batch) -
              PERF_CAST_(double, below) / PERF_CAST_(double, n);
        var += sum * sum;
    }
    var = var / 9.0 * PERF_CAST_(double, batch);
    if (!(var > p * (1.0 - p)))                     /* never claim more than n independent values */
        var = p * (1.0 - p);
    t = perf_normal_quantile(0.5 + 0.5 * c) / perf_t_quantile(0.5 + 0.5 * c, 9.0);
    n_eff = PERF_CAST_(double, n) * p * (1.0 - p) / var * t * t;
    if (n_eff >= 1.0) {                             /* Clopper-Pearson limits of p at n_eff, read */
        double k = n_eff * p, tail = 0.5 - 0.5 * c; /* back as quantiles                          */
        double low = perf_beta_quantile(tail, k, n_eff - k + 1.0);
        double high = perf_beta_quantile(1.0 - tail, k + 1.0, n_eff - k);
        double edge = perf_exp(perf_log(tail) / n_eff);
        r.estimate = q;
        r.low = 1.0 - p > edge ? -PERF_INF_ : s[PERF_CAST_(size_t, low * PERF_CAST_(double, n))];
        r.high = PERF_INF_;
        i = PERF_CAST_(size_t, high * PERF_CAST_(double, n)) + 1;
        if (!(p > edge))
            r.high = s[i < n ? i : n - 1];
    } else {
        r.low = -PERF_INF_;
        r.estimate = q;
        r.high = PERF_INF_;
    }
    perf_scratch_free_(s, local);
    return r;
}

typedef struct perf_moments_ {
    double sum, mean, var;                          /* var: n - 1 in the denominator              */
} perf_moments_;

/* Neumaier's sum, then the corrected second pass (Chan, Golub, LeVeque 1983).  Values so large or
 * local that their squares leave the range are scaled by a power of two first.                   */
PERF_FN perf_moments_ perf_moments_of_(const double *x, size_t n)
{
    perf_moments_ m = PERF_ZERO;
    double        sum = 0.0, lost = 0.0, d1 = 0.0, d2 = 0.0, top = 0.0, scale = 1.0;
    double        count = PERF_CAST_(double, n);
    size_t        i;

    for (i = 0; i < n; i++)
        top = x[i] > top ? x[i] : -x[i] > top ? -x[i] : top;
    if (top > 1e140)
        scale = perf_scale2_(1.0, -600);
    else if (top > 0.0 && top < 1e-140)
        scale = perf_scale2_(1.0, 500);
    for (i = 0; i < n; i++) {
        double v = x[i] * scale, t = sum + v;
        double a = sum < 0.0 ? -sum : sum, b = v < 0.0 ? -v : v;
        lost += a >= b ? (sum - t) + v : (v - t) + sum;
        sum = t;
    }
    sum += lost;
    m.mean = n ? sum / count : 0.0;
    for (i = 0; i < n; i++) {
        double d = x[i] * scale - m.mean;
        d1 += d;
        d2 += d * d;
    }
    if (n > 1)
        m.var = (d2 - d1 * d1 / count) / (count - 1.0);
    m.sum = sum / scale;
    m.mean /= scale;
    m.var = m.var > 0.0 ? m.var / scale / scale : 0.0;
    return m;
}

PERF_FN perf_interval perf_mean_interval(const double *x, size_t n, double confidence)
{
    perf_interval r = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    perf_moments_ m;
    double        c = perf_confidence_(confidence), h = PERF_INF_;
    size_t        i;

    if (!x || !n || perf_is_nan_(c))
        return r;
    for (i = 0; i < n && perf_is_finite_(x[i]); i++)
        ;
    if (i < n) {
        r.low = -PERF_INF_;
        r.high = PERF_INF_;
        return r;
    }
    m = perf_moments_of_(x, n);
    if (n > 1)
        h = perf_t_quantile(0.5 + 0.5 * c, PERF_CAST_(double, n - 1)) *
            perf_sqrt(m.var / PERF_CAST_(double, n));
    r.low = m.mean - h;
    r.estimate = m.mean;
    r.high = m.mean + h;
    return r;
}

PERF_FN perf_summary perf_summarize(const double *x, size_t n)
{
    perf_summary  r = PERF_ZERO;
    perf_interval q;
    perf_moments_ m;
    double        local[256], *s;
    size_t        i, k = 0;

    r.confidence = 0.95;
    if (!x || !n) {
        r.status = x || !n ? PERF_ENODATA : PERF_EINVAL;
        return r;
    }
    s = perf_scratch_(local, 256, n);
    if (!s) {
        r.status = PERF_ENOMEM;
        return r;
    }
    for (i = 0; i < n; i++)
        if (perf_is_finite_(x[i]) && x[i] >= 0.0)
            s[k++] = x[i];
    r.bad = n - k;
    if (r.bad)
        r.warnings |= PERF_WARN_BAD_VALUES;
    if (k) {
        m = perf_moments_of_(s, k);                 /* before sorting: the order of time          */
        perf_sort_values(s, k);
        r.count = k;
        r.min = s[0];
        r.max = s[k - 1];
        r.mean = m.mean;
        r.std = perf_sqrt(m.var);
        q = perf_quantile_interval(s, k, 0.50, 0.95);
        r.p50 = q.estimate;
        r.p50_low = q.low;
        r.p50_high = q.high;
        q = perf_quantile_interval(s, k, 0.95, 0.95);
        r.p95 = q.estimate;
        r.p95_low = q.low;
        r.p95_high = q.high;
        q = perf_quantile_interval(s, k, 0.99, 0.95);
        r.p99 = q.estimate;
        r.p99_low = q.low;
        r.p99_high = q.high;
        if (!perf_is_finite_(r.p50_low) || !perf_is_finite_(r.p50_high) ||
            !perf_is_finite_(r.p95_high) || !perf_is_finite_(r.p99_high))
            r.warnings |= PERF_WARN_UNBOUNDED;
        if (r.max - r.p50 > 0.1 * m.sum)
            r.warnings |= PERF_WARN_MEAN;
        for (i = 0; i < k; i++)
            s[i] = s[i] < r.p50 ? r.p50 - s[i] : s[i] - r.p50;
        perf_sort_values(s, k);
        r.mad = perf_quantile(s, k, 0.5);
    } else {
        r.status = PERF_ENODATA;
    }
    perf_scratch_free_(s, local);
    return r;
}

/* ---- compare ---- */

PERF_FN perf_compare_opts perf_compare_opts_default(void)
{
    perf_compare_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_rule perf_rule_resolved_(perf_rule r)
{
    if (!(r.amount < 0.0) && !(r.amount > 0.0) && !perf_is_nan_(r.amount))
        r.amount = r.kind == PERF_RULE_SPEEDUP ? 1.3 : r.kind == PERF_RULE_REDUCTION ? 20.0 : 2.0;
    return r;
}

PERF_FN perf_compare_opts perf_compare_opts_resolved(const perf_compare_opts *opts)
{
    perf_compare_opts o = opts ? *opts : perf_compare_opts_default();

    o.confidence = perf_confidence_(o.confidence);
    o.rule = perf_rule_resolved_(o.rule);
    if (o.guard.seen.compared)
        o.guard.required = 1;
    return o;
}

PERF_FN perf_rule perf_rule_make_(perf_rule_kind kind, perf_metric metric, double amount)
{
    perf_rule r;

    r.kind = kind;
    r.metric = metric;
    r.amount = amount;
    return r;
}

PERF_FN perf_rule perf_rule_speedup(double factor, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_SPEEDUP, metric, factor);
}

PERF_FN perf_rule perf_rule_reduction(double percent, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_REDUCTION, metric, percent);
}

PERF_FN perf_rule perf_rule_no_regression(double percent, perf_metric metric)
{
    return perf_rule_make_(PERF_RULE_NO_REGRESSION, metric, percent);
}

PERF_FN double perf_rule_threshold(const perf_rule *rule)
{
    perf_rule r = PERF_ZERO;
    double    t = PERF_NAN_;

    if (rule)
        r = *rule;
    r = perf_rule_resolved_(r);
    if (r.kind == PERF_RULE_SPEEDUP)
        t = 1.0 / r.amount;
    else if (r.kind == PERF_RULE_REDUCTION)
        t = 1.0 - r.amount / 100.0;
    else if (r.kind == PERF_RULE_NO_REGRESSION)
        t = 1.0 + r.amount / 100.0;
    return perf_is_finite_(t) && t > 0.0 ? t : PERF_NAN_;
}

/* Smallest step between values that repeat: what the clock (or the printing) could resolve. */
PERF_FN double perf_tick_guess_(const double *sorted, size_t n)
{
    double gap = PERF_INF_;
    size_t i, ties = 0;

    for (i = 1; i < n; i++) {
        double d = sorted[i] - sorted[i - 1];
        if (!(d > 0.0))
            ties++;
        else if (d < gap)
            gap = d;
    }
    if (n < 2 || ties * 20 < n - 1)
        return 0.0;
    if (perf_is_finite_(gap))
        return gap;
    /* All equal: whole numbers were probably counted in ones; anything else tells nothing. */
    return sorted[0] < 9e15 && sorted[0] >= 1.0 &&
           !(PERF_CAST_(double, PERF_CAST_(int64_t, sorted[0])) < sorted[0]) ? 1.0 : 0.0;
}

/* How far the log ratio may be off because both arms were read from a clock that ticks. */
PERF_FN double perf_tick_log_(const double *sorted_a, size_t na, const double *sorted_b, size_t nb,
                              double tick)
{
    double ta = tick, tb = tick;

    if (!(tick > 0.0)) {
        if (tick < 0.0)
            return 0.0;
        ta = perf_tick_guess_(sorted_a, na);
        tb = perf_tick_guess_(sorted_b, nb);
    }
    return 0.5 * (ta / perf_quantile(sorted_a, na, 0.5) + tb / perf_quantile(sorted_b, nb, 0.5));
}

/* Largest k with P(W <= k - 1) <= tail for Wilcoxon's signed-rank W of n values: the k-th smallest
 * and k-th largest Walsh average bound the centre.  Exact by counting to n = 60, normal above.   */
PERF_FN uint64_t perf_signed_rank_k_(size_t n, double tail)
{
    double   ways[916], total = 0.0, nn = PERF_CAST_(double, n);
    size_t   i, w, top = n * (n + 1) / 4;
    uint64_t k = 0;

    if (n > 60) {
        double x = nn * (nn + 1.0) / 4.0 + 0.5 +
                   perf_normal_quantile(tail) * perf_sqrt(nn * (nn + 1.0) * (2.0 * nn + 1.0) / 24.0);
        return x < 1.0 ? 0 : PERF_CAST_(uint64_t, x);
    }
    for (w = 0; w <= top; w++)
        ways[w] = 0.0;
    ways[0] = perf_scale2_(1.0, -PERF_CAST_(int, n));
    for (i = 1; i <= n; i++)
        for (w = top; w >= i; w--)
            ways[w] += ways[w - i];
    for (w = 0; w <= top; w++) {
        total += ways[w];
        if (total > tail * (1.0 + 1e-12))
            break;
        k++;
    }
    return k;
}

/* How many Walsh averages (d[i] + d[j]) / 2, i <= j, of the sorted d are <= t. */
PERF_FN uint64_t perf_walsh_count_(const double *d, size_t n, double t)
{
    uint64_t count = 0;
    size_t   i, j = n;

    for (i = 0; i < n; i++) {
        while (j > i && 0.5 * (d[i] + d[j - 1]) > t)
            j--;
        if (j <= i)
            break;
        count += j - i;
    }
    return count;
}

/* Puts the k-th smallest (0 = smallest) of x[0..n) at x[k], smaller ones before it (Hoare 1961). */
PERF_FN double perf_select_(double *x, size_t n, size_t k)
{
    double *from = x, pivot;
    size_t  at = k, part;
    int     budget = 64;

    while (n > 24) {
        if (!budget--) {                            /* bad pivots: sort what is left              */
            perf_sort_heap_(from, n);
            return x[k];
        }
        pivot = perf_median_of_3_(from, n);
        part = perf_partition_(from, n, pivot, 0);
        if (!part) {
            part = perf_partition_(from, n, pivot, 1);
            if (at < part)
                return pivot;
        }
        if (at < part) {
            n = part;
        } else {
            from += part;
            n -= part;
            at -= part;
        }
    }
    perf_sort_insert_(from, n);
    return x[k];
}

/* The k-th smallest Walsh average (1 = smallest), exactly: numbers between the averages would turn
 * ties into false verdicts.  Narrow a bracket by counting until at most n averages are left, then
 * select among those.  Each count is one walk along the diagonal, O(n); 9 are needed (300 samples).
 * pool: scratch for n values.  next, if not NULL, receives the (k + 1)-th.                       */
PERF_FN double perf_walsh_kth_(const double *d, size_t n, uint64_t k, double *pool, double *next)
{
    double   lo = d[0], hi = d[n - 1], found;       /* count(lo side) < k <= count(hi)            */
    double   t, f, spread = (d[n - 1 - n / 4] - d[n / 4]) * 0.524;  /* of averages, were d normal */
    double   step = 3.0 * spread / perf_sqrt(PERF_CAST_(double, n));
    uint64_t below = 0, upto = n, c;
    size_t   i, j, m = 0;
    int      turn;

    upto = upto * (upto + 1) / 2;
    t = d[n / 2] + spread * perf_normal_quantile((PERF_CAST_(double, k) - 0.5) /
                                                 PERF_CAST_(double, upto));
    for (turn = 0; upto - below > n && turn < 200; turn++) {
        if (turn == 1 || turn == 2) {               /* step over it, for a narrow bracket         */
            t += k > below && !(hi > t) ? -step : step;
        } else if (turn > 2) {
            f = (PERF_CAST_(double, k - below) - 0.5) / PERF_CAST_(double, upto - below);
            if (turn % 3 == 2)
                f = 0.5;                            /* interpolation may crawl: halve every third */
            t = lo + f * (hi - lo);
        }
        if (!(t > lo && t < hi))
            t = lo + 0.5 * (hi - lo);
        if (!(t >= lo && t < hi))
            break;                                  /* no number in between                       */
        c = perf_walsh_count_(d, n, t);
        if (c >= k) {
            hi = t;
            upto = c;
        } else {
            if (!(t > lo) && below == c)
                break;
            lo = t;
            below = c;
        }
    }
    if (upto - below > n) {                         /* a crowd of equal averages: the largest one */
        found = d[0];                               /* not above hi is it                         */
        for (i = 0, j = n; i < n; i++) {
            while (j > i && 0.5 * (d[i] + d[j - 1]) > hi)
                j--;
            if (j <= i)
                break;
            if (0.5 * (d[i] + d[j - 1]) > found)
                found = 0.5 * (d[i] + d[j - 1]);
        }
        if (next)
            *next = k < upto ? found : perf_walsh_kth_(d, n, k + 1, pool, PERF_CAST_(double *, PERF_NULL_));
        return found;
    }
    for (i = 0, j = n; i < n; i++) {                /* collect the averages in (lo, hi]           */
        size_t q;
        while (j > i && 0.5 * (d[i] + d[j - 1]) > hi)
            j--;
        for (q = j; q > i; q--) {
            double a = 0.5 * (d[i] + d[q - 1]);
            if (below && !(a > lo))
                break;
            if (m < n)
                pool[m++] = a;
        }
    }
    k -= below;
    found = perf_select_(pool, m, PERF_CAST_(size_t, k - 1));
    if (next && k < m) {
        *next = pool[k];
        for (i = PERF_CAST_(size_t, k); i < m; i++)
            *next = pool[i] < *next ? pool[i] : *next;
    } else if (next) {
        *next = perf_walsh_kth_(d, n, k + below + 1, pool, PERF_CAST_(double *, PERF_NULL_));
    }
    return found;
}

/* Log interval of the centre of d: estimate = median of the Walsh averages.  Sorts d. */
PERF_FN perf_interval perf_signed_rank_(double *d, size_t n, double tail, double *pool)
{
    perf_interval r;
    uint64_t      m = n, k = perf_signed_rank_k_(n, tail);
    double        next = 0.0;

    m = m * (m + 1) / 2;                            /* Walsh averages                             */
    perf_sort_values(d, n);
    r.estimate = perf_walsh_kth_(d, n, (m + 1) / 2, pool, m % 2 ? PERF_CAST_(double *, PERF_NULL_) : &next);
    if (m % 2 == 0)
        r.estimate = 0.5 * (r.estimate + next);
    r.low = k ? perf_walsh_kth_(d, n, k, pool, PERF_CAST_(double *, PERF_NULL_)) : -PERF_INF_;
    r.high = k ? perf_walsh_kth_(d, n, m + 1 - k, pool, PERF_CAST_(double *, PERF_NULL_)) : PERF_INF_;
    return r;
}

/* Lower limit of quantile p by Nyblom's interpolation between order statistics (1992); sign -1
 * reads the array backwards, for the upper limit.                                                */
PERF_FN double perf_nyblom_(const double *sorted, size_t n, double p, double tail, int sign)
{
    double nn = PERF_CAST_(double, n), low, next, x, y, lambda;
    size_t r = perf_rank_low_(nn, p, tail);         /* P(Bin >= r) >= 1 - tail                    */

    if (!r)
        return sign > 0 ? -PERF_INF_ : PERF_INF_;
    x = sign > 0 ? sorted[r - 1] : sorted[n - r];
    if (r >= n)
        return x;
    y = sign > 0 ? sorted[r] : sorted[n - r - 1];
    low = 1.0 - perf_binomial_cdf(PERF_CAST_(double, r) - 1.0, nn, p);
    next = 1.0 - perf_binomial_cdf(PERF_CAST_(double, r), nn, p);
    if (!(low > 1.0 - tail))
        return x;
    lambda = 1.0 / (1.0 + PERF_CAST_(double, r) * (1.0 - p) / ((nn - PERF_CAST_(double, r)) * p) *
                              (1.0 - tail - next) / (low - (1.0 - tail)));
    return x + lambda * (y - x);
}

/* Log interval of the ratio of two quantiles: MOVER (Zou and Donner 2008) on the limits of each
 * arm.  `shrink` narrows it for pairs that vary together, 1 for separate samples.                */
PERF_FN perf_interval perf_quantile_ratio_(const double *a, size_t na, const double *b, size_t nb,
                                           double p, double tail, double shrink)
{
    perf_interval r;
    double la = perf_nyblom_(a, na, p, tail, 1), ua = perf_nyblom_(a, na, 1.0 - p, tail, -1);
    double lb = perf_nyblom_(b, nb, p, tail, 1), ub = perf_nyblom_(b, nb, 1.0 - p, tail, -1);
    double ta = perf_log(perf_quantile(a, na, p)), tb = perf_log(perf_quantile(b, nb, p));
    double low_a, high_a, low_b, high_b;

    r.estimate = tb - ta;
    r.low = -PERF_INF_;
    r.high = PERF_INF_;
    low_a = perf_is_finite_(la) ? ta - perf_log(la) : PERF_INF_;
    high_a = perf_is_finite_(ua) ? perf_log(ua) - ta : PERF_INF_;
    low_b = perf_is_finite_(lb) ? tb - perf_log(lb) : PERF_INF_;
    high_b = perf_is_finite_(ub) ? perf_log(ub) - tb : PERF_INF_;
    if (perf_is_finite_(low_b) && perf_is_finite_(high_a))
        r.low = r.estimate - shrink * perf_sqrt(low_b * low_b + high_a * high_a);
    if (perf_is_finite_(high_b) && perf_is_finite_(low_a))
        r.high = r.estimate + shrink * perf_sqrt(high_b * high_b + low_a * low_a);
    return r;
}

/* How much pairing narrows the ratio of quantiles: from the indicators of being below. */
PERF_FN double perf_pair_shrink_(const double *a, const double *b, size_t n, double qa, double qb,
                                 double p)
{
    double sum = 0.0, sq = 0.0, nn = PERF_CAST_(double, n), f;
    size_t i;

    for (i = 0; i < n; i++) {
        double c = (b[i] <= qb ? 1.0 : 0.0) - (a[i] <= qa ? 1.0 : 0.0);
        sum += c;
        sq += c * c;
    }
    f = perf_sqrt((sq / nn - sum / nn * (sum / nn)) / (2.0 * p * (1.0 - p)));
    return f < 0.3 ? 0.3 : f;
}

/* Log interval of mean(b) / mean(a) by Fieller's theorem (1954).  paired: covariance and n - 1
 * degrees of freedom, else Welch's.                                                              */
PERF_FN perf_interval perf_mean_ratio_(const double *a, size_t na, const double *b, size_t nb,
                                       double tail, int paired)
{
    perf_interval r = {-PERF_INF_, 0.0, PERF_INF_};
    perf_moments_ ma = perf_moments_of_(a, na), mb = perf_moments_of_(b, nb);
    double        va = ma.var / PERF_CAST_(double, na), vb = mb.var / PERF_CAST_(double, nb);
    double        cov = 0.0, theta = mb.mean / ma.mean, df, t2, qa, qb, qc, root;
    size_t        i;

    r.estimate = perf_log(theta);
    if (na < 2 || nb < 2)
        return r;
    df = PERF_CAST_(double, na - 1);
    if (paired) {
        for (i = 0; i < na; i++)
            cov += (a[i] - ma.mean) * (b[i] - mb.mean);
        cov /= df * PERF_CAST_(double, na);
    } else {
        double wa = theta * theta * va, all = wa + vb;
        df = all > 0.0 ? all * all / (wa * wa / df + vb * vb / PERF_CAST_(double, nb - 1)) : df;
    }
    t2 = perf_t_quantile(1.0 - tail, df);
    t2 *= t2;
    qa = ma.mean * ma.mean - t2 * va;               /* the ratios theta with                      */
    qb = ma.mean * mb.mean - t2 * cov;              /* qa theta^2 - 2 qb theta + qc <= 0          */
    qc = mb.mean * mb.mean - t2 * vb;
    root = qb * qb - qa * qc;
    if (!(qa > 0.0))
        return r;
    root = root > 0.0 ? perf_sqrt(root) : 0.0;
    r.high = perf_log((qb + root) / qa);
    r.low = qb > root ? perf_log((qb - root) / qa) : -PERF_INF_;
    return r;
}

PERF_FN double perf_metric_p_(perf_metric m)
{
    return m == PERF_METRIC_P99 ? 0.99 : m == PERF_METRIC_P95 ? 0.95 : 0.5;
}

/* A verdict that says nothing yet, with the rule it will be held against. */
PERF_FN perf_verdict perf_verdict_start_(const perf_compare_opts *o)
{
    perf_verdict v = PERF_ZERO;

    v.decision = PERF_INCONCLUSIVE;
    v.reason = "no measurements";
    v.rule = o->rule;
    v.threshold = perf_rule_threshold(&o->rule);
    v.confidence = o->confidence;
    v.ratio.high = v.speedup.high = PERF_INF_;
    v.ratio.estimate = v.speedup.estimate = PERF_NAN_;
    v.mde = v.more = PERF_INF_;
    if (perf_is_nan_(v.threshold) || perf_is_nan_(v.confidence) || perf_is_nan_(o->tick) ||
        PERF_CAST_(unsigned, o->rule.metric) > PERF_METRIC_THROUGHPUT ||
        PERF_CAST_(unsigned, o->design) > PERF_DESIGN_SEPARATE) {
        v.status = PERF_EINVAL;
        v.reason = "the rule or an option is out of its range";
    }
    return v;
}

PERF_FN void perf_verdict_guard(perf_verdict *v, const perf_guard *g)
{
    if (!v || !g || (!g->required && !g->seen.compared) || (v->status != PERF_OK && !v->pairs))
        return;                                     /* what was not measured stays so             */
    if (!g->seen.compared) {
        if (v->decision == PERF_ACCEPT) {
            v->decision = PERF_INCONCLUSIVE;
            v->reason = "fast enough, but the required accuracy check was not made";
        }
    } else if (!perf_accuracy_ok(&g->seen, &g->limit)) {
        v->decision = PERF_REJECT;
        v->reason = "the outputs differ by more than the tolerance";
    }
}

/* Fills in the verdict from a log interval that already includes the resolution of the clock. */
PERF_FN void perf_verdict_finish_(perf_verdict *v, perf_interval log_ratio, double n,
                                  const perf_compare_opts *o)
{
    double t = perf_log(v->threshold), h, gap;

    v->ratio.low = perf_exp(log_ratio.low);
    v->ratio.estimate = perf_exp(log_ratio.estimate);
    v->ratio.high = perf_exp(log_ratio.high);
    v->speedup.low = perf_exp(-log_ratio.high);
    v->speedup.estimate = perf_exp(-log_ratio.estimate);
    v->speedup.high = perf_exp(-log_ratio.low);
    h = 0.5 * (log_ratio.high - log_ratio.low);
    if (perf_is_finite_(h))                         /* 2.80 = z(.975) + z(.80)                    */
        v->mde = perf_exp(h * (2.80 / 1.96)) - 1.0;
    if (log_ratio.high < t) {
        v->decision = PERF_ACCEPT;
        v->reason = "the whole interval clears the threshold";
    } else if (log_ratio.low > t) {
        v->decision = PERF_REJECT;
        v->reason = "the whole interval misses the threshold";
    } else {
        v->decision = PERF_INCONCLUSIVE;
        v->reason = perf_is_finite_(h) ? "the interval contains the threshold"
                                       : "too few measurements for an interval";
    }
    v->more = 0.0;
    if (v->decision == PERF_INCONCLUSIVE) {
        double min = PERF_CAST_(double,
                                perf_quantile_min_count(perf_metric_p_(v->rule.metric),
                                                        v->confidence));
        gap = log_ratio.estimate - t;
        gap = gap < 0.0 ? -gap : gap;
        v->more = PERF_INF_;
        if (!perf_is_finite_(h))
            v->more = min > n ? min - n : n;
        else if (gap > 0.0)                         /* 2.04 = (2.80 / 1.96)^2                     */
            v->more = n * (2.04 * (h / gap) * (h / gap) - 1.0);
        if (v->more < 1.0)
            v->more = 1.0;
    }
    if (!perf_is_finite_(h))
        v->warnings |= PERF_WARN_UNBOUNDED;
    perf_verdict_guard(v, &o->guard);
}

/* What caps a verdict whatever the numbers say. */
PERF_FN void perf_verdict_cap_(perf_verdict *v, const char *reason)
{
    if (v->decision == PERF_INCONCLUSIVE)
        return;
    v->decision = PERF_INCONCLUSIVE;
    v->reason = reason;
    v->more = PERF_INF_;
}

PERF_FN perf_interval perf_widen_(perf_interval x, double by)
{
    by += 1e-12;                                    /* rounding of the logs: ties stay ties       */
    x.low -= by;
    x.high += by;
    return x;
}

/* 1 when one value carries so much of the sum that the mean is its hostage. */
PERF_FN int perf_mean_hostage_(const double *sorted, size_t n)
{
    double sum = 0.0;
    size_t i;

    for (i = 0; i < n; i++)
        sum += sorted[i] / sorted[n - 1];
    return 1.0 - perf_quantile(sorted, n, 0.5) / sorted[n - 1] > 0.1 * sum;
}

/* The log interval of the chosen metric for two arms held in a[] and b[] (both are sorted on the
 * way); d holds log ratios per pair, or is NULL for separate samples.                            */
PERF_FN void perf_verdict_arms_(perf_verdict *v, double *a, size_t na, double *b, size_t nb,
                                double *d, const perf_compare_opts *o)
{
    perf_interval r = {0.0, 0.0, 0.0};
    perf_metric   metric = o->rule.metric;
    double        p = perf_metric_p_(metric), tail = 0.5 - 0.5 * o->confidence, tick, shrink = 1.0;
    int           typical = metric == PERF_METRIC_PAIR || metric == PERF_METRIC_MEMORY ||
                            metric == PERF_METRIC_THROUGHPUT;

    if (metric == PERF_METRIC_MEAN) {
        r = perf_mean_ratio_(a, na, b, nb, tail, d != PERF_NULL_);
    } else if (d && !typical) {                     /* needs the pairs: before sorting            */
        double *s = d;                              /* the log ratios are not needed here         */
        double  qa, qb;
        memcpy(s, a, na * sizeof *a);
        perf_sort_values(s, na);
        qa = perf_quantile(s, na, p);
        memcpy(s, b, nb * sizeof *b);
        perf_sort_values(s, nb);
        qb = perf_quantile(s, nb, p);
        shrink = perf_pair_shrink_(a, b, na, qa, qb, p);
    }
    perf_sort_values(a, na);
    perf_sort_values(b, nb);
    tick = perf_tick_log_(a, na, b, nb, o->tick);
    if (metric == PERF_METRIC_MEAN && (perf_mean_hostage_(a, na) || perf_mean_hostage_(b, nb)))
        v->warnings |= PERF_WARN_MEAN;
    if (d && typical)
        r = perf_signed_rank_(d, na, tail, a);      /* a is free now                              */
    else if (metric != PERF_METRIC_MEAN)
        r = perf_quantile_ratio_(a, na, b, nb, p, tail, shrink);
    if (tick > 0.0 && tick > 0.1 * (r.high - r.low))
        v->warnings |= PERF_WARN_RESOLUTION;
    v->pairs = na < nb ? na : nb;
    v->baseline_values = d ? 0 : na;
    v->candidate_values = d ? 0 : nb;
    perf_verdict_finish_(v, perf_widen_(r, tick), PERF_CAST_(double, v->pairs), o);
    if (v->warnings & PERF_WARN_MEAN)
        perf_verdict_cap_(v, "one value carries over 10 % of the sum: the mean is not identified");
}

PERF_FN int perf_is_duration_(double x)
{
    return perf_is_finite_(x) && x > 0.0;
}

PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    perf_verdict      v = perf_verdict_start_(&o);
    double            local[3 * 128], *a, *b, *d;
    size_t            i, k = 0;

    if (v.status != PERF_OK)
        return v;
    if (!n || !baseline || !candidate) {
        v.status = n ? PERF_EINVAL : PERF_ENODATA;
        return v;
    }
    a = n > PERF_CAST_(size_t, -1) / 32 ? PERF_CAST_(double *, PERF_NULL_)
                                        : perf_scratch_(local, 3 * 128, 3 * n);
    if (!a) {
        v.status = PERF_ENOMEM;
        return v;
    }
    if (o.rule.metric == PERF_METRIC_THROUGHPUT) {  /* rates: the larger one costs less           */
        const double *t = baseline;
        baseline = candidate;
        candidate = t;
    }
    b = a + n;
    d = b + n;
    for (i = 0; i < n; i++) {
        if (!perf_is_duration_(baseline[i]) || !perf_is_duration_(candidate[i]))
            continue;
        a[k] = baseline[i];
        b[k] = candidate[i];
        d[k] = perf_log(candidate[i]) - perf_log(baseline[i]);
        k++;
    }
    v.bad = n - k;
    if (k)
        perf_verdict_arms_(&v, a, k, b, k, d, &o);
    perf_scratch_free_(a, local);
    if (v.bad) {
        v.status = k ? PERF_ERANGE : PERF_ENODATA;
        v.warnings |= PERF_WARN_BAD_VALUES;
        perf_verdict_cap_(&v, "some values are no positive numbers: measure again");
    }
    if (o.design == PERF_DESIGN_SEPARATE) {
        v.warnings |= PERF_WARN_ORDER;
        perf_verdict_cap_(&v, "not interleaved: a drift between the two runs would look the same");
    }
    return v;
}

PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    perf_verdict      v = perf_verdict_start_(&o);
    double            local[256], *a, *b;
    size_t            i, na = 0, nk = 0;

    if (v.status != PERF_OK)
        return v;
    if (!nb || !nc || !baseline || !candidate) {
        v.status = nb && nc ? PERF_EINVAL : PERF_ENODATA;
        return v;
    }
    if (o.rule.metric == PERF_METRIC_THROUGHPUT) {
        const double *t = baseline;
        size_t        c = nb;
        baseline = candidate;
        candidate = t;
        nb = nc;
        nc = c;
    }
    a = nb > PERF_CAST_(size_t, -1) / 32 || nc > PERF_CAST_(size_t, -1) / 32
            ? PERF_CAST_(double *, PERF_NULL_)
            : perf_scratch_(local, 256, nb + nc);
    if (!a) {
        v.status = PERF_ENOMEM;
        return v;
    }
    b = a + nb;
    for (i = 0; i < nb; i++)
        if (perf_is_duration_(baseline[i]))
            a[na++] = baseline[i];
    for (i = 0; i < nc; i++)
        if (perf_is_duration_(candidate[i]))
            b[nk++] = candidate[i];
    v.bad = nb - na + nc - nk;
    if (na && nk)
        perf_verdict_arms_(&v, a, na, b, nk, PERF_CAST_(double *, PERF_NULL_), &o);
    perf_scratch_free_(a, local);
    if (v.bad) {
        v.status = na && nk ? PERF_ERANGE : PERF_ENODATA;
        v.warnings |= PERF_WARN_BAD_VALUES;
        perf_verdict_cap_(&v, "some values are no positive numbers: measure again");
    }
    if (o.design != PERF_DESIGN_RANDOM) {
        v.warnings |= PERF_WARN_ORDER;
        perf_verdict_cap_(&v, "not interleaved: a drift between the two runs would look the same");
    }
    return v;
}

PERF_FN const char *perf_decision_text(perf_decision d)
{
    return d == PERF_ACCEPT ? "ACCEPT" : d == PERF_REJECT ? "REJECT" : "INCONCLUSIVE";
}

/* Decimals that show two digits of a width: 0.37 -> 2, 0.0021 -> 4; 1 to 5. */
PERF_FN int perf_digits_of_(double width)
{
    int digits = 1;

    while (digits < 5 && width < 10.0) {
        width *= 10.0;
        digits++;
    }
    return digits > 2 ? digits - 1 : digits;
}

PERF_FN void perf_put_factor_(perf_out_ *o, double x, int digits)
{
    if (!perf_is_finite_(x)) {
        perf_put_(o, perf_is_nan_(x) ? "unknown" : "unbounded");
        return;
    }
    if (x > 0.0 && x < 0.001) {                 /* as 3.33e-7, where the decimals would all be 0  */
        int e = 0;
        for (; x < 1.0; e++)
            x *= 10.0;
        perf_put_fixed_(o, x, 2);
        perf_put_(o, "e-");
        perf_put_u64_(o, PERF_CAST_(uint64_t, e));
    } else {
        perf_put_fixed_(o, x, digits);
    }
    perf_put_char_(o, 'x');
}

PERF_FN void perf_put_percent_(perf_out_ *o, double ratio, int digits)
{
    double x = (ratio - 1.0) * 100.0;

    if (!perf_is_finite_(x)) {
        perf_put_(o, "unbounded");
        return;
    }
    if (x >= 0.0)
        perf_put_char_(o, '+');
    perf_put_fixed_(o, x, digits);
    perf_put_(o, " %");
}

PERF_FN void perf_put_rule_(perf_out_ *o, const perf_rule *r)
{
    static const char *const what[] = {"time", "median", "p95", "p99", "mean", "memory",
                                       "throughput"};
    const char *m = PERF_CAST_(unsigned, r->metric) < 7 ? what[r->metric] : "metric";

    if (r->kind == PERF_RULE_SPEEDUP) {
        perf_put_(o, r->metric == PERF_METRIC_PAIR ? "speed-up" : m);
        perf_put_(o, r->metric == PERF_METRIC_PAIR ? " >= " : " better by >= ");
        perf_put_fixed_(o, r->amount, r->amount * 10.0 < 1e6 &&
                        r->amount * 10.0 > PERF_CAST_(double, PERF_CAST_(int64_t,
                        r->amount * 10.0 + 1e-9)) + 1e-6 ? 3 : 1);
        perf_put_char_(o, 'x');
    } else {
        perf_put_(o, m);
        perf_put_(o, r->kind == PERF_RULE_REDUCTION ? " down by >= " : " no more than ");
        perf_put_fixed_(o, r->amount, r->amount < 10.0 ? 1 : 0);
        perf_put_(o, r->kind == PERF_RULE_REDUCTION ? " %" : " % worse");
    }
}

PERF_FN void perf_put_interval_(perf_out_ *o, const perf_verdict *v, int speedup)
{
    const perf_interval *x = speedup ? &v->speedup : &v->ratio;
    int digits = perf_digits_of_((speedup ? 1.0 : 100.0) * (x->high - x->low));
    void (*put)(perf_out_ *, double, int) = speedup ? perf_put_factor_ : perf_put_percent_;

    if (!perf_is_finite_(x->high) || !(v->ratio.low > 0.0) || !perf_is_finite_(v->ratio.high)) {
        put(o, x->estimate, 2);
        perf_put_(o, " (no interval yet)");
        return;
    }
    put(o, x->estimate, digits);
    perf_put_(o, " (");
    perf_put_fixed_(o, v->confidence * 100.0, v->confidence > 0.9999 ? 4
                                              : v->confidence > 0.991 ? 2 : 0);
    perf_put_(o, " % CI ");
    put(o, x->low, digits);
    perf_put_(o, " to ");
    put(o, x->high, digits);
    perf_put_char_(o, ')');
}

PERF_FN const char *perf_verdict_text(perf_verdict *v)
{
    perf_out_ o;
    uint64_t  more;

    if (!v)
        return "";
    o.p = v->text;
    o.len = 0;
    o.cap = sizeof v->text;
    v->text[0] = '\0';
    perf_put_(&o, perf_decision_text(v->decision));
    perf_put_(&o, ": ");
    if (!v->pairs) {
        perf_put_(&o, "not measured: ");
        perf_put_(&o, v->reason ? v->reason : perf_status_text(v->status));
        return v->text;
    }
    if (v->rule.kind == PERF_RULE_SPEEDUP)
        perf_put_(&o, "speed-up ");
    perf_put_interval_(&o, v, v->rule.kind == PERF_RULE_SPEEDUP);
    perf_put_(&o, ", asked: ");
    perf_put_rule_(&o, &v->rule);
    perf_put_(&o, "; ");
    if (v->baseline_values) {
        perf_put_u64_(&o, v->baseline_values);
        perf_put_(&o, " and ");
        perf_put_u64_(&o, v->candidate_values);
        perf_put_(&o, " values; ");
    } else {
        perf_put_u64_(&o, v->pairs);
        perf_put_(&o, v->pairs == 1 ? " pair; " : " pairs; ");
    }
    perf_put_(&o, v->reason ? v->reason : "no reason given");
    if (v->decision == PERF_INCONCLUSIVE && v->more > 0.0 && v->more < 1e6) {
        more = PERF_CAST_(uint64_t, v->more);
        perf_put_(&o, "; about ");
        perf_put_u64_(&o, more + (PERF_CAST_(double, more) < v->more));
        perf_put_(&o, " more would probably settle it");
    }
    return v->text;
}

/* Floating-point bits as integers in numeric order, so that a difference counts representable steps. */
PERF_FN double perf_ulp_gap_(uint64_t a, uint64_t b, int bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);

    a = a & sign ? sign - (a & (sign - 1)) : sign + a;
    b = b & sign ? sign - (b & (sign - 1)) : sign + b;
    return PERF_CAST_(double, a > b ? a - b : b - a);
}

PERF_FN void perf_accuracy_add_(perf_accuracy *r, double ref, double out, double ulp)
{
    double d = out - ref, mag = ref < 0.0 ? -ref : ref;

    r->compared++;
    if (perf_is_nan_(ref) && perf_is_nan_(out))
        return;                                     /* both say "not a number": they agree        */
    if (!perf_is_finite_(ref) || !perf_is_finite_(out)) {
        if (ulp > 0.0 || perf_is_nan_(ref) || perf_is_nan_(out))
            r->max_abs = r->max_rel = r->max_ulp = PERF_NAN_;
        return;
    }
    if (perf_is_nan_(r->max_abs))
        return;
    d = d < 0.0 ? -d : d;
    if (d > r->max_abs)
        r->max_abs = d;
    if (ulp > r->max_ulp)
        r->max_ulp = ulp;
    if (d > 0.0 && (!(mag > 0.0) || d / mag > r->max_rel))
        r->max_rel = mag > 0.0 ? d / mag : PERF_INF_;
}

PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n)
{
    perf_accuracy r = PERF_ZERO;
    size_t        i;

    for (i = 0; reference && out && i < n; i++)
        perf_accuracy_add_(&r, reference[i], out[i],
                           perf_ulp_gap_(perf_bits_(reference[i]), perf_bits_(out[i]), 64));
    return r;
}

PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n)
{
    perf_accuracy r = PERF_ZERO;
    uint32_t      a, b;
    size_t        i;

    for (i = 0; reference && out && i < n; i++) {
        memcpy(&a, &reference[i], sizeof a);
        memcpy(&b, &out[i], sizeof b);
        perf_accuracy_add_(&r, PERF_CAST_(double, reference[i]), PERF_CAST_(double, out[i]),
                           perf_ulp_gap_(a, b, 32));
    }
    return r;
}

/* The value of a 16-bit float with `exp_bits` exponent bits: 5 is IEEE half, 8 is bfloat16. */
PERF_FN double perf_small_float_(uint16_t h, int exp_bits)
{
    int    man_bits = 15 - exp_bits, bias = (1 << (exp_bits - 1)) - 1;
    int    e = (h >> man_bits) & ((1 << exp_bits) - 1), m = h & ((1 << man_bits) - 1);
    double x;

    if (e == (1 << exp_bits) - 1)
        x = m ? PERF_NAN_ : PERF_INF_;
    else if (e)
        x = perf_scale2_(PERF_CAST_(double, m + (1 << man_bits)), e - bias - man_bits);
    else
        x = perf_scale2_(PERF_CAST_(double, m), 1 - bias - man_bits);
    return h >> 15 ? -x : x;
}

PERF_FN perf_accuracy perf_accuracy_16_(const uint16_t *ref, const uint16_t *out, size_t n,
                                        int exp_bits)
{
    perf_accuracy r = PERF_ZERO;
    size_t        i;

    for (i = 0; ref && out && i < n; i++)
        perf_accuracy_add_(&r, perf_small_float_(ref[i], exp_bits),
                           perf_small_float_(out[i], exp_bits), perf_ulp_gap_(ref[i], out[i], 16));
    return r;
}

PERF_FN perf_accuracy perf_accuracy_f16(const uint16_t *reference, const uint16_t *out, size_t n)
{
    return perf_accuracy_16_(reference, out, n, 5);
}

PERF_FN perf_accuracy perf_accuracy_bf16(const uint16_t *reference, const uint16_t *out, size_t n)
{
    return perf_accuracy_16_(reference, out, n, 8);
}

PERF_FN int perf_accuracy_ok(const perf_accuracy *seen, const perf_tolerance *limit)
{
    perf_tolerance none = PERF_ZERO;

    if (!seen || !seen->compared || perf_is_nan_(seen->max_abs))
        return 0;
    if (!limit)
        limit = &none;
    if (!(limit->abs > 0.0) && !(limit->rel > 0.0) && !(limit->ulp > 0.0))
        return !(seen->max_ulp > 0.0);
    return (!(limit->abs > 0.0) || seen->max_abs <= limit->abs) &&
           (!(limit->rel > 0.0) || seen->max_rel <= limit->rel) &&
           (!(limit->ulp > 0.0) || seen->max_ulp <= limit->ulp);
}

/* ---- families, runs, controls, planning ---- */

/* Skips blanks and, without regard to case, `word`; NULL when it is not there. */
PERF_FN const char *perf_skip_word_(const char *s, const char *word)
{
    while (*s == ' ' || *s == '\t')
        s++;
    for (; *word; word++, s++)
        if ((*s >= 'A' && *s <= 'Z' ? *s + 32 : *s) != *word)
            return PERF_CAST_(const char *, PERF_NULL_);
    return s;
}

/* A plain decimal number; NULL when there is none. */
PERF_FN const char *perf_skip_number_(const char *s, double *out)
{
    double x = 0.0, unit = 1.0;
    int    digits = 0;

    s = perf_skip_word_(s, "");
    for (; *s >= '0' && *s <= '9' && digits < 15; s++, digits++)
        x = 10.0 * x + (*s - '0');
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9' && digits < 15; s++, digits++) {
            x = 10.0 * x + (*s - '0');
            unit *= 10.0;
        }
    *out = x / unit;
    return digits && digits < 15 ? s : PERF_CAST_(const char *, PERF_NULL_);
}

PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out)
{
    static const char *const metric[] = {"time", "p50", "p95", "p99", "mean", "memory",
                                         "throughput"};
    perf_rule   r = PERF_ZERO;
    const char *s = text, *t;
    int         i;

    if (!s || !out)
        return PERF_EINVAL;
    t = perf_skip_word_(s, "speedup");
    if (!t)
        t = perf_skip_word_(s, "speed-up");
    if (t) {
        r.kind = PERF_RULE_SPEEDUP;
        s = perf_skip_word_(t, ">=");
    } else if ((t = perf_skip_word_(s, "no regression")) != PERF_NULL_) {
        r.kind = PERF_RULE_NO_REGRESSION;
        s = perf_skip_word_(t, "beyond");
    } else {
        t = perf_skip_word_(s, "latency");
        for (i = 0; !t && i < 7; i++) {
            t = perf_skip_word_(s, metric[i]);
            if (t)
                r.metric = PERF_CAST_(perf_metric, i);
        }
        if (t)
            s = t;
        r.kind = PERF_RULE_REDUCTION;
        s = perf_skip_word_(s, "down");
        s = s ? perf_skip_word_(s, ">=") : s;
    }
    s = s ? perf_skip_number_(s, &r.amount) : s;
    if (!s || !(r.amount > 0.0))
        return PERF_EFORMAT;
    if ((t = perf_skip_word_(s, r.kind == PERF_RULE_SPEEDUP ? "x" : "%")) != PERF_NULL_)
        s = t;
    if ((t = perf_skip_word_(s, "on")) != PERF_NULL_) {
        for (i = 0; i < 7 && !perf_skip_word_(t, metric[i]); i++)
            ;
        if (i == 7)
            return PERF_EFORMAT;
        r.metric = PERF_CAST_(perf_metric, i);
        s = perf_skip_word_(t, metric[i]);
    }
    if (*perf_skip_word_(s, "") || perf_is_nan_(perf_rule_threshold(&r)))
        return PERF_EFORMAT;
    *out = r;
    return PERF_OK;
}

PERF_FN perf_decision perf_verdict_all(const perf_verdict *v, size_t n)
{
    perf_decision d = v && n ? PERF_ACCEPT : PERF_INCONCLUSIVE;
    size_t        i;

    for (i = 0; v && i < n; i++)
        if (v[i].decision == PERF_REJECT)
            return PERF_REJECT;
        else if (v[i].decision != PERF_ACCEPT)
            d = PERF_INCONCLUSIVE;
    return d;
}

PERF_FN double perf_compare_pairs_p(const double *baseline, const double *candidate, size_t n,
                                    const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    perf_verdict      v;
    double            lo = perf_log(1e-6), hi = perf_log(0.5), mid;     /* log of 1 - confidence  */
    int               i;

    memset(&o.guard, 0, sizeof o.guard);
    o.confidence = 0.5;
    v = perf_compare_pairs(baseline, candidate, n, &o);
    if (v.decision == PERF_INCONCLUSIVE)
        return 1.0;
    for (i = 0; i < 30; i++) {
        mid = 0.5 * (lo + hi);
        o.confidence = 1.0 - perf_exp(mid);
        v = perf_compare_pairs(baseline, candidate, n, &o);
        if (v.decision == PERF_INCONCLUSIVE)
            lo = mid;
        else
            hi = mid;
    }
    return perf_exp(hi);
}

/* Both adjustments: order[] sorts p ascending, then Holm takes running maxima of (n - i) p from
 * the smallest up, Benjamini-Hochberg running minima of n p / (i + 1) from the largest down.     */
PERF_FN perf_status perf_adjust_(const double *p, size_t n, double *out, int holm)
{
    double  local[2 * 256], *sorted, *adjusted, run = holm ? 0.0 : 1.0, a, nn = PERF_CAST_(double, n);
    size_t  i, k, low, high;

    if (!p || !out || !n)
        return n ? PERF_EINVAL : PERF_ENODATA;
    sorted = n > PERF_CAST_(size_t, -1) / 32 ? PERF_CAST_(double *, PERF_NULL_)
                                             : perf_scratch_(local, 2 * 256, 2 * n);
    if (!sorted)
        return PERF_ENOMEM;
    adjusted = sorted + n;
    for (i = 0; i < n; i++)
        sorted[i] = p[i] >= 0.0 && p[i] <= 1.0 ? p[i] : 1.0;
    perf_sort_values(sorted, n);
    for (k = 0; k < n; k++) {
        i = holm ? k : n - 1 - k;
        a = sorted[i] * (holm ? nn - PERF_CAST_(double, i) : nn / (PERF_CAST_(double, i) + 1.0));
        a = a > 1.0 ? 1.0 : a;
        run = holm ? (a > run ? a : run) : (a < run ? a : run);
        adjusted[i] = run;
    }
    for (i = 0; i < n; i++) {                       /* equal p share a value: look up the first   */
        a = p[i] >= 0.0 && p[i] <= 1.0 ? p[i] : 1.0;
        low = 0;
        high = n;
        while (low < high) {
            k = low + (high - low) / 2;
            if (sorted[k] < a)
                low = k + 1;
            else
                high = k;
        }
        out[i] = adjusted[low];
    }
    perf_scratch_free_(sorted, local);
    return PERF_OK;
}

PERF_FN perf_status perf_adjust_holm(const double *p, size_t n, double *out)
{
    return perf_adjust_(p, n, out, 1);
}

PERF_FN perf_status perf_adjust_bh(const double *p, size_t n, double *out)
{
    return perf_adjust_(p, n, out, 0);
}

/* Median of the values of one run; NaN when it has none or one that is no positive number. */
PERF_FN double perf_run_median_(const double *x, const uint32_t *run, size_t n, uint32_t id,
                                double *pool)
{
    size_t i, k = 0;

    for (i = 0; i < n; i++)
        if (run[i] == id) {
            if (!perf_is_duration_(x[i]))
                return PERF_NAN_;
            pool[k++] = x[i];
        }
    perf_sort_values(pool, k);
    return perf_quantile(pool, k, 0.5);
}

PERF_FN perf_verdict perf_compare_runs(const double *baseline, const uint32_t *baseline_run,
                                       size_t nb, const double *candidate,
                                       const uint32_t *candidate_run, size_t nc,
                                       const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    perf_verdict      v = perf_verdict_start_(&o);
    size_t            n = nb > nc ? nb : nc, i, j, pairs = 0;
    double           *pool;

    if (v.status != PERF_OK)
        return v;
    if (!nb || !nc || !baseline || !baseline_run || !candidate || !candidate_run) {
        v.status = nb && nc ? PERF_EINVAL : PERF_ENODATA;
        return v;
    }
    pool = n > PERF_CAST_(size_t, -1) / 32 ? PERF_CAST_(double *, PERF_NULL_)
                                           : PERF_CAST_(double *, PERF_MALLOC(3 * n * sizeof *pool));
    if (!pool) {
        v.status = PERF_ENOMEM;
        return v;
    }
    for (i = 0; i < nb; i++) {                      /* each run id at its first appearance        */
        uint32_t id = baseline_run[i];
        for (j = 0; j < i && baseline_run[j] != id; j++)
            ;
        if (j < i)
            continue;
        for (j = 0; j < nc && candidate_run[j] != id; j++)
            ;
        if (j == nc)
            continue;
        pool[n + pairs] = perf_run_median_(baseline, baseline_run, nb, id, pool);
        pool[2 * n + pairs] = perf_run_median_(candidate, candidate_run, nc, id, pool);
        pairs++;
    }
    if (o.rule.metric == PERF_METRIC_P50 || o.rule.metric == PERF_METRIC_MEAN)
        o.rule.metric = PERF_METRIC_PAIR;           /* of medians of runs: pairs are the tool     */
    v = perf_compare_pairs(pool + n, pool + 2 * n, pairs, &o);
    PERF_FREE(pool);
    if (pairs < 6) {
        v.warnings |= PERF_WARN_UNBOUNDED;
        perf_verdict_cap_(&v, "fewer than 6 pairs of runs: the run is the unit");
    }
    return v;
}

PERF_FN int perf_verdict_control(perf_verdict *v, const double *a1, const double *a2, size_t n)
{
    perf_compare_opts o = perf_compare_opts_default();
    perf_verdict      c;

    if (!v)
        return 0;
    o.confidence = v->confidence;
    o.rule = perf_rule_speedup(1.0, PERF_METRIC_PAIR);
    c = perf_compare_pairs(a1, a2, n, &o);
    if (c.status == PERF_OK && c.decision == PERF_INCONCLUSIVE)
        return 0;
    perf_verdict_cap_(v, "the control failed: even the same code differed from itself");
    return 1;
}

/* splitmix64 (Steele, Lea, Flood 2014): 64 random bits. */
PERF_FN uint64_t perf_random_(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

PERF_FN double perf_swap_test(const double *baseline, const double *candidate, size_t n, double p,
                              int resamples, uint64_t seed)
{
    double  *a, *b, seen = 0.0, gap;
    uint64_t bits = 0;
    size_t   i, at = PERF_CAST_(size_t, p * PERF_CAST_(double, n));
    int      round, as_large = 0;

    if (!baseline || !candidate || n < 2 || !(p > 0.0 && p < 1.0) ||
        n > PERF_CAST_(size_t, -1) / 32)
        return PERF_NAN_;
    for (i = 0; i < n; i++)
        if (!perf_is_duration_(baseline[i]) || !perf_is_duration_(candidate[i]))
            return PERF_NAN_;
    a = PERF_CAST_(double *, PERF_MALLOC(2 * n * sizeof *a));
    if (!a)
        return PERF_NAN_;
    b = a + n;
    resamples = resamples > 0 ? resamples : 999;
    for (round = 0; round <= resamples; round++) {  /* round 0: as measured                       */
        for (i = 0; i < n; i++) {
            int swap;
            if (i % 64 == 0)
                bits = round ? perf_random_(&seed) : 0;
            swap = PERF_CAST_(int, bits >> (i % 64) & 1);
            a[i] = swap ? candidate[i] : baseline[i];
            b[i] = swap ? baseline[i] : candidate[i];
        }
        gap = perf_log(perf_select_(b, n, at)) - perf_log(perf_select_(a, n, at));
        gap = gap < 0.0 ? -gap : gap;
        if (!round)
            seen = gap;
        else
            as_large += gap >= seen * (1.0 - 1e-12);
    }
    PERF_FREE(a);
    return (as_large + 1.0) / (resamples + 1.0);
}

PERF_FN double perf_pairs_needed(double ratio, double threshold, double sd, double chance)
{
    double gap = perf_log(ratio / threshold), z;

    if (!(chance > 0.0))
        chance = 0.8;
    if (perf_is_nan_(gap) || !(sd >= 0.0) || !perf_is_finite_(sd) || !(chance < 1.0))
        return PERF_NAN_;
    z = 1.959963984540054 + perf_normal_quantile(chance);
    z = 1.047 * (z * sd / gap) * (z * sd / gap);    /* 1.047 = pi / 3: the signed-rank test       */
    if (!(gap < 0.0) && !(gap > 0.0))
        return PERF_INF_;
    return z < 6.0 ? 6.0 : z;
}

PERF_FN double perf_autocorrelation(const double *x, size_t n, size_t lag)
{
    perf_moments_ m;
    double        sum = 0.0, all = 0.0;
    size_t        i;

    if (!x || lag >= n)
        return PERF_NAN_;
    m = perf_moments_of_(x, n);
    for (i = 0; i < n; i++) {
        double d = x[i] - m.mean;
        all += d * d;
        if (i + lag < n)
            sum += d * (x[i + lag] - m.mean);
    }
    return all > 0.0 ? sum / all : PERF_NAN_;
}

/* xoshiro256++ (Blackman and Vigna 2021). */
PERF_FN uint64_t perf_xoshiro_(uint64_t *s)
{
    uint64_t sum = s[0] + s[3], r = ((sum << 23) | (sum >> 41)) + s[0], t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return r;
}

PERF_FN perf_interval perf_bootstrap_limits_(double *draw, size_t r, double estimate, double c)
{
    perf_interval q;

    perf_sort_values(draw, r);
    q.low = perf_quantile(draw, r, 0.5 - 0.5 * c);
    q.estimate = estimate;
    q.high = perf_quantile(draw, r, 0.5 + 0.5 * c);
    return q;
}

PERF_FN perf_interval perf_bootstrap_mean(const double *x, size_t n, size_t resamples,
                                          double confidence, uint64_t seed)
{
    perf_interval q = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        c = perf_confidence_(confidence), *draw;
    uint64_t      s[4], t[4], m = n;
    size_t        r, i;

    resamples = resamples ? resamples : 9999;
    if (!x || !n || n > 0xffffffffu || perf_is_nan_(c) || resamples > PERF_CAST_(size_t, -1) / 16)
        return q;
    draw = PERF_CAST_(double *, PERF_MALLOC(resamples * sizeof *draw));
    if (!draw)
        return q;
    for (i = 0; i < 4; i++) {
        s[i] = perf_random_(&seed);
        t[i] = perf_random_(&seed);
    }
    for (r = 0; r < resamples; r++) {
        double a = 0.0, b = 0.0, c2 = 0.0, d = 0.0; /* two generators, two indices from each      */
        for (i = 0; i + 3 < n; i += 4) {            /* number, four sums: no chain to wait for    */
            uint64_t y = perf_xoshiro_(s), z = perf_xoshiro_(t);
            a += x[(y >> 32) * m >> 32];
            b += x[(y & 0xffffffffu) * m >> 32];
            c2 += x[(z >> 32) * m >> 32];
            d += x[(z & 0xffffffffu) * m >> 32];
        }
        for (; i < n; i++)
            a += x[(perf_xoshiro_(s) >> 32) * m >> 32];
        draw[r] = (a + b + c2 + d) / PERF_CAST_(double, n);
    }
    q = perf_bootstrap_limits_(draw, resamples, perf_moments_of_(x, n).mean, c);
    PERF_FREE(draw);
    return q;
}

PERF_FN double perf_uniform_(uint64_t *s)
{
    return (PERF_CAST_(double, perf_xoshiro_(s) >> 11) + 0.5) * 1.1102230246251565e-16;
}

/* A gamma variate of shape a >= 1 by Marsaglia and Tsang (2000); its normal by inversion. */
PERF_FN double perf_gamma_draw_(uint64_t *s, double a)
{
    double d = a - 1.0 / 3.0, k = 1.0 / (3.0 * perf_sqrt(d)), x, v, u;

    for (;;) {
        x = perf_normal_quantile(perf_uniform_(s));
        v = 1.0 + k * x;
        if (!(v > 0.0))
            continue;
        v = v * v * v;
        u = perf_uniform_(s);
        if (u < 1.0 - 0.0331 * x * x * x * x ||
            perf_log(u) < 0.5 * x * x + d * (1.0 - v + perf_log(v)))
            return d * v;
    }
}

PERF_FN perf_interval perf_bootstrap_quantile(const double *sorted, size_t n, double p,
                                              size_t resamples, double confidence, uint64_t seed)
{
    perf_interval q = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        c = perf_confidence_(confidence), *draw, k, rest, x, y;
    uint64_t      s[4];
    size_t        r, i;

    resamples = resamples ? resamples : 9999;
    if (!sorted || !n || perf_is_nan_(c) || !(p >= 0.0 && p <= 1.0) ||
        resamples > PERF_CAST_(size_t, -1) / 16)
        return q;
    draw = PERF_CAST_(double *, PERF_MALLOC(resamples * sizeof *draw));
    if (!draw)
        return q;
    for (i = 0; i < 4; i++)
        s[i] = perf_random_(&seed);
    /* The k-th order statistic of n uniform draws is Beta(k, n - k + 1), and a resample's k-th value
     * is the one at that share of the sample: one draw replaces n.                               */
    k = PERF_CAST_(double, PERF_CAST_(int64_t, p * PERF_CAST_(double, n - 1) + 1.5));
    rest = PERF_CAST_(double, n) - k + 1.0;
    for (r = 0; r < resamples; r++) {
        x = perf_gamma_draw_(s, k);
        y = perf_gamma_draw_(s, rest);
        i = PERF_CAST_(size_t, x / (x + y) * PERF_CAST_(double, n));
        draw[r] = sorted[i < n ? i : n - 1];
    }
    q = perf_bootstrap_limits_(draw, resamples, perf_quantile(sorted, n, p), c);
    PERF_FREE(draw);
    return q;
}

/* ---- sequential ---- */

/* Bucket of |x|: 8 a factor of two from 2^-40 to 2^8, the ends take what lies beyond. */
PERF_FN uint32_t perf_seq_bucket_(double x)
{
    uint64_t b = (perf_bits_(x) & UINT64_C(0x7fffffffffffffff)) >> 49;
    uint64_t first = (1023 - 40) * 8;

    return b < first ? 0u : b - first >= PERF_SEQ_BUCKETS_ ? PERF_SEQ_BUCKETS_ - 1u
                                                           : PERF_CAST_(uint32_t, b - first);
}

/* Adds |x| and returns the running median of all |x| so far, this one included: it depends on no
 * sign, so a bet scaled by it stays fair.  Right to 1/16, which costs the bet nothing.           */
PERF_FN double perf_seq_scale_(perf_seq_side_ *s, double x)
{
    uint32_t b = perf_seq_bucket_(x), half;

    s->seen[b]++;
    s->n++;
    if (b < s->median)
        s->below++;
    half = s->n - s->n / 2;
    while (s->below >= half)
        s->below -= s->seen[--s->median];
    while (s->below + s->seen[s->median] < half)
        s->below += s->seen[s->median++];
    return perf_from_bits_((PERF_CAST_(uint64_t, s->median) + (1023 - 40) * 8) << 49) * 1.0625;
}

/* One round: stake a fixed share of each capital on the sign `toward`.  Returns the mean capital,
 * which exceeds L with probability at most 1/L if the signs were fair (Ville 1939).  The stakes
 * cover weak and strong effects (a mixture needs no tuning).                                     */
PERF_FN double perf_seq_bet_(perf_seq_side_ *s, double x, double toward)
{
    static const double stake[PERF_SEQ_BETS_] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0};
    double psi = x / perf_seq_scale_(s, x) * toward, sum = 0.0;
    int    i;

    psi = psi > 1.0 ? 1.0 : psi < -1.0 ? -1.0 : psi;
    for (i = 0; i < PERF_SEQ_BETS_; i++)
        sum += s->capital[i] *= 1.0 + stake[i] * psi;
    return sum / PERF_SEQ_BETS_;
}

PERF_FN void perf_seq_side_start_(perf_seq_side_ *s)
{
    int i;

    memset(s, 0, sizeof *s);
    for (i = 0; i < PERF_SEQ_BETS_; i++)
        s->capital[i] = 1.0;
}

PERF_FN perf_status perf_seq_init(perf_seq *s, const perf_rule *rule, double confidence,
                                  double tick)
{
    double t = perf_rule_threshold(rule), c = perf_confidence_(confidence);

    if (!s)
        return PERF_EINVAL;
    memset(s, 0, sizeof *s);
    perf_seq_side_start_(&s->accept);
    perf_seq_side_start_(&s->reject);
    s->level = PERF_INF_;
    if (perf_is_nan_(t) || perf_is_nan_(c) || !(tick >= 0.0))
        return PERF_EINVAL;
    s->log_threshold = perf_log(t);
    s->tick = tick + 1e-12;                         /* rounding of the logs: ties stay ties       */
    s->level = 2.0 / (1.0 - c);
    return PERF_OK;
}

PERF_FN perf_decision perf_seq_add(perf_seq *s, double baseline, double candidate)
{
    double d;

    if (!s)
        return PERF_INCONCLUSIVE;
    if (!perf_is_duration_(baseline) || !perf_is_duration_(candidate)) {
        s->bad++;
        return s->decision;
    }
    s->pairs++;
    if (s->decision != PERF_INCONCLUSIVE || s->pairs > 0x7fffffffu)
        return s->decision;
    d = perf_log(candidate) - perf_log(baseline) - s->log_threshold;
    if (perf_seq_bet_(&s->accept, d + s->tick, -1.0) >= s->level)
        s->decision = PERF_ACCEPT;
    if (perf_seq_bet_(&s->reject, d - s->tick, 1.0) >= s->level)
        s->decision = s->decision == PERF_ACCEPT ? PERF_INCONCLUSIVE : PERF_REJECT;
    if (s->decision != PERF_INCONCLUSIVE)
        s->decided_at = s->pairs;
    return s->decision;
}

/* 1 when the bet that the centre lies in direction `toward` of theta was ever won at `level`. */
PERF_FN int perf_seq_excludes_(const double *d, size_t n, double theta, double toward, double level)
{
    perf_seq_side_ s;
    size_t         i;

    perf_seq_side_start_(&s);
    for (i = 0; i < n; i++)
        if (perf_seq_bet_(&s, d[i] - theta, toward) >= level)
            return 1;
    return 0;
}

PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence)
{
    perf_interval r = {-PERF_INF_, PERF_NAN_, PERF_INF_};
    double        c = perf_confidence_(confidence), local[256], *s, far_off, in, out, mid;
    size_t        i;
    int           side, turn;

    if (!log_ratio || !n || perf_is_nan_(c))
        return r;
    s = perf_scratch_(local, 256, n);
    if (!s)
        return r;
    for (i = 0; i < n; i++)
        s[i] = perf_is_finite_(log_ratio[i]) ? log_ratio[i] : 0.0;
    perf_sort_values(s, n);
    r.estimate = perf_quantile(s, n, 0.5);
    far_off = 2.0 * (s[n - 1] - s[0]) + 1.0;
    perf_scratch_free_(s, local);
    for (side = -1; side <= 1; side += 2) {
        in = r.estimate;                            /* not excluded; out is, if anything is       */
        out = in + side * far_off;
        if (!perf_seq_excludes_(log_ratio, n, out, -side, 2.0 / (1.0 - c)))
            continue;
        for (turn = 0; turn < 60 && (out - in) * side > 1e-7 * far_off; turn++) {
            mid = 0.5 * (in + out);
            if (perf_seq_excludes_(log_ratio, n, mid, -side, 2.0 / (1.0 - c)))
                out = mid;
            else
                in = mid;
        }
        if (side < 0)
            r.low = out;
        else
            r.high = out;
    }
    return r;
}

PERF_FN int perf_group_is_look(size_t n)
{
    static const uint16_t look[] = {9, 12, 16, 21, 28, 37, 49, 65, 86, 115, 153, 203, 270, 360, 480};
    size_t i;

    for (i = 0; i < sizeof look / sizeof *look; i++)
        if (n == look[i])
            return 1;
    return 0;
}

PERF_FN perf_verdict perf_compare_group(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts)
{
    perf_compare_opts o = perf_compare_opts_resolved(opts);
    perf_verdict      v = perf_verdict_start_(&o);

    if (v.status == PERF_OK && !(o.confidence > 0.9499 && o.confidence < 0.9501))
        v.status = PERF_EINVAL;
    v.reason = v.status == PERF_OK ? "not one of the planned looks" : v.reason;
    if (v.status != PERF_OK || !perf_group_is_look(n))
        return v;
    o.confidence = 1.0 - 2.0 * 0.00321;
    return perf_compare_pairs(baseline, candidate, n, &o);
}

PERF_END_DECLS

/* MIT License
 *
 * Copyright (c) 2026 The perf.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
#endif /* PERF_SCOPES_ONLY_ */
#endif /* PERF_STATS_H */
