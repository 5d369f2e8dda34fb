#include "perf.h"

#include "work.h"

__global__ void unused_kernel(int *p)       // makes this a real device object; never launched
{
    *p = 1;
}

void work_cu(void)
{
    for (int i = 0; i < CALLS_CU; i++) {
        PERF_SCOPE("cu.cu scope");
    }
}
