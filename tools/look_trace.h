/* look_trace.h - the rings of a program as a trace (Chrome's JSON or Perfetto's protobuf, both for
 * ui.perfetto.dev), and its call tree as a flame page or folded stacks.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_TRACE_H
#define PERF_TOOLS_LOOK_TRACE_H

#include "look_pftrace.h"

#define LOOK_RING_EVENTS   ((uint64_t)1 << 24)          /* of one thread                          */
#define LOOK_RETIRED_BYTES ((uint64_t)64 << 20)         /* of threads that have ended             */
#define LOOK_MORE          ((uint64_t)0xffffffff)       /* a duration that says: see before       */

typedef struct look_trace {
    perf_file_          file;
    look_target        *target;
    const look_program *program;
    const look_reading *now;
    const look_names   *names;
    const look_report  *report;         /* for the flame                                          */
    const char         *title;
    uint64_t            events, missed; /* written; overwritten while they were read              */
    int                 some;           /* 1: a comma comes before the next one                   */
    int                 protobuf;       /* 1: Perfetto's packets, 0: JSON                         */
    look_slice         *slice;          /* of the thread that is being written, as protobuf       */
    size_t              slices, room;
    uint64_t            tracks;         /* of threads, so far                                     */
    unsigned char      *told;           /* by name: 1, its own track is described                 */
} look_trace;

typedef struct look_event {             /* one, decoded                                           */
    uint64_t start, length, extra;      /* extra: bits of a counter's value, id of a span         */
    uint32_t name, kind;
    size_t   remark;                    /* index of its number or text; the number of all: none   */
} look_event;

/* ---- events ---- */

PERF_FN int look_is_part(uint64_t what)
{
    return !(what >> 32 & 0xffffff);
}

/* Decodes entry *i, newest first, and moves *i behind it.  0: it is not whole. */
PERF_FN int look_event_at(const look_trace *writer, const uint64_t *entry, size_t n, size_t *i,
                          look_event *event)
{
    const size_t   at = (*i)++;
    const uint64_t what = entry[2 * at + 1];
    size_t         parts = 0;

    memset(event, 0, sizeof *event);
    event->name = (uint32_t)(what >> 32) & 0xffffff;
    event->start = entry[2 * at];
    event->length = what & LOOK_MORE;
    event->remark = n;
    if (!event->name || event->name >= writer->names->count)
        return 0;
    event->kind = writer->names->name[event->name].kind;
    if (event->length == LOOK_MORE)
        parts = event->kind == LOOK_ASYNC ? 2 : 1;
    if (parts > n - *i)
        return 0;
    if (parts && entry[2 * *i + 1])
        return 0;                               /* its first half is overwritten                  */
    if (parts)
        event->length = entry[2 * *i];
    if (parts == 2)
        event->extra = entry[2 * (*i + 1)];
    *i += parts;
    if (event->kind == LOOK_COUNTER) {
        event->extra = event->length;
        event->length = 0;
    }
    if (*i < n && entry[2 * *i + 1] && look_is_part(entry[2 * *i + 1]))
        event->remark = *i;
    while (*i < n && entry[2 * *i + 1] && look_is_part(entry[2 * *i + 1]))
        ++*i;
    return 1;
}

PERF_FN uint64_t look_ns_of(const look_reading *reading, uint64_t ticks)
{
    const uint64_t from = reading->clock ? reading->made_ns : reading->made_ticks;
    const double   ns = (double)(int64_t)(ticks - from) * reading->tick_ns;

    return reading->made_ns + (uint64_t)(int64_t)ns;
}

PERF_FN void look_put_us(perf_file_ *file, const char *lead, uint64_t ns)
{
    perf_file_putf_(file, "%s%.0f.", lead, (double)(ns / 1000));
    perf_file_putf_(file, "%.0f%.0f%.0f", (double)(ns / 100 % 10), (double)(ns / 10 % 10),
                    (double)(ns % 10));
}

/* ,"args":{"name":"..."} */
PERF_FN void look_put_args_name(perf_file_ *file, const char *name)
{
    perf_file_put_(file, ",\"args\":{\"name\":");
    perf_file_json_(file, name);
    perf_file_put_(file, "}");
}

/* Where a name stands in the source. */
PERF_FN void look_put_place(perf_file_ *file, const look_name *name)
{
    perf_file_put_(file, ",\"args\":{\"source_file\":");
    perf_file_json_(file, name->file);
    perf_file_putf_(file, ",\"source_line\":%.0f}", (double)name->line);
}

/* The begin of a record, up to its time. */
PERF_FN void look_record(look_trace *writer, const char *head, const char *name)
{
    if (writer->file.at > writer->file.limit)
        perf_file_flush_(&writer->file);
    perf_file_putf_(&writer->file, "%s\n{\"ph\":\"%s\",\"name\":", writer->some ? "," : "", head);
    perf_file_json_(&writer->file, name);
    writer->some = 1;
}

PERF_FN void look_record_end(look_trace *writer, uint64_t thread)
{
    perf_file_putf_(&writer->file, ",\"pid\":%.0f,\"tid\":%.0f}", (double)writer->now->process,
                    (double)thread);
    writer->events++;
}

enum { LOOK_REMARK_BYTES = 72 };

/* The text of a remark, whose first 8 bytes are at `at`. */
PERF_FN void look_remark_text(const uint64_t *entry, size_t n, size_t at, char *text)
{
    size_t i;

    memset(text, 0, LOOK_REMARK_BYTES);
    for (i = 0; i < 8 && at + i < n && (!i || (entry[2 * (at + i) + 1] & 0xff) == 3); i++)
        memcpy(text + 8 * i, &entry[2 * (at + i)], 8);
}

/* A number of the user, as perf_chrome.h has it. */
PERF_FN void look_put_real(perf_file_ *file, double x)
{
    perf_out_ out = perf_file_out_(file);

    perf_put_real_(&out, x);
    perf_file_wrote_(file, &out);
}

/* The number or text of an instant. */
PERF_FN void look_put_remark(look_trace *writer, const uint64_t *entry, size_t n, size_t at)
{
    const uint64_t what = entry[2 * at + 1];
    const uint32_t name = (uint32_t)(what >> 8) & 0xffffff;
    char           text[LOOK_REMARK_BYTES];
    double         x = perf_from_bits_(entry[2 * at]);

    look_remark_text(entry, n, at, text);
    perf_file_put_(&writer->file, ",\"args\":{");
    perf_file_json_(&writer->file, look_name_text(writer->names, name));
    perf_file_put_(&writer->file, ":");
    if ((what & 0xff) == 2)
        perf_file_json_(&writer->file, text);
    else
        look_put_real(&writer->file, x);
    perf_file_put_(&writer->file, "}");
}

PERF_FN void look_put_event(look_trace *writer, const uint64_t *entry, size_t n,
                            const look_event *event, uint64_t thread)
{
    const look_name *name = &writer->names->name[event->name];
    const uint64_t   start = look_ns_of(writer->now, event->start);
    const uint64_t   end = look_ns_of(writer->now, event->start + event->length);
    const double     value = perf_from_bits_(event->extra);
    int              half;

    if (event->kind == LOOK_ASYNC) {
        for (half = 0; half < 2; half++) {
            look_record(writer, half ? "e\",\"cat\":\"async" : "b\",\"cat\":\"async", name->text);
            look_put_us(&writer->file, ",\"ts\":", half ? end : start);
            perf_file_put_(&writer->file, ",\"id\":\"");    /* as perf_chrome.h has it             */
            writer->file.at = perf_digits_(writer->file.at, event->extra);
            perf_file_putf_(&writer->file, "/%.0f\"", (double)event->name);
            look_record_end(writer, thread);
        }
        return;
    }
    if (event->kind == LOOK_COUNTER) {
        look_record(writer, "C", name->text);
        look_put_us(&writer->file, ",\"ts\":", start);
        perf_file_put_(&writer->file, ",\"args\":{\"value\":");
        look_put_real(&writer->file, value);
        perf_file_put_(&writer->file, "}");
        look_record_end(writer, thread);
        return;
    }
    look_record(writer, event->kind == LOOK_INSTANT ? "i\",\"s\":\"t" : "X", name->text);
    if (event->remark < n)
        look_put_remark(writer, entry, n, event->remark);
    else if (*name->file)
        look_put_place(&writer->file, name);
    look_put_us(&writer->file, ",\"ts\":", start);
    if (event->kind != LOOK_INSTANT)
        look_put_us(&writer->file, ",\"dur\":", end >= start ? end - start : 0);
    look_record_end(writer, thread);
}

/* ---- the same as protobuf ---- */

/* A debug annotation: the number or text of an event. */
PERF_FN void look_pf_remark(look_trace *writer, look_packet *packet, const uint64_t *entry,
                            size_t n, size_t at)
{
    const uint64_t what = entry[2 * at + 1];
    const uint32_t name = (uint32_t)(what >> 8) & 0xffffff;
    char           text[LOOK_REMARK_BYTES];

    look_pf_open(packet, 4);
    look_pf_text(packet, 10, look_name_text(writer->names, name));
    look_remark_text(entry, n, at, text);
    if ((what & 0xff) == 2)
        look_pf_text(packet, 6, text);
    else
        look_pf_double(packet, 5, perf_from_bits_(entry[2 * at]));
    look_pf_close(packet);
}

/* Keeps a scope until all of its thread are there. */
PERF_FN void look_pf_keep(look_trace *writer, uint32_t name, uint64_t start, uint64_t end,
                          size_t remark)
{
    look_slice *slice;

    if (writer->slices == writer->room) {
        writer->room = 2 * writer->room + 1024;
        writer->slice = (look_slice *)ab_grow(writer->slice, writer->room, sizeof *writer->slice);
    }
    slice = &writer->slice[writer->slices];
    slice->start = start;
    slice->end = end;
    slice->place = writer->slices++;
    slice->name = name;
    slice->remark = remark;
}

/* A number that no thread's track has, for what has a track by its name. */
PERF_FN uint64_t look_pf_own_track(const look_trace *writer, const look_event *event)
{
    uint64_t track = (uint64_t)1 << 63 | writer->now->process << 32 | (uint64_t)event->name << 8;

    if (event->kind == LOOK_ASYNC)
        track |= event->extra & 255;            /* spans that overlap lie on different tracks     */
    return track;
}

/* An event that is no scope. */
PERF_FN void look_pf_other(look_trace *writer, const uint64_t *entry, size_t n,
                           const look_event *event, uint64_t thread)
{
    const look_name *name = &writer->names->name[event->name];
    const uint64_t   own = look_pf_own_track(writer, event),
                     start = look_ns_of(writer->now, event->start);
    look_packet      packet;

    if (event->kind == LOOK_INSTANT) {
        look_pf_event(&packet, LOOK_PF_INSTANT, thread, start, name);
        if (event->remark < n)
            look_pf_remark(writer, &packet, entry, n, event->remark);
        look_pf_event_end(&packet, &writer->file);
        writer->events++;
        return;
    }
    if (event->kind == LOOK_ASYNC || !writer->told[event->name])
        look_pf_track(&writer->file, own, writer->now->process, name->text,
                      event->kind == LOOK_COUNTER);
    writer->told[event->name] = 1;
    if (event->kind == LOOK_COUNTER) {
        look_pf_event(&packet, LOOK_PF_COUNTER, own, start, NULL);
        look_pf_double(&packet, 44, perf_from_bits_(event->extra));
        look_pf_event_end(&packet, &writer->file);
    } else {
        look_pf_event(&packet, LOOK_PF_BEGIN, own, start, name);
        look_pf_event_end(&packet, &writer->file);
        look_pf_event(&packet, LOOK_PF_END, own,
                      look_ns_of(writer->now, event->start + event->length), NULL);
        look_pf_event_end(&packet, &writer->file);
    }
    writer->events++;
}

/* Writes the ends of scopes that are over at `ns`; `stack` has those that are open. */
PERF_FN size_t look_pf_ends(look_trace *writer, const uint64_t *stack, size_t top, uint64_t ns,
                            uint64_t thread)
{
    look_packet packet;

    for (; top && stack[top - 1] <= ns && stack[top - 1] != LOOK_PF_OPEN; top--) {
        look_pf_event(&packet, LOOK_PF_END, thread, stack[top - 1], NULL);
        look_pf_event_end(&packet, &writer->file);
    }
    return top;
}

/* Begins and ends of the scopes that were kept, in order of time. */
PERF_FN void look_pf_slices(look_trace *writer, const uint64_t *entry, size_t n, uint64_t thread)
{
    uint64_t   *stack = (uint64_t *)ab_grow(NULL, writer->slices + 1, sizeof *stack);
    look_packet packet;
    size_t      i, top = 0;

    if (writer->slices)
        qsort(writer->slice, writer->slices, sizeof *writer->slice, look_slice_before);
    for (i = 0; i < writer->slices; i++) {
        const look_slice *slice = &writer->slice[i];
        top = look_pf_ends(writer, stack, top, slice->start, thread);
        look_pf_event(&packet, LOOK_PF_BEGIN, thread, slice->start,
                      &writer->names->name[slice->name]);
        if (slice->remark < n)
            look_pf_remark(writer, &packet, entry, n, slice->remark);
        look_pf_event_end(&packet, &writer->file);
        stack[top] = slice->end;                /* none outlives the one around it                */
        if (top && stack[top - 1] < slice->end)
            stack[top] = stack[top - 1];
        top++;
    }
    (void)look_pf_ends(writer, stack, top, LOOK_PF_OPEN - 1, thread);
    writer->events += writer->slices;
    writer->slices = 0;
    free(stack);
}

/* A thread: its track, its events, and the scopes `open` in it (NULL: none). */
PERF_FN void look_pf_entries(look_trace *writer, const uint64_t *entry, size_t n, uint64_t thread,
                             const char *name, const look_open *open)
{
    const uint64_t track = (uint64_t)1 << 62 | writer->now->process << 24 | writer->tracks++;
    look_event     event;
    size_t         i = 0;
    uint32_t       k;

    look_pf_thread(&writer->file, track, writer->now->process, thread, name);
    for (k = 0; open && k < open->n; k++)
        if (open->since[k] && open->name[k] && open->name[k] < writer->names->count)
            look_pf_keep(writer, open->name[k], look_ns_of(writer->now, open->since[k]),
                         LOOK_PF_OPEN, n);
    while (i < n) {
        if (!look_event_at(writer, entry, n, &i, &event))
            continue;
        if (event.kind == LOOK_ASYNC || event.kind == LOOK_COUNTER || event.kind == LOOK_INSTANT)
            look_pf_other(writer, entry, n, &event, track);
        else
            look_pf_keep(writer, event.name, look_ns_of(writer->now, event.start),
                         look_ns_of(writer->now, event.start + event.length), event.remark);
    }
    look_pf_slices(writer, entry, n, track);
}

/* ---- threads ---- */

PERF_FN void look_put_entries(look_trace *writer, const uint64_t *entry, size_t n, uint64_t thread,
                              const char *name)
{
    look_event event;
    size_t     i = 0;

    if (*name) {
        look_record(writer, "M", "thread_name");
        look_put_args_name(&writer->file, name);
        look_record_end(writer, thread);
    }
    while (i < n)
        if (look_event_at(writer, entry, n, &i, &event))
            look_put_event(writer, entry, n, &event, thread);
}

/* The ring of a thread, newest first, less what was overwritten meanwhile.  1: nothing was written
 * since the thread was read.                                                                     */
PERF_FN int look_put_ring(look_trace *writer, const look_thread *thread)
{
    const uint64_t events = writer->now->ring_events, room = 16 * events;
    uint64_t       head = thread->ring_head, next = 0, n, i, first, *ring, *entry, parts, gone;
    const look_layout *layout = &writer->program->layout;
    int                whole;

    (void)look_fetch_one(writer->target, thread->at + layout->at[LOOK_RECORDER_RING_HEAD], &head,
                         8);
    if (!thread->ring || !events || events > LOOK_RING_EVENTS || events & (events - 1) ||
        thread->reset || head < thread->ring_lost || head & 15) {
        if (writer->protobuf && !thread->reset)
            look_pf_entries(writer, NULL, 0, thread->id, thread->name, &thread->open);
        return 1;
    }
    n = (head - thread->ring_lost) / 16;
    n = n < events ? n : events;
    ring = (uint64_t *)ab_grow(NULL, (size_t)n + 1, 16);
    entry = (uint64_t *)ab_grow(NULL, (size_t)n + 1, 16);
    first = (head - 16 * n) & (room - 1);
    parts = (room - first) / 16 < n ? (room - first) / 16 : n;
    if (!look_fetch_one(writer->target, thread->ring + first, ring, (size_t)(16 * parts)) ||
        !look_fetch_one(writer->target, thread->ring, ring + 2 * parts, (size_t)(16 * (n - parts))))
        n = 0;
    (void)look_fetch_one(writer->target, thread->at + layout->at[LOOK_RECORDER_RING_NEXT], &next,
                         8);
    gone = 0;                                   /* oldest ones that newer ones took the place of  */
    if (next > head)
        gone = n + (next - head) / 16 + 9 > events ? n + (next - head) / 16 + 9 - events : 0;
    gone = gone < n ? gone : n;
    for (i = 0; i < n - gone; i++)
        memcpy(&entry[2 * i], &ring[2 * (n - 1 - i)], 16);
    writer->missed += gone;
    whole = head == thread->ring_head;
    if (writer->protobuf)
        look_pf_entries(writer, entry, (size_t)(n - gone), thread->id, thread->name,
                        whole ? &thread->open : NULL);
    else
        look_put_entries(writer, entry, (size_t)(n - gone), thread->id, thread->name);
    free(ring);
    free(entry);
    return whole;
}

/* Scopes that are open begin, and do not end. */
PERF_FN void look_put_begun(look_trace *writer, const look_thread *thread)
{
    uint32_t i;

    for (i = 0; i < thread->open.n; i++) {
        if (!thread->open.since[i])
            continue;
        look_record(writer, "B", look_name_text(writer->names, thread->open.name[i]));
        look_put_us(&writer->file, ",\"ts\":", look_ns_of(writer->now, thread->open.since[i]));
        look_record_end(writer, thread->id);
    }
}

/* What is kept of threads whose recorders others have taken over. */
PERF_FN void look_put_retired(look_trace *writer)
{
    const look_layout *layout = &writer->program->layout;
    const size_t       head = (size_t)layout->at[LOOK_RETIRED_SIZE];
    uint64_t           at = writer->now->retired, left = writer->now->retired_bytes, word[3],
                       *entry;
    size_t             n;
    char               name[32];

    while (at && left > head && left <= LOOK_RETIRED_BYTES) {
        if (!look_fetch_one(writer->target, at, word, sizeof word) || word[2] > (left - head) / 16)
            return;
        (void)look_fetch_one(writer->target, at + layout->at[LOOK_RETIRED_NAME], name, sizeof name);
        name[sizeof name - 1] = '\0';
        entry = (uint64_t *)ab_grow(NULL, (size_t)word[2] + 1, 16);
        n = (size_t)word[2];
        if (!look_fetch_one(writer->target, at + head, entry, n * 16))
            n = 0;
        if (writer->protobuf)
            look_pf_entries(writer, entry, n, word[0], name, NULL);
        else
            look_put_entries(writer, entry, n, word[0], name);
        free(entry);
        at += head + 16 * word[2];
        left -= head + 16 * word[2];
    }
}

PERF_FN void look_write_trace(void *with)
{
    look_trace *writer = (look_trace *)with;
    size_t      i;

    perf_file_putf_(&writer->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    look_record(writer, "M", "process_name");
    look_put_args_name(&writer->file, writer->title);
    look_record_end(writer, 0);
    for (i = 0; i < writer->now->threads; i++) {
        if (look_put_ring(writer, &writer->now->thread[i]))
            look_put_begun(writer, &writer->now->thread[i]);
    }
    look_put_retired(writer);
    perf_file_putf_(&writer->file, "\n],\"otherData\":{\"overwritten_events\":%.0f}}\n",
                    (double)writer->missed);
    perf_file_flush_(&writer->file);
}

/* The same as Perfetto's protobuf. */
PERF_FN void look_write_protobuf(void *with)
{
    look_trace *writer = (look_trace *)with;
    size_t      i;

    writer->told = (unsigned char *)ab_grow(NULL, writer->names->count + 1, 1);
    memset(writer->told, 0, writer->names->count + 1);
    look_pf_clock(&writer->file, writer->now->made_ns);
    look_pf_process(&writer->file, writer->now->process, writer->title);
    for (i = 0; i < writer->now->threads; i++)
        (void)look_put_ring(writer, &writer->now->thread[i]);
    look_put_retired(writer);
    perf_file_flush_(&writer->file);
    free(writer->told);
    free(writer->slice);
    writer->told = NULL;
    writer->slice = NULL;
    writer->room = 0;
}

/* 1: the text ends so. */
PERF_FN int look_ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n > m && !strcmp(text + n - m, end);
}

/* Saves the rings; an exit status. */
PERF_FN int look_save(look_trace *writer, const char *path, void (*write)(void *))
{
    const perf_status status = perf_file_save_(path, &writer->file, write, writer);

    if (status == PERF_OK)
        return 0;
    fprintf(stderr, "perf-ab: %.300s cannot be written: %s\n", path, perf_status_text(status));
    return AB_UNUSABLE;
}

PERF_FN int look_save_trace(look_target *target, const look_program *program,
                            const look_reading *reading, const look_names *names, const char *path)
{
    look_trace trace;

    memset(&trace, 0, sizeof trace);
    trace.target = target;
    trace.program = program;
    trace.now = reading;
    trace.names = names;
    trace.title = target->program;
    target->bytes = 0;
    trace.protobuf = look_ends_in(path, ".pftrace") || look_ends_in(path, ".perfetto-trace");
    return look_save(&trace, path, trace.protobuf ? look_write_protobuf : look_write_trace);
}

/* ---- the call tree ---- */

/* A name of a folded stack: without what separates names and lines. */
PERF_FN void look_put_folded_name(perf_file_ *file, const char *name)
{
    char text[LOOK_NAME_BYTES + 1], *at;

    snprintf(text, sizeof text, "%s", name);
    for (at = text; *at; at++)
        if (*at == ';' || (unsigned char)*at < ' ')
            *at = '_';
    perf_file_put_(file, text);
}

PERF_FN void look_write_folded(void *with)
{
    look_trace        *writer = (look_trace *)with;
    const look_report *rep = writer->report;
    uint32_t           i, path[LOOK_TREE_DEPTH + 1], n, at;

    for (i = look_tree_next(rep, 0); i; i = look_tree_next(rep, i)) {
        if (!rep->node[i].self)
            continue;
        for (n = 0, at = i; at && n <= LOOK_TREE_DEPTH; at = rep->node[at].parent)
            path[n++] = at;
        while (n) {
            if (writer->file.at > writer->file.limit)
                perf_file_flush_(&writer->file);
            look_put_folded_name(&writer->file,
                                 look_name_shown(rep->names, rep->node[path[--n]].name));
            perf_file_put_(&writer->file, n ? ";" : "");
        }
        perf_file_putf_(&writer->file, " %.0f\n", (double)rep->node[i].self * rep->now->tick_ns);
    }
    perf_file_flush_(&writer->file);
}

/* Text of a page. */
PERF_FN void look_put_html(perf_file_ *file, const char *text)
{
    char part[2] = {0, 0};

    for (; *text; text++) {
        part[0] = *text;
        perf_file_put_(file, *text == '<' ? "&lt;" : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;" : part);
    }
}

/* A box for a node and one inside it for each child. */
PERF_FN void look_write_boxes(look_trace *writer, uint32_t i)
{
    const look_report *rep = writer->report;
    const look_node   *node = &rep->node[i];
    const double       up = (double)rep->node[node->parent].total + 1e-9;
    uint32_t           k;

    if (writer->file.at > writer->file.limit)
        perf_file_flush_(&writer->file);
    perf_file_putf_(&writer->file, "<div tabindex=0 role=button style=\"width:%.3f%%\" title=\"",
                    (double)node->total / up * 100);
    look_put_html(&writer->file, look_name_shown(rep->names, node->name));
    {
        perf_out_ out = perf_file_out_(&writer->file);
        perf_put_(&out, ": ");
        perf_put_ns_(&out, (double)node->total * rep->now->tick_ns);
        perf_put_(&out, ", self ");
        perf_put_ns_(&out, (double)node->self * rep->now->tick_ns);
        perf_put_number_(&out, ", ", (double)node->calls, 0);
        perf_put_(&out, " calls\"><b>");
        perf_file_wrote_(&writer->file, &out);
    }
    look_put_html(&writer->file, look_name_shown(rep->names, node->name));
    perf_file_put_(&writer->file, "</b><section>");
    for (k = node->first; k; k = rep->node[k].next)
        if ((double)rep->node[k].total * 5000 >= (double)rep->node[0].total)
            look_write_boxes(writer, k);
    perf_file_put_(&writer->file, "</section></div>\n");
}

/* What makes the page zoom: the chosen scope and those around it get the whole width, those beside
 * them are hidden.                                                                               */
PERF_FN void look_write_zoom(look_trace *writer)
{
    perf_file_put_(&writer->file,
        "<script>\n"
        "const all=document.getElementById('all'),says=document.getElementById('says');\n"
        "let here=null;\n"
        "function zoom(to){\n"
        "  for(const e of all.querySelectorAll('div'))e.classList.remove('wide','out','here');\n"
        "  here=to;\n"
        "  if(!to){says.textContent='The whole.';return}\n"
        "  to.classList.add('wide','here');\n"
        "  says.textContent=to.title;\n"
        "  for(let e=to;e!==all;e=e.parentElement){\n"
        "    if(e.tagName!=='DIV')continue;\n"
        "    e.classList.add('wide');\n"
        "    for(const o of e.parentElement.children)if(o!==e)o.classList.add('out');\n"
        "  }\n"
        "}\n"
        "all.onclick=event=>{\n"
        "  const e=event.target.closest('#all div');\n"
        "  if(e)zoom(e===here?e.parentElement.closest('#all div'):e);\n"
        "};\n"
        "onkeydown=event=>{\n"
        "  if(event.key==='Escape')zoom(null);\n"
        "  if(event.key==='Enter')event.target.click();\n"
        "};\n"
        "</script>\n");
}

PERF_FN void look_write_page(void *with)
{
    look_trace *writer = (look_trace *)with;
    uint32_t    k;

    perf_file_put_(&writer->file, "<!DOCTYPE html><meta charset=\"utf-8\"><title>");
    look_put_html(&writer->file, writer->title);
    perf_file_put_(&writer->file,
                   "</title><meta name=\"viewport\" content=\"width=device-width\">"
                   "<style>:root{color-scheme:light dark}"
                   "body{font:13px sans-serif;margin:8px}div{display:inline-block;"
                   "vertical-align:top;overflow:hidden}b{display:block;margin:1px;"
                   "padding:2px;background:#fb8;color:#222;overflow:hidden;"
                   "white-space:nowrap;font-weight:400;cursor:zoom-in}"
                   "b:hover{background:#fd5}section{display:flex}"
                   "div.wide{width:100%!important}div.out{display:none}"
                   "div.wide>b{background:#ddd}div.here>b{background:#fd5}"
                   "#says{min-height:1.4em;overflow-wrap:anywhere}"
                   "h1{overflow-wrap:anywhere}</style><h1>");
    look_put_html(&writer->file, writer->title);
    perf_file_put_(&writer->file,
                   "</h1><output id=\"says\">Tap a scope, or Tab and Enter, to zoom; "
                   "again to go back; Escape shows all."
                   "</output><section id=\"all\">\n");
    for (k = writer->report->nodes ? writer->report->node[0].first : 0; k;
         k = writer->report->node[k].next)
        look_write_boxes(writer, k);
    perf_file_put_(&writer->file, "</section>\n");
    look_write_zoom(writer);
    perf_file_flush_(&writer->file);
}

/* Saves the call tree: a page where the name ends in .html, else folded stacks. */
PERF_FN int look_save_flame(const look_report *rep, const char *title, const char *path)
{
    look_trace   trace;
    char         shown[64];

    memset(&trace, 0, sizeof trace);
    snprintf(shown, sizeof shown, "%.60s", title);
    ab_make_safe(shown);
    trace.report = rep;
    trace.names = rep->names;
    trace.title = shown;
    return look_save(&trace, path,
                     look_ends_in(path, ".html") ? look_write_page : look_write_folded);
}

#endif /* PERF_TOOLS_LOOK_TRACE_H */
