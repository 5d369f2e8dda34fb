/* words.h - counts the words of a text */
#ifndef TUTORIAL_WORDS_H
#define TUTORIAL_WORDS_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 15, LETTERS = 32, SLOTS = 4 * WORDS };
static char word[WORDS][LETTERS];
static int  slot[SLOTS], words;                 /* slot: 0 is free, else a place in word[] plus 1 */

typedef int finder(const char *w);

/* The place of a word, or where a new one goes: one after the other. */
static int find_in_list(const char *w)
{
    int at = 0;

    while (at < words && strcmp(word[at], w) != 0)
        at++;
    return at;
}

static void count_words(const char *text, finder *find)
{
    words = 0;
    memset(slot, 0, sizeof slot);
    while (*text) {
        char w[LETTERS];
        int  letters = 0, at;

        for (; *text && !isalpha((unsigned char)*text); text++) {}
        for (; isalpha((unsigned char)*text); text++)
            if (letters < LETTERS - 1)
                w[letters++] = *text;
        w[letters] = 0;
        at = letters ? find(w) : 0;
        if (letters && at == words && words < WORDS)
            strcpy(word[words++], w);
    }
}

/* The whole file, for the caller to free; NULL when it cannot be read. */
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 20);

    if (f && text && fread(text, 1, (1 << 20) - 1, f) == 0)
        text[0] = 0;
    if (f)
        fclose(f);
    return text;
}

#endif
