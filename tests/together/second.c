/* The hand-written pair: what MSVC C and Cython use. */
#include "perf.h"

#include "work.h"

void work_second(void)
{
    int i;

    for (i = 0; i < CALLS_SECOND; i++) {
        perf_scope s = perf_scope_begin("second.c scope");
        perf_scope_end(&s);
    }
}
