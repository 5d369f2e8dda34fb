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

PERF_FN void *ab_grow(void *p, size_t count, size_t size)
{
    void *q = count > SIZE_MAX / size ? NULL : realloc(p, count ? count * size : 1);

    if (!q) {
        fprintf(stderr, "perf-ab: out of memory\n");
        exit(AB_UNUSABLE);
    }
    return q;
}

PERF_FN char *ab_copy(const char *s, size_t len)
{
    char *p = (char *)ab_grow(NULL, len + 1, 1);

    memcpy(p, s, len);
    p[len] = '\0';
    return p;
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
PERF_FN int ab_is_safe(perf_char_ c)
{
    const int line_or_turn = c.code >= 0x2028 && c.code <= 0x202e;
    const int isolate = c.code >= 0x2066 && c.code <= 0x2069;

    return !c.broken && !c.control && !line_or_turn && !isolate;
}

/* Bytes of the character at s, at least 1; *safe: may it be shown? */
PERF_FN size_t ab_character(const char *s, int *safe)
{
    const perf_char_ c = perf_char_of_(s);

    *safe = ab_is_safe(c);
    return (size_t)c.bytes;
}

/* Puts '?' for what may not be shown, in place. */
PERF_FN void ab_make_safe(char *s)
{
    size_t n;
    int    safe;

    for (; *s; s += n) {
        n = ab_character(s, &safe);
        if (!safe)
            memset(s, '?', n);
    }
}

/* ---- a message about an input file ---- */

typedef struct ab_error {
    char text[600];
} ab_error;

/* "file:line:column: message"; line 0 leaves the position out.  Always returns -1. */
PERF_FN int ab_fail(ab_error *e, const char *file, size_t line, size_t column, const char *format,
                    ...) PERF_ATTR_((__format__(__printf__, 5, 6)));

PERF_FN int ab_fail(ab_error *e, const char *file, size_t line, size_t column, const char *format,
                    ...)
{
    va_list args;
    size_t  n;
    int     k = line ? snprintf(e->text, sizeof e->text, "%.200s:%zu:%zu: ", file, line, column)
                     : snprintf(e->text, sizeof e->text, "%.200s: ", file);

    n = k > 0 ? (size_t)k : 0;
    va_start(args, format);
    vsnprintf(e->text + n, sizeof e->text - n, format, args);
    va_end(args);
    ab_make_safe(e->text);
    return -1;
}

/* ---- samples ---- */

typedef struct ab_values {
    double *x;
    size_t  n, cap;
} ab_values;

PERF_FN void ab_push(ab_values *v, double x)
{
    if (v->n == v->cap) {
        v->cap = v->cap + v->cap / 2 + 16;
        v->x = (double *)ab_grow(v->x, v->cap, sizeof *v->x);
    }
    v->x[v->n++] = x;
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
    int       same_order;               /* pairs whose column `first` never changed: no coin      */
    int       processes;                /* runs are known to be processes, but not paired by name */
    double    step;                     /* of the clock, as the file says; 0: it does not         */
    size_t    failed;                   /* values of commands that ended with a failure           */
    ab_lack   lack;                     /* why it is not judged: AB_HAS where it is               */
    char     *why;                      /* the same in words, with its place; NULL: AB_HAS        */
    int       zeros, fractions;         /* values that were 0; that are no whole numbers          */
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
PERF_FN size_t ab_look_up(const ab_index *x, const char *key, ab_key_of *key_of, const void *array)
{
    size_t i;

    if (!x->slots)
        return SIZE_MAX;
    for (i = ab_hash_(key, x->slots); x->slot[i]; i = (i + 1) & (x->slots - 1))
        if (!strcmp(key_of(array, x->slot[i] - 1), key))
            return x->slot[i] - 1;
    return SIZE_MAX;
}

/* Takes in the last of now n keys, none of which is there twice. */
PERF_FN void ab_index_last(ab_index *x, size_t n, ab_key_of *key_of, const void *array)
{
    size_t i, k = n - 1;

    if (n * 2 > x->slots) {                         /* grow and fill again                        */
        x->slots = x->slots ? x->slots * 4 : 64;
        x->slot = (size_t *)ab_grow(x->slot, x->slots, sizeof *x->slot);
        memset(x->slot, 0, x->slots * sizeof *x->slot);
        k = 0;
    }
    for (; k < n; k++) {
        for (i = ab_hash_(key_of(array, k), x->slots); x->slot[i]; i = (i + 1) & (x->slots - 1))
            continue;
        x->slot[i] = k + 1;
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
    ab_series *s = ab_find(set, key);

    if (s)
        return s;
    if (set->n == set->cap) {
        set->cap = set->cap * 2 + 8;
        set->s = (ab_series *)ab_grow(set->s, set->cap, sizeof *set->s);
    }
    s = &set->s[set->n++];
    memset(s, 0, sizeof *s);
    s->key = ab_copy(key, strlen(key));
    s->name = ab_copy(name, strlen(name));
    s->unit = ab_copy("", 0);
    ab_index_last(&set->by_key, set->n, ab_series_key_, set->s);
    return s;
}

PERF_FN ab_series *ab_series_of(ab_set *set, const char *name)
{
    return ab_series_by(set, name, name);
}

/* The run of that id (NULL: the run without a name), made if need be.  Looks at the one asked for
 * before, and the one behind it, first: files list their values run by run, or round by round.   */
PERF_FN ab_run *ab_run_of(ab_series *s, const char *id)
{
    const char *key = id ? id : "\nnone";
    ab_run     *r;
    size_t      i, next;

    for (i = 0; i < 2 && s->runs; i++) {
        next = (s->last + i) % s->runs;
        if (!strcmp(ab_run_key_(s->run, next), key)) {
            s->last = next;
            return &s->run[next];
        }
    }
    s->last = ab_look_up(&s->by_id, key, ab_run_key_, s->run);
    if (s->last != SIZE_MAX)
        return &s->run[s->last];
    if (s->runs == s->cap) {
        s->cap = s->cap * 2 + 1;
        s->run = (ab_run *)ab_grow(s->run, s->cap, sizeof *s->run);
    }
    s->last = s->runs++;
    r = &s->run[s->last];
    memset(r, 0, sizeof *r);
    if (id)
        r->id = ab_copy(id, strlen(id));
    ab_index_last(&s->by_id, s->runs, ab_run_key_, s->run);
    return r;
}

/* It is not judged, and why; what was said first stays. */
PERF_FN void ab_lacks(ab_series *s, ab_lack lack, const char *why)
{
    if (s->lack != AB_HAS)
        return;
    s->lack = lack;
    s->why = ab_copy(why, strlen(why));
}

/* Counts values that are not used, of one file for one reason. */
PERF_FN void ab_note_add(ab_set *set, const char *where, const char *what, size_t count)
{
    ab_note *n;

    if (set->notes == set->notes_cap) {
        set->notes_cap = set->notes_cap * 2 + 4;
        set->note = (ab_note *)ab_grow(set->note, set->notes_cap, sizeof *set->note);
    }
    n = &set->note[set->notes++];
    n->where = ab_copy(where, strlen(where));
    n->what = ab_copy(what, strlen(what));
    n->count = count;
}

/* Drops all runs of a series, and why it was not judged. */
PERF_FN void ab_forget(ab_series *s)
{
    size_t k;

    for (k = 0; k < s->runs; k++) {
        free(s->run[k].id);
        free(s->run[k].machine);
        free(s->run[k].label);
        free(s->run[k].v[0].x);
        free(s->run[k].v[1].x);
    }
    free(s->run);
    free(s->by_id.slot);
    free(s->why);
    s->run = NULL;
    s->by_id.slot = NULL;
    s->by_id.slots = s->runs = s->cap = s->last = 0;
    s->why = NULL;
    s->lack = AB_HAS;
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
PERF_FN int ab_absorb_head_(ab_series *t, const ab_series *f, const char *file, ab_error *e)
{
    if (!t->runs) {
        t->design = f->design;
        t->processes = f->processes;
    }
    t->same_order |= f->same_order;
    t->failed += f->failed;
    t->zeros |= f->zeros;
    t->fractions |= f->fractions;
    t->step = f->step > t->step ? f->step : t->step;
    if (f->lack != AB_HAS)
        ab_lacks(t, f->lack, f->why);
    if (f->runs && t->runs && (t->design == AB_PAIRS) != (f->design == AB_PAIRS))
        return ab_fail(e, file, 0, 0, "'%.80s': pairs here, single values in a file before, or the "
                       "other way round", f->name);
    if (*t->unit && *f->unit && strcmp(t->unit, f->unit) != 0)
        return ab_fail(e, file, 0, 0, "'%.80s': unit %.40s here, %.40s in a file before", f->name,
                       f->unit, t->unit);
    if (!*t->unit) {
        free(t->unit);
        t->unit = ab_copy(f->unit, strlen(f->unit));
    }
    return 0;
}

/* Moves a run to t under that id, which becomes t's. */
PERF_FN void ab_absorb_run_(ab_series *t, ab_run *from, char *id)
{
    ab_run *r = ab_run_of(t, id);
    size_t  i;
    int     side;

    if (r->v[0].n) {                                /* it has one of that id: they become one     */
        for (side = 0; side < 2; side++)
            for (i = 0; i < from->v[side].n; i++)
                ab_push(&r->v[side], from->v[side].x[i]);
        free(id);
        return;
    }
    free(r->machine);
    free(r->label);
    free(from->id);
    from->id = r->id;                               /* the same text as id                        */
    *r = *from;
    memset(from, 0, sizeof *from);
    free(id);
}

/* Moves every run of `from`, which becomes empty, to `into`.  An id that any run there has already
 * gets the number of the file in front.  -1 with a message when they do not go together.         */
PERF_FN int ab_absorb(ab_set *into, ab_set *from, size_t number, const char *file, ab_error *e)
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
        ab_series *f = &from->s[i], *t = ab_series_by(into, f->key, f->name);
        failed = ab_absorb_head_(t, f, file, e);
        for (k = 0; k < f->runs && !failed; k++) {
            const char *was = f->run[k].id ? f->run[k].id : "";
            size = strlen(was) + 32;
            id = (char *)ab_grow(NULL, size, 1);
            if (ab_find(&taken, was))
                snprintf(id, size, "%zu.%s", number, was);
            else
                snprintf(id, size, "%s", was);
            ab_absorb_run_(t, &f->run[k], id);
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
    } known[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"sec", 1e9}, {"second", 1e9},
                 {"seconds", 1e9}, {"ps", 1e-3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3},
                 {"min", 6e10}};
    size_t i, n = strlen(unit);

    if (n > 3 && !strcmp(unit + n - 3, "/op"))
        n -= 3;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && !memcmp(unit, known[i].name, n))
            return known[i].ns;
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
    ab_text t;
    double  a = ab_abs(x);

    if (!perf_is_finite_(x))
        snprintf(t.s, sizeof t.s, "-");
    else if (a >= 1000.0 && a < 1e9)
        snprintf(t.s, sizeof t.s, "%.0f", x);
    else
        snprintf(t.s, sizeof t.s, "%.4g", x);
    return t;
}

/* A value with its unit: 12.34 us, 4096 B.  Half a byte is no byte. */
PERF_FN ab_text ab_quantity(double x, const char *unit)
{
    static const char *const time[] = {"ps", "ns", "us", "ms", "s"};
    ab_text t, n;
    int     i = 1;
    double  a = ab_abs(x);

    if ((!strcmp(unit, "B/s") || !strcmp(unit, "items/s")) && a >= 1e4 && a < 1e15) {
        for (i = -1; a >= 999.95; i++)
            a /= 1e3;
        snprintf(t.s, sizeof t.s, "%#.4g %c%s", a, "kMGT"[i], unit);
        return t;
    }

    if (strcmp(unit, "ns") != 0 || !perf_is_finite_(x)) {
        n = ab_number(ab_unit_kind(unit) == AB_MEMORY && x <= AB_ZERO_COUNT ? 0.0 : x);
        if (*unit && perf_is_finite_(x))
            snprintf(t.s, sizeof t.s, "%.60s %.60s", n.s, unit);
        else
            t = n;
        return t;
    }
    if (a > 0.0 && a < 1.0) {
        a *= 1e3;
        i = 0;
    }
    while (i > 0 && i < 4 && a >= 999.95) {
        a /= 1e3;
        i++;
    }
    snprintf(t.s, sizeof t.s, a < 999.95 && a > 0.0 ? "%s%#.4g %s" : "%s%.4g %s",
             x < 0.0 ? "-" : "", a, time[i]);
    return t;
}

/* Bytes: 1.95 MB. */
PERF_FN ab_text ab_bytes(double x)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    ab_text t;
    int     i = 0;

    for (; x >= 999.5 && i < 4; i++)
        x /= 1e3;
    snprintf(t.s, sizeof t.s, perf_is_finite_(x) ? "%.3g %s" : "-", x, unit[i]);
    return t;
}

/* Columns of a character on a terminal; 1 for the '?' that stands for one that is not shown. */
PERF_FN size_t ab_columns(perf_char_ c)
{
    return ab_is_safe(c) ? perf_char_columns_(c) : 1;
}

/* Columns that a name takes on a terminal, as ab_print_name shows it. */
PERF_FN size_t ab_width(const char *s)
{
    perf_char_ c;
    size_t     n = 0;

    for (; *s; s += c.bytes) {
        c = perf_char_of_(s);
        n += ab_columns(c);
    }
    return n;
}

/* The first `most` columns of s, without what could steer a terminal.  Returns how many it took. */
PERF_FN size_t ab_print_start(FILE *f, const char *s, size_t most)
{
    perf_char_ c;
    size_t     n = 0;

    for (; *s; s += c.bytes) {
        c = perf_char_of_(s);
        if (n + ab_columns(c) > most)
            break;
        n += ab_columns(c);
        if (ab_is_safe(c))
            fwrite(s, 1, (size_t)c.bytes, f);
        else
            putc('?', f);
    }
    return n;
}

PERF_FN void ab_print_name(FILE *f, const char *s)
{
    ab_print_start(f, s, SIZE_MAX);
}

/* The first `most` columns of s, with blanks behind them up to `width`. */
PERF_FN void ab_print_column(FILE *f, const char *s, size_t most, size_t width)
{
    size_t n = ab_print_start(f, s, most);

    for (; n < width; n++)
        putc(' ', f);
}

/* A copy of a text with U+FFFD and two digits for each byte that is no UTF-8, so that names which
 * differ in them alone stay apart in JSON, too; NULL: all of it is UTF-8.                        */
PERF_FN char *ab_as_utf8(const char *text, size_t *len)
{
    size_t     i, n = 0, bad = 0;
    char      *t;
    perf_char_ c;

    for (i = 0; i < *len; i += (size_t)c.bytes) {
        c = perf_char_of_(text + i);
        bad += c.broken != 0;
    }
    if (!bad)
        return NULL;
    t = (char *)ab_grow(NULL, *len + 4 * bad + 1, 1);
    for (i = 0; i < *len; i += (size_t)c.bytes) {
        c = perf_char_of_(text + i);
        if (c.broken) {
            n += (size_t)snprintf(t + n, 6, "\xef\xbf\xbd%02x", (unsigned)c.code);
        } else {
            memcpy(t + n, text + i, (size_t)c.bytes);
            n += (size_t)c.bytes;
        }
    }
    t[n] = '\0';
    *len = n;
    return t;
}

/* A JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD; what may not be shown, C1
 * controls too, is escaped: the text may go to a terminal.                                       */
PERF_FN void ab_print_json(FILE *f, const char *s)
{
    perf_char_ c;

    putc('"', f);
    for (; *s; s += c.bytes) {
        c = perf_char_of_(s);
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (c.broken)
            fputs("\\ufffd", f);
        else if (ab_is_safe(c))
            fwrite(s, 1, (size_t)c.bytes, f);
        else
            fprintf(f, "\\u%04x", (unsigned)c.code);
    }
    putc('"', f);
}

/* A JSON number that reads back to the same double; what JSON cannot say becomes null. */
PERF_FN void ab_print_json_number(FILE *f, double x)
{
    char t[40];

    if (!perf_is_finite_(x)) {
        fprintf(f, "null");
        return;
    }
    snprintf(t, sizeof t, "%.15g", x);
    if (strtod(t, NULL) < x || strtod(t, NULL) > x)
        snprintf(t, sizeof t, "%.17g", x);
    fputs(t, f);
}

#endif
