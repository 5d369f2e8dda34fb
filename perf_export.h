/* perf_export.h - results, scopes and the trace in other tools' formats.
 *
 *     #include "perf.h"
 *     #include "perf_export.h"
 *     perf_export_save("now.json", PERF_EXPORT_GOOGLE, NULL);     // all benches and A/B loops
 *     perf_export_save("flame.html", PERF_EXPORT_FLAME, NULL);    // where the time went, as a page
 *
 * Optional: only files that write such formats include it.  Our own JSON is in perf_results.h,
 * Perfetto's and Chrome's traces in perf_trace.h and perf.h, histograms in perf_hlog.h.
 * docs/formats.md says what each tool makes of them.  Everything here allocates and does I/O.
 * To add a format: a row in the enum, one in perf_export_row_, and its writer.
 * Sections (search for ">>"):  formats  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_EXPORT_H
#define PERF_EXPORT_H

#include "perf_results.h"

PERF_BEGIN_DECLS

/* >>formats ----------------------------------------------------------------------------------- */

typedef enum perf_export_format {
    PERF_EXPORT_GOOGLE,         /* Google Benchmark: compare.py and the trackers that read it     */
    PERF_EXPORT_GO,             /* Go benchmark text: benchstat; a line a slice                   */
    PERF_EXPORT_OPENMETRICS,    /* scopes as histograms, those of waits with kind="wait"; counters,
                                   medians; collectors too                                        */
    PERF_EXPORT_FOLDED,         /* flamegraph.pl, inferno, speedscope: "main;load;decode 1200", a
                                   line a path of scopes, self time in ns.  Names lose ';', newlines
                                   and bytes that are not UTF-8                                   */
    PERF_EXPORT_FLAME,          /* a page of HTML that shows the same as boxes, widest first; click
                                   to zoom.  Paths of less than 1/5000 of the time are left out.
                                   Its title is `run` of the options, or the program's name       */
    PERF_EXPORT_FORMATS_
} perf_export_format;

/* To a file, whole or not at all.  The last two write the call tree and of the options use only
 * `run`; the others write what perf_results_save writes.  PERF_EINVAL: no path or no such format,
 * PERF_EIO, PERF_ENOMEM, PERF_ESTATE as perf_results_save.                                       */
PERF_FN perf_status perf_export_save(const char *path, perf_export_format format,
                                     const perf_results_opts *opts);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_export_row_, perf_export_row_of_  a format by number: its name and writers
 *   PERF_EXPORT_FORMATS_  how many there are                                                     */

/* >>private: bodies --------------------------------------------------------------------------- */

/* ---- results ---- */

/* A bench, or one arm of an A/B loop as a result of its own, for formats that know no pairs. */
typedef struct perf_arm_ {
    const char         *name;           /* of the loop                                            */
    char                suffix[40];     /* "", "/baseline" or "/candidate", see perf_arm_suffix_  */
    const perf_saved_  *loop;
    const perf_summary *time;           /* ns of an iteration                                     */
    int                 arm;            /* 0: bench or baseline, 1: candidate                     */
    int                 threads;        /* at once                                                */
    uint64_t            batch;          /* iterations of a slice                                  */
    double              bytes, items;   /* of an iteration of all threads; 0: not told            */
} perf_arm_;

/* What a bench moves in one iteration of all its threads. */
PERF_COLD_FN_ void perf_arm_rates_(perf_arm_ *arm)
{
    const perf_kept_loop_       *own = arm->loop->own;
    const perf_bench_opts  *opts = &arm->loop->bench->opts;

    arm->bytes = opts->bytes;
    arm->items = opts->items;
    if (!own || own->threads < 2)
        return;
    arm->threads = own->threads;
    arm->bytes *= arm->threads;
    arm->items *= arm->threads;
}

/* 1: a bench is called as the arm is. */
PERF_COLD_FN_ int perf_arm_is_bench_(const perf_saving_ *saving, const perf_arm_ *arm)
{
    const size_t len = strlen(arm->name);
    size_t       i;

    for (i = 0; i < saving->loops; i++)
        if (!saving->loop[i].ab && !strncmp(saving->loop[i].name, arm->name, len) &&
            !strcmp(saving->loop[i].name + len, arm->suffix))
            return 1;
    return 0;
}

/* What stands behind the name of an A/B loop's arm: with a number where a bench has that name. */
PERF_COLD_FN_ void perf_arm_suffix_(const perf_saving_ *saving, perf_arm_ *arm)
{
    size_t number;

    for (number = 1; number == 1 || perf_arm_is_bench_(saving, arm); number++) {
        perf_out_ out = perf_out_open_(arm->suffix, sizeof arm->suffix);
        perf_put_(&out, arm->arm ? "/candidate" : "/baseline");
        if (number > 1)
            perf_putf_(&out, "-%.0f", PERF_CAST_(double, number));
    }
}

/* Fills in arm i of all: two a loop, of which a bench has the first.  0: there is nothing to write
 * of it.                                                                                         */
PERF_COLD_FN_ int perf_arm_of_(const perf_saving_ *saving, size_t i, perf_arm_ *arm)
{
    const perf_saved_ *loop = &saving->loop[i / 2];

    memset(arm, 0, sizeof *arm);
    arm->loop = loop;
    arm->name = loop->name;
    arm->threads = 1;
    arm->arm = PERF_CAST_(int, i % 2);
    if (!loop->ab && arm->arm)
        return 0;
    arm->time = loop->time[arm->arm];
    if (!loop->ab) {
        arm->batch = loop->bench->batch;
        perf_arm_rates_(arm);
    } else {
        arm->batch = arm->arm ? loop->ab->batch_candidate : loop->ab->batch_baseline;
        perf_arm_suffix_(saving, arm);
    }
    if (!arm->batch)
        arm->batch = 1;
    return arm->time->count > 0 && loop->count > 0;
}

/* ---- Google Benchmark ---- */

/* A member whose value is "name/suffix", with `more` behind it. */
PERF_COLD_FN_ void perf_member_arm_(perf_writer_ *json, const char *key, const perf_arm_ *arm,
                                    const char *more)
{
    perf_member_text_(json, key, arm->name);
    json->out->len--;                           /* without the closing quote                      */
    perf_put_(json->out, arm->suffix);
    perf_put_(json->out, more);
    perf_put_char_(json->out, '"');
}

/* An entry of Google's: a repetition, or what `aggregate` says of all of them. */
typedef struct perf_google_entry_ {
    const char *aggregate;      /* "mean" ...; NULL: a repetition                                 */
    size_t      family;         /* number of the benchmark, from 0                                */
    size_t      repetition;     /* from 0                                                         */
    double      ns;             /* of an iteration                                                */
} perf_google_entry_;

/* The user's numbers stand first: of two members of a name readers keep the last. */
PERF_COLD_FN_ void perf_put_google_counters_(perf_writer_ *json, const perf_arm_ *arm)
{
    const perf_kept_loop_ *own = arm->loop->own;
    int               i;

    for (i = 0; own && own->counter[i][0]; i++)
        if (perf_is_finite_(own->value[i]))
            perf_member_real_(json, own->counter[i], own->value[i]);
}

PERF_COLD_FN_ void perf_put_google_entry_(perf_writer_ *json, const perf_arm_ *arm,
                                          const perf_google_entry_ *entry)
{
    const char *aggregate = entry->aggregate;
    const int   is_time = !aggregate || strcmp(aggregate, "stddev") != 0;   /* 0: a spread        */
    char        more[16];
    perf_out_   behind = perf_out_open_(more, sizeof more);

    json->line = 1;
    perf_member_open_(json, PERF_CAST_(const char *, PERF_NULL_), '{');
    if (is_time)
        perf_put_google_counters_(json, arm);
    if (aggregate) {
        perf_put_char_(&behind, '_');
        perf_put_(&behind, aggregate);
    }
    perf_member_arm_(json, "name", arm, more);
    perf_member_whole_(json, "family_index", entry->family);
    perf_member_whole_(json, "per_family_instance_index", 0);
    perf_member_arm_(json, "run_name", arm, "");
    perf_member_text_(json, "run_type", aggregate ? "aggregate" : "iteration");
    perf_member_whole_(json, "repetitions", arm->loop->count);
    if (!aggregate)
        perf_member_whole_(json, "repetition_index", entry->repetition);
    perf_member_whole_(json, "threads", PERF_CAST_(uint64_t, arm->threads));
    if (aggregate) {
        perf_member_text_(json, "aggregate_name", aggregate);
        perf_member_text_(json, "aggregate_unit", "time");
    }
    perf_member_whole_(json, "iterations", arm->batch);
    perf_member_real_(json, "real_time", entry->ns);
    perf_member_real_(json, "cpu_time", entry->ns);
    perf_member_text_(json, "time_unit", "ns");
    if (is_time && arm->bytes > 0.0)
        perf_member_real_(json, "bytes_per_second", arm->bytes / entry->ns * 1e9);
    if (is_time && arm->items > 0.0)
        perf_member_real_(json, "items_per_second", arm->items / entry->ns * 1e9);
    perf_member_close_(json, '}');
}

/* A bench that was not measured, and why. */
PERF_COLD_FN_ void perf_put_google_error_(perf_writer_ *json, const perf_saved_ *loop,
                                          size_t family)
{
    json->line = 1;
    perf_member_open_(json, PERF_CAST_(const char *, PERF_NULL_), '{');
    perf_member_text_(json, "name", loop->name);
    perf_member_whole_(json, "family_index", family);
    perf_member_whole_(json, "per_family_instance_index", 0);
    perf_member_text_(json, "run_name", loop->name);
    perf_member_text_(json, "run_type", "iteration");
    perf_member_whole_(json, "repetitions", 1);
    perf_member_whole_(json, "repetition_index", 0);
    perf_member_whole_(json, "threads", 1);
    perf_member_key_(json, "error_occurred");
    perf_put_(json->out, "true");
    perf_member_text_(json, "error_message", perf_status_text(loop->bench->status));
    perf_member_whole_(json, "iterations", 0);
    perf_member_whole_(json, "real_time", 0);
    perf_member_whole_(json, "cpu_time", 0);
    perf_member_text_(json, "time_unit", "ns");
    perf_member_close_(json, '}');
}

/* All repetitions of an arm, then their mean, median and standard deviation. */
PERF_COLD_FN_ void perf_put_google_arm_(perf_writer_ *json, const perf_arm_ *arm, size_t family)
{
    static const char *const name[] = {"mean", "median", "stddev"};
    perf_google_entry_ entry = {PERF_NULL_, 0, 0, 0.0};
    double             value[3];
    size_t             i;

    entry.family = family;
    for (i = 0; i < arm->loop->count; i++) {
        entry.repetition = i;
        entry.ns = perf_saved_value_(arm->loop, arm->arm, i);
        if (entry.ns > 0.0)
            perf_put_google_entry_(json, arm, &entry);
    }
    if (arm->time->count < 2 || !(arm->time->std > 0.0))
        return;
    value[0] = arm->time->mean;
    value[1] = arm->time->p50;
    value[2] = arm->time->std;
    for (i = 0; i < 3; i++) {
        entry.aggregate = name[i];
        entry.ns = value[i];
        perf_put_google_entry_(json, arm, &entry);
    }
}

PERF_COLD_FN_ void perf_put_google_context_(perf_writer_ *json, const perf_saving_ *saving)
{
    const perf_run_ *run = &saving->run;
    const char      *build = "debug";
    char             date[40];
    perf_out_        out = perf_out_open_(date, sizeof date);
    size_t           i;

#if defined(__OPTIMIZE__) || defined(NDEBUG)
    build = "release";
#endif
    perf_put_date_(&out, run->time_s);
    perf_put_(&out, "+00:00");
    perf_member_open_(json, "context", '{');
    for (i = 0; saving->context && saving->context[i] && saving->context[i + 1]; i += 2)
        perf_member_text_(json, saving->context[i], saving->context[i + 1]);
    perf_member_text_(json, "date", date);
    perf_member_text_(json, "host_name", run->machine);
    perf_member_text_(json, "executable", "");
    perf_member_real_(json, "num_cpus", run->cores);
    perf_member_whole_(json, "mhz_per_cpu", PERF_CAST_(uint64_t, saving->clock.hz * 1e-6));
    perf_member_key_(json, "cpu_scaling_enabled");
    perf_put_(json->out, "false");
    perf_member_open_(json, "caches", '[');
    perf_member_close_(json, ']');
    perf_member_open_(json, "load_avg", '[');
    perf_member_close_(json, ']');
    perf_member_text_(json, "library_version", "perf.h");
    perf_member_text_(json, "library_build_type", build);
    perf_member_text_(json, "cpu_model", run->cpu);
    perf_member_text_(json, "compiler", run->compiler);
    perf_member_text_(json, "build", run->build);
    perf_member_close_(json, '}');
}

PERF_COLD_FN_ void perf_put_google_(perf_out_ *out, const void *with)
{
    const perf_saving_ *saving = PERF_CAST_(const perf_saving_ *, with);
    perf_writer_        json = {PERF_NULL_, 0, 0};
    perf_arm_           arm;
    size_t              i, family = 0;

    json.out = out;
    perf_member_open_(&json, PERF_CAST_(const char *, PERF_NULL_), '{');
    perf_put_google_context_(&json, saving);
    json.line = 1;
    perf_member_open_(&json, "benchmarks", '[');
    for (i = 0; i < 2 * saving->loops; i++) {
        const perf_saved_ *loop = &saving->loop[i / 2];
        const int failed = i % 2 == 0 && loop->bench && !loop->bench->time.count;
        if (perf_arm_of_(saving, i, &arm))
            perf_put_google_arm_(&json, &arm, family++);
        else if (failed)
            perf_put_google_error_(&json, loop, family++);
    }
    perf_member_close_(&json, ']');
    perf_member_close_(&json, '}');
    perf_put_char_(out, '\n');
}

/* ---- Go: benchmark text ---- */

/* 1: a blank, also one of Unicode's blocks of blanks. */
PERF_COLD_FN_ int perf_go_blank_(uint32_t code)
{
    return code == ' ' || code == 0xa0 || (code >= 0x1680 && code < 0x16c0) ||
           (code >= 0x2000 && code < 0x2080) || (code >= 0x3000 && code < 0x3040);
}

/* "copy 4 KiB" as copy_4_KiB; `capital`: as Copy_4_KiB. */
PERF_COLD_FN_ void perf_put_go_word_(perf_out_ *out, const char *text, int capital)
{
    perf_char_ letter;

    for (; *text; text += letter.bytes, capital = 0) {
        letter = perf_char_of_(text);
        if (letter.broken || letter.control || perf_go_blank_(letter.code))
            perf_put_char_(out, '_');
        else if (capital && letter.code >= 'a' && letter.code <= 'z')
            perf_put_char_(out, PERF_CAST_(char, *text - 'a' + 'A'));
        else
            perf_put_n_(out, text, PERF_CAST_(size_t, letter.bytes));
    }
}

/* "\t" and a number and its unit. */
PERF_COLD_FN_ void perf_put_go_value_(perf_out_ *out, double x, const char *unit)
{
    perf_put_char_(out, '\t');
    perf_put_real_(out, x);
    perf_put_char_(out, ' ');
    perf_put_(out, unit);
}

/* A slice of an arm. */
PERF_COLD_FN_ void perf_put_go_line_(perf_out_ *out, const perf_arm_ *arm, double ns)
{
    const perf_kept_loop_ *own = arm->loop->own;
    int               i;

    perf_put_(out, "Benchmark");
    perf_put_go_word_(out, arm->name, 1);
    perf_put_(out, arm->suffix);
    perf_put_char_(out, '\t');
    perf_put_u64_(out, arm->batch);
    perf_put_go_value_(out, ns, "ns/op");
    if (arm->bytes > 0.0)
        perf_put_go_value_(out, arm->bytes / ns * 1e3, "MB/s");
    if (arm->items > 0.0)
        perf_put_go_value_(out, arm->items / ns * 1e9, "items/s");
    for (i = 0; own && own->counter[i][0]; i++) {
        if (!perf_is_finite_(own->value[i]))
            continue;
        perf_put_go_value_(out, own->value[i], "");
        perf_put_go_word_(out, own->counter[i], 0);
    }
    perf_put_char_(out, '\n');
}

PERF_COLD_FN_ void perf_put_go_(perf_out_ *out, const void *with)
{
    const perf_saving_ *saving = PERF_CAST_(const perf_saving_ *, with);
    perf_arm_           arm;
    size_t              i, j;

    for (i = 0; i < 2 * saving->loops; i++) {
        if (!perf_arm_of_(saving, i, &arm))
            continue;
        for (j = 0; j < arm.loop->count; j++) {
            const double ns = perf_saved_value_(arm.loop, arm.arm, j);
            if (ns > 0.0)
                perf_put_go_line_(out, &arm, ns);
        }
    }
}

/* ---- OpenMetrics: histograms with fixed bounds ---- */

/* Upper bounds in seconds, the same for every scope, so that machines can be added up: 1e-8, 2e-8,
 * 5e-8, 1e-7 ... 100.                                                                            */
#define PERF_BOUNDS_ 31
PERF_COLD_FN_ double perf_metric_edge_(int i)
{
    static const double first[] = {1.0, 2.0, 5.0};
    double              edge = first[i % 3];
    int                 power;

    for (power = i / 3; power < 8; power++)
        edge /= 10.0;
    for (; power > 8; power--)
        edge *= 10.0;
    return edge;
}

/* Fills count[PERF_BOUNDS_ + 1]: count[i] is the calls in (bound i - 1, bound i], the last has no
 * upper bound.  A bucket of ours (3 % wide) counts where its middle lies.                        */
PERF_COLD_FN_ void perf_bound_counts_(const perf_saving_ *saving, const perf_saved_scope_ *scope,
                                      uint64_t *count)
{
    const double second = saving->clock.tick_ns * 1e-9;
    size_t       i;
    int          at;

    memset(count, 0, (PERF_BOUNDS_ + 1) * sizeof *count);
    for (i = 0; i < scope->buckets; i++) {
        const perf_saved_bucket_ *bucket = &saving->bucket[scope->bucket + i];
        const double              middle = perf_bucket_value_(bucket->index) * second;
        for (at = 0; at < PERF_BOUNDS_ && middle > perf_metric_edge_(at); at++)
            continue;
        count[at] += bucket->count;
    }
}

/* The value of a label of OpenMetrics, in quotes. */
PERF_COLD_FN_ void perf_put_label_(perf_out_ *out, const char *text)
{
    perf_char_ letter;

    perf_put_char_(out, '"');
    for (; *text; text += letter.bytes) {
        letter = perf_char_of_(text);
        if (letter.broken) {
            perf_put_(out, "\xef\xbf\xbd");
        } else if (letter.code == '\n') {
            perf_put_(out, "\\n");
        } else if (letter.control) {
            perf_put_char_(out, '?');
        } else {
            if (letter.code == '"' || letter.code == '\\')
                perf_put_char_(out, '\\');
            perf_put_n_(out, text, PERF_CAST_(size_t, letter.bytes));
        }
    }
    perf_put_char_(out, '"');
}

/* A sample of a series, name{label="text"}, up to where its value comes. */
typedef struct perf_series_ {
    const char *name, *part;    /* part: "_sum" ... or ""                                         */
    const char *label, *text;
    const char *suffix;         /* behind the text, as it is: '/baseline' or '",le="0.1'          */
} perf_series_;

PERF_COLD_FN_ void perf_put_sample_(perf_out_ *out, const perf_series_ *series, double x)
{
    perf_put_(out, series->name);
    perf_put_(out, series->part);
    perf_put_char_(out, '{');
    perf_put_(out, series->label);
    perf_put_char_(out, '=');
    perf_put_label_(out, series->text);
    out->len--;                                 /* without the closing quote                      */
    perf_put_(out, series->suffix);
    perf_put_(out, "\"} ");
    perf_put_real_(out, perf_is_finite_(x) ? x : 0.0);
    perf_put_char_(out, '\n');
}

/* The head of a family of series.  unit "": it has none. */
PERF_COLD_FN_ void perf_put_family_(perf_out_ *out, const char *name, const char *type,
                                    const char *unit, const char *help)
{
    perf_putf_(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    if (*unit)
        perf_putf_(out, "# UNIT %s %s\n", name, unit);
}

/* Buckets, count and sum of a scope.  A wait may have the name of a scope: it has a label more. */
PERF_COLD_FN_ void perf_put_histogram_(perf_out_ *out, const perf_saving_ *saving,
                                       const perf_saved_scope_ *scope, const char *family)
{
    perf_series_ series = {PERF_NULL_, "_bucket", "scope", PERF_NULL_, PERF_NULL_};
    const char  *kind = "";
    uint64_t     count[PERF_BOUNDS_ + 1], total = 0;
    char         text[48];
    int          i;

    if (scope->row.kind == PERF_KIND_WAIT_)
        kind = "\",kind=\"wait";
    series.name = family;
    series.text = scope->row.name;
    series.suffix = text;
    perf_bound_counts_(saving, scope, count);
    for (i = 0; i <= PERF_BOUNDS_; i++) {
        perf_out_ edge = perf_out_open_(text, sizeof text);
        total += count[i];
        perf_put_(&edge, kind);
        perf_put_(&edge, "\",le=\"");
        if (i == PERF_BOUNDS_) {
            perf_put_(&edge, "+Inf");
        } else {
            perf_put_real_(&edge, perf_metric_edge_(i));
            if (perf_metric_edge_(i) >= 1.0)   /* bounds need a point or an exponent              */
                perf_put_(&edge, ".0");
        }
        perf_put_sample_(out, &series, PERF_CAST_(double, total));
    }
    series.suffix = kind;
    series.part = "_count";
    perf_put_sample_(out, &series, PERF_CAST_(double, total));
    series.part = "_sum";
    perf_put_sample_(out, &series, scope->row.sum * 1e-9);
}

/* The scopes of the kinds from first to last as one family. */
PERF_COLD_FN_ void perf_put_openmetrics_scopes_(perf_out_ *out, const perf_saving_ *saving,
                                                uint32_t first, uint32_t last,
                                                const char *family, const char *help)
{
    size_t i, some = 0;

    for (i = 0; i < saving->scopes; i++) {
        const perf_saved_scope_ *scope = &saving->scope[i];
        if (scope->row.kind < first || scope->row.kind > last || !scope->buckets)
            continue;
        if (!some++)
            perf_put_family_(out, family, "histogram", "seconds", help);
        perf_put_histogram_(out, saving, scope, family);
    }
}

PERF_COLD_FN_ void perf_put_openmetrics_counters_(perf_out_ *out, const perf_saving_ *saving)
{
    perf_series_ series = {"perf_value", "", "counter", PERF_NULL_, ""};
    size_t       i, some = 0;

    for (i = 0; i < saving->scopes; i++) {
        const perf_row_ *counter = &saving->scope[i].row;
        const double     last = counter->figure[PERF_COLUMN_LAST_];
        if (counter->kind != PERF_KIND_COUNT_ || !perf_is_finite_(last))
            continue;
        if (!some++)
            perf_put_family_(out, "perf_value", "gauge", "", "Last value given to perf_count.");
        series.text = counter->name;
        perf_put_sample_(out, &series, last);
    }
}

/* 1: an earlier loop has the name of this arm's loop, which is then a further round of --repeat. */
PERF_COLD_FN_ int perf_arm_again_(const perf_saving_ *saving, const perf_arm_ *arm)
{
    const perf_saved_ *loop;

    for (loop = saving->loop; loop != arm->loop; loop++)
        if (!strcmp(loop->name, arm->name) && !loop->ab == !arm->loop->ab)
            return 1;
    return 0;
}

PERF_COLD_FN_ void perf_put_openmetrics_loops_(perf_out_ *out, const perf_saving_ *saving)
{
    perf_series_ series = {"perf_benchmark_seconds", "", "benchmark", PERF_NULL_, PERF_NULL_};
    perf_arm_    arm;
    size_t       i, some = 0;

    for (i = 0; i < 2 * saving->loops; i++) {
        if (!perf_arm_of_(saving, i, &arm) || perf_arm_again_(saving, &arm))
            continue;
        if (!some++)
            perf_put_family_(out, "perf_benchmark_seconds", "gauge", "seconds",
                             "Median time of one iteration.");
        series.text = arm.name;
        series.suffix = arm.suffix;
        perf_put_sample_(out, &series, arm.time->p50 * 1e-9);
    }
}

PERF_COLD_FN_ void perf_put_openmetrics_(perf_out_ *out, const void *with)
{
    const perf_saving_ *saving = PERF_CAST_(const perf_saving_ *, with);

    perf_put_openmetrics_scopes_(out, saving, PERF_KIND_SCOPE_, PERF_KIND_WAIT_,
                                 "perf_scope_seconds",
                                 "Time between the begin and the end of a scope.");
    perf_put_openmetrics_scopes_(out, saving, PERF_KIND_ASYNC_, PERF_KIND_ASYNC_,
                                 "perf_async_seconds",
                                 "Time between the begin and the end of an asynchronous span.");
    perf_put_openmetrics_counters_(out, saving);
    perf_put_openmetrics_loops_(out, saving);
    perf_put_(out, "# EOF\n");
}

/* ---- folded stacks and the flame page ---- */

typedef struct perf_flame_ {
    perf_file_  file;
    perf_tree_ *tree;
    double      tick;
    const char *title;
    char        diagnosis[2048];        /* of perf_diagnosis.h; "" without                        */
} perf_flame_;

PERF_COLD_FN_ void perf_folded_name_(perf_file_ *file, const char *name)
{
    perf_out_ out = perf_out_open_(file->at, PERF_FILE_RECORD_);
    char     *end;

    perf_put_clean_(&out, name, '_');
    for (end = file->at + out.len; file->at < end; file->at++)
        if (*file->at == ';')                    /* it stands between the names of a path         */
            *file->at = '_';
}

/* The names from the outermost scope to that of a node, "step;read". */
PERF_COLD_FN_ void perf_folded_path_(perf_flame_ *flame, uint32_t at)
{
    perf_file_       *file = &flame->file;
    const perf_node_ *node = &flame->tree->node[at];

    if (node->parent) {
        perf_folded_path_(flame, node->parent);
        *file->at++ = ';';
    }
    if (file->at > file->limit)
        perf_file_flush_(file);
    perf_folded_name_(file, PERF_ACQ_(&flame->tree->registry->names)[node->name]->site.name);
}

PERF_COLD_FN_ void perf_folded_go_(void *with)
{
    perf_flame_ *flame = PERF_CAST_(perf_flame_ *, with);
    perf_file_  *file = &flame->file;
    uint32_t     i;

    for (i = 1; i < flame->tree->count; i++) {
        const double ns = PERF_CAST_(double, flame->tree->node[i].self) * flame->tick;
        if (ns < 0.5)
            continue;
        perf_folded_path_(flame, i);
        *file->at++ = ' ';
        file->at = perf_digits_(file->at, PERF_CAST_(uint64_t, ns + 0.5));
        *file->at++ = '\n';
    }
    perf_file_flush_(file);
}

/* The page up to its title, which comes as JSON. */
PERF_COLD_FN_ void perf_flame_head_(perf_file_ *file)
{
    perf_file_put_(file,
        "<!doctype html><html lang=en><meta charset=utf-8><title>flame graph</title>"
        "<meta name=viewport content='width=device-width,initial-scale=1'><style>"
        ":root{color-scheme:light dark}body{font:13px sans-serif;margin:8px}"
        "#g{position:relative;margin-top:6px}#g div{position:absolute;height:21px;"
        "line-height:20px;overflow:hidden;white-space:nowrap;box-sizing:border-box;"
        "border:1px solid Canvas;padding:0 3px;cursor:pointer;color:#000}"
        "#d,pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0}"
        "#g .dim{opacity:.25}input{font:inherit;max-width:60%}</style><h3 id=h></h3>"
        "<input id=q type=search placeholder='search names' aria-label=search> "
        "<button id=r>all</button><div id=d></div><pre id=b></pre>"
        "<div id=g></div><p>A box is a scope; the boxes below it are what it called. Its "
        "width is its share of the time. Tap it, or press Tab and Enter: its figures "
        "appear, and it fills the page. The boxes above lead back, and Escape shows all."
        "</p><script>\nconst title=");
}

/* A list of [parent, name, total ns, self ns, width, calls], or 0 for what is too small to be seen.
 * Parents stand before their children.                                                           */
PERF_COLD_FN_ void perf_flame_nodes_(perf_flame_ *flame)
{
    perf_file_       *file = &flame->file;
    const perf_node_ *node = flame->tree->node;
    perf_name_      **names = PERF_ACQ_(&flame->tree->registry->names);
    uint32_t          i;

    for (i = 0; i < flame->tree->count; i++) {
        const char *name = "all";
        double      width = PERF_CAST_(double, node[i].total), calls = 1.0;
        perf_file_put_(file, i ? ",\n" : "");
        if (node[i].total < node[0].total / 5000) {
            perf_file_put_(file, "0");
            continue;
        }
        if (i) {
            name = names[node[i].name]->site.name;
            width = PERF_CAST_(double, node[i].size);
            calls = PERF_CAST_(double, node[i].calls);
        }
        perf_file_putf_(file, "[%.0f,", PERF_CAST_(double, node[i].parent));
        perf_file_json_(file, name);
        perf_file_putf_(file, ",%.0f,%.0f,%.0f,%.0f]",
                        PERF_CAST_(double, node[i].total) * flame->tick,
                        PERF_CAST_(double, node[i].self) * flame->tick, width * flame->tick, calls);
    }
}

/* What draws the boxes, and the end of the page. */
PERF_COLD_FN_ void perf_flame_script_(perf_file_ *file)
{
    perf_file_put_(file,
        ";\nconst $=i=>document.getElementById(i),kids=node.map(()=>[]),all=node[0][2]||1;"
        "for(let i=1;i<node.length;i++)if(node[i])kids[node[i][0]].push(i);\n"
        "const time=n=>n<1e3?n+' ns':n<1e6?(n/1e3).toPrecision(3)+' us':"
        "n<1e9?(n/1e6).toPrecision(3)+' ms':(n/1e9).toPrecision(3)+' s';\n"
        "const part=n=>(100*n/all).toFixed(1)+' %';let depth=0,at=0;"
        "$('h').textContent=document.title=title;$('b').textContent=diagnosis;\n"
        "const color=s=>{let h=0;for(const c of s)h=(h*31+c.charCodeAt(0))%3600;"
        "return'hsl('+(h%60)+',80%,'+(62+h%20)+'%)'};\n"
        "const words=n=>n[1]+': '+time(n[2])+' in '+n[5]+' calls, '+time(n[3])+' itself, '+"
        "part(n[2])+' of all, '+time(Math.round(n[2]/(n[5]||1)))+' a call';\n"
        "function box(i,x,w,y){if(w<0.05)return;const d=document.createElement('div'),n=node[i],"
        "q=$('q').value.toLowerCase();d.style.left=x+'%';d.style.width=w+'%';d.style.top=y*22+'px';"
        "d.style.background=color(n[1]);d.textContent=n[1]+' '+part(n[2])+' '+time(n[2])+' '+n[5]+"
        "'x';d.title=words(n);if(q&&!n[1].toLowerCase().includes(q))d.className='dim';"
        "d.tabIndex=0;d.role='button';d.ariaLabel=words(n);"
        "d.onclick=()=>{$('d').textContent=words(n);show(i)};$('g').appendChild(d);"
        "depth=Math.max(depth,y+1);\n"
        "for(const k of kids[i]){const c=w*node[k][4]/(n[4]||1);box(k,x,c,y+1);x+=c}}\n"
        "function show(i){at=i;$('g').replaceChildren();depth=0;const up=[];"
        "for(let k=i;k;k=node[k][0])up.unshift(node[k][0]);"
        "up.forEach((k,y)=>{const s=kids[k];kids[k]=[];box(k,0,100,y);kids[k]=s});"
        "box(i,0,100,up.length);$('g').style.height=depth*22+'px'}\n"
        "$('q').oninput=()=>{show(at);const q=$('q').value.toLowerCase();let s=0;"
        "const add=i=>{if(q&&node[i][1].toLowerCase().includes(q))s+=node[i][4];"
        "else kids[i].forEach(add)};add(0);"
        "$('d').textContent=q?'found: '+time(s)+', '+part(s)+' of all':''};\n"
        "$('r').onclick=()=>{$('d').textContent=words(node[0]);show(0)};show(0);\n"
        "onkeydown=e=>{if(e.key=='Escape')$('r').onclick();"
        "if(e.key=='Enter'&&e.target.onclick&&e.target!=$('r')){const n=e.target.ariaLabel;"
        "e.target.onclick();"
        "for(const d of $('g').children)if(d.ariaLabel==n)d.focus()}};\n</script>\n");
}

PERF_COLD_FN_ void perf_flame_go_(void *with)
{
    perf_flame_ *flame = PERF_CAST_(perf_flame_ *, with);
    perf_file_  *file = &flame->file;

    perf_flame_head_(file);
    perf_file_json_(file, flame->title);
    perf_file_put_(file, ";\nconst node=[");
    perf_flame_nodes_(flame);
    perf_file_put_(file, "];\nconst diagnosis=");
    perf_file_json_(file, flame->diagnosis);
    perf_flame_script_(file);
    perf_file_flush_(file);
}

/* The file name of this program, as it was called; "perf.h" where the system does not say. */
PERF_COLD_FN_ const char *perf_program_name_(char *line, size_t cap)
{
    const char *name = line, *end;

    if (!perf_first_line_("/proc/self/cmdline", line, cap) || !*line)
        return "perf.h";
    for (end = line; *end; end++)
        if (*end == '/' && end[1])
            name = end + 1;
    return name;
}

/* Writes the call tree by `go` (with a perf_flame_).  PERF_ENOMEM: no memory, or no registry. */
PERF_COLD_FN_ perf_status perf_tree_save_(const char *path, const char *title, void (*go)(void *))
{
    perf_registry_ *core = perf_registry_read_();
    perf_flame_     flame = PERF_ZERO;
    perf_status     status;

    if (!core)
        return PERF_ENOMEM;
    if (PERF_ACQ_(&core->put_diagnosis)) {
        perf_out_ out = perf_out_open_(flame.diagnosis, sizeof flame.diagnosis);
        core->put_diagnosis(&out, 0);
    }
    flame.title = title;
    if (strlen(title) > PERF_NAME_MAX_)
        flame.title = "perf.h";
    perf_sources_collect_(core);
    flame.tick = perf_scope_tick_ns_(core);
    flame.tree = perf_tree_make_(core);
    if (!flame.tree)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &flame.file, go, &flame);
    PERF_FREE(flame.tree);
    return status;
}

/* ---- the formats by number ---- */

typedef struct perf_export_row_ {
    const char *name;
    void (*put)(perf_out_ *, const void *);     /* of results                                     */
    void (*go)(void *);                         /* of the call tree                               */
} perf_export_row_;

PERF_FN perf_export_row_ perf_export_row_of_(perf_export_format format)
{
    static const perf_export_row_ row[] = {
        {"google", perf_put_google_, PERF_NULL_}, {"go", perf_put_go_, PERF_NULL_},
        {"openmetrics", perf_put_openmetrics_, PERF_NULL_},
        {"folded", PERF_NULL_, perf_folded_go_}, {"flame", PERF_NULL_, perf_flame_go_},
        {PERF_NULL_, PERF_NULL_, PERF_NULL_}};

    if (PERF_CAST_(unsigned, format) >= PERF_EXPORT_FORMATS_)
        format = PERF_EXPORT_FORMATS_;
    return row[format];
}

PERF_FN perf_status perf_export_save(const char *path, perf_export_format format,
                                     const perf_results_opts *opts)
{
    const perf_export_row_ row = perf_export_row_of_(format);
    char                   line[PERF_NAME_MAX_];
    const char            *title = PERF_NULL_;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!path || !*path || !row.name)
        return PERF_EINVAL;
    if (row.put)
        return perf_saving_save_(path, PERF_NULL_, row.put, opts, PERF_NULL_, 0);
    if (opts && opts->run)
        title = opts->run;
    if (!title)
        title = perf_program_name_(line, sizeof line);
    return perf_tree_save_(path, title, row.go);
}

PERF_END_DECLS

#endif /* PERF_EXPORT_H */
