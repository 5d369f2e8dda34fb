/* Seeded values for the histogram tests and benches: the same on every machine. */
#ifndef PERF_TESTS_HIST_SAMPLES_H
#define PERF_TESTS_HIST_SAMPLES_H

#include "perf_stats.h"

#include "../inside.h"

typedef struct rng {
    uint64_t s;
} rng;

/* splitmix64: every seed is a good one. */
static inline uint64_t rng_next(rng *r)
{
    uint64_t z = (r->s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double rng_unit(rng *r)   /* in (0, 1) */
{
    return ((double)(rng_next(r) >> 12) + 0.5) / 4503599627370496.0;
}

static inline uint64_t rng_below(rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* Uniform in magnitude: every octave of [1, 2^bits) is as likely. */
static inline uint64_t rng_magnitude(rng *r, unsigned bits)
{
    unsigned e = (unsigned)rng_below(r, bits);
    return (UINT64_C(1) << e) | (rng_next(r) & ((UINT64_C(1) << e) - 1));
}

static inline uint64_t to_ns(double x)
{
    return x < 1.0 ? 1 : x > 3.6e12 ? UINT64_C(3600000000000) : (uint64_t)x;
}

static inline uint64_t lognormal(rng *r)    /* median 10 us, sigma 0.8 */
{
    return to_ns(10000.0 * math_exp(0.8 * math_normal(rng_unit(r))));
}

static inline uint64_t bimodal(rng *r)      /* 2 us hits, 5 % misses near 1 ms */
{
    double z = math_normal(rng_unit(r));
    return to_ns(rng_below(r, 20) ? 2000.0 + 100.0 * z : 1e6 + 50000.0 * z);
}

static inline uint64_t pareto(rng *r)       /* tail index 1.2 from 1 us */
{
    return to_ns(1000.0 * math_exp(-math_log(rng_unit(r)) / 1.2));
}

static inline int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#endif
