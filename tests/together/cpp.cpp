#include "perf.h"

#include "work.h"

void work_cpp(void)
{
    for (int i = 0; i < CALLS_CPP; i++) {
        PERF_SCOPE("cpp.cpp scope");
    }
}
