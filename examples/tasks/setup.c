/* What if each run needs new input?  Pause the clock while it is made. */
#define PERF_MAIN 1
#include "perf.h"
#include <string.h>

PERF_BENCH(reverse)
{
    static char text[100000];

    while (perf_bench_next(&b)) {
        perf_bench_pause(&b);
        memset(text, 'x', sizeof text);         /* not timed                                  */
        perf_bench_resume(&b);
        for (size_t i = 0; i < sizeof text / 2; i++)
            text[i] = text[sizeof text - 1 - i];
        perf_keep(text);
    }
}
