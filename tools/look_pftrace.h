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

PERF_FN void look_pf_varint(look_packet *p, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        p->bytes[p->n++] = (char)((v & 127) | 128);
    p->bytes[p->n++] = (char)v;
}

PERF_FN void look_pf_number(look_packet *p, unsigned field, uint64_t v)
{
    look_pf_varint(p, field << 3);
    look_pf_varint(p, v);
}

PERF_FN void look_pf_double(look_packet *p, unsigned field, double x)
{
    const uint64_t bits = perf_bits_(x);

    look_pf_varint(p, field << 3 | 1);
    memcpy(p->bytes + p->n, &bits, sizeof bits);
    p->n += sizeof bits;
}

/* A text as UTF-8; bytes that are none become '?'. */
PERF_FN void look_pf_text(look_packet *p, unsigned field, const char *text)
{
    char      clean[LOOK_NAME_BYTES + 1];
    perf_out_ o = perf_out_open_(clean, sizeof clean);

    perf_put_clean_(&o, text, 0);
    o.len = o.len < sizeof clean ? o.len : sizeof clean - 1;
    look_pf_varint(p, field << 3 | 2);
    look_pf_varint(p, o.len);
    memcpy(p->bytes + p->n, clean, o.len);
    p->n += o.len;
}

/* Begins a message inside; its length takes two bytes. */
PERF_FN void look_pf_open(look_packet *p, unsigned field)
{
    look_pf_varint(p, field << 3 | 2);
    p->n += 2;
    p->begin[p->depth++] = p->n;
}

PERF_FN void look_pf_close(look_packet *p)
{
    const size_t begin = p->begin[--p->depth], length = p->n - begin;

    p->bytes[begin - 2] = (char)((length & 127) | 128);
    p->bytes[begin - 1] = (char)(length >> 7);
}

/* Begins a packet of the one sequence that there is. */
PERF_FN void look_pf_packet(look_packet *p)
{
    p->n = 0;
    p->depth = 0;
    look_pf_open(p, 1);
    look_pf_number(p, 10, 1);
}

PERF_FN void look_pf_write(look_packet *p, perf_file_ *f)
{
    look_pf_close(p);
    memcpy(f->at, p->bytes, p->n);
    f->at += p->n;
    if (f->at > f->limit)
        perf_file_flush_(f);
}

/* Says that times are those of the monotonic clock, from `ns` on. */
PERF_FN void look_pf_clock(perf_file_ *f, uint64_t ns)
{
    look_packet p;

    look_pf_packet(&p);
    look_pf_open(&p, 6);
    look_pf_open(&p, 1);
    look_pf_number(&p, 1, LOOK_PF_MONOTONIC);
    look_pf_number(&p, 2, ns);
    look_pf_close(&p);
    look_pf_number(&p, 2, LOOK_PF_MONOTONIC);
    look_pf_close(&p);
    look_pf_write(&p, f);
}

/* The process, whose track is its number. */
PERF_FN void look_pf_process(perf_file_ *f, uint64_t process, const char *name)
{
    look_packet p;

    look_pf_packet(&p);
    look_pf_open(&p, 60);
    look_pf_number(&p, 1, process);
    look_pf_open(&p, 3);
    look_pf_number(&p, 1, process);
    look_pf_text(&p, 6, name);
    look_pf_close(&p);
    look_pf_close(&p);
    look_pf_write(&p, f);
}

/* The track of a thread. */
PERF_FN void look_pf_thread(perf_file_ *f, uint64_t track, uint64_t process, uint64_t thread,
                            const char *name)
{
    look_packet p;

    look_pf_packet(&p);
    look_pf_open(&p, 60);
    look_pf_number(&p, 1, track);
    look_pf_open(&p, 4);
    look_pf_number(&p, 1, process);
    look_pf_number(&p, 2, thread);
    if (*name)
        look_pf_text(&p, 5, name);
    look_pf_close(&p);
    look_pf_close(&p);
    look_pf_write(&p, f);
}

/* The track of a counter, or of spans that begin and end in any thread. */
PERF_FN void look_pf_track(perf_file_ *f, uint64_t track, uint64_t process, const char *name,
                           int counter)
{
    look_packet p;

    look_pf_packet(&p);
    look_pf_open(&p, 60);
    look_pf_number(&p, 1, track);
    look_pf_text(&p, 2, name);
    look_pf_number(&p, 5, process);
    if (counter) {
        look_pf_open(&p, 8);
        look_pf_close(&p);
    }
    look_pf_close(&p);
    look_pf_write(&p, f);
}

/* Begins an event; name NULL: an end or a value.  look_pf_event_end writes it. */
PERF_FN void look_pf_event(look_packet *p, int type, uint64_t track, uint64_t ns,
                           const look_name *name)
{
    look_pf_packet(p);
    look_pf_number(p, 8, ns);
    look_pf_number(p, 58, LOOK_PF_MONOTONIC);
    look_pf_open(p, 11);
    look_pf_number(p, 9, (uint64_t)type);
    look_pf_number(p, 11, track);
    if (!name)
        return;
    look_pf_text(p, 23, name->text);
    if (*name->file) {
        look_pf_open(p, 33);
        look_pf_text(p, 2, name->file);
        look_pf_number(p, 4, name->line);
        look_pf_close(p);
    }
}

PERF_FN void look_pf_event_end(look_packet *p, perf_file_ *f)
{
    look_pf_close(p);
    look_pf_write(p, f);
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
PERF_FN int look_slice_before(const void *one, const void *two)
{
    const look_slice *a = (const look_slice *)one, *b = (const look_slice *)two;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

#endif /* PERF_TOOLS_LOOK_PFTRACE_H */
