/* read_csv.h - plain numbers, and CSV whose header says what the columns hold.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_CSV_H
#define PERF_TOOLS_READ_CSV_H

#include "source.h"

/* ---- plain numbers: one a line, # comments ---- */

/* One line of plain numbers.  Returns 0, or -1 with a message. */
PERF_FN int ab_plain_line_(const ab_source *source, ab_series *series, size_t at, size_t end)
{
    ab_reading reading = {NULL, "", 0.0, 1.0};
    size_t     len;

    while (at < end && ab_is_blank(source->text[at]))
        at++;
    len = ab_token(source, at, end);
    if (ab_value_(source, at, len, "", &reading.x) < 0 || ab_add_(source, at, series, &reading) < 0)
        return -1;
    for (at += len; at < end && ab_is_blank(source->text[at]); at++)
        continue;
    if (at < end && source->text[at] != '#')
        return ab_fail_at(source, at, "a second number on one line: pairs need a header line 'a,b'",
                          NULL, 0);
    return 0;
}

PERF_FN int ab_read_plain_(const ab_source *source)
{
    ab_series *series = ab_series_of(source->set, "");
    size_t     at;

    source->set->format = "plain numbers";
    for (at = 0; at < source->len; at = ab_next_line_(source, at))
        if (!ab_skip_line_(source, at) &&
            ab_plain_line_(source, series, at, at + ab_line_(source, at)) < 0)
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
    int  kinds;                         /* 1: a name has figures of several kinds, as convert    */
                                        /* writes them: those asked for are read                  */
} ab_csv;

/* The field that begins at *at, which moves behind it.  -1 with a message. */
PERF_FN int ab_field_(const ab_source *source, size_t *at, char comma, ab_field *field)
{
    size_t i = *at, end;

    while (i < source->len && (source->text[i] == ' ' ||
                               (source->text[i] == '\t' && comma != '\t')))
        i++;
    field->quoted = i < source->len && source->text[i] == '"';
    if (field->quoted) {
        field->at = ++i;
        while (i < source->len && (source->text[i] != '"' || source->text[i + 1] == '"'))
            i += source->text[i] == '"' ? 2 : 1;
        if (i >= source->len)
            return ab_fail_at(source, field->at - 1, "this quote is never closed", NULL, 0);
        field->len = i++ - field->at;
    } else {
        field->at = i;
        while (i < source->len && source->text[i] != comma && source->text[i] != '\n')
            i++;
        for (end = i; end > field->at && ab_is_blank(source->text[end - 1]); end--)
            continue;
        field->len = end - field->at;
    }
    while (i < source->len && ab_is_blank(source->text[i]) && source->text[i] != comma)
        i++;
    *at = i;
    return 0;
}

/* Splits the line at *at into fields; *at moves past its end.  Returns their number, or -1. */
PERF_FN int ab_fields_(const ab_source *source, size_t *at, char comma, ab_field *field)
{
    int n = 0;

    for (;;) {
        if (n == AB_FIELDS)
            return ab_fail_at(source, *at, "more than 256 columns", NULL, 0);
        if (ab_field_(source, at, comma, &field[n++]) < 0)
            return -1;
        if (*at >= source->len)
            return n;
        if (source->text[*at] != comma && source->text[*at] != '\n')
            return ab_fail_at(source, *at, "text after a closing quote", NULL, 0);
        if (source->text[(*at)++] == '\n')
            return n;
    }
}

/* A field as a string of its own. */
PERF_FN char *ab_field_text_(const ab_source *source, const ab_field *field)
{
    char  *text = ab_copy(source->text + field->at, field->len);
    size_t i, n = 0;

    for (i = 0; field->quoted && i < field->len; i++) {
        text[n++] = text[i];
        i += text[i] == '"';
    }
    if (field->quoted)
        text[n] = '\0';
    return text;
}

/* The field of that title; -1: there is none. */
PERF_FN int ab_titled_(const ab_source *source, const ab_field *field, int n, const char *title)
{
    int i;

    for (i = 0; i < n; i++)
        if (field[i].len == strlen(title) &&
            !memcmp(source->text + field[i].at, title, field[i].len))
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
PERF_FN const char *ab_summaries_(const ab_source *source, const ab_field *field, int n)
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
        if (ab_titled_(source, field, n, known[i].title[0]) >= 0 &&
            ab_titled_(source, field, n, known[i].title[1]) >= 0 &&
            ab_titled_(source, field, n, known[i].title[2]) >= 0)
            return known[i].what;
    return NULL;
}

/* `perf stat -x,`: a number, its unit or nothing, an event. */
PERF_FN int ab_is_perf_stat_(const ab_source *source, const ab_field *field, int n)
{
    double x;
    size_t i;

    if (n < 5 || !field[0].len || field[2].len < 3)
        return 0;
    if (!ab_number_of_(source->text + field[0].at, field[0].len, &x) &&
        !ab_is_decimal_comma_(source->text + field[0].at, field[0].len))
        return 0;
    for (i = 0; i < field[1].len; i++)
        if (ab_is_digit(source->text[field[1].at + i]))
            return 0;
    return !ab_is_digit(source->text[field[2].at]) && !memchr("+-.", source->text[field[2].at], 3);
}

/* Texts of tools that have no single values, by what stands in a line. */
PERF_FN const char *ab_foreign_line_(const ab_source *source, size_t at)
{
    if (ab_starts_(source, at, "window.BENCHMARK_DATA"))
        return "github-action-benchmark's data.js has one figure a commit, no single values: give "
               "the output of the tool behind it";
    if (ab_line_has_(source, at, " ... bench: ") || ab_starts_(source, at, "running "))
        return "cargo bench prints one figure a benchmark: criterion's sample.json or raw.csv has "
               "single values";
    if (ab_line_has_(source, at, "benchmark name") && ab_line_has_(source, at, "iterations"))
        return "Catch2's text is for people: -r xml";
    return NULL;
}

/* The same for a text, by its first lines. */
PERF_FN const char *ab_foreign_(const ab_source *source, size_t start)
{
    const char *what = NULL;
    size_t      at, lines = 0;

    for (at = start; at < source->len && lines < 64 && !what; at = ab_next_line_(source, at),
         lines++)
        what = ab_foreign_line_(source, at);
    return what;
}

/* Fails where JSON begins in a later line, behind a log; 0: none does. */
PERF_FN int ab_json_later_(const ab_source *source, size_t start)
{
    char   text[120];
    size_t at, line, column;

    for (at = ab_next_line_(source, start); at < source->len; at = ab_next_line_(source, at)) {
        if (source->text[at] != '{' && !ab_starts_(source, at, "[{"))
            continue;
        ab_place_(source, at, &line, &column);
        snprintf(text, sizeof text, "JSON begins in line %zu: remove what stands before it", line);
        return ab_fail_at(source, start, text, NULL, 0);
    }
    return 0;
}

/* Why this text has no header that could be used. */
PERF_FN int ab_no_header_(const ab_source *source, size_t start, const ab_field *field, int n)
{
    const char *line = source->text + start, *what = ab_summaries_(source, field, n);
    size_t      len = ab_line_(source, start);
    int         number = *line && strchr("0123456789+-.", *line) != NULL;

    if (what || source->o->value)
        return ab_fail_at(source, start, what ? what : "no column of the name that --value gives",
                          line, len);
    if (!number && ab_json_later_(source, start) < 0)
        return -1;
    if (number && memchr(line, ',', len))
        what = "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'";
    else if (number)
        what = "pairs need a header line 'a,b'";
    else
        what = "the header needs columns 'a' and 'b', or 'value' (and 'name'), or --value";
    return ab_fail_at(source, start, what, line, len);
}

/* criterion's raw.csv: `value` is a parameter there.  1: it is that file. */
PERF_FN int ab_is_criterion_(const ab_source *source, const ab_field *field, int n, ab_csv *csv)
{
    static const char *const part[AB_NAME_PARTS] = {"group", "function", "value"};
    int measured = ab_titled_(source, field, n, "sample_measured_value");
    int times = ab_titled_(source, field, n, "iteration_count"), i;

    if (measured < 0 || times < 0 || source->o->value)
        return 0;
    source->set->format = "criterion";
    csv->column[COL_VALUE] = measured;
    csv->column[COL_PER] = times;
    csv->column[COL_UNIT] = ab_titled_(source, field, n, "unit");
    for (i = 0; i < AB_NAME_PARTS; i++)
        csv->part[i] = ab_titled_(source, field, n, part[i]);
    return 1;
}

/* Names the columns that nothing is made of: one may be a parameter. */
PERF_FN void ab_note_columns_(const ab_source *source, const ab_field *field, const ab_csv *csv)
{
    char   text[300] = "columns that are not used:";
    size_t len = strlen(text), unused = 0, at = 0;
    int    i, k, used;

    for (i = 0; i < csv->columns; i++) {
        for (k = used = 0; k < COL_COUNT; k++)
            used |= csv->column[k] == i;
        if (used || !field[i].len)
            continue;
        at = unused++ ? at : field[i].at;
        if (len + field[i].len + 2 < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s %.*s", unused > 1 ? "," : "",
                                    (int)field[i].len, source->text + field[i].at);
    }
    if (unused)
        ab_note_at(source, at, text);
}

/* What separates the fields of a header; what stands in quotes does not. */
PERF_FN char ab_comma_of_(const char *line, size_t len)
{
    size_t i;
    int    quoted = 0;

    for (i = 0; i < len; i++) {
        if (line[i] == '"')             /* it opens at the begin of a field, or is one of two     */
            quoted = !quoted && (i == 0 || strchr(",;\t \"", line[i - 1]));
        if (!quoted && (line[i] == ';' || line[i] == '\t'))
            return line[i];
    }
    return ',';
}

/* Which column holds what, by their titles.  -1 with a message. */
PERF_FN int ab_csv_titles_(const ab_source *source, size_t start, const ab_field *field,
                           ab_csv *csv)
{
    ab_column holds;
    char     *title;
    int       k;

    for (k = 0; k < csv->columns; k++) {
        if (ab_is_decimal_comma_(source->text + field[k].at, field[k].len))
            return ab_fail_at(source, field[k].at, ab_comma_, source->text + field[k].at,
                              field[k].len);
        title = ab_field_text_(source, &field[k]);
        holds = ab_column_of_(title, source->o->value);
        if (!strcmp(title, "rule_verdict"))         /* before and after would be read as pairs    */
            holds = COL_COUNT;
        free(title);
        if (holds == COL_COUNT)
            return ab_fail_at(source, start, ab_verdicts_, NULL, 0);
        if (holds == COL_NONE)
            continue;
        if (csv->column[holds] >= 0)
            return ab_fail_at(source, field[k].at, "two columns of one meaning",
                              source->text + field[k].at, field[k].len);
        csv->column[holds] = k;
    }
    return 0;
}

/* The header line.  -1 with a message. */
PERF_FN int ab_csv_header_(const ab_source *source, size_t *at, ab_csv *csv)
{
    ab_field field[AB_FIELDS];
    size_t   start = *at, len = ab_line_(source, *at);
    int      k;

    if (ab_foreign_(source, start))
        return ab_fail_at(source, start, ab_foreign_(source, start), NULL, 0);
    if (ab_is_decimal_comma_(source->text + start, len))
        return ab_fail_at(source, start,
                          "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'",
                          source->text + start, len);
    csv->comma = ab_comma_of_(source->text + start, len);
    for (k = 0; k < COL_COUNT; k++)
        csv->column[k] = -1;
    for (k = 0; k < AB_NAME_PARTS; k++)
        csv->part[k] = -1;
    csv->columns = ab_fields_(source, at, csv->comma, field);
    if (csv->columns < 0) {
        ab_json_later_(source, start);
        return -1;
    }
    if (ab_is_perf_stat_(source, field, csv->columns))
        return ab_fail_at(source, start,
                          "perf stat has one sum a run, no single values: perf-ab run "
                          "measures commands", NULL, 0);
    if (csv->columns == 1 && ab_json_later_(source, start) < 0)
        return -1;
    if (ab_is_criterion_(source, field, csv->columns, csv))
        return 0;
    if (ab_csv_titles_(source, start, field, csv) < 0)
        return -1;
    csv->part[0] = csv->column[COL_NAME];
    if (csv->columns == 1 && csv->column[COL_VALUE] < 0 && !source->o->value)
        csv->column[COL_VALUE] = 0;                 /* the only column, whatever its title        */
    if (csv->column[COL_A] >= 0 && csv->column[COL_B] >= 0)
        csv->column[COL_VALUE] = -1;
    else if (csv->column[COL_VALUE] < 0)
        return ab_no_header_(source, start, field, csv->columns);
    ab_note_columns_(source, field, csv);
    return 0;
}

/* ---- rows ---- */

/* A column's text of a row that has n fields, "" where there is none; to be freed. */
PERF_FN char *ab_cell_(const ab_source *source, const ab_field *field, int n, int column)
{
    return column < 0 || column >= n ? ab_copy("", 0) : ab_field_text_(source, &field[column]);
}

/* The name of a row: its parts with a slash between them; to be freed. */
PERF_FN char *ab_row_name_(const ab_source *source, const ab_field *field, int n, const ab_csv *csv)
{
    char *name = ab_cell_(source, field, n, csv->part[0]), *part;
    int   i;

    for (i = 1; i < AB_NAME_PARTS; i++) {
        size_t len = strlen(name);
        part = ab_cell_(source, field, n, csv->part[i]);
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
PERF_FN int ab_csv_values_(const ab_source *source, const ab_field *field, const ab_csv *csv,
                           ab_series *series, ab_reading *reading)
{
    const int       pairs = csv->column[COL_VALUE] < 0;
    const ab_field *x = &field[csv->column[pairs ? COL_A : COL_VALUE]];
    const ab_field *y = pairs ? &field[csv->column[COL_B]] : NULL;
    const ab_field *per = csv->column[COL_PER] < 0 ? NULL : &field[csv->column[COL_PER]];
    const ab_field *first = csv->column[COL_FIRST] < 0 ? NULL : &field[csv->column[COL_FIRST]];
    double          times = 1.0;

    if (series->runs && (series->design == AB_PAIRS) != pairs)
        return ab_fail_at(source, x->at, "pairs and single values of one benchmark", NULL, 0);
    series->design = pairs ? AB_PAIRS : AB_SEPARATE;
    if (ab_value_(source, x->at, x->len, reading->unit, &reading->x) < 0 ||
        (y && ab_value_(source, y->at, y->len, reading->unit, &reading->y) < 0) ||
        (per && ab_value_(source, per->at, per->len, "", &times) < 0))
        return -1;
    reading->x /= times;
    if (ab_add_(source, x->at, series, reading) < 0)
        return -1;
    if (pairs && first && first->len)
        series->led[source->text[first->at] == '1'] = 1;
    return 0;
}

/* 1: a name has figures of several kinds (time, memory, rates) in the rows from `at` on. */
PERF_FN int ab_csv_kinds_(const ab_source *source, size_t at, const ab_csv *csv)
{
    static const char *const kind[] = {"time", "memory", "rate", "other"};
    ab_field field[AB_FIELDS];
    ab_set   names;
    char    *name, *unit;
    int      n, several = 0;

    memset(&names, 0, sizeof names);
    while (at < source->len && !several) {
        if (ab_skip_line_(source, at)) {
            at = ab_next_line_(source, at);
            continue;
        }
        n = ab_fields_(source, &at, csv->comma, field);
        if (n < 0)
            break;                                  /* to be said where the row is read           */
        name = ab_row_name_(source, field, n, csv);
        unit = ab_cell_(source, field, n, csv->column[COL_UNIT]);
        several = *unit &&
            ab_unit_of_(ab_series_of(&names, name), kind[ab_unit_kind(unit)]) < 0;
        free(name);
        free(unit);
    }
    ab_set_free(&names);
    return several;
}

/* The series of a row; NULL: its figures are not asked for. */
PERF_FN ab_series *ab_csv_series_(const ab_source *source, const ab_csv *csv, const char *name,
                                  const char *unit)
{
    if (!csv->kinds)
        return ab_series_of(source->set, name);
    return ab_unwanted_(source, unit) ? NULL : ab_series_for_(source, name, unit);
}

/* One row; what is wrong with it costs its benchmark. */
PERF_FN void ab_csv_row_(const ab_source *source, size_t start, const ab_field *field, int n,
                         const ab_csv *csv)
{
    char       *name = ab_row_name_(source, field, n, csv),
               *unit = ab_cell_(source, field, n, csv->column[COL_UNIT]);
    char       *run =
        csv->column[COL_RUN] < 0 ? NULL : ab_cell_(source, field, n, csv->column[COL_RUN]);
    ab_series  *series = ab_csv_series_(source, csv, name, unit);
    ab_reading  reading = {NULL, "", 1.0, 1.0};
    char        what[100];
    int         k, fits = n <= csv->columns;

    reading.run = run;
    reading.unit = unit;
    for (k = 0; k < COL_COUNT; k++)
        fits &= csv->column[k] < n;
    if (!series)
        fits = 1;
    if (!fits) {
        snprintf(what, sizeof what, "%d fields where the header has %d%s", n, csv->columns,
                 n > csv->columns && csv->comma == ',' ? " (decimal commas? write 1.5)" : "");
        ab_fail_at(source, start, what, NULL, 0);
        ab_refuse(source, series);
    } else if (series && series->lack == AB_HAS &&
               ab_csv_values_(source, field, csv, series, &reading) < 0) {
        ab_refuse(source, series);
    }
    free(name);
    free(unit);
    free(run);
}

PERF_FN int ab_read_csv_(const ab_source *source)
{
    ab_field field[AB_FIELDS];
    ab_csv   csv;
    size_t   at = 0, start;
    int      n;

    memset(&csv, 0, sizeof csv);
    source->set->format = "CSV";
    while (at < source->len) {
        if (ab_skip_line_(source, at)) {
            at = ab_next_line_(source, at);
            continue;
        }
        if (!csv.columns) {
            if (ab_csv_header_(source, &at, &csv) < 0)
                return -1;
            csv.kinds = csv.column[COL_UNIT] >= 0 && ab_csv_kinds_(source, at, &csv);
            continue;
        }
        start = at;
        n = ab_fields_(source, &at, csv.comma, field);
        if (n < 0)
            return -1;
        ab_csv_row_(source, start, field, n, &csv);
    }
    return 0;
}

#endif
