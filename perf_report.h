/* perf_report.h - the door to what was recorded: table, tree, CSV, JSON, at exit.
 *
 *     perf_report();                           // the table, on stderr
 *
 * Sections (search for ">>"):  config  report  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "perf_missing.h"
#include "perf_bound.h"
#include "perf_chrome.h"
#include "perf_loop_rows.h"
#include "perf_tree.h"

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_AT_EXIT            /* 1 in one file of a program (the one with main): at its end,    */
#define PERF_AT_EXIT 0          /* PERF_REPORT=1 (tree, csv, json, diagnosis) in the environment  */
#endif                          /* puts the report on stderr, PERF_TRACE=file saves the trace;    */
                                /* the five lines of perf_diagnosis.h come along                  */

#if PERF_AT_EXIT
#include <stdio.h>
#endif

PERF_BEGIN_DECLS

/* >>report ------------------------------------------------------------------------------------
 * What was recorded so far, while threads go on.  Allocates; takes no lock that scopes wait for. */

typedef enum perf_sort {
    PERF_SORT_SELF,             /* by time spent in the scope itself, largest first               */
    PERF_SORT_TOTAL, PERF_SORT_CALLS, PERF_SORT_MEAN, PERF_SORT_MAX,
    PERF_SORT_NAME              /* by name, a to z                                                */
} perf_sort;

/* How a report is laid out. */
typedef enum perf_view {
    PERF_VIEW_TABLE,
    PERF_VIEW_TREE,             /* who called whom, in all of the run                             */
    PERF_VIEW_CSV,              /* all scopes, times in ns; the header line names the columns     */
    PERF_VIEW_JSON,             /* the same and the clock; NaN never occurs                       */
    PERF_VIEW_DIAGNOSIS         /* five lines: what bounds the work; see perf_diagnosis.h         */
} perf_view;

typedef struct perf_report_opts {   /* zero = default                                             */
    perf_sort sort;             /* 0 -> PERF_SORT_SELF                                            */
    int       rows;             /* 0 -> 50 in table and tree, all in CSV and JSON; negative: all  */
    perf_view view;             /* 0 -> PERF_VIEW_TABLE                                           */
    int       width;            /* columns, 60 or more; 0 -> of the terminal or of COLUMNS,       */
} perf_report_opts;             /* elsewhere without limit; negative: without limit               */

PERF_FN perf_report_opts perf_report_opts_default(void);    /* all zero; for C++11 and Cython     */
PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts);  /* what runs   */

/* Writes the table to stderr; PERF_AT_EXIT in >>config does so at the end of a program.  Times of
 * scopes are those of the wall; so its second line says how much processor time the process had
 * since its first mark or the last perf_reset(), and how often a processor was taken away.
 * Columns: calls; total (recursive calls once); self: total less the scopes inside; share: self of
 * all self; mean; the time below which 50, 95, 99 % of the calls stay (within 1.6 %); longest.   */
PERF_FN perf_status perf_report(void);

/* The same to any stream (stdout: <stdio.h>); opts NULL: defaults.  On a terminal a table leaves
 * out columns until it fits, long lines are broken, and a bar shows the share, in colour unless
 * NO_COLOR is set.  ASCII, but for names.  PERF_EINVAL: no file; PERF_EIO; PERF_ENOMEM.          */
PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts);

/* The same into buf, always terminated when cap > 0.  Returns the length of the full text, as
 * snprintf does: cut off if it is not below cap; buf NULL with cap 0 asks for the length.        */
PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_screen_of_, perf_fit_  columns of a screen, what it can show; columns that fit          */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

PERF_FN double perf_row_key_(const perf_row_ *r, perf_sort by)
{
    uint64_t x = by == PERF_SORT_TOTAL ? r->total : by == PERF_SORT_CALLS ? r->count
                 : by == PERF_SORT_MAX ? r->max   : by == PERF_SORT_MEAN  ? r->sum : r->self;

    return PERF_CAST_(double, x) / (by == PERF_SORT_MEAN ? PERF_CAST_(double, r->count) : 1.0);
}

PERF_FN int perf_row_before_(const void *one, const void *two, const void *by)
{
    const perf_row_ *a = PERF_CAST_(const perf_row_ *, one);
    const perf_row_ *b = PERF_CAST_(const perf_row_ *, two);
    perf_sort        sort = *PERF_CAST_(const perf_sort *, by);
    double           x = perf_row_key_(a, sort), y = perf_row_key_(b, sort);

    if (sort != PERF_SORT_NAME && (x > y || x < y))
        return x > y;
    return PERF_LIBC_(strcmp)(a->name, b->name) < 0;
}

/* All rows with calls in them, sorted; *n is their number.  PERF_FREE the result. */
PERF_COLD_FN_ perf_row_ *perf_rows_(perf_registry_ *r, perf_sort by, size_t *n)
{
    uint32_t    id, count = PERF_ACQ_(&r->count);
    perf_row_  *row = PERF_CAST_(perf_row_ *, PERF_MALLOC(count * sizeof *row));
    perf_sum_  *sum = PERF_CAST_(perf_sum_ *, PERF_MALLOC(sizeof *sum));

    *n = 0;
    for (id = 1; row && sum && id < count; id++) {
        perf_row_fill_(&row[*n], r, id, sum);
        if (row[*n].count)
            ++*n;
    }
    if (row && sum)
        perf_sort_(row, *n, sizeof *row, perf_row_before_, &by);
    if (!sum) {
        PERF_FREE(row);
        row = PERF_NULL_;
    }
    PERF_FREE(sum);
    return row;
}

/* One snapshot, so that the text has the same length each time it is written. */
typedef struct perf_snapshot_ {
    perf_report_opts opts;
    perf_clock_info  clock;
    perf_registry_  *registry;
    perf_row_       *row;
    size_t           rows;
    double           tick, self;        /* ns a tick; ticks of self time of all scopes            */
    perf_losses_     losses;
    perf_spent_      spent;     /* since the start or the last reset; ns 0: not known             */
    struct perf_tree_ *tree;
    perf_host_time_         main;
    perf_evidence_     evidence;        /* of the main thread                                     */
} perf_snapshot_;

/* ---- the table ---- */

PERF_COLD_FN_ void perf_put_clock_(perf_out_ *o, const perf_clock_info *c)
{
    uint32_t bit;

    perf_putf_(o, "clock %s: readings %g apart, %g each, ", c->name, c->resolution_ns, c->cost_ns);
    perf_put_fixed_(o, c->hz * 1e-6, c->hz < 1e9 ? 3 : 1);
    perf_put_(o, " MHz within ");
    perf_put_fixed_(o, c->error_ppm, c->error_ppm < 10 ? 2 : 0);
    perf_put_(o, " ppm\n");
    for (bit = 1; bit <= c->warnings; bit <<= 1)
        if (c->warnings & bit)
            perf_putf_(o, "warning: %s\n", perf_clock_warning_text(bit));
}

/* Makes rows of a table fit the screen.  `columns` has the widths of the cells of a perf_putf_,
 * the name's first: "28 10 10b 10a".  Cells with a letter are left out, `a` first; one with a `*`
 * behind it is left out where there are no bars.  Returns the width of the name, 20 at least where
 * that fits.  o->skip = 0 ends it.                                                               */
PERF_COLD_FN_ int perf_fit_(perf_out_ *o, const char *columns)
{
    int         width, used, name = 0, i;
    char        turn = '`';
    const char *s;

    do {
        o->skip = 0;
        for (s = columns, i = used = 0; *s; i++) {
            for (width = 0; *s >= '0' && *s <= '9'; s++)
                width = 10 * width + (*s - '0');
            if ((*s >= 'a' && *s <= turn) || (*s && s[1] == '*' && !(o->style & PERF_BARS_)))
                o->skip |= 1u << i;
            else
                used += width;
            name = i ? name : width;
            s += PERF_LIBC_(strcspn)(s, " ");
            s += *s == ' ';
        }
    } while (o->width && used > o->width + name - 20 && turn++ < 'z');
    if (o->width && used > o->width)
        name -= used - o->width;
    return name < 8 ? 8 : name;
}

/* A bar of nine columns. */
PERF_COLD_FN_ const char *perf_bar_(const perf_out_ *o, char *text, double share)
{
    perf_out_ t = perf_out_open_(text, 32);
    int       i;

    perf_put_(&t, o->style & PERF_COLOR_ ? "\033[36m" : "");
    for (i = 1; i < 10; i++)
        perf_put_char_(&t, i <= share * 9 + 0.5 ? '#' : ' ');
    perf_put_(&t, o->style & PERF_COLOR_ ? "\033[0m" : "");
    return text;
}

PERF_COLD_FN_ void perf_put_row_(perf_out_ *o, int name, const perf_row_ *row,
                                 const perf_snapshot_ *s)
{
    double   x[PERF_COLUMNS_], share = PERF_CAST_(double, row->self) / s->self;
    char     bar[32];
    uint32_t skip = o->skip;

    perf_row_numbers_(row, s->tick, x);
    perf_putf_(o, "%-*s%10.0f%10g", name, row->name, PERF_CAST_(double, row->count), x[0]);
    o->skip = skip >> 3;
    if (PERF_KIND_HOST_(row->kind))
        perf_putf_(o, "%10g%7.1f %%%10s", x[1], share * 100, perf_bar_(o, bar, share));
    else
        perf_putf_(o, "%10s%9s%10s", perf_kind_text_(row->kind), "", "");
    o->skip = skip >> 6;
    perf_putf_(o, "%10g%10g%10g%10g%10g\n", x[2], x[4], x[5], x[6], x[7]);
    o->skip = skip;
}

/* Writes what is missing or not as asked: as lines of text, or as members of a JSON object. */
PERF_COLD_FN_ void perf_put_losses_(perf_out_ *o, const perf_snapshot_ *s, int json)
{
    static const char *const note[PERF_LOSS_ALL_][4] = {    /* key; of one, of many, of both      */
        {"never_ended", " scope was never ended (longjmp?): the scope around it has its time",
         " scopes were never ended (longjmp?): the scope around them has their time", ""},
        {"ended_late", " scope", " scopes",
         " ended after the scope around it: in totals from then on"},
        {"ended_elsewhere", " scope was", " scopes were", " ended by another thread: in no total"},
        {"begun_before_fork", " scope was", " scopes were",
         " begun before a fork and not counted in the child"},
        {"misused", " end without a begin or NaN count was",
         " ends without a begin or NaN counts were", " ignored"},
        {"uncounted", " scope was", " scopes were",
         " not counted: no memory, too many names, or new ones in a signal handler"},
        {"lost_to_clock", " scope was", " scopes were",
         " not counted: the clock was set back before the end"},
        {"cut_names", " name was", " names were", " cut to 255 bytes"},
        {"overwritten_events", " older trace event was", " older trace events were",
         " overwritten: PERF_TRACE_EVENTS is the room"},
        {"unsent_events", " trace event is", " trace events are",
         " not in the streamed file: it is full, or cannot be written"},
    };
    perf_recorder_ *t = PERF_ACQ_(&s->registry->recorders);
    size_t          i;

    for (i = 0; !json && t && i < 4; t = t->next)
        if (PERF_ACQ_(&t->away) && !(PERF_GET_(&t->request) & PERF_ASK_RESET_) && ++i)
            perf_putf_(o, "note: a call of %.40s was without a processor for %g\n",
                       PERF_ACQ_(&s->registry->names)[PERF_GET_(&t->away_in)]->site.name,
                       PERF_CAST_(double, PERF_GET_(&t->away)));
    for (i = 0; i < PERF_LOSS_ALL_; i++) {
        double n = PERF_CAST_(double, s->losses.n[i]);
        if (json)
            perf_putf_(o, ",\"%s\":%.0f", note[i][0], n);
        else if (n > 0)
            perf_putf_(o, "note: %.0f%s%s\n", n, note[i][n > 1 ? 2 : 1], note[i][3]);
    }
    perf_put_children_(o, s->registry, json);
    if (!json)
        perf_put_environment_(o);
    if (!json && PERF_GET_(&s->registry->bad_variant))
        perf_put_(o, "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

PERF_COLD_FN_ void perf_put_counters_(perf_out_ *o, const perf_snapshot_ *s)
{
    int    title = 0, name = o->width && o->width < 76 ? o->width - 48 : 28;
    size_t i;

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (!PERF_KIND_POINT_(row->kind))
            continue;
        if (!title++)
            perf_putf_(o, "%-*s%8s%10s%10s%10s%10s\n", name, "counter", "updates", "last", "mean",
                       "min", "max");
        perf_putf_(o, "%-*s%8.0f", name, row->name, PERF_CAST_(double, row->count));
        if (row->numbers)
            perf_putf_(o, "%10.2f%10.2f%10.2f%10.2f", row->last,
                       row->values / PERF_CAST_(double, row->numbers), row->least, row->most);
        perf_put_char_(o, '\n');
    }
}

/* How many scopes are open now, and the names of the first few. */
PERF_COLD_FN_ uint64_t perf_open_scopes_(perf_registry_ *r, perf_few_ *few)
{
    perf_recorder_ *t;
    perf_cell_     *c, *root;
    uint64_t        open = 0;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        int32_t depth = PERF_CAST_(int32_t, perf_depth_(t) - PERF_GET_(&t->strayed));
        open += depth > 0 ? PERF_CAST_(uint32_t, depth) : 0;
        for (c = PERF_ACQ_(&t->open); depth > 0 && c->parent; c = c->parent)
            perf_few_add_(few, PERF_ACQ_(&r->names)[PERF_CELL_ID_(c)]->site.name);
        for (root = &t->root; root; root = PERF_PTR_(perf_cell_ *, PERF_ACQ_(&root->gauge))) {
            c = PERF_PTR_(perf_cell_ *, PERF_CAST_(uintptr_t, PERF_ACQ_(&root->min)));
            open += c ? c->depth + PERF_GET_(&root->max) : 0;
            for (; c && c->parent; c = c->parent)
                perf_few_add_(few, PERF_ACQ_(&r->names)[PERF_CELL_ID_(c)]->site.name);
        }
    }
    return open;
}

PERF_COLD_FN_ void perf_put_open_(perf_out_ *o, perf_registry_ *r)
{
    perf_few_ few = PERF_ZERO;
    uint64_t  open = perf_open_scopes_(r, &few);

    if (!open)
        return;
    perf_putf_(o, "note: %.0f scope%s time so far not in the numbers", PERF_CAST_(double, open),
               open == 1 ? " is still open, its" : "s are still open, their");
    perf_put_few_(o, &few, open);
}

/* "data wait: 34.0 % of the main thread (1.2 s of 3.5 s in scopes, 1.1 s of it in read)" */
PERF_COLD_FN_ void perf_put_data_wait_(perf_out_ *o, const perf_snapshot_ *s)
{
    double wait = PERF_CAST_(double, s->main.self[PERF_BY_DATA]);
    double all = PERF_CAST_(double, s->main.all);

    if (!(wait > 0))
        return;
    perf_put_number_(o, "data wait: ", wait / all * 100, 1);
    perf_put_(o, " % of the main thread (");
    perf_put_ns_(o, wait * s->tick);
    perf_put_(o, " of ");
    perf_put_ns_(o, all * s->tick);
    perf_put_(o, " in scopes, ");
    perf_put_ns_(o, PERF_CAST_(double, s->main.most) * s->tick);
    perf_put_(o, " of it in ");
    (void)perf_put_cut_(o, s->main.where, 40);
    perf_put_(o, ")\n");
}

/* What bounds the program, and which part of it is meant: perf_diagnosis.h says it of the unit that
 * repeats; without it the line of the GPU, or what the main thread's own waits show.             */
PERF_COLD_FN_ void perf_put_bound_(perf_out_ *o, const perf_snapshot_ *s)
{
    perf_registry_ *r = s->registry;
    perf_bound_by   by = perf_bound_decide_(&s->evidence);

    perf_put_data_wait_(o, s);
    if (PERF_ACQ_(&r->put_diagnosis)) {
        perf_put_(o, "bound by: ");
        r->put_diagnosis(o, PERF_DIAGNOSIS_ANSWER_);
        perf_put_char_(o, '\n');
        return;
    }
    if (by == PERF_BY_UNKNOWN || r->gpu)
        return;
    perf_put_(o, "bound by: ");
    perf_put_(o, perf_diagnosis_text(by));
    perf_put_(o, " (of the main thread)\n");
}

/* Tells whether the process was running, as times of scopes are the wall's.  Blanks at the end
 * keep the text as long as it was a moment ago.                                                  */
PERF_COLD_FN_ void perf_put_spent_(perf_out_ *o, const perf_spent_ *spent)
{
    double cpu = PERF_CAST_(double, spent->cpu_ns), wall = PERF_CAST_(double, spent->ns);
    size_t end = o->len + 92;

    if (!(wall > 0))
        return;
    perf_putf_(o, "processor time: %.0f %% of one processor (%g in %g), taken away %.0f time%s",
               cpu / wall * 100, cpu, wall, PERF_CAST_(double, spent->switches),
               spent->switches == 1 ? "" : "s");
    while (o->len < end && !o->width)
        perf_put_char_(o, ' ');
    perf_put_(o, "\n");
}

PERF_COLD_FN_ void perf_put_table_(perf_out_ *o, const perf_snapshot_ *s)
{
    int    name = perf_fit_(o, "28 10 10 10 9 10e* 10c 10b 10d 10a 10f");
    size_t i, shown = 0, left = 0;
    double wait[3] = {0, 0, 0};                 /* for data, a device, a lock                     */

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (row->kind == PERF_KIND_WAIT_ || row->kind == PERF_KIND_SYNC_)
            wait[row->kind == PERF_KIND_SYNC_ ? 1 : perf_of_lock_(row->name) ? 2 : 0] +=
                PERF_CAST_(double, row->self);
        if (PERF_KIND_POINT_(row->kind))
            continue;
        if (s->opts.rows >= 0 && shown >= PERF_CAST_(size_t, s->opts.rows)) {
            left++;
            continue;
        }
        if (!shown++)
            perf_putf_(o, "%-*s%10s%10s%10s%9s%10s%10s%10s%10s%10s%10s\n", name, "scope", "calls",
                       "total", "self", "share", "", "mean", "p50", "p95", "p99", "max");
        perf_put_row_(o, name, row, s);
    }
    o->skip = 0;
    if (left)
        perf_putf_(o, "... and %.0f more\n", PERF_CAST_(double, left));
    for (i = 0; i < 3; i++)
        if (wait[i] > 0)
            perf_putf_(o, "waiting for %s: %.1f %% of the time in scopes\n",
                       i == 0 ? "data" : i == 1 ? "a device" : "a lock", wait[i] / s->self * 100);
    perf_put_bound_(o, s);
    perf_put_counters_(o, s);
    if (PERF_ACQ_(&s->registry->put_marks))
        PERF_ACQ_(&s->registry->put_marks)(o, s->registry);
}

/* ---- the tree ---- */

PERF_COLD_FN_ void perf_put_tree_(perf_out_ *o, const perf_snapshot_ *s)
{
    uint32_t i;
    int      rows = 0, narrow = o->width && o->width < 90, indent;
    int      room = o->width ? o->width - (narrow ? 42 : 55) : 40 + 2 * 128;
    double   all;

    if (!s->tree || !s->tree->calls)
        return;
    all = PERF_CAST_(double, s->tree->node[0].total) + 1e-9;
    perf_putf_(o, "of total%s      total       self     calls  scope\n",
               narrow ? "" : "   of parent");
    for (i = 1; i < s->tree->count; i++) {      /* stored in the order they are shown             */
        const perf_node_ *n = &s->tree->node[i];
        double            total = PERF_CAST_(double, n->total);
        double            around = PERF_CAST_(double, s->tree->node[n->parent].total);
        if (s->opts.rows >= 0 && rows++ >= s->opts.rows)
            break;
        indent = PERF_CAST_(int, 2 * n->depth - 2);
        indent = indent > room - 12 ? room - 12 : indent;
        perf_putf_(o, "%6.1f %%", total / all * 100);
        if (!narrow)
            perf_putf_(o, "%10.1f %%", total / (around + 1e-9) * 100);
        perf_putf_(o, " %10g %10g%10.0f  %-*s", total * s->tick,
                   PERF_CAST_(double, n->self) * s->tick, PERF_CAST_(double, n->calls), indent, "");
        (void)perf_put_cut_(o, PERF_ACQ_(&s->registry->names)[n->name]->site.name,
                            o->width ? PERF_CAST_(size_t, room - indent) : 40);
        perf_put_char_(o, '\n');
    }
}

/* ---- CSV and JSON ---- */

PERF_COLD_FN_ void perf_put_data_(perf_out_ *o, const perf_snapshot_ *s, int json)
{
    static const char *const column[PERF_COLUMNS_] = {"total_ns", "self_ns", "mean_ns",
                                                      "min_ns",   "p50_ns",  "p95_ns",
                                                      "p99_ns",   "max_ns",  "last"};
    double                   x[PERF_COLUMNS_];
    perf_few_                few = PERF_ZERO;
    size_t                   i, k;

    if (json) {
        perf_putf_(o, "{\"clock\":{\"name\":\"%s\",\"resolution_ns\":%.3f,\"cost_ns\":%.3f,"
                      "\"error_ppm\":%.3f,\"warnings\":%.0f},\n",
                   s->clock.name, s->clock.resolution_ns, s->clock.cost_ns, s->clock.error_ppm,
                   PERF_CAST_(double, s->clock.warnings));
        perf_putf_(o, "\"open\":%.0f,\"data_wait_ns\":%.0f,\"main_thread_ns\":%.0f,"
                      "\"cpu_ns\":%20.0f,\"wall_ns\":%20.0f,\"preemptions\":%12.0f",
                   s->registry ? PERF_CAST_(double, perf_open_scopes_(s->registry, &few)) : 0.0,
                   PERF_CAST_(double, s->main.self[PERF_BY_DATA]) * s->tick,
                   PERF_CAST_(double, s->main.all) * s->tick, PERF_CAST_(double, s->spent.cpu_ns),
                   PERF_CAST_(double, s->spent.ns), PERF_CAST_(double, s->spent.switches));
        perf_put_losses_(o, s, 1);
        perf_put_(o, ",\n\"scopes\":[");
    } else {
        perf_put_(o, "name,kind,calls");
        for (k = 0; k < PERF_COLUMNS_; k++)
            perf_putf_(o, ",%s", column[k]);
        perf_put_char_(o, '\n');
    }
    for (i = 0; i < s->rows && (s->opts.rows < 0 || i < PERF_CAST_(size_t, s->opts.rows)); i++) {
        const perf_row_ *row = &s->row[i];
        perf_row_numbers_(row, s->tick, x);
        if (json) {
            perf_putf_(o, "%s\n{\"name\":%.0s,\"kind\":\"%s\",\"calls\":", i ? "," : "", row->name,
                       perf_kind_text_(row->kind));
        } else {
            perf_put_csv_(o, row->name);
            perf_putf_(o, ",%s,", perf_kind_text_(row->kind));
        }
        perf_put_u64_(o, row->count);
        for (k = 0; k < PERF_COLUMNS_; k++) {
            perf_put_char_(o, ',');
            if (json)
                perf_putf_(o, "\"%s\":", column[k]);
            if (perf_is_finite_(x[k]))
                perf_put_fixed_(o, x[k], 3);
            else
                perf_put_(o, json ? "null" : "");
        }
        perf_put_(o, json ? "}" : "\n");
    }
    if (json) {
        perf_put_(o, "\n]");
        if (s->registry && PERF_ACQ_(&s->registry->put_diagnosis)) {
            perf_put_(o, ",\n\"diagnosis\":");
            s->registry->put_diagnosis(o, PERF_DIAGNOSIS_JSON_);
        }
        perf_put_(o, "}\n");
    }
}

/* ---- the whole ---- */

PERF_FN perf_report_opts perf_report_opts_default(void)
{
    perf_report_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts)
{
    perf_report_opts o = opts ? *opts : perf_report_opts_default();

    if (o.width > 0 && o.width < 60)
        o.width = 60;
    if (o.rows == 0)
        o.rows = o.view == PERF_VIEW_TABLE || o.view == PERF_VIEW_TREE ? 50 : -1;
    return o;
}

#if PERF_POSIX_FILES_
extern int perf_isatty_(int) __asm__(PERF_SYM_("isatty"));
extern int perf_ioctl_(int, unsigned long, ...) __asm__(PERF_SYM_("ioctl"));
#if defined(__linux__) && !defined(__mips__) && !defined(__powerpc__) && !defined(__sparc__)
#define PERF_TIOCGWINSZ_ 0x5413ul
#else
#define PERF_TIOCGWINSZ_ 0x40087468ul
#endif

/* Columns and style of the screen that `file` is. */
PERF_COLD_FN_ void perf_screen_of_(perf_out_ *o, FILE *file)
{
    unsigned short size[4] = {0, 0, 0, 0};      /* rows, columns, and both in pixels              */
    const char    *text = perf_getenv_("COLUMNS");
    int            fd = perf_fileno_(file);

    for (; !o->width && text && *text >= '0' && *text <= '9' && size[1] < 1000; text++)
        size[1] = PERF_CAST_(unsigned short, 10 * size[1] + (*text - '0'));
    if (perf_isatty_(fd)) {
        if (!size[1] && !o->width && (perf_ioctl_(fd, PERF_TIOCGWINSZ_, size) || !size[1]))
            size[1] = 80;
        text = perf_getenv_("NO_COLOR");
        o->style = PERF_BARS_ | (text && *text ? 0 : PERF_COLOR_);
        text = perf_getenv_("TERM");
        if (!text || !PERF_LIBC_(strcmp)(text, "dumb"))
            o->style = PERF_BARS_;
    }
    if (!o->width && size[1])
        o->width = size[1] < 60 ? 60 : size[1];
}
#endif

PERF_COLD_FN_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts)
{
    perf_snapshot_ s = PERF_ZERO;
    size_t         i;

    s.opts = perf_report_opts_resolved(opts);
    s.clock = perf_clock();
    s.registry = perf_registry_read_();          /* this image may not have recorded anything     */
    s.tick = s.clock.tick_ns;
    s.evidence.busy = -1;
    if (s.registry) {
        perf_sources_collect_(s.registry);
        s.losses = perf_losses_sum_(s.registry);
        if (perf_lock_(s.registry)) {
            s.spent = s.registry->spent;
            perf_unlock_(s.registry);
        }
        s.spent = perf_spent_since_(&s.spent, 0);
        s.row = perf_rows_(s.registry, s.opts.sort, &s.rows);
        (void)perf_host_evidence_(&s.main, s.registry, &s.evidence);
        if (s.opts.view == PERF_VIEW_TREE) {
            s.tree = perf_tree_make_(s.registry);
            if (s.tree)
                perf_tree_sort_(s.tree);
        }
    }
    for (i = 0; i < s.rows; i++)
        s.self += PERF_KIND_HOST_(s.row[i].kind) ? PERF_CAST_(double, s.row[i].self) : 0.0;
    if (!(s.self > 0))
        s.self = 1;
    return s;
}

PERF_COLD_FN_ void perf_snapshot_put_(perf_out_ *o, const perf_snapshot_ *s)
{
    perf_source_ *source;

    if (s->opts.view == PERF_VIEW_CSV || s->opts.view == PERF_VIEW_JSON) {
        perf_put_data_(o, s, s->opts.view == PERF_VIEW_JSON);
        return;
    }
    if (s->opts.view == PERF_VIEW_DIAGNOSIS) {
        if (s->registry && PERF_ACQ_(&s->registry->put_diagnosis))
            s->registry->put_diagnosis(o, PERF_DIAGNOSIS_LINES_);
        else
            perf_put_(o, "diagnosis: one file has to define PERF_DIAGNOSIS 1 and include "
                         "perf_diagnosis.h\n");
        return;
    }
    perf_put_clock_(o, &s->clock);
    perf_put_spent_(o, &s->spent);
    if (s->registry && s->opts.view == PERF_VIEW_TREE)
        perf_put_tree_(o, s);
    else if (s->registry)
        perf_put_table_(o, s);
    if (s->registry) {
        perf_put_open_(o, s->registry);
        perf_put_losses_(o, s, 0);
        for (source = PERF_ACQ_(&s->registry->sources); source; source = source->next)
            if (source->report)
                source->report(o);
    }
    perf_report_results_(o);
}

PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts)
{
    perf_snapshot_ s = perf_snapshot_take_(opts);
    perf_out_      o = perf_out_open_(buf, cap);

    o.width = s.opts.width > 0 ? s.opts.width : 0;
    perf_snapshot_put_(&o, &s);
    PERF_FREE(s.row);
    perf_tree_free_(s.tree);
    return o.len;
}

/* Breaks lines that are wider than the screen at a blank; width 0: none.  1: all was written. */
PERF_COLD_FN_ int perf_write_lines_(FILE *file, const char *p, int width)
{
    const char *s, *blank = p;
    perf_char_  c;
    int         column = 0, whole = 1;

    for (s = p; *s; s += c.bytes) {
        c = perf_char_of_(s);
        if (*s == '\033')                       /* a colour: its other characters count, too      */
            column -= s[3] == 'm' ? 3 : 4;
        else
            column += PERF_CAST_(int, perf_char_columns_(c));
        if (*s == '\n' || *s == ' ')
            blank = s;
        column = *s == '\n' ? 0 : column;
        if (width && column > width && blank > p && *blank == ' ' && *s != ' ') {
            whole = whole && perf_out_write_(file, p, PERF_CAST_(size_t, blank - p), 0) &&
                    perf_out_write_(file, "\n    ", 5, 0);
            column = 4 + PERF_CAST_(int, s - blank);
            p = blank + 1;
        }
    }
    return whole && perf_out_write_(file, p, PERF_CAST_(size_t, s - p), 0);
}

PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts)
{
    perf_snapshot_ s;
    perf_out_      o = PERF_ZERO;
    perf_status    status = PERF_ENOMEM;

    if (!file)
        return PERF_EINVAL;
    s = perf_snapshot_take_(opts);
    o.width = s.opts.width > 0 ? s.opts.width : 0;
#if PERF_POSIX_FILES_
    if (s.opts.width >= 0 && s.opts.view != PERF_VIEW_CSV && s.opts.view != PERF_VIEW_JSON)
        perf_screen_of_(&o, file);
#endif
    o.grows = 1;                                /* loops of other threads may end meanwhile       */
    perf_snapshot_put_(&o, &s);
    if (o.p && !o.failed)
        status = perf_write_lines_(file, o.p, o.width) ? PERF_OK : PERF_EIO;
    PERF_FREE(o.p);
    PERF_FREE(s.row);
    perf_tree_free_(s.tree);
    return status;
}

PERF_FN perf_status perf_report(void)
{
    return perf_report_to(perf_stderr_, PERF_NULL_);
}

/* ---- at exit ---- */

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
/* The view that PERF_REPORT asks for; any other word gets the table, and a sentence. */
PERF_COLD_FN_ perf_view perf_view_asked_(const char *word)
{
    static const struct {
        const char *word;
        perf_view   view;
    } known[] = {{"1", PERF_VIEW_TABLE},  {"table", PERF_VIEW_TABLE},
                 {"tree", PERF_VIEW_TREE}, {"csv", PERF_VIEW_CSV},
                 {"json", PERF_VIEW_JSON}, {"diagnosis", PERF_VIEW_DIAGNOSIS}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (!PERF_LIBC_(strcmp)(word, known[i].word))
            return known[i].view;
    (void)fprintf(stderr, "perf.h: PERF_REPORT=%.40s is none of 1, tree, csv, json, diagnosis: "
                          "here is the table\n", word);
    return PERF_VIEW_TABLE;
}

/* Who forks before it has a scope of its own shall find what its children record. */
PERF_ATTR_((__constructor__, __used__)) static void perf_at_start_(void)
{
    if (perf_getenv_("PERF_REPORT"))
        (void)perf_registry_read_();
}

/* A report that was asked for by a slip of the pen does not come: says so. */
PERF_COLD_FN_ void perf_at_exit_says_(void)
{
    static const char *const asks[] = {"PERF_REPORT", "PERF_TRACE"};
    const char *name = "";
    size_t      at = 0, i, length = perf_env_unknown_(&at, &name);

    for (; length; length = perf_env_unknown_(&at, &name))
        for (i = 0; i < 2; i++)
            if (perf_env_resembles_(name, length, asks[i]))
                (void)fprintf(stderr, "perf.h: %.*s is set, did you mean %s?\n",
                              PERF_CAST_(int, length), name, asks[i]);
}

PERF_ATTR_((__destructor__, __used__)) static void perf_at_exit_(void)
{
    const char      *report = perf_getenv_("PERF_REPORT"), *trace = perf_getenv_("PERF_TRACE");
    perf_report_opts o = PERF_ZERO;

    if (!report && !trace)
        perf_at_exit_says_();
    if (report && *report && PERF_LIBC_(strcmp)(report, "0")) {
        o.view = perf_view_asked_(report);
        if (perf_report_to(stderr, &o) != PERF_OK)
            (void)fprintf(stderr, "perf.h: the report is not whole\n");
    }
    if (trace && *trace && perf_trace_save(trace) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", trace);
}
#endif

#if PERF_DISABLE
#define perf_report()         PERF_OFF_CODE_((perf_report)())
#define perf_report_to(...)   PERF_OFF_CODE_((perf_report_to)(__VA_ARGS__))
#endif

PERF_END_DECLS

#if !PERF_ONE_CORE_
#include "perf_loop.h"          /* see perf_bench.h                                               */
#endif
#if PERF_AT_EXIT && !PERF_DISABLE && defined(__has_include)
#if __has_include("perf_diagnosis.h")
#include "perf_diagnosis.h"     /* PERF_REPORT=diagnosis may be asked for                         */
#endif
#endif
#endif /* PERF_REPORT_H */
