/* perf_gpu_driver.h - the GPU driver as a table of functions, found at run time or brought along.
 *
 *     const perf_gpu_backend *t = perf_gpu_table();        // NULL: no driver on this machine
 *     if (perf_gpu_status() == PERF_OK)                    // and a context is current here
 *         printf("timed through the %s\n", t->name);
 *
 * perf_cuda.h includes it and builds on it; few programs need it by itself.
 * Sections (search for ">>"):  config  table  status  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#include "perf.h"               /* in a .cu file it brings perf_cuda.h, and that this file */
#include <string.h>
#ifndef PERF_GPU_DRIVER_H
#define PERF_GPU_DRIVER_H

#if !defined(PERF_VERSION) || !defined(PERF_H)
#error "perf_gpu_driver.h: found some other perf.h first; put this folder earlier on the path"
#endif

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_HIP                /* 1: a file compiled by no GPU compiler looks for AMD's library */
#define PERF_HIP 0              /* (39 ms to load, so never unasked) instead of NVIDIA's */
#endif

PERF_BEGIN_DECLS

/* >>table -------------------------------------------------------------------------------------
 * All that this library asks of a GPU goes through one table.  Three fillings: the CUDA driver
 * found at run time (in .cu files too: the runtime's streams are the driver's), HIP, and whatever
 * you install: tests/gpu/sim.h is a simulated device.  Signatures, arguments and numbers are those
 * of the CUDA driver API, so that its functions are the table: 0 is success, 600 not ready, 400 bad
 * handle, 4 shut down, 2 out of memory, 900 .. 907 stream capture; HIP uses the same numbers.
 * Streams, events, contexts and graphs are `void *`; device addresses uint64_t.
 *
 * The contract for those who fill a table:
 *  - Fields may be NULL but for the first nine.  NULL means "not there": callers do without.
 *  - Every function may be called from any thread; none may call back into perf.h.
 *  - A function that fails leaves its outputs alone; callers set them before.
 *  - `ctx_*` work on the calling thread's stack of contexts; ctx_get gives NULL when none is
 *    current, and then nothing else is called: no call below ever creates a context.
 *  - event_elapsed answers 600 while either event is pending: readiness is tested with it. */
typedef struct perf_gpu_backend {
    uint32_t    size;           /* sizeof(perf_gpu_backend): later releases append fields */
    uint32_t    flags;          /* PERF_GPU_TABLE_ bits */
    const char *name;           /* "CUDA driver", ...; static text */

    /* Must be there. */
    int (*ctx_get)(void **ctx);                 /* the current context, NULL: none */
    int (*event_create)(void **event, unsigned flags);  /* in the current context; 0, or 1 (sleep */
    int (*event_destroy)(void *event);          /* in event_sync), 2 (no timing) */
    int (*event_record)(void *event, void *stream);     /* both of one context, else 400 */
    int (*event_query)(void *event);            /* 0 done or never recorded, 600 pending */
    int (*event_sync)(void *event);             /* waits */
    int (*event_elapsed)(float *ms, void *start, void *stop);   /* 600: one is pending */
    int (*stream_query)(void *stream);          /* 0 idle, 600 busy */
    int (*stream_sync)(void *stream);           /* waits */

    /* Contexts and devices. */
    int (*ctx_set)(void *ctx);                  /* replaces the top of the stack; NULL: pops it */
    int (*ctx_device)(int *device);             /* number of the current context's device */
    int (*stream_ctx)(void *stream, void **ctx);
    int (*device_attribute)(int *value, int attribute, int device); /* CU_DEVICE_ATTRIBUTE_... */

    /* Streams: order, capture, graphs. */
    int (*stream_capturing)(void *stream, int *status); /* 0 no, 1 yes, 2 spoilt; 906: NULL */
                                                /* stream while a blocking one captures */
    int (*capture_mode)(int *mode);             /* exchanges this thread's: 0 global, 2 relaxed */
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*graph_exec_destroy)(void *exec);
    int (*graph_destroy)(void *graph);
    int (*event_record_flags)(void *event, void *stream, unsigned flags);  /* 1: a node that each */
                                                /* launch of the graph times anew */

    int (*host_func)(void *stream, void (*fn)(void *), void *user);     /* fn may call no GPU API */

    /* Memory. */
    int (*mem_info)(size_t *free_bytes, size_t *total_bytes); /* of the current context's device */
    int (*mem_alloc)(uint64_t *address, size_t bytes);
    int (*mem_free)(uint64_t address);
    int (*host_alloc)(void **p, size_t bytes, unsigned flags);  /* 2: mapped into the device */
    int (*host_free)(void *p);
    int (*host_address)(uint64_t *address, void *p, unsigned flags);    /* of mapped memory */
    int (*fill)(uint64_t to, unsigned char byte, size_t bytes, void *stream);
    int (*pool_get)(void **pool, int device);   /* what cudaMallocAsync takes from */
    int (*pool_value)(void *pool, int what, void *value); /* PERF_GPU_POOL_...; uint64_t out */

    /* Kernels of ours, from PTX; the user's are launched by the user. */
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared_bytes, void *stream, void **parameters,
                  void **extra);

    /* Errors: static text, "CUDA_ERROR_NOT_READY" and a sentence. */
    int (*error_name)(int code, const char **text);
    int (*error_text)(int code, const char **text);

    int (*device_clock)(int device, unsigned *sm_mhz, uint64_t *reasons); /* now; NVML's bits of */
                                                /* clocks-event reasons.  NULL: NVML is asked */

    /* Never used twice, so that a context which took a destroyed one's place is known. */
    int (*ctx_id)(void *ctx, unsigned long long *id);
    int (*ctx_record)(void *ctx, void *event);  /* done when all its work so far is */
    int (*mem_alloc_on)(uint64_t *address, size_t bytes, void *stream);     /* these two wait for */
    int (*mem_free_on)(uint64_t address, void *stream);                     /* nothing */
    int (*error_waits)(void); /* not 0: this thread has an error that the program has not */
                                        /* read; any call would wipe it, so none is made */
    int (*pool_set)(void *pool, int what, void *value); /* a high-water mark back to now: 0 */
    int (*ctx_limit)(size_t *value, int limit); /* 6: bytes of L2 for lines that persist */
    int (*l2_release)(void);                    /* such lines become ordinary ones */
    int (*device_bus)(char *text, int length, int device);  /* its place, "0000:3b:00.0": how */
                                                /* NVML knows it, which counts otherwise */
    int (*device_meter)(int device, int what, double *value);   /* now; what: 0 joules since some */
                                                /* moment, 1 degrees Celsius, 2 percent of the */
                                                /* time that it works.  NULL: NVML is asked */
    int (*profiler_start)(void);                /* what runs between them is what a profiler that */
    int (*profiler_stop)(void);                 /* waits for it records */
    int (*error_peek)(void);    /* the error that the program will read next in this thread, 0: */
    int (*error_clear)(void);   /* none; and forgets it.  A failed attempt of ours is cleared, so */
                                /* that no launch check of the program finds it */
    int (*device_name)(char *text, int length, int device); /* "NVIDIA H100 80GB HBM3" */
} perf_gpu_backend;

#define PERF_GPU_TABLE_SIMULATED  2u    /* flags: no hardware behind it, results say so */
#define PERF_GPU_TABLE_AMD        4u    /* energy by ROCm SMI, --profile by roctx, no SM clock    */

#define PERF_GPU_POOL_RESERVED  5       /* pool_value: bytes held now */
#define PERF_GPU_POOL_USED      7       /* bytes handed out now */
#define PERF_GPU_POOL_USED_HIGH 8       /* and the most so far */

#define PERF_GPU_NOT_READY 600          /* codes that callers tell apart */
#define PERF_GPU_SHUT_DOWN 4            /* the driver has ended, before the program */
#define PERF_GPU_UNREAD    (-1)         /* an error of the program waits, so nothing was called */

/* The table in use, found on the first call (which takes at most 1 ms if there is no driver, and
 * is remembered); NULL: no GPU library in this process or system.  A table does not mean that a
 * context is current.  Valid until perf_gpu_use(); any thread; creates nothing on the device. */
PERF_FN const perf_gpu_backend *perf_gpu_table(void);

/* >>status ------------------------------------------------------------------------------------ */

/* PERF_OK when the calls below would record something in this thread now; PERF_ENOGPU without a
 * driver or without a current context (see perf_gpu_table()), PERF_EGPU once the driver has shut
 * down.  Creates nothing, waits for nothing.                                                     */
PERF_FN perf_status perf_gpu_status(void);

/* The first error a GPU call of this library met since the start or the last perf_reset(), with the
 * API's number: "event_record: 700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal ...", "" for none.  The
 * text is static until the next perf_reset().  The number alone: perf_gpu_stats.error. */
PERF_FN const char *perf_gpu_error_text(void);

/* >>internal: what other headers may use -----------------------------------------------------
 *   perf_gpu_driver_, perf_gpu_driver_get_  what the process knows of its driver, made on first
 *                                           use; NULL without memory; takes the registry's lock
 *   perf_gpu_complete_                      1: a table has all the functions that it must have
 *   perf_gpu_error_, perf_gpu_put_error_    keeps the first error (takes the registry's lock; ends
 *                                           all calls after a shut-down); writes one as text
 *   perf_gpu_enter_, perf_gpu_leave_, perf_gpu_entered_  makes a context current for a while, and
 *                                           captures of others safe; 0 or the driver's code */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- table ---- */

/* Field, CUDA's name without "cu", HIP's without "hip"; the first nine must be there.  A "_v2" goes
 * where a library has only the older one.  HIP renumbers the attributes; our kernels are PTX. */
#define PERF_GPU_LIST_(X)                                                                         \
    X(ctx_get, "CtxGetCurrent", "") X(event_create, "EventCreate", "EventCreateWithFlags")        \
    X(event_destroy, "EventDestroy_v2", "EventDestroy")                                           \
    X(event_record, "EventRecord", "EventRecord") X(event_query, "EventQuery", "EventQuery")      \
    X(event_sync, "EventSynchronize", "EventSynchronize")                                         \
    X(event_elapsed, "EventElapsedTime_v2", "EventElapsedTime")                                   \
    X(stream_query, "StreamQuery", "StreamQuery")                                                 \
    X(stream_sync, "StreamSynchronize", "StreamSynchronize") X(ctx_set, "CtxSetCurrent", "")      \
    X(ctx_device, "CtxGetDevice", "GetDevice") X(stream_ctx, "StreamGetCtx", "")                  \
    X(device_attribute, "DeviceGetAttribute", "")                                                 \
    X(stream_capturing, "StreamIsCapturing", "StreamIsCapturing")                                 \
    X(capture_mode, "ThreadExchangeStreamCaptureMode", "ThreadExchangeStreamCaptureMode")         \
    X(capture_begin, "StreamBeginCapture_v2", "StreamBeginCapture")                               \
    X(capture_end, "StreamEndCapture", "StreamEndCapture")                                        \
    X(graph_instantiate, "GraphInstantiateWithFlags", "GraphInstantiateWithFlags")                \
    X(graph_launch, "GraphLaunch", "GraphLaunch")                                                 \
    X(graph_exec_destroy, "GraphExecDestroy", "GraphExecDestroy")                                 \
    X(graph_destroy, "GraphDestroy", "GraphDestroy")                                              \
    X(event_record_flags, "EventRecordWithFlags", "")                                             \
    X(host_func, "LaunchHostFunc", "LaunchHostFunc") X(mem_info, "MemGetInfo_v2", "MemGetInfo")   \
    X(mem_alloc, "MemAlloc_v2", "Malloc") X(mem_free, "MemFree_v2", "Free")                       \
    X(host_alloc, "MemHostAlloc", "HostMalloc") X(host_free, "MemFreeHost", "HostFree")           \
    X(host_address, "MemHostGetDevicePointer_v2", "HostGetDevicePointer")                         \
    X(fill, "MemsetD8Async", "MemsetD8Async") X(pool_get, "DeviceGetMemPool", "DeviceGetMemPool") \
    X(pool_value, "MemPoolGetAttribute", "MemPoolGetAttribute")                                   \
    X(module_load, "ModuleLoadData", "") X(module_unload, "ModuleUnload", "")                     \
    X(module_function, "ModuleGetFunction", "") X(launch, "LaunchKernel", "")                     \
    X(error_name, "GetErrorName", "DrvGetErrorName")                                              \
    X(error_text, "GetErrorString", "DrvGetErrorString") X(ctx_id, "CtxGetId", "")                \
    X(ctx_record, "CtxRecordEvent", "") X(mem_alloc_on, "MemAllocAsync", "MallocAsync")           \
    X(mem_free_on, "MemFreeAsync", "FreeAsync")                                                   \
    X(pool_set, "MemPoolSetAttribute", "MemPoolSetAttribute") X(ctx_limit, "CtxGetLimit", "")     \
    X(l2_release, "CtxResetPersistingL2Cache", "")                                                \
    X(device_bus, "DeviceGetPCIBusId", "DeviceGetPCIBusId")                                       \
    X(device_name, "DeviceGetName", "DeviceGetName")                                              \
    X(profiler_start, "ProfilerStart", "") X(profiler_stop, "ProfilerStop", "")

/* What the process knows of its driver.  One for all images, in the registry; never freed. */
typedef struct perf_gpu_driver_ {
    uint32_t                size, abi;
    const perf_gpu_backend *table;      /* NULL: nothing found, nobody has looked, or shut down */
    uint32_t                looked;     /* PERF_GPU_LOOKED_ bits; all: no library will be */
    uint32_t                down;       /* the driver has shut down */
    int32_t                 error;      /* the first */
    uint32_t                fresh;      /* 1: one that perf_gpu_collect() has not told yet */
    uint32_t                hip_version;
    struct perf_gpu_state_ *state;      /* of perf_cuda.h */
    void                   *memory;     /* of perf_gpu_memory.h */
    void                   *activity;   /* of perf_activity.h, ... */
    perf_source_            activity_source;    /* ... which a fork may not wipe */
    void                  (*on_down)(struct perf_gpu_state_ *, const void *line);
    void                   *meters;     /* perf_gpu_meters_, once somebody asked for a clock */
    uint32_t                meters_asked;
    int                   (*hip_set)(int);
    int                   (*hip_owner)(void *stream, int *device);
    perf_gpu_backend        found;      /* what `table` points to unless it was installed */
    perf_gpu_backend        plain;      /* HIP's own functions, behind those of `found` */
    char                    error_text[240];
} perf_gpu_driver_;
#define PERF_GPU_LOOKED_DRIVER_ 1u
#define PERF_GPU_LOOKED_HIP_    2u

/* NULL without memory, or with PERF_DISABLE. */
PERF_COLD_FN_ perf_gpu_driver_ *perf_gpu_driver_get_(void)
{
    perf_registry_   *r = PERF_NULL_;
    perf_gpu_driver_ *d;

    if (!PERF_DISABLE)
        r = perf_registry_get_();
    if (!r)
        return PERF_NULL_;
    perf_image_pin_();          /* the process keeps pointers to functions of this image now */
    d = PERF_CAST_(perf_gpu_driver_ *, PERF_ACQ_(&r->gpu));
    if (d || !perf_lock_(r))
        return d;
    d = PERF_CAST_(perf_gpu_driver_ *, r->gpu);
    if (!d)
        d = PERF_CAST_(perf_gpu_driver_ *, perf_pages_(sizeof *d, 0));
    if (d && !r->gpu) {
        d->size = PERF_CAST_(uint32_t, sizeof *d);
        d->abi = 3;
        PERF_REL_(&r->gpu, PERF_CAST_(void *, d));
    }
    perf_unlock_(&r->lock);
    return d;
}

/* ---- table: HIP ---- */

#if (defined(__HIPCC__) || PERF_HIP) && !defined(__CUDACC__) && !defined(__HIP_CPU_RT__) &&       \
    PERF_DL_ && !PERF_DISABLE
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_HIP_
/* What hipGetLastError() tells.  Before HIP 7.0 it is the code of the last call, good or bad: so
 * while the program has an unread error nothing is called, and the scope is dropped.  From 7.0 on
 * it is the last bad code, and only what failed is cleared.  Source: HIP's "What's new" of 7.0. */
#define PERF_HIP_KEEPS_ERRORS_ 70000000

/* The program's unread error, 0: none.  That something was not ready is no error. */
PERF_FN int perf_hip_unread_(const perf_gpu_driver_ *d)
{
    int code = 0;

    if (d->plain.error_peek)
        code = d->plain.error_peek();
    if (code == PERF_GPU_NOT_READY)
        return 0;
    return code;
}

PERF_FN int perf_hip_error_waits_(void)
{
    return perf_hip_unread_(perf_gpu_driver_get_());
}

/* Returns the code of a call of ours; unless an error of the program waited before it, what it left
 * for hipGetLastError() goes. */
PERF_FN int perf_hip_told_(const perf_gpu_driver_ *d, int waited, int code)
{
    if (code && !waited && d->plain.error_clear)
        (void)d->plain.error_clear();
    return code;
}

/* HIP's contexts are its devices: number + 1 is the handle.  To set a device creates nothing. */
PERF_FN int perf_hip_ctx_get_(void **ctx)
{
    const perf_gpu_driver_ *d = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(d);
    int                     device = 0;
    const int               code = perf_hip_told_(d, waited, d->plain.ctx_device(&device));

    *ctx = PERF_NULL_;
    if (!code)
        *ctx = PERF_PTR_(void *, PERF_CAST_(uintptr_t, device) + 1);
    return code;
}

PERF_FN int perf_hip_ctx_set_(void *ctx)
{
    return perf_gpu_driver_get_()->hip_set(PERF_CAST_(int, PERF_PTR_(uintptr_t, ctx) - 1));
}

PERF_FN int perf_hip_stream_ctx_(void *stream, void **ctx)
{
    const perf_gpu_driver_ *d = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(d);
    int                     device = 0;
    const int               code = perf_hip_told_(d, waited, d->hip_owner(stream, &device));

    if (!code)
        *ctx = PERF_PTR_(void *, PERF_CAST_(uintptr_t, device) + 1);
    return code;
}

/* Without its flag an event flushes the caches up to the host when it is recorded, which takes time
 * in the very stream that is measured. */
PERF_FN int perf_hip_event_create_(void **event, unsigned flags)
{
    const perf_gpu_driver_ *d = perf_gpu_driver_get_();
    unsigned quiet = 0x20000000u;               /* hipEventDisableSystemFence */

    if (d->hip_version < 60000000)
        quiet = 0x40000000u;                    /* hipEventReleaseToDevice */
    if (flags & 2)
        quiet = 0;                              /* it tells no time */
    return d->plain.event_create(event, flags | quiet);
}

PERF_FN int perf_hip_event_record_(void *event, void *stream)
{
    const perf_gpu_driver_ *d = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(d);

    if (waited && d->hip_version < PERF_HIP_KEEPS_ERRORS_)
        return PERF_GPU_UNREAD;
    return perf_hip_told_(d, waited, d->plain.event_record(event, stream));
}

PERF_FN int perf_hip_stream_capturing_(void *stream, int *status)
{
    const perf_gpu_driver_ *d = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(d);

    if (waited && d->hip_version < PERF_HIP_KEEPS_ERRORS_)
        return PERF_GPU_UNREAD;
    return perf_hip_told_(d, waited, d->plain.stream_capturing(stream, status));
}

#if defined(__HIPCC__)
PERF_END_DECLS
#include <hip/hip_runtime_api.h>
PERF_BEGIN_DECLS

/* HIP numbers attributes its own way: those that a bench asks for. */
PERF_FN int perf_hip_attribute_(int *value, int attribute, int device)
{
    switch (attribute) {
    case 16: return hipDeviceGetAttribute(value, hipDeviceAttributeMultiprocessorCount, device);
    case 36: return hipDeviceGetAttribute(value, hipDeviceAttributeMemoryClockRate, device);
    case 37: return hipDeviceGetAttribute(value, hipDeviceAttributeMemoryBusWidth, device);
    case 38: return hipDeviceGetAttribute(value, hipDeviceAttributeL2CacheSize, device);
    }
    return 1;
}
#endif

/* A file compiled by hipcc finds the library that it is linked with: `library` NULL. */
#define PERF_GPU_FILL_HIP_(f, cuda, hip) perf_library_symbol_(library, "hip", hip, &t->f);
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_driver_ *d, perf_gpu_backend *t)
{
    static const char *const name[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                       "libamdhip64.so", PERF_NULL_};
    void                    *library = PERF_NULL_;
    int                    (*version_of)(int *) = PERF_NULL_, (*count_of)(int *) = PERF_NULL_;
    int                      devices = 0, version = 0;

#if defined(__HIPCC__)
    (void)name;
    t->device_attribute = perf_hip_attribute_;
#else
    library = perf_library_open_(name);
    if (!library)
        return 0;
#endif
    PERF_GPU_LIST_(PERF_GPU_FILL_HIP_)
    perf_library_symbol_(library, "hip", "SetDevice", &d->hip_set);
    perf_library_symbol_(library, "hip", "PeekAtLastError", &t->error_peek);
    perf_library_symbol_(library, "hip", "GetLastError", &t->error_clear);
    perf_library_symbol_(library, "hip", "StreamGetDevice", &d->hip_owner);
    perf_library_symbol_(library, "hip", "GetDeviceCount", &count_of);
    perf_library_symbol_(library, "hip", "RuntimeGetVersion", &version_of);
    if (!t->ctx_device || !d->hip_set || !count_of || count_of(&devices) || devices < 1)
        return 0;
    if (version_of && version_of(&version))
        version = 0;
    d->hip_version = PERF_CAST_(uint32_t, version);
    d->plain = *t;
    t->ctx_get = perf_hip_ctx_get_;
    t->ctx_set = perf_hip_ctx_set_;
    if (d->hip_owner)
        t->stream_ctx = perf_hip_stream_ctx_;
    t->name = "HIP";
    t->flags = PERF_GPU_TABLE_AMD;
    if (version)
        t->event_create = perf_hip_event_create_;
    if (!t->error_peek || !version)
        return 1;
    if (version < PERF_HIP_KEEPS_ERRORS_)
        t->error_waits = perf_hip_error_waits_;
    t->event_record = perf_hip_event_record_;
    if (t->stream_capturing)
        t->stream_capturing = perf_hip_stream_capturing_;
    return 1;
}
#else
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_DRIVER_
#define PERF_GPU_FILL_CUDA_(f, cuda, hip) perf_library_symbol_(library, "cu", cuda, &t->f);
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_driver_ *d, perf_gpu_backend *t)
{
    static const char *const name[] = {"libcuda.so.1", PERF_NULL_};
    void                    *library = perf_library_open_(name);

    (void)d;
    if (!library)
        return 0;
    PERF_GPU_LIST_(PERF_GPU_FILL_CUDA_)
    t->name = "CUDA driver";
    return 1;
}
#endif

/* 1: the table has the nine functions that must be there. */
PERF_COLD_FN_ int perf_gpu_complete_(const perf_gpu_backend *t)
{
    return t->ctx_get && t->event_create && t->event_destroy && t->event_record &&
           t->event_query && t->event_sync && t->event_elapsed && t->stream_query && t->stream_sync;
}

PERF_FN const perf_gpu_backend *perf_gpu_table(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();
    perf_registry_   *r;

    if (!d)
        return PERF_NULL_;
    if (PERF_ACQ_(&d->table) || (PERF_ACQ_(&d->looked) & PERF_GPU_NATIVE_))
        return PERF_ACQ_(&d->table);
    r = perf_registry_get_();
    if (!perf_lock_(r))
        return PERF_NULL_;
    if (!d->table && !(d->looked & PERF_GPU_NATIVE_)) {
        memset(&d->found, 0, sizeof d->found);
        d->found.size = PERF_CAST_(uint32_t, sizeof d->found);
        if (perf_gpu_fill_native_(d, &d->found) && perf_gpu_complete_(&d->found))
            PERF_REL_(&d->table, PERF_CAST_(const perf_gpu_backend *, &d->found));
        PERF_REL_(&d->looked, d->looked | PERF_GPU_NATIVE_);
    }
    perf_unlock_(&r->lock);
    return PERF_ACQ_(&d->table);
}

/* ---- errors and shut-down ---- */

/* "700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal ...": in the words of `b`; NULL: the driver has shut
 * down, and is not asked for words any more. */
PERF_COLD_FN_ void perf_gpu_put_error_(perf_out_ *o, const perf_gpu_backend *b, int code)
{
    const char *name = PERF_NULL_, *text = PERF_NULL_;

    if (!b)
        text = "the driver has shut down";
    if (b && b->error_name && b->error_name(code, &name))
        name = PERF_NULL_;
    if (b && b->error_text && b->error_text(code, &text))
        text = PERF_NULL_;
    perf_putf_(o, "%.0f", PERF_CAST_(double, code));
    if (name)
        perf_putf_(o, " %s", name);
    if (text)
        perf_putf_(o, ": %s", text);
}

/* Keeps the first error with the driver's own words.  A shut-down ends all calls for good; it is
 * no error if we learn of it at exit (`call` NULL). */
PERF_COLD_FN_ void perf_gpu_error_(perf_gpu_driver_ *d, const char *call, int code)
{
    const perf_gpu_backend *b = PERF_ACQ_(&d->table);
    perf_registry_         *r = perf_registry_get_();
    perf_out_               o;

    if (code == PERF_GPU_SHUT_DOWN) {
        PERF_SET_(&d->down, 1u);
        PERF_REL_(&d->table, PERF_CAST_(const perf_gpu_backend *, PERF_NULL_));
        PERF_REL_(&d->looked, UINT32_MAX);
        if (d->on_down)
            d->on_down(d->state, PERF_NULL_);   /* no event is used any more */
        b = PERF_NULL_;
    }
    if (!call)
        return;
    PERF_SET_(&d->fresh, 1u);
    perf_fail_(r, PERF_EGPU);
    if (PERF_GET_(&d->error) || !(b || code == PERF_GPU_SHUT_DOWN) || !perf_lock_(r))
        return;
    if (!d->error) {
        o = perf_out_open_(d->error_text, sizeof d->error_text);
        perf_putf_(&o, "%s: ", call);
        perf_gpu_put_error_(&o, b, code);
        PERF_REL_(&d->error, code);
    }
    perf_unlock_(&r->lock);
}

PERF_FN const char *perf_gpu_error_text(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();

    if (!d || !PERF_ACQ_(&d->error))
        return "";
    return d->error_text;
}

PERF_FN perf_status perf_gpu_status(void)
{
    const perf_gpu_backend *b = perf_gpu_table();
    perf_gpu_driver_       *d = perf_gpu_driver_get_();
    void                   *ctx = PERF_NULL_;
    int                     code;

    if (!d || PERF_TCC_)                        /* no weak thread-local data there */
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOGPU;
    if (PERF_GET_(&d->down) || (b && b->error_waits && b->error_waits()))
        return PERF_EGPU;
    if (!b)
        return PERF_ENOGPU;
    code = b->ctx_get(&ctx);
    if (code == PERF_GPU_SHUT_DOWN) {
        perf_gpu_error_(d, "ctx_get", code);
        return PERF_EGPU;
    }
    if (code || !ctx)
        return PERF_ENOGPU;
    return PERF_OK;
}

/* ---- contexts ---- */

typedef struct perf_gpu_entered_ {
    void *before;
    int   set;                  /* another is current now */
    int   mode, relaxed;        /* of stream capture, before; it was changed */
    int   waited;               /* the program's own unread error, before */
} perf_gpu_entered_;

/* What fails is tried a second time: the program goes on in that mode and context. */
PERF_COLD_FN_ void perf_gpu_leave_(const perf_gpu_backend *b, perf_gpu_entered_ *e)
{
    int mode = e->mode, code = 0;

    if (e->relaxed)
        code = b->capture_mode(&mode);
    if (code && code != PERF_GPU_SHUT_DOWN) {
        mode = e->mode;
        code = b->capture_mode(&mode);
    }
    if (code == PERF_GPU_SHUT_DOWN)
        return;
    if (e->set && b->ctx_set(e->before))
        (void)b->ctx_set(e->before);
    if (!e->waited && b->error_clear && b->error_peek && b->error_peek())
        (void)b->error_clear();
}

/* In front of calls in a context, perf_gpu_leave_ behind them.  `ctx` becomes current, NULL: what
 * is current stays.  Captures of other threads are safe meanwhile, and no error of ours is left for
 * the program.  Returns 0 or the driver's code; then nothing is to be left. */
PERF_COLD_FN_ int perf_gpu_enter_(const perf_gpu_backend *b, void *ctx, perf_gpu_entered_ *e)
{
    int code = 0, relaxed = 1;

    memset(e, 0, sizeof *e);
    if (b->error_peek)
        e->waited = b->error_peek();
    if (ctx)
        code = b->ctx_get(&e->before);
    if (!code && ctx && e->before != ctx) {
        code = 201;
        if (b->ctx_set)
            code = b->ctx_set(ctx);
        e->set = !code;
    }
    if (code) {
        perf_gpu_leave_(b, e);
        return code;
    }
    e->mode = 2;
    if (b->capture_mode)
        relaxed = b->capture_mode(&e->mode);
    e->relaxed = !relaxed;
    if (relaxed == PERF_GPU_SHUT_DOWN)
        return relaxed;
    return 0;
}

PERF_END_DECLS

#endif /* PERF_GPU_DRIVER_H */
