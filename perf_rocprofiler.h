/* perf_rocprofiler.h - which kernels take an AMD device's time, and where were they launched?
 *
 *     #define PERF_AT_EXIT 1                   // in one file of the program
 *     #include "perf_rocprofiler.h"
 *
 * PERF_ROCPROFILER=1 PERF_REPORT=1 ./program then reports kernels and copies without a mark, as
 * perf_cupti.h does on NVIDIA's devices.  AMD's librocprofiler-sdk is looked for at run time: no
 * header of ROCm's, nothing to link.  It has to begin before HIP does, so no call starts it, only
 * the environment.  Without that nothing is opened, and nothing costs anything.
 * It never met a device: written from AMD's headers of releases 0.4 to 1.3 (ROCm 6.2 to 7.13).
 * Sections (search for ">>"):  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_ROCPROFILER_H
#define PERF_ROCPROFILER_H

#include "perf_activity.h"

PERF_BEGIN_DECLS

/* PERF_ROCPROFILER=1 in the environment starts it before main, PERF_ROCPROFILER=/a/path/of/
 * librocprofiler-sdk.so.1 with that path; 0 or nothing does not.  The report has a note where it
 * does not run: no library, no device, or another profiler (rocprofv3) has the process.          */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

#if PERF_DL_ && !PERF_DISABLE

/* ---- what the library hands over: the beginnings of its structs ---- */

typedef struct perf_rocprofiler_kernel_ {   /* ..._buffer_tracing_kernel_dispatch_record_t        */
    uint64_t size;
    uint32_t kind, operation;
    uint64_t internal, correlation;     /* internal: AMD's id; correlation: ours                  */
    uint64_t thread, start, end;        /* ns                                                     */
    uint64_t info_size, agent, queue, kernel;
} perf_rocprofiler_kernel_;

typedef struct perf_rocprofiler_copy_ {     /* ..._buffer_tracing_memory_copy_record_t            */
    uint64_t size;
    uint32_t kind, direction;
    uint64_t internal, correlation;
    uint64_t thread, start, end;
    uint64_t to, from, bytes;           /* to, from: agents                                       */
} perf_rocprofiler_copy_;

typedef struct perf_rocprofiler_record_ {   /* rocprofiler_record_header_t                        */
    uint32_t    category, kind;
    const void *payload;
} perf_rocprofiler_record_;

typedef struct perf_rocprofiler_agent_ {    /* rocprofiler_agent_v0_t                             */
    uint64_t size, id;
    uint32_t type;                      /* 2: a GPU                                               */
} perf_rocprofiler_agent_;

typedef struct perf_rocprofiler_symbol_ {   /* ..._code_object_kernel_symbol_register_data_t      */
    uint64_t    size, kernel, code_object;
    const char *name;
} perf_rocprofiler_symbol_;

/* rocprofiler_callback_tracing_record_t, which comes by value.  From 1.0 on its correlation id is
 * one word longer; what follows moves by a word. */
typedef struct perf_rocprofiler_call_ {
    uint64_t word[8];
} perf_rocprofiler_call_;

typedef struct perf_rocprofiler_tool_ {     /* rocprofiler_tool_configure_result_t                */
    size_t size;
    int  (*initialize)(void (*)(void), void *);
    void (*finalize)(void *);
    void  *data;
} perf_rocprofiler_tool_;

enum {
    PERF_ROCPROFILER_TRACING_ = 1,      /* category of the records below                          */
    PERF_ROCPROFILER_COPY_ = 10,        /* kinds of records, and of requests for a correlation id */
    PERF_ROCPROFILER_KERNEL_ = 11,
    PERF_ROCPROFILER_CODE_ = 10,        /* kind of calls: code objects; ...                       */
    PERF_ROCPROFILER_SYMBOL_ = 2,       /* ... its operation: a kernel's symbol                   */
    PERF_ROCPROFILER_LOADED_ = 1,       /* ... and phase                                          */
    PERF_ROCPROFILER_LOSSLESS_ = 2,     /* two buffers that take turns; DISCARD has one, and what */
                                        /* comes after its first flush is lost uncounted          */
    PERF_ROCPROFILER_BYTES_ = 1048576,  /* of the buffer                                          */
    PERF_ROCPROFILER_KERNELS_ = 65536,  /* whose names are kept; they are numbered from 1 on      */
    PERF_ROCPROFILER_AGENTS_ = 256
};

typedef struct perf_rocprofiler_name_ { /* of a kernel                                            */
    char    *symbol;                    /* a copy of AMD's, without ".kd"; NULL: not known        */
    uint32_t id, spare;                 /* of the name; 0: it has not run yet                     */
} perf_rocprofiler_name_;

/* Its functions.  AMD's handles are structs of one uint64_t; they are passed like one. */
typedef struct perf_rocprofiler_ {
    int (*configure)(perf_rocprofiler_tool_ *(*)(uint32_t, const char *, uint32_t, void *));
    int (*agents)(int version, int (*)(int, const void **, size_t, void *), size_t, void *);
    int (*create_context)(uint64_t *context);
    int (*create_buffer)(uint64_t context, size_t bytes, size_t mark, int policy,
                         void (*)(uint64_t, uint64_t, perf_rocprofiler_record_ **, size_t, void *,
                                  uint64_t), void *, uint64_t *buffer);
    int (*record)(uint64_t context, int kind, const int32_t *, size_t, uint64_t buffer);
    int (*call)(uint64_t context, int kind, const int32_t *, size_t,
                void (*)(perf_rocprofiler_call_, uint64_t *, void *), void *);
    int (*request)(uint64_t context, const int *kinds, size_t,
                   int (*)(uint64_t, uint64_t, int, int32_t, uint64_t, uint64_t *, void *), void *);
    int (*start)(uint64_t context);
    int (*flush)(uint64_t buffer);
    const char *(*status_name)(int);
    uint64_t context, buffer, launches;
    uint64_t dropped;                   /* AMD's count so far                                     */
    int      initialized, code;         /* code: of the first function that failed                */
    uint32_t asked, devices;            /* asked: it has been told of us, once                    */
    uint64_t device[PERF_ROCPROFILER_AGENTS_];  /* agents that are GPUs, in AMD's order           */
    perf_rocprofiler_name_ kernel[PERF_ROCPROFILER_KERNELS_];
} perf_rocprofiler_;

PERF_COLD_FN_ perf_rocprofiler_ *perf_rocprofiler_of_(perf_activity_ *activity)
{
    return activity ? PERF_CAST_(perf_rocprofiler_ *, activity->calls[1]) : PERF_NULL_;
}

/* ---- parts, in the order of their bodies ---- */

PERF_COLD_DECL_ perf_status perf_rocprofiler_open_(perf_activity_ *activity, const char *path,
                                                   perf_activity_why_ *why);
PERF_COLD_DECL_ int perf_rocprofiler_fill_(perf_activity_ *activity, void *library);
PERF_COLD_DECL_ int perf_rocprofiler_agents_(int version, const void **agent, size_t count,
                                             void *calls);
PERF_COLD_DECL_ perf_status perf_rocprofiler_begin_(perf_activity_ *activity,
                                                    perf_activity_why_ *why);
PERF_COLD_DECL_ perf_rocprofiler_tool_ *perf_rocprofiler_configure_(uint32_t version,
                                                                    const char *runtime,
                                                                    uint32_t priority,
                                                                    void *client);
PERF_COLD_DECL_ int perf_rocprofiler_initialize_(void (*end)(void), void *state);
PERF_COLD_DECL_ int perf_rocprofiler_launched_(uint64_t thread, uint64_t context, int kind,
                                               int32_t operation, uint64_t internal,
                                               uint64_t *correlation, void *state);
PERF_COLD_DECL_ void perf_rocprofiler_called_(perf_rocprofiler_call_ call, uint64_t *data,
                                              void *state);
PERF_COLD_DECL_ void perf_rocprofiler_filled_(uint64_t context, uint64_t buffer,
                                              perf_rocprofiler_record_ **record, size_t count,
                                              void *state, uint64_t dropped);
PERF_COLD_DECL_ void perf_rocprofiler_kernel_read_(perf_activity_ *activity, const void *payload);
PERF_COLD_DECL_ uint32_t perf_rocprofiler_device_(const perf_rocprofiler_ *profiler,
                                                  uint64_t agent);
PERF_COLD_DECL_ void perf_rocprofiler_copy_read_(perf_activity_ *activity, const void *payload);
PERF_COLD_DECL_ void perf_rocprofiler_flush_(void *calls, int last);

/* ---- start ---- */

/* Before the constructors that register a program's kernels with HIP. */
#if defined(__GNUC__)
PERF_ATTR_((__constructor__(102), __used__)) PERF_OURS_ static void perf_rocprofiler_early_(void)
{
    static const perf_activity_library_ us = {"rocprofiler", "PERF_ROCPROFILER", 8, 1,
                                              sizeof(perf_rocprofiler_), perf_rocprofiler_open_};

    perf_activity_asked_(&us);
}
#endif

/* Finds the library and its devices, and tells it of us; else *why says why not. */
PERF_COLD_FN_ perf_status perf_rocprofiler_open_(perf_activity_ *activity, const char *path,
                                                 perf_activity_why_ *why)
{
    static const char *const usual[] = {
        "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0", "librocprofiler-sdk.so",
        "/opt/rocm/lib/librocprofiler-sdk.so", PERF_NULL_};
    perf_rocprofiler_ *profiler = perf_rocprofiler_of_(activity);
    const char        *named[2] = {PERF_NULL_, PERF_NULL_};
    void              *library;

    if (profiler->asked)                        /* by another image: its reason stays             */
        return PERF_ESTATE;
    why->text = "there is no librocprofiler-sdk.so that the loader finds: "
                "PERF_ROCPROFILER=/path/of/librocprofiler-sdk.so";
    named[0] = path;
    library = perf_library_open_(path ? named : usual);
    if (!library)
        return PERF_ENOGPU;
    why->text = "that librocprofiler-sdk.so lacks functions";
    if (!perf_rocprofiler_fill_(activity, library))
        return PERF_ENODATA;
    activity->flush = perf_rocprofiler_flush_;
    why->text = "there is no driver, or no device";
    if (profiler->agents(1, perf_rocprofiler_agents_, sizeof(perf_rocprofiler_agent_), profiler) ||
        !profiler->devices)
        return PERF_ENOGPU;
    return perf_rocprofiler_begin_(activity, why);
}

/* 1: the library has all that is needed. */
PERF_COLD_FN_ int perf_rocprofiler_fill_(perf_activity_ *activity, void *library)
{
    static const char  prefix[] = "rocprofiler_";
    perf_rocprofiler_ *profiler = perf_rocprofiler_of_(activity);

    PERF_LIBC_(memset)(profiler, 0, sizeof *profiler);
    activity->timestamp = PERF_NULL_;
    perf_library_symbol_(library, prefix, "force_configure", &profiler->configure);
    perf_library_symbol_(library, prefix, "query_available_agents", &profiler->agents);
    perf_library_symbol_(library, prefix, "create_context", &profiler->create_context);
    perf_library_symbol_(library, prefix, "create_buffer", &profiler->create_buffer);
    perf_library_symbol_(library, prefix, "configure_buffer_tracing_service", &profiler->record);
    perf_library_symbol_(library, prefix, "configure_callback_tracing_service", &profiler->call);
    perf_library_symbol_(library, prefix, "configure_external_correlation_id_request_service",
                     &profiler->request);
    perf_library_symbol_(library, prefix, "start_context", &profiler->start);
    perf_library_symbol_(library, prefix, "flush_buffer", &profiler->flush);
    perf_library_symbol_(library, prefix, "get_timestamp", &activity->timestamp);
    perf_library_symbol_(library, prefix, "get_status_name", &profiler->status_name);
    return profiler->configure && profiler->agents && profiler->create_context &&
           profiler->create_buffer && profiler->record && profiler->call && profiler->request &&
           profiler->start && profiler->flush && profiler->status_name && activity->timestamp;
}

/* Keeps the agents that are GPUs. */
PERF_COLD_FN_ int perf_rocprofiler_agents_(int version, const void **agent, size_t count,
                                           void *calls)
{
    perf_rocprofiler_              *profiler = PERF_CAST_(perf_rocprofiler_ *, calls);
    const perf_rocprofiler_agent_ *found;
    size_t                         i;

    (void)version;
    for (i = 0; i < count && profiler->devices < PERF_ROCPROFILER_AGENTS_; i++) {
        found = PERF_CAST_(const perf_rocprofiler_agent_ *, agent[i]);
        if (found->type == 2)
            profiler->device[profiler->devices++] = found->id;
    }
    return 0;
}

static perf_rocprofiler_tool_ perf_rocprofiler_tool_here_;      /* we, for the library            */

/* Tells the library of us.  Where HIP runs already it may return an error although it has called
 * perf_rocprofiler_initialize_: then what that says counts. */
PERF_COLD_FN_ perf_status perf_rocprofiler_begin_(perf_activity_ *activity, perf_activity_why_ *why)
{
    perf_rocprofiler_tool_ *us = &perf_rocprofiler_tool_here_;
    perf_rocprofiler_      *profiler = perf_rocprofiler_of_(activity);

    profiler->asked = 1;
    us->size = sizeof *us;
    us->initialize = perf_rocprofiler_initialize_;
    us->data = activity;
    why->text = "it refuses";
    why->code = profiler->configure(perf_rocprofiler_configure_);
    if (profiler->initialized)
        why->code = profiler->code;
    if (!why->code)
        return profiler->initialized ? PERF_OK : PERF_EGPU;
    why->error = profiler->status_name(why->code); /* the numbers of the codes differ by release  */
    if (!why->error || !PERF_LIBC_(strstr)(why->error, "CONFIGURATION_LOCKED"))
        return PERF_EGPU;
    why->text = "another profiler has this process";
    return PERF_ESTATE;
}

/* The library asks who we are. */
PERF_COLD_FN_ perf_rocprofiler_tool_ *perf_rocprofiler_configure_(uint32_t version,
                                                                  const char *runtime,
                                                                  uint32_t priority, void *client)
{
    (void)version, (void)runtime, (void)priority, (void)client;
    return &perf_rocprofiler_tool_here_;
}

/* The library is ready to be told what to record.  0, or the code of the first call that failed. */
PERF_COLD_FN_ int perf_rocprofiler_initialize_(void (*end)(void), void *state)
{
    static const int     kinds[] = {PERF_ROCPROFILER_COPY_, PERF_ROCPROFILER_KERNEL_};
    static const int32_t symbol[] = {PERF_ROCPROFILER_SYMBOL_};
    perf_activity_      *activity = PERF_CAST_(perf_activity_ *, state);
    perf_rocprofiler_   *profiler = perf_rocprofiler_of_(activity);
    int                  code, i;

    (void)end;
    code = profiler->create_context(&profiler->context);
    if (!code)
        code = profiler->create_buffer(profiler->context, PERF_ROCPROFILER_BYTES_,
                                       PERF_ROCPROFILER_BYTES_ / 2, PERF_ROCPROFILER_LOSSLESS_,
                                       perf_rocprofiler_filled_, activity, &profiler->buffer);
    for (i = 0; i < 2 && !code; i++)
        code = profiler->record(profiler->context, kinds[i], PERF_NULL_, 0, profiler->buffer);
    if (!code)
        code = profiler->call(profiler->context, PERF_ROCPROFILER_CODE_, symbol, 1,
                              perf_rocprofiler_called_, activity);
    if (!code)
        code = profiler->request(profiler->context, kinds, 2, perf_rocprofiler_launched_, activity);
    if (!code)
        code = profiler->start(profiler->context);
    profiler->code = code;
    profiler->initialized = 1;
    return code;                                /* newer releases do not look at it               */
}

/* ---- what it calls ---- */

/* In the thread that launches.  Returns 0, and in *correlation the id for the record; 1: it gets
 * none.  The parameters are AMD's, as the library calls it.                                      */
PERF_COLD_FN_ int perf_rocprofiler_launched_(uint64_t thread, uint64_t context, int kind,
                                             int32_t operation, uint64_t internal,
                                             uint64_t *correlation, void *state)
{
    perf_activity_    *activity = PERF_CAST_(perf_activity_ *, state);
    perf_rocprofiler_ *profiler = perf_rocprofiler_of_(activity);

    (void)thread, (void)context, (void)kind, (void)operation, (void)internal;
    if (!profiler || PERF_ACQ_(&activity->on) != PERF_ACTIVITY_RECORDS_)        /* a forked child */
        return 1;
    *correlation = (perf_shared_add_(&profiler->launches, 1) + 1) & 0xffffffffu;
    perf_activity_launch_(activity, PERF_CAST_(uint32_t, *correlation), 0);
    return 0;
}

/* A copy of a kernel's symbol, without the ".kd" of its descriptor; NULL: no memory. */
PERF_COLD_FN_ char *perf_rocprofiler_symbol_of_(const char *name)
{
    size_t length = PERF_LIBC_(strlen)(name);
    char  *copy;

    if (length > 3 && !PERF_LIBC_(strcmp)(name + length - 3, ".kd"))
        length -= 3;
    copy = PERF_CAST_(char *, PERF_MALLOC(length + 1));
    if (copy) {
        PERF_LIBC_(memcpy)(copy, name, length);
        copy[length] = '\0';
    }
    return copy;
}

/* A code object is loaded, and here is one of its kernels. */
PERF_COLD_FN_ void perf_rocprofiler_called_(perf_rocprofiler_call_ call, uint64_t *data,
                                            void *state)
{
    perf_activity_                 *activity = PERF_CAST_(perf_activity_ *, state);
    perf_rocprofiler_              *profiler = perf_rocprofiler_of_(activity);
    const uint64_t                  symbol = PERF_CAST_(uint64_t, PERF_ROCPROFILER_SYMBOL_) << 32 |
                                             PERF_ROCPROFILER_CODE_;
    const int                       at = call.word[4] == symbol ? 4 : 5;        /* from 1.0 on: 5 */
    const perf_rocprofiler_symbol_ *kernel;

    (void)data;
    if (!profiler || call.word[at] != symbol ||
        (call.word[at + 1] & 0xffffffffu) != PERF_ROCPROFILER_LOADED_)
        return;
    kernel = PERF_PTR_(const perf_rocprofiler_symbol_ *,
                       PERF_CAST_(uintptr_t, call.word[at + 2]));
    if (!kernel || kernel->size < sizeof *kernel || !kernel->name ||
        kernel->kernel >= PERF_ROCPROFILER_KERNELS_ || !perf_lock_word_(&activity->lock, 1))
        return;
    if (!profiler->kernel[kernel->kernel].symbol)
        profiler->kernel[kernel->kernel].symbol = perf_rocprofiler_symbol_of_(kernel->name);
    perf_unlock_(&activity->lock);
}

/* It hands over what it has recorded, on a thread of its own. */
PERF_COLD_FN_ void perf_rocprofiler_filled_(uint64_t context, uint64_t buffer,
                                            perf_rocprofiler_record_ **record, size_t count,
                                            void *state, uint64_t dropped)
{
    perf_activity_    *activity = PERF_CAST_(perf_activity_ *, state);
    perf_rocprofiler_ *profiler = perf_rocprofiler_of_(activity);
    size_t             i;

    (void)context, (void)buffer;
    if (!profiler || PERF_ACQ_(&activity->on) != PERF_ACTIVITY_RECORDS_ ||
        !perf_lock_word_(&activity->lock, 1))
        return;
    for (i = 0; i < count; i++) {
        if (record[i]->category != PERF_ROCPROFILER_TRACING_ || !record[i]->payload)
            continue;
        if (record[i]->kind == PERF_ROCPROFILER_KERNEL_)
            perf_rocprofiler_kernel_read_(activity, record[i]->payload);
        else if (record[i]->kind == PERF_ROCPROFILER_COPY_)
            perf_rocprofiler_copy_read_(activity, record[i]->payload);
    }
    if (dropped > profiler->dropped) {          /* in all, not since the last call                */
        activity->dropped += dropped - profiler->dropped;
        profiler->dropped = dropped;
    }
    perf_unlock_(&activity->lock);
}

PERF_COLD_FN_ void perf_rocprofiler_kernel_read_(perf_activity_ *activity, const void *payload)
{
    perf_rocprofiler_              *profiler = perf_rocprofiler_of_(activity);
    const perf_rocprofiler_kernel_ *kernel = PERF_CAST_(const perf_rocprofiler_kernel_ *, payload);
    perf_rocprofiler_name_         *name = PERF_NULL_;
    perf_activity_work_             work = PERF_ZERO;

    if (kernel->size < sizeof *kernel) {        /* of a release that we do not know               */
        activity->dropped++;
        return;
    }
    work.what = PERF_ACTIVITY_KERNEL_;
    work.start = kernel->start;
    work.end = kernel->end;
    work.device = perf_rocprofiler_device_(profiler, kernel->agent);
    work.stream = PERF_CAST_(uint32_t, kernel->queue);
    work.correlation = PERF_CAST_(uint32_t, kernel->correlation);
    if (kernel->kernel < PERF_ROCPROFILER_KERNELS_)
        name = &profiler->kernel[kernel->kernel];
    if (name) {
        work.text = name->symbol;
        work.name = name->id;
    }
    perf_activity_add_(activity, &work);
    if (name)                                   /* of thousands loaded only those that run get it */
        name->id = work.name;
}

/* The number of a device: its place among the GPUs.  Of a processor, or an agent that was not there
 * at the start: how many GPUs there are.                                                         */
PERF_COLD_FN_ uint32_t perf_rocprofiler_device_(const perf_rocprofiler_ *profiler, uint64_t agent)
{
    uint32_t i = 0;

    while (i < profiler->devices && profiler->device[i] != agent)
        i++;
    return i;
}

PERF_COLD_FN_ void perf_rocprofiler_copy_read_(perf_activity_ *activity, const void *payload)
{
    static const uint8_t what[] = {PERF_ACTIVITY_COPY_, PERF_ACTIVITY_HOST_, PERF_ACTIVITY_IN_,
                                   PERF_ACTIVITY_OUT_, PERF_ACTIVITY_ON_};
    const perf_rocprofiler_      *profiler = perf_rocprofiler_of_(activity);
    const perf_rocprofiler_copy_ *copy = PERF_CAST_(const perf_rocprofiler_copy_ *, payload);
    perf_activity_work_           work = PERF_ZERO;

    if (copy->size < sizeof *copy) {
        activity->dropped++;
        return;
    }
    if (copy->direction < sizeof what)
        work.what = what[copy->direction];
    if (work.what == PERF_ACTIVITY_ON_ && copy->from != copy->to)
        work.what = PERF_ACTIVITY_PEER_;
    work.stream = PERF_CAST_(uint32_t, PERF_ACTIVITY_NO_STREAM_) + work.what;
    work.start = copy->start;
    work.end = copy->end;
    work.bytes = copy->bytes;
    work.device = perf_rocprofiler_device_(profiler, copy->to);
    if (work.device == profiler->devices)       /* to the host                                    */
        work.device = perf_rocprofiler_device_(profiler, copy->from);
    work.correlation = PERF_CAST_(uint32_t, copy->correlation);
    perf_activity_add_(activity, &work);
}

PERF_COLD_FN_ void perf_rocprofiler_flush_(void *calls, int last)
{
    const perf_rocprofiler_ *profiler = PERF_CAST_(const perf_rocprofiler_ *, calls);

    (void)last;
    (void)profiler->flush(profiler->buffer);
}

#endif

PERF_END_DECLS

#endif /* PERF_ROCPROFILER_H */
