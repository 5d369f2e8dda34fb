/* merge.h - perf-ab merge: several runs or ranks become one results file, traces one trace.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_MERGE_H
#define PERF_TOOLS_MERGE_H

#include "ranks.h"
#include "read.h"
#include "say.h"
#include "write.h"

typedef struct merging {
    const char      *out;
    perf_trace_part *part;
    size_t           parts;
    int              ranks, about_traces;
} merging;

PERF_FN int merge_options(merging *merge, int argc, char **argv)
{
    perf_trace_part next;
    int             i;

    memset(&next, 0, sizeof next);
    for (i = 2; i < argc; i++) {
        int more = i + 1 < argc;
        if (!strcmp(argv[i], "-o") && more) {
            merge->out = argv[++i];
        } else if (!strcmp(argv[i], "--ranks")) {
            merge->ranks = 1;
        } else if (!strcmp(argv[i], "--name") && more) {
            next.name = argv[++i];
            merge->about_traces = 1;
        } else if (!strcmp(argv[i], "--offset") && more) {
            if (!ab_offset(argv[++i], &next))
                return usage_error("an offset is NS or NS+-NS, not", argv[i]);
            merge->about_traces = 1;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return usage_error("no such option:", argv[i]);
        } else {
            next.path = argv[i];
            merge->part[merge->parts++] = next;
            memset(&next, 0, sizeof next);
        }
    }
    if (next.name || next.offset_ns || next.bound_ns)
        return usage_error("--name and --offset stand before the file that they are about", "");
    return merge->parts ? 0 : usage_error("nothing to merge", "");
}

/* "rank 0", ...: by the files' names, or their order. */
PERF_FN char (*rank_names(const merging *merge))[32]
{
    char (*name)[32] = (char (*)[32])ab_grow(NULL, merge->parts, sizeof *name);
    unsigned long long *rank = (unsigned long long *)ab_grow(NULL, merge->parts, sizeof *rank);
    size_t              i;

    ab_ranks_of(merge->part, merge->parts, rank);
    for (i = 0; i < merge->parts; i++)
        snprintf(name[i], sizeof name[i], "rank %llu", rank[i]);
    free(rank);
    return name;
}

PERF_FN int merge_traces(merging *merge)
{
    char (*name)[32] = rank_names(merge);
    size_t i;
    int    status;

    for (i = 0; i < merge->parts && merge->ranks; i++)
        if (!merge->part[i].name)
            merge->part[i].name = name[i];
    status = strcmp(merge->out, "-") ? ab_merge_traces(merge->out, merge->part, merge->parts)
                                     : usage_error("traces need a file: -o FILE", "");
    free(name);
    return status;
}

/* Every run of one file becomes that of its rank. */
PERF_FN void name_runs(ab_set *one, ab_rank *rank)
{
    size_t i, k;

    for (i = 0; i < one->n; i++)
        for (k = 0; k < one->s[i].runs; k++) {
            ab_run     *run = &one->s[i].run[k];
            const char *id = ab_rank_run(rank, run->id ? run->id : "");
            free(run->id);
            run->id = ab_copy(id, strlen(id));
        }
}

PERF_FN int merge_one(const merging *merge, size_t i, const char *name, ab_set *set,
                      ab_scopes *scopes)
{
    ab_about_file about = {1, 0};
    ab_rank       rank = {NULL, NULL};
    ab_set        one;
    ab_read_opts  ro;
    ab_error      error;
    char          id[32], *text;
    size_t        len = 0;
    int           found, failed = 0;

    memset(&one, 0, sizeof one);
    memset(&ro, 0, sizeof ro);
    ro.every = 1;
    snprintf(id, sizeof id, "%zu", i + 1);
    ro.run = id;
    text = ab_slurp(merge->part[i].path, &len, &error);
    if (!text)
        return unusable(&error);
    rank.name = name;
    rank.runs = json_object();
    found = ab_read_scopes(scopes, merge->part[i].path, text, len, i + 1, name ? &rank : NULL,
                           &about, &error);
    failed = found < 0;
    if (!failed && (about.measured || !found))
        failed = ab_read(&one, merge->part[i].path, text, len, &ro, &error) < 0;
    if (!failed && name && json_object_size(rank.runs) == 1)
        json_object_set_new(rank.runs, id, json_string(name));      /* one alone is all of them   */
    if (!failed && name)
        name_runs(&one, &rank);
    if (!failed)
        ab_run_ids(scopes, &one, i + 1, about.taken && !name);
    if (!failed)
        say_left_out(&one, "merged");
    if (!failed)
        failed = ab_absorb(set, &one, i + 1, merge->part[i].path, &error) < 0;
    free(text);
    json_decref(rank.runs);
    ab_set_free(&one);
    return failed ? unusable(&error) : 0;
}

/* Writes the merged file; beside one, tables of what is slowest.  An exit status. */
PERF_FN int merge_write(const merging *merge, const ab_set *set, ab_scopes *scopes)
{
    const int  to_stdout = !strcmp(merge->out, "-");
    perf_file_ out;
    FILE      *file = to_stdout ? stdout : ab_begin_file(&out, merge->out);

    if (!file)
        return unwritten(merge->out);
    ab_print_results_begin(file, set);
    ab_print_scopes_json(file, scopes);
    fputs("\n}\n", file);
    if (to_stdout)
        return written();
    if (ab_end_file(&out, merge->out) != 0)
        return unwritten(merge->out);
    ab_print_ranks(stdout, set);
    ab_print_scopes(stdout, scopes);
    return written();
}

PERF_FN int merge_results(merging *merge)
{
    ab_set    set;
    ab_scopes scopes;
    char    (*name)[32] = rank_names(merge);
    size_t    i;
    int       status = 0;

    memset(&set, 0, sizeof set);
    memset(&scopes, 0, sizeof scopes);
    for (i = 0; i < merge->parts && !status; i++)
        status = merge_one(merge, i, merge->ranks ? name[i] : NULL, &set, &scopes);
    if (!status) {
        ab_list_runs(&scopes, &set);
        status = merge_write(merge, &set, &scopes);
    }
    free(name);
    ab_scopes_free(&scopes);
    ab_set_free(&set);
    return status;
}

PERF_FN int merge(int argc, char **argv)
{
    merging m;
    int     status;

    memset(&m, 0, sizeof m);
    m.out = "-";
    m.part = (perf_trace_part *)ab_grow(NULL, (size_t)argc, sizeof *m.part);
    status = merge_options(&m, argc, argv);
    if (!status && (m.about_traces || ab_is_trace(m.part[0].path)))
        status = merge_traces(&m);
    else if (!status)
        status = merge_results(&m);
    free(m.part);
    return status;
}

#endif
