/* What pauses cost is taken off, by both clocks, and what stays open is said: on clocks that this file makes
 * up, whose readings cost what it says.
 *     pauses [SEED]                                 (default 1; printed)                            */
#define PERF_CLOCK_FN      wall
#define PERF_TEST_CPU_FN   processor   /* of the thread (1), of the process (2)                      */
#include <stdint.h>
#include <stdlib.h>
static uint64_t wall(void);
static uint64_t processor(int whose);
#include "perf.h"
#include "check.h"
#include "numbers.h"

static uint64_t now_ns = UINT64_C(1) << 40, dice;
static uint64_t reading = 20;           /* ns of a reading of either clock                           */
static uint64_t varies;                 /* and so many more at most, by chance                       */
static uint64_t clocks;                 /* 0: this machine has no time of processors                 */

static void read_a_clock(void)
{
    now_ns += reading;
    if (varies)
        now_ns += check_random(&dice) % (varies + 1);
}

static uint64_t wall(void)
{
    read_a_clock();
    return now_ns;
}

static uint64_t processor(int whose)
{
    (void)whose;
    if (!clocks)
        return 0;
    read_a_clock();
    return now_ns;
}

static const double body_ns = 500.0;

/* A body of 500 ns in two halves, with so many pauses between them. */
static perf_result paused(int pauses)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      b;
    int             i;

    o.max_seconds = clocks ? 0.02 : 0.005;
    if (clocks)
        o.slice_ns = 500000.0;          /* long enough for the time of processors                    */
    b = perf_bench_begin("paused", &o);
    while (perf_bench_next(&b)) {
        now_ns += 250;
        for (i = 0; i < pauses; i++) {
            perf_bench_pause(&b);
            now_ns += 3000;
            perf_bench_resume(&b);
        }
        now_ns += 250;
    }
    return perf_bench_end(&b);
}

static int holds(const perf_summary *s, double ns)
{
    return s->p50_low <= ns && ns <= s->p50_high;
}

/* Readings that always cost the same leave nothing open. */
static void cost(void)
{
    static const uint64_t of[] = {0, 20, 400};
    int                   pauses;
    size_t                i;
    perf_result           r;

    for (clocks = 0; clocks < 2; clocks++)
        for (i = 0; i < sizeof of / sizeof *of; i++)
            for (pauses = 0; pauses < 3; pauses++) {
                reading = of[i] + (clocks && !of[i]);
                r = paused(pauses);
                CHECK(r.status == PERF_OK && r.time.p50 > body_ns - 2.0 && r.time.p50 < body_ns + 2.0,
                      "%d pauses with readings of %d ns: %g ns, not %g", pauses, (int)reading, r.time.p50, body_ns);
                CHECK(!(r.warnings & PERF_WARN_PAUSES), "and nothing is open");
                CHECK(!clocks || (r.cpu.p50 > body_ns - 2.0 && r.cpu.p50 < body_ns + 2.0),
                      "%d pauses with readings of %d ns: %g ns of a processor", pauses, (int)reading, r.cpu.p50);
            }
    reading = 20;
    clocks = 0;
}

/* Readings that cost more or less leave some ns open: the intervals hold the truth, nearly all, and a note
 * says so where that is over 1 %.                                                                  */
static void doubt(void)
{
    static const uint64_t width[] = {20, 60, 200};
    enum { LOOPS = 40 };
    size_t                i;
    int                   k, held, noted;

    for (i = 0; i < sizeof width / sizeof *width; i++) {
        varies = width[i];
        for (k = held = noted = 0; k < LOOPS; k++) {
            const perf_result r = paused(1 + k % 3);
            const int         note = (r.warnings & PERF_WARN_PAUSES) != 0;

            held += holds(&r.time, body_ns);
            noted += note;
            CHECK(!note || r.time.p50_high - r.time.p50_low > 0.02 * body_ns, "a note, and the interval is [%g, %g]",
                  r.time.p50_low, r.time.p50_high);
        }
        CHECK(held >= LOOPS * 9 / 10, "readings of 20 to %d ns: %d of %d intervals hold %g ns", (int)(20 + varies), held,
              LOOPS, body_ns);
        CHECK(varies < 200 || noted > LOOPS / 2, "%d of %d have a note", noted, LOOPS);
        printf("readings of 20 to %d ns: %d of %d hold the truth, %d have a note\n", (int)(20 + varies), held, LOOPS,
               noted);
    }
    varies = 0;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

    printf("seed %llu\n", (unsigned long long)seed);
    dice = seed;
    cost();
    doubt();
    return check_done();
}
