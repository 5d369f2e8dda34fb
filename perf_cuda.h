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

#ifndef PERF_GPU_SLOTS /* scopes of one thread and context that may be in flight, 2 events */
#define PERF_GPU_SLOTS 1024     /* each, created as they are needed; more are dropped and counted */
#endif
#ifndef PERF_HIP                /* 1: a file compiled by no GPU compiler looks for AMD's library */
#define PERF_HIP 0              /* (39 ms to load, so never unasked) instead of NVIDIA's */
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
 *  - event_elapsed answers 600 while either event is pending: it is the test for readiness. */
typedef void *perf_stream; /* cudaStream_t, CUstream, hipStream_t; NULL, 1, 2: the default ones */

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
    int (*ctx_set)(void *ctx);                  /* replaces the top of the stack */
    int (*ctx_push)(void *ctx);
    int (*ctx_pop)(void **ctx);
    int (*ctx_device)(int *device);             /* number of the current context's device */
    int (*stream_ctx)(void *stream, void **ctx);
    int (*device_count)(int *count);
    int (*device_attribute)(int *value, int attribute, int device); /* CU_DEVICE_ATTRIBUTE_... */
    int (*device_name)(char *name, int cap, int device);

    /* Streams: order, capture, graphs. */
    int (*stream_create)(void **stream, unsigned flags);        /* 1: not blocked by stream NULL */
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
    int (*stream_capturing)(void *stream, int *status); /* 0 no, 1 yes, 2 spoilt; 906: NULL */
                                                /* stream while a blocking one captures            */
    int (*capture_mode)(int *mode);             /* exchanges this thread's: 0 global, 2 relaxed */
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*graph_exec_destroy)(void *exec);
    int (*graph_destroy)(void *graph);
    int (*event_record_flags)(void *event, void *stream, unsigned flags);  /* 1: a node that each */
                                                /* launch of the graph times anew                  */

    /* Gates: what holds a stream back until the host says go. */
    int (*host_func)(void *stream, void (*fn)(void *), void *user);     /* fn may call no GPU API */
    int (*wait_value32)(void *stream, uint64_t address, uint32_t value, unsigned flags); /* 0: >= */
    int (*write_value32)(void *stream, uint64_t address, uint32_t value, unsigned flags);

    /* Memory. */
    int (*mem_info)(size_t *free_bytes, size_t *total_bytes); /* of the current context's device */
    int (*mem_alloc)(uint64_t *address, size_t bytes);
    int (*mem_free)(uint64_t address);
    int (*host_alloc)(void **p, size_t bytes, unsigned flags);  /* 2: mapped into the device */
    int (*host_free)(void *p);
    int (*host_address)(uint64_t *address, void *p, unsigned flags);    /* of mapped memory */
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);    /* asynchronous */
    int (*fill)(uint64_t to, unsigned char byte, size_t bytes, void *stream);
    int (*pool_get)(void **pool, int device);   /* what cudaMallocAsync takes from */
    int (*pool_value)(void *pool, int what, void *value); /* PERF_GPU_POOL_...; uint64_t out */

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

#define PERF_GPU_TABLE_PER_THREAD 1u    /* stream NULL is the calling thread's own */
#define PERF_GPU_TABLE_SIMULATED  2u    /* no hardware behind it: results say so */

#define PERF_GPU_POOL_RESERVED      5   /* pool_value: bytes held now */
#define PERF_GPU_POOL_RESERVED_HIGH 6   /* and the most so far */
#define PERF_GPU_POOL_USED          7   /* bytes handed out now */
#define PERF_GPU_POOL_USED_HIGH     8   /* and the most so far */

#define PERF_GPU_NOT_READY 600          /* codes that callers tell apart */
#define PERF_GPU_BAD_HANDLE 400         /* the stream or event is no more */
#define PERF_GPU_SHUT_DOWN 4            /* the driver has ended, before the program */

/* Installs a table for the whole process; NULL: looks for a driver again, as the first call does.
 * The table must stay valid until the next call of this.  What the old table had in flight is
 * forgotten, and counted as dropped.  Not while other threads are inside a GPU call of this file.
 * PERF_EINVAL for a table without its first nine functions or with an impossible size.           */
PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table);

/* The table in use, found on the first call (at most 1 ms without a driver, remembered); NULL: no
 * GPU library in this process or system.  Having a table does not mean that a context is current.
 * Valid until perf_gpu_use(); any thread; creates nothing on the device. */
PERF_FN const perf_gpu_backend *perf_gpu_table(void);

/* >>status ------------------------------------------------------------------------------------ */

/* PERF_OK when the calls below would record something in this thread now; PERF_ENOGPU without a
 * driver or without a current context (see perf_gpu_table()), PERF_EGPU once the driver has shut
 * down.  Creates nothing, waits for nothing.                                                     */
PERF_FN perf_status perf_gpu_status(void);

/* The first error a GPU call of this library met since the start or the last perf_reset(): the API's
 * number, 0 for none; and as text, "event_record: 700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal ...",
 * "" for none.  The text is static until the next perf_reset().                                  */
PERF_FN int         perf_gpu_error_code(void);
PERF_FN const char *perf_gpu_error_text(void);

/* >>scopes ------------------------------------------------------------------------------------
 *     PERF_GPU_SCOPE("gemm", stream);              device work enqueued on `stream` from here to the
 *                                                  end of the block
 *     PERF_GPU_COPY_IN("weights", stream);         the same for copies to the device,
 *     PERF_GPU_COPY_OUT("logits", stream);         from it,
 *     PERF_GPU_COPY("shuffle", stream);            and within it: classes of their own
 *     PERF_GPU_WAIT("loss.item");                  host time spent waiting for the device
 *
 * A scope is two event records and two readings of the host's counter; nothing waits, queries or
 * allocates once its events exist.  Results are fetched later: when the events run out, before
 * each report or trace, or when you call perf_gpu_collect().  They are rows of the same report and
 * lines of the same trace ("GPU 0 stream 1").  Scopes on streams that are being captured into a
 * graph are skipped and counted.  Any stream, thread, device and context; the thread's current
 * context is left as it was.  While none is current nothing is recorded and none is made.
 * Nested scopes of one stream nest.  A scope must end before its stream is destroyed.            */
typedef struct perf_gpu_scope {         /* private */
    struct perf_gpu_slot_ *slot;
} perf_gpu_scope;

typedef enum perf_gpu_kind {            /* what a scope's device time goes into */
    PERF_GPU_KERNEL = 6,
    PERF_GPU_IN = 7,                    /* host to device */
    PERF_GPU_OUT = 8,                   /* device to host */
    PERF_GPU_WITHIN = 9                 /* device to device */
} perf_gpu_kind;

/* Opens a scope with any text as its name (copied when first seen) on any stream; close it with
 * perf_gpu_scope_end, in this thread or another.                                                 */
PERF_FN perf_gpu_scope perf_gpu_scope_begin(const char *name, perf_stream stream);
PERF_FN perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream, perf_gpu_kind kind);

/* Closes it; NULL, a second end, and the end of a scope that records nothing do nothing. */
PERF_FN void perf_gpu_scope_end(perf_gpu_scope *scope);

/* Fetches what the device has finished; never waits for it.  PERF_ENOGPU without a GPU, PERF_EGPU
 * if the driver failed: what was fetched before is kept.  Takes a lock.                          */
PERF_FN perf_status perf_gpu_collect(void);

/* Waits for the scopes of the context that is current in this thread, fetches all results and ties
 * the device's clock to the host's more tightly (see perf_gpu_stats.aligned_ns).                 */
PERF_FN perf_status perf_gpu_collect_sync(void);

typedef struct perf_gpu_stats {         /* of one name or of all; times in ns, of fetched scopes */
    uint64_t scopes;
    double   device_ns;                 /* between the events, total */
    double   submit_ns;                 /* host time from begin to end of the scopes, total */
    double   lag_ns, lag_max_ns; /* begin on the host to start on the device: total, longest */
    double   busy_ns, span_ns; /* all names: device time with overlaps counted once; from */
                                        /* the first start to the last stop                        */
    double   aligned_ns;                /* all names: device times are this close to the host's */
                                        /* clock, worst case; < 0: not known                       */
    uint64_t pending;                   /* all names: ended, not fetched yet */
    uint64_t dropped;                   /* ring full, events lost, memory */
    uint64_t captured;                  /* skipped: the stream was being captured */
    uint64_t no_context;                /* skipped: no context current */
    uint64_t failed;                    /* the driver answered with an error */
    uint64_t no_gpu;                    /* skipped: no driver */
} perf_gpu_stats;

/* What is known so far; name NULL: of all scopes.  Fetches nothing itself. */
PERF_FN perf_gpu_stats perf_gpu_stats_of(const char *name);

/* >>memory ------------------------------------------------------------------------------------
 * Marks the end of a phase ("load", "forward"): bytes in use on the current context's device, what
 * that is more than at the mark before, and the peak, taken from the driver's memory pool where the
 * program allocates from it, from your notes, and from the marks themselves.  A table of the report.
 * PERF_ENOGPU without a current context, PERF_EGPU if the driver fails.  Asks the driver: some us. */
PERF_FN perf_status perf_gpu_memory_mark(const char *phase);

/* Notes an allocation (bytes > 0) or what was given back (< 0) under a name of yours, NULL for none.
 * Also for what you only plan: the report names the first phase that would not fit.  NaN and
 * infinite numbers: PERF_EINVAL.                                                                 */
PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes);

/* >>bottleneck --------------------------------------------------------------------------------
 * What held the program back, from what was recorded.                                            */
#define PERF_BOUND_LIST_(X)                                                                       \
    X(PERF_BOUND_UNKNOWN, "cannot tell")                                                          \
    X(PERF_BOUND_DATA,    "data-bound")                                                           \
    X(PERF_BOUND_HOST,    "host-bound")                                                           \
    X(PERF_BOUND_SYNC,    "sync-bound")                                                           \
    X(PERF_BOUND_DEVICE,  "device-bound")                                                         \
    X(PERF_BOUND_COPY,    "copy-bound")
#define PERF_BOUND_ENUM_(name, text) name,
/* DATA: over 30 % of the main thread's time in scopes waits for data.  DEVICE: busy for 80 % or
 * more; COPY: most of that copies.  SYNC: neither, and over 30 % of that time waits for the device.
 * HOST: neither, and the device stood idle until the host launched something.  UNKNOWN: no
 * evidence, or none of these. */
typedef enum perf_bound { PERF_BOUND_LIST_(PERF_BOUND_ENUM_) PERF_BOUND_COUNT_ } perf_bound;
#undef PERF_BOUND_ENUM_

typedef struct perf_bottleneck_info {   /* shares are 0 .. 1; negative: no evidence */
    perf_bound bound;
    double     wait_share;              /* of the main thread's time in scopes: in PERF_WAIT */
    double     sync_share;              /* in PERF_GPU_WAIT */
    double     busy_share;              /* device busy, from its first start to its last stop */
    double     copy_share;              /* of the device's time */
    double     starved_share;           /* of the device's span: idle, with nothing submitted */
} perf_bottleneck_info;

/* Fetches device results first.  The text is one line with the numbers in it, also a line of the
 * report; written as snprintf would: returns its full length.  info may be NULL, buf too (with cap
 * 0).  Allocates, takes locks. */
PERF_FN size_t perf_bottleneck(char *buf, size_t cap, perf_bottleneck_info *info);

/* Static English text of a perf_bound; never NULL. */
PERF_FN const char *perf_bound_text(perf_bound bound);

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
    X(device_attribute, "cuDeviceGetAttribute", "", "")     /* HIP numbers its own way */ \
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
    X(module_load, "cuModuleLoadData", "", "")              /* ours are PTX */ \
    X(module_unload, "cuModuleUnload", "", "")                                                    \
    X(module_function, "cuModuleGetFunction", "", "")                                             \
    X(launch, "cuLaunchKernel", "", "")                                                           \
    X(error_name, "cuGetErrorName", "", "")                                                       \
    X(error_text, "cuGetErrorString", "", "")                                                     \
    X(ctx_sync, "cuCtxSynchronize", "", "hipDeviceSynchronize")

/* A moment in ticks.  x86 reads its counter as two halves, which go into memory as they come:
 * putting them together takes two instructions more. */
typedef union perf_gpu_time_ {
    uint64_t ticks;
    uint32_t half[2];
} perf_gpu_time_;

/* A distance between two events, as drivers tell it.  The bits of a float order as the float does,
 * and those of a negative one and of NaN come after all others: one integer compare sees them all. */
typedef union perf_gpu_ms_ {
    float    ms;
    uint32_t bits;
} perf_gpu_ms_;
#define PERF_GPU_MS_NEAR_ UINT32_C(0x41000000)  /* 8 ms */
#define PERF_GPU_MS_END_  UINT32_C(0x7f800000)  /* infinite */

/* One scope.  Its thread fills it; the upper half of `end`, written last, hands it to whoever
 * collects, who hands it back through the ring's `returned`.                                     */
typedef struct perf_gpu_slot_ {
    uintptr_t key;              /* of the stream it was last used on, if the short way will do */
    void *stream;
    void *start, *stop;         /* events; NULL until first needed */
    void *arg;                  /* what the end records: `stop`, or for the long way the slot */
    int (*record)(void *event, void *stream);
    int (*capturing)(void *stream, int *status);
    perf_gpu_time_ begin, end;  /* before the first record, 0: free; after the second, or not yet */
    int32_t  code[2];           /* of the records; with the first PERF_GPU_LONG_ */
    int32_t  capture;
    uint32_t depth;
    perf_site_ *site;           /* whose name it is; may have no id yet */
    struct perf_gpu_slot_ *next;
    struct perf_gpu_ring_ *ring;
    perf_gpu_ms_ length, since; /* while collecting: start to stop, the line's anchor to start */
    double   start_ns;          /* on the line */
    uint64_t at, after;         /* start on the device in ticks of the host; copy of `end` */
} perf_gpu_slot_;
#define PERF_GPU_LONG_ (1 << 30)
#define PERF_GPU_NOT_YET_ (~UINT64_C(0))        /* `end` of a scope that is open, or of none */
#if PERF_ARCH_X86_ && !PERF_TSAN_
#define PERF_GPU_ENDED_(s) (PERF_ACQ_(&(s)->end.half[1]) != UINT32_C(0xffffffff))
#else
#define PERF_GPU_ENDED_(s) (PERF_ACQ_(&(s)->end.ticks) != PERF_GPU_NOT_YET_)
#endif
/* One more than the stream, so that memory wiped by a fork does not look like stream NULL. */
#define PERF_GPU_KEY_(stream) (PERF_PTR_(uintptr_t, stream) + 1)
#define PERF_GPU_NEVER_ (~PERF_CAST_(uintptr_t, 0))

/* Of one context: the clock of its events, tied to the host's. */
typedef struct perf_gpu_line_ {
    struct perf_gpu_line_ *next;
    void    *ctx;
    int32_t  device;
    uint32_t known;             /* the rest says something */
    void    *anchor;            /* an event of ours whose time is `anchor_ns` */
    double   anchor_ns;         /* device ns since the first anchor */
    double   ref_ns, ref_ticks; /* one moment on both clocks, ref_ticks since `origin` */
    double   slack_ns;          /* how much later ref_ticks could be; < 0: not known */
    double   worst_ns;          /* largest slack of any scope placed */
    double   first_ns, last_ns; /* device: first start, last stop */
    double   busy_ns, busy_until_ns, starved_ns, debt_ns;      /* debt: drift not given back      */
    uint64_t origin;
} perf_gpu_line_;

typedef struct perf_gpu_track_ {        /* one stream */
    struct perf_gpu_track_ *next;
    void            *stream;
    perf_gpu_line_  *line;
    perf_recorder_  *recorder;
} perf_gpu_track_;

/* One thread's slots of one context. */
typedef struct perf_gpu_ring_ {
    struct perf_gpu_ring_ *next, *mine; /* all; of one thread */
    void           *ctx;
    perf_gpu_line_ *line;
    perf_gpu_slot_ *free;               /* while another ring of the thread is in use */
    perf_gpu_slot_ *returned;           /* atomic stack */
    uint64_t        thread;             /* whose it is */
    uint32_t        made, generation;
    uint32_t        from;               /* slot at which the oldest scope is looked for */
    uint32_t        cap, retry;         /* retry: full, so many begins until the next attempt */
    uint32_t        spare;
    perf_gpu_slot_ *slot;               /* cap of them, pages come as they are touched */
    perf_gpu_slot_ **batch;
} perf_gpu_ring_;

typedef struct perf_gpu_known_ {
    void           *stream;
    perf_gpu_ring_ *ring;
} perf_gpu_known_;

/* What a thread knows, in each image; pages that a forked child sees as zeros. */
typedef struct perf_gpu_thread_ {
    struct perf_gpu_state_ *home;
    perf_gpu_ring_         *ring;       /* whose free slots perf_gpu_self_v1_.next walks */
    perf_gpu_ring_         *rings;
    uint32_t                generation, spare;
    perf_gpu_known_         known[64];
} perf_gpu_thread_;

typedef struct perf_gpu_row_ {          /* one name: what the cells do not hold.  No two sums are */
    uint64_t scopes, lag_max, submit;   /* neighbours: see perf_cell_.  In ticks */
    double   device_ns;
    uint64_t lag;
} perf_gpu_row_;

typedef struct perf_gpu_mark_ {
    struct perf_gpu_mark_ *next;
    perf_name_            *name;
    double                 used, total, peak, noted, pool_high;
    int32_t                device;
    uint32_t               spare;
} perf_gpu_mark_;

/* One for all images of the process, hung into the registry; never freed. */
typedef struct perf_gpu_state_ {
    uint32_t                size, abi;
    const perf_gpu_backend *table;      /* NULL: nothing found, nobody has looked, or shut down */
    uint32_t                looked;     /* PERF_GPU_LOOKED_ bits */
    uint32_t                lock;       /* thread that collects; 0: free */
    uint32_t                generation; /* of the table */
    uint32_t                down;       /* the driver has shut down */
    int32_t                 error;      /* the first */
    uint32_t                tracks_made;
    uint32_t                at_exit, spare;
    perf_gpu_backend        found;      /* what `table` points to unless it was installed */
    void                   *nvml;       /* perf_gpu_nvml_, once somebody asked for a clock */
    perf_gpu_ring_         *rings;
    perf_gpu_line_         *lines;
    perf_gpu_track_        *tracks;
    perf_gpu_row_          *row[64];    /* by name id, 64 in each */
    perf_gpu_mark_         *marks;      /* newest first */
    uint64_t                dropped, captured, no_context, failed, no_gpu;
    uint64_t                birth;      /* ticks of the last reset */
    double                  noted, noted_peak;
    int                   (*hip_get)(int *);
    int                   (*hip_set)(int);
    const char           *(*hip_text[2])(int);
    char                   *pool, *pool_end;
    perf_source_            source;
    char                    error_text[240];
    perf_gpu_row_           rest[4];    /* names without a row of their own, by class */
} perf_gpu_state_;
#define PERF_GPU_LOOKED_DRIVER_  1u
#define PERF_GPU_LOOKED_RUNTIME_ 2u
#define PERF_GPU_LOOKED_HIP_     4u
#define PERF_GPU_LOOKED_ALL_     7u     /* installed by hand */

/* The calling thread's next free slot, and what else it has.  One an image; zero at the start. */
typedef struct perf_gpu_self_ {
    perf_gpu_slot_   *next;
    perf_gpu_thread_ *thread;
} perf_gpu_self_;
#if PERF_TCC_ || PERF_MSVC_
#define PERF_GPU_HERE_ 0                /* no weak thread-local data: the calls say PERF_ENOGPU */
static perf_gpu_self_ *perf_gpu_self_none_(void)
{
    static perf_gpu_self_ none;
    return &none;
}
#define perf_gpu_self_v1_ (*perf_gpu_self_none_())
#else
#define PERF_GPU_HERE_ 1
extern PERF_WEAK_ PERF_THREAD_ perf_gpu_self_ perf_gpu_self_v1_;
PERF_WEAK_ PERF_THREAD_ perf_gpu_self_ perf_gpu_self_v1_;
#endif

PERF_COLD_DECL_ void perf_gpu_collect_(perf_registry_ *);
PERF_COLD_DECL_ void perf_gpu_report_(perf_out_ *);
PERF_COLD_DECL_ void perf_gpu_reset_(void);

#if defined(__linux__) && PERF_LP64_UNIX_ && !PERF_TCC_
#define PERF_GPU_DL_ 1
/* Weak: older systems have them in a library of their own, which nobody is asked to link. */
struct perf_dl_info_ {
    const char *file;
    void       *base;
    const char *symbol;
    void       *at;
};
extern void *perf_dlopen_(const char *, int) __asm__(PERF_SYM_("dlopen")) PERF_ATTR_((__weak__));
extern void *perf_dlsym_(void *, const char *) __asm__(PERF_SYM_("dlsym")) PERF_ATTR_((__weak__));
extern int   perf_dladdr_(const void *, struct perf_dl_info_ *) __asm__(PERF_SYM_("dladdr"))
    PERF_ATTR_((__weak__));
extern PERF_WEAK_ int perf_gpu_stays_v1_;
PERF_WEAK_ int        perf_gpu_stays_v1_;

/* The process keeps pointers to functions of this shared object from here on (who collects, what a
 * slot records with), so a dlclose must leave it where it is.                                    */
PERF_COLD_FN_ void perf_gpu_stay_(void)
{
    struct perf_dl_info_ here = PERF_ZERO;

    PERF_SET_(&perf_gpu_stays_v1_, 1);
    if (perf_dlopen_ != PERF_NULL_ && perf_dladdr_ != PERF_NULL_ &&
        perf_dladdr_(&perf_anchor_v1_, &here) && here.file)
        (void)perf_dlopen_(here.file, 1 | 4 | 0x1000);  /* lazy, only if loaded, never unload     */
}
#else
#define PERF_GPU_DL_ 0
#endif

/* NULL without memory. */
PERF_COLD_FN_ perf_gpu_state_ *perf_gpu_state_get_(void)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g;

    if (!r)
        return PERF_NULL_;
#if PERF_GPU_DL_
    if (!PERF_GET_(&perf_gpu_stays_v1_))
        perf_gpu_stay_();
#endif
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
            g->source.collect = perf_gpu_collect_;
            g->source.report = perf_gpu_report_;
            g->source.reset = perf_gpu_reset_;
            PERF_REL_(&r->gpu, PERF_CAST_(void *, g));
        }
    }
    perf_unlock_(r);
    if (g)
        perf_source_add_(r, &g->source);
    return g;
}

#if PERF_GPU_DL_
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
            h = perf_dlopen_(name[i], loaded ? 1 | 4 : 1);      /* lazy, local; 4: only if loaded */
    return h;
}

/* Function pointers come out of dlsym as data pointers: copied, since no cast is allowed. */
PERF_COLD_FN_ void perf_gpu_symbol_(void *library, const char *name, const char *older, void *field)
{
    void *p = *name ? perf_dlsym_(library, name) : PERF_NULL_;

    if (!p && *older)
        p = perf_dlsym_(library, older);
    if (p)
        memcpy(field, &p, sizeof p);
}

/* What the driver has; fields it lacks stay as they are. */
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
PERF_COLD_FN_ int perf_gpu_fill_driver_(perf_gpu_backend *t)
{
    (void)t;
    return 0;
}
#endif

/* ---- table: the CUDA runtime ---- */

#if defined(__CUDACC__) && !PERF_DISABLE
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_RUNTIME_
/* A failed call must not be what the user's next cudaGetLastError() finds; and while an error of his
 * waits there, calls that may fail by nature are not made at all. */
PERF_FN int perf_gpu_rt_(cudaError_t e)
{
    if (e != cudaSuccess)
        (void)cudaGetLastError();
    return PERF_CAST_(int, e);
}

#define PERF_RT_(name, parameters, call)                                                          \
    PERF_FN int perf_rt_##name##_ parameters                                                      \
    {                                                                                             \
        return perf_gpu_rt_(call);                                                                \
    }
#define PERF_RT_MAYBE_(name, parameters, call)                                                    \
    PERF_FN int perf_rt_##name##_ parameters                                                      \
    {                                                                                             \
        return cudaPeekAtLastError() != cudaSuccess ? PERF_GPU_NOT_READY : perf_gpu_rt_(call);    \
    }
#define PERF_RT_EVENT_(e)  PERF_CAST_(cudaEvent_t, e)
#define PERF_RT_STREAM_(s) PERF_CAST_(cudaStream_t, s)
PERF_RT_(event_destroy, (void *e), cudaEventDestroy(PERF_RT_EVENT_(e)))
PERF_RT_(event_record, (void *e, void *s), cudaEventRecord(PERF_RT_EVENT_(e), PERF_RT_STREAM_(s)))
PERF_RT_MAYBE_(event_query, (void *e), cudaEventQuery(PERF_RT_EVENT_(e)))
PERF_RT_(event_sync, (void *e), cudaEventSynchronize(PERF_RT_EVENT_(e)))
PERF_RT_MAYBE_(event_elapsed, (float *ms, void *a, void *b),
               cudaEventElapsedTime(ms, PERF_RT_EVENT_(a), PERF_RT_EVENT_(b)))
PERF_RT_MAYBE_(stream_query, (void *s), cudaStreamQuery(PERF_RT_STREAM_(s)))
PERF_RT_(stream_sync, (void *s), cudaStreamSynchronize(PERF_RT_STREAM_(s)))
PERF_RT_(stream_destroy, (void *s), cudaStreamDestroy(PERF_RT_STREAM_(s)))
PERF_RT_(stream_wait, (void *s, void *e, unsigned flags),
         cudaStreamWaitEvent(PERF_RT_STREAM_(s), PERF_RT_EVENT_(e), flags))
PERF_RT_(device_count, (int *n), cudaGetDeviceCount(n))
PERF_RT_(ctx_device, (int *device), cudaGetDevice(device))
PERF_RT_(capture_begin, (void *s, int mode),
         cudaStreamBeginCapture(PERF_RT_STREAM_(s), PERF_CAST_(cudaStreamCaptureMode, mode)))
PERF_RT_(graph_launch, (void *exec, void *s),
         cudaGraphLaunch(PERF_CAST_(cudaGraphExec_t, exec), PERF_RT_STREAM_(s)))
PERF_RT_(graph_exec_destroy, (void *exec), cudaGraphExecDestroy(PERF_CAST_(cudaGraphExec_t, exec)))
PERF_RT_(graph_destroy, (void *graph), cudaGraphDestroy(PERF_CAST_(cudaGraph_t, graph)))
PERF_RT_(event_record_flags, (void *e, void *s, unsigned flags),
         cudaEventRecordWithFlags(PERF_RT_EVENT_(e), PERF_RT_STREAM_(s), flags))
PERF_RT_(host_func, (void *s, void (*fn)(void *), void *user),
         cudaLaunchHostFunc(PERF_RT_STREAM_(s), fn, user))
PERF_RT_(mem_info, (size_t * free_bytes, size_t *total_bytes), cudaMemGetInfo(free_bytes, total_bytes))
PERF_RT_(mem_free, (uint64_t p), cudaFree(reinterpret_cast<void *>(p)))
PERF_RT_(host_alloc, (void **p, size_t bytes, unsigned flags), cudaHostAlloc(p, bytes, flags))
PERF_RT_(host_free, (void *p), cudaFreeHost(p))
PERF_RT_(copy, (uint64_t to, uint64_t from, size_t bytes, void *s),
         cudaMemcpyAsync(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes,
                         cudaMemcpyDefault, PERF_RT_STREAM_(s)))
PERF_RT_(fill, (uint64_t to, unsigned char byte, size_t bytes, void *s),
         cudaMemsetAsync(reinterpret_cast<void *>(to), byte, bytes, PERF_RT_STREAM_(s)))
PERF_RT_(pool_value, (void *pool, int what, void *value),
         cudaMemPoolGetAttribute(PERF_CAST_(cudaMemPool_t, pool),
                                 PERF_CAST_(cudaMemPoolAttr, what), value))

/* Those whose outputs have types of their own. */
#define PERF_RT_OUT_(name, type, parameters, call, as)                                            \
    PERF_FN int perf_rt_##name##_ parameters                                                      \
    {                                                                                             \
        type      got = {};                                                                       \
        const int code = perf_gpu_rt_(call);                                                      \
        if (!code)                                                                                \
            *out = as;                                                                            \
        return code;                                                                              \
    }
PERF_RT_OUT_(event_create, cudaEvent_t, (void **out, unsigned flags),
             cudaEventCreateWithFlags(&got, flags), got)
PERF_RT_OUT_(stream_create, cudaStream_t, (void **out, unsigned flags),
             cudaStreamCreateWithFlags(&got, flags), got)
PERF_RT_OUT_(stream_capturing, cudaStreamCaptureStatus, (void *s, int *out),
             cudaStreamIsCapturing(PERF_RT_STREAM_(s), &got), PERF_CAST_(int, got))
PERF_RT_OUT_(capture_end, cudaGraph_t, (void *s, void **out),
             cudaStreamEndCapture(PERF_RT_STREAM_(s), &got), got)
PERF_RT_OUT_(graph_instantiate, cudaGraphExec_t, (void **out, void *graph, unsigned long long flags),
             cudaGraphInstantiateWithFlags(&got, PERF_CAST_(cudaGraph_t, graph), flags), got)
PERF_RT_OUT_(mem_alloc, void *, (uint64_t *out, size_t bytes), cudaMalloc(&got, bytes),
             reinterpret_cast<uint64_t>(got))
PERF_RT_OUT_(host_address, void *, (uint64_t *out, void *p, unsigned flags),
             cudaHostGetDevicePointer(&got, p, flags), reinterpret_cast<uint64_t>(got))
PERF_RT_OUT_(pool_get, cudaMemPool_t, (void **out, int device), cudaDeviceGetMemPool(&got, device),
             got)
PERF_RT_OUT_(device_attribute, int, (int *out, int attribute, int device),
             cudaDeviceGetAttribute(&got, PERF_CAST_(cudaDeviceAttr, attribute), device), got)

PERF_FN int perf_rt_error_name_(int code, const char **text)
{
    *text = cudaGetErrorName(PERF_CAST_(cudaError_t, code));
    return 0;
}

PERF_FN int perf_rt_error_text_(int code, const char **text)
{
    *text = cudaGetErrorString(PERF_CAST_(cudaError_t, code));
    return 0;
}

/* Where the driver cannot be asked about contexts a device number stands for its primary one. */
PERF_FN int perf_rt_ctx_get_(void **ctx)
{
    int       device = 0;
    const int code = perf_gpu_rt_(cudaGetDevice(&device));

    *ctx = code ? nullptr : reinterpret_cast<void *>(PERF_CAST_(uintptr_t, device) + 1);
    return code;
}

PERF_FN int perf_rt_ctx_set_(void *ctx)
{
    return perf_gpu_rt_(cudaSetDevice(PERF_CAST_(int, reinterpret_cast<uintptr_t>(ctx) - 1)));
}

#if CUDART_VERSION >= 12080
PERF_RT_OUT_(stream_ctx, int, (void *s, void **out), cudaStreamGetDevice(PERF_RT_STREAM_(s), &got),
             reinterpret_cast<void *>(PERF_CAST_(uintptr_t, got) + 1))
#endif

#define PERF_RT_FIELDS_(X)                                                                        \
    X(event_create) X(event_destroy) X(event_record) X(event_query) X(event_sync)                 \
    X(event_elapsed) X(stream_query) X(stream_sync) X(device_count) X(device_attribute)           \
    X(ctx_device) X(stream_create) X(stream_destroy) X(stream_wait) X(stream_capturing)           \
    X(capture_begin) X(capture_end) X(graph_instantiate) X(graph_launch) X(graph_exec_destroy)    \
    X(graph_destroy) X(event_record_flags) X(host_func) X(mem_info) X(mem_alloc) X(mem_free)      \
    X(host_alloc) X(host_free) X(host_address) X(copy) X(fill) X(pool_get) X(pool_value)          \
    X(error_name) X(error_text)
#define PERF_RT_SET_(f) t->f = perf_rt_##f##_;

/* The runtime does the work.  The driver, where it can be reached, tells which context is current
 * (the runtime would make one to answer), and whether an event is ready, so that "not ready" is
 * not left behind as the runtime's last error. */
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_state_ *g, perf_gpu_backend *t)
{
    perf_gpu_backend driver = perf_gpu_backend();
    int              version = 0;

    (void)g;
    if (perf_gpu_fill_driver_(&driver) && driver.ctx_get)
        *t = driver;
    else if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0)
        return 0;
    PERF_RT_FIELDS_(PERF_RT_SET_)
    t->name = "CUDA runtime";
    if (driver.ctx_get) {
        if (driver.event_elapsed)
            t->event_elapsed = driver.event_elapsed;
        if (driver.event_query)
            t->event_query = driver.event_query;
        if (driver.ctx_device)
            t->ctx_device = driver.ctx_device;
        return 1;
    }
    t->ctx_get = perf_rt_ctx_get_;
    t->ctx_set = perf_rt_ctx_set_;
#if CUDART_VERSION >= 12080
    t->stream_ctx = perf_rt_stream_ctx_;
#endif
    return 1;
}

/* ---- table: HIP ---- */

#elif (defined(__HIPCC__) || PERF_HIP) && !PERF_DISABLE && (PERF_GPU_DL_ || defined(__HIPCC__))
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_HIP_
/* HIP's contexts are its devices: number + 1 is the handle.  Setting a device makes nothing. */
PERF_FN int perf_hip_ctx_get_(void **ctx)
{
    perf_gpu_state_ *g = perf_gpu_state_get_();
    int              device = 0, code = g->hip_get(&device);

    *ctx = code ? PERF_NULL_ : PERF_PTR_(void *, PERF_CAST_(uintptr_t, device) + 1);
    return code;
}

PERF_FN int perf_hip_ctx_set_(void *ctx)
{
    return perf_gpu_state_get_()->hip_set(PERF_CAST_(int, PERF_PTR_(uintptr_t, ctx) - 1));
}

PERF_FN int perf_hip_error_name_(int code, const char **text)
{
    *text = perf_gpu_state_get_()->hip_text[0](code);
    return 0;
}

PERF_FN int perf_hip_error_text_(int code, const char **text)
{
    *text = perf_gpu_state_get_()->hip_text[1](code);
    return 0;
}

PERF_COLD_FN_ void perf_hip_finish_(perf_gpu_backend *t)
{
    t->ctx_get = perf_hip_ctx_get_;
    t->ctx_set = perf_hip_ctx_set_;
    t->error_name = perf_hip_error_name_;
    t->error_text = perf_hip_error_text_;
    t->name = "HIP";
}

#if defined(__HIPCC__)
PERF_END_DECLS
#include <hip/hip_runtime_api.h>
PERF_BEGIN_DECLS
/* The same functions, linked instead of looked up: their C signatures differ from the table's only
 * in pointer types that are all one machine word. */
PERF_FN void perf_hip_put_(void *field, const void *function)
{
    memcpy(field, &function, sizeof function);
}
#define PERF_HIP_SET_(field, function) perf_hip_put_(&(field), reinterpret_cast<const void *>(function))

#if defined(__HIP_CPU_RT__)
/* HIP-CPU, which runs HIP on the host: it captures nothing, cannot be asked whether an event is ready,
 * and waits for the two whose distance is wanted. */
PERF_FN int perf_hip_cpu_query_(void *event)
{
    const auto &done = is_done(*static_cast<hipEvent_t>(event));

    return done.valid() && done.wait_for(std::chrono::seconds(0)) != std::future_status::ready
               ? PERF_GPU_NOT_READY : 0;
}

PERF_FN int perf_hip_cpu_elapsed_(float *ms, void *start, void *stop)
{
    if (perf_hip_cpu_query_(start) || perf_hip_cpu_query_(stop))
        return PERF_GPU_NOT_READY;
    return hipEventElapsedTime(ms, static_cast<hipEvent_t>(start), static_cast<hipEvent_t>(stop));
}
#endif

PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_state_ *g, perf_gpu_backend *t)
{
    int devices = 0;

    if (hipGetDeviceCount(&devices) != hipSuccess || devices < 1)
        return 0;
    PERF_HIP_SET_(g->hip_get, hipGetDevice);
    PERF_HIP_SET_(g->hip_set, hipSetDevice);
    PERF_HIP_SET_(g->hip_text[0], hipGetErrorName);
    PERF_HIP_SET_(g->hip_text[1], hipGetErrorString);
    PERF_HIP_SET_(t->event_create, hipEventCreateWithFlags);
    PERF_HIP_SET_(t->event_destroy, hipEventDestroy);
    PERF_HIP_SET_(t->event_record, PERF_CAST_(hipError_t (*)(hipEvent_t, hipStream_t), hipEventRecord));
    PERF_HIP_SET_(t->event_sync, hipEventSynchronize);
    PERF_HIP_SET_(t->stream_query, hipStreamQuery);
    PERF_HIP_SET_(t->stream_sync, hipStreamSynchronize);
    PERF_HIP_SET_(t->ctx_device, hipGetDevice);
    PERF_HIP_SET_(t->device_count, hipGetDeviceCount);
    PERF_HIP_SET_(t->stream_create, hipStreamCreateWithFlags);
    PERF_HIP_SET_(t->stream_destroy, hipStreamDestroy);
    PERF_HIP_SET_(t->stream_wait, hipStreamWaitEvent);
#if defined(__HIP_CPU_RT__)
    t->event_query = perf_hip_cpu_query_;
    t->event_elapsed = perf_hip_cpu_elapsed_;
#else
    PERF_HIP_SET_(t->event_query, hipEventQuery);
    PERF_HIP_SET_(t->event_elapsed, hipEventElapsedTime);
    PERF_HIP_SET_(t->stream_capturing, hipStreamIsCapturing);
    PERF_HIP_SET_(t->capture_mode, hipThreadExchangeStreamCaptureMode);
    PERF_HIP_SET_(t->capture_begin, hipStreamBeginCapture);
    PERF_HIP_SET_(t->capture_end, hipStreamEndCapture);
    PERF_HIP_SET_(t->graph_instantiate, hipGraphInstantiateWithFlags);
    PERF_HIP_SET_(t->graph_launch, hipGraphLaunch);
    PERF_HIP_SET_(t->graph_exec_destroy, hipGraphExecDestroy);
    PERF_HIP_SET_(t->graph_destroy, hipGraphDestroy);
    PERF_HIP_SET_(t->pool_get, hipDeviceGetMemPool);
    PERF_HIP_SET_(t->pool_value, hipMemPoolGetAttribute);
#if HIP_VERSION_MAJOR >= 6                      /* declared before, but not there                 */
    PERF_HIP_SET_(t->host_func, hipLaunchHostFunc);
#endif
#endif
    PERF_HIP_SET_(t->mem_info, hipMemGetInfo);
    PERF_HIP_SET_(t->mem_alloc, PERF_CAST_(hipError_t (*)(void **, size_t), hipMalloc));
    PERF_HIP_SET_(t->mem_free, hipFree);
    PERF_HIP_SET_(t->host_free, hipHostFree);
    PERF_HIP_SET_(t->fill, hipMemsetD8Async);
    PERF_HIP_SET_(t->ctx_sync, hipDeviceSynchronize);
    perf_hip_finish_(t);
    return 1;
}
#else
#define PERF_GPU_FILL_HIP_(f, cuda, older, hip) perf_gpu_symbol_(library, hip, "", &t->f);
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_state_ *g, perf_gpu_backend *t)
{
    static const char *const name[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                       "libamdhip64.so", PERF_NULL_};
    void                    *library = perf_gpu_library_(name);
    int                      devices = 0;

    if (!library)
        return 0;
    PERF_GPU_LIST_(PERF_GPU_FILL_HIP_)
    perf_gpu_symbol_(library, "hipGetDevice", "", &g->hip_get);
    perf_gpu_symbol_(library, "hipSetDevice", "", &g->hip_set);
    perf_gpu_symbol_(library, "hipGetErrorName", "", &g->hip_text[0]);
    perf_gpu_symbol_(library, "hipGetErrorString", "", &g->hip_text[1]);
    if (!g->hip_get || !g->hip_set || !g->hip_text[0] || !g->hip_text[1] || !t->device_count ||
        t->device_count(&devices) || devices < 1)
        return 0;
    perf_hip_finish_(t);
    return 1;
}
#endif
#else
#define PERF_GPU_NATIVE_ PERF_GPU_LOOKED_DRIVER_
PERF_COLD_FN_ int perf_gpu_fill_native_(perf_gpu_state_ *g, perf_gpu_backend *t)
{
    (void)g;
    return perf_gpu_fill_driver_(t);
}
#endif

PERF_COLD_FN_ int perf_gpu_complete_(const perf_gpu_backend *t)
{
    return t->ctx_get && t->event_create && t->event_destroy && t->event_record &&
           t->event_query && t->event_sync && t->event_elapsed && t->stream_query &&
           t->stream_sync;
}

PERF_FN const perf_gpu_backend *perf_gpu_table(void)
{
    perf_gpu_state_        *g = PERF_DISABLE ? PERF_CAST_(perf_gpu_state_ *, PERF_NULL_)
                                             : perf_gpu_state_get_();
    perf_registry_         *r;
    perf_gpu_backend        t = PERF_ZERO;

    if (!g)
        return PERF_NULL_;
    if (PERF_ACQ_(&g->table) || (PERF_ACQ_(&g->looked) & PERF_GPU_NATIVE_))
        return PERF_ACQ_(&g->table);
    r = perf_registry_get_();
    if (!perf_lock_(r))
        return PERF_NULL_;
    if (!g->table && !(g->looked & PERF_GPU_NATIVE_)) {
        if (perf_gpu_fill_native_(g, &t) && perf_gpu_complete_(&t)) {
            t.size = PERF_CAST_(uint32_t, sizeof t);
            g->found = t;
            PERF_REL_(&g->table, PERF_CAST_(const perf_gpu_backend *, &g->found));
        }
        PERF_REL_(&g->looked, g->looked | PERF_GPU_NATIVE_);
    }
    perf_unlock_(r);
    return PERF_ACQ_(&g->table);
}

/* ---- errors and shut-down ---- */

PERF_FN int perf_gpu_record_dead_(void *event, void *stream)
{
    (void)event;
    (void)stream;
    return PERF_GPU_SHUT_DOWN;
}

PERF_FN int perf_gpu_not_capturing_(void *stream, int *status)
{
    (void)stream;
    (void)status;
    return 0;
}

/* Function pointers that other threads replace: one word, never torn.  (nvcc's front end crashes on
 * an atomic store of one.) */
#if PERF_TSAN_
#define PERF_GPU_FN_(field, f) PERF_SET_(&(field), f)
#else
#define PERF_GPU_FN_(field, f) ((void)((field) = (f)))
#endif

/* From now on no slot calls anything: threads in the middle of the short way find these. */
PERF_COLD_FN_ void perf_gpu_deaden_(perf_gpu_state_ *g)
{
    int (*const record)(void *, void *) = perf_gpu_record_dead_;
    int (*const capturing)(void *, int *) = perf_gpu_not_capturing_;
    perf_gpu_ring_ *ring;
    uint32_t        i;

    for (ring = PERF_ACQ_(&g->rings); ring; ring = ring->next)
        for (i = 0; i < PERF_ACQ_(&ring->made); i++) {
            PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
            PERF_GPU_FN_(ring->slot[i].record, record);
            PERF_GPU_FN_(ring->slot[i].capturing, capturing);
        }
}

/* Keeps the first error with the driver's own words.  A shut-down ends all calls for good; it is no
 * error when we are told of it at the exit (`call` NULL). */
PERF_COLD_FN_ void perf_gpu_error_(perf_gpu_state_ *g, const char *call, int code)
{
    const perf_gpu_backend *b = PERF_ACQ_(&g->table);
    perf_registry_         *r = perf_registry_get_();
    const char             *name = PERF_NULL_, *text = PERF_NULL_;
    perf_out_               o = PERF_ZERO;

    if (code == PERF_GPU_SHUT_DOWN) {
        PERF_SET_(&g->down, 1u);
        PERF_REL_(&g->table, PERF_CAST_(const perf_gpu_backend *, PERF_NULL_));
        PERF_REL_(&g->looked, PERF_GPU_LOOKED_ALL_);
        perf_gpu_deaden_(g);
        text = "the driver has shut down";      /* it is not asked for words any more */
        b = PERF_NULL_;
    }
    if (!call)
        return;
    if (r)
        perf_fail_(r, PERF_EGPU);
    if (PERF_GET_(&g->error) || !(b || text) || !perf_lock_(r))
        return;
    if (!g->error) {
        if (b && b->error_name && b->error_name(code, &name))
            name = PERF_NULL_;
        if (b && b->error_text && b->error_text(code, &text))
            text = PERF_NULL_;
        o.p = g->error_text;
        o.cap = sizeof g->error_text;
        perf_put_(&o, call);
        perf_put_(&o, ": ");
        if (code < 0)
            perf_put_char_(&o, '-');
        perf_put_u64_(&o, PERF_CAST_(uint64_t, code < 0 ? -PERF_CAST_(int64_t, code) : code));
        if (name) {
            perf_put_char_(&o, ' ');
            perf_put_(&o, name);
        }
        if (text) {
            perf_put_(&o, ": ");
            perf_put_(&o, text);
        }
        PERF_REL_(&g->error, code);
    }
    perf_unlock_(r);
}

#define PERF_GPU_COUNT_(g, field) perf_gpu_count_(&(g)->field)
PERF_COLD_FN_ void perf_gpu_count_(uint64_t *counter)
{
#if PERF_GPU_HERE_
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#else
    ++*counter;
#endif
}

/* A call that failed on behalf of one scope: no context is no fault, all else is. */
PERF_COLD_FN_ void perf_gpu_failed_(perf_gpu_state_ *g, const char *call, int code)
{
    if (code == 201 || code == 3) {
        PERF_GPU_COUNT_(g, no_context);
    } else if (code >= 900 && code <= 907) {
        PERF_GPU_COUNT_(g, captured);
    } else {
        PERF_GPU_COUNT_(g, failed);
        perf_gpu_error_(g, call, code);
    }
}

PERF_FN int perf_gpu_error_code(void)
{
    perf_registry_  *r = PERF_DISABLE ? PERF_CAST_(perf_registry_ *, PERF_NULL_)
                                      : perf_registry_get_();
    perf_gpu_state_ *g = r ? PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu))
                           : PERF_CAST_(perf_gpu_state_ *, PERF_NULL_);

    return g ? PERF_ACQ_(&g->error) : 0;
}

PERF_FN const char *perf_gpu_error_text(void)
{
    return perf_gpu_error_code()
               ? PERF_CAST_(perf_gpu_state_ *, perf_registry_get_()->gpu)->error_text : "";
}

PERF_FN perf_status perf_gpu_status(void)
{
    const perf_gpu_backend *b = perf_gpu_table();
    perf_gpu_state_        *g = PERF_DISABLE ? PERF_CAST_(perf_gpu_state_ *, PERF_NULL_)
                                             : perf_gpu_state_get_();
    void                   *ctx = PERF_NULL_;
    int                     code;

    if (!g || !PERF_GPU_HERE_)
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOGPU;
    if (PERF_GET_(&g->down))
        return PERF_EGPU;
    if (!b)
        return PERF_ENOGPU;
    code = b->ctx_get(&ctx);
    if (code == PERF_GPU_SHUT_DOWN) {
        perf_gpu_error_(g, "ctx_get", code);
        return PERF_EGPU;
    }
    return code || !ctx ? PERF_ENOGPU : PERF_OK;
}

/* ---- contexts ---- */

typedef struct perf_gpu_entered_ {
    void *before;
    int   how;                  /* 1: pushed, 2: set */
    int   mode;                 /* of stream capture, before */
    int   relaxed;
} perf_gpu_entered_;

/* Makes `ctx` current; 0 or the driver's code.  Relaxed: nothing that follows can spoil a capture of
 * another thread. */
PERF_COLD_FN_ int perf_gpu_enter_(const perf_gpu_backend *b, void *ctx, perf_gpu_entered_ *e)
{
    int code;

    memset(e, 0, sizeof *e);
    code = b->ctx_get(&e->before);
    if (code)
        return code;
    if (e->before != ctx) {
        code = b->ctx_push && b->ctx_pop ? b->ctx_push(ctx) : b->ctx_set ? b->ctx_set(ctx) : 201;
        if (code)
            return code;
        e->how = b->ctx_push && b->ctx_pop ? 1 : 2;
    }
    e->mode = 2;
    e->relaxed = b->capture_mode && !b->capture_mode(&e->mode);
    return 0;
}

PERF_COLD_FN_ void perf_gpu_leave_(const perf_gpu_backend *b, perf_gpu_entered_ *e)
{
    void *popped = PERF_NULL_;

    if (e->relaxed)
        (void)b->capture_mode(&e->mode);
    if (e->how == 1)
        (void)b->ctx_pop(&popped);
    else if (e->how == 2)
        (void)b->ctx_set(e->before);
}

/* The line of a context, made on first sight; NULL without memory.  `ctx` is current. */
PERF_COLD_FN_ perf_gpu_line_ *perf_gpu_line_of_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                void *ctx)
{
    perf_registry_ *r = perf_registry_get_();
    perf_gpu_line_ *l;
    int             device = 0;

    for (l = PERF_ACQ_(&g->lines); l; l = l->next)
        if (l->ctx == ctx)
            return l;
    if (b->ctx_device && b->ctx_device(&device))
        device = 0;
    if (!perf_lock_(r))
        return PERF_NULL_;
    l = PERF_CAST_(perf_gpu_line_ *, perf_pool_(&g->pool, &g->pool_end, sizeof *l, 65536, 0));
    if (l) {
        l->ctx = ctx;
        l->device = device;
        l->slack_ns = -1;
        l->next = g->lines;
        PERF_REL_(&g->lines, l);
    }
    perf_unlock_(r);
    return l;
}

/* ---- rings ---- */

PERF_COLD_DECL_ void perf_gpu_collect_ring_(perf_gpu_state_ *, const perf_gpu_backend *, perf_gpu_ring_ *, int);

PERF_COLD_FN_ int perf_gpu_lock_(perf_gpu_state_ *g, int wait)
{
    uint32_t me = perf_thread_id_();

    while (!perf_claim_(&g->lock, 0, me)) {
        if (!wait || PERF_GET_(&g->lock) == me)
            return 0;
#if PERF_LP64_UNIX_
        (void)perf_sched_yield_();
#endif
    }
    return 1;
}

PERF_COLD_FN_ void perf_gpu_unlock_(perf_gpu_state_ *g)
{
    PERF_REL_(&g->lock, 0u);
}

/* Slots that have come back, all at once. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_returned_(perf_gpu_ring_ *ring)
{
#if PERF_GPU_HERE_
    return __atomic_exchange_n(&ring->returned, PERF_CAST_(perf_gpu_slot_ *, PERF_NULL_),
                               __ATOMIC_ACQUIRE);
#else
    perf_gpu_slot_ *s = ring->returned;
    ring->returned = PERF_NULL_;
    return s;
#endif
}

/* first .. last, linked by `next`, go back to their ring; empty again. */
PERF_COLD_FN_ void perf_gpu_return_(perf_gpu_ring_ *ring, perf_gpu_slot_ *first, perf_gpu_slot_ *last)
{
#if PERF_GPU_HERE_
    perf_gpu_slot_ *old = PERF_GET_(&ring->returned);

    do
        last->next = old;
    while (!__atomic_compare_exchange_n(&ring->returned, &old, first, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
#else
    last->next = ring->returned;
    ring->returned = first;
#endif
}

PERF_INLINE_FN_ void perf_gpu_free_(perf_gpu_slot_ *s)
{
    PERF_SET_(&s->begin.ticks, UINT64_C(0));
    PERF_SET_(&s->end.ticks, PERF_GPU_NOT_YET_);
}

/* Of one that has failed, whose codes are not all 0. */
PERF_FN void perf_gpu_slot_clear_(perf_gpu_slot_ *s)
{
    s->code[0] = s->code[1] = s->capture = 0;
    perf_gpu_free_(s);
}

/* A ring whose thread has ended: its free slots serve again, those still open stay with whoever
 * ends them.  NULL if there is none. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_adopt_(perf_gpu_state_ *g, void *ctx, uint32_t me)
{
    perf_gpu_ring_ *ring = PERF_NULL_;

#if PERF_SYS_GETTID_ && !PERF_TSAN_
    uint32_t i;

    if (!perf_gpu_lock_(g, 0))
        return PERF_NULL_;
    for (ring = g->rings; ring; ring = ring->next)
        if (ring->ctx == ctx && ring->generation == g->generation && ring->thread != me &&
            perf_syscall_(PERF_SYS_TGKILL_, PERF_CAST_(long, perf_process_id_()),
                          PERF_CAST_(long, ring->thread), 0L))
            break;
    if (ring) {
        ring->thread = me;
        ring->retry = 0;
        ring->free = PERF_NULL_;
        (void)perf_gpu_returned_(ring);
        for (i = ring->made; i-- > 0;)
            if (!ring->slot[i].begin.ticks && !PERF_GPU_ENDED_(&ring->slot[i])) {
                ring->slot[i].next = ring->free;
                ring->free = &ring->slot[i];
            }
    }
    perf_gpu_unlock_(g);
#else
    (void)g;
    (void)ctx;
    (void)me;
#endif
    return ring;
}

/* The thread's ring of a context; NULL without memory.  `ctx` is current. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_ring_of_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                perf_gpu_thread_ *t, void *ctx)
{
    perf_registry_ *r = perf_registry_get_();
    uint32_t        cap = PERF_GPU_SLOTS < 4 ? 4 : PERF_GPU_SLOTS, me = perf_thread_id_();
    perf_gpu_ring_ *ring;

    for (ring = t->rings; ring; ring = ring->mine)
        if (ring->ctx == ctx)
            return ring;
    ring = perf_gpu_adopt_(g, ctx, me);
    if (!ring) {
        ring = PERF_CAST_(perf_gpu_ring_ *,
                          perf_pages_(sizeof *ring + cap * (sizeof *ring->slot + sizeof *ring->batch), 1));
        if (!ring)
            return PERF_NULL_;
        ring->slot = PERF_PTR_(perf_gpu_slot_ *, ring + 1);
        ring->batch = PERF_PTR_(perf_gpu_slot_ **, ring->slot + cap);
        ring->cap = cap - 1;                    /* the line's anchor is the last pair's */
        ring->ctx = ctx;
        ring->thread = me;
        ring->generation = g->generation;
        ring->line = perf_gpu_line_of_(g, b, ctx);
        if (!ring->line || !perf_lock_(r))
            return PERF_NULL_;
        ring->next = g->rings;
        PERF_REL_(&g->rings, ring);
        perf_unlock_(r);
    }
    ring->mine = t->rings;
    t->rings = ring;
    return ring;
}

/* A free slot in front of the thread's list; 0: none, the scope is dropped. */
PERF_COLD_FN_ int perf_gpu_refill_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                   perf_gpu_thread_ *t)
{
    perf_gpu_ring_ *ring = t->ring;
    perf_gpu_slot_ *s = perf_gpu_returned_(ring);

    if (!s && ring->made < ring->cap) {
        s = &ring->slot[ring->made];
        s->ring = ring;
        s->key = PERF_GPU_NEVER_;
        PERF_SET_(&s->end.ticks, PERF_GPU_NOT_YET_);
        PERF_REL_(&ring->made, ring->made + 1);
    }
    if (!s) {
        if (ring->retry) {
            ring->retry--;
        } else if (perf_gpu_lock_(g, 0)) {
            perf_gpu_collect_ring_(g, b, ring, 0);
            perf_gpu_unlock_(g);
            s = perf_gpu_returned_(ring);
            if (!s)
                ring->retry = 15;               /* all in flight: do not ask at every scope */
        }
    } else {
        ring->retry = 0;
    }
    perf_gpu_self_v1_.next = s;
    return s != PERF_NULL_;
}

/* ---- one scope ---- */

/* Records on one of the default streams: only where the context is the one they meant. */
PERF_COLD_FN_ int perf_gpu_record_long_(void *slot, void *stream)
{
    perf_gpu_slot_         *s = PERF_CAST_(perf_gpu_slot_ *, slot);
    perf_gpu_state_        *g = perf_gpu_state_get_();
    const perf_gpu_backend *b = g ? PERF_ACQ_(&g->table) : PERF_NULL_;
    perf_gpu_entered_       e;
    int                     code, status = 0;

    if (!b)
        return PERF_GPU_SHUT_DOWN;
    code = perf_gpu_enter_(b, s->ring->ctx, &e);
    if (code)
        return code;
    if (b->stream_capturing)
        code = b->stream_capturing(stream, &status);
    if (!code)
        code = status ? 900 : b->event_record(s->stop, stream);
    perf_gpu_leave_(b, &e);
    return code;
}

#if PERF_GPU_DL_ && !PERF_DISABLE
extern int   perf_cxa_atexit_(void (*)(void *), void *, void *) __asm__(PERF_SYM_("__cxa_atexit"));
extern void *perf_dso_ __asm__("__dso_handle") PERF_ATTR_((__visibility__("hidden")));

/* The last moment at which the driver answers: handlers run newest first, and the driver's was there
 * before our first scope.  What has finished is fetched; after this nothing is called any more. */
PERF_COLD_FN_ void perf_gpu_at_exit_(void *state)
{
    perf_gpu_state_ *g = PERF_CAST_(perf_gpu_state_ *, state);
    perf_registry_  *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (!r || r->gpu != state || PERF_GET_(&r->process) != perf_process_id_() ||
        !PERF_ACQ_(&g->table))
        return;
    perf_gpu_collect_(r);
    perf_gpu_error_(g, PERF_NULL_, PERF_GPU_SHUT_DOWN);
}
#endif

/* The calling thread's own, made at its first scope; NULL without memory. */
PERF_COLD_FN_ perf_gpu_thread_ *perf_gpu_thread_get_(perf_gpu_state_ *g)
{
    perf_gpu_thread_ *t = perf_gpu_self_v1_.thread;

    if (!t) {
        t = PERF_CAST_(perf_gpu_thread_ *, perf_pages_(sizeof *t, 1));
        if (!t)
            return t;
        perf_gpu_self_v1_.thread = t;
    }
    if (t->home != g || t->generation != g->generation) {       /* new, forked, another table */
        memset(t, 0, sizeof *t);
        t->home = g;
        t->generation = g->generation;
        perf_gpu_self_v1_.next = PERF_NULL_;
#if PERF_GPU_DL_ && !PERF_DISABLE
        if (perf_claim_(&g->at_exit, 0, 1))
            (void)perf_cxa_atexit_(perf_gpu_at_exit_, g, &perf_dso_);
#endif
    }
    return t;
}

/* The ring for a stream, the short way if it was seen before; NULL: nothing to record, counted. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_route_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                              perf_gpu_thread_ *t, void *stream)
{
    uintptr_t         at = PERF_PTR_(uintptr_t, stream);
    perf_gpu_known_  *k = &t->known[(at >> 4 ^ at >> 10) % 64];
    void             *ctx = PERF_NULL_;
    perf_gpu_ring_   *ring;
    perf_gpu_entered_ e;
    int               code, status = 0;

    if (at > 2 && k->stream == stream)
        return k->ring;
    code = b->ctx_get(&ctx);
    if (!code && !ctx)
        code = 201;
    if (!code && at <= 2 && b->stream_capturing) {
        code = b->stream_capturing(stream, &status);
        if (!code && status)
            code = 900;
    }
    if (!code && at > 2 && b->stream_ctx) {
        void *owner = PERF_NULL_;
        code = b->stream_ctx(stream, &owner);
        if (!code && owner)
            ctx = owner;
    }
    if (code) {
        perf_gpu_failed_(g, "stream_ctx", code);
        return PERF_NULL_;
    }
    code = perf_gpu_enter_(b, ctx, &e);
    if (code) {
        perf_gpu_failed_(g, "ctx_push", code);
        return PERF_NULL_;
    }
    ring = perf_gpu_ring_of_(g, b, t, ctx);
    perf_gpu_leave_(b, &e);
    if (!ring) {
        PERF_GPU_COUNT_(g, dropped);
        perf_fail_(perf_registry_get_(), PERF_ENOMEM);
    } else if (at > 2) {
        k->stream = stream;
        k->ring = ring;
    }
    return ring;
}

/* Both events of a slot, in its context; 0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_events_(const perf_gpu_backend *b, perf_gpu_slot_ *s)
{
    perf_gpu_entered_ e;
    void             *event = PERF_NULL_;
    int               code = perf_gpu_enter_(b, s->ring->ctx, &e);

    if (code)
        return code;
    if (!s->start) {
        code = b->event_create(&event, 0);
        if (!code)
            s->start = event;
    }
    if (!code && !s->stop) {
        event = PERF_NULL_;
        code = b->event_create(&event, 0);
        if (!code)
            s->stop = event;
    }
    perf_gpu_leave_(b, &e);
    return code;
}

/* Everything that is not the common case of a scope's begin. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_slow_(perf_site_ *site, void *stream)
{
    const perf_gpu_backend *b = PERF_GPU_HERE_ ? perf_gpu_table() : PERF_NULL_;
    perf_gpu_state_        *g = perf_gpu_state_get_();
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_thread_       *t;
    perf_gpu_ring_         *ring;
    perf_gpu_slot_         *s;
    uint32_t                id;
    int                     code, usual = PERF_PTR_(uintptr_t, stream) > 2;

    if (!g || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    if (!b) {
        PERF_GPU_COUNT_(g, no_gpu);
        return PERF_NULL_;
    }
    id = perf_site_id_(r, site);
    t = perf_gpu_thread_get_(g);
    if (!t || !id) {
        PERF_GPU_COUNT_(g, dropped);
        return PERF_NULL_;
    }
    ring = perf_gpu_route_(g, b, t, stream);
    if (!ring)
        return PERF_NULL_;
    if (ring != t->ring) {                      /* another context: its slots come to the front */
        if (t->ring)
            t->ring->free = perf_gpu_self_v1_.next;
        t->ring = ring;
        perf_gpu_self_v1_.next = ring->free;
    }
    if (!perf_gpu_self_v1_.next && !perf_gpu_refill_(g, b, t)) {
        PERF_GPU_COUNT_(g, dropped);
        return PERF_NULL_;
    }
    s = perf_gpu_self_v1_.next;
    if (!s->start || !s->stop) {
        code = perf_gpu_events_(b, s);
        if (code) {                             /* the slot stays in front, for the next scope */
            perf_gpu_failed_(g, "event_create", code);
            return PERF_NULL_;
        }
    }
    perf_gpu_self_v1_.next = s->next;
    s->next = PERF_NULL_;
    s->stream = stream;
    s->site = site;
    s->capture = 0;
    if (usual && !r->clock) {
        PERF_SET_(&s->key, PERF_GPU_KEY_(stream));
        s->code[0] = 0;
    } else {
        PERF_SET_(&s->key, PERF_GPU_NEVER_);
        s->code[0] = PERF_GPU_LONG_;
    }
    s->arg = usual ? s->stop : PERF_CAST_(void *, s);
    PERF_GPU_FN_(s->record, usual ? b->event_record : perf_gpu_record_long_);
    PERF_GPU_FN_(s->capturing,
                 usual && b->stream_capturing ? b->stream_capturing : perf_gpu_not_capturing_);
    PERF_SET_(&s->begin.ticks, perf_scope_ticks_(r));
    s->code[0] |= b->event_record(s->start, stream);
    return s;
}

/* A scope that is not to be fetched goes back where it came from. */
PERF_COLD_FN_ void perf_gpu_give_up_(perf_gpu_state_ *g, perf_gpu_slot_ *s)
{
    perf_gpu_ring_   *ring = s->ring;
    perf_gpu_thread_ *t = perf_gpu_self_v1_.thread;
    uintptr_t         at = PERF_PTR_(uintptr_t, s->stream);
    int               locked;

    if (t && t->home == g)                      /* ask the driver again whose stream this is */
        t->known[(at >> 4 ^ at >> 10) % 64].stream = PERF_NULL_;
    PERF_SET_(&s->key, PERF_GPU_NEVER_);
    locked = perf_gpu_lock_(g, 1);      /* 0: held by us; who adopts the ring sees both or none */
    perf_gpu_slot_clear_(s);
    perf_gpu_return_(ring, s, s);
    if (locked)
        perf_gpu_unlock_(g);
}

/* No slot takes the short way for this stream any more: it may be another device's by now. */
PERF_COLD_FN_ void perf_gpu_forget_(perf_gpu_ring_ *ring, void *stream)
{
    uint32_t i;

    for (i = 0; i < PERF_ACQ_(&ring->made); i++)
        if (PERF_GET_(&ring->slot[i].key) == PERF_GPU_KEY_(stream))
            PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
}

/* Everything that is not the common case of an end.  `bad` is the answer of stream_capturing where the
 * records have gone well, else that and theirs in one; a slot without a ring was wiped by a fork. */
PERF_COLD_FN_ void perf_gpu_end_slow_(perf_gpu_slot_ *s, int bad)
{
    perf_gpu_state_ *g = perf_gpu_state_get_();
    perf_registry_  *r = perf_registry_get_();
    int              code = s->code[0] & ~PERF_GPU_LONG_;

    if (!g || !s->ring || s->ring->generation != g->generation)
        return;
    if (!code)
        code = s->code[1];
    if (!code && !s->capture)
        code = bad ^ s->code[0];
    if (code || s->capture) {
        perf_gpu_failed_(g, "event_record", s->capture ? 900 : code);
        if (!s->capture)
            perf_gpu_forget_(s->ring, s->stream);
        perf_gpu_give_up_(g, s);
        return;
    }
    PERF_REL_(&s->end.ticks, perf_scope_ticks_(r));
}

/* Now.  The half that says so comes last. */
PERF_INLINE_FN_ void perf_gpu_now_(perf_gpu_time_ *at)
{
#if PERF_ARCH_X86_ && PERF_COUNTER_ && !PERF_MSVC_ && !PERF_TSAN_
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    PERF_SET_(&at->half[0], low);
    PERF_REL_(&at->half[1], high);
#else
    PERF_REL_(&at->ticks, perf_ticks());
#endif
}

/* The short way: 1 + 2 calls of the driver, and 24 or 25 instructions of ours (tests/gpu/cost.sh).  `off`
 * makes a key that no slot has: one compare for stream and switch.  A name that has no id yet gets
 * one when the scope is fetched. */
PERF_INLINE_FN_ perf_gpu_slot_ *perf_gpu_begin_(perf_site_ *site, void *stream)
{
    perf_gpu_slot_ *s = perf_gpu_self_v1_.next;
    uintptr_t       off = PERF_PEEK_(perf_anchor_v1_.off);

    if (PERF_UNLIKELY_(!s || PERF_PEEK_(s->key) != PERF_GPU_KEY_(stream) + off))
        return perf_gpu_begin_slow_(site, stream);
    perf_gpu_self_v1_.next = s->next;
    s->site = site;
    perf_gpu_now_(&s->begin);
    s->code[0] = PERF_PEEK_(s->record)(s->start, stream);
    return s;
}

PERF_INLINE_FN_ void perf_gpu_end_(perf_gpu_slot_ *s)
{
    int bad;

    if (PERF_UNLIKELY_(!s->arg))                /* begun before a fork */
        return;
    s->code[1] = PERF_PEEK_(s->record)(s->arg, s->stream);
    bad = PERF_PEEK_(s->capturing)(s->stream, &s->capture);
    bad |= s->code[0];
    bad |= s->code[1];
    bad |= s->capture;
    if (PERF_UNLIKELY_(bad))
        perf_gpu_end_slow_(s, bad);
    else
        perf_gpu_now_(&s->end);
}

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define PERF_GPU_STREAM_(s) perf_gpu_own_stream_(s)     /* NULL is this thread's own stream there */
PERF_FN void *perf_gpu_own_stream_(void *stream)
{
    return stream ? stream : PERF_PTR_(void *, PERF_CAST_(uintptr_t, 2));
}
#else
#define PERF_GPU_STREAM_(s) (s)
#endif

PERF_FN perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream, perf_gpu_kind kind)
{
    perf_gpu_scope s = PERF_ZERO;
    uint32_t       k = kind >= PERF_GPU_KERNEL && kind <= PERF_GPU_WITHIN
                           ? PERF_CAST_(uint32_t, kind)
                           : PERF_KIND_DEVICE_;
    perf_site_    *site = PERF_GPU_HERE_ && PERF_ON_() ? perf_site_find_(name, k)
                                                       : PERF_CAST_(perf_site_ *, PERF_NULL_);

    if (site)
        s.slot = perf_gpu_begin_(site, PERF_GPU_STREAM_(stream));
    return s;
}

PERF_FN perf_gpu_scope perf_gpu_scope_begin(const char *name, perf_stream stream)
{
    return perf_gpu_copy_begin(name, stream, PERF_GPU_KERNEL);
}

PERF_FN void perf_gpu_scope_end(perf_gpu_scope *scope)
{
    if (!scope || !scope->slot)
        return;
    perf_gpu_end_(scope->slot);
    scope->slot = PERF_NULL_;
}

/* ---- collecting ---- */

/* Device time of a scope's start on the clock of its context, where `s->since` does not give it at
 * once; `code` is what the driver said with it.  Times between two events come as a float of
 * milliseconds, whose last digit grows with the distance: below 16.7 ms whole nanoseconds survive it,
 * so the anchor moves along with the scopes and the sum of the steps stays exact.  0: not known. */
PERF_COLD_FN_ int perf_gpu_since_(const perf_gpu_backend *b, perf_gpu_line_ *l, perf_gpu_slot_ *s,
                                  int code)
{
    double d = PERF_CAST_(double, s->since.ms) * 1e6;
    void  *event = PERF_NULL_;

    if (!l->anchor) {
        if (b->event_create(&event, 0))
            return 0;
        l->anchor = s->start;
        s->start = event;
        l->anchor_ns = s->start_ns = 0;
        return 1;
    }
    if (code || !(d > -1e15 && d < 1e15))
        return 0;
    if (d > -16.7e6 && d < 16.7e6)
        d = PERF_CAST_(double, PERF_CAST_(int64_t, d < 0 ? d - 0.5 : d + 0.5));
    s->start_ns = l->anchor_ns + d;
    if (d > 0) {
        event = l->anchor;
        l->anchor = s->start;
        s->start = event;
        l->anchor_ns = s->start_ns;
    }
    return 1;
}

/* A line while scopes are placed on it: in registers, as long as nobody is called. */
typedef struct perf_gpu_pace_ {
    double   ref_ns, ref_ticks, until_ns, debt_ns;      /* as in the line */
    double   idle_ns;                   /* sum */
    double   tick, per_ns;              /* ns in a tick, ticks in a ns */
    double   starved_ns;                /* sum */
    uint64_t origin;
} perf_gpu_pace_;

PERF_OUTLINE_FN_ perf_gpu_pace_ perf_gpu_pace_begin_(perf_gpu_line_ *l,
                                                     const perf_gpu_slot_ *first, double tick)
{
    perf_gpu_pace_ p;

    if (!l->known) {
        l->known = 1;
        l->origin = first->begin.ticks;
        l->ref_ns = l->first_ns = l->last_ns = l->busy_until_ns = first->start_ns;
    }
    p.ref_ns = l->ref_ns;
    p.ref_ticks = l->ref_ticks;
    p.until_ns = l->busy_until_ns;
    p.debt_ns = l->debt_ns;
    p.idle_ns = p.starved_ns = 0;
    p.tick = tick;
    p.per_ns = 1 / tick;
    p.origin = l->origin;
    return p;
}

/* Ties the device's clock to the host's: a scope starts on the device no earlier than the host began
 * it.  The two clocks run within 100 ppm of each other; what that allows is given back where the
 * device was idle, so that its work never overlaps itself.  Returns the ticks from the begin on the
 * host to the start on the device.  No branches: neither the order nor the gaps can be foretold. */
PERF_INLINE_FN_ uint64_t perf_gpu_place_(perf_gpu_pace_ *p, const perf_gpu_slot_ *s, double device_ns)
{
    double start = s->start_ns, dt = start - p->ref_ns, owed = 1e-4 * dt + p->debt_ns;
    double gap = (start > p->until_ns ? start : p->until_ns) - p->until_ns;
    double back = gap < owed ? gap : owed, stop = device_ns + start, at, begin, lag;

    begin = PERF_CAST_(double, PERF_CAST_(int64_t, s->begin.ticks - p->origin));
    at = (dt - back) * p->per_ns + p->ref_ticks;
    at = at > begin ? at : begin;
    p->debt_ns = owed - back;
    p->ref_ns = start;
    p->ref_ticks = at;
    p->idle_ns += gap;
    p->until_ns = stop > p->until_ns ? stop : p->until_ns;
    at -= begin;
    lag = at * p->tick;
    p->starved_ns += (gap > lag ? gap : lag) - lag;     /* idle before it: submitted too late */
    return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, at));
}

/* The line after scopes up to here were placed.  They have stopped before `now`: that bounds how much
 * later all of them could be, and the drift and what was given back widen it from one to the next. */
PERF_OUTLINE_FN_ void perf_gpu_pace_end_(perf_gpu_line_ *l, const perf_gpu_pace_ *p, uint64_t now)
{
    double dt = p->ref_ns - l->ref_ns, back = 1e-4 * dt + l->debt_ns - p->debt_ns;
    double later = (p->ref_ticks - l->ref_ticks) * p->tick - (dt - back);
    double up = (PERF_CAST_(double, PERF_CAST_(int64_t, now - l->origin)) - p->ref_ticks) * p->tick -
                (p->until_ns - p->ref_ns) + 500;        /* the resolution that CUDA promises of events */

    if (l->slack_ns >= 0) {
        l->slack_ns += (dt > 0 ? 2e-4 * dt : 0) + back - later;
        if (l->slack_ns < 0)
            l->slack_ns = -1;
    }
    if (up < 0)
        up = 0;
    if (l->slack_ns < 0 || up < l->slack_ns)
        l->slack_ns = up;
    l->busy_ns += p->until_ns - l->busy_until_ns - p->idle_ns;
    l->starved_ns += p->starved_ns;
    l->ref_ns = p->ref_ns;
    l->ref_ticks = p->ref_ticks;
    l->debt_ns = p->debt_ns;
    l->busy_until_ns = l->last_ns = p->until_ns;
}

PERF_COLD_FN_ perf_gpu_track_ *perf_gpu_track_of_(perf_gpu_state_ *g, perf_gpu_line_ *l, void *stream)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_track_ *t, *same;
    char             name[32];
    perf_out_        o = PERF_ZERO;
    uint64_t         number = 1;

    for (t = g->tracks; t; t = t->next)
        if (t->stream == stream && t->line == l)
            return t;
    for (same = g->tracks; same; same = same->next)
        number += same->line && same->line->device == l->device &&
                  PERF_PTR_(uintptr_t, same->stream) > 2;
    o.p = name;
    o.cap = sizeof name;
    perf_put_(&o, "GPU ");
    perf_put_u64_(&o, PERF_CAST_(uint64_t, l->device));
    perf_put_(&o, " stream ");
    if (PERF_PTR_(uintptr_t, stream) > 2)
        perf_put_u64_(&o, number);
    else
        perf_put_(&o, PERF_PTR_(uintptr_t, stream) < 2 ? "default" : "per thread");
    for (t = g->tracks; t; t = t->next)
        if (!t->line && !strcmp(t->recorder->name, name)) {     /* of an earlier table */
            t->stream = stream;
            t->line = l;
            return t;
        }
    if (!perf_lock_(r))
        return PERF_NULL_;
    t = PERF_CAST_(perf_gpu_track_ *, perf_pool_(&g->pool, &g->pool_end, sizeof *t, 65536, 0));
    perf_unlock_(r);
    if (!t)
        return t;
    t->stream = stream;
    t->line = l;
    t->recorder = perf_track_make_(r, name);
    if (!t->recorder)
        return PERF_NULL_;
    t->next = g->tracks;
    PERF_REL_(&g->tracks, t);
    return t;
}

PERF_COLD_FN_ perf_gpu_row_ *perf_gpu_row_of_(perf_gpu_state_ *g, uint32_t id)
{
    perf_gpu_row_ **chunk = &g->row[id / 64 % 64];
    perf_registry_ *r = perf_registry_get_();

    if (id >= 64 * 64)
        return PERF_NULL_;
    if (!*chunk && perf_lock_(r)) {
        PERF_REL_(chunk, PERF_CAST_(perf_gpu_row_ *, perf_pool_(&g->pool, &g->pool_end,
                                                                64 * sizeof **chunk, 65536, 0)));
        perf_unlock_(r);
    }
    return *chunk ? &(*chunk)[id % 64] : PERF_CAST_(perf_gpu_row_ *, PERF_NULL_);
}

/* Where scopes of one name and stream go. */
typedef struct perf_gpu_aim_ {
    perf_site_      *site;      /* NULL: nobody's */
    void            *stream;
    perf_recorder_  *t;
    perf_cell_      *c;
    perf_gpu_row_   *row;
    uint64_t         tag;       /* of an outermost one in the trace */
    uint64_t         mask;      /* of the trace; 0: nothing goes into it now */
} perf_gpu_aim_;

#define PERF_GPU_AIMS_ 16               /* kept for one batch, found by site and stream */

/* 0: there is no room; the scope is dropped, and counted. */
PERF_OUTLINE_FN_ int perf_gpu_aim_at_(perf_gpu_state_ *g, perf_gpu_line_ *l, const perf_gpu_slot_ *s,
                                      perf_gpu_aim_ *a, int events)
{
    perf_registry_  *r = perf_registry_get_();
    uint32_t         id = perf_site_id_(r, s->site), kind = s->site->line >> 24;
    perf_gpu_row_   *row;
    perf_gpu_track_ *track = perf_gpu_track_of_(g, l, s->stream);

    a->site = PERF_NULL_;
    a->c = track && id ? perf_cell_get_(track->recorder, id) : PERF_NULL_;
    if (!a->c) {
        PERF_GPU_COUNT_(g, dropped);
        return 0;
    }
    row = perf_gpu_row_of_(g, id);
    a->row = row ? row : &g->rest[(kind - PERF_KIND_DEVICE_) % 4];
    a->t = track->recorder;
    a->tag = a->c->tag | UINT64_C(1) << 56;
    a->mask = events ? a->t->ring_mask : 0;
    a->site = s->site;
    a->stream = s->stream;
    return 1;
}

/* The same by way of those of this batch; NULL: dropped. */
PERF_INLINE_FN_ perf_gpu_aim_ *perf_gpu_aim_of_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                const perf_gpu_slot_ *s, perf_gpu_aim_ *aims,
                                                int events)
{
    uintptr_t      at = PERF_PTR_(uintptr_t, s->site) >> 3 ^ PERF_PTR_(uintptr_t, s->stream) >> 6;
    perf_gpu_aim_ *a = &aims[at % PERF_GPU_AIMS_];

    return (a->site == s->site && a->stream == s->stream) || perf_gpu_aim_at_(g, l, s, a, events)
               ? a : PERF_NULL_;
}

/* A length in ticks, and the same as the histogram and the trace want it. */
typedef struct perf_gpu_length_ {
    uint64_t ticks, bucket, what;
} perf_gpu_length_;

PERF_INLINE_FN_ perf_gpu_length_ perf_gpu_length_of_(const perf_gpu_aim_ *a, double ticks)
{
    perf_gpu_length_ d;

    d.ticks = d.bucket = d.what = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ticks + 0.5));
    if (PERF_UNLIKELY_(d.ticks - a->c->low > a->c->span)) {
        d.bucket = perf_cell_extend_(a->c, d.ticks);
        if (d.ticks >= PERF_EVENT_MORE_) {
            d.what = PERF_EVENT_MORE_;
            if (a->mask)
                perf_event_more_(a->t, d.ticks);
        }
    }
    return d;
}

/* One placed scope into the report's sums, and as an outermost one into the trace. */
PERF_INLINE_FN_ void perf_gpu_add_(const perf_gpu_aim_ *a, perf_gpu_slot_ *s, perf_gpu_length_ d,
                                   uint64_t lag, double device_ns)
{
    perf_cell_    *c = a->c;
    perf_gpu_row_ *row = a->row;
    uint64_t       at = s->begin.ticks, submit = s->end.ticks - at;

    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, d.ticks);
    PERF_ADD_(c->total, d.ticks);
    PERF_ADD_(PERF_BUCKET_(c, d.bucket), 1);
    row->scopes++;
    row->submit += submit;
    row->lag += lag;
    if (lag > row->lag_max)
        row->lag_max = lag;
    row->device_ns += device_ns;
    at += lag;
    s->at = at;
    if (a->mask)
        perf_event_put_(a->t, at, d.what | a->tag);
}

/* Places and adds the scopes from `s` on.  Calls nothing that is cold: gcc would take all of it for
 * cold, and save bytes. */
PERF_HOT_FN_ void perf_gpu_book_all_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_slot_ *s,
                                     perf_gpu_pace_ *pace, perf_gpu_aim_ *aims, int events)
{
    perf_gpu_pace_   p = *pace;
    perf_gpu_aim_   *a = aims;
    perf_gpu_length_ d;
    double           ns;

    for (; s; s = s->next) {
        ns = PERF_CAST_(double, s->length.ms) * 1e6;
        if (PERF_UNLIKELY_(s->site != a->site || s->stream != a->stream)) {
            a = perf_gpu_aim_of_(g, l, s, aims, events);
            if (PERF_UNLIKELY_(!a)) {
                a = aims;
                s->at = s->begin.ticks + perf_gpu_place_(&p, s, ns);
                s->depth = 0;
                perf_gpu_free_(s);
                continue;
            }
        }
        d = perf_gpu_length_of_(a, ns * p.per_ns);
        perf_gpu_add_(a, s, d, perf_gpu_place_(&p, s, ns), ns);
        perf_gpu_free_(s);
    }
    *pace = p;
}

/* Places and adds what was fetched of one ring, ordered by begin; all stopped before `now`.  events:
 * none of them overlap on the host, so they go into the trace as they come. */
PERF_OUTLINE_FN_ void perf_gpu_book_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_slot_ *first,
                                     uint64_t now, perf_gpu_aim_ *aims, int events)
{
    double          tick = perf_scope_tick_ns_(perf_registry_get_()), slack, span;
    perf_gpu_pace_  p = perf_gpu_pace_begin_(l, first, tick);
    perf_gpu_slot_ *s;

    for (s = first; s && s->begin.ticks < g->birth; s = s->next) {
        /* Before the last reset: it only tells the time. */
        s->at = s->begin.ticks + perf_gpu_place_(&p, s, PERF_CAST_(double, s->length.ms) * 1e6);
        s->depth = 0;
        perf_gpu_free_(s);
    }
    if (s != first) {
        p.idle_ns = p.starved_ns = 0;
        l->busy_until_ns = p.until_ns;
        if (!(l->busy_ns > 0))
            l->first_ns = p.until_ns;
    }
    perf_gpu_book_all_(g, l, s, &p, aims, events);
    span = p.ref_ticks - PERF_CAST_(double, PERF_CAST_(int64_t, first->at - p.origin));
    perf_gpu_pace_end_(l, &p, now);
    slack = l->slack_ns + 2e-4 * (span > 0 ? span * tick : 0);
    if (slack > l->worst_ns)            /* what the last of them says holds for all */
        l->worst_ns = slack;
}

#define PERF_GPU_EARLIER_(field)                                                                  \
    for (i = 1; i < n; i++) {                   /* nearly sorted already */ \
        s = batch[i];                                                                             \
        for (k = i; k > 0 && batch[k - 1]->field > s->field; k--)                                 \
            batch[k] = batch[k - 1];                                                              \
        batch[k] = s;                                                                             \
    }

/* The same for those that overlap, as nested ones do: in the trace by their ends, each with its
 * depth.  Returns the first, linked by begin. */
PERF_HOT_FN_ perf_gpu_slot_ *perf_gpu_book_mixed_(perf_gpu_state_ *g, perf_gpu_ring_ *ring,
                                                  perf_gpu_slot_ *first, perf_gpu_slot_ **last,
                                                  uint64_t now, perf_gpu_aim_ *aims)
{
    perf_gpu_slot_ **batch = ring->batch, *s, *open[32];
    perf_gpu_aim_   *a;
    double           tick = perf_scope_tick_ns_(perf_registry_get_());
    uint32_t         i, k, n = 0, opened = 0;

    for (s = first; s; s = s->next)
        batch[n++] = s;
    PERF_GPU_EARLIER_(begin.ticks)
    first = batch[0];
    *last = batch[n - 1];
    for (i = 0; i < n; i++) {
        s = batch[i];
        s->next = i + 1 < n ? batch[i + 1] : PERF_CAST_(perf_gpu_slot_ *, PERF_NULL_);
        while (opened && open[opened - 1]->end.ticks < s->end.ticks)
            opened--;
        for (k = 0, s->depth = 1; k < opened; k++)
            s->depth += open[k]->stream == s->stream;
        if (opened < 32)
            open[opened++] = s;
        s->after = s->end.ticks;
    }
    perf_gpu_book_(g, ring->line, first, now, aims, 0);
    PERF_GPU_EARLIER_(after)
    for (i = 0; i < n; i++) {
        uint64_t d;
        s = batch[i];
        a = s->depth ? perf_gpu_aim_of_(g, ring->line, s, aims, 0) : PERF_NULL_;
        if (!a || !a->t->ring_mask)
            continue;
        d = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, PERF_CAST_(double, s->length.ms) * 1e6 / tick + 0.5));
        if (d >= PERF_EVENT_MORE_)
            perf_event_more_(a->t, d);
        perf_event_put_(a->t, s->at, (d < PERF_EVENT_MORE_ ? d : PERF_EVENT_MORE_) | a->c->tag |
                                         PERF_CAST_(uint64_t, s->depth & 255u) << 56);
    }
    return first;
}

/* What one round over a ring has fetched so far. */
typedef struct perf_gpu_batch_ {
    perf_gpu_slot_   head;              /* the others are linked to it by `next` */
    perf_gpu_slot_  *last;
    uint32_t         mixed;             /* one began before another had ended */
    uint32_t         odd;               /* not all slots are asked for: see perf_gpu_skips_() */
    uint32_t         waited;            /* only those that were waited for */
    uint32_t         busy;
    void            *pending[8];        /* streams that have not finished */
} perf_gpu_batch_;
#define PERF_GPU_WAITED_ (~UINT32_C(0)) /* as the depth of a slot */

/* A stream is done in order, mostly: what it was given later need not be asked for. */
PERF_COLD_FN_ int perf_gpu_skips_(const perf_gpu_batch_ *x, perf_gpu_slot_ *s)
{
    uint32_t k;

    if (x->waited) {
        k = s->depth;
        s->depth = 0;
        return k != PERF_GPU_WAITED_;
    }
    for (k = 0; k < x->busy && x->pending[k] != s->stream; k++) {
    }
    return k < x->busy;
}

/* The driver has no length for it. */
PERF_COLD_FN_ void perf_gpu_not_fetched_(perf_gpu_state_ *g, perf_gpu_batch_ *x, perf_gpu_slot_ *s,
                                         int code)
{
    if (code == PERF_GPU_NOT_READY) {
        if (x->busy < 8)
            x->pending[x->busy++] = s->stream;
        x->odd = 1;
        return;
    }
    perf_gpu_failed_(g, "event_elapsed", code);
    perf_gpu_give_up_(g, s);
}

/* It has a length, but no place on the line: it is shown where the host began it. */
PERF_COLD_FN_ void perf_gpu_not_placed_(perf_gpu_state_ *g, perf_gpu_ring_ *ring, perf_gpu_slot_ *s)
{
    double        ns = PERF_CAST_(double, s->length.ms) * 1e6;
    perf_gpu_aim_ a = PERF_ZERO;

    if (s->begin.ticks >= g->birth && perf_gpu_aim_at_(g, ring->line, s, &a, 1))
        perf_gpu_add_(&a, s,
                      perf_gpu_length_of_(&a, ns / perf_scope_tick_ns_(perf_registry_get_())), 0, ns);
    perf_gpu_free_(s);
    perf_gpu_return_(ring, s, s);
}

/* Waits for all scopes of a ring.  Returns the last code of the driver. */
PERF_COLD_FN_ int perf_gpu_await_(perf_gpu_state_ *g, const perf_gpu_backend *b, perf_gpu_slot_ *s,
                                  const perf_gpu_slot_ *to)
{
    int code = 0;

    for (; s != to && code != PERF_GPU_SHUT_DOWN; s++) {
        if (!PERF_GPU_ENDED_(s))
            continue;
        s->depth = PERF_GPU_WAITED_;
        code = b->event_sync(s->stop);
        if (code) {
            s->depth = 0;
            perf_gpu_failed_(g, "event_sync", code);
            perf_gpu_give_up_(g, s);
        }
    }
    return code;
}

/* Asks for the times of the slots from `s` to `to`.  Returns the last code of the driver. */
PERF_HOT_FN_ int perf_gpu_fetch_(perf_gpu_state_ *g, const perf_gpu_backend *b, perf_gpu_ring_ *ring,
                                 perf_gpu_slot_ *s, const perf_gpu_slot_ *to, perf_gpu_batch_ *x)
{
    perf_gpu_line_ *l = ring->line;
    void           *anchor = l->anchor ? l->anchor : s->start;
    perf_gpu_slot_ *last = x->last;
    uint32_t        nearby = l->anchor ? PERF_GPU_MS_NEAR_ : 0;
    int             code = 0;

    for (; s != to; s++) {
        if (!PERF_GPU_ENDED_(s) || (PERF_UNLIKELY_(x->odd) && perf_gpu_skips_(x, s)))
            continue;
        code = b->event_elapsed(&s->length.ms, s->start, s->stop);
        if (PERF_UNLIKELY_(code || s->length.bits >= PERF_GPU_MS_END_)) {
            perf_gpu_not_fetched_(g, x, s, code);
            if (code == PERF_GPU_SHUT_DOWN)
                break;
            continue;
        }
        code = b->event_elapsed(&s->since.ms, anchor, s->start);
        if (PERF_LIKELY_(!code && s->since.bits < nearby)) {
            s->start_ns = PERF_CAST_(double, s->since.ms) * 1e6 + l->anchor_ns;
        } else {
            if (!perf_gpu_since_(b, l, s, code)) {
                perf_gpu_not_placed_(g, ring, s);
                continue;
            }
            anchor = l->anchor;
            nearby = PERF_GPU_MS_NEAR_;
        }
        if (PERF_UNLIKELY_(s->begin.ticks < last->end.ticks))
            x->mixed = 1;
        last->next = s;
        last = s;
    }
    x->last = last;
    return code;
}

/* Fetches what is ready of one ring; wait: all of it, which may block.  With g->lock held. */
PERF_HOT_FN_ void perf_gpu_collect_ring_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                          perf_gpu_ring_ *ring, int wait)
{
    perf_registry_   *r = perf_registry_get_();
    perf_gpu_entered_ e;
    perf_gpu_batch_   x;
    perf_gpu_track_  *t;
    perf_gpu_aim_     aims[PERF_GPU_AIMS_];
    uint64_t          now;
    perf_gpu_slot_   *s = ring->slot + ring->from, *end = ring->slot + PERF_ACQ_(&ring->made);
    int               code;

    if (ring->generation != g->generation)
        return;
    while (s < end && !PERF_GPU_ENDED_(s))      /* slots are used in turn: oldest first            */
        s++;
    if (s >= end)
        for (s = ring->slot; s < end && !PERF_GPU_ENDED_(s); s++) {
        }
    if (s >= end)
        return;
    code = perf_gpu_enter_(b, ring->ctx, &e);
    if (code) {
        perf_gpu_error_(g, "ctx_push", code);
        return;
    }
    memset(&x, 0, sizeof x);
    x.last = &x.head;
    if (wait) {
        code = perf_gpu_await_(g, b, ring->slot, end);
        x.odd = x.waited = 1;
    }
    now = perf_scope_ticks_(r);
    if (code != PERF_GPU_SHUT_DOWN)
        code = perf_gpu_fetch_(g, b, ring, s, end, &x);
    if (code != PERF_GPU_SHUT_DOWN && s > ring->slot)
        (void)perf_gpu_fetch_(g, b, ring, ring->slot, s, &x);
    if (!wait)
        now = perf_scope_ticks_(r);
    if (!PERF_GET_(&g->down))                   /* what was fetched before still counts            */
        perf_gpu_leave_(b, &e);
    if (x.last == &x.head)
        return;
    x.last->next = PERF_NULL_;
    s = x.last + 1;
    ring->from = s < end ? PERF_CAST_(uint32_t, s - ring->slot) : 0;
    for (t = g->tracks; t; t = t->next)
        if (PERF_GET_(&t->recorder->request))
            perf_recorder_serve_(t->recorder);
    s = x.head.next;
    memset(aims, 0, sizeof aims);
    if (x.mixed)
        s = perf_gpu_book_mixed_(g, ring, s, &x.last, now, aims);
    else
        perf_gpu_book_(g, ring->line, s, now, aims, 1);
    perf_gpu_return_(ring, s, x.last);
}

PERF_COLD_FN_ void perf_gpu_collect_(perf_registry_ *r)
{
    perf_gpu_state_        *g = PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu));
    const perf_gpu_backend *b = g ? PERF_ACQ_(&g->table) : PERF_NULL_;
    perf_gpu_ring_         *ring;

    if (!b || !perf_gpu_lock_(g, 1))
        return;
    for (ring = PERF_ACQ_(&g->rings); ring && !PERF_GET_(&g->down); ring = ring->next)
        perf_gpu_collect_ring_(g, b, ring, 0);
    perf_gpu_unlock_(g);
}

PERF_FN perf_status perf_gpu_collect(void)
{
    perf_gpu_state_ *g;

    if (!perf_gpu_table())
        return perf_gpu_status();
    g = perf_gpu_state_get_();
    perf_gpu_collect_(perf_registry_get_());
    return PERF_GET_(&g->down) || PERF_GET_(&g->error) ? PERF_EGPU : PERF_OK;
}

PERF_FN perf_status perf_gpu_collect_sync(void)
{
    const perf_gpu_backend *b = perf_gpu_table();
    perf_gpu_state_        *g;
    perf_gpu_ring_         *ring;
    void                   *ctx = PERF_NULL_;
    perf_status             status = perf_gpu_status();

    if (status != PERF_OK)
        return status;
    g = perf_gpu_state_get_();
    if (b->ctx_get(&ctx) || !perf_gpu_lock_(g, 1))
        return PERF_EGPU;
    for (ring = PERF_ACQ_(&g->rings); ring && !PERF_GET_(&g->down); ring = ring->next)
        if (ring->ctx == ctx)
            perf_gpu_collect_ring_(g, b, ring, 1);
    perf_gpu_unlock_(g);
    return perf_gpu_collect();
}

PERF_COLD_FN_ void perf_gpu_reset_(void)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g = r ? PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu))
                           : PERF_CAST_(perf_gpu_state_ *, PERF_NULL_);
    perf_gpu_line_  *l;
    size_t           i;

    if (!g || !perf_gpu_lock_(g, 1))
        return;
    for (i = 0; i < 64; i++)
        if (g->row[i])
            memset(g->row[i], 0, 64 * sizeof *g->row[i]);
    for (l = g->lines; l; l = l->next) {
        l->first_ns = l->busy_until_ns;
        l->busy_ns = l->starved_ns = l->worst_ns = 0;
    }
    memset(g->rest, 0, sizeof g->rest);
    g->birth = perf_scope_ticks_(r);
    PERF_SET_(&g->dropped, UINT64_C(0));
    PERF_SET_(&g->captured, UINT64_C(0));
    PERF_SET_(&g->no_context, UINT64_C(0));
    PERF_SET_(&g->failed, UINT64_C(0));
    PERF_SET_(&g->no_gpu, UINT64_C(0));
    PERF_SET_(&g->error, 0);
    PERF_REL_(&g->marks, PERF_CAST_(perf_gpu_mark_ *, PERF_NULL_));
    g->noted_peak = g->noted;
    perf_gpu_unlock_(g);
}

PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table)
{
    perf_gpu_state_        *g = PERF_DISABLE ? PERF_CAST_(perf_gpu_state_ *, PERF_NULL_)
                                             : perf_gpu_state_get_();
    const perf_gpu_backend *b;
    perf_gpu_ring_         *ring;
    perf_gpu_line_         *l;
    perf_gpu_track_        *track;
    uint32_t                i;

    if (table && (table->size != sizeof *table || !perf_gpu_complete_(table)))
        return PERF_EINVAL;
    if (!g)
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOMEM;
    if (!perf_gpu_lock_(g, 1))
        return PERF_ESTATE;
    b = g->table;
    perf_gpu_deaden_(g);
    for (ring = g->rings; ring; ring = ring->next)
        for (i = 0; i < ring->made && ring->generation == g->generation; i++) {
            perf_gpu_slot_ *s = &ring->slot[i];
            if (PERF_GPU_ENDED_(s))
                PERF_GPU_COUNT_(g, dropped);
            if (b && s->start)
                (void)b->event_destroy(s->start);
            if (b && s->stop)
                (void)b->event_destroy(s->stop);
        }
    for (l = g->lines; l; l = l->next)
        if (b && l->anchor)
            (void)b->event_destroy(l->anchor);
    g->rings = PERF_NULL_;                      /* their pages stay: threads may still look */
    g->lines = PERF_NULL_;
    for (track = g->tracks; track; track = track->next)
        track->line = PERF_NULL_;               /* its title may come again */
    PERF_SET_(&g->down, 0u);
    PERF_REL_(&g->generation, g->generation + 1);
    PERF_REL_(&g->table, table);
    PERF_REL_(&g->looked, table ? PERF_GPU_LOOKED_ALL_ : 0u);
    perf_gpu_unlock_(g);
    return PERF_OK;
}

/* ---- statistics and report ---- */

PERF_FN perf_gpu_stats perf_gpu_stats_of(const char *name)
{
    perf_gpu_stats   a;
    perf_registry_  *r = PERF_DISABLE ? PERF_CAST_(perf_registry_ *, PERF_NULL_)
                                      : perf_registry_get_();
    perf_gpu_state_ *g = r ? PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu))
                           : PERF_CAST_(perf_gpu_state_ *, PERF_NULL_);
    perf_gpu_line_  *l;
    perf_gpu_ring_  *ring;
    uint32_t         id, i;
    double           tick = perf_scope_tick_ns_(r);

    memset(&a, 0, sizeof a);
    a.aligned_ns = -1;
    if (!g || !perf_gpu_lock_(g, 1))
        return a;
    for (id = 1; id < 64 * 64 && id < PERF_ACQ_(&r->count); id++) {
        const perf_gpu_row_ *row = g->row[id / 64] ? &g->row[id / 64][id % 64] : PERF_NULL_;
        if (!row || !row->scopes || (name && strcmp(PERF_ACQ_(&r->names)[id]->site.name, name)))
            continue;
        a.scopes += row->scopes;
        a.device_ns += row->device_ns;
        a.submit_ns += PERF_CAST_(double, row->submit) * tick;
        a.lag_ns += PERF_CAST_(double, row->lag) * tick;
        if (PERF_CAST_(double, row->lag_max) * tick > a.lag_max_ns)
            a.lag_max_ns = PERF_CAST_(double, row->lag_max) * tick;
    }
    for (l = g->lines; !name && l; l = l->next)
        if (l->known) {
            a.busy_ns += l->busy_ns;
            a.span_ns += l->last_ns - l->first_ns;
            if (l->worst_ns > a.aligned_ns)
                a.aligned_ns = l->worst_ns;
        }
    for (ring = PERF_ACQ_(&g->rings); !name && ring; ring = ring->next)
        for (i = 0; i < PERF_ACQ_(&ring->made); i++)
            a.pending += PERF_GPU_ENDED_(&ring->slot[i]);
    if (!name) {
        a.dropped = PERF_GET_(&g->dropped);
        a.captured = PERF_GET_(&g->captured);
        a.no_context = PERF_GET_(&g->no_context);
        a.failed = PERF_GET_(&g->failed);
        a.no_gpu = PERF_GET_(&g->no_gpu);
    }
    perf_gpu_unlock_(g);
    return a;
}

PERF_COLD_FN_ void perf_gpu_put_rows_(perf_out_ *o, const perf_gpu_state_ *g, perf_registry_ *r)
{
    double   tick = perf_scope_tick_ns_(r);
    uint32_t id, title = 0;

    for (id = 1; id < 64 * 64 && id < PERF_ACQ_(&r->count); id++) {
        const perf_gpu_row_ *row = g->row[id / 64] ? &g->row[id / 64][id % 64] : PERF_NULL_;
        const perf_name_    *name = PERF_ACQ_(&r->names)[id];
        double               n;
        if (!row || !row->scopes)
            continue;
        n = PERF_CAST_(double, row->scopes);
        if (!title++)
            perf_put_(o, "device scope                     calls     class    device    submit       "
                         "lag   max lag\n");
        perf_put_name_(o, name->site.name, 28);
        perf_put_number_cell_(o, n, 0, "", 10);
        perf_put_cell_(o, perf_kind_text_(name->kind), 10);
        perf_put_time_cell_(o, row->device_ns / n, 10);
        perf_put_time_cell_(o, PERF_CAST_(double, row->submit) * tick / n, 10);
        perf_put_time_cell_(o, PERF_CAST_(double, row->lag) * tick / n, 10);
        perf_put_time_cell_(o, PERF_CAST_(double, row->lag_max) * tick, 10);
        perf_put_char_(o, '\n');
    }
}

PERF_COLD_DECL_ void perf_gpu_put_marks_(perf_out_ *, const perf_gpu_state_ *);
PERF_COLD_DECL_ void perf_gpu_evidence_(perf_bottleneck_info *);
PERF_COLD_DECL_ void perf_put_bottleneck_(perf_out_ *, const perf_bottleneck_info *);

/* Under the table of scopes: means per scope, one line a context, what is missing and why. */
PERF_COLD_FN_ void perf_gpu_report_(perf_out_ *o)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g = r ? PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu))
                           : PERF_CAST_(perf_gpu_state_ *, PERF_NULL_);
    perf_gpu_stats   a = perf_gpu_stats_of(PERF_NULL_);
    perf_gpu_line_  *l;
    size_t           i;
    perf_bottleneck_info e;
    const struct {
        uint64_t    n;
        const char *what;
    } note[] = {
        {a.pending, " device scopes were still in flight"},
        {a.dropped, " device scopes were dropped: PERF_GPU_SLOTS is the room for those in flight"},
        {a.captured, " device scopes were skipped: their stream was being captured into a graph"},
        {a.no_context, " device scopes were skipped: no context was current"},
        {a.no_gpu, " device scopes were skipped: no GPU driver"},
        {a.failed, " device scopes failed in the driver"},
    };

    if (!g)
        return;
    perf_gpu_evidence_(&e);
    perf_gpu_put_rows_(o, g, r);
    for (l = g->lines; l; l = l->next) {
        if (!l->known || !(l->last_ns > l->first_ns))
            continue;
        perf_put_(o, "GPU ");
        perf_put_u64_(o, PERF_CAST_(uint64_t, l->device));
        perf_put_(o, ": busy ");
        perf_put_fixed_(o, l->busy_ns / (l->last_ns - l->first_ns) * 100, 1);
        perf_put_(o, " % of ");
        perf_put_time_(o, l->last_ns - l->first_ns);
        perf_put_(o, ", clock within ");
        perf_put_time_(o, l->worst_ns);
        perf_put_(o, g->table && g->table->flags & PERF_GPU_TABLE_SIMULATED ? " of the host's (simulated)\n"
                                                                            : " of the host's\n");
    }
    if (a.scopes) {
        perf_put_(o, "bottleneck: ");
        perf_put_bottleneck_(o, &e);
        perf_put_char_(o, '\n');
    }
    perf_gpu_put_marks_(o, g);
    for (i = 0; i < sizeof note / sizeof note[0]; i++)
        if (note[i].n) {
            perf_put_(o, "note: ");
            perf_put_u64_(o, note[i].n);
            perf_put_(o, note[i].what);
            perf_put_char_(o, '\n');
        }
    if (perf_gpu_error_code()) {
        perf_put_(o, "note: GPU error: ");
        perf_put_(o, perf_gpu_error_text());
        perf_put_char_(o, '\n');
    }
}

/* ---- memory ---- */

PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes)
{
    perf_gpu_state_ *g = PERF_DISABLE ? PERF_CAST_(perf_gpu_state_ *, PERF_NULL_)
                                      : perf_gpu_state_get_();

    if (!(bytes > -1e18 && bytes < 1e18) || !perf_is_finite_(bytes))
        return PERF_EINVAL;
    if (!g)
        return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOMEM;
    if (!perf_gpu_lock_(g, 1))
        return PERF_ESTATE;
    g->noted += bytes;
    if (g->noted > g->noted_peak)
        g->noted_peak = g->noted;
    bytes = g->noted;
    perf_gpu_unlock_(g);
    if (what)
        perf_count(what, bytes);                /* a curve in the trace */
    return PERF_OK;
}

PERF_FN perf_status perf_gpu_memory_mark(const char *phase)
{
    const perf_gpu_backend *b = perf_gpu_table();
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_state_        *g;
    perf_gpu_mark_          now, *m;
    perf_status             status = perf_gpu_status();
    perf_site_              site = PERF_ZERO;
    size_t                  left = 0, total = 0;
    uint64_t                high = 0, held = 0;
    void                   *pool = PERF_NULL_;
    int                     code, device = 0;

    if (status != PERF_OK)
        return status;
    g = perf_gpu_state_get_();
    if (!b->mem_info)
        return PERF_ENODATA;
    code = b->mem_info(&left, &total);
    if (code) {
        perf_gpu_error_(g, "mem_info", code);
        return PERF_EGPU;
    }
    if (b->ctx_device && b->ctx_device(&device))
        device = 0;
    memset(&now, 0, sizeof now);
    now.device = device;
    now.total = PERF_CAST_(double, total);
    now.used = now.total - PERF_CAST_(double, left);
    now.peak = now.used;
    if (b->pool_get && b->pool_value && !b->pool_get(&pool, device) &&
        !b->pool_value(pool, PERF_GPU_POOL_RESERVED_HIGH, &high) &&
        !b->pool_value(pool, PERF_GPU_POOL_RESERVED, &held))
        now.pool_high = PERF_CAST_(double, high);
    if (!perf_gpu_lock_(g, 1))
        return PERF_ESTATE;
    if (!perf_lock_(r)) {
        perf_gpu_unlock_(g);
        return PERF_ESTATE;
    }
    for (m = g->marks; m && m->device != device; m = m->next) {
    }
    now.noted = g->noted;
    if (now.pool_high > (m ? m->pool_high : 0)) /* a new high: it was reached in this phase */
        now.peak += now.pool_high - PERF_CAST_(double, held);
    if (g->noted_peak > g->noted && now.used + (g->noted_peak - g->noted) > now.peak)
        now.peak = now.used + (g->noted_peak - g->noted);
    if (m && g->noted_peak - m->noted > 0 && m->used + (g->noted_peak - m->noted) > now.peak)
        now.peak = m->used + (g->noted_peak - m->noted);
    if (m && m->used > now.peak)                /* the phase began with it */
        now.peak = m->used;
    g->noted_peak = g->noted;
    site.name = phase;
    now.name = perf_name_intern_(r, &site);
    m = now.name ? PERF_CAST_(perf_gpu_mark_ *, perf_pool_(&g->pool, &g->pool_end, sizeof *m, 65536, 0))
                 : PERF_NULL_;
    if (m) {
        *m = now;
        m->next = g->marks;
        PERF_REL_(&g->marks, m);
    }
    perf_unlock_(r);
    perf_gpu_unlock_(g);
    return m ? PERF_OK : PERF_ENOMEM;
}

PERF_COLD_FN_ void perf_gpu_put_marks_(perf_out_ *o, const perf_gpu_state_ *g)
{
    const perf_gpu_mark_ *newest = PERF_ACQ_(&g->marks), *m, *older = PERF_NULL_, *first = PERF_NULL_;

    if (newest)
        perf_put_(o, "device memory phase         GPU    in use     change       peak     noted"
                     "      total\n");
    while (newest != older) {                   /* oldest first */
        const perf_gpu_mark_ *before;
        for (m = newest; m->next != older; m = m->next) {
        }
        for (before = m->next; before && before->device != m->device; before = before->next) {
        }
        perf_put_name_(o, m->name->site.name, 25);
        perf_put_number_cell_(o, m->device, 0, "", 6);
        perf_put_bytes_(o, m->used);
        perf_put_bytes_(o, m->used - (before ? before->used : 0));
        perf_put_bytes_(o, m->peak);
        perf_put_bytes_(o, m->noted);
        perf_put_bytes_(o, m->total);
        if (m->peak > m->total) {
            perf_put_(o, "  does not fit");
            if (!first)
                first = m;
        }
        perf_put_char_(o, '\n');
        older = m;
    }
    if (first) {
        perf_put_(o, "note: ");
        perf_put_cut_(o, first->name->site.name, 60);
        perf_put_(o, " is the first phase that does not fit on GPU ");
        perf_put_u64_(o, PERF_CAST_(uint64_t, first->device));
        perf_put_(o, ": short of");
        perf_put_bytes_(o, first->peak - first->total);
        perf_put_char_(o, '\n');
    }
}

/* ---- bottleneck ---- */

#define PERF_BOUND_TEXT_(name, text) case name: return text;
PERF_FN const char *perf_bound_text(perf_bound bound)
{
    switch (bound) {
        PERF_BOUND_LIST_(PERF_BOUND_TEXT_)
    case PERF_BOUND_COUNT_: break;
    }
    return "unknown";
}
#undef PERF_BOUND_TEXT_

/* The evidence: time of the main thread by kind, of the devices busy, copying, idle for want of work;
 * and what it amounts to.  Fetches nothing. */
PERF_COLD_FN_ void perf_gpu_evidence_(perf_bottleneck_info *e)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g;
    perf_gpu_line_  *l;
    perf_bound_      host;
    int              i;
    double           span = 0, busy = 0, starved = 0, work = 0, kernels = 0;
    uint32_t         id;

    e->bound = PERF_BOUND_UNKNOWN;
    e->wait_share = e->sync_share = e->busy_share = e->copy_share = e->starved_share = -1;
    if (!r)
        return;
    perf_bound_fill_(&host, r);
    if (host.all) {
        e->wait_share = PERF_CAST_(double, host.wait) / PERF_CAST_(double, host.all);
        e->sync_share = PERF_CAST_(double, host.sync) / PERF_CAST_(double, host.all);
    }
    g = PERF_CAST_(perf_gpu_state_ *, PERF_ACQ_(&r->gpu));
    for (l = g ? PERF_ACQ_(&g->lines) : PERF_NULL_; l; l = l->next) {
        span += l->last_ns - l->first_ns;
        busy += l->busy_ns;
        starved += l->starved_ns;
    }
    for (i = 0; g && i < 4; i++) {
        work += g->rest[i].device_ns;
        kernels += i ? 0 : g->rest[i].device_ns;
    }
    for (id = 1; g && id < 64 * 64 && id < PERF_ACQ_(&r->count); id++)
        if (PERF_ACQ_(&g->row[id / 64])) {
            double ns = g->row[id / 64][id % 64].device_ns;
            work += ns;
            kernels += PERF_ACQ_(&r->names)[id]->kind == PERF_KIND_DEVICE_ ? ns : 0;
        }
    if (span > 0) {
        e->busy_share = busy < span ? busy / span : 1;
        e->starved_share = starved < span ? starved / span : 1;
    }
    if (work > 0)
        e->copy_share = 1 - kernels / work;
    if (e->wait_share > PERF_DATA_BOUND_)
        e->bound = PERF_BOUND_DATA;
    else if (e->busy_share >= 0.8)
        e->bound = e->copy_share > 0.5 ? PERF_BOUND_COPY : PERF_BOUND_DEVICE;
    else if (e->busy_share >= 0 && e->sync_share > 0.3)
        e->bound = PERF_BOUND_SYNC;
    else if (e->busy_share >= 0 && e->starved_share >= 0.5 * (1 - e->busy_share))
        e->bound = PERF_BOUND_HOST;
}

PERF_COLD_FN_ void perf_put_share_(perf_out_ *o, const char *what, double share)
{
    if (share < 0)
        return;
    perf_put_(o, what);
    perf_put_fixed_(o, share * 100, 1);
    perf_put_(o, " %");
}

PERF_COLD_FN_ void perf_put_bottleneck_(perf_out_ *o, const perf_bottleneck_info *e)
{
    perf_put_(o, perf_bound_text(e->bound));
    perf_put_share_(o, ": waits for data ", e->wait_share);
    perf_put_share_(o, e->wait_share < 0 ? ": device busy " : ", device busy ", e->busy_share);
    perf_put_share_(o, ", copies of that ", e->copy_share);
    perf_put_share_(o, ", device idle with nothing submitted ", e->starved_share);
    perf_put_share_(o, ", host waits for the device ", e->sync_share);
    if (e->wait_share < 0 && e->busy_share < 0)
        perf_put_(o, ": nothing was recorded");
    else if (e->busy_share < 0)
        perf_put_(o, ", no device times");
}

PERF_FN size_t perf_bottleneck(char *buf, size_t cap, perf_bottleneck_info *info)
{
    perf_registry_      *r = perf_registry_get_();
    perf_bottleneck_info e;
    perf_out_            o = PERF_ZERO;

    if (r)
        perf_sources_collect_(r);
    perf_gpu_evidence_(&e);
    if (info)
        *info = e;
    o.p = buf;
    o.cap = buf ? cap : 0;
    if (o.cap)
        buf[0] = '\0';
    perf_put_bottleneck_(&o, &e);
    return o.len;
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

/* ---- macros ---- */

#if PERF_DISABLE
#define PERF_GPU_SCOPE(name, stream)    PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY_IN(name, stream)  PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY_OUT(name, stream) PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY(name, stream)     PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_WAIT(name)             PERF_NOTHING_
#elif PERF_GPU_HERE_
/* Described under >>scopes. */
#define PERF_GPU_SCOPE(name, stream)                                                              \
    PERF_GPU_SCOPE_("" name "", stream, PERF_KIND_DEVICE_, __COUNTER__)
#define PERF_GPU_COPY_IN(name, stream)                                                            \
    PERF_GPU_SCOPE_("" name "", stream, PERF_KIND_IN_, __COUNTER__)
#define PERF_GPU_COPY_OUT(name, stream)                                                           \
    PERF_GPU_SCOPE_("" name "", stream, PERF_KIND_OUT_, __COUNTER__)
#define PERF_GPU_COPY(name, stream)                                                               \
    PERF_GPU_SCOPE_("" name "", stream, PERF_KIND_COPY_, __COUNTER__)
#define PERF_GPU_WAIT(name) PERF_SCOPE_("" name "", PERF_KIND_SYNC_, , __COUNTER__)
#else /* compilers without what it takes: host time only */
#define PERF_GPU_SCOPE(name, stream)    PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY_IN(name, stream)  PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY_OUT(name, stream) PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_COPY(name, stream)     PERF_CAST_(void, sizeof(stream))
#define PERF_GPU_WAIT(name)             PERF_WAIT(name)
#endif
#define PERF_GPU_SCOPE_(name, stream, kind, n)                                                    \
    PERF_GPU_SCOPE2_(name, stream, kind, PERF_CAT_(perf_site_, n), PERF_CAT_(perf_gpu_open_, n))
#define PERF_GPU_SCOPE2_(name, stream, kind, site, open)                                          \
    PERF_SITE_(site, name, kind);                                                                 \
    PERF_GPU_OPEN_(open, perf_gpu_begin_(&(site), PERF_GPU_STREAM_(stream)))

#if PERF_DISABLE
#define perf_gpu_scope_end(scope)         PERF_OFF_((perf_gpu_scope_end)(scope))
#define perf_gpu_collect()                PERF_OFF_CODE_((perf_gpu_collect)())
#define perf_gpu_collect_sync()           PERF_OFF_CODE_((perf_gpu_collect_sync)())
#define perf_gpu_memory_mark(phase)       PERF_OFF_CODE_((perf_gpu_memory_mark)(phase))
#define perf_gpu_memory_note(what, bytes) PERF_OFF_CODE_((perf_gpu_memory_note)(what, bytes))
#endif

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

#if defined(__cplusplus)
struct perf_gpu_guard_ {
    perf_gpu_slot_ *const slot;
    explicit perf_gpu_guard_(perf_gpu_slot_ *s) : slot(s)
    {
    }
    perf_gpu_guard_(const perf_gpu_guard_ &) = delete;
    perf_gpu_guard_ &operator=(const perf_gpu_guard_ &) = delete;
    ~perf_gpu_guard_()
    {
        if (slot)
            perf_gpu_end_(slot);
    }
};
#define PERF_GPU_OPEN_(open, slot) const perf_gpu_guard_ open(slot)

namespace perf {

/* perf::gpu_scope s("gemm", stream); device time until the end of the block, for names made at run
 * time too. */
class gpu_scope {
    perf_gpu_scope scope_;

public:
    gpu_scope(const char *name, perf_stream stream) : scope_(perf_gpu_scope_begin(name, stream))
    {
    }
    ~gpu_scope()
    {
        perf_gpu_scope_end(&scope_);
    }
    gpu_scope(const gpu_scope &) = delete;
    gpu_scope &operator=(const gpu_scope &) = delete;
};

} /* namespace perf */
#else
PERF_INLINE_FN_ void perf_gpu_guard_(perf_gpu_slot_ *const *open)
{
    if (*open)
        perf_gpu_end_(*open);
}
#define PERF_GPU_OPEN_(open, slot)                                                                \
    perf_gpu_slot_ *const open PERF_ATTR_((__cleanup__(perf_gpu_guard_), __unused__)) = slot
#endif

#endif /* PERF_CUDA_H */
