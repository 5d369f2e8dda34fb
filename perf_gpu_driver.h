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

/* 1: a file that no GPU compiler compiles looks for AMD's library instead of NVIDIA's.  Not by
 * itself, as that takes 39 ms to load. */
#ifndef PERF_HIP
#define PERF_HIP 0
#endif

PERF_BEGIN_DECLS

/* >>table -------------------------------------------------------------------------------------
 * All that this library asks of a GPU goes through one table.  It is filled from the CUDA driver
 * (in .cu files too: the runtime's streams are the driver's), from HIP, or by you (perf_gpu_use):
 * tests/gpu/sim.h is a simulated device.  Signatures, arguments and numbers are those of the CUDA
 * driver API, whose functions fill it as they are: 0 is success, 600 not ready, 400 bad handle, 4
 * shut down, 2 out of memory, 900 .. 907 stream capture; HIP uses the same numbers.
 * Streams, events, contexts and graphs are `void *`; device addresses uint64_t.
 *
 * The contract for those who fill a table:
 *  - All functions but the first nine may be NULL: callers do without.
 *  - Every function may be called from any thread; none may call back into perf.h.
 *  - A function that fails leaves its outputs as they were.
 *  - `ctx_*` work on the calling thread's stack of contexts.  ctx_get gives NULL when none is
 *    current; then nothing else is called.  No function may create a context.
 *  - event_elapsed returns 600 while either event is pending: callers ask nothing else. */
typedef struct perf_gpu_backend {
    uint32_t    size;           /* sizeof(perf_gpu_backend): later releases append fields */
    uint32_t    flags;          /* PERF_GPU_TABLE_ bits */
    const char *name;           /* "CUDA driver", ...; static text */

    /* Must be there.  event_create: in the current context; flags 0, 1 (event_sync sleeps) or 2 (no
     * timing).  event_record: event and stream of one context, else 400. */
    int (*ctx_get)(void **ctx);                 /* the current context, NULL: none */
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
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

    /* Capture and graphs.  stream_capturing: *status is 0 no, 1 yes, 2 spoilt; 906: `stream` is
     * NULL and a blocking stream is being captured.  capture_mode exchanges this thread's mode: 0
     * global, 2 relaxed.  event_record_flags with 1: a node that each launch of the graph times. */
    int (*stream_capturing)(void *stream, int *status);
    int (*capture_mode)(int *mode);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*graph_exec_destroy)(void *exec);
    int (*graph_destroy)(void *graph);
    int (*event_record_flags)(void *event, void *stream, unsigned flags);

    int (*host_func)(void *stream, void (*fn)(void *), void *user);     /* fn may call no GPU API */

    /* Memory. */
    int (*mem_info)(size_t *free_bytes, size_t *total_bytes); /* of the current context's device */
    int (*mem_alloc)(uint64_t *address, size_t bytes);
    int (*mem_free)(uint64_t address);
    int (*host_alloc)(void **p, size_t bytes, unsigned flags);  /* 2: mapped into the device */
    int (*host_free)(void *memory);
    int (*host_address)(uint64_t *address, void *memory, unsigned flags); /* of mapped memory */
    int (*fill)(uint64_t to, unsigned char byte, size_t bytes, void *stream);
    int (*pool_get)(void **pool, int device);   /* the one of cudaMallocAsync */
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

    /* ---- added later, oldest first ---- */

    /* The device's clock now, with NVML's bits of clocks-event reasons.  NULL: NVML is asked. */
    int (*device_clock)(int device, unsigned *sm_mhz, uint64_t *reasons);

    /* A number that no other context gets, even one with the same handle after this one's end. */
    int (*ctx_id)(void *ctx, unsigned long long *id);
    int (*ctx_record)(void *ctx, void *event);  /* done when all work of the context so far is */
    int (*mem_alloc_on)(uint64_t *address, size_t bytes, void *stream);     /* does not wait */
    int (*mem_free_on)(uint64_t address, void *stream);                     /* does not wait */

    /* Not 0: this thread has an error that the program has not read.  Any call would overwrite it,
     * so none is made but event_record and stream_capturing: these say PERF_GPU_UNREAD then. */
    int (*error_waits)(void);
    int (*pool_set)(void *pool, int what, void *value); /* USED_HIGH to 0: the most from now on */
    int (*ctx_limit)(size_t *value, int limit); /* 6: bytes of L2 for lines that persist */
    int (*l2_release)(void);                    /* such lines become ordinary ones */
    int (*device_bus)(char *text, int length, int device);      /* "0000:3b:00.0", for NVML */

    /* Its value now; what: 0 joules since an arbitrary moment, 1 degrees Celsius, 2 percent of the
     * time at work.  NULL: NVML is asked. */
    int (*device_meter)(int device, int what, double *value);

    /* A profiler that waits for these calls records what runs between them. */
    int (*profiler_start)(void);
    int (*profiler_stop)(void);

    /* error_peek: what the program will read next in this thread, 0: no error.  error_clear takes
     * that away: for our own failures, which the program's launch check would find. */
    int (*error_peek)(void);
    int (*error_clear)(void);
    int (*device_name)(char *text, int length, int device);     /* "NVIDIA H100 80GB HBM3" */
} perf_gpu_backend;

#define PERF_GPU_TABLE_SIMULATED  2u    /* flags: no hardware behind it, results say so */
#define PERF_GPU_TABLE_AMD        4u    /* energy by ROCm SMI, --profile by roctx, no SM clock */

#define PERF_GPU_POOL_RESERVED  5       /* pool_value: bytes held now */
#define PERF_GPU_POOL_USED      7       /* bytes handed out now */
#define PERF_GPU_POOL_USED_HIGH 8       /* and the most so far */

#define PERF_GPU_NOT_READY 600          /* codes that callers tell apart */
#define PERF_GPU_SHUT_DOWN 4            /* the driver has ended before the program */
#define PERF_GPU_UNREAD    (-1)         /* the program has an unread error: nothing was called */

/* The table in use, valid until perf_gpu_use(); NULL: no GPU library in this process or system.
 * The first call looks for one (1 ms at most if there is none) and takes a lock.  No context
 * need be current.  Any thread; creates nothing on the device. */
PERF_FN const perf_gpu_backend *perf_gpu_table(void);

/* >>status ------------------------------------------------------------------------------------ */

/* PERF_OK: a device scope of this thread would be recorded now.  PERF_ENOGPU: no driver, or no
 * current context.  PERF_EGPU: the driver has shut down, or (HIP before 7.0) the program has an
 * unread error.  Creates nothing, waits for nothing. */
PERF_FN perf_status perf_gpu_status(void);

/* The first error of a GPU call of this library since the start or the last perf_reset(), with the
 * API's number: "event_record: 700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal ...", "" for none.  The
 * text is valid until the next perf_reset().  The number alone: perf_gpu_stats.error. */
PERF_FN const char *perf_gpu_error_text(void);

/* >>internal: what other headers may use -----------------------------------------------------
 *   perf_gpu_driver_, perf_gpu_driver_get_  what the process knows of its driver, made on first
 *                                           use; NULL without memory; takes the registry's lock
 *   perf_gpu_complete_       1: a table has all the functions that it must have
 *   perf_gpu_error_          keeps the first error; ends all calls after a shut-down; takes the
 *                            registry's lock
 *   perf_gpu_put_error_      writes one as text
 *   perf_gpu_enter_, perf_gpu_leave_, perf_gpu_entered_  makes a context current for a while, and
 *                            captures of other threads safe; 0 or the driver's code */

/* Codes of drivers, beside PERF_GPU_NOT_READY and the like. */
enum {
    PERF_GPU_OUT_OF_MEMORY_ = 2, PERF_GPU_NOT_STARTED_ = 3, PERF_GPU_NO_CURRENT_ = 201,
    PERF_GPU_BAD_HANDLE_ = 400, PERF_GPU_DESTROYED_ = 709,      /* the context is no more */
    PERF_GPU_IS_CAPTURED_ = 900, PERF_GPU_CAPTURE_END_ = 907,   /* all between count as captured */
    PERF_GPU_IMPOSSIBLE_ = 999          /* ours: the driver told a time that cannot be */
};

/* Arguments of the table's functions. */
enum {
    PERF_GPU_EXTERNAL_ = 1,             /* event_record_flags: CU_EVENT_RECORD_EXTERNAL */
    PERF_GPU_RELAXED_ = 2,              /* capture_mode, _begin: CU_STREAM_CAPTURE_MODE_RELAXED */
    PERF_GPU_MAPPED_ = 2,               /* host_alloc: CU_MEMHOSTALLOC_DEVICEMAP */
    PERF_GPU_LIMIT_L2_ = 6,             /* ctx_limit: CU_LIMIT_PERSISTING_L2_CACHE_SIZE */
    PERF_GPU_MULTIPROCESSORS_ = 16,     /* device_attribute: CU_DEVICE_ATTRIBUTE_..._COUNT */
    PERF_GPU_MEMORY_KHZ_ = 36, PERF_GPU_MEMORY_BITS_ = 37,      /* ..._CLOCK_RATE, _BUS_WIDTH */
    PERF_GPU_L2_BYTES_ = 38             /* ..._L2_CACHE_SIZE */
};

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- table ---- */

/* X(field, CUDA's name without "cu", HIP's without "hip").  "": HIP has none that fits: it numbers
 * attributes its own way, and runs no PTX.  A library without "X_v2" is asked for "X". */
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
    const perf_gpu_backend *table;      /* NULL: nobody has looked, nothing found, or shut down */
    uint32_t                looked;     /* PERF_GPU_LOOKED_ bits; all: never look again */
    uint32_t                down;       /* 1: the driver has shut down */
    int32_t                 error;      /* the first one's number */
    uint32_t                fresh;      /* 1: perf_gpu_collect() has yet to report an error */
    uint32_t                hip_version;        /* 60200000 is 6.2; 0: not known */
    struct perf_gpu_state_ *state;      /* of perf_cuda.h */
    void                   *memory;     /* of perf_gpu_memory.h */
    void                   *activity;   /* of perf_activity.h; a fork wipes it */
    perf_source_            activity_source;    /* a fork keeps it */
    void                  (*on_down)(struct perf_gpu_state_ *, const void *line);
    void                   *meters;     /* perf_gpu_meters_, once somebody asked for a clock */
    uint32_t                meters_asked;
    int                   (*hip_set)(int);
    int                   (*hip_owner)(void *stream, int *device);
    perf_gpu_backend        found;      /* what `table` points to unless it was installed */
    perf_gpu_backend        plain;      /* HIP's own functions, which those of `found` call */
    char                    error_text[240];
} perf_gpu_driver_;
#define PERF_GPU_LOOKED_DRIVER_ 1u
#define PERF_GPU_LOOKED_HIP_    2u

/* NULL without memory, or with PERF_DISABLE. */
PERF_COLD_FN_ perf_gpu_driver_ *perf_gpu_driver_get_(void)
{
    perf_registry_   *reg = PERF_NULL_;
    perf_gpu_driver_ *driver;

    if (!PERF_DISABLE)
        reg = perf_registry_get_();
    if (!reg)
        return PERF_NULL_;
    perf_image_pin_();          /* the process keeps pointers to functions of this image now */
    driver = PERF_CAST_(perf_gpu_driver_ *, PERF_ACQ_(&reg->gpu));
    if (driver || !perf_lock_(reg))
        return driver;
    driver = PERF_CAST_(perf_gpu_driver_ *, reg->gpu);
    if (!driver)
        driver = PERF_CAST_(perf_gpu_driver_ *, perf_pages_(sizeof *driver, 0));
    if (driver && !reg->gpu) {
        driver->size = PERF_CAST_(uint32_t, sizeof *driver);
        driver->abi = 3;
        PERF_REL_(&reg->gpu, PERF_CAST_(void *, driver));
    }
    perf_unlock_(&reg->lock);
    return driver;
}

/* ---- table: HIP ---- */

#if (defined(__HIPCC__) || PERF_HIP) && !defined(__CUDACC__) && !defined(__HIP_CPU_RT__) &&       \
    PERF_DL_ && !PERF_DISABLE
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_HIP_
/* From this version on hipGetLastError() tells the last bad code, so we clear what our own calls
 * left.  Before, it told the code of the last call, good or bad.  There nothing is called while the
 * program has an unread error, and scopes are dropped.  Source: HIP's "What's new" of 7.0. */
#define PERF_HIP_KEEPS_ERRORS_ 70000000

/* The program's unread error, 0: none.  "Not ready" is no error. */
PERF_FN int perf_hip_unread_(const perf_gpu_driver_ *driver)
{
    int code = 0;

    if (driver->plain.error_peek)
        code = driver->plain.error_peek();
    if (code == PERF_GPU_NOT_READY)
        return 0;
    return code;
}

PERF_FN int perf_hip_error_waits_(void)
{
    return perf_hip_unread_(perf_gpu_driver_get_());
}

/* Clears the error that a call of ours left, unless the program had one before (`waited`).  Returns
 * `code`, the call's. */
PERF_FN int perf_hip_told_(const perf_gpu_driver_ *driver, int waited, int code)
{
    if (code && !waited && driver->plain.error_clear)
        (void)driver->plain.error_clear();
    return code;
}

/* HIP's contexts are its devices: the handle is the device's number + 1. */
PERF_FN int perf_hip_ctx_get_(void **ctx)
{
    const perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(driver);
    int                     device = 0;
    const int               code =
        perf_hip_told_(driver, waited, driver->plain.ctx_device(&device));

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
    const perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(driver);
    int                     device = 0;
    const int               code =
        perf_hip_told_(driver, waited, driver->hip_owner(stream, &device));

    if (!code)
        *ctx = PERF_PTR_(void *, PERF_CAST_(uintptr_t, device) + 1);
    return code;
}

/* With a flag that keeps the record of an event from flushing the caches in measured time. */
PERF_FN int perf_hip_event_create_(void **event, unsigned flags)
{
    const perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    unsigned no_flush = 0x20000000u;            /* hipEventDisableSystemFence */

    if (driver->hip_version < 60000000)
        no_flush = 0x40000000u;                 /* hipEventReleaseToDevice */
    if (flags & 2)
        no_flush = 0;                           /* the event tells no time */
    return driver->plain.event_create(event, flags | no_flush);
}

PERF_FN int perf_hip_event_record_(void *event, void *stream)
{
    const perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(driver);

    if (waited && driver->hip_version < PERF_HIP_KEEPS_ERRORS_)
        return PERF_GPU_UNREAD;
    return perf_hip_told_(driver, waited, driver->plain.event_record(event, stream));
}

PERF_FN int perf_hip_stream_capturing_(void *stream, int *status)
{
    const perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    const int               waited = perf_hip_unread_(driver);

    if (waited && driver->hip_version < PERF_HIP_KEEPS_ERRORS_)
        return PERF_GPU_UNREAD;
    return perf_hip_told_(driver, waited, driver->plain.stream_capturing(stream, status));
}

#if defined(__HIPCC__)
PERF_END_DECLS
#include <hip/hip_runtime_api.h>
PERF_BEGIN_DECLS

/* The attributes that perf_gpu_bench.h asks for, by CUDA's numbers; 0, or an error. */
PERF_FN int perf_hip_attribute_(int *value, int attribute, int device)
{
    switch (attribute) {
    case PERF_GPU_MULTIPROCESSORS_:
        return hipDeviceGetAttribute(value, hipDeviceAttributeMultiprocessorCount, device);
    case PERF_GPU_MEMORY_KHZ_:
        return hipDeviceGetAttribute(value, hipDeviceAttributeMemoryClockRate, device);
    case PERF_GPU_MEMORY_BITS_:
        return hipDeviceGetAttribute(value, hipDeviceAttributeMemoryBusWidth, device);
    case PERF_GPU_L2_BYTES_:
        return hipDeviceGetAttribute(value, hipDeviceAttributeL2CacheSize, device);
    }
    return 1;
}
#endif

/* A file compiled by hipcc is linked with the library: `library` NULL finds its functions.
 * 0: no library or no device. */
#define PERF_GPU_FILL_HIP_(field, cuda, hip)                                                      \
    perf_library_symbol_(library, "hip", hip, &backend->field);
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_driver_ *driver, perf_gpu_backend *backend)
{
    static const char *const name[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                       "libamdhip64.so", PERF_NULL_};
    void                    *library = PERF_NULL_;
    int                    (*version_of)(int *) = PERF_NULL_, (*count_of)(int *) = PERF_NULL_;
    int                      devices = 0, version = 0;

#if defined(__HIPCC__)
    (void)name;
    backend->device_attribute = perf_hip_attribute_;
#else
    library = perf_library_open_(name);
    if (!library)
        return 0;
#endif
    PERF_GPU_LIST_(PERF_GPU_FILL_HIP_)
    perf_library_symbol_(library, "hip", "SetDevice", &driver->hip_set);
    perf_library_symbol_(library, "hip", "PeekAtLastError", &backend->error_peek);
    perf_library_symbol_(library, "hip", "GetLastError", &backend->error_clear);
    perf_library_symbol_(library, "hip", "StreamGetDevice", &driver->hip_owner);
    perf_library_symbol_(library, "hip", "GetDeviceCount", &count_of);
    perf_library_symbol_(library, "hip", "RuntimeGetVersion", &version_of);
    if (!backend->ctx_device || !driver->hip_set || !count_of || count_of(&devices) || devices < 1)
        return 0;
    if (version_of && version_of(&version))
        version = 0;
    driver->hip_version = PERF_CAST_(uint32_t, version);
    driver->plain = *backend;
    backend->ctx_get = perf_hip_ctx_get_;
    backend->ctx_set = perf_hip_ctx_set_;
    if (driver->hip_owner)
        backend->stream_ctx = perf_hip_stream_ctx_;
    backend->name = "HIP";
    backend->flags = PERF_GPU_TABLE_AMD;
    if (version)
        backend->event_create = perf_hip_event_create_;
    if (!backend->error_peek || !version)
        return 1;
    if (version < PERF_HIP_KEEPS_ERRORS_)
        backend->error_waits = perf_hip_error_waits_;
    backend->event_record = perf_hip_event_record_;
    if (backend->stream_capturing)
        backend->stream_capturing = perf_hip_stream_capturing_;
    return 1;
}
#else
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_DRIVER_
#define PERF_GPU_FILL_CUDA_(field, cuda, hip)                                                     \
    perf_library_symbol_(library, "cu", cuda, &backend->field);
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_driver_ *driver, perf_gpu_backend *backend)
{
    static const char *const name[] = {"libcuda.so.1", PERF_NULL_};
    void                    *library = perf_library_open_(name);

    (void)driver;
    if (!library)
        return 0;
    PERF_GPU_LIST_(PERF_GPU_FILL_CUDA_)
    backend->name = "CUDA driver";
    return 1;
}
#endif

/* 1: the table has the nine functions that must be there. */
PERF_COLD_FN_ int perf_gpu_complete_(const perf_gpu_backend *backend)
{
    return backend->ctx_get && backend->event_create && backend->event_destroy &&
           backend->event_record && backend->event_query && backend->event_sync &&
           backend->event_elapsed && backend->stream_query && backend->stream_sync;
}

PERF_FN const perf_gpu_backend *perf_gpu_table(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    perf_registry_   *reg;

    if (!driver)
        return PERF_NULL_;
    if (PERF_ACQ_(&driver->table) || (PERF_ACQ_(&driver->looked) & PERF_GPU_NATIVE_))
        return PERF_ACQ_(&driver->table);
    reg = perf_registry_get_();
    if (!perf_lock_(reg))
        return PERF_NULL_;
    if (!driver->table && !(driver->looked & PERF_GPU_NATIVE_)) {
        memset(&driver->found, 0, sizeof driver->found);
        driver->found.size = PERF_CAST_(uint32_t, sizeof driver->found);
        if (perf_gpu_fill_native_(driver, &driver->found) && perf_gpu_complete_(&driver->found))
            PERF_REL_(&driver->table, PERF_CAST_(const perf_gpu_backend *, &driver->found));
        PERF_REL_(&driver->looked, driver->looked | PERF_GPU_NATIVE_);
    }
    perf_unlock_(&reg->lock);
    return PERF_ACQ_(&driver->table);
}

/* ---- errors and shut-down ---- */

/* "700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal ...", in the words of `backend`, which is not asked
 * while the program has an unread error; NULL: the driver has shut down.                         */
PERF_COLD_FN_ void perf_gpu_put_error_(perf_out_ *out, const perf_gpu_backend *backend, int code)
{
    const char *name = PERF_NULL_, *text = PERF_NULL_;
    int         asks = backend && code != PERF_GPU_UNREAD;

    if (!backend)
        text = "the driver has shut down";
    if (code == PERF_GPU_UNREAD)
        text = "the program has an unread error";
    if (asks && backend->error_waits && backend->error_waits())
        asks = 0;
    if (asks && backend->error_name && backend->error_name(code, &name))
        name = PERF_NULL_;
    if (asks && backend->error_text && backend->error_text(code, &text))
        text = PERF_NULL_;
    perf_putf_(out, "%.0f", PERF_CAST_(double, code));
    if (name)
        perf_putf_(out, " %s", name);
    if (text)
        perf_putf_(out, ": %s", text);
}

/* Keeps the first error, in the driver's words.  A shut-down ends all calls for good.  call
 * NULL: the program ends, which is no error.  PERF_GPU_UNREAD is the program's own error, and
 * not kept. */
PERF_COLD_FN_ void perf_gpu_error_(perf_gpu_driver_ *driver, const char *call, int code)
{
    const perf_gpu_backend *backend = PERF_ACQ_(&driver->table);
    perf_registry_         *reg = perf_registry_get_();
    perf_out_               out;

    if (code == PERF_GPU_SHUT_DOWN) {
        PERF_SET_(&driver->down, 1u);
        PERF_REL_(&driver->table, PERF_CAST_(const perf_gpu_backend *, PERF_NULL_));
        PERF_REL_(&driver->looked, UINT32_MAX);
        if (driver->on_down)
            driver->on_down(driver->state, PERF_NULL_); /* no event is used any more */
        backend = PERF_NULL_;
    }
    if (!call || code == PERF_GPU_UNREAD)
        return;
    PERF_SET_(&driver->fresh, 1u);
    perf_fail_(reg, PERF_EGPU);
    if (PERF_GET_(&driver->error) || !(backend || code == PERF_GPU_SHUT_DOWN) || !perf_lock_(reg))
        return;
    if (!driver->error) {
        out = perf_out_open_(driver->error_text, sizeof driver->error_text);
        perf_putf_(&out, "%s: ", call);
        perf_gpu_put_error_(&out, backend, code);
        PERF_REL_(&driver->error, code);
    }
    perf_unlock_(&reg->lock);
}

PERF_FN const char *perf_gpu_error_text(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();

    if (!driver || !PERF_ACQ_(&driver->error))
        return "";
    return driver->error_text;
}

PERF_FN perf_status perf_gpu_status(void)
{
    const perf_gpu_backend *backend = perf_gpu_table();
    perf_gpu_driver_       *driver = perf_gpu_driver_get_();
    void                   *ctx = PERF_NULL_;
    int                     code;

    if (!driver || PERF_TCC_)                   /* no weak thread-local data there */
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOGPU;
    if (PERF_GET_(&driver->down) || (backend && backend->error_waits && backend->error_waits()))
        return PERF_EGPU;
    if (!backend)
        return PERF_ENOGPU;
    code = backend->ctx_get(&ctx);
    if (code == PERF_GPU_SHUT_DOWN) {
        perf_gpu_error_(driver, "ctx_get", code);
        return PERF_EGPU;
    }
    if (code || !ctx)
        return PERF_ENOGPU;
    return PERF_OK;
}

/* ---- contexts ---- */

typedef struct perf_gpu_entered_ {
    void *before;               /* the context that was current */
    int   set;                  /* 1: another one is current now */
    int   mode;                 /* of stream capture, before */
    int   relaxed;              /* 1: the mode is another one now */
    int   waited;               /* the program's own unread error, before; 0: none */
} perf_gpu_entered_;

/* Undoes perf_gpu_enter_.  A call that fails is made once more, else the program would go on in our
 * mode and context. */
PERF_COLD_FN_ void perf_gpu_leave_(const perf_gpu_backend *backend, perf_gpu_entered_ *entered)
{
    int mode, code = 0, i;

    for (i = 0; entered->relaxed && i < 2; i++) {
        mode = entered->mode;
        code = backend->capture_mode(&mode);
        if (!code || code == PERF_GPU_SHUT_DOWN)
            break;
    }
    if (code == PERF_GPU_SHUT_DOWN)
        return;
    if (entered->set && backend->ctx_set(entered->before))
        (void)backend->ctx_set(entered->before);
    if (!entered->waited && backend->error_clear && backend->error_peek && backend->error_peek())
        (void)backend->error_clear();
}

/* Makes `ctx` current until perf_gpu_leave_, which clears our errors; NULL: the current one stays.
 * Captures of other threads are safe meanwhile.  Returns 0, or the driver's code: then
 * perf_gpu_leave_ must not follow.  PERF_GPU_UNREAD: any call would lose the program's error. */
PERF_COLD_FN_ int perf_gpu_enter_(const perf_gpu_backend *backend, void *ctx,
                                  perf_gpu_entered_ *entered)
{
    int code = 0;

    memset(entered, 0, sizeof *entered);
    if (backend->error_waits)
        entered->waited = backend->error_waits();
    if (entered->waited == PERF_GPU_SHUT_DOWN)
        return entered->waited;
    if (entered->waited)
        return PERF_GPU_UNREAD;
    if (backend->error_peek)
        entered->waited = backend->error_peek();
    if (ctx)
        code = backend->ctx_get(&entered->before);
    if (!code && ctx && entered->before != ctx) {
        code = PERF_GPU_NO_CURRENT_;
        if (backend->ctx_set)
            code = backend->ctx_set(ctx);
        entered->set = !code;
    }
    if (code) {
        perf_gpu_leave_(backend, entered);
        return code;
    }
    if (!backend->capture_mode)
        return 0;
    entered->mode = PERF_GPU_RELAXED_;
    code = backend->capture_mode(&entered->mode);
    entered->relaxed = !code;
    if (code == PERF_GPU_SHUT_DOWN)
        return code;
    return 0;                                   /* another error: it does without */
}

PERF_END_DECLS

#endif /* PERF_GPU_DRIVER_H */
