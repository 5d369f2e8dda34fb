/* perf_cupti.h - which kernels take the device's time, and in which scope were they launched?
 *
 *     #define PERF_AT_EXIT 1                   // in one file of the program
 *     #include "perf_cupti.h"
 *
 * PERF_CUPTI=1 PERF_REPORT=1 ./program then reports kernels, copies and memsets, without a mark.
 * NVIDIA's libcupti is looked for at run time: no header of CUDA's, nothing to link.  Each kernel
 * is a row of the report by its own name, and stands in the trace.  A table says in which scope it
 * was launched, and how long after that it began.  Without PERF_CUPTI and without
 * perf_cupti_start() nothing is opened, and nothing costs anything.
 * Recording ends with the process.  Under another profiler (nsys, ncu, cuda-gdb) it does not begin.
 * Do not use torch.profiler in the same run: it replaces the receiver of the records.
 * Sections (search for ">>"):  calls  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CUPTI_H
#define PERF_CUPTI_H

#include "perf_activity.h"

PERF_BEGIN_DECLS

/* >>calls --------------------------------------------------------------------------------------
 * PERF_CUPTI=1 in the environment calls this before main, PERF_CUPTI=/a/path/libcupti.so.13 with
 * that path; 0 or nothing does not.  CUPTI initialises the driver then: a program whose forked
 * children use the device calls it in those children.                                            */

/* Records all kernels, copies and memsets of this process from now on.  `library`: the path of a
 * libcupti, which is not kept; NULL: one that the process has opened already, else the loader's,
 * else that of /usr/local/cuda.  Any thread; takes a lock, allocates, opens a library.
 * PERF_OK, also when it runs already; PERF_ENOGPU: no libcupti, or it finds no device; PERF_ESTATE:
 * another profiler has this process; PERF_ENODATA: that library is none, or too old; PERF_EGPU:
 * CUPTI refuses, for want of rights, say; PERF_ENOMEM.  The report repeats it as a sentence.
 * After a failure nothing records, and it may be called again; libraries that it opened stay.    */
PERF_FN perf_status perf_cupti_start(const char *library);

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

#if !PERF_DL_ || PERF_DISABLE
PERF_FN perf_status perf_cupti_start(const char *library)
{
    (void)library;
    return PERF_DISABLE ? PERF_EDISABLED : PERF_ENOGPU;
}
#else

/* ---- what CUPTI writes: the beginnings of its structs, the same from CUDA 9 to 13.5 ---- */

typedef struct perf_cupti_kernel_ {     /* CUpti_ActivityKernel4 and later                        */
    uint32_t    kind, shape[3];
    uint64_t    start, end, completed;  /* ns                                                     */
    uint32_t    device, context, stream, grid[3], block[3], memory[4], correlation;
    int64_t     grid_id;
    const char *name;
} perf_cupti_kernel_;

typedef struct perf_cupti_copy_ {       /* CUpti_ActivityMemcpy, Memset, MemcpyPtoP               */
    uint32_t kind, what;                /* what: of a copy its direction, in the low byte         */
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint32_t from[3], peer_correlation; /* of copies from device to device only                   */
} perf_cupti_copy_;

typedef struct perf_cupti_call_ {       /* CUpti_CallbackData                                     */
    uint32_t    site;                   /* 0 a call of the API begins, 1 it ends                  */
    const char *function;
    const void *parameters;
    void       *result;
    const char *symbol;
    void       *context;
    uint32_t    context_number;
    uint64_t   *data;
    uint32_t    correlation;            /* the records of what it launches have it, too           */
} perf_cupti_call_;

enum { PERF_CUPTI_COPY_ = 1, PERF_CUPTI_FILL_ = 2, PERF_CUPTI_KERNEL_ = 10, PERF_CUPTI_PEER_ = 22 };

#define PERF_CUPTI_LIMIT_ 12            /* CUPTI_ERROR_MAX_LIMIT_REACHED: a buffer's end; in CUDA */
                                        /* 10: there is a subscriber                              */

#define PERF_CUPTI_BUFFER_ 1048576u     /* bytes; some 5,000 kernels                              */

#define PERF_CUPTI_FUNCTIONS_ 2048u     /* of the driver, and of the runtime; CUDA 13 has 800     */

/* Its functions. */
typedef struct perf_cupti_ {
    void *subscriber;
    int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
    int (*unsubscribe)(void *);
    int (*enable_domain)(uint32_t, void *, int);
    int (*receive)(void (*)(uint8_t **, size_t *, size_t *),
                   void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*enable)(int);
    int (*disable)(int);
    int (*flush)(uint32_t);
    int (*next)(uint8_t *, size_t, void **);
    int (*count_dropped)(void *, uint32_t, size_t *);
    int (*error_name)(int, const char **);
    /* 1: that function only asks, 2: it may launch something, 0: it was not called yet */
    uint8_t asks[2][PERF_CUPTI_FUNCTIONS_];
} perf_cupti_;

static perf_activity_ *perf_cupti_kept_;        /* for perf_cupti_filled_, which gets no pointer  */

/* ---- parts, in the order of their bodies ---- */

PERF_COLD_DECL_ perf_status perf_cupti_open_(perf_activity_ *activity, const char *path,
                                             perf_activity_why_ *why);
PERF_COLD_DECL_ void *perf_cupti_library_(const char *path);
PERF_COLD_DECL_ int perf_cupti_fill_(perf_activity_ *activity, void *library);
PERF_COLD_DECL_ int perf_cupti_driver_(void);
PERF_COLD_DECL_ perf_status perf_cupti_refused_(const perf_cupti_ *cupti, perf_status status,
                                                const char *text, int code,
                                                perf_activity_why_ *why);
PERF_COLD_DECL_ int perf_cupti_begin_(perf_cupti_ *cupti);
PERF_COLD_DECL_ void perf_cupti_called_(void *state, int domain, uint32_t function,
                                        const void *data);
PERF_COLD_DECL_ int perf_cupti_asks_(perf_cupti_ *cupti, int domain, uint32_t function,
                                     const char *name);
PERF_COLD_DECL_ void perf_cupti_room_(uint8_t **buffer, size_t *size, size_t *most);
PERF_COLD_DECL_ void perf_cupti_filled_(void *context, uint32_t stream, uint8_t *buffer,
                                        size_t size, size_t valid);
PERF_COLD_DECL_ void perf_cupti_read_(perf_activity_ *activity, const void *record);
PERF_COLD_DECL_ void perf_cupti_flush_(void *calls, int last);
PERF_COLD_DECL_ void perf_cupti_lost_(perf_activity_ *activity, const perf_cupti_ *cupti,
                                      size_t lost);

/* ---- start ---- */

static const perf_activity_library_ perf_cupti_us_ = {"CUPTI", "PERF_CUPTI", 1, 0,
                                                      sizeof(perf_cupti_), perf_cupti_open_};

#if defined(__GNUC__)
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_cupti_at_start_(void)
{
    perf_activity_asked_(&perf_cupti_us_);
}
#endif

PERF_FN perf_status perf_cupti_start(const char *library)
{
    return perf_activity_start_(&perf_cupti_us_, library);
}

#define PERF_CUPTI_TAKEN_ 39            /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED         */
#define PERF_CUPTI_MIXED_ 14            /* CUPTI_ERROR_NOT_COMPATIBLE: beside a profiler that     */
                                        /* uses cuptiSubscribe_v2, say                            */

/* Finds the library and the driver, subscribes, lets records come; else *why says why not. */
PERF_COLD_FN_ perf_status perf_cupti_open_(perf_activity_ *activity, const char *path,
                                           perf_activity_why_ *why)
{
    perf_cupti_ *cupti = PERF_CAST_(perf_cupti_ *, activity->calls[0]);
    void        *library = perf_cupti_library_(path);
    uint64_t     ns = 0;
    int          code;

    why->text = "there is no libcupti.so that the loader finds: PERF_CUPTI=/path/of/libcupti.so";
    if (!library)
        return PERF_ENOGPU;
    why->text = "that libcupti.so lacks functions";
    if (!perf_cupti_fill_(activity, library))
        return PERF_ENODATA;
    activity->flush = perf_cupti_flush_;
    PERF_REL_(&perf_cupti_kept_, activity);
    why->text = "there is no driver, or no device";
    if (perf_cupti_driver_())
        return PERF_ENOGPU;
    code = cupti->subscribe(&cupti->subscriber, perf_cupti_called_, activity);
    if (code == PERF_CUPTI_TAKEN_ || code == PERF_CUPTI_LIMIT_)
        return perf_cupti_refused_(cupti, PERF_ESTATE, "another profiler has this process", code,
                                   why);
    if (code)
        return perf_cupti_refused_(cupti, PERF_ENOGPU, "it cannot begin", code, why);
    code = activity->timestamp(&ns);
    if (code)
        (void)cupti->unsubscribe(cupti->subscriber);
    else
        code = perf_cupti_begin_(cupti);
    if (code == PERF_CUPTI_MIXED_)
        return perf_cupti_refused_(cupti, PERF_ESTATE, "another profiler has this process", code,
                                   why);
    if (code)
        return perf_cupti_refused_(cupti, PERF_EGPU, "it refuses", code, why);
    return PERF_OK;
}

/* What the process has opened already comes first. */
PERF_COLD_FN_ void *perf_cupti_library_(const char *path)
{
    static const char *const usual[] = {
        "libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", PERF_NULL_};
    const char *named[2] = {PERF_NULL_, PERF_NULL_};

    named[0] = path;
    return perf_library_open_(path ? named : usual);
}

/* 1: the library has all that is needed. */
PERF_COLD_FN_ int perf_cupti_fill_(perf_activity_ *activity, void *library)
{
    perf_cupti_ *cupti = PERF_CAST_(perf_cupti_ *, activity->calls[0]);

    PERF_LIBC_(memset)(cupti, 0, sizeof *cupti);
    activity->timestamp = PERF_NULL_;
    perf_library_symbol_(library, "cupti", "Subscribe", &cupti->subscribe);
    perf_library_symbol_(library, "cupti", "Unsubscribe", &cupti->unsubscribe);
    perf_library_symbol_(library, "cupti", "EnableDomain", &cupti->enable_domain);
    perf_library_symbol_(library, "cupti", "ActivityRegisterCallbacks", &cupti->receive);
    perf_library_symbol_(library, "cupti", "ActivityEnable", &cupti->enable);
    perf_library_symbol_(library, "cupti", "ActivityDisable", &cupti->disable);
    perf_library_symbol_(library, "cupti", "ActivityFlushAll", &cupti->flush);
    perf_library_symbol_(library, "cupti", "ActivityGetNextRecord", &cupti->next);
    perf_library_symbol_(library, "cupti", "ActivityGetNumDroppedRecords", &cupti->count_dropped);
    perf_library_symbol_(library, "cupti", "GetTimestamp", &activity->timestamp);
    perf_library_symbol_(library, "cupti", "GetResultString", &cupti->error_name);
    return cupti->subscribe && cupti->unsubscribe && cupti->enable_domain && cupti->receive &&
           cupti->enable && cupti->disable && cupti->flush && cupti->next && cupti->count_dropped &&
           activity->timestamp;
}

/* Does the driver find a device?  0, or its code; -1: there is no driver.  Where CUPTI of CUDA 13.2
 * cannot begin it calls itself until the stack is full.  So it is asked only after this.         */
PERF_COLD_FN_ int perf_cupti_driver_(void)
{
    static const char *const name[] = {"libcuda.so.1", PERF_NULL_};
    void                    *library = perf_library_open_(name);
    int                    (*init)(unsigned) = PERF_NULL_;

    if (library)
        perf_library_symbol_(library, "cu", "Init", &init);
    return init ? init(0) : -1;
}

/* Fills in *why, with CUPTI's word for the code; returns `status`. */
PERF_COLD_FN_ perf_status perf_cupti_refused_(const perf_cupti_ *cupti, perf_status status,
                                              const char *text, int code, perf_activity_why_ *why)
{
    why->text = text;
    why->code = code;
    if (cupti->error_name && cupti->error_name(code, &why->error))
        why->error = PERF_NULL_;
    return status;
}

/* Records begin; 0 or CUPTI's code.  Peer copies: an old release may not know them. */
PERF_COLD_FN_ int perf_cupti_begin_(perf_cupti_ *cupti)
{
    int code = cupti->receive(perf_cupti_room_, perf_cupti_filled_);

    if (!code)
        code = cupti->enable_domain(1, cupti->subscriber, 1); /* calls of the driver              */
    if (!code)
        code = cupti->enable_domain(1, cupti->subscriber, 2); /* of the runtime                   */
    if (!code)
        code = cupti->enable(PERF_CUPTI_KERNEL_);
    if (!code)
        code = cupti->enable(PERF_CUPTI_COPY_);
    if (!code)
        code = cupti->enable(PERF_CUPTI_FILL_);
    if (!code) {
        (void)cupti->enable(PERF_CUPTI_PEER_);
        return 0;
    }
    (void)cupti->disable(PERF_CUPTI_KERNEL_);
    (void)cupti->disable(PERF_CUPTI_COPY_);
    (void)cupti->disable(PERF_CUPTI_FILL_);
    (void)cupti->flush(1);                      /* gives back what it has asked for meanwhile     */
    (void)cupti->unsubscribe(cupti->subscriber);
    return code;
}

/* ---- launches ---- */

/* Called as each function of the driver or the runtime begins and ends, in its thread. */
PERF_COLD_FN_ void perf_cupti_called_(void *state, int domain, uint32_t function, const void *data)
{
    perf_activity_         *activity = PERF_CAST_(perf_activity_ *, state);
    const perf_cupti_call_ *call = PERF_CAST_(const perf_cupti_call_ *, data);

    if (PERF_ACQ_(&activity->on) != PERF_ACTIVITY_RECORDS_)     /* a forked child, or the end     */
        return;
    if (!perf_cupti_asks_(PERF_CAST_(perf_cupti_ *, activity->calls[0]), domain, function,
                          call->function))
        perf_activity_launch_(activity, call->correlation, call->site != 0);
}

/* 1: "cudaEventQuery", "cuCtxGetCurrent" and the like, which launch nothing.  A program that polls
 * calls them more often than there are entries for launches.                                     */
PERF_COLD_FN_ int perf_cupti_asks_(perf_cupti_ *cupti, int domain, uint32_t function,
                                   const char *name)
{
    uint8_t *known, asks;

    if (!name || function >= PERF_CUPTI_FUNCTIONS_)
        return 0;
    known = &cupti->asks[domain & 1][function];
    asks = PERF_GET_(known);
    if (!asks) {
        asks = 2;
        if (PERF_LIBC_(strstr)(name, "Query") || PERF_LIBC_(strstr)(name, "Get") ||
            PERF_LIBC_(strstr)(name, "PeekAt"))
            asks = 1;
        PERF_SET_(known, asks);
    }
    return asks == 1;
}

/* ---- records ---- */

/* CUPTI asks for room.  Where it gets none, it drops records, and counts them.  *most 0: it fills
 * the buffer with as many records as there is room for. */
PERF_COLD_FN_ void perf_cupti_room_(uint8_t **buffer, size_t *size, size_t *most)
{
    *most = 0;
    *buffer = PERF_CAST_(uint8_t *, PERF_MALLOC(PERF_CUPTI_BUFFER_));
    *size = 0;
    if (*buffer)
        *size = PERF_CUPTI_BUFFER_;
}

/* CUPTI hands over what it has filled, on a thread of its own or in that of a flush. */
PERF_COLD_FN_ void perf_cupti_filled_(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    perf_activity_ *activity = PERF_ACQ_(&perf_cupti_kept_);
    perf_cupti_    *cupti = PERF_NULL_;         /* stays so in a forked child, and before a start */
    void           *record = PERF_NULL_;        /* has succeeded                                  */
    int             code = 0;

    (void)context, (void)stream, (void)size;
    if (activity && PERF_ACQ_(&activity->on))
        cupti = PERF_CAST_(perf_cupti_ *, activity->calls[0]);
    while (cupti && valid && !code) {
        code = cupti->next(buffer, valid, &record);
        if (!code && perf_lock_word_(&activity->lock, 1)) {
            perf_cupti_read_(activity, record);
            perf_unlock_(&activity->lock);
        }
    }
    if (cupti)                                  /* behind one that it cannot read: no more      */
        perf_cupti_lost_(activity, cupti, code && code != PERF_CUPTI_LIMIT_);
    PERF_FREE(buffer);
}

/* One record of CUPTI's, of a kind that we asked for. */
PERF_COLD_FN_ void perf_cupti_read_(perf_activity_ *activity, const void *record)
{
    const perf_cupti_kernel_ *kernel = PERF_CAST_(const perf_cupti_kernel_ *, record);
    const perf_cupti_copy_   *copy = PERF_CAST_(const perf_cupti_copy_ *, record);
    perf_activity_work_       work = PERF_ZERO;

    if (kernel->kind == PERF_CUPTI_KERNEL_) {
        work.what = PERF_ACTIVITY_KERNEL_;
        work.start = kernel->start;
        work.end = kernel->end;
        work.device = kernel->device;
        work.stream = kernel->stream;
        work.correlation = kernel->correlation;
        work.text = kernel->name;
        perf_activity_add_(activity, &work);
        return;
    }
    switch (copy->kind) {
    case PERF_CUPTI_FILL_: work.what = PERF_ACTIVITY_FILL_; break;
    case PERF_CUPTI_PEER_: work.what = PERF_ACTIVITY_PEER_; break;
    case PERF_CUPTI_COPY_:
        work.what = copy->what & 255;
        if (work.what > PERF_ACTIVITY_PEER_)    /* a direction of a later release                 */
            work.what = PERF_ACTIVITY_COPY_;
        break;
    default: return;
    }
    work.start = copy->start;
    work.end = copy->end;
    work.device = copy->device;
    work.stream = copy->stream;
    work.bytes = copy->bytes;
    work.correlation = copy->correlation;
    if (copy->kind == PERF_CUPTI_PEER_)
        work.correlation = copy->peer_correlation;
    perf_activity_add_(activity, &work);
}

PERF_COLD_FN_ void perf_cupti_flush_(void *calls, int last)
{
    perf_cupti_    *cupti = PERF_CAST_(perf_cupti_ *, calls);
    perf_activity_ *activity = PERF_ACQ_(&perf_cupti_kept_);

    (void)cupti->flush(PERF_CAST_(uint32_t, last));
    perf_cupti_lost_(activity, cupti, 0);       /* no buffer: perf_cupti_filled_ is not called  */
}

/* Counts `lost` records, and those that CUPTI has dropped since it was last asked. */
PERF_COLD_FN_ void perf_cupti_lost_(perf_activity_ *activity, const perf_cupti_ *cupti, size_t lost)
{
    size_t dropped = 0;

    if (cupti->count_dropped(PERF_NULL_, 0, &dropped))
        dropped = 0;
    if (!perf_lock_word_(&activity->lock, 1))
        return;
    activity->dropped += lost + dropped;
    perf_unlock_(&activity->lock);
}

#endif

/* ---- off: with PERF_DISABLE=1 each call compiles to nothing ---- */

#if PERF_DISABLE
#define perf_cupti_start(library) PERF_OFF_CODE_((perf_cupti_start)(library))
#endif

PERF_END_DECLS

#endif /* PERF_CUPTI_H */
