/* perf_rows.h - what was recorded under each name, of all threads.
 *
 *     perf_row_ row;
 *     perf_row_fill_(&row, registry, id, sum, tick_ns);    // calls, ticks, percentiles, ns
 *
 * For the library itself; it reads while threads go on, and takes no lock.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_ROWS_H
#define PERF_ROWS_H

#include "perf_record.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_row_, perf_row_fill_, perf_sum_  what all threads recorded under a name; its buckets
 *   PERF_COLUMNS_, PERF_COLUMN_*_  those figures of it that are in ns, in the order of the CSV
 *   perf_source_add_, perf_sources_collect_  durations from elsewhere; they take a lock
 *   perf_bucket_value_  middle of a bucket in ticks
 *   perf_kind_text_  a kind in words
 *   perf_visit_, perf_visit_next_  a walk over the cells of a thread, each with its time         */

/* >>private: bodies from the whole to its parts; a leaf may stand above its first user --------- */

/* The figures of a row, in the order of the CSV. */
enum { PERF_COLUMN_TOTAL_, PERF_COLUMN_SELF_, PERF_COLUMN_MEAN_, PERF_COLUMN_MIN_,
       PERF_COLUMN_P50_, PERF_COLUMN_P95_, PERF_COLUMN_P99_, PERF_COLUMN_MAX_,
       PERF_COLUMN_LAST_, PERF_COLUMNS_ };

typedef struct perf_row_ {      /* one name, all threads                                          */
    const char *name;
    uint32_t    kind;
    int         point;                          /* it has no length: a counter or an instant      */
    uint64_t    count, numbers;                 /* calls; values of a counter                     */
    double      sum;                            /* ns of all calls, of recursive ones as well     */
    double      figure[PERF_COLUMNS_];          /* in ns; of a counter in its unit                */
} perf_row_;

/* What was recorded under one name, added up; times in ticks. */
typedef struct perf_sum_ {
    uint64_t sum, total, self, min, max;
    double   last, least, most, values;         /* of a counter                                   */
    uint64_t last_at;                           /* when its last value came                       */
    uint64_t calls;                             /* in the buckets                                 */
    uint64_t bucket[PERF_CELL_BUCKETS_];
} perf_sum_;

typedef struct perf_ticks_ {
    uint64_t total;             /* recursive calls once; never less than what ran inside          */
    uint64_t self;              /* without the scopes inside                                      */
} perf_ticks_;

typedef struct perf_visit_ {    /* a walk over the cells of a thread, name by name                */
    perf_recorder_   *recorder; /* set by the caller, the rest is 0 at first                      */
    const perf_name_ *name;
    perf_cell_       *cell, *first;             /* first: of that name                            */
    perf_ticks_       ticks;                    /* of the cell                                    */
    uint32_t          id;                       /* of the name                                    */
} perf_visit_;

PERF_COLD_DECL_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *t,
                                    perf_cell_ *c);
PERF_COLD_DECL_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *c);
PERF_COLD_DECL_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *t, perf_cell_ *c);
PERF_COLD_DECL_ void perf_row_figures_(perf_row_ *row, const perf_sum_ *sum, double tick);
PERF_FN double perf_sum_quantile_(const perf_sum_ *sum, double q);
PERF_FN double perf_bucket_value_(uint32_t index);
PERF_FN perf_cell_ *perf_kin_(perf_recorder_ *t, uint32_t id);
PERF_FN perf_cell_ *perf_kin_next_(perf_cell_ *c, const perf_cell_ *first);
PERF_FN perf_ticks_ perf_cell_ticks_(perf_cell_ *c);

/* The number of a bucket becomes the bits of a double. */
#define PERF_CELL_BIAS_ (1023u << PERF_CELL_BITS_)

/* What was recorded under name `id`; its buckets stay in *sum.  tick: ns. */
PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *r, uint32_t id, perf_sum_ *sum,
                                  double tick)
{
    perf_name_    **table = PERF_ACQ_(&r->names);
    perf_recorder_ *t;
    perf_cell_     *first, *c;
    uint32_t        i;

    PERF_LIBC_(memset)(sum, 0, sizeof *sum);
    PERF_LIBC_(memset)(row, 0, sizeof *row);
    row->name = table[id]->site.name;
    row->kind = table[id]->kind;
    row->point = row->kind == PERF_KIND_COUNT_ || row->kind == PERF_KIND_INSTANT_;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        for (c = first = perf_kin_(t, id); c; c = perf_kin_next_(c, first))
            perf_sum_cell_(sum, row, t, c);
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        sum->calls += sum->bucket[i];
    perf_row_figures_(row, sum, tick);
}

/* Goes to the next cell; 0: there is none. */
PERF_COLD_FN_ int perf_visit_next_(perf_visit_ *v)
{
    perf_registry_ *r = v->recorder->home;

    if (v->cell)
        v->cell = perf_kin_next_(v->cell, v->first);
    while (!v->cell) {
        if (++v->id >= PERF_ACQ_(&r->count))
            return 0;
        v->cell = v->first = perf_kin_(v->recorder, v->id);
    }
    v->name = PERF_ACQ_(&r->names)[v->id];
    v->ticks = perf_cell_ticks_(v->cell);
    return 1;
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
    if (c == first)
        return PERF_NULL_;
    return c;
}

/* Adds one cell; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *t, perf_cell_ *c)
{
    uint64_t    n = PERF_GET_(&c->count), x;
    perf_ticks_ ticks;

    if (!n)
        return;
    row->count += n;
    if (row->point) {
        perf_sum_gauge_(sum, row, c);
        return;
    }
    sum->sum += PERF_GET_(&c->sum);
    ticks = perf_cell_ticks_(c);
    sum->total += ticks.total;
    sum->self += ticks.self;
    x = PERF_GET_(&c->of.calls.min);
    if (x < sum->min || row->count == n)
        sum->min = x;
    x = PERF_GET_(&c->of.calls.max);
    if (x > sum->max)
        sum->max = x;
    perf_sum_buckets_(sum, t, c);
}

/* The time of a cell, whose owner may be writing. */
PERF_FN perf_ticks_ perf_cell_ticks_(perf_cell_ *c)
{
    uint64_t    sum = PERF_GET_(&c->sum), again = PERF_GET_(&c->again);
    uint64_t    inside = PERF_GET_(&c->inside) + PERF_GET_(&c->within);
    perf_ticks_ t = PERF_ZERO;

    if (sum > again)
        t.total = sum - again;
    if (sum > inside)
        t.self = sum - inside;
    if (t.self > t.total)
        t.self = t.total;
    return t;
}

PERF_COLD_FN_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *c)
{
    perf_gauge_ *g = PERF_ACQ_(&c->of.calls.gauge);
    uint64_t     n = g ? PERF_GET_(&g->n) : 0;
    double       least, most;

    if (!n)
        return;
    least = perf_from_bits_(PERF_GET_(&g->least));
    most = perf_from_bits_(PERF_GET_(&g->most));
    if (!row->numbers || least < sum->least)
        sum->least = least;
    if (!row->numbers || most > sum->most)
        sum->most = most;
    sum->values += perf_from_bits_(PERF_GET_(&g->values));
    if (PERF_GET_(&g->at) >= sum->last_at) {
        sum->last_at = PERF_GET_(&g->at);
        sum->last = perf_from_bits_(PERF_GET_(&g->last));
    }
    row->numbers += n;
}

/* The durations of a bucket: its counter has come to the next half of its range, or it has not. */
PERF_FN uint64_t perf_halves_sum_(uint32_t halves, uint32_t n)
{
    if (n >> 31 != (halves & 1))
        halves++;
    return PERF_CAST_(uint64_t, halves) << 31 | (n & 0x7fffffffu);
}

/* The durations of one index, with what is still to be counted.  All is read again if the owner has
 * moved the counters meanwhile.                                                                  */
PERF_COLD_FN_ uint64_t perf_cell_counter_(perf_recorder_ *t, perf_cell_ *c, uint32_t index)
{
    perf_buckets_ *b;
    perf_halves_  *h;
    uint64_t       n;
    uint32_t       i, k, halves, entry;

    do {
        b = PERF_ACQ_(&c->buckets);
        i = index - PERF_ACQ_(&b->first);
        h = PERF_ACQ_(&b->halves);
        while (h && h->index != index)
            h = h->next;
        halves = h ? PERF_GET_(&h->halves) : 0;
        n = i < b->room ? perf_halves_sum_(halves, PERF_ACQ_(&b->n[i])) : 0;
        for (k = 0; k < PERF_LATE_; k++)
            n += i < b->room && PERF_GET_(&t->late[k]) == &b->n[i];
        for (k = 0; k < PERF_RARE_ && i >= b->room; k++) {
            entry = PERF_ACQ_(&b->rare->n[k]);
            if (entry >> 16 == index)
                n = entry & 0xffff;
        }
    } while (PERF_ACQ_(&c->buckets) != b || (h && PERF_GET_(&h->halves) != halves));
    return n;
}

/* Adds the counters of a cell's durations, and its entries. */
PERF_COLD_FN_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *t, perf_cell_ *c)
{
    perf_buckets_ *b;
    uint32_t       i, at, index[PERF_RARE_];

    do {
        b = PERF_ACQ_(&c->buckets);
        for (i = 0; b && i < PERF_RARE_; i++)
            index[i] = PERF_ACQ_(&b->rare->n[i]) >> 16;
    } while (PERF_ACQ_(&c->buckets) != b);
    if (!b)
        return;
    for (i = 0; i < b->room + PERF_RARE_; i++) {
        at = i < b->room ? b->first + i : index[i - b->room];
        if (i >= b->room && at - b->first < b->room)
            continue;                           /* it is moving there                             */
        at -= PERF_CELL_BIAS_;                  /* slack may reach below the first                */
        if (at < PERF_CELL_BUCKETS_)
            sum->bucket[at] += perf_cell_counter_(t, c, at + PERF_CELL_BIAS_);
    }
}

PERF_COLD_FN_ void perf_row_figures_(perf_row_ *row, const perf_sum_ *sum, double tick)
{
    double *x = row->figure;

    if (row->numbers) {
        x[PERF_COLUMN_MEAN_] = sum->values / PERF_CAST_(double, row->numbers);
        x[PERF_COLUMN_MIN_] = sum->least;
        x[PERF_COLUMN_MAX_] = sum->most;
        x[PERF_COLUMN_LAST_] = sum->last;
    } else if (row->count) {
        x[PERF_COLUMN_TOTAL_] = PERF_CAST_(double, sum->total) * tick;
        x[PERF_COLUMN_SELF_] = PERF_CAST_(double, sum->self) * tick;
        row->sum = PERF_CAST_(double, sum->sum) * tick;
        x[PERF_COLUMN_MEAN_] = row->sum / PERF_CAST_(double, row->count);
        x[PERF_COLUMN_MIN_] = PERF_CAST_(double, sum->min) * tick;
        x[PERF_COLUMN_MAX_] = PERF_CAST_(double, sum->max) * tick;
    }
    if (row->count && !row->point) {
        x[PERF_COLUMN_P50_] = perf_sum_quantile_(sum, 0.50) * tick;
        x[PERF_COLUMN_P95_] = perf_sum_quantile_(sum, 0.95) * tick;
        x[PERF_COLUMN_P99_] = perf_sum_quantile_(sum, 0.99) * tick;
    }
}

/* Nearest rank: the value at or below which a share q of the calls lie, within [min, max]. */
PERF_FN double perf_sum_quantile_(const perf_sum_ *sum, double q)
{
    double   want = q * PERF_CAST_(double, sum->calls), value;
    uint64_t rank = PERF_CAST_(uint64_t, want), seen = 0;
    uint32_t i;

    if (PERF_CAST_(double, rank) < want || rank == 0)
        rank++;
    for (i = 0; i < PERF_CELL_BUCKETS_ - 1; i++) {
        seen += sum->bucket[i];
        if (seen >= rank)
            break;
    }
    value = perf_bucket_value_(i);
    if (value > PERF_CAST_(double, sum->max))
        value = PERF_CAST_(double, sum->max);
    if (value < PERF_CAST_(double, sum->min))
        value = PERF_CAST_(double, sum->min);
    return value;
}

/* Middle of a bucket in ticks. */
PERF_FN double perf_bucket_value_(uint32_t index)
{
    uint64_t bits = PERF_CAST_(uint64_t, index + PERF_CELL_BIAS_) << (52 - PERF_CELL_BITS_);
    double   low = perf_from_bits_(bits);

    return low + (perf_from_bits_(bits + (UINT64_C(1) << (52 - PERF_CELL_BITS_))) - low) / 2;
}

/* ---- durations from elsewhere: a device, another clock ---- */

/* Adds it once; later calls with the same object do nothing. */
PERF_COLD_FN_ void perf_source_add_(perf_registry_ *r, perf_source_ *s)
{
    perf_source_ *p;

    if (!perf_lock_(r))
        return;
    for (p = r->sources; p && p != s; p = p->next) {
    }
    if (!p) {
        s->next = r->sources;
        PERF_REL_(&r->sources, s);
    }
    perf_unlock_(&r->lock);
}

PERF_COLD_FN_ void perf_sources_collect_(perf_registry_ *r)
{
    perf_source_ *s;

    if (perf_lock_(r))                          /* after a fork: forgets the parent's threads     */
        perf_unlock_(&r->lock);
    for (s = PERF_ACQ_(&r->sources); s; s = s->next)
        if (s->collect)
            s->collect(r);
}

PERF_COLD_FN_ const char *perf_kind_text_(uint32_t kind)
{
    static const char *const text[] = {"scope", "wait",   "async",   "counter",  "instant",
                                       "sync",  "device", "copy in", "copy out", "copy"};

    if (kind >= sizeof text / sizeof text[0])
        return "unknown";
    return text[kind];
}

PERF_END_DECLS

#endif /* PERF_ROWS_H */
