/* source.h - a text, places in it, and the one reader of numbers: what all readers of perf-ab share.
 *
 * What cannot be read is said with file, line and column.  A broken value costs the benchmark that
 * it belongs to (ab_refuse); what belongs to none costs the file (ab_fail_at).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_SOURCE_H
#define PERF_TOOLS_SOURCE_H

#include "ab.h"

typedef enum ab_format {
    AB_DETECT, AB_PLAIN, AB_CSV, AB_GO, AB_RESULTS, AB_GOOGLE, AB_HYPERFINE, AB_PYPERF, AB_PYTEST,
    AB_JMH, AB_BENCHMARKDOTNET, AB_CRITERION, AB_ASV, AB_CATCH2, AB_FORMATS
} ab_format;

typedef struct ab_read_opts {           /* zero = default                                         */
    ab_format   format;                 /* AB_DETECT: look                                        */
    ab_kind     want;                   /* which figures, where a file has several                */
    const char *value;                  /* the column or counter of that name instead             */
    const char *counter;                /* the count that a rule is about; NULL: it is about none */
    const char *run;                    /* id of runs that the file does not name; NULL: none     */
    int         every;                  /* 1: figures of every kind, apart                        */
} ab_read_opts;

enum { AB_MAX_RUNS = 10000 };           /* of one benchmark                                       */

#define AB_MOST_BYTES ((size_t)256 << 20)           /* of a file: ten million values and more     */

typedef struct ab_origin {              /* where a piece of a text that was put together is from  */
    size_t at, line;
} ab_origin;

typedef struct ab_cursor {              /* the place counted last: the next one is mostly behind  */
    size_t at, line, begin;             /* begin: of its line                                     */
} ab_cursor;

typedef struct ab_source {
    const char         *file;           /* its name in messages                                   */
    const char         *text;           /* ends with a zero byte that len does not count          */
    size_t              len;
    const ab_read_opts *o;
    ab_set             *set;
    ab_error           *e;
    ab_cursor          *cursor;
    const ab_origin    *origin;         /* ascending; NULL: the text is the file                  */
    size_t              origins;
} ab_source;

PERF_FN int ab_is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r';
}

PERF_FN int ab_is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

PERF_FN int ab_is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* Bytes of the token at `at`, which ends at a blank, or at `end`. */
PERF_FN size_t ab_token(const ab_source *source, size_t at, size_t end)
{
    size_t n = 0;

    while (at + n < end && !ab_is_blank(source->text[at + n]) && source->text[at + n] != '\n')
        n++;
    return n;
}

/* Length of the line at text[at], without its end. */
PERF_FN size_t ab_line_(const ab_source *source, size_t at)
{
    const char *end = (const char *)memchr(source->text + at, '\n', source->len - at);
    size_t      len = end ? (size_t)(end - source->text) - at : source->len - at;

    while (len && ab_is_blank(source->text[at + len - 1]))
        len--;
    return len;
}

PERF_FN size_t ab_next_line_(const ab_source *source, size_t at)
{
    const char *end = (const char *)memchr(source->text + at, '\n', source->len - at);
    return end ? (size_t)(end - source->text) + 1 : source->len;
}

/* 1 for a line to pass over: blank or a comment. */
PERF_FN int ab_skip_line_(const ab_source *source, size_t at)
{
    size_t len = ab_line_(source, at), i;

    for (i = 0; i < len && ab_is_blank(source->text[at + i]); i++)
        continue;
    return i == len || source->text[at + i] == '#';
}

PERF_FN int ab_starts_(const ab_source *source, size_t at, const char *with)
{
    size_t n = strlen(with);
    return at + n <= source->len && !memcmp(source->text + at, with, n);
}

/* 1 where the line at `at` holds that text. */
PERF_FN int ab_line_has_(const ab_source *source, size_t at, const char *what)
{
    size_t len = ab_line_(source, at), n = strlen(what), i;

    for (i = 0; i + n <= len; i++)
        if (!memcmp(source->text + at + i, what, n))
            return 1;
    return 0;
}

/* ---- places ---- */

/* Line and column, from 1, of text[at].  Places asked for in ascending order cost one walk. */
PERF_FN void ab_place_(const ab_source *source, size_t at, size_t *line, size_t *column)
{
    ab_cursor *cursor = source->cursor;
    size_t     low = 0, high = source->origins, mid;

    at = at < source->len ? at : source->len;
    if (source->origin) {                           /* the last piece that begins before it       */
        while (high - low > 1) {
            mid = low + (high - low) / 2;
            if (source->origin[mid].at <= at)
                low = mid;
            else
                high = mid;
        }
        *line = source->origin[low].line;
        *column = 1;
        return;
    }
    if (at < cursor->at || !cursor->line)
        memset(cursor, 0, sizeof *cursor);
    cursor->line += !cursor->line;
    for (; cursor->at < at; cursor->at++)
        if (source->text[cursor->at] == '\n') {
            cursor->line++;
            cursor->begin = cursor->at + 1;
        }
    *line = cursor->line;
    *column = at - cursor->begin + 1;
}

/* Fails at text[at]; the token is quoted behind the message, NULL: there is none. */
PERF_FN int ab_fail_at(const ab_source *source, size_t at, const char *what, const char *token,
                       size_t len)
{
    size_t line, column;

    ab_place_(source, at, &line, &column);
    if (token)
        return ab_fail(source->e, source->file, line, column, "%s: '%.*s'%s", what,
                       (int)(len < 40 ? len : 40), token, len > 40 ? "..." : "");
    return ab_fail(source->e, source->file, line, column, "%s", what);
}

/* The failure that has just been put into words costs this benchmark, not the file.  Returns 0. */
PERF_FN int ab_refuse(const ab_source *source, ab_series *series)
{
    ab_lacks(series, AB_REFUSED, source->e->text);
    return 0;
}

/* Another program says that this benchmark failed, or that it was left out.  Returns 0. */
PERF_FN int ab_lacks_at(const ab_source *source, ab_series *series, ab_lack lack, size_t at,
                        const char *message)
{
    if (series->lack != AB_HAS)
        return 0;
    ab_fail_at(source, at, *message ? message : "no message", NULL, 0);
    ab_lacks(series, lack, source->e->text);
    return 0;
}

/* Values at text[at] are not used, for that reason: counted, and the first of them named. */
PERF_FN void ab_note_at(const ab_source *source, size_t at, const char *what)
{
    ab_set *set = source->set;
    size_t  i, line, column, n = strlen(source->file);
    char    where[260];

    for (i = set->notes; i-- > 0;)
        if (!strcmp(set->note[i].what, what) && !strncmp(set->note[i].where, source->file, n) &&
            set->note[i].where[n] == ':') {
            set->note[i].count++;
            return;
        }
    ab_place_(source, at, &line, &column);
    snprintf(where, sizeof where, "%.200s:%zu:%zu", source->file, line, column);
    ab_note_add(set, where, what, 1);
}

/* ---- numbers ---- */

/* Decimal text of up to 15 digits, which one division turns into the nearest double (Clinger 1990).
 * Returns its length; 0: leave it to strtod.  It halves the time of a long file.                 */
PERF_FN size_t ab_quick_number_(const char *text, double *out)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15};
    const char *at = text;
    uint64_t    digits = 0;
    unsigned    n = 0, after = 0;

    for (; ab_is_digit(*at) && n < 16; at++, n++)
        digits = digits * 10 + (unsigned)(*at - '0');
    if (*at == '.')
        for (at++; ab_is_digit(*at) && n < 16; at++, n++, after++)
            digits = digits * 10 + (unsigned)(*at - '0');
    if (!n || n > 15 || *at == 'e' || *at == 'E' || *at == 'x' || *at == 'X' || *at == '.')
        return 0;
    *out = (double)digits / power[after];
    return (size_t)(at - text);
}

/* Reads the token at[0..len) as a number, by the rules of C but for hexadecimal: nobody prints
 * times so.  0: it is none.                                                                      */
PERF_FN int ab_number_of_(const char *at, size_t len, double *out)
{
    size_t used = ab_quick_number_(at, out), i;
    char  *end;

    if (used)
        return used == len;
    for (i = 0; i < len; i++)
        if (strchr("xXpP", at[i]))
            return 0;
    *out = strtod(at, &end);
    return end != at && (size_t)(end - at) == len;
}

/* 1 for digits, a comma and digits: how much of the world writes a fraction. */
PERF_FN int ab_is_decimal_comma_(const char *at, size_t len)
{
    const char *comma = (const char *)memchr(at, ',', len);
    size_t      i;

    for (i = 0; i < len; i++)
        if (at + i != comma && !ab_is_digit(at[i]))
            return 0;
    return comma && comma > at && comma + 1 < at + len;
}

static const char ab_comma_[] = "a decimal comma: write 1.5, not 1,5";
static const char ab_verdicts_[] = "these are verdicts that perf-ab wrote; it reads measurements";
static const char ab_zero_[] = "zero: too short for its clock? time more work per value";

/* Why x is no measurement in that unit; NULL: it is one. */
PERF_FN const char *ab_no_value_(double x, const char *unit)
{
    if (perf_is_nan_(x) || !perf_is_finite_(x))
        return "not a finite number";
    if (x < 0.0)
        return "negative";
    return x > 0.0 || ab_may_be_zero(unit) ? NULL : ab_zero_;
}

/* Reads the token text[at .. at + len) as one measurement. */
PERF_FN int ab_value_(const ab_source *source, size_t at, size_t len, const char *unit, double *out)
{
    const char *token = source->text + at, *why = "expected a number";

    if (ab_number_of_(token, len, out))
        why = ab_no_value_(*out, unit);
    else if (ab_is_decimal_comma_(token, len))
        why = ab_comma_;
    return why ? ab_fail_at(source, at, why, token, len) : 0;
}

typedef struct ab_reading {             /* one measurement, or a pair of them                     */
    const char *run;                    /* id; NULL: that of the options                          */
    const char *unit;
    double      x, y;                   /* y: the candidate's, 1 where there are no pairs         */
} ab_reading;

/* The unit of a series, said now for the first time or again.  -1: its values have another one, or
 * one of the two is none.                                                                        */
PERF_FN int ab_unit_of_(ab_series *series, const char *unit)
{
    if (!strcmp(series->unit, unit))
        return 0;
    if (series->runs || *series->unit)
        return -1;
    free(series->unit);
    series->unit = ab_copy(unit, strlen(unit));
    return 0;
}

/* Zero of a count is kept as half a unit, and remembered. */
PERF_FN double ab_counted_(ab_series *series, double x)
{
    series->fractions |= x < 4e15 && x > (double)(uint64_t)x;
    series->parts |= x > 0.0 && x < 1.0;
    if (x > 0.0)
        return x;
    series->zeros = 1;
    return AB_ZERO_COUNT;
}

/* Puts one reading into a series, times converted to ns.  -1 with a message about text[at]. */
PERF_FN int ab_add_(const ab_source *source, size_t at, ab_series *series,
                    const ab_reading *reading)
{
    const double ns = *reading->unit ? ab_unit_ns(reading->unit) : 0.0;
    const char  *unit = ns > 0.0 ? "ns" : reading->unit;
    double       x = reading->x, y = reading->y;
    ab_run      *run;

    if (ns > 0.0) {
        x *= ns;
        y *= ns;
    } else if (ab_may_be_zero(unit)) {
        x = ab_counted_(series, x);
        y = ab_counted_(series, y);
    }
    if (!(x > 0.0) || !perf_is_finite_(x) || !(y > 0.0) || !perf_is_finite_(y))
        return ab_fail_at(source, at, "this number in ns is out of range", NULL, 0);
    if (ab_unit_of_(series, unit) < 0)
        return ab_fail_at(source, at, *unit ? "another unit than above for the same benchmark"
                                            : "no unit, as values above for the same benchmark have",
                          *unit ? unit : NULL, strlen(unit));
    if (series->runs >= AB_MAX_RUNS)
        return ab_fail_at(source, at, "more than 10,000 runs of one benchmark", NULL, 0);
    run = ab_run_of(series, reading->run ? reading->run : source->o->run);
    ab_push(&run->v[0], x);
    if (series->design == AB_PAIRS)
        ab_push(&run->v[1], y);
    return 0;
}

/* 1 when figures in this unit are not what is asked for. */
PERF_FN int ab_unwanted_(const ab_source *source, const char *unit)
{
    ab_kind kind = ab_unit_kind(unit);

    if (source->o->every || kind == AB_OTHER || kind == source->o->want)
        return 0;
    source->set->unwanted[kind]++;
    return 1;
}

/* The series for these figures; where every kind is read, time and memory of one name are two. */
PERF_FN ab_series *ab_series_for_(const ab_source *source, const char *name, const char *unit)
{
    size_t     size = strlen(name) + 3;
    char      *key;
    ab_series *series;

    if (!source->o->every || ab_unit_kind(unit) == AB_OTHER)
        return ab_series_of(source->set, name);
    key = (char *)ab_grow(NULL, size, 1);
    snprintf(key, size, "%c\n%s", (char)('0' + (int)ab_unit_kind(unit)), name);
    series = ab_series_by(source->set, key, name);
    free(key);
    return series;
}

#endif
