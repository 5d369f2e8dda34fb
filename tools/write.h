/* write.h - the report as a table for people, JSON, CSV and Markdown.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_WRITE_H
#define PERF_TOOLS_WRITE_H

#include "judge.h"

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

PERF_FN void ab_cells_(const ab_report *r, const ab_row *row, int k, ab_line *l)
{
    const ab_data *d = &row->d[k];

    memset(l, 0, sizeof *l);
    if (k == 0)
        snprintf(l->cell[CELL_NAME].s, sizeof l->cell[0].s, "%.120s", ab_shown_name(row));
    if (row->missing) {
        snprintf(l->cell[row->missing[0] == 'A' ? CELL_BEFORE : CELL_AFTER].s, sizeof l->cell[0].s,
                 "missing");
        snprintf(l->cell[CELL_VERDICT].s, sizeof l->cell[0].s, "%s",
                 perf_decision_text(row->family));
        return;
    }
    if (r->plan.rules > 1)
        snprintf(l->cell[CELL_METRIC].s, sizeof l->cell[0].s, "%s",
                 ab_metric_name(r->plan.rule[k].metric));
    l->cell[CELL_BEFORE] = ab_quantity(d->shown[0], d->unit);
    l->cell[CELL_AFTER] = ab_quantity(d->shown[1], d->unit);
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

    for (i = 0; i < AB_CELLS; i++) {
        if (!width[i])
            continue;
        fputs("  ", f);
        if (i == AB_CELLS - 1)
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
    fprintf(f, "; %g %% intervals\n\n", r->plan.confidence * 100.0);
}

/* Each reason once, behind the names it holds for (at most three of them). */
PERF_FN void ab_print_reasons_(FILE *f, const ab_report *r)
{
    size_t i, k, same;

    fputs("to settle it:\n", f);
    for (i = 0; i < r->n; i++) {
        const char *settle = r->row[i].settle;
        for (k = 0; *settle && k < i && strcmp(r->row[k].settle, settle) != 0; k++)
            continue;
        if (!*settle || k < i)
            continue;
        fputs("  ", f);
        for (k = i, same = 0; k < r->n; k++)
            if (!strcmp(r->row[k].settle, settle) && same++ < 3) {
                fputs(same > 1 ? ", " : "", f);
                ab_print_name(f, ab_shown_name(&r->row[k]));
            }
        if (same > 3)
            fprintf(f, " and %zu more", same - 3);
        fprintf(f, ": %s\n", settle);
    }
}

PERF_FN void ab_print_tail_(FILE *f, const ab_report *r)
{
    fprintf(f, "\n%s: %zu benchmark%s, %zu ACCEPT, %zu REJECT, %zu INCONCLUSIVE",
            perf_decision_text(r->decision), r->n, r->n == 1 ? "" : "s", r->count[PERF_ACCEPT],
            r->count[PERF_REJECT], r->count[PERF_INCONCLUSIVE]);
    if (r->judged > 1)
        fprintf(f, " (Holm over %zu)", r->judged);
    if (r->fresh)
        fprintf(f, "; %zu only in B, not judged", r->fresh);
    putc('\n', f);
    if (r->n == 1 && *r->row[0].settle)
        fprintf(f, "to settle it: %s\n", r->row[0].settle);
    else if (r->count[PERF_INCONCLUSIVE])
        ab_print_reasons_(f, r);
}

PERF_FN void ab_print_table(FILE *f, const ab_report *r)
{
    static const char *const title[AB_CELLS] = {"benchmark", "metric", "before", "after", "data",
                                                "change [interval]", "verdict"};
    ab_line l;
    size_t  width[AB_CELLS], i, w;
    int     k, c;

    for (c = 0; c < AB_CELLS; c++)
        width[c] = c == CELL_METRIC && r->plan.rules < 2 ? 0 : strlen(title[c]);
    for (i = 0; i < r->n; i++)
        for (k = 0; k < (r->row[i].missing ? 1 : r->plan.rules); k++) {
            ab_cells_(r, &r->row[i], k, &l);
            for (c = 0; c < AB_CELLS; c++)
                if (width[c] && (w = ab_width(l.cell[c].s)) > width[c])
                    width[c] = w;
        }
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
    ab_json_member_(f, "mde", d->v.mde, ", ");
    ab_json_member_(f, "more", d->v.more, ",\n         ");
    fprintf(f, "\"decision\": \"%s\", \"reason\": ", perf_decision_text(d->v.decision));
    ab_print_json(f, d->v.reason);
    putc('}', f);
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
    fputs("\n  ]\n}\n", f);
}

/* ---- CSV ---- */

PERF_FN void ab_csv_text_(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"')
            putc('"', f);
        putc(*s, f);
    }
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

    fputs("name,unit,rule,before,after,ratio,ratio_low,ratio_high,verdict,rule_verdict,p_holm,more,"
          "settle\n",
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
            ab_csv_number_(f, row->missing ? PERF_NAN_ : d->v.more);
            putc(',', f);
            ab_csv_text_(f, row->settle);
            putc('\n', f);
        }
}

/* ---- Markdown, for pull requests ---- */

PERF_FN void ab_markdown_text_(FILE *f, const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s < ' ') {
            putc(' ', f);
            continue;
        }
        if (strchr("|\\`*_<>[]", *s))
            putc('\\', f);
        putc(*s, f);
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
            ab_markdown_text_(f, l.cell[CELL_NAME].s);
            if (r->plan.rules > 1) {
                fputs(" | ", f);
                ab_markdown_text_(f, l.cell[CELL_METRIC].s);
            }
            fprintf(f, " | %s | %s | %s | ", l.cell[CELL_BEFORE].s, l.cell[CELL_AFTER].s,
                    l.cell[CELL_DATA].s);
            ab_markdown_text_(f, l.cell[CELL_CHANGE].s);
            fprintf(f, " | %s | ", l.cell[CELL_VERDICT].s);
            ab_markdown_text_(f, k ? "" : r->row[i].settle);
            fputs(" |\n", f);
        }
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
