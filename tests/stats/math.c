/* Do the link-free special functions agree with 60-digit references?  functions.csv comes from
 * reference.py (mpmath); the bar is 1e-12 relative everywhere, tighter for what reaches it.  It calls private
 * names, because mathematics has no public ones: verdicts are made of it.                         */
#include "perf_stats.h"
#include "check.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

/* Correctly rounded where the machine has an instruction for it, else off by one unit at most. */
#if defined(__x86_64__) || defined(__aarch64__)
#define SQRT_BAR 1.2e-16
#else
#define SQRT_BAR 2.3e-16
#endif

static double evaluate(const char *name, double a, double b, double c, double *bar)
{
    static const struct {
        const char *name;
        double      bar;
    } bars[] = {
        {"sqrt", SQRT_BAR},  {"log", 4e-16},       {"log1p", 5e-16},          {"exp", 4e-16},
        {"erfc", 5e-15},     {"normal_cdf", 6e-15},  {"normal_quantile", 2e-15},
        {"t_cdf", 1e-12},    {"t_quantile", 1e-13},  {"beta_cdf", 1e-12},
        {"binomial_cdf", 1e-12},
    };
    size_t i;

    *bar = -1.0;
    for (i = 0; i < sizeof bars / sizeof *bars; i++)
        if (!strcmp(bars[i].name, name))
            *bar = bars[i].bar;
    if (!strcmp(name, "sqrt"))
        return perf_sqrt_(a);
    if (!strcmp(name, "log"))
        return perf_log_(a);
    if (!strcmp(name, "log1p"))
        return perf_log1p_(a);
    if (!strcmp(name, "exp"))
        return perf_exp_(a);
    if (!strcmp(name, "erfc"))
        return perf_erfc_(a);
    if (!strcmp(name, "normal_cdf"))
        return perf_normal_cdf_(a);
    if (!strcmp(name, "normal_quantile"))
        return perf_normal_quantile_(a);
    if (!strcmp(name, "beta_cdf"))
        return perf_beta_cdf_(a, b, c);
    if (!strcmp(name, "t_cdf"))
        return perf_t_cdf_(a, b);
    if (!strcmp(name, "t_quantile"))
        return perf_t_quantile_(a, b);
    if (!strcmp(name, "binomial_cdf"))
        return perf_binomial_cdf_(a, b, c);
    return CHECK_NAN;
}

static void against_references(const char *path)
{
    char   line[256], *p, *cell[5];
    FILE  *f = fopen(path, "r");
    double worst[32] = {0};
    char   names[32][24] = {{0}};
    int    rows = 0, i;

    CHECK(f != NULL, "cannot open %s", path);
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        double ref, got, bar, error;

        line[strcspn(line, "\r\n")] = '\0';
        for (p = line, i = 0; i < 5; i++) {
            cell[i] = p;
            p += strcspn(p, ",");
            if (*p)
                *p++ = '\0';
        }
        if (!strcmp(cell[0], "function"))
            continue;
        ref = strtod(cell[4], NULL);
        got = evaluate(cell[0], strtod(cell[1], NULL), strtod(cell[2], NULL),
                       strtod(cell[3], NULL), &bar);
        error = ref != 0.0 ? got / ref - 1.0 : got;
        error = error < 0.0 ? -error : error;
        CHECK(error <= bar, "%s(%s, %s, %s) = %.17g, reference %s: off by %.2g, bar %.2g", cell[0],
              cell[1], cell[2], cell[3], got, cell[4], error, bar);
        for (i = 0; i < 31 && names[i][0] && strcmp(names[i], cell[0]); i++)
            ;
        strncpy(names[i], cell[0], sizeof names[i] - 1);
        worst[i] = error > worst[i] ? error : worst[i];
        rows++;
    }
    fclose(f);
    CHECK(rows >= 600, "only %d rows in %s", rows, path);
    for (i = 0; i < 32 && names[i][0]; i++)
        printf("  %-16s worst relative error %.2g\n", names[i], worst[i]);
}

static void at_the_edges(void)
{
    const double inf = CHECK_INF, nan = CHECK_NAN;
    double       x;

    CHECK(perf_log_(0.0) == -inf && isnan(perf_log_(-1.0)) && perf_log_(inf) == inf, "log");
    CHECK(perf_log_(1.0) == 0.0 && perf_exp_(0.0) == 1.0 && perf_sqrt_(4.0) == 2.0, "exact points");
    CHECK(perf_exp_(-1e9) == 0.0 && perf_exp_(1e9) == inf && perf_exp_(-inf) == 0.0, "exp range");
    CHECK(perf_exp_(-745.0) > 0.0 && perf_log_(4.9406564584124654e-324) < -744.0, "subnormal");
    CHECK(perf_erfc_(inf) == 0.0 && perf_erfc_(-inf) == 2.0, "erfc at infinity");
    CHECK(perf_normal_cdf_(-inf) == 0.0 && perf_normal_cdf_(inf) == 1.0, "normal at infinity");
    CHECK(perf_normal_quantile_(0.0) == -inf && perf_normal_quantile_(1.0) == inf &&
              isnan(perf_normal_quantile_(1.5)), "normal quantile domain");
    CHECK(perf_beta_cdf_(0.0, 2, 3) == 0.0 && perf_beta_cdf_(1.0, 2, 3) == 1.0 &&
              isnan(perf_beta_cdf_(0.5, -1, 1)) && isnan(perf_beta_cdf_(nan, 1, 1)),
          "beta domain");
    CHECK(perf_t_cdf_(0.0, 5) == 0.5 && perf_t_cdf_(inf, 5) == 1.0 && perf_t_cdf_(-inf, 5) == 0.0 &&
              isnan(perf_t_cdf_(1.0, 0.0)), "t domain");
    CHECK(perf_t_quantile_(0.0, 3) == -inf && perf_t_quantile_(1.0, 3) == inf, "t quantile ends");
    CHECK(perf_binomial_cdf_(-1, 10, 0.5) == 0.0 && perf_binomial_cdf_(10, 10, 0.5) == 1.0 &&
              isnan(perf_binomial_cdf_(nan, 10, 0.5)), "binomial domain");
    CHECK(perf_t_quantile_(1e-300, 0.5) == -inf && perf_t_quantile_(0.5, 7.0) == 0.0 &&
              isnan(perf_t_quantile_(nan, 3)) && isnan(perf_t_quantile_(0.1, nan)) &&
              perf_t_quantile_(0.025, inf) == perf_normal_quantile_(0.025), "t quantile, edges");
    /* the closed form of 2 degrees of freedom; near the middle, too */
    for (x = 0.5 + 1.0 / 1024; x < 1.0; x += 1.0 / 128) {
        double a = x - 0.5, two = 2.0 * a / perf_sqrt_(2.0 * x * (1.0 - x)), t = perf_t_quantile_(x, 2.0);
        CHECK(t / two - 1.0 < 1e-13 && two / t - 1.0 < 1e-13, "t, 2 df, %g: %.17g, not %.17g", x, t, two);
        CHECK(perf_t_quantile_(1.0 - x, 2.0) == -t, "t, 2 df, %g: the sides differ", x);
    }
    CHECK(perf_t_quantile_(0.55, 1.0) > 0.1583844403245 && perf_t_quantile_(0.55, 1.0) < 0.1583844403246 &&
              perf_t_quantile_(0.59, 2.5) > 0.2524260671241 && perf_t_quantile_(0.59, 2.5) < 0.2524260671242,
          "tan(pi / 20) and SciPy: %.17g %.17g", perf_t_quantile_(0.55, 1.0), perf_t_quantile_(0.59, 2.5));
    for (x = -1e-17; x < 2.0; x += 1.0 + 3e-16 + 1e-17) {      /* just outside of 0..1            */
        CHECK(isnan(perf_normal_quantile_(x)) && isnan(perf_t_quantile_(x, 3.0)) &&
                  isnan(perf_beta_cdf_(x, 2.0, 3.0)) &&
                  isnan(perf_binomial_cdf_(1.0, 3.0, x)) &&
                  isnan(perf_quantile_(&x, 1, x)) &&
                  isnan(perf_quantile_interval_(&x, 1, x, 0.95).low), "outside: %.17g", x);
    }
    for (x = 1e-300; x < 0.49; x *= 7.0) {
        double z = perf_normal_quantile_(x), back = perf_normal_cdf_(z);
        CHECK(back / x - 1.0 < 1e-11 && x / back - 1.0 < 1e-11, "normal round trip at %g", x);
        z = perf_t_quantile_(x, 4.0);
        back = perf_t_cdf_(z, 4.0);
        CHECK(back / x - 1.0 < 1e-11 && x / back - 1.0 < 1e-11, "t round trip at %g: %g", x, back);
    }
}

int main(int argc, char **argv)
{
    against_references(argc > 1 ? argv[1] : "tests/stats/functions.csv");
    at_the_edges();
    return check_done();
}
