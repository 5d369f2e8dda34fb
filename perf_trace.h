/* perf_trace.h - the trace of perf.h as Perfetto's protobuf, also while the program runs, and of
 * several processes in one.
 *
 *     #include "perf.h"
 *     #include "perf_trace.h"
 *     perf_trace_save_perfetto("run.pftrace");      // ui.perfetto.dev; 3.5 times smaller than JSON
 *     perf_trace_stream("run.pftrace");             // from now on; readable after a kill -9
 *
 * Optional: only files that save such formats include it.  What is saved is what the rings
 * still hold, as with perf_trace_save(); the file appears whole or not at all.  Flame pages
 * and folded stacks are in perf_export.h.
 * Sections (search for ">>"):  config  save  stream  merge  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TRACE_H
#define PERF_TRACE_H

#include "perf.h"
#include <stdio.h>
#include <string.h>
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_trace.h: found another or an older perf.h; keep files of one release together"
#endif

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_STREAM_BYTES       /* a stream ends with the write that goes beyond so many bytes;   */
#define PERF_STREAM_BYTES (UINT64_C(1) << 30)   /* for the file that calls perf_trace_stream      */
#endif

PERF_BEGIN_DECLS

/* >>save -------------------------------------------------------------------------------------- */

/* Perfetto's protobuf: about 23 bytes a scope.  Files of one machine may be concatenated (cat a b
 * > c) in the order in which they were begun, and open as one; perf_trace_merge() takes any order,
 * and any machines.  PERF_EINVAL: no path; PERF_EIO, PERF_ENOMEM.                                */
PERF_FN perf_status perf_trace_save_perfetto(const char *path);

/* >>stream: the trace goes to a file while the program runs -------------------------------------
 *
 *     perf_trace_stream("run.pftrace");            // at the start of main
 *     ...                                          // a kill -9 here loses the last second
 *     perf_trace_stream(NULL);                     // writes what is left, and closes
 *
 * The library starts no thread: each thread writes its ring when half of it is new, or a second has
 * passed, and the scope that fills the ring pays, 0.1 us an event.  That time is a row of the
 * report, "(perf.h writes the trace)".  The ring of a thread that waits for long is written by the
 * next one that works.  A forked child goes on in a file of its own, "run.pftrace.PID", when it has
 * something to write; where "run.pftrace" is a pipe or a device its stream ends with PERF_EIO.
 * With PERF_AT_EXIT 1 above this header, PERF_TRACE_STREAM=file in the environment makes both
 * calls.                                                                                         */

/* Starts with what the rings hold, as Perfetto's protobuf.  An existing file is replaced.  In the
 * file the first scope inside one that is open at a write may begin later, by 1 ns for each scope
 * around it.  PERF_EINVAL: bad path; PERF_ESTATE: a stream is open, or PERF_TRACE_EVENTS is 0;
 * PERF_EIO, PERF_ENOMEM.  From then on a write that fails (full disk) ends the stream: the file is
 * cut back to the last whole write, the report counts the events not in it, recording goes on.
 * NULL writes what all rings hold now and closes the file; another stream may then be started.
 * PERF_ESTATE without a stream, PERF_EIO when it has failed, now or before, or when another file
 * has taken the place of this one.                                                               */
PERF_FN perf_status perf_trace_stream(const char *path);

/* Writes what all rings hold now: call it before a long wait.  PERF_ESTATE without a stream,
 * PERF_EIO when the stream has failed, now or before.                                            */
PERF_FN perf_status perf_trace_stream_flush(void);

/* >>merge: traces of several processes in one file ----------------------------------------------
 * Processes of one machine share a clock: their times fit as they are.  For another machine say how
 * far its clock is off, measured with messages there and back (examples/mpi/perf_mpi.h).         */
typedef struct perf_trace_part {        /* zero = default, but for the path                       */
    const char *path;           /* a trace that perf.h wrote; also one cut off by a kill          */
    const char *name;           /* what viewers call its process: "rank 3"; NULL: as it is        */
    int64_t     offset_ns;      /* added to all its times                                         */
    int64_t     bound_ns;       /* how wrong that may be: shown beside the name; 0: not shown     */
} perf_trace_part;

/* Merges n traces, all of them Perfetto protobuf, into the file `out`, whole or not at all; `out`
 * may be one of the n.  Process numbers that occur twice are changed.  n = 1 repairs a file that a
 * kill has cut: what is not whole at its end is left out.  *bad, unless NULL, becomes the index of
 * the part at fault, n when none is.  After any error `out` is as it was.  PERF_EINVAL: no path, n
 * = 0, or a name of more than 255 bytes; PERF_EFORMAT: a part is no such trace of perf.h;
 * PERF_ELIMIT: more than 65,536 processes; PERF_EIO, PERF_ENOMEM.                                */
PERF_FN perf_status perf_trace_merge(const char *out, const perf_trace_part *part, size_t n,
                                     size_t *bad);

/* >>private: bodies, in the order of the prototypes ------------------------------------------ */

/* ---- perfetto ---- */

PERF_FN char *perf_varint_(char *p, uint64_t v)
{
    while (v >= 128) {
        *p++ = PERF_CAST_(char, (v & 127) - 128);       /* bit 7: more follow                     */
        v >>= 7;
    }
    *p++ = PERF_CAST_(char, v);
    return p;
}

/* A field that holds a number. */
PERF_FN char *perf_field_(char *p, uint32_t number, uint64_t v)
{
    return perf_varint_(perf_varint_(p, number << 3), v);
}

/* A field that holds the 64 bits of a double. */
PERF_FN char *perf_field_double_(char *p, uint32_t number, uint64_t bits)
{
    int i;

    p = perf_varint_(p, number << 3 | 1);
    for (i = 0; i < 8; i++)
        *p++ = PERF_CAST_(char, bits >> 8 * i & 255);
    return p;
}

/* A field that holds bytes: text, or another message. */
PERF_FN char *perf_field_bytes_(char *p, uint32_t number, const char *bytes, size_t n)
{
    p = perf_varint_(perf_varint_(p, number << 3 | 2), n);
    memcpy(p, bytes, n);
    return p + n;
}

/* A moment at which a scope begins, or ends (name 0). */
typedef struct perf_edge_ {
    uint64_t ticks, value;      /* value: index of the scope's first remark; 0: none              */
    uint32_t name, depth;
} perf_edge_;

/* A scope that is open at a write comes into the file after its first child.  It must begin before
 * that child, or a viewer puts it inside; but clocks tick every 10 ns, so both may begin at one
 * moment (a tie).  So the first child at depth d of an open scope is written d - 1 ns later, and so
 * is all that begins at that moment.                                                             */
#define PERF_TIES_      256u            /* the depth in an event has 8 bits; deeper ones wrap     */
#define PERF_TIES_NONE_ (~UINT64_C(0))
typedef struct perf_firsts_ {   /* of a thread, kept between the writes of a stream               */
    uint64_t last_ns;           /* the last time in the file                                      */
    uint64_t ticks[PERF_TIES_]; /* by depth: begin of the first child of a scope that is open;    */
} perf_firsts_;                 /* PERF_TIES_NONE_: none                                          */
typedef struct perf_ties_ {
    perf_firsts_ *now;
    uint64_t      old[PERF_TIES_];      /* now->ticks before the present write                    */
} perf_ties_;

typedef struct perf_pf_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    uint64_t        process;
    int             no_memory;
    int             mapped;                     /* 1: a stream: `room` stays, `used` is in pages  */
    perf_edge_     *room;                       /* 3 edges for each of `events` events            */
    size_t          events;
    char           *used;                       /* by id of a name, 1: an event here has it       */
    uint32_t        names;                      /* size of `used`                                 */
    perf_ties_     *ties;                       /* NULL: all events of a thread are there at once */
} perf_pf_;

/* Copies a name, cut to PERF_NAME_MAX_ bytes; what is no UTF-8 becomes '?'.  Returns the length. */
PERF_COLD_FN_ size_t perf_pf_text_(char *to, const char *name)
{
    perf_out_ o = perf_out_open_(to, PERF_NAME_MAX_ + 1);

    perf_put_clean_(&o, name, 0);
    if (o.len > PERF_NAME_MAX_)
        return PERF_NAME_MAX_;
    return o.len;
}

/* Writes the length of the message that began at `begin` into the two bytes before it. */
PERF_COLD_FN_ void perf_pf_close_(char *begin, const char *end)
{
    begin[-2] = PERF_CAST_(char, ((end - begin) & 127) - 128);
    begin[-1] = PERF_CAST_(char, (end - begin) >> 7);
}

/* Writes a packet.  shape: field numbers, each followed by what the field holds: "(" to ")" is a
 * message, # the next number of v, $ the text (NULL: no field).  @ is the file and line of `place`.
 * "60(1#)10#" is field 60, with v[0] as its field 1, and field 10 with v[1].                     */
PERF_COLD_FN_ void perf_pf_put_(perf_pf_ *w, const char *shape, const uint64_t *v, const char *text,
                                const perf_site_ *place)
{
    char     path[PERF_NAME_MAX_ + 1];
    char    *p, *begin[5];
    uint32_t number = 1, depth = 0;

    if (w->file.p > w->file.limit)
        perf_file_flush_(&w->file);
    p = begin[0] = perf_varint_(w->file.p, number << 3 | 2) + 2;
    for (number = 0; *shape; shape++) {
        if (*shape >= '0' && *shape <= '9') {
            number = number * 10 + PERF_CAST_(uint32_t, *shape - '0');
            continue;
        }
        if (*shape == '#') {
            p = perf_field_(p, number, *v++);
        } else if (*shape == '(') {
            p = begin[++depth] = perf_varint_(p, number << 3 | 2) + 2;
        } else if (*shape == ')') {
            perf_pf_close_(begin[depth--], p);
        } else if (*shape == '@') {
            p = perf_field_bytes_(p, 2, path, perf_pf_text_(path, place->file));
            p = perf_field_(p, 4, place->line & 0xffffff);
        } else if (text) {
            begin[depth + 1] = p = perf_varint_(p, number << 3 | 2) + 2;
            p += perf_pf_text_(p, text);
            perf_pf_close_(begin[depth + 1], p);
        }
        number = 0;
    }
    perf_pf_close_(begin[0], p);
    w->file.p = p;
}

enum { PERF_TRACK_THREAD_, PERF_TRACK_COUNTER_, PERF_TRACK_SPAN_, PERF_TRACK_PROCESS_ };

/* Describes a track of that kind.  name: "" for none.  thread: its id, of a thread's track. */
PERF_COLD_FN_ void perf_pf_track_(perf_pf_ *w, uint64_t uuid, int kind, const char *name,
                                  uint64_t thread)
{
    static const char *const shape[] = {"60(1#4(1#2#5$))10#", "60(1#2$5#8())10#", "60(1#2$5#)10#",
                                        "60(1#3(1#))10#"};      /* by kind                        */
    const uint64_t one[] = {uuid, w->process, thread, 1}, below[] = {uuid, w->process << 32, 1},
                   process[] = {uuid, w->process, 1};

    const uint64_t *number = below;

    if (kind == PERF_TRACK_THREAD_)
        number = one;
    else if (kind == PERF_TRACK_PROCESS_)
        number = process;
    if (kind == PERF_TRACK_THREAD_ && !*name)
        name = PERF_NULL_;
    perf_pf_put_(w, shape[kind], number, name, PERF_NULL_);
}

/* Starts the sequence of a thread: its clock counts ns from t0 of CLOCK_MONOTONIC (3), its names
 * get short numbers.  The trace processor knows a clock by its number and its sequence's, and t0 of
 * a clock may not go back: so both numbers are made from the process number, as far as they go (64
 * clocks; about 100 sequences whose number fits in one byte).                                    */
PERF_COLD_FN_ void perf_pf_sequence_(perf_pf_ *w, uint64_t sequence, uint64_t uuid, uint64_t t0)
{
    const uint64_t clock = 64 + (w->process * UINT32_C(2654435761) >> 26 & 63);
    const uint64_t v[] = {sequence, 1, 1, 3, t0, clock, 0, 1, 1, 3, clock, uuid};

    /* State cleared; a snapshot of both clocks, ours in differences of 1 ns; an event's defaults */
    perf_pf_put_(w, "10#41#13#6(1(1#2#)1(1#2#3#4#)2#)59(58#11(11#))", v, PERF_NULL_, PERF_NULL_);
}

/* Tells the sequence that number `id` means this name and this place in the source. */
PERF_COLD_FN_ void perf_pf_name_(perf_pf_ *w, uint64_t sequence, uint32_t id)
{
    const perf_site_ *site = &PERF_ACQ_(&w->registry->names)[id]->site;
    const uint64_t    v[] = {id, sequence}, placed[] = {id, id, sequence};

    if (site->file)
        perf_pf_put_(w, "12(2(1#2$)4(1#@))10#", placed, site->name, site);
    else
        perf_pf_put_(w, "12(2(1#2$))10#", v, site->name, site);
}

/* Types of events, as Perfetto numbers them. */
enum { PERF_PF_BEGIN_ = 1, PERF_PF_END_, PERF_PF_INSTANT_, PERF_PF_COUNTER_ };

/* Writes an event.  name: 0 for an end.  uuid: its track; 0: the sequence's, and `time` is ns since
 * the event before.  at: index in e of its first remark (e NULL or 0: none); of a counter the bits
 * of its value.                                                                                  */
PERF_COLD_FN_ void perf_pf_event_(perf_pf_ *w, uint64_t type, uint32_t name, uint64_t uuid,
                                  uint64_t time, uint64_t sequence, const perf_events_ *e,
                                  uint64_t at)
{
    const perf_site_ *site = PERF_NULL_;
    char              text[PERF_NAME_MAX_ + 1], *p, *packet, *event, *inner;
    perf_seen_        m;

    if (name)
        site = &PERF_ACQ_(&w->registry->names)[name]->site;
    if (w->file.p > w->file.limit)
        perf_file_flush_(&w->file);
    p = w->file.p;
    *p++ = 0x0a;
    packet = p += 2;
    p = perf_field_(p, 8, time);
    p = perf_field_(p, 10, sequence);
    if (uuid)
        p = perf_field_(p, 58, 3);
    event = p = perf_varint_(p, 11 << 3 | 2) + 2;
    p = perf_field_(p, 9, type);
    if (uuid)
        p = perf_field_(p, 11, uuid);
    if (type == PERF_PF_COUNTER_)
        p = perf_field_double_(p, 44, at);
    if (site && uuid)
        p = perf_field_bytes_(p, 23, text, perf_pf_text_(text, site->name));
    else if (site)
        p = perf_field_(p, 10, name);
    if (site && site->file && uuid) {
        inner = p = perf_varint_(p, 33 << 3 | 2) + 2;
        p = perf_field_bytes_(p, 2, text, perf_pf_text_(text, site->file));
        p = perf_field_(p, 4, site->line & 0xffffff);
        perf_pf_close_(inner, p);
    } else if (site && site->file) {
        p = perf_field_(p, 34, name);
    }
    while (e && perf_remark_next_(e, &at, &m)) {
        inner = p = perf_varint_(p, 4 << 3 | 2) + 2;    /* a debug annotation                     */
        p = perf_field_bytes_(p, 10, text, perf_pf_text_(text,
                              PERF_ACQ_(&w->registry->names)[m.name]->site.name));
        if (m.kind == PERF_REMARK_IS_TEXT_)
            p = perf_field_bytes_(p, 6, text, perf_pf_text_(text, m.text));
        else
            p = perf_field_double_(p, 5, perf_bits_(m.value));
        perf_pf_close_(inner, p);
    }
    perf_pf_close_(event, p);
    perf_pf_close_(packet, p);
    w->file.p = p;
}

/* Writes an event that is no scope.  known: 1, its track has been described. */
PERF_COLD_FN_ void perf_pf_other_(perf_pf_ *w, const perf_zone_ *z, const perf_events_ *e,
                                  int known)
{
    const char *name = PERF_ACQ_(&w->registry->names)[z->name]->site.name;
    uint64_t    ns = perf_epoch_ns_(&w->epoch, z->start);
    uint64_t    uuid = w->process << 32 | UINT64_C(1) << 31 | PERF_CAST_(uint64_t, z->name) << 8;

    if (z->kind == PERF_KIND_INSTANT_) {
        perf_pf_event_(w, PERF_PF_INSTANT_, z->name, w->process << 32 | e->number, ns, 1, e,
                       z->remarks);
        return;
    }
    if (z->kind == PERF_KIND_ASYNC_)
        uuid += z->extra & 255;
    if (z->kind == PERF_KIND_ASYNC_ || !known)
        perf_pf_track_(w, uuid, z->kind == PERF_KIND_COUNT_ ? PERF_TRACK_COUNTER_
                                                              : PERF_TRACK_SPAN_, name, 0);
    if (z->kind == PERF_KIND_COUNT_) {
        perf_pf_event_(w, PERF_PF_COUNTER_, 0, uuid, ns, 1, PERF_NULL_, z->extra);
    } else {
        perf_pf_event_(w, PERF_PF_BEGIN_, z->name, uuid, ns, 1, PERF_NULL_, 0);
        perf_pf_event_(w, PERF_PF_END_, 0, uuid, perf_epoch_ns_(&w->epoch, z->start + z->length), 1,
                       PERF_NULL_, 0);
    }
}

/* Room for a thread with n events; 0: no memory. */
#define PERF_PF_ROOM_ (3 * sizeof(perf_edge_))
PERF_COLD_FN_ int perf_pf_room_(perf_pf_ *w, size_t n)
{
    uint32_t names = PERF_ACQ_(&w->registry->count);

    if (n > w->events) {
        PERF_FREE(w->room);
        w->room = PERF_CAST_(perf_edge_ *, PERF_MALLOC(n * PERF_PF_ROOM_));
        w->events = n;
        if (!w->room)
            w->events = 0;
    }
    if (names > w->names) {
        names = 2 * names + 4096;
        if (w->mapped) {
            w->used = PERF_CAST_(char *, perf_pages_(names, 0));
        } else {
            PERF_FREE(w->used);
            w->used = PERF_CAST_(char *, PERF_MALLOC(names));
        }
        w->names = names;
        if (!w->used)
            w->names = 0;
    }
    if (!w->room || !w->used)
        return 0;
    memset(w->used, 0, w->names);
    return 1;
}

/* Begins and ends of the scopes in e, in order of time; all other events are written here.  Events
 * are sorted by their ends, newest first: so edges are made from the back, with the begins of the
 * scopes around on a stack.  Returns the first edge of at most 2n; the last is before room + 3n. */
PERF_HOT_FN_ perf_edge_ *perf_edges_(perf_pf_ *w, const perf_events_ *e)
{
    perf_edge_ *stack = w->room, *out = w->room + 3 * e->count;
    char       *used = w->used;
    size_t      top = 0;
    uint64_t    i = 0;
    perf_zone_  z;

    while (i < e->count) {
        if (!perf_zone_at_(e, &i, w->registry, &z) || (z.value && z.kind == PERF_KIND_INSTANT_))
            continue;
        if (!z.slice) {
            perf_pf_other_(w, &z, e, used[z.name]);
            used[z.name] = 1;
            continue;
        }
        while (top && (z.start < stack[top - 1].ticks || (z.start == stack[top - 1].ticks &&
                        PERF_CAST_(uint8_t, z.depth - stack[top - 1].depth - 1) > 127)))
            *--out = stack[--top];
        --out;
        out->ticks = z.start + z.length;
        out->name = 0;
        stack[top].ticks = z.start;
        stack[top].value = z.value;
        stack[top].name = z.name;
        stack[top++].depth = z.depth;
        used[z.name] = 1;
    }
    while (top)
        *--out = stack[--top];
    return out;
}

/* Writes an edge that lies before last_ns: of a scope that was open at the write before. */
PERF_COLD_FN_ void perf_pf_late_(perf_pf_ *w, const perf_events_ *e, const perf_edge_ *edge)
{
    uint64_t uuid = w->process << 32 | e->number;
    uint64_t ns = perf_epoch_ns_(&w->epoch, edge->ticks), at;
    uint32_t k, both;

    if (!edge->name) {
        perf_pf_event_(w, PERF_PF_END_, 0, uuid, ns, 1, PERF_NULL_, 0);
        return;
    }
    for (k = 2; k <= edge->depth % PERF_TIES_; k++)
        for (both = 0; both < 2; both++) {
            at = w->ties->now->ticks[k];
            if (both)
                at = w->ties->old[k];
            if (at <= edge->ticks && perf_epoch_ns_(&w->epoch, at) + k - 1 > ns)
                ns = perf_epoch_ns_(&w->epoch, at) + k - 1;
        }
    perf_pf_event_(w, PERF_PF_BEGIN_, edge->name, uuid, ns, 1, e, edge->value);
}

/* Raises *ns to where the first children that begin by `ticks` are moved.  *depth: where to go on.
 * Returns the ticks of the next first child, PERF_TIES_NONE_: none.                              */
PERF_COLD_FN_ uint64_t perf_pf_tie_(const perf_pf_ *w, uint64_t ticks, uint32_t *depth,
                                    uint64_t *ns)
{
    for (; *depth < PERF_TIES_; ++*depth) {
        uint64_t at = w->ties->now->ticks[*depth], moved;
        if (at == PERF_TIES_NONE_)
            continue;
        if (at > ticks)
            return at;
        moved = perf_epoch_ns_(&w->epoch, at) + *depth - 1;
        if (moved > *ns)
            *ns = moved;
    }
    return PERF_TIES_NONE_;
}

/* Writes begins and ends up to `end`.  last: the last time in the file, ns; returns the new one. */
PERF_HOT_FN_ uint64_t perf_pf_slices_(perf_pf_ *w, const perf_events_ *e, const perf_edge_ *edge,
                                      const perf_edge_ *end, uint64_t sequence, uint64_t last)
{
    uint64_t tie = w->ties ? 0 : PERF_TIES_NONE_, ns;   /* ticks of the next begin to be moved    */
    uint32_t depth = 1;
    char    *packet, *event, *p;

    for (; edge < end; edge++, last = ns) {
        if (w->file.p > w->file.limit)
            perf_file_flush_(&w->file);
        ns = perf_epoch_ns_(&w->epoch, edge->ticks);
        if (PERF_UNLIKELY_(edge->ticks >= tie) && edge->name && w->ties)
            tie = perf_pf_tie_(w, edge->ticks, &depth, &ns);
        if (ns < last)
            ns = last;
        if (edge->name && edge->value) {
            perf_pf_event_(w, PERF_PF_BEGIN_, edge->name, 0, ns - last, sequence, e, edge->value);
            continue;
        }
        packet = w->file.p + 2;                 /* as perf_pf_event_, but fast                    */
        packet[-2] = 0x0a;
        p = perf_field_(packet, 8, ns - last);
        event = perf_field_(p, 10, sequence) + 2;
        event[-2] = 0x5a;
        p = perf_field_(event, 9, edge->name ? PERF_PF_BEGIN_ : PERF_PF_END_);
        if (edge->name)
            p = perf_field_(p, 10, edge->name);
        if (edge->name && PERF_ACQ_(&w->registry->names)[edge->name]->site.file)
            p = perf_field_(p, 34, edge->name);
        event[-1] = PERF_CAST_(char, p - event);
        packet[-1] = PERF_CAST_(char, p - packet);
        w->file.p = p;
    }
    return last;
}

PERF_COLD_FN_ void perf_pf_thread_(void *with, const perf_events_ *e)
{
    perf_pf_   *w = PERF_CAST_(perf_pf_ *, with);
    uint32_t    id, names = PERF_ACQ_(&w->registry->count);
    uint64_t    uuid = w->process << 32 | e->number, last;
    uint64_t    sequence = e->number + 1 + (w->process * UINT32_C(2654435761) >> 8) % 96;
    size_t      n = PERF_CAST_(size_t, e->count);
    perf_edge_ *edge, *end;

    if (!n)
        return;
    perf_pf_track_(w, uuid, PERF_TRACK_THREAD_, e->name, e->thread);
    if (!perf_pf_room_(w, n)) {
        w->no_memory = 1;
        return;
    }
    end = w->room + 3 * n;
    edge = perf_edges_(w, e);
    while (w->ties && edge < end && perf_epoch_ns_(&w->epoch, edge->ticks) < w->ties->now->last_ns)
        perf_pf_late_(w, e, edge++);            /* scopes that were open at the write before      */
    if (edge == end)
        return;
    last = perf_epoch_ns_(&w->epoch, edge->ticks);
    perf_pf_sequence_(w, sequence, uuid, last);
    for (id = 1; id < names; id++)
        if (w->used[id])
            perf_pf_name_(w, sequence, id);
    last = perf_pf_slices_(w, e, edge, end, sequence, last);
    if (w->ties)
        w->ties->now->last_ns = last;
}

PERF_COLD_FN_ void perf_pf_go_(void *with)
{
    perf_pf_ *w = PERF_CAST_(perf_pf_ *, with);

    perf_pf_track_(w, w->process << 32, PERF_TRACK_PROCESS_, "", 0);
    if (!perf_events_each_(w->registry, perf_pf_thread_, w) || w->no_memory)
        w->file.failed = 1;
    perf_file_flush_(&w->file);
}

PERF_FN perf_status perf_trace_save_perfetto(const char *path)
{
    const char *const at_exit = perf_getenv_("PERF_TRACE");
    perf_pf_          w;
    perf_status       status;

    memset(&w, 0, sizeof w);
    w.registry = perf_registry_read_();
    if (!w.registry)
        return PERF_ENOMEM;
    perf_sources_collect_(w.registry);
    w.process = PERF_GET_(&w.registry->process);
    w.epoch = perf_epoch_of_(w.registry);
    status = perf_file_save_(path, &w.file, perf_pf_go_, &w);
    PERF_FREE(w.room);
    PERF_FREE(w.used);
    if (w.no_memory)
        return PERF_ENOMEM;
    if (status == PERF_OK && at_exit && !strcmp(at_exit, path))
        w.registry->trace_inode = perf_file_inode_(path);   /* as in perf_trace_save              */
    return status;
}

/* ---- stream ---- */

#define PERF_STREAM_CHUNK_ 65536u       /* entries written at a time                              */
#define PERF_STREAM_KNOTS_ 64u          /* pieces of the clock that are kept                      */
#define PERF_STREAM_NS_    1e9          /* all rings are written at least so often                */

typedef struct perf_streaming_ {
    perf_stream_  head;         /* first: what perf.h knows                                       */
    perf_pf_      pf;
    perf_ties_    ties;
    uint32_t      process;      /* whose file is open                                             */
    uint32_t      knots;        /* pieces of the clock so far                                     */
    uint64_t      whole;        /* bytes of the file after the last good write                    */
    uint64_t      inode;        /* of the file; 0: a pipe, a device, or not known                 */
    uint64_t      period;       /* PERF_STREAM_NS_ in ticks                                       */
    uint64_t      all_at;       /* ticks when all rings were last written                         */
    uint64_t      began, next_knot;     /* ns: start of the clock, start of its next piece        */
    perf_event_  *event;        /* behind this struct, as are pf.room, value, and file's buffer   */
    uint32_t     *value;        /* of perf_events_: a number for each event                       */
    size_t        path_length;
    char          path[4096 + 16];              /* with room for ".PID"                           */
    perf_epoch_   knot[PERF_STREAM_KNOTS_];     /* piece n is knot[n % PERF_STREAM_KNOTS_]        */
} perf_streaming_;

/* Length in ns of the piece of the clock that begins `since` ns after the start: from `least` to a
 * minute.                                                                                        */
PERF_FN uint64_t perf_stream_ahead_(uint64_t since, uint64_t least)
{
    if (since < least)
        return least;
    if (since > UINT64_C(60000000000))
        return UINT64_C(60000000000);
    return since;
}

/* Ticks become ns by straight pieces that join, so that later times in the file never lie before
 * earlier ones.  Each piece aims at the clock as it is known now.  A new one begins when the time
 * since the start has doubled, and every minute.                                                 */
PERF_COLD_FN_ void perf_stream_clock_(perf_streaming_ *s, perf_registry_ *r)
{
    perf_epoch_  now = perf_epoch_of_(r);
    perf_epoch_ *old = &s->knot[(s->knots - 1) % PERF_STREAM_KNOTS_];
    perf_epoch_ *k = &s->knot[s->knots % PERF_STREAM_KNOTS_];
    uint64_t     ticks = perf_scope_ticks_(r), truth = perf_epoch_ns_(&now, ticks), here, ahead;
    int64_t      off;
    double       turn;

    if (s->knots && truth < s->next_knot)
        return;
    if (!s->knots) {
        *k = now;
        s->began = truth;
    } else {
        here = perf_epoch_ns_(old, ticks);
        off = PERF_CAST_(int64_t, truth - here);
        ahead = perf_stream_ahead_(truth - s->began, 1000000);
        turn = PERF_CAST_(double, off) / PERF_CAST_(double, ahead);
        if (turn > 0.5)
            turn = 0.5;
        if (turn < -0.5)
            turn = -0.5;
        k->tick_ns = now.tick_ns * (1 + turn);
        k->ticks = ticks;
        k->ns = here;
        k->older = old;
        if (s->knots >= PERF_STREAM_KNOTS_)     /* k was the oldest: now the one after it is      */
            s->knot[(s->knots + 1) % PERF_STREAM_KNOTS_].older = PERF_NULL_;
    }
    s->knots++;
    s->next_knot = truth + perf_stream_ahead_(truth - s->began, 100000);
    s->pf.epoch = *k;
}

/* Empties the firsts of a thread, if it has any. */
PERF_COLD_FN_ void perf_firsts_clear_(perf_recorder_ *t)
{
    perf_firsts_ *first = PERF_PTR_(perf_firsts_ *, t->ring_first);

    if (!first)
        return;
    memset(first, 255, sizeof *first);          /* PERF_TIES_NONE_                                */
    first->last_ns = 0;
}

/* The firsts of a thread, empty if new; NULL: no memory. */
PERF_COLD_FN_ perf_firsts_ *perf_firsts_of_(perf_registry_ *r, perf_recorder_ *t)
{
    if (!t->ring_first) {
        t->ring_first = PERF_CAST_(uint64_t *, perf_keep_(r, sizeof(perf_firsts_)));
        perf_firsts_clear_(t);
    }
    return PERF_PTR_(perf_firsts_ *, t->ring_first);
}

/* Brings the firsts up to date with the events that are about to be written, see perf_ties_. */
PERF_HOT_FN_ void perf_stream_ties_(perf_streaming_ *s, perf_firsts_ *first, const perf_events_ *e)
{
    uint64_t    at, i = e->count;
    uint32_t    top = PERF_TIES_, depth;
    perf_zone_  z;

    memcpy(s->ties.old, first->ticks, sizeof s->ties.old);
    s->ties.now = first;
    while (i-- > 0) {                           /* oldest first                                   */
        at = i;
        if (!perf_zone_at_(e, &at, s->pf.registry, &z) || !z.slice)
            continue;
        depth = z.depth % PERF_TIES_;
        for (; top > depth; top--)              /* what was open there is in the file now         */
            if (top < PERF_TIES_)
                first->ticks[top] = PERF_TIES_NONE_;
        top = depth;
        if (depth > 0 && z.start < first->ticks[depth])
            first->ticks[depth] = z.start;
    }
}

/* The most events that are written at a time. */
PERF_FN uint64_t perf_stream_chunk_(const perf_registry_ *r)
{
    if (r->ring_events < PERF_STREAM_CHUNK_)
        return r->ring_events;
    return PERF_STREAM_CHUNK_;
}

/* Opens the file, which stands at its path from now on, to be read while it grows. */
PERF_COLD_FN_ perf_status perf_stream_open_(perf_streaming_ *s)
{
    perf_file_ *f = &s->pf.file;

    f->written = s->whole = 0;
#if PERF_POSIX_FILES_
    if (perf_file_begin_(f, s->path) && !f->direct && perf_rename_(f->part, s->path)) {
        (void)perf_file_end_(f, s->path, 0);
        f->failed = 1;
    }
    PERF_FREE(f->part);
    f->part = PERF_NULL_;
#else
    f->file = fopen(s->path, "wb");             /* Windows cannot rename an open file             */
    f->failed = !f->file;
#endif
    if (f->failed)
        return f->starved ? PERF_ENOMEM : PERF_EIO;
    if (!f->direct)                             /* else the program may replace its own stdout    */
        s->inode = perf_file_inode_(s->path);
    f->p = f->begin = PERF_PTR_(char *, s->value + s->pf.events);
    f->limit = f->begin + PERF_FILE_BYTES_ - PERF_FILE_RECORD_;
    (void)setvbuf(f->file, PERF_NULL_, _IONBF, 0);      /* nothing that a fork could copy         */
    s->process = PERF_GET_(&s->pf.registry->process);
    s->pf.process = s->process;
    perf_pf_track_(&s->pf, s->pf.process << 32, PERF_TRACK_PROCESS_, "", 0);
    perf_file_flush_(f);
    s->whole = f->written;
    return f->failed ? PERF_EIO : PERF_OK;
}

#if PERF_POSIX_FILES_
extern int perf_ftruncate_(int, long) __asm__(PERF_SYM_("ftruncate"));
#endif
/* Ends the stream because of `why`; cuts the file back to the last whole write. */
PERF_COLD_FN_ void perf_stream_fail_(perf_streaming_ *s, perf_status why)
{
    perf_file_ *f = &s->pf.file;

#if PERF_POSIX_FILES_
    if (f->file && f->failed && s->whole && !f->direct)
        (void)perf_ftruncate_(f->fd, PERF_CAST_(long, s->whole));
#endif
    perf_file_close_(f);
    PERF_SET_(&s->head.state, PERF_STREAM_FAILED_);
    perf_fail_(s->pf.registry, why);
}

/* Counts what the ring has overwritten since `from` as unsent; returns the first that is there. */
PERF_COLD_FN_ uint64_t perf_stream_skip_(perf_streaming_ *s, perf_registry_ *r, perf_recorder_ *t,
                                         uint64_t from, uint64_t head)
{
    uint64_t room = r->ring_events * sizeof(perf_event_), n;

    if (head - from <= room)
        return from;
    n = perf_ring_dropped_(r, t, from);
    PERF_ADD_(s->head.unsent, n);
    PERF_SET_(&t->sent_more,
              PERF_GET_(&t->sent_more) + (head - from - room) / sizeof(perf_event_) - n);
    return head - room;
}

/* The child of a fork: PATH.PID, or no stream where PATH is no file in a folder.  The parent's file
 * is left alone: another thread may have been about to write it when the process was copied.     */
PERF_COLD_FN_ void perf_stream_child_(perf_streaming_ *s)
{
    perf_out_   o = perf_out_open_(s->path + s->path_length, 16);
    perf_status status;

    if (s->pf.file.direct) {
        perf_stream_fail_(s, PERF_EIO);
        return;
    }
    perf_put_own_pid_(&o);
    status = perf_stream_open_(s);
    if (status != PERF_OK)
        perf_stream_fail_(s, status);
}

/* Writes the next chunk of a ring, from `from` to `head` at most.  Returns where the next one
 * begins; `from`: there is no whole event, or the stream has failed.                             */
PERF_COLD_FN_ uint64_t perf_stream_part_(perf_streaming_ *s, perf_registry_ *r, perf_recorder_ *t,
                                         uint64_t from, uint64_t head)
{
    perf_events_ e = {s->event, 0, t->thread, t->number, t->name, s->value};
    uint64_t     n = s->pf.events * sizeof(perf_event_), until, more, later;

    if (s->pf.file.written >= PERF_STREAM_BYTES) {
        perf_stream_fail_(s, PERF_ELIMIT);
        return from;
    }
    if (n > head - from)
        n = head - from;
    until = from + n;
    perf_events_read_(&e, r, t, until, n);
    later = PERF_CAST_(uint64_t, e.event - s->event);           /* of an event not yet whole: for */
    until -= later * sizeof(perf_event_);                       /* the next chunk                 */
    PERF_ADD_(s->head.unsent, n / sizeof(perf_event_) - e.count - later);
    if (!e.count)
        return from;
    perf_stream_ties_(s, perf_firsts_of_(r, t), &e);
    perf_pf_thread_(&s->pf, &e);
    perf_file_flush_(&s->pf.file);
    if (s->pf.file.failed) {
        perf_stream_fail_(s, PERF_EIO);
        return from;
    }
    if (s->pf.no_memory) {
        perf_stream_fail_(s, PERF_ENOMEM);
        return from;
    }
    s->whole = s->pf.file.written;
    for (more = 0; e.count--; e.event++)
        more += PERF_EVENT_PART_(e.event->what);
    PERF_SET_(&t->sent_more, PERF_GET_(&t->sent_more) + more);
    return until;
}

/* Writes what one ring holds, oldest chunk first. */
PERF_COLD_FN_ void perf_stream_one_(perf_streaming_ *s, perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t head = PERF_ACQ_(&t->ring_head), from = PERF_GET_(&t->ring_sent), next;

    if (PERF_GET_(&t->ring_lost) > from)
        from = PERF_GET_(&t->ring_lost);
    if (!PERF_ACQ_(&t->ring) || head <= from || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return;
    from = perf_stream_skip_(s, r, t, from, head);
    if (!perf_firsts_of_(r, t)) {
        perf_stream_fail_(s, PERF_ENOMEM);
        return;
    }
    if (s->process != PERF_GET_(&r->process))
        perf_stream_child_(s);
    while (from < head && s->head.state == PERF_STREAM_ON_) {
        next = perf_stream_part_(s, r, t, from, head);
        if (next == from)
            break;
        from = next;
    }
    PERF_SET_(&t->ring_sent, from);
}

/* With the lock held: writes the ring of t, or all (t NULL); all, too, when a period has passed. */
PERF_COLD_FN_ void perf_stream_go_(perf_registry_ *r, perf_stream_ *stream, perf_recorder_ *t)
{
    perf_streaming_ *s = PERF_PTR_(perf_streaming_ *, stream);
    perf_recorder_  *other;
    uint64_t         now = perf_scope_ticks_(r), done, half, step;

    perf_stream_clock_(s, r);
    if (t) {
        done = (t->ring_head - t->ring_sent) / sizeof(perf_event_);
        perf_stream_one_(s, r, t);
        /* due next: after as many entries as a period brings at the speed of the last ones */
        half = perf_stream_chunk_(r) / 2;
        step = 16;
        if (t->ring_step)
            step = t->ring_step / sizeof(perf_event_);
        if (t->ring_at && now - t->ring_at > s->period)
            step = PERF_CAST_(uint64_t, PERF_CAST_(double, done) * PERF_CAST_(double, s->period) /
                                            PERF_CAST_(double, now - t->ring_at));
        else
            step *= 4;
        if (step > half)
            step = half;
        if (step < 16)
            step = 16;
        t->ring_step = step * sizeof(perf_event_);
        t->ring_at = now;
        if (PERF_GET_(&t->ring_limit))
            PERF_SET_(&t->ring_limit, t->ring_head + t->ring_step);
    }
    if (t && now - s->all_at < s->period)
        return;
    s->all_at = now;
    for (other = PERF_ACQ_(&r->recorders); other; other = other->next)
        if (other != t)
            perf_stream_one_(s, r, other);
}

/* The memory of a stream: that of the last one, if it has this size; NULL: no memory. */
PERF_COLD_FN_ perf_streaming_ *perf_stream_memory_(perf_registry_ *r, size_t bytes)
{
    if (r->stream && r->stream->bytes == bytes)
        return PERF_PTR_(perf_streaming_ *, r->stream);
    return PERF_CAST_(perf_streaming_ *, perf_pages_(bytes, 0));
}

/* Prepares a stream that writes `chunk` events at a time; nothing is open. */
PERF_COLD_FN_ void perf_stream_init_(perf_streaming_ *s, perf_registry_ *r, const char *path,
                                     uint64_t chunk)
{
    perf_pf_ old = s->pf;

    /* all but the head, which a report may be reading, and the pages for names */
    memset(PERF_PTR_(char *, s) + sizeof s->head, 0, sizeof *s - sizeof s->head);
    s->pf.used = old.used;
    s->pf.names = old.names;
    s->path_length = strlen(path);
    s->pf.registry = r;
    s->pf.mapped = 1;
    s->pf.ties = &s->ties;
    s->pf.events = PERF_CAST_(size_t, chunk);
    s->event = PERF_PTR_(perf_event_ *, PERF_PTR_(void *, s + 1));
    s->pf.room = PERF_PTR_(perf_edge_ *, s->event + s->pf.events);
    s->value = PERF_PTR_(uint32_t *, s->pf.room + 3 * s->pf.events);
    memcpy(s->path, path, s->path_length + 1);
}

/* From now on this ring's events are for the stream, beginning with those that it holds. */
PERF_COLD_FN_ void perf_stream_ring_(perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t lost = PERF_GET_(&t->ring_lost), written = PERF_ACQ_(&t->ring_head) - lost;
    uint64_t room = r->ring_events * sizeof(perf_event_), gone = 0, more = 0;

    if (written > room) {
        gone = written - room;
        more = gone / sizeof(perf_event_) - perf_ring_dropped_(r, t, lost);
    }
    PERF_SET_(&t->sent_more, more);             /* entries that began no event                    */
    PERF_SET_(&t->ring_sent, lost + gone);
    t->ring_at = t->ring_step = 0;
    perf_firsts_clear_(t);
}

/* The file is open: all threads write to it. */
PERF_COLD_FN_ void perf_stream_start_(perf_streaming_ *s, perf_registry_ *r)
{
    perf_recorder_ *t;

    perf_stream_clock_(s, r);
    s->period = PERF_CAST_(uint64_t, PERF_STREAM_NS_ / s->pf.epoch.tick_ns);
    perf_image_pin_();                          /* the file is written from any image             */
    s->head.flush = perf_stream_go_;
    PERF_SET_(&s->head.unsent, UINT64_C(0));
    PERF_SET_(&s->head.state, PERF_STREAM_ON_);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_stream_ring_(r, t);
    PERF_REL_(&r->stream, &s->head);
    perf_ask_(r, PERF_ASK_TRACE_);              /* each thread sets its limit                     */
}

/* With the lock held: perf_trace_stream without its checks. */
PERF_COLD_FN_ perf_status perf_stream_begin_(perf_registry_ *r, const char *path)
{
    perf_streaming_ *s;
    perf_status      status;
    uint64_t         chunk = perf_stream_chunk_(r);
    const size_t     each = sizeof *s->event + PERF_PF_ROOM_ + sizeof *s->value;
    const size_t     bytes = sizeof *s + PERF_FILE_BYTES_ + 2 * PERF_FILE_RECORD_ + 24 +
                         PERF_CAST_(size_t, chunk) * each;

    s = perf_stream_memory_(r, bytes);
    if (!s)
        return PERF_ENOMEM;
    perf_stream_init_(s, r, path, chunk);
    s->head.bytes = bytes;
    status = perf_stream_open_(s);
    if (status == PERF_OK) {
        perf_stream_start_(s, r);
        return PERF_OK;
    }
    perf_file_close_(&s->pf.file);
    if (&s->head != r->stream) {                /* so that the next attempt takes its memory      */
        s->head.state = PERF_STREAM_ENDED_;
        PERF_REL_(&r->stream, &s->head);
    }
    return status;
}

/* 1: another file stands where ours was, such as a started program's.  A pipe or a device: 0. */
PERF_COLD_FN_ int perf_stream_replaced_(const perf_streaming_ *s)
{
    const uint64_t now = perf_file_inode_(s->path);

    return now && s->inode && now != s->inode;
}

/* Writes what all rings hold; `end`: closes the file, too. */
PERF_COLD_FN_ perf_status perf_stream_now_(int end)
{
    perf_registry_  *r = perf_registry_read_();
    perf_streaming_ *s;
    perf_file_      *f;
    perf_status      status;

    if (r && PERF_ACQ_(&r->stream))
        perf_sources_collect_(r);
    if (!r || !PERF_ACQ_(&r->stream) || !perf_lock_(r))
        return PERF_ESTATE;
    s = PERF_PTR_(perf_streaming_ *, PERF_ACQ_(&r->stream));
    f = &s->pf.file;
    if (s->head.state == PERF_STREAM_ENDED_) {
        perf_unlock_(&r->lock);
        return PERF_ESTATE;
    }
    if (end && PERF_SELF_ != PERF_NULL_)        /* in a handler that ends the program, maybe      */
        perf_entries_put_(PERF_SELF_, PERF_NULL_, 0);
    if (s->head.state == PERF_STREAM_ON_)
        s->head.flush(r, &s->head, PERF_NULL_);
    status = s->head.state == PERF_STREAM_ON_ ? PERF_OK : PERF_EIO;
    if (end) {
        if (s->process != PERF_GET_(&r->process))
            f->file = PERF_NULL_;               /* it is the parent's                             */
        else if (perf_stream_replaced_(s))
            status = PERF_EIO;
        perf_file_close_(f);
        if (status == PERF_OK && !f->failed)
            PERF_SET_(&s->head.state, PERF_STREAM_ENDED_);
        else
            perf_stream_fail_(s, status = PERF_EIO);
    }
    perf_unlock_(&r->lock);
    return status;
}

PERF_FN perf_status perf_trace_stream(const char *path)
{
    perf_registry_ *r = perf_registry_read_();
    perf_status     status = PERF_ESTATE;

    if (!path)
        return perf_stream_now_(1);
    if (!*path || strlen(path) > 4095)
        return PERF_EINVAL;
    if (!r)
        return PERF_ENOMEM;
    if (!r->ring_events || !perf_lock_(r))
        return PERF_ESTATE;
    if (!r->stream || r->stream->state != PERF_STREAM_ON_)
        status = perf_stream_begin_(r, path);
    perf_unlock_(&r->lock);
    return status;
}

PERF_FN perf_status perf_trace_stream_flush(void)
{
    return perf_stream_now_(0);
}

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
/* Streams to PATH, or to PATH.PID where the process that has started this one has the same PATH and
 * it is a file in a folder.                                                                      */
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_stream_at_start_(void)
{                                               /* after perf_at_start_, which sets `started`     */
    const char     *path = perf_getenv_("PERF_TRACE_STREAM");
    perf_registry_ *r = path ? perf_registry_read_() : PERF_NULL_;
    char            own[4096 + 16];
    perf_out_       name;
    unsigned        mode;

    if (r)
        PERF_SET_(&r->heard_stream, 1u);
    if (!path || !*path)
        return;
    name = perf_out_open_(own, sizeof own);
    perf_put_(&name, path);
    if (r && r->started && perf_file_kind_(path, &mode) != PERF_FILE_DIRECT_)
        perf_put_own_pid_(&name);
    if (perf_trace_stream(own) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", own);
}

PERF_ATTR_((__destructor__, __used__)) PERF_OURS_ static void perf_stream_at_exit_(void)
{
    const char            *path = perf_getenv_("PERF_TRACE_STREAM");
    const perf_registry_  *r;
    const perf_streaming_ *s;

    if (!path || !*path || perf_trace_stream(PERF_NULL_) != PERF_EIO)
        return;
    r = perf_registry_read_();
    s = PERF_PTR_(const perf_streaming_ *, PERF_ACQ_(&r->stream));
    (void)fprintf(stderr, "perf.h: the trace in %s is not whole\n", s->path);   /* maybe PATH.PID */
}
#endif

/* ---- merge ---- */

#define PERF_MERGE_PACKET_ 65536u       /* no packet of ours is as long                           */
#define PERF_MERGE_FREE_   (1u << 22)   /* new process numbers: Linux has none from here on       */
#define PERF_MERGE_PIDS_   65536u       /* most processes in all                                  */
#define PERF_MERGE_BYTES_  (UINT64_C(1) << 40)  /* most of a part; ours are far smaller           */

typedef struct perf_pids_ {     /* of the processes in the output, in the order of the parts      */
    uint32_t from[PERF_MERGE_PIDS_];    /* number in its part                                     */
    uint32_t to[PERF_MERGE_PIDS_];      /* number in the output                                   */
    size_t   count, part;               /* part: index of the first of the present part           */
    size_t   last;                      /* index of the one asked for last                        */
    uint32_t next;                      /* new number, where one is taken                         */
} perf_pids_;

typedef struct perf_merge_ {
    perf_file_             file;
    const perf_trace_part *part;
    size_t                 parts, at;
    perf_status            status;
    FILE                  *in;
    char                  *buffer;      /* 2 * PERF_MERGE_PACKET_ bytes                           */
    size_t                 begin, end;  /* in it: what is read of the part and not yet used       */
    uint64_t               bytes;       /* read of the part                                       */
    int                    ours;        /* 1: the part begins as a trace of perf.h begins         */
    char                  *text, *text_end;     /* room for the packet that is being made         */
    perf_pids_            *pids;
    uint32_t               sequences, highest;  /* used by the parts before; by this one          */
} perf_merge_;

/* Reads until n bytes of the part are in the buffer; 0: the part ends before. */
PERF_COLD_FN_ int perf_merge_need_(perf_merge_ *m, size_t n)
{
    size_t before;

    if (m->end - m->begin >= n)
        return 1;
    memmove(m->buffer, m->buffer + m->begin, m->end - m->begin);
    m->end -= m->begin;
    m->begin = 0;
    before = m->end;
    m->end += fread(m->buffer + m->end, 1, 2 * PERF_MERGE_PACKET_ - m->end, m->in);
    m->bytes += m->end - before;
    if (m->bytes > PERF_MERGE_BYTES_)
        m->status = PERF_ELIMIT;
    return m->end >= n;
}

/* The number of a process in the output; 0: no memory. */
PERF_COLD_FN_ uint32_t perf_merge_pid_(perf_merge_ *m, uint64_t pid)
{
    perf_pids_ *k = m->pids;
    uint32_t    is = PERF_CAST_(uint32_t, pid);
    size_t      i;

    if (pid >> 32) {
        m->status = PERF_EFORMAT;
        return 0;
    }
    if (k->last >= k->part && k->last < k->count && k->from[k->last] == is)
        return k->to[k->last];
    for (i = k->part; i < k->count; i++)
        if (k->from[i] == is) {
            k->last = i;
            return k->to[i];
        }
    if (k->count >= PERF_MERGE_PIDS_) {
        m->status = PERF_ELIMIT;
        return 0;
    }
    k->from[k->count] = is;
    for (i = 0; !is || i < k->count;)           /* itself, or a number that is free; no 0         */
        if (is && k->to[i] != is) {
            i++;
        } else {
            is = k->next++;
            i = 0;
        }
    k->to[k->count] = is;
    return k->to[k->count++];
}

/* What stands beside the name of a process whose clock was moved; returns the length. */
PERF_COLD_FN_ size_t perf_merge_label_(const perf_merge_ *m, char *to, size_t cap)
{
    perf_out_ o = perf_out_open_(to, cap);

    perf_put_number_(&o, "clock moved by ", PERF_CAST_(double, m->part[m->at].offset_ns), 0);
    perf_put_number_(&o, " ns, within ", PERF_CAST_(double, m->part[m->at].bound_ns), 0);
    perf_put_(&o, " ns");
    return o.len;
}

/* Reads a varint that ends before `end`; returns its end, NULL: there is none. */
PERF_FN const char *perf_varint_read_(const char *p, const char *end, uint64_t *v)
{
    int shift;

    *v = 0;
    for (shift = 0; p && p < end && shift < 70; shift += 7, p++) {
        *v |= PERF_CAST_(uint64_t, *p & 127) << (shift & 63);
        if (!(*p & 128))
            return p + 1;
    }
    return PERF_NULL_;
}

/* Returns the end of the field at p, NULL: broken.  *v: its number, or the length of its content,
 * which lies before that end.                                                                    */
PERF_COLD_FN_ const char *perf_field_read_(const char *p, const char *end, uint64_t *tag,
                                           uint64_t *v)
{
    p = perf_varint_read_(p, end, tag);
    if (!p || !(*tag >> 3) || *tag >> 32)
        return PERF_NULL_;
    switch (*tag & 7) {
    case 0: return perf_varint_read_(p, end, v);
    case 1: *v = 8; break;
    case 2: p = perf_varint_read_(p, end, v); break;
    case 5: *v = 4; break;
    default: return PERF_NULL_;
    }
    return p && *v <= PERF_CAST_(uint64_t, end - p) ? p + *v : PERF_NULL_;
}

/* Fields by what has to change in them: messages (before PERF_M_SEQUENCE_), then numbers. */
enum { PERF_M_PACKET_, PERF_M_EVENT_, PERF_M_TRACK_, PERF_M_PROCESS_, PERF_M_THREAD_,
       PERF_M_SNAPSHOT_, PERF_M_CLOCK_, PERF_M_DEFAULTS_, PERF_M_SEQUENCE_, PERF_M_TIME_,
       PERF_M_UUID_, PERF_M_PID_, PERF_M_UNCHANGED_ };

/* The kind of field `number` in a message of that kind. */
PERF_COLD_FN_ int perf_merge_kind_(int kind, uint64_t number)
{
    static const unsigned char change[][3] = {      /* in, field, is                              */
        {PERF_M_PACKET_, 6, PERF_M_SNAPSHOT_},   {PERF_M_PACKET_, 8, PERF_M_TIME_},
        {PERF_M_PACKET_, 10, PERF_M_SEQUENCE_},  {PERF_M_PACKET_, 11, PERF_M_EVENT_},
        {PERF_M_PACKET_, 59, PERF_M_DEFAULTS_},  {PERF_M_PACKET_, 60, PERF_M_TRACK_},
        {PERF_M_EVENT_, 11, PERF_M_UUID_},       {PERF_M_DEFAULTS_, 11, PERF_M_EVENT_},
        {PERF_M_TRACK_, 1, PERF_M_UUID_},        {PERF_M_TRACK_, 3, PERF_M_PROCESS_},
        {PERF_M_TRACK_, 4, PERF_M_THREAD_},      {PERF_M_TRACK_, 5, PERF_M_UUID_},
        {PERF_M_PROCESS_, 1, PERF_M_PID_},       {PERF_M_THREAD_, 1, PERF_M_PID_},
        {PERF_M_SNAPSHOT_, 1, PERF_M_CLOCK_},    {PERF_M_CLOCK_, 2, PERF_M_TIME_}};
    size_t i;

    for (i = 0; i < sizeof change / sizeof *change; i++)
        if (change[i][0] == kind && change[i][1] == number)
            return change[i][2];
    return PERF_M_UNCHANGED_;
}

/* What v, of that kind, becomes in the output.  clock: of a time, its number. */
PERF_COLD_FN_ uint64_t perf_merge_number_of_(perf_merge_ *m, int kind, uint64_t v, uint64_t clock)
{
    if (kind == PERF_M_SEQUENCE_) {
        if (v > m->highest)
            m->highest = PERF_CAST_(uint32_t, v);
        v += m->sequences;
    } else if (kind == PERF_M_TIME_ && clock == 3) {
        v += PERF_CAST_(uint64_t, m->part[m->at].offset_ns);
        v = v >> 63 ? 0 : v;                    /* before the clock's start                       */
    } else if (kind == PERF_M_UUID_) {
        v = PERF_CAST_(uint64_t, perf_merge_pid_(m, v >> 32)) << 32 | (v & UINT64_C(0xffffffff));
    } else if (kind == PERF_M_PID_) {
        v = perf_merge_pid_(m, v);
    }
    return v;
}

/* The number in a field of a message; 0: it has none. */
PERF_COLD_FN_ uint64_t perf_merge_find_(const char *p, const char *end, uint64_t number)
{
    uint64_t tag = 0, v = 0;

    while (p && p < end) {
        p = perf_field_read_(p, end, &tag, &v);
        if (p && tag == number << 3)
            return v;
    }
    return 0;
}

/* Copies a message, its numbers changed, four deep at most; returns its end, NULL: it is broken. */
PERF_COLD_FN_ char *perf_merge_message_(perf_merge_ *m, int kind, const char *p, const char *end,
                                        char *to)
{
    uint64_t tag, v, clock = 0;

    if (kind == PERF_M_PACKET_)
        clock = perf_merge_find_(p, end, 58);   /* the clock of its time                          */
    else if (kind == PERF_M_CLOCK_)
        clock = perf_merge_find_(p, end, 1);    /* which clock this is                            */
    while (p < end) {
        int inner;
        p = perf_field_read_(p, end, &tag, &v);
        if (!p || m->text_end - to < 2048 ||
            (tag & 7 && v + 2048 > PERF_CAST_(uint64_t, m->text_end - to)))
            return PERF_NULL_;
        if (kind == PERF_M_PROCESS_ && tag >> 3 == 6 && m->part[m->at].name)
            continue;                           /* a new name stands for it                       */
        inner = perf_merge_kind_(kind, tag >> 3);
        to = perf_varint_(to, tag);
        if ((tag & 7) == 0) {
            to = perf_varint_(to, perf_merge_number_of_(m, inner, v, clock));
        } else if ((tag & 7) != 2 || inner >= PERF_M_SEQUENCE_) {
            if ((tag & 7) == 2)
                to = perf_varint_(to, v);
            memcpy(to, p - v, PERF_CAST_(size_t, v));
            to += v;
        } else {
            char *body = to + 3, *body_end = perf_merge_message_(m, inner, p - v, p, body);
            if (!body_end)
                return PERF_NULL_;
            v = PERF_CAST_(uint64_t, body_end - body);
            to[0] = PERF_CAST_(char, (v & 127) - 128);      /* three bytes, as v is below 2^21    */
            to[1] = PERF_CAST_(char, (v >> 7 & 127) - 128);
            to[2] = PERF_CAST_(char, v >> 14);
            if (v < 128) {                      /* as most are: one byte                          */
                to[0] = PERF_CAST_(char, v);
                memmove(to + 1, body, PERF_CAST_(size_t, v));
                body_end -= 2;
            }
            to = body_end;
        }
    }
    if (kind == PERF_M_PROCESS_) {              /* there is room: see the loop                    */
        const perf_trace_part *part = &m->part[m->at];
        char                   text[600];
        if (part->name)
            to = perf_field_bytes_(to, 6, text, perf_pf_text_(text, part->name));
        if (part->bound_ns)
            to = perf_field_bytes_(to, 8, text, perf_merge_label_(m, text, sizeof text));
    }
    return to;
}

/* Copies the packets of the part; m->status says how that went. */
PERF_COLD_FN_ void perf_merge_pf_(perf_merge_ *m)
{
    const char *p, *q, *end;
    char       *to;
    uint64_t    n = 0;
    size_t      k;

    for (;;) {
        if (!perf_merge_need_(m, 16) && m->begin == m->end)
            return;                             /* the end of the file, after a whole packet      */
        p = m->buffer + m->begin;
        end = m->buffer + m->end;
        q = *p == 0x0a ? perf_varint_read_(p + 1, end, &n) : PERF_NULL_;
        if (!q && *p == 0x0a && end - p < 11)
            return;                             /* cut off by a kill                              */
        if (!q || n > PERF_MERGE_PACKET_ - 16) {
            m->status = PERF_EFORMAT;
            return;
        }
        k = PERF_CAST_(size_t, q - p);
        if (!perf_merge_need_(m, k + PERF_CAST_(size_t, n)))
            return;                             /* cut off                                        */
        q = m->buffer + m->begin + k;
        m->ours = m->ours || (n > 2 && PERF_CAST_(unsigned char, q[0]) == 0xe2 && q[1] == 3);
        to = m->ours ? perf_merge_message_(m, PERF_M_PACKET_, q, q + n, m->text) : PERF_NULL_;
        if (m->status == PERF_OK &&
            (!to || to == m->text || to - m->text > PERF_CAST_(int, PERF_MERGE_PACKET_) - 16))
            m->status = PERF_EFORMAT;           /* or it grew too long to be read again           */
        if (m->status != PERF_OK)
            return;
        m->begin += k + PERF_CAST_(size_t, n);
        if (m->file.limit - m->file.p < to - m->text)
            perf_file_flush_(&m->file);         /* then its buffer has room for any packet        */
        m->file.p = perf_field_bytes_(m->file.p, 1, m->text, PERF_CAST_(size_t, to - m->text));
    }
}

PERF_COLD_FN_ void perf_merge_go_(void *with)
{
    perf_merge_ *m = PERF_CAST_(perf_merge_ *, with);

    for (m->at = 0; m->at < m->parts; m->at++) {
        m->in = perf_file_read_(m->part[m->at].path);
        if (!m->in) {
            m->status = PERF_EIO;
            break;
        }
        m->begin = m->end = 0;
        m->pids->part = m->pids->count;
        m->sequences += m->highest;
        m->highest = 0;
        m->bytes = 0;
        m->ours = 0;
        perf_merge_pf_(m);
        if (!m->ours && m->status == PERF_OK)
            m->status = PERF_EFORMAT;           /* cut off before its first record, or no trace   */
        if (ferror(m->in))
            m->status = PERF_EIO;
        (void)fclose(m->in);
        if (m->status != PERF_OK)
            break;
    }
    perf_file_flush_(&m->file);
    if (m->status != PERF_OK)
        m->file.failed = 1;                     /* nothing is left behind                         */
}

PERF_FN perf_status perf_trace_merge(const char *out, const perf_trace_part *part, size_t n,
                                     size_t *bad)
{
    perf_merge_ m;
    perf_status status = PERF_ENOMEM;
    size_t      i;

    memset(&m, 0, sizeof m);
    if (bad)
        *bad = n;
    if (!out || !*out || !part || !n)
        return PERF_EINVAL;
    for (i = 0; i < n; i++)
        if (!part[i].path || !*part[i].path || part[i].bound_ns < 0 ||
            (part[i].name && strlen(part[i].name) > PERF_NAME_MAX_)) {
            if (bad)
                *bad = i;
            return PERF_EINVAL;
        }
    m.part = part;
    m.parts = n;
    m.buffer = PERF_CAST_(char *, PERF_MALLOC(2 * PERF_MERGE_PACKET_ + 16));
    m.text = PERF_CAST_(char *, PERF_MALLOC(4 * PERF_MERGE_PACKET_));
    m.pids = PERF_CAST_(perf_pids_ *, PERF_MALLOC(sizeof *m.pids));
    if (m.buffer && m.text && m.pids) {
        m.pids->count = m.pids->last = 0;
        m.pids->next = PERF_MERGE_FREE_;
        m.text_end = m.text + 4 * PERF_MERGE_PACKET_;
        m.at = n;
        status = perf_file_save_(out, &m.file, perf_merge_go_, &m);
        if (m.status != PERF_OK)
            status = m.status;
        if (bad && m.status != PERF_OK)
            *bad = m.at;
    }
    PERF_FREE(m.buffer);
    PERF_FREE(m.text);
    PERF_FREE(m.pids);
    return status;
}

/* ---- off: nothing is recorded, so nothing is written; perf_trace_merge works on ---- */

#if PERF_DISABLE
#define perf_trace_save_perfetto(path)   PERF_OFF_CODE_((perf_trace_save_perfetto)(path))
#define perf_trace_stream(path)          PERF_OFF_CODE_((perf_trace_stream)(path))
#define perf_trace_stream_flush()        PERF_OFF_CODE_((perf_trace_stream_flush)())
#endif

PERF_END_DECLS

#endif /* PERF_TRACE_H */
