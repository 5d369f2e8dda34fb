/* A kernel in HIP that fills a histogram from every thread; compiled by hip.sh, run where a device is. */
#include <hip/hip_runtime.h>

#include "perf_stats.h"

__global__ void record(perf_hist *h, const uint64_t *ns, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        perf_hist_add_shared(h, ns[i]);
}
