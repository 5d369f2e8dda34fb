/* A stand-in for AMD's library, built as libamdhip64.so.6: says that it was loaded, and is the
 * simulated device behind HIP's names.  HIP's contexts are its devices.  It behaves as the release whose
 * number $FAKE_HIP is (50700000, 60200000, 60300000, 60400000, 70000000, 70200000; 6.2 without one), by
 * what AMD documents of each:
 *     before 6.0        an event that flushes nothing has another flag (hip_runtime_api.h)
 *     before 7.0        hipGetLastError() tells the code of the thread's last call, good or bad; from
 *                       7.0 on the last bad one, and "not ready" is none (what is new in HIP 7.0)
 *     6.1 to 7.1        hipEventSynchronize() while the event's stream is being captured invalidates
 *                       the capture (ROCm/rocm-systems#3169, #3176)
 * or it says what is wrong:
 *     none, uncounted   no devices, and none that could be counted
 *     ageless           it does not know its version
 *     lost              a thread has no device
 *     placeless         the device's place has no function behind the dot
 *     elsewhere         nobody knows of a device in that place
 * $FAKE_HIP_SHORT: one short time of ten is -10 ns (ROCm/rocm-systems#9375).                        */
#include "sim.h"

#define API __attribute__((visibility("default")))
#define NOT_READY 600

static __thread int last;                       /* what hipGetLastError() will tell */
static void *stream_of[4096];                   /* by event: where it was recorded last */
static void *recorded;                          /* where the last event was */

static int wrong(const char *mode)
{
    const char *now = getenv("FAKE_HIP");

    return now && !strcmp(now, mode);
}

static int release(void)
{
    const char *now = getenv("FAKE_HIP");

    return now && atoi(now) ? atoi(now) : 60200000;
}

/* The end of every call. */
static int told(int code)
{
    if (release() < 70000000 || (code && code != NOT_READY))
        last = code;
    return code;
}

static size_t slot_of(void *event)
{
    return ((uintptr_t)event >> 4) % (sizeof stream_of / sizeof *stream_of);
}

static __attribute__((constructor)) void loaded(void)
{
    fprintf(stderr, "fake HIP: loaded\n");
}

API int hipGetDevice(int *device)
{
    if (wrong("lost"))
        return told(100);
    *device = sim_depth ? sim_current()->device : 0;
    return told(0);
}

API int hipPeekAtLastError(void)
{
    return last;
}

API int hipGetLastError(void)
{
    const int was = last;

    last = 0;
    return was;
}

API int hipRuntimeGetVersion(int *version)
{
    *version = release();
    return told(wrong("ageless"));
}

API int hipStreamGetDevice(void *stream, int *device)
{
    void *ctx = NULL;
    int   code = sim_stream_ctx(stream, &ctx);

    if (!code)
        *device = ((sim_ctx *)ctx)->device;
    return told(code);
}

API int hipSetDevice(int device)
{
    if (device < 0 || device >= SIM_DEVICES)
        return told(101);
    sim_device(device);
    return told(0);
}

#define FAKE(hip, sim, parameters, arguments) API int hip parameters { return told(sim_##sim arguments); }
FAKE(hipDrvGetErrorName, error_name, (int c, const char **t), (c, t))
FAKE(hipDrvGetErrorString, error_text, (int c, const char **t), (c, t))

API int hipGetDeviceCount(int *n)
{
    if (wrong("uncounted"))
        return told(100);
    if (wrong("none")) {
        *n = 0;
        return told(0);
    }
    return told(sim_device_count(n));
}

/* Events for timing have to be of the kind that flushes nothing: in the words of that version. */
API int hipEventCreateWithFlags(void **event, unsigned flags)
{
    unsigned quiet = release() < 60000000 ? 0x40000000u : 0x20000000u;

    if (wrong("ageless"))
        quiet = 0;
    return told(flags == quiet || flags & 2 ? sim_event_create(event, flags & 3) : 1);
}

API int hipEventRecord(void *event, void *stream)
{
    stream_of[slot_of(event)] = recorded = stream;
    return told(sim_event_record(event, stream));
}

API int hipEventSynchronize(void *event)
{
    sim_stream *s;

    for (s = sim.list; s; s = s->next)
        if (s == stream_of[slot_of(event)] && s->capturing && release() >= 60100000 && release() < 70200000) {
            s->capturing = 2;
            sim.spoilt++;
            return told(900);
        }
    return told(sim_event_sync(event));
}

API int hipEventElapsedTime(float *ms, void *start_event, void *stop_event)
{
    static int calls;
    const int  code = sim_event_elapsed(ms, start_event, stop_event);

    if (!code && getenv("FAKE_HIP_SHORT") && *ms >= 0 && *ms < 0.01f && ++calls % 10 == 0)
        *ms = -0.00001f;
    return told(code);
}

FAKE(hipEventDestroy, event_destroy, (void *e), (e))
FAKE(hipEventQuery, event_query, (void *e), (e))
FAKE(hipStreamQuery, stream_query, (void *s), (s))
FAKE(hipStreamSynchronize, stream_sync, (void *s), (s))
FAKE(hipStreamIsCapturing, stream_capturing, (void *s, int *st), (s, st))
FAKE(hipStreamBeginCapture, capture_begin, (void *s, int mode), (s, mode))
FAKE(hipStreamEndCapture, capture_end, (void *s, void **g), (s, g))
FAKE(hipGraphDestroy, graph_destroy, (void *g), (g))
FAKE(hipThreadExchangeStreamCaptureMode, capture_mode, (int *m), (m))
FAKE(hipMemGetInfo, mem_info, (size_t *f, size_t *t), (f, t))
FAKE(hipMalloc, mem_alloc, (uint64_t *p, size_t n), (p, n))
FAKE(hipFree, mem_free, (uint64_t p), (p))
FAKE(hipMemsetD8Async, fill, (uint64_t p, unsigned char c, size_t n, void *s), (p, c, n, s))
FAKE(hipLaunchHostFunc, host_func, (void *s, void (*fn)(void *), void *user), (s, fn, user))

API int hipDeviceGetName(char *text, int length, int device)
{
    (void)snprintf(text, (size_t)length, "AMD Imitation");
    return device > 1;
}

/* Device 0 only: the other's place is not told. */
API int hipDeviceGetPCIBusId(char *text, int length, int device)
{
    (void)snprintf(text, (size_t)length, wrong("placeless") ? "0000:3b:00" : wrong("elsewhere") ? "0000:99:00.0"
                                                                                                 : "0000:3b:00.0");
    return told(device != 0);
}

API void *fake_recorded(void) { return recorded; }
API void fake_start(void) { sim_reset(); }
API void *fake_stream(int device) { return sim_stream_on(device); }
API int fake_work(void *stream, unsigned long ns) { return told(sim_work(stream, ns)); }
API int fake_launch_fails(int code) { return told(code); }
API void fake_host(unsigned long ns) { sim_host(ns); }
API struct sim_state *fake_sim(void) { return &sim; }
