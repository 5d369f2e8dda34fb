/* A folder of a test's own, in TMPDIR. */
#ifndef PERF_TESTS_FOLDER_H
#define PERF_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder_[500];

/* Makes it and goes there; 0: done. */
static int folder_enter(void)
{
    const char *home = getenv("TMPDIR");

    snprintf(folder_, sizeof folder_, "%.400s/perf-test-XXXXXX", home && *home ? home : "/tmp");
    return !mkdtemp(folder_) || chdir(folder_) || !getcwd(folder_, sizeof folder_);
}

/* Removes it with all that is in it; 0: done. */
static int folder_leave(void)
{
    return chdir("/") || setenv("FOLDER", folder_, 1) || system("rm -rf -- \"$FOLDER\"");
}

#endif
