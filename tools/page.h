/* page.h - the report as one HTML page that needs nothing else: no script, no font, no network.
 *
 * A table with a forest plot of the intervals, then for each benchmark the two distributions over
 * each other and the values in time order, where a drift shows.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_PAGE_H
#define PERF_TOOLS_PAGE_H

#include "judge.h"
#include "write.h"

enum { PAGE_DETAILS = 100, PAGE_POINTS = 600, PAGE_BINS = 48 };

static const char page_style_[] =
    ":root{--bg:#fff;--ink:#1c2430;--soft:#5c6675;--line:#d9dee5;--a:#2f6db5;--b:#d9722b;"
    "--good:#1a7f46;--bad:#c02b2b;--open:#8a6100;--band:#d3deed}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14181f;--ink:#e6eaf0;--soft:#9aa5b4;--line:#"
    "313a47;"
    "--a:#6aa5ea;--b:#f0975a;--good:#4cc07f;--bad:#f07070;--open:#e0b040;--band:#2c3a4d}}\n"
    "body{background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,sans-serif;overflow-wrap:anywhere;margin:2em "
    "auto;"
    "max-width:84em;padding:0 1em}p{max-width:74em}\n"
    "h1{font-size:1.5em;margin:0 0 .3em}h2{font-size:1.1em;margin:2em 0 .2em;border-top:1px solid "
    "var(--line);padding-top:1em;overflow-wrap:anywhere}p{margin:.3em 0}\n"
    ".soft,.note{color:var(--soft)}.note{font-size:.9em}\n"
    "table{border-collapse:collapse;width:100%;margin:1em 0}td,th{padding:.25em "
    ".6em;text-align:left;"
    "border-bottom:1px solid "
    "var(--line);vertical-align:middle}th{font-weight:600;color:var(--soft);"
    "font-size:.9em}td.n,th.n{text-align:right;white-space:nowrap}td.c{white-space:nowrap}"
    "td.w{overflow-wrap:anywhere;min-width:8em}\n"
    "td,text{font-variant-numeric:tabular-nums}td.f{padding-top:0;padding-bottom:0;width:260px}\n"
    ".ACCEPT{color:var(--good)}.REJECT{color:var(--bad)}.INCONCLUSIVE{color:var(--open)}"
    "b.ACCEPT,b.REJECT,b.INCONCLUSIVE{overflow-wrap:normal}\n"
    "svg{display:block;max-width:100%}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}"
    ".plots{display:flex;flex-wrap:wrap;gap:1em}figure{margin:.6em "
    "0;width:470px;max-width:100%}figcaption{font-size:.85em;"
    "color:var(--soft)}\n"
    ".grid{stroke:var(--line);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}"
    ".ask{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}.one{stroke:var(--soft);"
    "stroke-width:1}\n"
    ".fa{fill:var(--a);fill-opacity:.35;stroke:var(--a)}.fb{fill:var(--b);fill-opacity:.35;"
    "stroke:var(--b)}.da{fill:var(--a)}.db{fill:var(--b)}.dr{fill:var(--soft)}"
    ".la{stroke:var(--a);stroke-width:1.5}.lb{stroke:var(--b);stroke-width:1.5}"
    ".ra{stroke:var(--a);stroke-opacity:.3}.rb{stroke:var(--b);stroke-opacity:.3}.rr{stroke:var(--"
    "soft);"
    "stroke-opacity:.35}.band{fill:var(--band)}\n"
    ".iACCEPT{stroke:var(--good);fill:var(--good)}.iREJECT{stroke:var(--bad);fill:var(--bad)}"
    ".iINCONCLUSIVE{stroke:var(--open);fill:var(--open)}.key{display:inline-block;width:.8em;"
    "height:.8em;border-radius:2px;margin-right:.3em}.ka{background:var(--a)}.kb{background:var(--"
    "b)}\n"
    /* Where a row of the table has no room, its cells stand below each other, with their names. */
    "td.f,th.f{min-width:260px}.f svg{max-width:none}"
    "@media(max-width:80em){body{margin:1em auto}table,tbody,tr,td{display:block}"
    "thead,thead tr{display:block;position:sticky;top:0;background:var(--bg)}thead th{display:none}"
    "thead th.f{display:block;border:0;padding:0}tr{border-bottom:1px solid var(--line);"
    "padding:.4em 0}td,td.n,td.c{border:0;padding:.1em 0;text-align:left;white-space:normal}"
    "td[data-l]::before{content:attr(data-l) \": \";color:var(--soft)}}"
    "@media(min-width:34em)and (max-width:80em){tbody tr{display:grid;column-gap:1em;"
    "grid-template-columns:repeat(3,1fr)}td.w,td.m{grid-column:1/-1}td.f{grid-column:1/3}}"
    "@media(max-width:480px){figure svg text{font-size:14px}}\n";

/* Text inside HTML, also between double quotes. */
PERF_FN void page_text_(FILE *file, const char *text)
{
    size_t n;
    int    safe;

    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else if (safe)
            fwrite(text, 1, n, file);
        else
            putc('?', file);
    }
}

/* ---- scales ---- */

typedef struct page_scale {             /* values low..high drawn at from..to (pixels)            */
    double low, high, from, to;
} page_scale;

PERF_FN double page_at_(const page_scale *scale, double x)
{
    double t = (x - scale->low) / (scale->high - scale->low);

    t = !(t > 0.0) ? 0.0 : t > 1.0 ? 1.0 : t;       /* what is outside sits at the edge           */
    return scale->from + t * (scale->to - scale->from);
}

PERF_FN double page_first_tick_(double low, double step)
{
    double q = low / step;

    return q > -9e15 && q < 9e15 ? ((double)(int64_t)q + (q > 0.0 ? 1.0 : 0.0)) * step : low;
}

/* Widens low..high to what one sample covers without its far outliers, which lie beyond three times
 * the spread of its middle half: one spike must not flatten everything else.                     */
PERF_FN void page_cover_(page_scale *scale, const double *x, size_t n)
{
    double *v = (double *)ab_grow(NULL, n, sizeof *v), q1, q3, low, high;

    memcpy(v, x, n * sizeof *v);
    perf_sort_values_(v, n);
    q1 = perf_quantile_(v, n, 0.25);
    q3 = perf_quantile_(v, n, 0.75);
    low = v[0] > q1 - 3.0 * (q3 - q1) || !(q3 > q1) ? v[0] : q1 - 3.0 * (q3 - q1);
    high = v[n - 1] < q3 + 3.0 * (q3 - q1) || !(q3 > q1) ? v[n - 1] : q3 + 3.0 * (q3 - q1);
    scale->low = low < scale->low ? low : scale->low;
    scale->high = high > scale->high ? high : scale->high;
    free(v);
}

/* A scale for the values of both sides, with a margin. */
PERF_FN page_scale page_range_(const ab_data *data, double from, double to)
{
    page_scale scale;
    double     margin;

    scale.low = scale.high = data->x[0][0];
    page_cover_(&scale, data->x[0], data->n[0]);
    page_cover_(&scale, data->x[1], data->n[1]);
    margin = 0.06 * (scale.high - scale.low);
    if (!(margin > 1e-9 * scale.high))
        margin = 0.01 * scale.high;                 /* constants                                  */
    scale.low -= margin;
    scale.high += margin;
    scale.from = from;
    scale.to = to;
    return scale;
}

/* ---- pieces of SVG ---- */

PERF_FN void page_svg_(FILE *file, int width, int height, const char *label)
{
    fprintf(file, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>",
            width, height, width, height);
    page_text_(file, label);
    fputs("</title>\n", file);
}

PERF_FN void page_line_(FILE *file, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(file, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
            x1, y1, x2, y2);
}

/* Where a label at `at` begins, so that it stays within `margin` of the ends. */
PERF_FN const char *page_anchor_(const page_scale *scale, double at, double margin)
{
    if (at < scale->from + margin)
        return "start";
    return at > scale->to - margin ? "end" : "middle";
}

PERF_FN void page_label_(FILE *file, double x, double y, const char *anchor, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    page_text_(file, text);
    fputs("</text>\n", file);
}

/* A round number on an axis: without the zeros that a measured value keeps. */
PERF_FN ab_text page_tick_(double t, double step, const char *unit)
{
    ab_text text = ab_quantity(ab_abs(t) < 1e-9 * step ? 0.0 : t, unit);
    char   *point = strchr(text.s, '.'), *end = strchr(text.s, ' '), *from;

    if (point && end && !strchr(text.s, 'e')) {
        for (from = end; from > point && (from[-1] == '0' || from - 1 == point); from--)
            continue;
        memmove(from, end, strlen(end) + 1);
    }
    return text;
}

/* Ticks below a plot, with lines up to `top`. */
PERF_FN void page_ticks_x_(FILE *file, const page_scale *scale, double top, double bottom,
                           const char *unit)
{
    double step = ab_round_step(scale->high - scale->low, 5.0), t;
    int    i = 0;

    for (t = page_first_tick_(scale->low, step); t < scale->high && i < 20; t += step, i++) {
        ab_text label = page_tick_(t, step, unit);
        double  at = page_at_(scale, t);
        page_line_(file, "grid", at, top, at, bottom);
        page_label_(file, at, bottom + 13.0, page_anchor_(scale, at, 20.0), label.s);
    }
    page_line_(file, "axis", scale->from, bottom, scale->to, bottom);
}

/* Ticks left of a plot, with lines across. */
PERF_FN void page_ticks_y_(FILE *file, const page_scale *scale, double left, double right,
                           const char *unit)
{
    double step = ab_round_step(scale->high - scale->low, 4.0), t;
    int    i = 0;

    for (t = page_first_tick_(scale->low, step); t < scale->high && i < 20; t += step, i++) {
        ab_text label = page_tick_(t, step, unit);
        page_line_(file, "grid", left, page_at_(scale, t), right, page_at_(scale, t));
        page_label_(file, left - 5.0, page_at_(scale, t) + 4.0, "end", label.s);
    }
}

/* ---- distributions ---- */

PERF_FN void page_bins_(const double *x, size_t n, const page_scale *scale, double *share)
{
    size_t i;
    int    k;

    memset(share, 0, PAGE_BINS * sizeof *share);
    for (i = 0; i < n; i++) {
        double t = (x[i] - scale->low) / (scale->high - scale->low) * PAGE_BINS;
        k = t > 0.0 && t < PAGE_BINS ? (int)t : 0;
        if (t >= PAGE_BINS)
            k = PAGE_BINS - 1;
        share[k] += 1.0 / (double)n;
    }
}

PERF_FN void page_distribution_(FILE *file, const ab_data *data)
{
    page_scale  scale = page_range_(data, 10.0, 460.0), scale_y = {0.0, 0.0, 205.0, 22.0};
    double      share[2][PAGE_BINS], w = (scale.to - scale.from) / PAGE_BINS, median, at[2];
    int         side, k;

    for (side = 0; side < 2; side++) {
        page_bins_(data->x[side], data->n[side], &scale, share[side]);
        for (k = 0; k < PAGE_BINS; k++)
            scale_y.high = share[side][k] > scale_y.high ? share[side][k] : scale_y.high;
    }
    fputs("<figure>", file);
    page_svg_(file, 470, 225, "distributions of A and B");
    page_ticks_x_(file, &scale, 22.0, 205.0, data->unit);
    for (side = 0; side < 2; side++) {
        fprintf(file, "<path class=\"f%c\" d=\"M%.1f %.1f", 'a' + side, scale.from, scale_y.from);
        for (k = 0; k < PAGE_BINS; k++)
            fprintf(file, "V%.1fH%.1f", page_at_(&scale_y, share[side][k]),
                    scale.from + w * (k + 1));
        fprintf(file, "V%.1fZ\"/>\n", scale_y.from);
    }
    for (side = 0; side < 2; side++) {
        median = ab_statistic(data->x[side], data->n[side], PERF_METRIC_P50);
        page_line_(file, side ? "lb" : "la", page_at_(&scale, median), 16.0,
                   page_at_(&scale, median), 205.0);
        at[side] = page_at_(&scale, median);
    }
    page_label_(file, at[0], 12.0, at[0] < at[1] ? "end" : "start", "A");
    page_label_(file, at[1], 12.0, at[0] < at[1] ? "start" : "end", "B");
    fprintf(file, "</svg><figcaption>%s; vertical lines: medians%s</figcaption></figure>\n",
            data->how == AB_HOW_RUNS ? "One figure a run" : "How often each value came up",
            "; the outer bars also hold values beyond the scale");
}

/* ---- time ---- */

/* Values in time order; more than PAGE_POINTS are summed up as 10-90 % lines with a median. */
PERF_FN void page_series_(FILE *file, const double *v, size_t n, const page_scale *scale,
                          const page_scale *scale_y, char class)
{
    size_t  size = n > PAGE_POINTS ? (n + PAGE_POINTS / 2 - 1) / (PAGE_POINTS / 2) : 1, i, m;
    double *bin = (double *)ab_grow(NULL, size, sizeof *bin), at;
    char    rule[3] = {'r', class, '\0'};

    for (i = 0; i < n; i += m) {
        m = n - i < size ? n - i : size;
        memcpy(bin, v + i, m * sizeof *bin);
        perf_sort_values_(bin, m);
        at = page_at_(scale, (double)i + 0.5 * (double)m + 0.5);
        if (size > 1)
            page_line_(file, rule, at, page_at_(scale_y, perf_quantile_(bin, m, 0.1)), at,
                       page_at_(scale_y, perf_quantile_(bin, m, 0.9)));
        fprintf(file, "<circle class=\"d%c\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", class, at,
                page_at_(scale_y, perf_quantile_(bin, m, 0.5)), n > 150 ? "1.3" : "2.2");
    }
    free(bin);
}

/* Pairs: both sides above, the change within each pair below. */
PERF_FN void page_pairs_(FILE *file, const ab_data *data)
{
    size_t      n = data->n[0], i;
    page_scale  scale = {0.5, (double)n + 0.5, 62.0, 462.0}, below;
    page_scale  scale_y = page_range_(data, 100.0, 8.0);
    double     *change = (double *)ab_grow(NULL, n, sizeof *change), limit = data->v.threshold;
    int         swap = data->rule.metric == PERF_METRIC_THROUGHPUT;

    for (i = 0; i < n; i++)
        change[i] = (data->x[1][i] / data->x[0][i] - 1.0) * 100.0;
    limit = ((swap ? 1.0 / limit : limit) - 1.0) * 100.0;
    below.low = limit < 0.0 ? limit : 0.0;
    below.high = limit > 0.0 ? limit : 0.0;
    page_cover_(&below, change, n);
    if (!(below.high - below.low > 0.02)) {
        below.low -= 0.01;
        below.high += 0.01;
    }
    below.low -= 0.06 * (below.high - below.low);
    below.high += 0.06 * (below.high - below.low);
    below.from = 205.0;
    below.to = 116.0;
    fputs("<figure>", file);
    page_svg_(file, 470, 225, "values and change in time order");
    page_ticks_y_(file, &scale_y, scale.from, scale.to, data->unit);
    page_series_(file, data->x[0], n, &scale, &scale_y, 'a');
    page_series_(file, data->x[1], n, &scale, &scale_y, 'b');
    if (data->v.ratio.low > 0.0 && perf_is_finite_(data->v.ratio.high)) {
        double low = swap ? 1.0 / data->v.ratio.high : data->v.ratio.low;
        double high = swap ? 1.0 / data->v.ratio.low : data->v.ratio.high;
        double top = page_at_(&below, (high - 1.0) * 100.0);
        double bottom = page_at_(&below, (low - 1.0) * 100.0);
        fprintf(file,
                "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                scale.from, top, scale.to - scale.from, bottom - top > 1.0 ? bottom - top : 1.0);
    }
    page_ticks_y_(file, &below, scale.from, scale.to, "%");
    page_line_(file, "one", scale.from, page_at_(&below, 0.0), scale.to, page_at_(&below, 0.0));
    page_line_(file, "ask", scale.from, page_at_(&below, limit), scale.to, page_at_(&below, limit));
    page_series_(file, change, n, &scale, &below, 'r');
    page_label_(file, scale.from, 221.0, "start",
                data->how == AB_HOW_RUNS ? "first run" : "first pair");
    page_label_(file, scale.to, 221.0, "end", data->how == AB_HOW_RUNS ? "last run" : "last pair");
    fputs(
        "</svg><figcaption>In time order. Above: both sides, where a drift shows. Below: B against "
        "A "
        "within each pair, the interval (band) and what was asked (dashed)</figcaption></figure>\n",
        file);
    free(change);
}

/* Separate samples: A's values, then B's. */
PERF_FN void page_halves_(FILE *file, const ab_data *data)
{
    page_scale scale_y = page_range_(data, 205.0, 8.0);
    page_scale xa = {0.5, (double)data->n[0] + 0.5, 62.0, 258.0};
    page_scale xb = {0.5, (double)data->n[1] + 0.5, 266.0, 462.0};

    fputs("<figure>", file);
    page_svg_(file, 470, 225, "values in the order of the files");
    page_ticks_y_(file, &scale_y, xa.from, xb.to, data->unit);
    page_line_(file, "axis", 262.0, 8.0, 262.0, 205.0);
    page_series_(file, data->x[0], data->n[0], &xa, &scale_y, 'a');
    page_series_(file, data->x[1], data->n[1], &xb, &scale_y, 'b');
    page_label_(file, 160.0, 221.0, "middle", "A, first to last");
    page_label_(file, 364.0, 221.0, "middle", "B, first to last");
    fputs("</svg><figcaption>In the order of the files. A slope or a step is a drift, and a "
          "drift "
          "looks like a change</figcaption></figure>\n",
          file);
}

/* ---- forest plot ---- */

PERF_FN void page_forest_axis_(FILE *file, const ab_forest *forest, const page_scale *scale)
{
    double t, last = -100.0, at;
    int    i;

    page_svg_(file, 260, 20, "scale");
    for (i = 0; !perf_is_nan_(t = ab_forest_tick(forest, i)); i++) {
        ab_text label = ab_forest_label(forest, t);
        at = page_at_(scale, ab_forest_log(forest, t));
        if (at - last < (at > scale->to - 16.0 ? 58.0 : 42.0))
            continue;
        last = at;
        page_label_(file, at, 13.0, page_anchor_(scale, at, 16.0), label.s);
        page_line_(file, "axis", at, 16.0, at, 20.0);
    }
    fputs("</svg>", file);
}

PERF_FN void page_forest_row_(FILE *file, const ab_data *data, const page_scale *scale,
                              const char *verdict)
{
    double        asked, low, high, mid;
    perf_interval interval = ab_forest_row(data, &asked);
    ab_text       change = ab_change(data);

    page_svg_(file, 260, 26, change.s);
    page_line_(file, "one", page_at_(scale, 0.0), 0.0, page_at_(scale, 0.0), 26.0);
    page_line_(file, "ask", page_at_(scale, asked), 0.0, page_at_(scale, asked), 26.0);
    if (perf_is_nan_(interval.estimate)) {
        fputs("</svg>", file);
        return;
    }
    low = page_at_(scale, interval.low);
    high = page_at_(scale, interval.high);
    mid = page_at_(scale, interval.estimate);
    fprintf(
        file,
        "<g class=\"i%s\" stroke-width=\"2\"><line x1=\"%.1f\" y1=\"13\" x2=\"%.1f\" y2=\"13\"/>",
        verdict, low, high);
    if (interval.low < scale->low - 1e-9)
        fprintf(file, "<path d=\"M%.1f 13l6 -4v8z\"/>", scale->from);
    else
        fprintf(file, "<line x1=\"%.1f\" y1=\"9\" x2=\"%.1f\" y2=\"17\"/>", low, low);
    if (interval.high > scale->high + 1e-9)
        fprintf(file, "<path d=\"M%.1f 13l-6 -4v8z\"/>", scale->to);
    else
        fprintf(file, "<line x1=\"%.1f\" y1=\"9\" x2=\"%.1f\" y2=\"17\"/>", high, high);
    if (interval.estimate >= scale->low && interval.estimate <= scale->high)
        fprintf(file, "<rect x=\"%.1f\" y=\"9.5\" width=\"7\" height=\"7\"/>", mid - 3.5);
    fputs("</g></svg>", file);
}

/* ---- the page ---- */

/* Ends the cell before, and begins one with its text.  `label`: its column, where there is no head. */
PERF_FN void page_cell_(FILE *file, const char *class, const char *label, const char *text)
{
    fprintf(file, "</td><td class=\"%s\" data-l=\"%s\">", class, label);
    page_text_(file, text);
}

/* 1 for each row that gets plots, PAGE_DETAILS at most: those with REJECT first. */
PERF_FN unsigned char *page_plotted_(const ab_report *report)
{
    unsigned char *plotted = (unsigned char *)ab_grow(NULL, report->n, sizeof *plotted);
    size_t         i, left = PAGE_DETAILS;
    int            rejected;

    memset(plotted, 0, report->n);
    for (rejected = 1; rejected >= 0; rejected--)
        for (i = 0; i < report->n && left; i++)
            if (!report->row[i].missing && (report->row[i].family == PERF_REJECT) == rejected) {
                plotted[i] = 1;
                left--;
            }
    return plotted;
}

PERF_FN void page_row_(FILE *file, const ab_report *report, size_t i, int k,
                       const page_scale *scale, int plotted)
{
    const int     linked = plotted && k == 0;
    const ab_row *row = &report->row[i];
    const char   *verdict = perf_decision_text(report->plan.rules > 1 && !row->missing
                                                   ? row->d[k].v.decision : row->family);
    ab_line       line;

    ab_cells_(report, row, k, &line);
    fputs("<tr><td class=\"w\">", file);
    if (linked)
        fprintf(file, "<a class=\"%s\" href=\"#b%zu\">", perf_decision_text(row->family), i);
    page_text_(file, k ? "" : ab_shown_name(row));
    if (linked)
        fputs("</a>", file);
    if (report->plan.rules > 1)
        fprintf(file, "</td><td class=\"m\">%s", line.cell[CELL_METRIC].s);
    page_cell_(file, "n", "before", line.cell[CELL_BEFORE].s);
    page_cell_(file, "n", "after", line.cell[CELL_AFTER].s);
    page_cell_(file, "c", "change", line.cell[CELL_CHANGE].s);
    fputs("</td><td class=\"f\">", file);
    if (!row->missing)
        page_forest_row_(file, &row->d[k], scale, verdict);
    fprintf(file, "</td><td><b class=\"%s\">%s</b></td></tr>\n", verdict,
            line.cell[CELL_VERDICT].s);
}

/* The line of the geometric mean, without a verdict. */
PERF_FN void page_mean_(FILE *file, const ab_report *report, const page_scale *scale)
{
    ab_line line;
    ab_data data;
    int     k;

    for (k = 0; k < report->plan.rules && ab_mean_cells_(report, k, &line); k++) {
        ab_geometric_mean(report, k, &data);
        fprintf(file, "<tr><td class=\"w\">%s", line.cell[CELL_NAME].s);
        if (report->plan.rules > 1)
            fprintf(file, "</td><td class=\"m\">%s", line.cell[CELL_METRIC].s);
        page_cell_(file, "n", "before", line.cell[CELL_BEFORE].s);
        page_cell_(file, "n", "after", line.cell[CELL_AFTER].s);
        page_cell_(file, "c", "change", line.cell[CELL_CHANGE].s);
        fputs("</td><td class=\"f\">", file);
        page_forest_row_(file, &data, scale, "INCONCLUSIVE");
        fputs("</td><td></td></tr>\n", file);
    }
}

/* What the commands of perf-ab run took. */
PERF_FN void page_usage_(FILE *file, const ab_report *report)
{
    static const char *const title[] = {"wall", "user", "system", "memory"};
    size_t i;
    int    k;

    if (report->usages)
        fputs("<table><thead><tr><th>command, medians</th><th class=\"n\">wall</th>"
              "<th class=\"n\">user</th><th class=\"n\">system</th><th class=\"n\">memory</th>"
              "<th class=\"n\">runs</th><th class=\"n\">failed</th></tr></thead><tbody>\n", file);
    for (i = 0; i < report->usages; i++) {
        const ab_usage *usage = &report->usage[i];
        ab_text         text;
        fputs("<tr><td class=\"w\">", file);
        page_text_(file, usage->name);
        for (k = 0; k < 4; k++) {
            text = ab_usage_text(usage, k);
            page_cell_(file, "n", title[k], text.s);
        }
        fprintf(file, "</td><td class=\"n\" data-l=\"runs\">%zu</td><td class=\"n\" "
                      "data-l=\"failed\">%zu</td></tr>\n", usage->runs, usage->failed);
    }
    if (report->usages)
        fputs("</tbody></table>\n", file);
}

PERF_FN void page_details_(FILE *file, const ab_report *report, size_t i)
{
    const ab_row *row = &report->row[i];
    int           k;

    fprintf(file, "<section><h2 id=\"b%zu\">", i);
    page_text_(file, ab_shown_name(row));
    fprintf(file, " <b class=\"%s\">%s</b></h2>\n", perf_decision_text(row->family),
            perf_decision_text(row->family));
    for (k = 0; k < report->plan.rules; k++) {
        const ab_data *data = &row->d[k];
        ab_text        rule = ab_rule_text(&report->plan.rule[k]), change = ab_change(data);
        ab_text        how = ab_how_text(data), found = ab_found_text(data);
        fputs("<p>", file);
        page_text_(file, rule.s);
        fprintf(file, ": <b class=\"%s\">%s</b>, ", perf_decision_text(data->v.decision),
                perf_decision_text(data->v.decision));
        page_text_(file, change.s);
        if (data->how == AB_HOW_SEPARATE)
            fprintf(file, "; %zu and %zu values; ", data->n[0], data->n[1]);
        else
            fprintf(file, "; %s; ", how.s);
        page_text_(file, data->v.reason);           /* may name a machine                         */
        fprintf(file, ". %s", found.s);
        fputs("</p>\n", file);
        if (k == 0 || report->plan.kind[k] != report->plan.kind[0]) {
            fputs("<div class=\"plots\">\n", file);
            page_distribution_(file, data);
            if (data->how == AB_HOW_PAIRS || data->how == AB_HOW_RUNS)
                page_pairs_(file, data);
            else
                page_halves_(file, data);
            fputs("</div>\n", file);
        }
    }
    if (*row->settle) {
        fputs("<p>To settle it: ", file);
        page_text_(file, row->settle);
        fputs(".</p>\n", file);
    }
    fputs("</section>\n", file);
}

PERF_FN void page_head_(FILE *file, const ab_report *report)
{
    int k;

    fprintf(file,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
            "name=\"viewport\" "
            "content=\"width=device-width\">\n<title>perf-ab: %s</title>\n<style>\n",
            perf_decision_text(report->decision));
    fputs(page_style_, file);
    fprintf(file, "</style></head><body>\n<h1><span class=\"%s\">%s</span></h1>\n<p>",
            perf_decision_text(report->decision), perf_decision_text(report->decision));
    fprintf(file, "%zu benchmark%s: %zu ACCEPT, %zu REJECT, %zu INCONCLUSIVE", report->n,
            report->n == 1 ? "" : "s", report->count[PERF_ACCEPT], report->count[PERF_REJECT],
            report->count[PERF_INCONCLUSIVE]);
    if (report->judged > 1)
        fprintf(file,
                "; with Holm's correction over %zu, so that the chance of any false "
                "answer among them stays below %.3g %%",
                report->judged, (1.0 - report->plan.confidence) * 100.0);
    fputs(".</p>\n<p>Asked: ", file);
    for (k = 0; k < report->plan.rules; k++) {
        ab_text text = ab_rule_text(&report->plan.rule[k]);
        fputs(k ? " <b>and</b> " : "", file);
        page_text_(file, text.s);
    }
    fprintf(file, ". Intervals hold with %g %%.</p>\n", report->plan.confidence * 100.0);
    for (k = 0; k < 2; k++) {
        fprintf(file, "<p><span class=\"key k%c\"></span>%s: ", 'a' + k,
                k ? "after, B" : "before, A");
        page_text_(file, report->name[k]);
        fprintf(file, " <span class=\"soft\">(%s)</span></p>\n", report->format[k]);
    }
}

/* What is not used, below the table. */
PERF_FN void page_notes_(FILE *file, const ab_report *report)
{
    size_t i;

    if (report->fresh)
        fprintf(file, "<p>%zu only in B, not judged.</p>\n", report->fresh);
    for (i = 0; i < report->about.notes; i++) {
        fputs(i ? "<li>" : "<p>Not used, or odd:</p>\n<ul><li>", file);
        page_text_(file, report->about.note[i].where);
        fputs(": ", file);
        page_text_(file, report->about.note[i].what);
        fprintf(file, " (%zu)</li>\n", report->about.note[i].count);
    }
    if (report->about.notes)
        fputs("</ul>\n", file);
}

PERF_FN void ab_print_page(FILE *file, const ab_report *report)
{
    ab_forest  forest = ab_forest_of(report);
    page_scale scale = {forest.low, forest.high, 8.0, 252.0};
    unsigned char *plotted = page_plotted_(report);
    size_t     i;
    int        k;

    page_head_(file, report);
    fprintf(file,
            "<table><thead><tr><th>benchmark</th>%s<th class=\"n\">before</th><th "
            "class=\"n\">after</th>"
            "<th>change [interval]</th><th class=\"f\">",
            report->plan.rules > 1 ? "<th>metric</th>" : "");
    page_forest_axis_(file, &forest, &scale);
    fputs("</th><th>verdict</th></tr></thead><tbody>\n", file);
    for (i = 0; i < report->n; i++)
        for (k = 0; k < (report->row[i].missing ? 1 : report->plan.rules); k++)
            page_row_(file, report, i, k, &scale, plotted[i]);
    page_mean_(file, report, &scale);
    fputs("</tbody></table>\n<p class=\"note\">Solid line: no change. Dashed line: the threshold; "
          "an interval wholly on one side of it decides. Arrow: it goes on beyond the scale."
          "</p>\n", file);
    page_notes_(file, report);
    page_usage_(file, report);
    for (i = 0; i < report->n; i++)
        if (plotted[i])
            page_details_(file, report, i);
    if (report->n > PAGE_DETAILS)
        fprintf(file, "<p class=\"note\">There are plots for %d benchmarks: those with REJECT "
                "first, then in the order of the table.</p>\n", PAGE_DETAILS);
    free(plotted);
    fputs("</body></html>\n", file);
}

#endif
