/* perf_cupti.h on a stand-in for libcupti (fake_cupti.c): ./cupti MODE LIBRARY, see cupti.sh. */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdlib.h>
static size_t most_bytes = SIZE_MAX;
static void *sometimes(size_t bytes)
{
    return bytes > most_bytes ? NULL : malloc(bytes);
}
#define PERF_MALLOC(bytes) sometimes(bytes)
#define PERF_FREE(memory)  free(memory)
#include "perf_cupti.h"
#include "perf_cuda.h"
#include "perf_diagnosis.h"
#include "check.h"
#include "stand_in.h"
#include "unwiped.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*kernel)(const char *, uint32_t, uint64_t, uint64_t, unsigned);
static void (*copy)(int, uint32_t, uint64_t, uint64_t);
static void (*others)(uint32_t);
static void (*advance)(uint64_t);
static void (*hold)(int);
static void (*graph)(const char *, int, uint64_t, unsigned);
static void (*nowhere)(const char *), (*meanwhile)(void (*)(void)), (*interrupts)(void (*)(void)), (*unreadable)(int);
static void (*poll)(int);
static int (*kinds)(void), (*flushes)(void), (*buffered)(void);

static int open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return 0;
    find(library, "fake_kernel", &kernel);
    find(library, "fake_copy", &copy);
    find(library, "fake_others", &others);
    find(library, "fake_advance", &advance);
    find(library, "fake_hold", &hold);
    find(library, "fake_graph", &graph);
    find(library, "fake_nowhere", &nowhere);
    find(library, "fake_meanwhile", &meanwhile);
    find(library, "fake_interrupts", &interrupts);
    find(library, "fake_unreadable", &unreadable);
    find(library, "fake_poll", &poll);
    find(library, "fake_kinds", &kinds);
    find(library, "fake_flushes", &flushes);
    find(library, "fake_buffered", &buffered);
    return kernel && copy && others && advance && hold && graph && nowhere && meanwhile && interrupts && unreadable && poll && kinds && flushes && buffered;
}

/* Is there a row of the kernels' table that begins with `name` and `scope` and has these words? */
static int row(const char *name, const char *scope, const char *words)
{
    const char *line = strstr(text, "kernel or copy");
    char        head[128], kept[256];
    size_t      length, i, k;

    for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        length = strcspn(line, "\n");
        for (i = k = 0; i < length && k < sizeof kept - 1; i++)         /* blanks in a row are one */
            if (line[i] != ' ' || (k && kept[k - 1] != ' '))
                kept[k++] = line[i];
        kept[k] = '\0';
        (void)snprintf(head, sizeof head, "%s %s %s", name, scope, words);
        if (!strncmp(kept, head, strlen(head)))
            return 1;
    }
    return 0;
}

static const char saxpy[] = "_Z5saxpyIfEvPKT_PS0_i";    /* void saxpy<float>(float const*, float*, int) */

static void step(void)
{
    PERF_SCOPE("step");
    {
        PERF_SCOPE("forward");
        kernel(saxpy, 7, 5000, 300000, 0);
        advance(305000);
    }
    kernel("optimizer_kernel", 7, 0, 50000, 0);
    advance(100000);
}

static void works(const char *path)
{
    int i;

    CHECK(perf_cupti_start(path) == PERF_OK, "%s", report());
    CHECK(perf_cupti_start(NULL) == PERF_OK, "it runs already");
    CHECK(kinds() == (1 << 1 | 1 << 2 | 1 << 10 | 1 << 22), "kinds %x", (unsigned)kinds());
    for (i = 0; i < 10; i++)
        step();
    kernel(saxpy, 8, 0, 1000000, 0);
    advance(1000000);
    (void)report();
    CHECK(row("saxpy<float>", "forward", "10 3.00 ms 66.7 300 us 5.00 us"), "%s", text);
    CHECK(row("saxpy<float>", "(no scope)", "1 1.00 ms 22.2 1.00 ms 0.00 ns"), "%s", text);
    CHECK(row("optimizer_kernel", "step", "10 500 us 11.1 50.0 us 0.00 ns"), "%s", text);
    /* 10 x (5 us idle, 300 at work, 50 at work, 50 idle), then 1 ms: busy 4.5 of 5.045 ms from the first kernel on. */
    CHECK(strstr(text, "GPU 0 by CUPTI: busy 89.2 % of 5.04 ms, copies 0.0 % of that, 0.0 % overlapped; idle with nothing "
                       "launched 9.9 %; 10 gaps, the longest 55.0 us before saxpy<float>\n"), "%s", text);
    CHECK(strstr(text, "\nkernels and copies: 100.0 % of their time in 2 of 2 names"), "%s", text);
    CHECK(!strstr(text, "note: no kernels"), "%s", text);
    CHECK(strstr(text, "\nsaxpy<float> "), "a row of the main table: %s", text);
    CHECK(perf_trace_save("cupti_trace.json") == PERF_OK, "a trace");
}

static void others_too(void)
{
    perf_reset();
    {
        PERF_SCOPE("io");
        copy(1, 7, 2000000, 1 << 20);
        kernel("short_one", 8, 0, 1000, 3000);                  /* launched for 3 ms, ran for 1 us */
        kernel("long_one", 8, 1000000, 9000000000ull, 0);
        advance(20000000);
        copy(2, 107, 1000000, 1 << 21);
        others(9);
    }
    kernel("from_nowhere", 9, 0, 1000000, 0);                   /* that one is known: from no scope */
    (void)report();
    CHECK(!strstr(text, "forward"), "forgotten by perf_reset(): %s", text);
    CHECK(row("copy host to device", "io", "1 2.00 ms"), "%s", text);
    CHECK(strstr(text, "1.0 MiB") && strstr(text, "2.0 MiB") && strstr(text, "4.0 KiB") && strstr(text, "8.0 KiB"), "%s", text);
    CHECK(row("copy device to host", "io", "1 1.00 ms") && row("memset", "io", "1 1.00 us") &&
              row("copy peer to peer", "io", "1 1.00 us"), "%s", text);
    CHECK(row("from_nowhere", "(not known)", "1 1.00 us"), "%s", text);
    CHECK(row("from_nowhere", "(no scope)", "1 1.00 ms"), "%s", text);
    CHECK(strstr(text, "33.3 % of kernels ran shorter than their launch took"), "%s", text);
    CHECK(strstr(text, "GPU 1 by CUPTI: busy 100.0 % of 1.00 ms, copies 100.0 % of that"), "%s", text);
    CHECK(strstr(text, "note: 1 records of the profiler had no times, and were left out\n"), "%s", text);
    CHECK(strstr(text, "note: 7 records were lost: "), "%s", text);
    CHECK(strstr(text, "note: 1 kernels and copies: it is not known where they were launched\n"), "%s", text);
}

/* Records of many streams in any order: what overlaps counts once. */
static void disorder(uint32_t device)
{
    static const uint64_t at[][2] = {{5000, 1000}, {0, 2000}, {1000, 500}, {5500, 3500}, {1800, 1200}, {2500, 2700}};
    size_t                i, n = device == 3 ? 6 : 5;

    for (i = 0; i < n; i++)
        kernel("any", 100 * device + (uint32_t)i, at[i][0] * 1000, at[i][1] * 1000, 0);
}

static void during(void)
{
    PERF_SCOPE("during the reset");
    kernel("not_before", 7, 0, 1000, 0);
    advance(1000);
}

/* What ran before perf_reset() is forgotten, also where its record comes later.  What begins while
 * that asks for records is not. */
static void late(void)
{
    kernel("anchor", 7, 0, 1000, 0);
    (void)report();
    hold(1);
    nowhere("before_reset");
    perf_reset();
    hold(0);
    CHECK(!strstr(report(), "it is not known where"), "%s", text);
    meanwhile(during);
    perf_reset();
    meanwhile(NULL);
    (void)report();
    CHECK(row("not_before", "during the reset", "1 1.00 us"), "%s", text);
    kernel("before_reset", 7, 0, 1000, 0);                      /* no report asks for it */
    advance(1000);
    hold(1);
    kernel("before_reset", 7, 0, 1000, 0);
    perf_reset();
    hold(0);
    disorder(2);
    disorder(3);
    (void)report();
    CHECK(!strstr(text, "before_reset"), "%s", text);
    CHECK(strstr(text, "GPU 2 by CUPTI: busy 77.8 % of 9.00 ms, copies 0.0 % of that, 14.6 % overlapped; idle with nothing "
                       "launched 0.0 %; 1 gaps, the longest 2.00 ms before any\n"), "%s", text);
    CHECK(strstr(text, "GPU 3 by CUPTI: busy 100.0 % of 9.00 ms, copies 0.0 % of that, 17.4 % overlapped; idle with nothing "
                       "launched 0.0 %\n"), "%s", text);
}

/* Another program gets the processor for 10 s of CUPTI's time. */
static void interruption(void)
{
    PERF_SCOPE("interruption");
    (void)usleep(1000);
    advance(10000000000ull);
}

/* The moment, in us, at which the event of that name begins in a trace. */
static double begins(const char *trace, const char *name)
{
    const char *at = strstr(trace, name);

    at = at ? strstr(at, "\"ts\":") : NULL;
    return at ? strtod(at + 5, NULL) : -1;
}

/* Where a launch was interrupted between its readings of both clocks, its kernel has its right place. */
static void interrupted(void)
{
    static char trace[1 << 20];
    double      from, kernels;
    FILE       *file;

    perf_reset();
    interrupts(interruption);
    kernel("interrupted", 7, 0, 1000, 0);
    CHECK(perf_trace_save("interrupted.json") == PERF_OK, "a trace");
    file = fopen("interrupted.json", "r");
    trace[file ? fread(trace, 1, sizeof trace - 1, file) : 0] = '\0';
    if (file)
        (void)fclose(file);
    from = begins(trace, "\"interruption\"");
    kernels = begins(trace, "\"interrupted\"");
    CHECK(from >= 0 && kernels >= from && kernels < from + 5e6, "%.0f and %.0f", from, kernels);
}

/* A kernel of 1 s, and a program that polls meanwhile, more often than launches are kept. */
static void polls(void)
{
    perf_reset();
    {
        PERF_SCOPE("polls");
        kernel("awaited", 7, 0, 1000000000, 0);
        poll(70000);
    }
    CHECK(strstr(report(), "awaited") && row("awaited", "polls", "1 1.00 s"), "%s", text);
}

/* Nothing is lost in silence: no memory for a buffer, a record that CUPTI itself cannot read. */
static void lost(void)
{
    perf_reset();
    most_bytes = 1000000;
    kernel("no_room", 7, 0, 1000, 0);
    kernel("no_room", 7, 0, 1000, 0);
    CHECK(strstr(report(), "note: 2 records were lost: "), "%s", text);
    most_bytes = SIZE_MAX;
    perf_reset();
    CHECK(!strstr(report(), "were lost"), "%s", text);
    unreadable(1);
    kernel("readable", 7, 0, 1000, 0);
    kernel("not_readable", 7, 0, 1000, 0);
    (void)report();
    CHECK(row("readable", "(no scope)", "1") && strstr(text, "note: 1 records were lost: "), "%s", text);
    unreadable(-1);
}

/* A graph's kernels are many, and its launch is one: all of them together are longer, or shorter. */
static void graphs(void)
{
    perf_reset();
    graph("node", 9, 1, 3000);                                  /* launched in 3 ms, and runs for 9 ns */
    CHECK(strstr(report(), "; 100.0 % of kernels ran shorter than their launch took\n"), "%s", text);
    kernel("long", 7, 0, 9000000000000ull, 3000);
    CHECK(strstr(report(), "; 90.0 % of kernels ran shorter"), "%s", text);
    perf_reset();
    graph("node", 100000, 1000000, 3000);                       /* 1 ms each, 100 s in all */
    CHECK(strstr(report(), "; 0.0 % of kernels ran shorter"), "%s", text);
}

/* One kernel ran beside a thousand short ones, and beside copies; its record is the last to come. */
static void long_last(void)
{
    uint64_t i;

    perf_reset();
    for (i = 0; i < 1000; i++)                                  /* 1 us at work in 10 us */
        kernel("small", 401, i * 10000, 1000, 0);
    kernel("long", 402, 0, 10000000, 0);
    for (i = 0; i < 1000; i++)
        kernel("small", 501, i * 10000, 1000, 0);
    kernel("half", 502, 5000000, 5000000, 0);                   /* from the 501st to the last */
    (void)report();
    CHECK(strstr(text, "GPU 4 by CUPTI: busy 100.0 % of 10.0 ms, copies 0.0 % of that, 9.1 % overlapped; idle with nothing "
                       "launched 0.0 %\n"), "%s", text);
    CHECK(strstr(text, "GPU 5 by CUPTI: busy 5"), "1 ms and 4.5: %s", text);
    kernel("last", 501, 10500000, 500000, 0);                   /* an exact gap after all that */
    CHECK(strstr(report(), ", the longest 500 us before last\n"), "%s", text);
}

/* The record of a stream comes after those of another one that ran later. */
static void starves(void)
{
    perf_reset();
    kernel("first", 601, 0, 100000, 0);
    advance(900000);
    kernel("third", 602, 100000, 100000, 0);
    advance(0 - UINT64_C(400000));
    kernel("second", 601, 0, 100000, 0);                        /* 400 us after the first, 400 before the third */
    advance(1000000);
    (void)report();
    CHECK(strstr(text, "GPU 6 by CUPTI: busy 27.3 % of 1.10 ms, copies 0.0 % of that, 0.0 % overlapped; idle with nothing "
                       "launched 63.6 %; 2 gaps, the longest 400 us before "), "%s", text);
}

/* A thousand names with long ends, and more pairs than there are rows. */
static void many(void)
{
    static char names[2400][400];
    size_t      i;

    perf_reset();
    for (i = 0; i < 2400; i++) {
        memset(names[i], 'x', 399);
        (void)snprintf(names[i] + 180, 8, "%06d", (int)i);     /* they differ where they are cut */
        names[i][186] = 'y';
        PERF_SCOPE("many");
        kernel(names[i], 7, 0, 1000 + (i == 1234) * 1000000, 0);
        advance(2000000);
    }
    (void)report();
    CHECK(strstr(text, "rows are left out") && strstr(text, "of 1792 names"), "%s", text);
    CHECK(strstr(text, "note: 608 kernels and copies are in no row of the table: more than 1,792 pairs of name and scope\n"),
          "%s", text);
    CHECK(strstr(text, "2399 gaps"), "each gap is counted once: %s", text);
}

/* More streams than lines of the trace: those without a line of their own are told as such. */
static void streams(void)
{
    uint32_t i;

    perf_reset();
    for (i = 0; i < 100; i++)
        kernel("one of many", 700 + i, i * 1000, 1000, 0);
    CHECK(perf_trace_save("streams.json") == PERF_OK, "a trace");
}

static perf_diagnosis works_of(int direction)
{
    perf_diagnosis d;
    int            i;

    perf_reset();
    for (i = 0; i < 30; i++) {
        PERF_SCOPE("unit");
        if (direction)
            copy(direction, 7, 1000000000, 1 << 20);
        else
            kernel("heavy", 7, 0, 1000000000, 0);
        advance(1000000000);
        (void)usleep(100);
    }
    CHECK(perf_diagnose(&d) == PERF_OK, "a diagnosis");
    return d;
}

/* What bounds the program is answered without a mark on the device.  Where others take the processor
 * meanwhile, that is the answer, and it is asked again. */
static void bound(int direction)
{
    perf_diagnosis d = works_of(direction);
    int            i;

    for (i = 0; i < 50 && d.bound == PERF_BY_NO_PROCESSOR; i++)
        d = works_of(direction);
    CHECK(d.bound == (direction ? PERF_BY_COPIES : PERF_BY_DEVICE), "%s: %s", perf_diagnosis_text(d.bound), report());
}

static void *launches(void *which)
{
    static const char *const scope[4] = {"one", "two", "three", "four"};
    const int                at = *(const int *)which;
    int                      i;

    (void)perf_cupti_start(NULL);                               /* it runs already, and a report is being made */
    for (i = 0; i < 2000; i++) {
        perf_scope s = perf_scope_begin(scope[at]);
        kernel(scope[at], (uint32_t)at, 0, 1000, 0);
        perf_scope_end(&s);
    }
    return NULL;
}

/* Four threads launch while the fifth reports: each kernel is found in the scope of its own thread. */
static void threads(void)
{
    static const int which[4] = {0, 1, 2, 3};
    pthread_t        thread[4];
    int              i;

    perf_reset();
    for (i = 0; i < 4; i++)
        (void)pthread_create(&thread[i], NULL, launches, (void *)(uintptr_t)&which[i]);
    for (i = 0; i < 20; i++)
        (void)report();
    for (i = 0; i < 4; i++)
        (void)pthread_join(thread[i], NULL);
    (void)report();
    CHECK(row("one", "one", "2000") && row("two", "two", "2000") && row("three", "three", "2000") && row("four", "four", "2000"),
          "%s", text);
}

/* A child has none of CUPTI's threads: it calls nothing, and says nothing of its parent's. */
static void child(void)
{
    const int before = flushes();
    pid_t     pid;
    int       status = 1;

    pid = fork();
    if (!pid) {
        PERF_SCOPE("in the child");
        kernel("in the child", 7, 0, 1000, 0);
        (void)report();
        perf_reset();
        check_exit(strstr(text, "by CUPTI") || flushes() != before);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", (unsigned)status);
    (void)fflush(stdout);
    pid = fork();
    if (!pid)
        exit(0);                                                /* with the handlers of its parent */
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", (unsigned)status);
}

static void *reports(void *stop)
{
    static char other[1 << 16];

    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        (void)perf_report_text(other, sizeof other, NULL);
    return NULL;
}

/* Each refusal has its status and its sentence, leaves nothing on, and is no end. */
static void refused(const char *path)
{
    const char *const mode[] = {"taken", "nothing", "denied", "no device", "taken, CUDA 10", "taken, CUDA 13.3"};
    const perf_status wanted[] = {PERF_ESTATE, PERF_ENOGPU, PERF_EGPU, PERF_ENOGPU, PERF_ESTATE, PERF_ESTATE};
    const char *const sentence[] = {"note: no kernels from CUPTI: another profiler has this process: 39 CUPTI_ERROR_MULTIPLE",
                                    "note: no kernels from CUPTI: it cannot begin: 15 CUPTI",
                                    "note: no kernels from CUPTI: it refuses: 35 CUPTI",
                                    "note: no kernels from CUPTI: there is no driver, or no device\n",
                                    "note: no kernels from CUPTI: another profiler has this process: 12 CUPTI",
                                    "note: no kernels from CUPTI: another profiler has this process: 14 CUPTI"};
    const int         had_names = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD) != NULL;
    pthread_t         thread;
    perf_status       status;
    int               i, stop = 0;

    (void)pthread_create(&thread, NULL, reports, &stop);        /* for the thread sanitizer */
    for (i = 0; i < 20; i++)
        CHECK(perf_cupti_start("/nowhere/libcupti.so.13") == PERF_ENOGPU, "beside a report");
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    (void)pthread_join(thread, NULL);
    status = perf_cupti_start("/nowhere/libcupti.so.13");
    CHECK(status == PERF_ENOGPU && strstr(report(), "note: no kernels from CUPTI: there is no libcupti.so"), "%s: %s",
          perf_status_text(status), text);
    status = perf_cupti_start("libc.so.6");
    CHECK(status == PERF_ENODATA && strstr(report(), "note: no kernels from CUPTI: that libcupti.so lacks functions"), "%s: %s",
          perf_status_text(status), text);
    for (i = 0; i < 6; i++) {
        (void)setenv("FAKE_CUPTI", mode[i], 1);
        status = perf_cupti_start(path);
        CHECK(status == wanted[i], "%s: %s", mode[i], perf_status_text(status));
        CHECK(strstr(report(), sentence[i]), "%s: %s", mode[i], text);
        CHECK(kinds() == 0 && !buffered(), "%s: kinds %x", mode[i], (unsigned)kinds());
        CHECK(had_names || !dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD), "%s: left in the process", mode[i]);
        CHECK(!strstr(text, "had no times"), "%s", text);
        kernel("unseen", 1, 0, 1000, 0);
    }
    (void)unsetenv("FAKE_CUPTI");
}

static int launched;

static void *launches_on(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        PERF_SCOPE("launches");
        kernel("beside", 1, 0, 1000, 0);
        __atomic_store_n(&launched, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* It starts while other threads launch and report: for the thread sanitizer.  The stand-in's own variables are for
 * one thread here, so it is built without that. */
static void beside(const char *path)
{
    pthread_t thread[2];
    int       stop = 0;

    CHECK(perf_cupti_start("/nowhere/libcupti.so.13") == PERF_ENOGPU, "asked for");
    (void)pthread_create(&thread[0], NULL, launches_on, &stop);
    (void)pthread_create(&thread[1], NULL, reports, &stop);
    while (!__atomic_load_n(&launched, __ATOMIC_RELAXED))
        (void)usleep(1000);
    CHECK(perf_cupti_start(path) == PERF_OK, "beside both");
    while (!row("beside", "launches", ""))
        (void)report();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    (void)pthread_join(thread[0], NULL);
    (void)pthread_join(thread[1], NULL);
}

/* The libcupti that NVIDIA ships, without a driver, and with one that only says that it is there. */
static void real(const char *path)
{
    const perf_status status = perf_cupti_start(path);

    CHECK(status == PERF_ENOGPU, "%s", perf_status_text(status));
    CHECK(strstr(report(), "note: no kernels from CUPTI: it cannot begin: ") ||
              strstr(text, "note: no kernels from CUPTI: there is no driver, or no device\n"), "%s", text);
    perf_reset();
    CHECK(perf_cupti_start(path) == PERF_ENOGPU, "again");
}

int main(int n, char **word)
{
    const char *mode = n > 2 ? word[1] : "", *path = n > 2 ? word[2] : "";

    if (!strcmp(mode, "off")) {                 /* nothing was opened */
        CHECK(!dlopen(path, RTLD_LAZY | RTLD_NOLOAD) && !strstr(report(), "CUPTI"), "%s", text);
        return check_done();
    }
    if (!strcmp(mode, "real")) {
        real(path);
        return check_done();
    }
    CHECK(open_library(path), "%s", dlerror());
    if (check_failed_)
        return check_done();
    if (!strcmp(mode, "asked")) {               /* by PERF_CUPTI; the report comes at the exit */
        CHECK(kinds() != 0, "started before main");
        PERF_SCOPE("all");
        kernel(saxpy, 7, 0, 1000, 0);
        return check_done();
    }
    if (!strcmp(mode, "beside")) {
        beside(path);
        return check_done();
    }
    refused(path);
    (void)setenv("FAKE_CUPTI", mode, 1);
    works(path);
    others_too();
    late();
    interrupted();
    polls();
    lost();
    graphs();
    long_last();
    starves();
    many();
    streams();
    bound(0);
    bound(1);
    threads();
    child();
    return check_done();
}
