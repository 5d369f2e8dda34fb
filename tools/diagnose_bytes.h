/* diagnose_bytes.h - the bytes of a trace, piece by piece: a file, standard input, either packed
 * by gzip.
 *
 *     diag_bytes in;
 *     if (diag_bytes_open(&in, "trace.json.gz", e) == 0)
 *         while ((c = diag_byte(&in)) >= 0) ...
 *
 * Memory is bounded: two pieces of 64 KiB, whatever the file holds.  zlib is looked for when a file
 * needs it; without it a sentence says what to do.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_BYTES_H
#define PERF_TOOLS_DIAGNOSE_BYTES_H

#include "ab.h"
#include "look_core.h"

#define DIAG_PIECE      ((size_t)1 << 16)
#define DIAG_MOST_BYTES (UINT64_C(2) << 30)         /* of the unpacked text                       */

/* What zlib's inflate() takes, in the order of its manual. */
typedef struct diag_zstream {
    const unsigned char *next_in;
    unsigned             avail_in;
    unsigned long        total_in;
    unsigned char       *next_out;
    unsigned             avail_out;
    unsigned long        total_out;
    const char          *message;
    void                *state, *alloc, *release, *opaque;
    int                  data_type;
    unsigned long        check, reserved;
} diag_zstream;

typedef struct diag_bytes {
    FILE           *f;
    const char     *file;               /* its name in messages                                   */
    ab_error       *e;
    unsigned char  *packed;             /* a piece of the file; NULL: it is not packed            */
    unsigned char  *piece;              /* a piece of the text                                    */
    size_t          at, n;              /* the next byte of it, and its length                    */
    uint64_t        before;             /* bytes of the text in earlier pieces                    */
    size_t          line;               /* of the next byte, from 1                               */
    int             failed;             /* 1: e says why                                          */
    int             over;               /* 1: the packed stream has ended                         */
    diag_zstream    z;
    int           (*inflate)(diag_zstream *, int);
    int           (*inflate_end)(diag_zstream *);
} diag_bytes;

/* Ends the reading with a sentence.  Returns -1. */
PERF_FN int diag_bytes_fail(diag_bytes *b, const char *why)
{
    if (!b->failed)
        ab_fail(b->e, b->file, b->line, 1, "%s", why);
    b->failed = 1;
    return -1;
}

/* Finds zlib and begins a stream of gzip.  -1 with a message. */
PERF_FN int diag_unpack_begin(diag_bytes *b)
{
    enum { GZIP = 15 + 16 };
    int (*begin)(diag_zstream *, int, const char *, int) = NULL;
    void *library = look_dlopen ? look_dlopen("libz.so.1", 2) : NULL;
    void *symbol[3] = {NULL, NULL, NULL};

    if (library) {
        symbol[0] = look_dlsym(library, "inflateInit2_");
        symbol[1] = look_dlsym(library, "inflate");
        symbol[2] = look_dlsym(library, "inflateEnd");
    }
    if (!symbol[0] || !symbol[1] || !symbol[2])
        return diag_bytes_fail(b, "packed by gzip, and zlib (libz.so.1) is not installed: "
                                  "gzip -dc FILE | perf-ab diagnose -");
    memcpy(&begin, &symbol[0], sizeof begin);
    memcpy(&b->inflate, &symbol[1], sizeof b->inflate);
    memcpy(&b->inflate_end, &symbol[2], sizeof b->inflate_end);
    if (begin(&b->z, GZIP, "1", (int)sizeof b->z) == 0)
        return 0;
    b->inflate_end = NULL;
    return diag_bytes_fail(b, "zlib cannot unpack this file");
}

/* The next piece of a packed file.  Bytes of it; 0: the end; -1 with a message. */
PERF_FN int diag_unpack(diag_bytes *b)
{
    enum { STREAM_END = 1 };
    int status = 0;

    b->z.next_out = b->piece;
    b->z.avail_out = (unsigned)DIAG_PIECE;
    while (b->z.avail_out == DIAG_PIECE && !b->over) {
        if (!b->z.avail_in) {
            b->z.next_in = b->packed;
            b->z.avail_in = (unsigned)fread(b->packed, 1, DIAG_PIECE, b->f);
            if (!b->z.avail_in)
                return diag_bytes_fail(b, "the packed file is cut off");
        }
        status = b->inflate(&b->z, 0);
        if (status != 0 && status != STREAM_END)
            return diag_bytes_fail(b, "the packed file is damaged");
        b->over = status == STREAM_END;
    }
    return (int)(DIAG_PIECE - b->z.avail_out);
}

/* Fetches the next piece.  1: there is one. */
PERF_FN int diag_bytes_more(diag_bytes *b)
{
    int n;

    b->before += b->n;
    b->at = b->n = 0;
    if (b->failed)
        return 0;
    if (b->before > DIAG_MOST_BYTES) {
        diag_bytes_fail(b, "more than 2 GiB of text: profile fewer steps");
        return 0;
    }
    n = b->packed ? diag_unpack(b) : (int)fread(b->piece, 1, DIAG_PIECE, b->f);
    if (n <= 0 && ferror(b->f))
        diag_bytes_fail(b, strerror(errno));
    b->n = n > 0 ? (size_t)n : 0;
    return b->n > 0;
}

/* The next byte without taking it; -1: the end, or a failure. */
PERF_FN int diag_peek(diag_bytes *b)
{
    if (b->at == b->n && !diag_bytes_more(b))
        return -1;
    return b->piece[b->at];
}

/* The next byte; -1: the end, or a failure. */
PERF_FN int diag_byte(diag_bytes *b)
{
    const int c = diag_peek(b);

    if (c < 0)
        return -1;
    b->at++;
    b->line += c == '\n';
    return c;
}

PERF_FN void diag_bytes_close(diag_bytes *b)
{
    if (b->inflate_end)
        b->inflate_end(&b->z);
    if (b->f && b->f != stdin)
        fclose(b->f);
    free(b->packed);
    free(b->piece);
    memset(b, 0, sizeof *b);
}

/* Opens a trace; "-" is standard input.  -1 with a message; close it in any case. */
PERF_FN int diag_bytes_open(diag_bytes *b, const char *file, ab_error *e)
{
    memset(b, 0, sizeof *b);
    b->file = file;
    b->e = e;
    b->f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    if (!b->f)
        return ab_fail(e, file, 0, 0, "cannot be opened: %s", strerror(errno));
    b->piece = (unsigned char *)ab_grow(NULL, DIAG_PIECE, 1);
    errno = 0;
    if (!diag_bytes_more(b))
        return ab_fail(e, file, 0, 0, "%s", errno ? strerror(errno) : "this file is empty");
    b->line = 1;
    if (b->n < 2 || b->piece[0] != 0x1f || b->piece[1] != 0x8b)
        return 0;
    b->packed = b->piece;
    b->piece = (unsigned char *)ab_grow(NULL, DIAG_PIECE, 1);
    b->z.next_in = b->packed;
    b->z.avail_in = (unsigned)b->n;
    b->at = b->n = 0;
    return diag_unpack_begin(b);
}

#endif
