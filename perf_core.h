/* perf_core.h - what is kept of a site, a name, a thread, and how images find the core: types.
 *
 *     #include "perf_scope.h"                  // has the marks; nobody needs this one alone
 *
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CORE_H
#define PERF_CORE_H

#include "perf_clock.h"

/* >>internal: what other headers may use -------------------------------------------------------
 * A thread's recorder, cells and ring are written by that thread alone, and its signal handlers;
 * others read them with PERF_GET_ and PERF_ACQ_.
 *   perf_site_  what a mark says, constant but for its id
 *   perf_recorder_  a thread; PERF_SELF_  the caller's or NULL
 *   perf_known_  names by address; perf_spent_  time of a thread
 *   perf_cell_, PERF_CELL_*_  node of its call tree; perf_cell_id_  its name; perf_gauge_
 *   perf_buckets_, perf_halves_, PERF_RARE_  durations of a cell; PERF_LATE_  counted later
 *   perf_event_, perf_event_is_part_  the ring's
 *   PERF_LOSSES_, PERF_LOSS_*_  what went wrong
 *   PERF_ON_  does this image record?
 *   perf_anchor_, perf_search_, perf_images_walk_  images; takes the loader's lock
 *   perf_core_, perf_core_get_  the functions behind the marks
 *   perf_tell_unheard_  says that a report was asked for, and none is made
 *   perf_calibration_, perf_pair_  readings of both clocks                                       */

/* >>private: types, and how a core is found ---------------------------------------------------- */

PERF_BEGIN_DECLS

typedef struct perf_site_ {     /* what is measured; one static object a call site                */
    const char *name;
    const char *file;
    uint32_t    line;           /* kind : 8, line : 24                                            */
    uint32_t    id;             /* 0 until the registry has seen it                               */
} perf_site_;

struct perf_core_;
struct perf_recorder_;
struct perf_cell_;
struct perf_scope;
struct perf_lap;
struct perf_async;
struct perf_fiber;

/* A reading of the system clock, `ns`, between two of the counter that lie `width` apart; `ticks`
 * is the middle of those two.  The three always follow each other in the same way, so two narrow
 * pairs differ by the step of the counter.                                                       */
typedef struct perf_pair_ {
    uint64_t ticks, ns, width;
} perf_pair_;

/* First reading of this image (executable or shared object), and the rate known so far. */
typedef struct perf_calibration_ {
    uint32_t   state;           /* 0 none, 1 somebody is at it, 2 ready                           */
    uint32_t   warnings;
    perf_pair_ first;
    uint64_t length;            /* ticks between the two pairs behind `tick_ns`; 0: no rate yet   */
    uint64_t tick_ns;           /* bits of a double                                               */
    uint64_t error_ppm;         /* bits of a double                                               */
} perf_calibration_;

struct perf_registry_;

/* Does this image record?  Marked unlikely: gcc then splits the path of a scope that is switched
 * off from the other one, and tests once (2 instructions instead of 5).  A scope that is on does
 * not notice (measured).                                                                         */
#if PERF_DISABLE
#define PERF_ON_() 0
#else
#define PERF_ON_() PERF_UNLIKELY_(!PERF_GET_(&perf_anchor_v1_.off))
#endif

/* The one object every file of an image shares; zero until the first use. */
typedef struct perf_anchor_ {
    uint32_t               size;
    uint32_t               off;         /* PERF_OFF_ bits: scopes of this image do nothing        */
    struct perf_registry_ *registry;    /* of those files that use perf_record.h                  */
    perf_calibration_      clock;
    uint32_t               pinned;      /* this image is never unloaded                           */
    const struct perf_core_ *core;      /* NULL: none found yet                                   */
    uint32_t               poor;        /* there was no memory for a registry                     */
    uint32_t               watches;     /* 1: this image has asked to be called at a fork         */
} perf_anchor_;
#define PERF_OFF_NO_CORE_ 2u            /* nobody in the process reads; 1: perf_enable(0)         */

#if PERF_TCC_
PERF_WEAK_ perf_anchor_ perf_anchor_v1_;
#define PERF_SELF_ PERF_CAST_(perf_recorder_ *, 0)
#else
#define PERF_ANCHOR_SYMBOL_ "perf_anchor_" PERF_STR_(PERF_VERSION)  /* each release has its own   */
#define PERF_SELF_SYMBOL_   "perf_self_" PERF_STR_(PERF_VERSION)
extern PERF_WEAK_ perf_anchor_ perf_anchor_v1_ __asm__(PERF_SYM_(PERF_ANCHOR_SYMBOL_));
#if defined(__ELF__)            /* Windows: gcc emulates thread-local data, which has no symbol   */
extern PERF_WEAK_ PERF_THREAD_ struct perf_recorder_ *perf_self_v1_
    __asm__(PERF_SYM_(PERF_SELF_SYMBOL_));
#endif
PERF_WEAK_ perf_anchor_ perf_anchor_v1_;
PERF_WEAK_ PERF_THREAD_ struct perf_recorder_ *perf_self_v1_;
#define PERF_SELF_ perf_self_v1_
#endif

/* ---- what is kept of a name and of a thread ---- */

#define PERF_CELL_BITS_    5                    /* 32 buckets an octave: 1.6 % wide at most       */
#define PERF_CELL_OCTAVES_ 52                   /* of ticks: some 20 days                         */
#define PERF_CELL_BUCKETS_ (PERF_CELL_OCTAVES_ << PERF_CELL_BITS_)

typedef struct perf_calls_ {    /* of a cell that is called: extremes of its durations, in ticks  */
    uint64_t             min, max;
    struct perf_gauge_  *gauge; /* of a counter; NULL: no number yet                              */
} perf_calls_;

typedef struct perf_root_ {     /* of a cell without a caller: of a thread's stack, or a fibre's  */
    struct perf_cell_ *waiting; /* the innermost open scope of a fibre that waits; NULL: it runs  */
    uint64_t           again_open;      /* recursive calls that are open in it                    */
    struct perf_cell_ *older;   /* the root made before it; NULL: the last                        */
} perf_root_;

/* A node of a thread's call tree: what that thread knows about one name under one caller.  Only the
 * thread writes it.  A name that is open already folds into its open cell: recursion stays shallow.
 *     self time = sum - inside - within        total, recursive calls once = sum - again
 * A call of the hot path touches the first 64 bytes alone.  It counts durations within
 * low..low + width: these have a counter, lie between the extremes so far, and are no long ones.
 * All others take the cold path.  So one unsigned compare, ticks - low > width, proves the bucket
 * valid and keeps both extremes exact.
 * No two sums are neighbours: gcc and clang would update the pair as a vector, and the next scope
 * would wait for the store (8.9 instead of 1.9 cycles).
 * Cells overlap: a block has the 64 hot bytes of 16 cells side by side, then their 16 cold halves.
 * So what calls touch lies densely: 5,000 scopes in random order cost 3.0 clock pairs, not 4.4.  */
typedef struct perf_cell_ {
    struct perf_cell_ *parent;  /* the caller's cell; NULL: this is the root                      */
    uint64_t  count, low;
    uint64_t  sum, width;       /* sum: of all calls                                              */
    uintptr_t bucket;           /* address of bucket 0, of which only some have memory            */
    uint64_t  tag;              /* name id : 32 and depth : 56, as an event wants them            */
    uint64_t  inside;           /* time of the scopes that it calls itself                        */
    char      others[15][64];   /* the hot bytes of the other cells of its block                  */
    /* cold */
    uint64_t  again;            /* the part of `sum` that another call's time contains already    */
    uint64_t  within;           /* time of the scopes that its recursive calls called             */
    union {
        perf_calls_ calls;
        perf_root_  root;       /* where `parent` is NULL                                         */
    } of;
    struct perf_cell_    *kin;  /* ring of the cells of this name in this thread                  */
    struct perf_buckets_ *buckets;      /* NULL: none yet                                         */
    uint32_t  depth;
    unsigned  again_open : 31;  /* recursive calls that are open now                              */
    unsigned  held : 1;         /* a reset came while it was open: its end is a cold one          */
} perf_cell_;

/* The number of its name; 0: the root. */
PERF_INLINE_FN_ uint32_t perf_cell_id_(const perf_cell_ *cell)
{
    return PERF_CAST_(uint32_t, cell->tag >> 32 & 0xffffff);
}

/* Where the durations of a cell are counted.  Frequent ones lie together: each index of a bucket
 * has a counter in n.  The others are far from those, and few: each index has an entry in the
 * block `rare`.  An index has either of the two, never both.  A block that is outgrown stays as it
 * is, for those who read it.                                                                     */
typedef struct perf_buckets_ {
    uint32_t first, room;       /* index of the bucket of n[0]; number of counters                */
    struct perf_buckets_ *rare; /* the block of entries: this one where `room` is 0               */
    struct perf_halves_  *halves;       /* those that had 2^31 durations; NULL: none              */
    uint32_t n[1];              /* [room], or entries: [PERF_RARE_]                               */
} perf_buckets_;
enum { PERF_RARE_ = 10 };       /* entries: index : 16, durations : 16; 0: a free one             */

/* A bucket whose 32-bit counter has come to 2^31, or beyond its range.  `halves` is the durations
 * / 2^31 at the last perf_halves_look_: its lowest bit was the highest one of the counter then.  */
typedef struct perf_halves_ {
    struct perf_halves_ *next;  /* of the same block                                              */
    uint32_t             index, halves;
} perf_halves_;

typedef struct perf_gauge_ {    /* of a counter, or of the numbers of scopes                      */
    uint64_t last, least, most, values; /* bits of doubles                                        */
    uint64_t at, n;             /* ticks of the last one; how many                                */
} perf_gauge_;

/* An entry of the ring, 16 bytes.  `what` is depth : 8, name id : 24, duration : 32, from the
 * highest bit down.  A duration of 2^32 - 1 says that the entries before hold what does not fit:
 * the true one, a counter's value, an async span's length and id.  Those have name 0, as have the
 * number or the text of an instant.                                                              */
typedef struct perf_event_ {
    uint64_t start;             /* ticks                                                          */
    uint64_t what;
} perf_event_;

/* 1: it belongs to the event after it. */
PERF_INLINE_FN_ int perf_event_is_part_(uint64_t what)
{
    return !(what >> 32 & 0xffffff);
}

typedef struct perf_spent_ {    /* time, that of processors; how often one was taken, given away  */
    uint64_t ns, cpu_ns, switches, waits;
} perf_spent_;

/* Marks that are not in the numbers as they should be; the report has a note of each. */
enum {
    PERF_LOSS_ABANDONED_,       /* never ended                                                    */
    PERF_LOSS_DISORDERED_,      /* ended after the scope around it                                */
    PERF_LOSS_FOREIGN_,         /* ended by another thread                                        */
    PERF_LOSS_ORPHANS_,         /* begun before a fork                                            */
    PERF_LOSS_MISUSED_,         /* an end without a begin, a NaN                                  */
    PERF_LOSS_LOST_,            /* not counted                                                    */
    PERF_LOSS_CLOCK_,           /* ended at an earlier time than it began: the clock was set back */
    PERF_LOSSES_
};

/* A thread's name cache in front of the interned ones. */
typedef struct perf_known_ {
    const char        *key;
    struct perf_name_ *name;
} perf_known_;

#define PERF_LATE_ 8            /* with 4, 1,000 places cost 5 % more: too few for a far cache    */

/* One thread.  The first fields are the hot path's, in three cache lines.  After a fork the child
 * finds all of it zero (MADV_WIPEONFORK), and `quick` NULL sends it to the cold path.            */
typedef struct perf_recorder_ {
    uint32_t    *late[PERF_LATE_];      /* buckets of the last durations: counted some scopes     */
                                /* later, when the processor has them at hand (1.00, not 1.31)    */
    perf_cell_ **quick;         /* cells by caller and name: perf_quick_cell_at_; NULL: cold path */
    uint32_t     quick_mask;    /* bytes                                                          */
    uint32_t     late_next;     /* durations: where in `late`; 2^31: see perf_halves_look_        */
    perf_cell_  *open;          /* innermost open scope, or the root                              */
    perf_event_ *ring;
    uint64_t     ring_next;     /* bytes given out so far: a signal handler may be writing, too   */
    uint64_t     ring_mask;     /* bytes; 0: no trace                                             */
    uint64_t     ring_head;     /* bytes written so far                                           */
    uint64_t     ring_limit;    /* where ring_head takes the cold path; 0: no trace               */
    uint64_t     deeper;        /* `extra` << 56: what an event adds to its depth                 */
    uint64_t     extra;         /* recursive calls that are open; cold from here on               */
    uint64_t     made, birth;   /* ticks: when made; that, or the last reset                      */
    perf_cell_   root;          /* of the call tree; at a multiple of 64, as all cells are for    */
                                /* `quick`                                                        */
    uint32_t     room;          /* entries of `cell`                                              */
    uint32_t     slot_room, slots_used;
    struct perf_slot_ *slot;    /* all cells by caller and name: perf_cell_under_; NULL: none yet */
    perf_cell_ **table;         /* what `quick` is when it is not NULL                            */
    perf_cell_ **cell;          /* by name id: the first in its ring; NULL for [0] and unseen     */
    uint32_t     request;       /* PERF_ASK_ bits set by other threads                            */
    uint32_t     growing;       /* 1: the owner makes a cell or takes memory, see perf_grow_      */
    struct perf_shown_ *shown;  /* what parents may read of it; NULL: no forked child's           */
    uint64_t     thread;        /* id of the owner                                                */
    uint64_t     number;        /* 1, 2, ... in order of appearance                               */
    uint64_t     ring_lost;     /* bytes written before the last reset                            */
    uint64_t     ring_more;     /* entries since then that belong to the event after them         */
    uint64_t     ring_wide;     /* where the room of a writer of several entries ends             */
    uint64_t     ring_sent;     /* bytes that went into the streamed file, or were lost to it     */
    uint64_t     sent_more;     /* as ring_more, of those before ring_sent                        */
    uint64_t    *ring_first;                    /* by depth, see perf_stream_ties_                */
    uint64_t     losses[PERF_LOSSES_];
    struct perf_recorder_ *next, *next_same;    /* all; of one hash of thread id                  */
    struct perf_registry_ *home;
    char        *pool, *pool_end;               /* room for cells                                 */
    uint64_t     pooled;                        /* bytes taken from it so far                     */
    uint32_t     gone;                          /* its thread has ended: to be taken over         */
    uint32_t     foreign_track;                 /* no thread's, see perf_track_make_()            */
    uint32_t     spans;                         /* perf_async begun so far without an id          */
    struct {                                    /* when a cold end came last, see perf_after_     */
        uint64_t    start, inside;
        perf_cell_ *open;
    } after;
    uint32_t     ranges, ranges_room;           /* the sink's: open in this thread, room for them */
    uint32_t    *range;
    uint32_t     sinking;                       /* 1: inside the sink                             */
    uint32_t     strayed;                       /* of `depth`: ended elsewhere; < 0: went there  */
    perf_spent_  looked;                        /* at the end of its last long call               */
    uint64_t     away;                          /* ns in a call without a processor, the most     */
    uint32_t     away_in;                       /* name                                           */
    char         name[32];
    perf_known_  known[64];
    perf_cell_  *roots;                         /* of idle fibres, by kin                         */
    perf_cell_  *parted;                        /* of fibres that other threads have taken over   */
    uint32_t     waste;                         /* counted where a place of `late` has no bucket  */
    uint64_t     ring_at, ring_step;            /* ticks of the last flush, bytes to the next     */
    perf_cell_  *fresh;                         /* the next one of a block                        */
    uint32_t     fresh_left;
    void        *functions;                     /* open ones, see perf_auto.h; NULL: none yet     */
    void        *counters;                      /* of its scopes, see perf_counters.h; NULL: none */
} perf_recorder_;

/* ---- all images of the process ---- */

/* Shared objects loaded RTLD_LOCAL (each Python extension) see no symbol of each other, so every
 * image that uses scopes carries an ELF note with the distance to its anchor: all are walked.    */
typedef struct perf_search_ {
    void (*visit)(struct perf_search_ *, perf_anchor_ *);       /* NULL: takes the first core     */
    const struct perf_core_ *core;      /* found, or to be given                                  */
    perf_anchor_            *leader;    /* the first of all                                       */
    void                    *found;     /* a registry                                             */
    uint32_t                 value;     /* what their `off` becomes                               */
    int                      given;     /* 1: another image has got the core                      */
} perf_search_;

#if PERF_NOTES_
struct perf_segment_ {          /* Elf64_Phdr and dl_phdr_info, without <link.h>                  */
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
struct perf_image_info_ {
    uint64_t                    base;
    const char                 *name;
    const struct perf_segment_ *segment;
    uint16_t                    segments;
};
struct perf_note_ {             /* Elf64_Nhdr, and in ours: "perf.h", distance, release           */
    uint32_t name, data, type, text[2], low;
    int32_t  high;
    uint32_t release, none;
};
extern int perf_dl_iterate_phdr_(int (*)(struct perf_image_info_ *, size_t, void *),
                                 void *) __asm__(PERF_SYM_("dl_iterate_phdr"));

/* Looks for our note in one image, and visits the anchor that it leads to. */
PERF_COLD_FN_ int perf_image_visit_(struct perf_image_info_ *image, size_t size, void *with)
{
    perf_search_               *search = PERF_CAST_(perf_search_ *, with);
    const struct perf_segment_ *segment = image->segment, *last = segment + image->segments;

    (void)size;
    for (; segment != last; segment++) {
        uint64_t at = image->base + segment->vaddr, end = at + segment->memsz;

        while (segment->type == 4 && at + sizeof(struct perf_note_) <= end) {   /* PT_NOTE        */
            const struct perf_note_ *note = PERF_PTR_(const struct perf_note_ *, at);
            if (note->type == 0x50455246 && note->text[0] == 0x66726570 &&      /* "perf"         */
                note->release == PERF_VERSION) {
                perf_anchor_ *anchor = PERF_PTR_(perf_anchor_ *, at + 20 + note->low +
                                                 (PERF_CAST_(uint64_t, note->high) << 32));
                if (search->visit)
                    search->visit(search, anchor);
                else if (!search->core)
                    search->core = PERF_ACQ_(&anchor->core);
                break;
            }
            at += 12 + ((note->name + UINT64_C(3)) & ~UINT64_C(3)) +
                  ((note->data + UINT64_C(3)) & ~UINT64_C(3));
        }
    }
    return 0;
}
#endif

#define PERF_NOTE_SYMBOL_ "perf_note_" PERF_STR_(PERF_VERSION)

/* The note is written here, into each file that uses this function; to include it writes none. */
PERF_INLINE_FN_ void perf_images_walk_(perf_search_ *search)
{
#if PERF_NOTES_
    __asm__ __volatile__(".ifndef " PERF_NOTE_SYMBOL_ "\n"
                         ".pushsection .note.perf_h,\"aG\",%note," PERF_NOTE_SYMBOL_ ",comdat\n"
                         ".balign 4\n"
                         ".weak " PERF_NOTE_SYMBOL_ "\n"
                         ".hidden " PERF_NOTE_SYMBOL_ "\n"
                         PERF_NOTE_SYMBOL_ ":\n"
                         ".long 7, 16, 0x50455246\n"
                         ".asciz \"perf.h\"\n"
                         ".byte 0\n"
                         ".quad " PERF_ANCHOR_SYMBOL_ " - .\n"
                         ".long " PERF_STR_(PERF_VERSION) ", 0\n"
                         ".popsection\n"
                         ".endif\n"        /* --gc-sections keeps what is referred to            */
                         ".reloc ., BFD_RELOC_NONE, " PERF_NOTE_SYMBOL_ "\n");
    (void)perf_dl_iterate_phdr_(perf_image_visit_, search);
#else
    (void)search;
#endif
}

/* ---- the core: what files that only mark leave to another file ----
 *
 * A table of functions of perf_record.h: `begin` is perf_core_begin_ there, and so on.  A file that
 * reads or switches recordings holds it and hands it to the anchors of all images before
 * constructors run; an image that is loaded later looks for it once, at its first mark.          */
typedef struct perf_core_ {
    uint32_t      size, abi;
    void        (*join)(perf_anchor_ *);        /* this image takes part from now on              */
    struct perf_scope *(*begin)(struct perf_scope *, perf_site_ *, perf_recorder_ **self,
                                int counter);
    void        (*end)(struct perf_scope *, uint64_t end);
    void        (*event)(perf_recorder_ *, uint64_t start, uint64_t what);
    void        (*lap_begin)(struct perf_lap *);
    void        (*lap)(struct perf_lap *, perf_site_ *, uint64_t now);
    perf_site_ *(*find)(const char *name, uint32_t kind);
    void        (*count)(perf_site_ *, double value);
    void        (*instant)(perf_site_ *, const char *text, const double *value);
    void        (*fiber)(struct perf_fiber *from, struct perf_fiber *to);
    void        (*async_begin)(struct perf_async *, const char *name, uint64_t id);
    void        (*async_end)(struct perf_async *);
    void        (*thread_name)(const char *name);
    void        (*misuse)(void);                /* a call out of order, to be counted             */
} perf_core_;

#if PERF_ONE_CORE_
/* Said where one of these is set and nobody in the process looks at it. */
#define PERF_UNHEARD_ "perf.h: PERF_REPORT, PERF_TRACE, PERF_TRACE_STREAM need a file with " \
                      "PERF_AT_EXIT 1\n"

/* Does the environment ask for a report or a trace? */
PERF_FN int perf_is_asked_(void)
{
    const char *asked = perf_getenv_any_("PERF_REPORT");

    if (!asked)
        asked = perf_getenv_any_("PERF_TRACE");
    if (!asked)
        asked = perf_getenv_any_("PERF_TRACE_STREAM");
    return asked && *asked && *asked != '0';
}

/* Says that it does, and that nobody listens. */
PERF_FN void perf_tell_unheard_(void)
{
    if (perf_is_asked_())
        (void)perf_fd_write_(2, PERF_UNHEARD_, sizeof PERF_UNHEARD_ - 1);
}

/* Looks for a core in all images; NULL: there is none.  Then the marks of this image do nothing,
 * until whoever brings a core later clears PERF_OFF_NO_CORE_.  The second look finds a core that
 * came between the first one and the setting of that bit.                                        */
PERF_COLD_FN_ const perf_core_ *perf_core_find_(void)
{
    perf_search_ search;
    uint32_t     off = 0;                       /* as it was before                               */
    int          look;

    PERF_LIBC_(memset)(&search, 0, sizeof search);
    for (look = 0; look < 2 && !search.core; look++) {
        if (look)
            off = __atomic_fetch_or(&perf_anchor_v1_.off, PERF_OFF_NO_CORE_, __ATOMIC_SEQ_CST);
        perf_images_walk_(&search);
    }
    if (search.core)
        search.core->join(&perf_anchor_v1_);
    else if (!off)
        perf_tell_unheard_();
    return search.core;
}

/* The core; NULL: there is none.  Not marked cold: gcc treats a function that always calls a cold
 * one as cold, too, and would then optimise the user's loop around it for size.                  */
PERF_FN const perf_core_ *perf_core_get_(void)
{
    const perf_core_ *core = PERF_ACQ_(&perf_anchor_v1_.core);

    if (!core && !(PERF_GET_(&perf_anchor_v1_.off) & PERF_OFF_NO_CORE_))
        core = perf_core_find_();
    return core;
}
#else
PERF_FN const perf_core_ *perf_core_get_(void);     /* perf_record.h follows at the end   */
#endif

PERF_END_DECLS

#if !PERF_ONE_CORE_ && !defined(PERF_SCOPE_H)
#include "perf_record.h"        /* see perf_scope.h                                               */
#endif
#endif /* PERF_CORE_H */
