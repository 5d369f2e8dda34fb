/* perf_gpu_scope.h - mark device scopes, and nothing else: for the many files of a program.
 *
 *     #include "perf_gpu_scope.h"
 *     void step(void *stream)                      // a cudaStream_t, CUstream or hipStream_t
 *     {
 *         PERF_GPU_SCOPE("gemm", stream);          // device time of what is enqueued from here on
 *     }                                            // to the end of this block; never waits
 *
 * One file of the program, or of the shared object, includes perf_cuda.h and calls perf_gpu_collect
 * or another of its functions; without one the linker names a symbol that says so.  What a scope
 * is, which streams it takes, and the rows that it becomes: perf_cuda.h, which brings this file.
 * Needs perf_scope.h beside it.  Compile with -DPERF_DISABLE=1 and it costs nothing.
 * Sections (search for ">>"):  scopes  internal  private  c++
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_GPU_SCOPE_H
#define PERF_GPU_SCOPE_H

#include "perf_scope.h"
#if !defined(PERF_VERSION) || !defined(PERF_SCOPE_H)
#error "perf_gpu_scope.h: found some other perf_scope.h first; put this folder earlier on the path"
#endif

PERF_BEGIN_DECLS

typedef void *perf_stream; /* cudaStream_t, CUstream, hipStream_t; NULL, 1, 2: the default ones */

/* >>scopes ------------------------------------------------------------------------------------
 *     PERF_GPU_SCOPE("gemm", stream);             device work enqueued on `stream` from here to the
 *                                                  end of the block
 *     PERF_GPU_COPY_IN("weights", stream);         the same for copies to the device,
 *     PERF_GPU_COPY_OUT("logits", stream);         from it,
 *     PERF_GPU_COPY("shuffle", stream);            and within it: classes of their own
 *     PERF_GPU_PART("attention", stream);          a scope also where `stream` is being captured:
 *                                                  times the graph's replays
 *     PERF_GPU_WAIT("loss.item");                  host time spent waiting for the device
 * `name` is a literal, `stream` a perf_stream.  Any thread; waits for no device and no lock.
 *
 * In a graph PERF_GPU_PART becomes two event nodes, and perf_gpu_collect() fetches their newest
 * replay that is done: call it between two replays.  Its lag is 0; the trace line is "GPU 0 graph".
 * Needs a scope around the launch, or another in that context, which ties the clocks.  A process
 * has 1,024; later ones are skipped, as are all where the driver has no cuEventRecordWithFlags.
 * Not for graphs that a device launches or that stand in a condition: those may hold no events.  */
#define PERF_GPU_SCOPE(name, stream)    PERF_GPU_SCOPE_OF_("" name "", stream, DEVICE_, begin_)
#define PERF_GPU_PART(name, stream)     PERF_GPU_SCOPE_OF_("" name "", stream, DEVICE_, open_part_)
#define PERF_GPU_COPY_IN(name, stream)  PERF_GPU_SCOPE_OF_("" name "", stream, IN_, begin_)
#define PERF_GPU_COPY_OUT(name, stream) PERF_GPU_SCOPE_OF_("" name "", stream, OUT_, begin_)
#define PERF_GPU_COPY(name, stream)     PERF_GPU_SCOPE_OF_("" name "", stream, COPY_, begin_)
#if PERF_DISABLE || PERF_TCC_            /* tcc has no weak thread-local data: PERF_ENOGPU */
#define PERF_GPU_WAIT(name)                        PERF_WAIT(name)
#define PERF_GPU_SCOPE_OF_(name, stream, kind, begin) PERF_CAST_(void, sizeof(stream))
#else
#define PERF_GPU_WAIT(name) PERF_SCOPE_OF_("" name "", PERF_KIND_SYNC_, __COUNTER__)
#define PERF_GPU_SCOPE_OF_(name, stream, kind, begin)                                             \
    PERF_GPU_SCOPE1_(name, stream, PERF_KIND_##kind, perf_gpu_##begin, __COUNTER__)
#endif
#define PERF_GPU_SCOPE1_(name, stream, kind, begin, n)                                            \
    PERF_GPU_SCOPE2_(name, stream, kind, begin, PERF_CAT_(perf_site_, n),                         \
                     PERF_CAT_(perf_gpu_open_, n))
#define PERF_GPU_SCOPE2_(name, stream, kind, begin, site, open)                                   \
    PERF_SITE_(site, name, kind)                                                                  \
    PERF_GPU_OPEN_(open, begin(&(site), PERF_GPU_STREAM_(stream)))

typedef struct perf_gpu_scope {         /* private */
    struct perf_gpu_slot_ *slot;
} perf_gpu_scope;

typedef enum perf_gpu_kind {            /* what a scope's device time goes into */
    PERF_GPU_KERNEL = 6, PERF_GPU_HOST_TO_DEVICE = 7, PERF_GPU_DEVICE_TO_HOST = 8,
    PERF_GPU_DEVICE_TO_DEVICE = 9
} perf_gpu_kind;

/* Opens a scope with any text as its name (copied when first seen) on any stream; close it with
 * perf_gpu_scope_end, in this thread or another.  Another number as kind: PERF_GPU_KERNEL. */
PERF_FN perf_gpu_scope perf_gpu_scope_begin(const char *name, perf_stream stream);
PERF_FN perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream,
                                           perf_gpu_kind kind);

/* Closes it; NULL, a second end, and the end of a scope that records nothing do nothing. */
PERF_FN void perf_gpu_scope_end(perf_gpu_scope *scope);

/* >>internal: what other headers may use -----------------------------------------------------
 *   perf_gpu_slot_, perf_gpu_ring_  a scope in flight; a thread's slots of one context, perf_cuda.h
 *       says who writes; that in use is perf_gpu_self_v1_.ring
 *   perf_gpu_core_, perf_gpu_core_get_, PERF_GPU_SYMBOL_  what perf_cuda.h does for marks
 *   PERF_GPU_STREAM_  the stream that NULL means in this file                                    */

/* >>private: bodies ---------------------------------------------------------------------------- */

/* One scope in flight, times in ticks.  Free: `begin` is 0.  Open: `begin` says since when.  Ended:
 * `end` is no longer PERF_GPU_NOT_YET_; it belongs to the ring's lock then. */
typedef struct perf_gpu_slot_ {
    uintptr_t key;              /* free, and the short way will do for this stream: its address */
                                /* and 1, as a fork wipes it to 0; else 0 or never */
    uintptr_t home;             /* what `key` becomes when it is free again */
    void *stream;
    void *start, *stop;         /* events; NULL until first needed */
    void *arg;                  /* what the end records: `stop`, or for the long way the slot */
    int (*record)(void *event, void *stream);
    int (*capturing)(void *stream, int *status);
    uint64_t begin, end;
    int32_t  code[2];           /* of the records; with the first PERF_GPU_LONG_ */
    int32_t  capture;
    uint32_t thread;            /* of a per-thread default stream: whose; ~0: a graph's; else 0 */
    perf_site_ *site;           /* whose name it is; may have no id yet */
    uint64_t range;             /* the profiler's, where `ranged` is 1 */
    uint32_t ranged;
    struct perf_gpu_slot_ *next;        /* in the ring */
    struct perf_gpu_ring_ *ring;
} perf_gpu_slot_;

/* One thread's slots of one context. */
typedef struct perf_gpu_ring_ {
    struct perf_gpu_ring_ *next, *mine; /* all; of one thread */
    void           *ctx;
    struct perf_gpu_line_  *line;       /* of that context, also after its end */
    struct perf_gpu_state_ *state;
    perf_gpu_slot_ *slot;               /* cap of them, pages come as they are touched */
    perf_gpu_slot_ *at;                 /* the owner's: which one comes next */
    uint32_t        thread;             /* whose it is; who takes it over claims it */
    uint32_t        generation;         /* of the table */
    uint32_t        cap, made;          /* cap: a power of two */
    uint32_t        retry;              /* all in flight: so many begins until the next attempt */
    uint32_t        passed;             /* the owner has passed by a slot that is in flight */
    uint32_t        lock;               /* who fetches; what follows is his */
    uint32_t        from;               /* from this slot to `at` some may be in flight */
    void           *anchor;             /* an event of ours whose time is `anchor_ns` */
    double          anchor_ns;
    uint64_t        now;                /* all results have stopped by then */
    struct perf_gpu_done_ *done;        /* 8 * cap results: written up to `head`, */
    uint32_t        head, tail;         /* read up to `tail` by who holds the state's lock */
    struct perf_gpu_done_ **batch;      /* room to sort results, for that holder */
} perf_gpu_ring_;

/* The calling thread's ring in use, and what else it has.  One an image; zero at the start.
 * until: in ticks, 0.1 ms after the context was last found alive.  A later scope asks again, so
 * that a reset device never sees old events. */
typedef struct perf_gpu_self_ {
    perf_gpu_ring_          *ring;
    struct perf_gpu_thread_ *thread;
    uint64_t                 until;
} perf_gpu_self_;
#if !PERF_TCC_
#if defined(__ELF__)            /* see perf_self_v1_                                              */
extern PERF_WEAK_ PERF_THREAD_ perf_gpu_self_ perf_gpu_self_v1_
    __asm__(PERF_SYM_("perf_gpu_self_" PERF_STR_(PERF_VERSION)));
#endif
PERF_WEAK_ PERF_THREAD_ perf_gpu_self_ perf_gpu_self_v1_;
#else
static perf_gpu_self_ perf_gpu_self_v1_;       /* never used */
#endif

/* What the marks do in all but the common case; perf_cuda.h fills it in. */
typedef struct perf_gpu_core_ {
    uint32_t size, abi;
    perf_gpu_slot_ *(*begin)(perf_site_ *, void *stream);   /* NULL: nothing to end */
    int             (*renew)(perf_gpu_ring_ *); /* 1: its context still lives, go on */
    void            (*end)(perf_gpu_slot_ *, int bad);
    perf_gpu_slot_ *(*part)(perf_site_ *, void *stream);    /* as begin */
    perf_gpu_slot_ *(*again)(perf_gpu_slot_ *); /* its first record failed */
} perf_gpu_core_;
#define PERF_GPU_SYMBOL_                                                                          \
    "perf_gpu_scope_h_alone__call_perf_gpu_collect_in_one_file_that_includes_perf_cuda_h"

#if PERF_DISABLE
#define perf_gpu_begin_(site, stream) ((void)(site), (void)(stream), PERF_NULL_)
#define perf_gpu_open_part_ perf_gpu_begin_
#define perf_gpu_end_(slot) ((void)(slot))
#else
#if PERF_ONE_CORE_ && !defined(PERF_CUDA_H)      /* else perf_cuda.h includes this file */
PERF_WANTED_FN_(perf_gpu_core_, perf_gpu_core_get_, PERF_GPU_SYMBOL_)
#else
PERF_FN const perf_gpu_core_ *perf_gpu_core_get_(void);
#endif

PERF_OUTLINE_FN_ perf_gpu_slot_ *perf_gpu_begin_cold_(perf_site_ *site, void *stream)
{
    return perf_gpu_core_get_()->begin(site, stream);
}

PERF_OUTLINE_FN_ perf_gpu_slot_ *perf_gpu_open_part_(perf_site_ *site, void *stream)
{
    return perf_gpu_core_get_()->part(site, stream);
}

PERF_OUTLINE_FN_ void perf_gpu_end_cold_(perf_gpu_slot_ *slot, int bad)
{
    perf_gpu_core_get_()->end(slot, bad);
}

/* The short way: 1 + 2 calls of the driver, and some 35 instructions of ours (tests/gpu/cost.sh).
 * `off` makes a key that no slot has: one compare for stream, room and switch.  A name that has
 * no id yet gets one when the scope is fetched. */
PERF_INLINE_FN_ perf_gpu_slot_ *perf_gpu_begin_(perf_site_ *site, void *stream)
{
    perf_gpu_ring_ *ring = perf_gpu_self_v1_.ring;
    uintptr_t       off = PERF_PEEK_(perf_anchor_v1_.off);
    perf_gpu_slot_ *slot;
    uint64_t        ticks;

    if (PERF_UNLIKELY_(!ring))
        return perf_gpu_begin_cold_(site, stream);
    slot = ring->at;                            /* NULL: wiped by a fork */
    if (PERF_UNLIKELY_(!slot || PERF_ACQ_(&slot->key) != PERF_PTR_(uintptr_t, stream) + 1 + off))
        return perf_gpu_begin_cold_(site, stream);
    ticks = perf_ticks();
    if (PERF_UNLIKELY_(ticks >= perf_gpu_self_v1_.until) && !perf_gpu_core_get_()->renew(ring))
        return perf_gpu_begin_cold_(site, stream);
    PERF_SET_(&slot->begin, ticks);
    PERF_SET_(&slot->key, PERF_CAST_(uintptr_t, 0));
    PERF_REL_(&ring->at, slot->next);
    slot->site = site;
    slot->code[0] = PERF_PEEK_(slot->record)(slot->start, stream);
    if (PERF_UNLIKELY_(slot->code[0]))
        return perf_gpu_core_get_()->again(slot);
    return slot;
}

PERF_INLINE_FN_ void perf_gpu_end_(perf_gpu_slot_ *slot)
{
    int bad;

    if (PERF_UNLIKELY_(!slot->arg))             /* begun before a fork */
        return;
    slot->code[1] = PERF_PEEK_(slot->record)(slot->arg, slot->stream);
    bad = PERF_PEEK_(slot->capturing)(slot->stream, &slot->capture);
    bad |= slot->code[0] | slot->code[1] | slot->capture;
    if (PERF_UNLIKELY_(bad))
        perf_gpu_end_cold_(slot, bad);
    else
        PERF_REL_(&slot->end, perf_ticks());
}
#endif

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) ||                                                \
    defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(HIP_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(__HIP_API_PER_THREAD_DEFAULT_STREAM__)
#define PERF_GPU_STREAM_(s) perf_gpu_own_stream_(s)     /* NULL is this thread's own stream there */
PERF_FN void *perf_gpu_own_stream_(void *stream)
{
    return stream ? stream : PERF_PTR_(void *, PERF_CAST_(uintptr_t, 2));
}
#else
#define PERF_GPU_STREAM_(s) (s)
#endif

/* ---- scopes by name ---- */

PERF_FN perf_gpu_scope perf_gpu_copy_begin(const char *name, perf_stream stream, perf_gpu_kind kind)
{
    const perf_core_ *core = PERF_NULL_;
    perf_gpu_scope    scope = PERF_ZERO;
    uint32_t          of_site = PERF_KIND_DEVICE_;
    perf_site_       *site = PERF_NULL_;

    if (kind >= PERF_GPU_KERNEL && kind <= PERF_GPU_DEVICE_TO_DEVICE)
        of_site = PERF_CAST_(uint32_t, kind);
    if (PERF_ON_())
        core = perf_core_get_();
    if (core)
        site = core->find(name, of_site);
    if (site)
        scope.slot = PERF_CAST_(perf_gpu_slot_ *, perf_gpu_begin_(site, PERF_GPU_STREAM_(stream)));
    return scope;
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

#if PERF_DISABLE
#define perf_gpu_scope_end(scope) PERF_OFF_((perf_gpu_scope_end)(scope))
#endif

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

#if defined(__cplusplus)
#define PERF_GPU_GUARD_ PERF_CAT_(perf_gpu_guard_, PERF_VERSION)
struct PERF_GPU_GUARD_ {
    perf_gpu_slot_ *const slot;
    explicit PERF_GPU_GUARD_(perf_gpu_slot_ *s) : slot(s)
    {
    }
    PERF_GPU_GUARD_(const PERF_GPU_GUARD_ &) = delete;
    PERF_GPU_GUARD_ &operator=(const PERF_GPU_GUARD_ &) = delete;
    ~PERF_GPU_GUARD_()
    {
        if (slot)
            perf_gpu_end_(slot);
    }
};
#define PERF_GPU_OPEN_(open, slot) const PERF_GPU_GUARD_ open(slot)
#else
PERF_INLINE_FN_ void perf_gpu_guard_(perf_gpu_slot_ *const *open)
{
    if (*open)
        perf_gpu_end_(*open);
}
#define PERF_GPU_OPEN_(open, slot)                                                                \
    perf_gpu_slot_ *const open PERF_ATTR_((__cleanup__(perf_gpu_guard_), __unused__)) = slot
#endif

#if !PERF_ONE_CORE_ && !defined(PERF_CUDA_H)
#include "perf_cuda.h"          /* such a file holds all of it */
#endif

#endif /* PERF_GPU_SCOPE_H */
