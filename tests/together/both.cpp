// perf_scope.h by way of one header, perf.h by way of another: the second adds what the first lacks.
#include "perf_scope.h"

#include "work.h"

static void mark()
{
    perf::scope s("both.cpp scope");
}

#include "perf.h"

void work_both(void)
{
    for (int i = 0; i < CALLS_BOTH; i++)
        mark();
    if (!perf_report_text(nullptr, 0, nullptr))
        mark();
}
