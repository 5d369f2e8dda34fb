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

#include "perf_math.h"

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
 * count, takes part in every percentile and is answered by the exact extreme; perf_hist_next shows
 * those below the range first, those above it last.  Negative (from bit 63 up) and NaN values are
 * counted by perf_hist_lost and take no part.
 *
 * Counts never wrap: at some 9.2e18 values perf_hist_add_n counts the rest as lost, and merging
 * refuses.
 * Threads: one writer and no reader at a time, except where a function says otherwise.
 * No function here allocates, waits, prints or needs <math.h>.                                  */

#define PERF_HIST_NO_DATA (-1.0)    /* the answer where there are no values: never a time         */
#define PERF_HIST_BITS_    7        /* of the fixed form: 2^7 buckets an octave                   */
#define PERF_HIST_OCTAVES_ 42       /* of the fixed form: 1 ns .. 73 minutes                      */
#define PERF_HIST_FIXED_   (PERF_HIST_OCTAVES_ << PERF_HIST_BITS_)

/* The front of every histogram.  All zero is an empty fixed form.  Counters follow it.  A value in
 * the window [lo, lo + width) is in range and no new extreme, so one compare admits it.  Each form
 * has its own width: a record meant for another finds an empty window and takes the slow way.    */
typedef struct perf_hist_head_ {
    uint64_t lo;
    uint64_t width[3];              /* of the fixed form, of caller-owned 64 and 32-bit counters  */
    uint64_t sums[4];               /* together the sum of all values, modulo 2^64                */
    uint64_t not_min;               /* ~minimum, so that zero means none                          */
    uint64_t max;
    uint64_t under;                 /* values below the lowest with a bucket: zeros by default    */
    uint64_t over;                  /* values above `highest`                                     */
    uint64_t lost;                  /* negative or NaN, or met a full counter                     */
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

/* Bytes that a histogram with these options (NULL: defaults) needs; 0: they are out of range. */
PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o);

/* Makes an empty histogram in `mem` (8-byte aligned, yours, needs no freeing) and returns it.
 * NULL: memory too small, misaligned or options out of range.  Do not copy it with `=`, which
 * would copy sizeof(perf_hist) bytes: use perf_hist_copy or memcpy of perf_hist_bytes.           */
PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o);

/* Histogram in memory that somebody else filled (a mapping, a message).  NULL: not one of ours. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes);

/* ---- record ----  h is not NULL, of any form.  The first two have one writer, and at any time
 * perf_hist_copy may read from other threads or processes.                                       */

/* Inlined for the fixed form.  Keeps the sum. */
PERF_FN void perf_hist_add(perf_hist *h, uint64_t ns);

/* The same, inlined for caller-owned memory.  Keeps the sum if its counters have 64 bits; with 32
 * the mean comes from the buckets.                                                               */
PERF_FN void perf_hist_add_own(perf_hist *h, uint64_t value);

/* Any number of writers, on the host or on the device; not together with the forms above.  Keeps no
 * sum.  perf_hist_copy may read at any time (on the device: after the kernel).                   */
PERF_HD_FN void perf_hist_add_shared(perf_hist *h, uint64_t ns);

/* `n` times the same value.  A count that would pass 2^63 - 2^56 stays there, the rest is lost. */
PERF_FN void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n);

/* Rounded to the nearest multiple of the histogram's unit.  NaN is lost, and so is what is half a
 * unit or more below zero.  What is 2^63 units or more is recorded as 2^63 - 1 of them.          */
PERF_FN void perf_hist_add_double(perf_hist *h, double ns);

/* ---- read ----  no values, or h NULL: PERF_HIST_NO_DATA, and 0 from what counts               */

PERF_FN uint64_t perf_hist_count(const perf_hist *h);      /* values, without the lost ones      */
PERF_FN uint64_t perf_hist_lost(const perf_hist *h);       /* not counted: negative or NaN, or   */
                                                           /* met a full one; at most UINT64_MAX */

/* Exact when every record kept the sum, also past 2^64: the buckets tell how often it wrapped.
 * Otherwise from bucket midpoints.  Either way within 2^-K.                                      */
PERF_FN double perf_hist_mean(const perf_hist *h);

/* Sample standard deviation (n - 1), from bucket midpoints with Sheppard's correction.  Good when
 * values spread over many buckets; a few values in wide buckets can be far off (figures:
 * docs/histogram.md), and values outside the range are rough: half-way to the extreme.           */
PERF_FN double perf_hist_std(const perf_hist *h);

/* 0 <= q <= 1, else PERF_HIST_NO_DATA.  0 is the minimum, 1 the maximum: exact below 2^53. */
PERF_FN double perf_hist_quantile(const perf_hist *h, double q);

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

/* ---- combine ----  a call that fails leaves `into` as it was; NULL is PERF_EINVAL              */

/* into += from, exactly; any order gives the same bits.  `from` may be finer than `into` (its
 * buckets nest).  PERF_EINVAL: it is coarser, has another unit, or values beyond its range where
 * `into` has buckets.  PERF_ERANGE: a counter or the count of `into` would overflow.             */
PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from);

/* into -= from: undoes a merge, and turns two snapshots into an interval.  PERF_ERANGE: `from`
 * is not contained in `into`.  The extremes become those of the buckets that remain.             */
PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from);

/* into = from, also to fewer bits (coarser) or other counters.  Statuses as for perf_hist_merge.
 * Of its own form `from` may be written meanwhile by another thread or process: `into` is then that
 * of one moment, whose count, percentiles and extremes agree with each other.                    */
PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from);

/* Empty again; touches only the memory that was used.  NULL: nothing. */
PERF_FN void perf_hist_reset(perf_hist *h);

/* >>internal: what other headers may use -------------------------------------------------------
 * No function here takes a lock; the histogram is the caller's, as above.
 *   perf_hist_head_, perf_hist_at_, perf_hist_peek_     the head of a histogram of any form
 *   perf_hist_shape_, perf_hist_shape_of_               layout: range, buckets, counters; not NULL
 *   perf_hist_cell_                                     what a counter holds
 *   perf_hist_book_                                     adds to a value's counter, 0: no room
 *   perf_hist_occupied_                                 the next counter that is not zero
 *   perf_shared_add_, perf_shared_max_                  atomic, on host and device               */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- histogram ----
 *
 * The index is the top of the double: (double)v has its exponent above its mantissa, so the bits
 * from 52-K up count octaves and, within each, 2^K equal steps: one conversion, one shift.
 * The fixed form uses that number as it is.  Caller-owned memory uses the compact index, which is
 * v itself below 2^(K+1) and then goes on without a gap: octaves shorter than 2^K cost no unused
 * counters (0.1 %: 69 KB in place of 86).  Both are equal from 2^K up, except for a constant.
 * The counters of a narrow range begin with the bucket of its lowest value.                      */

#if defined(__GNUC__) && !PERF_TCC_
#define PERF_HIDE_(x) __asm__("" : "+r"(x))         /* the compiler forgets its value             */
#else
#define PERF_HIDE_(x) ((void)0)
#endif

/* *p += n; its value before. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PERF_ATOMIC_ADD_(T, p, n) atomicAdd(PERF_PTR_(T *, p), (n))
#elif defined(__GNUC__) && !PERF_TCC_
#define PERF_ATOMIC_ADD_(T, p, n) __atomic_fetch_add(p, n, 0)      /* relaxed */
#else                               /* no threads promised there                                  */
#define PERF_ATOMIC_ADD_(T, p, n) ((*(p) += (n)) - (n))
#endif

/* What an inlined record needs: the double of a value, and constants of the fixed form. */
#define PERF_HIST_TOP_(v)  perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v)))
#define PERF_HIST_SHIFT_ (52 - PERF_HIST_BITS_)
#define PERF_HIST_BIAS_  (UINT64_C(1023) << PERF_HIST_BITS_)
#define PERF_HIST_HIGHEST_ ((UINT64_C(1) << PERF_HIST_OCTAVES_) - 1)
#define PERF_HIST_FULL_  UINT32_C(0xff000000)   /* shared 32-bit counters stop here: 2^24 writers */
                                                /* may pass it together without a wrap            */
#define PERF_HIST_MOST_  (UINT64_MAX >> 1)      /* values in a histogram, and the largest value   */
#define PERF_HIST_BULK_  (PERF_HIST_MOST_ - (UINT64_C(1) << 56))    /* of them by perf_hist_add_n */

/* Indexes of the widths in the head. */
enum { PERF_HIST_FORM_FIXED_, PERF_HIST_FORM_64_, PERF_HIST_FORM_32_ };

typedef struct perf_hist_shape_ {
    uint64_t highest;
    uint64_t lowest;                /* first value with a bucket                                  */
    size_t   first;                 /* compact index of the first counter                         */
    size_t   counters;
    double   unit;
    unsigned bits;
    unsigned bytes;
    int      compact;
    int      form;                  /* index of its width in the head                             */
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

PERF_HD_FN const void *perf_hist_peek_cells_(const perf_hist *h)
{
    return PERF_PTR_(const char *, h) + sizeof(perf_hist_head_);
}

/* Position of the highest set bit of v, v > 0. */
PERF_HD_FN unsigned perf_top_bit_(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return PERF_CAST_(unsigned, 63 - __clzll(PERF_CAST_(long long, v)));
#elif defined(__GNUC__) && !PERF_TCC_
    return 63u ^ PERF_CAST_(unsigned, __builtin_clzll(v));
#else
    unsigned n = 0;

    while (v >>= 1)
        n++;
    return n;
#endif
}

PERF_HD_FN uint64_t perf_lesser_(uint64_t a, uint64_t b)
{
    if (a < b)
        return a;
    return b;
}

PERF_HD_FN uint64_t perf_greater_(uint64_t a, uint64_t b)
{
    if (a > b)
        return a;
    return b;
}

/* x within [low, high], low <= high. */
PERF_FN double perf_clamped_(double x, double low, double high)
{
    if (x < low)
        return low;
    if (x > high)
        return high;
    return x;
}

/* Counter of v, lowest <= v <= highest.  Integer arithmetic: a device does the same as the host. */
PERF_HD_FN uint64_t perf_hist_index_(const perf_hist_shape_ *s, uint64_t v)
{
    unsigned e = perf_top_bit_(v), k = s->bits;     /* v = 2^e and more, 2^k buckets an octave    */
    uint64_t step;                                  /* in [2^k, 2^(k+1))                          */

    if (e >= k)
        step = v >> (e - k);
    else
        step = v << (k - e);
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
    s.highest = PERF_HIST_HIGHEST_;
    s.lowest = 1;
    s.first = 0;
    s.counters = PERF_HIST_FIXED_;
    s.bits = PERF_HIST_BITS_;
    s.bytes = 8;
    s.form = PERF_HIST_FORM_FIXED_;
    s.unit = 1.0;
    if (d->unit > 0.0)
        s.unit = d->unit;
    if (!s.compact)
        return s;
    s.highest = d->highest;
    s.counters = d->counters;
    s.bits = d->bits;
    s.bytes = d->bytes;
    s.form = PERF_HIST_FORM_32_;
    if (s.bytes == 8)
        s.form = PERF_HIST_FORM_64_;
    s.first = PERF_CAST_(size_t, d->bias - (PERF_CAST_(uint64_t, 1022 + s.bits) << s.bits));
    if (s.first)
        s.lowest = perf_hist_lower_(&s, 0, &width);
    return s;
}

PERF_FN uint64_t perf_hist_cell_(const perf_hist *h, const perf_hist_shape_ *s, size_t i)
{
    const void *cells = perf_hist_peek_cells_(h);

    if (s->bytes == 4)
        return PERF_GET_(&PERF_CAST_(const uint32_t *, cells)[i]);
    return PERF_GET_(&PERF_CAST_(const uint64_t *, cells)[i]);
}

/* The sum of eight counters from i on. */
#define PERF_EIGHT_(p)                                                                            \
    (zero + (p)[0] + (p)[1] + (p)[2] + (p)[3] + (zero + (p)[4] + (p)[5] + (p)[6] + (p)[7]))
PERF_FN uint64_t perf_hist_eight_(const perf_hist *h, const perf_hist_shape_ *s, size_t i)
{
    const void     *cells = perf_hist_peek_cells_(h);
    const uint64_t *c64 = PERF_CAST_(const uint64_t *, cells) + i;
    const uint32_t *c32 = PERF_CAST_(const uint32_t *, cells) + i;
    uint64_t        zero = 0;

    if (s->bytes == 4)
        return PERF_EIGHT_(c32);
    return PERF_EIGHT_(c64);
}
#undef PERF_EIGHT_

/* The first counter in [i, end) that is not zero, else end. */
PERF_FN size_t perf_hist_occupied_(const perf_hist *h, const perf_hist_shape_ *s, size_t i,
                                   size_t end)
{
    while (i < end && !perf_hist_cell_(h, s, i)) {
        i++;
        while (end - i >= 8 && !perf_hist_eight_(h, s, i))
            i += 8;
    }
    return i;
}

/* Buckets that may be occupied: [*first, return value). */
PERF_FN size_t perf_hist_touched_(const perf_hist *h, const perf_hist_shape_ *s, size_t *first)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    uint64_t               lo = ~PERF_GET_(&d->not_min), hi = PERF_GET_(&d->max);

    lo = perf_greater_(lo, s->lowest);
    hi = perf_lesser_(hi, s->highest);
    *first = 0;
    if (lo > hi)
        return 0;
    *first = PERF_CAST_(size_t, perf_hist_index_(s, lo));
    return PERF_CAST_(size_t, perf_hist_index_(s, hi)) + 1;
}

PERF_FN double perf_hist_unit_(const perf_hist *h)
{
    return perf_hist_shape_of_(h).unit;
}

/* ---- histogram: caller-owned memory ---- */

/* 1: every option is in its range; defaults are filled in. */
PERF_FN int perf_hist_opts_ok_(const perf_hist_opts *o)
{
    const int bytes_ok = o->counter_bytes == 4 || o->counter_bytes == 8;

    return o->bits <= 14 && bytes_ok && o->highest >= 2 && o->highest <= PERF_HIST_MOST_ &&
           o->lowest <= o->highest && o->unit > 0.0 && perf_is_finite_(o->unit) &&
           perf_is_finite_(1.0 / o->unit);
}

/* 0: options out of range.  Else the layout in *s and bytes that it takes. */
PERF_FN size_t perf_hist_plan_(const perf_hist_opts *opts, perf_hist_shape_ *s)
{
    perf_hist_opts o = PERF_ZERO;
    uint64_t       width;

    if (opts)
        o = *opts;
    if (o.highest == 0)
        o.highest = UINT64_C(3600000000000);
    if (o.counter_bytes == 0)
        o.counter_bytes = 4;
    if (!(o.unit < 0.0) && !(o.unit > 0.0) && !perf_is_nan_(o.unit))
        o.unit = 1.0;
    if (!perf_hist_opts_ok_(&o))
        return 0;
    s->unit = o.unit;
    s->bits = 7;
    if (o.bits < 0)
        s->bits = 0;
    else if (o.bits > 0)
        s->bits = PERF_CAST_(unsigned, o.bits);
    s->bytes = PERF_CAST_(unsigned, o.counter_bytes);
    s->form = PERF_HIST_FORM_32_;
    if (s->bytes == 8)
        s->form = PERF_HIST_FORM_64_;
    s->compact = 1;
    s->first = 0;
    s->lowest = 1;
    if (o.lowest > 1)
        s->first = PERF_CAST_(size_t, perf_hist_index_(s, o.lowest));
    if (s->first)
        s->lowest = perf_hist_lower_(s, 0, &width);
    s->counters = PERF_CAST_(size_t, perf_hist_index_(s, o.highest)) + 1;
    s->highest = perf_hist_lower_(s, s->counters - 1, &width);
    s->highest += width - 1;
    return sizeof(perf_hist_head_) + ((s->counters * s->bytes + 31) & ~PERF_CAST_(size_t, 31));
}

PERF_FN size_t perf_hist_bytes(const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;

    return perf_hist_plan_(o, &s);
}

/* The head of an empty histogram. */
PERF_FN void perf_hist_found_(perf_hist_head_ *d, const perf_hist_shape_ *s)
{
    PERF_LIBC_(memset)(d, 0, sizeof *d);
    if (!s->compact)
        return;
    d->highest = s->highest;
    d->counters = PERF_CAST_(uint32_t, s->counters);
    d->bits = PERF_CAST_(uint8_t, s->bits);
    d->bytes = PERF_CAST_(uint8_t, s->bytes);
    d->shift = PERF_CAST_(uint8_t, 52 - s->bits);
    d->bias = (PERF_CAST_(uint64_t, 1022 + s->bits) << s->bits) + s->first;
    if (perf_bits_(s->unit) != perf_bits_(1.0))
        d->unit = s->unit;
}

PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o)
{
    perf_hist_shape_ s = PERF_ZERO;
    size_t           need = perf_hist_plan_(o, &s);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist *, PERF_NULL_);
    PERF_LIBC_(memset)(mem, 0, need);
    perf_hist_found_(PERF_CAST_(perf_hist_head_ *, mem), &s);
    return PERF_CAST_(perf_hist *, mem);
}

/* Smallest value that an inlined record may take: its double tells its counter. */
PERF_FN uint64_t perf_hist_least_(const perf_hist_shape_ *s)
{
    if (!s->compact)
        return 1;
    return perf_greater_(s->lowest, UINT64_C(1) << s->bits);
}

/* The layout that a head in memory asks for, and the bytes that it needs; 0: not one of ours. */
PERF_FN size_t perf_hist_plan_of_head_(const perf_hist_head_ *d, perf_hist_shape_ *s)
{
    perf_hist_opts o = PERF_ZERO;
    uint64_t       front, width;

    s->highest = PERF_HIST_HIGHEST_;
    if (!d->highest)
        return sizeof(perf_hist);
    front = PERF_CAST_(uint64_t, 1022 + (d->bits & 15)) << (d->bits & 15);
    if (d->bits > 14 || d->bias < front || d->bias - front >= 64u << d->bits || !d->bytes)
        return 0;
    s->bits = d->bits;
    s->compact = 1;
    o.bits = d->bits;
    if (d->bits == 0)
        o.bits = -1;
    o.counter_bytes = d->bytes;
    o.highest = d->highest;
    o.lowest = perf_hist_lower_(s, PERF_CAST_(size_t, d->bias - front), &width);
    o.unit = d->unit;
    return perf_hist_plan_(&o, s);
}

/* 1: the window of a head leads no record past the counters, and other forms have none. */
PERF_FN int perf_hist_window_ok_(const perf_hist_head_ *d, const perf_hist_shape_ *s)
{
    uint64_t width = d->width[s->form];
    uint64_t top = perf_lesser_(s->highest, UINT64_MAX >> 11);      /* exact as a double          */

    if (d->width[(s->form + 1) % 3] || d->width[(s->form + 2) % 3])
        return 0;
    return !width || (d->lo >= perf_hist_least_(s) && d->lo <= top && width - 1 <= top - d->lo);
}

/* The constant fields of the head must be those that perf_hist_init would write. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes)
{
    const perf_hist_head_ *d = PERF_CAST_(const perf_hist_head_ *, mem);
    perf_hist_head_        same;
    perf_hist_shape_       s = PERF_ZERO;
    perf_hist             *none = PERF_CAST_(perf_hist *, PERF_NULL_);
    size_t                 need;

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || bytes < sizeof *d)
        return none;
    need = perf_hist_plan_of_head_(d, &s);
    if (need == 0 || need > bytes)
        return none;
    perf_hist_found_(&same, &s);
    if (PERF_LIBC_(memcmp)(&same.highest, &d->highest,
                           sizeof same - offsetof(perf_hist_head_, highest)) != 0)
        return none;
    if (!perf_hist_window_ok_(d, &s))
        return none;
    return PERF_CAST_(perf_hist *, mem);
}

/* ---- histogram: record ---- */

/* One writer's *p += n, which no reader sees half done.  On x86-64 that is the one instruction of a
 * plain +=, of which gcc makes three when asked for a relaxed load and store.                    */
PERF_FN void perf_hist_raise_(uint64_t *p, uint64_t n)
{
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_ && !PERF_TSAN_
    __asm__("addq %1, %0" : "+m"(*p) : "er"(n) : "cc");
#else
    PERF_SET_(p, PERF_GET_(p) + n);
#endif
}

/* n records that are not counted. */
PERF_FN void perf_hist_lose_(perf_hist *h, uint64_t n)
{
    uint64_t *p = &perf_hist_at_(h)->lost;

    PERF_SET_(p, *p + perf_lesser_(n, UINT64_MAX - *p));
}

/* Where a value goes: the number of a counter, or one of these. */
#define PERF_HIST_UNDER_ (UINT64_MAX - 1)
#define PERF_HIST_OVER_  UINT64_MAX
PERF_HD_FN uint64_t perf_hist_place_(const perf_hist_shape_ *s, uint64_t v)
{
    if (v < s->lowest)
        return PERF_HIST_UNDER_;
    if (v > s->highest)
        return PERF_HIST_OVER_;
    return perf_hist_index_(s, v);
}

/* The 64-bit counter of a place: in the head for values outside the range. */
PERF_HD_FN uint64_t *perf_hist_counter_(perf_hist *h, uint64_t place)
{
    perf_hist_head_ *d = perf_hist_at_(h);

    if (place == PERF_HIST_UNDER_)
        return &d->under;
    if (place == PERF_HIST_OVER_)
        return &d->over;
    return PERF_PTR_(uint64_t *, d + 1) + place;
}

/* n more (or fewer) values at a place; 0: the counter cannot hold that, nothing is changed. */
PERF_FN int perf_hist_bump_(perf_hist *h, const perf_hist_shape_ *s, uint64_t place, uint64_t n,
                            int minus)
{
    uint64_t *c, sum, change = n;
    uint32_t *c32;

    if (minus)
        change = 0 - n;
    if (place < PERF_HIST_UNDER_ && s->bytes == 4) {
        c32 = PERF_PTR_(uint32_t *, perf_hist_at_(h) + 1) + place;
        sum = *c32 + change;
        if ((n | sum) >> 32)
            return 0;
        PERF_SET_(c32, PERF_CAST_(uint32_t, sum));
        return 1;
    }
    c = perf_hist_counter_(h, place);
    sum = *c + change;
    if ((n | sum) >> 63)
        return 0;
    PERF_SET_(c, sum);
    return 1;
}

/* The same for values like v. */
PERF_FN int perf_hist_book_(perf_hist *h, const perf_hist_shape_ *s, uint64_t v, uint64_t n,
                            int minus)
{
    return perf_hist_bump_(h, s, perf_hist_place_(s, v), n, minus);
}

/* How many of n more values of a place are counted; the others are lost.  Only a large n can bring
 * the total to its end, so a small one does not pay for the count.                               */
PERF_FN uint64_t perf_hist_room_(perf_hist *h, const perf_hist_shape_ *s, uint64_t place,
                                 uint64_t n)
{
    uint64_t room = n, held;

    if (n >> 20) {
        held = perf_hist_count(h);
        room = PERF_HIST_BULK_ - perf_lesser_(held, PERF_HIST_BULK_);
    }
    if (s->bytes == 4 && place < PERF_HIST_UNDER_) {
        held = UINT32_MAX - perf_hist_cell_(h, s, PERF_CAST_(size_t, place));
        room = perf_lesser_(room, held);
    }
    if (n <= room)
        return n;
    perf_hist_lose_(h, n - room);
    return room;
}

/* Widens the window of admitted values to v. */
PERF_FN void perf_hist_admit_(perf_hist_head_ *d, int form, uint64_t v)
{
    uint64_t *width = &d->width[form], end = v + 1;

    if (*width) {
        end = perf_greater_(end, d->lo + *width);
        v = perf_lesser_(v, d->lo);
    }
    d->lo = v;
    *width = end - v;
}

/* Every record that the inlined compare did not admit: a new extreme, zero, out of range, small
 * values of the compact form, another form.  n values like v whose sum is `sum`.                 */
PERF_OUTLINE_FN_ void perf_hist_put_(perf_hist *h, uint64_t v, uint64_t n, uint64_t sum)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s;
    uint64_t         place;

    if (v >> 63) {
        perf_hist_lose_(h, n);
        return;
    }
    s = perf_hist_shape_of_(h);
    place = perf_hist_place_(&s, v);
    n = perf_hist_room_(h, &s, place, n);
    if (n == 0)
        return;
    PERF_SET_(&d->sums[0], d->sums[0] + sum);
    if (~v > d->not_min)
        PERF_SET_(&d->not_min, ~v);
    if (v > d->max)
        PERF_SET_(&d->max, v);
    (void)perf_hist_bump_(h, &s, place, n, 0);
    if (place < PERF_HIST_UNDER_ && v >= perf_hist_least_(&s) && !(v >> 53))
        perf_hist_admit_(d, s.form, v);             /* its double is exact                        */
}

/* A record of perf_hist_add into another form. */
PERF_OUTLINE_FN_ void perf_hist_put_other_(perf_hist *h, uint64_t v)
{
    perf_hist_add_own(h, v);
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
    if (PERF_UNLIKELY_(ns - d->lo >= d->width[0])) {
        perf_hist_put_other_(h, ns);
        return;
    }
    top = PERF_HIST_TOP_(ns) >> PERF_HIST_SHIFT_;
    PERF_HIDE_(top);
    perf_hist_raise_(&d->sums[top & 3], ns);
    perf_hist_raise_(PERF_PTR_(uint64_t *, d + 1) + (top - PERF_HIST_BIAS_), 1);
}

/* One more in a 32-bit counter, by the index of an admitted value.  A full one stays full. */
PERF_INLINE_FN_ void perf_hist_add32_(perf_hist *h, uint64_t value)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t         top = (PERF_HIST_TOP_(value) >> d->shift) - d->bias;
    uint32_t        *c, n;

    PERF_HIDE_(top);
    c = PERF_PTR_(uint32_t *, d + 1) + top;
    n = *c + 1;
    if (PERF_UNLIKELY_(n == 0)) {
        perf_hist_put_(h, value, 1, 0);
        return;
    }
    PERF_SET_(c, n);
}

PERF_FN void perf_hist_add_own(perf_hist *h, uint64_t value)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    uint64_t         top, sum = value;

    PERF_HIDE_(d);
    if (PERF_UNLIKELY_(value - d->lo >= d->width[PERF_HIST_FORM_64_])) {
        if (value - d->lo < d->width[PERF_HIST_FORM_32_]) {
            perf_hist_add32_(h, value);
            return;
        }
        if (d->bytes == 4)
            sum = 0;                /* 32-bit counters come without a sum                         */
        perf_hist_put_(h, value, 1, sum);
        return;
    }
    top = PERF_HIST_TOP_(value) >> d->shift;
    perf_hist_raise_(&d->sums[top & 3], value);
    top -= d->bias;
    PERF_HIDE_(top);                /* else gcc subtracts it from the address, in three steps     */
    perf_hist_raise_(PERF_PTR_(uint64_t *, d + 1) + top, 1);
}

PERF_HD_FN uint64_t perf_shared_add_(uint64_t *p, uint64_t n)
{
    return PERF_ATOMIC_ADD_(unsigned long long, p, n);
}

PERF_HD_FN void perf_shared_max_(uint64_t *p, uint64_t v)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    if (v > *PERF_PTR_(volatile uint64_t *, p))
        atomicMax(PERF_PTR_(unsigned long long *, p), v);
#elif defined(__GNUC__) && !PERF_TCC_
    uint64_t seen = PERF_GET_(p);

    while (v > seen && !__atomic_compare_exchange_n(p, &seen, v, 1, 0, 0))
        continue;
#else
    if (v > *p)
        *p = v;
#endif
}

PERF_HD_FN void perf_hist_add_shared(perf_hist *h, uint64_t ns)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    uint64_t         place;
    uint32_t        *c32;

    if (ns >> 63 == 0) {
        perf_shared_max_(&d->not_min, ~ns);
        perf_shared_max_(&d->max, ns);
        place = perf_hist_place_(&s, ns);
        if (place >= PERF_HIST_UNDER_ || s.bytes == 8) {
            (void)perf_shared_add_(perf_hist_counter_(h, place), 1);
            return;
        }
        c32 = PERF_PTR_(uint32_t *, d + 1) + place;
        if (PERF_ATOMIC_ADD_(uint32_t, c32, 1) < PERF_HIST_FULL_)
            return;
        (void)PERF_ATOMIC_ADD_(uint32_t, c32, UINT32_MAX);      /* take it back                   */
    }
    if (perf_shared_add_(&d->lost, 1) == UINT64_MAX)            /* at its end it stays            */
        (void)perf_shared_add_(&d->lost, UINT64_MAX);
}

PERF_FN void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n)
{
    perf_hist_put_(h, ns, n, ns * n);
}

PERF_FN void perf_hist_add_double(perf_hist *h, double ns)
{
    double   x = ns / perf_hist_unit_(h);
    uint64_t v;

    if (perf_is_nan_(x) || x <= -0.5) {
        perf_hist_lose_(h, 1);
    } else if (x >= 9223372036854775807.0) {
        perf_hist_add(h, PERF_HIST_MOST_);
    } else {
        v = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, x));
        perf_hist_add(h, v + (x - PERF_CAST_(double, PERF_CAST_(int64_t, v)) >= 0.5));
    }
}

/* ---- histogram: read ---- */

/* The sums of n blocks of `block` counters (64 or a multiple), and of all of them.  64-bit counters
 * are read 10 KB and more at a time: in vectors where the compiler has them (gcc -O2 makes none on
 * its own), in the wide ones of AVX2 where the processor has it.                                 */
#if defined(__GNUC__) && !PERF_TCC_ && !defined(__NVCC__)
typedef uint64_t perf_lanes_ __attribute__((vector_size(32), aligned(8), may_alias));
#define PERF_HIST_LANES_(name)                                                                    \
    PERF_FN uint64_t name(const void *cells, size_t block, size_t n, uint64_t *sums)              \
    {                                                                                             \
        const perf_lanes_ *v = PERF_CAST_(const perf_lanes_ *, cells);                            \
        uint64_t           total = 0;                                                             \
        size_t             i, k;                                                                  \
        for (k = 0; k < n; k++) {                                                                 \
            perf_lanes_ a = PERF_ZERO, b = PERF_ZERO;                                             \
            for (i = 0; i < block; i += 16, v += 4) {                                             \
                a += v[0] + v[1];                                                                 \
                b += v[2] + v[3];                                                                 \
            }                                                                                     \
            a += b;                                                                               \
            sums[k] = a[0] + a[1] + a[2] + a[3];                                                  \
            total += sums[k];                                                                     \
        }                                                                                         \
        return total;                                                                             \
    }
PERF_HIST_LANES_(perf_hist_lanes_)
#if defined(__x86_64__) && !defined(__AVX2__) && !defined(_WIN32)  /* stack aligned to 16 bytes   */
#define PERF_HIST_AVX2_ 1
PERF_ATTR_((__target__("avx2"))) PERF_HIST_LANES_(perf_hist_avx2_lanes_)
#endif
#undef PERF_HIST_LANES_
#else
#define PERF_HIST_NO_LANES_ 1
typedef uint64_t perf_lanes_ PERF_ATTR_((__may_alias__));
#endif

PERF_FN uint64_t perf_hist_sums_(const perf_hist *h, const perf_hist_shape_ *s, size_t first,
                                 size_t block, size_t n, uint64_t *sums)
{
    uint64_t total = 0;
    size_t   i, k;

#if !defined(PERF_HIST_NO_LANES_)
    if (s->bytes == 8) {
        const uint64_t *c = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(h)) + first;
#if defined(PERF_HIST_AVX2_)
        if (__builtin_cpu_supports("avx2"))
            return perf_hist_avx2_lanes_(c, block, n, sums);
#endif
        return perf_hist_lanes_(c, block, n, sums);
    }
#endif
    for (k = 0; k < n; k++, total += sums[k - 1])
        for (sums[k] = 0, i = 0; i < block; i += 8, first += 8)
            sums[k] += perf_hist_eight_(h, s, first);
    return total;
}

/* The sum of counters [first, first + n). */
PERF_FN uint64_t perf_hist_sum_cells_(const perf_hist *h, const perf_hist_shape_ *s, size_t first,
                                      size_t n)
{
    uint64_t sum = 0, part = 0;

    for (; n % 64; n--)
        sum += perf_hist_cell_(h, s, first + n - 1);
    if (n)
        sum += perf_hist_sums_(h, s, first, n, 1, &part);
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
    return d->under + d->over + perf_hist_sum_cells_(h, &s, first, end - first);
}

PERF_FN uint64_t perf_hist_lost(const perf_hist *h)
{
    if (!h)
        return 0;
    return PERF_GET_(&perf_hist_peek_(h)->lost);
}

/* The extremes as integers; 0: there are none. */
PERF_FN int perf_hist_extremes_(const perf_hist *h, uint64_t *min, uint64_t *max)
{
    uint64_t not_min = 0;

    *max = 0;
    if (h)
        not_min = PERF_GET_(&perf_hist_peek_(h)->not_min);
    if (not_min)
        *max = PERF_GET_(&perf_hist_peek_(h)->max);
    *min = ~not_min;
    return not_min != 0;
}

/* The values below the range as a bucket; a single one is the minimum itself.  0: none. */
PERF_FN int perf_hist_bucket_under_(const perf_hist_head_ *d, uint64_t lowest, perf_hist_bucket *b)
{
    b->count = d->under;
    if (!b->count)
        return 0;
    b->lower = perf_lesser_(~d->not_min, lowest - 1);
    b->upper = lowest - 1;
    if (b->count == 1)
        b->upper = b->lower;
    return 1;
}

/* The values above the range likewise. */
PERF_FN int perf_hist_bucket_over_(const perf_hist_head_ *d, uint64_t highest, perf_hist_bucket *b)
{
    b->count = d->over;
    if (!b->count)
        return 0;
    b->upper = perf_greater_(d->max, highest + 1);
    b->lower = highest + 1;
    if (b->count == 1)
        b->lower = b->upper;
    return 1;
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
        if (perf_hist_bucket_under_(d, s.lowest, b))
            return 1;
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
    if (b->next_ != b->end_)
        return 0;
    if (!perf_hist_bucket_over_(d, s.highest, b))
        return 0;
    b->next_++;
    return 1;
}

/* Middle of the integers of a bucket, as far as they are within the extremes. */
PERF_FN double perf_hist_middle_(const perf_hist *h, uint64_t lower, uint64_t upper)
{
    double   x = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, upper - lower);
    uint64_t min, max;

    (void)perf_hist_extremes_(h, &min, &max);
    return perf_clamped_(x, PERF_CAST_(double, min), PERF_CAST_(double, max));
}

/* The sum of all values, exact modulo 2^64 where every record kept it.  The buckets say which
 * multiple to add.  If none brings it between their edges, it is not the sum of these records, and
 * that of the midpoints is taken.                                                                */
PERF_FN double perf_hist_sum_(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    const perf_hist_head_ *d = perf_hist_peek_(h);
    double           low = 0.0, mid = 0.0, high = 0.0, sum, wraps;

    while (perf_hist_next(h, &b)) {
        double n = PERF_CAST_(double, b.count);
        low += n * PERF_CAST_(double, b.lower);
        mid += n * perf_hist_middle_(h, b.lower, b.upper);
        high += n * PERF_CAST_(double, b.upper);
    }
    if (b.below == 0)
        return PERF_HIST_NO_DATA;
    sum = PERF_CAST_(double, PERF_GET_(&d->sums[0]) + PERF_GET_(&d->sums[1]) +
                             PERF_GET_(&d->sums[2]) + PERF_GET_(&d->sums[3]));
    wraps = (mid - sum) / 18446744073709551616.0;
    if (wraps > 0.5 && wraps < 4e15)
        sum += 18446744073709551616.0 * PERF_CAST_(double, PERF_CAST_(int64_t, wraps + 0.5));
    if (!(sum >= low * (1.0 - 1e-12) && sum <= high * (1.0 + 1e-12)))
        sum = mid;
    return sum * perf_hist_unit_(h);
}

PERF_FN double perf_hist_mean(const perf_hist *h)
{
    uint64_t n = perf_hist_count(h), min, max;
    double   unit;

    if (n == 0)
        return PERF_HIST_NO_DATA;
    (void)perf_hist_extremes_(h, &min, &max);
    unit = perf_hist_unit_(h);
    return perf_clamped_(perf_hist_sum_(h) / PERF_CAST_(double, n), PERF_CAST_(double, min) * unit,
                         PERF_CAST_(double, max) * unit);
}

PERF_FN double perf_hist_std(const perf_hist *h)
{
    perf_hist_bucket b = PERF_ZERO;
    perf_hist_shape_ s;
    double           n, mean, s1 = 0.0, s2 = 0.0, within = 0.0, var, limit;
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
        if (b.lower >= s.lowest && b.upper <= s.highest)    /* not the two beyond the range       */
            within += c * (w * w - 1.0) / 12.0;             /* Sheppard, for integers             */
    }
    var = s2 - s1 * s1 / n - within;
    limit = (mean - PERF_CAST_(double, min)) * (PERF_CAST_(double, max) - mean) * n;
    if (var > limit)                                /* Bhatia and Davis                           */
        var = limit;
    if (var < 0.0)
        var = 0.0;
    return perf_sqrt_(var / (n - 1.0)) * perf_hist_unit_(h);
}

/* Sums of up to 256 blocks of counters: what a quantile needs to find its bucket. */
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

/* The bucket in [j, end) where the running count reaches rank. */
PERF_FN size_t perf_hist_walk_(const perf_hist *h, const perf_hist_shape_ *s, size_t j, size_t end,
                               uint64_t below, uint64_t rank)
{
    uint64_t eight;

    for (; end - j > 8; j += 8, below += eight) {
        eight = perf_hist_eight_(h, s, j);
        if (below + eight >= rank)
            break;
    }
    while (j < end - 1 && (below += perf_hist_cell_(h, s, j)) < rank)
        j++;
    return j;
}

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
    return perf_greater_(perf_lesser_(t, n), 1);
}

/* The value of a rank in 1..total, in integers of the histogram. */
PERF_FN double perf_hist_value_(const perf_hist *h, const perf_hist_scan_ *s, uint64_t rank)
{
    uint64_t under = perf_hist_peek_(h)->under, below = under, width, lower;
    size_t   i, end, block = 0;

    if (rank == s->total)
        return s->max;
    if (rank == 1 || rank <= under)
        return s->min;
    while (block < s->blocks && rank - below > s->sums[block])
        below += s->sums[block++];
    if (block == s->blocks)
        return s->max;                          /* above the range                                */
    i = s->first + block * s->block;
    end = i + s->block;
    if (end > s->end)
        end = s->end;
    i = perf_hist_walk_(h, &s->shape, i, end, below, rank);
    lower = perf_hist_lower_(&s->shape, i, &width);
    return perf_clamped_(PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1), s->min,
                         s->max);
}

PERF_FN double perf_hist_quantile(const perf_hist *h, double q)
{
    perf_hist_scan_ s;
    uint64_t        rank;

    if (!h || !(q >= 0.0 && q <= 1.0))
        return PERF_HIST_NO_DATA;
    perf_hist_scan_blocks_(h, &s);
    if (s.total == 0)
        return PERF_HIST_NO_DATA;
    rank = perf_hist_rank_(q, s.total);
    return s.shape.unit * perf_hist_value_(h, &s, rank);
}

/* Values in the buckets up to that of the integer v. */
PERF_FN uint64_t perf_hist_up_to_(const perf_hist *h, uint64_t v)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    size_t           first, i;
    uint64_t         min, max;

    if (!perf_hist_extremes_(h, &min, &max) || v < min)
        return 0;
    if (v >= max || v > s.highest)
        return perf_hist_count(h);
    if (v < s.lowest)
        return perf_hist_peek_(h)->under;
    (void)perf_hist_touched_(h, &s, &first);
    i = PERF_CAST_(size_t, perf_hist_index_(&s, v)) + 1;
    return perf_hist_peek_(h)->under + perf_hist_sum_cells_(h, &s, first, i - first);
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
    if (x < 9.2e18)
        return perf_hist_up_to_(h, PERF_CAST_(uint64_t, x));
    return perf_hist_up_to_(h, PERF_HIST_MOST_);
}

/* ---- histogram: combine ---- */

PERF_FN int perf_hist_same_(const perf_hist_shape_ *a, const perf_hist_shape_ *b)
{
    return a->bits == b->bits && a->bytes == b->bytes && a->compact == b->compact &&
           a->counters == b->counters && a->first == b->first;
}

/* Whether the values of `from` can go to `into` at all, by unit and bits; and both shapes. */
PERF_FN perf_status perf_hist_nests_(const perf_hist *into, const perf_hist *from,
                                     perf_hist_shape_ *s, perf_hist_shape_ *t)
{
    if (!into || !from || into == from)
        return PERF_EINVAL;
    *s = perf_hist_shape_of_(into);
    *t = perf_hist_shape_of_(from);
    if (t->bits < s->bits || perf_bits_(s->unit) != perf_bits_(t->unit))
        return PERF_EINVAL;
    return PERF_OK;
}

/* What the counter of a place holds. */
PERF_FN uint64_t perf_hist_held_(const perf_hist *h, const perf_hist_shape_ *s, uint64_t place)
{
    if (place == PERF_HIST_UNDER_)
        return perf_hist_peek_(h)->under;
    if (place == PERF_HIST_OVER_)
        return perf_hist_peek_(h)->over;
    return perf_hist_cell_(h, s, PERF_CAST_(size_t, place));
}

/* What is to be done with the values of another histogram. */
typedef enum perf_hist_deed_ {
    PERF_HIST_PLUS_, PERF_HIST_MINUS_, PERF_HIST_INSTEAD_
} perf_hist_deed_;

/* 1: the counter of a place can take (or give back) n values. */
PERF_FN int perf_hist_has_room_(const perf_hist *h, const perf_hist_shape_ *s, uint64_t place,
                                uint64_t n, perf_hist_deed_ deed)
{
    uint64_t held = 0, most = PERF_HIST_MOST_;

    if (deed != PERF_HIST_INSTEAD_)
        held = perf_hist_held_(h, s, place);
    if (s->bytes == 4 && place < PERF_HIST_UNDER_)
        most = UINT32_MAX;
    if ((n | held) >> 63)
        return 0;
    if (deed == PERF_HIST_MINUS_)
        return n <= held;
    return n + held <= most;
}

/* Whether `into` can take all of `from`, which has another shape. */
PERF_FN perf_status perf_hist_fits_(const perf_hist *into, const perf_hist *from,
                                    perf_hist_deed_ deed)
{
    perf_hist_shape_ s = perf_hist_shape_of_(into);
    uint64_t         n = 0, at = PERF_HIST_UNDER_, next, held = 0;
    perf_hist_bucket b = PERF_ZERO;

    while (perf_hist_next(from, &b)) {          /* ascending: what shares a counter is together   */
        next = perf_hist_place_(&s, b.lower);
        if (next != perf_hist_place_(&s, b.upper))
            return PERF_EINVAL;                 /* outside its range, and we would know better    */
        if (next != at)
            n = 0;
        n += b.count;
        at = next;
        if (b.count >> 63 || !perf_hist_has_room_(into, &s, at, n, deed))
            return PERF_ERANGE;
    }
    if (deed == PERF_HIST_PLUS_)
        held = perf_hist_count(into);
    if ((b.below | held) >> 63 || b.below + held > PERF_HIST_MOST_)
        return PERF_ERANGE;
    return PERF_OK;
}

/* Equal shapes are added as they lie, two 32-bit counters as one number: none can overflow where
 * the total does not.  The memory of the counters is a multiple of 32 bytes.                     */
PERF_FN void perf_hist_merge_equal_(perf_hist *into, const perf_hist *from,
                                    const perf_hist_shape_ *s)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);
    size_t                 i, end = perf_hist_touched_(from, s, &i);
    size_t                 each = sizeof(perf_lanes_) / s->bytes;
    perf_lanes_           *to = PERF_PTR_(perf_lanes_ *, d + 1);
    const perf_lanes_     *cells = PERF_CAST_(const perf_lanes_ *, perf_hist_peek_cells_(from));

    for (i /= each; i * each < end; i++)
        to[i] += cells[i];
    d->under += f->under;
    d->over += f->over;
}

/* 1: equal shapes whose totals fit together, so that no counter can overflow. */
PERF_FN int perf_hist_adds_up_(const perf_hist *into, const perf_hist *from,
                               const perf_hist_shape_ *s, const perf_hist_shape_ *t)
{
    uint64_t n = perf_hist_count(into), m = perf_hist_count(from), most = PERF_HIST_MOST_;

    if (s->bytes == 4)
        most = UINT32_MAX;
    return perf_hist_same_(s, t) && (n | m) >> 63 == 0 && n + m <= most;
}

/* into += from, or -= */
PERF_FN perf_status perf_hist_combine_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);
    perf_hist_shape_       s, t;
    perf_hist_bucket       b = PERF_ZERO;
    perf_status            status = perf_hist_nests_(into, from, &s, &t);
    int                    i;

    if (status != PERF_OK)
        return status;
    if (minus && d->lost < f->lost)
        return PERF_ERANGE;
    if (!minus && perf_hist_adds_up_(into, from, &s, &t)) {
        perf_hist_merge_equal_(into, from, &s);
    } else {
        status = perf_hist_fits_(into, from, minus ? PERF_HIST_MINUS_ : PERF_HIST_PLUS_);
        while (status == PERF_OK && perf_hist_next(from, &b))
            (void)perf_hist_book_(into, &s, b.lower, b.count, minus);
    }
    if (status != PERF_OK)
        return status;
    for (i = 0; i < 4; i++)
        if (minus)
            d->sums[i] -= f->sums[i];
        else
            d->sums[i] += f->sums[i];
    if (!minus)
        perf_hist_lose_(into, f->lost);
    else if (d->lost != UINT64_MAX)
        d->lost -= f->lost;
    return PERF_OK;
}

PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from)
{
    perf_status            status = perf_hist_combine_(into, from, 0);
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(from);

    if (status == PERF_OK) {        /* the windows stay: what they admit is still no new extreme  */
        d->not_min = perf_greater_(f->not_min, d->not_min);
        d->max = perf_greater_(f->max, d->max);
    }
    return status;
}

/* Extremes that the occupied buckets allow, as near as possible to those given; windows closed. */
PERF_FN void perf_hist_settle_(perf_hist *h, uint64_t min, uint64_t max)
{
    perf_hist_head_ *d = perf_hist_at_(h);
    perf_hist_bucket b = PERF_ZERO, first = b, last = b;

    d->lo = d->width[0] = d->width[1] = d->width[2] = 0;
    while (perf_hist_next(h, &b)) {
        if (b.below == 0)
            first = b;
        last = b;
    }
    d->not_min = d->max = 0;
    if (b.below == 0)
        return;
    d->not_min = ~perf_greater_(perf_lesser_(min, first.upper), first.lower);
    d->max = perf_greater_(perf_lesser_(max, last.upper), last.lower);
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
    PERF_LIBC_(memset)(PERF_PTR_(char *, d + 1) + first * s.bytes, 0, (end - first) * s.bytes);
    perf_hist_found_(d, &s);
}

/* A histogram of the same form, which somebody may be writing. */
PERF_FN void perf_hist_copy_live_(perf_hist *into, const perf_hist *live, const perf_hist_shape_ *s)
{
    perf_hist_head_       *d = perf_hist_at_(into);
    const perf_hist_head_ *f = perf_hist_peek_(live);
    size_t                 i, end;

    perf_hist_reset(into);
    for (end = perf_hist_touched_(live, s, &i); i < end; i++)
        (void)perf_hist_bump_(into, s, i, perf_hist_cell_(live, s, i), 0);
    d->under = PERF_GET_(&f->under);
    d->over = PERF_GET_(&f->over);
    d->lost = PERF_GET_(&f->lost);
    for (i = 0; i < 4; i++)
        d->sums[i] = PERF_GET_(&f->sums[i]);
    d->not_min = PERF_GET_(&f->not_min);        /* the walk below needs the touched range         */
    d->max = PERF_GET_(&f->max);
    perf_hist_settle_(into, ~d->not_min, d->max);
}

PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from)
{
    perf_hist_shape_ s, t;
    perf_status      status = perf_hist_nests_(into, from, &s, &t);

    if (status != PERF_OK)
        return status;
    if (perf_hist_same_(&s, &t)) {
        perf_hist_copy_live_(into, from, &s);
        return PERF_OK;
    }
    status = perf_hist_fits_(into, from, PERF_HIST_INSTEAD_);
    if (status != PERF_OK)
        return status;
    perf_hist_reset(into);
    return perf_hist_merge(into, from);
}

PERF_END_DECLS

#endif /* PERF_HIST_H */
