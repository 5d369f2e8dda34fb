/* look_disturbs.c - what does a reader from outside cost the program that is read?
 *
 *     cc -O2 -I. bench/look_disturbs.c -o look_disturbs
 *     ./look_disturbs ./perf-ab [PAIRS]
 *
 * Two scopes a turn; perf-ab top reads 1,000 times a second.  Blocks with and without the reader
 * (SIGCONT, SIGSTOP) come in pairs, their order by a coin.  Printed: the median of the ratios of
 * processor time within a pair, and the bounds of its 95 % interval.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#define PERF_AT_EXIT 1
#include "perf.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 400000, MOST = 5000 };

static volatile unsigned sink;

/* Processor time of this thread, ns. */
static double spent(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double block(void)
{
    const double begin = spent();
    int          i;

    for (i = 0; i < TURNS; i++) {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("inner");
            sink += (unsigned)i;
        }
    }
    return spent() - begin;
}

/* The largest whole number whose square is at most n. */
static int root(int n)
{
    int r = 0;

    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

static int by_size(const void *one, const void *two)
{
    const double a = *(const double *)one, b = *(const double *)two;

    return (a > b) - (a < b);
}

/* perf-ab top on this process; its output goes nowhere.  0: it cannot be started. */
static pid_t reader(const char *tool)
{
    const pid_t child = fork();
    char        pid[32];

    if (child)
        return child > 0 ? child : 0;
    (void)snprintf(pid, sizeof pid, "%ld", (long)getppid());
    if (freopen("/dev/null", "w", stdout))
        (void)execl(tool, tool, "top", pid, "--json", "--interval", "0.001", (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    static double ratio[MOST];
    int           pairs = argc > 2 ? atoi(argv[2]) : 300, i, half;
    pid_t         child;
    double        with = 0, without = 0;

    if (argc < 2 || pairs < 10 || pairs > MOST)
        return fprintf(stderr, "usage: look_disturbs PERF-AB [PAIRS from 10 to %d]\n", MOST), 2;
    (void)block();
    child = reader(argv[1]);
    (void)usleep(300000);
    if (!child || waitpid(child, NULL, WNOHANG))
        return fprintf(stderr, "%s does not read this process\n", argv[1]), 1;
    srand((unsigned)time(NULL));
    for (i = 0; i < pairs; i++) {
        const int first = rand() / 64 & 1;
        for (half = 0; half < 2; half++) {
            const int reads = half == first;
            (void)kill(child, reads ? SIGCONT : SIGSTOP);
            (void)usleep(2000);
            if (reads)
                with = block();
            else
                without = block();
        }
        ratio[i] = with / without;
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    qsort(ratio, (size_t)pairs, sizeof *ratio, by_size);
    half = pairs / 2 - (int)(0.98 * root(pairs));
    printf("%d pairs: %.4f [%.4f, %.4f] times the processor time\n", pairs, ratio[pairs / 2],
           ratio[half], ratio[pairs - 1 - half]);
    return 0;
}
