/* Does a scope cost more when another thread records the same scope?
 *
 *     cc -O2 -pthread -I. bench/scope_threads.c -o scope_threads && ./scope_threads
 *
 * Two threads time runs of 2,000 scopes, alone and together in turns of 50 runs, so that a change of
 * clock speed meets both.  Printed: the medians in ticks a scope, and their ratio.  It needs two
 * idle cores: with fewer the threads take turns, and the median shows either.                     */
#define _POSIX_C_SOURCE 200809L
#include "perf.h"
#include "perf_tally.h"
#include <pthread.h>
#include <stdio.h>

#define SCOPES 2000
#define RUNS   50
#define TURNS  200

static pthread_barrier_t gate;
static perf_hist         alone, together;       /* of the first thread, ticks a run */
static perf_tally        all;

static uint64_t run(void)
{
    uint64_t t = perf_ticks();
    int      i;

    for (i = 0; i < SCOPES; i++) {
        PERF_SCOPE("shared");
        perf_clobber();
    }
    return perf_ticks() - t;
}

static void *second(void *unused)
{
    int turn, i;

    for (turn = 0; turn < TURNS; turn++) {
        pthread_barrier_wait(&gate);
        for (i = 0; turn % 2 && i < RUNS + RUNS / 5; i++)       /* a little longer than the first */
            (void)run();
        pthread_barrier_wait(&gate);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    double    one, two;
    int       turn, i;

    pthread_barrier_init(&gate, NULL, 2);
    if (pthread_create(&thread, NULL, second, NULL) != 0) {
        fprintf(stderr, "no second thread\n");
        return 1;
    }
    for (turn = 0; turn < TURNS; turn++) {
        pthread_barrier_wait(&gate);
        for (i = 0; i < RUNS; i++)
            perf_hist_add(turn % 2 ? &together : &alone, run());
        pthread_barrier_wait(&gate);
    }
    pthread_join(thread, NULL);
    if (perf_tally_of("shared", 0, &all) != PERF_OK) {      /* reading it is what switches it on */
        fprintf(stderr, "nothing was recorded\n");
        return 1;
    }
    one = perf_hist_quantile(&alone, 0.5) / SCOPES;
    two = perf_hist_quantile(&together, 0.5) / SCOPES;
    printf("median of one thread %.2f ticks, of two %.2f ticks a scope, ratio %.3f\n", one, two,
           two / one);
    return 0;
}
