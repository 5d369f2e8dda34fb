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

PERF_FN int diag_options(diag_call *call, int argc, char **argv)
{
    int i;

    for (i = 2; i < argc; i++) {
        const int value = i + 1 < argc;
        if (!strcmp(argv[i], "--against") && value)
            call->against = argv[++i];
        else if (!strcmp(argv[i], "--json") && value)
            call->json = argv[++i];
        else if (!strcmp(argv[i], "--ranks"))
            call->ranks = 1;
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error("no such option, or its value is missing:", argv[i]);
        else
            call->file[call->files++] = argv[i];
    }
    if (!call->files)
        return usage_error("diagnose which trace?", "");
    if (call->against && call->files > 1)
        return usage_error("--against compares one trace with", call->against);
    return 0;
}

/* Reads all files, what they are compared with last.  An exit status. */
PERF_FN int diag_read_all(diag_call *call)
{
    ab_error error;
    size_t   i;

    if (call->against)
        call->file[call->files++] = call->against;
    if (would_replace(&call->json, 1, call->file, call->files))
        return AB_UNUSABLE;
    call->trace = (diag_trace *)ab_grow(NULL, call->files, sizeof *call->trace);
    call->found = (diag_found *)ab_grow(NULL, call->files, sizeof *call->found);
    memset(call->trace, 0, call->files * sizeof *call->trace);
    memset(call->found, 0, call->files * sizeof *call->found);
    for (i = 0; i < call->files; i++) {
        if (diag_trace_read(&call->trace[i], call->file[i], &error) < 0)
            return unusable(&error);
        diag_find(&call->found[i], &call->trace[i]);
    }
    return 0;
}

/* Are two files before and after?  Those of one rank are, or of none. */
PERF_FN int diag_is_change(const diag_call *call)
{
    if (call->against)
        return 1;
    return call->files == 2 && !call->ranks && call->trace[0].rank == call->trace[1].rank;
}

/* The rank that others wait for: it computes longest, or without a device its steps are longest. */
PERF_FN size_t diag_slowest(const diag_call *call)
{
    size_t i, slowest = 0;

    for (i = 1; i < call->files; i++)
        if (diag_own_time(&call->found[i]) > diag_own_time(&call->found[slowest]))
            slowest = i;
    return slowest;
}

PERF_FN void diag_say_ranks(FILE *out, const diag_call *call)
{
    const size_t slowest = diag_slowest(call);
    double       mean = 0;
    size_t       i;

    fputs("  rank       step    compute  communic.     copies       idle  bound by\n", out);
    for (i = 0; i < call->files; i++) {
        const diag_found *found = &call->found[i];
        const double      window = diag_window(found);
        const ab_text     step = ab_quantity(found->steps ? found->time.mean : window, "ns");
        const int         rank = found->t->rank;
        fprintf(out, "  %4d %10s %8.1f %% %8.1f %% %8.1f %% %8.1f %%  %s\n",
                rank >= 0 ? rank : (int)i, step.s, 100 * (double)found->compute.total / window,
                100 * (double)found->only_collective / window,
                100 * (double)found->only_copy / window, 100 * (double)found->idle / window,
                diag_bound_text(found->bound));
        mean += diag_own_time(found) / (double)call->files;
    }
    fprintf(out, "slowest: rank %d: its own work takes %+.1f %% of the mean of all ranks; others "
                 "wait for it\n",
            call->found[slowest].t->rank >= 0 ? call->found[slowest].t->rank : (int)slowest,
            mean > 0 ? 100 * (diag_own_time(&call->found[slowest]) / mean - 1) : 0.0);
}

PERF_FN void diag_say_call(FILE *out, const diag_call *call)
{
    if (diag_is_change(call)) {
        diag_say_change(out, &call->found[0], &call->found[1]);
        return;
    }
    if (call->files > 1)
        diag_say_ranks(out, call);
    diag_say(out, &call->found[call->files > 1 ? diag_slowest(call) : 0]);
}

/* Writes what is asked for.  An exit status. */
PERF_FN int diag_write(const diag_call *call)
{
    perf_file_ out;

    if (!call->json || strcmp(call->json, "-") != 0)
        diag_say_call(stdout, call);
    if (call->json && !strcmp(call->json, "-"))
        diag_json(stdout, call->found, call->files);
    if (call->json && strcmp(call->json, "-") != 0) {
        if (!ab_begin_file(&out, call->json))
            return unwritten(call->json);
        diag_json(out.file, call->found, call->files);
        if (ab_end_file(&out, call->json))
            return unwritten(call->json);
    }
    return written();
}

PERF_FN int diagnose_main(int argc, char **argv)
{
    diag_call call;
    size_t    i;
    int       status;

    memset(&call, 0, sizeof call);
    call.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *call.file);
    status = diag_options(&call, argc, argv);
    if (!status)
        status = diag_read_all(&call);
    if (!status)
        status = diag_write(&call);
    for (i = 0; i < call.files && call.trace; i++) {
        diag_found_free(&call.found[i]);
        diag_trace_free(&call.trace[i]);
    }
    free(call.found);
    free(call.trace);
    free(call.file);
    return status;
}

#endif
