/* diagnose.h - perf-ab diagnose: five lines for a trace of torch.profiler.
 *
 *     perf-ab diagnose trace.json.gz                   one trace
 *     perf-ab diagnose rank*.json                      one of each rank, and who is slowest
 *     perf-ab diagnose before.json --against after.json        what changed
 *
 * It reads what a profiler wrote and measures nothing: a trace is one run, and a profiler slows the
 * host.  What it says of a change wants `perf-ab run` to be believed (docs/diagnose.md).
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_H
#define PERF_TOOLS_DIAGNOSE_H

#include "diagnose_change.h"
#include "diagnose_json_out.h"
#include "say.h"

typedef struct diag_call {              /* what was asked for                                     */
    const char **file;
    size_t       files;
    const char  *against;               /* NULL: nothing is compared                              */
    const char  *json;                  /* where the JSON goes; NULL: nowhere                     */
    int          ranks;                 /* 1: two files are two ranks, whatever they say          */
    diag_trace  *trace;
    diag_found  *found;
} diag_call;

PERF_FN int diag_options(diag_call *c, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const int value = i + 1 < argc;
        if (!strcmp(argv[i], "--against") && value)
            c->against = argv[++i];
        else if (!strcmp(argv[i], "--json") && value)
            c->json = argv[++i];
        else if (!strcmp(argv[i], "--ranks"))
            c->ranks = 1;
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option, or its value is missing:", argv[i]);
        else
            c->file[c->files++] = argv[i];
    }
    if (!c->files)
        return usage_error("diagnose which trace?", "");
    if (c->against && c->files > 1)
        return usage_error("--against compares one trace with", c->against);
    return 0;
}

/* Reads all files, what they are compared with last.  An exit status. */
PERF_FN int diag_read_all(diag_call *c)
{
    ab_error e;
    size_t   i;

    if (c->against)
        c->file[c->files++] = c->against;
    c->trace = (diag_trace *)ab_grow(NULL, c->files, sizeof *c->trace);
    c->found = (diag_found *)ab_grow(NULL, c->files, sizeof *c->found);
    memset(c->trace, 0, c->files * sizeof *c->trace);
    memset(c->found, 0, c->files * sizeof *c->found);
    for (i = 0; i < c->files; i++) {
        if (diag_trace_read(&c->trace[i], c->file[i], &e) < 0)
            return unusable(&e);
        diag_find(&c->found[i], &c->trace[i]);
    }
    return 0;
}

/* Are two files before and after?  Those of one rank are, or of none. */
PERF_FN int diag_is_change(const diag_call *c)
{
    if (c->against)
        return 1;
    return c->files == 2 && !c->ranks && c->trace[0].rank == c->trace[1].rank;
}

/* The rank that others wait for: it computes longest, or without a device its steps are longest. */
PERF_FN size_t diag_slowest(const diag_call *c)
{
    size_t i, slowest = 0;

    for (i = 1; i < c->files; i++)
        if (diag_own_time(&c->found[i]) > diag_own_time(&c->found[slowest]))
            slowest = i;
    return slowest;
}

PERF_FN void diag_say_ranks(FILE *out, const diag_call *c)
{
    const size_t slowest = diag_slowest(c);
    double       mean = 0;
    size_t       i;

    fputs("  rank       step    compute  communic.     copies       idle  bound by\n", out);
    for (i = 0; i < c->files; i++) {
        const diag_found *f = &c->found[i];
        const double      window = diag_window(f);
        const ab_text     step = ab_quantity(f->steps ? f->time.mean : window, "ns");
        const int         rank = f->t->rank;
        fprintf(out, "  %4d %10s %8.1f %% %8.1f %% %8.1f %% %8.1f %%  %s\n",
                rank >= 0 ? rank : (int)i, step.s, 100 * (double)f->compute.total / window,
                100 * (double)f->only_collective / window, 100 * (double)f->only_copy / window,
                100 * (double)f->idle / window, diag_bound_text(f->bound));
        mean += diag_own_time(f) / (double)c->files;
    }
    fprintf(out, "slowest: rank %d: its own work takes %+.1f %% of the mean of all ranks; others "
                 "wait for it\n",
            c->found[slowest].t->rank >= 0 ? c->found[slowest].t->rank : (int)slowest,
            mean > 0 ? 100 * (diag_own_time(&c->found[slowest]) / mean - 1) : 0.0);
}

PERF_FN void diag_say_call(FILE *out, const diag_call *c)
{
    if (diag_is_change(c)) {
        diag_say_change(out, &c->found[0], &c->found[1]);
        return;
    }
    if (c->files > 1)
        diag_say_ranks(out, c);
    diag_say(out, &c->found[c->files > 1 ? diag_slowest(c) : 0]);
}

/* Writes what is asked for.  An exit status. */
PERF_FN int diag_write(const diag_call *c)
{
    perf_file_ out;

    if (!c->json || strcmp(c->json, "-") != 0)
        diag_say_call(stdout, c);
    if (c->json && !strcmp(c->json, "-"))
        diag_json(stdout, c->found, c->files);
    if (c->json && strcmp(c->json, "-") != 0) {
        if (!ab_begin_file(&out, c->json))
            return unwritten(c->json);
        diag_json(out.file, c->found, c->files);
        if (ab_end_file(&out, c->json))
            return unwritten(c->json);
    }
    return written();
}

PERF_FN int diagnose_main(int argc, char **argv)
{
    diag_call c;
    size_t    i;
    int       status;

    memset(&c, 0, sizeof c);
    c.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *c.file);
    status = diag_options(&c, argc, argv);
    if (!status)
        status = diag_read_all(&c);
    if (!status)
        status = diag_write(&c);
    for (i = 0; i < c.files && c.trace; i++) {
        diag_found_free(&c.found[i]);
        diag_trace_free(&c.trace[i]);
    }
    free(c.found);
    free(c.trace);
    free(c.file);
    return status;
}

#endif
