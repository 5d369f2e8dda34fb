/* hands.c DIR: the rate of n threads, on clocks and a number of processors that this file makes up.  Each
 * thread has a clock of its own that only the body moves, so every rate is known.                 */
#define _GNU_SOURCE 1
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __thread uint64_t now_ns = UINT64_C(1) << 40;

static uint64_t own_clock(void)
{
    return now_ns += 1;
}
#define PERF_CLOCK_FN own_clock
#define PERF_MAIN 1
#define main harness_main
#include "perf.h"
#undef main

#include "check.h"

static int processors;                  /* of this machine; 0: it does not say                     */

int sched_getaffinity(__pid_t process, size_t size, cpu_set_t *set)
{
    int i;

    (void)process;
    if (!processors)
        return -1;
    memset(set, 0, size);
    for (i = 0; i < processors; i++)
        CPU_SET((size_t)i, set);
    return 0;
}

/* Of five slices three take 1000 ns an iteration; the other two wait, and take `waiting`. */
static double waiting;

PERF_BENCH_THREADS(turns, 1, 4)
{
    unsigned slice = 0;

    (void)thread, (void)threads;
    perf_bench_rates(&b, 0.0, 1.0);
    while (perf_bench_next(&b)) {
        slice += (unsigned)perf_loop_slice_begins(&b);
        now_ns += slice % 5 < 3 ? 1000 : (uint64_t)waiting;
    }
}

/* Items a second that the file says of so many threads; -1: it says nothing. */
static double rate_of(const char *dir, const char *threads)
{
    static char text[1 << 20];
    static char name[] = "hands", only[] = "--filter", budget[] = "--budget", time[] = "0.04", json[] = "--json";
    char        path[500], filter[40], entry[60];
    char       *words[] = {name, only, filter, budget, time, json, path, NULL};
    const char *at;
    size_t      length;
    FILE       *file;

    snprintf(path, sizeof path, "%s/hands.json", dir);
    snprintf(filter, sizeof filter, "^turns/threads:%s$", threads);
    CHECK(harness_main(7, words) == 0, "threads:%s runs", threads);
    file = fopen(path, "rb");
    length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file)
        (void)fclose(file);
    snprintf(entry, sizeof entry, "turns/threads:%s\"", threads);
    at = strstr(text, entry);
    at = at ? strstr(at, "\"items_per_s\":") : NULL;
    return at ? atof(at + 14) : -1.0;
}

/* On so many processors four threads have so much of four times the rate of one. */
static void rates(const char *dir, int machine, double wait_ns, double share)
{
    const double whole = 1e6;           /* of a thread that never waits                            */
    double       rate;

    perf_reset();
    processors = machine;
    waiting = wait_ns;
    rate = rate_of(dir, "4");
    CHECK(rate > 0.97 * 4.0 * share * whole && rate < 1.03 * 4.0 * share * whole,
          "%d processors, waits of %g ns: %g items a second, %g of four threads", machine, wait_ns, rate,
          share);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";

    rates(dir, 4, 1000.0, 1.0);         /* nobody waits: rates add up                              */
    rates(dir, 4, 6000.0, 1.0);         /* there are enough processors: others took what is lost   */
    rates(dir, 3, 1500.0, 1.0 / 1.2);   /* they take turns: the mean of 1000, 1500 in 3 of 5, 2 of 5 */
    rates(dir, 2, 2000.0, 1.0 / 1.4);
    rates(dir, 2, 6000.0, 0.5);         /* never less than the processors allow                    */
    rates(dir, 1, 6000.0, 1.0 / 3.0);   /* the mean again: a processor would allow a quarter       */
    rates(dir, 1, 60000.0, 0.25);
    rates(dir, 0, 6000.0, 1.0 / 3.0);   /* a machine that does not say: the mean                   */
    return check_done();
}
