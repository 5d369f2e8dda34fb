/* The percentile text, bars and what collectors read: known text, short buffers. */
#include "perf_hlog.h"
#include "../check.h"
#include "../hist/samples.h"

#include <stdlib.h>

static perf_hist fixed;
static char      text[1 << 20];

/* Rows add up, never more than asked for, whatever the range; cut texts say the same length. */
static void bars(void)
{
    static const uint64_t ends[][2] = {{0, 0}, {0, 1}, {5, 5}, {0, 5}, {1, UINT64_MAX >> 1}, {7, 9},
                                       {(UINT64_C(1) << 60), (UINT64_C(1) << 60) + 1000},
                                       {UINT64_C(1) << 40, (UINT64_C(1) << 40) + 77}, {300, 900}};
    size_t i, n, k, lines;
    int    rows, utf8;
    char  *p;

    for (i = 0; i < sizeof ends / sizeof *ends; i++) {
        perf_hist_reset(&fixed);
        perf_hist_add_n(&fixed, ends[i][0], 90);
        perf_hist_add_n(&fixed, ends[i][1], 10);
        for (rows = 0; rows < 80; rows += 13) {
            double share = 0.0;
            utf8 = rows % 2;
            n = perf_hist_bars_text(text, sizeof text, &fixed, rows, 60, utf8);
            CHECK(n == strlen(text), "length");
            for (lines = 0, p = strchr(text, '\n') + 1; *p; p = strchr(p, '\n') + 1, lines++)
                share += strtod(p + 14, NULL);
            CHECK(lines >= 1 && lines <= (rows ? 64u : 16u), "range %zu rows %d: %zu", i, rows, lines);
            CHECK(share > 99.0 && share < 101.0, "range %zu rows %d: %g %%:\n%s", i, rows, share, text);
            CHECK(strstr(text, " p50") && strstr(text, " p99.9"), "marks:\n%s", text);
        }
    }
    n = perf_hist_bars_text(text, sizeof text, &fixed, 65, 60, 1);
    for (k = 0; k < n; k++)
        CHECK(perf_hist_bars_text(text, k, &fixed, 65, 60, 1) == n, "cut at %zu", k);
    n = perf_hist_bars_text(text, sizeof text, NULL, 0, 0, 0);
    CHECK(n == strlen(text) && !strcmp(text, "no values\n"), "NULL");
}

/* Text for collectors: sizes, escapes, nothing that is no number. */
static void collectors(void)
{
    perf_hist_opts o = perf_hist_opts_default();
    perf_hist     *h;
    size_t         n, k;

    o.unit = 1e-90;
    o.highest = UINT64_MAX >> 1;
    n = perf_hist_bytes(&o);
    h = perf_hist_init(malloc(n), n, &o);
    for (k = 0; k < 3; k++) {
        n = perf_hist_otlp_text(text, sizeof text, h, "a\"b\n", "\\", 1, UINT64_MAX);
        CHECK(n == strlen(text) && strstr(text, "\"a\\\"b\\u000a\"") && !strstr(text, "nan") &&
                  !strstr(text, "inf") && perf_hist_otlp_text(NULL, 0, h, "a\"b\n", "\\", 1, UINT64_MAX) == n,
              "%s", text);
        n = perf_hist_prometheus_text(text, sizeof text, h, "x:y_1");
        CHECK(n == strlen(text) && !strstr(text, "nan") && !strstr(text, "inf") &&
                  perf_hist_prometheus_text(text, 9, h, "x:y_1") == n, "%s", text);
        perf_hist_add(h, k ? 12345 : 0);
    }
    CHECK(!perf_hist_prometheus_text(text, sizeof text, h, "1x") &&
              !perf_hist_prometheus_text(text, sizeof text, h, "a-b") &&
              !perf_hist_prometheus_text(text, sizeof text, h, NULL), "no names");
    CHECK(!perf_hist_otlp_text(text, sizeof text, h, NULL, NULL, 1, 2), "no name");
    CHECK(perf_hist_otlp_text(text, sizeof text, NULL, "a", NULL, 1, 2) > 0, "NULL");
    free(h);
}

static perf_hist *make(int bits, uint64_t lowest, uint64_t highest)
{
    perf_hist_opts o = perf_hist_opts_default();
    size_t         n;

    o.bits = bits;
    o.lowest = lowest;
    o.highest = highest;
    n = perf_hist_bytes(&o);
    return perf_hist_init(malloc(n), n, &o);
}

/* Bucket i of scale s is (b^i, b^(i+1)], b = 2^(2^-s): powers of two lie at an upper end at every scale. */
static void exponential(void)
{
    uint64_t  n;
    perf_exp_ e;
    int       k, i, bits;

    for (bits = 1; bits <= 10; bits += 3)
        for (k = 0; k < 8; k++) {
            perf_hist *h = make(bits, 0, UINT64_MAX >> 1);
            perf_hist_add_n(h, UINT64_C(1) << k, 5);
            e = perf_exp_of_(h, 20);
            if (k <= bits)                      /* kept exactly */
                CHECK(e.scale == bits && e.n == 1 && e.count[0] == 5 && e.first == ((int64_t)k << bits) - 1, "2^%d at scale %d: %d from %d on", k,
                      e.scale, e.n, (int)e.first);
            perf_hist_add(h, (UINT64_C(1) << k) + 1);
            e = perf_exp_of_(h, 0);
            CHECK(e.scale == 0 && (k > bits || (e.first == k - 1 && e.n == 2 && e.count[0] == 5 && e.count[1] == 1)),
                  "2^%d and one more: %d from %d on", k, e.n, (int)e.first);
            /* a range of 62 octaves takes two buckets each, no more */
            perf_hist_add_n(h, (UINT64_C(1) << 62) + 1, 3);
            perf_hist_add_n(h, 0, 7);
            e = perf_exp_of_(h, 20);
            for (n = e.zeros, i = 0; i < e.n; i++)
                n += e.count[i];
            CHECK(e.scale == 1 && e.n <= PERF_EXP_MOST_ && e.zeros == 7 && n == 16, "scale %d, %d buckets, %d values", e.scale, e.n, (int)n);
            free(h);
        }
    {   /* below the range: two zeros are zeros, not something up to 99, and nothing else is one */
        perf_hist *h = make(7, 100, 10000);
        perf_hist_add_n(h, 0, 2);
        e = perf_exp_of_(h, 20);
        CHECK(e.n == 0 && e.zeros == 2, "%d from %d on, %d zeros", e.n, (int)e.first, (int)e.zeros);
        (void)perf_hist_otlp_text(text, sizeof text, h, "x", NULL, 1, 2);
        CHECK(strstr(text, "\"zeroCount\":\"2\"") && strstr(text, "\"bucketCounts\":[]"), "%s", text);
        perf_hist_add(h, 3);
        e = perf_exp_of_(h, 20);
        CHECK(e.n >= 1 && !e.zeros && e.count[0] == 3, "%d from %d on, %d zeros", e.n, (int)e.first, (int)e.zeros);
        free(h);
    }
}

static void numbers(void)
{
    static const struct {
        double      x;
        const char *text;
    } c[] = {{0, "      0"},         {999.4, "    999"},    {999.5, "  1.00k"},    {1e24, "  1.00Y"},     {2e27, "  2000Y"},
             {0.5, "   500m"},       {0.0015, "  1.50m"},   {9.2e-22, "   920y"},  {1e-28, "  0.00y"},    {7, "      7"},
             {7.25, "   7.25"},      {99.96, "    100"},    {12.34, "   12.3"},    {0.9995, "   1.00"}};
    char   line[32];
    size_t i;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_out_ o = perf_out_open_(line, sizeof line);
        perf_put_si_(&o, c[i].x);
        CHECK(!strcmp(line, c[i].text), "%g: '%s', not '%s'", c[i].x, line, c[i].text);
    }
}

/* Steps and levels end at the maximum, and everywhere the same values are counted. */
static void steps(void)
{
    static const double times[] = {0, 1.0000001, 1.5, 2, 1e12};
    perf_hist       *h = make(7, 0, UINT64_MAX >> 1);
    perf_hist_bucket b;
    perf_hist_level  l = PERF_ZERO;
    uint64_t         n, upper;
    size_t           i;
    int              turns;

    memset(&b, 0, sizeof b);
    CHECK(!perf_hist_next_step(h, &b, 10, 2) && !perf_hist_next_level(h, &l, 5), "no values");
    perf_hist_add_n(h, 20, 3);
    perf_hist_add_n(h, 100, 4);
    CHECK(!perf_hist_next_step(h, NULL, 10, 2) && !perf_hist_next_step(h, &b, 0, 2) && !perf_hist_next_step(NULL, &b, 10, 2) &&
              !perf_hist_next_level(h, NULL, 5), "no step");
    for (i = 0; i < sizeof times / sizeof *times; i++) {
        memset(&b, 0, sizeof b);
        for (n = upper = 0, turns = 0; perf_hist_next_step(h, &b, 7, times[i]) && turns < 200; n += b.count, turns++) {
            CHECK(b.lower == upper + (turns > 0) && b.upper > upper && b.below == n, "step %d of %g: %d to %d", turns, times[i], (int)b.lower,
                  (int)b.upper);
            upper = b.upper;
        }
        CHECK(n == 7 && upper >= 100 && turns < 200, "%g: %d values in %d steps", times[i], (int)n, turns);
    }
    perf_hist_add(h, UINT64_C(9223372036854775000));
    memset(&b, 0, sizeof b);
    for (turns = 0; perf_hist_next_step(h, &b, 1000, 1000) && turns < 200; turns++)
        n = b.below + b.count;
    CHECK(n == 8 && b.upper == PERF_HIST_MOST_ && turns < 10, "%d values up to %g in %d steps", (int)n, (double)b.upper, turns);
    for (turns = 0; perf_hist_next_level(h, &l, 0) && turns < 1000; turns++) {
    }
    CHECK(l.quantile >= 1.0 && l.count == 8 && turns > 5 && turns < 1000, "%d levels to %g", turns, l.quantile);
    free(h);
}

/* Lines without a histogram or an interval; names that would end a field. */
static void lines(void)
{
    perf_hlog_interval iv = PERF_ZERO;
    perf_hlog_reader   r = PERF_ZERO;
    size_t             n;

    perf_hist_reset(&fixed);
    perf_hist_add(&fixed, 1000000);
    CHECK(!perf_hlog_text(text, sizeof text, NULL, &iv) && !perf_hlog_text(text, sizeof text, &fixed, NULL), "NULL");
    iv.tag = "a b,c\n\037-and more";
    iv.tag_size = 8;
    n = perf_hlog_text(text, sizeof text, &fixed, &iv);
    CHECK(n && !strncmp(text, "Tag=a_b_c__-,", 13), "%.20s", text);
    r.text = text;
    r.size = n;
    CHECK(perf_hlog_next(&r, &iv, &fixed) == PERF_OK && iv.tag_size == 8 && perf_hist_count(&fixed) == 2, "read back");
    r.text = NULL;
    CHECK(perf_hlog_next(&r, &iv, &fixed) == PERF_EINVAL && perf_hlog_next(NULL, &iv, &fixed) == PERF_EINVAL &&
              perf_hlog_next(&r, NULL, &fixed) == PERF_EINVAL, "nothing to read");
}

int main(void)
{
    printf("seed 141\n");
    bars();
    collectors();
    exponential();
    numbers();
    steps();
    lines();
    return check_done();
}
