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
PERF_FN size_t ab_word_(const ab_source *s, size_t *at, size_t end)
{
    while (*at < end && ab_is_blank(s->text[*at]))
        (*at)++;
    return ab_token(s, *at, end);
}

PERF_FN int ab_go_wanted_(const ab_source *s, const char *unit)
{
    if (s->o->value)
        return !strcmp(unit, s->o->value);
    if (s->o->want == AB_MEMORY)
        return !strcmp(unit, "B/op");
    if (s->o->want == AB_RATE)
        return ab_unit_kind(unit) == AB_RATE;
    return strstr(unit, "/op") != NULL && ab_unit_kind(unit) == AB_TIME;
}

/* The series of a benchmark, by its package and what stands behind "Benchmark". */
PERF_FN ab_series *ab_go_series_(const ab_go *g, const char *name)
{
    const int  full = g->several || g->s->o->every;
    size_t     size = strlen(g->package) + strlen(name) + 2;
    char      *key = (char *)ab_grow(NULL, size, 1);
    ab_series *r;

    snprintf(key, size, "%s%s%s", g->package, *g->package ? "." : "", name);
    r = ab_series_by(g->s->set, key, full ? key : name);
    free(key);
    return r;
}

/* The word at text[at] without "Benchmark" in front; to be freed. */
PERF_FN char *ab_go_name_(const ab_source *s, size_t at, size_t len)
{
    const size_t skip = len > 9 && ab_starts_(s, at, "Benchmark") ? 9 : 0;

    return ab_copy(s->text + at + skip, len - skip);
}

PERF_FN void ab_go_list_unit_(ab_go *g, const char *unit)
{
    size_t len = strlen(g->units), n = strlen(unit);
    char  *seen = strstr(g->units, unit);

    while (seen && ((seen != g->units && seen[-1] != ' ') || (seen[n] && seen[n] != ',')))
        seen = strstr(seen + 1, unit);              /* part of another one                        */
    if (!seen && len + n + 3 < sizeof g->units)
        snprintf(g->units + len, sizeof g->units - len, "%s%s", len ? ", " : "", unit);
}

/* The figures behind a name, from the number of iterations on.  -1: broken, with a message. */
PERF_FN int ab_go_figures_(ab_go *g, const char *name, size_t at, size_t end)
{
    const ab_source *s = g->s;
    ab_series       *series;
    ab_reading       m = {NULL, "", 0.0, 1.0};
    size_t           len, value_at, value_len;
    char            *unit;
    int              found = 0, failed = 0;

    at += ab_word_(s, &at, end);                    /* iterations                                 */
    while (!failed && (value_len = ab_word_(s, &at, end)) != 0) {
        value_at = at;
        at += value_len;
        len = ab_word_(s, &at, end);
        if (!len)
            return ab_fail_at(s, value_at, "a number without a unit: is the line cut off?", NULL,
                              0);
        unit = ab_copy(s->text + at, len);
        at += len;
        if (found || !ab_go_wanted_(s, unit)) {
            ab_go_list_unit_(g, unit);
        } else {
            series = ab_go_series_(g, name);
            m.unit = unit;
            failed = series->lack == AB_HAS &&
                     (ab_value_(s, value_at, value_len, unit, &m.x) < 0 ||
                      ab_add_(s, value_at, series, &m) < 0);
            found = 1;
        }
        free(unit);
    }
    g->found += found != 0;
    return failed ? -1 : 0;
}

/* 1 where a line goes on with iterations and a figure with its unit. */
PERF_FN int ab_go_has_figures_(const ab_source *s, size_t at, size_t end)
{
    double x;
    size_t len = ab_word_(s, &at, end);

    if (!len || ab_quick_number_(s->text + at, &x) != len || x > (double)(uint64_t)x)
        return 0;
    at += len;
    len = ab_word_(s, &at, end);
    return len && (ab_is_digit(s->text[at]) || s->text[at] == '.' || s->text[at] == '-' ||
                   s->text[at] == 'N' || s->text[at] == '+');
}

/* Nothing came behind the name that waits. */
PERF_FN void ab_go_forget_(ab_go *g)
{
    if (g->pending && g->pending_text)
        ab_note_at(g->s, g->pending_at, "a name without its figures: other output took their place");
    free(g->pending);
    g->pending = NULL;
}

/* A line that begins with a name. */
PERF_FN void ab_go_line_(ab_go *g, size_t at, size_t end)
{
    const ab_source *s = g->s;
    size_t           len = ab_word_(s, &at, end), next = at + len;
    char            *name = ab_go_name_(s, at, len);

    ab_go_forget_(g);
    g->lines++;
    g->last = at;
    if (ab_go_has_figures_(s, next, end)) {
        if (ab_go_figures_(g, name, next, end) < 0)
            ab_refuse(s, ab_go_series_(g, name));
        free(name);
        return;
    }
    g->pending = name;                              /* announced by -v, or a log line is next     */
    g->pending_at = at;
    g->pending_text = ab_word_(s, &next, end) != 0;
}

/* "--- FAIL: BenchmarkName-8 (0.1s)" or "--- SKIP: ...", with the reason in the line behind it. */
PERF_FN void ab_go_verdict_(ab_go *g, size_t at, size_t end, ab_lack lack)
{
    const ab_source *s = g->s;
    size_t           next = ab_next_line_(s, at), last = next + ab_line_(s, next), len;
    const int        explained = next < last && ab_is_blank(s->text[next]);
    char            *name, *why;

    at += strlen("--- FAIL:");
    len = ab_word_(s, &at, end);
    name = ab_go_name_(s, at, len);
    ab_word_(s, &next, last);                       /* past the blanks                            */
    why = ab_copy(s->text + next, explained ? last - next : 0);
    ab_lacks_at(s, ab_go_series_(g, name), lack, at, why);
    g->lines++;
    free(g->pending);
    g->pending = NULL;
    free(name);
    free(why);
}

/* A line that begins with no name: figures of the one before, the end of a package, or output. */
PERF_FN void ab_go_other_(ab_go *g, size_t at, size_t end)
{
    const ab_source *s = g->s;
    const int        fails = ab_starts_(s, at, "FAIL\t") || ab_starts_(s, at, "FAIL ") ||
                             ab_starts_(s, at, "panic:");

    if (g->pending && ab_go_has_figures_(s, at, end)) {
        if (ab_go_figures_(g, g->pending, at, end) < 0)
            ab_refuse(s, ab_go_series_(g, g->pending));
        free(g->pending);
        g->pending = NULL;
    } else if (fails && g->pending) {
        char *why = ab_copy(s->text + at, end - at);
        ab_lacks_at(s, ab_go_series_(g, g->pending), AB_FAILED, at, why);
        free(why);
        free(g->pending);
        g->pending = NULL;
    } else if (fails) {
        ab_note_at(s, at, "a package failed: what it did not print is not here");
    } else if (ab_line_has_(s, at, " ns/op")) {
        ab_note_at(s, at, "figures in a line that does not begin with Benchmark");
    }
}

PERF_FN void ab_go_package_(ab_go *g, size_t at, size_t end)
{
    const ab_source *s = g->s;
    size_t           len;

    ab_go_forget_(g);
    at += strlen("pkg:");
    len = ab_word_(s, &at, end);
    free(g->package);
    g->package = ab_copy(s->text + at, len);
}

/* Why nothing was found. */
PERF_FN int ab_go_nothing_(const ab_go *g)
{
    static const char *const asked[] = {"time an operation", "memory: B/op needs -benchmem",
                                        "throughput", ""};
    char what[320];

    if (!g->lines)
        return ab_fail_at(g->s, g->last, "no line with results", NULL, 0);
    if (g->s->o->value)
        snprintf(what, sizeof what, "no figures of the unit that --value gives; there are: %s",
                 *g->units ? g->units : "none");
    else
        snprintf(what, sizeof what, "no figures of the kind that is asked for (%s); there are: %s%s",
                 asked[g->s->o->want], *g->units ? g->units : "none",
                 *g->units ? " (--value UNIT)" : "");
    return ab_fail_at(g->s, g->last, what, NULL, 0);
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
PERF_FN int ab_go_packages_(const ab_source *s)
{
    size_t at, first = 0, first_len = 0, name, len;
    int    n = 0;

    for (at = 0; at < s->len && n < 2; at = ab_next_line_(s, at)) {
        if (!ab_starts_(s, at, "pkg:"))
            continue;
        name = at + 4;
        len = ab_word_(s, &name, at + ab_line_(s, at));
        if (n && len == first_len && !memcmp(s->text + first, s->text + name, len))
            continue;
        first = name;
        first_len = len;
        n++;
    }
    return n;
}

PERF_FN int ab_read_go_(const ab_source *s)
{
    ab_go  g;
    size_t at, end;

    memset(&g, 0, sizeof g);
    g.s = s;
    g.package = ab_copy("", 0);
    g.several = ab_go_packages_(s) > 1;
    s->set->format = "Go benchmark";
    for (at = 0; at < s->len; at = ab_next_line_(s, at)) {
        end = at + ab_line_(s, at);
        if (ab_starts_(s, at, "pkg:"))
            ab_go_package_(&g, at, end);
        else if (ab_starts_(s, at, "--- FAIL:"))
            ab_go_verdict_(&g, at, end, AB_FAILED);
        else if (ab_starts_(s, at, "--- SKIP:"))
            ab_go_verdict_(&g, at, end, AB_SKIPPED);
        else if (ab_starts_(s, at, "Benchmark"))
            ab_go_line_(&g, at, end);
        else
            ab_go_other_(&g, at, end);
    }
    ab_go_forget_(&g);
    free(g.package);
    if (!g.found && !ab_some_lack_(s->set))
        return ab_go_nothing_(&g);
    return 0;
}

/* ---- go test -json ---- */

typedef struct ab_go_events {           /* outputs of one package, put together                   */
    char      *text;
    size_t     len, cap;
    ab_origin *origin;
    size_t     origins, origins_cap;
} ab_go_events;

PERF_FN void ab_go_append_(ab_go_events *g, const char *text, size_t len, size_t line)
{
    if (g->len + len + 1 > g->cap) {
        g->cap = 2 * (g->len + len + 1);
        g->text = (char *)ab_grow(g->text, g->cap, 1);
    }
    if (g->origins == g->origins_cap) {
        g->origins_cap = g->origins_cap * 2 + 16;
        g->origin = (ab_origin *)ab_grow(g->origin, g->origins_cap, sizeof *g->origin);
    }
    g->origin[g->origins].at = g->len;
    g->origin[g->origins++].line = line;
    memcpy(g->text + g->len, text, len);
    g->len += len;
    g->text[g->len] = '\0';
}

/* One line of events: its output goes to the text of its package.  -1 with a message. */
PERF_FN int ab_go_event_(const ab_source *s, size_t at, size_t line, ab_go_events **event,
                         ab_set *package)
{
    json_error_t error;
    size_t       len = ab_line_(s, at), known = package->n;
    json_t      *root = json_loadb(s->text + at, len, 0, &error), *output;
    const char  *name;
    char        *head;
    ab_series   *p;

    if (!root)
        return ab_fail_at(s, at, "an event of go test -json that is no JSON", s->text + at, len);
    name = json_string_value(json_object_get(root, "Package"));
    output = json_object_get(root, "Output");
    if (json_is_string(output)) {
        p = ab_series_of(package, name ? name : "");
        if (package->n > known) {
            *event = (ab_go_events *)ab_grow(*event, package->n, sizeof **event);
            memset(&(*event)[known], 0, sizeof **event);
            head = (char *)ab_grow(NULL, strlen(p->name) + 8, 1);
            snprintf(head, strlen(p->name) + 8, "pkg: %s\n", p->name);
            ab_go_append_(&(*event)[known], head, *p->name ? strlen(head) : 0, line);
            free(head);
        }
        ab_go_append_(&(*event)[p - package->s], json_string_value(output),
                      json_string_length(output), line);
    }
    json_decref(root);
    return 0;
}

/* The events of each package, one package after the other, are the text that go test prints. */
PERF_FN int ab_read_go_json_(const ab_source *s)
{
    ab_go_events *event = NULL, all;
    ab_set        package;
    ab_source     text = *s;
    size_t        at, i, k, line = 1, before;
    int           failed = 0;

    memset(&all, 0, sizeof all);
    memset(&package, 0, sizeof package);
    for (at = 0; at < s->len && !failed; at = ab_next_line_(s, at), line++)
        if (!ab_skip_line_(s, at))
            failed = ab_go_event_(s, at, line, &event, &package) < 0;
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
        failed = ab_fail_at(s, 0, "no output among these events of go test -json", NULL, 0);
    text.text = all.text;
    text.len = all.len;
    text.origin = all.origin;
    text.origins = all.origins;
    failed = failed ? -1 : ab_read_go_(&text);
    s->set->format = "go test -json";
    free(all.text);
    free(all.origin);
    return failed;
}

#endif
