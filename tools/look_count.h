/* look_count.h - what one reading says, or two say of the time between them: a row for each name,
 * and the tree of calls.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_COUNT_H
#define PERF_TOOLS_LOOK_COUNT_H

#include "look_loops.h"
#include "look_read.h"

enum { LOOK_OCTAVES = 52, LOOK_TREE_DEPTH = 128 };

typedef struct look_row {               /* one name; times in ticks                               */
    uint32_t   name, kind;
    uint64_t   count, sum, total, self, min, max;
    double     p50, p95, p99;
    look_gauge gauge;                   /* numbers: n 0, none                                     */
} look_row;

typedef struct look_node {              /* one path of names; [0] is the root                     */
    uint32_t name, parent, depth;
    uint64_t calls, total, self, size;
    uint32_t first, next;               /* its first child, the next of its caller; 0: none       */
} look_node;

typedef struct look_report {
    const look_reading *now;
    const look_names   *names;
    const look_loops   *loops;          /* NULL: not read                                         */
    look_row           *row;
    size_t              rows;
    look_node          *node;
    uint32_t            nodes;
    uint64_t            self, calls;    /* ticks of all self times; calls of the tree             */
    uint64_t            wait, all, most, sync;  /* of the main thread, ticks                      */
    uint32_t            where;          /* name of the longest wait                               */
} look_report;

typedef enum look_sort {
    LOOK_BY_SELF, LOOK_BY_TOTAL, LOOK_BY_CALLS, LOOK_BY_MEAN, LOOK_BY_MAX, LOOK_BY_P99, LOOK_BY_NAME
} look_sort;

/* ---- cells ---- */

/* The same cell in the reading before; NULL: it was not there, or a reset has emptied it. */
PERF_FN const look_cell *look_cell_before(const look_reading *before, const look_reading *now,
                                          const look_cell *cell)
{
    const look_thread *thread = &now->thread[cell->thread];
    const look_cell   *was;
    size_t             i;

    if (!before)
        return NULL;
    i = cell->thread + before->threads - now->threads;  /* new threads come first                 */
    if (i >= before->threads || before->thread[i].at != thread->at)
        for (i = 0; i < before->threads; i++)
            if (before->thread[i].at == thread->at)
                break;
    if (i == before->threads || before->thread[i].birth != thread->birth)
        return NULL;
    was = look_cell_at(before, &before->thread[i], cell->at);
    return was && was->name == cell->name && was->count <= cell->count && was->sum <= cell->sum
               ? was : NULL;
}

/* Recursive calls once. */
PERF_FN uint64_t look_cell_total(const look_cell *cell)
{
    return cell->sum > cell->again ? cell->sum - cell->again : 0;
}

/* Without the scopes inside. */
PERF_FN uint64_t look_cell_self(const look_cell *cell)
{
    const uint64_t inside = cell->inside + cell->within, total = look_cell_total(cell);
    const uint64_t self = cell->sum > inside ? cell->sum - inside : 0;

    return self < total ? self : total;
}

PERF_FN uint64_t look_since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* What the cell has recorded since then; was NULL: since the start. */
PERF_FN look_cell look_cell_difference(const look_cell *cell, const look_cell *was)
{
    look_cell d = *cell;

    if (!was)
        return d;
    d.count -= was->count;
    d.sum -= was->sum;
    d.again = look_since(cell->again, was->again);
    d.inside = look_since(cell->inside, was->inside);
    d.within = look_since(cell->within, was->within);
    return d;
}

/* ---- rows ---- */

/* Middle of a bucket in ticks. */
PERF_FN double look_bucket_value(uint64_t index, unsigned bits)
{
    const uint64_t word = (index + ((uint64_t)1023 << bits)) << (52 - bits);
    const double   low = perf_from_bits_(word);

    return low + (perf_from_bits_(word + ((uint64_t)1 << (52 - bits))) - low) / 2;
}

/* Adds the buckets of a cell, less those of before. */
PERF_FN void look_add_buckets(uint64_t *sum, unsigned bits, const look_reading *now,
                              const look_cell *cell, const look_reading *before,
                              const look_cell *was)
{
    const uint32_t bias = (uint32_t)1023 << bits, most = (uint32_t)LOOK_OCTAVES << bits;
    uint32_t       i, at;
    uint64_t       n, old;

    for (i = 0; i < cell->room; i++) {
        at = cell->first + i - bias;
        if (at >= most)
            continue;
        n = now->count[cell->counts + i];
        old = 0;
        if (was && cell->first + i >= was->first && cell->first + i - was->first < was->room)
            old = before->count[was->counts + (cell->first + i - was->first)];
        sum[at] += look_since(n, old);
    }
}

/* Nearest rank: at or below it lie a share q of the calls. */
PERF_FN double look_quantile(const uint64_t *sum, unsigned bits, const look_row *row, double q)
{
    const uint32_t most = (uint32_t)LOOK_OCTAVES << bits;
    uint64_t       calls = 0, seen = 0, rank;
    double         want, value;
    uint32_t       i;

    for (i = 0; i < most; i++)
        calls += sum[i];
    want = q * (double)calls;
    rank = (uint64_t)want;
    if ((double)rank < want || rank == 0)
        rank++;
    for (i = 0; i < most - 1; i++) {
        seen += sum[i];
        if (seen >= rank)
            break;
    }
    value = look_bucket_value(i, bits);
    if (value > (double)row->max)
        value = (double)row->max;
    return value < (double)row->min ? (double)row->min : value;
}

PERF_FN void look_add_gauge(look_gauge *to, const look_gauge *gauge)
{
    if (!gauge->n)
        return;
    if (!to->n || gauge->least < to->least)
        to->least = gauge->least;
    if (!to->n || gauge->most > to->most)
        to->most = gauge->most;
    to->values += gauge->values;
    if (gauge->at >= to->at) {
        to->at = gauge->at;
        to->last = gauge->last;
    }
    to->n += gauge->n;
}

typedef struct look_by_name {           /* for the sort                                           */
    uint32_t name;
    size_t   cell;
} look_by_name;

PERF_FN int look_name_before(const void *a_, const void *b_)
{
    const look_by_name *one = (const look_by_name *)a_, *other = (const look_by_name *)b_;

    if (one->name != other->name)
        return one->name < other->name ? -1 : 1;
    return (one->cell > other->cell) - (one->cell < other->cell);
}

/* The longest duration that the buckets know of, within what the cell says. */
PERF_FN void look_row_extremes(look_row *row, const uint64_t *sum, unsigned bits)
{
    const uint32_t most = (uint32_t)LOOK_OCTAVES << bits;
    uint32_t       i, last = most;
    double         value;

    for (i = 0; i < most; i++)
        if (sum[i])
            last = i;
    if (last == most)
        return;
    value = look_bucket_value(last, bits) * (1 + 0.5 / (double)(1u << bits));
    if (value < (double)row->max)
        row->max = (uint64_t)value;
}

enum { LOOK_ALL_THREADS = -1, LOOK_NO_THREAD = -2 };  /* else the place of a thread              */

/* All rows with calls in them, of that thread. */
PERF_FN void look_count_rows(look_report *rep, const look_layout *layout,
                             const look_reading *before, int64_t thread)
{
    const look_reading *reading = rep->now;
    const unsigned      bits = (unsigned)layout->at[LOOK_BUCKET_BITS];
    const size_t        bytes = ((size_t)LOOK_OCTAVES << bits) * sizeof(uint64_t);
    look_by_name       *order = (look_by_name *)ab_grow(NULL, reading->cells, sizeof *order);
    uint64_t           *sum = (uint64_t *)ab_grow(NULL, bytes, 1);
    size_t              n = 0, i, k;

    for (i = 0; i < reading->cells; i++)
        if ((thread == LOOK_ALL_THREADS || reading->cell[i].thread == (uint64_t)thread) &&
            !reading->thread[reading->cell[i].thread].reset) {
            order[n].name = reading->cell[i].name;
            order[n++].cell = i;
        }
    qsort(order, n, sizeof *order, look_name_before);
    for (i = 0; i < n; i = k) {
        look_row row;
        memset(&row, 0, sizeof row);
        memset(sum, 0, bytes);
        row.name = order[i].name;
        row.kind = look_name_kind(rep->names, row.name);
        row.min = ~(uint64_t)0;
        for (k = i; k < n && order[k].name == order[i].name; k++) {
            const look_cell *cell = &reading->cell[order[k].cell];
            const look_cell *was = look_cell_before(before, reading, cell);
            const look_cell  d = look_cell_difference(cell, was);
            if (!d.count)
                continue;
            row.count += d.count;
            look_add_gauge(&row.gauge, &cell->gauge);
            if (look_is_point(row.kind))
                continue;
            row.sum += d.sum;
            row.total += look_cell_total(&d);
            row.self += look_cell_self(&d);
            row.min = cell->min < row.min ? cell->min : row.min;
            row.max = cell->max > row.max ? cell->max : row.max;
            look_add_buckets(sum, bits, reading, cell, before, was);
        }
        if (!row.count)
            continue;
        if (!look_is_point(row.kind)) {
            if (before)
                look_row_extremes(&row, sum, bits);
            row.p50 = look_quantile(sum, bits, &row, 0.50);
            row.p95 = look_quantile(sum, bits, &row, 0.95);
            row.p99 = look_quantile(sum, bits, &row, 0.99);
        }
        if (look_is_point(row.kind))
            row.min = 0;
        rep->self += look_has_self(row.kind) ? row.self : 0;
        rep->row = (look_row *)ab_grow(rep->row, rep->rows + 1, sizeof *rep->row);
        rep->row[rep->rows++] = row;
    }
    free(order);
    free(sum);
}

PERF_FN double look_row_key(const look_row *row, look_sort by)
{
    switch (by) {
    case LOOK_BY_TOTAL: return (double)row->total;
    case LOOK_BY_CALLS: return (double)row->count;
    case LOOK_BY_MEAN:  return (double)row->sum / (double)row->count;
    case LOOK_BY_MAX:   return (double)row->max;
    case LOOK_BY_P99:   return row->p99;
    default:            return (double)row->self;
    }
}

static look_sort         look_sorted_by;        /* for qsort                                      */
static const look_names *look_sorted_names;

PERF_FN int look_row_before(const void *a_, const void *b_)
{
    const look_row *one = (const look_row *)a_, *other = (const look_row *)b_;
    const double    by_one = look_row_key(one, look_sorted_by);
    const double    by_other = look_row_key(other, look_sorted_by);

    if (look_sorted_by != LOOK_BY_NAME && (by_one > by_other || by_one < by_other))
        return by_one > by_other ? -1 : 1;
    return strcmp(look_name_text(look_sorted_names, one->name),
                  look_name_text(look_sorted_names, other->name));
}

PERF_FN void look_sort_rows(look_report *rep, look_sort by)
{
    look_sorted_by = by;
    look_sorted_names = rep->names;
    if (rep->rows)
        qsort(rep->row, rep->rows, sizeof *rep->row, look_row_before);
}

/* ---- tree ---- */

typedef struct look_tree {              /* while it is made                                       */
    look_report *rep;
    uint32_t    *slot, room;            /* by hash of caller and name; room is a power of two     */
} look_tree;

PERF_FN void look_tree_grow(look_tree *tree)
{
    look_report *rep = tree->rep;
    uint32_t     i, at;

    tree->room = tree->room ? 2 * tree->room : 256;
    rep->node = (look_node *)ab_grow(rep->node, tree->room, sizeof *rep->node);
    tree->slot = (uint32_t *)ab_grow(tree->slot, 2 * (size_t)tree->room, sizeof *tree->slot);
    memset(tree->slot, 0, 2 * (size_t)tree->room * sizeof *tree->slot);
    for (i = 1; i < rep->nodes; i++) {
        at = rep->node[i].parent * 2654435761u ^ rep->node[i].name * 40503u;
        while (tree->slot[at & (2 * tree->room - 1)])
            at++;
        tree->slot[at & (2 * tree->room - 1)] = i;
    }
}

/* The child of that name, made if need be. */
PERF_FN uint32_t look_tree_child(look_tree *tree, uint32_t parent, uint32_t name)
{
    look_report *rep = tree->rep;
    uint32_t     at = parent * 2654435761u ^ name * 40503u, i;

    for (;; at++) {
        i = tree->slot[at & (2 * tree->room - 1)];
        if (!i)
            break;
        if (rep->node[i].parent == parent && rep->node[i].name == name)
            return i;
    }
    if (rep->nodes == tree->room) {
        look_tree_grow(tree);
        return look_tree_child(tree, parent, name);
    }
    i = rep->nodes++;
    tree->slot[at & (2 * tree->room - 1)] = i;
    memset(&rep->node[i], 0, sizeof rep->node[i]);
    rep->node[i].name = name;
    rep->node[i].parent = parent;
    rep->node[i].depth = rep->node[parent].depth + 1;
    return i;
}

/* Adds a cell to the node of its path. */
PERF_FN void look_tree_cell(look_tree *tree, const look_reading *reading, const look_cell *cell,
                            const look_cell *d)
{
    uint32_t   name[LOOK_DEEP], n = 0, node = 0, i;
    look_node *to;
    int64_t    up = (int64_t)(cell - reading->cell);

    for (; up >= 0 && n < LOOK_DEEP; up = reading->cell[up].parent)
        name[n++] = reading->cell[up].name;
    for (i = 0; i < n && i < LOOK_TREE_DEPTH; i++)
        node = look_tree_child(tree, node, name[n - 1 - i]);
    to = &tree->rep->node[node];
    to->calls += d->count;
    to->self += look_cell_self(d);
    tree->rep->calls += d->count;
    if (n <= LOOK_TREE_DEPTH)
        to->total += look_cell_total(d);
}

static const look_node *look_sorted_nodes;      /* for qsort                                      */

/* By caller, the largest first, the newest of equal ones. */
PERF_FN int look_node_before(const void *one, const void *two)
{
    uint32_t a, b;

    memcpy(&a, one, sizeof a);
    memcpy(&b, two, sizeof b);
    if (look_sorted_nodes[a].parent != look_sorted_nodes[b].parent)
        return look_sorted_nodes[a].parent < look_sorted_nodes[b].parent ? -1 : 1;
    if (look_sorted_nodes[a].total != look_sorted_nodes[b].total)
        return look_sorted_nodes[a].total > look_sorted_nodes[b].total ? -1 : 1;
    return (a < b) - (a > b);
}

PERF_FN void look_count_tree(look_report *rep, const look_reading *before, int64_t thread)
{
    const look_reading *reading = rep->now;
    look_tree           tree;
    uint32_t           *order, i;
    size_t              k;

    memset(&tree, 0, sizeof tree);
    tree.rep = rep;
    look_tree_grow(&tree);
    memset(rep->node, 0, sizeof *rep->node);
    rep->nodes = 1;
    for (k = 0; k < reading->cells; k++) {
        const look_cell *cell = &reading->cell[k];
        look_cell        d = look_cell_difference(cell, look_cell_before(before, reading, cell));
        if (d.count && !reading->thread[cell->thread].reset &&
            look_has_self(look_name_kind(rep->names, cell->name)) &&
            (thread == LOOK_ALL_THREADS || cell->thread == (uint64_t)thread))
            look_tree_cell(&tree, reading, cell, &d);
    }
    for (i = rep->nodes; i-- > 0;) {            /* callers come before                            */
        look_node *node = &rep->node[i], *up = &rep->node[node->parent];
        node->size += node->self;
        if (node->total < node->size)           /* it is still open, or was never ended           */
            node->total = node->size;
        if (i) {
            up->size += node->size;
            up->total = up->total < node->total ? node->total : up->total;
        }
    }
    order = (uint32_t *)ab_grow(NULL, rep->nodes, sizeof *order);
    for (i = 1; i < rep->nodes; i++)
        order[i - 1] = i;
    look_sorted_nodes = rep->node;
    qsort(order, rep->nodes - 1, sizeof *order, look_node_before);
    for (i = rep->nodes - 1; i-- > 0;) {        /* from the last: each is put before the others   */
        look_node *node = &rep->node[order[i]], *up = &rep->node[node->parent];
        node->next = up->first;
        up->first = order[i];
    }
    free(order);
    free(tree.slot);
}

/* The node behind i in a walk from the root; 0: it was the last. */
PERF_FN uint32_t look_tree_next(const look_report *rep, uint32_t i)
{
    if (rep->node[i].first)
        return rep->node[i].first;
    while (i && !rep->node[i].next)
        i = rep->node[i].parent;
    return i ? rep->node[i].next : 0;
}

/* ---- waits of the main thread ---- */

PERF_FN int look_of_lock(const char *name)
{
    const char *text = strstr(name, "lock");

    while (text && text != name && strchr("bcBC", text[-1]))
        text = strstr(text + 1, "lock");
    return text || strstr(name, "Lock") || strstr(name, "utex") || strstr(name, "barrier") ||
           strstr(name, "Barrier");
}

/* The main thread, or the one that recorded first; -1: none. */
PERF_FN int64_t look_main_thread(const look_reading *reading)
{
    int64_t main = -1;
    size_t  i;

    for (i = 0; i < reading->threads; i++) {
        if (reading->thread[i].id == reading->process)
            return (int64_t)i;
        if (reading->thread[i].number == 1)
            main = (int64_t)i;
    }
    return main;
}

PERF_FN void look_count_waits(look_report *rep, const look_reading *before)
{
    const look_reading *reading = rep->now;
    const int64_t       main = look_main_thread(reading);
    uint64_t           *by_name;
    size_t              i;

    if (main < 0 || reading->thread[main].reset)
        return;
    by_name = (uint64_t *)ab_grow(NULL, (size_t)rep->names->count + 1, sizeof *by_name);
    memset(by_name, 0, ((size_t)rep->names->count + 1) * sizeof *by_name);
    for (i = reading->thread[main].first;
         i < reading->thread[main].first + reading->thread[main].cells; i++) {
        const look_cell *cell = &reading->cell[i];
        const look_cell  d = look_cell_difference(cell, look_cell_before(before, reading, cell));
        const uint32_t   kind = look_name_kind(rep->names, cell->name);
        const uint64_t   self = look_has_self(kind) ? look_cell_self(&d) : 0;
        rep->all += self;
        rep->sync += kind == LOOK_SYNC ? self : 0;
        if (kind != LOOK_WAIT || cell->name >= rep->names->count ||
            look_of_lock(look_name_text(rep->names, cell->name)))
            continue;
        rep->wait += self;
        by_name[cell->name] += self;
        if (by_name[cell->name] > rep->most) {
            rep->most = by_name[cell->name];
            rep->where = cell->name;
        }
    }
    free(by_name);
}

/* Everything of a reading, of that thread; before NULL: since the start. */
PERF_FN look_report look_count(const look_reading *now, const look_reading *before,
                               const look_names *names, const look_layout *layout, int64_t thread)
{
    look_report rep;

    memset(&rep, 0, sizeof rep);
    rep.now = now;
    rep.names = names;
    look_count_rows(&rep, layout, before, thread);
    look_count_tree(&rep, before, thread);
    look_count_waits(&rep, before);
    return rep;
}

PERF_FN void look_report_free(look_report *rep)
{
    free(rep->row);
    free(rep->node);
    memset(rep, 0, sizeof *rep);
}

#endif /* PERF_TOOLS_LOOK_COUNT_H */
