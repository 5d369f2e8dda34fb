/* How often is the A/B loop wrong, and how long does it take?
 *
 *     cc -O2 -I. bench/ab.c -o ab && ./ab [EXPERIMENTS]           (default 200; load the machine to see)
 *
 * Two chains of dependent multiplies of known length; the question is "no more than 1 % slower?".
 * A/A has the right answer ACCEPT, 2, 5 and 20 % more multiplies have REJECT.  Ratios only: the
 * truth is the count of multiplies.  Times are of one verdict, begin to end; the last line says how
 * much of them this thread had the processor.  VERBOSE=1 prints each open one.                   */
#include "perf.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Processor time of this thread, in ns. */
static uint64_t cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static PERF_ATTR_((__noinline__)) uint64_t chain(uint64_t x, long n)
{
    for (; n > 0; n--) {
        x *= UINT64_C(0xd1342543de82ef95);
        perf_keep(x);
    }
    return x;
}

int main(int argc, char **argv)
{
    static const int extra[] = {0, 2, 5, 20};
    int              runs = argc > 1 ? atoi(argv[1]) : 200, k, i, v;
    double          *ms = malloc(sizeof *ms * (size_t)(runs > 0 ? runs : 1));
    double          *off = malloc(sizeof *off * (size_t)(runs > 0 ? runs : 1));
    uint64_t         x = 3;
    double           cpu = 0.0, wall = 0.0, t, c;

    if (runs <= 0 || !ms || !off)
        return 2;
    printf("%d experiments a row, question: no more than 1 %% slower?\n", runs);
    printf("truth    right   wrong    open   |estimate - truth| p50    p95    time to decide p50     p95\n");
    for (k = 0; k < 4; k++) {
        int counts[3] = {0, 0, 0};
        for (i = 0; i < runs; i++) {
            perf_ab_opts   o = PERF_ZERO;
            perf_ab_result r;
            perf_ab        ab;
            double         gap;

            o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 1.0, PERF_METRIC_PAIR);
            t = (double)perf_now(), c = (double)cpu_now();
            ab = perf_ab_begin("chain", &o);
            while ((v = perf_ab_next(&ab)) >= 0)
                x = chain(x, v ? 1000 + 10 * extra[k] : 1000);
            r = perf_ab_end(&ab);
            wall += (double)perf_now() - t, cpu += (double)cpu_now() - c;
            counts[r.verdict.decision == PERF_INCONCLUSIVE ? 2
                   : (r.verdict.decision == PERF_ACCEPT) == (extra[k] == 0) ? 0 : 1]++;
            gap = 100.0 * (r.verdict.ratio.estimate - 1.0) - extra[k];
            off[i] = gap < 0.0 ? -gap : gap;
            if (r.verdict.decision == PERF_INCONCLUSIVE && getenv("VERBOSE"))
                printf("    %d leads, then %.4f, %.0f ms: %s\n", r.control_rounds, r.control_ratio,
                       r.seconds * 1e3, perf_verdict_text(&r.verdict));
            ms[i] = r.seconds * 1e3;
        }
        perf_sort_values_(off, (size_t)runs);
        perf_sort_values_(ms, (size_t)runs);
        printf("+%2d %%  %7d %7d %7d   %20.3f pp %6.3f pp  %16.2f ms %6.2f ms\n", extra[k], counts[0],
               counts[1], counts[2], perf_quantile_(off, (size_t)runs, 0.5),
               perf_quantile_(off, (size_t)runs, 0.95), perf_quantile_(ms, (size_t)runs, 0.5),
               perf_quantile_(ms, (size_t)runs, 0.95));
    }
    printf("processor time a verdict: %.2f ms, %.0f %% of the time by the wall\n",
           cpu * 1e-6 / (4.0 * runs), 100.0 * cpu / wall);
    perf_keep(x);
    free(ms);
    free(off);
    return 0;
}
