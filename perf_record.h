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
 * loops under way go on.                                                                         */
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

/* >>private: bodies: helpers, callees above their callers; an end, callers first ------------- */

/* The functions of the way of an end, which stand below perf_core_end_. */
PERF_COLD_DECL_ int perf_open_end_(perf_recorder_ *t, perf_cell_ *c, perf_cell_ *outer, int again);
PERF_COLD_DECL_ uint64_t perf_open_drop_(perf_recorder_ *t, perf_cell_ *to);
PERF_COLD_DECL_ uint64_t perf_cell_close_(perf_recorder_ *t, perf_cell_ *c, uint64_t start,
                                          uint64_t end);
PERF_COLD_DECL_ void perf_event_scope_(perf_recorder_ *t, const perf_cell_ *c, uint64_t start,
                                       uint64_t d, uint32_t depth);
PERF_COLD_DECL_ void perf_event_write_(perf_recorder_ *t, const perf_event_ *e, uint64_t n);
PERF_COLD_DECL_ uint64_t perf_cell_extend_(perf_recorder_ *t, perf_cell_ *c, uint64_t d);
PERF_COLD_DECL_ int perf_buckets_room_(perf_recorder_ *t, perf_cell_ *c, uint32_t index);
PERF_COLD_DECL_ int perf_rare_make_(perf_recorder_ *t, perf_cell_ *c, uint32_t index);
PERF_COLD_DECL_ int perf_buckets_widen_(perf_recorder_ *t, perf_cell_ *c, uint32_t index);
PERF_COLD_DECL_ void perf_buckets_move_(perf_recorder_ *t, perf_cell_ *c, perf_buckets_ *b);
PERF_COLD_DECL_ void perf_cell_window_(perf_cell_ *c);
PERF_COLD_DECL_ uint64_t perf_bucket_from_(uint32_t index);
PERF_INLINE_FN_ void perf_cell_count_(perf_recorder_ *t, perf_cell_ *c, uint64_t d);
PERF_COLD_DECL_ void perf_halves_look_(perf_recorder_ *t);

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
PERF_COLD_FN_ void perf_images_(perf_search_ *s, void (*visit)(perf_search_ *, perf_anchor_ *))
{
    s->visit = visit;
    perf_images_walk_(s);
    visit(s, &perf_anchor_v1_);
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
PERF_COLD_FN_ void perf_lose_(perf_recorder_ *t, int loss, perf_status why)
{
    PERF_ADD_(t->losses[loss], 1);
    perf_fail_(t->home, why);
}

#if defined(__linux__) && !PERF_TCC_
#if defined(__GLIBC__)
#define PERF_AT_FORK_ __asm__(PERF_SYM_("__register_atfork")) PERF_ATTR_((__weak__))
#else                                           /* musl's takes only three, and is always there   */
#define PERF_AT_FORK_ __asm__(PERF_SYM_("pthread_atfork"))
#endif
extern int   perf_atfork_(void (*)(void), void (*)(void), void (*)(void), void *) PERF_AT_FORK_;
extern void *perf_dso_ __asm__(PERF_SYM_("__dso_handle"))      /* as g++ has it, for -flto        */
    PERF_ATTR_((__weak__, __visibility__("hidden")));

PERF_COLD_DECL_ perf_registry_ *perf_registry_get_(void);

#if PERF_LP64_UNIX_
#define PERF_FAMILY_BYTES_ (UINT64_C(16) << 20)         /* only pages that are used take memory   */

/* Before a fork: makes the block if there is none. */
PERF_COLD_FN_ void perf_family_make_(perf_registry_ *r)
{
    perf_family_ *family;
    int           was = PERF_ERRNO_;
    void         *p;

    if (PERF_ACQ_(&r->family))
        return;
    p = perf_mmap_(PERF_NULL_, PERF_FAMILY_BYTES_, 3, PERF_MAP_PAGES_ ^ 3, -1, 0);      /* shared */
    if (PERF_PTR_(intptr_t, p) != -1) {
        family = PERF_CAST_(perf_family_ *, p);
        family->bytes = PERF_FAMILY_BYTES_;
        family->used = sizeof *family;
        PERF_REL_(&r->family, family);
    }
    PERF_ERRNO_ = was;
}
#else
#define perf_family_make_(r) PERF_CAST_(void, (r))
#endif

/* A parent that has marked nothing shall find what its children record, too. */
PERF_COLD_FN_ void perf_at_fork_(void)
{
    perf_registry_ *r = perf_registry_get_();

    if (!r)
        return;
    perf_family_make_(r);
    PERF_SET_(&r->forking, 1u);
}

/* Where the system has not wiped the recorders (Linux before 4.14, qemu) the child forgets here
 * what its parent has recorded; else when it next takes the lock.  Each image comes here.        */
PERF_COLD_FN_ void perf_at_fork_child_(void)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (!r || !r->forking)
        return;
    r->forking = 0;
    r->process = r->forked = 0;                 /* other name space, maybe the same number        */
    if (perf_lock_(r))
        perf_unlock_(&r->lock);
}

/* Once in an image; not within a fork, where musl holds the lock of this list. */
PERF_COLD_FN_ void perf_watch_forks_(void)
{
    if (PERF_PTR_(uintptr_t, &perf_atfork_) != 0 && perf_claim_(&perf_anchor_v1_.watches, 0, 1))
        (void)perf_atfork_(perf_at_fork_, PERF_NULL_, perf_at_fork_child_, &perf_dso_);
}
#else
#define perf_watch_forks_() PERF_CAST_(void, 0)
#endif

#if PERF_ARCH_X86_ && PERF_CLOCK != PERF_CLOCK_MONOTONIC
/* Takes 8 us in a virtual machine, as cpuid leaves it: asked once, when the registry is made. */
PERF_COLD_FN_ int perf_counter_invariant_(void)
{
    uint32_t most = UINT32_C(0x80000000), leaf = most + 7, d;

    __asm__ __volatile__("cpuid" : "+a"(most), "=d"(d) : : "ebx", "ecx");
    if (most < leaf)
        return 0;
    __asm__ __volatile__("cpuid" : "+a"(leaf), "=d"(d) : : "ebx", "ecx");
    return (d >> 8 & 1) != 0;
}
#else
#define perf_counter_invariant_() 1             /* by definition of the other counters            */
#endif

PERF_COLD_FN_ perf_registry_ *perf_registry_make_(void)
{
    perf_registry_ *r = PERF_CAST_(perf_registry_ *, perf_pages_(sizeof *r, 0));

    if (!r)
        return PERF_NULL_;
    r->size = PERF_CAST_(uint32_t, sizeof *r);
    r->abi = 1;
    r->process = perf_process_id_();
    r->scan_at = 64;
    r->count = 1;                               /* id 0 means "not yet registered"                */
    r->made = perf_anchor_v1_.clock.first;
    r->spent = perf_spent_since_(PERF_NULL_, 0);
#if defined(PERF_CLOCK_FN) && defined(PERF_TEST_HOT)
    r->clock = 0;                               /* our tests: that clock through the hot path     */
#elif defined(PERF_CLOCK_FN)
    r->custom = PERF_CLOCK_FN;
    r->clock = 1;
    perf_image_pin_();                          /* all images read that clock from now on         */
#elif PERF_CLOCK == PERF_CLOCK_MONOTONIC
    r->clock = 1;
#elif PERF_CLOCK == PERF_CLOCK_AUTO
    if (!perf_counter_invariant_()) {
        r->clock = 1;
        r->warnings |= PERF_CLOCK_NOT_INVARIANT;
    }
#endif
    r->ring_events = PERF_TRACE_EVENTS < 1 ? 0 : 2;
    while (r->ring_events < PERF_TRACE_EVENTS)
        r->ring_events *= 2;
    return r;
}

/* A file that times by another clock than the process does is told in the report. */
PERF_COLD_FN_ void perf_clock_agrees_(perf_registry_ *r, int counter)
{
    if ((counter == 0) != (r->clock != 0) && !(PERF_GET_(&r->warnings) & PERF_CLOCK_NOT_INVARIANT))
        perf_word_set_(&r->warnings, PERF_CLOCK_MIXED);
}

/* The first anchor of all settles races for a new registry. */
PERF_COLD_FN_ void perf_image_leads_(perf_search_ *s, perf_anchor_ *a)
{
    if (!s->is_there)
        s->is_there = a;
    if (!s->found)
        s->found = PERF_ACQ_(&a->registry);
}

/* The registry of the process, made by whoever asks first; NULL without memory. */
PERF_OUTLINE_FN_ perf_registry_ *perf_registry_get_(void)
{
    perf_search_    s = PERF_ZERO;
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry), *mine;
    perf_anchor_   *leader;

    if (r)
        return r;
    perf_images_(&s, perf_image_leads_);
    r = PERF_CAST_(perf_registry_ *, s.found);
    if (!r) {
        (void)perf_calibrate_();
        mine = perf_registry_make_();
        if (!mine) {
            PERF_SET_(&perf_anchor_v1_.poor, 1u);
            return PERF_NULL_;
        }
        leader = PERF_CAST_(perf_anchor_ *, PERF_PTR_(void *, PERF_PTR_(uintptr_t, s.is_there)));
#if PERF_TCC_
        leader->registry = r = mine;
#else
        if (__atomic_compare_exchange_n(&leader->registry, &r, mine, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            r = mine;                           /* else lost a race: ours stays unused            */
#endif
        if (r == mine)
            perf_watch_forks_();
    }
    if (PERF_GET_(&perf_anchor_v1_.poor))       /* what came before is lost                       */
        perf_fail_(r, PERF_ENOMEM);
    PERF_REL_(&perf_anchor_v1_.registry, r);
    PERF_SET_(&perf_anchor_v1_.off, PERF_GET_(&r->off));
    perf_clock_agrees_(r, PERF_CLOCK != PERF_CLOCK_MONOTONIC);
    return r;
}

/* ---- names ---- */

/* Room for twice the names; the old tables stay, readers may be in them. */
PERF_COLD_FN_ int perf_table_grow_(perf_registry_ *r)
{
    uint32_t     room = r->room ? r->room * 2 : 256, i;
    size_t       bytes = room * sizeof(perf_name_ *);
    perf_name_ **table = PERF_CAST_(perf_name_ **, perf_keep_(r, bytes));
    perf_name_ **hash = PERF_CAST_(perf_name_ **, perf_keep_(r, bytes));

    if (!table || !hash)
        return 0;
    if (r->room)
        PERF_LIBC_(memcpy)(table, r->names, r->room * sizeof *table);
    for (i = 1; i < r->count; i++) {
        table[i]->next_same = hash[table[i]->hash & (room - 1)];
        hash[table[i]->hash & (room - 1)] = table[i];
    }
    r->by_hash = hash;
    r->hash_room = room;
    PERF_REL_(&r->names, table);
    PERF_REL_(&r->room, room);
    if (r->member)
        PERF_REL_(&r->member->names, table);
    return 1;
}

#define PERF_NAMES_MAX_ (1u << 20)      /* a number in each name is a common mistake              */

/* The entry of a name, made on first sight; NULL: no room.  Called with the lock held. */
PERF_COLD_FN_ perf_name_ *perf_name_intern_(perf_registry_ *r, const perf_site_ *site)
{
    const char *name = site->name;
    uint32_t    length, i, kind = site->line >> 24, hash = UINT32_C(2166136261) ^ kind;
    const char *file = site->file ? site->file : "";
    size_t      place = PERF_LIBC_(strlen)(file);
    perf_name_ *n, *first = PERF_NULL_;
    char       *text;

    if (!name)
        perf_fail_(r, PERF_EINVAL);
    if (!name)
        name = "(null)";
    else if (!*name)
        name = "(empty)";
    length = perf_name_length_(name);
    for (i = 0; i < length; i++)
        hash = (hash ^ PERF_CAST_(unsigned char, name[i])) * UINT32_C(16777619);
    if (r->room)
        first = r->by_hash[hash & (r->hash_room - 1)];
    for (n = first; n; n = n->next_same)
        if (n->hash == hash && n->kind == kind && n->length == length &&
            !PERF_LIBC_(memcmp)(n->site.name, name, length))
            return n;
    if (r->count >= PERF_NAMES_MAX_)
        return PERF_NULL_;
    if ((r->count >= r->room || (r->member && !r->member->names)) && !perf_table_grow_(r))
        return PERF_NULL_;
    if (place > PERF_NAME_MAX_)
        file += place - PERF_NAME_MAX_;
    place = PERF_LIBC_(strlen)(file);
    n = PERF_CAST_(perf_name_ *, perf_keep_(r, sizeof *n + length + 1 + place + 1));
    if (!n)
        return PERF_NULL_;
    if (name[length]) {
        PERF_ADD_(r->cut_names, 1);
        perf_fail_(r, PERF_ELIMIT);
    }
    text = PERF_PTR_(char *, n + 1);
    PERF_LIBC_(memcpy)(text, name, length);
    text[length] = '\0';
    n->site.name = text;
    if (place) {                                /* its image may be unloaded                      */
        PERF_LIBC_(memcpy)(text + length + 1, file, place + 1);
        n->site.file = text + length + 1;
    }
    n->site.line = site->line;
    n->hash = hash;
    n->length = length;
    n->kind = kind;
    n->site.id = r->count;
    n->next_same = r->by_hash[hash & (r->hash_room - 1)];
    r->names[r->count] = n;
    PERF_REL_(&r->count, r->count + 1);         /* before a fork elsewhere can find the name      */
    r->by_hash[hash & (r->hash_room - 1)] = n;
    return n;
}

PERF_COLD_FN_ uint32_t perf_site_id_(perf_registry_ *r, perf_site_ *site)
{
    uint32_t    id = PERF_ACQ_(&site->id);      /* and so its entry in the table of names         */
    perf_name_ *n;

    if (id || !perf_lock_(r))
        return id;
    n = perf_name_intern_(r, site);
    perf_unlock_(&r->lock);
    if (!n) {
        perf_fail_(r, PERF_GET_(&r->count) < PERF_NAMES_MAX_ ? PERF_ENOMEM : PERF_ELIMIT);
        return 0;
    }
    PERF_REL_(&site->id, n->site.id);
    return n->site.id;
}

/* ---- recorders ---- */

/* Makes the ring, or hides it, as the switch says.  Pages cost nothing until they are touched. */
PERF_COLD_FN_ void perf_ring_set_(perf_registry_ *r, perf_recorder_ *t)
{
    int      on = r->ring_events && !PERF_GET_(&r->trace_off);
    uint64_t limit = ~UINT64_C(0);

    if (!t->ring && on) {
        size_t bytes = PERF_CAST_(size_t, r->ring_events) * sizeof *t->ring;
        PERF_REL_(&t->ring, PERF_CAST_(perf_event_ *, perf_pages_(bytes, 1)));
        if (!t->ring)
            perf_fail_(r, PERF_ENOMEM);
    }
    if (!t->ring)
        on = 0;
    if (!on)
        limit = 0;
    else if (PERF_ACQ_(&r->stream) && !t->foreign_track)
        limit = t->ring_head + sizeof(perf_event_);
    PERF_SET_(&t->ring_mask, on ? (r->ring_events - 1) * sizeof(perf_event_) : 0);
    PERF_SET_(&t->ring_limit, limit);
}

/* Hands what a ring holds to the streamed file, with the lock held; 0: there is no stream. */
PERF_COLD_FN_ int perf_stream_flush_(perf_registry_ *r, perf_recorder_ *t)
{
    perf_stream_ *stream = PERF_ACQ_(&r->stream);

    if (!stream || PERF_GET_(&stream->state) != PERF_STREAM_ON_)
        return 0;
    stream->flush(r, stream, t);
    return PERF_GET_(&stream->state) == PERF_STREAM_ON_;
}

#define PERF_CLOSED_ (UINT64_C(1) << 63)        /* bit of `low`: no duration passes the compare   */
#define PERF_NO_LOW_ (UINT64_C(3) << 62)        /* ... also without that bit: none was counted    */

PERF_COLD_FN_ void perf_halves_clear_(perf_buckets_ *b)
{
    perf_halves_ *h;

    for (h = b->halves; h; h = h->next)
        PERF_SET_(&h->halves, 0u);
}

PERF_COLD_FN_ void perf_buckets_clear_(perf_buckets_ *b)
{
    uint32_t i;

    perf_halves_clear_(b);
    for (i = 0; i < b->room; i++)
        PERF_REL_(&b->n[i], 0u);
    for (i = 0; i < PERF_RARE_; i++)
        PERF_REL_(&b->rare->n[i], 0u);
    perf_halves_clear_(b);                      /* a signal handler may have looked meanwhile     */
}

/* Empties a cell; its place in the tree and its memory stay. */
PERF_COLD_FN_ void perf_cell_clear_(perf_cell_ *c)
{
    uint64_t *const zero[] = {&c->count, &c->sum, &c->inside, &c->again, &c->within, &c->span,
                              &c->of.calls.max};
    uint32_t        i;

    for (i = 0; i < sizeof zero / sizeof *zero; i++)
        PERF_SET_(zero[i], UINT64_C(0));
    PERF_SET_(&c->low, PERF_NO_LOW_);
    PERF_SET_(&c->of.calls.min, ~UINT64_C(0));
    if (c->of.calls.gauge)
        PERF_SET_(&c->of.calls.gauge->n, UINT64_C(0));
    if (c->buckets)
        perf_buckets_clear_(c->buckets);
}

/* Empties a recorder.  Scopes that are open now count from here on: their ends are cold ones. */
PERF_COLD_FN_ void perf_recorder_clear_(perf_recorder_ *t)
{
    perf_cell_ *c, *first;
    uint32_t    i;

    for (i = 0; i < t->room; i++) {
        first = c = t->cell[i];
        if (c)
            do
                perf_cell_clear_(c);
            while ((c = c->kin) != first);
    }
    for (c = t->open; c->parent; c = c->parent)
        c->held = 1;
    PERF_SET_(&t->root.inside, UINT64_C(0));
    PERF_SET_(&t->away, UINT64_C(0));
    for (i = 0; i < PERF_LATE_; i++)            /* durations that are still to be counted         */
        PERF_SET_(&t->late[i], &t->waste);
}

/* Only the owner of a recorder takes memory for it; a signal handler that comes in between gets
 * none, and its mark is counted as lost.  0: it is such a one.                                   */
PERF_COLD_FN_ int perf_grow_begin_(perf_recorder_ *t)
{
    return perf_claim_(&t->growing, 0, 1);
}

PERF_COLD_FN_ void perf_grow_end_(perf_recorder_ *t)
{
    PERF_REL_(&t->growing, 0u);
}

/* Shows the parents of a child a new recorder, where there is room that they can read. */
PERF_COLD_FN_ void perf_recorder_show_(perf_registry_ *r, perf_recorder_ *t)
{
    perf_member_ *m = r->member;
    perf_shown_  *shown;

    if (!m || !perf_grow_begin_(t))             /* a handler may come: the recorder has a home    */
        return;
    shown = PERF_CAST_(perf_shown_ *, perf_room_(t, sizeof *shown));
    if (shown && PERF_PTR_(uintptr_t, shown) - PERF_PTR_(uintptr_t, r->family) < r->family->bytes) {
        shown->next = m->recorders;
        shown->cell = t->cell;                  /* of one that has come already                   */
        shown->room = t->room;
        t->shown = shown;
        PERF_REL_(&m->recorders, shown);
    }
    perf_grow_end_(t);
}

/* Sets up a recorder that is new, or that a fork has wiped.  Thread 0: it belongs to none. */
PERF_COLD_FN_ void perf_recorder_start_(perf_registry_ *r, perf_recorder_ *t, uint32_t thread)
{
    perf_recorder_ **same = &r->by_thread[thread % 256];

    PERF_LIBC_(memset)(t, 0, sizeof *t);
    t->open = &t->root;                         /* the tree, empty                                */
    perf_recorder_clear_(t);
    t->home = r;
    t->number = ++r->threads;
    t->foreign_track = !thread;
    t->thread = thread ? thread : 5000000 + t->number;  /* above the ids that Linux gives         */
    r->alive++;
    t->made = t->birth = perf_scope_ticks_(r);
    perf_ring_set_(r, t);
    perf_recorder_show_(r, t);
    if (thread) {
        t->next_same = *same;
        PERF_REL_(same, t);
    }
    t->next = r->recorders;
    PERF_REL_(&r->recorders, t);
}

#define PERF_EVENT_MORE_ UINT64_C(0xffffffff)   /* its duration stands in the entry before        */

/* How many events newer ones have overwritten, from `from` (bytes) on.  One of several entries is
 * gone with its first entry: where there are such, the whole ones that are left are counted.     */
PERF_COLD_FN_ uint64_t perf_ring_dropped_(const perf_registry_ *r, const perf_recorder_ *t,
                                          uint64_t from)
{
    uint64_t head = PERF_ACQ_(&t->ring_head), written = (head - from) / sizeof(perf_event_);
    uint64_t more = PERF_GET_(&t->ring_more), i = 0, entries, what, whole = 0;

    if (from != PERF_GET_(&t->ring_lost))
        more -= PERF_GET_(&t->sent_more);
    if (!more || written <= r->ring_events)
        return written > r->ring_events ? written - r->ring_events : 0;
    while (i < r->ring_events) {                /* from the newest back                           */
        what = PERF_GET_(&t->ring[(head / sizeof(perf_event_) - 1 - i) % r->ring_events].what);
        entries = (what & PERF_EVENT_MORE_) != PERF_EVENT_MORE_ || PERF_EVENT_PART_(what) ? 1 : 2;
        if (entries == 2 && PERF_ACQ_(&r->names)[what >> 32 & 0xffffff]->kind == PERF_KIND_ASYNC_)
            entries = 3;
        i += entries;
        whole += !PERF_EVENT_PART_(what) && i <= r->ring_events;
    }
    return written > more + whole ? written - more - whole : 0;     /* it may be writing          */
}

/* Events of a ring that are not in the streamed file. */
PERF_COLD_FN_ uint64_t perf_ring_unsent_(const perf_recorder_ *t)
{
    return (PERF_GET_(&t->ring_head) - PERF_GET_(&t->ring_sent)) / sizeof(perf_event_) -
           (PERF_GET_(&t->ring_more) - PERF_GET_(&t->sent_more));
}

/* What is missing from the numbers of all threads, and of the process. */
PERF_COLD_FN_ perf_losses_ perf_losses_sum_(perf_registry_ *r)
{
    perf_losses_    l = PERF_ZERO;
    perf_recorder_ *t;
    perf_stream_   *stream = PERF_ACQ_(&r->stream);
    int             failed = stream && PERF_GET_(&stream->state) == PERF_STREAM_FAILED_, i;

    if (stream)
        l.n[PERF_LOSS_UNSENT_] = PERF_GET_(&stream->unsent);
    l.n[PERF_LOSS_LOST_] = PERF_GET_(&r->lost);
    l.n[PERF_LOSS_CUT_] = PERF_GET_(&r->cut_names);
    l.n[PERF_LOSS_OVERWRITTEN_] = PERF_GET_(&r->retired_lost);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint64_t from = PERF_GET_(&t->ring_lost);
        if (PERF_GET_(&t->request) & PERF_ASK_RESET_)
            continue;                           /* reset, though its thread sleeps or is gone     */
        if (failed)
            l.n[PERF_LOSS_UNSENT_] += perf_ring_unsent_(t);
        if (PERF_GET_(&t->ring_sent) > from)    /* what is in the file is not lost                */
            from = PERF_GET_(&t->ring_sent);
        for (i = 0; i < PERF_LOSSES_; i++)
            l.n[i] += PERF_GET_(&t->losses[i]);
        l.n[PERF_LOSS_OVERWRITTEN_] += perf_ring_dropped_(r, t, from);
    }
    return l;
}

#define PERF_RETIRED_MAX_ (UINT64_C(64) << 20)  /* bytes kept of the events of ended threads     */

/* Keeps an ended thread's events, but what a reset forgot, so that another one can take over. */
PERF_COLD_FN_ void perf_recorder_retire_(perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t       bytes, i;
    uint64_t       size = r->ring_events * sizeof(perf_event_);
    perf_retired_ *old;
    char          *to;
    int            sent;

    perf_entries_put_(t, PERF_NULL_, 0);        /* it may have ended in a signal handler          */
    bytes = t->ring_head - t->ring_lost;
    sent = perf_stream_flush_(r, t);
    if (t->request & PERF_ASK_RESET_)
        bytes = 0;
    if (!sent && bytes && r->stream && r->stream->state == PERF_STREAM_FAILED_)
        PERF_ADD_(r->stream->unsent, perf_ring_unsent_(t));
    if (bytes > size && !sent)
        PERF_ADD_(r->retired_lost, perf_ring_dropped_(r, t, t->ring_lost));
    bytes = perf_smaller_(bytes, size);
    if (bytes && !r->retired)
        r->retired = PERF_CAST_(char *, perf_pages_(PERF_CAST_(size_t, PERF_RETIRED_MAX_), 0));
    if (r->retired && r->retired_bytes + sizeof *old + bytes <= PERF_RETIRED_MAX_ && bytes) {
        old = PERF_PTR_(perf_retired_ *, PERF_PTR_(void *, r->retired + r->retired_bytes));
        old->thread = t->thread;
        old->number = t->number;
        old->count = bytes / sizeof(perf_event_);
        PERF_LIBC_(memcpy)(old->name, t->name, sizeof old->name);
        to = PERF_PTR_(char *, old + 1);
        for (i = 0; i < bytes; i += sizeof(perf_event_))
            PERF_LIBC_(memcpy)(to + i, PERF_PTR_(char *, t->ring) + ((t->ring_head -
                                       sizeof(perf_event_) - i) & (size - 1)), sizeof(perf_event_));
        r->retired_bytes += sizeof *old + bytes;
    } else if (!sent) {
        PERF_ADD_(r->retired_lost, bytes / sizeof(perf_event_));
    }
    PERF_SET_(&t->ring_head, UINT64_C(0));
    t->sent_more = t->ring_next = t->ring_lost = t->ring_more = t->ring_sent = 0;
    if (t->ring_limit)
        perf_ring_set_(r, t);
}

/* So many more recursive calls are open. */
PERF_INLINE_FN_ void perf_deeper_(perf_recorder_ *t, uint64_t calls)
{
    PERF_ADD_(t->extra, calls);
    PERF_ADD_(t->deeper, calls << 56);
}

/* n more scopes of thread t will be found open there, but have ended elsewhere. */
PERF_COLD_FN_ void perf_stray_(perf_recorder_ *t, uint32_t n)
{
    uint32_t was;

    do
        was = PERF_GET_(&t->strayed);
    while (!perf_claim_(&t->strayed, was, was + n));
}

/* n scopes were found open that will not end here: lost, unless they have ended elsewhere. */
PERF_COLD_FN_ void perf_abandon_(perf_recorder_ *t, uint64_t n)
{
    uint32_t strayed = PERF_GET_(&t->strayed);

    if (strayed >> 31)                          /* below 0: went there                            */
        strayed = 0;
    if (strayed > n)
        strayed = PERF_CAST_(uint32_t, n);
    if (strayed)
        perf_stray_(t, 0 - strayed);
    PERF_ADD_(t->losses[PERF_LOSS_ABANDONED_], n - strayed);
}

#if PERF_SYS_GETTID_ && !PERF_TSAN_     /* which does not see that a thread has ended             */
/* A recorder whose thread has ended, to be taken over; its sums stay.  The kernel is asked about
 * all of them only when their number has doubled.                                                */
PERF_COLD_FN_ perf_recorder_ *perf_recorder_adopt_(perf_registry_ *r, uint32_t thread)
{
    perf_recorder_  *t;
    perf_recorder_ **p;

    if (r->alive >= r->scan_at) {
        for (t = r->recorders; t; t = t->next)
            if (!t->gone && !t->foreign_track &&
                perf_syscall_(PERF_SYS_TGKILL_, PERF_CAST_(long, r->process),
                              PERF_CAST_(long, t->thread), 0L)) {
                t->gone = 1;
                r->alive--;
            }
        r->scan_at = 2 * r->alive + 64;
    }
    if (r->alive == r->threads)                 /* none has ever gone                             */
        return PERF_NULL_;
    t = r->recorders;
    while (t && !t->gone)
        t = t->next;
    if (!t || r->reading)                       /* a trace would have it twice                    */
        return PERF_NULL_;
    perf_recorder_retire_(r, t);
    for (p = &r->by_thread[t->thread % 256]; *p && *p != t; p = &(*p)->next_same) {
    }
    if (*p)
        *p = t->next_same;
    t->gone = 0;
    perf_abandon_(t, perf_open_drop_(t, &t->root));     /* what the thread before left open       */
    t->ranges = 0;
    PERF_LIBC_(memset)(&t->looked, 0, sizeof t->looked);
    PERF_SET_(&t->away, UINT64_C(0));
    t->thread = thread;
    t->name[0] = '\0';
    t->number = ++r->threads;
    r->alive++;
    t->made = perf_scope_ticks_(r);
    t->next_same = r->by_thread[thread % 256];
    r->by_thread[thread % 256] = t;
    return t;
}
#else
#define perf_recorder_adopt_(r, thread) PERF_NULL_
#endif

/* Does what other threads have asked for; the owner calls it when it next begins a scope. */
PERF_COLD_FN_ void perf_recorder_serve_(perf_recorder_ *t)
{
    perf_registry_ *r = t->home;
    uint32_t        ask, i;

    do {
        do
            ask = PERF_GET_(&t->request);
        while (!perf_claim_(&t->request, ask, 0));
        if (ask & PERF_ASK_RESET_) {
            perf_recorder_clear_(t);
            PERF_SET_(&t->ring_lost, t->ring_head);
            PERF_SET_(&t->ring_more, UINT64_C(0));
            PERF_SET_(&t->ring_sent, t->ring_head);
            PERF_SET_(&t->sent_more, UINT64_C(0));
            for (i = 0; i < PERF_LOSSES_; i++)
                PERF_SET_(&t->losses[i], UINT64_C(0));
            PERF_SET_(&t->birth, perf_scope_ticks_(r));
        }
        if (ask & PERF_ASK_TRACE_)
            perf_ring_set_(r, t);
        PERF_SET_(&t->seen, r->clock || PERF_ACQ_(&r->sink) ? PERF_NULL_ : t->table);
    } while (!perf_claim_(&t->request, 0, 0));  /* asked meanwhile: again                         */
}

/* The calling thread's recorder; NULL without memory. */
PERF_OUTLINE_FN_ perf_recorder_ *perf_recorder_get_(void)
{
    perf_registry_ *r;
    perf_recorder_ *t = PERF_SELF_;
    uint32_t        thread;
    int             was;                        /* errno, which tgkill and dlopen change          */

    if (t && t->home)
        return t;
    was = PERF_ERRNO_;
    r = perf_registry_get_();
    if (!r)
        return PERF_NULL_;
    if (!perf_lock_(r)) {                       /* a signal handler in the thread's first moment  */
        PERF_ERRNO_ = was;
        return PERF_NULL_;
    }
    thread = perf_thread_id_();
    if (t) {                                    /* wiped by a fork: start over in the same place  */
        if (!t->home)                           /* else a signal handler has come before the lock */
            perf_recorder_start_(r, t, thread);
        perf_unlock_(&r->lock);
        PERF_ERRNO_ = was;
        return t;
    }
    for (t = r->by_thread[thread % 256]; t && t->thread != thread; t = t->next_same) {
    }
    if (t && t->gone) {                         /* the system has given the id to a new thread    */
        t->gone = 0;
        r->alive++;
    }
    if (!t)
        t = perf_recorder_adopt_(r, thread);
    if (!t) {
        t = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *t, 1));
        if (t)
            perf_recorder_start_(r, t, thread);
    }
    perf_unlock_(&r->lock);
    PERF_ERRNO_ = was;
#if !PERF_TCC_
    perf_self_v1_ = t;
#endif
    if (t && PERF_GET_(&t->request))            /* left over from the thread before               */
        perf_recorder_serve_(t);
    if (!t)
        perf_fail_(r, PERF_ENOMEM);
    return t;
}

/* The same for a mark: where there is none it is counted as lost. */
PERF_OUTLINE_FN_ perf_recorder_ *perf_recorder_for_mark_(void)
{
    perf_recorder_ *t = perf_recorder_get_();
    perf_registry_ *r = t ? PERF_NULL_ : PERF_ACQ_(&perf_anchor_v1_.registry);

    if (!r)
        return t;
#if PERF_TCC_
    r->lost++;
#else
    (void)__atomic_fetch_add(&r->lost, 1, 0);   /* signal handlers of several threads, too        */
#endif
    perf_fail_(r, PERF_ELIMIT);                 /* unless no memory has been said already         */
    return t;
}

/* Makes room for a name's cell; 0: no memory. */
PERF_COLD_FN_ int perf_cells_room_(perf_recorder_ *t, uint32_t id)
{
    uint32_t     room = t->room ? t->room : 64;
    perf_cell_ **table;

    while (room <= id)
        room *= 2;
    if (room == t->room)
        return 1;
    table = PERF_CAST_(perf_cell_ **, perf_room_(t, room * sizeof *table));
    if (!table)
        return 0;
    if (t->room)
        PERF_LIBC_(memcpy)(table, t->cell, t->room * sizeof *table);
    PERF_REL_(&t->cell, table);                 /* readers take `room` first, then the table      */
    PERF_REL_(&t->room, room);
    if (t->shown) {
        PERF_REL_(&t->shown->cell, table);
        PERF_REL_(&t->shown->room, room);
    }
    return 1;
}

PERF_INLINE_FN_ perf_slot_ *perf_slot_at_(const perf_recorder_ *t, const perf_cell_ *caller,
                                          uint32_t id)
{
    uint32_t at = PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, caller) >> 6) ^ id * 0x9e3779b1u;

    for (;; at++) {
        perf_slot_ *s = &t->slot[at & (t->slots - 1)];
        if (!s->cell || (s->caller == caller && PERF_CELL_ID_(s->cell) == id))
            return s;
    }
}

/* The table is at most half full; the old one is not needed any more, but stays in the pool.  With
 * it grows `seen`, which perf_recorder_serve_ gives to the hot path; as that may be a handler's in
 * between, the mask grows last.                                                                  */
PERF_COLD_FN_ int perf_slots_room_(perf_recorder_ *t)
{
    perf_slot_  *old = t->slot, *fresh;
    perf_cell_ **table;
    uint32_t     n = t->slots, i, room = n ? 2 * n : 128;

    if (2 * (t->slots_used + 1) <= n)
        return 1;
    fresh = PERF_CAST_(perf_slot_ *, perf_room_(t, room * (sizeof *old + sizeof *table)));
    if (!fresh)
        return 0;
    table = PERF_PTR_(perf_cell_ **, fresh + room);
    for (i = 0; i < room; i++)
        table[i] = &t->root;
    PERF_REL_(&t->table, table);
    PERF_REL_(&t->seen, PERF_NULL_);
    PERF_REL_(&t->seen_mask, PERF_CAST_(uint32_t, (room - 1) * sizeof *table));
    t->slot = fresh;
    t->slots = room;
    for (i = 0; i < n; i++)
        if (old[i].cell)
            *perf_slot_at_(t, old[i].caller, PERF_CELL_ID_(old[i].cell)) = old[i];
    return 1;
}

PERF_COLD_FN_ perf_cell_ *perf_cell_fresh_(perf_recorder_ *t)
{
    perf_cell_     *c = t->fresh;
    const uint32_t beside = sizeof c->others / sizeof *c->others;

    if (t->fresh_left) {
        t->fresh_left--;
    } else {
        c = PERF_CAST_(perf_cell_ *, perf_room_(t, (beside + 1) * 64 + sizeof *c));
        if (!c)
            return PERF_NULL_;
        t->fresh_left = beside;
    }
    t->fresh = PERF_PTR_(perf_cell_ *, PERF_PTR_(uintptr_t, c) + 64);
    return c;
}

/* An empty cell of `id` under `caller`, in the ring of its name; NULL: no memory. */
PERF_COLD_FN_ perf_cell_ *perf_cell_born_(perf_recorder_ *t, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *kin, *c = perf_cell_fresh_(t);

    if (!c)
        return PERF_NULL_;
    perf_cell_clear_(c);
    c->parent = caller;
    c->depth = caller->depth + 1;
    c->tag = PERF_CAST_(uint64_t, id) << 32 | PERF_CAST_(uint64_t, c->depth) << 56;
    kin = t->cell[id];
    c->kin = kin ? kin->kin : c;
    if (kin)
        PERF_REL_(&kin->kin, c);
    PERF_REL_(&t->cell[id], c);
    return c;
}

/* A new entry of the table: a new cell of `id` under `caller`, or the open one of that name. */
PERF_COLD_FN_ perf_cell_ *perf_cell_make_(perf_recorder_ *t, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *c = PERF_NULL_;
    perf_slot_ *slot;

    if (!id || !perf_grow_begin_(t))
        return PERF_NULL_;
    if (perf_slots_room_(t) && perf_cells_room_(t, id)) {
        slot = perf_slot_at_(t, caller, id);
        c = slot->cell;                         /* a signal handler may just have made it         */
        if (!c) {
            c = caller;                         /* open further out?                              */
            while (c && PERF_CELL_ID_(c) != id)
                c = c->parent;
            if (!c)
                c = perf_cell_born_(t, caller, id);
            slot->caller = caller;
            slot->cell = c;
            t->slots_used += c != PERF_NULL_;
        }
    }
    perf_grow_end_(t);
    return c;
}

/* Counts a mark whose cell could not be made: no memory, or too many names, or something new in a
 * signal handler that came while its thread was inside.                                          */
PERF_COLD_FN_ void perf_lose_cell_(perf_recorder_ *t, uint32_t id)
{
    const int no_memory = id && !t->growing;

    perf_lose_(t, PERF_LOSS_LOST_, no_memory ? PERF_ENOMEM : PERF_ELIMIT);
}

/* The cell of `id` when `caller` is open; NULL without memory or for id 0. */
PERF_FN perf_cell_ *perf_cell_under_(perf_recorder_ *t, perf_cell_ *caller, uint32_t id)
{
    perf_cell_ *c = t->slots ? perf_slot_at_(t, caller, id)->cell : PERF_NULL_;

    if (!c)
        return perf_cell_make_(t, caller, id);
    if (c->parent == caller)
        *perf_seen_at_(t, t->table, caller, id) = c;
    return c;
}

/* `open` of a span whose end is cold: no cell.  Not NULL, for that is what a thread of a forked
 * child has open, and perf_end_() would take the two for the same cell.                          */
#define PERF_COLD_END_ PERF_PTR_(perf_cell_ *, PERF_CAST_(uintptr_t, 1))

/* One more call of what is open already: that cell's ends are cold until this one has ended. */
PERF_FN void perf_cell_again_(perf_span_ *s, perf_recorder_ *t, perf_cell_ *c)
{
    s->outer = t->open;
    s->inside = t->open->inside;
    s->cell = c;
    s->open = PERF_COLD_END_;
    s->rec = t;
    c->again_open++;
    perf_deeper_(t, 1);
    PERF_SET_(&c->low, c->low | PERF_CLOSED_);
}

PERF_INLINE_FN_ void perf_opened_(perf_span_ *s, perf_recorder_ *t, perf_cell_ *c)
{
    PERF_SET_(&s->open, c);
    PERF_SET_(&s->rec, t);
    PERF_REL_(&t->open, c);
}

/* The cell of what has no caller: counters, instants, spans of several threads, device times. */
#define perf_cell_get_(t, id) perf_cell_under_(t, &(t)->root, id)

#define PERF_BLOCK_HEAD_     6          /* counters that its header takes the place of            */
#define PERF_BLOCK_COUNTERS_ 16         /* in 64 bytes                                            */

/* A block of at least so many counters, all 0; 0: one of entries. */
PERF_COLD_FN_ perf_buckets_ *perf_buckets_make_(perf_recorder_ *t, uint32_t counters)
{
    uint32_t       units = (counters + PERF_BLOCK_HEAD_ - 1) / PERF_BLOCK_COUNTERS_ + 1;
    perf_buckets_ *b = PERF_CAST_(perf_buckets_ *,
                                  perf_room_(t, 64 * PERF_CAST_(size_t, units)));

    if (b && counters)
        b->room = PERF_BLOCK_COUNTERS_ * units - PERF_BLOCK_HEAD_;
    return b;
}

/* Is there a counter for this index? */
PERF_INLINE_FN_ int perf_buckets_have_(const perf_buckets_ *b, uint32_t index)
{
    return b && index - b->first < b->room;
}

/* The entry of an index, 0: a free one; NULL: there is none. */
PERF_COLD_FN_ uint32_t *perf_rare_at_(const perf_buckets_ *b, uint32_t index)
{
    uint32_t i;

    for (i = 0; i < PERF_RARE_; i++)
        if (PERF_GET_(&b->rare->n[i]) >> 16 == index)
            return &b->rare->n[i];
    return PERF_NULL_;
}

/* Widens a range of indexes up to the entries within an octave of it. */
PERF_COLD_FN_ void perf_rare_near_(const perf_buckets_ *b, uint32_t *from, uint32_t *to)
{
    const uint32_t octave = UINT32_C(1) << PERF_CELL_BITS_;
    uint32_t       i, turn, index;

    for (turn = 0; turn < PERF_RARE_; turn++)   /* one may bring the next one near                */
        for (i = 0; i < PERF_RARE_; i++) {
            index = PERF_GET_(&b->rare->n[i]) >> 16;
            if (index && index < *from && *from - index <= octave)
                *from = index;
            else if (index >= *to && index - *to < octave)
                *to = index + 1;
        }
}

/* Remembers that a counter has come to the next half of its range, if it has. */
PERF_COLD_FN_ void perf_halves_keep_(perf_recorder_ *t, perf_buckets_ *b, uint32_t i)
{
    const uint64_t birth = PERF_GET_(&t->birth);
    perf_halves_  *h = b->halves;
    uint32_t       halves;

    while (h && h->index != b->first + i)
        h = h->next;
    halves = h ? h->halves : 0;
    if (PERF_GET_(&b->n[i]) >> 31 == (halves & 1))
        return;
    if (!h) {
        h = PERF_CAST_(perf_halves_ *, perf_room_(t, sizeof *h));
        if (!h) {                               /* calls and sums have them, percentiles do not   */
            perf_fail_(t->home, PERF_ENOMEM);
            return;
        }
        h->index = b->first + i;
        h->next = b->halves;
        PERF_REL_(&b->halves, h);
    }
    PERF_SET_(&h->halves, halves + 1);
    if (PERF_GET_(&t->birth) != birth)          /* a signal handler has emptied the counters      */
        PERF_SET_(&h->halves, 0u);
}

/* Has this entry so many durations that they want a counter?  At most the square root of the calls
 * come to an entry, so cold ends do not count in the long run.                                   */
PERF_INLINE_FN_ int perf_rare_often_(const perf_cell_ *c, uint32_t entry)
{
    uint32_t n = entry & 0xffff;

    return n >= 4 && (PERF_CAST_(uint64_t, n) * n >= c->count || n >> 15);
}

/* ---- sink ---- */

/* Asks every thread for something; each does it when it next begins a scope. */
PERF_COLD_FN_ void perf_ask_(perf_registry_ *r, uint32_t what)
{
    perf_recorder_ *t, *mine = PERF_SELF_;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        perf_word_set_(&t->request, what);
        PERF_SET_(&t->seen, PERF_NULL_);
    }
    if (mine && mine->home)
        perf_recorder_serve_(mine);
}

/* Switches an image on or off. */
PERF_COLD_FN_ void perf_image_switch_(perf_search_ *s, perf_anchor_ *a)
{
    PERF_SET_(&a->off, s->value);
}

/* A moment: counters and laps with a value, instants without. */
PERF_COLD_FN_ void perf_sink_mark_(perf_recorder_ *t, perf_cell_ *c, uint32_t type, double value)
{
    const perf_sink_ *sink = PERF_ACQ_(&t->home->sink);
    perf_label_       l;

    if (sink) {
        l = perf_label_of_(PERF_ACQ_(&t->home->names)[PERF_CELL_ID_(c)], type, perf_bits_(value));
        PERF_SINK_(t, sink->mark(&l))
    }
}

/* ---- what is not the common case of a mark ---- */

PERF_COLD_DECL_ void perf_ring_due_(perf_recorder_ *t);

/* The event of a scope where the ring is due, was switched off just now, or is being written to. */
PERF_COLD_FN_ void perf_event_due_(perf_recorder_ *t, uint64_t start, uint64_t what)
{
    const perf_event_ e = {start, what};

    perf_event_write_(t, &e, 1);
}

#define PERF_TAG_NAME_(tag) ((tag) & (UINT64_C(0xffffff) << 32))   /* without the depth           */
#define PERF_TEXT_MAX_ 63               /* bytes of an instant's text                             */

#define PERF_LONG_ (UINT64_C(1) << 20)  /* after so many ticks an end may ask the system: 0.5 us  */

/* Sees whether the clock was set back behind the beginning of this recorder: then what has begun
 * after `birth` counts.  `end` may have been read before the recorder began.                     */
PERF_COLD_FN_ void perf_clock_check_(perf_recorder_ *t, uint64_t end, uint64_t birth)
{
    if (end >= t->birth || perf_scope_ticks_(t->home) >= t->birth)
        return;
    perf_word_set_(&t->home->warnings, PERF_CLOCK_BACKWARDS);
    PERF_SET_(&t->made, UINT64_C(0));
    PERF_SET_(&t->birth, birth);
    PERF_LIBC_(memset)(&t->after, 0, sizeof t->after);
    PERF_LIBC_(memset)(&t->looked, 0, sizeof t->looked);
}

/* A mark that would have ended before it began is not counted. */
PERF_COLD_FN_ void perf_lose_to_clock_(perf_recorder_ *t)
{
    perf_word_set_(&t->home->warnings, PERF_CLOCK_BACKWARDS);
    perf_lose_(t, PERF_LOSS_CLOCK_, PERF_OK);
}

/* After a call of d ticks: for how long of it had the thread no processor?  All that it was without
 * one since the last look is believed to be in this call where that explains why it took eight
 * times as long as others; else what cannot have been before.  Nothing, if it has waited, too.   */
PERF_COLD_FN_ void perf_away_(perf_recorder_ *t, perf_cell_ *c, uint64_t d)
{
    perf_spent_    now = perf_spent_since_(PERF_NULL_, 1), last = t->looked;
    const uint64_t calls = PERF_GET_(&c->count);        /* 0: it was lost                         */
    double         ns = PERF_CAST_(double, d) * perf_scope_tick_ns_(t->home);
    double         wall = PERF_CAST_(double, now.ns - last.ns);
    double         away = wall - PERF_CAST_(double, now.cpu_ns - last.cpu_ns);

    t->looked = now;
    if (away > 1.25 * ns || (calls && d / 8 < (c->sum - d) / calls))
        if (wall > ns)
            away -= wall - ns;
    if (away > ns)
        away = ns;
    if (now.switches > last.switches && now.waits == last.waits && away > 0 &&
        PERF_CAST_(uint64_t, away) > t->away) {
        PERF_SET_(&t->away_in, PERF_CELL_ID_(c));
        PERF_REL_(&t->away, PERF_CAST_(uint64_t, away));        /* readers take its name next     */
    }
}

PERF_FN void perf_lap_at_(perf_lap *l, perf_recorder_ *t, uint64_t now)
{
    l->rec = t;
    l->open = t->open;
    l->inside = t->open->inside;
    l->calls = t->open->count;
    l->total = t->open->sum - t->open->again;
    l->start = now;
}

/* The part of a scope's time after the last cold end, if it has outlived the scope around it. */
PERF_COLD_FN_ uint64_t perf_after_(const perf_recorder_ *t, uint64_t start, uint64_t end)
{
    const uint64_t from = perf_larger_(t->after.start, start);
    const uint64_t inside = t->open->inside - t->after.inside;

    if (t->after.open != t->open || end <= from || end - from <= inside)
        return 0;
    return end - from - inside;
}

/* The end of a scope of another thread: its name counts here, without a caller. */
PERF_COLD_FN_ void perf_end_foreign_(perf_recorder_ *t, perf_span_ *s, const perf_cell_ *theirs,
                                     uint64_t end)
{
    perf_cell_ *c = perf_cell_get_(t, PERF_CELL_ID_(theirs));
    uint64_t    d;

    perf_lose_(t, PERF_LOSS_FOREIGN_, PERF_OK);
    perf_stray_(s->rec, 1);                     /* its own thread will find it not ended          */
    if (!c) {
        perf_lose_cell_(t, PERF_CELL_ID_(theirs));
    } else if (end < s->start) {
        perf_lose_to_clock_(t);
    } else {
        d = perf_cell_close_(t, c, s->start, end);
        PERF_ADD_(c->again, d);
        PERF_ADD_(c->inside, d);
        perf_event_scope_(t, c, s->start, d, perf_depth_(t) + 1);
    }
}

/* The end of a scope after that of the scope around it, which took it for abandoned: it counts
 * beside what is open now, with the time since that other end.                                   */
PERF_COLD_FN_ void perf_end_late_(perf_recorder_ *t, perf_span_ *s, const perf_cell_ *was,
                                  uint64_t end)
{
    perf_cell_ *c = perf_cell_under_(t, t->open, PERF_CELL_ID_(was));
    uint64_t    d, own = 0;

    if (t->losses[PERF_LOSS_ABANDONED_])
        PERF_ADD_(t->losses[PERF_LOSS_ABANDONED_], ~UINT64_C(0));
    perf_lose_(t, PERF_LOSS_DISORDERED_, PERF_ESTATE);
    if (!c) {
        perf_lose_cell_(t, PERF_CELL_ID_(was));
        return;
    }
    d = perf_cell_close_(t, c, s->start, end);
    if (c->parent == t->open)
        own = perf_after_(t, s->start, end);
    PERF_ADD_(c->again, d - own);               /* that much is in the other scope already        */
    PERF_ADD_(c->inside, d - own);
    PERF_ADD_(t->open->inside, own);
    perf_event_scope_(t, c, s->start, d, perf_depth_(t) + 1);
}

/* Leaves a scope that would have ended before it began: what it called counts for its caller. */
PERF_COLD_FN_ void perf_end_across_(perf_recorder_ *t, perf_cell_ *c, perf_cell_ *outer)
{
    perf_cell_ *p = t->open;

    while (p && p != c)
        p = p->parent;
    if (outer != c->parent)
        (void)perf_open_end_(t, c, outer, 1);
    else if (p)
        perf_abandon_(t, perf_open_drop_(t, outer) - 1);
    perf_lose_to_clock_(t);
}

/* ---- a scope ends, and perf_end_() cannot do it ---- */

PERF_FN int perf_end_again_(perf_span_ *s, uint64_t end);
PERF_COLD_DECL_ void perf_end_slow_(perf_span_ *s, uint64_t end);
PERF_COLD_DECL_ void perf_end_ordered_(perf_recorder_ *t, perf_span_ *s, perf_cell_ *c,
                                       perf_cell_ *outer, uint64_t end);

/* The end of a scope where perf_end_() cannot do it.  Recursion is common, so it is quick. */
PERF_HOT_FN_ void perf_core_end_(perf_span_ *s, uint64_t end)
{
    if (s->open != PERF_COLD_END_ || s->rec != PERF_SELF_ || !perf_end_again_(s, end))
        perf_end_slow_(s, end);
}

/* Ends a recursive call that needs nothing of perf_end_slow_.  1: done. */
PERF_INLINE_FN_ int perf_end_again_(perf_span_ *s, uint64_t end)
{
    perf_recorder_ *t = s->rec;
    perf_cell_     *c = s->cell, *outer = s->outer;
    uint64_t        d = end - s->start, within;

    if (!c->again_open || outer != t->open || outer == c->parent || !PERF_PEEK_(t->seen) ||
        s->start <= t->birth || d >= PERF_EVENT_MORE_ || d < c->of.calls.min ||
        d > c->of.calls.max ||                  /* no call so far, or `buckets` is there          */
        PERF_CAST_(uint32_t, PERF_BUCKET_INDEX_(d)) - c->buckets->first >= c->buckets->room ||
        perf_late_step_(t))
        return 0;
    c->again_open--;
    perf_deeper_(t, ~UINT64_C(0));
    if (!c->again_open && !c->held)             /* at once, or a handler's `span` would be wider  */
        PERF_ADD_(c->low, PERF_CLOSED_);
    within = outer->inside - s->inside;         /* what it called stands in `outer`               */
    within = perf_smaller_(within, d);
    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, d);
    PERF_ADD_(c->again, d);                     /* the outermost call has this time already       */
    PERF_ADD_(c->within, within);
    PERF_ADD_(outer->inside, d - within);
    perf_bucket_add_(t, c, d);
    perf_event_hot_(t, s->start, d | PERF_TAG_NAME_(c->tag) |
                                     PERF_CAST_(uint64_t, outer->depth + 1u) << 56);
    return 1;
}

/* The same where perf_end_again_() cannot do it, either. */
PERF_COLD_FN_ void perf_end_slow_(perf_span_ *s, uint64_t end)
{
    perf_recorder_   *t = perf_recorder_for_mark_();    /* of the thread that counts this end     */
    const perf_sink_ *sink;
    perf_cell_       *c = s->open, *outer;
    int               ordered;

    if (!t)
        return;
    if (t->home->clock)
        end = perf_scope_ticks_(t->home);
    if (s->open == PERF_COLD_END_) {
        c = s->cell;
        outer = s->outer;
    } else {
        outer = c->parent;
    }
    if (t != s->rec) {
        perf_end_foreign_(t, s, c, end);
        return;
    }
    perf_clock_check_(t, end, s->start <= end ? s->start - 1 : end);
    if (s->start < t->made) {
        perf_lose_(t, PERF_LOSS_ORPHANS_, PERF_OK);     /* begun before a fork                    */
        return;
    }
    if (s->start <= t->birth)                   /* begun before a reset: counts from there        */
        s->start = perf_smaller_(t->birth, end);
    if (end < s->start) {
        perf_end_across_(t, c, outer);
        ordered = -1;
    } else {
        ordered = perf_open_end_(t, c, outer, outer != c->parent);
    }
    sink = PERF_ACQ_(&t->home->sink);
    if (t->ranges && sink)
        PERF_SINK_(t, sink->end(t, perf_depth_(t) + 1))
    if (ordered > 0)
        perf_end_ordered_(t, s, c, outer, end);
    else if (!ordered)
        perf_end_late_(t, s, c, end);
    t->after.start = end;
    t->after.inside = t->open->inside;
    t->after.open = t->open;
}

/* Leaves the cell of a scope that ends: `outer` is what was open before it began.  Returns 0 when
 * it is not open any more, because the scope around it has ended first.                          */
PERF_COLD_FN_ int perf_open_end_(perf_recorder_ *t, perf_cell_ *c, perf_cell_ *outer, int again)
{
    perf_cell_ *p = t->open;
    uint64_t    dropped;

    while (p && p != (again ? outer : c))
        p = p->parent;
    if (!p)
        return 0;
    dropped = perf_open_drop_(t, p);
    if (again && c->again_open) {
        c->again_open--;
        perf_deeper_(t, ~UINT64_C(0));
    } else if (!again) {
        perf_deeper_(t, 0 - PERF_CAST_(uint64_t, c->again_open));
        dropped += c->again_open;
        c->again_open = c->held = 0;
        PERF_REL_(&t->open, outer);
    }
    perf_abandon_(t, dropped);
    return 1;
}

/* Takes all cells off the chain of open ones down to `to`, which stays; returns how many scopes
 * those were, with recursive calls.  What ran inside one that never ends counts for its caller.  */
PERF_COLD_FN_ uint64_t perf_open_drop_(perf_recorder_ *t, perf_cell_ *to)
{
    perf_cell_ *c = t->open;
    uint64_t    n = 0, more;

    for (; c != to && c->parent; c = c->parent) {
        n += 1u + c->again_open;
        perf_deeper_(t, 0 - PERF_CAST_(uint64_t, c->again_open));
        c->again_open = c->held = 0;
        more = c->inside + c->within - c->sum;
        if (more - 1 < c->inside) {             /* so much and at least 1                         */
            PERF_ADD_(c->parent->inside, more);
            PERF_SET_(&c->inside, c->inside - more);
        }
    }
    PERF_REL_(&t->open, to);
    return n;
}

/* The end of a scope that is open, and left already: its time, and what is in its caller's. */
PERF_COLD_FN_ void perf_end_ordered_(perf_recorder_ *t, perf_span_ *s, perf_cell_ *c,
                                     perf_cell_ *outer, uint64_t end)
{
    const int again = outer != c->parent;
    uint64_t  within = 0, d = perf_cell_close_(t, c, s->start, end);

    if (d > PERF_LONG_ && !t->home->custom)
        perf_away_(t, c, d);
    if (again)                                  /* what it called stands in `outer`               */
        within = outer->inside - (s->start == t->birth ? 0 : s->inside);
    if (within > d)
        within = d;
    PERF_ADD_(c->within, within);
    PERF_ADD_(outer->inside, d - within);
    if (again)
        PERF_ADD_(c->again, d);                 /* the outermost call has this time already       */
    perf_event_scope_(t, c, s->start, d, perf_depth_(t) + 1);
}

/* Counts the time from `start` to `end` in a cell, at once, and returns it: as perf_end_, cold. */
PERF_COLD_FN_ uint64_t perf_cell_close_(perf_recorder_ *t, perf_cell_ *c, uint64_t start,
                                        uint64_t end)
{
    uint64_t d = end - start, in = perf_cell_extend_(t, c, d);

    if (in) {
        PERF_ADD_(c->count, 1);
        PERF_ADD_(c->sum, d);
        perf_cell_count_(t, c, in);
    } else {
        perf_lose_(t, PERF_LOSS_LOST_, t->growing ? PERF_ELIMIT : PERF_ENOMEM);
    }
    return d;
}

/* A duration the hot path would not take: a new extreme, a rare one, 0, or a long one.  Returns it
 * moved into the range of the buckets, or 0 where there is no memory for one.                    */
PERF_COLD_FN_ uint64_t perf_cell_extend_(perf_recorder_ *t, perf_cell_ *c, uint64_t d)
{
    uint64_t most = (UINT64_C(1) << (PERF_CELL_BUCKETS_ >> PERF_CELL_BITS_)) - 1;
    uint64_t in = perf_larger_(perf_smaller_(d, most), 1);
    uint32_t index = PERF_CAST_(uint32_t, PERF_BUCKET_INDEX_(in));

    if (!perf_buckets_room_(t, c, index))
        return 0;
    if (d < c->of.calls.min)
        PERF_SET_(&c->of.calls.min, d);
    if (d > c->of.calls.max)
        PERF_SET_(&c->of.calls.max, d);
    perf_cell_window_(c);
    return in;
}

/* A place where this index is counted; 0: no memory. */
PERF_COLD_FN_ int perf_buckets_room_(perf_recorder_ *t, perf_cell_ *c, uint32_t index)
{
    const uint32_t *entry;
    int             done;

    if (perf_buckets_have_(c->buckets, index))
        return 1;
    entry = c->buckets ? perf_rare_at_(c->buckets, index) : PERF_NULL_;
    if (entry && !perf_rare_often_(c, *entry))
        return 1;
    if (!perf_grow_begin_(t))
        return entry && !(*entry >> 15 & 1);
    done = perf_rare_make_(t, c, index);
    perf_grow_end_(t);
    return done;
}

/* An entry for this index beside what there is, or a counter; 0: no memory. */
PERF_COLD_FN_ int perf_rare_make_(perf_recorder_ *t, perf_cell_ *c, uint32_t index)
{
    perf_buckets_ *b = c->buckets;              /* of a signal handler, maybe                     */
    uint32_t      *entry, *empty;

    if (!b) {
        b = perf_buckets_make_(t, 0);
        if (!b)
            return 0;
        b->rare = b;
        b->first = index;
        PERF_REL_(&c->buckets, b);
    }
    if (perf_buckets_have_(b, index))
        return 1;
    entry = perf_rare_at_(b, index);
    empty = perf_rare_at_(b, 0);
    if (!entry && empty) {
        PERF_REL_(empty, index << 16);
        return 1;
    }
    if (entry && !perf_rare_often_(c, *entry))
        return 1;
    return perf_buckets_widen_(t, c, index) || (entry && !(*entry >> 15 & 1));
}

/* Counters up to this index, and those of the entries near them; 0: no memory.  Some slack on
 * both sides, so that blocks are seldom outgrown.                                                */
PERF_COLD_FN_ int perf_buckets_widen_(perf_recorder_ *t, perf_cell_ *c, uint32_t index)
{
    perf_buckets_ *old = c->buckets, *b;
    uint32_t       from = index, to = index + 1;

    if (old->room && old->first < from)
        from = old->first;
    if (old->room && old->first + old->room > to)
        to = old->first + old->room;
    perf_rare_near_(old, &from, &to);
    b = perf_buckets_make_(t, to - from + PERF_CAST_(uint32_t, perf_smaller_((to - from) / 4, 16)));
    if (b) {
        PERF_REL_(&b->first, from - (b->room - (to - from)) / 2);
        perf_buckets_move_(t, c, b);
    }
    return b != PERF_NULL_;
}

/* Moves the counters of a cell into a wider block `b`, late ones and entries too.  Where a handler
 * does it as its thread holds the address of a late one, that count goes to the old block: calls
 * and sums have it, percentiles do not.                                                          */
PERF_COLD_FN_ void perf_buckets_move_(perf_recorder_ *t, perf_cell_ *c, perf_buckets_ *b)
{
    const uint64_t birth = PERF_GET_(&t->birth);
    perf_buckets_ *old = c->buckets;
    uint32_t      *to = &b->n[old->room ? old->first - b->first : 0], *rare = old->rare->n;
    uintptr_t      at;
    uint32_t       i, entry[PERF_RARE_];

    PERF_REL_(&b->rare, old->rare);
    PERF_REL_(&b->halves, old->halves);
    PERF_SET_(&c->bucket, PERF_PTR_(uintptr_t, b->n) - 4 * PERF_CAST_(uintptr_t, b->first));
    for (i = 0; i < PERF_LATE_; i++) {
        at = (PERF_PTR_(uintptr_t, t->late[i]) - PERF_PTR_(uintptr_t, old->n)) / sizeof *to;
        if (at < old->room)
            PERF_SET_(&t->late[i], &to[at]);
    }
    for (i = 0; i < old->room; i++)             /* a signal handler may count late ones meanwhile */
        PERF_ADD_(to[i], old->n[i]);
    for (i = 0; i < PERF_RARE_; i++) {
        entry[i] = PERF_GET_(&rare[i]);
        if (perf_buckets_have_(b, entry[i] >> 16))
            PERF_ADD_(b->n[(entry[i] >> 16) - b->first], entry[i] & 0xffff);
    }
    PERF_REL_(&c->buckets, b);
    for (i = 0; i < PERF_RARE_; i++)            /* ... and rare ones: what came since             */
        if (perf_buckets_have_(b, entry[i] >> 16)) {
            PERF_ADD_(b->n[(entry[i] >> 16) - b->first], PERF_GET_(&rare[i]) - entry[i]);
            PERF_REL_(&rare[i], 0u);
        }
    if (PERF_GET_(&t->birth) != birth)          /* a signal handler has emptied the old ones      */
        perf_buckets_clear_(b);
}

/* Lets the hot path count what lies within the durations seen and has a counter, unless an end has
 * to be cold.                                                                                    */
PERF_COLD_FN_ void perf_cell_window_(perf_cell_ *c)
{
    const perf_buckets_ *b = c->buckets;
    uint64_t             low, high;

    if (c->held || c->again_open || !b->room)
        return;
    low = perf_larger_(c->of.calls.min, perf_bucket_from_(b->first));
    high = perf_smaller_(c->of.calls.max, perf_bucket_from_(b->first + b->room) - 1);
    high = perf_smaller_(high, PERF_LONG_);
    if (low <= high) {
        PERF_SET_(&c->low, low);
        PERF_SET_(&c->span, high - low);
    }
    if (c->of.calls.min > low)                  /* a signal handler has emptied the cell          */
        PERF_SET_(&c->low, PERF_NO_LOW_);
}

/* The least duration whose bucket is `index` or above it; at least 1. */
PERF_COLD_FN_ uint64_t perf_bucket_from_(uint32_t index)
{
    double   at = perf_from_bits_(PERF_CAST_(uint64_t, index) << (52 - PERF_CELL_BITS_));
    uint64_t ticks = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, at));

    return ticks + (PERF_CAST_(double, PERF_CAST_(int64_t, ticks)) < at);
}

/* Counts a duration in its bucket, at once. */
PERF_INLINE_FN_ void perf_cell_count_(perf_recorder_ *t, perf_cell_ *c, uint64_t d)
{
    const perf_buckets_ *b = c->buckets;
    const uint32_t       index = PERF_CAST_(uint32_t, PERF_BUCKET_INDEX_(d));
    uint32_t            *rare;

    if (d - c->low <= c->span || perf_buckets_have_(b, index)) {
        PERF_ADD_(PERF_PTR_(uint32_t *, c->bucket)[index], 1);
    } else {
        rare = perf_rare_at_(b, index);
        if (rare)
            PERF_ADD_(*rare, 1);
    }
    if (PERF_UNLIKELY_(perf_late_step_(t)))
        perf_halves_look_(t);
}

/* Looks at all counters of a thread: the first time after 2^31 durations, then after 2^30 each.  So
 * none comes to another half of its range twice between two looks.                               */
PERF_COLD_FN_ void perf_halves_look_(perf_recorder_ *t)
{
    perf_cell_ *first, *c;
    uint32_t    id, i;

    if (!perf_grow_begin_(t))                   /* the next end tries again                       */
        return;
    for (id = 0; id < t->room; id++) {
        first = c = t->cell[id];
        if (c)
            do
                for (i = 0; c->buckets && i < c->buckets->room; i++)
                    perf_halves_keep_(t, c->buckets, i);
            while ((c = c->kin) != first);
    }
    t->late_next = t->late_next % PERF_LATE_ + (UINT32_C(1) << 30);
    perf_grow_end_(t);
}

PERF_COLD_FN_ void perf_event_scope_(perf_recorder_ *t, const perf_cell_ *c, uint64_t start,
                                     uint64_t d, uint32_t depth)
{
    const uint64_t    more = d >= PERF_EVENT_MORE_;
    const perf_event_ e[2] = {{d, 0}, {start, (more ? PERF_EVENT_MORE_ : d) |
                              PERF_TAG_NAME_(c->tag) | PERF_CAST_(uint64_t, depth) << 56}};

    if (t->ring_limit)
        perf_event_write_(t, &e[1 - more], 1 + more);
}

/* Writes n entries, the last of which is the event.  The ring may be due to be sent to a file. */
PERF_COLD_FN_ void perf_event_write_(perf_recorder_ *t, const perf_event_ *e, uint64_t n)
{
    PERF_ADD_(t->ring_more, n - 1);
    perf_entries_put_(t, e, n);
    if (t->ring_head >= t->ring_limit)
        perf_ring_due_(t);
}

/* ---- a scope begins, and perf_begin_() cannot do it ---- */

PERF_COLD_DECL_ perf_span_ *perf_begin_slow_(perf_span_ *s, perf_site_ *site, perf_recorder_ **self,
                                             int counter);

/* Begins a scope of the thread *self, a variable of the image; NULL: not known yet.  Returns s, or
 * NULL: it is not recorded.  Quick, recursion included, where `seen` says that neither a clock
 * nor a sink is to be asked, and that there are slots.                                           */
PERF_HOT_FN_ perf_span_ *perf_core_begin_(perf_span_ *s, perf_site_ *site, perf_recorder_ **self,
                                          int counter)
{
    uint32_t        id = PERF_GET_(&site->id);
    perf_recorder_ *t = PERF_TCC_ ? PERF_NULL_ : *self;
    perf_cell_     *c = PERF_NULL_;

    if (PERF_LIKELY_(t && id && PERF_PEEK_(t->seen))) {
        c = t->open;
        if (PERF_CELL_ID_(c) != id)             /* else it calls itself                           */
            c = perf_slot_at_(t, c, id)->cell;
    }
    if (PERF_UNLIKELY_(!c))
        return perf_begin_slow_(s, site, self, counter);
    if (PERF_LIKELY_(c->parent == t->open)) {
        *perf_seen_at_(t, t->table, t->open, id) = c;
        perf_opened_(s, t, c);
    } else {
        perf_cell_again_(s, t, c);
    }
    s->start = perf_ticks();
    return s;
}

/* The begin of a scope where perf_begin_() cannot do it.  The thread becomes known to *self. */
PERF_COLD_FN_ perf_span_ *perf_begin_slow_(perf_span_ *s, perf_site_ *site, perf_recorder_ **self,
                                           int counter)
{
    perf_recorder_   *t = perf_recorder_for_mark_();
    const perf_sink_ *sink;
    perf_label_       label;
    perf_cell_       *c;
    uint32_t          id;

    s->rec = PERF_NULL_;
    if (!t || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    perf_clock_agrees_(t->home, counter);
    if (self)
        *self = t;
    id = perf_site_id_(t->home, site);
    c = perf_cell_under_(t, t->open, id);
    if (!c) {
        perf_lose_cell_(t, id);
        return PERF_NULL_;
    }
    sink = PERF_ACQ_(&t->home->sink);
    if (!sink || PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    s->cell = c;
    s->outer = t->open;
    if (c->parent == t->open)
        perf_opened_(s, t, c);
    else
        perf_cell_again_(s, t, c);
    s->depth = perf_depth_(t);
    if (sink) {                                 /* payload: calls before this one in this thread  */
        label = perf_label_of_(PERF_ACQ_(&t->home->names)[id], 1, c->count);
        PERF_SINK_(t, sink->begin(t, &label, s->depth))
    }
    if (t->home->clock || t->ranges)
        s->open = PERF_COLD_END_;
    s->start = perf_scope_ticks_(t->home);
    perf_clock_check_(t, s->start, s->start - 1);
    return s;
}

/* Writes the ring to the file.  This is a scope of its own, so that its time is seen in the report
 * and is not counted as another scope's self time.                                               */
PERF_COLD_FN_ void perf_ring_due_(perf_recorder_ *t)
{
    static perf_site_ site = {"(perf.h writes the trace)", __FILE__, __LINE__, 0};
    perf_registry_   *r = t->home;
    perf_span_        s, *open;
    int               on, was = PERF_ERRNO_;

    t->ring_limit = t->ring_head + 64 * sizeof(perf_event_);    /* room for what follows here     */
    open = perf_begin_slow_(&s, &site, PERF_NULL_, !r->clock);
    if (perf_lock_(r)) {                        /* else inside of it already: soon again          */
        on = perf_stream_flush_(r, t);
        perf_unlock_(&r->lock);
        if (!on)
            t->ring_limit = ~UINT64_C(0);
        PERF_ERRNO_ = was;
    }
    if (open)
        perf_end_slow_(&s, perf_scope_ticks_(r));
}

/* ---- marks that are no scopes ---- */

PERF_COLD_FN_ void perf_misuse_(void)
{
    perf_recorder_ *t = perf_recorder_get_();

    if (t)
        perf_lose_(t, PERF_LOSS_MISUSED_, PERF_ESTATE);
}

/* The site of a name that is no static object: a small table by address in front of the interned
 * names; the text is compared, so the caller may use its buffer again.  NULL: no room.           */
PERF_OUTLINE_FN_ perf_site_ *perf_site_find_(const char *name, uint32_t kind)
{
    perf_recorder_ *t = PERF_SELF_;
    uintptr_t       at = PERF_PTR_(uintptr_t, name);
    perf_known_    *k;
    perf_site_      site = PERF_ZERO;

    if (!t || !t->home)
        t = perf_recorder_for_mark_();
    if (!t)
        return PERF_NULL_;
    k = &t->known[(at ^ at >> 6) % 64];
    if (k->key == name && name && k->name->kind == kind &&
        !PERF_LIBC_(strcmp)(k->name->site.name, name))
        return &k->name->site;
    site.name = name;
    site.line = kind << 24;
    if (!perf_site_id_(t->home, &site)) {
        perf_lose_(t, PERF_LOSS_LOST_, PERF_ELIMIT);
        return PERF_NULL_;
    }
    k->key = name;
    k->name = PERF_ACQ_(&t->home->names)[site.id];
    return &k->name->site;
}

PERF_COLD_FN_ void perf_core_lap_begin_(perf_lap *l)
{
    perf_recorder_ *t = perf_recorder_for_mark_();

    if (t)
        perf_lap_at_(l, t, perf_scope_ticks_(t->home));
}

/* A lap stands beside the scopes of its phase, as a child of what is open.  The sink hears of it
 * when it is over: as a mark whose payload is the length in ns.                                  */
PERF_COLD_FN_ void perf_lap_slow_(perf_lap *l, perf_site_ *site, uint64_t now)
{
    perf_recorder_ *t = perf_recorder_for_mark_();
    perf_cell_     *c;
    uint64_t        d, within, own;

    if (!t)
        return;
    if (l->rec != t || l->start < t->made)      /* another thread's, or begun before a fork       */
        perf_lose_(t, l->rec == t ? PERF_LOSS_ORPHANS_ : PERF_LOSS_FOREIGN_, PERF_OK);
    c = perf_cell_under_(t, t->open, perf_site_id_(t->home, site));
    if (!PERF_ACQ_(&t->home->sink) || PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    if (t->home->clock)
        now = perf_scope_ticks_(t->home);
    perf_clock_check_(t, now, now);
    if (!c)
        perf_lose_cell_(t, PERF_GET_(&site->id));
    else if (now < l->start && l->start > t->birth)
        perf_lose_to_clock_(t);
    if (!c || l->start < t->made || (now < l->start && l->start > t->birth)) {
        perf_core_lap_begin_(l);
        return;
    }
    if (l->rec == t && l->start <= t->birth) {
        l->start = perf_smaller_(t->birth, now);            /* it was served after `now` was read */
        l->inside = l->total = 0;
    }
    d = perf_cell_close_(t, c, l->start, now);
    within = t->open->inside - l->inside;
    within = perf_between_(within, 0, d);
    own = t->open->sum - t->open->again;
    if (l->total == own)
        own = d;
    else                                        /* a call of the caller has ended: what it has    */
        own += within - t->open->inside;
    if (c->parent != t->open || l->open != t->open)
        own = within = 0;                       /* its caller has ended, or is itself: no time    */
    own = perf_between_(own, within, d);
    PERF_ADD_(c->inside, within + d - own);
    PERF_ADD_(c->again, d - own);
    PERF_ADD_(t->open->inside, own - within);
    perf_event_scope_(t, c, l->start, d, perf_depth_(t) + 1);
    perf_sink_mark_(t, c, 2, PERF_CAST_(double, d) * perf_scope_tick_ns_(t->home));
    perf_lap_at_(l, t, now);
}

/* The caller's recorder, and the cell of a mark without length; NULL: counted as lost. */
PERF_COLD_FN_ perf_recorder_ *perf_at_site_(perf_site_ *site, perf_cell_ **c)
{
    perf_recorder_ *t = perf_recorder_for_mark_();
    uint32_t        id;

    *c = PERF_NULL_;
    if (!t)
        return PERF_NULL_;
    id = perf_site_id_(t->home, site);
    *c = perf_cell_get_(t, id);
    if (PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    if (*c)
        return t;
    perf_lose_cell_(t, id);
    return PERF_NULL_;
}

/* Last, mean and extremes of the numbers of a name; 0: no memory. */
PERF_COLD_FN_ int perf_gauge_add_(perf_recorder_ *t, perf_cell_ *c, double value, uint64_t now)
{
    perf_gauge_ *g = c->of.calls.gauge;
    double       sum;

    if (!g) {
        if (perf_grow_begin_(t)) {
            g = PERF_CAST_(perf_gauge_ *, perf_room_(t, sizeof *g));
            perf_grow_end_(t);
        }
        if (!g) {
            perf_lose_(t, PERF_LOSS_LOST_, t->growing ? PERF_ELIMIT : PERF_ENOMEM);
            return 0;
        }
        PERF_REL_(&c->of.calls.gauge, g);
    }
    if (!g->n || value < perf_from_bits_(g->least))
        PERF_SET_(&g->least, perf_bits_(value));
    if (!g->n || value > perf_from_bits_(g->most))
        PERF_SET_(&g->most, perf_bits_(value));
    PERF_SET_(&g->last, perf_bits_(value));
    sum = value;
    if (g->n)
        sum += perf_from_bits_(g->values);
    PERF_SET_(&g->values, perf_bits_(sum));
    PERF_SET_(&g->at, now);
    PERF_ADD_(g->n, 1);
    return 1;
}

PERF_COLD_FN_ void perf_core_count_(perf_site_ *site, double value)
{
    perf_cell_     *c;
    perf_recorder_ *t = perf_at_site_(site, &c);
    uint64_t        now;

    if (!t)
        return;
    if (perf_is_nan_(value)) {
        perf_misuse_();
        return;
    }
    now = perf_scope_ticks_(t->home);
    if (!perf_gauge_add_(t, c, value, now))
        return;
    PERF_ADD_(c->count, 1);
    if (t->ring_limit) {
        const perf_event_ e[2] = {{perf_bits_(value), 0}, {now, PERF_EVENT_MORE_ | c->tag}};
        perf_event_write_(t, e, 2);
    }
    perf_sink_mark_(t, c, 2, value);
}

/* Writes the last part of a text first, as readers go backwards. */
PERF_COLD_FN_ void perf_core_instant_(perf_site_ *site, const char *text, const double *value)
{
    perf_cell_     *c;
    perf_recorder_ *t = perf_at_site_(site, &c);
    perf_event_     e[PERF_TEXT_MAX_ / 8 + 2];
    uint64_t        i, bits, length = text ? perf_text_length_(text, PERF_TEXT_MAX_) : 0;
    uint64_t        part = PERF_REMARK_IS_VALUE_, parts = value != PERF_NULL_;

    if (!t || (value && !perf_is_nan_(*value) &&
               !perf_gauge_add_(t, c, *value, perf_scope_ticks_(t->home))))
        return;
    PERF_ADD_(c->count, 1);
    if (text) {
        part = PERF_REMARK_IS_TEXT_;
        parts = length / 8 + 1;
    }
    if (t->ring_limit) {
        for (i = 0; i < parts; i++) {
            bits = value ? perf_bits_(*value) : 0;
            if (text)
                PERF_LIBC_(memcpy)(&bits, text + 8 * i,
                                   PERF_CAST_(size_t, perf_smaller_(length - 8 * i, 8)));
            e[parts - 1 - i].start = bits;
            e[parts - 1 - i].what = part | PERF_TAG_NAME_(c->tag) >> 24;
            part = PERF_REMARK_REST_;
        }
        e[parts].start = perf_scope_ticks_(t->home);
        e[parts].what = PERF_TAG_NAME_(c->tag) | PERF_CAST_(uint64_t, perf_depth_(t)) << 56;
        perf_event_write_(t, e, parts + 1);
    }
    if (value)
        perf_sink_mark_(t, c, 2, *value);
    else
        perf_sink_mark_(t, c, 0, 0.0);
}

PERF_COLD_FN_ void perf_core_async_begin_(perf_async *a, const char *name, uint64_t id)
{
    perf_site_       *site = perf_site_find_(name, PERF_KIND_ASYNC_);
    perf_recorder_   *t = site ? perf_recorder_get_() : PERF_NULL_;
    const perf_sink_ *sink;

    if (!t)
        return;
    sink = PERF_ACQ_(&t->home->sink);
    a->name = site->id;
    a->open = 1;
    a->id = id ? id : t->number << 40 | ++t->spans;
    if (sink) {
        perf_label_ l = perf_label_of_(PERF_ACQ_(&t->home->names)[site->id], 1, a->id);
        PERF_SINK_(t, a->open += PERF_CAST_(uint32_t, sink->open(&l, &a->range)))
    }
    a->start = perf_scope_ticks_(t->home);
}

PERF_COLD_FN_ void perf_core_async_end_(perf_async *span)
{
    perf_recorder_   *t;
    perf_cell_       *c;
    const perf_sink_ *sink;
    uint64_t          d, now, reset;

    if (!span->open) {
        if (PERF_ON_())
            perf_misuse_();
        return;
    }
    t = perf_recorder_for_mark_();
    sink = t && span->open == 2 ? PERF_ACQ_(&t->home->sink) : PERF_NULL_;
    if (sink)
        PERF_SINK_(t, sink->close(span->range))
    if (!t)
        return;
    c = perf_cell_get_(t, span->name);
    if (!c) {
        perf_lose_cell_(t, span->name);
        return;
    }
    if (PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    now = perf_scope_ticks_(t->home);
    reset = PERF_GET_(&t->home->reset);
    if (now < reset) {                          /* the clock was set back behind it               */
        reset = 0;
        PERF_SET_(&t->home->reset, reset);
    }
    if (span->start < reset)
        span->start = reset;                    /* counts from there                              */
    if (now < span->start) {
        perf_lose_to_clock_(t);
        return;
    }
    d = perf_cell_close_(t, c, span->start, now);
    if (t->ring_limit) {
        const perf_event_ e[3] = {{span->id, 0}, {d, 0},
                                  {span->start, PERF_EVENT_MORE_ | c->tag}};
        perf_event_write_(t, e, 3);
    }
}

/* Tells reports which scopes of the fibre of `c` wait: `waits` is the innermost, NULL: none. */
PERF_COLD_FN_ void perf_root_tell_(perf_cell_ *c, perf_cell_ *waits, uint64_t calls)
{
    while (c->parent)
        c = c->parent;
    PERF_SET_(&c->of.root.again_open, calls);
    PERF_REL_(&c->of.root.waiting, waits);
}

/* Puts away one chain of open scopes and brings back another one.  A cell knows whether it is open,
 * so each chain has a root and cells of its own; one without an open scope gives its root back.
 * One that is open in another thread goes back there; its scopes end here.                       */
PERF_COLD_FN_ void perf_core_fiber_(perf_fiber *from, perf_fiber *to)
{
    perf_recorder_ *t = perf_recorder_get_();
    perf_cell_     *root;
    uint64_t        now, left;

    if (!t)
        return;
    now = perf_scope_ticks_(t->home);
    perf_clock_check_(t, now, now);
    from->rec = t;
    from->open = t->open->parent ? t->open : PERF_NULL_;
    from->calls = t->extra;
    from->left = now;
    perf_root_tell_(t->open, from->open, t->extra);
    if (!from->open) {
        t->open->kin = t->roots;
        t->roots = t->open;
    }
    if (!to->open || to->rec != t || to->left < t->made) {  /* or of another thread or process    */
        if (to->open && to->rec != t && perf_lock_(t->home)) {
            for (root = to->open; root->parent; root = root->parent) {
                root->again_open = root->held = 0;
                if (root->inside > root->sum)
                    PERF_SET_(&root->inside, root->sum);
            }
            perf_root_tell_(root, PERF_NULL_, 0);
            perf_stray_(to->rec, 0 - to->open->depth - PERF_CAST_(uint32_t, to->calls));
            root->kin = to->rec->parted;
            PERF_SET_(&to->rec->parted, root);
            perf_unlock_(&t->home->lock);
        }
        if (!t->roots && PERF_GET_(&t->parted) && perf_lock_(t->home)) {
            t->roots = t->parted;
            PERF_SET_(&t->parted, PERF_CAST_(perf_cell_ *, PERF_NULL_));
            perf_unlock_(&t->home->lock);
        }
        PERF_LIBC_(memset)(to, 0, sizeof *to);
        root = t->roots;
        if (!root && perf_grow_begin_(t)) {
            root = perf_cell_fresh_(t);
            perf_grow_end_(t);
        }
        if (t->roots) {
            t->roots = root->kin;
        } else if (root) {
            root->of.root.older = t->root.of.root.older;
            PERF_REL_(&t->root.of.root.older, root);
        }
        to->open = root ? root : &t->root;
    }
    perf_root_tell_(to->open, PERF_NULL_, 0);
    left = to->left < t->birth ? t->birth : to->left;
    if (to->open->parent && now > left)         /* it was away: no time of its own                */
        PERF_ADD_(to->open->inside, now - left);
    perf_deeper_(t, to->calls - t->extra);
    PERF_REL_(&t->open, to->open);
}

PERF_COLD_FN_ void perf_core_thread_name_(const char *name)
{
    perf_recorder_   *t = perf_recorder_get_();
    const perf_sink_ *sink = t ? PERF_ACQ_(&t->home->sink) : PERF_NULL_;
    uint32_t          n = t && name ? perf_text_length_(name, sizeof t->name - 1) : 0;

    if (t && perf_lock_(t->home)) {             /* others read it                                 */
        PERF_LIBC_(memcpy)(t->name, name ? name : "", n);
        t->name[n] = '\0';
        perf_unlock_(&t->home->lock);
    }
    if (sink)
        PERF_SINK_(t, sink->thread(t->name))
}

/* The end of a phase, and the begin of the next. */
PERF_HOT_FN_ void perf_core_lap_(perf_lap *l, perf_site_ *site, uint64_t now)
{
    perf_recorder_ *t = l->rec;
    perf_cell_     *open = t->open, **seen = PERF_PEEK_(t->seen), *c = PERF_NULL_;
    uintptr_t       id = PERF_GET_(&site->id);
    uint64_t        start = l->start, d = now - start, within;

    if (PERF_LIKELY_(seen && l->calls == open->count && l->open == open))
        c = *perf_seen_at_(t, seen, open, id);
    if (PERF_UNLIKELY_(!c || c->parent != open || PERF_CELL_ID_(c) != id ||
                       d - c->low > c->span || perf_late_step_(t))) {
        perf_lap_slow_(l, site, now);
        return;
    }
    within = open->inside - l->inside;          /* scopes of this phase                           */
    l->start = now;
    l->inside += d;
    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, d);
    PERF_ADD_(c->inside, within);
    PERF_SET_(&open->inside, l->inside);
    perf_bucket_add_(t, c, d);
    perf_event_hot_(t, start, d | c->tag);
}

/* ---- the core for files that only mark ---- */

#if PERF_ONE_CORE_
PERF_COLD_DECL_ void perf_core_join_(perf_anchor_ *a);
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
PERF_COLD_FN_ void perf_core_join_(perf_anchor_ *a)
{
    const perf_core_ *none = PERF_NULL_;
    perf_registry_   *r = perf_registry_get_();

    if (a != &perf_anchor_v1_)
        perf_image_pin_();
    (void)__atomic_compare_exchange_n(&a->core, &none, perf_core_table_(), 0, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE);
    PERF_SET_(&a->off, r ? PERF_GET_(&r->off) : PERF_OFF_SWITCHED_);
}

PERF_COLD_FN_ void perf_core_give_(perf_search_ *s, perf_anchor_ *a)
{
    const perf_core_ *none = PERF_NULL_;

    if (__atomic_compare_exchange_n(&a->core, &none, s->core, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        (void)__atomic_fetch_and(&a->off, PERF_OFF_SWITCHED_, __ATOMIC_ACQ_REL);
        s->there |= a != &perf_anchor_v1_;
    }
}

/* Runs when the program ends, once for each file that holds a core: were a report and a trace asked
 * for, and nobody made them?  A forked child leaves it to its parent.                            */
PERF_COLD_FN_ void perf_core_leave_(void)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (r && !r->child && r->process == perf_process_id_() && perf_claim_(&r->heard, 0, 1))
        perf_tell_unheard_();
}

/* Runs before the constructors of the program, once for each file that holds a core. */
PERF_COLD_FN_ void perf_core_install_(void)
{
    perf_search_ s = PERF_ZERO;

    s.core = perf_core_table_();
    perf_images_(&s, perf_core_give_);
    if (s.there)
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
    perf_registry_ *r = perf_registry_read_();

    if (r)
        return PERF_CAST_(perf_status, PERF_GET_(&r->error));
    return PERF_DISABLE ? PERF_OK : PERF_ENOMEM;
}

PERF_FN void perf_enable(int on)
{
    perf_registry_ *r = perf_registry_read_();
    perf_search_    s = PERF_ZERO;

    if (!r)
        return;
    PERF_SET_(&r->off, on ? 0u : PERF_OFF_SWITCHED_);   /* images to come ask the registry        */
    s.value = on ? 0u : PERF_OFF_SWITCHED_;
    perf_images_(&s, perf_image_switch_);
}

PERF_FN void perf_trace_enable(int on)
{
    perf_registry_ *r = perf_registry_read_();

    if (!r || !perf_lock_(r))
        return;
    PERF_SET_(&r->trace_off, on ? 0u : 1u);
    perf_ask_(r, PERF_ASK_TRACE_);
    perf_unlock_(&r->lock);
}

/* ---- loops ---- */

/* Keeps the loops of r->results, newest first, until perf_loops_let_().  0: inside the lock. */
PERF_COLD_FN_ int perf_loops_hold_(perf_registry_ *r)
{
    if (!perf_lock_(r))
        return 0;
    r->loop_readers++;
    perf_unlock_(&r->lock);
    return 1;
}

/* Takes the forgotten loops out of the list and returns them.  The lock is held. */
PERF_COLD_FN_ perf_loop_ *perf_loops_take_(perf_registry_ *r)
{
    perf_loop_ *l = r->results, *next, *kept = PERF_NULL_, *taken = PERF_NULL_, **end = &kept;

    if (r->loop_readers)
        return PERF_NULL_;
    for (; l; l = next) {
        next = l->next;
        if (PERF_GET_(&l->forgotten)) {
            l->next = taken;
            taken = l;
        } else {
            *end = l;
            end = &l->next;
        }
    }
    *end = PERF_NULL_;
    PERF_REL_(&r->results, kept);
    return taken;
}

PERF_COLD_FN_ void perf_loops_free_(perf_loop_ *l)
{
    perf_loop_ *next;

    for (; l; l = next) {
        next = l->next;
        if (l->pages)
            perf_pages_free_(l, l->pages);
    }
}

/* The list may change again: gives back what was forgotten meanwhile, if nobody else reads. */
PERF_COLD_FN_ void perf_loops_let_(perf_registry_ *r)
{
    perf_loop_ *gone = PERF_NULL_;

    if (!perf_lock_(r))
        return;
    r->loop_readers--;
    gone = perf_loops_take_(r);
    perf_unlock_(&r->lock);
    perf_loops_free_(gone);
}

PERF_FN void perf_reset(void)
{
    perf_registry_ *r = perf_registry_read_();
    perf_source_   *source;
    perf_spent_     spent = perf_spent_since_(PERF_NULL_, 0);   /* the system asks every thread   */
    perf_loop_     *loop;
    perf_family_   *family;
    perf_member_   *m;

    if (!r || !perf_lock_(r))
        return;
    for (loop = r->results; loop; loop = loop->next)
        if (PERF_ACQ_(&loop->done))
            PERF_SET_(&loop->forgotten, 1);
    loop = perf_loops_take_(r);
    PERF_SET_(&r->reset, perf_scope_ticks_(r));     /* who is asked knows it                      */
    perf_ask_(r, PERF_ASK_RESET_);
    PERF_SET_(&r->lost, UINT64_C(0));
    PERF_SET_(&r->cut_names, UINT64_C(0));
    PERF_SET_(&r->retired_lost, UINT64_C(0));
    if (r->reading)                             /* its reader keeps it; a new one is made         */
        r->retired = PERF_NULL_;
    PERF_SET_(&r->marks, PERF_CAST_(perf_mark_ *, PERF_NULL_));
    r->retired_bytes = 0;
    r->spent = spent;
    PERF_SET_(&r->error, PERF_CAST_(uint32_t, PERF_OK));
    family = PERF_ACQ_(&r->family);
    for (m = family ? PERF_ACQ_(&family->members) : PERF_NULL_; m; m = m->next)
        if (perf_member_ours_(r, m))            /* what forked children have recorded             */
            PERF_SET_(&m->forgotten, 1u);
    perf_unlock_(&r->lock);
    perf_loops_free_(loop);
    for (source = PERF_ACQ_(&r->sources); source; source = source->next)
        if (source->reset)
            source->reset();
}

/* ---- tracks: what a device hands over ---- */

/* A recorder that belongs to no thread: one line of the trace, `name` its title.  Whoever makes it
 * sees to it that one thread at a time writes.  NULL without memory.                             */
PERF_COLD_FN_ perf_recorder_ *perf_track_make_(perf_registry_ *r, const char *name)
{
    perf_recorder_ *t = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *t, 1));

    if (!t || !perf_lock_(r))
        return PERF_NULL_;
    perf_recorder_start_(r, t, 0);
    PERF_LIBC_(memcpy)(t->name, name, perf_text_length_(name, sizeof t->name - 1));
    perf_unlock_(&r->lock);
    return t;
}

/* The cell of a name; NULL for id 0, and without memory. */
PERF_COLD_FN_ perf_cell_ *perf_track_cell_(perf_recorder_ *t, uint32_t id)
{
    if (PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    return perf_cell_get_(t, id);
}

/* Counts a duration; the trace, if there is one, has `shown` of it; depth 1: outermost.
 * Without memory for its bucket it is in the sums, and in no percentile.                         */
PERF_INLINE_FN_ void perf_track_add_(perf_recorder_ *t, perf_cell_ *c, uint64_t ticks,
                                     uint64_t start, uint64_t shown, uint64_t depth)
{
    uint64_t in = ticks;

    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, ticks);
    if (PERF_UNLIKELY_(ticks - c->low > c->span))
        in = perf_cell_extend_(t, c, ticks);
    if (PERF_LIKELY_(in))
        perf_cell_count_(t, c, in);
    else
        perf_fail_(t->home, PERF_ENOMEM);
    if (PERF_LIKELY_(shown < PERF_EVENT_MORE_))
        perf_event_hot_(t, start, shown | PERF_TAG_NAME_(c->tag) | depth << 56);
    else
        perf_event_scope_(t, c, start, shown, PERF_CAST_(uint32_t, depth));
}

#if PERF_DISABLE
#define perf_enable(on)       PERF_OFF_((perf_enable)(on))
#define perf_trace_enable(on) PERF_OFF_((perf_trace_enable)(on))
#define perf_reset()          PERF_OFF_((perf_reset)())
#endif

PERF_END_DECLS

#endif /* PERF_H_RECORDS */
