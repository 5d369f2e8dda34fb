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
 * something to write; where "run.pftrace" is a pipe or a device its stream ends with PERF_EIO.  So
 * does one whose descriptor the program has closed.  On Linux a thread is not cancelled while it
 * writes a file, and its signals, but for faults, wait until the write of a regular file is done.
 * With PERF_AT_EXIT 1 above this header, PERF_TRACE_STREAM=file in the environment makes both
 * calls.  What such a process streams after an exec, or if another one that streams there has
 * started it, is in "file.PID", or where that is taken in "file.PID.2".                          */

/* Starts with what the rings hold, as Perfetto's protobuf.  An existing file is replaced.  The path
 * is that of now, also when the program changes its folder.  In the file the first scope inside one
 * that is open at a write may begin later, by 1 ns for each scope around it.  PERF_EINVAL: bad
 * path; PERF_ESTATE: a stream is open, or PERF_TRACE_EVENTS is 0; PERF_EIO, PERF_ENOMEM.  From then
 * on a write that fails (full disk) ends the stream: the file is cut back to the last whole write,
 * the report counts the events not in it, recording goes on.
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
 * PERF_ERANGE: a time would lie before 0: add the same to all offsets; PERF_ELIMIT: more than
 * 65,536 processes; PERF_EIO, PERF_ENOMEM.                                                       */
PERF_FN perf_status perf_trace_merge(const char *out, const perf_trace_part *part, size_t n,
                                     size_t *bad);

/* >>private: bodies, in the order of the prototypes ------------------------------------------ */

/* ---- perfetto ---- */

PERF_FN char *perf_varint_(char *at, uint64_t value)
{
    while (value >= 128) {
        *at++ = PERF_CAST_(char, (value & 127) - 128);  /* bit 7: more follow                     */
        value >>= 7;
    }
    *at++ = PERF_CAST_(char, value);
    return at;
}

/* How a field holds its content: the low three bits of its tag, below its number. */
enum { PERF_WIRE_NUMBER_ = 0, PERF_WIRE_8_BYTES_ = 1, PERF_WIRE_BYTES_ = 2, PERF_WIRE_4_BYTES_ = 5,
       PERF_WIRE_MASK_ = 7 };

/* A field that holds a number. */
PERF_FN char *perf_field_(char *at, uint32_t number, uint64_t value)
{
    return perf_varint_(perf_varint_(at, number << 3), value);
}

/* A field that holds the 64 bits of a double. */
PERF_FN char *perf_field_double_(char *at, uint32_t number, uint64_t bits)
{
    int i;

    at = perf_varint_(at, number << 3 | PERF_WIRE_8_BYTES_);
    for (i = 0; i < 8; i++)
        *at++ = PERF_CAST_(char, bits >> 8 * i & 255);
    return at;
}

/* A field that holds bytes: text, or another message. */
PERF_FN char *perf_field_bytes_(char *at, uint32_t number, const char *bytes, size_t n)
{
    at = perf_varint_(perf_varint_(at, number << 3 | PERF_WIRE_BYTES_), n);
    memcpy(at, bytes, n);
    return at + n;
}

/* A moment at which a scope begins, or ends (name 0). */
typedef struct perf_edge_ {
    uint64_t ticks, value;      /* value: index of the scope's first remark; 0: none              */
    uint32_t name, depth;
} perf_edge_;

/* A scope that is open at a write comes into the file after its first child.  It must begin before
 * that child, or a viewer puts it inside the child.  But clocks tick every 10 ns, so both may begin
 * at one moment: a tie.  So the first child at depth d of an open scope is written d - 1 ns later,
 * and so is all else that begins at that moment.                                                 */
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
    perf_out_ out = perf_out_open_(to, PERF_NAME_MAX_ + 1);

    perf_put_clean_(&out, name, 0);
    if (out.len > PERF_NAME_MAX_)
        return PERF_NAME_MAX_;
    return out.len;
}

/* Begins a message, or a text: its tag, and two bytes for its length.  Returns where its content
 * begins. */
PERF_FN char *perf_pf_open_(char *at, uint32_t number)
{
    return perf_varint_(at, number << 3 | PERF_WIRE_BYTES_) + 2;
}

/* Ends it: writes its length into the two bytes before `begin`. */
PERF_COLD_FN_ void perf_pf_close_(char *begin, const char *end)
{
    begin[-2] = PERF_CAST_(char, ((end - begin) & 127) - 128);
    begin[-1] = PERF_CAST_(char, (end - begin) >> 7);
}

/* Writes a packet.  shape: field numbers, each followed by what the field holds: "(" to ")" is a
 * message, # the next of value[], $ the text (NULL: no field), @ the file and line of `place`.
 * "60(1#)10#" is field 60, with value[0] as its field 1, and field 10 with value[1].             */
PERF_COLD_FN_ void perf_pf_put_(perf_pf_ *writer, const char *shape, const uint64_t *value,
                                const char *text, const perf_site_ *place)
{
    char     path[PERF_NAME_MAX_ + 1];
    char    *at, *begin[5];
    uint32_t number = 1, depth = 0;

    if (writer->file.at > writer->file.limit)
        perf_file_flush_(&writer->file);
    at = begin[0] = perf_pf_open_(writer->file.at, number);
    for (number = 0; *shape; shape++) {
        if (*shape >= '0' && *shape <= '9') {
            number = number * 10 + PERF_CAST_(uint32_t, *shape - '0');
            continue;
        }
        if (*shape == '#') {
            at = perf_field_(at, number, *value++);
        } else if (*shape == '(') {
            at = begin[++depth] = perf_pf_open_(at, number);
        } else if (*shape == ')') {
            perf_pf_close_(begin[depth--], at);
        } else if (*shape == '@') {
            at = perf_field_bytes_(at, 2, path, perf_pf_text_(path, place->file));
            at = perf_field_(at, 4, place->line & 0xffffff);
        } else if (text) {
            begin[depth + 1] = at = perf_pf_open_(at, number);
            at += perf_pf_text_(at, text);
            perf_pf_close_(begin[depth + 1], at);
        }
        number = 0;
    }
    perf_pf_close_(begin[0], at);
    writer->file.at = at;
}

enum { PERF_TRACK_THREAD_, PERF_TRACK_COUNTER_, PERF_TRACK_SPAN_, PERF_TRACK_PROCESS_ };

/* Describes a track of that kind.  name: "" for none.  thread: its id, of a thread's track. */
PERF_COLD_FN_ void perf_pf_track_(perf_pf_ *writer, uint64_t uuid, int kind, const char *name,
                                  uint64_t thread)
{
    static const char *const shape[] = {"60(1#4(1#2#5$))10#", "60(1#2$5#8())10#", "60(1#2$5#)10#",
                                        "60(1#3(1#))10#"};      /* by kind                        */
    const uint64_t of_thread[] = {uuid, writer->process, thread, 1},
                   of_process[] = {uuid, writer->process, 1},
                   of_other[] = {uuid, writer->process << 32, 1};       /* below the process */
    const uint64_t *number = of_other;

    if (kind == PERF_TRACK_THREAD_)
        number = of_thread;
    else if (kind == PERF_TRACK_PROCESS_)
        number = of_process;
    if (kind == PERF_TRACK_THREAD_ && !*name)
        name = PERF_NULL_;
    perf_pf_put_(writer, shape[kind], number, name, PERF_NULL_);
}

/* Starts the sequence of a thread: its clock counts ns from t0 of CLOCK_MONOTONIC (3), its names
 * get short numbers.  The trace processor knows a clock by its number and its sequence's, and t0 of
 * a clock may not go back: so both numbers are made from the process number, as far as they go (64
 * clocks; about 100 sequences whose number fits in one byte).                                    */
PERF_COLD_FN_ void perf_pf_sequence_(perf_pf_ *writer, uint64_t sequence, uint64_t uuid,
                                     uint64_t t0)
{
    const uint64_t clock = 64 + (writer->process * UINT32_C(2654435761) >> 26 & 63);
    const uint64_t value[] = {sequence, 1, 1, 3, t0, clock, 0, 1, 1, 3, clock, uuid};

    /* State cleared; a snapshot of both clocks, ours in differences of 1 ns; an event's defaults */
    perf_pf_put_(writer, "10#41#13#6(1(1#2#)1(1#2#3#4#)2#)59(58#11(11#))", value, PERF_NULL_,
                 PERF_NULL_);
}

/* Tells the sequence that number `id` means this name and this place in the source. */
PERF_COLD_FN_ void perf_pf_name_(perf_pf_ *writer, uint64_t sequence, uint32_t id)
{
    const perf_site_ *site = &PERF_ACQ_(&writer->registry->names)[id]->site;
    const uint64_t    value[] = {id, sequence}, placed[] = {id, id, sequence};

    if (site->file)
        perf_pf_put_(writer, "12(2(1#2$)4(1#@))10#", placed, site->name, site);
    else
        perf_pf_put_(writer, "12(2(1#2$))10#", value, site->name, site);
}

/* Types of events, as Perfetto numbers them. */
enum { PERF_PF_BEGIN_ = 1, PERF_PF_END_, PERF_PF_INSTANT_, PERF_PF_COUNTER_ };

/* An event as it is written. */
typedef struct perf_pf_told_ {
    uint64_t            type;           /* PERF_PF_BEGIN_ ...                                     */
    uint64_t            uuid;           /* its track; 0: that of the sequence                     */
    uint64_t            sequence;
    uint64_t            time;           /* ns; of a sequence's track: since the event before      */
    uint32_t            name;           /* 0: none, as of an end                                  */
    const perf_events_ *events;         /* where its remarks are; NULL: it has none               */
    uint64_t            remarks;        /* index of the first of them; 0: it has none             */
    uint64_t            bits;           /* a counter's value                                      */
} perf_pf_told_;

/* Writes an event. */
PERF_COLD_FN_ void perf_pf_event_(perf_pf_ *writer, const perf_pf_told_ *told)
{
    const perf_site_ *site = PERF_NULL_;
    char              text[PERF_NAME_MAX_ + 1], *cursor, *packet, *event, *inner;
    uint64_t          at = told->remarks;
    perf_remark_        remark;

    if (told->name)
        site = &PERF_ACQ_(&writer->registry->names)[told->name]->site;
    if (writer->file.at > writer->file.limit)
        perf_file_flush_(&writer->file);
    cursor = writer->file.at;
    *cursor++ = 0x0a;
    packet = cursor += 2;
    cursor = perf_field_(cursor, 8, told->time);
    cursor = perf_field_(cursor, 10, told->sequence);
    if (told->uuid)
        cursor = perf_field_(cursor, 58, 3);
    event = cursor = perf_pf_open_(cursor, 11);
    cursor = perf_field_(cursor, 9, told->type);
    if (told->uuid)
        cursor = perf_field_(cursor, 11, told->uuid);
    if (told->type == PERF_PF_COUNTER_)
        cursor = perf_field_double_(cursor, 44, told->bits);
    if (site && told->uuid)
        cursor = perf_field_bytes_(cursor, 23, text, perf_pf_text_(text, site->name));
    else if (site)
        cursor = perf_field_(cursor, 10, told->name);
    if (site && site->file && told->uuid) {
        inner = cursor = perf_pf_open_(cursor, 33);
        cursor = perf_field_bytes_(cursor, 2, text, perf_pf_text_(text, site->file));
        cursor = perf_field_(cursor, 4, site->line & 0xffffff);
        perf_pf_close_(inner, cursor);
    } else if (site && site->file) {
        cursor = perf_field_(cursor, 34, told->name);
    }
    while (told->events && perf_remark_next_(told->events, &at, &remark)) {
        inner = cursor = perf_pf_open_(cursor, 4);      /* a debug annotation                     */
        cursor = perf_field_bytes_(cursor, 10, text, perf_pf_text_(text,
                                   PERF_ACQ_(&writer->registry->names)[remark.name]->site.name));
        if (remark.kind == PERF_REMARK_IS_TEXT_)
            cursor = perf_field_bytes_(cursor, 6, text, perf_pf_text_(text, remark.text));
        else
            cursor = perf_field_double_(cursor, 5, perf_bits_(remark.value));
        perf_pf_close_(inner, cursor);
    }
    perf_pf_close_(event, cursor);
    perf_pf_close_(packet, cursor);
    writer->file.at = cursor;
}

/* The track of a span, made from its name and its whole id: of two spans on one track that overlap
 * each would end the other.  It is odd, as no track of a counter is.                             */
PERF_FN uint64_t perf_pf_span_(const perf_pf_ *writer, const perf_zone_ *zone)
{
    const uint64_t name = zone->name * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t hash = (name ^ zone->extra) * UINT64_C(0xd6e8feb86659fd93);

    return writer->process << 32 | UINT64_C(1) << 31 | hash >> 33 | 1;
}

/* Writes an event that is no scope.  known: 1, its track has been described. */
PERF_COLD_FN_ void perf_pf_other_(perf_pf_ *writer, const perf_zone_ *zone,
                                  const perf_events_ *events, int known)
{
    const char   *name = PERF_ACQ_(&writer->registry->names)[zone->name]->site.name;
    perf_pf_told_ told = PERF_ZERO;
    uint64_t      uuid =
        writer->process << 32 | UINT64_C(1) << 31 | PERF_CAST_(uint64_t, zone->name) << 8;

    told.sequence = 1;
    told.time = perf_epoch_ns_(&writer->epoch, zone->start);
    if (zone->kind == PERF_KIND_INSTANT_) {
        told.type = PERF_PF_INSTANT_;
        told.name = zone->name;
        told.uuid = writer->process << 32 | events->number;
        told.events = events;
        told.remarks = zone->remarks;
        perf_pf_event_(writer, &told);
        return;
    }
    if (zone->kind == PERF_KIND_ASYNC_)
        uuid = perf_pf_span_(writer, zone);
    if (zone->kind == PERF_KIND_ASYNC_ || !known)
        perf_pf_track_(writer, uuid, zone->kind == PERF_KIND_COUNT_ ? PERF_TRACK_COUNTER_
                                                                      : PERF_TRACK_SPAN_, name, 0);
    told.uuid = uuid;
    if (zone->kind == PERF_KIND_COUNT_) {
        told.type = PERF_PF_COUNTER_;
        told.bits = zone->extra;
        perf_pf_event_(writer, &told);
        return;
    }
    told.type = PERF_PF_BEGIN_;
    told.name = zone->name;
    perf_pf_event_(writer, &told);
    told.type = PERF_PF_END_;
    told.name = 0;
    told.time = perf_epoch_ns_(&writer->epoch, zone->start + zone->length);
    perf_pf_event_(writer, &told);
}

/* Room for a thread with n events; 0: no memory. */
#define PERF_PF_ROOM_ (3 * sizeof(perf_edge_))
PERF_COLD_FN_ int perf_pf_room_(perf_pf_ *writer, size_t n)
{
    uint32_t names = PERF_ACQ_(&writer->registry->count);

    if (n > writer->events) {
        PERF_FREE(writer->room);
        writer->room = PERF_CAST_(perf_edge_ *, PERF_MALLOC(n * PERF_PF_ROOM_));
        writer->events = n;
        if (!writer->room)
            writer->events = 0;
    }
    if (names > writer->names) {
        names = 2 * names + 4096;
        if (writer->mapped) {
            writer->used = PERF_CAST_(char *, perf_pages_(names, 0));
        } else {
            PERF_FREE(writer->used);
            writer->used = PERF_CAST_(char *, PERF_MALLOC(names));
        }
        writer->names = names;
        if (!writer->used)
            writer->names = 0;
    }
    if (!writer->room || !writer->used)
        return 0;
    memset(writer->used, 0, writer->names);
    return 1;
}

/* 1: the scope that begins with `begin` is none around `zone`: it begins later, or at the same
 * moment, no less deep, and `zone` has no length.  One with a length that begins with it and ends
 * no later lies in it, though a device's may not know: it was fetched while the outer one was open.
 * Depths have 8 bits, and wrap. */
PERF_INLINE_FN_ int perf_edge_is_done_(const perf_edge_ *begin, const perf_zone_ *zone)
{
    if (zone->start != begin->ticks || zone->length)
        return zone->start < begin->ticks;
    return PERF_CAST_(uint8_t, zone->depth - begin->depth - 1) > 127;
}

/* Begins and ends of the scopes in `events`, in order of time; all other events are written
 * here.  Events are sorted by their ends, newest first: so edges are made from the back, with
 * the begins of the scopes around on a stack.  Returns the first of at most 2n edges; they end
 * at room + 3n. */
PERF_HOT_FN_ perf_edge_ *perf_edges_(perf_pf_ *writer, const perf_events_ *events)
{
    perf_edge_ *stack = writer->room, *out = writer->room + 3 * events->count;
    char       *used = writer->used;
    size_t      top = 0;
    uint64_t    i = 0;
    perf_zone_  zone;

    while (i < events->count) {
        if (!perf_zone_at_(events, &i, writer->registry, &zone) ||
            (zone.value && zone.kind == PERF_KIND_INSTANT_))
            continue;
        if (!zone.slice) {
            perf_pf_other_(writer, &zone, events, used[zone.name]);
            used[zone.name] = 1;
            continue;
        }
        while (top && perf_edge_is_done_(&stack[top - 1], &zone))
            *--out = stack[--top];
        --out;
        out->ticks = zone.start + zone.length;
        out->name = 0;
        stack[top].ticks = zone.start;
        stack[top].value = zone.value;
        stack[top].name = zone.name;
        stack[top++].depth = zone.depth;
        used[zone.name] = 1;
    }
    while (top)
        *--out = stack[--top];
    return out;
}

/* `ns`, or where a first child that began at `ticks` is moved, if that is later, and it began by
 * the time of `edge`. */
PERF_COLD_FN_ uint64_t perf_pf_moved_(const perf_pf_ *writer, uint64_t ticks, uint32_t depth,
                                      const perf_edge_ *edge, uint64_t ns)
{
    uint64_t moved;

    if (ticks > edge->ticks)
        return ns;
    moved = perf_epoch_ns_(&writer->epoch, ticks) + depth - 1;
    if (moved > ns)
        return moved;
    return ns;
}

/* Writes an edge that lies before last_ns: of a scope that was open at the write before. */
PERF_COLD_FN_ void perf_pf_late_(perf_pf_ *writer, const perf_events_ *events,
                                 const perf_edge_ *edge)
{
    const perf_ties_ *ties = writer->ties;
    perf_pf_told_     told = PERF_ZERO;
    uint32_t          depth;

    told.type = PERF_PF_END_;
    told.uuid = writer->process << 32 | events->number;
    told.sequence = 1;
    told.time = perf_epoch_ns_(&writer->epoch, edge->ticks);
    if (edge->name) {
        told.type = PERF_PF_BEGIN_;
        told.name = edge->name;
        told.events = events;
        told.remarks = edge->value;
        for (depth = 2; depth <= edge->depth % PERF_TIES_; depth++) {
            told.time = perf_pf_moved_(writer, ties->now->ticks[depth], depth, edge, told.time);
            told.time = perf_pf_moved_(writer, ties->old[depth], depth, edge, told.time);
        }
    }
    perf_pf_event_(writer, &told);
}

/* Raises *ns to where the first children that begin by `ticks` are moved.  *depth: where to go on.
 * Returns the ticks of the next first child, PERF_TIES_NONE_: none.                              */
PERF_COLD_FN_ uint64_t perf_pf_tie_(const perf_pf_ *writer, uint64_t ticks, uint32_t *depth,
                                    uint64_t *ns)
{
    for (; *depth < PERF_TIES_; ++*depth) {
        uint64_t at = writer->ties->now->ticks[*depth], moved;
        if (at == PERF_TIES_NONE_)
            continue;
        if (at > ticks)
            return at;
        moved = perf_epoch_ns_(&writer->epoch, at) + *depth - 1;
        if (moved > *ns)
            *ns = moved;
    }
    return PERF_TIES_NONE_;
}

/* Writes begins and ends up to `end`.  last: the last time in the file, ns; returns the new one. */
PERF_HOT_FN_ uint64_t perf_pf_slices_(perf_pf_ *writer, const perf_events_ *events,
                                      const perf_edge_ *edge, const perf_edge_ *end,
                                      uint64_t sequence, uint64_t last)
{
    uint64_t tie = writer->ties ? 0 : PERF_TIES_NONE_, ns; /* ticks of the next begin to be moved */
    uint32_t depth = 1;
    char    *packet, *event, *at;

    for (; edge < end; edge++, last = ns) {
        if (writer->file.at > writer->file.limit)
            perf_file_flush_(&writer->file);
        ns = perf_epoch_ns_(&writer->epoch, edge->ticks);
        if (PERF_UNLIKELY_(edge->ticks >= tie) && edge->name && writer->ties)
            tie = perf_pf_tie_(writer, edge->ticks, &depth, &ns);
        if (ns < last)
            ns = last;
        if (edge->name && edge->value) {
            perf_pf_told_ told = PERF_ZERO;

            told.type = PERF_PF_BEGIN_;
            told.name = edge->name;
            told.time = ns - last;
            told.sequence = sequence;
            told.events = events;
            told.remarks = edge->value;
            perf_pf_event_(writer, &told);
            continue;
        }
        packet = writer->file.at + 2;            /* as perf_pf_event_, but fast                   */
        packet[-2] = 0x0a;
        at = perf_field_(packet, 8, ns - last);
        event = perf_field_(at, 10, sequence) + 2;
        event[-2] = 0x5a;
        at = perf_field_(event, 9, edge->name ? PERF_PF_BEGIN_ : PERF_PF_END_);
        if (edge->name)
            at = perf_field_(at, 10, edge->name);
        if (edge->name && PERF_ACQ_(&writer->registry->names)[edge->name]->site.file)
            at = perf_field_(at, 34, edge->name);
        event[-1] = PERF_CAST_(char, at - event);
        packet[-1] = PERF_CAST_(char, at - packet);
        writer->file.at = at;
    }
    return last;
}

PERF_COLD_FN_ void perf_pf_thread_(void *with, const perf_events_ *events)
{
    perf_pf_   *writer = PERF_CAST_(perf_pf_ *, with);
    uint32_t    id, names = PERF_ACQ_(&writer->registry->count);
    uint64_t    uuid = writer->process << 32 | events->number, last;
    uint64_t    sequence = events->number + 1 + (writer->process * UINT32_C(2654435761) >> 8) % 96;
    size_t      n = PERF_CAST_(size_t, events->count);
    perf_edge_ *edge, *end;

    if (!n)
        return;
    perf_pf_track_(writer, uuid, PERF_TRACK_THREAD_, events->name, events->thread);
    if (!perf_pf_room_(writer, n)) {
        writer->no_memory = 1;
        return;
    }
    end = writer->room + 3 * n;
    edge = perf_edges_(writer, events);
    while (writer->ties && edge < end &&
           perf_epoch_ns_(&writer->epoch, edge->ticks) < writer->ties->now->last_ns)
        perf_pf_late_(writer, events, edge++);  /* scopes that were open at the write before      */
    if (edge == end)
        return;
    last = perf_epoch_ns_(&writer->epoch, edge->ticks);
    perf_pf_sequence_(writer, sequence, uuid, last);
    for (id = 1; id < names; id++)
        if (writer->used[id])
            perf_pf_name_(writer, sequence, id);
    last = perf_pf_slices_(writer, events, edge, end, sequence, last);
    if (writer->ties)
        writer->ties->now->last_ns = last;
}

PERF_COLD_FN_ void perf_pf_go_(void *with)
{
    perf_pf_ *writer = PERF_CAST_(perf_pf_ *, with);

    perf_pf_track_(writer, writer->process << 32, PERF_TRACK_PROCESS_, "", 0);
    if (!perf_events_each_(writer->registry, perf_pf_thread_, writer) || writer->no_memory)
        writer->file.failed = 1;
    perf_file_flush_(&writer->file);
}

PERF_FN perf_status perf_trace_save_perfetto(const char *path)
{
    const char *const at_exit = perf_getenv_("PERF_TRACE");
    perf_pf_          writer;
    perf_status       status;

    memset(&writer, 0, sizeof writer);
    writer.registry = perf_registry_read_();
    if (!writer.registry)
        return PERF_ENOMEM;
    perf_sources_collect_(writer.registry);
    writer.process = PERF_GET_(&writer.registry->process);
    writer.epoch = perf_epoch_of_(writer.registry);
    status = perf_file_save_(path, &writer.file, perf_pf_go_, &writer);
    PERF_FREE(writer.room);
    PERF_FREE(writer.used);
    if (writer.no_memory)
        return PERF_ENOMEM;
    if (status == PERF_OK && at_exit && !strcmp(at_exit, path))
        writer.registry->trace_inode = perf_file_inode_(path); /* as in perf_trace_save           */
    return status;
}

/* ---- stream ---- */

#define PERF_STREAM_CHUNK_ 65536u       /* entries written at a time                              */
#define PERF_STREAM_KNOTS_ 64u          /* pieces of the clock that are kept                      */
#define PERF_STREAM_NS_    1e9          /* all rings are written at least so often                */

typedef struct perf_streaming_ {
    perf_stream_base_  head;         /* first: what perf.h knows                                  */
    perf_pf_      pf;
    perf_ties_    ties;
    uint32_t      process;      /* whose file is open                                             */
    uint32_t      knots;        /* pieces of the clock so far                                     */
    uint64_t      whole;        /* bytes of the file after the last good write                    */
    uint64_t      inode;        /* of the file, pipe or device; 0: not known                      */
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
PERF_COLD_FN_ void perf_stream_clock_(perf_streaming_ *stream, perf_registry_ *reg)
{
    perf_epoch_  now = perf_epoch_of_(reg);
    perf_epoch_ *old = &stream->knot[(stream->knots - 1) % PERF_STREAM_KNOTS_];
    perf_epoch_ *epoch = &stream->knot[stream->knots % PERF_STREAM_KNOTS_];
    uint64_t     ticks = perf_scope_ticks_(reg), truth = perf_epoch_ns_(&now, ticks), here, ahead;
    int64_t      off;
    double       turn;

    if (stream->knots && truth < stream->next_knot)
        return;
    if (!stream->knots) {
        *epoch = now;
        stream->began = truth;
    } else {
        here = perf_epoch_ns_(old, ticks);
        off = PERF_CAST_(int64_t, truth - here);
        ahead = perf_stream_ahead_(truth - stream->began, 1000000);
        turn = PERF_CAST_(double, off) / PERF_CAST_(double, ahead);
        if (turn > 0.5)
            turn = 0.5;
        if (turn < -0.5)
            turn = -0.5;
        epoch->tick_ns = now.tick_ns * (1 + turn);
        epoch->ticks = ticks;
        epoch->ns = here;
        epoch->older = old;
        /* `epoch` was the oldest: now the one after it is */
        if (stream->knots >= PERF_STREAM_KNOTS_)
            stream->knot[(stream->knots + 1) % PERF_STREAM_KNOTS_].older = PERF_NULL_;
    }
    stream->knots++;
    stream->next_knot = truth + perf_stream_ahead_(truth - stream->began, 100000);
    stream->pf.epoch = *epoch;
}

/* Empties the firsts of a thread, if it has any. */
PERF_COLD_FN_ void perf_firsts_clear_(perf_recorder_ *rec)
{
    perf_firsts_ *first = PERF_PTR_(perf_firsts_ *, rec->ring_first);

    if (!first)
        return;
    memset(first, 255, sizeof *first);          /* PERF_TIES_NONE_                                */
    first->last_ns = 0;
}

/* The firsts of a thread, empty if new; NULL: no memory. */
PERF_COLD_FN_ perf_firsts_ *perf_firsts_of_(perf_registry_ *reg, perf_recorder_ *rec)
{
    if (!rec->ring_first) {
        rec->ring_first = PERF_CAST_(uint64_t *, perf_forever_(reg, sizeof(perf_firsts_)));
        perf_firsts_clear_(rec);
    }
    return PERF_PTR_(perf_firsts_ *, rec->ring_first);
}

/* Brings the firsts up to date with the events that are about to be written, see perf_ties_. */
PERF_HOT_FN_ void perf_stream_ties_(perf_streaming_ *stream, perf_firsts_ *first,
                                    const perf_events_ *events)
{
    uint64_t    at, i = events->count;
    uint32_t    top = PERF_TIES_, depth;
    perf_zone_  zone;

    memcpy(stream->ties.old, first->ticks, sizeof stream->ties.old);
    stream->ties.now = first;
    while (i-- > 0) {                           /* oldest first                                   */
        at = i;
        if (!perf_zone_at_(events, &at, stream->pf.registry, &zone) || !zone.slice)
            continue;
        depth = zone.depth % PERF_TIES_;
        for (; top > depth; top--)              /* what was open there is in the file now         */
            if (top < PERF_TIES_)
                first->ticks[top] = PERF_TIES_NONE_;
        top = depth;
        if (depth > 0 && zone.start < first->ticks[depth])
            first->ticks[depth] = zone.start;
    }
}

/* The most events that are written at a time. */
PERF_FN uint64_t perf_stream_chunk_(const perf_registry_ *reg)
{
    if (reg->ring_events < PERF_STREAM_CHUNK_)
        return reg->ring_events;
    return PERF_STREAM_CHUNK_;
}

/* The program may have closed all its descriptors, as a daemon does, and opened files of its own
 * under their numbers.  1: so it has; the file is then left alone, not even closed.              */
PERF_COLD_FN_ int perf_stream_taken_(perf_streaming_ *stream)
{
    perf_file_ *file = &stream->pf.file;

    if (!stream->inode || !file->file || perf_file_open_inode_(file) == stream->inode)
        return 0;
    file->file = PERF_NULL_;
    file->failed = 1;
    return 1;
}

/* Opens the file, which stands at its path from now on, to be read while it grows. */
PERF_COLD_FN_ perf_status perf_stream_open_(perf_streaming_ *stream)
{
    perf_file_ *file = &stream->pf.file;

    file->written = stream->whole = 0;
#if PERF_POSIX_FILES_
    if (perf_file_begin_(file, stream->path) && !file->direct &&
        perf_rename_(file->part, stream->path)) {
        (void)perf_file_end_(file, stream->path, 0);
        file->failed = 1;
    }
    PERF_FREE(file->part);
    file->part = PERF_NULL_;
#else
    file->file = fopen(stream->path, "wb");     /* Windows cannot rename an open file             */
    file->failed = !file->file;
#endif
    if (file->failed)
        return file->starved ? PERF_ENOMEM : PERF_EIO;
    stream->inode = perf_file_open_inode_(file);
    PERF_SET_(&stream->head.direct, PERF_CAST_(uint32_t, file->direct));
    file->at = file->begin = PERF_PTR_(char *, stream->value + stream->pf.events);
    file->limit = file->begin + PERF_FILE_BYTES_ - PERF_FILE_RECORD_;
    (void)setvbuf(file->file, PERF_NULL_, _IONBF, 0);   /* nothing that a fork could copy         */
    stream->process = PERF_GET_(&stream->pf.registry->process);
    stream->pf.process = stream->process;
    perf_pf_track_(&stream->pf, stream->pf.process << 32, PERF_TRACK_PROCESS_, "", 0);
    perf_file_flush_(file);
    stream->whole = file->written;
    return file->failed ? PERF_EIO : PERF_OK;
}

#if PERF_POSIX_FILES_
extern int perf_ftruncate_(int, long) __asm__(PERF_SYM_("ftruncate"));
#endif
/* Ends the stream because of `why`; cuts the file back to the last whole write. */
PERF_COLD_FN_ void perf_stream_fail_(perf_streaming_ *stream, perf_status why)
{
    perf_file_ *file = &stream->pf.file;

    (void)perf_stream_taken_(stream);
#if PERF_POSIX_FILES_
    if (file->file && file->failed && stream->whole && !file->direct)
        (void)perf_ftruncate_(file->fd, PERF_CAST_(long, stream->whole));
#endif
    perf_file_close_(file);
    PERF_SET_(&stream->head.state, PERF_STREAM_FAILED_);
    perf_fail_(stream->pf.registry, why);
}

/* Counts what the ring has overwritten since `from` as unsent; returns the first that is there. */
PERF_COLD_FN_ uint64_t perf_stream_skip_(perf_streaming_ *stream, perf_registry_ *reg,
                                         perf_recorder_ *rec, uint64_t from, uint64_t head)
{
    uint64_t room = reg->ring_events * sizeof(perf_event_), n;

    if (head - from <= room)
        return from;
    n = perf_ring_dropped_(reg, rec, from);
    PERF_ADD_(stream->head.unsent, n);
    PERF_SET_(&rec->sent_more,
              PERF_GET_(&rec->sent_more) + (head - from - room) / sizeof(perf_event_) - n);
    return head - room;
}

/* The child of a fork: PATH.PID, or no stream where PATH is no file in a folder.  The parent's file
 * is left alone: another thread may have been about to write it when the process was copied.     */
PERF_COLD_FN_ void perf_stream_child_(perf_streaming_ *stream)
{
    perf_out_   out = perf_out_open_(stream->path + stream->path_length, 16);
    perf_status status;

    if (stream->pf.file.direct) {
        perf_stream_fail_(stream, PERF_EIO);
        return;
    }
    perf_put_own_pid_(&out);
    status = perf_stream_open_(stream);
    if (status != PERF_OK)
        perf_stream_fail_(stream, status);
}

/* Writes the next chunk of a ring, from `from` to `head` at most.  Returns where the next one
 * begins; `from`: there is no whole event, or the stream has failed.                             */
PERF_COLD_FN_ uint64_t perf_stream_part_(perf_streaming_ *stream, perf_registry_ *reg,
                                         perf_recorder_ *rec, uint64_t from, uint64_t head)
{
    perf_events_ events = {stream->event, 0, rec->thread, rec->number, rec->name, stream->value};
    uint64_t     n = stream->pf.events * sizeof(perf_event_), until, more, later;

    if (perf_stream_taken_(stream)) {
        perf_stream_fail_(stream, PERF_EIO);
        return from;
    }
    if (stream->pf.file.written >= PERF_STREAM_BYTES) {
        perf_stream_fail_(stream, PERF_ELIMIT);
        return from;
    }
    if (n > head - from)
        n = head - from;
    until = from + n;
    perf_events_copy_(&events, reg, rec, until, n);
    later = PERF_CAST_(uint64_t, events.event - stream->event); /* of an event not yet whole: for */
    until -= later * sizeof(perf_event_);                       /* the next chunk                 */
    PERF_ADD_(stream->head.unsent, n / sizeof(perf_event_) - events.count - later);
    if (!events.count)
        return from;
    perf_stream_ties_(stream, perf_firsts_of_(reg, rec), &events);
    perf_pf_thread_(&stream->pf, &events);
    perf_file_flush_(&stream->pf.file);
    if (stream->pf.file.failed) {
        perf_stream_fail_(stream, PERF_EIO);
        return from;
    }
    if (stream->pf.no_memory) {
        perf_stream_fail_(stream, PERF_ENOMEM);
        return from;
    }
    stream->whole = stream->pf.file.written;
    for (more = 0; events.count--; events.event++)
        if (perf_event_is_part_(events.event->what))
            more++;
    PERF_SET_(&rec->sent_more, PERF_GET_(&rec->sent_more) + more);
    return until;
}

/* Writes what one ring holds, oldest chunk first. */
PERF_COLD_FN_ void perf_stream_one_(perf_streaming_ *stream, perf_registry_ *reg,
                                    perf_recorder_ *rec)
{
    uint64_t head = PERF_ACQ_(&rec->ring_head), from = PERF_GET_(&rec->ring_sent), next;

    if (!PERF_ACQ_(&rec->ring) || head <= from)
        return;
    if (!from)                                  /* maybe of a thread that has taken it over       */
        perf_firsts_clear_(rec);
    from = perf_stream_skip_(stream, reg, rec, from, head);
    if (!perf_firsts_of_(reg, rec)) {
        perf_stream_fail_(stream, PERF_ENOMEM);
        return;
    }
    if (stream->process != PERF_GET_(&reg->process))
        perf_stream_child_(stream);
    while (from < head && stream->head.state == PERF_STREAM_ON_) {
        next = perf_stream_part_(stream, reg, rec, from, head);
        if (next == from)
            break;
        from = next;
    }
    PERF_SET_(&rec->ring_sent, from);
}

/* ---- nothing takes a thread out of the lock ----
 *
 * Writing is where a thread can be cancelled, and takes long enough to meet handlers, which may
 * leave by siglongjmp.  Either would leave the lock taken for ever.                              */

typedef struct perf_held_ {
    int           cancel;       /* for perf_cancel_on_                                            */
    int           masked;       /* 1: signals are held                                            */
    unsigned long was[32];      /* which were held before; sigset_t is shorter                    */
} perf_held_;

/* Until perf_held_end_ the thread is not cancelled.  With `mask` 1 no handler comes, either, but
 * for faults of its own: ILL, TRAP, ABRT, BUS, FPE, SEGV and SYS, here by the numbers of Linux.
 * Not for a pipe: a write that waits for its reader must be interrupted.                         */
PERF_COLD_FN_ void perf_held_begin_(perf_held_ *held, int mask)
{
    held->cancel = perf_cancel_off_();
    held->masked = 0;
#ifdef PERF_SIG_BLOCK_
    if (mask) {
        unsigned long all[32];

        memset(all, 255, sizeof all);
        all[0] &= ~(1ul << 3 | 1ul << 4 | 1ul << 5 | 1ul << 6 | 1ul << 7 | 1ul << 10 | 1ul << 30);
        held->masked = !perf_sigmask_(PERF_SIG_BLOCK_, all, held->was);
    }
#else
    (void)mask;
#endif
}

PERF_COLD_FN_ void perf_held_end_(const perf_held_ *held)
{
#ifdef PERF_SIG_BLOCK_
    if (held->masked)
        (void)perf_sigmask_(PERF_SIG_BLOCK_ + 2, held->was, PERF_NULL_);
#endif
    perf_cancel_on_(held->cancel);
}

/* Decides when the ring of `rec` is due next: after as many entries as a period brings at the speed
 * of the last ones, `done` since the time before.                                                */
PERF_COLD_FN_ void perf_stream_pace_(const perf_streaming_ *stream, const perf_registry_ *reg,
                                     perf_recorder_ *rec, uint64_t done, uint64_t now)
{
    const uint64_t most = perf_stream_chunk_(reg) / 2, least = 16, passed = now - rec->ring_at;
    uint64_t       step = least;

    if (rec->ring_step)
        step = rec->ring_step / sizeof(perf_event_);
    if (rec->ring_at && passed > stream->period)
        step = PERF_CAST_(uint64_t, PERF_CAST_(double, done) *
                                    PERF_CAST_(double, stream->period) /
                                    PERF_CAST_(double, passed));
    else
        step *= 4;
    if (step > most)
        step = most;
    if (step < least)
        step = least;
    rec->ring_step = step * sizeof(perf_event_);
    rec->ring_at = now;
    if (PERF_GET_(&rec->ring_limit))
        PERF_SET_(&rec->ring_limit, rec->ring_head + rec->ring_step);
}

/* With the lock held: writes the ring of `rec`, or all (`rec` NULL); all, too, when a period has
 * passed.                                                                                        */
PERF_COLD_FN_ void perf_stream_go_(perf_registry_ *reg, perf_stream_base_ *stream,
                                   perf_recorder_ *rec)
{
    perf_streaming_ *streaming = PERF_PTR_(perf_streaming_ *, stream);
    perf_recorder_  *other;
    const uint64_t   now = perf_scope_ticks_(reg);
    uint64_t         done;
    perf_held_       held;

    perf_held_begin_(&held, 0);                 /* the thread that ends, or begins, writes, too   */
    perf_stream_clock_(streaming, reg);
    if (rec) {
        done = (rec->ring_head - rec->ring_sent) / sizeof(perf_event_);
        perf_stream_one_(streaming, reg, rec);
        perf_stream_pace_(streaming, reg, rec, done, now);
    }
    if (!rec || now - streaming->all_at >= streaming->period) {
        streaming->all_at = now;
        for (other = PERF_ACQ_(&reg->recorders); other; other = other->next)
            if (other != rec)
                perf_stream_one_(streaming, reg, other);
    }
    perf_held_end_(&held);
}

/* As perf_stream_base_ has it. */
PERF_COLD_FN_ int perf_stream_due_(perf_registry_ *reg, perf_stream_base_ *stream,
                                   perf_recorder_ *rec)
{
    perf_held_ held;
    int        on = -1;

    perf_held_begin_(&held, !PERF_GET_(&stream->direct));
    if (perf_lock_(reg)) {
        if (PERF_GET_(&stream->state) == PERF_STREAM_ON_)
            stream->flush(reg, stream, rec);
        on = PERF_GET_(&stream->state) == PERF_STREAM_ON_;
        perf_unlock_(&reg->lock);
    }
    perf_held_end_(&held);
    return on;
}

/* The memory of a stream: that of the last one, if it has this size; NULL: no memory. */
PERF_COLD_FN_ perf_streaming_ *perf_stream_memory_(perf_registry_ *reg, size_t bytes)
{
    if (reg->stream && reg->stream->bytes == bytes)
        return PERF_PTR_(perf_streaming_ *, reg->stream);
    return PERF_CAST_(perf_streaming_ *, perf_pages_(bytes, 0));
}

#if PERF_POSIX_FILES_
extern char *perf_getcwd_(char *, size_t) __asm__(PERF_SYM_("getcwd"));
#endif
#define PERF_STREAM_PATH_ (4096u - 64u)         /* room for a path; .PID.99 and .part come behind */

/* Copies a path, with the present folder before it: the program may go to another one.  Not where
 * that folder cannot be named, or not be reached by its name, or where both are so long that there
 * is no room for .PID and .part.  Returns the length.                                            */
PERF_COLD_FN_ size_t perf_stream_path_(char *to, const char *path)
{
    const size_t length = strlen(path);
    size_t       before = 0;

#if PERF_POSIX_FILES_
    if (*path != '/' && length < PERF_STREAM_PATH_ &&
        perf_getcwd_(to, PERF_STREAM_PATH_ - length) && *to == '/' &&
        perf_file_inode_(to) == perf_file_inode_(".")) {
        before = strlen(to);
        if (to[before - 1] != '/')
            to[before++] = '/';
    }
#endif
    memcpy(to + before, path, length + 1);
    return before + length;
}

/* Prepares a stream that writes `chunk` events at a time; nothing is open. */
PERF_COLD_FN_ void perf_stream_init_(perf_streaming_ *stream, perf_registry_ *reg, const char *path,
                                     uint64_t chunk)
{
    perf_pf_ old = stream->pf;

    /* all but the head, which a report may be reading, and the pages for names */
    memset(PERF_PTR_(char *, stream) + sizeof stream->head, 0,
           sizeof *stream - sizeof stream->head);
    stream->pf.used = old.used;
    stream->pf.names = old.names;
    stream->path_length = perf_stream_path_(stream->path, path);
    stream->pf.registry = reg;
    stream->pf.mapped = 1;
    stream->pf.ties = &stream->ties;
    stream->pf.events = PERF_CAST_(size_t, chunk);
    stream->event = PERF_PTR_(perf_event_ *, PERF_PTR_(void *, stream + 1));
    stream->pf.room = PERF_PTR_(perf_edge_ *, stream->event + stream->pf.events);
    stream->value = PERF_PTR_(uint32_t *, stream->pf.room + 3 * stream->pf.events);
}

/* From now on this ring's events are for the stream, beginning with those that it holds. */
PERF_COLD_FN_ void perf_stream_ring_(perf_registry_ *reg, perf_recorder_ *rec)
{
    uint64_t lost = PERF_GET_(&rec->ring_lost), written = PERF_ACQ_(&rec->ring_head) - lost;
    uint64_t room = reg->ring_events * sizeof(perf_event_), gone = 0, more = 0;

    if (PERF_GET_(&rec->request) & PERF_ASK_RESET_) {   /* its thread has not done it yet         */
        gone = written;
        more = PERF_GET_(&rec->ring_more);
    } else if (written > room) {
        gone = written - room;
        more = gone / sizeof(perf_event_) - perf_ring_dropped_(reg, rec, lost);
    }
    PERF_SET_(&rec->sent_more, more);           /* entries that began no event                    */
    PERF_SET_(&rec->ring_sent, lost + gone);
    rec->ring_at = rec->ring_step = 0;
    perf_firsts_clear_(rec);
}

/* The file is open: all threads write to it. */
PERF_COLD_FN_ void perf_stream_start_(perf_streaming_ *stream, perf_registry_ *reg)
{
    perf_recorder_ *rec;

    perf_stream_clock_(stream, reg);
    stream->period = PERF_CAST_(uint64_t, PERF_STREAM_NS_ / stream->pf.epoch.tick_ns);
    perf_image_pin_();                          /* the file is written from any image             */
    stream->head.flush = perf_stream_go_;
    PERF_REL_(&stream->head.due, &perf_stream_due_);
    PERF_SET_(&stream->head.unsent, UINT64_C(0));
    PERF_SET_(&stream->head.state, PERF_STREAM_ON_);
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next)
        perf_stream_ring_(reg, rec);
    PERF_REL_(&reg->stream, &stream->head);
    perf_ask_(reg, PERF_ASK_TRACE_);            /* each thread sets its limit                     */
}

/* With the lock held: perf_trace_stream without its checks. */
PERF_COLD_FN_ perf_status perf_stream_begin_(perf_registry_ *reg, const char *path)
{
    perf_streaming_ *stream;
    perf_status      status;
    uint64_t         chunk = perf_stream_chunk_(reg);
    const size_t     each = sizeof *stream->event + PERF_PF_ROOM_ + sizeof *stream->value;
    const size_t     bytes = sizeof *stream + PERF_FILE_BYTES_ + 2 * PERF_FILE_RECORD_ + 24 +
                         PERF_CAST_(size_t, chunk) * each;

    stream = perf_stream_memory_(reg, bytes);
    if (!stream)
        return PERF_ENOMEM;
    perf_stream_init_(stream, reg, path, chunk);
    stream->head.bytes = bytes;
    status = perf_stream_open_(stream);
    if (status == PERF_OK) {
        perf_stream_start_(stream, reg);
        return PERF_OK;
    }
    perf_file_close_(&stream->pf.file);
    if (&stream->head != reg->stream) {         /* so that the next attempt takes its memory      */
        stream->head.state = PERF_STREAM_ENDED_;
        PERF_REL_(&reg->stream, &stream->head);
    }
    return status;
}

/* 1: another file stands where ours was, such as a started program's.  A pipe or a device: 0, as
 * the program may replace its own stdout.                                                        */
PERF_COLD_FN_ int perf_stream_replaced_(const perf_streaming_ *stream)
{
    const uint64_t now = stream->pf.file.direct ? 0 : perf_file_inode_(stream->path);

    return now && stream->inode && now != stream->inode;
}

/* With the lock held: writes what all rings hold; `end`: closes the file, too. */
PERF_COLD_FN_ perf_status perf_stream_write_(perf_registry_ *reg, int end)
{
    perf_streaming_ *stream = PERF_PTR_(perf_streaming_ *, PERF_ACQ_(&reg->stream));
    perf_file_      *file = &stream->pf.file;
    perf_status      status = PERF_OK;

    if (stream->head.state == PERF_STREAM_ENDED_)
        return PERF_ESTATE;
    if (end && PERF_SELF_ != PERF_NULL_)        /* in a handler that ends the program, maybe      */
        perf_entries_put_(PERF_SELF_, PERF_NULL_, 0);
    if (stream->head.state == PERF_STREAM_ON_)
        stream->head.flush(reg, &stream->head, PERF_NULL_);
    if (stream->head.state != PERF_STREAM_ON_)
        status = PERF_EIO;
    if (!end)
        return status;
    if (stream->process != PERF_GET_(&reg->process))
        file->file = PERF_NULL_;                /* it is the parent's                             */
    else if (perf_stream_taken_(stream) || perf_stream_replaced_(stream))
        status = PERF_EIO;
    perf_file_close_(file);
    if (status == PERF_OK && !file->failed) {
        PERF_SET_(&stream->head.state, PERF_STREAM_ENDED_);
        return PERF_OK;
    }
    perf_stream_fail_(stream, PERF_EIO);
    return PERF_EIO;
}

/* The same; takes the lock.  PERF_ESTATE: no stream, or this thread has the lock. */
PERF_COLD_FN_ perf_status perf_stream_now_(int end)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_status     status = PERF_ESTATE;
    perf_stream_base_   *stream;
    perf_held_      held;

    if (!reg || !PERF_ACQ_(&reg->stream))
        return PERF_ESTATE;
    perf_sources_collect_(reg);
    stream = PERF_ACQ_(&reg->stream);
    perf_held_begin_(&held, !PERF_GET_(&stream->direct));
    if (perf_lock_(reg)) {
        status = perf_stream_write_(reg, end);
        perf_unlock_(&reg->lock);
    }
    perf_held_end_(&held);
    return status;
}

PERF_FN perf_status perf_trace_stream(const char *path)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_status     status = PERF_ESTATE;
    perf_held_      held;
    unsigned        mode;

    if (!path)
        return perf_stream_now_(1);
    if (!*path || strlen(path) > 4095)
        return PERF_EINVAL;
    if (!reg)
        return PERF_ENOMEM;
    if (!reg->ring_events)
        return PERF_ESTATE;
    perf_held_begin_(&held, perf_file_kind_(path, &mode) != PERF_FILE_DIRECT_);
    if (perf_lock_(reg)) {
        if (!reg->stream || reg->stream->state != PERF_STREAM_ON_)
            status = perf_stream_begin_(reg, path);
        perf_unlock_(&reg->lock);
    }
    perf_held_end_(&held);
    return status;
}

PERF_FN perf_status perf_trace_stream_flush(void)
{
    return perf_stream_now_(0);
}

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
static int perf_stream_counted_;        /* for perf_others_tell_                                  */

/* Streams to PATH, or to PATH.PID where the process that has started this one, or this one before
 * an exec, has the same PATH and it is a file in a folder.                                       */
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_stream_at_start_(void)
{                                               /* after perf_at_start_, which sets `started`     */
    const char     *path = perf_getenv_("PERF_TRACE_STREAM");
    perf_registry_ *reg = path ? perf_registry_read_() : PERF_NULL_;
    char            own[4096 + 32];
    perf_out_       name;
    unsigned        mode;

    if ((reg && perf_others_tell_(&reg->heard_stream, &perf_stream_counted_, 0)) || !path || !*path)
        return;
    name = perf_out_open_(own, sizeof own);
    perf_put_(&name, path);
    if (reg && (reg->started & 2u) &&
        perf_file_kind_(path, &mode) != PERF_FILE_DIRECT_)
        perf_put_beside_(own, sizeof own, path);
    if (perf_trace_stream(own) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", own);
}

PERF_ATTR_((__destructor__, __used__)) PERF_OURS_ static void perf_stream_at_exit_(void)
{
    const char            *path = perf_getenv_("PERF_TRACE_STREAM");
    perf_registry_        *reg = path ? perf_registry_read_() : PERF_NULL_;
    const perf_streaming_ *stream;

    if (!reg || perf_others_tell_(&reg->heard_stream, &perf_stream_counted_, 1) || !*path ||
        perf_trace_stream(PERF_NULL_) != PERF_EIO)
        return;
    stream = PERF_PTR_(const perf_streaming_ *, PERF_ACQ_(&reg->stream));
    /* maybe PATH.PID */
    (void)fprintf(stderr, "perf.h: the trace in %s is not whole\n", stream->path);
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
PERF_COLD_FN_ int perf_merge_need_(perf_merge_ *merge, size_t n)
{
    size_t before;

    if (merge->end - merge->begin >= n)
        return 1;
    memmove(merge->buffer, merge->buffer + merge->begin, merge->end - merge->begin);
    merge->end -= merge->begin;
    merge->begin = 0;
    before = merge->end;
    merge->end += fread(merge->buffer + merge->end, 1, 2 * PERF_MERGE_PACKET_ - merge->end,
                        merge->in);
    merge->bytes += merge->end - before;
    if (merge->bytes > PERF_MERGE_BYTES_)
        merge->status = PERF_ELIMIT;
    return merge->end >= n;
}

/* 1: a process of the output has this number, or it is 0, which none has. */
PERF_FN int perf_pid_is_taken_(const perf_pids_ *pids, uint32_t number)
{
    size_t i = 0;

    while (i < pids->count && pids->to[i] != number)
        i++;
    return !number || i < pids->count;
}

/* The number of a process in the output: its own, or a new one where that is taken.  0:
 * merge->status says why there is none. */
PERF_COLD_FN_ uint32_t perf_merge_pid_(perf_merge_ *merge, uint64_t pid)
{
    perf_pids_ *pids = merge->pids;
    uint32_t    number = PERF_CAST_(uint32_t, pid);
    size_t      i;

    if (pid >> 32) {
        merge->status = PERF_EFORMAT;
        return 0;
    }
    if (pids->last >= pids->part && pids->last < pids->count && pids->from[pids->last] == number)
        return pids->to[pids->last];
    for (i = pids->part; i < pids->count; i++)
        if (pids->from[i] == number) {
            pids->last = i;
            return pids->to[i];
        }
    if (pids->count >= PERF_MERGE_PIDS_) {
        merge->status = PERF_ELIMIT;
        return 0;
    }
    pids->from[pids->count] = number;
    while (perf_pid_is_taken_(pids, number))
        number = pids->next++;
    pids->to[pids->count] = number;
    return pids->to[pids->count++];
}

/* What stands beside the name of a process whose clock was moved; returns the length. */
PERF_COLD_FN_ size_t perf_merge_label_(const perf_merge_ *merge, char *to, size_t cap)
{
    perf_out_ out = perf_out_open_(to, cap);

    perf_put_number_(&out, "clock moved by ", PERF_CAST_(double, merge->part[merge->at].offset_ns),
                     0);
    perf_put_number_(&out, " ns, within ", PERF_CAST_(double, merge->part[merge->at].bound_ns), 0);
    perf_put_(&out, " ns");
    return out.len;
}

/* Reads a varint that ends before `end`; returns its end, NULL: there is none. */
PERF_FN const char *perf_varint_read_(const char *at, const char *end, uint64_t *number)
{
    int shift;

    *number = 0;
    for (shift = 0; at && at < end && shift < 70; shift += 7, at++) {
        *number |= PERF_CAST_(uint64_t, *at & 127) << (shift & 63);
        if (!(*at & 128))
            return at + 1;
    }
    return PERF_NULL_;
}

/* Returns the end of the field at `at`, NULL: broken.  *number: its number, or the length of its
 * content, which lies before that end.                                                           */
PERF_COLD_FN_ const char *perf_field_read_(const char *at, const char *end, uint64_t *tag,
                                           uint64_t *number)
{
    at = perf_varint_read_(at, end, tag);
    if (!at || !(*tag >> 3) || *tag >> 32)
        return PERF_NULL_;
    switch (*tag & PERF_WIRE_MASK_) {
    case PERF_WIRE_NUMBER_: return perf_varint_read_(at, end, number);
    case PERF_WIRE_8_BYTES_: *number = 8; break;
    case PERF_WIRE_BYTES_: at = perf_varint_read_(at, end, number); break;
    case PERF_WIRE_4_BYTES_: *number = 4; break;
    default: return PERF_NULL_;
    }
    return at && *number <= PERF_CAST_(uint64_t, end - at) ? at + *number : PERF_NULL_;
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

/* What `value`, of that kind, becomes in the output.  clock: of a time, its number. */
PERF_COLD_FN_ uint64_t perf_merge_number_of_(perf_merge_ *merge, int kind, uint64_t value,
                                             uint64_t clock)
{
    if (kind == PERF_M_SEQUENCE_) {
        if (value > merge->highest)
            merge->highest = PERF_CAST_(uint32_t, value);
        value += merge->sequences;
    } else if (kind == PERF_M_TIME_ && clock == 3) {
        if (value >> 63)
            merge->status = PERF_EFORMAT;       /* none of ours                                   */
        value += PERF_CAST_(uint64_t, merge->part[merge->at].offset_ns);
        if (value >> 63 && merge->status == PERF_OK)
            merge->status = PERF_ERANGE;
    } else if (kind == PERF_M_UUID_) {
        value = PERF_CAST_(uint64_t, perf_merge_pid_(merge, value >> 32)) << 32 |
                (value & UINT64_C(0xffffffff));
    } else if (kind == PERF_M_PID_) {
        value = perf_merge_pid_(merge, value);
    }
    return value;
}

/* The number in a field of a message; 0: it has none. */
PERF_COLD_FN_ uint64_t perf_merge_find_(const char *at, const char *end, uint64_t number)
{
    uint64_t tag = 0, value = 0;

    while (at && at < end) {
        at = perf_field_read_(at, end, &tag, &value);
        if (at && tag == number << 3)
            return value;
    }
    return 0;
}

/* Copies a message, its numbers changed, four deep at most; returns its end, NULL: it is broken. */
PERF_COLD_FN_ char *perf_merge_message_(perf_merge_ *merge, int kind, const char *at,
                                        const char *end, char *to)
{
    uint64_t tag, value, clock = 0;

    if (kind == PERF_M_PACKET_)
        clock = perf_merge_find_(at, end, 58);  /* the clock of its time                          */
    else if (kind == PERF_M_CLOCK_)
        clock = perf_merge_find_(at, end, 1);   /* which clock this is                            */
    while (at < end) {
        uint64_t wire;
        int      inner;
        at = perf_field_read_(at, end, &tag, &value);
        wire = tag & PERF_WIRE_MASK_;
        if (!at || merge->text_end - to < 2048 ||
            (wire && value + 2048 > PERF_CAST_(uint64_t, merge->text_end - to)))
            return PERF_NULL_;
        if (kind == PERF_M_PROCESS_ && tag >> 3 == 6 && merge->part[merge->at].name)
            continue;                           /* a new name stands for it                       */
        inner = perf_merge_kind_(kind, tag >> 3);
        to = perf_varint_(to, tag);
        if (wire == PERF_WIRE_NUMBER_) {
            to = perf_varint_(to, perf_merge_number_of_(merge, inner, value, clock));
        } else if (wire != PERF_WIRE_BYTES_ || inner >= PERF_M_SEQUENCE_) {     /* as it is       */
            if (wire == PERF_WIRE_BYTES_)
                to = perf_varint_(to, value);
            memcpy(to, at - value, PERF_CAST_(size_t, value));
            to += value;
        } else {
            char *body = to + 3,
                 *body_end = perf_merge_message_(merge, inner, at - value, at, body);
            if (!body_end)
                return PERF_NULL_;
            value = PERF_CAST_(uint64_t, body_end - body);
            /* three bytes, as `value` is below 2^21 */
            to[0] = PERF_CAST_(char, (value & 127) - 128);
            to[1] = PERF_CAST_(char, (value >> 7 & 127) - 128);
            to[2] = PERF_CAST_(char, value >> 14);
            if (value < 128) {                  /* as most are: one byte                          */
                to[0] = PERF_CAST_(char, value);
                memmove(to + 1, body, PERF_CAST_(size_t, value));
                body_end -= 2;
            }
            to = body_end;
        }
    }
    if (kind == PERF_M_PROCESS_) {              /* there is room: see the loop                    */
        const perf_trace_part *part = &merge->part[merge->at];
        char                   text[600];
        if (part->name)
            to = perf_field_bytes_(to, 6, text, perf_pf_text_(text, part->name));
        if (part->bound_ns)
            to = perf_field_bytes_(to, 8, text, perf_merge_label_(merge, text, sizeof text));
    }
    return to;
}

/* Copies the packets of the part; merge->status says how that went. */
PERF_COLD_FN_ void perf_merge_pf_(perf_merge_ *merge)
{
    const char *at, *body, *end;
    char       *to;
    uint64_t    n = 0;
    size_t      head;                           /* bytes of the tag and the length */

    for (;;) {
        if (!perf_merge_need_(merge, 16) && merge->begin == merge->end)
            return;                             /* the end of the file, after a whole packet      */
        at = merge->buffer + merge->begin;
        end = merge->buffer + merge->end;
        body = *at == 0x0a ? perf_varint_read_(at + 1, end, &n) : PERF_NULL_;
        if (!body && *at == 0x0a && end - at < 11)
            return;                             /* cut off by a kill                              */
        if (!body || n > PERF_MERGE_PACKET_ - 16) {
            merge->status = PERF_EFORMAT;
            return;
        }
        head = PERF_CAST_(size_t, body - at);
        if (!perf_merge_need_(merge, head + PERF_CAST_(size_t, n)))
            return;                             /* cut off                                        */
        body = merge->buffer + merge->begin + head;
        merge->ours =
            merge->ours || (n > 2 && PERF_CAST_(unsigned char, body[0]) == 0xe2 && body[1] == 3);
        to = merge->ours ? perf_merge_message_(merge, PERF_M_PACKET_, body, body + n, merge->text) :
             PERF_NULL_;
        if (merge->status == PERF_OK &&
            (!to || to == merge->text ||
             to - merge->text > PERF_CAST_(int, PERF_MERGE_PACKET_) - 16))
            merge->status = PERF_EFORMAT;       /* or it grew too long to be read again           */
        if (merge->status != PERF_OK)
            return;
        merge->begin += head + PERF_CAST_(size_t, n);
        if (merge->file.limit - merge->file.at < to - merge->text)
            perf_file_flush_(&merge->file);     /* then its buffer has room for any packet        */
        merge->file.at =
            perf_field_bytes_(merge->file.at, 1, merge->text, PERF_CAST_(size_t, to - merge->text));
    }
}

PERF_COLD_FN_ void perf_merge_go_(void *with)
{
    perf_merge_ *merge = PERF_CAST_(perf_merge_ *, with);

    for (merge->at = 0; merge->at < merge->parts; merge->at++) {
        merge->in = perf_file_read_(merge->part[merge->at].path);
        if (!merge->in) {
            merge->status = PERF_EIO;
            break;
        }
        merge->begin = merge->end = 0;
        merge->pids->part = merge->pids->count;
        merge->sequences += merge->highest;
        merge->highest = 0;
        merge->bytes = 0;
        merge->ours = 0;
        perf_merge_pf_(merge);
        if (!merge->ours && merge->status == PERF_OK)
            merge->status = PERF_EFORMAT;       /* cut off before its first record, or no trace   */
        if (ferror(merge->in))
            merge->status = PERF_EIO;
        (void)fclose(merge->in);
        if (merge->status != PERF_OK)
            break;
    }
    perf_file_flush_(&merge->file);
    if (merge->status != PERF_OK)
        merge->file.failed = 1;                 /* nothing is left behind                         */
}

PERF_FN perf_status perf_trace_merge(const char *out, const perf_trace_part *part, size_t n,
                                     size_t *bad)
{
    perf_merge_ merge;
    perf_status status = PERF_ENOMEM;
    size_t      i;

    memset(&merge, 0, sizeof merge);
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
    merge.part = part;
    merge.parts = n;
    merge.buffer = PERF_CAST_(char *, PERF_MALLOC(2 * PERF_MERGE_PACKET_ + 16));
    merge.text = PERF_CAST_(char *, PERF_MALLOC(4 * PERF_MERGE_PACKET_));
    merge.pids = PERF_CAST_(perf_pids_ *, PERF_MALLOC(sizeof *merge.pids));
    if (merge.buffer && merge.text && merge.pids) {
        merge.pids->count = merge.pids->last = 0;
        merge.pids->next = PERF_MERGE_FREE_;
        merge.text_end = merge.text + 4 * PERF_MERGE_PACKET_;
        merge.at = n;
        status = perf_file_save_(out, &merge.file, perf_merge_go_, &merge);
        if (merge.status != PERF_OK)
            status = merge.status;
        if (bad && merge.status != PERF_OK)
            *bad = merge.at;
    }
    PERF_FREE(merge.buffer);
    PERF_FREE(merge.text);
    PERF_FREE(merge.pids);
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
