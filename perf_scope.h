/* perf_scope.h - marks what is timed: scopes, laps, spans, counters.
 *
 *     #include "perf_scope.h"
 *     void load(void)
 *     {
 *         PERF_SCOPE("load");                  // time from here to the end of this block
 *     }
 *
 * A file that only marks needs no more than this header.  Some other file of the program includes
 * perf.h and reads: perf_report(), perf_trace_save(), PERF_AT_EXIT, perf_enable(), any call of
 * perf_record.h and what is built on it.  That file brings the core; the marks of all files and of
 * all shared objects find it, in whatever order they are loaded.  Where nobody reads, a mark costs
 * one compare and nothing is kept.  PERF_DISABLE=1: not even that.  With PERF_AT_EXIT 1 above it,
 * this header brings perf_report.h.
 * Sections (search for ">>"):  scopes  internal  private  off  c++
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_SCOPE_H
#define PERF_SCOPE_H

#include "perf_core.h"

PERF_BEGIN_DECLS

/* >>scopes ------------------------------------------------------------------------------------
 *     PERF_SCOPE("decode");          a statement: times from here to the end of the block
 *     PERF_FUNCTION();               the same, named after the function
 *     perf_scope s = perf_scope_begin("decode");  ...  perf_scope_end(&s);
 *
 * Names of the macros are literals; perf_scope_begin takes any text.  A goto or a case label must
 * not jump past a PERF_SCOPE into its block: gcc, clang and C++ refuse it, tcc does not see it.
 * Give the scope braces of its own.
 * Any thread, any depth, recursion (inclusive time counts the outermost call once), early return,
 * exceptions; a longjmp or a forgotten end leaves its time in the scope around it and is counted.
 * With no scope around the setjmp later calls of what it left count as recursive: put one there.
 * Scopes of one name are one row in the report.  A hot scope costs 1 to 1.4 times what reading the
 * counter twice costs (README.md); calls never fail visibly, print or throw, and allocate only when
 * a thread or name is new: what went wrong is kept, see perf_error() and the report's notes.     */

typedef struct perf_scope {     /* an open scope; every field private                             */
    uint64_t               start;   /* ticks                                                      */
    struct perf_recorder_ *rec;     /* NULL: not recording                                        */
    struct perf_cell_     *open;    /* its cell, or PERF_COLD_END_, with the two below            */
    struct perf_cell_     *cell;
    struct perf_cell_     *outer;   /* what was open at the begin                                 */
    uint64_t               inside;  /* time inside that one then                                  */
    uint32_t               depth;   /* ~0: begun by name, not recording                           */
} perf_scope;

/* Opens a scope called `name`: any string, copied when first seen; NULL reads "(null)".  Names
 * longer than 255 bytes are cut.  Where PERF_SCOPE fits it is cheaper and cannot be forgotten.   */
PERF_FN perf_scope perf_scope_begin(const char *name);

/* The same for a wait for data, as PERF_WAIT: the report shows its share. */
PERF_FN perf_scope perf_wait_begin(const char *name);

/* Closes it.  A second end and an end without begin do nothing but are counted; NULL: nothing. */
PERF_FN void perf_scope_end(perf_scope *scope);

/* Phases of a loop, one reading of the counter each: PERF_LAP(&lap, "parse") closes what has
 * passed since perf_lap_begin() or the last PERF_LAP, which the same thread must have called.  A
 * phase is not counted if recording was off at either end.                                       */
typedef struct perf_lap {
    uint64_t               start, inside, calls, total;     /* private                            */
    struct perf_recorder_ *rec;
    struct perf_cell_     *open;
} perf_lap;
PERF_FN perf_lap perf_lap_begin(void);  /* starts the clock of the first phase                    */

/* PERF_LAP for names made at run time, and for Cython: name as for scopes.  NULL lap: nothing. */
PERF_FN void perf_lap_end(perf_lap *lap, const char *name);

/* A span that begins in one thread and may end in another, or overlap others: a request, a copy in
 * flight.  The struct may be copied and passed on; the end counts in the thread that calls it.
 * `id` tells spans of one name apart in the trace; 0 gives a fresh one.                          */
typedef struct perf_async {
    uint64_t start, id, range;                  /* private                                        */
    uint32_t name, open;
} perf_async;
PERF_FN perf_async perf_async_begin(const char *name, uint64_t id);     /* name as for scopes     */
PERF_FN void       perf_async_end(perf_async *span);        /* a second end: counted; NULL: not   */

/* The value of something now (queue length, bytes in flight): last, mean, extremes in the report,
 * a curve in the trace; name as for scopes.  NaN is counted as misuse.  PERF_COUNT is cheaper.   */
PERF_FN void perf_count(const char *name, double value);

/* A moment worth seeing in the trace; name as for scopes. */
PERF_FN void perf_instant(const char *name);

/* The same with a number or a text, for the scope that is open: how many rows, which file.  Texts
 * are copied, and cut to 63 bytes; NULL reads "(null)".                                          */
PERF_FN void perf_scope_value(const char *name, double value);
PERF_FN void perf_scope_text(const char *name, const char *text);

typedef struct perf_fiber {             /* the open scopes of a coroutine                         */
    struct perf_recorder_ *rec;         /* private                                                */
    struct perf_cell_     *open;
    uint64_t               calls, left;
} perf_fiber;

/* Coroutines: call it right before the switch.  `from` keeps the scopes that are open now, `to`
 * brings back its own; both start as PERF_ZERO, also that of the thread's own stack.  A scope that
 * waits has what runs meanwhile in its total, not in its self time; on the time line all share the
 * line of their thread.  A fibre that has moved to another thread begins anew there.             */
PERF_FN void perf_fiber_switch(perf_fiber *from, perf_fiber *to);

/* What the trace calls this thread; copied, cut to 31 bytes; NULL takes the name away. */
PERF_FN void perf_thread_name(const char *name);

/*     PERF_WAIT("read")              a scope that waits for data: its share is in the report, which
 *                                    says so from 30 % of the main thread on; for a lock,
 *                                    mutex or barrier where its name speaks of one
 *     PERF_COUNT("queue", n)  PERF_INSTANT("flush")  PERF_LAP(&lap, "parse")
 *     PERF_SCOPE_VALUE("rows", n)  PERF_SCOPE_TEXT("file", path)                                 */
#define PERF_NOTHING_ PERF_CAST_(void, 0)
#if PERF_DISABLE
#define PERF_SCOPE(name)            PERF_NOTHING_
#define PERF_FUNCTION()             PERF_NOTHING_
#define PERF_WAIT(name)             PERF_NOTHING_
#define PERF_LAP(lap, name)         PERF_CAST_(void, sizeof(lap))
#define PERF_COUNT(name, value)     PERF_CAST_(void, sizeof(value))
#define PERF_INSTANT(name)          PERF_NOTHING_
#define PERF_SCOPE_VALUE(name, n)   PERF_CAST_(void, sizeof(n))
#define PERF_SCOPE_TEXT(name, text) PERF_CAST_(void, sizeof(text))
#else                           /* PERF_LITERAL_: the name; an error if it is no literal          */
#define PERF_SCOPE(name)                                                                          \
    PERF_ONLY_LITERAL_(name) PERF_SCOPE_OF_(PERF_LITERAL_(name), PERF_KIND_SCOPE_, __COUNTER__)
#define PERF_FUNCTION()             PERF_SCOPE_OF_(__func__, PERF_KIND_SCOPE_, __COUNTER__)
#define PERF_WAIT(name)                                                                           \
    PERF_ONLY_LITERAL_(name) PERF_SCOPE_OF_(PERF_LITERAL_(name), PERF_KIND_WAIT_, __COUNTER__)
#define PERF_LAP(lap, name)                                                                       \
    PERF_AT_SITE_(name, PERF_KIND_SCOPE_, perf_lap_mark_(lap, &perf_site_here_))
#define PERF_COUNT(name, value)                                                                   \
    PERF_AT_SITE_(name, PERF_KIND_COUNT_, perf_count_at_(&perf_site_here_, value))
#define PERF_INSTANT(name)                                                                        \
    PERF_AT_SITE_(name, PERF_KIND_INSTANT_,                                                       \
                  perf_instant_at_(&perf_site_here_, PERF_NULL_, PERF_NULL_))
#define PERF_SCOPE_VALUE(name, n)   perf_scope_value("" name "", n)
#define PERF_SCOPE_TEXT(name, text) perf_scope_text("" name "", text)
#endif

enum {                          /* what a mark is                                                 */
    PERF_KIND_SCOPE_,
    PERF_KIND_WAIT_,
    PERF_KIND_ASYNC_,
    PERF_KIND_COUNT_,
    PERF_KIND_INSTANT_,
    PERF_KIND_SYNC_,            /* a scope that waits for a device                                */
    PERF_KIND_DEVICE_,          /* time of a device: its work, ...                                */
    PERF_KIND_IN_,              /* ... and what it copies in,                                     */
    PERF_KIND_OUT_,             /* out,                                                           */
    PERF_KIND_COPY_             /* within                                                         */
};

/* A name that is no literal ends the compilation with a sentence, not with a syntax error.  In C it
 * is the name of a bit-field: glibc redefines _Static_assert before C11.                         */
#if PERF_TCC_
#define PERF_ONLY_LITERAL_(name)
#define PERF_LITERAL_(name) "" name ""
#elif defined(__cplusplus)
#define PERF_ONLY_LITERAL_(name)                                                                  \
    static_assert(__builtin_constant_p(name), "perf.h: this name must be a literal; "             \
                  "perf_scope_begin() and its kin take names made at run time");
#define PERF_LITERAL_(name) name
#else
#define PERF_ONLY_LITERAL_(name)
#define PERF_LITERAL_(name)                                                                       \
    __extension__(__builtin_choose_expr(__builtin_constant_p(name), name, "") +                   \
                  0 * sizeof(struct {                                                             \
                      int this_name_must_be_a_literal_but_perf_scope_begin_takes_any              \
                          : __builtin_constant_p(name) ? 1 : -1;                                  \
                  }))
#endif

/* Two variables: the scope lives in memory, the pointer to it in a register.  So a scope that is
 * switched off costs one compare; with one variable the end would have to read it back.
 * PERF_OPEN_ declares the pointer: at the end of the block perf_end_ gets it, unless it is NULL. */
#define PERF_SCOPE_OF_(name, kind, n)                                                             \
    PERF_SITE_(PERF_CAT_(perf_site_, n), name, kind)                                              \
    perf_scope PERF_CAT_(perf_here_, n);                                                          \
    PERF_OPEN_(PERF_CAT_(perf_open_, n),                                                          \
               PERF_ON_() ? perf_begin_(&PERF_CAT_(perf_here_, n), &PERF_CAT_(perf_site_, n))     \
                          : PERF_NULL_)
#define PERF_SITE_(site, name, kind)  /* a static object; 0: the name has no number yet */        \
    static perf_site_ site = {name, __FILE__, __LINE__ | kind << 24, 0};                          \
    PERF_NO_JUMP_(PERF_CAT_(no_jump_past_the_scope_, site), site)
#if defined(__cplusplus)
#define PERF_GUARD_            PERF_CAT_(perf_scope_guard_, PERF_VERSION)
#define PERF_OPEN_(open, begun) const PERF_GUARD_ open(begun)
#else
#define PERF_OPEN_(open, begun)                                                                    \
    perf_scope *const open PERF_ATTR_((__cleanup__(perf_guard_ends_), __unused__)) = begun
#endif

/* A goto or a case label that jumps past a scope would end one that never began.  C++ and clang
 * refuse it; so does gcc where the jump enters the scope of a type of variable size.  That type
 * costs nothing from -O1 on.                                                                     */
#if defined(__cplusplus) || defined(__clang__) || PERF_TCC_
#define PERF_NO_JUMP_(type, site)
#else
#define PERF_NO_JUMP_(type, site)                                                                 \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wvla\"")                    \
    typedef char type[(site).line] PERF_ATTR_((__unused__));                                      \
    _Pragma("GCC diagnostic pop")
#endif

#define PERF_AT_SITE_(name, kind, call)                                                           \
    do {                                                                                          \
        PERF_ONLY_LITERAL_(name)                                                                  \
        static perf_site_ perf_site_here_ = {PERF_LITERAL_(name), __FILE__,                       \
                                             __LINE__ | kind << 24, 0};                           \
        call;                                                                                     \
    } while (0)

/* >>internal: what other headers may use -------------------------------------------------------
 * A thread's recorder, cells and ring are written by that thread alone, and its signal handlers;
 * others read them with PERF_GET_ and PERF_ACQ_.  Any thread may call what names none.
 *   PERF_SITE_, PERF_KIND_*_  what a mark says, and what it is; no goto jumps past it
 *   perf_begin_, perf_end_  a scope without a macro; the first gives NULL: not recorded
 *   PERF_SCOPE_OF_  a scope of some kind; perf_quick_cell_at_  its cell
 *   perf_bucket_index_  the bucket of a duration; perf_bucket_add_  counts it, up to PERF_LATE_
 *       scopes later, after perf_late_step_
 *   perf_entries_put_  several entries of the trace's ring side by side
 *   perf_event_hot_  an event, where there is a trace                                            */

/* >>private: bodies, in the order of the prototypes; callers above what they call ---------------
 * PERF_GET_, PERF_PEEK_ and PERF_ACQ_ load, PERF_SET_, PERF_REL_ and PERF_ADD_ store what other
 * threads or signal handlers look at, too: plain instructions on x86-64.                         */

/* ---- one scope: its begin ---- */

PERF_FN perf_cell_ **perf_quick_cell_at_(const perf_recorder_ *rec, perf_cell_ **table,
                                         const perf_cell_ *open, uintptr_t id);
PERF_COLD_DECL_ perf_scope *perf_begin_other_(perf_scope *scope, perf_site_ *site);

/* Begins the scope of a PERF_SCOPE; NULL: it is not recorded.  perf_begin_other_ is called last,
 * so this function needs no frame: six instructions.  `quick` has a cell at each place, found by a
 * hash of name and caller: it may be the cell of others.                                         */
PERF_OUTLINE_FN_ perf_scope *perf_begin_(perf_scope *scope, perf_site_ *site)
{
    perf_recorder_ *rec = PERF_SELF_;           /* of this thread; NULL: none yet                 */
    uintptr_t       id = PERF_GET_(&site->id);  /* of the name; 0: none yet                       */
    perf_cell_    **quick = rec ? PERF_PEEK_(rec->quick) : PERF_NULL_, *cell;

    if (PERF_UNLIKELY_(!quick))
        return perf_begin_other_(scope, site);
    cell = *perf_quick_cell_at_(rec, quick, rec->open, id);
    if (PERF_UNLIKELY_(cell->parent != rec->open || perf_cell_id_(cell) != id))
        return perf_begin_other_(scope, site);
    PERF_SET_(&scope->open, cell);
    PERF_SET_(&scope->rec, rec);
    PERF_REL_(&rec->open, cell);
    scope->start = perf_ticks();
    return scope;
}

/* Where `table` has name `id` under `open`; there stands their cell, another one, or the root.
 * Cells lie 64 bytes apart: eight names have places of their own before they meet those of the
 * next cell.                                                                                     */
PERF_INLINE_FN_ perf_cell_ **perf_quick_cell_at_(const perf_recorder_ *rec, perf_cell_ **table,
                                                 const perf_cell_ *open, uintptr_t id)
{
    return PERF_PTR_(perf_cell_ **, PERF_PTR_(uintptr_t, table) +
                     ((PERF_PTR_(uintptr_t, open) + sizeof *table * id) & rec->quick_mask));
}

#if PERF_TCC_
#define PERF_SELF_AT_ PERF_NULL_
#else
#define PERF_SELF_AT_ &perf_self_v1_
#endif

/* Begins what perf_begin_ cannot: a name that is new here, or that is open already (recursion).
 * core->begin is perf_core_begin_ of perf_record.h.                                              */
PERF_COLD_FN_ perf_scope *perf_begin_other_(perf_scope *scope, perf_site_ *site)
{
    const perf_core_ *core = perf_core_get_();

    if (!core)
        return PERF_NULL_;
    return core->begin(scope, site, PERF_SELF_AT_, PERF_CLOCK != PERF_CLOCK_MONOTONIC);
}

/* ---- one scope: its end ---- */

PERF_COLD_DECL_ void perf_end_(perf_scope *scope);
PERF_FN int perf_late_step_(perf_recorder_ *rec);
PERF_FN void perf_bucket_add_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks);
PERF_FN uint64_t perf_bucket_index_(uint64_t ticks);
PERF_FN void perf_event_hot_(perf_recorder_ *rec, uint64_t start, uint64_t what);

#if defined(__cplusplus)
struct PERF_GUARD_ {
    perf_scope *const scope;
    PERF_OURS_ explicit PERF_GUARD_(perf_scope *begun) : scope(begun)
    {
    }
    PERF_GUARD_(const PERF_GUARD_ &) = delete;
    PERF_GUARD_ &operator=(const PERF_GUARD_ &) = delete;
    PERF_OURS_ ~PERF_GUARD_()
    {
        if (scope)
            perf_end_(scope);
    }
};
#else
PERF_INLINE_FN_ void perf_guard_ends_(perf_scope *const *open)
{
    if (*open)
        perf_end_(*open);
}
#endif

#if PERF_ONE_CORE_
#define perf_core_known_() (&*PERF_GET_(&perf_anchor_v1_.core))  /* there is one: it began this  */
#else
#define perf_core_known_ perf_core_get_
#endif

/* Ends a scope.  The first of a cell, and what else has no counter yet, goes to core->end, which is
 * perf_core_end_ of perf_record.h.  Most of this runs while the counter is read, which takes 40
 * cycles.                                                                                        */
PERF_OUTLINE_FN_ void perf_end_(perf_scope *scope)
{
    perf_recorder_ *rec = scope->rec;
    perf_cell_     *cell = scope->open, *outer;
    uint64_t        end = perf_ticks(), ticks = end - scope->start;

#if defined(__cpp_impl_coroutine)       /* one may end its scopes in the thread that resumes it   */
    if (PERF_UNLIKELY_(rec != PERF_SELF_)) {
        perf_core_known_()->end(scope, end);
        return;
    }
#endif
    if (PERF_UNLIKELY_(rec->open != cell || ticks - cell->low > cell->width ||
                       perf_late_step_(rec))) {
        perf_core_known_()->end(scope, end);    /* also after a fork, where rec->open is NULL     */
        return;
    }
    outer = cell->parent;
    PERF_REL_(&rec->open, outer);
    PERF_ADD_(cell->count, 1);
    PERF_ADD_(cell->sum, ticks);
    PERF_ADD_(outer->inside, ticks);
    perf_bucket_add_(rec, cell, ticks);
    perf_event_hot_(rec, scope->start, ticks | cell->tag);
}

/* Counts one more duration; comes before each perf_bucket_add_.  1: counters may be half full, so
 * the core has to look at them.                                                                  */
PERF_INLINE_FN_ int perf_late_step_(perf_recorder_ *rec)
{
#if defined(PERF_ADD_ASM_) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    int half;

    __asm__("add{l $1, %0| dword ptr %0, 1}" : "+m"(rec->late_next), "=@ccs"(half) : : "cc");
    return half;
#else
    return (rec->late_next += 1) >> 31 != 0;
#endif
}

/* Puts the bucket of a duration into `late`, and counts the one that stood there: the duration of
 * PERF_LATE_ scopes ago.  One word changes at a time.  So a signal handler in between has at worst
 * one of its scopes counted in the bucket before.                                                */
PERF_INLINE_FN_ void perf_bucket_add_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks)
{
    uint32_t  i = rec->late_next % PERF_LATE_;
    uint32_t *bucket = &PERF_PTR_(uint32_t *, cell->bucket)[perf_bucket_index_(ticks)];

    PERF_ADD_(*rec->late[i], 1);
#if !PERF_TCC_
    __builtin_prefetch(bucket, 1);              /* which will be written                          */
#endif
    PERF_SET_(&rec->late[i], bucket);
}

/* The bucket of a duration, 2^PERF_CELL_BITS_ = 32 an octave: the exponent of `ticks` as a double,
 * and the first bits of its mantissa.                                                            */
PERF_INLINE_FN_ uint64_t perf_bucket_index_(uint64_t ticks)
{
    return perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, ticks))) >> (52 - PERF_CELL_BITS_);
}

/* ---- the trace's ring ----
 *
 * Its thread alone writes it, but a signal handler may interrupt that thread at any instruction.
 * What lies between ring_head and ring_next is taken, and not yet published.  A writer that finds
 * the two equal takes room at ring_head, writes, and publishes all that is taken by then.  One that
 * finds them different is a handler that has interrupted another writer.  It takes room and writes,
 * too, and leaves the publishing to that writer.                                                 */
#if PERF_TCC_
#define PERF_HANDLERS_HERE_(rec)
#define PERF_RING_CLAIM_(word, at, next) (*(word) = (next), 1)
#else                   /* a handler may come here: the compiler moves nothing past this point,   */
                        /* and keeps no address of what lies in `rec`                             */
#define PERF_HANDLERS_HERE_(rec) __asm__ __volatile__("" : "+r"(rec) : : "memory")
#define PERF_RING_CLAIM_(word, at, next) __atomic_compare_exchange_n(word, at, next, 0, 0, 0)
#endif

PERF_FN void perf_entry_(perf_recorder_ *rec, uint64_t at, uint64_t start, uint64_t what);
PERF_FN void perf_ring_publish_(perf_recorder_ *rec);

/* Writes an event, if the ring has room and no writer is interrupted; else the core does.  A
 * handler that comes before the addition has published and is gone; one that comes after it leaves
 * ring_head as it is.                                                                            */
PERF_INLINE_FN_ void perf_event_hot_(perf_recorder_ *rec, uint64_t start, uint64_t what)
{
    const uint64_t head = rec->ring_head;

    what += rec->deeper;
    if (PERF_LIKELY_(head < PERF_PEEK_(rec->ring_limit) && head == PERF_PEEK_(rec->ring_next))) {
        PERF_ADD_(rec->ring_next, sizeof(perf_event_));
        PERF_HANDLERS_HERE_(rec);
        perf_entry_(rec, PERF_GET_(&rec->ring_head), start, what);
        perf_ring_publish_(rec);
    } else if (PERF_PEEK_(rec->ring_mask)) {
        perf_core_known_()->event(rec, start, what);
    }
}

PERF_INLINE_FN_ void perf_entry_(perf_recorder_ *rec, uint64_t at, uint64_t start, uint64_t what)
{
    const uintptr_t offset = PERF_CAST_(uintptr_t, at & rec->ring_mask);
    perf_event_    *event = PERF_PTR_(perf_event_ *, PERF_PTR_(uintptr_t, rec->ring) + offset);

    PERF_SET_(&event->start, start);
    PERF_SET_(&event->what, what);
}

PERF_INLINE_FN_ void perf_ring_publish_(perf_recorder_ *rec)
{
    uint64_t next;

    do {
        next = PERF_GET_(&rec->ring_next);
        PERF_REL_(&rec->ring_head, next);
        PERF_HANDLERS_HERE_(rec);               /* one that came before has left its own to us    */
    } while (PERF_UNLIKELY_(next != PERF_PEEK_(rec->ring_next)));
}

/* Takes room for n entries in one step, and returns where it begins.  A writer that interrupts no
 * other one sets ring_wide to the end of its room.                                               */
PERF_COLD_FN_ uint64_t perf_ring_take_(perf_recorder_ *rec, uint64_t n)
{
    uint64_t at, next;

    do {
        at = PERF_GET_(&rec->ring_next);
        next = at + n * sizeof(perf_event_);
        if (at == PERF_GET_(&rec->ring_head))
            PERF_SET_(&rec->ring_wide, next);
    } while (!PERF_RING_CLAIM_(&rec->ring_next, &at, next));
    return at;
}

/* Gives up the room of a writer that never comes back: its entries say nothing.  Publishes what
 * handlers have left to that writer.                                                             */
PERF_COLD_FN_ void perf_ring_settle_(perf_recorder_ *rec)
{
    uint64_t at = PERF_GET_(&rec->ring_head);

    if (at == rec->ring_next)
        return;
    do {
        perf_entry_(rec, at, 0, 0);
        at += sizeof(perf_event_);
    } while (at < rec->ring_wide && at < rec->ring_next);
    PERF_ADD_(rec->ring_more, 1);
    perf_ring_publish_(rec);
}

/* Writes n entries side by side, off the hot path, in a handler too.  A writer that a handler has
 * interrupted may never come back (siglongjmp).  So its room is given up when a sixteenth of the
 * ring, 4,096 entries, has been taken since; n 0: now.  If that writer does come back, its entry
 * is lost.  It takes more than 256 signals in a row, one each 20 us, on a machine that was slow
 * for a moment.                                                                                  */
PERF_INLINE_FN_ void perf_entries_put_(perf_recorder_ *rec, const perf_event_ *event, uint64_t n)
{
    const uint64_t at = perf_ring_take_(rec, n);
    uint64_t       head, i;

    PERF_HANDLERS_HERE_(rec);
    for (i = 0; i < n; i++)
        perf_entry_(rec, at + i * sizeof *event, event[i].start, event[i].what);
    head = PERF_GET_(&rec->ring_head);
    if (n && head == at)
        perf_ring_publish_(rec);
    else if (!n || rec->ring_next - head > rec->ring_mask / 16)
        perf_ring_settle_(rec);
}

/* ---- scopes by name ---- */

/* The core for a mark that is no scope; NULL: nothing is to be recorded. */
PERF_INLINE_FN_ const perf_core_ *perf_core_on_(void)
{
    return PERF_ON_() ? perf_core_get_() : PERF_NULL_;
}

/* The site of a name that is no static object; NULL: nothing is to be recorded. */
PERF_OUTLINE_FN_ perf_site_ *perf_site_named_(const char *name, uint32_t kind)
{
    const perf_core_ *core = perf_core_on_();

    return core ? core->find(name, kind) : PERF_NULL_;
}

PERF_INLINE_FN_ perf_scope perf_named_begin_(const char *name, uint32_t kind)
{
    perf_scope  scope = PERF_ZERO;
    perf_site_ *site = PERF_DISABLE ? PERF_NULL_ : perf_site_named_(name, kind);

    scope.depth = ~UINT32_C(0);                 /* so that the end is not taken for a stray one   */
    if (!PERF_DISABLE && site)                  /* nothing of it, at -O0 either                   */
        (void)perf_begin_(&scope, site);
    return scope;
}

PERF_FN perf_scope perf_scope_begin(const char *name)
{
    return perf_named_begin_(name, PERF_KIND_SCOPE_);
}

PERF_FN perf_scope perf_wait_begin(const char *name)
{
    return perf_named_begin_(name, PERF_KIND_WAIT_);
}

PERF_FN void perf_scope_end(perf_scope *scope)
{
    const perf_core_ *core;

    if (!scope)
        return;
    if (scope->rec && (PERF_TCC_ || PERF_SELF_ == scope->rec))
        perf_end_(scope);
    else if (scope->rec && (core = perf_core_get_()) != PERF_NULL_)
        core->end(scope, perf_ticks());
    else if (scope->depth != ~UINT32_C(0) && (core = perf_core_on_()) != PERF_NULL_)
        core->misuse();
    scope->rec = PERF_NULL_;
    scope->depth = 0;
}

/* ---- laps, spans, counters ---- */

PERF_FN perf_lap perf_lap_begin(void)
{
    const perf_core_ *core = perf_core_on_();
    perf_lap          lap = PERF_ZERO;

    if (core)
        core->lap_begin(&lap);
    return lap;
}

/* One reading closes a phase and opens the next.  Site NULL: nothing is recorded now. */
PERF_OUTLINE_FN_ void perf_lap_mark_(perf_lap *lap, perf_site_ *site)
{
    uint64_t          now = perf_ticks();
    const perf_core_ *core = lap && lap->rec && site ? perf_core_on_() : PERF_NULL_;

    if (core)
        core->lap(lap, site, now);
    else if (lap)                               /* what passes while it is off is in no phase     */
        *lap = perf_lap_begin();
}

PERF_FN void perf_lap_end(perf_lap *lap, const char *name)
{
    perf_lap_mark_(lap, perf_site_named_(name, PERF_KIND_SCOPE_));
}

/* `open` of a perf_async: 0 ended, 1 recorded, 2 recorded and in the sink, 3 not recorded. */
#define PERF_SPAN_OFF_ 3u

PERF_FN perf_async perf_async_begin(const char *name, uint64_t id)
{
    const perf_core_ *core = perf_core_on_();
    perf_async        span = PERF_ZERO;

    span.open = PERF_SPAN_OFF_;                 /* so that the end is not taken for a stray one   */
    if (core)
        core->async_begin(&span, name, id);
    return span;
}

PERF_FN void perf_async_end(perf_async *span)
{
    const perf_core_ *core = perf_core_get_();

    if (span && core && span->open != PERF_SPAN_OFF_)
        core->async_end(span);
    if (span)
        span->open = 0;
}

/* Tells the core of a mark, where there is one. */
#define PERF_TELL_(whom, when, call)                                                              \
    const perf_core_ *core = whom;                                                                \
    if (core && (when))                                                                           \
    core->call

PERF_OUTLINE_FN_ void perf_count_at_(perf_site_ *site, double value)
{
    PERF_TELL_(perf_core_on_(), site, count(site, value));
}

PERF_OUTLINE_FN_ void perf_instant_at_(perf_site_ *site, const char *text, const double *value)
{
    PERF_TELL_(perf_core_on_(), site, instant(site, text, value));
}

PERF_FN void perf_count(const char *name, double value)
{
    perf_count_at_(perf_site_named_(name, PERF_KIND_COUNT_), value);
}

PERF_FN void perf_instant(const char *name)
{
    perf_instant_at_(perf_site_named_(name, PERF_KIND_INSTANT_), PERF_NULL_, PERF_NULL_);
}

PERF_FN void perf_scope_value(const char *name, double value)
{
    perf_instant_at_(perf_site_named_(name, PERF_KIND_INSTANT_), PERF_NULL_, &value);
}

PERF_FN void perf_scope_text(const char *name, const char *text)
{
    perf_instant_at_(perf_site_named_(name, PERF_KIND_INSTANT_), text ? text : "(null)",
                     PERF_NULL_);
}

PERF_FN void perf_fiber_switch(perf_fiber *from, perf_fiber *to)
{
    PERF_TELL_(perf_core_get_(), from && to, fiber(from, to));
}

PERF_FN void perf_thread_name(const char *name)
{
    PERF_TELL_(perf_core_get_(), 1, thread_name(name));
}

/* >>off: with PERF_DISABLE=1 each call is looked at, and compiled to nothing ------------------ */

#if PERF_DISABLE
#define perf_scope_end(scope) PERF_OFF_((perf_scope_end)(scope))
#define perf_lap_end(lap, n)  PERF_OFF_((perf_lap_end)(lap, n))
#define perf_async_end(span)  PERF_OFF_((perf_async_end)(span))
#define perf_count(name, v)   PERF_OFF_((perf_count)(name, v))
#define perf_instant(name)    PERF_OFF_((perf_instant)(name))
#define perf_scope_value(name, value) PERF_OFF_((perf_scope_value)(name, value))
#define perf_scope_text(name, text)   PERF_OFF_((perf_scope_text)(name, text))
#define perf_fiber_switch(from, to)   PERF_OFF_((perf_fiber_switch)(from, to))
#define perf_thread_name(n)   PERF_OFF_((perf_thread_name)(n))
#endif

PERF_END_DECLS

#ifdef __cplusplus
/* >>c++: the linker merges members that a compiler leaves out of line, even of files with and
 * without PERF_DISABLE, or of two releases: so each has names of its own.                        */
#if PERF_DISABLE
#define PERF_MODE_ PERF_CAT_(off_, PERF_VERSION)
#else
#define PERF_MODE_ PERF_CAT_(on_, PERF_VERSION)
#endif
namespace perf {
inline namespace PERF_MODE_ {

/* perf::scope s("load"); times until the end of the block, for names made at run time too. */
class scope {
    perf_scope scope_;

public:
    PERF_OURS_ explicit scope(const char *name) : scope_(perf_scope_begin(name))
    {
        (void)name;
    }
    PERF_OURS_ ~scope()
    {
        perf_scope_end(&scope_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
};

} /* namespace PERF_MODE_ */
} /* namespace perf */
#endif

#if !PERF_ONE_CORE_ && !defined(PERF_REGISTRY_H)
#include "perf_record.h"        /* here every file that marks carries the core                    */
#endif
#if defined(PERF_AT_EXIT) && !defined(PERF_H_RECORDS) && !defined(PERF_REGISTRY_H)
#if PERF_AT_EXIT
#include "perf_report.h"        /* who asks for a report at the end gets what makes it            */
#endif
#endif
#endif /* PERF_SCOPE_H */
