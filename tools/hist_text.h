/* hist_text.h - histograms as text for collectors and terminals: percentile levels, bars, OTLP,
 * Prometheus.  For `perf-ab convert`.  The writers return the number of characters that the whole
 * text has, as snprintf does.
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef AB_HIST_TEXT_H
#define AB_HIST_TEXT_H

#include "perf_hist.h"
#include "perf_text.h"
#include <string.h>

/* Percentile levels: `steps` (0 -> 5) for each halving of the distance to 100 %, the last is 1: the
 * ticks per half distance of HdrHistogram's percentile iterator.
 *     ab_hist_level level = PERF_ZERO;
 *     while (ab_hist_next_level(hist, &level, 5))
 *         use(level.quantile, level.value, level.count);                                         */
typedef struct ab_hist_level {
    double   quantile;              /* 0..1                                                       */
    double   value;                 /* perf_hist_quantile                                         */
    uint64_t count;                 /* perf_hist_rank of it                                       */
    double   next_;
} ab_hist_level;


/* 1: the next level is in *level; 0: there was none left, or no value, or NULL. */
PERF_FN int ab_hist_next_level(const perf_hist *hist, ab_hist_level *level, int steps)
{
    uint64_t total = perf_hist_count(hist);
    int      halvings;

    if (!level || level->quantile >= 1.0 || total == 0)
        return 0;
    level->value = perf_hist_quantile(hist, level->next_);
    level->count = perf_hist_rank(hist, level->value);
    level->quantile = level->next_;
    if (level->count >= total || level->next_ > 1.0 - 1e-15) {
        level->quantile = 1.0;
        level->value = perf_hist_quantile(hist, 1.0);
        level->count = total;
    }
    halvings = PERF_CAST_(int, perf_bits_(1.0 / (1.0 - level->next_)) >> 52) - 1023;
    level->next_ += 1.0 / ((steps > 0 ? steps : 5) *
                           PERF_CAST_(double, UINT64_C(2) << (halvings < 52 ? halvings : 52)));
    return 1;
}

/* ---- text ---- */

/* A number, right-justified in `width` columns. */
PERF_FN void perf_put_column_(perf_out_ *out, double x, int decimals, size_t width)
{
    perf_out_ count = PERF_ZERO;

    for (perf_put_fixed_(&count, x, decimals); count.len < width; count.len++)
        perf_put_char_(out, ' ');
    perf_put_fixed_(out, x, decimals);
}

/* ---- text: exponential buckets ----
 * Bucket i of scale s holds (b^i, b^(i+1)] with b = 2^(2^-s), as OpenTelemetry and Prometheus
 * define it.  A bucket of ours goes, whole, where its midpoint falls.                            */

#define PERF_EXP_MOST_ 160              /* buckets: the default of OpenTelemetry's SDKs           */

typedef struct ab_scaled_ {
    int      scale, n;
    int64_t  first;                     /* index of the first of n buckets                        */
    uint64_t zeros, count[PERF_EXP_MOST_];
} ab_scaled_;

/* x > 0.  Each squaring of the mantissa gives a binary digit of the logarithm. */
PERF_FN int64_t perf_exp_index_(double x, int scale)
{
    uint64_t bits = perf_bits_(x), mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int64_t  index = PERF_CAST_(int64_t, bits >> 52) - 1023;
    double   m = perf_from_bits_(mantissa | UINT64_C(1023) << 52);
    int      i;

    for (i = 0; i < scale; i++) {
        m *= m;
        index = 2 * index + (m >= 2.0);
        m = m >= 2.0 ? 0.5 * m : m;
    }
    if (mantissa == 0)
        index--;                                /* a power of two is the upper end of its bucket  */
    return index;
}

/* Adds one bucket of ours; 0: it is too far from the first. */
PERF_FN int perf_exp_add_(ab_scaled_ *scaled, double x, uint64_t n)
{
    int64_t index = perf_exp_index_(x, scaled->scale);

    if (scaled->n == 0)
        scaled->first = index;
    if (index - scaled->first >= PERF_EXP_MOST_)
        return 0;
    scaled->n = PERF_CAST_(int, index - scaled->first) + 1;
    scaled->count[index - scaled->first] += n;
    return 1;
}

/* At the finest scale for which the range takes few enough buckets, and none finer than our own. */
PERF_FN ab_scaled_ perf_exp_of_(const perf_hist *hist, int finest)
{
    ab_scaled_ scaled = PERF_ZERO;
    int        scale = hist ? PERF_CAST_(int, perf_hist_shape_of_(hist).bits) : 0, fits = !hist;

    for (scale = scale < finest ? scale : finest; !fits; scale--) {
        perf_hist_bucket bucket = PERF_ZERO;
        memset(&scaled, 0, sizeof scaled);
        scaled.scale = scale;
        for (fits = 1; fits && perf_hist_next(hist, &bucket);) {
            double x = perf_hist_middle_(hist, bucket.lower, bucket.upper);
            if (x > 0.0)
                fits = perf_exp_add_(&scaled, x * perf_hist_unit_(hist), bucket.count);
            else
                scaled.zeros = bucket.count;    /* zeros have a place of their own                */
        }
        fits = fits && (scaled.n == 0 || perf_exp_add_(&scaled, perf_hist_quantile(hist, 1.0), 0));
    }
    return scaled;
}

PERF_FN void perf_put_count_(perf_out_ *out, const char *text, uint64_t n)
{
    perf_put_(out, text);
    perf_put_u64_(out, n);
}

PERF_FN void perf_put_signed_(perf_out_ *out, const char *text, int64_t value)
{
    perf_put_(out, text);
    perf_put_count_(out, value < 0 ? "-" : "",
                    value < 0 ? 0 - PERF_CAST_(uint64_t, value) : PERF_CAST_(uint64_t, value));
}

/* A number with nine significant digits or more, small ones too; 0 for no data. */
PERF_FN void perf_put_value_(perf_out_ *out, const char *text, double x)
{
    uint64_t e = 0;

    perf_put_(out, text);
    for (x = x > 0.0 ? x : 0.0; x > 0.0 && x < 1.0; e++)
        x *= 10.0;
    perf_put_fixed_(out, x, x > 0.0 ? 9 : 0);
    if (e)
        perf_put_count_(out, "e-", e);
}

PERF_FN size_t ab_hist_otlp_text(char *text, size_t cap, const perf_hist *hist, const char *name,
                                 const char *unit, uint64_t start_ns, uint64_t end_ns)
{
    perf_out_  out = perf_out_open_(text, cap);
    ab_scaled_ scaled = perf_exp_of_(hist, 20);
    int        i;

    if (!name)
        return 0;
    perf_put_(&out, "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"scope\":{\"name\":\"perf.h\"},"
                    "\"metrics\":[{\"name\":");
    perf_put_json_(&out, name);
    perf_put_(&out, ",\"unit\":");
    perf_put_json_(&out, unit ? unit : "");
    perf_put_count_(&out,
                    ",\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                    "\"startTimeUnixNano\":\"", start_ns);
    perf_put_count_(&out, "\",\"timeUnixNano\":\"", end_ns);
    perf_put_count_(&out, "\",\"count\":\"", perf_hist_count(hist));
    perf_put_value_(&out, "\",\"sum\":", perf_hist_sum_(hist));
    if (perf_hist_count(hist)) {
        perf_put_value_(&out, ",\"min\":", perf_hist_quantile(hist, 0.0));
        perf_put_value_(&out, ",\"max\":", perf_hist_quantile(hist, 1.0));
    }
    perf_put_signed_(&out, ",\"scale\":", scaled.scale);
    perf_put_count_(&out, ",\"zeroCount\":\"", scaled.zeros);
    perf_put_signed_(&out, "\",\"positive\":{\"offset\":", scaled.first);
    perf_put_(&out, ",\"bucketCounts\":[");
    for (i = 0; i < scaled.n; i++)
        perf_put_count_(&out, i ? "\",\"" : "\"", scaled.count[i]);
    perf_put_(&out, scaled.n ? "\"]}}]}}]}]}]}\n" : "]}}]}}]}]}]}\n");
    return out.len;
}

PERF_FN size_t ab_hist_prometheus_text(char *text, size_t cap, const perf_hist *hist,
                                       const char *name)
{
    static const char letters[] =
        "0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    perf_out_  out = perf_out_open_(text, cap);
    ab_scaled_ scaled = perf_exp_of_(hist, 8);  /* the finest that Prometheus takes               */
    int        i;

    if (!name || *name <= '9' || name[strspn(name, letters)])
        return 0;
    perf_putf_(&out, "# TYPE %s histogram\n%s", name, name);
    perf_put_count_(&out, " {count:", perf_hist_count(hist));
    perf_put_value_(&out, ",sum:", perf_hist_sum_(hist));
    perf_put_signed_(&out, ",schema:", scaled.scale);
    perf_put_count_(&out, ",zero_threshold:0,zero_count:", scaled.zeros);
    if (scaled.n) {                             /* one span; each count is a step from the last   */
        /* by its buckets' upper ends */
        perf_put_signed_(&out, ",positive_spans:[", scaled.first + 1);
        perf_put_signed_(&out, ":", scaled.n);
        for (i = 0; i < scaled.n; i++)
            perf_put_signed_(&out, i ? "," : "],positive_deltas:[",
                             PERF_CAST_(int64_t, scaled.count[i] - (i ? scaled.count[i - 1] : 0)));
        perf_put_char_(&out, ']');
    }
    perf_put_(&out, "}\n");
    return out.len;
}

/* ---- text: bars ---- */

/* Three or four digits and a letter for the thousands: 12.3k.  Right-justified in 7 columns. */
PERF_FN void perf_put_si_(perf_out_ *out, double x)
{
    static const char letter[] = "yzafpnum kMGTPEZY";
    int               i = 8, whole;

    for (; x >= 999.5 && letter[i + 1]; i++)
        x /= 1000.0;
    for (; x > 0.0 && x < 0.9995 && i > 0; i--)
        x *= 1000.0;
    whole = i == 8 && x - PERF_CAST_(double, PERF_CAST_(uint64_t, x)) < 1e-9;
    perf_put_column_(out, x, whole || x >= 99.95 ? 0 : x < 9.995 ? 2 : 1, i == 8 ? 7 : 6);
    if (i != 8)
        perf_put_char_(out, letter[i]);
}

/* A bar of `eighths` eighths of a column, and nothing after it. */
PERF_FN void perf_put_bar_(perf_out_ *out, uint64_t eighths, int utf8)
{
    char part[4] = {'\xe2', '\x96', '\x88', '\0'};  /* U+2588, a full block; 89 to 8f: 7/8 to 1/8 */

    for (; eighths >= 8; eighths -= 8)
        perf_put_(out, utf8 ? part : "#");
    part[2] = PERF_CAST_(char, PERF_CAST_(int, part[2]) + 8 - PERF_CAST_(int, eighths));
    if (eighths && (utf8 || eighths >= 4))
        perf_put_(out, utf8 ? part : "#");
}

/* Rows of equal ratio, as far as integers allow, by the edges of very fine buckets.  Returns the
 * most values in one; with `out`, writes them.                                                   */
PERF_FN uint64_t perf_bars_rows_(perf_out_ *out, const perf_hist *hist, int rows, uint64_t most,
                                 uint64_t columns, int utf8)
{
    static const double      q[4] = {0.5, 0.9, 0.99, 0.999};
    static const char *const name[4] = {" p50", " p90", " p99", " p99.9"};
    perf_hist_shape_         fine = PERF_ZERO;
    double                   at[4], total = PERF_CAST_(double, perf_hist_count(hist)), n, edge,
                             high;
    uint64_t                 min, max, upper = 0, next, seen = 0, highest = 0, first, last, width;
    int                      i, row;

    (void)perf_hist_extremes_(hist, &min, &max);
    for (i = 0; i < 4; i++)
        at[i] = perf_hist_quantile(hist, q[i]);
    fine.bits = 14;
    first = perf_hist_index_(&fine, min ? min : 1);
    last = perf_hist_index_(&fine, max ? max : 1);
    high = -1.0;
    for (row = 1; row <= rows; row++) {
        next = first + (last - first) * PERF_CAST_(uint64_t, row) / PERF_CAST_(uint64_t, rows);
        next = perf_hist_lower_(&fine, PERF_CAST_(size_t, next), &width);
        next = row == rows || next > max ? max : next;
        if (row > 1 && next <= upper)
            continue;
        upper = next;
        next = perf_hist_up_to_(hist, upper) - seen;
        seen += next;
        highest = next > highest ? next : highest;
        if (!out)
            continue;
        n = PERF_CAST_(double, next);
        edge = PERF_CAST_(double, upper) * perf_hist_unit_(hist);
        perf_put_si_(out, edge);
        perf_put_si_(out, n);
        perf_put_column_(out, 100.0 * n / total, 1, 6);
        perf_put_(out, "% ");
        n *= 8.0 * PERF_CAST_(double, columns) / PERF_CAST_(double, most);
        perf_put_bar_(out, PERF_CAST_(uint64_t, n + 0.5), utf8);
        for (i = 0; i < 4; i++)
            if (at[i] <= edge && at[i] > high)
                perf_put_(out, name[i]);
        perf_put_char_(out, '\n');
        high = edge;
    }
    return highest;
}

PERF_FN size_t ab_hist_bars_text(char *text, size_t cap, const perf_hist *hist, int rows,
                                 int columns, int utf8)
{
    perf_out_ out = perf_out_open_(text, cap);
    uint64_t  min, max, most;

    if (!perf_hist_extremes_(hist, &min, &max) || perf_hist_count(hist) == 0) {
        perf_put_(&out, "no values\n");
        return out.len;
    }
    rows = rows <= 0 ? 16 : rows > 64 ? 64 : rows;
    columns = columns <= 0 ? 80 : columns < 48 ? 48 : columns > 500 ? 500 : columns;
    most = perf_bars_rows_(PERF_CAST_(perf_out_ *, PERF_NULL_), hist, rows, 1, 1, utf8);
    perf_put_(&out, "  up to  count  share\n");
    (void)perf_bars_rows_(&out, hist, rows, most, PERF_CAST_(uint64_t, columns - 40), utf8);
    return out.len;
}

#endif /* AB_HIST_TEXT_H */
