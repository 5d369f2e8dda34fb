/* perf_cuda.h - time what a GPU does, from C, C++, CUDA, HIP and Cython, with nothing to link.
 *
 *     #include "perf_cuda.h"
 *     void step(void *stream)                      // a cudaStream_t, CUstream or hipStream_t
 *     {
 *         PERF_GPU_SCOPE("gemm", stream);          // device time of what is enqueued from here on
 *     }                                            // to the end of this block; never waits
 *
 * Needs perf.h and perf_stats.h beside it.  In .cu and .hip files perf.h includes this file.
 * Compile with -DPERF_DISABLE=1 and it costs nothing; without a GPU each call says PERF_ENOGPU.
 * Sections (search for ">>"):  config  table  status  scopes  memory  bottleneck  private  c++
 * SPDX-License-Identifier: MIT (full text at the end of perf.h)                                  */
#ifndef PERF_CUDA_H
#define PERF_CUDA_H

#include "perf.h"
#if !defined(PERF_VERSION) || !defined(PERF_H)
#error "perf_cuda.h: found some other perf.h first; put this library's folder earlier on the path"
#endif

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_GPU_SLOTS          /* scopes of one thread and context that may be in flight, 2 events */
#define PERF_GPU_SLOTS 1024     /* each, created as they are needed; more are dropped and counted  */
#endif
#ifndef PERF_HIP                /* 1: a file compiled by no GPU compiler looks for AMD's library   */
#define PERF_HIP 0              /* (39 ms to load, so never unasked) instead of NVIDIA's           */
#endif

PERF_BEGIN_DECLS

/* >>table -------------------------------------------------------------------------------------
 * All that this library asks of a GPU goes through one table.  Four fillings: the CUDA runtime (.cu
 * files), the CUDA driver found at run time (every other file), HIP, and whatever you install:
 * tests/gpu/sim.h is a simulated device.  Signatures, arguments and numbers are those of the CUDA
 * driver API, so that its functions are the table: 0 is success, 600 not ready, 400 bad handle,
 * 4 shut down, 2 out of memory, 900 .. 907 stream capture; HIP and the runtime use the same
 * numbers.  Streams, events, contexts and graphs are `void *`; device addresses uint64_t.
 *
 * The contract for those who fill a table:
 *  - Fields may be NULL but for the first nine.  NULL means "not there": callers do without.
 *  - Every function may be called from any thread; none may call back into perf.h.
 *  - A function that fails leaves its outputs alone; callers set them before.
 *  - `ctx_*` work on the calling thread's stack of contexts; ctx_get gives NULL when none is
 *    current, and then nothing else is called: no call below ever creates a context.
 *  - event_elapsed answers 600 while either event is pending: it is the test for readiness.       */
typedef void *perf_stream;      /* cudaStream_t, CUstream, hipStream_t; NULL, 1, 2: the default ones */

typedef struct perf_gpu_backend {
    uint32_t    size;           /* sizeof(perf_gpu_backend): later releases append fields          */
    uint32_t    flags;          /* PERF_GPU_TABLE_ bits                                            */
    const char *name;           /* "CUDA driver", ...; static text                                 */

    /* Must be there. */
    int (*ctx_get)(void **ctx);                 /* the current context, NULL: none                 */
    int (*event_create)(void **event, unsigned flags);  /* in the current context; 0, or 1 (sleep  */
    int (*event_destroy)(void *event);          /* in event_sync), 2 (no timing)                   */
    int (*event_record)(void *event, void *stream);     /* both of one context, else 400           */
    int (*event_query)(void *event);            /* 0 done or never recorded, 600 pending           */
    int (*event_sync)(void *event);             /* waits                                           */
    int (*event_elapsed)(float *ms, void *start, void *stop);   /* 600: one is pending             */
    int (*stream_query)(void *stream);          /* 0 idle, 600 busy                                */
    int (*stream_sync)(void *stream);           /* waits                                           */

    /* Contexts and devices. */
    int (*ctx_set)(void *ctx);                  /* replaces the top of the stack                   */
    int (*ctx_push)(void *ctx);
    int (*ctx_pop)(void **ctx);
    int (*ctx_device)(int *device);             /* number of the current context's device          */
    int (*stream_ctx)(void *stream, void **ctx);
    int (*device_count)(int *count);
    int (*device_attribute)(int *value, int attribute, int device);     /* CU_DEVICE_ATTRIBUTE_... */
    int (*device_name)(char *name, int cap, int device);

    /* Streams: order, capture, graphs. */
    int (*stream_create)(void **stream, unsigned flags);        /* 1: not blocked by stream NULL   */
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
    int (*stream_capturing)(void *stream, int *status);         /* 0 no, 1 yes, 2 spoilt; 906: NULL */
                                                /* stream while a blocking one captures            */
    int (*capture_mode)(int *mode);             /* exchanges this thread's: 0 global, 2 relaxed     */
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*graph_exec_destroy)(void *exec);
    int (*graph_destroy)(void *graph);
    int (*event_record_flags)(void *event, void *stream, unsigned flags);  /* 1: a node that each  */
                                                /* launch of the graph times anew                  */

    /* Gates: what holds a stream back until the host says go. */
    int (*host_func)(void *stream, void (*fn)(void *), void *user);     /* fn may call no GPU API  */
    int (*wait_value32)(void *stream, uint64_t address, uint32_t value, unsigned flags); /* 0: >=  */
    int (*write_value32)(void *stream, uint64_t address, uint32_t value, unsigned flags);

    /* Memory. */
    int (*mem_info)(size_t *free_bytes, size_t *total_bytes);   /* of the current context's device */
    int (*mem_alloc)(uint64_t *address, size_t bytes);
    int (*mem_free)(uint64_t address);
    int (*host_alloc)(void **p, size_t bytes, unsigned flags);  /* 2: mapped into the device       */
    int (*host_free)(void *p);
    int (*host_address)(uint64_t *address, void *p, unsigned flags);    /* of mapped memory        */
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);    /* asynchronous        */
    int (*fill)(uint64_t to, unsigned char byte, size_t bytes, void *stream);
    int (*pool_get)(void **pool, int device);   /* what cudaMallocAsync takes from                 */
    int (*pool_value)(void *pool, int what, void *value);       /* PERF_GPU_POOL_...; uint64_t out */

    /* Kernels of ours, from PTX; the user's are launched by the user. */
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared_bytes, void *stream, void **parameters, void **extra);

    /* Errors: static text, "CUDA_ERROR_NOT_READY" and a sentence. */
    int (*error_name)(int code, const char **text);
    int (*error_text)(int code, const char **text);

    /* For benches. */
    int (*ctx_sync)(void);                      /* waits for all streams of the current context    */
    int (*device_clock)(int device, unsigned *sm_mhz, uint64_t *reasons);   /* now; NVML's bits of */
                                                /* clocks-event reasons.  NULL: NVML is asked      */
} perf_gpu_backend;

#define PERF_GPU_TABLE_PER_THREAD 1u    /* stream NULL is the calling thread's own                 */
#define PERF_GPU_TABLE_SIMULATED  2u    /* no hardware behind it: results say so                   */

#define PERF_GPU_POOL_RESERVED      5   /* pool_value: bytes held now                              */
#define PERF_GPU_POOL_RESERVED_HIGH 6   /* and the most so far                                     */
#define PERF_GPU_POOL_USED          7
#define PERF_GPU_POOL_USED_HIGH     8

#define PERF_GPU_NOT_READY 600          /* codes that callers tell apart                           */
#define PERF_GPU_BAD_HANDLE 400
#define PERF_GPU_SHUT_DOWN 4

/* Installs a table for the whole process; NULL: looks for a driver again, as the first call does.
 * The table must stay valid until the next call of this.  What the old table had in flight is
 * forgotten, and counted as dropped.  Not while other threads are inside a GPU call of this file.
 * PERF_EINVAL for a table without its first nine functions or with an impossible size.           */
PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table);

/* The table in use, found on the first call (at most 1 ms without a driver, remembered); NULL: no
 * GPU library in this process or system.  Having a table does not mean that a context is current.
 * Valid until perf_gpu_use(); any thread; creates nothing on the device.                          */
PERF_FN const perf_gpu_backend *perf_gpu_table(void);

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- table ---- */

/* Field, CUDA's symbol, an older one, HIP's; the first nine must be there. */
#define PERF_GPU_LIST_(X)                                                                         \
    X(ctx_get, "cuCtxGetCurrent", "", "")                                                         \
    X(event_create, "cuEventCreate", "", "hipEventCreateWithFlags")                               \
    X(event_destroy, "cuEventDestroy_v2", "cuEventDestroy", "hipEventDestroy")                    \
    X(event_record, "cuEventRecord", "", "hipEventRecord")                                        \
    X(event_query, "cuEventQuery", "", "hipEventQuery")                                           \
    X(event_sync, "cuEventSynchronize", "", "hipEventSynchronize")                                \
    X(event_elapsed, "cuEventElapsedTime_v2", "cuEventElapsedTime", "hipEventElapsedTime")        \
    X(stream_query, "cuStreamQuery", "", "hipStreamQuery")                                        \
    X(stream_sync, "cuStreamSynchronize", "", "hipStreamSynchronize")                             \
    X(ctx_set, "cuCtxSetCurrent", "", "")                                                         \
    X(ctx_push, "cuCtxPushCurrent_v2", "cuCtxPushCurrent", "")                                    \
    X(ctx_pop, "cuCtxPopCurrent_v2", "cuCtxPopCurrent", "")                                       \
    X(ctx_device, "cuCtxGetDevice", "", "hipGetDevice")                                           \
    X(stream_ctx, "cuStreamGetCtx", "", "")                                                       \
    X(device_count, "cuDeviceGetCount", "", "hipGetDeviceCount")                                  \
    X(device_attribute, "cuDeviceGetAttribute", "", "")     /* HIP numbers its own way            */ \
    X(device_name, "cuDeviceGetName", "", "hipDeviceGetName")                                     \
    X(stream_create, "cuStreamCreate", "", "hipStreamCreateWithFlags")                            \
    X(stream_destroy, "cuStreamDestroy_v2", "cuStreamDestroy", "hipStreamDestroy")                \
    X(stream_wait, "cuStreamWaitEvent", "", "hipStreamWaitEvent")                                 \
    X(stream_capturing, "cuStreamIsCapturing", "", "hipStreamIsCapturing")                        \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", "", "hipThreadExchangeStreamCaptureMode") \
    X(capture_begin, "cuStreamBeginCapture_v2", "cuStreamBeginCapture", "hipStreamBeginCapture")  \
    X(capture_end, "cuStreamEndCapture", "", "hipStreamEndCapture")                               \
    X(graph_instantiate, "cuGraphInstantiateWithFlags", "", "hipGraphInstantiateWithFlags")       \
    X(graph_launch, "cuGraphLaunch", "", "hipGraphLaunch")                                        \
    X(graph_exec_destroy, "cuGraphExecDestroy", "", "hipGraphExecDestroy")                        \
    X(graph_destroy, "cuGraphDestroy", "", "hipGraphDestroy")                                     \
    X(event_record_flags, "cuEventRecordWithFlags", "", "")                                       \
    X(host_func, "cuLaunchHostFunc", "", "hipLaunchHostFunc")                                     \
    X(wait_value32, "cuStreamWaitValue32_v2", "", "")                                             \
    X(write_value32, "cuStreamWriteValue32_v2", "", "")                                           \
    X(mem_info, "cuMemGetInfo_v2", "cuMemGetInfo", "hipMemGetInfo")                               \
    X(mem_alloc, "cuMemAlloc_v2", "", "hipMalloc")                                                \
    X(mem_free, "cuMemFree_v2", "", "hipFree")                                                    \
    X(host_alloc, "cuMemHostAlloc", "", "hipHostMalloc")                                          \
    X(host_free, "cuMemFreeHost", "", "hipHostFree")                                              \
    X(host_address, "cuMemHostGetDevicePointer_v2", "", "hipHostGetDevicePointer")                \
    X(copy, "cuMemcpyAsync", "", "")                                                              \
    X(fill, "cuMemsetD8Async", "", "hipMemsetD8Async")                                            \
    X(pool_get, "cuDeviceGetMemPool", "", "hipDeviceGetMemPool")                                  \
    X(pool_value, "cuMemPoolGetAttribute", "", "hipMemPoolGetAttribute")                          \
    X(module_load, "cuModuleLoadData", "", "")              /* ours are PTX                       */ \
    X(module_unload, "cuModuleUnload", "", "")                                                    \
    X(module_function, "cuModuleGetFunction", "", "")                                             \
    X(launch, "cuLaunchKernel", "", "")                                                           \
    X(error_name, "cuGetErrorName", "", "")                                                       \
    X(error_text, "cuGetErrorString", "", "")                                                     \
    X(ctx_sync, "cuCtxSynchronize", "", "hipDeviceSynchronize")

/* One for all images of the process, hung into the registry; never freed. */
typedef struct perf_gpu_state_ {
    uint32_t                size, abi;
    const perf_gpu_backend *table;      /* NULL: nothing found, or nobody has looked               */
    uint32_t                looked;     /* 1: `table` says what there is                           */
    uint32_t                spare;
    perf_gpu_backend        found;      /* what `table` points to unless it was installed          */
    void                   *nvml;       /* perf_gpu_nvml_, once somebody asked for a clock         */
} perf_gpu_state_;

/* NULL without memory. */
PERF_COLD_FN_ perf_gpu_state_ *perf_gpu_state_get_(void)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g;

    if (!r)
        return PERF_NULL_;
    g = PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu));
    if (g)
        return g;
    if (!perf_lock_(r))
        return PERF_NULL_;
    g = PERF_CAST_(perf_gpu_state_ *, r->gpu);
    if (!g) {
        g = PERF_CAST_(perf_gpu_state_ *, perf_pages_(sizeof *g, 0));
        if (g) {
            g->size = PERF_CAST_(uint32_t, sizeof *g);
            g->abi = 1;
            PERF_REL_(&r->gpu, PERF_CAST_(void *, g));
        }
    }
    perf_unlock_(r);
    return g;
}

#if defined(__linux__) && PERF_LP64_UNIX_ && !PERF_TCC_
#define PERF_GPU_DL_ 1
/* Weak: older systems have them in a library of their own, which nobody is asked to link. */
extern void *perf_dlopen_(const char *, int) __asm__(PERF_SYM_("dlopen")) PERF_ATTR_((__weak__));
extern void *perf_dlsym_(void *, const char *) __asm__(PERF_SYM_("dlsym")) PERF_ATTR_((__weak__));

/* A library by the first of its names that answers: if it is in the process already that one,
 * whatever folder it came from. */
PERF_COLD_FN_ void *perf_gpu_library_(const char *const *name)
{
    int   i, loaded;
    void *h = PERF_NULL_;

    if (perf_dlopen_ == PERF_NULL_ || perf_dlsym_ == PERF_NULL_)
        return PERF_NULL_;
    for (loaded = 1; loaded >= 0 && !h; loaded--)
        for (i = 0; name[i] && !h; i++)
            h = perf_dlopen_(name[i], loaded ? 1 | 4 : 1);      /* lazy, local; 4: only if loaded  */
    return h;
}

/* Function pointers come out of dlsym as data pointers: copied, since no cast is allowed. */
PERF_COLD_FN_ void perf_gpu_symbol_(void *library, const char *name, const char *older, void *field)
{
    void *p = *name ? perf_dlsym_(library, name) : PERF_NULL_;

    if (!p && *older)
        p = perf_dlsym_(library, older);
    memcpy(field, &p, sizeof p);
}

#define PERF_GPU_FILL_CUDA_(f, cuda, older, hip) perf_gpu_symbol_(library, cuda, older, &t->f);
PERF_COLD_FN_ int perf_gpu_fill_driver_(perf_gpu_backend *t)
{
    static const char *const name[] = {"libcuda.so.1", PERF_NULL_};
    void                    *library = perf_gpu_library_(name);

    if (!library)
        return 0;
    PERF_GPU_LIST_(PERF_GPU_FILL_CUDA_)
    t->name = "CUDA driver";
    return 1;
}
#else
#define PERF_GPU_DL_ 0
PERF_COLD_FN_ int perf_gpu_fill_driver_(perf_gpu_backend *t)
{
    (void)t;
    return 0;
}
#endif

PERF_COLD_FN_ int perf_gpu_complete_(const perf_gpu_backend *t)
{
    return t->ctx_get && t->event_create && t->event_destroy && t->event_record &&
           t->event_query && t->event_sync && t->event_elapsed && t->stream_query &&
           t->stream_sync;
}

/* Looks for a GPU library, once.  Called with the registry's lock held. */
PERF_COLD_FN_ void perf_gpu_look_(perf_gpu_state_ *g)
{
    memset(&g->found, 0, sizeof g->found);
    g->found.size = PERF_CAST_(uint32_t, sizeof g->found);
    if (perf_gpu_fill_driver_(&g->found) && perf_gpu_complete_(&g->found))
        PERF_REL_(&g->table, PERF_CAST_(const perf_gpu_backend *, &g->found));
    PERF_REL_(&g->looked, 1u);
}

PERF_FN const perf_gpu_backend *perf_gpu_table(void)
{
    perf_gpu_state_ *g = perf_gpu_state_get_();
    perf_registry_  *r = perf_registry_get_();

    if (!g)
        return PERF_NULL_;
    if (!PERF_ACQ_(&g->looked) && perf_lock_(r)) {
        if (!g->looked)
            perf_gpu_look_(g);
        perf_unlock_(r);
    }
    return PERF_ACQ_(&g->table);
}

PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table)
{
    perf_gpu_state_ *g = perf_gpu_state_get_();

    if (table && (table->size != sizeof *table || !perf_gpu_complete_(table)))
        return PERF_EINVAL;
    if (!g)
        return PERF_ENOMEM;
    PERF_REL_(&g->table, table);
    PERF_REL_(&g->looked, table ? 1u : 0u);
    return PERF_OK;
}

/* ---- clocks ---- */

/* What is used of NVML, which every driver of NVIDIA brings along. */
typedef struct perf_gpu_nvml_ {
    int   (*init)(void);
    int   (*by_address)(const char *bus, void **device);
    int   (*clock)(void *device, int which, unsigned *mhz);
    int   (*reasons)(void *device, unsigned long long *why);
    int   usable;
    void *device[64];           /* NVML's, by CUDA's number; NULL: not asked                       */
} perf_gpu_nvml_;

#if PERF_GPU_DL_
/* Loads and starts it, once in the process (tens of ms).  Never stopped: others may use it. */
PERF_COLD_FN_ perf_gpu_nvml_ *perf_gpu_nvml_get_(void)
{
    static const char *const name[] = {"libnvidia-ml.so.1", PERF_NULL_};
    perf_gpu_state_         *g = perf_gpu_state_get_();
    perf_registry_          *r = perf_registry_get_();
    perf_gpu_nvml_          *n;
    void                    *library;

    if (!g)
        return PERF_NULL_;
    n = PERF_CAST_(perf_gpu_nvml_ *, PERF_ACQ_(&g->nvml));
    if (n || !perf_lock_(r))
        return n;
    n = PERF_CAST_(perf_gpu_nvml_ *, g->nvml);
    if (!n) {
        n = PERF_CAST_(perf_gpu_nvml_ *, perf_pages_(sizeof *n, 0));
        library = n ? perf_gpu_library_(name) : PERF_NULL_;
        if (library) {
            perf_gpu_symbol_(library, "nvmlInit_v2", "nvmlInit", &n->init);
            perf_gpu_symbol_(library, "nvmlDeviceGetHandleByPciBusId_v2",
                             "nvmlDeviceGetHandleByPciBusId", &n->by_address);
            perf_gpu_symbol_(library, "nvmlDeviceGetClockInfo", "", &n->clock);
            perf_gpu_symbol_(library, "nvmlDeviceGetCurrentClocksEventReasons",
                             "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
            n->usable = n->init && n->by_address && n->clock && !n->init();
        }
        PERF_REL_(&g->nvml, PERF_CAST_(void *, n));
    }
    perf_unlock_(r);
    return n;
}

/* NVML's handle of a device: by its place on the bus, since CUDA and NVML count differently. */
PERF_COLD_FN_ void *perf_gpu_nvml_device_(const perf_gpu_backend *t, perf_gpu_nvml_ *n, int device)
{
    static const char hex[] = "0123456789abcdef";
    char              bus[] = "00000000:00:00.0";
    int               domain = 0, place = 0, slot = 0, i;
    void             *handle = PERF_NULL_;

    if (device < 0 || device >= 64 || !t->device_attribute)
        return PERF_NULL_;
    handle = PERF_ACQ_(&n->device[device]);
    if (handle)
        return handle;
    if (t->device_attribute(&place, 33, device) || t->device_attribute(&slot, 34, device) ||
        t->device_attribute(&domain, 50, device))
        return PERF_NULL_;
    for (i = 0; i < 8; i++)
        bus[7 - i] = hex[domain >> (4 * i) & 15];
    bus[9] = hex[place >> 4 & 15];
    bus[10] = hex[place & 15];
    bus[12] = hex[slot >> 4 & 15];
    bus[13] = hex[slot & 15];
    if (n->by_address(bus, &handle))
        return PERF_NULL_;
    PERF_REL_(&n->device[device], handle);
    return handle;
}
#endif

/* The SM clock of a device now, and why it is not higher: 0, or nonzero where nobody knows. */
PERF_COLD_FN_ int perf_gpu_clock_(const perf_gpu_backend *t, int device, unsigned *mhz, uint64_t *why)
{
    if (t->device_clock)
        return t->device_clock(device, mhz, why);
#if PERF_GPU_DL_
    {
        perf_gpu_nvml_    *n;
        void              *handle;
        unsigned long long bits = 0;

        if (t->flags & PERF_GPU_TABLE_SIMULATED)
            return 1;
        n = perf_gpu_nvml_get_();
        handle = n && n->usable ? perf_gpu_nvml_device_(t, n, device) : PERF_NULL_;
        if (!handle || n->clock(handle, 1, mhz))
            return 1;
        if (n->reasons && !n->reasons(handle, &bits))
            *why = bits;
        return 0;
    }
#else
    (void)device;
    (void)mhz;
    (void)why;
    return 1;
#endif
}

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

PERF_END_DECLS
#endif /* PERF_CUDA_H */
