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
    const history_point *a = (const history_point *)a_, *b = (const history_point *)b_;

    if (a->time > b->time)
        return 1;
    if (a->time < b->time)
        return -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* How much a row has changed: its largest change point; without one, its last run. */
PERF_FN double history_size(const history_row *r)
{
    double size = 0.0, one;
    size_t i;

    if (!r->changes.n)
        return ab_abs(perf_log_(r->change));
    for (i = 0; i < r->changes.n; i++) {
        one = ab_abs(perf_log_(r->changes.point[i].ratio));
        size = one > size ? one : size;
    }
    return size;
}

/* What changed for good comes first, then what changed most. */
PERF_FN int history_by_change(const void *a_, const void *b_)
{
    const history_row *a = (const history_row *)a_, *b = (const history_row *)b_;
    const double       of_a = history_size(a), of_b = history_size(b);
    const int          good_a = a->changes.n != 0, good_b = b->changes.n != 0;

    if (good_a != good_b)
        return good_b - good_a;
    if (of_a > of_b)
        return -1;
    return of_a < of_b;
}

/* The last median over the median of those before; 1 where there are none. */
PERF_FN double history_change(const history_row *r)
{
    double *before = (double *)ab_grow(NULL, r->n, sizeof *before), change = 1.0;
    size_t  i;

    for (i = 0; i + 1 < r->n; i++)
        before[i] = r->point[i].median;
    if (r->n > 1)
        change = r->point[r->n - 1].median / ab_statistic(before, r->n - 1, PERF_METRIC_P50);
    free(before);
    return change;
}

/* The 95 % interval of a run's median; none for fewer than six values. */
PERF_FN void history_interval(history_point *p, const ab_values *v)
{
    double       *sorted;
    perf_interval of;

    p->low = p->high = 0.0;
    if (v->n < 6)
        return;
    sorted = (double *)ab_grow(NULL, v->n, sizeof *sorted);
    memcpy(sorted, v->x, v->n * sizeof *sorted);
    perf_sort_values_(sorted, v->n);
    of = perf_quantile_interval_(sorted, v->n, 0.5, 0.95);
    if (perf_is_finite_(of.low) && perf_is_finite_(of.high)) {
        p->low = of.low;
        p->high = of.high;
    }
    free(sorted);
}

/* Where the medians changed for good. */
PERF_FN changes history_changes(const history_row *r)
{
    double *x = (double *)ab_grow(NULL, r->n, sizeof *x);
    changes found;
    size_t  i;

    for (i = 0; i < r->n; i++)
        x[i] = r->point[i].median;
    found = changes_of(x, r->n);
    free(x);
    return found;
}

/* The runs of a benchmark on that machine, in the order of time if all say it. */
PERF_FN void history_collect(history_row *r, const ab_series *s, const char *machine)
{
    const int side = s->design == AB_PAIRS;         /* of pairs the candidate is the new one      */
    size_t    i;
    int       dated = 1;

    r->s = s;
    r->machine = machine;
    r->n = 0;
    r->point = (history_point *)ab_grow(NULL, s->runs, sizeof *r->point);
    for (i = 0; i < s->runs; i++) {
        const ab_run *run = &s->run[i];
        history_point p;
        if (strcmp(history_machine(run), machine) != 0 || !run->v[side].n)
            continue;
        p.time = run->time;
        p.median = ab_statistic(run->v[side].x, run->v[side].n, PERF_METRIC_P50);
        p.run = run;
        history_interval(&p, &run->v[side]);
        p.number = i;
        dated &= p.time > 0.0;
        r->point[r->n++] = p;
    }
    if (dated && r->n)
        qsort(r->point, r->n, sizeof *r->point, history_by_time);
    r->change = history_change(r);
    r->changes = history_changes(r);
}

/* A row for each machine of each benchmark. */
PERF_FN void history_rows(history *h)
{
    ab_set machines, of_one;            /* machines as names: all, those of one benchmark         */
    size_t i, k, cap = 0;

    memset(&machines, 0, sizeof machines);
    for (i = 0; i < h->set.n; i++) {
        const ab_series *s = &h->set.s[i];
        memset(&of_one, 0, sizeof of_one);
        for (k = 0; k < s->runs; k++) {
            const char *machine = history_machine(&s->run[k]);
            ab_series_of(&machines, machine);
            if (ab_find(&of_one, machine))
                continue;
            ab_series_of(&of_one, machine);
            if (h->n == cap) {
                cap = cap * 2 + 8;
                h->row = (history_row *)ab_grow(h->row, cap, sizeof *h->row);
            }
            history_collect(&h->row[h->n++], s, machine);
        }
        ab_set_free(&of_one);
    }
    h->machines = machines.n;
    ab_set_free(&machines);
    if (h->n)
        qsort(h->row, h->n, sizeof *h->row, history_by_change);
}

/* ---- a terminal ---- */

PERF_FN int history_speaks_utf8(void)
{
    const char *t = getenv("LC_ALL");

    t = t && *t ? t : getenv("LC_CTYPE");
    t = t && *t ? t : getenv("LANG");
    return t && (strstr(t, "UTF-8") || strstr(t, "utf8") || strstr(t, "UTF8"));
}

/* The medians as a curve of at most HISTORY_POINTS characters, the last one being the last run. */
PERF_FN void history_curve(FILE *f, const history_row *r, int utf8)
{
    static const char *const bar[] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
                                      "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
                                      "\xe2\x96\x87", "\xe2\x96\x88"};
    static const char ascii[] = "_.-:=+*#";
    const size_t      points = r->n < HISTORY_POINTS ? r->n : HISTORY_POINTS;
    double            low = PERF_INF_, high = 0.0, x;
    size_t            i, at;
    int               level;

    for (i = 0; i < r->n; i++) {
        low = r->point[i].median < low ? r->point[i].median : low;
        high = r->point[i].median > high ? r->point[i].median : high;
    }
    for (i = 0; i < points; i++) {
        at = (i + 1) * r->n / points - 1;
        x = high > low * 1.001 ? (r->point[at].median - low) / (high - low) : 0.5;
        level = (int)(x * 7.0 + 0.5);
        if (utf8)
            fputs(bar[level], f);
        else
            putc(ascii[level], f);
    }
}

/* 1: somebody has accepted the change: the runs before it are marked as past. */
PERF_FN int history_accepted(const history_row *r, size_t k)
{
    return r->point[r->changes.point[k].at - 1].run->level == PERF_LEVEL_PAST_;
}

/* "+12.0 % since run 31 of 60 (1f3a9c, 2026-11-25)". */
PERF_FN ab_text history_since(const history_row *r, size_t k)
{
    const change_point  *c = &r->changes.point[k];
    const history_point *p = &r->point[c->at];
    const ab_text        size = ab_effect_number_(c->ratio, 0, 1);
    const char          *label = p->run->label ? p->run->label : "";
    const time_t         when = (time_t)p->time;
    char                 date[24] = "", words[64] = "";
    ab_text              t;

    if (p->time > 0.0 && p->time < 2e11 && !strftime(date, sizeof date, "%Y-%m-%d", gmtime(&when)))
        *date = '\0';
    if (*label || *date)
        snprintf(words, sizeof words, " (%.40s%s%s)", label, *label && *date ? ", " : "", date);
    snprintf(t.s, sizeof t.s, "%.40s since run %zu of %zu%s%s", size.s, c->at + 1, r->n, words,
             history_accepted(r, k) ? ", accepted" : "");
    return t;
}

PERF_FN void history_print_changes(FILE *f, const history *h)
{
    size_t  i, k, some = 0;
    ab_text since;

    for (i = 0; i < h->n; i++)
        for (k = 0; k < h->row[i].changes.n; k++) {
            if (!some++)
                fputs("\n  changes that lasted, each against the level before:\n", f);
            fputs("    ", f);
            ab_print_name(f, h->row[i].s->name);
            since = history_since(&h->row[i], k);
            fputs(": ", f);
            ab_print_name(f, since.s);
            if (h->machines > 1) {
                fputs(", on ", f);
                ab_print_name(f, *h->row[i].machine ? h->row[i].machine : "(no machine)");
            }
            putc('\n', f);
        }
}

static const char history_level[][10] = {"normal", "rejected", "past", "undecided"};

/* Rows with runs that have that mark: what is said of them, how many, the first, the end. */
PERF_FN void history_print_marked(FILE *f, const history *h, int level, const char *what,
                                  const char *end)
{
    size_t i, k, n, first;

    for (i = 0; i < h->n; i++) {
        const history_row *r = &h->row[i];
        n = first = 0;
        for (k = r->n; k > 0; k--)
            if (r->point[k - 1].run->level == level) {
                first = k;
                n++;
            }
        if (!n)
            continue;
        fprintf(f, "  %s: ", what);
        ab_print_name(f, r->s->name);
        fprintf(f, ", %zu run%s since run %zu of %zu%s\n", n, n == 1 ? "" : "s", first, r->n, end);
    }
}

PERF_FN void history_table(FILE *f, const history *h)
{
    const int utf8 = history_speaks_utf8();
    size_t    i, width = 9, w;

    for (i = 0; i < h->n; i++) {
        w = ab_width(h->row[i].s->name);
        width = w > width ? w : width;
    }
    width = width < 60 ? width : 60;
    fputs("  ", f);
    ab_print_column(f, "benchmark", width, width);
    fputs("   runs      first       last    change   medians, the last run on the right\n", f);
    for (i = 0; i < h->n; i++) {
        const history_row *r = &h->row[i];
        ab_text            first, last, change;
        if (!r->n)
            continue;
        first = ab_quantity(r->point[0].median, r->s->unit);
        last = ab_quantity(r->point[r->n - 1].median, r->s->unit);
        change = ab_effect_number_(r->change, 0, 1);
        fputs("  ", f);
        ab_print_column(f, r->s->name, width, width);
        fprintf(f, " %6zu %10s %10s %9s   ", r->n, first.s, last.s, change.s);
        history_curve(f, r, utf8);
        if (h->machines > 1) {
            fputs("  ", f);
            ab_print_name(f, *r->machine ? r->machine : "(no machine)");
        }
        putc('\n', f);
    }
    fputs("  change: the last run against the median of those before it; what changed most comes "
          "first\n", f);
    history_print_changes(f, h);
    history_print_marked(f, h, PERF_LEVEL_REJECTED_, "REJECTed and kept out of the baseline",
                         "; --accept-change takes them in");
    history_print_marked(f, h, PERF_LEVEL_UNDECIDED_, "not decided when they were saved", "");
}

/* ---- JSON ---- */

PERF_FN void history_json(FILE *f, const history *h)
{
    size_t i, k;

    fputs("{\n  \"perf_history\": 1,\n  \"benchmarks\": [", f);
    for (i = 0; i < h->n; i++) {
        const history_row *r = &h->row[i];
        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", f);
        ab_print_json(f, r->s->name);
        fputs(", \"unit\": ", f);
        ab_print_json(f, r->s->unit);
        fputs(", \"machine\": ", f);
        ab_print_json(f, r->machine);
        fputs(", ", f);
        ab_json_member_(f, "change", r->change, ",\n     \"changes\": [");
        for (k = 0; k < r->changes.n; k++) {
            fprintf(f, "%s{\"at\": %zu, ", k ? ", " : "", r->changes.point[k].at);
            ab_json_member_(f, "ratio", r->changes.point[k].ratio, ", ");
            fprintf(f, "\"creeps\": %s, \"accepted\": %s}",
                    r->changes.point[k].creeps ? "true" : "false",
                    history_accepted(r, k) ? "true" : "false");
        }
        fputs("],\n     \"runs\": [", f);
        for (k = 0; k < r->n; k++) {
            const history_point *p = &r->point[k];
            fputs(k ? ",\n       {\"run\": " : "\n       {\"run\": ", f);
            ab_print_json(f, p->run->id ? p->run->id : "");
            fputs(", ", f);
            if (p->run->label) {
                fputs("\"label\": ", f);
                ab_print_json(f, p->run->label);
                fputs(", ", f);
            }
            if (p->run->level)
                fprintf(f, "\"level\": \"%s\", ", history_level[p->run->level]);
            ab_json_member_(f, "time", p->time > 0.0 ? p->time : PERF_NAN_, ", ");
            if (p->high > 0.0) {
                ab_json_member_(f, "low", p->low, ", ");
                ab_json_member_(f, "high", p->high, ", ");
            }
            ab_json_member_(f, "median", p->median, "}");
        }
        fputs("]}", f);
    }
    fputs("\n  ]\n}\n", f);
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
PERF_FN page_scale history_scale(const history_row *r)
{
    page_scale s;
    size_t     i;
    double     margin;

    s.low = s.high = r->point[0].median;
    for (i = 0; i < r->n; i++) {
        s.low = r->point[i].median < s.low ? r->point[i].median : s.low;
        s.high = r->point[i].median > s.high ? r->point[i].median : s.high;
    }
    margin = 0.1 * (s.high - s.low);
    if (!(margin > 0.001 * s.high))
        margin = 0.01 * s.high;
    s.low -= margin;
    s.high += margin;
    s.from = HISTORY_HIGH - 30;
    s.to = HISTORY_EDGE;
    return s;
}

/* The place of run i from left to right. */
PERF_FN double history_x(const history_row *r, double i)
{
    const double room = HISTORY_WIDE - HISTORY_LEFT - HISTORY_EDGE;

    return HISTORY_LEFT + (r->n > 1 ? i / (double)(r->n - 1) : 0.5) * room;
}

/* A line for each level, and one where the next begins. */
PERF_FN void history_levels(FILE *f, const history_row *r, const page_scale *s)
{
    size_t i, k, begin = 0, end;

    for (k = 0; k <= r->changes.n; k++) {
        double *x = (double *)ab_grow(NULL, r->n, sizeof *x), y;
        end = k < r->changes.n ? r->changes.point[k].at : r->n;
        for (i = begin; i < end; i++)
            x[i - begin] = r->point[i].median;
        y = page_at_(s, ab_statistic(x, end - begin, PERF_METRIC_P50));
        free(x);
        fprintf(f, "<line class=\"level\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                history_x(r, (double)begin), history_x(r, (double)end - 1), y, y);
        if (k < r->changes.n)
            fprintf(f, "<line class=\"cut\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
                    history_x(r, (double)end - 0.5), history_x(r, (double)end - 0.5), HISTORY_EDGE,
                    HISTORY_HIGH - 30);
        begin = end;
    }
}

/* The first or last date, or number of a run. */
PERF_FN void history_date(FILE *f, const history_row *r, size_t i, const char *anchor)
{
    const double time = r->point[i].time;
    const time_t when = (time_t)time;
    char         date[32] = "";

    if (!(time > 0.0 && time < 2e11) || !strftime(date, sizeof date, "%Y-%m-%d", gmtime(&when)))
        snprintf(date, sizeof date, "run %zu", i + 1);
    fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
            history_x(r, (double)i), HISTORY_HIGH - 8, anchor, date);
}

/* The runs as points, their intervals as lines, the levels between changes. */
PERF_FN void history_picture(FILE *f, const history_row *r)
{
    const page_scale s = history_scale(r);
    ab_text          t;
    size_t           i;

    fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", HISTORY_WIDE, HISTORY_HIGH);
    page_text_(f, r->s->name);
    fputs("</title>\n", f);
    for (i = 0; i < 2; i++) {
        const double value = i ? s.high : s.low;
        t = ab_quantity(value, r->s->unit);
        fprintf(f, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", HISTORY_LEFT,
                HISTORY_WIDE - HISTORY_EDGE, page_at_(&s, value), page_at_(&s, value),
                HISTORY_LEFT - 6, page_at_(&s, value) + 4.0);
        page_text_(f, t.s);
        fputs("</text>\n", f);
    }
    history_date(f, r, 0, "start");
    if (r->n > 1)
        history_date(f, r, r->n - 1, "end");
    history_levels(f, r, &s);
    for (i = 0; i < r->n; i++) {
        const history_point *p = &r->point[i];
        const double         x = history_x(r, (double)i);
        if (p->high > 0.0)
            fprintf(f, "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                       "y2=\"%.1f\"/>", x, x, page_at_(&s, p->low), page_at_(&s, p->high));
        t = ab_quantity(p->median, r->s->unit);
        fprintf(f, "<circle class=\"run %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>run %zu",
                history_level[p->run->level], x,
                page_at_(&s, p->median), i + 1);
        if (p->run->label && *p->run->label) {
            fputs(", ", f);
            page_text_(f, p->run->label);
        }
        fputs(": ", f);
        page_text_(f, t.s);
        fputs("</title></circle>\n", f);
    }
    fputs("</svg>\n", f);
}

PERF_FN void history_section(FILE *f, const history_row *r)
{
    ab_text t;
    size_t  k;

    fputs("<section><h2>", f);
    page_text_(f, r->s->name);
    fputs("</h2><p class=\"soft\">", f);
    page_text_(f, *r->machine ? r->machine : "machine not known");
    t = ab_quantity(r->point[r->n - 1].median, r->s->unit);
    fprintf(f, ", %zu runs, the last one ", r->n);
    page_text_(f, t.s);
    t = ab_effect_number_(r->change, 0, 1);
    fputs(", against those before ", f);
    page_text_(f, t.s);
    fputs("</p>\n", f);
    for (k = 0; k < r->changes.n; k++) {
        t = history_since(r, k);
        fputs("<p><b>", f);
        page_text_(f, t.s);
        fputs("</b></p>\n", f);
    }
    history_picture(f, r);
    fputs("</section>\n", f);
}

PERF_FN void history_page(FILE *f, const history *h)
{
    size_t i, changed = 0;

    for (i = 0; i < h->n; i++)
        changed += h->row[i].changes.n != 0;
    fputs("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><title>History</title><style>", f);
    fputs(page_style_, f);
    fputs(history_style, f);
    fprintf(f, "</style>\n<h1>%zu of %zu histories changed for good</h1>\n", changed, h->n);
    fputs("<p class=\"soft\">Points are medians of runs, thin lines their 95 % intervals, thick "
          "ones the levels between changes. A dashed line stands where a level begins.</p>\n"
          "<p><input id=\"filter\" placeholder=\"benchmark or machine\" "
          "aria-label=\"show what has this in its name\"></p>\n", f);
    for (i = 0; i < h->n; i++)
        if (h->row[i].n)
            history_section(f, &h->row[i]);
    fputs("<script>\n"
          "document.getElementById('filter').oninput=event=>{\n"
          "  const part=event.target.value.toLowerCase();\n"
          "  for(const s of document.querySelectorAll('section')){\n"
          "    const words=s.children[0].textContent+' '+s.children[1].textContent;\n"
          "    s.hidden=!words.toLowerCase().includes(part);\n"
          "  }\n"
          "};\n"
          "</script></html>\n", f);
}

/* ---- Markdown: a comment on a merge request ---- */

PERF_FN void history_markdown_row(FILE *f, const history_row *r)
{
    const ab_text change = ab_effect_number_(r->change, 0, 1);
    ab_text       t;
    size_t        k;

    fputs("| ", f);
    ab_markdown_text_(f, r->s->name);
    fputs(" | ", f);
    ab_markdown_text_(f, r->machine);
    fprintf(f, " | %zu | ", r->n);
    t = ab_quantity(r->point[0].median, r->s->unit);
    ab_markdown_text_(f, t.s);
    fputs(" | ", f);
    t = ab_quantity(r->point[r->n - 1].median, r->s->unit);
    ab_markdown_text_(f, t.s);
    fprintf(f, " | %s | ", change.s);
    for (k = 0; k < r->changes.n; k++) {
        t = history_since(r, k);
        fputs(k ? "; " : "", f);
        ab_markdown_text_(f, t.s);
    }
    fputs(" |\n", f);
}

PERF_FN void history_print_markdown(FILE *f, const history *h)
{
    size_t i, changed = 0;

    for (i = 0; i < h->n; i++)
        changed += h->row[i].changes.n != 0;
    fprintf(f, "**%zu of %zu histories changed for good**\n\n"
               "| benchmark | machine | runs | first | last | last run | changes that lasted |\n"
               "|---|---|---:|---:|---:|---:|---|\n", changed, h->n);
    for (i = 0; i < h->n; i++)
        if (h->row[i].n)
            history_markdown_row(f, &h->row[i]);
}

/* ---- the command ---- */

PERF_FN int history_options(history *h, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const char **file = NULL;
        if (!strcmp(argv[i], "--json"))
            file = &h->json;
        else if (!strcmp(argv[i], "--html"))
            file = &h->html;
        else if (!strcmp(argv[i], "--markdown"))
            file = &h->markdown;
        else if (!strcmp(argv[i], "--accept-change"))
            file = &h->accept;
        if (file && i + 1 < argc)
            *file = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option, or its value is missing:", argv[i]);
        else
            h->file[h->files++] = argv[i];
    }
    return h->files ? 0 : usage_error("a history of which files?", "");
}

/* Reads all files; each is a run, or holds several.  An exit status. */
PERF_FN int history_read(history *h)
{
    ab_read_opts o;
    ab_set       one;
    ab_error     e;
    size_t       i;
    char         id[32];

    memset(&o, 0, sizeof o);
    memset(&one, 0, sizeof one);
    o.every = 1;
    o.run = id;
    for (i = 0; i < h->files; i++)
        if (!import_path(&h->found, h->file[i], 0))
            return usage_error("no results in the folder", h->file[i]);
    for (i = 0; i < h->found.n; i++) {
        const char *path = h->found.path[i];
        snprintf(id, sizeof id, "%zu", i + 1);
        if (import_file(&one, path, &o, &e) < 0) {
            ab_set_free(&one);
            return unusable(&e);
        }
        say_left_out(&one, "shown");
        if (ab_absorb(&h->set, &one, i + 1, path, &e) < 0)
            return unusable(&e);
    }
    return 0;
}

/* One of the forms into a file, "-" being standard output; path NULL: not asked for. */
PERF_FN int history_save(const history *h, const char *path,
                         void (*write)(FILE *, const history *))
{
    perf_file_ out;

    if (!path)
        return 0;
    if (!strcmp(path, "-")) {
        write(stdout, h);
        return 0;
    }
    if (!ab_begin_file(&out, path))
        return unwritten(path);
    write(out.file, h);
    return ab_end_file(&out, path) ? unwritten(path) : 0;
}

/* 1: this form goes to standard output. */
PERF_FN int history_is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

/* Writes what is asked for.  An exit status. */
PERF_FN int history_write(const history *h)
{
    const int forms = history_is_stdout(h->json) + history_is_stdout(h->html) +
                      history_is_stdout(h->markdown);
    int       status;

    if (forms > 1)
        return usage_error("two reports into one:", "-");
    if (!forms)
        history_table(stdout, h);
    status = history_save(h, h->json, history_json);
    if (!status)
        status = history_save(h, h->html, history_page);
    if (!status)
        status = history_save(h, h->markdown, history_print_markdown);
    return status ? status : written();
}

PERF_FN int accept_change(const history *h);    /* accept.h */

PERF_FN int history_main(int argc, char **argv)
{
    history h;
    size_t  i;
    int     status;

    memset(&h, 0, sizeof h);
    h.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *h.file);
    status = history_options(&h, argc, argv);
    if (!status)
        status = history_read(&h);
    if (!status) {
        history_rows(&h);
        status = h.accept ? accept_change(&h) : history_write(&h);
    }
    for (i = 0; i < h.n; i++)
        free(h.row[i].point);
    free(h.row);
    import_free(&h.found);
    ab_set_free(&h.set);
    free(h.file);
    return status;
}

#endif
