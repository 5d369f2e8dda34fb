/* hash.h - finds them faster */
#ifndef TUTORIAL_HASH_H
#define TUTORIAL_HASH_H

#include "words.h"

static int find_by_hash(const char *w)
{
    unsigned    h = 2166136261u;
    const char *p;

    for (p = w; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    for (h %= SLOTS; slot[h] && strcmp(word[slot[h] - 1], w) != 0; h = (h + 1) % SLOTS) {}
    if (!slot[h])
        slot[h] = words + 1;
    return slot[h] - 1;
}

#endif
