/* How right is the bench loop about bodies of known length, and how long does an A/B loop take over
 * operations that are longer than a scheduler's turn?
 *
 *     cc -O2 -I. bench/loops.c -o loops && ./loops [RUNS [short]]     (default 20; x86-64, arm64; short: chains only)
 *
 * Bodies are chains of 1, 10 and 100 dependent multiplies, and one add.  Truth: the fastest of 3,000
 * windows of 20 us of the same chain without any loop of ours, taken in the same run right before and
 * after (a window that somebody else interrupts is never the fastest).  "error" is median / truth - 1.
 * Then operations of 7.5 ms, equal or 2 % longer, question: no more than 1 % slower?               */
#include "perf.h"
#include <stdio.h>
#include <stdlib.h>

#if defined(__aarch64__)
#define MULTIPLY "mul %0, %0, %0\n"
#define ADD      "add %0, %0, #1\n"
#else
#define MULTIPLY "imul %0, %0\n"
#define ADD      "add $1, %0\n"
#endif
#define STEP(text, times) __asm__ __volatile__(".rept " #times "\n" text ".endr\n" : "+r"(x))

typedef struct body {
    char   name[20];
    double chain;                       /* instructions in it                                     */
} body;

static double windows(int add)          /* ns of one instruction                                  */
{
    double   best = 1e9, ns;
    uint64_t x = 3, t;
    int      i, k;

    for (i = 0; i < 3000; i++) {
        t = perf_ticks();
        for (k = 0; k < (add ? 80 : 27); k++) {
            if (add)
                STEP(ADD, 1000);
            else
                STEP(MULTIPLY, 1000);
        }
        ns = perf_ticks_to_ns(perf_ticks() - t) / (add ? 80e3 : 27e3);
        best = ns < best ? ns : best;
    }
    perf_keep(x);
    return best;
}

static perf_result measure(const char *name, int k)
{
    perf_bench b = perf_bench_begin(name, PERF_NULL_);
    uint64_t   x = 3;

    if (k == 0)
        while (perf_bench_next(&b))
            STEP(ADD, 1);
    else if (k == 1)
        while (perf_bench_next(&b))
            STEP(MULTIPLY, 1);
    else if (k == 2)
        while (perf_bench_next(&b))
            STEP(MULTIPLY, 10);
    else
        while (perf_bench_next(&b))
            STEP(MULTIPLY, 100);
    perf_keep(x);
    return perf_bench_end(&b);
}

static double median(double *x, int n)
{
    perf_sort_values_(x, (size_t)n);
    return perf_quantile_(x, (size_t)n, 0.5);
}

static void chains(int runs)
{
    static const body b[4] = {{"1 add", 1.0}, {"1 multiply", 1.0}, {"10 multiplies", 10.0},
                              {"100 multiplies", 100.0}};
    double *error = malloc(sizeof *error * (size_t)runs), *ms = malloc(sizeof *ms * (size_t)runs);
    double *size = malloc(sizeof *size * (size_t)runs);
    int     i, k, held;

    printf("body                  truth   |error| p50   p95    interval holds truth   seconds p50\n");
    for (k = 0; k < 4 && error && ms && size; k++) {
        double last = 0.0;
        for (i = held = 0; i < runs; i++) {
            double      one = windows(k == 0), again, t0 = (double)perf_now();
            perf_result r = measure(b[k].name, k);
            ms[i] = ((double)perf_now() - t0) * 1e-9;
            again = windows(k == 0);
            last = (one < again ? one : again) * b[k].chain;
            error[i] = 100.0 * (r.time.p50 / last - 1.0);
            size[i] = error[i] < 0.0 ? -error[i] : error[i];
            held += r.time.p50_low <= last * 1.005 && r.time.p50_high >= last * 0.995;
            if (!(r.time.p50 > 0.0))
                printf("%s: %g, %s\n", b[k].name, r.time.p50, perf_status_text(r.status));
        }
        perf_sort_values_(size, (size_t)runs);
        printf("%-16s %7.3f ns %10.2f %% %5.2f %% %12d of %d %16.4f\n", b[k].name, last,
               perf_quantile_(size, (size_t)runs, 0.5), perf_quantile_(size, (size_t)runs, 0.95), held, runs,
               median(ms, runs));
        fflush(stdout);
    }
    free(error);
    free(ms);
    free(size);
}

static void spin(long n)
{
    uint64_t x = 3;

    while (n-- > 0)
        STEP(MULTIPLY, 1000);
    perf_keep(x);
}

static void long_ones(int runs)
{
    double  one = windows(0);
    long    n = (long)(7.5e6 / (one * 1000.0));
    double *seconds = malloc(sizeof *seconds * (size_t)runs);
    int     k, i, v;

    printf("operation          right  wrong   open   by cpu time   seconds p50    max\n");
    for (k = 0; k < 3 && seconds; k++) {
        int right = 0, wrong = 0, cpu = 0;
        for (i = 0; i < runs; i++) {
            perf_ab_opts   o = PERF_ZERO;
            perf_ab_result r;
            perf_ab        ab;

            o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 1.0, PERF_METRIC_PAIR);
            o.max_seconds = 10.0;
            ab = perf_ab_begin("7.5 ms", &o);
            while ((v = perf_ab_next(&ab)) >= 0)
                spin(v && k ? n + (k == 1 ? n : -n) / 50 : n);
            r = perf_ab_end(&ab);
            right += r.verdict.decision == (k == 1 ? PERF_REJECT : PERF_ACCEPT);
            wrong += r.verdict.decision == (k == 1 ? PERF_ACCEPT : PERF_REJECT);
            cpu += r.decides == PERF_DECIDES_CPU;
            seconds[i] = r.seconds;
        }
        perf_sort_values_(seconds, (size_t)runs);
        printf("7.5 ms %+d %% %10d %6d %6d %13d %13.2f %6.2f\n", k == 0 ? 0 : k == 1 ? 2 : -2, right, wrong,
               runs - right - wrong, cpu, perf_quantile_(seconds, (size_t)runs, 0.5), seconds[runs - 1]);
        fflush(stdout);
    }
    free(seconds);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 20;

    if (runs <= 0)
        return 2;
    chains(runs);
    if (argc < 3)
        long_ones(runs);
    return 0;
}
