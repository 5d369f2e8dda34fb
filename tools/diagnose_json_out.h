/* diagnose_json_out.h - what perf-ab diagnose --json writes: the figures of each trace.
 *
 *     diag_json(stdout, found, n);
 *
 * Times are in ns, of the whole window unless a name says otherwise.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_JSON_OUT_H
#define PERF_TOOLS_DIAGNOSE_JSON_OUT_H

#include "diagnose_say.h"

PERF_FN void diag_json_number(FILE *out, const char *key, double x)
{
    fprintf(out, ", \"%s\": ", key);
    ab_print_json_number(out, x);
}

/* A list of sums: name or path, time, calls. */
PERF_FN void diag_json_sums(FILE *out, const char *key, const diag_found *found,
                            const diag_sums *sums, int path)
{
    char   text[300];
    size_t i;

    fprintf(out, ",\n   \"%s\": [", key);
    for (i = 0; i < sums->n; i++) {
        const diag_sum *sum = &sums->s[i];
        snprintf(text, sizeof text, "%s", diag_text_of(found->t, &found->t->event[sum->event]));
        if (path)
            diag_path(found->t, sum->event, text, sizeof text);
        fputs(i ? ",\n     {\"name\": " : "\n     {\"name\": ", out);
        ab_print_json(out, text);
        diag_json_number(out, "ns", (double)sum->ns);
        diag_json_number(out, "calls", (double)sum->count);
        putc('}', out);
    }
    putc(']', out);
}

PERF_FN void diag_json_steps(FILE *out, const diag_found *found)
{
    fprintf(out, ",\n   \"steps\": {\"count\": %zu, \"warmup\": %zu", found->steps, found->warmup);
    diag_json_number(out, "mean_ns", found->time.mean);
    diag_json_number(out, "std_ns", found->time.std);
    diag_json_number(out, "p50_ns", found->time.p50);
    diag_json_number(out, "p95_ns", found->time.p95);
    putc('}', out);
}

PERF_FN void diag_json_idle(FILE *out, const diag_found *found)
{
    int i;

    fputs(",\n   \"idle_ns\": {", out);
    for (i = 0; i < DIAG_WHYS; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", diag_why_text(i));
        ab_print_json_number(out, (double)found->why[i]);
    }
    putc('}', out);
}

PERF_FN void diag_json_families(FILE *out, const diag_found *found)
{
    size_t             n, i;
    const diag_family *family = diag_families(&n);

    fputs(",\n   \"family_ns\": {", out);
    for (i = 0; i < n; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", family[i].name);
        ab_print_json_number(out, (double)found->family_ns[i]);
    }
    putc('}', out);
}

PERF_FN void diag_json_moves(FILE *out, const diag_found *found)
{
    static const char *const way[] = {"to_device", "to_host", "on_device"};
    static const char *const memory[] = {"", "_pinned", "_pageable"};
    int i, k;

    fputs(",\n   \"copies\": {", out);
    for (i = 0; i < DIAG_DIRECTIONS; i++)
        for (k = 0; k < DIAG_MEMORIES; k++) {
            const diag_move *move = &found->move[i][k];
            fprintf(out, "%s\"%s%s\": {\"calls\": %llu, \"bytes\": %llu, \"ns\": %lld}",
                    i || k ? ", " : "", way[i], memory[k],
                    (unsigned long long)move->count, (unsigned long long)move->bytes,
                    (long long)move->ns);
        }
    putc('}', out);
}

PERF_FN void diag_json_one(FILE *out, const diag_found *found)
{
    fputs("  {\"file\": ", out);
    ab_print_json(out, found->t->file);
    fprintf(out, ", \"rank\": %d, \"events\": %zu, \"broken\": %zu, \"bound\": \"%s\"",
            found->t->rank, found->t->n, found->t->broken, diag_bound_text(found->bound));
    diag_json_number(out, "devices", (double)found->devices.n);
    diag_json_number(out, "share", found->share);
    diag_json_number(out, "best", found->best);
    diag_json_steps(out, found);
    fputs(",\n   \"window_ns\": ", out);
    ab_print_json_number(out, (double)(found->end - found->begin));
    diag_json_number(out, "busy_ns", (double)found->busy.total);
    diag_json_number(out, "compute_ns", (double)found->compute.total);
    diag_json_number(out, "collective_ns", (double)found->collective.total);
    diag_json_number(out, "copy_ns", (double)found->copy.total);
    diag_json_number(out, "only_collective_ns", (double)found->only_collective);
    diag_json_number(out, "only_copy_ns", (double)found->only_copy);
    diag_json_number(out, "overlap_copy_ns",
                     (double)diag_span_common(&found->copy, &found->compute));
    diag_json_number(out, "overlap_collective_ns",
                     (double)diag_span_common(&found->collective, &found->compute));
    diag_json_number(out, "idle_all_ns", (double)found->idle);
    diag_json_number(out, "sync_ns", (double)found->sync.total);
    diag_json_number(out, "data_ns", (double)found->data.total);
    diag_json_number(out, "fetches", (double)found->fetches);
    diag_json_number(out, "tiny_kernels", (double)found->tiny);
    diag_json_number(out, "queue_mean", found->queue_mean);
    diag_json_number(out, "queue_most", found->queue_most);
    diag_json_number(out, "launch_p50_ns", found->delay_p50);
    diag_json_number(out, "launch_p95_ns", found->delay_p95);
    diag_json_idle(out, found);
    diag_json_families(out, found);
    diag_json_moves(out, found);
    diag_json_sums(out, "kernels", found, &found->kernels, 0);
    diag_json_sums(out, "paths", found, &found->paths, 1);
    diag_json_sums(out, "operators", found, &found->operators, 0);
    diag_json_sums(out, "synchronisations", found, &found->syncs, 1);
    diag_json_sums(out, "waited_for", found, &found->hosts, 1);
    diag_json_sums(out, "host_code", found, &found->codes, 1);
    putc('}', out);
}

/* One document for all traces. */
PERF_FN void diag_json(FILE *out, const diag_found *found, size_t n)
{
    size_t i;

    fputs("{\"perf_diagnose\": 1, \"traces\": [\n", out);
    for (i = 0; i < n; i++) {
        diag_json_one(out, &found[i]);
        fputs(i + 1 < n ? ",\n" : "\n", out);
    }
    fputs("]}\n", out);
}

#endif
