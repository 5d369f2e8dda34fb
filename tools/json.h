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

PERF_FN size_t json_blank_(const ab_source *source, size_t i)
{
    while (i < source->len && (ab_is_blank(source->text[i]) || source->text[i] == '\n'))
        i++;
    return i;
}

PERF_FN size_t json_string_end_(const ab_source *source, size_t i)
{
    for (i++; i < source->len && source->text[i] != '"'; i++)
        i += source->text[i] == '\\';
    return i < source->len ? i + 1 : source->len;
}

/* Past the value at i, in a document that has been parsed before. */
PERF_FN size_t json_value_end_(const ab_source *source, size_t i)
{
    size_t depth = 0;
    char   ch;

    do {
        i = json_blank_(source, i);
        if (i >= source->len)
            return source->len;
        ch = source->text[i];
        if (ch == '"') {
            i = json_string_end_(source, i);
        } else if (ch == '{' || ch == '[') {
            depth++;
            i++;
        } else if (ch == '}' || ch == ']') {
            depth--;
            i++;
        } else if (ch == ',' || ch == ':') {
            i++;
        } else {
            while (i < source->len && !strchr(",:]}[{\" \t\r\n", source->text[i]))
                i++;
        }
    } while (depth);
    return i;
}

/* One step into the container at i: where its member begins; *found is 0 where there is none.
 * Starts at what the last such step reached, if that lies before.                                */
PERF_FN size_t json_step_(const ab_source *source, size_t i, const ab_step *step,
                          ab_reached *reached, int *found)
{
    const size_t container = i;
    size_t       start, n = 0;

    *found = 0;
    i = json_blank_(source, i + 1);
    if (reached->container == container && reached->at && reached->n <= step->index) {
        i = reached->at;
        n = reached->n;
    }
    for (; i < source->len && source->text[i] != '}' && source->text[i] != ']'; n++) {
        start = i;
        if (step->key) {
            i = json_string_end_(source, i);
            *found = i - start == strlen(step->key) + 2 &&
                     !memcmp(source->text + start + 1, step->key, strlen(step->key));
            i = json_blank_(source, json_blank_(source, i) + 1);
        } else {
            *found = n == step->index;
        }
        if (*found) {
            reached->container = container;
            reached->at = step->key ? 0 : start;
            reached->n = n;
            return i;
        }
        i = json_blank_(source, json_value_end_(source, i));
        if (i >= source->len || source->text[i] != ',')
            return container;                       /* not there: point at what should hold it    */
        i = json_blank_(source, i + 1);
    }
    return container;
}

/* Where in the text the value of json->path begins; as far along the path as it gets. */
PERF_FN size_t json_where_(ab_json *json)
{
    const ab_source *source = json->s;
    size_t           i = json_blank_(source, 0);
    unsigned         d;
    int              found = 1;

    for (d = 0; d < json->depth && d < JSON_STEPS && found; d++) {
        if (i >= source->len || source->text[i] != (json->path[d].key ? '{' : '['))
            return i;
        i = json_step_(source, i, &json->path[d], &json->reached[d], &found);
    }
    return i;
}

PERF_FN int json_fail_(ab_json *json, const char *what, const char *token)
{
    return ab_fail_at(json->s, json_where_(json), what, token, token ? strlen(token) : 0);
}

PERF_FN void json_in_(ab_json *json, const char *key, size_t index)
{
    if (json->depth < JSON_STEPS) {
        json->path[json->depth].key = key;
        json->path[json->depth].index = index;
    }
    json->depth++;
}

PERF_FN void json_out_(ab_json *json)
{
    json->depth--;
}

/* What has just failed costs this benchmark.  Returns 0. */
PERF_FN int json_refuse_(ab_json *json, ab_series *series)
{
    return ab_refuse(json->s, series);
}

/* The member of that name; fails when it is missing or of another type. */
PERF_FN json_t *json_member_(ab_json *json, json_t *object, const char *key, json_type type)
{
    static const char *const name[] = {"an object", "a list", "a text", "a number", "a number"};
    json_t *value = json_object_get(object, key);
    char    what[120];

    if (value && (json_typeof(value) == type || (type == JSON_REAL && json_is_number(value))))
        return value;
    snprintf(what, sizeof what, "expected %s called \"%.60s\" here", name[type], key);
    json_fail_(json, what, NULL);
    return NULL;
}

PERF_FN const char *json_text_(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

/* ---- numbers ---- */

/* NaN and infinity, which json_load_ had to put in quotes: Google Benchmark and asv write them. */
PERF_FN int json_is_unwritten_(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && (!strcmp(text, "N") || !strcmp(text, "I"));
}

/* Reads `value` as one measurement.  -1 with a message. */
PERF_FN int json_number_(ab_json *json, const json_t *value, const char *unit, double *out)
{
    const char *why = "expected a number";

    *out = json_number_value(value);
    if (json_is_number(value))
        why = ab_no_value_(*out, unit);
    else if (json_is_unwritten_(value))
        why = "not a finite number";
    return why ? json_fail_(json, why, NULL) : 0;
}

/* One number, or a pair, into a series; other: NULL where there are no pairs.  -1 with a message. */
PERF_FN int json_add_(ab_json *json, ab_series *series, ab_reading reading, const json_t *value,
                      const json_t *other)
{
    const double ns = ab_unit_ns(reading.unit);
    const char  *unit = ns > 0.0 ? "ns" : reading.unit;
    int          sure;

    reading.y = 1.0;
    if (json_number_(json, value, reading.unit, &reading.x) < 0 ||
        (other && json_number_(json, other, reading.unit, &reading.y) < 0))
        return -1;
    sure = reading.x < 1e290 && reading.y < 1e290 && (reading.x > 1e-290 || !(ns > 0.0)) &&
           reading.y > 1e-290 && series->runs < AB_MAX_RUNS &&
           (!series->runs || !strcmp(unit, series->unit));
    /* may have to say where */
    return ab_add_(json->s, sure ? 0 : json_where_(json), series, &reading);
}

/* A list of numbers into a series; `other` holds the candidate's, or is NULL.  -1 with a message. */
PERF_FN int json_list_(ab_json *json, ab_series *series, ab_reading reading, const json_t *list,
                       const json_t *other)
{
    size_t i, n = json_array_size(list);
    int    failed = 0;

    for (i = 0; i < n && !failed; i++) {
        json_in_(json, NULL, i);
        failed = json_add_(json, series, reading, json_array_get(list, i),
                           other ? json_array_get(other, i) : NULL);
        json_out_(json);
    }
    return failed;
}

/* ---- the document ---- */

/* Bytes of a word for NaN or infinity at `text`, with its sign; 0: there is none. */
PERF_FN size_t json_unwritten_word_(const char *text)
{
    static const char *const word[] = {"infinity", "inf", "nan"};
    const size_t sign = *text == '-' || *text == '+';
    size_t       i, k, n;

    for (i = 0; i < sizeof word / sizeof *word; i++) {
        n = strlen(word[i]);
        for (k = 0; k < n && (text[sign + k] | 0x20) == word[i][k]; k++)
            continue;
        if (k == n)
            return sign + n;
    }
    return 0;
}

/* The text with "N" and "I" for NaN and infinity, every place where it was; NULL: there are none. */
PERF_FN char *json_written_(const ab_source *source)
{
    char  *text = NULL;
    size_t i = 0, n;

    while (i < source->len) {
        if (source->text[i] == '"') {
            i = json_string_end_(source, i);
            continue;
        }
        n = json_unwritten_word_(source->text + i);
        if (n) {
            if (!text)
                text = ab_copy(source->text, source->len);
            memset(text + i, ' ', n);
            text[i] = text[i + 2] = '"';
            text[i + 1] =
                source->text[i + n - 1] == 'n' || source->text[i + n - 1] == 'N' ? 'N' : 'I';
            i += n;
        } else {
            while (i < source->len && strchr("abcdefghijklmnopqrstuvwxyz", source->text[i] | 0x20))
                i++;
            i += i < source->len && source->text[i] != '"';
        }
    }
    return text;
}

/* Parses a text as it is, or with "N" and "I" for NaN and infinity.  NULL: *why says the cause. */
PERF_FN json_t *json_parse_(const ab_source *source, size_t flags, json_error_t *why)
{
    json_t *root = json_loadb(source->text, source->len, flags, why);
    char   *written = root ? NULL : json_written_(source);

    if (written)
        root = json_loadb(written, source->len, flags, why);
    free(written);
    return root;
}

/* Bytes of the byte order mark that the text begins with. */
PERF_FN size_t json_mark(const char *text, size_t len)
{
    return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* json_parse_ of a whole file, behind its byte order mark. */
PERF_FN json_t *json_of_file(const char *text, size_t len, size_t flags, json_error_t *why)
{
    ab_source    source;
    const size_t mark = json_mark(text, len);

    memset(&source, 0, sizeof source);
    source.text = text + mark;
    source.len = len - mark;
    return json_parse_(&source, flags, why);
}

/* Parses the text.  NULL with a message that names the cause. */
PERF_FN json_t *json_load_(const ab_source *source)
{
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES;
    json_error_t error;
    json_t      *root = json_parse_(source, flags, &error);
    size_t       at;

    if (root)
        return root;
    at = error.position > 0 ? json_blank_(source, (size_t)error.position - 1) : 0;
    if (strstr(error.text, "end of file expected") && at < source->len &&
        strchr("{[", source->text[at]))
        ab_fail_at(source, at, "a second JSON document in one file: give each a file of its own",
                   NULL, 0);
    else if (!*error.text)                      /* Jansson has a text for all other causes        */
        ab_fail(source->e, source->file, 0, 0, "out of memory");
    else
        ab_fail(source->e, source->file, error.line > 0 ? (size_t)error.line : 1,
                error.column > 0 ? (size_t)error.column : 1, "not JSON: %s", error.text);
    return NULL;
}

#endif
