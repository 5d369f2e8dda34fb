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
PERF_FN FILE *ab_begin_file(perf_file_ *file, const char *path)
{
    struct stat info;

    memset(file, 0, sizeof *file);
    if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, W_OK) != 0)
        return NULL;                                /* a rename would replace it all the same     */
    return perf_file_begin_(file, path) ? file->file : NULL;
}

/* 0, or -1 and errno: it could not be written. */
PERF_FN int ab_end_file(perf_file_ *file, const char *path)
{
    const int whole = !ferror(file->file);

    return perf_file_end_(file, path, whole) && whole ? 0 : -1;
}

/* ---- the change in words ---- */

/* The effect as people ask for it: a factor for a speed-up rule, else percent; for a rate the
 * change of the rate.                                                                            */
PERF_FN perf_interval ab_effect_(const ab_data *data, int *factor)
{
    *factor = data->rule.kind == PERF_RULE_SPEEDUP;
    return *factor || data->rule.metric == PERF_METRIC_THROUGHPUT ? data->v.speedup : data->v.ratio;
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
    ab_text text;

    if (ab_abs(x - 1.0) < 1e-9)
        x = 1.0;                                    /* no "-0.000 %"                              */
    if (!perf_is_finite_(x))
        snprintf(text.s, sizeof text.s, "?");
    else if (x >= 1e6)
        snprintf(text.s, sizeof text.s, factor ? "%.3gx" : "%+.3g %%",
                 factor ? x : (x - 1.0) * 100.0);
    else if (factor)
        snprintf(text.s, sizeof text.s, "%.*fx", digits, x);
    else
        snprintf(text.s, sizeof text.s, "%+.*f %%", digits, (x - 1.0) * 100.0);
    return text;
}

/* "1.94x [1.93x, 1.95x]" or "-25.8 % [-26.1 %, -25.4 %]"; "?" is unbounded. */
PERF_FN ab_text ab_change(const ab_data *data)
{
    ab_text       text, low, mid, high;
    int           factor, digits;
    perf_interval interval = ab_effect_(data, &factor);

    digits = ab_digits_((interval.high - interval.low) * (factor ? 1.0 : 100.0));
    mid = ab_effect_number_(interval.estimate, factor, digits);
    low = ab_effect_number_(interval.low > 0.0 ? interval.low :
                            perf_from_bits_(UINT64_C(0x7ff8000000000000)), factor, digits);
    high = ab_effect_number_(interval.high, factor, digits);
    snprintf(text.s, sizeof text.s, "%.40s [%.40s, %.40s]", mid.s, low.s, high.s);
    return text;
}

/* What the pairs are and how many. */
PERF_FN ab_text ab_how_text(const ab_data *data)
{
    ab_text text;

    if (data->how == AB_HOW_PAIRS)
        snprintf(text.s, sizeof text.s, "%zu pairs", data->n[0]);
    else if (data->how == AB_HOW_RUNS)
        snprintf(text.s, sizeof text.s, "%zu pairs of runs", data->n[0]);
    else
        snprintf(text.s, sizeof text.s, "%zu and %zu values, %s", data->n[0], data->n[1],
                 data->how == AB_HOW_RANDOM ? "random order" : "not interleaved");
    return text;
}

PERF_FN const char *ab_shown_name(const ab_row *row)
{
    return *row->name ? row->name : "(all)";
}

/* The figure of one side; a count of 0 is kept as half a unit, and is 0. */
PERF_FN double ab_shown(const ab_data *data, int side)
{
    const int none = data->counts && ab_abs(data->shown[side] - AB_ZERO_COUNT) < 1e-9;

    return none ? 0.0 : data->shown[side];
}

/* "12.34 us +- 2 %": the figure of one side and its own interval; "~ 2 %", half the range, where
 * values are too few for one.  Pairs are about their ratio and have none.                        */
PERF_FN ab_text ab_side_text(const ab_data *data, int side)
{
    ab_text figure = ab_quantity(ab_shown(data, side), data->unit), text;
    double  off = 100.0 * (data->ranged[side] ? 0.5 : 1.0) * data->off[side];

    if (!(data->off[side] >= 0.0))
        return figure;
    snprintf(text.s, sizeof text.s,
             off < 9.95 && off > 0.0 ? "%.80s %s %.1f %%" : "%.80s %s %.0f %%", figure.s,
             data->ranged[side] ? "~" : "+-", off);
    return text;
}

/* The geometric mean of a rule's changes over all benchmarks, into data->v and data->shown (0 where
 * units differ).  Its ends are the means of the intervals' ends: too wide where the benchmarks'
 * errors have nothing to do with each other, right where all of them move together.  0: there is
 * none.                                                                                          */
PERF_FN size_t ab_geometric_mean(const ab_report *report, int k, ab_data *data)
{
    double  sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0}, n = 0.0;
    size_t  i;
    int     same = 1;

    memset(data, 0, sizeof *data);
    for (i = 0; i < report->n; i++) {
        const ab_data *x = &report->row[i].d[k];
        if (report->row[i].missing || !(x->v.ratio.estimate > 0.0) || !(x->shown[0] > 0.0) ||
            !(x->shown[1] > 0.0))
            continue;
        same &= !data->unit || !strcmp(data->unit, x->unit);
        data->unit = x->unit;
        data->rule = x->rule;
        data->counts |= x->counts;
        data->v.threshold = x->v.threshold;
        sum[0] += perf_log_(x->v.ratio.low);
        sum[1] += perf_log_(x->v.ratio.estimate);
        sum[2] += perf_log_(x->v.ratio.high);
        sum[3] += perf_log_(x->shown[0]);
        sum[4] += perf_log_(x->shown[1]);
        n += 1.0;
    }
    /* rivals are no suite */
    if (n < 2.0 || (report->sequential && report->usages != 2 * report->n))
        return 0;
    data->v.ratio.low = perf_exp_(sum[0] / n);
    data->v.ratio.estimate = perf_exp_(sum[1] / n);
    data->v.ratio.high = perf_exp_(sum[2] / n);
    data->v.speedup.low = perf_exp_(-sum[2] / n);
    data->v.speedup.estimate = perf_exp_(-sum[1] / n);
    data->v.speedup.high = perf_exp_(-sum[0] / n);
    data->shown[0] = same ? perf_exp_(sum[3] / n) : 0.0;
    data->shown[1] = same ? perf_exp_(sum[4] / n) : 0.0;
    return (size_t)n;
}

/* What change would have been found at all, in words; "" when nothing is known. */
PERF_FN ab_text ab_found_text(const ab_data *data)
{
    ab_text text = {""};

    if (perf_is_finite_(data->v.min_detectable_change) && data->v.min_detectable_change < 0.5)
        snprintf(text.s, sizeof text.s,
                 "A change of %.2g %% would have been found with 80 %% chance.",
                 data->v.min_detectable_change * 100.0);
    else if (perf_is_finite_(data->v.min_detectable_change))
        snprintf(text.s, sizeof text.s,
                 "Too few or too uneven values: only a change by a factor of %.2g or more would "
                 "have been found (80 %% chance).", 1.0 + data->v.min_detectable_change);
    return text;
}

/* ---- forest plot: what the page and the terminal share ---- */

typedef struct ab_forest {              /* an axis in logs of the effect                          */
    double low, high;
    double step;                        /* between labels, in the unit shown                      */
    int    factor;                      /* labels are factors, else percent                       */
} ab_forest;

/* The interval of a row in logs, oriented as the table is, and what was asked. */
PERF_FN perf_interval ab_forest_row(const ab_data *data, double *asked)
{
    int           factor, swap = data->rule.metric == PERF_METRIC_THROUGHPUT;
    perf_interval interval = ab_effect_(data, &factor), result;

    *asked = perf_log_(factor || swap ? 1.0 / data->v.threshold : data->v.threshold);
    result.low = perf_log_(interval.low);
    result.estimate = perf_log_(interval.estimate);
    result.high = perf_log_(interval.high);
    return result;
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

PERF_FN double ab_forest_value(const ab_forest *forest, double log_effect)
{
    return forest->factor ? perf_exp_(log_effect) : (perf_exp_(log_effect) - 1.0) * 100.0;
}

PERF_FN double ab_forest_log(const ab_forest *forest, double value)
{
    double x = forest->factor ? value : 1.0 + value / 100.0;
    return x > 0.0 ? perf_log_(x) : -PERF_INF_;
}

/* Label number i of the axis, from 0; NaN behind the last one.  Where no round number is left below
 * (0x, -100 %), the first label is the lower end itself.                                         */
PERF_FN double ab_forest_tick(const ab_forest *forest, int i)
{
    double low = ab_forest_value(forest, forest->low) / forest->step;
    double first = (double)(int64_t)low, tick;

    first += first < low - 1e-6 ? 1.0 : 0.0;
    if (first > low + 1e-6 && i-- == 0)
        return low * forest->step;
    tick = (first + (double)i) * forest->step;
    if (i >= 20 || tick > ab_forest_value(forest, forest->high) + 1e-6 * forest->step)
        return PERF_NAN_;
    return ab_abs(tick) < 1e-9 * forest->step ? 0.0 : tick;
}

PERF_FN ab_text ab_forest_label(const ab_forest *forest, double value)
{
    ab_text text;

    if (forest->factor)
        snprintf(text.s, sizeof text.s, "%.3gx", value);
    else
        snprintf(text.s, sizeof text.s, "%s%.3g %%", value > 0.0 ? "+" : "", value);
    return text;
}

/* The axis of rule 0's rows: no change and what was asked, and all intervals but those that lie far
 * off the others (beyond three times the spread of their middle half): one of them must not flatten
 * the rest.  It ends at labels, so that these cover what is drawn.                               */
PERF_FN ab_forest ab_forest_of(const ab_report *report)
{
    ab_forest forest = {0.0, 0.0, 1.0, 0};
    double   *end = (double *)ab_grow(NULL, 2 * report->n * AB_RULES + 1, sizeof *end);
    double    asked, q1, q3, x;
    size_t    i, n = 0;
    int       k;

    forest.factor = report->plan.rule[0].kind == PERF_RULE_SPEEDUP;
    for (i = 0; i < report->n; i++)
        for (k = 0; k < report->plan.rules && !report->row[i].missing; k++) {
            perf_interval interval = ab_forest_row(&report->row[i].d[k], &asked);
            if (perf_is_finite_(interval.low))
                end[n++] = interval.low;
            if (perf_is_finite_(interval.high))
                end[n++] = interval.high;
            forest.low = asked < forest.low ? asked : forest.low;
            forest.high = asked > forest.high ? asked : forest.high;
        }
    perf_sort_values_(end, n);
    q1 = n ? perf_quantile_(end, n, 0.25) : 0.0;
    q3 = n ? perf_quantile_(end, n, 0.75) : 0.0;
    x = 3.0 * (q3 - q1 > forest.high - forest.low ? q3 - q1 : forest.high - forest.low);
    for (i = 0; i < n; i++)
        if (end[i] > q1 - x && end[i] < q3 + x) {
            forest.low = end[i] < forest.low ? end[i] : forest.low;
            forest.high = end[i] > forest.high ? end[i] : forest.high;
        }
    free(end);
    forest.low = forest.low < -3.0 ? -3.0 : forest.low; /* a factor of 20 either way at most      */
    forest.high = forest.high > 3.0 ? 3.0 : forest.high;
    if (!(forest.high - forest.low > 0.002)) {
        forest.low -= 0.01;
        forest.high += 0.01;
    }
    q1 = ab_forest_value(&forest, forest.low);
    q3 = ab_forest_value(&forest, forest.high);
    forest.step = ab_round_step(q3 - q1, 5.0);
    x = (double)(int64_t)(q1 / forest.step);
    x = ab_forest_log(&forest, (x > q1 / forest.step + 1e-9 ? x - 1.0 : x) * forest.step);
    forest.low = perf_is_finite_(x) ? x : forest.low;
    x = (double)(int64_t)(q3 / forest.step);
    forest.high = ab_forest_log(&forest, (x < q3 / forest.step - 1e-9 ? x + 1.0 : x) * forest.step);
    return forest;
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
    ab_text      text;
    int          safe;

    if (len <= AB_NAME_BYTES) {
        snprintf(text.s, sizeof text.s, "%s", name);
        return text;
    }
    for (; next <= half; next += ab_character(name + next, &safe))
        begin = next;
    while (len - (size_t)(end - name) > half)
        end += ab_character(end, &safe);
    snprintf(text.s, sizeof text.s, "%.*s...%s", (int)begin, name, end);
    return text;
}

PERF_FN void ab_cells_(const ab_report *report, const ab_row *row, int k, ab_line *line)
{
    const ab_data *data = &row->d[k];

    memset(line, 0, sizeof *line);
    if (k == 0)
        line->cell[CELL_NAME] = ab_name_text_(ab_shown_name(row));
    if (row->missing) {
        const char *one = row->absent[0] ? row->absent[0] : "";
        const char *other = row->absent[1] ? row->absent[1] : "";
        snprintf(line->cell[CELL_BEFORE].s, sizeof line->cell[0].s, "%s", one);
        snprintf(line->cell[CELL_AFTER].s, sizeof line->cell[0].s, "%s", other);
        snprintf(line->cell[CELL_VERDICT].s, sizeof line->cell[0].s, "%s",
                 perf_decision_text(row->family));
        return;
    }
    if (report->plan.rules > 1)
        snprintf(line->cell[CELL_METRIC].s, sizeof line->cell[0].s, "%s",
                 ab_metric_name(report->plan.rule[k].metric));
    line->cell[CELL_BEFORE] = ab_side_text(data, 0);
    line->cell[CELL_AFTER] = ab_side_text(data, 1);
    if (data->how == AB_HOW_PAIRS || data->how == AB_HOW_RUNS)
        snprintf(line->cell[CELL_DATA].s, sizeof line->cell[0].s, "%zu %s", data->n[0],
                 data->how == AB_HOW_PAIRS ? "pairs" : "runs");
    else
        snprintf(line->cell[CELL_DATA].s, sizeof line->cell[0].s, "%zu, %zu", data->n[0],
                 data->n[1]);
    line->cell[CELL_CHANGE] = ab_change(data);
    snprintf(line->cell[CELL_VERDICT].s, sizeof line->cell[0].s, "%s",
             perf_decision_text(report->plan.rules > 1 ? data->v.decision : row->family));
    if (report->plan.rules == 1 && row->alone != row->family)
        snprintf(line->cell[CELL_VERDICT].s, sizeof line->cell[0].s, "%s (alone %s)",
                 perf_decision_text(row->family), perf_decision_text(row->alone));
}

/* The line of the geometric mean of rule k; 0: there is none. */
PERF_FN int ab_mean_cells_(const ab_report *report, int k, ab_line *line)
{
    ab_data data;
    size_t  n = ab_geometric_mean(report, k, &data);

    memset(line, 0, sizeof *line);
    if (!n)
        return 0;
    snprintf(line->cell[CELL_NAME].s, sizeof line->cell[0].s, "%s", k ? "" : "geometric mean");
    if (report->plan.rules > 1)
        snprintf(line->cell[CELL_METRIC].s, sizeof line->cell[0].s, "%s",
                 ab_metric_name(report->plan.rule[k].metric));
    if (data.shown[0] > 0.0) {
        line->cell[CELL_BEFORE] = ab_quantity(ab_shown(&data, 0), data.unit);
        line->cell[CELL_AFTER] = ab_quantity(ab_shown(&data, 1), data.unit);
    }
    snprintf(line->cell[CELL_DATA].s, sizeof line->cell[0].s, "of %zu", n);
    line->cell[CELL_CHANGE] = ab_change(&data);
    return 1;
}

PERF_FN void ab_print_padded_(FILE *file, const char *text, size_t width, int right)
{
    size_t w = ab_width(text);

    for (; right && w < width; w++)
        putc(' ', file);
    ab_print_name(file, text);
    for (; w < width; w++)
        putc(' ', file);
}

PERF_FN void ab_print_line_(FILE *file, const ab_line *line, const size_t *width)
{
    int i;

    int last = *line->cell[CELL_VERDICT].s ? CELL_VERDICT : CELL_CHANGE;

    for (i = 0; i <= last; i++) {
        if (!width[i])
            continue;
        fputs("  ", file);
        if (i == last)
            ab_print_name(file, line->cell[i].s);
        else
            ab_print_padded_(file, line->cell[i].s, width[i],
                             i == CELL_BEFORE || i == CELL_AFTER || i == CELL_DATA);
    }
    putc('\n', file);
}

/* The head of the table: one line that says what A, B and the rules are. */
PERF_FN void ab_print_head_(FILE *file, const ab_report *report)
{
    int k;

    fputs("before (A): ", file);
    ab_print_name(file, report->name[0]);
    fprintf(file, " (%s)\nafter  (B): ", report->format[0]);
    ab_print_name(file, report->name[1]);
    fprintf(file, " (%s)\nasked: ", report->format[1]);
    for (k = 0; k < report->plan.rules; k++) {
        ab_text text = ab_rule_text(&report->plan.rule[k]);
        fprintf(file, "%s%s", k ? " AND " : "", text.s);
    }
    fprintf(file, "; %g %% intervals%s\n%s\n", report->plan.confidence * 100.0,
            report->sequential && report->n > 1 ? ", all together" : "",
            report->unlike
                ? "names differ: the only benchmark of A is compared with the only one of B\n"
                : "");
}

/* Each reason once, behind the names it holds for (at most three of them). */
PERF_FN void ab_print_reasons_(FILE *file, const ab_report *report)
{
    ab_set  reason;                     /* each settle, as the name of a series                   */
    size_t *first, *count, i, k, n, named;

    memset(&reason, 0, sizeof reason);
    first = (size_t *)ab_grow(NULL, report->n, sizeof *first);
    count = (size_t *)ab_grow(NULL, report->n, sizeof *count);
    memset(count, 0, report->n * sizeof *count);
    for (i = 0; i < report->n; i++) {
        if (!*report->row[i].settle)
            continue;
        k = (size_t)(ab_series_of(&reason, report->row[i].settle) - reason.s);
        first[k] = count[k] ? first[k] : i;
        count[k]++;
    }
    fputs("to settle it:\n", file);
    for (k = 0; k < reason.n; k++) {
        n = count[k];
        fputs("  ", file);
        for (i = first[k], named = 0; named < n && named < 3; i++) {
            if (strcmp(report->row[i].settle, reason.s[k].name) != 0)
                continue;
            fputs(named++ ? ", " : "", file);
            ab_print_name(file, ab_shown_name(&report->row[i]));
        }
        if (n > 3)
            fprintf(file, " and %zu more", n - 3);
        fputs(": ", file);
        ab_print_name(file, reason.s[k].name);
        putc('\n', file);
    }
    ab_set_free(&reason);
    free(first);
    free(count);
}

enum { AB_NOTES_SHOWN = 20 };

/* Values of the files that are not used, and why. */
PERF_FN void ab_print_notes(FILE *file, const ab_report *report)
{
    const ab_note *note = report->about.note;
    size_t         i, shown = report->about.notes;

    if (shown > AB_NOTES_SHOWN)
        shown = AB_NOTES_SHOWN;
    for (i = 0; i < shown; i++) {
        fputs(i ? "  " : "not used, or odd:\n  ", file);
        ab_print_name(file, note[i].where);
        fputs(": ", file);
        ab_print_name(file, note[i].what);
        if (note[i].count > 1)
            fprintf(file, " (%zu of them)", note[i].count);
        putc('\n', file);
    }
    if (report->about.notes > shown)
        fprintf(file, "  and %zu more: --json names all\n", report->about.notes - shown);
}

/* "; 2 only in B, not judged: x, y". */
PERF_FN void ab_print_fresh_(FILE *file, const ab_report *report)
{
    size_t i;

    if (!report->fresh)
        return;
    fprintf(file, "; %zu only in B, not judged: ", report->fresh);
    for (i = 0; i < report->fresh && i < 3; i++) {
        fputs(i ? ", " : "", file);
        ab_print_name(file, report->fresh_name[i]);
    }
    if (report->fresh > 3)
        fprintf(file, " and %zu more", report->fresh - 3);
}

PERF_FN void ab_print_tail_(FILE *file, const ab_report *report)
{
    fprintf(file, "\n%s: %zu benchmark%s, %zu ACCEPT, %zu REJECT, %zu INCONCLUSIVE",
            perf_decision_text(report->decision), report->n, report->n == 1 ? "" : "s",
            report->count[PERF_ACCEPT], report->count[PERF_REJECT],
            report->count[PERF_INCONCLUSIVE]);
    if (report->judged > 1)
        fprintf(file, " (Holm over %zu)", report->judged);
    ab_print_fresh_(file, report);
    putc('\n', file);
    if (report->n == 1 && *report->row[0].settle) {
        fputs("to settle it: ", file);
        ab_print_name(file, report->row[0].settle);
        putc('\n', file);
    } else if (report->count[PERF_INCONCLUSIVE]) {
        ab_print_reasons_(file, report);
    }
    ab_print_notes(file, report);
}

PERF_FN void ab_widen_(const ab_line *line, size_t *width)
{
    size_t w;
    int    column;

    for (column = 0; column < AB_CELLS; column++)
        if (width[column] && (w = ab_width(line->cell[column].s)) > width[column])
            width[column] = w;
}

/* Wall, user and system time, memory; processor time that no tick saw is 0. */
PERF_FN ab_text ab_usage_text(const ab_usage *usage, int k)
{
    return k == 3 ? ab_bytes(usage->median[3])
                  : ab_quantity(usage->median[k], "ns");
}

/* What the commands of perf-ab run took: medians. */
PERF_FN void ab_print_usage_(FILE *file, const ab_report *report)
{
    static const char *const title[] = {"wall", "user", "system", "memory", "runs", "failed"};
    ab_text text;
    size_t  i, longest = 7, failed = 0, w;
    int     k;

    for (i = 0; i < report->usages; i++) {
        w = ab_width(report->usage[i].name);
        longest = w > longest ? w : longest;
        failed += report->usage[i].failed;
    }
    fputs("\n  ", file);
    ab_print_padded_(file, "command", longest, 0);
    for (k = 0; k < (failed ? 6 : 5); k++)
        fprintf(file, "  %9s", title[k]);
    for (i = 0; i < report->usages; i++) {
        const ab_usage *usage = &report->usage[i];
        fputs("\n  ", file);
        ab_print_padded_(file, usage->name, longest, 0);
        for (k = 0; k < 4; k++) {
            text = ab_usage_text(usage, k);
            fprintf(file, "  %9s", text.s);
        }
        fprintf(file, "  %9zu", usage->runs);
        if (failed)
            fprintf(file, "  %9zu", usage->failed);
    }
    putc('\n', file);
}

/* How several values a run vary, within runs and between them. */
PERF_FN void ab_print_between_(FILE *file, const ab_report *report)
{
    size_t i, longest = 7, any = 0, w;

    for (i = 0; i < report->usages; i++) {
        w = ab_width(report->usage[i].name);
        longest = w > longest ? w : longest;
        any += report->usage[i].between.values;
    }
    if (!any)
        return;
    fputs("\n  ", file);
    ab_print_padded_(file, "command", longest, 0);
    fprintf(file, "  %9s  %12s  %12s  %10s", "values", "between runs", "within a run",
            "best a run");
    for (i = 0; i < report->usages; i++) {
        const ab_between *between = &report->usage[i].between;
        fputs("\n  ", file);
        ab_print_padded_(file, report->usage[i].name, longest, 0);
        fprintf(file, "  %9zu  %10.3g %%  %10.3g %%", between->values,
                100.0 * perf_sqrt_(between->runs), 100.0 * perf_sqrt_(between->within));
        fprintf(file, between->best > 0.0 ? "  %10.0f" : "           -", between->best);
    }
    putc('\n', file);
    if (report->pairs_for_1_percent > 0.0)
        fprintf(file, "  the ratio to 1 %%: about %.0f pairs of runs with so many values\n",
                report->pairs_for_1_percent);
}

enum { FOREST_WIDTH = 61 };

/* The column of a log effect; *beyond: -1 or 1 where it lies outside. */
PERF_FN size_t ab_forest_column_(const ab_forest *forest, double x, int *beyond)
{
    double at = (x - forest->low) / (forest->high - forest->low) * (FOREST_WIDTH - 1);

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

PERF_FN void ab_forest_line_(char *line, const ab_forest *forest, const ab_data *data)
{
    double        asked;
    perf_interval interval = ab_forest_row(data, &asked);
    int           under, over, off;
    size_t        low, high, at;

    memset(line, ' ', FOREST_WIDTH);
    line[FOREST_WIDTH] = '\0';
    line[ab_forest_column_(forest, 0.0, &off)] = '|';
    line[ab_forest_column_(forest, asked, &off)] = ':';
    if (perf_is_nan_(interval.estimate))
        return;
    low = ab_forest_column_(forest, interval.low, &under);
    high = ab_forest_column_(forest, interval.high, &over);
    for (at = low; at <= high; at++)
        line[at] = '-';
    line[low] = under ? '<' : '[';
    line[high] = over ? '>' : ']';
    at = ab_forest_column_(forest, interval.estimate, &off);
    if (under > 0 || over < 0)                      /* all of it lies outside                     */
        line[low] = under > 0 ? '>' : '<';
    else if (low == high)
        line[low] = '*';
    else if (low + 1 < high)
        line[at] = "<*>"[off + 1];
}

/* The intervals over each other, for a terminal. */
PERF_FN void ab_print_forest_(FILE *file, const ab_report *report)
{
    ab_forest forest = ab_forest_of(report);
    char      line[FOREST_WIDTH + 16];
    size_t    i, w, longest = 0, len, at, last = 0;
    int       k, off;
    double    t;

    for (i = 0; i < report->n; i++) {
        w = ab_width(ab_shown_name(&report->row[i]));
        longest = w > longest ? w : longest;
    }
    putc('\n', file);
    for (i = 0; i < report->n; i++)
        for (k = 0; k < report->plan.rules && !report->row[i].missing; k++) {
            fputs("  ", file);
            ab_print_padded_(file, k ? "" : ab_shown_name(&report->row[i]), longest, 0);
            ab_forest_line_(line, &forest, &report->row[i].d[k]);
            fprintf(file, "    %s\n", line);
        }
    memset(line, ' ', sizeof line);
    for (k = 0; !perf_is_nan_(t = ab_forest_tick(&forest, k)); k++) {
        ab_text label = ab_forest_label(&forest, t);
        len = strlen(label.s);
        at = ab_forest_column_(&forest, ab_forest_log(&forest, t), &off) + 4;
        at = at > len / 2 ? at - len / 2 : 0;
        if ((last && at <= last + 1) || at + len >= sizeof line)
            continue;
        memcpy(line + at, label.s, len);
        last = at + len;
    }
    fprintf(file, "  %*s%.*s\n  %*s    | no change   : asked\n", (int)longest, "", (int)last, line,
            (int)longest, "");
}

PERF_FN void ab_print_table(FILE *file, const ab_report *report)
{
    static const char *const title[AB_CELLS] = {"benchmark", "metric", "before", "after", "data",
                                                "change [interval]", "verdict"};
    ab_line line;
    size_t  width[AB_CELLS], i;
    int     k, column, ranges = 0;

    for (column = 0; column < AB_CELLS; column++)
        width[column] = column == CELL_METRIC && report->plan.rules < 2 ? 0 : strlen(title[column]);
    for (i = 0; i < report->n; i++)
        for (k = 0; k < (report->row[i].missing ? 1 : report->plan.rules); k++) {
            ab_cells_(report, &report->row[i], k, &line);
            ranges |= strchr(line.cell[CELL_BEFORE].s, '~') || strchr(line.cell[CELL_AFTER].s, '~');
            ab_widen_(&line, width);
        }
    for (k = 0; k < report->plan.rules && ab_mean_cells_(report, k, &line); k++)
        ab_widen_(&line, width);
    ab_print_head_(file, report);
    for (column = 0; column < AB_CELLS; column++)
        snprintf(line.cell[column].s, sizeof line.cell[column].s, "%s", title[column]);
    ab_print_line_(file, &line, width);
    for (i = 0; i < report->n; i++) {
        const ab_row *row = &report->row[i];
        for (k = 0; k < (row->missing ? 1 : report->plan.rules); k++) {
            ab_cells_(report, row, k, &line);
            ab_print_line_(file, &line, width);
        }
        if (report->plan.rules > 1 && !row->missing) {
            memset(&line, 0, sizeof line);
            snprintf(line.cell[CELL_METRIC].s, sizeof line.cell[0].s, "all");
            snprintf(line.cell[CELL_VERDICT].s, sizeof line.cell[0].s,
                     row->alone != row->family ? "%s (alone %s)" : "%s",
                     perf_decision_text(row->family), perf_decision_text(row->alone));
            ab_print_line_(file, &line, width);
        }
    }
    for (k = 0; k < report->plan.rules && ab_mean_cells_(report, k, &line); k++)
        ab_print_line_(file, &line, width);
    if (ranges)
        fputs("  ~: half the range; an interval takes more values\n", file);
    if (report->usages)
        ab_print_usage_(file, report);
    ab_print_between_(file, report);
    if (report->plot)
        ab_print_forest_(file, report);
    ab_print_tail_(file, report);
}

/* ---- JSON ---- */

PERF_FN void ab_json_member_(FILE *file, const char *key, double x, const char *after)
{
    fprintf(file, "\"%s\": ", key);
    ab_print_json_number(file, x);
    fputs(after, file);
}

PERF_FN void ab_json_interval_(FILE *file, const char *key, perf_interval interval,
                               const char *after)
{
    fprintf(file, "\"%s\": {", key);
    ab_json_member_(file, "low", interval.low, ", ");
    ab_json_member_(file, "estimate", interval.estimate, ", ");
    ab_json_member_(file, "high", interval.high, "}");
    fputs(after, file);
}

PERF_FN void ab_json_rule_(FILE *file, const ab_report *report, const ab_data *data, int k)
{
    ab_text text = ab_rule_text(&report->plan.rule[k]), how = ab_how_text(data);

    fputs("\n        {\"rule\": ", file);
    ab_print_json(file, text.s);
    fprintf(file, ", \"metric\": \"%s\", ", ab_metric_name(report->plan.rule[k].metric));
    ab_json_member_(file, "threshold", data->v.threshold, ", ");
    fprintf(file, "\"data\": \"%s\",\n         ", how.s);
    ab_json_member_(file, "before", ab_shown(data, 0), ", ");
    ab_json_member_(file, "after", ab_shown(data, 1), ", ");
    ab_json_interval_(file, "ratio", data->v.ratio, ",\n         ");
    ab_json_interval_(file, "speedup", data->v.speedup, ", ");
    ab_json_member_(file, "min_detectable_change", data->v.min_detectable_change, ", ");
    ab_json_member_(file, "pairs_needed", data->v.pairs_needed, ",\n         ");
    fprintf(file, "\"decision\": \"%s\", \"reason\": ", perf_decision_text(data->v.decision));
    ab_print_json(file, data->v.reason);
    putc('}', file);
}

/* The geometric mean for each rule, and what commands took. */
PERF_FN void ab_print_more_json_(FILE *file, const ab_report *report)
{
    static const char *const key[] = {"wall_ns", "user_ns", "system_ns", "memory_bytes"};
    ab_data data;
    size_t  i;
    int     k;

    for (k = 0; k < report->plan.rules && ab_geometric_mean(report, k, &data); k++) {
        fputs(k ? ", {" : ",\n  \"geometric_mean\": [{", file);
        ab_json_interval_(file, "ratio", data.v.ratio, "}");
    }
    if (k)
        putc(']', file);
    for (i = 0; i < report->usages; i++) {
        const ab_usage *usage = &report->usage[i];
        fputs(i ? ",\n    {\"command\": " : ",\n  \"commands\": [\n    {\"command\": ", file);
        ab_print_json(file, usage->name);
        fprintf(file, ", \"runs\": %zu, \"failed\": %zu", usage->runs, usage->failed);
        for (k = 0; k < 4; k++) {
            fputs(", ", file);
            ab_json_member_(file, key[k], usage->median[k], "");
        }
        if (usage->between.values) {
            fprintf(file, ", \"values\": %zu, ", usage->between.values);
            ab_json_member_(file, "sd_between_runs", perf_sqrt_(usage->between.runs), ", ");
            ab_json_member_(file, "sd_within_run", perf_sqrt_(usage->between.within), ", ");
            ab_json_member_(file, "best_values_a_run", usage->between.best, "");
        }
        putc('}', file);
    }
    if (report->usages)
        fputs("\n  ]", file);
    if (report->fresh)
        fprintf(file, ",\n  \"only_in_after\": %zu", report->fresh);
    for (i = 0; i < report->about.notes; i++) {
        const ab_note *note = &report->about.note[i];
        fputs(i ? ",\n    {\"where\": " : ",\n  \"not_used\": [\n    {\"where\": ", file);
        ab_print_json(file, note->where);
        fputs(", \"what\": ", file);
        ab_print_json(file, note->what);
        fprintf(file, ", \"count\": %zu}", note->count);
    }
    if (report->about.notes)
        fputs("\n  ]", file);
}

PERF_FN void ab_print_report_json(FILE *file, const ab_report *report)
{
    size_t i;
    int    k;

    fputs("{\n  \"perf_ab\": 1,\n  \"before\": ", file);
    ab_print_json(file, report->name[0]);
    fputs(",\n  \"after\": ", file);
    ab_print_json(file, report->name[1]);
    fputs(",\n  ", file);
    ab_json_member_(file, "confidence", report->plan.confidence, ",\n  ");
    fprintf(file, "\"decision\": \"%s\",\n  \"status\": %d,\n  \"benchmarks\": [",
            perf_decision_text(report->decision), ab_status(report));
    for (i = 0; i < report->n; i++) {
        const ab_row *row = &report->row[i];
        fprintf(file, "%s\n    {\"name\": ", i ? "," : "");
        ab_print_json(file, row->name);
        fputs(", \"unit\": ", file);
        ab_print_json(file, row->missing ? "" : row->d[0].unit);
        fprintf(file, ", \"decision\": \"%s\", \"alone\": \"%s\", ",
                perf_decision_text(row->family), perf_decision_text(row->alone));
        ab_json_member_(file, "p", report->judged > 1 ? row->p : PERF_NAN_, ", ");
        ab_json_member_(file, "p_holm", report->judged > 1 ? row->holm : PERF_NAN_, ",\n     ");
        fputs("\"settle\": ", file);
        ab_print_json(file, row->settle);
        fputs(",\n     \"rules\": [", file);
        for (k = 0; k < report->plan.rules && !row->missing; k++) {
            if (k)
                putc(',', file);
            ab_json_rule_(file, report, &row->d[k], k);
        }
        fputs("]}", file);
    }
    fputs("\n  ]", file);
    ab_print_more_json_(file, report);
    fputs("\n}\n", file);
}

/* ---- CSV ---- */

/* A text as a cell.  A spreadsheet would run one that begins with = + - @ as a formula: an
 * apostrophe before it says that it is text.  Control characters become '?'.  A line that begins
 * with # is a comment, but not with "#, and blanks around a text count in quotes alone.          */
PERF_FN void ab_csv_text_(FILE *file, const char *text)
{
    const int formula = *text && strchr("=+-@", *text) != NULL;
    const int quoted = strpbrk(text, ",\"\r\n") != NULL || *text == '#' || *text == ' ' ||
                       (*text && text[strlen(text) - 1] == ' ');
    size_t    n;
    int       safe;

    if (quoted)
        putc('"', file);
    if (formula)
        putc('\'', file);
    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (*text == '"')
            putc('"', file);
        if (safe)
            fwrite(text, 1, n, file);
        else
            putc('?', file);
    }
    if (quoted)
        putc('"', file);
}

PERF_FN void ab_csv_number_(FILE *file, double x)
{
    if (perf_is_finite_(x))
        fprintf(file, ",%.10g", x);
    else
        putc(',', file);                            /* no bound, no number                        */
}

PERF_FN void ab_print_csv(FILE *file, const ab_report *report)
{
    size_t i;
    int    k;

    fputs("name,unit,rule,before,after,ratio,ratio_low,ratio_high,verdict,rule_verdict,p_holm,"
          "pairs_needed,settle\n",
          file);
    for (i = 0; i < report->n; i++)
        for (k = 0; k < report->plan.rules; k++) {
            const ab_row  *row = &report->row[i];
            const ab_data *data = &row->d[k];
            ab_text        text = ab_rule_text(&report->plan.rule[k]);
            if (row->missing && k)
                break;
            ab_csv_text_(file, row->name);
            putc(',', file);
            ab_csv_text_(file, row->missing ? "" : data->unit);
            putc(',', file);
            ab_csv_text_(file, text.s);
            if (row->missing) {
                fputs(",,,,,", file);
            } else {
                ab_csv_number_(file, ab_shown(data, 0));
                ab_csv_number_(file, ab_shown(data, 1));
                ab_csv_number_(file, data->v.ratio.estimate);
                ab_csv_number_(file, data->v.ratio.low);
                ab_csv_number_(file, data->v.ratio.high);
            }
            fprintf(file, ",%s,%s", perf_decision_text(row->family),
                    perf_decision_text(row->missing ? row->alone : data->v.decision));
            ab_csv_number_(file, report->judged > 1 ? row->holm : PERF_NAN_);
            ab_csv_number_(file, row->missing ? PERF_NAN_ : data->v.pairs_needed);
            putc(',', file);
            ab_csv_text_(file, row->settle);
            putc('\n', file);
        }
}

/* ---- Markdown, for pull requests ---- */

PERF_FN void ab_markdown_text_(FILE *file, const char *text)
{
    size_t n;
    int    safe;

    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (!safe) {
            putc(n == 1 && (unsigned char)*text < ' ' ? ' ' : '?', file);
            continue;
        }
        if (*text == '&') {
            fputs("&amp;", file);
            continue;
        }
        if (strchr("|\\`*_<>[]", *text))
            putc('\\', file);
        fwrite(text, 1, n, file);
    }
}

/* What is not used, as a list below the table. */
PERF_FN void ab_markdown_notes_(FILE *file, const ab_report *report)
{
    size_t i;

    if (report->fresh)
        fprintf(file, "\n%zu only in B, not judged.\n", report->fresh);
    for (i = 0; i < report->about.notes; i++) {
        fputs(i ? "- " : "\nNot used, or odd:\n\n- ", file);
        ab_markdown_text_(file, report->about.note[i].where);
        fputs(": ", file);
        ab_markdown_text_(file, report->about.note[i].what);
        fprintf(file, " (%zu)\n", report->about.note[i].count);
    }
}

PERF_FN void ab_print_markdown(FILE *file, const ab_report *report)
{
    ab_line line;
    size_t  i;
    int     k;

    fprintf(file, "**%s**", perf_decision_text(report->decision));
    for (k = 0; k < report->plan.rules; k++) {
        ab_text text = ab_rule_text(&report->plan.rule[k]);
        fputs(k ? " AND " : " (asked: ", file);
        ab_markdown_text_(file, text.s);
    }
    fputs("), before: ", file);
    ab_markdown_text_(file, report->name[0]);
    fputs(", after: ", file);
    ab_markdown_text_(file, report->name[1]);
    fprintf(file,
            "\n\n| benchmark |%s before | after | data | change [%g %% interval] | verdict | to "
            "settle it |\n"
            "|---|%s---:|---:|---:|---|---|---|\n",
            report->plan.rules > 1 ? " metric |" : "", report->plan.confidence * 100.0,
            report->plan.rules > 1 ? "---|" : "");
    for (i = 0; i < report->n; i++)
        for (k = 0; k < (report->row[i].missing ? 1 : report->plan.rules); k++) {
            ab_cells_(report, &report->row[i], k, &line);
            fputs("| ", file);
            ab_markdown_text_(file, k ? "" : ab_shown_name(&report->row[i]));
            if (report->plan.rules > 1) {
                fputs(" | ", file);
                ab_markdown_text_(file, line.cell[CELL_METRIC].s);
            }
            fputs(" | ", file);
            ab_markdown_text_(file, line.cell[CELL_BEFORE].s);
            fputs(" | ", file);
            ab_markdown_text_(file, line.cell[CELL_AFTER].s);
            fprintf(file, " | %s | ", line.cell[CELL_DATA].s); /* our own words                   */
            ab_markdown_text_(file, line.cell[CELL_CHANGE].s);
            fprintf(file, " | %s | ", line.cell[CELL_VERDICT].s);
            ab_markdown_text_(file, k ? "" : report->row[i].settle);
            fputs(" |\n", file);
        }
    for (k = 0; k < report->plan.rules && ab_mean_cells_(report, k, &line); k++) {
        fprintf(file, "| %s |%s%s%s ", line.cell[CELL_NAME].s, report->plan.rules > 1 ? " " : "",
                line.cell[CELL_METRIC].s, report->plan.rules > 1 ? " |" : "");
        ab_markdown_text_(file, line.cell[CELL_BEFORE].s);
        fputs(" | ", file);
        ab_markdown_text_(file, line.cell[CELL_AFTER].s);
        fprintf(file, " | %s | %s | | |\n", line.cell[CELL_DATA].s, line.cell[CELL_CHANGE].s);
    }
    ab_markdown_notes_(file, report);
}

/* ---- measurements as perf_results, which read.h reads ---- */

/* PERF_LEVEL_... of perf_saved.h as files say it. */
static const char ab_level[][10] = {"normal", "rejected", "past", "undecided"};

PERF_FN void ab_print_list_(FILE *file, const char *key, const ab_series *series,
                            const ab_values *values)
{
    size_t i;

    fprintf(file, "\n     \"%s\": [", key);
    for (i = 0; i < values->n; i++) {
        if (i)
            fputs(i % 8 ? ", " : ",\n       ", file);
        ab_print_json_number(file, ab_is_zero(series, values->x[i]) ? 0.0 : values->x[i]);
    }
    putc(']', file);
}

/* A results file, open for more members behind "benchmarks". */
PERF_FN void ab_print_results_begin(FILE *file, const ab_set *set)
{
    static const char *const design[] = {"separate", "random", "pairs"};
    size_t i, k, entries = 0;

    fputs("{\n  \"perf_results\": 1,\n  \"benchmarks\": [", file);
    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs; k++) {
            const ab_series *series = &set->s[i];
            const ab_run    *run = &series->run[k];
            fprintf(file, "%s\n    {\"name\": ", entries++ ? "," : "");
            ab_print_json(file, series->name);
            fputs(", \"unit\": ", file);
            ab_print_json(file, series->unit);
            if (run->id) {
                fputs(", \"run\": ", file);
                ab_print_json(file, run->id);
            }
            if (run->level)
                fprintf(file, ", \"level\": \"%s\"", ab_level[run->level]);
            if (series->failed && !k)
                fprintf(file, ", \"failed\": %zu", series->failed);
            if (series->step > 0.0) {
                fputs(", ", file);
                ab_json_member_(file, "step", series->step, "");
            }
            fprintf(file, ", \"design\": \"%s\",",
                    ab_is_same_order(series) ? "separate" : design[series->design]);
            if (series->design == AB_PAIRS) {
                ab_print_list_(file, "baseline", series, &run->v[0]);
                putc(',', file);
                ab_print_list_(file, "candidate", series, &run->v[1]);
            } else {
                ab_print_list_(file, "samples", series, &run->v[0]);
            }
            putc('}', file);
        }
    fputs("\n  ]", file);
}

PERF_FN void ab_print_results(FILE *file, const ab_set *set)
{
    ab_print_results_begin(file, set);
    fputs("\n}\n", file);
}

#endif
