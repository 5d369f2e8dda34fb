/* read_csv.h - plain numbers, and CSV whose header says what the columns hold.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_CSV_H
#define PERF_TOOLS_READ_CSV_H

#include "source.h"

/* ---- plain numbers: one a line, # comments ---- */

/* One line of plain numbers.  Returns 0, or -1 with a message. */
PERF_FN int ab_plain_line_(const ab_source *s, ab_series *series, size_t at, size_t end)
{
    ab_reading m = {NULL, "", 0.0, 1.0};
    size_t     len;

    while (at < end && ab_is_blank(s->text[at]))
        at++;
    len = ab_token(s, at, end);
    if (ab_value_(s, at, len, "", &m.x) < 0 || ab_add_(s, at, series, &m) < 0)
        return -1;
    for (at += len; at < end && ab_is_blank(s->text[at]); at++)
        continue;
    if (at < end && s->text[at] != '#')
        return ab_fail_at(s, at, "a second number on one line: pairs need a header line 'a,b'",
                          NULL, 0);
    return 0;
}

PERF_FN int ab_read_plain_(const ab_source *s)
{
    ab_series *series = ab_series_of(s->set, "");
    size_t     at;

    s->set->format = "plain numbers";
    for (at = 0; at < s->len; at = ab_next_line_(s, at))
        if (!ab_skip_line_(s, at) && ab_plain_line_(s, series, at, at + ab_line_(s, at)) < 0)
            return -1;
    return 0;
}

/* ---- fields ---- */

enum { AB_FIELDS = 256, AB_NAME_PARTS = 3 };

typedef struct ab_field {
    size_t at, len;                     /* in the text, without quotes                            */
    int    quoted;                      /* has "" inside that stand for "                         */
} ab_field;

typedef enum ab_column { COL_NONE, COL_NAME, COL_UNIT, COL_RUN, COL_VALUE, COL_A, COL_B, COL_FIRST,
                         COL_PER, COL_COUNT } ab_column;

typedef struct ab_csv {
    char comma;                         /* what separates fields                                  */
    int  columns;                       /* of the header; 0: it has not been read                 */
    int  column[COL_COUNT];             /* which field holds what; -1: none                       */
    int  part[AB_NAME_PARTS];           /* fields that together are the name; -1: none            */
    int  first_seen[2];                 /* column `first`: A was first in some row, B was         */
} ab_csv;

/* The field that begins at *at, which moves behind it.  -1 with a message. */
PERF_FN int ab_field_(const ab_source *s, size_t *at, char comma, ab_field *f)
{
    size_t i = *at, end;

    while (i < s->len && (s->text[i] == ' ' || (s->text[i] == '\t' && comma != '\t')))
        i++;
    f->quoted = i < s->len && s->text[i] == '"';
    if (f->quoted) {
        f->at = ++i;
        while (i < s->len && (s->text[i] != '"' || s->text[i + 1] == '"'))
            i += s->text[i] == '"' ? 2 : 1;
        if (i >= s->len)
            return ab_fail_at(s, f->at - 1, "this quote is never closed", NULL, 0);
        f->len = i++ - f->at;
    } else {
        f->at = i;
        while (i < s->len && s->text[i] != comma && s->text[i] != '\n')
            i++;
        for (end = i; end > f->at && ab_is_blank(s->text[end - 1]); end--)
            continue;
        f->len = end - f->at;
    }
    while (i < s->len && ab_is_blank(s->text[i]) && s->text[i] != comma)
        i++;
    *at = i;
    return 0;
}

/* Splits the line at *at into fields; *at moves past its end.  Returns their number, or -1. */
PERF_FN int ab_fields_(const ab_source *s, size_t *at, char comma, ab_field *f)
{
    int n = 0;

    for (;;) {
        if (n == AB_FIELDS)
            return ab_fail_at(s, *at, "more than 256 columns", NULL, 0);
        if (ab_field_(s, at, comma, &f[n++]) < 0)
            return -1;
        if (*at >= s->len)
            return n;
        if (s->text[*at] != comma && s->text[*at] != '\n')
            return ab_fail_at(s, *at, "text after a closing quote", NULL, 0);
        if (s->text[(*at)++] == '\n')
            return n;
    }
}

/* A field as a string of its own. */
PERF_FN char *ab_field_text_(const ab_source *s, const ab_field *f)
{
    char  *t = ab_copy(s->text + f->at, f->len);
    size_t i, n = 0;

    for (i = 0; f->quoted && i < f->len; i++) {
        t[n++] = t[i];
        i += t[i] == '"';
    }
    if (f->quoted)
        t[n] = '\0';
    return t;
}

/* The field of that title; -1: there is none. */
PERF_FN int ab_titled_(const ab_source *s, const ab_field *f, int n, const char *title)
{
    int i;

    for (i = 0; i < n; i++)
        if (f[i].len == strlen(title) && !memcmp(s->text + f[i].at, title, f[i].len))
            return i;
    return -1;
}

/* ---- the header ---- */

/* What a column of that title holds. */
PERF_FN ab_column ab_column_of_(const char *title, const char *value)
{
    static const struct {
        const char *title;
        ab_column   column;
    } known[] = {{"name", COL_NAME}, {"benchmark", COL_NAME}, {"value", COL_VALUE},
                 {"time", COL_VALUE}, {"real_time", COL_VALUE}, {"sample", COL_VALUE},
                 {"unit", COL_UNIT}, {"time_unit", COL_UNIT}, {"run", COL_RUN}, {"a", COL_A},
                 {"b", COL_B}, {"A", COL_A}, {"B", COL_B}, {"baseline", COL_A}, {"before", COL_A},
                 {"candidate", COL_B}, {"after", COL_B}, {"first", COL_FIRST}};
    size_t i;

    if (value && !strcmp(title, value))
        return COL_VALUE;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(title, known[i].title))
            return value && known[i].column == COL_VALUE ? COL_NONE : known[i].column;
    return COL_NONE;
}

/* What the header of a file with summaries says of its maker; NULL: nothing is known. */
PERF_FN const char *ab_summaries_(const ab_source *s, const ab_field *f, int n)
{
    static const struct {
        const char *title[3];
        const char *what;
    } known[] = {
        {{"command", "mean", "stddev"},
         "hyperfine's CSV has summaries, no single values: --export-json keeps them"},
        {{"Benchmark", "Mode", "Score"}, "JMH's CSV has no single values: -rf json keeps them"},
        {{"Method", "Job", "Mean"},
         "BenchmarkDotNet's CSV has no single values: --exporters fulljson keeps them"},
        {{"name", "min", "mean"},
         "summaries, no single values: pytest-benchmark keeps them with --benchmark-json"},
        {{"mean", "min", "max"}, "these columns are summaries; single values are needed"}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (ab_titled_(s, f, n, known[i].title[0]) >= 0 &&
            ab_titled_(s, f, n, known[i].title[1]) >= 0 &&
            ab_titled_(s, f, n, known[i].title[2]) >= 0)
            return known[i].what;
    return NULL;
}

/* `perf stat -x,`: a number, its unit or nothing, an event. */
PERF_FN int ab_is_perf_stat_(const ab_source *s, const ab_field *f, int n)
{
    double x;
    size_t i;

    if (n < 5 || !f[0].len || f[2].len < 3)
        return 0;
    if (!ab_number_of_(s->text + f[0].at, f[0].len, &x) &&
        !ab_is_decimal_comma_(s->text + f[0].at, f[0].len))
        return 0;
    for (i = 0; i < f[1].len; i++)
        if (ab_is_digit(s->text[f[1].at + i]))
            return 0;
    return !ab_is_digit(s->text[f[2].at]) && !memchr("+-.", s->text[f[2].at], 3);
}

/* Texts of tools that have no single values, by what stands in a line. */
PERF_FN const char *ab_foreign_line_(const ab_source *s, size_t at)
{
    if (ab_starts_(s, at, "window.BENCHMARK_DATA"))
        return "github-action-benchmark's data.js has one figure a commit, no single values: give "
               "the output of the tool behind it";
    if (ab_line_has_(s, at, " ... bench: ") || ab_starts_(s, at, "running "))
        return "cargo bench prints one figure a benchmark: criterion's sample.json or raw.csv has "
               "single values";
    if (ab_line_has_(s, at, "benchmark name") && ab_line_has_(s, at, "iterations"))
        return "Catch2's text is for people: -r xml";
    return NULL;
}

/* The same for a text, by its first lines. */
PERF_FN const char *ab_foreign_(const ab_source *s, size_t start)
{
    const char *what = NULL;
    size_t      at, lines = 0;

    for (at = start; at < s->len && lines < 64 && !what; at = ab_next_line_(s, at), lines++)
        what = ab_foreign_line_(s, at);
    return what;
}

/* Fails where JSON begins in a later line, behind a log; 0: none does. */
PERF_FN int ab_json_later_(const ab_source *s, size_t start)
{
    char   text[120];
    size_t at, line, column;

    for (at = ab_next_line_(s, start); at < s->len; at = ab_next_line_(s, at)) {
        if (s->text[at] != '{' && !ab_starts_(s, at, "[{"))
            continue;
        ab_place_(s, at, &line, &column);
        snprintf(text, sizeof text, "JSON begins in line %zu: remove what stands before it", line);
        return ab_fail_at(s, start, text, NULL, 0);
    }
    return 0;
}

/* Why this text has no header that could be used. */
PERF_FN int ab_no_header_(const ab_source *s, size_t start, const ab_field *f, int n)
{
    const char *line = s->text + start, *what = ab_summaries_(s, f, n);
    size_t      len = ab_line_(s, start);
    int         number = *line && strchr("0123456789+-.", *line) != NULL;

    if (what || s->o->value)
        return ab_fail_at(s, start, what ? what : "no column of the name that --value gives", line,
                          len);
    if (!number && ab_json_later_(s, start) < 0)
        return -1;
    if (number && memchr(line, ',', len))
        what = "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'";
    else if (number)
        what = "pairs need a header line 'a,b'";
    else
        what = "the header needs columns 'a' and 'b', or 'value' (and 'name'), or --value";
    return ab_fail_at(s, start, what, line, len);
}

/* criterion's raw.csv: `value` is a parameter there.  1: it is that file. */
PERF_FN int ab_is_criterion_(const ab_source *s, const ab_field *f, int n, ab_csv *c)
{
    static const char *const part[AB_NAME_PARTS] = {"group", "function", "value"};
    int measured = ab_titled_(s, f, n, "sample_measured_value");
    int times = ab_titled_(s, f, n, "iteration_count"), i;

    if (measured < 0 || times < 0 || s->o->value)
        return 0;
    s->set->format = "criterion";
    c->column[COL_VALUE] = measured;
    c->column[COL_PER] = times;
    c->column[COL_UNIT] = ab_titled_(s, f, n, "unit");
    for (i = 0; i < AB_NAME_PARTS; i++)
        c->part[i] = ab_titled_(s, f, n, part[i]);
    return 1;
}

/* Names the columns that nothing is made of: one may be a parameter. */
PERF_FN void ab_note_columns_(const ab_source *s, const ab_field *f, const ab_csv *c)
{
    char   text[300] = "columns that are not used:";
    size_t len = strlen(text), unused = 0, at = 0;
    int    i, k, used;

    for (i = 0; i < c->columns; i++) {
        for (k = used = 0; k < COL_COUNT; k++)
            used |= c->column[k] == i;
        if (used || !f[i].len)
            continue;
        at = unused++ ? at : f[i].at;
        if (len + f[i].len + 2 < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s %.*s", unused > 1 ? "," : "",
                                    (int)f[i].len, s->text + f[i].at);
    }
    if (unused)
        ab_note_at(s, at, text);
}

/* What separates the fields of a header. */
PERF_FN char ab_comma_of_(const char *line, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (line[i] == ';' || line[i] == '\t')
            return line[i];
    return ',';
}

/* Which column holds what, by their titles.  -1 with a message. */
PERF_FN int ab_csv_titles_(const ab_source *s, size_t start, const ab_field *f, ab_csv *c)
{
    ab_column holds;
    char     *title;
    int       k;

    for (k = 0; k < c->columns; k++) {
        if (ab_is_decimal_comma_(s->text + f[k].at, f[k].len))
            return ab_fail_at(s, f[k].at, ab_comma_, s->text + f[k].at, f[k].len);
        title = ab_field_text_(s, &f[k]);
        holds = ab_column_of_(title, s->o->value);
        if (!strcmp(title, "rule_verdict"))         /* before and after would be read as pairs    */
            holds = COL_COUNT;
        free(title);
        if (holds == COL_COUNT)
            return ab_fail_at(s, start, ab_verdicts_, NULL, 0);
        if (holds == COL_NONE)
            continue;
        if (c->column[holds] >= 0)
            return ab_fail_at(s, f[k].at, "two columns of one meaning", s->text + f[k].at,
                              f[k].len);
        c->column[holds] = k;
    }
    return 0;
}

/* The header line.  -1 with a message. */
PERF_FN int ab_csv_header_(const ab_source *s, size_t *at, ab_csv *c)
{
    ab_field f[AB_FIELDS];
    size_t   start = *at, len = ab_line_(s, *at);
    int      k;

    if (ab_foreign_(s, start))
        return ab_fail_at(s, start, ab_foreign_(s, start), NULL, 0);
    if (ab_is_decimal_comma_(s->text + start, len))
        return ab_fail_at(s, start,
                          "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'",
                          s->text + start, len);
    c->comma = ab_comma_of_(s->text + start, len);
    for (k = 0; k < COL_COUNT; k++)
        c->column[k] = -1;
    for (k = 0; k < AB_NAME_PARTS; k++)
        c->part[k] = -1;
    c->columns = ab_fields_(s, at, c->comma, f);
    if (c->columns < 0) {
        ab_json_later_(s, start);
        return -1;
    }
    if (ab_is_perf_stat_(s, f, c->columns))
        return ab_fail_at(s, start, "perf stat has one sum a run, no single values: perf-ab run "
                          "measures commands", NULL, 0);
    if (c->columns == 1 && ab_json_later_(s, start) < 0)
        return -1;
    if (ab_is_criterion_(s, f, c->columns, c))
        return 0;
    if (ab_csv_titles_(s, start, f, c) < 0)
        return -1;
    c->part[0] = c->column[COL_NAME];
    if (c->columns == 1 && c->column[COL_VALUE] < 0 && !s->o->value)
        c->column[COL_VALUE] = 0;                   /* the only column, whatever its title        */
    if (c->column[COL_A] >= 0 && c->column[COL_B] >= 0)
        c->column[COL_VALUE] = -1;
    else if (c->column[COL_VALUE] < 0)
        return ab_no_header_(s, start, f, c->columns);
    ab_note_columns_(s, f, c);
    return 0;
}

/* ---- rows ---- */

/* A column's text of a row that has n fields, "" where there is none; to be freed. */
PERF_FN char *ab_cell_(const ab_source *s, const ab_field *f, int n, int column)
{
    return column < 0 || column >= n ? ab_copy("", 0) : ab_field_text_(s, &f[column]);
}

/* The name of a row: its parts with a slash between them; to be freed. */
PERF_FN char *ab_row_name_(const ab_source *s, const ab_field *f, int n, const ab_csv *c)
{
    char *name = ab_cell_(s, f, n, c->part[0]), *part;
    int   i;

    for (i = 1; i < AB_NAME_PARTS; i++) {
        size_t len = strlen(name);
        part = ab_cell_(s, f, n, c->part[i]);
        if (*part) {
            name = (char *)ab_grow(name, len + strlen(part) + 2, 1);
            name[len] = '/';
            memcpy(name + len + (len > 0), part, strlen(part) + 1);
        }
        free(part);
    }
    return name;
}

/* The values of a row into a series.  -1 with a message. */
PERF_FN int ab_csv_values_(const ab_source *s, const ab_field *f, ab_csv *c, ab_series *series,
                           ab_reading *m)
{
    const int       pairs = c->column[COL_VALUE] < 0;
    const ab_field *x = &f[c->column[pairs ? COL_A : COL_VALUE]];
    const ab_field *y = pairs ? &f[c->column[COL_B]] : NULL;
    const ab_field *per = c->column[COL_PER] < 0 ? NULL : &f[c->column[COL_PER]];
    const ab_field *first = c->column[COL_FIRST] < 0 ? NULL : &f[c->column[COL_FIRST]];
    double          times = 1.0;

    if (series->runs && (series->design == AB_PAIRS) != pairs)
        return ab_fail_at(s, x->at, "pairs and single values of one benchmark", NULL, 0);
    series->design = pairs ? AB_PAIRS : AB_SEPARATE;
    if (ab_value_(s, x->at, x->len, m->unit, &m->x) < 0 ||
        (y && ab_value_(s, y->at, y->len, m->unit, &m->y) < 0) ||
        (per && ab_value_(s, per->at, per->len, "", &times) < 0))
        return -1;
    m->x /= times;
    if (ab_add_(s, x->at, series, m) < 0)
        return -1;
    if (pairs && first && first->len)
        c->first_seen[s->text[first->at] == '1'] = 1;
    return 0;
}

/* One row; what is wrong with it costs its benchmark. */
PERF_FN void ab_csv_row_(const ab_source *s, size_t start, const ab_field *f, int n, ab_csv *c)
{
    char       *name = ab_row_name_(s, f, n, c), *unit = ab_cell_(s, f, n, c->column[COL_UNIT]);
    char       *run = c->column[COL_RUN] < 0 ? NULL : ab_cell_(s, f, n, c->column[COL_RUN]);
    ab_series  *series = ab_series_of(s->set, name);
    ab_reading  m = {NULL, "", 1.0, 1.0};
    char        what[100];
    int         k, fits = n <= c->columns;

    m.run = run;
    m.unit = unit;
    for (k = 0; k < COL_COUNT; k++)
        fits &= c->column[k] < n;
    if (!fits) {
        snprintf(what, sizeof what, "%d fields where the header has %d%s", n, c->columns,
                 n > c->columns && c->comma == ',' ? " (decimal commas? write 1.5)" : "");
        ab_fail_at(s, start, what, NULL, 0);
        ab_refuse(s, series);
    } else if (series->lack == AB_HAS && ab_csv_values_(s, f, c, series, &m) < 0) {
        ab_refuse(s, series);
    }
    free(name);
    free(unit);
    free(run);
}

PERF_FN int ab_read_csv_(const ab_source *s)
{
    ab_field f[AB_FIELDS];
    ab_csv   c;
    size_t   at = 0, start, i;
    int      n;

    memset(&c, 0, sizeof c);
    s->set->format = "CSV";
    while (at < s->len) {
        if (ab_skip_line_(s, at)) {
            at = ab_next_line_(s, at);
            continue;
        }
        if (!c.columns) {
            if (ab_csv_header_(s, &at, &c) < 0)
                return -1;
            continue;
        }
        start = at;
        n = ab_fields_(s, &at, c.comma, f);
        if (n < 0)
            return -1;
        ab_csv_row_(s, start, f, n, &c);
    }
    for (i = 0; i < s->set->n; i++)                 /* one value is no order                      */
        if (c.first_seen[0] != c.first_seen[1] && s->set->s[i].runs &&
            s->set->s[i].run[0].v[0].n > 1)
            s->set->s[i].same_order = 1;
    return 0;
}

#endif
