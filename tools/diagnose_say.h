/* diagnose_say.h - what perf-ab diagnose prints of one trace: five lines, and the evidence.
 *
 *     diag_say(stdout, &found);
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_SAY_H
#define PERF_TOOLS_DIAGNOSE_SAY_H

#include "diagnose_find.h"

enum { DIAG_ROWS = 8 };                 /* of a list                                              */

typedef struct diag_words {
    const char *name, *advice;
} diag_words;

PERF_FN const diag_words *diag_words_of(diag_bound bound)
{
    static const diag_words words[DIAG_BOUNDS] = {
        {"cannot tell", "profile 10 steps or more with CPU and CUDA activities, and prof.step() "
                        "after each"},
        {"data", "more workers (num_workers), pinned memory, cheaper transforms; keep the data "
                 "closer"},
        {"host launch", "fewer, larger launches: torch.compile, CUDA graphs, fused optimizer, "
                        "larger batch"},
        {"copies", "pin_memory=True and non_blocking=True, on a stream of their own; copy less"},
        {"synchronisation", "keep numbers on the device; ask for .item() every 100 steps, not "
                            "every step"},
        {"device compute", "lower precision (bf16, TF32), a better kernel or algorithm for the "
                           "largest family"},
        {"memory traffic", "fuse elementwise work (torch.compile), keep one layout, use bf16, "
                           "in-place"},
        {"communication", "overlap it with backward (bucket size), send less, find the slowest "
                          "rank"},
        {"host compute", "a faster operator, a device; more threads, or fewer on a crowded machine "
                         "(torch.set_num_threads)"},
        {"one pause", "profile later steps, 10 or more: schedule(wait=1, warmup=2, active=10); "
                      "what does not repeat is start-up (kernels and libraries load at first use)"},
        {"host code", "find what Python does there (record_function around it, with_stack=True, "
                      "python -m perfh run); do it less often, or in another thread or process"},
        {"held back", "find what the stream waits for: an event of another stream, another rank, "
                      "another program on the device"}};

    return &words[bound < DIAG_BOUNDS ? bound : DIAG_UNKNOWN];
}

PERF_FN const char *diag_bound_text(diag_bound bound)
{
    return diag_words_of(bound)->name;
}

PERF_FN const char *diag_why_text(int why)
{
    static const char *const text[DIAG_WHYS] = {
        "waiting for data", "drained by a synchronisation", "the host prepares a copy",
        "the host is behind", "in a long launch call", "launched and held back", "starting",
        "the host outside of operators", "launched by what is not in the trace",
        "nothing more launched"};

    return text[why];
}

/* "41.2 ms" */
PERF_FN void diag_print_ns(FILE *file, const char *before, double ns)
{
    const ab_text text = ab_quantity(ns, "ns");

    fprintf(file, "%s%s", before, text.s);
}

/* "12.3 %" of the window */
PERF_FN void diag_print_share(FILE *file, const char *before, double part, double whole)
{
    fprintf(file, "%s%.1f %%", before, whole > 0 ? 100 * part / whole : 0.0);
}

/* Steps, or 1 where there are none: what totals are divided by. */
PERF_FN double diag_units(const diag_found *found)
{
    return found->steps ? (double)found->steps : 1;
}

PERF_FN const char *diag_unit(const diag_found *found)
{
    return found->steps ? "a step" : "in all";
}

/* ---- places ---- */

/* Puts a part of a path behind what is there, cut to what is left. */
PERF_FN void diag_path_add(char *out, size_t size, const char *part)
{
    const size_t n = strlen(out);

    if (n + 4 < size)
        snprintf(out + n, size - n, "%s%.60s", n ? " > " : "", part);
}

/* The name of a host's event for people. */
PERF_FN const char *diag_short(const char *name)
{
    static const char *const drop[] = {"autograd::engine::evaluate_function: ", "nn.Module: "};
    size_t i;

    for (i = 0; i < sizeof drop / sizeof *drop; i++)
        if (diag_starts(name, drop[i]))
            return name + strlen(drop[i]);
    return name;
}

/* The name of any event for people. */
PERF_FN void diag_event_text(const diag_trace *trace, const diag_event *event, char *out,
                             size_t size)
{
    if (event->kind == DIAG_KERNEL)
        diag_readable(diag_text_of(trace, event), out, size);
    else
        snprintf(out, size, "%.*s", 80, diag_short(diag_text_of(trace, event)));
}

/* Annotation, module and operators around an event, "forward > Linear_0 > aten::addmm". */
PERF_FN void diag_path(const diag_trace *trace, uint32_t event, char *out, size_t size)
{
    const diag_place place = diag_place_of(trace, event + 1);
    const uint32_t   part[4] = {place.note, place.module, place.outer, place.inner};
    const char      *last = "", *name;
    int              i;

    *out = '\0';
    if (!diag_of_host(&trace->event[event])) {
        diag_event_text(trace, &trace->event[event], out, size);
        return;
    }
    for (i = 0; i < 4; i++) {
        if (!part[i])
            continue;
        name = diag_short(diag_text_of(trace, &trace->event[part[i] - 1]));
        if (strcmp(name, last) != 0)
            diag_path_add(out, size, name);
        last = name;
    }
    if (!*out)
        diag_path_add(out, size, diag_text_of(trace, &trace->event[event]));
}

PERF_FN const diag_sum *diag_first(const diag_sums *sums)
{
    return sums->n ? &sums->s[0] : NULL;
}

/* The collective with most time; NULL: there is none. */
PERF_FN const diag_sum *diag_first_collective(const diag_found *found)
{
    size_t i;

    for (i = 0; i < found->kernels.n; i++)
        if (!found->is[found->t->event[found->kernels.s[i].event].name].family)
            return &found->kernels.s[i];
    return diag_first(&found->talks);
}

/* Where most of the bound is; *path: its event stands for a path.  NULL: the trace does not say. */
PERF_FN const diag_sum *diag_shown_by(const diag_found *found, int *path)
{
    *path = 0;
    switch (found->bound) {
    case DIAG_BY_DATA:
        return diag_first(&found->datas);
    case DIAG_BY_COPIES:
        return diag_first(&found->moves);
    case DIAG_BY_COLLECTIVES:
        return diag_first_collective(found);
    case DIAG_BY_HOST:
        return diag_first(&found->operators);
    case DIAG_BY_LAUNCH:
        *path = 1;
        return diag_first(&found->hosts);
    case DIAG_BY_SYNC:
        *path = 1;
        return diag_first(&found->drained);
    case DIAG_BY_CODE:
        *path = 1;
        return diag_first(&found->codes);
    case DIAG_BY_OTHERS:
        *path = 1;
        return diag_first(&found->held);
    default:
        *path = 1;
        return diag_first(&found->paths);
    }
}

/* What a sum is about. */
PERF_FN void diag_sum_text(const diag_found *found, const diag_sum *sum, int path, char *out,
                           size_t size)
{
    if (path)
        diag_path(found->t, sum->event, out, size);
    else
        diag_event_text(found->t, &found->t->event[sum->event], out, size);
}

/* ---- five lines ---- */

PERF_FN void diag_say_baseline(FILE *out, const diag_found *found)
{
    fputs("baseline: ", out);
    if (!found->steps) {
        diag_print_ns(out, "no steps in this trace (prof.step() marks them); window ",
                      diag_window(found));
        fputs("\n", out);
        return;
    }
    fprintf(out, "%zu step%s (%s)", found->steps, found->steps > 1 ? "s" : "", found->step_word);
    diag_print_ns(out, ": mean ", found->time.mean);
    if (found->steps > 1) {
        diag_print_ns(out, ", std ", found->time.std);
        diag_print_ns(out, ", p50 ", found->time.p50);
        diag_print_ns(out, ", p95 ", found->time.p95);
    }
    if (found->warmup) {
        fprintf(out, "; warm-up apart: %zu", found->warmup);
        diag_print_ns(out, ", ", found->warmup_ns);
    }
    if (found->cut)
        fputs("; the last one, cut short, apart", out);
    putc('\n', out);
}

/* "bound by: host launch, 62.1 % of the time: ..." with the parts that add up to it. */
PERF_FN void diag_say_bound(FILE *out, const diag_found *found)
{
    const double window = diag_window(found);

    fprintf(out, "bound by: %s", diag_bound_text(found->bound));
    if (found->bound != DIAG_UNKNOWN)
        fprintf(out, ", %.1f %% of the time", 100 * found->share);
    if (found->has_device) {
        diag_print_share(out, "; device computes ", (double)found->compute.total, window);
        diag_print_share(out, ", only communicates ", (double)found->only_collective, window);
        diag_print_share(out, ", only copies ", (double)found->only_copy, window);
        diag_print_share(out, ", idles ", (double)found->idle, window);
    } else {
        diag_print_share(out, "; no device in this trace; operators ",
                         (double)diag_operators(found), window);
        diag_print_share(out, ", data ", (double)found->data.total, window);
        diag_print_share(out, ", neither ", (double)found->why[DIAG_WHY_CODE], window);
    }
    putc('\n', out);
}

/* "before aten::mm: 8.2 s, 80.1 % of the time, in one gap" */
PERF_FN void diag_say_pause(FILE *out, const diag_found *found)
{
    const diag_event *next = &found->t->event[found->pause_at - 1];
    char              text[300];

    diag_path(found->t, next->in - 1, text, sizeof text);
    fputs("before ", out);
    ab_print_name(out, text);
    diag_print_ns(out, ": ", (double)found->pause);
    diag_print_share(out, ", ", (double)found->pause, diag_window(found));
    fputs(" of the time, in one gap\n", out);
}

/* Is a place known only by what comes next? */
PERF_FN int diag_is_before(const diag_found *found, const diag_sum *sum)
{
    const uint32_t kind = found->t->event[sum->event].kind;

    if (found->bound == DIAG_BY_OTHERS)
        return 1;
    return found->bound == DIAG_BY_CODE && kind != DIAG_NOTE && kind != DIAG_MODULE;
}

PERF_FN void diag_say_where(FILE *out, const diag_found *found)
{
    char            text[300];
    int             path;
    const diag_sum *sum = diag_shown_by(found, &path);

    fputs("where: ", out);
    if (found->bound == DIAG_BY_PAUSE) {
        diag_say_pause(out, found);
        return;
    }
    if (!sum) {
        fputs(found->bound == DIAG_BY_CODE ? "after the last operator of the last step\n"
                                           : "the trace does not say\n", out);
        return;
    }
    diag_sum_text(found, sum, path, text, sizeof text);
    if (diag_is_before(found, sum))
        fputs("before ", out);
    ab_print_name(out, text);
    diag_print_ns(out, ": ", (double)sum->ns / diag_units(found));
    fprintf(out, " %s", diag_unit(found));
    if ((double)sum->ns <= diag_window(found))
        diag_print_share(out, ", ", (double)sum->ns, diag_window(found));
    fprintf(out, "%s in %.3g calls\n",
            (double)sum->ns <= diag_window(found) ? " of the time," : ", several at once,",
            (double)sum->count / diag_units(found));
}

/* What to ask for: half of what is possible, 1.02 to 1.3. */
PERF_FN double diag_goal(const diag_found *found)
{
    double goal = 1 + (found->best - 1) / 2;

    if (found->best > 1.6)
        goal = 1.3;
    return goal < 1.02 ? 1.02 : goal;
}

/* What to try; where nothing stands out, what the trace lacks. */
PERF_FN const char *diag_advice(const diag_found *found)
{
    if (found->bound == DIAG_UNKNOWN && found->why[DIAG_WHY_UNSEEN] * 2 > found->idle &&
        found->idle)
        return "profile with ProfilerActivity.CPU, too: this trace has no launches";
    if (found->bound == DIAG_UNKNOWN && found->steps > 1)
        return "no cause has 25 % of the time: begin with the largest one of the evidence";
    return diag_words_of(found->bound)->advice;
}

PERF_FN void diag_say_advice(FILE *out, const diag_found *found)
{
    fprintf(out, "try: %s", diag_advice(found));
    if (found->bound != DIAG_UNKNOWN && found->bound != DIAG_BY_PAUSE)
        fprintf(out, "; at most %.2f times as fast", found->best);
    fprintf(out, "\nverify: perf-ab run --accept 'speedup >= %.2f' -- OLD -- NEW; then perf-ab "
                 "diagnose ", diag_goal(found));
    ab_print_name(out, found->t->file);
    fputs(" --against NEW.json\n", out);
}

/* ---- evidence ---- */

/* Why the device idles, largest first. */
PERF_FN void diag_say_idle(FILE *out, const diag_found *found)
{
    int64_t left[DIAG_WHYS];
    int     i, best, some = 0;

    memcpy(left, found->why, sizeof left);
    diag_print_ns(out, "  device: busy ", (double)found->busy.total);
    diag_print_ns(out, " of ", diag_window(found));
    diag_print_ns(out, ", idle ", (double)found->idle);
    fprintf(out, " in %llu gaps%s", (unsigned long long)found->gaps, found->idle ? ": " : "");
    do {
        best = 0;
        for (i = 1; i < DIAG_WHYS; i++)
            best = left[i] > left[best] ? i : best;
        if (left[best] <= 0)
            break;
        fprintf(out, "%s%s", some++ ? ", " : "", diag_why_text(best));
        diag_print_share(out, " ", (double)left[best], (double)found->idle);
        left[best] = 0;
    } while (some < DIAG_WHYS);
    putc('\n', out);
    if (found->why[DIAG_WHY_HOST] > 0) {
        diag_print_share(out, "    while the host is behind: ", (double)found->unmarked,
                         (double)found->why[DIAG_WHY_HOST]);
        fputs(" of that outside of all operators (Python, or code without marks)\n", out);
    }
}

PERF_FN void diag_say_launches(FILE *out, const diag_found *found)
{
    if (!found->kernels_all)
        return;
    fprintf(out, "  launches: %.5g kernels %s, ", (double)found->kernels_all / diag_units(found),
            diag_unit(found));
    diag_print_ns(out, "mean ", (double)found->kernel_ns / (double)found->kernels_all);
    fprintf(out, "; under 10 us: %.1f %% of them",
            100 * (double)found->tiny / (double)found->kernels_all);
    diag_print_share(out, ", ", (double)found->tiny_ns, (double)found->kernel_ns);
    fputs(" of kernel time\n", out);
    if (found->delays) {
        diag_print_ns(out, "    from launch to begin: p50 ", found->delay_p50);
        diag_print_ns(out, ", p95 ", found->delay_p95);
        fprintf(out, "; queue: mean %.1f, longest %.0f\n", found->queue_mean, found->queue_most);
    }
    if (found->occupancy >= 0)
        fprintf(out, "    occupancy (estimated, by kernel time): %.0f %%%s", found->occupancy,
                found->few_blocks < 0 ? "\n" : "; ");
    if (found->few_blocks >= 0)
        fprintf(out, "%sless than one block an SM: %.1f %% of kernel time\n",
                found->occupancy < 0 ? "    " : "", 100 * found->few_blocks);
}

PERF_FN void diag_say_moves(FILE *out, const diag_found *found)
{
    static const char *const way[] = {"to the device", "to the host", "on the device"};
    static const char *const memory[] = {"", ", pinned", ", pageable"};
    int i, k;

    for (i = 0; i < DIAG_DIRECTIONS; i++)
        for (k = DIAG_MEMORIES - 1; k >= 0; k--) {
            const diag_move *move = &found->move[i][k];
            ab_text          size = ab_bytes((double)move->bytes);
            if (!move->count)
                continue;
            fprintf(out, "  copies %s%s: %.5g %s, ", way[i],
                    i == DIAG_ON_DEVICE ? "" : memory[k],
                    (double)move->count / diag_units(found), diag_unit(found));
            if (move->bytes)
                fprintf(out, "%s in all, ", size.s);
            diag_print_ns(out, "", (double)move->ns);
            if (move->bytes && move->ns)
                fprintf(out, ", %.3g GB/s", (double)move->bytes / (double)move->ns);
            putc('\n', out);
        }
}

PERF_FN void diag_say_overlap(FILE *out, const diag_found *found)
{
    if (found->copy.total) {
        diag_print_share(out, "  beside computing: ",
                         (double)diag_span_common(&found->copy, &found->compute),
                         (double)found->copy.total);
        diag_print_ns(out, " of ", (double)found->copy.total);
        fputs(" of copies and fills\n", out);
    }
    if (found->collective.total) {
        diag_print_share(out, "  beside computing: ",
                         (double)diag_span_common(&found->collective, &found->compute),
                         (double)found->collective.total);
        diag_print_ns(out, " of ", (double)found->collective.total);
        fputs(" of collectives\n", out);
    }
}

/* A list of sums, each a line of at most 100 columns or so. */
PERF_FN void diag_say_sums(FILE *out, const diag_found *found, const diag_sums *sums, int path,
                           size_t rows)
{
    char   text[200];
    size_t i;

    for (i = 0; i < sums->n && i < rows; i++) {
        const diag_sum *sum = &sums->s[i];
        diag_sum_text(found, sum, path, text, sizeof text);
        diag_print_share(out, "    ", (double)sum->ns, diag_window(found));
        diag_print_ns(out, "  ", (double)sum->ns / diag_units(found));
        fprintf(out, "  %6.4g x  ", (double)sum->count / diag_units(found));
        ab_print_name(out, text);
        putc('\n', out);
    }
}

PERF_FN void diag_say_syncs(FILE *out, const diag_found *found)
{
    uint64_t count = 0;
    size_t   i;

    for (i = 0; i < found->syncs.n; i++)
        count += found->syncs.s[i].count;
    if (!count)
        return;
    fprintf(out, "  the host waits for the device: %.5g times %s",
            (double)count / diag_units(found), diag_unit(found));
    diag_print_share(out, ", ", (double)found->sync.total, diag_window(found));
    fprintf(out, " of the time; to fetch a number (.item() and the like): %.5g\n",
            (double)found->fetches / diag_units(found));
    diag_say_sums(out, found, &found->syncs, 1, 4);
}

/* Families of kernels, largest first. */
PERF_FN void diag_say_families(FILE *out, const diag_found *found)
{
    size_t             n, i, best, rows;
    const diag_family *family = diag_families(&n);
    int64_t            left[DIAG_FAMILIES];

    memcpy(left, found->family_ns, sizeof left);
    fprintf(out, "  kernels by family (of kernel time, time and calls %s):\n", diag_unit(found));
    for (rows = 0; rows < DIAG_ROWS; rows++) {
        best = 0;
        for (i = 1; i < n; i++)
            best = left[i] > left[best] ? i : best;
        if (left[best] <= 0)
            break;
        diag_print_share(out, "    ", (double)left[best], (double)found->kernel_ns);
        diag_print_ns(out, "  ", (double)left[best] / diag_units(found));
        fprintf(out, "  %6.4g x  %s\n", (double)found->family_count[best] / diag_units(found),
                family[best].name);
        left[best] = 0;
    }
}

/* aten::copy_ is a symptom: who asked for it. */
PERF_FN void diag_say_copy_op(FILE *out, const diag_found *found)
{
    static const struct {
        const char *caller, *means;
    } known[] = {{"aten::_to_copy", "another dtype or device: .to(), .float(), .cuda()"},
                 {"aten::contiguous", "another layout in memory"},
                 {"aten::clone", "a second tensor of the same values"},
                 {"aten::cat", "pieces put together"}, {"aten::_cat", "pieces put together"}};
    size_t i, k;

    if (!found->copy_calls)
        return;
    fprintf(out, "  aten::copy_, a symptom: %.5g calls %s, asked for by\n",
            (double)found->copy_calls / diag_units(found), diag_unit(found));
    for (i = 0; i < found->copy_from.n && i < 4; i++) {
        const diag_sum *sum = &found->copy_from.s[i];
        const char     *caller =
            sum->key ? found->t->names.text[sum->key - 1] : "the program itself";
        const char     *means = "";
        for (k = 0; k < sizeof known / sizeof *known; k++)
            if (!strcmp(caller, known[k].caller))
                means = known[k].means;
        fprintf(out, "    %6.4g x  ", (double)sum->count / diag_units(found));
        ab_print_name(out, diag_short(caller));
        fprintf(out, "%s%s\n", *means ? ": " : "", means);
    }
}

/* Where the host was outside of operators. */
PERF_FN void diag_say_codes(FILE *out, const diag_found *found)
{
    if (found->codes.n)
        fputs("  the host outside of operators, in these annotations or before these:\n", out);
    diag_say_sums(out, found, &found->codes, 1, 4);
}

PERF_FN void diag_say_evidence(FILE *out, const diag_found *found)
{
    fputs("evidence:\n", out);
    if (found->has_device) {
        diag_say_idle(out, found);
        diag_say_launches(out, found);
        diag_say_moves(out, found);
        diag_say_overlap(out, found);
        diag_say_syncs(out, found);
        if (found->kernels.n)
            diag_say_families(out, found);
        fprintf(out, "  kernels (of the window, time and calls %s):\n", diag_unit(found));
        diag_say_sums(out, found, &found->kernels, 0, DIAG_ROWS);
        fputs("  operators by time of their kernels:\n", out);
        diag_say_sums(out, found, &found->paths, 1, DIAG_ROWS);
        if (found->hosts.n)
            fputs("  launches that the device waited for:\n", out);
        diag_say_sums(out, found, &found->hosts, 1, 4);
        diag_say_codes(out, found);
    } else {
        diag_say_codes(out, found);
        fputs("  operators by their own time:\n", out);
        diag_say_sums(out, found, &found->operators, 0, DIAG_ROWS);
        if (found->talks.n)
            fputs("  collectives:\n", out);
        diag_say_sums(out, found, &found->talks, 0, 4);
    }
    diag_say_copy_op(out, found);
}

/* What of the file is not in the figures. */
PERF_FN void diag_say_losses(FILE *out, const diag_found *found)
{
    if (found->t->broken)
        fprintf(out, "  left out: %zu events whose time is none, or out of range\n",
                found->t->broken);
    if (found->t->unlinked)
        fprintf(out, "  %zu events of the device came without the call that launched them\n",
                found->t->unlinked);
}

/* The whole answer for one trace. */
PERF_FN void diag_say(FILE *out, const diag_found *found)
{
    ab_print_name(out, found->t->file);
    if (found->t->rank >= 0)
        fprintf(out, ", rank %d", found->t->rank);
    if (found->t->rank >= 0 && found->t->ranks > 0)
        fprintf(out, " of %d", found->t->ranks);
    if (*found->t->device)
        fputs(", ", out);
    ab_print_name(out, found->t->device);
    if (found->devices.n > 1) {
        fprintf(out, ", the busiest of %zu devices: ", found->devices.n);
        ab_print_name(out, found->devices.text[found->device]);
    }
    fprintf(out, ", %zu events\n", found->t->n);
    diag_say_baseline(out, found);
    diag_say_bound(out, found);
    diag_say_where(out, found);
    diag_say_advice(out, found);
    diag_say_evidence(out, found);
    diag_say_losses(out, found);
}

#endif
