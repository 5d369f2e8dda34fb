/* The simulated driver of tests/gpu with the calls that a program of its own needs: devices, streams,
 * memory.  Context and stream are those of the simulation.                                        */
#include "../gpu/fake_libcuda.c"

API int cuDeviceGet(int *device, int number)
{
    *device = number;
    return fake_inited ? 0 : 3;
}

API int cuDevicePrimaryCtxRetain(void **ctx, int device)
{
    sim_reset();
    sim_device(device);
    return sim_ctx_get(ctx);
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

FAKE(cuStreamCreate, stream_create, (void **s, unsigned f), (s, f))
FAKE(cuStreamDestroy_v2, stream_destroy, (void *s), (s))
FAKE(cuMemAlloc_v2, mem_alloc, (uint64_t *a, size_t n), (a, n))
FAKE(cuMemFree_v2, mem_free, (uint64_t a), (a))
FAKE(cuMemHostAlloc, host_alloc, (void **p, size_t n, unsigned f), (p, n, f))
FAKE(cuMemFreeHost, host_free, (void *p), (p))
FAKE(cuMemsetD8Async, fill, (uint64_t a, unsigned char c, size_t n, void *s), (a, c, n, s))
FAKE(cuLaunchHostFunc, host_func, (void *s, void (*f)(void *), void *u), (s, f, u))
FAKE(cuCtxSynchronize, ctx_sync, (void), ())
