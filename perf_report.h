/* perf_report.h - reads what was recorded: table, call tree, memory phases, tallies, Chrome trace.
 *
 *     perf_report();                           // the table, on stderr
 *
 * Sections (search for ">>"):  config  report  trace  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "perf_bench.h"
#include "perf_file.h"
#include "perf_record.h"
#include "perf_stats.h"
#include <stdio.h>

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_AT_EXIT            /* 1 in one file of a program (the one with main): when it ends,  */
#define PERF_AT_EXIT 0          /* PERF_REPORT=1 (or tree, csv, json) in the environment prints   */
#endif                          /* the report on stderr, PERF_TRACE=file saves the trace          */

PERF_BEGIN_DECLS

/* >>report ------------------------------------------------------------------------------------
 * What has been recorded so far, while threads go on recording.  Allocates; takes no lock that a
 * running scope ever waits for.                                                                  */

typedef enum perf_sort {
    PERF_SORT_SELF,             /* by time spent in the scope itself, largest first               */
    PERF_SORT_TOTAL,
    PERF_SORT_CALLS,
    PERF_SORT_MEAN,
    PERF_SORT_P50,
    PERF_SORT_P95,
    PERF_SORT_P99,
    PERF_SORT_MAX,
    PERF_SORT_NAME              /* by name, a to z                                                */
} perf_sort;

/* How a report is laid out. */
typedef enum perf_view {
    PERF_VIEW_TABLE,
    PERF_VIEW_TREE,             /* who called whom, from the events still in the trace            */
    PERF_VIEW_CSV,              /* all scopes, times in ns; the header line names the columns     */
    PERF_VIEW_JSON              /* the same and the clock; NaN never occurs                       */
} perf_view;

typedef struct perf_report_opts {   /* zero = default                                             */
    perf_sort sort;             /* 0 -> PERF_SORT_SELF                                            */
    int       rows;             /* 0 -> 50 in table and tree, all in CSV and JSON; negative: all  */
    perf_view view;             /* 0 -> PERF_VIEW_TABLE                                           */
} perf_report_opts;

PERF_FN perf_report_opts perf_report_opts_default(void);    /* all zero; for C++11 and Cython     */
PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts);  /* what runs   */

/* The table on stderr.  At the end of a program on request: PERF_AT_EXIT in >>config.
 * Columns: calls; total (recursive calls once); self: total less the scopes inside; share: self of
 * all self; mean; the time below which 50, 95, 99 % of the calls stay (within 1.6 %); longest.   */
PERF_FN perf_status perf_report(void);

/* The same to any stream; opts NULL means defaults. */
PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts);

/* The same into buf, always terminated when cap > 0.  Returns the length of the full text, as
 * snprintf does: cut off if it is not below cap; buf NULL with cap 0 asks for the length.        */
PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts);

/* Marks the end of a phase ("load", "solve"): resident and peak memory, heap, page faults, time of
 * the processor, blocks from and to disks, bytes and calls of read and write (pipes and files in
 * memory too) since the mark before, as a table of the report.  Reads /proc: some 40 us and 4 of
 * the read calls.  PERF_ENODATA where the system does not tell.                                  */
PERF_FN perf_status perf_memory_mark(const char *phase);

/* What the scopes of one name have recorded, as a struct without pointers: keep it, send it, add it
 * to those of other processes in any order or tree, the bits of the sum are the same (one
 * MPI_Reduce: docs/mpi.md).  All zero is empty.  44 KB, so not on a small stack.                 */
typedef struct perf_tally {
    perf_hist hist;             /* of the calls in ns: exact extremes, percentiles within 2 %     */
    uint64_t  calls, sum_ns;    /* sum_ns / calls is the mean                                     */
    uint64_t  total_ns;         /* recursive calls once                                           */
    uint64_t  self_ns;          /* without the scopes inside                                      */
    uint64_t  parts;            /* tallies in it: 1 from perf_tally_of                            */
    uint64_t  most_ns, least_ns;        /* largest and smallest total_ns of a part, ...           */
    uint32_t  most, least;      /* ... and its number; of equal ones the lower                    */
} perf_tally;

/* Tally of `name` (the host's scope where a device scope has that name too) from all threads, which
 * may go on; `part` is a number of yours for this process, its rank.  PERF_ENODATA: nothing
 * recorded, *out is then a part without calls, which counts as one in an imbalance.  PERF_EINVAL:
 * no name or out; PERF_ENOMEM: *out is empty.                                                    */
PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out);

/* into += from.  PERF_ERANGE: a sum would overflow; PERF_EINVAL: NULL, or not a tally; either way
 * `into` stays as it was.                                                                        */
PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from);

/* By how much the part with the most time is beyond the mean of all parts: 0.2 is 20 %; 0 when
 * there is no time in it.                                                                        */
PERF_FN double perf_tally_imbalance(const perf_tally *t);

/* >>trace -------------------------------------------------------------------------------------
 * Each thread keeps its last PERF_TRACE_EVENTS scopes.                                           */

/* Writes them as Chrome trace JSON: open it in https://ui.perfetto.dev or chrome://tracing.  The
 * file appears whole or not at all (written beside, then renamed; devices are written directly).
 * Times are perf_now() in microseconds with three decimals: the traces of several processes of one
 * machine fit together.  PERF_EIO when it cannot be written, PERF_EINVAL for no path.            */
PERF_FN perf_status perf_trace_save(const char *path);

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- report ---- */

typedef struct perf_row_ {      /* one name, all threads; times in ticks                          */
    const char *name;
    uint32_t    kind;
    uint64_t    count, sum, total, self, min, max;
    double      p50, p95, p99;
    double      last, least, most, values;      /* of a counter                                   */
} perf_row_;

typedef struct perf_losses_ {   /* what is missing from the numbers, and why                      */
    uint64_t abandoned, disordered, foreign, orphans, lost, misused, overwritten, cut, unsent;
} perf_losses_;

/* All that was recorded under one name, summed up; times in ticks. */
typedef struct perf_sum_ {
    uint64_t count, sum, total, inside, min, max;
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
PERF_FN double perf_sum_quantile_(const perf_sum_ *c, uint64_t calls, double q)
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
    if (value > PERF_CAST_(double, c->max))
        value = PERF_CAST_(double, c->max);
    return value < PERF_CAST_(double, c->min) ? PERF_CAST_(double, c->min) : value;
}

/* Recursive calls once; never less than what ran inside. */
PERF_FN uint64_t perf_cell_total_(perf_cell_ *c)
{
    uint64_t sum = PERF_GET_(&c->sum), again = PERF_GET_(&c->again);

    return sum > again ? sum - again : 0;
}

/* Without the scopes inside; sampled scopes are estimates, which may be more than there was. */
PERF_FN uint64_t perf_cell_self_(perf_cell_ *c)
{
    uint64_t sum = PERF_GET_(&c->sum), inside = PERF_GET_(&c->inside) + PERF_GET_(&c->within);
    uint64_t total = perf_cell_total_(c);
    uint64_t self = sum > inside ? sum - inside : 0;

    return self < total ? self : total;
}

/* Adds the counters of a cell's durations, with the one that is still to be counted. */
PERF_COLD_FN_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *t, perf_cell_ *c)
{
    perf_buckets_ *b = PERF_ACQ_(&c->buckets);
    uint32_t       i, at;

    if (!b)
        return;
    for (i = 0; i < b->room; i++) {
        at = b->first + i - PERF_CELL_BIAS_;    /* slack may reach below the first                */
        if (at < PERF_CELL_BUCKETS_)
            sum->bucket[at] += PERF_GET_(&b->n[i]);
    }
    if (PERF_GET_(&t->late_cell) == c)
        sum->bucket[PERF_BUCKET_INDEX_(PERF_GET_(&t->late)) - PERF_CELL_BIAS_]++;
}

PERF_COLD_FN_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *c)
{
    perf_gauge_ *g = PERF_ACQ_(&c->gauge);
    double       least, most;

    if (!g)
        return;
    least = perf_from_bits_(PERF_GET_(&g->least));
    most = perf_from_bits_(PERF_GET_(&g->most));
    if (!row->count || least < row->least)
        row->least = least;
    if (!row->count || most > row->most)
        row->most = most;
    row->values += perf_from_bits_(PERF_GET_(&g->values));
    if (PERF_GET_(&g->at) >= sum->last_at) {
        sum->last_at = PERF_GET_(&g->at);
        row->last = perf_from_bits_(PERF_GET_(&g->last));
    }
    row->count = sum->count;
}

/* Adds one cell; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *t, perf_cell_ *c)
{
    uint64_t n = PERF_GET_(&c->count), all = PERF_GET_(&c->sum), x;

    if (!n)
        return;
    sum->count += n;
    if (row->kind == PERF_KIND_COUNT_) {
        perf_sum_gauge_(sum, row, c);
        return;
    }
    sum->sum += all;
    sum->total += perf_cell_total_(c);
    sum->inside += perf_cell_total_(c) - perf_cell_self_(c);
    x = PERF_GET_(&c->min);
    sum->min = x < sum->min ? x : sum->min;
    x = PERF_GET_(&c->max);
    sum->max = x > sum->max ? x : sum->max;
    perf_sum_buckets_(sum, t, c);
}

/* Adds what thread t has recorded for a name, whoever called it. */
PERF_COLD_FN_ void perf_sum_thread_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *t, uint32_t id)
{
    perf_cell_ *first, *c, **table;

    if (id >= PERF_ACQ_(&t->room) || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return;
    table = PERF_ACQ_(&t->cell);
    first = c = PERF_ACQ_(&table[id]);
    if (c)
        do
            perf_sum_cell_(sum, row, t, c);
        while ((c = PERF_ACQ_(&c->kin)) != first);
}

PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *r, uint32_t id, perf_sum_ *sum)
{
    perf_name_    **table = PERF_ACQ_(&r->names);
    perf_recorder_ *t;
    uint64_t        calls = 0;
    uint32_t        i;

    memset(sum, 0, sizeof *sum);
    memset(row, 0, sizeof *row);
    sum->min = ~UINT64_C(0);
    row->name = table[id]->site.name;
    row->kind = table[id]->kind;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_sum_thread_(sum, row, t, id);
    row->count = sum->count;
    if (!row->count || PERF_KIND_POINT_(row->kind))
        return;
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += sum->bucket[i];
    row->sum = sum->sum;
    row->total = sum->total;
    row->self = sum->total - sum->inside;
    row->min = sum->min;
    row->max = sum->max;
    row->p50 = perf_sum_quantile_(sum, calls, 0.50);
    row->p95 = perf_sum_quantile_(sum, calls, 0.95);
    row->p99 = perf_sum_quantile_(sum, calls, 0.99);
}

PERF_COLD_FN_ perf_losses_ perf_losses_sum_(perf_registry_ *r)
{
    perf_losses_    l = PERF_ZERO;
    perf_recorder_ *t;
    perf_stream_   *stream = PERF_ACQ_(&r->stream);
    int             failed = stream && PERF_GET_(&stream->state) == PERF_STREAM_FAILED_;

    if (stream)
        l.unsent = PERF_GET_(&stream->unsent);
    l.lost = PERF_GET_(&r->lost);
    l.cut = PERF_GET_(&r->cut_names);
    l.overwritten = PERF_GET_(&r->retired_lost);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint64_t head = PERF_GET_(&t->ring_head), from = PERF_GET_(&t->ring_lost);
        if (PERF_GET_(&t->request) & PERF_ASK_RESET_)
            continue;                           /* forgotten, though its thread sleeps or is gone */
        if (failed)
            l.unsent += (head - PERF_GET_(&t->ring_sent)) / sizeof(perf_event_);
        if (PERF_GET_(&t->ring_sent) > from)    /* what is in the file is not lost                */
            from = PERF_GET_(&t->ring_sent);
        l.abandoned += PERF_GET_(&t->abandoned);
        l.disordered += PERF_GET_(&t->disordered);
        l.foreign += PERF_GET_(&t->foreign);
        l.orphans += PERF_GET_(&t->orphans);
        l.lost += PERF_GET_(&t->lost);
        l.misused += PERF_GET_(&t->misused);
        l.overwritten += perf_ring_dropped_(r, t, from);
    }
    return l;
}

PERF_FN double perf_row_key_(const perf_row_ *r, perf_sort by)
{
    switch (by) {
    case PERF_SORT_TOTAL: return PERF_CAST_(double, r->total);
    case PERF_SORT_CALLS: return PERF_CAST_(double, r->count);
    case PERF_SORT_MEAN: return PERF_CAST_(double, r->sum) / PERF_CAST_(double, r->count);
    case PERF_SORT_P50: return r->p50;
    case PERF_SORT_P95: return r->p95;
    case PERF_SORT_P99: return r->p99;
    case PERF_SORT_MAX: return PERF_CAST_(double, r->max);
    case PERF_SORT_SELF:
    case PERF_SORT_NAME: break;
    }
    return PERF_CAST_(double, r->self);
}

PERF_FN int perf_row_before_(const perf_row_ *a, const perf_row_ *b, perf_sort by)
{
    double x = perf_row_key_(a, by), y = perf_row_key_(b, by);

    if (by != PERF_SORT_NAME && (x > y || x < y))
        return x > y;
    return strcmp(a->name, b->name) < 0;
}

/* Heap sort: no recursion, no worst case, no <stdlib.h>. */
PERF_COLD_FN_ void perf_rows_sort_(perf_row_ *row, size_t n, perf_sort by)
{
    size_t i, end;

    for (i = n / 2, end = n; end > 1;) {
        size_t    root, child;
        perf_row_ moved;
        if (i > 0) {
            moved = row[--i];
        } else {
            moved = row[--end];
            row[end] = row[0];
        }
        for (root = i; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && perf_row_before_(&row[child], &row[child + 1], by))
                child++;
            if (!perf_row_before_(&moved, &row[child], by))
                break;
            row[root] = row[child];
        }
        row[root] = moved;
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
        perf_rows_sort_(row, *n, by);
    if (!sum) {
        PERF_FREE(row);
        row = PERF_CAST_(perf_row_ *, PERF_NULL_);
    }
    PERF_FREE(sum);
    return row;
}

/* Three digits and a unit: "17.4 ns", "1.23 us", "98.2 s". */
PERF_FN void perf_put_time_(perf_out_ *o, double ns)
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    double                   x = ns < 0 ? -ns : ns;
    int                      u = 0;

    while (u < 3 && x >= 999.5) {
        x /= 1000;
        ns /= 1000;
        u++;
    }
    perf_put_fixed_(o, ns, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
    perf_put_(o, unit[u]);
}

PERF_FN void perf_put_spaces_(perf_out_ *o, size_t n)
{
    while (n--)
        perf_put_char_(o, ' ');
}

/* Right-aligned cells of a table. */
PERF_FN void perf_put_cell_(perf_out_ *o, const char *text, size_t width)
{
    size_t n = strlen(text);

    perf_put_spaces_(o, n < width ? width - n : 1);
    perf_put_(o, text);
}

PERF_COLD_FN_ void perf_put_time_cell_(perf_out_ *o, double ns, size_t width)
{
    char      text[48];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_time_(&t, ns);
    perf_put_cell_(o, text, width);
}

PERF_COLD_FN_ void perf_put_number_cell_(perf_out_ *o, double x, int decimals, const char *unit,
                                         size_t width)
{
    char      text[48];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_fixed_(&t, x, decimals);
    perf_put_(&t, unit);
    perf_put_cell_(o, text, width);
}

/* Length of the UTF-8 character at s, 0 if it is not one. */
PERF_COLD_FN_ int perf_utf8_(const char *s)
{
    unsigned char c = PERF_CAST_(unsigned char, *s), second;
    int           n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    int           i;

    for (i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    second = PERF_CAST_(unsigned char, n > 1 ? s[1] : 0);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
        (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

/* A name in at most `width` columns, one a character: control characters, those of UTF-8 too, and
 * bytes that are not UTF-8 shown as '?', long ones cut with "...".  Returns the columns left.    */
PERF_COLD_FN_ size_t perf_put_cut_(perf_out_ *o, const char *name, size_t width)
{
    size_t      columns = 0, shown;
    const char *s;
    int         n;

    for (s = name; *s; s += n ? n : 1, columns++)
        n = perf_utf8_(s);
    for (shown = 0; *name && (columns <= width || shown + 3 < width); shown++) {
        unsigned char c = PERF_CAST_(unsigned char, *name);
        n = perf_utf8_(name);
        if (n == 0 || c < 0x20 || c == 0x7f ||
            (c == 0xc2 && PERF_CAST_(unsigned char, name[1]) < 0xa0)) {
            perf_put_char_(o, '?');
            name += n ? n : 1;
        } else {
            while (n--)
                perf_put_char_(o, *name++);
        }
    }
    if (columns > width)
        perf_put_(o, "...");
    return columns > width ? 0 : width - columns;
}

PERF_FN void perf_put_name_(perf_out_ *o, const char *name, size_t width)
{
    perf_put_spaces_(o, perf_put_cut_(o, name, width));
}

PERF_COLD_FN_ void perf_put_clock_(perf_out_ *o, const perf_clock_info *c)
{
    uint32_t bit;

    perf_put_(o, "clock ");
    perf_put_(o, c->name);
    perf_put_(o, ": readings at least ");
    perf_put_time_(o, c->resolution_ns);
    perf_put_(o, " apart, ");
    perf_put_time_(o, c->cost_ns);
    perf_put_(o, " each, ");
    perf_put_fixed_(o, c->hz * 1e-6, c->hz < 1e9 ? 3 : 1);
    perf_put_(o, " MHz within ");
    perf_put_fixed_(o, c->error_ppm, c->error_ppm < 10 ? 2 : 0);
    perf_put_(o, " ppm\n");
    for (bit = 1; bit <= c->warnings; bit <<= 1)
        if (c->warnings & bit) {
            perf_put_(o, "warning: ");
            perf_put_(o, perf_clock_warning_text(bit));
            perf_put_char_(o, '\n');
        }
}

#define PERF_DATA_BOUND_ 0.3   /* from this share of waiting on it pays to look at the data first */
typedef struct perf_bound_ {
    uint64_t    wait, all, most;       /* ticks: waiting for data, in scopes, in the longest wait */
    uint64_t    sync;                   /* waiting for a device                                   */
    const char *where;
} perf_bound_;

/* One snapshot, so that the text has the same length each time it is written. */
typedef struct perf_snapshot_ {
    perf_report_opts opts;
    perf_clock_info  clock;
    perf_registry_  *registry;
    perf_row_       *row;
    size_t           rows;
    double           tick, self;        /* ns a tick; ticks of self time of all scopes            */
    perf_losses_     losses;
    perf_mark_     **mark;      /* oldest first                                                   */
    size_t           marks;
    struct perf_tree_ *tree;
    perf_bound_        bound;
} perf_snapshot_;

PERF_COLD_FN_ const char *perf_kind_text_(uint32_t kind)
{
    static const char *const text[] = {"scope", "wait",   "async",   "counter",  "instant",
                                       "sync",  "device", "copy in", "copy out", "copy"};

    return kind < sizeof text / sizeof text[0] ? text[kind] : "unknown";
}

PERF_COLD_FN_ void perf_put_row_(perf_out_ *o, const perf_row_ *row, const perf_snapshot_ *s)
{
    double calls = PERF_CAST_(double, row->count);

    perf_put_name_(o, row->name, 28);
    perf_put_number_cell_(o, calls, 0, "", 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->total) * s->tick, 10);
    if (!PERF_KIND_HOST_(row->kind)) {
        perf_put_cell_(o, perf_kind_text_(row->kind), 10);
        perf_put_(o, "         ");
    } else {
        perf_put_time_cell_(o, PERF_CAST_(double, row->self) * s->tick, 10);
        perf_put_number_cell_(o, PERF_CAST_(double, row->self) / s->self * 100, 1, " %", 9);
    }
    perf_put_time_cell_(o, PERF_CAST_(double, row->sum) / calls * s->tick, 10);
    perf_put_time_cell_(o, row->p50 * s->tick, 10);
    perf_put_time_cell_(o, row->p95 * s->tick, 10);
    perf_put_time_cell_(o, row->p99 * s->tick, 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->max) * s->tick, 10);
    perf_put_char_(o, '\n');
}

/* Nanoseconds of one scope tick. */
PERF_FN double perf_scope_tick_ns_(perf_registry_ *r)
{
    return r && r->clock ? 1.0 : perf_tick_ns_();
}

PERF_COLD_FN_ void perf_put_losses_(perf_out_ *o, const perf_losses_ *l)
{
    const struct {
        uint64_t    n;
        const char *one, *many, *what;
    } note[] = {
        {l->abandoned, " scope was never ended (longjmp?): the scope around it has its time",
         " scopes were never ended (longjmp?): the scope around them has their time", ""},
        {l->disordered, " scope", " scopes", " ended after the scope around it: no self time"},
        {l->foreign, " scope was", " scopes were", " ended by another thread: no self time"},
        {l->orphans, " scope was", " scopes were",
         " begun before a fork and not counted in the child"},
        {l->misused, " end without a begin or NaN count was",
         " ends without a begin or NaN counts were", " ignored"},
        {l->lost, " scope was", " scopes were",
         " not counted: no memory, too many names, or new ones in a signal handler"},
        {l->cut, " name was", " names were", " cut to 255 bytes"},
        {l->overwritten, " older trace event was", " older trace events were",
         " overwritten: PERF_TRACE_EVENTS is the room"},
        {l->unsent, " trace event is", " trace events are",
         " not in the streamed file: it is full, or cannot be written"},
    };
    size_t i;

    for (i = 0; i < sizeof note / sizeof note[0]; i++)
        if (note[i].n) {
            perf_put_(o, "note: ");
            perf_put_u64_(o, note[i].n);
            perf_put_(o, note[i].n == 1 ? note[i].one : note[i].many);
            perf_put_(o, note[i].what);
            perf_put_char_(o, '\n');
        }
}

PERF_COLD_FN_ void perf_put_counters_(perf_out_ *o, const perf_snapshot_ *s)
{
    int    title = 0;
    size_t i;

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (!PERF_KIND_POINT_(row->kind))
            continue;
        if (!title++)
            perf_put_(o, "counter                      updates      last      mean       min"
                         "       max\n");
        perf_put_name_(o, row->name, 28);
        perf_put_number_cell_(o, PERF_CAST_(double, row->count), 0, "", 8);
        if (row->kind == PERF_KIND_COUNT_) {
            perf_put_number_cell_(o, row->last, 2, "", 10);
            perf_put_number_cell_(o, row->values / PERF_CAST_(double, row->count), 2, "", 10);
            perf_put_number_cell_(o, row->least, 2, "", 10);
            perf_put_number_cell_(o, row->most, 2, "", 10);
        }
        perf_put_char_(o, '\n');
    }
}

/* Scopes of a thread that are open now. */
PERF_FN uint32_t perf_depth_of_(perf_recorder_ *t)
{
    uint32_t depth = perf_depth_(t), strayed = PERF_GET_(&t->strayed);

    return depth > strayed ? depth - strayed : 0;
}

/* How many scopes are open now, and the names of the first few. */
PERF_COLD_FN_ void perf_put_open_(perf_out_ *o, perf_registry_ *r)
{
    const char     *name[8];
    perf_recorder_ *t;
    perf_cell_     *c;
    uint64_t        open = 0;
    uint32_t        named = 0, i;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        open += perf_depth_of_(t);
        for (c = perf_depth_of_(t) ? PERF_ACQ_(&t->open) : PERF_CAST_(perf_cell_ *, PERF_NULL_);
             c && c->parent && named < 8; c = c->parent) {
            const char *text = PERF_ACQ_(&r->names)[PERF_CELL_ID_(c)]->site.name;
            for (i = 0; i < named && name[i] != text; i++) {
            }
            if (i == named)
                name[named++] = text;
        }
    }
    if (!open)
        return;
    perf_put_(o, "note: ");
    perf_put_u64_(o, open);
    perf_put_(o, open == 1 ? " scope is still open, its time so far not in the numbers"
                           : " scopes are still open, their time so far not in the numbers");
    for (i = 0; i < named; i++) {
        perf_put_(o, i ? ", " : ": ");
        (void)perf_put_cut_(o, name[i], 40);
    }
    if (named && named < open)
        perf_put_(o, ", ...");
    perf_put_char_(o, '\n');
}

/* What the main thread (or the first that recorded) waits for data. */
PERF_COLD_FN_ void perf_bound_fill_(perf_bound_ *b, perf_registry_ *r)
{
    perf_recorder_ *t, *main = PERF_NULL_;
    perf_cell_    **table;
    uint32_t        i, room;

    memset(b, 0, sizeof *b);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        if (t->thread == PERF_GET_(&r->process) || (t->number == 1 && !main))
            main = t;
    if (!main || (PERF_GET_(&main->request) & PERF_ASK_RESET_))
        return;
    room = PERF_ACQ_(&main->room);
    table = PERF_ACQ_(&main->cell);
    for (i = 1; i < room && i < PERF_ACQ_(&r->count); i++) {
        uint32_t    kind = PERF_ACQ_(&r->names)[i]->kind;
        uint64_t    self = 0;
        perf_cell_ *first = PERF_ACQ_(&table[i]), *c = first;
        if (!c || !PERF_KIND_HOST_(kind))
            continue;
        do
            self += perf_cell_self_(c);
        while ((c = PERF_ACQ_(&c->kin)) != first);
        b->all += self;
        b->sync += kind == PERF_KIND_SYNC_ ? self : 0;
        if (kind != PERF_KIND_WAIT_)
            continue;
        b->wait += self;
        if (self > b->most) {
            b->most = self;
            b->where = r->names[i]->site.name;
        }
    }
}

/* "data wait: 34.0 % of the main thread (1.2 s of 3.5 s in scopes, 1.1 s in read): data-bound" */
PERF_COLD_FN_ void perf_put_bound_(perf_out_ *o, const perf_snapshot_ *s)
{
    const perf_bound_ *b = &s->bound;
    double             share = PERF_CAST_(double, b->wait) / (PERF_CAST_(double, b->all) + 1e-9);

    if (!b->wait)
        return;
    perf_put_(o, "data wait: ");
    perf_put_fixed_(o, share * 100, 1);
    perf_put_(o, " % of the main thread (");
    perf_put_time_(o, PERF_CAST_(double, b->wait) * s->tick);
    perf_put_(o, " of ");
    perf_put_time_(o, PERF_CAST_(double, b->all) * s->tick);
    perf_put_(o, " in scopes, ");
    perf_put_time_(o, PERF_CAST_(double, b->most) * s->tick);
    perf_put_(o, " of it in ");
    (void)perf_put_cut_(o, b->where, 40);
    perf_put_(o, share >= PERF_DATA_BOUND_ ? "): data-bound\n"
                 : s->registry->gpu        ? ")\n"             /* the device's lines say by what */
                                           : "): host-bound\n");
}

static void perf_put_marks_(perf_out_ *o, perf_mark_ *const *m, size_t n) PERF_ATTR_((__nothrow__));

PERF_COLD_FN_ void perf_put_table_(perf_out_ *o, const perf_snapshot_ *s)
{
    size_t   i, shown = 0, left = 0;
    uint64_t wait = 0, sync = 0;

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (row->kind == PERF_KIND_WAIT_)
            wait += row->self;
        if (row->kind == PERF_KIND_SYNC_)
            sync += row->self;
        if (PERF_KIND_POINT_(row->kind))
            continue;
        if (s->opts.rows >= 0 && shown >= PERF_CAST_(size_t, s->opts.rows)) {
            left++;
            continue;
        }
        if (!shown++)
            perf_put_(o, "scope                            calls     total      self    share"
                         "      mean       p50       p95       p99       max\n");
        perf_put_row_(o, row, s);
    }
    if (left) {
        perf_put_(o, "... and ");
        perf_put_u64_(o, left);
        perf_put_(o, " more\n");
    }
    if (wait) {
        perf_put_(o, "waiting for data: ");
        perf_put_fixed_(o, PERF_CAST_(double, wait) / s->self * 100, 1);
        perf_put_(o, " % of the time in scopes\n");
    }
    if (sync) {
        perf_put_(o, "waiting for a device: ");
        perf_put_fixed_(o, PERF_CAST_(double, sync) / s->self * 100, 1);
        perf_put_(o, " % of the time in scopes\n");
    }
    perf_put_bound_(o, s);
    perf_put_counters_(o, s);
    perf_put_marks_(o, s->mark, s->marks);
    perf_put_open_(o, s->registry);
    perf_put_losses_(o, &s->losses);
    if (s->registry && PERF_GET_(&s->registry->bad_variant))
        perf_put_(o, "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

/* ---- report: tree ---- */

typedef struct perf_node_ {     /* one path of names; indexes into perf_tree_, 0 none             */
    uint32_t name, parent, child, sibling;
    uint64_t calls, total, self;        /* ticks                                                  */
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
        memcpy(more, tree->node, tree->count * sizeof *more);
    PERF_FREE(tree->node);
    PERF_FREE(tree->slot);
    memset(slot, 0, 2 * room * sizeof *slot);
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
    memset(&tree->node[i], 0, sizeof tree->node[i]);
    tree->node[i].name = name;
    tree->node[i].parent = parent;
    tree->node[i].sibling = tree->node[parent].child;
    tree->node[parent].child = i;
    return i;
}

/* A thread's events as they were at one moment, newest first. */
typedef struct perf_events_ {
    perf_event_ *event;
    uint64_t     count;
    uint64_t     thread, number;
    const char  *name;
} perf_events_;

/* Decodes entry *i, and moves *i past it and the entries it needs.  0: not a whole one. */
typedef struct perf_zone_ {
    uint64_t start, length, extra;      /* extra: value of a counter, id of a span                */
    uint32_t name, kind, depth;
} perf_zone_;

PERF_FN int perf_zone_at_(const perf_events_ *e, uint64_t *i, perf_registry_ *r, perf_zone_ *z)
{
    uint64_t at = (*i)++, what = e->event[at].what;

    z->name = PERF_CAST_(uint32_t, what >> 32 & 0xffffff);
    z->depth = PERF_CAST_(uint32_t, what >> 56);
    z->start = e->event[at].start;
    z->length = what & PERF_EVENT_MORE_;
    z->extra = 0;
    if (!z->name || z->name >= PERF_ACQ_(&r->count))
        return 0;
    z->kind = r->names[z->name]->kind;
    if (z->length != PERF_EVENT_MORE_)
        return 1;
    if (at + 1 >= e->count || e->event[at + 1].what)
        return 0;                               /* its first half has been overwritten            */
    *i = at + 2;
    z->length = e->event[at + 1].start;
    if (z->kind == PERF_KIND_ASYNC_) {
        if (at + 2 >= e->count || e->event[at + 2].what)
            return 0;
        z->extra = e->event[at + 2].start;
        *i = at + 3;
    } else if (z->kind == PERF_KIND_COUNT_) {
        z->extra = z->length;
        z->length = 0;
    }
    return 1;
}

/* Copies n bytes of the ring before `head`, and drops what the thread may have overwritten during
 * the copy.  At most the ring. */
PERF_HOT_FN_ void perf_events_read_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t,
                                    uint64_t head, uint64_t n)
{
    uint64_t i, now, room = r->ring_events * sizeof(perf_event_);

    for (i = 0; i < n; i += sizeof(perf_event_)) {
        perf_event_ *from = PERF_CAST_(
            perf_event_ *, perf_event_at_(t, (head - sizeof *from - i) & (room - 1)));
        e->event[i / sizeof *from].start = PERF_GET_(&from->start);
        e->event[i / sizeof *from].what = PERF_GET_(&from->what);
    }
    now = PERF_ACQ_(&t->ring_head);             /* one more may be half written                   */
    if (t != PERF_SELF_ && now != head)
        now += sizeof(perf_event_);
    if (now - head + n > room)
        n = now - head > room ? 0 : room - (now - head);
    e->count = n / sizeof(perf_event_);
}

/* Copies all that the ring of a thread holds, which may go on writing.  PERF_FREE e->event. */
PERF_COLD_FN_ int perf_events_copy_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t head = PERF_ACQ_(&t->ring_head), lost = PERF_GET_(&t->ring_lost), n;
    uint64_t room = r->ring_events * sizeof(perf_event_);

    memset(e, 0, sizeof *e);
    e->thread = t->thread;
    e->number = t->number;
    e->name = t->name;
    if (!t->ring || head == lost || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return 1;
    n = head - lost > room ? room : head - lost;
    e->event = PERF_CAST_(perf_event_ *, PERF_MALLOC(PERF_CAST_(size_t, n)));
    if (!e->event)
        return 0;
    perf_events_read_(e, r, t, head, n);
    return 1;
}

/* Hands the events of every thread there is or was to `use`; 0 without memory. */
PERF_COLD_FN_ int perf_events_each_(perf_registry_ *r, void (*use)(void *, const perf_events_ *),
                                    void *with)
{
    perf_recorder_ *t;
    perf_retired_  *old;
    perf_events_    e;
    int             whole = 1, got;

    if (!perf_lock_(r))
        return 0;
    r->reading++;                               /* a reset keeps off `retired`                    */
    perf_unlock_(r);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        if (!perf_lock_(r)) {                   /* keeps it from being retired meanwhile          */
            whole = 0;
            break;
        }
        got = perf_events_copy_(&e, r, t);
        perf_unlock_(r);
        if (got)
            use(with, &e);
        PERF_FREE(e.event);
        whole &= got;
    }
    for (old = PERF_ACQ_(&r->retired); old; old = old->next) {
        const perf_event_ *from = PERF_PTR_(const perf_event_ *, old + 1);
        uint64_t           i;
        e.count = old->count;
        e.thread = old->thread;
        e.number = old->number;
        e.name = old->name;
        e.event = PERF_CAST_(
            perf_event_ *, PERF_MALLOC(PERF_CAST_(size_t, old->count) * sizeof *from));
        for (i = 0; e.event && i < e.count; i++)
            e.event[i] = from[e.count - 1 - i];
        if (e.event)
            use(with, &e);
        else
            whole = 0;
        PERF_FREE(e.event);
    }
    if (perf_lock_(r)) {
        r->reading--;
        perf_unlock_(r);
    }
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
    if (c->depth > PERF_TREE_DEPTH_)            /* its time is in the total of the node already   */
        return;
    tree->node[node].total += total;
    if (!tree->node[node].parent)
        tree->node[0].total += total;
}

/* Everything that a thread has recorded since the start or the last reset. */
PERF_COLD_FN_ void perf_tree_thread_(perf_tree_ *tree, perf_recorder_ *t)
{
    uint32_t     id, room = PERF_ACQ_(&t->room);
    perf_cell_ **table = PERF_ACQ_(&t->cell), *c, *first;

    if (PERF_GET_(&t->request) & PERF_ASK_RESET_)
        return;
    for (id = 1; id < room && id < PERF_ACQ_(&tree->registry->count); id++) {
        first = c = PERF_ACQ_(&table[id]);
        if (!c || !PERF_KIND_HOST_(PERF_ACQ_(&tree->registry->names)[id]->kind))
            continue;
        do
            perf_tree_cell_(tree, c);
        while ((c = PERF_ACQ_(&c->kin)) != first);
    }
}

PERF_COLD_FN_ perf_tree_ *perf_tree_make_(perf_registry_ *r)
{
    perf_tree_     *tree = PERF_CAST_(perf_tree_ *, PERF_MALLOC(sizeof *tree));
    perf_recorder_ *t;

    if (!tree)
        return tree;
    memset(tree, 0, sizeof *tree);
    tree->registry = r;
    if (!perf_tree_grow_(tree, 256)) {
        PERF_FREE(tree);
        return PERF_NULL_;
    }
    memset(tree->node, 0, sizeof *tree->node);
    tree->count = 1;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_tree_thread_(tree, t);
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

/* Puts the children of a node in order of time, largest first, by merging runs of 1, 2, 4, ... */
PERF_COLD_FN_ void perf_tree_order_(perf_node_ *node, uint32_t parent)
{
    uint32_t run, merges = 2;

    for (run = 1; merges > 1; run *= 2) {
        uint32_t rest = node[parent].child, *link = &node[parent].child;
        for (merges = 0; rest; merges++) {
            uint32_t a = rest, b = rest, left = 0, right = run, *from;
            while (b && left < run) {
                b = node[b].sibling;
                left++;
            }
            while (left || (right && b)) {
                from = !left || (right && b && node[b].total > node[a].total) ? &b : &a;
                *(from == &a ? &left : &right) -= 1;
                *link = *from;
                link = &node[*from].sibling;
                *from = *link;
            }
            rest = b;
        }
        *link = 0;
    }
}

PERF_COLD_FN_ void perf_put_tree_(perf_out_ *o, const perf_snapshot_ *s)
{
    uint32_t node = 0, depth = 0, i;
    int      rows = 0;
    double   all;

    if (!s->tree || !s->tree->calls)
        return;
    all = PERF_CAST_(double, s->tree->node[0].total) + 1e-9;
    perf_put_(o, "of total   of parent      total       self     calls  scope\n");
    for (i = 1; i < s->tree->count; i++) {      /* stored in the order they are shown             */
        const perf_node_ *n = &s->tree->node[i];
        double            total = PERF_CAST_(double, n->total);
        double            around = PERF_CAST_(double, s->tree->node[n->parent].total);
        if (s->opts.rows >= 0 && rows++ >= s->opts.rows)
            break;
        for (depth = 0, node = n->parent; node; node = s->tree->node[node].parent)
            depth++;
        perf_put_number_cell_(o, total / all * 100, 1, " %", 8);
        perf_put_number_cell_(o, total / (around + 1e-9) * 100, 1, " %", 12);
        perf_put_(o, " ");
        perf_put_time_cell_(o, total * s->tick, 10);
        perf_put_(o, " ");
        perf_put_time_cell_(o, PERF_CAST_(double, n->self) * s->tick, 10);
        perf_put_number_cell_(o, PERF_CAST_(double, n->calls), 0, "", 10);
        perf_put_spaces_(o, 2 + 2 * depth);
        (void)perf_put_cut_(o, PERF_ACQ_(&s->registry->names)[n->name]->site.name, 40);
        perf_put_char_(o, '\n');
    }
    perf_put_open_(o, s->registry);
    perf_put_losses_(o, &s->losses);
    if (s->registry && PERF_GET_(&s->registry->bad_variant))
        perf_put_(o, "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

/* Rewrites the nodes in the order of a walk from the root, largest child first. */
PERF_COLD_FN_ void perf_tree_sort_(perf_tree_ *tree)
{
    perf_node_ *out = PERF_CAST_(perf_node_ *, PERF_MALLOC(tree->count * sizeof *out));
    uint32_t   *place = PERF_CAST_(uint32_t *, PERF_MALLOC(tree->count * sizeof *place));
    uint32_t    node = 0, n = 0, i;

    if (out && place) {
        for (i = 0; i < tree->count; i++)
            perf_tree_order_(tree->node, i);
        out[n] = tree->node[0];
        place[0] = n++;
        for (;;) {
            if (tree->node[node].child) {       /* taken off the list: the next one is first      */
                i = tree->node[node].child;
                tree->node[node].child = tree->node[i].sibling;
                node = i;
                out[n] = tree->node[node];
                out[n].parent = place[tree->node[node].parent];
                place[node] = n++;
            } else if (node) {
                node = tree->node[node].parent;
            } else {
                break;
            }
        }
        PERF_FREE(tree->node);
        tree->node = out;
        tree->room = tree->count;
        out = PERF_CAST_(perf_node_ *, PERF_NULL_);
    }
    PERF_FREE(out);
    PERF_FREE(place);
}

/* ---- report: CSV and JSON ---- */

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
PERF_COLD_FN_ void perf_put_json_(perf_out_ *o, const char *s)
{
    static const char hex[] = "0123456789abcdef";

    perf_put_char_(o, '"');
    while (*s) {
        unsigned char c = PERF_CAST_(unsigned char, *s);
        int           n = perf_utf8_(s);
        if (n == 0) {
            perf_put_(o, "\\ufffd");
            s++;
        } else if (c < 0x20 || c == 0x7f) {
            perf_put_(o, "\\u00");
            perf_put_char_(o, hex[c >> 4]);
            perf_put_char_(o, hex[c & 15]);
            s++;
        } else {
            if (c == '"' || c == '\\')
                perf_put_char_(o, '\\');
            while (n--)
                perf_put_char_(o, *s++);
        }
    }
    perf_put_char_(o, '"');
}

/* A CSV field, always quoted: quotes doubled (RFC 4180); bytes that are not UTF-8 become U+FFFD. */
PERF_COLD_FN_ void perf_put_csv_(perf_out_ *o, const char *s)
{
    perf_put_char_(o, '"');
    while (*s) {
        int n = perf_utf8_(s);
        if (n == 0) {
            perf_put_(o, "\xef\xbf\xbd");
            s++;
        }
        if (*s == '"' && n)
            perf_put_char_(o, '"');
        while (n-- > 0)
            perf_put_char_(o, *s++);
    }
    perf_put_char_(o, '"');
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
    if (row->kind == PERF_KIND_COUNT_) {
        memset(x, 0, PERF_COLUMNS_ * sizeof *x);
        x[2] = row->values / PERF_CAST_(double, row->count);
        x[3] = row->least;
        x[7] = row->most;
        x[8] = row->last;
    }
}

PERF_COLD_FN_ void perf_put_data_(perf_out_ *o, const perf_snapshot_ *s, int json)
{
    static const char *const column[PERF_COLUMNS_] = {"total_ns", "self_ns", "mean_ns",
                                                      "min_ns",   "p50_ns",  "p95_ns",
                                                      "p99_ns",   "max_ns",  "last"};
    double                   x[PERF_COLUMNS_];
    size_t                   i, k;

    if (json) {
        perf_put_(o, "{\"clock\":{\"name\":\"");
        perf_put_(o, s->clock.name);
        perf_put_(o, "\",\"resolution_ns\":");
        perf_put_fixed_(o, s->clock.resolution_ns, 3);
        perf_put_(o, ",\"cost_ns\":");
        perf_put_fixed_(o, s->clock.cost_ns, 3);
        perf_put_(o, ",\"error_ppm\":");
        perf_put_fixed_(o, s->clock.error_ppm, 3);
        perf_put_(o, ",\"warnings\":");
        perf_put_u64_(o, s->clock.warnings);
        perf_put_(o, "},\n\"lost\":");
        perf_put_u64_(o, s->losses.lost + s->losses.orphans);
        perf_put_(o, ",\"overwritten_events\":");
        perf_put_u64_(o, s->losses.overwritten);
        perf_put_(o, ",\"data_wait_ns\":");
        perf_put_fixed_(o, PERF_CAST_(double, s->bound.wait) * s->tick, 0);
        perf_put_(o, ",\"main_thread_ns\":");
        perf_put_fixed_(o, PERF_CAST_(double, s->bound.all) * s->tick, 0);
        perf_put_(o, ",\n\"scopes\":[");
    } else {
        perf_put_(o, "name,kind,calls");
        for (k = 0; k < PERF_COLUMNS_; k++) {
            perf_put_char_(o, ',');
            perf_put_(o, column[k]);
        }
        perf_put_char_(o, '\n');
    }
    for (i = 0; i < s->rows && (s->opts.rows < 0 || i < PERF_CAST_(size_t, s->opts.rows)); i++) {
        const perf_row_ *row = &s->row[i];
        perf_row_numbers_(row, s->tick, x);
        if (json) {
            perf_put_(o, i ? ",\n{\"name\":" : "\n{\"name\":");
            perf_put_json_(o, row->name);
            perf_put_(o, ",\"kind\":\"");
            perf_put_(o, perf_kind_text_(row->kind));
            perf_put_(o, "\",\"calls\":");
        } else {
            perf_put_csv_(o, row->name);
            perf_put_char_(o, ',');
            perf_put_(o, perf_kind_text_(row->kind));
            perf_put_char_(o, ',');
        }
        perf_put_u64_(o, row->count);
        for (k = 0; k < PERF_COLUMNS_; k++) {
            perf_put_char_(o, ',');
            if (json) {
                perf_put_char_(o, '"');
                perf_put_(o, column[k]);
                perf_put_(o, "\":");
            }
            if (perf_is_finite_(x[k]))
                perf_put_fixed_(o, x[k], 3);
            else
                perf_put_(o, json ? "null" : "");
        }
        perf_put_(o, json ? "}" : "\n");
    }
    if (json)
        perf_put_(o, "\n]}\n");
}

/* ---- report: memory ---- */

#if defined(__linux__) && PERF_LP64_UNIX_
struct perf_usage_ {            /* struct rusage                                                  */
    long user_s, user_us, system_s, system_us;
    long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, rest[16];
};
struct perf_heap_ {             /* struct mallinfo2                                               */
    size_t arena, chunks, fast, mapped_chunks, mapped, highest, fast_bytes, used, free, top;
};
extern int  perf_getrusage_(int, struct perf_usage_ *) __asm__(PERF_SYM_("getrusage"));
extern long perf_sysconf_(int) __asm__(PERF_SYM_("sysconf"));
#if !PERF_TCC_
extern struct perf_heap_ perf_mallinfo2_(void) __asm__(PERF_SYM_("mallinfo2"))
    PERF_ATTR_((__weak__));
#endif

PERF_COLD_FN_ perf_status perf_mark_read_(perf_mark_ *m)
{
    struct perf_usage_ u;
    char               text[128];
    FILE              *f = fopen("/proc/self/statm", "r");
    size_t             n = 0, i;
    int                field = 0;

    memset(&u, 0, sizeof u);
    if (f) {
        n = fread(text, 1, sizeof text, f);
        (void)fclose(f);
    }
    for (i = 0; i < n && field < 2; i++) {      /* pages: size, resident, ...                     */
        if (text[i] == ' ')
            field++;
        else if (field == 1)
            m->resident = m->resident * 10 + PERF_CAST_(uint64_t, text[i] - '0');
    }
    m->resident *= PERF_CAST_(uint64_t, perf_sysconf_(30));     /* _SC_PAGESIZE */
    if (perf_getrusage_(0, &u) || !m->resident)
        return PERF_ENODATA;
    f = fopen("/proc/self/io", "r");            /* missing in some containers: zeros              */
    n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        (void)fclose(f);
    for (field = 0, i = 0; i < n && field < 4; i++) {   /* "rchar: 1\nwchar: 2\nsyscr: 3\n..."    */
        if (text[i] == '\n')
            field++;
        else if (text[i] >= '0' && text[i] <= '9')
            m->io[field] = m->io[field] * 10 + PERF_CAST_(uint64_t, text[i] - '0');
    }
    m->ns = perf_now();
    m->peak = PERF_CAST_(uint64_t, u.maxrss) * 1024;    /* the kernel adds up late: may be behind */
    if (m->peak < m->resident)
        m->peak = m->resident;
    m->minor = PERF_CAST_(uint64_t, u.minflt);
    m->major = PERF_CAST_(uint64_t, u.majflt);
    m->cpu_ns = PERF_CAST_(uint64_t, u.user_s + u.system_s) * 1000000000u +
                PERF_CAST_(uint64_t, u.user_us + u.system_us) * 1000u;
    m->read_blocks = PERF_CAST_(uint64_t, u.inblock);
    m->written_blocks = PERF_CAST_(uint64_t, u.oublock);
#if !PERF_TCC_
    if (perf_mallinfo2_ != PERF_NULL_) {
        struct perf_heap_ h = perf_mallinfo2_();
        m->heap = h.used + h.mapped;
    }
#endif
    return PERF_OK;
}
#else
PERF_FN perf_status perf_mark_read_(perf_mark_ *m)
{
    (void)m;
    return PERF_ENODATA;
}
#endif

PERF_FN perf_status perf_memory_mark(const char *phase)
{
    perf_registry_ *r = perf_registry_read_();
    perf_site_      site = PERF_ZERO;
    perf_mark_      now, *m;
    perf_status     status;

    memset(&now, 0, sizeof now);
    status = perf_mark_read_(&now);
    if (status != PERF_OK)
        return status;
    if (!r || !perf_lock_(r))
        return PERF_ENOMEM;
    site.name = phase;
    now.name = perf_name_intern_(r, &site);
    m = now.name ? PERF_CAST_(perf_mark_ *, perf_pool_(&r->pool, &r->pool_end, sizeof *m, 65536, 0))
                 : PERF_NULL_;
    if (m) {
        *m = now;
        m->next = r->marks;
        PERF_REL_(&r->marks, m);
    }
    perf_unlock_(r);
    return m ? PERF_OK : PERF_ENOMEM;
}

PERF_COLD_FN_ void perf_put_bytes_(perf_out_ *o, double bytes)
{
    static const char *const unit[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    double                   x = bytes < 0 ? -bytes : bytes;
    int                      u = 0;

    while (u < 4 && x >= 1023.5) {
        x /= 1024;
        bytes /= 1024;
        u++;
    }
    perf_put_number_cell_(o, bytes, u && x < 99.95 ? 1 : 0, unit[u], 11);
}

PERF_FN void perf_put_since_(perf_out_ *o, uint64_t now, uint64_t before, size_t width)
{
    perf_put_number_cell_(o, PERF_CAST_(double, now - before), 0, "", width);
}

/* The marks so far, oldest first; *n of them, then NULL.  PERF_FREE the result. */
PERF_COLD_FN_ perf_mark_ **perf_marks_(perf_registry_ *r, size_t *n)
{
    perf_mark_ *newest = PERF_ACQ_(&r->marks), *m, **mark;
    size_t      i = 0;

    for (m = newest; m; m = m->next)
        i++;
    mark = PERF_CAST_(perf_mark_ **, PERF_MALLOC((i + 1) * sizeof *mark));
    *n = mark ? i : 0;
    if (mark)
        mark[i] = PERF_NULL_;
    for (m = newest; mark && m; m = m->next)
        mark[--i] = m;
    return mark;
}

PERF_COLD_FN_ void perf_put_marks_(perf_out_ *o, perf_mark_ *const *mark, size_t n)
{
    size_t i;
    int    k;

    if (n)
        perf_put_(o, "memory phase                   time       cpu   resident     change"
                     "       peak       heap   faults   major   read blk  write blk       read"
                     "    calls    written    calls\n");
    for (i = 0; i < n; i++) {
        const perf_mark_ *m = mark[i], *before = i ? mark[i - 1] : mark[n];
        perf_put_name_(o, m->name->site.name, 25);
        perf_put_time_cell_(o, before ? PERF_CAST_(double, m->ns - before->ns) : 0.0, 10);
        perf_put_time_cell_(o, PERF_CAST_(double, m->cpu_ns - (before ? before->cpu_ns : 0)), 10);
        perf_put_bytes_(o, PERF_CAST_(double, m->resident));
        perf_put_bytes_(o, PERF_CAST_(double, m->resident) -
                               (before ? PERF_CAST_(double, before->resident) : 0.0));
        perf_put_bytes_(o, PERF_CAST_(double, m->peak));
        perf_put_bytes_(o, PERF_CAST_(double, m->heap));
        perf_put_since_(o, m->minor, before ? before->minor : 0, 9);
        perf_put_since_(o, m->major, before ? before->major : 0, 8);
        perf_put_since_(o, m->read_blocks, before ? before->read_blocks : 0, 11);
        perf_put_since_(o, m->written_blocks, before ? before->written_blocks : 0, 11);
        for (k = 0; k < 2; k++) {
            perf_put_bytes_(o, PERF_CAST_(double, m->io[k] - (before ? before->io[k] : 0)));
            perf_put_since_(o, m->io[2 + k], before ? before->io[2 + k] : 0, 9);
        }
        perf_put_char_(o, '\n');
    }
}

/* ---- report: what loops have found ---- */

/* Every finished or running loop, newest first; perf_report walks them. */
typedef struct perf_loop_ {
    struct perf_loop_ *next;
    int                kind;            /* 1 bench, 2 A/B, 3 race                                 */
    int                done;            /* written once, last: the result is complete             */
    char               name[96];
    const void        *result;          /* perf_result, perf_ab_result or perf_race_result        */
    const char        *note;            /* a line below its row, kept with the loop, or NULL      */
} perf_loop_;

/* The summary that counts. */
PERF_FN const perf_summary *perf_result_main_(const perf_result *r)
{
    return r->decides == PERF_DECIDES_CPU ? &r->cpu : &r->time;
}

/* "12.3 ns [12.2, 12.4]", the interval left out where there is none. */
PERF_FN void perf_put_estimate_(perf_out_ *o, const perf_summary *s, size_t width)
{
    char      text[96];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_time_(&t, s->p50);
    if (perf_is_finite_(s->p50_low) && perf_is_finite_(s->p50_high)) {
        perf_put_(&t, " [");
        perf_put_time_(&t, s->p50_low);
        perf_put_(&t, ", ");
        perf_put_time_(&t, s->p50_high);
        perf_put_(&t, "]");
    } else {
        perf_put_(&t, " [no interval]");
    }
    perf_put_cell_(o, text, width);
}

/* A percentile; "~" where there are too few slices to bound it from above (p95: 72, p99: 368). */
PERF_COLD_FN_ void perf_put_tail_cell_(perf_out_ *o, double ns, double high)
{
    char      text[40];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    if (!perf_is_finite_(high))
        perf_put_char_(&t, '~');
    perf_put_time_(&t, ns);
    perf_put_cell_(o, text, 10);
}

PERF_COLD_FN_ void perf_put_loop_row_(perf_out_ *o, const char *name, const char *arm,
                                      const perf_summary *s, double first_ns)
{
    char      label[140];
    perf_out_ t = PERF_ZERO;

    t.p = label;
    t.cap = sizeof label;
    perf_put_(&t, name);
    perf_put_(&t, arm);
    perf_put_(o, "  ");
    perf_put_name_(o, label, 30);
    perf_put_estimate_(o, s, 34);
    perf_put_tail_cell_(o, s->p95, s->p95_high);
    perf_put_tail_cell_(o, s->p99, s->p99_high);
    perf_put_time_cell_(o, first_ns, 10);
    perf_put_(o, "\n");
}

/* Each warning between `lead` and `end`. */
PERF_COLD_FN_ void perf_put_notes_(perf_out_ *o, uint32_t warnings, const char *lead,
                                   const char *end)
{
    uint32_t bit;

    for (bit = 1; bit && bit <= warnings; bit <<= 1) {
        if (!(warnings & bit) || bit == PERF_CAST_(uint32_t, PERF_WARN_UNBOUNDED))
            continue;                               /* an open interval shows itself              */
        perf_put_(o, lead);
        perf_put_(o, perf_warning_text(bit));
        perf_put_(o, end);
    }
}

PERF_COLD_FN_ void perf_put_warnings_(perf_out_ *o, uint32_t warnings)
{
    perf_put_notes_(o, warnings, "    note: ", "\n");
}

PERF_COLD_FN_ void perf_put_rate_(perf_out_ *o, double x, const char *unit, double percent,
                                  double ceiling)
{
    perf_put_fixed_(o, x, x < 9.995 ? 3 : x < 99.95 ? 2 : 1);
    perf_put_(o, unit);
    if (percent > 0.0) {
        perf_put_(o, " (");
        perf_put_fixed_(o, percent, 1);
        perf_put_(o, " % of the peak of ");
        perf_put_fixed_(o, ceiling, ceiling < 99.95 ? 1 : 0);
        perf_put_char_(o, ')');
    }
}

/* "3.2 GB/s (16.0 % of the peak of 20.0), 4.1 M items/s" when the caller said what one iteration
 * moves; returns whether there was anything to say.                                              */
PERF_COLD_FN_ int perf_put_rates_(perf_out_ *o, const perf_result *r, const char *lead)
{
    int some = 0;

    if (r->gb_per_s > 0.0) {
        perf_put_(o, lead);
        perf_put_rate_(o, r->gb_per_s, " GB/s", r->percent_of_peak_gb, r->opts.peak_gb_per_s);
        some = 1;
    }
    if (r->gflop_per_s > 0.0) {
        perf_put_(o, some ? ", " : lead);
        perf_put_rate_(o, r->gflop_per_s, " GFLOP/s", r->percent_of_peak_gflop,
                       r->opts.peak_gflop_per_s);
        some = 1;
    }
    if (r->items_per_s > 0.0) {
        perf_put_(o, some ? ", " : lead);
        perf_put_rate_(o, r->items_per_s * 1e-6, " M items/s", 0.0, 0.0);
        some = 1;
    }
    return some;
}

/* "cpu time decides: why; wall 12 ms [11, 14]". */
PERF_COLD_FN_ void perf_put_decides_(perf_out_ *o, perf_decides d, const char *why,
                                     const perf_summary *other)
{
    perf_put_(o, d == PERF_DECIDES_CPU ? "cpu time decides: " : "wall time decides: ");
    perf_put_(o, why);
    perf_put_(o, d == PERF_DECIDES_CPU ? "; wall" : "; cpu");
    perf_put_estimate_(o, other, 1);
}

PERF_COLD_FN_ const char *perf_result_words_(perf_result *r)
{
    perf_out_ o = PERF_ZERO;

    if (!r)
        return "";
    o.p = r->text;
    o.cap = sizeof r->text;
    r->text[0] = '\0';
    if (!r->time.count) {
        perf_put_(&o, "not measured: ");
        perf_put_(&o, perf_status_text(r->status));
        perf_put_notes_(&o, r->warnings, "; note: ", "");
        return r->text;
    }
    perf_put_(&o, "median");
    perf_put_estimate_(&o, perf_result_main_(r), 1);
    perf_put_(&o, " per iteration");
    (void)perf_put_rates_(&o, r, "; ");
    if (r->cpu.count) {
        perf_put_(&o, "; ");
        perf_put_decides_(&o, r->decides, r->why,
                          r->decides == PERF_DECIDES_CPU ? &r->time : &r->cpu);
    }
    perf_put_notes_(&o, r->warnings, "; note: ", "");
    return r->text;
}


PERF_COLD_FN_ void perf_put_bench_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_result *b = PERF_CAST_(const perf_result *, l->result);

    if (b->time.count) {
        perf_put_loop_row_(o, l->name, "", perf_result_main_(b), b->first_ns);
        if (perf_put_rates_(o, b, "    "))
            perf_put_(o, "\n");
        if (b->cpu.count) {
            perf_put_(o, "    ");
            perf_put_decides_(o, b->decides, b->why,
                              b->decides == PERF_DECIDES_CPU ? &b->time : &b->cpu);
            perf_put_(o, "\n");
        }
    } else {
        perf_put_(o, "  ");
        perf_put_name_(o, l->name, 30);
        perf_put_(o, "   not measured: ");
        perf_put_(o, perf_status_text(b->status));
        perf_put_(o, "\n");
    }
    perf_put_warnings_(o, b->warnings);
}

/* 1 when both are there and differ by over 5 %: that is worth a line. */
PERF_FN int perf_ratio_apart_(double a, double b)
{
    return a > 0.0 && b > 0.0 && (a > 1.05 * b || b > 1.05 * a);
}

/* Both arms and the verdict, for perf_report. */
PERF_COLD_FN_ void perf_put_ab_(perf_out_ *o, const perf_loop_ *l)
{
    perf_ab_result r = *PERF_CAST_(const perf_ab_result *, l->result);
    int            cpu = r.decides == PERF_DECIDES_CPU;

    if (r.baseline.count)
        perf_put_loop_row_(o, l->name, ", baseline", cpu ? &r.baseline_cpu : &r.baseline,
                           r.first_baseline_ns);
    if (r.candidate.count)
        perf_put_loop_row_(o, l->name, ", candidate", cpu ? &r.candidate_cpu : &r.candidate,
                           r.first_candidate_ns);
    perf_put_(o, "  ");
    (void)perf_put_cut_(o, l->name, sizeof l->name);
    perf_put_(o, ": ");
    perf_put_(o, perf_verdict_text(&r.verdict));
    perf_put_(o, "\n");
    if (r.control_failed || perf_ratio_apart_(r.control_ratio, r.verdict.ratio.estimate)) {
        perf_put_(o, "    control: candidate / baseline is ");
        perf_put_fixed_(o, r.verdict.ratio.estimate, 4);
        perf_put_(o, " in turns, ");
        perf_put_fixed_(o, r.control_ratio, 4);
        perf_put_(o, " after one of them had a lead\n");
    }
    if (r.warnings & PERF_CAST_(uint32_t, PERF_WARN_TURNS)) {
        perf_put_(o, "    candidate / baseline with the faster one's time alone: ");
        perf_put_fixed_(o, r.alone_ratio, 4);
        perf_put_(o, "\n");
    }
    if (r.baseline_cpu.count) {
        perf_put_(o, cpu ? "    cpu time decides: " : "    wall time decides: ");
        perf_put_(o, r.why);
        perf_put_(o, "\n");
    }
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
        arm[0] = ',';
        arm[1] = ' ';
        memcpy(arm + 2, r->entry[i].name, sizeof r->entry[i].name);
        if (r->entry[i].time.count)
            perf_put_loop_row_(o, l->name, arm, &r->entry[i].time, r->entry[i].first_ns);
    }
    for (i = 0; i < r->count; i++) {
        perf_put_(o, "  ");
        (void)perf_put_cut_(o, l->name, sizeof l->name);
        perf_put_(o, ", ");
        (void)perf_put_cut_(o, r->entry[i].name, sizeof r->entry[i].name);
        perf_put_(o, r->forced ? ": " : i == r->best ? ": the best; "
                     : r->entry[i].within_noise ? ": within noise of the best; " : ": ");
        if (r->best >= 0 && !r->entry[i].within_noise && r->entry[i].behind > 0.0) {
            perf_put_fixed_(o, r->entry[i].behind, 3);
            perf_put_(o, "x the best; ");
        }
        v = r->entry[i].verdict;
        perf_put_(o, i || r->status != PERF_OK || r->forced ? perf_verdict_text(&v)
                                                            : "the baseline");
        perf_put_(o, "\n");
    }
    if (!r->count) {
        perf_put_(o, "  ");
        perf_put_name_(o, l->name, 30);
        perf_put_(o, "   not measured: ");
        perf_put_(o, perf_status_text(r->status));
        perf_put_(o, "\n");
    }
    perf_put_warnings_(o, r->warnings);
}

/* Loops that were never ended are one row a name. */
PERF_COLD_FN_ void perf_put_unended_(perf_out_ *o, const perf_loop_ *const *all, size_t n,
                                     size_t at)
{
    size_t i, same = 0;

    for (i = 0; i < n; i++) {
        if (PERF_ACQ_(&all[i]->done) || strcmp(all[i]->name, all[at]->name) != 0)
            continue;
        if (i < at)
            return;
        same++;
    }
    perf_put_(o, "  ");
    perf_put_name_(o, all[at]->name, 30);
    perf_put_(o, "   begun, but not ended");
    if (same > 1) {
        perf_put_(o, ", ");
        perf_put_u64_(o, same);
        perf_put_(o, " times");
    }
    perf_put_(o, "\n");
}

PERF_COLD_FN_ void perf_put_loop_(perf_out_ *o, const perf_loop_ *const *all, size_t n, size_t at)
{
    const perf_loop_ *l = all[at];

    if (!PERF_ACQ_(&l->done)) {
        perf_put_unended_(o, all, n, at);
        return;
    }
    (l->kind == 1 ? perf_put_bench_ : l->kind == 2 ? perf_put_ab_ : perf_put_race_)(o, l);
    if (l->note && *l->note) {
        perf_put_(o, "    ");
        perf_put_(o, l->note);
        perf_put_(o, "\n");
    }
}

/* Benches and comparisons in the order they were begun; follows perf_registry_read_()->results,
 * which is newest first.  Each loop lies in pages of its own: of 40,000 of them, looking for the
 * one before from the start of the list took 84 s.                                               */
PERF_FN void perf_report_results_(perf_out_ *o)
{
    perf_registry_   *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    const perf_loop_ *l, *first, **all;
    size_t            n = 0, i;

    if (!r || !PERF_ACQ_(&r->results))
        return;
    perf_put_(o, "\n  benchmark                                median [95 % interval]");
    perf_put_(o, "       p95       p99     first\n");
    first = PERF_CAST_(const perf_loop_ *, PERF_ACQ_(&r->results));
    for (l = first; l; l = l->next)
        n++;
    all = PERF_CAST_(const perf_loop_ **, PERF_MALLOC(n * sizeof *all));
    for (l = first, i = n; all && l; l = l->next)
        all[--i] = l;
    for (i = 0; all && i < n; i++)
        perf_put_loop_(o, all, n, i);
    for (l = first; !all && l; l = l->next)         /* no memory: newest first, each by itself    */
        perf_put_loop_(o, &l, 1, 0);
    PERF_FREE(all);
}

/* ---- report: the whole ---- */

PERF_FN perf_report_opts perf_report_opts_default(void)
{
    perf_report_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts)
{
    perf_report_opts o = PERF_ZERO;

    if (opts)
        o = *opts;
    if (o.rows == 0)
        o.rows = o.view == PERF_VIEW_TABLE || o.view == PERF_VIEW_TREE ? 50 : -1;
    return o;
}


PERF_COLD_FN_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts)
{
    perf_snapshot_ s;
    size_t         i;

    memset(&s, 0, sizeof s);
    s.opts = perf_report_opts_resolved(opts);
    s.clock = perf_clock();
    s.registry = perf_registry_read_();          /* this image may not have recorded anything     */
    s.tick = s.clock.tick_ns;
    if (s.registry) {
        if (perf_lock_(s.registry))             /* after a fork: forgets the parent's threads     */
            perf_unlock_(s.registry);
        perf_sources_collect_(s.registry);
        s.losses = perf_losses_sum_(s.registry);
        s.mark = perf_marks_(s.registry, &s.marks);
        s.row = perf_rows_(s.registry, s.opts.sort, &s.rows);
        perf_bound_fill_(&s.bound, s.registry);
        if (s.opts.view == PERF_VIEW_TREE) {
            s.tree = perf_tree_make_(s.registry);
            if (s.tree)
                perf_tree_sort_(s.tree);
        }
    }
    for (i = 0; i < s.rows; i++)
        s.self += PERF_CAST_(double, s.row[i].self);
    if (!(s.self > 0))
        s.self = 1;
    return s;
}

PERF_FN void perf_snapshot_free_(perf_snapshot_ *s)
{
    PERF_FREE(s->row);
    PERF_FREE(s->mark);
    perf_tree_free_(s->tree);
}

PERF_COLD_FN_ void perf_snapshot_put_(perf_out_ *o, const perf_snapshot_ *s)
{
    perf_source_ *source;

    if (s->opts.view == PERF_VIEW_CSV || s->opts.view == PERF_VIEW_JSON) {
        perf_put_data_(o, s, s->opts.view == PERF_VIEW_JSON);
        return;
    }
    perf_put_clock_(o, &s->clock);
    if (s->registry && s->opts.view == PERF_VIEW_TREE)
        perf_put_tree_(o, s);
    else if (s->registry)
        perf_put_table_(o, s);
    if (s->registry)
        for (source = PERF_ACQ_(&s->registry->sources); source; source = source->next)
            if (source->report)
                source->report(o);
    perf_report_results_(o);
}

PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts)
{
    perf_snapshot_ s = perf_snapshot_take_(opts);
    perf_out_      o = PERF_ZERO;

    o.p = buf;
    o.cap = buf ? cap : 0;
    if (o.cap)
        buf[0] = '\0';
    perf_snapshot_put_(&o, &s);
    perf_snapshot_free_(&s);
    return o.len;
}

PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts)
{
    perf_snapshot_ s;
    perf_out_      o = PERF_ZERO, again = PERF_ZERO;
    perf_status    status = PERF_ENOMEM;

    if (!file)
        return PERF_EINVAL;
    s = perf_snapshot_take_(opts);
    perf_snapshot_put_(&o, &s);
    again.cap = o.len + 4096;                   /* slack: benches of other threads may finish     */
    again.p = PERF_CAST_(char *, PERF_MALLOC(again.cap));
    if (again.p) {
        perf_snapshot_put_(&again, &s);
        if (again.len >= again.cap)
            again.len = again.cap - 1;
        status = fwrite(again.p, 1, again.len, file) == again.len ? PERF_OK : PERF_EIO;
        if (fflush(file))
            status = PERF_EIO;
    }
    PERF_FREE(again.p);
    perf_snapshot_free_(&s);
    return status;
}

PERF_FN perf_status perf_report(void)
{
    return perf_report_to(stderr, PERF_NULL_);
}

/* ---- tallies ---- */

PERF_FN uint64_t perf_tally_ns_(double ticks, double tick)
{
    return PERF_CAST_(uint64_t, ticks * tick + 0.5);
}

/* The buckets in ns.  One call each goes to the extremes themselves, which are exact so. */
PERF_COLD_FN_ void perf_tally_hist_(perf_hist *h, const perf_sum_ *c, double tick)
{
    uint64_t min = perf_tally_ns_(PERF_CAST_(double, c->min), tick), ns, n, calls = 0, seen = 0;
    uint64_t max = perf_tally_ns_(PERF_CAST_(double, c->max), tick);
    uint32_t i;

    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += c->bucket[i];
    for (i = 0; i < PERF_CELL_BUCKETS_ && seen < calls; i++) {
        n = c->bucket[i];
        if (!n)
            continue;
        if (seen == 0) {
            perf_hist_add_n(h, min, 1);
            n--;
        }
        seen += c->bucket[i];
        if (seen == calls && n) {
            perf_hist_add_n(h, max, 1);
            n--;
        }
        ns = perf_tally_ns_(perf_bucket_value_(i), tick);
        ns = ns < min ? min : ns > max ? max : ns;
        if (n)
            perf_hist_add_n(h, ns, n);
    }
    h->head.lo = h->head.width = h->head.width32 = 0;   /* they depend on the order of records    */
}

PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out)
{
    perf_registry_ *r = perf_registry_read_();
    perf_row_       row;
    perf_sum_      *sum;
    double          tick;
    uint32_t        id, count, best = 0, kind, length;

    if (out)
        memset(out, 0, sizeof *out);
    if (!name || !out)
        return PERF_EINVAL;
    if (!*name)
        name = "(empty)";                       /* as it was recorded                             */
    length = perf_name_length_(name);
    sum = PERF_CAST_(perf_sum_ *, PERF_MALLOC(sizeof *sum));
    if (!sum)
        return PERF_ENOMEM;
    out->parts = 1;
    out->most = out->least = part;
    if (r && perf_lock_(r))                     /* after a fork: forgets the parent's threads     */
        perf_unlock_(r);
    if (r)
        perf_sources_collect_(r);
    count = r ? PERF_ACQ_(&r->count) : 0;
    for (id = 1; id < count; id++) {
        perf_name_ *n = PERF_ACQ_(&r->names)[id];
        kind = n->kind;
        if (PERF_KIND_POINT_(kind) || n->length != length || memcmp(n->site.name, name, length))
            continue;
        if (!best || kind < PERF_ACQ_(&r->names)[best]->kind) {
            perf_row_fill_(&row, r, id, sum);
            best = row.count ? id : best;
        }
    }
    if (best) {
        perf_row_fill_(&row, r, best, sum);
        tick = perf_scope_tick_ns_(r);
        perf_tally_hist_(&out->hist, sum, tick);
        out->calls = row.count;
        out->sum_ns = perf_tally_ns_(PERF_CAST_(double, row.sum), tick);
        out->total_ns = perf_tally_ns_(PERF_CAST_(double, row.total), tick);
        out->self_ns = perf_tally_ns_(PERF_CAST_(double, row.self), tick);
        out->most_ns = out->least_ns = out->total_ns;
    }
    PERF_FREE(sum);
    return best ? PERF_OK : PERF_ENODATA;
}

PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from)
{
    uint64_t    most = ~UINT64_C(0);
    perf_status status;

    if (!into || !from || into == from || from->hist.head.highest || into->hist.head.highest)
        return PERF_EINVAL;
    if (!from->parts)
        return PERF_OK;
    if (from->calls > most - into->calls || from->sum_ns > most - into->sum_ns ||
        from->total_ns > most - into->total_ns || from->self_ns > most - into->self_ns ||
        from->parts > most - into->parts)
        return PERF_ERANGE;
    status = perf_hist_merge(&into->hist, &from->hist);
    if (status != PERF_OK)
        return status;
    if (!into->parts || from->most_ns > into->most_ns ||
        (from->most_ns == into->most_ns && from->most < into->most)) {
        into->most_ns = from->most_ns;
        into->most = from->most;
    }
    if (!into->parts || from->least_ns < into->least_ns ||
        (from->least_ns == into->least_ns && from->least < into->least)) {
        into->least_ns = from->least_ns;
        into->least = from->least;
    }
    into->calls += from->calls;
    into->sum_ns += from->sum_ns;
    into->total_ns += from->total_ns;
    into->self_ns += from->self_ns;
    into->parts += from->parts;
    return PERF_OK;
}

PERF_FN double perf_tally_imbalance(const perf_tally *t)
{
    if (!t || !t->total_ns)
        return 0.0;
    return PERF_CAST_(double, t->most_ns) * PERF_CAST_(double, t->parts) /
               PERF_CAST_(double, t->total_ns) - 1.0;
}

/* ---- trace ---- */

/* The two digits of 0 .. 99. */
PERF_FN char *perf_digits2_(char *p, uint64_t v)
{
    static const char pair[] = "00010203040506070809101112131415161718192021222324"
                               "25262728293031323334353637383940414243444546474849"
                               "50515253545556575859606162636465666768697071727374"
                               "75767778798081828384858687888990919293949596979899";

    memcpy(p, pair + v * 2, 2);
    return p + 2;
}

/* Decimal, two digits at a time from the last: 20 characters at most. */
PERF_FN char *perf_digits_(char *p, uint64_t v)
{
    char   text[20], *q = text + 20;
    size_t n;

    if (v < 10) {
        *p = PERF_CAST_(char, '0' + PERF_CAST_(int, v));
        return p + 1;
    }
    while (v >= 10) {
        q -= 2;
        (void)perf_digits2_(q, v % 100);
        v /= 100;
    }
    if (v)
        *--q = PERF_CAST_(char, '0' + PERF_CAST_(int, v));
    n = PERF_CAST_(size_t, text + 20 - q);
    memcpy(p, q, n);
    return p + n;
}

/* ".123": what is left of a microsecond. */
PERF_FN char *perf_digits_rest_(char *p, uint64_t ns)
{
    p[0] = '.';
    p[1] = PERF_CAST_(char, '0' + PERF_CAST_(int, ns / 100));
    return perf_digits2_(p + 2, ns % 100);
}

/* Nanoseconds as microseconds with three decimals, exact. */
PERF_FN char *perf_digits_us_(char *p, uint64_t ns)
{
    uint64_t us = ns / 1000;

    return perf_digits_rest_(perf_digits_(p, us), ns - us * 1000);
}

/* The same for times that follow each other: the digits above 10 ms are kept from the last one. */
typedef struct perf_digits_high_ {
    uint64_t high;
    size_t   length;
    char     text[24];
} perf_digits_high_;

PERF_FN char *perf_digits_time_(char *p, uint64_t ns, perf_digits_high_ *d)
{
    uint64_t us = ns / 1000, high = us / 10000, low = us - high * 10000;

    if (high != d->high || !high) {
        if (!high)
            return perf_digits_us_(p, ns);
        d->high = high;
        d->length = PERF_CAST_(size_t, perf_digits_(d->text, high) - d->text);
    }
    memcpy(p, d->text, sizeof d->text);
    p = perf_digits2_(p + d->length, low / 100);
    return perf_digits_rest_(perf_digits2_(p, low % 100), ns - us * 1000);
}

PERF_FN void perf_file_number_(perf_file_ *f, uint64_t v)
{
    f->p = perf_digits_(f->p, v);
}

/* A name or other text as JSON string. */
PERF_COLD_FN_ void perf_file_json_(perf_file_ *f, const char *s)
{
    perf_out_ o = PERF_ZERO;

    o.p = f->p;
    o.cap = PERF_FILE_RECORD_;
    perf_put_json_(&o, s);
    f->p += o.len;
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
    perf_epoch_ e;

    e.ticks = r->clock ? r->ns : r->ticks;
    e.ns = r->ns;
    e.tick_ns = perf_scope_tick_ns_(r);
    e.older = PERF_NULL_;
    return e;
}

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *e, uint64_t ticks)
{
    int64_t since = PERF_CAST_(int64_t, ticks - e->ticks);
    double  ns;

    while (PERF_UNLIKELY_(since < 0) && e->older) {
        e = e->older;
        since = PERF_CAST_(int64_t, ticks - e->ticks);
    }
    ns = PERF_CAST_(double, since) * e->tick_ns;
    return e->ns + PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
}

/* `,"pid":7,"tid":7` and the like, the same for all records of a thread. */
typedef struct perf_json_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    char           *prefix;     /* of all names: record up to its time, PERF_PREFIX_ bytes each   */
    uint32_t        names;
} perf_json_;
#define PERF_PREFIX_ 96         /* the length in the first byte; longer ones are written anew     */

PERF_COLD_FN_ char *perf_json_prefix_(char *p, const char *name)
{
    perf_out_ o = PERF_ZERO;

    o.p = p;
    o.cap = PERF_FILE_RECORD_;
    perf_put_(&o, ",\n{\"ph\":\"X\",\"name\":");
    perf_put_json_(&o, name);
    perf_put_(&o, ",\"ts\":");
    return p + o.len;
}

/* The other kinds: counters, instants, spans that may overlap. */
PERF_COLD_FN_ void perf_json_other_(perf_json_ *j, const perf_zone_ *z, const char *name,
                                    const char *where)
{
    perf_file_ *f = &j->file;
    uint64_t    start = perf_epoch_ns_(&j->epoch, z->start);
    int         half;

    if (z->kind == PERF_KIND_ASYNC_) {
        for (half = 0; half < 2; half++) {
            perf_file_put_(f, half ? ",\n{\"ph\":\"e\",\"cat\":\"async\",\"name\":"
                                   : ",\n{\"ph\":\"b\",\"cat\":\"async\",\"name\":");
            perf_file_json_(f, name);
            perf_file_put_(f, ",\"id\":\"");
            perf_file_number_(f, z->extra);
            perf_file_put_(f, "\",\"ts\":");
            if (half)
                start = perf_epoch_ns_(&j->epoch, z->start + z->length);
            f->p = perf_digits_us_(f->p, start);
            perf_file_put_(f, where);
        }
        return;
    }
    perf_file_put_(f, z->kind == PERF_KIND_COUNT_ ? ",\n{\"ph\":\"C\",\"name\":"
                                                  : ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    perf_file_json_(f, name);
    if (z->kind == PERF_KIND_COUNT_) {
        perf_out_ o = PERF_ZERO;
        double    value = perf_from_bits_(z->extra);
        perf_file_put_(f, ",\"args\":{\"value\":");
        o.p = f->p;
        o.cap = 64;
        if (perf_is_finite_(value))
            perf_put_fixed_(&o, value, 6);
        else
            perf_put_(&o, "null");
        f->p += o.len;
        perf_file_put_(f, "}");
    }
    perf_file_put_(f, ",\"ts\":");
    f->p = perf_digits_us_(f->p, start);
    perf_file_put_(f, where);
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  Hot, for else gcc finds that only cold functions call it,
 * and divides by 100 with a division, five times slower. */
PERF_HOT_FN_ void perf_json_thread_(void *with, const perf_events_ *e)
{
    perf_json_ *j = PERF_CAST_(perf_json_ *, with);
    perf_file_ *f = &j->file;
    char        where[64], *w = where;
    perf_zone_  z;
    uint64_t    i = 0, start;
    perf_digits_high_ high = PERF_ZERO;

    memcpy(w, ",\"pid\":", 7);
    w = perf_digits_(w + 7, PERF_GET_(&j->registry->process));
    memcpy(w, ",\"tid\":", 7);
    w = perf_digits_(w + 7, e->thread);
    memcpy(w, "}", 2);
    if (e->name[0]) {
        perf_file_put_(f, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":");
        perf_file_json_(f, e->name);
        perf_file_put_(f, "}");
        perf_file_put_(f, where);
    }
    while (i < e->count) {
        const char *prefix;
        if (!perf_zone_at_(e, &i, j->registry, &z))
            continue;
        if (f->p > f->limit)
            perf_file_flush_(f);
        if (!PERF_KIND_SLICE_(z.kind)) {
            perf_json_other_(j, &z, PERF_ACQ_(&j->registry->names)[z.name]->site.name, where);
            continue;
        }
        prefix = j->prefix + PERF_CAST_(size_t, z.name) * PERF_PREFIX_;
        if (z.name < j->names && *prefix) {
            memcpy(f->p, prefix + 1, PERF_PREFIX_);
            f->p += PERF_CAST_(unsigned char, *prefix);
        } else {
            f->p = perf_json_prefix_(f->p, PERF_ACQ_(&j->registry->names)[z.name]->site.name);
        }
        start = perf_epoch_ns_(&j->epoch, z.start);
        f->p = perf_digits_time_(f->p, start, &high);
        memcpy(f->p, ",\"dur\":", 7);
        f->p = perf_digits_us_(f->p + 7, perf_epoch_ns_(&j->epoch, z.start + z.length) - start);
        memcpy(f->p, where, sizeof where);
        f->p += w - where + 1;
    }
}

/* The prefixes of names from .. j->names. */
PERF_COLD_FN_ void perf_json_names_(perf_json_ *j, uint32_t from)
{
    uint32_t id;

    for (id = from; id < j->names; id++) {
        char  text[PERF_FILE_RECORD_];
        char *end = perf_json_prefix_(text, PERF_ACQ_(&j->registry->names)[id]->site.name);
        char *to = j->prefix + PERF_CAST_(size_t, id) * PERF_PREFIX_;
        to[0] = 0;
        if (end - text < PERF_PREFIX_) {
            to[0] = PERF_CAST_(char, end - text);
            memcpy(to + 1, text, PERF_CAST_(size_t, end - text));
        }
    }
}

/* Everything of the process to an open file. */
PERF_COLD_FN_ void perf_json_write_(perf_json_ *j)
{
    perf_file_  *f = &j->file;
    perf_losses_ l = perf_losses_sum_(j->registry);

    perf_json_names_(j, 1);
    perf_file_put_(f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":");
    perf_file_number_(f, l.overwritten);
    perf_file_put_(f, ",\"uncounted_scopes\":");
    perf_file_number_(f, l.lost + l.orphans);
    perf_file_put_(f, "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_labels\",");
    perf_file_put_(f, "\"args\":{\"labels\":\"perf.h\"},\"pid\":");
    perf_file_number_(f, PERF_GET_(&j->registry->process));
    perf_file_put_(f, "}");
    if (!perf_events_each_(j->registry, perf_json_thread_, j))
        f->failed = 1;
    perf_file_put_(f, "\n]}\n");
    perf_file_flush_(f);
}

PERF_COLD_FN_ void perf_json_go_(void *with)
{
    perf_json_write_(PERF_CAST_(perf_json_ *, with));
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    perf_json_  j;
    perf_status status;

    memset(&j, 0, sizeof j);
    j.registry = perf_registry_read_();
    if (!j.registry)
        return PERF_ENOMEM;
    if (perf_lock_(j.registry))                 /* after a fork: forgets the parent's threads     */
        perf_unlock_(j.registry);
    perf_sources_collect_(j.registry);
    j.epoch = perf_epoch_of_(j.registry);
    j.names = PERF_ACQ_(&j.registry->count);
    j.prefix = PERF_CAST_(char *, PERF_MALLOC((j.names + 2) * PERF_PREFIX_));
    if (!j.prefix)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &j.file, perf_json_go_, &j);
    PERF_FREE(j.prefix);
    return status;
}

/* ---- at exit ---- */

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__destructor__, __used__)) static void perf_at_exit_(void)
{
    const char      *report = perf_getenv_("PERF_REPORT"), *trace = perf_getenv_("PERF_TRACE");
    perf_report_opts o = PERF_ZERO;

    if (report && *report && strcmp(report, "0")) {
        o.view = !strcmp(report, "tree")   ? PERF_VIEW_TREE
                 : !strcmp(report, "csv")  ? PERF_VIEW_CSV
                 : !strcmp(report, "json") ? PERF_VIEW_JSON
                                           : PERF_VIEW_TABLE;
        (void)perf_report_to(stderr, &o);
    }
    if (trace && *trace && perf_trace_save(trace) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", trace);
}
#endif

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

#if PERF_DISABLE
#define perf_memory_mark(p)   PERF_OFF_CODE_((perf_memory_mark)(p))
#define perf_report()         PERF_OFF_CODE_((perf_report)())
#define perf_report_to(...)   PERF_OFF_CODE_((perf_report_to)(__VA_ARGS__))
#define perf_trace_save(path) PERF_OFF_CODE_((perf_trace_save)(path))
#define perf_tally_of(n, p, out) PERF_OFF_CODE_((perf_tally_of)(n, p, out))
#endif

PERF_END_DECLS

#if !PERF_ONE_CORE_
#include "perf_loop.h"          /* see perf_bench.h                                               */
#endif
#endif /* PERF_REPORT_H */
