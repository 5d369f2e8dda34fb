/* Do summaries, intervals and comparisons give the numbers that R and NIST give?
 * Data and their origin: tests/data/oracle/README.md.                                            */
#include "perf_stats.h"
#include "check.h"
#include "numbers.h"
#include "inside.h"
#include "tools/stats.h"

#include <stdlib.h>
#include <string.h>

static char folder[512];

/* Reads one number a line; returns how many, at most `room`. */
static size_t read_numbers(const char *name, double *x, size_t room)
{
    char   path[800], line[128];
    size_t n = 0;
    FILE  *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "r");
    CHECK(f != NULL, "cannot open %s", path);
    while (f && n < room && fgets(line, sizeof line, f))
        x[n++] = strtod(line, NULL);
    if (f)
        fclose(f);
    return n;
}

/* 1 when both are the same infinity or agree to `tolerance`, relative. */
static int agrees(double got, double want, double tolerance)
{
    double gap = got - want, size = want < 0.0 ? -want : want;

    if (!isfinite(want) || !isfinite(got))
        return check_bits(got) == check_bits(want);
    return (gap < 0.0 ? -gap : gap) <= tolerance * (size > 1e-300 ? size : 1.0);
}

static double cell(const char *text)
{
    return !strcmp(text, "Inf") ? CHECK_INF : !strcmp(text, "-Inf") ? -CHECK_INF : strtod(text, NULL);
}

/* R's wilcox.test(conf.int = TRUE) on the log ratios; NA lines are not in the file. */
static void check_signed_rank(const double *a, const double *b, size_t n, double confidence,
                              double estimate, double low, double high, const char *where)
{
    double        d[64];
    perf_interval r;
    size_t        i;

    for (i = 0; i < n; i++)
        d[i] = math_log(b[i]) - math_log(a[i]);
    if (!stats_signed_rank_k(n, 0.5 - 0.5 * confidence))
        return;                                 /* R prints the range there; we say "unbounded"   */
    r = stats_signed_rank(d, n, 0.5 - 0.5 * confidence);
    CHECK(agrees(r.estimate, -estimate, 1e-12) || agrees(r.estimate, estimate, 1e-12),
          "%s: estimate %.17g, R %.17g", where, r.estimate, estimate);
    CHECK((agrees(r.low, low, 1e-12) && agrees(r.high, high, 1e-12)) ||
              (agrees(r.low, -high, 1e-12) && agrees(r.high, -low, 1e-12)),
          "%s: [%.17g, %.17g], R [%.17g, %.17g]", where, r.low, r.high, low, high);
}

static void against_r(void)
{
    static double a[600], b[600], sorted[600];
    char          path[800], line[256], was[8] = "", name[64], *p, *c[6];
    size_t        na = 0, nb = 0, n, rows = 0;
    FILE         *f;

    snprintf(path, sizeof path, "%s/r.csv", folder);
    f = fopen(path, "r");
    CHECK(f != NULL, "cannot open %s", path);
    while (f && fgets(line, sizeof line, f)) {
        const double *x;
        perf_summary  s;
        perf_interval q;
        double        est, low, high;
        int           i;

        line[strcspn(line, "\r\n")] = '\0';
        for (p = line, i = 0; i < 6; i++) {
            c[i] = p;
            p += strcspn(p, ",");
            if (*p)
                *p++ = '\0';
        }
        if (!strcmp(c[0], "id"))
            continue;
        if (strcmp(was, c[0])) {
            snprintf(was, sizeof was, "%s", c[0]);
            snprintf(name, sizeof name, "samples/%s_A.csv", c[0]);
            na = read_numbers(name, a, 600);
            snprintf(name, sizeof name, "samples/%s_B.csv", c[0]);
            nb = read_numbers(name, b, 600);
        }
        rows++;
        est = cell(c[2]);
        low = cell(c[3]);
        high = cell(c[4]);
        if (!strncmp(c[1], "signedrank", 10)) {
            snprintf(name, sizeof name, "%s %s", c[0], c[1]);
            if (na == nb)
                check_signed_rank(a, b, na, strtod(c[1] + 17, NULL), est, low, high, name);
            continue;
        }
        x = c[1][strlen(c[1]) - 1] == 'A' ? a : b;
        n = x == a ? na : nb;
        s = perf_summarize(x, n);
        memcpy(sorted, x, n * sizeof *x);
        stats_sort(sorted, n);
        if (!strncmp(c[1], "mean", 4)) {
            CHECK(agrees(s.mean, est, 1e-14) && agrees(s.std, cell(c[5]), 1e-12),
                  "%s %s: %.17g +- %.17g", c[0], c[1], s.mean, s.std);
        } else if (!strncmp(c[1], "t_mean95", 8)) {
            q = ab_mean_interval(x, n, 0.95);
            CHECK(agrees(q.low, low, 1e-12) && agrees(q.high, high, 1e-12),
                  "%s %s: [%.17g, %.17g]", c[0], c[1], q.low, q.high);
        } else if (!strncmp(c[1], "mad", 3)) {
            CHECK(agrees(s.mad, est, 1e-12), "%s %s: %.17g", c[0], c[1], s.mad);
        } else if (!strncmp(c[1], "q7_", 3)) {
            double v = stats_quantile(sorted, n, strtod(c[1] + 3, NULL));
            CHECK(agrees(v, est, 1e-12), "%s %s: %.17g, R %.17g", c[0], c[1], v, est);
        } else if (!strncmp(c[1], "orderstat95_p", 13)) {
            q = stats_interval(sorted, n, strtod(c[1] + 13, NULL), 0.95);
            CHECK(agrees(q.low, low, 1e-12) && agrees(q.high, high, 1e-12),
                  "%s %s: [%.17g, %.17g], R [%.17g, %.17g]", c[0], c[1], q.low, q.high, low, high);
        }
    }
    if (f)
        fclose(f);
    CHECK(rows > 1000, "only %lu rows in %s", (unsigned long)rows, path);
}

/* Digits that agree with a certified value. */
static double digits(double got, double want)
{
    double error = got / want - 1.0;

    error = error < 0.0 ? -error : error;
    return error > 0.0 ? -math_log(error) / 2.302585092994046 : 17.0;
}

static void against_nist(void)
{
    static const struct {
        const char *name;
        double      mean, sd, mean_digits, sd_digits;
    } set[] = {
        {"Lew", -177.435, 277.332168044316, 15, 13},
        {"Lottery", 518.958715596330275, 291.699727470969084, 15, 13},
        {"Mavro", 2.001856, 0.000429123454003052837, 15, 13},
        {"Michelso", 299.8524, 0.0790105478190517716, 15, 13},
        {"NumAcc1", 10000002, 1, 15, 13},
        {"NumAcc2", 1.2, 0.1, 15, 13},
        {"NumAcc3", 1000000.2, 0.1, 15, 9.4},
        {"NumAcc4", 10000000.2, 0.1, 15, 8.2},
        {"PiDigits", 4.5348, 2.86733906028870807, 15, 13},
    };
    static double x[6000];
    char          name[64];
    size_t        i, n;

    for (i = 0; i < sizeof set / sizeof *set; i++) {
        double mean, sd;

        snprintf(name, sizeof name, "nist_%s.csv", set[i].name);
        n = read_numbers(name, x, 6000);
        mean = stats_moments(x, n, &sd);
        CHECK(digits(mean, set[i].mean) >= set[i].mean_digits, "%s mean %.17g", name, mean);
        CHECK(digits(sd, set[i].sd) >= set[i].sd_digits, "%s sd %.17g: %.1f digits", name, sd,
              digits(sd, set[i].sd));
    }
}

/* Exact critical values from R's psignrank: c is the largest value with P(W <= c) <= alpha, so the
 * limits are the (c + 1)-th Walsh averages; -1: there is none.                                   */
static void against_rank_tables(void)
{
    char  path[800], line[256];
    int   rows = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/r_ranktables.csv", folder);
    f = fopen(path, "r");
    CHECK(f != NULL, "cannot open %s", path);
    while (f && fgets(line, sizeof line, f)) {
        unsigned long n;
        double        alpha, c;
        uint64_t      k;

        if (sscanf(line, "signrank_c(P<=c)<=alpha,%lu,NA,%lf,%lf", &n, &alpha, &c) != 3)
            continue;
        k = stats_signed_rank_k(n, alpha);
        CHECK((double)k == c + 1.0, "n = %lu, alpha = %g: k = %lu, R %g", n, alpha,
              (unsigned long)k, c + 1.0);
        rows++;
    }
    if (f)
        fclose(f);
    CHECK(rows > 100, "only %d rows in %s", rows, path);
}

/* Beyond n = 80 a series stands in for counting: the same k wherever it was counted here. */
static void counted_ranks(void)
{
    static const double tail[] = {0.25, 0.1, 0.05, 0.025, 0.0125, 0.01, 0.00625, 0.005, 0.0025, 0.001,
                                  0.0001, 0.00001};
    static double ways[400 * 401 / 2 + 1];      /* P(W = w), one more rank a round                */
    size_t        n, w, i;

    ways[0] = 1.0;
    for (n = 1; n <= 400; n++) {
        for (w = n * (n + 1) / 2; w > 0; w--)
            ways[w] = 0.5 * (ways[w] + (w >= n ? ways[w - n] : 0.0));
        ways[0] *= 0.5;
        for (i = 0; i < sizeof tail / sizeof *tail; i++) {
            double   total = 0.0;
            uint64_t k = 0;
            while ((total += ways[k]) <= tail[i] * (1.0 + 1e-12))
                k++;
            CHECK(stats_signed_rank_k(n, tail[i]) == k, "n = %lu, tail %g: %lu, counted %lu",
                  (unsigned long)n, tail[i], (unsigned long)stats_signed_rank_k(n, tail[i]),
                  (unsigned long)k);
        }
    }
}

int main(int argc, char **argv)
{
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : "tests/data/oracle");
    against_r();
    against_nist();
    against_rank_tables();
    counted_ranks();
    return check_done();
}
