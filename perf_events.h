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
 *   perf_events_copy_  a copy of a part of one ring, for a stream
 *   perf_zone_, perf_zone_at_  one event, decoded
 *   perf_remark_, perf_remark_next_  the numbers and texts of an event
 *   perf_epoch_, perf_epoch_of_, perf_epoch_ns_  how ticks become ns of perf_now()               */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* A thread's events as they were at one moment, newest first. */
typedef struct perf_events_ {
    perf_event_ *event;
    uint64_t     count;         /* entries; an event has one to three, and its remarks            */
    uint64_t     thread;        /* id of the system's                                             */
    uint64_t     number;        /* of the recorder's thread, as perf_recorder_.number             */
    const char  *name;
    uint32_t    *value;         /* [count] links to remarks, see perf_events_link_;               */
                                /* NULL: no event has one                                         */
} perf_events_;

PERF_COLD_DECL_ void perf_events_copy_(perf_events_ *events, perf_registry_ *reg,
                                       perf_recorder_ *rec, uint64_t head, uint64_t n);
PERF_COLD_DECL_ void perf_events_link_(perf_events_ *events, perf_registry_ *reg);

/* Calls `use` with `with` and a copy of the events of each thread that is or was.  0: for some
 * there was no memory, and these have no events; or the caller is inside the lock.               */
PERF_COLD_FN_ int perf_events_each_(perf_registry_ *reg, void (*use)(void *, const perf_events_ *),
                                    void *with)
{
    const uint64_t  each = sizeof(perf_event_) + sizeof(uint32_t);
    perf_recorder_ *rec;
    char           *at, *end, name[sizeof rec->name];
    void           *copy;
    uint64_t        head, n;                    /* n: bytes before `head`                         */
    uint64_t        room = reg->ring_events * sizeof(perf_event_);
    int             whole = 1;

    if (!perf_lock_(reg))
        return 0;
    reg->reading++;                             /* a reset keeps off `retired`                    */
    perf_unlock_(&reg->lock);
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        perf_events_ events = {PERF_NULL_, 0, rec->thread, rec->number, name, PERF_NULL_};
        (void)perf_lock_(reg);                  /* we had it above: this thread is not inside     */
        PERF_LIBC_(memcpy)(name, rec->name, sizeof name);
        head = PERF_ACQ_(&rec->ring_head);
        if (rec == PERF_SELF_)                  /* in a handler, which may end the program: what  */
            head = rec->ring_next;              /* it has left to the writer that it interrupts   */
        n = head - PERF_GET_(&rec->ring_lost);
        if (n > room)
            n = room;
        if (!PERF_ACQ_(&rec->ring) || (PERF_GET_(&rec->request) & PERF_ASK_RESET_))
            n = 0;
        copy = PERF_NULL_;
        if (n)
            copy = PERF_MALLOC(PERF_CAST_(size_t, n / sizeof *events.event * each));
        if (copy) {
            events.event = PERF_PTR_(perf_event_ *, copy);
            events.value = PERF_PTR_(uint32_t *, events.event + n / sizeof *events.event);
            perf_events_copy_(&events, reg, rec, head, n);
        }
        perf_unlock_(&reg->lock);
        use(with, &events);
        whole &= copy || !n;
        PERF_FREE(copy);
    }
    (void)perf_lock_(reg);
    at = reg->retired;
    end = at ? at + reg->retired_bytes : at;
    perf_unlock_(&reg->lock);
    while (at != end) {
        perf_retired_ *old = PERF_PTR_(perf_retired_ *, PERF_PTR_(void *, at));
        perf_events_   events = {PERF_PTR_(perf_event_ *, old + 1), old->count, old->thread,
                            old->number, old->name, PERF_NULL_};
        at = PERF_PTR_(char *, events.event + events.count);
        copy = PERF_MALLOC(PERF_CAST_(size_t, events.count) * sizeof *events.value + 1);
        events.value = PERF_PTR_(uint32_t *, copy);
        perf_events_link_(&events, reg);
        use(with, &events);
        PERF_FREE(copy);
    }
    (void)perf_lock_(reg);
    reg->reading--;
    perf_unlock_(&reg->lock);
    return whole;
}

/* Wipes in a copy of n bytes before `head` what the interrupted writer has not written yet. */
PERF_COLD_FN_ void perf_events_hole_(perf_events_ *events, const perf_recorder_ *rec, uint64_t head,
                                     uint64_t n)
{
    uint64_t at = rec->ring_head;

    do {
        if (at < head && head - at <= n)
            PERF_LIBC_(memset)(&events->event[(head - at) / sizeof *events->event - 1], 0,
                               sizeof *events->event);
        at += sizeof *events->event;
    } while (at < rec->ring_wide && at < head);
}

/* Copies n bytes of the ring before `head`, at most all, into events->event, less what was
 * overwritten meanwhile, and less what began after `head`: events->event then lies behind it.
 * events->value: room for a number for each entry.                                               */
PERF_HOT_FN_ void perf_events_copy_(perf_events_ *events, perf_registry_ *reg, perf_recorder_ *rec,
                                    uint64_t head, uint64_t n)
{
    uint64_t i, now, room = reg->ring_events * sizeof(perf_event_);

    for (i = 0; i < n; i += sizeof(perf_event_)) {
        perf_event_ *from = &rec->ring[((head - sizeof *from - i) & (room - 1)) / sizeof *from];
        events->event[i / sizeof *from].start = PERF_ACQ_(&from->start);
        events->event[i / sizeof *from].what = PERF_ACQ_(&from->what);
    }
    if (rec == PERF_SELF_ && rec->ring_head != rec->ring_next)
        perf_events_hole_(events, rec, head, n);
    now = PERF_GET_(&rec->ring_next);           /* with what is being written now; ARM reorders   */
    if (rec != PERF_SELF_ && now != head)
        now += 9 * sizeof(perf_event_);         /* a call's stores                                */
    if (now - head > room)
        n = 0;
    else if (n > room - (now - head))
        n = room - (now - head);
    events->count = n / sizeof(perf_event_);
    /* The newest entries may be parts of an event that is not there yet. */
    while (events->count && perf_event_is_part_(events->event[0].what)) {
        events->event++;
        events->count--;
    }
    perf_events_link_(events, reg);
}

/* One event, decoded. */
typedef struct perf_zone_ {
    uint64_t start, length;             /* ticks                                                  */
    uint64_t extra;                     /* bits of a counter's value, id of a span                */
    uint32_t name, kind, depth;
    int      slice;                     /* 1: it nests                                            */
    uint32_t value;                     /* events->value of it; 0: none                          */
    uint64_t remarks;                   /* index of its first remark, if that is one              */
} perf_zone_;

/* Decodes the event at index *i, and moves *i past it, the entries that it needs, and its remarks.
 * 0: not a whole one.                                                                            */
PERF_INLINE_FN_ int perf_zone_at_(const perf_events_ *events, uint64_t *i, perf_registry_ *reg,
                                  perf_zone_ *zone)
{
    uint64_t at = (*i)++, what = events->event[at].what;

    zone->name = PERF_CAST_(uint32_t, what >> 32 & 0xffffff);
    zone->depth = PERF_CAST_(uint32_t, what >> 56);
    zone->start = events->event[at].start;
    zone->length = what & UINT32_MAX;
    zone->extra = 0;
    zone->value = 0;
    if (!zone->name || zone->name >= PERF_ACQ_(&reg->count))
        return 0;
    if (events->value)
        zone->value = events->value[at];
    zone->kind = PERF_ACQ_(&reg->names)[zone->name]->kind;
    zone->slice = zone->kind < PERF_KIND_ASYNC_ || zone->kind >= PERF_KIND_SYNC_;
    if (zone->length == UINT32_MAX) {           /* the entry before has it                        */
        if (at + 1 >= events->count || events->event[at + 1].what)
            return 0;                           /* its first half has been overwritten            */
        *i = at + 2;
        zone->length = events->event[at + 1].start;
    }
    if (*i == at + 2 && zone->kind == PERF_KIND_ASYNC_) {
        if (at + 2 >= events->count || events->event[at + 2].what)
            return 0;
        zone->extra = events->event[at + 2].start;
        *i = at + 3;
    } else if (*i == at + 2 && zone->kind == PERF_KIND_COUNT_) {
        zone->extra = zone->length;
        zone->length = 0;
    }
    for (zone->remarks = *i; *i < events->count && events->event[*i].what; ++*i)
        if (!perf_event_is_part_(events->event[*i].what))
            break;
    return 1;
}

/* Links remarks (numbers and texts) to the scope that they stand in: value[scope] is its first
 * remark, value[remark] the next, 0 the end; value[instant] = 1: linked.  An instant is not linked
 * if its scope is no longer in the ring, has a newer remark of that name, or 16 already.
 * events->value, NULL if none is linked, has room for a number for each entry.  Hot, or its callers
 * would be cold.                                                                                 */
#define PERF_REMARKS_MOST_ 16u
PERF_HOT_FN_ void perf_events_link_(perf_events_ *events, perf_registry_ *reg)
{
    uint64_t   i, at, from[256];        /* by depth: begin of the latest scope, ...               */
    uint32_t   scope[256], *first;      /* ... and its entry                                      */
    uint32_t   other, linked, *room = events->value;
    perf_zone_ zone;

    for (i = 0; i < events->count &&
         (!events->event[i].what || !perf_event_is_part_(events->event[i].what)); i++) {
    }
    events->value = PERF_NULL_;
    if (i == events->count || !room)
        return;
    events->value = room;
    PERF_LIBC_(memset)(room, 0, PERF_CAST_(size_t, events->count) * sizeof *room);
    PERF_LIBC_(memset)(scope, 255, sizeof scope);
    for (i = at = 0; i < events->count; at = i) {
        if (!perf_zone_at_(events, &i, reg, &zone))
            continue;
        if (zone.slice) {
            from[zone.depth] = zone.start;
            scope[zone.depth] = PERF_CAST_(uint32_t, at);
            continue;
        }
        if (zone.kind != PERF_KIND_INSTANT_ || zone.remarks >= i || !zone.depth)
            continue;
        if (scope[zone.depth] >= at || zone.start < from[zone.depth])
            continue;                           /* its scope is not here                          */
        first = &room[scope[zone.depth]];
        linked = 0;
        for (other = *first; other; other = room[other]) {
            if (!((events->event[other].what ^ events->event[zone.remarks].what) >> 8))
                break;                          /* a newer one of that name, of either kind       */
            linked++;
        }
        if (other || linked >= PERF_REMARKS_MOST_)
            continue;
        room[zone.remarks] = *first;
        *first = PERF_CAST_(uint32_t, zone.remarks);
        room[at] = 1;
    }
}

typedef struct perf_remark_ {     /* the number or the text of an instant                         */
    uint32_t kind, name;        /* PERF_REMARK_IS_..., id of a name                               */
    double   value;
    char     text[64];
} perf_remark_;

/* Reads the number or text at index *at, which becomes that of the next one of its scope; 0: it was
 * the last.  Returns 0 if there is none at *at.                                                  */
PERF_COLD_FN_ int perf_remark_next_(const perf_events_ *events, uint64_t *at, perf_remark_ *remark)
{
    const perf_event_ *event = events->event + *at;
    uint64_t           left = events->count - *at, kind;
    uint32_t           n = 0;

    if (!*at || !left || !perf_event_is_part_(event->what))
        return 0;
    kind = event->what & 0xff;
    if (kind == 0 || kind > PERF_REMARK_IS_TEXT_)       /* a duration, or the rest of a text      */
        return 0;
    PERF_LIBC_(memset)(remark, 0, sizeof *remark);
    remark->kind = PERF_CAST_(uint32_t, kind);
    remark->name = PERF_CAST_(uint32_t, event->what >> 8);
    remark->value = perf_from_bits_(event->start);
    do
        PERF_LIBC_(memcpy)(remark->text + 8 * n, &event[n].start, 8);
    while (++n < left && n < 8 && perf_event_is_part_(event[n].what) &&
           (event[n].what & 0xff) == PERF_REMARK_REST_);
    remark->text[sizeof remark->text - 1] = '\0';
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

PERF_COLD_FN_ perf_epoch_ perf_epoch_of_(perf_registry_ *reg)
{
    perf_epoch_ epoch = {reg->clock ? reg->made.ns : reg->made.ticks, reg->made.ns,
                         perf_scope_tick_ns_(reg), PERF_NULL_};

    return epoch;
}

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *epoch, uint64_t ticks)
{
    int64_t since = PERF_CAST_(int64_t, ticks - epoch->ticks);
    double  ns;

    while (since < 0 && epoch->older) {
        epoch = epoch->older;
        since = PERF_CAST_(int64_t, ticks - epoch->ticks);
    }
    ns = PERF_CAST_(double, since) * epoch->tick_ns;
    return epoch->ns + PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
}

PERF_END_DECLS

#endif /* PERF_EVENTS_H */
