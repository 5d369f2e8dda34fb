/* Names that the fragments of code in documents and in the headers' first comments may use without
 * declaring them, so that they can be short and still be compiled.  Whole programs do not see it. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t i, n;
static unsigned rank;
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

#if defined(__CUDACC__)
static cudaStream_t stream;
static dim3         grid, block;
static float       *x, *y, *in, *out;

static __global__ void saxpy(size_t, float, const float *, float *) {}
static __global__ void naive(float *, const float *) {}
static __global__ void tiled(float *, const float *) {}
#else
static void *stream;
#endif

#endif /* CONTEXT_H */
