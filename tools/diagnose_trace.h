/* diagnose_trace.h - a trace of torch.profiler (Kineto's Chrome JSON) as events in order of time,
 * each with what it lies in and what launched it.
 *
 *     diag_trace t;
 *     if (diag_trace_read(&t, "trace.json.gz", e) == 0)
 *         for (i = 0; i < t.n; i++) ... t.event[i] ...
 *
 * Kept are operators, annotations, calls of the runtime, kernels, copies and waits.  Stacks of
 * Python, flows and counters are passed over.  At most DIAG_MOST_EVENTS events of 72 bytes.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_TRACE_H
#define PERF_TOOLS_DIAGNOSE_TRACE_H

#include "diagnose_json.h"

#define DIAG_MOST_EVENTS ((size_t)4000000)
#define DIAG_MOST_NAMES  ((size_t)64 << 20)         /* bytes of different names                   */
#define DIAG_MOST_LENGTH INT64_C(4000000000000000000)  /* ns of all events: no sum overflows       */

typedef enum diag_kind {
    DIAG_OTHER,                         /* passed over                                            */
    DIAG_OPERATOR, DIAG_NOTE, DIAG_MODULE, DIAG_RUNTIME,            /* of the host                */
    DIAG_KERNEL, DIAG_COPY, DIAG_SET,                               /* of a device                */
    DIAG_WAIT                           /* a device's side of a synchronisation                   */
} diag_kind;

typedef struct diag_event {
    int64_t  begin, end;                /* ns                                                     */
    uint64_t link;                      /* of a call and what it launched; 0: none                */
    uint64_t bytes;                     /* copied; 0: not known                                   */
    uint32_t name, lane;                /* places in the tables                                   */
    uint32_t in;                        /* of the host: the event around it; of a device: the     */
                                        /* call that launched it; 1 + place, 0: none              */
    uint32_t kind;
    float    occupancy;                 /* estimated, 0..100; negative: the file does not say     */
    float    blocks;                    /* per SM; negative: the file does not say                */
} diag_event;

typedef struct diag_names {             /* different texts, each once                             */
    char    **text;
    size_t    n, cap, bytes;
    ab_index  index;
} diag_names;

typedef struct diag_trace {
    const char *file;
    diag_event *event;
    size_t      n, cap;
    diag_names  names, lanes;
    size_t      broken;                 /* events whose time is none, or out of range             */
    int64_t     length;                 /* of all events, ns: at most DIAG_MOST_LENGTH            */
    size_t      unlinked;               /* events of devices without the call that launched them  */
    int         rank, ranks;            /* -1: the file does not say                              */
    char        device[80];             /* "": the file names none                                */
} diag_trace;

/* Does the text hold one of the words, which are separated by bars? */
PERF_FN int diag_has(const char *text, const char *words)
{
    char        word[40];
    const char *end;
    size_t      n;

    while (*words) {
        end = strchr(words, '|');
        n = end ? (size_t)(end - words) : strlen(words);
        memcpy(word, words, n);
        word[n] = '\0';
        if (strstr(text, word))
            return 1;
        words += n + (end != NULL);
    }
    return 0;
}

PERF_FN int diag_starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* ---- names ---- */

PERF_FN const char *diag_name_key(const void *array, size_t i)
{
    return ((char *const *)array)[i];
}

/* The place of a text, taken in if it is new. */
PERF_FN uint32_t diag_name(diag_names *t, const char *text)
{
    size_t at = ab_look_up(&t->index, text, diag_name_key, t->text);

    if (at != SIZE_MAX)
        return (uint32_t)at;
    if (t->n == t->cap) {
        t->cap = t->cap * 2 + 64;
        t->text = (char **)ab_grow(t->text, t->cap, sizeof *t->text);
    }
    t->text[t->n++] = ab_copy(text, strlen(text));
    t->bytes += strlen(text) + 1;
    ab_index_last(&t->index, t->n, diag_name_key, t->text);
    return (uint32_t)(t->n - 1);
}

PERF_FN void diag_names_free(diag_names *t)
{
    size_t i;

    for (i = 0; i < t->n; i++)
        free(t->text[i]);
    free(t->text);
    free(t->index.slot);
    memset(t, 0, sizeof *t);
}

PERF_FN const char *diag_text_of(const diag_trace *t, const diag_event *e)
{
    return t->names.text[e->name];
}

PERF_FN int diag_of_device(const diag_event *e)
{
    return e->kind == DIAG_KERNEL || e->kind == DIAG_COPY || e->kind == DIAG_SET;
}

PERF_FN int diag_of_host(const diag_event *e)
{
    return e->kind >= DIAG_OPERATOR && e->kind <= DIAG_RUNTIME;
}

/* ---- one event ---- */

typedef struct diag_raw {               /* an event as it stands in the file                      */
    char       phase[4], category[40], name[4096];
    char       process[40], thread[40];
    int64_t    begin, length;           /* DIAG_NO_TIME: not given                                */
    diag_event e;
} diag_raw;

/* Operator or annotation: older releases write both alike. */
PERF_FN diag_kind diag_kind_by_name(const char *name)
{
    if (diag_starts(name, "ProfilerStep") || diag_starts(name, "Optimizer.") ||
        diag_starts(name, "enumerate(DataLoader)"))
        return DIAG_NOTE;
    return diag_has(name, "::|Backward") ? DIAG_OPERATOR : DIAG_NOTE;
}

/* What a category means: of Kineto, and of its older releases. */
PERF_FN diag_kind diag_kind_of(const diag_raw *raw)
{
    static const struct {
        const char *category;
        diag_kind   kind;
    } known[] = {{"cpu_op", DIAG_OPERATOR}, {"user_annotation", DIAG_NOTE},
                 {"cuda_runtime", DIAG_RUNTIME}, {"cuda_driver", DIAG_RUNTIME},
                 {"kernel", DIAG_KERNEL}, {"gpu_memcpy", DIAG_COPY}, {"gpu_memset", DIAG_SET},
                 {"cuda_sync", DIAG_WAIT}, {"hip_runtime", DIAG_RUNTIME},
                 {"privateuse1_runtime", DIAG_RUNTIME}, {"xpu_runtime", DIAG_RUNTIME},
                 {"Operator", DIAG_OPERATOR}, {"Runtime", DIAG_RUNTIME}, {"Kernel", DIAG_KERNEL},
                 {"Memcpy", DIAG_COPY}, {"Memset", DIAG_SET}};
    size_t i;

    if (strcmp(raw->phase, "X") != 0)
        return DIAG_OTHER;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(raw->category, known[i].category) != 0)
            continue;
        if (!strcmp(raw->category, "Operator") || diag_starts(raw->name, "ProfilerStep"))
            return diag_kind_by_name(raw->name);
        return known[i].kind;
    }
    if (!*raw->category && !strcmp(raw->process, "CPU functions"))
        return diag_kind_by_name(raw->name);            /* PyTorch built without Kineto           */
    if (!strcmp(raw->category, "python_function") && diag_starts(raw->name, "nn.Module: "))
        return DIAG_MODULE;
    return DIAG_OTHER;
}

/* A member of "args".  -1 with a message. */
PERF_FN int diag_argument(diag_bytes *b, const char *key, diag_event *e)
{
    char text[64];

    if (strcmp(key, "correlation") != 0 && strcmp(key, "bytes") != 0 &&
        strcmp(key, "est. achieved occupancy %") != 0 && strcmp(key, "blocks per SM") != 0)
        return diag_skip(b);
    if (diag_value(b) == '{' || diag_value(b) == '[')
        return diag_skip(b);
    if (diag_scalar(b, text, sizeof text) < 0)
        return -1;
    if (*key == 'c')
        e->link = diag_whole(text);
    else if (!strcmp(key, "bytes"))
        e->bytes = diag_whole(text);
    else if (*key == 'e')
        e->occupancy = (float)diag_whole(text);
    else
        e->blocks = (float)strtod(text, NULL);
    return 0;
}

PERF_FN int diag_arguments(diag_bytes *b, diag_event *e)
{
    char key[48];
    int  first = 1;

    if (diag_value(b) != '{')
        return diag_skip(b);
    (void)diag_byte(b);
    while (diag_member(b, &first, key, sizeof key))
        if (diag_argument(b, key, e) < 0)
            return -1;
    return b->failed ? -1 : 0;
}

/* Where the text of a member of an event goes; NULL: it is no text that is kept. */
PERF_FN char *diag_room_of(diag_raw *raw, const char *key, size_t *size)
{
    const struct {
        const char *key;
        char       *to;
        size_t      size;
    } known[] = {{"ph", raw->phase, sizeof raw->phase},
                 {"cat", raw->category, sizeof raw->category},
                 {"name", raw->name, sizeof raw->name},
                 {"pid", raw->process, sizeof raw->process},
                 {"tid", raw->thread, sizeof raw->thread}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(key, known[i].key)) {
            *size = known[i].size;
            return known[i].to;
        }
    return NULL;
}

/* A member of an event.  -1 with a message. */
PERF_FN int diag_event_member(diag_bytes *b, const char *key, diag_raw *raw)
{
    char   number[64], *to;
    size_t size = 0;
    int    c;

    if (!strcmp(key, "args"))
        return diag_arguments(b, &raw->e);
    c = diag_value(b);
    to = diag_room_of(raw, key, &size);
    if (c == '{' || c == '[')
        return diag_skip(b);
    if (to)
        return diag_scalar(b, to, size);
    if (strcmp(key, "ts") != 0 && strcmp(key, "dur") != 0)
        return diag_skip(b);
    if (diag_scalar(b, number, sizeof number) < 0)
        return -1;
    if (*key == 't')
        raw->begin = diag_ns(number);
    else
        raw->length = diag_ns(number);
    return 0;
}

/* Keeps an event that was read.  -1 with a message: there are too many. */
PERF_FN int diag_keep(diag_trace *t, diag_bytes *b, diag_raw *raw)
{
    const diag_kind kind = diag_kind_of(raw);
    char            lane[100];

    if (kind == DIAG_OTHER)
        return 0;
    if (raw->begin == DIAG_NO_TIME || raw->length == DIAG_NO_TIME || raw->length < 0 ||
        raw->length > DIAG_MOST_LENGTH - t->length) {
        t->broken++;
        return 0;
    }
    t->length += raw->length;
    if (t->n == DIAG_MOST_EVENTS)
        return diag_bytes_fail(b, "more than 4,000,000 events: profile fewer steps");
    if (t->names.bytes + t->lanes.bytes > DIAG_MOST_NAMES)
        return diag_bytes_fail(b, "more than 64 MiB of different names: no trace of a profiler");
    if (t->n == t->cap) {
        t->cap = t->cap + t->cap / 2 + 1024;
        t->event = (diag_event *)ab_grow(t->event, t->cap, sizeof *t->event);
    }
    snprintf(lane, sizeof lane, "%s/%s", raw->process, raw->thread);
    raw->e.begin = raw->begin;
    raw->e.end = raw->begin + raw->length;
    raw->e.kind = kind;
    raw->e.name = diag_name(&t->names, raw->name);
    raw->e.lane = diag_name(&t->lanes, lane);
    t->event[t->n++] = raw->e;
    return 0;
}

PERF_FN int diag_read_event(diag_trace *t, diag_bytes *b)
{
    static diag_raw raw;                            /* 4 KiB; a tool has one thread               */
    char            key[16];
    int             first = 1;

    if (diag_value(b) != '{')
        return diag_skip(b);
    (void)diag_byte(b);
    memset(&raw.e, 0, sizeof raw.e);
    *raw.phase = *raw.category = *raw.name = *raw.process = *raw.thread = '\0';
    raw.begin = raw.length = DIAG_NO_TIME;
    raw.e.occupancy = raw.e.blocks = -1.0f;
    while (diag_member(b, &first, key, sizeof key))
        if (diag_event_member(b, key, &raw) < 0)
            return -1;
    return b->failed ? -1 : diag_keep(t, b, &raw);
}

/* ---- the document ---- */

PERF_FN int diag_read_events(diag_trace *t, diag_bytes *b)
{
    int first = 1;

    if (diag_expect(b, '[') < 0)
        return -1;
    while (diag_element(b, &first))
        if (diag_read_event(t, b) < 0)
            return -1;
    return b->failed ? -1 : 0;
}

/* "distributedInfo": which rank this is. */
PERF_FN int diag_read_rank(diag_trace *t, diag_bytes *b)
{
    char key[24], text[24];
    int  first = 1, c, failed = 0;

    if (diag_value(b) != '{')
        return diag_skip(b);
    (void)diag_byte(b);
    while (!failed && diag_member(b, &first, key, sizeof key)) {
        const int rank = !strcmp(key, "rank"), ranks = !strcmp(key, "world_size");
        c = diag_value(b);
        if ((!rank && !ranks) || !ab_is_digit((char)c)) {
            failed = diag_skip(b) < 0;
            continue;
        }
        failed = diag_scalar(b, text, sizeof text) < 0;
        *(rank ? &t->rank : &t->ranks) = (int)(diag_whole(text) % 10000000);
    }
    return failed || b->failed ? -1 : 0;
}

/* One of "deviceProperties": the first name is kept. */
PERF_FN int diag_read_device(diag_trace *t, diag_bytes *b)
{
    char key[24];
    int  first = 1, failed = 0;

    if (diag_value(b) != '{')
        return diag_skip(b);
    (void)diag_byte(b);
    while (!failed && diag_member(b, &first, key, sizeof key)) {
        const int wanted = !strcmp(key, "name") && !*t->device;
        if (wanted && diag_value(b) == '"')
            failed = diag_string(b, t->device, sizeof t->device) < 0;
        else
            failed = diag_skip(b) < 0;
    }
    return failed || b->failed ? -1 : 0;
}

PERF_FN int diag_read_devices(diag_trace *t, diag_bytes *b)
{
    int first = 1;

    if (diag_value(b) != '[')
        return diag_skip(b);
    (void)diag_byte(b);
    while (diag_element(b, &first))
        if (diag_read_device(t, b) < 0)
            return -1;
    return b->failed ? -1 : 0;
}

/* The whole text: an object with "traceEvents", or an array of events.  -1 with a message. */
PERF_FN int diag_read_text(diag_trace *t, diag_bytes *b)
{
    char key[32];
    int  first = 1, failed = 0, events = 0;

    if (diag_value(b) == '[')
        return diag_read_events(t, b);
    if (diag_expect(b, '{') < 0)
        return -1;
    while (!failed && diag_member(b, &first, key, sizeof key)) {
        if (!strcmp(key, "traceEvents")) {
            events = 1;
            failed = diag_read_events(t, b) < 0;
        } else if (!strcmp(key, "distributedInfo")) {
            failed = diag_read_rank(t, b) < 0;
        } else if (!strcmp(key, "deviceProperties")) {
            failed = diag_read_devices(t, b) < 0;
        } else {
            failed = diag_skip(b) < 0;
        }
    }
    if (failed || b->failed)
        return -1;
    if (!events)
        return diag_bytes_fail(b, "JSON without \"traceEvents\": no trace of torch.profiler");
    return 0;
}

/* ---- order, and what belongs together ---- */

/* By begin; of equal ones what lasts longer comes first: it is around the other. */
PERF_FN int diag_by_time(const void *a_, const void *b_)
{
    const diag_event *a = (const diag_event *)a_, *b = (const diag_event *)b_;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* What each event of the host lies in: the innermost one of its thread that is still open. */
PERF_FN void diag_nest_events(diag_trace *t)
{
    uint32_t *open = (uint32_t *)ab_grow(NULL, t->lanes.n, sizeof *open), up;
    size_t    i;

    memset(open, 0, t->lanes.n * sizeof *open);
    for (i = 0; i < t->n; i++) {
        diag_event *e = &t->event[i];
        if (!diag_of_host(e))
            continue;
        up = open[e->lane];
        while (up && t->event[up - 1].end <= e->begin)
            up = t->event[up - 1].in;
        e->in = up;
        open[e->lane] = (uint32_t)i + 1;
    }
    free(open);
}

/* The slot of a call's number in a hash table of 1 + places, or the free one where it belongs. */
PERF_FN size_t diag_slot(const diag_trace *t, const uint32_t *table, size_t slots, uint64_t link)
{
    size_t at = (size_t)(link * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slots - 1);

    while (table[at] && t->event[table[at] - 1].link != link)
        at = (at + 1) & (slots - 1);
    return at;
}

/* What launched each event of a device: the call of the same number. */
PERF_FN void diag_link_events(diag_trace *t)
{
    size_t    slots = 64, i, at;
    uint32_t *table;

    while (slots < t->n * 2)
        slots *= 2;
    table = (uint32_t *)ab_grow(NULL, slots, sizeof *table);
    memset(table, 0, slots * sizeof *table);
    for (i = 0; i < t->n; i++) {
        const diag_event *e = &t->event[i];
        if (e->kind != DIAG_RUNTIME || !e->link)
            continue;
        at = diag_slot(t, table, slots, e->link);
        if (!table[at])
            table[at] = (uint32_t)i + 1;
    }
    for (i = 0; i < t->n; i++) {
        diag_event *e = &t->event[i];
        if (!diag_of_device(e))
            continue;
        e->in = e->link ? table[diag_slot(t, table, slots, e->link)] : 0;
        t->unlinked += !e->in;
    }
    free(table);
}

PERF_FN void diag_trace_free(diag_trace *t)
{
    free(t->event);
    diag_names_free(&t->names);
    diag_names_free(&t->lanes);
    memset(t, 0, sizeof *t);
}

/* Reads a trace.  -1 with a message; diag_trace_free() in any case. */
PERF_FN int diag_trace_read(diag_trace *t, const char *file, ab_error *e)
{
    diag_bytes b;
    int        failed;

    memset(t, 0, sizeof *t);
    t->file = file;
    t->rank = t->ranks = -1;
    failed = diag_bytes_open(&b, file, e) < 0 || diag_read_text(t, &b) < 0 || b.failed;
    diag_bytes_close(&b);
    if (failed)
        return -1;
    if (!t->n)
        return ab_fail(e, file, 0, 0, "no operator, kernel or step in this trace%s",
                       t->broken ? ": the times of all its events are out of range" : "");
    qsort(t->event, t->n, sizeof *t->event, diag_by_time);
    diag_nest_events(t);
    diag_link_events(t);
    return 0;
}

#endif
