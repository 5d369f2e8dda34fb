/* diagnose_json.h - JSON that is read once, value by value, in memory that does not grow.
 *
 *     int c = diag_value(&in);                     // what comes next: { [ " a digit ...
 *     while (diag_member(&in, &first, key, sizeof key))      // in an object: the next key
 *         diag_skip(&in);                          // or read its value
 *
 * A text is kept up to the room that the caller gives; the rest of it is passed over.  The first
 * failure stays: all later calls return at once (diag_bytes.failed).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_JSON_H
#define PERF_TOOLS_DIAGNOSE_JSON_H

#include "diagnose_bytes.h"

enum { DIAG_DEPTH = 256 };              /* of objects and arrays inside each other                */

#define DIAG_MOST_NEGATIVE INT64_C(1000000000000000000)     /* ns before zero                     */
#define DIAG_NO_TIME INT64_MIN          /* of diag_ns(): no number, or out of range               */

/* Passes over blanks.  The next character, not taken; -1: the end. */
PERF_FN int diag_value(diag_bytes *b)
{
    int c = diag_peek(b);

    while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        (void)diag_byte(b);
        c = diag_peek(b);
    }
    return c;
}

PERF_FN int diag_not_json(diag_bytes *b, int c)
{
    char why[60];

    if (c < 0)
        return diag_bytes_fail(b, "the trace is cut off: it ends in the middle");
    if (c < 0x20 || c > 0x7e)
        snprintf(why, sizeof why, "not JSON: unexpected byte 0x%02x", (unsigned)c);
    else
        snprintf(why, sizeof why, "not JSON: unexpected '%c'", c);
    return diag_bytes_fail(b, why);
}

/* Takes that character, after blanks.  -1 with a message: another one stands there. */
PERF_FN int diag_expect(diag_bytes *b, int wanted)
{
    const int c = diag_value(b);

    if (c != wanted)
        return diag_not_json(b, c);
    (void)diag_byte(b);
    return 0;
}

/* ---- texts ---- */

typedef struct diag_text {              /* where a text goes                                      */
    char  *to;
    size_t n, size;
} diag_text;

PERF_FN void diag_text_add(diag_text *t, int c)
{
    if (t->n + 1 < t->size)
        t->to[t->n++] = (char)c;
}

PERF_FN int diag_hex(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind \u, as UTF-8; half of a surrogate pair becomes '?'. */
PERF_FN int diag_unicode(diag_bytes *b, diag_text *t)
{
    int code = 0, i, c, digit;

    for (i = 0; i < 4; i++) {
        c = diag_byte(b);
        digit = diag_hex(c);
        if (digit < 0)
            return diag_not_json(b, c);
        code = code * 16 + digit;
    }
    if (code >= 0xd800 && code < 0xe000) {
        diag_text_add(t, '?');
    } else if (code < 0x80) {
        diag_text_add(t, code ? code : '?');
    } else if (code < 0x800) {
        diag_text_add(t, 0xc0 | code >> 6);
        diag_text_add(t, 0x80 | (code & 63));
    } else {
        diag_text_add(t, 0xe0 | code >> 12);
        diag_text_add(t, 0x80 | (code >> 6 & 63));
        diag_text_add(t, 0x80 | (code & 63));
    }
    return 0;
}

PERF_FN int diag_escape(diag_bytes *b, diag_text *t)
{
    static const char letter[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const int   c = diag_byte(b);
    const char *at;

    if (c == 'u')
        return diag_unicode(b, t);
    at = c > 0 ? strchr(letter, c) : NULL;
    if (!at)
        return diag_not_json(b, c);
    diag_text_add(t, means[at - letter]);
    return 0;
}

/* Takes the plain characters of a string that lie in the piece at hand. */
PERF_FN void diag_string_run(diag_bytes *b, diag_text *t)
{
    const size_t left = b->n - b->at, room = t->size - t->n - 1;
    size_t       n = 0, kept;

    while (n < left && b->piece[b->at + n] != '"' && b->piece[b->at + n] != '\\' &&
           b->piece[b->at + n] != '\n')
        n++;
    kept = n < room ? n : room;
    memcpy(t->to + t->n, b->piece + b->at, kept);
    t->n += kept;
    b->at += n;
}

/* A string into to[size], cut where there is no more room.  -1 with a message. */
PERF_FN int diag_string(diag_bytes *b, char *to, size_t size)
{
    diag_text t;
    int       c;

    t.to = to;
    t.n = 0;
    t.size = size;
    if (diag_expect(b, '"') < 0)
        return -1;
    diag_string_run(b, &t);
    for (c = diag_byte(b); c != '"'; c = diag_byte(b)) {
        if (c < 0)
            return diag_not_json(b, c);
        if (c != '\\')
            diag_text_add(&t, c);               /* control characters, too: profilers write them  */
        else if (diag_escape(b, &t) < 0)
            return -1;
        diag_string_run(b, &t);
    }
    to[t.n] = '\0';
    return 0;
}

/* A number or a word (true, null) into to[size], or a string.  -1 with a message. */
PERF_FN int diag_scalar(diag_bytes *b, char *to, size_t size)
{
    size_t n = 0;
    int    c = diag_value(b);

    if (c == '"')
        return diag_string(b, to, size);
    while (c > ' ' && c < 0x7f && !strchr(",:]}[{\"", c)) {
        if (n + 1 < size)
            to[n++] = (char)c;
        (void)diag_byte(b);
        c = diag_peek(b);
    }
    if (!n)
        return diag_not_json(b, c);
    to[n] = '\0';
    if (strchr("-0123456789tfnNI", *to))            /* Python writes NaN and Infinity             */
        return 0;
    return diag_not_json(b, *to);
}

/* ---- numbers ---- */

/* Times of a trace are positive; the difference of two of them shall never overflow. */
PERF_FN int64_t diag_signed(int64_t ns, int negative)
{
    if (!negative)
        return ns;
    return ns <= DIAG_MOST_NEGATIVE ? -ns : DIAG_NO_TIME;
}

/* Microseconds in decimals as whole nanoseconds, exactly; DIAG_NO_TIME: no number, beyond 120 years,
 * or more than 30 years before zero.                                                             */
PERF_FN int64_t diag_ns(const char *text)
{
    enum { DIGITS = 16, FRACTION = 3 };
    const int   negative = *text == '-';
    const char *s = text + negative;
    int64_t     ns = 0;
    int         i;

    if (strpbrk(s, "eE")) {
        const double us = strtod(s, NULL);
        if (!(us < 4e15))
            return DIAG_NO_TIME;
        return diag_signed((int64_t)(us * 1000.0), negative);
    }
    for (i = 0; ab_is_digit(*s) && i < DIGITS; i++)
        ns = ns * 10 + (*s++ - '0');
    if (!i || ab_is_digit(*s) || ns > INT64_C(4000000000000000))
        return DIAG_NO_TIME;
    if (*s == '.')
        s++;
    for (i = 0; i < FRACTION; i++) {
        ns *= 10;
        if (ab_is_digit(*s))
            ns += *s++ - '0';
    }
    return diag_signed(ns, negative);
}

/* A whole number; 0: it is none. */
PERF_FN uint64_t diag_whole(const char *text)
{
    return ab_is_digit(*text) ? strtoull(text, NULL, 10) : 0;
}

/* ---- objects and arrays ---- */

/* The next key of an object whose { is taken, with the colon behind it.  0: the object is over, or
 * a failure.  `first` is 1 before the first member and set to 0.                                 */
PERF_FN int diag_member(diag_bytes *b, int *first, char *key, size_t size)
{
    int c = diag_value(b);

    if (c == '}') {
        (void)diag_byte(b);
        return 0;
    }
    if (!*first && diag_expect(b, ',') < 0)
        return 0;
    *first = 0;
    return diag_string(b, key, size) == 0 && diag_expect(b, ':') == 0;
}

/* Is there another element of an array whose [ is taken? */
PERF_FN int diag_element(diag_bytes *b, int *first)
{
    const int c = diag_value(b);

    if (c == ']') {
        (void)diag_byte(b);
        return 0;
    }
    if (!*first && diag_expect(b, ',') < 0)
        return 0;
    *first = 0;
    return diag_value(b) >= 0 || diag_not_json(b, -1) == 0;
}

typedef struct diag_nest {              /* objects and arrays that are open                       */
    char open[DIAG_DEPTH];
    int  depth;
} diag_nest;

/* One token of a value that is passed over.  -1 with a message. */
PERF_FN int diag_skip_token(diag_bytes *b, diag_nest *n)
{
    char      text[8];
    const int c = diag_value(b);

    if (c == '{' || c == '[') {
        if (n->depth == DIAG_DEPTH)
            return diag_bytes_fail(b, "not a trace: nested more than 256 deep");
        n->open[n->depth++] = (char)(c == '{' ? '}' : ']');
        return diag_byte(b);
    }
    if (c == '}' || c == ']') {
        if (!n->depth || n->open[n->depth - 1] != c)
            return diag_not_json(b, c);
        n->depth--;
        return diag_byte(b);
    }
    if ((c == ',' || c == ':') && n->depth)
        return diag_byte(b);
    return diag_scalar(b, text, sizeof text);
}

/* Passes over a value of any depth up to DIAG_DEPTH.  -1 with a message. */
PERF_FN int diag_skip(diag_bytes *b)
{
    diag_nest n;

    n.depth = 0;
    do {
        if (diag_skip_token(b, &n) < 0)
            return -1;
    } while (n.depth);
    return 0;
}

#endif
