/* read.h - reads samples in any of the formats of docs/formats.md, and says where a file is wrong.
 *
 * ab_read() looks at the content, never at the file's name.  Every value it hands on is a positive
 * finite number: anything else ends the reading with file, line and column.  JSON is parsed by
 * Jansson, which limits the depth and knows the position of what it does not understand; positions
 * of values that are JSON but no durations are found again by json_where_().
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_H
#define PERF_TOOLS_READ_H

#include "ab.h"

#include <jansson.h>

typedef enum ab_format {
    AB_DETECT, AB_PLAIN, AB_CSV, AB_GO, AB_RESULTS, AB_GOOGLE, AB_HYPERFINE, AB_PYPERF
} ab_format;

typedef struct ab_read_opts {           /* zero = default                                         */
    ab_format   format;                 /* AB_DETECT: look                                        */
    ab_kind     want;                   /* which figures, where a file has several                */
    const char *value;                  /* the column or counter of that name instead             */
    const char *run;                    /* id of runs that the file does not name; NULL: none     */
    int         every;                  /* 1: figures of every kind, apart                        */
} ab_read_opts;

enum { AB_MAX_RUNS = 10000 };           /* of one benchmark: finding one is a walk                */

#define AB_MOST_BYTES ((size_t)256 << 20)           /* of a file: ten million values and more     */

PERF_FN const char *ab_format_name(ab_format f)
{
    static const char *const name[] = {"auto", "plain", "csv", "go", "json", "google", "hyperfine",
                                       "pyperf"};
    return name[f];
}

/* The format of that name, or -1. */
PERF_FN int ab_format_of(const char *name)
{
    int f;

    for (f = AB_DETECT; f <= AB_PYPERF; f++)
        if (!strcmp(name, ab_format_name((ab_format)f)))
            return f;
    return -1;
}

/* ---- the text of a file, and where in it ---- */

typedef struct ab_source {
    const char         *file;           /* its name in messages                                   */
    const char         *text;           /* ends with a zero byte that len does not count          */
    size_t              len;
    const ab_read_opts *o;
    ab_set             *set;
    ab_error           *e;
} ab_source;

PERF_FN int ab_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Fails at text[at], with the line and column counted now. */
PERF_FN int ab_fail_at(const ab_source *s, size_t at, const char *what, const char *token,
                       size_t len)
{
    size_t line = 1, column = 1, i;

    for (i = 0; i < at && i < s->len; i++) {
        column++;
        if (s->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    if (token)
        return ab_fail(s->e, s->file, line, column, "%s: '%.*s'%s", what,
                       (int)(len < 40 ? len : 40), token, len > 40 ? "..." : "");
    return ab_fail(s->e, s->file, line, column, "%s", what);
}

/* ---- numbers ---- */

/* Decimal text of up to 15 digits, which one division turns into the nearest double (Clinger 1990).
 * Returns its length; 0: leave it to strtod.  It halves the time of a long file.                 */
PERF_FN size_t ab_quick_number_(const char *s, double *out)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15};
    const char *p = s;
    uint64_t    digits = 0;
    unsigned    n = 0, after = 0;

    for (; *p >= '0' && *p <= '9' && n < 16; p++, n++)
        digits = digits * 10 + (unsigned)(*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && n < 16; p++, n++, after++)
            digits = digits * 10 + (unsigned)(*p - '0');
    if (!n || n > 15 || *p == 'e' || *p == 'E' || *p == 'x' || *p == 'X' || *p == '.')
        return 0;
    *out = (double)digits / power[after];
    return (size_t)(p - s);
}

/* 1 for digits, a comma and digits: how much of the world writes a fraction. */
PERF_FN int ab_is_decimal_comma_(const char *p, size_t len)
{
    const char *comma = (const char *)memchr(p, ',', len);
    size_t      i;

    for (i = 0; i < len; i++)
        if (p + i != comma && (p[i] < '0' || p[i] > '9'))
            return 0;
    return comma && comma > p && comma + 1 < p + len;
}

static const char ab_comma_[] = "a decimal comma: write 1.5, not 1,5";
static const char ab_verdicts_[] = "these are verdicts that perf-ab wrote; it reads measurements";
static const char ab_zero_[] = "zero: too short for its clock? time more work per value";

/* Reads the token text[at .. at + len) as one positive finite number; counts may be zero. */
PERF_FN int ab_value_(const ab_source *s, size_t at, size_t len, const char *unit, double *out)
{
    const char *p = s->text + at;
    char       *end = NULL;
    size_t      used = ab_quick_number_(p, out), i;

    if (!used) {
        for (i = 0; i < len && p[i] != 'x' && p[i] != 'X' && p[i] != 'p' && p[i] != 'P'; i++)
            continue;
        if (i == len) {                             /* no hexadecimal: nobody prints times so     */
            *out = strtod(p, &end);
            used = (size_t)(end - p);
        }
    }
    if (!used || used != len)
        return ab_fail_at(s, at, ab_is_decimal_comma_(p, len) ? ab_comma_ : "expected a number", p,
                          len);
    if (perf_is_nan_(*out) || !perf_is_finite_(*out))
        return ab_fail_at(s, at, "not a finite number", p, len);
    if (*out < 0.0)
        return ab_fail_at(s, at, "negative", p, len);
    if (!(*out > 0.0)) {
        if (ab_unit_kind(unit) != AB_MEMORY)
            return ab_fail_at(s, at, ab_zero_, p, len);
        *out = AB_ZERO_COUNT;
    }
    return 0;
}

/* Puts one value into a series, converting times to ns. */
PERF_FN int ab_add_(const ab_source *s, size_t at, ab_series *series, const char *run,
                    const char *unit, double x, double y)
{
    double  ns = *unit ? ab_unit_ns(unit) : 0.0;
    ab_run *r;

    if (ns > 0.0) {
        x *= ns;
        y *= ns;
        unit = "ns";
    }
    if (!(x > 0.0) || !perf_is_finite_(x) || !(y > 0.0) || !perf_is_finite_(y))
        return ab_fail_at(s, at, "this number in ns is out of range", NULL, 0);
    if (*unit && strcmp(series->unit, unit) != 0) {
        if (*series->unit)
            return ab_fail_at(s, at, "another unit than above for the same benchmark", unit,
                              strlen(unit));
        free(series->unit);
        series->unit = ab_copy(unit, strlen(unit));
    }
    if (series->runs >= AB_MAX_RUNS)
        return ab_fail_at(s, at, "more than 10,000 runs of one benchmark", NULL, 0);
    r = ab_run_of(series, run ? run : s->o->run);
    ab_push(&r->v[0], x);
    if (series->design == AB_PAIRS)
        ab_push(&r->v[1], y);
    return 0;
}

/* ---- plain numbers: one a line, # comments ---- */

PERF_FN int ab_read_plain_(const ab_source *s)
{
    ab_series *series = ab_series_of(s->set, "");
    size_t     at = 0, end;
    double     x;

    s->set->format = "plain numbers";
    while (at < s->len) {
        while (at < s->len && (ab_is_blank(s->text[at]) || s->text[at] == '\n'))
            at++;
        if (at < s->len && s->text[at] == '#') {
            while (at < s->len && s->text[at] != '\n')
                at++;
            continue;
        }
        if (at >= s->len)
            break;
        for (end = at; end < s->len && !ab_is_blank(s->text[end]) && s->text[end] != '\n'; end++)
            continue;
        if (ab_value_(s, at, end - at, "", &x) < 0 || ab_add_(s, at, series, NULL, "", x, 1.0) < 0)
            return -1;
        for (at = end; at < s->len && ab_is_blank(s->text[at]); at++)
            continue;
        if (at < s->len && s->text[at] != '\n' && s->text[at] != '#')
            return ab_fail_at(s, at, "a second number on one line: pairs need a header line 'a,b'",
                              NULL, 0);
    }
    return 0;
}

/* ---- CSV with a header ---- */

enum { AB_FIELDS = 256 };

typedef enum ab_column { COL_NONE, COL_NAME, COL_UNIT, COL_RUN, COL_VALUE, COL_A, COL_B, COL_FIRST,
                         COL_COUNT } ab_column;

typedef struct ab_field {
    size_t at, len;                     /* in the text, without quotes                            */
    int    quoted;                      /* has "" inside that stand for "                         */
} ab_field;

/* Splits the line at *at into fields; *at moves past its end.  Returns their number, or -1. */
PERF_FN int ab_fields_(const ab_source *s, size_t *at, char comma, ab_field *f)
{
    size_t i = *at, end;
    int    n = 0;

    for (;;) {
        if (n == AB_FIELDS)
            return ab_fail_at(s, i, "more than 256 columns", NULL, 0);
        while (i < s->len && (s->text[i] == ' ' || (s->text[i] == '\t' && comma != '\t')))
            i++;
        f[n].quoted = i < s->len && s->text[i] == '"';
        if (f[n].quoted) {
            f[n].at = ++i;
            while (i < s->len && (s->text[i] != '"' || s->text[i + 1] == '"'))
                i += s->text[i] == '"' ? 2 : 1;
            if (i >= s->len)
                return ab_fail_at(s, f[n].at - 1, "this quote is never closed", NULL, 0);
            f[n].len = i++ - f[n].at;
        } else {
            f[n].at = i;
            while (i < s->len && s->text[i] != comma && s->text[i] != '\n')
                i++;
            for (end = i; end > f[n].at && ab_is_blank(s->text[end - 1]); end--)
                continue;
            f[n].len = end - f[n].at;
        }
        n++;
        while (i < s->len && ab_is_blank(s->text[i]) && s->text[i] != comma)
            i++;
        if (i < s->len && s->text[i] == comma) {
            i++;
            continue;
        }
        if (i < s->len && s->text[i] != '\n')
            return ab_fail_at(s, i, "text after a closing quote", NULL, 0);
        *at = i + (i < s->len);
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

/* Length of the line at text[at], without its end. */
PERF_FN size_t ab_line_(const ab_source *s, size_t at)
{
    const char *end = (const char *)memchr(s->text + at, '\n', s->len - at);
    size_t      len = end ? (size_t)(end - s->text) - at : s->len - at;

    while (len && ab_is_blank(s->text[at + len - 1]))
        len--;
    return len;
}

/* 1 for a line to pass over: blank or a comment. */
PERF_FN int ab_skip_line_(const ab_source *s, size_t at)
{
    size_t len = ab_line_(s, at), i;

    for (i = 0; i < len && ab_is_blank(s->text[at + i]); i++)
        continue;
    return i == len || s->text[at + i] == '#';
}

PERF_FN size_t ab_next_line_(const ab_source *s, size_t at)
{
    const char *end = (const char *)memchr(s->text + at, '\n', s->len - at);
    return end ? (size_t)(end - s->text) + 1 : s->len;
}

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

/* The header line: which column holds what.  Returns the number of columns, or -1. */
PERF_FN int ab_csv_header_(const ab_source *s, size_t *at, char *comma, int *column)
{
    ab_field  f[AB_FIELDS];
    ab_column c;
    size_t    i, start = *at, len = ab_line_(s, *at);
    char     *title;
    int       n, k;

    if (ab_is_decimal_comma_(s->text + start, len))
        return ab_fail_at(s, start,
                          "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'",
                          s->text + start, len);
    *comma = ',';                                   /* unless there are the others                */
    for (i = 0; i < len && *comma == ','; i++)
        if (s->text[start + i] == ';' || s->text[start + i] == '\t')
            *comma = s->text[start + i];
    n = ab_fields_(s, at, *comma, f);
    if (n < 0)
        return -1;
    for (k = 0; k < COL_COUNT; k++)
        column[k] = -1;
    for (k = 0; k < n; k++) {
        if (ab_is_decimal_comma_(s->text + f[k].at, f[k].len))
            return ab_fail_at(s, f[k].at, ab_comma_, s->text + f[k].at, f[k].len);
        title = ab_field_text_(s, &f[k]);
        if (!strcmp(title, "rule_verdict")) {       /* before and after would be read as pairs    */
            free(title);
            return ab_fail_at(s, start, ab_verdicts_, NULL, 0);
        }
        c = ab_column_of_(title, s->o->value);
        free(title);
        if (c != COL_NONE && column[c] >= 0)
            return ab_fail_at(s, f[k].at, "two columns of one meaning", s->text + f[k].at,
                              f[k].len);
        if (c != COL_NONE)
            column[c] = k;
    }
    if (n == 1 && column[COL_VALUE] < 0 && !s->o->value)
        column[COL_VALUE] = 0;                      /* the only column, whatever its title        */
    if (column[COL_A] >= 0 && column[COL_B] >= 0)
        column[COL_VALUE] = -1;
    else if (column[COL_VALUE] < 0)
        return ab_fail_at(
            s, start,
            s->o->value ? "no column of the name that --value gives"
            : strchr("0123456789+-.", s->text[start]) && memchr(s->text + start, ',', len)
                ? "a decimal comma? write 1.5, not 1,5; pairs need a header line 'a,b'"
            : strchr("0123456789+-.", s->text[start]) ? "pairs need a header line 'a,b'"
                : "the header needs columns 'a' and 'b', or 'value' (and 'name'), or --value",
            s->text + start, len);
    return n;
}

PERF_FN int ab_csv_row_(const ab_source *s, const ab_field *f, const int *column, int *order)
{
    char *name = column[COL_NAME] < 0 ? ab_copy("", 0) : ab_field_text_(s, &f[column[COL_NAME]]);
    char *unit = column[COL_UNIT] < 0 ? ab_copy("", 0) : ab_field_text_(s, &f[column[COL_UNIT]]);
    char      *run = column[COL_RUN] < 0 ? NULL : ab_field_text_(s, &f[column[COL_RUN]]);
    int        pairs = column[COL_VALUE] < 0, failed;
    size_t     known = s->set->n;
    ab_series *series = ab_series_of(s->set, name);
    const ab_field *x = &f[column[pairs ? COL_A : COL_VALUE]], *y = pairs ? &f[column[COL_B]] : x;
    double     vx = 1.0, vy = 1.0;

    if (s->set->n > known || !series->runs)
        series->design = pairs ? AB_PAIRS : AB_SEPARATE;
    if ((series->design == AB_PAIRS) != pairs)
        failed = ab_fail_at(s, x->at, "pairs and single values of one benchmark", NULL, 0);
    else
        failed = ab_value_(s, x->at, x->len, unit, &vx) < 0 ||
                 ab_value_(s, y->at, y->len, unit, &vy) < 0 ||
                 ab_add_(s, x->at, series, run, unit, vx, vy) < 0;
    if (!failed && pairs && column[COL_FIRST] >= 0 && f[column[COL_FIRST]].len)
        *order |= s->text[f[column[COL_FIRST]].at] == '1' ? 2 : 1;
    free(name);
    free(unit);
    free(run);
    return failed ? -1 : 0;
}

PERF_FN int ab_read_csv_(const ab_source *s)
{
    ab_field f[AB_FIELDS];
    size_t   at = 0, start, i;
    char     comma = ',', what[80];
    int      column[COL_COUNT], columns = 0, n, k, order = 0;

    s->set->format = "CSV";
    while (at < s->len) {
        if (ab_skip_line_(s, at)) {
            at = ab_next_line_(s, at);
            continue;
        }
        if (!columns) {
            columns = ab_csv_header_(s, &at, &comma, column);
            if (columns < 0)
                return -1;
            continue;
        }
        start = at;
        n = ab_fields_(s, &at, comma, f);
        if (n < 0)
            return -1;
        for (k = 0; k < COL_COUNT && n != columns; k++)
            if (n > columns || column[k] >= n) {
                snprintf(what, sizeof what, "%d fields where the header has %d%s", n, columns,
                         n > columns && comma == ',' ? " (decimal commas? write 1.5)" : "");
                return ab_fail_at(s, start, what, NULL, 0);
            }
        if (ab_csv_row_(s, f, column, &order) < 0)
            return -1;
    }
    for (i = 0; i < s->set->n; i++)                 /* one value is no order                      */
        if (order && order != 3 && s->set->s[i].runs && s->set->s[i].run[0].v[0].n > 1)
            s->set->s[i].same_order = 1;
    return 0;
}

/* ---- Go: BenchmarkName-8  100  123 ns/op  45 B/op ---- */

/* The next word of a line that ends at `end`; its length, 0 at the end. */
PERF_FN size_t ab_word_(const ab_source *s, size_t *at, size_t end)
{
    size_t n = 0;

    while (*at < end && ab_is_blank(s->text[*at]))
        (*at)++;
    while (*at + n < end && !ab_is_blank(s->text[*at + n]))
        n++;
    return n;
}

PERF_FN int ab_go_wanted_(const ab_source *s, const char *unit)
{
    if (s->o->value)
        return !strcmp(unit, s->o->value);
    return s->o->want == AB_MEMORY ? !strcmp(unit, "B/op")
         : s->o->want == AB_RATE   ? ab_unit_kind(unit) == AB_RATE : !strcmp(unit, "ns/op");
}

/* One line of results.  Returns 1 when it held what is wanted, 0 when not, -1 when it is broken. */
PERF_FN int ab_go_line_(const ab_source *s, size_t at, size_t end, const char *package)
{
    size_t      len = ab_word_(s, &at, end), skip = strlen("Benchmark"), value_at = 0, n;
    double      x, value = 0.0;
    char       *name, *unit, *found = NULL;
    int         failed = 0;

    name = (char *)ab_grow(NULL, strlen(package) + len + 2, 1);
    n = len > skip ? skip : 0;
    snprintf(name, strlen(package) + len + 2, "%s%s%.*s", package, *package ? "." : "",
             (int)(len - n), s->text + at + n);
    at += len;
    len = ab_word_(s, &at, end);                    /* iterations                                 */
    if (!len || ab_quick_number_(s->text + at, &x) != len)
        at = end;                                   /* a name that -v announced, or a log line    */
    else
        at += len;
    while (!failed && (len = ab_word_(s, &at, end)) != 0) {
        n = at;
        at += len;
        len = ab_word_(s, &at, end);
        if (!len) {
            failed = ab_fail_at(s, n, "a number without a unit: is the line cut off?", NULL, 0);
            break;
        }
        unit = ab_copy(s->text + at, len);
        if (!found && ab_go_wanted_(s, unit)) {
            value_at = n;
            found = unit;
            failed = ab_value_(s, n, ab_word_(s, &n, end), unit, &value);
        } else {
            free(unit);
        }
        at += len;
    }
    if (found && !failed)
        failed = ab_add_(s, value_at, ab_series_of(s->set, name), NULL, found, value, 1.0);
    n = found != NULL;
    free(found);
    free(name);
    return failed ? -1 : (int)n;
}

PERF_FN int ab_starts_(const ab_source *s, size_t at, const char *with)
{
    size_t n = strlen(with);
    return at + n <= s->len && !memcmp(s->text + at, with, n);
}

PERF_FN int ab_read_go_(const ab_source *s)
{
    size_t at, end, next, lines = 0, found = 0, packages = 0, last = 0;
    char  *package = ab_copy("", 0);
    int    r = 0;

    s->set->format = "Go benchmark";
    for (at = 0; at < s->len; at = ab_next_line_(s, at))
        packages += ab_starts_(s, at, "pkg:") != 0;
    for (at = 0; at < s->len && r >= 0; at = next) {
        next = ab_next_line_(s, at);
        end = at + ab_line_(s, at);
        if (ab_starts_(s, at, "pkg:") && packages > 1) {
            free(package);
            at += 4;
            package = ab_copy(s->text + at, ab_word_(s, &at, end));
            memmove(package, s->text + at, strlen(package));
        } else if (ab_starts_(s, at, "--- FAIL") || ab_starts_(s, at, "FAIL")) {
            r = ab_fail_at(s, at, "the benchmark failed", NULL, 0);
        } else if (ab_starts_(s, at, "Benchmark")) {
            r = ab_go_line_(s, at, end, package);
            found += r > 0;
            lines++;
            last = at;
        }
    }
    free(package);
    if (r >= 0 && !found)
        return ab_fail_at(s, last, lines ? "no figures of the kind that is asked for (B/op needs "
                          "-benchmem)" : "no line with results", NULL, 0);
    return r < 0 ? -1 : 0;
}

/* ---- JSON ---- */

typedef struct ab_step {                /* one step into a document: a key, or an index           */
    const char *key;
    size_t      index;
} ab_step;

typedef struct ab_json {
    const ab_source *s;
    ab_step          path[8];
    unsigned         depth;
} ab_json;

PERF_FN size_t json_blank_(const ab_source *s, size_t i)
{
    while (i < s->len && (ab_is_blank(s->text[i]) || s->text[i] == '\n'))
        i++;
    return i;
}

PERF_FN size_t json_string_end_(const ab_source *s, size_t i)
{
    for (i++; i < s->len && s->text[i] != '"'; i++)
        i += s->text[i] == '\\';
    return i < s->len ? i + 1 : s->len;
}

/* Past the value at i, in a document that has been parsed before. */
PERF_FN size_t json_value_end_(const ab_source *s, size_t i)
{
    size_t depth = 0;

    do {
        i = json_blank_(s, i);
        if (i >= s->len)
            return s->len;
        if (s->text[i] == '"') {
            i = json_string_end_(s, i);
        } else if (s->text[i] == '{' || s->text[i] == '[') {
            depth++;
            i++;
        } else if (s->text[i] == '}' || s->text[i] == ']') {
            depth--;
            i++;
        } else if (s->text[i] == ',' || s->text[i] == ':') {
            i++;
        } else {
            while (i < s->len && !strchr(",:]}[{\" \t\r\n", s->text[i]))
                i++;
        }
    } while (depth);
    return i;
}

/* Where in the text the value of j->path begins; as far along the path as it gets. */
PERF_FN size_t json_where_(const ab_json *j)
{
    const ab_source *s = j->s;
    const char      *key;
    size_t           i = json_blank_(s, 0), at, n;
    unsigned         d;

    for (d = 0; d < j->depth; d++) {
        key = j->path[d].key;
        if (i >= s->len || s->text[i] != (key ? '{' : '['))
            return i;
        at = i;
        i = json_blank_(s, i + 1);
        for (n = 0; i < s->len; n++) {
            size_t start = i;
            if (key) {
                i = json_string_end_(s, i);
                if (i - start == strlen(key) + 2 &&
                    !memcmp(s->text + start + 1, key, strlen(key))) {
                    i = json_blank_(s, json_blank_(s, i) + 1);
                    break;
                }
                i = json_blank_(s, i) + 1;
            } else if (n == j->path[d].index) {
                break;
            }
            i = json_blank_(s, json_value_end_(s, i));
            if (i >= s->len || s->text[i] != ',')
                return at;                          /* not there: point at what should hold it    */
            i = json_blank_(s, i + 1);
        }
    }
    return i;
}

PERF_FN int json_fail_(const ab_json *j, const char *what, const char *token)
{
    return ab_fail_at(j->s, json_where_(j), what, token, token ? strlen(token) : 0);
}

PERF_FN void json_in_(ab_json *j, const char *key, size_t index)
{
    if (j->depth < sizeof j->path / sizeof *j->path) {
        j->path[j->depth].key = key;
        j->path[j->depth].index = index;
    }
    j->depth++;
}

PERF_FN void json_out_(ab_json *j)
{
    j->depth--;
}

/* The member of that name; fails when it is missing or of another type. */
PERF_FN json_t *json_member_(ab_json *j, json_t *object, const char *key, json_type type)
{
    static const char *const name[] = {"an object", "a list", "a text", "a number", "a number"};
    json_t *v = json_object_get(object, key);
    char    what[120];

    if (v && (json_typeof(v) == type || (type == JSON_REAL && json_is_number(v))))
        return v;
    snprintf(what, sizeof what, "expected %s called \"%s\" here", name[type], key);
    json_fail_(j, what, NULL);
    return NULL;
}

PERF_FN const char *json_text_(json_t *object, const char *key, const char *otherwise)
{
    const char *t = json_string_value(json_object_get(object, key));
    return t ? t : otherwise;
}

PERF_FN int json_number_(const ab_json *j, json_t *v, const char *unit, double *out)
{
    *out = json_number_value(v);
    if (!json_is_number(v))
        return json_fail_(j, "expected a number", NULL);
    if (*out < 0.0)
        return json_fail_(j, "negative", NULL);
    if (!(*out > 0.0)) {
        if (ab_unit_kind(unit) != AB_MEMORY)
            return json_fail_(j, ab_zero_, NULL);
        *out = AB_ZERO_COUNT;
    }
    return 0;
}

/* One number into a series. */
PERF_FN int json_add_(const ab_json *j, ab_series *series, const char *run, const char *unit,
                      json_t *x, json_t *y)
{
    double vx, vy = 1.0;

    if (json_number_(j, x, unit, &vx) < 0 || (y && json_number_(j, y, unit, &vy) < 0))
        return -1;
    if (!(vx > 1e-290) || !(vx < 1e290) || !(vy > 1e-290) || !(vy < 1e290) ||
        series->runs >= AB_MAX_RUNS || (*series->unit && strcmp(unit, series->unit) != 0))
        return ab_add_(j->s, json_where_(j), series, run, unit, vx, vy); /* may have to say where */
    return ab_add_(j->s, 0, series, run, unit, vx, vy);
}

/* A list of numbers into a series; `other` holds the candidate's, or is NULL. */
PERF_FN int json_list_(ab_json *j, ab_series *series, const char *run, const char *unit,
                       json_t *list, json_t *other)
{
    size_t i, n = json_array_size(list);
    int    failed = 0;

    for (i = 0; i < n && !failed; i++) {
        json_in_(j, NULL, i);
        failed = json_add_(j, series, run, unit, json_array_get(list, i),
                           other ? json_array_get(other, i) : NULL);
        json_out_(j);
    }
    return failed;
}

/* 1 when figures in this unit are not what is asked for. */
PERF_FN int ab_unwanted_(const ab_source *s, const char *unit)
{
    ab_kind kind = ab_unit_kind(unit);

    if (s->o->every || kind == AB_OTHER || kind == s->o->want)
        return 0;
    s->set->unwanted[kind]++;
    return 1;
}

/* The series for these figures; where every kind is read, time and memory of one name are two. */
PERF_FN ab_series *ab_series_for_(const ab_source *s, const char *name, const char *unit)
{
    size_t     size = strlen(name) + 3;
    char      *key;
    ab_series *r;

    if (!s->o->every || ab_unit_kind(unit) == AB_OTHER)
        return ab_series_of(s->set, name);
    key = (char *)ab_grow(NULL, size, 1);
    snprintf(key, size, "%c\n%s", (char)('0' + (int)ab_unit_kind(unit)), name);
    r = ab_series_by(s->set, key, name);
    free(key);
    return r;
}

/* perf_results, our own: docs/formats.md. */
PERF_FN int json_result_(ab_json *j, json_t *b)
{
    const char *name = json_text_(b, "name", NULL), *unit = json_text_(b, "unit", "");
    const char *run = json_text_(b, "run", NULL), *design = json_text_(b, "design", "");
    json_t     *samples = json_object_get(b, "samples"), *base, *cand;
    ab_series  *series;
    double      step, ended = json_number_value(json_object_get(b, "failed"));
    int         pairs = samples == NULL, failed;

    if (!name)
        return json_fail_(j, "expected a text called \"name\" here", NULL);
    if (ab_unwanted_(j->s, unit))
        return 0;
    series = ab_series_for_(j->s, name, unit);
    if (series->runs && (series->design == AB_PAIRS) != pairs)
        return json_fail_(j, "pairs and single values of one benchmark", name);
    step = json_number_value(json_object_get(b, "step"));
    step *= ab_unit_ns(unit) > 0.0 ? ab_unit_ns(unit) : 1.0;
    series->step = step > series->step && perf_is_finite_(step) ? step : series->step;
    series->failed += ended > 0.0 && ended < 1e9 ? (size_t)ended : 0;
    if (pairs) {
        base = json_member_(j, b, "baseline", JSON_ARRAY);
        cand = base ? json_member_(j, b, "candidate", JSON_ARRAY) : NULL;
        if (!cand)
            return -1;
        if (json_array_size(base) != json_array_size(cand))
            return json_fail_(j, "\"baseline\" and \"candidate\" differ in length: no pairs", NULL);
        series->design = AB_PAIRS;
        series->same_order |= !strcmp(design, "separate");
        json_in_(j, "baseline", 0);
        failed = json_list_(j, series, run, unit, base, cand);
        json_out_(j);
        return failed;
    }
    if (!json_is_array(samples))
        return json_fail_(j, "expected a list called \"samples\" here", NULL);
    series->design = !strcmp(design, "random") ? AB_RANDOM : AB_SEPARATE;
    json_in_(j, "samples", 0);
    failed = json_list_(j, series, run, unit, samples, NULL);
    json_out_(j);
    return failed;
}

/* Google Benchmark: one entry a repetition. */
PERF_FN int json_google_(ab_json *j, json_t *b)
{
    const char *name = json_text_(b, "run_name", json_text_(b, "name", NULL));
    const char *unit = "", *key = j->s->o->value;
    json_t     *v;
    int         failed;

    if (!strcmp(json_text_(b, "run_type", "iteration"), "aggregate")) {
        j->s->set->aggregates++;
        return 0;
    }
    if (!name)
        return json_fail_(j, "expected a text called \"name\" here", NULL);
    if (json_is_true(json_object_get(b, "error_occurred")) ||
        json_is_true(json_object_get(b, "skipped")))
        return 0;                                   /* skipped by the program: it has no time     */
    if (!key)
        key = j->s->o->want == AB_TIME ? "real_time" : j->s->o->want == AB_MEMORY ? "max_bytes_used"
            : json_object_get(b, "bytes_per_second") ? "bytes_per_second" : "items_per_second";
    if (strcmp(key, "real_time") != 0 && !json_object_get(b, key))
        return 0;                                   /* not every benchmark counts the same things */
    v = json_member_(j, b, key, JSON_REAL);
    if (!v)
        return -1;
    if (!strcmp(key, "real_time") || !strcmp(key, "cpu_time"))
        unit = json_text_(b, "time_unit", "ns");
    else if (ab_unit_kind(key) == AB_RATE)
        unit = key[0] == 'b' ? "B/s" : "items/s";
    else if (!strcmp(key, "max_bytes_used"))
        unit = "B";
    json_in_(j, key, 0);
    failed = json_add_(j, ab_series_of(j->s->set, name), NULL, unit, v, NULL);
    json_out_(j);
    return failed;
}

/* hyperfine: one entry a command. */
PERF_FN int json_hyperfine_(ab_json *j, json_t *b)
{
    const char *name = json_text_(b, "command", NULL);
    json_t     *times = json_member_(j, b, "times", JSON_ARRAY), *code;
    ab_series  *series;
    size_t      i;
    int         failed;

    if (!times)
        return -1;
    if (!j->s->o->value && ab_unwanted_(j->s, "s"))
        return 0;
    series = ab_series_of(j->s->set, name ? name : "");
    json_array_foreach(json_object_get(b, "exit_codes"), i, code)       /* null: by a signal      */
        series->failed += json_is_null(code) || json_number_value(code) > 0.0 || json_number_value(code) < 0.0;
    json_in_(j, "times", 0);
    failed = json_list_(j, series, NULL, "s", times, NULL);
    json_out_(j);
    return failed;
}

/* pyperf: worker processes, each with a few values; those that calibrate have none. */
PERF_FN int json_pyperf_(ab_json *j, json_t *b, json_t *common)
{
    json_t     *meta = json_object_get(b, "metadata"), *runs, *values;
    const char *name = json_text_(meta, "name", json_text_(common, "name", ""));
    const char *unit = json_text_(meta, "unit", json_text_(common, "unit", "second"));
    ab_series  *series;
    size_t      i;
    char        id[32];
    int         failed = 0;

    runs = json_member_(j, b, "runs", JSON_ARRAY);
    if (!runs)
        return -1;
    unit = !strcmp(unit, "second") ? "s" : !strcmp(unit, "byte") ? "B" : unit;
    if (!strcmp(unit, "integer"))
        unit = "";
    if (ab_unwanted_(j->s, unit))
        return 0;
    series = ab_series_for_(j->s, name, unit);
    series->processes = 1;
    json_in_(j, "runs", 0);
    for (i = 0; i < json_array_size(runs) && !failed; i++) {
        json_in_(j, NULL, i);
        values = json_object_get(json_array_get(runs, i), "values");
        if (values) {
            snprintf(id, sizeof id, "%zu", i + 1);
            json_in_(j, "values", 0);
            failed = json_is_array(values) ? json_list_(j, series, j->s->o->run ? j->s->o->run : id,
                                                        unit, values, NULL)
                                           : json_fail_(j, "expected a list", NULL);
            json_out_(j);
        }
        json_out_(j);
    }
    json_out_(j);
    return failed;
}

/* When and where the runs of this document were measured; one alone is all of them. */
PERF_FN void json_provenance_(const ab_json *j, json_t *root)
{
    json_t *runs = json_object_get(root, "runs"), *which = json_object(), *r;
    size_t  i, k;
    double  t;

    json_array_foreach(runs, i, r)
        if (!json_object_get(which, json_text_(r, "run", "")))
            json_object_set(which, json_text_(r, "run", ""), r);
    for (i = 0; i < j->s->set->n; i++)
        for (k = 0; k < j->s->set->s[i].runs; k++) {
            ab_run     *run = &j->s->set->s[i].run[k];
            const char *machine;
            r = run->id ? json_object_get(which, run->id) : NULL;
            if (!r && json_array_size(runs) == 1)
                r = json_array_get(runs, 0);
            machine = json_text_(r, "machine", NULL);
            t = json_number_value(json_object_get(r, "time"));
            run->time = t > 0.0 && t < 1e12 ? t : run->time;
            if (machine && !run->machine)
                run->machine = ab_copy(machine, strlen(machine));
        }
    json_decref(which);
}

/* Two digits at p, or -1. */
PERF_FN int ab_two_digits_(const char *p)
{
    return p[0] >= '0' && p[0] <= '9' && p[1] >= '0' && p[1] <= '9'
               ? (p[0] - '0') * 10 + p[1] - '0' : -1;
}

/* Seconds since the epoch of "2026-11-22T06:00:00+01:00"; 0: it is no such text. */
PERF_FN double ab_date_(const char *t)
{
    int64_t year, month, days;
    int     d[7], k;

    if (strlen(t) < 19 || t[10] != 'T')
        return 0.0;
    d[0] = ab_two_digits_(t);
    for (k = 1; k < 7; k++)
        d[k] = ab_two_digits_(t + 3 * k - 1);
    for (k = 0; k < 7; k++)
        if (d[k] < 0)
            return 0.0;
    month = (d[2] + 9) % 12;                        /* years that begin with March                */
    year = d[0] * 100 + d[1] - (d[2] < 3);
    days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d[3] - 719469;
    t += 19;
    t += strcspn(t, "+-");
    k = *t && strlen(t) >= 6 ? (ab_two_digits_(t + 1) * 60 + ab_two_digits_(t + 4)) : 0;
    return (double)days * 86400.0 + d[4] * 3600.0 + (d[5] - (*t == '-' ? -k : k)) * 60.0 + d[6];
}

/* Google Benchmark says it in its context. */
PERF_FN void json_google_context_(const ab_json *j, json_t *root)
{
    json_t     *context = json_object_get(root, "context");
    const char *machine = json_text_(context, "host_name", NULL);
    double      t = ab_date_(json_text_(context, "date", ""));
    size_t      i, k;

    for (i = 0; i < j->s->set->n; i++)
        for (k = 0; k < j->s->set->s[i].runs; k++) {
            ab_run *run = &j->s->set->s[i].run[k];
            run->time = t;
            if (machine && !run->machine)
                run->machine = ab_copy(machine, strlen(machine));
        }
}

/* Which tool wrote this document. */
PERF_FN ab_format json_format_(json_t *root)
{
    json_t *list = json_object_get(root, "benchmarks");

    if (json_object_get(root, "perf_results"))
        return AB_RESULTS;
    if (json_array_size(list) && json_object_get(json_array_get(list, 0), "runs"))
        return AB_PYPERF;
    if (json_is_array(list))
        return AB_GOOGLE;
    return json_is_array(json_object_get(root, "results")) ? AB_HYPERFINE : AB_DETECT;
}

PERF_FN int json_document_(ab_json *j, json_t *root)
{
    static const char *const title[] = {"", "", "", "", "perf_results", "Google Benchmark",
                                        "hyperfine", "pyperf"};
    ab_format   format = j->s->o->format == AB_DETECT ? json_format_(root) : j->s->o->format;
    const char *key = format == AB_HYPERFINE ? "results" : "benchmarks";
    json_t     *list, *item;
    size_t      i;
    int         failed = 0;

    if (json_object_get(root, "perf_ab"))
        return json_fail_(j, ab_verdicts_, NULL);
    if (format < AB_RESULTS)
        return json_fail_(
            j, "JSON that is none of: perf_results, Google Benchmark, hyperfine, pyperf", NULL);
    j->s->set->format = title[format];
    if (format == AB_RESULTS && !(json_number_value(json_object_get(root, "perf_results")) < 2.0))
        return json_fail_(j, "a version of perf_results that this perf-ab does not know", NULL);
    list = json_member_(j, root, key, JSON_ARRAY);
    if (!list)
        return -1;
    json_in_(j, key, 0);
    for (i = 0; i < json_array_size(list) && !failed; i++) {
        json_in_(j, NULL, i);
        item = json_array_get(list, i);
        failed = !json_is_object(item)    ? json_fail_(j, "expected an object", NULL)
               : format == AB_RESULTS   ? json_result_(j, item)
               : format == AB_GOOGLE    ? json_google_(j, item)
               : format == AB_HYPERFINE ? json_hyperfine_(j, item)
               : json_pyperf_(j, item, json_object_get(root, "metadata"));
        json_out_(j);
    }
    json_out_(j);
    if (!failed && format == AB_RESULTS)
        json_provenance_(j, root);
    if (!failed && format == AB_GOOGLE)
        json_google_context_(j, root);
    return failed;
}

PERF_FN int ab_read_json_(const ab_source *s)
{
    ab_json      j;
    json_error_t error;
    json_t      *root =
        json_loadb(s->text, s->len, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);
    int          failed;

    if (!root)
        return ab_fail(s->e, s->file, error.line > 0 ? (size_t)error.line : 1,
                       error.column > 0 ? (size_t)error.column : 1, "not JSON: %s", error.text);
    memset(&j, 0, sizeof j);
    j.s = s;
    failed = json_document_(&j, root);
    json_decref(root);
    return failed;
}

/* ---- any ---- */

/* 1 for a line of Go's results: BenchmarkName, then a number of iterations. */
PERF_FN int ab_is_go_(const ab_source *s, size_t at)
{
    size_t end = at + ab_line_(s, at);

    if (!ab_starts_(s, at, "Benchmark"))
        return 0;
    at += ab_word_(s, &at, end);
    return ab_word_(s, &at, end) && s->text[at] >= '0' && s->text[at] <= '9';
}

/* What a text looks like, from its first line that says anything. */
PERF_FN ab_format ab_detect_(const ab_source *s)
{
    size_t at = 0, len, i;
    char   c;

    while (at < s->len && ab_skip_line_(s, at))
        at = ab_next_line_(s, at);
    if (at >= s->len)
        return AB_DETECT;
    i = json_blank_(s, at);
    c = s->text[i];
    if (c == '{' || c == '[')
        return AB_RESULTS;
    len = ab_line_(s, at);
    if ((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+')
        return memchr(s->text + at, ',', len) || memchr(s->text + at, ';', len) ? AB_CSV : AB_PLAIN;
    if ((len == 3 && ab_starts_(s, at, "nan")) || (len == 3 && ab_starts_(s, at, "NaN")) ||
        (len == 3 && ab_starts_(s, at, "inf")))
        return AB_PLAIN;
    for (i = at; i < s->len; i = ab_next_line_(s, i)) /* Go prints what the program prints, too  */
        if (ab_is_go_(s, i) || ab_starts_(s, i, "goos:") || ab_starts_(s, i, "pkg:"))
            return AB_GO;
    return AB_CSV;
}

/* Why a file that could be read has nothing for us. */
PERF_FN int ab_nothing_(const ab_source *s)
{
    static const char *const has[] = {"times", "memory figures", "rates"};
    static const char *const ask[] = {"time", "memory", "throughput"};
    char what[160];
    int  k;

    for (k = AB_TIME; k < AB_OTHER; k++)
        if (s->set->unwanted[k]) {
            snprintf(what, sizeof what, "asked for %s, this file has %s (--metric %s)",
                     has[s->o->want < AB_OTHER ? s->o->want : AB_TIME], has[k], ask[k]);
            return ab_fail_at(s, 0, what, NULL, 0);
        }
    if (s->set->aggregates && !s->o->value)
        return ab_fail_at(s, 0,
                          "only aggregates: --benchmark_report_aggregates_only=false keeps the "
                          "repetitions",
                          NULL, 0);
    return ab_fail_at(s, s->len, s->o->value ? "nothing of the name that --value gives"
                      : "no value in this file", NULL, 0);
}

/* Adds what text[0..len) holds to the set.  text[len] must be 0.  Returns 0, or -1 with a message;
 * the set then holds some of it and is only fit for ab_set_free.                                 */
PERF_FN int ab_read(ab_set *set, const char *file, const char *text, size_t len,
                    const ab_read_opts *o, ab_error *e)
{
    static const ab_read_opts none;
    ab_source s;
    ab_format format;
    size_t    i, k, values = 0;
    int       failed;
    char     *own = NULL;               /* the text as UTF-8, where it is not                     */

    s.file = file;
    s.text = text;
    s.len = len;
    s.o = o ? o : &none;
    s.set = set;
    s.e = e;
    if (len >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return ab_fail_at(&s, 0, "UTF-16 text: save it as UTF-8", NULL, 0);
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        s.text += 3;
        s.len -= 3;
    }
    if (memchr(s.text, '\0', s.len))
        return ab_fail_at(&s, (size_t)((const char *)memchr(s.text, '\0', s.len) - s.text),
                          "a zero byte: this is no text file", NULL, 0);
    format = s.o->format == AB_DETECT ? ab_detect_(&s) : s.o->format;
    if (format < AB_RESULTS && (own = ab_as_utf8(s.text, &s.len)) != NULL)
        s.text = own;
    failed = format == AB_DETECT
                 ? ab_fail_at(&s, 0, "nothing to read: no number in this file", NULL, 0)
             : format == AB_PLAIN ? ab_read_plain_(&s)
             : format == AB_CSV   ? ab_read_csv_(&s)
             : format == AB_GO    ? ab_read_go_(&s)
                                  : ab_read_json_(&s);
    for (i = 0; i < set->n && !failed; i++)
        for (k = 0; k < set->s[i].runs; k++)
            values += set->s[i].run[k].v[0].n;
    if (!failed && !values)
        failed = ab_nothing_(&s);
    free(own);
    return failed;
}

/* The whole file (- is standard input) with a zero byte behind; NULL with a message. */
PERF_FN char *ab_slurp(const char *file, size_t *len, ab_error *e)
{
    FILE       *f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    size_t      cap = 1 << 16, n = 0, got;
    char       *t;
    const char *why = NULL;

    if (!f) {
        ab_fail(e, file, 0, 0, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    t = (char *)ab_grow(NULL, cap, 1);
    while (!why && (got = fread(t + n, 1, cap - 1 - n, f)) > 0) {
        if (memchr(t + n, '\0', got) && n + got >= 1 << 16)
            why = "zero bytes: this is no text file";   /* a device gives them for ever          */
        n += got;
        if (n > AB_MOST_BYTES)
            why = "more than 256 MiB: no file of measurements is so long";
        if (n == cap - 1 && !why) {
            cap = cap * 2;
            t = (char *)ab_grow(t, cap, 1);
        }
    }
    if (ferror(f))
        ab_fail(e, file, 0, 0, "cannot be read: %s", strerror(errno));
    else if (why)
        ab_fail(e, file, 0, 0, "%s", why);
    if (ferror(f) || why) {
        free(t);
        t = NULL;
    }
    if (f != stdin)
        fclose(f);
    if (!t)
        return NULL;
    t[n] = '\0';
    *len = n;
    return t;
}

PERF_FN int ab_read_file(ab_set *set, const char *file, const ab_read_opts *o, ab_error *e)
{
    size_t len = 0;
    char  *text = ab_slurp(file, &len, e);
    int    failed = text ? ab_read(set, file, text, len, o, e) : -1;

    free(text);
    return failed;
}

#endif
