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
    ab_set       set, alone;            /* alone: names of those of which there are no pairs      */
    ab_scopes    scopes;
    perf_hist   *hist;                  /* all intervals of all logs; NULL: no logs               */
    double       begin, end;            /* of the logs, seconds since the epoch                   */
    FILE        *f;                     /* where it goes                                          */
    size_t       entries;               /* written so far                                         */
    ab_set       words, taken;          /* of Go: its word for each name, as names; these words   */
} converting;

/* ---- arms: a pair is two benchmarks where formats know no pairs ---- */

typedef struct convert_arm {
    const ab_series *s;
    const ab_run    *run;
    const ab_values *v;
    const char      *suffix;            /* see convert_suffix_of                                  */
} convert_arm;

typedef struct convert_suffix {
    char s[40];
} convert_suffix;

/* What stands behind the name of one side: "" of no pairs, "/baseline" and "/candidate"; with a
 * number where a benchmark has such a name.                                                      */
PERF_FN convert_suffix convert_suffix_of(const converting *conversion, const ab_series *series,
                                         int side)
{
    static const char *const word[] = {"/baseline", "/candidate"};
    convert_suffix text = {""};
    size_t         number = 1, size = strlen(series->name) + sizeof text.s;
    char          *whole;

    if (series->design != AB_PAIRS)
        return text;
    whole = (char *)ab_grow(NULL, size, 1);
    snprintf(text.s, sizeof text.s, "%s", word[side]);
    for (;;) {
        snprintf(whole, size, "%s%s", series->name, text.s);
        if (!ab_find(&conversion->alone, whole))
            break;
        snprintf(text.s, sizeof text.s, "%s-%zu", word[side], ++number);
    }
    free(whole);
    return text;
}

/* Calls `each` for every run and side that has values. */
PERF_FN void convert_arms(converting *conversion, void (*each)(converting *, const convert_arm *))
{
    convert_suffix suffix[2];
    size_t         i, k;
    int            side, sides;
    convert_arm    arm;

    for (i = 0; i < conversion->set.n; i++) {
        arm.s = &conversion->set.s[i];
        sides = arm.s->design == AB_PAIRS ? 2 : 1;
        for (side = 0; side < sides; side++)
            suffix[side] = convert_suffix_of(conversion, arm.s, side);
        for (k = 0; k < arm.s->runs; k++) {
            arm.run = &arm.s->run[k];
            for (side = 0; side < sides; side++) {
                arm.v = &arm.run->v[side];
                arm.suffix = suffix[side].s;
                if (arm.v->n)
                    each(conversion, &arm);
            }
        }
    }
}

/* A count of zero is kept as half a unit: what it was. */
PERF_FN double convert_value(const convert_arm *arm, size_t i)
{
    return ab_is_zero(arm->s, arm->v->x[i]) ? 0.0 : arm->v->x[i];
}

/* Names how many benchmarks are no times, for formats that hold times only. */
PERF_FN void convert_only_times(const converting *conversion)
{
    size_t i, n = 0;

    for (i = 0; i < conversion->set.n; i++)
        n += ab_unit_kind(conversion->set.s[i].unit) != AB_TIME && conversion->set.s[i].runs;
    if (n)
        fprintf(stderr, "perf-ab: not converted: %zu benchmark%s whose figures are no times\n", n,
                n > 1 ? "s" : "");
}

/* ---- Google Benchmark ---- */

PERF_FN void convert_google_arm(converting *conversion, const convert_arm *arm)
{
    size_t i, size = strlen(arm->s->name) + strlen(arm->suffix) + 1;
    char  *name;

    if (ab_unit_kind(arm->s->unit) != AB_TIME)
        return;
    name = (char *)ab_grow(NULL, size, 1);
    snprintf(name, size, "%s%s", arm->s->name, arm->suffix);
    for (i = 0; i < arm->v->n; i++) {
        fputs(conversion->entries++ ? ",\n  {\"name\": " : "\n  {\"name\": ", conversion->f);
        ab_print_json(conversion->f, name);
        fputs(", \"run_name\": ", conversion->f);
        ab_print_json(conversion->f, name);
        fprintf(conversion->f, ", \"run_type\": \"iteration\", \"repetitions\": %zu, "
                "\"repetition_index\": %zu, \"threads\": 1, \"iterations\": 1, ", arm->v->n, i);
        ab_json_member_(conversion->f, "real_time", arm->v->x[i], ", ");
        ab_json_member_(conversion->f, "cpu_time", arm->v->x[i], ", \"time_unit\": \"ns\"}");
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

PERF_FN int convert_google(converting *conversion)
{
    const ab_run *run = convert_dated(&conversion->set);
    const time_t  when = run && run->time < 2e11 ? (time_t)run->time : 0;
    char          date[40] = "";

    if (run && run->time < 2e11 &&
        !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", gmtime(&when)))
        *date = '\0';
    fputs("{\"context\": {\"date\": ", conversion->f);
    ab_print_json(conversion->f, date);
    fputs(", \"host_name\": ", conversion->f);
    ab_print_json(conversion->f, run && run->machine ? run->machine : "");
    fputs(", \"caches\": [], \"library_version\": \"perf-ab convert\"},\n\"benchmarks\": [",
          conversion->f);
    convert_arms(conversion, convert_google_arm);
    fputs("\n]}\n", conversion->f);
    convert_only_times(conversion);
    return 0;
}

/* ---- Go: what benchstat reads ---- */

/* A text as one word, to be freed: blanks, also those beyond ASCII, and what may not be shown become
 * '_'.                                                                                           */
PERF_FN char *convert_word(const char *text, int upper)
{
    char  *word = (char *)ab_grow(NULL, strlen(text) + 32, 1);
    size_t len = 0, n;
    int    safe, blank;

    for (; *text; text += n) {
        n = ab_character(text, &safe);
        blank = *text == ' ' || !strncmp(text, "\xc2\xa0", 2) || !strncmp(text, "\xe2\x80", 2) ||
                !strncmp(text, "\xe3\x80\x80", 3);
        if (blank || !safe) {
            word[len++] = '_';
            continue;
        }
        memcpy(word + len, text, n);
        len += n;
    }
    word[len] = '\0';
    if (upper && *word >= 'a' && *word <= 'z')
        *word = (char)(*word - 32);
    return word;
}

/* The word of a benchmark's name: of "copy" and "Copy" the second gets a number, as Go does it. */
PERF_FN const char *convert_go_name(converting *conversion, const char *name)
{
    const ab_series *known = ab_find(&conversion->words, name);
    char            *word;
    size_t           len, k;

    if (known)
        return known->name;
    word = convert_word(name, 1);
    len = strlen(word);
    for (k = 1; ab_find(&conversion->taken, word); k++)
        snprintf(word + len, 30, "#%02zu", k);
    ab_series_of(&conversion->taken, word);
    known = ab_series_by(&conversion->words, name, word);
    free(word);
    return known->name;
}

PERF_FN void convert_go_arm(converting *conversion, const convert_arm *arm)
{
    const char *unit = *arm->s->unit ? arm->s->unit : "value";
    const char *name = convert_go_name(conversion, arm->s->name);
    const int   per_second = !strcmp(unit, "B/s");
    char       *word = convert_word(per_second ? "MB/s" : unit, 0);
    size_t      i;
    double      x;

    for (i = 0; i < arm->v->n; i++) {
        fprintf(conversion->f, "Benchmark%s%s\t1\t", name, arm->suffix);
        x = convert_value(arm, i);
        ab_print_json_number(conversion->f, per_second ? x / 1e6 : x);
        fprintf(conversion->f, " %s%s\n", word,
                !strcmp(unit, "ns") || !strcmp(unit, "B") ? "/op" : "");
    }
    free(word);
}

PERF_FN int convert_go(converting *conversion)
{
    convert_arms(conversion, convert_go_arm);
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
PERF_FN void convert_sample(FILE *file, const char *series, const char *text, const char *more,
                            double x)
{
    size_t n;
    int    safe;

    fprintf(file, "%s=\"", series);
    for (; *text; text += n) {
        n = ab_character(text, &safe);
        if (*text == '\n')
            fputs("\\n", file);
        else if (!safe)
            putc('?', file);
        else if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else
            fwrite(text, 1, n, file);
    }
    fprintf(file, "%s\"} ", more);
    ab_print_json_number(file, x);
    putc('\n', file);
}

PERF_FN void convert_family(FILE *file, const char *name, const char *type, const char *help)
{
    fprintf(file, "# HELP %s %s\n# TYPE %s %s\n# UNIT %s seconds\n", name, help, name, type, name);
}

/* One scope, added up over the runs scope[0 .. n).  A wait, or a device's work, may have the name of
 * a scope: they have a label more.                                                               */
PERF_FN void convert_scope(FILE *file, const char *family, const ab_scope *scope, size_t n)
{
    static const char *const labelled[] = {"wait", "sync", "device", "copy in", "copy out", "copy"};
    double count[CONVERT_BOUNDS + 1] = {0.0}, calls = 0.0, total = 0.0, seconds;
    char   series[80], kind[40] = "", bound[100];
    size_t i, k;
    int    at;

    for (i = 0; i < n; i++) {
        total += scope[i].total * 1e-9;
        for (k = 0; k < json_array_size(scope[i].buckets); k++) {
            const json_t *bucket = json_array_get(scope[i].buckets, k);
            seconds = json_number_value(json_array_get(bucket, 0)) * 1e-9;
            for (at = 0; at < CONVERT_BOUNDS && seconds > convert_bound(at); at++)
                continue;
            count[at] += json_number_value(json_array_get(bucket, 1));
        }
    }
    for (i = 0; i < sizeof labelled / sizeof *labelled; i++)
        if (!strcmp(scope->kind, labelled[i]))
            snprintf(kind, sizeof kind, "\",kind=\"%s", labelled[i]);
    snprintf(series, sizeof series, "%s_bucket{scope", family);
    for (at = 0; at <= CONVERT_BOUNDS; at++) {
        calls += count[at];
        if (at == CONVERT_BOUNDS)
            snprintf(bound, sizeof bound, "%s\",le=\"+Inf", kind);
        else
            snprintf(bound, sizeof bound, "%s\",le=\"%.15g%s", kind, convert_bound(at),
                     convert_bound(at) >= 1.0 ? ".0" : "");
        convert_sample(file, series, scope->name, bound, calls);
    }
    snprintf(series, sizeof series, "%s_count{scope", family);
    convert_sample(file, series, scope->name, kind, calls);
    snprintf(series, sizeof series, "%s_sum{scope", family);
    convert_sample(file, series, scope->name, kind, total);
}

/* The scopes of a kind, or of another, as one family. */
PERF_FN void convert_scopes(converting *conversion, const char *family, const char *help, int async)
{
    const ab_scope *scope = conversion->scopes.s;
    size_t          i, end, some = 0;
    int             is_async;

    for (i = 0; i < conversion->scopes.n; i = end) {
        for (end = i + 1;
             end < conversion->scopes.n && !strcmp(scope[end].name, scope[i].name) &&
             !strcmp(scope[end].kind, scope[i].kind); end++)
            continue;
        is_async = !strcmp(scope[i].kind, "async");
        if (!json_array_size(scope[i].buckets) || is_async != async ||
            !strcmp(scope[i].kind, "counter") || !strcmp(scope[i].kind, "instant"))
            continue;
        if (!some++)
            convert_family(conversion->f, family, "histogram", help);
        convert_scope(conversion->f, family, &scope[i], end - i);
    }
}

/* The median of all runs of a benchmark. */
PERF_FN void convert_median(converting *conversion, const ab_series *series, int side)
{
    const convert_suffix suffix = convert_suffix_of(conversion, series, side);
    ab_data              data;

    memset(&data, 0, sizeof data);
    ab_flat_(&data, 0, series, side);
    if (data.n[0] && !conversion->entries++)
        convert_family(conversion->f, "perf_benchmark_seconds", "gauge",
                       "Median time of one iteration.");
    if (data.n[0])
        convert_sample(conversion->f, "perf_benchmark_seconds{benchmark", series->name, suffix.s,
                       ab_statistic(data.x[0], data.n[0], PERF_METRIC_P50) * 1e-9);
    if (data.own[0])
        free(data.x[0]);
}

PERF_FN int convert_openmetrics(converting *conversion)
{
    size_t i;

    if (conversion->scopes.n)
        qsort(conversion->scopes.s, conversion->scopes.n, sizeof *conversion->scopes.s,
              ab_by_scope_);
    convert_scopes(conversion, "perf_scope_seconds",
                   "Time between the begin and the end of a scope.", 0);
    convert_scopes(conversion, "perf_async_seconds",
                   "Time between the begin and the end of an asynchronous span.", 1);
    for (i = 0; i < conversion->set.n; i++) {
        const ab_series *series = &conversion->set.s[i];
        if (ab_unit_kind(series->unit) != AB_TIME || !series->runs)
            continue;
        convert_median(conversion, series, 0);
        if (series->design == AB_PAIRS)
            convert_median(conversion, series, 1);
    }
    fputs("# EOF\n", conversion->f);
    convert_only_times(conversion);
    return 0;
}

/* ---- CSV, and our own results ---- */

PERF_FN void convert_csv_arm(converting *conversion, const convert_arm *arm)
{
    size_t i, size = strlen(arm->s->name) + strlen(arm->suffix) + 1;
    char  *name = (char *)ab_grow(NULL, size, 1);

    snprintf(name, size, "%s%s", arm->s->name, arm->suffix);
    for (i = 0; i < arm->v->n; i++) {
        ab_csv_text_(conversion->f, name);
        putc(',', conversion->f);
        ab_csv_text_(conversion->f, arm->s->unit);
        putc(',', conversion->f);
        ab_csv_text_(conversion->f, arm->run->id ? arm->run->id : "");
        putc(',', conversion->f);
        ab_print_json_number(conversion->f, convert_value(arm, i));
        putc('\n', conversion->f);
    }
    free(name);
}

PERF_FN int convert_csv(converting *conversion)
{
    fputs("name,unit,run,value\n", conversion->f);
    convert_arms(conversion, convert_csv_arm);
    return 0;
}

PERF_FN int convert_results(converting *conversion)
{
    ab_list_runs(&conversion->scopes, &conversion->set);
    ab_print_results_begin(conversion->f, &conversion->set);
    ab_print_scopes_json(conversion->f, &conversion->scopes);
    fputs("\n}\n", conversion->f);
    return 0;
}

/* ---- histograms ---- */

/* Ten levels for each halving of the distance to 100 %, as HdrHistogram prints them. */
PERF_FN int convert_percentiles(converting *conversion)
{
    ab_hist_level level = PERF_ZERO;

    fprintf(conversion->f, "%16s %14s %12s %16s\n", "value", "percentile", "count",
            "1/(1-percentile)");
    while (ab_hist_next_level(conversion->hist, &level, 5)) {
        fprintf(conversion->f, "%16.3f %14.10f %12" PRIu64, level.value, level.quantile,
                level.count);
        if (level.quantile < 1.0)
            fprintf(conversion->f, " %16.2f\n", 1.0 / (1.0 - level.quantile));
        else
            fputs("              inf\n", conversion->f);
    }
    fprintf(conversion->f,
            "# mean %.3f, standard deviation %.3f, maximum %.3f, count %" PRIu64 "\n",
            perf_hist_mean(conversion->hist), perf_hist_std(conversion->hist),
            perf_hist_quantile(conversion->hist, 1.0), perf_hist_count(conversion->hist));
    return 0;
}

enum { CONVERT_TEXT = 1 << 16 };

PERF_FN int convert_bars(converting *conversion)
{
    char *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);

    ab_hist_bars_text(text, CONVERT_TEXT, conversion->hist, 0, 0, 0);
    fputs(text, conversion->f);
    free(text);
    return 0;
}

PERF_FN int convert_prometheus(converting *conversion)
{
    char  *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);
    size_t n = ab_hist_prometheus_text(text, CONVERT_TEXT, conversion->hist, conversion->name);

    if (n)
        fprintf(conversion->f, "%s# EOF\n", text);
    free(text);
    return n ? 0 : usage_error("no name of a metric: --name", conversion->name);
}

PERF_FN int convert_otlp(converting *conversion)
{
    char    *text = (char *)ab_grow(NULL, CONVERT_TEXT, 1);
    uint64_t begin = (uint64_t)(conversion->begin * 1e9), end = (uint64_t)(conversion->end * 1e9);
    size_t   n = ab_hist_otlp_text(text, CONVERT_TEXT, conversion->hist, conversion->name,
                                   conversion->unit, begin, end);

    if (n)
        fprintf(conversion->f, "%s\n", text);
    free(text);
    return n ? 0 : usage_error("a histogram needs a name: --name", "");
}

/* ---- logs of histograms, read ---- */

typedef struct convert_shape {          /* what holds all intervals of all logs                   */
    int    digits;                      /* the fewest of them                                     */
    double unit;                        /* 0: none was read                                       */
} convert_shape;

/* The intervals of a log: into `hist`, or with NULL only looked at.  -1 with a message. */
PERF_FN int convert_log(converting *conversion, const char *file, perf_hist *hist,
                        convert_shape *shape, ab_error *error)
{
    perf_hlog_reader   reader = PERF_ZERO;
    perf_hlog_interval iv = PERF_ZERO;
    perf_status        status;
    size_t             len = 0;
    char              *text = ab_slurp(file, &len, error);
    double             begin;

    reader.text = text;
    reader.size = len;
    if (!text)
        return -1;
    while ((status = perf_hlog_next(&reader, &iv, hist)) == PERF_OK) {
        shape->digits = iv.digits < shape->digits ? iv.digits : shape->digits;
        if (shape->unit > 0.0 && (iv.ratio > shape->unit || iv.ratio < shape->unit))
            break;
        shape->unit = iv.ratio;
        begin = reader.start_seconds + reader.base_seconds + iv.start_seconds;
        if (!(conversion->begin > 0.0) || begin < conversion->begin)
            conversion->begin = begin;
        if (begin + iv.length_seconds > conversion->end)
            conversion->end = begin + iv.length_seconds;
    }
    free(text);
    if (status == PERF_OK)
        return ab_fail(error, file, 0, 0, "its intervals have different units");
    if (status == PERF_ENODATA)
        return 0;
    return ab_fail(error, file, 0, 0, "byte %zu: no line of a histogram log (%s)", reader.error_at,
                   perf_status_text(status));
}

/* Bits that keep as many digits. */
PERF_FN int convert_bits(int digits)
{
    static const int bits[] = {-1, 4, 7, 10, 14, 14};
    return bits[digits < 0 || digits > 5 ? 3 : digits];
}

/* Reads all logs into one histogram.  -1 with a message. */
PERF_FN int convert_logs(converting *conversion, ab_error *error)
{
    convert_shape  shape = {5, 0.0};
    perf_hist_opts opts = PERF_ZERO;
    size_t         i, bytes;

    for (i = 0; i < conversion->files; i++)
        if (convert_log(conversion, conversion->file[i], NULL, &shape, error) < 0)
            return -1;
    if (!(shape.unit > 0.0))
        return ab_fail(error, conversion->file[0], 0, 0, "no interval of a histogram log (.hlog)");
    opts.bits = convert_bits(shape.digits);
    opts.counter_bytes = 8;
    opts.highest = UINT64_C(1) << 62;
    opts.unit = shape.unit;
    bytes = perf_hist_bytes(&opts);
    conversion->hist = perf_hist_init(ab_grow(NULL, bytes, 1), bytes, &opts);
    for (i = 0; i < conversion->files; i++)
        if (convert_log(conversion, conversion->file[i], conversion->hist, &shape, error) < 0)
            return -1;
    return 0;
}

/* Reads all files of measurements.  -1 with a message. */
PERF_FN int convert_read(converting *conversion, ab_error *error)
{
    ab_about_file about;
    ab_read_opts  opts;
    ab_set        one;
    size_t        i, len;
    char         *text, id[32];
    int           found, failed = 0;

    memset(&opts, 0, sizeof opts);
    memset(&one, 0, sizeof one);
    opts.every = 1;
    for (i = 0; i < conversion->files && !failed; i++) {
        snprintf(id, sizeof id, "%zu", i + 1);
        opts.run = conversion->files > 1 ? id : NULL;
        text = ab_slurp(conversion->file[i], &len, error);
        if (!text)
            return -1;
        found = ab_read_scopes(&conversion->scopes, conversion->file[i], text, len, i + 1, NULL,
                               &about, error);
        failed = found < 0;
        if (!failed && (about.measured || !found))
            failed = ab_read(&one, conversion->file[i], text, len, &opts, error);
        if (!failed) {
            ab_run_ids(&conversion->scopes, &one, i + 1, about.taken);
            say_left_out(&one, "converted");
            failed = ab_absorb(&conversion->set, &one, i + 1, conversion->file[i], error);
        }
        ab_set_free(&one);
        free(text);
    }
    for (i = 0; i < conversion->set.n; i++)
        if (conversion->set.s[i].design != AB_PAIRS)
            ab_series_of(&conversion->alone, conversion->set.s[i].name);
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

PERF_FN int convert_options(converting *conversion, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const int    more = i + 1 < argc;
        const char **value = NULL;
        if (!strcmp(argv[i], "--to"))
            value = &conversion->to;
        else if (!strcmp(argv[i], "-o"))
            value = &conversion->out;
        else if (!strcmp(argv[i], "--name"))
            value = &conversion->name;
        else if (!strcmp(argv[i], "--unit"))
            value = &conversion->unit;
        if (value && !more)
            return usage_error("its value is missing:", argv[i]);
        if (value)
            *value = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option:", argv[i]);
        else
            conversion->file[conversion->files++] = argv[i];
    }
    if (!conversion->files)
        return usage_error("nothing to convert", "");
    if (!convert_to(conversion->to))
        return usage_error("--to google, go, openmetrics, csv, results, percentiles, bars, "
                           "prometheus or otlp, not", conversion->to ? conversion->to : "nothing");
    return 0;
}

/* Reads, then writes to a file or standard output.  An exit status. */
PERF_FN int convert_all(converting *conversion)
{
    const convert_row *way = convert_to(conversion->to);
    const int          to_stdout = !strcmp(conversion->out, "-");
    perf_file_         out;
    ab_error           error;
    int                status;

    if (would_replace(&conversion->out, 1, conversion->file, conversion->files))
        return AB_UNUSABLE;
    if ((way->logs ? convert_logs(conversion, &error) : convert_read(conversion, &error)) < 0)
        return unusable(&error);
    conversion->f = to_stdout ? stdout : ab_begin_file(&out, conversion->out);
    if (!conversion->f)
        return unwritten(conversion->out);
    status = way->write(conversion);
    if (to_stdout)
        return status ? status : written();
    if (status) {
        perf_file_end_(&out, conversion->out, 0);
        return status;
    }
    return ab_end_file(&out, conversion->out) ? unwritten(conversion->out) : 0;
}

PERF_FN int convert(int argc, char **argv)
{
    converting conversion;
    int        status;

    memset(&conversion, 0, sizeof conversion);
    conversion.out = "-";
    conversion.name = "values";
    conversion.unit = "ns";
    conversion.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *conversion.file);
    status = convert_options(&conversion, argc, argv);
    if (!status)
        status = convert_all(&conversion);
    ab_set_free(&conversion.set);
    ab_set_free(&conversion.alone);
    ab_set_free(&conversion.words);
    ab_set_free(&conversion.taken);
    ab_scopes_free(&conversion.scopes);
    free(conversion.hist);
    free(conversion.file);
    return status;
}

#endif
