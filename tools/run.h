/* run.h - perf-ab run: two commands in random turns, decided pair by pair.
 *
 * Before each pair a coin says which command goes first; never two at a time.  What is measured is
 * the time from before the process is made until it has ended, or a number that it prints.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_RUN_H
#define PERF_TOOLS_RUN_H

#include "judge.h"
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct ab_run_opts {
    size_t      pairs;                  /* 0: 100, or as many as the budget has time for          */
    size_t      warmup;                 /* unmeasured runs of each                                */
    double      budget;                 /* seconds; 0: none                                       */
    uint64_t    seed;
    int         seeded, shell, show_output;
    const char *reported;               /* NULL: wall time; "": last number; else what is before  */
    const char *unit, *save;
} ab_run_opts;

typedef struct ab_commands {            /* what is going on                                       */
    const ab_run_opts *o;
    char             **command[2];
    char              *shell[2][4];     /* sh -c TEXT, where --shell asks for it                  */
    char              *title[2];
    ab_values          v[2];
    double             tick;            /* of reported numbers: their last decimal                */
    perf_seq           seq[AB_RULES];
    ab_plan           *plan;
    ab_error           e;
} ab_commands;

PERF_FN ab_run_opts ab_run_opts_default(void)
{
    ab_run_opts o;

    memset(&o, 0, sizeof o);
    o.warmup = 1;
    return o;
}

/* ---- signals: stop after the command that is running, which gets the signal too ---- */

static volatile sig_atomic_t ab_signal_, ab_child_;

static void ab_on_signal_(int number)
{
    ab_signal_ = number;
    if (ab_child_ > 0)
        kill((pid_t)ab_child_, number);
}

static const int ab_signals_[] = {SIGINT, SIGTERM, SIGHUP};

PERF_FN void ab_catch_(sigset_t *all)
{
    struct sigaction a;
    size_t           i;

    memset(&a, 0, sizeof a);
    a.sa_handler = ab_on_signal_;
    sigemptyset(&a.sa_mask);
    sigemptyset(all);
    for (i = 0; i < sizeof ab_signals_ / sizeof *ab_signals_; i++) {
        sigaction(ab_signals_[i], &a, NULL);
        sigaddset(all, ab_signals_[i]);
    }
}

/* Ends the way a shell expects from a program that was interrupted. */
PERF_FN void ab_run_leave(void)
{
    if (!ab_signal_)
        return;
    signal((int)ab_signal_, SIG_DFL);
    raise((int)ab_signal_);
}

/* ---- one command ---- */

PERF_FN double ab_seconds_(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

PERF_FN int ab_command_fail_(ab_commands *c, int side, const char *what, long number)
{
    char   text[160];
    size_t pair = c->v[0].n < c->v[1].n ? c->v[0].n : c->v[1].n;

    snprintf(text, sizeof text, what, number);
    return ab_fail(&c->e, c->title[side], 0, 0, "%s (command %c, pair %zu)%s", text, 'A' + side,
                   pair + 1, c->o->show_output ? "" : "; --show-output shows what it prints");
}

/* Starts it.  Returns the process, or -1 with a message; *from is its output, or -1. */
PERF_FN pid_t ab_start_(ab_commands *c, int side, int *from)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          attr;
    sigset_t                   all, old;
    extern char              **environ;
    pid_t                      child = -1;
    int                        end[2] = {-1, -1}, r;
    size_t                     i;

    sigemptyset(&all);
    for (i = 0; i < sizeof ab_signals_ / sizeof *ab_signals_; i++)
        sigaddset(&all, ab_signals_[i]);
    *from = -1;
    if (c->o->reported && pipe(end) != 0)
        return ab_fail(&c->e, "pipe", 0, 0, "%s", strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (c->o->reported) {
        posix_spawn_file_actions_adddup2(&files, end[1], 1);
        posix_spawn_file_actions_addclose(&files, end[0]);
        posix_spawn_file_actions_addclose(&files, end[1]);
    } else if (c->o->show_output) {
        posix_spawn_file_actions_adddup2(&files, 2, 1);     /* the report owns standard output    */
    } else {
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    }
    if (!c->o->show_output)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    sigprocmask(SIG_BLOCK, &all, &old);                     /* until the handler knows the child  */
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &old);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    r = posix_spawnp(&child, c->command[side][0], &files, &attr, c->command[side], environ);
    ab_child_ = r ? 0 : (sig_atomic_t)child;
    sigprocmask(SIG_SETMASK, &old, NULL);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    if (end[1] >= 0)
        close(end[1]);
    if (r) {
        if (end[0] >= 0)
            close(end[0]);
        return ab_fail(&c->e, c->title[side], 0, 0, "cannot be run: %s", strerror(r));
    }
    *from = end[0];
    return child;
}

/* All that comes out of a pipe, at most its last 8 to 16 MB. */
PERF_FN char *ab_drain_(int from, size_t *len)
{
    enum { MOST = 1 << 24 };
    size_t  cap = 1 << 12, n = 0;
    char   *t = (char *)ab_grow(NULL, cap, 1);
    ssize_t got;

    for (;;) {
        got = read(from, t + n, cap - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
        if (n == cap - 1 && cap < MOST) {
            cap *= 2;
            t = (char *)ab_grow(t, cap, 1);
        } else if (n == cap - 1) {
            memmove(t, t + n / 2, n - n / 2);
            n -= n / 2;
        }
    }
    close(from);
    t[n] = '\0';
    *len = n;
    return t;
}

/* Finds the number that a command reports; 0: there is none.  *tick: one unit of its last digit. */
PERF_FN int ab_reported_(const char *text, const char *behind, double *x, double *tick)
{
    const char *p = text, *next, *found = NULL, *q;
    char       *end;

    if (*behind) {
        for (next = text; (next = strstr(next, behind)) != NULL; next++)
            found = next;
        if (!found)
            return 0;
        p = found + strlen(behind);
        found = NULL;
    }
    for (q = p; *q; q++) {
        if (*q < '0' || *q > '9')
            continue;
        if (q == p ||
            !((q[-1] >= 'a' && q[-1] <= 'z') || (q[-1] >= 'A' && q[-1] <= 'Z') || q[-1] == '_')) {
            found = q;
            if (*behind)
                break;
        }
        strtod(q, &end);
        q = end > q ? end - 1 : q;
    }
    if (!found)
        return 0;
    *x = strtod(found, &end);
    *tick = 0.0;
    if (!memchr(found, 'e', (size_t)(end - found)) && !memchr(found, 'E', (size_t)(end - found))) {
        *tick = 1.0;
        q = (const char *)memchr(found, '.', (size_t)(end - found));
        for (q = q ? q + 1 : end; q < end; q++)
            *tick /= 10.0;
    }
    if (found > p && found[-1] == '-')
        *x = -*x;
    return 1;
}

/* Runs one side once.  0 and its figure, 1: interrupted, -1: a message. */
PERF_FN int ab_once_(ab_commands *c, int side, double *figure)
{
    double  began = ab_seconds_(), tick = 0.0;
    int     from, status = 0;
    pid_t   child = ab_start_(c, side, &from);
    char   *text = NULL;
    size_t  len;

    if (child < 0)
        return -1;
    if (from >= 0)
        text = ab_drain_(from, &len);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    *figure = (ab_seconds_() - began) * 1e9;
    ab_child_ = 0;
    if (ab_signal_) {
        free(text);
        return 1;
    }
    status = WIFSIGNALED(status)
                 ? ab_command_fail_(c, side, "was killed by signal %ld", WTERMSIG(status))
             : WEXITSTATUS(status)
                 ? ab_command_fail_(c, side, "ended with status %ld", WEXITSTATUS(status))
                 : 0;
    if (!status && text) {
        if (!ab_reported_(text, c->o->reported, figure, &tick))
            status = ab_command_fail_(c, side, "printed no such number", 0);
        else if (!(*figure > 0.0) || !perf_is_finite_(*figure))
            status = ab_command_fail_(c, side, "printed a number that is not positive", 0);
        c->tick = tick > c->tick ? tick : c->tick;
    }
    free(text);
    return status;
}

/* ---- pairs ---- */

/* Looks at the pairs so far, the last one new. */
PERF_FN perf_decision ab_look_(ab_commands *c)
{
    size_t n = c->v[1].n - 1;
    double a = c->v[0].x[n], b = c->v[1].x[n];
    int    k, accepted = 0, rejected = 0;

    for (k = 0; k < c->plan->rules; k++) {
        const perf_rule *r = &c->plan->rule[k];
        perf_decision    d = PERF_INCONCLUSIVE;
        if (n == 0)
            (void)perf_seq_init(&c->seq[k], r, c->plan->confidence, r->metric == PERF_METRIC_MEMORY
                                ? 0.0 : 0.5 * (c->tick / a + c->tick / b));
        if (ab_is_typical(r->metric))
            d = r->metric == PERF_METRIC_THROUGHPUT ? perf_seq_add(&c->seq[k], b, a)
                                                    : perf_seq_add(&c->seq[k], a, b);
        accepted += d == PERF_ACCEPT;
        rejected += d == PERF_REJECT;
    }
    return rejected ? PERF_REJECT : accepted == c->plan->rules ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

PERF_FN void ab_progress_(const ab_commands *c, double seconds, int done)
{
    size_t n = c->v[1].n;
    double change = n ? ab_statistic(c->v[1].x, n, PERF_METRIC_P50) /
                        ab_statistic(c->v[0].x, n, PERF_METRIC_P50) : 1.0;

    if (done)
        fprintf(stderr, "\r%60s\r", "");
    else
        fprintf(stderr, "\rperf-ab: %zu pairs, %.0f s, median %+.1f %% ", n, seconds,
                (change - 1.0) * 100.0);
    fflush(stderr);
}

/* 0: done or decided, 1: interrupted, -1: a message. */
PERF_FN int ab_pairs_(ab_commands *c)
{
    double   began = ab_seconds_(), shown = began, figure[2];
    uint64_t state = c->o->seed, most = c->o->pairs          ? c->o->pairs
                                        : c->o->budget > 0.0 ? 1000000
                                                             : 100;
    int      tty = isatty(2), r = 0, first, k;
    size_t   i;

    if (!c->o->seeded) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        state = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ((uint64_t)getpid() << 40);
    }
    for (i = 0; i < 2 * c->o->warmup && !r; i++)
        r = ab_once_(c, (int)(i % 2), &figure[0]);
    for (i = 0; i < most && !r; i++) {
        if (c->o->budget > 0.0 && ab_seconds_() - began >= c->o->budget)
            break;
        first = (int)(perf_random_(&state) >> 63);
        for (k = 0; k < 2 && !r; k++)
            r = ab_once_(c, first ^ k, &figure[first ^ k]);
        if (r)
            break;
        ab_push(&c->v[0], figure[0]);
        ab_push(&c->v[1], figure[1]);
        if (tty && ab_seconds_() - shown > 0.2) {
            shown = ab_seconds_();
            ab_progress_(c, shown - began, 0);
        }
        if (ab_look_(c) != PERF_INCONCLUSIVE)
            break;
    }
    if (tty)
        ab_progress_(c, 0.0, 1);
    return r;
}

/* The verdict of one rule after the last pair. */
PERF_FN perf_verdict ab_run_verdict_(const ab_commands *c, int k, const ab_data *d)
{
    perf_compare_opts o = perf_compare_opts_default();
    perf_verdict      v;
    double           *log_ratio;
    int               swap = d->rule.metric == PERF_METRIC_THROUGHPUT;
    size_t            i, n = d->n[0];

    if (!ab_is_typical(d->rule.metric) || n < 1)
        return ab_verdict(d, c->plan->confidence);
    o.rule = d->rule;
    o.confidence = c->plan->confidence;
    v = perf_verdict_start_(&o);
    log_ratio = (double *)ab_grow(NULL, n, sizeof *log_ratio);
    for (i = 0; i < n; i++)
        log_ratio[i] = perf_log(d->x[!swap][i]) - perf_log(d->x[swap][i]);
    v.pairs = n;
    perf_verdict_finish_(&v,
                         perf_widen_(perf_seq_interval(log_ratio, n, o.confidence), c->seq[k].tick),
                         (double)n, &o);
    free(log_ratio);
    if (v.decision != c->seq[k].decision) { /* the bet decides, the interval shows */
        v.decision = c->seq[k].decision;
        v.reason = v.decision == PERF_INCONCLUSIVE ? "not decided within these pairs"
                                                   : "decided pair by pair";
    }
    return v;
}

/* ---- the whole ---- */

/* The words of a command with a space between; the caller frees it. */
PERF_FN char *ab_title_(char **word)
{
    size_t len = 1, i;
    char  *t;

    for (i = 0; word[i]; i++)
        len += strlen(word[i]) + 1;
    t = (char *)ab_grow(NULL, len, 1);
    *t = '\0';
    for (i = 0; word[i]; i++) {
        if (i)
            strcat(t, " ");
        strcat(t, word[i]);
    }
    return t;
}

/* Takes  -- A... -- B...  apart; the words stay where they are. */
PERF_FN int ab_split_(ab_commands *c, char **argv)
{
    static char sh[] = "sh", dash_c[] = "-c";
    size_t      i, dashes = 0;
    int         side;

    for (i = 0; argv[i]; i++)
        if (!strcmp(argv[i], "--")) {
            argv[i] = NULL;
            if (dashes++ < 2)
                c->command[dashes - 1] = &argv[i + 1];
            if (dashes > 2)
                return ab_fail(&c->e, "run", 0, 0,
                               "a third --: commands that need one take --shell");
        }
    if (dashes < 2 || !c->command[0][0] || !c->command[1][0])
        return ab_fail(&c->e, "run", 0, 0,
                       "two commands are needed: -- COMMAND_A... -- COMMAND_B...");
    for (side = 0; side < 2; side++) {
        c->title[side] = ab_title_(c->command[side]);
        if (c->o->shell) {
            c->shell[side][0] = sh;
            c->shell[side][1] = dash_c;
            c->shell[side][2] = c->title[side];
            c->command[side] = c->shell[side];
        }
    }
    return 0;
}

PERF_FN int ab_save_(const char *file, const ab_set *set)
{
    FILE *f = fopen(file, "wb");

    if (f)
        ab_print_results(f, set);
    return f && !ferror(f) && fclose(f) == 0 ? 0 : -1;
}

/* Measures and judges; argv begins with the first --.  0: r is ready for a report; else an exit
 * status, already explained.  `set` keeps the numbers that r points to.                          */
PERF_FN int ab_run_commands(ab_report *r, ab_set *set, const ab_run_opts *o, char **argv)
{
    ab_commands c;
    ab_series  *s;
    sigset_t    all;
    int         k, stopped;

    memset(&c, 0, sizeof c);
    c.o = o;
    c.plan = &r->plan;
    ab_catch_(&all);
    stopped = ab_split_(&c, argv) < 0 ? -1 : ab_pairs_(&c);
    if (stopped >= 0 && !c.v[0].n) {
        ab_run_leave();
        stopped = ab_fail(&c.e, "run", 0, 0, "no pair was measured: the budget is too short");
    }
    s = ab_series_of(set, "command");
    s->design = AB_PAIRS;
    free(s->unit);
    s->unit = ab_copy(o->reported ? o->unit ? o->unit : "" : "ns", strlen(o->reported ? o->unit
                      ? o->unit : "" : "ns"));
    memcpy(ab_run_of(s, NULL)->v, c.v, sizeof c.v);
    for (k = 0; k < 2; k++) {
        r->name[k] = r->owned[k] = c.title[k];
        r->format[k] = o->reported ? "number it reports" : "wall time";
    }
    if (stopped < 0) {
        fprintf(stderr, "perf-ab: %s\n", c.e.text);
        return AB_UNUSABLE;
    }
    if (o->save && ab_save_(o->save, set) < 0) {
        fprintf(stderr, "perf-ab: %s: cannot be written\n", o->save);
        return AB_UNUSABLE;
    }
    r->sequential = 1;
    r->n = 1;
    r->row = (ab_row *)ab_grow(NULL, 1, sizeof *r->row);
    memset(r->row, 0, sizeof *r->row);
    r->row->name = s->name;
    for (k = 0; k < r->plan.rules; k++) {
        ab_data *d = &r->row->d[k];
        d->rule = r->plan.rule[k];
        if (ab_collect(d, s, s, AB_VOUCH_PAIRED, "run", &c.e) < 0) {
            fprintf(stderr, "perf-ab: %s\n", c.e.text);
            return AB_UNUSABLE;
        }
        if (d->tick >= 0.0)
            d->tick = c.tick;
        d->v = ab_run_verdict_(&c, k, d);
    }
    ab_judge(r);
    return 0;
}

#endif
