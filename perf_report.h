/* perf_report.h - the door to what was recorded: table, tree, CSV, JSON, at exit.
 *
 *     perf_report();                           // the table, on stderr
 *
 * Sections (search for ">>"):  config  report  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

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

typedef struct perf_report_opts {   /* zero = default: perf_report_opts o = PERF_ZERO;            */
    perf_sort sort;             /* 0 -> PERF_SORT_SELF                                            */
    int       rows;             /* 0 -> 50 in table and tree, all in CSV and JSON; negative: all  */
    perf_view view;             /* 0 -> PERF_VIEW_TABLE                                           */
    int       width;            /* columns, 60 or more; 0 -> of the terminal or of COLUMNS,       */
} perf_report_opts;             /* elsewhere without limit; negative: without limit               */

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

/* >>private: bodies from the whole to its parts; a leaf may stand above its first user --------- */

/* ---- what one report shows ---- */

PERF_FN const char *perf_name_of_(const perf_registry_ *reg, uint32_t id)
{
    return PERF_ACQ_(&reg->names)[id]->site.name;
}

/* One snapshot, so that the text has the same length each time it is written. */
typedef struct perf_snapshot_ {
    perf_report_opts opts;
    perf_clock_info  clock;
    perf_registry_  *registry;  /* NULL: nothing was recorded                                     */
    perf_row_       *row;
    size_t           rows;
    double           tick, self;        /* ns: of a tick; self time of all scopes                 */
    perf_losses_     losses;
    perf_spent_      spent;     /* since the start or the last reset; ns 0: not known             */
    perf_tree_      *tree;      /* NULL unless it is asked for                                    */
    perf_host_time_  main;
    perf_evidence_   evidence;  /* of the main thread                                             */
    int              failed;    /* 1: there was no memory for the rows or the tree                */
} perf_snapshot_;

PERF_COLD_DECL_ int perf_write_lines_(FILE *file, const char *line, int width);
PERF_COLD_DECL_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts);
PERF_COLD_DECL_ perf_row_ *perf_rows_(perf_registry_ *reg, perf_sort by, double tick, size_t *n);
PERF_COLD_DECL_ void perf_snapshot_put_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_clock_(perf_out_ *out, const perf_clock_info *clock);
PERF_COLD_DECL_ void perf_put_spent_(perf_out_ *out, const perf_spent_ *spent);
PERF_COLD_DECL_ void perf_put_sources_(perf_out_ *out, perf_registry_ *reg, int json);
PERF_COLD_DECL_ void perf_put_scopes_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_row_(perf_table_ *table, const perf_row_ *row,
                                   const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_counters_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_waits_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_bound_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_tree_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_losses_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_open_(perf_out_ *out, perf_registry_ *reg);
PERF_COLD_DECL_ void perf_put_csv_report_(perf_out_ *out, const perf_snapshot_ *snap);
PERF_COLD_DECL_ void perf_put_json_report_(perf_out_ *out, const perf_snapshot_ *snap);

/* ---- the whole ---- */

PERF_FN perf_status perf_report(void)
{
    return perf_report_to(perf_stderr_, PERF_NULL_);
}

PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts)
{
    perf_snapshot_ snap;
    perf_out_      out = PERF_ZERO;
    perf_status    status = PERF_ENOMEM;

    if (!file)
        return PERF_EINVAL;
    snap = perf_snapshot_take_(opts);
    if (snap.opts.width > 0)
        out.width = snap.opts.width;
#if PERF_POSIX_FILES_
    if (snap.opts.width >= 0)
        perf_screen_of_(&out, file);
#endif
    out.grows = 1;                              /* loops of other threads may end meanwhile       */
    perf_snapshot_put_(&out, &snap);
    if (out.p && !out.failed && !snap.failed)
        status = perf_write_lines_(file, out.p, out.width) ? PERF_OK : PERF_EIO;
    PERF_FREE(out.p);
    PERF_FREE(snap.row);
    PERF_FREE(snap.tree);
    return status;
}

PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts)
{
    perf_snapshot_ snap = perf_snapshot_take_(opts);
    perf_out_      out = perf_out_open_(buf, cap);

    if (snap.opts.width > 0)
        out.width = snap.opts.width;
    perf_snapshot_put_(&out, &snap);
    PERF_FREE(snap.row);
    PERF_FREE(snap.tree);
    return out.len;
}

/* Writes a text, and breaks lines that are wider than the screen at a blank; width 0: none.  1:
 * all was written.                                                                               */
PERF_COLD_FN_ int perf_write_lines_(FILE *file, const char *line, int width)
{
    const char *text, *blank = line;
    perf_char_  ch;
    int         column = 0, whole = 1;

    for (text = line; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (*text == '\033')                    /* a colour: its other characters count, too      */
            column -= text[3] == 'm' ? 3 : 4;
        else
            column += PERF_CAST_(int, perf_char_columns_(ch));
        if (*text == '\n' || *text == ' ')
            blank = text;
        if (*text == '\n')
            column = 0;
        if (width && column > width && blank > line && *blank == ' ' && *text != ' ') {
            whole = whole && perf_out_write_(file, line, PERF_CAST_(size_t, blank - line), 0) &&
                    perf_out_write_(file, "\n    ", 5, 0);
            column = 4 + PERF_CAST_(int, text - blank);
            line = blank + 1;
        }
    }
    return whole && perf_out_write_(file, line, PERF_CAST_(size_t, text - line), 0);
}

/* ---- what is taken down ---- */

/* What will run for `opts`, NULL: the defaults. */
PERF_FN perf_report_opts perf_report_opts_of_(const perf_report_opts *opts)
{
    perf_report_opts options = PERF_ZERO;

    if (opts)
        options = *opts;
    if (options.width > 0 && options.width < 60)
        options.width = 60;
    if (options.view == PERF_VIEW_CSV || options.view == PERF_VIEW_JSON)
        options.width = -1;                     /* a break would stand inside a name              */
    if (options.rows == 0 && (options.view == PERF_VIEW_TABLE || options.view == PERF_VIEW_TREE))
        options.rows = 50;
    else if (options.rows == 0)
        options.rows = -1;
    return options;
}

/* What has been recorded so far. */
PERF_COLD_FN_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts)
{
    perf_snapshot_  snap = PERF_ZERO;
    perf_registry_ *reg;
    size_t          i;

    snap.opts = perf_report_opts_of_(opts);
    snap.clock = perf_clock();
    reg = perf_registry_read_();                /* this image may not have recorded anything      */
    snap.registry = reg;
    snap.tick = snap.clock.tick_ns;             /* ns a tick, as calibrated by now                */
    snap.evidence.busy = -1;
    if (reg) {
        perf_sources_collect_(reg);
        snap.losses = perf_losses_sum_(reg);
        if (perf_lock_(reg)) {
            snap.spent = reg->spent;
            perf_unlock_(&reg->lock);
        }
        snap.spent = perf_spent_since_(&snap.spent, 0);
        snap.row = perf_rows_(reg, snap.opts.sort, snap.tick, &snap.rows);
        snap.failed = !snap.row;
        (void)perf_host_evidence_(&snap.main, reg, &snap.evidence);
        if (snap.opts.view == PERF_VIEW_TREE) {
            snap.tree = perf_tree_make_(reg);
            snap.failed |= !snap.tree;
        }
    }
    for (i = 0; i < snap.rows; i++)
        if (perf_kind_is_host_(snap.row[i].kind))
            snap.self += snap.row[i].figure[PERF_COLUMN_SELF_];
    if (!(snap.self > 0))
        snap.self = 1;
    return snap;
}

/* What rows are sorted by, the largest first. */
PERF_FN double perf_row_key_(const perf_row_ *row, perf_sort by)
{
    if (by == PERF_SORT_CALLS)
        return PERF_CAST_(double, row->count);
    if (row->point)
        return 0;
    switch (PERF_CAST_(int, by)) {
    case PERF_SORT_TOTAL: return row->figure[PERF_COLUMN_TOTAL_];
    case PERF_SORT_MEAN: return row->figure[PERF_COLUMN_MEAN_];
    case PERF_SORT_MAX: return row->figure[PERF_COLUMN_MAX_];
    default: return row->figure[PERF_COLUMN_SELF_];
    }
}

PERF_FN int perf_row_before_(const void *one, const void *two, const void *by)
{
    const perf_row_ *first = PERF_CAST_(const perf_row_ *, one);
    const perf_row_ *second = PERF_CAST_(const perf_row_ *, two);
    perf_sort        sort = *PERF_CAST_(const perf_sort *, by);
    double           key = perf_row_key_(first, sort), other = perf_row_key_(second, sort);

    if (sort != PERF_SORT_NAME && (key > other || key < other))
        return key > other;
    return PERF_LIBC_(strcmp)(first->name, second->name) < 0;
}

/* All rows with calls in them, sorted; *n is their number.  PERF_FREE the result. */
PERF_COLD_FN_ perf_row_ *perf_rows_(perf_registry_ *reg, perf_sort by, double tick, size_t *n)
{
    uint32_t   id, count = PERF_ACQ_(&reg->count);
    perf_row_ *row = PERF_CAST_(perf_row_ *, PERF_MALLOC((count + 1) * sizeof *row));
    perf_sum_ *sum = PERF_CAST_(perf_sum_ *, PERF_MALLOC(sizeof *sum));     /* in ticks           */

    *n = 0;
    if (!row || !sum) {
        PERF_FREE(row);
        PERF_FREE(sum);
        return PERF_NULL_;
    }
    for (id = 1; id < count; id++) {
        perf_row_fill_(&row[*n], reg, id, sum, tick);   /* in ns, of all threads                  */
        if (row[*n].count)
            ++*n;
    }
    perf_sort_items_(row, *n, sizeof *row, perf_row_before_, &by);
    PERF_FREE(sum);
    return row;
}

/* ---- the view that is asked for ---- */

/* Writes it in the view that is asked for: a table or a tree with what stands above and below. */
PERF_COLD_FN_ void perf_snapshot_put_(perf_out_ *out, const perf_snapshot_ *snap)
{
    perf_registry_ *reg = snap->registry;

    switch (PERF_CAST_(int, snap->opts.view)) {
    case PERF_VIEW_CSV: perf_put_csv_report_(out, snap); return;
    case PERF_VIEW_JSON: perf_put_json_report_(out, snap); return;
    case PERF_VIEW_DIAGNOSIS:
        if (reg && PERF_ACQ_(&reg->put_diagnosis))
            reg->put_diagnosis(out, PERF_DIAGNOSIS_LINES_);
        else
            perf_put_(out, "diagnosis: one file has to define PERF_DIAGNOSIS 1 and include "
                           "perf_diagnosis.h\n");
        return;
    default: break;
    }
    perf_put_clock_(out, &snap->clock);
    perf_put_spent_(out, &snap->spent);
    if (reg) {
        if (snap->opts.view == PERF_VIEW_TREE) {
            perf_put_tree_(out, snap);
        } else {
            perf_put_scopes_(out, snap);
            perf_put_waits_(out, snap);
            perf_put_bound_(out, snap);
            perf_put_counters_(out, snap);
            if (PERF_ACQ_(&reg->put_marks))
                PERF_ACQ_(&reg->put_marks)(out, reg);
        }
        perf_put_open_(out, reg);
        perf_put_losses_(out, snap);
        perf_put_sources_(out, reg, 0);
    }
    perf_report_results_(out);
}

/* ---- above and below the table ---- */

/* One bit of perf_clock_info.warnings in words. */
PERF_COLD_FN_ const char *perf_clock_text_(uint32_t warning)
{
    switch (PERF_CAST_(int, warning)) {
    case PERF_CLOCK_NOT_INVARIANT:
        return "the cpu counter changes speed: clock_gettime used instead";
    case PERF_CLOCK_BACKWARDS: return "the clock was seen going backwards";
    case PERF_CLOCK_ROUGH: return "calibrated for too short: rate known to worse than 0.1 %";
    case PERF_CLOCK_MIXED: return "files of this program disagree about PERF_CLOCK";
    case PERF_CLOCK_STANDS:
        return "the system's clock stands still: a tick is shown as a nanosecond";
    default: return "no warning";
    }
}

/* "clock tsc: readings 9.81 ns apart, 11.6 ns each, 2445.5 MHz within 134 ppm", and blanks, so that
 * the text stays as long when the clock is measured again.                                       */
PERF_COLD_FN_ void perf_put_clock_(perf_out_ *out, const perf_clock_info *clock)
{
    uint32_t bit;
    size_t   end;

    perf_putf_(out, "clock %s: readings ", clock->name);
    end = out->len + 62;                        /* of the longest such line                       */
    perf_put_ns_(out, clock->resolution_ns);
    perf_put_(out, " apart, ");
    perf_put_ns_(out, clock->cost_ns);
    perf_put_number_(out, " each, ", clock->hz * 1e-6, clock->hz < 1e9 ? 3 : 1);
    perf_put_number_(out, " MHz within ", clock->error_ppm, clock->error_ppm < 10 ? 2 : 0);
    perf_put_(out, " ppm");
    if (!out->width && out->len < end)
        perf_put_blanks_(out, end - out->len);
    perf_put_char_(out, '\n');
    for (bit = 1; bit <= clock->warnings; bit <<= 1)
        if (clock->warnings & bit)
            perf_putf_(out, "warning: %s\n", perf_clock_text_(bit));
}

/* Says whether the process was running, as times of scopes are the wall's.  Blanks fill the line
 * up, so that the text stays as long when the numbers grow.                                      */
PERF_COLD_FN_ void perf_put_spent_(perf_out_ *out, const perf_spent_ *spent)
{
    const double cpu = PERF_CAST_(double, spent->cpu_ns), wall = PERF_CAST_(double, spent->ns);
    const size_t end = out->len + 92;           /* of the longest such line                       */

    if (!(wall > 0))
        return;
    perf_putf_(out, "processor time: %.0f %% of one processor (", cpu / wall * 100);
    perf_put_ns_(out, cpu);
    perf_put_(out, " in ");
    perf_put_ns_(out, wall);
    perf_putf_(out, "), taken away %.0f time%s", PERF_CAST_(double, spent->switches),
               spent->switches == 1 ? "" : "s");
    if (!out->width && out->len < end)
        perf_put_blanks_(out, end - out->len);
    perf_put_char_(out, '\n');
}

/* What other sources of durations add: members of JSON, or lines below the table. */
PERF_COLD_FN_ void perf_put_sources_(perf_out_ *out, perf_registry_ *reg, int json)
{
    perf_source_ *source;

    for (source = PERF_ACQ_(&reg->sources); source; source = source->next)
        if (source->report)
            source->report(out, json);
}

/* ---- the table ---- */

/* Are there as many rows as were asked for? */
PERF_FN int perf_rows_full_(const perf_snapshot_ *snap, size_t shown)
{
    return snap->opts.rows >= 0 && shown >= PERF_CAST_(size_t, snap->opts.rows);
}

PERF_COLD_FN_ void perf_put_left_(perf_out_ *out, size_t rows)
{
    if (rows)
        perf_putf_(out, "... and %.0f more\n", PERF_CAST_(double, rows));
}

/* A row for each scope, up to as many as were asked for. */
PERF_COLD_FN_ void perf_put_scopes_(perf_out_ *out, const perf_snapshot_ *snap)
{
    static const perf_column_ column[] = {
        {"scope", 28, 0, 0},   {"calls", 10, 0, 0},  {"total", 10, 0, 0},  {"self", 10, 0, 0},
        {"share", 9, 0, 0},    {"", 10, 'e', 1},     {"mean", 10, 'c', 0}, {"p50", 10, 'b', 0},
        {"p95", 10, 'd', 0},   {"p99", 10, 'a', 0},  {"max", 10, 'f', 0}};
    perf_table_ table = perf_table_open_(out, column, 11);
    size_t      i, shown = 0, left = 0;

    for (i = 0; i < snap->rows; i++) {
        if (snap->row[i].point)
            continue;
        if (perf_rows_full_(snap, shown)) {
            left++;
            continue;
        }
        if (!shown++)
            perf_table_head_(&table);
        perf_put_row_(&table, &snap->row[i], snap);
    }
    perf_put_left_(out, left);
}

/* A bar of nine columns. */
PERF_COLD_FN_ void perf_table_bar_(perf_table_ *table, double share)
{
    char      text[32];
    perf_out_ out = perf_out_open_(text, sizeof text);
    const int colored = table->out->style & PERF_COLOR_;
    int       i;

    if (colored)
        perf_put_(&out, "\033[36m");
    for (i = 1; i < 10; i++)
        perf_put_char_(&out, i <= share * 9 + 0.5 ? '#' : ' ');
    if (colored)
        perf_put_(&out, "\033[0m");
    perf_table_text_(table, text);
}

/* "12.3 %" */
PERF_COLD_FN_ void perf_table_percent_(perf_table_ *table, double share)
{
    char      text[32];
    perf_out_ out = perf_out_open_(text, sizeof text);

    perf_putf_(&out, "%.1f %%", share * 100);
    perf_table_text_(table, text);
}

/* The cells of one row, from left to right. */
PERF_COLD_FN_ void perf_put_row_(perf_table_ *table, const perf_row_ *row,
                                 const perf_snapshot_ *snap)
{
    const double *figure = row->figure;
    const double  share = figure[PERF_COLUMN_SELF_] / snap->self;

    perf_table_text_(table, row->name);
    perf_table_fixed_(table, PERF_CAST_(double, row->count), 0);
    perf_table_ns_(table, figure[PERF_COLUMN_TOTAL_]);
    if (perf_kind_is_host_(row->kind)) {
        perf_table_ns_(table, figure[PERF_COLUMN_SELF_]);
        perf_table_percent_(table, share);
        perf_table_bar_(table, share);
    } else {
        perf_table_text_(table, perf_kind_text_(row->kind));
        perf_table_text_(table, "");
        perf_table_text_(table, "");
    }
    perf_table_ns_(table, figure[PERF_COLUMN_MEAN_]);
    perf_table_ns_(table, figure[PERF_COLUMN_P50_]);
    perf_table_ns_(table, figure[PERF_COLUMN_P95_]);
    perf_table_ns_(table, figure[PERF_COLUMN_P99_]);
    perf_table_ns_(table, figure[PERF_COLUMN_MAX_]);
    perf_table_row_end_(table);
}

/* A number of the user with two decimals; a small one as "3.00e-4". */
PERF_COLD_FN_ void perf_table_number_(perf_table_ *table, double x)
{
    char      text[48];
    perf_out_ out = perf_out_open_(text, sizeof text);
    double    size = x < 0.0 ? -x : x;
    int       power;

    if (!(size > 0.0) || size >= 0.01) {
        perf_table_fixed_(table, x, 2);
        return;
    }
    power = perf_power_of_ten_(size, &size);
    perf_putf_(&out, "%s%.2fe%.0f", x < 0.0 ? "-" : "", size, PERF_CAST_(double, power));
    perf_table_text_(table, text);
}

/* Counters: their last, mean and extreme values; instants: how many there were. */
PERF_COLD_FN_ void perf_put_counters_(perf_out_ *out, const perf_snapshot_ *snap)
{
    static const perf_column_ column[] = {{"counter", 28, 0, 0}, {"updates", 8, 0, 0},
                                          {"last", 10, 0, 0},    {"mean", 10, 0, 0},
                                          {"min", 10, 0, 0},     {"max", 10, 0, 0}};
    perf_table_ table = perf_table_open_(out, column, 6);
    size_t      i;
    int         titles = 0;

    for (i = 0; i < snap->rows; i++) {
        const perf_row_ *row = &snap->row[i];
        if (!row->point)
            continue;
        if (!titles++)
            perf_table_head_(&table);
        perf_table_text_(&table, row->name);
        perf_table_fixed_(&table, PERF_CAST_(double, row->count), 0);
        if (row->numbers) {
            perf_table_number_(&table, row->figure[PERF_COLUMN_LAST_]);
            perf_table_number_(&table, row->figure[PERF_COLUMN_MEAN_]);
            perf_table_number_(&table, row->figure[PERF_COLUMN_MIN_]);
            perf_table_number_(&table, row->figure[PERF_COLUMN_MAX_]);
        }
        perf_table_row_end_(&table);
    }
}

PERF_COLD_FN_ void perf_put_waiting_(perf_out_ *out, const char *what, double ns,
                                     const perf_snapshot_ *snap)
{
    if (!(ns > 0))
        return;
    perf_putf_(out, "waiting for %s: %.1f %% of the time in scopes\n", what,
               ns / snap->self * 100);
}

/* What all threads wait for. */
PERF_COLD_FN_ void perf_put_waits_(perf_out_ *out, const perf_snapshot_ *snap)
{
    double data = 0, device = 0, lock = 0;
    size_t i;

    for (i = 0; i < snap->rows; i++) {
        const perf_row_ *row = &snap->row[i];
        const double     self = row->figure[PERF_COLUMN_SELF_];
        switch (PERF_CAST_(int, perf_kind_bound_(row->kind, row->name))) {
        case PERF_BY_SYNCS: device += self; break;
        case PERF_BY_LOCKS: lock += self; break;
        case PERF_BY_DATA: data += self; break;
        default: break;
        }
    }
    perf_put_waiting_(out, "data", data, snap);
    perf_put_waiting_(out, "a device", device, snap);
    perf_put_waiting_(out, "a lock", lock, snap);
}

/* "data wait: 34.0 % of the main thread (1.2 s of 3.5 s in scopes, 1.1 s of it in read)" */
PERF_COLD_FN_ void perf_put_data_wait_(perf_out_ *out, const perf_snapshot_ *snap)
{
    const double wait = PERF_CAST_(double, snap->main.self[PERF_BY_DATA]);
    const double all = PERF_CAST_(double, snap->main.all);

    if (!(wait > 0))
        return;
    perf_putf_(out, "data wait: %.1f %% of the main thread (", wait / all * 100);
    perf_put_ns_(out, wait * snap->tick);
    perf_put_(out, " of ");
    perf_put_ns_(out, all * snap->tick);
    perf_put_(out, " in scopes, ");
    perf_put_ns_(out, PERF_CAST_(double, snap->main.most) * snap->tick);
    perf_putf_(out, " of it in %.40s)\n", snap->main.where);
}

/* What bounds the program, and what part of it the answer is about.  perf_diagnosis.h answers for
 * the unit that repeats.  Without it: the line of the GPU, or the waits of the main thread.      */
PERF_COLD_FN_ void perf_put_bound_(perf_out_ *out, const perf_snapshot_ *snap)
{
    perf_registry_ *reg = snap->registry;
    perf_bound_by   by = perf_bound_decide_(&snap->evidence);

    perf_put_data_wait_(out, snap);
    if (PERF_ACQ_(&reg->put_diagnosis)) {
        perf_put_(out, "bound by: ");
        reg->put_diagnosis(out, PERF_DIAGNOSIS_ANSWER_);
        perf_put_char_(out, '\n');
        return;
    }
    if (by == PERF_BY_UNKNOWN || reg->gpu)
        return;
    perf_putf_(out, "bound by: %s (of the main thread)\n", perf_diagnosis_text(by));
}

/* ---- what is in no row: variables that nobody reads, forked children ---- */

/* All variables that the headers read. */
#define PERF_ENVIRONMENT_ALL_                                                                     \
    "PERF_REPORT, PERF_TRACE, PERF_TRACE_STREAM, PERF_VARIANT, PERF_MACHINE, PERF_RUN_LABEL"
#ifdef PERF_AUTO
#define PERF_ENVIRONMENT_ PERF_ENVIRONMENT_ALL_ ", PERF_AUTO"
#else
#define PERF_ENVIRONMENT_ PERF_ENVIRONMENT_ALL_
#endif

#if defined(__linux__) && PERF_LP64_UNIX_
extern char **perf_environ_ __asm__(PERF_SYM_("environ"));

/* Is a name of `length` bytes in this list, whose words end with a comma? */
PERF_COLD_FN_ int perf_env_listed_(const char *list, const char *name, size_t length)
{
    const char *at = list;

    for (; at; at = PERF_LIBC_(strchr)(at, ',')) {
        while (*at == ',' || *at == ' ')
            at++;
        if (!PERF_LIBC_(strncmp)(at, name, length) && (!at[length] || at[length] == ','))
            return 1;
    }
    return 0;
}

/* Is it the variable of a header that some file of the program has included? */
PERF_COLD_FN_ int perf_env_included_(const char *name, size_t length)
{
    static const char *const more[] = {"PERF_CUPTI", "PERF_COUNTERS", "", "PERF_ROCPROFILER"};
    const perf_registry_    *reg = perf_registry_get_();
    uint32_t                 i;

    for (i = 0; reg && i < 4; i++)
        if (PERF_GET_(&reg->heard_more) >> i & 1 && perf_env_listed_(more[i], name, length))
            return 1;
    return 0;
}

/* The next variable behind *at (0 at the start) that begins with PERF_, and that neither these
 * headers, perf-ab and perfh nor Linux' own perf know.  Returns its length, 0: there is none.    */
PERF_COLD_FN_ size_t perf_env_unknown_(size_t *at, const char **name)
{
    static const char *const others = "PERF_PLACEMENT, PERF_AB, PERF_CONFIG, PERF_EXEC_PATH, "
                                      "PERF_PAGER, PERF_PAGER_IN_USE, PERF_BUILDID_DIR, "
                                      "PERF_COLOR, PERF_TRACE_OWNER, PERF_STREAM_OWNER";
    size_t length;

    while (perf_environ_ && !PERF_SETUID_ && perf_environ_[*at]) {
        *name = perf_environ_[(*at)++];
        length = PERF_LIBC_(strcspn)(*name, "=");
        if (length > 5 && !PERF_LIBC_(strncmp)(*name, "PERF_", 5) &&
            !perf_env_listed_(PERF_ENVIRONMENT_, *name, length) &&
            !perf_env_listed_(others, *name, length) && !perf_env_included_(*name, length))
            return length;
    }
    return 0;
}
#else
#define perf_env_unknown_(at, name)     PERF_CAST_(size_t, 0 * (*(at) + (*(name) != 0)))
#endif

/* Names what is set and read by nobody: a slip of the pen? */
PERF_COLD_FN_ void perf_put_environment_(perf_out_ *out)
{
    const char *name = "";
    char        text[41];
    size_t      at = 0, length = perf_env_unknown_(&at, &name), said;

    for (said = 0; length && said < 3; said++) {
        PERF_LIBC_(memset)(text, 0, sizeof text);
        if (length > sizeof text - 1)
            length = sizeof text - 1;
        PERF_LIBC_(memcpy)(text, name, length);
        perf_putf_(out, "note: %s is set, but is none of " PERF_ENVIRONMENT_ "\n", text);
        length = perf_env_unknown_(&at, &name);
    }
}

/* ---- forked children, as their parent sees them ---- */

#define PERF_CHILD_NAMES_ 32
typedef struct perf_children_ { /* what all descendants of this process have recorded             */
    uint64_t calls, processes;
    int      whole;             /* 0: some of it is where it cannot be read                       */
    uint32_t names;             /* the first PERF_CHILD_NAMES_ that were met                      */
    struct {
        const char *name;
        uint64_t    calls;
    } name[PERF_CHILD_NAMES_];
} perf_children_;

/* Does `memory` lie in the block, with a page to spare?  A child that found no room there points
 * to memory of its own.                                                                          */
PERF_COLD_FN_ int perf_family_has_(const perf_family_ *family, const void *memory)
{
    return PERF_PTR_(uintptr_t, memory) - PERF_PTR_(uintptr_t, family) < family->bytes - 4096;
}

/* The name of an id of a child; NULL: it cannot be read. */
PERF_COLD_FN_ const perf_name_ *perf_member_name_(perf_registry_ *reg, const perf_member_ *member,
                                                  uint32_t id)
{
    perf_name_ **names;

    while (member && member != reg->member && id < member->inherited)
        member = member->parent;
    if (member == reg->member)
        return PERF_ACQ_(&reg->names)[id];
    names = PERF_ACQ_(&member->names);
    if (!perf_family_has_(reg->family, names) || !perf_family_has_(reg->family, names[id]))
        return PERF_NULL_;
    return names[id];
}

PERF_COLD_FN_ void perf_children_add_(perf_children_ *children, const char *name, uint64_t calls)
{
    uint32_t i = 0;

    children->calls += calls;
    while (i < children->names && PERF_LIBC_(strcmp)(children->name[i].name, name))
        i++;
    if (i == PERF_CHILD_NAMES_)
        return;
    if (i == children->names)
        children->name[children->names++].name = name;
    children->name[i].calls += calls;
}

/* Calls of a name in one recorder of a child, which may be writing: its ring of cells may not
 * close.                                                                                         */
PERF_COLD_FN_ uint64_t perf_shown_calls_(const perf_family_ *family, perf_cell_ *first)
{
    perf_cell_ *cell = first;
    uint64_t    calls = 0, cells = 0;

    while (perf_family_has_(family, cell) && cells++ < family->bytes / 64) {
        calls += PERF_GET_(&cell->count);
        cell = PERF_ACQ_(&cell->kin);
        if (cell == first)
            break;
    }
    return calls;
}

/* Adds the scopes of one child. */
PERF_COLD_FN_ void perf_member_add_(perf_registry_ *reg, const perf_member_ *member,
                                    perf_children_ *children)
{
    const perf_shown_ *shown = PERF_ACQ_(&member->recorders);
    const uint64_t     before = children->calls;
    const perf_name_  *name;
    perf_cell_       **cell;
    uint64_t           calls;
    uint32_t           id, room;

    for (; shown; shown = shown->next) {
        room = PERF_ACQ_(&shown->room);
        cell = PERF_ACQ_(&shown->cell);
        for (id = 1; id < room && perf_family_has_(reg->family, cell); id++) {
            calls = perf_shown_calls_(reg->family, PERF_ACQ_(&cell[id]));
            if (!calls)
                continue;
            name = perf_member_name_(reg, member, id);
            if (!name)
                children->whole = 0;
            else if (perf_kind_is_host_(name->kind))
                perf_children_add_(children, name->site.name, calls);
        }
    }
    children->processes += children->calls > before;
}

/* The scopes of all descendants that have recorded any. */
PERF_COLD_FN_ void perf_children_count_(perf_registry_ *reg, perf_children_ *children)
{
    perf_family_ *family = PERF_ACQ_(&reg->family);
    perf_member_ *member = family ? PERF_ACQ_(&family->members) : PERF_NULL_;

    PERF_LIBC_(memset)(children, 0, sizeof *children);
    children->whole = !family || !PERF_GET_(&family->full);
    for (; member; member = member->next)
        if (perf_member_ours_(reg, member))
            perf_member_add_(reg, member, children);
}

/* Writes what forked processes have recorded, which is in none of the rows: how many calls, and
 * the three names with the most.  A name that is written has no calls from then on.              */
PERF_COLD_FN_ void perf_put_children_(perf_out_ *out, perf_registry_ *reg)
{
    perf_children_ children;
    uint32_t       i, most, said;

    perf_children_count_(reg, &children);
    if (!children.calls)
        return;
    perf_putf_(out, "note: %.0f forked process%s recorded %.0f calls that are in no row: ",
               PERF_CAST_(double, children.processes), children.processes > 1 ? "es" : "",
               PERF_CAST_(double, children.calls));
    for (said = 0; said < 3 && said < children.names; said++) {
        most = 0;
        for (i = 1; i < children.names; i++)
            if (children.name[i].calls > children.name[most].calls)
                most = i;
        if (!children.name[most].calls)
            break;
        perf_putf_(out, "%s%.40s %.0f", said ? ", " : "", children.name[most].name,
                   PERF_CAST_(double, children.name[most].calls));
        children.name[most].calls = 0;
    }
    if (children.names > 3)
        perf_put_(out, ", ...");
    if (!children.whole)
        perf_put_(out, " (and more)");
    perf_put_char_(out, '\n');
}

/* ---- the tree ---- */

PERF_COLD_FN_ void perf_put_part_(perf_out_ *out, double share, int width)
{
    perf_put_fixed_in_(out, share * 100, 1, width - 2);
    perf_put_(out, " %");
}

/* One line of the tree: its numbers, then its name behind as many blanks as it is deep. */
PERF_COLD_FN_ void perf_put_node_(perf_out_ *out, const perf_snapshot_ *snap,
                                  const perf_node_ *node, int narrow)
{
    const double all = PERF_CAST_(double, snap->tree->node[0].total) + 1e-9;
    const double around = PERF_CAST_(double, snap->tree->node[node->parent].total) + 1e-9;
    const double total = PERF_CAST_(double, node->total);
    const int    numbers = narrow ? 42 : 55, name = 40, least_name = 12;    /* in columns         */
    const int    deepest = 2 * 128;             /* of PERF_TREE_DEPTH_                            */
    const int    room = out->width ? out->width - numbers : name + deepest;
    int          indent = PERF_CAST_(int, 2 * node->depth - 2);

    if (indent > room - least_name)
        indent = room - least_name;
    perf_put_part_(out, total / all, 8);
    if (!narrow)
        perf_put_part_(out, total / around, 12);
    perf_put_ns_in_(out, total * snap->tick, 11);
    perf_put_ns_in_(out, PERF_CAST_(double, node->self) * snap->tick, 11);
    perf_put_fixed_in_(out, PERF_CAST_(double, node->calls), 0, 10);
    perf_put_blanks_(out, PERF_CAST_(size_t, indent + 2));
    (void)perf_put_cut_(out, perf_name_of_(snap->registry, node->name),
                        PERF_CAST_(size_t, out->width ? room - indent : name));
    perf_put_char_(out, '\n');
}

PERF_COLD_FN_ void perf_put_tree_(perf_out_ *out, const perf_snapshot_ *snap)
{
    const int narrow = out->width && out->width < 90;
    uint32_t  i;

    if (!snap->tree || !snap->tree->calls)
        return;
    perf_putf_(out, "of total%s      total       self     calls  scope\n",
               narrow ? "" : "   of parent");
    for (i = 1; i < snap->tree->count && !perf_rows_full_(snap, i - 1); i++)
        perf_put_node_(out, snap, &snap->tree->node[i], narrow); /* stored in the order shown     */
    perf_put_left_(out, snap->tree->count - i);
}

/* ---- notes below both ---- */

/* What is missing from the numbers, in words and as a key of JSON. */
typedef struct perf_loss_words_ {
    const char *key, *one, *many, *both;        /* of one, of more, behind either                 */
} perf_loss_words_;

PERF_COLD_FN_ perf_loss_words_ perf_loss_words_of_(size_t i)
{
    static const perf_loss_words_ words[PERF_LOSS_ALL_] = {
        {"never_ended",
         " scope was never ended (longjmp?): the scope around it, if any, has its time",
         " scopes were never ended (longjmp?): the scope around them, if any, has their time", ""},
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

    return words[i];
}

/* The calls that were longest without a processor, of four threads at most. */
PERF_COLD_FN_ void perf_put_away_(perf_out_ *out, perf_registry_ *reg)
{
    perf_recorder_ *rec = PERF_ACQ_(&reg->recorders);
    int             shown = 0;

    for (; rec && shown < 4; rec = rec->next) {
        const int reset = (PERF_GET_(&rec->request) & PERF_ASK_RESET_) != 0;
        if (!PERF_ACQ_(&rec->away) || reset)
            continue;
        shown++;
        perf_putf_(out, "note: a call of %.40s was without a processor for ",
                   perf_name_of_(reg, PERF_GET_(&rec->away_in)));
        perf_put_ns_(out, PERF_CAST_(double, PERF_GET_(&rec->away)));
        perf_put_char_(out, '\n');
    }
}

PERF_COLD_FN_ void perf_put_losses_(perf_out_ *out, const perf_snapshot_ *snap)
{
    perf_loss_words_ words;
    uint64_t         n;
    size_t           i;

    perf_put_away_(out, snap->registry);
    for (i = 0; i < PERF_LOSS_ALL_; i++) {
        n = snap->losses.n[i];
        words = perf_loss_words_of_(i);
        if (n)
            perf_putf_(out, "note: %.0f%s%s\n", PERF_CAST_(double, n),
                       n == 1 ? words.one : words.many, words.both);
    }
    perf_put_children_(out, snap->registry);
    perf_put_environment_(out);
    if (PERF_GET_(&snap->registry->bad_variant))
        perf_put_(out,
                  "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

typedef struct perf_still_open_ {       /* scopes                                                 */
    uint64_t  count, recursive;         /* recursive: those inside one of their own name          */
    perf_few_ few;                      /* the names of the first                                 */
} perf_still_open_;

PERF_COLD_FN_ perf_still_open_ perf_open_scopes_(perf_registry_ *reg)
{
    perf_still_open_ open = PERF_ZERO;
    perf_recorder_  *rec;
    perf_cell_      *cell, *root;
    uint64_t         recursive;

    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        int32_t depth = PERF_CAST_(int32_t, perf_depth_(rec) - PERF_GET_(&rec->strayed));
        if (depth > 0) {
            open.count += PERF_CAST_(uint32_t, depth);
            recursive = PERF_GET_(&rec->extra);
            if (recursive >= PERF_CAST_(uint32_t, depth))   /* some have ended in other threads   */
                recursive = PERF_CAST_(uint32_t, depth) - 1;
            open.recursive += recursive;
        }
        for (cell = PERF_ACQ_(&rec->open); depth > 0 && cell->parent; cell = cell->parent)
            perf_few_add_(&open.few, perf_name_of_(reg, perf_cell_id_(cell)));
        for (root = &rec->root; root; root = PERF_ACQ_(&root->of.root.older)) {
            cell = PERF_ACQ_(&root->of.root.waiting);
            if (cell) {
                open.count += cell->depth + PERF_GET_(&root->of.root.again_open);
                open.recursive += PERF_GET_(&root->of.root.again_open);
            }
            for (; cell && cell->parent; cell = cell->parent)
                perf_few_add_(&open.few, perf_name_of_(reg, perf_cell_id_(cell)));
        }
    }
    return open;
}

PERF_COLD_FN_ void perf_put_open_(perf_out_ *out, perf_registry_ *reg)
{
    const perf_still_open_ open = perf_open_scopes_(reg);

    if (!open.count)
        return;
    perf_putf_(out, "note: %.0f %s time so far not in the numbers", PERF_CAST_(double, open.count),
               open.count == 1 ? "scope is still open, its" : "scopes are still open, their");
    perf_put_few_(out, &open.few, open.count);
    if (open.recursive)
        perf_putf_(out, "note: %.0f of them recursive, or after a longjmp: put a scope around the "
                        "setjmp\n", PERF_CAST_(double, open.recursive));
}

/* ---- CSV and JSON ---- */

PERF_COLD_FN_ const char *perf_column_key_(size_t i)
{
    static const char *const key[PERF_COLUMNS_] = {"total_ns", "self_ns", "mean_ns",
                                                   "min_ns",   "p50_ns",  "p95_ns",
                                                   "p99_ns",   "max_ns",  "last"};

    return key[i];
}

PERF_COLD_FN_ void perf_put_csv_row_(perf_out_ *out, const perf_row_ *row)
{
    size_t i;

    perf_put_csv_(out, row->name);
    perf_putf_(out, ",%s,%.0f", perf_kind_text_(row->kind), PERF_CAST_(double, row->count));
    for (i = 0; i < PERF_COLUMNS_; i++) {
        perf_put_char_(out, ',');
        if (!perf_is_finite_(row->figure[i]))
            continue;
        if (row->numbers)                       /* of the user: small ones count, too             */
            perf_put_real_(out, row->figure[i]);
        else
            perf_put_fixed_(out, row->figure[i], 3);
    }
    perf_put_char_(out, '\n');
}

PERF_COLD_FN_ void perf_put_csv_report_(perf_out_ *out, const perf_snapshot_ *snap)
{
    size_t i;

    perf_put_(out, "name,kind,calls");
    for (i = 0; i < PERF_COLUMNS_; i++)
        perf_putf_(out, ",%s", perf_column_key_(i));
    perf_put_char_(out, '\n');
    for (i = 0; i < snap->rows && !perf_rows_full_(snap, i); i++)
        perf_put_csv_row_(out, &snap->row[i]);
}

PERF_COLD_FN_ void perf_put_json_row_(perf_writer_ *json, const perf_row_ *row)
{
    size_t i;

    json->line = 1;
    perf_member_open_(json, PERF_NULL_, '{');
    perf_member_text_(json, "name", row->name);
    perf_member_text_(json, "kind", perf_kind_text_(row->kind));
    perf_member_whole_(json, "calls", row->count);
    for (i = 0; i < PERF_COLUMNS_; i++)
        if (row->numbers)
            perf_member_real_(json, perf_column_key_(i), row->figure[i]);
        else
            perf_member_fixed_(json, perf_column_key_(i), row->figure[i], 3);
    perf_member_close_(json, '}');
}

/* A number in `width` columns, so that the text stays as long if the number grows meanwhile. */
PERF_COLD_FN_ void perf_put_json_wide_(perf_writer_ *json, const char *key, double value,
                                       int decimals, int width)
{
    perf_member_key_(json, key);
    perf_put_fixed_in_(json->out, value, decimals, width);
}

/* The clock, and what is known of the process. */
PERF_COLD_FN_ void perf_put_json_head_(perf_writer_ *json, const perf_snapshot_ *snap)
{
    const double   wait = PERF_CAST_(double, snap->main.self[PERF_BY_DATA]);
    perf_children_ children;
    size_t         i;

    perf_member_open_(json, "clock", '{');
    perf_member_text_(json, "name", snap->clock.name);
    perf_put_json_wide_(json, "resolution_ns", snap->clock.resolution_ns, 3, 14);
    perf_put_json_wide_(json, "cost_ns", snap->clock.cost_ns, 3, 14);
    perf_put_json_wide_(json, "error_ppm", snap->clock.error_ppm, 3, 14);
    perf_member_whole_(json, "warnings", snap->clock.warnings);
    perf_member_close_(json, '}');
    json->line = 1;
    perf_member_whole_(json, "open", snap->registry ? perf_open_scopes_(snap->registry).count : 0);
    perf_member_fixed_(json, "data_wait_ns", wait * snap->tick, 3);
    perf_member_fixed_(json, "main_thread_ns", PERF_CAST_(double, snap->main.all) * snap->tick, 3);
    perf_put_json_wide_(json, "cpu_ns", PERF_CAST_(double, snap->spent.cpu_ns), 0, 20);
    perf_put_json_wide_(json, "wall_ns", PERF_CAST_(double, snap->spent.ns), 0, 20);
    perf_put_json_wide_(json, "preemptions", PERF_CAST_(double, snap->spent.switches), 0, 12);
    for (i = 0; i < PERF_LOSS_ALL_; i++)
        perf_member_whole_(json, perf_loss_words_of_(i).key, snap->losses.n[i]);
    if (snap->registry) {
        perf_children_count_(snap->registry, &children);
        perf_member_whole_(json, "child_processes", children.processes);
        perf_member_whole_(json, "child_calls", children.calls);
    }
}

PERF_COLD_FN_ void perf_put_json_report_(perf_out_ *out, const perf_snapshot_ *snap)
{
    perf_writer_ json = {PERF_NULL_, 0, 0};
    size_t       i;

    json.out = out;
    perf_member_open_(&json, PERF_NULL_, '{');
    perf_put_json_head_(&json, snap);
    json.line = 1;
    perf_member_open_(&json, "scopes", '[');
    for (i = 0; i < snap->rows && !perf_rows_full_(snap, i); i++)
        perf_put_json_row_(&json, &snap->row[i]);
    perf_member_close_(&json, ']');
    if (snap->registry) {
        perf_put_sources_(out, snap->registry, 1);
        if (PERF_ACQ_(&snap->registry->put_diagnosis)) {
            json.line = 1;
            perf_member_key_(&json, "diagnosis");
            snap->registry->put_diagnosis(out, PERF_DIAGNOSIS_JSON_);
        }
    }
    perf_member_close_(&json, '}');
    perf_put_char_(out, '\n');
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

/* Only perf_trace.h can write a stream of events: says so if no file includes it. */
PERF_COLD_FN_ void perf_stream_missed_(void)
{
    const char     *path = perf_getenv_("PERF_TRACE_STREAM");
    perf_registry_ *reg = path && *path ? perf_registry_read_() : PERF_NULL_;

    if (reg && !PERF_GET_(&reg->heard_stream) && !reg->child)
        (void)fprintf(stderr, "perf.h: PERF_TRACE_STREAM needs perf_trace.h in the file with "
                              "PERF_AT_EXIT 1\n");
}

#if PERF_POSIX_FILES_ && defined(__GLIBC__) && !PERF_TCC_
extern char perf_single_threaded_ __asm__(PERF_SYM_("__libc_single_threaded"))
    PERF_ATTR_((__weak__));
#define PERF_ALONE_() (!&perf_single_threaded_ || perf_single_threaded_)
#else
#define PERF_ALONE_() 1
#endif

/* Whose is the file at this path?  0: this process's; 1: another one's that has started this one;
 * 2: this one's before an exec.  The variable is "PID PATH" of the first of them.  This process
 * leaves its own to those that it will start, unless it has threads already, which may read the
 * environment now.                                                                               */
PERF_COLD_FN_ int perf_trace_inherited_(const char *variable, const char *path)
{
    const char *owner = perf_getenv_(variable);
    size_t      size = PERF_LIBC_(strlen)(path) + 16;
    char       *own = PERF_CAST_(char *, PERF_MALLOC(size));
    perf_out_   out = perf_out_open_(own, own ? size : 0);
    const char *theirs = owner ? PERF_LIBC_(strchr)(owner, ' ') : PERF_NULL_;
    int         inherited = 0;

    perf_putf_(&out, "%.0f %s", PERF_CAST_(double, perf_process_id_()), path);
    if (own && theirs && !PERF_LIBC_(strcmp)(theirs + 1, path))
        inherited = PERF_LIBC_(strcmp)(owner, own) ? 1 : 2;
#if PERF_POSIX_FILES_
    if (own && !inherited && perf_thread_id_() == perf_process_id_() && PERF_ALONE_())
        (void)perf_setenv_(variable, own, 1);
#endif
    PERF_FREE(own);
    return inherited;
}

static int perf_exit_counted_;          /* for perf_others_tell_                                  */

/* The registry is there from the start: a program may fork before its first scope, and what the
 * children record must be found.  It also notes that the variables were read.                    */
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_at_start_(void)
{
    const char     *trace = perf_getenv_("PERF_TRACE"), *stream = perf_getenv_("PERF_TRACE_STREAM");
    perf_registry_ *reg = PERF_NULL_;

    if (perf_getenv_("PERF_REPORT") || trace || stream)
        reg = perf_registry_read_();
    if (!reg || perf_others_tell_(&reg->heard, &perf_exit_counted_, 0))
        return;
    if (trace && *trace && perf_trace_inherited_("PERF_TRACE_OWNER", trace) == 1)
        reg->started |= 1u;
    if (stream && *stream && perf_trace_inherited_("PERF_STREAM_OWNER", stream))
        reg->started |= 2u;
    if (trace && *trace && !reg->trace_inode)
        reg->trace_inode = perf_file_inode_(trace);
}

/* Is the name a misspelling of this word: do they differ by at most two letters, in one place? */
PERF_COLD_FN_ int perf_env_resembles_(const char *name, size_t length, const char *word)
{
    size_t letters = PERF_LIBC_(strlen)(word), shorter = length;
    size_t head = 0, tail = 0;

    if (shorter > letters)
        shorter = letters;
    while (head < shorter && name[head] == word[head])
        head++;
    while (tail < shorter - head && name[length - 1 - tail] == word[letters - 1 - tail])
        tail++;
    return length - head - tail <= 2 && letters - head - tail <= 2;
}

/* The next variable that nobody reads, and that looks like one which asks for a report, *meant.
 * Returns the length of its name, 0: there is none.                                              */
PERF_COLD_FN_ size_t perf_env_slip_(size_t *at, const char **name, const char **meant)
{
    static const char *const asks[] = {"PERF_REPORT", "PERF_TRACE"};
    size_t                   i, length;

    while ((length = perf_env_unknown_(at, name)) != 0)
        for (i = 0; i < 2; i++) {
            *meant = asks[i];
            if (perf_env_resembles_(*name, length, *meant))
                return length;
        }
    return 0;
}

/* A misspelt variable asks for no report: says so. */
PERF_COLD_FN_ void perf_at_exit_says_(void)
{
    const char *name = "", *meant = "";
    size_t      at = 0, length;

    while ((length = perf_env_slip_(&at, &name, &meant)) != 0)
        (void)fprintf(stderr, "perf.h: %.*s is set, did you mean %s?\n", PERF_CAST_(int, length),
                      name, meant);
}

/* Is PATH a file that another process has saved since this one began?  What is no file in a folder
 * (/dev/stdout) may have changed by this process's own hand.                                     */
PERF_COLD_FN_ int perf_trace_taken_(const perf_registry_ *reg, const char *path)
{
    const uint64_t now = perf_file_inode_(path);
    unsigned       mode;

    return now && now != reg->trace_inode && perf_file_kind_(path, &mode) != PERF_FILE_DIRECT_;
}

/* Has any thread an event? */
PERF_COLD_FN_ int perf_trace_any_(const perf_registry_ *reg)
{
    const perf_recorder_ *rec = PERF_ACQ_(&reg->recorders);

    while (rec && !PERF_GET_(&rec->ring_next))
        rec = rec->next;
    return rec != PERF_NULL_;
}

/* In fresh memory: PATH, or PATH.PID where `beside`, see perf_put_beside_.  NULL: no memory, or
 * PATH is no file in a folder: nothing may stand beside /dev/stdout.                             */
PERF_COLD_FN_ char *perf_path_beside_(const char *path, int beside)
{
    const size_t size = PERF_LIBC_(strlen)(path) + 32;
    char        *own = PERF_NULL_;
    perf_out_    name;
    unsigned     mode;

    if (!beside || perf_file_kind_(path, &mode) != PERF_FILE_DIRECT_)
        own = PERF_CAST_(char *, PERF_MALLOC(size));
    name = perf_out_open_(own, own ? size : 0);
    perf_put_(&name, path);
    if (own && beside)
        perf_put_beside_(own, size, path);
    return own;
}

/* Saves the trace: to PATH.PID in a child, forked or started, if it has an event, and where
 * another process has saved to PATH.  Processes that end at one moment take turns.               */
PERF_COLD_FN_ void perf_at_exit_trace_(const char *path)
{
    perf_registry_ *reg = perf_registry_read_();
    const int       child =
        reg && (reg->child || reg->process != perf_process_id_() ||
                (reg->started & 1u));
    int             folder, taken;
    char           *own;

    if (child && !perf_trace_any_(reg))
        return;
    folder = perf_file_folder_(path, UINT64_C(1000000000));
    taken = reg && !child && perf_trace_taken_(reg, path);
    own = perf_path_beside_(path, child || taken);
    if (!own || perf_trace_save(own) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", own ? own : path);
    else if (taken)
        (void)fprintf(stderr, "perf.h: another process has written %s: this trace is in %s\n", path,
                      own);
    else if (reg)
        reg->trace_inode = perf_file_inode_(path);
    if (folder >= 0)
        (void)perf_close_(folder);
    PERF_FREE(own);
}

PERF_ATTR_((__destructor__, __used__)) PERF_OURS_ static void perf_at_exit_(void)
{
    const char      *report = perf_getenv_("PERF_REPORT"), *trace = perf_getenv_("PERF_TRACE");
    const char      *name = "", *meant = "";
    perf_report_opts opts = PERF_ZERO;
    perf_registry_  *reg = PERF_NULL_;
    size_t           at = 0;

    if (report || trace || perf_getenv_("PERF_TRACE_STREAM") || perf_env_slip_(&at, &name, &meant))
        reg = perf_registry_read_();
    if (reg && perf_others_tell_(&reg->heard, &perf_exit_counted_, 1))
        return;
    perf_stream_missed_();
    if (!report && !trace)
        perf_at_exit_says_();
    if (report && *report && PERF_LIBC_(strcmp)(report, "0")) {
        opts.view = perf_view_asked_(report);
        if (perf_report_to(stderr, &opts) != PERF_OK)
            (void)fprintf(stderr, "perf.h: the report is not whole\n");
    }
    if (trace && *trace)
        perf_at_exit_trace_(trace);
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
