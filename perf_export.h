/* perf_export.h - histograms in other tools' formats: HdrHistogram logs, plots, CSV, binary.
 *
 *     static char        line[65536];                           // a line of an .hlog file
 *     static perf_hist   latency;
 *     perf_hlog_interval second = PERF_ZERO;
 *     second.length_seconds = 1.0;
 *     if (perf_hlog_write(line, sizeof line, &latency, &second, 2) < sizeof line)
 *         fputs(line, stdout);                                  // HdrHistogram's tools read it
 *
 * Optional: only files that save or load such formats include it, beside perf_stats.h.
 * Needs no zlib: what we write is stored, what others wrote is inflated here.  No file is opened,
 * nothing is allocated; text and bytes go to and come from memory that you own.
 * Sections (search for ">>"):  hlog  text  binary  private
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_EXPORT_H
#define PERF_EXPORT_H

#include "perf_stats.h"
#ifndef PERF_VERSION
#error "perf_export.h: found another perf_stats.h first; put this library's folder earlier"
#endif

PERF_BEGIN_DECLS

/* Writers of text return the number of characters that the whole text has, without the final NUL,
 * as snprintf does.  A result >= cap means that it did not fit: out then holds a cut text (or, for
 * perf_hlog_write, none).  out may be NULL with cap 0, to ask for the size.  Always terminated.   */

/* >>hlog: HdrHistogram interval logs (.hlog) ----------------------------------------------------- */

typedef struct perf_hlog_interval {
    double      start_seconds;      /* since the epoch, or since the start time of the log        */
    double      length_seconds;
    const char *tag;                /* NULL: none.  When read: in the log's text, tag_size long    */
    size_t      tag_size;           /* when written: 0 means strlen(tag)                          */
    double      max_unit;           /* written: values per printed unit, 0 -> 1e6 (ns to ms)       */
    /* read only */
    double      max;                /* as printed in the log                                      */
    double      ratio;              /* the histogram's integer-to-double conversion ratio          */
    uint64_t    count;              /* values in this interval                                     */
    int         version;            /* of the encoding: 0, 1 or 2                                  */
    int         digits;             /* significant decimal digits of the histogram, 0..5           */
    size_t      offset;             /* of the line in the text                                     */
} perf_hlog_interval;

/* The lines that begin a log.  comment may be NULL; it must be one line.  start_seconds: since the
 * epoch.                                                                                         */
PERF_FN size_t perf_hlog_write_header(char *out, size_t cap, const char *comment,
                                      double start_seconds);

/* One line with all values of h, V2 encoding.  digits 1, 2 or 3 keep 4, 7 or 10 bits: a histogram
 * of as many bits or more is written exactly as HdrHistogram would have recorded it, a coarser one
 * at its buckets' midpoints.  Values above the range are written at the maximum.  0: bad argument. */
PERF_FN size_t perf_hlog_write(char *out, size_t cap, const perf_hist *h,
                               const perf_hlog_interval *iv, int digits);

/* Walks through a log in memory (`text` need not end with NUL, and is not copied):
 *     perf_hlog_reader r = PERF_ZERO;  r.text = text;  r.size = size;
 *     while ((st = perf_hlog_next(&r, &iv, &h)) != PERF_ENODATA) ...                              */
typedef struct perf_hlog_reader {
    const char *text;
    size_t      size;
    size_t      at;                 /* where the next line begins                                  */
    size_t      error_at;           /* byte offset of what was wrong, when a status says so        */
    double      start_seconds;      /* from #[StartTime: ...], 0 when there was none so far        */
    double      base_seconds;       /* from #[BaseTime: ...]                                       */
} perf_hlog_reader;

/* The next interval: its values are added to `into` (NULL: only checked).
 * PERF_OK       all of the line was added
 * PERF_ENODATA  end of the log
 * PERF_EFORMAT  malformed or truncated line, see error_at; nothing of it was added
 * PERF_EINVAL   the line is coarser than `into` (fewer digits than its bits); nothing added
 * PERF_ERANGE   a counter of `into` would overflow; nothing added
 * After an error the next call goes on with the next line.  Uses about 36 KB of stack.            */
PERF_FN perf_status perf_hlog_next(perf_hlog_reader *r, perf_hlog_interval *iv, perf_hist *into);

/* >>text: for plotters and spreadsheets ---------------------------------------------------------- */

/* The percentile distribution that HdrHistogram's plotters read.  unit: values per printed unit,
 * e.g. 1000 prints ns as us; steps: lines for each halving of the distance to 100 %, 0 -> 5.      */
PERF_FN size_t perf_hist_write_percentiles(char *out, size_t cap, const perf_hist *h, double unit,
                                           int steps);

/* lower,upper,count,cumulative,fraction: a line for each occupied bucket. */
PERF_FN size_t perf_hist_write_csv(char *out, size_t cap, const perf_hist *h);

/* >>binary: our own form, little-endian, checksummed --------------------------------------------- */

/* Bytes: magic "PHST", version, bits, counter size, 0, highest, ~minimum, maximum, sum, zeros, over,
 * invalid, lost (64 bits each), payload size, CRC-32 of all but itself (32 bits each); then for each
 * occupied bucket two LEB128 numbers: buckets skipped, count.  Buckets are numbered as in
 * HdrHistogram, whatever form the histogram had.
 * Returns the bytes needed; nothing is written if that is more than cap.  0: h is NULL.           */
PERF_FN size_t perf_hist_save(void *out, size_t cap, const perf_hist *h);

/* Options of a caller-owned histogram that holds all of a saved one.  PERF_EFORMAT: not one. */
PERF_FN perf_status perf_hist_saved_opts(const void *data, size_t size, perf_hist_opts *o);

/* into += saved.  `error_at` (may be NULL) gets the byte offset of what was wrong.  Statuses as for
 * perf_hist_merge, and PERF_EFORMAT; after any error `into` is as it was.                         */
PERF_FN perf_status perf_hist_load(perf_hist *into, const void *data, size_t size,
                                   size_t *error_at);

/* >>private: bodies, in the order of the prototypes ---------------------------------------------- */

PERF_FN perf_out_ perf_out_open_(char *out, size_t cap)
{
    perf_out_ o = PERF_ZERO;

    o.p = out;
    o.cap = out ? cap : 0;
    if (o.cap)
        *out = '\0';
    return o;
}

/* ---- hlog: written ---- */

/* Bytes into memory that may be too small: len goes on counting. */
typedef struct perf_bytes_ {
    unsigned char *p;
    size_t         len, cap;
} perf_bytes_;

PERF_FN unsigned char *perf_put_be_(unsigned char *p, uint64_t v, int bytes)
{
    while (bytes-- > 0)
        *p++ = PERF_CAST_(unsigned char, v >> (8 * bytes) & 255);
    return p;
}

/* ZigZag, then 7 bits a byte; the ninth byte is whole. */
PERF_FN void perf_put_zigzag_(perf_bytes_ *o, int64_t x)
{
    uint64_t v = PERF_CAST_(uint64_t, x) << 1 ^ (x < 0 ? UINT64_MAX : 0);
    int      n;

    for (n = 0; n < 8 && v >> 7; n++, v >>= 7, o->len++)
        if (o->len < o->cap)
            o->p[o->len] = PERF_CAST_(unsigned char, (v & 127) | 128);
    if (o->len < o->cap)
        o->p[o->len] = PERF_CAST_(unsigned char, v);
    o->len++;
}

/* HdrHistogram counts at most 2^63 - 1. */
PERF_FN int64_t perf_hlog_count_(uint64_t n)
{
    return n >> 63 ? INT64_MAX : PERF_CAST_(int64_t, n);
}

/* Bucket `index` of HdrHistogram's holds n values; *next is the one after the last so written. */
PERF_FN void perf_hlog_put_(perf_bytes_ *o, uint64_t *next, uint64_t index, uint64_t n)
{
    if (index > *next)
        perf_put_zigzag_(o, index - *next == 1 ? 0 : 0 - perf_hlog_count_(index - *next));
    perf_put_zigzag_(o, perf_hlog_count_(n));
    *next = index + 1;
}

/* All counts: a number, or minus the length of a run of empty buckets.  Our buckets are those of
 * HdrHistogram when the bits agree; else several of ours share one of theirs and are added up.    */
PERF_FN void perf_hlog_counts_(perf_bytes_ *o, const perf_hist *h, unsigned bits)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h), to = s;
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         next = 0, index = 0, held = 0, at, v, width;

    to.bits = bits;
    to.compact = 1;
    if (s.bits == bits && perf_hist_over(h) == 0) {
        size_t i, end = perf_hist_touched_(h, &s, &i);
        if (perf_hist_peek_(h)->zeros)
            perf_hlog_put_(o, &next, 0, perf_hist_peek_(h)->zeros);
        for (; i < end; i++) {
            uint64_t n = perf_hist_cell_(h, &s, i);
            if (n == 0) {                       /* a long gap is crossed by vectors                */
                if (i % 8 == 0 && i + 64 < end && perf_hist_sum_cells_(h, &s, i, 64) == 0)
                    i += 63;
                continue;
            }
            at = s.compact ? i : perf_hist_index_(&to, perf_hist_lower_(&s, i, &width));
            perf_hlog_put_(o, &next, at, n);
        }
        return;
    }
    while (perf_hist_next(h, &b)) {
        v = b.lower > s.highest ? b.upper       /* above the range: at the maximum                 */
                                : b.lower + (b.upper - b.lower) / 2;
        at = v ? perf_hist_index_(&to, v) : 0;
        if (at != index && held) {
            perf_hlog_put_(o, &next, index, held);
            held = 0;
        }
        index = at;
        held += b.count;
    }
    if (held)
        perf_hlog_put_(o, &next, index, held);
}

/* zlib's checksum; 5552 bytes cannot overflow 32 bits. */
PERF_FN uint32_t perf_adler32_(const unsigned char *p, size_t n)
{
    uint32_t a = 1, b = 0;

    while (n) {
        size_t part = n < 5552 ? n : 5552;
        n -= part;
        while (part--) {
            a += *p++;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}

/* n bytes to base64 at out.  They may be in the same memory, their end at the end of the text. */
PERF_FN void perf_base64_(char *out, const unsigned char *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t          v;

    for (; n >= 3; n -= 3, p += 3, out += 4) {
        v = PERF_CAST_(uint32_t, p[0]) << 16 | PERF_CAST_(uint32_t, p[1]) << 8 | p[2];
        out[0] = digit[v >> 18];
        out[1] = digit[v >> 12 & 63];
        out[2] = digit[v >> 6 & 63];
        out[3] = digit[v & 63];
    }
    if (n == 0)
        return;
    v = PERF_CAST_(uint32_t, p[0]) << 16;
    if (n == 2)
        v |= PERF_CAST_(uint32_t, p[1]) << 8;
    out[0] = digit[v >> 18];
    out[1] = digit[v >> 12 & 63];
    out[2] = n == 2 ? digit[v >> 6 & 63] : '=';
    out[3] = '=';
}

PERF_FN size_t perf_hlog_write_header(char *out, size_t cap, const char *comment,
                                      double start_seconds)
{
    perf_out_ o = perf_out_open_(out, cap);

    if (comment) {
        perf_put_(&o, "#[");
        perf_put_(&o, comment);
        perf_put_(&o, "]\n");
    }
    perf_put_(&o, "#[Histogram log format version 1.3]\n#[StartTime: ");
    perf_put_fixed_(&o, start_seconds, 3);
    perf_put_(&o, " (seconds since epoch)]\n");
    perf_put_(&o, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                  "\"Interval_Compressed_Histogram\"\n");
    return o.len;
}

/* The start of the line up to the histogram. */
PERF_FN void perf_hlog_fields_(perf_out_ *o, const perf_hist *h, const perf_hlog_interval *iv)
{
    double max = perf_hist_max(h);
    size_t i, n;

    if (iv->tag) {
        perf_put_(o, "Tag=");
        n = iv->tag_size ? iv->tag_size : strlen(iv->tag);
        for (i = 0; i < n; i++) {               /* what would end the field becomes an underscore  */
            char c = iv->tag[i];
            perf_put_char_(o, c == ',' || c == ' ' || PERF_CAST_(unsigned char, c) < 32 ? '_' : c);
        }
        perf_put_char_(o, ',');
    }
    perf_put_fixed_(o, iv->start_seconds, 3);
    perf_put_char_(o, ',');
    perf_put_fixed_(o, iv->length_seconds, 3);
    perf_put_char_(o, ',');
    perf_put_fixed_(o, max < 0.0 ? 0.0 : max / (iv->max_unit > 0.0 ? iv->max_unit : 1e6), 3);
    perf_put_char_(o, ',');
}

#define PERF_HLOG_FRONT_ 50u        /* bytes before the counts: 8 cookie and size, 2 zlib, 40 header  */

/* The counts are written into `out` once, moved to the end of the room that their base64 takes, and
 * given what goes before, between and after them; then they become text, front to back.           */
PERF_FN size_t perf_hlog_write(char *out, size_t cap, const perf_hist *h,
                               const perf_hlog_interval *iv, int digits)
{
    static const unsigned char bits_of_digits[4] = {0, 4, 7, 10};
    perf_out_      o;
    perf_bytes_    counts = PERF_ZERO;
    unsigned char *p;
    uint64_t       highest;
    size_t         content, blocks, raw, line, i;
    uint32_t       adler;

    if (!h || !iv || digits < 1 || digits > 3)
        return 0;
    o = perf_out_open_(out, cap);
    perf_hlog_fields_(&o, h, iv);
    if (o.len + PERF_HLOG_FRONT_ < o.cap) {
        counts.p = PERF_PTR_(unsigned char *, out) + o.len + PERF_HLOG_FRONT_;
        counts.cap = o.cap - o.len - PERF_HLOG_FRONT_;
    }
    perf_hlog_counts_(&counts, h, bits_of_digits[digits]);
    content = 40 + counts.len;
    blocks = (content + 65534) / 65535;
    raw = 10 + content + 5 * blocks + 4;
    line = o.len + (raw + 2) / 3 * 4 + 1;
    if (line >= o.cap) {
        (void)perf_out_open_(out, cap);
        return line;
    }
    p = PERF_PTR_(unsigned char *, out) + (line - 1 - raw);     /* where the bytes will stand      */
    memmove(p + PERF_HLOG_FRONT_, counts.p, counts.len);
    highest = perf_hist_shape_of_(h).highest;
    if (perf_hist_peek_(h)->max > highest)
        highest = perf_hist_peek_(h)->max;
    (void)perf_put_be_(p, UINT32_C(0x1c849314), 4);             /* V2, compressed                  */
    (void)perf_put_be_(p + 4, raw - 8, 4);
    (void)perf_put_be_(p + 8, 0x7801, 2);
    (void)perf_put_be_(p + 10, UINT32_C(0x1c849313), 4);        /* V2, plain                       */
    (void)perf_put_be_(p + 14, counts.len, 4);
    (void)perf_put_be_(p + 18, 0, 4);                           /* index offset                    */
    (void)perf_put_be_(p + 22, PERF_CAST_(uint64_t, digits), 4);
    (void)perf_put_be_(p + 26, 1, 8);
    (void)perf_put_be_(p + 34, highest, 8);
    (void)perf_put_be_(p + 42, perf_bits_(1.0), 8);
    adler = perf_adler32_(p + 10, content);
    for (i = blocks; i-- > 0;) {                                /* stored blocks, the last first   */
        size_t         size = i + 1 < blocks ? 65535 : content - 65535 * i;
        unsigned char *block = p + 10 + (65535 + 5) * i;
        memmove(block + 5, p + 10 + 65535 * i, size);
        block[0] = i + 1 == blocks;
        block[1] = PERF_CAST_(unsigned char, size & 255);
        block[2] = PERF_CAST_(unsigned char, size >> 8);
        block[3] = PERF_CAST_(unsigned char, ~size & 255);
        block[4] = PERF_CAST_(unsigned char, ~size >> 8 & 255);
    }
    (void)perf_put_be_(p + raw - 4, adler, 4);
    perf_base64_(out + o.len, p, raw);
    out[line - 1] = '\n';
    out[line] = '\0';
    return line;
}

/* ---- hlog: read ---- */

/* A line's bytes as they come out of base64 and inflate, one at a time.  Sized by the format: a
 * match may reach 32768 bytes back.  Everything is checked before it is used.                    */
typedef struct perf_huffman_ {
    uint16_t count[16];             /* codes of each length                                       */
    uint16_t symbol[288];           /* symbols in the order of their codes                        */
} perf_huffman_;

enum { PERF_INFLATE_BLOCK_, PERF_INFLATE_STORED_, PERF_INFLATE_CODES_, PERF_INFLATE_END_ };

typedef struct perf_hlog_source_ {
    const char   *text;             /* base64 of this line: [at, end) of it is to come            */
    size_t        at, end;
    uint32_t      six;              /* bits from base64 not yet handed on                         */
    int           six_bits;
    uint64_t      limit;            /* compressed bytes to come, by the length that the line says */
    uint32_t      bits;             /* of the compressed stream, not yet used                     */
    int           bit_count;
    int           mode, last, bad;
    uint32_t      stored;           /* bytes left in a stored block                               */
    uint32_t      copy, distance;   /* bytes left in a match                                      */
    uint32_t      written;          /* modulo 2^32                                                */
    uint32_t      history;          /* bytes that a match may reach back, up to 32768             */
    uint32_t      a, b;             /* Adler-32 of what came out                                  */
    perf_huffman_ literal, distant;
    unsigned char window[32768];
} perf_hlog_source_;

PERF_FN int perf_base64_value_(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Next byte of the base64 text; -1: no more, or not base64. */
PERF_FN int perf_hlog_get_(perf_hlog_source_ *s)
{
    while (s->six_bits < 8) {
        int v = s->at < s->end ? perf_base64_value_(s->text[s->at]) : -1;
        if (v < 0) {
            s->bad = 1;
            return -1;
        }
        s->at++;
        s->six = s->six << 6 | PERF_CAST_(uint32_t, v);
        s->six_bits += 6;
    }
    s->six_bits -= 8;
    return PERF_CAST_(int, s->six >> s->six_bits & 255);
}

PERF_FN uint64_t perf_hlog_get_be_(perf_hlog_source_ *s, int (*next)(perf_hlog_source_ *), int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0) {
        int byte = next(s);
        if (byte < 0) {
            s->bad = 1;
            return 0;
        }
        v = v << 8 | PERF_CAST_(uint64_t, byte);
    }
    return v;
}

/* Up to 32 bits ahead, as far as the stream goes. */
PERF_FN void perf_inflate_fill_(perf_hlog_source_ *s)
{
    while (s->bit_count <= 24 && s->limit) {
        int byte = perf_hlog_get_(s);
        if (byte < 0)
            return;
        s->limit--;
        s->bits |= PERF_CAST_(uint32_t, byte) << s->bit_count;
        s->bit_count += 8;
    }
}

/* n <= 15 bits of the compressed stream; 0 and bad at its end. */
PERF_FN unsigned perf_inflate_bits_(perf_hlog_source_ *s, int n)
{
    unsigned v;

    if (s->bit_count < n)
        perf_inflate_fill_(s);
    if (s->bit_count < n) {
        s->bad = 1;
        return 0;
    }
    v = s->bits & ((1u << n) - 1);
    s->bits >>= n;
    s->bit_count -= n;
    return v;
}

/* Skips to the next whole byte of the stream. */
PERF_FN void perf_inflate_align_(perf_hlog_source_ *s)
{
    s->bits >>= s->bit_count % 8;
    s->bit_count -= s->bit_count % 8;
}

/* Codes from their lengths.  0: too many codes for the lengths, or (unless it is the single code
 * that deflate allows) too few.                                                                  */
PERF_FN int perf_huffman_make_(perf_huffman_ *h, const unsigned char *lengths, unsigned n)
{
    uint16_t first[16];
    unsigned i;
    int      room = 1;

    memset(h, 0, sizeof *h);
    for (i = 0; i < n; i++)
        h->count[lengths[i]]++;
    h->count[0] = 0;
    first[1] = 0;
    for (i = 1; i < 16; i++) {
        room = 2 * room - h->count[i];
        if (room < 0)
            return 0;
        if (i < 15)
            first[i + 1] = PERF_CAST_(uint16_t, first[i] + h->count[i]);
    }
    for (i = 0; i < n; i++)
        if (lengths[i])
            h->symbol[first[lengths[i]]++] = PERF_CAST_(uint16_t, i);
    return room == 0 || (h->count[1] == 1 && room == 1 << 14);
}

/* Canonical codes: those of one length are consecutive numbers. */
PERF_FN unsigned perf_huffman_symbol_(perf_hlog_source_ *s, const perf_huffman_ *h)
{
    unsigned code = 0, first = 0, index = 0;
    uint32_t bits;
    int      length;

    if (s->bit_count < 15)
        perf_inflate_fill_(s);
    bits = s->bits;
    for (length = 1; length < 16 && length <= s->bit_count; length++, bits >>= 1) {
        unsigned n = h->count[length];
        code |= bits & 1;
        if (code - first < n) {
            s->bits >>= length;
            s->bit_count -= length;
            return h->symbol[index + (code - first)];
        }
        index += n;
        first = (first + n) << 1;
        code <<= 1;
    }
    s->bad = 1;
    return 0;
}

/* The two tables of a block: type 1 has fixed ones, type 2 sends their lengths, coded themselves. */
PERF_FN void perf_inflate_tables_(perf_hlog_source_ *s, unsigned type)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[320];
    unsigned      i, literals = 288, distances = 30, lengths_coded;

    memset(lengths, 0, sizeof lengths);
    if (type == 1) {
        for (i = 0; i < 288; i++)
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        for (i = 0; i < 30; i++)
            lengths[288 + i] = 5;
        (void)perf_huffman_make_(&s->literal, lengths, 288);
        (void)perf_huffman_make_(&s->distant, lengths + 288, 30);   /* two codes are never used    */
        return;
    }
    literals = perf_inflate_bits_(s, 5) + 257;
    distances = perf_inflate_bits_(s, 5) + 1;
    lengths_coded = perf_inflate_bits_(s, 4) + 4;
    for (i = 0; i < lengths_coded; i++)
        lengths[order[i]] = PERF_CAST_(unsigned char, perf_inflate_bits_(s, 3));
    if (s->bad || literals > 286 || distances > 30 || !perf_huffman_make_(&s->literal, lengths, 19)) {
        s->bad = 1;
        return;
    }
    memset(lengths, 0, sizeof lengths);
    for (i = 0; i < literals + distances && !s->bad;) {
        unsigned      symbol = perf_huffman_symbol_(s, &s->literal), times = 1;
        unsigned char value = PERF_CAST_(unsigned char, symbol);
        if (symbol == 16) {
            times = 3 + perf_inflate_bits_(s, 2);
            value = i ? lengths[i - 1] : 255;
        } else if (symbol > 16) {
            times = symbol == 17 ? 3 + perf_inflate_bits_(s, 3) : 11 + perf_inflate_bits_(s, 7);
            value = 0;
        }
        if (s->bad || value > 15 || times > literals + distances - i) {
            s->bad = 1;
            return;
        }
        while (times--)
            lengths[i++] = value;
    }
    if (s->bad || lengths[256] == 0 || !perf_huffman_make_(&s->literal, lengths, literals)) {
        s->bad = 1;
        return;
    }
    /* No distance code at all is allowed: the block then has only literals. */
    if (!perf_huffman_make_(&s->distant, lengths + literals, distances)) {
        for (i = 0; i < distances; i++)
            if (lengths[literals + i])
                s->bad = 1;
    }
}

PERF_FN void perf_inflate_block_(perf_hlog_source_ *s)
{
    unsigned type, check;

    if (s->last) {
        uint32_t adler;
        perf_inflate_align_(s);
        adler = perf_inflate_bits_(s, 8) << 8;
        adler = (adler | perf_inflate_bits_(s, 8)) << 8;
        adler = (adler | perf_inflate_bits_(s, 8)) << 8;
        adler |= perf_inflate_bits_(s, 8);
        if (adler != (s->b << 16 | s->a) || s->limit || s->bit_count)
            s->bad = 1;
        s->mode = PERF_INFLATE_END_;
        return;
    }
    s->last = PERF_CAST_(int, perf_inflate_bits_(s, 1));
    type = perf_inflate_bits_(s, 2);
    if (s->bad)
        return;
    if (type == 0) {
        perf_inflate_align_(s);
        s->stored = perf_inflate_bits_(s, 8);
        s->stored |= perf_inflate_bits_(s, 8) << 8;
        check = perf_inflate_bits_(s, 8);
        check |= perf_inflate_bits_(s, 8) << 8;
        if (s->stored != (~check & 0xffff))
            s->bad = 1;
        s->mode = PERF_INFLATE_STORED_;
    } else if (type == 3) {
        s->bad = 1;
    } else {
        perf_inflate_tables_(s, type);
        s->mode = PERF_INFLATE_CODES_;
    }
}

/* A length symbol has been read: reads the rest of the match. */
PERF_FN void perf_inflate_match_(perf_hlog_source_ *s, unsigned symbol)
{
    unsigned length = symbol - 257, distance;
    int      extra;

    if (length > 28) {
        s->bad = 1;
        return;
    }
    /* Lengths 3..10 have a symbol each, then every four symbols take one more bit; 258 has its own. */
    extra = length < 8 || length == 28 ? 0 : PERF_CAST_(int, length / 4) - 1;
    s->copy = length == 28 ? 258
              : length < 8 ? length + 3
                           : ((4 + length % 4) << extra) + 3;
    s->copy += perf_inflate_bits_(s, extra);
    distance = perf_huffman_symbol_(s, &s->distant);
    if (s->bad || distance > 29) {
        s->bad = 1;
        return;
    }
    extra = distance < 4 ? 0 : PERF_CAST_(int, distance / 2) - 1;
    s->distance = (distance < 4 ? distance : (2 + distance % 2) << extra) + 1;
    s->distance += perf_inflate_bits_(s, extra);
    if (s->distance > s->history)
        s->bad = 1;
}

/* Next byte of the inflated content; -1: its end (mode END) or bad. */
PERF_FN int perf_hlog_inflated_(perf_hlog_source_ *s)
{
    unsigned byte = 256;

    while (byte > 255) {
        if (s->bad || s->mode == PERF_INFLATE_END_)
            return -1;
        if (s->copy) {
            s->copy--;
            byte = s->window[(s->written - s->distance) & 32767];
        } else if (s->mode == PERF_INFLATE_BLOCK_) {
            perf_inflate_block_(s);
        } else if (s->mode == PERF_INFLATE_STORED_) {
            if (s->stored == 0) {
                s->mode = PERF_INFLATE_BLOCK_;
                continue;
            }
            s->stored--;
            byte = perf_inflate_bits_(s, 8);
        } else {
            unsigned symbol = perf_huffman_symbol_(s, &s->literal);
            if (symbol < 256)
                byte = symbol;
            else if (symbol == 256)
                s->mode = PERF_INFLATE_BLOCK_;
            else
                perf_inflate_match_(s, symbol);
        }
        if (s->bad)
            return -1;
    }
    s->window[s->written++ & 32767] = PERF_CAST_(unsigned char, byte);
    s->history += s->history < 32768;
    s->a += byte;
    s->a -= s->a >= 65521 ? 65521 : 0;
    s->b += s->a;
    s->b -= s->b >= 65521 ? 65521 : 0;
    return PERF_CAST_(int, byte);
}

/* What a line's values go to, in passes: check everything; add; take back the first `steps`. */
typedef struct perf_hlog_target_ {
    perf_hist       *into;          /* NULL: only check                                            */
    perf_hist_shape_ shape;
    int              minus;
    uint64_t         steps;         /* buckets to add or take back at most                         */
    uint64_t         done;          /* buckets so far                                              */
    uint64_t         count, sum, min, max;
    uint64_t         top, low;      /* last value of the first bucket, first value of the last     */
    unsigned         bits, unit;    /* of the line's histogram: bucket layout                      */
    uint64_t         length;        /* how many counts it can have                                 */
} perf_hlog_target_;

/* Bucket `index` of the line holds n values.  0: that cannot be. */
PERF_FN int perf_hlog_take_(perf_hlog_target_ *t, uint64_t index, uint64_t n)
{
    perf_hist_shape_ from = PERF_ZERO;
    uint64_t         width, lower, v;

    from.bits = t->bits;
    from.compact = 1;
    if (index >= t->length || n >> 63 || (t->count + n) >> 63)
        return 0;
    lower = perf_hist_lower_(&from, PERF_CAST_(size_t, index), &width);
    lower <<= t->unit;
    width <<= t->unit;
    v = lower + width / 2;                      /* where HdrHistogram takes the bucket to be       */
    if (t->into) {
        if (t->done == t->steps || !perf_hist_bump_(t->into, &t->shape, v, n, t->minus))
            return 0;
        t->done++;
    }
    if (t->count == 0) {
        t->min = lower;
        t->top = lower + width - 1;
    }
    t->low = lower;
    t->max = lower + width - 1;
    t->count += n;
    t->sum += v * n;
    return 1;
}

/* V2: signed numbers of 7 bits a byte, a negative one is a run of empty buckets. */
PERF_FN int perf_hlog_zigzag_(perf_hlog_source_ *s, uint64_t *left, int64_t *x)
{
    uint64_t v = 0;
    int      shift, byte;

    for (shift = 0; shift <= 56; shift += 7) {
        byte = *left ? perf_hlog_inflated_(s) : -1;
        if (byte < 0)
            return 0;
        --*left;
        if (shift == 56) {
            v |= PERF_CAST_(uint64_t, byte) << 56;
            break;
        }
        v |= PERF_CAST_(uint64_t, byte & 127) << shift;
        if (byte < 128)
            break;
    }
    *x = PERF_CAST_(int64_t, v >> 1);
    if (v & 1)
        *x = -1 - *x;
    return 1;
}

/* How many counts HdrHistogram keeps for these settings. */
PERF_FN uint64_t perf_hlog_length_(unsigned bits, unsigned unit, uint64_t highest)
{
    uint64_t beyond = UINT64_C(2) << (bits + unit), buckets = 1;

    while (beyond <= highest) {
        buckets++;
        if (beyond >> 62)
            break;
        beyond <<= 1;
    }
    return (buckets + 1) << bits;
}

/* One pass over the line's histogram.  False: malformed, s->at tells where (or, in an adding pass,
 * a counter did not fit after t->done buckets).                                                  */
PERF_FN int perf_hlog_pass_(perf_hlog_source_ *s, perf_hlog_target_ *t, perf_hlog_interval *iv)
{
    static const unsigned char bits_of_digits[6] = {0, 4, 7, 10, 14, 17};
    uint32_t cookie, packed;
    uint64_t left, digits, lowest, highest, index = 0;
    int      version, word, head;

    cookie = PERF_CAST_(uint32_t, perf_hlog_get_be_(s, perf_hlog_get_, 4));
    packed = PERF_CAST_(uint32_t, perf_hlog_get_be_(s, perf_hlog_get_, 4));
    s->limit = packed;
    if (s->bad || packed >> 31)
        return 0;
    switch (cookie & UINT32_C(0xffffff0f)) {
    case UINT32_C(0x1c849309): version = 0; break;
    case UINT32_C(0x1c849302): version = 1; break;
    case UINT32_C(0x1c849304): version = 2; break;
    default: return 0;
    }
    head = perf_hlog_get_(s);                           /* zlib: deflate, no dictionary            */
    word = perf_hlog_get_(s);
    if (s->bad || s->limit < 2 || (head & 15) != 8 || (head * 256 + word) % 31 || word & 32)
        return 0;
    s->limit -= 2;
    cookie = PERF_CAST_(uint32_t, perf_hlog_get_be_(s, perf_hlog_inflated_, 4));
    word = PERF_CAST_(int, cookie >> 4 & 14);
    left = UINT64_MAX;
    iv->ratio = 1.0;
    if (version == 0) {
        if ((cookie & UINT32_C(0xffffff0f)) != UINT32_C(0x1c849308))
            return 0;
        digits = perf_hlog_get_be_(s, perf_hlog_inflated_, 4);
        lowest = perf_hlog_get_be_(s, perf_hlog_inflated_, 8);
        highest = perf_hlog_get_be_(s, perf_hlog_inflated_, 8);
        (void)perf_hlog_get_be_(s, perf_hlog_inflated_, 8);     /* total: we count ourselves       */
    } else {
        if ((cookie & UINT32_C(0xffffff0f)) !=
            (version == 1 ? UINT32_C(0x1c849301) : UINT32_C(0x1c849303)))
            return 0;
        left = perf_hlog_get_be_(s, perf_hlog_inflated_, 4);
        (void)perf_hlog_get_be_(s, perf_hlog_inflated_, 4);     /* counts are in order anyway      */
        digits = perf_hlog_get_be_(s, perf_hlog_inflated_, 4);
        lowest = perf_hlog_get_be_(s, perf_hlog_inflated_, 8);
        highest = perf_hlog_get_be_(s, perf_hlog_inflated_, 8);
        iv->ratio = perf_from_bits_(perf_hlog_get_be_(s, perf_hlog_inflated_, 8));
    }
    if (s->bad || digits > 5 || lowest == 0 || highest >> 63 || lowest > highest / 2 || left >> 31 == 1)
        return 0;
    if (version < 2 && word != 2 && word != 4 && word != 8)
        return 0;
    t->bits = bits_of_digits[digits];
    t->unit = perf_top_bit_(lowest);
    if (t->unit + t->bits > 60)
        return 0;
    t->length = perf_hlog_length_(t->bits, t->unit, highest);
    iv->version = version;
    iv->digits = PERF_CAST_(int, digits);
    while (left) {
        if (version == 2) {
            int64_t x;
            if (!perf_hlog_zigzag_(s, &left, &x))
                return 0;
            if (x < 0) {
                if (PERF_CAST_(uint64_t, -(x + 1)) + 1 > t->length - index)
                    return 0;
                index += PERF_CAST_(uint64_t, -(x + 1)) + 1;
                continue;
            }
            if (index >= t->length || (x && !perf_hlog_take_(t, index, PERF_CAST_(uint64_t, x))))
                return 0;
            index++;
        } else {
            uint64_t n;
            int      byte = perf_hlog_inflated_(s);
            if (byte < 0 && !s->bad && left == UINT64_MAX)
                break;                                  /* V0 has no length: to the end            */
            if (byte < 0 || (left != UINT64_MAX && left < PERF_CAST_(uint64_t, word)))
                return 0;
            n = PERF_CAST_(uint64_t, byte) << (8 * (word - 1)) |
                perf_hlog_get_be_(s, perf_hlog_inflated_, word - 1);
            if (s->bad || index >= t->length || (n && !perf_hlog_take_(t, index, n)))
                return 0;
            index++;
            left -= left == UINT64_MAX ? 0 : PERF_CAST_(uint64_t, word);
        }
    }
    if (perf_hlog_inflated_(s) >= 0 || s->bad)          /* reads the checksum as well              */
        return 0;
    while (s->at < s->end && s->text[s->at] == '=')
        s->at++;
    return s->at == s->end;
}

/* A plain decimal number at text[*at]; 0: there is none. */
PERF_FN int perf_hlog_number_(const char *text, size_t *at, size_t end, double *x)
{
    double   scale = 1.0;
    uint64_t digits = 0, n = 0;
    int      minus = 0, point = 0;

    while (*at < end && (text[*at] == ' ' || text[*at] == '\t'))
        ++*at;
    if (*at < end && (text[*at] == '-' || text[*at] == '+'))
        minus = text[(*at)++] == '-';
    for (; *at < end && ((text[*at] >= '0' && text[*at] <= '9') || (text[*at] == '.' && !point));
         ++*at) {
        if (text[*at] == '.') {
            point = 1;
            continue;
        }
        n++;
        if (digits < UINT64_C(100000000000000000)) {
            digits = digits * 10 + PERF_CAST_(uint64_t, text[*at] - '0');
            scale *= point ? 10.0 : 1.0;
        } else if (!point) {
            scale /= 10.0;
        }
    }
    *x = PERF_CAST_(double, digits) / scale;
    if (minus)
        *x = -*x;
    return n > 0;
}

PERF_FN int perf_hlog_prefix_(const char *text, size_t at, size_t end, const char *prefix)
{
    size_t n = strlen(prefix);

    return end - at >= n && memcmp(text + at, prefix, n) == 0;
}

PERF_FN void perf_hlog_open_(perf_hlog_source_ *s, const perf_hlog_reader *r, size_t at, size_t end)
{
    memset(s, 0, offsetof(perf_hlog_source_, window));
    s->text = r->text;
    s->at = at;
    s->end = end;
    s->a = 1;
}

/* The fields of a line and its histogram; r->error_at is set when the answer is not PERF_OK. */
PERF_FN perf_status perf_hlog_line_(perf_hlog_reader *r, size_t at, size_t end,
                                    perf_hlog_interval *iv, perf_hist *into)
{
    perf_hlog_source_ s;
    perf_hlog_target_ t = PERF_ZERO;
    double           *field[3];
    perf_hist_head_  *d;
    size_t            tag = at;
    int               i;

    field[0] = &iv->start_seconds;
    field[1] = &iv->length_seconds;
    field[2] = &iv->max;
    r->error_at = at;
    if (perf_hlog_prefix_(r->text, at, end, "Tag=")) {
        tag = at + 4;
        while (at < end && r->text[at] != ',')
            at++;
        iv->tag = r->text + tag;
        iv->tag_size = at - tag;
        at += at < end;
    }
    for (i = 0; i < 3; i++) {
        r->error_at = at;
        if (!perf_hlog_number_(r->text, &at, end, field[i]))
            return PERF_EFORMAT;
        while (at < end && r->text[at] == ' ')
            at++;
        r->error_at = at;
        if (at == end || r->text[at++] != ',')
            return PERF_EFORMAT;
    }
    while (at < end && r->text[at] == ' ')
        at++;
    perf_hlog_open_(&s, r, at, end);
    if (!perf_hlog_pass_(&s, &t, iv)) {                 /* first only look: all of it or nothing   */
        r->error_at = s.at;
        return PERF_EFORMAT;
    }
    iv->count = t.count;
    r->error_at = at;
    if (!into || t.count == 0)
        return PERF_OK;
    t.shape = perf_hist_shape_of_(into);
    if (t.shape.bits > t.bits)
        return PERF_EINVAL;
    t.into = into;
    t.steps = UINT64_MAX;
    t.count = t.sum = 0;
    perf_hlog_open_(&s, r, at, end);
    if (!perf_hlog_pass_(&s, &t, iv)) {
        t.steps = t.done;                               /* take back what fitted                   */
        t.count = t.done = 0;
        t.minus = 1;
        perf_hlog_open_(&s, r, at, end);
        (void)perf_hlog_pass_(&s, &t, iv);
        return PERF_ERANGE;
    }
    d = perf_hist_at_(into);
    d->sum += t.sum;
    d->not_min = ~t.min > d->not_min ? ~t.min : d->not_min;
    d->max = t.max > d->max ? t.max : d->max;
    return PERF_OK;
}

PERF_FN perf_status perf_hlog_next(perf_hlog_reader *r, perf_hlog_interval *iv, perf_hist *into)
{
    perf_hlog_interval none = PERF_ZERO;

    if (!r || !iv || (!r->text && r->size))
        return PERF_EINVAL;
    while (r->at < r->size) {
        size_t at = r->at, end, number;
        for (end = at; end < r->size && r->text[end] != '\n'; end++)
            continue;
        r->at = end < r->size ? end + 1 : end;
        while (end > at && (r->text[end - 1] == '\r' || r->text[end - 1] == ' '))
            end--;
        if (at == end || r->text[at] == '"')
            continue;
        if (r->text[at] == '#') {
            number = at + 12;
            if (perf_hlog_prefix_(r->text, at, end, "#[StartTime:"))
                (void)perf_hlog_number_(r->text, &number, end, &r->start_seconds);
            number = at + 11;
            if (perf_hlog_prefix_(r->text, at, end, "#[BaseTime:"))
                (void)perf_hlog_number_(r->text, &number, end, &r->base_seconds);
            continue;
        }
        *iv = none;
        iv->offset = at;
        return perf_hlog_line_(r, at, end, iv, into);
    }
    return PERF_ENODATA;
}

/* ---- text ---- */

/* x with its decimals (0..12), right-justified in `width`. */
PERF_FN void perf_put_column_(perf_out_ *o, double x, int decimals, size_t width)
{
    char      buf[64];
    perf_out_ cell = PERF_ZERO;
    size_t    i;

    cell.p = buf;
    cell.cap = sizeof buf;
    if (decimals <= 9) {
        perf_put_fixed_(&cell, x, decimals);
    } else {                                            /* a fraction of 1, to 12 digits           */
        uint64_t v = PERF_CAST_(uint64_t, x * 1e12 + 0.5), tenth;
        perf_put_u64_(&cell, v / UINT64_C(1000000000000));
        perf_put_char_(&cell, '.');
        for (tenth = UINT64_C(100000000000); tenth; tenth /= 10)
            perf_put_char_(&cell, PERF_CAST_(char, '0' + PERF_CAST_(int, v / tenth % 10)));
    }
    for (i = cell.len; i < width; i++)
        perf_put_char_(o, ' ');
    perf_put_(o, buf);
}

PERF_FN void perf_put_percentile_(perf_out_ *o, double value, double percent, uint64_t below)
{
    perf_put_column_(o, value, 3, 12);
    perf_put_char_(o, ' ');
    perf_put_column_(o, percent / 100.0, 12, 14);
    perf_put_char_(o, ' ');
    perf_put_column_(o, PERF_CAST_(double, below), 0, 10);
    if (percent < 100.0) {
        perf_put_char_(o, ' ');
        perf_put_column_(o, 100.0 / (100.0 - percent), 2, 14);
    }
    perf_put_char_(o, '\n');
}

PERF_FN size_t perf_hist_write_percentiles(char *out, size_t cap, const perf_hist *h, double unit,
                                           int steps)
{
    perf_out_        o = perf_out_open_(out, cap);
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         total = perf_hist_count(h), most;
    double           level = 0.0, n = PERF_CAST_(double, total);

    if (!(unit > 0.0))
        unit = 1.0;
    steps = steps > 0 ? steps : 5;
    most = h ? perf_hist_peek_(h)->max : 0;
    perf_put_(&o, "       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    while (total && perf_hist_next(h, &b)) {
        double value = PERF_CAST_(double, b.upper < most ? b.upper : most) / unit;
        double reached = 100.0 * PERF_CAST_(double, b.below + b.count) / n;
        while (b.below + b.count < total && reached >= level) {
            /* Each halving of the distance to 100 % is walked in as many steps. */
            int halvings = PERF_CAST_(int, perf_bits_(100.0 / (100.0 - level)) >> 52) - 1023;
            perf_put_percentile_(&o, value, level, b.below + b.count);
            level += 100.0 / (steps * PERF_CAST_(double, UINT64_C(2) << (halvings < 60 ? halvings : 60)));
        }
        if (b.below + b.count == total)
            perf_put_percentile_(&o, value, 100.0, total);
    }
    perf_put_(&o, "#[Mean    = ");
    perf_put_column_(&o, total ? perf_hist_mean(h) / unit : 0.0, 3, 12);
    perf_put_(&o, ", StdDeviation   = ");
    perf_put_column_(&o, total ? perf_hist_std(h) / unit : 0.0, 3, 12);
    perf_put_(&o, "]\n#[Max     = ");
    perf_put_column_(&o, total ? perf_hist_max(h) / unit : 0.0, 3, 12);
    perf_put_(&o, ", Total count    = ");
    perf_put_column_(&o, n, 0, 12);
    perf_put_(&o, "]\n#[Buckets = ");
    perf_put_column_(&o, h ? PERF_CAST_(double, perf_top_bit_(perf_hist_shape_of_(h).highest)) -
                                 perf_hist_shape_of_(h).bits + 1.0 : 0.0, 0, 12);
    perf_put_(&o, ", SubBuckets     = ");
    perf_put_column_(&o, h ? PERF_CAST_(double, UINT64_C(2) << perf_hist_shape_of_(h).bits) : 0.0, 0,
                     12);
    perf_put_(&o, "]\n");
    return o.len;
}

PERF_FN size_t perf_hist_write_csv(char *out, size_t cap, const perf_hist *h)
{
    perf_out_        o = perf_out_open_(out, cap);
    perf_hist_bucket b = PERF_ZERO;
    double           n = PERF_CAST_(double, perf_hist_count(h));

    perf_put_(&o, "lower,upper,count,cumulative,fraction\n");
    while (perf_hist_next(h, &b)) {
        perf_put_u64_(&o, b.lower);
        perf_put_char_(&o, ',');
        perf_put_u64_(&o, b.upper);
        perf_put_char_(&o, ',');
        perf_put_u64_(&o, b.count);
        perf_put_char_(&o, ',');
        perf_put_u64_(&o, b.below + b.count);
        perf_put_char_(&o, ',');
        perf_put_fixed_(&o, PERF_CAST_(double, b.below + b.count) / n, 9);
        perf_put_char_(&o, '\n');
    }
    return o.len;
}

/* ---- binary ---- */

#define PERF_SAVED_HEAD_ 80         /* bytes before the buckets                                   */

/* CRC-32 as in zip and PNG, four bits at a time. */
PERF_FN uint32_t perf_crc32_(uint32_t crc, const unsigned char *p, size_t n)
{
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
        0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
        0xa00ae278, 0xbdbdf21c};

    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return ~crc;
}

PERF_FN void perf_put_le_(unsigned char *p, uint64_t v, int bytes)
{
    int i;

    for (i = 0; i < bytes; i++)
        p[i] = PERF_CAST_(unsigned char, v >> (8 * i) & 255);
}

PERF_FN uint64_t perf_get_le_(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | p[bytes];
    return v;
}

PERF_FN size_t perf_put_leb_(unsigned char *p, uint64_t v)      /* p NULL: only the size          */
{
    size_t n = 1;

    for (; v >> 7; v >>= 7, n++)
        if (p)
            p[n - 1] = PERF_CAST_(unsigned char, (v & 127) | 128);
    if (p)
        p[n - 1] = PERF_CAST_(unsigned char, v);
    return n;
}

/* The buckets of h, as pairs of numbers of compact buckets skipped and count; returns the size. */
PERF_FN size_t perf_hist_save_buckets_(unsigned char *p, const perf_hist *h)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h), c = s;
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         next = 0;
    size_t           n = 0;

    c.compact = 1;
    while (perf_hist_next(h, &b)) {
        if (b.lower && b.lower <= s.highest) {          /* zeros and over have their own places    */
            uint64_t i = perf_hist_index_(&c, b.lower);
            n += perf_put_leb_(p ? p + n : p, i - next);
            n += perf_put_leb_(p ? p + n : p, b.count);
            next = i + 1;
        }
    }
    return n;
}

PERF_FN size_t perf_hist_save(void *out, size_t cap, const perf_hist *h)
{
    const perf_hist_head_ *d = perf_hist_peek_(h);
    unsigned char         *p = PERF_CAST_(unsigned char *, out);
    perf_hist_shape_       s;
    size_t                 payload;

    if (!h)
        return 0;
    s = perf_hist_shape_of_(h);
    payload = perf_hist_save_buckets_(PERF_CAST_(unsigned char *, PERF_NULL_), h);
    if (!out || cap < PERF_SAVED_HEAD_ + payload)
        return PERF_SAVED_HEAD_ + payload;
    memcpy(p, "PHST", 4);
    p[4] = 1;
    p[5] = PERF_CAST_(unsigned char, s.bits);
    p[6] = PERF_CAST_(unsigned char, s.bytes);
    p[7] = 0;
    perf_put_le_(p + 8, s.highest, 8);
    perf_put_le_(p + 16, d->not_min, 8);
    perf_put_le_(p + 24, d->max, 8);
    perf_put_le_(p + 32, perf_hist_kept_sum_(h), 8);
    perf_put_le_(p + 40, d->zeros, 8);
    perf_put_le_(p + 48, d->over, 8);
    perf_put_le_(p + 56, d->invalid, 8);
    perf_put_le_(p + 64, d->lost, 8);
    perf_put_le_(p + 72, payload, 4);
    (void)perf_hist_save_buckets_(p + PERF_SAVED_HEAD_, h);
    perf_put_le_(p + 76, perf_crc32_(perf_crc32_(0, p, 76), p + PERF_SAVED_HEAD_, payload), 4);
    return PERF_SAVED_HEAD_ + payload;
}

/* PERF_EFORMAT and where, unless the frame is whole and its checksum right. */
PERF_FN perf_status perf_hist_saved_frame_(const unsigned char *p, size_t size, size_t *error_at)
{
    size_t payload;

    *error_at = 0;
    if (!p || size < 4 || memcmp(p, "PHST", 4))
        return PERF_EFORMAT;
    *error_at = size;
    if (size < PERF_SAVED_HEAD_)
        return PERF_EFORMAT;
    *error_at = 4;
    if (p[4] != 1)
        return PERF_EFORMAT;
    *error_at = 5;
    if (p[5] < 1 || p[5] > 14 || (p[6] != 4 && p[6] != 8) || p[7])
        return PERF_EFORMAT;
    *error_at = 8;
    if (perf_get_le_(p + 8, 8) < 2 || p[15] >> 7 || p[31] >> 7)
        return PERF_EFORMAT;
    payload = PERF_CAST_(size_t, perf_get_le_(p + 72, 4));
    *error_at = size;
    if (size - PERF_SAVED_HEAD_ < payload)
        return PERF_EFORMAT;
    *error_at = 76;
    if (perf_get_le_(p + 76, 4) !=
        perf_crc32_(perf_crc32_(0, p, 76), p + PERF_SAVED_HEAD_, payload))
        return PERF_EFORMAT;
    return PERF_OK;
}

PERF_FN perf_status perf_hist_saved_opts(const void *data, size_t size, perf_hist_opts *o)
{
    const unsigned char *p = PERF_CAST_(const unsigned char *, data);
    size_t               error_at;
    perf_status          st = o ? perf_hist_saved_frame_(p, size, &error_at) : PERF_EINVAL;

    if (st == PERF_OK) {
        o->bits = p[5];
        o->counter_bytes = p[6];
        o->highest = perf_get_le_(p + 8, 8);
    }
    return st;
}

/* One pass over the buckets, as over a line of a log: check, add, or take back the first steps. */
PERF_FN int perf_hist_load_pass_(const unsigned char *p, size_t size, size_t *at,
                                 perf_hlog_target_ *t)
{
    uint64_t index = 0, number[2];
    int      k, shift;

    *at = PERF_SAVED_HEAD_;
    while (*at < size) {
        for (k = 0; k < 2; k++) {
            number[k] = 0;
            for (shift = 0;; shift += 7) {
                unsigned byte;
                if (*at == size || shift > 56)
                    return 0;
                byte = p[(*at)++];
                number[k] |= PERF_CAST_(uint64_t, byte & 127) << shift;
                if (byte < 128)
                    break;
            }
        }
        if (number[0] > t->length - index || number[1] == 0 ||
            !perf_hlog_take_(t, index + number[0], number[1]))
            return 0;
        index += number[0] + 1;
    }
    return 1;
}

PERF_FN perf_status perf_hist_load(perf_hist *into, const void *data, size_t size, size_t *error_at)
{
    const unsigned char *p = PERF_CAST_(const unsigned char *, data);
    perf_hlog_target_    t = PERF_ZERO;
    perf_hist_head_     *d = perf_hist_at_(into);
    perf_hist_shape_     from = PERF_ZERO, mine;
    uint64_t             rest[4], not_min, max;
    size_t               at = 0;
    perf_status          st;
    int                  i;

    if (!error_at)
        error_at = &at;
    *error_at = 0;
    if (!into)
        return PERF_EINVAL;
    st = perf_hist_saved_frame_(p, size, error_at);
    if (st != PERF_OK)
        return st;
    size = PERF_SAVED_HEAD_ + PERF_CAST_(size_t, perf_get_le_(p + 72, 4));
    from.bits = p[5];
    from.compact = 1;
    from.highest = perf_get_le_(p + 8, 8);
    t.bits = from.bits;
    t.length = perf_hist_index_(&from, from.highest) + 1;
    if (!perf_hist_load_pass_(p, size, error_at, &t))
        return PERF_EFORMAT;
    not_min = perf_get_le_(p + 16, 8);
    max = perf_get_le_(p + 24, 8);
    for (i = 0; i < 4; i++) {                           /* zeros, over, invalid, lost              */
        rest[i] = perf_get_le_(p + 40 + 8 * i, 8);
        *error_at = PERF_CAST_(size_t, 40 + 8 * i);
        if (rest[i] >> 62)
            return PERF_EFORMAT;
    }
    /* The extremes must reach as far as the buckets do. */
    *error_at = 16;
    if (t.count + rest[0] + rest[1] == 0 ? (not_min | max) != 0 : ~not_min > max)
        return PERF_EFORMAT;
    if ((rest[0] && ~not_min != 0) || (t.count && (~not_min > t.top || max < t.low)))
        return PERF_EFORMAT;
    mine = perf_hist_shape_of_(into);
    if (mine.bits > from.bits)
        return PERF_EINVAL;
    for (i = 0; i < 2; i++)
        if (((i ? d->over : d->zeros) + rest[i]) >> 63)
            return PERF_ERANGE;
    t.into = into;
    t.shape = mine;
    t.steps = UINT64_MAX;
    t.count = t.sum = 0;
    if (!perf_hist_load_pass_(p, size, error_at, &t)) {
        t.steps = t.done;
        t.count = t.done = 0;
        t.minus = 1;
        (void)perf_hist_load_pass_(p, size, error_at, &t);
        return PERF_ERANGE;
    }
    d->zeros += rest[0];
    d->over += rest[1];
    d->invalid += rest[2];
    d->lost += rest[3];
    d->sum += perf_get_le_(p + 32, 8);
    d->not_min = not_min > d->not_min ? not_min : d->not_min;
    d->max = max > d->max ? max : d->max;
    *error_at = 0;
    return PERF_OK;
}

PERF_END_DECLS

/* MIT License
 *
 * Copyright (c) 2026 The perf.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
#endif /* PERF_EXPORT_H */
