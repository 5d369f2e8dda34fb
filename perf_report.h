/* perf_report.h - reads what was recorded: table, call tree, Chrome trace.
 *
 *     perf_report();                           // the table, on stderr
 *
 * Sections (search for ">>"):  config  report  trace  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "perf_bench.h"
#include "perf_bound.h"
#include "perf_file.h"
#include "perf_record.h"
#include "perf_stats.h"

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

/* >>trace -------------------------------------------------------------------------------------
 * Each thread keeps its last PERF_TRACE_EVENTS scopes.                                           */

/* Writes them as Chrome trace JSON: open it in https://ui.perfetto.dev or chrome://tracing.  The
 * file appears whole or not at all (written beside, then renamed; devices are written directly).
 * Times are perf_now() in microseconds with three decimals: the traces of several processes of one
 * machine fit together.  PERF_EIO when it cannot be written, PERF_EINVAL for no path.            */
PERF_FN perf_status perf_trace_save(const char *path);

/* >>internal: what other headers may use --------------------------------------------------------
 * None takes a lock, but perf_events_each_; memory that is returned is PERF_FREE'd by the caller.
 *   perf_row_, perf_row_fill_, perf_sum_  what all threads recorded under a name; its buckets
 *   perf_row_numbers_, PERF_COLUMNS_  those figures in ns, in the order of the CSV
 *   perf_bucket_value_, perf_scope_tick_ns_  middle of a bucket in ticks; nanoseconds of a tick
 *   perf_kind_text_, perf_fit_, perf_sort_  a kind in words; columns that fit; a sort
 *   perf_kin_, perf_kin_next_, perf_cell_total_, perf_cell_self_  a name's cells; their ticks
 *   perf_host_time_, perf_host_evidence_  what the main thread waits for
 *   perf_tree_, perf_tree_make_, perf_tree_sort_, perf_tree_free_  the call tree; NULL: no memory
 *   perf_node_, perf_tree_path_, PERF_TREE_DEPTH_  a path of names; that of a cell; the deepest
 *   perf_events_, perf_events_each_, perf_events_read_, perf_events_values_  copies of a ring
 *   perf_zone_, perf_zone_at_  one event, decoded; perf_digits_us_  digits
 *   perf_epoch_, perf_epoch_of_, perf_epoch_ns_  how ticks become ns of perf_now()
 *   perf_put_loop_, perf_result_main_, perf_result_words_  of loops
 *   perf_screen_of_  columns of a screen; what it can show                                       */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- report ---- */

typedef struct perf_row_ {      /* one name, all threads; times in ticks                          */
    const char *name;
    uint32_t    kind;
    uint64_t    count, sum, total, self, min, max;
    double      p50, p95, p99;
    double      last, least, most, values;      /* of a counter, or numbers of scopes             */
    uint64_t    numbers;                        /* how many those are                             */
} perf_row_;

/* What is missing from the numbers, and why: the PERF_LOSS_ of all threads, and of the process. */
enum { PERF_LOSS_CUT_ = PERF_LOSSES_, PERF_LOSS_OVERWRITTEN_, PERF_LOSS_UNSENT_, PERF_LOSS_ALL_ };
typedef struct perf_losses_ {
    uint64_t n[PERF_LOSS_ALL_];
} perf_losses_;

/* The durations recorded under one name. */
typedef struct perf_sum_ {
    uint64_t last_at;           /* of a counter: when its last value came                         */
    uint64_t bucket[PERF_CELL_BUCKETS_];
} perf_sum_;

/* Middle of a bucket in ticks. */
PERF_FN double perf_bucket_value_(uint32_t index)
{
    uint64_t bits = PERF_CAST_(uint64_t, index + PERF_CELL_BIAS_) << (52 - PERF_CELL_BITS_);
    double   low = perf_from_bits_(bits);

    return low + (perf_from_bits_(bits + (UINT64_C(1) << (52 - PERF_CELL_BITS_))) - low) / 2;
}

/* Nearest rank: the value at or below which a share q of the calls lie, within [min, max]. */
PERF_FN double perf_sum_quantile_(const perf_sum_ *c, const perf_row_ *row, uint64_t calls,
                                  double q)
{
    double   want = q * PERF_CAST_(double, calls), value;
    uint64_t rank = PERF_CAST_(uint64_t, want), seen = 0;
    uint32_t i;

    if (PERF_CAST_(double, rank) < want || rank == 0)
        rank++;
    for (i = 0; i < PERF_CELL_BUCKETS_ - 1; i++) {
        seen += c->bucket[i];
        if (seen >= rank)
            break;
    }
    value = perf_bucket_value_(i);
    value = value > PERF_CAST_(double, row->max) ? PERF_CAST_(double, row->max) : value;
    return value < PERF_CAST_(double, row->min) ? PERF_CAST_(double, row->min) : value;
}

/* Recursive calls once; never less than what ran inside. */
PERF_FN uint64_t perf_cell_total_(perf_cell_ *c)
{
    uint64_t sum = PERF_GET_(&c->sum), again = PERF_GET_(&c->again);

    return sum > again ? sum - again : 0;
}

/* Without the scopes inside. */
PERF_FN uint64_t perf_cell_self_(perf_cell_ *c)
{
    uint64_t sum = PERF_GET_(&c->sum), inside = PERF_GET_(&c->inside) + PERF_GET_(&c->within);
    uint64_t total = perf_cell_total_(c);
    uint64_t self = sum > inside ? sum - inside : 0;

    return self < total ? self : total;
}

/* The cells of a name in thread t, whoever called it: the first one, and the one after c, or NULL.
 * A thread that has yet to carry out a reset shows nothing.                                      */
PERF_FN perf_cell_ *perf_kin_(perf_recorder_ *t, uint32_t id)
{
    if (id >= PERF_ACQ_(&t->room) || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return PERF_NULL_;
    return PERF_ACQ_(&PERF_ACQ_(&t->cell)[id]);
}

PERF_FN perf_cell_ *perf_kin_next_(perf_cell_ *c, const perf_cell_ *first)
{
    c = PERF_ACQ_(&c->kin);
    return c != first ? c : PERF_NULL_;
}

/* Adds the counters of a cell's durations, with those that are still to be counted. */
PERF_COLD_FN_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *t, perf_cell_ *c)
{
    perf_buckets_ *b = PERF_ACQ_(&c->buckets);
    uint32_t       i, k, at;

    for (i = 0; b && i < b->room; i++) {
        at = b->first + i - PERF_CELL_BIAS_;    /* slack may reach below the first                */
        if (at >= PERF_CELL_BUCKETS_)
            continue;
        sum->bucket[at] += PERF_GET_(&b->n[i]);
        for (k = 0; k < PERF_LATE_; k++)
            sum->bucket[at] += PERF_GET_(&t->late[k]) == &b->n[i];
    }
}

PERF_COLD_FN_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *c)
{
    perf_gauge_ *g = PERF_ACQ_(&c->gauge);
    uint64_t     n = g ? PERF_GET_(&g->n) : 0;
    double       least, most;

    if (!n)
        return;
    least = perf_from_bits_(PERF_GET_(&g->least));
    most = perf_from_bits_(PERF_GET_(&g->most));
    if (!row->numbers || least < row->least)
        row->least = least;
    if (!row->numbers || most > row->most)
        row->most = most;
    row->values += perf_from_bits_(PERF_GET_(&g->values));
    if (PERF_GET_(&g->at) >= sum->last_at) {
        sum->last_at = PERF_GET_(&g->at);
        row->last = perf_from_bits_(PERF_GET_(&g->last));
    }
    row->numbers += n;
}

/* Adds one cell; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *t, perf_cell_ *c)
{
    uint64_t n = PERF_GET_(&c->count), x;

    if (!n)
        return;
    row->count += n;
    if (PERF_KIND_POINT_(row->kind)) {
        perf_sum_gauge_(sum, row, c);
        return;
    }
    row->sum += PERF_GET_(&c->sum);
    row->total += perf_cell_total_(c);
    row->self += perf_cell_self_(c);
    x = PERF_GET_(&c->min);
    row->min = x < row->min || row->count == n ? x : row->min;
    x = PERF_GET_(&c->max);
    row->max = x > row->max ? x : row->max;
    perf_sum_buckets_(sum, t, c);
}

PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *r, uint32_t id, perf_sum_ *sum)
{
    perf_name_    **table = PERF_ACQ_(&r->names);
    perf_recorder_ *t;
    perf_cell_     *first, *c;
    uint64_t        calls = 0;
    uint32_t        i;

    PERF_LIBC_(memset)(sum, 0, sizeof *sum);
    PERF_LIBC_(memset)(row, 0, sizeof *row);
    row->name = table[id]->site.name;
    row->kind = table[id]->kind;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        for (c = first = perf_kin_(t, id); c; c = perf_kin_next_(c, first))
            perf_sum_cell_(sum, row, t, c);
    if (!row->count || PERF_KIND_POINT_(row->kind))
        return;
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += sum->bucket[i];
    row->p50 = perf_sum_quantile_(sum, row, calls, 0.50);
    row->p95 = perf_sum_quantile_(sum, row, calls, 0.95);
    row->p99 = perf_sum_quantile_(sum, row, calls, 0.99);
}

PERF_COLD_FN_ perf_losses_ perf_losses_sum_(perf_registry_ *r)
{
    perf_losses_    l = PERF_ZERO;
    perf_recorder_ *t;
    perf_stream_   *stream = PERF_ACQ_(&r->stream);
    int             failed = stream && PERF_GET_(&stream->state) == PERF_STREAM_FAILED_, i;

    l.n[PERF_LOSS_UNSENT_] = stream ? PERF_GET_(&stream->unsent) : 0;
    l.n[PERF_LOSS_LOST_] = PERF_GET_(&r->lost);
    l.n[PERF_LOSS_CUT_] = PERF_GET_(&r->cut_names);
    l.n[PERF_LOSS_OVERWRITTEN_] = PERF_GET_(&r->retired_lost);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint64_t from = PERF_GET_(&t->ring_lost);
        if (PERF_GET_(&t->request) & PERF_ASK_RESET_)
            continue;                           /* reset, though its thread sleeps or is gone     */
        if (failed)
            l.n[PERF_LOSS_UNSENT_] += perf_ring_unsent_(t);
        if (PERF_GET_(&t->ring_sent) > from)    /* what is in the file is not lost                */
            from = PERF_GET_(&t->ring_sent);
        for (i = 0; i < PERF_LOSSES_; i++)
            l.n[i] += PERF_GET_(&t->losses[i]);
        l.n[PERF_LOSS_OVERWRITTEN_] += perf_ring_dropped_(r, t, from);
    }
    return l;
}

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

/* Shell sort of n items of `size` bytes: no recursion, no <stdlib.h>. */
PERF_COLD_FN_ void perf_sort_(void *items, size_t n, size_t size,
                              int (*before)(const void *, const void *, const void *),
                              const void *with)
{
    char  *item = PERF_CAST_(char *, items), moved[sizeof(perf_row_)];
    size_t gap, i, k;

    for (gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (i = gap; i < n; i++) {
            PERF_LIBC_(memcpy)(moved, item + i * size, size);
            for (k = i; k >= gap && before(moved, item + (k - gap) * size, with); k -= gap)
                PERF_LIBC_(memcpy)(item + k * size, item + (k - gap) * size, size);
            PERF_LIBC_(memcpy)(item + k * size, moved, size);
        }
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

/* The numbers of a row in the order of PERF_COLUMNS_, to a thousandth of a nanosecond. */
#define PERF_COLUMNS_ 9
PERF_COLD_FN_ void perf_row_numbers_(const perf_row_ *row, double tick, double *x)
{
    x[0] = PERF_CAST_(double, row->total) * tick;
    x[1] = PERF_CAST_(double, row->self) * tick;
    x[2] = PERF_CAST_(double, row->sum) * tick / PERF_CAST_(double, row->count);
    x[3] = PERF_CAST_(double, row->min) * tick;
    x[4] = row->p50 * tick;
    x[5] = row->p95 * tick;
    x[6] = row->p99 * tick;
    x[7] = PERF_CAST_(double, row->max) * tick;
    x[8] = 0;
    if (row->numbers) {
        PERF_LIBC_(memset)(x, 0, PERF_COLUMNS_ * sizeof *x);
        x[2] = row->values / PERF_CAST_(double, row->numbers);
        x[3] = row->least;
        x[7] = row->most;
        x[8] = row->last;
    }
}

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

typedef struct perf_host_time_ {        /* of the main thread's scopes themselves, in ticks       */
    uint64_t    self[PERF_BY_ALL_];     /* by what it is evidence of                              */
    uint64_t    all, most;              /* most: of the scope that waits longest for data, ...    */
    const char *where;                  /* ... and its name                                       */
} perf_host_time_;

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

PERF_COLD_FN_ const char *perf_kind_text_(uint32_t kind)
{
    static const char *const text[] = {"scope", "wait",   "async",   "counter",  "instant",
                                       "sync",  "device", "copy in", "copy out", "copy"};

    return kind < sizeof text / sizeof text[0] ? text[kind] : "unknown";
}

/* Nanoseconds of one scope tick. */
PERF_FN double perf_scope_tick_ns_(perf_registry_ *r)
{
    return r && r->clock ? 1.0 : perf_tick_ns_();
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

/* The first names of many, each once. */
typedef struct perf_few_ {
    const char *name[8];
    size_t      n;
} perf_few_;

PERF_COLD_FN_ void perf_few_add_(perf_few_ *few, const char *name)
{
    size_t i;

    for (i = 0; i < few->n && PERF_LIBC_(strcmp)(few->name[i], name) != 0; i++) {
    }
    if (i == few->n && i < sizeof few->name / sizeof *few->name)
        few->name[few->n++] = name;
}

/* ": load, decode\n" */
PERF_COLD_FN_ void perf_put_few_(perf_out_ *o, const perf_few_ *few, uint64_t all)
{
    size_t i;

    for (i = 0; i < few->n; i++)
        perf_putf_(o, "%s%.40s", i ? ", " : ": ", few->name[i]);
    perf_put_(o, few->n && few->n < all ? ", ...\n" : "\n");
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

/* What the main thread waits for, or the first that recorded.  0: it has no time in scopes. */
PERF_COLD_FN_ int perf_host_evidence_(perf_host_time_ *m, perf_registry_ *r, perf_evidence_ *e)
{
    perf_recorder_ *t, *main = PERF_NULL_;
    perf_cell_     *first, *c;
    uint32_t        i;

    PERF_LIBC_(memset)(m, 0, sizeof *m);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        if (t->thread == PERF_GET_(&r->process) || (t->number == 1 && !main))
            main = t;
    for (i = 1; main && i < PERF_ACQ_(&r->count); i++) {
        perf_name_   *name = PERF_ACQ_(&r->names)[i];
        perf_bound_by by = perf_kind_bound_(name);
        uint64_t      self = 0;
        if (!PERF_KIND_HOST_(name->kind))
            continue;
        for (c = first = perf_kin_(main, i); c; c = perf_kin_next_(c, first))
            self += perf_cell_self_(c);
        m->all += self;
        m->self[by] += self;
        if (by == PERF_BY_DATA && self > m->most) {
            m->most = self;
            m->where = name->site.name;
        }
    }
    for (i = 0; i < PERF_BY_ALL_ && m->all; i++)
        e->share[i] = PERF_CAST_(double, m->self[i]) / PERF_CAST_(double, m->all);
    e->share[PERF_BY_CPU] = -1;                 /* in scopes that do not wait: not known to run   */
    return m->all > 0;
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

/* ---- report: tree ---- */

typedef struct perf_node_ {     /* one path of names; indexes into perf_tree_, 0 none             */
    uint32_t name, parent, depth;
    uint64_t calls, total, self;        /* ticks                                                  */
    uint64_t size;                      /* self of it and of all below; not of [0]                */
} perf_node_;

typedef struct perf_tree_ {
    perf_node_ *node;           /* [0] is the root                                                */
    uint32_t    count, room;
    uint32_t   *slot;           /* [2 * room], by hash of parent and name: a node, 0 for none     */
    uint64_t    calls;
    perf_registry_ *registry;
} perf_tree_;

#define PERF_TREE_DEPTH_ 128u   /* deeper calls are added to the node at that depth               */

/* Where the child of `parent` with that name is, or should be. */
PERF_FN uint32_t *perf_tree_slot_(perf_tree_ *tree, uint32_t parent, uint32_t name)
{
    uint32_t mask = 2 * tree->room - 1, at = parent * UINT32_C(2654435761) ^ name * UINT32_C(40503);

    for (at ^= at >> 15;; at++) {
        uint32_t *slot = &tree->slot[at & mask];
        if (!*slot || (tree->node[*slot].name == name && tree->node[*slot].parent == parent))
            return slot;
    }
}

/* Room for so many nodes, a power of two; 0 without memory. */
PERF_COLD_FN_ int perf_tree_grow_(perf_tree_ *tree, uint32_t room)
{
    perf_node_ *more = PERF_CAST_(perf_node_ *, PERF_MALLOC(room * sizeof *more));
    uint32_t   *slot = PERF_CAST_(uint32_t *, PERF_MALLOC(2 * room * sizeof *slot)), i;

    if (!more || !slot) {
        PERF_FREE(more);
        PERF_FREE(slot);
        return 0;
    }
    if (tree->node)
        PERF_LIBC_(memcpy)(more, tree->node, tree->count * sizeof *more);
    PERF_FREE(tree->node);
    PERF_FREE(tree->slot);
    PERF_LIBC_(memset)(slot, 0, 2 * room * sizeof *slot);
    tree->node = more;
    tree->slot = slot;
    tree->room = room;
    for (i = 1; i < tree->count; i++)
        *perf_tree_slot_(tree, more[i].parent, more[i].name) = i;
    return 1;
}

/* The child of `parent` with that name, made if need be; the parent itself without memory. */
PERF_COLD_FN_ uint32_t perf_tree_child_(perf_tree_ *tree, uint32_t parent, uint32_t name)
{
    uint32_t *slot = perf_tree_slot_(tree, parent, name), i = *slot;

    if (i)
        return i;
    if (tree->count == tree->room) {
        if (!perf_tree_grow_(tree, 2 * tree->room))
            return parent;
        slot = perf_tree_slot_(tree, parent, name);
    }
    *slot = i = tree->count++;
    PERF_LIBC_(memset)(&tree->node[i], 0, sizeof tree->node[i]);
    tree->node[i].name = name;
    tree->node[i].parent = parent;
    tree->node[i].depth = tree->node[parent].depth + 1;
    return i;
}

/* A thread's events as they were at one moment, newest first. */
typedef struct perf_events_ {
    perf_event_ *event;
    uint64_t     count;
    uint64_t     thread, number;
    const char  *name;
    const uint32_t *value;      /* of perf_events_values_; NULL: there are none                   */
} perf_events_;

/* Decodes entry *i, and moves *i past it and the entries it needs.  0: not a whole one. */
typedef struct perf_zone_ {
    uint64_t start, length, extra;      /* extra: value of a counter, id of a span                */
    uint32_t name, kind, depth;
    uint64_t remarks;                   /* index of its number or text; *i is behind it           */
} perf_zone_;

PERF_INLINE_FN_ int perf_zone_at_(const perf_events_ *e, uint64_t *i, perf_registry_ *r,
                                  perf_zone_ *z)
{
    uint64_t at = (*i)++, what = e->event[at].what;

    z->name = PERF_CAST_(uint32_t, what >> 32 & 0xffffff);
    z->depth = PERF_CAST_(uint32_t, what >> 56);
    z->start = e->event[at].start;
    z->length = what & PERF_EVENT_MORE_;
    z->extra = 0;
    if (!z->name || z->name >= PERF_ACQ_(&r->count))
        return 0;
    z->kind = PERF_ACQ_(&r->names)[z->name]->kind;
    if (z->length == PERF_EVENT_MORE_) {
        if (at + 1 >= e->count || e->event[at + 1].what)
            return 0;                           /* its first half has been overwritten            */
        *i = at + 2;
        z->length = e->event[at + 1].start;
    }
    if (*i == at + 2 && z->kind == PERF_KIND_ASYNC_) {
        if (at + 2 >= e->count || e->event[at + 2].what)
            return 0;
        z->extra = e->event[at + 2].start;
        *i = at + 3;
    } else if (*i == at + 2 && z->kind == PERF_KIND_COUNT_) {
        z->extra = z->length;
        z->length = 0;
    }
    for (z->remarks = *i; *i < e->count && e->event[*i].what; ++*i)
        if (!PERF_EVENT_PART_(e->event[*i].what))
            break;
    return 1;
}

/* Copies n bytes of the ring before `head`, at most all, less what was overwritten meanwhile. */
PERF_HOT_FN_ void perf_events_read_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t,
                                    uint64_t head, uint64_t n)
{
    uint64_t i, now, room = r->ring_events * sizeof(perf_event_);

    for (i = 0; i < n; i += sizeof(perf_event_)) {
        perf_event_ *from = PERF_CAST_(
            perf_event_ *, perf_event_at_(t, (head - sizeof *from - i) & (room - 1)));
        e->event[i / sizeof *from].start = PERF_ACQ_(&from->start);
        e->event[i / sizeof *from].what = PERF_ACQ_(&from->what);
    }
    now = PERF_GET_(&t->ring_next);             /* with what is being written now; ARM reorders   */
    now += t != PERF_SELF_ && now != head ? 9 * sizeof(perf_event_) : 0;    /* a call's stores    */
    if (now - head + n > room)
        n = now - head > room ? 0 : room - (now - head);
    e->count = n / sizeof(perf_event_);
}

/* Gives numbers and texts to the scopes that they stand in.  value[i] is the index of the first
 * one of the scope at entry i, value[that] of the next; 0: no more.  Of an instant, 1: it is
 * given.  It stays one if its scope is not here, or has a newer one of that name, or 16 others.
 * room: a number for each entry; NULL: none is given.  Hot, or its callers would be cold.        */
PERF_HOT_FN_ void perf_events_values_(perf_events_ *e, perf_registry_ *r, uint32_t *room)
{
    uint64_t   i, at, from[256];
    uint32_t   scope[256], *k, n;
    perf_zone_ z;

    for (i = 0; i < e->count && (!e->event[i].what || !PERF_EVENT_PART_(e->event[i].what)); i++) {
    }
    e->value = i < e->count ? room : PERF_NULL_;
    if (!e->value)
        return;
    PERF_LIBC_(memset)(room, 0, PERF_CAST_(size_t, e->count) * sizeof *room);
    PERF_LIBC_(memset)(scope, 255, sizeof scope);       /* by depth: the latest        */
    for (i = at = 0; i < e->count; at = i) {
        if (!perf_zone_at_(e, &i, r, &z))
            continue;
        if (PERF_KIND_SLICE_(z.kind)) {
            from[z.depth] = z.start;
            scope[z.depth] = PERF_CAST_(uint32_t, at);
        } else if (z.kind == PERF_KIND_INSTANT_ && z.remarks < i && z.depth &&
                   scope[z.depth] < at && z.start >= from[z.depth]) {
            k = &room[scope[z.depth]];
            for (n = *k; n && e->event[n].what != e->event[z.remarks].what; n = room[n])
                room[at]++;
            if (n || room[at] >= 16) {
                room[at] = 0;
                continue;
            }
            room[z.remarks] = *k;
            *k = PERF_CAST_(uint32_t, z.remarks);
            room[at] = 1;
        }
    }
}

/* Hands a copy of the events of every thread there is or was to `use`; 0 without memory. */
PERF_COLD_FN_ int perf_events_each_(perf_registry_ *r, void (*use)(void *, const perf_events_ *),
                                    void *with)
{
    perf_recorder_ *t;
    char           *at, *end, name[sizeof t->name];
    uint64_t        head, n, room = r->ring_events * sizeof(perf_event_);
    int             whole = 1;

    if (!perf_lock_(r))
        return 0;
    r->reading++;                               /* a reset keeps off `retired`                    */
    perf_unlock_(r);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        perf_events_ e = {PERF_NULL_, 0, t->thread, t->number, name, PERF_NULL_};
        (void)perf_lock_(r);                    /* we had it above: this thread is not inside     */
        PERF_LIBC_(memcpy)(name, t->name, sizeof name);
        head = PERF_ACQ_(&t->ring_head);
        n = head - PERF_GET_(&t->ring_lost);
        n = n > room ? room : n;
        n = !PERF_ACQ_(&t->ring) || (PERF_GET_(&t->request) & PERF_ASK_RESET_) ? 0 : n;
        e.event = n ? PERF_CAST_(perf_event_ *, PERF_MALLOC(PERF_CAST_(size_t, n))) : e.event;
        if (e.event)
            perf_events_read_(&e, r, t, head, n);
        perf_unlock_(r);
        use(with, &e);
        whole &= e.event || !n;
        PERF_FREE(e.event);
    }
    (void)perf_lock_(r);
    at = r->retired;
    end = at ? at + r->retired_bytes : at;
    perf_unlock_(r);
    while (at != end) {
        perf_retired_ *old = PERF_PTR_(perf_retired_ *, PERF_PTR_(void *, at));
        perf_events_   e = {PERF_PTR_(perf_event_ *, old + 1), old->count, old->thread,
                            old->number, old->name, PERF_NULL_};
        at = PERF_PTR_(char *, e.event + e.count);
        use(with, &e);
    }
    (void)perf_lock_(r);
    r->reading--;
    perf_unlock_(r);
    return whole;
}

/* The node of a cell: the same path of names, whatever the thread. */
PERF_COLD_FN_ uint32_t perf_tree_path_(perf_tree_ *tree, const perf_cell_ *c)
{
    uint32_t id[PERF_TREE_DEPTH_], n = 0, node = 0;

    for (; c->parent; c = c->parent)
        if (c->depth <= PERF_TREE_DEPTH_)
            id[n++] = PERF_CELL_ID_(c);
    while (n)
        node = perf_tree_child_(tree, node, id[--n]);
    return node;
}

PERF_COLD_FN_ void perf_tree_cell_(perf_tree_ *tree, perf_cell_ *c)
{
    uint64_t calls = PERF_GET_(&c->count), total = perf_cell_total_(c);
    uint32_t node = calls ? perf_tree_path_(tree, c) : 0;

    if (!node)
        return;
    tree->node[node].calls += calls;
    tree->node[node].self += perf_cell_self_(c);
    tree->calls += calls;
    if (c->depth <= PERF_TREE_DEPTH_)           /* else its time is in that total already         */
        tree->node[node].total += total;
}

/* The tree of all that was recorded since the start or the last reset; NULL without memory. */
PERF_COLD_FN_ perf_tree_ *perf_tree_make_(perf_registry_ *r)
{
    perf_tree_     *tree = PERF_CAST_(perf_tree_ *, PERF_MALLOC(sizeof *tree));
    perf_recorder_ *t;
    perf_cell_     *c, *first;
    perf_node_     *n, *up;
    uint32_t        id;

    if (tree)
        PERF_LIBC_(memset)(tree, 0, sizeof *tree);
    if (!tree || !perf_tree_grow_(tree, 256)) {
        PERF_FREE(tree);
        return PERF_NULL_;
    }
    tree->registry = r;
    PERF_LIBC_(memset)(tree->node, 0, sizeof *tree->node);
    tree->count = 1;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        for (id = 1; id < PERF_ACQ_(&r->count); id++)
            if (PERF_KIND_HOST_(PERF_ACQ_(&r->names)[id]->kind))
                for (c = first = perf_kin_(t, id); c; c = perf_kin_next_(c, first))
                    perf_tree_cell_(tree, c);
    for (n = tree->node + tree->count; n-- != tree->node;) {        /* parents come before        */
        n->size += n->self;
        if (n->total < n->size)                 /* it is still open, or was never ended           */
            n->total = n->size;
        up = &tree->node[n->parent];
        up->size += n->size;
        up->total = up->total < n->total ? n->total : up->total;
    }
    return tree;
}

PERF_FN void perf_tree_free_(perf_tree_ *tree)
{
    if (tree) {
        PERF_FREE(tree->node);
        PERF_FREE(tree->slot);
    }
    PERF_FREE(tree);
}

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

/* The order of a walk from the root, largest child first; the newest of equal ones. */
PERF_COLD_FN_ int perf_node_before_(const void *one, const void *two, const void *tree)
{
    const perf_node_ *n = PERF_CAST_(const perf_tree_ *, tree)->node;
    uint32_t          a = *PERF_CAST_(const uint32_t *, one);
    uint32_t          b = *PERF_CAST_(const uint32_t *, two);
    uint32_t          deep = n[a].depth, other = n[b].depth;

    for (; n[a].depth > other; a = n[a].parent) {
    }
    for (; n[b].depth > deep; b = n[b].parent) {
    }
    if (a == b)                                 /* one is inside the other                        */
        return deep < other;
    for (; n[a].parent != n[b].parent; a = n[a].parent)
        b = n[b].parent;
    return n[a].total != n[b].total ? n[a].total > n[b].total : a > b;
}

/* Rewrites the nodes in that order. */
PERF_COLD_FN_ void perf_tree_sort_(perf_tree_ *tree)
{
    perf_node_ *out = PERF_CAST_(perf_node_ *, PERF_MALLOC(tree->count * sizeof *out));
    uint32_t   *order = PERF_CAST_(uint32_t *, PERF_MALLOC(tree->count * sizeof *order));
    uint32_t   *place = tree->slot, i;          /* has room for twice as many, and is done with   */

    for (i = 0; order && i < tree->count; i++)
        order[i] = i;
    if (out && order) {
        perf_sort_(order, tree->count, sizeof *order, perf_node_before_, tree);
        for (i = 0; i < tree->count; i++) {
            out[i] = tree->node[order[i]];
            place[order[i]] = i;
        }
        for (i = 0; i < tree->count; i++)
            out[i].parent = place[out[i].parent];
        PERF_FREE(tree->node);
        tree->node = out;
        out = PERF_NULL_;
    }
    PERF_FREE(out);
    PERF_FREE(order);
}

/* ---- report: CSV and JSON ---- */

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

/* ---- report: what loops have found ---- */

/* The summary by the clock that decides. */
PERF_FN const perf_summary *perf_result_main_(const perf_result *r)
{
    return r->decides == PERF_DECIDES_CPU ? &r->cpu : &r->time;
}

/* "12.3 ns [12.2, 12.4]", the interval left out where there is none. */
PERF_FN void perf_put_estimate_(perf_out_ *o, const perf_summary *s, size_t width)
{
    char      text[96];
    perf_out_ t = perf_out_open_(text, sizeof text);

    perf_putf_(&t, perf_is_finite_(s->p50_low) && perf_is_finite_(s->p50_high)
                       ? "%g [%g, %g]" : "%g [no interval]", s->p50, s->p50_low, s->p50_high);
    perf_put_cell_(o, text, width);
}

/* A percentile; "~" where there are too few slices to bound it from above (p95: 72, p99: 368). */
PERF_COLD_FN_ void perf_put_tail_cell_(perf_out_ *o, double ns, double high)
{
    char      text[40];
    perf_out_ t = perf_out_open_(text, sizeof text);

    perf_putf_(&t, "%s%g", perf_is_finite_(high) ? "" : "~", ns);
    perf_putf_(o, "%10s", text);
}

PERF_COLD_FN_ void perf_put_loop_row_(perf_out_ *o, const char *name, const char *arm,
                                      const perf_summary *s, double first_ns)
{
    char      label[PERF_NAME_MAX_ + 40];
    perf_out_ t = perf_out_open_(label, sizeof label);
    int       width = o->width ? o->width : 98;

    perf_putf_(&t, "%s%s", name, arm);
    perf_putf_(o, "  %-*s", width < 66 ? width - 36 : 30, label);
    perf_put_estimate_(o, s, 34);
    if (width > 75)
        perf_put_tail_cell_(o, s->p95, s->p95_high);
    if (width > 85)
        perf_put_tail_cell_(o, s->p99, s->p99_high);
    perf_putf_(o, width > 95 ? "%10g\n" : "\n", first_ns);
}

/* Each warning between `lead` and `end`. */
PERF_COLD_FN_ void perf_put_notes_(perf_out_ *o, uint32_t warnings, const char *lead,
                                   const char *end)
{
    uint32_t bit;

    warnings &= ~PERF_CAST_(uint32_t, PERF_WARN_UNBOUNDED);     /* an open interval shows itself  */
    for (bit = 1; bit && bit <= warnings; bit <<= 1)
        if (warnings & bit)
            perf_putf_(o, "%s%s%s", lead, perf_warning_text(bit), end);
}

#define perf_put_warnings_(o, warnings) perf_put_notes_(o, warnings, "    note: ", "\n")

/* "3.2 GB/s (16.0 % of the peak of 20.0), 4.1 M items/s" when the caller said what one iteration
 * moves; returns whether there was anything to say.                                              */
PERF_COLD_FN_ int perf_put_rates_(perf_out_ *o, const perf_result *r, const char *lead)
{
    const struct {
        double      x, percent, peak;
        const char *unit;
    } rate[] = {{r->gb_per_s, r->percent_of_peak_gb, r->opts.peak_gb_per_s, " GB/s"},
                {r->gflop_per_s, r->percent_of_peak_gflop, r->opts.peak_gflop_per_s, " GFLOP/s"},
                {r->items_per_s * 1e-6, 0.0, 0.0, " M items/s"}};
    int i, some = 0;

    for (i = 0; i < 3; i++)
        if (rate[i].x > 0.0) {
            double x = rate[i].x;
            perf_put_(o, some++ ? ", " : lead);
            perf_put_fixed_(o, x, 1 + (x < 99.95) + (x < 9.995));
            perf_put_(o, rate[i].unit);
            if (rate[i].percent > 0.0) {
                perf_putf_(o, " (%.1f %% of the peak of ", rate[i].percent);
                perf_put_fixed_(o, rate[i].peak, rate[i].peak < 99.95);
                perf_put_char_(o, ')');
            }
        }
    return some;
}

/* "cpu time decides: why; wall 12 ms [11, 14]", of a bench that measured both clocks. */
PERF_COLD_FN_ void perf_put_clocks_(perf_out_ *o, const perf_result *r, const char *lead)
{
    int cpu = r->decides == PERF_DECIDES_CPU;

    if (!r->cpu.count)
        return;
    perf_putf_(o, "%s%s time decides: %s; %s", lead, cpu ? "cpu" : "wall", r->why,
               cpu ? "wall" : "cpu");
    perf_put_estimate_(o, cpu ? &r->time : &r->cpu, 1);
    perf_put_(o, *lead == ' ' ? "\n" : "");
}

PERF_COLD_FN_ const char *perf_result_words_(perf_result *r)
{
    perf_out_ o;

    if (!r)
        return "";
    o = perf_out_open_(r->text, sizeof r->text);
    if (!r->time.count) {
        perf_putf_(&o, "not measured: %s", perf_status_text(r->status));
        if (r->status == PERF_EINVAL)
            perf_putf_(&o, ": %s", r->why);
    } else {
        perf_put_(&o, "median");
        perf_put_estimate_(&o, perf_result_main_(r), 1);
        perf_put_(&o, " per iteration");
        (void)perf_put_rates_(&o, r, "; ");
        perf_put_clocks_(&o, r, "; ");
    }
    perf_put_notes_(&o, r->warnings, "; note: ", "");
    return r->text;
}

/* "hits 0.8125, misses 12" behind the rates: four digits, or the whole number. */
PERF_COLD_FN_ int perf_put_values_(perf_out_ *o, const perf_loop_ *l, int some)
{
    int i, d;

    for (i = 0; i < PERF_COUNTERS_ && l->counter[i][0]; i++) {
        double x = l->value[i] < 0.0 ? -l->value[i] : l->value[i];
        for (d = 0; x < 1e3 && d < 15 && PERF_CAST_(double, PERF_CAST_(uint64_t, x)) < x; d++)
            x *= 10.0;
        perf_putf_(o, "%s%.40s ", some++ ? ", " : "    ", l->counter[i]);
        perf_put_fixed_(o, l->value[i], d);
    }
    return some;
}

PERF_COLD_FN_ void perf_put_bench_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_result *b = PERF_CAST_(const perf_result *, l->result);

    if (b->time.count) {
        perf_put_loop_row_(o, l->name, "", perf_result_main_(b), b->first_ns);
        if (perf_put_values_(o, l, perf_put_rates_(o, b, "    ")))
            perf_put_(o, "\n");
        perf_put_clocks_(o, b, "    ");
    } else {
        perf_putf_(o, "  %-30s   not measured: %s\n", l->name, perf_status_text(b->status));
    }
    perf_put_warnings_(o, b->warnings);
}

/* Both arms and the verdict, for perf_report. */
PERF_COLD_FN_ void perf_put_ab_(perf_out_ *o, const perf_loop_ *l)
{
    perf_ab_result r = *PERF_CAST_(const perf_ab_result *, l->result);
    int            cpu = r.decides == PERF_DECIDES_CPU;
    double         ratio = r.verdict.ratio.estimate, control = r.control_ratio;

    if (r.baseline.count)
        perf_put_loop_row_(o, l->name, ", baseline", cpu ? &r.baseline_cpu : &r.baseline,
                           r.first_baseline_ns);
    if (r.candidate.count)
        perf_put_loop_row_(o, l->name, ", candidate", cpu ? &r.candidate_cpu : &r.candidate,
                           r.first_candidate_ns);
    perf_putf_(o, "  %.255s: %s\n", l->name, perf_verdict_text(&r.verdict));
    if (r.control_failed || (ratio > 0.0 && control > 0.0 &&
                             (ratio > 1.05 * control || control > 1.05 * ratio)))
        perf_putf_(o, "    control: candidate / baseline is %.4f in turns, %.4f after one of them "
                      "had a lead\n", ratio, control);
    if (r.warnings & PERF_CAST_(uint32_t, PERF_WARN_TURNS))
        perf_putf_(o, "    candidate / baseline with the faster one's time alone: %.4f\n",
                   r.alone_ratio);
    if (r.baseline_cpu.count)
        perf_putf_(o, "    %s time decides: %s\n", cpu ? "cpu" : "wall", r.why);
    perf_put_warnings_(o, r.warnings);
}

/* A row for each variant, with what it lags behind and its verdict. */
PERF_COLD_FN_ void perf_put_race_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_race_result *r = PERF_CAST_(const perf_race_result *, l->result);
    perf_verdict            v;
    char                    arm[40];
    int                     i;

    for (i = 0; i < r->count; i++) {
        perf_out_ t = perf_out_open_(arm, sizeof arm);
        perf_putf_(&t, ", %s", r->entry[i].name);
        if (r->entry[i].time.count)
            perf_put_loop_row_(o, l->name, arm, &r->entry[i].time, r->entry[i].first_ns);
    }
    for (i = 0; i < r->count; i++) {
        perf_putf_(o, "  %.255s, %.31s: %s", l->name, r->entry[i].name,
                   r->forced                    ? ""
                   : i == r->best               ? "the best; "
                   : r->entry[i].within_noise   ? "within noise of the best; "
                                                : "");
        if (r->best >= 0 && !r->entry[i].within_noise && r->entry[i].behind > 0.0)
            perf_putf_(o, "%.3fx the best; ", r->entry[i].behind);
        v = r->entry[i].verdict;
        perf_putf_(o, "%s\n", i || r->status != PERF_OK || r->forced ? perf_verdict_text(&v)
                                                                     : "the baseline");
    }
    if (!r->count)
        perf_putf_(o, "  %-30s   not measured: %s\n", l->name, perf_status_text(r->status));
    perf_put_warnings_(o, r->warnings);
}

PERF_COLD_FN_ void perf_put_loop_(perf_out_ *o, const perf_loop_ *l)
{
    (l->kind == 1 ? perf_put_bench_ : l->kind == 2 ? perf_put_ab_ : perf_put_race_)(o, l);
    if (l->note && *l->note)
        perf_putf_(o, "    %s\n", l->note);
}

/* Benches and comparisons in the order they were begun; the list, perf_registry_read_()->results,
 * has the newest first.  It is copied: each loop lies in pages of its own, and to find the one
 * before each of 40,000 by a walk from the start took 84 s.                                      */
PERF_FN void perf_report_results_(perf_out_ *o)
{
    perf_registry_   *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    const perf_loop_ *l, *first, **all;
    perf_few_         few = PERF_ZERO;
    size_t            n = 0, i, open = 0;

    if (!r || !PERF_ACQ_(&r->results) || !perf_loops_hold_(r))
        return;
    first = PERF_ACQ_(&r->results);
    perf_putf_(o, "\n  %-*s%34s%s\n", o->width && o->width < 66 ? o->width - 36 : 30, "benchmark",
               "median [95 % interval]", o->width && o->width < 76   ? ""
                                         : o->width && o->width < 86 ? "       p95"
                                         : o->width && o->width < 96 ? "       p95       p99"
                                                      : "       p95       p99     first");
    for (l = first; l; l = l->next)
        n++;
    all = PERF_CAST_(const perf_loop_ **, PERF_MALLOC(n * sizeof *all));
    for (l = first, i = n; all && l; l = l->next)
        all[--i] = l;
    for (i = 0; i < n; i++, first = first->next) {
        l = all ? all[i] : first;                   /* no memory: newest first                    */
        if (PERF_GET_(&l->forgotten))
            continue;
        if (PERF_ACQ_(&l->done)) {
            perf_put_loop_(o, l);
        } else {
            perf_few_add_(&few, l->name);
            open++;
        }
    }
    PERF_FREE(all);
    if (open) {
        perf_putf_(o, "  %.0f %s begun, but not ended", PERF_CAST_(double, open),
                   open == 1 ? "loop was" : "loops were");
        perf_put_few_(o, &few, open);
    }
    perf_loops_let_(r);
}

/* ---- report: the whole ---- */

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

/* ---- trace ---- */

/* Nanoseconds as microseconds with three decimals, exact. */
PERF_FN char *perf_digits_us_(char *p, uint64_t ns)
{
    char *end = perf_digits_(p, ns < 1000 ? ns + 1000 : ns);

    *p = PERF_CAST_(char, ns < 1000 ? '0' : *p);
    end[0] = end[-1];                           /* the last three move behind the point           */
    end[-1] = end[-2];
    end[-2] = end[-3];
    end[-3] = '.';
    return end + 1;
}

/* Ticks to the nanoseconds of perf_now(): start and end are converted, the length is what lies
 * between them, so that rounding never moves a scope out of the one around it.                   */
typedef struct perf_epoch_ {
    uint64_t                  ticks, ns;
    double                    tick_ns;
    const struct perf_epoch_ *older;            /* for times before `ticks`; NULL: this one       */
} perf_epoch_;

PERF_COLD_FN_ perf_epoch_ perf_epoch_of_(perf_registry_ *r)
{
    perf_epoch_ e = {r->clock ? r->made.ns : r->made.ticks, r->made.ns, perf_scope_tick_ns_(r),
                     PERF_NULL_};

    return e;
}

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *e, uint64_t ticks)
{
    int64_t since = PERF_CAST_(int64_t, ticks - e->ticks);
    double  ns;

    while (since < 0 && e->older) {
        e = e->older;
        since = PERF_CAST_(int64_t, ticks - e->ticks);
    }
    ns = PERF_CAST_(double, since) * e->tick_ns;
    return e->ns + PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
}

typedef struct perf_json_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    char           *prefix;     /* of all names: record up to its time, PERF_PREFIX_ bytes each   */
    uint32_t        names;
} perf_json_;
#define PERF_PREFIX_ 128        /* the length in the first byte; longer ones are written anew     */

/* A record up to its time: head, name, place in the source, the values in e from index `at` on (0:
 * none), as far as there is room.  Returns its length.                                           */
PERF_COLD_FN_ size_t perf_json_head_(perf_json_ *j, char *p, const char *head,
                                     const perf_site_ *site, const perf_events_ *e, uint64_t at)
{
    perf_out_  o = perf_out_open_(p, 3 * PERF_FILE_RECORD_);
    perf_seen_ m;
    int        args = site->file != PERF_NULL_;

    perf_putf_(&o, ",\n{\"ph\":\"%s\",\"name\":%.0s", head, site->name);
    if (args)
        perf_putf_(&o, ",\"args\":{\"source_file\":%.0s,\"source_line\":%.0f", site->file,
                   1.0 * (site->line & 0xffffff));
    for (; at && o.len < 2 * PERF_FILE_RECORD_; at = e->value ? e->value[at] : 0) {
        if (!perf_remark_read_(&e->event[at], e->count - at, &m))
            break;
        perf_putf_(&o, "%s%.0s:", args++ ? "," : ",\"args\":{",
                   PERF_ACQ_(&j->registry->names)[m.name]->site.name);
        if (m.kind == PERF_REMARK_IS_TEXT_)
            perf_put_json_(&o, m.text);
        else if (perf_is_finite_(m.value))
            perf_put_fixed_(&o, m.value, 6);
        else
            perf_put_(&o, "null");
    }
    perf_put_(&o, args ? "},\"ts\":" : ",\"ts\":");
    return o.len;
}

/* The other kinds: counters, instants, spans that may overlap. */
PERF_COLD_FN_ void perf_json_other_(perf_json_ *j, const perf_zone_ *z, const perf_events_ *e,
                                    const char *where)
{
    perf_file_ *f = &j->file;
    perf_site_ *site = &PERF_ACQ_(&j->registry->names)[z->name]->site, bare = *site;
    uint64_t    start = perf_epoch_ns_(&j->epoch, z->start);
    double      value = perf_from_bits_(z->extra);
    int         half = 0;

    bare.file = PERF_NULL_;                     /* an end's; a counter's args are its value       */
    do {
        f->p += perf_json_head_(j, f->p, z->kind == PERF_KIND_INSTANT_ ? "i\",\"s\":\"t"
                                      : z->kind == PERF_KIND_COUNT_ ? "C"
                                      : half ? "e\",\"cat\":\"async" : "b\",\"cat\":\"async",
                                half || z->kind == PERF_KIND_COUNT_ ? &bare : site, e,
                                z->kind == PERF_KIND_INSTANT_ ? z->remarks : 0);
        f->p = perf_digits_us_(f->p, half ? perf_epoch_ns_(&j->epoch, z->start + z->length)
                                         : start);
        if (z->kind == PERF_KIND_ASYNC_) {
            perf_file_put_(f, ",\"id\":\"");
            f->p = perf_digits_(f->p, z->extra);
            perf_file_put_(f, "\"");
        } else if (z->kind == PERF_KIND_COUNT_ && perf_is_finite_(value)) {
            perf_file_putf_(f, ",\"args\":{\"value\":%.6f}", value);
        } else if (z->kind == PERF_KIND_COUNT_) {
            perf_file_put_(f, ",\"args\":{\"value\":null}");
        }
        perf_file_put_(f, where);
    } while (z->kind == PERF_KIND_ASYNC_ && !half++);
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  Marked hot, because gcc would otherwise see that only cold
 * functions call it, and would use slow divisions to save space.                                 */
PERF_HOT_FN_ void perf_json_thread_(void *with, const perf_events_ *events)
{
    perf_json_  *j = PERF_CAST_(perf_json_ *, with);
    perf_file_  *f = &j->file;
    perf_events_ copy = *events, *e = &copy;
    char         where[64];
    perf_out_    w = perf_out_open_(where, sizeof where);
    perf_zone_   z;
    uint64_t     i = 0, at, start;
    uint32_t    *room = PERF_CAST_(uint32_t *, PERF_MALLOC(
                    PERF_CAST_(size_t, e->count) * sizeof *room + 1));

    perf_putf_(&w, ",\"pid\":%.0f,\"tid\":%.0f}",
               PERF_CAST_(double, PERF_GET_(&j->registry->process)), PERF_CAST_(double, e->thread));
    if (e->name[0])
        perf_file_putf_(f, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":%.0s}%s",
                        e->name, where);
    perf_events_values_(e, j->registry, room);
    for (at = 0; i < e->count; at = i) {
        const char *prefix;
        uint32_t    value = e->value ? e->value[at] : 0;
        if (!perf_zone_at_(e, &i, j->registry, &z) || (value && z.kind == PERF_KIND_INSTANT_))
            continue;
        if (f->p > f->limit)
            perf_file_flush_(f);
        if (!PERF_KIND_SLICE_(z.kind)) {
            perf_json_other_(j, &z, e, where);
            continue;
        }
        prefix = j->prefix + PERF_CAST_(size_t, z.name) * PERF_PREFIX_;
        if (z.name < j->names && *prefix && !value) {
            PERF_LIBC_(memcpy)(f->p, prefix + 1, PERF_PREFIX_);
            f->p += PERF_CAST_(unsigned char, *prefix);
        } else {
            f->p += perf_json_head_(j, f->p, "X", &PERF_ACQ_(&j->registry->names)[z.name]->site, e,
                                    value);
        }
        start = perf_epoch_ns_(&j->epoch, z.start);
        f->p = perf_digits_us_(f->p, start);
        PERF_LIBC_(memcpy)(f->p, ",\"dur\":", 7);
        f->p = perf_digits_us_(f->p + 7, perf_epoch_ns_(&j->epoch, z.start + z.length) - start);
        PERF_LIBC_(memcpy)(f->p, where, sizeof where);
        f->p += w.len;
    }
    PERF_FREE(room);
}

/* Writes everything of the process to an open file. */
PERF_COLD_FN_ void perf_json_write_(void *with)
{
    perf_json_  *j = PERF_CAST_(perf_json_ *, with);
    perf_file_  *f = &j->file;
    perf_losses_ l = perf_losses_sum_(j->registry);
    uint32_t     id;

    for (id = 1; id < j->names; id++) {
        char  *to = j->prefix + PERF_CAST_(size_t, id) * PERF_PREFIX_;
        size_t n = perf_json_head_(j, f->p, "X", &PERF_ACQ_(&j->registry->names)[id]->site,
                                   PERF_NULL_, 0);
        to[0] = n < PERF_PREFIX_ ? PERF_CAST_(char, n) : '\0';
        PERF_LIBC_(memcpy)(to + 1, f->p, PERF_PREFIX_ - 1);
    }
    perf_file_putf_(f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":%.0f,"
                       "\"uncounted_scopes\":%.0f},\"traceEvents\":[\n",
                    PERF_CAST_(double, l.n[PERF_LOSS_OVERWRITTEN_]),
                    PERF_CAST_(double, l.n[PERF_LOSS_LOST_] + l.n[PERF_LOSS_ORPHANS_]));
    perf_file_putf_(f, "{\"ph\":\"M\",\"name\":\"process_labels\",\"args\":{\"labels\":\"perf.h\"},"
                       "\"pid\":%.0f}", PERF_CAST_(double, PERF_GET_(&j->registry->process)));
    if (!perf_events_each_(j->registry, perf_json_thread_, j))
        f->failed = 1;
    perf_file_put_(f, "\n]}\n");
    perf_file_flush_(f);
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    perf_json_  j = PERF_ZERO;
    perf_status status;

    j.registry = perf_registry_read_();
    if (!j.registry)
        return PERF_ENOMEM;
    perf_sources_collect_(j.registry);
    j.epoch = perf_epoch_of_(j.registry);
    j.names = PERF_ACQ_(&j.registry->count);
    j.prefix = PERF_CAST_(char *, PERF_MALLOC((j.names + 2) * PERF_PREFIX_));
    if (!j.prefix)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &j.file, perf_json_write_, &j);
    PERF_FREE(j.prefix);
    return status;
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

PERF_ATTR_((__destructor__, __used__)) static void perf_at_exit_(void)
{
    const char      *report = perf_getenv_("PERF_REPORT"), *trace = perf_getenv_("PERF_TRACE");
    perf_report_opts o = PERF_ZERO;

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
#define perf_trace_save(path) PERF_OFF_CODE_((perf_trace_save)(path))
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
