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
PERF_FN void diag_span_add(diag_spans *spans, int64_t begin, int64_t end, uint32_t which)
{
    diag_span *last = spans->n ? &spans->s[spans->n - 1] : NULL;

    if (end <= begin)
        return;
    if (last && begin <= last->end) {
        if (end > last->end) {
            spans->total += end - last->end;
            last->end = end;
        }
        return;
    }
    if (spans->n == spans->cap) {
        spans->cap = spans->cap * 2 + 64;
        spans->s = (diag_span *)ab_grow(spans->s, spans->cap, sizeof *spans->s);
    }
    spans->s[spans->n].begin = begin;
    spans->s[spans->n].end = end;
    spans->s[spans->n++].first = which;
    spans->total += end - begin;
}

/* The first piece that ends behind that time; n: there is none. */
PERF_FN size_t diag_span_at(const diag_spans *spans, int64_t time)
{
    size_t low = 0, high = spans->n, mid;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (spans->s[mid].end > time)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* How much of [begin, end) lies in the pieces, in ns. */
PERF_FN int64_t diag_span_within(const diag_spans *spans, int64_t begin, int64_t end)
{
    int64_t sum = 0, from, to;
    size_t  i;

    for (i = diag_span_at(spans, begin); i < spans->n && spans->s[i].begin < end; i++) {
        from = spans->s[i].begin > begin ? spans->s[i].begin : begin;
        to = spans->s[i].end < end ? spans->s[i].end : end;
        sum += to - from;
    }
    return sum;
}

/* How much time two lists have in common, in ns. */
PERF_FN int64_t diag_span_common(const diag_spans *one, const diag_spans *other)
{
    int64_t sum = 0;
    size_t  i;

    for (i = 0; i < one->n; i++)
        sum += diag_span_within(other, one->s[i].begin, one->s[i].end);
    return sum;
}

/* The time of either list, what is in both counted once, in ns. */
PERF_FN int64_t diag_span_either(const diag_spans *one, const diag_spans *other)
{
    return one->total + other->total - diag_span_common(one, other);
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

PERF_FN size_t diag_sum_slot(const diag_sums *sums, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (sums->slots - 1);

    while (sums->slot[at] && sums->s[sums->slot[at] - 1].key != key)
        at = (at + 1) & (sums->slots - 1);
    return at;
}

PERF_FN void diag_sums_grow(diag_sums *sums)
{
    size_t i;

    sums->slots = sums->slots ? sums->slots * 4 : 64;
    sums->slot = (uint32_t *)ab_grow(sums->slot, sums->slots, sizeof *sums->slot);
    memset(sums->slot, 0, sums->slots * sizeof *sums->slot);
    for (i = 0; i < sums->n; i++)
        sums->slot[diag_sum_slot(sums, sums->s[i].key)] = (uint32_t)i + 1;
}

/* Adds to the sum of a key. */
PERF_FN void diag_sum_add(diag_sums *sums, uint64_t key, int64_t ns, uint32_t event)
{
    diag_sum *sum;
    size_t    at;

    if (sums->n * 2 >= sums->slots)
        diag_sums_grow(sums);
    at = diag_sum_slot(sums, key);
    if (!sums->slot[at]) {
        if (sums->n == sums->cap) {
            sums->cap = sums->cap * 2 + 32;
            sums->s = (diag_sum *)ab_grow(sums->s, sums->cap, sizeof *sums->s);
        }
        sum = &sums->s[sums->n++];
        memset(sum, 0, sizeof *sum);
        sum->key = key;
        sum->event = event;
        sums->slot[at] = (uint32_t)sums->n;
    }
    sum = &sums->s[sums->slot[at] - 1];
    sum->ns += ns;
    sum->count++;
}

/* Most time first; of equal ones what was added first. */
PERF_FN int diag_by_sum(const void *a_, const void *b_)
{
    const diag_sum *one = (const diag_sum *)a_, *other = (const diag_sum *)b_;

    if (one->ns != other->ns)
        return one->ns > other->ns ? -1 : 1;
    return (one->event > other->event) - (one->event < other->event);
}

/* Puts the sums in order; then nothing more can be added. */
PERF_FN void diag_sums_sort(diag_sums *sums)
{
    if (sums->n)
        qsort(sums->s, sums->n, sizeof *sums->s, diag_by_sum);
}

PERF_FN void diag_sums_free(diag_sums *sums)
{
    free(sums->s);
    free(sums->slot);
    memset(sums, 0, sizeof *sums);
}

#endif
