/* flame.c FILE: writes a flame page of known scopes; with a second argument it waits for a line first. */
#include <stdint.h>
#include <stdio.h>

static uint64_t now = 1000;

static uint64_t own_clock(void)
{
    return now;
}
#define PERF_CLOCK_FN own_clock
#include "perf.h"
#include "perf_export.h"

static void spend(const char *name, uint64_t ns)
{
    perf_scope scope = perf_scope_begin(name);

    now += ns;
    perf_scope_end(&scope);
}

int main(int argc, char **argv)
{
    perf_scope outer;
    int        i;

    if (argc < 2)
        return 2;
    outer = perf_scope_begin("program <b>&\"it\"</b> with a name that is longer than a phone is wide");
    for (i = 0; i < 10; i++) {
        perf_scope turn = perf_scope_begin("turn");
        spend("load", 1000);
        spend("decode", 3000);
        spend("train", 6000);
        perf_scope_end(&turn);
    }
    perf_scope_end(&outer);
    if (perf_export_save(argv[1], PERF_EXPORT_FLAME, NULL) != PERF_OK)
        return 1;
    if (argc > 2) {
        puts("ready");
        fflush(stdout);
        (void)getchar();
    }
    return 0;
}
