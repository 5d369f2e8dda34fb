/* With UNWIPED no page asks the system to be zero in a forked child: as before Linux 4.14, and in qemu. */
#ifndef PERF_TESTS_UNWIPED_H
#define PERF_TESTS_UNWIPED_H

#include <stddef.h>

#if defined(UNWIPED)
int madvise(void *p, size_t bytes, int advice);
int madvise(void *p, size_t bytes, int advice)
{
    (void)p;
    (void)bytes;
    (void)advice;
    return -1;
}
#endif

#endif
