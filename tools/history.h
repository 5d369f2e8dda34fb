/* history.h - perf-ab history: the medians of many runs, one line a benchmark and machine.
 *
 *     perf-ab history baseline.json            runs of one file
 *     perf-ab history night-*.json --json -    or of many, in the order of time
 *
 * It shows, and judges nothing: which change is one, statistics has to say (docs/perf-ab.md).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_HISTORY_H
#define PERF_TOOLS_HISTORY_H

#include "judge.h"
#include "read.h"
#include "say.h"
#include "write.h"

enum { HISTORY_POINTS = 40 };           /* of a curve in a terminal                               */

typedef struct history_point {
    double        time, median;         /* time: seconds since the epoch; 0: not known            */
    const ab_run *run;
    size_t        number;               /* its place in the files                                 */
} history_point;

typedef struct history_row {            /* one benchmark on one machine                           */
    const ab_series *s;
    const char      *machine;           /* "": not known                                          */
    history_point   *point;             /* in the order of time                                   */
    size_t           n;
    double           change;            /* last median over that of the runs before it            */
} history_row;

typedef struct history {
    ab_set       set;
    history_row *row;
    size_t       n, machines;           /* machines: different ones                               */
    const char **file;
    size_t       files;
    const char  *json;                  /* where the JSON goes; NULL: nowhere                     */
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

/* What changed most comes first. */
PERF_FN int history_by_change(const void *a_, const void *b_)
{
    const history_row *a = (const history_row *)a_, *b = (const history_row *)b_;
    const double       of_a = ab_abs(perf_log_(a->change)), of_b = ab_abs(perf_log_(b->change));

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
        p.number = i;
        dated &= p.time > 0.0;
        r->point[r->n++] = p;
    }
    if (dated && r->n)
        qsort(r->point, r->n, sizeof *r->point, history_by_time);
    r->change = history_change(r);
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
        ab_json_member_(f, "change", r->change, ",\n     \"runs\": [");
        for (k = 0; k < r->n; k++) {
            const history_point *p = &r->point[k];
            fputs(k ? ",\n       {\"run\": " : "\n       {\"run\": ", f);
            ab_print_json(f, p->run->id ? p->run->id : "");
            fputs(", ", f);
            ab_json_member_(f, "time", p->time > 0.0 ? p->time : PERF_NAN_, ", ");
            ab_json_member_(f, "median", p->median, "}");
        }
        fputs("]}", f);
    }
    fputs("\n  ]\n}\n", f);
}

/* ---- the command ---- */

PERF_FN int history_options(history *h, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--json") && i + 1 < argc)
            h->json = argv[++i];
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
    for (i = 0; i < h->files; i++) {
        snprintf(id, sizeof id, "%zu", i + 1);
        if (ab_read_file(&one, h->file[i], &o, &e) < 0) {
            ab_set_free(&one);
            return unusable(&e);
        }
        say_left_out(&one, "shown");
        if (ab_absorb(&h->set, &one, i + 1, h->file[i], &e) < 0)
            return unusable(&e);
    }
    return 0;
}

/* Writes what is asked for.  An exit status. */
PERF_FN int history_write(const history *h)
{
    perf_file_ out;

    if (!h->json || strcmp(h->json, "-") != 0)
        history_table(stdout, h);
    if (h->json && !strcmp(h->json, "-"))
        history_json(stdout, h);
    if (h->json && strcmp(h->json, "-") != 0) {
        if (!ab_begin_file(&out, h->json))
            return unwritten(h->json);
        history_json(out.file, h);
        if (ab_end_file(&out, h->json))
            return unwritten(h->json);
    }
    return written();
}

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
        status = history_write(&h);
    }
    for (i = 0; i < h.n; i++)
        free(h.row[i].point);
    free(h.row);
    ab_set_free(&h.set);
    free(h.file);
    return status;
}

#endif
