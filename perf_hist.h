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
PERF_FN size_t perf_hist_bytes(const perf_hist_opts *opts);

/* Makes an empty histogram in `mem` (8-byte aligned, yours, needs no freeing) and returns it.
 * NULL: memory too small, misaligned or options out of range.  Do not copy it with `=`, which
 * would copy sizeof(perf_hist) bytes: use perf_hist_copy or memcpy of perf_hist_bytes.           */
PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *opts);

/* Histogram in memory that somebody else filled (a mapping, a message).  NULL: not one of ours. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes);

/* ---- record ----  `hist` is not NULL, of any form.  The first two have one writer; meanwhile
 * perf_hist_copy may read, from other threads or processes too.                                  */

/* Inlined for the fixed form.  Keeps the sum. */
PERF_FN void perf_hist_add(perf_hist *hist, uint64_t ns);

/* The same, inlined for caller-owned memory.  Keeps the sum if its counters have 64 bits; with 32
 * the mean comes from the buckets.                                                               */
PERF_FN void perf_hist_add_own(perf_hist *hist, uint64_t value);

/* Any number of writers, on the host or on the device; not together with the forms above.  Keeps no
 * sum.  perf_hist_copy may read at any time (on the device: after the kernel).                   */
PERF_HD_FN void perf_hist_add_shared(perf_hist *hist, uint64_t ns);

/* `n` times the same value.  A count that would pass 2^63 - 2^56 stays there, the rest is lost. */
PERF_FN void perf_hist_add_n(perf_hist *hist, uint64_t ns, uint64_t n);

/* Rounded to the nearest multiple of the histogram's unit.  NaN is lost, and so is what is half a
 * unit or more below zero.  What is 2^63 units or more is recorded as 2^63 - 1 of them.          */
PERF_FN void perf_hist_add_double(perf_hist *hist, double ns);

/* ---- read ----  no values, or `hist` NULL: PERF_HIST_NO_DATA, and 0 from what counts */

PERF_FN uint64_t perf_hist_count(const perf_hist *hist);   /* values, without the lost ones      */
PERF_FN uint64_t perf_hist_lost(const perf_hist *hist);    /* not counted: negative or NaN, or   */
                                                           /* met a full one; at most UINT64_MAX */

/* Exact when every record kept the sum, also past 2^64: the buckets tell how often it wrapped.
 * Otherwise from bucket midpoints.  Either way within 2^-K, but values outside the range are rough
 * without a kept sum: half-way to the extreme.                                                   */
PERF_FN double perf_hist_mean(const perf_hist *hist);

/* Sample standard deviation (n - 1), from bucket midpoints with Sheppard's correction.  Good when
 * values spread over many buckets; a few values in wide buckets can be far off (figures:
 * docs/histogram.md), and values outside the range are rough: half-way to the extreme.           */
PERF_FN double perf_hist_std(const perf_hist *hist);

/* 0 <= q <= 1, else PERF_HIST_NO_DATA.  0 is the minimum, 1 the maximum: exact below 2^53. */
PERF_FN double perf_hist_quantile(const perf_hist *hist, double q);

/* How many values are at most `value`, those in its bucket included: divided by perf_hist_count
 * the distribution function.  0 for NaN.                                                         */
PERF_FN uint64_t perf_hist_rank(const perf_hist *hist, double value);

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
PERF_FN int perf_hist_next(const perf_hist *hist, perf_hist_bucket *bucket);

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
PERF_FN void perf_hist_reset(perf_hist *hist);

/* >>internal: what other headers may use -------------------------------------------------------
 * No function here takes a lock; the histogram is the caller's, as above.
 *   perf_hist_head_, perf_hist_at_, perf_hist_peek_     the head of a histogram of any form
 *   perf_hist_shape_, perf_hist_shape_of_               layout: range, buckets, counters; not NULL
 *   perf_hist_cell_                                     what a counter holds
 *   perf_hist_book_                                     adds to a value's counter, 0: no room
 *   perf_hist_occupied_                                 the next counter that is not zero
 *   perf_shared_add_                                    atomic, on host and device               */

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
PERF_HD_FN perf_hist_head_ *perf_hist_at_(perf_hist *hist)
{
    return PERF_PTR_(perf_hist_head_ *, hist);
}

PERF_HD_FN const perf_hist_head_ *perf_hist_peek_(const perf_hist *hist)
{
    return PERF_PTR_(const perf_hist_head_ *, hist);
}

PERF_HD_FN const void *perf_hist_peek_cells_(const perf_hist *hist)
{
    return PERF_PTR_(const char *, hist) + sizeof(perf_hist_head_);
}

/* Position of the highest set bit of `value`, `value` > 0. */
PERF_HD_FN unsigned perf_top_bit_(uint64_t value)
{
#if defined(__CUDA_ARCH__)
    return PERF_CAST_(unsigned, 63 - __clzll(PERF_CAST_(long long, value)));
#elif defined(__GNUC__) && !PERF_TCC_
    return 63u ^ PERF_CAST_(unsigned, __builtin_clzll(value));
#else
    unsigned n = 0;

    while (value >>= 1)
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

/* The index of the counter of `value`, lowest <= `value` <= highest.  2^octave <= value, and an
 * octave has 2^bits counters.  Integer arithmetic: a device does the same as the host.           */
PERF_HD_FN uint64_t perf_hist_index_(const perf_hist_shape_ *shape, uint64_t value)
{
    unsigned octave = perf_top_bit_(value), bits = shape->bits;
    uint64_t step;                                  /* in [2^bits, 2^(bits + 1))                  */

    if (octave >= bits)
        step = value >> (octave - bits);
    else
        step = value << (bits - octave);
    if (!shape->compact)
        return (PERF_CAST_(uint64_t, octave) << bits) + step - (UINT64_C(1) << bits);
    if (octave <= bits)
        return value - shape->first;
    return (PERF_CAST_(uint64_t, octave - bits) << bits) + step - shape->first;
}

/* First value of counter i; *width becomes the number of integers in its bucket. */
PERF_HD_FN uint64_t perf_hist_lower_(const perf_hist_shape_ *shape, size_t i, uint64_t *width)
{
    size_t   index = i + shape->first;
    unsigned bits = shape->bits, octave = PERF_CAST_(unsigned, index >> bits);
    size_t   start = PERF_CAST_(size_t, 1) << bits;     /* the first step of an octave            */
    uint64_t step = (index & (start - 1)) | start;

    *width = 1;
    if (shape->compact) {
        if (octave < 2)
            return index;
        *width = UINT64_C(1) << (octave - 1);
        return step << (octave - 1);
    }
    if (octave < bits)
        return step >> (bits - octave);
    *width = UINT64_C(1) << (octave - bits);
    return step << (octave - bits);
}

PERF_HD_FN perf_hist_shape_ perf_hist_shape_of_(const perf_hist *hist)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    uint64_t               width;

    shape.compact = head->highest != 0;
    shape.highest = PERF_HIST_HIGHEST_;
    shape.lowest = 1;
    shape.first = 0;
    shape.counters = PERF_HIST_FIXED_;
    shape.bits = PERF_HIST_BITS_;
    shape.bytes = 8;
    shape.form = PERF_HIST_FORM_FIXED_;
    shape.unit = 1.0;
    if (head->unit > 0.0)
        shape.unit = head->unit;
    if (!shape.compact)
        return shape;
    shape.highest = head->highest;
    shape.counters = head->counters;
    shape.bits = head->bits;
    shape.bytes = head->bytes;
    shape.form = PERF_HIST_FORM_32_;
    if (shape.bytes == 8)
        shape.form = PERF_HIST_FORM_64_;
    shape.first =
        PERF_CAST_(size_t, head->bias - (PERF_CAST_(uint64_t, 1022 + shape.bits) << shape.bits));
    if (shape.first)
        shape.lowest = perf_hist_lower_(&shape, 0, &width);
    return shape;
}

PERF_FN uint64_t perf_hist_cell_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i)
{
    const void *cells = perf_hist_peek_cells_(hist);

    if (shape->bytes == 4)
        return PERF_GET_(&PERF_CAST_(const uint32_t *, cells)[i]);
    return PERF_GET_(&PERF_CAST_(const uint64_t *, cells)[i]);
}

/* The sum of eight counters from i on.  zero: sums of 32-bit counters have 64 bits. */
#define PERF_EIGHT_(p)                                                                            \
    (zero + (p)[0] + (p)[1] + (p)[2] + (p)[3] + (zero + (p)[4] + (p)[5] + (p)[6] + (p)[7]))
PERF_FN uint64_t perf_hist_eight_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i)
{
    const void     *cells = perf_hist_peek_cells_(hist);
    const uint64_t *c64 = PERF_CAST_(const uint64_t *, cells) + i;
    const uint32_t *c32 = PERF_CAST_(const uint32_t *, cells) + i;
    uint64_t        zero = 0;

    if (shape->bytes == 4)
        return PERF_EIGHT_(c32);
    return PERF_EIGHT_(c64);
}
#undef PERF_EIGHT_

/* The first counter in [i, end) that is not zero, else end. */
PERF_FN size_t perf_hist_occupied_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i,
                                   size_t end)
{
    while (i < end && !perf_hist_cell_(hist, shape, i)) {
        i++;
        while (end - i >= 8 && !perf_hist_eight_(hist, shape, i))
            i += 8;
    }
    return i;
}

/* Buckets that may be occupied: [*first, return value). */
PERF_FN size_t perf_hist_touched_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                  size_t *first)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    uint64_t               lo = ~PERF_GET_(&head->not_min), hi = PERF_GET_(&head->max);

    lo = perf_greater_(lo, shape->lowest);
    hi = perf_lesser_(hi, shape->highest);
    *first = 0;
    if (lo > hi)
        return 0;
    *first = PERF_CAST_(size_t, perf_hist_index_(shape, lo));
    return PERF_CAST_(size_t, perf_hist_index_(shape, hi)) + 1;
}

PERF_FN double perf_hist_unit_(const perf_hist *hist)
{
    return perf_hist_shape_of_(hist).unit;
}

/* ---- histogram: caller-owned memory ---- */

/* 1: every option is in its range; defaults are filled in. */
PERF_FN int perf_hist_opts_ok_(const perf_hist_opts *opts)
{
    const int bytes_ok = opts->counter_bytes == 4 || opts->counter_bytes == 8;

    return opts->bits <= 14 && bytes_ok && opts->highest >= 2 && opts->highest <= PERF_HIST_MOST_ &&
           opts->lowest <= opts->highest && opts->unit > 0.0 && perf_is_finite_(opts->unit) &&
           perf_is_finite_(1.0 / opts->unit);
}

/* Fills in *shape, the layout that the options ask for (NULL: defaults).  Returns the bytes that it
 * takes; 0: options out of range.                                                                */
PERF_FN size_t perf_hist_plan_(const perf_hist_opts *opts, perf_hist_shape_ *shape)
{
    perf_hist_opts options = PERF_ZERO;
    uint64_t       width;

    if (opts)
        options = *opts;
    if (options.highest == 0)
        options.highest = UINT64_C(3600000000000);          /* an hour in ns                      */
    if (options.counter_bytes == 0)
        options.counter_bytes = 4;
    if (perf_is_zero_(options.unit))
        options.unit = 1.0;
    if (!perf_hist_opts_ok_(&options))
        return 0;
    shape->unit = options.unit;
    shape->bits = 7;
    if (options.bits < 0)
        shape->bits = 0;
    else if (options.bits > 0)
        shape->bits = PERF_CAST_(unsigned, options.bits);
    shape->bytes = PERF_CAST_(unsigned, options.counter_bytes);
    shape->form = PERF_HIST_FORM_32_;
    if (shape->bytes == 8)
        shape->form = PERF_HIST_FORM_64_;
    shape->compact = 1;
    shape->first = 0;
    shape->lowest = 1;
    if (options.lowest > 1)
        shape->first = PERF_CAST_(size_t, perf_hist_index_(shape, options.lowest));
    if (shape->first)
        shape->lowest = perf_hist_lower_(shape, 0, &width);
    shape->counters = PERF_CAST_(size_t, perf_hist_index_(shape, options.highest)) + 1;
    shape->highest = perf_hist_lower_(shape, shape->counters - 1, &width);
    shape->highest += width - 1;
    return sizeof(perf_hist_head_) +
           ((shape->counters * shape->bytes + 31) & ~PERF_CAST_(size_t, 31));
}

PERF_FN size_t perf_hist_bytes(const perf_hist_opts *opts)
{
    perf_hist_shape_ shape = PERF_ZERO;

    return perf_hist_plan_(opts, &shape);
}

/* The head of an empty histogram. */
PERF_FN void perf_hist_head_make_(perf_hist_head_ *head, const perf_hist_shape_ *shape)
{
    PERF_LIBC_(memset)(head, 0, sizeof *head);
    if (!shape->compact)
        return;
    head->highest = shape->highest;
    head->counters = PERF_CAST_(uint32_t, shape->counters);
    head->bits = PERF_CAST_(uint8_t, shape->bits);
    head->bytes = PERF_CAST_(uint8_t, shape->bytes);
    head->shift = PERF_CAST_(uint8_t, 52 - shape->bits);
    head->bias = (PERF_CAST_(uint64_t, 1022 + shape->bits) << shape->bits) + shape->first;
    if (perf_bits_(shape->unit) != perf_bits_(1.0))
        head->unit = shape->unit;
}

PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *opts)
{
    perf_hist_shape_ shape = PERF_ZERO;
    size_t           need = perf_hist_plan_(opts, &shape);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist *, PERF_NULL_);
    PERF_LIBC_(memset)(mem, 0, need);
    perf_hist_head_make_(PERF_CAST_(perf_hist_head_ *, mem), &shape);
    return PERF_CAST_(perf_hist *, mem);
}

/* Smallest value that an inlined record may take: its double tells its counter. */
PERF_FN uint64_t perf_hist_least_(const perf_hist_shape_ *shape)
{
    if (!shape->compact)
        return 1;
    return perf_greater_(shape->lowest, UINT64_C(1) << shape->bits);
}

/* The layout that a head in memory asks for, and the bytes that it needs; 0: not one of ours. */
PERF_FN size_t perf_hist_plan_of_head_(const perf_hist_head_ *head, perf_hist_shape_ *shape)
{
    perf_hist_opts opts = PERF_ZERO;
    uint64_t       least_bias, first, width;

    shape->highest = PERF_HIST_HIGHEST_;
    if (!head->highest)
        return sizeof(perf_hist);
    if (head->bits > 14 || !head->bytes)
        return 0;
    least_bias = PERF_CAST_(uint64_t, 1022 + head->bits) << head->bits;
    first = head->bias - least_bias;
    if (head->bias < least_bias || first >= 64u << head->bits)      /* of 64 octaves              */
        return 0;
    shape->bits = head->bits;
    shape->compact = 1;
    opts.bits = head->bits;
    if (head->bits == 0)
        opts.bits = -1;
    opts.counter_bytes = head->bytes;
    opts.highest = head->highest;
    opts.lowest = perf_hist_lower_(shape, PERF_CAST_(size_t, first), &width);
    opts.unit = head->unit;
    return perf_hist_plan_(&opts, shape);
}

/* 1: the window of a head leads no record past the counters, and other forms have none. */
PERF_FN int perf_hist_window_ok_(const perf_hist_head_ *head, const perf_hist_shape_ *shape)
{
    uint64_t width = head->width[shape->form];
    uint64_t top = perf_lesser_(shape->highest, UINT64_MAX >> 11);  /* exact as a double          */

    if (head->width[(shape->form + 1) % 3] || head->width[(shape->form + 2) % 3])
        return 0;
    return !width || (head->lo >= perf_hist_least_(shape) && head->lo <= top &&
                      width - 1 <= top - head->lo);
}

/* The constant fields of the head must be those that perf_hist_init would write. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes)
{
    const perf_hist_head_ *head = PERF_CAST_(const perf_hist_head_ *, mem);
    perf_hist_head_        same;
    perf_hist_shape_       shape = PERF_ZERO;
    perf_hist             *none = PERF_CAST_(perf_hist *, PERF_NULL_);
    size_t                 need;

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || bytes < sizeof *head)
        return none;
    need = perf_hist_plan_of_head_(head, &shape);
    if (need == 0 || need > bytes)
        return none;
    perf_hist_head_make_(&same, &shape);
    if (PERF_LIBC_(memcmp)(&same.highest, &head->highest,
                           sizeof same - offsetof(perf_hist_head_, highest)) != 0)
        return none;
    if (!perf_hist_window_ok_(head, &shape))
        return none;
    return PERF_CAST_(perf_hist *, mem);
}

/* ---- histogram: record ---- */

/* One writer's *counter += n, which no reader sees half done.  On x86-64 it is one instruction, as
 * a plain += is; of a relaxed load and store gcc makes three.                                    */
PERF_FN void perf_hist_raise_(uint64_t *counter, uint64_t n)
{
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_ && !PERF_TSAN_
    __asm__("add{q %1, %0| qword ptr %0, %1}" : "+m"(*counter) : "er"(n) : "cc");
#else
    PERF_SET_(counter, PERF_GET_(counter) + n);
#endif
}

/* n records that are not counted. */
PERF_FN void perf_hist_lose_(perf_hist *hist, uint64_t n)
{
    uint64_t *lost = &perf_hist_at_(hist)->lost;

    PERF_SET_(lost, *lost + perf_lesser_(n, UINT64_MAX - *lost));
}

/* Where a value goes: the number of a counter, or one of these. */
#define PERF_HIST_UNDER_ (UINT64_MAX - 1)
#define PERF_HIST_OVER_  UINT64_MAX
PERF_HD_FN uint64_t perf_hist_place_(const perf_hist_shape_ *shape, uint64_t value)
{
    if (value < shape->lowest)
        return PERF_HIST_UNDER_;
    if (value > shape->highest)
        return PERF_HIST_OVER_;
    return perf_hist_index_(shape, value);
}

/* The 64-bit counter of a place: in the head for values outside the range. */
PERF_HD_FN uint64_t *perf_hist_counter_(perf_hist *hist, uint64_t place)
{
    perf_hist_head_ *head = perf_hist_at_(hist);

    if (place == PERF_HIST_UNDER_)
        return &head->under;
    if (place == PERF_HIST_OVER_)
        return &head->over;
    return PERF_PTR_(uint64_t *, head + 1) + place;
}

/* n more values at a place (minus 1: fewer); 0: its counter cannot hold that, and is as it was. */
PERF_FN int perf_hist_bump_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t place,
                            uint64_t n, int minus)
{
    uint64_t *wide, sum, change = n;
    uint32_t *narrow;

    if (minus)
        change = 0 - n;
    if (place < PERF_HIST_UNDER_ && shape->bytes == 4) {
        narrow = PERF_PTR_(uint32_t *, perf_hist_at_(hist) + 1) + place;
        sum = *narrow + change;
        if ((n | sum) >> 32)
            return 0;
        PERF_SET_(narrow, PERF_CAST_(uint32_t, sum));
        return 1;
    }
    wide = perf_hist_counter_(hist, place);
    sum = *wide + change;
    if ((n | sum) >> 63)
        return 0;
    PERF_SET_(wide, sum);
    return 1;
}

/* n more (or fewer) values like `value`; 0: no room, nothing is changed. */
PERF_FN int perf_hist_book_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t value,
                            uint64_t n, int minus)
{
    return perf_hist_bump_(hist, shape, perf_hist_place_(shape, value), n, minus);
}

/* How many of n more values of a place are counted; the others are lost.  Only a large n can bring
 * the total to its end, so a small one does not pay for the count.                               */
PERF_FN uint64_t perf_hist_room_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t place,
                                 uint64_t n)
{
    uint64_t room = n, held;

    if (n >> 20) {
        held = perf_hist_count(hist);
        room = PERF_HIST_BULK_ - perf_lesser_(held, PERF_HIST_BULK_);
    }
    if (shape->bytes == 4 && place < PERF_HIST_UNDER_) {
        held = UINT32_MAX - perf_hist_cell_(hist, shape, PERF_CAST_(size_t, place));
        room = perf_lesser_(room, held);
    }
    if (n <= room)
        return n;
    perf_hist_lose_(hist, n - room);
    return room;
}

/* Widens the window of admitted values to `value`. */
PERF_FN void perf_hist_admit_(perf_hist_head_ *head, int form, uint64_t value)
{
    uint64_t *width = &head->width[form], end = value + 1;

    if (*width) {
        end = perf_greater_(end, head->lo + *width);
        value = perf_lesser_(value, head->lo);
    }
    head->lo = value;
    *width = end - value;
}

/* Every record that the inlined compare did not admit: a new extreme, zero, out of range, small
 * values of the compact form, another form.  n values like `value` whose sum is `sum`.           */
PERF_OUTLINE_FN_ void perf_hist_put_(perf_hist *hist, uint64_t value, uint64_t n, uint64_t sum)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape;
    uint64_t         place;

    if (value >> 63) {
        perf_hist_lose_(hist, n);
        return;
    }
    shape = perf_hist_shape_of_(hist);
    place = perf_hist_place_(&shape, value);
    n = perf_hist_room_(hist, &shape, place, n);
    if (n == 0)
        return;
    PERF_SET_(&head->sums[0], head->sums[0] + sum);
    if (~value > head->not_min)
        PERF_SET_(&head->not_min, ~value);
    if (value > head->max)
        PERF_SET_(&head->max, value);
    (void)perf_hist_bump_(hist, &shape, place, n, 0);
    if (place < PERF_HIST_UNDER_ && value >= perf_hist_least_(&shape) && !(value >> 53))
        perf_hist_admit_(head, shape.form, value);  /* its double is exact                        */
}

/* A record that perf_hist_add did not admit; out of line, so that perf_hist_add stays small. */
PERF_OUTLINE_FN_ void perf_hist_put_other_(perf_hist *hist, uint64_t value)
{
    perf_hist_add_own(hist, value);
}

/* One sum would make every record wait until the one before has stored it (2.5 in place of 1.4 ns
 * on a Xeon); with four, picked by the bucket, only records near each other wait, and those wait
 * for their counter anyway.  A record updates one sum and one counter: two adjacent accumulators
 * would be joined into one vector by clang and by gcc -march=native, and the next load would wait
 * for both stores (8.9 in place of 1.9 cycles; bench/hist.c shows it).                           */
PERF_FN void perf_hist_add(perf_hist *hist, uint64_t ns)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top;

    PERF_HIDE_(head);               /* one base register for all that follows                     */
    if (PERF_UNLIKELY_(ns - head->lo >= head->width[0])) {
        perf_hist_put_other_(hist, ns);
        return;
    }
    top = PERF_HIST_TOP_(ns) >> PERF_HIST_SHIFT_;
    PERF_HIDE_(top);
    perf_hist_raise_(&head->sums[top & 3], ns);
    perf_hist_raise_(PERF_PTR_(uint64_t *, head + 1) + (top - PERF_HIST_BIAS_), 1);
}

/* One more in a 32-bit counter, by the index of an admitted value.  A full one stays full. */
PERF_INLINE_FN_ void perf_hist_add32_(perf_hist *hist, uint64_t value)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top = (PERF_HIST_TOP_(value) >> head->shift) - head->bias;
    uint32_t        *counter, raised;

    PERF_HIDE_(top);
    counter = PERF_PTR_(uint32_t *, head + 1) + top;
    raised = *counter + 1;
    if (PERF_UNLIKELY_(raised == 0)) {
        perf_hist_put_(hist, value, 1, 0);
        return;
    }
    PERF_SET_(counter, raised);
}

PERF_FN void perf_hist_add_own(perf_hist *hist, uint64_t value)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top, sum = value;

    PERF_HIDE_(head);
    if (PERF_UNLIKELY_(value - head->lo >= head->width[PERF_HIST_FORM_64_])) {
        if (value - head->lo < head->width[PERF_HIST_FORM_32_]) {
            perf_hist_add32_(hist, value);
            return;
        }
        if (head->bytes == 4)
            sum = 0;                /* 32-bit counters come without a sum                         */
        perf_hist_put_(hist, value, 1, sum);
        return;
    }
    top = PERF_HIST_TOP_(value) >> head->shift;
    perf_hist_raise_(&head->sums[top & 3], value);
    top -= head->bias;
    PERF_HIDE_(top);                /* else gcc subtracts it from the address, in three steps     */
    perf_hist_raise_(PERF_PTR_(uint64_t *, head + 1) + top, 1);
}

PERF_HD_FN uint64_t perf_shared_add_(uint64_t *p, uint64_t n)
{
    return PERF_ATOMIC_ADD_(unsigned long long, p, n);
}

PERF_HD_FN void perf_shared_max_(uint64_t *p, uint64_t value)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    if (value > *PERF_PTR_(volatile uint64_t *, p))
        atomicMax(PERF_PTR_(unsigned long long *, p), value);
#elif defined(__GNUC__) && !PERF_TCC_
    uint64_t old = PERF_GET_(p);

    while (value > old && !__atomic_compare_exchange_n(p, &old, value, 1, 0, 0))
        continue;
#else
    if (value > *p)
        *p = value;
#endif
}

PERF_HD_FN void perf_hist_add_shared(perf_hist *hist, uint64_t ns)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape = perf_hist_shape_of_(hist);
    uint64_t         place;
    uint32_t        *c32;

    if (ns >> 63 == 0) {
        perf_shared_max_(&head->not_min, ~ns);
        perf_shared_max_(&head->max, ns);
        place = perf_hist_place_(&shape, ns);
        if (place >= PERF_HIST_UNDER_ || shape.bytes == 8) {
            (void)perf_shared_add_(perf_hist_counter_(hist, place), 1);
            return;
        }
        c32 = PERF_PTR_(uint32_t *, head + 1) + place;
        if (PERF_ATOMIC_ADD_(uint32_t, c32, 1) < PERF_HIST_FULL_)
            return;
        (void)PERF_ATOMIC_ADD_(uint32_t, c32, UINT32_MAX);      /* take it back                   */
    }
    if (perf_shared_add_(&head->lost, 1) == UINT64_MAX)         /* at its end it stays            */
        (void)perf_shared_add_(&head->lost, UINT64_MAX);
}

PERF_FN void perf_hist_add_n(perf_hist *hist, uint64_t ns, uint64_t n)
{
    perf_hist_put_(hist, ns, n, ns * n);
}

PERF_FN void perf_hist_add_double(perf_hist *hist, double ns)
{
    double   x = ns / perf_hist_unit_(hist);
    uint64_t value;

    if (perf_is_nan_(x) || x <= -0.5) {
        perf_hist_lose_(hist, 1);
    } else if (x >= 9223372036854775807.0) {
        perf_hist_add(hist, PERF_HIST_MOST_);
    } else {
        value = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, x));
        perf_hist_add(hist, value + (x - PERF_CAST_(double, PERF_CAST_(int64_t, value)) >= 0.5));
    }
}

/* ---- histogram: read ---- */

/* sums[k]: the sum of block k, each of `block` counters (64 or a multiple).  Returns that of all n.
 * 64-bit counters are read 10 KB and more at a time: in vectors where the compiler has them (gcc
 * -O2 makes none on its own), in the wide ones of AVX2 where the processor has it.               */
#if defined(__GNUC__) && !PERF_TCC_ && !defined(__NVCC__)
typedef uint64_t perf_lanes_ PERF_ATTR_((__vector_size__(32), __aligned__(8), __may_alias__));
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

PERF_FN uint64_t perf_hist_sums_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t first,
                                 size_t block, size_t n, uint64_t *sums)
{
    uint64_t total = 0;
    size_t   i, k;

#if !defined(PERF_HIST_NO_LANES_)
    if (shape->bytes == 8) {
        const uint64_t *c = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(hist)) + first;
#if defined(PERF_HIST_AVX2_)
        if (__builtin_cpu_supports("avx2"))
            return perf_hist_avx2_lanes_(c, block, n, sums);
#endif
        return perf_hist_lanes_(c, block, n, sums);
    }
#endif
    for (k = 0; k < n; k++) {
        sums[k] = 0;
        for (i = 0; i < block; i += 8)
            sums[k] += perf_hist_eight_(hist, shape, first + i);
        first += block;
        total += sums[k];
    }
    return total;
}

/* The sum of counters [first, first + n). */
PERF_FN uint64_t perf_hist_sum_cells_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                      size_t first, size_t n)
{
    uint64_t sum = 0, part = 0;

    for (; n % 64; n--)
        sum += perf_hist_cell_(hist, shape, first + n - 1);
    if (n)
        sum += perf_hist_sums_(hist, shape, first, n, 1, &part);
    return sum;
}

PERF_FN uint64_t perf_hist_count(const perf_hist *hist)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    size_t                 first, end;

    if (!hist)
        return 0;
    shape = perf_hist_shape_of_(hist);
    end = perf_hist_touched_(hist, &shape, &first);
    return head->under + head->over + perf_hist_sum_cells_(hist, &shape, first, end - first);
}

PERF_FN uint64_t perf_hist_lost(const perf_hist *hist)
{
    if (!hist)
        return 0;
    return PERF_GET_(&perf_hist_peek_(hist)->lost);
}

/* The extremes as integers; 0: there are none. */
PERF_FN int perf_hist_extremes_(const perf_hist *hist, uint64_t *min, uint64_t *max)
{
    uint64_t not_min = 0;

    *max = 0;
    if (hist)
        not_min = PERF_GET_(&perf_hist_peek_(hist)->not_min);
    if (not_min)
        *max = PERF_GET_(&perf_hist_peek_(hist)->max);
    *min = ~not_min;
    return not_min != 0;
}

/* The values below the range as a bucket; a single one is the minimum itself.  0: none. */
PERF_FN int perf_hist_bucket_under_(const perf_hist_head_ *head, uint64_t lowest,
                                    perf_hist_bucket *bucket)
{
    bucket->count = head->under;
    if (!bucket->count)
        return 0;
    bucket->lower = perf_lesser_(~head->not_min, lowest - 1);
    bucket->upper = lowest - 1;
    if (bucket->count == 1)
        bucket->upper = bucket->lower;
    return 1;
}

/* The values above the range likewise. */
PERF_FN int perf_hist_bucket_over_(const perf_hist_head_ *head, uint64_t highest,
                                   perf_hist_bucket *bucket)
{
    bucket->count = head->over;
    if (!bucket->count)
        return 0;
    bucket->upper = perf_greater_(head->max, highest + 1);
    bucket->lower = highest + 1;
    if (bucket->count == 1)
        bucket->lower = bucket->upper;
    return 1;
}

/* One step of the walk.  next_: 0 at the start, then 1 + index of the counter to look at; end_: the
 * values above the range; end_ + 1: nothing is left.                                             */
PERF_FN int perf_hist_next(const perf_hist *hist, perf_hist_bucket *bucket)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    uint64_t               width;

    if (!hist || !bucket)
        return 0;
    shape = perf_hist_shape_of_(hist);
    bucket->below += bucket->count;
    bucket->count = 0;
    if (bucket->next_ == 0) {
        bucket->end_ = perf_hist_touched_(hist, &shape, &bucket->next_) + 1;
        bucket->next_++;
        if (perf_hist_bucket_under_(head, shape.lowest, bucket))
            return 1;
    }
    if (bucket->next_ < bucket->end_) {
        size_t i = perf_hist_occupied_(hist, &shape, bucket->next_ - 1, bucket->end_ - 1);
        bucket->next_ = i + 1;
        if (bucket->next_ < bucket->end_) {
            bucket->next_++;
            bucket->count = perf_hist_cell_(hist, &shape, i);
            bucket->lower = perf_hist_lower_(&shape, i, &width);
            bucket->upper = bucket->lower + width - 1;
            return 1;
        }
    }
    if (bucket->next_ != bucket->end_)
        return 0;
    if (!perf_hist_bucket_over_(head, shape.highest, bucket))
        return 0;
    bucket->next_++;
    return 1;
}

/* Middle of the integers of a bucket, as far as they are within the extremes. */
PERF_FN double perf_hist_middle_(const perf_hist *hist, uint64_t lower, uint64_t upper)
{
    double   x = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, upper - lower);
    uint64_t min, max;

    (void)perf_hist_extremes_(hist, &min, &max);
    return perf_clamped_(x, PERF_CAST_(double, min), PERF_CAST_(double, max));
}

/* The sum of all values, exact modulo 2^64 where every record kept it.  The multiple that comes
 * nearest to the midpoints is added.  Those above the range are no guide: then it is the smallest
 * that reaches the lower edges.  A sum not between the edges is not that of these records: that of
 * the midpoints is taken.                                                                        */
PERF_FN double perf_hist_sum_(const perf_hist *hist)
{
    perf_hist_bucket bucket = PERF_ZERO;
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    double           low = 0.0, mid = 0.0, high = 0.0, sum, least, wraps;

    while (perf_hist_next(hist, &bucket)) {
        double n = PERF_CAST_(double, bucket.count);
        low += n * PERF_CAST_(double, bucket.lower);
        mid += n * perf_hist_middle_(hist, bucket.lower, bucket.upper);
        high += n * PERF_CAST_(double, bucket.upper);
    }
    if (bucket.below == 0)
        return PERF_HIST_NO_DATA;
    sum = PERF_CAST_(double, PERF_GET_(&head->sums[0]) + PERF_GET_(&head->sums[1]) +
                             PERF_GET_(&head->sums[2]) + PERF_GET_(&head->sums[3]));
    least = mid - 0.5 * 18446744073709551616.0;
    if (head->over)
        least = low * (1.0 - 1e-12);
    wraps = (least - sum) / 18446744073709551616.0;
    if (wraps > 0.0 && wraps < 4e15 && sum > 0.0)   /* 0: no record kept it                       */
        sum += 18446744073709551616.0 * PERF_CAST_(double, PERF_CAST_(int64_t, wraps) + 1);
    if (!(sum >= low * (1.0 - 1e-12) && sum <= high * (1.0 + 1e-12)))
        sum = mid;
    return sum * perf_hist_unit_(hist);
}

PERF_FN double perf_hist_mean(const perf_hist *hist)
{
    uint64_t n = perf_hist_count(hist), min, max;
    double   unit;

    if (n == 0)
        return PERF_HIST_NO_DATA;
    (void)perf_hist_extremes_(hist, &min, &max);
    unit = perf_hist_unit_(hist);
    return perf_clamped_(perf_hist_sum_(hist) / PERF_CAST_(double, n),
                         PERF_CAST_(double, min) * unit, PERF_CAST_(double, max) * unit);
}

PERF_FN double perf_hist_std(const perf_hist *hist)
{
    perf_hist_bucket bucket = PERF_ZERO;
    perf_hist_shape_ shape;
    double           n, mean, sum = 0.0, squares = 0.0, within = 0.0, var, limit;
    uint64_t         min, max;

    n = PERF_CAST_(double, perf_hist_count(hist));
    if (n < 1.0 || !perf_hist_extremes_(hist, &min, &max))
        return PERF_HIST_NO_DATA;
    if (n < 2.0)
        return 0.0;
    shape = perf_hist_shape_of_(hist);
    mean = perf_hist_mean(hist) / perf_hist_unit_(hist);
    while (perf_hist_next(hist, &bucket)) { /* deviations from near the mean: no cancellation     */
        double held = PERF_CAST_(double, bucket.count);
        double width = PERF_CAST_(double, bucket.upper - bucket.lower) + 1.0;
        double off = perf_hist_middle_(hist, bucket.lower, bucket.upper) - mean;
        int    in_range = bucket.lower >= shape.lowest && bucket.upper <= shape.highest;
        sum += held * off;
        squares += held * off * off;
        if (in_range)
            within += held * (width * width - 1.0) / 12.0;  /* Sheppard, for integers             */
    }
    var = squares - sum * sum / n - within;
    limit = (mean - PERF_CAST_(double, min)) * (PERF_CAST_(double, max) - mean) * n;
    if (var > limit)                                /* Bhatia and Davis                           */
        var = limit;
    if (var < 0.0)
        var = 0.0;
    return perf_sqrt_(var / (n - 1.0)) * perf_hist_unit_(hist);
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

PERF_FN void perf_hist_scan_blocks_(const perf_hist *hist, perf_hist_scan_ *scan)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    uint64_t               min, max;
    size_t                 i;

    scan->shape = perf_hist_shape_of_(hist);
    scan->end = perf_hist_touched_(hist, &scan->shape, &scan->first);
    scan->first &= ~PERF_CAST_(size_t, 63);     /* whole blocks: the ones around are zero         */
    scan->end = (scan->end + 63) & ~PERF_CAST_(size_t, 63);
    if (scan->end > scan->shape.counters)
        scan->end = scan->shape.counters;
    (void)perf_hist_extremes_(hist, &min, &max);
    scan->min = PERF_CAST_(double, min);
    scan->max = PERF_CAST_(double, max);
    for (scan->block = 64; (scan->end - scan->first) / scan->block >= 256; scan->block *= 2)
        continue;
    scan->total = head->under + head->over;
    i = scan->first;
    scan->blocks = (scan->end - i) / scan->block;
    scan->total += perf_hist_sums_(hist, &scan->shape, i, scan->block, scan->blocks, scan->sums);
    i += scan->blocks * scan->block;
    if (i < scan->end) {
        scan->sums[scan->blocks] = perf_hist_sum_cells_(hist, &scan->shape, i, scan->end - i);
        scan->total += scan->sums[scan->blocks++];
    }
}

/* The counter in [i, end) where the running count, `below` so far, reaches rank. */
PERF_FN size_t perf_hist_walk_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i,
                               size_t end, uint64_t below, uint64_t rank)
{
    uint64_t eight;

    for (; end - i > 8; i += 8) {
        eight = perf_hist_eight_(hist, shape, i);
        if (below + eight >= rank)
            break;
        below += eight;
    }
    for (; i < end - 1; i++) {
        below += perf_hist_cell_(hist, shape, i);
        if (below >= rank)
            break;
    }
    return i;
}

/* ceil(q * n), at least 1; a product that is an integer but for rounding is that integer. */
PERF_FN uint64_t perf_quantile_rank_(double q, uint64_t n)
{
    double   exact = q * PERF_CAST_(double, n);
    uint64_t rank;

    if (q >= 1.0)                               /* n as a double may be less than n               */
        return n;
    rank = PERF_CAST_(uint64_t, exact);
    if (exact - PERF_CAST_(double, rank) > exact * 4.5e-16)
        rank++;
    return perf_greater_(perf_lesser_(rank, n), 1);
}

/* The value of a rank in 1..total, in integers of the histogram. */
PERF_FN double perf_hist_value_(const perf_hist *hist, const perf_hist_scan_ *scan, uint64_t rank)
{
    uint64_t under = perf_hist_peek_(hist)->under, below = under, width, lower;
    size_t   i, end, block = 0;

    if (rank == scan->total)
        return scan->max;
    if (rank == 1 || rank <= under)
        return scan->min;
    while (block < scan->blocks && rank - below > scan->sums[block])
        below += scan->sums[block++];
    if (block == scan->blocks)
        return scan->max;                       /* above the range                                */
    i = scan->first + block * scan->block;
    end = i + scan->block;
    if (end > scan->end)
        end = scan->end;
    i = perf_hist_walk_(hist, &scan->shape, i, end, below, rank);
    lower = perf_hist_lower_(&scan->shape, i, &width);
    return perf_clamped_(PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1), scan->min,
                         scan->max);
}

PERF_FN double perf_hist_quantile(const perf_hist *hist, double q)
{
    perf_hist_scan_ scan;
    uint64_t        rank;

    if (!hist || !(q >= 0.0 && q <= 1.0))
        return PERF_HIST_NO_DATA;
    perf_hist_scan_blocks_(hist, &scan);
    if (scan.total == 0)
        return PERF_HIST_NO_DATA;
    rank = perf_quantile_rank_(q, scan.total);
    return scan.shape.unit * perf_hist_value_(hist, &scan, rank);
}

/* Values in the buckets up to that of the integer `value`. */
PERF_FN uint64_t perf_hist_up_to_(const perf_hist *hist, uint64_t value)
{
    perf_hist_shape_ shape = perf_hist_shape_of_(hist);
    size_t           first, i;
    uint64_t         min, max;

    if (!perf_hist_extremes_(hist, &min, &max) || value < min)
        return 0;
    if (value >= max || value > shape.highest)
        return perf_hist_count(hist);
    if (value < shape.lowest)
        return perf_hist_peek_(hist)->under;
    (void)perf_hist_touched_(hist, &shape, &first);
    i = PERF_CAST_(size_t, perf_hist_index_(&shape, value)) + 1;
    return perf_hist_peek_(hist)->under + perf_hist_sum_cells_(hist, &shape, first, i - first);
}

PERF_FN uint64_t perf_hist_rank(const perf_hist *hist, double value)
{
    double x;

    if (!hist || perf_is_nan_(value))
        return 0;
    x = value / perf_hist_unit_(hist);
    if (perf_hist_peek_(hist)->unit > 0.0)
        x *= 1.0 + 4.5e-16;                     /* 0.3 / 0.1 is 3                                 */
    if (x < 0.0)
        return 0;
    if (x < 9223372036854775808.0)                  /* 2^63, one beyond the most                  */
        return perf_hist_up_to_(hist, PERF_CAST_(uint64_t, x));
    return perf_hist_up_to_(hist, PERF_HIST_MOST_);
}

/* ---- histogram: combine ---- */

PERF_FN int perf_hist_same_(const perf_hist_shape_ *a, const perf_hist_shape_ *b)
{
    return a->bits == b->bits && a->bytes == b->bytes && a->compact == b->compact &&
           a->counters == b->counters && a->first == b->first;
}

/* PERF_EINVAL: by unit or bits no values of `from` can go to `into`.  Else fills in both shapes. */
PERF_FN perf_status perf_hist_nests_(const perf_hist *into, const perf_hist *from,
                                     perf_hist_shape_ *into_shape, perf_hist_shape_ *from_shape)
{
    if (!into || !from || into == from)
        return PERF_EINVAL;
    *into_shape = perf_hist_shape_of_(into);
    *from_shape = perf_hist_shape_of_(from);
    if (from_shape->bits < into_shape->bits ||
        perf_bits_(into_shape->unit) != perf_bits_(from_shape->unit))
        return PERF_EINVAL;
    return PERF_OK;
}

/* What the counter of a place holds. */
PERF_FN uint64_t perf_hist_held_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                 uint64_t place)
{
    if (place == PERF_HIST_UNDER_)
        return perf_hist_peek_(hist)->under;
    if (place == PERF_HIST_OVER_)
        return perf_hist_peek_(hist)->over;
    return perf_hist_cell_(hist, shape, PERF_CAST_(size_t, place));
}

/* What is to be done with the values of another histogram. */
typedef enum perf_hist_deed_ {
    PERF_HIST_PLUS_, PERF_HIST_MINUS_, PERF_HIST_INSTEAD_
} perf_hist_deed_;

/* 1: the counter of a place can take (or give back) n values. */
PERF_FN int perf_hist_has_room_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                uint64_t place, uint64_t n, perf_hist_deed_ deed)
{
    uint64_t held = 0, most = PERF_HIST_MOST_;

    if (deed != PERF_HIST_INSTEAD_)
        held = perf_hist_held_(hist, shape, place);
    if (shape->bytes == 4 && place < PERF_HIST_UNDER_)
        most = UINT32_MAX;
    if ((n | held) >> 63)
        return 0;
    if (deed == PERF_HIST_MINUS_)
        return n <= held;
    return n + held <= most;
}

/* PERF_OK: `into` can take (or give back) all of `from`, which has another shape. */
PERF_FN perf_status perf_hist_fits_(const perf_hist *into, const perf_hist *from,
                                    perf_hist_deed_ deed)
{
    perf_hist_shape_ shape = perf_hist_shape_of_(into);
    uint64_t         n = 0, last = PERF_HIST_UNDER_, place, held = 0;
    perf_hist_bucket bucket = PERF_ZERO;

    while (perf_hist_next(from, &bucket)) {     /* ascending: what shares a place is together     */
        place = perf_hist_place_(&shape, bucket.lower);
        if (place != perf_hist_place_(&shape, bucket.upper))
            return PERF_EINVAL;                 /* outside the range of `from` alone              */
        if (place != last)
            n = 0;
        n += bucket.count;
        last = place;
        if (bucket.count >> 63 || !perf_hist_has_room_(into, &shape, place, n, deed))
            return PERF_ERANGE;
    }
    if (deed == PERF_HIST_PLUS_)
        held = perf_hist_count(into);
    if ((bucket.below | held) >> 63 || bucket.below + held > PERF_HIST_MOST_)
        return PERF_ERANGE;
    return PERF_OK;
}

/* Equal shapes are added as they lie, two 32-bit counters as one number: none can overflow where
 * the total does not.  The memory of the counters is a multiple of 32 bytes.                     */
PERF_FN void perf_hist_merge_equal_(perf_hist *into, const perf_hist *from,
                                    const perf_hist_shape_ *shape)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);
    size_t                 i, end = perf_hist_touched_(from, shape, &i);
    size_t                 at_once = sizeof(perf_lanes_) / shape->bytes;
    perf_lanes_           *sums = PERF_PTR_(perf_lanes_ *, head + 1);
    const perf_lanes_     *added = PERF_CAST_(const perf_lanes_ *, perf_hist_peek_cells_(from));

    for (i /= at_once; i * at_once < end; i++)
        sums[i] += added[i];
    head->under += source->under;
    head->over += source->over;
}

/* 1: the shapes are equal, and the totals fit together: then no counter can overflow. */
PERF_FN int perf_hist_adds_up_(const perf_hist *into, const perf_hist *from,
                               const perf_hist_shape_ *into_shape,
                               const perf_hist_shape_ *from_shape)
{
    uint64_t n = perf_hist_count(into), more = perf_hist_count(from), most = PERF_HIST_MOST_;

    if (into_shape->bytes == 4)
        most = UINT32_MAX;
    return perf_hist_same_(into_shape, from_shape) && (n | more) >> 63 == 0 && n + more <= most;
}

/* into += from, or -= */
PERF_FN perf_status perf_hist_combine_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);
    perf_hist_shape_       into_shape, from_shape;
    perf_hist_bucket       bucket = PERF_ZERO;
    perf_status            status = perf_hist_nests_(into, from, &into_shape, &from_shape);
    int                    i;

    if (status != PERF_OK)
        return status;
    if (minus && head->lost < source->lost)
        return PERF_ERANGE;
    if (!minus && perf_hist_adds_up_(into, from, &into_shape, &from_shape)) {
        perf_hist_merge_equal_(into, from, &into_shape);
    } else {
        status = perf_hist_fits_(into, from, minus ? PERF_HIST_MINUS_ : PERF_HIST_PLUS_);
        while (status == PERF_OK && perf_hist_next(from, &bucket))
            (void)perf_hist_book_(into, &into_shape, bucket.lower, bucket.count, minus);
    }
    if (status != PERF_OK)
        return status;
    for (i = 0; i < 4; i++)
        if (minus)
            head->sums[i] -= source->sums[i];
        else
            head->sums[i] += source->sums[i];
    if (!minus)
        perf_hist_lose_(into, source->lost);
    else if (head->lost != UINT64_MAX)
        head->lost -= source->lost;
    return PERF_OK;
}

PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from)
{
    perf_status            status = perf_hist_combine_(into, from, 0);
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);

    if (status == PERF_OK) {        /* the windows stay: what they admit is still no new extreme  */
        head->not_min = perf_greater_(source->not_min, head->not_min);
        head->max = perf_greater_(source->max, head->max);
    }
    return status;
}

/* Sets the extremes: those given, moved into the first and the last occupied bucket.  Closes the
 * windows, so that the next records find new ones.                                               */
PERF_FN void perf_hist_settle_(perf_hist *hist, uint64_t min, uint64_t max)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_bucket bucket = PERF_ZERO, first = bucket, last = bucket;

    head->lo = head->width[0] = head->width[1] = head->width[2] = 0;
    while (perf_hist_next(hist, &bucket)) {
        if (bucket.below == 0)
            first = bucket;
        last = bucket;
    }
    head->not_min = head->max = 0;
    if (bucket.below == 0)
        return;
    head->not_min = ~perf_greater_(perf_lesser_(min, first.upper), first.lower);
    head->max = perf_greater_(perf_lesser_(max, last.upper), last.lower);
    if (bucket.below == 1)
        head->not_min = ~head->max;             /* one value has no two extremes                  */
}

PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from)
{
    perf_status status = perf_hist_combine_(into, from, 1);

    if (status == PERF_OK)
        perf_hist_settle_(into, ~perf_hist_peek_(into)->not_min, perf_hist_peek_(into)->max);
    return status;
}

PERF_FN void perf_hist_reset(perf_hist *hist)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape;
    size_t           first, end;

    if (!hist)
        return;
    shape = perf_hist_shape_of_(hist);
    end = perf_hist_touched_(hist, &shape, &first);
    PERF_LIBC_(memset)(PERF_PTR_(char *, head + 1) + first * shape.bytes, 0,
                       (end - first) * shape.bytes);
    perf_hist_head_make_(head, &shape);
}

/* A histogram of the same form, which somebody may be writing. */
PERF_FN void perf_hist_copy_live_(perf_hist *into, const perf_hist *live,
                                  const perf_hist_shape_ *shape)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *from = perf_hist_peek_(live);
    size_t                 i, end;

    perf_hist_reset(into);
    for (end = perf_hist_touched_(live, shape, &i); i < end; i++)
        (void)perf_hist_bump_(into, shape, i, perf_hist_cell_(live, shape, i), 0);
    head->under = PERF_GET_(&from->under);
    head->over = PERF_GET_(&from->over);
    head->lost = PERF_GET_(&from->lost);
    for (i = 0; i < 4; i++)
        head->sums[i] = PERF_GET_(&from->sums[i]);
    head->not_min = PERF_GET_(&from->not_min);  /* the walk below needs the touched range         */
    head->max = PERF_GET_(&from->max);
    perf_hist_settle_(into, ~head->not_min, head->max);
}

PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from)
{
    perf_hist_shape_ into_shape, from_shape;
    perf_status      status = perf_hist_nests_(into, from, &into_shape, &from_shape);

    if (status != PERF_OK)
        return status;
    if (perf_hist_same_(&into_shape, &from_shape)) {
        perf_hist_copy_live_(into, from, &into_shape);
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
