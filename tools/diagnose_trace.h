/* diagnose_trace.h - a trace of torch.profiler (Kineto's Chrome JSON) as events in order of time,
 * each with what it lies in and what launched it.
 *
 *     diag_trace trace;
 *     if (diag_trace_read(&trace, "trace.json.gz", &error) == 0)
 *         for (i = 0; i < trace.n; i++) ... trace.event[i] ...
 *
 * Kept are operators, annotations, calls of the runtime, kernels, copies and waits.  Stacks of
 * Python, flows and counters are passed over.  At most DIAG_MOST_EVENTS events of 72 bytes.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_TRACE_H
#define PERF_TOOLS_DIAGNOSE_TRACE_H

#include "diagnose_json.h"

#define DIAG_MOST_EVENTS ((size_t)4000000)
#define DIAG_MOST_NAMES  ((size_t)64 << 20)         /* bytes of different names                   */
#define DIAG_MOST_LENGTH INT64_C(4000000000000000000)  /* ns of all events: no sum overflows      */

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
PERF_FN uint32_t diag_name(diag_names *names, const char *text)
{
    size_t at = ab_look_up(&names->index, text, diag_name_key, names->text);

    if (at != SIZE_MAX)
        return (uint32_t)at;
    if (names->n == names->cap) {
        names->cap = names->cap * 2 + 64;
        names->text = (char **)ab_grow(names->text, names->cap, sizeof *names->text);
    }
    names->text[names->n++] = ab_copy(text, strlen(text));
    names->bytes += strlen(text) + 1;
    ab_index_last(&names->index, names->n, diag_name_key, names->text);
    return (uint32_t)(names->n - 1);
}

PERF_FN void diag_names_free(diag_names *names)
{
    size_t i;

    for (i = 0; i < names->n; i++)
        free(names->text[i]);
    free(names->text);
    free(names->index.slot);
    memset(names, 0, sizeof *names);
}

PERF_FN const char *diag_text_of(const diag_trace *trace, const diag_event *event)
{
    return trace->names.text[event->name];
}

PERF_FN int diag_of_device(const diag_event *event)
{
    return event->kind == DIAG_KERNEL || event->kind == DIAG_COPY || event->kind == DIAG_SET;
}

PERF_FN int diag_of_host(const diag_event *event)
{
    return event->kind >= DIAG_OPERATOR && event->kind <= DIAG_RUNTIME;
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
PERF_FN int diag_argument(diag_bytes *bytes, const char *key, diag_event *event)
{
    char text[64];

    if (strcmp(key, "correlation") != 0 && strcmp(key, "bytes") != 0 &&
        strcmp(key, "est. achieved occupancy %") != 0 && strcmp(key, "blocks per SM") != 0)
        return diag_skip(bytes);
    if (diag_value(bytes) == '{' || diag_value(bytes) == '[')
        return diag_skip(bytes);
    if (diag_scalar(bytes, text, sizeof text) < 0)
        return -1;
    if (*key == 'c')
        event->link = diag_whole(text);
    else if (!strcmp(key, "bytes"))
        event->bytes = diag_whole(text);
    else if (*key == 'e')
        event->occupancy = (float)diag_whole(text);
    else
        event->blocks = (float)strtod(text, NULL);
    return 0;
}

PERF_FN int diag_arguments(diag_bytes *bytes, diag_event *event)
{
    char key[48];
    int  first = 1;

    if (diag_value(bytes) != '{')
        return diag_skip(bytes);
    (void)diag_byte(bytes);
    while (diag_member(bytes, &first, key, sizeof key))
        if (diag_argument(bytes, key, event) < 0)
            return -1;
    return bytes->failed ? -1 : 0;
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
PERF_FN int diag_event_member(diag_bytes *bytes, const char *key, diag_raw *raw)
{
    char   number[64], *to;
    size_t size = 0;
    int    ch;

    if (!strcmp(key, "args"))
        return diag_arguments(bytes, &raw->e);
    ch = diag_value(bytes);
    to = diag_room_of(raw, key, &size);
    if (ch == '{' || ch == '[')
        return diag_skip(bytes);
    if (to)
        return diag_scalar(bytes, to, size);
    if (strcmp(key, "ts") != 0 && strcmp(key, "dur") != 0)
        return diag_skip(bytes);
    if (diag_scalar(bytes, number, sizeof number) < 0)
        return -1;
    if (*key == 't')
        raw->begin = diag_ns(number);
    else
        raw->length = diag_ns(number);
    return 0;
}

/* Keeps an event that was read.  -1 with a message: there are too many. */
PERF_FN int diag_keep(diag_trace *trace, diag_bytes *bytes, diag_raw *raw)
{
    const diag_kind kind = diag_kind_of(raw);
    char            lane[100];

    if (kind == DIAG_OTHER)
        return 0;
    if (raw->begin == DIAG_NO_TIME || raw->length == DIAG_NO_TIME || raw->length < 0 ||
        raw->length > DIAG_MOST_LENGTH - trace->length) {
        trace->broken++;
        return 0;
    }
    trace->length += raw->length;
    if (trace->n == DIAG_MOST_EVENTS)
        return diag_bytes_fail(bytes, "more than 4,000,000 events: profile fewer steps");
    if (trace->names.bytes + trace->lanes.bytes > DIAG_MOST_NAMES)
        return diag_bytes_fail(bytes,
                               "more than 64 MiB of different names: no trace of a profiler");
    if (trace->n == trace->cap) {
        trace->cap = trace->cap + trace->cap / 2 + 1024;
        trace->event = (diag_event *)ab_grow(trace->event, trace->cap, sizeof *trace->event);
    }
    snprintf(lane, sizeof lane, "%s/%s", raw->process, raw->thread);
    raw->e.begin = raw->begin;
    raw->e.end = raw->begin + raw->length;
    raw->e.kind = kind;
    raw->e.name = diag_name(&trace->names, raw->name);
    raw->e.lane = diag_name(&trace->lanes, lane);
    trace->event[trace->n++] = raw->e;
    return 0;
}

PERF_FN int diag_read_event(diag_trace *trace, diag_bytes *bytes)
{
    static diag_raw raw;                            /* 4 KiB; a tool has one thread               */
    char            key[16];
    int             first = 1;

    if (diag_value(bytes) != '{')
        return diag_skip(bytes);
    (void)diag_byte(bytes);
    memset(&raw.e, 0, sizeof raw.e);
    *raw.phase = *raw.category = *raw.name = *raw.process = *raw.thread = '\0';
    raw.begin = raw.length = DIAG_NO_TIME;
    raw.e.occupancy = raw.e.blocks = -1.0f;
    while (diag_member(bytes, &first, key, sizeof key))
        if (diag_event_member(bytes, key, &raw) < 0)
            return -1;
    return bytes->failed ? -1 : diag_keep(trace, bytes, &raw);
}

/* ---- the document ---- */

PERF_FN int diag_read_events(diag_trace *trace, diag_bytes *bytes)
{
    int first = 1;

    if (diag_expect(bytes, '[') < 0)
        return -1;
    while (diag_element(bytes, &first))
        if (diag_read_event(trace, bytes) < 0)
            return -1;
    return bytes->failed ? -1 : 0;
}

/* "distributedInfo": which rank this is. */
PERF_FN int diag_read_rank(diag_trace *trace, diag_bytes *bytes)
{
    char key[24], text[24];
    int  first = 1, ch, failed = 0;

    if (diag_value(bytes) != '{')
        return diag_skip(bytes);
    (void)diag_byte(bytes);
    while (!failed && diag_member(bytes, &first, key, sizeof key)) {
        const int rank = !strcmp(key, "rank"), ranks = !strcmp(key, "world_size");
        ch = diag_value(bytes);
        if ((!rank && !ranks) || !ab_is_digit((char)ch)) {
            failed = diag_skip(bytes) < 0;
            continue;
        }
        failed = diag_scalar(bytes, text, sizeof text) < 0;
        *(rank ? &trace->rank : &trace->ranks) = (int)(diag_whole(text) % 10000000);
    }
    return failed || bytes->failed ? -1 : 0;
}

/* One of "deviceProperties": the first name is kept. */
PERF_FN int diag_read_device(diag_trace *trace, diag_bytes *bytes)
{
    char key[24];
    int  first = 1, failed = 0;

    if (diag_value(bytes) != '{')
        return diag_skip(bytes);
    (void)diag_byte(bytes);
    while (!failed && diag_member(bytes, &first, key, sizeof key)) {
        const int wanted = !strcmp(key, "name") && !*trace->device;
        if (wanted && diag_value(bytes) == '"')
            failed = diag_string(bytes, trace->device, sizeof trace->device) < 0;
        else
            failed = diag_skip(bytes) < 0;
    }
    return failed || bytes->failed ? -1 : 0;
}

PERF_FN int diag_read_devices(diag_trace *trace, diag_bytes *bytes)
{
    int first = 1;

    if (diag_value(bytes) != '[')
        return diag_skip(bytes);
    (void)diag_byte(bytes);
    while (diag_element(bytes, &first))
        if (diag_read_device(trace, bytes) < 0)
            return -1;
    return bytes->failed ? -1 : 0;
}

/* The whole text: an object with "traceEvents", or an array of events.  -1 with a message. */
PERF_FN int diag_read_text(diag_trace *trace, diag_bytes *bytes)
{
    char key[32];
    int  first = 1, failed = 0, events = 0;

    if (diag_value(bytes) == '[')
        return diag_read_events(trace, bytes);
    if (diag_expect(bytes, '{') < 0)
        return -1;
    while (!failed && diag_member(bytes, &first, key, sizeof key)) {
        if (!strcmp(key, "traceEvents")) {
            events = 1;
            failed = diag_read_events(trace, bytes) < 0;
        } else if (!strcmp(key, "distributedInfo")) {
            failed = diag_read_rank(trace, bytes) < 0;
        } else if (!strcmp(key, "deviceProperties")) {
            failed = diag_read_devices(trace, bytes) < 0;
        } else {
            failed = diag_skip(bytes) < 0;
        }
    }
    if (failed || bytes->failed)
        return -1;
    if (!events)
        return diag_bytes_fail(bytes, "JSON without \"traceEvents\": no trace of torch.profiler");
    return 0;
}

/* ---- order, and what belongs together ---- */

/* By begin; of equal ones what lasts longer comes first: it is around the other. */
PERF_FN int diag_by_time(const void *a_, const void *b_)
{
    const diag_event *one = (const diag_event *)a_, *other = (const diag_event *)b_;

    if (one->begin != other->begin)
        return one->begin < other->begin ? -1 : 1;
    if (one->end != other->end)
        return one->end > other->end ? -1 : 1;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

/* What each event of the host lies in: the innermost one of its thread that is still open. */
PERF_FN void diag_nest_events(diag_trace *trace)
{
    uint32_t *open = (uint32_t *)ab_grow(NULL, trace->lanes.n, sizeof *open), up;
    size_t    i;

    memset(open, 0, trace->lanes.n * sizeof *open);
    for (i = 0; i < trace->n; i++) {
        diag_event *event = &trace->event[i];
        if (!diag_of_host(event))
            continue;
        up = open[event->lane];
        while (up && trace->event[up - 1].end <= event->begin)
            up = trace->event[up - 1].in;
        event->in = up;
        open[event->lane] = (uint32_t)i + 1;
    }
    free(open);
}

/* The slot of a call's number in a hash table of 1 + places, or the free one where it belongs. */
PERF_FN size_t diag_slot(const diag_trace *trace, const uint32_t *table, size_t slots,
                         uint64_t link)
{
    size_t at = (size_t)(link * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slots - 1);

    while (table[at] && trace->event[table[at] - 1].link != link)
        at = (at + 1) & (slots - 1);
    return at;
}

/* What launched each event of a device: the call of the same number. */
PERF_FN void diag_link_events(diag_trace *trace)
{
    size_t    slots = 64, i, at;
    uint32_t *table;

    while (slots < trace->n * 2)
        slots *= 2;
    table = (uint32_t *)ab_grow(NULL, slots, sizeof *table);
    memset(table, 0, slots * sizeof *table);
    for (i = 0; i < trace->n; i++) {
        const diag_event *event = &trace->event[i];
        if (event->kind != DIAG_RUNTIME || !event->link)
            continue;
        at = diag_slot(trace, table, slots, event->link);
        if (!table[at])
            table[at] = (uint32_t)i + 1;
    }
    for (i = 0; i < trace->n; i++) {
        diag_event *event = &trace->event[i];
        if (!diag_of_device(event))
            continue;
        event->in = event->link ? table[diag_slot(trace, table, slots, event->link)] : 0;
        trace->unlinked += !event->in;
    }
    free(table);
}

PERF_FN void diag_trace_free(diag_trace *trace)
{
    free(trace->event);
    diag_names_free(&trace->names);
    diag_names_free(&trace->lanes);
    memset(trace, 0, sizeof *trace);
}

/* Reads a trace.  -1 with a message; diag_trace_free() in any case. */
PERF_FN int diag_trace_read(diag_trace *trace, const char *file, ab_error *error)
{
    diag_bytes bytes;
    int        failed;

    memset(trace, 0, sizeof *trace);
    trace->file = file;
    trace->rank = trace->ranks = -1;
    failed = diag_bytes_open(&bytes, file, error) < 0 || diag_read_text(trace, &bytes) < 0 ||
             bytes.failed;
    diag_bytes_close(&bytes);
    if (failed)
        return -1;
    if (!trace->n)
        return ab_fail(error, file, 0, 0, "no operator, kernel or step in this trace%s",
                       trace->broken ? ": the times of all its events are out of range" : "");
    qsort(trace->event, trace->n, sizeof *trace->event, diag_by_time);
    diag_nest_events(trace);
    diag_link_events(trace);
    return 0;
}

#endif
