/* Time a GPU stream from plain C: no CUDA compiler, no CUDA header, nothing to link.
 *
 *     cc -O2 -I. examples/c/gpu_stream.c -o gpu_stream && ./gpu_stream
 *
 * A plugin, a Python module or a driver of somebody else's library gets a stream as a pointer (of
 * PyTorch: torch.cuda.current_stream().cuda_stream).  measure() below is all that it needs to know: it
 * finds NVIDIA's driver in the running system, and measures memory fills on that stream.  main() plays
 * the program that owns the stream.
 * You will see the device time of 100 fills timed by a scope, then a bench of one fill with its interval
 * and bandwidth; without a driver or a device, one line that says so.
 * Exit status: 0, also without a device; 1 when a measurement fails.                              */
#include "perf_gpu_bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)64 << 20)

/* Knows nothing but the pointer. */
static int measure(void *stream)
{
    const perf_gpu_backend *gpu = perf_gpu_table();
    perf_gpu_bench_opts     o = PERF_ZERO;
    perf_gpu_bench          b;
    perf_gpu_result         r;
    perf_gpu_stats          s;
    uint64_t                memory = 0;
    int                     i, bad = 0;

    if (perf_gpu_status() != PERF_OK || !gpu || !gpu->mem_alloc || !gpu->fill) {
        printf("no GPU to be used here: %s\n", perf_status_text(perf_gpu_status()));
        return 0;
    }
    if (gpu->mem_alloc(&memory, BYTES)) {
        printf("no memory on the device\n");
        return 1;
    }
    for (i = 0; i < 100; i++) {
        PERF_GPU_SCOPE("fill", stream);         /* two event records; nothing waits               */
        bad |= gpu->fill(memory, 0, BYTES, stream);
    }
    (void)perf_gpu_collect_sync();
    s = perf_gpu_stats_of("fill");
    printf("%lu fills: %.2f us each on the device, enqueued in %.2f us each\n",
           (unsigned long)s.scopes, s.scopes ? s.device_ns / (double)s.scopes / 1e3 : 0.0,
           s.scopes ? s.submit_ns / (double)s.scopes / 1e3 : 0.0);

    o.bytes = (double)BYTES;
    b = perf_gpu_bench_begin("fill", stream, &o);
    while (perf_gpu_bench_next(&b))
        bad |= gpu->fill(memory, 0, BYTES, stream);
    r = perf_gpu_bench_end(&b);
    if (r.status == PERF_OK && r.time.count)
        printf("fill of 64 MiB: %.2f us [%.2f, %.2f], %.1f GB/s\n%s\n", r.time.p50 / 1e3,
               r.time.p50_low / 1e3, r.time.p50_high / 1e3, r.gb_per_s, r.text);
    else
        printf("fill: %s: %s\n", perf_status_text(r.status), r.text);
    if (*perf_gpu_error_text())
        printf("%s\n", perf_gpu_error_text());
    bad |= gpu->mem_free(memory);
    return bad != 0 || r.status != PERF_OK;
}

/* A function of the driver, out of its library. */
static int look_up(void *driver, const char *name, void *function, size_t size)
{
    void *p = driver ? dlsym(driver, name) : NULL;

    memcpy(function, &p, size);
    return p != NULL;
}
#define LOOK_UP(name, function) look_up(driver, name, &(function), sizeof(function))

int main(void)
{
    int   (*init)(unsigned) = NULL, (*device_get)(int *, int) = NULL;
    int   (*retain)(void **, int) = NULL, (*release)(int) = NULL, (*set)(void *) = NULL;
    int   (*create)(void **, unsigned) = NULL, (*destroy)(void *) = NULL;
    void  *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *stream = NULL;
    int   device = 0, status;

    if (!LOOK_UP("cuInit", init) || !LOOK_UP("cuDeviceGet", device_get) ||
        !LOOK_UP("cuDevicePrimaryCtxRetain", retain) ||
        !LOOK_UP("cuDevicePrimaryCtxRelease_v2", release) || !LOOK_UP("cuCtxSetCurrent", set) ||
        !LOOK_UP("cuStreamCreate", create) || !LOOK_UP("cuStreamDestroy_v2", destroy) || init(0) ||
        device_get(&device, 0) || retain(&context, device) || set(context) ||
        create(&stream, 1)) {
        printf("no device: %s\n", driver ? "the driver finds none" : "there is no libcuda.so.1");
        return 0;
    }
    status = measure(stream);
    destroy(stream);
    set(NULL);
    release(device);
    return status;
}
