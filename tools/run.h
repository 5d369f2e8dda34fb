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
#include "process.h"
#include "spread.h"
#include "write.h"

#include "perf_counters.h"

enum { AB_PARAMETERS = 4, AB_PREPARES = 64, AB_COMMANDS = 1000, AB_SEQS = 2 * AB_RULES };

typedef enum ab_measure {
    AB_WALL, AB_CPU, AB_USER, AB_SYSTEM, AB_PEAK, AB_REPORTED,
    AB_INSTRUCTIONS, AB_CYCLES, AB_BRANCHES, AB_BRANCH_MISSES,      /* as PERF_METRIC_INSTRUCTIONS ... */
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
    double      unit_ns;                /* and their unit of time; 0: not asked yet; < 0: none    */
    uint32_t    counted;                /* counters of the processor: bits of perf_counters_opts  */
    uint64_t    place;                  /* of the coins that choose sizes of environments         */
    int         processor[2];           /* of a duet                                              */
    perf_seq   *seq;                    /* [AB_SEQS] of each row: one for each rule that may say  */
                                        /* ACCEPT, then one for each that may say REJECT          */
    ab_error    e;
} ab_commands;

PERF_FN ab_run_opts ab_run_opts_default(void)
{
    ab_run_opts o;

    memset(&o, 0, sizeof o);
    o.warmup = 1;
    return o;
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

PERF_FN int ab_is_counter(ab_measure m)
{
    return m >= AB_INSTRUCTIONS && m <= AB_BRANCH_MISSES;
}

PERF_FN perf_counter ab_counter_of(ab_measure m)
{
    return (perf_counter)(PERF_COUNTER_INSTRUCTIONS + (m - AB_INSTRUCTIONS));
}

/* What a rule of the plan reads: memory rules the peak, unless a number is reported that may be one. */
PERF_FN ab_measure ab_measured_(const ab_commands *c, int rule)
{
    const perf_metric metric = c->plan.rule[rule].metric;

    if (metric >= PERF_METRIC_INSTRUCTIONS && metric <= PERF_METRIC_BRANCH_MISSES)
        return (ab_measure)(AB_INSTRUCTIONS + (metric - PERF_METRIC_INSTRUCTIONS));
    if (c->o->reported && !(c->plan.kind[rule] == AB_MEMORY && c->o->unit &&
                            ab_misfit(&c->plan.rule[rule], c->o->unit)))
        return AB_REPORTED;
    return c->plan.kind[rule] == AB_MEMORY ? AB_PEAK : c->o->measure;
}

PERF_FN const char *ab_measure_unit_(const ab_commands *c, ab_measure m)
{
    static const char *const counted[] = {"instructions", "cycles", "branches", "branch misses"};

    if (m == AB_PEAK)
        return "B";
    if (ab_is_counter(m))
        return counted[m - AB_INSTRUCTIONS];
    if (m != AB_REPORTED)
        return "ns";
    return c->o->unit ? c->o->unit : "";
}

/* The step of what is measured: the kernel counts processor time in us, and deals it out between
 * user and system by ticks.                                                                      */
PERF_FN double ab_measure_step_(const ab_commands *c, ab_measure m)
{
    if (m == AB_WALL)
        return 1.0;
    if (m == AB_CPU)
        return 1e3;
    if (m == AB_PEAK || ab_is_counter(m))
        return -1.0;                    /* exact                                                  */
    return m == AB_REPORTED ? c->tick : 1e9 / (double)sysconf(_SC_CLK_TCK);
}

/* ---- one run of one command ---- */

PERF_FN int ab_command_fail_(ab_commands *c, size_t contest, size_t i, const char *what,
                             long number)
{
    const ab_contest *t = &c->contest[contest];
    char              text[160], which[24];

    snprintf(text, sizeof text, what, number);
    if (i < 26)
        snprintf(which, sizeof which, "command %c", 'A' + (int)i);
    else
        snprintf(which, sizeof which, "command %zu", i + 1);
    return ab_fail(&c->e, t->command[i].title, 0, 0, "%s (%s, %s%spair %zu)%s", text, which,
                   t->name, *t->name ? ", " : "", t->command[i].v[0].n + 1,
                   c->o->show_output ? "" : "; --show-output shows what it prints");
}

/* Times by different units are brought to one, that of --unit or of the first number: many programs
 * print "850 us" or "1.2 ms", as it fits.  p: what is behind the number.                         */
PERF_FN void ab_reported_unit_(const char *p, double *unit_ns, double *x, double *tick)
{
    char   unit[12];
    size_t n;
    double ns = 0.0;

    p += *p == ' ';
    n = strcspn(p, " \t\r\n,;:.()[]/");
    if (n && n < sizeof unit) {
        memcpy(unit, p, n);
        unit[n] = '\0';
        ns = ab_unit_ns(unit);
    }
    if (!(*unit_ns < 0.0) && !(*unit_ns > 0.0))
        *unit_ns = ns > 0.0 ? ns : -1.0;
    if (ns > 0.0 && *unit_ns > 0.0) {
        *x *= ns / *unit_ns;
        *tick *= ns / *unit_ns;
    }
}

/* Finds the number that a command reports; 0: there is none, -1: digits are joined by a comma.
 * *tick: one unit of its last digit.                                                             */
PERF_FN int ab_reported_(const char *text, const char *behind, double *unit_ns, double *x,
                         double *tick)
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
            found = q - (q > p && q[-1] == '.' && (q == p + 1 || strchr(" \t\n=:(-+", q[-2])));
            if (*behind)
                break;
        }
        strtod(q, &end);
        q = end > q ? end - 1 : q;
    }
    if (!found)
        return 0;
    *x = strtod(found, &end);
    if ((*end == ',' && end[1] >= '0' && end[1] <= '9') ||
        (found > p + 1 && found[-1] == ',' && found[-2] >= '0' && found[-2] <= '9'))
        return -1;
    *tick = 0.0;
    if (!memchr(found, 'e', (size_t)(end - found)) && !memchr(found, 'E', (size_t)(end - found))) {
        *tick = 1.0;
        q = (const char *)memchr(found, '.', (size_t)(end - found));
        for (q = q ? q + 1 : end; q < end; q++)
            *tick /= 10.0;
    }
    if (found > p && found[-1] == '-')
        *x = -*x;
    ab_reported_unit_(end, unit_ns, x, tick);
    return 1;
}

static const char ab_asked_[] = "waited for the terminal, which it does not get (a password? give it before)";

/* Runs an untimed helper.  0 and *left, its group if it goes on; 1: interrupted; -1: a message. */
PERF_FN int ab_help_(ab_commands *c, const char *what, const char *text, pid_t *left)
{
    ab_ended e;
    pid_t    group;

    *left = 0;
    if (!text)
        return 0;
    group = ab_helper(text, c->o->show_output, &e);
    if (ab_signal_) {
        ab_helper_end(&group);
        return 1;
    }
    if (group < 0 && e.asked)
        return ab_fail(&c->e, what, 0, 0, "'%.200s' %s", text, ab_asked_);
    if (group < 0 && e.signal)
        return ab_fail(&c->e, what, 0, 0, "'%.200s' was killed by signal %d", text, e.signal);
    if (group < 0)
        return ab_fail(&c->e, what, 0, 0, "'%.200s' ended with status %d", text, e.status);
    *left = group;
    return 0;
}

/* Counters of what this process starts from now on, each from its exec on, with its children.  Where
 * none is asked for they are closed.                                                             */
PERF_FN perf_counters ab_count_begin_(const ab_commands *c)
{
    perf_counters_opts o = PERF_ZERO;
    perf_counters      none = PERF_ZERO;

    o.which = c->counted;
    o.process = (int)getpid();
    return c->counted ? perf_counters_open(&o) : none;
}

/* What they have counted into figure[], and closes them.  The name of one that has no figure; NULL:
 * all have.                                                                                      */
PERF_FN const char *ab_count_end_(const ab_commands *c, perf_counters *n, double *figure)
{
    const char *missing = NULL;
    int         m;

    (void)perf_counters_stop(n);
    for (m = AB_INSTRUCTIONS; m <= AB_BRANCH_MISSES; m++) {
        const perf_counter which = ab_counter_of((ab_measure)m);
        figure[m] = 0.0;
        if (!(c->counted & 1u << which))
            continue;
        figure[m] = n->value[which];
        if (perf_counters_why(n, which))
            missing = ab_measure_unit_(c, (ab_measure)m);
    }
    perf_counters_close(n);
    return missing;
}

/* Which counters are asked for.  0: they are there; 2: not, and `text` says why. */
PERF_FN int ab_counters_settle_(ab_commands *c, char *text, size_t cap)
{
    perf_counters n;
    int           k, missing = 0;

    for (k = 0; k < c->plan.rules; k++)
        if (ab_is_counter(ab_measured_(c, k)))
            c->counted |= 1u << ab_counter_of(ab_measured_(c, k));
    n = ab_count_begin_(c);
    for (k = 0; k < c->plan.rules && !missing; k++) {
        const ab_measure m = ab_measured_(c, k);
        const char      *why = ab_is_counter(m) ? perf_counters_why(&n, ab_counter_of(m)) : NULL;
        if (!why)
            continue;
        snprintf(text, cap, "%s cannot be counted: %.300s", ab_measure_unit_(c, m), why);
        missing = 2;
    }
    if (c->counted)
        perf_counters_close(&n);
    return missing;
}

/* Every number that a command reports: the last one of each line, or the first behind each
 * `behind`.  As ab_reported_; *x gets their median.                                              */
PERF_FN int ab_reported_each_(char *text, const char *behind, ab_values *all, double *unit_ns,
                              double *x, double *tick)
{
    char  *piece = *behind ? strstr(text, behind) : text, *next, was;
    double one, step;
    int    r;

    for (*tick = 0.0; piece && *piece; piece = next) {
        next = *behind ? strstr(piece + strlen(behind), behind) : strchr(piece, '\n');
        next = next ? next + !*behind : piece + strlen(piece);
        was = *next;
        *next = '\0';
        r = ab_reported_(piece, behind, unit_ns, &one, &step);
        *next = was;
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        ab_push(all, one);
        *tick = step > *tick ? step : *tick;
        if (!(one > 0.0) || !perf_is_finite_(one))  /* the caller refuses it                      */
            *x = one;
        if (!(one > 0.0) || !perf_is_finite_(one))
            return 1;
    }
    if (all->n)
        *x = ab_statistic(all->x, all->n, PERF_METRIC_P50);
    return all->n != 0;
}

typedef struct ab_taken {               /* one run of a command                                   */
    ab_ended    e;
    double      figure[AB_MEASURES];    /* of the counters                                        */
    const char *missing;                /* a counter without a figure, or NULL                    */
    int         error;                  /* errno: it cannot be run; else 0                        */
} ab_taken;

/* How many bytes the environment of the next run has more than ours. */
PERF_FN size_t ab_padding_(ab_commands *c)
{
    return (size_t)((perf_random_(&c->place) >> 32) * AB_PADDING_MOST >> 32);
}

/* Runs a command once. */
PERF_FN void ab_take_(const ab_commands *c, const ab_command *m, size_t padding, ab_taken *t)
{
    ab_spawn_opts o;
    perf_counters counters;

    memset(&o, 0, sizeof o);
    memset(t, 0, sizeof *t);
    o.capture = c->o->reported != NULL;
    o.show = c->o->show_output;
    o.timeout = c->o->timeout;
    if (!c->o->one_placement)
        o.environment = ab_environment(padding);
    counters = ab_count_begin_(c);
    if (!ab_signal_ && ab_run_one(m->word, &o, &t->e) < 0)
        t->error = errno ? errno : EIO;
    t->missing = ab_count_end_(c, &counters, t->figure);
    free(o.environment);
}

/* What speaks against a run, as a message; 0: nothing does.  Reads its number. */
PERF_FN int ab_check_(ab_commands *c, size_t contest, size_t i, ab_taken *t, ab_values *all,
                      double *x, double *tick)
{
    const ab_ended *e = &t->e;
    int             k;

    if (e->late)
        return ab_command_fail_(c, contest, i, "did not end before the timeout", 0);
    if (e->asked)
        return ab_command_fail_(c, contest, i, ab_asked_, 0);
    if (e->signal && !c->o->ignore_failure)
        return ab_command_fail_(c, contest, i, "was killed by signal %ld", e->signal);
    if (e->status && !c->o->ignore_failure)
        return ab_command_fail_(c, contest, i, "ended with status %ld", e->status);
    if (c->o->reported) {
        if (c->o->each)
            k = ab_reported_each_(e->text, c->o->reported, all, &c->unit_ns, x, tick);
        else
            k = ab_reported_(e->text, c->o->reported, &c->unit_ns, x, tick);
        if (k < 0)
            return ab_command_fail_(c, contest, i, "printed a decimal comma? write 1.5, not 1,5", 0);
        if (k == 0)
            return ab_command_fail_(c, contest, i, "printed no such number", 0);
        if (!(*x > 0.0) || !perf_is_finite_(*x))
            return ab_command_fail_(c, contest, i, "printed a number that is not positive", 0);
    }
    if (t->missing)
        return ab_command_fail_(c, contest, i, "had no counter: another program held them all the "
                                "time", 0);
    return 0;
}

/* Keeps what a run took, and frees its text.  0, or -1: a message. */
PERF_FN int ab_keep_(ab_commands *c, size_t contest, size_t i, ab_taken *t, int keep)
{
    ab_command  *m = &c->contest[contest].command[i];
    const double ns = ab_unit_ns(ab_measure_unit_(c, AB_REPORTED));
    ab_values    all;
    double       x = 0.0, tick = 0.0;
    size_t       j;
    int          k, r;

    memset(&all, 0, sizeof all);
    if (t->error)
        return ab_fail(&c->e, m->title, 0, 0, "cannot be run: %s", strerror(t->error));
    r = ab_check_(c, contest, i, t, &all, &x, &tick);
    free(t->e.text);
    if (!r && keep) {
        c->tick = tick > c->tick ? tick : c->tick;
        m->failed += t->e.status || t->e.signal;
        t->figure[AB_WALL] = t->e.wall;
        t->figure[AB_CPU] = t->e.user + t->e.system;
        t->figure[AB_USER] = t->e.user;
        t->figure[AB_SYSTEM] = t->e.system;
        t->figure[AB_PEAK] = t->e.memory;
        t->figure[AB_REPORTED] = x;
        for (k = 0; k < AB_MEASURES; k++) {         /* what no clock has seen is below its step   */
            double least = 0.5 * ab_measure_step_(c, (ab_measure)k);
            least = least > 0.0 ? least : 1.0;
            ab_push(&m->v[k], t->figure[k] > 0.0 ? t->figure[k] : least);
        }
        for (j = 0; j < all.n; j++)
            all.x[j] *= ns > 0.0 ? ns : 1.0;
        if (all.n)
            ab_spread_add(&m->spread, all.x, all.n, ns > 0.0, t->e.wall);
    }
    free(all.x);
    return r;
}

/* What a run needs first: the program linked anew, then --prepare.  As ab_help_; *left is of the
 * latter.                                                                                        */
PERF_FN int ab_before_(ab_commands *c, const ab_command *m, pid_t *left)
{
    char *link;
    int   r;

    *left = 0;
    if (ab_signal_)
        return 1;
    if (m->link) {
        link = ab_link_shuffled(m->link, &c->place);
        r = ab_help_(c, "--link", link, left);
        free(link);
        ab_helper_end(left);
        if (r)
            return r;
    }
    return ab_help_(c, "--prepare", m->prepare, left);
}

/* Runs a command once and keeps what it took.  0, 1: interrupted, -1: a message. */
PERF_FN int ab_once_(ab_commands *c, size_t contest, size_t i, int keep)
{
    ab_command *m = &c->contest[contest].command[i];
    ab_taken    t;
    pid_t       left;
    int         r = ab_before_(c, m, &left);

    if (r)
        return r;
    ab_take_(c, m, ab_padding_(c), &t);
    ab_helper_end(&left);
    if (ab_signal_) {
        free(t.e.text);
        return 1;
    }
    return ab_keep_(c, contest, i, &t, keep);
}

/* ---- rounds ---- */

/* How far the log of a / b may be off, read like the values so far, as their log.  Of numbers that
 * a command reports these tell the step of its clock, as in a file; of rates, of the times behind
 * them.                                                                                          */
PERF_FN double ab_run_step_(const ab_commands *c, ab_measure m, const ab_values *of_a,
                            const ab_values *of_b, double a, double b)
{
    const char *unit = ab_measure_unit_(c, m);
    double      x[256], y[256], step = ab_measure_step_(c, m), seen, by;
    size_t      n = of_b->n < 256 ? of_b->n : 256;

    if (m != AB_REPORTED)
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
PERF_FN perf_decision ab_look_at_rule_(const ab_commands *c, int k, perf_seq *seq, double step,
                                       double a, double b)
{
    const perf_rule *r = &c->plan.rule[k];
    int              swap = r->metric == PERF_METRIC_THROUGHPUT;
    perf_decision    accept, reject;

    if (!ab_is_typical(r->metric))
        return PERF_INCONCLUSIVE;
    if (seq[k].pairs == 0) {
        double level = ab_reject_level(c->confidence, c->plan.rules);
        (void)perf_seq_init(&seq[k], r, c->confidence, step);
        (void)perf_seq_init(&seq[AB_RULES + k], r, level, step);
    }
    seq[k].tick = seq[AB_RULES + k].tick = step + 1e-12;    /* of this pair                       */
    accept = perf_seq_add(&seq[k], swap ? b : a, swap ? a : b);
    reject = perf_seq_add(&seq[AB_RULES + k], swap ? b : a, swap ? a : b);
    if (reject == PERF_REJECT)
        return PERF_REJECT;
    return accept == PERF_ACCEPT ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

/* Looks at the pairs of a row so far, the last one new. */
PERF_FN perf_decision ab_look_(ab_commands *c, const ab_contest *t, size_t i, perf_seq *seq)
{
    int k, accepted = 0, rejected = 0;

    for (k = 0; k < c->plan.rules; k++) {
        ab_measure    m = ab_measured_(c, k);
        size_t        n = t->command[i].v[m].n - 1;
        double        a = t->command[0].v[m].x[n], b = t->command[i].v[m].x[n];
        perf_decision d = ab_look_at_rule_(c, k, seq, ab_run_step_(c, m, &t->command[0].v[m],
                                                                   &t->command[i].v[m], a, b), a, b);
        accepted += d == PERF_ACCEPT;
        rejected += d == PERF_REJECT;
    }
    if (rejected)
        return PERF_REJECT;
    return accepted == c->plan.rules ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

PERF_FN void ab_progress_(const ab_contest *t, double seconds, int done)
{
    const ab_values *a = &t->command[0].v[0], *b = &t->command[t->n - 1].v[0];
    double change = b->n ? ab_statistic(b->x, b->n, PERF_METRIC_P50) /
                           ab_statistic(a->x, a->n, PERF_METRIC_P50) : 1.0;

    if (done)
        fprintf(stderr, "\r%70s\r", "");
    else
        fprintf(stderr, "\rperf-ab: %.20s%s%zu rounds, %.0f s, wall time %+.1f %% ", t->name,
                *t->name ? ": " : "", a->n, seconds, (change - 1.0) * 100.0);
    fflush(stderr);
}

/* ---- duets: both commands of a pair at once, on two processors (Bulej and others 2020) ---- */

/* Two processors, and two commands in each contest.  0, or -1: a message. */
PERF_FN int ab_duet_begin_(ab_commands *c)
{
    size_t i;

    for (i = 0; i < c->n; i++)
        if (c->contest[i].n != 2)
            return ab_fail(&c->e, "--duet", 0, 0, "runs two commands at once, not %zu",
                           c->contest[i].n);
    if (ab_two_processors(c->processor) < 0)
        return ab_fail(&c->e, "--duet", 0, 0, "needs two processors of Linux, and may not use two");
    return 0;
}

PERF_FN int ab_write_all_(int to, const void *data, size_t n)
{
    const char *p = (const char *)data;
    ssize_t     done;

    while (n) {
        done = write(to, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

PERF_FN int ab_read_all_(int from, void *data, size_t n)
{
    char   *p = (char *)data;
    ssize_t done;

    while (n) {
        done = read(from, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

/* In a process of its own: waits until `go` is closed, runs the command, tells the result. */
PERF_FN void ab_duet_part_(const ab_commands *c, const ab_command *m, size_t padding, int processor,
                           int go, int to)
{
    ab_taken t;
    size_t   n;
    char     byte;

    memset(&t, 0, sizeof t);
    ab_child_ = 0;
    ab_forward_only_ = 0;
    sigprocmask(SIG_UNBLOCK, &ab_caught_, NULL);
    ab_stay_on(processor);
    while (read(go, &byte, 1) < 0 && errno == EINTR && !ab_signal_)
        continue;
    ab_take_(c, m, padding, &t);
    n = t.e.text ? strlen(t.e.text) + 1 : 0;
    if (ab_write_all_(to, &t, sizeof t) == 0 && ab_write_all_(to, &n, sizeof n) == 0)
        (void)ab_write_all_(to, t.e.text, n);
}

typedef struct ab_part {                /* of a duet                                              */
    pid_t process;
    int   from;                         /* where its result comes from                            */
} ab_part;

/* Starts one; *go is what all wait for.  -1 and errno: it cannot be. */
PERF_FN int ab_duet_start_(ab_commands *c, const ab_command *m, int processor, const int go[2],
                           pid_t group, ab_part *p)
{
    const size_t padding = ab_padding_(c);
    int          end[2];

    if (pipe(end) != 0)
        return -1;
    fcntl(end[0], F_SETFD, FD_CLOEXEC);
    fcntl(end[1], F_SETFD, FD_CLOEXEC);
    p->process = fork();
    if (p->process == 0) {
        (void)setpgid(0, group);
        close(go[1]);
        close(end[0]);
        close(ab_wake_[0]);
        close(ab_wake_[1]);
        if (ab_wake_make_() == 0)
            ab_duet_part_(c, m, padding, processor, go[0], end[1]);
        _exit(0);
    }
    close(end[1]);
    p->from = end[0];
    if (p->process > 0)
        (void)setpgid(p->process, group ? group : p->process);
    return p->process < 0 ? -1 : 0;
}

/* The result of one.  -1: there is none. */
PERF_FN int ab_duet_end_(ab_part *p, ab_taken *t)
{
    size_t n = 0;
    int    r = ab_read_all_(p->from, t, sizeof *t), status;

    t->e.text = NULL;
    if (r == 0)
        r = ab_read_all_(p->from, &n, sizeof n);
    if (r == 0 && n) {
        t->e.text = (char *)ab_grow(NULL, n, 1);
        r = ab_read_all_(p->from, t->e.text, n);
        t->e.text[n - 1] = '\0';
    }
    close(p->from);
    while (waitpid(p->process, &status, 0) < 0 && errno == EINTR)
        continue;
    return r;
}

/* Both at once, and what they took.  -1 and errno: they cannot be started. */
PERF_FN int ab_duet_run_(ab_commands *c, const ab_contest *t, size_t first, ab_taken taken[2])
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
        started += ab_duet_start_(c, &t->command[i], c->processor[(size_t)i != first], go,
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
PERF_FN int ab_duet_(ab_commands *c, size_t contest, size_t first)
{
    ab_contest *t = &c->contest[contest];
    ab_taken    taken[2];
    pid_t       left[2] = {0, 0};
    int         i, r = 0, ran = 0;

    memset(taken, 0, sizeof taken);
    for (i = 0; i < 2 && !r; i++)
        r = ab_before_(c, &t->command[i], &left[i]);
    if (!r)
        ran = ab_duet_run_(c, t, first, taken) == 0;
    for (i = 0; i < 2; i++)
        ab_helper_end(&left[i]);
    if (!r && ab_signal_)
        r = 1;
    else if (!r && !ran)
        r = ab_fail(&c->e, "--duet", 0, 0, "a pair cannot be run: %s", strerror(errno));
    for (i = 0; i < 2; i++) {
        if (r)
            free(taken[i].e.text);
        else
            r = ab_keep_(c, contest, (size_t)i, &taken[i], 1);
    }
    return r;
}

/* Each of who[0..n) once, in random order.  As ab_once_; a round that fails is forgotten. */
PERF_FN int ab_round_(ab_commands *c, size_t contest, size_t *who, size_t n, uint64_t *state)
{
    ab_contest *t = &c->contest[contest];
    size_t      i, rounds = t->command[0].v[0].n;
    int         r = 0, m;

    ab_shuffle(who, n, state);
    if (c->o->duet)
        r = ab_duet_(c, contest, who[0]);
    for (i = 0; i < n && !r && !c->o->duet; i++)
        r = ab_once_(c, contest, who[i], 1);
    for (i = 0; i < n && r; i++)
        for (m = 0; m < AB_MEASURES; m++)
            if (t->command[who[i]].v[m].n > rounds)
                t->command[who[i]].v[m].n = rounds;
    return r;
}

/* How many rounds there are at most. */
PERF_FN size_t ab_most_rounds_(const ab_commands *c, double budget)
{
    if (c->o->pairs)
        return c->o->pairs;
    return budget > 0.0 ? 1000000 : 100;
}

/* One contest to its end.  0: done or decided, 1: interrupted, -1: a message. */
PERF_FN int ab_rounds_(ab_commands *c, size_t contest, perf_seq *seq, uint64_t *state,
                       double budget)
{
    ab_contest *t = &c->contest[contest];
    double      began = ab_seconds_(), shown = began;
    size_t      most = ab_most_rounds_(c, budget), i, k, n = t->n;
    size_t     *who = (size_t *)ab_grow(NULL, n, sizeof *who);
    int         tty = isatty(2), r = 0;

    for (i = 0; i < n; i++)
        who[i] = i;
    for (i = 0; i < n * c->o->warmup && !r; i++)
        r = ab_once_(c, contest, i % n, 0);
    for (i = 0; i < most && n > 1 && !r; i++) {
        if (budget > 0.0 && ab_seconds_() - began >= budget)
            break;
        r = ab_round_(c, contest, who, n, state);
        if (r)
            break;
        if (tty && ab_seconds_() - shown > 0.2) {
            shown = ab_seconds_();
            ab_progress_(t, shown - began, 0);
        }
        for (k = 0; k < n;)                         /* who is decided takes no further part       */
            if (who[k] && ab_look_(c, t, who[k], seq + (who[k] - 1) * AB_SEQS))
                who[k] = who[--n];
            else
                k++;
    }
    if (tty)
        ab_progress_(t, 0.0, 1);
    free(who);
    return r;
}

/* Setups, rounds, cleanups.  A setup or cleanup that several commands share runs once. */
PERF_FN int ab_contest_(ab_commands *c, size_t contest, perf_seq *seq, uint64_t *state,
                        double budget)
{
    ab_contest *t = &c->contest[contest];
    size_t      i, set_up;
    int         r = 0, was;
    pid_t       left;

    for (i = 0; i < t->n && !r; i++)
        if (!i || !t->command[i].setup || strcmp(t->command[i].setup, t->command[i - 1].setup) != 0)
            r = ab_help_(c, "--setup", t->command[i].setup, &t->command[i].helper);
    set_up = i;
    if (!r)
        r = ab_rounds_(c, contest, seq, state, budget);
    was = ab_signal_;                               /* cleaning up goes on; a second one stops it */
    ab_signal_ = 0;
    for (i = 0; i < set_up; i++) {
        const char *text = t->command[i].cleanup;
        if (text && (!i || strcmp(text, t->command[i - 1].cleanup) != 0)) {
            ab_error e = c->e;
            if (ab_help_(c, "--cleanup", text, &left) < 0)
                fprintf(stderr, "perf-ab: %s\n", c->e.text);
            ab_helper_end(&left);
            c->e = e;
        }
        ab_helper_end(&t->command[i].helper);
    }
    ab_signal_ = was ? was : ab_signal_;
    return r;
}

PERF_FN int ab_contests_(ab_commands *c)
{
    uint64_t        state = c->o->seed;
    double          began = ab_seconds_(), left;
    size_t          i, row = 0;
    int             r = 0;
    struct timespec t;

    if (!c->o->seeded) {
        clock_gettime(CLOCK_REALTIME, &t);
        state = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ((uint64_t)getpid() << 40);
    }
    c->place = ~state;
    for (i = 0; i < c->n && !r; i++) {              /* each gets its share of the time left       */
        left = c->o->budget > 0.0 ? (c->o->budget - (ab_seconds_() - began)) / (double)(c->n - i)
                                  : 0.0;
        r = ab_contest_(c, i, c->seq + row * AB_SEQS, &state, c->o->budget > 0.0 && !(left > 1e-9)
                        ? 1e-9 : left);
        row += c->contest[i].n - 1;
    }
    return r;
}

/* ---- verdicts ---- */

/* An interval that says what the bet says.  What lies beyond a value that is ruled out is ruled
 * out, too; what is not ruled out belongs to it.                                                 */
PERF_FN perf_interval ab_agree_(perf_interval i, const perf_rule *rule, perf_decision d)
{
    const double t = perf_log_(perf_rule_threshold_(rule));
    const int    same = rule->kind == PERF_RULE_SAME;

    if (perf_rule_answer_(rule, i) == d)
        return i;
    if (d == PERF_ACCEPT) {
        i.high = i.high < t ? i.high : t - 1e-12;
        if (same && !(i.low > -t))
            i.low = -t + 1e-12;
    } else if (d == PERF_REJECT && same && i.estimate < 0.0) {
        i.high = -t - 1e-12;
    } else if (d == PERF_REJECT) {
        i.low = t + 1e-12;
    } else if (i.low > t) {
        i.low = t;
    } else {                                        /* of "the same", within both or below both   */
        i.high = same && i.high < -t ? -t : t;
    }
    return i;
}

/* What the bets of rule k have come to. */
PERF_FN perf_decision ab_decided_(const perf_seq *seq, int k)
{
    if (seq[AB_RULES + k].decision == PERF_REJECT)
        return PERF_REJECT;
    return seq[k].decision == PERF_ACCEPT ? PERF_ACCEPT : PERF_INCONCLUSIVE;
}

/* The verdict of one rule after the last pair: the bet decides, the interval shows. */
PERF_FN perf_verdict ab_run_verdict_(const ab_commands *c, int k, const perf_seq *seq,
                                     const ab_data *d, double step)
{
    perf_compare_opts o = PERF_ZERO;
    perf_verdict      v;
    perf_seq          probe;
    perf_interval     i;
    perf_decision     decision = ab_decided_(seq, k);
    double           *log_ratio, room;
    int               swap = d->rule.metric == PERF_METRIC_THROUGHPUT, coarse;
    size_t            j, n = d->n[0];

    if (!ab_is_typical(d->rule.metric) || n < 1)
        return ab_verdict_among(d, c->confidence, c->plan.rules);
    o.rule = d->rule;
    o.confidence = c->confidence;
    v = perf_verdict_start_(&o);
    log_ratio = (double *)ab_grow(NULL, n, sizeof *log_ratio);
    for (j = 0; j < n; j++)
        log_ratio[j] = perf_log_(d->x[!swap][j]) - perf_log_(d->x[swap][j]);
    v.pairs = n;
    i = perf_seq_interval(log_ratio, n, o.confidence);
    coarse = perf_rule_answer_(&v.rule, i) != PERF_INCONCLUSIVE;
    i = perf_widen_(i, step < 50.0 ? step : PERF_INF_);
    coarse = coarse && perf_rule_answer_(&v.rule, i) == PERF_INCONCLUSIVE;
    room = perf_rule_room_(&v.rule, i.estimate);
    if (decision == PERF_ACCEPT ? room < 0.0 : room > 0.0)              /* it was, for a while:   */
        decision = PERF_INCONCLUSIVE;                                   /* other rules took more  */
    perf_verdict_finish_(&v, ab_agree_(i, &v.rule, decision), (double)n, &o);
    perf_sort_values_(log_ratio, n);
    if (perf_lopsided_(log_ratio, n, 2.58, step))
        v.warnings |= PERF_WARN_SHAPE;
    free(log_ratio);
    (void)perf_seq_init(&probe, &o.rule, o.confidence, 0.0);
    while (perf_seq_add(&probe, 2.0, v.threshold) == PERF_INCONCLUSIVE && probe.pairs < 1000)
        continue;                                   /* so many it takes if all agree              */
    if (v.pairs_needed > 0.0 && v.pairs_needed < (double)probe.pairs - (double)n)
        v.pairs_needed = (double)probe.pairs - (double)n;
    v.reason = "not decided within these pairs";
    if (coarse)
        v.reason = "the clock is too coarse for this: time more work at once";
    if (v.decision != PERF_INCONCLUSIVE)
        v.reason = "decided pair by pair";
    if (step >= 50.0 || step > 0.1 * (i.high - i.low))
        v.warnings |= PERF_WARN_RESOLUTION;
    return v;
}

/* Makes one row of the report and, for --save, its series. */
PERF_FN void ab_run_row_(const ab_commands *c, const ab_contest *t, size_t i, const perf_seq *seq,
                         ab_series *s, ab_row *row)
{
    ab_measure first = ab_measured_(c, 0);
    ab_run    *run = ab_run_of(s, NULL);
    size_t     n = t->command[i].v[0].n, j;
    double     step;
    int        k;

    s->design = AB_PAIRS;
    free(s->unit);
    s->unit = ab_copy(ab_measure_unit_(c, first), strlen(ab_measure_unit_(c, first)));
    s->step = ab_measure_step_(c, first) > 0.0 ? ab_measure_step_(c, first) : 0.0;
    for (j = 0; j < n; j++) {
        ab_push(&run->v[0], t->command[0].v[first].x[j]);
        ab_push(&run->v[1], t->command[i].v[first].x[j]);
    }
    if (!n)
        row->missing = "B";
    for (k = 0; k < c->plan.rules && n; k++) {
        ab_data   *d = &row->d[k];
        ab_measure m = ab_measured_(c, k);
        d->how = AB_HOW_PAIRS;
        d->rule = c->plan.rule[k];
        d->unit = ab_measure_unit_(c, m);
        d->x[0] = t->command[0].v[m].x;
        d->x[1] = t->command[i].v[m].x;
        d->n[0] = d->n[1] = n;
        d->tick = ab_measure_step_(c, m);
        step = ab_clock_step(d->x[0], n, d->x[1], n, d->unit);
        d->tick = m == AB_REPORTED && step > d->tick ? step : d->tick;
        step = ab_run_step_(c, m, &t->command[0].v[m], &t->command[i].v[m],
                            ab_statistic(d->x[0], n, PERF_METRIC_P50), ab_statistic(d->x[1], n, PERF_METRIC_P50));
        d->v = ab_run_verdict_(c, k, seq, d, step);
        if (d->v.decision == PERF_INCONCLUSIVE && (seq[k].decision == PERF_ACCEPT ||
                                                   seq[AB_RULES + k].decision == PERF_REJECT))
            snprintf(d->cap, sizeof d->cap, "decided once, but the pairs after that say the opposite: "
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
PERF_FN int ab_choice_add_(ab_choice *p, const char *s, size_t len)
{
    p->value = (ab_text *)ab_grow(p->value, p->n + 1, sizeof *p->value);
    snprintf(p->value[p->n++].s, sizeof p->value->s, "%.*s", (int)(len < 160 ? len : 160), s);
    return len < sizeof p->value->s ? 0 : -1;
}

/* FIRST..LAST or FIRST..LAST:STEP, with as many decimals as FIRST or STEP has.  0: it is neither,
 * -1: too many values, -2: it does not go up.                                                    */
PERF_FN int ab_choice_range_(ab_choice *p, const char *text)
{
    const char *dots = strstr(text, ".."), *point, *s;
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
    s = end;
    if (*end == ':')
        step = strtod(end + 1, &end);
    if (*end)
        return 0;
    if (!(step > 0.0) || !(high >= low))
        return -2;
    if (!((high - low) / step < (double)AB_COMMANDS) || !(low > -1e15) || !(high < 1e15))
        return -1;
    for (i = 0; i < 2; i++) {
        point = strchr(i ? s : text, '.');
        point = point && (i || point < dots) ? point : NULL;
        decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
        digits = decimals > digits ? decimals : digits;
    }
    for (i = 0; (x = low + (double)i * step) <= high + 1e-9 * step; i++) {
        snprintf(t.s, sizeof t.s, "%.*f", digits < 12 ? digits : 12, x);
        (void)ab_choice_add_(p, t.s, strlen(t.s));
    }
    return 1;
}

PERF_FN int ab_choice_read_(ab_choice *p, const char *text, ab_error *e)
{
    const char *equals = strchr(text, '='), *s, *end;
    int         r;

    if (!equals || equals == text || equals - text >= (int)sizeof p->name || !equals[1])
        return ab_fail(e, "--parameter", 0, 0,
                       "expected NAME=1,2,3 or NAME=1..8 or NAME=0..1:0.25, not '%.80s'", text);
    snprintf(p->name, sizeof p->name, "%.*s", (int)(equals - text), text);
    r = ab_choice_range_(p, equals + 1);
    if (r < -1)
        return ab_fail(e, "--parameter", 0, 0, "a range goes up: '%.80s'", text);
    if (r)
        return r > 0 ? 0 : ab_fail(e, "--parameter", 0, 0,
                                   "more than %d values, or beyond 1e15: '%.80s'", AB_COMMANDS, text);
    for (s = equals + 1;; s = end + 1) {
        end = s + strcspn(s, ",");
        if (ab_choice_add_(p, s, (size_t)(end - s)) < 0)
            return ab_fail(e, "--parameter", 0, 0, "a value of more than 159 bytes: '%.80s...'", s);
        if (!*end)
            return 0;
    }
}

/* A copy of text with each {NAME} replaced by the value that it has in combination number `pick`.
 * *used gets a bit for each that occurs.                                                         */
PERF_FN char *ab_fill_in_(const char *text, const ab_choice *p, size_t n, size_t pick,
                          unsigned *used)
{
    char       *out = ab_copy("", 0);
    size_t      len = 0, i, rest, add, skip;
    const char *with;

    for (; *text; text += skip) {
        with = text;
        add = skip = 1;
        for (i = 0, rest = pick; i < n && *text == '{'; rest /= p[i].n, i++) {
            size_t name = strlen(p[i].name);
            if (strncmp(text + 1, p[i].name, name) != 0 || text[1 + name] != '}')
                continue;
            with = p[i].value[rest % p[i].n].s;
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

/* Makes command m from the words between two --, for one combination of parameters. */
PERF_FN void ab_command_(const ab_commands *c, ab_command *m, char **word, size_t which,
                         const ab_choice *p, size_t pick, unsigned *used,
                         unsigned *by_helpers)
{
    static char        sh[] = "sh", dash_c[] = "-c";
    const ab_run_opts *o = c->o;
    const char        *prepare = o->prepares > 1 ? o->prepare[which] : o->prepare[0];
    const char        *link = o->links > 1 ? o->link[which] : o->link[0];
    size_t             n = 0, i;

    while (word[n])
        n++;
    m->word = (char **)ab_grow(NULL, n + 1, sizeof *m->word);
    for (i = 0; i < n; i++)
        m->word[i] = ab_fill_in_(word[i], p, o->parameters, pick, used);
    m->word[n] = NULL;
    m->title = ab_title_(m->word);
    if (o->shell) {
        for (i = 0; i < n; i++)
            free(m->word[i]);
        free(m->word);
        m->shell[0] = sh;
        m->shell[1] = dash_c;
        m->shell[2] = m->title;
        m->word = m->shell;
    }
    m->setup = o->setup ? ab_fill_in_(o->setup, p, o->parameters, pick, by_helpers) : NULL;
    m->prepare = prepare ? ab_fill_in_(prepare, p, o->parameters, pick, by_helpers) : NULL;
    m->link = link ? ab_fill_in_(link, p, o->parameters, pick, by_helpers) : NULL;
    m->cleanup = o->cleanup ? ab_fill_in_(o->cleanup, p, o->parameters, pick, by_helpers) : NULL;
}

/* "threads=4 level=9": what combination number `pick` is. */
PERF_FN char *ab_pick_name_(const ab_choice *p, size_t n, size_t pick)
{
    char   t[400] = "";
    size_t i, len = 0;

    for (i = 0; i < n && len < sizeof t; pick /= p[i].n, i++)
        len += (size_t)snprintf(t + len, sizeof t - len, "%s%s=%.40s", i ? " " : "", p[i].name,
                                p[i].value[pick % p[i].n].s);
    return ab_copy(t, strlen(t));
}

/* Takes  -- A... -- B...  apart; the words stay where they are.  Their number, or -1. */
PERF_FN long ab_split_(ab_commands *c, char **argv, char ***word)
{
    size_t i, n = 0;

    for (i = 0; argv[i]; i++)
        if (!strcmp(argv[i], "--")) {
            argv[i] = NULL;
            if (n == AB_COMMANDS)
                return ab_fail(&c->e, "run", 0, 0, "more than %d commands", AB_COMMANDS);
            word[n++] = &argv[i + 1];
        }
    for (i = 0; i < n; i++)
        if (!word[i][0])
            n = 0;
    if (n < 2 && !(n == 1 && c->o->parameters))
        return ab_fail(&c->e, "run", 0, 0, "two commands are needed: -- COMMAND_A... -- "
                       "COMMAND_B..., or one with --parameter");
    if (c->o->prepares > 1 && c->o->prepares != n)
        return ab_fail(&c->e, "--prepare", 0, 0, "give it once for all commands, or once for each");
    if (c->o->links > 1 && c->o->links != n)
        return ab_fail(&c->e, "--link", 0, 0, "give it once for all commands, or once for each");
    for (i = 0; i < c->o->links; i++)
        if (ab_link_objects(c->o->link[i]) < 2)
            return ab_fail(&c->e, "--link", 0, 0, "two words that end in .o are needed: they come in "
                           "random order");
    return (long)n;
}

/* Several commands: a contest for each combination of parameters.  One: a contest between them. */
PERF_FN void ab_contests_make_(ab_commands *c, char ***word, size_t words, const ab_choice *p,
                               size_t picks, unsigned *used)
{
    size_t   i, k, inside = words > 1 ? words : picks;
    unsigned none = 0;                  /* one command competes with itself: it has to differ     */

    c->n = words > 1 ? picks : 1;
    c->contest = (ab_contest *)ab_grow(NULL, c->n, sizeof *c->contest);
    for (i = 0; i < c->n; i++) {
        ab_contest *t = &c->contest[i];
        t->n = inside;
        t->name = words > 1 ? ab_pick_name_(p, c->o->parameters, i) : ab_copy("", 0);
        t->command = (ab_command *)ab_grow(NULL, inside, sizeof *t->command);
        memset(t->command, 0, inside * sizeof *t->command);
        for (k = 0; k < inside; k++)
            ab_command_(c, &t->command[k], word[words > 1 ? k : 0], words > 1 ? k : 0, p,
                        words > 1 ? i : k, used, words > 1 ? used : &none);
    }
    c->rows = c->n * (inside - 1);
}

PERF_FN int ab_commands_read_(ab_commands *c, char **argv)
{
    ab_choice p[AB_PARAMETERS];
    char   ***word = (char ***)ab_grow(NULL, AB_COMMANDS, sizeof *word);
    long      words = ab_split_(c, argv, word);
    size_t    i, k, picks = 1;
    unsigned  used = 0;
    int       r = words < 0 ? -1 : 0;

    memset(p, 0, sizeof p);
    for (i = 0; i < c->o->parameters && !r; i++) {
        r = ab_choice_read_(&p[i], c->o->parameter[i], &c->e);
        for (k = 0; k < i && !r; k++)
            if (!strcmp(p[k].name, p[i].name))
                r = ab_fail(&c->e, "--parameter", 0, 0, "{%s} is given twice", p[i].name);
        picks *= p[i].n ? p[i].n : 1;
        if (!r && picks * (size_t)words > AB_COMMANDS)
            r = ab_fail(&c->e, "--parameter", 0, 0, "more than %d commands", AB_COMMANDS);
    }
    if (!r && words == 1 && picks < 2)
        r = ab_fail(&c->e, "--parameter", 0, 0, "one command with one value: nothing to compare");
    if (!r)
        ab_contests_make_(c, word, (size_t)words, p, picks, &used);
    for (i = 0; i < c->o->parameters && !r; i++)
        if (!(used & 1u << i))
            r = ab_fail(&c->e, "--parameter", 0, 0, words > 1 ? "no command and no helper holds {%s}"
                                                              : "the command does not hold {%s}",
                        p[i].name);
    for (i = 0; i < AB_PARAMETERS; i++)
        free(p[i].value);
    free(word);
    return r;
}

PERF_FN void ab_commands_free_(ab_commands *c)
{
    size_t i, k, w;

    for (i = 0; i < c->n; i++) {
        for (k = 0; k < c->contest[i].n; k++) {
            ab_command *m = &c->contest[i].command[k];
            for (w = 0; m->word != m->shell && m->word[w]; w++)
                free(m->word[w]);
            if (m->word != m->shell)
                free(m->word);
            free(m->title);
            free(m->setup);
            free(m->prepare);
            free(m->link);
            free(m->cleanup);
            for (w = 0; w < AB_MEASURES; w++)
                free(m->v[w].x);
            free(m->spread.centre.x);
            free(m->spread.count.x);
        }
        free(c->contest[i].command);
        free(c->contest[i].name);
    }
    free(c->contest);
    free(c->seq);
    memset(c, 0, sizeof *c);
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
PERF_FN int ab_settle_metrics_(ab_commands *c)
{
    int k;

    for (k = 0; k < c->plan.rules; k++) {
        const char *unit = ab_measure_unit_(c, ab_measured_(c, k));
        const char *misfit = ab_misfit(&c->plan.rule[k], unit);
        if (misfit)
            return ab_fail(&c->e, "run", 0, 0, "what is measured is in %.40s: %s%s", unit, misfit,
                           c->o->reported ? "" : "; --reported takes a number that the command prints");
        if (ab_unit_kind(unit) != AB_RATE)
            continue;
        if (!ab_is_typical(c->plan.rule[k].metric))
            return ab_fail(&c->e, "run", 0, 0, "%.40s is a rate: its metric is throughput, not %s",
                           c->o->unit, ab_metric_name(c->plan.rule[k].metric));
        c->plan.rule[k].metric = PERF_METRIC_THROUGHPUT;
    }
    return 0;
}

PERF_FN void ab_run_names_(const ab_commands *c, ab_report *r, char **argv)
{
    const ab_contest *t = &c->contest[0];
    static const char *const measure[] = {"wall time", "processor time", "user time", "system time",
                                          "peak memory", "number it reports", "instructions",
                                          "cycles", "branches", "branch misses"};
    size_t n = c->n > 1 ? 0 : t->n;
    char   text[80];
    int    k;

    r->owned[0] = c->n > 1 ? ab_title_(argv + 1) : ab_copy(t->command[0].title,
                                                           strlen(t->command[0].title));
    argv += c->n > 1;                               /* the first of them, behind a separator      */
    while (c->n > 1 && *argv)                       /* the second of them, as written             */
        argv++;
    while (c->n > 1 && !*argv)
        argv++;
    snprintf(text, sizeof text, "%zu other commands, a line each", t->n - 1);
    if (t->n > 2)
        r->owned[1] = ab_copy(text, strlen(text));
    else if (n == 0)
        r->owned[1] = ab_title_(argv);
    else
        r->owned[1] = ab_copy(t->command[1].title, strlen(t->command[1].title));
    for (k = 0; k < 2; k++) {
        r->name[k] = r->owned[k];
        r->format[k] = measure[ab_measured_(c, 0)];
    }
}

/* What each command used, for the report. */
PERF_FN void ab_run_usage_(const ab_commands *c, ab_report *r)
{
    static const ab_measure shown[4] = {AB_WALL, AB_USER, AB_SYSTEM, AB_PEAK};
    size_t i, k, n = 0;
    int    j;

    r->usage = (ab_usage *)ab_grow(NULL, c->rows + c->n, sizeof *r->usage);
    for (i = 0; i < c->n; i++)
        for (k = 0; k < c->contest[i].n; k++) {
            const ab_command *m = &c->contest[i].command[k];
            ab_usage         *u = &r->usage[n++];
            u->between = ab_spread_between(&m->spread);
            u->name = ab_copy(m->title, strlen(m->title));
            u->runs = m->v[0].n;
            u->failed = m->failed < u->runs ? m->failed : u->runs;
            for (j = 0; j < 4; j++) {
                double x = ab_statistic(m->v[shown[j]].x, m->v[shown[j]].n, PERF_METRIC_P50);
                double least = 0.5 * ab_measure_step_(c, shown[j]);     /* see ab_once_           */
                u->median[j] = j && j < 3 && ab_abs(x - least) < 1e-9 * least ? 0.0 : x;
            }
        }
    r->usages = n;
    if (n == 2)
        r->pairs_for_1_percent = ab_spread_pairs(&r->usage[0].between, &r->usage[1].between);
}

PERF_FN void ab_run_rows_(const ab_commands *c, ab_report *r, ab_set *set)
{
    size_t i, k, row = 0;
    char  *name, key[24];

    for (i = 0; i < c->n; i++)
        for (k = 1; k < c->contest[i].n; k++, row++) {
            const ab_contest *t = &c->contest[i];
            const char       *plain = *t->name ? "" : "command";
            const char       *own = t->n > 2 ? t->command[k].title : plain;
            size_t            size = strlen(t->name) + strlen(own) + 3;
            ab_series        *s;
            name = (char *)ab_grow(NULL, size, 1);
            snprintf(name, size, "%s%s%s", t->name, *t->name && *own ? ": " : "", own);
            snprintf(key, sizeof key, "%zu", row);
            s = ab_series_by(set, key, name);       /* two commands may look the same             */
            free(name);
            ab_run_row_(c, t, k, c->seq + row * AB_SEQS, s, &r->row[row]);
        }
    for (row = 0; row < r->n; row++)                /* the set may have moved meanwhile           */
        r->row[row].name = set->s[row].name;
}

/* Measures and judges; argv begins with the first --.  0: r is ready for a report; else an exit
 * status, already explained.  `c` and `set` keep the numbers that r points to.                   */
PERF_FN int ab_run_commands(ab_report *r, ab_commands *c, ab_set *set, const ab_run_opts *o,
                            char **argv)
{
    char why[400];
    int  r_ = -1;

    c->o = o;
    if (o->unit)
        c->unit_ns = ab_unit_ns(o->unit) > 0.0 ? ab_unit_ns(o->unit) : -1.0;
    c->plan = r->plan;
    if (ab_catch() < 0)
        ab_fail(&c->e, "pipe", 0, 0, "%s", strerror(errno));
    else
        r_ = ab_commands_read_(c, argv);
    if (!r_ && o->duet)
        r_ = ab_duet_begin_(c);
    if (!r_)
        r_ = ab_settle_metrics_(c);
    if (!r_ && ab_counters_settle_(c, why, sizeof why)) {
        ab_run_leave();
        fprintf(stderr, "perf-ab: INCONCLUSIVE: %s\n", why);
        return AB_INCONCLUSIVE;
    }
    if (!r_) {
        c->confidence = 1.0 - (1.0 - c->plan.confidence) / (double)c->rows;
        if (perf_is_nan_(perf_confidence_(ab_reject_level(c->confidence, c->plan.rules))))
            r_ = ab_fail(&c->e, "--confidence", 0, 0, "%g is too much for %zu comparisons at once: beyond "
                         "0.999999 for each nothing is decided", c->plan.confidence, c->rows);
    }
    if (!r_) {
        c->seq = (perf_seq *)ab_grow(NULL, c->rows * AB_SEQS, sizeof *c->seq);
        memset(c->seq, 0, c->rows * AB_SEQS * sizeof *c->seq);
        r_ = ab_contests_(c);
    }
    if (r_ >= 0 && !c->contest[0].command[1].v[0].n) {
        ab_run_leave();
        r_ = ab_fail(&c->e, "run", 0, 0, "no pair was measured: the budget is too short");
    }
    if (r_ < 0) {
        fprintf(stderr, "perf-ab: %s\n", c->e.text);
        return AB_UNUSABLE;
    }
    if (ab_placement_is_fixed())
        fputs("perf-ab: the system gives all runs the same addresses (setarch -R? "
              "kernel.randomize_va_space 0?): only their environments differ\n", stderr);
    r->sequential = 1;
    r->n = c->rows;
    r->row = (ab_row *)ab_grow(NULL, r->n, sizeof *r->row);
    memset(r->row, 0, r->n * sizeof *r->row);
    ab_run_names_(c, r, argv);
    ab_run_rows_(c, r, set);
    ab_run_usage_(c, r);
    ab_judge(r);
    return 0;
}

#endif
