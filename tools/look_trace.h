/* look_trace.h - the rings of a program as a trace (Chrome's JSON, for ui.perfetto.dev), and its
 * call tree as a flame page or folded stacks.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_TRACE_H
#define PERF_TOOLS_LOOK_TRACE_H

#include "look_count.h"

#include "perf_file.h"

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
    if (w->file.p > w->file.limit)
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

/* The number or text of an instant. */
PERF_FN void look_put_remark(look_trace *w, const uint64_t *entry, size_t n, size_t at)
{
    const uint64_t what = entry[2 * at + 1];
    const uint32_t name = (uint32_t)(what >> 8) & 0xffffff;
    char           text[72];
    double         x = perf_from_bits_(entry[2 * at]);
    size_t         i;

    memset(text, 0, sizeof text);
    for (i = 0; i < 8 && at + i < n && (!i || (entry[2 * (at + i) + 1] & 0xff) == 3); i++)
        memcpy(text + 8 * i, &entry[2 * (at + i)], 8);
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

    (void)look_fetch_one(w->target, k->at + l->at[LOOK_RECORDER_RING_HEAD], &head, 8);
    if (!k->ring || !events || events > LOOK_RING_EVENTS || events & (events - 1) || k->reset ||
        head < k->ring_lost || head & 15)
        return 1;
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
    look_put_entries(w, entry, (size_t)(n - gone), k->id, k->name);
    free(ring);
    free(entry);
    return head == k->ring_head;
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
    char               name[32];

    while (at && left > head && left <= LOOK_RETIRED_BYTES) {
        if (!look_fetch_one(w->target, at, word, sizeof word) || word[2] > (left - head) / 16)
            return;
        (void)look_fetch_one(w->target, at + l->at[LOOK_RETIRED_NAME], name, sizeof name);
        name[sizeof name - 1] = '\0';
        entry = (uint64_t *)ab_grow(NULL, (size_t)word[2] + 1, 16);
        if (look_fetch_one(w->target, at + head, entry, (size_t)word[2] * 16))
            look_put_entries(w, entry, (size_t)word[2], word[0], name);
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
    return look_save(&w, path, look_write_trace);
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
            if (w->file.p > w->file.limit)
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

    if (w->file.p > w->file.limit)
        perf_file_flush_(&w->file);
    perf_file_putf_(&w->file, "<div style=\"width:%.3f%%\" title=\"", (double)n->total / up * 100);
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
    perf_file_put_(&w->file, "</b><p>");
    for (k = n->first; k; k = rep->node[k].next)
        if ((double)rep->node[k].total * 5000 >= (double)rep->node[0].total)
            look_write_boxes(w, k);
    perf_file_put_(&w->file, "</p></div>\n");
}

PERF_FN void look_write_page(void *with)
{
    look_trace *w = (look_trace *)with;
    uint32_t    k;

    perf_file_put_(&w->file, "<!DOCTYPE html><meta charset=\"utf-8\"><title>");
    look_put_html(&w->file, w->title);
    perf_file_put_(&w->file, "</title><style>body{font:13px sans-serif}div{display:inline-block;"
                             "vertical-align:top;overflow:hidden}b{display:block;margin:1px;"
                             "padding:2px;background:#fb8;overflow:hidden;white-space:nowrap;"
                             "font-weight:400}b:hover{background:#fd5}p{margin:0;display:flex}"
                             "</style><h1>");
    look_put_html(&w->file, w->title);
    perf_file_put_(&w->file, "</h1><p>\n");
    for (k = w->report->nodes ? w->report->node[0].first : 0; k; k = w->report->node[k].next)
        look_write_boxes(w, k);
    perf_file_put_(&w->file, "</p>\n");
    perf_file_flush_(&w->file);
}

/* Saves the call tree: a page where the name ends in .html, else folded stacks. */
PERF_FN int look_save_flame(const look_report *rep, const char *title, const char *path)
{
    look_trace   w;
    const size_t n = strlen(path);
    char         shown[64];

    memset(&w, 0, sizeof w);
    snprintf(shown, sizeof shown, "%.60s", title);
    ab_make_safe(shown);
    w.report = rep;
    w.names = rep->names;
    w.title = shown;
    return look_save(&w, path, n > 5 && !strcmp(path + n - 5, ".html") ? look_write_page
                                                                       : look_write_folded);
}

#endif /* PERF_TOOLS_LOOK_TRACE_H */
