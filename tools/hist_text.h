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
 *     ab_hist_level l = PERF_ZERO;
 *     while (ab_hist_next_level(h, &l, 5)) use(l.quantile, l.value, l.count);                  */
typedef struct ab_hist_level {
    double   quantile;              /* 0..1                                                       */
    double   value;                 /* perf_hist_quantile                                         */
    uint64_t count;                 /* perf_hist_rank of it                                       */
    double   next_;
} ab_hist_level;


/* 1: the next level is in *l; 0: there was none left, or no value, or NULL. */
PERF_FN int ab_hist_next_level(const perf_hist *h, ab_hist_level *l, int steps)
{
    uint64_t total = perf_hist_count(h);
    int      halvings;

    if (!l || l->quantile >= 1.0 || total == 0)
        return 0;
    l->value = perf_hist_quantile(h, l->next_);
    l->count = perf_hist_rank(h, l->value);
    l->quantile = l->next_;
    if (l->count >= total || l->next_ > 1.0 - 1e-15) {
        l->quantile = 1.0;
        l->value = perf_hist_quantile(h, 1.0);
        l->count = total;
    }
    halvings = PERF_CAST_(int, perf_bits_(1.0 / (1.0 - l->next_)) >> 52) - 1023;
    l->next_ += 1.0 / ((steps > 0 ? steps : 5) *
                       PERF_CAST_(double, UINT64_C(2) << (halvings < 52 ? halvings : 52)));
    return 1;
}

/* ---- text ---- */

/* A number, right-justified in `width` columns. */
PERF_FN void perf_put_column_(perf_out_ *o, double x, int decimals, size_t width)
{
    perf_out_ count = PERF_ZERO;

    for (perf_put_fixed_(&count, x, decimals); count.len < width; count.len++)
        perf_put_char_(o, ' ');
    perf_put_fixed_(o, x, decimals);
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
PERF_FN int perf_exp_add_(ab_scaled_ *e, double x, uint64_t n)
{
    int64_t index = perf_exp_index_(x, e->scale);

    if (e->n == 0)
        e->first = index;
    if (index - e->first >= PERF_EXP_MOST_)
        return 0;
    e->n = PERF_CAST_(int, index - e->first) + 1;
    e->count[index - e->first] += n;
    return 1;
}

/* At the finest scale for which the range takes few enough buckets, and none finer than our own. */
PERF_FN ab_scaled_ perf_exp_of_(const perf_hist *h, int finest)
{
    ab_scaled_ e = PERF_ZERO;
    int       scale = h ? PERF_CAST_(int, perf_hist_shape_of_(h).bits) : 0, fits = !h;

    for (scale = scale < finest ? scale : finest; !fits; scale--) {
        perf_hist_bucket b = PERF_ZERO;
        memset(&e, 0, sizeof e);
        e.scale = scale;
        for (fits = 1; fits && perf_hist_next(h, &b);) {
            double x = perf_hist_middle_(h, b.lower, b.upper);
            if (x > 0.0)
                fits = perf_exp_add_(&e, x * perf_hist_unit_(h), b.count);
            else
                e.zeros = b.count;              /* zeros have a place of their own                */
        }
        fits = fits && (e.n == 0 || perf_exp_add_(&e, perf_hist_quantile(h, 1.0), 0));
    }
    return e;
}

PERF_FN void perf_put_count_(perf_out_ *o, const char *text, uint64_t n)
{
    perf_put_(o, text);
    perf_put_u64_(o, n);
}

PERF_FN void perf_put_signed_(perf_out_ *o, const char *text, int64_t x)
{
    perf_put_(o, text);
    perf_put_count_(o, x < 0 ? "-" : "",
                    x < 0 ? 0 - PERF_CAST_(uint64_t, x) : PERF_CAST_(uint64_t, x));
}

/* A number with nine significant digits or more, small ones too; 0 for no data. */
PERF_FN void perf_put_value_(perf_out_ *o, const char *text, double x)
{
    uint64_t e = 0;

    perf_put_(o, text);
    for (x = x > 0.0 ? x : 0.0; x > 0.0 && x < 1.0; e++)
        x *= 10.0;
    perf_put_fixed_(o, x, x > 0.0 ? 9 : 0);
    if (e)
        perf_put_count_(o, "e-", e);
}

PERF_FN size_t ab_hist_otlp_text(char *out, size_t cap, const perf_hist *h, const char *name,
                                    const char *unit, uint64_t start_ns, uint64_t end_ns)
{
    perf_out_ o = perf_out_open_(out, cap);
    ab_scaled_ e = perf_exp_of_(h, 20);
    int       i;

    if (!name)
        return 0;
    perf_put_(&o, "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"scope\":{\"name\":\"perf.h\"},"
                  "\"metrics\":[{\"name\":");
    perf_put_json_(&o, name);
    perf_put_(&o, ",\"unit\":");
    perf_put_json_(&o, unit ? unit : "");
    perf_put_count_(&o, ",\"exponentialHistogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
                        "\"startTimeUnixNano\":\"", start_ns);
    perf_put_count_(&o, "\",\"timeUnixNano\":\"", end_ns);
    perf_put_count_(&o, "\",\"count\":\"", perf_hist_count(h));
    perf_put_value_(&o, "\",\"sum\":", perf_hist_sum_(h));
    if (perf_hist_count(h)) {
        perf_put_value_(&o, ",\"min\":", perf_hist_quantile(h, 0.0));
        perf_put_value_(&o, ",\"max\":", perf_hist_quantile(h, 1.0));
    }
    perf_put_signed_(&o, ",\"scale\":", e.scale);
    perf_put_count_(&o, ",\"zeroCount\":\"", e.zeros);
    perf_put_signed_(&o, "\",\"positive\":{\"offset\":", e.first);
    perf_put_(&o, ",\"bucketCounts\":[");
    for (i = 0; i < e.n; i++)
        perf_put_count_(&o, i ? "\",\"" : "\"", e.count[i]);
    perf_put_(&o, e.n ? "\"]}}]}}]}]}]}\n" : "]}}]}}]}]}]}\n");
    return o.len;
}

PERF_FN size_t ab_hist_prometheus_text(char *out, size_t cap, const perf_hist *h,
                                          const char *name)
{
    static const char letters[] =
        "0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    perf_out_ o = perf_out_open_(out, cap);
    ab_scaled_ e = perf_exp_of_(h, 8);     /* the finest that Prometheus takes               */
    int       i;

    if (!name || *name <= '9' || name[strspn(name, letters)])
        return 0;
    perf_putf_(&o, "# TYPE %s histogram\n%s", name, name);
    perf_put_count_(&o, " {count:", perf_hist_count(h));
    perf_put_value_(&o, ",sum:", perf_hist_sum_(h));
    perf_put_signed_(&o, ",schema:", e.scale);
    perf_put_count_(&o, ",zero_threshold:0,zero_count:", e.zeros);
    if (e.n) {                                  /* one span; each count is a step from the last   */
        perf_put_signed_(&o, ",positive_spans:[", e.first + 1);     /* by its buckets' upper ends */
        perf_put_signed_(&o, ":", e.n);
        for (i = 0; i < e.n; i++)
            perf_put_signed_(&o, i ? "," : "],positive_deltas:[",
                             PERF_CAST_(int64_t, e.count[i] - (i ? e.count[i - 1] : 0)));
        perf_put_char_(&o, ']');
    }
    perf_put_(&o, "}\n");
    return o.len;
}

/* ---- text: bars ---- */

/* Three or four digits and a letter for the thousands: 12.3k.  Right-justified in 7 columns. */
PERF_FN void perf_put_si_(perf_out_ *o, double x)
{
    static const char letter[] = "yzafpnum kMGTPEZY";
    int               i = 8, whole;

    for (; x >= 999.5 && letter[i + 1]; i++)
        x /= 1000.0;
    for (; x > 0.0 && x < 0.9995 && i > 0; i--)
        x *= 1000.0;
    whole = i == 8 && x - PERF_CAST_(double, PERF_CAST_(uint64_t, x)) < 1e-9;
    perf_put_column_(o, x, whole || x >= 99.95 ? 0 : x < 9.995 ? 2 : 1, i == 8 ? 7 : 6);
    if (i != 8)
        perf_put_char_(o, letter[i]);
}

/* A bar of `eighths` eighths of a column, and nothing after it. */
PERF_FN void perf_put_bar_(perf_out_ *o, uint64_t eighths, int utf8)
{
    char part[4] = {'\xe2', '\x96', '\x88', '\0'};  /* U+2588, a full block; 89 to 8f: 7/8 to 1/8 */

    for (; eighths >= 8; eighths -= 8)
        perf_put_(o, utf8 ? part : "#");
    part[2] = PERF_CAST_(char, PERF_CAST_(int, part[2]) + 8 - PERF_CAST_(int, eighths));
    if (eighths && (utf8 || eighths >= 4))
        perf_put_(o, utf8 ? part : "#");
}

/* Rows of equal ratio, as far as integers allow, by the edges of very fine buckets.  Returns the
 * most values in one; with o, writes them.                                                       */
PERF_FN uint64_t perf_bars_rows_(perf_out_ *o, const perf_hist *h, int rows, uint64_t most,
                                 uint64_t columns, int utf8)
{
    static const double      q[4] = {0.5, 0.9, 0.99, 0.999};
    static const char *const name[4] = {" p50", " p90", " p99", " p99.9"};
    perf_hist_shape_         fine = PERF_ZERO;
    double                   at[4], total = PERF_CAST_(double, perf_hist_count(h)), n, edge, high;
    uint64_t                 min, max, upper = 0, next, seen = 0, highest = 0, first, last, width;
    int                      i, row;

    (void)perf_hist_extremes_(h, &min, &max);
    for (i = 0; i < 4; i++)
        at[i] = perf_hist_quantile(h, q[i]);
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
        next = perf_hist_up_to_(h, upper) - seen;
        seen += next;
        highest = next > highest ? next : highest;
        if (!o)
            continue;
        n = PERF_CAST_(double, next);
        edge = PERF_CAST_(double, upper) * perf_hist_unit_(h);
        perf_put_si_(o, edge);
        perf_put_si_(o, n);
        perf_put_column_(o, 100.0 * n / total, 1, 6);
        perf_put_(o, "% ");
        n *= 8.0 * PERF_CAST_(double, columns) / PERF_CAST_(double, most);
        perf_put_bar_(o, PERF_CAST_(uint64_t, n + 0.5), utf8);
        for (i = 0; i < 4; i++)
            if (at[i] <= edge && at[i] > high)
                perf_put_(o, name[i]);
        perf_put_char_(o, '\n');
        high = edge;
    }
    return highest;
}

PERF_FN size_t ab_hist_bars_text(char *out, size_t cap, const perf_hist *h, int rows,
                                   int columns, int utf8)
{
    perf_out_ o = perf_out_open_(out, cap);
    uint64_t  min, max, most;

    if (!perf_hist_extremes_(h, &min, &max) || perf_hist_count(h) == 0) {
        perf_put_(&o, "no values\n");
        return o.len;
    }
    rows = rows <= 0 ? 16 : rows > 64 ? 64 : rows;
    columns = columns <= 0 ? 80 : columns < 48 ? 48 : columns > 500 ? 500 : columns;
    most = perf_bars_rows_(PERF_CAST_(perf_out_ *, PERF_NULL_), h, rows, 1, 1, utf8);
    perf_put_(&o, "  up to  count  share\n");
    (void)perf_bars_rows_(&o, h, rows, most, PERF_CAST_(uint64_t, columns - 40), utf8);
    return o.len;
}

#endif /* AB_HIST_TEXT_H */
