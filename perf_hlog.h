/* perf_hlog.h - histograms as lines that HdrHistogram's tools read, and theirs read back.
 *
 *     static char        line[65536];                           // a line of an .hlog file
 *     static perf_hist   latency;
 *     perf_hlog_interval second = PERF_ZERO;
 *     second.length_seconds = 1.0;
 *     if (perf_hlog_text(line, sizeof line, &latency, &second) < sizeof line)
 *         fputs(line, stdout);                                  // HdrHistogram's tools read it
 *
 * Optional: only files that save, send or load histograms include it, beside perf_hist.h.
 * Needs no zlib: deflate and inflate are in here.  No file is opened, nothing is allocated; text
 * goes to and comes from memory that you own.
 * Sections (search for ">>"):  hlog  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_HLOG_H
#define PERF_HLOG_H

#include "perf_hist.h"
#include "perf_text.h"
#include <string.h>

PERF_BEGIN_DECLS

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

/* What log processors expect ahead of the lines; a comment begins with '#'.  Before it you may put
 * "#[StartTime: %.3f (seconds since epoch)]\n": the times of lines then count from there.        */
#define PERF_HLOG_HEADER                                                                          \
    "#[Histogram log format version 1.3]\n"                                                       \
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"

/* One line with all values of `hist`.  Returns its number of characters, without the final NUL, as
 * snprintf does.  A result >= cap means that it did not fit: out then holds "".  out may be NULL
 * with cap 0, to ask for the size.  V2 encoding, at 1, 2, 3 or 4 digits: the fewest that keep all
 * bits, so that reading it into its own form gives its counters back (perf_hist_copy into fewer
 * bits first makes a coarser one).  4, 7, 10 or 14 bits are written as HdrHistogram would have
 * recorded them, others at the midpoints of their buckets.  Values outside the range are written at
 * the extremes; the unit is the ratio.  Not kept: lost, exact sum and extremes.  Uses about 29 KB
 * of stack.  0: bad argument, or a number in iv that is not finite or beyond 1e15.               */
PERF_FN size_t perf_hlog_text(char *out, size_t cap, const perf_hist *hist,
                              const perf_hlog_interval *iv);

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
 * PERF_EINVAL   the line is coarser than `into` (fewer digits than its bits), or `into` was made
 *               with a unit (not 0) that is not iv->ratio; nothing added
 * PERF_ERANGE   a counter or the count of `into` would overflow; nothing added
 * After an error the next call goes on with the next line.  Uses about 46 KB of stack.           */
PERF_FN perf_status perf_hlog_next(perf_hlog_reader *reader, perf_hlog_interval *iv,
                                   perf_hist *into);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- hlog: written ----
 * The counts become HdrHistogram's V2 content in a buffer, the buffer deflate blocks without a
 * search for matches, and those base64.  The front of the content, with the length of the counts,
 * is a block of its own: so counts that the buffer cannot hold are walked twice.                 */

#define PERF_ZIP_SYMBOLS_ 257       /* 256 bytes, end of block                                    */
#define PERF_ZIP_END_     256
#define PERF_ZIP_LONGEST_ 13        /* bits of a code: four of them and 7 more fit 64             */
#define PERF_ZIP_BLOCK_   ((1u << PERF_ZIP_LONGEST_) - 1)   /* bytes: with the end 2^13 symbols   */
#define PERF_ZIP_FRONT_   40        /* bytes before the counts                                    */
#define PERF_ZIP_HEAD_TEXT_ 12      /* characters of the first nine bytes, which go last: they    */
                                    /* have the length                                            */

typedef struct perf_zip_ {
    size_t        n, total;         /* bytes in the buffer, and those that have left it           */
    int           writing;          /* 0: what leaves the buffer is only counted                  */
    uint32_t      adler;
    uint64_t      acc;              /* bits that are no whole byte yet                            */
    unsigned      acc_bits;
    size_t        pending;          /* bytes of a block, not yet base64                           */
    char         *out;              /* the line; [at] is next, nothing is written from `cap` on   */
    size_t        at, cap;
    unsigned      used;             /* symbols that occur, in order                               */
    uint16_t      symbol[PERF_ZIP_SYMBOLS_ + 1];
    uint32_t      frequency[PERF_ZIP_SYMBOLS_];
    uint32_t      code[PERF_ZIP_SYMBOLS_];      /* first bit lowest; from bit 16 on its length    */
    unsigned char bits[PERF_ZIP_SYMBOLS_];
    unsigned char block[PERF_ZIP_BLOCK_ * 9 / 8 + 512];     /* 9 bits a byte, and a table         */
    unsigned char content[2 * PERF_ZIP_BLOCK_];
} perf_zip_;

#define PERF_ADLER_PRIME_ 65521u
#define PERF_ADLER_BYTES_ 5552u     /* so many at once cannot overflow 32 bits                    */

/* zlib's checksum Adler-32 (RFC 1950), continued: a is the sum of the bytes, b the sum of all a. */
PERF_FN uint32_t perf_adler32_(uint32_t adler, const unsigned char *bytes, size_t n)
{
    uint32_t a = adler & 65535, b = adler >> 16;

    while (n) {
        const unsigned char *end = bytes + (n < PERF_ADLER_BYTES_ ? n : PERF_ADLER_BYTES_);
        n -= PERF_CAST_(size_t, end - bytes);
        while (bytes < end) {
            a += *bytes++;
            b += a;
        }
        a %= PERF_ADLER_PRIME_;
        b %= PERF_ADLER_PRIME_;
    }
    return b << 16 | a;
}

/* Bits at - 18 to at + 5 of `value` as four characters of base64, the highest first. */
PERF_FN void perf_base64_(char *out, uint64_t value, int at)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    out[0] = digit[value >> at & 63];
    out[1] = digit[value >> (at - 6) & 63];
    out[2] = digit[value >> (at - 12) & 63];
    out[3] = digit[value >> (at - 18) & 63];
}

/* Eight bytes, the first highest: one load where the compiler sees it. */
PERF_FN uint64_t perf_zip_load_(const unsigned char *at)
{
    return PERF_CAST_(uint64_t, at[0]) << 56 | PERF_CAST_(uint64_t, at[1]) << 48 |
           PERF_CAST_(uint64_t, at[2]) << 40 | PERF_CAST_(uint64_t, at[3]) << 32 |
           PERF_CAST_(uint64_t, at[4]) << 24 | PERF_CAST_(uint64_t, at[5]) << 16 |
           PERF_CAST_(uint64_t, at[6]) << 8 | at[7];
}

/* Turns the bytes of the block into text; up to five wait for the next block. */
PERF_FN void perf_zip_text_(perf_zip_ *zip)
{
    size_t i, n = zip->pending / 6;

    if (zip->at + 8 * n < zip->cap)
        for (i = 0; i < n; i++) {
            uint64_t value = perf_zip_load_(zip->block + 6 * i);
            perf_base64_(zip->out + zip->at + 8 * i, value, 58);
            perf_base64_(zip->out + zip->at + 8 * i + 4, value, 34);
        }
    zip->at += 8 * n;
    zip->pending %= 6;
    memmove(zip->block, zip->block + 6 * n, zip->pending);
}

/* Appends n bits of `value`, at most 32, the lowest first. */
PERF_FN void perf_zip_bits_(perf_zip_ *zip, uint64_t value, unsigned n)
{
    zip->acc |= value << zip->acc_bits;
    zip->acc_bits += n;
    while (zip->acc_bits >= 8) {
        zip->block[zip->pending++] = PERF_CAST_(unsigned char, zip->acc & 255);
        zip->acc >>= 8;
        zip->acc_bits -= 8;
    }
}

/* The lowest `bits` of `value`, at most 16, in reverse. */
PERF_FN unsigned perf_reversed_(unsigned value, unsigned bits)
{
    value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
    value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
    value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
    return ((value & 0x00ff) << 8 | value >> 8) >> (16 - bits);
}

/* Deflate's fixed code of a symbol (RFC 1951, 3.2.6), as in `code`. */
PERF_FN uint32_t perf_zip_fixed_(unsigned symbol)
{
    if (symbol < 144)
        return perf_reversed_(symbol + 0x30, 8) | 8u << 16;
    if (symbol < 256)
        return perf_reversed_(symbol + 0x100, 9) | 9u << 16;
    return perf_reversed_(symbol - 256, 7) | 7u << 16;
}

/* Appends a code as it stands in `code`. */
PERF_FN void perf_zip_code_(perf_zip_ *zip, uint32_t code)
{
    perf_zip_bits_(zip, code & 0xffff, code >> 16);
}

/* Begins a block in deflate's fixed codes: bit 0 says whether it is the last, and 1 in the next two
 * that its codes are fixed (RFC 1951, 3.2.3).                                                    */
PERF_FN void perf_zip_head_fixed_(perf_zip_ *zip, int last)
{
    perf_zip_bits_(zip, 1u << 1 | (last != 0), 3);
}

/* A block of few bytes in fixed codes.  Runs of a byte are matches at distance 1. */
PERF_FN void perf_zip_short_(perf_zip_ *zip, const unsigned char *bytes, size_t n, int last)
{
    const unsigned longest = 10;                /* lengths 3 to 10 have the symbols 257 to 264    */
    size_t         i;
    unsigned       run;

    perf_zip_head_fixed_(zip, last);
    for (i = 0; i < n; i += 1 + run) {
        perf_zip_code_(zip, perf_zip_fixed_(bytes[i]));
        run = 0;
        while (run < longest && i + 1 + run < n && bytes[i + 1 + run] == bytes[i])
            run++;
        if (run < 3) {
            run = 0;
            continue;
        }
        perf_zip_code_(zip, perf_zip_fixed_(257 + run - 3));
        perf_zip_bits_(zip, 0, 5);              /* the fixed code of distance 1                   */
    }
    perf_zip_code_(zip, perf_zip_fixed_(PERF_ZIP_END_));
}

/* Shortens codes by a bit each, as far as *room goes.  n * 2^length / total says how much a code
 * was rounded up: from 1, not at all, to 2, almost a bit.  Only those with quarters / 4 or more are
 * shortened; 0: all.  Returns the bits of the block that this saves.                             */
PERF_FN size_t perf_zip_shorten_(perf_zip_ *zip, uint32_t total, unsigned quarters, unsigned *room)
{
    size_t   saved = 0;
    unsigned i;

    for (i = 0; i < zip->used && *room; i++) {
        unsigned char *bits = &zip->bits[zip->symbol[i]];
        uint32_t       n = zip->frequency[zip->symbol[i]], more = 1u << (PERF_ZIP_LONGEST_ - *bits);
        if (more <= *room && *bits > 1 && 4 * (n << *bits) >= quarters * total) {
            --*bits;
            *room -= more;
            saved += n;
        }
    }
    return saved;
}

/* Gives the symbols of a block the lengths of their codes; returns about the bits that the block
 * then takes.  A symbol that occurs n times in `total` gets log2(total / n) bits, rounded up
 * (Shannon).  The room left over shortens codes, first those that were rounded up most.  Within 3 %
 * of Huffman, without a sort.                                                                    */
PERF_FN size_t perf_zip_lengths_(perf_zip_ *zip, uint32_t total)
{
    unsigned i, length, room = 1u << PERF_ZIP_LONGEST_;
    size_t   size = 80 + 6 * zip->used;         /* about the bits of its table                    */

    for (i = 0; i < zip->used; i++) {
        uint32_t n = zip->frequency[zip->symbol[i]];
        for (length = 0; n << length < total; length++)
            continue;
        zip->bits[zip->symbol[i]] = PERF_CAST_(unsigned char, length);
        room -= 1u << (PERF_ZIP_LONGEST_ - length);
        size += n * length;
    }
    size -= perf_zip_shorten_(zip, total, 6, &room);
    size -= perf_zip_shorten_(zip, total, 4, &room);
    while (room)
        size -= perf_zip_shorten_(zip, total, 0, &room);
    return size;
}

/* Canonical codes from their lengths (RFC 1951, 3.2.2). */
PERF_FN void perf_zip_codes_(perf_zip_ *zip)
{
    unsigned next[16], count[16], i, code = 0;

    memset(count, 0, sizeof count);
    for (i = 0; i < zip->used; i++)
        count[zip->bits[zip->symbol[i]]]++;
    for (i = 1; i < 16; i++)
        next[i] = code = (code + count[i - 1]) << 1;
    for (i = 0; i < zip->used; i++) {
        unsigned symbol = zip->symbol[i], bits = zip->bits[symbol];
        zip->code[symbol] = perf_reversed_(next[bits]++, bits) | PERF_CAST_(uint32_t, bits) << 16;
    }
}

/* One code length of a table (symbol: 1 to 13), or absent symbols: 0 is one of them, 17 and 18 a
 * run, whose length is in `extra`.  Each of these sixteen has a code of four bits.               */
PERF_FN void perf_zip_length_(perf_zip_ *zip, unsigned symbol, unsigned extra, unsigned extra_bits)
{
    unsigned code = symbol;

    if (symbol >= 14)
        code = symbol - 3;                      /* 17 and 18 follow 13                            */
    perf_zip_bits_(zip, perf_reversed_(code, 4) | extra << 4, 4 + extra_bits);
}

/* The table of a block's codes (RFC 1951, 3.2.7).  It begins with the lengths of the codes in which
 * it is written, in the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1: four bits for 0 to 13
 * and for both runs of zeros; 16 and 14 do not occur.                                            */
PERF_FN void perf_zip_table_(perf_zip_ *zip)
{
    unsigned i, at = 0, run;

    /* Each number less the fewest: 257 - 257 symbols, 1 - 1 distances, 18 - 4 lengths. */
    perf_zip_bits_(zip, (18u - 4) << 10, 14);
    for (i = 0; i < 18; i++)
        perf_zip_bits_(zip, 4u * (i != 0 && i != 16), 3);       /* places of 16 and 14            */
    for (i = 0; i < zip->used; i++) {
        for (; at < zip->symbol[i]; at += run) {
            run = zip->symbol[i] - at;
            if (run > 138)
                run = 138;
            if (run < 3) {
                run = 1;
                perf_zip_length_(zip, 0, 0, 0);
            } else if (run < 11) {
                perf_zip_length_(zip, 17, run - 3, 3);
            } else {
                perf_zip_length_(zip, 18, run - 11, 7);
            }
        }
        perf_zip_length_(zip, zip->bits[at++], 0, 0);
    }
    perf_zip_length_(zip, 1, 0, 0);             /* one code for distances, not used               */
}

/* Eight bytes, the lowest first: one store where the compiler sees it. */
PERF_FN void perf_zip_store_(unsigned char *at, uint64_t value)
{
    at[0] = PERF_CAST_(unsigned char, value & 255);
    at[1] = PERF_CAST_(unsigned char, value >> 8 & 255);
    at[2] = PERF_CAST_(unsigned char, value >> 16 & 255);
    at[3] = PERF_CAST_(unsigned char, value >> 24 & 255);
    at[4] = PERF_CAST_(unsigned char, value >> 32 & 255);
    at[5] = PERF_CAST_(unsigned char, value >> 40 & 255);
    at[6] = PERF_CAST_(unsigned char, value >> 48 & 255);
    at[7] = PERF_CAST_(unsigned char, value >> 56);
}

/* Appends bytes in the codes of the table.  State in locals: no code waits for a store. */
PERF_FN void perf_zip_coded_(perf_zip_ *zip, const unsigned char *bytes, size_t n)
{
    const uint32_t *code = zip->code;
    unsigned char  *to = zip->block + zip->pending;
    uint64_t        acc = zip->acc;
    unsigned        acc_bits = zip->acc_bits;

#define PERF_ZIP_NEXT_()                                                                          \
    do {                                                                                          \
        acc |= PERF_CAST_(uint64_t, code[*bytes] & 0xffff) << acc_bits;                          \
        acc_bits += code[*bytes++] >> 16;                                                        \
    } while (0)
    for (; n >= 4; n -= 4) {
        PERF_ZIP_NEXT_();
        PERF_ZIP_NEXT_();
        PERF_ZIP_NEXT_();
        PERF_ZIP_NEXT_();
        perf_zip_store_(to, acc);
        to += acc_bits / 8;
        acc >>= acc_bits & ~7u;
        acc_bits &= 7;
    }
#undef PERF_ZIP_NEXT_
    zip->pending = PERF_CAST_(size_t, to - zip->block);
    zip->acc = acc;
    zip->acc_bits = acc_bits;
    while (n--)
        perf_zip_code_(zip, code[*bytes++]);
    perf_zip_code_(zip, code[PERF_ZIP_END_]);
}

/* Counts the symbols of a block and lists those that occur.  The same walk continues the checksum,
 * in 64 bits, which the 2^13 bytes of a block cannot overflow.                                   */
PERF_FN void perf_zip_count_(perf_zip_ *zip, const unsigned char *bytes, size_t n)
{
    uint64_t a = zip->adler & 65535, b = zip->adler >> 16;
    unsigned symbol;
    size_t   i;

    memset(zip->frequency, 0, sizeof zip->frequency);
    zip->frequency[PERF_ZIP_END_] = 1;
    for (i = 0; i < n; i++) {
        symbol = bytes[i];
        zip->frequency[symbol]++;
        a += symbol;
        b += a;
    }
    zip->adler = PERF_CAST_(uint32_t, b % PERF_ADLER_PRIME_ << 16 | a % PERF_ADLER_PRIME_);
    zip->used = 0;
    for (symbol = 0; symbol < PERF_ZIP_SYMBOLS_; symbol++) {
        zip->symbol[zip->used] = PERF_CAST_(uint16_t, symbol);
        zip->used += zip->frequency[symbol] != 0;
    }
}

/* About the bits of a block in fixed codes: 8 a byte, 9 from 144 on, 7 for its end. */
PERF_FN size_t perf_zip_fixed_size_(const perf_zip_ *zip)
{
    size_t   size = 7;
    unsigned i;

    for (i = 0; i < zip->used; i++)
        size += zip->frequency[zip->symbol[i]] * (8u + (zip->symbol[i] >= 144));
    return size;
}

/* Writes a block in codes of its own, or in fixed ones where that is shorter: the former need a
 * table.  A block of few bytes gets fixed ones without a look.                                   */
PERF_FN void perf_zip_block_(perf_zip_ *zip, const unsigned char *bytes, size_t n, int last)
{
    unsigned i;

    if (n <= 64) {
        zip->adler = perf_adler32_(zip->adler, bytes, n);
        perf_zip_short_(zip, bytes, n, last);
        return;
    }
    perf_zip_count_(zip, bytes, n);
    if (perf_zip_lengths_(zip, PERF_CAST_(uint32_t, n) + 1) < perf_zip_fixed_size_(zip)) {
        perf_zip_bits_(zip, 2u << 1 | (last != 0), 3);          /* 2: it has codes of its own     */
        perf_zip_codes_(zip);
        perf_zip_table_(zip);
    } else {
        perf_zip_head_fixed_(zip, last);
        for (i = 0; i < zip->used; i++)
            zip->code[zip->symbol[i]] = perf_zip_fixed_(zip->symbol[i]);
    }
    perf_zip_coded_(zip, bytes, n);
}

/* Empties the buffer.  last: ends with deflate's last block, an empty one where nothing is left. */
PERF_FN void perf_zip_flush_(perf_zip_ *zip, int last)
{
    size_t i, n;

    if (zip->writing && last && zip->n == 0)
        perf_zip_short_(zip, zip->content, 0, 1);
    for (i = 0; zip->writing && i < zip->n; i += n) {
        n = PERF_ZIP_BLOCK_;
        if (n > zip->n - i)
            n = zip->n - i;
        perf_zip_block_(zip, zip->content + i, n, last && i + n == zip->n);
        perf_zip_text_(zip);
    }
    zip->total += zip->n;
    zip->n = 0;
}

/* `value` at `at`, 7 bits a byte, the ninth byte whole; returns the end of it. */
PERF_FN unsigned char *perf_zip_number_(unsigned char *at, uint64_t value)
{
    int i;

    if (PERF_LIKELY_(value < 1u << 14)) {       /* whether one byte or two is random: no branch   */
        unsigned two = value > 127;
        at[0] = PERF_CAST_(unsigned char, (value | two << 7) & 255);
        at[1] = PERF_CAST_(unsigned char, value >> 7);
        return at + 1 + two;
    }
    for (i = 0; i < 8 && value >> 7; i++, value >>= 7)
        *at++ = PERF_CAST_(unsigned char, (value & 127) | 128);
    *at = PERF_CAST_(unsigned char, value);
    return at + 1;
}

/* A run of k empty buckets: ZigZag of -k, but a single one is a count of 0. */
PERF_FN unsigned char *perf_zip_gap_(unsigned char *at, uint64_t k)
{
    if (k == 1)
        return perf_zip_number_(at, 0);
    return perf_zip_number_(at, 2 * k - 1);
}

/* Appends that bucket `index` of HdrHistogram's holds n values, and that those from *next on before
 * it hold none.  Then *next is the one behind it.  Numbers are ZigZag: n is 2n.                  */
PERF_FN void perf_hlog_put_(perf_zip_ *zip, uint64_t *next, uint64_t index, uint64_t n)
{
    unsigned char *at;

    if (zip->n > sizeof zip->content - 18)      /* a gap and a count, nine bytes each at most     */
        perf_zip_flush_(zip, 0);
    at = zip->content + zip->n;
    if (index > *next)
        at = perf_zip_gap_(at, index - *next);
    *next = index + 1;
    at = perf_zip_number_(at, 2 * n);
    zip->n = PERF_CAST_(size_t, at - zip->content);
}

/* Appends counters [i, end), whose buckets are HdrHistogram's.  The one before i is not empty. */
PERF_FN void perf_hlog_cells_(perf_zip_ *zip, const perf_hist *hist, const perf_hist_shape_ *shape,
                              size_t i, size_t end)
{
    unsigned char *bytes = zip->content + zip->n;
    uint64_t       n;
    size_t         at, stop;

    while (i < end) {
        zip->n = PERF_CAST_(size_t, bytes - zip->content);
        if (zip->n > sizeof zip->content - 20)  /* else `stop` is i + 2 at least                  */
            perf_zip_flush_(zip, 0);
        bytes = zip->content + zip->n;
        stop = i + (sizeof zip->content - zip->n) / 10;     /* none takes more than nine bytes    */
        if (stop > end)
            stop = end;
        while (i < stop) {
            n = perf_hist_cell_(hist, shape, i);
            if (n) {
                bytes = perf_zip_number_(bytes, 2 * n);
                i++;
                continue;
            }
            at = i;
            i = perf_hist_occupied_(hist, shape, i, end);
            if (i < end)
                bytes = perf_zip_gap_(bytes, i - at);
        }
    }
    zip->n = PERF_CAST_(size_t, bytes - zip->content);
}

/* The value by which a bucket is written: its midpoint, outside the range the extreme. */
PERF_FN uint64_t perf_hlog_value_(const perf_hist_shape_ *shape, const perf_hist_bucket *bucket)
{
    if (bucket->lower > shape->highest)
        return bucket->upper;
    if (bucket->lower < shape->lowest)
        return bucket->lower;
    return bucket->lower + (bucket->upper - bucket->lower) / 2;
}

/* The first of HdrHistogram's buckets from which on ours are the same, without a gap; UINT64_MAX:
 * none.                                                                                          */
PERF_FN uint64_t perf_hlog_run_from_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                     unsigned bits)
{
    if (shape->bits != bits || perf_hist_peek_(hist)->over)
        return UINT64_MAX;
    if (shape->compact)
        return 0;
    return UINT64_C(1) << bits;
}

/* HdrHistogram's bucket of a value: 2^bits equal ones an octave, below 2^(bits + 1) one a value. */
PERF_FN uint64_t perf_hlog_index_(unsigned bits, uint64_t value)
{
    unsigned shift = 0;

    while (value >> shift >> bits > 1)
        shift++;
    return (PERF_CAST_(uint64_t, shift) << bits) + (value >> shift);
}

/* All counts, at the midpoints of our buckets where theirs are finer. */
PERF_FN void perf_hlog_counts_(perf_zip_ *zip, const perf_hist *hist, unsigned bits)
{
    perf_hist_shape_ shape = perf_hist_shape_of_(hist);
    perf_hist_bucket bucket = PERF_ZERO;
    uint64_t         next = 0, at, run = perf_hlog_run_from_(hist, &shape, bits);

    while (perf_hist_next(hist, &bucket)) {
        at = perf_hlog_index_(bits, perf_hlog_value_(&shape, &bucket));
        perf_hlog_put_(zip, &next, at, bucket.count);
        if (at >= run && bucket.lower >= shape.lowest) {
            perf_hlog_cells_(zip, hist, &shape, bucket.next_ - 1, bucket.end_ - 1);
            return;
        }
    }
    if (next == 0)                              /* HdrHistogram_c wants one count even then       */
        perf_hlog_put_(zip, &next, 0, 0);
}

/* What stands before the counts, a block of its own. */
PERF_FN void perf_hlog_front_(perf_zip_ *zip, const perf_hist *hist, int digits)
{
    uint64_t      range = perf_hist_shape_of_(hist).highest, most = perf_hist_peek_(hist)->max;
    uint64_t      highest = most > range ? most : range;
    uint64_t      word[PERF_ZIP_FRONT_ / 8] = {             /* V2, plain; no index offset         */
        UINT64_C(0x1c849313) << 32 | (zip->total + zip->n), PERF_CAST_(uint64_t, digits), 1,
        highest, perf_bits_(perf_hist_shape_of_(hist).unit)};
    unsigned char front[PERF_ZIP_FRONT_];
    int           i;

    for (i = 0; i < PERF_ZIP_FRONT_; i++)
        front[i] = PERF_CAST_(unsigned char, word[i / 8] >> (56 - i % 8 * 8) & 255);
    zip->adler = perf_adler32_(1, front, sizeof front);
    perf_zip_short_(zip, front, sizeof front, 0);
}

/* A tag: what would end the field becomes an underscore. */
PERF_FN void perf_hlog_tag_(perf_out_ *out, const char *tag, size_t n)
{
    size_t i;

    perf_put_(out, "Tag=");
    for (i = 0; i < n; i++) {
        const int ends = tag[i] == ',' || tag[i] == ' ' || PERF_CAST_(unsigned char, tag[i]) < 32;
        if (ends)
            perf_put_char_(out, '_');
        else
            perf_put_char_(out, tag[i]);
    }
    perf_put_char_(out, ',');
}

/* The start of the line up to the histogram.  0: a number that no reader would take. */
PERF_FN int perf_hlog_fields_(perf_out_ *out, const perf_hist *hist, const perf_hlog_interval *iv)
{
    double number[3] = {iv->start_seconds, iv->length_seconds, perf_hist_quantile(hist, 1.0)};
    int    i;

    if (iv->max_unit > 0.0)
        number[2] /= iv->max_unit;
    else
        number[2] /= 1e6;
    if (number[2] < 0.0)                        /* no value                                       */
        number[2] = 0.0;
    for (i = 0; i < 3; i++)                     /* else it would need an exponent; or is NaN      */
        if (!(number[i] < 1e15 && number[i] > -1e15))
            return 0;
    if (iv->tag && iv->tag_size)
        perf_hlog_tag_(out, iv->tag, iv->tag_size);
    else if (iv->tag)
        perf_hlog_tag_(out, iv->tag, strlen(iv->tag));
    for (i = 0; i < 3; i++) {
        perf_put_fixed_(out, number[i], 3);
        perf_put_char_(out, ',');
    }
    return 1;
}

/* Ends zlib's stream: what is left in the buffer, the last byte filled up, the checksum. */
PERF_FN void perf_zip_finish_(perf_zip_ *zip)
{
    int i;

    perf_zip_flush_(zip, 1);
    perf_zip_bits_(zip, 0, (8 - zip->acc_bits) % 8);
    for (i = 24; i >= 0; i -= 8)
        perf_zip_bits_(zip, zip->adler >> i & 255, 8);
    perf_zip_text_(zip);
}

/* Writes what base64 still lacks: the last bytes of the block, up to five, and at `head` the first
 * nine of all: cookie, length of what follows, first byte of zlib's head.  Ends the line.        */
PERF_FN void perf_hlog_seal_(perf_zip_ *zip, size_t head)
{
    const uint64_t length = (zip->at - head - PERF_ZIP_HEAD_TEXT_) / 4 * 3 + zip->pending + 1;
    const uint64_t cookie = UINT64_C(0x1c849314);
    char          *out = zip->out, *end = out + zip->at;
    size_t         n;

    memset(zip->block + zip->pending, 0, 3);
    for (n = 0; n < zip->pending; n += 3, end += 4)
        perf_base64_(end, perf_zip_load_(zip->block + n), 58);
    memset(end - (n - zip->pending), '=', n - zip->pending);
    perf_base64_(out + head, cookie << 32 | length, 58);
    perf_base64_(out + head + 4, cookie << 32 | length, 34);
    perf_base64_(out + head + 8, length << 8 | 0x78, 18);
    end[0] = '\n';
    end[1] = '\0';
}

PERF_FN size_t perf_hlog_text(char *out, size_t cap, const perf_hist *hist,
                              const perf_hlog_interval *iv)
{
    static const unsigned char bits_of_digits[5] = {0, 4, 7, 10, 14};
    perf_out_ buffer = perf_out_open_(out, cap);
    perf_zip_ zip;
    size_t    head, line;
    int       digits = 1;

    if (!hist || !iv)
        return 0;
    while (bits_of_digits[digits] < perf_hist_shape_of_(hist).bits)
        digits++;
    if (!perf_hlog_fields_(&buffer, hist, iv)) {
        (void)perf_out_open_(out, cap);
        return 0;
    }
    head = buffer.len;
    memset(&zip, 0, offsetof(perf_zip_, symbol));
    perf_hlog_counts_(&zip, hist, bits_of_digits[digits]);
    zip.out = out;
    zip.cap = buffer.cap;
    zip.at = head + PERF_ZIP_HEAD_TEXT_;
    zip.writing = 1;
    perf_zip_bits_(&zip, 1, 8);                 /* the second byte of zlib's head                 */
    perf_hlog_front_(&zip, hist, digits);
    if (zip.total) {                            /* more than the buffer holds: once more          */
        zip.n = 0;
        perf_hlog_counts_(&zip, hist, bits_of_digits[digits]);
    }
    perf_zip_finish_(&zip);
    line = zip.at + (zip.pending + 2) / 3 * 4 + 1;
    if (line >= buffer.cap) {
        (void)perf_out_open_(out, cap);
        return line;
    }
    perf_hlog_seal_(&zip, head);
    return line;
}

/* ---- hlog: read ----
 * A line's bytes come out of base64 and inflate into a window, some thousand at a time.  A match
 * reaches 32768 bytes back at most.  Everything is checked before it is used.                    */

#define PERF_WINDOW_ 32768u

typedef struct perf_huffman_ {
    uint16_t fast[512];             /* by the next 9 bits: 16 * symbol + bits; 0: a longer code   */
    uint16_t count[16];             /* codes of each length                                       */
    uint16_t symbol[288];           /* symbols in the order of their codes                        */
} perf_huffman_;

typedef struct perf_hlog_bits_ {
    const char *text;               /* base64 of this line: [at, end) of it is to come            */
    size_t      at, end;
    uint64_t    bits;               /* bytes out of base64, the next bit lowest                   */
    unsigned    count;
    int         bad;                /* the line is malformed                                      */
} perf_hlog_bits_;

enum { PERF_INFLATE_BLOCK_, PERF_INFLATE_STORED_, PERF_INFLATE_CODES_, PERF_INFLATE_END_ };

typedef struct perf_hlog_source_ {
    perf_hlog_bits_ in;
    int             mode, last, fixed;          /* fixed: the block has deflate's fixed codes     */
    uint32_t        stored;                     /* bytes left in a stored block                   */
    uint32_t        adler;
    size_t          read, written;              /* in the window: the next byte, the first free   */
    perf_huffman_   literal, distant;
    unsigned char   window[PERF_WINDOW_ + 8192];
} perf_hlog_source_;

PERF_FN unsigned perf_base64_value_(char ch)
{
    static const unsigned char value['z' - '+' + 1] = {
        62, 64, 64, 64, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64,
        64, 64, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 64, 64, 26, 27, 28, 29, 30, 31,
        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51};

    if (ch < '+' || ch > 'z')
        return 64;
    return value[ch - '+'];
}

/* `in` with over 40 bits ready, as far as the text goes.  Four characters give three bytes; the
 * text is taken in such groups from its start.  By value: a caller can keep it in registers.     */
PERF_INLINE_FN_ perf_hlog_bits_ perf_hlog_filled_(perf_hlog_bits_ in)
{
    while (in.count <= 40 && in.at < in.end) {
        size_t   i, n = in.end - in.at;
        uint32_t value = 0;
        unsigned wrong = 0, six;
        if (n > 4)
            n = 4;
        for (i = 0; i < 4; i++) {
            six = 0;
            if (i < n)
                six = perf_base64_value_(in.text[in.at + i]);
            wrong |= six;
            value = value << 6 | (six & 63);
        }
        if (wrong > 63 || n == 1) {
            in.bad = 1;
            break;
        }
        value = value >> 16 | (value & 0xff00) | (value & 255) << 16;
        in.bits |= PERF_CAST_(uint64_t, value) << in.count;
        in.count += PERF_CAST_(unsigned, 6 * n / 8 * 8);
        in.at += n;
    }
    return in;
}

/* The next n <= 16 bits; 0 at the end of the text, which is then bad. */
PERF_FN unsigned perf_inflate_bits_(perf_hlog_bits_ *in, unsigned n)
{
    unsigned value;

    if (in->count < n)
        *in = perf_hlog_filled_(*in);
    if (in->count < n) {
        in->bad = 1;
        return 0;
    }
    value = PERF_CAST_(unsigned, in->bits & ((1u << n) - 1));
    in->bits >>= n;
    in->count -= n;
    return value;
}

/* A big-endian number that is not compressed. */
PERF_FN uint64_t perf_hlog_raw_(perf_hlog_source_ *source, int bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | perf_inflate_bits_(&source->in, 8);
    return value;
}

/* Makes the codes of n symbols from their lengths.  0: there are too many codes, or too few (but
 * deflate allows a single one).                                                                  */
PERF_FN int perf_huffman_make_(perf_huffman_ *huffman, const unsigned char *lengths, unsigned n)
{
    uint16_t first[17];
    unsigned i, code = 0, at = 0, length;
    int      room = 1;

    memset(huffman->count, 0, sizeof huffman->count);
    for (i = 0; i < n; i++)
        huffman->count[lengths[i]]++;
    huffman->count[0] = 0;
    first[1] = 0;
    for (i = 1; i < 16; i++) {
        room = 2 * room - huffman->count[i];    /* once below 0 it stays there                    */
        first[i + 1] = PERF_CAST_(uint16_t, first[i] + huffman->count[i]);
    }
    for (i = 0; i < n; i++)
        if (lengths[i])
            huffman->symbol[first[lengths[i]]++] = PERF_CAST_(uint16_t, i);
    huffman->fast[0] = 0;
    for (length = 1; length <= 9; length++, code <<= 1) {
        const size_t half = PERF_CAST_(size_t, 1) << (length - 1);  /* the table doubles          */
        memcpy(huffman->fast + half, huffman->fast, half * sizeof *huffman->fast);
        for (i = 0; i < huffman->count[length]; i++, code++, at++)
            huffman->fast[perf_reversed_(code, length)] =
                PERF_CAST_(uint16_t, huffman->symbol[at] * 16u | length);
    }
    return room == 0 || (huffman->count[1] == 1 && room == 1 << 14);
}

/* A code of over 9 bits, or the stream's last.  Canonical: those of one length are consecutive. */
PERF_FN unsigned perf_huffman_long_(perf_hlog_bits_ *in, const perf_huffman_ *huffman)
{
    unsigned code = 0, first = 0, index = 0, length;
    uint64_t bits = in->bits;

    for (length = 1; length < 16 && length <= in->count; length++, bits >>= 1) {
        unsigned n = huffman->count[length];
        code |= PERF_CAST_(unsigned, bits & 1);
        if (code - first < n) {
            in->bits >>= length;
            in->count -= length;
            return huffman->symbol[index + (code - first)];
        }
        index += n;
        first = (first + n) << 1;
        code <<= 1;
    }
    in->bad = 1;
    return 0;
}

PERF_FN unsigned perf_huffman_symbol_(perf_hlog_bits_ *in, const perf_huffman_ *huffman)
{
    unsigned fast;

    if (in->count < 15)
        *in = perf_hlog_filled_(*in);
    fast = huffman->fast[in->bits & 511];
    if (fast == 0 || (fast & 15) > in->count)
        return perf_huffman_long_(in, huffman);
    in->bits >>= fast & 15;
    in->count -= fast & 15;
    return fast >> 4;
}

/* With deflate's fixed codes (RFC 1951, 3.2.6), of 7 to 9 bits: short lines have nothing else, and
 * a table would cost more than they do.                                                          */
PERF_FN unsigned perf_fixed_symbol_(perf_hlog_bits_ *in)
{
    unsigned code, length, symbol;

    if (in->count < 9)
        *in = perf_hlog_filled_(*in);
    code = perf_reversed_(PERF_CAST_(unsigned, in->bits & 511), 9);
    length = 8;
    if (code < 96) {
        length = 7;
        symbol = 256 + code / 4;
    } else if (code < 384) {
        symbol = code / 2 - 48;
    } else if (code < 400) {
        symbol = code / 2 + 88;
    } else {
        length = 9;
        symbol = code - 256;
    }
    in->bad |= length > in->count;
    if (in->bad)
        return 0;
    in->bits >>= length;
    in->count -= length;
    return symbol;
}

/* The tables of a block with codes of its own. */
PERF_FN void perf_inflate_tables_(perf_hlog_source_ *source)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    perf_hlog_bits_ *in = &source->in;
    unsigned char    lengths[320];
    unsigned         i, literals = perf_inflate_bits_(in, 5) + 257;
    unsigned         distances = perf_inflate_bits_(in, 5) + 1;
    unsigned         coded = perf_inflate_bits_(in, 4) + 4;

    memset(lengths, 0, sizeof lengths);
    for (i = 0; i < coded; i++)
        lengths[order[i]] = PERF_CAST_(unsigned char, perf_inflate_bits_(in, 3));
    in->bad |= literals > 286 || distances > 30 ||
               !perf_huffman_make_(&source->literal, lengths, 19);
    for (i = 0; i < literals + distances && !in->bad;) {
        unsigned      symbol = perf_huffman_symbol_(in, &source->literal), times = 1;
        unsigned char value = PERF_CAST_(unsigned char, symbol);
        if (symbol >= 16)
            value = 0;
        if (symbol == 16) {                     /* the last one again                             */
            times = 3 + perf_inflate_bits_(in, 2);
            value = 255;
            if (i)
                value = lengths[i - 1];
        } else if (symbol == 17) {
            times = 3 + perf_inflate_bits_(in, 3);
        } else if (symbol == 18) {
            times = 11 + perf_inflate_bits_(in, 7);
        }
        in->bad |= value > 15 || times > literals + distances - i;
        while (times-- && !in->bad)
            lengths[i++] = value;
    }
    if (in->bad || lengths[256] == 0 || !perf_huffman_make_(&source->literal, lengths, literals)) {
        in->bad = 1;
        return;
    }
    /* No distance code at all is allowed: the block then has only literals. */
    if (!perf_huffman_make_(&source->distant, lengths + literals, distances))
        for (i = 0; i < distances; i++)
            in->bad |= lengths[literals + i] != 0;
}

/* The start of a block, or the end of the stream. */
PERF_FN void perf_inflate_block_(perf_hlog_source_ *source)
{
    perf_hlog_bits_ *in = &source->in;
    unsigned         type = 0;

    if (!source->last) {
        source->last = PERF_CAST_(int, perf_inflate_bits_(in, 1));
        type = perf_inflate_bits_(in, 2);
        source->mode = PERF_INFLATE_CODES_;
        if (type == 0)
            source->mode = PERF_INFLATE_STORED_;
    } else {
        source->mode = PERF_INFLATE_END_;
    }
    if (source->mode == PERF_INFLATE_CODES_) {
        in->bad |= type == 3;
        source->fixed = type == 1;
        if (type == 2 && !in->bad)
            perf_inflate_tables_(source);
        return;
    }
    in->bits >>= in->count % 8;                 /* on to the next whole byte                      */
    in->count -= in->count % 8;
    if (source->mode == PERF_INFLATE_STORED_) {
        source->stored = perf_inflate_bits_(in, 16);
        in->bad |= source->stored != (~perf_inflate_bits_(in, 16) & 0xffff);
    }
}

/* Literals of a block with codes of its own, as far as the next codes are short.  They run on a
 * local copy of the bits, so that they need not wait for the store of a byte.                    */
PERF_FN void perf_inflate_literals_(perf_hlog_source_ *source)
{
    perf_hlog_bits_ in = source->in;
    size_t          w;
    unsigned        fast;

    for (w = source->written; w + 258 < sizeof source->window; w++) {
        if (in.count < 15)
            in = perf_hlog_filled_(in);
        fast = source->literal.fast[in.bits & 511];
        if (fast == 0 || fast >= 256 << 4 || (fast & 15) > in.count)
            break;
        in.bits >>= fast & 15;
        in.count -= fast & 15;
        source->window[w] = PERF_CAST_(unsigned char, fast >> 4);
    }
    source->in = in;
    source->written = w;
}

/* The length of a match: lengths 3..10 have a symbol each, then every four take one more bit; 258
 * has its own.  symbol: from 0 on.                                                               */
PERF_FN unsigned perf_inflate_length_(perf_hlog_source_ *source, unsigned symbol)
{
    unsigned extra;

    if (symbol < 8)
        return symbol + 3;
    if (symbol >= 28)
        return 258;
    extra = symbol / 4 - 1;
    return ((4 + symbol % 4) << extra) + 3 + perf_inflate_bits_(&source->in, extra);
}

/* How far back a match lies, at least 1; 0: no such code. */
PERF_FN unsigned perf_inflate_distance_(perf_hlog_source_ *source)
{
    unsigned symbol, extra;

    if (source->fixed)
        symbol = perf_reversed_(perf_inflate_bits_(&source->in, 5), 5);
    else
        symbol = perf_huffman_symbol_(&source->in, &source->distant);
    if (symbol > 29)
        return 0;
    if (symbol < 4)
        return symbol + 1;
    extra = symbol / 2 - 1;
    return ((2 + symbol % 2) << extra) + 1 + perf_inflate_bits_(&source->in, extra);
}

/* Symbols of a block, until it ends or the window has no room for a match. */
PERF_FN void perf_inflate_codes_(perf_hlog_source_ *source)
{
    unsigned symbol, length, distance;

    while (source->mode == PERF_INFLATE_CODES_ && source->written + 258 <= sizeof source->window &&
           !source->in.bad) {
        if (source->fixed) {
            symbol = perf_fixed_symbol_(&source->in);
        } else {
            perf_inflate_literals_(source);
            symbol = perf_huffman_symbol_(&source->in, &source->literal);
        }
        if (symbol < 256) {                     /* there is room: 258 bytes of it                 */
            source->window[source->written++] = PERF_CAST_(unsigned char, symbol);
            continue;
        }
        if (symbol == 256) {
            source->mode = PERF_INFLATE_BLOCK_;
            continue;
        }
        if (symbol > 257 + 28) {
            source->in.bad = 1;
            return;
        }
        length = perf_inflate_length_(source, symbol - 257);
        distance = perf_inflate_distance_(source);
        if (distance == 0 || distance > source->written)
            source->in.bad = 1;
        for (; length && !source->in.bad; length--, source->written++)
            source->window[source->written] = source->window[source->written - distance];
    }
}

/* Puts more bytes into the window, all of which has been read.  0: there are none, as the stream
 * has ended or the line is bad.                                                                  */
PERF_FN int perf_inflate_more_(perf_hlog_source_ *source)
{
    perf_hlog_bits_ *in = &source->in;

    if (source->mode == PERF_INFLATE_END_ || in->bad)
        return 0;
    if (source->written > PERF_WINDOW_) {
        memmove(source->window, source->window + source->written - PERF_WINDOW_, PERF_WINDOW_);
        source->written = PERF_WINDOW_;
    }
    source->read = source->written;
    while (source->mode != PERF_INFLATE_END_ && !in->bad &&
           source->written + 258 <= sizeof source->window) {
        if (source->mode == PERF_INFLATE_CODES_) {
            perf_inflate_codes_(source);
        } else if (source->mode == PERF_INFLATE_STORED_ && source->stored) {
            source->window[source->written++] =
                PERF_CAST_(unsigned char, perf_inflate_bits_(in, 8));
            source->stored--;
        } else {
            perf_inflate_block_(source);
        }
    }
    source->adler =
        perf_adler32_(source->adler, source->window + source->read, source->written - source->read);
    if (source->mode == PERF_INFLATE_END_ && !in->bad)
        in->bad = perf_hlog_raw_(source, 4) != source->adler || in->count || in->at < in->end;
    return source->written > source->read && !in->bad;
}

/* Next byte of the inflated content; -1: its end or bad. */
PERF_FN int perf_hlog_byte_(perf_hlog_source_ *source)
{
    if (source->read == source->written && !perf_inflate_more_(source))
        return -1;
    return source->window[source->read++];
}

PERF_FN uint64_t perf_hlog_get_be_(perf_hlog_source_ *source, int bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0) {
        int byte = perf_hlog_byte_(source);
        source->in.bad |= byte < 0;
        value = value << 8 | (PERF_CAST_(uint64_t, byte) & 255);
    }
    return value;
}

/* Where a line's values go: a pass adds all steps, or takes the first ones back if that failed. */
typedef struct perf_hlog_target_ {
    perf_hist       *into;          /* NULL: only check                                           */
    perf_hist_shape_ shape;         /* of into                                                    */
    unsigned         bits;          /* the line's: 2^bits buckets an octave                       */
    unsigned         unit;          /* log2 of the line's smallest value                          */
    int              minus;         /* 1: the pass takes back, 0: it adds                         */
    uint64_t         steps, done;   /* buckets to add or take back at most, and so far            */
    uint64_t         count, sum;
    uint64_t         first, last;   /* occupied buckets of the line, valid when count > 0         */
    uint64_t         length;        /* how many counts the line can have                          */
} perf_hlog_target_;

/* The first value of a bucket of the line (see perf_hlog_index_); *width becomes the number of
 * integers in it.                                                                                */
PERF_FN uint64_t perf_hlog_lower_(const perf_hlog_target_ *target, uint64_t index, uint64_t *width)
{
    unsigned shift = 0;

    if (index >> target->bits > 1)
        shift = PERF_CAST_(unsigned, index >> target->bits) - 1;
    index -= PERF_CAST_(uint64_t, shift) << target->bits;
    *width = UINT64_C(1) << (shift + target->unit);
    return index << (shift + target->unit);
}

/* Bucket `index`, less than the length, holds n > 0 values.  0: that cannot be.  The first one for
 * which a counter has no room ends the steps: the others are only counted.                       */
PERF_FN int perf_hlog_take_(perf_hlog_target_ *target, uint64_t index, uint64_t n)
{
    uint64_t value, width;

    if (n >> 63 || (target->count + n) >> 63)
        return 0;
    value = perf_hlog_lower_(target, index, &width);
    value += width / 2;                         /* where HdrHistogram takes the bucket to be      */
    if (target->done < target->steps) {
        if (perf_hist_book_(target->into, &target->shape, value, n, target->minus))
            target->done++;
        else
            target->steps = target->done;
    }
    if (!target->count)
        target->first = index;
    target->last = index;
    target->count += n;
    target->sum += value * n;
    return 1;
}

/* V2: signed numbers of 7 bits a byte, a negative one is a run of empty buckets. */
PERF_FN int perf_hlog_zigzag_(perf_hlog_source_ *source, uint64_t *left, int64_t *x)
{
    uint64_t value = 0;
    int      shift, byte = 128;

    for (shift = 0; byte > 127 && shift < 63; shift += 7) {
        byte = -1;
        if (*left)
            byte = perf_hlog_byte_(source);
        if (byte < 0)
            return 0;
        --*left;
        if (shift == 56)                        /* the ninth byte is whole                        */
            value |= PERF_CAST_(uint64_t, byte) << shift;
        else
            value |= PERF_CAST_(uint64_t, byte & 127) << shift;
    }
    *x = PERF_CAST_(int64_t, value >> 1 ^ (0 - (value & 1)));
    return 1;
}

/* 1: the counts end where `left` says that 40 bytes are to come: old versions of HdrHistogram_c
 * counted the front, too.                                                                        */
PERF_FN int perf_hlog_short_by_header_(perf_hlog_source_ *source, uint64_t left)
{
    return left == PERF_ZIP_FRONT_ && source->read == source->written &&
           !perf_inflate_more_(source) && !source->in.bad;
}

/* The counts of a V0 or V1 line: words of 2, 4 or 8 bytes.  `left` bytes; UINT64_MAX: V0, which has
 * no length.                                                                                     */
PERF_FN int perf_hlog_words_(perf_hlog_source_ *source, perf_hlog_target_ *target, uint64_t left,
                             int word)
{
    uint64_t index, n, bytes = PERF_CAST_(uint64_t, word);

    for (index = 0; left && !perf_hlog_short_by_header_(source, left); index++) {
        if (source->read == source->written && !perf_inflate_more_(source))
            return left == UINT64_MAX && !source->in.bad;
        if (left < bytes)
            return 0;
        n = perf_hlog_get_be_(source, word);
        if (source->in.bad || index >= target->length || (n && !perf_hlog_take_(target, index, n)))
            return 0;
        if (left != UINT64_MAX)
            left -= bytes;
    }
    return 1;
}

/* The counts of a V2 line. */
PERF_FN int perf_hlog_numbers_(perf_hlog_source_ *source, perf_hlog_target_ *target, uint64_t left)
{
    uint64_t index = 0, run;
    int64_t  value;

    while (left && !perf_hlog_short_by_header_(source, left)) {
        if (!perf_hlog_zigzag_(source, &left, &value))
            return 0;
        run = 1;
        if (value < 0)
            run = PERF_CAST_(uint64_t, -(value + 1)) + 1;
        if (run > target->length - index ||
            (value > 0 && !perf_hlog_take_(target, index, PERF_CAST_(uint64_t, value))))
            return 0;
        index += run;
    }
    return 1;
}

/* What stands before the compressed stream; -1: not a histogram, else its version. */
PERF_FN int perf_hlog_open_(perf_hlog_source_ *source, const char *text, size_t at, size_t end)
{
    uint64_t cookie, deflated, bytes, front = 8;
    unsigned head;

    memset(source, 0, offsetof(perf_hlog_source_, literal));
    while (end > at && text[end - 1] == '=')
        end--;
    source->in.text = text;
    source->in.at = at;
    source->in.end = end;
    source->adler = 1;
    bytes = PERF_CAST_(uint64_t, end - at) * 6 / 8;
    cookie = perf_hlog_raw_(source, 4);
    if (cookie == UINT32_C(0x0c72124f)) {  /* "DHIST": digits and range of a double histogram */
        (void)perf_hlog_raw_(source, 12);
        cookie = perf_hlog_raw_(source, 4);
        front += 16;
    }
    deflated = perf_hlog_raw_(source, 4);
    head = PERF_CAST_(unsigned, perf_hlog_raw_(source, 2)); /* zlib: deflate, no dictionary       */
    if (source->in.bad || deflated + front != bytes || (head >> 8 & 15) != 8 || head % 31 ||
        (head & 32))
        return -1;
    cookie &= UINT32_C(0xffffff0f);
    if (cookie == UINT32_C(0x1c849309))
        return 0;
    if (cookie == UINT32_C(0x1c849302))
        return 1;
    if (cookie == UINT32_C(0x1c849304))
        return 2;
    return -1;
}

/* The numbers before the counts: layout of the line in `target` and iv.  *left: bytes of the
 * counts, or UINT64_MAX where V0 does not say; *word: bytes of each (V0, V1).  0: malformed.     */
PERF_FN int perf_hlog_head_(perf_hlog_source_ *source, perf_hlog_target_ *target,
                            perf_hlog_interval *iv, uint64_t *left, int *word)
{
    static const unsigned char bits_of_digits[6] = {0, 4, 7, 10, 14, 17};
    static const uint32_t      plain[3] = {UINT32_C(0x1c849308), UINT32_C(0x1c849301),
                                           UINT32_C(0x1c849303)};
    uint64_t cookie = perf_hlog_get_be_(source, 4), digits, lowest, highest;
    unsigned octaves;
    int      word_ok, left_ok, sound;

    *word = PERF_CAST_(int, cookie >> 4 & 14);  /* bytes of a count; V2 has 1 there, so 0         */
    *left = UINT64_MAX;
    if (iv->version > 0) {
        *left = perf_hlog_get_be_(source, 4);
        (void)perf_hlog_get_be_(source, 4);     /* index offset: counts are in order anyway       */
    }
    digits = perf_hlog_get_be_(source, 4);
    lowest = perf_hlog_get_be_(source, 8);
    highest = perf_hlog_get_be_(source, 8);
    iv->ratio = perf_from_bits_(perf_hlog_get_be_(source, 8));
    if (iv->version == 0)
        iv->ratio = 1.0;                        /* that was a total: we count ourselves           */
    word_ok = iv->version == 2 || *word == 2 || *word == 4 || *word == 8;
    left_ok = *left >> 31 == 0 || *left == UINT64_MAX;
    sound = (cookie & UINT32_C(0xffffff0f)) == plain[iv->version] && digits <= 5 && lowest > 0 &&
            highest >> 63 == 0 && lowest <= highest / 2 && left_ok && word_ok;
    if (source->in.bad || !sound)
        return 0;
    iv->digits = PERF_CAST_(int, digits);
    target->bits = bits_of_digits[digits];
    for (target->unit = 0; lowest >> target->unit > 1; target->unit++)
        continue;
    if (target->unit + target->bits > 60)
        return 0;
    for (octaves = 1; highest >> target->unit >> octaves; octaves++)    /* at least 2             */
        continue;
    if (octaves > target->bits + 1)
        target->length = UINT64_C(1) + octaves - target->bits;
    else
        target->length = 2;
    target->length <<= target->bits;
    return 1;
}

/* 1: the values of the line can go to the target, by bits and unit (ratio: the line's). */
PERF_FN int perf_hlog_suits_(const perf_hlog_target_ *target, double ratio)
{
    double unit;

    if (!target->into)
        return 1;
    unit = perf_hist_peek_(target->into)->unit;
    if (target->shape.bits > target->bits)
        return 0;
    return !(unit > 0.0) || perf_bits_(unit) == perf_bits_(ratio);
}

/* One pass over the line's histogram, of iv->version (-1: none).  PERF_EFORMAT: malformed,
 * source->in.at tells about where; PERF_ERANGE: that, or a counter did not fit; PERF_EINVAL: sound,
 * but not for `into`.                                                                            */
PERF_FN perf_status perf_hlog_pass_(perf_hlog_source_ *source, perf_hlog_target_ *target,
                                    perf_hlog_interval *iv)
{
    uint64_t left;
    int      word, suits, whole;

    if (iv->version < 0 || !perf_hlog_head_(source, target, iv, &left, &word))
        return PERF_EFORMAT;
    suits = perf_hlog_suits_(target, iv->ratio);
    if (!suits)
        target->steps = 0;
    if (iv->version == 2)
        whole = perf_hlog_numbers_(source, target, left);
    else
        whole = perf_hlog_words_(source, target, left, word);
    if (whole && source->read == source->written) /* reads the checksum as well                   */
        (void)perf_inflate_more_(source);
    if (!whole || source->in.bad || source->read != source->written ||
        source->mode != PERF_INFLATE_END_)
        return PERF_EFORMAT;
    if (!suits)
        return PERF_EINVAL;
    if (target->into && target->steps != UINT64_MAX)
        return PERF_ERANGE;
    return PERF_OK;
}

/* Adds all of the line's histogram to `into`, or nothing. */
PERF_FN perf_status perf_hlog_add_(const char *text, size_t at, size_t end, size_t *error_at,
                                   perf_hlog_interval *iv, perf_hist *into)
{
    perf_hlog_source_ source;
    perf_hlog_target_ target = PERF_ZERO;
    perf_hist_head_  *head = perf_hist_at_(into);
    uint64_t          held = perf_hist_count(into), edge, width;
    perf_status       status;

    target.into = into;
    if (into) {
        target.shape = perf_hist_shape_of_(into);
        target.steps = UINT64_MAX;
    }
    iv->version = perf_hlog_open_(&source, text, at, end);
    status = perf_hlog_pass_(&source, &target, iv);
    iv->count = target.count;
    if (status == PERF_OK && into && (target.count + held) >> 63)
        status = PERF_ERANGE;
    *error_at = at;
    if (status == PERF_EFORMAT)
        *error_at = source.in.at;
    if (status != PERF_OK && target.done) {     /* take back what was added                       */
        target.steps = target.done;
        target.count = target.done = 0;
        target.minus = 1;
        (void)perf_hlog_open_(&source, text, at, end);
        (void)perf_hlog_pass_(&source, &target, iv);
    }
    if (status != PERF_OK || !into || target.count == 0)
        return status;
    head->sums[0] += target.sum;
    edge = perf_hlog_lower_(&target, target.first, &width);
    if (~edge > head->not_min)
        head->not_min = ~edge;
    edge = perf_hlog_lower_(&target, target.last, &width) + width - 1;
    if (edge > head->max)
        head->max = edge;
    return PERF_OK;
}

/* A plain decimal number at text[*at], behind which *at then is; 0: there is none. */
PERF_FN int perf_hlog_number_(const char *text, size_t *at, size_t end, double *x)
{
    double scale = 1.0, value = 0.0;
    int    n = 0, minus = 0, point = 0;

    while (*at < end && (text[*at] == ' ' || text[*at] == '\t'))
        ++*at;
    if (*at < end && (text[*at] == '-' || text[*at] == '+')) {
        minus = text[*at] == '-';
        ++*at;
    }
    for (; *at < end && n < 300; ++*at) {
        if (text[*at] == '.' && !point) {
            point = 1;
            continue;
        }
        if (text[*at] < '0' || text[*at] > '9')
            break;
        value = 10.0 * value + (text[*at] - '0');
        if (point)
            scale *= 10.0;
        n++;
    }
    *x = value / scale;
    if (minus)
        *x = -*x;
    return n > 0;
}

/* 1: text[at .. end) begins with `prefix`. */
PERF_FN int perf_hlog_prefix_(const char *text, size_t at, size_t end, const char *prefix)
{
    size_t n = strlen(prefix);

    return end - at >= n && memcmp(text + at, prefix, n) == 0;
}

/* The number behind `prefix`, if text[at .. end) begins with that; else *x stays. */
PERF_FN void perf_hlog_comment_(const char *text, size_t at, size_t end, const char *prefix,
                                double *x)
{
    size_t number = at + strlen(prefix);

    if (perf_hlog_prefix_(text, at, end, prefix))
        (void)perf_hlog_number_(text, &number, end, x);
}

/* The fields of a line and its histogram; reader->error_at is set when the answer is not
 * PERF_OK.                                                                                       */
PERF_FN perf_status perf_hlog_line_(perf_hlog_reader *reader, size_t at, size_t end,
                                    perf_hlog_interval *iv, perf_hist *into)
{
    double *field[3] = {&iv->start_seconds, &iv->length_seconds, &iv->max};
    size_t  tag = at;
    int     i;

    reader->error_at = at;
    if (perf_hlog_prefix_(reader->text, at, end, "Tag=")) {
        tag = at + 4;
        while (at < end && reader->text[at] != ',')
            at++;
        iv->tag = reader->text + tag;
        iv->tag_size = at - tag;
        at += at < end;
    }
    for (i = 0; i < 3; i++) {
        reader->error_at = at;
        if (!perf_hlog_number_(reader->text, &at, end, field[i]))
            return PERF_EFORMAT;
        while (at < end && reader->text[at] == ' ')
            at++;
        reader->error_at = at;
        if (at == end || reader->text[at++] != ',')
            return PERF_EFORMAT;
    }
    while (at < end && reader->text[at] == ' ')
        at++;
    return perf_hlog_add_(reader->text, at, end, &reader->error_at, iv, into);
}

PERF_FN perf_status perf_hlog_next(perf_hlog_reader *reader, perf_hlog_interval *iv,
                                   perf_hist *into)
{
    perf_hlog_interval none = PERF_ZERO;

    if (!reader || !iv || (!reader->text && reader->size))
        return PERF_EINVAL;
    while (reader->at < reader->size) {
        size_t at = reader->at, end;
        for (end = at; end < reader->size && reader->text[end] != '\n'; end++)
            continue;
        reader->at = end + (end < reader->size);
        while (end > at && (reader->text[end - 1] == '\r' || reader->text[end - 1] == ' '))
            end--;
        if (at == end || reader->text[at] == '"')
            continue;
        if (reader->text[at] == '#') {
            perf_hlog_comment_(reader->text, at, end, "#[StartTime:", &reader->start_seconds);
            perf_hlog_comment_(reader->text, at, end, "#[BaseTime:", &reader->base_seconds);
            continue;
        }
        *iv = none;
        iv->offset = at;
        return perf_hlog_line_(reader, at, end, iv, into);
    }
    return PERF_ENODATA;
}

PERF_END_DECLS

#endif /* PERF_HLOG_H */
