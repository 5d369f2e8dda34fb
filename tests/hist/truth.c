/* Never a silent wrong answer: values outside a range, large counts, units, narrow ranges, spread. */
#include "perf_hlog.h"
#include "samples.h"
#include "../check.h"

#include <stdlib.h>
#include "../numbers.h"

static perf_hist fixed, other;

static perf_hist *make(int bits, int bytes, uint64_t lowest, uint64_t highest, double unit)
{
    perf_hist_opts o = PERF_ZERO;
    size_t         need;

    o.bits = bits;
    o.counter_bytes = bytes;
    o.lowest = lowest;
    o.highest = highest;
    o.unit = unit;
    need = perf_hist_bytes(&o);
    return perf_hist_init(malloc(need), need, &o);
}

static int near(double x, double want, double relative)
{
    double e = x - want;

    return (e < 0 ? -e : e) <= relative * (want < 0 ? -want : want);
}

/* Values that a narrow source only knows to be above (or below) its range. */
static void outside(void)
{
    perf_hist *narrow = make(7, 8, 0, 1000, 0), *deep = make(7, 8, 1000, 0, 0);
    perf_hist *same = make(7, 4, 0, 1000, 0), *part = make(7, 8, 0, 4000, 0);
    int        i;

    perf_hist_reset(&fixed);
    for (i = 0; i < 99; i++)
        perf_hist_add(narrow, 5000);
    perf_hist_add(narrow, 900000);
    CHECK(perf_hist_merge(&fixed, narrow) == PERF_EINVAL, "100 values between 1000 and 900000");
    perf_hist_reset(&other);
    perf_hist_add(&other, 77);
    CHECK(perf_hist_copy(&other, narrow) == PERF_EINVAL && perf_hist_count(&other) == 1, "nor copied");
    CHECK(perf_hist_count(&fixed) == 0 && perf_hist_peek_(&fixed)->over == 0, "as it was");
    CHECK(perf_hist_merge(part, narrow) == PERF_EINVAL, "some of them may be in range");
    CHECK(perf_hist_merge(same, narrow) == PERF_OK && perf_hist_peek_(same)->over == 100,
          "over stays over in a range that ends alike");
    CHECK(perf_hist_quantile(same, 0.5) == 900000.0, "the extreme");
    perf_hist_reset(narrow);
    perf_hist_add(narrow, 5000);
    CHECK(perf_hist_merge(&fixed, narrow) == PERF_OK && perf_hist_quantile(&fixed, 0.5) == 5000.0,
          "a single one is the maximum");
    CHECK(perf_hist_subtract(&fixed, narrow) == PERF_OK && perf_hist_count(&fixed) == 0, "undone");

    for (i = 0; i < 50; i++)
        perf_hist_add(deep, 100);
    perf_hist_add(deep, 20);
    CHECK(perf_hist_peek_(deep)->under == 51 && perf_hist_quantile(deep, 0) == 20.0, "below the range");
    CHECK(perf_hist_quantile(deep, 0.5) == 20.0, "answered by the minimum");
    CHECK(perf_hist_merge(&fixed, deep) == PERF_EINVAL && perf_hist_count(&fixed) == 0, "refused");
    perf_hist_reset(deep);
    perf_hist_add(deep, 20);
    perf_hist_add(deep, 5000);
    CHECK(perf_hist_merge(&fixed, deep) == PERF_OK && perf_hist_quantile(&fixed, 0.5) == 20.0, "one");
    perf_hist_reset(&fixed);
    perf_hist_add(&fixed, 700);
    perf_hist_add(&fixed, 0);
    perf_hist_add(&fixed, 2000);
    CHECK(perf_hist_merge(deep, &fixed) == PERF_OK && perf_hist_peek_(deep)->under == 3 &&
              perf_hist_count(deep) == 5 && perf_hist_quantile(deep, 0) == 0.0, "known ones go below");
    CHECK(perf_hist_subtract(deep, &fixed) == PERF_OK && perf_hist_count(deep) == 2, "and back");
    free(narrow);
    free(deep);
    free(same);
    free(part);
}

static void large_counts(void)
{
    perf_hist *a = make(7, 8, 0, 0, 0), *b = make(10, 8, 0, 0, 0);
    uint64_t   most = UINT64_MAX >> 1;

    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, 10, UINT64_C(1) << 53);
    perf_hist_add(&fixed, 1000000);
    CHECK(perf_hist_quantile(&fixed, 1.0) == 1e6, "p100 is the maximum, not %g",
          perf_hist_quantile(&fixed, 1.0));
    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, 10, UINT64_MAX);
    perf_hist_add(&fixed, 10);
    perf_hist_add(&fixed, 20);
    CHECK(perf_hist_count(&fixed) > most / 2 && perf_hist_count(&fixed) <= most, "no wrap");
    CHECK(perf_hist_lost(&fixed) == UINT64_MAX - perf_hist_count(&fixed) + 2, "the rest is lost");
    CHECK(perf_hist_quantile(&fixed, 0.5) == 10.0 && perf_hist_quantile(&fixed, 1.0) == 20.0, "p50");
    perf_hist_add_n(a, 30, most / 2);
    CHECK(perf_hist_merge(a, &fixed) == PERF_ERANGE && perf_hist_count(a) == most / 2 &&
              perf_hist_quantile(a, 0.0) == 30.0, "too many together");
    perf_hist_add_n(b, 40, most / 2 + 100);
    CHECK(perf_hist_merge(a, b) == PERF_ERANGE && perf_hist_count(a) == most / 2, "other shape");
    perf_hist_reset(&other);
    perf_hist_add_n(&other, 30, most / 3);
    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, 3000, most / 3);
    CHECK(perf_hist_merge(&fixed, &other) == PERF_OK && perf_hist_count(&fixed) == most / 3 * 2,
          "two thirds");
    CHECK(perf_hist_merge(&fixed, &other) == PERF_OK, "all: %lu", perf_hist_count(&fixed));
    CHECK(perf_hist_merge(&fixed, &other) == PERF_ERANGE && perf_hist_count(&fixed) == most / 3 * 3,
          "not more, though every counter would hold it");
    perf_hist_reset(&other);
    perf_hist_add_n(&other, UINT64_C(1) << 50, most / 3);
    CHECK(perf_hist_merge(&fixed, &other) == PERF_ERANGE && perf_hist_peek_(&fixed)->over == 0, "over");
    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, UINT64_MAX, UINT64_MAX);
    perf_hist_add_n(&fixed, UINT64_MAX, 5);
    CHECK(perf_hist_lost(&fixed) == UINT64_MAX, "a full number of lost ones stays full");
    free(a);
    free(b);
    a = make(10, 8, 0, most, 0);                /* beyond 2^53 a double rounds into the next bucket */
    b = make(10, 8, 0, most, 0);
    perf_hist_add_own(a, (UINT64_C(1) << 53) + 5);
    perf_hist_add_own(a, UINT64_C(1) << 60);
    perf_hist_add_own(a, (UINT64_C(1) << 54) - 1);
    perf_hist_add_shared(b, (UINT64_C(1) << 53) + 5);
    perf_hist_add_shared(b, UINT64_C(1) << 60);
    perf_hist_add_shared(b, (UINT64_C(1) << 54) - 1);
    CHECK(!memcmp(perf_hist_peek_cells_(a), perf_hist_peek_cells_(b),
                  8 * perf_hist_shape_of_(a).counters), "large values");
    free(a);
    free(b);
}

/* Memory for the range that is used. */
static void narrow_range(void)
{
    perf_hist *h = make(7, 8, 200, 500000, 0), *h4 = make(7, 4, 200, 500000, 0);
    rng        r = {201};
    int        i;
    static uint64_t v[20000];

    printf("0.4 %% over 200 ns..500 us: %zu bytes, %zu with 64 bits\n",
           sizeof(perf_hist_head_) + 4 * perf_hist_shape_of_(h).counters,
           sizeof(perf_hist_head_) + 8 * perf_hist_shape_of_(h).counters);
    CHECK(sizeof(perf_hist_head_) + 4 * perf_hist_shape_of_(h).counters <= 8192, "8 KB");
    perf_hist_reset(&fixed);
    for (i = 0; i < 20000; i++) {
        v[i] = lognormal(&r) % 500000;
        if (v[i] < 200)
            v[i] += 200;
        perf_hist_add_own(h, v[i]);
        perf_hist_add_own(h4, v[i]);
        perf_hist_add(&fixed, v[i]);
    }
    for (i = 0; i <= 1000; i++)
        CHECK(perf_hist_quantile(h, i / 1000.0) == perf_hist_quantile(&fixed, i / 1000.0) &&
                  perf_hist_quantile(h4, i / 1000.0) == perf_hist_quantile(&fixed, i / 1000.0),
              "quantile %d", i);
    CHECK(perf_hist_sum_(h) == perf_hist_sum_(&fixed) && perf_hist_std(h) == perf_hist_std(&fixed),
          "moments");
    perf_hist_reset(&other);
    CHECK(perf_hist_merge(&other, h) == PERF_OK && perf_hist_merge(&other, h4) == PERF_OK, "merge");
    CHECK(perf_hist_subtract(&other, &fixed) == PERF_OK && perf_hist_subtract(&other, &fixed) == PERF_OK &&
              perf_hist_count(&other) == 0, "the same counts");
    CHECK(perf_hist_attach(h, sizeof(perf_hist)) == h, "attach");
    free(h4);
    h4 = make(7, 8, 400, 1000000, 0);           /* as many counters, other ones                     */
    CHECK(perf_hist_shape_of_(h4).counters == perf_hist_shape_of_(h).counters, "as many");
    perf_hist_reset(h4);
    perf_hist_add_n(h4, 5000, 3);
    CHECK(perf_hist_merge(h, h4) == PERF_OK && perf_hist_subtract(h, &fixed) == PERF_OK &&
              perf_hist_quantile(h, 0) > 4970.0 && perf_hist_quantile(h, 1) < 5030.0, "each at its place");
    perf_hist_reset(h);
    CHECK(perf_hist_count(h) == 0 && perf_hist_shape_of_(h).lowest == 200, "reset keeps the range");
    free(h);
    free(h4);
}

static void units(void)
{
    perf_hist_opts   o = PERF_ZERO;
    perf_hist       *h = make(9, 8, 0, 1000000, 1e-3), *plain = make(9, 8, 0, 1000000, 0);
    perf_hist_bucket b = PERF_ZERO;

    perf_hist_add_double(h, 0.25);
    perf_hist_add_double(h, 0.5);
    perf_hist_add_double(h, 0.1254);
    perf_hist_add_double(h, 3.0);
    CHECK(near(perf_hist_quantile(h, 0.5), 0.25, 1e-3), "%g", perf_hist_quantile(h, 0.5));
    CHECK(near(perf_hist_quantile(h, 0), 0.125, 1e-15) && near(perf_hist_quantile(h, 1), 3.0, 1e-15), "extremes");
    CHECK(near(perf_hist_mean(h), 0.96875, 1e-12) && near(perf_hist_sum_(h), 3.875, 1e-12), "mean");
    CHECK(near(perf_hist_std(h), 1.363207, 1e-3), "std %g", perf_hist_std(h));
    CHECK(near(perf_hist_quantile(h, 0.25), 0.125, 1e-3), "quartile");
    CHECK(near(perf_hist_quantile(h, 0.75), 0.5, 1e-3), "quartile");
    CHECK(perf_hist_rank(h, 0.25) == 2 && perf_hist_rank(h, 0.2) == 1 && perf_hist_rank(h, 9) == 4,
          "rank");
    CHECK(perf_hist_next(h, &b) && b.lower == 125, "integers are not scaled");
    CHECK(perf_hist_merge(plain, h) == PERF_EINVAL && perf_hist_copy(plain, h) == PERF_EINVAL &&
              perf_hist_copy(plain, h) == PERF_EINVAL, "another unit");
    CHECK(perf_hist_attach(h, 1 << 20) == h, "attach");
    free(h);
    h = make(7, 8, 0, 0, 0.1);
    perf_hist_add_double(h, 0.3);
    perf_hist_add_double(h, 0.5);
    CHECK(perf_hist_rank(h, 0.3) == 1, "0.3 / 0.1 is 3");
    o.unit = CHECK_NAN;
    CHECK(perf_hist_bytes(&o) == 0, "NaN");
    o.unit = -1.0;
    CHECK(perf_hist_bytes(&o) == 0, "negative");
    o.unit = 1e-310;
    CHECK(perf_hist_bytes(&o) == 0, "whose inverse is infinite");
    free(h);
    free(plain);
    h = make(-1, 8, 0, 0, 0);                   /* an octave a bucket                              */
    perf_hist_add(h, 700);
    perf_hist_add(h, 700);
    perf_hist_add(h, 3);
    b.next_ = 0;
    CHECK(h && perf_hist_next(h, &b) && b.lower == 2 && b.upper == 3, "octave");
    CHECK(perf_hist_next(h, &b) && b.lower == 512 && b.upper == 1023 && b.count == 2, "octave");
    CHECK(perf_hist_attach(h, 1 << 20) == h, "attach");
    free(h);
}

/* The spread of known samples: what Sheppard's correction, its limits and the bound are for. */
static void spread(void)
{
    perf_hist *h = make(4, 8, 0, 0, 0);
    rng        r = {231};
    double     sum = 0.0, squares = 0.0, x, exact, bound;
    int        i;

    for (i = 0; i < 200000; i++) {              /* normal, a bucket as wide as half a sigma         */
        x = 100000.0 + 8000.0 * perf_normal_quantile_(rng_unit(&r));
        perf_hist_add_double(h, x);
        sum += x - 1e5;
        squares += (x - 1e5) * (x - 1e5);
    }
    exact = perf_sqrt_((squares - sum * sum / 200000.0) / 199999.0);
    CHECK(near(perf_hist_std(h), exact, 0.003), "normal: %.1f for %.1f", perf_hist_std(h), exact);
    perf_hist_reset(h);                         /* two values: half their distance times sqrt(2)    */
    perf_hist_add(h, 10);
    perf_hist_add(h, 14);
    CHECK(near(perf_hist_std(h), 2.8284271247461903, 1e-12), "two values: %g", perf_hist_std(h));
    perf_hist_reset(h);                         /* whole numbers about 48, buckets of two, sigma 2: */
    for (i = 32; i < 64; i++) {                 /* (2^2 - 1) / 12 of the variance are the buckets'  */
        static const double e = -0.125;
        uint64_t n = (uint64_t)(1e6 * perf_exp_(e * (i - 47.7) * (i - 47.7)) + 0.5);
        perf_hist_add_n(h, (uint64_t)i, n);
    }
    CHECK(near(perf_hist_std(h), 2.0, 1e-5), "Sheppard: %.9g", perf_hist_std(h));
    perf_hist_reset(h);                         /* midpoints further apart than the values          */
    perf_hist_add_n(h, 1008, 500);
    perf_hist_add_n(h, 65536, 499);
    perf_hist_add(h, 67583);
    x = perf_hist_mean(h);
    bound = perf_sqrt_((x - 1008.0) * (67583.0 - x) * 1000.0 / 999.0);
    CHECK(near(perf_hist_std(h), bound, 1e-12), "no more than the extremes allow: %g for %g",
          perf_hist_std(h), bound);
    free(h);
    h = make(10, 8, 0, 1000, 0);                /* above the range no width is subtracted           */
    perf_hist_add_n(h, 100, 10);
    perf_hist_add_n(h, 1000000, 10);
    CHECK(perf_hist_std(h) > 200000.0 && perf_hist_std(h) < 520000.0, "over: %g", perf_hist_std(h));
    free(h);
}

/* Ranks at the edges of blocks. */
static void edges(void)
{
    int i;

    perf_hist_reset(&fixed);                    /* the last value before a block                    */
    perf_hist_add_n(&fixed, 100, 5);
    perf_hist_add_n(&fixed, 100000, 5);
    CHECK(perf_hist_quantile(&fixed, 0.5) < 101.0, "%g", perf_hist_quantile(&fixed, 0.5));
    CHECK(perf_hist_quantile(&fixed, 0.6) > 99000.0, "%g", perf_hist_quantile(&fixed, 0.6));
    perf_hist_reset(&fixed);
    for (i = 1; i <= 100; i++)
        perf_hist_add(&fixed, (uint64_t)i);
    CHECK(perf_hist_quantile(&fixed, 0.07) < 7.5, "0.07 of 100 is rank 7");
}

/* A window over the last three of five intervals: add the new one, subtract the one that leaves. */
static void window(void)
{
    static perf_hist live, now, before, part[5], last;
    rng r = {221};
    int k, i;

    for (k = 0; k < 5; k++) {
        for (i = 0; i < 1000; i++)
            perf_hist_add(&live, 1000 * (uint64_t)(k + 1) + rng_below(&r, 100));
        CHECK(perf_hist_copy(&now, &live) == PERF_OK, "snapshot");
        part[k] = now;
        CHECK(perf_hist_subtract(&part[k], &before) == PERF_OK, "interval");
        before = now;
        CHECK(perf_hist_merge(&last, &part[k]) == PERF_OK, "enters");
        if (k >= 3)
            CHECK(perf_hist_subtract(&last, &part[k - 3]) == PERF_OK, "leaves");
    }
    CHECK(perf_hist_count(&last) == 3000 && perf_hist_quantile(&last, 0) >= 3000.0 - 16.0, "three intervals");
    CHECK(near(perf_hist_quantile(&last, 0.5), 4050.0, 0.02), "p50 %g", perf_hist_quantile(&last, 0.5));
}

int main(void)
{
    printf("seeds 201, 211, 221, 231\n");
    outside();
    large_counts();
    narrow_range();
    units();
    spread();
    edges();
    window();
    return check_done();
}
