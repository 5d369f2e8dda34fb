/* perf_registry.h - what is kept of names, loops, streams, sinks, sources; its lock and memory.
 *
 *     #include "perf_record.h"                 // has what works with them; never this one alone
 *
 * The registry is the one object of a process that all its recordings share.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_REGISTRY_H
#define PERF_REGISTRY_H

#include "perf_file.h"
#include "perf_scope.h"

/* >>internal: what other headers may use -------------------------------------------------------
 * What is kept until the process ends; perf_record.h says who may write what.  The lock is never
 * held over a wait, a call of a driver, or I/O but the stream's.
 *   perf_registry_  the one of the process; perf_name_  a name
 *   perf_retired_  events of an ended thread; perf_slot_  where cells are found
 *   perf_stream_base_, PERF_STREAM_ON_, PERF_STREAM_FAILED_, PERF_STREAM_ENDED_  a trace that is
 *       being written; perf_sink_, perf_label_  scopes also go there
 *   perf_source_  durations from elsewhere; perf_mark_  use of the process
 *   perf_kept_loop_  a loop in reg->results; perf_said_  a sentence of one
 *   PERF_ASK_*_  what others ask a thread; PERF_REMARK_*_  an instant's number or text
 *   perf_family_, perf_member_, perf_shown_  forked children; perf_member_ours_  of this process
 *   perf_fail_  keeps the first failure; perf_losses_, PERF_LOSS_*_  what is missing
 *   PERF_SINK_, perf_label_of_  tell the sink; perf_depth_  open scopes of a thread
 *   perf_image_pin_  is never unloaded; perf_spent_since_  use of the process, of a thread
 *   perf_lock_  0: inside already, give up; else perf_unlock_(&reg->lock) follows
 *   perf_forever_ (lock held), perf_room_ (owner, after perf_grow_begin_)  memory; NULL: none    */

/* >>private: types, and bodies, callees before their callers ---------------------------------- */

PERF_BEGIN_DECLS

struct perf_out_;
struct perf_evidence_;
struct perf_registry_;

typedef struct perf_name_ {     /* one name, never freed; scopes by name point to `site`          */
    perf_site_         site;
    struct perf_name_ *next_same;
    uint32_t           hash;
    uint32_t           length;  /* the text follows the struct                                    */
    uint32_t           kind;
    void              *handle;  /* the sink's                                                     */
} perf_name_;

/* What a thread is asked to do when it next comes to the cold path: bits of `request`. */
enum { PERF_ASK_RESET_ = 1, PERF_ASK_TRACE_ = 2 };      /* TRACE: look at the switches again      */

/* An instant's number or text: entries before its own, without a name. */
enum {                          /* low byte of `what`; above it the name                          */
    PERF_REMARK_IS_VALUE_ = 1,  /* an instant's number                                            */
    PERF_REMARK_IS_TEXT_,       /* the first 8 bytes of its text                                  */
    PERF_REMARK_REST_           /* 8 more                                                         */
};

typedef struct perf_retired_ {  /* the trace of a thread whose recorder serves another one now    */
    uint64_t thread, number, count;
    char     name[32];          /* the events follow, newest first, and then the next of these    */
} perf_retired_;

typedef struct perf_mark_ {     /* one perf_memory_mark()                                         */
    struct perf_mark_ *next;
    perf_name_        *name;
    uint64_t           ns, resident, peak, heap, minor, major, cpu_ns, read_blocks, written_blocks;
    uint64_t           age_ns;  /* of the process; 0: not known                                   */
    uint64_t           io[4];   /* bytes read, bytes written, calls of each                       */
} perf_mark_;

/* A trace that is written while the program runs; what perf.h must know of it.  perf_trace.h has
 * the rest, and both functions lie in the image that started the stream.
 *   flush   writes a ring, NULL: all, with the lock held
 *   due     takes the lock and writes a ring.  1: the stream goes on; 0: it has ended; -1: this
 *           thread is inside the lock already                                                    */
typedef struct perf_stream_base_ {
    void        (*flush)(struct perf_registry_ *, struct perf_stream_base_ *, perf_recorder_ *);
    int         (*due)(struct perf_registry_ *, struct perf_stream_base_ *, perf_recorder_ *);
    uint32_t      direct;       /* 1: a pipe or device, where a write may wait                    */
    size_t        bytes;        /* of its memory, which the next stream takes over                */
    uint32_t      state;        /* PERF_STREAM_ ...                                               */
    uint64_t      unsent;       /* entries lost to the file, of ended threads or overwritten,     */
                                /* less those that a reset has forgotten                          */
} perf_stream_base_;
enum { PERF_STREAM_ON_ = 1, PERF_STREAM_FAILED_, PERF_STREAM_ENDED_ };

/* Another place where scopes go while they run: a profiler's ranges (perf_nvtx.h).  One file of
 * the program installs it with perf_sink_set_; from then on every scope of every file takes the
 * cold path and calls it.  The hot path does not ask for a sink: `quick` NULL of a recorder leads
 * the begin to the cold path, `open` of a scope (PERF_COLD_END_) the end.                        */
typedef struct perf_label_ {
    const char        *text;
    struct perf_name_ *name;
    uint32_t           kind;
    uint32_t           type;    /* of the payload: 0 none, 1 integer, 2 bits of a double          */
    uint64_t           bits;
} perf_label_;

typedef struct perf_sink_ {
    uint32_t size;
    void     (*begin)(perf_recorder_ *, const perf_label_ *, uint32_t depth);
    void     (*end)(perf_recorder_ *, uint32_t depth);          /* all that began there or deeper */
    int      (*open)(const perf_label_ *, uint64_t *range);     /* a span of any thread; 0: none  */
    void     (*close)(uint64_t range);
    void     (*mark)(const perf_label_ *);
    void     (*thread)(const char *name);
    void     (*stream)(void *stream, const char *name);         /* of a device; NULL: not wanted */
    int      (*listens)(void);  /* 0: it finds no tool, and has removed itself; NULL: 1           */
} perf_sink_;

/* An entry of the table of cells: the cell of `id` while `caller` is open.  For a name that is open
 * already, further out, that is the open cell, which is not a child of the caller.               */
typedef struct perf_slot_ {
    perf_cell_ *caller, *cell;
} perf_slot_;

/* Where durations come from that are not scopes of threads.  collect hands over what is known by
 * now, before each report and trace; report writes its own lines under the table, or members of the
 * JSON report; reset forgets; evidence says what bounds.  Any may be NULL.
 * The object lives as long as the process, or as the image that holds it.                        */
typedef struct perf_source_ {
    struct perf_source_ *next;
    void (*collect)(struct perf_registry_ *);
    void (*report)(struct perf_out_ *, int json);       /* 1: members of an object                */
    void (*reset)(void);
    void (*evidence)(struct perf_evidence_ *, double total_ns);
} perf_source_;

/* ---- forked children: what they record is seen by their parents ----
 *
 * A process that forks makes one block that all its descendants share.  A child takes the memory of
 * its names and cells from there, so its parents can count them, however the child has ended.    */

typedef struct perf_shown_ {    /* a recorder of a child                                          */
    struct perf_shown_ *next;
    perf_cell_        **cell;   /* as in perf_recorder_                                           */
    uint32_t            room;
} perf_shown_;

typedef struct perf_member_ {   /* a forked process                                               */
    struct perf_member_ *next;  /* all of the family, newest first                                */
    struct perf_member_ *parent;        /* NULL: the process that made the block                  */
    perf_shown_         *recorders;
    struct perf_name_  **names; /* by id, from `inherited` on; NULL: no new ones                  */
    uint32_t             inherited;     /* smaller ids are its parent's                           */
    uint32_t             forgotten;     /* 1: by perf_reset() of a parent                         */
} perf_member_;

typedef struct perf_family_ {
    uint64_t      bytes, used;  /* of the block, and of those the ones given out                  */
    uint64_t      full;         /* how often there was no room                                    */
    perf_member_ *members;
} perf_family_;

#define PERF_COUNTERS_ 16       /* of one loop */
/* A loop, finished or running, in the registry's list, newest first. */
typedef struct perf_kept_loop_ {
    struct perf_kept_loop_ *next;
    size_t             pages;           /* bytes from here on that perf_reset() may give back; 0  */
    int                kind;            /* 1 bench, 2 A/B, 3 race                                 */
    int                forgotten;       /* atomic; 1: by perf_reset(), do not show it             */
    int                done;            /* written once, last: the result is complete             */
    char               name[PERF_NAME_MAX_ + 1];       /* a longer one is cut, counted, noted    */
    const void        *result;          /* perf_result, perf_ab_result or perf_race_result        */
    const char        *note;            /* a line below its row, kept with the loop, or NULL      */
    const double      *sample[2];       /* ns an iteration by slice, by the clock that decides;   */
                                        /* A/B: baseline, candidate                               */
    size_t             samples;         /* of each                                                */
    int                threads;         /* that measured it at once; 0: one                       */
    int                round;           /* of --repeat, from 0: a later one is no other loop      */
    char               counter[PERF_COUNTERS_ + 1][40]; /* names of perf_bench_counter, "" ends   */
                                                        /* them                                   */
    double             value[PERF_COUNTERS_];
    double             step_ns;         /* of the clock that timed it; 0: of the host's           */
    char               device[64];      /* what ran it; "": the host, or not told                 */
} perf_kept_loop_;

typedef struct perf_said_ {     /* a sentence of a loop's result; its text follows                */
    struct perf_said_ *next;
} perf_said_;

/* One in the process, on the heap, never freed: it outlives the shared objects that use it. */
typedef struct perf_registry_ {
    uint32_t        size, abi;
    uint32_t        lock;       /* id of the thread inside; 0: free                               */
    uint32_t        process, off;
    uint32_t        clock;      /* 0: scopes are timed by the counter; 1: by perf_now()           */
    uint32_t        error;      /* first perf_status that was not PERF_OK                         */
    uint32_t        warnings;   /* PERF_CLOCK_ bits                                               */
    uint64_t        ring_events;
    uint32_t        trace_off;
    uint64_t        threads;    /* recorders and take-overs so far                                */
    uint64_t        alive;      /* recorders not known to be gone                                 */
    uint64_t        scan_at;    /* look for ended threads when so many are alive                  */
    uint64_t        lost;       /* scopes without a recorder: no memory                           */
    uint64_t        cut_names;
    uint64_t        retired_bytes, retired_lost;
    perf_recorder_ *recorders;
    perf_recorder_ *by_thread[256];
    perf_name_    **names;      /* by id; old tables stay readable, so readers need no lock       */
    uint32_t        count, room;
    perf_name_    **by_hash;    /* [hash_room], a power of two, at least `count`                  */
    char           *pool, *pool_end;
    perf_kept_loop_     *results;    /* atomic list head: loops, finished or running              */
    perf_said_     *said;       /* each once: the image that holds it may be unloaded             */
    uint64_t      (*custom)(void);
    char           *retired;    /* perf_retired_ ..., `retired_bytes` of them                     */
    perf_mark_     *marks;      /* newest first                                                   */
    perf_spent_     spent;      /* by the process, at the start or the last reset                 */
    perf_pair_      made;       /* when that was: the origin of the trace                         */
    struct perf_stream_base_ *stream;        /* atomic; NULL: never streamed                      */
    uint32_t        forked;     /* the process whose clean-up after a fork was begun              */
    uint32_t        bad_variant;        /* PERF_VARIANT named one that does not exist             */
    const perf_sink_ *sink;
    void           *gpu;        /* what perf_cuda.h keeps                                         */
    struct perf_source_ *sources;       /* who else has durations to tell                         */
    void (*put_marks)(struct perf_out_ *, struct perf_registry_ *);     /* of perf_memory.h       */
    void (*put_diagnosis)(struct perf_out_ *, int form);                /* of perf_diagnosis.h    */
    struct perf_family_ *family;        /* NULL: never forked, or no memory for it                */
    struct perf_member_ *member;        /* this process in it; NULL: the one that began           */
    uint32_t        reading;    /* who goes through `retired` now                                 */
    uint32_t        hash_room;
    uint64_t        reset;      /* ticks of the last one                                          */
    uint32_t        loop_readers;       /* who goes through `results` now                         */
    uint32_t        forking;    /* 1: in a fork; the first handler in the child clears it         */
    uint32_t        child;      /* 1: a fork has made this process, whether it is a member or not */
    uint32_t        heard;      /* not 0: somebody looks at PERF_REPORT and PERF_TRACE at the     */
                                /* end, see perf_others_tell_                                     */
    uint32_t        heard_stream;       /* the same of PERF_TRACE_STREAM                          */
    uint32_t        started;    /* 1: by another process, which has PERF_TRACE's file; 2: by one  */
                                /* that has PERF_TRACE_STREAM's, or has it from before an exec    */
    uint64_t        trace_inode;        /* of the file that PERF_TRACE names: as it began, or     */
                                        /* as saved by this process; 0: none                      */
    uint32_t        heard_more;         /* somebody looks at 1 PERF_CUPTI, 2 PERF_COUNTERS, 8     */
                                /* PERF_ROCPROFILER; 4: a note says that scopes cannot count      */
} perf_registry_;

/* What is missing from the numbers, and why: the PERF_LOSS_ of all threads, and of the process. */
enum { PERF_LOSS_CUT_ = PERF_LOSSES_, PERF_LOSS_OVERWRITTEN_, PERF_LOSS_UNSENT_, PERF_LOSS_ALL_ };
typedef struct perf_losses_ {
    uint64_t n[PERF_LOSS_ALL_];
} perf_losses_;

PERF_COLD_FN_ void perf_fail_(perf_registry_ *reg, perf_status why)
{
    (void)perf_claim_(&reg->error, PERF_OK, PERF_CAST_(uint32_t, why));
}

/* Scopes that are open in a thread, with recursive calls. */
PERF_FN uint32_t perf_depth_(const perf_recorder_ *rec)
{
    uint64_t          extra = PERF_GET_(&rec->extra);
    const perf_cell_ *open = PERF_ACQ_(&rec->open);     /* nvcc 13.0 crashes without the variable */

    return open->depth + PERF_CAST_(uint32_t, extra);
}

PERF_COLD_FN_ perf_label_ perf_label_of_(perf_name_ *name, uint32_t type, uint64_t bits)
{
    perf_label_ label = {name->site.name, name, name->kind, type, bits};

    return label;
}

/* Calls the sink, unless this thread is inside it: what its tool marks itself is no range. */
#define PERF_SINK_(rec, call)                                                                     \
    if (!(rec)->sinking) {                                                                        \
        (rec)->sinking = 1;                                                                       \
        call;                                                                                     \
        (rec)->sinking = 0;                                                                       \
    }

/* Is `member` a child of this process, or of one of its children, and not forgotten? */
PERF_COLD_FN_ int perf_member_ours_(const perf_registry_ *reg, const perf_member_ *member)
{
    const perf_member_ *above = member->parent;

    while (above && above != reg->member)
        above = above->parent;
    return member != reg->member && above == reg->member && !PERF_GET_(&member->forgotten);
}

#if PERF_NOTES_
extern int perf_dladdr_(const void *, const char **) __asm__(PERF_SYM_("dladdr"))
    PERF_ATTR_((__weak__));         /* as perf_dlopen_ */

/* Keeps this image loaded, as others call into it from now on.  Without dlopen in the process
 * nothing is ever unloaded, and the program itself cannot be opened.                             */
PERF_COLD_FN_ void perf_image_pin_(void)
{
    const char *info[4] = {PERF_NULL_, PERF_NULL_, PERF_NULL_, PERF_NULL_};     /* Dl_info        */

    if (perf_dlopen_ && perf_dladdr_ && perf_claim_(&perf_anchor_v1_.pinned, 0, 1) &&
        perf_dladdr_(&perf_anchor_v1_, info) && info[0])
        (void)perf_dlopen_(info[0], 0x1005);    /* RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE        */
}
#else
#define perf_image_pin_() PERF_CAST_(void, 0)
#endif

/* ---- what the process, or a thread, has used ---- */

/* What the process (who 0) or this thread (1) has used since `before`, NULL: ever; all 0: not
 * known.                                                                                         */
PERF_COLD_FN_ perf_spent_ perf_spent_since_(const perf_spent_ *before, int who)
{
    perf_spent_ now = PERF_ZERO;
#if defined(__linux__) && PERF_LP64_UNIX_
    struct perf_usage_ usage;

    if (!perf_getrusage_(who, &usage)) {
        now.ns = perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
        now.cpu_ns = perf_system_ns_(PERF_CLOCK_PROCESS_ID_ + who);
        now.switches = PERF_CAST_(uint64_t, usage.nivcsw);
        now.waits = PERF_CAST_(uint64_t, usage.nvcsw);
        if (before) {
            now.ns -= before->ns;
            now.cpu_ns -= before->cpu_ns;
            now.switches -= before->switches;
            now.waits -= before->waits;
        }
    }
#endif
    (void)before, (void)who;
    return now;
}

/* ---- forked children: what they record is seen by their parents, see perf_family_ ---- */

#if defined(__linux__) && PERF_LP64_UNIX_ && !PERF_TCC_
/* Zeroed bytes of the block; NULL: there is no room, which is counted. */
PERF_COLD_FN_ void *perf_family_take_(perf_family_ *family, size_t bytes)
{
    uint64_t size = (bytes + 63) & ~UINT64_C(63), at = family->bytes;

    if (PERF_GET_(&family->used) < at)
        at = __atomic_fetch_add(&family->used, size, 0);
    if (at + size <= family->bytes)
        return PERF_PTR_(char *, family) + at;
    (void)__atomic_fetch_add(&family->full, 1, 0);
    return PERF_NULL_;
}

/* A child's place in its family, made when it first takes the lock.  Without room it begins another
 * family: else it would take its parent's children for its own.                                  */
PERF_COLD_FN_ void perf_member_make_(perf_registry_ *reg)
{
    perf_family_ *family = PERF_ACQ_(&reg->family);
    perf_member_ *member, *first;

    reg->pool = reg->pool_end = PERF_NULL_;     /* its own names are for parents to read          */
    if (!family)
        return;
    member = PERF_CAST_(perf_member_ *, perf_family_take_(family, sizeof *member));
    if (member) {
        member->parent = reg->member;
        member->inherited = reg->count;
        first = PERF_ACQ_(&family->members);
        do
            member->next = first;
        while (!__atomic_compare_exchange_n(&family->members, &first, member, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE));
    } else {
        PERF_REL_(&reg->family, PERF_CAST_(perf_family_ *, PERF_NULL_));
    }
    reg->member = member;
}

#define PERF_CHILD_STEP_ 16384          /* bytes that a child's pools grow by                     */

/* Memory for a pool, *step bytes.  A child takes `bytes`, where its parents can read them, and
 * sets *step to what it has taken.                                                               */
PERF_COLD_FN_ void *perf_pool_pages_(perf_registry_ *reg, size_t bytes, size_t *step, int wipe)
{
    void *memory = PERF_NULL_;

    if (reg->member) {
        if (bytes < PERF_CHILD_STEP_)
            bytes = PERF_CHILD_STEP_;
        memory = perf_family_take_(reg->family, bytes);
    }
    if (!memory)
        return perf_pages_(*step, wipe);
    *step = bytes;
    return memory;
}
#else
#define perf_member_make_(r)                   PERF_CAST_(void, (r))
#define perf_pool_pages_(r, bytes, step, wipe) (PERF_CAST_(void, r), perf_pages_(*(step), wipe))
#endif

/* `bytes` more of a pool that grows by `step`; never given back. */
PERF_COLD_FN_ void *perf_pool_(perf_registry_ *reg, char **pool, char **end, size_t bytes,
                               size_t step, int wipe)
{
    char *at;

    bytes = (bytes + 63) & ~PERF_CAST_(size_t, 63);
    if (!*pool || PERF_CAST_(size_t, *end - *pool) < bytes) {
        if (step < bytes)
            step = bytes;
        at = PERF_CAST_(char *, perf_pool_pages_(reg, bytes, &step, wipe));
        if (!at)
            return PERF_NULL_;
        *pool = at;
        *end = at + step;
    }
    at = *pool;
    *pool += bytes;
    return at;
}

/* Memory of the registry, all 0; NULL: none.  The lock is held. */
PERF_COLD_FN_ void *perf_forever_(perf_registry_ *reg, size_t bytes)
{
    return perf_pool_(reg, &reg->pool, &reg->pool_end, bytes, 65536, 0);
}

#define PERF_ROOM_STEP_ 262144
#define PERF_HUGE_PAGE_ (UINT64_C(2) << 20)
#define PERF_HUGE_FROM_ PERF_HUGE_PAGE_         /* bytes of a thread's pool before huge pages     */

#if defined(__linux__) && PERF_LP64_UNIX_
/* Gives the thread's pool a huge page, if the system has any, when it has used 2 MB: small programs
 * never come here.  Cells of thousands of places lie in few of them: each call finds its own with
 * fewer misses of the TLB.                                                                       */
PERF_COLD_FN_ void perf_room_huge_(perf_recorder_ *rec, size_t bytes)
{
    char *at;
    int   errno_before = PERF_ERRNO_;

    if (rec->home->member || PERF_CAST_(size_t, rec->pool_end - rec->pool) >= bytes ||
        rec->pooled < PERF_HUGE_FROM_ || bytes > PERF_HUGE_PAGE_)
        return;
    at = PERF_CAST_(char *, perf_pages_(2 * PERF_HUGE_PAGE_, 1));
    if (!at)
        return;
    at += (0 - PERF_PTR_(uintptr_t, at)) & (PERF_HUGE_PAGE_ - 1);
    (void)perf_madvise_(at, PERF_HUGE_PAGE_, 14);       /* refused: ordinary pages                */
    PERF_ERRNO_ = errno_before;
    rec->pool = at;
    rec->pool_end = at + PERF_HUGE_PAGE_;
}
#else
#define perf_room_huge_(t, bytes) PERF_CAST_(void, (t))
#endif

/* The same from the recorder of the calling thread, after perf_grow_begin_. */
PERF_COLD_FN_ void *perf_room_(perf_recorder_ *rec, size_t bytes)
{
    rec->pooled += bytes;
    perf_room_huge_(rec, (bytes + 63) & ~PERF_CAST_(size_t, 63));
    return perf_pool_(rec->home, &rec->pool, &rec->pool_end, bytes, PERF_ROOM_STEP_, 1);
}

/* ---- the lock, and who inherits it ---- */

/* The child of a fork starts clean.  Its recorders were wiped (then the list ends at the first
 * one), or each starts over when it next begins a scope.                                         */
PERF_COLD_FN_ void perf_forked_(perf_registry_ *reg, uint32_t process)
{
    perf_recorder_ *rec;

    for (rec = reg->recorders; rec; rec = reg->recorders) {
        reg->recorders = rec->next;
        PERF_LIBC_(memset)(rec, 0, sizeof *rec);
    }
    PERF_LIBC_(memset)(reg->by_thread, 0, sizeof reg->by_thread);
    reg->threads = reg->alive = reg->lost = reg->cut_names = reg->retired_bytes =
        reg->retired_lost = 0;
    reg->scan_at = 64;
    reg->retired = PERF_NULL_;
    reg->reading = 0;
    reg->loop_readers = 0;
    reg->marks = PERF_NULL_;
    reg->gpu = PERF_NULL_;
    reg->sources = PERF_NULL_;                  /* added again when next used                     */
    reg->error = PERF_OK;
    reg->spent = perf_spent_since_(PERF_NULL_, 0);
    reg->child = 1;
    perf_member_make_(reg);
    if (reg->stream)                            /* the child's next flush opens a file of its own */
        reg->stream->unsent = 0;
    PERF_SET_(&reg->lock, 0u);
    PERF_REL_(&reg->process, process);          /* last: other threads of the child wait for it   */
}

/* Takes the lock; only first uses and reports come here.  In the child of a fork the first one
 * starts the registry anew.  0: this very thread is inside already (a scope in a signal handler or
 * in the user's own mmap); the caller then gives up and counts.                                  */
PERF_COLD_FN_ int perf_lock_(perf_registry_ *reg)
{
    const uint32_t process = perf_process_id_();
    uint32_t       owner, cleaner;

    while ((owner = PERF_ACQ_(&reg->process)) != process) {
#if defined(__linux__) && !PERF_TCC_            /* a fork has set it to 0, or wiped all threads   */
        if (owner && PERF_ACQ_(&reg->recorders) && (*PERF_ACQ_(&reg->recorders)).home)
            return 0;                           /* the child of vfork: its parent's memory        */
#endif
        cleaner = PERF_GET_(&reg->forked);      /* a child may have many threads: one does it     */
        if (cleaner != process && perf_claim_(&reg->forked, cleaner, process))
            perf_forked_(reg, process);
    }
    return perf_lock_word_(&reg->lock, 1);
}

PERF_END_DECLS

#if !PERF_ONE_CORE_ && !defined(PERF_CALIBRATION_H) && !defined(PERF_LAYOUT_H)
#include "perf_record.h"        /* see perf_scope.h                                               */
#endif
#endif /* PERF_REGISTRY_H */
