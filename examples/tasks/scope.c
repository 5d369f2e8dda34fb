/* Where does the time of a program go? */
#include "perf.h"
#include <stdio.h>

static double half(double x)
{
    PERF_SCOPE("half");                         /* from here to the end of the block          */
    return x / 2;
}

static double work(double x)
{
    PERF_SCOPE("work");
    for (int i = 0; i < 30000; i++)
        x = half(x) + i;
    return x;
}

int main(void)
{
    printf("%g\n", work(1e9));
    perf_report();
    return 0;
}
