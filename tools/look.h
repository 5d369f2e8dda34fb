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
#include "say.h"

#include <signal.h>

typedef struct look_opts {
    const char *target;
    look_view   view;
    int         viewed;                 /* 1: --view was given, beside a file, too                */
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
PERF_FN int look_flag(const char *name, look_opts *opts)
{
    if (!strcmp(name, "--once"))
        opts->once = 1;
    else if (!strcmp(name, "--json"))
        opts->json = 1;
    else if (!strcmp(name, "--tree"))
        opts->tree = 1;
    else
        return 0;
    return 1;
}

/* The options of top and look; an exit status, 0: fine. */
PERF_FN int look_options(int argc, char **argv, int top, look_opts *opts)
{
    int    i, k;
    double x;

    memset(opts, 0, sizeof *opts);
    opts->rows = 0;
    opts->interval = 1;
    for (i = 2; i < argc; i++) {
        const char *name = argv[i], *value;
        if (top && look_flag(name, opts))
            continue;
        if (name[0] != '-' || !name[1]) {
            if (opts->target)
                return look_say("one program at a time: '%.60s' and '%.60s'", opts->target, name);
            opts->target = name;
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
            opts->sort = (look_sort)k;
        } else if (!top && !strcmp(name, "--view")) {
            k = look_view_of(value);
            if (k < 0)
                return look_say("table, tree, csv, json and diagnosis are views, not '%.60s'",
                                value);
            opts->view = (look_view)k;
            opts->viewed = 1;
        } else if (!top && !strcmp(name, "--trace")) {
            opts->trace = value;
        } else if (!top && !strcmp(name, "--flame")) {
            opts->flame = value;
        } else if (!strcmp(name, "--rows")) {
            if (!look_number(value, -1, 1e6, &x))
                return look_say("--rows takes a number, not '%.60s'", value);
            opts->rows = (int)x;
        } else if (!strcmp(name, "--width")) {
            if (!look_number(value, 60, 1000, &x))
                return look_say("--width takes 60 to 1000 columns, not '%.60s'", value);
            opts->width = (int)x;
        } else if (!strcmp(name, "--thread")) {
            if (!look_number(value, 1, 1e15, &x))
                return look_say("--thread takes the number of a thread, not '%.60s'", value);
            opts->thread = (long)x;
        } else if (top && !strcmp(name, "--interval")) {
            if (!look_number(value, 0.001, 1e5, &x))
                return look_say("--interval takes 0.001 to 100000 seconds, not '%.60s'", value);
            opts->interval = x;
        } else if (top && !strcmp(name, "--count")) {
            if (!look_number(value, 1, 1e9, &x))
                return look_say("--count takes a number from 1 on, not '%.60s'", value);
            opts->count = (long)x;
        } else {
            return look_say("no such option: '%.60s' (perf-ab --help)", name);
        }
    }
    if (opts->target)
        return 0;
    return look_say("which program? its number, its name%s", top ? "" : ", or a core file");
}

/* Opens a process or a core; an exit status, 0: fine. */
PERF_FN int look_open_target(look_target *target, const char *name, int cores)
{
    struct stat info;
    char        why[300];
    const int   number = name[strspn(name, "0123456789")] == '\0', path = strchr(name, '/') != NULL;
    int         pid = path ? 0 : look_find_process(name, why, sizeof why);

    if (!pid && !number && cores && (path || !stat(name, &info)))
        return look_open_core(target, name) ? 0 : look_say("%s", target->error);
    memset(target, 0, sizeof *target);
    target->memory = target->core = -1;
    if (path)
        return look_say("the number or the name of a process is needed, not '%.60s'", name);
    if (!pid)
        return look_say("%s", why);
    return look_attach(target, pid) ? 0 : look_say("%s", target->error);
}

/* The place of the thread with that id, 0 for all; or LOOK_NO_THREAD. */
PERF_FN int64_t look_thread_of(const look_reading *reading, long id)
{
    size_t i;

    for (i = 0; id && i < reading->threads; i++)
        if (reading->thread[i].id == (uint64_t)id)
            return (int64_t)i;
    return id ? LOOK_NO_THREAD : LOOK_ALL_THREADS;
}

/* ---- what is above the table ---- */

PERF_FN void look_put_program(perf_out_ *out, const look_target *target,
                              const look_reading *reading)
{
    const look_usage usage = look_usage_of(target);
    size_t           i, alive = 0;

    for (i = 0; i < reading->threads; i++)
        alive += !reading->thread[i].gone && !reading->thread[i].foreign;
    perf_putf_(out, "%.60s, ", target->program);
    if (target->pid)
        perf_putf_(out, "process %.0f", (double)target->pid);
    else
        perf_putf_(out, "core file of process %.0f", (double)reading->process);
    perf_putf_(out, ": %.0f thread%s with marks", (double)alive, alive == 1 ? "" : "s");
    if (usage.resident > 0) {
        perf_put_(out, ", memory ");
        perf_put_bytes_(out, usage.resident);
    }
    perf_put_(out, "\n");
}

PERF_FN void look_put_spent(perf_out_ *out, const look_target *target, const look_reading *reading)
{
    const look_usage usage = look_usage_of(target);
    const double     wall = (double)reading->ns - (double)reading->spent_ns;
    const double     cpu = usage.cpu_ns - (double)reading->spent_cpu;

    if (!reading->clock) {
        perf_putf_(out, "clock: %.3f MHz within %.2f ppm", 1e3 / reading->tick_ns,
                   perf_is_finite_(reading->error_ppm) ? reading->error_ppm : 0.0);
        perf_put_(out, reading->tick_is_ours
                           ? ", as on this machine: the program had not measured it\n"
                           : "\n");
    }
    if (usage.known && wall > 0 && reading->spent_ns && cpu >= 0) {
        perf_put_number_(out, "processor time: ", cpu / wall * 100, 0);
        perf_put_(out, " % of one processor (");
        perf_put_ns_(out, cpu);
        perf_put_(out, " in ");
        perf_put_ns_(out, wall);
        perf_put_(out, ")\n");
    }
}

/* The last moment that anything in the reading knows of, in ticks. */
PERF_FN uint64_t look_end(const look_target *target, const look_reading *reading)
{
    uint64_t end = 0;
    size_t   i;
    uint32_t n;

    if (target->pid)
        return reading->ticks;
    for (i = 0; i < reading->threads; i++)
        for (n = 0; n < reading->thread[i].open.n; n++)
            end = reading->thread[i].open.since[n] > end ? reading->thread[i].open.since[n] : end;
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
PERF_FN void look_put_death(perf_out_ *out, const look_target *target, const look_reading *reading,
                            const look_names *names, int width)
{
    size_t i, first = reading->threads, k;

    for (i = 0; i < reading->threads && target->tasks; i++)
        if (reading->thread[i].id == target->task[0].id && !reading->thread[i].gone)
            first = i;
    if (target->signal)
        perf_putf_(out, "It died here (signal %.0f, %s), in ", (double)target->signal,
                   look_signal_text(target->signal));
    else
        perf_put_(out, "When the core was taken it was here, in ");
    if (first == reading->threads) {
        perf_putf_(out, "thread %.0f, which has no marks\n",
                   target->tasks ? (double)target->task[0].id : 0.0);
    } else {
        look_put_thread_name(out, &reading->thread[first]);
        perf_put_(out, ": ");
        if (reading->thread[first].open.n)
            look_put_chain(out, names, &reading->thread[first].open, 0);
        else
            perf_put_(out, "no scope was open");
        perf_put_(out, "\n");
    }
    for (k = 0; k < reading->threads; k++)
        if (k != first && reading->thread[k].open.n && !reading->thread[k].reset) {
            perf_put_(out, "    open in ");
            look_put_thread_name(out, &reading->thread[k]);
            perf_put_(out, ": ");
            look_put_chain(out, names, &reading->thread[k].open, 0);
            perf_put_(out, "\n");
        }
    (void)width;
}

/* The whole report. */
PERF_FN void look_put_report(perf_out_ *out, const look_target *target, look_report *rep,
                             const look_opts *opts)
{
    const int      rows = opts->rows ? opts->rows : 50;
    const int      all = opts->rows ? opts->rows : -1;
    const uint64_t end = look_end(target, rep->now);

    if (opts->view == LOOK_JSON) {
        look_put_json(out, target, rep, end, 0, all);
        return;
    }
    if (opts->view == LOOK_CSV) {
        look_put_rows(out, rep, 0, all);
        return;
    }
    look_put_program(out, target, rep->now);
    if (!target->pid)
        look_put_death(out, target, rep->now, rep->names, opts->width);
    if (opts->view == LOOK_DIAGNOSIS) {
        look_put_diagnosis(out, rep);
        return;
    }
    look_put_spent(out, target, rep->now);
    if (opts->view == LOOK_TREE) {
        look_put_tree(out, rep, opts->width, rows);
    } else {
        look_put_table(out, rep, opts->width, rows, 0, -1);
        look_put_waits(out, rep);
        look_put_counters(out, rep, opts->width);
        if (rep->loops)
            look_put_loops(out, rep->loops);
    }
    if (target->pid)
        look_put_open(out, rep->now, rep->names, "open", end, opts->width, 20);
    look_put_losses(out, rep->now, rep->names, 0);
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

PERF_FN void look_end_of(looking *look)
{
    look_report_free(&look->report);
    look_loops_free(&look->loops);
    look_reading_free(&look->reading);
    look_names_free(&look->names);
    look_close(&look->target);
}

/* Opens the target and reads all of it; an exit status, 0: fine. */
PERF_FN int look_take(looking *look, const look_opts *opts)
{
    look_target *target = &look->target;
    const int    status = look_open_target(target, opts->target, 1);

    if (status)
        return status;
    if (!look_find(target, &look->program))
        return look_say("%s", target->error);
    if (!look->program.registry)
        return look_say("%s has not recorded anything yet", target->program);
    if (!look_read(target, &look->program, &look->names, &look->reading))
        return look_say("%s has ended while it was read", target->program);
    look->loops = look_read_loops(target, &look->program);
    if (!look->reading.threads && !look->loops.n)
        return look_say("%s has not recorded anything yet", target->program);
    look_since_when(target, &look->program, &look->reading);
    return 0;
}

/* Writes the files that are asked for; an exit status. */
PERF_FN int look_files(looking *look, const look_opts *opts)
{
    int status = 0;

    if (opts->trace)
        status = look_save_trace(&look->target, &look->program, &look->reading, &look->names,
                                 opts->trace);
    if (!status && opts->flame)
        status = look_save_flame(&look->report, look->target.program, opts->flame);
    return status;
}

/* Refuses files that would replace the core or each other; an exit status, 0: fine. */
PERF_FN int look_would_replace(const look_opts *opts)
{
    const char *const to[] = {opts->trace, opts->flame};

    return would_replace(to, 2, &opts->target, opts->target ? 1 : 0);
}

/* perf-ab look. */
PERF_FN int look_main(int argc, char **argv)
{
    look_opts opts;
    looking   look;
    perf_out_ out;
    int64_t   thread;
    int       files, status = look_options(argc, argv, 0, &opts);

    if (!status)
        status = look_would_replace(&opts);
    if (status)
        return status;
    memset(&look, 0, sizeof look);
    look.target.memory = look.target.core = -1;
    status = look_take(&look, &opts);
    if (status) {
        look_end_of(&look);
        return status;
    }
    thread = look_thread_of(&look.reading, opts.thread);
    if (thread == LOOK_NO_THREAD)
        status = look_say("%s has no thread %ld with marks", look.target.program, opts.thread);
    look.report = look_count(&look.reading, NULL, &look.names, &look.program.layout, thread);
    look.report.loops = &look.loops;
    look_sort_rows(&look.report, opts.sort);
    if (!status)
        status = look_files(&look, &opts);
    files = opts.trace || opts.flame;
    if (!status && (!files || opts.viewed)) {
        memset(&out, 0, sizeof out);
        out.grows = 1;
        look_put_report(&out, &look.target, &look.report, &opts);
        if (out.len)
            (void)fwrite(out.p, 1, out.len, stdout);
        status = written();
        PERF_FREE(out.p);
    }
    look_end_of(&look);
    return status;
}

#endif /* PERF_TOOLS_LOOK_H */
