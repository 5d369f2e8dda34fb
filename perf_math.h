/* perf_math.h - what libm would give without linking it, distributions, one sort, quantiles.
 *
 *   double z = perf_normal_quantile_(0.975);               // 1.96
 *   double p = 2.0 * perf_t_cdf_(-2.5, 12.0);              // two-sided p-value of t = -2.5
 *
 * For the library itself: verdicts are made of it (perf_stats.h).  No state, no allocation.
 * docs/statistics-evidence.md has the errors measured against 60-digit references.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_MATH_H
#define PERF_MATH_H

#include "perf_base.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 * Outside its domain a function returns NaN.  Infinities are honoured.
 *   perf_log_, perf_exp_, perf_log1p_       natural logarithm, its inverse, log(1 + x)
 *   perf_normal_cdf_, perf_normal_quantile_     of the standard normal distribution
 *   perf_t_cdf_, perf_t_quantile_           of Student's t with df > 0 degrees of freedom
 *   perf_beta_cdf_, perf_binomial_cdf_      regularised incomplete beta; P(X <= k), X ~ Bin(n, p)
 *   perf_sort_values_          sorts x[0..n) upwards, NaN last: n log n always, no allocation
 *   perf_quantile_      quantile p of an ascending array, type 7; NaN: n is 0 or p outside 0..1
 *   perf_sqrt_          square root, correctly rounded on x86-64 and AArch64                     */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- square root: histograms and statistics need it, and libm is not linked ---- */

/* NaN below 0.  Any thread. */
PERF_FN double perf_sqrt_(double x)
{
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_
    double r;
    __asm__("sqrtsd {%1, %0|%0, %1}" : "=x"(r) : "x"(x));    /* __builtin_sqrt calls libm at -O0 */
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

/* ---- numbers ---- */

/* c[0] + c[1] x + ... + c[degree] x^degree, by Horner's rule. */
PERF_FN double perf_poly_(double x, const double *c, int degree)
{
    double sum = c[degree];

    while (degree--)
        sum = sum * x + c[degree];
    return sum;
}

/* ---- logarithm and exponential ---- */

#define PERF_LN2_HI_ 6.93147180369123816490e-01     /* upper bits of ln 2: k * this is exact      */
#define PERF_LN2_LO_ 1.90821492927058770002e-10     /* ln 2 minus the above                       */

/* log(1 + f) - f for -0.3 < f < 0.42.  With s = f / (2 + f): log(1 + f) = 2 atanh(s), so that the
 * leading terms cancel on paper.  Eleven terms: |s| < 0.18, and the next one is below 1e-18.     */
PERF_FN double perf_log1p_minus_(double f)
{
    double s = f / (2.0 + f), z = s * s;
    double r = z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 +
               z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19 + z * (2.0 / 21 +
               z * (2.0 / 23)))))))))));
    return s * (r - f);
}

/* x = 2^k (1 + f) with |log(1 + f)| at most half of ln 2: log x = k ln 2 + f + (log(1 + f) - f). */
PERF_FN double perf_log_(double x)
{
    const uint64_t one = UINT64_C(0x3ff0000000000000), sqrt2 = UINT64_C(0x3ff6a09e667f3bcd);
    const uint64_t least_normal = UINT64_C(0x0010000000000000);
    uint64_t       bits = perf_bits_(x), mantissa;
    int            exponent, negative = bits >> 63 && x < 0.0;
    double         f, k, rest;

    if (perf_is_nan_(x) || negative)
        return PERF_NAN_;
    if (perf_is_zero_(x))
        return -PERF_INF_;
    if (!perf_is_finite_(x))
        return x;
    if (bits < least_normal)                        /* subnormal: 2^54 times it, less 54 ln 2     */
        return perf_log_(x * 18014398509481984.0) - 37.429947750237047899;
    exponent = PERF_CAST_(int, bits >> 52) - 1023;
    mantissa = (bits & (least_normal - 1)) | one;
    if (mantissa > sqrt2) {                         /* halve it, so that |log| stays small        */
        mantissa -= least_normal;
        exponent++;
    }
    f = perf_from_bits_(mantissa) - 1.0;
    k = PERF_CAST_(double, exponent);
    rest = perf_log1p_minus_(f) + k * PERF_LN2_LO_;
    return k * PERF_LN2_HI_ + (f + rest);
}

PERF_FN double perf_log1p_(double x)
{
    double sum;

    if (x > -0.29 && x < 0.41)
        return x + perf_log1p_minus_(x);
    if (!(x > -1.0) || x > 1e300)
        return perf_log_(1.0 + x);
    sum = 1.0 + x;
    return perf_log_(sum) + (x - (sum - 1.0)) / sum;        /* what the addition rounded away     */
}

/* log(1 + x) - x for any x > -1. */
PERF_FN double perf_log1pmx_(double x)
{
    if (x > -0.29 && x < 0.41)
        return perf_log1p_minus_(x);
    return perf_log1p_(x) - x;
}

/* 2^k * x in two steps, so that a subnormal result rounds once, at the end. */
PERF_FN double perf_scale2_(double x, int k)
{
    int    half = k / 2;
    double first = perf_from_bits_(PERF_CAST_(uint64_t, half + 1023) << 52);
    double second = perf_from_bits_(PERF_CAST_(uint64_t, k - half + 1023) << 52);

    return x * first * second;
}

/* x = n ln 2 + r, |r| <= ln 2 / 2: exp x = 2^n exp r, and exp r by its series. */
PERF_FN double perf_exp_(double x)
{
    /* 1 / (k + 2)!: |r| <= 0.347, the terms left out are below 1e-18 */
    static const double term[12] = {0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                                    1.0 / 479001600, 1.0 / 6227020800.0};
    double k, r;
    int    n;

    if (perf_is_nan_(x))
        return x;
    if (x < -745.2)
        return 0.0;
    if (x > 709.8)
        return PERF_INF_;
    k = x * 1.44269504088896340736;                 /* x / ln 2, then rounded to the nearest      */
    if (k < 0.0)
        n = PERF_CAST_(int, k - 0.5);
    else
        n = PERF_CAST_(int, k + 0.5);
    k = PERF_CAST_(double, n);
    r = (x - k * PERF_LN2_HI_) - k * PERF_LN2_LO_;
    return perf_scale2_(1.0 + (r + r * r * perf_poly_(r, term, 11)), n);
}

/* exp(-x * x * part), part a power of two: the square is split so that its rounding error does not
 * grow with x.                                                                                   */
PERF_FN double perf_exp_neg_square_(double x, double part)
{
    double high = perf_from_bits_(perf_bits_(x) & UINT64_C(0xfffffffff8000000));

    return perf_exp_(-high * high * part) * perf_exp_(-(x - high) * (x + high) * part);
}

/* ---- normal distribution ---- */

/* F(1/2, 1; c; -w) by Gauss's continued fraction (DLMF 15.7.5), all of whose terms are positive. */
PERF_FN double perf_gauss_fraction_(double c, double w)
{
    double f = 1.0, up = 1.0, down = 0.0, change = 1.0, m, k;
    int    i;

    for (i = 1; i < 2000 && (change > 3e-16 || change < -3e-16); i++) {
        m = PERF_CAST_(double, i / 2);
        k = m * (c + m - 1.5);
        if (i % 2)
            k = (0.5 + m) * (c - 1.0 + m);
        k *= w / ((c + i - 2.0) * (c + i - 1.0));
        up = 1.0 + k / up;
        down = 1.0 / (1.0 + k * down);
        f *= up * down;
        if (i >= 3)
            change = up * down - 1.0;
    }
    return 1.0 / f;
}

/* Below 1: 1 - erf by its all-positive series (Abramowitz & Stegun 7.1.6).  From 1 on that would
 * cancel: continued fraction 7.1.14, which is Gauss's for c to infinity (DLMF 7.9.1).            */
PERF_FN double perf_erfc_(double x)
{
    const double two_by_sqrt_pi = 1.12837916709551257390, one_by_sqrt_pi = 0.56418958354775628695;
    double       term = x, sum = x;
    int          n;

    if (perf_is_nan_(x))
        return x;
    if (x < 0.0)
        return 2.0 - perf_erfc_(-x);
    if (x > 27.3)
        return 0.0;
    if (x >= 1.0)
        return one_by_sqrt_pi * perf_exp_neg_square_(x, 1.0) / x *
               perf_gauss_fraction_(1e18, 1e18 / (x * x));
    for (n = 1; n < 80 && term > sum * 1e-17; n++) {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    return 1.0 - two_by_sqrt_pi * perf_exp_neg_square_(x, 1.0) * sum;
}

/* Below -1.5 the tail by the same fraction, in z itself: z / sqrt(2) would be rounded, and the tail
 * multiplies that error by z^2.                                                                  */
PERF_FN double perf_normal_cdf_(double z)
{
    const double one_by_sqrt_2pi = 0.39894228040143267794, one_by_sqrt_2 = 0.70710678118654752440;

    if (!(z < -1.5))
        return 0.5 * perf_erfc_(-z * one_by_sqrt_2);
    if (z < -38.6)
        return 0.0;
    return one_by_sqrt_2pi * perf_exp_neg_square_(z, 0.5) / -z *
           perf_gauss_fraction_(1e18, 1e18 / (0.5 * z * z));
}

/* A ratio of two polynomials of degree 7. */
PERF_FN double perf_ratio7_(double x, const double c[2][8])
{
    return perf_poly_(x, c[0], 7) / perf_poly_(x, c[1], 7);
}

/* Wichura's AS 241 (Applied Statistics 37, 1988), constants of PPND16: good down to p = 1e-300.
 * Three ranges, each a ratio of polynomials.                                                     */
PERF_FN double perf_normal_quantile_(double p)
{
    static const double middle[2][8] = {
        {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
         13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
         33430.575583588128105, 2509.0809287301226727},
        {1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
         21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
         5226.4952788528545610}};
    static const double side[2][8] = {
        {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
         3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
         0.0227238449892691845833, 7.74545014278341407640e-4},
        {1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
         0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double tail_end[2][8] = {
        {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
         0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    double q = p - 0.5, tail, r;

    if (!(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    if (q < 0.425 && q > -0.425) {
        r = 0.180625 - q * q;
        return q * perf_poly_(r, middle[0], 7) / perf_poly_(r, middle[1], 7);
    }
    tail = perf_least_(p, 1.0 - p);
    if (!(tail > 0.0)) {
        r = PERF_INF_;
    } else {
        r = perf_sqrt_(-perf_log_(tail));
        if (r <= 5.0)
            r = perf_ratio7_(r - 1.6, side);
        else
            r = perf_ratio7_(r - 5.0, tail_end);
    }
    if (q < 0.0)
        return -r;
    return r;
}

/* ---- beta, t and binomial distributions ---- */

/* log gamma(x) minus Stirling's (x - 1/2) log x - x + log sqrt(2 pi); x > 0.  Series of Abramowitz
 * & Stegun 6.1.41 above 15, the recurrence gamma(x + 1) = x gamma(x) below.                      */
PERF_FN double perf_stirling_rest_(double x)
{
    double sum = 0.0, z;

    while (x < 15.0) {
        sum += (x + 0.5) * perf_log1p_(1.0 / x) - 1.0;
        x += 1.0;
    }
    z = 1.0 / (x * x);
    return sum + (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 -
                 z * (691.0 / 360360 - z * (1.0 / 156))))))) / x;
}

/* x^a y^b / B(a, b) with x + y = 1, after Loader's saddle point form ("Fast and accurate
 * computation of binomial probabilities", 2000).  delta = a y - b x comes from the caller, who
 * may know it without cancellation.                                                              */
PERF_FN double perf_beta_front_(double x, double y, double a, double b, double delta)
{
    double da = -a * perf_log1pmx_(-delta / a), db = -b * perf_log1pmx_(delta / b);

    if (delta > 0.5 * a)                            /* far from the mean nothing cancels, and     */
        da = a * perf_log_(a / (a + b) / x) - delta;    /* 1 - delta / a would lose a tiny x      */
    if (-delta > 0.5 * b)
        db = b * perf_log_(b / (a + b) / y) + delta;
    return perf_exp_(perf_stirling_rest_(a + b) - perf_stirling_rest_(a) - perf_stirling_rest_(b) -
                     da - db) *
           perf_sqrt_(a / (a + b) * b * 0.15915494309189533577);        /* 1 / (2 pi)             */
}

/* x, or 1e-300 where it is nearly 0 and something is to be divided by it. */
PERF_FN double perf_not_zero_(double x)
{
    if (x < 1e-300 && x > -1e-300)
        return 1e-300;
    return x;
}

/* The continued fraction of I_x(a, b) (DLMF 8.17.22) by Lentz's method; x below the mean. */
PERF_FN double perf_beta_fraction_(double x, double a, double b)
{
    double c = 1.0, d = 1.0 / perf_not_zero_(1.0 - (a + b) * x / (a + 1.0)), f = d, step, m, term;
    int    i;

    for (i = 2; i < 200000; i++) {                  /* even and odd terms                         */
        m = PERF_CAST_(double, i / 2);
        if (i % 2)
            term = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        else
            term = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / perf_not_zero_(1.0 + term * d);
        c = perf_not_zero_(1.0 + term / c);
        step = d * c;
        f *= step;
        if (i % 2 && step - 1.0 < 3e-16 && step - 1.0 > -3e-16)   /* -ffast-math: not 1 */
            break;
    }
    return f;
}

/* I_x(a, b), x + y = 1; a small one is computed itself, not as 1 minus the rest. */
PERF_FN double perf_beta_tail_(double x, double y, double a, double b, double delta)
{
    double front;

    if (!(x > 0.0))
        return 0.0;
    if (!(y > 0.0))
        return 1.0;
    front = perf_beta_front_(x, y, a, b, delta);
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * perf_beta_fraction_(x, a, b) / a;
    return 1.0 - front * perf_beta_fraction_(y, b, a) / b;
}

PERF_FN double perf_beta_cdf_(double x, double a, double b)
{
    if (!(a > 0.0) || !(b > 0.0) || !perf_is_finite_(a + b) || !(x >= 0.0 && x <= 1.0))
        return PERF_NAN_;
    return perf_beta_tail_(x, 1.0 - x, a, b, a * (1.0 - x) - b * x);
}

/* P(T > t), t >= 0; *fall: its relative decrease with log t.  With a = df / 2 it is half of
 * I_x(a, 1/2), x = a / (a + t^2 / 2), as DLMF 8.17.7 writes it: nothing cancels for x near 1.    */
PERF_FN double perf_t_upper_(double t, double df, double *fall)
{
    double a = 0.5 * df, s = 0.5 * t * t, x = a / (a + s), y = s / (a + s), power;

    if (t > 1e140) {                                /* a power law by now; t * t would overflow   */
        power = perf_exp_(df * (perf_log_(1e140) - perf_log_(t)));
        s = perf_t_upper_(1e140, df, fall) * power;
        *fall *= power;
        return s;
    }
    *fall = 0.0;
    if (t > 0.0)
        *fall = perf_beta_front_(x, y, a, 0.5, x * (s - 0.5));
    if (t < 1.0)
        return 0.5 - *fall * perf_beta_fraction_(y, 0.5, a);
    return *fall * perf_gauss_fraction_(a + 1.0, a / s) / (df * y);
}

PERF_FN double perf_t_cdf_(double t, double df)
{
    double fall, tail;

    if (perf_is_nan_(t) || !(df > 0.0))
        return PERF_NAN_;
    if (!(df < 1e15))
        return perf_normal_cdf_(t);
    tail = perf_t_upper_(perf_fabs_(t), df, &fall);
    if (t < 0.0)
        return tail;
    return 1.0 - tail;
}

/* t > 0 with P(T > t) = tail.  Newton on the log of the tail against log t, kept inside a shrinking
 * bracket.  It begins at the normal quantile, which is always nearer to 0.                       */
PERF_FN double perf_t_upper_quantile_(double tail, double df)
{
    double t = -perf_normal_quantile_(tail), low = t, high = PERF_INF_, here, next, fall;
    int    i;

    for (i = 0; i < 200 && df < 1e15 && t > 0.0 && perf_is_finite_(t); i++) {
        here = perf_t_upper_(t, df, &fall);
        if (here > tail)
            low = t;
        else
            high = t;
        next = 0.0;
        if (here > 0.0)
            next = t * perf_exp_(perf_log_(here / tail) * (here / fall));
        if (next - t < t * 2e-16 && t - next < t * 2e-16)
            break;
        if (!(next > low && next < high))
            next = perf_sqrt_(low) * perf_sqrt_(high);
        t = next;
    }
    return t;
}

PERF_FN double perf_t_quantile_(double p, double df)
{
    if (!(p >= 0.0 && p <= 1.0) || !(df > 0.0))
        return PERF_NAN_;
    if (p < 0.5)
        return -perf_t_upper_quantile_(p, df);
    return perf_t_upper_quantile_(1.0 - p, df);
}

PERF_FN double perf_binomial_cdf_(double k, double n, double p)
{
    if (!(n >= 0.0) || !(p >= 0.0 && p <= 1.0) || perf_is_nan_(k) || !perf_is_finite_(n))
        return PERF_NAN_;
    if (k < 0.0)
        return 0.0;
    if (k <= 9e15)                                  /* else it is a whole number already          */
        k = PERF_CAST_(double, PERF_CAST_(int64_t, k));
    if (k >= n)
        return 1.0;
    return perf_beta_tail_(1.0 - p, p, n - k, k + 1.0, (n - k) * p - (k + 1.0) * (1.0 - p));
}

/* ---- order ---- */

/* Moves what is < pivot (with or_equal 1: <= pivot) to the front; returns how many those are.  No
 * branch depends on the data, since half of them would be mispredicted.                          */
PERF_FN size_t perf_partition_(double *x, size_t n, double pivot, int or_equal)
{
    size_t i, front = 0;

    for (i = 0; i < n; i++) {
        double value = x[i];
        x[i] = x[front];
        x[front] = value;
        front += PERF_CAST_(size_t, (value < pivot) | (or_equal & (value <= pivot)));
    }
    return front;
}

/* Moves what lies below the middle of the extremes to the front; returns how many those are.
 * 0: all are equal.  Each such cut halves the range of values: 2,100 of them sort anything.      */
PERF_FN size_t perf_sort_cut_(double *x, size_t n)
{
    double low = x[0], high = x[0], pivot;
    size_t i;

    for (i = 1; i < n; i++) {
        low = perf_least_(x[i], low);
        high = perf_most_(x[i], high);
    }
    if (!(low < high))
        return 0;
    pivot = 0.5 * low + 0.5 * high;
    if (!(pivot > low))
        pivot = high;
    return perf_partition_(x, n, pivot, 0);
}

PERF_FN double perf_median_of_three_(double a, double b, double c)
{
    return perf_most_(perf_least_(a, b), perf_least_(perf_most_(a, b), c));
}

/* For few values. */
PERF_FN void perf_sort_by_insertion_(double *x, size_t n)
{
    size_t i, j;

    for (i = 1; i < n; i++) {
        double value = x[i];
        for (j = i; j > 0 && x[j - 1] > value; j--)
            x[j] = x[j - 1];
        x[j] = value;
    }
}

/* Quicksort on the median of three, or by a cut where that would part badly.  Only the smaller part
 * is sorted by a call, so the recursion is at most log2(n) deep.  No value is NaN.               */
PERF_FN void perf_sort_part_(double *x, size_t n)
{
    while (n > 24) {
        size_t below = perf_partition_(x, n, perf_median_of_three_(x[0], x[n / 2], x[n - 1]), 0);
        if (below < n / 16 || n - below < n / 16)
            below = perf_sort_cut_(x, n);
        if (!below)
            return;
        if (below < n - below) {
            perf_sort_part_(x, below);
            x += below;
            n -= below;
        } else {
            perf_sort_part_(x + below, n - below);
            n = below;
        }
    }
    perf_sort_by_insertion_(x, n);
}

PERF_FN void perf_sort_values_(double *x, size_t n)
{
    perf_sort_part_(x, perf_partition_(x, n, PERF_INF_, 1));    /* NaN stay behind the numbers    */
}

/* x_(h) with h = 1 + (n - 1) p, linear between neighbours (Hyndman and Fan 1996, type 7). */
PERF_FN double perf_quantile_(const double *sorted, size_t n, double p)
{
    double h, part, gap;
    size_t i;

    if (!sorted || !n || !(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    h = PERF_CAST_(double, n - 1) * p;
    i = PERF_CAST_(size_t, h);
    if (i >= n - 1)
        return sorted[n - 1];
    part = h - PERF_CAST_(double, i);
    gap = sorted[i + 1] - sorted[i];
    if (!(part > 0.0) || !(gap > 0.0))              /* infinities, too                            */
        return sorted[i];
    if (!perf_is_finite_(gap))
        return (1.0 - part) * sorted[i] + part * sorted[i + 1];
    return sorted[i] + part * gap;
}

PERF_END_DECLS

#endif /* PERF_MATH_H */
