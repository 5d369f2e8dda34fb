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

/* >>math: what libm would give, without linking it -----------------------------------------------
 * Relative error against 40-digit references (tests/stats/math.c): see each line.  Any thread, no
 * state.  Outside the domain the answer is NaN; infinities are honoured.  docs/statistics.md has
 * the formulas and their sources.                                                                */
PERF_FN double perf_sqrt(double x);             /* correctly rounded on x86-64 and AArch64        */
PERF_FN double perf_log(double x);              /* natural; 3e-16; log(0) = -inf                  */
PERF_FN double perf_log1p(double x);            /* log(1 + x) without losing small x; 4e-16       */
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
    if (u > UINT64_C(0x3ff6a09e667f3bcd)) {         /* above sqrt(2): halve, so |log| stays small */
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
 * (Abramowitz & Stegun 6.1.33; the constants are 1 - Euler's and (zeta(k) - 1) / k, k = 2..19).   */
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
 * Stegun 26.7.5), or for few degrees of freedom the power law that bounds the tail from above.    */
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
