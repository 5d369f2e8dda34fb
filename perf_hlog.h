/* perf_hlog.h - histograms as text that other tools and people read.
 *
 *     static char        line[65536];                           // a line of an .hlog file
 *     static perf_hist   latency;
 *     perf_hlog_interval second = PERF_ZERO;
 *     second.length_seconds = 1.0;
 *     if (perf_hlog_text(line, sizeof line, &latency, &second, 0) < sizeof line)
 *         fputs(line, stdout);                                  // HdrHistogram's tools read it
 *
 * HdrHistogram logs in and out; percentile tables, CSV, OpenTelemetry, Prometheus and bars out.
 * Optional: only files that save, load or show histograms include it, beside perf_hist.h.
 * Needs no zlib: deflate and inflate are in here.  No file is opened, nothing is allocated; text
 * goes to and comes from memory that you own.
 * Sections (search for ">>"):  hlog  text  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_HLOG_H
#define PERF_HLOG_H

#include "perf_hist.h"

PERF_BEGIN_DECLS

/* Writers return the number of characters that the whole text has, without the final NUL, as
 * snprintf does.  A result >= cap means that it did not fit: out then holds a cut text (or, for
 * perf_hlog_text, none).  out may be NULL with cap 0, to ask for the size.  Always terminated.
 * No writer emits an exponent, "nan" or "inf".                                                   */

/* >>hlog: HdrHistogram interval logs (.hlog), also the way to save and send a histogram -------- */

typedef struct perf_hlog_interval {
    double      start_seconds;      /* since the epoch, or since the start time of the log        */
    double      length_seconds;
    const char *tag;                /* NULL: none.  When read: in the log's text, tag_size long   */
    size_t      tag_size;           /* when written: 0 means strlen(tag)                          */
    double      max_unit;           /* written: values per printed unit, 0 -> 1e6 (ns to ms)      */
    /* read only */
    double      max;                /* as printed in the log                                      */
    double      ratio;              /* the histogram's integer-to-double conversion ratio: a      */
                                    /*   stored integer is so much (a double histogram: not 1)    */
    uint64_t    count;              /* values in this interval                                    */
    int         version;            /* of the encoding: 0, 1 or 2                                 */
    int         digits;             /* significant decimal digits of the histogram, 0..5          */
    size_t      offset;             /* of the line in the text                                    */
} perf_hlog_interval;

/* The lines that begin a log.  comment may be NULL; a line break in it becomes a space.
 * start_seconds: since the epoch.  0: it is not finite or beyond 1e15.                           */
PERF_FN size_t perf_hlog_header_text(char *out, size_t cap, const char *comment,
                                      double start_seconds);

/* One line with all values of h, V2 encoding.  digits 1, 2, 3 or 4 keep 4, 7, 10 or 14 bits; 0: as
 * many as h needs, so that reading it into its own form gives its counters back.  A histogram of
 * as many bits or more is written as HdrHistogram would have recorded it, a coarser one at the
 * midpoints of its buckets.  Values outside the range are written at the extremes; the unit is the
 * ratio.
 * Not kept: invalid, lost, exact sum and extremes.  Uses about 19 KB of stack.  0: bad argument, or
 * a number in iv that is not finite or beyond 1e15.                                              */
PERF_FN size_t perf_hlog_text(char *out, size_t cap, const perf_hist *h,
                               const perf_hlog_interval *iv, int digits);

/* Walks through a log in memory (`text` need not end with NUL, and is not copied):
 *     perf_hlog_reader r = PERF_ZERO;  r.text = text;  r.size = size;
 *     while ((st = perf_hlog_next(&r, &iv, &h)) != PERF_ENODATA) ...                             */
typedef struct perf_hlog_reader {
    const char *text;
    size_t      size;
    size_t      at;                 /* where the next line begins                                 */
    size_t      error_at;           /* byte offset of what was wrong, when a status says so       */
    double      start_seconds;      /* from #[StartTime: ...], 0 when there was none so far       */
    double      base_seconds;       /* from #[BaseTime: ...]                                      */
} perf_hlog_reader;

/* The next interval: its values are added to `into` (NULL: only checked).  V0, V1, V2 and the lines
 * of Java's double histograms.
 * PERF_OK       all of the line was added
 * PERF_ENODATA  end of the log
 * PERF_EFORMAT  malformed or truncated line, see error_at; nothing of it was added
 * PERF_EINVAL   the line is coarser than `into` (fewer digits than its bits), or `into` has a unit
 *               other than 1 and other than iv->ratio; nothing added
 * PERF_ERANGE   a counter or the count of `into` would overflow; nothing added
 * After an error the next call goes on with the next line.  Uses about 38 KB of stack.           */
PERF_FN perf_status perf_hlog_next(perf_hlog_reader *r, perf_hlog_interval *iv, perf_hist *into);

/* >>text: for plotters, collectors and terminals ----------------------------------------------- */

/* The percentile distribution that HdrHistogram's plotters read.  unit: values per printed unit,
 * e.g. 1000 prints ns as us (0, negative, not finite: 1); steps: lines for each halving of the
 * distance to 100 %, 0 -> 5.                                                                     */
PERF_FN size_t perf_hist_percentiles_text(char *out, size_t cap, const perf_hist *h, double unit,
                                           int steps);

/* lower,upper,count,cumulative,fraction: a line for each occupied bucket, in stored integers. */
PERF_FN size_t perf_hist_csv_text(char *out, size_t cap, const perf_hist *h);

/* Bars for a terminal: rows (0 -> 16, at most 64) of about equal ratio from the minimum to the
 * maximum, `columns` (0 -> 80, at least 48) wide; utf8 1 draws eighths of a character, 0 draws '#'.
 * A row that holds p50, p90, p99 or p99.9 says so.                                               */
PERF_FN size_t perf_hist_bars_text(char *out, size_t cap, const perf_hist *h, int rows,
                                   int columns, int utf8);

/* OpenTelemetry: an OTLP/JSON metrics request with one exponential histogram (cumulative since
 * start_ns, both times in ns since the epoch).  At most 160 buckets.  name, unit ("ns"): quoted and
 * escaped as JSON.  0: no name.                                                                  */
PERF_FN size_t perf_hist_otlp_text(char *out, size_t cap, const perf_hist *h, const char *name,
                                    const char *unit, uint64_t start_ns, uint64_t end_ns);

/* Prometheus: a native histogram as OpenMetrics text, with TYPE line and without "# EOF".  At most
 * 160 buckets.  0: `name` is no metric name ([a-zA-Z_:][a-zA-Z0-9_:]*).                          */
PERF_FN size_t perf_hist_prometheus_text(char *out, size_t cap, const perf_hist *h,
                                          const char *name);

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* A finite number in plain decimal digits, of which 15 count. */
PERF_FN void perf_put_plain_(perf_out_ *o, double x, int decimals)
{
    int zeros = 0;

    if (x < 1e15 && x > -1e15) {
        perf_put_fixed_(o, x, decimals);
        return;
    }
    if (x < 0.0) {
        perf_put_char_(o, '-');
        x = -x;
    }
    for (; x >= 1e15; zeros++)
        x /= 10.0;
    perf_put_u64_(o, PERF_CAST_(uint64_t, x + 0.5));
    while (zeros-- > 0)
        perf_put_char_(o, '0');
}

/* ---- hlog: written ----
 * The counts become HdrHistogram's V2 content in a buffer, the buffer deflate blocks without a
 * search for matches, and those base64.  What the buffer cannot hold is walked twice: the length of
 * the content stands before it.                                                                  */

#define PERF_ZIP_SYMBOLS_ 257       /* 256 bytes, end of block                                    */
#define PERF_ZIP_END_     256
#define PERF_ZIP_LONGEST_ 13        /* bits of a code                                             */
#define PERF_ZIP_BLOCK_   ((1u << PERF_ZIP_LONGEST_) - 1)   /* bytes: with the end 2^13 symbols   */
#define PERF_ZIP_FRONT_   40        /* bytes before the counts                                    */

typedef struct perf_zip_ {
    size_t        n, total;         /* bytes in the buffer, and those that have left it           */
    int           writing;          /* 0: what leaves the buffer is only counted                  */
    uint32_t      adler;
    uint64_t      acc;              /* written, not yet base64                                    */
    unsigned      acc_bits;
    char         *out;              /* the line; [at] is next, nothing is written from `cap` on   */
    size_t        at, cap;
    uint32_t      frequency[PERF_ZIP_SYMBOLS_];
    uint32_t      code[PERF_ZIP_SYMBOLS_];      /* first bit lowest; from bit 16 on its length    */
    unsigned char bits[PERF_ZIP_SYMBOLS_];
    unsigned char content[2 * PERF_ZIP_BLOCK_];
} perf_zip_;

/* zlib's checksum; 5552 bytes cannot overflow 32 bits. */
PERF_FN uint32_t perf_adler32_(uint32_t adler, const unsigned char *p, size_t n)
{
    uint32_t a = adler & 65535, b = adler >> 16;

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

/* Three bytes, the first one lowest, as base64. */
PERF_FN void perf_base64_(char *out, uint64_t v)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    out[0] = digit[v >> 2 & 63];
    out[1] = digit[(v & 3) << 4 | (v >> 12 & 15)];
    out[2] = digit[(v >> 8 & 15) << 2 | (v >> 22 & 3)];
    out[3] = digit[v >> 16 & 63];
}

/* At most 32 bits, the lowest first. */
PERF_FN void perf_zip_bits_(perf_zip_ *z, uint64_t v, unsigned n)
{
    z->acc |= v << z->acc_bits;
    for (z->acc_bits += n; z->acc_bits >= 24; z->acc_bits -= 24, z->acc >>= 24, z->at += 4)
        if (z->at + 4 < z->cap)
            perf_base64_(z->out + z->at, z->acc);
}

PERF_FN void perf_zip_be_(perf_zip_ *z, uint64_t v, int bytes)
{
    while (bytes-- > 0)
        perf_zip_bits_(z, v >> (8 * bytes) & 255, 8);
}

/* The lowest `bits` of v, at most 16, in reverse. */
PERF_FN unsigned perf_reversed_(unsigned v, unsigned bits)
{
    v = (v & 0x5555) << 1 | (v >> 1 & 0x5555);
    v = (v & 0x3333) << 2 | (v >> 2 & 0x3333);
    v = (v & 0x0f0f) << 4 | (v >> 4 & 0x0f0f);
    return ((v & 0x00ff) << 8 | v >> 8) >> (16 - bits);
}

/* A block with deflate's fixed codes (RFC 1951, 3.2.6): 8 bits below 144, then 9.  Here runs of a
 * byte pay, as matches at distance 1: the front has many zeros.                                  */
PERF_FN void perf_zip_fixed_(perf_zip_ *z, const unsigned char *p, size_t n)
{
    size_t i, run;

    for (i = 0; i < n; i += 1 + run) {
        unsigned bits = p[i] < 144 ? 8 : 9;
        perf_zip_bits_(z, perf_reversed_(p[i] + (p[i] < 144 ? 0x30u : 0x100u), bits), bits);
        for (run = 0; run < 10 && i + 1 + run < n && p[i + 1 + run] == p[i];)
            run++;
        run = run < 3 ? 0 : run;
        if (run)                                /* lengths 3 to 10 are 257 to 264, of 7 bits      */
            perf_zip_bits_(z, perf_reversed_(PERF_CAST_(unsigned, run) - 2, 7), 7 + 5);
    }
    perf_zip_bits_(z, 0, 7);                    /* end of block                                   */
}

/* Lengths of codes for the symbols of a block, and the bits that it then takes.  A symbol of n in
 * `total` gets log2(total / n) bits, rounded up (Shannon).  The room that leaves shortens codes,
 * those first that were rounded up most.  Within 3 % of Huffman's lengths, without a sort.       */
PERF_FN size_t perf_zip_lengths_(perf_zip_ *z, uint32_t total)
{
    unsigned i, length, quarters, room = 1u << PERF_ZIP_LONGEST_, top = perf_top_bit_(total);
    size_t   size = 0;

    for (i = 0; i < PERF_ZIP_SYMBOLS_; i++) {
        z->bits[i] = 0;
        if (!z->frequency[i])
            continue;
        length = top - perf_top_bit_(z->frequency[i]);
        length += z->frequency[i] << length < total;
        z->bits[i] = PERF_CAST_(unsigned char, length);
        room -= 1u << (PERF_ZIP_LONGEST_ - length);
    }
    for (quarters = 7; room; quarters -= quarters > 0)
        for (i = 0; i < PERF_ZIP_SYMBOLS_ && room; i++) {
            unsigned more = 1u << (PERF_ZIP_LONGEST_ - z->bits[i]);
            if (more <= room && z->bits[i] > 1 &&
                4 * (z->frequency[i] << z->bits[i]) >= quarters * total) {
                z->bits[i]--;
                room -= more;
            }
        }
    for (i = 0; i < PERF_ZIP_SYMBOLS_; i++)
        size += z->frequency[i] * z->bits[i];
    return size;
}

/* Canonical codes from their lengths. */
PERF_FN void perf_zip_codes_(perf_zip_ *z)
{
    unsigned next[16], count[16], i, code = 0;

    memset(count, 0, sizeof count);
    for (i = 0; i < PERF_ZIP_SYMBOLS_; i++)
        count[z->bits[i]]++;
    count[0] = 0;
    for (i = 1; i < 16; i++)
        next[i] = code = (code + count[i - 1]) << 1;
    for (i = 0; i < PERF_ZIP_SYMBOLS_; i++)
        if (z->bits[i])
            z->code[i] = perf_reversed_(next[z->bits[i]]++, z->bits[i]) |
                         PERF_CAST_(uint32_t, z->bits[i]) << 16;
}

/* One code length of a table, or a run of absent symbols: sixteen symbols of four bits each. */
PERF_FN size_t perf_zip_length_(perf_zip_ *z, unsigned symbol, unsigned extra, unsigned extra_bits,
                                int write)
{
    unsigned code = symbol < 14 ? symbol : symbol - 3;      /* 17 and 18 follow 13                */

    code = (code & 1) << 3 | (code & 2) << 1 | (code & 4) >> 1 | code >> 3;
    if (write)
        perf_zip_bits_(z, code | extra << 4, 4 + extra_bits);
    return 4 + extra_bits;
}

/* The table of a block's codes; returns its bits.  Code lengths of code lengths: four bits for 0 to
 * 13 and both runs of zeros, in the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1.           */
PERF_FN size_t perf_zip_table_(perf_zip_ *z, int write)
{
    size_t   size = 14 + 18 * 3;
    unsigned i, run;

    if (write) {
        perf_zip_bits_(z, (PERF_ZIP_SYMBOLS_ - 257u) | (18u - 4) << 10, 14);
        for (i = 0; i < 18; i++)
            perf_zip_bits_(z, i == 0 || i == 16 ? 0u : 4u, 3);
    }
    for (i = 0; i < PERF_ZIP_SYMBOLS_; i += run) {
        for (run = 0; i + run < PERF_ZIP_SYMBOLS_ && run < 138 && !z->bits[i + run]; run++)
            continue;
        size += run >= 11  ? perf_zip_length_(z, 18, run - 11, 7, write)
                : run >= 3 ? perf_zip_length_(z, 17, run - 3, 3, write)
                           : perf_zip_length_(z, z->bits[i], 0, 0, write);
        run = run >= 3 ? run : 1;
    }
    return size + perf_zip_length_(z, 1, 0, 0, write);      /* one code for distances, not used   */
}

/* A block with codes of its own.  The state is in locals, so that no code waits for the store of
 * the one before; three codes and what is left over fit the word.                                */
PERF_FN void perf_zip_coded_(perf_zip_ *z, const unsigned char *p, size_t n)
{
    uint64_t acc;
    unsigned bits, k;
    size_t   i, at;

    perf_zip_codes_(z);
    (void)perf_zip_table_(z, 1);
    acc = z->acc;
    bits = z->acc_bits;
    at = z->at;
    for (i = 0; i < n; i += 3) {
        for (k = 0; k < 3 && i + k < n; k++) {
            uint32_t code = z->code[p[i + k]];
            acc |= PERF_CAST_(uint64_t, code & 0xffff) << bits;
            bits += code >> 16;
        }
        for (; bits >= 24; bits -= 24, acc >>= 24, at += 4)
            if (at + 4 < z->cap)
                perf_base64_(z->out + at, acc);
    }
    z->acc = acc;
    z->acc_bits = bits;
    z->at = at;
    perf_zip_bits_(z, z->code[PERF_ZIP_END_] & 0xffff, z->code[PERF_ZIP_END_] >> 16);
}

/* A block, in the codes that make it shorter.  A short one is not worth the search. */
PERF_FN void perf_zip_block_(perf_zip_ *z, const unsigned char *p, size_t n, int last)
{
    size_t plain = 7, i;
    int    coded = n > 128;

    if (coded) {
        memset(z->frequency, 0, sizeof z->frequency);
        z->frequency[PERF_ZIP_END_] = 1;
        for (i = 0; i < n; i++)
            z->frequency[p[i]]++;
        for (i = 0; i < 256; i++)
            plain += z->frequency[i] * (i < 144 ? 8u : 9u);
        coded = perf_zip_lengths_(z, PERF_CAST_(uint32_t, n) + 1) + perf_zip_table_(z, 0) < plain;
    }
    perf_zip_bits_(z, (last ? 1u : 0u) | (coded ? 4u : 2u), 3);
    if (coded)
        perf_zip_coded_(z, p, n);
    else
        perf_zip_fixed_(z, p, n);
    z->adler = perf_adler32_(z->adler, p, n);
}

/* Empties the buffer. */
PERF_FN void perf_zip_flush_(perf_zip_ *z, int last)
{
    size_t i, n;

    for (i = 0; z->writing && i < z->n; i += n) {
        n = z->n - i < PERF_ZIP_BLOCK_ ? z->n - i : PERF_ZIP_BLOCK_;
        perf_zip_block_(z, z->content + i, n, last && i + n == z->n);
    }
    z->total += z->n;
    z->n = 0;
}

/* 7 bits a byte; the ninth byte is whole. */
PERF_FN void perf_zip_number_(perf_zip_ *z, uint64_t v)
{
    unsigned char *p = z->content + z->n;
    int            i;

    if (v < 1u << 14) {                         /* one byte or two is random: so, no branch       */
        p[0] = PERF_CAST_(unsigned char, (v & 127) | (v > 127 ? 128u : 0u));
        p[1] = PERF_CAST_(unsigned char, v >> 7);
        z->n += v > 127 ? 2 : 1;
        return;
    }
    for (i = 0; i < 8 && v >> 7; i++, v >>= 7)
        p[i] = PERF_CAST_(unsigned char, (v & 127) | 128);
    p[i] = PERF_CAST_(unsigned char, v);
    z->n += PERF_CAST_(size_t, i) + 1;
}

/* Bucket `index` of HdrHistogram's holds n values; *next is the one after the last so written.
 * Numbers are ZigZag: n is 2n, a run of k empty buckets 2k - 1, a single one 0.                  */
PERF_FN void perf_hlog_put_(perf_zip_ *z, uint64_t *next, uint64_t index, uint64_t n)
{
    if (z->n > sizeof z->content - 18)
        perf_zip_flush_(z, 0);
    if (index > *next)
        perf_zip_number_(z, index - *next == 1 ? 0 : 2 * (index - *next) - 1);
    *next = index + 1;
    perf_zip_number_(z, 2 * (n >> 63 ? UINT64_MAX >> 1 : n));
}

/* All counts.  Our buckets are those of HdrHistogram when the bits agree; else several of ours
 * share one of theirs and are added up.                                                          */
PERF_FN void perf_hlog_counts_(perf_zip_ *z, const perf_hist *h, unsigned bits)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h), to = s;
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         next = 0, index = 0, held = 0, at, v, width;

    to.bits = bits;
    to.compact = 1;
    to.first = 0;
    if (s.bits == bits && perf_hist_over(h) == 0 && (s.first == 0 || perf_hist_under(h) == 0)) {
        size_t i, end = perf_hist_touched_(h, &s, &i);
        if (perf_hist_under(h))
            perf_hlog_put_(z, &next, 0, perf_hist_under(h));
        while ((i = perf_hist_occupied_(h, &s, i, end)) < end) {
            at = s.compact ? i + s.first : perf_hist_index_(&to, perf_hist_lower_(&s, i, &width));
            perf_hlog_put_(z, &next, at, perf_hist_cell_(h, &s, i++));
        }
    } else {
        while (perf_hist_next(h, &b)) {
            v = b.lower > s.highest ? b.upper   /* outside the range: at the extremes             */
                : b.lower < s.lowest ? b.lower : b.lower + (b.upper - b.lower) / 2;
            at = v ? perf_hist_index_(&to, v) : 0;
            if (at != index && held) {
                perf_hlog_put_(z, &next, index, held);
                held = 0;
            }
            index = at;
            held += b.count;
        }
        if (held)
            perf_hlog_put_(z, &next, index, held);
    }
    if (next == 0)                              /* HdrHistogram_c wants one count even so         */
        perf_hlog_put_(z, &next, 0, 0);
}

/* What stands before the counts. */
PERF_FN void perf_hlog_front_(perf_zip_ *z, const perf_hist *h, int digits, size_t payload)
{
    uint64_t highest = perf_hist_shape_of_(h).highest, most = perf_hist_peek_(h)->max;
    uint64_t word[PERF_ZIP_FRONT_ / 8];
    int      i;

    word[0] = UINT64_C(0x1c849313) << 32 | payload;             /* V2, plain                      */
    word[1] = PERF_CAST_(uint64_t, digits);                     /* after the index offset         */
    word[2] = 1;
    word[3] = most > highest ? most : highest;
    word[4] = perf_bits_(perf_hist_unit_(h));
    for (i = 0; i < PERF_ZIP_FRONT_; i++)
        z->content[i] = PERF_CAST_(unsigned char, word[i / 8] >> (56 - i % 8 * 8) & 255);
}

PERF_FN int perf_hlog_seconds_ok_(double x)
{
    return x < 1e15 && x > -1e15;               /* not NaN either                                 */
}

PERF_FN size_t perf_hlog_header_text(char *out, size_t cap, const char *comment,
                                      double start_seconds)
{
    perf_out_ o = perf_out_open_(out, cap);

    if (!perf_hlog_seconds_ok_(start_seconds))
        return 0;
    if (comment) {
        perf_put_(&o, "#[");
        for (; *comment; comment++)
            perf_put_char_(&o, *comment == '\n' || *comment == '\r' ? ' ' : *comment);
        perf_put_(&o, "]\n");
    }
    perf_put_(&o, "#[Histogram log format version 1.3]\n#[StartTime: ");
    perf_put_fixed_(&o, start_seconds, 3);
    perf_put_(&o, " (seconds since epoch)]\n");
    perf_put_(&o, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                  "\"Interval_Compressed_Histogram\"\n");
    return o.len;
}

/* The start of the line up to the histogram.  0: a number that no reader would take. */
PERF_FN int perf_hlog_fields_(perf_out_ *o, const perf_hist *h, const perf_hlog_interval *iv)
{
    double max = perf_hist_max(h) / (iv->max_unit > 0.0 ? iv->max_unit : 1e6);
    size_t i, n;

    if (max < 0.0)
        max = 0.0;
    if (!perf_hlog_seconds_ok_(iv->start_seconds) || !perf_hlog_seconds_ok_(iv->length_seconds) ||
        !perf_hlog_seconds_ok_(max))
        return 0;
    if (iv->tag) {
        perf_put_(o, "Tag=");
        n = iv->tag_size ? iv->tag_size : strlen(iv->tag);
        for (i = 0; i < n; i++) {               /* what would end the field becomes an underscore */
            char c = iv->tag[i];
            perf_put_char_(o, c == ',' || c == ' ' || PERF_CAST_(unsigned char, c) < 32 ? '_' : c);
        }
        perf_put_char_(o, ',');
    }
    perf_put_fixed_(o, iv->start_seconds, 3);
    perf_put_char_(o, ',');
    perf_put_fixed_(o, iv->length_seconds, 3);
    perf_put_char_(o, ',');
    perf_put_fixed_(o, max, 3);
    perf_put_char_(o, ',');
    return 1;
}

PERF_FN size_t perf_hlog_text(char *out, size_t cap, const perf_hist *h,
                               const perf_hlog_interval *iv, int digits)
{
    static const unsigned char bits_of_digits[5] = {0, 4, 7, 10, 14};
    perf_out_ o = perf_out_open_(out, cap);
    perf_zip_ z;
    size_t    head, line, packed;

    if (!h || !iv || digits < 0 || digits > 4)
        return 0;
    if (digits == 0)
        for (digits = 1; bits_of_digits[digits] < perf_hist_shape_of_(h).bits; digits++)
            continue;
    if (!perf_hlog_fields_(&o, h, iv)) {
        (void)perf_out_open_(out, cap);
        return 0;
    }
    head = o.len;
    memset(&z, 0, offsetof(perf_zip_, content));
    z.n = PERF_ZIP_FRONT_;
    perf_hlog_counts_(&z, h, bits_of_digits[digits]);
    z.out = out;
    z.cap = o.cap;
    z.at = head + 12;                           /* the first nine bytes, with the length, go last */
    z.adler = 1;
    z.writing = 1;
    perf_zip_bits_(&z, 1, 8);                   /* the second byte of zlib's head                 */
    perf_hlog_front_(&z, h, digits, z.total + z.n - PERF_ZIP_FRONT_);
    if (z.total) {                              /* more than the buffer holds: once more          */
        z.n = PERF_ZIP_FRONT_;
        perf_hlog_counts_(&z, h, bits_of_digits[digits]);
    }
    perf_zip_flush_(&z, 1);
    perf_zip_bits_(&z, 0, (8 - z.acc_bits % 8) % 8);
    perf_zip_be_(&z, z.adler, 4);
    line = z.at + (z.acc_bits ? 4 : 0) + 1;
    if (line >= o.cap) {
        (void)perf_out_open_(out, cap);
        return line;
    }
    if (z.acc_bits) {
        perf_base64_(out + z.at, z.acc);
        memset(out + z.at + (z.acc_bits == 8 ? 2 : 3), '=', z.acc_bits == 8 ? 2 : 1);
    }
    packed = (z.at - head - 12) / 4 * 3 + z.acc_bits / 8 + 1;
    z.at = head;
    z.acc = z.acc_bits = 0;
    perf_zip_be_(&z, UINT64_C(0x1c849314) << 32 | packed, 8);   /* V2, compressed                 */
    perf_zip_bits_(&z, 0x78, 8);
    out[line - 1] = '\n';
    out[line] = '\0';
    return line;
}

/* ---- hlog: read ----
 * A line's bytes come out of base64 and inflate into a ring, some thousand at a time.  Sized by the
 * format: a match may reach 32768 bytes back.  Everything is checked before it is used.          */

#define PERF_RING_ 32768u

typedef struct perf_huffman_ {
    uint16_t fast[512];  /* by the next 9 bits: symbol and length of its code; 0: longer */
    uint16_t count[16];             /* codes of each length                                       */
    uint16_t symbol[288];           /* symbols in the order of their codes                        */
} perf_huffman_;

enum { PERF_INFLATE_BLOCK_, PERF_INFLATE_STORED_, PERF_INFLATE_CODES_, PERF_INFLATE_END_ };

typedef struct perf_hlog_source_ {
    const char   *text;             /* base64 of this line: [at, end) of it is to come            */
    size_t        at, end;
    uint64_t      bits;             /* bytes out of base64, the next bit lowest                   */
    unsigned      bit_count;
    int           mode, last, bad, fixed;   /* fixed: the tables hold the fixed codes             */
    uint32_t      stored;           /* bytes left in a stored block                               */
    uint32_t      copy, distance;   /* bytes left in a match                                      */
    uint64_t      written, read;    /* bytes that came out of inflate, and those taken            */
    uint32_t      adler;
    perf_huffman_ literal, distant;
    unsigned char ring[PERF_RING_];
} perf_hlog_source_;

PERF_FN unsigned perf_base64_value_(char c)
{
    static const unsigned char value['z' - '+' + 1] = {
        62, 64, 64, 64, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64,
        64, 64, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 64, 64, 26, 27, 28, 29, 30, 31,
        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51};

    return c >= '+' && c <= 'z' ? value[c - '+'] : 64;
}

/* Some 40 bits ahead, as far as the text goes.  Four characters give three bytes; the text is taken
 * in such groups from its start.                                                                 */
PERF_FN void perf_hlog_fill_(perf_hlog_source_ *s)
{
    while (s->bit_count <= 40 && s->at < s->end) {
        size_t   i, n = s->end - s->at < 4 ? s->end - s->at : 4;
        uint32_t v = 0;
        unsigned wrong = n == 1 ? 64 : 0;
        for (i = 0; i < 4; i++) {
            unsigned six = i < n ? perf_base64_value_(s->text[s->at + i]) : 0;
            wrong |= six;
            v = v << 6 | (six & 63);
        }
        if (wrong > 63) {
            s->bad = 1;
            return;
        }
        v = v >> 16 | (v & 0xff00) | (v & 255) << 16;
        s->bits |= PERF_CAST_(uint64_t, v) << s->bit_count;
        s->bit_count += PERF_CAST_(unsigned, 6 * n / 8 * 8);
        s->at += n;
    }
}

/* n <= 16 bits; 0 and bad at the end of the text. */
PERF_FN unsigned perf_inflate_bits_(perf_hlog_source_ *s, unsigned n)
{
    unsigned v;

    if (s->bit_count < n)
        perf_hlog_fill_(s);
    if (s->bit_count < n) {
        s->bad = 1;
        return 0;
    }
    v = PERF_CAST_(unsigned, s->bits & ((1u << n) - 1));
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

/* A big-endian number that is not compressed. */
PERF_FN uint64_t perf_hlog_raw_(perf_hlog_source_ *s, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | perf_inflate_bits_(s, 8);
    return v;
}

/* Codes from their lengths.  0: too many codes for the lengths, or (unless it is the single code
 * that deflate allows) too few.                                                                  */
PERF_FN int perf_huffman_make_(perf_huffman_ *h, const unsigned char *lengths, unsigned n)
{
    uint16_t first[16];
    unsigned i, k, code = 0, at = 0, length;
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
    for (length = 1; length <= 9; length++, code <<= 1)
        for (i = 0; i < h->count[length]; i++, code++) {
            for (k = perf_reversed_(code, length); k < 512; k += 1u << length)
                h->fast[k] = PERF_CAST_(uint16_t, h->symbol[at + i] * 16u | length);
            if (i + 1 == h->count[length])
                at += h->count[length];
        }
    return room == 0 || (h->count[1] == 1 && room == 1 << 14);
}

/* A code longer than 9 bits, or the last ones of the stream.  Canonical codes: those of one length
 * are consecutive numbers.                                                                       */
PERF_FN unsigned perf_huffman_long_(perf_hlog_source_ *s, const perf_huffman_ *h)
{
    unsigned code = 0, first = 0, index = 0, length;
    uint64_t bits = s->bits;

    for (length = 1; length < 16 && length <= s->bit_count; length++, bits >>= 1) {
        unsigned n = h->count[length];
        code |= PERF_CAST_(unsigned, bits & 1);
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

PERF_FN unsigned perf_huffman_symbol_(perf_hlog_source_ *s, const perf_huffman_ *h)
{
    unsigned fast;

    if (s->bit_count < 15)
        perf_hlog_fill_(s);
    fast = h->fast[s->bits & 511];
    if (fast == 0 || (fast & 15) > s->bit_count)
        return perf_huffman_long_(s, h);
    s->bits >>= fast & 15;
    s->bit_count -= fast & 15;
    return fast >> 4;
}

/* The two tables of a block: type 1 has fixed ones, type 2 sends coded lengths. */
PERF_FN void perf_inflate_tables_(perf_hlog_source_ *s, unsigned type)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[320];
    unsigned      i, literals = 288, distances = 30, lengths_coded;

    memset(lengths, 0, sizeof lengths);
    if (type == 1) {
        if (s->fixed)                           /* many small blocks must not cost a table each   */
            return;
        for (i = 0; i < 288; i++)
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        memset(lengths + 288, 5, 30);
        (void)perf_huffman_make_(&s->literal, lengths, 288);
        (void)perf_huffman_make_(&s->distant, lengths + 288, 30);   /* two codes are never used   */
        s->fixed = 1;
        return;
    }
    s->fixed = 0;
    literals = perf_inflate_bits_(s, 5) + 257;
    distances = perf_inflate_bits_(s, 5) + 1;
    lengths_coded = perf_inflate_bits_(s, 4) + 4;
    for (i = 0; i < lengths_coded; i++)
        lengths[order[i]] = PERF_CAST_(unsigned char, perf_inflate_bits_(s, 3));
    if (literals > 286 || distances > 30 || !perf_huffman_make_(&s->literal, lengths, 19))
        s->bad = 1;
    if (s->bad)
        return;
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

/* The start of a block, or the end of the stream. */
PERF_FN void perf_inflate_block_(perf_hlog_source_ *s)
{
    unsigned type;

    if (s->last) {
        perf_inflate_align_(s);
        s->mode = PERF_INFLATE_END_;
        return;
    }
    s->last = PERF_CAST_(int, perf_inflate_bits_(s, 1));
    type = perf_inflate_bits_(s, 2);
    if (s->bad)
        return;
    if (type == 0) {
        perf_inflate_align_(s);
        s->stored = perf_inflate_bits_(s, 16);
        if (s->stored != (~perf_inflate_bits_(s, 16) & 0xffff))
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
    unsigned length = symbol - 257, distance, extra;

    if (length > 28) {
        s->bad = 1;
        return;
    }
    /* Lengths 3..10 have a symbol each, then every four take one more bit; 258 has its own. */
    extra = length < 8 || length == 28 ? 0 : length / 4 - 1;
    s->copy = length == 28 ? 258 : length < 8 ? length + 3 : ((4 + length % 4) << extra) + 3;
    s->copy += perf_inflate_bits_(s, extra);
    distance = perf_huffman_symbol_(s, &s->distant);
    if (s->bad || distance > 29) {
        s->bad = 1;
        return;
    }
    extra = distance < 4 ? 0 : distance / 2 - 1;
    s->distance = (distance < 4 ? distance : (2 + distance % 2) << extra) + 1;
    s->distance += perf_inflate_bits_(s, extra);
    if (s->distance > s->written || s->distance > PERF_RING_)
        s->bad = 1;
}

/* Literals of a block, up to the next match or end of the block, or until `most` bytes are written.
 * The state is in locals, so that no byte waits for the store of the one before.                 */
PERF_FN void perf_inflate_literals_(perf_hlog_source_ *s, uint64_t most)
{
    uint64_t bits = s->bits, w = s->written;
    unsigned count = s->bit_count, fast;

    for (; w < most; w++) {
        if (count < 15) {
            s->bits = bits;
            s->bit_count = count;
            perf_hlog_fill_(s);
            bits = s->bits;
            count = s->bit_count;
        }
        fast = s->literal.fast[bits & 511];
        if (fast == 0 || fast >= 256 << 4 || (fast & 15) > count)
            break;
        bits >>= fast & 15;
        count -= fast & 15;
        s->ring[w % PERF_RING_] = PERF_CAST_(unsigned char, fast >> 4);
    }
    s->bits = bits;
    s->bit_count = count;
    s->written = w;
}

/* One step: some literals, a match, a block's start.  At most to `most`, which leaves what has not
 * been read in the ring.                                                                         */
PERF_FN void perf_inflate_step_(perf_hlog_source_ *s, uint64_t most)
{
    unsigned symbol;

    if (s->copy) {
        for (; s->copy && s->written < most; s->copy--, s->written++)
            s->ring[s->written % PERF_RING_] = s->ring[(s->written - s->distance) % PERF_RING_];
        return;
    }
    if (s->mode == PERF_INFLATE_BLOCK_) {
        perf_inflate_block_(s);
        return;
    }
    if (s->mode == PERF_INFLATE_STORED_) {
        for (; s->stored && s->written < most && !s->bad; s->stored--, s->written++)
            s->ring[s->written % PERF_RING_] = PERF_CAST_(unsigned char, perf_inflate_bits_(s, 8));
        if (s->stored == 0)
            s->mode = PERF_INFLATE_BLOCK_;
        return;
    }
    perf_inflate_literals_(s, most);
    if (s->written == most)
        return;
    symbol = perf_huffman_symbol_(s, &s->literal);
    if (symbol == 256)
        s->mode = PERF_INFLATE_BLOCK_;
    else if (symbol > 256)
        perf_inflate_match_(s, symbol);
    else if (!s->bad)
        s->ring[s->written++ % PERF_RING_] = PERF_CAST_(unsigned char, symbol);
}

/* More bytes in the ring; 0: there are none, at a right end or because the line is bad. */
PERF_FN int perf_inflate_more_(perf_hlog_source_ *s)
{
    uint64_t from = s->written, part;

    if (s->mode == PERF_INFLATE_END_ || s->bad)
        return 0;
    while (!s->bad && s->mode != PERF_INFLATE_END_ && s->written < from + 8192)
        perf_inflate_step_(s, from + 8192);
    for (; from < s->written && !s->bad; from += part) {
        part = PERF_RING_ - from % PERF_RING_;
        part = part < s->written - from ? part : s->written - from;
        s->adler = perf_adler32_(s->adler, s->ring + from % PERF_RING_, PERF_CAST_(size_t, part));
    }
    if (s->mode == PERF_INFLATE_END_ && !s->bad &&
        (perf_hlog_raw_(s, 4) != s->adler || s->bit_count || s->at < s->end))
        s->bad = 1;
    return s->written > s->read && !s->bad;
}

/* Next byte of the inflated content; -1: its end or bad. */
PERF_FN int perf_hlog_byte_(perf_hlog_source_ *s)
{
    if (s->read == s->written && !perf_inflate_more_(s))
        return -1;
    return s->ring[s->read++ % PERF_RING_];
}

PERF_FN uint64_t perf_hlog_get_be_(perf_hlog_source_ *s, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0) {
        int byte = perf_hlog_byte_(s);
        if (byte < 0)
            s->bad = 1;
        v = v << 8 | (PERF_CAST_(uint64_t, byte) & 255);
    }
    return v;
}

/* What a line's values go to: all steps, or in a second pass back out again the first ones. */
typedef struct perf_hlog_target_ {
    perf_hist       *into;          /* NULL: only check                                           */
    perf_hist_shape_ shape;         /* of into                                                    */
    perf_hist_shape_ from;          /* the line's: its bits                                       */
    unsigned         unit;          /* log2 of the line's smallest value                          */
    int              minus;
    uint64_t         steps;         /* buckets to add or take back at most                        */
    uint64_t         done;          /* buckets so far                                             */
    uint64_t         count, sum, min, max;
    uint64_t         length;        /* how many counts the line can have                          */
    uint64_t         start, stop;   /* indices in [start, stop) are counters of into less `skip`  */
    uint64_t         skip;
} perf_hlog_target_;

/* Where equal buckets have equal numbers but for a constant. */
PERF_FN void perf_hlog_aim_(perf_hlog_target_ *t)
{
    const perf_hist_shape_ *s = &t->shape;
    unsigned                k = s->bits;

    t->start = t->stop = 0;
    if (!t->into || k != t->from.bits || t->unit || s->bytes != 8)
        return;
    t->start = UINT64_C(1) << k;
    t->skip = s->compact ? s->first : 0 - (PERF_CAST_(uint64_t, k - 1) << k);
    if (s->compact && s->first > t->start)
        t->start = s->first;
    t->stop = s->counters + t->skip;
    if (t->stop < t->start)                       /* a range of small values                      */
        t->stop = t->start;
}

/* Bucket `index` of the line holds n > 0 values.  0: that cannot be. */
PERF_FN int perf_hlog_take_(perf_hlog_target_ *t, uint64_t index, uint64_t n)
{
    uint64_t width, lower, v;

    if (index >= t->length || n >> 63 || (t->count + n) >> 63)
        return 0;
    lower = perf_hist_lower_(&t->from, PERF_CAST_(size_t, index), &width);
    lower <<= t->unit;
    width <<= t->unit;
    v = lower + width / 2;                      /* where HdrHistogram takes the bucket to be      */
    if (t->into) {
        if (t->done == t->steps)
            return 0;
        if (index - t->start < t->stop - t->start) {
            uint64_t *c = PERF_CAST_(uint64_t *, perf_hist_cells_(t->into)) + (index - t->skip);
            uint64_t  sum = t->minus ? *c - n : *c + n;
            if (sum >> 63)
                return 0;
            *c = sum;
        } else if (!perf_hist_bump_(t->into, &t->shape, perf_hist_place_(&t->shape, v), n,
                                    t->minus)) {
            return 0;
        }
        t->done++;
    }
    if (t->count == 0)
        t->min = lower;
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
        byte = *left ? perf_hlog_byte_(s) : -1;
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

/* All of the payload has been read but for 40 bytes: old versions of HdrHistogram_c counted the
 * header into its length.                                                                        */
PERF_FN int perf_hlog_short_by_header_(perf_hlog_source_ *s, uint64_t left)
{
    return left == 40 && s->read == s->written && !perf_inflate_more_(s) && !s->bad;
}

/* The counts of a V0 or V1 line: words of 2, 4 or 8 bytes.  V0 has no length (left: none). */
PERF_FN int perf_hlog_words_(perf_hlog_source_ *s, perf_hlog_target_ *t, uint64_t left, int word)
{
    uint64_t index, n, bytes = PERF_CAST_(uint64_t, word);

    for (index = 0; left && !perf_hlog_short_by_header_(s, left); index++) {
        if (s->read == s->written && !perf_inflate_more_(s))
            return left == UINT64_MAX && !s->bad;
        if (left < bytes)
            return 0;
        n = perf_hlog_get_be_(s, word);
        if (s->bad || index >= t->length || (n && !perf_hlog_take_(t, index, n)))
            return 0;
        left -= left == UINT64_MAX ? 0 : bytes;
    }
    return 1;
}

/* Those of a V2 line. */
PERF_FN int perf_hlog_numbers_(perf_hlog_source_ *s, perf_hlog_target_ *t, uint64_t left)
{
    uint64_t index = 0, run;
    int64_t  x;

    while (left && !perf_hlog_short_by_header_(s, left)) {
        if (!perf_hlog_zigzag_(s, &left, &x))
            return 0;
        run = x < 0 ? PERF_CAST_(uint64_t, -(x + 1)) + 1 : 1;
        if (run > t->length - index ||
            (x > 0 && !perf_hlog_take_(t, index, PERF_CAST_(uint64_t, x))))
            return 0;
        index += run;
    }
    return 1;
}

/* What stands before the compressed stream; -1: not a histogram, else its version. */
PERF_FN int perf_hlog_open_(perf_hlog_source_ *s, const char *text, size_t at, size_t end)
{
    uint64_t cookie, packed, bytes, front = 8;
    unsigned head;

    memset(s, 0, offsetof(perf_hlog_source_, literal));
    while (end > at && text[end - 1] == '=')
        end--;
    s->text = text;
    s->at = at;
    s->end = end;
    s->adler = 1;
    bytes = PERF_CAST_(uint64_t, end - at) * 6 / 8;
    cookie = perf_hlog_raw_(s, 4);
    if (cookie == UINT32_C(0x0c72124f)) {  /* "DHIST": digits and range of a double histogram */
        (void)perf_hlog_raw_(s, 4);
        (void)perf_hlog_raw_(s, 8);
        cookie = perf_hlog_raw_(s, 4);
        front += 16;
    }
    packed = perf_hlog_raw_(s, 4);
    head = perf_inflate_bits_(s, 8);            /* zlib: deflate, no dictionary                   */
    head = head << 8 | perf_inflate_bits_(s, 8);
    if (s->bad || packed + front != bytes || (head >> 8 & 15) != 8 || head % 31 || (head & 32))
        return -1;
    cookie &= UINT32_C(0xffffff0f);
    return cookie == UINT32_C(0x1c849309)   ? 0
           : cookie == UINT32_C(0x1c849302) ? 1
           : cookie == UINT32_C(0x1c849304) ? 2 : -1;
}

/* One pass over the line's histogram.  PERF_EFORMAT: malformed, s->at tells about where;
 * PERF_ERANGE: that, or a counter did not fit; PERF_EINVAL: sound, but not for `into`.           */
PERF_FN perf_status perf_hlog_pass_(perf_hlog_source_ *s, perf_hlog_target_ *t,
                                    perf_hlog_interval *iv, int version)
{
    static const unsigned char bits_of_digits[6] = {0, 4, 7, 10, 14, 17};
    static const uint32_t      plain[3] = {UINT32_C(0x1c849308), UINT32_C(0x1c849301),
                                           UINT32_C(0x1c849303)};
    uint64_t cookie, left = UINT64_MAX, digits, lowest, highest;
    int      word, fits = 1, whole;

    if (version < 0)
        return PERF_EFORMAT;
    cookie = perf_hlog_get_be_(s, 4);
    word = PERF_CAST_(int, cookie >> 4 & 14);
    if (version > 0) {
        left = perf_hlog_get_be_(s, 4);
        (void)perf_hlog_get_be_(s, 4);          /* index offset: counts are in order anyway       */
    }
    digits = perf_hlog_get_be_(s, 4);
    lowest = perf_hlog_get_be_(s, 8);
    highest = perf_hlog_get_be_(s, 8);
    iv->ratio = perf_from_bits_(perf_hlog_get_be_(s, 8));
    if (version == 0)
        iv->ratio = 1.0;                        /* that was a total: we count ourselves           */
    if (s->bad || (cookie & UINT32_C(0xffffff0f)) != plain[version] || digits > 5 || lowest == 0 ||
        highest >> 63 || lowest > highest / 2 || left >> 31 == 1 ||
        (version < 2 && word != 2 && word != 4 && word != 8))
        return PERF_EFORMAT;
    t->from.bits = bits_of_digits[digits];
    t->from.compact = 1;
    t->unit = perf_top_bit_(lowest);
    if (t->unit + t->from.bits > 60)
        return PERF_EFORMAT;
    t->length = perf_hlog_length_(t->from.bits, t->unit, highest);
    iv->version = version;
    iv->digits = PERF_CAST_(int, digits);
    if (t->into && (t->shape.bits > t->from.bits ||
                    (perf_hist_peek_(t->into)->unit > 0.0 &&
                     perf_bits_(perf_hist_peek_(t->into)->unit) != perf_bits_(iv->ratio)))) {
        fits = 0;
        t->into = PERF_CAST_(perf_hist *, PERF_NULL_);
    }
    perf_hlog_aim_(t);
    whole = version == 2 ? perf_hlog_numbers_(s, t, left) : perf_hlog_words_(s, t, left, word);
    if (whole && s->read == s->written)         /* reads the checksum as well                     */
        (void)perf_inflate_more_(s);
    if (!whole || s->bad || s->read != s->written || s->mode != PERF_INFLATE_END_)
        return s->bad || !t->into ? PERF_EFORMAT : PERF_ERANGE;
    return fits ? PERF_OK : PERF_EINVAL;
}

/* Adds the line's histogram to `into`, or all of it not. */
PERF_FN perf_status perf_hlog_add_(const char *text, size_t at, size_t end, size_t *error_at,
                                   perf_hlog_interval *iv, perf_hist *into)
{
    perf_hlog_source_ s;
    perf_hlog_target_ t = PERF_ZERO;
    perf_hist_head_  *d = perf_hist_at_(into);
    uint64_t          held = perf_hist_count(into);
    perf_status       st;

    if (into)
        t.shape = perf_hist_shape_of_(into);
    t.into = into;
    t.steps = UINT64_MAX;
    st = perf_hlog_pass_(&s, &t, iv, perf_hlog_open_(&s, text, at, end));
    iv->count = t.count;
    if (st == PERF_OK && into && t.count > PERF_HIST_MOST_ - held)
        st = PERF_ERANGE;
    *error_at = st == PERF_EFORMAT ? s.at : at;
    if (st != PERF_OK && t.into) {
        t.steps = t.done;                       /* take back what was added                       */
        t.count = t.done = 0;
        t.minus = 1;
        (void)perf_hlog_pass_(&s, &t, iv, perf_hlog_open_(&s, text, at, end));
        t.into = PERF_CAST_(perf_hist *, PERF_NULL_);
        t.count = 0;                            /* was it too much, or was the line wrong?        */
        if (perf_hlog_pass_(&s, &t, iv, perf_hlog_open_(&s, text, at, end)) != PERF_OK)
            st = PERF_EFORMAT;
        *error_at = st == PERF_EFORMAT ? s.at : at;
        iv->count = t.count;
    }
    if (st != PERF_OK || !into || t.count == 0)
        return st;
    d->sums[0] += t.sum;
    d->not_min = ~t.min > d->not_min ? ~t.min : d->not_min;
    d->max = t.max > d->max ? t.max : d->max;
    return PERF_OK;
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

/* The fields of a line and its histogram; r->error_at is set when the answer is not PERF_OK. */
PERF_FN perf_status perf_hlog_line_(perf_hlog_reader *r, size_t at, size_t end,
                                    perf_hlog_interval *iv, perf_hist *into)
{
    double *field[3];
    size_t  tag = at;
    int     i;

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
    return perf_hlog_add_(r->text, at, end, &r->error_at, iv, into);
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
        perf_put_plain_(&cell, x, decimals);
    } else {                                            /* a fraction of 1, to 12 digits          */
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

PERF_FN size_t perf_hist_percentiles_text(char *out, size_t cap, const perf_hist *h, double unit,
                                           int steps)
{
    perf_out_        o = perf_out_open_(out, cap);
    perf_hist_level  l = PERF_ZERO;
    perf_hist_shape_ s = PERF_ZERO;
    uint64_t         total = perf_hist_count(h);

    if (!(unit > 0.0) || !perf_is_finite_(unit) || !perf_is_finite_(perf_hist_max(h) / unit))
        unit = 1.0;
    if (h)
        s = perf_hist_shape_of_(h);
    perf_put_(&o, "       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    while (perf_hist_next_level(h, &l, steps))
        perf_put_percentile_(&o, l.value / unit, 100.0 * l.quantile, l.count);
    perf_put_(&o, "#[Mean    = ");
    perf_put_column_(&o, total ? perf_hist_mean(h) / unit : 0.0, 3, 12);
    perf_put_(&o, ", StdDeviation   = ");
    perf_put_column_(&o, total ? perf_hist_std(h) / unit : 0.0, 3, 12);
    perf_put_(&o, "]\n#[Max     = ");
    perf_put_column_(&o, total ? perf_hist_max(h) / unit : 0.0, 3, 12);
    perf_put_(&o, ", Total count    = ");
    perf_put_column_(&o, PERF_CAST_(double, total), 0, 12);
    perf_put_(&o, "]\n#[Buckets = ");
    perf_put_column_(&o, h ? PERF_CAST_(double, perf_top_bit_(s.highest)) - s.bits + 1.0 : 0.0, 0,
                     12);
    perf_put_(&o, ", SubBuckets     = ");
    perf_put_column_(&o, h ? PERF_CAST_(double, UINT64_C(2) << s.bits) : 0.0, 0, 12);
    perf_put_(&o, "]\n");
    return o.len;
}

PERF_FN size_t perf_hist_csv_text(char *out, size_t cap, const perf_hist *h)
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

/* ---- text: exponential buckets ----
 * Bucket i of scale s holds (b^i, b^(i+1)] with b = 2^(2^-s), as OpenTelemetry and Prometheus
 * define it.  A bucket of ours goes, whole, where its midpoint falls.                            */

#define PERF_EXP_MOST_ 160              /* buckets: the default of OpenTelemetry's SDKs           */

/* x > 0.  Each squaring of the mantissa gives a binary digit of the logarithm. */
PERF_FN int64_t perf_exp_index_(double x, int scale)
{
    uint64_t bits = perf_bits_(x), mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int64_t  index = PERF_CAST_(int64_t, bits >> 52) - 1023;
    double   m = perf_from_bits_(mantissa | UINT64_C(1023) << 52);
    int      i;

    for (i = 0; i < scale; i++) {
        m *= m;
        index = 2 * index + (m >= 2.0);
        m = m >= 2.0 ? 0.5 * m : m;
    }
    if (mantissa == 0)
        index--;                                /* a power of two is the upper end of its bucket  */
    for (i = scale; i < 0; i++)                 /* rounds down, also below zero                   */
        index = index >= 0 ? index / 2 : -((1 - index) / 2);
    return index;
}

typedef struct perf_exp_ {              /* a walk over the occupied ones                          */
    perf_hist_bucket b;
    double           unit;
    int              scale, more;
    int64_t          index;
    uint64_t         count, zeros;
} perf_exp_;

PERF_FN int64_t perf_exp_place_(const perf_exp_ *w, const perf_hist *h)
{
    double x = perf_hist_middle_(h, w->b.lower, w->b.upper);

    return perf_exp_index_((x < 0.5 ? 0.5 : x) * w->unit, w->scale);
}

/* The finest scale, not finer than our own buckets, for which the range takes few enough. */
PERF_FN perf_exp_ perf_exp_open_(const perf_hist *h, int finest)
{
    perf_exp_ w = PERF_ZERO;
    int64_t   first, last;
    int       any;

    w.unit = h ? perf_hist_unit_(h) : 1.0;
    w.scale = h ? PERF_CAST_(int, perf_hist_shape_of_(h).bits) : 0;
    w.scale = w.scale < finest ? w.scale : finest;
    any = perf_hist_next(h, &w.b);
    if (any && w.b.upper == 0) {                /* zeros have a place of their own                */
        w.zeros = w.b.count;
        any = perf_hist_next(h, &w.b);
    }
    w.more = any;
    if (any) {
        for (;; w.scale--) {
            double top = perf_hist_max(h);
            first = perf_exp_place_(&w, h);
            last = perf_exp_index_(top > 0.0 ? top : w.unit, w.scale);
            if (last - first < PERF_EXP_MOST_)
                break;
        }
    }
    return w;
}

PERF_FN int perf_exp_next_(perf_exp_ *w, const perf_hist *h)
{
    if (!w->more)
        return 0;
    w->index = perf_exp_place_(w, h);
    w->count = 0;
    do {
        w->count += w->b.count;
        w->more = perf_hist_next(h, &w->b);
    } while (w->more && perf_exp_place_(w, h) == w->index);
    return 1;
}

PERF_FN void perf_put_i64_(perf_out_ *o, int64_t x)
{
    if (x < 0)
        perf_put_char_(o, '-');
    perf_put_u64_(o, x < 0 ? 0 - PERF_CAST_(uint64_t, x) : PERF_CAST_(uint64_t, x));
}

/* A string of JSON.  Control characters become '?'. */
PERF_FN void perf_put_quoted_(perf_out_ *o, const char *s)
{
    perf_put_char_(o, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            perf_put_char_(o, '\\');
        perf_put_char_(o, PERF_CAST_(unsigned char, *s) < 32 ? '?' : *s);
    }
    perf_put_char_(o, '"');
}

/* A number with some six significant digits or more, small ones too. */
PERF_FN void perf_put_significant_(perf_out_ *o, double x)
{
    int zeros = 0;

    if (x >= 0.001 || !(x > 0.0)) {
        perf_put_plain_(o, x, 9);
        return;
    }
    for (; x < 0.1 && zeros < 120; zeros++)
        x *= 10.0;
    perf_put_(o, "0.");
    while (zeros-- > 0)
        perf_put_char_(o, '0');
    perf_put_u64_(o, PERF_CAST_(uint64_t, x * 1e9));
}

PERF_FN size_t perf_hist_otlp_text(char *out, size_t cap, const perf_hist *h, const char *name,
                                    const char *unit, uint64_t start_ns, uint64_t end_ns)
{
    perf_out_ o = perf_out_open_(out, cap);
    perf_exp_ w = perf_exp_open_(h, 20);
    int64_t   next = 0;
    int       n = 0;

    if (!name)
        return 0;
    perf_put_(&o, "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"scope\":{\"name\":\"perf.h\"},"
                  "\"metrics\":[{\"name\":");
    perf_put_quoted_(&o, name);
    perf_put_(&o, ",\"unit\":");
    perf_put_quoted_(&o, unit ? unit : "");
    perf_put_(&o, ",\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                  "\"startTimeUnixNano\":\"");
    perf_put_u64_(&o, start_ns);
    perf_put_(&o, "\",\"timeUnixNano\":\"");
    perf_put_u64_(&o, end_ns);
    perf_put_(&o, "\",\"count\":\"");
    perf_put_u64_(&o, perf_hist_count(h));
    if (perf_hist_count(h)) {
        perf_put_(&o, "\",\"sum\":");
        perf_put_significant_(&o, perf_hist_sum(h));
        perf_put_(&o, ",\"min\":");
        perf_put_significant_(&o, perf_hist_min(h));
        perf_put_(&o, ",\"max\":");
        perf_put_significant_(&o, perf_hist_max(h));
        perf_put_(&o, ",\"scale\":");
    } else {
        perf_put_(&o, "\",\"sum\":0,\"scale\":");
    }
    perf_put_i64_(&o, w.scale);
    perf_put_(&o, ",\"zeroCount\":\"");
    perf_put_u64_(&o, w.zeros);
    perf_put_(&o, "\",\"positive\":{");
    for (; perf_exp_next_(&w, h); next++) {
        if (n++ == 0) {
            perf_put_(&o, "\"offset\":");
            perf_put_i64_(&o, next = w.index);
            perf_put_(&o, ",\"bucketCounts\":[");
        } else {
            perf_put_char_(&o, ',');
        }
        for (; next < w.index; next++)
            perf_put_(&o, "\"0\",");
        perf_put_char_(&o, '"');
        perf_put_u64_(&o, w.count);
        perf_put_char_(&o, '"');
    }
    perf_put_(&o, n ? "]}}]}}]}]}]}\n" : "}}]}}]}]}]}\n");
    return o.len;
}

PERF_FN int perf_metric_name_ok_(const char *s)
{
    const char *p = s;

    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return 0;
    for (; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_' || *p == ':'))
            return 0;
    return 1;
}

/* Spans of neighbouring buckets: distance to the one before, length. */
PERF_FN void perf_put_spans_(perf_out_ *o, perf_exp_ w, const perf_hist *h)
{
    int64_t next = 0;
    int     more = perf_exp_next_(&w, h), n;

    for (n = 0; more; n++) {
        int64_t first = w.index + 1, length = 1;    /* Prometheus counts from the upper end       */
        while ((more = perf_exp_next_(&w, h)) != 0 && w.index + 1 == first + length)
            length++;
        if (n)
            perf_put_char_(o, ',');
        perf_put_i64_(o, first - next);
        perf_put_char_(o, ':');
        perf_put_i64_(o, length);
        next = first + length;
    }
}

PERF_FN size_t perf_hist_prometheus_text(char *out, size_t cap, const perf_hist *h,
                                          const char *name)
{
    perf_out_ o = perf_out_open_(out, cap);
    perf_exp_ w = perf_exp_open_(h, 8);         /* the finest that Prometheus takes               */
    uint64_t  before = 0;
    int       n;

    if (!perf_metric_name_ok_(name))
        return 0;
    perf_put_(&o, "# TYPE ");
    perf_put_(&o, name);
    perf_put_(&o, " histogram\n");
    perf_put_(&o, name);
    perf_put_(&o, " {count:");
    perf_put_u64_(&o, perf_hist_count(h));
    perf_put_(&o, ",sum:");
    perf_put_significant_(&o, perf_hist_count(h) ? perf_hist_sum(h) : 0.0);
    perf_put_(&o, ",schema:");
    perf_put_i64_(&o, w.scale);
    perf_put_(&o, ",zero_threshold:0,zero_count:");
    perf_put_u64_(&o, w.zeros);
    if (w.more) {
        perf_put_(&o, ",positive_spans:[");
        perf_put_spans_(&o, w, h);
        perf_put_(&o, "],positive_deltas:[");
        for (n = 0; perf_exp_next_(&w, h); n++) {
            if (n)
                perf_put_char_(&o, ',');
            perf_put_i64_(&o, PERF_CAST_(int64_t, w.count - before));
            before = w.count;
        }
        perf_put_char_(&o, ']');
    }
    perf_put_(&o, "}\n");
    return o.len;
}

/* ---- text: bars ---- */

/* Three or four digits and a letter for the thousands: 12.3k.  Right-justified in 7 columns. */
PERF_FN void perf_put_si_(perf_out_ *o, double x)
{
    static const char letter[] = "yzafpnum kMGTPEZY";
    char      buf[48];
    perf_out_ cell = PERF_ZERO;
    int       i = 8;

    for (; x >= 999.5 && letter[i + 1]; i++)
        x /= 1000.0;
    for (; x > 0.0 && x < 0.9995 && i > 0; i--)
        x *= 1000.0;
    cell.p = buf;
    cell.cap = sizeof buf;
    if (i == 8 && x - PERF_CAST_(double, PERF_CAST_(uint64_t, x)) < 1e-9)
        perf_put_u64_(&cell, PERF_CAST_(uint64_t, x));          /* a whole number as such         */
    else
        perf_put_plain_(&cell, x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
    if (i != 8)
        perf_put_char_(&cell, letter[i]);
    for (i = PERF_CAST_(int, cell.len); i < 7; i++)
        perf_put_char_(o, ' ');
    perf_put_(o, buf);
}

/* A bar of `eighths` eighths of a column, and nothing after it. */
PERF_FN void perf_put_bar_(perf_out_ *o, uint64_t eighths, int utf8)
{
    char part[4] = {'\xe2', '\x96', '\x88', '\0'};  /* U+2588, a full block; 89 to 8f: 7/8 to 1/8 */

    for (; eighths >= 8; eighths -= 8)
        perf_put_(o, utf8 ? part : "#");
    part[2] = PERF_CAST_(char, PERF_CAST_(int, part[2]) + 8 - PERF_CAST_(int, eighths));
    if (eighths && (utf8 || eighths >= 4))
        perf_put_(o, utf8 ? part : "#");
}

/* n-th root of x >= 1, by Newton's method from above. */
PERF_FN double perf_bars_root_(double x, int n)
{
    uint64_t e = (perf_bits_(x) >> 52) - 1023;
    double   r = perf_from_bits_((e / PERF_CAST_(uint64_t, n) + 1024) << 52), p;
    int      i, k;

    for (i = 0; i < 100; i++) {
        for (p = 1.0, k = 1; k < n; k++)
            p *= r;
        p = (r - x / p) / n;
        r -= p;
        if (p < 1e-12 * r)
            break;
    }
    return r;
}

/* Rows of equal ratio, as far as integers allow: the most values in one.  With o, written. */
PERF_FN uint64_t perf_bars_rows_(perf_out_ *o, const perf_hist *h, int rows, uint64_t most,
                                 uint64_t columns, int utf8)
{
    static const double      q[4] = {0.5, 0.9, 0.99, 0.999};
    static const char *const name[4] = {" p50", " p90", " p99", " p99.9"};
    double                   at[4], unit = perf_hist_unit_(h), total, edge, ratio, high = -1.0;
    uint64_t                 min, max, upper = 0, next, seen = 0, count, highest = 0;
    int                      i, row;

    (void)perf_hist_extremes_(h, &min, &max);
    (void)perf_hist_quantiles(h, q, 4, at);
    total = PERF_CAST_(double, perf_hist_count(h));
    edge = PERF_CAST_(double, min ? min : 1);
    ratio = perf_bars_root_(max > min ? PERF_CAST_(double, max) / edge : 1.0, rows);
    for (row = 1; row <= rows; row++) {
        edge *= ratio;
        next = row < rows && edge < PERF_CAST_(double, max) ? PERF_CAST_(uint64_t, edge) : max;
        if (row > 1 && next <= upper)
            continue;
        upper = next;
        count = perf_hist_up_to_(h, upper) - seen;
        seen += count;
        highest = count > highest ? count : highest;
        if (!o)
            continue;
        perf_put_si_(o, PERF_CAST_(double, upper) * unit);
        perf_put_si_(o, PERF_CAST_(double, count));
        perf_put_column_(o, 100.0 * PERF_CAST_(double, count) / total, 1, 6);
        perf_put_(o, "% ");
        perf_put_bar_(o, PERF_CAST_(uint64_t, 8.0 * PERF_CAST_(double, columns) *
                                                  PERF_CAST_(double, count) /
                                                  PERF_CAST_(double, most) + 0.5), utf8);
        for (i = 0; i < 4; i++)
            if (at[i] <= PERF_CAST_(double, upper) * unit && at[i] > high)
                perf_put_(o, name[i]);
        perf_put_char_(o, '\n');
        high = PERF_CAST_(double, upper) * unit;
    }
    return highest;
}

PERF_FN size_t perf_hist_bars_text(char *out, size_t cap, const perf_hist *h, int rows,
                                   int columns, int utf8)
{
    perf_out_ o = perf_out_open_(out, cap);
    uint64_t  min, max, most;

    if (!perf_hist_extremes_(h, &min, &max) || perf_hist_count(h) == 0) {
        perf_put_(&o, "no values\n");
        return o.len;
    }
    rows = rows <= 0 ? 16 : rows > 64 ? 64 : rows;
    columns = columns <= 0 ? 80 : columns < 48 ? 48 : columns > 500 ? 500 : columns;
    most = perf_bars_rows_(PERF_CAST_(perf_out_ *, PERF_NULL_), h, rows, 1, 1, utf8);
    perf_put_(&o, "  up to  count  share\n");
    (void)perf_bars_rows_(&o, h, rows, most, PERF_CAST_(uint64_t, columns - 40), utf8);
    return o.len;
}

PERF_END_DECLS

#endif /* PERF_HLOG_H */
