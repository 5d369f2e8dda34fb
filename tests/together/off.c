/* Built with PERF_DISABLE=1 and linked with files that measure. */
#include "perf.h"

#include "work.h"

void work_off(void)
{
    int i;

    for (i = 0; i < CALLS_OFF; i++) {
        PERF_SCOPE("off.c scope");
    }
}
