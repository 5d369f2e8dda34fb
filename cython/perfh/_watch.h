/* _watch.h - a thread of a worker process that writes what was recorded: every second, when the
 * parent asks, and before a SIGTERM ends the process.  It needs no GIL.
 *
 *     perfh_watch_begin("/tmp/perfh-1/77.last", "/tmp/perfh-1/77.json", "/tmp/perfh-1/77.ask");
 *     perfh_watch_end('w');              // writes all; 'q' writes nothing
 *
 * The parent asks by a byte in the pipe 77.ask: 'a' writes, 'r' forgets and writes.  Both functions
 * belong to the thread that runs Python.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERFH_WATCH_H
#define PERFH_WATCH_H

#if defined(_WIN32)

static int perfh_watch_begin(const char *last, const char *whole, const char *ask)
{
    (void)last, (void)whole, (void)ask;
    return 0;
}

static int perfh_watch_end(char what)
{
    (void)what;
    return 0;
}

static void perfh_watch_forked(void)
{
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERFH_EVERY_MS 1000

static struct {
    char         last[300], whole[300];
    volatile int pipe, running, asked_to_end;
    volatile pid_t owner;
    int          ours;                  /* 1: our handler of SIGTERM is installed                 */
    pthread_t    thread;
} perfh_watch;

/* Hands over to the watcher; where there is none, or at a second signal, the process ends now. */
static void perfh_on_term(int number)
{
    const int  error = errno;
    const char end = 'T';

    if (perfh_watch.running && perfh_watch.owner == getpid() && !perfh_watch.asked_to_end) {
        perfh_watch.asked_to_end = 1;
        if (write(perfh_watch.pipe, &end, 1) == 1) {
            errno = error;
            return;
        }
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Does what a byte asks for.  0: the thread ends. */
static int perfh_watch_do(char what)
{
    if (what == 'q')
        return 0;
    if (what == 'r')
        perf_reset();
    if (what != 'T' && what != 'w') {
        perf_results_save(perfh_watch.last, NULL);
        return 1;
    }
    perf_results_save(perfh_watch.whole, NULL);
    if (what == 'w')
        return 0;
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
    return 0;
}

static void *perfh_watcher(void *unused)
{
    struct pollfd wait = {perfh_watch.pipe, POLLIN, 0};
    char          what;

    (void)unused;
    for (;;) {
        const int ready = poll(&wait, 1, PERFH_EVERY_MS);
        if (ready == 0 && !perfh_watch_do('a'))
            break;
        if (ready > 0 && read(wait.fd, &what, 1) == 1 && !perfh_watch_do(what))
            break;
    }
    return NULL;
}

/* Starts the thread with all signals blocked: it runs no handler of the program. */
static int perfh_watch_start(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    perfh_watch.running = pthread_create(&perfh_watch.thread, NULL, perfh_watcher, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return perfh_watch.running;
}

/* Our handler, where SIGTERM would end the process without a word. */
static void perfh_catch_term(void)
{
    struct sigaction now, ours;

    if (sigaction(SIGTERM, NULL, &now) || now.sa_handler != SIG_DFL || (now.sa_flags & SA_SIGINFO))
        return;
    ours = now;
    ours.sa_handler = perfh_on_term;
    ours.sa_flags = SA_RESTART;
    perfh_watch.ours = sigaction(SIGTERM, &ours, NULL) == 0;
}

/* 1: it watches; 0: it does not, and nothing has changed. */
static int perfh_watch_begin(const char *last, const char *whole, const char *ask)
{
    if (perfh_watch.running)
        return 1;
    if (strlen(last) >= sizeof perfh_watch.last || strlen(whole) >= sizeof perfh_watch.whole)
        return 0;
    strcpy(perfh_watch.last, last);
    strcpy(perfh_watch.whole, whole);
    if (mkfifo(ask, 0600) && errno != EEXIST)
        return 0;
    perfh_watch.pipe = open(ask, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (perfh_watch.pipe < 0)
        return 0;
    perfh_watch.owner = getpid();
    perfh_watch.asked_to_end = 0;
    if (!perfh_watch_start()) {
        close(perfh_watch.pipe);
        return 0;
    }
    perfh_catch_term();
    return 1;
}

static void perfh_release_term(void)
{
    struct sigaction now;

    if (perfh_watch.ours && !sigaction(SIGTERM, NULL, &now) && now.sa_handler == perfh_on_term)
        signal(SIGTERM, SIG_DFL);
    perfh_watch.ours = 0;
}

/* Ends the thread.  A SIGTERM that comes meanwhile ends the process behind it.  0: there is none. */
static int perfh_watch_end(char what)
{
    if (!perfh_watch.running || perfh_watch.owner != getpid())
        return 0;
    if (write(perfh_watch.pipe, &what, 1) != 1)
        return 0;                       /* the pipe is full: the thread goes with the process     */
    pthread_join(perfh_watch.thread, NULL);
    perfh_watch.running = 0;
    perfh_release_term();
    close(perfh_watch.pipe);
    if (perfh_watch.asked_to_end)
        raise(SIGTERM);
    return 1;
}

/* In a child of fork(): the thread is not here. */
static void perfh_watch_forked(void)
{
    if (perfh_watch.running)
        close(perfh_watch.pipe);
    perfh_watch.running = 0;
    perfh_release_term();
}

#endif /* no Windows */

#endif
