/* A training loop runs for hours: record a few steps of it, and nothing of the rest.
 *
 *     cc -O2 -I. examples/c/training_schedule.c -o training_schedule && ./training_schedule
 *
 * You will see the phase of each of 20 steps: 2 are skipped (start-up), then come cycles of 3 steps
 * of waiting, 1 of warm-up and 2 that are recorded, two times.  The report below has 4 calls of
 * "forward", "backward" and "update", those of the recorded steps; trace.json holds the same 4, for
 * https://ui.perfetto.dev.  Every step still calls everything: a scope that is off costs a compare.
 * Exit status: 1 when the trace cannot be written.                                                */
#include "perf.h"
#include <stdio.h>

#define WEIGHTS 4096

static double weight[WEIGHTS], gradient[WEIGHTS];

static double forward(void)
{
    double loss = 0.0;
    int    i;

    PERF_SCOPE("forward");
    for (i = 0; i < WEIGHTS; i++)
        loss += (weight[i] - 1.0) * (weight[i] - 1.0);
    return loss / WEIGHTS;
}

static void backward(void)
{
    int i;

    PERF_SCOPE("backward");
    for (i = 0; i < WEIGHTS; i++)
        gradient[i] = 2.0 * (weight[i] - 1.0);
}

static void update(void)
{
    int i;

    PERF_SCOPE("update");
    for (i = 0; i < WEIGHTS; i++)
        weight[i] -= 0.1 * gradient[i];
}

int main(void)
{
    static const char *const phase[] = {"wait", "warm-up", "active", "done"};
    perf_schedule_opts       o = PERF_ZERO;
    perf_schedule            s;
    perf_status              trace;
    int                      step;

    o.skip = 2;
    o.wait = 3;
    o.warmup = 1;
    o.active = 2;
    o.repeat = 2;
    s = perf_schedule_begin(&o);                    /* recording is off until the first active step */
    for (step = 0; step < 20; step++) {
        perf_phase p = perf_schedule_step(&s);      /* first thing in each step                   */
        double     loss = forward();

        backward();
        update();
        printf("step %2d: %-7s loss %.6f\n", step, phase[p], loss);
    }
    printf("%d of %d steps recorded, in %d cycles\n", (int)s.recorded, (int)s.step, (int)s.cycle);
    perf_schedule_end(&s);                          /* recording is as it was before              */
    fflush(stdout);                                 /* the report goes to stderr                  */
    perf_report();
    trace = perf_trace_save("trace.json");
    return trace != PERF_OK && trace != PERF_EDISABLED;
}
