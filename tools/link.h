/* link.h - a command that links the program again, its objects in another order each time: where
 * functions and data lie in the file moves a program's speed, too (Mytkowicz and others 2009).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LINK_H
#define PERF_TOOLS_LINK_H

#include "ab.h"

#include <glob.h>

/* A command in pieces: words, and the white space between them. */
typedef struct ab_pieces {
    char **piece;                       /* each of its own memory                                 */
    size_t n;
} ab_pieces;

static const char ab_blank_[] = " \t\n";

PERF_FN void ab_piece_add_(ab_pieces *pieces, const char *text, size_t len)
{
    pieces->piece = (char **)ab_grow(pieces->piece, pieces->n + 1, sizeof *pieces->piece);
    pieces->piece[pieces->n++] = ab_copy(text, len);
}

/* 1: a file to link.  "-ox.o" is an option. */
PERF_FN int ab_is_object_(const char *word)
{
    const size_t len = strlen(word);

    return len > 2 && *word != '-' && !strcmp(word + len - 2, ".o");
}

/* Appends a word; the files that it matches, where it is a pattern of objects. */
PERF_FN void ab_word_add_(ab_pieces *pieces, const char *text, size_t len)
{
    char  *word = ab_copy(text, len);
    glob_t found;
    size_t i;

    if (ab_is_object_(word) && strpbrk(word, "*?[") && glob(word, 0, NULL, &found) == 0) {
        for (i = 0; i < found.gl_pathc; i++) {
            if (i)
                ab_piece_add_(pieces, " ", 1);
            ab_piece_add_(pieces, found.gl_pathv[i], strlen(found.gl_pathv[i]));
        }
        globfree(&found);
    } else {
        ab_piece_add_(pieces, word, len);
    }
    free(word);
}

PERF_FN ab_pieces ab_pieces_of_(const char *text)
{
    ab_pieces pieces;
    size_t    len;

    memset(&pieces, 0, sizeof pieces);
    while (*text) {
        len = strspn(text, ab_blank_);
        if (len) {
            ab_piece_add_(&pieces, text, len);
        } else {
            len = strcspn(text, ab_blank_);
            ab_word_add_(&pieces, text, len);
        }
        text += len;
    }
    return pieces;
}

PERF_FN void ab_pieces_free_(ab_pieces *pieces)
{
    size_t i;

    for (i = 0; i < pieces->n; i++)
        free(pieces->piece[i]);
    free(pieces->piece);
}

/* Which pieces are objects to link, the result behind -o left out; the caller frees the numbers. */
PERF_FN size_t *ab_objects_(const ab_pieces *pieces, size_t *n)
{
    size_t *place = (size_t *)ab_grow(NULL, pieces->n + 1, sizeof *place), i;

    for (*n = i = 0; i < pieces->n; i++)
        if (ab_is_object_(pieces->piece[i]) && !(i > 1 && !strcmp(pieces->piece[i - 2], "-o")))
            place[(*n)++] = i;
    return place;
}

/* How many objects a link command names. */
PERF_FN size_t ab_link_objects(const char *command)
{
    ab_pieces pieces = ab_pieces_of_(command);
    size_t    n;

    free(ab_objects_(&pieces, &n));
    ab_pieces_free_(&pieces);
    return n;
}

/* The command with its objects in an order that coins decide; all else stays as it is.  The caller
 * frees it.                                                                                      */
PERF_FN char *ab_link_shuffled(const char *command, uint64_t *coins)
{
    ab_pieces pieces = ab_pieces_of_(command);
    size_t    n, i, len = 1;
    size_t   *place = ab_objects_(&pieces, &n), *drawn = ab_objects_(&pieces, &n);
    char    **word = (char **)ab_grow(NULL, pieces.n + 1, sizeof *word), *text;

    for (i = 0; i < pieces.n; i++) {
        word[i] = pieces.piece[i];
        len += strlen(pieces.piece[i]);
    }
    ab_shuffle(drawn, n, coins);
    for (i = 0; i < n; i++)
        word[place[i]] = pieces.piece[drawn[i]];
    text = (char *)ab_grow(NULL, len, 1);
    *text = '\0';
    for (i = 0; i < pieces.n; i++)
        strcat(text, word[i]);
    ab_pieces_free_(&pieces);
    free(place);
    free(drawn);
    free(word);
    return text;
}

#endif
