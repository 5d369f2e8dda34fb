/* Two images write streams in turns, also to where no file can be: each takes over the memory of the
 * one before.  -DMODULE: the other image.                                                        */
#include "perf.h"
#include "perf_trace.h"

int streams(const char *path);

#ifdef MODULE
int streams(const char *path)
#else
#include <dlfcn.h>
#include <stdio.h>

static int streams_here(const char *path)
#endif
{
    if (perf_trace_stream(path) != PERF_OK)
        return 0;
    {
        PERF_SCOPE("work");
    }
    return perf_trace_stream(NULL) == PERF_OK;
}

#ifndef MODULE
static long pages(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long  n = 0;

    if (!f || fscanf(f, "%ld", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

int main(int argc, char **argv)
{
    int   (*there)(const char *);
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    long  before = 0;
    int   i;

    if (!module)
        return 2;
    *(void **)&there = dlsym(module, "streams");
    for (i = 0; i < 12; i++) {
        if (!streams_here("here.pftrace") || !there("there.pftrace") || there("no/such/folder/x"))
            return 3;
        if (i == 1)
            before = pages();
    }
    return pages() - before < 1000 ? 0 : 4;     /* a stream has some 1,500 pages of 4 KB          */
}
#endif
