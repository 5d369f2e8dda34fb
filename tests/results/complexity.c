/* The growth that the harness names of a sweep, on times of known growth, with noise, and on what has none. */
#include "perf_main.h"

#include "check.h"
#include "numbers.h"
#include <string.h>
#include "inside.h"

static uint64_t state = 20261121;

static double noise(double sd)
{
    return math_exp(sd * math_normal((double)(check_random(&state) >> 12) / 4503599627370496.0 +
                                              1e-12));
}

static double truth(int k, double n)
{
    double l = math_log(n) * 1.4426950408889634;

    return k == 0 ? 7.0 : k == 1 ? 3.0 * l : k == 2 ? 0.5 * n : k == 3 ? 2.0 * n * l
         : k == 4 ? 0.1 * n * n : 0.01 * n * n * n;
}

int main(void)
{
    static const char *const name[] = {"O(1)", "O(log n)", "O(n)", "O(n log n)", "O(n^2)", "O(n^3)"};
    static const double measured[9] = {2.26, 4.24, 9.58, 25.2, 70.6, 134, 263, 518, 1030};
    static const double later[9] = {1.20, 2.15, 4.05, 9.05, 24.1, 68.3, 130, 251, 494};
    double          n[12], ns[12];
    growth          c;
    int             k, i, trial, right, wrong;

    printf("seed %lu\n", (unsigned long)state);
    for (k = 0; k < 6; k++) {
        for (trial = right = wrong = 0; trial < 200; trial++) {
            for (i = 0; i < 10; i++) {
                n[i] = (double)(16u << i);
                ns[i] = truth(k, n[i]) * noise(0.03);
            }
            c = growth_of(n, ns, 10);
            right += !strcmp(c.name, name[k]) && !c.rival;
            wrong += strcmp(c.name, name[k]) && (!c.rival || strcmp(c.rival, name[k]));
        }
        CHECK(right >= 190 && wrong == 0, "%s: %d right, %d wrong of 200", name[k], right, wrong);
        c = growth_of(n, ns, 10);
        CHECK(c.factor > 0.9 * truth(k, 2.0) / (k == 0 ? 1 : k == 1 ? 1 : k == 2 ? 2 : k == 3 ? 2
              : k == 4 ? 4 : 8) && c.factor < 1.1 * truth(k, 2.0) / (k == 0 ? 1 : k == 1 ? 1
              : k == 2 ? 2 : k == 3 ? 2 : k == 4 ? 4 : 8), "%s: factor %g", name[k], c.factor);
    }
    for (trial = right = wrong = 0; trial < 200; trial++) {     /* a call and a missed branch on top */
        for (i = 0; i < 9; i++) {
            n[i] = (double)(16u << i);
            ns[i] = (0.25 * n[i] + 3.0 + (n[i] > 32.0 ? 4.0 : 0.0)) * noise(0.03);
        }
        c = growth_of(n, ns, 9);
        right += !strcmp(c.name, "O(n)");
        wrong += strcmp(c.name, "O(n)") && (!c.rival || strcmp(c.rival, "O(n)"));
    }
    CHECK(right >= 180 && wrong == 0, "linear with a constant: %d right, %d wrong", right, wrong);
    for (i = 0; i < 10; i++)
        n[i] = (double)(16u << i);
    for (i = 0; i < 10; i++)                    /* exponential: none of them */
        ns[i] = math_exp(0.5 * (double)n[i] / 100);
    c = growth_of(n, ns, 10);
    CHECK(!strcmp(c.name, "no fit"), "%s", c.name);
    for (i = 0; i < 10; i++)                    /* a step, as at the end of a cache */
        ns[i] = n[i] * (i < 7 ? 1.0 : 4.0);
    c = growth_of(n, ns, 10);
    CHECK(!strcmp(c.name, "no fit") && c.error > 0.15, "%s %g", c.name, c.error);
    for (i = 0; i < 10; i++)                    /* a step in the smaller half */
        ns[i] = n[i] * (i < 5 ? 1.0 : 4.0);
    c = growth_of(n, ns, 10);
    CHECK(!strcmp(c.name, "O(n)") && c.from == 512.0 && c.factor > 3.999 && c.factor < 4.001, "%s %g %g",
          c.name, c.from, c.factor);
    c = growth_of(n, measured, 9);    /* an empty loop of n turns, twice as quick where n is small */
    CHECK(!strcmp(c.name, "O(n)") && c.from == 256.0 && !c.rival, "%s %g", c.name, c.from);
    c = growth_of(n, later, 9);       /* gcc 14's, predicted up to a larger size */
    CHECK(!strcmp(c.name, "O(n)") && c.from == 512.0 && !c.rival, "%s %g", c.name, c.from);
    for (i = 0; i < 9; i++)
        ns[i] = truth(3, n[i]) * (i < 3 ? 0.6 : 1.0);
    c = growth_of(n, ns, 9);
    CHECK(!strcmp(c.name, "O(n log n)") && c.from == 128.0, "%s %g", c.name, c.from);
    for (i = 0; i < 10; i++) {                  /* sizes from 1000 to 9000: n or n log n? */
        n[i] = 1000.0 * (i + 1);
        ns[i] = truth(3, n[i]) * noise(0.08);
    }
    c = growth_of(n, ns, 9);
    CHECK(c.rival != NULL || !strcmp(c.name, "O(n log n)") || !strcmp(c.name, "O(n)"), "%s", c.name);
    ns[2] = -1.0;
    CHECK(!strcmp(growth_of(n, ns, 10).name, "no fit"), "negative");
    ns[2] = CHECK_NAN;
    CHECK(!strcmp(growth_of(n, ns, 10).name, "no fit"), "NaN");
    ns[2] = 3.0;
    n[3] = -1.0;
    CHECK(!strcmp(growth_of(n, ns, 10).name, "no fit"), "a size below 0");
    for (i = 0; i < 10; i++) {                  /* from the largest to the smallest */
        n[i] = (double)(1 << (20 - i));
        ns[i] = 2.0 * n[i];
    }
    c = growth_of(n, ns, 10);
    CHECK(!strcmp(c.name, "O(n)") && c.factor > 1.999 && c.factor < 2.001, "%s %g", c.name, c.factor);
    CHECK(!strcmp(growth_of(n, ns, 2).name, "no fit"), "too few");
    return check_done();
}
