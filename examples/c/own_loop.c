/* You have a harness of your own, with its own loop and its own timer.  What does it gain?
 *
 *     cc -O2 -I. examples/c/own_loop.c -o own_loop && ./own_loop
 *
 * You will see, from times that this program took itself: the summary of one variant with the
 * interval of its median, the percentiles of all single calls, and the verdict over pairs whose
 * order a coin decided: is the table of powers at least 1.3 times as fast as computing them?
 * Exit status: 0 ACCEPT, 1 REJECT, 2 INCONCLUSIVE.                                               */
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIRS 60
#define CALLS 400                       /* calls in one slice: some 20 us                         */

static uint64_t table[64];

static uint64_t power(unsigned n)       /* 3^n, modulo 2^64                                       */
{
    uint64_t p = 1;

    while (n--)
        p *= 3;
    return p;
}

static uint64_t look_up(unsigned n)
{
    return table[n % 64];
}

static perf_hist calls;                 /* 43 KB: static, not on the stack                        */

/* Nanoseconds a call of one slice.  Replace perf_ticks by whatever your harness reads. */
static double slice(int variant)
{
    uint64_t start = perf_ticks();
    unsigned i;

    for (i = 0; i < CALLS; i++) {
        uint64_t p = variant ? look_up(i % 64) : power(i % 64);
        perf_keep(p);
    }
    return perf_ticks_to_ns(perf_ticks() - start) / CALLS;
}

int main(void)
{
    static double     ns[2][PAIRS];
    uint32_t          coin = (uint32_t)perf_now() | 1;
    perf_compare_opts o = PERF_ZERO;
    perf_summary      s;
    perf_verdict      v;
    unsigned          i;

    for (i = 0; i < 64; i++)
        table[i] = power(i);
    (void)slice(0), (void)slice(1);     /* both warm                                              */
    for (i = 0; i < PAIRS; i++) {
        int first;
        coin ^= coin << 13, coin ^= coin >> 17, coin ^= coin << 5;
        first = (int)(coin >> 16 & 1);
        ns[first][i] = slice(first);
        ns[!first][i] = slice(!first);
    }
    for (i = 0; i < 10000; i++) {       /* one call at a time, for the tail                       */
        uint64_t start = perf_ticks(), p = power(i % 64);
        perf_keep(p);
        perf_hist_add_double(&calls, perf_ticks_to_ns(perf_ticks() - start));
    }

    s = perf_summarize(ns[0], PAIRS);
    printf("computed: %.1f ns [%.1f, %.1f] median of %d slices\n", s.p50, s.p50_low, s.p50_high,
           (int)s.count);
    printf("single calls: p50 %.0f ns, p99 %.0f ns, p99.9 %.0f ns, max %.0f ns of %d\n",
           perf_hist_quantile(&calls, 0.5), perf_hist_quantile(&calls, 0.99),
           perf_hist_quantile(&calls, 0.999), perf_hist_quantile(&calls, 1), (int)perf_hist_count(&calls));

    o.design = PERF_DESIGN_RANDOM;      /* we vouch for the coin above                            */
    v = perf_compare_pairs(ns[0], ns[1], PAIRS, &o);
    puts(perf_verdict_text(&v));
    if (v.decision == PERF_INCONCLUSIVE)
        return 2;
    return v.decision == PERF_ACCEPT ? 0 : 1;
}
