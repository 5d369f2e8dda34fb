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
 *   perf_kind_text_  a kind in words; perf_kind_is_host_  1: it has self time
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

typedef struct perf_cell_time_ {    /* the time of a cell                                         */
    uint64_t total;             /* recursive calls once; never less than what ran inside          */
    uint64_t self;              /* without the scopes inside                                      */
} perf_cell_time_;

PERF_FN perf_cell_ *perf_kin_first_(perf_recorder_ *rec, uint32_t id);
PERF_FN perf_cell_ *perf_kin_next_(perf_cell_ *cell, const perf_cell_ *first);
PERF_COLD_DECL_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *rec,
                                    perf_cell_ *cell);
PERF_FN perf_cell_time_ perf_cell_ticks_(perf_cell_ *cell);
PERF_COLD_DECL_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *rec, perf_cell_ *cell);
PERF_COLD_DECL_ uint64_t perf_cell_counter_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index);
PERF_COLD_DECL_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *cell);
PERF_COLD_DECL_ void perf_row_figures_(perf_row_ *row, const perf_sum_ *sum, double tick);
PERF_FN double perf_sum_quantile_(const perf_sum_ *sum, double q);
PERF_FN double perf_bucket_value_(uint32_t index);

/* Added to the number of a bucket it gives the highest bits of a double, see perf_bucket_index_. */
#define PERF_CELL_BIAS_ (1023u << PERF_CELL_BITS_)

PERF_FN int perf_kind_is_host_(uint32_t kind)
{
    return kind < PERF_KIND_ASYNC_ || kind == PERF_KIND_SYNC_;
}

/* What was recorded under name `id`; its buckets stay in *sum.  tick: ns. */
PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *reg, uint32_t id, perf_sum_ *sum,
                                  double tick)
{
    perf_name_    **table = PERF_ACQ_(&reg->names);
    perf_recorder_ *rec;
    perf_cell_     *first, *cell;
    uint32_t        i;

    PERF_LIBC_(memset)(sum, 0, sizeof *sum);
    PERF_LIBC_(memset)(row, 0, sizeof *row);
    row->name = table[id]->site.name;
    row->kind = table[id]->kind;
    row->point = row->kind == PERF_KIND_COUNT_ || row->kind == PERF_KIND_INSTANT_;
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        first = perf_kin_first_(rec, id);       /* its cells of that name, whoever called it      */
        for (cell = first; cell; cell = perf_kin_next_(cell, first))
            perf_sum_cell_(sum, row, rec, cell);
    }
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        sum->calls += sum->bucket[i];
    perf_row_figures_(row, sum, tick);
}

/* The cells of a name in a thread, whoever called it: the first one, and the one after it; NULL:
 * none.  A thread that has yet to carry out a reset shows nothing.                               */
PERF_FN perf_cell_ *perf_kin_first_(perf_recorder_ *rec, uint32_t id)
{
    if (id >= PERF_ACQ_(&rec->room) || (PERF_GET_(&rec->request) & PERF_ASK_RESET_))
        return PERF_NULL_;
    return PERF_ACQ_(&PERF_ACQ_(&rec->cell)[id]);
}

PERF_FN perf_cell_ *perf_kin_next_(perf_cell_ *cell, const perf_cell_ *first)
{
    cell = PERF_ACQ_(&cell->kin);
    if (cell == first)
        return PERF_NULL_;
    return cell;
}

/* Adds one cell; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_sum_cell_(perf_sum_ *sum, perf_row_ *row, perf_recorder_ *rec,
                                  perf_cell_ *cell)
{
    uint64_t    calls = PERF_GET_(&cell->count), value;
    perf_cell_time_ ticks;

    if (!calls)
        return;
    row->count += calls;
    if (row->point) {
        perf_sum_gauge_(sum, row, cell);
        return;
    }
    sum->sum += PERF_GET_(&cell->sum);
    ticks = perf_cell_ticks_(cell);             /* by the formulas of perf_cell_                  */
    sum->total += ticks.total;
    sum->self += ticks.self;
    value = PERF_GET_(&cell->of.calls.min);
    if (value < sum->min || row->count == calls)
        sum->min = value;
    value = PERF_GET_(&cell->of.calls.max);
    if (value > sum->max)
        sum->max = value;
    perf_sum_buckets_(sum, rec, cell);
}

/* The time of a cell, whose owner may be writing. */
PERF_FN perf_cell_time_ perf_cell_ticks_(perf_cell_ *cell)
{
    uint64_t    sum = PERF_GET_(&cell->sum), again = PERF_GET_(&cell->again);
    uint64_t    inside = PERF_GET_(&cell->inside) + PERF_GET_(&cell->within);
    perf_cell_time_ ticks = PERF_ZERO;

    if (sum > again)
        ticks.total = sum - again;
    if (sum > inside)
        ticks.self = sum - inside;
    if (ticks.self > ticks.total)
        ticks.self = ticks.total;
    return ticks;
}

/* Adds the durations of a cell: i < room are its counters, then come the entries of rare ones. */
PERF_COLD_FN_ void perf_sum_buckets_(perf_sum_ *sum, perf_recorder_ *rec, perf_cell_ *cell)
{
    perf_buckets_ *buckets;
    uint32_t       i, at, place, index[PERF_RARE_];

    do {
        buckets = PERF_ACQ_(&cell->buckets);
        for (i = 0; buckets && i < PERF_RARE_; i++)
            index[i] = PERF_ACQ_(&buckets->rare->n[i]) >> 16;
    } while (PERF_ACQ_(&cell->buckets) != buckets);
    if (!buckets)
        return;
    for (i = 0; i < buckets->room + PERF_RARE_; i++) {
        at = buckets->first + i;
        if (i >= buckets->room)
            at = index[i - buckets->room];
        if (i >= buckets->room && at - buckets->first < buckets->room)
            continue;                           /* this entry is moving to a counter              */
        place = at - PERF_CELL_BIAS_;           /* bucket[0] has the durations of 1 tick          */
        if (place < PERF_CELL_BUCKETS_)         /* slack may reach below it                       */
            sum->bucket[place] += perf_cell_counter_(rec, cell, at);
    }
}

/* The durations of one index = halves * 2^31 + the low 31 bits of its counter + those that are
 * still in `late`.  The counter's highest bit says whether it has come to one more half since
 * `halves` was written.  All is read again if the owner has moved the counters meanwhile.        */
PERF_COLD_FN_ uint64_t perf_cell_counter_(perf_recorder_ *rec, perf_cell_ *cell, uint32_t index)
{
    perf_buckets_ *buckets;
    perf_halves_  *half;
    uint64_t       calls;
    uint32_t       place, i, halves, counter, entry;

    do {
        buckets = PERF_ACQ_(&cell->buckets);
        place = index - PERF_ACQ_(&buckets->first);     /* of its counter; not below room: none   */
        half = PERF_ACQ_(&buckets->halves);
        while (half && half->index != index)
            half = half->next;
        halves = half ? PERF_GET_(&half->halves) : 0;
        calls = 0;
        if (place < buckets->room) {
            counter = PERF_ACQ_(&buckets->n[place]);
            calls = halves;
            if (counter >> 31 != (halves & 1))
                calls++;
            calls = calls << 31 | (counter & 0x7fffffffu);
        }
        for (i = 0; i < PERF_LATE_ && place < buckets->room; i++)
            calls += PERF_GET_(&rec->late[i]) == &buckets->n[place];
        for (i = 0; i < PERF_RARE_ && place >= buckets->room; i++) {
            entry = PERF_ACQ_(&buckets->rare->n[i]);
            if (entry >> 16 == index)
                calls = entry & 0xffff;
        }
    } while (PERF_ACQ_(&cell->buckets) != buckets || (half && PERF_GET_(&half->halves) != halves));
    return calls;
}

PERF_COLD_FN_ void perf_sum_gauge_(perf_sum_ *sum, perf_row_ *row, perf_cell_ *cell)
{
    perf_gauge_ *gauge = PERF_ACQ_(&cell->of.calls.gauge);
    uint64_t     n = gauge ? PERF_GET_(&gauge->n) : 0;
    double       least, most;

    if (!n)
        return;
    least = perf_from_bits_(PERF_GET_(&gauge->least));
    most = perf_from_bits_(PERF_GET_(&gauge->most));
    if (!row->numbers || least < sum->least)
        sum->least = least;
    if (!row->numbers || most > sum->most)
        sum->most = most;
    sum->values += perf_from_bits_(PERF_GET_(&gauge->values));
    if (PERF_GET_(&gauge->at) >= sum->last_at) {
        sum->last_at = PERF_GET_(&gauge->at);
        sum->last = perf_from_bits_(PERF_GET_(&gauge->last));
    }
    row->numbers += n;
}

/* From ticks to ns: the figures that a table shows. */
PERF_COLD_FN_ void perf_row_figures_(perf_row_ *row, const perf_sum_ *sum, double tick)
{
    double *figure = row->figure;

    if (row->numbers) {
        figure[PERF_COLUMN_MEAN_] = sum->values / PERF_CAST_(double, row->numbers);
        figure[PERF_COLUMN_MIN_] = sum->least;
        figure[PERF_COLUMN_MAX_] = sum->most;
        figure[PERF_COLUMN_LAST_] = sum->last;
    } else if (row->count) {
        figure[PERF_COLUMN_TOTAL_] = PERF_CAST_(double, sum->total) * tick;
        figure[PERF_COLUMN_SELF_] = PERF_CAST_(double, sum->self) * tick;
        row->sum = PERF_CAST_(double, sum->sum) * tick;
        figure[PERF_COLUMN_MEAN_] = row->sum / PERF_CAST_(double, row->count);
        figure[PERF_COLUMN_MIN_] = PERF_CAST_(double, sum->min) * tick;
        figure[PERF_COLUMN_MAX_] = PERF_CAST_(double, sum->max) * tick;
    }
    if (row->count && !row->point) {
        figure[PERF_COLUMN_P50_] = perf_sum_quantile_(sum, 0.50) * tick;
        figure[PERF_COLUMN_P95_] = perf_sum_quantile_(sum, 0.95) * tick;
        figure[PERF_COLUMN_P99_] = perf_sum_quantile_(sum, 0.99) * tick;
    }
}

/* Nearest rank: the value at or below which a share q of the calls lie, within [min, max]. */
PERF_FN double perf_sum_quantile_(const perf_sum_ *sum, double q)
{
    double   want = q * PERF_CAST_(double, sum->calls), value;
    uint64_t rank = PERF_CAST_(uint64_t, want), counted = 0;
    uint32_t i;

    if (PERF_CAST_(double, rank) < want || rank == 0)
        rank++;
    for (i = 0; i < PERF_CELL_BUCKETS_ - 1; i++) {
        counted += sum->bucket[i];
        if (counted >= rank)
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

/* ---- a walk over the cells of a thread ---- */

typedef struct perf_visit_ {    /* a walk over the cells of a thread, name by name                */
    perf_recorder_   *recorder; /* set by the caller, the rest is 0 at first                      */
    const perf_name_ *name;
    perf_cell_       *cell, *first;             /* first: of that name                            */
    perf_cell_time_       ticks;                    /* of the cell                                */
    uint32_t          id;                       /* of the name                                    */
} perf_visit_;

/* Goes to the next cell; 0: there is none. */
PERF_COLD_FN_ int perf_visit_next_(perf_visit_ *visit)
{
    perf_registry_ *reg = visit->recorder->home;

    if (visit->cell)
        visit->cell = perf_kin_next_(visit->cell, visit->first);
    while (!visit->cell) {
        if (++visit->id >= PERF_ACQ_(&reg->count))
            return 0;
        visit->cell = visit->first = perf_kin_first_(visit->recorder, visit->id);
    }
    visit->name = PERF_ACQ_(&reg->names)[visit->id];
    visit->ticks = perf_cell_ticks_(visit->cell);
    return 1;
}

/* ---- durations from elsewhere: a device, another clock ---- */

/* Adds it once; later calls with the same object do nothing. */
PERF_COLD_FN_ void perf_source_add_(perf_registry_ *reg, perf_source_ *source)
{
    perf_source_ *known;

    if (!perf_lock_(reg))
        return;
    known = reg->sources;
    while (known && known != source)
        known = known->next;
    if (!known) {
        source->next = reg->sources;
        PERF_REL_(&reg->sources, source);
    }
    perf_unlock_(&reg->lock);
}

PERF_COLD_FN_ void perf_sources_collect_(perf_registry_ *reg)
{
    perf_source_ *source;

    if (perf_lock_(reg))                        /* after a fork: forgets the parent's threads     */
        perf_unlock_(&reg->lock);
    for (source = PERF_ACQ_(&reg->sources); source; source = source->next)
        if (source->collect)
            source->collect(reg);
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
