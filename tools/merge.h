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

PERF_FN int merge_options(merging *m, int argc, char **argv)
{
    perf_trace_part next;
    int             i;

    memset(&next, 0, sizeof next);
    for (i = 2; i < argc; i++) {
        int more = i + 1 < argc;
        if (!strcmp(argv[i], "-o") && more) {
            m->out = argv[++i];
        } else if (!strcmp(argv[i], "--ranks")) {
            m->ranks = 1;
        } else if (!strcmp(argv[i], "--name") && more) {
            next.name = argv[++i];
            m->about_traces = 1;
        } else if (!strcmp(argv[i], "--offset") && more) {
            if (!ab_offset(argv[++i], &next))
                return usage_error("an offset is NS or NS+-NS, not", argv[i]);
            m->about_traces = 1;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return usage_error("no such option:", argv[i]);
        } else {
            next.path = argv[i];
            m->part[m->parts++] = next;
            memset(&next, 0, sizeof next);
        }
    }
    if (next.name || next.offset_ns || next.bound_ns)
        return usage_error("--name and --offset stand before the file that they are about", "");
    return m->parts ? 0 : usage_error("nothing to merge", "");
}

/* "rank 0", ...: by the files' names, or their order. */
PERF_FN char (*rank_names(const merging *m))[32]
{
    char (*name)[32] = (char (*)[32])ab_grow(NULL, m->parts, sizeof *name);
    unsigned long long *rank = (unsigned long long *)ab_grow(NULL, m->parts, sizeof *rank);
    size_t              i;

    ab_ranks_of(m->part, m->parts, rank);
    for (i = 0; i < m->parts; i++)
        snprintf(name[i], sizeof name[i], "rank %llu", rank[i]);
    free(rank);
    return name;
}

PERF_FN int merge_traces(merging *m)
{
    char (*name)[32] = rank_names(m);
    size_t i;
    int    status;

    for (i = 0; i < m->parts && m->ranks; i++)
        if (!m->part[i].name)
            m->part[i].name = name[i];
    status = strcmp(m->out, "-") ? ab_merge_traces(m->out, m->part, m->parts)
                                 : usage_error("traces need a file: -o FILE", "");
    free(name);
    return status;
}

/* Every run of one file becomes that of its rank. */
PERF_FN void name_runs(ab_set *one, const char *rank)
{
    size_t i, k, size = strlen(rank) + 32;

    for (i = 0; i < one->n; i++)
        for (k = 0; k < one->s[i].runs; k++) {
            ab_run *r = &one->s[i].run[k];
            free(r->id);
            r->id = (char *)ab_grow(NULL, size, 1);
            snprintf(r->id, size, k ? "%s.%zu" : "%s", rank, k + 1);
        }
}

PERF_FN int merge_one(const merging *m, size_t i, const char *rank, ab_set *set, ab_scopes *scopes)
{
    ab_set       one;
    ab_read_opts ro;
    ab_error     e;
    char         id[32], *text;
    size_t       len = 0;
    int          found, measured = 1, failed = 0;

    memset(&one, 0, sizeof one);
    memset(&ro, 0, sizeof ro);
    ro.every = 1;
    snprintf(id, sizeof id, "%zu", i + 1);
    ro.run = id;
    text = ab_slurp(m->part[i].path, &len, &e);
    if (!text)
        return unusable(&e);
    found = ab_read_scopes(scopes, m->part[i].path, text, len, i + 1, rank, &measured, &e);
    failed = found < 0;
    if (!failed && (measured || !found))
        failed = ab_read(&one, m->part[i].path, text, len, &ro, &e) < 0;
    if (!failed && rank)
        name_runs(&one, rank);
    if (!failed)
        say_left_out(&one, "merged");
    if (!failed)
        failed = ab_absorb(set, &one, i + 1, m->part[i].path, &e) < 0;
    free(text);
    ab_set_free(&one);
    return failed ? unusable(&e) : 0;
}

/* Writes the merged file; beside one, tables of what is slowest.  An exit status. */
PERF_FN int merge_write(const merging *m, const ab_set *set, ab_scopes *scopes)
{
    const int  to_stdout = !strcmp(m->out, "-");
    perf_file_ out;
    FILE      *f = to_stdout ? stdout : ab_begin_file(&out, m->out);

    if (!f)
        return unwritten(m->out);
    ab_print_results_begin(f, set);
    ab_print_scopes_json(f, scopes);
    fputs("\n}\n", f);
    if (to_stdout)
        return written();
    if (ab_end_file(&out, m->out) != 0)
        return unwritten(m->out);
    ab_print_ranks(stdout, set);
    ab_print_scopes(stdout, scopes);
    return written();
}

PERF_FN int merge_results(merging *m)
{
    ab_set    set;
    ab_scopes scopes;
    char    (*name)[32] = rank_names(m);
    size_t    i;
    int       status = 0;

    memset(&set, 0, sizeof set);
    memset(&scopes, 0, sizeof scopes);
    for (i = 0; i < m->parts && !status; i++)
        status = merge_one(m, i, m->ranks ? name[i] : NULL, &set, &scopes);
    if (!status) {
        ab_list_runs(&scopes, &set);
        status = merge_write(m, &set, &scopes);
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
