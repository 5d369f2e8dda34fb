/* look_read.h - one reading of a program: names, threads, cells, what is open.
 *
 * Each count, length and pointer is bounded; what does not fit is left out and said.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_READ_H
#define PERF_TOOLS_LOOK_READ_H

#include "look_layout.h"

#include "perf_clock.h"

enum {
    LOOK_NAMES = 1 << 20, LOOK_NAME_BYTES = 255,
    LOOK_THREADS = 16384,
    LOOK_DEEP = 4096,                   /* callers above a cell                                   */
    LOOK_SLOTS = 1 << 22,               /* of one thread                                          */
    LOOK_ROOM = 4096,                   /* buckets of a cell                                      */
    LOOK_OPEN = 256,                    /* scopes that are shown of a chain                       */
    LOOK_FIBERS = 4096,
    LOOK_TURNS = 4,                     /* times that what changes meanwhile is read              */
    LOOK_LOSS_KINDS = 7, LOOK_LOSSES_MOST = 16
};

/* What is measured; the numbers are part of the layout. */
enum {
    LOOK_SCOPE, LOOK_WAIT, LOOK_ASYNC, LOOK_COUNTER, LOOK_INSTANT, LOOK_SYNC, LOOK_DEVICE,
    LOOK_COPY_IN, LOOK_COPY_OUT, LOOK_COPY
};

PERF_FN int look_has_self(uint32_t kind)
{
    return kind == LOOK_SCOPE || kind == LOOK_WAIT || kind == LOOK_SYNC;
}

PERF_FN int look_is_point(uint32_t kind)
{
    return kind == LOOK_COUNTER || kind == LOOK_INSTANT;
}

typedef struct look_name {
    char    *text, *file;               /* as they are; file "": not known                        */
    char    *shown;                     /* the text without what would steer a terminal           */
    uint32_t line, kind;
} look_name;

typedef struct look_gauge {             /* numbers of a counter                                   */
    double   last, least, most, values;
    uint64_t at, n;
} look_gauge;

typedef struct look_cell {
    uint64_t   at, parent_at;
    uint32_t   name, thread;            /* indexes                                                */
    int64_t    parent;                  /* index of its caller's cell; -1: none                   */
    uint64_t   count, sum, again, inside, within, min, max;
    uint64_t   buckets_at;
    uint32_t   first, room;             /* of its buckets                                         */
    uint32_t   from, counters;          /* those that have a counter: index in them, number       */
    size_t     counts;                  /* index of the first one in look_reading.count           */
    look_gauge gauge;                   /* n 0: none                                              */
} look_cell;

typedef struct look_open {              /* a chain of open scopes, outermost first                */
    uint32_t name[LOOK_OPEN];
    uint64_t cell[LOOK_OPEN];           /* their addresses                                        */
    uint64_t since[LOOK_OPEN];          /* ticks at the begin; 0: not known                       */
    uint32_t n;
    uint64_t calls;                     /* how many are open, with recursive calls                */
} look_open;

typedef struct look_thread {
    uint64_t  at, id, number;
    char      name[32];
    int       gone, foreign, reset;     /* reset: it has yet to carry one out, and shows nothing  */
    int       torn;
    uint64_t  birth, ring, ring_next, ring_head, ring_lost, ring_more, ring_sent;
    uint64_t  away, losses[LOOK_LOSSES_MOST];
    uint32_t  away_in;
    uint64_t  late[16];
    size_t    first, cells;
    look_open open;
} look_thread;

typedef struct look_fiber {             /* open scopes of a coroutine that waits                  */
    uint32_t  thread;
    look_open open;
} look_fiber;

typedef struct look_reading {
    uint64_t     ticks, ns;             /* when: the counter and the clock of this machine        */
    uint64_t     process, ring_events, lost, cut, retired, retired_bytes, retired_lost;
    uint64_t     made_ticks, made_ns;
    uint64_t     spent_ns, spent_cpu, spent_switches;   /* at the start, or the last reset        */
    uint32_t     clock, warnings, off;
    double       tick_ns, error_ppm;
    int          tick_is_ours;          /* 1: the rate is that of this machine                    */
    look_thread *thread;
    size_t       threads;
    look_cell   *cell;
    size_t       cells, cells_room;
    uint64_t    *count;
    size_t       counts, counts_room;
    look_fiber  *fiber;
    size_t       fibers;
    size_t       torn;                  /* cells that changed each time they were read            */
    int          cut_off;               /* 1: there was more than is read                         */
} look_reading;

typedef struct look_names {             /* kept over readings                                     */
    look_name *name;
    uint32_t   count;
} look_names;

/* ---- memory ---- */

PERF_FN void look_reading_free(look_reading *r)
{
    free(r->thread);
    free(r->cell);
    free(r->count);
    free(r->fiber);
    memset(r, 0, sizeof *r);
}

PERF_FN void look_names_free(look_names *all)
{
    uint32_t i;

    for (i = 0; i < all->count; i++) {
        free(all->name[i].text);
        free(all->name[i].shown);
        free(all->name[i].file);
    }
    free(all->name);
    memset(all, 0, sizeof *all);
}

/* ---- names ---- */

/* A text of up to LOOK_NAME_BYTES; "" where there is none.  The caller frees it. */
PERF_FN char *look_text(look_target *t, uint64_t at, size_t length)
{
    char   text[LOOK_NAME_BYTES + 1];
    size_t page = 4096 - (size_t)(at & 4095);

    memset(text, 0, sizeof text);
    length = length < LOOK_NAME_BYTES ? length : LOOK_NAME_BYTES;
    if (at && !look_fetch_one(t, at, text, length) && page < length)
        (void)look_fetch_one(t, at, text, page);
    return ab_copy(text, strlen(text));
}

/* Reads the names that are new since the last reading. */
PERF_FN void look_read_names(look_target *t, const look_program *p, look_names *all,
                             uint64_t table, uint32_t count)
{
    const look_layout *l = &p->layout;
    const size_t       size = (size_t)l->at[LOOK_NAME_SIZE];
    uint64_t          *at;
    char              *copy;
    look_piece        *piece;
    uint32_t           from = all->count ? all->count : 1, i, n;

    if (count <= from || count > LOOK_NAMES || size > 512)
        return;
    n = count - from;
    at = (uint64_t *)ab_grow(NULL, n, sizeof *at);
    copy = (char *)ab_grow(NULL, n, size);
    piece = (look_piece *)ab_grow(NULL, n, sizeof *piece);
    if (!look_fetch_one(t, table + 8 * (uint64_t)from, at, n * sizeof *at))
        n = 0;
    for (i = 0; i < n; i++) {
        look_piece one = {at[i], copy + i * size, size, 0};
        piece[i] = one;
    }
    look_fetch(t, piece, n);
    all->name = (look_name *)ab_grow(all->name, from + n, sizeof *all->name);
    if (from == 1)
        memset(all->name, 0, sizeof *all->name);
    for (i = 0; i < n; i++) {
        const char *c = copy + i * size;
        look_name  *name = &all->name[from + i];
        name->text = look_text(t, piece[i].got ? at[i] + size : 0,
                               look_get32(l, LOOK_NAME_LENGTH, c));
        name->file = look_text(t, piece[i].got ? look_get64(l, LOOK_NAME_FILE, c) : 0,
                               LOOK_NAME_BYTES);
        name->shown = ab_copy(name->text, strlen(name->text));
        ab_make_safe(name->shown);
        name->line = look_get32(l, LOOK_NAME_LINE, c) & 0xffffff;
        name->kind = look_get32(l, LOOK_NAME_KIND, c);
    }
    all->count = from + n;
    free(at);
    free(copy);
    free(piece);
}

/* What a name number means; never NULL. */
PERF_FN const char *look_name_text(const look_names *all, uint32_t name)
{
    return name && name < all->count ? all->name[name].text : "(unknown)";
}

/* The same for a terminal. */
PERF_FN const char *look_name_shown(const look_names *all, uint32_t name)
{
    return name && name < all->count ? all->name[name].shown : "(unknown)";
}

PERF_FN uint32_t look_name_kind(const look_names *all, uint32_t name)
{
    return name && name < all->count ? all->name[name].kind : LOOK_SCOPE;
}

/* ---- cells ---- */

/* The fields of a cell lie in two places; a plan reads these and nothing in between.  `packed` is
 * the layout of what was read.                                                                   */
typedef struct look_plan {
    uint64_t    from[12], bytes[12];
    size_t      parts, size;
    look_layout packed;
} look_plan;

PERF_FN look_plan look_plan_make(const look_layout *l)
{
    look_plan plan;
    int       order[LOOK_CELL_GAUGE - LOOK_CELL_PARENT + 1], n = 0, i, k;
    uint64_t  shift = 0;

    memset(&plan, 0, sizeof plan);
    plan.packed = *l;
    for (i = LOOK_CELL_PARENT; i <= LOOK_CELL_GAUGE; i++) {
        for (k = n++; k > 0 && l->at[order[k - 1]] > l->at[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (i = 0; i < n; i++) {
        const uint64_t at = l->at[order[i]];
        size_t         part = plan.parts - 1;
        if (!plan.parts || at > plan.from[part] + plan.bytes[part] + 64) {
            part = plan.parts++;
            shift = plan.size;
            plan.from[part] = at;
            plan.bytes[part] = 0;
        }
        plan.bytes[part] = at + 8 - plan.from[part];
        plan.packed.at[order[i]] = shift + at - plan.from[part];
        plan.size = (size_t)(shift + plan.bytes[part]);
    }
    return plan;
}

/* Takes over a cell from what was read of it. */
PERF_FN void look_cell_take(const look_plan *plan, const char *copy, look_cell *c)
{
    const look_layout *l = &plan->packed;

    c->parent_at = look_get64(l, LOOK_CELL_PARENT, copy);
    c->name = (uint32_t)(look_get64(l, LOOK_CELL_TAG, copy) >> 32) & 0xffffff;
    c->count = look_get64(l, LOOK_CELL_COUNT, copy);
    c->sum = look_get64(l, LOOK_CELL_SUM, copy);
    c->again = look_get64(l, LOOK_CELL_AGAIN, copy);
    c->inside = look_get64(l, LOOK_CELL_INSIDE, copy);
    c->within = look_get64(l, LOOK_CELL_WITHIN, copy);
    c->min = look_get64(l, LOOK_CELL_MIN, copy);
    c->max = look_get64(l, LOOK_CELL_MAX, copy);
    c->buckets_at = look_get64(l, LOOK_CELL_BUCKETS, copy);
    c->gauge.at = look_get64(l, LOOK_CELL_GAUGE, copy);         /* its address, for now           */
}

/* Room for n buckets more; their index. */
PERF_FN size_t look_counts_room(look_reading *r, size_t n)
{
    const size_t at = r->counts;

    r->counts += n;
    if (r->counts > r->counts_room) {
        r->counts_room = 2 * r->counts + 1024;
        r->count = (uint64_t *)ab_grow(r->count, r->counts_room, sizeof *r->count);
    }
    return at;
}

/* What stands before the counters of a block. */
typedef struct look_block {
    uint32_t first, room;
    uint64_t halves, rare;
    uint32_t entry[LOOK_RARE_MOST];     /* rare durations: index : 16, how many : 16              */
} look_block;

/* Adds to the counters what they have no bits for, as perf_halves_sum_ does. */
PERF_FN void look_read_halves(look_target *t, const look_layout *l, const look_cell *c,
                              uint64_t at, uint64_t *count)
{
    uint32_t   i, steps, index, halves;
    uint64_t   next;
    look_piece piece[3];

    for (steps = 0; at && steps < c->room && t->bytes < LOOK_BYTES; steps++, at = next) {
        look_piece one = {at + l->at[LOOK_HALVES_NEXT], &next, sizeof next, 0};
        look_piece two = {at + l->at[LOOK_HALVES_INDEX], &index, sizeof index, 0};
        look_piece three = {at + l->at[LOOK_HALVES_N], &halves, sizeof halves, 0};
        piece[0] = one;
        piece[1] = two;
        piece[2] = three;
        look_fetch(t, piece, 3);
        if (!piece[0].got || !piece[1].got || !piece[2].got)
            return;
        i = index - c->first;
        if (i >= c->room)
            continue;
        halves += count[i] >> 31 != (halves & 1);
        count[i] = (uint64_t)halves << 31 | (count[i] & 0x7fffffff);
    }
}

/* The counters of those cells that have some. */
PERF_FN void look_read_counts(look_target *t, const look_layout *l, look_reading *r,
                              look_cell **cell, const look_block *block, size_t n)
{
    look_piece *piece = (look_piece *)ab_grow(NULL, n, sizeof *piece);
    uint32_t   *counter;
    size_t      i, k, some = 0, all = 0;

    for (i = 0; i < n; i++)
        all += cell[i]->counters;
    counter = (uint32_t *)ab_grow(NULL, all, sizeof *counter);
    memset(counter, 0, all * sizeof *counter);
    for (i = all = 0; i < n; all += cell[i++]->counters)
        if (cell[i]->counters) {
            look_piece counts = {cell[i]->buckets_at + l->at[LOOK_BUCKETS_N], counter + all,
                                 sizeof *counter * cell[i]->counters, 0};
            piece[some++] = counts;
        }
    look_fetch(t, piece, some);
    for (i = all = 0; i < n; i++) {
        uint64_t *count = r->count + cell[i]->counts;
        for (k = 0; k < cell[i]->counters; k++)
            count[cell[i]->from + k] = counter[all++];
        if (cell[i]->room)
            look_read_halves(t, l, cell[i], block[i].halves, count);
    }
    free(counter);
    free(piece);
}

/* Makes room for the buckets of a cell, its rare ones included, and counts those. */
PERF_FN void look_take_rare(look_reading *r, look_cell *c, const look_block *block)
{
    uint32_t first = block->first, end = block->first + block->room, index, i;

    for (i = 0; i < LOOK_RARE_MOST; i++) {
        index = block->entry[i] >> 16;
        if (index && index < first)
            first = index;
        if (index >= end)
            end = index + 1;
    }
    if (end - first > LOOK_ROOM)
        return;
    c->first = first;
    c->room = end - first;
    c->from = block->first - first;
    c->counters = block->room;
    c->counts = look_counts_room(r, c->room);
    memset(r->count + c->counts, 0, c->room * sizeof *r->count);
    for (i = 0; i < LOOK_RARE_MOST; i++) {
        index = block->entry[i] >> 16;
        if (index && index - block->first >= block->room)
            r->count[c->counts + (index - first)] = block->entry[i] & 0xffff;
    }
}

/* The buckets of n cells, and the numbers of counters. */
PERF_FN void look_read_buckets(look_target *t, const look_layout *l, look_reading *r,
                               look_cell **cell, size_t n)
{
    look_piece *piece = (look_piece *)ab_grow(NULL, 4 * n, sizeof *piece);
    look_block *block = (look_block *)ab_grow(NULL, n, sizeof *block);
    uint64_t   *gauge = (uint64_t *)ab_grow(NULL, 6 * n, sizeof *gauge);
    size_t      i, some = 0;

    memset(block, 0, n * sizeof *block);
    for (i = 0; i < n; i++) {
        const uint64_t at = cell[i]->buckets_at;
        look_piece     first = {at + l->at[LOOK_BUCKETS_FIRST], &block[i].first, 4, 0};
        look_piece     room = {at + l->at[LOOK_BUCKETS_ROOM], &block[i].room, 4, 0};
        look_piece     halves = {at + l->at[LOOK_BUCKETS_HALVES], &block[i].halves, 8, 0};
        look_piece     rare = {at + l->at[LOOK_BUCKETS_RARE], &block[i].rare, 8, 0};
        piece[4 * i] = first;
        piece[4 * i + 1] = room;
        piece[4 * i + 2] = halves;
        piece[4 * i + 3] = rare;
    }
    look_fetch(t, piece, 4 * n);
    for (i = 0; i < n; i++) {
        look_piece *of = &piece[4 * i];
        cell[i]->room = cell[i]->counters = 0;
        if (!cell[i]->buckets_at || !of[0].got || !of[1].got || !of[2].got || !of[3].got ||
            block[i].room > LOOK_ROOM)
            block[i].rare = 0;
    }
    for (i = 0; i < n; i++)
        if (block[i].rare) {
            look_piece entries = {block[i].rare + l->at[LOOK_BUCKETS_N], block[i].entry,
                                  sizeof block[i].entry[0] * (size_t)l->at[LOOK_RARE], 0};
            piece[some++] = entries;
        }
    look_fetch(t, piece, some);
    for (i = 0; i < n; i++)
        if (block[i].rare)
            look_take_rare(r, cell[i], &block[i]);
    look_read_counts(t, l, r, cell, block, n);
    for (i = some = 0; i < n; i++)
        if (cell[i]->gauge.at) {
            look_piece numbers = {cell[i]->gauge.at, &gauge[6 * i], 48, 0};
            piece[some++] = numbers;
        }
    look_fetch(t, piece, some);
    for (i = some = 0; i < n; i++) {
        look_gauge *g = &cell[i]->gauge;
        if (!g->at)
            continue;
        memcpy(g, &gauge[6 * i], sizeof *g);
        g->n = piece[some++].got ? g->n : 0;
    }
    free(piece);
    free(block);
    free(gauge);
}

/* Reads n cells at their addresses, those that change meanwhile up to LOOK_TURNS times. */
PERF_FN void look_read_cells(look_target *t, const look_program *p, const look_plan *plan,
                             look_reading *r, look_cell **cell, size_t n)
{
    look_piece *piece = (look_piece *)ab_grow(NULL, n * (plan->parts + 2), sizeof *piece);
    char       *copy = (char *)ab_grow(NULL, n, plan->size);
    uint64_t   *again = (uint64_t *)ab_grow(NULL, 2 * n, sizeof *again);
    size_t      i, k, moved;
    int         turn;

    for (turn = 0; n && turn < LOOK_TURNS; turn++) {
        for (i = 0; i < n; i++) {
            char *to = copy + i * plan->size;
            for (k = 0; k < plan->parts; k++) {
                look_piece one = {cell[i]->at + plan->from[k], to, (size_t)plan->bytes[k], 0};
                piece[i * plan->parts + k] = one;
                to += plan->bytes[k];
            }
        }
        look_fetch(t, piece, n * plan->parts);
        for (i = 0; i < n; i++)
            look_cell_take(plan, copy + i * plan->size, cell[i]);
        look_read_buckets(t, &p->layout, r, cell, n);
        for (i = 0; i < n; i++) {
            look_piece count = {cell[i]->at + p->layout.at[LOOK_CELL_COUNT], &again[2 * i], 8, 0};
            look_piece block = {cell[i]->at + p->layout.at[LOOK_CELL_BUCKETS], &again[2 * i + 1], 8, 0};
            piece[2 * i] = count;
            piece[2 * i + 1] = block;
        }
        look_fetch(t, piece, 2 * n);
        for (i = moved = 0; i < n; i++)         /* an outgrown block may be another cell's now    */
            if (again[2 * i] != cell[i]->count || again[2 * i + 1] != cell[i]->buckets_at)
                cell[moved++] = cell[i];
        n = moved;
    }
    r->torn += n;
    free(piece);
    free(copy);
    free(again);
}

/* ---- one thread ---- */

PERF_FN int look_before64(const void *one, const void *two)
{
    uint64_t a, b;

    memcpy(&a, one, sizeof a);
    memcpy(&b, two, sizeof b);
    return (a > b) - (a < b);
}

/* The cell of thread k at an address; NULL: none.  The cells of a thread are sorted by address. */
PERF_FN look_cell *look_cell_at(const look_reading *r, const look_thread *k, uint64_t at)
{
    size_t low = k->first, high = k->first + k->cells, mid;

    while (low < high) {
        mid = (low + high) / 2;
        if (r->cell[mid].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < k->first + k->cells && r->cell[low].at == at ? &r->cell[low] : NULL;
}

/* The addresses of all cells of a thread, sorted, each once; their number. */
PERF_FN size_t look_cell_addresses(look_target *t, const look_layout *l, const char *recorder,
                                   uint64_t **out)
{
    const uint32_t slots = look_get32(l, LOOK_RECORDER_SLOTS, recorder);
    const uint64_t table = look_get64(l, LOOK_RECORDER_SLOT, recorder);
    const size_t   size = (size_t)l->at[LOOK_SLOT_SIZE];
    char          *copy;
    uint64_t      *at;
    size_t         n = 0, i, k;

    *out = NULL;
    if (!slots || !table || slots > LOOK_SLOTS || size > 64)
        return 0;
    copy = (char *)ab_grow(NULL, slots, size);
    at = (uint64_t *)ab_grow(NULL, slots, sizeof *at);
    if (look_fetch_one(t, table, copy, slots * size))
        for (i = 0; i < slots; i++) {
            at[n] = look_get64(l, LOOK_SLOT_CELL, copy + i * size);
            n += at[n] != 0;
        }
    free(copy);
    qsort(at, n, sizeof *at, look_before64);
    for (i = k = 0; i < n; i++)
        if (!k || at[k - 1] != at[i])
            at[k++] = at[i];
    *out = at;
    return k;
}

/* Links cells to their callers, and cuts what goes round in circles. */
PERF_FN void look_link(look_reading *r, const look_thread *k)
{
    size_t i;

    for (i = k->first; i < k->first + k->cells; i++) {
        const look_cell *up = look_cell_at(r, k, r->cell[i].parent_at);
        r->cell[i].parent = up ? (int64_t)(up - r->cell) : -1;
    }
    for (i = k->first; i < k->first + k->cells; i++) {
        int64_t up = (int64_t)i;
        int     steps = 0;
        while (up >= 0 && steps++ < LOOK_DEEP)
            up = r->cell[up].parent;
        if (up >= 0)
            r->cell[i].parent = -1;
    }
}

/* The chain of open scopes that ends with the cell at `inner`. */
PERF_FN void look_chain(look_target *t, const look_layout *l, const look_reading *r,
                        const look_thread *k, uint64_t inner, look_open *o)
{
    uint64_t cell[LOOK_OPEN], at = inner;
    uint32_t name[LOOK_OPEN], n = 0, i;

    while (at && n < LOOK_OPEN) {
        const look_cell *c = look_cell_at(r, k, at);
        uint64_t         up = 0, tag = 0;
        if (c) {
            up = c->parent_at;
            tag = (uint64_t)c->name << 32;
        } else if (!look_fetch_one(t, at + l->at[LOOK_CELL_PARENT], &up, 8) ||
                   !look_fetch_one(t, at + l->at[LOOK_CELL_TAG], &tag, 8)) {
            break;
        }
        if (!(tag >> 32 & 0xffffff))
            break;                              /* the root                                       */
        cell[n] = at;
        name[n++] = (uint32_t)(tag >> 32) & 0xffffff;
        at = up;
    }
    o->n = n;
    for (i = 0; i < n; i++) {
        o->cell[i] = cell[n - 1 - i];
        o->name[i] = name[n - 1 - i];
        o->since[i] = 0;
    }
}

/* Coroutines that wait: the roots of the thread, newest first. */
PERF_FN void look_read_fibers(look_target *t, const look_layout *l, look_reading *r,
                              uint32_t thread)
{
    const look_thread *k = &r->thread[thread];
    uint64_t           root = k->at + l->at[LOOK_RECORDER_ROOT], waits, calls;
    int                i;

    for (i = 0; root && i < LOOK_FIBERS && r->fibers < LOOK_FIBERS; i++) {
        waits = calls = 0;
        (void)look_fetch_one(t, root + l->at[LOOK_ROOT_WAITS], &waits, 8);
        (void)look_fetch_one(t, root + l->at[LOOK_ROOT_CALLS], &calls, 8);
        if (!look_fetch_one(t, root + l->at[LOOK_ROOT_OLDER], &root, 8))
            return;
        if (waits && waits != ~(uint64_t)0) {
            look_fiber *f;
            r->fiber = (look_fiber *)ab_grow(r->fiber, r->fibers + 1, sizeof *r->fiber);
            f = &r->fiber[r->fibers];
            f->thread = thread;
            look_chain(t, l, r, k, waits, &f->open);
            f->open.calls = f->open.n + calls;
            r->fibers += f->open.n > 0;
        }
    }
}

/* Takes over what the struct of a thread says. */
PERF_FN void look_thread_take(const look_layout *l, const char *c, look_thread *k)
{
    const uint32_t strayed = look_get32(l, LOOK_RECORDER_STRAYED, c);
    size_t         i;

    k->id = look_get64(l, LOOK_RECORDER_THREAD, c);
    k->number = look_get64(l, LOOK_RECORDER_NUMBER, c);
    memcpy(k->name, c + l->at[LOOK_RECORDER_NAME], sizeof k->name);
    k->name[sizeof k->name - 1] = '\0';
    ab_make_safe(k->name);
    k->gone = look_get32(l, LOOK_RECORDER_GONE, c) != 0;
    k->foreign = look_get32(l, LOOK_RECORDER_FOREIGN, c) != 0;
    k->reset = look_get32(l, LOOK_RECORDER_REQUEST, c) & 1;
    k->birth = look_get64(l, LOOK_RECORDER_BIRTH, c);
    k->ring = look_get64(l, LOOK_RECORDER_RING, c);
    k->ring_next = look_get64(l, LOOK_RECORDER_RING_NEXT, c);
    k->ring_head = look_get64(l, LOOK_RECORDER_RING_HEAD, c);
    k->ring_lost = look_get64(l, LOOK_RECORDER_RING_LOST, c);
    k->ring_more = look_get64(l, LOOK_RECORDER_RING_MORE, c);
    k->ring_sent = look_get64(l, LOOK_RECORDER_RING_SENT, c);
    k->away = look_get64(l, LOOK_RECORDER_AWAY, c);
    k->away_in = look_get32(l, LOOK_RECORDER_AWAY_IN, c);
    memcpy(k->losses, c + l->at[LOOK_RECORDER_LOSSES], 8 * (size_t)l->at[LOOK_LOSSES]);
    for (i = 0; i < l->at[LOOK_LATE]; i++)
        memcpy(&k->late[i], c + l->at[LOOK_RECORDER_LATE] + 8 * i, 8);
    k->open.calls = look_get64(l, LOOK_RECORDER_EXTRA, c) - strayed;
}

/* Reads a thread that was just added, with its cells. */
PERF_FN void look_read_thread(look_target *t, const look_program *p, const look_plan *plan,
                              look_reading *r, const char *recorder)
{
    look_thread *k = &r->thread[r->threads - 1];
    uint64_t    *at, inner;
    look_cell  **cell;
    size_t       n = look_cell_addresses(t, &p->layout, recorder, &at), i, j, torn = r->torn;

    k->first = r->cells;
    k->cells = n;
    if (r->cells + n > r->cells_room) {
        r->cells_room = 2 * (r->cells + n) + 64;
        r->cell = (look_cell *)ab_grow(r->cell, r->cells_room, sizeof *r->cell);
    }
    cell = (look_cell **)ab_grow(NULL, n, sizeof(look_cell *));
    for (i = 0; i < n; i++) {
        look_cell *c = &r->cell[r->cells++];
        memset(c, 0, sizeof *c);
        c->at = at[i];
        c->thread = (uint32_t)(r->threads - 1);
        cell[i] = c;
    }
    free(at);
    look_read_cells(t, p, plan, r, cell, n);
    free(cell);
    k->torn = r->torn > torn;
    for (i = k->first; i < r->cells; i++)       /* durations that are still to be counted         */
        for (j = 0; j < p->layout.at[LOOK_LATE]; j++) {
            look_cell     *c = &r->cell[i];
            const uint64_t from = c->buckets_at + p->layout.at[LOOK_BUCKETS_N];
            if (k->late[j] >= from && k->late[j] < from + 4 * (uint64_t)c->counters)
                r->count[c->counts + c->from + (k->late[j] - from) / 4]++;
        }
    look_link(r, k);
    if (look_fetch_one(t, k->at + p->layout.at[LOOK_RECORDER_OPEN], &inner, 8))
        look_chain(t, &p->layout, r, k, inner, &k->open);
    k->open.calls += k->open.n;
    if ((int64_t)k->open.calls <= 0)            /* found open here, but ended elsewhere           */
        k->open.n = 0;
    look_read_fibers(t, &p->layout, r, (uint32_t)(r->threads - 1));
}

/* ---- all of it ---- */

PERF_FN int look_known_thread(const look_reading *r, uint64_t at)
{
    size_t i;

    for (i = 0; i < r->threads; i++)
        if (r->thread[i].at == at)
            return 1;
    return 0;
}

/* How long a tick is: as the program knows it by now, or from its first reading and ours. */
PERF_FN void look_read_rate(look_target *t, const look_program *p, look_reading *r)
{
    const look_layout *l = &p->layout;
    uint64_t           length = 0, best = 0, bits[2], first[3];
    double             rate;
    size_t             i;

    r->tick_ns = 1;
    r->error_ppm = 0;
    if (r->clock)
        return;
    for (i = 0; i < p->anchors; i++) {
        if (!look_fetch_one(t, p->anchor[i] + l->at[LOOK_ANCHOR_LENGTH], &length, 8) ||
            length <= best || !look_fetch_one(t, p->anchor[i] + l->at[LOOK_ANCHOR_LENGTH] + 8, bits,
                                              sizeof bits))
            continue;
        rate = perf_from_bits_(bits[0]);
        if (!(rate > 1e-3 && rate < 1e6))
            continue;
        best = length;
        r->tick_ns = rate;
        r->error_ppm = perf_from_bits_(bits[1]);
    }
    if (best && (!t->pid || r->ticks - r->made_ticks < 2 * best))
        return;
    if (t->pid && r->ns > r->made_ns + 1000 && r->ticks > r->made_ticks) {
        first[0] = r->ticks - r->made_ticks;
        first[1] = r->ns - r->made_ns;
        r->tick_ns = (double)first[1] / (double)first[0];
        r->error_ppm = 100.0 / (double)first[1] * 1e6;
        return;
    }
    if (!best) {
        uint64_t ticks = perf_ticks(), ns = perf_now();
        while (perf_now() - ns < 2000000) {
        }
        r->tick_ns = (double)(perf_now() - ns) / (double)(perf_ticks() - ticks);
        r->tick_is_ours = 1;
    }
}

/* Takes the fields of the registry. */
PERF_FN void look_registry_take(const look_layout *l, const char *c, look_reading *r)
{
    uint64_t word[4];

    r->process = look_get32(l, LOOK_REGISTRY_PROCESS, c);
    r->clock = look_get32(l, LOOK_REGISTRY_CLOCK, c);
    r->warnings = look_get32(l, LOOK_REGISTRY_WARNINGS, c);
    r->off = look_get32(l, LOOK_REGISTRY_OFF, c);
    r->ring_events = look_get64(l, LOOK_REGISTRY_EVENTS, c);
    r->lost = look_get64(l, LOOK_REGISTRY_LOST, c);
    r->cut = look_get64(l, LOOK_REGISTRY_CUT, c);
    r->retired = look_get64(l, LOOK_REGISTRY_RETIRED, c);
    r->retired_bytes = look_get64(l, LOOK_REGISTRY_RETIRED_BYTES, c);
    r->retired_lost = look_get64(l, LOOK_REGISTRY_RETIRED_LOST, c);
    memcpy(word, c + l->at[LOOK_REGISTRY_SPENT], 24);
    r->spent_ns = word[0];
    r->spent_cpu = word[1];
    r->spent_switches = word[2];
    memcpy(word, c + l->at[LOOK_REGISTRY_MADE], 16);
    r->made_ticks = word[0];
    r->made_ns = word[1];
}

/* Reads everything but the rings.  0: the registry is not there any more. */
PERF_FN int look_read(look_target *t, const look_program *p, look_names *names, look_reading *r)
{
    const look_layout *l = &p->layout;
    const size_t       size = (size_t)l->at[LOOK_RECORDER_SIZE];
    const look_plan    plan = look_plan_make(l);
    char              *copy = (char *)ab_grow(NULL, (size_t)LOOK_FARTHEST, 2);
    uint64_t           next, home;
    int                there;

    memset(r, 0, sizeof *r);
    memset(copy, 0, (size_t)LOOK_FARTHEST * 2);
    t->bytes = 0;
    there = look_fetch_one(t, p->registry, copy, (size_t)l->at[LOOK_REGISTRY_SIZE]);
    r->ticks = perf_ticks();
    r->ns = perf_now() + (uint64_t)t->ahead;
    look_registry_take(l, copy, r);
    if (r->clock)
        r->ticks = r->ns;
    look_read_names(t, p, names, look_get64(l, LOOK_REGISTRY_NAMES, copy),
                    look_get32(l, LOOK_REGISTRY_COUNT, copy));
    look_read_rate(t, p, r);
    next = there ? look_get64(l, LOOK_REGISTRY_RECORDERS, copy) : 0;
    while (next && r->threads < LOOK_THREADS && t->bytes < LOOK_BYTES) {
        look_thread *k;
        memset(copy, 0, (size_t)LOOK_FARTHEST * 2);
        if (look_known_thread(r, next) || !look_fetch_one(t, next, copy, size))
            break;
        home = look_get64(l, LOOK_RECORDER_HOME, copy);
        if (home != p->registry)                /* a fork has wiped it                            */
            break;
        r->thread = (look_thread *)ab_grow(r->thread, r->threads + 1, sizeof *r->thread);
        k = &r->thread[r->threads++];
        memset(k, 0, sizeof *k);
        k->at = next;
        look_thread_take(l, copy, k);
        look_read_thread(t, p, &plan, r, copy);
        next = look_get64(l, LOOK_RECORDER_NEXT, copy);
    }
    r->cut_off = t->bytes >= LOOK_BYTES || r->threads == LOOK_THREADS;
    free(copy);
    return there;
}

#endif /* PERF_TOOLS_LOOK_READ_H */
