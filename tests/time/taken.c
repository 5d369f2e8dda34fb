/* What a program takes away from a writer of traces: its descriptor, as a daemon does that closes
 * all of them; its thread, by a cancellation or by a handler that jumps out.                      */
#define _GNU_SOURCE 1
#include "perf.h"
#include "perf_trace.h"
#include "check.h"
#include "folder.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const trace = "trace.pftrace", *const own = "own";

static void scopes(int count)
{
    for (; count > 0; count--) {
        PERF_SCOPE("work");
    }
}

/* Bytes of a file; -1: there is none. */
static long size_of(const char *path)
{
    struct stat info;

    return stat(path, &info) ? -1 : (long)info.st_size;
}

/* Files in the folder whose name ends in that. */
static int files(const char *suffix)
{
    DIR           *all = opendir(".");
    struct dirent *entry;
    int            count = 0;

    while (all && (entry = readdir(all)) != NULL) {
        size_t n = strlen(entry->d_name), len = strlen(suffix);
        count += entry->d_name[0] != '.' && n > len && !strcmp(entry->d_name + n - len, suffix);
    }
    if (all)
        closedir(all);
    return count;
}

/* Closes what the library has open and opens a file of its own under that number. */
static int take(void)
{
    int fd;

    for (fd = 3; fd < 64; fd++)
        close(fd);
    fd = open(own, O_CREAT | O_RDWR | O_TRUNC, 0600);
    CHECK(fd == 3 && write(fd, "my own data\n", 12) == 12, "a file of the program");
    return fd;
}

/* The stream ends, says so, and leaves the file alone, which is not even closed. */
static void a_daemon(void)
{
    char text[4096];
    int  fd;

    CHECK(perf_trace_stream(trace) == PERF_OK, "a stream");
    fd = take();
    scopes(1000);
    CHECK(perf_trace_stream_flush() == PERF_EIO, "nothing can be written");
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "the trace is not whole");
    CHECK(write(fd, "more\n", 5) == 5, "the program's file is open");
    CHECK(size_of(own) == 17, "it has %ld bytes", size_of(own));
    perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "are not in the streamed file"), "the report says so: %s", text);
    close(fd);
}

/* The program's file is at its limit: it is not cut back, as ours would be. */
static void a_full_disk(void)
{
    struct rlimit was, most;
    int           fd;

    CHECK(perf_trace_stream(trace) == PERF_OK, "a stream");
    scopes(10);
    CHECK(perf_trace_stream_flush() == PERF_OK, "a good write");
    fd = take();
    CHECK(!getrlimit(RLIMIT_FSIZE, &was), "its limit");
    most = was;
    most.rlim_cur = 12;
    CHECK(!setrlimit(RLIMIT_FSIZE, &most), "a limit");
    scopes(1000);
    CHECK(perf_trace_stream_flush() == PERF_EIO, "nothing can be written");
    CHECK(!setrlimit(RLIMIT_FSIZE, &was), "no limit");
    CHECK(size_of(own) == 12, "it has %ld bytes", size_of(own));
    CHECK(perf_trace_stream(NULL) == PERF_EIO && size_of(own) == 12, "at the end, too");
    close(fd);
}

/* Closed, and nothing opened in its place; then a stream that goes well. */
static void closed(void)
{
    CHECK(perf_trace_stream(trace) == PERF_OK, "a stream");
    close(take());
    scopes(1000);
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "it was closed");
    CHECK(perf_trace_stream(trace) == PERF_OK, "another stream");
    scopes(1000);
    CHECK(perf_trace_stream(NULL) == PERF_OK && size_of(trace) > 1000, "is whole");
}

static void *second(void *reached)
{
    scopes(1);
    *(int *)reached = 1;
    return reached;
}

/* No stream could be opened: a thread that begins then records as without one. */
static void refused(void)
{
    pthread_t thread;
    void     *end;
    int       reached = 0;

    CHECK(perf_trace_stream("/nowhere/trace") == PERF_EIO, "no folder");
    CHECK(!pthread_create(&thread, NULL, second, &reached) && !pthread_join(thread, &end) && reached,
          "its scopes");
    CHECK(perf_trace_stream(NULL) == PERF_ESTATE, "no stream");
}

/* A child of one that streams to a device has files of its own. */
static void a_child(void)
{
    int   status = 1, fd;
    pid_t child;

    CHECK(perf_trace_stream("/dev/null") == PERF_OK, "a device");
    scopes(100);
    child = fork();
    if (!child) {
        fd = take();
        scopes(1000);
        (void)perf_trace_stream_flush();
        _exit(fcntl(fd, F_GETFD) < 0 || size_of(own) != 12);
    }
    CHECK(waitpid(child, &status, 0) == child && !status, "its file is closed, or written: %d", status);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "the parent's goes on");
}

static uint32_t asked;                      /* 1: the thread has been cancelled                   */

/* Is cancelled while it records: nothing that it calls there is where a cancellation acts. */
static void *cancelled(void *through)
{
    do
        scopes(1000);
    while (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE));
    scopes(300000);                         /* several writes                                     */
    *(int *)through = 1;
    pthread_testcancel();
    *(int *)through = 2;
    return through;
}

static void *saves(void *count)
{
    for (;;) {
        if (perf_trace_save(own) == PERF_OK)
            __atomic_add_fetch((int *)count, 1, __ATOMIC_RELAXED);
        pthread_testcancel();
    }
    return count;
}

static void a_cancellation(void)
{
    pthread_t thread;
    void     *end;
    int       through = 0, saved = 0, turn;

    CHECK(perf_trace_stream(trace) == PERF_OK, "a stream");
    CHECK(!pthread_create(&thread, NULL, cancelled, &through) && !pthread_cancel(thread), "a thread");
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED && through == 1,
          "cancelled where it asks, not in a scope: %d", through);
    scopes(1000);
    CHECK(perf_trace_stream_flush() == PERF_OK && perf_trace_stream(NULL) == PERF_OK, "all written");
    for (turn = 0; turn < 8; turn++) {
        CHECK(!pthread_create(&thread, NULL, saves, &saved), "a thread");
        while (__atomic_load_n(&saved, __ATOMIC_RELAXED) <= turn)
            usleep(100);
        CHECK(!pthread_cancel(thread) && !pthread_join(thread, &end), "cancelled in a save");
    }
    CHECK(files(".part") == 0, "%d halves of files", files(".part"));
}

static sigjmp_buf    back;
static volatile int  armed;

static void jump(int number)
{
    (void)number;
    if (armed)
        siglongjmp(back, 1);
}

/* A handler ends pieces of work, many of them in a write. */
static void a_jump(void)
{
    const struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    volatile int turn, reached = 0;
    pthread_t    thread;

    CHECK(perf_trace_stream(trace) == PERF_OK, "a stream");
    signal(SIGALRM, jump);
    setitimer(ITIMER_REAL, &every, NULL);
    for (turn = 0; turn < 300; turn++) {
        PERF_SCOPE("turn");
        if (!sigsetjmp(back, 1)) {
            armed = 1;
            for (;;)
                scopes(1);
        }
        armed = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(60);                              /* instead of waiting for ever                        */
    CHECK(perf_trace_stream_flush() == PERF_OK, "the stream goes on");
    CHECK(!pthread_create(&thread, NULL, second, (void *)&reached) && !pthread_join(thread, NULL) &&
              reached, "another thread gets through");
    CHECK(perf_trace_stream(NULL) == PERF_OK, "and ends");
}

int main(void)
{
    CHECK(!folder_enter(), "a folder");
    alarm(60);                              /* instead of waiting for ever                        */
    refused();
    a_child();
    a_daemon();
    a_full_disk();
    closed();
    a_cancellation();
    a_jump();
    remove(trace);
    remove(own);
    CHECK(files("") == 0, "nothing else is left");
    CHECK(!folder_leave(), "the folder is gone");
    return check_done();
}
