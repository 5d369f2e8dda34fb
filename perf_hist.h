/* perf_hist.h - a histogram that keeps every percentile of any number of values.
 *
 *     perf_hist h = PERF_ZERO;                       // ready: nothing to set up or free
 *     for (i = 0; i < n; i++) perf_hist_add(&h, ns[i]);
 *     printf("p99 = %.0f ns\n", perf_hist_quantile(&h, 0.99));
 *
 * C99, C++11, CUDA, HIP, Cython.  libc only, no -lm, no global state, no clock, no thread.
 * Sections (search for ">>"):  histogram  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_HIST_H
#define PERF_HIST_H

#include "perf_base.h"
#include <string.h>

PERF_BEGIN_DECLS

/* >>histogram ----------------------------------------------------------------------------------
 * A histogram holds any number of unsigned 64-bit values (here: ns, but any unit will do) in
 * buckets whose width grows with the value, so that a percentile is known to a fixed relative
 * error however many values there were.  Bucket edges are those of HdrHistogram.
 *
 * Two forms, one pointer type, the same functions:
 *   perf_hist h = PERF_ZERO;   43 KB, 64-bit counters, percentiles within 2^-8 (0.4 %), and the
 *                              cheapest record: 16 instructions with its loop
 *   perf_hist_init(mem, ...)   precision, range, unit and counter size chosen at run time, in
 *                              memory that you own: 0.1 % over 1 ns..1 h in 69 KB, 1 % in 9.5 KB,
 *                              0.4 % over 200 ns..500 us in 6 KB
 * There is no pointer inside: either form may be copied with memcpy (perf_hist_bytes of its
 * options), sent, mapped by two processes, or live in device memory.
 *
 * Rank rule: quantile q of n values is the value of rank ceil(q * n), at least 1 (nearest rank).
 * The answer is the midpoint of that value's bucket, never outside [min, max]; q = 0 and q = 1
 * give the exact extremes.  Zero is a value like any other.  A value outside the range keeps its
 * count, takes part in every percentile and is answered by the exact extreme.  Negative (from bit
 * 63 up) and NaN values are counted by perf_hist_invalid and take no part.
 *
 * Counts never wrap: at some 9.2e18 values perf_hist_add_n counts the rest as lost, and merging
 * refuses.
 * Threads: one writer and no reader at a time, except where a function says otherwise.
 * No function here allocates, waits, prints or needs <math.h>.                                  */

#define PERF_HIST_NO_DATA (-1.0)    /* what a number is when there are no values: never a time    */
#define PERF_HIST_BITS_    7        /* of the fixed form: 2^7 buckets an octave                   */
#define PERF_HIST_OCTAVES_ 42       /* of the fixed form: 1 ns .. 73 minutes                      */
#define PERF_HIST_FIXED_   (PERF_HIST_OCTAVES_ << PERF_HIST_BITS_)

/* The front of every histogram.  All zero is an empty fixed form.  Counters follow it.
 * A window [lo, lo + width) is surely in range and has an extreme on either side, so one compare
 * admits a value.  Each form has a width of its own: a record meant for one form finds an empty
 * window in the others and takes the slow way.                                                   */
typedef struct perf_hist_head_ {
    uint64_t lo;
    uint64_t width;                 /* of the fixed form                                          */
    uint64_t width64;               /* of caller-owned 64-bit counters                            */
    uint64_t width32;               /* of caller-owned 32-bit counters                            */
    uint64_t sums[4];               /* together the sum of all values, modulo 2^64                */
    uint64_t not_min;               /* ~minimum, so that zero means none                          */
    uint64_t max;
    uint64_t under;                 /* values below the lowest with a bucket: zeros by default    */
    uint64_t over;                  /* values above `highest`                                     */
    uint64_t invalid;               /* negative or NaN                                            */
    uint64_t lost;                  /* records that met a full counter                            */
    uint64_t highest;               /* largest value with a bucket; 0: fixed form                 */
    uint64_t bias;                  /* index = (bits of the double >> shift) - bias               */
    double   unit;                  /* of a stored integer; 0: 1                                  */
    uint32_t counters;
    uint8_t  bits;                  /* K: 2^K buckets an octave                                   */
    uint8_t  bytes;                 /* of a counter: 4 or 8                                       */
    uint8_t  shift;
    uint8_t  reserved;
} perf_hist_head_;

typedef struct perf_hist {          /* read it through the functions below                        */
    perf_hist_head_ head;
    uint64_t        counter[PERF_HIST_FIXED_];
} perf_hist;

/* ---- caller-owned memory ---- */

typedef struct perf_hist_opts {     /* zero = default                                             */
    int      bits;                  /* 0 -> 7   K, 1..14: percentiles within 2^-(K+1); negative:  */
                                    /*          K = 0, an octave a bucket                         */
    int      counter_bytes;         /* 0 -> 4   or 8                                              */
    uint64_t highest;               /* 0 -> 3.6e12 (1 h in ns), then up to the end of its bucket; */
                                    /*          above it values count as `over`                   */
    uint64_t lowest;                /* 0 -> 1   then down to the start of its bucket; below it    */
                                    /*          values count as `under`.  A narrow range is small */
    double   unit;                  /* 0 -> 1   one stored integer is so much: 1e-3 keeps         */
                                    /*          thousandths.  perf_hist_add_double divides by it, */
                                    /*          every double that is read is in your unit again;  */
                                    /*          integers (buckets, lowest, highest) are not       */
} perf_hist_opts;

PERF_FN perf_hist_opts perf_hist_opts_default(void);        /* all zero; for C++11 and Cython     */
PERF_FN perf_hist_opts perf_hist_opts_resolved(const perf_hist_opts *o);    /* what really runs   */

/* Bytes that a histogram with these options needs; 0: the options are out of range. */
PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o);

/* Makes an empty histogram in `mem` (8-byte aligned, yours, needs no freeing) and returns it.
 * NULL: memory too small, misaligned or options out of range.  Do not copy it with `=`, which
 * would copy sizeof(perf_hist) bytes: use perf_hist_copy or memcpy of perf_hist_bytes.           */
PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o);

/* Histogram in memory that somebody else filled (a mapping, a message).  NULL: not one of ours. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes);

/* ---- record ----  `h` must not be NULL; every form of histogram is accepted by every record.
 * The first three: one writer; perf_hist_snapshot may read from other threads or processes at any
 * time.                                                                                          */

/* Inlined for the fixed form.  Keeps the sum. */
PERF_FN void perf_hist_add(perf_hist *h, uint64_t ns);

/* Inlined for 64-bit counters in caller-owned memory.  Keeps the sum. */
PERF_FN void perf_hist_add64(perf_hist *h, uint64_t value);

/* Inlined for 32-bit counters in caller-owned memory.  Keeps no sum: mean and sum then come from
 * the buckets (see there).                                                                       */
PERF_FN void perf_hist_add32(perf_hist *h, uint64_t value);

/* Any number of writers, on the host or on the device; not together with the forms above.  Keeps no
 * sum.  perf_hist_snapshot may read at any time (on the device: after the kernel).               */
PERF_HD_FN void perf_hist_add_shared(perf_hist *h, uint64_t ns);

/* `n` times the same value.  A count that would pass 2^63 - 2^56 stays there, the rest is lost. */
PERF_FN void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n);

/* Rounded to the nearest multiple of the histogram's unit.  NaN is invalid, and half a unit below
 * zero or less.  Infinity is `over`.                                                             */
PERF_FN void perf_hist_add_double(perf_hist *h, double ns);

/* Coordinated omission: a value that took longer than the interval at which it should have been
 * asked for hides the ones not asked meanwhile; adds ns, ns - interval, ... down to interval.
 * interval 0: only ns.  Cost grows with the number of buckets, not of values.                    */
PERF_FN void perf_hist_add_corrected(perf_hist *h, uint64_t ns, uint64_t interval);

/* ---- read ----  PERF_HIST_NO_DATA when there are no values or h is NULL                       */

PERF_FN uint64_t perf_hist_count(const perf_hist *h);      /* values, without the invalid ones   */
PERF_FN uint64_t perf_hist_under(const perf_hist *h);      /* of them, below the range (or zero) */
PERF_FN uint64_t perf_hist_over(const perf_hist *h);       /* of them, above the range           */
PERF_FN uint64_t perf_hist_invalid(const perf_hist *h);    /* negative or NaN                    */
PERF_FN uint64_t perf_hist_lost(const perf_hist *h);       /* met a full counter                 */
PERF_FN double   perf_hist_min(const perf_hist *h);        /* exact (below 2^53)                 */
PERF_FN double   perf_hist_max(const perf_hist *h);        /* likewise                            */

/* Exact when every record kept the sum, also past 2^64: the buckets tell how often it wrapped.
 * Otherwise the sum of bucket midpoints.  Either way within 2^-K.                                */
PERF_FN double perf_hist_sum(const perf_hist *h);
PERF_FN double perf_hist_mean(const perf_hist *h);

/* Sample standard deviation (n - 1), from bucket midpoints with Sheppard's correction.  Good when
 * the values spread over many buckets; a few values in wide buckets can be far off
 * (docs/histogram.md has the figures).  Values outside the range count as half-way to the extreme:
 * rough then.                                                                                    */
PERF_FN double perf_hist_std(const perf_hist *h);

/* 0 <= q <= 1, else PERF_HIST_NO_DATA. */
PERF_FN double perf_hist_quantile(const perf_hist *h, double q);

/* n quantiles, in any order, in one pass.  PERF_ENODATA: empty, out[] all PERF_HIST_NO_DATA.
 * PERF_EINVAL: some q outside [0, 1] (its out is PERF_HIST_NO_DATA, the others are answered).    */
PERF_FN perf_status perf_hist_quantiles(const perf_hist *h, const double *q, size_t n,
                                        double *out);

/* How many values are at most `value`, those in its bucket included: divided by perf_hist_count
 * the distribution function.  0 for NaN.                                                         */
PERF_FN uint64_t perf_hist_rank(const perf_hist *h, double value);

/* Occupied buckets in ascending order:
 *     perf_hist_bucket b = PERF_ZERO;
 *     while (perf_hist_next(h, &b)) use(b.lower, b.upper, b.count);
 * `upper` is inclusive.  Values below the range come first as one bucket from the minimum, values
 * above it last as one bucket up to the maximum.                                                 */
typedef struct perf_hist_bucket {
    uint64_t lower, upper;          /* integers, in the histogram's unit                          */
    uint64_t count;                 /* values in this bucket, never 0                             */
    uint64_t below;                 /* values in all buckets before it                            */
    size_t   next_, end_;           /* where the walk is                                          */
} perf_hist_bucket;
PERF_FN int perf_hist_next(const perf_hist *h, perf_hist_bucket *b);

/* Steps of equal or of growing size, empty ones too, up to the one that holds the maximum: each
 * `upper` is the one before plus `first` when times <= 1, else the one before times `times`.
 * A bucket counts in the step that holds its first value.
 *     while (perf_hist_next_step(h, &b, 1000, 2.0)) use(b.upper, b.count);  // 1000, 2000, 4000  */
PERF_FN int perf_hist_next_step(const perf_hist *h, perf_hist_bucket *b, uint64_t first,
                                double times);

/* Percentile levels: `steps` (0 -> 5) for each halving of the distance to 100 %, the last is 1.
 *     perf_hist_level l = PERF_ZERO;
 *     while (perf_hist_next_level(h, &l, 5)) use(l.quantile, l.value, l.count);                  */
typedef struct perf_hist_level {
    double           quantile;      /* 0..1                                                       */
    double           value;         /* end of the bucket that reaches it, at most the maximum     */
    uint64_t         count;         /* values up to there                                         */
    perf_hist_bucket bucket_;
    uint64_t         total_;
    double           percent_;
} perf_hist_level;

/* 1: the next level is in *l; 0: there was none left, or no value, or NULL. */
PERF_FN int perf_hist_next_level(const perf_hist *h, perf_hist_level *l, int steps);

/* ---- combine ----  a call that fails leaves `into` as it was                                  */

/* into += from, exactly and in any order the same bits.  `from` may be finer than `into` (its
 * buckets nest).  PERF_EINVAL: it is coarser, has another unit, or values outside its range that
 * `into` would tell apart.  PERF_ERANGE: a counter or the count of `into` would overflow.        */
PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from);

/* into -= from: undoes a merge, and turns two snapshots into an interval.  PERF_ERANGE: `from`
 * is not contained in `into`.  The extremes become those of the buckets that remain.             */
PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from);

/* into = from, also to fewer bits (reduces the precision) or another counter size.  Statuses as for
 * perf_hist_merge.                                                                               */
PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from);

/* Empty again; touches only the memory that was used. */
PERF_FN void perf_hist_reset(perf_hist *h);

/* into = a moment of `live`, which another thread or process may be writing.  Same form required
 * (else PERF_EINVAL).  Count, percentiles and extremes agree with each other whatever the writer
 * does.                                                                                          */
PERF_FN perf_status perf_hist_snapshot(perf_hist *into, const perf_hist *live);

/* >>internal: what other headers may use -------------------------------------------------------
 * No function here takes a lock; the histogram is the caller's, as above.
 *   perf_hist_head_, perf_hist_at_, perf_hist_peek_     the head of a histogram of any form
 *   perf_hist_shape_, perf_hist_shape_of_               layout: range, buckets, counters; not NULL
 *   perf_hist_cells_, perf_hist_cell_                   the counters, and what one of them holds
 *   perf_hist_index_, perf_hist_lower_, perf_top_bit_   counter of a value, values of a counter
 *   perf_hist_place_, perf_hist_bump_, PERF_HIST_MOST_  counter of any value; adds, 0: no room
 *   perf_hist_touched_, perf_hist_occupied_             where to look, the next counter not zero
 *   perf_hist_extremes_, perf_hist_unit_                integers, 0: no value; the unit, never 0
 *   perf_hist_middle_, perf_hist_up_to_                 of a bucket; how many values up to one
 *   perf_shared_add_, perf_shared_max_                  atomic, on host and device               */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* ---- histogram ----
 *
 * The index is the top of the double: (double)v has its exponent above its mantissa, so the bits
 * from 52-K up count octaves and, within each, 2^K equal steps: one conversion, one shift.
 * The fixed form uses that number as it is.  Caller-owned memory uses the compact index, which is
 * v itself below 2^(K+1) and then goes on without a gap: octaves shorter than 2^K cost no unused
 * counters (0.1 %: 69 KB in place of 86).  Both are equal from 2^K up, except for a constant.
 * The counters of a narrow range begin with the bucket of its lowest value.                      */

#if defined(__GNUC__) && !defined(__TINYC__)
#define PERF_RELAXED_ADD_(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define PERF_HIDE_(x)             __asm__("" : "+r"(x))  /* the compiler forgets its value */
#else                               /* no threads promised there                                  */
#define PERF_RELAXED_ADD_(p, v)   ((*(p) += (v)) - (v))
#define PERF_HIDE_(x)             ((void)0)
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
#define PERF_HIST_MOST_  (UINT64_MAX >> 1)      /* values in a histogram, and the largest value   */
#define PERF_HIST_BULK_  (PERF_HIST_MOST_ - (UINT64_C(1) << 56))    /* of them by perf_hist_add_n */

typedef struct perf_hist_shape_ {
    uint64_t highest;
    uint64_t lowest;                /* first value with a bucket                                  */
    size_t   first;                 /* compact index of the first counter                         */
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

/* Position of the highest set bit of v, v > 0. */
PERF_HD_FN unsigned perf_top_bit_(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return PERF_CAST_(unsigned, 63 - __clzll(PERF_CAST_(long long, v)));
#elif defined(__GNUC__) && !defined(__TINYC__)
    return 63u ^ PERF_CAST_(unsigned, __builtin_clzll(v));
#else
    unsigned extra = v >> 53 ? 11 : 0;      /* the conversion is exact below 2^53                 */

    v >>= extra;
    return PERF_CAST_(unsigned, perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v))) >> 52) -
           1023 + extra;
#endif
}

/* Counter of v, lowest <= v <= highest.  Integer arithmetic: a device does the same as the host. */
PERF_HD_FN uint64_t perf_hist_index_(const perf_hist_shape_ *s, uint64_t v)
{
    unsigned e = perf_top_bit_(v), k = s->bits;
    uint64_t step = e >= k ? v >> (e - k) : v << (k - e);   /* in [2^K, 2^(K+1))                  */

    if (!s->compact)
        return (PERF_CAST_(uint64_t, e) << k) + step - (UINT64_C(1) << k);
    if (e <= k)
        return v - s->first;
    return (PERF_CAST_(uint64_t, e - k) << k) + step - s->first;
}

/* First value of counter i; *width becomes the number of integers in its bucket. */
PERF_HD_FN uint64_t perf_hist_lower_(const perf_hist_shape_ *s, size_t i, uint64_t *width)
{
    size_t   j = i + s->first;
    unsigned k = s->bits, e = PERF_CAST_(unsigned, j >> k);
    uint64_t step = (j & ((PERF_CAST_(size_t, 1) << k) - 1)) | (PERF_CAST_(size_t, 1) << k);

    *width = 1;
    if (s->compact) {
        if (e < 2)
            return j;
        *width = UINT64_C(1) << (e - 1);
        return step << (e - 1);
    }
    if (e < k)
        return step >> (k - e);
    *width = UINT64_C(1) << (e - k);
    return step << (e - k);
}

PERF_HD_FN perf_hist_shape_ perf_hist_shape_of_(const perf_hist *h)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    perf_hist_shape_       s;
    uint64_t               width;

    s.compact = d->highest != 0;
    s.highest = s.compact ? d->highest : PERF_HIST_HIGHEST_;
    s.counters = s.compact ? d->counters : PERF_HIST_FIXED_;
    s.bits = s.compact ? d->bits : PERF_HIST_BITS_;
    s.bytes = s.compact ? d->bytes : 8;
    s.first = 0;
    if (s.compact)
        s.first = PERF_CAST_(size_t, d->bias - (PERF_CAST_(uint64_t, 1022 + s.bits) << s.bits));
    s.lowest = s.first ? perf_hist_lower_(&s, 0, &width) : 1;
    return s;
}

PERF_FN uint64_t perf_hist_cell_(const perf_hist *h, const perf_hist_shape_ *s, size_t i)
{
    const void *cells = perf_hist_peek_cells_(h);

    if (s->bytes == 4)
        return PERF_CAST_(const uint32_t *, cells)[i];
    return PERF_CAST_(const uint64_t *, cells)[i];
}

/* The first counter in [i, end) that is not zero, else end. */
#define PERF_OCCUPIED_(T)                                                                         \
    do {                                                                                          \
        const T *c = PERF_CAST_(const T *, cells);                                                \
        if (i < end && c[i])                                                                      \
            return i;                                                                             \
        while (i + 4 <= end && !(c[i] | c[i + 1] | c[i + 2] | c[i + 3]))                          \
            i += 4;                                                                               \
        while (i < end && !c[i])                                                                  \
            i++;                                                                                  \
    } while (0)
PERF_FN size_t perf_hist_occupied_(const perf_hist *h, const perf_hist_shape_ *s, size_t i,
                                   size_t end)
{
    const void *cells = perf_hist_peek_cells_(h);

    if (s->bytes == 4)
        PERF_OCCUPIED_(uint32_t);
    else
        PERF_OCCUPIED_(uint64_t);
    return i;
}
#undef PERF_OCCUPIED_

/* Buckets that may be occupied: [*first, return value). */
PERF_FN size_t perf_hist_touched_(const perf_hist *h, const perf_hist_shape_ *s, size_t *first)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    uint64_t               lo = ~PERF_GET_(&d->not_min), hi = PERF_GET_(&d->max);
    size_t                 end;

    if (lo < s->lowest)
        lo = s->lowest;
    if (hi > s->highest)
        hi = s->highest;
    *first = 0;
    if (lo > hi)
        return 0;
    *first = PERF_CAST_(size_t, perf_hist_index_(s, lo));
    end = PERF_CAST_(size_t, perf_hist_index_(s, hi)) + 1;
    return end <= s->counters ? end : s->counters;
}

PERF_FN double perf_hist_unit_(const perf_hist *h)
{
    double unit = perf_hist_peek_(h)->unit;

    return unit > 0.0 ? unit : 1.0;
}

/* ---- histogram: caller-owned memory ---- */

PERF_FN perf_hist_opts perf_hist_opts_default(void)
{
    perf_hist_opts o = PERF_ZERO;
    return o;
}

/* 0: options out of range.  Else the layout in *s and bytes that it takes. */
PERF_FN size_t perf_hist_plan_(const perf_hist_opts *r, perf_hist_shape_ *s)
{
    uint64_t width;

    if (r->bits > 14 || (r->counter_bytes != 4 && r->counter_bytes != 8) || r->highest < 2 ||
        r->highest > PERF_HIST_MOST_ || r->lowest > r->highest || !(r->unit > 0.0) ||
        !perf_is_finite_(r->unit) || !perf_is_finite_(1.0 / r->unit))
        return 0;
    s->bits = r->bits < 0 ? 0 : PERF_CAST_(unsigned, r->bits);
    s->bytes = PERF_CAST_(unsigned, r->counter_bytes);
    s->compact = 1;
    s->first = 0;
    if (r->lowest > 1)
        s->first = PERF_CAST_(size_t, perf_hist_index_(s, r->lowest));
    s->lowest = s->first ? perf_hist_lower_(s, 0, &width) : 1;
    s->counters = PERF_CAST_(size_t, perf_hist_index_(s, r->highest)) + 1;
    s->highest = perf_hist_lower_(s, s->counters - 1, &width);
    s->highest += width - 1;
    return (sizeof(perf_hist_head_) + s->counters * s->bytes + 7) & ~PERF_CAST_(size_t, 7);
}

PERF_FN perf_hist_opts perf_hist_opts_resolved(const perf_hist_opts *o)
{
    perf_hist_opts   r = o ? *o : perf_hist_opts_default();
    perf_hist_shape_ s = PERF_ZERO;

    if (r.bits == 0)
        r.bits = 7;
    if (r.counter_bytes == 0)
        r.counter_bytes = 4;
    if (r.highest == 0)
        r.highest = UINT64_C(3600000000000);
    if (!(r.unit < 0.0 || r.unit > 0.0 || perf_is_nan_(r.unit)))
        r.unit = 1.0;
    if (perf_hist_plan_(&r, &s)) {
        r.lowest = s.lowest;
        r.highest = s.highest;
    }
    return r;
}

PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;
    perf_hist_opts   r = perf_hist_opts_resolved(o);

    return perf_hist_plan_(&r, &s);
}

/* The constant fields of the head of an empty histogram. */
PERF_FN void perf_hist_found_(perf_hist_head_ *d, const perf_hist_shape_ *s, double unit)
{
    memset(d, 0, sizeof *d);
    d->highest = s->highest;
    d->counters = PERF_CAST_(uint32_t, s->counters);
    d->bits = PERF_CAST_(uint8_t, s->bits);
    d->bytes = PERF_CAST_(uint8_t, s->bytes);
    d->shift = PERF_CAST_(uint8_t, 52 - s->bits);
    d->bias = (PERF_CAST_(uint64_t, 1022 + s->bits) << s->bits) + s->first;
    d->unit = perf_bits_(unit) == perf_bits_(1.0) ? 0.0 : unit;
}

PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;
    perf_hist_opts   r = perf_hist_opts_resolved(o);
    size_t           need = perf_hist_plan_(&r, &s);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist *, PERF_NULL_);
    memset(mem, 0, need);
    perf_hist_found_(PERF_CAST_(perf_hist_head_ *, mem), &s, r.unit);
    return PERF_CAST_(perf_hist *, mem);
}

/* Is [lo, lo + width) a window that no record could leave the counters through? */
PERF_FN int perf_hist_window_ok_(uint64_t lo, uint64_t width, uint64_t least, uint64_t highest)
{
    return width == 0 || (lo >= least && lo <= highest && width - 1 <= highest - lo);
}

/* Smallest value whose counter the double tells, in the compact form. */
PERF_FN uint64_t perf_hist_least_(const perf_hist_shape_ *s)
{
    return s->lowest >> s->bits ? s->lowest : UINT64_C(1) << s->bits;
}

PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes)
{
    const perf_hist_head_ *d = PERF_CAST_(const perf_hist_head_ *, mem);
    perf_hist_head_        same;
    perf_hist_opts         o = PERF_ZERO;
    perf_hist_shape_       s = PERF_ZERO;
    perf_hist             *none = PERF_CAST_(perf_hist *, PERF_NULL_);
    uint64_t               front, top, exact = UINT64_MAX >> 11;

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || bytes < sizeof *d)
        return none;
    if (d->highest == 0) {
        if (bytes < sizeof(perf_hist) || d->counters || d->bits || d->bytes || d->bias ||
            d->unit > 0.0 || d->width64 || d->width32 ||
            !perf_hist_window_ok_(d->lo, d->width, 1, PERF_HIST_HIGHEST_))
            return none;
        return PERF_CAST_(perf_hist *, mem);
    }
    /* The constant fields must be those that perf_hist_init would write. */
    front = PERF_CAST_(uint64_t, 1022 + (d->bits & 15)) << (d->bits & 15);
    if (d->bits > 14 || d->bias < front || d->bias - front >= 64u << d->bits)
        return none;
    s.bits = d->bits;
    s.compact = 1;
    o.bits = d->bits ? d->bits : -1;
    o.counter_bytes = d->bytes;
    o.highest = d->highest;
    o.lowest = perf_hist_lower_(&s, PERF_CAST_(size_t, d->bias - front), &top);
    o.unit = perf_hist_unit_(PERF_CAST_(const perf_hist *, mem));
    if (perf_hist_plan_(&o, &s) == 0 || perf_hist_plan_(&o, &s) > bytes)
        return none;
    perf_hist_found_(&same, &s, o.unit);
    top = s.highest < exact ? s.highest : exact;
    if (same.highest != d->highest || same.counters != d->counters || same.shift != d->shift ||
        same.bias != d->bias || d->width || perf_bits_(same.unit) != perf_bits_(d->unit) ||
        (s.bytes == 4 ? d->width64 : d->width32) ||
        !perf_hist_window_ok_(d->lo, d->width64 | d->width32, perf_hist_least_(&s), top))
        return none;
    return PERF_CAST_(perf_hist *, mem);
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

/* One writer's *p += n, which no reader sees half done.  On x86-64 that is the one instruction of a
 * plain +=, of which gcc makes three when asked for a relaxed load and store.                    */
PERF_FN void perf_hist_raise_(uint64_t *p, uint64_t n)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__TINYC__) && !PERF_TSAN_
    __asm__("addq %1, %0" : "+m"(*p) : "er"(n) : "cc");
#else
    PERF_SET_(p, PERF_GET_(p) + n);
#endif
}

/* The same, but a full one stays full. */
PERF_FN void perf_hist_more_(uint64_t *p, uint64_t n)
{
    PERF_SET_(p, n > UINT64_MAX - *p ? UINT64_MAX : *p + n);
}

/* Counter i takes n; what does not fit is `lost`. */
PERF_FN void perf_hist_grow_(perf_hist *h, const perf_hist_shape_ *s, size_t i, uint64_t n)
{
    uint32_t *c = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) + i, room;

    if (s->bytes == 8) {
        perf_hist_more_(PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + i, n);
        return;
    }
    room = UINT32_MAX - *c;
    if (n > room) {
        perf_hist_more_(&perf_hist_at_(h)->lost, n - room);
        n = room;
    }
    PERF_SET_(c, PERF_CAST_(uint32_t, *c + n));
}

/* How many of n more values the total still takes; the others are `lost`.  Only many at once can
 * bring it there, so few do not pay for the count.                                               */
PERF_FN uint64_t perf_hist_room_(perf_hist *h, uint64_t n)
{
    uint64_t held, room;

    if (PERF_LIKELY_(n < UINT64_C(1) << 20))
        return n;
    held = perf_hist_count(h);
    room = held < PERF_HIST_BULK_ ? PERF_HIST_BULK_ - held : 0;
    if (n <= room)
        return n;
    perf_hist_more_(&perf_hist_at_(h)->lost, n - room);
    return room;
}

/* Bits of the double of v, which has passed a window. */
PERF_FN uint64_t perf_hist_double_(uint64_t v)
{
    return perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v)));
}

/* A record that the window of caller-owned 64-bit counters admits. */
PERF_FN void perf_hist_hit64_(perf_hist_head_ *d, uint64_t v)
{
    uint64_t top = perf_hist_double_(v) >> d->shift;

    perf_hist_raise_(&d->sums[top & 3], v);
    top -= d->bias;
    PERF_HIDE_(top);                /* else gcc subtracts it from the address, in three steps     */
    perf_hist_raise_(PERF_PTR_(uint64_t *, d + 1) + top, 1);
}

/* Every record that the inlined compare did not admit: a new extreme, zero, out of range, small
 * values of the compact form, another form.  n values like v whose sum is `sum`.                 */
PERF_HIST_SLOW_ void perf_hist_put_(perf_hist *h, uint64_t v, uint64_t n, uint64_t sum)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s;

    if (v - d->lo < d->width64 && n == 1 && sum == v) {
        perf_hist_hit64_(d, v);
        return;
    }
    if (v >> 63) {
        perf_hist_more_(&d->invalid, n);
        return;
    }
    n = perf_hist_room_(h, n);
    if (n == 0)
        return;
    s = perf_hist_shape_of_(h);
    PERF_SET_(&d->sums[0], d->sums[0] + sum);
    if (~v > d->not_min)
        PERF_SET_(&d->not_min, ~v);
    if (v > d->max)
        PERF_SET_(&d->max, v);
    if (v < s.lowest) {
        perf_hist_more_(&d->under, n);
    } else if (v > s.highest) {
        perf_hist_more_(&d->over, n);
    } else {
        perf_hist_grow_(h, &s, PERF_CAST_(size_t, perf_hist_index_(&s, v)), n);
        if (!s.compact)
            perf_hist_widen_(&d->lo, &d->width, v);
        else if (v >= perf_hist_least_(&s) && !(v >> 53))           /* exact as a double          */
            perf_hist_widen_(&d->lo, s.bytes == 4 ? &d->width32 : &d->width64, v);
    }
}

/* One sum would make every record wait until the one before has stored it (2.5 in place of 1.4 ns
 * on a Xeon); with four, picked by the bucket, only records near each other wait, and those wait
 * for their counter anyway.  A record updates one sum and one counter: two adjacent accumulators
 * would be joined into one vector by clang and by gcc -march=native, and the next load would wait
 * for both stores (8.9 in place of 1.9 cycles; bench/hist.c shows it).                           */
PERF_FN void perf_hist_add(perf_hist *h, uint64_t ns)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t         top;

    PERF_HIDE_(d);                  /* one base register for all that follows                     */
    if (PERF_UNLIKELY_(ns - d->lo >= d->width)) {
        perf_hist_put_(h, ns, 1, ns);
        return;
    }
    top = perf_hist_double_(ns) >> PERF_HIST_SHIFT_;
    PERF_HIDE_(top);
    perf_hist_raise_(&d->sums[top & 3], ns);
    perf_hist_raise_(PERF_PTR_(uint64_t *, d + 1) + (top - PERF_HIST_BIAS_), 1);
}

PERF_FN void perf_hist_add64(perf_hist *h, uint64_t value)
{
    perf_hist_head_ *d = perf_hist_at_(h);

    PERF_HIDE_(d);
    if (PERF_LIKELY_(value - d->lo < d->width64))
        perf_hist_hit64_(d, value);
    else
        perf_hist_put_(h, value, 1, value);
}

PERF_FN void perf_hist_add32(perf_hist *h, uint64_t value)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t         top;
    uint32_t        *c, n;

    PERF_HIDE_(d);
    if (PERF_UNLIKELY_(value - d->lo >= d->width32)) {
        perf_hist_put_(h, value, 1, 0);
        return;
    }
    top = (perf_hist_double_(value) >> d->shift) - d->bias;
    PERF_HIDE_(top);
    c = PERF_PTR_(uint32_t *, d + 1) + top;
    n = *c + 1;
    if (PERF_UNLIKELY_(n == 0)) {
        perf_hist_put_(h, value, 1, 0);
        return;
    }
    PERF_SET_(c, n);
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
    if (ns < s.lowest) {
        perf_shared_add_(&d->under, 1);
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
    uint64_t         v = PERF_HIST_MOST_;

    PERF_SET_(&d->sums[0], d->sums[0] + v);
    if (~v > d->not_min)
        PERF_SET_(&d->not_min, ~v);
    PERF_SET_(&d->max, v);
    perf_hist_more_(&d->over, 1);
}

PERF_FN void perf_hist_add_double(perf_hist *h, double ns)
{
    double   x = ns / perf_hist_unit_(h);
    uint64_t v;

    if (perf_is_nan_(x) || x <= -0.5) {
        perf_hist_put_(h, UINT64_MAX, 1, 0);
    } else if (!perf_is_finite_(x) || x >= 9223372036854775808.0) {
        perf_hist_put_over_(h);
    } else {
        v = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, x));
        perf_hist_add(h, v + (x - PERF_CAST_(double, PERF_CAST_(int64_t, v)) >= 0.5));
    }
}

PERF_FN void perf_hist_add_corrected(perf_hist *h, uint64_t ns, uint64_t interval)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    uint64_t         v, last, width, steps;

    perf_hist_put_(h, ns, 1, ns);
    if (interval == 0 || ns >> 63 || ns / 2 < interval)
        return;
    last = ns - interval;
    for (v = interval + ns % interval; v <= last; v += steps * interval) {
        uint64_t upper = last, pairs;       /* all that fall in one bucket are added at once      */
        if (v < s.lowest) {
            upper = s.lowest - 1;
        } else if (v <= s.highest) {
            upper = perf_hist_lower_(&s, PERF_CAST_(size_t, perf_hist_index_(&s, v)), &width);
            upper += width - 1;
        }
        if (upper > last)
            upper = last;
        steps = (upper - v) / interval + 1;
        pairs = steps % 2 ? steps * ((steps - 1) / 2) : steps / 2 * (steps - 1);
        perf_hist_put_(h, v, steps, v * steps + interval * pairs);
    }
}

/* ---- histogram: read ---- */

/* Several neighbouring counters at once, as wide as the target that the file is compiled for;
 * one at a time where the compiler has no vector types.                                          */
#if defined(__GNUC__) && !PERF_TCC_ && !defined(__NVCC__) &&                                       \
    (defined(__SSE2__) || defined(__aarch64__))
#define PERF_VECTORS_ 1
#define PERF_UNROLL_  _Pragma("GCC unroll 32")      /* gcc -O2 does not on its own                */
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

/* name(c, block, n, sums): the sums of n blocks of `block` counters (64 or a multiple), and of all
 * of them.  32-bit counters are taken two by two: one sum of the pairs as they lie, one of their
 * upper halves; their difference is the lower halves.  No overflow, cheaper than widening each.  */
#if defined(PERF_VECTORS_)
#define PERF_HIST_SUMS_(attribute, name, T, V, part)                                              \
    static inline attribute uint64_t name(const T *c, size_t block, size_t n, uint64_t *sums)     \
    {                                                                                             \
        const size_t some = 64 * sizeof(T) / sizeof(V), all = block * sizeof(T) / sizeof(V);      \
        uint64_t     total = 0;                                                                   \
        size_t       i, j, k;                                                                     \
        for (k = 0; k < n; k++, c += block) {                                                     \
            const V *v = PERF_PTR_(const V *, c);                                                 \
            V        a = PERF_ZERO, b = PERF_ZERO, x = PERF_ZERO, y = PERF_ZERO;                  \
            for (i = 0; i < all; i += some)                                                       \
                PERF_UNROLL_ for (j = 0; j < some; j += 2)                                        \
                {                                                                                 \
                    a += v[i + j];                                                                \
                    b += v[i + j + 1];                                                            \
                    part;                                                                         \
                }                                                                                 \
            a += b;                                                                               \
            x += y;                                                                               \
            a += x - (x << 32);                                                                   \
            for (sums[k] = 0, i = 0; i < sizeof(V) / sizeof(uint64_t); i++)                       \
                sums[k] += a[i];                                                                  \
            total += sums[k];                                                                     \
        }                                                                                         \
        return total;                                                                             \
    }
#define PERF_UPPER_ x += v[i + j] >> 32, y += v[i + j + 1] >> 32
PERF_HIST_SUMS_(, perf_sums64_, uint64_t, perf_lanes64_, (void)0)
PERF_HIST_SUMS_(, perf_sums32_, uint32_t, perf_lanes64_, PERF_UPPER_)
/* A query reads some 60 to 120 KB of counters.  Where the file is not compiled for AVX2 and the
 * processor has it, that part runs in twice as wide registers: 0.7 to 0.85 of the time on Zen 3,
 * where the second-level cache is the limit then.                                                */
#if defined(__x86_64__) && !defined(__AVX2__) && !defined(_WIN32)  /* its stack: 16 bytes only    */
#define PERF_HIST_AVX2_ 1
typedef uint64_t perf_wide_ __attribute__((vector_size(32), aligned(4), may_alias));
#define PERF_TARGET_ PERF_ATTR_((__target__("avx2")))
PERF_HIST_SUMS_(PERF_TARGET_, perf_avx2_sums64_, uint64_t, perf_wide_, (void)0)
PERF_HIST_SUMS_(PERF_TARGET_, perf_avx2_sums32_, uint32_t, perf_wide_, PERF_UPPER_)
#undef PERF_TARGET_
#endif
#undef PERF_UPPER_
#else
#define PERF_HIST_SUMS_(name, T)                                                                  \
    PERF_FN uint64_t name(const T *c, size_t block, size_t n, uint64_t *sums)                     \
    {                                                                                             \
        uint64_t total = 0;                                                                       \
        size_t   i, k;                                                                            \
        for (k = 0; k < n; k++, c += block) {                                                     \
            for (sums[k] = 0, i = 0; i < block; i++)                                              \
                sums[k] += c[i];                                                                  \
            total += sums[k];                                                                     \
        }                                                                                         \
        return total;                                                                             \
    }
PERF_HIST_SUMS_(perf_sums64_, uint64_t)
PERF_HIST_SUMS_(perf_sums32_, uint32_t)
#endif
#undef PERF_HIST_SUMS_

/* The same for counters [first, first + n * block) of any form. */
PERF_FN uint64_t perf_hist_sums_(const perf_hist *h, const perf_hist_shape_ *s, size_t first,
                                 size_t block, size_t n, uint64_t *sums)
{
    const uint64_t *c64 = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(h)) + first;
    const uint32_t *c32 = PERF_CAST_(const uint32_t *, perf_hist_peek_cells_(h)) + first;

#if defined(PERF_HIST_AVX2_)
    if (n >= 4 && __builtin_cpu_supports("avx2"))
        return s->bytes == 4 ? perf_avx2_sums32_(c32, block, n, sums)
                             : perf_avx2_sums64_(c64, block, n, sums);
#endif
    return s->bytes == 4 ? perf_sums32_(c32, block, n, sums) : perf_sums64_(c64, block, n, sums);
}

PERF_FN uint64_t perf_hist_sum_cells_(const perf_hist *h, const perf_hist_shape_ *s, size_t first,
                                      size_t n)
{
    uint64_t sum = 0, part;

    for (; n % 64; n--)
        sum += perf_hist_cell_(h, s, first + n - 1);
    for (; n; n -= 64, first += 64)
        sum += perf_hist_sums_(h, s, first, 64, 1, &part);
    return sum;
}

/* The sum as far as records kept it, modulo 2^64. */
PERF_FN uint64_t perf_hist_kept_sum_(const perf_hist *h)
{
    const uint64_t *s = perf_hist_peek_(h)->sums;

    return PERF_GET_(&s[0]) + PERF_GET_(&s[1]) + PERF_GET_(&s[2]) +
           PERF_GET_(&s[3]);
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
    return d->under + d->over + perf_hist_sum_cells_(h, &s, first, end - first);
}

#define PERF_HIST_GET_(name)                                                                      \
    PERF_FN uint64_t perf_hist_##name(const perf_hist *h)                                         \
    {                                                                                             \
        return h ? PERF_GET_(&perf_hist_peek_(h)->name) : 0;                             \
    }
PERF_HIST_GET_(under)
PERF_HIST_GET_(over)
PERF_HIST_GET_(invalid)
PERF_HIST_GET_(lost)
#undef PERF_HIST_GET_

/* The extremes as integers; 0: there are none. */
PERF_FN int perf_hist_extremes_(const perf_hist *h, uint64_t *min, uint64_t *max)
{
    uint64_t not_min = h ? PERF_GET_(&perf_hist_peek_(h)->not_min) : 0;

    *min = ~not_min;
    *max = not_min ? PERF_GET_(&perf_hist_peek_(h)->max) : 0;
    return not_min != 0;
}

/* One of the extremes in the histogram's unit. */
#define PERF_HIST_EXTREME_(which)                                                                 \
    PERF_FN double perf_hist_##which(const perf_hist *h)                                          \
    {                                                                                             \
        uint64_t min, max;                                                                        \
        return perf_hist_extremes_(h, &min, &max) ? PERF_CAST_(double, which) * perf_hist_unit_(h)\
                                                  : PERF_HIST_NO_DATA;                            \
    }
PERF_HIST_EXTREME_(min)
PERF_HIST_EXTREME_(max)
#undef PERF_HIST_EXTREME_

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
        b->count = d->under;
        if (b->count) {                         /* one value is the minimum itself                */
            b->lower = ~d->not_min < s.lowest ? ~d->not_min : s.lowest - 1;
            b->upper = b->count == 1 ? b->lower : s.lowest - 1;
            return 1;
        }
    }
    if (b->next_ < b->end_) {
        size_t i = perf_hist_occupied_(h, &s, b->next_ - 1, b->end_ - 1);
        b->next_ = i + 1;
        if (b->next_ < b->end_) {
            b->next_++;
            b->count = perf_hist_cell_(h, &s, i);
            b->lower = perf_hist_lower_(&s, i, &width);
            b->upper = b->lower + width - 1;
            return 1;
        }
    }
    if (b->next_ == b->end_ && d->over) {
        b->next_++;
        b->count = d->over;
        b->upper = d->max > s.highest ? d->max : s.highest + 1;
        b->lower = b->count == 1 ? b->upper : s.highest + 1;
        return 1;
    }
    return 0;
}

/* Middle of the integers of a bucket, as far as they are within the extremes. */
PERF_FN double perf_hist_middle_(const perf_hist *h, uint64_t lower, uint64_t upper)
{
    double   x = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, upper - lower);
    uint64_t min, max;

    (void)perf_hist_extremes_(h, &min, &max);
    return x < PERF_CAST_(double, min) ? PERF_CAST_(double, min)
           : x > PERF_CAST_(double, max) ? PERF_CAST_(double, max) : x;
}

PERF_FN double perf_hist_sum(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    double           low = 0.0, mid = 0.0, high = 0.0, sum, wraps;

    while (perf_hist_next(h, &b)) {
        double n = PERF_CAST_(double, b.count);
        low += n * PERF_CAST_(double, b.lower);
        mid += n * perf_hist_middle_(h, b.lower, b.upper);
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
    sum = sum >= low * (1.0 - 1e-12) && sum <= high * (1.0 + 1e-12) ? sum : mid;
    return sum * perf_hist_unit_(h);
}

PERF_FN double perf_hist_mean(const perf_hist *h)
{
    uint64_t n = perf_hist_count(h);
    double   mean, min, max;

    if (n == 0)
        return PERF_HIST_NO_DATA;
    mean = perf_hist_sum(h) / PERF_CAST_(double, n);
    min = perf_hist_min(h);
    max = perf_hist_max(h);
    return mean < min ? min : mean > max ? max : mean;
}

PERF_FN double perf_hist_std(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    perf_hist_shape_ s;
    double           n, mean, low, high, s1 = 0.0, s2 = 0.0, within = 0.0, var, limit;
    uint64_t         min, max;

    n = PERF_CAST_(double, perf_hist_count(h));
    if (n < 1.0 || !perf_hist_extremes_(h, &min, &max))
        return PERF_HIST_NO_DATA;
    if (n < 2.0)
        return 0.0;
    s = perf_hist_shape_of_(h);
    mean = perf_hist_mean(h) / perf_hist_unit_(h);
    while (perf_hist_next(h, &b)) {     /* deviations from near the mean: no cancellation         */
        double c = PERF_CAST_(double, b.count), w = PERF_CAST_(double, b.upper - b.lower) + 1.0;
        double x = perf_hist_middle_(h, b.lower, b.upper) - mean;
        s1 += c * x;
        s2 += c * x * x;
        if (b.lower >= s.lowest && b.upper <= s.highest)    /* not the two of any width outside   */
            within += c * (w * w - 1.0) / 12.0;             /* Sheppard, for integers             */
    }
    var = s2 - s1 * s1 / n - within;
    if (var < 0.0)
        var = 0.0;
    low = mean - PERF_CAST_(double, min);
    high = PERF_CAST_(double, max) - mean;
    limit = low * high * n;                                 /* Bhatia and Davis                   */
    if (var > limit)
        var = limit;
    return perf_sqrt(var / (n - 1.0)) * perf_hist_unit_(h);
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
    uint64_t               min, max;
    size_t                 i;

    s->shape = perf_hist_shape_of_(h);
    s->end = perf_hist_touched_(h, &s->shape, &s->first);
    s->first &= ~PERF_CAST_(size_t, 63);        /* whole blocks: the ones around are zero         */
    s->end = (s->end + 63) & ~PERF_CAST_(size_t, 63);
    if (s->end > s->shape.counters)
        s->end = s->shape.counters;
    (void)perf_hist_extremes_(h, &min, &max);
    s->min = PERF_CAST_(double, min);
    s->max = PERF_CAST_(double, max);
    for (s->block = 64; (s->end - s->first) / s->block >= 256; s->block *= 2)
        continue;
    s->total = d->under + d->over;
    i = s->first;
    s->blocks = (s->end - i) / s->block;
    s->total += perf_hist_sums_(h, &s->shape, i, s->block, s->blocks, s->sums);
    i += s->blocks * s->block;
    if (i < s->end) {
        s->sums[s->blocks] = perf_hist_sum_cells_(h, &s->shape, i, s->end - i);
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

    if (q >= 1.0 || r >= 9.2e18)                /* n as a double may be less than n               */
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
    uint64_t        below, under;
    double          unit;
    size_t          i, k = 0;

    if (!h || (n && (!q || !out)))
        return PERF_EINVAL;
    perf_hist_scan_blocks_(h, &s);
    under = perf_hist_peek_(h)->under;
    below = under;
    unit = perf_hist_peek_(h)->unit;
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
            below = under;
        }
        if (rank <= under) {
            out[i] = s.min;
            continue;
        }
        while (k < s.blocks && rank - below > s.sums[k])
            below += s.sums[k++];
        if (k == s.blocks) {
            out[i] = s.max;                     /* above the range                                */
            continue;
        }
        j = s.first + k * s.block;
        j = perf_hist_walk_(h, &s.shape, j, s.end - j < s.block ? s.end : j + s.block, below, rank);
        lower = perf_hist_lower_(&s.shape, j, &width);
        out[i] = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1);
        out[i] = out[i] < s.min ? s.min : out[i] > s.max ? s.max : out[i];
    }
    for (i = 0; unit > 0.0 && i < n; i++)
        out[i] *= out[i] < 0.0 ? 1.0 : unit;
    return status == PERF_OK && s.total == 0 ? PERF_ENODATA : status;
}

PERF_FN double perf_hist_quantile(const perf_hist *h, double q)
{
    double x = PERF_HIST_NO_DATA;

    (void)perf_hist_quantiles(h, &q, 1, &x);
    return x;
}

/* Values in the buckets up to that of the integer v. */
PERF_FN uint64_t perf_hist_up_to_(const perf_hist *h, uint64_t v)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    size_t           first, end, i;
    uint64_t         min, max;

    if (!perf_hist_extremes_(h, &min, &max) || v < min)
        return 0;
    if (v >= max || v > s.highest)
        return perf_hist_count(h);
    if (v < s.lowest)
        return perf_hist_under(h);
    end = perf_hist_touched_(h, &s, &first);
    i = PERF_CAST_(size_t, perf_hist_index_(&s, v)) + 1;
    if (i > end)
        i = end;
    return perf_hist_under(h) + (i > first ? perf_hist_sum_cells_(h, &s, first, i - first) : 0);
}

PERF_FN uint64_t perf_hist_rank(const perf_hist *h, double value)
{
    double x;

    if (!h || perf_is_nan_(value))
        return 0;
    x = value / perf_hist_unit_(h);
    if (perf_hist_peek_(h)->unit > 0.0)
        x *= 1.0 + 4.5e-16;                     /* 0.3 / 0.1 is 3                                 */
    if (x < 0.0)
        return 0;
    return perf_hist_up_to_(h, x < 9.2e18 ? PERF_CAST_(uint64_t, x) : PERF_HIST_MOST_);
}

PERF_FN int perf_hist_next_step(const perf_hist *h, perf_hist_bucket *b, uint64_t first,
                                double times)
{
    uint64_t min, max, upper;
    double   to;

    if (!b || first == 0 || !perf_hist_extremes_(h, &min, &max) || (b->next_ && b->upper >= max))
        return 0;
    upper = b->next_ ? b->upper : 0;
    b->lower = b->next_ ? upper + 1 : 0;
    b->upper = first < PERF_HIST_MOST_ - upper ? upper + first : PERF_HIST_MOST_;
    to = PERF_CAST_(double, upper) * times;
    if (times > 1.0 && b->next_)
        b->upper = !(to < 9.2e18) ? PERF_HIST_MOST_
                   : to < PERF_CAST_(double, upper) + 1.0 ? upper + 1 : PERF_CAST_(uint64_t, to);
    b->next_ = 1;
    b->below += b->count;
    b->count = perf_hist_up_to_(h, b->upper) - b->below;
    return 1;
}

PERF_FN int perf_hist_next_level(const perf_hist *h, perf_hist_level *l, int steps)
{
    perf_hist_bucket *b;
    uint64_t          min, max;
    double            upper;
    int               halvings;

    if (!l || l->quantile >= 1.0 || !perf_hist_extremes_(h, &min, &max))
        return 0;
    b = &l->bucket_;
    if (l->total_ == 0) {
        l->total_ = perf_hist_count(h);
        if (!perf_hist_next(h, b))
            return 0;
    }
    for (;;) {
        l->count = b->below + b->count;
        if (l->count >= l->total_ ||
            100.0 * PERF_CAST_(double, l->count) / PERF_CAST_(double, l->total_) >= l->percent_)
            break;
        if (!perf_hist_next(h, b))              /* somebody writes meanwhile                      */
            return 0;
    }
    upper = PERF_CAST_(double, b->upper < max ? b->upper : max);
    l->value = upper * perf_hist_unit_(h);
    if (l->count >= l->total_) {
        l->quantile = 1.0;
        return 1;
    }
    l->quantile = l->percent_ / 100.0;
    /* Each halving of the distance to 100 % is walked in as many steps. */
    halvings = PERF_CAST_(int, perf_bits_(100.0 / (100.0 - l->percent_)) >> 52) - 1023;
    l->percent_ += 100.0 / ((steps > 0 ? steps : 5) *
                            PERF_CAST_(double, UINT64_C(2) << (halvings < 60 ? halvings : 60)));
    return 1;
}

/* ---- histogram: combine ---- */

/* a[i] += b[i] or -= b[i]; true if the caller must look closer: z is the result, and the bits of
 * `spill` from `bit` up say that a counter carried, borrowed, or is so large that with a million
 * like it the total could pass 2^63.                                                             */
#define PERF_HIST_COMBINE_(name, T, V, op, spill, bit)                                            \
    PERF_FN int name(T *a, const T *b, size_t n)                                                  \
    {                                                                                             \
        enum { perf_lanes_ = sizeof(V) / sizeof(T), perf_some_ = 4 * perf_lanes_ };               \
        V      any = PERF_ZERO;                                                                   \
        T      part[perf_lanes_], rest = 0;                                                       \
        size_t i;                                                                                 \
        for (; n >= perf_some_; n -= perf_some_, a += perf_some_, b += perf_some_) {              \
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
        for (i = 0; i < perf_lanes_; i++)                                                         \
            rest |= part[i];                                                                      \
        return (rest >> (bit)) != 0;                                                              \
    }
#define PERF_CARRY_  (x & y) | ((x | y) & ~z)
#define PERF_BORROW_ (~x & y) | ((~x | y) & z)
PERF_HIST_COMBINE_(perf_add32_, uint32_t, perf_lanes32_, +, PERF_CARRY_, 31)
PERF_HIST_COMBINE_(perf_sub32_, uint32_t, perf_lanes32_, -, PERF_BORROW_, 31)
PERF_HIST_COMBINE_(perf_add64_, uint64_t, perf_lanes64_, +, z, 42)
PERF_HIST_COMBINE_(perf_sub64_, uint64_t, perf_lanes64_, -, z, 63)
#undef PERF_HIST_COMBINE_
#undef PERF_CARRY_
#undef PERF_BORROW_

PERF_FN int perf_hist_same_(const perf_hist_shape_ *a, const perf_hist_shape_ *b)
{
    return a->bits == b->bits && a->bytes == b->bytes && a->compact == b->compact &&
           a->counters == b->counters && a->first == b->first;
}

PERF_FN int perf_hist_same_unit_(const perf_hist *a, const perf_hist *b)
{
    return perf_bits_(perf_hist_unit_(a)) == perf_bits_(perf_hist_unit_(b));
}

/* Adds or subtracts [first, first + n) of equal shapes; true: look closer (see above). */
PERF_FN int perf_hist_apply_same_(perf_hist *into, const perf_hist *from,
                                  const perf_hist_shape_ *s, size_t first, size_t n, int minus)
{
    void       *a = perf_hist_cells_(into);
    const void *b = perf_hist_peek_cells_(from);

    if (s->bytes == 4)
        return (minus ? perf_sub32_ : perf_add32_)(PERF_CAST_(uint32_t *, a) + first,
                                                   PERF_CAST_(const uint32_t *, b) + first, n);
    return (minus ? perf_sub64_ : perf_add64_)(PERF_CAST_(uint64_t *, a) + first,
                                               PERF_CAST_(const uint64_t *, b) + first, n);
}

/* Where a value goes: the number of a counter, or one of these. */
#define PERF_HIST_UNDER_ (UINT64_MAX - 1)
#define PERF_HIST_OVER_  UINT64_MAX
PERF_FN uint64_t perf_hist_place_(const perf_hist_shape_ *s, uint64_t v)
{
    return v < s->lowest ? PERF_HIST_UNDER_
           : v > s->highest ? PERF_HIST_OVER_ : perf_hist_index_(s, v);
}

/* n more (or fewer) values at a place; 0: the counter cannot hold that, nothing is changed. */
PERF_FN int perf_hist_bump_(perf_hist *h, const perf_hist_shape_ *s, uint64_t place, uint64_t n,
                            int minus)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t        *c = place == PERF_HIST_UNDER_ ? &d->under : &d->over, sum;

    if (place < PERF_HIST_UNDER_) {
        if (s->bytes == 4) {
            uint32_t *c32 = PERF_CAST_(uint32_t *, perf_hist_cells_(h)) + place;
            sum = minus ? *c32 - n : *c32 + n;
            if (n > UINT32_MAX || sum > UINT32_MAX)
                return 0;
            *c32 = PERF_CAST_(uint32_t, sum);
            return 1;
        }
        c = PERF_CAST_(uint64_t *, perf_hist_cells_(h)) + place;
    }
    sum = minus ? *c - n : *c + n;
    if ((n | sum) >> 63)
        return 0;
    *c = sum;
    return 1;
}

/* Whether `into`, as it is or (fresh) once it is empty, takes all of `from`, of another shape, or
 * (minus) can give it back.                                                                      */
PERF_FN perf_status perf_hist_fits_(const perf_hist *into, const perf_hist *from, int fresh,
                                    int minus)
{
    perf_hist_shape_ s = perf_hist_shape_of_(into);
    uint64_t         n = 0, at = PERF_HIST_UNDER_, next, held, most;
    perf_hist_bucket b = PERF_ZERO;

    while (perf_hist_next(from, &b)) {          /* ascending: what shares a counter is together   */
        next = perf_hist_place_(&s, b.lower);
        if (next != perf_hist_place_(&s, b.upper))
            return PERF_EINVAL;                 /* outside its range, and we would know better    */
        n = next == at ? n + b.count : b.count;
        at = next;
        most = s.bytes == 4 && at < PERF_HIST_UNDER_ ? UINT32_MAX : PERF_HIST_MOST_;
        held = fresh ? 0 : at == PERF_HIST_UNDER_ ? perf_hist_under(into)
               : at == PERF_HIST_OVER_ ? perf_hist_over(into)
                                       : perf_hist_cell_(into, &s, PERF_CAST_(size_t, at));
        if ((n | b.count | held) >> 63 || (minus ? n > held : n + held > most))
            return PERF_ERANGE;
    }
    held = fresh || minus ? 0 : perf_hist_count(into);
    return (b.below | held) >> 63 || b.below + held > PERF_HIST_MOST_ ? PERF_ERANGE : PERF_OK;
}

/* Bucket by bucket into another shape. */
PERF_FN perf_status perf_hist_apply_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_shape_ s = perf_hist_shape_of_(into);
    perf_hist_bucket b = PERF_ZERO;
    perf_status      status = perf_hist_fits_(into, from, 0, minus);

    while (status == PERF_OK && perf_hist_next(from, &b))
        (void)perf_hist_bump_(into, &s, perf_hist_place_(&s, b.lower), b.count, minus);
    return status;
}

PERF_FN void perf_hist_outside_(perf_hist_head_ *d, const perf_hist_head_ *f, int minus)
{
    d->under += minus ? 0 - f->under : f->under;
    d->over += minus ? 0 - f->over : f->over;
}

/* The same for equal shapes. */
PERF_FN perf_status perf_hist_apply_equal_(perf_hist *into, const perf_hist *from,
                                           const perf_hist_shape_ *s, int minus)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);
    size_t                 first, n = perf_hist_touched_(from, s, &first);
    int                    spill;
    uint64_t               total;

    if (minus && (d->under < f->under || d->over < f->over))
        return PERF_ERANGE;
    n = n > first ? n - first : 0;
    spill = perf_hist_apply_same_(into, from, s, first, n, minus);
    perf_hist_outside_(d, f, minus);
    if (PERF_LIKELY_(!spill && (minus || (d->under | d->over) >> 42 == 0)))
        return PERF_OK;
    if (!minus && s->bytes == 8) {              /* large counters: is it too much together?       */
        total = d->under + d->over + perf_hist_sum_cells_(into, s, 0, s->counters);
        if (total <= PERF_HIST_MOST_)
            return PERF_OK;
    }
    (void)perf_hist_apply_same_(into, from, s, first, n, !minus);
    perf_hist_outside_(d, f, !minus);
    return PERF_ERANGE;
}

PERF_FN perf_status perf_hist_combine_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);
    perf_hist_shape_       s, t;
    perf_status            status;
    int                    i;

    if (!into || !from || into == from || !perf_hist_same_unit_(into, from))
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(from);
    if (t.bits < s.bits)
        return PERF_EINVAL;
    if (minus && (d->invalid < f->invalid || d->lost < f->lost))
        return PERF_ERANGE;
    status = perf_hist_same_(&s, &t) ? perf_hist_apply_equal_(into, from, &s, minus)
                                     : perf_hist_apply_(into, from, minus);
    if (status != PERF_OK)
        return status;
    for (i = 0; i < 4; i++)
        d->sums[i] += minus ? 0 - f->sums[i] : f->sums[i];
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

    d->lo = d->width = d->width64 = d->width32 = 0;
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
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s;
    size_t           first, end;

    if (!h)
        return;
    s = perf_hist_shape_of_(h);
    end = perf_hist_touched_(h, &s, &first);
    if (first < end)
        memset(PERF_PTR_(char *, h) + sizeof *d + first * s.bytes, 0, (end - first) * s.bytes);
    if (s.compact)
        perf_hist_found_(d, &s, d->unit);
    else
        memset(d, 0, sizeof *d);
}

PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from)
{
    perf_hist_shape_ s, t;
    perf_status      status = PERF_OK;

    if (!into || !from || into == from || !perf_hist_same_unit_(into, from))
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(from);
    if (t.bits < s.bits)
        return PERF_EINVAL;
    if (!perf_hist_same_(&s, &t))
        status = perf_hist_fits_(into, from, 1, 0);
    if (status != PERF_OK)
        return status;
    perf_hist_reset(into);
    return perf_hist_merge(into, from);
}

PERF_FN perf_status perf_hist_snapshot(perf_hist *into, const perf_hist *live)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(live);
    void                  *to = perf_hist_cells_(into);
    const void            *cells = perf_hist_peek_cells_(live);
    perf_hist_shape_       s, t;
    size_t                 i, end;

    if (!into || !live || into == live || !perf_hist_same_unit_(into, live))
        return PERF_EINVAL;
    s = perf_hist_shape_of_(into);
    t = perf_hist_shape_of_(live);
    if (!perf_hist_same_(&s, &t))
        return PERF_EINVAL;
    perf_hist_reset(into);
    end = perf_hist_touched_(live, &t, &i);
    for (; i < end; i++)
        if (s.bytes == 4)
            PERF_CAST_(uint32_t *, to)[i] = PERF_GET_(&PERF_CAST_(const uint32_t *, cells)[i]);
        else
            PERF_CAST_(uint64_t *, to)[i] = PERF_GET_(&PERF_CAST_(const uint64_t *, cells)[i]);
    d->under = PERF_GET_(&f->under);
    d->over = PERF_GET_(&f->over);
    d->invalid = PERF_GET_(&f->invalid);
    d->lost = PERF_GET_(&f->lost);
    for (i = 0; i < 4; i++)
        d->sums[i] = PERF_GET_(&f->sums[i]);
    d->not_min = PERF_GET_(&f->not_min);        /* the walk below needs the touched range         */
    d->max = PERF_GET_(&f->max);
    perf_hist_settle_(into, ~d->not_min, d->max);
    return PERF_OK;
}

PERF_END_DECLS

#endif /* PERF_HIST_H */
