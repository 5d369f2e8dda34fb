/* What bounds a loop, and what would help?
 *
 *     cc -O2 -I. examples/c/diagnosis.c -o diagnosis && ./diagnosis
 *
 * Each step waits for data, then works on it.  You will see five lines: the baseline (the repeated
 * scope "step" and its times), "bound by: waiting for data" with the evidence, where that is (step >
 * read), what usually helps and how much it could bring at best, and a command that would accept it.
 * On a machine that others use the evidence says so, too.                                        */
#define _POSIX_C_SOURCE 199309L         /* nanosleep */
#define PERF_DIAGNOSIS 1
#include "perf_diagnosis.h"

#include <stdio.h>
#include <time.h>

static void wait_ms(long ms)
{
    struct timespec t = {0, 0};

    t.tv_nsec = ms * 1000000;
    (void)nanosleep(&t, NULL);
}

int main(void)
{
    perf_report_opts o = PERF_ZERO;
    volatile double  sum = 0;
    int              step, i;

    for (step = 0; step < 40; step++) {
        PERF_SCOPE("step");
        {
            PERF_WAIT("read");
            wait_ms(4);
        }
        {
            PERF_SCOPE("work");
            for (i = 0; i < 100000; i++)
                sum = sum + 0.5 * i;
        }
    }
    o.view = PERF_VIEW_DIAGNOSIS;
    return perf_report_to(stdout, &o) != PERF_OK;
}
