/* link.h - a command that links the program again, its objects in another order each time: where
 * functions and data lie in the file moves a program's speed, too (Mytkowicz and others 2009).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LINK_H
#define PERF_TOOLS_LINK_H

#include "ab.h"

#include <glob.h>

/* The words of a command that are set apart by white space. */
typedef struct ab_words {
    char **word;                        /* each of its own memory                                 */
    size_t n;
} ab_words;

PERF_FN void ab_word_add_(ab_words *w, const char *text, size_t len)
{
    w->word = (char **)ab_grow(w->word, w->n + 1, sizeof *w->word);
    w->word[w->n++] = ab_copy(text, len);
}

PERF_FN int ab_is_object_(const char *word)
{
    const size_t len = strlen(word);

    return len > 2 && !strcmp(word + len - 2, ".o");
}

/* Appends a word; the files that it matches, where it is a pattern of objects. */
PERF_FN void ab_word_take_(ab_words *w, const char *text, size_t len)
{
    char  *word = ab_copy(text, len);
    glob_t found;
    size_t i;

    if (ab_is_object_(word) && strpbrk(word, "*?[") && glob(word, 0, NULL, &found) == 0) {
        for (i = 0; i < found.gl_pathc; i++)
            ab_word_add_(w, found.gl_pathv[i], strlen(found.gl_pathv[i]));
        globfree(&found);
    } else {
        ab_word_add_(w, word, len);
    }
    free(word);
}

PERF_FN ab_words ab_words_of_(const char *text)
{
    static const char blank[] = " \t\n";
    ab_words          w;
    size_t            len;

    memset(&w, 0, sizeof w);
    for (text += strspn(text, blank); *text; text += strspn(text, blank)) {
        len = strcspn(text, blank);
        ab_word_take_(&w, text, len);
        text += len;
    }
    return w;
}

PERF_FN void ab_words_free_(ab_words *w)
{
    size_t i;

    for (i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
}

/* 1: an object to link; the result behind -o is none. */
PERF_FN int ab_word_moves_(const ab_words *w, size_t i)
{
    return ab_is_object_(w->word[i]) && !(i && !strcmp(w->word[i - 1], "-o"));
}

/* How many objects a link command names. */
PERF_FN size_t ab_link_objects(const char *command)
{
    ab_words w = ab_words_of_(command);
    size_t   objects = 0, i;

    for (i = 0; i < w.n; i++)
        objects += (size_t)ab_word_moves_(&w, i);
    ab_words_free_(&w);
    return objects;
}

/* The command with its objects in an order that coins decide, all orders alike (Fisher and Yates);
 * what is none stays where it is.  The caller frees it.                                          */
PERF_FN char *ab_link_shuffled(const char *command, uint64_t *coins)
{
    ab_words w = ab_words_of_(command);
    size_t  *place = (size_t *)ab_grow(NULL, w.n + 1, sizeof *place), n = 0, len = 1, i, k;
    char    *swap, *text;

    for (i = 0; i < w.n; i++) {
        len += strlen(w.word[i]) + 1;
        if (ab_word_moves_(&w, i))
            place[n++] = i;
    }
    for (i = n; i-- > 1;) {
        k = (size_t)(((perf_random_(coins) >> 32) * (uint64_t)(i + 1)) >> 32);
        swap = w.word[place[i]];
        w.word[place[i]] = w.word[place[k]];
        w.word[place[k]] = swap;
    }
    text = (char *)ab_grow(NULL, len, 1);
    *text = '\0';
    for (i = 0; i < w.n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, w.word[i]);
    }
    ab_words_free_(&w);
    free(place);
    return text;
}

#endif
