/* history.h - perf-ab history: the medians of many runs, one line a benchmark and machine.
 *
 *     perf-ab history baseline.json                    runs of one file
 *     perf-ab history night-*.json --html page.html    or of many, in the order of time
 *
 * Where a history changed for good is found by change.h.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_HISTORY_H
#define PERF_TOOLS_HISTORY_H

#include "change.h"
#include "import.h"
#include "judge.h"
#include "page.h"
#include "read.h"
#include "say.h"
#include "write.h"

enum { HISTORY_POINTS = 40 };           /* of a curve in a terminal                               */

typedef struct history_point {
    double        time, median;         /* time: seconds since the epoch; 0: not known            */
    double        low, high;            /* 95 % interval of the median; both 0: too few values    */
    const ab_run *run;
    size_t        number;               /* its place in the files                                 */
} history_point;

typedef struct history_row {            /* one benchmark on one machine                           */
    const ab_series *s;
    const char      *machine;           /* "": not known                                          */
    history_point   *point;             /* in the order of time                                   */
    size_t           n;
    double           change;            /* last median over that of the runs before it            */
    changes          changes;
} history_row;

typedef struct history {
    ab_set       set;
    history_row *row;
    size_t       n, machines;           /* machines: different ones                               */
    const char **file;
    size_t       files;
    import_list  found;                 /* the files, and those of the folders                    */
    const char  *json, *html, *markdown;        /* where they go; NULL: nowhere                   */
    const char  *accept;                /* of --accept-change; NULL: none                         */
} history;

PERF_FN const char *history_machine(const ab_run *run)
{
    return run->machine ? run->machine : "";
}

PERF_FN int history_by_time(const void *a_, const void *b_)
{
    const history_point *one = (const history_point *)a_, *other = (const history_point *)b_;

    if (one->time > other->time)
        return 1;
    if (one->time < other->time)
        return -1;
    return (one->number > other->number) - (one->number < other->number);
}

/* How much a row has changed: its largest change point; without one, its last run. */
PERF_FN double history_size(const history_row *row)
{
    double size = 0.0, one;
    size_t i;

    if (!row->changes.n)
        return ab_abs(perf_log_(row->change));
    for (i = 0; i < row->changes.n; i++) {
        one = ab_abs(perf_log_(row->changes.point[i].ratio));
        size = one > size ? one : size;
    }
    return size;
}

/* What changed for good comes first, then what changed most. */
PERF_FN int history_by_change(const void *a_, const void *b_)
{
    const history_row *one = (const history_row *)a_, *other = (const history_row *)b_;
    const double       by_one = history_size(one), by_other = history_size(other);
    const int          one_lasts = one->changes.n != 0, other_lasts = other->changes.n != 0;

    if (one_lasts != other_lasts)
        return other_lasts - one_lasts;
    if (by_one > by_other)
        return -1;
    return by_one < by_other;
}

/* The last median over the median of those before; 1 where there are none. */
PERF_FN double history_change(const history_row *row)
{
    double *before = (double *)ab_grow(NULL, row->n, sizeof *before), change = 1.0;
    size_t  i;

    for (i = 0; i + 1 < row->n; i++)
        before[i] = row->point[i].median;
    if (row->n > 1)
        change = row->point[row->n - 1].median / ab_statistic(before, row->n - 1, PERF_METRIC_P50);
    free(before);
    return change;
}

/* The 95 % interval of a run's median; none for fewer than six values. */
PERF_FN void history_interval(history_point *point, const ab_values *values)
{
    double       *sorted;
    perf_interval of;

    point->low = point->high = 0.0;
    if (values->n < 6)
        return;
    sorted = (double *)ab_grow(NULL, values->n, sizeof *sorted);
    memcpy(sorted, values->x, values->n * sizeof *sorted);
    perf_sort_values_(sorted, values->n);
    of = perf_quantile_interval_(sorted, values->n, 0.5, 0.95);
    if (perf_is_finite_(of.low) && perf_is_finite_(of.high)) {
        point->low = of.low;
        point->high = of.high;
    }
    free(sorted);
}

/* Where the medians changed for good. */
PERF_FN changes history_changes(const history_row *row)
{
    double *x = (double *)ab_grow(NULL, row->n, sizeof *x);
    changes found;
    size_t  i;

    for (i = 0; i < row->n; i++)
        x[i] = row->point[i].median;
    found = changes_of(x, row->n);
    free(x);
    return found;
}

/* The runs of a benchmark on that machine, in the order of time if all say it. */
PERF_FN void history_collect(history_row *row, const ab_series *series, const char *machine)
{
    const int side = series->design == AB_PAIRS;    /* of pairs the candidate is the new one      */
    size_t    i;
    int       dated = 1;

    row->s = series;
    row->machine = machine;
    row->n = 0;
    row->point = (history_point *)ab_grow(NULL, series->runs, sizeof *row->point);
    for (i = 0; i < series->runs; i++) {
        const ab_run *run = &series->run[i];
        history_point point;
        if (strcmp(history_machine(run), machine) != 0 || !run->v[side].n)
            continue;
        point.time = run->time;
        point.median = ab_statistic(run->v[side].x, run->v[side].n, PERF_METRIC_P50);
        point.run = run;
        history_interval(&point, &run->v[side]);
        point.number = i;
        dated &= point.time > 0.0;
        row->point[row->n++] = point;
    }
    if (dated && row->n)
        qsort(row->point, row->n, sizeof *row->point, history_by_time);
    row->change = history_change(row);
    row->changes = history_changes(row);
}

/* A row for each machine of each benchmark. */
PERF_FN void history_rows(history *past)
{
    ab_set machines, of_one;            /* machines as names: all, those of one benchmark         */
    size_t i, k, cap = 0;

    memset(&machines, 0, sizeof machines);
    for (i = 0; i < past->set.n; i++) {
        const ab_series *series = &past->set.s[i];
        memset(&of_one, 0, sizeof of_one);
        for (k = 0; k < series->runs; k++) {
            const char *machine = history_machine(&series->run[k]);
            ab_series_of(&machines, machine);
            if (ab_find(&of_one, machine))
                continue;
            ab_series_of(&of_one, machine);
            if (past->n == cap) {
                cap = cap * 2 + 8;
                past->row = (history_row *)ab_grow(past->row, cap, sizeof *past->row);
            }
            history_collect(&past->row[past->n++], series, machine);
        }
        ab_set_free(&of_one);
    }
    past->machines = machines.n;
    ab_set_free(&machines);
    if (past->n)
        qsort(past->row, past->n, sizeof *past->row, history_by_change);
}

/* ---- a terminal ---- */

PERF_FN int history_speaks_utf8(void)
{
    const char *text = getenv("LC_ALL");

    text = text && *text ? text : getenv("LC_CTYPE");
    text = text && *text ? text : getenv("LANG");
    return text && (strstr(text, "UTF-8") || strstr(text, "utf8") || strstr(text, "UTF8"));
}

/* The medians as a curve of at most HISTORY_POINTS characters, the last one being the last run. */
PERF_FN void history_curve(FILE *file, const history_row *row, int utf8)
{
    static const char *const bar[] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
                                      "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
                                      "\xe2\x96\x87", "\xe2\x96\x88"};
    static const char ascii[] = "_.-:=+*#";
    const size_t      points = row->n < HISTORY_POINTS ? row->n : HISTORY_POINTS;
    double            low = PERF_INF_, high = 0.0, x;
    size_t            i, at;
    int               level;

    for (i = 0; i < row->n; i++) {
        low = row->point[i].median < low ? row->point[i].median : low;
        high = row->point[i].median > high ? row->point[i].median : high;
    }
    for (i = 0; i < points; i++) {
        at = (i + 1) * row->n / points - 1;
        x = high > low * 1.001 ? (row->point[at].median - low) / (high - low) : 0.5;
        level = (int)(x * 7.0 + 0.5);
        if (utf8)
            fputs(bar[level], file);
        else
            putc(ascii[level], file);
    }
}

/* 1: somebody has accepted the change: the runs before it are marked as past. */
PERF_FN int history_accepted(const history_row *row, size_t k)
{
    return row->point[row->changes.point[k].at - 1].run->level == PERF_LEVEL_PAST_;
}

/* "+12.0 % since run 31 of 60 (1f3a9c, 2026-11-25)". */
PERF_FN ab_text history_since(const history_row *row, size_t k)
{
    const change_point  *change = &row->changes.point[k];
    const history_point *point = &row->point[change->at];
    const ab_text        size = ab_effect_number_(change->ratio, 0, 1);
    const char          *label = point->run->label ? point->run->label : "";
    const time_t         when = (time_t)point->time;
    char                 date[24] = "", words[64] = "";
    ab_text              text;

    if (point->time > 0.0 && point->time < 2e11 &&
        !strftime(date, sizeof date, "%Y-%m-%d", gmtime(&when)))
        *date = '\0';
    if (*label || *date)
        snprintf(words, sizeof words, " (%.40s%s%s)", label, *label && *date ? ", " : "", date);
    snprintf(text.s, sizeof text.s, "%.40s since run %zu of %zu%s%s", size.s, change->at + 1,
             row->n, words, history_accepted(row, k) ? ", accepted" : "");
    return text;
}

PERF_FN void history_print_changes(FILE *file, const history *past)
{
    size_t  i, k, some = 0;
    ab_text since;

    for (i = 0; i < past->n; i++)
        for (k = 0; k < past->row[i].changes.n; k++) {
            if (!some++)
                fputs("\n  changes that lasted, each against the level before:\n", file);
            fputs("    ", file);
            ab_print_name(file, past->row[i].s->name);
            since = history_since(&past->row[i], k);
            fputs(": ", file);
            ab_print_name(file, since.s);
            if (past->machines > 1) {
                fputs(", on ", file);
                ab_print_name(file, *past->row[i].machine ? past->row[i].machine : "(no machine)");
            }
            putc('\n', file);
        }
}

/* Rows with runs that have that mark: what is said of them, how many, the first, the end. */
PERF_FN void history_print_marked(FILE *file, const history *past, int level, const char *what,
                                  const char *end)
{
    size_t i, k, n, first;

    for (i = 0; i < past->n; i++) {
        const history_row *row = &past->row[i];
        n = first = 0;
        for (k = row->n; k > 0; k--)
            if (row->point[k - 1].run->level == level) {
                first = k;
                n++;
            }
        if (!n)
            continue;
        fprintf(file, "  %s: ", what);
        ab_print_name(file, row->s->name);
        fprintf(file, ", %zu run%s since run %zu of %zu%s\n", n, n == 1 ? "" : "s", first, row->n,
                end);
    }
}

PERF_FN void history_table(FILE *file, const history *past)
{
    const int utf8 = history_speaks_utf8();
    size_t    i, width = 9, w;

    for (i = 0; i < past->n; i++) {
        w = ab_width(past->row[i].s->name);
        width = w > width ? w : width;
    }
    width = width < 60 ? width : 60;
    fputs("  ", file);
    ab_print_column(file, "benchmark", width, width);
    fputs("   runs      first       last    change   medians, the last run on the right\n", file);
    for (i = 0; i < past->n; i++) {
        const history_row *row = &past->row[i];
        ab_text            first, last, change;
        if (!row->n)
            continue;
        first = ab_figure(row->s, row->point[0].median);
        last = ab_figure(row->s, row->point[row->n - 1].median);
        change = ab_effect_number_(row->change, 0, 1);
        fputs("  ", file);
        ab_print_column(file, row->s->name, width, width);
        fprintf(file, " %6zu %10s %10s %9s   ", row->n, first.s, last.s, change.s);
        history_curve(file, row, utf8);
        if (past->machines > 1) {
            fputs("  ", file);
            ab_print_name(file, *row->machine ? row->machine : "(no machine)");
        }
        putc('\n', file);
    }
    fputs("  change: the last run against the median of those before it; what changed most comes "
          "first\n", file);
    history_print_changes(file, past);
    history_print_marked(file, past, PERF_LEVEL_REJECTED_, "REJECTed and kept out of the baseline",
                         "; --accept-change takes them in");
    history_print_marked(file, past, PERF_LEVEL_UNDECIDED_, "not decided when they were saved", "");
}

/* ---- JSON ---- */

PERF_FN void history_json(FILE *file, const history *past)
{
    size_t i, k;

    fputs("{\n  \"perf_history\": 1,\n  \"benchmarks\": [", file);
    for (i = 0; i < past->n; i++) {
        const history_row *row = &past->row[i];
        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", file);
        ab_print_json(file, row->s->name);
        fputs(", \"unit\": ", file);
        ab_print_json(file, row->s->unit);
        fputs(", \"machine\": ", file);
        ab_print_json(file, row->machine);
        fputs(", ", file);
        ab_json_member_(file, "change", row->change, ",\n     \"changes\": [");
        for (k = 0; k < row->changes.n; k++) {
            fprintf(file, "%s{\"at\": %zu, ", k ? ", " : "", row->changes.point[k].at);
            ab_json_member_(file, "ratio", row->changes.point[k].ratio, ", ");
            fprintf(file, "\"creeps\": %s, \"accepted\": %s}",
                    row->changes.point[k].creeps ? "true" : "false",
                    history_accepted(row, k) ? "true" : "false");
        }
        fputs("],\n     \"runs\": [", file);
        for (k = 0; k < row->n; k++) {
            const history_point *point = &row->point[k];
            fputs(k ? ",\n       {\"run\": " : "\n       {\"run\": ", file);
            ab_print_json(file, point->run->id ? point->run->id : "");
            fputs(", ", file);
            if (point->run->label) {
                fputs("\"label\": ", file);
                ab_print_json(file, point->run->label);
                fputs(", ", file);
            }
            if (point->run->level)
                fprintf(file, "\"level\": \"%s\", ", ab_level[point->run->level]);
            ab_json_member_(file, "time", point->time > 0.0 ? point->time : PERF_NAN_, ", ");
            if (point->high > 0.0) {
                ab_json_member_(file, "low", point->low, ", ");
                ab_json_member_(file, "high", point->high, ", ");
            }
            ab_json_member_(file, "median",
                            ab_is_zero(row->s, point->median) ? 0.0 : point->median, "}");
        }
        fputs("]}", file);
    }
    fputs("\n  ]\n}\n", file);
}

/* ---- a page ---- */

enum { HISTORY_WIDE = 900, HISTORY_HIGH = 180, HISTORY_LEFT = 110, HISTORY_EDGE = 12 };

static const char history_style[] =
    "input{font:inherit;width:100%;box-sizing:border-box;padding:.4em;color:inherit;"
    "background:var(--bg);border:1px solid var(--line);border-radius:4px}"
    "svg{width:100%;height:auto;overflow:visible}section[hidden]{display:none}"
    ".run{fill:var(--a)}.rejected{fill:var(--bad)}"
    ".undecided{fill:none;stroke:var(--a)}.whisker{stroke:var(--a);stroke-opacity:.4}"
    ".level{stroke:var(--b);stroke-width:2}.cut{stroke:var(--bad);stroke-dasharray:4 3}"
    "@media(max-width:600px){body{margin:1em auto}svg text{font-size:25px}}\n";

/* The range of all medians and of what their intervals cover, with a margin. */
PERF_FN page_scale history_scale(const history_row *row)
{
    page_scale scale;
    size_t     i;
    double     margin;

    scale.low = scale.high = row->point[0].median;
    for (i = 0; i < row->n; i++) {
        scale.low = row->point[i].median < scale.low ? row->point[i].median : scale.low;
        scale.high = row->point[i].median > scale.high ? row->point[i].median : scale.high;
    }
    margin = 0.1 * (scale.high - scale.low);
    if (!(margin > 0.001 * scale.high))
        margin = 0.01 * scale.high;
    scale.low -= margin;
    scale.high += margin;
    scale.from = HISTORY_HIGH - 30;
    scale.to = HISTORY_EDGE;
    return scale;
}

/* The place of run i from left to right. */
PERF_FN double history_x(const history_row *row, double i)
{
    const double room = HISTORY_WIDE - HISTORY_LEFT - HISTORY_EDGE;

    return HISTORY_LEFT + (row->n > 1 ? i / (double)(row->n - 1) : 0.5) * room;
}

/* A line for each level, and one where the next begins. */
PERF_FN void history_levels(FILE *file, const history_row *row, const page_scale *scale)
{
    size_t i, k, begin = 0, end;

    for (k = 0; k <= row->changes.n; k++) {
        double *x = (double *)ab_grow(NULL, row->n, sizeof *x), y;
        end = k < row->changes.n ? row->changes.point[k].at : row->n;
        for (i = begin; i < end; i++)
            x[i - begin] = row->point[i].median;
        y = page_at_(scale, ab_statistic(x, end - begin, PERF_METRIC_P50));
        free(x);
        fprintf(file, "<line class=\"level\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                history_x(row, (double)begin), history_x(row, (double)end - 1), y, y);
        if (k < row->changes.n)
            fprintf(file, "<line class=\"cut\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
                    history_x(row, (double)end - 0.5), history_x(row, (double)end - 0.5),
                    HISTORY_EDGE, HISTORY_HIGH - 30);
        begin = end;
    }
}

/* The first or last date, or number of a run. */
PERF_FN void history_date(FILE *file, const history_row *row, size_t i, const char *anchor)
{
    const double time = row->point[i].time;
    const time_t when = (time_t)time;
    char         date[32] = "";

    if (!(time > 0.0 && time < 2e11) || !strftime(date, sizeof date, "%Y-%m-%d", gmtime(&when)))
        snprintf(date, sizeof date, "run %zu", i + 1);
    fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
            history_x(row, (double)i), HISTORY_HIGH - 8, anchor, date);
}

/* The runs as points, their intervals as lines, the levels between changes. */
PERF_FN void history_picture(FILE *file, const history_row *row)
{
    const page_scale scale = history_scale(row);
    ab_text          text;
    size_t           i;

    fprintf(file, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", HISTORY_WIDE, HISTORY_HIGH);
    page_text_(file, row->s->name);
    fputs("</title>\n", file);
    for (i = 0; i < 2; i++) {
        const double value = i ? scale.high : scale.low;
        text = ab_quantity(value, row->s->unit);
        fprintf(file, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", HISTORY_LEFT,
                HISTORY_WIDE - HISTORY_EDGE, page_at_(&scale, value), page_at_(&scale, value),
                HISTORY_LEFT - 6, page_at_(&scale, value) + 4.0);
        page_text_(file, text.s);
        fputs("</text>\n", file);
    }
    history_date(file, row, 0, "start");
    if (row->n > 1)
        history_date(file, row, row->n - 1, "end");
    history_levels(file, row, &scale);
    for (i = 0; i < row->n; i++) {
        const history_point *point = &row->point[i];
        const double         x = history_x(row, (double)i);
        if (point->high > 0.0)
            fprintf(file, "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                          "y2=\"%.1f\"/>", x, x, page_at_(&scale, point->low),
                    page_at_(&scale, point->high));
        text = ab_figure(row->s, point->median);
        fprintf(file, "<circle class=\"run %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>run %zu",
                ab_level[point->run->level], x,
                page_at_(&scale, point->median), i + 1);
        if (point->run->label && *point->run->label) {
            fputs(", ", file);
            page_text_(file, point->run->label);
        }
        fputs(": ", file);
        page_text_(file, text.s);
        fputs("</title></circle>\n", file);
    }
    fputs("</svg>\n", file);
}

PERF_FN void history_section(FILE *file, const history_row *row)
{
    ab_text text;
    size_t  k;

    fputs("<section><h2>", file);
    page_text_(file, row->s->name);
    fputs("</h2><p class=\"soft\">", file);
    page_text_(file, *row->machine ? row->machine : "machine not known");
    text = ab_figure(row->s, row->point[row->n - 1].median);
    fprintf(file, ", %zu runs, the last one ", row->n);
    page_text_(file, text.s);
    text = ab_effect_number_(row->change, 0, 1);
    fputs(", against those before ", file);
    page_text_(file, text.s);
    fputs("</p>\n", file);
    for (k = 0; k < row->changes.n; k++) {
        text = history_since(row, k);
        fputs("<p><b>", file);
        page_text_(file, text.s);
        fputs("</b></p>\n", file);
    }
    history_picture(file, row);
    fputs("</section>\n", file);
}

PERF_FN void history_page(FILE *file, const history *past)
{
    size_t i, changed = 0;

    for (i = 0; i < past->n; i++)
        changed += past->row[i].changes.n != 0;
    fputs("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><title>History</title><style>", file);
    fputs(page_style_, file);
    fputs(history_style, file);
    fprintf(file, "</style>\n<h1>%zu of %zu histories changed for good</h1>\n", changed, past->n);
    fputs("<p class=\"soft\">Points are medians of runs, thin lines their 95 % intervals, thick "
          "ones the levels between changes. A dashed line stands where a level begins.</p>\n"
          "<p><input id=\"filter\" placeholder=\"benchmark or machine\" "
          "aria-label=\"show what has this in its name\"></p>\n", file);
    for (i = 0; i < past->n; i++)
        if (past->row[i].n)
            history_section(file, &past->row[i]);
    fputs("<script>\n"
          "document.getElementById('filter').oninput=event=>{\n"
          "  const part=event.target.value.toLowerCase();\n"
          "  for(const s of document.querySelectorAll('section')){\n"
          "    const words=s.children[0].textContent+' '+s.children[1].textContent;\n"
          "    s.hidden=!words.toLowerCase().includes(part);\n"
          "  }\n"
          "};\n"
          "</script></html>\n", file);
}

/* ---- Markdown: a comment on a merge request ---- */

PERF_FN void history_markdown_row(FILE *file, const history_row *row)
{
    const ab_text change = ab_effect_number_(row->change, 0, 1);
    ab_text       text;
    size_t        k;

    fputs("| ", file);
    ab_markdown_text_(file, row->s->name);
    fputs(" | ", file);
    ab_markdown_text_(file, row->machine);
    fprintf(file, " | %zu | ", row->n);
    text = ab_figure(row->s, row->point[0].median);
    ab_markdown_text_(file, text.s);
    fputs(" | ", file);
    text = ab_figure(row->s, row->point[row->n - 1].median);
    ab_markdown_text_(file, text.s);
    fprintf(file, " | %s | ", change.s);
    for (k = 0; k < row->changes.n; k++) {
        text = history_since(row, k);
        fputs(k ? "; " : "", file);
        ab_markdown_text_(file, text.s);
    }
    fputs(" |\n", file);
}

PERF_FN void history_print_markdown(FILE *file, const history *past)
{
    size_t i, changed = 0;

    for (i = 0; i < past->n; i++)
        changed += past->row[i].changes.n != 0;
    fprintf(file, "**%zu of %zu histories changed for good**\n\n"
                  "| benchmark | machine | runs | first | last | last run | changes that lasted |\n"
                  "|---|---|---:|---:|---:|---:|---|\n", changed, past->n);
    for (i = 0; i < past->n; i++)
        if (past->row[i].n)
            history_markdown_row(file, &past->row[i]);
}

/* ---- the command ---- */

PERF_FN int history_options(history *past, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const char **value = NULL;
        if (!strcmp(argv[i], "--json"))
            value = &past->json;
        else if (!strcmp(argv[i], "--html"))
            value = &past->html;
        else if (!strcmp(argv[i], "--markdown"))
            value = &past->markdown;
        else if (!strcmp(argv[i], "--accept-change"))
            value = &past->accept;
        if (value && i + 1 < argc)
            *value = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option, or its value is missing:", argv[i]);
        else
            past->file[past->files++] = argv[i];
    }
    return past->files ? 0 : usage_error("a history of which files?", "");
}

/* Reads all files; each is a run, or holds several.  An exit status. */
PERF_FN int history_read(history *past)
{
    ab_read_opts opts;
    ab_set       one;
    ab_error     error;
    size_t       i;
    char         id[32];

    memset(&opts, 0, sizeof opts);
    memset(&one, 0, sizeof one);
    opts.every = 1;
    opts.run = id;
    for (i = 0; i < past->files; i++)
        if (!import_path(&past->found, past->file[i], 0))
            return usage_error("no results in the folder", past->file[i]);
    for (i = 0; i < past->found.n; i++) {
        const char *path = past->found.path[i];
        snprintf(id, sizeof id, "%zu", i + 1);
        if (import_file(&one, path, &opts, &error) < 0) {
            ab_set_free(&one);
            return unusable(&error);
        }
        say_left_out(&one, "shown");
        if (ab_absorb(&past->set, &one, i + 1, path, &error) < 0)
            return unusable(&error);
    }
    return 0;
}

/* One of the forms into a file, "-" being standard output; path NULL: not asked for. */
PERF_FN int history_save(const history *past, const char *path,
                         void (*write)(FILE *, const history *))
{
    perf_file_ out;

    if (!path)
        return 0;
    if (!strcmp(path, "-")) {
        write(stdout, past);
        return 0;
    }
    if (!ab_begin_file(&out, path))
        return unwritten(path);
    write(out.file, past);
    return ab_end_file(&out, path) ? unwritten(path) : 0;
}

/* Writes what is asked for.  An exit status. */
PERF_FN int history_write(const history *past)
{
    const char *const to[] = {past->json, past->html, past->markdown};
    int               status = would_replace(to, 3, (const char *const *)past->found.path,
                                             past->found.n);
    size_t            i, forms;

    if (status)
        return status;
    for (i = forms = 0; i < 3; i++)
        forms += to[i] && !strcmp(to[i], "-");
    if (!forms)
        history_table(stdout, past);
    status = history_save(past, past->json, history_json);
    if (!status)
        status = history_save(past, past->html, history_page);
    if (!status)
        status = history_save(past, past->markdown, history_print_markdown);
    return status ? status : written();
}

PERF_FN int accept_change(const history *past); /* accept.h */

PERF_FN int history_main(int argc, char **argv)
{
    history past;
    size_t  i;
    int     status;

    memset(&past, 0, sizeof past);
    past.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *past.file);
    status = history_options(&past, argc, argv);
    if (!status)
        status = history_read(&past);
    if (!status) {
        history_rows(&past);
        status = past.accept ? accept_change(&past) : history_write(&past);
    }
    for (i = 0; i < past.n; i++)
        free(past.row[i].point);
    free(past.row);
    import_free(&past.found);
    ab_set_free(&past.set);
    free(past.file);
    return status;
}

#endif
