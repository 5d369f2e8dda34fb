/* Two walks over the same memory: does the A/B loop say something false?
 *
 *     cc -O2 -I. bench/shared.c -o shared && ./shared [EXPERIMENTS [MEGABYTES]]      (default 40, 8)
 *
 * Baseline and candidate follow one cycle through the memory, each from where it stopped, both from
 * the same start.  Whoever walks behind finds the lines that the other one has just brought into the
 * cache, so that equal code differs by up to a factor of ten in turns.  Truth is the number of steps.
 * "right" and "wrong" are answers, "open" is INCONCLUSIVE.  The second half of the table sets each
 * walk up anew before each slice (opts.before), at a place that is drawn at random.              */
#include "perf.h"
#include <stdio.h>
#include <stdlib.h>

static uint32_t *next_of;
static uint32_t  cells, at[2];
static uint64_t  dice = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)((dice >> 32) * below >> 32);
}

static PERF_ATTR_((__noinline__)) uint32_t walk(uint32_t from, long steps)
{
    while (steps-- > 0)
        from = next_of[from];
    return from;
}

static void somewhere(void *user, int variant)
{
    uint32_t *place = user;

    place[variant] = draw(cells);
}

/* One random cycle through all cells (Sattolo's shuffle). */
static void lay_out(void)
{
    uint32_t i, j, t;

    for (i = 0; i < cells; i++)
        next_of[i] = i;
    for (i = cells - 1; i > 0; i--) {
        j = draw(i);
        t = next_of[i];
        next_of[i] = next_of[j];
        next_of[j] = t;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        long      steps;
        perf_rule rule;
        int       accept;                       /* the right answer                               */
        char      what[48];
    } row[] = {
        {1000, {PERF_RULE_NO_REGRESSION, PERF_METRIC_PAIR, 1.0, 0}, 1, "equal, at most 1 % slower?"},
        {1000, {PERF_RULE_SPEEDUP, PERF_METRIC_PAIR, 1.3, 0}, 0, "equal, 1.3 times as fast?"},
        {1020, {PERF_RULE_NO_REGRESSION, PERF_METRIC_PAIR, 1.0, 0}, 0, "+ 2 %, at most 1 % slower?"},
        {1200, {PERF_RULE_NO_REGRESSION, PERF_METRIC_PAIR, 1.0, 0}, 0, "+20 %, at most 1 % slower?"},
        {980, {PERF_RULE_NO_REGRESSION, PERF_METRIC_PAIR, 1.0, 0}, 1, "- 2 %, at most 1 % slower?"},
        {850, {PERF_RULE_SPEEDUP, PERF_METRIC_PAIR, 1.3, 0}, 0, "-15 %, 1.3 times as fast?"},
    };
    int    runs = argc > 1 ? atoi(argv[1]) : 40, hook, v;
    double megabytes = argc > 2 ? atof(argv[2]) : 8.0;
    size_t k;

    if (runs <= 0 || !(megabytes > 0.0 && megabytes < 4096.0))
        return 2;
    cells = (uint32_t)(megabytes * 262144.0);
    next_of = malloc(sizeof *next_of * cells);
    if (!next_of)
        return 2;
    lay_out();
    printf("%d experiments a row, one cycle through %.0f MB\n", runs, megabytes);
    printf("reset  truth and question             right  wrong   open  median seconds\n");
    for (hook = 0; hook < 2; hook++) {
        for (k = 0; k < sizeof row / sizeof *row; k++) {
            int     count[3] = {0, 0, 0}, i;
            double *seconds = malloc(sizeof *seconds * (size_t)runs);

            for (i = 0; i < runs && seconds; i++) {
                perf_ab_opts   o = PERF_ZERO;
                perf_ab_result r;
                perf_ab        ab;

                o.accept.rule = row[k].rule;
                if (hook) {
                    o.before = somewhere;
                    o.user = at;
                }
                at[0] = at[1] = draw(cells);
                ab = perf_ab_begin("walk", &o);
                while ((v = perf_ab_next(&ab)) >= 0)
                    at[v] = walk(at[v], v ? row[k].steps : 1000);
                r = perf_ab_end(&ab);
                seconds[i] = r.seconds;
                count[r.verdict.decision == PERF_INCONCLUSIVE ? 2
                      : (r.verdict.decision == PERF_ACCEPT) == row[k].accept ? 0 : 1]++;
                if (getenv("VERBOSE"))
                    printf("    %d leads, then %.3f: %s\n", r.control_rounds, r.control_ratio,
                           perf_verdict_text(&r.verdict));
            }
            if (!seconds)
                return 2;
            perf_sort_values_(seconds, (size_t)runs);
            printf("%-5s  %-28s %6d %6d %6d %15.3f\n", hook ? "yes" : "no", row[k].what, count[0],
                   count[1], count[2], perf_quantile_(seconds, (size_t)runs, 0.5));
            fflush(stdout);
            free(seconds);
        }
    }
    free(next_of);
    return 0;
}
