/* Where do the memory, the blocks on disk and the time of a batch job go, phase by phase?
 *
 *     cc -O2 -I. examples/c/phases.c -o phases && ./phases
 *
 * You will see the scopes "write", "read", "build" and "sum" with the time of each (the share of
 * "read" counts as waiting for data), and below them a table with a line for each phase: "load"
 * reads 8 MB from a file, "solve" allocates 64 MB that "free" gives back.  A phase that keeps
 * memory shows it in the resident column; page faults say when it was first touched.
 * Exit status: 1 when the file cannot be written.                                                */
#include "perf.h"
#include "perf_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (8u << 20)
#define TREE_BYTES (64u << 20)

static int load(unsigned char *data)
{
    FILE *f = fopen("phases.tmp", "wb+");
    int   ok = f != NULL;

    if (ok) {
        PERF_SCOPE("write");
        memset(data, 1, FILE_BYTES);
        ok = fwrite(data, 1, FILE_BYTES, f) == FILE_BYTES && !fflush(f);
    }
    if (ok) {
        PERF_WAIT("read");              /* a scope that waits for data                            */
        rewind(f);
        ok = fread(data, 1, FILE_BYTES, f) == FILE_BYTES;
    }
    if (f)
        fclose(f);
    remove("phases.tmp");
    return ok;
}

static unsigned long solve(const unsigned char *data)
{
    unsigned char *tree;
    unsigned long  sum = 0;
    size_t         i;

    {
        PERF_SCOPE("build");
        tree = malloc(TREE_BYTES);
        if (!tree)
            return 0;
        for (i = 0; i < TREE_BYTES; i += 64)
            tree[i] = data[i % FILE_BYTES];
    }
    perf_memory_mark("solve");          /* what has happened since the mark before                */
    {
        PERF_SCOPE("sum");
        for (i = 0; i < TREE_BYTES; i += 64)
            sum += tree[i];
    }
    free(tree);
    perf_memory_mark("free");
    return sum;
}

int main(void)
{
    unsigned char *data = malloc(FILE_BYTES);
    unsigned long  sum;

    if (!data)
        return 1;
    perf_memory_mark("start");
    if (!load(data)) {
        perror("phases.tmp");
        free(data);
        return 1;
    }
    perf_memory_mark("load");
    sum = solve(data);
    free(data);
    printf("sum %lu\n", sum);
    perf_report_to(stdout, NULL);
    return 0;
}
