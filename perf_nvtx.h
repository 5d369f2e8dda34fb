/* perf_nvtx.h - every scope of the program as a range in Nsight Systems (NVTX) or rocprof (roctx).
 *
 *     #define PERF_NVTX 1                  // in one file of the program, whichever you like
 *     #include "perf.h"
 *
 * That is all: perf.h brings this file, and every PERF_SCOPE of every file, C, C++, CUDA or Cython,
 * is a range from then on; the other files need not even find the headers of NVTX.  Nothing is
 * linked (glibc before 2.34 needs -ldl).  While no profiler is attached a scope costs what it costs
 * in any program that reports, to the instruction (tests/nvtx/idle.sh): this file counts as one
 * that reads, also where nobody else asks for a report.
 *     PERF_SCOPE, PERF_WAIT        push and pop; payload: calls of that name before, in this thread
 *     perf_async_begin, _end       start and end, across threads; payload: the id of the span
 *     PERF_COUNT, PERF_LAP         a mark with the value, with the length of the phase in ns
 *     PERF_INSTANT                 a mark
 *     perf_thread_name             the name of the thread
 *     PERF_GPU_SCOPE, _COPY, _PART start and end, where the host submits the work; the stream has
 *                                  the title of its line in our trace
 * Domain "perf.h"; a registered string a name; a category a kind; one colour for all names that are
 * equal up to the first ':' ("io: read", "io: write"), red for PERF_WAIT.  What a longjmp or a
 * forgotten end leaves open is closed with the scope around it.
 * With a profiler attached a scope costs 50 ns more, and its own time.
 * Sections (search for ">>"):  config  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_NVTX_H
#define PERF_NVTX_H

#include "perf.h"
#if !defined(PERF_VERSION) || !defined(PERF_NVTX)
#error "perf_nvtx.h: found another or an older perf.h; keep files of one release together"
#endif

/* >>config ------------------------------------------------------------------------------------
 * PERF_NVTX 1 in one file: NVTX.  PERF_ROCTX 1 in one file: libroctx64.so, opened at the first
 * scope; no header of AMD's needed, but perf_gpu_driver.h.  Both in one file: NVTX.  hipcc knows no
 * NVTX, so PERF_NVTX 1 means PERF_ROCTX 1 there.  The file installs itself before main, which
 * takes a compiler with constructors (gcc, clang and theirs).
 * For ranges that only a profiler shall see, call NVTX or roctx itself.  For a text that is known
 * at run time only, call perf_scope_begin, which keeps it as a name.                             */

#if defined(__HIP_PLATFORM_AMD__) || (defined(__HIPCC__) && !defined(__CUDACC__))
#define PERF_USE_NVTX_ 0
#else
#define PERF_USE_NVTX_ (PERF_NVTX && !PERF_DISABLE)
#endif
#define PERF_USE_ROCTX_ (!PERF_USE_NVTX_ && (PERF_NVTX || PERF_ROCTX) && !PERF_DISABLE)

#include "perf_sink.h"
#if PERF_USE_ROCTX_
#include "perf_gpu_driver.h"            /* how libraries are found */
#endif
#if PERF_USE_NVTX_
#if defined(__has_include)
#if !__has_include(<nvtx3/nvToolsExt.h>)
#error "PERF_NVTX 1 needs nvtx3/nvToolsExt.h: add the CUDA toolkit's include folder to this file"
#endif
#endif
#if !defined(NVTX_AS_SYSTEM_HEADER)
#define NVTX_AS_SYSTEM_HEADER           /* it has pedantic warnings                               */
#define PERF_NVTX_SYSTEM_ 1
#endif
#include <nvtx3/nvToolsExt.h>
#if defined(PERF_NVTX_SYSTEM_)
#undef NVTX_AS_SYSTEM_HEADER
#undef PERF_NVTX_SYSTEM_
#endif
#endif

PERF_BEGIN_DECLS

/* >>private: bodies ---------------------------------------------------------------------------- */

#if PERF_USE_NVTX_ || PERF_USE_ROCTX_

/* ---- state ---- */

/* What the files of one image with PERF_NVTX 1 share. */
typedef struct perf_nvtx_state_ {
    uint32_t state;                     /* PERF_NVTX_ below; else the process that loads the tool */
    uint32_t spare;
    void    *domain;                    /* NVTX; the rest roctx */
    int      (*push)(const char *);
    int      (*pop)(void);
    void     (*mark)(const char *);
    uint64_t (*open)(const char *);
    void     (*close)(uint64_t);
    int      (*thread)(const char *);
    int      (*stream)(const char *, const void *);
} perf_nvtx_state_;
enum { PERF_NVTX_FRESH_, PERF_NVTX_LISTENS_ = 2, PERF_NVTX_NOBODY_ };   /* nobody: for good       */

#if !PERF_TCC_
extern PERF_WEAK_ perf_nvtx_state_ perf_nvtx_v1_;
#endif
PERF_WEAK_ perf_nvtx_state_ perf_nvtx_v1_;

#if PERF_USE_NVTX_

/* ---- the calls of the tool: NVTX ---- */

/* Twelve colours that a viewer's dark and light background both carry. */
PERF_COLD_FN_ uint32_t perf_nvtx_color_(const perf_label_ *label)
{
    static const uint32_t color[12] = {
        0xff4e79a7, 0xfff28e2b, 0xff59a14f, 0xffb07aa1, 0xff76b7b2, 0xffedc948,
        0xff9c755f, 0xff86bcb6, 0xffd37295, 0xff499894, 0xffa0cbe8, 0xffbab0ac,
    };
    uint32_t hash;

    if (label->kind == PERF_KIND_WAIT_)
        return 0xffe15759;
    hash = perf_text_hash_(PERF_TEXT_HASH_, label->text, strcspn(label->text, ":"));
    return color[(hash >> 16) % 12];
}

PERF_FN nvtxDomainHandle_t perf_nvtx_domain_(void)
{
    return PERF_CAST_(nvtxDomainHandle_t, perf_nvtx_v1_.domain);
}

/* The tool's handle of a name, asked for by the threads that first use it: any will do.  NULL when
 * it has none to give. */
PERF_COLD_FN_ nvtxStringHandle_t perf_nvtx_handle_(perf_name_ *name)
{
    void *none = &perf_nvtx_v1_, *handle = PERF_ACQ_(&name->handle);

    if (!handle) {
        handle = nvtxDomainRegisterStringA(perf_nvtx_domain_(), name->site.name);
        if (!handle)
            handle = none;
        PERF_REL_(&name->handle, handle);
    }
    return PERF_CAST_(nvtxStringHandle_t, handle == none ? PERF_NULL_ : handle);
}

PERF_COLD_FN_ nvtxEventAttributes_t perf_nvtx_attributes_(const perf_label_ *label)
{
    nvtxEventAttributes_t attributes;
    nvtxStringHandle_t    handle = perf_nvtx_handle_(label->name);

    memset(&attributes, 0, sizeof attributes);
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = label->kind + 1;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = perf_nvtx_color_(label);
    if (label->type == 1) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        attributes.payload.ullValue = label->bits;
    } else if (label->type == 2) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
        attributes.payload.dValue = perf_from_bits_(label->bits);
    }
    attributes.messageType = handle ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
    if (handle)
        attributes.message.registered = handle;
    else
        attributes.message.ascii = label->text;
    return attributes;
}

/* 1: a tool has taken the push of ranges or the marks, so that it will see something. */
PERF_COLD_FN_ int perf_nvtx_attach_(void)
{
    static const char *const kind[] = {"scope", "wait", "span", "counter", "instant", "sync",
                                       "device", "copy in", "copy out", "copy"};
    uint32_t                 i;

    nvtxInitialize(PERF_NULL_);
    if (!NVTX_VERSIONED_IDENTIFIER(nvtxGlobals).nvtxDomainRangePushEx_impl_fnptr &&
        !NVTX_VERSIONED_IDENTIFIER(nvtxGlobals).nvtxDomainMarkEx_impl_fnptr)
        return 0;
    perf_nvtx_v1_.domain = nvtxDomainCreateA("perf.h");
    for (i = 0; i < sizeof kind / sizeof *kind; i++)
        nvtxDomainNameCategoryA(perf_nvtx_domain_(), i + 1, kind[i]);
    return 1;
}

PERF_COLD_FN_ void perf_nvtx_tool_push_(const perf_label_ *label)
{
    nvtxEventAttributes_t event = perf_nvtx_attributes_(label);

    (void)nvtxDomainRangePushEx(perf_nvtx_domain_(), &event);
}

PERF_COLD_FN_ void perf_nvtx_tool_pop_(void)
{
    (void)nvtxDomainRangePop(perf_nvtx_domain_());
}

/* The number of a range that any thread may stop. */
PERF_COLD_FN_ uint64_t perf_nvtx_tool_start_(const perf_label_ *label)
{
    nvtxEventAttributes_t event = perf_nvtx_attributes_(label);

    return nvtxDomainRangeStartEx(perf_nvtx_domain_(), &event);
}

PERF_COLD_FN_ void perf_nvtx_tool_stop_(uint64_t range)
{
    nvtxDomainRangeEnd(perf_nvtx_domain_(), range);
}

PERF_COLD_FN_ void perf_nvtx_tool_mark_(const perf_label_ *label)
{
    nvtxEventAttributes_t event = perf_nvtx_attributes_(label);

    nvtxDomainMarkEx(perf_nvtx_domain_(), &event);
}

PERF_COLD_FN_ void perf_nvtx_tool_thread_(const char *name)
{
    nvtxNameOsThreadA(perf_thread_id_(), name);
}

/* nvtxNameCuStreamA() stands in a header that includes cuda.h: its pointer is called without it. */
PERF_COLD_FN_ void perf_nvtx_tool_stream_(void *stream, const char *name)
{
    nvtxNameCuStreamA_fakeimpl_fntype call =
        NVTX_VERSIONED_IDENTIFIER(nvtxGlobals).nvtxNameCuStreamA_impl_fnptr;

    if (call)
        call(PERF_CAST_(nvtx_CUstream, stream), name);
}

#else

/* ---- the calls of the tool: roctx ---- */

/* A library that a profiler has loaded already comes first; else whichever is installed. */
PERF_COLD_FN_ int perf_nvtx_attach_(void)
{
    static const char *const file[] = {"librocprofiler-sdk-roctx.so.1",
                                       "librocprofiler-sdk-roctx.so", "libroctx64.so.4",
                                       "libroctx64.so", PERF_NULL_};
    perf_nvtx_state_        *nvtx = &perf_nvtx_v1_;
    void                    *library = perf_library_open_(file);

    if (!library)
        return 0;
    perf_library_symbol_(library, "roctx", "RangePushA", &nvtx->push);
    perf_library_symbol_(library, "roctx", "RangePop", &nvtx->pop);
    perf_library_symbol_(library, "roctx", "MarkA", &nvtx->mark);
    perf_library_symbol_(library, "roctx", "RangeStartA", &nvtx->open);
    perf_library_symbol_(library, "roctx", "RangeStop", &nvtx->close);
    perf_library_symbol_(library, "roctx", "NameOsThread", &nvtx->thread);
    perf_library_symbol_(library, "roctx", "NameHipStream", &nvtx->stream);
    return nvtx->push && nvtx->pop && nvtx->mark && nvtx->open && nvtx->close;
}

PERF_COLD_FN_ void perf_nvtx_tool_push_(const perf_label_ *label)
{
    (void)perf_nvtx_v1_.push(label->text);
}

PERF_COLD_FN_ void perf_nvtx_tool_pop_(void)
{
    (void)perf_nvtx_v1_.pop();
}

/* The number of a range that any thread may stop. */
PERF_COLD_FN_ uint64_t perf_nvtx_tool_start_(const perf_label_ *label)
{
    return perf_nvtx_v1_.open(label->text);
}

PERF_COLD_FN_ void perf_nvtx_tool_stop_(uint64_t range)
{
    perf_nvtx_v1_.close(range);
}

/* roctx has no payload: "queue = 3". */
PERF_COLD_FN_ void perf_nvtx_tool_mark_(const perf_label_ *label)
{
    char      text[PERF_NAME_MAX_ + 64];
    perf_out_ out = perf_out_open_(text, sizeof text);
    double    value = perf_from_bits_(label->bits);

    perf_put_(&out, label->text);
    if (label->type == 2 && perf_is_finite_(value)) {
        perf_put_(&out, " = ");
        perf_put_real_(&out, value);
    }
    perf_nvtx_v1_.mark(text);
}

PERF_COLD_FN_ void perf_nvtx_tool_thread_(const char *name)
{
    if (perf_nvtx_v1_.thread)
        (void)perf_nvtx_v1_.thread(name);
}

PERF_COLD_FN_ void perf_nvtx_tool_stream_(void *stream, const char *name)
{
    if (perf_nvtx_v1_.stream)
        (void)perf_nvtx_v1_.stream(name, stream);
}
#endif

/* ---- the sink: what the library calls ---- */

/* Loads the tool at the first event; 0: nobody listens, and the sink has taken itself away.  The
 * child of a fork does not wait for a thread that only its parent has. */
PERF_COLD_FN_ int perf_nvtx_listens_(void)
{
    perf_nvtx_state_ *nvtx = &perf_nvtx_v1_;
    perf_registry_   *reg;
    uint32_t          me, state = PERF_NVTX_NOBODY_;

    if (PERF_LIKELY_(PERF_ACQ_(&nvtx->state) == PERF_NVTX_LISTENS_))
        return 1;
    me = perf_process_id_() | UINT32_C(1) << 31;
    if (perf_claim_(&nvtx->state, PERF_NVTX_FRESH_, me)) {
        if (perf_nvtx_attach_())
            state = PERF_NVTX_LISTENS_;
        PERF_REL_(&nvtx->state, state);
        reg = perf_registry_get_();
        if (state == PERF_NVTX_NOBODY_ && reg)
            (void)perf_sink_set_(PERF_ACQ_(&reg->sink), PERF_NULL_);
        return state == PERF_NVTX_LISTENS_;
    }
    while (PERF_ACQ_(&nvtx->state) == me) {     /* another thread of this process loads it        */
#if PERF_LP64_UNIX_
        (void)perf_sched_yield_();
#endif
    }
    return PERF_ACQ_(&nvtx->state) == PERF_NVTX_LISTENS_;
}

/* The ranges that a thread has open, outermost first.  A tool's stack knows no names, so an end
 * must close just what it has opened: by the depth of its scope.  name: bits of the name's
 * address.  around: how many ranges of that name are open around it; they are "calls before",
 * too. */
typedef struct perf_nvtx_around_ {
    uint32_t depth, name, around;
} perf_nvtx_around_;

PERF_FN perf_nvtx_around_ *perf_nvtx_ranges_(const perf_recorder_ *rec)
{
    return PERF_PTR_(perf_nvtx_around_ *, rec->range);
}

/* 0: no memory for one more. */
PERF_COLD_FN_ int perf_nvtx_room_(perf_recorder_ *rec)
{
    uint32_t     room = rec->ranges_room ? 2 * rec->ranges_room : 64;
    const size_t each = sizeof(perf_nvtx_around_);
    uint32_t    *more;

    if (!rec->range)                            /* those of a sink before this one                */
        rec->ranges = 0;
    if (rec->ranges < rec->ranges_room)
        return 1;
    if (!perf_lock_(rec->home))                 /* a handler, and its thread is inside            */
        return 0;
    more = PERF_CAST_(uint32_t *, perf_forever_(rec->home, room * each));
    perf_unlock_(&rec->home->lock);
    if (!more) {
        perf_fail_(rec->home, PERF_ENOMEM);
        return 0;
    }
    if (rec->ranges)
        memcpy(more, rec->range, rec->ranges * each);
    rec->range = more;
    rec->ranges_room = room;
    return 1;
}

PERF_COLD_FN_ void perf_nvtx_begin_(perf_recorder_ *rec, const perf_label_ *label, uint32_t depth)
{
    perf_nvtx_around_ *open, *top;
    perf_label_        told = *label;
    uint32_t           i;

    if (perf_nvtx_listens_() && perf_nvtx_room_(rec)) {
        open = perf_nvtx_ranges_(rec);
        i = rec->ranges;
        top = &open[i];
        top->depth = depth;
        top->name = PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, label->name) >> 4);
        while (i && open[i - 1].name != top->name)
            i--;
        top->around = i ? open[i - 1].around + 1 : 0;
        told.bits += top->around;               /* those of this name that are open, too          */
        rec->ranges++;
        perf_nvtx_tool_push_(&told);
    }
}

PERF_COLD_FN_ void perf_nvtx_end_(perf_recorder_ *rec, uint32_t depth)
{
    while (rec->range && rec->ranges && perf_nvtx_ranges_(rec)[rec->ranges - 1].depth >= depth) {
        rec->ranges--;
        perf_nvtx_tool_pop_();
    }
}

PERF_COLD_FN_ int perf_nvtx_open_(const perf_label_ *label, uint64_t *range)
{
    if (!perf_nvtx_listens_())
        return 0;
    *range = perf_nvtx_tool_start_(label);
    return 1;
}

PERF_COLD_FN_ void perf_nvtx_close_(uint64_t range)
{
    perf_nvtx_tool_stop_(range);
}

PERF_COLD_FN_ void perf_nvtx_point_(const perf_label_ *label)
{
    if (perf_nvtx_listens_())
        perf_nvtx_tool_mark_(label);
}

PERF_COLD_FN_ void perf_nvtx_thread_(const char *name)
{
    if (perf_nvtx_listens_())
        perf_nvtx_tool_thread_(name);
}

/* The title that the stream has in our trace. */
PERF_COLD_FN_ void perf_nvtx_stream_(void *stream, const char *name)
{
    if (perf_nvtx_listens_())
        perf_nvtx_tool_stream_(stream, name);
}

static const perf_sink_ perf_nvtx_sink_ = {
    sizeof(perf_sink_), perf_nvtx_begin_, perf_nvtx_end_, perf_nvtx_open_,
    perf_nvtx_close_, perf_nvtx_point_, perf_nvtx_thread_, perf_nvtx_stream_, perf_nvtx_listens_,
};

#if defined(__GNUC__) && !PERF_TCC_
/* Hears the scopes, unless another file of this image does, or there is no tool.                 */
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_nvtx_at_start_(void)
{
    perf_registry_ *reg = perf_registry_read_();
    int             done = !reg || PERF_ACQ_(&reg->sink) == &perf_nvtx_sink_;

    if (!done && PERF_ACQ_(&perf_nvtx_v1_.state) != PERF_NVTX_NOBODY_)
        (void)perf_sink_set_(PERF_NULL_, &perf_nvtx_sink_);
}

/* dlclose of the shared object that holds this: nobody may call it any more. */
PERF_ATTR_((__destructor__, __used__)) PERF_OURS_ static void perf_nvtx_at_end_(void)
{
    (void)perf_sink_set_(&perf_nvtx_sink_, PERF_NULL_);
}
#endif
#endif

PERF_END_DECLS

#endif /* PERF_NVTX_H */
