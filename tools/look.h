/* look.h - perf-ab look: what a program that runs, or one that died, has recorded.
 *
 *     perf-ab look 4711                        the report of perf_report(), without asking it
 *     perf-ab look core.4711 --view tree       and where it died
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_H
#define PERF_TOOLS_LOOK_H

#include "look_core.h"
#include "look_open.h"
#include "look_trace.h"
#include "look_write.h"

#include <signal.h>

typedef struct look_opts {
    const char *target;
    look_view   view;
    look_sort   sort;
    int         rows, width;            /* rows < 0: all; width 0: no limit                       */
    const char *trace, *flame;          /* files to write; NULL: none                             */
    long        thread;                 /* its id; 0: all                                         */
    double      interval;               /* of top, seconds                                        */
    long        count;                  /* readings; 0: until it is told to stop                  */
    int         once, json, tree;
} look_opts;

PERF_FN int look_say(const char *format, ...) PERF_ATTR_((__format__(__printf__, 1, 2)));

/* A sentence on standard error; returns the exit status. */
PERF_FN int look_say(const char *format, ...)
{
    char    text[700];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ab_make_safe(text);
    fprintf(stderr, "perf-ab: %s\n", text);
    return AB_UNUSABLE;
}

PERF_FN int look_sort_of(const char *text)
{
    static const char *const name[] = {"self", "total", "calls", "mean", "max", "p99", "name"};
    int                      i;

    for (i = 0; i < 7; i++)
        if (!strcmp(text, name[i]))
            return i;
    return -1;
}

PERF_FN int look_view_of(const char *text)
{
    static const char *const name[] = {"table", "tree", "csv", "json", "diagnosis"};
    int                      i;

    for (i = 0; i < 5; i++)
        if (!strcmp(text, name[i]))
            return i;
    return -1;
}

/* A whole number of an option; 0: it is none within those limits. */
PERF_FN int look_number(const char *text, double low, double high, double *x)
{
    char *end;

    *x = strtod(text, &end);
    return end != text && !*end && *x >= low && *x <= high;
}

/* An option of top without a value; 0: it is none. */
PERF_FN int look_flag(const char *name, look_opts *o)
{
    if (!strcmp(name, "--once"))
        o->once = 1;
    else if (!strcmp(name, "--json"))
        o->json = 1;
    else if (!strcmp(name, "--tree"))
        o->tree = 1;
    else
        return 0;
    return 1;
}

/* The options of top and look; an exit status, 0: fine. */
PERF_FN int look_options(int argc, char **argv, int top, look_opts *o)
{
    int    i, k;
    double x;

    memset(o, 0, sizeof *o);
    o->rows = 0;
    o->interval = 1;
    for (i = 2; i < argc; i++) {
        const char *name = argv[i], *value;
        if (top && look_flag(name, o))
            continue;
        if (name[0] != '-' || !name[1]) {
            if (o->target)
                return look_say("one program at a time: '%.60s' and '%.60s'", o->target, name);
            o->target = name;
            continue;
        }
        if (i + 1 == argc)
            return look_say("no such option, or it has no value: '%.60s' (perf-ab --help)", name);
        value = argv[++i];
        if (!strcmp(name, "--sort")) {
            k = look_sort_of(value);
            if (k < 0)
                return look_say("self, total, calls, mean, max, p99 or name sort, not '%.60s'",
                                value);
            o->sort = (look_sort)k;
        } else if (!top && !strcmp(name, "--view")) {
            k = look_view_of(value);
            if (k < 0)
                return look_say("table, tree, csv, json and diagnosis are views, not '%.60s'",
                                value);
            o->view = (look_view)k;
        } else if (!top && !strcmp(name, "--trace")) {
            o->trace = value;
        } else if (!top && !strcmp(name, "--flame")) {
            o->flame = value;
        } else if (!strcmp(name, "--rows")) {
            if (!look_number(value, -1, 1e6, &x))
                return look_say("--rows takes a number, not '%.60s'", value);
            o->rows = (int)x;
        } else if (!strcmp(name, "--width")) {
            if (!look_number(value, 60, 1000, &x))
                return look_say("--width takes 60 to 1000 columns, not '%.60s'", value);
            o->width = (int)x;
        } else if (!strcmp(name, "--thread")) {
            if (!look_number(value, 1, 1e15, &x))
                return look_say("--thread takes the number of a thread, not '%.60s'", value);
            o->thread = (long)x;
        } else if (top && !strcmp(name, "--interval")) {
            if (!look_number(value, 0.001, 1e5, &x))
                return look_say("--interval takes 0.001 to 100000 seconds, not '%.60s'", value);
            o->interval = x;
        } else if (top && !strcmp(name, "--count")) {
            if (!look_number(value, 1, 1e9, &x))
                return look_say("--count takes a number from 1 on, not '%.60s'", value);
            o->count = (long)x;
        } else {
            return look_say("no such option: '%.60s' (perf-ab --help)", name);
        }
    }
    if (o->target)
        return 0;
    return look_say("which program? its number, its name%s", top ? "" : ", or a core file");
}

/* Opens a process or a core; an exit status, 0: fine. */
PERF_FN int look_open_target(look_target *t, const char *name, int cores)
{
    struct stat s;
    char        why[300];
    const int   number = name[strspn(name, "0123456789")] == '\0', path = strchr(name, '/') != NULL;
    int         pid = path ? 0 : look_find_process(name, why, sizeof why);

    if (!pid && !number && cores && (path || !stat(name, &s)))
        return look_open_core(t, name) ? 0 : look_say("%s", t->error);
    memset(t, 0, sizeof *t);
    t->memory = t->core = -1;
    if (path)
        return look_say("the number or the name of a process is needed, not '%.60s'", name);
    if (!pid)
        return look_say("%s", why);
    return look_attach(t, pid) ? 0 : look_say("%s", t->error);
}

/* The thread with that id; -1: all of them are meant, -2: there is none. */
PERF_FN int64_t look_thread_of(const look_reading *r, long id)
{
    size_t i;

    for (i = 0; id && i < r->threads; i++)
        if (r->thread[i].id == (uint64_t)id)
            return (int64_t)i;
    return id ? -2 : -1;
}

/* ---- what is above the table ---- */

PERF_FN void look_put_program(perf_out_ *o, const look_target *t, const look_reading *r)
{
    const look_usage u = look_usage_of(t);
    size_t           i, alive = 0;

    for (i = 0; i < r->threads; i++)
        alive += !r->thread[i].gone && !r->thread[i].foreign;
    perf_putf_(o, "%.60s, ", t->program);
    if (t->pid)
        perf_putf_(o, "process %.0f", (double)t->pid);
    else
        perf_putf_(o, "core file of process %.0f", (double)r->process);
    perf_putf_(o, ": %.0f thread%s with marks", (double)alive, alive == 1 ? "" : "s");
    if (u.resident > 0) {
        perf_put_(o, ", memory ");
        perf_put_bytes_(o, u.resident);
    }
    perf_put_(o, "\n");
}

PERF_FN void look_put_spent(perf_out_ *o, const look_target *t, const look_reading *r)
{
    const look_usage u = look_usage_of(t);
    const double     wall = (double)r->ns - (double)r->spent_ns;
    const double     cpu = u.cpu_ns - (double)r->spent_cpu;

    if (!r->clock) {
        perf_putf_(o, "clock: %.3f MHz within %.2f ppm", 1e3 / r->tick_ns,
                   perf_is_finite_(r->error_ppm) ? r->error_ppm : 0.0);
        perf_put_(o, r->tick_is_ours ? ", as on this machine: the program had not measured it\n"
                                     : "\n");
    }
    if (u.known && wall > 0 && r->spent_ns && cpu >= 0) {
        perf_put_number_(o, "processor time: ", cpu / wall * 100, 0);
        perf_put_(o, " % of one processor (");
        perf_put_ns_(o, cpu);
        perf_put_(o, " in ");
        perf_put_ns_(o, wall);
        perf_put_(o, ")\n");
    }
}

/* The last moment that anything in the reading knows of, in ticks. */
PERF_FN uint64_t look_end(const look_target *t, const look_reading *r)
{
    uint64_t end = 0;
    size_t   i;
    uint32_t n;

    if (t->pid)
        return r->ticks;
    for (i = 0; i < r->threads; i++)
        for (n = 0; n < r->thread[i].open.n; n++)
            end = r->thread[i].open.since[n] > end ? r->thread[i].open.since[n] : end;
    return end;
}

PERF_FN const char *look_signal_text(int signal)
{
    static const struct {
        int         number;
        const char *name;
    } known[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},
                 {SIGILL, "SIGILL"}, {SIGQUIT, "SIGQUIT"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"},
                 {SIGXCPU, "SIGXCPU"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == signal)
            return known[i].name;
    return "a signal";
}

/* "It died here": of a core, the scopes that were open at the end. */
PERF_FN void look_put_death(perf_out_ *o, const look_target *t, const look_reading *r,
                            const look_names *names, int width)
{
    size_t i, first = r->threads, k;

    for (i = 0; i < r->threads && t->tasks; i++)
        if (r->thread[i].id == t->task[0].id && !r->thread[i].gone)
            first = i;
    if (t->signal)
        perf_putf_(o, "It died here (signal %.0f, %s), in ", (double)t->signal,
                   look_signal_text(t->signal));
    else
        perf_put_(o, "When the core was taken it was here, in ");
    if (first == r->threads) {
        perf_putf_(o, "thread %.0f, which has no marks\n",
                   t->tasks ? (double)t->task[0].id : 0.0);
    } else {
        look_put_thread_name(o, &r->thread[first]);
        perf_put_(o, ": ");
        if (r->thread[first].open.n)
            look_put_chain(o, names, &r->thread[first].open, 0);
        else
            perf_put_(o, "no scope was open");
        perf_put_(o, "\n");
    }
    for (k = 0; k < r->threads; k++)
        if (k != first && r->thread[k].open.n && !r->thread[k].reset) {
            perf_put_(o, "    open in ");
            look_put_thread_name(o, &r->thread[k]);
            perf_put_(o, ": ");
            look_put_chain(o, names, &r->thread[k].open, 0);
            perf_put_(o, "\n");
        }
    (void)width;
}

/* The whole report. */
PERF_FN void look_put_report(perf_out_ *o, const look_target *t, look_report *rep,
                             const look_opts *opts)
{
    const int      rows = opts->rows ? opts->rows : 50;
    const int      all = opts->rows ? opts->rows : -1;
    const uint64_t end = look_end(t, rep->now);

    if (opts->view == LOOK_JSON) {
        look_put_json(o, t, rep, end, 0, all);
        return;
    }
    if (opts->view == LOOK_CSV) {
        look_put_rows(o, rep, 0, all);
        return;
    }
    look_put_program(o, t, rep->now);
    if (!t->pid)
        look_put_death(o, t, rep->now, rep->names, opts->width);
    if (opts->view == LOOK_DIAGNOSIS) {
        look_put_diagnosis(o, rep);
        return;
    }
    look_put_spent(o, t, rep->now);
    if (opts->view == LOOK_TREE) {
        look_put_tree(o, rep, opts->width, rows);
    } else {
        look_put_table(o, rep, opts->width, rows, 0, -1);
        look_put_waits(o, rep);
        look_put_counters(o, rep, opts->width);
        if (rep->loops)
            look_put_loops(o, rep->loops);
    }
    if (t->pid)
        look_put_open(o, rep->now, rep->names, "open", end, opts->width, 20);
    look_put_losses(o, rep->now, rep->names, 0);
}

/* What one look has read. */
typedef struct looking {
    look_target  target;
    look_program program;
    look_names   names;
    look_reading reading;
    look_loops   loops;
    look_report  report;
} looking;

PERF_FN void look_end_of(looking *k)
{
    look_report_free(&k->report);
    look_loops_free(&k->loops);
    look_reading_free(&k->reading);
    look_names_free(&k->names);
    look_close(&k->target);
}

/* Opens the target and reads all of it; an exit status, 0: fine. */
PERF_FN int look_take(looking *k, const look_opts *opts)
{
    look_target *t = &k->target;
    const int    status = look_open_target(t, opts->target, 1);

    if (status)
        return status;
    if (!look_find(t, &k->program))
        return look_say("%s", t->error);
    if (!k->program.registry)
        return look_say("%s has not recorded anything yet", t->program);
    if (!look_read(t, &k->program, &k->names, &k->reading))
        return look_say("%s has ended while it was read", t->program);
    k->loops = look_read_loops(t, &k->program);
    if (!k->reading.threads && !k->loops.n)
        return look_say("%s has not recorded anything yet", t->program);
    look_since_when(t, &k->program, &k->reading);
    return 0;
}

/* Writes the files that are asked for; an exit status. */
PERF_FN int look_files(looking *k, const look_opts *opts)
{
    int status = 0;

    if (opts->trace)
        status = look_save_trace(&k->target, &k->program, &k->reading, &k->names, opts->trace);
    if (!status && opts->flame)
        status = look_save_flame(&k->report, k->target.program, opts->flame);
    return status;
}

/* perf-ab look. */
PERF_FN int look_main(int argc, char **argv)
{
    look_opts opts;
    looking   k;
    perf_out_ o;
    int64_t   thread;
    int       files, status = look_options(argc, argv, 0, &opts);

    if (status)
        return status;
    memset(&k, 0, sizeof k);
    k.target.memory = k.target.core = -1;
    status = look_take(&k, &opts);
    if (status) {
        look_end_of(&k);
        return status;
    }
    thread = look_thread_of(&k.reading, opts.thread);
    if (thread == -2)
        status = look_say("%s has no thread %ld with marks", k.target.program, opts.thread);
    k.report = look_count(&k.reading, NULL, &k.names, &k.program.layout, thread);
    k.report.loops = &k.loops;
    look_sort_rows(&k.report, opts.sort);
    if (!status)
        status = look_files(&k, &opts);
    files = opts.trace || opts.flame;
    if (!status && (!files || opts.view)) {
        memset(&o, 0, sizeof o);
        o.grows = 1;
        look_put_report(&o, &k.target, &k.report, &opts);
        if (o.len && fwrite(o.p, 1, o.len, stdout) != o.len)
            status = look_say("standard output cannot be written");
        PERF_FREE(o.p);
    }
    look_end_of(&k);
    return status;
}

#endif /* PERF_TOOLS_LOOK_H */
