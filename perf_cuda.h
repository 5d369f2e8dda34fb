/* perf_cuda.h - time what a GPU does, from C, C++, CUDA, HIP and Cython, with nothing to link.
 *
 *     #include "perf_cuda.h"
 *     void step(void *stream)                      // a cudaStream_t, CUstream or hipStream_t
 *     {
 *         PERF_GPU_SCOPE("gemm", stream);          // device time of what is enqueued from here on
 *     }                                            // to the end of this block; never waits
 *
 * In .cu and .hip files perf.h includes this file.
 * Compile with -DPERF_DISABLE=1 and it costs nothing; without a GPU each call says PERF_ENOGPU.
 * Sections (search for ">>"):  config  table  scopes  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CUDA_H
#define PERF_CUDA_H

#if defined(PERF_GPU_SCOPE_H) && PERF_ONE_CORE_ && !PERF_DISABLE
#define PERF_GPU_MARKS_FIRST_ 1         /* marks of this file look for a core as other files' do */
#else
#define PERF_GPU_MARKS_FIRST_ 0
#endif
#include "perf_gpu_driver.h"
#include "perf_gpu_memory.h"
#include "perf_gpu_scope.h"
#include "perf_gpu_state.h"

/* >>config ------------------------------------------------------------------------------------ */

/* Scopes of one thread and context that may be in flight; more are dropped, and counted.  Each has
 * two events, created when they are first needed. */
#ifndef PERF_GPU_SLOTS
#define PERF_GPU_SLOTS 1024
#endif

PERF_BEGIN_DECLS

/* >>table ------------------------------------------------------------------------------------- */

/* Installs a table for the whole process; NULL: looks for a driver again, as the first call does.
 * The table must stay valid until the next call of this.  What the old table had in flight is
 * forgotten, and counted as dropped.  Not while other threads are inside a GPU call of this file.
 * PERF_EINVAL for a table without its first nine functions or with an impossible size. */
PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table);

/* >>scopes ------------------------------------------------------------------------------------
 * The macros, and scopes whose name is made at run time, are those of perf_gpu_scope.h.
 * A scope is two event records and two readings of the host's counter; nothing waits for a device
 * or a lock, queries or allocates once its events exist.  Results are fetched later: when half of
 * the events are in use, before each report or trace, or when you call perf_gpu_collect().  They
 * are rows of the same report and lines of the same trace ("GPU 0 stream 1").  Scopes on streams
 * that are being captured into a graph are skipped and counted, except those of PERF_GPU_PART.  Any
 * stream, thread, device and context; the thread's current context is left as it was.  A default
 * stream needs a current context; without one nothing is recorded, and none is made.
 * Nested scopes of one stream nest.  A scope must end before its stream is destroyed. */

/* Fetches what the device has finished; never waits for it.  Takes a lock.  PERF_ENOGPU: no GPU.
 * PERF_EGPU: the driver has shut down, or has failed since the last call (said once).  What was
 * fetched before is kept. */
PERF_FN perf_status perf_gpu_collect(void);

/* Waits for the scopes that have ended in this thread's current context, fetches all results and
 * ties the device's clock to the host's more tightly (see aligned_ns).  Holds no lock meanwhile.
 * A stream that is being captured is not waited for: its scopes may stay pending.  PERF_ENOMEM: no
 * memory for what is kept. */
PERF_FN perf_status perf_gpu_collect_sync(void);

typedef struct perf_gpu_stats {         /* of one name or of all; times in ns, of fetched scopes */
    uint64_t scopes;
    double   device_ns;                 /* between the events, total */
    double   submit_ns;                 /* host time from begin to end of the scopes, total */
    double   lag_ns, lag_max_ns; /* begin on the host to start on the device: total, longest */
    double   busy_ns, span_ns; /* all names: overlaps counted once; first start to last stop */
    double   aligned_ns; /* all names: worst error against the host's clock; < 0: unknown */
    double   starved_ns;                /* all names: idle, with nothing submitted */
    double   copy_ns;                   /* of device_ns: copies */
    uint64_t pending;                   /* all names: ended, not fetched yet */
    uint64_t dropped; /* ring full, context destroyed, no memory; HIP before 7.0: an unread error */
    uint64_t captured;                  /* skipped: the stream was being captured */
    uint64_t no_context;                /* skipped: no context current */
    uint64_t failed;                    /* the driver answered with an error */
    uint64_t no_gpu;                    /* skipped: no driver */
    int      error;                     /* the driver's number of its first one since the start */
                                        /* or the last perf_reset(), see perf_gpu_error_text() */
    uint64_t backwards;                 /* fetched, and read as 0: the driver's time was negative */
} perf_gpu_stats;

/* What is known so far; name NULL: of all scopes.  Fetches nothing itself.  A name beyond the first
 * 4,095 of the process, host scopes included, is in the report and in the sums of NULL only: 0. */
PERF_FN perf_gpu_stats perf_gpu_stats_of(const char *name);

/* >>internal: what other headers may use -----------------------------------------------------
 *   perf_gpu_state_  as a pointer only */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* ---- what is kept ----
 * A thread owns a ring of slots for each context.  It fills a slot at a scope's begin and end, and
 * calls nobody else for it.  Whoever holds the ring's lock, the owner when slots run low or a
 * collector, asks the driver for the times of ended slots, writes them into the ring's list of
 * results and frees the slots.  Whoever holds the state's lock takes the results from there into
 * the report and the trace.  Nothing waits for a device while it holds a lock, and a scope's begin
 * and end only try locks. */

/* A distance between two events in ms, as drivers tell it.  The bits of floats, read as integers,
 * have the order of the floats; those of negative floats and NaN are larger than all others.  So
 * `bits` < PERF_GPU_MS_END_ is the one test of a time. */
typedef union perf_gpu_ms_ {
    float    ms;
    uint32_t bits;
} perf_gpu_ms_;
#define PERF_GPU_MS_NEAR_ UINT32_C(0x41000000)  /* bits of 8 ms, ... */
#define PERF_GPU_NEAR_NS_ 8e6                   /* ... which are so many ns */
#define PERF_GPU_MS_END_  UINT32_C(0x51ba43b7)  /* bits of 1e11, three years: a driver's mistake */

#define PERF_GPU_PER_THREAD_ 2          /* a stream's address: 0, 1 the default; above: others */

#define PERF_GPU_LONG_ (1 << 30)        /* a bit in slot->code[0]: the end goes the long way */
#define PERF_GPU_NOT_YET_ (~UINT64_C(0))
#define PERF_GPU_ENDED_(slot) (PERF_ACQ_(&(slot)->end) != PERF_GPU_NOT_YET_)
#define PERF_GPU_KEY_(stream) (PERF_PTR_(uintptr_t, stream) + 1)        /* perf_gpu_slot_.key */
#define PERF_GPU_NEVER_ (~PERF_CAST_(uintptr_t, 0))
#define PERF_GPU_NEVER_NS_ 1e300        /* ns or ticks, either sign: not known yet */

/* The driver's code without PERF_GPU_LONG_.  A negative one has that bit by itself. */
PERF_FN int perf_gpu_code_(int code)
{
    if (code < 0)
        return code;
    return code & ~PERF_GPU_LONG_;
}

/* A part of a graph, whose events each launch records anew.  In pages that a fork wipes. */
typedef struct perf_gpu_part_ {
    struct perf_gpu_part_ *next;
    perf_gpu_slot_         slot;
    double                 until_ns;    /* what starts later, on the device, is another replay */
    double                 anchor_ns;   /* what that was measured from */
    uint64_t               depth;       /* 1: outermost of its stream */
} perf_gpu_part_;
#define PERF_GPU_PARTS_ 1024u
#define PERF_GPU_GRAPH_ (~UINT32_C(0))  /* perf_gpu_slot_.thread */

#define PERF_GPU_ROWS_ 4096u
enum { PERF_GPU_DROPPED_, PERF_GPU_CAPTURED_, PERF_GPU_NO_CONTEXT_, PERF_GPU_FAILED_,
       PERF_GPU_NO_GPU_, PERF_GPU_BACKWARDS_, PERF_GPU_LOSSES_ };

/* One for all images of the process, hung into the driver's; never freed. */
typedef struct perf_gpu_state_ {
    perf_gpu_driver_ *driver;
    uint32_t          lock;             /* the thread that books; 0: free */
    uint32_t          generation;       /* of the table */
    uint32_t          at_exit, part_count;
    perf_gpu_part_   *parts;            /* those in graphs, in the order of their ends */
    perf_gpu_ring_   *rings;
    perf_gpu_line_   *lines;
    perf_gpu_track_  *tracks;
    uint64_t          lost[PERF_GPU_LOSSES_];    /* scopes without a time, by what happened */
    uint64_t          birth;            /* ticks of the last reset */
    perf_source_      source;
    perf_gpu_row_     rest[4];          /* names without a row of their own, by class */
    perf_gpu_row_     row[PERF_GPU_ROWS_];      /* by name id; pages come as they are touched */
} perf_gpu_state_;

/* The state, if something was recorded already; NULL: nothing yet. */
PERF_FN perf_gpu_state_ *perf_gpu_state_if_any_(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();

    if (!driver)
        return PERF_NULL_;
    return PERF_ACQ_(&driver->state);
}

/* How many rows may be in use. */
PERF_FN uint32_t perf_gpu_rows_(perf_registry_ *reg)
{
    const uint32_t n = PERF_ACQ_(&reg->count);

    if (n < PERF_GPU_ROWS_)
        return n;
    return PERF_GPU_ROWS_;
}

/* Counts n scopes without a time.  what: PERF_GPU_DROPPED_ and so on. */
PERF_FN void perf_gpu_lose_(perf_gpu_state_ *gpu, int what, uint64_t n)
{
    (void)perf_shared_add_(&gpu->lost[what], n);
}

/* Function pointers that others replace: one word, never torn (nvcc crashes on an atomic store). */
#if PERF_TSAN_
#define PERF_GPU_FN_(field, function) PERF_SET_(&(field), function)
#else
#define PERF_GPU_FN_(field, function) ((void)((field) = (function)))
#endif

/* 1: this context, that of the thread's last scope, was found alive within the last 0.1 ms. */
PERF_INLINE_FN_ int perf_gpu_is_fresh_(const perf_gpu_line_ *line)
{
    return perf_gpu_self_v1_.ring && perf_gpu_self_v1_.ring->line == line &&
           !PERF_GET_(&line->dead) && perf_ticks() < perf_gpu_self_v1_.until;
}

/* 1: the program has an unread error, which any call would overwrite: so none is made. */
PERF_FN int perf_gpu_is_unread_(const perf_gpu_backend *backend)
{
    return backend->error_waits && backend->error_waits();
}

/* 1: the driver no longer knows a handle, as after the end of its context. */
PERF_FN int perf_gpu_is_stale_(int code)
{
    return code == PERF_GPU_BAD_HANDLE_ || code == PERF_GPU_DESTROYED_;
}

/* 1: none of the default streams, so it is always of the same context. */
PERF_FN int perf_gpu_is_named_(const void *stream)
{
    return PERF_PTR_(uintptr_t, stream) > PERF_GPU_PER_THREAD_;
}

/* What one round over a ring does. */
typedef struct perf_gpu_round_ {
    uint32_t        most;               /* so many scopes at most */
    uint32_t        orderly;            /* 1: it ends at the first that is open or pending */
    uint32_t        head;               /* of the results, when it is over */
    uint32_t        blocked;            /* 1: somebody else was at the line */
    int             code;               /* the driver's, of the slot asked last */
    int             go_on;              /* 0: that answer ends the round */
    uintptr_t       pending[8];         /* keys of streams whose work is not done: later work of */
                                        /* theirs is not either, and nobody asks for it */
} perf_gpu_round_;
#define PERF_GPU_WAITING_(round, slot)                                                            \
    ((round)->pending[PERF_PTR_(uintptr_t, (slot)->stream) >> 6 & 7])

enum { PERF_GPU_IN_ORDER_ = 1, PERF_GPU_MAY_BLOCK_ = 2 };   /* bits: see `orderly`; takes locks */

/* What held the program back, by what was recorded; shares are 0 .. 1, negative: no evidence. */
typedef struct perf_gpu_bound_ {
    const char *bound;
    double      wait, sync;             /* of the main thread: for data, for the device */
    double      busy, starved;  /* of the device that worked longest: at work; nothing submitted */
    double      copy;                   /* of the device's time */
} perf_gpu_bound_;

/* ---- parts, in the order of their bodies ---- */

/* A scope begins. */
PERF_COLD_DECL_ int perf_gpu_renew_(perf_gpu_ring_ *ring);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_slow_(perf_site_ *site, void *stream);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_again_(perf_gpu_slot_ *slot);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_once_(perf_site_ *site, void *stream);
PERF_COLD_DECL_ perf_gpu_state_ *perf_gpu_state_get_(void);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_slot_for_(perf_gpu_state_ *gpu,
                                                   const perf_gpu_backend *backend, void *stream,
                                                   int *current);
PERF_COLD_DECL_ perf_gpu_thread_ *perf_gpu_thread_get_(perf_gpu_state_ *gpu);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_route_(perf_gpu_state_ *gpu,
                                                const perf_gpu_backend *backend,
                                                perf_gpu_thread_ *thread, void *stream,
                                                int *current);
PERF_COLD_DECL_ int perf_gpu_ask_ring_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                       perf_gpu_thread_ *thread, void *stream, int *current,
                                       perf_gpu_ring_ **ring);
PERF_COLD_DECL_ perf_gpu_line_ *perf_gpu_line_of_(perf_gpu_state_ *gpu,
                                                  const perf_gpu_backend *backend, void *ctx);
PERF_COLD_DECL_ void perf_gpu_name_stream_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                           void *stream);
PERF_COLD_DECL_ void perf_gpu_ease_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                    perf_gpu_ring_ *ring);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_take_(perf_gpu_state_ *gpu,
                                               const perf_gpu_backend *backend,
                                               perf_gpu_thread_ *thread, perf_gpu_ring_ *ring);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_ring_of_(perf_gpu_state_ *gpu, perf_gpu_thread_ *thread,
                                                  perf_gpu_line_ *line, int n);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_ring_make_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                                    uint32_t me);
PERF_COLD_DECL_ int perf_gpu_refill_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                     perf_gpu_ring_ *ring);
PERF_COLD_DECL_ void perf_gpu_slot_ready_(perf_gpu_slot_ *slot, const perf_gpu_backend *backend,
                                          int usual, int quick);
PERF_COLD_DECL_ int perf_gpu_record_in_(const perf_gpu_backend *backend, perf_gpu_slot_ *slot,
                                        void *event, void *stream, int inside);
PERF_COLD_DECL_ int perf_gpu_record_long_(void *arg, void *stream);

/* It ends. */
PERF_COLD_DECL_ void perf_gpu_end_slow_(perf_gpu_slot_ *slot, int bad);

/* A part of a graph. */
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_part_(perf_site_ *site, void *stream);
PERF_COLD_DECL_ int perf_gpu_record_part_(void *arg, void *stream);

/* Waiting. */
PERF_COLD_DECL_ void perf_gpu_await_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                     perf_gpu_ring_ *ring);

/* Collecting. */
PERF_COLD_DECL_ void perf_gpu_collect_all_(perf_registry_ *reg);
PERF_COLD_DECL_ int perf_gpu_collect_ring_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                           perf_gpu_ring_ *ring, uint32_t most, unsigned how);

/* Fetching. */
PERF_COLD_DECL_ void perf_gpu_round_run_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                         perf_gpu_ring_ *ring, perf_gpu_round_ *round);
PERF_COLD_DECL_ void perf_gpu_fetch_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                     perf_gpu_ring_ *ring, perf_gpu_round_ *round);
PERF_FN int perf_gpu_length_ms_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                perf_gpu_slot_ *slot, perf_gpu_round_ *round, float *ms);
PERF_FN int perf_gpu_start_of_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                               perf_gpu_ring_ *ring, perf_gpu_slot_ *slot, double *start_ns);
PERF_COLD_DECL_ int perf_gpu_far_(const perf_gpu_backend *backend, perf_gpu_ring_ *ring,
                                  perf_gpu_slot_ *slot, double own_ms, double *start_ns, int *code);

/* Booking. */
PERF_COLD_DECL_ void perf_gpu_book_ring_(perf_gpu_state_ *gpu, perf_gpu_ring_ *ring);
PERF_COLD_DECL_ void perf_gpu_book_mixed_(perf_gpu_state_ *gpu, perf_gpu_ring_ *ring,
                                          perf_gpu_done_ *first, perf_gpu_aim_ *aims);
PERF_COLD_DECL_ void perf_gpu_book_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                    perf_gpu_done_ *first, perf_gpu_aim_ *aims, int events);
PERF_COLD_DECL_ void perf_gpu_book_all_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                        perf_gpu_done_ *done, perf_gpu_pace_ *pace,
                                        perf_gpu_aim_ *aims, int events);
PERF_FN perf_gpu_aim_ *perf_gpu_aim_of_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                        const perf_gpu_done_ *done, perf_gpu_aim_ *aims);
PERF_COLD_DECL_ void perf_gpu_book_part_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                         perf_gpu_part_ *part);
PERF_COLD_DECL_ int perf_gpu_aim_at_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                     const perf_gpu_done_ *done, perf_gpu_aim_ *aim);
PERF_COLD_DECL_ perf_gpu_track_ *perf_gpu_track_of_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                                    const perf_gpu_done_ *done);

/* What failed, and contexts that are no more. */
PERF_COLD_DECL_ void perf_gpu_failed_(perf_gpu_state_ *gpu, const char *call, int code);
PERF_COLD_DECL_ void perf_gpu_forget_(perf_gpu_ring_ *ring, void *stream);
PERF_COLD_DECL_ void perf_gpu_doubt_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                     perf_gpu_line_ *line, void *event);
PERF_COLD_DECL_ int perf_gpu_lives_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                    perf_gpu_line_ *line);
PERF_COLD_DECL_ void perf_gpu_deaden_(perf_gpu_state_ *gpu, const void *line);

/* Bottleneck and report. */
PERF_COLD_DECL_ void perf_gpu_report_(perf_out_ *out, int json);
PERF_COLD_DECL_ void perf_gpu_evidence_(perf_gpu_bound_ *bound, const perf_gpu_stats *stats);
PERF_COLD_DECL_ void perf_gpu_tells_(perf_evidence_ *evidence, double total_ns);
PERF_COLD_DECL_ int perf_gpu_busiest_(perf_evidence_ *evidence, const perf_gpu_stats *stats,
                                      double total_ns);
PERF_COLD_DECL_ void perf_gpu_put_rows_(perf_out_ *out, const perf_gpu_state_ *gpu,
                                        perf_registry_ *reg);
PERF_COLD_DECL_ void perf_gpu_put_bound_(perf_out_ *out, const perf_gpu_bound_ *bound,
                                         const char *answer);

/* Reset. */
PERF_COLD_DECL_ void perf_gpu_reset_(void);

/* ---- a scope begins: all but the short way of perf_gpu_scope.h ---- */

/* For the marks of this file, and of those that include perf_gpu_scope.h alone. */
#if PERF_GPU_MARKS_FIRST_
PERF_ATTR_((__used__)) static const perf_gpu_core_ *perf_gpu_core_here_(void)
#else
PERF_FN const perf_gpu_core_ *perf_gpu_core_get_(void)
#endif
{
    static const perf_gpu_core_ table = {
        PERF_CAST_(uint32_t, sizeof(perf_gpu_core_)), 1, perf_gpu_begin_slow_, perf_gpu_renew_,
        perf_gpu_end_slow_, perf_gpu_begin_part_, perf_gpu_begin_again_};

    PERF_ENGINE_(PERF_GPU_SYMBOL_, table);
    return &table;
}

/* The context of this scope was just found alive: for 0.1 ms nobody asks again. */
PERF_COLD_FN_ void perf_gpu_freshen_(void)
{
    perf_gpu_self_v1_.until = perf_ticks() + PERF_CAST_(uint64_t, 1e5 / perf_ticks_to_ns(1));
}

/* Every 0.1 ms a scope on the short way asks whether it may go on.  1: it may; 0: the long way. */
PERF_COLD_FN_ int perf_gpu_renew_(perf_gpu_ring_ *ring)
{
    perf_gpu_state_        *gpu = ring->state;
    const perf_gpu_backend *backend = PERF_ACQ_(&gpu->driver->table);

    if (!backend || ring->generation != PERF_GET_(&gpu->generation) ||
        gpu != perf_gpu_state_if_any_())        /* another table */
        return 0;
    if (perf_gpu_is_unread_(backend) || !perf_gpu_lives_(gpu, backend, ring->line))
        return 0;
    if (PERF_ACQ_(&(*PERF_ACQ_(&perf_anchor_v1_.registry)).sink))       /* it hears of each scope */
        return 0;
    perf_gpu_ease_(gpu, backend, ring);
    perf_gpu_freshen_();
    return 1;
}

/* The scope as a range of the profiler that listens, if one does. */
PERF_COLD_FN_ void perf_gpu_range_open_(perf_registry_ *reg, perf_gpu_slot_ *slot)
{
    const perf_sink_ *sink = PERF_ACQ_(&reg->sink);
    perf_recorder_   *rec = PERF_NULL_;
    perf_label_       label;
    int               opened = 0;

    if (sink)
        rec = perf_recorder_get_();
    if (!rec)
        return;
    label = perf_label_of_(PERF_ACQ_(&reg->names)[slot->site->id], 0, 0);
    PERF_SINK_(rec, opened = sink->open(&label, &slot->range))
    slot->ranged = opened != 0;
}

/* The long way of a scope's begin. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_slow_(perf_site_ *site, void *stream)
{
    perf_gpu_slot_ *slot = perf_gpu_begin_once_(site, stream);

    if (slot && (slot->code[0] & ~PERF_GPU_LONG_))
        slot = perf_gpu_begin_again_(slot);
    if (slot && !(slot->code[0] & ~PERF_GPU_LONG_))
        perf_gpu_range_open_(perf_registry_get_(), slot);
    return slot;
}

/* Frees a slot.  The owner may use it as soon as `key` says so. */
PERF_INLINE_FN_ void perf_gpu_free_(perf_gpu_slot_ *slot)
{
    const uintptr_t home = PERF_GET_(&slot->home);

    PERF_SET_(&slot->end, PERF_GPU_NOT_YET_);
    PERF_REL_(&slot->begin, UINT64_C(0));
    PERF_REL_(&slot->key, home);
}

/* Frees one that will not be fetched. */
PERF_COLD_FN_ void perf_gpu_give_up_(perf_gpu_slot_ *slot)
{
    PERF_SET_(&slot->home, PERF_GPU_NEVER_);
    slot->code[0] = slot->code[1] = slot->capture = 0;
    perf_gpu_free_(slot);
}

/* The first record of a scope failed: its stream may be of another context by now, or its events of
 * one that was destroyed.  Asks the driver anew, once; what fails then counts at the end. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_again_(perf_gpu_slot_ *slot)
{
    perf_gpu_state_        *gpu = slot->ring->state;
    const perf_gpu_backend *backend = PERF_ACQ_(&gpu->driver->table);
    perf_site_             *site = slot->site;
    void                   *stream = slot->stream;
    const int               code = perf_gpu_code_(slot->code[0]);

    if (!backend || (code != PERF_GPU_NO_CURRENT_ && !perf_gpu_is_stale_(code)))
        return slot;
    perf_gpu_forget_(slot->ring, stream);
    perf_gpu_doubt_(gpu, backend, slot->ring->line, slot->start);
    perf_gpu_self_v1_.until = 0;
    perf_gpu_give_up_(slot);
    return perf_gpu_begin_once_(site, stream);
}

/* One attempt to begin a scope; NULL: nothing to record, counted. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_once_(perf_site_ *site, void *stream)
{
    const perf_gpu_backend *backend = PERF_NULL_;
    perf_gpu_state_        *gpu = perf_gpu_state_get_();
    perf_registry_         *reg = perf_registry_get_();
    perf_gpu_slot_         *slot;
    uint64_t                now;
    int                     current, usual, quick;

    if (!gpu || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    if (PERF_PTR_(uintptr_t, stream) < PERF_GPU_PER_THREAD_)
        stream = PERF_NULL_;                    /* 1 is that one, too */
    if (!PERF_TCC_)
        backend = perf_gpu_table();
    if (!backend) {
        perf_gpu_lose_(gpu, PERF_GPU_NO_GPU_, 1);
        return PERF_NULL_;
    }
    if (!perf_site_id_(reg, site)) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    slot = perf_gpu_slot_for_(gpu, backend, stream, &current);
    if (!slot)
        return PERF_NULL_;
    usual = current && perf_gpu_is_named_(stream);
    quick = usual && !reg->clock && !PERF_ACQ_(&reg->sink);
    slot->stream = stream;
    slot->site = site;
    slot->thread = 0;
    if (PERF_PTR_(uintptr_t, stream) == PERF_GPU_PER_THREAD_)
        slot->thread = perf_thread_id_();
    perf_gpu_slot_ready_(slot, backend, usual, quick);
    now = perf_scope_ticks_(reg);
    if (!now)
        now = 1;                                /* 0 would say that the slot is free */
    PERF_SET_(&slot->begin, now);
    if (usual)
        slot->code[0] |= backend->event_record(slot->start, stream);
    else
        slot->code[0] |= perf_gpu_record_in_(backend, slot, slot->start, stream, !current);
    return slot;
}

/* NULL without memory. */
PERF_COLD_FN_ perf_gpu_state_ *perf_gpu_state_get_(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    perf_registry_   *reg = perf_registry_get_();
    perf_gpu_state_  *gpu = PERF_NULL_;

    if (driver)
        gpu = PERF_ACQ_(&driver->state);
    if (gpu || !driver || !perf_lock_(reg))
        return gpu;
    gpu = driver->state;
    if (!gpu) {
        gpu = PERF_CAST_(perf_gpu_state_ *, perf_pages_(sizeof *gpu, 0));
        if (gpu) {
            gpu->driver = driver;
            gpu->source.collect = perf_gpu_collect_all_;
            gpu->source.report = perf_gpu_report_;
            gpu->source.reset = perf_gpu_reset_;
            gpu->source.evidence = perf_gpu_tells_;
            driver->on_down = perf_gpu_deaden_;
            PERF_REL_(&driver->state, gpu);
        }
    }
    perf_unlock_(&reg->lock);
    if (gpu)
        perf_source_add_(reg, &gpu->source);
    return gpu;
}

/* A slot for a scope on this stream, with events; NULL: nothing to record, counted.  *current
 * becomes 1 if any context is current in the thread. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_slot_for_(perf_gpu_state_ *gpu,
                                                 const perf_gpu_backend *backend, void *stream,
                                                 int *current)
{
    perf_gpu_thread_ *thread = perf_gpu_thread_get_(gpu);
    perf_gpu_ring_   *ring;
    perf_gpu_slot_   *slot;
    int               fresh;

    if (!thread || perf_gpu_is_unread_(backend)) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    ring = perf_gpu_route_(gpu, backend, thread, stream, current);
    if (!ring)
        return PERF_NULL_;
    fresh = perf_gpu_is_fresh_(ring->line);
    if (!fresh)
        perf_gpu_ease_(gpu, backend, ring);
    slot = perf_gpu_take_(gpu, backend, thread, ring);
    if (slot && !fresh)
        perf_gpu_freshen_();
    return slot;
}

/* The thread's own perf_gpu_thread_, made at its first scope; NULL without memory. */
PERF_COLD_FN_ perf_gpu_thread_ *perf_gpu_thread_get_(perf_gpu_state_ *gpu)
{
    perf_gpu_thread_ *thread = perf_gpu_self_v1_.thread;

    if (!thread)
        thread = PERF_CAST_(perf_gpu_thread_ *, perf_pages_(sizeof *thread, 1));
    perf_gpu_self_v1_.thread = thread;
    if (thread && (thread->home != gpu || thread->generation != PERF_GET_(&gpu->generation))) {
        memset(thread, 0, sizeof *thread);      /* new, forked, another table */
        thread->home = gpu;
        thread->generation = PERF_GET_(&gpu->generation);
        perf_gpu_self_v1_.ring = PERF_NULL_;
    }
    return thread;
}

/* What this thread knows of a stream, or of another one of the same hash. */
PERF_FN perf_gpu_known_ *perf_gpu_known_at_(perf_gpu_thread_ *thread, const void *stream)
{
    const uintptr_t address = PERF_PTR_(uintptr_t, stream);

    return &thread->known[(address >> 4 ^ address >> 10) % PERF_GPU_KNOWN_];
}

/* The ring for a stream; the driver is asked if it was not seen before.  NULL: nothing to record,
 * counted. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_route_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                              perf_gpu_thread_ *thread, void *stream, int *current)
{
    perf_gpu_known_ *known = perf_gpu_known_at_(thread, stream);
    perf_gpu_ring_  *ring = PERF_NULL_;
    const int        named = perf_gpu_is_named_(stream);
    int              code;

    *current = 1;
    if (named && known->stream == stream) {
        if (perf_gpu_is_fresh_(known->ring->line) ||
            perf_gpu_lives_(gpu, backend, known->ring->line))
            return known->ring;
        known->stream = PERF_NULL_;
    }
    code = perf_gpu_ask_ring_(gpu, backend, thread, stream, current, &ring);
    if (code == PERF_GPU_OUT_OF_MEMORY_) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        perf_fail_(perf_registry_get_(), PERF_ENOMEM);
    } else if (code) {
        perf_gpu_failed_(gpu, "stream_ctx", code);
    } else if (named && *current) {
        known->stream = stream;
        known->ring = ring;
        perf_gpu_name_stream_(gpu, ring->line, stream);
    }
    return ring;
}

#if PERF_DL_ && !PERF_DISABLE
extern int perf_cxa_atexit_(void (*)(void *), void *, void *) __asm__(PERF_SYM_("__cxa_atexit"));

/* The last moment at which the driver answers: handlers run newest first, and the driver's was
 * there before our first scope.  Fetches what has finished; later nothing is called any more. */
PERF_COLD_FN_ void perf_gpu_at_exit_(void *state)
{
    perf_gpu_state_ *gpu = PERF_CAST_(perf_gpu_state_ *, state);
    perf_registry_  *reg = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (reg->gpu != gpu->driver || PERF_GET_(&reg->process) != perf_process_id_() ||
        !PERF_ACQ_(&gpu->driver->table))
        return;
    perf_gpu_collect_all_(reg);
    perf_gpu_error_(gpu->driver, PERF_NULL_, PERF_GPU_SHUT_DOWN);
}
#endif

/* *ring: the thread's for a stream.  *current: see perf_gpu_slot_for_.  0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_ask_ring_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                     perf_gpu_thread_ *thread, void *stream, int *current,
                                     perf_gpu_ring_ **ring)
{
    perf_gpu_ring_   *mine = perf_gpu_self_v1_.ring;
    perf_gpu_line_   *line;
    perf_gpu_entered_ entered;
    void             *here = PERF_NULL_, *ctx;  /* the current context; that of the stream */
    const int         named = perf_gpu_is_named_(stream);
    int               code = backend->ctx_get(&here);

    ctx = here;
    if ((!code || code == PERF_GPU_NO_CURRENT_) && named && backend->stream_ctx)
        code = backend->stream_ctx(stream, &ctx); /* needs no current context */
    if (!ctx)
        ctx = here;
    if (!code && !ctx)
        code = PERF_GPU_NO_CURRENT_;
    if (code)
        return code;
    *current = here != PERF_NULL_;
    if (!named && mine && mine->ctx == ctx && !PERF_GET_(&mine->line->dead) &&
        (perf_gpu_is_fresh_(mine->line) || perf_gpu_lives_(gpu, backend, mine->line))) {
        *ring = mine;
        return 0;
    }
    code = perf_gpu_enter_(backend, ctx, &entered);
    if (code)
        return code;
    line = perf_gpu_line_of_(gpu, backend, ctx);
    if (line)
        *ring = perf_gpu_ring_of_(gpu, thread, line, 0);
    perf_gpu_leave_(backend, &entered);
    if (!*ring)
        return PERF_GPU_OUT_OF_MEMORY_;
#if PERF_DL_ && !PERF_DISABLE
    if (perf_claim_(&gpu->at_exit, 0, 1))       /* behind the driver's own handler */
        (void)perf_cxa_atexit_(perf_gpu_at_exit_, gpu, &perf_dso_);
#endif
    return 0;
}

/* The line of a context, made on first sight; NULL without memory.  `ctx` is current. */
PERF_COLD_FN_ perf_gpu_line_ *perf_gpu_line_of_(perf_gpu_state_ *gpu,
                                                const perf_gpu_backend *backend, void *ctx)
{
    perf_registry_    *reg = perf_registry_get_();
    perf_gpu_line_    *line;
    unsigned long long id = 0;
    int                device = 0;

    if (backend->ctx_id && backend->ctx_id(ctx, &id))
        id = 0;
    for (line = PERF_ACQ_(&gpu->lines); line; line = line->next)
        if (line->ctx == ctx && !PERF_GET_(&line->dead)) {
            if (line->ctx_id == id || !id || !line->ctx_id) /* 0: the driver told none */
                return line;
            if (perf_claim_(&line->dead, 0, 1))
                perf_gpu_deaden_(gpu, line);
        }
    if (backend->ctx_device && backend->ctx_device(&device))
        device = 0;
    if (!perf_lock_(reg))
        return PERF_NULL_;
    line = gpu->lines;                          /* another thread may have made it */
    while (line && (line->ctx != ctx || PERF_GET_(&line->dead)))
        line = line->next;
    if (!line)
        line = PERF_CAST_(perf_gpu_line_ *, perf_forever_(reg, sizeof *line));
    if (line && !line->ctx) {
        line->ctx = ctx;
        line->ctx_id = id;
        line->device = device;
        line->next = gpu->lines;
        PERF_REL_(&gpu->lines, line);
    }
    perf_unlock_(&reg->lock);
    return line;
}

/* A stream that this thread had not seen: a profiler that listens is told its title. */
PERF_COLD_FN_ void perf_gpu_name_stream_(perf_gpu_state_ *gpu, perf_gpu_line_ *line, void *stream)
{
    const perf_sink_ *sink = PERF_ACQ_(&perf_registry_get_()->sink);
    perf_recorder_   *rec = PERF_NULL_;
    perf_gpu_done_    first = PERF_ZERO;
    perf_gpu_track_  *track;

    if (sink && sink->stream)
        rec = perf_recorder_get_();
    if (!rec || !perf_lock_word_(&gpu->lock, 1))
        return;
    first.stream = stream;
    track = perf_gpu_track_of_(gpu, line, &first);
    perf_unlock_(&gpu->lock);
    if (track)
        PERF_SINK_(rec, sink->stream(stream, track->recorder->name))
}

#define PERF_GPU_FEW_   64              /* scopes that are fetched at once in a scope's begin */
#define PERF_GPU_RINGS_ 8               /* of one thread and context, at most */
#define PERF_GPU_RETRY_ 15u             /* scopes dropped without a look: all are in flight */

/* Where half of a ring is in flight, fetches a few: so no scope pays for a full ring. */
PERF_COLD_FN_ void perf_gpu_ease_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                  perf_gpu_ring_ *ring)
{
    const uint32_t at = PERF_CAST_(uint32_t, ring->at - ring->slot);

    if (PERF_GET_(&ring->slot[(at + ring->cap / 2) % ring->cap].begin))
        (void)perf_gpu_collect_ring_(gpu, backend, ring, PERF_GPU_FEW_, PERF_GPU_IN_ORDER_);
}

/* Creates the events of a slot, if it has none, in its context; 0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_events_(const perf_gpu_backend *backend, perf_gpu_slot_ *slot)
{
    perf_gpu_entered_ entered;
    int               code;

    if (slot->stop)
        return 0;
    code = perf_gpu_enter_(backend, slot->ring->ctx, &entered);
    if (code)
        return code;
    if (!slot->start)
        code = backend->event_create(&slot->start, 0);
    if (!code)
        code = backend->event_create(&slot->stop, 0);
    perf_gpu_leave_(backend, &entered);
    return code;
}

/* A free slot with events; NULL: none, counted. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_take_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                             perf_gpu_thread_ *thread, perf_gpu_ring_ *ring)
{
    perf_gpu_line_ *line = ring->line;
    perf_gpu_slot_ *slot;
    int             ready = perf_gpu_refill_(gpu, backend, ring), code, n;

    for (n = 0; ready < 0 && n < PERF_GPU_RINGS_; n++) {
        ring = perf_gpu_ring_of_(gpu, thread, line, n);
        ready = 0;
        if (ring)
            ready = perf_gpu_refill_(gpu, backend, ring);
    }
    if (ready <= 0) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    perf_gpu_self_v1_.ring = ring;
    slot = ring->at;
    code = perf_gpu_events_(backend, slot);
    if (code) {                                 /* the slot stays where it is, for the next scope */
        perf_gpu_failed_(gpu, "event_create", code);
        return PERF_NULL_;
    }
    PERF_SET_(&slot->begin, UINT64_C(1));       /* taken: who fetches does not pass by */
    PERF_REL_(&ring->at, slot->next);
    return slot;
}

/* A ring whose thread has ended; NULL: none.  What is open in it stays with whoever ends it. */
#if PERF_SYS_GETTID_ && !PERF_TSAN_
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_adopt_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                              uint32_t me)
{
    perf_gpu_ring_ *ring;
    uint32_t        was;

    for (ring = PERF_ACQ_(&gpu->rings); ring; ring = ring->next) {
        was = PERF_GET_(&ring->thread);
        if (ring->line == line && was != me && perf_thread_ended_(perf_process_id_(), was) &&
            perf_claim_(&ring->thread, was, me)) {
            PERF_SET_(&ring->retry, 0u);
            return ring;
        }
    }
    return PERF_NULL_;
}
#else
#define perf_gpu_adopt_(g, l, me) PERF_NULL_
#endif

/* The n-th of the thread's rings of a line, made if there are fewer; NULL without memory.  A second
 * one is needed if a collector lost its processor within the first, and its owner had to go on.  */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_ring_of_(perf_gpu_state_ *gpu, perf_gpu_thread_ *thread,
                                                perf_gpu_line_ *line, int n)
{
    uint32_t        me = perf_thread_id_();
    perf_gpu_ring_ *ring;

    for (ring = thread->rings; ring; ring = ring->mine)
        if (ring->line == line && n-- == 0)
            return ring;
    ring = perf_gpu_adopt_(gpu, line, me);
    if (!ring)
        ring = perf_gpu_ring_make_(gpu, line, me);
    if (ring) {
        ring->mine = thread->rings;
        thread->rings = ring;
    }
    return ring;
}

/* A ring of PERF_GPU_SLOTS or more slots, with room for results; NULL without memory. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_ring_make_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                                  uint32_t me)
{
    perf_registry_ *reg = perf_registry_get_();
    perf_gpu_ring_ *ring;
    size_t          each;
    uint32_t        cap = 4;

    while (cap < PERF_GPU_SLOTS && cap < 1u << 24)
        cap *= 2;
    each = sizeof *ring->slot + 8 * sizeof *ring->done + 8 * sizeof *ring->batch;
    ring = PERF_CAST_(perf_gpu_ring_ *, perf_pages_(sizeof *ring + cap * each, 1));
    if (!ring)
        return PERF_NULL_;
    ring->slot = PERF_PTR_(perf_gpu_slot_ *, ring + 1);
    ring->done = PERF_PTR_(perf_gpu_done_ *, ring->slot + cap);
    ring->batch = PERF_PTR_(perf_gpu_done_ **, ring->done + 8 * cap);
    ring->cap = cap;
    ring->at = ring->slot;
    ring->state = gpu;
    ring->ctx = line->ctx;
    ring->line = line;
    ring->thread = me;
    ring->generation = PERF_GET_(&gpu->generation);
    if (!perf_lock_(reg))
        return PERF_NULL_;
    ring->next = gpu->rings;
    PERF_REL_(&gpu->rings, ring);
    perf_unlock_(&reg->lock);
    return ring;
}

/* 1: free, and whoever freed it is done with it: he writes `key` last. */
PERF_INLINE_FN_ int perf_gpu_is_free_(const perf_gpu_slot_ *slot)
{
    return PERF_ACQ_(&slot->key) && !PERF_ACQ_(&slot->begin);
}

/* Moves ring->at to a free slot.  1: done; 0: all are in flight; -1: a collector is at them. */
PERF_COLD_FN_ int perf_gpu_refill_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                   perf_gpu_ring_ *ring)
{
    perf_gpu_slot_ *slot = ring->at;
    uint32_t        at = PERF_CAST_(uint32_t, slot - ring->slot), tried;
    int             fetched;

    if (at == ring->made) {                     /* never used */
        slot->ring = ring;
        slot->key = slot->home = PERF_GPU_NEVER_;
        slot->next = &ring->slot[(at + 1) % ring->cap];
        PERF_SET_(&slot->end, PERF_GPU_NOT_YET_);
        PERF_REL_(&ring->made, at + 1);
        return 1;
    }
    if (perf_gpu_is_free_(slot))
        return 1;
    if (PERF_GET_(&ring->retry)) {
        PERF_SET_(&ring->retry, PERF_GET_(&ring->retry) - 1);
        return 0;
    }
    fetched = perf_gpu_collect_ring_(gpu, backend, ring, PERF_GPU_FEW_, 0);
    for (tried = 0; tried < ring->cap && !perf_gpu_is_free_(slot); tried++)
        slot = &ring->slot[(at + tried + 1) % ring->cap];
    if (!perf_gpu_is_free_(slot)) {
        if (!fetched)
            return -1;
        PERF_SET_(&ring->retry, PERF_GPU_RETRY_);       /* not at every scope */
        return 0;
    }
    if (tried)
        PERF_SET_(&ring->passed, 1u);
    PERF_REL_(&ring->at, slot);
    return 1;
}

/* Stands for stream_capturing where nobody is to be asked. */
PERF_FN int perf_gpu_not_capturing_(void *stream, int *status)
{
    (void)stream, (void)status;
    return 0;
}

/* Prepares a slot: how its scope is recorded.  usual: a context is current and the stream is none
 * of the default ones.  quick: the next scope on this stream may go the short way. */
PERF_COLD_FN_ void perf_gpu_slot_ready_(perf_gpu_slot_ *slot, const perf_gpu_backend *backend,
                                        int usual, int quick)
{
    slot->ranged = 0;
    slot->capture = 0;
    slot->code[0] = PERF_GPU_LONG_;
    PERF_SET_(&slot->key, PERF_CAST_(uintptr_t, 0));
    PERF_SET_(&slot->home, PERF_GPU_NEVER_);
    if (quick) {
        slot->code[0] = 0;
        PERF_SET_(&slot->home, PERF_GPU_KEY_(slot->stream));
    }
    PERF_GPU_FN_(slot->capturing, perf_gpu_not_capturing_);
    if (usual) {
        slot->arg = slot->stop;
        PERF_GPU_FN_(slot->record, backend->event_record);
        if (backend->stream_capturing)
            PERF_GPU_FN_(slot->capturing, backend->stream_capturing);
    } else {
        slot->arg = slot;
        PERF_GPU_FN_(slot->record, perf_gpu_record_long_);
    }
}

/* Records an event the long way.  inside: in the slot's context, which may not be current.  A
 * default stream spoils a capture when it is used, so the driver is asked for one first. */
PERF_COLD_FN_ int perf_gpu_record_in_(const perf_gpu_backend *backend, perf_gpu_slot_ *slot,
                                      void *event, void *stream, int inside)
{
    perf_gpu_entered_ entered;
    int               code = 0, status = 0;

    if (inside)
        code = perf_gpu_enter_(backend, slot->ring->ctx, &entered);
    if (code)
        return code;
    if (backend->stream_capturing)
        code = backend->stream_capturing(stream, &status);
    if (!code && status)
        code = PERF_GPU_IS_CAPTURED_;
    if (!code)
        code = backend->event_record(event, stream);
    if (inside)
        perf_gpu_leave_(backend, &entered);
    return code;
}

/* The second event of a scope on the long way: in the current context, else where it began. */
PERF_COLD_FN_ int perf_gpu_record_long_(void *arg, void *stream)
{
    perf_gpu_slot_         *slot = PERF_CAST_(perf_gpu_slot_ *, arg);
    perf_gpu_state_        *gpu = slot->ring->state;
    const perf_gpu_backend *backend = PERF_ACQ_(&gpu->driver->table);
    int                     code;

    if (!backend)
        return PERF_GPU_SHUT_DOWN;
    if (!perf_gpu_is_fresh_(slot->ring->line) && !perf_gpu_lives_(gpu, backend, slot->ring->line))
        return PERF_GPU_DESTROYED_;
    code = perf_gpu_record_in_(backend, slot, slot->stop, stream, 0);
    if (code == PERF_GPU_NO_CURRENT_ || code == PERF_GPU_BAD_HANDLE_)
        code = perf_gpu_record_in_(backend, slot, slot->stop, stream, 1);
    return code;
}

/* ---- it ends: all but the short way ---- */

/* The end of the range that perf_gpu_range_open_ began. */
PERF_COLD_FN_ void perf_gpu_range_close_(perf_registry_ *reg, perf_gpu_slot_ *slot)
{
    const perf_sink_ *sink = PERF_ACQ_(&reg->sink);
    perf_recorder_   *rec = PERF_NULL_;

    if (sink && slot->ranged)
        rec = perf_recorder_get_();
    slot->ranged = 0;
    if (rec)
        PERF_SINK_(rec, sink->close(slot->range))
}

/* The long way of a scope's end.  bad: the codes of both records and of stream_capturing, and its
 * answer, or-ed: so the code of stream_capturing where all the others are 0. */
PERF_COLD_FN_ void perf_gpu_end_slow_(perf_gpu_slot_ *slot, int bad)
{
    perf_gpu_state_ *gpu = slot->ring->state;
    perf_registry_  *reg = perf_registry_get_();
    int              code = perf_gpu_code_(slot->code[0]);

    perf_gpu_range_close_(reg, slot);
    if (!code)
        code = slot->code[1];
    if (!code && !slot->capture)
        code = perf_gpu_code_(bad);
    if (PERF_GET_(&slot->ring->line->dead) ||
        slot->ring->generation != PERF_GET_(&gpu->generation)) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        perf_gpu_give_up_(slot);
    } else if (code || slot->capture) {
        if (slot->capture)
            code = PERF_GPU_IS_CAPTURED_;
        else
            perf_gpu_forget_(slot->ring, slot->stream);
        perf_gpu_failed_(gpu, "event_record", code);
        if (perf_gpu_is_stale_(code))
            perf_gpu_doubt_(gpu, PERF_ACQ_(&gpu->driver->table), slot->ring->line, slot->start);
        perf_gpu_give_up_(slot);
    } else {
        PERF_REL_(&slot->end, perf_scope_ticks_(reg));
    }
}

/* ---- a part of a graph ---- */

/* A scope also where its stream is being captured: two event nodes of the graph. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_part_(perf_site_ *site, void *stream)
{
    const perf_gpu_backend *backend = PERF_NULL_;
    perf_gpu_state_        *gpu = perf_gpu_state_get_();
    perf_gpu_thread_       *thread = PERF_NULL_;
    perf_registry_         *reg = perf_registry_get_();
    perf_gpu_ring_         *ring;
    perf_gpu_part_         *part = PERF_NULL_;
    int                     status = 0, current;

    if (!PERF_TCC_)
        backend = perf_gpu_table();
    if (backend && gpu)
        thread = perf_gpu_thread_get_(gpu);
    if (!thread || PERF_GET_(&perf_anchor_v1_.off) || !backend->event_record_flags ||
        !backend->stream_capturing)
        return perf_gpu_begin_slow_(site, stream);
    if (backend->stream_capturing(stream, &status) || status != 1)      /* no capture: a scope */
        return perf_gpu_begin_slow_(site, stream);
    ring = perf_gpu_route_(gpu, backend, thread, stream, &current);
    if (ring && perf_site_id_(reg, site) && perf_lock_(reg)) {
        if (gpu->part_count++ < PERF_GPU_PARTS_)
            part = PERF_CAST_(perf_gpu_part_ *, perf_pages_(sizeof *part, 1));
        perf_unlock_(&reg->lock);
    }
    if (!part) {
        if (ring)
            perf_gpu_lose_(gpu, PERF_GPU_CAPTURED_, 1);
        return PERF_NULL_;
    }
    part->until_ns = -PERF_GPU_NEVER_NS_;
    part->depth = 1;
    part->slot.ring = ring;
    part->slot.site = site;
    part->slot.stream = stream;
    part->slot.thread = PERF_GPU_GRAPH_;
    part->slot.arg = part;
    PERF_GPU_FN_(part->slot.record, perf_gpu_record_part_);
    PERF_GPU_FN_(part->slot.capturing, perf_gpu_not_capturing_);
    part->slot.begin = perf_scope_ticks_(reg);
    part->slot.code[0] = perf_gpu_events_(backend, &part->slot);
    if (!part->slot.code[0])
        part->slot.code[0] = backend->event_record_flags(part->slot.start, stream,
                                                         PERF_GPU_EXTERNAL_);
    if (!part->slot.code[0])
        perf_gpu_range_open_(reg, &part->slot);
    if (part->slot.ranged)
        part->slot.code[0] = PERF_GPU_LONG_;    /* its end goes the long way, and closes it */
    return &part->slot;
}

/* The second event of a part: from here on it is read.  The parts inside it are in the list
 * already, and get one deeper. */
PERF_COLD_FN_ int perf_gpu_record_part_(void *arg, void *stream)
{
    perf_gpu_part_         *part = PERF_CAST_(perf_gpu_part_ *, arg), **link;
    perf_registry_         *reg = perf_registry_get_();
    perf_gpu_state_        *gpu = part->slot.ring->state;
    const perf_gpu_backend *backend = PERF_ACQ_(&gpu->driver->table);
    int                     code = perf_gpu_code_(part->slot.code[0]);

    if (!backend || part->slot.ring->generation != PERF_GET_(&gpu->generation) ||
        !perf_gpu_lives_(gpu, backend, part->slot.ring->line))
        return PERF_GPU_DESTROYED_;
    if (!code)
        code = backend->event_record_flags(part->slot.stop, stream, PERF_GPU_EXTERNAL_);
    if (code)
        return code;
    if (!perf_lock_(reg))
        return PERF_GPU_UNREAD;                /* nobody will read it: dropped */
    for (link = &gpu->parts; *link; link = &(*link)->next)
        (*link)->depth += (*link)->slot.stream == stream && (*link)->slot.begin > part->slot.begin;
    PERF_REL_(link, part);
    perf_unlock_(&reg->lock);
    return 0;
}

/* ---- another table ---- */

/* An event, if there is one, goes back to the driver it came from. */
PERF_COLD_FN_ void perf_gpu_event_end_(const perf_gpu_backend *backend, void *event)
{
    if (event)
        (void)backend->event_destroy(event);
}

/* How many scopes of a ring have ended and are not fetched. */
PERF_COLD_FN_ uint32_t perf_gpu_pending_(const perf_gpu_ring_ *ring)
{
    uint32_t i, n = 0;

    for (i = 0; i < PERF_ACQ_(&ring->made); i++)
        n += PERF_GPU_ENDED_(&ring->slot[i]);
    return n;
}

/* What a ring holds goes into the report, its events back to the driver `backend` that made them;
 * NULL: they are left alone. */
PERF_COLD_FN_ void perf_gpu_ring_end_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                      perf_gpu_ring_ *ring)
{
    uint32_t i;

    perf_gpu_book_ring_(gpu, ring);
    perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, perf_gpu_pending_(ring));
    if (!backend || ring->line->dead)
        return;
    for (i = 0; i < ring->made; i++) {
        perf_gpu_event_end_(backend, ring->slot[i].start);
        perf_gpu_event_end_(backend, ring->slot[i].stop);
    }
    perf_gpu_event_end_(backend, ring->anchor);
}

PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table)
{
    perf_gpu_state_        *gpu;
    const perf_gpu_backend *backend;
    perf_gpu_ring_         *ring;
    perf_gpu_line_         *line;
    perf_gpu_track_        *track;
    uint32_t                looked = 0;

    if (table && (table->size != sizeof *table || !perf_gpu_complete_(table)))
        return PERF_EINVAL;
    if (PERF_DISABLE)
        return PERF_EDISABLED;
    gpu = perf_gpu_state_get_();
    if (!gpu)
        return PERF_ENOMEM;
    if (!perf_lock_word_(&gpu->lock, 1))
        return PERF_ESTATE;
    backend = gpu->driver->table;
    perf_gpu_deaden_(gpu, PERF_NULL_);
    for (ring = gpu->rings; ring; ring = ring->next)
        perf_gpu_ring_end_(gpu, backend, ring);
    gpu->parts = PERF_NULL_;                    /* their events stay: graphs may still hold them */
    gpu->part_count = 0;
    for (line = gpu->lines; line; line = line->next)
        if (backend && !PERF_GET_(&line->dead))
            perf_gpu_event_end_(backend, line->anchor);
    gpu->rings = PERF_NULL_;                    /* their pages stay: threads may still look */
    gpu->lines = PERF_NULL_;
    for (track = gpu->tracks; track; track = track->next)
        track->line = PERF_NULL_;               /* its title may come again */
    PERF_SET_(&gpu->driver->down, 0u);
    PERF_REL_(&gpu->generation, gpu->generation + 1);
    PERF_REL_(&gpu->driver->table, table);
    if (table)
        looked = UINT32_MAX;
    PERF_REL_(&gpu->driver->looked, looked);
    perf_unlock_(&gpu->lock);
    return PERF_OK;
}

/* ---- waiting ---- */

PERF_FN perf_status perf_gpu_collect_sync(void)
{
    const perf_gpu_backend *backend = perf_gpu_table();
    perf_gpu_state_        *gpu;
    perf_gpu_ring_         *ring;
    void                   *ctx = PERF_NULL_;
    perf_status             status = perf_gpu_status();
    int                     code;

    if (status != PERF_OK)
        return status;
    gpu = perf_gpu_state_get_();
    if (!gpu)
        return PERF_ENOMEM;
    code = backend->ctx_get(&ctx);
    if (code)                                   /* then no ring is of `ctx` */
        perf_gpu_error_(gpu->driver, "ctx_get", code);
    for (ring = PERF_ACQ_(&gpu->rings); ring && !PERF_GET_(&gpu->driver->down); ring = ring->next)
        if (ring->ctx == ctx && !PERF_GET_(&ring->line->dead))
            perf_gpu_await_(gpu, backend, ring);
    return perf_gpu_collect();
}

/* Finds the newest scope of a ring, on any stream but one, that is in flight and ended at `by` or
 * before.  Returns its second event, which never changes; NULL: none.  *end: when it ended. */
PERF_COLD_FN_ void *perf_gpu_newest_(perf_gpu_ring_ *ring, uint64_t by, const void *but,
                                     uint64_t *end, void **stream)
{
    perf_gpu_slot_ *slot;
    void           *event = PERF_NULL_;
    uint32_t        i;

    if (!perf_lock_word_(&ring->lock, 1))
        return event;
    *end = 0;
    for (i = 0; i < PERF_ACQ_(&ring->made); i++) {
        slot = &ring->slot[i];
        if (PERF_GPU_ENDED_(slot) && slot->end <= by && slot->end >= *end && slot->stream != but) {
            event = slot->stop;
            *stream = slot->stream;
            *end = slot->end;
        }
    }
    perf_unlock_(&ring->lock);
    return event;
}

/* 1: the stream is being captured, which a wait would spoil (ROCm 6.1 to 7.1). */
PERF_COLD_FN_ int perf_gpu_is_capturing_(const perf_gpu_backend *backend, void *stream)
{
    int status = 0, code = 0;

    if (backend->stream_capturing)
        code = backend->stream_capturing(stream, &status);
    return status || (code >= PERF_GPU_IS_CAPTURED_ && code <= PERF_GPU_CAPTURE_END_);
}

/* Waits for what a ring has in flight, the newest first.  No lock is held, so threads that the
 * device waits for can go on.  Fetches a few at a time: each has then stopped shortly before.
 * Ends, too, when a wait has brought no result: the event is done, but the driver tells no time. */
PERF_COLD_FN_ void perf_gpu_await_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                   perf_gpu_ring_ *ring)
{
    perf_gpu_entered_ entered;
    void             *event, *stream = PERF_NULL_, *captured = &entered;    /* it is no stream */
    uint64_t          by = perf_scope_ticks_(perf_registry_get_()), end;
    uint64_t          awaited = 0;      /* `end` of the scope that was waited for last */
    uint32_t          head = 0;
    int               code = 0, capturing = 0;

    (void)perf_gpu_collect_ring_(gpu, backend, ring, ring->cap, PERF_GPU_MAY_BLOCK_);
    while (!perf_gpu_is_unread_(backend) && perf_gpu_lives_(gpu, backend, ring->line)) {
        event = perf_gpu_newest_(ring, by, captured, &end, &stream);
        if (!event || (end == awaited && head == PERF_ACQ_(&ring->head)))
            return;
        head = PERF_ACQ_(&ring->head);
        code = perf_gpu_enter_(backend, ring->ctx, &entered);
        if (!code) {
            capturing = perf_gpu_is_capturing_(backend, stream);
            if (!capturing)
                code = backend->event_sync(event);
            if (code != PERF_GPU_SHUT_DOWN)
                perf_gpu_leave_(backend, &entered);
        }
        if (code) {
            perf_gpu_error_(gpu->driver, "event_sync", code);
            return;
        }
        awaited = 0;
        if (capturing) {                        /* those that ended before it, of other streams */
            captured = stream;
            by = end - (end > 0);
        } else if (perf_gpu_collect_ring_(gpu, backend, ring, PERF_GPU_FEW_, PERF_GPU_MAY_BLOCK_)) {
            awaited = end;
        }
    }
}

/* ---- collecting ---- */

PERF_FN perf_status perf_gpu_collect(void)
{
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();

    (void)perf_gpu_core_get_();                 /* from here on it is there for the other files */
    if (!perf_gpu_table())
        return perf_gpu_status();
    perf_gpu_collect_all_(perf_registry_get_());
    if (PERF_GET_(&driver->down) || perf_claim_(&driver->fresh, 1, 0))
        return PERF_EGPU;
    return PERF_OK;
}

/* One round over each ring, then over the parts of graphs.  Waits for locks, for no device. */
PERF_COLD_FN_ void perf_gpu_collect_all_(perf_registry_ *reg)
{
    perf_gpu_driver_       *driver = PERF_CAST_(perf_gpu_driver_ *, PERF_ACQ_(&reg->gpu));
    perf_gpu_state_        *gpu = perf_gpu_state_if_any_();
    const perf_gpu_backend *backend = PERF_NULL_;
    perf_gpu_ring_         *ring;
    perf_gpu_part_         *part;

    perf_gpu_self_v1_.until = 0;                /* the next scope makes sure of its context */
    if (gpu)
        backend = PERF_ACQ_(&driver->table);
    if (!backend)
        return;
    for (ring = PERF_ACQ_(&gpu->rings); ring && !PERF_GET_(&driver->down); ring = ring->next)
        (void)perf_gpu_collect_ring_(gpu, backend, ring, ring->cap, PERF_GPU_MAY_BLOCK_);
    part = PERF_ACQ_(&gpu->parts);
    if (part && !perf_gpu_is_unread_(backend) && perf_lock_word_(&gpu->lock, 1)) {
        for (; part && !PERF_GET_(&driver->down); part = PERF_ACQ_(&part->next))
            perf_gpu_book_part_(gpu, backend, part);
        perf_unlock_(&gpu->lock);
    }
}

/* A round over one ring, `most` scopes of it at most, and its results into the report.  Returns 0
 * where somebody else is at the ring or its line, or where the list of results is full, because
 * somebody else is at the report. */
PERF_COLD_FN_ int perf_gpu_collect_ring_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                         perf_gpu_ring_ *ring, uint32_t most, unsigned how)
{
    const int       wait = (how & PERF_GPU_MAY_BLOCK_) != 0;
    perf_gpu_round_ round = PERF_ZERO;

    round.most = most;
    round.orderly = how & PERF_GPU_IN_ORDER_;
    if (wait && PERF_ACQ_(&ring->head) - PERF_ACQ_(&ring->tail) > ring->cap &&
        perf_lock_word_(&gpu->lock, 1)) {
        perf_gpu_book_ring_(gpu, ring);         /* room for what is fetched now */
        perf_unlock_(&gpu->lock);
    }
    if (!perf_lock_word_(&ring->lock, wait))
        return 0;
    perf_gpu_round_run_(gpu, backend, ring, &round);
    perf_unlock_(&ring->lock);
    if (perf_lock_word_(&gpu->lock, wait)) {
        perf_gpu_book_ring_(gpu, ring);
        perf_unlock_(&gpu->lock);
    }
    return !round.blocked && PERF_ACQ_(&ring->head) - PERF_ACQ_(&ring->tail) < 8 * ring->cap;
}

/* ---- fetching: from the driver into the list of results, with the ring's lock held ---- */

/* Runs a round in the ring's context. */
PERF_COLD_FN_ void perf_gpu_round_run_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                       perf_gpu_ring_ *ring, perf_gpu_round_ *round)
{
    perf_gpu_entered_ entered;
    int               code;

    if (PERF_GET_(&gpu->driver->down) || PERF_GET_(&ring->line->dead) ||
        perf_gpu_is_unread_(backend) || !perf_gpu_lives_(gpu, backend, ring->line))
        return;
    code = perf_gpu_enter_(backend, ring->ctx, &entered);
    if (code == PERF_GPU_NO_CURRENT_ || perf_gpu_is_stale_(code))
        perf_gpu_doubt_(gpu, backend, ring->line, ring->slot->start);
    if (!code)
        perf_gpu_fetch_(gpu, backend, ring, round);
    else if (!PERF_GET_(&ring->line->dead))
        perf_gpu_error_(gpu->driver, "ctx_set", code);
    if (!code && !PERF_GET_(&gpu->driver->down)) /* what was fetched before still counts */
        perf_gpu_leave_(backend, &entered);
    if (code || round->head == ring->head)
        return;
    PERF_SET_(&ring->retry, 0u);
    PERF_SET_(&ring->now, perf_scope_ticks_(perf_registry_get_()));
    PERF_REL_(&ring->head, round->head);
}

/* How many slots from `from` to `to`, the owner's next one, may be in use.  Where both are one
 * slot: all, or none while there are unused ones. */
PERF_INLINE_FN_ uint32_t perf_gpu_distance_to_(const perf_gpu_ring_ *ring, uint32_t from,
                                               uint32_t to, uint32_t made)
{
    if (from != to)
        return (to - from) & (ring->cap - 1);
    if (made == ring->cap)
        return made;
    return 0;
}

/* What a slot says of its scope. */
PERF_INLINE_FN_ void perf_gpu_done_fill_(perf_gpu_done_ *done, const perf_gpu_slot_ *slot, float ms)
{
    done->ns = PERF_CAST_(double, ms) * 1e6;
    done->site = slot->site;
    done->stream = slot->stream;
    done->begin = done->end = slot->begin;
    if (slot->end > slot->begin)
        done->end = slot->end;
    done->thread = slot->thread;
}

/* Moves what the device has finished into the list of results.  keep: the first slot that is still
 * in flight, where the next round begins; `cap`: there is none. */
PERF_HOT_FN_ void perf_gpu_fetch_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                  perf_gpu_ring_ *ring, perf_gpu_round_ *round)
{
    const uint32_t made = PERF_ACQ_(&ring->made), cap = ring->cap;
    const uint32_t to = PERF_CAST_(uint32_t, PERF_ACQ_(&ring->at) - ring->slot);
    uint32_t head = ring->head, room = 8 * cap - (head - PERF_ACQ_(&ring->tail));
    uint32_t i = ring->from, left, keep = cap, full;
    float    ms = 0;
    int      known;

    if (round->most < room)
        room = round->most;
    full = head + room;
    if (PERF_GET_(&ring->passed))
        i = to;
    left = perf_gpu_distance_to_(ring, i, to, made);
    for (; left && head != full; left--, i = (i + 1) & (cap - 1)) {
        perf_gpu_slot_ *slot = &ring->slot[i];
        perf_gpu_done_ *done = &ring->done[head & (8 * cap - 1)];
        const int       ended = PERF_GPU_ENDED_(slot);
        if (!ended && !PERF_ACQ_(&slot->begin))
            continue;                           /* free */
        if (PERF_UNLIKELY_(!ended ||
                           PERF_GPU_WAITING_(round, slot) == PERF_GPU_KEY_(slot->stream))) {
            if (keep == cap)
                keep = i;
            if (!ended && round->orderly)
                break;
            continue;
        }
        if (PERF_UNLIKELY_(!perf_gpu_length_ms_(gpu, backend, slot, round, &ms))) {
            if (keep == cap && round->code == PERF_GPU_NOT_READY)
                keep = i;
            if (!round->go_on)
                break;
            continue;
        }
        known = perf_gpu_start_of_(gpu, backend, ring, slot, &done->start_ns);
        if (PERF_UNLIKELY_(known < 0)) {
            if (keep == cap)
                keep = i;
            round->blocked = 1;
            break;
        }
        if (PERF_UNLIKELY_(!known)) {
            if (PERF_GET_(&ring->line->dead))
                break;
            continue;
        }
        perf_gpu_done_fill_(done, slot, ms);
        perf_gpu_free_(slot);
        head++;
    }
    if (!left && keep == cap)
        PERF_SET_(&ring->passed, 0u);
    ring->from = i;
    if (keep != cap)
        ring->from = keep;
    round->head = head;
}

/* AMD's events say now and then that a short scope ended before it began (ROCm/rocm-systems#9375):
 * such a length is read as 0, and counted.  NaN and impossible lengths stay. */
PERF_OUTLINE_FN_ void perf_gpu_set_right_(perf_gpu_state_ *gpu, perf_gpu_ms_ *length)
{
    if (!(length->ms <= 0.0f && length->ms > -1e11f))
        return;
    length->bits = 0;
    perf_gpu_lose_(gpu, PERF_GPU_BACKWARDS_, 1);
}

/* The driver's answer about a slot that is not ready, or never will be.  1: go on with the next. */
PERF_COLD_FN_ int perf_gpu_unready_(perf_gpu_state_ *gpu, perf_gpu_round_ *round,
                                    perf_gpu_slot_ *slot, int code)
{
    perf_gpu_line_ *line = slot->ring->line;

    if (code != PERF_GPU_NOT_READY) {
        perf_gpu_failed_(gpu, "event_elapsed", code);
        perf_gpu_forget_(slot->ring, slot->stream);
        if (perf_gpu_is_stale_(code))
            perf_gpu_doubt_(gpu, PERF_ACQ_(&gpu->driver->table), line, slot->start);
        perf_gpu_give_up_(slot);
        return code != PERF_GPU_SHUT_DOWN && !PERF_GET_(&line->dead);
    }
    PERF_GPU_WAITING_(round, slot) = PERF_GPU_KEY_(slot->stream);
    return !round->orderly;
}

/* *ms: how long an ended scope took.  1: known; 0: not, and round->go_on says whether to go on. */
PERF_INLINE_FN_ int perf_gpu_length_ms_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                        perf_gpu_slot_ *slot, perf_gpu_round_ *round, float *ms)
{
    perf_gpu_ms_ length;

    round->code = backend->event_elapsed(&length.ms, slot->start, slot->stop);
    if (PERF_UNLIKELY_(!round->code && length.bits >= PERF_GPU_MS_END_))
        perf_gpu_set_right_(gpu, &length);
    if (PERF_UNLIKELY_(round->code || length.bits >= PERF_GPU_MS_END_)) {
        round->go_on = perf_gpu_unready_(gpu, round, slot, round->code);
        return 0;
    }
    *ms = length.ms;
    return 1;
}

/* A scope whose start cannot be told is given up.  Was its context destroyed? */
PERF_COLD_FN_ void perf_gpu_unplaced_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                      perf_gpu_ring_ *ring, perf_gpu_slot_ *slot, int code)
{
    perf_gpu_line_ *line = ring->line;
    void           *anchor = ring->anchor;

    perf_gpu_failed_(gpu, "event_elapsed", code);
    if (!anchor && perf_lock_word_(&line->lock, 1)) {
        anchor = line->anchor;
        perf_unlock_(&line->lock);
    }
    if (perf_gpu_is_stale_(code))
        perf_gpu_doubt_(gpu, backend, line, anchor);
    perf_gpu_give_up_(slot);
}

/* *start_ns: where a slot's scope began on the device's clock.  1: known; 0: it cannot be told, and
 * the scope was given up; -1: not now, somebody else is at the line. */
PERF_INLINE_FN_ int perf_gpu_start_of_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                       perf_gpu_ring_ *ring, perf_gpu_slot_ *slot, double *start_ns)
{
    perf_gpu_ms_ since;
    int          code = 0, known;

    since.bits = ~UINT32_C(0);
    if (ring->anchor)
        code = backend->event_elapsed(&since.ms, ring->anchor, slot->start);
    if (PERF_LIKELY_(!code && since.bits < PERF_GPU_MS_NEAR_)) {
        *start_ns = PERF_CAST_(double, since.ms) * 1e6 + ring->anchor_ns;
        return 1;
    }
    known = perf_gpu_far_(backend, ring, slot, PERF_CAST_(double, since.ms), start_ns, &code);
    if (!known)
        perf_gpu_unplaced_(gpu, backend, ring, slot, code);
    return known;
}

/* *ns: a distance from an anchor, in whole ns up to 2^24 ns: a float of ms has steps of 0.95 ns up
 * to 16 ms.  0: invalid. */
PERF_COLD_FN_ int perf_gpu_distance_(double ms, double *ns)
{
    double distance = ms * 1e6, half = 0.5;

    if (!(distance > -1e15 && distance < 1e15))
        return 0;
    if (distance < 0)
        half = -0.5;
    if (distance > -16.7e6 && distance < 16.7e6)
        distance = PERF_CAST_(double, PERF_CAST_(int64_t, distance + half));
    *ns = distance;
    return 1;
}

/* The start of a scope that lies far from the ring's anchor, or in front of it.  A driver tells a
 * distance as a float, whose last digit is the coarser the longer the distance is.  So anchors move
 * along with the scopes, in short steps whose sum stays exact.  All rings of a context measure from
 * the line's anchor, too, and each hands its own one over when it is newer.
 * Returns 1: *start_ns is known; 0: it cannot be told; -1: not now, another is at the line. */
PERF_COLD_FN_ int perf_gpu_far_(const perf_gpu_backend *backend, perf_gpu_ring_ *ring,
                                perf_gpu_slot_ *slot, double own_ms, double *start_ns, int *code)
{
    perf_gpu_line_ *line = ring->line;
    void           *event = PERF_NULL_;
    float           ms = 0;
    double          own = 0, other = 0;         /* ns from the ring's anchor, from the line's */
    int             known = ring->anchor && perf_gpu_distance_(own_ms, &own), shared;

    *start_ns = ring->anchor_ns + own;
    if (known && own > -PERF_GPU_NEAR_NS_ && own < PERF_GPU_NEAR_NS_)
        return 1;
    if (!perf_lock_word_(&line->lock, 0)) {
        if (known)
            return 1;
        return -1;
    }
    if (!line->anchor) {                        /* the first of all: where the line begins */
        *code = backend->event_create(&event, 0);
        known = !*code;
        *start_ns = 0;
        if (known) {
            line->anchor = slot->start;
            slot->start = event;
        }
        perf_unlock_(&line->lock);
        return known;
    }
    *code = backend->event_elapsed(&ms, line->anchor, slot->start);
    shared = !*code && perf_gpu_distance_(PERF_CAST_(double, ms), &other);
    if (shared && (!known || perf_fabs_(other) < perf_fabs_(own)))
        *start_ns = line->anchor_ns + other;
    known |= shared;
    /* The ring's anchor is newer than the line's, and this start than both: they change places. */
    if (known && ring->anchor && *start_ns > ring->anchor_ns && ring->anchor_ns > line->anchor_ns) {
        event = line->anchor;
        line->anchor = ring->anchor;
        line->anchor_ns = ring->anchor_ns;
        ring->anchor = event;
    }
    perf_unlock_(&line->lock);
    /* The scope's start becomes the ring's anchor; the slot gets the old one, or a new event. */
    if (known && (!ring->anchor || *start_ns > ring->anchor_ns) &&
        (ring->anchor || !backend->event_create(&ring->anchor, 0))) {
        event = ring->anchor;
        ring->anchor = slot->start;
        ring->anchor_ns = *start_ns;
        slot->start = event;
    }
    return known;
}

/* ---- booking: from the list of results into the report, with the state's lock held ---- */

#define PERF_GPU_AIMS_ 16               /* kept for one batch, found by site and stream */
#define PERF_GPU_DEEP_ 32               /* scopes around another one, for its depth */

/* All results of a ring. */
PERF_COLD_FN_ void perf_gpu_book_ring_(perf_gpu_state_ *gpu, perf_gpu_ring_ *ring)
{
    perf_gpu_aim_    aims[PERF_GPU_AIMS_];
    const uint32_t   head = PERF_ACQ_(&ring->head), mask = 8 * ring->cap - 1;
    perf_gpu_done_  *first = PERF_NULL_, **link = &first, *finished, *const done = ring->done;
    uint32_t         i;
    perf_gpu_line_  *line = ring->line;
    uint64_t         now = PERF_GET_(&ring->now), upto = 0;
    int              mixed = 0;

    if (head == ring->tail)
        return;
    for (i = ring->tail; i != head; i++) {
        finished = &done[i & mask];
        mixed |= finished->begin < upto;        /* it overlaps the one before */
        upto = finished->end;
        *link = finished;
        link = &finished->next;
    }
    *link = PERF_NULL_;
    if (now > line->now)
        line->now = now;
    memset(aims, 0, sizeof aims);
    if (mixed)
        perf_gpu_book_mixed_(gpu, ring, first, aims);
    else
        perf_gpu_book_(gpu, line, first, aims, 1);
    PERF_REL_(&ring->tail, head);
}

/* Sorts `batch` by that field. */
#define PERF_GPU_EARLIER_(field)                                                                  \
    for (i = 1; i < n; i++) {                   /* nearly sorted already */                       \
        done = batch[i];                                                                          \
        for (k = i; k > 0 && batch[k - 1]->field > done->field; k--)                              \
            batch[k] = batch[k - 1];                                                              \
        batch[k] = done;                                                                          \
    }

PERF_INLINE_FN_ uint64_t perf_gpu_ticks_(double ticks)
{
    return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ticks + 0.5));
}

/* The same for results that overlap, as nested ones do: in tracks by their ends, with depths. */
PERF_HOT_FN_ void perf_gpu_book_mixed_(perf_gpu_state_ *gpu, perf_gpu_ring_ *ring,
                                       perf_gpu_done_ *first, perf_gpu_aim_ *aims)
{
    perf_gpu_done_ **batch = ring->batch, *done, *open[PERF_GPU_DEEP_];
    perf_gpu_aim_   *aim;
    double           tick = perf_scope_tick_ns_(perf_registry_get_());
    uint64_t         ticks;
    uint32_t         i, k, n = 0, opened = 0;

    for (done = first; done; done = done->next)
        batch[n++] = done;
    PERF_GPU_EARLIER_(begin)
    for (i = 0; i < n; i++) {
        done = batch[i];
        done->next = PERF_NULL_;
        if (i + 1 < n)
            done->next = batch[i + 1];
        while (opened && open[opened - 1]->end < done->end)
            opened--;
        done->depth = 1;
        for (k = 0; k < opened; k++)
            done->depth += open[k]->stream == done->stream;
        if (opened < PERF_GPU_DEEP_)
            open[opened++] = done;
    }
    perf_gpu_book_(gpu, ring->line, batch[0], aims, 0);
    PERF_GPU_EARLIER_(end)
    for (i = 0; i < n; i++) {
        done = batch[i];
        if (!done->depth)
            continue;
        ticks = perf_gpu_ticks_(done->ns / tick);
        aim = perf_gpu_aim_of_(gpu, ring->line, done, aims);
        if (aim)
            perf_track_add_(aim->rec, aim->cell, ticks, done->at, ticks, done->depth);
    }
}

#define PERF_GPU_DRIFT_    5e-4         /* two crystals of 100 ppm, and NTP may slew the rest */
#define PERF_GPU_WANDER_   1e-5         /* of a crystal's rate with its temperature */
#define PERF_GPU_EVENT_NS_ 500          /* CUDA promises events to 0.5 us */

/* Forgets what was learned of the clocks' rates: the bounds of all crystals are left. */
PERF_COLD_FN_ void perf_gpu_unlearn_(perf_gpu_line_ *line)
{
    line->pace.rate_low = -PERF_GPU_DRIFT_;
    line->rate_high = PERF_GPU_DRIFT_;
    line->tie_high = -PERF_GPU_NEVER_NS_;
}

/* The pace before `first` is placed; a new line begins with that scope. */
PERF_OUTLINE_FN_ perf_gpu_pace_ perf_gpu_pace_begin_(perf_gpu_line_ *line,
                                                     const perf_gpu_done_ *first, double tick)
{
    perf_gpu_pace_ pace;
    double         change = line->pace.tick / tick - 1;

    if (!line->known) {
        line->known = 1;
        line->pace.origin = first->begin;
        line->pace.ref_ns = line->first_ns = first->start_ns;
        for (; first; first = first->next)
            line->first_ns = perf_least_(first->start_ns, line->first_ns);
        line->pace.until_ns = line->first_ns;
        line->slack_ns = PERF_GPU_NEVER_NS_;
    }
    if (!(change > -1e-6 && change < 1e-6))     /* the host's tick is known better by now */
        perf_gpu_unlearn_(line);
    pace = line->pace;
    pace.idle_ns = pace.starved_ns = 0;
    pace.tick = tick;
    pace.per_ns = 1 / tick;
    return pace;
}

/* Ties the device's clock to the host's: a scope starts on the device no earlier than the host
 * began it.  How fast the two run apart is known within bounds only.  So the scope could have
 * started earlier: that is the debt.  It is paid back where the device was idle, so that work never
 * overlaps itself.  Returns the ticks from the begin on the host to the start on the device. */
PERF_INLINE_FN_ uint64_t perf_gpu_place_(perf_gpu_pace_ *pace, const perf_gpu_done_ *done)
{
    double start = done->start_ns, since_ref = start - pace->ref_ns,
           owed = pace->debt_ns - pace->rate_low * since_ref;
    double idle = perf_most_(start, pace->until_ns) - pace->until_ns;
    double paid = perf_least_(idle, owed), stop = done->ns + start, at_ticks, begin_ticks, lag;

    begin_ticks = PERF_CAST_(double, PERF_CAST_(int64_t, done->begin - pace->origin));
    if (PERF_UNLIKELY_(since_ref < 0)) {
        paid = 0;
        pace->late = 1;
    }
    at_ticks = (since_ref - paid) * pace->per_ns + pace->ref_ticks;
    at_ticks = perf_most_(at_ticks, begin_ticks);
    lag = (at_ticks - begin_ticks) * pace->tick;
    if (PERF_LIKELY_(since_ref >= 0)) {         /* else it comes late, and the line stays */
        owed -= paid;
        pace->debt_ns = perf_least_(owed, lag);
        pace->ref_ns = start;
        pace->ref_ticks = at_ticks;
    }
    pace->idle_ns += idle;
    pace->until_ns = perf_most_(stop, pace->until_ns);
    pace->starved_ns += perf_most_(idle, lag) - lag;    /* idle before it: submitted too late */
    return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, at_ticks - begin_ticks));
}

/* Learns from two moments, each with bounds, how fast the clocks run apart: from the highest and
 * the lowest line through both, and PERF_GPU_WANDER_ beyond. */
PERF_OUTLINE_FN_ void perf_gpu_learn_(perf_gpu_line_ *line)
{
    const perf_gpu_pace_ *pace = &line->pace;
    double low = pace->ref_ticks - pace->debt_ns / pace->tick,
           high = pace->ref_ticks + line->slack_ns / pace->tick;
    double passed = pace->ref_ns - line->tie_ns, slow, fast;

    if (line->tie_high > -PERF_GPU_NEVER_NS_ && passed > 1e7) {
        fast = (high - line->tie_low) * pace->tick / passed - 1 + PERF_GPU_WANDER_;
        slow = (low - line->tie_high) * pace->tick / passed - 1 - PERF_GPU_WANDER_;
        line->rate_high = perf_least_(fast, line->rate_high);
        line->pace.rate_low = perf_most_(slow, pace->rate_low);
        if (line->pace.rate_low > line->rate_high - PERF_GPU_WANDER_)   /* they contradict */
            perf_gpu_unlearn_(line);
    }
    /* The earlier moment stays while its bounds are far narrower than those of this one. */
    if (line->tie_high > -PERF_GPU_NEVER_NS_ && 2 * (high - low) > line->tie_high - line->tie_low)
        return;
    line->tie_ns = pace->ref_ns;
    line->tie_low = low;
    line->tie_high = high;
}

/* The line after scopes were placed.  All have stopped before line->now, which bounds how much
 * later they could really be.  From round to round drift and paid debts widen that bound. */
PERF_OUTLINE_FN_ void perf_gpu_pace_end_(perf_gpu_line_ *line, const perf_gpu_pace_ *pace)
{
    double passed = pace->ref_ns - line->pace.ref_ns;
    double moved = (pace->ref_ticks - line->pace.ref_ticks) * pace->tick - passed;
    double ticks =
        PERF_CAST_(double, PERF_CAST_(int64_t, line->now - pace->origin)) - pace->ref_ticks;
    double late = ticks * pace->tick - (pace->until_ns - pace->ref_ns) + PERF_GPU_EVENT_NS_;

    late = perf_most_(late, 0);                 /* from where it is placed up to `now` */
    line->slack_ns += line->rate_high * passed - moved;
    if (!(line->slack_ns >= 0 && line->slack_ns < late))
        line->slack_ns = late;
    line->busy_ns += pace->until_ns - line->pace.until_ns - pace->idle_ns;
    line->starved_ns = perf_least_(line->starved_ns + pace->starved_ns,
                                   perf_most_(pace->until_ns - line->first_ns - line->busy_ns, 0));
    line->pace = *pace;
    perf_gpu_learn_(line);
}

/* The idle time that these scopes add, less that of before in which late ones show work. */
PERF_COLD_FN_ double perf_gpu_idle_(perf_gpu_line_ *line, const perf_gpu_done_ *done)
{
    double   until = line->pace.until_ns, idle = 0, from, to, *gap;
    uint32_t i;

    for (; done; done = done->next) {
        const double stop = done->start_ns + done->ns;
        if (done->start_ns > until) {
            gap = line->gap[line->gaps++ % PERF_GPU_GAPS_];
            gap[0] = until;
            gap[1] = done->start_ns;
            idle += gap[1] - gap[0];
        }
        for (i = 0; i < PERF_GPU_GAPS_ && done->start_ns < until; i++) {
            gap = line->gap[i];
            from = perf_most_(done->start_ns, gap[0]);
            to = perf_least_(stop, gap[1]);
            if (!(from < to))
                continue;
            idle -= to - from;
            if (gap[1] > to) {                  /* what is left behind it */
                line->gap[line->gaps % PERF_GPU_GAPS_][1] = gap[1];
                line->gap[line->gaps++ % PERF_GPU_GAPS_][0] = to;
            }
            gap[1] = from;
        }
        until = perf_most_(stop, until);
    }
    return idle;
}

/* Places and adds the results of one ring, which are ordered by begin.  events 1: none overlap on
 * the host, so they go into their tracks as they come. */
PERF_OUTLINE_FN_ void perf_gpu_book_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                     perf_gpu_done_ *first, perf_gpu_aim_ *aims, int events)
{
    double          tick = perf_scope_tick_ns_(perf_registry_get_()), span, error, spread;
    perf_gpu_pace_  pace = perf_gpu_pace_begin_(line, first, tick);
    perf_gpu_done_ *done;

    for (done = first; done && done->begin < gpu->birth; done = done->next) {
        /* from before the last reset: it is not added, but shows where the device was */
        done->at = done->begin + perf_gpu_place_(&pace, done);
        done->depth = 0;
    }
    if (done != first) {
        pace.idle_ns = pace.starved_ns = 0;
        line->pace.until_ns = pace.until_ns;
        if (!(line->busy_ns > 0))
            line->first_ns = pace.until_ns;
    }
    perf_gpu_book_all_(gpu, line, done, &pace, aims, events);
    if (pace.late)
        pace.idle_ns = perf_gpu_idle_(line, done);
    span = pace.ref_ticks - PERF_CAST_(double, PERF_CAST_(int64_t, first->at - pace.origin));
    spread = line->rate_high - pace.rate_low;
    perf_gpu_pace_end_(line, &pace);
    error = line->slack_ns + pace.debt_ns + spread * perf_most_(span, 0) * tick;
    line->worst_ns = perf_most_(error, line->worst_ns); /* no scope of these had a larger one */
}

/* Adds a placed scope to the sums of its name; depth: to its track, too, if it is not 0. */
PERF_INLINE_FN_ void perf_gpu_add_(const perf_gpu_aim_ *aim, perf_gpu_done_ *done, uint64_t ticks,
                                   uint64_t lag, uint64_t depth)
{
    perf_gpu_row_ *row = aim->row;

    row->scopes++;
    row->submit += done->end - done->begin;
    row->lag += lag;
    if (lag > row->lag_max)
        row->lag_max = lag;
    row->device_ns += done->ns;
    done->at = done->begin + lag;
    if (depth)
        perf_track_add_(aim->rec, aim->cell, ticks, done->at, ticks, depth);
}

/* Places and adds the scopes from `done` on.  Calls no cold function: gcc would then take all of it
 * for cold, and optimise it for size. */
PERF_HOT_FN_ void perf_gpu_book_all_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                     perf_gpu_done_ *done, perf_gpu_pace_ *pace,
                                     perf_gpu_aim_ *aims, int events)
{
    const uint64_t depth = events ? 1 : 0;
    perf_gpu_pace_ own = *pace;         /* in registers */
    perf_gpu_aim_ *aim = aims;
    uint64_t       ticks;

    for (; done; done = done->next) {
        if (PERF_UNLIKELY_(done->site != aim->site || done->stream != aim->stream ||
                           done->thread != aim->thread)) {
            aim = perf_gpu_aim_of_(gpu, line, done, aims);
            if (PERF_UNLIKELY_(!aim)) {
                aim = aims;
                done->at = done->begin + perf_gpu_place_(&own, done);
                done->depth = 0;
                continue;
            }
        }
        ticks = perf_gpu_ticks_(done->ns * own.per_ns);
        perf_gpu_add_(aim, done, ticks, perf_gpu_place_(&own, done), depth);
    }
    *pace = own;
}

/* Where a scope is added up: as kept for this batch, or looked up now; NULL: dropped. */
PERF_INLINE_FN_ perf_gpu_aim_ *perf_gpu_aim_of_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                                const perf_gpu_done_ *done, perf_gpu_aim_ *aims)
{
    uintptr_t      hash =
        PERF_PTR_(uintptr_t, done->site) >> 3 ^ PERF_PTR_(uintptr_t, done->stream) >> 6;
    perf_gpu_aim_ *aim = &aims[hash % PERF_GPU_AIMS_];

    if (aim->site == done->site && aim->stream == done->stream && aim->thread == done->thread)
        return aim;
    if (perf_gpu_aim_at_(gpu, line, done, aim))
        return aim;
    return PERF_NULL_;
}

/* Adds the newest replay of a part, if it is done and was not read before.  The start is read
 * twice: where both agree, the device has not begun another replay in between. */
PERF_COLD_FN_ void perf_gpu_book_part_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                       perf_gpu_part_ *part)
{
    perf_gpu_slot_       *slot = &part->slot;
    perf_gpu_line_       *line = slot->ring->line;
    const perf_gpu_pace_ *pace = &line->pace;
    perf_gpu_ms_          length, since, again;
    perf_gpu_entered_     entered;
    perf_gpu_done_        done = PERF_ZERO;
    perf_gpu_aim_         aim;
    double                anchor_ns = 0, off, near_ns;  /* off: an error of a float of ms */
    int                   known = 0;

    if (!line->known || !perf_gpu_lives_(gpu, backend, line) ||
        perf_gpu_enter_(backend, line->ctx, &entered))
        return;
    if (perf_lock_word_(&line->lock, 1)) {
        known = !backend->event_elapsed(&since.ms, line->anchor, slot->start) &&
                !backend->event_elapsed(&length.ms, slot->start, slot->stop) &&
                !backend->event_elapsed(&again.ms, line->anchor, slot->start) &&
                since.bits == again.bits && length.bits < PERF_GPU_MS_END_ &&
                perf_gpu_distance_(PERF_CAST_(double, since.ms), &done.start_ns);
        anchor_ns = line->anchor_ns;
        perf_unlock_(&line->lock);
    }
    perf_gpu_leave_(backend, &entered);
    /* Read before?  Measured from another anchor, a far start differs in the last digits. */
    near_ns = 1e-7 * perf_fabs_(done.start_ns);
    done.start_ns += anchor_ns;
    off = near_ns + 1e-7 * perf_fabs_(anchor_ns - part->anchor_ns);
    if (!known || !(done.start_ns - off > part->until_ns))
        return;
    done.ns = PERF_CAST_(double, length.ms) * 1e6;
    part->until_ns = done.start_ns + perf_most_(done.ns / 2, near_ns);
    part->anchor_ns = anchor_ns;
    done.at = PERF_CAST_(uint64_t,
                         PERF_CAST_(int64_t, pace->ref_ticks + (done.start_ns - pace->ref_ns) /
                                                        pace->tick)) + pace->origin;
    done.begin = done.end = done.at;
    done.site = slot->site;
    done.stream = slot->stream;
    done.thread = slot->thread;
    if (done.at < gpu->birth || !perf_gpu_aim_at_(gpu, line, &done, &aim))
        return;
    perf_gpu_add_(&aim, &done, perf_gpu_ticks_(done.ns / pace->tick), 0, part->depth);
}

/* Fills in where scopes like `done` go.  0: there is no room; the scope is dropped, and counted. */
PERF_OUTLINE_FN_ int perf_gpu_aim_at_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                      const perf_gpu_done_ *done, perf_gpu_aim_ *aim)
{
    perf_registry_  *reg = perf_registry_get_();
    uint32_t         id = perf_site_id_(reg, done->site), kind = done->site->line >> 24;
    perf_gpu_track_ *track = perf_gpu_track_of_(gpu, line, done);

    aim->site = PERF_NULL_;
    aim->cell = PERF_NULL_;
    if (track && id)
        aim->cell = perf_track_cell_(track->recorder, id);
    if (!aim->cell) {
        perf_gpu_lose_(gpu, PERF_GPU_DROPPED_, 1);
        return 0;
    }
    aim->row = &gpu->rest[(kind - PERF_KIND_DEVICE_) % 4];
    if (id < PERF_GPU_ROWS_)
        aim->row = &gpu->row[id];
    aim->rec = track->recorder;
    aim->site = done->site;
    aim->stream = done->stream;
    aim->thread = done->thread;
    return 1;
}

/* "GPU 0 stream 2": the title of the `number`-th such stream of its device. */
PERF_COLD_FN_ void perf_gpu_put_title_(perf_out_ *out, const perf_gpu_line_ *line,
                                       const perf_gpu_done_ *done, uint64_t number)
{
    const uintptr_t   at = PERF_PTR_(uintptr_t, done->stream);
    const char *const what[2] = {"stream", "graph"};

    perf_putf_(out, "GPU %.0f %s", PERF_CAST_(double, line->device),
               what[done->thread == PERF_GPU_GRAPH_]);
    if (at < PERF_GPU_PER_THREAD_)
        perf_put_(out, " default");
    if (at == PERF_GPU_PER_THREAD_)
        perf_put_(out, " per thread");
    if (at > PERF_GPU_PER_THREAD_ || (at == PERF_GPU_PER_THREAD_ && number > 1))
        perf_putf_(out, " %.0f", PERF_CAST_(double, number));
}

/* 1: the stream of this track is numbered together with those of address `at`. */
PERF_COLD_FN_ int perf_gpu_alike_(const perf_gpu_track_ *track, uintptr_t at)
{
    if (at > PERF_GPU_PER_THREAD_)
        return perf_gpu_is_named_(track->stream);
    return track->thread != 0;
}

/* The line of a stream in the trace, with its rows, made on first sight; NULL without memory. */
PERF_COLD_FN_ perf_gpu_track_ *perf_gpu_track_of_(perf_gpu_state_ *gpu, perf_gpu_line_ *line,
                                                  const perf_gpu_done_ *done)
{
    perf_registry_  *reg = perf_registry_get_();
    perf_gpu_track_ *track;
    uint64_t         number = 1;
    char             name[40];
    perf_out_        out = perf_out_open_(name, sizeof name);

    for (track = gpu->tracks; track; track = track->next) {
        if (track->stream == done->stream && track->line == line && track->thread == done->thread)
            return track;
        if (track->line && track->line->device == line->device)
            number += PERF_CAST_(uint64_t,
                                 perf_gpu_alike_(track, PERF_PTR_(uintptr_t, done->stream)));
    }
    perf_gpu_put_title_(&out, line, done, number);
    for (track = gpu->tracks; track; track = track->next)
        if ((!track->line || PERF_GET_(&track->line->dead)) && !strcmp(track->recorder->name, name))
            break;                              /* of an earlier table or context */
    if (!track) {
        if (!perf_lock_(reg))
            return PERF_NULL_;
        track = PERF_CAST_(perf_gpu_track_ *, perf_forever_(reg, sizeof *track));
        perf_unlock_(&reg->lock);
        if (track)
            track->recorder = perf_track_make_(reg, name);
        if (!track || !track->recorder)
            return PERF_NULL_;
        track->next = gpu->tracks;
        gpu->tracks = track;
    }
    track->stream = done->stream;
    track->line = line;
    track->thread = done->thread;
    return track;
}

/* ---- what failed, and contexts that are no more ---- */

/* An index of perf_gpu_state_.lost: how a scope counts that met this code of the driver. */
PERF_COLD_FN_ int perf_gpu_loss_of_(int code)
{
    if (code == PERF_GPU_NO_CURRENT_ || code == PERF_GPU_NOT_STARTED_)
        return PERF_GPU_NO_CONTEXT_;
    if (code >= PERF_GPU_IS_CAPTURED_ && code <= PERF_GPU_CAPTURE_END_)
        return PERF_GPU_CAPTURED_;
    if (code == PERF_GPU_UNREAD)
        return PERF_GPU_DROPPED_;
    return PERF_GPU_FAILED_;
}

/* Counts a scope for which a call has failed, and keeps the error; code 0: its time cannot be. */
PERF_COLD_FN_ void perf_gpu_failed_(perf_gpu_state_ *gpu, const char *call, int code)
{
    const int loss = perf_gpu_loss_of_(code);

    perf_gpu_lose_(gpu, loss, 1);
    if (loss != PERF_GPU_FAILED_)
        return;
    if (!code)
        code = PERF_GPU_IMPOSSIBLE_;
    perf_gpu_error_(gpu->driver, call, code);
}

/* No slot takes the short way for this stream any more: it may be another device's by now. */
PERF_COLD_FN_ void perf_gpu_forget_(perf_gpu_ring_ *ring, void *stream)
{
    perf_gpu_thread_ *thread = perf_gpu_self_v1_.thread;
    uint32_t          i;

    if (thread)                                 /* ask the driver again whose stream this is */
        perf_gpu_known_at_(thread, stream)->stream = PERF_NULL_;
    for (i = 0; i < PERF_ACQ_(&ring->made); i++)
        if (PERF_GET_(&ring->slot[i].home) == PERF_GPU_KEY_(stream)) {
            PERF_SET_(&ring->slot[i].home, PERF_GPU_NEVER_);
            if (PERF_GET_(&ring->slot[i].key))
                PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
        }
}

/* A call failed for an event of ours.  A driver before CUDA 12 tells no ids of contexts: if it no
 * longer knows the event, its context was destroyed, and another may have its place. */
PERF_COLD_FN_ void perf_gpu_doubt_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                   perf_gpu_line_ *line, void *event)
{
    perf_gpu_entered_ entered;
    int               code;

    if (!backend || line->ctx_id || !event || PERF_GET_(&line->dead) ||
        perf_gpu_enter_(backend, PERF_NULL_, &entered))
        return;
    code = backend->event_query(event);
    perf_gpu_leave_(backend, &entered);
    if (perf_gpu_is_stale_(code) && perf_claim_(&line->dead, 0, 1))
        perf_gpu_deaden_(gpu, line);
}

/* 1: the context of a line is still there, or the driver tells no ids and nothing speaks against
 * it.  If it is gone, its events are left alone, and what is in flight counts as dropped. */
PERF_COLD_FN_ int perf_gpu_lives_(perf_gpu_state_ *gpu, const perf_gpu_backend *backend,
                                  perf_gpu_line_ *line)
{
    unsigned long long id = 0;
    int                code;

    if (!PERF_GET_(&line->dead) && backend->ctx_id && line->ctx_id) {
        code = backend->ctx_id(line->ctx, &id);
        if (code == PERF_GPU_SHUT_DOWN)
            perf_gpu_error_(gpu->driver, "ctx_id", code);
        else if (code && code != PERF_GPU_NO_CURRENT_ && code != PERF_GPU_DESTROYED_)
            return 0;
        else if ((code || id != line->ctx_id) && perf_claim_(&line->dead, 0, 1))
            perf_gpu_deaden_(gpu, line);
    }
    return !PERF_GET_(&line->dead) && !PERF_GET_(&gpu->driver->down);
}

/* Stands for event_record once its driver or context is gone. */
PERF_FN int perf_gpu_record_dead_(void *event, void *stream)
{
    (void)event, (void)stream;
    return PERF_GPU_SHUT_DOWN;
}

/* From now on no slot of a line (NULL: of any line) calls a driver: threads in the middle of the
 * short way find functions that do nothing. */
PERF_COLD_FN_ void perf_gpu_deaden_(perf_gpu_state_ *gpu, const void *line)
{
    perf_gpu_ring_ *ring;
    uint32_t        i;

    for (ring = PERF_ACQ_(&gpu->rings); ring; ring = ring->next)
        if (!line || ring->line == line)
            for (i = 0; i < PERF_ACQ_(&ring->made); i++) {
                PERF_SET_(&ring->slot[i].home, PERF_GPU_NEVER_);
                PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
                PERF_GPU_FN_(ring->slot[i].record, perf_gpu_record_dead_);
                PERF_GPU_FN_(ring->slot[i].capturing, perf_gpu_not_capturing_);
            }
}

/* ---- bottleneck and report ---- */

/* Under the table of scopes: means per scope, one line a context, what is missing and why. */
PERF_COLD_FN_ void perf_gpu_report_(perf_out_ *out, int json)
{
    perf_gpu_state_ *gpu = perf_gpu_state_if_any_();
    perf_gpu_stats   stats = perf_gpu_stats_of(PERF_NULL_);
    const perf_gpu_backend *backend = gpu ? PERF_ACQ_(&gpu->driver->table) : PERF_NULL_;
    int              simulated = backend && backend->flags & PERF_GPU_TABLE_SIMULATED, i;
    perf_gpu_line_  *line;
    perf_gpu_bound_  bound;
    char             answer[160];
    perf_out_        said = perf_out_open_(answer, sizeof answer);
    const uint64_t   n[] = {stats.pending, stats.dropped, stats.captured, stats.no_context,
                            stats.no_gpu, stats.failed, stats.backwards};
    static const char *const what[] = {
        "were still in flight", "were dropped: PERF_GPU_SLOTS is the room for those in flight",
        "were skipped: their stream was being captured into a graph",
        "were skipped: no context was current", "were skipped: no GPU driver",
        "failed in the driver", "had a negative time in the driver, read as 0"};

    if (json)
        return;
    if (stats.scopes && PERF_ACQ_(&perf_registry_get_()->put_diagnosis)) /* it asks for the lock  */
        perf_registry_get_()->put_diagnosis(&said, PERF_DIAGNOSIS_ANSWER_);
    if (!gpu || !perf_lock_word_(&gpu->lock, 1)) /* NULL: PERF_DISABLE=1 */
        return;
    perf_gpu_evidence_(&bound, &stats);
    perf_gpu_put_rows_(out, gpu, perf_registry_get_());
    for (line = PERF_ACQ_(&gpu->lines); line; line = line->next) {
        const double span = line->pace.until_ns - line->first_ns;
        if (!line->known || !(span > 0))
            continue;
        perf_put_number_(out, "GPU ", PERF_CAST_(double, line->device), 0);
        perf_put_number_(out, ": busy ", line->busy_ns / span * 100, 1);
        perf_put_(out, " % of ");
        perf_put_ns_(out, span);
        perf_put_(out, ", clock within ");
        perf_put_ns_(out, line->worst_ns);
        perf_put_(out, " of the host's");
        if (simulated)
            perf_put_(out, " (simulated)");
        perf_put_char_(out, '\n');
    }
    if (stats.scopes)
        perf_gpu_put_bound_(out, &bound, answer);
    perf_unlock_(&gpu->lock);
    for (i = 0; i < 7; i++)
        if (n[i])
            perf_putf_(out, "note: %.0f device scopes %s\n", PERF_CAST_(double, n[i]), what[i]);
    if (*perf_gpu_error_text())
        perf_putf_(out, "note: GPU error: %s\n", perf_gpu_error_text());
}

/* What the main thread and the device that worked longest show, and perf_bound_decide_ of it. */
PERF_COLD_FN_ void perf_gpu_evidence_(perf_gpu_bound_ *bound, const perf_gpu_stats *stats)
{
    perf_evidence_ all = PERF_ZERO;
    perf_host_time_     host;

    bound->wait = bound->sync = bound->busy = bound->copy = bound->starved = -1;
    all.busy = -1;
    if (perf_host_evidence_(&host, perf_registry_get_(), &all)) {
        bound->wait = all.share[PERF_BY_DATA];
        bound->sync = all.share[PERF_BY_SYNCS];
    }
    if (perf_gpu_busiest_(&all, stats, 0)) {
        bound->busy = all.busy;
        bound->starved = all.starved;
        bound->copy = all.copies;
    }
    bound->bound = perf_diagnosis_text(perf_bound_decide_(&all));
}

/* The evidence of the devices, for perf_diagnosis.h; what a profiler has measured outranks it. */
PERF_COLD_FN_ void perf_gpu_tells_(perf_evidence_ *evidence, double total_ns)
{
    perf_gpu_state_ *gpu = perf_gpu_state_if_any_();
    perf_gpu_stats   stats = perf_gpu_stats_of(PERF_NULL_);

    if (evidence->measured == 2 || !gpu || !perf_lock_word_(&gpu->lock, 1))
        return;
    (void)perf_gpu_busiest_(evidence, &stats, total_ns);
    perf_unlock_(&gpu->lock);
}

/* What the device that worked longest did, as shares of total_ns; 0: of the time since its first
 * work.  evidence->copies is of all devices.  Returns 0 if none has worked. */
PERF_COLD_FN_ int perf_gpu_busiest_(perf_evidence_ *evidence, const perf_gpu_stats *stats,
                                    double total_ns)
{
    const perf_gpu_state_ *gpu = perf_gpu_state_if_any_();      /* NULL: PERF_DISABLE=1 */
    const perf_gpu_line_  *line, *most = gpu ? PERF_ACQ_(&gpu->lines) : PERF_NULL_;

    for (line = most; line; line = line->next)  /* another's idleness holds nobody back */
        if (line->busy_ns > most->busy_ns)
            most = line;
    if (most && !(total_ns > 0))
        total_ns = most->pace.until_ns - most->first_ns;
    if (!most || !(total_ns > 0) || !(most->busy_ns > 0))
        return 0;
    evidence->measured = 1;
    evidence->busy = perf_least_(most->busy_ns / total_ns, 1);
    evidence->starved = perf_least_(most->starved_ns / total_ns, 1);
    evidence->copies = -1;
    if (stats->device_ns > 0)
        evidence->copies = stats->copy_ns / stats->device_ns;
    return 1;
}

/* The table of device scopes: means per scope. */
PERF_COLD_FN_ void perf_gpu_put_rows_(perf_out_ *out, const perf_gpu_state_ *gpu,
                                      perf_registry_ *reg)
{
    static const perf_column_ column[] = {
        {"device scope", 28, 0, 0}, {"calls", 10, 0, 0},  {"class", 10, 0, 0},
        {"device", 10, 0, 0},       {"submit", 10, 0, 0}, {"lag", 10, 0, 0},
        {"max lag", 10, 0, 0}};
    perf_out_   wide = PERF_ZERO;
    perf_table_ table = perf_table_open_(&wide, column, 7);     /* never narrower */
    double      tick = perf_scope_tick_ns_(reg), calls;
    uint32_t    id, title = 0;

    table.out = out;
    for (id = 1; id < perf_gpu_rows_(reg); id++) {
        const perf_gpu_row_ *row = &gpu->row[id];
        const perf_name_    *name = PERF_ACQ_(&reg->names)[id];
        calls = PERF_CAST_(double, row->scopes);
        if (!(calls > 0))
            continue;
        if (!title++)
            perf_table_head_(&table);
        perf_table_text_(&table, name->site.name);
        perf_table_fixed_(&table, calls, 0);
        perf_table_text_(&table, perf_kind_text_(name->kind));
        perf_table_ns_(&table, row->device_ns / calls);
        perf_table_ns_(&table, PERF_CAST_(double, row->submit) * tick / calls);
        perf_table_ns_(&table, PERF_CAST_(double, row->lag) * tick / calls);
        perf_table_ns_(&table, PERF_CAST_(double, row->lag_max) * tick);
        perf_table_row_end_(&table);
    }
}

/* Without perf_diagnosis.h its own answer, with it that of all the report. */
PERF_COLD_FN_ void perf_gpu_put_bound_(perf_out_ *out, const perf_gpu_bound_ *bound,
                                       const char *answer)
{
    static const char *const what[] = {"waits for data", "device busy", "copies of that",
                                       "device idle with nothing submitted",
                                       "host waits for the device"};
    const double share[] = {bound->wait, bound->busy, bound->copy, bound->starved, bound->sync};
    int          i, any = 0;

    perf_putf_(out, "bottleneck: %s", *answer ? answer : bound->bound);
    for (i = 0; i < 5; i++)
        if (share[i] >= 0)
            perf_putf_(out, "%s %s %.1f %%", any++ ? "," : ":", what[i], share[i] * 100);
    perf_put_char_(out, '\n');
}

/* ---- statistics ---- */

PERF_COLD_FN_ void perf_gpu_stats_add_(perf_gpu_stats *stats, const perf_gpu_row_ *row, double tick,
                                       int copies)
{
    stats->scopes += row->scopes;
    stats->device_ns += row->device_ns;
    if (copies)
        stats->copy_ns += row->device_ns;
    stats->submit_ns += PERF_CAST_(double, row->submit) * tick;
    stats->lag_ns += PERF_CAST_(double, row->lag) * tick;
    stats->lag_max_ns = perf_most_(PERF_CAST_(double, row->lag_max) * tick, stats->lag_max_ns);
}

/* What is known of all names: the contexts, what is on its way, what was lost. */
PERF_COLD_FN_ void perf_gpu_stats_all_(perf_gpu_state_ *gpu, perf_gpu_stats *stats)
{
    perf_gpu_line_ *line;
    perf_gpu_ring_ *ring;
    uint32_t        pending;

    for (line = PERF_ACQ_(&gpu->lines); line; line = line->next)
        if (line->known) {
            stats->busy_ns += line->busy_ns;
            stats->starved_ns += line->starved_ns;
            stats->span_ns += line->pace.until_ns - line->first_ns;
            if (line->worst_ns > 0)             /* else nothing was placed since a reset */
                stats->aligned_ns = perf_most_(line->worst_ns, stats->aligned_ns);
        }
    for (ring = PERF_ACQ_(&gpu->rings); ring; ring = ring->next) {
        pending = perf_gpu_pending_(ring);
        if (PERF_GET_(&ring->line->dead))
            stats->dropped += pending;
        else
            stats->pending += pending;
        stats->pending += PERF_ACQ_(&ring->head) - PERF_GET_(&ring->tail);
    }
    stats->dropped += PERF_GET_(&gpu->lost[PERF_GPU_DROPPED_]);
    stats->captured = PERF_GET_(&gpu->lost[PERF_GPU_CAPTURED_]);
    stats->no_context = PERF_GET_(&gpu->lost[PERF_GPU_NO_CONTEXT_]);
    stats->failed = PERF_GET_(&gpu->lost[PERF_GPU_FAILED_]);
    stats->no_gpu = PERF_GET_(&gpu->lost[PERF_GPU_NO_GPU_]);
    stats->backwards = PERF_GET_(&gpu->lost[PERF_GPU_BACKWARDS_]);
}

PERF_FN perf_gpu_stats perf_gpu_stats_of(const char *name)
{
    perf_gpu_stats     stats = PERF_ZERO;
    perf_gpu_driver_  *driver = perf_gpu_driver_get_();
    perf_gpu_state_   *gpu = perf_gpu_state_if_any_();
    perf_registry_    *reg;
    const perf_name_  *entry;
    uint32_t           id, rows;
    double             tick;

    (void)perf_gpu_core_get_();
    stats.aligned_ns = -1;
    if (driver)
        stats.error = PERF_ACQ_(&driver->error);
    if (!gpu || !perf_lock_word_(&gpu->lock, 1))
        return stats;
    reg = perf_registry_get_();
    tick = perf_scope_tick_ns_(reg);
    rows = perf_gpu_rows_(reg);
    for (id = 1; id < rows; id++) {
        entry = PERF_ACQ_(&reg->names)[id];
        if (gpu->row[id].scopes && (!name || !strcmp(entry->site.name, name)))
            perf_gpu_stats_add_(&stats, &gpu->row[id], tick, entry->kind != PERF_KIND_DEVICE_);
    }
    if (!name) {
        for (id = 0; id < 4; id++)              /* the first is of kernels */
            perf_gpu_stats_add_(&stats, &gpu->rest[id], tick, id > 0);
        perf_gpu_stats_all_(gpu, &stats);
    }
    perf_unlock_(&gpu->lock);
    return stats;
}

/* ---- reset ---- */

/* Forgets the sums.  What began before now is not added when it is fetched. */
PERF_COLD_FN_ void perf_gpu_reset_(void)
{
    perf_registry_  *reg = perf_registry_get_();
    perf_gpu_state_ *gpu = perf_gpu_state_if_any_();
    perf_gpu_line_  *line;
    perf_gpu_ring_  *ring;
    size_t           i;

    if (!gpu || !perf_lock_word_(&gpu->lock, 1)) /* NULL: PERF_DISABLE=1 */
        return;
    memset(gpu->row, 0, perf_gpu_rows_(reg) * sizeof *gpu->row);
    memset(gpu->rest, 0, sizeof gpu->rest);
    for (line = PERF_ACQ_(&gpu->lines); line; line = line->next) {
        line->first_ns = line->pace.until_ns;
        line->busy_ns = line->starved_ns = line->worst_ns = 0;
        memset(line->gap, 0, sizeof line->gap);
    }
    for (ring = PERF_ACQ_(&gpu->rings); ring; ring = ring->next)
        if (PERF_GET_(&ring->line->dead))
            for (i = 0; i < PERF_ACQ_(&ring->made); i++)
                perf_gpu_free_(&ring->slot[i]);
    gpu->birth = perf_scope_ticks_(reg);
    for (i = 0; i < PERF_GPU_LOSSES_; i++)
        PERF_SET_(&gpu->lost[i], UINT64_C(0));
    PERF_SET_(&gpu->driver->error, 0);
    PERF_SET_(&gpu->driver->fresh, 0u);
    perf_unlock_(&gpu->lock);
}

#if PERF_DISABLE
#define perf_gpu_collect()                PERF_OFF_CODE_((perf_gpu_collect)())
#define perf_gpu_collect_sync()           PERF_OFF_CODE_((perf_gpu_collect_sync)())
#endif

PERF_END_DECLS

#endif /* PERF_CUDA_H */
