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

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_GPU_SLOTS /* scopes of one thread and context that may be in flight, 2 events */
#define PERF_GPU_SLOTS 1024     /* each, created as they are needed; more are dropped and counted */
#endif

PERF_BEGIN_DECLS

/* >>table ------------------------------------------------------------------------------------- */

/* Installs a table for the whole process; NULL: looks for a driver again, as the first call does.
 * The table must stay valid until the next call of this.  What the old table had in flight is
 * forgotten, and counted as dropped.  Not while other threads are inside a GPU call of this file.
 * PERF_EINVAL for a table without its first nine functions or with an impossible size.           */
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
 * Nested scopes of one stream nest.  A scope must end before its stream is destroyed.            */
/* Fetches what the device has finished; never waits for it.  PERF_ENOGPU without a GPU; PERF_EGPU
 * if the driver has failed since the last call of this, once, or has shut down: what was fetched
 * before is kept.  Takes a lock. */
PERF_FN perf_status perf_gpu_collect(void);

/* Waits for the scopes that have ended in this thread's current context, fetches all results and
 * ties the device's clock to the host's more tightly (see aligned_ns).  Holds no lock meanwhile.
 * A stream that is being captured is not waited for: its scopes may stay pending. */
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
 *   perf_gpu_state_, perf_gpu_line_, perf_gpu_thread_, perf_gpu_done_  as pointers only */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* ---- what is kept ----
 * A thread owns a ring of slots for each context.  It fills a slot at a scope's begin and end, and
 * calls nobody else for it.  Whoever holds the ring's lock, the owner when slots run low or a
 * collector, asks the driver for the times of ended slots, writes them into the ring's list of
 * results and frees the slots.  Whoever holds the state's lock takes the results from there into
 * the report and the trace.  Nothing waits for a device while it holds a lock, and a scope's begin
 * and end only try locks. */

/* A distance between two events in ms, as drivers tell it.  Read as integers, floats keep their
 * order, with negative ones and NaN last: one integer compare finds all that is wrong. */
typedef union perf_gpu_ms_ {
    float    ms;
    uint32_t bits;
} perf_gpu_ms_;
#define PERF_GPU_MS_NEAR_ UINT32_C(0x41000000)  /* 8 ms */
#define PERF_GPU_MS_END_  UINT32_C(0x51ba43b7)  /* 1e11, three years: a driver's mistake */

#define PERF_GPU_LONG_ (1 << 30)        /* a bit in slot->code[0]: the end goes the long way */
#define PERF_GPU_NOT_YET_ (~UINT64_C(0))
#define PERF_GPU_ENDED_(s) (PERF_ACQ_(&(s)->end) != PERF_GPU_NOT_YET_)
#define PERF_GPU_KEY_(stream) (PERF_PTR_(uintptr_t, stream) + 1)        /* perf_gpu_slot_.key */
#define PERF_GPU_NEVER_ (~PERF_CAST_(uintptr_t, 0))

/* The driver's code without PERF_GPU_LONG_.  A negative one has that bit by itself. */
PERF_FN int perf_gpu_code_(int code)
{
    if (code < 0)
        return code;
    return code & ~PERF_GPU_LONG_;
}

/* One fetched scope. */
typedef struct perf_gpu_done_ {
    perf_site_ *site;
    void       *stream;
    uint64_t    begin, end;     /* on the host, ticks */
    double      ns, start_ns;   /* length; start on the clock of the context */
    uint64_t    at;             /* start in ticks of the host, once it is placed */
    struct perf_gpu_done_ *next;
    uint32_t    thread, depth;
} perf_gpu_done_;

/* A line's progress, in registers while scopes are placed: so no function may be called then. */
typedef struct perf_gpu_pace_ {
    double   ref_ns, ref_ticks; /* one moment on both clocks, ref_ticks since `origin` */
    double   debt_ns;           /* how much earlier than that it could really be */
    double   until_ns;          /* the device is busy until */
    double   idle_ns, starved_ns;       /* sums */
    double   rate_low;          /* ns that the host's clock gains on it in a ns: lower bound */
    double   tick, per_ns;      /* ns in a tick, ticks in a ns */
    uint64_t origin;
} perf_gpu_pace_;

/* Of one context: the clock of its events, tied to the host's. */
typedef struct perf_gpu_line_ {
    struct perf_gpu_line_ *next;
    void    *ctx;
    unsigned long long ctx_id;
    int32_t  device;
    uint32_t known;             /* the rest says something */
    uint32_t lock;              /* of the anchor: 1 while somebody asks the driver about it */
    uint32_t dead;              /* the context is no more */
    void    *anchor;            /* an event of ours whose time is `anchor_ns` */
    double   anchor_ns;         /* device ns since the first anchor */
    perf_gpu_pace_ pace;
    double   slack_ns;          /* how much later than pace.ref_ticks it could really be */
    double   worst_ns;          /* largest error of any scope placed */
    double   first_ns;          /* device: first start; the last stop is pace.until_ns */
    double   busy_ns, starved_ns;
    double   rate_high;         /* see pace.rate_low */
    double   tie_ns, tie_low, tie_high; /* an earlier moment, and its bounds in ticks */
    uint64_t now;               /* no scope placed so far has stopped after it */
} perf_gpu_line_;

typedef struct perf_gpu_track_ {        /* one stream */
    struct perf_gpu_track_ *next;
    void            *stream;
    perf_gpu_line_  *line;
    perf_recorder_  *recorder;
    uint32_t         thread, spare;     /* of a per-thread default stream */
} perf_gpu_track_;

typedef struct perf_gpu_known_ {
    void           *stream;
    perf_gpu_ring_ *ring;
} perf_gpu_known_;

/* What a thread knows, in each image; pages that a forked child sees as zeros. */
typedef struct perf_gpu_thread_ {
    struct perf_gpu_state_ *home;
    perf_gpu_ring_         *rings;
    uint32_t                generation, spare;
    perf_gpu_known_         known[64];
} perf_gpu_thread_;

typedef struct perf_gpu_row_ {          /* one name: what the cells do not hold.  No two sums are */
    uint64_t scopes, lag_max, submit;   /* neighbours: see perf_cell_.  In ticks */
    double   device_ns;
    uint64_t lag;
} perf_gpu_row_;

/* Part of a graph: each launch records its events anew.  A page, which a fork wipes. */
typedef struct perf_gpu_part_ {
    struct perf_gpu_part_ *next;
    perf_gpu_slot_         slot;
    double                 until_ns;    /* end of the replay read last, on the device */
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
    uint32_t          lock;             /* thread that books; 0: free */
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
PERF_FN perf_gpu_state_ *perf_gpu_state_seen_(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();

    if (!d)
        return PERF_NULL_;
    return PERF_ACQ_(&d->state);
}

/* How many rows may be in use. */
PERF_FN uint32_t perf_gpu_rows_(perf_registry_ *r)
{
    const uint32_t n = PERF_ACQ_(&r->count);

    if (n < PERF_GPU_ROWS_)
        return n;
    return PERF_GPU_ROWS_;
}

#define PERF_GPU_COUNT_(g, what, n) (void)perf_shared_add_(&(g)->lost[what], n)

/* Function pointers that others replace: one word, never torn (nvcc crashes on an atomic store). */
#if PERF_TSAN_
#define PERF_GPU_FN_(field, f) PERF_SET_(&(field), f)
#else
#define PERF_GPU_FN_(field, f) ((void)((field) = (f)))
#endif

/* Was this context, that of the thread's last scope, found alive within the last 0.1 ms? */
#define perf_gpu_is_fresh_(l) (perf_gpu_self_v1_.ring && perf_gpu_self_v1_.ring->line == (l) &&   \
                               !PERF_GET_(&(l)->dead) && perf_ticks() < perf_gpu_self_v1_.until)

/* What one round over a ring does. */
typedef struct perf_gpu_round_ {
    uint32_t        most;               /* so many at most */
    uint32_t        orderly;            /* up to the first that is open or pending */
    uint32_t        head;               /* of the results, when it is over */
    uint32_t        blocked;            /* somebody else was at the line */
    int             code, go_on;        /* the driver's, of the slot asked last; 0: stop */
    uintptr_t       pending[8]; /* streams that have not finished: later work has not either */
} perf_gpu_round_;
#define PERF_GPU_WAITING_(x, s) ((x)->pending[PERF_PTR_(uintptr_t, (s)->stream) >> 6 & 7])

/* Where scopes of one name and stream go. */
typedef struct perf_gpu_aim_ {
    perf_site_      *site;      /* NULL: nobody's */
    void            *stream;
    perf_recorder_  *t;
    perf_cell_      *c;
    perf_gpu_row_   *row;
    uint32_t         thread, spare;
} perf_gpu_aim_;

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
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_again_(perf_gpu_slot_ *s);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_once_(perf_site_ *site, void *stream);
PERF_COLD_DECL_ perf_gpu_state_ *perf_gpu_state_get_(void);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_slot_for_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                   void *stream, int *current);
PERF_COLD_DECL_ perf_gpu_thread_ *perf_gpu_thread_get_(perf_gpu_state_ *g);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_route_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                perf_gpu_thread_ *t, void *stream, int *current);
PERF_COLD_DECL_ int perf_gpu_ask_ring_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                       perf_gpu_thread_ *t, void *stream, int *current,
                                       perf_gpu_ring_ **ring);
PERF_COLD_DECL_ perf_gpu_line_ *perf_gpu_line_of_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                  void *ctx);
PERF_COLD_DECL_ void perf_gpu_name_stream_(perf_gpu_state_ *g, perf_gpu_line_ *l, void *stream);
PERF_COLD_DECL_ void perf_gpu_ease_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                    perf_gpu_ring_ *ring);
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_take_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                               perf_gpu_thread_ *t, perf_gpu_ring_ *ring);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_ring_of_(perf_gpu_state_ *g, perf_gpu_thread_ *t,
                                                  perf_gpu_line_ *l, int n);
PERF_COLD_DECL_ perf_gpu_ring_ *perf_gpu_ring_make_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                    uint32_t me);
PERF_COLD_DECL_ int perf_gpu_refill_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                     perf_gpu_ring_ *ring);
PERF_COLD_DECL_ void perf_gpu_freshen_(void);
PERF_COLD_DECL_ void perf_gpu_slot_ready_(perf_gpu_slot_ *s, const perf_gpu_backend *b, int usual,
                                          int quick);
PERF_COLD_DECL_ int perf_gpu_record_in_(const perf_gpu_backend *b, perf_gpu_slot_ *s, void *event,
                                        void *stream, int inside);
PERF_COLD_DECL_ int perf_gpu_record_long_(void *slot, void *stream);

/* It ends. */
PERF_COLD_DECL_ void perf_gpu_end_slow_(perf_gpu_slot_ *s, int bad);
PERF_COLD_DECL_ void perf_gpu_range_close_(perf_registry_ *r, perf_gpu_slot_ *s);

/* A part of a graph. */
PERF_COLD_DECL_ perf_gpu_slot_ *perf_gpu_begin_part_(perf_site_ *site, void *stream);
PERF_COLD_DECL_ int perf_gpu_record_part_(void *part, void *stream);
PERF_COLD_DECL_ int perf_gpu_events_(const perf_gpu_backend *b, perf_gpu_slot_ *s);
PERF_COLD_DECL_ void perf_gpu_range_open_(perf_registry_ *r, perf_gpu_slot_ *s);

/* Waiting. */
PERF_COLD_DECL_ void perf_gpu_await_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                     perf_gpu_ring_ *ring);

/* Collecting. */
PERF_COLD_DECL_ void perf_gpu_collect_(perf_registry_ *r);
PERF_COLD_DECL_ int perf_gpu_collect_ring_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                           perf_gpu_ring_ *ring, uint32_t most, int orderly,
                                           int wait);

/* Fetching. */
PERF_COLD_DECL_ void perf_gpu_round_run_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                         perf_gpu_ring_ *ring, perf_gpu_round_ *x);
PERF_COLD_DECL_ void perf_gpu_fetch_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                     perf_gpu_ring_ *ring, perf_gpu_round_ *x);
PERF_FN uint32_t perf_gpu_distance_to_(const perf_gpu_ring_ *ring, uint32_t from, uint32_t to,
                                       uint32_t made);
PERF_FN int perf_gpu_length_ms_(perf_gpu_state_ *g, const perf_gpu_backend *b, perf_gpu_slot_ *s,
                                perf_gpu_round_ *x, float *ms);
PERF_COLD_DECL_ void perf_gpu_set_right_(perf_gpu_state_ *g, perf_gpu_ms_ *length);
PERF_COLD_DECL_ int perf_gpu_unready_(perf_gpu_state_ *g, perf_gpu_round_ *x, perf_gpu_slot_ *s,
                                      int code);
PERF_FN int perf_gpu_start_of_(perf_gpu_state_ *g, const perf_gpu_backend *b, perf_gpu_ring_ *ring,
                               perf_gpu_slot_ *s, double *start_ns);
PERF_COLD_DECL_ int perf_gpu_far_(const perf_gpu_backend *b, perf_gpu_ring_ *ring,
                                  perf_gpu_slot_ *s, double own_ms, double *start_ns, int *code);
PERF_COLD_DECL_ void perf_gpu_unplaced_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                        perf_gpu_ring_ *ring, perf_gpu_slot_ *s, int code);
PERF_FN void perf_gpu_done_fill_(perf_gpu_done_ *d, const perf_gpu_slot_ *s, float ms);

/* Booking. */
PERF_COLD_DECL_ void perf_gpu_book_ring_(perf_gpu_state_ *g, perf_gpu_ring_ *ring);
PERF_COLD_DECL_ void perf_gpu_book_mixed_(perf_gpu_state_ *g, perf_gpu_ring_ *ring,
                                          perf_gpu_done_ *first, perf_gpu_aim_ *aims);
PERF_COLD_DECL_ void perf_gpu_book_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_done_ *first,
                                    perf_gpu_aim_ *aims, int events);
PERF_COLD_DECL_ perf_gpu_pace_ perf_gpu_pace_begin_(perf_gpu_line_ *l, const perf_gpu_done_ *first,
                                                    double tick);
PERF_COLD_DECL_ void perf_gpu_book_all_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_done_ *s,
                                        perf_gpu_pace_ *pace, perf_gpu_aim_ *aims, int events);
PERF_FN perf_gpu_aim_ *perf_gpu_aim_of_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                        const perf_gpu_done_ *s, perf_gpu_aim_ *aims);
PERF_FN uint64_t perf_gpu_place_(perf_gpu_pace_ *p, const perf_gpu_done_ *s);
PERF_COLD_DECL_ void perf_gpu_pace_end_(perf_gpu_line_ *l, const perf_gpu_pace_ *p);
PERF_COLD_DECL_ void perf_gpu_learn_(perf_gpu_line_ *l);
PERF_COLD_DECL_ void perf_gpu_book_part_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                         perf_gpu_part_ *p);
PERF_COLD_DECL_ int perf_gpu_distance_(double ms, double *ns);
PERF_COLD_DECL_ int perf_gpu_aim_at_(perf_gpu_state_ *g, perf_gpu_line_ *l, const perf_gpu_done_ *s,
                                     perf_gpu_aim_ *a);
PERF_COLD_DECL_ perf_gpu_track_ *perf_gpu_track_of_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                    const perf_gpu_done_ *s);
PERF_FN uint64_t perf_gpu_ticks_(double ticks);
PERF_FN void perf_gpu_add_(const perf_gpu_aim_ *a, perf_gpu_done_ *s, uint64_t ticks, uint64_t lag,
                           uint64_t depth);

/* What failed, and contexts that are no more. */
PERF_COLD_DECL_ void perf_gpu_failed_(perf_gpu_state_ *g, const char *call, int code);
PERF_COLD_DECL_ void perf_gpu_forget_(perf_gpu_ring_ *ring, void *stream);
PERF_COLD_DECL_ void perf_gpu_give_up_(perf_gpu_slot_ *s);
PERF_FN void perf_gpu_free_(perf_gpu_slot_ *s);
PERF_COLD_DECL_ void perf_gpu_doubt_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                     perf_gpu_line_ *l, void *event);
PERF_COLD_DECL_ int perf_gpu_lives_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                    perf_gpu_line_ *l);
PERF_FN int perf_gpu_not_capturing_(void *stream, int *status);
PERF_COLD_DECL_ void perf_gpu_deaden_(perf_gpu_state_ *g, const void *line);

/* Bottleneck and report. */
PERF_COLD_DECL_ void perf_gpu_report_(perf_out_ *o, int json);
PERF_COLD_DECL_ void perf_gpu_evidence_(perf_gpu_bound_ *e, const perf_gpu_stats *a);
PERF_COLD_DECL_ void perf_gpu_tells_(perf_evidence_ *e, double total_ns);
PERF_COLD_DECL_ int perf_gpu_tell_(perf_evidence_ *e, const perf_gpu_stats *a, double total_ns);
PERF_COLD_DECL_ void perf_gpu_put_rows_(perf_out_ *o, const perf_gpu_state_ *g, perf_registry_ *r);
PERF_COLD_DECL_ void perf_gpu_put_bound_(perf_out_ *o, const perf_gpu_bound_ *e,
                                         const char *answer);

/* Statistics. */
PERF_COLD_DECL_ uint32_t perf_gpu_pending_(const perf_gpu_ring_ *ring);

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

/* The first scope of a window that could go the short way.  1: its context lives, there is room. */
PERF_COLD_FN_ int perf_gpu_renew_(perf_gpu_ring_ *ring)
{
    perf_gpu_state_        *g = ring->state;
    const perf_gpu_backend *b = PERF_ACQ_(&g->driver->table);

    if (!b || ring->generation != PERF_GET_(&g->generation) || g != perf_gpu_state_seen_() ||
        (b->error_waits && b->error_waits()) || !perf_gpu_lives_(g, b, ring->line) ||
        PERF_ACQ_(&(*PERF_ACQ_(&perf_anchor_v1_.registry)).sink))     /* it hears of each scope */
        return 0;
    perf_gpu_ease_(g, b, ring);
    perf_gpu_freshen_();
    return 1;
}

/* Everything that is not the common case of a scope's begin. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_slow_(perf_site_ *site, void *stream)
{
    perf_gpu_slot_ *s = perf_gpu_begin_once_(site, stream);

    if (s && (s->code[0] & ~PERF_GPU_LONG_))
        s = perf_gpu_begin_again_(s);
    if (s && !(s->code[0] & ~PERF_GPU_LONG_))
        perf_gpu_range_open_(perf_registry_get_(), s);
    return s;
}

/* The first record of a scope failed: its stream may be another context's by now, or the events of
 * a context that was destroyed.  Asks the driver anew, once; what fails then is told at the end. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_again_(perf_gpu_slot_ *s)
{
    perf_gpu_state_        *g = s->ring->state;
    const perf_gpu_backend *b = PERF_ACQ_(&g->driver->table);
    perf_site_             *site = s->site;
    void                   *stream = s->stream;
    const int               code = perf_gpu_code_(s->code[0]);

    if (!b || (code != 201 && code != 400 && code != 709))
        return s;
    perf_gpu_forget_(s->ring, stream);
    perf_gpu_doubt_(g, b, s->ring->line, s->start);
    perf_gpu_self_v1_.until = 0;
    perf_gpu_give_up_(s);
    return perf_gpu_begin_once_(site, stream);
}

/* One attempt to begin a scope; NULL: nothing to record, counted. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_once_(perf_site_ *site, void *stream)
{
    const perf_gpu_backend *b = PERF_NULL_;
    perf_gpu_state_        *g = perf_gpu_state_get_();
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_slot_         *s;
    uint64_t                now;
    int                     current, usual, quick;

    if (!g || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    if (!PERF_TCC_)
        b = perf_gpu_table();
    if (!b) {
        PERF_GPU_COUNT_(g, PERF_GPU_NO_GPU_, 1);
        return PERF_NULL_;
    }
    if (!perf_site_id_(r, site)) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    s = perf_gpu_slot_for_(g, b, stream, &current);
    if (!s)
        return PERF_NULL_;
    usual = current && PERF_PTR_(uintptr_t, stream) > 2;
    quick = usual && !r->clock && !PERF_ACQ_(&r->sink);
    s->stream = stream;
    s->site = site;
    s->thread = 0;
    if (PERF_PTR_(uintptr_t, stream) == 2)
        s->thread = perf_thread_id_();
    perf_gpu_slot_ready_(s, b, usual, quick);
    now = perf_scope_ticks_(r);
    PERF_SET_(&s->begin, now + !now);           /* 0: free */
    if (usual)
        s->code[0] |= b->event_record(s->start, stream);
    else
        s->code[0] |= perf_gpu_record_in_(b, s, s->start, stream, !current);
    return s;
}

/* NULL without memory. */
PERF_COLD_FN_ perf_gpu_state_ *perf_gpu_state_get_(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();
    perf_registry_   *r = perf_registry_get_();
    perf_gpu_state_  *g = PERF_NULL_;

    if (d)
        g = PERF_ACQ_(&d->state);
    if (g || !d || !perf_lock_(r))
        return g;
    g = d->state;
    if (!g) {
        g = PERF_CAST_(perf_gpu_state_ *, perf_pages_(sizeof *g, 0));
        if (g) {
            g->driver = d;
            g->source.collect = perf_gpu_collect_;
            g->source.report = perf_gpu_report_;
            g->source.reset = perf_gpu_reset_;
            g->source.evidence = perf_gpu_tells_;
            d->on_down = perf_gpu_deaden_;
            PERF_REL_(&d->state, g);
        }
    }
    perf_unlock_(&r->lock);
    if (g)
        perf_source_add_(r, &g->source);
    return g;
}

/* A slot for a scope on this stream, with events; NULL: nothing to record, counted.  *current: its
 * context is the thread's. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_slot_for_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                 void *stream, int *current)
{
    perf_gpu_thread_ *t = perf_gpu_thread_get_(g);
    perf_gpu_ring_   *ring;
    perf_gpu_slot_   *s;
    int               fresh;

    if (!t || (b->error_waits && b->error_waits())) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    ring = perf_gpu_route_(g, b, t, stream, current);
    if (!ring)
        return PERF_NULL_;
    fresh = perf_gpu_is_fresh_(ring->line);
    if (!fresh)
        perf_gpu_ease_(g, b, ring);
    s = perf_gpu_take_(g, b, t, ring);
    if (s && !fresh)
        perf_gpu_freshen_();
    return s;
}

/* The thread's own perf_gpu_thread_, made at its first scope; NULL without memory. */
PERF_COLD_FN_ perf_gpu_thread_ *perf_gpu_thread_get_(perf_gpu_state_ *g)
{
    perf_gpu_thread_ *t = perf_gpu_self_v1_.thread;

    if (!t)
        t = PERF_CAST_(perf_gpu_thread_ *, perf_pages_(sizeof *t, 1));
    perf_gpu_self_v1_.thread = t;
    if (t && (t->home != g || t->generation != PERF_GET_(&g->generation))) {
        memset(t, 0, sizeof *t);                /* new, forked, another table */
        t->home = g;
        t->generation = PERF_GET_(&g->generation);
        perf_gpu_self_v1_.ring = PERF_NULL_;
    }
    return t;
}

/* The ring for a stream, the short way if it was seen before; NULL: nothing to record, counted. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_route_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                              perf_gpu_thread_ *t, void *stream, int *current)
{
    uintptr_t        at = PERF_PTR_(uintptr_t, stream);
    perf_gpu_known_ *k = &t->known[(at >> 4 ^ at >> 10) % 64];
    perf_gpu_ring_  *ring = PERF_NULL_;
    int              code;

    *current = 1;
    if (at > 2 && k->stream == stream) {
        if (perf_gpu_is_fresh_(k->ring->line) || perf_gpu_lives_(g, b, k->ring->line))
            return k->ring;
        k->stream = PERF_NULL_;
    }
    code = perf_gpu_ask_ring_(g, b, t, stream, current, &ring);
    if (code == 2) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        perf_fail_(perf_registry_get_(), PERF_ENOMEM);
    } else if (code) {
        perf_gpu_failed_(g, "stream_ctx", code);
    } else if (at > 2 && *current) {
        k->stream = stream;
        k->ring = ring;
        perf_gpu_name_stream_(g, ring->line, stream);
    }
    return ring;
}

#if PERF_DL_ && !PERF_DISABLE
extern int perf_cxa_atexit_(void (*)(void *), void *, void *) __asm__(PERF_SYM_("__cxa_atexit"));

/* The last moment at which the driver answers: handlers run newest first, and the driver's was
 * there before our first scope.  Fetches what has finished; later nothing is called any more.    */
PERF_COLD_FN_ void perf_gpu_at_exit_(void *state)
{
    perf_gpu_state_ *g = PERF_CAST_(perf_gpu_state_ *, state);
    perf_registry_  *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (r->gpu != g->driver || PERF_GET_(&r->process) != perf_process_id_() ||
        !PERF_ACQ_(&g->driver->table))
        return;
    perf_gpu_collect_(r);
    perf_gpu_error_(g->driver, PERF_NULL_, PERF_GPU_SHUT_DOWN);
}
#endif

/* The thread's ring for a stream, and whether its context is `current`; 0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_ask_ring_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                     perf_gpu_thread_ *t, void *stream, int *current,
                                     perf_gpu_ring_ **ring)
{
    perf_gpu_ring_   *mine = perf_gpu_self_v1_.ring;
    perf_gpu_line_   *l;
    perf_gpu_entered_ e;
    void             *now = PERF_NULL_, *ctx;
    int               code = b->ctx_get(&now), named = PERF_PTR_(uintptr_t, stream) > 2;

    ctx = now;
    if ((!code || code == 201) && named && b->stream_ctx)
        code = b->stream_ctx(stream, &ctx);     /* needs no current context */
    if (!ctx)
        ctx = now;
    if (!code && !ctx)
        code = 201;
    if (code)
        return code;
    *current = now != PERF_NULL_;
    if (!named && mine && mine->ctx == ctx && !PERF_GET_(&mine->line->dead) &&
        (perf_gpu_is_fresh_(mine->line) || perf_gpu_lives_(g, b, mine->line))) {
        *ring = mine;
        return 0;
    }
    code = perf_gpu_enter_(b, ctx, &e);
    if (code)
        return code;
    l = perf_gpu_line_of_(g, b, ctx);
    if (l)
        *ring = perf_gpu_ring_of_(g, t, l, 0);
    perf_gpu_leave_(b, &e);
    if (!*ring)
        return 2;
#if PERF_DL_ && !PERF_DISABLE
    if (perf_claim_(&g->at_exit, 0, 1))         /* behind the driver's own handler */
        (void)perf_cxa_atexit_(perf_gpu_at_exit_, g, &perf_dso_);
#endif
    return 0;
}

/* The line of a context, made on first sight; NULL without memory.  `ctx` is current. */
PERF_COLD_FN_ perf_gpu_line_ *perf_gpu_line_of_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                                void *ctx)
{
    perf_registry_    *r = perf_registry_get_();
    perf_gpu_line_    *l;
    unsigned long long id = 0;
    int                device = 0;

    if (b->ctx_id && b->ctx_id(ctx, &id))
        id = 0;
    for (l = PERF_ACQ_(&g->lines); l; l = l->next)
        if (l->ctx == ctx && !PERF_GET_(&l->dead)) {
            if (l->ctx_id == id || !id)
                return l;
            if (perf_claim_(&l->dead, 0, 1))
                perf_gpu_deaden_(g, l);
        }
    if (b->ctx_device && b->ctx_device(&device))
        device = 0;
    if (!perf_lock_(r))
        return PERF_NULL_;
    for (l = g->lines; l && (l->ctx != ctx || PERF_GET_(&l->dead)); l = l->next) {
    }
    if (!l)
        l = PERF_CAST_(perf_gpu_line_ *, perf_keep_(r, sizeof *l));
    if (l && !l->ctx) {
        l->ctx = ctx;
        l->ctx_id = id;
        l->device = device;
        l->next = g->lines;
        PERF_REL_(&g->lines, l);
    }
    perf_unlock_(&r->lock);
    return l;
}

/* A stream that this thread had not seen: a profiler that listens is told its title. */
PERF_COLD_FN_ void perf_gpu_name_stream_(perf_gpu_state_ *g, perf_gpu_line_ *l, void *stream)
{
    const perf_sink_ *sink = PERF_ACQ_(&perf_registry_get_()->sink);
    perf_recorder_   *t = PERF_NULL_;
    perf_gpu_done_    first = PERF_ZERO;
    perf_gpu_track_  *track;

    if (sink && sink->stream)
        t = perf_recorder_get_();
    if (!t || !perf_lock_word_(&g->lock, 1))
        return;
    first.stream = stream;
    track = perf_gpu_track_of_(g, l, &first);
    perf_unlock_(&g->lock);
    if (track)
        PERF_SINK_(t, sink->stream(stream, track->recorder->name))
}

#define PERF_GPU_FEW_   64              /* scopes that are fetched at once in a scope's begin */
#define PERF_GPU_RINGS_ 8               /* of one thread and context, at most */

/* When half of a ring is in flight, each begin fetches a few, so that none pays for all of it. */
PERF_COLD_FN_ void perf_gpu_ease_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                  perf_gpu_ring_ *ring)
{
    const uint32_t at = PERF_CAST_(uint32_t, ring->at - ring->slot);

    if (PERF_GET_(&ring->slot[(at + ring->cap / 2) % ring->cap].begin))
        (void)perf_gpu_collect_ring_(g, b, ring, PERF_GPU_FEW_, 1, 0);
}

/* A free slot with events; NULL: none, counted. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_take_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                             perf_gpu_thread_ *t, perf_gpu_ring_ *ring)
{
    perf_gpu_line_ *l = ring->line;
    perf_gpu_slot_ *s;
    int             code = perf_gpu_refill_(g, b, ring), n;

    for (n = 0; code < 0 && n < PERF_GPU_RINGS_; n++) {
        ring = perf_gpu_ring_of_(g, t, l, n);
        code = 0;
        if (ring)
            code = perf_gpu_refill_(g, b, ring);
    }
    if (code <= 0) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        return PERF_NULL_;
    }
    perf_gpu_self_v1_.ring = ring;
    s = ring->at;
    code = perf_gpu_events_(b, s);
    if (code) {                                 /* the slot stays where it is, for the next scope */
        perf_gpu_failed_(g, "event_create", code);
        return PERF_NULL_;
    }
    PERF_SET_(&s->begin, UINT64_C(1));          /* taken: who fetches does not pass by */
    PERF_REL_(&ring->at, s->next);
    return s;
}

/* A ring whose thread has ended; NULL: none.  What is open in it stays with whoever ends it. */
#if PERF_SYS_GETTID_ && !PERF_TSAN_
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_adopt_(perf_gpu_state_ *g, perf_gpu_line_ *l, uint32_t me)
{
    perf_gpu_ring_ *ring;
    uint32_t        was;

    for (ring = PERF_ACQ_(&g->rings); ring; ring = ring->next) {
        was = PERF_GET_(&ring->thread);
        if (ring->line == l && was != me &&
            perf_syscall_(PERF_SYS_TGKILL_, PERF_CAST_(long, perf_process_id_()),
                          PERF_CAST_(long, was), 0L) && perf_claim_(&ring->thread, was, me)) {
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
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_ring_of_(perf_gpu_state_ *g, perf_gpu_thread_ *t,
                                                perf_gpu_line_ *l, int n)
{
    uint32_t        me = perf_thread_id_();
    perf_gpu_ring_ *ring;

    for (ring = t->rings; ring; ring = ring->mine)
        if (ring->line == l && n-- == 0)
            return ring;
    ring = perf_gpu_adopt_(g, l, me);
    if (!ring)
        ring = perf_gpu_ring_make_(g, l, me);
    if (ring) {
        ring->mine = t->rings;
        t->rings = ring;
    }
    return ring;
}

/* A ring of PERF_GPU_SLOTS or more slots, with room for results; NULL without memory. */
PERF_COLD_FN_ perf_gpu_ring_ *perf_gpu_ring_make_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                  uint32_t me)
{
    perf_registry_ *r = perf_registry_get_();
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
    ring->state = g;
    ring->ctx = l->ctx;
    ring->line = l;
    ring->thread = me;
    ring->generation = PERF_GET_(&g->generation);
    if (!perf_lock_(r))
        return PERF_NULL_;
    ring->next = g->rings;
    PERF_REL_(&g->rings, ring);
    perf_unlock_(&r->lock);
    return ring;
}

/* Sees to a free slot at ring->at.  0: all are in flight; -1: a collector is at work on them. */
PERF_COLD_FN_ int perf_gpu_refill_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                   perf_gpu_ring_ *ring)
{
    perf_gpu_slot_ *s = ring->at;
    uint32_t        at = PERF_CAST_(uint32_t, s - ring->slot), tried;
    int             mine;

    if (at == ring->made) {                     /* never used */
        s->ring = ring;
        s->key = s->home = PERF_GPU_NEVER_;
        s->next = &ring->slot[(at + 1) % ring->cap];
        PERF_SET_(&s->end, PERF_GPU_NOT_YET_);
        PERF_REL_(&ring->made, at + 1);
        return 1;
    }
    if (!PERF_ACQ_(&s->begin))
        return 1;
    if (PERF_GET_(&ring->retry)) {
        PERF_SET_(&ring->retry, PERF_GET_(&ring->retry) - 1);
        return 0;
    }
    mine = perf_gpu_collect_ring_(g, b, ring, PERF_GPU_FEW_, 0, 0);
    for (tried = 0; tried < ring->cap && PERF_ACQ_(&s->begin); tried++)
        s = &ring->slot[++at % ring->cap];
    if (PERF_ACQ_(&s->begin)) {
        if (!mine)
            return -1;
        PERF_SET_(&ring->retry, 15u);           /* not at every scope */
        return 0;
    }
    if (tried)
        PERF_SET_(&ring->passed, 1u);
    PERF_REL_(&ring->at, s);
    return 1;
}

/* The context of this scope was just found alive: for 0.1 ms nobody asks again. */
PERF_COLD_FN_ void perf_gpu_freshen_(void)
{
    perf_gpu_self_v1_.until = perf_ticks() + PERF_CAST_(uint64_t, 1e5 / perf_ticks_to_ns(1));
}

/* How the slot's scope is recorded.  usual: its context is current and the stream is none of the
 * default ones.  quick: the next scope on this stream may go the short way. */
PERF_COLD_FN_ void perf_gpu_slot_ready_(perf_gpu_slot_ *s, const perf_gpu_backend *b, int usual,
                                        int quick)
{
    s->ranged = 0;
    s->capture = 0;
    s->code[0] = PERF_GPU_LONG_;
    PERF_SET_(&s->key, PERF_CAST_(uintptr_t, 0));
    PERF_SET_(&s->home, PERF_GPU_NEVER_);
    if (quick) {
        s->code[0] = 0;
        PERF_SET_(&s->home, PERF_GPU_KEY_(s->stream));
    }
    PERF_GPU_FN_(s->capturing, perf_gpu_not_capturing_);
    if (usual) {
        s->arg = s->stop;
        PERF_GPU_FN_(s->record, b->event_record);
        if (b->stream_capturing)
            PERF_GPU_FN_(s->capturing, b->stream_capturing);
    } else {
        s->arg = s;
        PERF_GPU_FN_(s->record, perf_gpu_record_long_);
    }
}

/* Records an event where the context may not be current, or the stream is a default one, which
 * belongs to the current context and spoils a capture when used: so that is asked first. */
PERF_COLD_FN_ int perf_gpu_record_in_(const perf_gpu_backend *b, perf_gpu_slot_ *s, void *event,
                                      void *stream, int inside)
{
    perf_gpu_entered_ e;
    int               code = 0, status = 0;

    if (inside)
        code = perf_gpu_enter_(b, s->ring->ctx, &e);
    if (code)
        return code;
    if (b->stream_capturing)
        code = b->stream_capturing(stream, &status);
    if (!code && status)
        code = 900;
    if (!code)
        code = b->event_record(event, stream);
    if (inside)
        perf_gpu_leave_(b, &e);
    return code;
}

/* The end of such a scope: tries the current context, then the one that it began in. */
PERF_COLD_FN_ int perf_gpu_record_long_(void *slot, void *stream)
{
    perf_gpu_slot_         *s = PERF_CAST_(perf_gpu_slot_ *, slot);
    perf_gpu_state_        *g = s->ring->state;
    const perf_gpu_backend *b = PERF_ACQ_(&g->driver->table);
    int                     code;

    if (!b)
        return PERF_GPU_SHUT_DOWN;
    if (!perf_gpu_is_fresh_(s->ring->line) && !perf_gpu_lives_(g, b, s->ring->line))
        return 709;                             /* CUDA_ERROR_CONTEXT_IS_DESTROYED */
    code = perf_gpu_record_in_(b, s, s->stop, stream, 0);
    if (code == 201 || code == 400)
        code = perf_gpu_record_in_(b, s, s->stop, stream, 1);
    return code;
}

/* ---- it ends: all but the short way ---- */

/* All but the common case of an end.  `bad` is the answer of stream_capturing if the records have
 * gone well, else mixed with theirs. */
PERF_COLD_FN_ void perf_gpu_end_slow_(perf_gpu_slot_ *s, int bad)
{
    perf_gpu_state_ *g = s->ring->state;
    perf_registry_  *r = perf_registry_get_();
    int              code = perf_gpu_code_(s->code[0]);

    perf_gpu_range_close_(r, s);
    if (!code)
        code = s->code[1];
    if (!code && !s->capture)
        code = perf_gpu_code_(bad);
    if (PERF_GET_(&s->ring->line->dead) || s->ring->generation != PERF_GET_(&g->generation)) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        perf_gpu_give_up_(s);
    } else if (code || s->capture) {
        if (s->capture)
            code = 900;
        else
            perf_gpu_forget_(s->ring, s->stream);
        perf_gpu_failed_(g, "event_record", code);
        if (code == 400 || code == 709)
            perf_gpu_doubt_(g, PERF_ACQ_(&g->driver->table), s->ring->line, s->start);
        perf_gpu_give_up_(s);
    } else {
        PERF_REL_(&s->end, perf_scope_ticks_(r));
    }
}

/* The end of the range that perf_gpu_range_open_ began. */
PERF_COLD_FN_ void perf_gpu_range_close_(perf_registry_ *r, perf_gpu_slot_ *s)
{
    const perf_sink_ *sink = PERF_ACQ_(&r->sink);
    perf_recorder_   *t = PERF_NULL_;

    if (sink && s->ranged)
        t = perf_recorder_get_();
    s->ranged = 0;
    if (t)
        PERF_SINK_(t, sink->close(s->range))
}

/* ---- a part of a graph ---- */

/* A scope also where its stream is being captured: two event nodes of the graph. */
PERF_COLD_FN_ perf_gpu_slot_ *perf_gpu_begin_part_(perf_site_ *site, void *stream)
{
    const perf_gpu_backend *b = PERF_NULL_;
    perf_gpu_state_        *g = perf_gpu_state_get_();
    perf_gpu_thread_       *t = PERF_NULL_;
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_ring_         *ring;
    perf_gpu_part_         *p = PERF_NULL_;
    int                     status = 0, current;

    if (!PERF_TCC_)
        b = perf_gpu_table();
    if (b && g)
        t = perf_gpu_thread_get_(g);
    if (!t || PERF_GET_(&perf_anchor_v1_.off) || !b->event_record_flags || !b->stream_capturing ||
        b->stream_capturing(stream, &status) || status != 1)
        return perf_gpu_begin_slow_(site, stream);
    ring = perf_gpu_route_(g, b, t, stream, &current);
    if (ring && perf_site_id_(r, site) && perf_lock_(r)) {
        if (g->part_count++ < PERF_GPU_PARTS_)
            p = PERF_CAST_(perf_gpu_part_ *, perf_pages_(sizeof *p, 1));
        perf_unlock_(&r->lock);
    }
    if (!p) {
        PERF_GPU_COUNT_(g, PERF_GPU_CAPTURED_, ring != PERF_NULL_);
        return PERF_NULL_;
    }
    p->until_ns = -1e300;
    p->depth = 1;
    p->slot.ring = ring;
    p->slot.site = site;
    p->slot.stream = stream;
    p->slot.thread = PERF_GPU_GRAPH_;
    p->slot.arg = p;
    PERF_GPU_FN_(p->slot.record, perf_gpu_record_part_);
    PERF_GPU_FN_(p->slot.capturing, perf_gpu_not_capturing_);
    p->slot.begin = perf_scope_ticks_(r);
    p->slot.code[0] = perf_gpu_events_(b, &p->slot);
    if (!p->slot.code[0])
        p->slot.code[0] = b->event_record_flags(p->slot.start, stream, 1);
    if (!p->slot.code[0])
        perf_gpu_range_open_(r, &p->slot);
    if (p->slot.ranged)
        p->slot.code[0] = PERF_GPU_LONG_;       /* its end goes the long way, and closes it */
    return &p->slot;
}

/* The end of a part of a graph: from here on it is read, too. */
PERF_COLD_FN_ int perf_gpu_record_part_(void *part, void *stream)
{
    perf_gpu_part_         *p = PERF_CAST_(perf_gpu_part_ *, part), **link;
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_state_        *g = p->slot.ring->state;
    const perf_gpu_backend *b = PERF_ACQ_(&g->driver->table);
    int                     code = perf_gpu_code_(p->slot.code[0]);

    if (!b || p->slot.ring->generation != PERF_GET_(&g->generation) ||
        !perf_gpu_lives_(g, b, p->slot.ring->line))
        return 709;                             /* CUDA_ERROR_CONTEXT_IS_DESTROYED */
    if (!code)
        code = b->event_record_flags(p->slot.stop, stream, 1);
    if (code)
        return code;
    if (!perf_lock_(r))
        return PERF_GPU_UNREAD;                /* nobody will read it: dropped */
    for (link = &g->parts; *link; link = &(*link)->next)
        (*link)->depth += (*link)->slot.stream == stream && (*link)->slot.begin > p->slot.begin;
    PERF_REL_(link, p);
    perf_unlock_(&r->lock);
    return 0;
}

/* Both events of a slot, in its context; 0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_events_(const perf_gpu_backend *b, perf_gpu_slot_ *s)
{
    perf_gpu_entered_ e;
    int               code;

    if (s->stop)
        return 0;
    code = perf_gpu_enter_(b, s->ring->ctx, &e);
    if (code)
        return code;
    if (!s->start)
        code = b->event_create(&s->start, 0);
    if (!code)
        code = b->event_create(&s->stop, 0);
    perf_gpu_leave_(b, &e);
    return code;
}

/* The scope as a range of the profiler that listens, if one does. */
PERF_COLD_FN_ void perf_gpu_range_open_(perf_registry_ *r, perf_gpu_slot_ *s)
{
    const perf_sink_ *sink = PERF_ACQ_(&r->sink);
    perf_recorder_   *t = PERF_NULL_;
    perf_label_       label;
    int               opened = 0;

    if (sink)
        t = perf_recorder_get_();
    if (!t)
        return;
    label = perf_label_of_(PERF_ACQ_(&r->names)[s->site->id], 0, 0);
    PERF_SINK_(t, opened = sink->open(&label, &s->range))
    s->ranged = opened != 0;
}

/* ---- another table ---- */

/* An event, if there is one, goes back to the driver it came from. */
PERF_COLD_FN_ void perf_gpu_event_end_(const perf_gpu_backend *b, void *event)
{
    if (event)
        (void)b->event_destroy(event);
}

/* What a ring holds goes into the report, its events back to the driver `b` that made them; NULL:
 * they are left alone. */
PERF_COLD_FN_ void perf_gpu_ring_end_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                      perf_gpu_ring_ *ring)
{
    uint32_t i;

    perf_gpu_book_ring_(g, ring);
    PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, perf_gpu_pending_(ring));
    if (!b || ring->line->dead)
        return;
    for (i = 0; i < ring->made; i++) {
        perf_gpu_event_end_(b, ring->slot[i].start);
        perf_gpu_event_end_(b, ring->slot[i].stop);
    }
    perf_gpu_event_end_(b, ring->anchor);
}

PERF_FN perf_status perf_gpu_use(const perf_gpu_backend *table)
{
    perf_gpu_state_        *g;
    const perf_gpu_backend *b;
    perf_gpu_ring_         *ring;
    perf_gpu_line_         *l;
    perf_gpu_track_        *track;
    uint32_t                looked = 0;

    if (table && (table->size != sizeof *table || !perf_gpu_complete_(table)))
        return PERF_EINVAL;
    if (PERF_DISABLE)
        return PERF_EDISABLED;
    g = perf_gpu_state_get_();
    if (!g)
        return PERF_ENOMEM;
    if (!perf_lock_word_(&g->lock, 1))
        return PERF_ESTATE;
    b = g->driver->table;
    perf_gpu_deaden_(g, PERF_NULL_);
    for (ring = g->rings; ring; ring = ring->next)
        perf_gpu_ring_end_(g, b, ring);
    g->parts = PERF_NULL_;                      /* their events stay: graphs may still hold them */
    g->part_count = 0;
    for (l = g->lines; l; l = l->next)
        if (b && !PERF_GET_(&l->dead))
            perf_gpu_event_end_(b, l->anchor);
    g->rings = PERF_NULL_;                      /* their pages stay: threads may still look */
    g->lines = PERF_NULL_;
    for (track = g->tracks; track; track = track->next)
        track->line = PERF_NULL_;               /* its title may come again */
    PERF_SET_(&g->driver->down, 0u);
    PERF_REL_(&g->generation, g->generation + 1);
    PERF_REL_(&g->driver->table, table);
    if (table)
        looked = UINT32_MAX;
    PERF_REL_(&g->driver->looked, looked);
    perf_unlock_(&g->lock);
    return PERF_OK;
}

/* ---- waiting ---- */

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
    if (!g || b->ctx_get(&ctx))
        return PERF_EGPU;
    for (ring = PERF_ACQ_(&g->rings); ring && !PERF_GET_(&g->driver->down); ring = ring->next)
        if (ring->ctx == ctx && !PERF_GET_(&ring->line->dead))
            perf_gpu_await_(g, b, ring);
    return perf_gpu_collect();
}

/* The newest scope of a ring that is in flight and ended by then: its second event, which never
 * changes, its stream, and when it ended.  NULL: none. */
PERF_COLD_FN_ void *perf_gpu_newest_(perf_gpu_ring_ *ring, uint64_t by, uint64_t *end,
                                     void **stream)
{
    perf_gpu_slot_ *s;
    void           *event = PERF_NULL_;
    uint32_t        i;

    if (!perf_lock_word_(&ring->lock, 1))
        return event;
    for (i = 0, *end = 0; i < PERF_ACQ_(&ring->made); i++) {
        s = &ring->slot[i];
        if (PERF_GPU_ENDED_(s) && s->end <= by && s->end >= *end) {
            event = s->stop;
            *stream = s->stream;
            *end = s->end;
        }
    }
    perf_unlock_(&ring->lock);
    return event;
}

/* 1: to wait for what this stream holds may spoil its capture (ROCm 6.1 to 7.1 do so). */
PERF_COLD_FN_ int perf_gpu_is_capturing_(const perf_gpu_backend *b, void *stream)
{
    int status = 0;

    if (!b->stream_capturing)
        return 0;
    return b->stream_capturing(stream, &status) != 0 || status != 0;
}

/* Waits for what a ring has in flight, the newest first.  No lock is held, so threads that the
 * device waits for can go on.  Fetches a few at a time, so that each is known to have stopped
 * shortly before.  An event that is done and yet has no time ends it: the driver failed us. */
PERF_COLD_FN_ void perf_gpu_await_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                   perf_gpu_ring_ *ring)
{
    perf_gpu_entered_ e;
    void             *event, *stream = PERF_NULL_;
    uint64_t          by = perf_scope_ticks_(perf_registry_get_()), end, before = 0;
    uint32_t          head = 0;
    int               code = 0, capturing;

    (void)perf_gpu_collect_ring_(g, b, ring, ring->cap, 0, 1);
    while (!(b->error_waits && b->error_waits()) && perf_gpu_lives_(g, b, ring->line) &&
           (event = perf_gpu_newest_(ring, by, &end, &stream)) != PERF_NULL_ &&
           (end != before || head != PERF_ACQ_(&ring->head))) {
        head = PERF_ACQ_(&ring->head);
        code = perf_gpu_enter_(b, ring->ctx, &e);
        if (!code) {
            capturing = perf_gpu_is_capturing_(b, stream);
            if (!capturing)
                code = b->event_sync(event);
            if (code != PERF_GPU_SHUT_DOWN)
                perf_gpu_leave_(b, &e);
            if (capturing)
                return;
        }
        if (code) {
            perf_gpu_error_(g->driver, "event_sync", code);
            return;
        }
        before = 0;
        if (perf_gpu_collect_ring_(g, b, ring, PERF_GPU_FEW_, 0, 1))
            before = end;
    }
}

/* ---- collecting ---- */

PERF_FN perf_status perf_gpu_collect(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();

    (void)perf_gpu_core_get_();                 /* from here on it is there for the other files */
    if (!perf_gpu_table())
        return perf_gpu_status();
    perf_gpu_collect_(perf_registry_get_());
    if (PERF_GET_(&d->down) || perf_claim_(&d->fresh, 1, 0))
        return PERF_EGPU;
    return PERF_OK;
}

/* One round over each ring, then over the parts of graphs.  Waits for locks, for no device. */
PERF_COLD_FN_ void perf_gpu_collect_(perf_registry_ *r)
{
    perf_gpu_driver_       *d = PERF_CAST_(perf_gpu_driver_ *, PERF_ACQ_(&r->gpu));
    perf_gpu_state_        *g = perf_gpu_state_seen_();
    const perf_gpu_backend *b = PERF_NULL_;
    perf_gpu_ring_         *ring;
    perf_gpu_part_         *p;

    perf_gpu_self_v1_.until = 0;                /* the next scope makes sure of its context */
    if (g)
        b = PERF_ACQ_(&d->table);
    if (!b)
        return;
    for (ring = PERF_ACQ_(&g->rings); ring && !PERF_GET_(&d->down); ring = ring->next)
        (void)perf_gpu_collect_ring_(g, b, ring, ring->cap, 0, 1);
    p = PERF_ACQ_(&g->parts);
    if (p && !(b->error_waits && b->error_waits()) && perf_lock_word_(&g->lock, 1)) {
        for (; p && !PERF_GET_(&d->down); p = PERF_ACQ_(&p->next))
            perf_gpu_book_part_(g, b, p);
        perf_unlock_(&g->lock);
    }
}

/* A round over one ring, `most` scopes of it at most, and its results into the report.  orderly: up
 * to the first that is open or pending, as the owner does at a scope's begin, a little ahead of the
 * need.  wait: for locks; else 0 where somebody else is at it, or at the report, so that there is
 * no room for more results. */
PERF_COLD_FN_ int perf_gpu_collect_ring_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                         perf_gpu_ring_ *ring, uint32_t most, int orderly, int wait)
{
    perf_gpu_round_ x = PERF_ZERO;

    x.most = most;
    x.orderly = PERF_CAST_(uint32_t, orderly);
    if (wait && PERF_ACQ_(&ring->head) - PERF_ACQ_(&ring->tail) > ring->cap &&
        perf_lock_word_(&g->lock, 1)) {
        perf_gpu_book_ring_(g, ring);           /* room for what is fetched now */
        perf_unlock_(&g->lock);
    }
    if (!perf_lock_word_(&ring->lock, wait))
        return 0;
    perf_gpu_round_run_(g, b, ring, &x);
    perf_unlock_(&ring->lock);
    if (perf_lock_word_(&g->lock, wait)) {
        perf_gpu_book_ring_(g, ring);
        perf_unlock_(&g->lock);
    }
    return !x.blocked && PERF_ACQ_(&ring->head) - PERF_ACQ_(&ring->tail) < 8 * ring->cap;
}

/* ---- fetching: from the driver into the list of results, with the ring's lock held ---- */

/* A round in the ring's context. */
PERF_COLD_FN_ void perf_gpu_round_run_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                       perf_gpu_ring_ *ring, perf_gpu_round_ *x)
{
    perf_gpu_entered_ e;
    int               code;

    if (PERF_GET_(&g->driver->down) || PERF_GET_(&ring->line->dead) ||
        (b->error_waits && b->error_waits()) || !perf_gpu_lives_(g, b, ring->line))
        return;
    code = perf_gpu_enter_(b, ring->ctx, &e);
    if (code)
        perf_gpu_error_(g->driver, "ctx_set", code);
    else
        perf_gpu_fetch_(g, b, ring, x);
    if (!code && !PERF_GET_(&g->driver->down))  /* what was fetched before still counts */
        perf_gpu_leave_(b, &e);
    if (code || x->head == ring->head)
        return;
    PERF_SET_(&ring->retry, 0u);
    PERF_SET_(&ring->now, perf_scope_ticks_(perf_registry_get_()));
    PERF_REL_(&ring->head, x->head);
}

/* Moves what the device has finished into the list of results.  `keep`: the first slot that the
 * next round has to look at, `cap` while there is none. */
PERF_HOT_FN_ void perf_gpu_fetch_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                  perf_gpu_ring_ *ring, perf_gpu_round_ *x)
{
    const uint32_t made = PERF_ACQ_(&ring->made), cap = ring->cap;
    const uint32_t to = PERF_CAST_(uint32_t, PERF_ACQ_(&ring->at) - ring->slot);
    uint32_t head = ring->head, room = 8 * cap - (head - PERF_ACQ_(&ring->tail));
    uint32_t i = ring->from, left, keep = cap, full;
    float    ms = 0;
    int      known;

    if (x->most < room)
        room = x->most;
    full = head + room;
    if (PERF_GET_(&ring->passed))
        i = to;
    left = perf_gpu_distance_to_(ring, i, to, made);
    for (; left && head != full; left--, i = (i + 1) & (cap - 1)) {
        perf_gpu_slot_ *s = &ring->slot[i];
        perf_gpu_done_ *d = &ring->done[head & (8 * cap - 1)];
        const int       ended = PERF_GPU_ENDED_(s);
        if (!ended && !PERF_ACQ_(&s->begin))
            continue;                           /* free */
        if (PERF_UNLIKELY_(!ended || PERF_GPU_WAITING_(x, s) == PERF_GPU_KEY_(s->stream))) {
            if (keep == cap)
                keep = i;
            if (!ended && x->orderly)
                break;
            continue;
        }
        if (PERF_UNLIKELY_(!perf_gpu_length_ms_(g, b, s, x, &ms))) {
            if (keep == cap && x->code == PERF_GPU_NOT_READY)
                keep = i;
            if (!x->go_on)
                break;
            continue;
        }
        known = perf_gpu_start_of_(g, b, ring, s, &d->start_ns);
        if (PERF_UNLIKELY_(known < 0)) {
            if (keep == cap)
                keep = i;
            x->blocked = 1;
            break;
        }
        if (PERF_UNLIKELY_(!known)) {
            if (PERF_GET_(&ring->line->dead))
                break;
            continue;
        }
        perf_gpu_done_fill_(d, s, ms);
        perf_gpu_free_(s);
        head++;
    }
    if (!left && keep == cap)
        PERF_SET_(&ring->passed, 0u);
    ring->from = i;
    if (keep != cap)
        ring->from = keep;
    x->head = head;
}

/* How many slots from `from` to the owner's next one may be in use: perhaps all, it will show. */
PERF_INLINE_FN_ uint32_t perf_gpu_distance_to_(const perf_gpu_ring_ *ring, uint32_t from,
                                               uint32_t to, uint32_t made)
{
    if (from != to)
        return (to - from) & (ring->cap - 1);
    if (made == ring->cap)
        return made;
    return 0;
}

/* How long an ended scope took.  1: known; 0: not, and `go_on` says whether the others may be. */
PERF_INLINE_FN_ int perf_gpu_length_ms_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                        perf_gpu_slot_ *s, perf_gpu_round_ *x, float *ms)
{
    perf_gpu_ms_ length;

    x->code = b->event_elapsed(&length.ms, s->start, s->stop);
    if (PERF_UNLIKELY_(!x->code && length.bits >= PERF_GPU_MS_END_))
        perf_gpu_set_right_(g, &length);
    if (PERF_UNLIKELY_(x->code || length.bits >= PERF_GPU_MS_END_)) {
        x->go_on = perf_gpu_unready_(g, x, s, x->code);
        return 0;
    }
    *ms = length.ms;
    return 1;
}

/* A scope that ended before it began, as AMD's events say of short ones now and then, is read as 0
 * and counted (ROCm/rocm-systems#9375).  NaN and what no time can be stay. */
PERF_OUTLINE_FN_ void perf_gpu_set_right_(perf_gpu_state_ *g, perf_gpu_ms_ *length)
{
    if (!(length->ms <= 0.0f && length->ms > -1e11f))
        return;
    length->bits = 0;
    PERF_GPU_COUNT_(g, PERF_GPU_BACKWARDS_, 1);
}

/* The driver's answer about a slot that is not ready, or never will be.  1: go on with the next. */
PERF_COLD_FN_ int perf_gpu_unready_(perf_gpu_state_ *g, perf_gpu_round_ *x, perf_gpu_slot_ *s,
                                    int code)
{
    perf_gpu_line_ *l = s->ring->line;

    if (code != PERF_GPU_NOT_READY) {
        perf_gpu_failed_(g, "event_elapsed", code);
        perf_gpu_forget_(s->ring, s->stream);
        if (code == 400 || code == 709)
            perf_gpu_doubt_(g, PERF_ACQ_(&g->driver->table), l, s->start);
        perf_gpu_give_up_(s);
        return code != PERF_GPU_SHUT_DOWN && !PERF_GET_(&l->dead);
    }
    PERF_GPU_WAITING_(x, s) = PERF_GPU_KEY_(s->stream);
    return !x->orderly;
}

/* Where a slot's scope began on the device's clock, in ns.  1: known; 0: it cannot be, and the
 * scope was given up; -1: not now, somebody else is at the line. */
PERF_INLINE_FN_ int perf_gpu_start_of_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                       perf_gpu_ring_ *ring, perf_gpu_slot_ *s, double *start_ns)
{
    perf_gpu_ms_ since;
    int          code = 0, known;

    since.bits = ~UINT32_C(0);
    if (ring->anchor)
        code = b->event_elapsed(&since.ms, ring->anchor, s->start);
    if (PERF_LIKELY_(!code && since.bits < PERF_GPU_MS_NEAR_)) {
        *start_ns = PERF_CAST_(double, since.ms) * 1e6 + ring->anchor_ns;
        return 1;
    }
    known = perf_gpu_far_(b, ring, s, PERF_CAST_(double, since.ms), start_ns, &code);
    if (!known)
        perf_gpu_unplaced_(g, b, ring, s, code);
    return known;
}

/* The start of a scope that lies far from the ring's anchor, or in front of it.  Times come as a
 * float whose last digit grows with the distance, so anchors move along with the scopes, and the
 * sum of the steps stays exact.  All rings of a context meet at the line's anchor, to which each
 * hands its last one.  1: *start_ns is known; 0: it cannot be; -1: not now, another is at it. */
PERF_COLD_FN_ int perf_gpu_far_(const perf_gpu_backend *b, perf_gpu_ring_ *ring, perf_gpu_slot_ *s,
                                double own_ms, double *start_ns, int *code)
{
    perf_gpu_line_ *l = ring->line;
    void           *event = PERF_NULL_;
    float           ms = 0;
    double          own = 0, other = 0;
    int             known = ring->anchor && perf_gpu_distance_(own_ms, &own), shared;

    *start_ns = ring->anchor_ns + own;
    if (known && own > -8e6 && own < 8e6)
        return 1;
    if (!perf_lock_word_(&l->lock, 0)) {
        if (known)
            return 1;
        return -1;
    }
    if (!l->anchor) {                           /* the first of all: where the line begins */
        *code = b->event_create(&event, 0);
        known = !*code;
        *start_ns = 0;
        if (known) {
            l->anchor = s->start;
            s->start = event;
        }
        perf_unlock_(&l->lock);
        return known;
    }
    *code = b->event_elapsed(&ms, l->anchor, s->start);
    shared = !*code && perf_gpu_distance_(PERF_CAST_(double, ms), &other);
    if (shared && (!known || perf_fabs_(other) < perf_fabs_(own)))
        *start_ns = l->anchor_ns + other;
    known |= shared;
    if (known && ring->anchor && *start_ns > ring->anchor_ns && ring->anchor_ns > l->anchor_ns) {
        event = l->anchor;
        l->anchor = ring->anchor;
        l->anchor_ns = ring->anchor_ns;
        ring->anchor = event;
    }
    perf_unlock_(&l->lock);
    if (known && (!ring->anchor || *start_ns > ring->anchor_ns) &&
        (ring->anchor || !b->event_create(&ring->anchor, 0))) {
        event = ring->anchor;
        ring->anchor = s->start;
        ring->anchor_ns = *start_ns;
        s->start = event;
    }
    return known;
}

/* The place of a slot's scope cannot be told: its anchor may be of a context that was destroyed. */
PERF_COLD_FN_ void perf_gpu_unplaced_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                      perf_gpu_ring_ *ring, perf_gpu_slot_ *s, int code)
{
    perf_gpu_line_ *l = ring->line;
    void           *anchor = ring->anchor;

    perf_gpu_failed_(g, "event_elapsed", code);
    if (!anchor && perf_lock_word_(&l->lock, 1)) {
        anchor = l->anchor;
        perf_unlock_(&l->lock);
    }
    if (code == 400 || code == 709)
        perf_gpu_doubt_(g, b, l, anchor);
    perf_gpu_give_up_(s);
}

PERF_INLINE_FN_ void perf_gpu_done_fill_(perf_gpu_done_ *d, const perf_gpu_slot_ *s, float ms)
{
    d->ns = PERF_CAST_(double, ms) * 1e6;
    d->site = s->site;
    d->stream = s->stream;
    d->begin = d->end = s->begin;
    if (s->end > s->begin)
        d->end = s->end;
    d->thread = s->thread;
}

/* ---- booking: from the list of results into the report, with the state's lock held ---- */

#define PERF_GPU_AIMS_ 16               /* kept for one batch, found by site and stream */

/* All results of a ring. */
PERF_COLD_FN_ void perf_gpu_book_ring_(perf_gpu_state_ *g, perf_gpu_ring_ *ring)
{
    perf_gpu_aim_    aims[PERF_GPU_AIMS_];
    const uint32_t   head = PERF_ACQ_(&ring->head), mask = 8 * ring->cap - 1;
    perf_gpu_done_  *first = PERF_NULL_, **link = &first, *s, *const done = ring->done;
    uint32_t         i;
    perf_gpu_line_  *l = ring->line;
    uint64_t         now = PERF_GET_(&ring->now), upto = 0;
    int              mixed = 0;

    if (head == ring->tail)
        return;
    for (i = ring->tail; i != head; i++) {
        s = &done[i & mask];
        mixed |= s->begin < upto;
        upto = s->end;
        *link = s;
        link = &s->next;
    }
    *link = PERF_NULL_;
    if (now > l->now)
        l->now = now;
    memset(aims, 0, sizeof aims);
    if (mixed)
        perf_gpu_book_mixed_(g, ring, first, aims);
    else
        perf_gpu_book_(g, l, first, aims, 1);
    PERF_REL_(&ring->tail, head);
}

#define PERF_GPU_EARLIER_(field)                                                                  \
    for (i = 1; i < n; i++) {                   /* nearly sorted already */                       \
        s = batch[i];                                                                             \
        for (k = i; k > 0 && batch[k - 1]->field > s->field; k--)                                 \
            batch[k] = batch[k - 1];                                                              \
        batch[k] = s;                                                                             \
    }

/* The same for those that overlap, as nested ones do: in tracks by their ends, with depths. */
PERF_HOT_FN_ void perf_gpu_book_mixed_(perf_gpu_state_ *g, perf_gpu_ring_ *ring,
                                       perf_gpu_done_ *first, perf_gpu_aim_ *aims)
{
    perf_gpu_done_ **batch = ring->batch, *s, *open[32];
    perf_gpu_aim_   *a;
    double           tick = perf_scope_tick_ns_(perf_registry_get_());
    uint64_t         ticks;
    uint32_t         i, k, n = 0, opened = 0;

    for (s = first; s; s = s->next)
        batch[n++] = s;
    PERF_GPU_EARLIER_(begin)
    for (i = 0; i < n; i++) {
        s = batch[i];
        s->next = PERF_NULL_;
        if (i + 1 < n)
            s->next = batch[i + 1];
        while (opened && open[opened - 1]->end < s->end)
            opened--;
        for (k = 0, s->depth = 1; k < opened; k++)
            s->depth += open[k]->stream == s->stream;
        if (opened < 32)
            open[opened++] = s;
    }
    perf_gpu_book_(g, ring->line, batch[0], aims, 0);
    PERF_GPU_EARLIER_(end)
    for (i = 0; i < n; i++) {
        s = batch[i];
        if (!s->depth)
            continue;
        ticks = perf_gpu_ticks_(s->ns / tick);
        a = perf_gpu_aim_of_(g, ring->line, s, aims);
        if (a)
            perf_track_add_(a->t, a->c, ticks, s->at, ticks, s->depth);
    }
}

/* Places and adds results of one ring, ordered by begin.  events: none of them overlap on the host,
 * so they go into their tracks as they come. */
PERF_OUTLINE_FN_ void perf_gpu_book_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_done_ *first,
                                     perf_gpu_aim_ *aims, int events)
{
    double          tick = perf_scope_tick_ns_(perf_registry_get_()), span, error, spread;
    perf_gpu_pace_  p = perf_gpu_pace_begin_(l, first, tick);
    perf_gpu_done_ *s;

    for (s = first; s && s->begin < g->birth; s = s->next) {
        s->at = s->begin + perf_gpu_place_(&p, s);      /* before the last reset: it only tells */
        s->depth = 0;                                   /* the time */
    }
    if (s != first) {
        p.idle_ns = p.starved_ns = 0;
        l->pace.until_ns = p.until_ns;
        if (!(l->busy_ns > 0))
            l->first_ns = p.until_ns;
    }
    perf_gpu_book_all_(g, l, s, &p, aims, events);
    span = p.ref_ticks - PERF_CAST_(double, PERF_CAST_(int64_t, first->at - p.origin));
    spread = l->rate_high - p.rate_low;
    perf_gpu_pace_end_(l, &p);
    error = l->slack_ns + p.debt_ns + spread * perf_most_(span, 0) * tick;
    l->worst_ns = perf_most_(error, l->worst_ns);       /* the last one's holds for all */
}

#define PERF_GPU_DRIFT_ 5e-4            /* two crystals of 100 ppm, and NTP may slew the rest */

/* Of the two clocks only the bounds of all crystals are known. */
PERF_COLD_FN_ void perf_gpu_unlearn_(perf_gpu_line_ *l)
{
    l->pace.rate_low = -PERF_GPU_DRIFT_;
    l->rate_high = PERF_GPU_DRIFT_;
    l->tie_high = -1e300;
}

/* The pace in front of `first`, which a new line begins with. */
PERF_OUTLINE_FN_ perf_gpu_pace_ perf_gpu_pace_begin_(perf_gpu_line_ *l,
                                                     const perf_gpu_done_ *first, double tick)
{
    perf_gpu_pace_ p;
    double         change = l->pace.tick / tick - 1;

    if (!l->known) {
        l->known = 1;
        l->pace.origin = first->begin;
        l->pace.ref_ns = l->first_ns = l->pace.until_ns = first->start_ns;
        l->slack_ns = 1e300;
    }
    if (!(change > -1e-6 && change < 1e-6))     /* the host's tick is known better by now */
        perf_gpu_unlearn_(l);
    p = l->pace;
    p.idle_ns = p.starved_ns = 0;
    p.tick = tick;
    p.per_ns = 1 / tick;
    return p;
}

/* Places and adds the scopes from `s` on.  Calls no cold function: gcc would then take all of it
 * for cold, and optimise it for size. */
PERF_HOT_FN_ void perf_gpu_book_all_(perf_gpu_state_ *g, perf_gpu_line_ *l, perf_gpu_done_ *s,
                                     perf_gpu_pace_ *pace, perf_gpu_aim_ *aims, int events)
{
    const uint64_t depth = events ? 1 : 0;
    perf_gpu_pace_ p = *pace;
    perf_gpu_aim_ *a = aims;
    uint64_t       ticks;

    for (; s; s = s->next) {
        if (PERF_UNLIKELY_(s->site != a->site || s->stream != a->stream ||
                           s->thread != a->thread)) {
            a = perf_gpu_aim_of_(g, l, s, aims);
            if (PERF_UNLIKELY_(!a)) {
                a = aims;
                s->at = s->begin + perf_gpu_place_(&p, s);
                s->depth = 0;
                continue;
            }
        }
        ticks = perf_gpu_ticks_(s->ns * p.per_ns);
        perf_gpu_add_(a, s, ticks, perf_gpu_place_(&p, s), depth);
    }
    *pace = p;
}

/* The same, found among those of this batch if it is there; NULL: dropped. */
PERF_INLINE_FN_ perf_gpu_aim_ *perf_gpu_aim_of_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                const perf_gpu_done_ *s, perf_gpu_aim_ *aims)
{
    uintptr_t      at = PERF_PTR_(uintptr_t, s->site) >> 3 ^ PERF_PTR_(uintptr_t, s->stream) >> 6;
    perf_gpu_aim_ *a = &aims[at % PERF_GPU_AIMS_];

    if (a->site == s->site && a->stream == s->stream && a->thread == s->thread)
        return a;
    if (perf_gpu_aim_at_(g, l, s, a))
        return a;
    return PERF_NULL_;
}

/* Ties the device's clock to the host's: a scope starts on the device no earlier than the host
 * began it.  How fast the two run apart is known within bounds.  What the lower bound allows is a
 * debt; it is paid where the device was idle, so that its work never overlaps itself.  Returns the
 * ticks from the begin on the host to the start on the device. */
PERF_INLINE_FN_ uint64_t perf_gpu_place_(perf_gpu_pace_ *p, const perf_gpu_done_ *s)
{
    double start = s->start_ns, dt = start - p->ref_ns, owed = p->debt_ns - p->rate_low * dt;
    double gap = perf_most_(start, p->until_ns) - p->until_ns;
    double back = perf_least_(gap, owed), stop = s->ns + start, at, begin, lag;

    begin = PERF_CAST_(double, PERF_CAST_(int64_t, s->begin - p->origin));
    if (PERF_UNLIKELY_(dt < 0))
        back = 0;
    at = (dt - back) * p->per_ns + p->ref_ticks;
    at = perf_most_(at, begin);
    lag = (at - begin) * p->tick;
    if (PERF_LIKELY_(dt >= 0)) {                /* another thread's may come late: the line stays */
        owed -= back;
        p->debt_ns = perf_least_(owed, lag);
        p->ref_ns = start;
        p->ref_ticks = at;
    }
    p->idle_ns += gap;
    p->until_ns = perf_most_(stop, p->until_ns);
    p->starved_ns += perf_most_(gap, lag) - lag;        /* idle before it: submitted too late */
    return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, at - begin));
}

/* The line after scopes were placed.  All have stopped before `now`, which bounds how much later
 * they could really be; drift and what was given back widen that bound from round to round. */
PERF_OUTLINE_FN_ void perf_gpu_pace_end_(perf_gpu_line_ *l, const perf_gpu_pace_ *p)
{
    double dt = p->ref_ns - l->pace.ref_ns;
    double moved = (p->ref_ticks - l->pace.ref_ticks) * p->tick - dt;
    double up = PERF_CAST_(double, PERF_CAST_(int64_t, l->now - p->origin)) - p->ref_ticks;

    up = up * p->tick - (p->until_ns - p->ref_ns) + 500;        /* CUDA promises events to 0.5 us */
    up = perf_most_(up, 0);
    l->slack_ns += l->rate_high * dt - moved;
    if (!(l->slack_ns >= 0 && l->slack_ns < up))
        l->slack_ns = up;
    l->busy_ns += p->until_ns - l->pace.until_ns - p->idle_ns;
    l->starved_ns += p->starved_ns;
    l->pace = *p;
    perf_gpu_learn_(l);
}

/* Learns from two moments, each with bounds, how fast the clocks run apart in between.  10 ppm are
 * allowed for a crystal's rate, which wanders with its temperature. */
PERF_OUTLINE_FN_ void perf_gpu_learn_(perf_gpu_line_ *l)
{
    const perf_gpu_pace_ *p = &l->pace;
    double low = p->ref_ticks - p->debt_ns / p->tick, high = p->ref_ticks + l->slack_ns / p->tick;
    double dt = p->ref_ns - l->tie_ns, slow, fast;

    if (l->tie_high > -1e300 && dt > 1e7) {
        fast = (high - l->tie_low) * p->tick / dt - 1 + 1e-5;
        slow = (low - l->tie_high) * p->tick / dt - 1 - 1e-5;
        l->rate_high = perf_least_(fast, l->rate_high);
        l->pace.rate_low = perf_most_(slow, p->rate_low);
        if (l->pace.rate_low > l->rate_high - 1e-5)     /* they contradict each other: anew */
            perf_gpu_unlearn_(l);
    }
    if (l->tie_high > -1e300 && 2 * (high - low) > l->tie_high - l->tie_low)
        return;
    l->tie_ns = p->ref_ns;
    l->tie_low = low;
    l->tie_high = high;
}

/* The newest replay of a part, if it is done and was not read before.  Two readings of the start
 * that agree: the device has not begun another meanwhile. */
PERF_COLD_FN_ void perf_gpu_book_part_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                       perf_gpu_part_ *p)
{
    perf_gpu_slot_       *s = &p->slot;
    perf_gpu_line_       *l = s->ring->line;
    const perf_gpu_pace_ *pace = &l->pace;
    perf_gpu_ms_          length, since, again;
    perf_gpu_entered_     e;
    perf_gpu_done_        d = PERF_ZERO;
    perf_gpu_aim_         aim;
    int                   known = 0;

    if (!l->known || !perf_gpu_lives_(g, b, l) || perf_gpu_enter_(b, l->ctx, &e))
        return;
    if (perf_lock_word_(&l->lock, 1)) {
        known = !b->event_elapsed(&since.ms, l->anchor, s->start) &&
                !b->event_elapsed(&length.ms, s->start, s->stop) &&
                !b->event_elapsed(&again.ms, l->anchor, s->start) && since.bits == again.bits &&
                length.bits < PERF_GPU_MS_END_ &&
                perf_gpu_distance_(PERF_CAST_(double, since.ms), &d.start_ns);
        d.start_ns += l->anchor_ns;
        perf_unlock_(&l->lock);
    }
    perf_gpu_leave_(b, &e);
    /* A float of a far distance is not the same from another anchor. */
    if (!known || !(d.start_ns > p->until_ns + 1e-7 * (d.start_ns - p->until_ns)))
        return;
    d.ns = PERF_CAST_(double, length.ms) * 1e6;
    p->until_ns = d.start_ns + d.ns;
    d.at = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, pace->ref_ticks + (d.start_ns - pace->ref_ns) /
                                                        pace->tick)) + pace->origin;
    d.begin = d.end = d.at;
    d.site = s->site;
    d.stream = s->stream;
    d.thread = s->thread;
    if (d.at < g->birth || !perf_gpu_aim_at_(g, l, &d, &aim))
        return;
    perf_gpu_add_(&aim, &d, perf_gpu_ticks_(d.ns / pace->tick), 0, p->depth);
}

/* The distance from an anchor in whole ns, where a float of ms has them (16.7 ms); 0: invalid. */
PERF_COLD_FN_ int perf_gpu_distance_(double ms, double *ns)
{
    double d = ms * 1e6, half = 0.5;

    if (!(d > -1e15 && d < 1e15))
        return 0;
    if (d < 0)
        half = -0.5;
    if (d > -16.7e6 && d < 16.7e6)
        d = PERF_CAST_(double, PERF_CAST_(int64_t, d + half));
    *ns = d;
    return 1;
}

/* Fills in where scopes like `s` go.  0: there is no room; the scope is dropped, and counted. */
PERF_OUTLINE_FN_ int perf_gpu_aim_at_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                      const perf_gpu_done_ *s, perf_gpu_aim_ *a)
{
    perf_registry_  *r = perf_registry_get_();
    uint32_t         id = perf_site_id_(r, s->site), kind = s->site->line >> 24;
    perf_gpu_track_ *track = perf_gpu_track_of_(g, l, s);

    a->site = PERF_NULL_;
    a->c = PERF_NULL_;
    if (track && id)
        a->c = perf_track_cell_(track->recorder, id);
    if (!a->c) {
        PERF_GPU_COUNT_(g, PERF_GPU_DROPPED_, 1);
        return 0;
    }
    a->row = &g->rest[(kind - PERF_KIND_DEVICE_) % 4];
    if (id < PERF_GPU_ROWS_)
        a->row = &g->row[id];
    a->t = track->recorder;
    a->site = s->site;
    a->stream = s->stream;
    a->thread = s->thread;
    return 1;
}

/* "GPU 0 stream 2": the title of the `number`-th such stream of its device. */
PERF_COLD_FN_ void perf_gpu_put_title_(perf_out_ *o, const perf_gpu_line_ *l,
                                       const perf_gpu_done_ *s, uint64_t number)
{
    const uintptr_t   at = PERF_PTR_(uintptr_t, s->stream);
    const char *const what[2] = {"stream", "graph"};

    perf_putf_(o, "GPU %.0f %s", PERF_CAST_(double, l->device),
               what[s->thread == PERF_GPU_GRAPH_]);
    if (at < 2)
        perf_put_(o, " default");
    if (at == 2)
        perf_put_(o, " per thread");
    if (at > 2 || (at == 2 && number > 1))
        perf_putf_(o, " %.0f", PERF_CAST_(double, number));
}

/* 1: the stream of this track is of the kind that `at` is, so that they are numbered together. */
PERF_COLD_FN_ int perf_gpu_alike_(const perf_gpu_track_ *t, uintptr_t at)
{
    if (at > 2)
        return PERF_PTR_(uintptr_t, t->stream) > 2;
    return t->thread != 0;
}

/* The line of the trace and the rows of a stream, made on first sight; NULL without memory. */
PERF_COLD_FN_ perf_gpu_track_ *perf_gpu_track_of_(perf_gpu_state_ *g, perf_gpu_line_ *l,
                                                  const perf_gpu_done_ *s)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_track_ *t;
    uint64_t         number = 1;
    char             name[40];
    perf_out_        o = perf_out_open_(name, sizeof name);

    for (t = g->tracks; t; t = t->next) {
        if (t->stream == s->stream && t->line == l && t->thread == s->thread)
            return t;
        if (t->line && t->line->device == l->device)
            number += PERF_CAST_(uint64_t, perf_gpu_alike_(t, PERF_PTR_(uintptr_t, s->stream)));
    }
    perf_gpu_put_title_(&o, l, s, number);
    for (t = g->tracks; t; t = t->next)
        if ((!t->line || PERF_GET_(&t->line->dead)) && !strcmp(t->recorder->name, name))
            break;                              /* of an earlier table or context */
    if (!t) {
        if (!perf_lock_(r))
            return PERF_NULL_;
        t = PERF_CAST_(perf_gpu_track_ *, perf_keep_(r, sizeof *t));
        perf_unlock_(&r->lock);
        if (t)
            t->recorder = perf_track_make_(r, name);
        if (!t || !t->recorder)
            return PERF_NULL_;
        t->next = g->tracks;
        g->tracks = t;
    }
    t->stream = s->stream;
    t->line = l;
    t->thread = s->thread;
    return t;
}

PERF_INLINE_FN_ uint64_t perf_gpu_ticks_(double ticks)
{
    return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ticks + 0.5));
}

/* Adds a placed scope to the sums of its name; depth: to its track, too, if it is not 0. */
PERF_INLINE_FN_ void perf_gpu_add_(const perf_gpu_aim_ *a, perf_gpu_done_ *s, uint64_t ticks,
                                   uint64_t lag, uint64_t depth)
{
    perf_gpu_row_ *row = a->row;

    row->scopes++;
    row->submit += s->end - s->begin;
    row->lag += lag;
    if (lag > row->lag_max)
        row->lag_max = lag;
    row->device_ns += s->ns;
    s->at = s->begin + lag;
    if (depth)
        perf_track_add_(a->t, a->c, ticks, s->at, ticks, depth);
}

/* ---- what failed, and contexts that are no more ---- */

/* As what a scope is counted that met this code of the driver. */
PERF_COLD_FN_ int perf_gpu_loss_of_(int code)
{
    if (code == 201 || code == 3)               /* no context, driver not started */
        return PERF_GPU_NO_CONTEXT_;
    if (code >= 900 && code <= 907)
        return PERF_GPU_CAPTURED_;
    if (code == PERF_GPU_UNREAD)
        return PERF_GPU_DROPPED_;
    return PERF_GPU_FAILED_;
}

/* A call that failed on behalf of one scope; code 0: a time that cannot be.  Only what is no other
 * loss is an error of the driver. */
PERF_COLD_FN_ void perf_gpu_failed_(perf_gpu_state_ *g, const char *call, int code)
{
    const int loss = perf_gpu_loss_of_(code);

    PERF_GPU_COUNT_(g, loss, 1);
    if (loss != PERF_GPU_FAILED_)
        return;
    if (!code)
        code = 999;
    perf_gpu_error_(g->driver, call, code);
}

/* No slot takes the short way for this stream any more: it may be another device's by now. */
PERF_COLD_FN_ void perf_gpu_forget_(perf_gpu_ring_ *ring, void *stream)
{
    perf_gpu_thread_ *t = perf_gpu_self_v1_.thread;
    uintptr_t         at = PERF_PTR_(uintptr_t, stream);
    uint32_t          i;

    if (t)                                      /* ask the driver again whose stream this is */
        t->known[(at >> 4 ^ at >> 10) % 64].stream = PERF_NULL_;
    for (i = 0; i < PERF_ACQ_(&ring->made); i++)
        if (PERF_GET_(&ring->slot[i].home) == PERF_GPU_KEY_(stream)) {
            PERF_SET_(&ring->slot[i].home, PERF_GPU_NEVER_);
            if (PERF_GET_(&ring->slot[i].key))
                PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
        }
}

/* Frees one that will not be fetched. */
PERF_COLD_FN_ void perf_gpu_give_up_(perf_gpu_slot_ *s)
{
    PERF_SET_(&s->home, PERF_GPU_NEVER_);
    s->code[0] = s->code[1] = s->capture = 0;
    perf_gpu_free_(s);
}

/* Frees a slot.  The owner may use it as soon as `begin` or `key` say so. */
PERF_INLINE_FN_ void perf_gpu_free_(perf_gpu_slot_ *s)
{
    const uintptr_t home = PERF_GET_(&s->home);

    PERF_SET_(&s->end, PERF_GPU_NOT_YET_);
    PERF_REL_(&s->begin, UINT64_C(0));
    PERF_REL_(&s->key, home);
}

/* A call failed for an event of ours.  A driver before CUDA 12 tells no ids of contexts: if it no
 * longer knows the event, its context was destroyed, and another may have its place. */
PERF_COLD_FN_ void perf_gpu_doubt_(perf_gpu_state_ *g, const perf_gpu_backend *b,
                                   perf_gpu_line_ *l, void *event)
{
    perf_gpu_entered_ e;
    int               code;

    if (!b || l->ctx_id || !event || PERF_GET_(&l->dead) || perf_gpu_enter_(b, PERF_NULL_, &e))
        return;
    code = b->event_query(event);
    perf_gpu_leave_(b, &e);
    if ((code == 400 || code == 709) && perf_claim_(&l->dead, 0, 1))
        perf_gpu_deaden_(g, l);
}

/* 1: the context of a line is still there; where the driver tells no ids, as far as we know.  If
 * it is gone, its events are left alone, and what is in flight counts as dropped. */
PERF_COLD_FN_ int perf_gpu_lives_(perf_gpu_state_ *g, const perf_gpu_backend *b, perf_gpu_line_ *l)
{
    unsigned long long id = 0;
    int                code;

    if (!PERF_GET_(&l->dead) && b->ctx_id && l->ctx_id) {
        code = b->ctx_id(l->ctx, &id);
        if (code == PERF_GPU_SHUT_DOWN)
            perf_gpu_error_(g->driver, "ctx_id", code);
        else if (code && code != 201 && code != 709)    /* 709: destroyed */
            return 0;
        else if ((code || id != l->ctx_id) && perf_claim_(&l->dead, 0, 1))
            perf_gpu_deaden_(g, l);
    }
    return !PERF_GET_(&l->dead) && !PERF_GET_(&g->driver->down);
}

/* In place of event_record once its driver or context is gone. */
PERF_FN int perf_gpu_record_dead_(void *event, void *stream)
{
    (void)event, (void)stream;
    return PERF_GPU_SHUT_DOWN;
}

/* In place of stream_capturing where nobody is to be asked. */
PERF_FN int perf_gpu_not_capturing_(void *stream, int *status)
{
    (void)stream, (void)status;
    return 0;
}

/* From now on no slot of a context, NULL: of any, calls a driver: threads in the middle of the
 * short way find functions that do nothing. */
PERF_COLD_FN_ void perf_gpu_deaden_(perf_gpu_state_ *g, const void *line)
{
    int (*const record)(void *, void *) = perf_gpu_record_dead_;
    int (*const capturing)(void *, int *) = perf_gpu_not_capturing_;
    perf_gpu_ring_ *ring;
    uint32_t        i;

    for (ring = PERF_ACQ_(&g->rings); ring; ring = ring->next)
        for (i = 0; (!line || ring->line == line) && i < PERF_ACQ_(&ring->made); i++) {
            PERF_SET_(&ring->slot[i].home, PERF_GPU_NEVER_);
            PERF_SET_(&ring->slot[i].key, PERF_GPU_NEVER_);
            PERF_GPU_FN_(ring->slot[i].record, record);
            PERF_GPU_FN_(ring->slot[i].capturing, capturing);
        }
}

/* ---- bottleneck and report ---- */

/* Under the table of scopes: means per scope, one line a context, what is missing and why. */
PERF_COLD_FN_ void perf_gpu_report_(perf_out_ *o, int json)
{
    perf_gpu_state_ *g = perf_gpu_state_seen_();
    perf_gpu_stats   a = perf_gpu_stats_of(PERF_NULL_);
    const perf_gpu_backend *b = g ? PERF_ACQ_(&g->driver->table) : PERF_NULL_;
    int              simulated = b && b->flags & PERF_GPU_TABLE_SIMULATED;
    perf_gpu_line_  *l;
    int              i;
    perf_gpu_bound_  e;
    char             answer[160];
    perf_out_        said = perf_out_open_(answer, sizeof answer);
    const uint64_t   n[] = {a.pending, a.dropped, a.captured, a.no_context, a.no_gpu, a.failed,
                            a.backwards};
    static const char *const what[] = {
        "were still in flight", "were dropped: PERF_GPU_SLOTS is the room for those in flight",
        "were skipped: their stream was being captured into a graph",
        "were skipped: no context was current", "were skipped: no GPU driver",
        "failed in the driver", "had a negative time in the driver, read as 0"};

    if (json)
        return;
    if (a.scopes && PERF_ACQ_(&perf_registry_get_()->put_diagnosis))    /* it asks for the lock   */
        perf_registry_get_()->put_diagnosis(&said, PERF_DIAGNOSIS_ANSWER_);
    if (!g || !perf_lock_word_(&g->lock, 1))  /* NULL: PERF_DISABLE=1                             */
        return;
    perf_gpu_evidence_(&e, &a);
    perf_gpu_put_rows_(o, g, perf_registry_get_());
    for (l = PERF_ACQ_(&g->lines); l; l = l->next) {
        const double span = l->pace.until_ns - l->first_ns;
        if (!l->known || !(span > 0))
            continue;
        perf_put_number_(o, "GPU ", PERF_CAST_(double, l->device), 0);
        perf_put_number_(o, ": busy ", l->busy_ns / span * 100, 1);
        perf_put_(o, " % of ");
        perf_put_ns_(o, span);
        perf_put_(o, ", clock within ");
        perf_put_ns_(o, l->worst_ns);
        perf_put_(o, " of the host's");
        if (simulated)
            perf_put_(o, " (simulated)");
        perf_put_char_(o, '\n');
    }
    if (a.scopes)
        perf_gpu_put_bound_(o, &e, answer);
    perf_unlock_(&g->lock);
    for (i = 0; i < 7; i++)
        if (n[i])
            perf_putf_(o, "note: %.0f device scopes %s\n", PERF_CAST_(double, n[i]), what[i]);
    if (*perf_gpu_error_text())
        perf_putf_(o, "note: GPU error: %s\n", perf_gpu_error_text());
}

/* What the main thread and the device that worked longest show, and perf_bound_decide_ of it. */
PERF_COLD_FN_ void perf_gpu_evidence_(perf_gpu_bound_ *e, const perf_gpu_stats *a)
{
    perf_evidence_ all = PERF_ZERO;
    perf_host_time_     host;

    e->wait = e->sync = e->busy = e->copy = e->starved = -1;
    all.busy = -1;
    if (perf_host_evidence_(&host, perf_registry_get_(), &all)) {
        e->wait = all.share[PERF_BY_DATA];
        e->sync = all.share[PERF_BY_SYNCS];
    }
    if (perf_gpu_tell_(&all, a, 0)) {
        e->busy = all.busy;
        e->starved = all.starved;
        e->copy = all.copies;
    }
    e->bound = perf_diagnosis_text(perf_bound_decide_(&all));
}

/* The same for perf_diagnosis.h. */
PERF_COLD_FN_ void perf_gpu_tells_(perf_evidence_ *e, double total_ns)
{
    perf_gpu_state_ *g = perf_gpu_state_seen_();
    perf_gpu_stats   a = perf_gpu_stats_of(PERF_NULL_);

    if (e->measured == 2 || !g || !perf_lock_word_(&g->lock, 1))
        return;
    (void)perf_gpu_tell_(e, &a, total_ns);
    perf_unlock_(&g->lock);
}

/* What the device that worked longest did; total_ns 0: shares of the time since its first work.
 * *copies: of all devices.  0: none has worked.                                                  */
PERF_COLD_FN_ int perf_gpu_tell_(perf_evidence_ *e, const perf_gpu_stats *a, double total_ns)
{
    const perf_gpu_state_ *g = perf_gpu_state_seen_();      /* NULL: PERF_DISABLE=1               */
    const perf_gpu_line_  *l, *most = g ? PERF_ACQ_(&g->lines) : PERF_NULL_;

    for (l = most; l; l = l->next)              /* another's idleness holds nobody back */
        if (l->busy_ns > most->busy_ns)
            most = l;
    if (most && !(total_ns > 0))
        total_ns = most->pace.until_ns - most->first_ns;
    if (!most || !(total_ns > 0) || !(most->busy_ns > 0))
        return 0;
    e->measured = 1;
    e->busy = perf_least_(most->busy_ns / total_ns, 1);
    e->starved = perf_least_(most->starved_ns / total_ns, 1);
    e->copies = -1;
    if (a->device_ns > 0)
        e->copies = a->copy_ns / a->device_ns;
    return 1;
}

/* The table of device scopes: means per scope. */
PERF_COLD_FN_ void perf_gpu_put_rows_(perf_out_ *o, const perf_gpu_state_ *g, perf_registry_ *r)
{
    static const perf_column_ column[] = {
        {"device scope", 28, 0, 0}, {"calls", 10, 0, 0},  {"class", 10, 0, 0},
        {"device", 10, 0, 0},       {"submit", 10, 0, 0}, {"lag", 10, 0, 0},
        {"max lag", 10, 0, 0}};
    perf_out_   wide = PERF_ZERO;
    perf_table_ table = perf_table_open_(&wide, column, 7);     /* never narrower                 */
    double      tick = perf_scope_tick_ns_(r), n;
    uint32_t    id, title = 0;

    table.out = o;

    for (id = 1; id < perf_gpu_rows_(r); id++) {
        const perf_gpu_row_ *row = &g->row[id];
        const perf_name_    *name = PERF_ACQ_(&r->names)[id];
        n = PERF_CAST_(double, row->scopes);
        if (!(n > 0))
            continue;
        if (!title++)
            perf_table_head_(&table);
        perf_cell_text_(&table, name->site.name);
        perf_cell_fixed_(&table, n, 0);
        perf_cell_text_(&table, perf_kind_text_(name->kind));
        perf_cell_ns_(&table, row->device_ns / n);
        perf_cell_ns_(&table, PERF_CAST_(double, row->submit) * tick / n);
        perf_cell_ns_(&table, PERF_CAST_(double, row->lag) * tick / n);
        perf_cell_ns_(&table, PERF_CAST_(double, row->lag_max) * tick);
        perf_row_end_(&table);
    }
}

/* Without perf_diagnosis.h its own answer, with it that of all the report. */
PERF_COLD_FN_ void perf_gpu_put_bound_(perf_out_ *o, const perf_gpu_bound_ *e, const char *answer)
{
    static const char *const what[] = {"waits for data", "device busy", "copies of that",
                                       "device idle with nothing submitted",
                                       "host waits for the device"};
    const double share[] = {e->wait, e->busy, e->copy, e->starved, e->sync};
    int          i, any = 0;

    perf_putf_(o, "bottleneck: %s", *answer ? answer : e->bound);
    for (i = 0; i < 5; i++)
        if (share[i] >= 0)
            perf_putf_(o, "%s %s %.1f %%", any++ ? "," : ":", what[i], share[i] * 100);
    perf_put_char_(o, '\n');
}

/* ---- statistics ---- */

PERF_COLD_FN_ void perf_gpu_stats_add_(perf_gpu_stats *a, const perf_gpu_row_ *row, double tick,
                                       int copies)
{
    a->scopes += row->scopes;
    a->device_ns += row->device_ns;
    if (copies)
        a->copy_ns += row->device_ns;
    a->submit_ns += PERF_CAST_(double, row->submit) * tick;
    a->lag_ns += PERF_CAST_(double, row->lag) * tick;
    a->lag_max_ns = perf_most_(PERF_CAST_(double, row->lag_max) * tick, a->lag_max_ns);
}

/* What is known of all names: the contexts, what is on its way, what was lost. */
PERF_COLD_FN_ void perf_gpu_stats_all_(perf_gpu_state_ *g, perf_gpu_stats *a)
{
    perf_gpu_line_ *l;
    perf_gpu_ring_ *ring;
    uint32_t        pending;

    for (l = PERF_ACQ_(&g->lines); l; l = l->next)
        if (l->known) {
            a->busy_ns += l->busy_ns;
            a->starved_ns += l->starved_ns;
            a->span_ns += l->pace.until_ns - l->first_ns;
            a->aligned_ns = perf_most_(l->worst_ns, a->aligned_ns);
        }
    for (ring = PERF_ACQ_(&g->rings); ring; ring = ring->next) {
        pending = perf_gpu_pending_(ring);
        if (PERF_GET_(&ring->line->dead))
            a->dropped += pending;
        else
            a->pending += pending;
        a->pending += PERF_ACQ_(&ring->head) - PERF_GET_(&ring->tail);
    }
    a->dropped += PERF_GET_(&g->lost[PERF_GPU_DROPPED_]);
    a->captured = PERF_GET_(&g->lost[PERF_GPU_CAPTURED_]);
    a->no_context = PERF_GET_(&g->lost[PERF_GPU_NO_CONTEXT_]);
    a->failed = PERF_GET_(&g->lost[PERF_GPU_FAILED_]);
    a->no_gpu = PERF_GET_(&g->lost[PERF_GPU_NO_GPU_]);
    a->backwards = PERF_GET_(&g->lost[PERF_GPU_BACKWARDS_]);
}

PERF_FN perf_gpu_stats perf_gpu_stats_of(const char *name)
{
    perf_gpu_stats     a = PERF_ZERO;
    perf_gpu_driver_  *d = perf_gpu_driver_get_();
    perf_gpu_state_   *g = perf_gpu_state_seen_();
    perf_registry_    *r;
    const perf_name_  *n;
    uint32_t           id, rows;
    double             tick;

    (void)perf_gpu_core_get_();
    a.aligned_ns = -1;
    if (d)
        a.error = PERF_ACQ_(&d->error);
    if (!g || !perf_lock_word_(&g->lock, 1))
        return a;
    r = perf_registry_get_();
    tick = perf_scope_tick_ns_(r);
    rows = perf_gpu_rows_(r);
    for (id = 1; id < rows; id++) {
        n = PERF_ACQ_(&r->names)[id];
        if (g->row[id].scopes && (!name || !strcmp(n->site.name, name)))
            perf_gpu_stats_add_(&a, &g->row[id], tick, n->kind != PERF_KIND_DEVICE_);
    }
    for (id = 0; id < 4 && !name; id++)         /* the first is of kernels */
        perf_gpu_stats_add_(&a, &g->rest[id], tick, id > 0);
    if (!name)
        perf_gpu_stats_all_(g, &a);
    perf_unlock_(&g->lock);
    return a;
}

/* How many scopes of a ring have ended and are not fetched. */
PERF_COLD_FN_ uint32_t perf_gpu_pending_(const perf_gpu_ring_ *ring)
{
    uint32_t i, n = 0;

    for (i = 0; i < PERF_ACQ_(&ring->made); i++)
        n += PERF_GPU_ENDED_(&ring->slot[i]);
    return n;
}

/* ---- reset ---- */

/* Forgets the sums; what began before now is not counted when it comes in. */
PERF_COLD_FN_ void perf_gpu_reset_(void)
{
    perf_registry_  *r = perf_registry_get_();
    perf_gpu_state_ *g = perf_gpu_state_seen_();
    perf_gpu_line_  *l;
    perf_gpu_ring_  *ring;
    size_t           i;

    if (!g || !perf_lock_word_(&g->lock, 1))  /* NULL: PERF_DISABLE=1                             */
        return;
    memset(g->row, 0, perf_gpu_rows_(r) * sizeof *g->row);
    memset(g->rest, 0, sizeof g->rest);
    for (l = PERF_ACQ_(&g->lines); l; l = l->next) {
        l->first_ns = l->pace.until_ns;
        l->busy_ns = l->starved_ns = l->worst_ns = 0;
    }
    for (ring = PERF_ACQ_(&g->rings); ring; ring = ring->next)
        for (i = 0; PERF_GET_(&ring->line->dead) && i < PERF_ACQ_(&ring->made); i++)
            perf_gpu_free_(&ring->slot[i]);
    g->birth = perf_scope_ticks_(r);
    for (i = 0; i < PERF_GPU_LOSSES_; i++)
        PERF_SET_(&g->lost[i], UINT64_C(0));
    PERF_SET_(&g->driver->error, 0);
    PERF_SET_(&g->driver->fresh, 0u);
    perf_unlock_(&g->lock);
}

#if PERF_DISABLE
#define perf_gpu_collect()                PERF_OFF_CODE_((perf_gpu_collect)())
#define perf_gpu_collect_sync()           PERF_OFF_CODE_((perf_gpu_collect_sync)())
#endif

PERF_END_DECLS

#endif /* PERF_CUDA_H */
