/* What a file compiled by hipcc reaches of HIP, on the library that fake_libamdhip64.c plays. */
#include <dlfcn.h>
#include <stdio.h>
#include <hip/hip_runtime.h>
#include "perf_gpu_bench.h"

/* What <<<...>>> without a stream means in this file. */
#if defined(PER_THREAD)
#define DEFAULT_STREAM ((void *)hipStreamPerThread)
#else
#define DEFAULT_STREAM nullptr
#endif

int main()
{
    const perf_gpu_backend *t = perf_gpu_table();

    if (!t || strcmp(t->name, "HIP") != 0) {
        printf("no table of HIP\n");
        return 1;
    }
    if (!t->stream_sync || !t->device_attribute || !t->stream_capturing || !t->capture_mode || !t->mem_info || !t->mem_alloc || !t->fill) {
        printf("a function is missing\n");
        return 1;
    }
    if (hipSetDevice(0) != hipSuccess || t->stream_sync(NULL) != 0)
        return 1;
    void *(*recorded)() = nullptr;
    *(void **)&recorded = dlsym(RTLD_DEFAULT, "fake_recorded");
    {
        PERF_GPU_SCOPE("k", NULL);
    }
    if (!recorded || recorded() != DEFAULT_STREAM) {
        printf("stream NULL was %p\n", recorded ? recorded() : nullptr);
        return 1;
    }
    return 0;
}
