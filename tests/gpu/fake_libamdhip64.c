/* A stand-in for AMD's library, built as libamdhip64.so.6: says that it was loaded, and is the
 * simulated device behind HIP's names.  HIP's contexts are its devices.  $FAKE_HIP says what is wrong:
 *     a number          its version, instead of 6.2
 *     none, uncounted   no devices, and none that could be counted
 *     ageless           it does not know its version
 *     lost              a thread has no device
 *     placeless         the device's place has no function behind the dot
 *     elsewhere         nobody knows of a device in that place                                   */
#include "sim.h"

#define API __attribute__((visibility("default")))

static int wrong(const char *mode)
{
    const char *now = getenv("FAKE_HIP");

    return now && !strcmp(now, mode);
}

static __attribute__((constructor)) void loaded(void)
{
    fprintf(stderr, "fake HIP: loaded\n");
}

API int hipGetDevice(int *device)
{
    sim.wiped += sim.unread != 0;
    sim.unread = 0;
    if (wrong("lost"))
        return 100;
    *device = sim_depth ? sim_current()->device : 0;
    return 0;
}

/* ROCm 6.2: every call but this one replaces what hipGetLastError() will tell. */
API int hipPeekAtLastError(void)
{
    return sim.unread;
}

API int hipRuntimeGetVersion(int *version)
{
    const char *now = getenv("FAKE_HIP");

    *version = now && atoi(now) ? atoi(now) : 60200000;
    return wrong("ageless");
}

API int hipStreamGetDevice(void *stream, int *device)
{
    void *ctx = NULL;
    int   code = sim_stream_ctx(stream, &ctx);

    if (!code)
        *device = ((sim_ctx *)ctx)->device;
    return code;
}

API int hipSetDevice(int device)
{
    if (device < 0 || device >= SIM_DEVICES)
        return 101;
    sim_device(device);
    return 0;
}

#define FAKE(hip, sim, parameters, arguments) API int hip parameters { return sim_##sim arguments; }
FAKE(hipDrvGetErrorName, error_name, (int c, const char **t), (c, t))
FAKE(hipDrvGetErrorString, error_text, (int c, const char **t), (c, t))

API int hipGetDeviceCount(int *n)
{
    return wrong("uncounted") ? 100 : wrong("none") ? (*n = 0) : sim_device_count(n);
}

/* Events for timing have to be of the kind that flushes nothing: in the words of that version. */
API int hipEventCreateWithFlags(void **event, unsigned flags)
{
    int      version = 0;
    unsigned quiet = hipRuntimeGetVersion(&version) ? 0 : version < 60000000 ? 0x40000000u : 0x20000000u;

    return flags == quiet || flags & 2 ? sim_event_create(event, flags & 3) : 1;
}
FAKE(hipEventDestroy, event_destroy, (void *e), (e))
FAKE(hipEventRecord, event_record, (void *e, void *s), (e, s))
FAKE(hipEventQuery, event_query, (void *e), (e))
FAKE(hipEventSynchronize, event_sync, (void *e), (e))
FAKE(hipEventElapsedTime, event_elapsed, (float *ms, void *a, void *b), (ms, a, b))
FAKE(hipStreamQuery, stream_query, (void *s), (s))
FAKE(hipStreamSynchronize, stream_sync, (void *s), (s))
FAKE(hipStreamIsCapturing, stream_capturing, (void *s, int *st), (s, st))
FAKE(hipThreadExchangeStreamCaptureMode, capture_mode, (int *m), (m))
FAKE(hipMemGetInfo, mem_info, (size_t *f, size_t *t), (f, t))

/* Device 0 only: the other's place is not told. */
API int hipDeviceGetPCIBusId(char *text, int length, int device)
{
    (void)snprintf(text, (size_t)length, wrong("placeless") ? "0000:3b:00" : wrong("elsewhere") ? "0000:99:00.0"
                                                                                                 : "0000:3b:00.0");
    return device != 0;
}

API void fake_start(void) { sim_reset(); }
API void *fake_stream(int device) { return sim_stream_on(device); }
API int fake_work(void *stream, unsigned long ns) { return sim_work(stream, ns); }
API void fake_host(unsigned long ns) { sim_host(ns); }
API struct sim_state *fake_sim(void) { return &sim; }
