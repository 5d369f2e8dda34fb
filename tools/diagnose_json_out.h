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
PERF_FN void diag_json_sums(FILE *out, const char *key, const diag_found *f, const diag_sums *sums,
                            int path)
{
    char   text[300];
    size_t i;

    fprintf(out, ",\n   \"%s\": [", key);
    for (i = 0; i < sums->n; i++) {
        const diag_sum *s = &sums->s[i];
        snprintf(text, sizeof text, "%s", diag_text_of(f->t, &f->t->event[s->event]));
        if (path)
            diag_path(f->t, s->event, text, sizeof text);
        fputs(i ? ",\n     {\"name\": " : "\n     {\"name\": ", out);
        ab_print_json(out, text);
        diag_json_number(out, "ns", (double)s->ns);
        diag_json_number(out, "calls", (double)s->count);
        putc('}', out);
    }
    putc(']', out);
}

PERF_FN void diag_json_steps(FILE *out, const diag_found *f)
{
    fprintf(out, ",\n   \"steps\": {\"count\": %zu, \"warmup\": %zu", f->steps, f->warmup);
    diag_json_number(out, "mean_ns", f->time.mean);
    diag_json_number(out, "std_ns", f->time.std);
    diag_json_number(out, "p50_ns", f->time.p50);
    diag_json_number(out, "p95_ns", f->time.p95);
    putc('}', out);
}

PERF_FN void diag_json_idle(FILE *out, const diag_found *f)
{
    int i;

    fputs(",\n   \"idle_ns\": {", out);
    for (i = 0; i < DIAG_WHYS; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", diag_why_text(i));
        ab_print_json_number(out, (double)f->why[i]);
    }
    putc('}', out);
}

PERF_FN void diag_json_families(FILE *out, const diag_found *f)
{
    size_t             n, i;
    const diag_family *family = diag_families(&n);

    fputs(",\n   \"family_ns\": {", out);
    for (i = 0; i < n; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", family[i].name);
        ab_print_json_number(out, (double)f->family_ns[i]);
    }
    putc('}', out);
}

PERF_FN void diag_json_moves(FILE *out, const diag_found *f)
{
    static const char *const way[] = {"to_device", "to_host", "on_device"};
    static const char *const memory[] = {"", "_pinned", "_pageable"};
    int i, k;

    fputs(",\n   \"copies\": {", out);
    for (i = 0; i < DIAG_DIRECTIONS; i++)
        for (k = 0; k < DIAG_MEMORIES; k++) {
            const diag_move *m = &f->move[i][k];
            fprintf(out, "%s\"%s%s\": {\"calls\": %llu, \"bytes\": %llu, \"ns\": %lld}",
                    i || k ? ", " : "", way[i], memory[k],
                    (unsigned long long)m->count, (unsigned long long)m->bytes, (long long)m->ns);
        }
    putc('}', out);
}

PERF_FN void diag_json_one(FILE *out, const diag_found *f)
{
    fputs("  {\"file\": ", out);
    ab_print_json(out, f->t->file);
    fprintf(out, ", \"rank\": %d, \"events\": %zu, \"broken\": %zu, \"bound\": \"%s\"", f->t->rank,
            f->t->n, f->t->broken, diag_bound_text(f->bound));
    diag_json_number(out, "devices", (double)f->devices.n);
    diag_json_number(out, "share", f->share);
    diag_json_number(out, "best", f->best);
    diag_json_steps(out, f);
    fputs(",\n   \"window_ns\": ", out);
    ab_print_json_number(out, (double)(f->end - f->begin));
    diag_json_number(out, "busy_ns", (double)f->busy.total);
    diag_json_number(out, "compute_ns", (double)f->compute.total);
    diag_json_number(out, "collective_ns", (double)f->collective.total);
    diag_json_number(out, "copy_ns", (double)f->copy.total);
    diag_json_number(out, "only_collective_ns", (double)f->only_collective);
    diag_json_number(out, "only_copy_ns", (double)f->only_copy);
    diag_json_number(out, "overlap_copy_ns", (double)diag_span_common(&f->copy, &f->compute));
    diag_json_number(out, "overlap_collective_ns",
                     (double)diag_span_common(&f->collective, &f->compute));
    diag_json_number(out, "idle_all_ns", (double)f->idle);
    diag_json_number(out, "sync_ns", (double)f->sync.total);
    diag_json_number(out, "data_ns", (double)f->data.total);
    diag_json_number(out, "fetches", (double)f->fetches);
    diag_json_number(out, "tiny_kernels", (double)f->tiny);
    diag_json_number(out, "queue_mean", f->queue_mean);
    diag_json_number(out, "queue_most", f->queue_most);
    diag_json_number(out, "launch_p50_ns", f->delay_p50);
    diag_json_number(out, "launch_p95_ns", f->delay_p95);
    diag_json_idle(out, f);
    diag_json_families(out, f);
    diag_json_moves(out, f);
    diag_json_sums(out, "kernels", f, &f->kernels, 0);
    diag_json_sums(out, "paths", f, &f->paths, 1);
    diag_json_sums(out, "operators", f, &f->operators, 0);
    diag_json_sums(out, "synchronisations", f, &f->syncs, 1);
    diag_json_sums(out, "waited_for", f, &f->hosts, 1);
    diag_json_sums(out, "host_code", f, &f->codes, 1);
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
