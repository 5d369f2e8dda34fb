/* ranks.h - perf-ab merge: which of the runs is slowest, scopes of several processes added up, and
 * their traces in one.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_RANKS_H
#define PERF_TOOLS_RANKS_H

#include "json.h"

#include "perf_trace.h"

#include <jansson.h>

/* ---- the slowest run, and how uneven they are ---- */

/* A line a benchmark that has several runs: percentiles over all values, the run with the largest
 * median (of rates: the smallest), and by how much it lies beyond the mean of the medians.  Pairs
 * are judged, not summed up: their candidate counts.                                             */
PERF_FN void ab_print_ranks(FILE *file, const ab_set *set)
{
    static const double at[] = {0.50, 0.95, 0.99};
    ab_text text[4];
    size_t  i, k, n, lines = 0;

    for (i = 0; i < set->n; i++) {
        const ab_series *series = &set->s[i];
        int              side = series->design == AB_PAIRS,
                         rate = ab_unit_kind(series->unit) == AB_RATE;
        double           worst = 0.0, sum = 0.0, *all;
        const char      *who = "";
        if (series->runs < 2)
            continue;
        for (k = n = 0; k < series->runs; k++)
            n += series->run[k].v[side].n;
        all = (double *)ab_grow(NULL, n + 1, sizeof *all);
        for (k = n = 0; k < series->runs; k++) {
            const ab_values *values = &series->run[k].v[side];
            double           median;
            memcpy(all + n, values->x, values->n * sizeof *all);
            perf_sort_values_(all + n, values->n);
            median = perf_quantile_(all + n, values->n, 0.5);
            n += values->n;
            sum += median;
            if (!k || (rate ? median < worst : median > worst)) {
                worst = median;
                who = series->run[k].id ? series->run[k].id : "";
            }
        }
        perf_sort_values_(all, n);
        if (!lines++)
            fputs("  benchmark                 runs     values        p50        p95        p99  "
                  "slowest run (its median, beyond the mean)\n", file);
        for (k = 0; k < 4; k++)
            text[k] = ab_figure(series, k < 3 ? perf_quantile_(all, n, at[k]) : worst);
        fputs("  ", file);
        ab_print_column(file, series->name, 60, 24);
        fprintf(file, " %5zu %10zu %10s %10s %10s  ", series->runs, n, text[0].s, text[1].s,
                text[2].s);
        ab_print_column(file, who, 40, 0);
        fprintf(file, " (%s, %+.1f %%)\n", text[3].s,
                100.0 * (worst * (double)series->runs / sum - 1.0));
        free(all);
    }
}

/* ---- scopes: what perf_results.h saved of each process, as it is, with the run's id ---- */

typedef struct ab_scope {
    const char *name, *kind, *run;      /* belong to `root`                                       */
    double      calls, total, most;
    json_t     *buckets;                /* [middle, calls] each; NULL: none                       */
} ab_scope;

typedef struct ab_scopes {
    json_t   *runs, *scopes;            /* arrays, to be written; they own all texts              */
    json_t   *ids;                      /* an object: run ids of the files before                 */
    ab_scope *s;
    size_t    n, cap;
} ab_scopes;

typedef struct ab_spot {                /* calls at a duration                                    */
    double ns, calls;
} ab_spot;

PERF_FN void ab_scopes_free(ab_scopes *set)
{
    json_decref(set->runs);
    json_decref(set->scopes);
    json_decref(set->ids);
    free(set->s);
}

/* A number >= 0 of a scope; -1: it is none. */
PERF_FN double ab_scope_number_(const json_t *item, const char *key)
{
    const json_t *value = json_object_get(item, key);
    double        v = json_is_number(value) ? json_number_value(value) : -1.0;

    return v >= 0.0 && perf_is_finite_(v) ? v : -1.0;
}

PERF_FN int ab_scope_buckets_(const json_t *list)
{
    size_t i;

    if (list && !json_is_array(list))
        return 0;
    for (i = 0; i < json_array_size(list); i++) {
        const json_t *bucket = json_array_get(list, i);
        if (json_array_size(bucket) != 2 ||
            !(json_number_value(json_array_get(bucket, 0)) >= 0.0) ||
            !(json_number_value(json_array_get(bucket, 1)) > 0.0))
            return 0;
    }
    return 1;
}

/* The runs of a file that becomes a rank. */
typedef struct ab_rank {
    const char *name;                   /* "rank 3"                                               */
    json_t     *runs;                   /* an object: what each of its runs is called, by its id  */
} ab_rank;

/* What a run of that id is called: "rank 3", the second one "rank 3.2". */
PERF_FN const char *ab_rank_run(ab_rank *rank, const char *id)
{
    const size_t size = strlen(rank->name) + 32, before = json_object_size(rank->runs);
    const char  *known = json_string_value(json_object_get(rank->runs, id));
    char        *own;

    if (known)
        return known;
    own = (char *)ab_grow(NULL, size, 1);
    snprintf(own, size, before ? "%s.%zu" : "%s", rank->name, before + 1);
    json_object_set_new(rank->runs, id, json_string(own));
    free(own);
    known = json_string_value(json_object_get(rank->runs, id));
    return known ? known : rank->name;
}

/* The id that a run gets in the merged file: its own (rank NULL), or that of its rank; where a file
 * before has that id, the number of this file in front.                                          */
PERF_FN void ab_scope_rename_(json_t *item, ab_rank *rank, int taken, size_t number)
{
    const char *was = json_string_value(json_object_get(item, "run"));
    size_t      size = (was ? strlen(was) : 0) + 32;
    char       *id = (char *)ab_grow(NULL, size, 1);

    snprintf(id, size, was && !rank ? "%zu.%s" : "%zu", number, was);
    if (rank)
        json_object_set_new(item, "run", json_string(ab_rank_run(rank, was ? was : id)));
    else if (taken || !was)
        json_object_set_new(item, "run", json_string(id));
    free(id);
}

/* 1: a run of this file has the id of one in a file before. */
PERF_FN int ab_ids_taken_(const ab_scopes *set, const json_t *root)
{
    static const char *const list[] = {"runs", "scopes", "benchmarks"};
    const json_t *item;
    const char   *id;
    size_t        i, k;

    for (k = 0; k < 3; k++)
        json_array_foreach(json_object_get(root, list[k]), i, item) {
            id = json_string_value(json_object_get(item, "run"));
            if (id && json_object_get(set->ids, id))
                return 1;
        }
    return 0;
}

/* What a file says besides its measurements. */
typedef struct ab_about_file {
    int measured;                       /* 1: there are benchmarks, too                           */
    int taken;                          /* 1: its runs get its number, as a file before has an id */
} ab_about_file;

/* Adds the scopes of a file; `text` may be anything, only results of perf.h have scopes.  Returns how
 * many there were; -1 with a message.                                                            */
PERF_FN int ab_read_scopes(ab_scopes *set, const char *file, const char *text, size_t len,
                           size_t number, ab_rank *rank, ab_about_file *about, ab_error *error)
{
    size_t       i, start = set->n;
    json_error_t why;
    json_t      *root = json_of_file(text, len, 0, &why), *item;
    int          taken;

    about->measured = !json_object_get(root, "perf_results") ||
                      json_array_size(json_object_get(root, "benchmarks")) > 0;
    if (!set->scopes) {
        set->runs = json_array();
        set->scopes = json_array();
        set->ids = json_object();
    }
    about->taken = taken = 0;
    if (!json_object_get(root, "perf_results")) {
        json_decref(root);
        return 0;
    }
    about->taken = taken = ab_ids_taken_(set, root);
    json_array_foreach(json_object_get(root, "runs"), i, item) {
        if (json_is_object(item)) {
            ab_scope_rename_(item, rank, taken, number);
            json_array_append(set->runs, item);
            if (json_string_value(json_object_get(item, "run")))
                json_object_set_new(set->ids, json_string_value(json_object_get(item, "run")),
                                    json_true());
        }
    }
    json_array_foreach(json_object_get(root, "scopes"), i, item) {
        ab_scope scope;
        memset(&scope, 0, sizeof scope);
        scope.name = json_string_value(json_object_get(item, "name"));
        scope.kind = json_string_value(json_object_get(item, "kind"));
        scope.calls = ab_scope_number_(item, "calls");
        scope.total = json_object_get(item, "total") ? ab_scope_number_(item, "total") : 0.0;
        scope.most =
            json_object_get(item, "max") ? json_number_value(json_object_get(item, "max")) : 0.0;
        scope.buckets = json_object_get(item, "buckets");
        if (!scope.name || !scope.kind || !(scope.calls > 0.0) || scope.total < 0.0 ||
            !ab_scope_buckets_(scope.buckets)) {
            ab_fail(error, file, 0, 0, "scope %zu, '%.60s', is none that perf.h wrote", i + 1,
                    scope.name ? scope.name : "");
            json_decref(root);
            return -1;
        }
        ab_scope_rename_(item, rank, taken, number);
        scope.run = json_string_value(json_object_get(item, "run"));
        if (set->n == set->cap) {
            set->cap = 2 * set->cap + 64;
            set->s = (ab_scope *)ab_grow(set->s, set->cap, sizeof *set->s);
        }
        set->s[set->n++] = scope;
        json_array_append(set->scopes, item);
    }
    for (i = start; i < set->n; i++)
        json_object_set_new(set->ids, set->s[i].run, json_true());
    json_decref(root);
    return (int)(set->n - start);
}

/* The measurements of the file: their runs get the ids that ab_scope_rename_ gives, and are known to
 * the files behind it.                                                                           */
PERF_FN void ab_run_ids(ab_scopes *scopes, ab_set *one, size_t number, int taken)
{
    char   own[32], *id;
    size_t i, k, size;

    snprintf(own, sizeof own, "%zu", number);
    for (i = 0; i < one->n; i++)
        for (k = 0; k < one->s[i].runs; k++) {
            ab_run *run = &one->s[i].run[k];
            if (taken && run->id && strcmp(run->id, own) != 0) {
                size = strlen(run->id) + 32;
                id = (char *)ab_grow(NULL, size, 1);
                snprintf(id, size, "%zu.%s", number, run->id);
                free(run->id);
                run->id = id;
            }
            if (run->id)
                json_object_set_new(scopes->ids, run->id, json_true());
        }
}

/* Adds to the list of runs what is known of the others: files in other formats say it, too. */
PERF_FN void ab_list_runs(ab_scopes *scopes, const ab_set *set)
{
    json_t *listed = json_object(), *item;
    size_t  i, k;

    json_array_foreach(scopes->runs, i, item)
        json_object_set_new(listed, json_string_value(json_object_get(item, "run"))
                            ? json_string_value(json_object_get(item, "run")) : "", json_true());
    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs; k++) {
            const ab_run *run = &set->s[i].run[k];
            if (!run->id || json_object_get(listed, run->id) ||
                (!(run->time > 0.0) && !run->label && !run->machine))
                continue;
            json_object_set_new(listed, run->id, json_true());
            json_array_append_new(scopes->runs, json_pack(
                "{s:s, s:f, s:s, s:s, s:s, s:s, s:s}", "run", run->id, "time", run->time, "label",
                run->label ? run->label : "", "machine", run->machine ? run->machine : "", "cpu",
                "", "compiler", "", "build", ""));
        }
    json_decref(listed);
}

/* Further members of a results file that ab_print_results_begin has begun. */
PERF_FN void ab_print_scopes_json(FILE *file, const ab_scopes *set)
{
    const char   *const key[] = {"runs", "scopes"};
    const json_t *list[2];
    size_t        i;
    int           k;

    list[0] = set->runs;
    list[1] = set->scopes;
    for (k = 0; k < 2; k++) {
        if (!json_array_size(list[k]))
            continue;
        fprintf(file, ",\n  \"%s\": [", key[k]);
        for (i = 0; i < json_array_size(list[k]); i++) {
            fputs(i ? ",\n    " : "\n    ", file);
            json_dumpf(json_array_get(list[k], i), file,
                       JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
        }
        fputs("\n  ]", file);
    }
}

PERF_FN int ab_by_scope_(const void *a_, const void *b_)
{
    const ab_scope *one = (const ab_scope *)a_, *other = (const ab_scope *)b_;
    int             order = strcmp(one->name, other->name);

    order = order ? order : strcmp(one->kind, other->kind);
    return order ? order : strcmp(one->run, other->run);
}

PERF_FN int ab_by_spot_(const void *a_, const void *b_)
{
    const ab_spot *one = (const ab_spot *)a_, *other = (const ab_spot *)b_;

    return (one->ns > other->ns) - (one->ns < other->ns);
}

PERF_FN int ab_by_text_(const void *a_, const void *b_)
{
    const char *const *a = (const char *const *)a_, *const *b = (const char *const *)b_;

    return strcmp(*a, *b);
}

/* How many different runs the scopes are of. */
PERF_FN size_t ab_scope_runs_(const ab_scopes *set)
{
    const char **run = (const char **)ab_grow(NULL, set->n + 1, sizeof *run);
    size_t       i, n = 0;

    for (i = 0; i < set->n; i++)
        run[i] = set->s[i].run;
    qsort(run, set->n, sizeof *run, ab_by_text_);
    for (i = 0; i < set->n; i++)
        n += !i || strcmp(run[i], run[i - 1]) != 0;
    free(run);
    return n;
}

/* Nearest rank over the buckets of scope[0 .. n), sorted into `step`. */
PERF_FN void ab_scope_quantiles_(const ab_scope *scope, size_t n, const double *at, size_t ats,
                                 double *out)
{
    ab_spot *step;
    size_t   i, k, steps = 0;
    double   calls = 0.0, seen = 0.0;

    for (i = 0; i < n; i++)
        steps += json_array_size(scope[i].buckets);
    step = (ab_spot *)ab_grow(NULL, steps + 1, sizeof *step);
    for (i = steps = 0; i < n; i++)
        for (k = 0; k < json_array_size(scope[i].buckets); k++) {
            const json_t *bucket = json_array_get(scope[i].buckets, k);
            step[steps].ns = json_number_value(json_array_get(bucket, 0));
            step[steps].calls = json_number_value(json_array_get(bucket, 1));
            calls += step[steps++].calls;
        }
    qsort(step, steps, sizeof *step, ab_by_spot_);
    for (k = i = 0; k < ats; k++) {
        out[k] = 0.0;
        for (; i < steps && seen + step[i].calls < at[k] * calls; i++)
            seen += step[i].calls;
        if (i < steps)
            out[k] = step[i].ns;
    }
    free(step);
}

/* A line a scope, all runs together: percentiles over all calls, the run with the largest total, and
 * by how much that is beyond the mean of all runs; one that has not got the scope counts as 0.   */
PERF_FN void ab_print_scopes(FILE *file, ab_scopes *set)
{
    static const double at[] = {0.50, 0.95, 0.99};
    size_t  i, end, k, runs = ab_scope_runs_(set), here, lines = 0;
    double  x[3], calls, total, most, mine, worst;
    ab_text text[5];

    if (runs < 2)
        return;
    qsort(set->s, set->n, sizeof *set->s, ab_by_scope_);
    for (i = 0; i < set->n; i = end) {
        const ab_scope *scope = &set->s[i];
        const char     *who = "";
        calls = total = most = mine = worst = 0.0;
        for (end = i, here = 0; end < set->n && !strcmp(set->s[end].name, scope->name) &&
                                !strcmp(set->s[end].kind, scope->kind); end++) {
            const ab_scope *one = &set->s[end];
            if (end == i || strcmp(one->run, one[-1].run) != 0) {
                mine = 0.0;
                here++;
            }
            mine += one->total;
            if (mine > worst) {
                worst = mine;
                who = one->run;
            }
            calls += one->calls;
            total += one->total;
            most = one->most > most ? one->most : most;
        }
        if (!(total > 0.0) || !json_array_size(scope->buckets))
            continue;                               /* counters and instants                      */
        ab_scope_quantiles_(scope, end - i, at, 3, x);
        if (!lines++)
            fputs("  scope                     runs      calls        p50        p95        p99        max  "
                  "slowest run (its total, beyond the mean)\n", file);
        for (k = 0; k < 3; k++)
            text[k] = ab_quantity(x[k] < most ? x[k] : most, "ns");
        text[3] = ab_quantity(most, "ns");
        text[4] = ab_quantity(worst, "ns");
        fputs("  ", file);
        ab_print_column(file, scope->name, 60, 24);
        fprintf(file, " %5zu %10.0f %10s %10s %10s %10s  ", here, calls, text[0].s, text[1].s,
                text[2].s, text[3].s);
        ab_print_column(file, who, 40, 0);
        fprintf(file, " (%s, %+.1f %%)\n", text[4].s, 100.0 * (worst * (double)runs / total - 1.0));
    }
}

/* ---- the rank of a file ---- */

/* The number in the file's name that has `behind` other numbers behind it; 0: there is none. */
PERF_FN int ab_number_in_name_(const char *path, int behind, unsigned long long *out)
{
    const char *base = strrchr(path, '/'), *at, *end;

    base = base ? base + 1 : path;
    for (at = base + strlen(base); at > base; at--) {
        if (at[-1] < '0' || at[-1] > '9')
            continue;
        for (end = at; at > base && at[-1] >= '0' && at[-1] <= '9';)
            at--;
        if (!behind--) {
            *out = end - at < 10 ? strtoull(at, NULL, 10) : 0;
            return end - at < 10;
        }
        if (at == base)
            break;
    }
    return 0;
}

PERF_FN int ab_by_number_(const void *a_, const void *b_)
{
    const unsigned long long *a = (const unsigned long long *)a_,
                             *b = (const unsigned long long *)b_;

    return (*a > *b) - (*a < *b);
}

/* rank[i] of part i: the last number in the files' names that tells them apart, so that rank.10.json
 * may come before rank.2.json; without one their order.                                          */
PERF_FN void ab_ranks_of(const perf_trace_part *part, size_t n, unsigned long long *rank)
{
    unsigned long long *sorted = (unsigned long long *)ab_grow(NULL, n + 1, sizeof *sorted);
    size_t              i;
    int                 behind, all = 1, apart = 0;

    for (behind = 0; behind < 8 && all && !apart; behind++) {
        for (i = 0; i < n && all; i++)
            all = ab_number_in_name_(part[i].path, behind, &rank[i]);
        if (!all)
            break;
        memcpy(sorted, rank, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, ab_by_number_);
        for (i = 1, apart = 1; i < n; i++)
            apart &= sorted[i] != sorted[i - 1];
    }
    for (i = 0; i < n && !apart; i++)
        rank[i] = i;
    free(sorted);
}

/* ---- traces ---- */

/* Is this file a trace of perf.h, of a kind that can be merged or not?  Judged by its first bytes; 0
 * also when it cannot be read.  No pipe: what is taken out of one is gone.                       */
PERF_FN int ab_is_trace(const char *path)
{
    static const char pf[] = "\xe2\x03";        /* describes a track, behind a length of 1 or 2   */
    char   head[32];
    FILE  *file = perf_file_read_(path);
    size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;

    if (file)
        fclose(file);
    head[n] = '\0';
    return (n > 5 && head[0] == 0x0a && (!memcmp(head + 2, pf, 2) || !memcmp(head + 3, pf, 2))) ||
           !strncmp(head, "{\"displayTimeUnit\"", 18) || !strncmp(head, "[\n{\"ph\":", 8);
}

/* "+1200+-30" or "-5000": ns to add, and the bound.  0: it is neither. */
PERF_FN int ab_offset(const char *text, perf_trace_part *part)
{
    char  *end;
    double x = strtod(text, &end), bound = 0.0;

    if (end == text || !(x > -9e18 && x < 9e18))
        return 0;
    if (!strncmp(end, "+-", 2)) {
        text = end + 2;
        bound = strtod(text, &end);
        if (end == text || !(bound >= 0.0 && bound < 9e18))
            return 0;
    }
    part->offset_ns = (int64_t)x;
    part->bound_ns = (int64_t)bound;
    return !*end;
}

PERF_FN int ab_merge_traces(const char *out, const perf_trace_part *part, size_t n)
{
    size_t      bad = n;
    perf_status status = perf_trace_merge(out, part, n, &bad);
    const char *why = perf_status_text(status);

    if (status == PERF_OK)
        return AB_ACCEPT;
    if (status == PERF_EFORMAT)
        why = "not a trace of Perfetto's kind that perf.h wrote (perf_trace_save_perfetto)";
    else if (status == PERF_ERANGE)
        why = "a time would lie before 0: add the same number to the --offset of each file";
    fputs("perf-ab: ", stderr);
    ab_print_name(stderr, bad < n ? part[bad].path : out);
    fprintf(stderr, ": %s\n", why);
    return AB_UNUSABLE;
}

#endif
