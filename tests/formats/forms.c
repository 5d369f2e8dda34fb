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

int main(void)
{
    printf("seed 141\n");
    bars();
    collectors();
    return check_done();
}
