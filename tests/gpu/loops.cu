/* Bench and A/B loop of a kernel, launched as a user does.  Without a device both run zero times and
 * say why; a .cu file then still has its host timers.                                            */
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#include "perf_gpu_bench.h"

#if defined(__HIPCC__)
typedef hipStream_t stream_type;
#else
typedef cudaStream_t stream_type;
#endif

__global__ void scale(float *x, float by)
{
    x[threadIdx.x] *= by;
}

static perf_gpu_result bench(stream_type stream, float *x)
{
    perf_gpu_bench b = perf_gpu_bench_begin("scale", stream, NULL);

    while (perf_gpu_bench_next(&b))
        scale<<<1, 32, 0, stream>>>(x, 2.0f);
    return perf_gpu_bench_end(&b);
}

static perf_gpu_ab_result compare(stream_type stream, float *x)
{
    perf_gpu_ab ab = perf_gpu_ab_begin("scale, twice", stream, NULL);
    int         v;

    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        scale<<<v ? 2 : 1, 32, 0, stream>>>(x, 2.0f);
    return perf_gpu_ab_end(&ab);
}

int main()
{
    const bool               off = PERF_DISABLE;
    const perf_gpu_result    r = bench(NULL, NULL);
    const perf_gpu_ab_result a = compare(NULL, NULL);

    {
        PERF_SCOPE("host");
    }
    if (!perf_gpu_table())
        return off ? r.status != PERF_EDISABLED
                   : r.status != PERF_ENOGPU || a.status != PERF_ENOGPU || perf_report() != PERF_OK;
    return 0;
}
