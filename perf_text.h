/* perf_text.h - a bounded writer of text, for the other headers.
 *
 *   char      line[80];
 *   perf_out_ o = perf_out_open_(line, sizeof line);
 *   perf_put_(&o, "load took ");
 *   perf_put_ns_(&o, 1234);                                 // "load took 1.23 us"
 *
 * For the library itself.  It calls no printf: no locale, no stdio, and fast enough for traces.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TEXT_H
#define PERF_TEXT_H

#include "perf_base.h"
#include <stdarg.h>

PERF_BEGIN_DECLS

/* >>internal: what other headers may use; most write into a perf_out_ --------------------------
 *   perf_out_, perf_out_open_  text that ends before `cap`; what is beyond is counted
 *   perf_out_grows_  a text that has always room, unless `failed` says that memory has ended
 *   perf_more_  room in a list that doubles
 *   perf_put_, perf_put_n_, perf_put_char_  a text, so many bytes, a character
 *   perf_put_u64_, perf_put_fixed_  numbers; perf_put_number_: with a text before it
 *   perf_put_real_  a number with 12 digits as JSON has it; perf_power_of_ten_  its exponent
 *   perf_put_date_, PERF_TIME_MOST_  "2026-11-21T12:00:00", and up to which time
 *   perf_columns_  columns of a name; perf_put_cut_, perf_put_cell_, perf_put_padded_  in columns
 *   and perf_put_ns_, perf_put_bytes_: "1.23 us", "1.5 MiB"
 *   perf_put_json_, perf_put_csv_  a name in quotes, as a program reads it
 *   perf_writer_, perf_member_key_, perf_member_open_, perf_member_close_, perf_member_text_,
 *   perf_member_whole_, perf_member_fixed_, perf_member_real_  members of JSON, with their commas
 *   perf_put_clean_  a name without control characters and broken bytes
 *   perf_table_, perf_column_, perf_table_open_, perf_table_head_ a table as wide as the screen:
 *   its cells from left to right are perf_table_text_, perf_table_ns_, perf_table_bytes_ and
 *   perf_table_fixed_; perf_table_row_end_ ends a row; perf_put_ns_in_, perf_put_fixed_in_,
 *   perf_put_bytes_in_ and perf_put_blanks_ write one cell alone
 *   perf_skip_word_, perf_skip_number_  what is behind a word, a number; NULL: it is not there
 *   PERF_NAME_MAX_, perf_name_length_, perf_text_length_  bytes kept of a name, of a text
 *   perf_text_hash_, PERF_TEXT_HASH_  a hash of a text, and what it begins with
 *   perf_few_, perf_few_add_, perf_put_few_  the first names of many
 *   perf_putf_, perf_putv_  by a format, see below
 *   perf_digits_, perf_digits_us_  digits in memory
 *   perf_char_, perf_char_of_, perf_char_columns_  of UTF-8                                      */

typedef struct perf_out_ {
    char  *p;           /* where to write; NULL with cap 0 only counts                            */
    size_t len;         /* characters asked for so far, also past the end                         */
    size_t cap;         /* size of p; output is always NUL-terminated when cap > 0                */
    int    width;       /* columns of the screen; 0: as many as there are                         */
    int    style;       /* what it can show: PERF_BARS_, PERF_COLOR_                              */
    int    grows;       /* 1: p comes from PERF_MALLOC, and is replaced by more when it is full   */
    int    failed;      /* 1: there was no memory to grow; the text is cut                        */
} perf_out_;
enum { PERF_BARS_ = 1, PERF_COLOR_ = 2 };

/* Writes a format of printf; compilers check the arguments.  Only these letters exist:
 *   %s  text    %c  character    %.3f  number with so many decimals (always given)    %%
 * %10.3f, %*s: right-aligned, after at least one blank.  %-20s: cut or padded to 20 columns;
 * %.20s: cut (perf_put_cut_).  Times, bytes and JSON have calls of their own, see >>internal.    */
PERF_FN void perf_putf_(perf_out_ *out, const char *format, ...)
    PERF_ATTR_((__format__(__printf__, 2, 3)));

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- plain text ---- */

/* A text in `cap` bytes at `out`; NULL: it only counts. */
PERF_FN perf_out_ perf_out_open_(char *out, size_t cap)
{
    perf_out_ buffer = PERF_ZERO;

    buffer.p = out;
    buffer.cap = out ? cap : 0;
    if (buffer.cap)
        *out = '\0';
    return buffer;
}

/* Makes room for one more element of a list that doubles; `list` points to the pointer to it.  0:
 * no memory, and the list is as it was.                                                          */
PERF_COLD_FN_ int perf_more_(void *list, size_t *room, size_t used, size_t size)
{
    void  *old, *more = PERF_NULL_;
    size_t next = 16;

    if (used < *room)
        return 1;
    if (*room)
        next = 2 * *room;
    PERF_LIBC_(memcpy)(&old, list, sizeof old);
    if (next <= PERF_CAST_(size_t, -1) / 4 / size)
        more = PERF_MALLOC(next * size);
    if (!more)
        return 0;
    if (used)
        PERF_LIBC_(memcpy)(more, old, used * size);
    PERF_FREE(old);
    PERF_LIBC_(memcpy)(list, &more, sizeof more);
    *room = next;
    return 1;
}

/* Doubles the room of a text that grows. */
PERF_COLD_FN_ void perf_out_more_(perf_out_ *out)
{
    if (!perf_more_(&out->p, &out->cap, out->cap, 1)) {
        out->grows = 0;
        out->failed = 1;
    } else if (!out->len) {
        out->p[0] = '\0';
    }
}

/* A text in memory of its own, which grows; PERF_FREE its p when it is done with. */
PERF_COLD_FN_ perf_out_ perf_out_grows_(void)
{
    perf_out_ out = PERF_ZERO;

    out.grows = 1;
    perf_out_more_(&out);
    return out;
}

PERF_FN void perf_put_char_(perf_out_ *out, char ch)
{
    if (out->grows && out->len + 1 >= out->cap)
        perf_out_more_(out);
    if (out->len + 1 < out->cap) {
        out->p[out->len] = ch;
        out->p[out->len + 1] = '\0';
    }
    out->len++;
}

PERF_FN void perf_put_n_(perf_out_ *out, const char *text, size_t n)
{
    while (n--)
        perf_put_char_(out, *text++);
}

PERF_FN void perf_put_(perf_out_ *out, const char *text)
{
    perf_put_n_(out, text, PERF_LIBC_(strlen)(text));
}

PERF_COLD_FN_ void perf_put_blanks_(perf_out_ *out, size_t n)
{
    for (; n; n--)
        perf_put_char_(out, ' ');
}

/* ---- numbers ---- */

/* Writes `value` in decimal, without a NUL, where there is room for 20.  Returns where it ends. */
PERF_FN char *perf_digits_(char *at, uint64_t value)
{
    static const char two[] =                   /* the time of a trace is mostly that of digits   */
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
        "888990919293949596979899";
    char text[40], *q = text + 20;

    do {
        PERF_LIBC_(memcpy)(q -= 2, two + value % 100 * 2, 2);
        value /= 100;
    } while (value);
    q += *q == '0';
    PERF_LIBC_(memcpy)(at, q, 20);              /* quicker than as many as there are              */
    return at + (text + 20 - q);
}

/* Nanoseconds as microseconds with three decimals, exact: "0.042".  Below 1000 a 1 before the three
 * digits makes room for the 0, which then replaces it.                                           */
PERF_FN char *perf_digits_us_(char *at, uint64_t ns)
{
    char *end = perf_digits_(at, ns < 1000 ? ns + 1000 : ns);

    *at = PERF_CAST_(char, ns < 1000 ? '0' : *at);
    end[0] = end[-1];                           /* the last three move behind the point           */
    end[-1] = end[-2];
    end[-2] = end[-3];
    end[-3] = '.';
    return end + 1;
}

PERF_FN void perf_put_u64_(perf_out_ *out, uint64_t value)
{
    char digits[20];

    perf_put_n_(out, digits, PERF_CAST_(size_t, perf_digits_(digits, value) - digits));
}

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

/* x >= 1e18 as "1.234e20", with 2 to 6 decimals. */
PERF_COLD_DECL_ void perf_put_huge_(perf_out_ *out, double x, int decimals);

/* x with `decimals` (0..15) digits after the point, rounded to nearest; "nan", "inf" in letters. */
PERF_FN void perf_put_fixed_(perf_out_ *out, double x, int decimals)
{
    uint64_t scale = 1, whole, frac;
    int      i;

    if (perf_is_nan_(x)) {
        perf_put_(out, "nan");
        return;
    }
    if (perf_bits_(x) >> 63) {
        perf_put_char_(out, '-');
        x = -x;
    }
    if (!perf_is_finite_(x)) {
        perf_put_(out, "inf");
        return;
    }
    if (x >= 1e18) {                            /* too large for the split below                  */
        perf_put_huge_(out, x, decimals);
        return;
    }
    for (i = 0; i < decimals; i++)
        scale *= 10;
    whole = PERF_CAST_(uint64_t, x);
    frac = PERF_CAST_(uint64_t, (x - PERF_CAST_(double, whole)) * PERF_CAST_(double, scale) + 0.5);
    if (frac >= scale) {
        whole++;
        frac -= scale;
    }
    perf_put_u64_(out, whole);
    if (decimals > 0) {
        perf_put_char_(out, '.');
        while ((scale /= 10) > 1 && frac < scale)
            perf_put_char_(out, '0');
        perf_put_u64_(out, frac);
    }
}

PERF_COLD_FN_ void perf_put_huge_(perf_out_ *out, double x, int decimals)
{
    const int tens = perf_power_of_ten_(x, &x);

    if (decimals > 6)
        decimals = 6;
    if (decimals < 2)
        decimals = 2;
    perf_put_fixed_(out, x, decimals);
    perf_put_char_(out, 'e');
    perf_put_u64_(out, PERF_CAST_(uint64_t, tens));
}

/* The text `before`, then x as perf_put_fixed_ does. */
PERF_COLD_FN_ void perf_put_number_(perf_out_ *out, const char *before, double x, int decimals)
{
    perf_put_(out, before);
    perf_put_fixed_(out, x, decimals);
}

/* Three digits and a unit: "17.4 ns", "1.23 us", "98.2 s". */
PERF_COLD_FN_ void perf_put_ns_(perf_out_ *out, double ns)
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    double                   size = ns < 0 ? -ns : ns;
    int                      i = 0, decimals = 0;

    for (; i < 3 && size >= 999.5; i++) {
        size /= 1000;
        ns /= 1000;
    }
    if (size < 99.95)
        decimals = 1;
    if (size < 9.995)
        decimals = 2;
    perf_put_fixed_(out, ns, decimals);
    perf_put_(out, unit[i]);
}

/* "512 B", "1.5 MiB", "200 GiB". */
PERF_COLD_FN_ void perf_put_bytes_(perf_out_ *out, double bytes)
{
    static const char *const unit[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    double                   size = bytes < 0 ? -bytes : bytes;
    int                      i = 0;

    for (; i < 4 && size >= 1023.5; i++) {
        size /= 1024;
        bytes /= 1024;
    }
    perf_put_fixed_(out, bytes, i > 0 && size < 99.95);
    perf_put_(out, unit[i]);
}

#define PERF_REAL_DIGITS_ 12    /* significant ones of a number in a file                         */

/* A number as JSON has it, without trailing zeros; null for what is infinite or none.  It has an
 * exponent below 1e-5 and from 1e17 on.                                                          */
PERF_COLD_FN_ void perf_put_real_(perf_out_ *out, double x)
{
    char      text[64];
    perf_out_ digits = perf_out_open_(text, sizeof text);
    double    first;
    int       power, plain, decimals = PERF_REAL_DIGITS_ - 1;

    if (!perf_is_finite_(x)) {
        perf_put_(out, "null");
        return;
    }
    if (x < 0.0) {
        perf_put_char_(out, '-');
        x = -x;
    }
    if (!(x > 0.0)) {
        perf_put_char_(out, '0');
        return;
    }
    power = perf_power_of_ten_(x, &first);
    plain = power >= -5 && power < 17;
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

#define PERF_TIME_MOST_ 2e11    /* seconds since the epoch: in 6,000 years                        */

/* "07" after `before`. */
PERF_COLD_FN_ void perf_put_two_digits_(perf_out_ *out, char before, uint64_t value)
{
    perf_put_char_(out, before);
    if (value < 10)
        perf_put_char_(out, '0');
    perf_put_u64_(out, value);
}

/* Seconds since the epoch as "2026-11-21T12:00:00".  Here a year begins in March, so that its leap
 * day is the last.  Days count from 0000-03-01; an era has 400 years, which are 146097 days.     */
PERF_COLD_FN_ void perf_put_date_(perf_out_ *out, double time_s)
{
    uint64_t seconds = 0, days, era, day, year, month;

    if (time_s > 0.0 && time_s < PERF_TIME_MOST_)
        seconds = PERF_CAST_(uint64_t, time_s);
    days = seconds / 86400 + 719468;            /* of 1970-01-01                                  */
    era = days / 146097;
    day = days % 146097;
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    month += 3;
    if (month > 12) {
        month -= 12;
        year++;
    }
    perf_put_u64_(out, year + 400 * era);
    perf_put_two_digits_(out, '-', month);
    perf_put_two_digits_(out, '-', day + 1);
    perf_put_two_digits_(out, 'T', seconds % 86400 / 3600);
    perf_put_two_digits_(out, ':', seconds % 3600 / 60);
    perf_put_two_digits_(out, ':', seconds % 60);
}

/* ---- numbers and words read ---- */

/* Skips blanks and, without regard to case, `word`; NULL when it is not there. */
PERF_FN const char *perf_skip_word_(const char *text, const char *word)
{
    while (*text == ' ' || *text == '\t')
        text++;
    for (; *word; word++, text++) {
        int letter = *text;
        if (letter >= 'A' && letter <= 'Z')
            letter += 'a' - 'A';
        if (letter != *word)
            return PERF_NULL_;
    }
    return text;
}

/* A plain decimal number of at most 14 digits; NULL when there is none. */
PERF_FN const char *perf_skip_number_(const char *text, double *out)
{
    double x = 0.0, unit = 0.0;                     /* unit 0: no point yet                       */
    int    digits = 0;

    for (text = perf_skip_word_(text, ""); digits < 15; text++)
        if (*text >= '0' && *text <= '9') {
            x = 10.0 * x + (*text - '0');
            unit *= 10.0;
            digits++;
        } else if (*text == '.' && !(unit > 0.0)) {
            unit = 1.0;
        } else {
            break;
        }
    *out = x;
    if (unit > 0.0)
        *out = x / unit;
    if (digits == 0 || digits == 15)
        return PERF_NULL_;
    return text;
}

/* ---- names: the one place that knows UTF-8 ---- */

#define PERF_NAME_MAX_ 255             /* bytes of a name that are kept                          */

/* Length of a text as kept: at most `most` bytes, no UTF-8 character cut in two. */
PERF_COLD_FN_ uint32_t perf_text_length_(const char *name, uint32_t most)
{
    uint32_t n = 0;

    while (name[n] && n < most)
        n++;
    if (name[n])
        while (n > most - 4 && (name[n] & 0xc0) == 0x80)
            n--;
    return n;
}

#define perf_name_length_(name) perf_text_length_(name, PERF_NAME_MAX_)

#define PERF_TEXT_HASH_ UINT32_C(2166136261)

/* FNV-1a of n bytes, beginning with `hash`. */
PERF_FN uint32_t perf_text_hash_(uint32_t hash, const char *text, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        hash = (hash ^ PERF_CAST_(unsigned char, text[i])) * UINT32_C(16777619);
    return hash;
}

/* A character: how many bytes it has, 1 if it is broken. */
typedef struct perf_char_ {
    int      bytes;
    int      broken;            /* 1: a byte that is no UTF-8                                     */
    int      control;           /* 1: U+0000..001F, 007F, 0080..009F: a terminal obeys them       */
    uint32_t code;              /* of Unicode; U+FFFD for a broken one                            */
} perf_char_;

/* The character that begins at `text`; *text is not 0. */
PERF_COLD_FN_ perf_char_ perf_char_of_(const char *text)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint32_t mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t              code = PERF_CAST_(unsigned char, *text);
    perf_char_            ch = {1, 1, 0, 0xfffd};
    int                   i, bytes = 1;

    if (code >= 0xf0)
        bytes = 4;
    else if (code >= 0xe0)
        bytes = 3;
    else if (code >= 0x80)
        bytes = 2;
    if ((code >= 0x80 && code < 0xc0) || code > 0xf4)       /* begins no character                */
        return ch;
    code &= mask[bytes];
    for (i = 1; i < bytes && (text[i] & 0xc0) == 0x80; i++)
        code = code << 6 | (PERF_CAST_(unsigned char, text[i]) & 0x3f);
    if (i == bytes && code >= least[bytes] && code <= 0x10ffff &&
        (code < 0xd800 || code > 0xdfff)) {                 /* no half of a UTF-16 pair           */
        ch.bytes = bytes;
        ch.broken = 0;
        ch.control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        ch.code = code;
    }
    return ch;
}

/* The columns that a character takes on a terminal: 2 for East Asian wide ones and emoji, 0 for
 * combining marks, else 1 (by large blocks of Unicode's East Asian Width).                       */
PERF_COLD_FN_ size_t perf_char_columns_(perf_char_ ch)
{
    static const uint32_t block[][3] = {        /* first, last, columns                           */
        {0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x2e80, 0x303e, 2},
        {0x3041, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
        {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f6ff, 2},
        {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
    size_t i;

    for (i = 0; i < sizeof block / sizeof *block; i++)
        if (ch.code >= block[i][0] && ch.code <= block[i][1])
            return block[i][2];
    return 1;
}

/* Writes a text with `control` for each control character, '?' for each byte that is no UTF-8.
 * control 0: such characters stay as they are.                                                   */
PERF_COLD_FN_ void perf_put_clean_(perf_out_ *out, const char *text, char control)
{
    perf_char_ ch;

    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.broken)
            perf_put_char_(out, '?');
        else if (ch.control && control)
            perf_put_char_(out, control);
        else
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
    }
}

/* Columns of a terminal that a name takes. */
PERF_COLD_FN_ size_t perf_columns_(const char *name)
{
    size_t      columns = 0;
    perf_char_  ch;

    for (; *name; name += ch.bytes) {
        ch = perf_char_of_(name);
        columns += perf_char_columns_(ch);
    }
    return columns;
}

/* Writes a name in at most `width` columns: a longer one is cut, with "..." behind.  Control
 * characters and bytes that are not UTF-8 become '?'.  Returns the columns left.                 */
PERF_COLD_FN_ size_t perf_put_cut_(perf_out_ *out, const char *name, size_t width)
{
    const int  cut = perf_columns_(name) > width;
    size_t     shown = 0, wide;
    perf_char_ ch;

    for (; *name; name += ch.bytes, shown += wide) {
        ch = perf_char_of_(name);
        wide = perf_char_columns_(ch);
        if (cut && shown + wide + 3 > width)
            break;
        if (ch.broken || ch.control)
            perf_put_char_(out, '?');
        else
            perf_put_n_(out, name, PERF_CAST_(size_t, ch.bytes));
    }
    if (cut) {
        perf_put_(out, "...");
        shown += 3;
    }
    return shown < width ? width - shown : 0;
}

/* Fills a column with a name, and blanks.  A longer one is cut within: names of one family, types
 * and paths, often differ at their end alone.                                                    */
PERF_COLD_FN_ void perf_put_padded_(perf_out_ *out, const char *name, size_t width)
{
    const size_t end = width / 3;               /* columns of the end of a cut name               */
    size_t       left = perf_columns_(name), room = width;
    perf_char_   ch;

    if (left > width && end > 3) {
        room = end + perf_put_cut_(out, name, width - end);
        for (; left > room; name += ch.bytes) {
            ch = perf_char_of_(name);
            left -= perf_char_columns_(ch);
        }
    }
    perf_put_blanks_(out, perf_put_cut_(out, name, room));
}

/* Right-aligned in `width` columns, after at least one blank. */
PERF_FN void perf_put_cell_(perf_out_ *out, const char *text, size_t width)
{
    size_t n = PERF_LIBC_(strlen)(text);

    do
        perf_put_char_(out, ' ');
    while (++n < width);
    perf_put_(out, text);
}

/* The same of numbers, right-aligned in `width` columns after at least one blank. */
PERF_COLD_FN_ void perf_put_fixed_in_(perf_out_ *out, double x, int decimals, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_fixed_(&cell, x, decimals);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_put_ns_in_(perf_out_ *out, double ns, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_ns_(&cell, ns);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_put_bytes_in_(perf_out_ *out, double bytes, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_bytes_(&cell, bytes);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

/* A name as a JSON string in quotes, safe in a <script>; a byte that is no UTF-8 is \ufffd. */
PERF_COLD_FN_ void perf_put_json_(perf_out_ *out, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    perf_char_        ch;

    perf_put_char_(out, '"');
    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.code == 0xfffd) {
            perf_put_(out, "\\ufffd");
        } else if (ch.control || ch.code == '<') {
            perf_put_(out, "\\u00");
            perf_put_char_(out, hex[ch.code >> 4]);
            perf_put_char_(out, hex[ch.code & 15]);
        } else {
            if (ch.code == '"' || ch.code == '\\')
                perf_put_char_(out, '\\');
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
        }
    }
    perf_put_char_(out, '"');
}

/* A name as a CSV field in quotes, which are doubled inside (RFC 4180).  Control characters but
 * tabs and ends of lines become '?', broken bytes U+FFFD.  A spreadsheet would run a text that
 * begins with = + - or @: such a one gets a ' before it.                                         */
PERF_COLD_FN_ void perf_put_csv_(perf_out_ *out, const char *text)
{
    perf_char_ ch;

    perf_put_char_(out, '"');
    if (*text && PERF_LIBC_(strchr)("=+-@", *text))
        perf_put_char_(out, '\'');
    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.broken) {
            perf_put_(out, "\xef\xbf\xbd");
        } else if (ch.control && ch.code != '\n' && ch.code != '\t') {
            perf_put_char_(out, '?');
        } else {
            if (ch.code == '"')
                perf_put_char_(out, '"');
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
        }
    }
    perf_put_char_(out, '"');
}

/* The first names of many, each once. */
typedef struct perf_few_ {
    const char *name[8];
    size_t      n;
} perf_few_;

PERF_COLD_FN_ void perf_few_add_(perf_few_ *few, const char *name)
{
    size_t i;

    for (i = 0; i < few->n && PERF_LIBC_(strcmp)(few->name[i], name) != 0; i++) {
    }
    if (i == few->n && i < sizeof few->name / sizeof *few->name)
        few->name[few->n++] = name;
}

/* ": load, decode\n" */
PERF_COLD_FN_ void perf_put_few_(perf_out_ *out, const perf_few_ *few, uint64_t all)
{
    size_t i;

    for (i = 0; i < few->n; i++) {
        perf_put_(out, i ? ", " : ": ");
        (void)perf_put_cut_(out, few->name[i], 40);
    }
    perf_put_(out, few->n && few->n < all ? ", ...\n" : "\n");
}

/* ---- tables ---- */

/* One column of a table. */
typedef struct perf_column_ {
    const char *title;
    int         width;          /* characters, with the blank before it                           */
    char        leaves;         /* of a narrow screen: 'a' first, then 'b', ...; 0: it stays      */
    char        bar;            /* 1: only where bars are drawn                                   */
} perf_column_;

/* A table as wide as the screen; its first column holds names. */
typedef struct perf_table_ {
    perf_out_          *out;
    const perf_column_ *column;
    int                 columns;        /* at most 16                                             */
    int                 at;             /* the column of the next cell                            */
    int                 name;           /* width of the names: 20 at least where that fits        */
    char                shown[16];
} perf_table_;

/* Leaves out columns until the rest fits, then makes the names shorter. */
PERF_COLD_FN_ perf_table_ perf_table_open_(perf_out_ *out, const perf_column_ *column, int columns)
{
    perf_table_ table = PERF_ZERO;
    int         i, used = 0, wanted, fits = 0;
    char        gone = 'a' - 1;

    table.out = out;
    table.column = column;
    table.columns = columns;
    table.name = column[0].width;
    for (; !fits && gone <= 'z'; gone++) {
        for (i = used = 0; i < columns; i++) {
            const int leaves = column[i].leaves && column[i].leaves <= gone;
            table.shown[i] = !leaves && (!column[i].bar || (out->style & PERF_BARS_));
            if (table.shown[i])
                used += column[i].width;
        }
        wanted = used - table.name + 20;
        fits = !out->width || wanted <= out->width;
    }
    if (out->width && used > out->width)
        table.name -= used - out->width;
    if (table.name < 8)
        table.name = 8;
    return table;
}

/* The width of the next cell of a row, from left to right; 0: its column is left out. */
PERF_COLD_FN_ int perf_table_width_(perf_table_ *table)
{
    const int at = table->at++;

    return table->shown[at] ? table->column[at].width : 0;
}

/* A name in the first column, a text in others. */
PERF_COLD_FN_ void perf_table_text_(perf_table_ *table, const char *text)
{
    const int first = table->at == 0, width = perf_table_width_(table);

    if (first)
        perf_put_padded_(table->out, text, PERF_CAST_(size_t, table->name));
    else if (width)
        perf_put_cell_(table->out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_table_fixed_(perf_table_ *table, double x, int decimals)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_fixed_in_(table->out, x, decimals, width);
}

PERF_COLD_FN_ void perf_table_ns_(perf_table_ *table, double ns)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_ns_in_(table->out, ns, width);
}

PERF_COLD_FN_ void perf_table_bytes_(perf_table_ *table, double bytes)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_bytes_in_(table->out, bytes, width);
}

PERF_COLD_FN_ void perf_table_row_end_(perf_table_ *table)
{
    table->at = 0;
    perf_put_char_(table->out, '\n');
}

/* The row of titles. */
PERF_COLD_FN_ void perf_table_head_(perf_table_ *table)
{
    int i;

    for (i = 0; i < table->columns; i++)
        perf_table_text_(table, table->column[i].title);
    perf_table_row_end_(table);
}

/* ---- by a format ---- */

/* What stands between a % and its letter; -1: not given. */
typedef struct perf_spec_ {
    int left, width, precision;
} perf_spec_;

/* Reads a number, or takes the argument that a * stands for; returns what follows it. */
PERF_COLD_FN_ const char *perf_spec_number_(const char *format, va_list *args, int *number)
{
    if (*format == '*') {
        *number = va_arg(*args, int);
        return format + 1;
    }
    for (*number = 0; *format >= '0' && *format <= '9'; format++)
        *number = 10 * *number + (*format - '0');
    return format;
}

/* A text as a spec says: cut, padded, or a cell. */
PERF_COLD_FN_ void perf_put_spec_(perf_out_ *out, const char *text, perf_spec_ spec)
{
    if (spec.left)
        perf_put_padded_(out, text, PERF_CAST_(size_t, spec.width));
    else if (spec.precision > 0)
        (void)perf_put_cut_(out, text, PERF_CAST_(size_t, spec.precision));
    else if (spec.width)
        perf_put_cell_(out, text, PERF_CAST_(size_t, spec.width));
    else
        perf_put_(out, text);
}

PERF_COLD_FN_ void perf_putv_(perf_out_ *out, const char *format, va_list *args)
{
    for (; *format; format++) {
        char       text[48];
        perf_out_  cell = perf_out_open_(text, sizeof text);
        perf_spec_ spec = {0, 0, -1};

        if (*format != '%' || *++format == '%') {
            perf_put_char_(out, *format);
            continue;
        }
        if (*format == '-') {
            spec.left = 1;
            format++;
        }
        format = perf_spec_number_(format, args, &spec.width);
        if (*format == '.')
            format = perf_spec_number_(format + 1, args, &spec.precision);
        if (*format == 's') {
            perf_put_spec_(out, va_arg(*args, const char *), spec);
            continue;
        }
        if (*format == 'c')
            perf_put_char_(&cell, PERF_CAST_(char, va_arg(*args, int)));
        else
            perf_put_fixed_(&cell, va_arg(*args, double), spec.precision);
        spec.precision = 0;
        perf_put_spec_(out, text, spec);
    }
}

PERF_FN void perf_putf_(perf_out_ *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    perf_putv_(out, format, &args);
    va_end(args);
}

/* ---- JSON ---- */

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

/* With so many decimals; null for what is infinite or none. */
PERF_COLD_FN_ void perf_member_fixed_(perf_writer_ *json, const char *key, double x, int decimals)
{
    perf_member_key_(json, key);
    if (perf_is_finite_(x))
        perf_put_fixed_(json->out, x, decimals);
    else
        perf_put_(json->out, "null");
}

PERF_COLD_FN_ void perf_member_whole_(perf_writer_ *json, const char *key, uint64_t value)
{
    perf_member_key_(json, key);
    perf_put_u64_(json->out, value);
}

PERF_END_DECLS

#endif /* PERF_TEXT_H */
