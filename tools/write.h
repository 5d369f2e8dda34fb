/* write.h - the report as a table for people, JSON, CSV and Markdown.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_WRITE_H
#define PERF_TOOLS_WRITE_H

#include "judge.h"

#include "perf_file.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- files of measurements ---- */

/* Opens a file to write.  It appears under its name when it is whole: until then, and on a full
 * disk, an old one stays.  A link is replaced, not followed; pipes and devices are written in place.
 * NULL and errno: it cannot be written.                                                          */
PERF_FN FILE *ab_begin_file(perf_file_ *f, const char *path)
{
    struct stat s;

    memset(f, 0, sizeof *f);
    if (lstat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, W_OK) != 0)
        return NULL;                                /* a rename would replace it all the same     */
    return perf_file_begin_(f, path) ? f->file : NULL;
}

/* 0, or -1 and errno: it could not be written. */
PERF_FN int ab_end_file(perf_file_ *f, const char *path)
{
    const int whole = !ferror(f->file);

    return perf_file_end_(f, path, whole) && whole ? 0 : -1;
}

/* ---- the change in words ---- */

/* The effect as people ask for it: a factor for a speed-up rule, else percent; for a rate the
 * change of the rate.                                                                            */
PERF_FN perf_interval ab_effect_(const ab_data *d, int *factor)
{
    *factor = d->rule.kind == PERF_RULE_SPEEDUP;
    return *factor || d->rule.metric == PERF_METRIC_THROUGHPUT ? d->v.speedup : d->v.ratio;
}

/* Digits after the point that show two of the interval's width. */
PERF_FN int ab_digits_(double width)
{
    int digits = 0;

    if (!perf_is_finite_(width))
        return 1;
    if (width < 1e-7)                               /* exact                                      */
        return 3;
    while (digits < 5 && width < 10.0) {
        width *= 10.0;
        digits++;
    }
    return digits > 1 ? digits : 1;
}

PERF_FN ab_text ab_effect_number_(double x, int factor, int digits)
{
    ab_text t;

    if (ab_abs(x - 1.0) < 1e-9)
        x = 1.0;                                    /* no "-0.000 %"                              */
    if (!perf_is_finite_(x))
        snprintf(t.s, sizeof t.s, "?");
    else if (x >= 1e6)
        snprintf(t.s, sizeof t.s, factor ? "%.3gx" : "%+.3g %%", factor ? x : (x - 1.0) * 100.0);
    else if (factor)
        snprintf(t.s, sizeof t.s, "%.*fx", digits, x);
    else
        snprintf(t.s, sizeof t.s, "%+.*f %%", digits, (x - 1.0) * 100.0);
    return t;
}

/* "1.94x [1.93x, 1.95x]" or "-25.8 % [-26.1 %, -25.4 %]"; "?" is unbounded. */
PERF_FN ab_text ab_change(const ab_data *d)
{
    ab_text       t, low, mid, high;
    int           factor, digits;
    perf_interval x = ab_effect_(d, &factor);

    digits = ab_digits_((x.high - x.low) * (factor ? 1.0 : 100.0));
    mid = ab_effect_number_(x.estimate, factor, digits);
    low = ab_effect_number_(x.low > 0.0 ? x.low : perf_from_bits_(UINT64_C(0x7ff8000000000000)),
                            factor, digits);
    high = ab_effect_number_(x.high, factor, digits);
    snprintf(t.s, sizeof t.s, "%.40s [%.40s, %.40s]", mid.s, low.s, high.s);
    return t;
}

/* What the pairs are and how many. */
PERF_FN ab_text ab_how_text(const ab_data *d)
{
    ab_text t;

    if (d->how == AB_HOW_PAIRS)
        snprintf(t.s, sizeof t.s, "%zu pairs", d->n[0]);
    else if (d->how == AB_HOW_RUNS)
        snprintf(t.s, sizeof t.s, "%zu pairs of runs", d->n[0]);
    else
        snprintf(t.s, sizeof t.s, "%zu and %zu values, %s", d->n[0], d->n[1],
                 d->how == AB_HOW_RANDOM ? "random order" : "not interleaved");
    return t;
}

PERF_FN const char *ab_shown_name(const ab_row *row)
{
    return *row->name ? row->name : "(all)";
}

/* "12.34 us +- 2 %": the figure of one side and its own interval; "~ 2 %", half the range, where
 * values are too few for one.  Pairs are about their ratio and have none.                        */
PERF_FN ab_text ab_side_text(const ab_data *d, int side)
{
    const int none = d->counts && d->shown[side] <= AB_ZERO_COUNT;
    ab_text t = ab_quantity(none ? 0.0 : d->shown[side], d->unit), w;
    double  off = 100.0 * (d->ranged[side] ? 0.5 : 1.0) * d->off[side];

    if (!(d->off[side] >= 0.0))
        return t;
    snprintf(w.s, sizeof w.s, off < 9.95 && off > 0.0 ? "%.80s %s %.1f %%" : "%.80s %s %.0f %%",
             t.s, d->ranged[side] ? "~" : "+-", off);
    return w;
}

/* The geometric mean of a rule's changes over all benchmarks, into d->v and d->shown (0 where units
 * differ).  Its ends are the means of the intervals' ends: too wide where the benchmarks' errors
 * have nothing to do with each other, right where all of them move together.  0: there is none.  */
PERF_FN size_t ab_geometric_mean(const ab_report *r, int k, ab_data *d)
{
    double  sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0}, n = 0.0;
    size_t  i;
    int     same = 1;

    memset(d, 0, sizeof *d);
    for (i = 0; i < r->n; i++) {
        const ab_data *x = &r->row[i].d[k];
        if (r->row[i].missing || !(x->v.ratio.estimate > 0.0) || !(x->shown[0] > 0.0) ||
            !(x->shown[1] > 0.0))
            continue;
        same &= !d->unit || !strcmp(d->unit, x->unit);
        d->unit = x->unit;
        d->rule = x->rule;
        d->v.threshold = x->v.threshold;
        sum[0] += perf_log_(x->v.ratio.low);
        sum[1] += perf_log_(x->v.ratio.estimate);
        sum[2] += perf_log_(x->v.ratio.high);
        sum[3] += perf_log_(x->shown[0]);
        sum[4] += perf_log_(x->shown[1]);
        n += 1.0;
    }
    if (n < 2.0 || (r->sequential && r->usages != 2 * r->n))    /* rivals are no suite            */
        return 0;
    d->v.ratio.low = perf_exp_(sum[0] / n);
    d->v.ratio.estimate = perf_exp_(sum[1] / n);
    d->v.ratio.high = perf_exp_(sum[2] / n);
    d->v.speedup.low = perf_exp_(-sum[2] / n);
    d->v.speedup.estimate = perf_exp_(-sum[1] / n);
    d->v.speedup.high = perf_exp_(-sum[0] / n);
    d->shown[0] = same ? perf_exp_(sum[3] / n) : 0.0;
    d->shown[1] = same ? perf_exp_(sum[4] / n) : 0.0;
    return (size_t)n;
}

/* What change would have been found at all, in words; "" when nothing is known. */
PERF_FN ab_text ab_found_text(const ab_data *d)
{
    ab_text t = {""};

    if (perf_is_finite_(d->v.min_detectable_change) && d->v.min_detectable_change < 0.5)
        snprintf(t.s, sizeof t.s, "A change of %.2g %% would have been found with 80 %% chance.",
                 d->v.min_detectable_change * 100.0);
    else if (perf_is_finite_(d->v.min_detectable_change))
        snprintf(t.s, sizeof t.s,
                 "Too few or too uneven values: only a change by a factor of %.2g or more would "
                 "have been found (80 %% chance).", 1.0 + d->v.min_detectable_change);
    return t;
}

/* ---- forest plot: what the page and the terminal share ---- */

typedef struct ab_forest {              /* an axis in logs of the effect                          */
    double low, high;
    double step;                        /* between labels, in the unit shown                      */
    int    factor;                      /* labels are factors, else percent                       */
} ab_forest;

/* The interval of a row in logs, oriented as the table is, and what was asked. */
PERF_FN perf_interval ab_forest_row(const ab_data *d, double *asked)
{
    int           factor, swap = d->rule.metric == PERF_METRIC_THROUGHPUT;
    perf_interval x = ab_effect_(d, &factor), r;

    *asked = perf_log_(factor || swap ? 1.0 / d->v.threshold : d->v.threshold);
    r.low = perf_log_(x.low);
    r.estimate = perf_log_(x.estimate);
    r.high = perf_log_(x.high);
    return r;
}

/* A round step (1, 2 or 5 times a power of ten) that makes about `count` ticks. */
PERF_FN double ab_round_step(double range, double count)
{
    double raw = range / count, power = 1.0;

    if (!(raw > 0.0) || !perf_is_finite_(raw))
        return 1.0;
    while (power * 10.0 <= raw)
        power *= 10.0;
    while (power > raw)
        power /= 10.0;
    if (raw < 2.0 * power)
        return 2.0 * power;
    return raw < 5.0 * power ? 5.0 * power : 10.0 * power;
}

PERF_FN double ab_forest_value(const ab_forest *a, double log_effect)
{
    return a->factor ? perf_exp_(log_effect) : (perf_exp_(log_effect) - 1.0) * 100.0;
}

PERF_FN double ab_forest_log(const ab_forest *a, double value)
{
    double x = a->factor ? value : 1.0 + value / 100.0;
    return x > 0.0 ? perf_log_(x) : -PERF_INF_;
}

/* Label number i of the axis, from 0; NaN behind the last one.  Where no round number is left below
 * (0x, -100 %), the first label is the lower end itself.                                         */
PERF_FN double ab_forest_tick(const ab_forest *a, int i)
{
    double low = ab_forest_value(a, a->low) / a->step, first = (double)(int64_t)low, t;

    first += first < low - 1e-6 ? 1.0 : 0.0;
    if (first > low + 1e-6 && i-- == 0)
        return low * a->step;
    t = (first + (double)i) * a->step;
    if (i >= 20 || t > ab_forest_value(a, a->high) + 1e-6 * a->step)
        return PERF_NAN_;
    return ab_abs(t) < 1e-9 * a->step ? 0.0 : t;
}

PERF_FN ab_text ab_forest_label(const ab_forest *a, double value)
{
    ab_text t;

    if (a->factor)
        snprintf(t.s, sizeof t.s, "%.3gx", value);
    else
        snprintf(t.s, sizeof t.s, "%s%.3g %%", value > 0.0 ? "+" : "", value);
    return t;
}

/* The axis of rule 0's rows: no change and what was asked, and all intervals but those that lie far
 * off the others (beyond three times the spread of their middle half): one of them must not flatten
 * the rest.  It ends at labels, so that these cover what is drawn.                               */
PERF_FN ab_forest ab_forest_of(const ab_report *r)
{
    ab_forest a = {0.0, 0.0, 1.0, 0};
    double   *end = (double *)ab_grow(NULL, 2 * r->n * AB_RULES + 1, sizeof *end), asked, q1, q3, x;
    size_t    i, n = 0;
    int       k;

    a.factor = r->plan.rule[0].kind == PERF_RULE_SPEEDUP;
    for (i = 0; i < r->n; i++)
        for (k = 0; k < r->plan.rules && !r->row[i].missing; k++) {
            perf_interval e = ab_forest_row(&r->row[i].d[k], &asked);
            if (perf_is_finite_(e.low))
                end[n++] = e.low;
            if (perf_is_finite_(e.high))
                end[n++] = e.high;
            a.low = asked < a.low ? asked : a.low;
            a.high = asked > a.high ? asked : a.high;
        }
    perf_sort_values_(end, n);
    q1 = n ? perf_quantile_(end, n, 0.25) : 0.0;
    q3 = n ? perf_quantile_(end, n, 0.75) : 0.0;
    x = 3.0 * (q3 - q1 > a.high - a.low ? q3 - q1 : a.high - a.low);
    for (i = 0; i < n; i++)
        if (end[i] > q1 - x && end[i] < q3 + x) {
            a.low = end[i] < a.low ? end[i] : a.low;
            a.high = end[i] > a.high ? end[i] : a.high;
        }
    free(end);
    a.low = a.low < -3.0 ? -3.0 : a.low;            /* a factor of 20 either way at most          */
    a.high = a.high > 3.0 ? 3.0 : a.high;
    if (!(a.high - a.low > 0.002)) {
        a.low -= 0.01;
        a.high += 0.01;
    }
    q1 = ab_forest_value(&a, a.low);
    q3 = ab_forest_value(&a, a.high);
    a.step = ab_round_step(q3 - q1, 5.0);
    x = (double)(int64_t)(q1 / a.step);
    x = ab_forest_log(&a, (x > q1 / a.step + 1e-9 ? x - 1.0 : x) * a.step);
    a.low = perf_is_finite_(x) ? x : a.low;
    x = (double)(int64_t)(q3 / a.step);
    a.high = ab_forest_log(&a, (x < q3 / a.step - 1e-9 ? x + 1.0 : x) * a.step);
    return a;
}

/* ---- the table ---- */

enum {
    CELL_NAME,
    CELL_METRIC,
    CELL_BEFORE,
    CELL_AFTER,
    CELL_DATA,
    CELL_CHANGE,
    CELL_VERDICT,
    AB_CELLS
};

typedef struct ab_line {
    ab_text cell[AB_CELLS];
} ab_line;

enum { AB_NAME_BYTES = 120 };

/* A name for a column of text.  A long one loses its middle: names differ most at their ends. */
PERF_FN ab_text ab_name_text_(const char *name)
{
    const size_t half = (AB_NAME_BYTES - 3) / 2, len = strlen(name);
    const char  *end = name;
    size_t       begin = 0, next = 0;
    ab_text      t;
    int          safe;

    if (len <= AB_NAME_BYTES) {
        snprintf(t.s, sizeof t.s, "%s", name);
        return t;
    }
    for (; next <= half; next += ab_character(name + next, &safe))
        begin = next;
    while (len - (size_t)(end - name) > half)
        end += ab_character(end, &safe);
    snprintf(t.s, sizeof t.s, "%.*s...%s", (int)begin, name, end);
    return t;
}

PERF_FN void ab_cells_(const ab_report *r, const ab_row *row, int k, ab_line *l)
{
    const ab_data *d = &row->d[k];

    memset(l, 0, sizeof *l);
    if (k == 0)
        l->cell[CELL_NAME] = ab_name_text_(ab_shown_name(row));
    if (row->missing) {
        const char *a = row->absent[0] ? row->absent[0] : "";
        const char *b = row->absent[1] ? row->absent[1] : "";
        snprintf(l->cell[CELL_BEFORE].s, sizeof l->cell[0].s, "%s", a);
        snprintf(l->cell[CELL_AFTER].s, sizeof l->cell[0].s, "%s", b);
        snprintf(l->cell[CELL_VERDICT].s, sizeof l->cell[0].s, "%s",
                 perf_decision_text(row->family));
        return;
    }
    if (r->plan.rules > 1)
        snprintf(l->cell[CELL_METRIC].s, sizeof l->cell[0].s, "%s",
                 ab_metric_name(r->plan.rule[k].metric));
    l->cell[CELL_BEFORE] = ab_side_text(d, 0);
    l->cell[CELL_AFTER] = ab_side_text(d, 1);
    if (d->how == AB_HOW_PAIRS || d->how == AB_HOW_RUNS)
        snprintf(l->cell[CELL_DATA].s, sizeof l->cell[0].s, "%zu %s", d->n[0],
                 d->how == AB_HOW_PAIRS ? "pairs" : "runs");
    else
        snprintf(l->cell[CELL_DATA].s, sizeof l->cell[0].s, "%zu, %zu", d->n[0], d->n[1]);
    l->cell[CELL_CHANGE] = ab_change(d);
    snprintf(l->cell[CELL_VERDICT].s, sizeof l->cell[0].s, "%s",
             perf_decision_text(r->plan.rules > 1 ? d->v.decision : row->family));
    if (r->plan.rules == 1 && row->alone != row->family)
        snprintf(l->cell[CELL_VERDICT].s, sizeof l->cell[0].s, "%s (alone %s)",
                 perf_decision_text(row->family), perf_decision_text(row->alone));
}

/* The line of the geometric mean of rule k; 0: there is none. */
PERF_FN int ab_mean_cells_(const ab_report *r, int k, ab_line *l)
{
    ab_data d;
    size_t  n = ab_geometric_mean(r, k, &d);

    memset(l, 0, sizeof *l);
    if (!n)
        return 0;
    snprintf(l->cell[CELL_NAME].s, sizeof l->cell[0].s, "%s", k ? "" : "geometric mean");
    if (r->plan.rules > 1)
        snprintf(l->cell[CELL_METRIC].s, sizeof l->cell[0].s, "%s",
                 ab_metric_name(r->plan.rule[k].metric));
    if (d.shown[0] > 0.0) {
        l->cell[CELL_BEFORE] = ab_quantity(d.shown[0], d.unit);
        l->cell[CELL_AFTER] = ab_quantity(d.shown[1], d.unit);
    }
    snprintf(l->cell[CELL_DATA].s, sizeof l->cell[0].s, "of %zu", n);
    l->cell[CELL_CHANGE] = ab_change(&d);
    return 1;
}

PERF_FN void ab_print_padded_(FILE *f, const char *s, size_t width, int right)
{
    size_t w = ab_width(s);

    for (; right && w < width; w++)
        putc(' ', f);
    ab_print_name(f, s);
    for (; w < width; w++)
        putc(' ', f);
}

PERF_FN void ab_print_line_(FILE *f, const ab_line *l, const size_t *width)
{
    int i;

    int last = *l->cell[CELL_VERDICT].s ? CELL_VERDICT : CELL_CHANGE;

    for (i = 0; i <= last; i++) {
        if (!width[i])
            continue;
        fputs("  ", f);
        if (i == last)
            ab_print_name(f, l->cell[i].s);
        else
            ab_print_padded_(f, l->cell[i].s, width[i],
                             i == CELL_BEFORE || i == CELL_AFTER || i == CELL_DATA);
    }
    putc('\n', f);
}

/* The head of the table: one line that says what A, B and the rules are. */
PERF_FN void ab_print_head_(FILE *f, const ab_report *r)
{
    int k;

    fputs("before (A): ", f);
    ab_print_name(f, r->name[0]);
    fprintf(f, " (%s)\nafter  (B): ", r->format[0]);
    ab_print_name(f, r->name[1]);
    fprintf(f, " (%s)\nasked: ", r->format[1]);
    for (k = 0; k < r->plan.rules; k++) {
        ab_text t = ab_rule_text(&r->plan.rule[k]);
        fprintf(f, "%s%s", k ? " AND " : "", t.s);
    }
    fprintf(f, "; %g %% intervals%s\n%s\n", r->plan.confidence * 100.0,
            r->sequential && r->n > 1 ? ", all together" : "",
            r->unlike ? "names differ: the only benchmark of A is compared with the only one of B\n" : "");
}

/* Each reason once, behind the names it holds for (at most three of them). */
PERF_FN void ab_print_reasons_(FILE *f, const ab_report *r)
{
    ab_set  reason;                     /* each settle, as the name of a series                   */
    size_t *first, *count, i, k, n, named;

    memset(&reason, 0, sizeof reason);
    first = (size_t *)ab_grow(NULL, r->n, sizeof *first);
    count = (size_t *)ab_grow(NULL, r->n, sizeof *count);
    memset(count, 0, r->n * sizeof *count);
    for (i = 0; i < r->n; i++) {
        if (!*r->row[i].settle)
            continue;
        k = (size_t)(ab_series_of(&reason, r->row[i].settle) - reason.s);
        first[k] = count[k] ? first[k] : i;
        count[k]++;
    }
    fputs("to settle it:\n", f);
    for (k = 0; k < reason.n; k++) {
        n = count[k];
        fputs("  ", f);
        for (i = first[k], named = 0; named < n && named < 3; i++) {
            if (strcmp(r->row[i].settle, reason.s[k].name) != 0)
                continue;
            fputs(named++ ? ", " : "", f);
            ab_print_name(f, ab_shown_name(&r->row[i]));
        }
        if (n > 3)
            fprintf(f, " and %zu more", n - 3);
        fputs(": ", f);
        ab_print_name(f, reason.s[k].name);
        putc('\n', f);
    }
    ab_set_free(&reason);
    free(first);
    free(count);
}

enum { AB_NOTES_SHOWN = 20 };

/* Values of the files that are not used, and why. */
PERF_FN void ab_print_notes(FILE *f, const ab_report *r)
{
    const ab_note *note = r->about.note;
    size_t         i, shown = r->about.notes;

    if (shown > AB_NOTES_SHOWN)
        shown = AB_NOTES_SHOWN;
    for (i = 0; i < shown; i++) {
        fputs(i ? "  " : "not used, or odd:\n  ", f);
        ab_print_name(f, note[i].where);
        fputs(": ", f);
        ab_print_name(f, note[i].what);
        if (note[i].count > 1)
            fprintf(f, " (%zu of them)", note[i].count);
        putc('\n', f);
    }
    if (r->about.notes > shown)
        fprintf(f, "  and %zu more: --json names all\n", r->about.notes - shown);
}

/* "; 2 only in B, not judged: x, y". */
PERF_FN void ab_print_fresh_(FILE *f, const ab_report *r)
{
    size_t i;

    if (!r->fresh)
        return;
    fprintf(f, "; %zu only in B, not judged: ", r->fresh);
    for (i = 0; i < r->fresh && i < 3; i++) {
        fputs(i ? ", " : "", f);
        ab_print_name(f, r->fresh_name[i]);
    }
    if (r->fresh > 3)
        fprintf(f, " and %zu more", r->fresh - 3);
}

PERF_FN void ab_print_tail_(FILE *f, const ab_report *r)
{
    fprintf(f, "\n%s: %zu benchmark%s, %zu ACCEPT, %zu REJECT, %zu INCONCLUSIVE",
            perf_decision_text(r->decision), r->n, r->n == 1 ? "" : "s", r->count[PERF_ACCEPT],
            r->count[PERF_REJECT], r->count[PERF_INCONCLUSIVE]);
    if (r->judged > 1)
        fprintf(f, " (Holm over %zu)", r->judged);
    ab_print_fresh_(f, r);
    putc('\n', f);
    if (r->n == 1 && *r->row[0].settle) {
        fputs("to settle it: ", f);
        ab_print_name(f, r->row[0].settle);
        putc('\n', f);
    } else if (r->count[PERF_INCONCLUSIVE]) {
        ab_print_reasons_(f, r);
    }
    ab_print_notes(f, r);
}

PERF_FN void ab_widen_(const ab_line *l, size_t *width)
{
    size_t w;
    int    c;

    for (c = 0; c < AB_CELLS; c++)
        if (width[c] && (w = ab_width(l->cell[c].s)) > width[c])
            width[c] = w;
}

/* Wall, user and system time, memory; processor time that no tick saw is 0. */
PERF_FN ab_text ab_usage_text(const ab_usage *u, int k)
{
    return k == 3 ? ab_bytes(u->median[3])
                  : ab_quantity(u->median[k], "ns");
}

/* What the commands of perf-ab run took: medians. */
PERF_FN void ab_print_usage_(FILE *f, const ab_report *r)
{
    static const char *const title[] = {"wall", "user", "system", "memory", "runs", "failed"};
    ab_text t;
    size_t  i, longest = 7, failed = 0, w;
    int     k;

    for (i = 0; i < r->usages; i++) {
        w = ab_width(r->usage[i].name);
        longest = w > longest ? w : longest;
        failed += r->usage[i].failed;
    }
    fputs("\n  ", f);
    ab_print_padded_(f, "command", longest, 0);
    for (k = 0; k < (failed ? 6 : 5); k++)
        fprintf(f, "  %9s", title[k]);
    for (i = 0; i < r->usages; i++) {
        const ab_usage *u = &r->usage[i];
        fputs("\n  ", f);
        ab_print_padded_(f, u->name, longest, 0);
        for (k = 0; k < 4; k++) {
            t = ab_usage_text(u, k);
            fprintf(f, "  %9s", t.s);
        }
        fprintf(f, "  %9zu", u->runs);
        if (failed)
            fprintf(f, "  %9zu", u->failed);
    }
    putc('\n', f);
}

/* How several values a run vary, within runs and between them. */
PERF_FN void ab_print_between_(FILE *f, const ab_report *r)
{
    size_t i, longest = 7, any = 0, w;

    for (i = 0; i < r->usages; i++) {
        w = ab_width(r->usage[i].name);
        longest = w > longest ? w : longest;
        any += r->usage[i].between.values;
    }
    if (!any)
        return;
    fputs("\n  ", f);
    ab_print_padded_(f, "command", longest, 0);
    fprintf(f, "  %9s  %12s  %12s  %10s", "values", "between runs", "within a run", "best a run");
    for (i = 0; i < r->usages; i++) {
        const ab_between *b = &r->usage[i].between;
        fputs("\n  ", f);
        ab_print_padded_(f, r->usage[i].name, longest, 0);
        fprintf(f, "  %9zu  %10.3g %%  %10.3g %%", b->values, 100.0 * perf_sqrt_(b->runs),
                100.0 * perf_sqrt_(b->within));
        fprintf(f, b->best > 0.0 ? "  %10.0f" : "           -", b->best);
    }
    putc('\n', f);
    if (r->pairs_for_1_percent > 0.0)
        fprintf(f, "  the ratio to 1 %%: about %.0f pairs of runs with so many values\n",
                r->pairs_for_1_percent);
}

enum { FOREST_WIDTH = 61 };

/* The column of a log effect; *beyond: -1 or 1 where it lies outside. */
PERF_FN size_t ab_forest_column_(const ab_forest *a, double x, int *beyond)
{
    double at = (x - a->low) / (a->high - a->low) * (FOREST_WIDTH - 1);

    *beyond = 0;
    if (!(at > -0.5)) {
        *beyond = -1;
        return 0;
    }
    if (at > FOREST_WIDTH - 0.5) {
        *beyond = 1;
        return FOREST_WIDTH - 1;
    }
    return (size_t)(at + 0.5);
}

PERF_FN void ab_forest_line_(char *line, const ab_forest *a, const ab_data *d)
{
    double        asked;
    perf_interval e = ab_forest_row(d, &asked);
    int           under, over, off;
    size_t        low, high, at;

    memset(line, ' ', FOREST_WIDTH);
    line[FOREST_WIDTH] = '\0';
    line[ab_forest_column_(a, 0.0, &off)] = '|';
    line[ab_forest_column_(a, asked, &off)] = ':';
    if (perf_is_nan_(e.estimate))
        return;
    low = ab_forest_column_(a, e.low, &under);
    high = ab_forest_column_(a, e.high, &over);
    for (at = low; at <= high; at++)
        line[at] = '-';
    line[low] = under ? '<' : '[';
    line[high] = over ? '>' : ']';
    at = ab_forest_column_(a, e.estimate, &off);
    if (under > 0 || over < 0)                      /* all of it lies outside                     */
        line[low] = under > 0 ? '>' : '<';
    else if (low == high)
        line[low] = '*';
    else if (low + 1 < high)
        line[at] = "<*>"[off + 1];
}

/* The intervals over each other, for a terminal. */
PERF_FN void ab_print_forest_(FILE *f, const ab_report *r)
{
    ab_forest a = ab_forest_of(r);
    char      line[FOREST_WIDTH + 16];
    size_t    i, w, longest = 0, len, at, last = 0;
    int       k, off;
    double    t;

    for (i = 0; i < r->n; i++) {
        w = ab_width(ab_shown_name(&r->row[i]));
        longest = w > longest ? w : longest;
    }
    putc('\n', f);
    for (i = 0; i < r->n; i++)
        for (k = 0; k < r->plan.rules && !r->row[i].missing; k++) {
            fputs("  ", f);
            ab_print_padded_(f, k ? "" : ab_shown_name(&r->row[i]), longest, 0);
            ab_forest_line_(line, &a, &r->row[i].d[k]);
            fprintf(f, "    %s\n", line);
        }
    memset(line, ' ', sizeof line);
    for (k = 0; !perf_is_nan_(t = ab_forest_tick(&a, k)); k++) {
        ab_text label = ab_forest_label(&a, t);
        len = strlen(label.s);
        at = ab_forest_column_(&a, ab_forest_log(&a, t), &off) + 4;
        at = at > len / 2 ? at - len / 2 : 0;
        if ((last && at <= last + 1) || at + len >= sizeof line)
            continue;
        memcpy(line + at, label.s, len);
        last = at + len;
    }
    fprintf(f, "  %*s%.*s\n  %*s    | no change   : asked\n", (int)longest, "", (int)last, line,
            (int)longest, "");
}

PERF_FN void ab_print_table(FILE *f, const ab_report *r)
{
    static const char *const title[AB_CELLS] = {"benchmark", "metric", "before", "after", "data",
                                                "change [interval]", "verdict"};
    ab_line l;
    size_t  width[AB_CELLS], i;
    int     k, c, ranges = 0;

    for (c = 0; c < AB_CELLS; c++)
        width[c] = c == CELL_METRIC && r->plan.rules < 2 ? 0 : strlen(title[c]);
    for (i = 0; i < r->n; i++)
        for (k = 0; k < (r->row[i].missing ? 1 : r->plan.rules); k++) {
            ab_cells_(r, &r->row[i], k, &l);
            ranges |= strchr(l.cell[CELL_BEFORE].s, '~') || strchr(l.cell[CELL_AFTER].s, '~');
            ab_widen_(&l, width);
        }
    for (k = 0; k < r->plan.rules && ab_mean_cells_(r, k, &l); k++)
        ab_widen_(&l, width);
    ab_print_head_(f, r);
    for (c = 0; c < AB_CELLS; c++)
        snprintf(l.cell[c].s, sizeof l.cell[c].s, "%s", title[c]);
    ab_print_line_(f, &l, width);
    for (i = 0; i < r->n; i++) {
        const ab_row *row = &r->row[i];
        for (k = 0; k < (row->missing ? 1 : r->plan.rules); k++) {
            ab_cells_(r, row, k, &l);
            ab_print_line_(f, &l, width);
        }
        if (r->plan.rules > 1 && !row->missing) {
            memset(&l, 0, sizeof l);
            snprintf(l.cell[CELL_METRIC].s, sizeof l.cell[0].s, "all");
            snprintf(l.cell[CELL_VERDICT].s, sizeof l.cell[0].s,
                     row->alone != row->family ? "%s (alone %s)" : "%s",
                     perf_decision_text(row->family), perf_decision_text(row->alone));
            ab_print_line_(f, &l, width);
        }
    }
    for (k = 0; k < r->plan.rules && ab_mean_cells_(r, k, &l); k++)
        ab_print_line_(f, &l, width);
    if (ranges)
        fputs("  ~: half the range; an interval takes more values\n", f);
    if (r->usages)
        ab_print_usage_(f, r);
    ab_print_between_(f, r);
    if (r->plot)
        ab_print_forest_(f, r);
    ab_print_tail_(f, r);
}

/* ---- JSON ---- */

PERF_FN void ab_json_member_(FILE *f, const char *key, double x, const char *after)
{
    fprintf(f, "\"%s\": ", key);
    ab_print_json_number(f, x);
    fputs(after, f);
}

PERF_FN void ab_json_interval_(FILE *f, const char *key, perf_interval x, const char *after)
{
    fprintf(f, "\"%s\": {", key);
    ab_json_member_(f, "low", x.low, ", ");
    ab_json_member_(f, "estimate", x.estimate, ", ");
    ab_json_member_(f, "high", x.high, "}");
    fputs(after, f);
}

PERF_FN void ab_json_rule_(FILE *f, const ab_report *r, const ab_data *d, int k)
{
    ab_text t = ab_rule_text(&r->plan.rule[k]), how = ab_how_text(d);

    fputs("\n        {\"rule\": ", f);
    ab_print_json(f, t.s);
    fprintf(f, ", \"metric\": \"%s\", ", ab_metric_name(r->plan.rule[k].metric));
    ab_json_member_(f, "threshold", d->v.threshold, ", ");
    fprintf(f, "\"data\": \"%s\",\n         ", how.s);
    ab_json_member_(f, "before", d->shown[0], ", ");
    ab_json_member_(f, "after", d->shown[1], ", ");
    ab_json_interval_(f, "ratio", d->v.ratio, ",\n         ");
    ab_json_interval_(f, "speedup", d->v.speedup, ", ");
    ab_json_member_(f, "min_detectable_change", d->v.min_detectable_change, ", ");
    ab_json_member_(f, "pairs_needed", d->v.pairs_needed, ",\n         ");
    fprintf(f, "\"decision\": \"%s\", \"reason\": ", perf_decision_text(d->v.decision));
    ab_print_json(f, d->v.reason);
    putc('}', f);
}

/* The geometric mean for each rule, and what commands took. */
PERF_FN void ab_print_more_json_(FILE *f, const ab_report *r)
{
    static const char *const key[] = {"wall_ns", "user_ns", "system_ns", "memory_bytes"};
    ab_data d;
    size_t  i;
    int     k;

    for (k = 0; k < r->plan.rules && ab_geometric_mean(r, k, &d); k++) {
        fputs(k ? ", {" : ",\n  \"geometric_mean\": [{", f);
        ab_json_interval_(f, "ratio", d.v.ratio, "}");
    }
    if (k)
        putc(']', f);
    for (i = 0; i < r->usages; i++) {
        const ab_usage *u = &r->usage[i];
        fputs(i ? ",\n    {\"command\": " : ",\n  \"commands\": [\n    {\"command\": ", f);
        ab_print_json(f, u->name);
        fprintf(f, ", \"runs\": %zu, \"failed\": %zu", u->runs, u->failed);
        for (k = 0; k < 4; k++) {
            fputs(", ", f);
            ab_json_member_(f, key[k], u->median[k], "");
        }
        if (u->between.values) {
            fprintf(f, ", \"values\": %zu, ", u->between.values);
            ab_json_member_(f, "sd_between_runs", perf_sqrt_(u->between.runs), ", ");
            ab_json_member_(f, "sd_within_run", perf_sqrt_(u->between.within), ", ");
            ab_json_member_(f, "best_values_a_run", u->between.best, "");
        }
        putc('}', f);
    }
    if (r->usages)
        fputs("\n  ]", f);
    if (r->fresh)
        fprintf(f, ",\n  \"only_in_after\": %zu", r->fresh);
    for (i = 0; i < r->about.notes; i++) {
        const ab_note *note = &r->about.note[i];
        fputs(i ? ",\n    {\"where\": " : ",\n  \"not_used\": [\n    {\"where\": ", f);
        ab_print_json(f, note->where);
        fputs(", \"what\": ", f);
        ab_print_json(f, note->what);
        fprintf(f, ", \"count\": %zu}", note->count);
    }
    if (r->about.notes)
        fputs("\n  ]", f);
}

PERF_FN void ab_print_report_json(FILE *f, const ab_report *r)
{
    size_t i;
    int    k;

    fputs("{\n  \"perf_ab\": 1,\n  \"before\": ", f);
    ab_print_json(f, r->name[0]);
    fputs(",\n  \"after\": ", f);
    ab_print_json(f, r->name[1]);
    fputs(",\n  ", f);
    ab_json_member_(f, "confidence", r->plan.confidence, ",\n  ");
    fprintf(f, "\"decision\": \"%s\",\n  \"status\": %d,\n  \"benchmarks\": [",
            perf_decision_text(r->decision), ab_status(r));
    for (i = 0; i < r->n; i++) {
        const ab_row *row = &r->row[i];
        fprintf(f, "%s\n    {\"name\": ", i ? "," : "");
        ab_print_json(f, row->name);
        fputs(", \"unit\": ", f);
        ab_print_json(f, row->missing ? "" : row->d[0].unit);
        fprintf(f, ", \"decision\": \"%s\", \"alone\": \"%s\", ", perf_decision_text(row->family),
                perf_decision_text(row->alone));
        ab_json_member_(f, "p", r->judged > 1 ? row->p : PERF_NAN_, ", ");
        ab_json_member_(f, "p_holm", r->judged > 1 ? row->holm : PERF_NAN_, ",\n     ");
        fputs("\"settle\": ", f);
        ab_print_json(f, row->settle);
        fputs(",\n     \"rules\": [", f);
        for (k = 0; k < r->plan.rules && !row->missing; k++) {
            if (k)
                putc(',', f);
            ab_json_rule_(f, r, &row->d[k], k);
        }
        fputs("]}", f);
    }
    fputs("\n  ]", f);
    ab_print_more_json_(f, r);
    fputs("\n}\n", f);
}

/* ---- CSV ---- */

/* A text as a cell.  A spreadsheet would run one that begins with = + - @ as a formula: an
 * apostrophe before it says that it is text.  Control characters become '?'.                     */
PERF_FN void ab_csv_text_(FILE *f, const char *s)
{
    const int formula = *s && strchr("=+-@", *s) != NULL;
    const int quoted = strpbrk(s, ",\"\r\n") != NULL;
    size_t    n;
    int       safe;

    if (quoted)
        putc('"', f);
    if (formula)
        putc('\'', f);
    for (; *s; s += n) {
        n = ab_character(s, &safe);
        if (*s == '"')
            putc('"', f);
        if (safe)
            fwrite(s, 1, n, f);
        else
            putc('?', f);
    }
    if (quoted)
        putc('"', f);
}

PERF_FN void ab_csv_number_(FILE *f, double x)
{
    if (perf_is_finite_(x))
        fprintf(f, ",%.10g", x);
    else
        putc(',', f);                               /* no bound, no number                        */
}

PERF_FN void ab_print_csv(FILE *f, const ab_report *r)
{
    size_t i;
    int    k;

    fputs("name,unit,rule,before,after,ratio,ratio_low,ratio_high,verdict,rule_verdict,p_holm,"
          "pairs_needed,settle\n",
          f);
    for (i = 0; i < r->n; i++)
        for (k = 0; k < r->plan.rules; k++) {
            const ab_row  *row = &r->row[i];
            const ab_data *d = &row->d[k];
            ab_text        t = ab_rule_text(&r->plan.rule[k]);
            if (row->missing && k)
                break;
            ab_csv_text_(f, row->name);
            putc(',', f);
            ab_csv_text_(f, row->missing ? "" : d->unit);
            putc(',', f);
            ab_csv_text_(f, t.s);
            if (row->missing) {
                fputs(",,,,,", f);
            } else {
                ab_csv_number_(f, d->shown[0]);
                ab_csv_number_(f, d->shown[1]);
                ab_csv_number_(f, d->v.ratio.estimate);
                ab_csv_number_(f, d->v.ratio.low);
                ab_csv_number_(f, d->v.ratio.high);
            }
            fprintf(f, ",%s,%s", perf_decision_text(row->family), perf_decision_text(row->missing
                    ? row->alone : d->v.decision));
            ab_csv_number_(f, r->judged > 1 ? row->holm : PERF_NAN_);
            ab_csv_number_(f, row->missing ? PERF_NAN_ : d->v.pairs_needed);
            putc(',', f);
            ab_csv_text_(f, row->settle);
            putc('\n', f);
        }
}

/* ---- Markdown, for pull requests ---- */

PERF_FN void ab_markdown_text_(FILE *f, const char *s)
{
    size_t n;
    int    safe;

    for (; *s; s += n) {
        n = ab_character(s, &safe);
        if (!safe) {
            putc(n == 1 && (unsigned char)*s < ' ' ? ' ' : '?', f);
            continue;
        }
        if (*s == '&') {
            fputs("&amp;", f);
            continue;
        }
        if (strchr("|\\`*_<>[]", *s))
            putc('\\', f);
        fwrite(s, 1, n, f);
    }
}

/* What is not used, as a list below the table. */
PERF_FN void ab_markdown_notes_(FILE *f, const ab_report *r)
{
    size_t i;

    if (r->fresh)
        fprintf(f, "\n%zu only in B, not judged.\n", r->fresh);
    for (i = 0; i < r->about.notes; i++) {
        fputs(i ? "- " : "\nNot used, or odd:\n\n- ", f);
        ab_markdown_text_(f, r->about.note[i].where);
        fputs(": ", f);
        ab_markdown_text_(f, r->about.note[i].what);
        fprintf(f, " (%zu)\n", r->about.note[i].count);
    }
}

PERF_FN void ab_print_markdown(FILE *f, const ab_report *r)
{
    ab_line l;
    size_t  i;
    int     k;

    fprintf(f, "**%s**", perf_decision_text(r->decision));
    for (k = 0; k < r->plan.rules; k++) {
        ab_text t = ab_rule_text(&r->plan.rule[k]);
        fputs(k ? " AND " : " (asked: ", f);
        ab_markdown_text_(f, t.s);
    }
    fputs("), before: ", f);
    ab_markdown_text_(f, r->name[0]);
    fputs(", after: ", f);
    ab_markdown_text_(f, r->name[1]);
    fprintf(f,
            "\n\n| benchmark |%s before | after | data | change [%g %% interval] | verdict | to "
            "settle it |\n"
            "|---|%s---:|---:|---:|---|---|---|\n",
            r->plan.rules > 1 ? " metric |" : "", r->plan.confidence * 100.0,
            r->plan.rules > 1 ? "---|" : "");
    for (i = 0; i < r->n; i++)
        for (k = 0; k < (r->row[i].missing ? 1 : r->plan.rules); k++) {
            ab_cells_(r, &r->row[i], k, &l);
            fputs("| ", f);
            ab_markdown_text_(f, k ? "" : ab_shown_name(&r->row[i]));
            if (r->plan.rules > 1) {
                fputs(" | ", f);
                ab_markdown_text_(f, l.cell[CELL_METRIC].s);
            }
            fputs(" | ", f);
            ab_markdown_text_(f, l.cell[CELL_BEFORE].s);
            fputs(" | ", f);
            ab_markdown_text_(f, l.cell[CELL_AFTER].s);
            fprintf(f, " | %s | ", l.cell[CELL_DATA].s);    /* our own words                      */
            ab_markdown_text_(f, l.cell[CELL_CHANGE].s);
            fprintf(f, " | %s | ", l.cell[CELL_VERDICT].s);
            ab_markdown_text_(f, k ? "" : r->row[i].settle);
            fputs(" |\n", f);
        }
    for (k = 0; k < r->plan.rules && ab_mean_cells_(r, k, &l); k++) {
        fprintf(f, "| %s |%s%s%s ", l.cell[CELL_NAME].s, r->plan.rules > 1 ? " " : "",
                l.cell[CELL_METRIC].s, r->plan.rules > 1 ? " |" : "");
        ab_markdown_text_(f, l.cell[CELL_BEFORE].s);
        fputs(" | ", f);
        ab_markdown_text_(f, l.cell[CELL_AFTER].s);
        fprintf(f, " | %s | %s | | |\n", l.cell[CELL_DATA].s, l.cell[CELL_CHANGE].s);
    }
    ab_markdown_notes_(f, r);
}

/* ---- measurements as perf_results, which read.h reads ---- */

PERF_FN void ab_print_list_(FILE *f, const char *key, const ab_values *v, int counts)
{
    size_t i;

    fprintf(f, "\n     \"%s\": [", key);
    for (i = 0; i < v->n; i++) {
        if (i)
            fputs(i % 8 ? ", " : ",\n       ", f);
        ab_print_json_number(f, counts && v->x[i] <= AB_ZERO_COUNT ? 0.0 : v->x[i]);
    }
    putc(']', f);
}

/* A results file, open for more members behind "benchmarks". */
PERF_FN void ab_print_results_begin(FILE *f, const ab_set *set)
{
    static const char *const design[] = {"separate", "random", "pairs"};
    size_t i, k, entries = 0;

    fputs("{\n  \"perf_results\": 1,\n  \"benchmarks\": [", f);
    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs; k++) {
            const ab_series *s = &set->s[i];
            const ab_run    *run = &s->run[k];
            int              counts = ab_unit_kind(s->unit) == AB_MEMORY;
            fprintf(f, "%s\n    {\"name\": ", entries++ ? "," : "");
            ab_print_json(f, s->name);
            fputs(", \"unit\": ", f);
            ab_print_json(f, s->unit);
            if (run->id) {
                fputs(", \"run\": ", f);
                ab_print_json(f, run->id);
            }
            if (s->failed && !k)
                fprintf(f, ", \"failed\": %zu", s->failed);
            if (s->step > 0.0) {
                fputs(", ", f);
                ab_json_member_(f, "step", s->step, "");
            }
            fprintf(f, ", \"design\": \"%s\",", s->same_order ? "separate" : design[s->design]);
            if (s->design == AB_PAIRS) {
                ab_print_list_(f, "baseline", &run->v[0], counts);
                putc(',', f);
                ab_print_list_(f, "candidate", &run->v[1], counts);
            } else {
                ab_print_list_(f, "samples", &run->v[0], counts);
            }
            putc('}', f);
        }
    fputs("\n  ]", f);
}

PERF_FN void ab_print_results(FILE *f, const ab_set *set)
{
    ab_print_results_begin(f, set);
    fputs("\n}\n", f);
}

#endif
