/* Where a fuzz target keeps its files: in memory where the system has such a folder, ten times as fast as a
 * disk; otherwise in TMPDIR.                                                                      */
#ifndef PERF_TESTS_SCRATCH_H
#define PERF_TESTS_SCRATCH_H

#include "perf_results.h"

#include <stdlib.h>
#include <unistd.h>

/* The path of the process's file of that name, in `path`. */
static void scratch_path(char *path, size_t room, const char *name)
{
    unsigned id = (unsigned)getpid();
    FILE    *f;

    snprintf(path, room, "/dev/shm/perf_%u.%s", id, name);
    f = fopen(path, "wb");
    if (f)
        (void)fclose(f);
    else
        snprintf(path, room, "%.80s/perf_%u.%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id, name);
}

#endif
