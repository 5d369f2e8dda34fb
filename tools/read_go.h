/* read_go.h - what `go test -bench` prints, as text and as the events of -json.
 *
 *     BenchmarkName-8  100  123 ns/op  45 B/op
 *
 * The package belongs to the name.  A log line that pushes the figures to a line of their own is
 * passed over; a benchmark that failed is named, the others are read.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_GO_H
#define PERF_TOOLS_READ_GO_H

#include "source.h"

#include <jansson.h>

typedef struct ab_go {
    const ab_source *s;
    char  *package;                     /* "" before the first                                    */
    int    several;                     /* 1: names are shown with their packages                 */
    char  *pending;                     /* a name whose figures have not come; NULL: none         */
    size_t pending_at;
    int    pending_text;                /* 1: something else stood behind that name               */
    size_t lines, found;                /* lines with a name, with figures that are asked for     */
    char   units[200];                  /* other units, listed                                    */
    size_t last;                        /* where the last line with a name begins                 */
} ab_go;

/* The next word of a line that ends at `end`: its length, and *at moves to it; 0 at the end. */
PERF_FN size_t ab_word_(const ab_source *source, size_t *at, size_t end)
{
    while (*at < end && ab_is_blank(source->text[*at]))
        (*at)++;
    return ab_token(source, *at, end);
}

PERF_FN int ab_go_wanted_(const ab_source *source, const char *unit)
{
    if (source->o->value)
        return !strcmp(unit, source->o->value);
    if (source->o->want == AB_MEMORY)
        return !strcmp(unit, "B/op");
    if (source->o->want == AB_RATE)
        return ab_unit_kind(unit) == AB_RATE;
    return strstr(unit, "/op") != NULL && ab_unit_kind(unit) == AB_TIME;
}

/* The series of a benchmark, by its package and what stands behind "Benchmark". */
PERF_FN ab_series *ab_go_series_(const ab_go *reader, const char *name)
{
    const int  full = reader->several || reader->s->o->every;
    size_t     size = strlen(reader->package) + strlen(name) + 2;
    char      *key = (char *)ab_grow(NULL, size, 1);
    ab_series *series;

    snprintf(key, size, "%s%s%s", reader->package, *reader->package ? "." : "", name);
    series = ab_series_by(reader->s->set, key, full ? key : name);
    free(key);
    return series;
}

/* The word at text[at] without "Benchmark" in front; to be freed. */
PERF_FN char *ab_go_name_(const ab_source *source, size_t at, size_t len)
{
    const size_t skip = len > 9 && ab_starts_(source, at, "Benchmark") ? 9 : 0;

    return ab_copy(source->text + at + skip, len - skip);
}

PERF_FN void ab_go_list_unit_(ab_go *reader, const char *unit)
{
    size_t len = strlen(reader->units), n = strlen(unit);
    char  *seen = strstr(reader->units, unit);

    while (seen && ((seen != reader->units && seen[-1] != ' ') || (seen[n] && seen[n] != ',')))
        seen = strstr(seen + 1, unit);              /* part of another one                        */
    if (!seen && len + n + 3 < sizeof reader->units)
        snprintf(reader->units + len, sizeof reader->units - len, "%s%s", len ? ", " : "", unit);
}

/* The figures behind a name, from the number of iterations on.  -1: broken, with a message. */
PERF_FN int ab_go_figures_(ab_go *reader, const char *name, size_t at, size_t end)
{
    const ab_source *source = reader->s;
    ab_series       *series;
    ab_reading       reading = {NULL, "", 0.0, 1.0};
    size_t           len, value_at, value_len;
    char            *unit;
    int              found = 0, failed = 0;

    at += ab_word_(source, &at, end);               /* iterations                                 */
    while (!failed && (value_len = ab_word_(source, &at, end)) != 0) {
        value_at = at;
        at += value_len;
        len = ab_word_(source, &at, end);
        if (!len)
            return ab_fail_at(source, value_at, "a number without a unit: is the line cut off?",
                              NULL, 0);
        unit = ab_copy(source->text + at, len);
        at += len;
        if (found || !ab_go_wanted_(source, unit)) {
            ab_go_list_unit_(reader, unit);
        } else {
            series = ab_go_series_(reader, name);
            reading.unit = unit;
            failed = series->lack == AB_HAS &&
                     (ab_value_(source, value_at, value_len, unit, &reading.x) < 0 ||
                      ab_add_(source, value_at, series, &reading) < 0);
            found = 1;
        }
        free(unit);
    }
    reader->found += found != 0;
    return failed ? -1 : 0;
}

/* 1 where a line goes on with iterations and a figure with its unit. */
PERF_FN int ab_go_has_figures_(const ab_source *source, size_t at, size_t end)
{
    double x;
    size_t len = ab_word_(source, &at, end);

    if (!len || ab_quick_number_(source->text + at, &x) != len || x > (double)(uint64_t)x)
        return 0;
    at += len;
    len = ab_word_(source, &at, end);
    return len && (ab_is_digit(source->text[at]) || source->text[at] == '.' ||
                   source->text[at] == '-' || source->text[at] == 'N' || source->text[at] == '+');
}

/* Nothing came behind the name that waits. */
PERF_FN void ab_go_forget_(ab_go *reader)
{
    if (reader->pending && reader->pending_text)
        ab_note_at(reader->s, reader->pending_at,
                   "a name without its figures: other output took their place");
    free(reader->pending);
    reader->pending = NULL;
}

/* A line that begins with a name. */
PERF_FN void ab_go_line_(ab_go *reader, size_t at, size_t end)
{
    const ab_source *source = reader->s;
    size_t           len = ab_word_(source, &at, end), next = at + len;
    char            *name = ab_go_name_(source, at, len);

    ab_go_forget_(reader);
    reader->lines++;
    reader->last = at;
    if (ab_go_has_figures_(source, next, end)) {
        if (ab_go_figures_(reader, name, next, end) < 0)
            ab_refuse(source, ab_go_series_(reader, name));
        free(name);
        return;
    }
    reader->pending = name;                         /* announced by -v, or a log line is next     */
    reader->pending_at = at;
    reader->pending_text = ab_word_(source, &next, end) != 0;
}

/* "--- FAIL: BenchmarkName-8 (0.1s)" or "--- SKIP: ...", with the reason in the line behind it. */
PERF_FN void ab_go_verdict_(ab_go *reader, size_t at, size_t end, ab_lack lack)
{
    const ab_source *source = reader->s;
    size_t           next = ab_next_line_(source, at), last = next + ab_line_(source, next), len;
    const int        explained = next < last && ab_is_blank(source->text[next]);
    char            *name, *why;

    at += strlen("--- FAIL:");
    len = ab_word_(source, &at, end);
    name = ab_go_name_(source, at, len);
    ab_word_(source, &next, last);                  /* past the blanks                            */
    why = ab_copy(source->text + next, explained ? last - next : 0);
    ab_lacks_at(source, ab_go_series_(reader, name), lack, at, why);
    reader->lines++;
    free(reader->pending);
    reader->pending = NULL;
    free(name);
    free(why);
}

/* A line that begins with no name: figures of the one before, the end of a package, or output. */
PERF_FN void ab_go_other_(ab_go *reader, size_t at, size_t end)
{
    const ab_source *source = reader->s;
    const int        fails = ab_starts_(source, at, "FAIL\t") || ab_starts_(source, at, "FAIL ") ||
                             ab_starts_(source, at, "panic:");

    if (reader->pending && ab_go_has_figures_(source, at, end)) {
        if (ab_go_figures_(reader, reader->pending, at, end) < 0)
            ab_refuse(source, ab_go_series_(reader, reader->pending));
        free(reader->pending);
        reader->pending = NULL;
    } else if (fails && reader->pending) {
        char *why = ab_copy(source->text + at, end - at);
        ab_lacks_at(source, ab_go_series_(reader, reader->pending), AB_FAILED, at, why);
        free(why);
        free(reader->pending);
        reader->pending = NULL;
    } else if (fails) {
        ab_note_at(source, at, "a package failed: what it did not print is not here");
    } else if (ab_line_has_(source, at, " ns/op")) {
        ab_note_at(source, at, "figures in a line that does not begin with Benchmark");
    }
}

PERF_FN void ab_go_package_(ab_go *reader, size_t at, size_t end)
{
    const ab_source *source = reader->s;
    size_t           len;

    ab_go_forget_(reader);
    at += strlen("pkg:");
    len = ab_word_(source, &at, end);
    free(reader->package);
    reader->package = ab_copy(source->text + at, len);
}

/* Why nothing was found. */
PERF_FN int ab_go_nothing_(const ab_go *reader)
{
    static const char *const asked[] = {"time an operation", "memory: B/op needs -benchmem",
                                        "throughput", ""};
    char what[320];

    if (!reader->lines)
        return ab_fail_at(reader->s, reader->last, "no line with results", NULL, 0);
    if (reader->s->o->value)
        snprintf(what, sizeof what, "no figures of the unit that --value gives; there are: %s",
                 *reader->units ? reader->units : "none");
    else
        snprintf(what, sizeof what,
                 "no figures of the kind that is asked for (%s); there are: %s%s",
                 asked[reader->s->o->want], *reader->units ? reader->units : "none",
                 *reader->units ? " (--value UNIT)" : "");
    return ab_fail_at(reader->s, reader->last, what, NULL, 0);
}

/* 1 where a benchmark lacks figures for a reason that the file gives. */
PERF_FN int ab_some_lack_(const ab_set *set)
{
    size_t i;

    for (i = 0; i < set->n; i++)
        if (set->s[i].lack != AB_HAS)
            return 1;
    return 0;
}

/* How many packages a text is about, told apart by their names: 2 for more. */
PERF_FN int ab_go_packages_(const ab_source *source)
{
    size_t at, first = 0, first_len = 0, name, len;
    int    n = 0;

    for (at = 0; at < source->len && n < 2; at = ab_next_line_(source, at)) {
        if (!ab_starts_(source, at, "pkg:"))
            continue;
        name = at + 4;
        len = ab_word_(source, &name, at + ab_line_(source, at));
        if (n && len == first_len && !memcmp(source->text + first, source->text + name, len))
            continue;
        first = name;
        first_len = len;
        n++;
    }
    return n;
}

PERF_FN int ab_read_go_(const ab_source *source)
{
    ab_go  reader;
    size_t at, end;

    memset(&reader, 0, sizeof reader);
    reader.s = source;
    reader.package = ab_copy("", 0);
    reader.several = ab_go_packages_(source) > 1;
    source->set->format = "Go benchmark";
    for (at = 0; at < source->len; at = ab_next_line_(source, at)) {
        end = at + ab_line_(source, at);
        if (ab_starts_(source, at, "pkg:"))
            ab_go_package_(&reader, at, end);
        else if (ab_starts_(source, at, "--- FAIL:"))
            ab_go_verdict_(&reader, at, end, AB_FAILED);
        else if (ab_starts_(source, at, "--- SKIP:"))
            ab_go_verdict_(&reader, at, end, AB_SKIPPED);
        else if (ab_starts_(source, at, "Benchmark"))
            ab_go_line_(&reader, at, end);
        else
            ab_go_other_(&reader, at, end);
    }
    ab_go_forget_(&reader);
    free(reader.package);
    if (!reader.found && !ab_some_lack_(source->set))
        return ab_go_nothing_(&reader);
    return 0;
}

/* ---- go test -json ---- */

typedef struct ab_go_events {           /* outputs of one package, put together                   */
    char      *text;
    size_t     len, cap;
    ab_origin *origin;
    size_t     origins, origins_cap;
} ab_go_events;

PERF_FN void ab_go_append_(ab_go_events *events, const char *text, size_t len, size_t line)
{
    if (events->len + len + 1 > events->cap) {
        events->cap = 2 * (events->len + len + 1);
        events->text = (char *)ab_grow(events->text, events->cap, 1);
    }
    if (events->origins == events->origins_cap) {
        events->origins_cap = events->origins_cap * 2 + 16;
        events->origin =
            (ab_origin *)ab_grow(events->origin, events->origins_cap, sizeof *events->origin);
    }
    events->origin[events->origins].at = events->len;
    events->origin[events->origins++].line = line;
    memcpy(events->text + events->len, text, len);
    events->len += len;
    events->text[events->len] = '\0';
}

/* One line of events: its output goes to the text of its package.  -1 with a message. */
PERF_FN int ab_go_event_(const ab_source *source, size_t at, size_t line, ab_go_events **event,
                         ab_set *package)
{
    json_error_t error;
    size_t       len = ab_line_(source, at), known = package->n;
    json_t      *root = json_loadb(source->text + at, len, 0, &error), *output;
    const char  *name;
    char        *head;
    ab_series   *series;

    if (!root)
        return ab_fail_at(source, at, "an event of go test -json that is no JSON",
                          source->text + at, len);
    name = json_string_value(json_object_get(root, "Package"));
    output = json_object_get(root, "Output");
    if (json_is_string(output)) {
        series = ab_series_of(package, name ? name : "");
        if (package->n > known) {
            *event = (ab_go_events *)ab_grow(*event, package->n, sizeof **event);
            memset(&(*event)[known], 0, sizeof **event);
            head = (char *)ab_grow(NULL, strlen(series->name) + 8, 1);
            snprintf(head, strlen(series->name) + 8, "pkg: %s\n", series->name);
            ab_go_append_(&(*event)[known], head, *series->name ? strlen(head) : 0, line);
            free(head);
        }
        ab_go_append_(&(*event)[series - package->s], json_string_value(output),
                      json_string_length(output), line);
    }
    json_decref(root);
    return 0;
}

/* The events of each package, one package after the other, are the text that go test prints. */
PERF_FN int ab_read_go_json_(const ab_source *source)
{
    ab_go_events *event = NULL, all;
    ab_set        package;
    ab_source     text = *source;
    size_t        at, i, k, line = 1, before;
    int           failed = 0;

    memset(&all, 0, sizeof all);
    memset(&package, 0, sizeof package);
    for (at = 0; at < source->len && !failed; at = ab_next_line_(source, at), line++)
        if (!ab_skip_line_(source, at))
            failed = ab_go_event_(source, at, line, &event, &package) < 0;
    for (i = 0; i < package.n; i++) {
        before = all.len;
        ab_go_append_(&all, event[i].text, event[i].len, 1);
        all.origins--;
        for (k = 0; k < event[i].origins; k++) {
            ab_go_append_(&all, "", 0, event[i].origin[k].line);
            all.origin[all.origins - 1].at = before + event[i].origin[k].at;
        }
        ab_go_append_(&all, "\n", 1, line);
        free(event[i].text);
        free(event[i].origin);
    }
    free(event);
    ab_set_free(&package);
    if (!failed && !all.len)
        failed = ab_fail_at(source, 0, "no output among these events of go test -json", NULL, 0);
    text.text = all.text;
    text.len = all.len;
    text.origin = all.origin;
    text.origins = all.origins;
    failed = failed ? -1 : ab_read_go_(&text);
    source->set->format = "go test -json";
    free(all.text);
    free(all.origin);
    return failed;
}

#endif
