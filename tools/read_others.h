/* read_others.h - pytest-benchmark, JMH, BenchmarkDotNet, criterion's sample.json, asv; and which
 * of all formats a JSON document is.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_OTHERS_H
#define PERF_TOOLS_READ_OTHERS_H

#include "read_json.h"

/* ---- pytest-benchmark: stats.data holds seconds an iteration ---- */

PERF_FN int json_pytest_(ab_json *json, json_t *object)
{
    const char *name = json_text_(object, "fullname", json_text_(object, "name", NULL));
    json_t     *stats = json_object_get(object, "stats"), *data = json_object_get(stats, "data");
    ab_reading  reading = {NULL, "s", 0.0, 1.0};
    ab_series  *series;
    int         failed;

    if (!name)
        return json_fail_(json, "expected a text called \"fullname\" here", NULL);
    if (ab_unwanted_(json->s, "s"))
        return 0;
    series = ab_series_of(json->s->set, name);
    if (!json_is_array(data)) {
        json_fail_(json, "no single values: --benchmark-json keeps them, or --benchmark-save-data",
                   NULL);
        return json_refuse_(json, series);
    }
    json_in_(json, "stats", 0);
    json_in_(json, "data", 0);
    failed = json_list_(json, series, reading, data, NULL);
    json_out_(json);
    json_out_(json);
    return failed ? json_refuse_(json, series) : 0;
}

/* ---- JMH: rawData holds a list for each fork ---- */

/* The name with its parameters, its mode and threads where they are not the usual ones; to be
 * freed.                                                                                         */
PERF_FN char *json_jmh_name_(json_t *object)
{
    const char *name = json_text_(object, "benchmark", ""),
               *mode = json_text_(object, "mode", "avgt");
    double      threads = json_number_value(json_object_get(object, "threads"));
    json_t     *all = json_object(), *value;
    const char *key;
    char       *own;

    json_object_foreach(json_object_get(object, "params"), key, value)
        json_object_set(all, key, value);
    if (strcmp(mode, "avgt") != 0)
        json_object_set_new(all, "mode", json_string(mode));
    if (threads > 1.0)
        json_object_set_new(all, "threads", json_integer((json_int_t)threads));
    own = json_parameters_(ab_copy(name, strlen(name)), all);
    json_decref(all);
    return own;
}

/* Pairs of a value and how often it was seen.  -1 with a message. */
PERF_FN int json_jmh_seen_(ab_json *json, ab_series *series, ab_reading reading, const json_t *list)
{
    size_t i;
    double times, left = 1e6;
    int    failed = 0;

    for (i = 0; i < json_array_size(list) && !failed; i++) {
        const json_t *pair = json_array_get(list, i);
        json_in_(json, NULL, i);
        times = json_number_value(json_array_get(pair, 1));
        left -= times;
        if (json_array_size(pair) != 2 || !(times >= 1.0) || left < 0.0)
            failed = json_fail_(json, "expected a value and how often it was seen, a million times "
                                "at most", NULL);
        for (; times >= 1.0 && !failed; times -= 1.0)
            failed = json_add_(json, series, reading, json_array_get(pair, 0), NULL);
        json_out_(json);
    }
    return failed;
}

/* The iterations of fork number i: numbers, or in mode `sample` lists of pairs. */
PERF_FN int json_jmh_fork_(ab_json *json, const json_t *fork, size_t i, ab_series *series,
                           ab_reading reading)
{
    char   id[32];
    size_t k;
    int    failed = 0;

    snprintf(id, sizeof id, "%zu", i + 1);
    reading.run = json->s->o->run ? json->s->o->run : id;
    if (!json_is_array(json_array_get(fork, 0)))
        return json_list_(json, series, reading, fork, NULL);
    for (k = 0; k < json_array_size(fork) && !failed; k++) {
        json_in_(json, NULL, k);
        failed = json_jmh_seen_(json, series, reading, json_array_get(fork, k));
        json_out_(json);
    }
    return failed;
}

/* "ops/us" counts operations a time; *scale makes them operations a second.  NULL: it is no rate. */
PERF_FN const char *json_jmh_rate_(const char *unit, double *scale)
{
    double ns = !strncmp(unit, "ops/", 4) ? ab_unit_ns(unit + 4) : 0.0;

    if (!(ns > 0.0))
        return NULL;
    *scale = 1e9 / ns;
    return "ops/s";
}

/* All values of a rate in operations a second.  -1: one is out of range. */
PERF_FN int ab_scale_(ab_series *series, double scale)
{
    size_t i, k;
    int    failed = 0;

    for (i = 0; i < series->runs; i++)
        for (k = 0; k < series->run[i].v[0].n; k++) {
            series->run[i].v[0].x[k] *= scale;
            if (!perf_is_finite_(series->run[i].v[0].x[k]))
                failed = -1;
        }
    return failed;
}

PERF_FN int json_jmh_(ab_json *json, json_t *object)
{
    const char *value = json->s->o->value, *rate;
    json_t     *metric = json_object_get(object, "primaryMetric"), *raw;
    ab_reading  reading = {NULL, "", 0.0, 1.0};
    ab_series  *series;
    double      scale = 1.0;
    char       *name, *own;
    size_t      i;
    int         failed = 0;

    if (value)
        metric = json_object_get(json_object_get(object, "secondaryMetrics"), value);
    if (value && !metric)
        return 0;                                   /* not every benchmark counts the same things */
    reading.unit = json_text_(metric, "scoreUnit", "");
    rate = json_jmh_rate_(reading.unit, &scale);
    reading.unit = rate ? rate : reading.unit;
    if (!value && ab_unwanted_(json->s, reading.unit))
        return 0;
    name = json_jmh_name_(object);
    own = json_unique_(json, name);
    series = ab_series_for_(json->s, own, reading.unit);
    free(name);
    free(own);
    series->processes = 1;
    raw = json_object_get(metric, "rawDataHistogram");
    raw = raw ? raw : json_object_get(metric, "rawData");
    if (!json_array_size(raw))
        failed = json_fail_(json, "expected a list called \"rawData\" in its metric", NULL);
    for (i = 0; i < json_array_size(raw) && !failed; i++)
        failed = json_jmh_fork_(json, json_array_get(raw, i), i, series, reading);
    if (ab_scale_(series, scale) < 0 && !failed)
        failed = json_fail_(json, "operations a second are out of range", NULL);
    return failed ? json_refuse_(json, series) : 0;
}

/* ---- BenchmarkDotNet: each measurement is a time of many operations ---- */

/* The nanoseconds an operation of one measurement, if it is a result; 0: it is warm-up or the like. */
PERF_FN int json_dotnet_measurement_(ab_json *json, json_t *one, ab_series *series,
                                     ab_reading reading)
{
    const char *mode = json_text_(one, "IterationMode", "");
    const char *stage = json_text_(one, "IterationStage", "");
    const int   workload = !strcmp(mode, "Workload") && !strcmp(stage, "Result");
    const int   before_0_11 = !strcmp(mode, "Result");
    double      operations = json_number_value(json_object_get(one, "Operations"));
    double      launch = json_number_value(json_object_get(one, "LaunchIndex"));
    char        id[40];
    int         failed;

    if (!workload && !before_0_11)
        return 0;
    if (!(operations >= 1.0))
        return json_fail_(json, "expected a number called \"Operations\" here", NULL);
    if (json_number_(json, json_object_get(one, "Nanoseconds"), "ns", &reading.x) < 0)
        return -1;
    snprintf(id, sizeof id, "%.0f", launch);
    reading.run = json->s->o->run ? json->s->o->run : id;
    reading.x /= operations;
    failed = ab_add_(json->s, 0, series, &reading);
    return failed ? json_fail_(json, "out of range", NULL) : 0;
}

PERF_FN int json_dotnet_values_(ab_json *json, json_t *object, ab_series *series)
{
    json_t    *list = json_object_get(object, "Measurements");
    json_t    *values = json_object_get(json_object_get(object, "Statistics"), "OriginalValues");
    ab_reading reading = {NULL, "ns", 0.0, 1.0};
    size_t     i;
    int        failed = 0;

    json_in_(json, "Measurements", 0);
    for (i = 0; i < json_array_size(list) && !failed; i++) {
        json_in_(json, NULL, i);
        failed = json_dotnet_measurement_(json, json_array_get(list, i), series, reading);
        json_out_(json);
    }
    json_out_(json);
    if (failed || series->runs)
        return failed;
    if (!json_array_size(values))
        return json_fail_(json, "no single values: --exporters fulljson keeps them", NULL);
    return json_list_(json, series, reading, values, NULL);
}

PERF_FN int json_dotnet_(ab_json *json, json_t *object)
{
    const char *full = json_text_(object, "FullName", json_text_(object, "DisplayInfo", NULL));
    const char *display = json_text_(object, "DisplayInfo", full);
    ab_series  *series;
    char       *own;

    if (!full)
        return json_fail_(json, "expected a text called \"FullName\" here", NULL);
    if (ab_unwanted_(json->s, "ns"))
        return 0;
    if (json_object_get(json->taken, full))         /* another job: its runtime is in that text   */
        full = display;
    own = json_unique_(json, full);
    series = ab_series_of(json->s->set, own);
    free(own);
    series->processes = 1;
    if (json_is_null(json_object_get(object, "Statistics")))
        return ab_lacks_at(json->s, series, AB_FAILED, json_where_(json), "it has no statistics");
    return json_dotnet_values_(json, object, series) < 0 ? json_refuse_(json, series) : 0;
}

/* ---- criterion's sample.json: one benchmark, named by what lies beside it, or by its folders ---- */

/* "group/function/value" of the benchmark.json beside `path`, to be freed; NULL: there is none. */
PERF_FN char *json_criterion_id_(const char *path)
{
    const char *base = strrchr(path, '/');
    size_t      folder = base ? (size_t)(base - path) + 1 : 0, size = folder + 16;
    char       *beside = (char *)ab_grow(NULL, size, 1), *name = NULL;
    const char *id;
    FILE       *file = NULL;
    json_t     *root;

    memcpy(beside, path, folder);
    snprintf(beside + folder, size - folder, "benchmark.json");
    if (!strcmp(path + folder, "sample.json"))      /* and not standard input                     */
        file = perf_file_read_(beside);
    free(beside);
    if (!file)
        return NULL;
    root = json_loadf(file, 0, NULL);
    fclose(file);
    id = json_string_value(json_object_get(root, "full_id"));
    if (id)
        name = ab_copy(id, strlen(id));
    json_decref(root);
    return name;
}

/* Of ".../criterion/GROUP/NAME/new/sample.json" the folders below the last "criterion", else the one
 * above "new"; "" for other paths; to be freed.                                                  */
PERF_FN char *json_criterion_name_(const char *path)
{
    static const char top[] = "criterion/";
    const size_t      n = sizeof top - 1;
    const char       *end = path + strlen(path), *begin, *at;
    int               folders;

    for (folders = 0; folders < 2; folders++) {
        while (end > path && end[-1] != '/')
            end--;
        if (end == path)
            return ab_copy("", 0);
        end--;
    }
    for (begin = end; begin > path && begin[-1] != '/'; begin--)
        continue;
    for (at = begin; at >= path + n; at--)
        if (!memcmp(at - n, top, n) && (at == path + n || at[-1 - (long)n] == '/')) {
            begin = at;
            break;
        }
    return ab_copy(begin, (size_t)(end - begin));
}

PERF_FN int json_criterion_(ab_json *json, json_t *object)
{
    json_t    *iters = json_member_(json, object, "iters", JSON_ARRAY);
    json_t    *times = iters ? json_member_(json, object, "times", JSON_ARRAY) : NULL;
    ab_reading reading = {NULL, "ns", 0.0, 1.0};
    ab_series *series;
    size_t     i;
    double     n;
    char      *name;

    if (!times)
        return -1;
    if (json_array_size(iters) != json_array_size(times))
        return json_fail_(json, "\"iters\" and \"times\" differ in length", NULL);
    name = json_criterion_id_(json->s->file);
    if (!name)
        name = json_criterion_name_(json->s->file);
    series = ab_series_of(json->s->set, name);
    free(name);
    json_in_(json, "times", 0);
    for (i = 0; i < json_array_size(times); i++) {
        json_in_(json, NULL, i);
        n = json_number_value(json_array_get(iters, i));
        if (!(n >= 1.0))
            return json_fail_(json, "no iterations belong to this time", NULL);
        if (json_number_(json, json_array_get(times, i), "ns", &reading.x) < 0)
            return -1;
        reading.x /= n;
        if (ab_add_(json->s, 0, series, &reading) < 0)
            return json_fail_(json, "out of range", NULL);
        json_out_(json);
    }
    json_out_(json);
    return 0;
}

/* ---- asv: results/MACHINE/COMMIT-ENV.json ---- */

typedef struct ab_asv {                 /* where an entry keeps what: "result_columns"            */
    size_t result, params, samples, started;
    size_t medians;                     /* benchmarks of which only a median is there             */
} ab_asv;

PERF_FN size_t json_column_(const json_t *columns, const char *name)
{
    json_t *value;
    size_t  i;

    json_array_foreach(columns, i, value)
        if (json_is_string(value) && !strcmp(json_string_value(value), name))
            return i;
    return SIZE_MAX;
}

/* asv names the kind of a benchmark by the beginning of its last part. */
PERF_FN const char *json_asv_unit_(const char *name)
{
    const char *last = strrchr(name, '.');

    last = last ? last + 1 : name;
    if (!strncmp(last, "time", 4) || !strncmp(last, "Time", 4))
        return "s";
    if (!strncmp(last, "mem", 3) || !strncmp(last, "peakmem", 7) || !strncmp(last, "Mem", 3) ||
        !strncmp(last, "PeakMem", 7))
        return "B";
    return "tracked";                               /* by track_...: its unit is in another file  */
}

/* "name(10, 'a')" of combination number i, the last parameter being the fastest; to be freed. */
PERF_FN char *json_asv_name_(const char *name, const json_t *params, size_t i)
{
    size_t      k, n = json_array_size(params), count, rest = 1, len = strlen(name);
    char       *own = ab_copy(name, len);
    const char *value;

    for (k = 0; k < n; k++)
        rest *= json_array_size(json_array_get(params, k)) ?
                json_array_size(json_array_get(params, k)) : 1;
    for (k = 0; k < n; k++) {
        const json_t *list = json_array_get(params, k);
        count = json_array_size(list) ? json_array_size(list) : 1;
        rest /= count;
        value = json_string_value(json_array_get(list, i / rest % count));
        value = value ? value : "?";
        own = (char *)ab_grow(own, len + strlen(value) + 4, 1);
        len += (size_t)snprintf(own + len, strlen(value) + 4, "%s%s%s", k ? ", " : "(", value,
                                k + 1 == n ? ")" : "");
    }
    return own;
}

/* One combination of parameters: its samples, or else its one result. */
PERF_FN int json_asv_one_(ab_json *json, ab_asv *asv, const json_t *entry, size_t i,
                          ab_series *series)
{
    const json_t *result = json_array_get(entry, asv->result), *samples, *one = result;
    ab_reading    reading = {NULL, "", 0.0, 1.0};
    double        when = json_number_value(json_array_get(entry, asv->started));

    reading.unit = json_asv_unit_(series->name);
    if (json_is_array(result))
        one = json_array_get(result, i);
    samples =
        asv->samples == SIZE_MAX ? NULL : json_array_get(json_array_get(entry, asv->samples), i);
    if (json_is_unwritten_(one))
        return ab_lacks_at(json->s, series, AB_SKIPPED, json_where_(json),
                           "not for these parameters");
    if (!one || json_is_null(one))
        return ab_lacks_at(json->s, series, AB_FAILED, json_where_(json),
                           "asv has no result of it");
    if (json_array_size(samples)) {
        if (json_list_(json, series, reading, samples, NULL) < 0)
            return json_refuse_(json, series);
    } else {
        asv->medians++;
        if (json_add_(json, series, reading, one, NULL) < 0)
            return json_refuse_(json, series);
    }
    if (series->runs && when > 0.0 && when < 1e15)
        series->run[0].time = when / 1000.0;
    return 0;
}

/* One benchmark with all its combinations. */
PERF_FN int json_asv_entry_(ab_json *json, ab_asv *asv, const char *name, json_t *entry)
{
    const json_t *result = json_array_get(entry, asv->result);
    const json_t *params = json_array_get(entry, asv->params);
    size_t        i, n = json_is_array(result) ? json_array_size(result) : 1;
    const char   *unit = json_asv_unit_(name);
    ab_series    *series;
    char         *own;

    if (!json_is_array(entry))
        return json_fail_(json, "expected a list: results of asv 0.2 or later", NULL);
    if (ab_unwanted_(json->s, unit))
        return 0;
    for (i = 0; i < n; i++) {
        own = json_asv_name_(name, params, i);
        series = ab_series_for_(json->s, own, unit);
        free(own);
        json_asv_one_(json, asv, entry, i, series);
    }
    return 0;
}

/* The commit, and for a history its date in place of the start: asv measures old commits late. */
PERF_FN void json_asv_commit_(ab_json *json, const json_t *root)
{
    const char  *commit = json_text_(root, "commit_hash", NULL);
    const double date = json_number_value(json_object_get(root, "date"));
    size_t       i;

    for (i = 0; i < json->s->set->n; i++) {
        ab_run *run = json->s->set->s[i].run;
        if (!json->s->set->s[i].runs)
            continue;
        if (commit && !run->label)
            run->label = ab_copy(commit, strlen(commit) < 10 ? strlen(commit) : 10);
        if (json->s->o->every && date > 0.0 && date < 1e15)
            run->time = date / 1000.0;
    }
}

PERF_FN int json_asv_(ab_json *json, json_t *root)
{
    const json_t *columns = json_object_get(root, "result_columns");
    const char   *machine = json_text_(json_object_get(root, "params"), "machine", NULL), *name;
    json_t       *entry;
    ab_asv        asv;
    size_t        i, k;
    int           failed = 0;

    memset(&asv, 0, sizeof asv);
    asv.result = json_column_(columns, "result");
    asv.params = json_column_(columns, "params");
    asv.samples = json_column_(columns, "samples");
    asv.started = json_column_(columns, "started_at");
    json_in_(json, "results", 0);
    json_object_foreach(json_object_get(root, "results"), name, entry) {
        json_in_(json, name, 0);
        failed = failed ? failed : json_asv_entry_(json, &asv, name, entry);
        json_out_(json);
    }
    if (asv.medians)
        ab_note_at(json->s, json_where_(json),
                   "asv kept medians of some, one value a file: asv run "
                   "--record-samples keeps all values");
    json_out_(json);
    json_asv_commit_(json, root);
    for (i = 0; i < json->s->set->n && machine; i++)
        for (k = 0; k < json->s->set->s[i].runs; k++)
            if (!json->s->set->s[i].run[k].machine)
                json->s->set->s[i].run[k].machine = ab_copy(machine, strlen(machine));
    return failed;
}

/* ---- which format ---- */

/* Which tool wrote this document. */
PERF_FN ab_format json_format_(const json_t *root)
{
    const json_t *list = json_object_get(root, "benchmarks"), *first = json_array_get(list, 0);
    const json_t *results = json_object_get(root, "results");

    if (json_object_get(root, "perf_results"))
        return AB_RESULTS;
    if (json_object_get(first, "runs"))
        return AB_PYPERF;
    if (json_is_array(list) && (json_object_get(root, "machine_info") ||
                                json_is_object(json_object_get(first, "stats"))))
        return AB_PYTEST;
    if (json_is_array(list))
        return AB_GOOGLE;
    if (json_is_array(json_object_get(root, "Benchmarks")))
        return AB_BENCHMARKDOTNET;
    if (json_is_array(results))
        return AB_HYPERFINE;
    if (json_is_object(results) && json_object_get(root, "result_columns"))
        return AB_ASV;
    if (json_object_get(root, "iters") && json_object_get(root, "times"))
        return AB_CRITERION;
    if (json_object_get(json_array_get(root, 0), "primaryMetric"))
        return AB_JMH;
    return AB_DETECT;
}

/* Why a document of no known format cannot be read, if its maker is known. */
PERF_FN const char *json_stranger_(const json_t *root)
{
    const json_t *first = json_array_get(json_object_get(root, "files"), 0);

    if (json_object_get(root, "slope") || json_object_get(root, "median_abs_dev") ||
        json_object_get(root, "group_id"))
        return "criterion keeps single values in sample.json, beside this file";
    if (json_object_get(first, "groups"))
        return "vitest's format is not read: perf_results is the one to write (docs/formats.md)";
    if (json_object_get(root, "entries") && json_object_get(root, "repoUrl"))
        return "github-action-benchmark has one figure a commit, no single values: give the output "
               "of the tool behind it";
    return "JSON that is none of: perf_results, Google Benchmark, hyperfine, pyperf, "
           "pytest-benchmark, JMH, BenchmarkDotNet, criterion, asv, go test -json";
}

typedef struct ab_json_format {
    ab_format   format;
    const char *title, *list;           /* list: the member with the entries; NULL: see `whole`   */
    int       (*entry)(ab_json *, json_t *);        /* each of them, or the whole document        */
    int         whole;                  /* 1: entry reads the document                            */
} ab_json_format;

PERF_FN const ab_json_format *json_format_row_(ab_format format)
{
    static const ab_json_format row[] = {
        {AB_RESULTS, "perf_results", "benchmarks", json_result_, 0},
        {AB_GOOGLE, "Google Benchmark", "benchmarks", json_google_, 0},
        {AB_HYPERFINE, "hyperfine", "results", json_hyperfine_, 0},
        {AB_PYPERF, "pyperf", "benchmarks", json_pyperf_, 0},
        {AB_PYTEST, "pytest-benchmark", "benchmarks", json_pytest_, 0},
        {AB_JMH, "JMH", NULL, json_jmh_, 0},
        {AB_BENCHMARKDOTNET, "BenchmarkDotNet", "Benchmarks", json_dotnet_, 0},
        {AB_CRITERION, "criterion", NULL, json_criterion_, 1},
        {AB_ASV, "asv", NULL, json_asv_, 1}};
    size_t i;

    for (i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].format == format)
            return &row[i];
    return NULL;
}

/* Every entry of a list; -1: one that belongs to no benchmark. */
PERF_FN int json_entries_(ab_json *json, const json_t *list, const ab_json_format *row)
{
    json_t *item;
    size_t  i;
    int     failed = 0;

    for (i = 0; i < json_array_size(list) && !failed; i++) {
        json_in_(json, NULL, i);
        item = json_array_get(list, i);
        failed = json_is_object(item) ? row->entry(json, item)
                                      : json_fail_(json, "expected an object", NULL);
        json_out_(json);
    }
    return failed;
}

PERF_FN int json_document_(ab_json *json)
{
    const double          version = json_number_value(json_object_get(json->root, "perf_results"));
    ab_format             format = json->s->o->format;
    const ab_json_format *row;
    json_t               *list = json->root;
    int                   failed;

    if (json_object_get(json->root, "perf_ab"))
        return json_fail_(json, ab_verdicts_, NULL);
    if (format == AB_DETECT)
        format = json_format_(json->root);
    row = json_format_row_(format);
    if (!row)
        return json_fail_(json, json_stranger_(json->root), NULL);
    json->s->set->format = row->title;
    if (format == AB_RESULTS && !(version < 2.0))
        return json_fail_(json, "a version of perf_results that this perf-ab does not know", NULL);
    if (row->whole)
        return row->entry(json, json->root);
    if (row->list) {
        list = json_member_(json, json->root, row->list, JSON_ARRAY);
        if (!list)
            return -1;
        json_in_(json, row->list, 0);
    } else if (!json_is_array(list)) {
        return json_fail_(json, "expected a list", NULL);
    }
    failed = json_entries_(json, list, row);
    if (row->list)
        json_out_(json);
    if (!failed && format == AB_RESULTS) {
        json_provenance_(json);
        json->s->set->scopes += json_array_size(json_object_get(json->root, "scopes"));
    }
    if (!failed && format == AB_GOOGLE)
        json_google_context_(json);
    if (!failed && format == AB_PYTEST)
        json_all_runs_(json, ab_date_(json_text_(json->root, "datetime", "")),
                       json_text_(json_object_get(json->root, "machine_info"), "node", NULL));
    return failed;
}

PERF_FN int ab_read_json_(const ab_source *source)
{
    ab_json json;
    int     failed;

    memset(&json, 0, sizeof json);
    json.s = source;
    json.root = json_load_(source);
    if (!json.root)
        return -1;
    json.taken = json_object();
    failed = json_document_(&json);
    json_decref(json.taken);
    json_decref(json.root);
    return failed;
}

#endif
