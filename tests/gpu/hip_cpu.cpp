/* HIP that runs on the host (HIP-CPU): a table of its functions for perf_gpu_use(), then scopes, memory and a bench. */
#include <hip/hip_runtime.h>
#include "perf_gpu_bench.h"

#include "check.h"

/* ---- the table: there is no library to look into ---- */

/* HIP-CPU's functions differ from the table's only in pointer types that are all one machine word. */
static void put(void *field, const void *function)
{
    memcpy(field, &function, sizeof function);
}
#define SET(field, function) put(&t.field, reinterpret_cast<const void *>(function))

/* Contexts are devices: number + 1 is the handle. */
static int ctx_get(void **ctx)
{
    int device = 0, code = hipGetDevice(&device);

    *ctx = code ? NULL : reinterpret_cast<void *>(static_cast<uintptr_t>(device) + 1);
    return code;
}

static int ctx_set(void *ctx)
{
    return hipSetDevice(static_cast<int>(reinterpret_cast<uintptr_t>(ctx) - 1));
}

/* It captures nothing, cannot be asked whether an event is ready, and waits for the two whose distance is wanted. */
static int query(void *event)
{
    const auto &done = is_done(*static_cast<hipEvent_t>(event));

    return done.valid() && done.wait_for(std::chrono::seconds(0)) != std::future_status::ready ? PERF_GPU_NOT_READY : 0;
}

static int elapsed(float *ms, void *start, void *stop)
{
    if (query(start) || query(stop))
        return PERF_GPU_NOT_READY;
    return hipEventElapsedTime(ms, static_cast<hipEvent_t>(start), static_cast<hipEvent_t>(stop));
}

static const perf_gpu_backend *table(void)
{
    static perf_gpu_backend t = {};

    t.size = sizeof t;
    t.name = "HIP on the host";
    t.ctx_get = ctx_get;
    t.ctx_set = ctx_set;
    t.event_query = query;
    t.event_elapsed = elapsed;
    SET(event_create, hipEventCreateWithFlags);
    SET(event_destroy, hipEventDestroy);
    SET(event_record, static_cast<hipError_t (*)(hipEvent_t, hipStream_t)>(hipEventRecord));
    SET(event_sync, hipEventSynchronize);
    SET(stream_query, hipStreamQuery);
    SET(stream_sync, hipStreamSynchronize);
    SET(ctx_device, hipGetDevice);
    SET(mem_info, hipMemGetInfo);
    SET(mem_alloc, static_cast<hipError_t (*)(void **, size_t)>(hipMalloc));
    SET(mem_free, hipFree);
    SET(fill, hipMemsetD8Async);
    return &t;
}

/* ---- what is asked of it ---- */

__global__ void work(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}

int main(void)
{
    const uint32_t       blocks = 16, threads = 64;
    void                *x = NULL;
    hipStream_t          stream;
    perf_gpu_bench_opts  o = PERF_ZERO;
    int                  i;

    CHECK(perf_gpu_use(table()) == PERF_OK, "table");
    CHECK(hipStreamCreate(&stream) == hipSuccess && hipMalloc(&x, 4096) == hipSuccess, "set-up");
    memset(x, 0, 4096);
    for (i = 0; i < 20; i++) {
        PERF_GPU_SCOPE("work", stream);
        hipLaunchKernelGGL(work, dim3(blocks), dim3(threads), 0, stream,
                           static_cast<float *>(x), 1000);
    }
    CHECK(perf_gpu_status() == PERF_OK && !strcmp(perf_gpu_table()->name, "HIP on the host"), "%d", perf_gpu_status());
    CHECK(perf_gpu_collect() == PERF_OK && perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("work").scopes == 20 && perf_gpu_stats_of("work").device_ns > 0, "%g", perf_gpu_stats_of("work").device_ns);
    CHECK(perf_gpu_memory_mark("mark") == PERF_OK, "%s", perf_gpu_error_text());

    o.samples = 5;
    perf_gpu_bench b = perf_gpu_bench_begin("work", stream, &o);
    while (perf_gpu_bench_next(&b))
        hipLaunchKernelGGL(work, dim3(blocks), dim3(threads), 0, stream,
                           static_cast<float *>(x), 1000);
    perf_gpu_result r = perf_gpu_bench_end(&b);
    CHECK((r.status == PERF_OK || r.status == PERF_ENODATA) && r.samples == 5 && !r.code, "%s", r.text);
    return check_done();
}
