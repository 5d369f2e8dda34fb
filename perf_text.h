/* perf_text.h - a bounded writer of text, for the other headers.
 *
 *   char      line[80];
 *   perf_out_ o = perf_out_open_(line, sizeof line);
 *   perf_putf_(&o, "%-12s%10g\n", name, ns);               // "load           1.23 us"
 *
 * For the library itself.  It calls no printf: no locale, no stdio, and fast enough for traces.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TEXT_H
#define PERF_TEXT_H

#include "perf_base.h"
#include <stdarg.h>

PERF_BEGIN_DECLS

/* >>internal: what other headers may use; all but the last three write into a perf_out_ ---------
 *   perf_out_, perf_out_open_  text that ends before `cap`; what is beyond is counted
 *   perf_putf_, perf_putv_  by a format, see below
 *   perf_put_, perf_put_n_, perf_put_char_, perf_put_u64_, perf_put_fixed_  a text, bytes, numbers
 *   perf_put_cut_, perf_put_cell_  a name or a text in the columns of a table
 *   perf_put_json_, perf_put_csv_, perf_put_escaped_  a name in quotes, as a program reads it
 *   perf_digits_, perf_utf8_, perf_columns_  digits in memory; bytes, columns of a character     */

typedef struct perf_out_ {
    char  *p;           /* where to write; NULL with cap 0 only counts                            */
    size_t len;         /* characters asked for so far, also past the end                         */
    size_t cap;         /* size of p; output is always NUL-terminated when cap > 0                */
    int    width;       /* columns of the screen; 0: as many as there are                         */
    int    style;       /* what it can show, see perf_report.h                                    */
    uint32_t skip;      /* bit i: cell i of a perf_putf_ is left out, with the text after it      */
} perf_out_;

/* Writes a format.  Compilers check the arguments, because its letters are those of printf.  Only
 * these exist, and %g and %e mean something else:
 *   %s  text    %c  character    %.3f  number with so many decimals (always given)    %%
 *   %g  nanoseconds, as "1.23 us"       %e  bytes, as "1.5 MiB"
 * A width (%10g, %*g) makes a cell of a table: right-aligned, after at least one blank.  %-20s pads
 * or cuts a name to 20 columns, %.20s only cuts it (perf_put_cut_), %.0s quotes it as JSON.      */
PERF_FN void perf_putf_(perf_out_ *o, const char *format, ...)
    PERF_ATTR_((__format__(__printf__, 2, 3)));

/* >>private ------------------------------------------------------------------------------------ */

PERF_FN perf_out_ perf_out_open_(char *out, size_t cap)
{
    perf_out_ o = PERF_ZERO;

    o.p = out;
    o.cap = out ? cap : 0;
    if (o.cap)
        *out = '\0';
    return o;
}

PERF_FN void perf_put_char_(perf_out_ *o, char c)
{
    if (o->len + 1 < o->cap) {
        o->p[o->len] = c;
        o->p[o->len + 1] = '\0';
    }
    o->len++;
}

PERF_FN void perf_put_n_(perf_out_ *o, const char *s, size_t n)
{
    while (n--)
        perf_put_char_(o, *s++);
}

PERF_FN void perf_put_(perf_out_ *o, const char *s)
{
    perf_put_n_(o, s, PERF_LIBC_(strlen)(s));
}

/* Writes v in decimal, without a NUL, where there is room for 20.  Returns where it ends. */
PERF_FN char *perf_digits_(char *p, uint64_t v)
{
    static const char two[] =                   /* the time of a trace is mostly that of digits   */
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
        "888990919293949596979899";
    char text[40], *q = text + 20;

    do {
        PERF_LIBC_(memcpy)(q -= 2, two + v % 100 * 2, 2);
        v /= 100;
    } while (v);
    q += *q == '0';
    PERF_LIBC_(memcpy)(p, q, 20);               /* quicker than as many as there are              */
    return p + (text + 20 - q);
}

PERF_FN void perf_put_u64_(perf_out_ *o, uint64_t v)
{
    char digits[20];

    perf_put_n_(o, digits, PERF_CAST_(size_t, perf_digits_(digits, v) - digits));
}

/* x with `decimals` (0..15) digits after the point, rounded to nearest; "nan", "inf" in letters. */
PERF_FN void perf_put_fixed_(perf_out_ *o, double x, int decimals)
{
    uint64_t scale = 1, whole, frac;
    int      i;

    if (perf_is_nan_(x)) {
        perf_put_(o, "nan");
        return;
    }
    if (perf_bits_(x) >> 63) {
        perf_put_char_(o, '-');
        x = -x;
    }
    if (!perf_is_finite_(x)) {
        perf_put_(o, "inf");
        return;
    }
    for (i = 0; i < decimals; i++)
        scale *= 10;
    if (x >= 1e18) {                            /* too large for the split below                  */
        for (i = 0; x >= 10.0; i++)
            x /= 10.0;
        perf_put_fixed_(o, x, decimals > 6 ? 6 : decimals < 2 ? 2 : decimals);
        perf_put_char_(o, 'e');
        perf_put_u64_(o, PERF_CAST_(uint64_t, i));
        return;
    }
    whole = PERF_CAST_(uint64_t, x);
    frac = PERF_CAST_(uint64_t, (x - PERF_CAST_(double, whole)) * PERF_CAST_(double, scale) + 0.5);
    if (frac >= scale) {
        whole++;
        frac -= scale;
    }
    perf_put_u64_(o, whole);
    if (decimals > 0) {
        perf_put_char_(o, '.');
        while ((scale /= 10) > 1 && frac < scale)
            perf_put_char_(o, '0');
        perf_put_u64_(o, frac);
    }
}

/* Three digits and a unit: "17.4 ns", "1.23 us", "98.2 s"; or "512 B", "1.5 MiB". */
PERF_COLD_FN_ void perf_put_scaled_(perf_out_ *o, double x, int bytes)
{
    static const char *const unit[2][5] = {{" ns", " us", " ms", " s", ""},
                                           {" B", " KiB", " MiB", " GiB", " TiB"}};
    double                   size = x < 0 ? -x : x;
    int                      u = 0;

    for (; u < 3 + bytes && size >= (bytes ? 1023.5 : 999.5); u++) {
        size /= bytes ? 1024 : 1000;
        x /= bytes ? 1024 : 1000;
    }
    perf_put_fixed_(o, x, bytes ? u && size < 99.95 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
    perf_put_(o, unit[bytes][u]);
}

/* Length of the UTF-8 character at s, 0 if it is not one. */
PERF_COLD_FN_ int perf_utf8_(const char *s)
{
    unsigned char c = PERF_CAST_(unsigned char, *s), second;
    int           n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    int           i;

    for (i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    second = PERF_CAST_(unsigned char, n > 1 ? s[1] : 0);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
        (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

/* Columns of a terminal that the character of n bytes at s takes: 2 for East Asian wide ones and
 * emoji, 0 for combining marks, else 1 (by large blocks of Unicode's East Asian Width).          */
PERF_COLD_FN_ size_t perf_columns_(const char *s, int n)
{
    static const uint32_t block[][3] = {
        {0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x2e80, 0x303e, 2},
        {0x3041, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
        {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
        {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
    uint32_t c = PERF_CAST_(unsigned char, *s) & (0xffu >> (n + 1));
    size_t   i;

    for (i = 1; PERF_CAST_(int, i) < n; i++)
        c = c << 6 | (PERF_CAST_(unsigned char, s[i]) & 0x3f);
    for (i = 0; n > 1 && i < sizeof block / sizeof *block; i++)
        if (c >= block[i][0] && c <= block[i][1])
            return block[i][2];
    return 1;
}

/* Writes a name in at most `width` columns: a longer one is cut, with "..." behind.  Control
 * characters (of UTF-8, too) and bytes that are not UTF-8 become '?'.  Returns the columns left. */
PERF_COLD_FN_ size_t perf_put_cut_(perf_out_ *o, const char *name, size_t width)
{
    size_t      columns = 0, shown = 0, wide;
    const char *s;
    int         n;

    for (s = name; *s; s += n ? n : 1) {
        n = perf_utf8_(s);
        columns += perf_columns_(s, n);
    }
    for (; *name; name += n ? n : 1, shown += wide) {
        unsigned char c = PERF_CAST_(unsigned char, *name);
        n = perf_utf8_(name);
        wide = perf_columns_(name, n);
        if (columns > width && shown + wide + 3 > width)
            break;
        if (n == 0 || c < 0x20 || c == 0x7f ||
            (c == 0xc2 && PERF_CAST_(unsigned char, name[1]) < 0xa0))
            perf_put_char_(o, '?');
        else
            perf_put_n_(o, name, PERF_CAST_(size_t, n));
    }
    if (columns > width) {
        perf_put_(o, "...");
        shown += 3;
    }
    return shown < width ? width - shown : 0;
}

/* Right-aligned in `width` columns, after at least one blank. */
PERF_FN void perf_put_cell_(perf_out_ *o, const char *text, size_t width)
{
    size_t n = PERF_LIBC_(strlen)(text);

    do
        perf_put_char_(o, ' ');
    while (++n < width);
    perf_put_(o, text);
}

/* Writes a name for programs: as a JSON string in quotes, safe in a <script>; or as a CSV field,
 * in quotes that are doubled inside (RFC 4180).  Bytes that are not UTF-8 become U+FFFD.         */
#define perf_put_json_(o, s) perf_put_escaped_(o, s, 0)
#define perf_put_csv_(o, s)  perf_put_escaped_(o, s, 1)
PERF_COLD_FN_ void perf_put_escaped_(perf_out_ *o, const char *s, int how)     /* 2: OpenMetrics */
{
    static const char hex[] = "0123456789abcdef";
    int               n;

    perf_put_char_(o, '"');
    for (; *s; s += n ? n : 1) {
        unsigned char c = PERF_CAST_(unsigned char, *s);
        n = perf_utf8_(s);
        if (n == 0) {
            perf_put_(o, how ? "\xef\xbf\xbd" : "\\ufffd");
        } else if (how == 2 && (c < 0x20 || c == 0x7f)) {
            perf_put_(o, c == '\n' ? "\\n" : "?");
        } else if (!how && (c < 0x20 || c == 0x7f || c == '<')) {
            perf_put_(o, "\\u00");
            perf_put_char_(o, hex[c >> 4]);
            perf_put_char_(o, hex[c & 15]);
        } else {
            if (c == '"' || (c == '\\' && how != 1))
                perf_put_char_(o, how == 1 ? '"' : '\\');
            perf_put_n_(o, s, PERF_CAST_(size_t, n));
        }
    }
    perf_put_char_(o, '"');
}

PERF_COLD_FN_ void perf_putv_(perf_out_ *o, const char *format, va_list *a)
{
    uint32_t skip = o->skip << 1, skipped = 0;

    for (; *format; format++) {
        char        text[48];
        perf_out_   cell = perf_out_open_(text, sizeof text);
        const char *s = text;
        int         left, width = 0, digits = -1;
        size_t      fill;

        if (*format != '%' || *++format == '%') {
            if (!skipped || *format == '\n')
                perf_put_char_(o, *format);
            continue;
        }
        left = *format == '-';
        for (format += left; *format >= '0' && *format <= '9'; format++)
            width = 10 * width + (*format - '0');
        if (*format == '*') {
            width = va_arg(*a, int);
            format++;
        }
        if (*format == '.')
            for (format++, digits = 0; *format >= '0' && *format <= '9'; format++)
                digits = 10 * digits + (*format - '0');
        if (*format == 's')
            s = va_arg(*a, const char *);
        else if (*format == 'c')
            perf_put_char_(&cell, PERF_CAST_(char, va_arg(*a, int)));
        else if (*format == 'f')
            perf_put_fixed_(&cell, va_arg(*a, double), digits);
        else
            perf_put_scaled_(&cell, va_arg(*a, double), *format == 'e');
        skip >>= width != 0;
        skipped = width ? skip & 1 : 0;
        if (skipped)
            continue;
        if (left)
            for (fill = perf_put_cut_(o, s, PERF_CAST_(size_t, width)); fill; fill--)
                perf_put_char_(o, ' ');
        else if (*format == 's' && digits == 0)
            perf_put_json_(o, s);
        else if (*format == 's' && digits > 0)
            (void)perf_put_cut_(o, s, PERF_CAST_(size_t, digits));
        else if (width)
            perf_put_cell_(o, s, PERF_CAST_(size_t, width));
        else
            perf_put_(o, s);
    }
}

PERF_FN void perf_putf_(perf_out_ *o, const char *format, ...)
{
    va_list a;

    va_start(a, format);
    perf_putv_(o, format, &a);
    va_end(a);
}

PERF_END_DECLS

#endif /* PERF_TEXT_H */
