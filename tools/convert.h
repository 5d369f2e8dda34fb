/* convert.h - perf-ab convert: measurements in the formats of other tools, histograms as text.
 *
 *     perf-ab convert results.json --to go             google, openmetrics, csv, results
 *     perf-ab convert latency.hlog --to percentiles    bars, prometheus, otlp
 *
 * What a format cannot say is named on standard error.  To add a format: a row in convert_way.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_CONVERT_H
#define PERF_TOOLS_CONVERT_H

#include "judge.h"
#include "ranks.h"
#include "read.h"
#include "say.h"
#include "write.h"

#include "hist_text.h"
#include "perf_hlog.h"

#include <inttypes.h>
#include <time.h>

typedef struct converting {
    const char  *to, *out, *name, *unit;            /* name, unit: of a histogram                 */
    const char **file;
    size_t       files;
    ab_set       set;
    ab_scopes    scopes;
    perf_hist   *hist;                  /* all intervals of all logs; NULL: no logs               */
    double       begin, end;            /* of the logs, seconds since the epoch                   */
    FILE        *f;                     /* where it goes                                          */
    size_t       entries;               /* written so far                                         */
} converting;

/* ---- arms: a pair is two benchmarks where formats know no pairs ---- */

typedef struct convert_arm {
    const ab_series *s;
    const ab_run    *run;
    const ab_values *v;
    const char      *suffix;            /* "", "/baseline", "/candidate"                          */
} convert_arm;

/* Calls `each` for every run and side that has values. */
PERF_FN void convert_arms(converting *c, void (*each)(converting *, const convert_arm *))
{
    static const char *const suffix[] = {"/baseline", "/candidate"};
    size_t      i, k;
    int         side, sides;
    convert_arm a;

    for (i = 0; i < c->set.n; i++)
        for (k = 0; k < c->set.s[i].runs; k++) {
            a.s = &c->set.s[i];
            a.run = &a.s->run[k];
            sides = a.s->design == AB_PAIRS ? 2 : 1;
            for (side = 0; side < sides; side++) {
                a.v = &a.run->v[side];
                a.suffix = sides == 2 ? suffix[side] : "";
                if (a.v->n)
                    each(c, &a);
            }
        }
}

/* A count of zero is kept as half a unit: what it was. */
PERF_FN double convert_value(const convert_arm *a, size_t i)
{
    const int none = a->s->zeros && a->v->x[i] <= AB_ZERO_COUNT;

    return none ? 0.0 : a->v->x[i];
}

/* Names how many benchmarks are no times, for formats that hold times only. */
PERF_FN void convert_only_times(const converting *c)
{
    size_t i, n = 0;

    for (i = 0; i < c->set.n; i++)
        n += ab_unit_kind(c->set.s[i].unit) != AB_TIME && c->set.s[i].runs;
    if (n)
        fprintf(stderr, "perf-ab: not converted: %zu benchmark%s whose figures are no times\n", n,
                n > 1 ? "s" : "");
}

/* ---- Google Benchmark ---- */

PERF_FN void convert_google_arm(converting *c, const convert_arm *a)
{
    size_t i, size = strlen(a->s->name) + strlen(a->suffix) + 1;
    char  *name;

    if (ab_unit_kind(a->s->unit) != AB_TIME)
        return;
    name = (char *)ab_grow(NULL, size, 1);
    snprintf(name, size, "%s%s", a->s->name, a->suffix);
    for (i = 0; i < a->v->n; i++) {
        fputs(c->entries++ ? ",\n  {\"name\": " : "\n  {\"name\": ", c->f);
        ab_print_json(c->f, name);
        fputs(", \"run_name\": ", c->f);
        ab_print_json(c->f, name);
        fprintf(c->f, ", \"run_type\": \"iteration\", \"repetitions\": %zu, "
                "\"repetition_index\": %zu, \"threads\": 1, \"iterations\": 1, ", a->v->n, i);
        ab_json_member_(c->f, "real_time", a->v->x[i], ", ");
        ab_json_member_(c->f, "cpu_time", a->v->x[i], ", \"time_unit\": \"ns\"}");
    }
    free(name);
}

/* When and where the first run that says it was; NULL: none does. */
PERF_FN const ab_run *convert_dated(const ab_set *set)
{
    size_t i, k;

    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs; k++)
            if (set->s[i].run[k].time > 0.0)
                return &set->s[i].run[k];
    return NULL;
}

PERF_FN int convert_google(converting *c)
{
    const ab_run *run = convert_dated(&c->set);
    const time_t  when = run ? (time_t)run->time : 0;
    char          date[40] = "";

    if (run && !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", gmtime(&when)))
        *date = '\0';
    fputs("{\"context\": {\"date\": ", c->f);
    ab_print_json(c->f, date);
    fputs(", \"host_name\": ", c->f);
    ab_print_json(c->f, run && run->machine ? run->machine : "");
    fputs(", \"caches\": [], \"library_version\": \"perf-ab convert\"},\n\"benchmarks\": [", c->f);
    convert_arms(c, convert_google_arm);
    fputs("\n]}\n", c->f);
    convert_only_times(c);
    return 0;
}

/* ---- Go: what benchstat reads ---- */

/* A text as one word: blanks, also those beyond ASCII, and what may not be shown become '_'. */
PERF_FN void convert_word(FILE *f, const char *s, int upper)
{
    size_t n;
    int    safe, blank;

    for (; *s; s += n, upper = 0) {
        n = ab_character(s, &safe);
        blank = *s == ' ' || !strncmp(s, "\xc2\xa0", 2) || !strncmp(s, "\xe2\x80", 2) ||
                !strncmp(s, "\xe3\x80\x80", 3);
        if (blank || !safe)
            putc('_', f);
        else if (upper && *s >= 'a' && *s <= 'z')
            putc(*s - 32, f);
        else
            fwrite(s, 1, n, f);
    }
}

PERF_FN void convert_go_arm(converting *c, const convert_arm *a)
{
    const char *unit = *a->s->unit ? a->s->unit : "value";
    const int   per_second = !strcmp(unit, "B/s");
    size_t      i;
    double      x;

    for (i = 0; i < a->v->n; i++) {
        fputs("Benchmark", c->f);
        convert_word(c->f, a->s->name, 1);
        fprintf(c->f, "%s\t1\t", a->suffix);
        x = convert_value(a, i);
        ab_print_json_number(c->f, per_second ? x / 1e6 : x);
        putc(' ', c->f);
        convert_word(c->f, per_second ? "MB/s" : unit, 0);
        fputs(!strcmp(unit, "ns") || !strcmp(unit, "B") ? "/op\n" : "\n", c->f);
    }
}

PERF_FN int convert_go(converting *c)
{
    convert_arms(c, convert_go_arm);
    return 0;
}

/* ---- OpenMetrics ---- */

enum { CONVERT_BOUNDS = 31 };           /* 1e-8, 2e-8, 5e-8, 1e-7 ... 100 seconds                 */

PERF_FN double convert_bound(int i)
{
    static const double step[] = {1.0, 2.0, 5.0};
    double x = step[i % 3];
    int    power;

    for (power = i / 3; power < 8; power++)
        x /= 10.0;
    for (; power > 8; power--)
        x *= 10.0;
    return x;
}

/* name{label="text"} x, with `more` labels behind. */
PERF_FN void convert_sample(FILE *f, const char *series, const char *text, const char *more,
                            double x)
{
    size_t n;
    int    safe;

    fprintf(f, "%s=\"", series);
    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (*text == '\n')
            fputs("\\n", f);
        else if (!safe)
            putc('?', f);
        else if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else
            fwrite(text, 1, n, f);
    }
    fprintf(f, "%s\"} ", more);
    ab_print_json_number(f, x);
    putc('\n', f);
}

PERF_FN void convert_family(FILE *f, const char *name, const char *type, const char *help)
{
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n# UNIT %s seconds\n", name, help, name, type, name);
}

/* One scope, added up over the runs s[0 .. n). */
PERF_FN void convert_scope(FILE *f, const char *family, const ab_scope *s, size_t n)
{
    double count[CONVERT_BOUNDS + 1] = {0.0}, calls = 0.0, total = 0.0, seconds;
    char   series[80], bound[60];
    size_t i, k;
    int    at;

    for (i = 0; i < n; i++) {
        total += s[i].total * 1e-9;
        for (k = 0; k < json_array_size(s[i].buckets); k++) {
            const json_t *b = json_array_get(s[i].buckets, k);
            seconds = json_number_value(json_array_get(b, 0)) * 1e-9;
            for (at = 0; at < CONVERT_BOUNDS && seconds > convert_bound(at); at++)
                continue;
            count[at] += json_number_value(json_array_get(b, 1));
        }
    }
    snprintf(series, sizeof series, "%s_bucket{scope", family);
    for (at = 0; at <= CONVERT_BOUNDS; at++) {
        calls += count[at];
        if (at == CONVERT_BOUNDS)
            snprintf(bound, sizeof bound, "\",le=\"+Inf");
        else
            snprintf(bound, sizeof bound, "\",le=\"%.15g%s", convert_bound(at),
                     convert_bound(at) >= 1.0 ? ".0" : "");
        convert_sample(f, series, s->name, bound, calls);
    }
    snprintf(series, sizeof series, "%s_count{scope", family);
    convert_sample(f, series, s->name, "", calls);
    snprintf(series, sizeof series, "%s_sum{scope", family);
    convert_sample(f, series, s->name, "", total);
}

/* The scopes of a kind, or of another, as one family. */
PERF_FN void convert_scopes(converting *c, const char *family, const char *help, int async)
{
    const ab_scope *s = c->scopes.s;
    size_t          i, end, some = 0;
    int             is_async;

    for (i = 0; i < c->scopes.n; i = end) {
        for (end = i + 1; end < c->scopes.n && !strcmp(s[end].name, s[i].name) &&
                          !strcmp(s[end].kind, s[i].kind); end++)
            continue;
        is_async = !strcmp(s[i].kind, "async");
        if (!json_array_size(s[i].buckets) || is_async != async ||
            !strcmp(s[i].kind, "counter") || !strcmp(s[i].kind, "instant"))
            continue;
        if (!some++)
            convert_family(c->f, family, "histogram", help);
        convert_scope(c->f, family, &s[i], end - i);
    }
}

/* The median of all runs of a benchmark. */
PERF_FN void convert_median(converting *c, const ab_series *s, int side, const char *suffix)
{
    ab_data d;

    memset(&d, 0, sizeof d);
    ab_flat_(&d, 0, s, side);
    if (d.n[0] && !c->entries++)
        convert_family(c->f, "perf_benchmark_seconds", "gauge", "Median time of one iteration.");
    if (d.n[0])
        convert_sample(c->f, "perf_benchmark_seconds{benchmark", s->name, suffix,
                       ab_statistic(d.x[0], d.n[0], PERF_METRIC_P50) * 1e-9);
    if (d.own[0])
        free(d.x[0]);
}

PERF_FN int convert_openmetrics(converting *c)
{
    size_t i;

    if (c->scopes.n)
        qsort(c->scopes.s, c->scopes.n, sizeof *c->scopes.s, ab_by_scope_);
    convert_scopes(c, "perf_scope_seconds", "Time between the begin and the end of a scope.", 0);
    convert_scopes(c, "perf_async_seconds",
                   "Time between the begin and the end of an asynchronous span.", 1);
    for (i = 0; i < c->set.n; i++) {
        const ab_series *s = &c->set.s[i];
        if (ab_unit_kind(s->unit) != AB_TIME || !s->runs)
            continue;
        convert_median(c, s, 0, s->design == AB_PAIRS ? "/baseline" : "");
        if (s->design == AB_PAIRS)
            convert_median(c, s, 1, "/candidate");
    }
    fputs("# EOF\n", c->f);
    convert_only_times(c);
    return 0;
}

/* ---- CSV, and our own results ---- */

PERF_FN void convert_csv_arm(converting *c, const convert_arm *a)
{
    size_t i, size = strlen(a->s->name) + strlen(a->suffix) + 1;
    char  *name = (char *)ab_grow(NULL, size, 1);

    snprintf(name, size, "%s%s", a->s->name, a->suffix);
    for (i = 0; i < a->v->n; i++) {
        ab_csv_text_(c->f, name);
        putc(',', c->f);
        ab_csv_text_(c->f, a->s->unit);
        putc(',', c->f);
        ab_csv_text_(c->f, a->run->id ? a->run->id : "");
        putc(',', c->f);
        ab_print_json_number(c->f, convert_value(a, i));
        putc('\n', c->f);
    }
    free(name);
}

PERF_FN int convert_csv(converting *c)
{
    fputs("name,unit,run,value\n", c->f);
    convert_arms(c, convert_csv_arm);
    return 0;
}

PERF_FN int convert_results(converting *c)
{
    ab_list_runs(&c->scopes, &c->set);
    ab_print_results_begin(c->f, &c->set);
    ab_print_scopes_json(c->f, &c->scopes);
    fputs("\n}\n", c->f);
    return 0;
}

/* ---- histograms ---- */

/* Ten levels for each halving of the distance to 100 %, as HdrHistogram prints them. */
PERF_FN int convert_percentiles(converting *c)
{
    ab_hist_level level = PERF_ZERO;

    fprintf(c->f, "%16s %14s %12s %16s\n", "value", "percentile", "count", "1/(1-percentile)");
    while (ab_hist_next_level(c->hist, &level, 5)) {
        fprintf(c->f, "%16.3f %14.10f %12" PRIu64, level.value, level.quantile, level.count);
        if (level.quantile < 1.0)
            fprintf(c->f, " %16.2f\n", 1.0 / (1.0 - level.quantile));
        else
            fputs("              inf\n", c->f);
    }
    fprintf(c->f, "# mean %.3f, standard deviation %.3f, maximum %.3f, count %" PRIu64 "\n",
            perf_hist_mean(c->hist), perf_hist_std(c->hist), perf_hist_quantile(c->hist, 1.0),
            perf_hist_count(c->hist));
    return 0;
}

enum { CONVERT_TEXT = 1 << 16 };

PERF_FN int convert_bars(converting *c)
{
    char *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);

    ab_hist_bars_text(text, CONVERT_TEXT, c->hist, 0, 0, 0);
    fputs(text, c->f);
    free(text);
    return 0;
}

PERF_FN int convert_prometheus(converting *c)
{
    char  *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);
    size_t n = ab_hist_prometheus_text(text, CONVERT_TEXT, c->hist, c->name);

    if (n)
        fprintf(c->f, "%s# EOF\n", text);
    free(text);
    return n ? 0 : usage_error("no name of a metric: --name", c->name);
}

PERF_FN int convert_otlp(converting *c)
{
    char    *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);
    uint64_t begin = (uint64_t)(c->begin * 1e9), end = (uint64_t)(c->end * 1e9);
    size_t   n = ab_hist_otlp_text(text, CONVERT_TEXT, c->hist, c->name, c->unit, begin, end);

    if (n)
        fprintf(c->f, "%s\n", text);
    free(text);
    return n ? 0 : usage_error("a histogram needs a name: --name", "");
}

/* ---- logs of histograms, read ---- */

typedef struct convert_shape {          /* what holds all intervals of all logs                   */
    int    digits;                      /* the fewest of them                                     */
    double unit;                        /* 0: none was read                                       */
} convert_shape;

/* The intervals of a log: into `hist`, or with NULL only looked at.  -1 with a message. */
PERF_FN int convert_log(converting *c, const char *file, perf_hist *hist, convert_shape *shape,
                        ab_error *e)
{
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv = PERF_ZERO;
    perf_status        status;
    size_t             len = 0;
    char              *text = ab_slurp(file, &len, e);
    double             begin;

    r.text = text;
    r.size = len;
    if (!text)
        return -1;
    while ((status = perf_hlog_next(&r, &iv, hist)) == PERF_OK) {
        shape->digits = iv.digits < shape->digits ? iv.digits : shape->digits;
        if (shape->unit > 0.0 && (iv.ratio > shape->unit || iv.ratio < shape->unit))
            break;
        shape->unit = iv.ratio;
        begin = r.start_seconds + r.base_seconds + iv.start_seconds;
        if (!(c->begin > 0.0) || begin < c->begin)
            c->begin = begin;
        if (begin + iv.length_seconds > c->end)
            c->end = begin + iv.length_seconds;
    }
    free(text);
    if (status == PERF_OK)
        return ab_fail(e, file, 0, 0, "its intervals have different units");
    if (status == PERF_ENODATA)
        return 0;
    return ab_fail(e, file, 0, 0, "byte %zu: no line of a histogram log (%s)", r.error_at,
                   perf_status_text(status));
}

/* Bits that keep as many digits. */
PERF_FN int convert_bits(int digits)
{
    static const int bits[] = {-1, 4, 7, 10, 14, 14};
    return bits[digits < 0 || digits > 5 ? 3 : digits];
}

/* Reads all logs into one histogram.  -1 with a message. */
PERF_FN int convert_logs(converting *c, ab_error *e)
{
    convert_shape  shape = {5, 0.0};
    perf_hist_opts o = PERF_ZERO;
    size_t         i, bytes;

    for (i = 0; i < c->files; i++)
        if (convert_log(c, c->file[i], NULL, &shape, e) < 0)
            return -1;
    if (!(shape.unit > 0.0))
        return ab_fail(e, c->file[0], 0, 0, "no interval of a histogram log (.hlog)");
    o.bits = convert_bits(shape.digits);
    o.counter_bytes = 8;
    o.highest = UINT64_C(1) << 62;
    o.unit = shape.unit;
    bytes = perf_hist_bytes(&o);
    c->hist = perf_hist_init(ab_grow(NULL, bytes, 1), bytes, &o);
    for (i = 0; i < c->files; i++)
        if (convert_log(c, c->file[i], c->hist, &shape, e) < 0)
            return -1;
    return 0;
}

/* Reads all files of measurements.  -1 with a message. */
PERF_FN int convert_read(converting *c, ab_error *e)
{
    ab_read_opts o;
    ab_set       one;
    size_t       i, len;
    char        *text, id[32];
    int          measured, found, failed = 0;

    memset(&o, 0, sizeof o);
    memset(&one, 0, sizeof one);
    o.every = 1;
    for (i = 0; i < c->files && !failed; i++) {
        snprintf(id, sizeof id, "%zu", i + 1);
        o.run = c->files > 1 ? id : NULL;
        text = ab_slurp(c->file[i], &len, e);
        if (!text)
            return -1;
        found = ab_read_scopes(&c->scopes, c->file[i], text, len, i + 1, NULL, &measured, e);
        failed = found < 0;
        if (!failed && (measured || !found))
            failed = ab_read(&one, c->file[i], text, len, &o, e);
        if (!failed) {
            say_left_out(&one, "converted");
            failed = ab_absorb(&c->set, &one, i + 1, c->file[i], e);
        }
        ab_set_free(&one);
        free(text);
    }
    return failed ? -1 : 0;
}

/* ---- the command ---- */

typedef struct convert_row {
    const char *to;
    int       (*write)(converting *);               /* returns 0, or the exit status              */
    int         logs;                               /* 1: reads .hlog                             */
} convert_row;

static const convert_row convert_way[] = {
    {"google", convert_google, 0},
    {"go", convert_go, 0},
    {"openmetrics", convert_openmetrics, 0},
    {"csv", convert_csv, 0},
    {"results", convert_results, 0},
    {"percentiles", convert_percentiles, 1},
    {"bars", convert_bars, 1},
    {"prometheus", convert_prometheus, 1},
    {"otlp", convert_otlp, 1},
};

/* The way to a format; NULL: there is none. */
PERF_FN const convert_row *convert_to(const char *to)
{
    size_t i;

    for (i = 0; i < sizeof convert_way / sizeof *convert_way; i++)
        if (to && !strcmp(convert_way[i].to, to))
            return &convert_way[i];
    return NULL;
}

PERF_FN int convert_options(converting *c, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const int    more = i + 1 < argc;
        const char **value = NULL;
        if (!strcmp(argv[i], "--to"))
            value = &c->to;
        else if (!strcmp(argv[i], "-o"))
            value = &c->out;
        else if (!strcmp(argv[i], "--name"))
            value = &c->name;
        else if (!strcmp(argv[i], "--unit"))
            value = &c->unit;
        if (value && !more)
            return usage_error("its value is missing:", argv[i]);
        if (value)
            *value = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option:", argv[i]);
        else
            c->file[c->files++] = argv[i];
    }
    if (!c->files)
        return usage_error("nothing to convert", "");
    if (!convert_to(c->to))
        return usage_error("--to google, go, openmetrics, csv, results, percentiles, bars, "
                           "prometheus or otlp, not", c->to ? c->to : "nothing");
    return 0;
}

/* Reads, then writes to a file or standard output.  An exit status. */
PERF_FN int convert_all(converting *c)
{
    const convert_row *way = convert_to(c->to);
    const int          to_stdout = !strcmp(c->out, "-");
    perf_file_         out;
    ab_error           e;
    int                status;

    if ((way->logs ? convert_logs(c, &e) : convert_read(c, &e)) < 0)
        return unusable(&e);
    c->f = to_stdout ? stdout : ab_begin_file(&out, c->out);
    if (!c->f)
        return unwritten(c->out);
    status = way->write(c);
    if (to_stdout)
        return status ? status : written();
    if (status) {
        perf_file_end_(&out, c->out, 0);
        return status;
    }
    return ab_end_file(&out, c->out) ? unwritten(c->out) : 0;
}

PERF_FN int convert(int argc, char **argv)
{
    converting c;
    int        status;

    memset(&c, 0, sizeof c);
    c.out = "-";
    c.name = "values";
    c.unit = "ns";
    c.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *c.file);
    status = convert_options(&c, argc, argv);
    if (!status)
        status = convert_all(&c);
    ab_set_free(&c.set);
    ab_scopes_free(&c.scopes);
    free(c.hist);
    free(c.file);
    return status;
}

#endif
