/* process.h - one command at a time: started in a process group of its own, timed, and gone with
 * all of its children when it ends, takes too long, or perf-ab is interrupted.
 *
 * The leader stays a zombie until its group has been signalled: so long nobody else can get its id.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_PROCESS_H
#define PERF_TOOLS_PROCESS_H

#include "ab.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct ab_spawn_opts {
    int    capture;                     /* standard output is read, see ab_ended.text             */
    int    show;                        /* let output through to standard error, not to nowhere   */
    double timeout;                     /* seconds; 0: none                                       */
    char **environment;                 /* NULL: that of perf-ab                                  */
} ab_spawn_opts;

typedef struct ab_ended {               /* how a command ended, and what it took                  */
    double wall, user, system;          /* ns; user and system with the children it waited for    */
    double memory;                      /* bytes, the most that one process had resident          */
    int    status, signal;              /* exit status, or the signal that killed it              */
    int    late;                        /* 1: it was ended because of the timeout                 */
    int    stopped;                     /* the signal that had stopped it when we ended it, 0:none*/
    char  *text;                        /* captured output, the caller frees it; or NULL          */
    int    cut;                         /* 1: the beginning of it is gone                         */
} ab_ended;

PERF_FN double ab_seconds_(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- signals ---- */

static volatile sig_atomic_t ab_signal_;            /* the one that interrupted us, 0: none       */
static volatile sig_atomic_t ab_child_, ab_alarms_; /* the running group; alarms it has had       */
static volatile sig_atomic_t ab_forward_only_;      /* 1: the group ends by itself when signalled */
static volatile double       ab_ended_at_;
static int                   ab_wake_[2] = {-1, -1};

static const int ab_signals_[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGCHLD};
static sigset_t  ab_caught_;                        /* of them; nohup's SIGHUP stays ignored      */

/* The group gets the signal, and a second to act on it. */
static void ab_on_signal_(int number)
{
    ab_signal_ = number;
    if (ab_child_ > 0) {
        kill((pid_t)-ab_child_, number);
        if (ab_forward_only_)
            return;
        ab_alarms_ = 1;
        alarm(1);
    }
}

static void ab_on_alarm_(int number)
{
    (void)number;
    if (ab_child_ > 0)
        kill((pid_t)-ab_child_, ab_alarms_ ? SIGKILL : SIGTERM);
    if (ab_alarms_ < 100)
        ab_alarms_ = ab_alarms_ + 1;
    alarm(1);
}

static void ab_on_child_(int number)
{
    int was = errno;

    (void)number;
    ab_ended_at_ = ab_seconds_();
    if (write(ab_wake_[1], "", 1) < 0)              /* full: it wakes up all the same             */
        errno = was;
    errno = was;
}

/* A pipe that wakes who waits.  -1: there is none. */
PERF_FN int ab_wake_make_(void)
{
    int k;

    if (pipe(ab_wake_) != 0)
        return -1;
    for (k = 0; k < 2; k++) {
        fcntl(ab_wake_[k], F_SETFD, FD_CLOEXEC);
        fcntl(ab_wake_[k], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

/* Must be called before the first command.  -1 without a pipe. */
PERF_FN int ab_catch(void)
{
    struct sigaction a, was;
    size_t           i;

    if (ab_wake_make_() != 0)
        return -1;
    memset(&a, 0, sizeof a);
    sigemptyset(&a.sa_mask);
    for (i = 0; i < sizeof ab_signals_ / sizeof *ab_signals_; i++)
        sigaddset(&a.sa_mask, ab_signals_[i]);
    sigemptyset(&ab_caught_);
    for (i = 0; i < sizeof ab_signals_ / sizeof *ab_signals_; i++) {
        a.sa_handler = ab_on_signal_;
        if (ab_signals_[i] == SIGALRM)
            a.sa_handler = ab_on_alarm_;
        if (ab_signals_[i] == SIGCHLD)
            a.sa_handler = ab_on_child_;
        if (a.sa_handler == ab_on_signal_ && sigaction(ab_signals_[i], NULL, &was) == 0 &&
            was.sa_handler == SIG_IGN)
            continue;
        sigaction(ab_signals_[i], &a, NULL);
        sigaddset(&ab_caught_, ab_signals_[i]);
    }
    if (signal(SIGPIPE, SIG_IGN) != SIG_IGN)        /* a report nobody reads is no reason to leave*/
        sigaddset(&ab_caught_, SIGPIPE);            /* without cleaning up                        */
    sigprocmask(SIG_UNBLOCK, &ab_caught_, NULL);    /* who started us may have blocked them       */
    return 0;
}

/* Ends the way a shell expects from a program that was interrupted. */
PERF_FN void ab_run_leave(void)
{
    if (!ab_signal_)
        return;
    signal((int)ab_signal_, SIG_DFL);
    raise((int)ab_signal_);
}

PERF_FN void ab_set_timer_(double seconds)
{
    struct itimerval t;

    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = (time_t)seconds;
    t.it_value.tv_usec = (suseconds_t)((seconds - (double)t.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- one command ---- */

/* Starts it as the leader of a group.  Returns the process, or -1 and errno; *from: its output. */
PERF_FN pid_t ab_start_(char **word, const ab_spawn_opts *opts, int *from)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          attr;
    sigset_t                   old;
    extern char              **environ;
    pid_t                      child = -1;
    int                        end[2] = {-1, -1}, result;

    *from = -1;
    if (opts->capture && pipe(end) != 0)
        return -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (opts->capture) {
        fcntl(end[0], F_SETFD, FD_CLOEXEC);
        posix_spawn_file_actions_adddup2(&files, end[1], 1);
        posix_spawn_file_actions_addclose(&files, end[1]);
    } else if (opts->show) {
        posix_spawn_file_actions_adddup2(&files, 2, 1);     /* the report owns standard output    */
    } else {
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    }
    if (!opts->show)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    /* until the handlers know the child */
    sigprocmask(SIG_BLOCK, &ab_caught_, &old);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &old);
    posix_spawnattr_setsigdefault(&attr, &ab_caught_);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    result = posix_spawnp(&child, word[0], &files, &attr, word,
                          opts->environment ? opts->environment : environ);
    ab_alarms_ = 0;
    ab_child_ = result ? 0 : (sig_atomic_t)child;
    if (!result && opts->timeout > 0.0)
        ab_set_timer_(opts->timeout);
    sigprocmask(SIG_SETMASK, &old, NULL);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    if (end[1] >= 0)
        close(end[1]);
    if (result && end[0] >= 0)
        close(end[0]);
    errno = result;
    *from = result ? -1 : end[0];
    return result ? -1 : child;
}

enum { AB_OUTPUT_MOST = 1 << 24 };      /* bytes from which on the buffer does not grow           */

typedef struct ab_output {              /* out of a pipe; of more than 32 MB the last 16 to 32    */
    char  *text;
    size_t n, cap;
    int    cut;                         /* 1: the beginning is gone                               */
} ab_output;

/* Reads what is there; closes *from at the end. */
PERF_FN void ab_take_output_(ab_output *output, int *from)
{
    ssize_t got;

    for (;;) {
        if (output->n + 1 >= output->cap && output->cap < AB_OUTPUT_MOST) {
            output->cap = 2 * output->cap + 4096;
            output->text = (char *)ab_grow(output->text, output->cap, 1);
        } else if (output->n + 1 >= output->cap) {
            memmove(output->text, output->text + output->n / 2, output->n - output->n / 2);
            output->n -= output->n / 2;
            output->cut = 1;
        }
        got = read(*from, output->text + output->n, output->cap - 1 - output->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0)
            break;
        output->n += (size_t)got;
    }
    close(*from);
    *from = -1;
}

typedef struct ab_pause {               /* of a command that is stopped                           */
    double changed, looked;             /* when it last stopped or was woken; when we last looked */
    int    looks;                       /* how often it was found stopped since                   */
} ab_pause;

/* Stopped by that signal, will it go on?  A group in the background that asks the terminal for a
 * password, say, is stopped by the system, and nobody would ever wake it.  One that stops itself may
 * have somebody who does: ten looks are enough, 0.1 s apart.  A clock alone would count the time in
 * which we are stopped, too, as by a batch system, which may wake us first.                      */
PERF_FN int ab_goes_on_(int number, ab_pause *pause)
{
    const double now = ab_seconds_();

    if (number == SIGTTIN || number == SIGTTOU)
        return 0;
    if (ab_ended_at_ > pause->changed) {            /* each stop and each wake-up sets that       */
        pause->changed = ab_ended_at_;
        pause->looked = now;
        pause->looks = 0;
    }
    if (now - pause->looked >= 0.1) {
        pause->looked = now;
        pause->looks++;
    }
    return pause->looks < 10;
}

/* Until the leader has ended, who stays a zombie.  What its children still hold open or print does
 * not count.  One that is stopped for good is killed; returns the signal that stopped it, else 0. */
PERF_FN int ab_await_(pid_t child, int from, ab_output *output)
{
    struct pollfd on[2];
    siginfo_t     info;
    ab_pause      pause = {0.0, 0.0, 0};
    char          bytes[64];
    int           stopped = 0;

    if (from >= 0)
        fcntl(from, F_SETFL, O_NONBLOCK);
    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid && info.si_code != CLD_STOPPED)
            break;
        if (info.si_pid && !ab_goes_on_(info.si_status, &pause)) {
            stopped = info.si_status;
            kill((pid_t)-child, SIGKILL);
        }
        on[0].fd = ab_wake_[0];
        on[1].fd = from;
        on[0].events = on[1].events = POLLIN;
        on[1].revents = 0;
        if (poll(on, 2, info.si_pid && !stopped ? 100 : -1) > 0 && on[1].revents)
            ab_take_output_(output, &from);
        while (read(ab_wake_[0], bytes, sizeof bytes) > 0)
            continue;
    }
    if (from >= 0)
        ab_take_output_(output, &from);
    if (from >= 0)
        close(from);
    return stopped;
}

/* Signals what is left of a group whose leader is still a zombie, reaps the leader, and gives the
 * others a second before it kills them.  As long as one lives the group keeps its number.        */
PERF_FN void ab_end_group_(pid_t leader, int number, int *status, struct rusage *used)
{
    struct timespec pause = {0, 1000000};
    double          until = ab_seconds_() + 1.0;

    kill((pid_t)-leader, number);
    while (wait4(leader, status, 0, used) < 0 && errno == EINTR)
        continue;
    while (kill((pid_t)-leader, 0) == 0 && number != SIGKILL) {
        number = ab_seconds_() < until ? number : SIGKILL;
        if (number == SIGKILL)
            kill((pid_t)-leader, SIGKILL);
        nanosleep(&pause, NULL);
    }
}

/* Linux counts the most that a process had resident from what the one that starts it has had: a
 * command behind one that prints 16 MB would be said to take that.  So ours is given back, and the
 * count of it begins anew.  What is left is about 2 MB, and no command shows less.               */
PERF_FN void ab_forget_memory_(void)
{
    int f = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (f < 0)
        return;
    while (write(f, "5", 1) < 0 && errno == EINTR)      /* an old kernel: the count stays         */
        continue;
    close(f);
}

/* Runs it to its end, and ends what it leaves behind in its group.  -1 and errno: cannot be run. */
PERF_FN int ab_run_one(char **word, const ab_spawn_opts *opts, ab_ended *out)
{
    double        began;
    ab_output     output;
    struct rusage used;
    int           from, status = 0, number;
    size_t        k;
    pid_t         child;

    memset(out, 0, sizeof *out);
    memset(&output, 0, sizeof output);
    ab_forget_memory_();
    began = ab_seconds_();
    child = ab_start_(word, opts, &from);
    if (child < 0)
        return -1;
    out->stopped = ab_await_(child, from, &output);
    ab_set_timer_(0.0);
    out->wall = (ab_ended_at_ - began) * 1e9;
    out->late = ab_alarms_ && !ab_signal_;
    number = ab_alarms_ ? SIGKILL : SIGTERM;
    ab_child_ = 0;
    ab_end_group_(child, number, &status, &used);
    out->user = (double)used.ru_utime.tv_sec * 1e9 + (double)used.ru_utime.tv_usec * 1e3;
    out->system = (double)used.ru_stime.tv_sec * 1e9 + (double)used.ru_stime.tv_usec * 1e3;
#ifdef __APPLE__
    out->memory = (double)used.ru_maxrss;
#else
    out->memory = (double)used.ru_maxrss * 1024.0;
#endif
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (opts->capture) {
        output.text = (char *)ab_grow(output.text, output.n + 1, 1);
        output.text[output.n] = '\0';
        for (k = 0; k < output.n; k++)
            output.text[k] = output.text[k] ? output.text[k] : ' ';
    }
    out->text = output.text;
    out->cut = output.cut;
    return 0;
}

/* ---- helpers: untimed, by sh, and what they leave running may go on until ab_helper_end ---- */

/* Runs the text.  Returns the process, whose group goes on; -1: it failed, out and errno say how
 * (a status of 0 and no signal: it cannot be run).                                               */
PERF_FN pid_t ab_helper(const char *text, int show, ab_ended *out)
{
    static char   sh[] = "sh", dash_c[] = "-c";
    char         *word[4], *copy = ab_copy(text, strlen(text));
    ab_spawn_opts opts;
    ab_output     none;
    siginfo_t     info;
    pid_t         child;
    int           from;

    memset(&opts, 0, sizeof opts);
    memset(out, 0, sizeof *out);
    memset(&none, 0, sizeof none);
    opts.show = show;
    word[0] = sh;
    word[1] = dash_c;
    word[2] = copy;
    word[3] = NULL;
    child = ab_start_(word, &opts, &from);
    free(copy);
    if (child < 0)
        return -1;
    out->stopped = ab_await_(child, from, &none);
    ab_child_ = 0;
    ab_set_timer_(0.0);
    memset(&info, 0, sizeof info);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
    out->status = info.si_code == CLD_EXITED ? info.si_status : 0;
    out->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    if (!out->status && !out->signal)
        return child;
    kill((pid_t)-child, SIGKILL);
    waitpid(child, NULL, 0);
    return -1;
}

PERF_FN void ab_helper_end(pid_t *child)
{
    struct rusage used;
    int           status;

    if (*child <= 0)
        return;
    ab_end_group_(*child, SIGTERM, &status, &used);
    *child = 0;
}

#endif
