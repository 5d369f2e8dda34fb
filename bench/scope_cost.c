/* What a scope costs, as a ratio to two bare readings of the counter in the same process.
 *
 *     cc -O2 -I. bench/scope_cost.c -o scope_cost && ./scope_cost [json]
 *
 * The first line names the processor (Linux): ratios of an AMD and an Intel one differ.
 * Each line: the fastest of many runs of 2,000 scopes, in ticks a scope, and its ratio to the pair.
 * Variants take turns within each round, so that a change of clock speed meets all of them.        */
#include "perf.h"
#include <stdio.h>
#include <string.h>

#define SCOPES 2000
#define ROUNDS 3000

static volatile uint64_t sink;

static void empty(void)
{
    int i;
    for (i = 0; i < SCOPES; i++)
        perf_clobber();
}

static void pair(void)
{
    int      i;
    uint64_t sum = 0;
    for (i = 0; i < SCOPES; i++) {
        uint64_t t = perf_ticks();
        perf_clobber();
        sum += perf_ticks() - t;
    }
    sink = sum;
}

static void work_pair(void)
{
    int      i, k;
    uint64_t sum = 0, x = 3;
    for (i = 0; i < SCOPES; i++) {
        uint64_t t = perf_ticks();
        for (k = 0; k < 50; k++)
            x = x * x + 1;
        perf_keep(x);
        sum += perf_ticks() - t;
    }
    sink = sum + x;
}

static void scope(void)
{
    int i;
    for (i = 0; i < SCOPES; i++) {
        PERF_SCOPE("scope");
        perf_clobber();
    }
}

static void work_scope(void)
{
    int      i, k;
    uint64_t x = 3;
    for (i = 0; i < SCOPES; i++) {
        PERF_SCOPE("work");
        for (k = 0; k < 50; k++)
            x = x * x + 1;
        perf_keep(x);
    }
    sink = x;
}

static void nested(void)
{
    int i;
    for (i = 0; i < SCOPES; i++) {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("inner");
            perf_clobber();
        }
    }
}

static void lap(void)
{
    int      i;
    perf_lap l = perf_lap_begin();
    for (i = 0; i < SCOPES / 2; i++) {
        perf_clobber();
        PERF_LAP(&l, "lap a");
        perf_clobber();
        PERF_LAP(&l, "lap b");
    }
}

static void by_name(void)
{
    int i;
    for (i = 0; i < SCOPES; i++) {
        perf_scope s = perf_scope_begin("by name");
        perf_clobber();
        perf_scope_end(&s);
    }
}

static void count(void)
{
    int i;
    for (i = 0; i < SCOPES; i++)
        PERF_COUNT("count", 1.0);
}

static void off(void)
{
    perf_enable(0);
    scope();
    perf_enable(1);
}

static void no_trace(void)
{
    perf_trace_enable(0);
    scope();
    perf_trace_enable(1);
}

static uint64_t ticks_of(void (*f)(void))
{
    uint64_t t = perf_ticks();
    f();
    return perf_ticks() - t;
}

static const struct {
    const char *name;
    void      (*run)(void);
} variant[] = {{"empty loop", empty},
               {"two bare readings", pair},
               {"57 ns of work between", work_pair},
               {"PERF_SCOPE", scope},
               {"PERF_SCOPE, trace off", no_trace},
               {"PERF_SCOPE around 57 ns", work_scope},
               {"two nested PERF_SCOPEs", nested},
               {"PERF_LAP", lap},
               {"perf_scope_begin/end", by_name},
               {"PERF_COUNT", count},
               {"switched off", off}};
#define VARIANTS (sizeof variant / sizeof variant[0])

/* Prints which processor this is, as the system calls it; nothing where it does not say. */
static void name_processor(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char  line[256];

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10)) {
            printf("%s", line);
            break;
        }
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    uint64_t best[VARIANTS];
    size_t   v;
    int      round, json = argc > 1 && argv[1][0] == 'j';

    for (v = 0; v < VARIANTS; v++)
        best[v] = ~UINT64_C(0);
    for (round = 0; round < ROUNDS; round++)
        for (v = 0; v < VARIANTS; v++) {
            uint64_t t = ticks_of(variant[v].run);
            if (t < best[v])
                best[v] = t;
        }
    if (!json)
        name_processor();
    printf(json ? "{" : "%-26s %8s %8s %8s\n", "variant", "ticks", "ns", "pairs");
    for (v = 0; v < VARIANTS; v++) {
        double ticks = (double)best[v] / SCOPES;
        double ns = ticks * perf_ticks_to_ns(1000000) * 1e-6;
        double pairs = (double)best[v] / (double)best[1];
        if (json)
            printf("%s\n\"%s\": {\"ticks\": %.2f, \"ns\": %.2f, \"pairs\": %.3f}", v ? "," : "",
                   variant[v].name, ticks, ns, pairs);
        else
            printf("%-26s %8.2f %8.2f %8.3f\n", variant[v].name, ticks, ns, pairs);
    }
    if (json)
        printf("}\n");
    return 0;
}
