/* All that a .cu file needs: one include, no other.  A .hip file has HIP's own before it. */
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#include "perf.h"

#if defined(__HIPCC__)
typedef hipStream_t stream_type;
#else
typedef cudaStream_t stream_type;
#endif

__global__ void add_one(int *p)
{
    if (p)                                      /* none where it is only compiled */
        *p += 1;
}

void step(stream_type stream, int *p)
{
    PERF_GPU_SCOPE("step", stream);
    PERF_GPU_COPY_IN("in", stream);
    add_one<<<1, 1, 0, stream>>>(p);
    perf_gpu_scope s = perf_gpu_scope_begin("by name", stream);
    add_one<<<1, 1, 0, stream>>>(p);
    perf_gpu_scope_end(&s);
}

int main()
{
    step(0, 0);
    (void)perf_gpu_memory_mark("end");
    (void)perf_gpu_collect_sync();
    return perf_report() != (PERF_DISABLE ? PERF_EDISABLED : PERF_OK);
}
