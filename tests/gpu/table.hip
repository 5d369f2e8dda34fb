/* What a file compiled by hipcc reaches of HIP, on the library that fake_libamdhip64.c plays. */
#include <stdio.h>
#include <hip/hip_runtime.h>
#include "perf_gpu_bench.h"

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
    return hipSetDevice(0) != hipSuccess || t->stream_sync(NULL) != 0;
}
