/* Three ways to do one thing: which is the fastest, and how do we go back once it has been shipped?
 *
 *     cc -O2 -I. examples/c/variants.c -o variants && ./variants
 *     PERF_VARIANT="count ones=A" ./variants        (goes back, without a new build)
 *
 * You will see which variant the program uses and a race of all three, each measured in turns whose
 * order is drawn anew in every round: a row for each variant, then its verdict against the first one
 * (asked: at least 1.5 times as fast?) and how far it is behind the best.  With PERF_VARIANT only the
 * variant that is asked for runs, and there is no verdict.
 * Exit status: 0 when the table is at least 1.5 times as fast, 1 when it is not, 2 when that stays
 * open.                                                                                            */
#include "perf.h"
#include <stdio.h>

#define WORDS 256

static uint32_t      words[WORDS];
static unsigned char ones_of[256];

static unsigned by_bit(uint32_t x)
{
    unsigned n = 0;

    for (; x; x >>= 1)
        n += x & 1;
    return n;
}

static unsigned by_lowest(uint32_t x)
{
    unsigned n = 0;

    for (; x; x &= x - 1)
        n++;
    return n;
}

static unsigned by_table(uint32_t x)
{
    return ones_of[x & 255] + ones_of[x >> 8 & 255] + ones_of[x >> 16 & 255] + ones_of[x >> 24];
}

static unsigned count(int variant)
{
    unsigned n = 0;
    int      i;

    for (i = 0; i < WORDS; i++)
        if (variant == 0)
            n += by_bit(words[i]);
        else if (variant == 1)
            n += by_lowest(words[i]);
        else
            n += by_table(words[i]);
    return n;
}

int main(void)
{
    static const char *const name[] = {"bit by bit", "lowest one", "table"};
    int                      used = perf_variant("count ones", 2);  /* 2: what we ship            */
    uint32_t                 x = 1;
    perf_ab_opts             o = PERF_ZERO;
    perf_race                race;
    perf_race_result         r;
    perf_verdict             table;
    int                      v;

    for (v = 1; v < 256; v++)
        ones_of[v] = (unsigned char)(ones_of[v / 2] + v % 2);
    for (v = 0; v < WORDS; v++)
        words[v] = x = x * 1664525u + 1013904223u;
    if (used < 0 || used > 2)                       /* "count ones=Z" is not one of ours           */
        used = 0;
    printf("%u ones, counted by variant %d, %s\n", count(used), used, name[used]);

    o.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.5, PERF_METRIC_PAIR);
    race = perf_race_begin("count ones", 3, &o);
    for (v = 0; v < 3; v++)
        perf_race_name(&race, v, name[v]);
    while ((v = perf_race_next(&race)) >= 0)
        perf_keep(count(v));
    r = perf_race_end(&race);
    fflush(stdout);                                 /* the report goes to stderr                  */
    perf_report();
    if (r.forced || r.status != PERF_OK)
        return r.status != PERF_OK;
    table = r.entry[2].verdict;
    printf("%s\n", perf_verdict_text(&table));
    if (table.decision == PERF_INCONCLUSIVE)
        return 2;
    return table.decision == PERF_ACCEPT ? 0 : 1;
}
