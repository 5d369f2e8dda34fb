/* The percentile text, bars and what collectors read: known text, short buffers. */
#include "perf_hlog.h"
#include "../check.h"
#include "../hist/samples.h"

#include <stdlib.h>

static perf_hist fixed;
static char      text[1 << 20];

static void percentiles(void)
{
    static const char small[] =
        "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        "       1.000 0.000000000000          1           1.00\n"
        "       1.000 0.250000000000          1           1.33\n"
        "       2.000 0.500000000000          2           2.00\n"
        "       3.000 0.625000000000          3           2.67\n"
        "       3.000 0.750000000000          3           4.00\n"
        "       4.000 1.000000000000          4\n"
        "#[Mean    =        2.500, StdDeviation   =        1.291]\n"
        "#[Max     =        4.000, Total count    =            4]\n"
        "#[Buckets =           35, SubBuckets     =          256]\n";
    double   value, fraction, last_value = 0.0, last_fraction = -1.0;
    uint64_t below, last_below = 0;
    rng      r = {141};
    size_t   n, lines = 0;
    char    *p;
    int      i;

    perf_hist_reset(&fixed);
    for (i = 1; i <= 4; i++)
        perf_hist_add(&fixed, PERF_CAST_(uint64_t, i));
    n = perf_hist_percentiles_text(text, sizeof text, &fixed, 1.0, 2);
    CHECK(n == strlen(text) && !strcmp(text, small), "got:\n%s", text);
    for (i = 0; PERF_CAST_(size_t, i) < n; i++) {
        CHECK(perf_hist_percentiles_text(text, PERF_CAST_(size_t, i), &fixed, 1.0, 2) == n &&
                  (i == 0 || strlen(text) == PERF_CAST_(size_t, i) - 1), "cut at %d", i);
    }
    for (i = 0; i < 100000; i++)
        perf_hist_add(&fixed, pareto(&r));
    n = perf_hist_percentiles_text(text, sizeof text, &fixed, 1000.0, 0);
    p = strchr(text, '\n') + 2;
    while (*p != '#') {
        int got = sscanf(p, "%lf %lf %lu", &value, &fraction, &below);
        CHECK(got == 3 && value >= last_value && fraction >= last_fraction && below >= last_below,
              "line: %.60s", p);
        CHECK(PERF_CAST_(double, below) >= fraction * 100004.0 - 1e-6, "line: %.60s", p);
        last_value = value;
        last_fraction = fraction;
        last_below = below;
        lines++;
        p = strchr(p, '\n') + 1;
    }
    CHECK(lines > 50 && last_fraction == 1.0 && last_below == 100004, "%zu lines", lines);
    CHECK(last_value > perf_hist_max(&fixed) / 1000.0 - 0.001, "ends with the maximum");
    n = perf_hist_percentiles_text(text, sizeof text, NULL, 0.0, 0);
    CHECK(n == strlen(text) && strstr(text, "Total count    =            0"), "NULL:\n%s", text);
}

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
        CHECK(n == strlen(text) && strstr(text, "\"a\\\"b?\"") && !strstr(text, "nan") &&
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
    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, UINT64_C(1) << 62, 1000);
    n = perf_hist_percentiles_text(text, sizeof text, &fixed, 1e-300, 5);
    CHECK(n == strlen(text) && !strstr(text, "e1") && !strstr(text, "inf"),
          "plain digits:\n%s", text);
}

int main(void)
{
    printf("seed 141\n");
    bars();
    collectors();
    percentiles();
    return check_done();
}
