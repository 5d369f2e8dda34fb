/* A stand-in for NVIDIA's driver: the simulated device of sim.h behind the driver's own names, built
 * as libcuda.so.1.  Tests that load it steer it through the fake_ functions at the end.           */
#include "sim.h"

#define API __attribute__((visibility("default")))

static int fake_inited;

API int cuInit(unsigned flags)
{
    fake_inited = 1;
    return flags ? 1 : 0;
}

API int cuCtxGetCurrent(void **ctx)
{
    if (!fake_inited) {
        sim.calls[SIM_ctx_get]++;
        return 3;
    }
    return sim_ctx_get(ctx);
}

#define FAKE(cuda, sim, parameters, arguments) API int cuda parameters { return sim_##sim arguments; }
FAKE(cuEventCreate, event_create, (void **e, unsigned f), (e, f))
FAKE(cuEventDestroy_v2, event_destroy, (void *e), (e))
FAKE(cuEventRecord, event_record, (void *e, void *s), (e, s))
FAKE(cuEventQuery, event_query, (void *e), (e))
FAKE(cuEventSynchronize, event_sync, (void *e), (e))
FAKE(cuEventElapsedTime_v2, event_elapsed, (float *ms, void *a, void *b), (ms, a, b))
FAKE(cuStreamQuery, stream_query, (void *s), (s))
FAKE(cuStreamSynchronize, stream_sync, (void *s), (s))
FAKE(cuCtxSetCurrent, ctx_set, (void *c), (c))
FAKE(cuCtxGetDevice, ctx_device, (int *d), (d))
FAKE(cuStreamGetCtx, stream_ctx, (void *s, void **c), (s, c))
FAKE(cuStreamIsCapturing, stream_capturing, (void *s, int *st), (s, st))
FAKE(cuThreadExchangeStreamCaptureMode, capture_mode, (int *m), (m))
FAKE(cuMemGetInfo_v2, mem_info, (size_t *f, size_t *t), (f, t))
FAKE(cuCtxGetId, ctx_id, (void *c, unsigned long long *id), (c, id))
FAKE(cuGetErrorName, error_name, (int c, const char **t), (c, t))
FAKE(cuGetErrorString, error_text, (int c, const char **t), (c, t))

API int cuDeviceGetName(char *text, int length, int device)
{
    (void)snprintf(text, (size_t)length, "NVIDIA Imitation");
    return device > 1;
}

/* Device 0 only. */
API int cuDeviceGetPCIBusId(char *text, int length, int device)
{
    (void)snprintf(text, (size_t)length, "%s", device == 1 ? "0000:5e:00.0" : "0000:3b:00.0");
    return device > 1;
}

API void fake_start(void) { sim_reset(); }
API void fake_start_real(void) { sim_reset(); sim.real = 1; sim_pass(0); }
API void fake_device(int device) { sim_device(device); }
API void *fake_stream(int device) { return sim_stream_on(device); }
API int fake_work(void *stream, unsigned long ns) { return sim_work(stream, ns); }
API void fake_host(unsigned long ns) { sim_host(ns); }
API void fake_down(void) { sim.down = 1; }
API struct sim_state *fake_sim(void) { return &sim; }

/* The driver shuts down in a handler of its own, as NVIDIA's does; what is called after that is
 * told at the very end. */
API void fake_down_at_exit(void) { (void)atexit(fake_down); }

static __attribute__((destructor)) void fake_tell(void)
{
    fprintf(stderr, "fake driver: %s, %lu calls after it shut down\n", sim.down ? "down" : "up",
            (unsigned long)sim.calls_down);
}
