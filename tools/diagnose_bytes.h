/* diagnose_bytes.h - the bytes of a trace, piece by piece: a file, standard input, either packed
 * by gzip.
 *
 *     diag_bytes in;
 *     if (diag_bytes_open(&in, "trace.json.gz", &error) == 0)
 *         while ((ch = diag_byte(&in)) >= 0) ...
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
    int             over;               /* 1: the last packed stream has ended                    */
    diag_zstream    z;
    int           (*inflate)(diag_zstream *, int);
    int           (*inflate_end)(diag_zstream *);
    int           (*inflate_reset)(diag_zstream *);
} diag_bytes;

/* Ends the reading with a sentence.  Returns -1. */
PERF_FN int diag_bytes_fail(diag_bytes *bytes, const char *why)
{
    if (!bytes->failed)
        ab_fail(bytes->e, bytes->file, bytes->line, 1, "%s", why);
    bytes->failed = 1;
    return -1;
}

/* Finds zlib and begins a stream of gzip.  -1 with a message. */
PERF_FN int diag_unpack_begin(diag_bytes *bytes)
{
    enum { GZIP = 15 + 16 };
    int (*begin)(diag_zstream *, int, const char *, int) = NULL;
    void *library = look_dlopen ? look_dlopen("libz.so.1", 2) : NULL;
    void *symbol[4] = {NULL, NULL, NULL, NULL};

    if (library) {
        symbol[0] = look_dlsym(library, "inflateInit2_");
        symbol[1] = look_dlsym(library, "inflate");
        symbol[2] = look_dlsym(library, "inflateEnd");
        symbol[3] = look_dlsym(library, "inflateReset");
    }
    if (!symbol[0] || !symbol[1] || !symbol[2] || !symbol[3])
        return diag_bytes_fail(bytes, "packed by gzip, and zlib (libz.so.1) is not installed: "
                                      "gzip -dc FILE | perf-ab diagnose -");
    memcpy(&begin, &symbol[0], sizeof begin);
    memcpy(&bytes->inflate, &symbol[1], sizeof bytes->inflate);
    memcpy(&bytes->inflate_end, &symbol[2], sizeof bytes->inflate_end);
    memcpy(&bytes->inflate_reset, &symbol[3], sizeof bytes->inflate_reset);
    if (begin(&bytes->z, GZIP, "1", (int)sizeof bytes->z) == 0)
        return 0;
    bytes->inflate_end = NULL;
    return diag_bytes_fail(bytes, "zlib cannot unpack this file");
}

/* Reads on in a packed file, once all that was read is unpacked.  0: that was its end. */
PERF_FN int diag_packed_more(diag_bytes *bytes)
{
    if (!bytes->z.avail_in) {
        bytes->z.next_in = bytes->packed;
        bytes->z.avail_in = (unsigned)fread(bytes->packed, 1, DIAG_PIECE, bytes->f);
    }
    return bytes->z.avail_in != 0;
}

/* Behind the end of a stream: begins the next one, if there is one.  A file of gzip may be several of
 * them in a row (RFC 1952).                                                                      */
PERF_FN void diag_unpack_next(diag_bytes *bytes)
{
    bytes->over = !diag_packed_more(bytes) || bytes->z.next_in[0] != 0x1f ||
                  bytes->inflate_reset(&bytes->z) != 0;
}

/* The next piece of a packed file.  Bytes of it; 0: the end; -1 with a message. */
PERF_FN int diag_unpack(diag_bytes *bytes)
{
    enum { STREAM_END = 1 };
    int status = 0;

    bytes->z.next_out = bytes->piece;
    bytes->z.avail_out = (unsigned)DIAG_PIECE;
    while (bytes->z.avail_out == DIAG_PIECE && !bytes->over) {
        if (!diag_packed_more(bytes))
            return diag_bytes_fail(bytes, "the packed file is cut off");
        status = bytes->inflate(&bytes->z, 0);
        if (status != 0 && status != STREAM_END)
            return diag_bytes_fail(bytes, "the packed file is damaged");
        if (status == STREAM_END)
            diag_unpack_next(bytes);
    }
    return (int)(DIAG_PIECE - bytes->z.avail_out);
}

/* Fetches the next piece.  1: there is one. */
PERF_FN int diag_bytes_more(diag_bytes *bytes)
{
    int n;

    bytes->before += bytes->n;
    bytes->at = bytes->n = 0;
    if (bytes->failed)
        return 0;
    if (bytes->before > DIAG_MOST_BYTES) {
        diag_bytes_fail(bytes, "more than 2 GiB of text: profile fewer steps");
        return 0;
    }
    n = bytes->packed ? diag_unpack(bytes) : (int)fread(bytes->piece, 1, DIAG_PIECE, bytes->f);
    if (n <= 0 && ferror(bytes->f))
        diag_bytes_fail(bytes, strerror(errno));
    bytes->n = n > 0 ? (size_t)n : 0;
    return bytes->n > 0;
}

/* The next byte without taking it; -1: the end, or a failure. */
PERF_FN int diag_peek(diag_bytes *bytes)
{
    if (bytes->at == bytes->n && !diag_bytes_more(bytes))
        return -1;
    return bytes->piece[bytes->at];
}

/* The next byte; -1: the end, or a failure. */
PERF_FN int diag_byte(diag_bytes *bytes)
{
    const int ch = diag_peek(bytes);

    if (ch < 0)
        return -1;
    bytes->at++;
    bytes->line += ch == '\n';
    return ch;
}

PERF_FN void diag_bytes_close(diag_bytes *bytes)
{
    if (bytes->inflate_end)
        bytes->inflate_end(&bytes->z);
    if (bytes->f && bytes->f != stdin)
        fclose(bytes->f);
    free(bytes->packed);
    free(bytes->piece);
    memset(bytes, 0, sizeof *bytes);
}

/* Opens a trace; "-" is standard input.  -1 with a message; close it in any case. */
PERF_FN int diag_bytes_open(diag_bytes *bytes, const char *file, ab_error *error)
{
    memset(bytes, 0, sizeof *bytes);
    bytes->file = file;
    bytes->e = error;
    bytes->f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    if (!bytes->f)
        return ab_fail(error, file, 0, 0, "cannot be opened: %s", strerror(errno));
    bytes->piece = (unsigned char *)ab_grow(NULL, DIAG_PIECE, 1);
    errno = 0;
    if (!diag_bytes_more(bytes))
        return ab_fail(error, file, 0, 0, "%s", errno ? strerror(errno) : "this file is empty");
    bytes->line = 1;
    if (bytes->n < 2 || bytes->piece[0] != 0x1f || bytes->piece[1] != 0x8b)
        return 0;
    bytes->packed = bytes->piece;
    bytes->piece = (unsigned char *)ab_grow(NULL, DIAG_PIECE, 1);
    bytes->z.next_in = bytes->packed;
    bytes->z.avail_in = (unsigned)bytes->n;
    bytes->at = bytes->n = 0;
    return diag_unpack_begin(bytes);
}

#endif
