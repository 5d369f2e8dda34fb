/* For tests of a profiler's stand-in: what it exports beside the profiler's own functions, and the report. */
#ifndef TESTS_GPU_STAND_IN_H
#define TESTS_GPU_STAND_IN_H

#include <dlfcn.h>
#include <string.h>

static char text[1 << 17];

/* The function `name` of the library, into a pointer to a function. */
static void find(void *library, const char *name, void *field)
{
    void *p = dlsym(library, name);

    memcpy(field, &p, sizeof p);
}

static const char *report(void)
{
    (void)perf_report_text(text, sizeof text, NULL);
    return text;
}

#endif
