/* Lines of a log around content of our choice: a stored block, its checksum, base64. */
#ifndef PERF_TESTS_FORMATS_LINES_H
#define PERF_TESTS_FORMATS_LINES_H

#include "perf_hlog.h"

/* n bytes of `raw` as base64 with padding; returns the characters. */
static size_t line_base64(char *out, const unsigned char *raw, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k = 0;
    int    digit;

    for (i = 0; i < n; i += 3, k += 4) {
        uint64_t v = (uint64_t)raw[i] << 16;
        v |= i + 1 < n ? (uint64_t)raw[i + 1] << 8 : 0;
        v |= i + 2 < n ? raw[i + 2] : 0;
        for (digit = 0; digit < 4; digit++)
            out[k + (size_t)digit] = digits[v >> (18 - 6 * digit) & 63];
        if (i + 1 >= n)
            out[k + 2] = '=';
        if (i + 2 >= n)
            out[k + 3] = '=';
    }
    return k;
}

static unsigned char *line_be(unsigned char *p, uint64_t v, int bytes)
{
    while (bytes-- > 0)
        *p++ = (unsigned char)(v >> (8 * bytes) & 255);
    return p;
}

/* Adler-32 (RFC 1950) of n bytes. */
static uint64_t line_adler32(const unsigned char *content, size_t n)
{
    uint64_t sum = 1, sums = 0;
    size_t   i;

    for (i = 0; i < n; i++) {
        sum = (sum + content[i]) % 65521;
        sums = (sums + sum) % 65521;
    }
    return sums << 16 | sum;
}

/* A compressed stream of n <= 60000 bytes; `raw` has room for 24 more.  Returns its size. */
static inline size_t line_stored(unsigned char *raw, uint32_t cookie, const unsigned char *content, size_t n)
{
    unsigned char *p = line_be(raw, cookie, 4);

    p = line_be(p, n + 11, 4);
    p = line_be(p, 0x7801, 2);
    *p++ = 1;
    *p++ = (unsigned char)(n & 255);
    *p++ = (unsigned char)(n >> 8);
    *p++ = (unsigned char)(~n & 255);
    *p++ = (unsigned char)(~n >> 8 & 255);
    memcpy(p, content, n);
    p = line_be(p + n, line_adler32(content, n), 4);
    return (size_t)(p - raw);
}

#endif
