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

PERF_FN look_usage look_usage_of(const look_target *t)
{
    look_usage      u;
    char            text[256];
    clockid_t       clock;
    struct timespec now;
    unsigned long   size, resident;

    memset(&u, 0, sizeof u);
    if (!t->pid)
        return u;
    look_proc_text(t->pid, "statm", text, sizeof text);
    if (sscanf(text, "%lu %lu", &size, &resident) == 2)
        u.resident = (double)resident * (double)sysconf(_SC_PAGESIZE);
    if (!clock_getcpuclockid((pid_t)t->pid, &clock) && !clock_gettime(clock, &now)) {
        u.cpu_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
        u.known = 1;
    }
    return u;
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
    look_columns c;
    int          turn = 0, used, i;

    memset(&c, 0, sizeof c);
    do {
        for (i = used = 0; i < LOOK_COLUMNS; i++) {
            c.show[i] = !look_column[i].turn || look_column[i].turn > turn;
            if ((i == 1 || i == 5) && !live)
                c.show[i] = 0;
            used += c.show[i] ? look_column[i].width : 0;
        }
    } while (width && used > width - 20 && turn++ < 7);
    c.name = width && width - used < 28 ? width - used : 28;
    if (c.name < 12)
        c.name = 12;
    return c;
}

PERF_FN void look_put_head(perf_out_ *o, const look_columns *c, const char *what)
{
    int i;

    perf_putf_(o, "%-*s", c->name, what);
    for (i = 0; i < LOOK_COLUMNS; i++)
        if (c->show[i])
            perf_putf_(o, "%*s", look_column[i].width, look_column[i].title);
    perf_put_(o, "\n");
}

/* seconds: of the interval; 0: since the start.  open: how many of it are open now. */
PERF_FN void look_put_row(perf_out_ *o, const look_columns *c, const look_report *rep,
                          const look_row *row, double seconds, unsigned open)
{
    const double tick = rep->now->tick_ns, self = rep->self ? (double)rep->self : 1;
    const double x[LOOK_COLUMNS] = {
        (double)row->count, seconds > 0 ? (double)row->count / seconds : 0,
        (double)row->total * tick, (double)row->self * tick, (double)row->self / self * 100, open,
        (double)row->sum * tick / (double)row->count, row->p50 * tick, row->p95 * tick,
        row->p99 * tick, (double)row->max * tick};
    int i;

    perf_putf_(o, "%-*s", c->name, look_name_shown(rep->names, row->name));
    for (i = 0; i < LOOK_COLUMNS; i++) {
        const int width = look_column[i].width;
        if (!c->show[i])
            continue;
        if (i == 0)
            perf_putf_(o, "%*.0f", width, x[i]);
        else if (i == 1)
            perf_putf_(o, x[i] < 9.95 ? "%*.2f" : "%*.0f", width, x[i]);
        else if (i == 3 && !look_has_self(row->kind))
            perf_putf_(o, "%*s", width, look_kind_text(row->kind));
        else if (i == 4 && look_has_self(row->kind))
            perf_putf_(o, "%*.1f %%", width - 2, x[i]);
        else if (i == 4)
            perf_putf_(o, "%*s", width, "");
        else if (i == 5 && open)
            perf_putf_(o, "%*.0f", width, x[i]);
        else if (i == 5)
            perf_putf_(o, "%*s", width, "");
        else
            perf_put_ns_in_(o, x[i], width);
    }
    perf_put_(o, "\n");
}

/* How many scopes of a name are open now. */
PERF_FN unsigned look_open_of(const look_reading *r, uint32_t name, int64_t thread)
{
    unsigned n = 0;
    size_t   i;
    uint32_t k;

    for (i = 0; i < r->threads; i++)
        for (k = 0; k < r->thread[i].open.n && (thread < 0 || i == (uint64_t)thread); k++)
            n += r->thread[i].open.name[k] == name;
    return n;
}

PERF_FN void look_put_counters(perf_out_ *o, const look_report *rep, int width)
{
    int    title = 0, name = width && width < 76 ? width - 48 : 28;
    size_t i;

    for (i = 0; i < rep->rows; i++) {
        const look_row *row = &rep->row[i];
        if (!look_is_point(row->kind))
            continue;
        if (!title++)
            perf_putf_(o, "%-*s%8s%10s%10s%10s%10s\n", name, "counter", "updates", "last", "mean",
                       "min", "max");
        perf_putf_(o, "%-*s%8.0f", name, look_name_shown(rep->names, row->name),
                   (double)row->count);
        if (row->gauge.n)
            perf_putf_(o, "%10.2f%10.2f%10.2f%10.2f", row->gauge.last,
                       row->gauge.values / (double)row->gauge.n, row->gauge.least,
                       row->gauge.most);
        perf_put_(o, "\n");
    }
}

PERF_FN void look_put_waits(perf_out_ *o, const look_report *rep)
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
            perf_putf_(o, "waiting for %s: %.1f %% of the time in scopes\n", what[i],
                       wait[i] / self * 100);
    if (rep->wait) {
        perf_put_number_(o, "data wait: ", (double)rep->wait / ((double)rep->all + 1e-9) * 100, 1);
        perf_put_(o, " % of the main thread (");
        perf_put_ns_(o, (double)rep->wait * tick);
        perf_put_(o, " of ");
        perf_put_ns_(o, (double)rep->all * tick);
        perf_put_(o, " in scopes, ");
        perf_put_ns_(o, (double)rep->most * tick);
        perf_putf_(o, " of it in %.40s)\n", look_name_shown(rep->names, rep->where));
    }
}

PERF_FN void look_put_table(perf_out_ *o, const look_report *rep, int width, int rows,
                            double seconds, int64_t thread)
{
    const look_columns c = look_fit(width, seconds > 0);
    size_t             i;
    int                shown = 0, left = 0;

    look_put_head(o, &c, "scope");
    for (i = 0; i < rep->rows; i++) {
        if (look_is_point(rep->row[i].kind))
            continue;
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        look_put_row(o, &c, rep, &rep->row[i], seconds,
                     look_open_of(rep->now, rep->row[i].name, thread));
        shown++;
    }
    if (left)
        perf_putf_(o, "... and %.0f more\n", (double)left);
}

/* ---- tree ---- */

PERF_FN void look_put_tree(perf_out_ *o, const look_report *rep, int width, int rows)
{
    const double tick = rep->now->tick_ns;
    const double all = rep->nodes ? (double)rep->node[0].total + 1e-9 : 1;
    const int    narrow = width && width < 90;
    const int    room = width ? width - (narrow ? 42 : 55) : 40 + 2 * LOOK_TREE_DEPTH;
    uint32_t     i;
    int          shown = 0, indent;

    if (!rep->calls)
        return;
    perf_putf_(o, "of total%s      total       self     calls  scope\n",
               narrow ? "" : "   of parent");
    for (i = look_tree_next(rep, 0); i; i = look_tree_next(rep, i)) {
        const look_node *n = &rep->node[i];
        const double     total = (double)n->total;
        if (rows >= 0 && shown++ >= rows)
            break;
        indent = (int)(2 * n->depth - 2);
        if (indent > room - 12)
            indent = room - 12;
        perf_putf_(o, "%6.1f %%", total / all * 100);
        if (!narrow)
            perf_putf_(o, "%10.1f %%",
                       total / ((double)rep->node[n->parent].total + 1e-9) * 100);
        perf_put_ns_in_(o, total * tick, 11);
        perf_put_ns_in_(o, (double)n->self * tick, 11);
        perf_putf_(o, "%10.0f  %-*s", (double)n->calls, indent, "");
        (void)perf_put_cut_(o, look_name_shown(rep->names, n->name),
                            width ? (size_t)(room - indent) : 40);
        perf_put_(o, "\n");
    }
}

/* ---- what is open ---- */

/* "load > parse" in at most `width` columns, from the innermost back. */
PERF_FN void look_put_chain(perf_out_ *o, const look_names *names, const look_open *open,
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
        perf_put_(o, "... > ");
    for (i = first; i < open->n; i++) {
        if (i > first)
            perf_put_(o, " > ");
        (void)perf_put_cut_(o, look_name_shown(names, open->name[i]), width ? width : 255);
    }
}

PERF_FN void look_put_thread_name(perf_out_ *o, const look_thread *k)
{
    if (k->foreign)
        perf_putf_(o, "track %.31s", k->name);
    else
        perf_putf_(o, "thread %.0f%s%.31s", (double)k->id, *k->name ? " " : "", k->name);
}

/* Since when it has been open, in ns; < 0: not known. */
PERF_FN double look_open_ns(const look_reading *r, const look_open *open, uint64_t until)
{
    const uint64_t since = open->n ? open->since[open->n - 1] : 0;

    return since && until >= since ? (double)(until - since) * r->tick_ns : -1;
}

/* A line for each thread with an open scope, at most `rows`.  until: ticks, 0: not known. */
PERF_FN void look_put_open(perf_out_ *o, const look_reading *r, const look_names *names,
                           const char *lead, uint64_t until, int width, int rows)
{
    size_t i, left = 0;
    int    shown = 0;

    for (i = 0; i < r->threads; i++) {
        const look_thread *k = &r->thread[i];
        const double       ns = look_open_ns(r, &k->open, until);
        if (!k->open.n || k->reset)
            continue;
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        shown++;
        perf_put_(o, lead);
        if (ns >= 0) {
            perf_put_(o, " for ");
            perf_put_ns_(o, ns);
        }
        perf_put_(o, " in ");
        look_put_thread_name(o, k);
        perf_put_(o, k->gone ? " (ended): " : ": ");
        look_put_chain(o, names, &k->open, width > 60 ? (size_t)width - 50 : width ? 30 : 0);
        perf_put_(o, "\n");
    }
    for (i = 0; i < r->fibers; i++) {
        if (rows >= 0 && shown >= rows) {
            left++;
            continue;
        }
        shown++;
        perf_put_(o, "waits in a coroutine of ");
        look_put_thread_name(o, &r->thread[r->fiber[i].thread]);
        perf_put_(o, ": ");
        look_put_chain(o, names, &r->fiber[i].open, width > 60 ? (size_t)width - 50 : 0);
        perf_put_(o, "\n");
    }
    if (left)
        perf_putf_(o, "... and %.0f more that are open\n", (double)left);
}

/* ---- what is missing ---- */

enum { LOOK_LOST_CUT = LOOK_LOSS_KINDS, LOOK_LOST_EVENTS, LOOK_LOST_ALL };

PERF_FN void look_losses(const look_reading *r, uint64_t *n)
{
    const uint64_t size = 16 * r->ring_events;
    size_t         i, k;

    memset(n, 0, LOOK_LOST_ALL * sizeof *n);
    n[5] = r->lost;
    n[LOOK_LOST_CUT] = r->cut;
    n[LOOK_LOST_EVENTS] = r->retired_lost;
    for (i = 0; i < r->threads; i++) {
        const look_thread *t = &r->thread[i];
        uint64_t           from = t->ring_lost > t->ring_sent ? t->ring_lost : t->ring_sent;
        if (t->reset)
            continue;
        for (k = 0; k < LOOK_LOSS_KINDS; k++)
            n[k] += t->losses[k];
        if (t->ring_head > from && t->ring_head - from > size)
            n[LOOK_LOST_EVENTS] += (t->ring_head - from - size) / 16;
    }
}

PERF_FN void look_put_losses(perf_out_ *o, const look_reading *r, const look_names *names, int json)
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

    look_losses(r, n);
    for (i = 0; i < LOOK_LOST_ALL; i++)
        if (json)
            perf_putf_(o, ",\"%s\":%.0f", note[i][0], (double)n[i]);
        else if (n[i])
            perf_putf_(o, "note: %.0f %s\n", (double)n[i], note[i][1]);
    for (i = 0; i < r->threads && !json; i++)
        if (r->thread[i].away && !r->thread[i].reset) {
            perf_putf_(o, "note: a call of %.40s was without a processor for ",
                       look_name_shown(names, r->thread[i].away_in));
            perf_put_ns_(o, (double)r->thread[i].away);
            perf_put_(o, "\n");
        }
    if (json)
        perf_putf_(o, ",\"torn\":%.0f,\"cut_off\":%s", (double)r->torn,
                   r->cut_off ? "true" : "false");
    if (!json && r->torn)
        perf_putf_(o, "note: %.0f of %.0f cells changed whenever they were read: each may be off "
                      "by the calls of that moment\n", (double)r->torn, (double)r->cells);
    if (!json && r->cut_off)
        perf_put_(o, "note: there is more than this tool reads: the rest is left out\n");
    if (!json && r->off)
        perf_put_(o, "note: recording is switched off: perf_enable(0)\n");
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

PERF_FN void look_put_rows(perf_out_ *o, const look_report *rep, int json, int rows)
{
    static const char *const column[LOOK_NUMBERS] = {"total_ns", "self_ns", "mean_ns",
                                                     "min_ns",   "p50_ns",  "p95_ns",
                                                     "p99_ns",   "max_ns",  "last"};
    double x[LOOK_NUMBERS];
    size_t i, k;

    if (!json) {
        perf_put_(o, "name,kind,calls");
        for (k = 0; k < LOOK_NUMBERS; k++)
            perf_putf_(o, ",%s", column[k]);
        perf_put_(o, "\n");
    }
    for (i = 0; i < rep->rows && (rows < 0 || i < (size_t)rows); i++) {
        const look_row *row = &rep->row[i];
        const char     *name = look_name_text(rep->names, row->name);
        look_row_numbers(row, rep->now->tick_ns, x);
        if (json) {
            perf_put_(o, i ? ",\n{\"name\":" : "\n{\"name\":");
            perf_put_json_(o, name);
            perf_putf_(o, ",\"kind\":\"%s\",\"calls\":", look_kind_text(row->kind));
        } else {
            perf_put_csv_(o, name);
            perf_putf_(o, ",%s,", look_kind_text(row->kind));
        }
        perf_put_u64_(o, row->count);
        for (k = 0; k < LOOK_NUMBERS; k++) {
            perf_put_(o, ",");
            if (json)
                perf_putf_(o, "\"%s\":", column[k]);
            if (perf_is_finite_(x[k]))
                perf_put_fixed_(o, x[k], 3);
            else
                perf_put_(o, json ? "null" : "");
        }
        perf_put_(o, json ? "}" : "\n");
    }
}

PERF_FN void look_put_threads_json(perf_out_ *o, const look_reading *r, const look_names *names,
                                   uint64_t until)
{
    size_t   i;
    uint32_t k;

    for (i = 0; i < r->threads; i++) {
        const look_thread *t = &r->thread[i];
        const double       ns = look_open_ns(r, &t->open, until);
        perf_putf_(o, "%s\n{\"id\":%.0f,\"name\":", i ? "," : "", (double)t->id);
        perf_put_json_(o, t->name);
        perf_putf_(o, ",\"ended\":%s,\"track\":%s,\"open\":[", t->gone ? "true" : "false",
                   t->foreign ? "true" : "false");
        for (k = 0; k < t->open.n; k++) {
            perf_put_(o, k ? "," : "");
            perf_put_json_(o, look_name_text(names, t->open.name[k]));
        }
        perf_put_(o, "],\"open_ns\":");
        if (ns >= 0)
            perf_put_fixed_(o, ns, 0);
        else
            perf_put_(o, "null");
        perf_put_(o, "}");
    }
}

/* One object.  seconds: of the interval, 0: since the start. */
PERF_FN void look_put_json(perf_out_ *o, const look_target *t, const look_report *rep,
                           uint64_t until, double seconds, int rows)
{
    const look_reading *r = rep->now;
    const look_usage    u = look_usage_of(t);
    uint64_t            open = 0;
    size_t              i;

    for (i = 0; i < r->threads; i++)
        open += r->thread[i].open.n ? r->thread[i].open.calls : 0;
    perf_put_(o, "{\"program\":");
    perf_put_json_(o, t->program);
    perf_putf_(o, ",\"pid\":%.0f,\"signal\":%.0f,\"interval_s\":%.6f,\n",
               (double)(t->pid ? (uint64_t)t->pid : r->process), (double)t->signal, seconds);
    perf_put_(o, "\"clock\":{\"tick_ns\":");
    perf_put_fixed_(o, r->tick_ns, 12);
    perf_putf_(o, ",\"error_ppm\":%.3f,\"warnings\":%.0f},\n",
               perf_is_finite_(r->error_ppm) ? r->error_ppm : 0, (double)r->warnings);
    perf_putf_(o, "\"open\":%.0f,\"data_wait_ns\":%.0f,\"main_thread_ns\":%.0f,\"cpu_ns\":%.0f,"
                  "\"resident_bytes\":%.0f", (double)open, (double)rep->wait * r->tick_ns,
               (double)rep->all * r->tick_ns, u.cpu_ns, u.resident);
    look_put_losses(o, r, rep->names, 1);
    perf_put_(o, ",\n\"threads\":[");
    look_put_threads_json(o, r, rep->names, until);
    perf_put_(o, "],\n\"scopes\":[");
    look_put_rows(o, rep, 1, rows);
    perf_put_(o, "\n]");
    if (rep->loops)
        look_put_loops_json(o, rep->loops);
    perf_put_(o, "}\n");
}

/* ---- a few lines ---- */

PERF_FN void look_put_diagnosis(perf_out_ *o, const look_report *rep)
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
        perf_put_(o, "diagnosis: nothing has been recorded yet\n");
        return;
    }
    if (unit) {
        perf_putf_(o, "what repeats: %.80s, %.0f times, ",
                   look_name_shown(rep->names, rep->node[unit].name),
                   (double)rep->node[unit].calls);
        perf_put_ns_(o, (double)rep->node[unit].total * tick / (double)rep->node[unit].calls);
        perf_put_(o, " each\n");
    }
    look_put_waits(o, rep);
    if (!rep->wait && !rep->sync)
        perf_put_(o, "waits: none was marked (PERF_WAIT)\n");
    memset(&path, 0, sizeof path);
    for (at = (uint32_t)(most - rep->node); at; at = rep->node[at].parent)
        path.n++;
    for (i = path.n, at = (uint32_t)(most - rep->node); at; at = rep->node[at].parent)
        path.name[--i] = rep->node[at].name;
    share = (double)most->self / all;
    perf_put_number_(o, "most time: ", share * 100, 1);
    perf_put_(o, " % (");
    perf_put_ns_(o, (double)most->self * tick);
    perf_put_(o, ") in ");
    look_put_chain(o, rep->names, &path, 0);
    if (share > 0.99)
        share = 0.99;
    perf_putf_(o, "\nwithout it: %.2f times as fast at best\n", 1 / (1 - share));
    perf_put_(o, "the program itself says more: PERF_REPORT=diagnosis, where perf_diagnosis.h is "
                 "in it\n");
}

#endif /* PERF_TOOLS_LOOK_WRITE_H */
