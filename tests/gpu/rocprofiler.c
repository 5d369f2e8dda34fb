/* perf_rocprofiler.h on a stand-in for librocprofiler-sdk (fake_rocprofiler.c): ./rocprofiler MODE LIBRARY,
 * see rocprofiler.sh, which sets PERF_ROCPROFILER: only the environment can ask for it. */
#define _GNU_SOURCE 1
#include "perf_rocprofiler.h"
#include "perf_cupti.h"
#include "perf_report.h"
#include "perf_trace.h"
#include "check.h"
#include "stand_in.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*load)(uint64_t, const char *);
static void (*kernel)(uint64_t, int, uint64_t, uint64_t);
static void (*copy)(int, uint64_t, uint64_t);
static void (*advance)(uint64_t);
static void (*lose)(uint64_t);
static void (*cut)(void);
static int (*services)(void), (*flushes)(void);

static int open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return 0;
    find(library, "fake_load", &load);
    find(library, "fake_kernel", &kernel);
    find(library, "fake_copy", &copy);
    find(library, "fake_advance", &advance);
    find(library, "fake_lose", &lose);
    find(library, "fake_cut", &cut);
    find(library, "fake_services", &services);
    find(library, "fake_flushes", &flushes);
    return load && kernel && copy && advance && lose && cut && services && flushes;
}

/* A line of the report that has all these words, in this order. */
static int row(const char *name, const char *scope, const char *calls, const char *time)
{
    const char *line, *at, *end;

    for (line = strstr(text, "kernel or copy"); line && *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (strncmp(line, name, strlen(name)))
            continue;
        at = strstr(line, scope);
        at = at && at < end ? strstr(at + strlen(scope), calls) : NULL;
        at = at && at < end ? strstr(at + strlen(calls), time) : NULL;
        if (at && at < end)
            return 1;
    }
    return 0;
}

static void works(void)
{
    static char longest[3000];
    int         i;

    CHECK(services() == (1 << 10 | 1 << 11), "services %x", (unsigned)services());
    memset(longest, 'k', sizeof longest - 4);
    strcpy(longest + sizeof longest - 4, ".kd");
    load(1, "_Z5saxpyIfEvPKT_PS0_i.kd");
    load(2, "optimizer.kd");
    load(3, longest);
    load(3, "another.kd");                                      /* its number is taken */
    load(100000, "far.kd");                                     /* more kernels than we keep names of */
    for (i = 0; i < 10; i++) {
        PERF_SCOPE("step");
        {
            PERF_SCOPE("forward");
            kernel(1, 0, 5000, 300000);
            advance(305000);
        }
        kernel(2, 0, 0, 50000);
        advance(100000);
    }
    {
        PERF_SCOPE("io");
        copy(2, 2000000, 1 << 20);
        advance(2000000);
        copy(3, 1000000, 1 << 21);
        kernel(3, 1, 0, 1000);
        kernel(100000, 1, 2000, 1000);
        lose(3);
    }
    (void)report();
    CHECK(row("saxpy<float>", "forward", "10", "3.00 ms"), "%s", text);
    CHECK(row("optimizer", "step", "10", "500 us"), "%s", text);
    CHECK(row("copy host to device", "io", "1", "2.00 ms") && strstr(text, "1.0 MiB"), "%s", text);
    CHECK(row("copy device to host", "io", "1", "1.00 ms") && strstr(text, "2.0 MiB"), "%s", text);
    CHECK(row("kkkkkkkk", "io", "1", "1.00 us") && row("(kernel without a name)", "io", "1", "1.00 us"), "%s", text);
    CHECK(strstr(text, "GPU 0 by rocprofiler: busy ") && strstr(text, "GPU 1 by rocprofiler: busy "), "%s", text);
    CHECK(strstr(text, "note: 3 records were lost"), "%s", text);
    CHECK(strstr(report(), "note: 3 records were lost"), "the library tells of all so far: %s", text);
    CHECK(!strstr(text, "no kernels from") && !strstr(text, "it is not known where"), "%s", text);
    CHECK(perf_trace_save("rocprofiler_trace.json") == PERF_OK, "a trace");
    CHECK(perf_cupti_start(NULL) == PERF_ESTATE, "one profiler at a time");
    kernel(2, 0, 0, 7000);                                      /* not asked for before the reset */
    advance(10000);
    perf_reset();
    (void)report();
    CHECK(!strstr(text, "saxpy") && !strstr(text, "optimizer"), "forgotten by perf_reset(): %s", text);
}

/* Copies both ways at once, between devices, on the host; records of a release that nobody knows. */
static void copies(void)
{
    perf_reset();
    {
        PERF_SCOPE("both ways");
        copy(2, 2000000, 1);
        copy(3, 1000000, 1);
        copy(4, 3000000, 1);
        copy(1, 4000000, 1);
    }
    cut();
    kernel(1, 0, 0, 1000);
    cut();
    copy(2, 1000, 1);
    (void)report();
    CHECK(row("copy peer to peer", "both ways", "1", "3.00 ms") && row("copy host to host", "both ways", "1", "4.00 ms"),
          "%s", text);
    CHECK(!strstr(text, "GPU 2"), "there are two devices: %s", text);
    CHECK(strstr(text, "note: 2 records were lost"), "%s", text);
    CHECK(perf_trace_save("copies.json") == PERF_OK, "a trace");
}

static void *launches(void *which)
{
    static const char *const scope[4] = {"one", "two", "three", "four"};
    const int                at = *(const int *)which;
    int                      i;

    for (i = 0; i < 1000; i++) {
        perf_scope s = perf_scope_begin(scope[at]);
        kernel(1, 0, 0, 1000);
        perf_scope_end(&s);
    }
    return NULL;
}

static void threads(void)
{
    static const int which[4] = {0, 1, 2, 3};
    pthread_t        thread[4];
    int              i;

    for (i = 0; i < 4; i++)
        (void)pthread_create(&thread[i], NULL, launches, (void *)(uintptr_t)&which[i]);
    for (i = 0; i < 20; i++)
        (void)report();
    for (i = 0; i < 4; i++)
        (void)pthread_join(thread[i], NULL);
    (void)report();
    CHECK(row("saxpy<float>", "one", "1000", "1.00 ms") && row("saxpy<float>", "two", "1000", "1.00 ms") &&
              row("saxpy<float>", "three", "1000", "1.00 ms") && row("saxpy<float>", "four", "1000", "1.00 ms"), "%s", text);
}

static void child(void)
{
    const int before = flushes();
    pid_t     pid = fork();
    int       status = 1;

    if (!pid) {
        PERF_SCOPE("in the child");
        kernel(1, 0, 0, 1000);
        (void)report();
        perf_reset();
        check_exit(strstr(text, "by rocprofiler") || flushes() != before);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", (unsigned)status);
}

int main(int n, char **word)
{
    const char *mode = n > 2 ? word[1] : "", *path = n > 2 ? word[2] : "";

    if (!strcmp(mode, "off")) {                 /* nothing was opened */
        CHECK(!dlopen(path, RTLD_LAZY | RTLD_NOLOAD) && !strstr(report(), "rocprofiler"), "%s", text);
    } else if (!strcmp(mode, "on")) {
        CHECK(open_library(path), "%s", dlerror());
        if (!check_failed_) {
            works();
            copies();
            threads();
            child();
        }
    } else {                                    /* it says so, and does not run */
        CHECK(strstr(report(), mode), "not \"%s\": %s", mode, text);
        CHECK(!strstr(text, "PERF_ROCPROFILER is set"), "%s", text);
        if (*path) {                            /* another image of the process, after another profiler */
            CHECK(perf_cupti_start("/nowhere/libcupti.so") == PERF_ENOGPU, "%s", report());
            CHECK(dlopen(path, RTLD_NOW) != NULL, "%s", dlerror());
            CHECK(strstr(report(), "no kernels from CUPTI: there is no libcupti.so"), "%s", text);
        }
    }
    return check_done();
}
