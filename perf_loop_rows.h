/* perf_loop_rows.h - what loops have found: their list, rows of the report, sentences.
 *
 *     perf_put_loop_(&out, loop);                  // "  copy 4 KiB      12.3 ns [12.2, 12.4]"
 *
 * For the library itself.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LOOP_ROWS_H
#define PERF_LOOP_ROWS_H

#include "perf_loop_state.h"
#include "perf_record.h"
#include "perf_stats.h"
#include "perf_text.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_put_loop_, perf_result_main_, perf_result_words_  of loops
 *   perf_result_rates_  fills in GB/s, items/s, GFLOP/s from the median and opts
 *   perf_loop_done_     its result is complete
 *   perf_report_results_  all of them, below the table                                           */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* The summary by the clock that decides. */
PERF_FN const perf_summary *perf_result_main_(const perf_result *result)
{
    if (result->decides == PERF_DECIDES_CPU)
        return &result->cpu;
    return &result->time;
}

PERF_COLD_FN_ void perf_result_rates_(perf_result *result)
{
    double ns = perf_result_main_(result)->p50;

    if (!(ns > 0.0))
        return;
    result->gb_per_s = result->opts.bytes / ns;
    result->items_per_s = result->opts.items / ns * 1e9;
    result->gflop_per_s = result->opts.flops / ns;
    if (result->opts.peak_gb_per_s > 0.0)
        result->percent_of_peak_gb = 100.0 * result->gb_per_s / result->opts.peak_gb_per_s;
    if (result->opts.peak_gflop_per_s > 0.0)
        result->percent_of_peak_gflop = 100.0 * result->gflop_per_s / result->opts.peak_gflop_per_s;
}

/* "12.3 ns [12.2, 12.4]" right-aligned, the interval left out where there is none. */
PERF_FN void perf_put_estimate_(perf_out_ *out, const perf_summary *summary, size_t width)
{
    char      text[96];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_ns_(&cell, summary->p50);
    if (perf_is_finite_(summary->p50_low) && perf_is_finite_(summary->p50_high)) {
        perf_put_(&cell, " [");
        perf_put_ns_(&cell, summary->p50_low);
        perf_put_(&cell, ", ");
        perf_put_ns_(&cell, summary->p50_high);
        perf_put_char_(&cell, ']');
    } else {
        perf_put_(&cell, " [no interval]");
    }
    perf_put_cell_(out, text, width);
}

/* A percentile; "~" where there are too few slices to bound it from above (p95: 72, p99: 368). */
PERF_COLD_FN_ void perf_put_tail_cell_(perf_out_ *out, double ns, double high)
{
    char      text[40];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    if (!perf_is_finite_(high))
        perf_put_char_(&cell, '~');
    perf_put_ns_(&cell, ns);
    perf_put_cell_(out, text, 10);
}

/* What fits on the screen: columns of the name; how many of p95, p99 and first.  */
PERF_FN size_t perf_loop_name_width_(const perf_out_ *out)
{
    if (out->width && out->width < 66)
        return PERF_CAST_(size_t, out->width - 36);
    return 30;
}

PERF_FN int perf_loop_columns_(const perf_out_ *out)
{
    if (!out->width || out->width > 95)
        return 3;
    if (out->width > 85)
        return 2;
    return out->width > 75;
}

PERF_COLD_FN_ void perf_put_loop_row_(perf_out_ *out, const char *name, const char *arm,
                                      const perf_summary *summary, double first_ns)
{
    char      label[PERF_NAME_MAX_ + 40];
    perf_out_ text = perf_out_open_(label, sizeof label);
    const int columns = perf_loop_columns_(out);

    perf_put_(&text, name);
    perf_put_(&text, arm);
    perf_put_(out, "  ");
    perf_put_padded_(out, label, perf_loop_name_width_(out));
    perf_put_estimate_(out, summary, 34);
    if (columns > 0)
        perf_put_tail_cell_(out, summary->p95, summary->p95_high);
    if (columns > 1)
        perf_put_tail_cell_(out, summary->p99, summary->p99_high);
    if (columns > 2)
        perf_put_ns_in_(out, first_ns, 10);
    perf_put_char_(out, '\n');
}

/* A loop that has no times. */
PERF_COLD_FN_ void perf_put_unmeasured_(perf_out_ *out, const char *name, perf_status status)
{
    perf_put_(out, "  ");
    perf_put_padded_(out, name, 30);
    perf_put_(out, "   not measured: ");
    perf_put_(out, perf_status_text(status));
    perf_put_char_(out, '\n');
}

/* Each warning between `lead` and `end`. */
PERF_COLD_FN_ void perf_put_notes_(perf_out_ *out, uint32_t warnings, const char *lead,
                                   const char *end)
{
    uint32_t bit;

    warnings &= ~PERF_CAST_(uint32_t, PERF_WARN_UNBOUNDED);     /* an open interval shows itself  */
    warnings &= ~PERF_CAST_(uint32_t, PERF_WARN_SHAPE);         /* the verdict has said it        */
    for (bit = 1; bit && bit <= warnings; bit <<= 1)
        if (warnings & bit) {
            perf_put_(out, lead);
            perf_put_(out, perf_warning_text(bit));
            perf_put_(out, end);
        }
}

#define perf_put_warnings_(o, warnings) perf_put_notes_(o, warnings, "    note: ", "\n")

/* Three digits of a rate. */
PERF_FN int perf_rate_decimals_(double rate)
{
    if (rate < 9.995)
        return 3;
    if (rate < 99.95)
        return 2;
    return 1;
}

/* "3.2 GB/s (16.0 % of the peak of 20.0), 4.1 M items/s" when the caller said what one iteration
 * moves; returns whether there was anything to say.                                              */
PERF_COLD_FN_ int perf_put_rates_(perf_out_ *out, const perf_result *result, const char *lead)
{
    const struct {
        double      rate, percent, peak;
        const char *unit;
    } all[] = {{result->gb_per_s, result->percent_of_peak_gb, result->opts.peak_gb_per_s, " GB/s"},
               {result->gflop_per_s, result->percent_of_peak_gflop, result->opts.peak_gflop_per_s,
                " GFLOP/s"},
               {result->items_per_s * 1e-6, 0.0, 0.0, " M items/s"}};
    int i, some = 0;

    for (i = 0; i < 3; i++) {
        if (!(all[i].rate > 0.0))
            continue;
        perf_put_(out, some++ ? ", " : lead);
        perf_put_fixed_(out, all[i].rate, perf_rate_decimals_(all[i].rate));
        perf_put_(out, all[i].unit);
        if (all[i].percent > 0.0) {
            perf_put_number_(out, " (", all[i].percent, 1);
            perf_put_number_(out, " % of the peak of ", all[i].peak, all[i].peak < 99.95);
            perf_put_char_(out, ')');
        }
    }
    return some;
}

/* "cpu time decides: why" */
PERF_COLD_FN_ void perf_put_decided_(perf_out_ *out, perf_decides decides, const char *why)
{
    if (decides == PERF_DECIDES_CPU)
        perf_put_(out, "cpu time decides: ");
    else
        perf_put_(out, "wall time decides: ");
    perf_put_(out, why);
}

/* "cpu time decides: why; wall 12 ms [11, 14]", of a bench that measured both clocks. */
PERF_COLD_FN_ void perf_put_clocks_(perf_out_ *out, const perf_result *result, const char *lead)
{
    if (!result->cpu.count)
        return;
    perf_put_(out, lead);
    perf_put_decided_(out, result->decides, result->why);
    if (result->decides == PERF_DECIDES_CPU) {
        perf_put_(out, "; wall");
        perf_put_estimate_(out, &result->time, 1);
    } else {
        perf_put_(out, "; cpu");
        perf_put_estimate_(out, &result->cpu, 1);
    }
}

/* A sentence of a result, kept in result->text; NULL: "". */
PERF_COLD_FN_ const char *perf_result_words_(perf_result *result)
{
    perf_out_ out;

    if (!result)
        return "";
    out = perf_out_open_(result->text, sizeof result->text);
    if (!result->time.count) {
        perf_put_(&out, "not measured: ");
        perf_put_(&out, perf_status_text(result->status));
        if (result->status == PERF_EINVAL) {
            perf_put_(&out, ": ");
            perf_put_(&out, result->why);
        }
    } else {
        perf_put_(&out, "median");
        perf_put_estimate_(&out, perf_result_main_(result), 1);
        perf_put_(&out, " per iteration");
        (void)perf_put_rates_(&out, result, "; ");
        perf_put_clocks_(&out, result, "; ");
    }
    perf_put_notes_(&out, result->warnings, "; note: ", "");
    return result->text;
}

/* Decimals that show four digits of a value, none of a whole number. */
PERF_FN int perf_value_decimals_(double value)
{
    double size = perf_fabs_(value);
    int    decimals = 0;

    while (size < 1e3 && decimals < 15 && PERF_CAST_(double, PERF_CAST_(uint64_t, size)) < size) {
        size *= 10.0;
        decimals++;
    }
    return decimals;
}

/* "hits 0.8125, misses 12" behind the rates; some: there are rates.  Returns it, or 1. */
PERF_COLD_FN_ int perf_put_values_(perf_out_ *out, const perf_kept_loop_ *loop, int some)
{
    int i;

    for (i = 0; loop->counter[i][0]; i++) {
        perf_put_(out, some++ ? ", " : "    ");
        (void)perf_put_cut_(out, loop->counter[i], 40);
        perf_put_number_(out, " ", loop->value[i], perf_value_decimals_(loop->value[i]));
    }
    return some;
}

/* ---- the list of loops ---- */

/* Tells readers of the list where the values of the arms are, by the clock that decides.  A bench
 * has one arm, an A/B loop two; nobody reads those of a race.                                    */
PERF_COLD_FN_ void perf_loop_samples_(perf_loop_state_ *state)
{
    perf_kept_loop_  *loop = &state->loop;
    perf_decides decides = state->result.decides;
    int          i;

    if (loop->kind == PERF_LOOP_AB_)
        decides = state->ab.decides;
    loop->samples = state->arm[0].count;
    for (i = 0; i < state->variants && i < 2; i++) {
        loop->sample[i] = state->arm[i].ns;
        if (decides == PERF_DECIDES_CPU)
            loop->sample[i] = state->arm[i].cpu;
        if (state->arm[i].count < loop->samples)
            loop->samples = state->arm[i].count;
    }
}

/* Moves a sentence to memory of the registry: this image may be unloaded before a report.  Without
 * memory it stays.  The lock is held.                                                            */
PERF_COLD_FN_ void perf_loop_keep_text_(perf_registry_ *reg, const char **text)
{
    perf_said_ *said = reg->said;
    size_t      bytes;

    if (!*text)
        return;
    while (said && PERF_LIBC_(strcmp)(PERF_PTR_(char *, said + 1), *text))
        said = said->next;
    if (!said) {
        bytes = PERF_LIBC_(strlen)(*text) + 1;
        said = PERF_CAST_(perf_said_ *, perf_forever_(reg, sizeof *said + bytes));
        if (!said)
            return;
        PERF_LIBC_(memcpy)(said + 1, *text, bytes);
        said->next = reg->said;
        reg->said = said;
    }
    *text = PERF_PTR_(char *, said + 1);
}

PERF_COLD_FN_ void perf_loop_keep_verdict_(perf_registry_ *reg, perf_verdict *verdict)
{
    perf_loop_keep_text_(reg, &verdict->reason);
    perf_loop_keep_text_(reg, &verdict->clock);
}

/* Keeps all sentences of a result. */
PERF_COLD_FN_ void perf_loop_keep_texts_(perf_loop_state_ *state)
{
    perf_registry_ *reg = perf_registry_get_();
    int             i, k;

    if (!reg || !perf_lock_(reg))
        return;
    if (PERF_PTR_(uintptr_t, state->loop.note) - PERF_PTR_(uintptr_t, state) >= state->loop.pages)
        perf_loop_keep_text_(reg, &state->loop.note);   /* not in the loop's own memory           */
    perf_loop_keep_text_(reg, &state->result.why);
    perf_loop_keep_text_(reg, &state->ab.why);
    perf_loop_keep_text_(reg, &state->race.why);
    perf_loop_keep_verdict_(reg, &state->ab.verdict);
    for (i = 0; i < state->variants; i++)
        perf_loop_keep_verdict_(reg, &state->entry[i].verdict);
    for (k = 0; k < 2; k++) {
        perf_loop_keep_verdict_(reg, &state->ab.part[k]);
        for (i = 0; i < state->variants; i++)
            perf_loop_keep_verdict_(reg, &state->entry[i].part[k]);
    }
    perf_unlock_(&reg->lock);
}

/* The result of its kind is complete: from now on reports see it. */
PERF_COLD_FN_ void perf_loop_done_(perf_loop_state_ *state, const void *result)
{
    perf_loop_samples_(state);
    perf_loop_keep_texts_(state);
    state->loop.result = result;
    PERF_REL_(&state->loop.done, 1);
}

/* ---- the rows of a report ---- */

PERF_COLD_DECL_ void perf_put_loop_(perf_out_ *out, const perf_kept_loop_ *loop);
PERF_COLD_DECL_ void perf_put_bench_(perf_out_ *out, const perf_kept_loop_ *loop);
PERF_COLD_DECL_ void perf_put_ab_(perf_out_ *out, const perf_kept_loop_ *loop);
PERF_COLD_DECL_ void perf_put_ab_arms_(perf_out_ *out, const perf_kept_loop_ *loop,
                                       const perf_ab_result *result);
PERF_COLD_DECL_ void perf_put_decision_(perf_out_ *out, perf_verdict verdict, int parts);
PERF_COLD_DECL_ void perf_put_parts_(perf_out_ *out, const perf_verdict *part, int parts);
PERF_COLD_DECL_ void perf_put_race_(perf_out_ *out, const perf_kept_loop_ *loop);
PERF_COLD_DECL_ void perf_put_variant_(perf_out_ *out, const perf_kept_loop_ *loop,
                                       const perf_race_result *result, int i);
PERF_COLD_DECL_ void perf_put_counted_row_(perf_out_ *out, const double *counted);

/* The loops in the order they were begun, *count of them; the list has the newest first.  It is
 * copied, because to walk it for each of 40,000 took 84 s.  NULL: no memory.                     */
PERF_COLD_FN_ const perf_kept_loop_ **perf_loops_in_order_(const perf_kept_loop_ *newest,
                                                           size_t *count)
{
    const perf_kept_loop_ *loop, **all;
    size_t            i = 0;

    for (loop = newest; loop; loop = loop->next)
        i++;
    *count = i;
    all = PERF_CAST_(const perf_kept_loop_ **, PERF_MALLOC(i * sizeof *all));
    for (loop = newest; all && loop; loop = loop->next)
        all[--i] = loop;
    return all;
}

PERF_COLD_FN_ void perf_put_loops_head_(perf_out_ *out)
{
    static const char *const title[] = {"       p95", "       p99", "     first"};
    int i;

    perf_put_(out, "\n  ");
    perf_put_padded_(out, "benchmark", perf_loop_name_width_(out));
    perf_put_cell_(out, "median [95 % interval]", 34);
    for (i = 0; i < perf_loop_columns_(out); i++)
        perf_put_(out, title[i]);
    perf_put_char_(out, '\n');
}

PERF_FN void perf_report_results_(perf_out_ *out)
{
    perf_registry_   *reg = PERF_ACQ_(&perf_anchor_v1_.registry);
    const perf_kept_loop_ *loop, *next, **all;
    perf_few_         few = PERF_ZERO;
    size_t            count, i, open = 0;

    if (!reg || !PERF_ACQ_(&reg->results) || !perf_loops_hold_(reg))
        return;
    next = PERF_ACQ_(&reg->results);
    perf_put_loops_head_(out);
    all = perf_loops_in_order_(next, &count);
    for (i = 0; i < count; i++) {
        loop = next;                            /* no memory: newest first                        */
        if (all)
            loop = all[i];
        next = next->next;
        if (PERF_GET_(&loop->forgotten))
            continue;
        if (PERF_ACQ_(&loop->done)) {
            perf_put_loop_(out, loop);
        } else {
            perf_few_add_(&few, loop->name);
            open++;
        }
    }
    PERF_FREE(all);
    if (open) {
        perf_put_(out, "  ");
        perf_put_u64_(out, open);
        perf_put_(out, open == 1 ? " loop was begun, but not ended"
                                 : " loops were begun, but not ended");
        perf_put_few_(out, &few, open);
    }
    perf_loops_let_(reg);
}

PERF_COLD_FN_ void perf_put_loop_(perf_out_ *out, const perf_kept_loop_ *loop)
{
    if (loop->kind == PERF_LOOP_BENCH_)
        perf_put_bench_(out, loop);
    else if (loop->kind == PERF_LOOP_AB_)
        perf_put_ab_(out, loop);
    else
        perf_put_race_(out, loop);
    if (loop->note && *loop->note) {
        perf_put_(out, "    ");
        perf_put_(out, loop->note);
        perf_put_char_(out, '\n');
    }
}

PERF_COLD_FN_ void perf_put_bench_(perf_out_ *out, const perf_kept_loop_ *loop)
{
    const perf_result *result = PERF_CAST_(const perf_result *, loop->result);

    if (result->time.count) {
        perf_put_loop_row_(out, loop->name, "", perf_result_main_(result), result->first_ns);
        if (perf_put_values_(out, loop, perf_put_rates_(out, result, "    ")))
            perf_put_char_(out, '\n');
        perf_put_clocks_(out, result, "    ");
        if (result->cpu.count)
            perf_put_char_(out, '\n');
    } else {
        perf_put_unmeasured_(out, loop->name, result->status);
    }
    perf_put_warnings_(out, result->warnings);
}

/* 1: the two ratios, both known, differ by more than a twentieth. */
PERF_FN int perf_control_differs_(double ratio, double control)
{
    if (!(ratio > 0.0) || !(control > 0.0))
        return 0;
    return ratio > 1.05 * control || control > 1.05 * ratio;
}

/* Both arms and the verdict, for perf_report. */
PERF_COLD_FN_ void perf_put_ab_(perf_out_ *out, const perf_kept_loop_ *loop)
{
    perf_ab_result result = *PERF_CAST_(const perf_ab_result *, loop->result);
    double         ratio = result.verdict.ratio.estimate;

    if (result.parts)
        ratio = result.part[0].ratio.estimate;  /* of time                                        */
    perf_put_ab_arms_(out, loop, &result);
    perf_put_(out, "  ");
    (void)perf_put_cut_(out, loop->name, PERF_NAME_MAX_);
    perf_put_(out, ": ");
    perf_put_decision_(out, result.verdict, result.parts);
    perf_put_parts_(out, result.part, result.parts);
    if (perf_put_values_(out, loop, 0))
        perf_put_char_(out, '\n');
    if (result.control_ratio > 0.0 &&
        (result.control_failed || perf_control_differs_(ratio, result.control_ratio))) {
        perf_put_number_(out, "    candidate / baseline is ", ratio, 4);
        perf_put_number_(out, ", and ", result.control_ratio, 4);
        perf_put_(out, " after longer leads\n");
    }
    if (result.warnings & PERF_CAST_(uint32_t, PERF_WARN_TURNS)) {
        perf_put_number_(out, "    candidate / baseline in turns without leads: ",
                         result.turns_ratio, 4);
        perf_put_char_(out, '\n');
    }
    if (result.baseline_cpu.count) {
        perf_put_(out, "    ");
        perf_put_decided_(out, result.decides, result.why);
        perf_put_char_(out, '\n');
    }
    perf_put_warnings_(out, result.warnings);
}

/* Both arms by the clock that decides, as far as they have run. */
PERF_COLD_FN_ void perf_put_ab_arms_(perf_out_ *out, const perf_kept_loop_ *loop,
                                     const perf_ab_result *result)
{
    const perf_summary *baseline = &result->baseline, *candidate = &result->candidate;

    if (result->decides == PERF_DECIDES_CPU) {
        baseline = &result->baseline_cpu;
        candidate = &result->candidate_cpu;
    }
    if (result->baseline.count)
        perf_put_loop_row_(out, loop->name, ", baseline", baseline, result->first_baseline_ns);
    if (result->candidate.count)
        perf_put_loop_row_(out, loop->name, ", candidate", candidate, result->first_candidate_ns);
}

/* The sentence of a verdict; "ACCEPT" alone where one sentence a rule follows below. */
PERF_COLD_FN_ void perf_put_decision_(perf_out_ *out, perf_verdict verdict, int parts)
{
    if (parts)
        perf_put_(out, perf_decision_text(verdict.decision));
    else
        perf_put_(out, perf_verdict_text(&verdict));
    perf_put_char_(out, '\n');
}

/* Below a verdict by two rules, what each of them says. */
PERF_COLD_FN_ void perf_put_parts_(perf_out_ *out, const perf_verdict *part, int parts)
{
    perf_verdict one;
    int          i;

    for (i = 0; i < parts; i++) {
        one = part[i];
        perf_put_(out, i ? "    rule 2: " : "    rule 1: ");
        perf_put_(out, perf_verdict_text(&one));
        perf_put_char_(out, '\n');
    }
}

/* A row for each variant, then the sentences. */
PERF_COLD_FN_ void perf_put_race_(perf_out_ *out, const perf_kept_loop_ *loop)
{
    const perf_race_result *result = PERF_CAST_(const perf_race_result *, loop->result);
    char                    arm[40];
    int                     i;

    for (i = 0; i < result->count; i++) {
        perf_out_ text = perf_out_open_(arm, sizeof arm);
        perf_put_(&text, ", ");
        perf_put_(&text, result->entry[i].name);
        if (result->entry[i].time.count)
            perf_put_loop_row_(out, loop->name, arm, &result->entry[i].time,
                               result->entry[i].first_ns);
        perf_put_counted_row_(out, result->entry[i].counted);
    }
    for (i = 0; i < result->count; i++)
        perf_put_variant_(out, loop, result, i);
    if (!result->count)
        perf_put_unmeasured_(out, loop->name, result->status);
    perf_put_warnings_(out, result->warnings);
}

/* What variant i lags behind, and its verdict. */
PERF_COLD_FN_ void perf_put_variant_(perf_out_ *out, const perf_kept_loop_ *loop,
                                     const perf_race_result *result, int i)
{
    const int within = result->entry[i].within_noise;

    perf_put_(out, "  ");
    (void)perf_put_cut_(out, loop->name, PERF_NAME_MAX_);
    perf_put_(out, ", ");
    (void)perf_put_cut_(out, result->entry[i].name, 31);
    perf_put_(out, ": ");
    if (!result->forced && i == result->best)
        perf_put_(out, "the best; ");
    else if (!result->forced && within)
        perf_put_(out, "within noise of the best; ");
    if (result->best >= 0 && !within && result->entry[i].behind > 0.0) {
        perf_put_fixed_(out, result->entry[i].behind, 3);
        perf_put_(out, "x the best; ");
    }
    if (i == 0 && result->status == PERF_OK && !result->forced)
        perf_put_(out, "the baseline\n");
    else
        perf_put_decision_(out, result->entry[i].verdict, result->entry[i].parts);
    perf_put_parts_(out, result->entry[i].part, result->entry[i].parts);
}

/* "instructions 14, cycles 16, IPC 0.875" of a variant; nothing where none was counted. */
PERF_COLD_FN_ void perf_put_counted_row_(perf_out_ *out, const double *counted)
{
    static const char *const name[] = {"instructions ", "cycles ", "branches ", "branch misses "};
    const char *lead = "    ";
    int         i;

    if (!(counted[0] > 0.0 || counted[1] > 0.0 || counted[2] > 0.0 || counted[3] > 0.0))
        return;
    for (i = 0; i < 4; i++) {
        if (perf_is_nan_(counted[i]))
            continue;
        perf_put_(out, lead);
        lead = ", ";
        perf_put_number_(out, name[i], counted[i], perf_value_decimals_(counted[i]));
    }
    perf_put_char_(out, '\n');
}

PERF_END_DECLS

#if !PERF_ONE_CORE_ && !defined(PERF_REPORT_H)
#include "perf_loop.h"          /* see perf_bench.h                                               */
#endif
#endif /* PERF_LOOP_ROWS_H */
