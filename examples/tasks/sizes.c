/* How does the time grow with the size? */
#define PERF_MAIN 1
#include "perf.h"
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

PERF_BENCH_N(sort, 64, 16384)                   /* n is 64, 128, ... 16384                    */
{
    int *x = (int *)malloc(n * sizeof *x);

    while (x && perf_bench_next(&b)) {
        for (size_t i = 0; i < n; i++)
            x[i] = (int)(i * 7919 % n);
        qsort(x, n, sizeof *x, compare);
        perf_clobber();
    }
    free(x);
}
