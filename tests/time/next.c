/* Loops that next.py finds again in the assembly: one of each kind around a marked body, and, named
 * vector_*, a loop that -O3 makes vectors of, in a function that calls ours once.                  */
#include "perf.h"

#define BODY __asm__ __volatile__("#BODY")
#define BODY_OF(v) __asm__ __volatile__("#BODY" : : "r"(v))

#if defined(__cplusplus)
extern "C" {
#endif
void loop_bench(void);
void loop_ab(void);
void loop_race(void);
void vector_alone(void), vector_bench(void), vector_paused(void), vector_ab(void), vector_race(void);
void vector_scope(void), vector_report(void), vector_enable(void), vector_reset(void);
void vector_name(void), vector_schedule(void), vector_variant(void), vector_lap(void);
#if defined(__cplusplus)
}
#endif

static float a[4096], c[4096];
#define SUM                                                                                       \
    do {                                                                                          \
        int i_;                                                                                   \
        for (i_ = 0; i_ < 4096; i_++)                                                             \
            a[i_] += 2.0f * c[i_];                                                                \
        perf_clobber();                                                                           \
    } while (0)
#define OFTEN(before, with, after)                                                                \
    {                                                                                             \
        int k;                                                                                    \
        before;                                                                                   \
        for (k = 0; k < 1000; k++) {                                                              \
            with;                                                                                 \
            SUM;                                                                                  \
        }                                                                                         \
        after;                                                                                    \
    }
#define NOTHING ((void)0)

void loop_bench(void)
{
    perf_bench b = perf_bench_begin("bench", NULL);

    while (perf_bench_next(&b))
        BODY;
    (void)perf_bench_end(&b);
}

void loop_ab(void)
{
    perf_ab ab = perf_ab_begin("A/B", NULL);
    int     v;

    while ((v = perf_ab_next(&ab)) >= 0)
        BODY_OF(v);
    (void)perf_ab_end(&ab);
}

void loop_race(void)
{
    perf_race race = perf_race_begin("race", 3, NULL);
    int       v;

    while ((v = perf_race_next(&race)) >= 0)
        BODY_OF(v);
    (void)perf_race_end(&race);
}

void vector_alone(void)    OFTEN(NOTHING, NOTHING, NOTHING)
void vector_scope(void)    OFTEN(PERF_SCOPE("all"), PERF_SCOPE("each"), NOTHING)
void vector_report(void)   OFTEN(NOTHING, NOTHING, (void)perf_report(); (void)perf_trace_save("t"))
void vector_enable(void)   OFTEN(perf_enable(1); perf_trace_enable(1), NOTHING, NOTHING)
void vector_reset(void)    OFTEN(perf_reset(), NOTHING, NOTHING)
void vector_name(void)     OFTEN(perf_thread_name("t"), NOTHING, NOTHING)
void vector_lap(void)      OFTEN(perf_lap l = perf_lap_begin(), PERF_LAP(&l, "lap"), NOTHING)
void vector_variant(void)  OFTEN(NOTHING, NOTHING, perf_keep(perf_variant("v", 0)))
void vector_schedule(void) OFTEN(perf_schedule s = perf_schedule_begin(NULL),
                                 (void)perf_schedule_step(&s), (void)perf_schedule_end(&s))

void vector_bench(void)
{
    perf_bench b = perf_bench_begin("bench", NULL);

    while (perf_bench_next(&b))
        SUM;
    (void)perf_bench_end(&b);
}

void vector_paused(void)
{
    perf_bench b = perf_bench_begin("bench", NULL);

    while (perf_bench_next(&b)) {
        perf_bench_pause(&b);
        perf_bench_resume(&b);
        SUM;
    }
    (void)perf_bench_end(&b);
}

void vector_ab(void)
{
    perf_ab ab = perf_ab_begin("A/B", NULL);

    while (perf_ab_next(&ab) >= 0)
        SUM;
    (void)perf_ab_end(&ab);
}

void vector_race(void)
{
    perf_race race = perf_race_begin("race", 3, NULL);

    while (perf_race_next(&race) >= 0)
        SUM;
    (void)perf_race_end(&race);
}
