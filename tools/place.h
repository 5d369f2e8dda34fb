/* place.h - where a process of a command lies: an environment of random size moves its stack, and a
 * processor may be its own.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_PLACE_H
#define PERF_TOOLS_PLACE_H

#include "ab.h"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { AB_PADDING_MOST = 4096, AB_PROCESSORS_MOST = 1024 };

/* The environment of perf-ab with PERF_PLACEMENT=xxx..., `padding` x's; the caller frees it. */
PERF_FN char **ab_environment(size_t padding)
{
    static const char name[] = "PERF_PLACEMENT=";
    extern char     **environ;
    char            **env, *text;
    size_t            n = 0, kept = 0, i;

    while (environ[n])
        n++;
    env = (char **)ab_grow(NULL, (n + 2) * sizeof *env + sizeof name + padding, 1);
    text = (char *)(env + n + 2);
    for (i = 0; i < n; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            env[kept++] = environ[i];
    memcpy(text, name, sizeof name - 1);
    memset(text + sizeof name - 1, 'x', padding);
    text[sizeof name - 1 + padding] = '\0';
    env[kept] = text;
    env[kept + 1] = NULL;
    return env;
}

/* The whole number in a file, read as base 10 or 16; -1: there is none. */
PERF_FN long ab_number_in_(const char *file, int base)
{
    char   text[40], *end;
    FILE  *f = fopen(file, "r");
    size_t n;
    long   x;

    if (!f)
        return -1;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    x = strtol(text, &end, base);
    return end == text ? -1 : x;
}

/* 1: the system gives every process the same addresses, so that all runs share one placement. */
PERF_FN int ab_placement_is_fixed(void)
{
    enum { NO_RANDOM_ADDRESSES = 0x0040000 };       /* of personality(2)                          */
    const long flags = ab_number_in_("/proc/self/personality", 16);

    return (flags > 0 && (flags & NO_RANDOM_ADDRESSES)) ||
           ab_number_in_("/proc/sys/kernel/randomize_va_space", 10) == 0;
}

#ifdef __linux__

/* Which core of the machine a processor is a part of. */
PERF_FN long ab_core_of_(int processor)
{
    char file[100];
    long core, package;

    snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu%d/topology/core_id", processor);
    core = ab_number_in_(file, 10);
    snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
             processor);
    package = ab_number_in_(file, 10);
    return core < 0 ? processor : package * 65536 + core;
}

/* Two processors that this process may use, of two cores if it can be.  0, or -1: there is one. */
PERF_FN int ab_two_processors(int two[2])
{
    enum { BITS = 8 * sizeof(unsigned long) };
    unsigned long mask[AB_PROCESSORS_MOST / BITS];
    int           i, n = 0;

    memset(mask, 0, sizeof mask);
    if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) < 0)
        return -1;
    for (i = 0; i < AB_PROCESSORS_MOST; i++) {
        if (!(mask[i / BITS] >> (i % BITS) & 1))
            continue;
        if (n < 2)
            two[n++] = i;
        if (n == 2 && ab_core_of_(i) != ab_core_of_(two[0])) {
            two[1] = i;
            return 0;
        }
    }
    return n == 2 ? 0 : -1;
}

/* This process, and what it starts, runs on that processor alone. */
PERF_FN void ab_stay_on(int processor)
{
    enum { BITS = 8 * sizeof(unsigned long) };
    unsigned long mask[AB_PROCESSORS_MOST / BITS];

    memset(mask, 0, sizeof mask);
    mask[processor / BITS] = 1ul << (processor % BITS);
    (void)syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

#else

PERF_FN int ab_two_processors(int two[2])
{
    two[0] = two[1] = 0;
    return -1;
}

PERF_FN void ab_stay_on(int processor)
{
    (void)processor;
}

#endif
#endif
