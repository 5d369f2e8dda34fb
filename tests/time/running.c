/* running.c - a report says how much of the time the process had a processor, and each thread; where
 * a call is long because its processor was taken away, and where it is not.                       */
#define _GNU_SOURCE 1
#define PERF_DIAGNOSIS 1
#include <sys/syscall.h>
#include "perf_diagnosis.h"
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double figure(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? atof(at + strlen(key)) : -1.0;
}

static int               stop;
static int               stopped(void) { return __atomic_load_n(&stop, __ATOMIC_RELAXED); }
static char              text[65536];

/* Takes the processor from the others. */
static void *busy(void *unused)
{
    while (!stopped())
        perf_clobber();
    return unused;
}

static void *spinner(void *unused)
{
    int i;

    perf_thread_name("spinner");
    while (!stopped()) {
        PERF_SCOPE("spin");
        for (i = 0; i < 100; i++)
            perf_clobber();
    }
    return unused;
}

/* Its calls are long because it naps; one in ten is ten times as long, and a processor is taken from it, too. */
static void *sleeper(void *unused)
{
    struct timespec nap = {0, 1000000};
    int             i;

    perf_thread_name("sleeper");
    for (i = 0; !stopped(); i++) {
        PERF_SCOPE("doze");
        nap.tv_nsec = i % 10 ? 1000000 : 10000000;
        nanosleep(&nap, NULL);
        sched_yield();                          /* for the system that is as if it were taken      */
    }
    return unused;
}

/* The line of a thread: ran, ready without a processor, at once, in which scope. */
static void thread_of(const char *name, char *at_once, char *in)
{
    const char *line = strstr(text, name), *c;
    int         i, k;

    *at_once = *in = '\0';
    for (c = line; line && c > text && c[-1] != '\n'; c--) {
    }
    for (i = 0, k = 0; line && i < 10; i++)
        if (c[48 + i] != ' ')
            at_once[k++] = c[48 + i];
    at_once[k] = '\0';
    if (line)
        sscanf(c + 60, "%19[^\n]", in);
}

static void diagnosis(void)
{
    perf_report_opts o = PERF_ZERO;

    o.view = PERF_VIEW_DIAGNOSIS;
    perf_report_text(text, sizeof text, &o);
}

static void taken_away(void)
{
    pthread_t       t[4];
    cpu_set_t       cpus;
    char            once[16], in[32];
    int             i, all = 1;
    struct timespec start, now, nap = {0, 50000000};

    CPU_ZERO(&cpus);                            /* all of them on one processor                    */
    CPU_SET(sched_getcpu(), &cpus);
    CHECK(!pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus), "affinity");
    for (i = 0; i < 4; i++)
        all &= !pthread_create(&t[i], NULL, i < 2 ? busy : i == 2 ? spinner : sleeper, NULL);
    CHECK(all, "threads");
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        nanosleep(&nap, NULL);
        diagnosis();
        thread_of(" spinner ", once, in);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((!*in || strcmp(once, "0.00ns") == 0) && now.tv_sec - start.tv_sec < 30);
    for (i = 0; i < 20; i++)
        nanosleep(&nap, NULL);
    diagnosis();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    thread_of(" spinner ", once, in);
    CHECK(*once && strcmp(once, "0.00ns") != 0 && !strcmp(in, "spin"), "%s in '%s': %s", once, in, text);
    thread_of(" sleeper ", once, in);
    CHECK(!strcmp(once, "0.00ns") && !*in, "%s in '%s': %s", once, in, text);
    for (i = 0; all && i < 4; i++)
        pthread_join(t[i], NULL);
    diagnosis();
    CHECK(!strstr(text, " spinner "), "a thread that has ended: %s", text);
    perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "note: a call of spin was without a processor for "), "%s", text);
    CHECK(!strstr(text, "note: a call of doze"), "%s", text);
    perf_reset();
    {
        PERF_SCOPE("after");
    }
    perf_report_text(text, sizeof text, NULL);
    CHECK(!strstr(text, "without a processor"), "a reset forgets it: %s", text);
}

int main(void)
{
    struct timespec  nap = {0, 300000000};
    perf_report_opts o = PERF_ZERO;
    double           cpu, wall;

    if (sizeof(long) < 8) {
        printf("skipped: where long has 32 bits nobody asks the system for processor time\n");
        return 77;
    }
    {
        PERF_SCOPE("nap");
        nanosleep(&nap, NULL);
    }
    o.view = PERF_VIEW_JSON;
    perf_report_text(text, sizeof text, &o);
    cpu = figure(text, "\"cpu_ns\":");
    wall = figure(text, "\"wall_ns\":");
    CHECK(wall > 299e6 && cpu >= 0 && cpu < wall / 2, "%g of %g", cpu, wall);
    CHECK(figure(text, "\"preemptions\":") >= 0, "%s", text);
    perf_report_text(text, sizeof text, NULL);
    CHECK(figure(text, "\nprocessor time: ") >= 0, "%s", text);
    perf_reset();
    perf_report_text(text, sizeof text, &o);
    CHECK(figure(text, "\"wall_ns\":") < wall, "a reset begins anew: %s", text);
#if defined(SYS_gettid)                         /* else no line of /proc is a thread's             */
    taken_away();
#endif
    return check_done();
}
