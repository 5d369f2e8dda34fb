/* A server's loop: percentiles of each interval while it runs, and what the watching costs.
 * Needs: threads
 *
 *     cc -O2 -I. examples/c/server.c -o server -lpthread && ./server
 *
 * You will see a line for each of five intervals: requests, and p50, p99, p99.9 and maximum of that
 * interval alone.  The third is slower: its requests are four times as large.  The percentiles of
 * the interval show it; the median of the whole run, printed last, hides it.  Then a verdict: with
 * recording (two readings of the clock and one record) a request of some 8 us is not more than 5 %
 * slower than without.  Exit status: 0 unless the verdict is REJECT.
 *
 * The worker pays one perf_hist_add a request and never waits.  The reader takes a snapshot
 * and subtracts the one before: no reset, no lock, no second histogram for the worker.           */
#define _POSIX_C_SOURCE 200809L         /* nanosleep, in this file's own code                     */
#include "perf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static perf_hist     live;              /* written by the worker, read by anybody                 */
static unsigned char body[32768];
static int           stop, size = 8192;

static uint32_t handle(int bytes)       /* a request: a checksum over its body                    */
{
    uint32_t sum = 2166136261u;
    int      i;

    for (i = 0; i < bytes; i++)
        sum = (sum ^ body[i]) * 16777619u;
    return sum;
}

static void *worker(void *unused)
{
    uint64_t before = perf_now(), now;
    uint32_t sum;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        sum = handle(__atomic_load_n(&size, __ATOMIC_RELAXED));
        perf_keep(sum);
        now = perf_now();               /* the end of one request is the start of the next        */
        perf_hist_add(&live, now - before);
        before = now;
    }
    return unused;
}

static void print(const char *what, const perf_hist *h)
{
    if (perf_hist_count(h) == 0) {
        printf("%s: no requests\n", what);
        return;
    }
    printf("%-10s %8llu requests  p50 %7.1f  p99 %7.1f  p99.9 %7.1f  max %8.1f us\n", what,
           (unsigned long long)perf_hist_count(h), perf_hist_quantile(h, 0.5) / 1e3,
           perf_hist_quantile(h, 0.99) / 1e3, perf_hist_quantile(h, 0.999) / 1e3,
           perf_hist_quantile(h, 1.0) / 1e3);
}

/* One request with and one without recording, in turns that a coin decides. */
static int cost(void)
{
    perf_ab_opts   o = PERF_ZERO;
    perf_ab_result r;
    perf_ab        ab;
    int            v;

    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 5, PERF_METRIC_PAIR);
    ab = perf_ab_begin("recording", &o);
    while ((v = perf_ab_next(&ab)) >= 0) {
        uint64_t before = v ? perf_now() : 0;
        uint32_t sum = handle(8192);
        perf_keep(sum);
        if (v)
            perf_hist_add(&live, perf_now() - before);
    }
    r = perf_ab_end(&ab);
    printf("recording: %s\n", perf_verdict_text(&r.verdict));
    return r.verdict.decision == PERF_REJECT;
}

int main(void)
{
    static perf_hist      now, before, interval;
    const struct timespec wait = {0, 60 * 1000 * 1000};
    pthread_t             thread;
    char                  name[32];
    int                   i;

    if (pthread_create(&thread, NULL, worker, NULL))
        return 1;
    for (i = 1; i <= 5; i++) {
        __atomic_store_n(&size, i == 3 ? 32768 : 8192, __ATOMIC_RELAXED);
        do {                            /* longer where the worker hardly gets its turn           */
            nanosleep(&wait, NULL);
            if (perf_hist_copy(&now, &live) != PERF_OK ||
                perf_hist_copy(&interval, &now) != PERF_OK ||
                perf_hist_subtract(&interval, &before) != PERF_OK)
                return 1;
        } while (perf_hist_count(&interval) < 100);
        snprintf(name, sizeof name, "interval %d", i);
        print(name, &interval);
        before = now;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    print("all", &live);
    return cost();
}
