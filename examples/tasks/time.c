/* How long does a function take? */
#include "perf.h"
#include <stdlib.h>

int main(void)
{
    const char *text = "12345.678e-9";

    perf_bench b = perf_bench_begin("strtod", NULL);
    while (perf_bench_next(&b)) {
        perf_keep(text);                        /* the compiler forgets what it knows of text */
        double x = strtod(text, NULL);
        perf_keep(x);                           /* x is used, so it is computed               */
    }
    perf_bench_end(&b);
    perf_report();
    return 0;
}
