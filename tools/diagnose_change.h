/* diagnose_change.h - two traces of one program, before and after: what changed, by kernel and by
 * operator.
 *
 *     diag_say_change(stdout, &before, &after);
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_CHANGE_H
#define PERF_TOOLS_DIAGNOSE_CHANGE_H

#include "diagnose_say.h"

typedef struct diag_change {            /* of one kernel or operator, a step                      */
    const char *name;
    int         kernel;                 /* 1: it is one, 0: an operator                           */
    double      ns[2], count[2];
} diag_change;

/* Time that a rank spends on its own work, not in collectives, a step; ns. */
PERF_FN double diag_own_time(const diag_found *found)
{
    if (!found->has_device)
        return found->steps ? found->time.mean : diag_window(found);
    return (double)(found->end - found->begin - found->only_collective) / diag_units(found);
}

/* What changed most first. */
PERF_FN int diag_by_change(const void *a_, const void *b_)
{
    const diag_change *one = (const diag_change *)a_, *other = (const diag_change *)b_;
    const double       by_one = ab_abs(one->ns[1] - one->ns[0]),
                       by_other = ab_abs(other->ns[1] - other->ns[0]);

    if (by_one > by_other)
        return -1;
    return by_one < by_other;
}

PERF_FN const char *diag_change_key(const void *array, size_t i)
{
    return ((const diag_change *)array)[i].name;
}

/* Adds the sums of one side; the names of a sum are those of its event, or of what is around it. */
PERF_FN size_t diag_change_side(diag_change *row, size_t n, ab_index *index,
                                const diag_found *found, const diag_sums *sums, int side)
{
    size_t i, at;

    for (i = 0; i < sums->n; i++) {
        const diag_sum *sum = &sums->s[i];
        const char     *name = diag_text_of(found->t, &found->t->event[sum->event]);
        at = ab_look_up(index, name, diag_change_key, row);
        if (at == SIZE_MAX) {
            at = n++;
            memset(&row[at], 0, sizeof row[at]);
            row[at].name = name;
            row[at].kernel = found->t->event[sum->event].kind == DIAG_KERNEL;
            ab_index_last(index, n, diag_change_key, row);
        }
        row[at].ns[side] += (double)sum->ns / diag_units(found);
        row[at].count[side] += (double)sum->count / diag_units(found);
    }
    return n;
}

/* A table of what differs most between two lists. */
PERF_FN void diag_say_changes(FILE *out, const diag_found *found[2], const diag_sums *sums[2])
{
    ab_index     index = {NULL, 0};
    diag_change *row = (diag_change *)ab_grow(NULL, sums[0]->n + sums[1]->n, sizeof *row);
    size_t       n = diag_change_side(row, 0, &index, found[0], sums[0], 0), i;
    char         text[120];

    n = diag_change_side(row, n, &index, found[1], sums[1], 1);
    if (n)
        qsort(row, n, sizeof *row, diag_by_change);
    for (i = 0; i < n && i < DIAG_ROWS + 2; i++) {
        const ab_text before = ab_quantity(row[i].ns[0], "ns");
        const ab_text after = ab_quantity(row[i].ns[1], "ns");
        const ab_text change = ab_quantity(row[i].ns[1] - row[i].ns[0], "ns");
        if (!(ab_abs(row[i].ns[1] - row[i].ns[0]) > 0))
            break;
        if (row[i].kernel)
            diag_readable(row[i].name, text, sizeof text);
        else
            snprintf(text, sizeof text, "%.100s", diag_short(row[i].name));
        fprintf(out, "  %10s %10s %10s %7.4g %7.4g  ", before.s, after.s, change.s,
                row[i].count[0], row[i].count[1]);
        ab_print_name(out, text);
        if (!(row[i].count[0] > 0) || !(row[i].count[1] > 0))
            fputs(row[i].count[0] > 0 ? " (gone)" : " (new)", out);
        putc('\n', out);
    }
    if (!i)
        fputs("  no difference\n", out);
    free(row);
    free(index.slot);
}

/* One line of figures of both sides, in ns a step. */
PERF_FN void diag_say_pair(FILE *out, const char *what, double before, double after)
{
    const ab_text was = ab_quantity(before, "ns"), now = ab_quantity(after, "ns");

    fprintf(out, "  %-28s %10s %10s", what, was.s, now.s);
    if (before > 0)
        fprintf(out, "  %+.1f %%", 100 * (after / before - 1));
    putc('\n', out);
}

/* What changed from the first trace to the second. */
PERF_FN void diag_say_change(FILE *out, const diag_found *before, const diag_found *after)
{
    const diag_found *found[2] = {before, after};
    const diag_sums  *kernels[2] = {&before->kernels, &after->kernels};
    const diag_sums  *operators[2] = {&before->operators, &after->operators};
    const double      a = diag_units(before), b = diag_units(after);

    fputs("before: ", out);
    ab_print_name(out, before->t->file);
    fprintf(out, ", %zu steps, bound by %s\nafter:  ", before->steps,
            diag_bound_text(before->bound));
    ab_print_name(out, after->t->file);
    fprintf(out, ", %zu steps, bound by %s\n", after->steps, diag_bound_text(after->bound));
    fputs(before->steps && after->steps ? "a step:                            before      after\n"
                                        : "in all (no steps):                 before      after\n",
          out);
    if (before->steps && after->steps)
        diag_say_pair(out, "time of the host", before->time.mean, after->time.mean);
    diag_say_pair(out, "window", diag_window(before) / a, diag_window(after) / b);
    diag_say_pair(out, "device computes", (double)before->compute.total / a,
                  (double)after->compute.total / b);
    diag_say_pair(out, "only communicates", (double)before->only_collective / a,
                  (double)after->only_collective / b);
    diag_say_pair(out, "only copies", (double)before->only_copy / a, (double)after->only_copy / b);
    diag_say_pair(out, "idles", (double)before->idle / a, (double)after->idle / b);
    diag_say_pair(out, "host waits for the device", (double)before->sync.total / a,
                  (double)after->sync.total / b);
    fputs("kernels:\n      before      after     change   calls   calls\n", out);
    diag_say_changes(out, found, kernels);
    fputs("operators (own time of the host):\n      before      after     change   calls   "
          "calls\n", out);
    diag_say_changes(out, found, operators);
    fputs("caution: one trace is one run, and a profiler slows the host; to decide: perf-ab run "
          "-- OLD -- NEW\n", out);
}

#endif
