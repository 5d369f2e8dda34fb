/* perf_record.h - keeps what the scopes of all threads record: the core.
 *
 *     perf_enable(0);                          // from here on nothing is recorded
 *     perf_reset();                            // forget what there is
 *
 * Registry of names, a recorder for each thread, the cold paths of marks, the switches.  Any
 * file that calls a function of this header, or of one built on it, holds the core that the marks
 * of the whole program record with (perf_scope.h); the first of several serves.
 * Sections (search for ">>"):  config  switches  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_H_RECORDS
#define PERF_H_RECORDS

#include "perf_calibration.h"
#include "perf_layout.h"

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_TRACE_EVENTS       /* trace ring of each thread, 16 bytes an event; 0 = no trace     */
#define PERF_TRACE_EVENTS 65536
#endif

PERF_BEGIN_DECLS

/* >>switches ---------------------------------------------------------------------------------- */

/* Run-time switches of the whole process, both on at the start: all recording, and the trace alone.
 * A switched-off scope costs one compare.  Take a lock.                                          */
PERF_FN void perf_enable(int on);
PERF_FN void perf_trace_enable(int on);

/* Forgets all that was recorded, in every thread; scopes open now count from here on.  Loops that
 * have ended are forgotten, too, and their memory is given back (perf_race_result.entry with it);
 * loops under way go on, and a streamed trace has what was before, too.                          */
PERF_FN void perf_reset(void);

/* First failure since the start or the last perf_reset(); PERF_OK if there was none.  PERF_ENOMEM
 * also while there is no memory to record anything at all. */
PERF_FN perf_status perf_error(void);

/* >>internal: what other headers may use -------------------------------------------------------
 * `r` is the registry.  Any thread, unless something else is said.
 *   perf_registry_get_, perf_registry_read_  NULL: no memory; the second brings the core;
 *       perf_core_get_  its functions
 *   perf_recorder_get_  the caller's, NULL: none now
 *   perf_track_make_, perf_track_cell_, perf_track_add_  what devices tell
 *   perf_ask_  asks all threads (lock held)
 *   perf_site_id_  made on first sight, 0: no room
 *   perf_ring_dropped_  events that are gone
 *   perf_losses_sum_  what is missing from the numbers
 *   perf_loops_hold_  keeps all loops until perf_loops_let_; 0: inside the lock, do not read them,
 *       do not let go                                                                            */

/* >>private: bodies: a begin and an end, callers first; the rest, callees above their callers -- */

/* The functions of the way of an end, which stand below perf_core_end_. */
PERF_COLD_DECL_ int perf_open_end_(perf_recorder_ *rec, perf_cell_ *cell, perf_cell_ *outer,
                                   int again);
PERF_COLD_DECL_ uint64_t perf_open_drop_(perf_recorder_ *rec, perf_cell_ *to);
PERF_COLD_DECL_ uint64_t perf_cell_close_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t start,
                                          uint64_t end);
PERF_COLD_DECL_ void perf_event_scope_(perf_recorder_ *rec, const perf_cell_ *cell, uint64_t start,
                                       uint64_t ticks, uint32_t depth);
PERF_COLD_DECL_ void perf_event_write_(perf_recorder_ *rec, const perf_event_ *event, uint64_t n);
PERF_COLD_DECL_ int perf_cell_count_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks);
PERF_COLD_DECL_ int perf_buckets_room_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index);
PERF_COLD_DECL_ int perf_rare_make_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index);
PERF_COLD_DECL_ int perf_buckets_widen_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index);
PERF_COLD_DECL_ void perf_buckets_move_(perf_recorder_ *rec, perf_cell_ *cell,
                                        perf_buckets_ *buckets);
PERF_COLD_DECL_ void perf_cell_window_(perf_cell_ *cell);
PERF_COLD_DECL_ uint64_t perf_bucket_from_(uint32_t index);
PERF_COLD_DECL_ void perf_halves_look_(perf_recorder_ *rec);

/* The smaller and the larger of two counts. */
PERF_INLINE_FN_ uint64_t perf_smaller_(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

PERF_INLINE_FN_ uint64_t perf_larger_(uint64_t one, uint64_t other)
{
    return one < other ? other : one;
}

/* A difference of ticks, moved into least..most; one below 0 becomes `least`. */
PERF_INLINE_FN_ uint64_t perf_between_(uint64_t ticks, uint64_t least, uint64_t most)
{
    if (ticks >> 63)
        return least;
    return perf_larger_(perf_smaller_(ticks, most), least);
}

/* Calls `visit` for the anchor of each image that takes part, for our own a second time.  */
PERF_COLD_FN_ void perf_images_(perf_search_ *search, void (*visit)(perf_search_ *, perf_anchor_ *))
{
    search->visit = visit;
    perf_images_walk_(search);
    visit(search, &perf_anchor_v1_);
}

/* Sets bits of a word that any thread may write, with or without the lock. */
PERF_COLD_FN_ void perf_word_set_(uint32_t *word, uint32_t bits)
{
    uint32_t was;

    do
        was = PERF_GET_(word);
    while ((was & bits) != bits && !perf_claim_(word, was, was | bits));
}

/* A mark that is not counted as it should be, PERF_LOSS_; `why` PERF_OK: nobody's mistake. */
PERF_COLD_FN_ void perf_lose_(perf_recorder_ *rec, int loss, perf_status why)
{
    PERF_ADD_(rec->losses[loss], 1);
    perf_fail_(rec->home, why);
}

/* Counts a mark whose cell could not be made: no memory, or too many names, or something new in a
 * signal handler that came while its thread was inside.                                          */
PERF_COLD_FN_ void perf_lose_cell_(perf_recorder_ *rec, uint32_t id)
{
    const int no_memory = id && !rec->growing;

    perf_lose_(rec, PERF_LOSS_LOST_, no_memory ? PERF_ENOMEM : PERF_ELIMIT);
}

/* A mark that would have ended before it began is not counted. */
PERF_COLD_FN_ void perf_lose_to_clock_(perf_recorder_ *rec)
{
    perf_word_set_(&rec->home->warnings, PERF_CLOCK_BACKWARDS);
    perf_lose_(rec, PERF_LOSS_CLOCK_, PERF_OK);
}

/* Sees whether the clock was set back behind the beginning of this recorder: then what has begun
 * after `birth` counts.  `end` may have been read before the recorder began.                     */
PERF_COLD_FN_ void perf_clock_check_(perf_recorder_ *rec, uint64_t end, uint64_t birth)
{
    if (end >= rec->birth || perf_scope_ticks_(rec->home) >= rec->birth)
        return;
    perf_word_set_(&rec->home->warnings, PERF_CLOCK_BACKWARDS);
    PERF_SET_(&rec->made, UINT64_C(0));
    PERF_SET_(&rec->birth, birth);
    PERF_LIBC_(memset)(&rec->after, 0, sizeof rec->after);
    PERF_LIBC_(memset)(&rec->looked, 0, sizeof rec->looked);
}

/* So many more recursive calls are open; 0 - n: n fewer.  Events add the highest byte of `deeper`
 * to their depth.                                                                                */
PERF_INLINE_FN_ void perf_deeper_(perf_recorder_ *rec, uint64_t calls)
{
    PERF_ADD_(rec->extra, calls);
    PERF_ADD_(rec->deeper, calls << 56);
}

/* ---- a scope begins, and perf_begin_() cannot do it ---- */

PERF_COLD_DECL_ perf_recorder_ *perf_recorder_for_mark_(void);
PERF_COLD_DECL_ void perf_recorder_serve_(perf_recorder_ *rec);
PERF_COLD_DECL_ uint32_t perf_site_id_(perf_registry_ *reg, perf_site_ *site);
PERF_FN perf_cell_ *perf_cell_under_(perf_recorder_ *rec, perf_cell_ *caller, uint32_t id);
PERF_COLD_DECL_ perf_scope *perf_begin_slow_(perf_scope *scope, perf_site_ *site,
                                             perf_recorder_ **self, int counter);

/* `open` of a scope whose end is cold: no cell.  Not NULL, for a thread of a forked child has NULL
 * open, and perf_end_() would take the two for the same cell.                                    */
#define PERF_COLD_END_ PERF_PTR_(perf_cell_ *, PERF_CAST_(uintptr_t, 1))

#define PERF_CLOSED_ (UINT64_C(1) << 63)        /* bit of `low`: no duration passes the compare   */
#define PERF_NO_LOW_ (UINT64_C(3) << 62)        /* ... also without that bit: none was counted    */

/* Where the table of cells has `id` under `caller`, or an empty slot for it.  The hash: cells lie
 * 64 bytes apart, and 2^32 over the golden ratio scatters ids (Knuth).                           */
PERF_INLINE_FN_ perf_slot_ *perf_slot_at_(const perf_recorder_ *rec, const perf_cell_ *caller,
                                          uint32_t id)
{
    uint32_t at = PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, caller) >> 6) ^ id * 0x9e3779b1u;

    for (;; at++) {
        perf_slot_ *slot = &rec->slot[at & (rec->slot_room - 1)];
        if (!slot->cell || (slot->caller == caller && perf_cell_id_(slot->cell) == id))
            return slot;
    }
}

/* The scope is the innermost one now, with a cell of its own: its end may be hot. */
PERF_INLINE_FN_ void perf_opened_(perf_scope *scope, perf_recorder_ *rec, perf_cell_ *cell)
{
    PERF_SET_(&scope->open, cell);
    PERF_SET_(&scope->rec, rec);
    PERF_REL_(&rec->open, cell);
}

/* Begins one more call of what is open already.  That cell's ends are cold until this one has
 * ended.                                                                                         */
PERF_FN void perf_cell_again_(perf_scope *scope, perf_recorder_ *rec, perf_cell_ *cell)
{
    scope->outer = rec->open;
    scope->inside = rec->open->inside;
    scope->cell = cell;
    scope->open = PERF_COLD_END_;
    scope->rec = rec;
    cell->again_open++;
    perf_deeper_(rec, 1);
    PERF_SET_(&cell->low, cell->low | PERF_CLOSED_);
}

/* Begins a scope; returns `scope`, or NULL: it is not recorded.  *self: the caller's recorder, a
 * variable of its image; NULL: not known yet.  counter 1: its file times by the counter.  Quick,
 * recursion included, where `quick` says that neither a clock nor a sink is to be asked, and that
 * there are slots.                                                                               */
PERF_HOT_FN_ perf_scope *perf_core_begin_(perf_scope *scope, perf_site_ *site,
                                          perf_recorder_ **self, int counter)
{
    uint32_t        id = PERF_GET_(&site->id);
    perf_recorder_ *rec = PERF_TCC_ ? PERF_NULL_ : *self;
    perf_cell_     *cell = PERF_NULL_;

    if (PERF_LIKELY_(rec && id && PERF_PEEK_(rec->quick))) {
        cell = rec->open;
        if (perf_cell_id_(cell) != id)          /* else it calls itself                           */
            cell = perf_slot_at_(rec, cell, id)->cell;
    }
    if (PERF_UNLIKELY_(!cell))
        return perf_begin_slow_(scope, site, self, counter);
    if (PERF_LIKELY_(cell->parent == rec->open)) {
        *perf_quick_cell_at_(rec, rec->table, rec->open, id) = cell;
        perf_opened_(scope, rec, cell);
    } else {
        perf_cell_again_(scope, rec, cell);
    }
    scope->start = perf_ticks();
    return scope;
}

/* Notes, for the report, that a file times by another clock than the process does. */
PERF_COLD_FN_ void perf_clock_agrees_(perf_registry_ *reg, int counter)
{
    if ((counter == 0) != (reg->clock != 0) &&
        !(PERF_GET_(&reg->warnings) & PERF_CLOCK_NOT_INVARIANT))
        perf_word_set_(&reg->warnings, PERF_CLOCK_MIXED);
}

/* Begins what perf_core_begin_ cannot: the first scope of a thread or under a caller, one with
 * another clock, a sink, a request.  The thread becomes known to *self, if self is not NULL.     */
PERF_COLD_FN_ perf_scope *perf_begin_slow_(perf_scope *scope, perf_site_ *site,
                                           perf_recorder_ **self, int counter)
{
    perf_recorder_   *rec = perf_recorder_for_mark_();
    const perf_sink_ *sink;
    perf_label_       label;
    perf_cell_       *cell;
    uint32_t          id;

    scope->rec = PERF_NULL_;
    if (!rec || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    perf_clock_agrees_(rec->home, counter);
    if (self)
        *self = rec;
    id = perf_site_id_(rec->home, site);
    cell = perf_cell_under_(rec, rec->open, id);
    if (!cell) {
        perf_lose_cell_(rec, id);
        return PERF_NULL_;
    }
    sink = PERF_ACQ_(&rec->home->sink);
    if (!sink || PERF_GET_(&rec->request))      /* without a sink it gives `quick` back           */
        perf_recorder_serve_(rec);
    scope->cell = cell;
    scope->outer = rec->open;
    if (cell->parent == rec->open)
        perf_opened_(scope, rec, cell);
    else
        perf_cell_again_(scope, rec, cell);
    scope->depth = perf_depth_(rec);
    if (sink) {                                 /* payload: calls before this one in this thread  */
        label = perf_label_of_(PERF_ACQ_(&rec->home->names)[id], 1, cell->count);
        PERF_SINK_(rec, sink->begin(rec, &label, scope->depth))
    }
    if (rec->home->clock || rec->ranges)
        scope->open = PERF_COLD_END_;
    scope->start = perf_scope_ticks_(rec->home);
    perf_clock_check_(rec, scope->start, scope->start - 1);     /* this one counts                */
    return scope;
}

/* ---- the registry, and forks ---- */

#if defined(__linux__) && !PERF_TCC_
#if defined(__GLIBC__)
#define PERF_AT_FORK_ __asm__(PERF_SYM_("__register_atfork")) PERF_ATTR_((__weak__))
#else                                           /* musl's takes only three, and is always there   */
#define PERF_AT_FORK_ __asm__(PERF_SYM_("pthread_atfork"))
#endif
extern int   perf_register_atfork_(void (*)(void), void (*)(void), void (*)(void),
                                   void *) PERF_AT_FORK_;
extern void *perf_dso_ __asm__(PERF_SYM_("__dso_handle"))      /* as g++ has it, for -flto        */
    PERF_ATTR_((__weak__, __visibility__("hidden")));

PERF_COLD_DECL_ perf_registry_ *perf_registry_get_(void);

#if PERF_LP64_UNIX_
#define PERF_FAMILY_BYTES_ (UINT64_C(16) << 20)         /* only pages that are used take memory   */

/* Before a fork: makes the block if there is none. */
PERF_COLD_FN_ void perf_family_open_(perf_registry_ *reg)
{
    perf_family_ *family;
    int           errno_before = PERF_ERRNO_;
    const int     shared = PERF_MAP_PAGES_ ^ 3; /* MAP_SHARED, 1, in place of MAP_PRIVATE, 2      */
    void         *memory;

    if (PERF_ACQ_(&reg->family))
        return;
    memory = perf_mmap_(PERF_NULL_, PERF_FAMILY_BYTES_, 3, shared, -1, 0);
    if (PERF_PTR_(intptr_t, memory) != -1) {
        family = PERF_CAST_(perf_family_ *, memory);
        family->bytes = PERF_FAMILY_BYTES_;
        family->used = sizeof *family;
        PERF_REL_(&reg->family, family);
    }
    PERF_ERRNO_ = errno_before;
}
#else
#define perf_family_open_(r) PERF_CAST_(void, (r))
#endif

/* A parent that has marked nothing shall find what its children record, too. */
PERF_COLD_FN_ void perf_before_fork_(void)
{
    perf_registry_ *reg = perf_registry_get_();

    if (!reg)
        return;
    perf_family_open_(reg);
    PERF_SET_(&reg->forking, 1u);
}

/* In the child of a fork: forgets what its parent has recorded.  Where the system has not wiped the
 * recorders (Linux before 4.14, qemu) perf_lock_ alone would take this for the child of a vfork.
 * Each image comes here; the first one does it.                                                  */
PERF_COLD_FN_ void perf_at_fork_child_(void)
{
    perf_registry_ *reg = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (!reg || !reg->forking)
        return;
    reg->forking = 0;
    reg->process = reg->forked = 0;             /* other name space, maybe the same number        */
    if (perf_lock_(reg))
        perf_unlock_(&reg->lock);
}

/* Once in an image; not within a fork, where musl holds the lock of this list. */
PERF_COLD_FN_ void perf_watch_forks_(void)
{
    if (PERF_PTR_(uintptr_t, &perf_register_atfork_) != 0 &&
        perf_claim_(&perf_anchor_v1_.watches, 0, 1))
        (void)perf_register_atfork_(perf_before_fork_, PERF_NULL_, perf_at_fork_child_, &perf_dso_);
}
#else
#define perf_watch_forks_() PERF_CAST_(void, 0)
#endif

#if PERF_ARCH_X86_ && PERF_CLOCK != PERF_CLOCK_MONOTONIC
/* Does the counter run at one rate (bit 8 of edx, leaf 0x80000007)?  Takes 8 us in a virtual
 * machine, as cpuid leaves it: asked once, when the registry is made.                            */
PERF_COLD_FN_ int perf_counter_invariant_(void)
{
    uint32_t most = UINT32_C(0x80000000), leaf = most + 7, edx;

    __asm__ __volatile__("cpuid" : "+a"(most), "=d"(edx) : : "ebx", "ecx");
    if (most < leaf)
        return 0;
    __asm__ __volatile__("cpuid" : "+a"(leaf), "=d"(edx) : : "ebx", "ecx");
    return (edx >> 8 & 1) != 0;
}
#else
#define perf_counter_invariant_() 1             /* by definition of the other counters            */
#endif

PERF_COLD_FN_ perf_registry_ *perf_registry_make_(void)
{
    perf_registry_ *reg = PERF_CAST_(perf_registry_ *, perf_pages_(sizeof *reg, 0));

    if (!reg)
        return PERF_NULL_;
    reg->size = PERF_CAST_(uint32_t, sizeof *reg);
    reg->abi = 1;
    reg->process = perf_process_id_();
    reg->scan_at = 64;
    reg->count = 1;                             /* id 0 means "not yet registered"                */
    reg->made = perf_anchor_v1_.clock.first;
    reg->spent = perf_spent_since_(PERF_NULL_, 0);
#if defined(PERF_CLOCK_FN) && defined(PERF_TEST_HOT)
    reg->clock = 0;                             /* our tests: that clock through the hot path     */
#elif defined(PERF_CLOCK_FN)
    reg->custom = PERF_CLOCK_FN;
    reg->clock = 1;
    perf_image_pin_();                          /* all images read that clock from now on         */
#elif PERF_CLOCK == PERF_CLOCK_MONOTONIC
    reg->clock = 1;
#elif PERF_CLOCK == PERF_CLOCK_AUTO
    if (!perf_counter_invariant_()) {
        reg->clock = 1;
        reg->warnings |= PERF_CLOCK_NOT_INVARIANT;
    }
#endif
    reg->ring_events = PERF_TRACE_EVENTS < 1 ? 0 : 2;
    while (reg->ring_events && reg->ring_events < PERF_TRACE_EVENTS)    /* 2^63 at most           */
        reg->ring_events *= 2;
    return reg;
}

/* Finds the first anchor of all, which settles races for a new registry, and a registry. */
PERF_COLD_FN_ void perf_image_leads_(perf_search_ *search, perf_anchor_ *anchor)
{
    if (!search->leader)
        search->leader = anchor;
    if (!search->found)
        search->found = PERF_ACQ_(&anchor->registry);
}

/* The registry of the process, made by whoever asks first; NULL without memory. */
PERF_OUTLINE_FN_ perf_registry_ *perf_registry_get_(void)
{
    perf_search_    search = PERF_ZERO;
    perf_registry_ *reg = PERF_ACQ_(&perf_anchor_v1_.registry), *mine;

    if (reg)
        return reg;
    perf_images_(&search, perf_image_leads_);
    reg = PERF_CAST_(perf_registry_ *, search.found);
    if (!reg) {
        (void)perf_calibrate_();
        mine = perf_registry_make_();
        if (!mine) {
            PERF_SET_(&perf_anchor_v1_.poor, 1u);
            return PERF_NULL_;
        }
#if PERF_TCC_
        search.leader->registry = reg = mine;
#else
        if (__atomic_compare_exchange_n(&search.leader->registry, &reg, mine, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            reg = mine;                         /* else lost a race: ours stays unused            */
#endif
        if (reg == mine)
            perf_watch_forks_();
    }
    if (PERF_GET_(&perf_anchor_v1_.poor))       /* what came before is lost                       */
        perf_fail_(reg, PERF_ENOMEM);
    PERF_REL_(&perf_anchor_v1_.registry, reg);
    PERF_SET_(&perf_anchor_v1_.off, PERF_GET_(&reg->off));
    perf_clock_agrees_(reg, PERF_CLOCK != PERF_CLOCK_MONOTONIC);
    return reg;
}

/* ---- names ---- */

/* Room for twice the names; the old tables stay, readers may be in them. */
PERF_COLD_FN_ int perf_table_grow_(perf_registry_ *reg)
{
    uint32_t     room = reg->room ? reg->room * 2 : 256, i;
    size_t       bytes = room * sizeof(perf_name_ *);
    perf_name_ **table = PERF_CAST_(perf_name_ **, perf_forever_(reg, bytes));
    perf_name_ **hash = PERF_CAST_(perf_name_ **, perf_forever_(reg, bytes));

    if (!table || !hash)
        return 0;
    if (reg->room)
        PERF_LIBC_(memcpy)(table, reg->names, reg->room * sizeof *table);
    for (i = 1; i < reg->count; i++) {
        table[i]->next_same = hash[table[i]->hash & (room - 1)];
        hash[table[i]->hash & (room - 1)] = table[i];
    }
    reg->by_hash = hash;
    reg->hash_room = room;
    PERF_REL_(&reg->names, table);
    PERF_REL_(&reg->room, room);
    if (reg->member)
        PERF_REL_(&reg->member->names, table);
    return 1;
}

#define PERF_DIFFERENT_NAMES_ (1u << 20)      /* a number in each name is a common mistake        */

/* The entry of a site's name and kind, made on first sight; NULL: no room.  The kind is the highest
 * byte of its `line`.  Called with the lock held.                                                */
PERF_COLD_FN_ perf_name_ *perf_name_intern_(perf_registry_ *reg, const perf_site_ *site)
{
    const char *name = site->name;
    uint32_t    length, hash, kind = site->line >> 24;
    const char *file = site->file ? site->file : "";
    size_t      file_length = PERF_LIBC_(strlen)(file);
    perf_name_ *entry, *first = PERF_NULL_;
    char       *text;

    if (!name) {
        perf_fail_(reg, PERF_EINVAL);
        name = "(null)";
    } else if (!*name) {
        name = "(empty)";
    }
    length = perf_name_length_(name);
    hash = perf_text_hash_(PERF_TEXT_HASH_ ^ kind, name, length);
    if (reg->room)
        first = reg->by_hash[hash & (reg->hash_room - 1)];
    for (entry = first; entry; entry = entry->next_same)
        if (entry->hash == hash && entry->kind == kind && entry->length == length &&
            !PERF_LIBC_(memcmp)(entry->site.name, name, length))
            return entry;
    if (reg->count >= PERF_DIFFERENT_NAMES_)
        return PERF_NULL_;
    if ((reg->count >= reg->room || (reg->member && !reg->member->names)) && !perf_table_grow_(reg))
        return PERF_NULL_;
    if (file_length > PERF_NAME_MAX_)
        file += file_length - PERF_NAME_MAX_;
    file_length = PERF_LIBC_(strlen)(file);
    entry = PERF_CAST_(perf_name_ *,
                       perf_forever_(reg, sizeof *entry + length + 1 + file_length + 1));
    if (!entry)
        return PERF_NULL_;
    if (name[length]) {
        PERF_ADD_(reg->cut_names, 1);
        perf_fail_(reg, PERF_ELIMIT);
    }
    text = PERF_PTR_(char *, entry + 1);
    PERF_LIBC_(memcpy)(text, name, length);
    text[length] = '\0';
    entry->site.name = text;
    if (file_length) {                          /* its image may be unloaded                      */
        PERF_LIBC_(memcpy)(text + length + 1, file, file_length + 1);
        entry->site.file = text + length + 1;
    }
    entry->site.line = site->line;
    entry->hash = hash;
    entry->length = length;
    entry->kind = kind;
    entry->site.id = reg->count;
    entry->next_same = reg->by_hash[hash & (reg->hash_room - 1)];
    reg->names[reg->count] = entry;
    PERF_REL_(&reg->count, reg->count + 1);     /* before a fork elsewhere can find the name      */
    reg->by_hash[hash & (reg->hash_room - 1)] = entry;
    return entry;
}

/* The id of a site's name and kind, made on first sight and kept in the site; 0: no room. */
PERF_COLD_FN_ uint32_t perf_site_id_(perf_registry_ *reg, perf_site_ *site)
{
    uint32_t    id = PERF_ACQ_(&site->id);      /* and so its entry in the table of names         */
    perf_name_ *name;

    if (id || !perf_lock_(reg))
        return id;
    name = perf_name_intern_(reg, site);
    perf_unlock_(&reg->lock);
    if (!name) {
        perf_fail_(reg, PERF_GET_(&reg->count) < PERF_DIFFERENT_NAMES_ ? PERF_ENOMEM : PERF_ELIMIT);
        return 0;
    }
    PERF_REL_(&site->id, name->site.id);
    return name->site.id;
}

/* ---- recorders ---- */

/* Makes the ring, or hides it, as the switch says.  Pages cost nothing until they are touched. */
PERF_COLD_FN_ void perf_ring_set_(perf_registry_ *reg, perf_recorder_ *rec)
{
    int      on = reg->ring_events && !PERF_GET_(&reg->trace_off);
    uint64_t limit = ~UINT64_C(0);

    if (!rec->ring && on) {
        size_t bytes = PERF_CAST_(size_t, reg->ring_events) * sizeof *rec->ring;
        PERF_REL_(&rec->ring, PERF_CAST_(perf_event_ *, perf_pages_(bytes, 1)));
        if (!rec->ring)
            perf_fail_(reg, PERF_ENOMEM);
    }
    if (!rec->ring)
        on = 0;
    if (!on)
        limit = 0;
    else if (PERF_ACQ_(&reg->stream) && !rec->foreign_track)
        limit = rec->ring_head + sizeof(perf_event_);
    PERF_SET_(&rec->ring_mask, on ? (reg->ring_events - 1) * sizeof(perf_event_) : 0);
    PERF_SET_(&rec->ring_limit, limit);
}

/* Hands what a ring holds to the streamed file, with the lock held; 0: there is no stream. */
PERF_COLD_FN_ int perf_stream_flush_(perf_registry_ *reg, perf_recorder_ *rec)
{
    perf_stream_base_ *stream = PERF_ACQ_(&reg->stream);

    if (!stream || PERF_GET_(&stream->state) != PERF_STREAM_ON_)
        return 0;
    stream->flush(reg, stream, rec);
    return PERF_GET_(&stream->state) == PERF_STREAM_ON_;
}

PERF_COLD_FN_ void perf_halves_clear_(perf_buckets_ *buckets)
{
    perf_halves_ *halves;

    for (halves = buckets->halves; halves; halves = halves->next)
        PERF_SET_(&halves->halves, 0u);
}

PERF_COLD_FN_ void perf_buckets_clear_(perf_buckets_ *buckets)
{
    uint32_t i;

    perf_halves_clear_(buckets);
    for (i = 0; i < buckets->room; i++)
        PERF_REL_(&buckets->n[i], 0u);
    for (i = 0; i < PERF_RARE_; i++)
        PERF_REL_(&buckets->rare->n[i], 0u);
    perf_halves_clear_(buckets);                /* a signal handler may have looked meanwhile     */
}

/* Empties a cell; its place in the tree and its memory stay. */
PERF_COLD_FN_ void perf_cell_clear_(perf_cell_ *cell)
{
    uint64_t *const zero[] = {&cell->count, &cell->sum, &cell->inside, &cell->again, &cell->within,
                              &cell->width, &cell->of.calls.max};
    uint32_t        i;

    for (i = 0; i < sizeof zero / sizeof *zero; i++)
        PERF_SET_(zero[i], UINT64_C(0));
    PERF_SET_(&cell->low, PERF_NO_LOW_);
    PERF_SET_(&cell->of.calls.min, ~UINT64_C(0));
    if (cell->of.calls.gauge)
        PERF_SET_(&cell->of.calls.gauge->n, UINT64_C(0));
    if (cell->buckets)
        perf_buckets_clear_(cell->buckets);
}

/* Empties a recorder.  Scopes that are open now count from here on: their ends are cold ones. */
PERF_COLD_FN_ void perf_recorder_clear_(perf_recorder_ *rec)
{
    perf_cell_ *cell, *first;
    uint32_t    i;

    for (i = 0; i < rec->room; i++) {
        first = cell = rec->cell[i];
        if (!first)
            continue;
        do {
            perf_cell_clear_(cell);
            cell = cell->kin;
        } while (cell != first);
    }
    for (cell = rec->open; cell->parent; cell = cell->parent)
        cell->held = 1;
    PERF_SET_(&rec->root.inside, UINT64_C(0));
    PERF_SET_(&rec->away, UINT64_C(0));
    for (i = 0; i < PERF_LATE_; i++)            /* durations that are still to be counted         */
        PERF_SET_(&rec->late[i], &rec->waste);
}

/* Before a thread takes memory for its recorder.  0: it is a signal handler that has interrupted
 * that very thread at it; it gets none, and its mark is counted as lost.                         */
PERF_COLD_FN_ int perf_grow_begin_(perf_recorder_ *rec)
{
    return perf_claim_(&rec->growing, 0, 1);
}

PERF_COLD_FN_ void perf_grow_end_(perf_recorder_ *rec)
{
    PERF_REL_(&rec->growing, 0u);
}

/* Shows the parents of a child a new recorder, where there is room that they can read. */
PERF_COLD_FN_ void perf_recorder_show_(perf_registry_ *reg, perf_recorder_ *rec)
{
    perf_member_ *member = reg->member;
    perf_shown_  *shown;

    if (!member || !perf_grow_begin_(rec))      /* a handler may come: the recorder has a home    */
        return;
    shown = PERF_CAST_(perf_shown_ *, perf_room_(rec, sizeof *shown));
    if (shown && PERF_PTR_(uintptr_t, shown) - PERF_PTR_(uintptr_t, reg->family) <
        reg->family->bytes) {
        shown->next = member->recorders;
        shown->cell = rec->cell;                /* of one that has come already                   */
        shown->room = rec->room;
        rec->shown = shown;
        PERF_REL_(&member->recorders, shown);
    }
    perf_grow_end_(rec);
}

/* Sets up a recorder that is new, or that a fork has wiped.  Thread 0: it belongs to none. */
PERF_COLD_FN_ void perf_recorder_start_(perf_registry_ *reg, perf_recorder_ *rec, uint32_t thread)
{
    perf_recorder_ **same = &reg->by_thread[thread % 256];

    PERF_LIBC_(memset)(rec, 0, sizeof *rec);
    rec->open = &rec->root;                     /* the tree, empty                                */
    perf_recorder_clear_(rec);
    rec->home = reg;
    rec->number = ++reg->threads;
    rec->foreign_track = !thread;
    rec->thread = thread ? thread : 5000000 + rec->number; /* above the ids that Linux gives      */
    reg->alive++;
    rec->made = rec->birth = perf_scope_ticks_(reg);
    perf_ring_set_(reg, rec);
    perf_recorder_show_(reg, rec);
    if (thread) {
        rec->next_same = *same;
        PERF_REL_(same, rec);
    }
    rec->next = reg->recorders;
    PERF_REL_(&reg->recorders, rec);
}

#define PERF_EVENT_MORE_ UINT64_C(0xffffffff)   /* its duration stands in the entry before        */

/* How many events, of those since byte `since`, newer ones have overwritten.  An event of several
 * entries is gone with its first one.  So where there are parts of such events:
 *     overwritten = entries written - parts - events that are whole in the ring                  */
PERF_COLD_FN_ uint64_t perf_ring_dropped_(const perf_registry_ *reg, const perf_recorder_ *rec,
                                          uint64_t since)
{
    uint64_t head = PERF_ACQ_(&rec->ring_head), written = (head - since) / sizeof(perf_event_);
    uint64_t parts = PERF_GET_(&rec->ring_more), i = 0, entries, what, whole = 0;

    if (since != PERF_GET_(&rec->ring_lost))
        parts -= PERF_GET_(&rec->sent_more);
    if (!parts || written <= reg->ring_events)
        return written > reg->ring_events ? written - reg->ring_events : 0;
    while (i < reg->ring_events) {              /* from the newest back                           */
        what = PERF_GET_(&rec->ring[(head / sizeof(perf_event_) - 1 - i) % reg->ring_events].what);
        entries = 1;
        if (!perf_event_is_part_(what) && (what & PERF_EVENT_MORE_) == PERF_EVENT_MORE_)
            entries = 2;
        if (entries == 2 && PERF_ACQ_(&reg->names)[what >> 32 & 0xffffff]->kind == PERF_KIND_ASYNC_)
            entries = 3;
        i += entries;
        whole += !perf_event_is_part_(what) && i <= reg->ring_events;
    }
    if (written < parts + whole)                /* it may be writing                              */
        return 0;
    return written - parts - whole;
}

/* Events of a ring that are not in the streamed file.  Its owner may be writing: never too few. */
PERF_COLD_FN_ uint64_t perf_ring_unsent_(const perf_recorder_ *rec)
{
    const uint64_t more = PERF_ACQ_(&rec->sent_more), head = PERF_ACQ_(&rec->ring_head);

    return (head - PERF_GET_(&rec->ring_sent)) / sizeof(perf_event_) -
           (PERF_GET_(&rec->ring_more) - more);
}

/* What is missing from the numbers of all threads, and of the process. */
PERF_COLD_FN_ perf_losses_ perf_losses_sum_(perf_registry_ *reg)
{
    perf_losses_    losses = PERF_ZERO;
    perf_recorder_ *rec;
    perf_stream_base_   *stream = PERF_ACQ_(&reg->stream);
    int             failed = stream && PERF_GET_(&stream->state) == PERF_STREAM_FAILED_, i;

    if (stream)
        losses.n[PERF_LOSS_UNSENT_] = PERF_GET_(&stream->unsent);
    losses.n[PERF_LOSS_LOST_] = PERF_GET_(&reg->lost);
    losses.n[PERF_LOSS_CUT_] = PERF_GET_(&reg->cut_names);
    losses.n[PERF_LOSS_OVERWRITTEN_] = PERF_GET_(&reg->retired_lost);
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        uint64_t since = PERF_GET_(&rec->ring_lost);
        if (failed)
            losses.n[PERF_LOSS_UNSENT_] += perf_ring_unsent_(rec);
        if (PERF_GET_(&rec->request) & PERF_ASK_RESET_)
            continue;                           /* reset, though its thread sleeps or is gone     */
        if (PERF_GET_(&rec->ring_sent) > since) /* what is in the file is not lost                */
            since = PERF_GET_(&rec->ring_sent);
        for (i = 0; i < PERF_LOSSES_; i++)
            losses.n[i] += PERF_GET_(&rec->losses[i]);
        losses.n[PERF_LOSS_OVERWRITTEN_] += perf_ring_dropped_(reg, rec, since);
    }
    return losses;
}

#define PERF_RETIRED_MAX_ (UINT64_C(64) << 20)  /* bytes kept of the events of ended threads     */

/* Keeps an ended thread's events, but what a reset forgot, so that another one can take over. */
PERF_COLD_FN_ void perf_recorder_retire_(perf_registry_ *reg, perf_recorder_ *rec)
{
    uint64_t       bytes, i, at;
    uint64_t       size = reg->ring_events * sizeof(perf_event_);
    perf_retired_ *old;
    char          *to;
    int            sent;

    perf_entries_put_(rec, PERF_NULL_, 0);      /* it may have ended in a signal handler          */
    bytes = rec->ring_head - rec->ring_lost;
    sent = perf_stream_flush_(reg, rec);
    if (rec->request & PERF_ASK_RESET_)
        bytes = 0;
    if (!sent && reg->stream && reg->stream->state == PERF_STREAM_FAILED_)
        PERF_ADD_(reg->stream->unsent, perf_ring_unsent_(rec));
    if (bytes > size && !sent)
        PERF_ADD_(reg->retired_lost, perf_ring_dropped_(reg, rec, rec->ring_lost));
    bytes = perf_smaller_(bytes, size);
    if (bytes && !reg->retired)
        reg->retired = PERF_CAST_(char *, perf_pages_(PERF_CAST_(size_t, PERF_RETIRED_MAX_), 0));
    if (reg->retired && reg->retired_bytes + sizeof *old + bytes <= PERF_RETIRED_MAX_ && bytes) {
        old = PERF_PTR_(perf_retired_ *, PERF_PTR_(void *, reg->retired + reg->retired_bytes));
        old->thread = rec->thread;
        old->number = rec->number;
        old->count = bytes / sizeof(perf_event_);
        PERF_LIBC_(memcpy)(old->name, rec->name, sizeof old->name);
        to = PERF_PTR_(char *, old + 1);
        for (i = 0; i < bytes; i += sizeof(perf_event_)) {
            at = (rec->ring_head - sizeof(perf_event_) - i) & (size - 1);
            PERF_LIBC_(memcpy)(to + i, PERF_PTR_(char *, rec->ring) + at, sizeof(perf_event_));
        }
        reg->retired_bytes += sizeof *old + bytes;
    } else if (!sent) {
        PERF_ADD_(reg->retired_lost, bytes / sizeof(perf_event_));
    }
    PERF_SET_(&rec->ring_head, UINT64_C(0));
    rec->sent_more = rec->ring_next = rec->ring_lost = rec->ring_more = rec->ring_sent = 0;
    if (rec->ring_limit)
        perf_ring_set_(reg, rec);
}

/* So many more scopes of thread `rec` have ended elsewhere, and will be found open there. */
PERF_COLD_FN_ void perf_stray_(perf_recorder_ *rec, uint32_t n)
{
    uint32_t was;

    do
        was = PERF_GET_(&rec->strayed);
    while (!perf_claim_(&rec->strayed, was, was + n));
}

/* So many scopes were found open that will not end here: lost, unless they have ended elsewhere. */
PERF_COLD_FN_ void perf_abandon_(perf_recorder_ *rec, uint64_t n)
{
    uint32_t strayed = PERF_GET_(&rec->strayed);

    if (strayed >> 31)                          /* below 0: went there                            */
        strayed = 0;
    if (strayed > n)
        strayed = PERF_CAST_(uint32_t, n);
    if (strayed)
        perf_stray_(rec, 0 - strayed);
    PERF_ADD_(rec->losses[PERF_LOSS_ABANDONED_], n - strayed);
}

#if PERF_SYS_GETTID_ && !PERF_TSAN_     /* which does not see that a thread has ended             */
/* A recorder whose thread has ended, to be taken over; its sums stay.  The kernel is asked about
 * all of them only when their number has doubled.                                                */
PERF_COLD_FN_ perf_recorder_ *perf_recorder_adopt_(perf_registry_ *reg, uint32_t thread)
{
    perf_recorder_  *rec;
    perf_recorder_ **link;

    if (reg->alive >= reg->scan_at) {
        for (rec = reg->recorders; rec; rec = rec->next)
            if (!rec->gone && !rec->foreign_track &&
                perf_thread_ended_(reg->process, rec->thread)) {
                rec->gone = 1;
                reg->alive--;
            }
        reg->scan_at = 2 * reg->alive + 64;
    }
    if (reg->alive == reg->threads)             /* none has ever gone                             */
        return PERF_NULL_;
    rec = reg->recorders;
    while (rec && !rec->gone)
        rec = rec->next;
    if (!rec || reg->reading)                   /* a trace would have it twice                    */
        return PERF_NULL_;
    perf_recorder_retire_(reg, rec);
    link = &reg->by_thread[rec->thread % 256];
    while (*link && *link != rec)
        link = &(*link)->next_same;
    if (*link)
        *link = rec->next_same;
    rec->gone = 0;
    perf_abandon_(rec, perf_open_drop_(rec, &rec->root)); /* what the thread before left open     */
    rec->ranges = 0;
    PERF_LIBC_(memset)(&rec->looked, 0, sizeof rec->looked);
    PERF_SET_(&rec->away, UINT64_C(0));
    rec->thread = thread;
    rec->name[0] = '\0';
    rec->number = ++reg->threads;
    reg->alive++;
    rec->made = perf_scope_ticks_(reg);
    rec->next_same = reg->by_thread[thread % 256];
    reg->by_thread[thread % 256] = rec;
    return rec;
}
#else
#define perf_recorder_adopt_(r, thread) PERF_NULL_
#endif

/* Forgets the events of a ring.  A stream writes or counts all that it has not written yet: only
 * where there is one, which may be at this ring, a lock is taken.                                */
PERF_COLD_FN_ void perf_ring_forget_(perf_registry_ *reg, perf_recorder_ *rec)
{
    const perf_stream_base_ *stream = PERF_ACQ_(&reg->stream);
    const uint64_t           more = rec->ring_more;
    const int streams = stream && PERF_GET_(&stream->state) != PERF_STREAM_ENDED_;
    const int locked = streams && perf_lock_(reg);      /* or this thread is inside               */

    PERF_SET_(&rec->ring_lost, rec->ring_head);
    PERF_SET_(&rec->ring_more, UINT64_C(0));
    if (streams)                                /* may be below 0; else the next stream sets it   */
        PERF_REL_(&rec->sent_more, rec->sent_more - more);
    if (locked)
        perf_unlock_(&reg->lock);
}

/* Does what other threads have asked for, and gives `quick` to the hot path unless a clock or a
 * sink is to be asked.  The owner calls it when it next begins a scope.                          */
PERF_COLD_FN_ void perf_recorder_serve_(perf_recorder_ *rec)
{
    perf_registry_ *reg = rec->home;
    uint32_t        ask, i;

    do {
        do
            ask = PERF_GET_(&rec->request);
        while (!perf_claim_(&rec->request, ask, 0));
        if (ask & PERF_ASK_RESET_) {
            perf_recorder_clear_(rec);
            perf_ring_forget_(reg, rec);
            for (i = 0; i < PERF_LOSSES_; i++)
                PERF_SET_(&rec->losses[i], UINT64_C(0));
            PERF_SET_(&rec->birth, perf_scope_ticks_(reg));
        }
        if (ask & PERF_ASK_TRACE_)
            perf_ring_set_(reg, rec);
        PERF_SET_(&rec->quick, reg->clock || PERF_ACQ_(&reg->sink) ? PERF_NULL_ : rec->table);
    } while (!perf_claim_(&rec->request, 0, 0)); /* asked meanwhile: again                        */
}

/* The calling thread's recorder; NULL without memory. */
PERF_OUTLINE_FN_ perf_recorder_ *perf_recorder_get_(void)
{
    perf_registry_ *reg;
    perf_recorder_ *rec = PERF_SELF_;
    uint32_t        thread;
    int             errno_before;               /* tgkill and dlopen change it                    */

    if (rec && rec->home)
        return rec;
    errno_before = PERF_ERRNO_;
    reg = perf_registry_get_();
    if (!reg)
        return PERF_NULL_;
    if (!perf_lock_(reg)) {                     /* a signal handler in the thread's first moment  */
        PERF_ERRNO_ = errno_before;
        return PERF_NULL_;
    }
    thread = perf_thread_id_();
    if (rec) {                                  /* wiped by a fork: start over in the same place  */
        if (!rec->home)                         /* else a signal handler has come before the lock */
            perf_recorder_start_(reg, rec, thread);
        perf_unlock_(&reg->lock);
        PERF_ERRNO_ = errno_before;
        return rec;
    }
    rec = reg->by_thread[thread % 256];
    while (rec && rec->thread != thread)
        rec = rec->next_same;
    if (rec && rec->gone) {                     /* the system has given the id to a new thread    */
        rec->gone = 0;
        reg->alive++;
    }
    if (!rec)
        rec = perf_recorder_adopt_(reg, thread);
    if (!rec) {
        rec = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *rec, 1));
        if (rec)
            perf_recorder_start_(reg, rec, thread);
    }
    perf_unlock_(&reg->lock);
    PERF_ERRNO_ = errno_before;
#if !PERF_TCC_
    perf_self_v1_ = rec;
#endif
    if (rec && PERF_GET_(&rec->request))        /* left over from the thread before               */
        perf_recorder_serve_(rec);
    if (!rec)
        perf_fail_(reg, PERF_ENOMEM);
    return rec;
}

/* perf_recorder_get_() for a mark, which is counted as lost where it gives NULL. */
PERF_OUTLINE_FN_ perf_recorder_ *perf_recorder_for_mark_(void)
{
    perf_recorder_ *rec = perf_recorder_get_();
    perf_registry_ *reg = rec ? PERF_NULL_ : PERF_ACQ_(&perf_anchor_v1_.registry);

    if (!reg)
        return rec;
#if PERF_TCC_
    reg->lost++;
#else
    (void)__atomic_fetch_add(&reg->lost, 1, 0); /* signal handlers of several threads, too        */
#endif
    perf_fail_(reg, PERF_ELIMIT);               /* unless no memory has been said already         */
    return rec;
}

/* Makes room for a name's cell; 0: no memory. */
PERF_COLD_FN_ int perf_cells_room_(perf_recorder_ *rec, uint32_t id)
{
    uint32_t     room = rec->room ? rec->room : 64;
    perf_cell_ **table;

    while (room <= id)
        room *= 2;
    if (room == rec->room)
        return 1;
    table = PERF_CAST_(perf_cell_ **, perf_room_(rec, room * sizeof *table));
    if (!table)
        return 0;
    if (rec->room)
        PERF_LIBC_(memcpy)(table, rec->cell, rec->room * sizeof *table);
    PERF_REL_(&rec->cell, table);               /* readers take `room` first, then the table      */
    PERF_REL_(&rec->room, room);
    if (rec->shown) {
        PERF_REL_(&rec->shown->cell, table);
        PERF_REL_(&rec->shown->room, room);
    }
    return 1;
}

/* Room for one more slot; 0: no memory.  The table is at most half full.  An old one is not needed
 * any more, but stays in the pool.  With it grows `quick`, hidden until perf_recorder_serve_ gives
 * it to the hot path again.  A signal handler may do so in between, so the mask grows last.      */
PERF_COLD_FN_ int perf_slots_room_(perf_recorder_ *rec)
{
    perf_slot_  *old = rec->slot, *fresh;
    perf_cell_ **table;
    uint32_t     n = rec->slot_room, i, room = n ? 2 * n : 128;

    if (2 * (rec->slots_used + 1) <= n)
        return 1;
    fresh = PERF_CAST_(perf_slot_ *, perf_room_(rec, room * (sizeof *old + sizeof *table)));
    if (!fresh)
        return 0;
    table = PERF_PTR_(perf_cell_ **, fresh + room);
    for (i = 0; i < room; i++)
        table[i] = &rec->root;
    PERF_REL_(&rec->table, table);
    PERF_REL_(&rec->quick, PERF_NULL_);
    PERF_REL_(&rec->quick_mask, PERF_CAST_(uint32_t, (room - 1) * sizeof *table));
    rec->slot = fresh;
    rec->slot_room = room;
    for (i = 0; i < n; i++)
        if (old[i].cell)
            *perf_slot_at_(rec, old[i].caller, perf_cell_id_(old[i].cell)) = old[i];
    return 1;
}

/* Memory for a cell; NULL: none.  The cells of a block begin 64 bytes apart, see perf_cell_. */
PERF_COLD_FN_ perf_cell_ *perf_cell_fresh_(perf_recorder_ *rec)
{
    perf_cell_    *cell = rec->fresh;
    const uint32_t beside = sizeof cell->others / sizeof *cell->others;

    if (rec->fresh_left) {
        rec->fresh_left--;
    } else {
        cell = PERF_CAST_(perf_cell_ *, perf_room_(rec, (beside + 1) * 64 + sizeof *cell));
        if (!cell)
            return PERF_NULL_;
        rec->fresh_left = beside;
    }
    rec->fresh = PERF_PTR_(perf_cell_ *, PERF_PTR_(uintptr_t, cell) + 64);
    return cell;
}

/* An empty cell of `id` under `caller`, in the ring of its name; NULL: no memory. */
PERF_COLD_FN_ perf_cell_ *perf_cell_born_(perf_recorder_ *rec, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *kin, *cell = perf_cell_fresh_(rec);

    if (!cell)
        return PERF_NULL_;
    perf_cell_clear_(cell);
    cell->parent = caller;
    cell->depth = caller->depth + 1;
    cell->tag = PERF_CAST_(uint64_t, id) << 32 | PERF_CAST_(uint64_t, cell->depth) << 56;
    kin = rec->cell[id];
    cell->kin = kin ? kin->kin : cell;
    if (kin)
        PERF_REL_(&kin->kin, cell);
    PERF_REL_(&rec->cell[id], cell);
    return cell;
}

/* A new entry of the table: a new cell of `id` under `caller`, or the open one of that name. */
PERF_COLD_FN_ perf_cell_ *perf_cell_make_(perf_recorder_ *rec, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *cell = PERF_NULL_;
    perf_slot_ *slot;

    if (!id || !perf_grow_begin_(rec))
        return PERF_NULL_;
    if (perf_slots_room_(rec) && perf_cells_room_(rec, id)) {
        slot = perf_slot_at_(rec, caller, id);
        cell = slot->cell;                      /* a signal handler may just have made it         */
        if (!cell) {
            cell = caller;                      /* open further out?                              */
            while (cell && perf_cell_id_(cell) != id)
                cell = cell->parent;
            if (!cell)
                cell = perf_cell_born_(rec, caller, id);
            slot->caller = caller;
            slot->cell = cell;
            rec->slots_used += cell != PERF_NULL_;
        }
    }
    perf_grow_end_(rec);
    return cell;
}

/* The cell of `id` when `caller` is open; NULL without memory or for id 0. */
PERF_FN perf_cell_ *perf_cell_under_(perf_recorder_ *rec, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *cell = rec->slot_room ? perf_slot_at_(rec, caller, id)->cell : PERF_NULL_;

    if (!cell)
        return perf_cell_make_(rec, caller, id);
    if (cell->parent == caller)
        *perf_quick_cell_at_(rec, rec->table, caller, id) = cell;
    return cell;
}

/* The cell of what has no caller: counters, instants, spans of several threads, device times. */
#define perf_cell_get_(rec, id) perf_cell_under_(rec, &(rec)->root, id)

#define PERF_BLOCK_HEAD_     6          /* counters that would fit into the head of a block       */
#define PERF_BLOCK_COUNTERS_ 16         /* ... and into 64 bytes                                  */

/* A block of at least so many counters, all 0, in whole units of 64 bytes; 0: a block of entries.
 * NULL: no memory.                                                                               */
PERF_COLD_FN_ perf_buckets_ *perf_buckets_make_(perf_recorder_ *rec, uint32_t counters)
{
    uint32_t       units = (counters + PERF_BLOCK_HEAD_ - 1) / PERF_BLOCK_COUNTERS_ + 1;
    perf_buckets_ *buckets = PERF_CAST_(perf_buckets_ *,
                                        perf_room_(rec, 64 * PERF_CAST_(size_t, units)));

    if (buckets && counters)
        buckets->room = PERF_BLOCK_COUNTERS_ * units - PERF_BLOCK_HEAD_;
    return buckets;
}

/* Is there a counter for this index? */
PERF_INLINE_FN_ int perf_buckets_have_(const perf_buckets_ *buckets, uint32_t index)
{
    return buckets && index - buckets->first < buckets->room;
}

/* The entry of an index; index 0: a free one.  NULL: there is none. */
PERF_COLD_FN_ uint32_t *perf_rare_at_(const perf_buckets_ *buckets, uint32_t index)
{
    uint32_t i;

    for (i = 0; i < PERF_RARE_; i++)
        if (PERF_GET_(&buckets->rare->n[i]) >> 16 == index)
            return &buckets->rare->n[i];
    return PERF_NULL_;
}

/* Widens a range of indexes up to the entries within an octave of it. */
PERF_COLD_FN_ void perf_rare_near_(const perf_buckets_ *buckets, uint32_t *from, uint32_t *to)
{
    const uint32_t octave = UINT32_C(1) << PERF_CELL_BITS_;
    uint32_t       i, turn, index;

    for (turn = 0; turn < PERF_RARE_; turn++)   /* one may bring the next one near                */
        for (i = 0; i < PERF_RARE_; i++) {
            index = PERF_GET_(&buckets->rare->n[i]) >> 16;
            if (index && index < *from && *from - index <= octave)
                *from = index;
            else if (index >= *to && index - *to < octave)
                *to = index + 1;
        }
}

/* Remembers that a counter has come to the next half of its range, if it has. */
PERF_COLD_FN_ void perf_halves_keep_(perf_recorder_ *rec, perf_buckets_ *buckets, uint32_t i)
{
    const uint64_t birth = PERF_GET_(&rec->birth);
    perf_halves_  *entry = buckets->halves;
    uint32_t       halves;

    while (entry && entry->index != buckets->first + i)
        entry = entry->next;
    halves = entry ? entry->halves : 0;
    if (PERF_GET_(&buckets->n[i]) >> 31 == (halves & 1))
        return;
    if (!entry) {
        entry = PERF_CAST_(perf_halves_ *, perf_room_(rec, sizeof *entry));
        if (!entry) {                           /* calls and sums have them, percentiles do not   */
            perf_fail_(rec->home, PERF_ENOMEM);
            return;
        }
        entry->index = buckets->first + i;
        entry->next = buckets->halves;
        PERF_REL_(&buckets->halves, entry);
    }
    PERF_SET_(&entry->halves, halves + 1);
    if (PERF_GET_(&rec->birth) != birth)        /* a signal handler has emptied the counters      */
        PERF_SET_(&entry->halves, 0u);
}

/* Does an entry of n durations want a counter: n >= 4, and n * n >= calls or n >= 2^15?  At most
 * the square root of the calls come to an entry, so cold ends do not count in the long run.      */
PERF_INLINE_FN_ int perf_rare_often_(const perf_cell_ *cell, uint32_t entry)
{
    uint32_t n = entry & 0xffff;

    return n >= 4 && (PERF_CAST_(uint64_t, n) * n >= cell->count || n >= 0x8000);
}

/* 1: there is an entry, and it can count one more: its 16 bits are not half full. */
PERF_INLINE_FN_ int perf_rare_has_room_(const uint32_t *entry)
{
    return entry && (*entry & 0xffff) < 0x8000;
}

/* ---- sink ---- */

/* Asks every thread for something; each does it when it next begins a scope. */
PERF_COLD_FN_ void perf_ask_(perf_registry_ *reg, uint32_t what)
{
    perf_recorder_ *rec, *mine = PERF_SELF_;

    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        perf_word_set_(&rec->request, what);
        PERF_SET_(&rec->quick, PERF_NULL_);
    }
    if (mine && mine->home)
        perf_recorder_serve_(mine);
}

/* Switches an image on or off. */
PERF_COLD_FN_ void perf_image_switch_(perf_search_ *search, perf_anchor_ *anchor)
{
    PERF_SET_(&anchor->off, search->value);
}

/* Tells the sink, if there is one, of a mark without length: a counter, an instant, the end of a
 * lap.  type: as in perf_label_; 2: it has `value`, 0: it has none.                              */
PERF_COLD_FN_ void perf_sink_mark_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t type,
                                   double value)
{
    const perf_sink_ *sink = PERF_ACQ_(&rec->home->sink);
    perf_label_       label;

    if (sink) {
        label = perf_label_of_(PERF_ACQ_(&rec->home->names)[perf_cell_id_(cell)], type,
                               perf_bits_(value));
        PERF_SINK_(rec, sink->mark(&label))
    }
}

/* ---- what is not the common case of a mark ---- */

PERF_COLD_DECL_ void perf_ring_due_(perf_recorder_ *rec);

/* The event of a scope where the ring is due, was switched off just now, or is being written to. */
PERF_COLD_FN_ void perf_event_due_(perf_recorder_ *rec, uint64_t start, uint64_t what)
{
    const perf_event_ event = {start, what};

    perf_event_write_(rec, &event, 1);
}

/* The name in a cell's tag, where it stands; without the depth. */
PERF_INLINE_FN_ uint64_t perf_tag_name_(uint64_t tag)
{
    return tag & UINT64_C(0xffffff) << 32;
}

#define PERF_TEXT_MAX_ 63               /* bytes of an instant's text                             */

#define PERF_LONG_ (UINT64_C(1) << 20)  /* ticks: the end of a longer call may take 0.5 us more,  */
                                        /* to ask the system                                      */

/* Notes how long the thread had no processor in this call, if that is the most so far.
 *  Time without one since the last look counts to this call as a whole if the call was unusual (8
 * times as long as the others) and that time explains it.  Else only the part counts that cannot
 * lie before the call.  Nothing counts if the thread has waited, too.                            */
PERF_COLD_FN_ void perf_away_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks)
{
    perf_spent_    now = perf_spent_since_(PERF_NULL_, 1), last = rec->looked;
    const uint64_t calls = PERF_GET_(&cell->count);     /* 0: it was lost                         */
    double         ns = PERF_CAST_(double, ticks) * perf_scope_tick_ns_(rec->home);
    double         wall = PERF_CAST_(double, now.ns - last.ns);
    double         away = wall - PERF_CAST_(double, now.cpu_ns - last.cpu_ns);
    int            unusual, explains;

    rec->looked = now;
    unusual = !calls || ticks / 8 >= (cell->sum - ticks) / calls;
    explains = away <= 1.25 * ns;
    if (!(unusual && explains) && wall > ns)
        away -= wall - ns;
    if (away > ns)
        away = ns;
    if (now.switches > last.switches && now.waits == last.waits && away > 0 &&
        PERF_CAST_(uint64_t, away) > rec->away) {
        PERF_SET_(&rec->away_in, perf_cell_id_(cell));
        PERF_REL_(&rec->away, PERF_CAST_(uint64_t, away));      /* readers take its name next     */
    }
}

/* Begins a lap at `now`, with what its caller has by then. */
PERF_FN void perf_lap_at_(perf_lap *lap, perf_recorder_ *rec, uint64_t now)
{
    lap->rec = rec;
    lap->open = rec->open;
    lap->inside = rec->open->inside;
    lap->calls = rec->open->count;
    lap->total = rec->open->sum - rec->open->again;
    lap->start = now;
}

/* A scope ends after the one around it, whose end was the last cold one.  Its time since then, less
 * that of scopes that have ended since; 0: something else is open now.                           */
PERF_COLD_FN_ uint64_t perf_after_(const perf_recorder_ *rec, uint64_t start, uint64_t end)
{
    const uint64_t from = perf_larger_(rec->after.start, start);
    const uint64_t inside = rec->open->inside - rec->after.inside;

    if (rec->after.open != rec->open || end <= from || end - from <= inside)
        return 0;
    return end - from - inside;
}

/* The end of a scope of another thread: its name counts here, without a caller. */
PERF_COLD_FN_ void perf_end_foreign_(perf_recorder_ *rec, perf_scope *scope,
                                     const perf_cell_ *theirs, uint64_t end)
{
    perf_cell_ *cell = perf_cell_get_(rec, perf_cell_id_(theirs));
    uint64_t    ticks;

    perf_lose_(rec, PERF_LOSS_FOREIGN_, PERF_OK);
    perf_stray_(scope->rec, 1);                 /* its own thread will find it not ended          */
    if (!cell) {
        perf_lose_cell_(rec, perf_cell_id_(theirs));
    } else if (perf_since_(scope->start, end) < 0.0) {
        perf_lose_to_clock_(rec);
    } else {
        ticks = perf_cell_close_(rec, cell, scope->start, end);
        PERF_ADD_(cell->again, ticks);
        PERF_ADD_(cell->inside, ticks);
        perf_event_scope_(rec, cell, scope->start, ticks, perf_depth_(rec) + 1);
    }
}

/* The end of a scope after that of the scope around it, which took it for abandoned: it counts
 * beside what is open now, with the time since that other end.                                   */
PERF_COLD_FN_ void perf_end_late_(perf_recorder_ *rec, perf_scope *scope, const perf_cell_ *ended,
                                  uint64_t end)
{
    perf_cell_ *cell = perf_cell_under_(rec, rec->open, perf_cell_id_(ended));
    uint64_t    ticks, own = 0;

    if (rec->losses[PERF_LOSS_ABANDONED_])
        PERF_ADD_(rec->losses[PERF_LOSS_ABANDONED_], ~UINT64_C(0));     /* one fewer: it ended    */
    perf_lose_(rec, PERF_LOSS_DISORDERED_, PERF_ESTATE);
    if (!cell) {
        perf_lose_cell_(rec, perf_cell_id_(ended));
        return;
    }
    ticks = perf_cell_close_(rec, cell, scope->start, end);
    if (cell->parent == rec->open)
        own = perf_after_(rec, scope->start, end);
    PERF_ADD_(cell->again, ticks - own);        /* that much is in the other scope already        */
    PERF_ADD_(cell->inside, ticks - own);
    PERF_ADD_(rec->open->inside, own);
    perf_event_scope_(rec, cell, scope->start, ticks, perf_depth_(rec) + 1);
}

/* Leaves a scope that would have ended before it began: what it called counts for its caller. */
PERF_COLD_FN_ void perf_end_across_(perf_recorder_ *rec, perf_cell_ *cell, perf_cell_ *outer)
{
    perf_cell_ *open = rec->open;

    while (open && open != cell)
        open = open->parent;
    if (outer != cell->parent)
        (void)perf_open_end_(rec, cell, outer, 1);
    else if (open)
        perf_abandon_(rec, perf_open_drop_(rec, outer) - 1);
    perf_lose_to_clock_(rec);
}

/* ---- a scope ends, and perf_end_() cannot do it ---- */

PERF_FN int perf_end_again_(perf_scope *scope, uint64_t end);
PERF_COLD_DECL_ void perf_end_slow_(perf_scope *scope, uint64_t end);
PERF_COLD_DECL_ void perf_end_ordered_(perf_recorder_ *rec, perf_scope *scope, perf_cell_ *cell,
                                       perf_cell_ *outer, uint64_t end);

/* The end of a scope where perf_end_() cannot do it.  Recursion is common, so it is quick. */
PERF_HOT_FN_ void perf_core_end_(perf_scope *scope, uint64_t end)
{
    if (scope->open != PERF_COLD_END_ || scope->rec != PERF_SELF_ || !perf_end_again_(scope, end))
        perf_end_slow_(scope, end);
}

/* Ends a recursive call that is in order, and whose duration has a counter and is no extreme.  0:
 * it does not, and perf_end_slow_ has to.                                                        */
PERF_INLINE_FN_ int perf_end_again_(perf_scope *scope, uint64_t end)
{
    perf_recorder_ *rec = scope->rec;
    perf_cell_     *cell = scope->cell, *outer = scope->outer;
    uint64_t        ticks = end - scope->start, within;

    if (!cell->again_open || outer != rec->open || outer == cell->parent || !PERF_PEEK_(rec->quick))
        return 0;
    if (scope->start <= rec->birth || ticks >= PERF_EVENT_MORE_ ||
        ticks < cell->of.calls.min || ticks > cell->of.calls.max)
        return 0;                               /* no call so far; else `buckets` is there        */
    if (PERF_CAST_(uint32_t, perf_bucket_index_(ticks)) - cell->buckets->first >=
            cell->buckets->room || perf_late_step_(rec))
        return 0;
    cell->again_open--;
    perf_deeper_(rec, ~UINT64_C(0));
    if (!cell->again_open && !cell->held)       /* one addition clears the bit: between a read    */
        PERF_ADD_(cell->low, PERF_CLOSED_);     /* and a write a handler may set low and width    */
    within = outer->inside - scope->inside;     /* what it called stands in `outer`               */
    within = perf_smaller_(within, ticks);
    PERF_ADD_(cell->count, 1);
    PERF_ADD_(cell->sum, ticks);
    PERF_ADD_(cell->again, ticks);              /* the outermost call has this time already       */
    PERF_ADD_(cell->within, within);
    PERF_ADD_(outer->inside, ticks - within);
    perf_bucket_add_(rec, cell, ticks);
    perf_event_hot_(rec, scope->start, ticks | perf_tag_name_(cell->tag) |
                                              PERF_CAST_(uint64_t, outer->depth + 1u) << 56);
    return 1;
}

/* The same where perf_end_again_() cannot do it, either: the first of a cell, a new extreme, a long
 * or rare duration, what is out of order.                                                        */
PERF_COLD_FN_ void perf_end_slow_(perf_scope *scope, uint64_t end)
{
    perf_recorder_   *rec = perf_recorder_for_mark_();  /* of the thread that counts this end     */
    const perf_sink_ *sink;
    perf_cell_       *cell = scope->open, *outer;
    int               ordered;          /* 1: it was open; 0: not; -1: the clock was set back     */

    if (!rec)
        return;
    if (rec->home->clock)
        end = perf_scope_ticks_(rec->home);
    if (scope->open == PERF_COLD_END_) {
        cell = scope->cell;
        outer = scope->outer;
    } else {
        outer = cell->parent;
    }
    if (rec != scope->rec) {
        perf_end_foreign_(rec, scope, cell, end);
        return;
    }
    perf_clock_check_(rec, end, scope->start <= end ? scope->start - 1 : end);
    if (scope->start < rec->made) {
        perf_lose_(rec, PERF_LOSS_ORPHANS_, PERF_OK);   /* begun before a fork                    */
        return;
    }
    if (scope->start <= rec->birth)             /* begun before a reset: counts from there        */
        scope->start = perf_smaller_(rec->birth, end);
    if (perf_since_(scope->start, end) < 0.0) {
        perf_end_across_(rec, cell, outer);
        ordered = -1;
    } else {
        ordered = perf_open_end_(rec, cell, outer, outer != cell->parent);
    }
    sink = PERF_ACQ_(&rec->home->sink);
    if (rec->ranges && sink)
        PERF_SINK_(rec, sink->end(rec, perf_depth_(rec) + 1))
    if (ordered > 0)
        perf_end_ordered_(rec, scope, cell, outer, end);
    else if (!ordered)
        perf_end_late_(rec, scope, cell, end);
    rec->after.start = end;
    rec->after.inside = rec->open->inside;
    rec->after.open = rec->open;
}

/* Leaves the cell of a scope that ends: `outer` is what was open before it began; again: the call
 * is recursive.  0: it is not open any more, because the scope around it has ended first.        */
PERF_COLD_FN_ int perf_open_end_(perf_recorder_ *rec, perf_cell_ *cell, perf_cell_ *outer,
                                 int again)
{
    perf_cell_ *last = again ? outer : cell, *open = rec->open;
    uint64_t    dropped;

    while (open && open != last)
        open = open->parent;
    if (!open)
        return 0;
    dropped = perf_open_drop_(rec, open);
    if (again && cell->again_open) {
        cell->again_open--;
        perf_deeper_(rec, ~UINT64_C(0));
    } else if (!again) {
        perf_deeper_(rec, 0 - PERF_CAST_(uint64_t, cell->again_open));
        dropped += cell->again_open;
        cell->again_open = cell->held = 0;
        PERF_REL_(&rec->open, outer);
    }
    perf_abandon_(rec, dropped);
    return 1;
}

/* Takes all cells off the chain of open ones down to `to`, which stays; returns how many scopes
 * those were, with recursive calls.  What ran inside one that never ends counts for its caller.  */
PERF_COLD_FN_ uint64_t perf_open_drop_(perf_recorder_ *rec, perf_cell_ *to)
{
    perf_cell_ *cell = rec->open;
    uint64_t    n = 0, excess;

    for (; cell != to && cell->parent; cell = cell->parent) {
        n += 1u + cell->again_open;
        perf_deeper_(rec, 0 - PERF_CAST_(uint64_t, cell->again_open));
        cell->again_open = cell->held = 0;
        excess = cell->inside + cell->within - cell->sum;
        if (excess >= 1 && excess <= cell->inside) {
            PERF_ADD_(cell->parent->inside, excess);
            PERF_SET_(&cell->inside, cell->inside - excess);
        }
    }
    PERF_REL_(&rec->open, to);
    return n;
}

/* The end of a scope that is open, and left already: its time, and what is in its caller's. */
PERF_COLD_FN_ void perf_end_ordered_(perf_recorder_ *rec, perf_scope *scope, perf_cell_ *cell,
                                     perf_cell_ *outer, uint64_t end)
{
    const int again = outer != cell->parent;
    uint64_t  within = 0, ticks = perf_cell_close_(rec, cell, scope->start, end);

    if (ticks > PERF_LONG_ && !rec->home->custom)
        perf_away_(rec, cell, ticks);
    if (again)                                  /* what it called stands in `outer`               */
        within = outer->inside - (scope->start == rec->birth ? 0 : scope->inside);
    if (within > ticks)
        within = ticks;
    PERF_ADD_(cell->within, within);
    PERF_ADD_(outer->inside, ticks - within);
    if (again)
        PERF_ADD_(cell->again, ticks);          /* the outermost call has this time already       */
    perf_event_scope_(rec, cell, scope->start, ticks, perf_depth_(rec) + 1);
}

/* Counts the time from `start` to `end` in a cell, at once, and returns it: as perf_end_, cold. */
PERF_COLD_FN_ uint64_t perf_cell_close_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t start,
                                        uint64_t end)
{
    uint64_t ticks = end - start;

    if (!perf_cell_count_(rec, cell, ticks))
        perf_lose_(rec, PERF_LOSS_LOST_, rec->growing ? PERF_ELIMIT : PERF_ENOMEM);
    return ticks;
}

/* Counts at once what the hot path would not take: a new extreme, a rare duration, 0, a long one.
 * 0, and nothing counted: there is no memory for its bucket.                                     */
PERF_COLD_FN_ int perf_cell_count_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks)
{
    const int octaves = PERF_CELL_BUCKETS_ >> PERF_CELL_BITS_;
    uint64_t  most = (UINT64_C(1) << octaves) - 1;
    uint64_t  counted = perf_larger_(perf_smaller_(ticks, most), 1);
    uint32_t  index = PERF_CAST_(uint32_t, perf_bucket_index_(counted)), *counter;

    if (!perf_buckets_room_(rec, cell, index))
        return 0;
    if (ticks < cell->of.calls.min)
        PERF_SET_(&cell->of.calls.min, ticks);
    if (ticks > cell->of.calls.max)
        PERF_SET_(&cell->of.calls.max, ticks);
    perf_cell_window_(cell);
    PERF_ADD_(cell->count, 1);
    PERF_ADD_(cell->sum, ticks);
    if (perf_buckets_have_(cell->buckets, index))
        counter = PERF_PTR_(uint32_t *, cell->bucket) + index;
    else
        counter = perf_rare_at_(cell->buckets, index);
    if (counter)
        PERF_ADD_(*counter, 1);
    if (perf_late_step_(rec))
        perf_halves_look_(rec);
    return 1;
}

/* A place where this index is counted; 0: no memory. */
PERF_COLD_FN_ int perf_buckets_room_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index)
{
    const uint32_t *entry;
    int             done;

    if (perf_buckets_have_(cell->buckets, index))
        return 1;
    entry = cell->buckets ? perf_rare_at_(cell->buckets, index) : PERF_NULL_;
    if (entry && !perf_rare_often_(cell, *entry))
        return 1;
    if (!perf_grow_begin_(rec))
        return perf_rare_has_room_(entry);
    done = perf_rare_make_(rec, cell, index);
    perf_grow_end_(rec);
    return done;
}

/* An entry for this index beside what there is, or a counter; 0: no memory. */
PERF_COLD_FN_ int perf_rare_make_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index)
{
    perf_buckets_ *buckets = cell->buckets;     /* of a signal handler, maybe                     */
    uint32_t      *entry, *empty;

    if (!buckets) {
        buckets = perf_buckets_make_(rec, 0);
        if (!buckets)
            return 0;
        buckets->rare = buckets;
        buckets->first = index;
        PERF_REL_(&cell->buckets, buckets);
    }
    if (perf_buckets_have_(buckets, index))
        return 1;
    entry = perf_rare_at_(buckets, index);
    empty = perf_rare_at_(buckets, 0);
    if (!entry && empty) {
        PERF_REL_(empty, index << 16);
        return 1;
    }
    if (entry && !perf_rare_often_(cell, *entry))
        return 1;
    return perf_buckets_widen_(rec, cell, index) || perf_rare_has_room_(entry);
}

/* Counters up to this index, and those of the entries near them; 0: no memory.  Some slack on
 * both sides, so that blocks are seldom outgrown.                                                */
PERF_COLD_FN_ int perf_buckets_widen_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index)
{
    perf_buckets_ *old = cell->buckets, *buckets;
    uint32_t       from = index, to = index + 1, slack;

    if (old->room && old->first < from)
        from = old->first;
    if (old->room && old->first + old->room > to)
        to = old->first + old->room;
    perf_rare_near_(old, &from, &to);
    slack = PERF_CAST_(uint32_t, perf_smaller_((to - from) / 4, 16));
    buckets = perf_buckets_make_(rec, to - from + slack);
    if (buckets) {
        PERF_REL_(&buckets->first, from - (buckets->room - (to - from)) / 2);
        perf_buckets_move_(rec, cell, buckets);
    }
    return buckets != PERF_NULL_;
}

/* Moves the counters of a cell into a wider block, and the late ones and entries that belong
 * there.  A handler may do this while its thread holds the address of a late one.  Then that count
 * goes to the old block: calls and sums have it, percentiles do not.                             */
PERF_COLD_FN_ void perf_buckets_move_(perf_recorder_ *rec, perf_cell_ *cell, perf_buckets_ *buckets)
{
    const uint64_t birth = PERF_GET_(&rec->birth);
    perf_buckets_ *old = cell->buckets;
    uint32_t      *to = &buckets->n[old->room ? old->first - buckets->first : 0];
    uint32_t      *rare = old->rare->n, i, entry[PERF_RARE_];
    uintptr_t      at;

    PERF_REL_(&buckets->rare, old->rare);
    PERF_REL_(&buckets->halves, old->halves);
    PERF_SET_(&cell->bucket, PERF_PTR_(uintptr_t, buckets->n) -
              4 * PERF_CAST_(uintptr_t, buckets->first));
    for (i = 0; i < PERF_LATE_; i++) {
        at = (PERF_PTR_(uintptr_t, rec->late[i]) - PERF_PTR_(uintptr_t, old->n)) / sizeof *to;
        if (at < old->room)
            PERF_SET_(&rec->late[i], &to[at]);
    }
    for (i = 0; i < old->room; i++)             /* a signal handler may count late ones meanwhile */
        PERF_ADD_(to[i], old->n[i]);
    for (i = 0; i < PERF_RARE_; i++) {
        entry[i] = PERF_GET_(&rare[i]);
        if (perf_buckets_have_(buckets, entry[i] >> 16))
            PERF_ADD_(buckets->n[(entry[i] >> 16) - buckets->first], entry[i] & 0xffff);
    }
    PERF_REL_(&cell->buckets, buckets);
    for (i = 0; i < PERF_RARE_; i++)            /* ... and rare ones: what came since             */
        if (perf_buckets_have_(buckets, entry[i] >> 16)) {
            PERF_ADD_(buckets->n[(entry[i] >> 16) - buckets->first],
                      PERF_GET_(&rare[i]) - entry[i]);
            PERF_REL_(&rare[i], 0u);
        }
    if (PERF_GET_(&rec->birth) != birth)        /* a signal handler has emptied the old ones      */
        perf_buckets_clear_(buckets);
}

/* Lets the hot path count the durations that have a counter, lie between the extremes and are no
 * long ones, unless an end has to be cold.  Sets low..low + width.                               */
PERF_COLD_FN_ void perf_cell_window_(perf_cell_ *cell)
{
    const perf_buckets_ *buckets = cell->buckets;
    uint64_t             low, high;

    if (cell->held || cell->again_open || !buckets->room)
        return;
    low = perf_larger_(cell->of.calls.min, perf_bucket_from_(buckets->first));
    high = perf_smaller_(cell->of.calls.max, perf_bucket_from_(buckets->first + buckets->room) - 1);
    high = perf_smaller_(high, PERF_LONG_);
    if (low <= high) {
        PERF_SET_(&cell->low, low);
        PERF_SET_(&cell->width, high - low);
    }
    if (cell->of.calls.min > low)               /* a signal handler has emptied the cell          */
        PERF_SET_(&cell->low, PERF_NO_LOW_);
}

/* The least duration whose bucket is `index` or above it; at least 1. */
PERF_COLD_FN_ uint64_t perf_bucket_from_(uint32_t index)
{
    double   at = perf_from_bits_(PERF_CAST_(uint64_t, index) << (52 - PERF_CELL_BITS_));
    uint64_t ticks = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, at));

    if (PERF_CAST_(double, PERF_CAST_(int64_t, ticks)) < at)    /* the cast cut: round up         */
        ticks++;
    return ticks;
}

/* Looks at all counters of a thread: the first time after 2^31 durations, then after 2^30 each.  So
 * none comes to another half of its range twice between two looks.                               */
PERF_COLD_FN_ void perf_halves_look_(perf_recorder_ *rec)
{
    perf_cell_ *first, *cell;
    uint32_t    id, i;

    if (!perf_grow_begin_(rec))                 /* the next end tries again                       */
        return;
    for (id = 0; id < rec->room; id++) {
        first = cell = rec->cell[id];
        if (!first)
            continue;
        do {
            for (i = 0; cell->buckets && i < cell->buckets->room; i++)
                perf_halves_keep_(rec, cell->buckets, i);
            cell = cell->kin;
        } while (cell != first);
    }
    rec->late_next = rec->late_next % PERF_LATE_ + (UINT32_C(1) << 30);
    perf_grow_end_(rec);
}

/* The event of a scope, if there is a trace.  A long one has its duration in an entry before it. */
PERF_COLD_FN_ void perf_event_scope_(perf_recorder_ *rec, const perf_cell_ *cell, uint64_t start,
                                     uint64_t ticks, uint32_t depth)
{
    const uint64_t    length = perf_smaller_(ticks, PERF_EVENT_MORE_);
    const perf_event_ event[2] = {
        {ticks, 0},
        {start, length | perf_tag_name_(cell->tag) | PERF_CAST_(uint64_t, depth) << 56}};

    if (!rec->ring_limit)
        return;
    if (ticks >= PERF_EVENT_MORE_)
        perf_event_write_(rec, event, 2);
    else
        perf_event_write_(rec, &event[1], 1);
}

/* Writes n entries, the last of which is the event.  The ring may be due to be sent to a file. */
PERF_COLD_FN_ void perf_event_write_(perf_recorder_ *rec, const perf_event_ *event, uint64_t n)
{
    PERF_ADD_(rec->ring_more, n - 1);
    perf_entries_put_(rec, event, n);
    if (rec->ring_head >= rec->ring_limit)
        perf_ring_due_(rec);
}

/* Writes the ring to the file.  This is a scope of its own, so that its time is seen in the report
 * and is not counted as another scope's self time.                                               */
PERF_COLD_FN_ void perf_ring_due_(perf_recorder_ *rec)
{
    static perf_site_ site = {"(perf.h writes the trace)", __FILE__, __LINE__, 0};
    perf_registry_   *reg = rec->home;
    perf_scope        scope, *open;
    perf_stream_base_     *stream = PERF_ACQ_(&reg->stream);
    int               errno_before = PERF_ERRNO_;

    rec->ring_limit = rec->ring_head + 64 * sizeof(perf_event_); /* room for what follows here    */
    open = perf_begin_slow_(&scope, &site, PERF_NULL_, !reg->clock);
    if (!stream || PERF_GET_(&stream->state) != PERF_STREAM_ON_ ||
        !PERF_ACQ_(&stream->due)(reg, stream, rec))
        rec->ring_limit = ~UINT64_C(0);
    PERF_ERRNO_ = errno_before;
    if (open)
        perf_end_slow_(&scope, perf_scope_ticks_(reg));
}

/* ---- marks that are no scopes ---- */

PERF_COLD_FN_ void perf_misuse_(void)
{
    perf_recorder_ *rec = perf_recorder_get_();

    if (rec)
        perf_lose_(rec, PERF_LOSS_MISUSED_, PERF_ESTATE);
}

/* The site of a name that is no static object: a small table by address in front of the interned
 * names; the text is compared, so the caller may use its buffer again.  NULL: no room.           */
PERF_OUTLINE_FN_ perf_site_ *perf_site_find_(const char *name, uint32_t kind)
{
    perf_recorder_ *rec = PERF_SELF_;
    uintptr_t       at = PERF_PTR_(uintptr_t, name);
    perf_known_    *known;
    perf_site_      site = PERF_ZERO;

    if (!rec || !rec->home)
        rec = perf_recorder_for_mark_();
    if (!rec)
        return PERF_NULL_;
    known = &rec->known[(at ^ at >> 6) % 64];
    if (known->key == name && name && known->name->kind == kind &&
        !PERF_LIBC_(strcmp)(known->name->site.name, name))
        return &known->name->site;
    site.name = name;
    site.line = kind << 24;
    if (!perf_site_id_(rec->home, &site)) {
        perf_lose_(rec, PERF_LOSS_LOST_, PERF_ELIMIT);
        return PERF_NULL_;
    }
    known->key = name;
    known->name = PERF_ACQ_(&rec->home->names)[site.id];
    return &known->name->site;
}

PERF_COLD_FN_ void perf_core_lap_begin_(perf_lap *lap)
{
    perf_recorder_ *rec = perf_recorder_for_mark_();

    if (rec)
        perf_lap_at_(lap, rec, perf_scope_ticks_(rec->home));
}

/* Ends a lap and begins the next, where perf_core_lap_ cannot.  A lap stands beside the scopes of
 * its phase, as a child of what is open.  Of its time, `within` is that of those scopes, and `own`
 * what counts in its total, because it is in its caller's and in no other scope's.  The sink hears
 * of it when it is over: as a mark whose payload is the length in ns.                            */
PERF_COLD_FN_ void perf_lap_slow_(perf_lap *lap, perf_site_ *site, uint64_t now)
{
    perf_recorder_ *rec = perf_recorder_for_mark_();
    perf_cell_     *cell;
    uint64_t        ticks, within, total, own;
    int             set_back;           /* the clock, behind the begin of this lap                */

    if (!rec)
        return;
    if (lap->rec != rec || lap->start < rec->made) /* another thread's, or begun before a fork    */
        perf_lose_(rec, lap->rec == rec ? PERF_LOSS_ORPHANS_ : PERF_LOSS_FOREIGN_, PERF_OK);
    cell = perf_cell_under_(rec, rec->open, perf_site_id_(rec->home, site));
    if (!PERF_ACQ_(&rec->home->sink) || PERF_GET_(&rec->request))
        perf_recorder_serve_(rec);
    if (rec->home->clock)
        now = perf_scope_ticks_(rec->home);
    perf_clock_check_(rec, now, now);
    set_back = perf_since_(lap->start, now) < 0.0 && lap->start > rec->birth;
    if (!cell)
        perf_lose_cell_(rec, PERF_GET_(&site->id));
    else if (set_back)
        perf_lose_to_clock_(rec);
    if (!cell || lap->start < rec->made || set_back) {
        perf_core_lap_begin_(lap);
        return;
    }
    if (lap->rec == rec && lap->start <= rec->birth) {
        lap->start = perf_smaller_(rec->birth, now);        /* it was served after `now` was read */
        lap->inside = lap->total = 0;
    }
    ticks = perf_cell_close_(rec, cell, lap->start, now);
    within = rec->open->inside - lap->inside;
    within = perf_between_(within, 0, ticks);
    total = rec->open->sum - rec->open->again;
    own = ticks;
    if (lap->total != total)                    /* a call of the caller has ended: no more than   */
        own = total + within - rec->open->inside;       /* its calls have outside other scopes    */
    if (cell->parent != rec->open || lap->open != rec->open)
        own = within = 0;                       /* its caller has ended, or is itself: no time    */
    own = perf_between_(own, within, ticks);
    PERF_ADD_(cell->inside, within + ticks - own);
    PERF_ADD_(cell->again, ticks - own);
    PERF_ADD_(rec->open->inside, own - within);
    perf_event_scope_(rec, cell, lap->start, ticks, perf_depth_(rec) + 1);
    perf_sink_mark_(rec, cell, 2, PERF_CAST_(double, ticks) * perf_scope_tick_ns_(rec->home));
    perf_lap_at_(lap, rec, now);
}

/* The caller's recorder, and the cell of a mark without length; NULL: counted as lost. */
PERF_COLD_FN_ perf_recorder_ *perf_at_site_(perf_site_ *site, perf_cell_ **cell)
{
    perf_recorder_ *rec = perf_recorder_for_mark_();
    uint32_t        id;

    *cell = PERF_NULL_;
    if (!rec)
        return PERF_NULL_;
    id = perf_site_id_(rec->home, site);
    *cell = perf_cell_get_(rec, id);
    if (PERF_GET_(&rec->request))
        perf_recorder_serve_(rec);
    if (*cell)
        return rec;
    perf_lose_cell_(rec, id);
    return PERF_NULL_;
}

/* Last, mean and extremes of the numbers of a name; 0: no memory. */
PERF_COLD_FN_ int perf_gauge_add_(perf_recorder_ *rec, perf_cell_ *cell, double value, uint64_t now)
{
    perf_gauge_ *gauge = cell->of.calls.gauge;
    double       sum;

    if (!gauge) {
        if (perf_grow_begin_(rec)) {
            gauge = PERF_CAST_(perf_gauge_ *, perf_room_(rec, sizeof *gauge));
            perf_grow_end_(rec);
        }
        if (!gauge) {
            perf_lose_(rec, PERF_LOSS_LOST_, rec->growing ? PERF_ELIMIT : PERF_ENOMEM);
            return 0;
        }
        PERF_REL_(&cell->of.calls.gauge, gauge);
    }
    if (!gauge->n || value < perf_from_bits_(gauge->least))
        PERF_SET_(&gauge->least, perf_bits_(value));
    if (!gauge->n || value > perf_from_bits_(gauge->most))
        PERF_SET_(&gauge->most, perf_bits_(value));
    PERF_SET_(&gauge->last, perf_bits_(value));
    sum = value;
    if (gauge->n)
        sum += perf_from_bits_(gauge->values);
    PERF_SET_(&gauge->values, perf_bits_(sum));
    PERF_SET_(&gauge->at, now);
    PERF_ADD_(gauge->n, 1);
    return 1;
}

PERF_COLD_FN_ void perf_core_count_(perf_site_ *site, double value)
{
    perf_cell_     *cell;
    perf_recorder_ *rec = perf_at_site_(site, &cell);
    uint64_t        now;

    if (!rec)
        return;
    if (perf_is_nan_(value)) {
        perf_misuse_();
        return;
    }
    now = perf_scope_ticks_(rec->home);
    if (!perf_gauge_add_(rec, cell, value, now))
        return;
    PERF_ADD_(cell->count, 1);
    if (rec->ring_limit) {
        const perf_event_ event[2] = {{perf_bits_(value), 0}, {now, PERF_EVENT_MORE_ | cell->tag}};
        perf_event_write_(rec, event, 2);
    }
    perf_sink_mark_(rec, cell, 2, value);
}

/* An instant, alone or with a number or a text.  Of a text the last part is written first, as
 * readers go backwards.                                                                          */
PERF_COLD_FN_ void perf_core_instant_(perf_site_ *site, const char *text, const double *value)
{
    perf_cell_     *cell;
    perf_recorder_ *rec = perf_at_site_(site, &cell);
    perf_event_     event[PERF_TEXT_MAX_ / 8 + 2];
    uint64_t        i, bits, length = text ? perf_text_length_(text, PERF_TEXT_MAX_) : 0;
    uint64_t        part = PERF_REMARK_IS_VALUE_, parts = value != PERF_NULL_;

    if (!rec || (value && !perf_is_nan_(*value) &&
                 !perf_gauge_add_(rec, cell, *value, perf_scope_ticks_(rec->home))))
        return;
    PERF_ADD_(cell->count, 1);
    if (text) {
        part = PERF_REMARK_IS_TEXT_;
        parts = length / 8 + 1;
    }
    if (rec->ring_limit) {
        for (i = 0; i < parts; i++) {
            bits = value ? perf_bits_(*value) : 0;
            if (text)
                PERF_LIBC_(memcpy)(&bits, text + 8 * i,
                                   PERF_CAST_(size_t, perf_smaller_(length - 8 * i, 8)));
            event[parts - 1 - i].start = bits;
            event[parts - 1 - i].what = part | perf_tag_name_(cell->tag) >> 24;
            part = PERF_REMARK_REST_;
        }
        event[parts].start = perf_scope_ticks_(rec->home);
        event[parts].what =
            perf_tag_name_(cell->tag) | PERF_CAST_(uint64_t, perf_depth_(rec)) << 56;
        perf_event_write_(rec, event, parts + 1);
    }
    if (value)
        perf_sink_mark_(rec, cell, 2, *value);
    else
        perf_sink_mark_(rec, cell, 0, 0.0);
}

PERF_COLD_FN_ void perf_core_async_begin_(perf_async *span, const char *name, uint64_t id)
{
    perf_site_       *site = perf_site_find_(name, PERF_KIND_ASYNC_);
    perf_recorder_   *rec = site ? perf_recorder_get_() : PERF_NULL_;
    const perf_sink_ *sink;

    if (!rec)
        return;
    sink = PERF_ACQ_(&rec->home->sink);
    span->name = site->id;
    span->open = 1;
    span->id = id ? id : rec->number << 40 | ++rec->spans;
    if (sink) {
        perf_label_ label = perf_label_of_(PERF_ACQ_(&rec->home->names)[site->id], 1, span->id);
        PERF_SINK_(rec, span->open += PERF_CAST_(uint32_t, sink->open(&label, &span->range)))
    }
    span->start = perf_scope_ticks_(rec->home);
}

PERF_COLD_FN_ void perf_core_async_end_(perf_async *span)
{
    perf_recorder_   *rec;
    perf_cell_       *cell;
    const perf_sink_ *sink;
    uint64_t          ticks, now, reset;

    if (!span->open) {
        if (PERF_ON_())
            perf_misuse_();
        return;
    }
    rec = perf_recorder_for_mark_();
    sink = rec && span->open == 2 ? PERF_ACQ_(&rec->home->sink) : PERF_NULL_;
    if (sink)
        PERF_SINK_(rec, sink->close(span->range))
    if (!rec)
        return;
    cell = perf_cell_get_(rec, span->name);
    if (!cell) {
        perf_lose_cell_(rec, span->name);
        return;
    }
    if (PERF_GET_(&rec->request))
        perf_recorder_serve_(rec);
    now = perf_scope_ticks_(rec->home);
    reset = PERF_GET_(&rec->home->reset);
    if (now < reset) {                          /* the clock was set back behind it               */
        reset = 0;
        PERF_SET_(&rec->home->reset, reset);
    }
    if (span->start < reset)
        span->start = reset;                    /* counts from there                              */
    if (perf_since_(span->start, now) < 0.0) {
        perf_lose_to_clock_(rec);
        return;
    }
    ticks = perf_cell_close_(rec, cell, span->start, now);
    if (rec->ring_limit) {
        const perf_event_ event[3] = {
            {span->id, 0}, {ticks, 0}, {span->start, PERF_EVENT_MORE_ | cell->tag}};
        perf_event_write_(rec, event, 3);
    }
}

/* Tells reports which scopes of the fibre of `cell` wait: `waits` is the innermost, NULL: none. */
PERF_COLD_FN_ void perf_root_tell_(perf_cell_ *cell, perf_cell_ *waits, uint64_t calls)
{
    while (cell->parent)
        cell = cell->parent;
    PERF_SET_(&cell->of.root.again_open, calls);
    PERF_REL_(&cell->of.root.waiting, waits);
}

/* Puts away one chain of open scopes and brings back another one.  A cell knows whether it is open,
 * so each chain has a root and cells of its own; one without an open scope gives its root back.
 * One that is open in another thread goes back there; its scopes end here.                       */
PERF_COLD_FN_ void perf_core_fiber_(perf_fiber *from, perf_fiber *to)
{
    perf_recorder_ *rec = perf_recorder_get_();
    perf_cell_     *root;
    uint64_t        now, left;

    if (!rec)
        return;
    now = perf_scope_ticks_(rec->home);
    perf_clock_check_(rec, now, now);
    from->rec = rec;
    from->open = rec->open->parent ? rec->open : PERF_NULL_;
    from->calls = rec->extra;
    from->left = now;
    perf_root_tell_(rec->open, from->open, rec->extra);
    if (!from->open) {
        rec->open->kin = rec->roots;
        rec->roots = rec->open;
    }
    if (!to->open || to->rec != rec || to->left < rec->made) { /* or of another thread or process */
        if (to->open && to->rec != rec && perf_lock_(rec->home)) {
            for (root = to->open; root->parent; root = root->parent) {
                root->again_open = root->held = 0;
                if (root->inside > root->sum)
                    PERF_SET_(&root->inside, root->sum);
            }
            perf_root_tell_(root, PERF_NULL_, 0);
            perf_stray_(to->rec, 0 - to->open->depth - PERF_CAST_(uint32_t, to->calls));
            root->kin = to->rec->parted;
            PERF_SET_(&to->rec->parted, root);
            perf_unlock_(&rec->home->lock);
        }
        if (!rec->roots && PERF_GET_(&rec->parted) && perf_lock_(rec->home)) {
            rec->roots = rec->parted;
            PERF_SET_(&rec->parted, PERF_CAST_(perf_cell_ *, PERF_NULL_));
            perf_unlock_(&rec->home->lock);
        }
        PERF_LIBC_(memset)(to, 0, sizeof *to);
        root = rec->roots;
        if (!root && perf_grow_begin_(rec)) {
            root = perf_cell_fresh_(rec);
            perf_grow_end_(rec);
        }
        if (rec->roots) {
            rec->roots = root->kin;
        } else if (root) {
            root->of.root.older = rec->root.of.root.older;
            PERF_REL_(&rec->root.of.root.older, root);
        }
        to->open = root ? root : &rec->root;
    }
    perf_root_tell_(to->open, PERF_NULL_, 0);
    left = to->left < rec->birth ? rec->birth : to->left;
    if (to->open->parent && now > left)         /* it was away: no time of its own                */
        PERF_ADD_(to->open->inside, now - left);
    perf_deeper_(rec, to->calls - rec->extra);
    PERF_REL_(&rec->open, to->open);
}

PERF_COLD_FN_ void perf_core_thread_name_(const char *name)
{
    perf_recorder_   *rec = perf_recorder_get_();
    const perf_sink_ *sink = rec ? PERF_ACQ_(&rec->home->sink) : PERF_NULL_;
    uint32_t          n = rec && name ? perf_text_length_(name, sizeof rec->name - 1) : 0;

    if (rec && perf_lock_(rec->home)) {         /* others read it                                 */
        PERF_LIBC_(memcpy)(rec->name, name ? name : "", n);
        rec->name[n] = '\0';
        perf_unlock_(&rec->home->lock);
    }
    if (sink)
        PERF_SINK_(rec, sink->thread(rec->name))
}

/* The end of a phase, and the begin of the next. */
PERF_HOT_FN_ void perf_core_lap_(perf_lap *lap, perf_site_ *site, uint64_t now)
{
    perf_recorder_ *rec = lap->rec;
    perf_cell_     *open = rec->open, **quick = PERF_PEEK_(rec->quick), *cell = PERF_NULL_;
    uintptr_t       id = PERF_GET_(&site->id);
    uint64_t        start = lap->start, ticks = now - start, within;

    if (PERF_LIKELY_(quick && lap->calls == open->count && lap->open == open))
        cell = *perf_quick_cell_at_(rec, quick, open, id);
    if (PERF_UNLIKELY_(!cell || cell->parent != open || perf_cell_id_(cell) != id ||
                       ticks - cell->low > cell->width || perf_late_step_(rec))) {
        perf_lap_slow_(lap, site, now);
        return;
    }
    within = open->inside - lap->inside;        /* scopes of this phase                           */
    lap->start = now;
    lap->inside += ticks;
    PERF_ADD_(cell->count, 1);
    PERF_ADD_(cell->sum, ticks);
    PERF_ADD_(cell->inside, within);
    PERF_SET_(&open->inside, lap->inside);
    perf_bucket_add_(rec, cell, ticks);
    perf_event_hot_(rec, start, ticks | cell->tag);
}

/* ---- the core for files that only mark ---- */

#if PERF_ONE_CORE_
PERF_COLD_DECL_ void perf_core_join_(perf_anchor_ *anchor);
#else
#define perf_core_join_ PERF_NULL_
#endif

PERF_COLD_FN_ const perf_core_ *perf_core_table_(void)
{
    static const perf_core_ table = {
        PERF_CAST_(uint32_t, sizeof(perf_core_)), 1,
        perf_core_join_, perf_core_begin_, perf_core_end_, perf_event_due_,
        perf_core_lap_begin_, perf_core_lap_, perf_site_find_, perf_core_count_,
        perf_core_instant_, perf_core_fiber_, perf_core_async_begin_, perf_core_async_end_,
        perf_core_thread_name_, perf_misuse_};

    perf_layout_note_();
    return &table;
}

#define PERF_OFF_SWITCHED_ 1u   /* bit of `off`: by perf_enable(0); the other says: no core       */

#if PERF_ONE_CORE_
/* Gives an image that asks this core, and the switch; without a registry it stays off. */
PERF_COLD_FN_ void perf_core_join_(perf_anchor_ *anchor)
{
    const perf_core_ *none = PERF_NULL_;
    perf_registry_   *reg = perf_registry_get_();

    if (anchor != &perf_anchor_v1_)
        perf_image_pin_();
    (void)__atomic_compare_exchange_n(&anchor->core, &none, perf_core_table_(), 0, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE);
    PERF_SET_(&anchor->off, reg ? PERF_GET_(&reg->off) : PERF_OFF_SWITCHED_);
}

/* Gives a core to an image that has none: it is off now only if perf_enable(0) says so. */
PERF_COLD_FN_ void perf_core_give_(perf_search_ *search, perf_anchor_ *anchor)
{
    const perf_core_ *none = PERF_NULL_;

    if (__atomic_compare_exchange_n(&anchor->core, &none, search->core, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        (void)__atomic_fetch_and(&anchor->off, PERF_OFF_SWITCHED_, __ATOMIC_ACQ_REL);
        search->given |= anchor != &perf_anchor_v1_;
    }
}

/* Runs when the program ends, once for each file that holds a core: were a report and a trace asked
 * for, and nobody made them?  A forked child leaves it to its parent.                            */
PERF_COLD_FN_ void perf_core_leave_(void)
{
    perf_registry_ *reg = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (reg && !reg->child && reg->process == perf_process_id_() && perf_claim_(&reg->heard, 0, 1))
        perf_tell_unheard_();
}

/* Runs before the constructors of the program, once for each file that holds a core. */
PERF_COLD_FN_ void perf_core_install_(void)
{
    perf_search_ search = PERF_ZERO;

    search.core = perf_core_table_();
    perf_images_(&search, perf_core_give_);
    if (search.given)
        perf_image_pin_();
    perf_watch_forks_();
}

/* The registry for who reads or switches recordings.  Whatever file uses this function gets the
 * core and a constructor that hands it out: priority 101, the first that a program may have, and
 * the last of its destructors.                                                                   */
PERF_OUTLINE_FN_ perf_registry_ *perf_registry_read_(void)
{
#if defined(__aarch64__)
    __asm__ __volatile__(".pushsection .init_array.00101,\"aw\",%%init_array\n"
                         ".balign 8\n.quad %0\n.popsection\n"
                         ".pushsection .fini_array.00101,\"aw\",%%fini_array\n"
                         ".balign 8\n.quad %1\n.popsection"
                         : : "S"(perf_core_install_), "S"(perf_core_leave_));
#else
    __asm__ __volatile__(".pushsection .init_array.00101,\"aw\",%%init_array\n"
                         ".balign 8\n.quad %c0\n.popsection\n"
                         ".pushsection .fini_array.00101,\"aw\",%%fini_array\n"
                         ".balign 8\n.quad %c1\n.popsection"
                         : : "i"(perf_core_install_), "i"(perf_core_leave_));
#endif
    return perf_registry_get_();
}
#else
PERF_FN const perf_core_ *perf_core_get_(void)
{
    return perf_core_table_();
}

#define perf_registry_read_ perf_registry_get_
#endif

/* ---- switches ---- */

PERF_FN perf_status perf_error(void)
{
    perf_registry_ *reg = perf_registry_read_();

    if (reg)
        return PERF_CAST_(perf_status, PERF_GET_(&reg->error));
    return PERF_DISABLE ? PERF_OK : PERF_ENOMEM;
}

PERF_FN void perf_enable(int on)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_search_    search = PERF_ZERO;

    if (!reg)
        return;
    PERF_SET_(&reg->off, on ? 0u : PERF_OFF_SWITCHED_); /* images to come ask the registry        */
    search.value = on ? 0u : PERF_OFF_SWITCHED_;
    perf_images_(&search, perf_image_switch_);
}

PERF_FN void perf_trace_enable(int on)
{
    perf_registry_ *reg = perf_registry_read_();

    if (!reg || !perf_lock_(reg))
        return;
    PERF_SET_(&reg->trace_off, on ? 0u : 1u);
    perf_ask_(reg, PERF_ASK_TRACE_);
    perf_unlock_(&reg->lock);
}

/* ---- loops ---- */

/* Keeps the loops of reg->results, newest first, until perf_loops_let_().  0: inside the lock. */
PERF_COLD_FN_ int perf_loops_hold_(perf_registry_ *reg)
{
    if (!perf_lock_(reg))
        return 0;
    reg->loop_readers++;
    perf_unlock_(&reg->lock);
    return 1;
}

/* Takes the forgotten loops out of the list and returns them.  The lock is held. */
PERF_COLD_FN_ perf_kept_loop_ *perf_loops_take_(perf_registry_ *reg)
{
    perf_kept_loop_ *loop = reg->results, *next;
    perf_kept_loop_ *kept = PERF_NULL_, *taken = PERF_NULL_, **end = &kept;

    if (reg->loop_readers)
        return PERF_NULL_;
    for (; loop; loop = next) {
        next = loop->next;
        if (PERF_GET_(&loop->forgotten)) {
            loop->next = taken;
            taken = loop;
        } else {
            *end = loop;
            end = &loop->next;
        }
    }
    *end = PERF_NULL_;
    PERF_REL_(&reg->results, kept);
    return taken;
}

PERF_COLD_FN_ void perf_loops_free_(perf_kept_loop_ *loop)
{
    perf_kept_loop_ *next;

    for (; loop; loop = next) {
        next = loop->next;
        if (loop->pages)
            perf_pages_free_(loop, loop->pages);
    }
}

/* The list may change again: gives back what was forgotten meanwhile, if nobody else reads. */
PERF_COLD_FN_ void perf_loops_let_(perf_registry_ *reg)
{
    perf_kept_loop_ *gone = PERF_NULL_;

    if (!perf_lock_(reg))
        return;
    reg->loop_readers--;
    gone = perf_loops_take_(reg);
    perf_unlock_(&reg->lock);
    perf_loops_free_(gone);
}

PERF_FN void perf_reset(void)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_source_   *source;
    perf_spent_     spent = perf_spent_since_(PERF_NULL_, 0);   /* the system asks every thread   */
    perf_kept_loop_     *loop, *gone;
    perf_family_   *family;
    perf_member_   *member;

    if (!reg || !perf_lock_(reg))
        return;
    for (loop = reg->results; loop; loop = loop->next)
        if (PERF_ACQ_(&loop->done))
            PERF_SET_(&loop->forgotten, 1);
    gone = perf_loops_take_(reg);
    if (reg->stream && reg->stream->state == PERF_STREAM_FAILED_)       /* all until now          */
        PERF_ADD_(reg->stream->unsent, 0 - perf_losses_sum_(reg).n[PERF_LOSS_UNSENT_]);
    PERF_SET_(&reg->reset, perf_scope_ticks_(reg)); /* who is asked knows it                      */
    perf_ask_(reg, PERF_ASK_RESET_);
    PERF_SET_(&reg->lost, UINT64_C(0));
    PERF_SET_(&reg->cut_names, UINT64_C(0));
    PERF_SET_(&reg->retired_lost, UINT64_C(0));
    if (reg->reading)                           /* its reader keeps it; a new one is made         */
        reg->retired = PERF_NULL_;
    PERF_SET_(&reg->marks, PERF_CAST_(perf_mark_ *, PERF_NULL_));
    reg->retired_bytes = 0;
    reg->spent = spent;
    PERF_SET_(&reg->error, PERF_CAST_(uint32_t, PERF_OK));
    family = PERF_ACQ_(&reg->family);
    for (member = family ? PERF_ACQ_(&family->members) : PERF_NULL_; member; member = member->next)
        if (perf_member_ours_(reg, member))     /* what forked children have recorded             */
            PERF_SET_(&member->forgotten, 1u);
    perf_unlock_(&reg->lock);
    perf_loops_free_(gone);
    for (source = PERF_ACQ_(&reg->sources); source; source = source->next)
        if (source->reset)
            source->reset();
}

/* ---- tracks: what a device hands over ---- */

/* A recorder that belongs to no thread: one line of the trace, `name` its title.  Whoever makes it
 * sees to it that one thread at a time writes.  NULL without memory, and where this thread is
 * inside the lock already.                                                                       */
PERF_COLD_FN_ perf_recorder_ *perf_track_make_(perf_registry_ *reg, const char *name)
{
    perf_recorder_ *rec = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *rec, 1));

    if (!rec)
        return PERF_NULL_;
    if (!perf_lock_(reg)) {
        perf_pages_free_(rec, sizeof *rec);
        return PERF_NULL_;
    }
    perf_recorder_start_(reg, rec, 0);
    PERF_LIBC_(memcpy)(rec->name, name, perf_text_length_(name, sizeof rec->name - 1));
    perf_unlock_(&reg->lock);
    return rec;
}

/* The cell of a name; NULL for id 0, and without memory. */
PERF_COLD_FN_ perf_cell_ *perf_track_cell_(perf_recorder_ *rec, uint32_t id)
{
    if (PERF_GET_(&rec->request))
        perf_recorder_serve_(rec);
    return perf_cell_get_(rec, id);
}

/* What is rare: outside the window, too long for one entry, and each 2^30th.  Without memory for
 * its bucket a duration is in the sums, and in no percentile.                                    */
PERF_COLD_FN_ void perf_track_rare_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks,
                                    uint64_t start, uint64_t shown, uint64_t depth)
{
    if (!perf_cell_count_(rec, cell, ticks)) {
        PERF_ADD_(cell->count, 1);
        PERF_ADD_(cell->sum, ticks);
        perf_fail_(rec->home, PERF_ENOMEM);
    }
    perf_event_scope_(rec, cell, start, shown, PERF_CAST_(uint32_t, depth));
}

/* Counts a duration; the trace, if there is one, has `shown` of it; depth 1: outermost.  One cold
 * call at most: for each of several clang keeps the numbers of a loop in memory, not registers.  */
PERF_INLINE_FN_ void perf_track_add_(perf_recorder_ *rec, perf_cell_ *cell, uint64_t ticks,
                                     uint64_t start, uint64_t shown, uint64_t depth)
{
    if (PERF_LIKELY_(ticks - cell->low <= cell->width && shown < PERF_EVENT_MORE_ &&
                     !perf_late_step_(rec))) {
        PERF_ADD_(cell->count, 1);
        PERF_ADD_(cell->sum, ticks);
        PERF_ADD_(PERF_PTR_(uint32_t *, cell->bucket)[perf_bucket_index_(ticks)], 1);
        perf_event_hot_(rec, start, shown | perf_tag_name_(cell->tag) | depth << 56);
    } else {
        perf_track_rare_(rec, cell, ticks, start, shown, depth);
    }
}

#if PERF_DISABLE
#define perf_enable(on)       PERF_OFF_((perf_enable)(on))
#define perf_trace_enable(on) PERF_OFF_((perf_trace_enable)(on))
#define perf_reset()          PERF_OFF_((perf_reset)())
#endif

PERF_END_DECLS

#endif /* PERF_H_RECORDS */
