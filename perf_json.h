/* perf_json.h - JSON: a writer that puts the commas.
 *
 *   perf_writer_ json = {&out, 0, 0};
 *   perf_member_open_(&json, NULL, '{');
 *   perf_member_text_(&json, "name", "load");              // {"name":"load"
 *   perf_member_close_(&json, '}');
 *
 * For the library itself.  The reader is where files are read: perf_saved.h.
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
 *   perf_more_             room in a list that doubles                                           */

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

PERF_END_DECLS

#endif /* PERF_JSON_H */
