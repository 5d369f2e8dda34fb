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
PERF_FN int look_event_at(const look_trace *w, const uint64_t *entry, size_t n, size_t *i,
                          look_event *e)
{
    const size_t   at = (*i)++;
    const uint64_t what = entry[2 * at + 1];
    size_t         parts = 0;

    memset(e, 0, sizeof *e);
    e->name = (uint32_t)(what >> 32) & 0xffffff;
    e->start = entry[2 * at];
    e->length = what & LOOK_MORE;
    e->remark = n;
    if (!e->name || e->name >= w->names->count)
        return 0;
    e->kind = w->names->name[e->name].kind;
    if (e->length == LOOK_MORE)
        parts = e->kind == LOOK_ASYNC ? 2 : 1;
    if (parts > n - *i)
        return 0;
    if (parts && entry[2 * *i + 1])
        return 0;                               /* its first half is overwritten                  */
    if (parts)
        e->length = entry[2 * *i];
    if (parts == 2)
        e->extra = entry[2 * (*i + 1)];
    *i += parts;
    if (e->kind == LOOK_COUNTER) {
        e->extra = e->length;
        e->length = 0;
    }
    if (*i < n && entry[2 * *i + 1] && look_is_part(entry[2 * *i + 1]))
        e->remark = *i;
    while (*i < n && entry[2 * *i + 1] && look_is_part(entry[2 * *i + 1]))
        ++*i;
    return 1;
}

PERF_FN uint64_t look_ns_of(const look_reading *r, uint64_t ticks)
{
    const uint64_t from = r->clock ? r->made_ns : r->made_ticks;
    const double   ns = (double)(int64_t)(ticks - from) * r->tick_ns;

    return r->made_ns + (uint64_t)(int64_t)ns;
}

PERF_FN void look_put_us(perf_file_ *f, const char *lead, uint64_t ns)
{
    perf_file_putf_(f, "%s%.0f.", lead, (double)(ns / 1000));
    perf_file_putf_(f, "%.0f%.0f%.0f", (double)(ns / 100 % 10), (double)(ns / 10 % 10),
                    (double)(ns % 10));
}

/* ,"args":{"name":"..."} */
PERF_FN void look_put_args_name(perf_file_ *f, const char *name)
{
    perf_file_put_(f, ",\"args\":{\"name\":");
    perf_file_json_(f, name);
    perf_file_put_(f, "}");
}

/* Where a name stands in the source. */
PERF_FN void look_put_place(perf_file_ *f, const look_name *name)
{
    perf_file_put_(f, ",\"args\":{\"source_file\":");
    perf_file_json_(f, name->file);
    perf_file_putf_(f, ",\"source_line\":%.0f}", (double)name->line);
}

/* The begin of a record, up to its time. */
PERF_FN void look_record(look_trace *w, const char *head, const char *name)
{
    if (w->file.at > w->file.limit)
        perf_file_flush_(&w->file);
    perf_file_putf_(&w->file, "%s\n{\"ph\":\"%s\",\"name\":", w->some ? "," : "", head);
    perf_file_json_(&w->file, name);
    w->some = 1;
}

PERF_FN void look_record_end(look_trace *w, uint64_t thread)
{
    perf_file_putf_(&w->file, ",\"pid\":%.0f,\"tid\":%.0f}", (double)w->now->process,
                    (double)thread);
    w->events++;
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

/* The number or text of an instant. */
PERF_FN void look_put_remark(look_trace *w, const uint64_t *entry, size_t n, size_t at)
{
    const uint64_t what = entry[2 * at + 1];
    const uint32_t name = (uint32_t)(what >> 8) & 0xffffff;
    char           text[LOOK_REMARK_BYTES];
    double         x = perf_from_bits_(entry[2 * at]);

    look_remark_text(entry, n, at, text);
    perf_file_put_(&w->file, ",\"args\":{");
    perf_file_json_(&w->file, look_name_text(w->names, name));
    perf_file_put_(&w->file, ":");
    if ((what & 0xff) == 2) {
        perf_file_json_(&w->file, text);
        perf_file_put_(&w->file, "}");
    } else if (perf_is_finite_(x))
        perf_file_putf_(&w->file, "%.6f}", x);
    else
        perf_file_putf_(&w->file, "null}");
}

PERF_FN void look_put_event(look_trace *w, const uint64_t *entry, size_t n, const look_event *e,
                            uint64_t thread)
{
    const look_name *name = &w->names->name[e->name];
    const uint64_t   start = look_ns_of(w->now, e->start);
    const uint64_t   end = look_ns_of(w->now, e->start + e->length);
    const double     value = perf_from_bits_(e->extra);
    int              half;

    if (e->kind == LOOK_ASYNC) {
        for (half = 0; half < 2; half++) {
            look_record(w, half ? "e\",\"cat\":\"async" : "b\",\"cat\":\"async", name->text);
            look_put_us(&w->file, ",\"ts\":", half ? end : start);
            perf_file_putf_(&w->file, ",\"id\":\"%.0f\"", (double)e->extra);
            look_record_end(w, thread);
        }
        return;
    }
    if (e->kind == LOOK_COUNTER) {
        look_record(w, "C", name->text);
        look_put_us(&w->file, ",\"ts\":", start);
        if (perf_is_finite_(value))
            perf_file_putf_(&w->file, ",\"args\":{\"value\":%.6f}", value);
        look_record_end(w, thread);
        return;
    }
    look_record(w, e->kind == LOOK_INSTANT ? "i\",\"s\":\"t" : "X", name->text);
    if (e->remark < n)
        look_put_remark(w, entry, n, e->remark);
    else if (*name->file)
        look_put_place(&w->file, name);
    look_put_us(&w->file, ",\"ts\":", start);
    if (e->kind != LOOK_INSTANT)
        look_put_us(&w->file, ",\"dur\":", end >= start ? end - start : 0);
    look_record_end(w, thread);
}

/* ---- the same as protobuf ---- */

/* A debug annotation: the number or text of an event. */
PERF_FN void look_pf_remark(look_trace *w, look_packet *p, const uint64_t *entry, size_t n,
                            size_t at)
{
    const uint64_t what = entry[2 * at + 1];
    const uint32_t name = (uint32_t)(what >> 8) & 0xffffff;
    char           text[LOOK_REMARK_BYTES];

    look_pf_open(p, 4);
    look_pf_text(p, 10, look_name_text(w->names, name));
    look_remark_text(entry, n, at, text);
    if ((what & 0xff) == 2)
        look_pf_text(p, 6, text);
    else
        look_pf_double(p, 5, perf_from_bits_(entry[2 * at]));
    look_pf_close(p);
}

/* Keeps a scope until all of its thread are there. */
PERF_FN void look_pf_keep(look_trace *w, uint32_t name, uint64_t start, uint64_t end, size_t remark)
{
    look_slice *s;

    if (w->slices == w->room) {
        w->room = 2 * w->room + 1024;
        w->slice = (look_slice *)ab_grow(w->slice, w->room, sizeof *w->slice);
    }
    s = &w->slice[w->slices];
    s->start = start;
    s->end = end;
    s->place = w->slices++;
    s->name = name;
    s->remark = remark;
}

/* A number that no thread's track has, for what has a track by its name. */
PERF_FN uint64_t look_pf_own_track(const look_trace *w, const look_event *e)
{
    uint64_t track = (uint64_t)1 << 63 | w->now->process << 32 | (uint64_t)e->name << 8;

    if (e->kind == LOOK_ASYNC)
        track |= e->extra & 255;                /* spans that overlap lie on different tracks     */
    return track;
}

/* An event that is no scope. */
PERF_FN void look_pf_other(look_trace *w, const uint64_t *entry, size_t n, const look_event *e,
                           uint64_t thread)
{
    const look_name *name = &w->names->name[e->name];
    const uint64_t   own = look_pf_own_track(w, e), start = look_ns_of(w->now, e->start);
    look_packet      p;

    if (e->kind == LOOK_INSTANT) {
        look_pf_event(&p, LOOK_PF_INSTANT, thread, start, name);
        if (e->remark < n)
            look_pf_remark(w, &p, entry, n, e->remark);
        look_pf_event_end(&p, &w->file);
        w->events++;
        return;
    }
    if (e->kind == LOOK_ASYNC || !w->told[e->name])
        look_pf_track(&w->file, own, w->now->process, name->text, e->kind == LOOK_COUNTER);
    w->told[e->name] = 1;
    if (e->kind == LOOK_COUNTER) {
        look_pf_event(&p, LOOK_PF_COUNTER, own, start, NULL);
        look_pf_double(&p, 44, perf_from_bits_(e->extra));
        look_pf_event_end(&p, &w->file);
    } else {
        look_pf_event(&p, LOOK_PF_BEGIN, own, start, name);
        look_pf_event_end(&p, &w->file);
        look_pf_event(&p, LOOK_PF_END, own, look_ns_of(w->now, e->start + e->length), NULL);
        look_pf_event_end(&p, &w->file);
    }
    w->events++;
}

/* Writes the ends of scopes that are over at `ns`; `stack` has those that are open. */
PERF_FN size_t look_pf_ends(look_trace *w, const uint64_t *stack, size_t top, uint64_t ns,
                            uint64_t thread)
{
    look_packet p;

    for (; top && stack[top - 1] <= ns && stack[top - 1] != LOOK_PF_OPEN; top--) {
        look_pf_event(&p, LOOK_PF_END, thread, stack[top - 1], NULL);
        look_pf_event_end(&p, &w->file);
    }
    return top;
}

/* Begins and ends of the scopes that were kept, in order of time. */
PERF_FN void look_pf_slices(look_trace *w, const uint64_t *entry, size_t n, uint64_t thread)
{
    uint64_t   *stack = (uint64_t *)ab_grow(NULL, w->slices + 1, sizeof *stack);
    look_packet p;
    size_t      i, top = 0;

    if (w->slices)
        qsort(w->slice, w->slices, sizeof *w->slice, look_slice_before);
    for (i = 0; i < w->slices; i++) {
        const look_slice *s = &w->slice[i];
        top = look_pf_ends(w, stack, top, s->start, thread);
        look_pf_event(&p, LOOK_PF_BEGIN, thread, s->start, &w->names->name[s->name]);
        if (s->remark < n)
            look_pf_remark(w, &p, entry, n, s->remark);
        look_pf_event_end(&p, &w->file);
        stack[top] = s->end;                    /* none outlives the one around it                */
        if (top && stack[top - 1] < s->end)
            stack[top] = stack[top - 1];
        top++;
    }
    (void)look_pf_ends(w, stack, top, LOOK_PF_OPEN - 1, thread);
    w->events += w->slices;
    w->slices = 0;
    free(stack);
}

/* A thread: its track, its events, and the scopes `open` in it (NULL: none). */
PERF_FN void look_pf_entries(look_trace *w, const uint64_t *entry, size_t n, uint64_t thread,
                             const char *name, const look_open *open)
{
    const uint64_t track = (uint64_t)1 << 62 | w->now->process << 24 | w->tracks++;
    look_event     e;
    size_t         i = 0;
    uint32_t       k;

    look_pf_thread(&w->file, track, w->now->process, thread, name);
    for (k = 0; open && k < open->n; k++)
        if (open->since[k] && open->name[k] && open->name[k] < w->names->count)
            look_pf_keep(w, open->name[k], look_ns_of(w->now, open->since[k]), LOOK_PF_OPEN, n);
    while (i < n) {
        if (!look_event_at(w, entry, n, &i, &e))
            continue;
        if (e.kind == LOOK_ASYNC || e.kind == LOOK_COUNTER || e.kind == LOOK_INSTANT)
            look_pf_other(w, entry, n, &e, track);
        else
            look_pf_keep(w, e.name, look_ns_of(w->now, e.start),
                         look_ns_of(w->now, e.start + e.length), e.remark);
    }
    look_pf_slices(w, entry, n, track);
}

/* ---- threads ---- */

PERF_FN void look_put_entries(look_trace *w, const uint64_t *entry, size_t n, uint64_t thread,
                              const char *name)
{
    look_event e;
    size_t     i = 0;

    if (*name) {
        look_record(w, "M", "thread_name");
        look_put_args_name(&w->file, name);
        look_record_end(w, thread);
    }
    while (i < n)
        if (look_event_at(w, entry, n, &i, &e))
            look_put_event(w, entry, n, &e, thread);
}

/* The ring of a thread, newest first, less what was overwritten meanwhile.  1: nothing was written
 * since the thread was read.                                                                     */
PERF_FN int look_put_ring(look_trace *w, const look_thread *k)
{
    const uint64_t events = w->now->ring_events, room = 16 * events;
    uint64_t       head = k->ring_head, next = 0, n, i, first, *ring, *entry, parts, gone;
    const look_layout *l = &w->program->layout;
    int                whole;

    (void)look_fetch_one(w->target, k->at + l->at[LOOK_RECORDER_RING_HEAD], &head, 8);
    if (!k->ring || !events || events > LOOK_RING_EVENTS || events & (events - 1) || k->reset ||
        head < k->ring_lost || head & 15) {
        if (w->protobuf && !k->reset)
            look_pf_entries(w, NULL, 0, k->id, k->name, &k->open);
        return 1;
    }
    n = (head - k->ring_lost) / 16;
    n = n < events ? n : events;
    ring = (uint64_t *)ab_grow(NULL, (size_t)n + 1, 16);
    entry = (uint64_t *)ab_grow(NULL, (size_t)n + 1, 16);
    first = (head - 16 * n) & (room - 1);
    parts = (room - first) / 16 < n ? (room - first) / 16 : n;
    if (!look_fetch_one(w->target, k->ring + first, ring, (size_t)(16 * parts)) ||
        !look_fetch_one(w->target, k->ring, ring + 2 * parts, (size_t)(16 * (n - parts))))
        n = 0;
    (void)look_fetch_one(w->target, k->at + l->at[LOOK_RECORDER_RING_NEXT], &next, 8);
    gone = 0;                                   /* oldest ones that newer ones took the place of  */
    if (next > head)
        gone = n + (next - head) / 16 + 9 > events ? n + (next - head) / 16 + 9 - events : 0;
    gone = gone < n ? gone : n;
    for (i = 0; i < n - gone; i++)
        memcpy(&entry[2 * i], &ring[2 * (n - 1 - i)], 16);
    w->missed += gone;
    whole = head == k->ring_head;
    if (w->protobuf)
        look_pf_entries(w, entry, (size_t)(n - gone), k->id, k->name, whole ? &k->open : NULL);
    else
        look_put_entries(w, entry, (size_t)(n - gone), k->id, k->name);
    free(ring);
    free(entry);
    return whole;
}

/* Scopes that are open begin, and do not end. */
PERF_FN void look_put_begun(look_trace *w, const look_thread *k)
{
    uint32_t i;

    for (i = 0; i < k->open.n; i++) {
        if (!k->open.since[i])
            continue;
        look_record(w, "B", look_name_text(w->names, k->open.name[i]));
        look_put_us(&w->file, ",\"ts\":", look_ns_of(w->now, k->open.since[i]));
        look_record_end(w, k->id);
    }
}

/* What is kept of threads whose recorders others have taken over. */
PERF_FN void look_put_retired(look_trace *w)
{
    const look_layout *l = &w->program->layout;
    const size_t       head = (size_t)l->at[LOOK_RETIRED_SIZE];
    uint64_t           at = w->now->retired, left = w->now->retired_bytes, word[3], *entry;
    size_t             n;
    char               name[32];

    while (at && left > head && left <= LOOK_RETIRED_BYTES) {
        if (!look_fetch_one(w->target, at, word, sizeof word) || word[2] > (left - head) / 16)
            return;
        (void)look_fetch_one(w->target, at + l->at[LOOK_RETIRED_NAME], name, sizeof name);
        name[sizeof name - 1] = '\0';
        entry = (uint64_t *)ab_grow(NULL, (size_t)word[2] + 1, 16);
        n = (size_t)word[2];
        if (!look_fetch_one(w->target, at + head, entry, n * 16))
            n = 0;
        if (w->protobuf)
            look_pf_entries(w, entry, n, word[0], name, NULL);
        else
            look_put_entries(w, entry, n, word[0], name);
        free(entry);
        at += head + 16 * word[2];
        left -= head + 16 * word[2];
    }
}

PERF_FN void look_write_trace(void *with)
{
    look_trace *w = (look_trace *)with;
    size_t      i;

    perf_file_putf_(&w->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    look_record(w, "M", "process_name");
    look_put_args_name(&w->file, w->title);
    look_record_end(w, 0);
    for (i = 0; i < w->now->threads; i++) {
        if (look_put_ring(w, &w->now->thread[i]))
            look_put_begun(w, &w->now->thread[i]);
    }
    look_put_retired(w);
    perf_file_putf_(&w->file, "\n],\"otherData\":{\"overwritten_events\":%.0f}}\n",
                    (double)w->missed);
    perf_file_flush_(&w->file);
}

/* The same as Perfetto's protobuf. */
PERF_FN void look_write_protobuf(void *with)
{
    look_trace *w = (look_trace *)with;
    size_t      i;

    w->told = (unsigned char *)ab_grow(NULL, w->names->count + 1, 1);
    memset(w->told, 0, w->names->count + 1);
    look_pf_clock(&w->file, w->now->made_ns);
    look_pf_process(&w->file, w->now->process, w->title);
    for (i = 0; i < w->now->threads; i++)
        (void)look_put_ring(w, &w->now->thread[i]);
    look_put_retired(w);
    perf_file_flush_(&w->file);
    free(w->told);
    free(w->slice);
    w->told = NULL;
    w->slice = NULL;
    w->room = 0;
}

/* 1: the text ends so. */
PERF_FN int look_ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n > m && !strcmp(text + n - m, end);
}

/* Saves the rings; an exit status. */
PERF_FN int look_save(look_trace *w, const char *path, void (*write)(void *))
{
    const perf_status status = perf_file_save_(path, &w->file, write, w);

    if (status == PERF_OK)
        return 0;
    fprintf(stderr, "perf-ab: %.300s cannot be written: %s\n", path, perf_status_text(status));
    return AB_UNUSABLE;
}

PERF_FN int look_save_trace(look_target *t, const look_program *p, const look_reading *r,
                            const look_names *names, const char *path)
{
    look_trace w;

    memset(&w, 0, sizeof w);
    w.target = t;
    w.program = p;
    w.now = r;
    w.names = names;
    w.title = t->program;
    t->bytes = 0;
    w.protobuf = look_ends_in(path, ".pftrace") || look_ends_in(path, ".perfetto-trace");
    return look_save(&w, path, w.protobuf ? look_write_protobuf : look_write_trace);
}

/* ---- the call tree ---- */

/* A name of a folded stack: without what separates names and lines. */
PERF_FN void look_put_folded_name(perf_file_ *f, const char *name)
{
    char  text[LOOK_NAME_BYTES + 1], *s;

    snprintf(text, sizeof text, "%s", name);
    for (s = text; *s; s++)
        if (*s == ';' || (unsigned char)*s < ' ')
            *s = '_';
    perf_file_put_(f, text);
}

PERF_FN void look_write_folded(void *with)
{
    look_trace        *w = (look_trace *)with;
    const look_report *rep = w->report;
    uint32_t           i, path[LOOK_TREE_DEPTH + 1], n, at;

    for (i = look_tree_next(rep, 0); i; i = look_tree_next(rep, i)) {
        if (!rep->node[i].self)
            continue;
        for (n = 0, at = i; at && n <= LOOK_TREE_DEPTH; at = rep->node[at].parent)
            path[n++] = at;
        while (n) {
            if (w->file.at > w->file.limit)
                perf_file_flush_(&w->file);
            look_put_folded_name(&w->file, look_name_shown(rep->names, rep->node[path[--n]].name));
            perf_file_put_(&w->file, n ? ";" : "");
        }
        perf_file_putf_(&w->file, " %.0f\n", (double)rep->node[i].self * rep->now->tick_ns);
    }
    perf_file_flush_(&w->file);
}

/* Text of a page. */
PERF_FN void look_put_html(perf_file_ *f, const char *s)
{
    char part[2] = {0, 0};

    for (; *s; s++) {
        part[0] = *s;
        perf_file_put_(f, *s == '<' ? "&lt;" : *s == '&' ? "&amp;" : *s == '"' ? "&quot;" : part);
    }
}

/* A box for a node and one inside it for each child. */
PERF_FN void look_write_boxes(look_trace *w, uint32_t i)
{
    const look_report *rep = w->report;
    const look_node   *n = &rep->node[i];
    const double       up = (double)rep->node[n->parent].total + 1e-9;
    uint32_t           k;

    if (w->file.at > w->file.limit)
        perf_file_flush_(&w->file);
    perf_file_putf_(&w->file, "<div tabindex=0 role=button style=\"width:%.3f%%\" title=\"",
                    (double)n->total / up * 100);
    look_put_html(&w->file, look_name_shown(rep->names, n->name));
    {
        perf_out_ o = perf_file_out_(&w->file);
        perf_put_(&o, ": ");
        perf_put_ns_(&o, (double)n->total * rep->now->tick_ns);
        perf_put_(&o, ", self ");
        perf_put_ns_(&o, (double)n->self * rep->now->tick_ns);
        perf_put_number_(&o, ", ", (double)n->calls, 0);
        perf_put_(&o, " calls\"><b>");
        perf_file_wrote_(&w->file, &o);
    }
    look_put_html(&w->file, look_name_shown(rep->names, n->name));
    perf_file_put_(&w->file, "</b><section>");
    for (k = n->first; k; k = rep->node[k].next)
        if ((double)rep->node[k].total * 5000 >= (double)rep->node[0].total)
            look_write_boxes(w, k);
    perf_file_put_(&w->file, "</section></div>\n");
}

/* What makes the page zoom: the chosen scope and those around it get the whole width, those beside
 * them are hidden.                                                                               */
PERF_FN void look_write_zoom(look_trace *w)
{
    perf_file_put_(&w->file,
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
    look_trace *w = (look_trace *)with;
    uint32_t    k;

    perf_file_put_(&w->file, "<!DOCTYPE html><meta charset=\"utf-8\"><title>");
    look_put_html(&w->file, w->title);
    perf_file_put_(&w->file, "</title><meta name=\"viewport\" content=\"width=device-width\">"
                             "<style>:root{color-scheme:light dark}"
                             "body{font:13px sans-serif;margin:8px}div{display:inline-block;"
                             "vertical-align:top;overflow:hidden}b{display:block;margin:1px;"
                             "padding:2px;background:#fb8;color:#222;overflow:hidden;"
                             "white-space:nowrap;font-weight:400;cursor:zoom-in}"
                             "b:hover{background:#fd5}section{display:flex}"
                             "div.wide{width:100%!important}div.out{display:none}"
                             "div.wide>b{background:#ddd}div.here>b{background:#fd5}"
                             "#says{min-height:1.4em;overflow-wrap:anywhere}h1{overflow-wrap:anywhere}</style><h1>");
    look_put_html(&w->file, w->title);
    perf_file_put_(&w->file, "</h1><output id=\"says\">Tap a scope, or Tab and Enter, to zoom; "
                             "again to go back; Escape shows all."
                             "</output><section id=\"all\">\n");
    for (k = w->report->nodes ? w->report->node[0].first : 0; k; k = w->report->node[k].next)
        look_write_boxes(w, k);
    perf_file_put_(&w->file, "</section>\n");
    look_write_zoom(w);
    perf_file_flush_(&w->file);
}

/* Saves the call tree: a page where the name ends in .html, else folded stacks. */
PERF_FN int look_save_flame(const look_report *rep, const char *title, const char *path)
{
    look_trace   w;
    char         shown[64];

    memset(&w, 0, sizeof w);
    snprintf(shown, sizeof shown, "%.60s", title);
    ab_make_safe(shown);
    w.report = rep;
    w.names = rep->names;
    w.title = shown;
    return look_save(&w, path, look_ends_in(path, ".html") ? look_write_page : look_write_folded);
}

#endif /* PERF_TOOLS_LOOK_TRACE_H */
