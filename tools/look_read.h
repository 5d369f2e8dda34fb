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

PERF_FN void look_reading_free(look_reading *reading)
{
    free(reading->thread);
    free(reading->cell);
    free(reading->count);
    free(reading->fiber);
    memset(reading, 0, sizeof *reading);
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
PERF_FN char *look_text(look_target *target, uint64_t at, size_t length)
{
    char   text[LOOK_NAME_BYTES + 1];
    size_t page = 4096 - (size_t)(at & 4095);

    memset(text, 0, sizeof text);
    length = length < LOOK_NAME_BYTES ? length : LOOK_NAME_BYTES;
    if (at && !look_fetch_one(target, at, text, length) && page < length)
        (void)look_fetch_one(target, at, text, page);
    return ab_copy(text, strlen(text));
}

/* Reads the names that are new since the last reading. */
PERF_FN void look_read_names(look_target *target, const look_program *program, look_names *all,
                             uint64_t table, uint32_t count)
{
    const look_layout *layout = &program->layout;
    const size_t       size = (size_t)layout->at[LOOK_NAME_SIZE];
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
    if (!look_fetch_one(target, table + 8 * (uint64_t)from, at, n * sizeof *at))
        n = 0;
    for (i = 0; i < n; i++) {
        look_piece one = {at[i], copy + i * size, size, 0};
        piece[i] = one;
    }
    look_fetch(target, piece, n);
    all->name = (look_name *)ab_grow(all->name, from + n, sizeof *all->name);
    if (from == 1)
        memset(all->name, 0, sizeof *all->name);
    for (i = 0; i < n; i++) {
        const char *raw = copy + i * size;
        look_name  *name = &all->name[from + i];
        name->text = look_text(target, piece[i].got ? at[i] + size : 0,
                               look_get32(layout, LOOK_NAME_LENGTH, raw));
        name->file = look_text(target,
                               piece[i].got ? look_get64(layout, LOOK_NAME_FILE, raw) : 0,
                               LOOK_NAME_BYTES);
        name->shown = ab_copy(name->text, strlen(name->text));
        ab_make_safe(name->shown);
        name->line = look_get32(layout, LOOK_NAME_LINE, raw) & 0xffffff;
        name->kind = look_get32(layout, LOOK_NAME_KIND, raw);
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

PERF_FN look_plan look_plan_make(const look_layout *layout)
{
    look_plan plan;
    int       order[LOOK_CELL_GAUGE - LOOK_CELL_PARENT + 1], n = 0, i, k;
    uint64_t  shift = 0;

    memset(&plan, 0, sizeof plan);
    plan.packed = *layout;
    for (i = LOOK_CELL_PARENT; i <= LOOK_CELL_GAUGE; i++) {
        for (k = n++; k > 0 && layout->at[order[k - 1]] > layout->at[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (i = 0; i < n; i++) {
        const uint64_t at = layout->at[order[i]];
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
PERF_FN void look_cell_take(const look_plan *plan, const char *copy, look_cell *cell)
{
    const look_layout *layout = &plan->packed;

    cell->parent_at = look_get64(layout, LOOK_CELL_PARENT, copy);
    cell->name = (uint32_t)(look_get64(layout, LOOK_CELL_TAG, copy) >> 32) & 0xffffff;
    cell->count = look_get64(layout, LOOK_CELL_COUNT, copy);
    cell->sum = look_get64(layout, LOOK_CELL_SUM, copy);
    cell->again = look_get64(layout, LOOK_CELL_AGAIN, copy);
    cell->inside = look_get64(layout, LOOK_CELL_INSIDE, copy);
    cell->within = look_get64(layout, LOOK_CELL_WITHIN, copy);
    cell->min = look_get64(layout, LOOK_CELL_MIN, copy);
    cell->max = look_get64(layout, LOOK_CELL_MAX, copy);
    cell->buckets_at = look_get64(layout, LOOK_CELL_BUCKETS, copy);
    cell->gauge.at = look_get64(layout, LOOK_CELL_GAUGE, copy); /* its address, for now           */
}

/* Room for n buckets more; their index. */
PERF_FN size_t look_counts_room(look_reading *reading, size_t n)
{
    const size_t at = reading->counts;

    reading->counts += n;
    if (reading->counts > reading->counts_room) {
        reading->counts_room = 2 * reading->counts + 1024;
        reading->count =
            (uint64_t *)ab_grow(reading->count, reading->counts_room, sizeof *reading->count);
    }
    return at;
}

/* What stands before the counters of a block. */
typedef struct look_block {
    uint32_t first, room;
    uint64_t halves, rare;
    uint32_t entry[LOOK_RARE_MOST];     /* rare durations: index : 16, how many : 16              */
} look_block;

/* Adds to the counters what they have no bits for, as perf_cell_counter_ does. */
PERF_FN void look_read_halves(look_target *target, const look_layout *layout, const look_cell *cell,
                              uint64_t at, uint64_t *count)
{
    uint32_t   i, steps, index, halves;
    uint64_t   next;
    look_piece piece[3];

    for (steps = 0; at && steps < cell->room && target->bytes < LOOK_BYTES; steps++, at = next) {
        look_piece one = {at + layout->at[LOOK_HALVES_NEXT], &next, sizeof next, 0};
        look_piece two = {at + layout->at[LOOK_HALVES_INDEX], &index, sizeof index, 0};
        look_piece three = {at + layout->at[LOOK_HALVES_N], &halves, sizeof halves, 0};
        piece[0] = one;
        piece[1] = two;
        piece[2] = three;
        look_fetch(target, piece, 3);
        if (!piece[0].got || !piece[1].got || !piece[2].got)
            return;
        i = index - cell->first;
        if (i >= cell->room)
            continue;
        halves += count[i] >> 31 != (halves & 1);
        count[i] = (uint64_t)halves << 31 | (count[i] & 0x7fffffff);
    }
}

/* The counters of those cells that have some. */
PERF_FN void look_read_counts(look_target *target, const look_layout *layout, look_reading *reading,
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
            look_piece counts = {cell[i]->buckets_at + layout->at[LOOK_BUCKETS_N], counter + all,
                                 sizeof *counter * cell[i]->counters, 0};
            piece[some++] = counts;
        }
    look_fetch(target, piece, some);
    for (i = all = 0; i < n; i++) {
        uint64_t *count = reading->count + cell[i]->counts;
        for (k = 0; k < cell[i]->counters; k++)
            count[cell[i]->from + k] = counter[all++];
        if (cell[i]->room)
            look_read_halves(target, layout, cell[i], block[i].halves, count);
    }
    free(counter);
    free(piece);
}

/* Makes room for the buckets of a cell, its rare ones included, and counts those. */
PERF_FN void look_take_rare(look_reading *reading, look_cell *cell, const look_block *block)
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
    cell->first = first;
    cell->room = end - first;
    cell->from = block->first - first;
    cell->counters = block->room;
    cell->counts = look_counts_room(reading, cell->room);
    memset(reading->count + cell->counts, 0, cell->room * sizeof *reading->count);
    for (i = 0; i < LOOK_RARE_MOST; i++) {
        index = block->entry[i] >> 16;
        if (index && index - block->first >= block->room)
            reading->count[cell->counts + (index - first)] = block->entry[i] & 0xffff;
    }
}

/* The buckets of n cells, and the numbers of counters. */
PERF_FN void look_read_buckets(look_target *target, const look_layout *layout,
                               look_reading *reading, look_cell **cell, size_t n)
{
    look_piece *piece = (look_piece *)ab_grow(NULL, 4 * n, sizeof *piece);
    look_block *block = (look_block *)ab_grow(NULL, n, sizeof *block);
    uint64_t   *gauge = (uint64_t *)ab_grow(NULL, 6 * n, sizeof *gauge);
    size_t      i, some = 0;

    memset(block, 0, n * sizeof *block);
    for (i = 0; i < n; i++) {
        const uint64_t at = cell[i]->buckets_at;
        look_piece     first = {at + layout->at[LOOK_BUCKETS_FIRST], &block[i].first, 4, 0};
        look_piece     room = {at + layout->at[LOOK_BUCKETS_ROOM], &block[i].room, 4, 0};
        look_piece     halves = {at + layout->at[LOOK_BUCKETS_HALVES], &block[i].halves, 8, 0};
        look_piece     rare = {at + layout->at[LOOK_BUCKETS_RARE], &block[i].rare, 8, 0};
        piece[4 * i] = first;
        piece[4 * i + 1] = room;
        piece[4 * i + 2] = halves;
        piece[4 * i + 3] = rare;
    }
    look_fetch(target, piece, 4 * n);
    for (i = 0; i < n; i++) {
        look_piece *of = &piece[4 * i];
        cell[i]->room = cell[i]->counters = 0;
        if (!cell[i]->buckets_at || !of[0].got || !of[1].got || !of[2].got || !of[3].got ||
            block[i].room > LOOK_ROOM)
            block[i].rare = 0;
    }
    for (i = 0; i < n; i++)
        if (block[i].rare) {
            look_piece entries = {block[i].rare + layout->at[LOOK_BUCKETS_N], block[i].entry,
                                  sizeof block[i].entry[0] * (size_t)layout->at[LOOK_RARE], 0};
            piece[some++] = entries;
        }
    look_fetch(target, piece, some);
    for (i = 0; i < n; i++)
        if (block[i].rare)
            look_take_rare(reading, cell[i], &block[i]);
    look_read_counts(target, layout, reading, cell, block, n);
    for (i = some = 0; i < n; i++)
        if (cell[i]->gauge.at) {
            look_piece numbers = {cell[i]->gauge.at, &gauge[6 * i], 48, 0};
            piece[some++] = numbers;
        }
    look_fetch(target, piece, some);
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
PERF_FN void look_read_cells(look_target *target, const look_program *program,
                             const look_plan *plan, look_reading *reading, look_cell **cell,
                             size_t n)
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
        look_fetch(target, piece, n * plan->parts);
        for (i = 0; i < n; i++)
            look_cell_take(plan, copy + i * plan->size, cell[i]);
        look_read_buckets(target, &program->layout, reading, cell, n);
        for (i = 0; i < n; i++) {
            look_piece count =
                {cell[i]->at + program->layout.at[LOOK_CELL_COUNT], &again[2 * i], 8, 0};
            look_piece block =
                {cell[i]->at + program->layout.at[LOOK_CELL_BUCKETS], &again[2 * i + 1], 8, 0};
            piece[2 * i] = count;
            piece[2 * i + 1] = block;
        }
        look_fetch(target, piece, 2 * n);
        for (i = moved = 0; i < n; i++)         /* an outgrown block may be another cell's now    */
            if (again[2 * i] != cell[i]->count || again[2 * i + 1] != cell[i]->buckets_at)
                cell[moved++] = cell[i];
        n = moved;
    }
    reading->torn += n;
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

/* The cell of a thread at an address; NULL: none.  The cells of a thread are sorted by address. */
PERF_FN look_cell *look_cell_at(const look_reading *reading, const look_thread *thread, uint64_t at)
{
    size_t low = thread->first, high = thread->first + thread->cells, mid;

    while (low < high) {
        mid = (low + high) / 2;
        if (reading->cell[mid].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < thread->first + thread->cells && reading->cell[low].at == at
               ? &reading->cell[low] : NULL;
}

/* The addresses of all cells of a thread, sorted, each once; their number. */
PERF_FN size_t look_cell_addresses(look_target *target, const look_layout *layout,
                                   const char *recorder, uint64_t **out)
{
    const uint32_t slots = look_get32(layout, LOOK_RECORDER_SLOTS, recorder);
    const uint64_t table = look_get64(layout, LOOK_RECORDER_SLOT, recorder);
    const size_t   size = (size_t)layout->at[LOOK_SLOT_SIZE];
    char          *copy;
    uint64_t      *at;
    size_t         n = 0, i, k;

    *out = NULL;
    if (!slots || !table || slots > LOOK_SLOTS || size > 64)
        return 0;
    copy = (char *)ab_grow(NULL, slots, size);
    at = (uint64_t *)ab_grow(NULL, slots, sizeof *at);
    if (look_fetch_one(target, table, copy, slots * size))
        for (i = 0; i < slots; i++) {
            at[n] = look_get64(layout, LOOK_SLOT_CELL, copy + i * size);
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
PERF_FN void look_link(look_reading *reading, const look_thread *thread)
{
    size_t i;

    for (i = thread->first; i < thread->first + thread->cells; i++) {
        const look_cell *up = look_cell_at(reading, thread, reading->cell[i].parent_at);
        reading->cell[i].parent = up ? (int64_t)(up - reading->cell) : -1;
    }
    for (i = thread->first; i < thread->first + thread->cells; i++) {
        int64_t up = (int64_t)i;
        int     steps = 0;
        while (up >= 0 && steps++ < LOOK_DEEP)
            up = reading->cell[up].parent;
        if (up >= 0)
            reading->cell[i].parent = -1;
    }
}

/* The chain of open scopes that ends with the cell at `inner`. */
PERF_FN void look_chain(look_target *target, const look_layout *layout, const look_reading *reading,
                        const look_thread *thread, uint64_t inner, look_open *open)
{
    uint64_t cell[LOOK_OPEN], at = inner;
    uint32_t name[LOOK_OPEN], n = 0, i;

    while (at && n < LOOK_OPEN) {
        const look_cell *c = look_cell_at(reading, thread, at);
        uint64_t         up = 0, tag = 0;
        if (c) {
            up = c->parent_at;
            tag = (uint64_t)c->name << 32;
        } else if (!look_fetch_one(target, at + layout->at[LOOK_CELL_PARENT], &up, 8) ||
                   !look_fetch_one(target, at + layout->at[LOOK_CELL_TAG], &tag, 8)) {
            break;
        }
        if (!(tag >> 32 & 0xffffff))
            break;                              /* the root                                       */
        cell[n] = at;
        name[n++] = (uint32_t)(tag >> 32) & 0xffffff;
        at = up;
    }
    open->n = n;
    for (i = 0; i < n; i++) {
        open->cell[i] = cell[n - 1 - i];
        open->name[i] = name[n - 1 - i];
        open->since[i] = 0;
    }
}

/* Coroutines that wait: the roots of the thread, newest first. */
PERF_FN void look_read_fibers(look_target *target, const look_layout *layout, look_reading *reading,
                              uint32_t thread)
{
    const look_thread *k = &reading->thread[thread];
    uint64_t           root = k->at + layout->at[LOOK_RECORDER_ROOT], waits, calls;
    int                i;

    for (i = 0; root && i < LOOK_FIBERS && reading->fibers < LOOK_FIBERS; i++) {
        waits = calls = 0;
        (void)look_fetch_one(target, root + layout->at[LOOK_ROOT_WAITS], &waits, 8);
        (void)look_fetch_one(target, root + layout->at[LOOK_ROOT_CALLS], &calls, 8);
        if (!look_fetch_one(target, root + layout->at[LOOK_ROOT_OLDER], &root, 8))
            return;
        if (waits && waits != ~(uint64_t)0) {
            look_fiber *fiber;
            reading->fiber =
                (look_fiber *)ab_grow(reading->fiber, reading->fibers + 1, sizeof *reading->fiber);
            fiber = &reading->fiber[reading->fibers];
            fiber->thread = thread;
            look_chain(target, layout, reading, k, waits, &fiber->open);
            fiber->open.calls = fiber->open.n + calls;
            reading->fibers += fiber->open.n > 0;
        }
    }
}

/* Takes over what the struct of a thread says. */
PERF_FN void look_thread_take(const look_layout *layout, const char *copy, look_thread *thread)
{
    const uint32_t strayed = look_get32(layout, LOOK_RECORDER_STRAYED, copy);
    size_t         i;

    thread->id = look_get64(layout, LOOK_RECORDER_THREAD, copy);
    thread->number = look_get64(layout, LOOK_RECORDER_NUMBER, copy);
    memcpy(thread->name, copy + layout->at[LOOK_RECORDER_NAME], sizeof thread->name);
    thread->name[sizeof thread->name - 1] = '\0';
    ab_make_safe(thread->name);
    thread->gone = look_get32(layout, LOOK_RECORDER_GONE, copy) != 0;
    thread->foreign = look_get32(layout, LOOK_RECORDER_FOREIGN, copy) != 0;
    thread->reset = look_get32(layout, LOOK_RECORDER_REQUEST, copy) & 1;
    thread->birth = look_get64(layout, LOOK_RECORDER_BIRTH, copy);
    thread->ring = look_get64(layout, LOOK_RECORDER_RING, copy);
    thread->ring_next = look_get64(layout, LOOK_RECORDER_RING_NEXT, copy);
    thread->ring_head = look_get64(layout, LOOK_RECORDER_RING_HEAD, copy);
    thread->ring_lost = look_get64(layout, LOOK_RECORDER_RING_LOST, copy);
    thread->ring_more = look_get64(layout, LOOK_RECORDER_RING_MORE, copy);
    thread->ring_sent = look_get64(layout, LOOK_RECORDER_RING_SENT, copy);
    thread->away = look_get64(layout, LOOK_RECORDER_AWAY, copy);
    thread->away_in = look_get32(layout, LOOK_RECORDER_AWAY_IN, copy);
    memcpy(thread->losses, copy + layout->at[LOOK_RECORDER_LOSSES],
           8 * (size_t)layout->at[LOOK_LOSSES]);
    for (i = 0; i < layout->at[LOOK_LATE]; i++)
        memcpy(&thread->late[i], copy + layout->at[LOOK_RECORDER_LATE] + 8 * i, 8);
    thread->open.calls = look_get64(layout, LOOK_RECORDER_EXTRA, copy) - strayed;
}

/* Reads a thread that was just added, with its cells. */
PERF_FN void look_read_thread(look_target *target, const look_program *program,
                              const look_plan *plan, look_reading *reading, const char *recorder)
{
    look_thread *thread = &reading->thread[reading->threads - 1];
    uint64_t    *at, inner;
    look_cell  **cell;
    size_t       n = look_cell_addresses(target, &program->layout, recorder, &at), i, j,
                 torn = reading->torn;

    thread->first = reading->cells;
    thread->cells = n;
    if (reading->cells + n > reading->cells_room) {
        reading->cells_room = 2 * (reading->cells + n) + 64;
        reading->cell =
            (look_cell *)ab_grow(reading->cell, reading->cells_room, sizeof *reading->cell);
    }
    cell = (look_cell **)ab_grow(NULL, n, sizeof(look_cell *));
    for (i = 0; i < n; i++) {
        look_cell *c = &reading->cell[reading->cells++];
        memset(c, 0, sizeof *c);
        c->at = at[i];
        c->thread = (uint32_t)(reading->threads - 1);
        cell[i] = c;
    }
    free(at);
    look_read_cells(target, program, plan, reading, cell, n);
    free(cell);
    thread->torn = reading->torn > torn;
    for (i = thread->first; i < reading->cells; i++) /* durations that are still to be counted    */
        for (j = 0; j < program->layout.at[LOOK_LATE]; j++) {
            look_cell     *c = &reading->cell[i];
            const uint64_t from = c->buckets_at + program->layout.at[LOOK_BUCKETS_N];
            if (thread->late[j] >= from && thread->late[j] < from + 4 * (uint64_t)c->counters)
                reading->count[c->counts + c->from + (thread->late[j] - from) / 4]++;
        }
    look_link(reading, thread);
    if (look_fetch_one(target, thread->at + program->layout.at[LOOK_RECORDER_OPEN], &inner, 8))
        look_chain(target, &program->layout, reading, thread, inner, &thread->open);
    thread->open.calls += thread->open.n;
    if ((int64_t)thread->open.calls <= 0)       /* found open here, but ended elsewhere           */
        thread->open.n = 0;
    look_read_fibers(target, &program->layout, reading, (uint32_t)(reading->threads - 1));
}

/* ---- all of it ---- */

PERF_FN int look_known_thread(const look_reading *reading, uint64_t at)
{
    size_t i;

    for (i = 0; i < reading->threads; i++)
        if (reading->thread[i].at == at)
            return 1;
    return 0;
}

/* How long a tick is: as the program knows it by now, or from its first reading and ours. */
PERF_FN void look_read_rate(look_target *target, const look_program *program, look_reading *reading)
{
    const look_layout *layout = &program->layout;
    uint64_t           length = 0, best = 0, bits[2], first[3];
    double             rate;
    size_t             i;

    reading->tick_ns = 1;
    reading->error_ppm = 0;
    if (reading->clock)
        return;
    for (i = 0; i < program->anchors; i++) {
        if (!look_fetch_one(target, program->anchor[i] + layout->at[LOOK_ANCHOR_LENGTH],
                            &length, 8) || length <= best ||
            !look_fetch_one(target, program->anchor[i] + layout->at[LOOK_ANCHOR_LENGTH] + 8,
                            bits, sizeof bits))
            continue;
        rate = perf_from_bits_(bits[0]);
        if (!(rate > 1e-3 && rate < 1e6))
            continue;
        best = length;
        reading->tick_ns = rate;
        reading->error_ppm = perf_from_bits_(bits[1]);
    }
    if (best && (!target->pid || reading->ticks - reading->made_ticks < 2 * best))
        return;
    if (target->pid && reading->ns > reading->made_ns + 1000 &&
        reading->ticks > reading->made_ticks) {
        first[0] = reading->ticks - reading->made_ticks;
        first[1] = reading->ns - reading->made_ns;
        reading->tick_ns = (double)first[1] / (double)first[0];
        reading->error_ppm = 100.0 / (double)first[1] * 1e6;
        return;
    }
    if (!best) {
        uint64_t ticks = perf_ticks(), ns = perf_now();
        while (perf_now() - ns < 2000000) {
        }
        reading->tick_ns = (double)(perf_now() - ns) / (double)(perf_ticks() - ticks);
        reading->tick_is_ours = 1;
    }
}

/* Takes the fields of the registry. */
PERF_FN void look_registry_take(const look_layout *layout, const char *copy, look_reading *reading)
{
    uint64_t word[4];

    reading->process = look_get32(layout, LOOK_REGISTRY_PROCESS, copy);
    reading->clock = look_get32(layout, LOOK_REGISTRY_CLOCK, copy);
    reading->warnings = look_get32(layout, LOOK_REGISTRY_WARNINGS, copy);
    reading->off = look_get32(layout, LOOK_REGISTRY_OFF, copy);
    reading->ring_events = look_get64(layout, LOOK_REGISTRY_EVENTS, copy);
    reading->lost = look_get64(layout, LOOK_REGISTRY_LOST, copy);
    reading->cut = look_get64(layout, LOOK_REGISTRY_CUT, copy);
    reading->retired = look_get64(layout, LOOK_REGISTRY_RETIRED, copy);
    reading->retired_bytes = look_get64(layout, LOOK_REGISTRY_RETIRED_BYTES, copy);
    reading->retired_lost = look_get64(layout, LOOK_REGISTRY_RETIRED_LOST, copy);
    memcpy(word, copy + layout->at[LOOK_REGISTRY_SPENT], 24);
    reading->spent_ns = word[0];
    reading->spent_cpu = word[1];
    reading->spent_switches = word[2];
    memcpy(word, copy + layout->at[LOOK_REGISTRY_MADE], 16);
    reading->made_ticks = word[0];
    reading->made_ns = word[1];
}

/* Reads everything but the rings.  0: the registry is not there any more. */
PERF_FN int look_read(look_target *target, const look_program *program, look_names *names,
                      look_reading *reading)
{
    const look_layout *layout = &program->layout;
    const size_t       size = (size_t)layout->at[LOOK_RECORDER_SIZE];
    const look_plan    plan = look_plan_make(layout);
    char              *copy = (char *)ab_grow(NULL, (size_t)LOOK_FARTHEST, 2);
    uint64_t           next, home;
    int                there;

    memset(reading, 0, sizeof *reading);
    memset(copy, 0, (size_t)LOOK_FARTHEST * 2);
    target->bytes = 0;
    there = look_fetch_one(target, program->registry, copy, (size_t)layout->at[LOOK_REGISTRY_SIZE]);
    reading->ticks = perf_ticks();
    reading->ns = perf_now() + (uint64_t)target->ahead;
    look_registry_take(layout, copy, reading);
    if (reading->clock)
        reading->ticks = reading->ns;
    look_read_names(target, program, names, look_get64(layout, LOOK_REGISTRY_NAMES, copy),
                    look_get32(layout, LOOK_REGISTRY_COUNT, copy));
    look_read_rate(target, program, reading);
    next = there ? look_get64(layout, LOOK_REGISTRY_RECORDERS, copy) : 0;
    while (next && reading->threads < LOOK_THREADS && target->bytes < LOOK_BYTES) {
        look_thread *thread;
        memset(copy, 0, (size_t)LOOK_FARTHEST * 2);
        if (look_known_thread(reading, next) || !look_fetch_one(target, next, copy, size))
            break;
        home = look_get64(layout, LOOK_RECORDER_HOME, copy);
        if (home != program->registry)          /* a fork has wiped it                            */
            break;
        reading->thread =
            (look_thread *)ab_grow(reading->thread, reading->threads + 1, sizeof *reading->thread);
        thread = &reading->thread[reading->threads++];
        memset(thread, 0, sizeof *thread);
        thread->at = next;
        look_thread_take(layout, copy, thread);
        look_read_thread(target, program, &plan, reading, copy);
        next = look_get64(layout, LOOK_RECORDER_NEXT, copy);
    }
    reading->cut_off = target->bytes >= LOOK_BYTES || reading->threads == LOOK_THREADS;
    free(copy);
    return there;
}

#endif /* PERF_TOOLS_LOOK_READ_H */
