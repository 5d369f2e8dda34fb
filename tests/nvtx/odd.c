/* odd FIRST: what a tool meets that is instrumented itself, with FIRST (scope, mark, span, name) as the first event
 * of the program; a second thread while the tool starts; values that are none; no memory.  The tools of
 * inject.c and roctx.c call in_the_tool().  Says on standard output how many scopes of each name it began. */
#undef _FILE_OFFSET_BITS /* with which the name below would be mmap64 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int poor;

/* In place of the C library's, which calls its own by another name. */
void *mmap(void *to, size_t n, int may, int how, int file, off_t at)
{
    return poor ? MAP_FAILED : (void *)syscall(SYS_mmap, to, n, may, how, file, at);
}

#include "perf_nvtx.h"
#include "../check.h"
#include "../numbers.h"

enum { DEEP = 40000 };

static perf_scope scope[DEEP];
static pthread_t  other;
static int        tool_calls;

/* Begins while the tool is being loaded, and so does a child that has only this thread. */
static void *second(void *unused)
{
    pid_t child = fork();
    int   status = 1;

    if (!child) {
        alarm(60);
        { PERF_SCOPE("in the child"); }
        PERF_INSTANT("in the child");
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status, "a child ended: %d", status);
    PERF_SCOPE("second thread");
    return unused;
}

void in_the_tool(void);
void in_the_tool(void)
{
    static __thread int inside;
    perf_async          span;

    if (inside)
        return;
    inside = 1;
    {
        PERF_SCOPE("in the tool");
        PERF_INSTANT("in the tool");
        PERF_COUNT("in the tool", 1.0);
        span = perf_async_begin("in the tool", 0);
        perf_async_end(&span);
        if (!tool_calls++ && !pthread_create(&other, NULL, second, NULL))
            usleep(30000);                      /* it has to wait for the tool */
    }
    inside = 0;
}

static void event(int c)
{
    perf_async span;

    switch (c) {
    case 's': { PERF_SCOPE("scope"); break; }
    case 'm': PERF_INSTANT("mark"); break;
    case 'a':
        span = perf_async_begin("span", 7);
        perf_async_end(&span);
        break;
    default: perf_thread_name("main thread");
    }
}

int main(int argc, char **argv)
{
    const char *tool = getenv("NVTX_TOOL"), *first = argc > 1 ? argv[1] : "scope";
    int         deaf = !tool ? 0 : !strcmp(tool, "deaf"), i;

    event(*first);
    if (tool_calls)
        pthread_join(other, NULL);
    for (i = 0; i < 4; i++)
        event("sman"[i]);
    PERF_COUNT("none", CHECK_INF);
    PERF_COUNT("none", -CHECK_INF);
    PERF_COUNT("two", 2.0);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    for (i = 0; i < DEEP; i++) {
        poor = i >= DEEP / 2;
        scope[i] = perf_scope_begin("deep");
    }
    poor = 0;
    for (i = DEEP - 1; i >= 0; i--)
        perf_scope_end(&scope[i]);
    CHECK((perf_error() == PERF_ENOMEM) == !deaf, "%s", perf_status_text(perf_error()));
    { PERF_SCOPE("last"); }
    return check_done();
}
