/* perf_tree.h - who called whom, in all of the run.
 *
 *     perf_tree_ *tree = perf_tree_make_(registry);        // NULL: no memory
 *     PERF_FREE(tree);
 *
 * For the library itself: the report, flame pages, folded stacks and the diagnosis walk it.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TREE_H
#define PERF_TREE_H

#include "perf_rows.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_tree_, perf_tree_make_  the call tree, sorted; PERF_FREE it; NULL: no memory
 *   perf_node_, perf_tree_path_  a path of names; that of a cell, 0: it is new                   */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

typedef struct perf_node_ {     /* one path of names; indexes into perf_tree_, 0 none             */
    uint32_t name, parent, depth;
    uint64_t calls, total, self;        /* ticks                                                  */
    uint64_t sum;                       /* ticks of all calls, also of recursive ones             */
    uint64_t size;                      /* self of it and of all below; not of [0]                */
} perf_node_;

typedef struct perf_tree_ {     /* one block of memory, with its nodes and slots behind it        */
    perf_node_ *node;           /* [0] is the root                                                */
    uint32_t    count, room;
    uint32_t   *slot;           /* [2 * room], by hash of parent and name: a node, 0 for none     */
    uint64_t    calls;
    perf_registry_ *registry;
    int         poor;           /* 1: there was no memory for a node, or to sort                  */
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

/* The tree in a block with room for so many nodes, a power of two; old NULL: a new one.  NULL
 * without memory, and the old one stays.                                                         */
PERF_COLD_FN_ perf_tree_ *perf_tree_grow_(perf_tree_ *old, uint32_t room)
{
    const size_t nodes = room * sizeof(perf_node_), places = 2 * room * sizeof(uint32_t);
    perf_tree_  *tree = PERF_CAST_(perf_tree_ *, PERF_MALLOC(sizeof *tree + nodes + places));
    uint32_t     i;

    if (!tree)
        return PERF_NULL_;
    PERF_LIBC_(memset)(tree, 0, sizeof *tree + nodes + places);
    tree->count = 1;
    if (old)
        *tree = *old;
    tree->room = room;
    tree->node = PERF_PTR_(perf_node_ *, PERF_PTR_(void *, tree + 1));
    tree->slot = PERF_PTR_(uint32_t *, PERF_PTR_(void *, tree->node + room));
    if (old)
        PERF_LIBC_(memcpy)(tree->node, old->node, old->count * sizeof *old->node);
    PERF_FREE(old);
    for (i = 1; i < tree->count; i++)
        *perf_tree_slot_(tree, tree->node[i].parent, tree->node[i].name) = i;
    return tree;
}

/* The child of `parent` with that name, made if need be; the parent itself without memory. */
PERF_COLD_FN_ uint32_t perf_tree_child_(perf_tree_ **tree, uint32_t parent, uint32_t name)
{
    uint32_t    i = *perf_tree_slot_(*tree, parent, name);
    perf_tree_ *grown;
    perf_node_ *node;

    if (i)
        return i;
    if ((*tree)->count == (*tree)->room) {
        grown = perf_tree_grow_(*tree, 2 * (*tree)->room);
        if (!grown) {
            (*tree)->poor = 1;
            return parent;
        }
        *tree = grown;
    }
    i = (*tree)->count++;
    *perf_tree_slot_(*tree, parent, name) = i;
    node = &(*tree)->node[i];
    node->name = name;
    node->parent = parent;
    node->depth = (*tree)->node[parent].depth + 1;
    return i;
}

/* Writes the names on the way to a cell, its own first, and returns how many; those below
 * PERF_TREE_DEPTH_ are left out.                                                                 */
PERF_COLD_FN_ uint32_t perf_tree_names_(const perf_cell_ *cell, uint32_t *id)
{
    uint32_t n = 0;

    for (; cell->parent; cell = cell->parent)
        if (cell->depth <= PERF_TREE_DEPTH_)
            id[n++] = perf_cell_id_(cell);
    return n;
}

/* The node of a cell: the same path of names, whatever the thread; 0: the tree has none. */
PERF_COLD_FN_ uint32_t perf_tree_path_(perf_tree_ *tree, const perf_cell_ *cell)
{
    uint32_t id[PERF_TREE_DEPTH_], n = perf_tree_names_(cell, id), node = 0;

    while (n) {
        node = *perf_tree_slot_(tree, node, id[--n]);
        if (!node)
            return 0;
    }
    return node;
}

/* Adds a cell to its node, which is made if need be. */
PERF_COLD_FN_ void perf_tree_cell_(perf_tree_ **tree, const perf_visit_ *visit)
{
    const uint64_t calls = PERF_GET_(&visit->cell->count);
    uint32_t       id[PERF_TREE_DEPTH_], at = 0, n = calls ? perf_tree_names_(visit->cell, id) : 0;
    perf_node_    *node;

    while (n)
        at = perf_tree_child_(tree, at, id[--n]);
    if (!at)
        return;
    node = &(*tree)->node[at];
    node->calls += calls;
    node->self += visit->ticks.self;
    node->sum += PERF_GET_(&visit->cell->sum);
    (*tree)->calls += calls;
    if (visit->cell->depth <= PERF_TREE_DEPTH_) /* else its time is in that total already         */
        node->total += visit->ticks.total;
}

/* The order of a walk from the root, largest child first; the newest of equal ones. */
PERF_COLD_FN_ int perf_node_before_(const void *one, const void *two, const void *tree)
{
    const perf_node_ *node = PERF_CAST_(const perf_tree_ *, tree)->node;
    uint32_t          first = *PERF_CAST_(const uint32_t *, one);
    uint32_t          second = *PERF_CAST_(const uint32_t *, two);
    const uint32_t    first_depth = node[first].depth, second_depth = node[second].depth;

    while (node[first].depth > second_depth)    /* up, until both are at the same depth           */
        first = node[first].parent;
    while (node[second].depth > first_depth)
        second = node[second].parent;
    if (first == second)                        /* one is inside the other                        */
        return first_depth < second_depth;
    while (node[first].parent != node[second].parent) {
        first = node[first].parent;
        second = node[second].parent;
    }
    if (node[first].total != node[second].total)
        return node[first].total > node[second].total;
    return first > second;
}

/* Rewrites the nodes in that order. */
PERF_COLD_FN_ void perf_tree_sort_(perf_tree_ *tree)
{
    perf_node_ *out = PERF_CAST_(perf_node_ *, PERF_MALLOC(tree->count * sizeof *out));
    uint32_t   *order = PERF_CAST_(uint32_t *, PERF_MALLOC(tree->count * sizeof *order));
    uint32_t   *place = tree->slot, i;          /* has room for twice as many                     */

    for (i = 0; order && i < tree->count; i++)
        order[i] = i;
    if (out && order) {
        perf_sort_items_(order, tree->count, sizeof *order, perf_node_before_, tree);
        for (i = 0; i < tree->count; i++) {
            out[i] = tree->node[order[i]];
            place[order[i]] = i;
        }
        for (i = 0; i < tree->count; i++)
            out[i].parent = place[out[i].parent];
        PERF_LIBC_(memcpy)(tree->node, out, tree->count * sizeof *out);
        PERF_LIBC_(memset)(tree->slot, 0, 2 * tree->room * sizeof *tree->slot);
        for (i = 1; i < tree->count; i++)
            *perf_tree_slot_(tree, out[i].parent, out[i].name) = i;
    } else {
        tree->poor = 1;
    }
    PERF_FREE(out);
    PERF_FREE(order);
}

/* The tree of all that was recorded since the start or the last reset, largest child first; NULL
 * without memory.                                                                                */
PERF_COLD_FN_ perf_tree_ *perf_tree_make_(perf_registry_ *reg)
{
    perf_tree_     *tree = perf_tree_grow_(PERF_NULL_, 256);
    perf_recorder_ *rec;
    perf_node_     *node, *parent;
    uint32_t        i;

    if (!tree)
        return PERF_NULL_;
    tree->registry = reg;
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        perf_visit_ visit = PERF_ZERO;
        visit.recorder = rec;
        while (perf_visit_next_(&visit))
            if (perf_kind_is_host_(visit.name->kind))
                perf_tree_cell_(&tree, &visit);
    }
    for (i = tree->count; i; i--) {             /* children first: they come behind their parents */
        node = &tree->node[i - 1];
        node->size += node->self;
        if (node->total < node->size)           /* it is still open, or was never ended           */
            node->total = node->size;
        parent = &tree->node[node->parent];
        parent->size += node->size;
        if (parent->total < node->total)
            parent->total = node->total;
    }
    perf_tree_sort_(tree);
    if (!tree->poor)
        return tree;
    PERF_FREE(tree);
    return PERF_NULL_;
}

PERF_END_DECLS

#endif /* PERF_TREE_H */
