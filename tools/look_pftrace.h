/* look_pftrace.h - packets of Perfetto's protobuf, and the scopes of a thread in order of time.
 *
 * Field numbers are those of perfetto/trace/trace_packet.proto and track_event.proto.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_PFTRACE_H
#define PERF_TOOLS_LOOK_PFTRACE_H

#include "look_count.h"

#include "perf_file.h"

enum {                                  /* types of an event                                      */
    LOOK_PF_BEGIN = 1, LOOK_PF_END = 2, LOOK_PF_INSTANT = 3, LOOK_PF_COUNTER = 4
};
enum { LOOK_PF_MONOTONIC = 3 };         /* the clock of all times                                 */
enum { LOOK_PF_PACKET = 3072, LOOK_PF_DEEP = 4 };       /* bytes; messages in messages            */

/* A packet that is being made; every text in it is cut to LOOK_NAME_BYTES. */
typedef struct look_packet {
    char   bytes[LOOK_PF_PACKET];
    size_t n;
    size_t begin[LOOK_PF_DEEP];         /* where the messages that are open begin                 */
    int    depth;
} look_packet;

/* ---- packets ---- */

PERF_FN void look_pf_varint(look_packet *packet, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        packet->bytes[packet->n++] = (char)((value & 127) | 128);
    packet->bytes[packet->n++] = (char)value;
}

PERF_FN void look_pf_number(look_packet *packet, unsigned field, uint64_t value)
{
    look_pf_varint(packet, field << 3);
    look_pf_varint(packet, value);
}

PERF_FN void look_pf_double(look_packet *packet, unsigned field, double x)
{
    const uint64_t bits = perf_bits_(x);

    look_pf_varint(packet, field << 3 | 1);
    memcpy(packet->bytes + packet->n, &bits, sizeof bits);
    packet->n += sizeof bits;
}

/* A text as UTF-8; bytes that are none become '?'. */
PERF_FN void look_pf_text(look_packet *packet, unsigned field, const char *text)
{
    char      clean[LOOK_NAME_BYTES + 1];
    perf_out_ out = perf_out_open_(clean, sizeof clean);

    perf_put_clean_(&out, text, 0);
    out.len = out.len < sizeof clean ? out.len : sizeof clean - 1;
    look_pf_varint(packet, field << 3 | 2);
    look_pf_varint(packet, out.len);
    memcpy(packet->bytes + packet->n, clean, out.len);
    packet->n += out.len;
}

/* Begins a message inside; its length takes two bytes. */
PERF_FN void look_pf_open(look_packet *packet, unsigned field)
{
    look_pf_varint(packet, field << 3 | 2);
    packet->n += 2;
    packet->begin[packet->depth++] = packet->n;
}

PERF_FN void look_pf_close(look_packet *packet)
{
    const size_t begin = packet->begin[--packet->depth], length = packet->n - begin;

    packet->bytes[begin - 2] = (char)((length & 127) | 128);
    packet->bytes[begin - 1] = (char)(length >> 7);
}

/* Begins a packet of the one sequence that there is. */
PERF_FN void look_pf_packet(look_packet *packet)
{
    packet->n = 0;
    packet->depth = 0;
    look_pf_open(packet, 1);
    look_pf_number(packet, 10, 1);
}

PERF_FN void look_pf_write(look_packet *packet, perf_file_ *file)
{
    look_pf_close(packet);
    memcpy(file->at, packet->bytes, packet->n);
    file->at += packet->n;
    if (file->at > file->limit)
        perf_file_flush_(file);
}

/* Says that times are those of the monotonic clock, from `ns` on. */
PERF_FN void look_pf_clock(perf_file_ *file, uint64_t ns)
{
    look_packet packet;

    look_pf_packet(&packet);
    look_pf_open(&packet, 6);
    look_pf_open(&packet, 1);
    look_pf_number(&packet, 1, LOOK_PF_MONOTONIC);
    look_pf_number(&packet, 2, ns);
    look_pf_close(&packet);
    look_pf_number(&packet, 2, LOOK_PF_MONOTONIC);
    look_pf_close(&packet);
    look_pf_write(&packet, file);
}

/* The process, whose track is its number. */
PERF_FN void look_pf_process(perf_file_ *file, uint64_t process, const char *name)
{
    look_packet packet;

    look_pf_packet(&packet);
    look_pf_open(&packet, 60);
    look_pf_number(&packet, 1, process);
    look_pf_open(&packet, 3);
    look_pf_number(&packet, 1, process);
    look_pf_text(&packet, 6, name);
    look_pf_close(&packet);
    look_pf_close(&packet);
    look_pf_write(&packet, file);
}

/* The track of a thread. */
PERF_FN void look_pf_thread(perf_file_ *file, uint64_t track, uint64_t process, uint64_t thread,
                            const char *name)
{
    look_packet packet;

    look_pf_packet(&packet);
    look_pf_open(&packet, 60);
    look_pf_number(&packet, 1, track);
    look_pf_open(&packet, 4);
    look_pf_number(&packet, 1, process);
    look_pf_number(&packet, 2, thread);
    if (*name)
        look_pf_text(&packet, 5, name);
    look_pf_close(&packet);
    look_pf_close(&packet);
    look_pf_write(&packet, file);
}

/* The track of a counter, or of spans that begin and end in any thread. */
PERF_FN void look_pf_track(perf_file_ *file, uint64_t track, uint64_t process, const char *name,
                           int counter)
{
    look_packet packet;

    look_pf_packet(&packet);
    look_pf_open(&packet, 60);
    look_pf_number(&packet, 1, track);
    look_pf_text(&packet, 2, name);
    look_pf_number(&packet, 5, process);
    if (counter) {
        look_pf_open(&packet, 8);
        look_pf_close(&packet);
    }
    look_pf_close(&packet);
    look_pf_write(&packet, file);
}

/* Begins an event; name NULL: an end or a value.  look_pf_event_end writes it. */
PERF_FN void look_pf_event(look_packet *packet, int type, uint64_t track, uint64_t ns,
                           const look_name *name)
{
    look_pf_packet(packet);
    look_pf_number(packet, 8, ns);
    look_pf_number(packet, 58, LOOK_PF_MONOTONIC);
    look_pf_open(packet, 11);
    look_pf_number(packet, 9, (uint64_t)type);
    look_pf_number(packet, 11, track);
    if (!name)
        return;
    look_pf_text(packet, 23, name->text);
    if (*name->file) {
        look_pf_open(packet, 33);
        look_pf_text(packet, 2, name->file);
        look_pf_number(packet, 4, name->line);
        look_pf_close(packet);
    }
}

PERF_FN void look_pf_event_end(look_packet *packet, perf_file_ *file)
{
    look_pf_close(packet);
    look_pf_write(packet, file);
}

/* ---- scopes in order of time ---- */

typedef struct look_slice {
    uint64_t start, end;                /* ns; end LOOK_PF_OPEN: it has not ended                 */
    uint64_t place;                     /* the smaller, the later it ended: outer ones first      */
    uint32_t name;
    size_t   remark;                    /* see look_event                                         */
} look_slice;
#define LOOK_PF_OPEN (~(uint64_t)0)

/* By begin; of those that begin at one moment the longest first. */
PERF_FN int look_slice_before(const void *a_, const void *b_)
{
    const look_slice *one = (const look_slice *)a_, *other = (const look_slice *)b_;

    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    if (one->end != other->end)
        return one->end > other->end ? -1 : 1;
    return (one->place > other->place) - (one->place < other->place);
}

#endif /* PERF_TOOLS_LOOK_PFTRACE_H */
