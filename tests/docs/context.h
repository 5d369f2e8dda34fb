/* Names that the fragments of code in documents and in the headers' first comments may use without
 * declaring them, so that they can be short and still be compiled.  Whole programs do not see it. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t i, n;
static double ns[1000], old_ns[1000], new_ns[1000];
static char   src[4096], dst[4096], buf[4096];

static void work(void)
{
    memcpy(dst, src, sizeof dst);
}

static void baseline(void)
{
    work();
}

static void candidate(void)
{
    work();
}

#endif /* CONTEXT_H */
