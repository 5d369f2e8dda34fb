/* Are pages that ask for it zero in a forked child?  In Linux since 4.14 on 64 bits; not in qemu.  Where they
 * are not, the end of a device scope in a child of its process still calls the driver.            */
#ifndef PERF_TESTS_WIPED_H
#define PERF_TESTS_WIPED_H

#include <sys/wait.h>
#include <unistd.h>

#include "inside.h"

static int pages_are_wiped(void)
{
    char *page = (char *)core_pages(4096, 1);
    int   status = -1;
    pid_t pid;

    if (!page)
        return 0;
    *page = 1;
    pid = fork();
    if (pid == 0)
        _exit(*page);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

#endif
