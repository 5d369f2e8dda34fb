/* A system that gives no memory when told so: in place of mmap() for the whole program.  Before every other
 * include.                                                                                        */
#ifndef PERF_TESTS_NO_MAPS_H
#define PERF_TESTS_NO_MAPS_H

#undef _FILE_OFFSET_BITS /* with which the name below would be mmap64 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long maps, fails_at = -1; /* calls so far; the one that fails */
static int  for_ever, refused;   /* whether all after it fail, too; how many did */

/* What mmap() does; on s390x the kernel takes its arguments in memory. */
static void *system_maps(void *to, size_t n, int may, int how, int file, off_t at)
{
#if defined(__s390x__)
    unsigned long all[6] = {(unsigned long)to, n, (unsigned long)may, (unsigned long)how, (unsigned long)file,
                            (unsigned long)at};

    return (void *)syscall(SYS_mmap, all);
#elif defined(SYS_mmap2)                    /* 32 bits: in pages */
    return (void *)syscall(SYS_mmap2, to, n, may, how, file, at / 4096);
#else
    return (void *)syscall(SYS_mmap, to, n, may, how, file, at);
#endif
}

/* The C library calls its own by another name. */
void *mmap(void *to, size_t n, int may, int how, int file, off_t at)
{
    long number = __atomic_fetch_add(&maps, 1, __ATOMIC_RELAXED);

    if (fails_at >= 0 && (number == fails_at || (for_ever && number > fails_at))) {
        refused++;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return system_maps(to, n, may, how, file, at);
}

/* From now on: the call after `at` others, or for ever; `at` negative: none. */
static void no_maps(long at, int ever)
{
    fails_at = at < 0 ? -1 : maps + at;
    for_ever = ever;
}

#endif
