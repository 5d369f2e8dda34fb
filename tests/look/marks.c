/* A program with marks, and nothing that reads what they say. */
#include "perf_scope.h"

#include <stdio.h>

int main(void)
{
    int i;

    for (i = 0; i < 100; i++) {
        PERF_SCOPE("mark");
    }
    puts("begin\nend");
    (void)fflush(stdout);
    return getchar() == 1;
}
