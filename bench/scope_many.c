/* What a scope costs where many names and many callers take turns, as a ratio to two bare readings of
 * the counter at the same places.
 *
 *     cc -O2 -I. bench/scope_many.c -o scope_many && ./scope_many
 *
 * Each figure is the fastest of many rounds; scopes and pairs take turns.  A call site here is an
 * object in an array, which is what PERF_SCOPE keeps as a static variable.                       */
#include "perf.h"
#include <stdio.h>

#define SITES  5000
#define CALLS  20000
#define ROUNDS 200

static perf_site_   site[SITES + 100];
static uint64_t     sum[SITES + 100];
static unsigned     order[CALLS];

static PERF_ATTR_((__noinline__)) void scope(unsigned i)
{
    perf_scope s, *open = PERF_ON_() ? perf_begin_(&s, &site[i]) : PERF_CAST_(perf_scope *, NULL);

    perf_clobber();
    if (open)
        perf_end_(open);
}

static PERF_ATTR_((__noinline__)) void pair(unsigned i)
{
    uint64_t t = perf_ticks();

    perf_clobber();
    sum[i] += perf_ticks() - t;
}

static PERF_ATTR_((__noinline__)) void scope_under(unsigned caller, unsigned i)
{
    perf_scope s, *open = PERF_ON_() ? perf_begin_(&s, &site[caller]) : PERF_CAST_(perf_scope *, NULL);

    scope(i);
    if (open)
        perf_end_(open);
}

static PERF_ATTR_((__noinline__)) void pair_under(unsigned caller, unsigned i)
{
    uint64_t t = perf_ticks();

    pair(i);
    sum[caller] += perf_ticks() - t;
}

enum { ONE, THIRTY, MANY, NESTED, TURNS, CALLERS, KINDS };

static void run(int kind, int bare, unsigned i)
{
    void (*f)(unsigned) = bare ? pair : scope;
    void (*g)(unsigned, unsigned) = bare ? pair_under : scope_under;

    switch (kind) {
    case ONE: f(7); break;
    case THIRTY: f(order[i] % 30); break;
    case MANY: f(order[i]); break;
    case NESTED: g(SITES, SITES + 1); break;
    case TURNS: g(SITES + 2 + (i & 1), SITES + 4); break;
    default: g(SITES + 5 + (order[i] & 63), SITES + 70);
    }
}

int main(void)
{
    static const char *const what[] = {"one hot site", "30 sites at random", "5,000 sites at random",
                                       "two nested (over two pairs)", "two callers in turn",
                                       "64 callers at random"};
    static char name[SITES + 100][8];
    double      best[KINDS][2];
    unsigned    i, x = 1, round;
    int         kind, bare;

    for (i = 0; i < SITES + 100; i++) {
        (void)snprintf(name[i], sizeof name[i], "s%u", i);
        site[i].name = name[i];
    }
    for (i = 0; i < CALLS; i++) {
        x = x * 1664525u + 1013904223u;
        order[i] = (x >> 8) % SITES;
    }
    for (kind = 0; kind < KINDS; kind++)
        best[kind][0] = best[kind][1] = 1e300;
    for (round = 0; round < ROUNDS; round++)
        for (kind = 0; kind < KINDS; kind++)
            for (bare = 0; bare < 2; bare++) {
                uint64_t t = perf_ticks();
                double   d;
                for (i = 0; i < CALLS; i++)
                    run(kind, bare, i);
                d = (double)(perf_ticks() - t) / CALLS;
                if (d < best[kind][bare])
                    best[kind][bare] = d;
            }
    for (kind = 0; kind < KINDS; kind++)
        printf("%-28s %7.2f ticks, %.3f pairs\n", what[kind], best[kind][0],
               best[kind][0] / best[kind][1]);
    return perf_error() != PERF_OK;
}
