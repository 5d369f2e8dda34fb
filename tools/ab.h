/* ab.h - what the parts of perf-ab share: samples by name, messages with file, line and column,
 * text of numbers.  Each part is one header that perf-ab.c includes, so one compiler call builds
 * the tool:  cc -O2 -I. tools/perf-ab.c -ljansson -o perf-ab
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_AB_H
#define PERF_TOOLS_AB_H

#include "perf_file.h"
#include "perf_stats.h"
#include "perf_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the shell sees. */
enum { AB_ACCEPT = 0, AB_REJECT = 1, AB_INCONCLUSIVE = 2, AB_UNUSABLE = 3 };

/* ---- memory: a tool that runs out of it has nothing better to do than to say so ---- */

PERF_FN void *ab_grow(void *memory, size_t count, size_t size)
{
    void *grown = count > SIZE_MAX / size ? NULL : realloc(memory, count ? count * size : 1);

    if (!grown) {
        fprintf(stderr, "perf-ab: out of memory\n");
        exit(AB_UNUSABLE);
    }
    return grown;
}

PERF_FN char *ab_copy(const char *text, size_t len)
{
    char *copy = (char *)ab_grow(NULL, len + 1, 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* Brings x[0..n) into an order that coins decide, all orders alike (Fisher and Yates). */
PERF_FN void ab_shuffle(size_t *x, size_t n, uint64_t *coins)
{
    size_t i, k, swap;

    for (i = n; i-- > 1;) {
        k = (size_t)(((perf_random_(coins) >> 32) * (uint64_t)(i + 1)) >> 32);
        swap = x[i];
        x[i] = x[k];
        x[k] = swap;
    }
}

/* ---- texts of strangers ---- */

/* May a character be shown?  No byte that is not UTF-8, no control character (C0, DEL, C1: U+009B
 * steers a terminal as ESC [ does), none that turns the direction of the text around it.         */
PERF_FN int ab_is_safe(perf_char_ ch)
{
    const int line_or_turn = ch.code >= 0x2028 && ch.code <= 0x202e;
    const int isolate = ch.code >= 0x2066 && ch.code <= 0x2069;

    return !ch.broken && !ch.control && !line_or_turn && !isolate;
}

/* Bytes of the character at `text`, at least 1; *safe: may it be shown? */
PERF_FN size_t ab_character(const char *text, int *safe)
{
    const perf_char_ ch = perf_char_of_(text);

    *safe = ab_is_safe(ch);
    return (size_t)ch.bytes;
}

/* Puts '?' for what may not be shown, in place. */
PERF_FN void ab_make_safe(char *text)
{
    size_t n;
    int    safe;

    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (!safe)
            memset(text, '?', n);
    }
}

/* ---- a message about an input file ---- */

typedef struct ab_error {
    char text[600];
} ab_error;

/* "file:line:column: message"; line 0 leaves the position out.  Always returns -1. */
PERF_FN int ab_fail(ab_error *error, const char *file, size_t line, size_t column,
                    const char *format, ...) PERF_ATTR_((__format__(__printf__, 5, 6)));

PERF_FN int ab_fail(ab_error *error, const char *file, size_t line, size_t column,
                    const char *format, ...)
{
    va_list args;
    size_t  n;
    int     k = line ? snprintf(error->text, sizeof error->text, "%.200s:%zu:%zu: ", file, line,
                                column)
                     : snprintf(error->text, sizeof error->text, "%.200s: ", file);

    n = k > 0 ? (size_t)k : 0;
    va_start(args, format);
    vsnprintf(error->text + n, sizeof error->text - n, format, args);
    va_end(args);
    ab_make_safe(error->text);
    return -1;
}

/* ---- samples ---- */

typedef struct ab_values {
    double *x;
    size_t  n, cap;
} ab_values;

PERF_FN void ab_push(ab_values *values, double x)
{
    if (values->n == values->cap) {
        values->cap = values->cap + values->cap / 2 + 16;
        values->x = (double *)ab_grow(values->x, values->cap, sizeof *values->x);
    }
    values->x[values->n++] = x;
}

/* One process's worth of values.  Where a file holds pairs, v[0] is the baseline, v[1] the
 * candidate, value by value; otherwise all are in v[0].                                          */
typedef struct ab_run {
    char     *id;                       /* NULL: the file names none                              */
    char     *machine;                  /* NULL: the file does not say                            */
    char     *label;                    /* of what was measured, as a commit; NULL: no label      */
    double    time;                     /* seconds since the epoch; 0: the file does not say      */
    int       level;                    /* PERF_LEVEL_... of perf_saved.h                         */
    ab_values v[2];
} ab_run;

typedef enum ab_kind { AB_TIME, AB_MEMORY, AB_RATE, AB_OTHER } ab_kind;      /* of figures  */

typedef enum ab_design { AB_SEPARATE, AB_RANDOM, AB_PAIRS } ab_design;

typedef enum ab_lack { AB_HAS, AB_REFUSED, AB_FAILED, AB_SKIPPED } ab_lack;

/* Where a key stands in an array: a hash table of 1-based places, 0 where there is none. */
typedef struct ab_index {
    size_t *slot;
    size_t  slots;
} ab_index;

typedef struct ab_series {              /* one benchmark                                          */
    char     *key;                      /* what it is found by: all that names it                 */
    char     *name, *unit;              /* unit: "ns" for every time; "" unknown                  */
    ab_design design;
    int       same_order;               /* pairs of which a file says so: no coin                 */
    int       led[2];                   /* pairs, column `first`: A was first in some, B in some  */
    int       processes;                /* runs are known to be processes, but not paired by name */
    double    step;                     /* of the clock, as the file says; 0: it does not         */
    size_t    failed;                   /* values of commands that ended with a failure           */
    ab_lack   lack;                     /* why it is not judged: AB_HAS where it is               */
    char     *why;                      /* the same in words, with its place; NULL: AB_HAS        */
    int       zeros, fractions, parts;  /* values that were 0; no whole numbers; below 1          */
    size_t    aggregates;               /* 1 + where the file has means of it; 0: it has none     */
    ab_run   *run;
    size_t    runs, cap, last;          /* last: the run that was asked for last                  */
    ab_index  by_id;
} ab_series;

typedef struct ab_note {                /* values of a file that are not used                     */
    char       *where, *what;           /* "file:line:column" of the first                        */
    size_t      count;
} ab_note;

typedef struct ab_set {                 /* one side of a comparison                               */
    const char *format;                 /* of the last file read, for people                      */
    size_t      unwanted[4];            /* figures passed over, by ab_kind                        */
    size_t      scopes;                 /* of perf.h, which are in no series                      */
    size_t      aggregates;             /* means and the like, which are no measurements          */
    size_t      uncounted;              /* benchmarks without the counter that a rule is about    */
    ab_series  *s;
    size_t      n, cap;
    ab_index    by_key;
    ab_note    *note;
    size_t      notes, notes_cap;
} ab_set;

typedef const char *ab_key_of(const void *array, size_t i);

PERF_FN size_t ab_hash_(const char *name, size_t slots)
{
    uint64_t h = UINT64_C(14695981039346656037);    /* FNV-1a                                     */

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32) & (slots - 1);
}

/* The place of a key, from 0; SIZE_MAX: it is not there. */
PERF_FN size_t ab_look_up(const ab_index *index, const char *key, ab_key_of *key_of,
                          const void *array)
{
    size_t i;

    if (!index->slots)
        return SIZE_MAX;
    for (i = ab_hash_(key, index->slots); index->slot[i]; i = (i + 1) & (index->slots - 1))
        if (!strcmp(key_of(array, index->slot[i] - 1), key))
            return index->slot[i] - 1;
    return SIZE_MAX;
}

/* Takes in the last of now n keys, none of which is there twice. */
PERF_FN void ab_index_last(ab_index *index, size_t n, ab_key_of *key_of, const void *array)
{
    size_t i, k = n - 1;

    if (n * 2 > index->slots) {                     /* grow and fill again                        */
        index->slots = index->slots ? index->slots * 4 : 64;
        index->slot = (size_t *)ab_grow(index->slot, index->slots, sizeof *index->slot);
        memset(index->slot, 0, index->slots * sizeof *index->slot);
        k = 0;
    }
    for (; k < n; k++) {
        for (i = ab_hash_(key_of(array, k), index->slots); index->slot[i];
             i = (i + 1) & (index->slots - 1))
            continue;
        index->slot[i] = k + 1;
    }
}

PERF_FN const char *ab_series_key_(const void *array, size_t i)
{
    return ((const ab_series *)array)[i].key;
}

PERF_FN const char *ab_run_key_(const void *array, size_t i)
{
    const char *id = ((const ab_run *)array)[i].id;
    return id ? id : "\nnone";
}

/* The series of that key; NULL: none. */
PERF_FN ab_series *ab_find(const ab_set *set, const char *key)
{
    size_t i = ab_look_up(&set->by_key, key, ab_series_key_, set->s);

    return i == SIZE_MAX ? NULL : &set->s[i];
}

/* The series of that key, made if need be with that name. */
PERF_FN ab_series *ab_series_by(ab_set *set, const char *key, const char *name)
{
    ab_series *series = ab_find(set, key);

    if (series)
        return series;
    if (set->n == set->cap) {
        set->cap = set->cap * 2 + 8;
        set->s = (ab_series *)ab_grow(set->s, set->cap, sizeof *set->s);
    }
    series = &set->s[set->n++];
    memset(series, 0, sizeof *series);
    series->key = ab_copy(key, strlen(key));
    series->name = ab_copy(name, strlen(name));
    series->unit = ab_copy("", 0);
    ab_index_last(&set->by_key, set->n, ab_series_key_, set->s);
    return series;
}

PERF_FN ab_series *ab_series_of(ab_set *set, const char *name)
{
    return ab_series_by(set, name, name);
}

/* The run of that id (NULL: the run without a name), made if need be.  Looks at the one asked for
 * before, and the one behind it, first: files list their values run by run, or round by round.   */
PERF_FN ab_run *ab_run_of(ab_series *series, const char *id)
{
    const char *key = id ? id : "\nnone";
    ab_run     *run;
    size_t      i, next;

    for (i = 0; i < 2 && series->runs; i++) {
        next = (series->last + i) % series->runs;
        if (!strcmp(ab_run_key_(series->run, next), key)) {
            series->last = next;
            return &series->run[next];
        }
    }
    series->last = ab_look_up(&series->by_id, key, ab_run_key_, series->run);
    if (series->last != SIZE_MAX)
        return &series->run[series->last];
    if (series->runs == series->cap) {
        series->cap = series->cap * 2 + 1;
        series->run = (ab_run *)ab_grow(series->run, series->cap, sizeof *series->run);
    }
    series->last = series->runs++;
    run = &series->run[series->last];
    memset(run, 0, sizeof *run);
    if (id)
        run->id = ab_copy(id, strlen(id));
    ab_index_last(&series->by_id, series->runs, ab_run_key_, series->run);
    return run;
}

/* How many values, or pairs, it has. */
PERF_FN size_t ab_total(const ab_series *series)
{
    size_t i, n = 0;

    for (i = 0; i < series->runs; i++)
        n += series->run[i].v[0].n;
    return n;
}

/* 1: the same side came first in all of several pairs. */
PERF_FN int ab_is_same_order(const ab_series *series)
{
    return series->same_order || (series->led[0] != series->led[1] && ab_total(series) > 1);
}

/* It is not judged, and why; what was said first stays. */
PERF_FN void ab_lacks(ab_series *series, ab_lack lack, const char *why)
{
    if (series->lack != AB_HAS)
        return;
    series->lack = lack;
    series->why = ab_copy(why, strlen(why));
}

/* Counts values that are not used, of one file for one reason. */
PERF_FN void ab_note_add(ab_set *set, const char *where, const char *what, size_t count)
{
    ab_note *note;

    if (set->notes == set->notes_cap) {
        set->notes_cap = set->notes_cap * 2 + 4;
        set->note = (ab_note *)ab_grow(set->note, set->notes_cap, sizeof *set->note);
    }
    note = &set->note[set->notes++];
    note->where = ab_copy(where, strlen(where));
    note->what = ab_copy(what, strlen(what));
    note->count = count;
}

/* Drops all runs of a series, and why it was not judged. */
PERF_FN void ab_forget(ab_series *series)
{
    size_t k;

    for (k = 0; k < series->runs; k++) {
        free(series->run[k].id);
        free(series->run[k].machine);
        free(series->run[k].label);
        free(series->run[k].v[0].x);
        free(series->run[k].v[1].x);
    }
    free(series->run);
    free(series->by_id.slot);
    free(series->why);
    series->run = NULL;
    series->by_id.slot = NULL;
    series->by_id.slots = series->runs = series->cap = series->last = 0;
    series->why = NULL;
    series->lack = AB_HAS;
}

PERF_FN void ab_set_free(ab_set *set)
{
    size_t i;

    for (i = 0; i < set->n; i++) {
        ab_forget(&set->s[i]);
        free(set->s[i].key);
        free(set->s[i].name);
        free(set->s[i].unit);
    }
    for (i = 0; i < set->notes; i++) {
        free(set->note[i].where);
        free(set->note[i].what);
    }
    free(set->note);
    free(set->s);
    free(set->by_key.slot);
    memset(set, 0, sizeof *set);
}

/* What one benchmark of a further file says besides its runs.  -1: they do not go together. */
PERF_FN int ab_absorb_head_(ab_series *series, const ab_series *further, const char *file,
                            ab_error *error)
{
    if (!series->runs) {
        series->design = further->design;
        series->processes = further->processes;
    }
    series->same_order |= further->same_order;
    series->led[0] |= further->led[0];
    series->led[1] |= further->led[1];
    series->failed += further->failed;
    series->zeros |= further->zeros;
    series->fractions |= further->fractions;
    series->parts |= further->parts;
    series->step = further->step > series->step ? further->step : series->step;
    if (further->lack != AB_HAS)
        ab_lacks(series, further->lack, further->why);
    if (further->runs && series->runs &&
        (series->design == AB_PAIRS) != (further->design == AB_PAIRS))
        return ab_fail(error, file, 0, 0,
                       "'%.80s': pairs here, single values in a file before, or the "
                       "other way round", further->name);
    if (further->runs && series->runs && strcmp(series->unit, further->unit) != 0)
        return ab_fail(error, file, 0, 0, "'%.80s': %s%.40s here, %s%.40s in a file before",
                       further->name, *further->unit ? "unit " : "no unit", further->unit,
                       *series->unit ? "unit " : "no unit", series->unit);
    if (!series->runs && (further->runs || *further->unit)) {
        free(series->unit);
        series->unit = ab_copy(further->unit, strlen(further->unit));
    }
    return 0;
}

/* Moves a run to `series` under that id, which then owns it. */
PERF_FN void ab_absorb_run_(ab_series *series, ab_run *from, char *id)
{
    ab_run *run = ab_run_of(series, id);
    size_t  i;
    int     side;

    if (run->v[0].n) {                              /* it has one of that id: they become one     */
        for (side = 0; side < 2; side++)
            for (i = 0; i < from->v[side].n; i++)
                ab_push(&run->v[side], from->v[side].x[i]);
        free(id);
        return;
    }
    free(run->machine);
    free(run->label);
    free(from->id);
    from->id = run->id;                             /* the same text as id                        */
    *run = *from;
    memset(from, 0, sizeof *from);
    free(id);
}

/* Moves every run of `from`, which becomes empty, to `into`.  An id that any run there has already
 * gets the number of the file in front.  -1 with a message when they do not go together.         */
PERF_FN int ab_absorb(ab_set *into, ab_set *from, size_t number, const char *file, ab_error *error)
{
    ab_set taken;                       /* ids, as names of empty series                          */
    size_t i, k, size;
    char  *id;
    int    failed = 0;

    memset(&taken, 0, sizeof taken);
    for (i = 0; i < into->n; i++)
        for (k = 0; k < into->s[i].runs; k++)
            ab_series_of(&taken, into->s[i].run[k].id ? into->s[i].run[k].id : "");
    into->format = from->format;
    for (i = 0; i < from->n && !failed; i++) {
        ab_series *further = &from->s[i], *series = ab_series_by(into, further->key, further->name);
        failed = ab_absorb_head_(series, further, file, error);
        for (k = 0; k < further->runs && !failed; k++) {
            const char *was = further->run[k].id ? further->run[k].id : "";
            size = strlen(was) + 32;
            id = (char *)ab_grow(NULL, size, 1);
            if (ab_find(&taken, was))
                snprintf(id, size, "%zu.%s", number, was);
            else
                snprintf(id, size, "%s", was);
            ab_absorb_run_(series, &further->run[k], id);
        }
    }
    for (i = 0; i < from->notes && !failed; i++)
        ab_note_add(into, from->note[i].where, from->note[i].what, from->note[i].count);
    ab_set_free(&taken);
    ab_set_free(from);
    return failed;
}

/* ---- units: every time is kept in ns, everything else as it comes ---- */

/* ns per unit of time, with or without "/op" behind it; 0: not a unit of time. */
PERF_FN double ab_unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        double      ns;
        int         many;               /* 1: with an s at its end it is many of them             */
    } known[] = {{"ps", 1e-3, 0}, {"ns", 1.0, 0}, {"us", 1e3, 0}, {"\xc2\xb5s", 1e3, 0},
                 {"\xce\xbcs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}, {"h", 3.6e12, 0},
                 {"nsec", 1.0, 1}, {"nanosecond", 1.0, 1}, {"usec", 1e3, 1},
                 {"microsecond", 1e3, 1}, {"msec", 1e6, 1}, {"millisecond", 1e6, 1},
                 {"sec", 1e9, 1}, {"second", 1e9, 1}, {"min", 6e10, 1}, {"minute", 6e10, 1},
                 {"hr", 3.6e12, 1}, {"hour", 3.6e12, 1}};
    size_t i, len, n = strlen(unit);

    if (n > 3 && !strcmp(unit + n - 3, "/op"))
        n -= 3;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        len = strlen(known[i].name);
        if (!strncmp(unit, known[i].name, len) &&
            (n == len || (known[i].many && n == len + 1 && unit[len] == 's')))
            return known[i].ns;
    }
    return 0.0;
}

PERF_FN ab_kind ab_unit_kind(const char *unit)
{
    static const char *const memory[] = {"B",   "KB",   "MB",    "GB",   "KiB",       "MiB",
                                         "GiB", "byte", "bytes", "B/op", "allocs/op", "allocs"};
    size_t i, n = strlen(unit);

    if (ab_unit_ns(unit) > 0.0)
        return AB_TIME;
    if (n > 2 && !strcmp(unit + n - 2, "/s"))
        return AB_RATE;
    if (strstr(unit, "per_second"))
        return AB_RATE;
    for (i = 0; i < sizeof memory / sizeof *memory; i++)
        if (!strcmp(unit, memory[i]))
            return AB_MEMORY;
    return AB_OTHER;
}

/* A unit in which zero may be a count: all but times, rates and no unit at all. */
PERF_FN int ab_may_be_zero(const char *unit)
{
    ab_kind kind = ab_unit_kind(unit);

    return kind == AB_MEMORY || (kind == AB_OTHER && *unit);
}

/* A count may be zero, its logarithm not: zero is kept as half a unit, so that 0 to 0 is no change
 * and 0 to 1 is a factor of 2, in the right direction.                                           */
#define AB_ZERO_COUNT 0.5

/* 1: a value is what stands for a count of 0. */
PERF_FN int ab_is_zero(const ab_series *series, double x)
{
    return series->zeros && !(x < AB_ZERO_COUNT || x > AB_ZERO_COUNT);
}

/* 1: 0 beside fractions, which are no counts, or beside less than one byte, MB or allocation: half a
 * unit would be more than they are.                                                              */
PERF_FN int ab_is_odd_zero(const ab_series *one, const ab_series *other)
{
    if (!one->zeros && !other->zeros)
        return 0;
    return ab_unit_kind(*one->unit ? one->unit : other->unit) == AB_MEMORY
               ? one->parts || other->parts : one->fractions || other->fractions;
}

/* ---- numbers and names as text ---- */

typedef struct ab_text {
    char s[160];
} ab_text;

PERF_FN double ab_abs(double x)
{
    return x < 0.0 ? -x : x;
}

/* Four digits: 12.34, 1234, 0.001234, 1.234e+09; "-" for what is not finite. */
PERF_FN ab_text ab_number(double x)
{
    ab_text text;
    double  a = ab_abs(x);

    if (!perf_is_finite_(x))
        snprintf(text.s, sizeof text.s, "-");
    else if (a >= 1000.0 && a < 1e9)
        snprintf(text.s, sizeof text.s, "%.0f", x);
    else
        snprintf(text.s, sizeof text.s, "%.4g", x);
    return text;
}

/* A value with its unit: 12.34 us, 4096 B. */
PERF_FN ab_text ab_quantity(double x, const char *unit)
{
    static const char *const time[] = {"ps", "ns", "us", "ms", "s"};
    ab_text text, n;
    int     i = 1;
    double  a = ab_abs(x);

    if ((!strcmp(unit, "B/s") || !strcmp(unit, "items/s")) && a >= 1e4 && a < 1e15) {
        for (i = -1; a >= 999.95; i++)
            a /= 1e3;
        snprintf(text.s, sizeof text.s, "%#.4g %c%s", a, "kMGT"[i], unit);
        return text;
    }

    if (strcmp(unit, "ns") != 0 || !perf_is_finite_(x)) {
        n = ab_number(x);
        if (*unit && perf_is_finite_(x))
            snprintf(text.s, sizeof text.s, "%.60s %.60s", n.s, unit);
        else
            text = n;
        return text;
    }
    if (a > 0.0 && a < 1.0) {
        a *= 1e3;
        i = 0;
    }
    while (i > 0 && i < 4 && a >= 999.95) {
        a /= 1e3;
        i++;
    }
    snprintf(text.s, sizeof text.s, a < 999.95 && a > 0.0 ? "%s%#.4g %s" : "%s%.4g %s",
             x < 0.0 ? "-" : "", a, time[i]);
    return text;
}

/* A figure of a benchmark with its unit; a count of 0 is "0 B". */
PERF_FN ab_text ab_figure(const ab_series *series, double x)
{
    return ab_quantity(ab_is_zero(series, x) ? 0.0 : x, series->unit);
}

/* Bytes: 1.95 MB. */
PERF_FN ab_text ab_bytes(double x)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    ab_text text;
    int     i = 0;

    for (; x >= 999.5 && i < 4; i++)
        x /= 1e3;
    snprintf(text.s, sizeof text.s, perf_is_finite_(x) ? "%.3g %s" : "-", x, unit[i]);
    return text;
}

/* Columns of a character on a terminal; 1 for the '?' that stands for one that is not shown. */
PERF_FN size_t ab_columns(perf_char_ ch)
{
    return ab_is_safe(ch) ? perf_char_columns_(ch) : 1;
}

/* Columns that a name takes on a terminal, as ab_print_name shows it. */
PERF_FN size_t ab_width(const char *text)
{
    perf_char_ ch;
    size_t     n = 0;

    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        n += ab_columns(ch);
    }
    return n;
}

/* The first `most` columns of `text`, without what could steer a terminal.  Returns how many it
 * took.                                                                                          */
PERF_FN size_t ab_print_start(FILE *file, const char *text, size_t most)
{
    perf_char_ ch;
    size_t     n = 0;

    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (n + ab_columns(ch) > most)
            break;
        n += ab_columns(ch);
        if (ab_is_safe(ch))
            fwrite(text, 1, (size_t)ch.bytes, file);
        else
            putc('?', file);
    }
    return n;
}

PERF_FN void ab_print_name(FILE *file, const char *text)
{
    ab_print_start(file, text, SIZE_MAX);
}

/* The first `most` columns of `text`, with blanks behind them up to `width`. */
PERF_FN void ab_print_column(FILE *file, const char *text, size_t most, size_t width)
{
    size_t n = ab_print_start(file, text, most);

    for (; n < width; n++)
        putc(' ', file);
}

/* A copy of a text with U+FFFD and two digits for each byte that is no UTF-8, so that names which
 * differ in them alone stay apart in JSON, too; NULL: all of it is UTF-8.                        */
PERF_FN char *ab_as_utf8(const char *text, size_t *len)
{
    size_t     i, n = 0, bad = 0;
    char      *utf8;
    perf_char_ ch;

    for (i = 0; i < *len; i += (size_t)ch.bytes) {
        ch = perf_char_of_(text + i);
        bad += ch.broken != 0;
    }
    if (!bad)
        return NULL;
    utf8 = (char *)ab_grow(NULL, *len + 4 * bad + 1, 1);
    for (i = 0; i < *len; i += (size_t)ch.bytes) {
        ch = perf_char_of_(text + i);
        if (ch.broken) {
            n += (size_t)snprintf(utf8 + n, 6, "\xef\xbf\xbd%02x", (unsigned char)text[i]);
        } else {
            memcpy(utf8 + n, text + i, (size_t)ch.bytes);
            n += (size_t)ch.bytes;
        }
    }
    utf8[n] = '\0';
    *len = n;
    return utf8;
}

/* A JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD; what may not be shown, C1
 * controls too, is escaped: the text may go to a terminal.                                       */
PERF_FN void ab_print_json(FILE *file, const char *text)
{
    perf_char_ ch;

    putc('"', file);
    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if (ch.broken)
            fputs("\\ufffd", file);
        else if (ab_is_safe(ch))
            fwrite(text, 1, (size_t)ch.bytes, file);
        else
            fprintf(file, "\\u%04x", (unsigned)ch.code);
    }
    putc('"', file);
}

/* A JSON number that reads back to the same double; what JSON cannot say becomes null. */
PERF_FN void ab_print_json_number(FILE *file, double x)
{
    char text[40];

    if (!perf_is_finite_(x)) {
        fprintf(file, "null");
        return;
    }
    snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) < x || strtod(text, NULL) > x)
        snprintf(text, sizeof text, "%.17g", x);
    fputs(text, file);
}

#endif
