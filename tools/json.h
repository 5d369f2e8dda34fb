/* json.h - JSON for the readers of perf-ab: parsed by Jansson, which limits the depth and knows the
 * position of what it does not understand; places of values that are JSON but no measurements are
 * found again by json_where_(), which goes on where it stopped.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_JSON_H
#define PERF_TOOLS_JSON_H

#include "source.h"

#include <jansson.h>

enum { JSON_STEPS = 8 };

typedef struct ab_step {                /* one step into a document: a key, or an index           */
    const char *key;
    size_t      index;
} ab_step;

typedef struct ab_reached {             /* how far a step was followed the last time              */
    size_t container, at, n;            /* where it begins, a member of it, how many before that  */
} ab_reached;

typedef struct ab_json {
    const ab_source *s;
    ab_step          path[JSON_STEPS];
    ab_reached       reached[JSON_STEPS];
    unsigned         depth;
    json_t          *root;
    json_t          *taken;             /* names of entries, as keys: how often                   */
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
    char   c;

    do {
        i = json_blank_(s, i);
        if (i >= s->len)
            return s->len;
        c = s->text[i];
        if (c == '"') {
            i = json_string_end_(s, i);
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
        } else if (c == '}' || c == ']') {
            depth--;
            i++;
        } else if (c == ',' || c == ':') {
            i++;
        } else {
            while (i < s->len && !strchr(",:]}[{\" \t\r\n", s->text[i]))
                i++;
        }
    } while (depth);
    return i;
}

/* One step into the container at i: where its member begins; *found is 0 where there is none.
 * Starts at what the last such step reached, if that lies before.                                */
PERF_FN size_t json_step_(const ab_source *s, size_t i, const ab_step *step, ab_reached *r,
                          int *found)
{
    const size_t container = i;
    size_t       start, n = 0;

    *found = 0;
    i = json_blank_(s, i + 1);
    if (r->container == container && r->at && r->n <= step->index) {
        i = r->at;
        n = r->n;
    }
    for (; i < s->len && s->text[i] != '}' && s->text[i] != ']'; n++) {
        start = i;
        if (step->key) {
            i = json_string_end_(s, i);
            *found = i - start == strlen(step->key) + 2 &&
                     !memcmp(s->text + start + 1, step->key, strlen(step->key));
            i = json_blank_(s, json_blank_(s, i) + 1);
        } else {
            *found = n == step->index;
        }
        if (*found) {
            r->container = container;
            r->at = step->key ? 0 : start;
            r->n = n;
            return i;
        }
        i = json_blank_(s, json_value_end_(s, i));
        if (i >= s->len || s->text[i] != ',')
            return container;                       /* not there: point at what should hold it    */
        i = json_blank_(s, i + 1);
    }
    return container;
}

/* Where in the text the value of j->path begins; as far along the path as it gets. */
PERF_FN size_t json_where_(ab_json *j)
{
    const ab_source *s = j->s;
    size_t           i = json_blank_(s, 0);
    unsigned         d;
    int              found = 1;

    for (d = 0; d < j->depth && d < JSON_STEPS && found; d++) {
        if (i >= s->len || s->text[i] != (j->path[d].key ? '{' : '['))
            return i;
        i = json_step_(s, i, &j->path[d], &j->reached[d], &found);
    }
    return i;
}

PERF_FN int json_fail_(ab_json *j, const char *what, const char *token)
{
    return ab_fail_at(j->s, json_where_(j), what, token, token ? strlen(token) : 0);
}

PERF_FN void json_in_(ab_json *j, const char *key, size_t index)
{
    if (j->depth < JSON_STEPS) {
        j->path[j->depth].key = key;
        j->path[j->depth].index = index;
    }
    j->depth++;
}

PERF_FN void json_out_(ab_json *j)
{
    j->depth--;
}

/* What has just failed costs this benchmark.  Returns 0. */
PERF_FN int json_refuse_(ab_json *j, ab_series *series)
{
    return ab_refuse(j->s, series);
}

/* The member of that name; fails when it is missing or of another type. */
PERF_FN json_t *json_member_(ab_json *j, json_t *object, const char *key, json_type type)
{
    static const char *const name[] = {"an object", "a list", "a text", "a number", "a number"};
    json_t *v = json_object_get(object, key);
    char    what[120];

    if (v && (json_typeof(v) == type || (type == JSON_REAL && json_is_number(v))))
        return v;
    snprintf(what, sizeof what, "expected %s called \"%.60s\" here", name[type], key);
    json_fail_(j, what, NULL);
    return NULL;
}

PERF_FN const char *json_text_(const json_t *object, const char *key, const char *otherwise)
{
    const char *t = json_string_value(json_object_get(object, key));
    return t ? t : otherwise;
}

/* ---- numbers ---- */

/* NaN and infinity, which json_load_ had to put in quotes: Google Benchmark and asv write them. */
PERF_FN int json_is_unwritten_(const json_t *v)
{
    const char *t = json_string_value(v);
    return t && (!strcmp(t, "N") || !strcmp(t, "I"));
}

/* Reads v as one measurement.  -1 with a message. */
PERF_FN int json_number_(ab_json *j, const json_t *v, const char *unit, double *out)
{
    const char *why = "expected a number";

    *out = json_number_value(v);
    if (json_is_number(v))
        why = ab_no_value_(*out, unit);
    else if (json_is_unwritten_(v))
        why = "not a finite number";
    return why ? json_fail_(j, why, NULL) : 0;
}

/* One number, or a pair, into a series; other: NULL where there are no pairs.  -1 with a message. */
PERF_FN int json_add_(ab_json *j, ab_series *series, ab_reading m, const json_t *x,
                      const json_t *other)
{
    const double ns = ab_unit_ns(m.unit);
    const char  *unit = ns > 0.0 ? "ns" : m.unit;
    int          sure;

    m.y = 1.0;
    if (json_number_(j, x, m.unit, &m.x) < 0 || (other && json_number_(j, other, m.unit, &m.y) < 0))
        return -1;
    sure = m.x < 1e290 && m.y < 1e290 && (m.x > 1e-290 || !(ns > 0.0)) && m.y > 1e-290 &&
           series->runs < AB_MAX_RUNS && (!*series->unit || !strcmp(unit, series->unit));
    return ab_add_(j->s, sure ? 0 : json_where_(j), series, &m);    /* may have to say where      */
}

/* A list of numbers into a series; `other` holds the candidate's, or is NULL.  -1 with a message. */
PERF_FN int json_list_(ab_json *j, ab_series *series, ab_reading m, const json_t *list,
                       const json_t *other)
{
    size_t i, n = json_array_size(list);
    int    failed = 0;

    for (i = 0; i < n && !failed; i++) {
        json_in_(j, NULL, i);
        failed = json_add_(j, series, m, json_array_get(list, i),
                           other ? json_array_get(other, i) : NULL);
        json_out_(j);
    }
    return failed;
}

/* ---- the document ---- */

/* Bytes of a word for NaN or infinity at t, with its sign; 0: there is none. */
PERF_FN size_t json_unwritten_word_(const char *t)
{
    static const char *const word[] = {"infinity", "inf", "nan"};
    const size_t sign = *t == '-' || *t == '+';
    size_t       i, k, n;

    for (i = 0; i < sizeof word / sizeof *word; i++) {
        n = strlen(word[i]);
        for (k = 0; k < n && (t[sign + k] | 0x20) == word[i][k]; k++)
            continue;
        if (k == n)
            return sign + n;
    }
    return 0;
}

/* The text with "N" and "I" for NaN and infinity, every place where it was; NULL: there are none. */
PERF_FN char *json_written_(const ab_source *s)
{
    char  *t = NULL;
    size_t i = 0, n;

    while (i < s->len) {
        if (s->text[i] == '"') {
            i = json_string_end_(s, i);
            continue;
        }
        n = json_unwritten_word_(s->text + i);
        if (n) {
            if (!t)
                t = ab_copy(s->text, s->len);
            memset(t + i, ' ', n);
            t[i] = t[i + 2] = '"';
            t[i + 1] = s->text[i + n - 1] == 'n' || s->text[i + n - 1] == 'N' ? 'N' : 'I';
            i += n;
        } else {
            while (i < s->len && strchr("abcdefghijklmnopqrstuvwxyz", s->text[i] | 0x20))
                i++;
            i += i < s->len && s->text[i] != '"';
        }
    }
    return t;
}

/* Parses the text.  NULL with a message that names the cause. */
PERF_FN json_t *json_load_(const ab_source *s)
{
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES;
    json_error_t error;
    json_t      *root = json_loadb(s->text, s->len, flags, &error);
    char        *written = root ? NULL : json_written_(s);
    size_t       at;

    if (written)
        root = json_loadb(written, s->len, flags, &error);
    free(written);
    if (root)
        return root;
    at = error.position > 0 ? json_blank_(s, (size_t)error.position - 1) : 0;
    if (strstr(error.text, "end of file expected") && at < s->len && strchr("{[", s->text[at]))
        ab_fail_at(s, at, "a second JSON document in one file: give each a file of its own", NULL,
                   0);
    else if (!*error.text)                      /* Jansson has a text for all other causes        */
        ab_fail(s->e, s->file, 0, 0, "out of memory");
    else
        ab_fail(s->e, s->file, error.line > 0 ? (size_t)error.line : 1,
                error.column > 0 ? (size_t)error.column : 1, "not JSON: %s", error.text);
    return NULL;
}

#endif
