/* perf_stats.h 0.1.0 - percentiles, confidence intervals, accept/reject decisions.
 *
 *     perf_hist h = PERF_ZERO;                       // ready: nothing to set up or free
 *     for (i = 0; i < n; i++) perf_hist_add(&h, ns[i]);
 *     printf("p99 = %.0f ns\n", perf_hist_quantile(&h, 0.99));
 *
 *     perf_verdict v = perf_compare_pairs(old_ns, new_ns, 30, NULL);   // taken in random order
 *     puts(perf_verdict_text(&v));                   // "ACCEPT: 1.42x faster (95 % CI ..."
 *
 * C99, C++11, CUDA, Cython.  One file, libc only, no -lm, no global state, no clock, no thread.
 * It does not measure anything: perf.h does, and feeds what it measured in here.
 * Sections (search for ">>"):  config  platform  types  math  histogram  summary  compare
 *                              sequential  text  private
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_STATS_H
#define PERF_STATS_H

/* The one hand-written version of the project: major * 10000 + minor * 100 + patch. */
#define PERF_VERSION 100

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* >>config ----------------------------------------------------------------------------------
 * Every macro may be set before the first include (or with -D).  None changes the layout of
 * anything that two files share, so files built with different settings link together.          */

#ifndef PERF_DISABLE
#define PERF_DISABLE 0          /* 1: every scope, timer and PERF_ macro compiles to nothing       */
#endif
#ifndef PERF_MALLOC             /* scratch for sorting more than a few hundred values; may fail    */
#if defined(__GNUC__) && !defined(__TINYC__)
#define PERF_MALLOC(bytes) __builtin_malloc(bytes)   /* saves every user the parse of <stdlib.h>  */
#define PERF_FREE(p)       __builtin_free(p)
#else
#include <stdlib.h>
#define PERF_MALLOC(bytes) malloc(bytes)
#define PERF_FREE(p)       free(p)
#endif
#endif

/* >>platform --------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define PERF_BEGIN_DECLS extern "C" {
#define PERF_END_DECLS   }
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
#if defined(_MSC_VER) && !defined(__clang__)
#define PERF_NOINLINE_ __declspec(noinline)
#else
#define PERF_NOINLINE_ PERF_ATTR_((__noinline__, __cold__, __unused__))
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
    X(PERF_ETIMEOUT,  "the time budget ended before a result")                                    \
    X(PERF_ECLOCK,    "no usable clock")                                                          \
    X(PERF_EDISABLED, "compiled with PERF_DISABLE=1")                                             \
    X(PERF_ELIMIT,    "a fixed limit of this library was reached")

#define PERF_STATUS_ENUM_(name, text) name,
typedef enum perf_status { PERF_STATUS_LIST_(PERF_STATUS_ENUM_) PERF_STATUS_COUNT_ } perf_status;
#undef PERF_STATUS_ENUM_

/* Static English text of a status; never NULL, "unknown status" for any other number. */
PERF_FN const char *perf_status_text(perf_status s);

/* >>math --------------------------------------------------------------------------------------- */

/* >>histogram ---------------------------------------------------------------------------------- */

/* >>summary ------------------------------------------------------------------------------------ */

/* >>compare ------------------------------------------------------------------------------------ */

/* >>sequential --------------------------------------------------------------------------------- */

/* >>text --------------------------------------------------------------------------------------- */

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

PERF_HD_FN uint64_t perf_bits_(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

PERF_HD_FN double perf_from_bits_(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

#define PERF_INF_ perf_from_bits_(UINT64_C(0x7ff0000000000000))
#define PERF_NAN_ perf_from_bits_(UINT64_C(0x7ff8000000000000))

/* Bit tests, not x == x: -ffast-math may fold the comparison, never these. */
PERF_HD_FN int perf_is_nan_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000);
}

PERF_HD_FN int perf_is_finite_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
}

/* ---- text: a bounded writer.  No printf: no locale, no stdio, and fast enough for traces ---- */

typedef struct perf_out_ {
    char  *p;           /* where to write; NULL with cap 0 only counts                            */
    size_t len;         /* characters asked for so far, also past the end                         */
    size_t cap;         /* size of p; output is always NUL-terminated when cap > 0                 */
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
#endif /* PERF_STATS_H */
