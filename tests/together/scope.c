/* Only marks scopes: perf_scope.h finds the registry that files with perf.h report from. */
#include "perf_scope.h"

#include "work.h"

void work_scope(void)
{
    int i;

    for (i = 0; i < CALLS_SCOPE; i++) {
        PERF_SCOPE("scope.c scope");
    }
}
