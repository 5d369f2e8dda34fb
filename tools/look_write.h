/* look_write.h - a reading as a table, a tree, CSV, JSON and in a few lines, as perf_report().
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_WRITE_H
#define PERF_TOOLS_LOOK_WRITE_H

#include "look_count.h"

#include <time.h>

typedef enum look_view {
    LOOK_TABLE, LOOK_TREE, LOOK_CSV, LOOK_JSON, LOOK_DIAGNOSIS
} look_view;

typedef struct look_usage {             /* of a process that runs                                 */
    double resident, cpu_ns;            /* bytes; since its start                                 */
    int    known;
} look_usage;

/* ---- numbers ---- */

PERF_FN look_usage look_usage_of(const look_target *target)
{
    look_usage      usage;
    char            text[256];
    clockid_t       clock;
    struct timespec now;
    unsigned long   size, resident;

    memset(&usage, 0, sizeof usage);
    if (!target->pid)
        return usage;
    look_proc_text(target->pid, "statm", text, sizeof text);
    if (sscanf(text, "%lu %lu", &size, &resident) == 2)
        usage.resident = (double)resident * (double)sysconf(_SC_PAGESIZE);
    if (!clock_getcpuclockid((pid_t)target->pid, &clock) && !clock_gettime(clock, &now)) {
        usage.cpu_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
        usage.known = 1;
    }
    return usage;
}

PERF_FN const char *look_kind_text(uint32_t kind)
{
    static const char *const text[] = {"scope", "wait",   "async",   "counter",  "instant",
                                       "sync",  "device", "copy in", "copy out", "copy"};

    return kind < sizeof text / sizeof *text ? text[kind] : "unknown";
}

/* ---- table ---- */

enum { LOOK_COLUMNS = 11 };

typedef struct look_columns {
    int name, show[LOOK_COLUMNS];       /* width of the name; which of the others fit             */
} look_columns;

/* Columns in the order of the row, and the turn in which they go when there is no room. */
static const struct {
    const char *title;
    int         width, turn;            /* turn 0: stays                                          */
} look_column[LOOK_COLUMNS] = {
    {"calls", 10, 0},  {"calls/s", 10, 6}, {"total", 10, 0}, {"self", 10, 0}, {"share", 9, 0},
    {"open", 6, 7},    {"mean", 10, 3},    {"p50", 10, 2},   {"p95", 10, 4},  {"p99", 10, 1},
    {"max", 10, 5}};

/* What fits into `width` columns; 0: everything.  live: with the columns of an interval. */
PERF_FN look_columns look_fit(int width, int live)
{
    look_columns columns;
    int          turn = 0, used, i;

    memset(&columns, 0, sizeof columns);
    do {
        for (i = used = 0; i < LOOK_COLUMNS; i++) {
            columns.show[i] = !look_column[i].turn || look_column[i].turn > turn;
            if ((i == 1 || i == 5) && !live)
                columns.show[i] = 0;
            used += columns.show[i] ? look_column[i].width : 0;
        }
    } while (width && used > width - 20 && turn++ < 7);
    columns.name = width && width - used < 28 ? width - used : 28;
    if (columns.name < 12)
        columns.name = 12;
    return columns;
}

PERF_FN void look_put_head(perf_out_ *out, const look_columns *columns, const char *what)
{
    int i;

    perf_putf_(out, "%-*s", columns->name, what);
    for (i = 0; i < LOOK_COLUMNS; i++)
        if (columns->show[i])
            perf_putf_(out, "%*s", look_column[i].width, look_column[i].title);
    perf_put_(out, "\n");
}

/* seconds: of the interval; 0: since the start.  open: how many of it are open now. */
PERF_FN void look_put_row(perf_out_ *out, const look_columns *columns, const look_report *rep,
                          const look_row *row, double seconds, unsigned open)
{
    const double tick = rep->now->tick_ns, self = rep->self ? (double)rep->self : 1;
    const double x[LOOK_COLUMNS] = {
        (double)row->count, seconds > 0 ? (double)row->count / seconds : 0,
        (double)row->total * tick, (double)row->self * tick, (double)row->self / self * 100, open,
        (double)row->sum * tick / (double)row->count, row->p50 * tick, row->p95 * tick,
        row->p99 * tick, (double)row->max * tick};
    int i;

    perf_putf_(out, "%-*s", columns->name, look_name_shown(rep->names, row->name));
    for (i = 0; i < LOOK_COLUMNS; i++) {
        const int width = look_column[i].width;
        if (!columns->show[i])
            continue;
        if (i == 0)
            perf_putf_(out, "%*.0f", width, x[i]);
        else if (i == 1)
            perf_putf_(out, x[i] < 9.95 ? "%*.2f" : "%*.0f", width, x[i]);
        else if (i == 3 && !look_has_self(row->kind))
            perf_putf_(out, "%*s", width, look_kind_text(row->kind));
        else if (i == 4 && look_has_self(row->kind))
            perf_putf_(out, "%*.1f %%", width - 2, x[i]);
        else if (i == 4)
            perf_putf_(out, "%*s", width, "");
        else if (i == 5 && open)
            perf_putf_(out, "%*.0f", width, x[i]);
        else if (i == 5)
            perf_putf_(out, "%*s", width, "");
        else
            perf_put_ns_in_(out, x[i], width);
    }
    perf_put_(out, "\n");
}

/* How many scopes of a name are open now. */
PERF_FN unsigned look_open_of(const look_reading *reading, uint32_t name, int64_t thread)
{
    unsigned n = 0;
    size_t   i;
    uint32_t k;

    for (i = 0; i < reading->threads; i++)
        for (k = 0; k < reading->thread[i].open.n &&
                    (thread == LOOK_ALL_THREADS || i == (uint64_t)thread); k++)
            n += reading->thread[i].open.name[k] == name;
    return n;
}

PERF_FN void look_put_counters(perf_out_ *out, const look_report *rep, int width)
{
    int    title = 0, name = width && width < 76 ? width - 48 : 28;
    size_t i;

    for (i = 0; i < rep->rows; i++) {
        const look_row *row = &rep->row[i];
        if (!look_is_point(row->kind))
            continue;
        if (!title++)
            perf_putf_(out, "%-*s%8s%10s%10s%10s%10s\n", name, "counter", "updates", "last", "mean",
                       "min", "max");
        perf_putf_(out, "%-*s%8.0f", name, look_name_shown(rep->names, row->name),
                   (double)row->count);
        if (row->gauge.n)
            perf_putf_(out, "%10.2f%10.2f%10.2f%10.2f", row->gauge.last,
                       row->gauge.values / (double)row->gauge.n, row->gauge.least,
                       row->gauge.most);
        perf_put_(out, "\n");
    }
}

PERF_FN void look_put_waits(perf_out_ *out, const look_report *rep)
{
    static const char *const what[] = {"data", "a device", "a lock"};
    double                   wait[3] = {0, 0, 0}, self = rep->self ? (double)rep->self : 1;
    const double             tick = rep->now->tick_ns;
    size_t                   i;

    for (i = 0; i < rep->rows; i++) {
        const look_row *row = &rep->row[i];
        if (row->kind == LOOK_SYNC)
            wait[1] += (double)row->self;
        else if (row->kind == LOOK_WAIT)
            wait[look_of_lock(look_name_text(rep->names, row->name)) ? 2 : 0] += (double)row->self;
    }
    for (i = 0; i < 3; i++)
        if (wait[i] > 0)
            perf_putf_(out, "waiting for %s: %.1f %% of the time in scopes\n", what[i],
                       wait[i] / self * 100);
    if (rep->wait) {
        perf_put_number_(out, "data wait: ", (double)rep->wait / ((double)rep->all + 1e-9) * 100,
                         1);
        perf_put_(out, " % of the main thread (");
        perf_put_ns_(out, (double)rep->wait * tick);
        perf_put_(out, " of ");
        perf_put_ns_(out, (double)rep->all * tick);
        perf_put_(out, " in scopes, ");
        perf_put_ns_(out, (double)rep->most * tick);
        perf_putf_(out, " of it in %.40s)\n", look_name_shown(rep->names, rep->where));
    }
}

PERF_FN void look_put_table(perf_out_ *out, const look_report *rep, int width, int rows,
                            double seconds, int64_t thread)
{
    const look_columns columns = look_fit(width, seconds > 0);
    size_t             i;
    int                shown = 0, left = 0;

    look_put_head(out, &columns, "scope");
    for (i = 0; i < rep->rows; i++) {
        if (look_is_point(rep->row[i].kind))
            continue;
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        look_put_row(out, &columns, rep, &rep->row[i], seconds,
                     look_open_of(rep->now, rep->row[i].name, thread));
        shown++;
    }
    if (left)
        perf_putf_(out, "... and %.0f more\n", (double)left);
}

/* ---- tree ---- */

PERF_FN void look_put_tree(perf_out_ *out, const look_report *rep, int width, int rows)
{
    const double tick = rep->now->tick_ns;
    const double all = rep->nodes ? (double)rep->node[0].total + 1e-9 : 1;
    const int    narrow = width && width < 90;
    const int    room = width ? width - (narrow ? 42 : 55) : 40 + 2 * LOOK_TREE_DEPTH;
    uint32_t     i;
    int          shown = 0, indent;

    if (!rep->calls)
        return;
    perf_putf_(out, "of total%s      total       self     calls  scope\n",
               narrow ? "" : "   of parent");
    for (i = look_tree_next(rep, 0); i; i = look_tree_next(rep, i)) {
        const look_node *node = &rep->node[i];
        const double     total = (double)node->total;
        if (rows >= 0 && shown++ >= rows)
            break;
        indent = (int)(2 * node->depth - 2);
        if (indent > room - 12)
            indent = room - 12;
        perf_putf_(out, "%6.1f %%", total / all * 100);
        if (!narrow)
            perf_putf_(out, "%10.1f %%",
                       total / ((double)rep->node[node->parent].total + 1e-9) * 100);
        perf_put_ns_in_(out, total * tick, 11);
        perf_put_ns_in_(out, (double)node->self * tick, 11);
        perf_putf_(out, "%10.0f  %-*s", (double)node->calls, indent, "");
        (void)perf_put_cut_(out, look_name_shown(rep->names, node->name),
                            width ? (size_t)(room - indent) : 40);
        perf_put_(out, "\n");
    }
}

/* ---- what is open ---- */

/* "load > parse" in at most `width` columns, from the innermost back. */
PERF_FN void look_put_chain(perf_out_ *out, const look_names *names, const look_open *open,
                            size_t width)
{
    size_t   used = 0, n;
    uint32_t first = open->n, i;

    while (first > 0) {
        n = strlen(look_name_shown(names, open->name[first - 1])) + 3;
        if (width && used + n > width && first < open->n)
            break;
        used += n;
        first--;
    }
    if (first)
        perf_put_(out, "... > ");
    for (i = first; i < open->n; i++) {
        if (i > first)
            perf_put_(out, " > ");
        (void)perf_put_cut_(out, look_name_shown(names, open->name[i]), width ? width : 255);
    }
}

PERF_FN void look_put_thread_name(perf_out_ *out, const look_thread *thread)
{
    if (thread->foreign)
        perf_putf_(out, "track %.31s", thread->name);
    else
        perf_putf_(out, "thread %.0f%s%.31s", (double)thread->id, *thread->name ? " " : "",
                   thread->name);
}

/* Since when it has been open, in ns; < 0: not known. */
PERF_FN double look_open_ns(const look_reading *reading, const look_open *open, uint64_t until)
{
    const uint64_t since = open->n ? open->since[open->n - 1] : 0;

    return since && until >= since ? (double)(until - since) * reading->tick_ns : -1;
}

/* A line for each thread with an open scope, at most `rows`.  until: ticks, 0: not known. */
PERF_FN void look_put_open(perf_out_ *out, const look_reading *reading, const look_names *names,
                           const char *lead, uint64_t until, int width, int rows)
{
    size_t i, left = 0;
    int    shown = 0;

    for (i = 0; i < reading->threads; i++) {
        const look_thread *thread = &reading->thread[i];
        const double       ns = look_open_ns(reading, &thread->open, until);
        if (!thread->open.n || thread->reset)
            continue;
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        shown++;
        perf_put_(out, lead);
        if (ns >= 0) {
            perf_put_(out, " for ");
            perf_put_ns_(out, ns);
        }
        perf_put_(out, " in ");
        look_put_thread_name(out, thread);
        perf_put_(out, thread->gone ? " (ended): " : ": ");
        look_put_chain(out, names, &thread->open, width > 60 ? (size_t)width - 50 : width ? 30 : 0);
        perf_put_(out, "\n");
    }
    for (i = 0; i < reading->fibers; i++) {
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        shown++;
        perf_put_(out, "waits in a coroutine of ");
        look_put_thread_name(out, &reading->thread[reading->fiber[i].thread]);
        perf_put_(out, ": ");
        look_put_chain(out, names, &reading->fiber[i].open, width > 60 ? (size_t)width - 50 : 0);
        perf_put_(out, "\n");
    }
    if (left)
        perf_putf_(out, "... and %.0f more that are open\n", (double)left);
}

/* ---- what is missing ---- */

enum { LOOK_LOST_CUT = LOOK_LOSS_KINDS, LOOK_LOST_EVENTS, LOOK_LOST_ALL };

PERF_FN void look_losses(const look_reading *reading, uint64_t *n)
{
    const uint64_t size = 16 * reading->ring_events;
    size_t         i, k;

    memset(n, 0, LOOK_LOST_ALL * sizeof *n);
    n[5] = reading->lost;
    n[LOOK_LOST_CUT] = reading->cut;
    n[LOOK_LOST_EVENTS] = reading->retired_lost;
    for (i = 0; i < reading->threads; i++) {
        const look_thread *thread = &reading->thread[i];
        uint64_t           from =
            thread->ring_lost > thread->ring_sent ? thread->ring_lost : thread->ring_sent;
        if (thread->reset)
            continue;
        for (k = 0; k < LOOK_LOSS_KINDS; k++)
            n[k] += thread->losses[k];
        if (thread->ring_head > from && thread->ring_head - from > size)
            n[LOOK_LOST_EVENTS] += (thread->ring_head - from - size) / 16;
    }
}

PERF_FN void look_put_losses(perf_out_ *out, const look_reading *reading, const look_names *names,
                             int json)
{
    static const char *const note[LOOK_LOST_ALL][2] = {
        {"never_ended", "marks were never ended (longjmp?): the scopes around them have the time"},
        {"ended_late", "marks ended after the scope around them"},
        {"ended_elsewhere", "marks were ended by another thread: in no total"},
        {"begun_before_fork", "marks were begun before a fork and not counted in the child"},
        {"misused", "ends without a begin or NaN counts were ignored"},
        {"uncounted", "marks were not counted: no memory, or too many names"},
        {"lost_to_clock", "marks ended at an earlier time than they began: the clock was set back"},
        {"cut_names", "names were cut to 255 bytes"},
        {"overwritten_events",
         "older trace events were overwritten: PERF_TRACE_EVENTS is the room"}};
    uint64_t n[LOOK_LOST_ALL];
    size_t   i;

    look_losses(reading, n);
    for (i = 0; i < LOOK_LOST_ALL; i++)
        if (json)
            perf_putf_(out, ",\"%s\":%.0f", note[i][0], (double)n[i]);
        else if (n[i])
            perf_putf_(out, "note: %.0f %s\n", (double)n[i], note[i][1]);
    for (i = 0; i < reading->threads && !json; i++)
        if (reading->thread[i].away && !reading->thread[i].reset) {
            perf_putf_(out, "note: a call of %.40s was without a processor for ",
                       look_name_shown(names, reading->thread[i].away_in));
            perf_put_ns_(out, (double)reading->thread[i].away);
            perf_put_(out, "\n");
        }
    if (json)
        perf_putf_(out, ",\"torn\":%.0f,\"cut_off\":%s", (double)reading->torn,
                   reading->cut_off ? "true" : "false");
    if (!json && reading->torn)
        perf_putf_(out, "note: %.0f of %.0f cells changed whenever they were read: each may be off "
                        "by the calls of that moment\n",
                   (double)reading->torn, (double)reading->cells);
    if (!json && reading->cut_off)
        perf_put_(out, "note: there is more than this tool reads: the rest is left out\n");
    if (!json && reading->off)
        perf_put_(out, "note: recording is switched off: perf_enable(0)\n");
}

/* ---- CSV and JSON ---- */

enum { LOOK_NUMBERS = 9 };

PERF_FN void look_row_numbers(const look_row *row, double tick, double *x)
{
    memset(x, 0, LOOK_NUMBERS * sizeof *x);
    if (row->gauge.n) {
        x[2] = row->gauge.values / (double)row->gauge.n;
        x[3] = row->gauge.least;
        x[7] = row->gauge.most;
        x[8] = row->gauge.last;
        return;
    }
    x[0] = (double)row->total * tick;
    x[1] = (double)row->self * tick;
    x[2] = (double)row->sum * tick / (double)row->count;
    x[3] = (double)row->min * tick;
    x[4] = row->p50 * tick;
    x[5] = row->p95 * tick;
    x[6] = row->p99 * tick;
    x[7] = (double)row->max * tick;
}

PERF_FN void look_put_rows(perf_out_ *out, const look_report *rep, int json, int rows)
{
    static const char *const column[LOOK_NUMBERS] = {"total_ns", "self_ns", "mean_ns",
                                                     "min_ns",   "p50_ns",  "p95_ns",
                                                     "p99_ns",   "max_ns",  "last"};
    double x[LOOK_NUMBERS];
    size_t i, k;

    if (!json) {
        perf_put_(out, "name,kind,calls");
        for (k = 0; k < LOOK_NUMBERS; k++)
            perf_putf_(out, ",%s", column[k]);
        perf_put_(out, "\n");
    }
    for (i = 0; i < rep->rows && (rows < 0 || i < (size_t)rows); i++) {
        const look_row *row = &rep->row[i];
        const char     *name = look_name_text(rep->names, row->name);
        look_row_numbers(row, rep->now->tick_ns, x);
        if (json) {
            perf_put_(out, i ? ",\n{\"name\":" : "\n{\"name\":");
            perf_put_json_(out, name);
            perf_putf_(out, ",\"kind\":\"%s\",\"calls\":", look_kind_text(row->kind));
        } else {
            perf_put_csv_(out, name);
            perf_putf_(out, ",%s,", look_kind_text(row->kind));
        }
        perf_put_u64_(out, row->count);
        for (k = 0; k < LOOK_NUMBERS; k++) {
            perf_put_(out, ",");
            if (json)
                perf_putf_(out, "\"%s\":", column[k]);
            if (perf_is_finite_(x[k]))
                perf_put_fixed_(out, x[k], 3);
            else
                perf_put_(out, json ? "null" : "");
        }
        perf_put_(out, json ? "}" : "\n");
    }
}

PERF_FN void look_put_threads_json(perf_out_ *out, const look_reading *reading,
                                   const look_names *names, uint64_t until)
{
    size_t   i;
    uint32_t k;

    for (i = 0; i < reading->threads; i++) {
        const look_thread *thread = &reading->thread[i];
        const double       ns = look_open_ns(reading, &thread->open, until);
        perf_putf_(out, "%s\n{\"id\":%.0f,\"name\":", i ? "," : "", (double)thread->id);
        perf_put_json_(out, thread->name);
        perf_putf_(out, ",\"ended\":%s,\"track\":%s,\"open\":[", thread->gone ? "true" : "false",
                   thread->foreign ? "true" : "false");
        for (k = 0; k < thread->open.n; k++) {
            perf_put_(out, k ? "," : "");
            perf_put_json_(out, look_name_text(names, thread->open.name[k]));
        }
        perf_put_(out, "],\"open_ns\":");
        if (ns >= 0)
            perf_put_fixed_(out, ns, 0);
        else
            perf_put_(out, "null");
        perf_put_(out, "}");
    }
}

/* One object.  seconds: of the interval, 0: since the start. */
PERF_FN void look_put_json(perf_out_ *out, const look_target *target, const look_report *rep,
                           uint64_t until, double seconds, int rows)
{
    const look_reading *reading = rep->now;
    const look_usage    usage = look_usage_of(target);
    uint64_t            open = 0;
    size_t              i;

    for (i = 0; i < reading->threads; i++)
        open += reading->thread[i].open.n ? reading->thread[i].open.calls : 0;
    perf_put_(out, "{\"program\":");
    perf_put_json_(out, target->program);
    perf_putf_(out, ",\"pid\":%.0f,\"signal\":%.0f,\"interval_s\":%.6f,\n",
               (double)(target->pid ? (uint64_t)target->pid : reading->process),
               (double)target->signal, seconds);
    perf_put_(out, "\"clock\":{\"tick_ns\":");
    perf_put_fixed_(out, reading->tick_ns, 12);
    perf_putf_(out, ",\"error_ppm\":%.3f,\"warnings\":%.0f},\n",
               perf_is_finite_(reading->error_ppm) ? reading->error_ppm : 0,
               (double)reading->warnings);
    perf_putf_(out, "\"open\":%.0f,\"data_wait_ns\":%.0f,\"main_thread_ns\":%.0f,\"cpu_ns\":%.0f,"
                    "\"resident_bytes\":%.0f", (double)open, (double)rep->wait * reading->tick_ns,
               (double)rep->all * reading->tick_ns, usage.cpu_ns, usage.resident);
    look_put_losses(out, reading, rep->names, 1);
    perf_put_(out, ",\n\"threads\":[");
    look_put_threads_json(out, reading, rep->names, until);
    perf_put_(out, "],\n\"scopes\":[");
    look_put_rows(out, rep, 1, rows);
    perf_put_(out, "\n]");
    if (rep->loops)
        look_put_loops_json(out, rep->loops);
    perf_put_(out, "}\n");
}

/* ---- a few lines ---- */

PERF_FN void look_put_diagnosis(perf_out_ *out, const look_report *rep)
{
    const double     tick = rep->now->tick_ns, all = rep->nodes ? (double)rep->node[0].total : 0;
    const look_node *most = NULL;
    look_open        path;
    uint32_t         i, unit = 0, at;
    double           share;

    for (i = 1; i < rep->nodes; i++) {
        if (!most || rep->node[i].self > most->self)
            most = &rep->node[i];
        if (rep->node[i].calls > 1 && !unit)
            unit = i;
    }
    for (i = look_tree_next(rep, 0); i; i = look_tree_next(rep, i))
        if (rep->node[i].calls > 1) {           /* the first in the walk: outermost and largest   */
            unit = i;
            break;
        }
    if (!most || !all) {
        perf_put_(out, "diagnosis: nothing has been recorded yet\n");
        return;
    }
    if (unit) {
        perf_putf_(out, "what repeats: %.80s, %.0f times, ",
                   look_name_shown(rep->names, rep->node[unit].name),
                   (double)rep->node[unit].calls);
        perf_put_ns_(out, (double)rep->node[unit].total * tick / (double)rep->node[unit].calls);
        perf_put_(out, " each\n");
    }
    look_put_waits(out, rep);
    if (!rep->wait && !rep->sync)
        perf_put_(out, "waits: none was marked (PERF_WAIT)\n");
    memset(&path, 0, sizeof path);
    for (at = (uint32_t)(most - rep->node); at; at = rep->node[at].parent)
        path.n++;
    for (i = path.n, at = (uint32_t)(most - rep->node); at; at = rep->node[at].parent)
        path.name[--i] = rep->node[at].name;
    share = (double)most->self / all;
    perf_put_number_(out, "most time: ", share * 100, 1);
    perf_put_(out, " % (");
    perf_put_ns_(out, (double)most->self * tick);
    perf_put_(out, ") in ");
    look_put_chain(out, rep->names, &path, 0);
    if (share > 0.99)
        share = 0.99;
    perf_putf_(out, "\nwithout it: %.2f times as fast at best\n", 1 / (1 - share));
    perf_put_(out, "the program itself says more: PERF_REPORT=diagnosis, where perf_diagnosis.h is "
                   "in it\n");
}

#endif /* PERF_TOOLS_LOOK_WRITE_H */
