/* perf_loop_rows.h - what loops have found: rows of the report, and sentences.
 *
 *     perf_put_loop_(&out, loop);                  // "  copy 4 KiB      12.3 ns [12.2, 12.4]"
 *
 * For the library itself.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LOOP_ROWS_H
#define PERF_LOOP_ROWS_H

#include "perf_bench.h"
#include "perf_record.h"
#include "perf_stats.h"
#include "perf_text.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_put_loop_, perf_result_main_, perf_result_words_  of loops
 *   perf_report_results_  all of them, below the table                                           */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* The summary by the clock that decides. */
PERF_FN const perf_summary *perf_result_main_(const perf_result *r)
{
    return r->decides == PERF_DECIDES_CPU ? &r->cpu : &r->time;
}

/* "12.3 ns [12.2, 12.4]", the interval left out where there is none. */
PERF_FN void perf_put_estimate_(perf_out_ *o, const perf_summary *s, size_t width)
{
    char      text[96];
    perf_out_ t = perf_out_open_(text, sizeof text);

    perf_putf_(&t, perf_is_finite_(s->p50_low) && perf_is_finite_(s->p50_high)
                       ? "%g [%g, %g]" : "%g [no interval]", s->p50, s->p50_low, s->p50_high);
    perf_put_cell_(o, text, width);
}

/* A percentile; "~" where there are too few slices to bound it from above (p95: 72, p99: 368). */
PERF_COLD_FN_ void perf_put_tail_cell_(perf_out_ *o, double ns, double high)
{
    char      text[40];
    perf_out_ t = perf_out_open_(text, sizeof text);

    perf_putf_(&t, "%s%g", perf_is_finite_(high) ? "" : "~", ns);
    perf_putf_(o, "%10s", text);
}

PERF_COLD_FN_ void perf_put_loop_row_(perf_out_ *o, const char *name, const char *arm,
                                      const perf_summary *s, double first_ns)
{
    char      label[PERF_NAME_MAX_ + 40];
    perf_out_ t = perf_out_open_(label, sizeof label);
    int       width = o->width ? o->width : 98;

    perf_putf_(&t, "%s%s", name, arm);
    perf_putf_(o, "  %-*s", width < 66 ? width - 36 : 30, label);
    perf_put_estimate_(o, s, 34);
    if (width > 75)
        perf_put_tail_cell_(o, s->p95, s->p95_high);
    if (width > 85)
        perf_put_tail_cell_(o, s->p99, s->p99_high);
    perf_putf_(o, width > 95 ? "%10g\n" : "\n", first_ns);
}

/* Each warning between `lead` and `end`. */
PERF_COLD_FN_ void perf_put_notes_(perf_out_ *o, uint32_t warnings, const char *lead,
                                   const char *end)
{
    uint32_t bit;

    warnings &= ~PERF_CAST_(uint32_t, PERF_WARN_UNBOUNDED);     /* an open interval shows itself  */
    for (bit = 1; bit && bit <= warnings; bit <<= 1)
        if (warnings & bit)
            perf_putf_(o, "%s%s%s", lead, perf_warning_text(bit), end);
}

#define perf_put_warnings_(o, warnings) perf_put_notes_(o, warnings, "    note: ", "\n")

/* "3.2 GB/s (16.0 % of the peak of 20.0), 4.1 M items/s" when the caller said what one iteration
 * moves; returns whether there was anything to say.                                              */
PERF_COLD_FN_ int perf_put_rates_(perf_out_ *o, const perf_result *r, const char *lead)
{
    const struct {
        double      x, percent, peak;
        const char *unit;
    } rate[] = {{r->gb_per_s, r->percent_of_peak_gb, r->opts.peak_gb_per_s, " GB/s"},
                {r->gflop_per_s, r->percent_of_peak_gflop, r->opts.peak_gflop_per_s, " GFLOP/s"},
                {r->items_per_s * 1e-6, 0.0, 0.0, " M items/s"}};
    int i, some = 0;

    for (i = 0; i < 3; i++)
        if (rate[i].x > 0.0) {
            double x = rate[i].x;
            perf_put_(o, some++ ? ", " : lead);
            perf_put_fixed_(o, x, 1 + (x < 99.95) + (x < 9.995));
            perf_put_(o, rate[i].unit);
            if (rate[i].percent > 0.0) {
                perf_putf_(o, " (%.1f %% of the peak of ", rate[i].percent);
                perf_put_fixed_(o, rate[i].peak, rate[i].peak < 99.95);
                perf_put_char_(o, ')');
            }
        }
    return some;
}

/* "cpu time decides: why; wall 12 ms [11, 14]", of a bench that measured both clocks. */
PERF_COLD_FN_ void perf_put_clocks_(perf_out_ *o, const perf_result *r, const char *lead)
{
    int cpu = r->decides == PERF_DECIDES_CPU;

    if (!r->cpu.count)
        return;
    perf_putf_(o, "%s%s time decides: %s; %s", lead, cpu ? "cpu" : "wall", r->why,
               cpu ? "wall" : "cpu");
    perf_put_estimate_(o, cpu ? &r->time : &r->cpu, 1);
    perf_put_(o, *lead == ' ' ? "\n" : "");
}

PERF_COLD_FN_ const char *perf_result_words_(perf_result *r)
{
    perf_out_ o;

    if (!r)
        return "";
    o = perf_out_open_(r->text, sizeof r->text);
    if (!r->time.count) {
        perf_putf_(&o, "not measured: %s", perf_status_text(r->status));
        if (r->status == PERF_EINVAL)
            perf_putf_(&o, ": %s", r->why);
    } else {
        perf_put_(&o, "median");
        perf_put_estimate_(&o, perf_result_main_(r), 1);
        perf_put_(&o, " per iteration");
        (void)perf_put_rates_(&o, r, "; ");
        perf_put_clocks_(&o, r, "; ");
    }
    perf_put_notes_(&o, r->warnings, "; note: ", "");
    return r->text;
}

/* "hits 0.8125, misses 12" behind the rates: four digits, or the whole number. */
PERF_COLD_FN_ int perf_put_values_(perf_out_ *o, const perf_loop_ *l, int some)
{
    int i, d;

    for (i = 0; i < PERF_COUNTERS_ && l->counter[i][0]; i++) {
        double x = l->value[i] < 0.0 ? -l->value[i] : l->value[i];
        for (d = 0; x < 1e3 && d < 15 && PERF_CAST_(double, PERF_CAST_(uint64_t, x)) < x; d++)
            x *= 10.0;
        perf_putf_(o, "%s%.40s ", some++ ? ", " : "    ", l->counter[i]);
        perf_put_fixed_(o, l->value[i], d);
    }
    return some;
}

PERF_COLD_FN_ void perf_put_bench_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_result *b = PERF_CAST_(const perf_result *, l->result);

    if (b->time.count) {
        perf_put_loop_row_(o, l->name, "", perf_result_main_(b), b->first_ns);
        if (perf_put_values_(o, l, perf_put_rates_(o, b, "    ")))
            perf_put_(o, "\n");
        perf_put_clocks_(o, b, "    ");
    } else {
        perf_putf_(o, "  %-30s   not measured: %s\n", l->name, perf_status_text(b->status));
    }
    perf_put_warnings_(o, b->warnings);
}

/* Both arms and the verdict, for perf_report. */
PERF_COLD_FN_ void perf_put_ab_(perf_out_ *o, const perf_loop_ *l)
{
    perf_ab_result r = *PERF_CAST_(const perf_ab_result *, l->result);
    int            cpu = r.decides == PERF_DECIDES_CPU;
    double         ratio = r.verdict.ratio.estimate, control = r.control_ratio;

    if (r.baseline.count)
        perf_put_loop_row_(o, l->name, ", baseline", cpu ? &r.baseline_cpu : &r.baseline,
                           r.first_baseline_ns);
    if (r.candidate.count)
        perf_put_loop_row_(o, l->name, ", candidate", cpu ? &r.candidate_cpu : &r.candidate,
                           r.first_candidate_ns);
    perf_putf_(o, "  %.255s: %s\n", l->name, perf_verdict_text(&r.verdict));
    if (r.control_failed || (ratio > 0.0 && control > 0.0 &&
                             (ratio > 1.05 * control || control > 1.05 * ratio)))
        perf_putf_(o, "    control: candidate / baseline is %.4f in turns, %.4f after one of them "
                      "had a lead\n", ratio, control);
    if (r.warnings & PERF_CAST_(uint32_t, PERF_WARN_TURNS))
        perf_putf_(o, "    candidate / baseline with the faster one's time alone: %.4f\n",
                   r.alone_ratio);
    if (r.baseline_cpu.count)
        perf_putf_(o, "    %s time decides: %s\n", cpu ? "cpu" : "wall", r.why);
    perf_put_warnings_(o, r.warnings);
}

/* A row for each variant, with what it lags behind and its verdict. */
PERF_COLD_FN_ void perf_put_race_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_race_result *r = PERF_CAST_(const perf_race_result *, l->result);
    perf_verdict            v;
    char                    arm[40];
    int                     i;

    for (i = 0; i < r->count; i++) {
        perf_out_ t = perf_out_open_(arm, sizeof arm);
        perf_putf_(&t, ", %s", r->entry[i].name);
        if (r->entry[i].time.count)
            perf_put_loop_row_(o, l->name, arm, &r->entry[i].time, r->entry[i].first_ns);
    }
    for (i = 0; i < r->count; i++) {
        perf_putf_(o, "  %.255s, %.31s: %s", l->name, r->entry[i].name,
                   r->forced                    ? ""
                   : i == r->best               ? "the best; "
                   : r->entry[i].within_noise   ? "within noise of the best; "
                                                : "");
        if (r->best >= 0 && !r->entry[i].within_noise && r->entry[i].behind > 0.0)
            perf_putf_(o, "%.3fx the best; ", r->entry[i].behind);
        v = r->entry[i].verdict;
        perf_putf_(o, "%s\n", i || r->status != PERF_OK || r->forced ? perf_verdict_text(&v)
                                                                     : "the baseline");
    }
    if (!r->count)
        perf_putf_(o, "  %-30s   not measured: %s\n", l->name, perf_status_text(r->status));
    perf_put_warnings_(o, r->warnings);
}

PERF_COLD_FN_ void perf_put_loop_(perf_out_ *o, const perf_loop_ *l)
{
    (l->kind == 1 ? perf_put_bench_ : l->kind == 2 ? perf_put_ab_ : perf_put_race_)(o, l);
    if (l->note && *l->note)
        perf_putf_(o, "    %s\n", l->note);
}

/* Benches and comparisons in the order they were begun; the list, perf_registry_read_()->results,
 * has the newest first.  It is copied: each loop lies in pages of its own, and to find the one
 * before each of 40,000 by a walk from the start took 84 s.                                      */
PERF_FN void perf_report_results_(perf_out_ *o)
{
    perf_registry_   *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    const perf_loop_ *l, *first, **all;
    perf_few_         few = PERF_ZERO;
    size_t            n = 0, i, open = 0;

    if (!r || !PERF_ACQ_(&r->results) || !perf_loops_hold_(r))
        return;
    first = PERF_ACQ_(&r->results);
    perf_putf_(o, "\n  %-*s%34s%s\n", o->width && o->width < 66 ? o->width - 36 : 30, "benchmark",
               "median [95 % interval]", o->width && o->width < 76   ? ""
                                         : o->width && o->width < 86 ? "       p95"
                                         : o->width && o->width < 96 ? "       p95       p99"
                                                      : "       p95       p99     first");
    for (l = first; l; l = l->next)
        n++;
    all = PERF_CAST_(const perf_loop_ **, PERF_MALLOC(n * sizeof *all));
    for (l = first, i = n; all && l; l = l->next)
        all[--i] = l;
    for (i = 0; i < n; i++, first = first->next) {
        l = all ? all[i] : first;                   /* no memory: newest first                    */
        if (PERF_GET_(&l->forgotten))
            continue;
        if (PERF_ACQ_(&l->done)) {
            perf_put_loop_(o, l);
        } else {
            perf_few_add_(&few, l->name);
            open++;
        }
    }
    PERF_FREE(all);
    if (open) {
        perf_putf_(o, "  %.0f %s begun, but not ended", PERF_CAST_(double, open),
                   open == 1 ? "loop was" : "loops were");
        perf_put_few_(o, &few, open);
    }
    perf_loops_let_(r);
}

PERF_END_DECLS

#endif /* PERF_LOOP_ROWS_H */
