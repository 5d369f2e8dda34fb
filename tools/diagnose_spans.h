/* diagnose_spans.h - pieces of time, and sums by key: what the diagnosis of a trace counts with.
 *
 *     diag_spans busy = {NULL, 0, 0, 0};
 *     diag_span_add(&busy, begin, end, which);     // in the order of begin
 *     printf("%lld ns\n", (long long)busy.total);  // what overlaps counts once
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_SPANS_H
#define PERF_TOOLS_DIAGNOSE_SPANS_H

#include "ab.h"

typedef struct diag_span {
    int64_t  begin, end;                /* ns                                                     */
    uint32_t first;                     /* the event that begins it                               */
} diag_span;

typedef struct diag_spans {             /* ascending, apart from each other                       */
    diag_span *s;
    size_t     n, cap;
    int64_t    total;                   /* ns                                                     */
} diag_spans;

/* Takes in a piece that begins no earlier than the last one did. */
PERF_FN void diag_span_add(diag_spans *x, int64_t begin, int64_t end, uint32_t which)
{
    diag_span *last = x->n ? &x->s[x->n - 1] : NULL;

    if (end <= begin)
        return;
    if (last && begin <= last->end) {
        if (end > last->end) {
            x->total += end - last->end;
            last->end = end;
        }
        return;
    }
    if (x->n == x->cap) {
        x->cap = x->cap * 2 + 64;
        x->s = (diag_span *)ab_grow(x->s, x->cap, sizeof *x->s);
    }
    x->s[x->n].begin = begin;
    x->s[x->n].end = end;
    x->s[x->n++].first = which;
    x->total += end - begin;
}

/* The first piece that ends behind that time; n: there is none. */
PERF_FN size_t diag_span_at(const diag_spans *x, int64_t time)
{
    size_t low = 0, high = x->n, mid;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (x->s[mid].end > time)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* How much of [begin, end) lies in the pieces, in ns. */
PERF_FN int64_t diag_span_within(const diag_spans *x, int64_t begin, int64_t end)
{
    int64_t sum = 0, from, to;
    size_t  i;

    for (i = diag_span_at(x, begin); i < x->n && x->s[i].begin < end; i++) {
        from = x->s[i].begin > begin ? x->s[i].begin : begin;
        to = x->s[i].end < end ? x->s[i].end : end;
        sum += to - from;
    }
    return sum;
}

/* How much time two lists have in common, in ns. */
PERF_FN int64_t diag_span_common(const diag_spans *a, const diag_spans *b)
{
    int64_t sum = 0;
    size_t  i;

    for (i = 0; i < a->n; i++)
        sum += diag_span_within(b, a->s[i].begin, a->s[i].end);
    return sum;
}

/* The time of either list, what is in both counted once, in ns. */
PERF_FN int64_t diag_span_either(const diag_spans *a, const diag_spans *b)
{
    return a->total + b->total - diag_span_common(a, b);
}

/* ---- sums by key ---- */

typedef struct diag_sum {
    uint64_t key;
    int64_t  ns;
    uint64_t count;
    uint32_t event;                     /* one of those that were added                           */
} diag_sum;

typedef struct diag_sums {
    diag_sum *s;
    size_t    n, cap;
    uint32_t *slot;                     /* 1 + place, 0: free                                     */
    size_t    slots;
} diag_sums;

PERF_FN size_t diag_sum_slot(const diag_sums *x, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (x->slots - 1);

    while (x->slot[at] && x->s[x->slot[at] - 1].key != key)
        at = (at + 1) & (x->slots - 1);
    return at;
}

PERF_FN void diag_sums_grow(diag_sums *x)
{
    size_t i;

    x->slots = x->slots ? x->slots * 4 : 64;
    x->slot = (uint32_t *)ab_grow(x->slot, x->slots, sizeof *x->slot);
    memset(x->slot, 0, x->slots * sizeof *x->slot);
    for (i = 0; i < x->n; i++)
        x->slot[diag_sum_slot(x, x->s[i].key)] = (uint32_t)i + 1;
}

/* Adds to the sum of a key. */
PERF_FN void diag_sum_add(diag_sums *x, uint64_t key, int64_t ns, uint32_t event)
{
    diag_sum *s;
    size_t    at;

    if (x->n * 2 >= x->slots)
        diag_sums_grow(x);
    at = diag_sum_slot(x, key);
    if (!x->slot[at]) {
        if (x->n == x->cap) {
            x->cap = x->cap * 2 + 32;
            x->s = (diag_sum *)ab_grow(x->s, x->cap, sizeof *x->s);
        }
        s = &x->s[x->n++];
        memset(s, 0, sizeof *s);
        s->key = key;
        s->event = event;
        x->slot[at] = (uint32_t)x->n;
    }
    s = &x->s[x->slot[at] - 1];
    s->ns += ns;
    s->count++;
}

/* Most time first; of equal ones what was added first. */
PERF_FN int diag_by_sum(const void *a_, const void *b_)
{
    const diag_sum *a = (const diag_sum *)a_, *b = (const diag_sum *)b_;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

/* Puts the sums in order; then nothing more can be added. */
PERF_FN void diag_sums_sort(diag_sums *x)
{
    if (x->n)
        qsort(x->s, x->n, sizeof *x->s, diag_by_sum);
}

PERF_FN void diag_sums_free(diag_sums *x)
{
    free(x->s);
    free(x->slot);
    memset(x, 0, sizeof *x);
}

#endif
