/* import.h - what teams have: folders of results (asv's), and data.js of github-action-benchmark.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_IMPORT_H
#define PERF_TOOLS_IMPORT_H

#include "read.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

enum { IMPORT_DEPTH = 4 };              /* folders within a folder                                */

/* Paths to read; each belongs to the list. */
typedef struct import_list {
    char **path;
    size_t n, cap;
} import_list;

PERF_FN void import_add(import_list *list, const char *path)
{
    if (list->n == list->cap) {
        list->cap = list->cap * 2 + 16;
        list->path = (char **)ab_grow(list->path, list->cap, sizeof *list->path);
    }
    list->path[list->n++] = ab_copy(path, strlen(path));
}

PERF_FN void import_free(import_list *list)
{
    size_t i;

    for (i = 0; i < list->n; i++)
        free(list->path[i]);
    free(list->path);
}

PERF_FN int import_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* 1: a file of a folder that holds results: .json, but not what asv says of machines and code. */
PERF_FN int import_wants(const char *name)
{
    const size_t len = strlen(name);

    if (len < 6 || strcmp(name + len - 5, ".json") != 0)
        return 0;
    return strcmp(name, "machine.json") != 0 && strcmp(name, "benchmarks.json") != 0;
}

/* Adds a file, or of a folder all that hold results, by name.  Returns how many. */
PERF_FN size_t import_path(import_list *list, const char *path, int depth)
{
    const size_t   first = list->n;
    import_list    inner;
    struct dirent *entry;
    struct stat    info;
    DIR           *folder = NULL;
    size_t         i, size;
    char          *one;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode) && depth < IMPORT_DEPTH)
        folder = opendir(path);
    if (!folder) {
        import_add(list, path);
        return 1;
    }
    memset(&inner, 0, sizeof inner);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        size = strlen(path) + strlen(entry->d_name) + 2;
        one = (char *)ab_grow(NULL, size, 1);
        snprintf(one, size, "%s/%s", path, entry->d_name);
        if (import_wants(entry->d_name) || (stat(one, &info) == 0 && S_ISDIR(info.st_mode)))
            import_add(&inner, one);
        free(one);
    }
    closedir(folder);
    for (i = 0; i < inner.n; i++)
        (void)import_path(list, inner.path[i], depth + 1);
    import_free(&inner);
    if (list->n > first)
        qsort(list->path + first, list->n - first, sizeof *list->path, import_by_name);
    return list->n - first;
}

/* ---- github-action-benchmark: window.BENCHMARK_DATA = {"entries": {SUITE: [run ...]}} ---- */

#define IMPORT_DATA_JS "window.BENCHMARK_DATA"
#define IMPORT_UPDATE  "\"lastUpdate\":"        /* the action writes it first                    */

typedef struct import_data {            /* a data.js that is read                                 */
    const char *path, *suite;
    int         several;                /* 1: of its suites there are several                     */
    json_t     *root;                   /* the document of ours                                   */
    ab_set     *set;                    /* gets the notes                                         */
} import_data;

/* The unit of a benchmark, to be freed; of Go "ns/op", a tab, and what else stands in its line. */
PERF_FN char *import_unit(const json_t *bench)
{
    const char *unit = json_string_value(json_object_get(bench, "unit"));
    const char *end;
    size_t      len;

    unit = unit ? unit : "";
    end = strstr(unit, "/iter");
    len = end && !end[5] ? (size_t)(end - unit) : strcspn(unit, "\t");
    return ab_copy(unit, len);
}

/* Adds a benchmark of a run in our words.  One without a name is none; a value that is no measurement
 * is noted.                                                                                      */
PERF_FN void import_bench(const import_data *of, const json_t *bench, const char *run)
{
    const char   *name = json_string_value(json_object_get(bench, "name"));
    const json_t *value = json_object_get(bench, "value");
    const double  x = json_number_value(value);
    char         *unit = import_unit(bench), what[200];
    const char   *why = json_is_number(value) ? ab_no_value_(x, unit) : "expected a number";

    if (name && why) {
        snprintf(what, sizeof what, "'%.80s' of run %s: %s", name, run, why);
        ab_note_add(of->set, of->path, what, 1);
    } else if (name) {
        json_array_append_new(
            json_object_get(of->root, "benchmarks"),
            json_pack("{s:s+++, s:s, s:s, s:[f]}", "name", of->several ? of->suite : "",
                      of->several ? "/" : "", name, "", "unit", unit, "run", run, "samples", x));
    }
    free(unit);
}

/* A run of a suite: its commit, time and benchmarks. */
PERF_FN void import_run(const import_data *of, const json_t *run)
{
    const json_t *commit = json_object_get(run, "commit");
    const char   *label = json_string_value(json_object_get(commit, "id"));
    const double  time = json_number_value(json_object_get(run, "date")) / 1000.0;
    json_t       *runs = json_object_get(of->root, "runs"), *bench;
    char          id[48];
    size_t        i, len;

    label = label ? label : "";
    len = strlen(label) < 10 ? strlen(label) : 10;
    while (len && ((unsigned char)label[len] & 0xc0) == 0x80)
        len--;                          /* no half of a character                                 */
    snprintf(id, sizeof id, "%zu", json_array_size(runs) + 1);
    json_array_append_new(runs, json_pack("{s:s, s:f, s:s%}", "run", id, "time",
                                          time > 0.0 ? time : 0.0, "label", label, len));
    json_array_foreach(json_object_get(run, "benches"), i, bench)
        import_bench(of, bench, id);
}

/* The line and column of text[at]. */
PERF_FN void import_place(const char *text, size_t at, size_t *line, size_t *column)
{
    size_t i;

    *line = *column = 1;
    for (i = 0; i < at; i++) {
        ++*column;
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

/* The object of a data.js; NULL: it is none, which the message says. */
PERF_FN json_t *import_data_object(const char *path, const char *text, size_t len, ab_error *error)
{
    const char  *begin = memchr(text, '{', len);
    size_t       at = begin ? (size_t)(begin - text) : sizeof IMPORT_DATA_JS - 1, line, column;
    json_error_t why;
    json_t      *root;

    root = json_loadb(text + at, len - at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &why);
    if (root && json_is_object(json_object_get(root, "entries")))
        return root;
    if (!root && why.position > 0)
        at += (size_t)why.position - 1;
    import_place(text, at < len ? at : len, &line, &column);
    if (root)
        ab_fail(error, path, line, column,
                "data.js of github-action-benchmark: it has no \"entries\"");
    else
        ab_fail(error, path, line, column, "data.js of github-action-benchmark, not JSON: %s",
                why.text);
    json_decref(root);
    return NULL;
}

/* 1: the text begins as a data.js, or as the same object in a file of JSON. */
PERF_FN int import_is_data_js(const char *text, size_t len)
{
    size_t at = 1;

    if (len < sizeof IMPORT_DATA_JS)
        return 0;
    if (strncmp(text, IMPORT_DATA_JS, sizeof IMPORT_DATA_JS - 1) == 0)
        return 1;
    while (at < len && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r'))
        at++;
    return text[0] == '{' && len - at >= sizeof IMPORT_UPDATE &&
           strncmp(text + at, IMPORT_UPDATE, sizeof IMPORT_UPDATE - 1) == 0;
}

/* The same history as a document of ours, to be freed; NULL: the text is no whole data.js. */
PERF_FN char *import_data_js(ab_set *set, const char *path, const char *text, size_t len,
                             ab_error *error)
{
    json_t      *from = import_data_object(path, text, len, error), *runs, *entries, *run;
    import_data  of = {NULL, NULL, 0, NULL, NULL};
    size_t       i;
    char        *out;

    if (!from)
        return NULL;
    entries = json_object_get(from, "entries");
    of.path = path;
    of.set = set;
    of.several = json_object_size(entries) > 1;
    of.root = json_pack("{s:i, s:[], s:[]}", "perf_results", 1, "runs", "benchmarks");
    json_object_foreach(entries, of.suite, runs)
        json_array_foreach(runs, i, run)
            import_run(&of, run);
    out = json_dumps(of.root, JSON_REAL_PRECISION(17));
    json_decref(of.root);
    json_decref(from);
    return out;
}

/* Reads a file of any format, or a data.js.  As ab_read_file. */
PERF_FN int import_file(ab_set *set, const char *path, const ab_read_opts *opts, ab_error *error)
{
    size_t len = 0;
    char  *text = ab_slurp(path, &len, error), *ours;
    int    failed = -1;

    if (!text)
        return -1;
    if (!import_is_data_js(text, len)) {
        failed = ab_read(set, path, text, len, opts, error);
        free(text);
        return failed;
    }
    ours = import_data_js(set, path, text, len, error);
    if (ours)
        failed = ab_read(set, path, ours, strlen(ours), opts, error);
    free(ours);
    free(text);
    return failed;
}

#endif
