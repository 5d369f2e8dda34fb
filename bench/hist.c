/* What the histogram costs.  Build and run:  cc -O2 -I. -Itests/hist bench/hist.c -o hist && ./hist
 * Each figure is the least of many rounds, in ns; ratios are of figures from this one run.
 * The record is held against a bare loop: counters[index computed beforehand]++, plus the
 * conversion of the value to an index on its own.                                                */
#define _DEFAULT_SOURCE 1
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N      65536
#define ROUNDS 300

static uint64_t  values[N];
static uint32_t  indices[N];
static uint64_t  bare[PERF_HIST_FIXED_];
static perf_hist fixed;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return PERF_CAST_(double, t.tv_sec) * 1e9 + PERF_CAST_(double, t.tv_nsec);
}

#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

/* Least time of one statement over the rounds, divided by `per`. */
#define LEAST(result, per, statement)                                                             \
    do {                                                                                          \
        int    round_;                                                                            \
        double least_ = 1e300;                                                                    \
        for (round_ = 0; round_ < ROUNDS; round_++) {                                             \
            double t0_ = now_ns(), t_;                                                            \
            statement;                                                                            \
            t_ = now_ns() - t0_;                                                                  \
            if (t_ < least_)                                                                      \
                least_ = t_;                                                                      \
        }                                                                                         \
        result = least_ / (per);                                                                  \
    } while (0)

#define LOOP(statement)                                                                           \
    do {                                                                                          \
        int i;                                                                                    \
        for (i = 0; i < N; i++)                                                                   \
            statement;                                                                            \
    } while (0)

static perf_hist *make(int bits, int bytes)
{
    perf_hist_opts o = PERF_ZERO;
    size_t         need;

    o.bits = bits;
    o.counter_bytes = bytes;
    need = perf_hist_bytes(&o);
    return perf_hist_init(malloc(need), need, &o);
}

__attribute__((noinline)) static void bare_loop(void)
{
    LOOP(bare[indices[i]]++);
    KEEP(bare);
}

__attribute__((noinline)) static void convert_loop(void)
{
    LOOP({
        uint64_t u = perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, values[i])));
        indices[i] = PERF_CAST_(uint32_t, (u >> PERF_HIST_SHIFT_) - PERF_HIST_BIAS_);
    });
    KEEP(indices);
}

static void record(const char *name, uint64_t (*draw)(rng *))
{
    rng        r = {1};
    perf_hist *small6 = make(6, 4), *small9 = make(9, 4), *wide = make(7, 8);
    double     t_bare, t_convert, t[7];

    LOOP(values[i] = draw(&r));
    convert_loop();
    LEAST(t_bare, N, bare_loop());
    LEAST(t_convert, N, convert_loop());
    LEAST(t[0], N, LOOP(perf_hist_add(&fixed, values[i])));
    LEAST(t[1], N, LOOP(perf_hist_add_own(wide, values[i])));
    LEAST(t[2], N, LOOP(perf_hist_add(wide, values[i])));
    LEAST(t[3], N, LOOP(perf_hist_add_own(small6, values[i])));
    LEAST(t[4], N, LOOP(perf_hist_add_own(small9, values[i])));
    LEAST(t[5], N, LOOP(perf_hist_add(small9, values[i])));
    LEAST(t[6], N, LOOP(perf_hist_add_shared(small9, values[i])));
    printf("%-10s bare %.2f + convert %.2f = %.2f ns | add %.2f (%.2fx)  add64 %.2f (%.2fx), by add %.2f  "
           "add32 K=6 %.2f K=9 %.2f  any form %.2f  shared %.2f\n",
           name, t_bare, t_convert, t_bare + t_convert, t[0], t[0] / (t_bare + t_convert), t[1],
           t[1] / (t_bare + t_convert), t[2], t[3], t[4], t[5], t[6]);
    free(small6);
    free(small9);
    free(wide);
}

static void query(int bits, int bytes)
{
    static const double q[6] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    double              out[6], t_six, t_one, t_merge, t_reset = 1e300;
    perf_hist          *h = make(bits, bytes), *sum = make(bits, bytes);
    rng                 r = {2};
    int                 i;

    for (i = 0; i < 1000000; i++)
        perf_hist_add(h, lognormal(&r));
    LEAST(t_six, 1, for (i = 0; i < 6; i++) out[i] = perf_hist_quantile(h, q[i]); KEEP(out));
    LEAST(t_one, 1, out[0] = perf_hist_quantile(h, 0.99); KEEP(out));
    perf_hist_merge(sum, h);
    LEAST(t_merge, 1, perf_hist_merge(sum, h));
    for (i = 0; i < 100; i++) {
        double t0;
        perf_hist_merge(sum, h);
        t0 = now_ns();
        perf_hist_reset(sum);
        t0 = now_ns() - t0;
        if (t0 < t_reset)
            t_reset = t0;
    }
    printf("K=%-2d u%-2d  six percentiles %6.0f  p99 %6.0f  merge %6.0f  reset %5.0f ns\n",
           bits, bytes * 8, t_six, t_one, t_merge, t_reset);
    free(h);
    free(sum);
}

int main(void)
{
    double t_clock;

    LEAST(t_clock, 1, (void)0);
    printf("one reading of the clock: %.0f ns, not subtracted\n", t_clock);
    record("lognormal", lognormal);
    record("bimodal", bimodal);
    record("pareto", pareto);
    query(10, 8);
    query(10, 4);
    query(7, 8);
    query(7, 4);
    query(6, 4);
    return 0;
}
