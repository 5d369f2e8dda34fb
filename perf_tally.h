/* perf_tally.h - what many processes have recorded of one scope, added up.
 *
 *     static perf_tally mine, all;
 *     perf_tally_of("compute", rank, &mine);
 *     perf_tally_merge(&all, &mine);               // or one MPI_Reduce: docs/mpi.md
 *     printf("%+.1f %%\n", 100 * all.imbalance);  // the slowest, beyond the mean
 *
 * Optional: only files that add up processes include it.
 * Sections (search for ">>"):  tally  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TALLY_H
#define PERF_TALLY_H

#include "perf_report.h"

PERF_BEGIN_DECLS

/* >>tally ------------------------------------------------------------------------------------- */

/* What the scopes of one name have recorded, as a struct without pointers.  Keep it, send it, add
 * it to those of other processes: in any order or tree the sum has the same bits (one MPI_Reduce:
 * docs/mpi.md).  All zero is empty.  It has 44 KB, too much for a small stack.                   */
typedef struct perf_tally {
    perf_hist hist;             /* of the calls in ns: exact extremes, percentiles within 2 %     */
    uint64_t  calls, sum_ns;    /* sum_ns / calls is the mean                                     */
    uint64_t  total_ns;         /* a recursive call counts once                                   */
    uint64_t  self_ns;          /* without the scopes inside                                      */
    uint64_t  parts;            /* tallies added up in it: 1 from perf_tally_of                   */
    uint64_t  most_ns, least_ns;        /* largest and smallest total_ns of a part, ...           */
    uint32_t  most, least;      /* ... and that part's number; of equal ones the lower            */
    double    imbalance;        /* of most_ns beyond the mean of all parts: 0.2 is 20 %           */
} perf_tally;

/* The tally of `name` from all threads, which may go on; where the host and a device have a scope
 * of that name, the host's.  `part` is a number of yours for this process, its rank.
 * PERF_ENODATA: nothing recorded; *out is then a part without calls, which counts as one in an
 * imbalance. PERF_EINVAL: no name or no out; PERF_ENOMEM: *out is empty.                         */
PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out);

/* into += from, or nothing.  PERF_ERANGE: a sum would overflow; PERF_EINVAL: NULL, or no tally. */
PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from);

/* >>private: bodies, in the order of the prototypes ------------------------------------------ */

PERF_FN uint64_t perf_tally_ns_(double ticks, double tick)
{
    return PERF_CAST_(uint64_t, ticks * tick + 0.5);
}

/* Adds the buckets in ns.  Of the first bucket one call goes to the least duration, and of the last
 * one a call to the most, so that both are exact.                                                */
PERF_COLD_FN_ void perf_tally_hist_(perf_hist *hist, const perf_sum_ *sum, double tick)
{
    uint64_t min = perf_tally_ns_(PERF_CAST_(double, sum->min), tick), ns, calls, counted = 0;
    uint64_t max = perf_tally_ns_(PERF_CAST_(double, sum->max), tick);
    uint32_t i;

    for (i = 0; counted < sum->calls; i++) {
        calls = sum->bucket[i];
        if (!calls)
            continue;
        if (counted == 0) {
            perf_hist_add_n(hist, min, 1);
            calls--;
        }
        counted += sum->bucket[i];
        if (counted == sum->calls && calls) {
            perf_hist_add_n(hist, max, 1);
            calls--;
        }
        ns = perf_tally_ns_(perf_bucket_value_(i), tick);
        if (ns < min)
            ns = min;
        if (ns > max)
            ns = max;
        if (calls)
            perf_hist_add_n(hist, ns, calls);
    }
    hist->head.lo = hist->head.width[0] = 0;    /* these depend on the order of records           */
}

PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_row_       row;
    perf_sum_      *sum;
    double          tick;
    uint32_t        id, count, best = 0, kind, length;

    if (out)
        PERF_LIBC_(memset)(out, 0, sizeof *out);
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
    if (reg)
        perf_sources_collect_(reg);
    tick = perf_scope_tick_ns_(reg);
    count = reg ? PERF_ACQ_(&reg->count) : 0;
    for (id = 1; id < count; id++) {
        perf_name_ *entry = PERF_ACQ_(&reg->names)[id];
        kind = entry->kind;
        if (entry->length != length || PERF_LIBC_(memcmp)(entry->site.name, name, length))
            continue;
        if (!best || kind < PERF_ACQ_(&reg->names)[best]->kind) {
            perf_row_fill_(&row, reg, id, sum, tick);
            best = row.count && !row.point ? id : best;
        }
    }
    if (best) {
        perf_row_fill_(&row, reg, best, sum, tick);
        perf_tally_hist_(&out->hist, sum, tick);
        out->calls = row.count;
        out->sum_ns = perf_tally_ns_(PERF_CAST_(double, sum->sum), tick);
        out->total_ns = perf_tally_ns_(PERF_CAST_(double, sum->total), tick);
        out->self_ns = perf_tally_ns_(PERF_CAST_(double, sum->self), tick);
        out->most_ns = out->least_ns = out->total_ns;
    }
    PERF_FREE(sum);
    return best ? PERF_OK : PERF_ENODATA;
}

PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from)
{
    uint64_t    limit = ~UINT64_C(0);
    perf_status status;

    if (!into || !from || into == from || from->hist.head.highest || into->hist.head.highest)
        return PERF_EINVAL;
    if (!from->parts)
        return PERF_OK;
    if (from->calls > limit - into->calls || from->sum_ns > limit - into->sum_ns ||
        from->total_ns > limit - into->total_ns || from->self_ns > limit - into->self_ns ||
        from->parts > limit - into->parts)
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
    if (into->total_ns)
        into->imbalance = PERF_CAST_(double, into->most_ns) * PERF_CAST_(double, into->parts) /
                              PERF_CAST_(double, into->total_ns) - 1.0;
    return PERF_OK;
}

#if PERF_DISABLE
#define perf_tally_of(n, p, out) PERF_OFF_CODE_((perf_tally_of)(n, p, out))
#endif

PERF_END_DECLS

#endif /* PERF_TALLY_H */
