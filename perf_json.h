/* perf_json.h - JSON: a writer that puts the commas, and a strict reader.
 *
 *   perf_writer_ json = {&out, 0, 0};
 *   perf_member_open_(&json, NULL, '{');
 *   perf_member_text_(&json, "name", "load");              // {"name":"load"
 *   perf_member_close_(&json, '}');
 *
 *   while ((member = perf_read_known_(&in, &members)) >= 0) ...
 *
 * For the library itself.  The reader takes any bytes: it fails with a status and a place.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_JSON_H
#define PERF_JSON_H

#include "perf.h"

#include <stdio.h>
#include <stdlib.h>             /* qsort                                                          */
#include <string.h>

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_writer_, perf_member_key_, perf_member_open_, perf_member_close_, perf_member_text_,
 *   perf_member_real_, perf_member_whole_  write JSON
 *   perf_put_real_         a number with 12 digits as JSON has it
 *   perf_more_, perf_text_make_  room in a list that doubles; a text in memory, to be freed
 *   perf_reader_, perf_reader_open_  a text being read; reader.decoded is the caller's to free
 *   perf_read_fail_, perf_read_need_, perf_read_room_  the first failure counts, with its place
 *   perf_read_peek_, perf_read_next_  walk
 *   perf_read_string_, perf_read_word_, perf_read_number_, perf_read_figure_  read a value
 *   perf_members_, perf_read_known_  an object's members by name
 *   PERF_READ_BYTES_       the longest text                                                      */

/* >>private ------------------------------------------------------------------------------------ */

/* Room for one more element of a list that doubles; 0: no memory, and the list is as it was. */
PERF_COLD_FN_ int perf_more_(void *list_, size_t *room, size_t used, size_t size)
{
    void  *list, *more = PERF_NULL_;
    size_t next = 16;

    if (used < *room)
        return 1;
    if (*room)
        next = 2 * *room;
    memcpy(&list, list_, sizeof list);
    if (next <= PERF_CAST_(size_t, -1) / 4 / size)
        more = PERF_MALLOC(next * size);
    if (!more)
        return 0;
    if (used)
        memcpy(more, list, used * size);
    PERF_FREE(list);
    memcpy(list_, &more, sizeof more);
    *room = next;
    return 1;
}

/* The text that `put` makes of `with`, in memory of its own; PERF_FREE it.  It is made again if it
 * does not fit, or if it has grown because a thread was still writing samples.  NULL: *status says
 * why, PERF_ESTATE if it kept growing.                                                           */
PERF_COLD_FN_ char *perf_text_make_(void (*put)(perf_out_ *, const void *), const void *with,
                                    size_t *len, perf_status *status)
{
    perf_out_ out;
    size_t    room = 65536;
    int       turn;

    *len = 0;
    for (turn = 0; turn < 5; turn++) {
        char *text = PERF_CAST_(char *, PERF_MALLOC(room));
        *status = PERF_ENOMEM;
        if (!text)
            return text;
        *status = PERF_OK;
        out = perf_out_open_(text, room);
        put(&out, with);
        if (out.len < out.cap) {
            *len = out.len;
            return text;
        }
        PERF_FREE(text);
        room = out.len + 1;
    }
    *status = PERF_ESTATE;
    return PERF_CAST_(char *, PERF_NULL_);
}

/* ---- numbers and JSON ---- */

/* The power of ten of x > 0; *first becomes x / 10^power, from 1 to below 10. */
PERF_COLD_FN_ int perf_power_of_ten_(double x, double *first)
{
    int power = 0;

    for (; x >= 10.0; power++)
        x /= 10.0;
    for (; x < 1.0; power--)
        x *= 10.0;
    *first = x;
    return power;
}

#define PERF_REAL_DIGITS_ 12    /* significant ones of a number in a file                         */

/* A number > 0 in digits, without trailing zeros; an exponent below 1e-5 and from 1e17 on. */
PERF_COLD_FN_ void perf_put_positive_(perf_out_ *out, double x)
{
    char      text[64];
    perf_out_ digits = perf_out_open_(text, sizeof text);
    double    first;
    const int power = perf_power_of_ten_(x, &first);
    const int plain = power >= -5 && power < 17;
    int       decimals = PERF_REAL_DIGITS_ - 1;

    if (plain)
        decimals -= power;
    if (decimals < 0)
        decimals = 0;
    perf_put_fixed_(&digits, plain ? x : first, decimals);
    if (decimals) {
        while (text[digits.len - 1] == '0')
            digits.len--;
        if (text[digits.len - 1] == '.')
            digits.len--;
    }
    perf_put_n_(out, text, digits.len);
    if (!plain)
        perf_putf_(out, power > 0 ? "e+%.0f" : "e%.0f", PERF_CAST_(double, power));
}

/* A number as JSON has it; null for what is infinite or none. */
PERF_COLD_FN_ void perf_put_real_(perf_out_ *out, double x)
{
    if (!perf_is_finite_(x)) {
        perf_put_(out, "null");
    } else if (x < 0.0) {
        perf_put_char_(out, '-');
        perf_put_positive_(out, -x);
    } else if (x > 0.0) {
        perf_put_positive_(out, x);
    } else {
        perf_put_char_(out, '0');
    }
}

/* Writes JSON and puts the commas. */
typedef struct perf_writer_ {
    perf_out_ *out;
    int        comma;           /* 1: one stands before the next value                            */
    int        line;            /* 1: and a new line                                              */
} perf_writer_;

/* What comes before a value: its comma, line and key; key NULL: an element of a list. */
PERF_COLD_FN_ void perf_member_key_(perf_writer_ *json, const char *key)
{
    if (json->comma)
        perf_put_char_(json->out, ',');
    if (json->line)
        perf_put_(json->out, "\n ");
    json->comma = 1;
    json->line = 0;
    if (!key)
        return;
    perf_put_json_(json->out, key);
    perf_put_char_(json->out, ':');
}

/* bracket: '{' or '['. */
PERF_COLD_FN_ void perf_member_open_(perf_writer_ *json, const char *key, char bracket)
{
    perf_member_key_(json, key);
    perf_put_char_(json->out, bracket);
    json->comma = 0;
}

PERF_COLD_FN_ void perf_member_close_(perf_writer_ *json, char bracket)
{
    perf_put_char_(json->out, bracket);
    json->comma = 1;
    json->line = 0;
}

PERF_COLD_FN_ void perf_member_text_(perf_writer_ *json, const char *key, const char *text)
{
    perf_member_key_(json, key);
    perf_put_json_(json->out, text);
}

PERF_COLD_FN_ void perf_member_real_(perf_writer_ *json, const char *key, double x)
{
    perf_member_key_(json, key);
    perf_put_real_(json->out, x);
}

PERF_COLD_FN_ void perf_member_whole_(perf_writer_ *json, const char *key, uint64_t x)
{
    perf_member_key_(json, key);
    perf_put_u64_(json->out, x);
}

/* ---- a strict reader that walks once ---- */

#define PERF_READ_BYTES_   (UINT64_C(256) << 20)    /* of a file                                  */
#define PERF_READ_DEPTH_   64u
#define PERF_READ_MOST_    1e290                    /* beyond: infinite                           */

typedef struct perf_reader_ {
    const char *text;                   /* stays: its parts may be copied                         */
    char       *decoded;                /* strings, each at the place where it stands in the text */
    size_t      size, at;
    perf_status status;                 /* the first failure, with its place                      */
    size_t      error_at;
} perf_reader_;

#define PERF_KEEP_RUNS_    30u

PERF_COLD_FN_ int perf_read_fail_(perf_reader_ *in, perf_status why)
{
    if (in->status == PERF_OK) {
        in->status = why;
        in->error_at = in->at;
        if (in->at > in->size)
            in->error_at = in->size;
    }
    in->at = in->size;
    return 0;
}

/* Fails at that place unless `ok`.  Returns 1 if nothing has failed so far. */
PERF_COLD_FN_ int perf_read_need_(perf_reader_ *in, int ok, size_t at, perf_status why)
{
    if (!ok && in->status == PERF_OK) {
        in->at = at;
        (void)perf_read_fail_(in, why);
    }
    return in->status == PERF_OK;
}

/* Room for the strings of a text of that size, which need not end with NUL. */
PERF_COLD_FN_ int perf_reader_open_(perf_reader_ *in, const char *text, size_t size)
{
    memset(in, 0, sizeof *in);
    in->text = text;
    in->size = size;
    if (size > PERF_READ_BYTES_)
        return perf_read_fail_(in, PERF_ELIMIT);
    in->decoded = PERF_CAST_(char *, PERF_MALLOC(size + 1));
    if (!in->decoded)
        return perf_read_fail_(in, PERF_ENOMEM);
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        in->at = 3;
    return 1;
}

PERF_FN char perf_read_char_(const perf_reader_ *in)    /* NUL: the end, or a failure             */
{
    if (in->at >= in->size)
        return '\0';
    return in->text[in->at];
}

/* The next character that is no blank; NUL at the end or after a failure. */
PERF_FN char perf_read_peek_(perf_reader_ *in)
{
    while (perf_read_char_(in) && strchr(" \n\t\r", perf_read_char_(in)))
        in->at++;
    return perf_read_char_(in);
}

PERF_FN int perf_read_this_(perf_reader_ *in, char wanted)
{
    if (perf_read_peek_(in) != wanted)
        return 0;
    in->at++;
    return 1;
}

PERF_FN int perf_read_digit_(const perf_reader_ *in)
{
    return perf_read_char_(in) >= '0' && perf_read_char_(in) <= '9';
}

/* Four hexadecimal digits. */
PERF_COLD_FN_ int perf_read_hex_(perf_reader_ *in, uint32_t *out)
{
    static const char digit[] = "0123456789abcdef0123456789ABCDEF";
    int i;

    *out = 0;
    for (i = 0; i < 4; i++, in->at++) {
        const char  next = perf_read_char_(in);
        const char *found = strchr(digit, next);
        if (!next || !found)
            return perf_read_fail_(in, PERF_EFORMAT);
        *out = *out << 4 | PERF_CAST_(uint32_t, (found - digit) & 15);
    }
    return 1;
}

/* The code behind \u, with its second half behind another.  NUL and lone surrogates: U+FFFD. */
PERF_COLD_FN_ uint32_t perf_read_code_(perf_reader_ *in)
{
    const uint32_t unknown = 0xfffd;
    const size_t   behind = in->at + 4;
    uint32_t       code, low;

    if (!perf_read_hex_(in, &code) || code == 0)
        return unknown;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code >= 0xdc00 || in->size - in->at < 6 || in->text[in->at] != '\\' ||
        in->text[in->at + 1] != 'u')
        return unknown;
    in->at += 2;
    if (!perf_read_hex_(in, &low))
        return unknown;
    if (low >= 0xdc00 && low < 0xe000)
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    in->at = behind;
    return unknown;
}

/* A code as UTF-8; returns where it ends. */
PERF_COLD_FN_ char *perf_utf8_put_(char *to, uint32_t code)
{
    static const uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    int                   more = 3;     /* bytes behind the first                                 */

    if (code < 0x80)
        more = 0;
    else if (code < 0x800)
        more = 1;
    else if (code < 0x10000)
        more = 2;
    *to++ = PERF_CAST_(char, lead[more] | code >> 6 * more);
    while (more--)
        *to++ = PERF_CAST_(char, 0x80 | (code >> 6 * more & 63));
    return to;
}

/* What a \ stands for, as UTF-8; never longer than it was. */
PERF_COLD_FN_ char *perf_read_escape_(perf_reader_ *in, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char  next = perf_read_char_(in);
    const char *found = strchr(from, next);

    if (next == 'u') {
        uint32_t code;
        in->at++;
        code = perf_read_code_(in);
        return in->status == PERF_OK ? perf_utf8_put_(to, code) : to;
    }
    if (!next || !found) {
        (void)perf_read_fail_(in, PERF_EFORMAT);
        return to;
    }
    in->at++;
    *to++ = into[found - from];
    return to;
}

/* A string, ended by NUL, valid as long as `in`; "" after a failure. */
PERF_COLD_FN_ const char *perf_read_string_(perf_reader_ *in)
{
    const int open = perf_read_this_(in, '"');
    char     *begin = in->decoded + in->at - open, *to = begin;

    while (open && in->at < in->size) {
        const char next = in->text[in->at];
        if (next == '"') {
            in->at++;
            *to = '\0';
            return begin;
        }
        if (PERF_CAST_(unsigned char, next) < 0x20)
            break;
        in->at++;
        if (next == '\\')
            to = perf_read_escape_(in, to);
        else
            *to++ = next;
    }
    (void)perf_read_fail_(in, PERF_EFORMAT);
    return "";
}

PERF_COLD_FN_ int perf_read_word_(perf_reader_ *in, const char *word)
{
    size_t length = strlen(word);

    if (in->size - in->at < length || memcmp(in->text + in->at, word, length) != 0)
        return perf_read_fail_(in, PERF_EFORMAT);
    in->at += length;
    return 1;
}

/* Digits with at most one point among them; *x is their number without the point.  Returns the
 * power of ten that the point makes, 1: they are no number of JSON.                              */
PERF_COLD_FN_ int perf_read_digits_(perf_reader_ *in, double *x)
{
    const size_t first = in->at;
    int          whole = 0, behind = 0, point = 0;

    *x = 0.0;
    for (;; in->at++) {
        if (whole && !point && perf_read_char_(in) == '.') {
            point = 1;
            continue;
        }
        if (!perf_read_digit_(in))
            break;
        *x = 10.0 * *x + (in->text[in->at] - '0');
        if (point)
            behind++;
        else
            whole++;
    }
    if (!whole || (point && !behind) || (whole > 1 && in->text[first] == '0'))
        return 1;
    return -behind;
}

/* The power behind e or E, with its sign; 0 where there is none. */
PERF_COLD_FN_ int perf_read_power_(perf_reader_ *in)
{
    const int most = 100000;            /* beyond that all numbers are infinite or 0              */
    int       power = 0, digits = 0, minus;

    if (perf_read_char_(in) != 'e' && perf_read_char_(in) != 'E')
        return 0;
    in->at++;
    minus = perf_read_char_(in) == '-';
    if (minus || perf_read_char_(in) == '+')
        in->at++;
    for (; perf_read_digit_(in); in->at++, digits++)
        if (power < most)
            power = 10 * power + (in->text[in->at] - '0');
    if (!digits)
        (void)perf_read_fail_(in, PERF_EFORMAT);
    return minus ? -power : power;
}

/* A number as JSON spells it, good to 1e-15.  Beyond 1e290: infinite. */
PERF_COLD_FN_ double perf_read_number_(perf_reader_ *in)
{
    const int minus = perf_read_this_(in, '-');
    double    x;
    int       power = perf_read_digits_(in, &x);

    if (power > 0)
        return perf_read_fail_(in, PERF_EFORMAT);
    power += perf_read_power_(in);
    for (; x > 0.0 && power > 0 && x <= PERF_READ_MOST_; power--)
        x *= 10.0;
    if (x > PERF_READ_MOST_)
        x = PERF_INF_;
    for (; x > 0.0 && power <= -16; power += 16)
        x /= 1e16;
    for (; x > 0.0 && power < 0; power++)
        x /= 10.0;
    return minus ? -x : x;
}

/* A number that is used: beyond 1e290 it is PERF_ERANGE. */
PERF_COLD_FN_ double perf_read_figure_(perf_reader_ *in)
{
    size_t at;
    double x;

    (void)perf_read_peek_(in);
    at = in->at;
    x = perf_read_number_(in);
    if (!perf_read_need_(in, perf_is_finite_(x), at, PERF_ERANGE))
        return 0.0;
    return x;
}

/* Goes to the next part of an object or a list.  *count counts them; 0 expects `open`.  0: the
 * end.                                                                                           */
PERF_COLD_FN_ int perf_read_next_(perf_reader_ *in, size_t *count, char open, char close)
{
    if (!*count && !perf_read_this_(in, open))
        return perf_read_fail_(in, PERF_EFORMAT);
    if (perf_read_this_(in, close))
        return 0;
    if (*count && !perf_read_this_(in, ','))
        return perf_read_fail_(in, PERF_EFORMAT);
    ++*count;
    if (!perf_read_peek_(in) && in->at >= in->size)
        return perf_read_fail_(in, PERF_EFORMAT);
    return 1;
}

PERF_COLD_FN_ int perf_read_member_(perf_reader_ *in, size_t *count, const char **key)
{
    if (!perf_read_next_(in, count, '{', '}'))
        return 0;
    *key = perf_read_string_(in);
    if (!perf_read_this_(in, ':'))
        return perf_read_fail_(in, PERF_EFORMAT);
    (void)perf_read_peek_(in);
    return in->status == PERF_OK;
}

/* Any value, not kept.  Calls itself for what is inside, at most PERF_READ_DEPTH_ deep. */
PERF_COLD_FN_ void perf_read_skip_(perf_reader_ *in, unsigned depth)
{
    const char *key;
    const char  next = perf_read_peek_(in);
    size_t      parts = 0;

    if ((next == '{' || next == '[') && depth == PERF_READ_DEPTH_)
        (void)perf_read_fail_(in, PERF_ELIMIT);
    else if (next == '{')
        while (perf_read_member_(in, &parts, &key))
            perf_read_skip_(in, depth + 1);
    else if (next == '[')
        while (perf_read_next_(in, &parts, '[', ']'))
            perf_read_skip_(in, depth + 1);
    else if (next == '"')
        (void)perf_read_string_(in);
    else if (next == 't')
        (void)perf_read_word_(in, "true");
    else if (next == 'f')
        (void)perf_read_word_(in, "false");
    else if (next == 'n')
        (void)perf_read_word_(in, "null");
    else
        (void)perf_read_number_(in);
}

/* An object being read: its members that are known by name, and which of them have come. */
typedef struct perf_members_ {
    const char *const *name;    /* ends with NULL; at most 16                                     */
    size_t             count;   /* members so far                                                 */
    int                has[16]; /* 1: that member has come                                        */
} perf_members_;

/* The number of the next member with a known name; -1: the end.  Members of other names are
 * skipped, and a second one of the same name is an error.                                        */
PERF_COLD_FN_ int perf_read_known_(perf_reader_ *in, perf_members_ *members)
{
    const char *key;
    int         i;

    while (perf_read_member_(in, &members->count, &key)) {
        for (i = 0; members->name[i] && strcmp(members->name[i], key) != 0; i++)
            ;
        if (!members->name[i]) {
            perf_read_skip_(in, 0);
            continue;
        }
        if (members->has[i]) {
            (void)perf_read_fail_(in, PERF_EFORMAT);
            return -1;
        }
        members->has[i] = 1;
        return i;
    }
    return -1;
}

/* Room for one more element of a list, or the failure of `in`.  most: more are PERF_ELIMIT. */
PERF_COLD_FN_ int perf_read_room_(perf_reader_ *in, void *list, size_t *room, size_t used,
                                  size_t size, size_t most)
{
    if (in->status != PERF_OK)
        return 0;
    if (used >= most)
        return perf_read_fail_(in, PERF_ELIMIT);
    if (!perf_more_(list, room, used, size))
        return perf_read_fail_(in, PERF_ENOMEM);
    return 1;
}

PERF_END_DECLS

#endif /* PERF_JSON_H */
