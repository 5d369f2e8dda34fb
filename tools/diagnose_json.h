/* diagnose_json.h - JSON that is read once, value by value, in memory that does not grow.
 *
 *     int ch = diag_value(&in);                    // what comes next: { [ " a digit ...
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
PERF_FN int diag_value(diag_bytes *bytes)
{
    int ch = diag_peek(bytes);

    while (ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r') {
        (void)diag_byte(bytes);
        ch = diag_peek(bytes);
    }
    return ch;
}

PERF_FN int diag_not_json(diag_bytes *bytes, int ch)
{
    char why[60];

    if (ch < 0)
        return diag_bytes_fail(bytes, "the trace is cut off: it ends in the middle");
    if (ch < 0x20 || ch > 0x7e)
        snprintf(why, sizeof why, "not JSON: unexpected byte 0x%02x", (unsigned)ch);
    else
        snprintf(why, sizeof why, "not JSON: unexpected '%c'", ch);
    return diag_bytes_fail(bytes, why);
}

/* Takes that character, after blanks.  -1 with a message: another one stands there. */
PERF_FN int diag_expect(diag_bytes *bytes, int wanted)
{
    const int ch = diag_value(bytes);

    if (ch != wanted)
        return diag_not_json(bytes, ch);
    (void)diag_byte(bytes);
    return 0;
}

/* ---- texts ---- */

typedef struct diag_text {              /* where a text goes                                      */
    char  *to;
    size_t n, size;
} diag_text;

PERF_FN void diag_text_add(diag_text *text, int ch)
{
    if (text->n + 1 < text->size)
        text->to[text->n++] = (char)ch;
}

PERF_FN int diag_hex(int ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    ch |= 0x20;
    return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* What stands behind \u, as UTF-8; half of a surrogate pair becomes '?'. */
PERF_FN int diag_unicode(diag_bytes *bytes, diag_text *text)
{
    int code = 0, i, ch, digit;

    for (i = 0; i < 4; i++) {
        ch = diag_byte(bytes);
        digit = diag_hex(ch);
        if (digit < 0)
            return diag_not_json(bytes, ch);
        code = code * 16 + digit;
    }
    if (code >= 0xd800 && code < 0xe000) {
        diag_text_add(text, '?');
    } else if (code < 0x80) {
        diag_text_add(text, code ? code : '?');
    } else if (code < 0x800) {
        diag_text_add(text, 0xc0 | code >> 6);
        diag_text_add(text, 0x80 | (code & 63));
    } else {
        diag_text_add(text, 0xe0 | code >> 12);
        diag_text_add(text, 0x80 | (code >> 6 & 63));
        diag_text_add(text, 0x80 | (code & 63));
    }
    return 0;
}

PERF_FN int diag_escape(diag_bytes *bytes, diag_text *text)
{
    static const char letter[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const int   ch = diag_byte(bytes);
    const char *at;

    if (ch == 'u')
        return diag_unicode(bytes, text);
    at = ch > 0 ? strchr(letter, ch) : NULL;
    if (!at)
        return diag_not_json(bytes, ch);
    diag_text_add(text, means[at - letter]);
    return 0;
}

/* Takes the plain characters of a string that lie in the piece at hand. */
PERF_FN void diag_string_run(diag_bytes *bytes, diag_text *text)
{
    const size_t left = bytes->n - bytes->at, room = text->size - text->n - 1;
    size_t       n = 0, kept;

    while (n < left && bytes->piece[bytes->at + n] != '"' && bytes->piece[bytes->at + n] != '\\' &&
           bytes->piece[bytes->at + n] != '\n')
        n++;
    kept = n < room ? n : room;
    memcpy(text->to + text->n, bytes->piece + bytes->at, kept);
    text->n += kept;
    bytes->at += n;
}

/* A string into to[size], cut where there is no more room.  -1 with a message. */
PERF_FN int diag_string(diag_bytes *bytes, char *to, size_t size)
{
    diag_text text;
    int       ch;

    text.to = to;
    text.n = 0;
    text.size = size;
    if (diag_expect(bytes, '"') < 0)
        return -1;
    diag_string_run(bytes, &text);
    for (ch = diag_byte(bytes); ch != '"'; ch = diag_byte(bytes)) {
        if (ch < 0)
            return diag_not_json(bytes, ch);
        if (ch != '\\')
            diag_text_add(&text, ch);           /* control characters, too: profilers write them  */
        else if (diag_escape(bytes, &text) < 0)
            return -1;
        diag_string_run(bytes, &text);
    }
    to[text.n] = '\0';
    return 0;
}

/* A number or a word (true, null) into to[size], or a string.  -1 with a message. */
PERF_FN int diag_scalar(diag_bytes *bytes, char *to, size_t size)
{
    size_t n = 0;
    int    ch = diag_value(bytes);

    if (ch == '"')
        return diag_string(bytes, to, size);
    while (ch > ' ' && ch < 0x7f && !strchr(",:]}[{\"", ch)) {
        if (n + 1 < size)
            to[n++] = (char)ch;
        (void)diag_byte(bytes);
        ch = diag_peek(bytes);
    }
    if (!n)
        return diag_not_json(bytes, ch);
    to[n] = '\0';
    if (strchr("-0123456789tfnNI", *to))            /* Python writes NaN and Infinity             */
        return 0;
    return diag_not_json(bytes, *to);
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
    const char *at = text + negative;
    int64_t     ns = 0;
    int         i;

    if (strpbrk(at, "eE")) {
        const double us = strtod(at, NULL);
        if (!(us < 4e15))
            return DIAG_NO_TIME;
        return diag_signed((int64_t)(us * 1000.0), negative);
    }
    for (i = 0; ab_is_digit(*at) && i < DIGITS; i++)
        ns = ns * 10 + (*at++ - '0');
    if (!i || ab_is_digit(*at) || ns > INT64_C(4000000000000000))
        return DIAG_NO_TIME;
    if (*at == '.')
        at++;
    for (i = 0; i < FRACTION; i++) {
        ns *= 10;
        if (ab_is_digit(*at))
            ns += *at++ - '0';
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
PERF_FN int diag_member(diag_bytes *bytes, int *first, char *key, size_t size)
{
    int ch = diag_value(bytes);

    if (ch == '}') {
        (void)diag_byte(bytes);
        return 0;
    }
    if (!*first && diag_expect(bytes, ',') < 0)
        return 0;
    *first = 0;
    return diag_string(bytes, key, size) == 0 && diag_expect(bytes, ':') == 0;
}

/* Is there another element of an array whose [ is taken? */
PERF_FN int diag_element(diag_bytes *bytes, int *first)
{
    const int ch = diag_value(bytes);

    if (ch == ']') {
        (void)diag_byte(bytes);
        return 0;
    }
    if (!*first && diag_expect(bytes, ',') < 0)
        return 0;
    *first = 0;
    return diag_value(bytes) >= 0 || diag_not_json(bytes, -1) == 0;
}

typedef struct diag_nest {              /* objects and arrays that are open                       */
    char open[DIAG_DEPTH];
    int  depth;
} diag_nest;

/* One token of a value that is passed over.  -1 with a message. */
PERF_FN int diag_skip_token(diag_bytes *bytes, diag_nest *nest)
{
    char      text[8];
    const int ch = diag_value(bytes);

    if (ch == '{' || ch == '[') {
        if (nest->depth == DIAG_DEPTH)
            return diag_bytes_fail(bytes, "not a trace: nested more than 256 deep");
        nest->open[nest->depth++] = (char)(ch == '{' ? '}' : ']');
        return diag_byte(bytes);
    }
    if (ch == '}' || ch == ']') {
        if (!nest->depth || nest->open[nest->depth - 1] != ch)
            return diag_not_json(bytes, ch);
        nest->depth--;
        return diag_byte(bytes);
    }
    if ((ch == ',' || ch == ':') && nest->depth)
        return diag_byte(bytes);
    return diag_scalar(bytes, text, sizeof text);
}

/* Passes over a value of any depth up to DIAG_DEPTH.  -1 with a message. */
PERF_FN int diag_skip(diag_bytes *bytes)
{
    diag_nest nest;

    nest.depth = 0;
    do {
        if (diag_skip_token(bytes, &nest) < 0)
            return -1;
    } while (nest.depth);
    return 0;
}

#endif
