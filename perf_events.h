/* perf_events.h - what happened when: copies of the rings of events.
 *
 * For the library itself: traces and the diagnosis read them, one copy for each thread.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_EVENTS_H
#define PERF_EVENTS_H

#include "perf_rows.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_events_, perf_events_each_  a copy of each ring, which takes a lock
 *   perf_events_read_  a copy of a part of one ring, for a stream
 *   perf_zone_, perf_zone_at_  one event, decoded
 *   perf_seen_, perf_remark_next_  the numbers and texts of an event
 *   perf_epoch_, perf_epoch_of_, perf_epoch_ns_  how ticks become ns of perf_now()               */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* A thread's events as they were at one moment, newest first. */
typedef struct perf_events_ {
    perf_event_ *event;
    uint64_t     count;
    uint64_t     thread, number;
    const char  *name;
    uint32_t    *value;         /* which remark belongs to which event, see perf_events_link_;    */
} perf_events_;                 /* NULL: none to any                                              */

PERF_COLD_DECL_ void perf_events_read_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t,
                                       uint64_t head, uint64_t n);
PERF_COLD_DECL_ void perf_events_link_(perf_events_ *e, perf_registry_ *r);

/* Hands a copy of the events of every thread there is or was to `use`; 0 without memory. */
PERF_COLD_FN_ int perf_events_each_(perf_registry_ *r, void (*use)(void *, const perf_events_ *),
                                    void *with)
{
    const uint64_t  each = sizeof(perf_event_) + sizeof(uint32_t);
    perf_recorder_ *t;
    char           *at, *end, name[sizeof t->name];
    void           *copy;
    uint64_t        head, n, room = r->ring_events * sizeof(perf_event_);
    int             whole = 1;

    if (!perf_lock_(r))
        return 0;
    r->reading++;                               /* a reset keeps off `retired`                    */
    perf_unlock_(&r->lock);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        perf_events_ e = {PERF_NULL_, 0, t->thread, t->number, name, PERF_NULL_};
        (void)perf_lock_(r);                    /* we had it above: this thread is not inside     */
        PERF_LIBC_(memcpy)(name, t->name, sizeof name);
        head = PERF_ACQ_(&t->ring_head);
        if (t == PERF_SELF_)                    /* in a handler, which may end the program: what  */
            head = t->ring_next;                /* it has left to the writer that it interrupts   */
        n = head - PERF_GET_(&t->ring_lost);
        if (n > room)
            n = room;
        if (!PERF_ACQ_(&t->ring) || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
            n = 0;
        copy = PERF_NULL_;
        if (n)
            copy = PERF_MALLOC(PERF_CAST_(size_t, n / sizeof *e.event * each));
        if (copy) {
            e.event = PERF_PTR_(perf_event_ *, copy);
            e.value = PERF_PTR_(uint32_t *, e.event + n / sizeof *e.event);
            perf_events_read_(&e, r, t, head, n);
        }
        perf_unlock_(&r->lock);
        use(with, &e);
        whole &= copy || !n;
        PERF_FREE(copy);
    }
    (void)perf_lock_(r);
    at = r->retired;
    end = at ? at + r->retired_bytes : at;
    perf_unlock_(&r->lock);
    while (at != end) {
        perf_retired_ *old = PERF_PTR_(perf_retired_ *, PERF_PTR_(void *, at));
        perf_events_   e = {PERF_PTR_(perf_event_ *, old + 1), old->count, old->thread,
                            old->number, old->name, PERF_NULL_};
        at = PERF_PTR_(char *, e.event + e.count);
        copy = PERF_MALLOC(PERF_CAST_(size_t, e.count) * sizeof *e.value + 1);
        e.value = PERF_PTR_(uint32_t *, copy);
        perf_events_link_(&e, r);
        use(with, &e);
        PERF_FREE(copy);
    }
    (void)perf_lock_(r);
    r->reading--;
    perf_unlock_(&r->lock);
    return whole;
}

/* Wipes in a copy of n bytes before `head` what the interrupted writer has not written yet. */
PERF_COLD_FN_ void perf_events_hole_(perf_events_ *e, const perf_recorder_ *t, uint64_t head,
                                     uint64_t n)
{
    uint64_t at = t->ring_head;

    do {
        if (at < head && head - at <= n)
            PERF_LIBC_(memset)(&e->event[(head - at) / sizeof *e->event - 1], 0, sizeof *e->event);
        at += sizeof *e->event;
    } while (at < t->ring_wide && at < head);
}

/* Copies n bytes of the ring before `head`, at most all, into e->event, less what was overwritten
 * meanwhile, and less what began after `head`: e->event then lies behind it.  e->value: room for a
 * number for each entry.                                                                         */
PERF_HOT_FN_ void perf_events_read_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t,
                                    uint64_t head, uint64_t n)
{
    uint64_t i, now, room = r->ring_events * sizeof(perf_event_);

    for (i = 0; i < n; i += sizeof(perf_event_)) {
        perf_event_ *from = &t->ring[((head - sizeof *from - i) & (room - 1)) / sizeof *from];
        e->event[i / sizeof *from].start = PERF_ACQ_(&from->start);
        e->event[i / sizeof *from].what = PERF_ACQ_(&from->what);
    }
    if (t == PERF_SELF_ && t->ring_head != t->ring_next)
        perf_events_hole_(e, t, head, n);
    now = PERF_GET_(&t->ring_next);             /* with what is being written now; ARM reorders   */
    if (t != PERF_SELF_ && now != head)
        now += 9 * sizeof(perf_event_);         /* a call's stores                                */
    if (now - head > room)
        n = 0;
    else if (n > room - (now - head))
        n = room - (now - head);
    e->count = n / sizeof(perf_event_);
    while (e->count && PERF_EVENT_PART_(e->event[0].what)) {    /* its first part is not there yet*/
        e->event++;
        e->count--;
    }
    perf_events_link_(e, r);
}

/* Decodes entry *i, and moves *i past it and the entries it needs.  0: not a whole one. */
typedef struct perf_zone_ {
    uint64_t start, length, extra;      /* extra: value of a counter, id of a span                */
    uint32_t name, kind, depth;
    int      slice;                     /* 1: it nests                                            */
    uint32_t value;                     /* e->value of it, 0: none                                */
    uint64_t remarks;                   /* index of its number or text; *i is behind it           */
} perf_zone_;

PERF_INLINE_FN_ int perf_zone_at_(const perf_events_ *e, uint64_t *i, perf_registry_ *r,
                                  perf_zone_ *z)
{
    uint64_t at = (*i)++, what = e->event[at].what;

    z->name = PERF_CAST_(uint32_t, what >> 32 & 0xffffff);
    z->depth = PERF_CAST_(uint32_t, what >> 56);
    z->start = e->event[at].start;
    z->length = what & UINT32_MAX;
    z->extra = 0;
    z->value = 0;
    if (!z->name || z->name >= PERF_ACQ_(&r->count))
        return 0;
    if (e->value)
        z->value = e->value[at];
    z->kind = PERF_ACQ_(&r->names)[z->name]->kind;
    z->slice = z->kind < PERF_KIND_ASYNC_ || z->kind >= PERF_KIND_SYNC_;
    if (z->length == UINT32_MAX) {              /* the entry before has it                        */
        if (at + 1 >= e->count || e->event[at + 1].what)
            return 0;                           /* its first half has been overwritten            */
        *i = at + 2;
        z->length = e->event[at + 1].start;
    }
    if (*i == at + 2 && z->kind == PERF_KIND_ASYNC_) {
        if (at + 2 >= e->count || e->event[at + 2].what)
            return 0;
        z->extra = e->event[at + 2].start;
        *i = at + 3;
    } else if (*i == at + 2 && z->kind == PERF_KIND_COUNT_) {
        z->extra = z->length;
        z->length = 0;
    }
    for (z->remarks = *i; *i < e->count && e->event[*i].what; ++*i)
        if (!PERF_EVENT_PART_(e->event[*i].what))
            break;
    return 1;
}

/* Links remarks (numbers and texts) to the scope that they stand in: value[scope] is its first
 * remark, value[remark] the next, 0 the end; value[instant] = 1: linked.  An instant is not linked
 * if its scope is no longer in the ring, has a newer remark of that name, or 16 already.
 * e->value, NULL if none is linked, has room for a number for each entry.  Hot, or its callers
 * would be cold.                                                                                 */
#define PERF_REMARKS_MOST_ 16u
PERF_HOT_FN_ void perf_events_link_(perf_events_ *e, perf_registry_ *r)
{
    uint64_t   i, at, from[256];        /* by depth: begin of the latest scope, ...               */
    uint32_t   scope[256], *first;      /* ... and its entry                                      */
    uint32_t   other, linked, *room = e->value;
    perf_zone_ z;

    for (i = 0; i < e->count && (!e->event[i].what || !PERF_EVENT_PART_(e->event[i].what)); i++) {
    }
    e->value = PERF_NULL_;
    if (i == e->count || !room)
        return;
    e->value = room;
    PERF_LIBC_(memset)(room, 0, PERF_CAST_(size_t, e->count) * sizeof *room);
    PERF_LIBC_(memset)(scope, 255, sizeof scope);
    for (i = at = 0; i < e->count; at = i) {
        if (!perf_zone_at_(e, &i, r, &z))
            continue;
        if (z.slice) {
            from[z.depth] = z.start;
            scope[z.depth] = PERF_CAST_(uint32_t, at);
            continue;
        }
        if (z.kind != PERF_KIND_INSTANT_ || z.remarks >= i || !z.depth)
            continue;
        if (scope[z.depth] >= at || z.start < from[z.depth])
            continue;                           /* its scope is not here                          */
        first = &room[scope[z.depth]];
        linked = 0;
        for (other = *first; other; other = room[other]) {
            if (e->event[other].what == e->event[z.remarks].what)
                break;                          /* a newer one of that name                       */
            linked++;
        }
        if (other || linked >= PERF_REMARKS_MOST_)
            continue;
        room[z.remarks] = *first;
        *first = PERF_CAST_(uint32_t, z.remarks);
        room[at] = 1;
    }
}

typedef struct perf_seen_ {     /* the number or the text of an instant                           */
    uint32_t kind, name;        /* PERF_REMARK_IS_..., id of a name                               */
    double   value;
    char     text[64];
} perf_seen_;

/* Reads the number or text at index *at, and moves *at to the next one of that scope, 0: the end.
 * 0: there is none.                                                                              */
PERF_COLD_FN_ int perf_remark_next_(const perf_events_ *events, uint64_t *at, perf_seen_ *m)
{
    const perf_event_ *e = events->event + *at;
    uint64_t           left = events->count - *at;
    uint32_t           n = 0;

    if (!*at || !left || !e->what || !PERF_EVENT_PART_(e->what) ||
        (e->what & 0xff) - 1 > PERF_REMARK_IS_TEXT_ - 1)
        return 0;
    PERF_LIBC_(memset)(m, 0, sizeof *m);
    m->kind = PERF_CAST_(uint32_t, e->what & 0xff);
    m->name = PERF_CAST_(uint32_t, e->what >> 8);
    m->value = perf_from_bits_(e->start);
    do
        PERF_LIBC_(memcpy)(m->text + 8 * n, &e[n].start, 8);
    while (++n < left && n < 8 && PERF_EVENT_PART_(e[n].what) &&
           (e[n].what & 0xff) == PERF_REMARK_REST_);
    m->text[sizeof m->text - 1] = '\0';
    *at = events->value ? events->value[*at] : 0;
    return 1;
}

/* Ticks to the nanoseconds of perf_now(): start and end are converted, the length is what lies
 * between them, so that rounding never moves a scope out of the one around it.                   */
typedef struct perf_epoch_ {
    uint64_t                  ticks, ns;
    double                    tick_ns;
    const struct perf_epoch_ *older;            /* for times before `ticks`; NULL: this one       */
} perf_epoch_;

PERF_COLD_FN_ perf_epoch_ perf_epoch_of_(perf_registry_ *r)
{
    perf_epoch_ e = {r->clock ? r->made.ns : r->made.ticks, r->made.ns, perf_scope_tick_ns_(r),
                     PERF_NULL_};

    return e;
}

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *e, uint64_t ticks)
{
    int64_t since = PERF_CAST_(int64_t, ticks - e->ticks);
    double  ns;

    while (since < 0 && e->older) {
        e = e->older;
        since = PERF_CAST_(int64_t, ticks - e->ticks);
    }
    ns = PERF_CAST_(double, since) * e->tick_ns;
    return e->ns + PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
}

PERF_END_DECLS

#endif /* PERF_EVENTS_H */
