/* run.h - perf-ab run: commands in random turns, decided round by round.
 *
 * A contest is a group of commands, the first of them the baseline.  A round runs each command that
 * is still undecided once, in an order that coins decide, never two at a time: so each of them and
 * the baseline form a pair in random order.  What is measured is the time from before the process
 * is made until it has ended, what it used, or a number that it prints.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_RUN_H
#define PERF_TOOLS_RUN_H

#include "judge.h"
#include "link.h"
#include "place.h"
#include "printed.h"
#include "process.h"
#include "spread.h"
#include "write.h"

#include "perf_counters.h"

enum { AB_PARAMETERS = 4, AB_PREPARES = 64, AB_COMMANDS = 1000, AB_SEQS = 2 * AB_RULES };

typedef enum ab_measure {
    AB_WALL, AB_CPU, AB_USER, AB_SYSTEM, AB_PEAK, AB_REPORTED,
    /* as PERF_METRIC_INSTRUCTIONS ... */
    AB_INSTRUCTIONS, AB_CYCLES, AB_BRANCHES, AB_BRANCH_MISSES,
    AB_MEASURES
} ab_measure;

typedef struct ab_run_opts {
    size_t      pairs;                  /* 0: 100, or as many as the budget has time for          */
    size_t      warmup;                 /* unmeasured runs of each                                */
    double      budget;                 /* seconds; 0: none                                       */
    double      timeout;                /* seconds for one command; 0: none                       */
    uint64_t    seed;
    int         seeded, shell, show_output, ignore_failure;
    int         one_placement;          /* 1: the environment of each run is as large as ours     */
    int         duet;                   /* 1: both commands of a pair at once, a processor each   */
    int         each;                   /* 1: a run reports several numbers                       */
    ab_measure  measure;
    int         measured;               /* 1: --measure was given                                 */
    const char *reported;               /* NULL: no; "": last number; else what is before it      */
    const char *unit, *save;
    const char *setup, *cleanup;        /* once for each command, before and after all its runs   */
    const char *prepare[AB_PREPARES];   /* before each run; one for all, or one for each          */
    size_t      prepares;
    const char *link[AB_PREPARES];      /* links with objects in random order, before each run    */
    size_t      links;
    const char *parameter[AB_PARAMETERS];           /* NAME=1,2,3 or NAME=1..8 or NAME=0..1:0.25  */
    size_t      parameters;
} ab_run_opts;

typedef struct ab_command {
    char     **word;                    /* to execute                                             */
    char      *title, *shell[4];
    char      *setup, *prepare, *cleanup, *link;    /* NULL: none                                 */
    ab_values  v[AB_MEASURES];          /* each run of it, in the order of time                   */
    ab_spread  spread;                  /* where a run reports several numbers                    */
    size_t     failed;                  /* runs with another status than 0                        */
    pid_t      helper;                  /* group that setup has left running                      */
} ab_command;

typedef struct ab_contest {
    ab_command *command;                /* [0] is the baseline                                    */
    size_t      n;
    char       *name;                   /* "threads=4", or ""                                     */
} ab_contest;

typedef struct ab_commands {            /* what is going on                                       */
    const ab_run_opts *o;
    ab_plan     plan;                   /* metrics settled                                        */
    ab_contest *contest;
    size_t      n, rows;
    double      confidence;             /* of each row, so that all of them together have plan's  */
    double      tick;                   /* of reported numbers: their last decimal                */
    ab_printed_unit unit;               /* and their unit                                         */
    uint32_t    counted;                /* counters of the processor: bits of perf_counters_opts  */
    uint64_t    place;                  /* of the coins that choose sizes of environments         */
    int         processor[2];           /* of a duet                                              */
    perf_seq   *seq;                    /* [AB_SEQS] of each row: one for each rule that may say  */
                                        /* ACCEPT, then one for each that may say REJECT          */
    ab_error    e;
} ab_commands;

PERF_FN ab_run_opts ab_run_opts_default(void)
{
    ab_run_opts opts;

    memset(&opts, 0, sizeof opts);
    opts.warmup = 1;
    return opts;
}

/* The measure of that name, or -1. */
PERF_FN int ab_measure_of(const char *name)
{
    static const char *const known[AB_MEASURES] = {"wall", "cpu", "user", "system", "memory", "",
                                                   "instructions", "cycles", "branches",
                                                   "branch-misses"};
    int i;

    for (i = 0; i < AB_MEASURES; i++)
        if (*known[i] && !strcmp(name, known[i]))
            return i;
    return -1;
}

PERF_FN int ab_is_counter(ab_measure measure)
{
    return measure >= AB_INSTRUCTIONS && measure <= AB_BRANCH_MISSES;
}

PERF_FN perf_counter ab_counter_of(ab_measure measure)
{
    return (perf_counter)(PERF_COUNTER_INSTRUCTIONS + (measure - AB_INSTRUCTIONS));
}

/* What a rule of the plan reads: memory rules the peak, unless a number is reported that may be one. */
PERF_FN ab_measure ab_measured_(const ab_commands *commands, int rule)
{
    const perf_metric metric = commands->plan.rule[rule].metric;

    if (metric >= PERF_METRIC_INSTRUCTIONS && metric <= PERF_METRIC_BRANCH_MISSES)
        return (ab_measure)(AB_INSTRUCTIONS + (metric - PERF_METRIC_INSTRUCTIONS));
    if (commands->o->reported && !(commands->plan.kind[rule] == AB_MEMORY && commands->o->unit &&
                                   ab_misfit(&commands->plan.rule[rule], commands->o->unit)))
        return AB_REPORTED;
    return commands->plan.kind[rule] == AB_MEMORY ? AB_PEAK : commands->o->measure;
}

PERF_FN const char *ab_measure_unit_(const ab_commands *commands, ab_measure measure)
{
    static const char *const counted[] = {"instructions", "cycles", "branches", "branch misses"};

    if (measure == AB_PEAK)
        return "B";
    if (ab_is_counter(measure))
        return counted[measure - AB_INSTRUCTIONS];
    if (measure != AB_REPORTED)
        return "ns";
    return commands->o->unit ? commands->o->unit : "";
}

/* The step of what is measured: the kernel counts processor time in us, and deals it out between
 * user and system by ticks.                                                                      */
PERF_FN double ab_measure_step_(const ab_commands *commands, ab_measure measure)
{
    if (measure == AB_WALL)
        return 1.0;
    if (measure == AB_CPU)
        return 1e3;
    if (measure == AB_PEAK || ab_is_counter(measure))
        return -1.0;                    /* exact                                                  */
    return measure == AB_REPORTED ? commands->tick : 1e9 / (double)sysconf(_SC_CLK_TCK);
}

/* ---- one run of one command ---- */

PERF_FN int ab_command_fail_(ab_commands *commands, size_t contest, size_t i, const char *what,
                             long number)
{
    const ab_contest *t = &commands->contest[contest];
    char              text[160], which[24];

    snprintf(text, sizeof text, what, number);
    if (i < 26)
        snprintf(which, sizeof which, "command %c", 'A' + (int)i);
    else
        snprintf(which, sizeof which, "command %zu", i + 1);
    return ab_fail(&commands->e, t->command[i].title, 0, 0, "%s (%s, %s%spair %zu)%s", text, which,
                   t->name, *t->name ? ", " : "", t->command[i].v[0].n + 1,
                   commands->o->show_output ? "" : "; --show-output shows what it prints");
}

/* Why a command that was stopped by that signal did not go on. */
PERF_FN const char *ab_stopped_why_(int number)
{
    return number == SIGTTIN || number == SIGTTOU ?
           "waited for the terminal, which it does not get (a password? give it before)" :
           "was stopped (SIGSTOP?) for a second, and nobody let it go on";
}

/* Runs an untimed helper.  0 and *left, its group if it goes on; 1: interrupted; -1: a message. */
PERF_FN int ab_help_(ab_commands *commands, const char *what, const char *text, pid_t *left)
{
    ab_ended ended;
    pid_t    group;

    *left = 0;
    if (!text)
        return 0;
    group = ab_helper(text, commands->o->show_output, &ended);
    if (ab_signal_) {
        ab_helper_end(&group);
        return 1;
    }
    if (group < 0 && ended.stopped)
        return ab_fail(&commands->e, what, 0, 0, "'%.200s' %s", text,
                       ab_stopped_why_(ended.stopped));
    if (group < 0 && ended.signal)
        return ab_fail(&commands->e, what, 0, 0, "'%.200s' was killed by signal %d", text,
                       ended.signal);
    if (group < 0)
        return ab_fail(&commands->e, what, 0, 0, "'%.200s' ended with status %d", text,
                       ended.status);
    *left = group;
    return 0;
}

/* Counters of what this process starts from now on, each from its exec on, with its children.  Where
 * none is asked for they are closed.                                                             */
PERF_FN perf_counters ab_count_begin_(const ab_commands *commands)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      none = PERF_ZERO;

    opts.which = commands->counted;
    opts.process = (int)getpid();
    return commands->counted ? perf_counters_open(&opts) : none;
}

/* What they have counted into figure[], and closes them.  The name of one that has no figure; NULL:
 * all have.                                                                                      */
PERF_FN const char *ab_count_end_(const ab_commands *commands, perf_counters *counters,
                                  double *figure)
{
    const char *missing = NULL;
    int         m;

    (void)perf_counters_stop(counters);
    for (m = AB_INSTRUCTIONS; m <= AB_BRANCH_MISSES; m++) {
        const perf_counter which = ab_counter_of((ab_measure)m);
        figure[m] = 0.0;
        if (!(commands->counted & 1u << which))
            continue;
        figure[m] = counters->value[which];
        if (perf_counters_why(counters, which))
            missing = ab_measure_unit_(commands, (ab_measure)m);
    }
    perf_counters_close(counters);
    return missing;
}

/* Which counters are asked for.  0: they are there; 2: not, and `text` says why. */
PERF_FN int ab_counters_settle_(ab_commands *commands, char *text, size_t cap)
{
    perf_counters counters;
    int           k, missing = 0;

    for (k = 0; k < commands->plan.rules; k++)
        if (ab_is_counter(ab_measured_(commands, k)))
            commands->counted |= 1u << ab_counter_of(ab_measured_(commands, k));
    counters = ab_count_begin_(commands);
    for (k = 0; k < commands->plan.rules && !missing; k++) {
        const ab_measure measure = ab_measured_(commands, k);
        const char      *why =
            ab_is_counter(measure) ? perf_counters_why(&counters, ab_counter_of(measure)) : NULL;
        if (!why)
            continue;
        snprintf(text, cap, "%s cannot be counted: %.300s", ab_measure_unit_(commands, measure),
                 why);
        missing = 2;
    }
    if (commands->counted)
        perf_counters_close(&counters);
    return missing;
}

typedef struct ab_taken {               /* one run of a command                                   */
    ab_ended    e;
    double      figure[AB_MEASURES];    /* of the counters                                        */
    const char *missing;                /* a counter without a figure, or NULL                    */
    int         error;                  /* errno: it cannot be run; else 0                        */
} ab_taken;

/* How many bytes the environment of the next run has more than ours. */
PERF_FN size_t ab_padding_(ab_commands *commands)
{
    return (size_t)((perf_random_(&commands->place) >> 32) * AB_PADDING_MOST >> 32);
}

/* Runs a command once. */
PERF_FN void ab_take_(const ab_commands *commands, const ab_command *command, size_t padding,
                      ab_taken *taken)
{
    ab_spawn_opts opts;
    perf_counters counters;

    memset(&opts, 0, sizeof opts);
    memset(taken, 0, sizeof *taken);
    opts.capture = commands->o->reported != NULL;
    opts.show = commands->o->show_output;
    opts.timeout = commands->o->timeout;
    if (!commands->o->one_placement)
        opts.environment = ab_environment(padding);
    counters = ab_count_begin_(commands);
    if (!ab_signal_ && ab_run_one(command->word, &opts, &taken->e) < 0)
        taken->error = errno ? errno : EIO;
    taken->missing = ab_count_end_(commands, &counters, taken->figure);
    free(opts.environment);
}

/* Reads what a run reported.  Why there is no number, as a sentence; NULL: there is one. */
PERF_FN const char *ab_reported_(ab_commands *commands, const ab_ended *ended, ab_values *all,
                                 double *x, double *tick)
{
    const char *behind = commands->o->reported;
    ab_printed  result;

    if (commands->o->each)
        result = ended->cut ? AB_PRINTED_NONE
                            : ab_printed_each(ended->text, behind, all, &commands->unit, x, tick);
    else
        result = ab_printed_number(ended->text, behind, &commands->unit, x, tick);
    if (result == AB_PRINTED_NONE && ended->cut)
        return "printed more than 32 MB, and its beginning is lost: have it print less";
    if (result == AB_PRINTED_NUMBER && (!(*x > 0.0) || !perf_is_finite_(*x)))
        return "printed a number that is not positive";
    return ab_printed_why(result);
}

/* What speaks against a run, as a message; 0: nothing does.  Reads its number. */
PERF_FN int ab_check_(ab_commands *commands, size_t contest, size_t i, ab_taken *taken,
                      ab_values *all, double *x, double *tick)
{
    const ab_ended *ended = &taken->e;
    const char     *why;

    if (ended->late)
        return ab_command_fail_(commands, contest, i, "did not end before the timeout", 0);
    if (ended->stopped)
        return ab_command_fail_(commands, contest, i, ab_stopped_why_(ended->stopped), 0);
    if (ended->signal && !commands->o->ignore_failure)
        return ab_command_fail_(commands, contest, i, "was killed by signal %ld", ended->signal);
    if (ended->status && !commands->o->ignore_failure)
        return ab_command_fail_(commands, contest, i, "ended with status %ld", ended->status);
    if (commands->o->reported) {
        why = ab_reported_(commands, ended, all, x, tick);
        if (why)
            return ab_command_fail_(commands, contest, i, why, 0);
    }
    if (taken->missing)
        return ab_command_fail_(commands, contest, i,
                                "had no counter: another program held them all the time", 0);
    return 0;
}

/* Keeps what a run took, and frees its text.  0, or -1: a message. */
PERF_FN int ab_keep_(ab_commands *commands, size_t contest, size_t i, ab_taken *taken, int keep)
{
    ab_command  *command = &commands->contest[contest].command[i];
    const double ns = ab_unit_ns(ab_measure_unit_(commands, AB_REPORTED));
    ab_values    all;
    double       x = 0.0, tick = 0.0;
    size_t       j;
    int          k, result;

    memset(&all, 0, sizeof all);
    if (taken->error)
        return ab_fail(&commands->e, command->title, 0, 0, "cannot be run: %s",
                       strerror(taken->error));
    result = ab_check_(commands, contest, i, taken, &all, &x, &tick);
    free(taken->e.text);
    if (!result && keep) {
        commands->tick = tick > commands->tick ? tick : commands->tick;
        command->failed += taken->e.status || taken->e.signal;
        taken->figure[AB_WALL] = taken->e.wall;
        taken->figure[AB_CPU] = taken->e.user + taken->e.system;
        taken->figure[AB_USER] = taken->e.user;
        taken->figure[AB_SYSTEM] = taken->e.system;
        taken->figure[AB_PEAK] = taken->e.memory;
        taken->figure[AB_REPORTED] = x;
        for (k = 0; k < AB_MEASURES; k++) {         /* what no clock has seen is below its step   */
            double least = 0.5 * ab_measure_step_(commands, (ab_measure)k);
            least = least > 0.0 ? least : 1.0;
            ab_push(&command->v[k], taken->figure[k] > 0.0 ? taken->figure[k] : least);
        }
        for (j = 0; j < all.n; j++)
            all.x[j] *= ns > 0.0 ? ns : 1.0;
        if (all.n)
            ab_spread_add(&command->spread, all.x, all.n, ns > 0.0, taken->e.wall);
    }
    free(all.x);
    return result;
}

/* What a run needs first: the program linked anew, then --prepare.  As ab_help_; *left is of the
 * latter.                                                                                        */
PERF_FN int ab_before_(ab_commands *commands, const ab_command *command, pid_t *left)
{
    char *link;
    int   result;

    *left = 0;
    if (ab_signal_)
        return 1;
    if (command->link) {
        link = ab_link_shuffled(command->link, &commands->place);
        result = ab_help_(commands, "--link", link, left);
        free(link);
        ab_helper_end(left);
        if (result)
            return result;
    }
    return ab_help_(commands, "--prepare", command->prepare, left);
}

/* Runs a command once and keeps what it took.  0, 1: interrupted, -1: a message. */
PERF_FN int ab_once_(ab_commands *commands, size_t contest, size_t i, int keep)
{
    ab_command *command = &commands->contest[contest].command[i];
    ab_taken    taken;
    pid_t       left;
    int         result = ab_before_(commands, command, &left);

    if (result)
        return result;
    ab_take_(commands, command, ab_padding_(commands), &taken);
    ab_helper_end(&left);
    if (ab_signal_) {
        free(taken.e.text);
        return 1;
    }
    return ab_keep_(commands, contest, i, &taken, keep);
}

/* ---- rounds ---- */

/* How far the log of a / b may be off, read like the values so far, as their log.  Of numbers that
 * a command reports these tell the step of its clock, as in a file; of rates, of the times behind
 * them.                                                                                          */
PERF_FN double ab_run_step_(const ab_commands *commands, ab_measure measure, const ab_values *of_a,
                            const ab_values *of_b, double a, double b)
{
    const char *unit = ab_measure_unit_(commands, measure);
    double      x[256], y[256], step = ab_measure_step_(commands, measure), seen, by;
    size_t      n = of_b->n < 256 ? of_b->n : 256;

    if (measure != AB_REPORTED)
        return ab_log_step(step, a, b);
    seen = ab_clock_step(of_a->x, n, of_b->x, n, unit);
    by = ab_log_step(seen > step ? seen : step, a, b);
    if (ab_unit_kind(unit) != AB_RATE)
        return by;
    memcpy(x, of_a->x, n * sizeof *x);
    memcpy(y, of_b->x, n * sizeof *y);
    perf_sort_values_(x, n);
    perf_sort_values_(y, n);
    seen = perf_tick_log_(x, n, y, n, 0.0, 1);
    if (!(seen > by))
        return by;
    return seen < 50.0 ? seen : 50.0;
}

/* One more pair for one rule.  Any rule can reject, so that takes more: see ab_reject_level. */
PERF_FN perf_decision ab_look_at_rule_(const ab_commands *commands, int k, perf_seq *seq,
                                       double step, double a, double b)
{
    const perf_rule *rule = &commands->plan.rule[k];
    int              swap = rule->metric == PERF_METRIC_THROUGHPUT;
    perf_decision    accept, reject;

    if (!ab_is_typical(rule->metric))
        return PERF_INCONCLUSIVE;
    if (seq[k].pairs == 0) {
        double level = ab_reject_level(commands->confidence, commands->plan.rules);
        (void)perf_seq_init(&seq[k], rule, commands->confidence, step);
        (void)perf_seq_init(&seq[AB_RULES + k], rule, level, step);
    }
    seq[k].tick = seq[AB_RULES + k].tick = step + 1e-12;    /* of this pair                       */
    accept = perf_seq_add(&seq[k], swap ? b : a, swap ? a : b);
    reject = perf_seq_add(&seq[AB_RULES + k], swap ? b : a, swap ? a : b);
    if (reject == PERF_REJECT)
        return PERF_REJECT;
    return accept == PERF_ACCEPT ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

/* Looks at the pairs of a row so far, the last one new. */
PERF_FN perf_decision ab_look_(ab_commands *commands, const ab_contest *contest, size_t i,
                               perf_seq *seq)
{
    int k, accepted = 0, rejected = 0;

    for (k = 0; k < commands->plan.rules; k++) {
        ab_measure    measure = ab_measured_(commands, k);
        size_t        n = contest->command[i].v[measure].n - 1;
        double        a = contest->command[0].v[measure].x[n],
                      b = contest->command[i].v[measure].x[n];
        double        step = ab_run_step_(commands, measure, &contest->command[0].v[measure],
                                          &contest->command[i].v[measure], a, b);
        perf_decision decision = ab_look_at_rule_(commands, k, seq, step, a, b);
        accepted += decision == PERF_ACCEPT;
        rejected += decision == PERF_REJECT;
    }
    if (rejected)
        return PERF_REJECT;
    return accepted == commands->plan.rules ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

PERF_FN void ab_progress_(const ab_contest *contest, double seconds, int done)
{
    const ab_values *values = &contest->command[0].v[0],
                    *b = &contest->command[contest->n - 1].v[0];
    double change = b->n ? ab_statistic(b->x, b->n, PERF_METRIC_P50) /
                           ab_statistic(values->x, values->n, PERF_METRIC_P50) : 1.0;

    if (done)
        fprintf(stderr, "\r%70s\r", "");
    else
        fprintf(stderr, "\rperf-ab: %.20s%s%zu rounds, %.0f s, wall time %+.1f %% ", contest->name,
                *contest->name ? ": " : "", values->n, seconds, (change - 1.0) * 100.0);
    fflush(stderr);
}

/* ---- duets: both commands of a pair at once, on two processors (Bulej and others 2020) ---- */

/* Two processors, and two commands in each contest.  0, or -1: a message. */
PERF_FN int ab_duet_begin_(ab_commands *commands)
{
    size_t i;

    for (i = 0; i < commands->n; i++)
        if (commands->contest[i].n != 2)
            return ab_fail(&commands->e, "--duet", 0, 0, "runs two commands at once, not %zu",
                           commands->contest[i].n);
    if (ab_two_processors(commands->processor) < 0)
        return ab_fail(&commands->e, "--duet", 0, 0,
                       "needs two processors of Linux, and may not use two");
    return 0;
}

PERF_FN int ab_write_all_(int to, const void *data, size_t n)
{
    const char *at = (const char *)data;
    ssize_t     done;

    while (n) {
        done = write(to, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

PERF_FN int ab_read_all_(int from, void *data, size_t n)
{
    char   *at = (char *)data;
    ssize_t done;

    while (n) {
        done = read(from, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

/* In a process of its own: waits until `go` is closed, runs the command, tells the result. */
PERF_FN void ab_duet_part_(const ab_commands *commands, const ab_command *command, size_t padding,
                           int processor, int go, int to)
{
    ab_taken taken;
    size_t   n;
    char     byte;

    memset(&taken, 0, sizeof taken);
    ab_child_ = 0;
    ab_forward_only_ = 0;
    sigprocmask(SIG_UNBLOCK, &ab_caught_, NULL);
    ab_stay_on(processor);
    while (read(go, &byte, 1) < 0 && errno == EINTR && !ab_signal_)
        continue;
    ab_take_(commands, command, padding, &taken);
    n = taken.e.text ? strlen(taken.e.text) + 1 : 0;
    if (ab_write_all_(to, &taken, sizeof taken) == 0 && ab_write_all_(to, &n, sizeof n) == 0)
        (void)ab_write_all_(to, taken.e.text, n);
}

typedef struct ab_part {                /* of a duet                                              */
    pid_t process;
    int   from;                         /* where its result comes from                            */
} ab_part;

/* Starts one; *go is what all wait for.  -1 and errno: it cannot be. */
PERF_FN int ab_duet_start_(ab_commands *commands, const ab_command *command, int processor,
                           const int go[2], pid_t group, ab_part *part)
{
    const size_t padding = ab_padding_(commands);
    int          end[2];

    if (pipe(end) != 0)
        return -1;
    fcntl(end[0], F_SETFD, FD_CLOEXEC);
    fcntl(end[1], F_SETFD, FD_CLOEXEC);
    part->process = fork();
    if (part->process == 0) {
        (void)setpgid(0, group);
        close(go[1]);
        close(end[0]);
        close(ab_wake_[0]);
        close(ab_wake_[1]);
        if (ab_wake_make_() == 0)
            ab_duet_part_(commands, command, padding, processor, go[0], end[1]);
        _exit(0);
    }
    close(end[1]);
    part->from = end[0];
    if (part->process > 0)
        (void)setpgid(part->process, group ? group : part->process);
    return part->process < 0 ? -1 : 0;
}

/* The result of one.  -1: there is none. */
PERF_FN int ab_duet_end_(ab_part *part, ab_taken *taken)
{
    size_t n = 0;
    int    result = ab_read_all_(part->from, taken, sizeof *taken), status;

    taken->e.text = NULL;
    if (result == 0)
        result = ab_read_all_(part->from, &n, sizeof n);
    if (result == 0 && n) {
        taken->e.text = (char *)ab_grow(NULL, n, 1);
        result = ab_read_all_(part->from, taken->e.text, n);
        taken->e.text[n - 1] = '\0';
    }
    close(part->from);
    while (waitpid(part->process, &status, 0) < 0 && errno == EINTR)
        continue;
    return result;
}

/* Both at once, and what they took.  -1 and errno: they cannot be started. */
PERF_FN int ab_duet_run_(ab_commands *commands, const ab_contest *contest, size_t first,
                         ab_taken taken[2])
{
    ab_part  part[2];
    sigset_t old;
    int      go[2], i, started = 0, failed, why;

    if (pipe(go) != 0)
        return -1;
    fcntl(go[0], F_SETFD, FD_CLOEXEC);
    fcntl(go[1], F_SETFD, FD_CLOEXEC);
    sigprocmask(SIG_BLOCK, &ab_caught_, &old);      /* until the handlers know the group          */
    for (i = 0; i < 2 && started == i; i++)         /* who is first is on the first processor     */
        started += ab_duet_start_(commands, &contest->command[i],
                                  commands->processor[(size_t)i != first], go,
                                  i ? part[0].process : 0, &part[i]) == 0;
    failed = started < 2;
    why = errno;
    ab_forward_only_ = 1;
    ab_child_ = started ? (sig_atomic_t)part[0].process : 0;
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (ab_child_ && (ab_signal_ || failed))
        kill((pid_t)-ab_child_, SIGTERM);
    close(go[0]);
    close(go[1]);
    for (i = 0; i < started; i++)
        failed |= ab_duet_end_(&part[i], &taken[i]) < 0;
    ab_child_ = 0;
    ab_forward_only_ = 0;
    errno = why ? why : ECHILD;
    return failed ? -1 : 0;
}

/* A pair at once.  As ab_once_. */
PERF_FN int ab_duet_(ab_commands *commands, size_t contest, size_t first)
{
    ab_contest *t = &commands->contest[contest];
    ab_taken    taken[2];
    pid_t       left[2] = {0, 0};
    int         i, result = 0, ran = 0;

    memset(taken, 0, sizeof taken);
    for (i = 0; i < 2 && !result; i++)
        result = ab_before_(commands, &t->command[i], &left[i]);
    if (!result)
        ran = ab_duet_run_(commands, t, first, taken) == 0;
    for (i = 0; i < 2; i++)
        ab_helper_end(&left[i]);
    if (!result && ab_signal_)
        result = 1;
    else if (!result && !ran)
        result = ab_fail(&commands->e, "--duet", 0, 0, "a pair cannot be run: %s", strerror(errno));
    for (i = 0; i < 2; i++) {
        if (result)
            free(taken[i].e.text);
        else
            result = ab_keep_(commands, contest, (size_t)i, &taken[i], 1);
    }
    return result;
}

/* Each of who[0..n) once, in random order.  As ab_once_; a round that fails is forgotten. */
PERF_FN int ab_round_(ab_commands *commands, size_t contest, size_t *who, size_t n, uint64_t *state)
{
    ab_contest *t = &commands->contest[contest];
    size_t      i, rounds = t->command[0].v[0].n;
    int         result = 0, m;

    ab_shuffle(who, n, state);
    if (commands->o->duet)
        result = ab_duet_(commands, contest, who[0]);
    for (i = 0; i < n && !result && !commands->o->duet; i++)
        result = ab_once_(commands, contest, who[i], 1);
    for (i = 0; i < n && result; i++)
        for (m = 0; m < AB_MEASURES; m++)
            if (t->command[who[i]].v[m].n > rounds)
                t->command[who[i]].v[m].n = rounds;
    return result;
}

/* How many rounds there are at most. */
PERF_FN size_t ab_most_rounds_(const ab_commands *commands, double budget)
{
    if (commands->o->pairs)
        return commands->o->pairs;
    return budget > 0.0 ? 1000000 : 100;
}

/* One contest to its end.  0: done or decided, 1: interrupted, -1: a message. */
PERF_FN int ab_rounds_(ab_commands *commands, size_t contest, perf_seq *seq, uint64_t *state,
                       double budget)
{
    ab_contest *t = &commands->contest[contest];
    double      began = ab_seconds_(), shown = began;
    size_t      most = ab_most_rounds_(commands, budget), i, k, n = t->n;
    size_t     *who = (size_t *)ab_grow(NULL, n, sizeof *who);
    int         tty = isatty(2), result = 0;

    for (i = 0; i < n; i++)
        who[i] = i;
    for (i = 0; i < n * commands->o->warmup && !result; i++)
        result = ab_once_(commands, contest, i % n, 0);
    for (i = 0; i < most && n > 1 && !result; i++) {
        if (budget > 0.0 && ab_seconds_() - began >= budget)
            break;
        result = ab_round_(commands, contest, who, n, state);
        if (result)
            break;
        if (tty && ab_seconds_() - shown > 0.2) {
            shown = ab_seconds_();
            ab_progress_(t, shown - began, 0);
        }
        for (k = 0; k < n;)                         /* who is decided takes no further part       */
            if (who[k] && ab_look_(commands, t, who[k], seq + (who[k] - 1) * AB_SEQS))
                who[k] = who[--n];
            else
                k++;
    }
    if (tty)
        ab_progress_(t, 0.0, 1);
    free(who);
    return result;
}

/* Setups, rounds, cleanups.  A setup or cleanup that several commands share runs once. */
PERF_FN int ab_contest_(ab_commands *commands, size_t contest, perf_seq *seq, uint64_t *state,
                        double budget)
{
    ab_contest *t = &commands->contest[contest];
    size_t      i, set_up;
    int         result = 0, was;
    pid_t       left;

    for (i = 0; i < t->n && !result; i++)
        if (!i || !t->command[i].setup || strcmp(t->command[i].setup, t->command[i - 1].setup) != 0)
            result = ab_help_(commands, "--setup", t->command[i].setup, &t->command[i].helper);
    set_up = i;
    if (!result)
        result = ab_rounds_(commands, contest, seq, state, budget);
    was = ab_signal_;                               /* cleaning up goes on; a second one stops it */
    ab_signal_ = 0;
    for (i = 0; i < set_up; i++) {
        const char *text = t->command[i].cleanup;
        if (text && (!i || strcmp(text, t->command[i - 1].cleanup) != 0)) {
            ab_error error = commands->e;
            if (ab_help_(commands, "--cleanup", text, &left) < 0)
                fprintf(stderr, "perf-ab: %s\n", commands->e.text);
            ab_helper_end(&left);
            commands->e = error;
        }
        ab_helper_end(&t->command[i].helper);
    }
    ab_signal_ = was ? was : ab_signal_;
    return result;
}

PERF_FN int ab_contests_(ab_commands *commands)
{
    uint64_t        state = commands->o->seed;
    double          began = ab_seconds_(), left;
    size_t          i, row = 0;
    int             result = 0;
    struct timespec time;

    if (!commands->o->seeded) {
        clock_gettime(CLOCK_REALTIME, &time);
        state = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec +
                ((uint64_t)getpid() << 40);
    }
    commands->place = ~state;
    for (i = 0; i < commands->n && !result; i++) {  /* each gets its share of the time left       */
        left = commands->o->budget > 0.0 ?
               (commands->o->budget - (ab_seconds_() - began)) / (double)(commands->n - i)
                                  : 0.0;
        result = ab_contest_(commands, i, commands->seq + row * AB_SEQS, &state,
                             commands->o->budget > 0.0 && !(left > 1e-9)
                             ? 1e-9 : left);
        row += commands->contest[i].n - 1;
    }
    return result;
}

/* ---- verdicts ---- */

/* An interval that says what the bet says.  What lies beyond a value that is ruled out is ruled
 * out, too; what is not ruled out belongs to it.                                                 */
PERF_FN perf_interval ab_agree_(perf_interval interval, const perf_rule *rule,
                                perf_decision decision)
{
    const double t = perf_log_(perf_rule_threshold_(rule));
    const int    same = rule->kind == PERF_RULE_SAME;

    if (perf_rule_answer_(rule, interval) == decision)
        return interval;
    if (decision == PERF_ACCEPT) {
        interval.high = interval.high < t ? interval.high : t - 1e-12;
        if (same && !(interval.low > -t))
            interval.low = -t + 1e-12;
    } else if (decision == PERF_REJECT && same && interval.estimate < 0.0) {
        interval.high = -t - 1e-12;
    } else if (decision == PERF_REJECT) {
        interval.low = t + 1e-12;
    } else if (interval.low > t) {
        interval.low = t;
    } else {                                        /* of "the same", within both or below both   */
        interval.high = same && interval.high < -t ? -t : t;
    }
    return interval;
}

/* What the bets of rule k have come to. */
PERF_FN perf_decision ab_decided_(const perf_seq *seq, int k)
{
    if (seq[AB_RULES + k].decision == PERF_REJECT)
        return PERF_REJECT;
    return seq[k].decision == PERF_ACCEPT ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

/* The verdict of one rule after the last pair: the bet decides, the interval shows. */
PERF_FN perf_verdict ab_run_verdict_(const ab_commands *commands, int k, const perf_seq *seq,
                                     const ab_data *data, double step)
{
    perf_compare_opts opts = PERF_ZERO;
    perf_verdict      verdict;
    perf_seq          probe;
    perf_interval     interval;
    perf_decision     decision = ab_decided_(seq, k);
    double           *log_ratio, room;
    int               swap = data->rule.metric == PERF_METRIC_THROUGHPUT, coarse;
    size_t            j, n = data->n[0];

    if (!ab_is_typical(data->rule.metric) || n < 1)
        return ab_verdict_among(data, commands->confidence, commands->plan.rules);
    opts.rule = data->rule;
    opts.confidence = commands->confidence;
    verdict = perf_verdict_start_(&opts);
    log_ratio = (double *)ab_grow(NULL, n, sizeof *log_ratio);
    for (j = 0; j < n; j++)
        log_ratio[j] = perf_log_(data->x[!swap][j]) - perf_log_(data->x[swap][j]);
    verdict.pairs = n;
    interval = perf_seq_interval(log_ratio, n, opts.confidence);
    coarse = perf_rule_answer_(&verdict.rule, interval) != PERF_INCONCLUSIVE;
    interval = perf_widen_(interval, step < 50.0 ? step : PERF_INF_);
    coarse = coarse && perf_rule_answer_(&verdict.rule, interval) == PERF_INCONCLUSIVE;
    room = perf_rule_room_(&verdict.rule, interval.estimate);
    if (decision == PERF_ACCEPT ? room < 0.0 : room > 0.0)              /* it was, for a while:   */
        decision = PERF_INCONCLUSIVE;                                   /* other rules took more  */
    perf_verdict_finish_(&verdict, ab_agree_(interval, &verdict.rule, decision), (double)n, &opts);
    perf_sort_values_(log_ratio, n);
    if (perf_lopsided_(log_ratio, n, 2.58, step))
        verdict.warnings |= PERF_WARN_SHAPE;
    free(log_ratio);
    (void)perf_seq_init(&probe, &opts.rule, opts.confidence, 0.0);
    while (perf_seq_add(&probe, 2.0, verdict.threshold) == PERF_INCONCLUSIVE && probe.pairs < 1000)
        continue;                                   /* so many it takes if all agree              */
    if (verdict.pairs_needed > 0.0 && verdict.pairs_needed < (double)probe.pairs - (double)n)
        verdict.pairs_needed = (double)probe.pairs - (double)n;
    verdict.reason = "not decided within these pairs";
    if (coarse)
        verdict.reason = "the clock is too coarse for this: time more work at once";
    if (verdict.decision != PERF_INCONCLUSIVE)
        verdict.reason = "decided pair by pair";
    if (step >= 50.0 || step > 0.1 * (interval.high - interval.low))
        verdict.warnings |= PERF_WARN_RESOLUTION;
    return verdict;
}

/* Makes one row of the report and, for --save, its series. */
PERF_FN void ab_run_row_(const ab_commands *commands, const ab_contest *contest, size_t i,
                         const perf_seq *seq, ab_series *series, ab_row *row)
{
    ab_measure first = ab_measured_(commands, 0);
    ab_run    *run = ab_run_of(series, NULL);
    size_t     n = contest->command[i].v[0].n, j;
    double     step;
    int        k;

    series->design = AB_PAIRS;
    series->failed = contest->command[0].failed < n ? contest->command[0].failed : n;
    series->failed += contest->command[i].failed < n ? contest->command[i].failed : n;
    free(series->unit);
    series->unit =
        ab_copy(ab_measure_unit_(commands, first), strlen(ab_measure_unit_(commands, first)));
    series->step =
        ab_measure_step_(commands, first) > 0.0 ? ab_measure_step_(commands, first) : 0.0;
    for (j = 0; j < n; j++) {
        ab_push(&run->v[0], contest->command[0].v[first].x[j]);
        ab_push(&run->v[1], contest->command[i].v[first].x[j]);
    }
    if (!n)
        row->missing = "B";
    for (k = 0; k < commands->plan.rules && n; k++) {
        ab_data   *data = &row->d[k];
        ab_measure measure = ab_measured_(commands, k);
        data->how = AB_HOW_PAIRS;
        data->rule = commands->plan.rule[k];
        data->unit = ab_measure_unit_(commands, measure);
        data->x[0] = contest->command[0].v[measure].x;
        data->x[1] = contest->command[i].v[measure].x;
        data->n[0] = data->n[1] = n;
        data->tick = ab_measure_step_(commands, measure);
        step = ab_clock_step(data->x[0], n, data->x[1], n, data->unit);
        data->tick = measure == AB_REPORTED && step > data->tick ? step : data->tick;
        step = ab_run_step_(commands, measure, &contest->command[0].v[measure],
                            &contest->command[i].v[measure],
                            ab_statistic(data->x[0], n, PERF_METRIC_P50),
                            ab_statistic(data->x[1], n, PERF_METRIC_P50));
        data->v = ab_run_verdict_(commands, k, seq, data, step);
        if (data->v.decision == PERF_INCONCLUSIVE && (seq[k].decision == PERF_ACCEPT ||
                                                      seq[AB_RULES + k].decision == PERF_REJECT))
            snprintf(data->cap, sizeof data->cap,
                     "decided once, but the pairs after that say the opposite: "
                     "does a command change with time?");
    }
}

/* ---- commands from arguments ---- */

typedef struct ab_choice {              /* a parameter and its values                             */
    char     name[40];
    ab_text *value;
    size_t   n;
} ab_choice;

/* -1: longer than a value may be. */
PERF_FN int ab_choice_add_(ab_choice *choice, const char *text, size_t len)
{
    choice->value = (ab_text *)ab_grow(choice->value, choice->n + 1, sizeof *choice->value);
    snprintf(choice->value[choice->n++].s, sizeof choice->value->s, "%.*s",
             (int)(len < 160 ? len : 160), text);
    return len < sizeof choice->value->s ? 0 : -1;
}

/* FIRST..LAST or FIRST..LAST:STEP, with as many decimals as FIRST or STEP has.  0: it is neither,
 * -1: too many values, -2: it does not go up, -3: numbers that are not written out.              */
PERF_FN int ab_choice_range_(ab_choice *choice, const char *text)
{
    const char *dots = strstr(text, ".."), *point, *string;
    char       *end;
    double      x, low = strtod(text, &end), high, step = 1.0;
    int         digits = 0, decimals;
    size_t      i;
    ab_text     t;

    if (!dots || end == text || (end != dots && end != dots + 1))
        return 0;                                   /* "1..8" may read as 1. and .8               */
    high = strtod(dots + 2, &end);
    if (end == dots + 2)
        return 0;
    string = end;
    if (*end == ':')
        step = strtod(end + 1, &end);
    if (*end)
        return 0;
    if (!(step > 0.0) || !(high >= low))
        return -2;
    if (!((high - low) / step < (double)AB_COMMANDS) || !(low > -1e15) || !(high < 1e15))
        return -1;
    if (strpbrk(text, "eExX"))
        return -3;
    for (i = 0; i < 2; i++) {
        point = strchr(i ? string : text, '.');
        point = point && (i || point < dots) ? point : NULL;
        decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
        digits = decimals > digits ? decimals : digits;
    }
    if (digits > 12)
        return -3;
    for (i = 0; (x = low + (double)i * step) <= high + 1e-9 * step; i++) {
        snprintf(t.s, sizeof t.s, "%.*f", digits, x);
        (void)ab_choice_add_(choice, t.s, strlen(t.s));
    }
    return 1;
}

PERF_FN int ab_choice_read_(ab_choice *choice, const char *text, ab_error *error)
{
    const char *equals = strchr(text, '='), *string, *end;
    int         result;

    if (!equals || equals == text || equals - text >= (int)sizeof choice->name || !equals[1])
        return ab_fail(error, "--parameter", 0, 0,
                       "expected NAME=1,2,3 or NAME=1..8 or NAME=0..1:0.25, not '%.80s'", text);
    snprintf(choice->name, sizeof choice->name, "%.*s", (int)(equals - text), text);
    result = ab_choice_range_(choice, equals + 1);
    if (result == -3)
        return ab_fail(error, "--parameter", 0, 0,
                       "a range has at most 12 decimals and no exponents: '%.80s'", text);
    if (result < -1)
        return ab_fail(error, "--parameter", 0, 0, "a range goes up: '%.80s'", text);
    if (result)
        return result > 0 ? 0 : ab_fail(error, "--parameter", 0, 0,
                                        "more than %d values, or beyond 1e15: '%.80s'", AB_COMMANDS,
                                        text);
    for (string = equals + 1;; string = end + 1) {
        end = string + strcspn(string, ",");
        if (ab_choice_add_(choice, string, (size_t)(end - string)) < 0)
            return ab_fail(error, "--parameter", 0, 0, "a value of more than 159 bytes: '%.80s...'",
                           string);
        if (!*end)
            return 0;
    }
}

/* A copy of text with each {NAME} replaced by the value that it has in combination number `pick`.
 * *used gets a bit for each that occurs.                                                         */
PERF_FN char *ab_fill_in_(const char *text, const ab_choice *choice, size_t n, size_t pick,
                          unsigned *used)
{
    char       *out = ab_copy("", 0);
    size_t      len = 0, i, rest, add, skip;
    const char *with;

    for (; *text; text += skip) {
        with = text;
        add = skip = 1;
        for (i = 0, rest = pick; i < n && *text == '{'; rest /= choice[i].n, i++) {
            size_t name = strlen(choice[i].name);
            if (strncmp(text + 1, choice[i].name, name) != 0 || text[1 + name] != '}')
                continue;
            with = choice[i].value[rest % choice[i].n].s;
            add = strlen(with);
            skip = name + 2;
            *used |= 1u << i;
            break;
        }
        out = (char *)ab_grow(out, len + add + 1, 1);
        memcpy(out + len, with, add);
        len += add;
        out[len] = '\0';
    }
    return out;
}

/* The words of a command with a space between; the caller frees it. */
PERF_FN char *ab_title_(char **word)
{
    size_t len = 1, i;
    char  *text;

    for (i = 0; word[i]; i++)
        len += strlen(word[i]) + 1;
    text = (char *)ab_grow(NULL, len, 1);
    *text = '\0';
    for (i = 0; word[i]; i++) {
        if (i)
            strcat(text, " ");
        strcat(text, word[i]);
    }
    return text;
}

/* Makes a command from the words between two --, for one combination of parameters. */
PERF_FN void ab_command_(const ab_commands *commands, ab_command *command, char **word,
                         size_t which, const ab_choice *choice, size_t pick, unsigned *used,
                         unsigned *by_helpers)
{
    static char        sh[] = "sh", dash_c[] = "-c";
    const ab_run_opts *opts = commands->o;
    const char        *prepare = opts->prepares > 1 ? opts->prepare[which] : opts->prepare[0];
    const char        *link = opts->links > 1 ? opts->link[which] : opts->link[0];
    size_t             n = 0, i;

    while (word[n])
        n++;
    command->word = (char **)ab_grow(NULL, n + 1, sizeof *command->word);
    for (i = 0; i < n; i++)
        command->word[i] = ab_fill_in_(word[i], choice, opts->parameters, pick, used);
    command->word[n] = NULL;
    command->title = ab_title_(command->word);
    if (opts->shell) {
        for (i = 0; i < n; i++)
            free(command->word[i]);
        free(command->word);
        command->shell[0] = sh;
        command->shell[1] = dash_c;
        command->shell[2] = command->title;
        command->word = command->shell;
    }
    command->setup =
        opts->setup ? ab_fill_in_(opts->setup, choice, opts->parameters, pick, by_helpers) : NULL;
    command->prepare =
        prepare ? ab_fill_in_(prepare, choice, opts->parameters, pick, by_helpers) : NULL;
    command->link = link ? ab_fill_in_(link, choice, opts->parameters, pick, by_helpers) : NULL;
    command->cleanup = opts->cleanup ?
                       ab_fill_in_(opts->cleanup, choice, opts->parameters, pick, by_helpers) :
                       NULL;
}

/* "threads=4 level=9": what combination number `pick` is. */
PERF_FN char *ab_pick_name_(const ab_choice *choice, size_t n, size_t pick)
{
    char   kind[400] = "";
    size_t i, len = 0;

    for (i = 0; i < n && len < sizeof kind; pick /= choice[i].n, i++)
        len += (size_t)snprintf(kind + len, sizeof kind - len, "%s%s=%.40s", i ? " " : "",
                                choice[i].name, choice[i].value[pick % choice[i].n].s);
    return ab_copy(kind, strlen(kind));
}

/* Takes  -- A... -- B...  apart; the words stay where they are.  Their number, or -1. */
PERF_FN long ab_split_(ab_commands *commands, char **argv, char ***word)
{
    size_t i, n = 0;

    for (i = 0; argv[i]; i++)
        if (!strcmp(argv[i], "--")) {
            argv[i] = NULL;
            if (n == AB_COMMANDS)
                return ab_fail(&commands->e, "run", 0, 0, "more than %d commands", AB_COMMANDS);
            word[n++] = &argv[i + 1];
        }
    for (i = 0; i < n; i++)
        if (!word[i][0])
            n = 0;
    if (n < 2 && !(n == 1 && commands->o->parameters))
        return ab_fail(&commands->e, "run", 0, 0, "two commands are needed: -- COMMAND_A... -- "
                       "COMMAND_B..., or one with --parameter");
    if (commands->o->prepares > 1 && commands->o->prepares != n)
        return ab_fail(&commands->e, "--prepare", 0, 0,
                       "give it once for all commands, or once for each");
    if (commands->o->links > 1 && commands->o->links != n)
        return ab_fail(&commands->e, "--link", 0, 0,
                       "give it once for all commands, or once for each");
    for (i = 0; i < commands->o->links; i++)
        if (ab_link_objects(commands->o->link[i]) < 2)
            return ab_fail(&commands->e, "--link", 0, 0,
                           "two words that end in .o are needed: they come in " "random order");
    return (long)n;
}

/* Several commands: a contest for each combination of parameters.  One: a contest between them. */
PERF_FN void ab_contests_make_(ab_commands *commands, char ***word, size_t words,
                               const ab_choice *choice, size_t picks, unsigned *used)
{
    size_t   i, k, inside = words > 1 ? words : picks;
    unsigned none = 0;                  /* one command competes with itself: it has to differ     */

    commands->n = words > 1 ? picks : 1;
    commands->contest = (ab_contest *)ab_grow(NULL, commands->n, sizeof *commands->contest);
    for (i = 0; i < commands->n; i++) {
        ab_contest *contest = &commands->contest[i];
        contest->n = inside;
        contest->name =
            words > 1 ? ab_pick_name_(choice, commands->o->parameters, i) : ab_copy("", 0);
        contest->command = (ab_command *)ab_grow(NULL, inside, sizeof *contest->command);
        memset(contest->command, 0, inside * sizeof *contest->command);
        for (k = 0; k < inside; k++)
            ab_command_(commands, &contest->command[k], word[words > 1 ? k : 0], words > 1 ? k : 0,
                        choice, words > 1 ? i : k, used, words > 1 ? used : &none);
    }
    commands->rows = commands->n * (inside - 1);
}

PERF_FN int ab_commands_read_(ab_commands *commands, char **argv)
{
    ab_choice choice[AB_PARAMETERS];
    char   ***word = (char ***)ab_grow(NULL, AB_COMMANDS, sizeof *word);
    long      words = ab_split_(commands, argv, word);
    size_t    i, k, picks = 1;
    unsigned  used = 0;
    int       result = words < 0 ? -1 : 0;

    memset(choice, 0, sizeof choice);
    for (i = 0; i < commands->o->parameters && !result; i++) {
        result = ab_choice_read_(&choice[i], commands->o->parameter[i], &commands->e);
        for (k = 0; k < i && !result; k++)
            if (!strcmp(choice[k].name, choice[i].name))
                result = ab_fail(&commands->e, "--parameter", 0, 0, "{%s} is given twice",
                                 choice[i].name);
        picks *= choice[i].n ? choice[i].n : 1;
        if (!result && picks * (size_t)words > AB_COMMANDS)
            result =
                ab_fail(&commands->e, "--parameter", 0, 0, "more than %d commands", AB_COMMANDS);
    }
    if (!result && words == 1 && picks < 2)
        result = ab_fail(&commands->e, "--parameter", 0, 0,
                         "one command with one value: nothing to compare");
    if (!result)
        ab_contests_make_(commands, word, (size_t)words, choice, picks, &used);
    for (i = 0; i < commands->o->parameters && !result; i++)
        if (!(used & 1u << i))
            result = ab_fail(&commands->e, "--parameter", 0, 0,
                             words > 1 ? "no command and no helper holds {%s}"
                                   : "the command does not hold {%s}",
                             choice[i].name);
    for (i = 0; i < AB_PARAMETERS; i++)
        free(choice[i].value);
    free(word);
    return result;
}

PERF_FN void ab_commands_free_(ab_commands *commands)
{
    size_t i, k, w;

    for (i = 0; i < commands->n; i++) {
        for (k = 0; k < commands->contest[i].n; k++) {
            ab_command *command = &commands->contest[i].command[k];
            for (w = 0; command->word != command->shell && command->word[w]; w++)
                free(command->word[w]);
            if (command->word != command->shell)
                free(command->word);
            free(command->title);
            free(command->setup);
            free(command->prepare);
            free(command->link);
            free(command->cleanup);
            for (w = 0; w < AB_MEASURES; w++)
                free(command->v[w].x);
            free(command->spread.centre.x);
            free(command->spread.count.x);
        }
        free(commands->contest[i].command);
        free(commands->contest[i].name);
    }
    free(commands->contest);
    free(commands->seq);
    memset(commands, 0, sizeof *commands);
}

/* ---- the whole ---- */

/* Keeps what was measured.  -1 and errno: it cannot be written. */
PERF_FN int ab_save(const char *file, const ab_set *set)
{
    perf_file_ f;

    if (!ab_begin_file(&f, file))
        return -1;
    ab_print_results(f.file, set);
    return ab_end_file(&f, file);
}

/* A rate is better when larger; other metrics than the typical one have no direction for it. */
PERF_FN int ab_settle_metrics_(ab_commands *commands)
{
    int k;

    for (k = 0; k < commands->plan.rules; k++) {
        const char *unit = ab_measure_unit_(commands, ab_measured_(commands, k));
        const char *misfit = ab_misfit(&commands->plan.rule[k], unit);
        if (misfit)
            return ab_fail(&commands->e, "run", 0, 0, "what is measured is in %.40s: %s%s", unit,
                           misfit,
                           commands->o->reported ? "" :
                           "; --reported takes a number that the command prints");
        if (ab_unit_kind(unit) != AB_RATE)
            continue;
        if (!ab_is_typical(commands->plan.rule[k].metric))
            return ab_fail(&commands->e, "run", 0, 0,
                           "%.40s is a rate: its metric is throughput, not %s", commands->o->unit,
                           ab_metric_name(commands->plan.rule[k].metric));
        commands->plan.rule[k].metric = PERF_METRIC_THROUGHPUT;
    }
    return 0;
}

PERF_FN void ab_run_names_(const ab_commands *commands, ab_report *report, char **argv)
{
    const ab_contest *contest = &commands->contest[0];
    static const char *const measure[] = {"wall time", "processor time", "user time", "system time",
                                          "peak memory", "number it reports", "instructions",
                                          "cycles", "branches", "branch misses"};
    size_t n = commands->n > 1 ? 0 : contest->n;
    char   text[80];
    int    k;

    if (commands->n > 1)
        report->owned[0] = ab_title_(argv + 1);
    else
        report->owned[0] = ab_copy(contest->command[0].title, strlen(contest->command[0].title));
    argv += commands->n > 1;                        /* the first of them, behind a separator      */
    while (commands->n > 1 && *argv)                /* the second of them, as written             */
        argv++;
    while (commands->n > 1 && !*argv)
        argv++;
    snprintf(text, sizeof text, "%zu other commands, a line each", contest->n - 1);
    if (contest->n > 2)
        report->owned[1] = ab_copy(text, strlen(text));
    else if (n == 0)
        report->owned[1] = ab_title_(argv);
    else
        report->owned[1] = ab_copy(contest->command[1].title, strlen(contest->command[1].title));
    for (k = 0; k < 2; k++) {
        report->name[k] = report->owned[k];
        report->format[k] = measure[ab_measured_(commands, 0)];
    }
}

/* What each command used, for the report. */
PERF_FN void ab_run_usage_(const ab_commands *commands, ab_report *report)
{
    static const ab_measure shown[4] = {AB_WALL, AB_USER, AB_SYSTEM, AB_PEAK};
    size_t i, k, n = 0;
    int    j;

    report->usage = (ab_usage *)ab_grow(NULL, commands->rows + commands->n, sizeof *report->usage);
    for (i = 0; i < commands->n; i++)
        for (k = 0; k < commands->contest[i].n; k++) {
            const ab_command *command = &commands->contest[i].command[k];
            ab_usage         *usage = &report->usage[n++];
            usage->between = ab_spread_between(&command->spread);
            usage->name = ab_copy(command->title, strlen(command->title));
            usage->runs = command->v[0].n;
            usage->failed = command->failed < usage->runs ? command->failed : usage->runs;
            for (j = 0; j < 4; j++) {
                double x =
                    ab_statistic(command->v[shown[j]].x, command->v[shown[j]].n, PERF_METRIC_P50);
                double least = 0.5 * ab_measure_step_(commands, shown[j]); /* see ab_once_        */
                usage->median[j] = j && j < 3 && ab_abs(x - least) < 1e-9 * least ? 0.0 : x;
            }
        }
    report->usages = n;
    if (n == 2)
        report->pairs_for_1_percent =
            ab_spread_pairs(&report->usage[0].between, &report->usage[1].between);
}

PERF_FN void ab_run_rows_(const ab_commands *commands, ab_report *report, ab_set *set)
{
    size_t i, k, row = 0;
    char  *name, key[24];

    for (i = 0; i < commands->n; i++)
        for (k = 1; k < commands->contest[i].n; k++, row++) {
            const ab_contest *contest = &commands->contest[i];
            const char       *plain = *contest->name ? "" : "command";
            const char       *own = contest->n > 2 ? contest->command[k].title : plain;
            size_t            size = strlen(contest->name) + strlen(own) + 3;
            ab_series        *series;
            name = (char *)ab_grow(NULL, size, 1);
            snprintf(name, size, "%s%s%s", contest->name, *contest->name && *own ? ": " : "", own);
            snprintf(key, sizeof key, "%zu", row);
            series = ab_series_by(set, key, name);  /* two commands may look the same             */
            free(name);
            ab_run_row_(commands, contest, k, commands->seq + row * AB_SEQS, series,
                        &report->row[row]);
        }
    for (row = 0; row < report->n; row++)           /* the set may have moved meanwhile           */
        report->row[row].name = set->s[row].name;
}

/* Measures and judges; argv begins with the first --.  0: `report` is ready for a report; else an
 * exit status, already explained.  `commands` and `set` keep the numbers that `report` points
 * to.                                                                                            */
PERF_FN int ab_run_commands(ab_report *report, ab_commands *commands, ab_set *set,
                            const ab_run_opts *opts, char **argv)
{
    char why[400];
    int  r_ = -1;

    commands->o = opts;
    if (opts->unit)
        commands->unit = ab_printed_unit_of(opts->unit);
    commands->plan = report->plan;
    if (ab_catch() < 0)
        ab_fail(&commands->e, "pipe", 0, 0, "%s", strerror(errno));
    else
        r_ = ab_commands_read_(commands, argv);
    if (!r_ && opts->duet)
        r_ = ab_duet_begin_(commands);
    if (!r_)
        r_ = ab_settle_metrics_(commands);
    if (!r_ && ab_counters_settle_(commands, why, sizeof why)) {
        ab_run_leave();
        fprintf(stderr, "perf-ab: INCONCLUSIVE: %s\n", why);
        return AB_INCONCLUSIVE;
    }
    if (!r_) {
        commands->confidence = 1.0 - (1.0 - commands->plan.confidence) / (double)commands->rows;
        if (perf_is_nan_(perf_confidence_(ab_reject_level(commands->confidence,
                                                          commands->plan.rules))))
            r_ = ab_fail(&commands->e, "--confidence", 0, 0,
                         "%g is too much for %zu comparisons at once: beyond "
                         "0.999999 for each nothing is decided", commands->plan.confidence,
                         commands->rows);
    }
    if (!r_) {
        commands->seq = (perf_seq *)ab_grow(NULL, commands->rows * AB_SEQS, sizeof *commands->seq);
        memset(commands->seq, 0, commands->rows * AB_SEQS * sizeof *commands->seq);
        r_ = ab_contests_(commands);
    }
    if (r_ >= 0 && !commands->contest[0].command[1].v[0].n) {
        ab_run_leave();
        r_ = ab_fail(&commands->e, "run", 0, 0, "no pair was measured: the budget is too short");
    }
    if (r_ < 0) {
        fprintf(stderr, "perf-ab: %s\n", commands->e.text);
        return AB_UNUSABLE;
    }
    if (ab_placement_is_fixed())
        fputs("perf-ab: the system gives all runs the same addresses (setarch -R? "
              "kernel.randomize_va_space 0?): only their environments differ\n", stderr);
    report->sequential = 1;
    report->n = commands->rows;
    report->row = (ab_row *)ab_grow(NULL, report->n, sizeof *report->row);
    memset(report->row, 0, report->n * sizeof *report->row);
    ab_run_names_(commands, report, argv);
    ab_run_rows_(commands, report, set);
    ab_run_usage_(commands, report);
    ab_judge(report);
    return 0;
}

#endif
