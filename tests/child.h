/* Checks in a process of their own. */
#ifndef PERF_TESTS_CHILD_H
#define PERF_TESTS_CHILD_H

#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

/* Before the #include, CHILD_FORK _Fork: without the handlers of fork(), so that the library has made
 * nothing in the parent (it makes the registry there, so that children are seen). */
#ifndef CHILD_FORK
#define CHILD_FORK fork
#else
extern pid_t CHILD_FORK(void);
#endif

/* Runs f; 0: all of its checks passed.  One that hangs is ended after a minute. */
static int child_of(void (*f)(void))
{
    int   status = -1;
    pid_t pid;

    fflush(stdout);
    pid = CHILD_FORK();
    if (pid == 0) {
        check_passed_ = check_failed_ = 0;
        alarm(60);
        f();
        fflush(stdout);
        check_exit(check_failed_ ? 1 : 0);
    }
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

#endif
