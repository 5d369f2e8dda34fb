/* Does the histogram say what the sorted values say?  Every form, every precision, against plain
 * arrays: buckets, percentiles, extremes, mean, std, merging, subtracting, correcting, walking.  */
#include "samples.h"
#include "../check.h"

#include <stdlib.h>
#include <string.h>
#include "../numbers.h"

#define N 100000

static uint64_t values[N], sorted[N];
static perf_hist fixed_a, fixed_b, fixed_c;

/* A histogram in memory of exactly the stated size; the caller frees it.  bits 0: fixed form. */
static perf_hist *make(int bits, int bytes, uint64_t highest)
{
    perf_hist_opts o = PERF_ZERO;
    size_t         need;
    void          *mem;

    if (bits == 0)
        return (perf_hist *)(calloc(1, sizeof(perf_hist)));
    o.bits = bits;
    o.counter_bytes = bytes;
    o.highest = highest;
    need = perf_hist_bytes(&o);
    mem = malloc(need);
    return perf_hist_init(mem, need, &o);
}

/* The sum as far as records kept it, modulo 2^64. */
static uint64_t kept_sum(const perf_hist *h)
{
    const uint64_t *s = perf_hist_peek_(h)->sums;

    return s[0] + s[1] + s[2] + s[3];
}

static int bits_of(const perf_hist *h)
{
    return (int)(perf_hist_shape_of_(h).bits);
}

static size_t cell_bytes(const perf_hist *h)
{
    perf_hist_shape_ s = perf_hist_shape_of_(h);
    return s.counters * s.bytes;
}

static size_t size_of(const perf_hist *h)
{
    return (sizeof(perf_hist_head_) + cell_bytes(h) + 7) / 8 * 8;
}

static double near_rank(double q, size_t n)
{
    size_t rank = (size_t)perf_quantile_rank_(q, n);
    return (double)sorted[rank - 1];
}

static void buckets_nest(void)
{
    rng r = {1};
    int bits, i;

    for (bits = 0; bits <= 14; bits++) {
        perf_hist       *h = make(bits, 4, UINT64_C(1) << 62);
        perf_hist_shape_ s = perf_hist_shape_of_(h);
        uint64_t         width, next = 0;
        size_t           b;

        for (i = 0; i < 20000; i++) {
            uint64_t v = rng_magnitude(&r, bits ? 62 : 42), lower;
            uint64_t index = perf_hist_index_(&s, v);
            CHECK(index < s.counters, "bits %d: index of %llu", bits, (unsigned long long)v);
            lower = perf_hist_lower_(&s, index, &width);
            CHECK(lower <= v && v - lower < width, "bits %d: bucket of %llu", bits,
                  (unsigned long long)v);
            CHECK(width == 1 || width << s.bits <= lower, "bits %d: width at %llu", bits,
                  (unsigned long long)v);
            if (!(v >> 53) && v >> s.bits) {    /* the inlined record takes this other way         */
                uint64_t u = check_bits((double)v) >> (52 - s.bits);
                u -= bits ? (1022u + s.bits) << s.bits : 1023u << s.bits;
                CHECK(u == index, "bits %d: double index of %llu", bits, (unsigned long long)v);
            }
        }
        if (bits && bits <= 10) {               /* the compact form has no hole                    */
            for (b = 0; b < s.counters; b++) {
                uint64_t lower = perf_hist_lower_(&s, b, &width);
                CHECK(lower == next, "bits %d bucket %zu", bits, b);
                next = lower + width;
            }
            CHECK(next > s.highest, "bits %d: end", bits);
        }
        free(h);
    }
}

static void one_against_sorted(const char *name, perf_hist *h, const uint64_t *v, size_t n)
{
    static const double q[] = {0.0,  0.5,   0.01, 0.99,   0.9999, 0.1,     0.25, 0.75,
                               0.95, 0.999, 0.9,  1e-300, 1.0,    0.99999, 0.07, 0.5};
    double              out[16], exact_mean = 0.0, exact_var = 0.0, bound;
    int                 bits = bits_of(h);
    size_t              i;

    bound = 1.0 / (double)(2 << bits);
    for (i = 0; i < 16; i++) {
        double want = near_rank(q[i], n), err;
        out[i] = perf_hist_quantile(h, q[i]);
        err = out[i] - want;
        CHECK((err < 0 ? -err : err) <= bound * want, "%s bits %d q %g: %g for %g", name, bits, q[i],
              out[i], want);
    }
    CHECK(out[0] == (double)sorted[0] && out[12] == (double)sorted[n - 1],
          "%s: extremes", name);
    for (i = 0; i < n; i++)
        exact_mean += (double)v[i];
    exact_mean /= (double)n;
    for (i = 0; i < n; i++) {
        double d = (double)v[i] - exact_mean;
        exact_var += d * d;
    }
    if (kept_sum(h)) {
        double e = perf_hist_mean(h) / exact_mean - 1.0;
        CHECK((e < 0 ? -e : e) < 1e-12, "%s: mean off by %g", name, e);
    }
    if (bits >= 10) {
        double e = perf_hist_std(h) / perf_sqrt_(exact_var / (double)(n - 1)) - 1.0;
        CHECK((e < 0 ? -e : e) < 1e-3, "%s: std off by %g", name, e);
    }
    CHECK(perf_hist_count(h) == n, "%s: count", name);
}

static void against_sorted(void)
{
    static const struct {
        const char *name;
        uint64_t (*draw)(rng *);
    } kinds[] = {{"lognormal", lognormal}, {"bimodal", bimodal}, {"pareto", pareto}};
    int    bits, bytes;
    size_t kind, i;

    for (kind = 0; kind < 3; kind++) {
        rng r = {kind + 7};
        for (i = 0; i < N; i++)
            sorted[i] = values[i] = kinds[kind].draw(&r);
        qsort(sorted, N, sizeof *sorted, by_value);
        for (bits = 0; bits <= 14; bits++) {
            for (bytes = 4; bytes <= 8; bytes += 4) {
                perf_hist *h = make(bits, bytes, 0), *g = make(bits, bytes, 0);
                for (i = 0; i < N; i++)
                    perf_hist_add(h, values[i]);
                one_against_sorted(kinds[kind].name, h, values, N);
                for (i = 0; i < N; i++)
                    perf_hist_add_own(g, values[i]);
                one_against_sorted(kinds[kind].name, g, values, N);
                free(h);
                free(g);
            }
        }
    }
}

/* Every way to record puts a value into the same bucket. */
static void records_agree(void)
{
    rng        r = {11};
    perf_hist *h[6];
    int        bits, i, k;

    for (bits = 0; bits <= 9; bits += 3) {
        for (k = 0; k < 6; k++)
            h[k] = make(bits, 4, 0);
        for (i = 0; i < 50000; i++) {
            uint64_t v = i % 10 ? rng_magnitude(&r, 63) : rng_below(&r, 4);
            if (i % 1000 == 0)
                v = ~v;                         /* bit 63: invalid */
            perf_hist_add(h[0], v);
            perf_hist_add_own(h[1], v);
            perf_hist_add_own(h[2], v);
            perf_hist_add(h[3], v);
            perf_hist_add_shared(h[4], v);
            perf_hist_add_n(h[5], v, 1);
        }
        for (k = 1; k < 6; k++) {
            perf_hist_head_ a = *perf_hist_peek_(h[0]), b = *perf_hist_peek_(h[k]);
            CHECK(a.not_min == b.not_min && a.max == b.max && a.under == b.under &&
                      a.over == b.over && a.lost == b.lost,
                  "bits %d way %d: head", bits, k);
            CHECK(!memcmp(perf_hist_peek_cells_(h[0]), perf_hist_peek_cells_(h[k]),
                          cell_bytes(h[0])),
                  "bits %d way %d: counters", bits, k);
        }
        CHECK(perf_hist_lost(h[0]) == 50, "lost");
        for (k = 0; k < 6; k++)
            free(h[k]);
    }
}

static void strange_values(void)
{
    perf_hist  *h = &fixed_a, *small;
    uint64_t    v;

    perf_hist_reset(h);
    CHECK(perf_hist_quantile(h, 0.5) == PERF_HIST_NO_DATA, "empty");
    CHECK(perf_hist_quantile(h, 0) == PERF_HIST_NO_DATA && perf_hist_quantile(h, 1) == PERF_HIST_NO_DATA, "empty");
    CHECK(perf_hist_mean(h) == PERF_HIST_NO_DATA && perf_hist_std(h) == PERF_HIST_NO_DATA &&
              perf_hist_sum_(h) == PERF_HIST_NO_DATA, "empty");
    CHECK(perf_hist_count(NULL) == 0 && perf_hist_quantile(NULL, 0.5) == PERF_HIST_NO_DATA, "NULL");
    CHECK(perf_hist_mean(NULL) == PERF_HIST_NO_DATA && perf_hist_std(NULL) == PERF_HIST_NO_DATA,
          "NULL");
    CHECK(perf_hist_rank(NULL, 9) == 0 && perf_hist_rank(h, 9) == 0, "NULL");

    perf_hist_add_double(h, CHECK_NAN);
    perf_hist_add_double(h, -1.0);
    perf_hist_add_double(h, -CHECK_INF);
    perf_hist_add(h, (uint64_t)(int64_t)(-5));
    CHECK(perf_hist_count(h) == 0 && perf_hist_lost(h) == 4, "negative ones are lost");
    CHECK(perf_hist_quantile(h, 0.5) == PERF_HIST_NO_DATA, "only lost ones");

    perf_hist_add(h, 0);
    CHECK(perf_hist_count(h) == 1 && perf_hist_quantile(h, 0.5) == 0.0, "a zero");
    CHECK(perf_hist_quantile(h, 1) == 0.0 && perf_hist_mean(h) == 0.0 && perf_hist_std(h) == 0.0, "a zero");
    perf_hist_add_double(h, 0.49999999999999994);
    perf_hist_add_double(h, -0.25);
    CHECK(perf_hist_quantile(h, 1) == 0.0 && perf_hist_count(h) == 3, "rounds to zero");
    perf_hist_add_double(h, -0.5);
    CHECK(perf_hist_lost(h) == 5 && perf_hist_count(h) == 3, "half below zero is lost");
    perf_hist_add_double(h, 0.5);
    CHECK(perf_hist_quantile(h, 1) == 1.0, "rounds up");
    perf_hist_add_double(h, CHECK_INF);
    perf_hist_add(h, UINT64_C(1) << 42);
    perf_hist_add(h, (UINT64_C(1) << 42) - 1);
    CHECK(perf_hist_peek_(h)->over == 2 && perf_hist_count(h) == 7, "above the range");
    CHECK(perf_hist_quantile(h, 1.0) == perf_hist_quantile(h, 1), "p100");
    CHECK(perf_hist_quantile(h, 6.0 / 7.0) == perf_hist_quantile(h, 1), "above the range: the maximum");
    CHECK(perf_hist_quantile(h, 5.0 / 7.0) > 4.38e12, "last bucket of the range");
    CHECK(perf_hist_rank(h, 0) == 3 && perf_hist_rank(h, 1e300) == 7 && perf_hist_rank(h, -1) == 0,
          "rank");
    CHECK(perf_hist_quantile(h, 0.5) == 1.0, "the middle one");
    CHECK(perf_hist_quantile(h, 2.0) == PERF_HIST_NO_DATA, "q > 1");
    CHECK(perf_hist_quantile(h, CHECK_NAN) == PERF_HIST_NO_DATA, "q NaN");
    CHECK(perf_hist_quantile(h, -0.01) == PERF_HIST_NO_DATA, "q < 0");

    /* Past 2^64 the mean is still the mean. */
    perf_hist_reset(h);
    perf_hist_add_n(h, UINT64_C(3600000000000), 40000000);
    perf_hist_add_n(h, UINT64_C(3600000000002), 40000000);
    CHECK(perf_hist_mean(h) == 3600000000001.0, "mean %.17g", perf_hist_mean(h));

    /* Sums that were not kept for all are not believed. */
    perf_hist_reset(h);
    for (v = 1000; v < 3000; v++)
        perf_hist_add_shared(h, v);
    CHECK(perf_hist_mean(h) > 1995 && perf_hist_mean(h) < 2004, "mean %g", perf_hist_mean(h));
    perf_hist_add(h, 5);
    CHECK(perf_hist_mean(h) > 1995 && perf_hist_mean(h) < 2004, "mean %g", perf_hist_mean(h));

    /* A full 32-bit counter. */
    small = make(6, 4, 0);
    perf_hist_add_n(small, 1000, UINT32_MAX);
    perf_hist_add_own(small, 1000);
    perf_hist_add_own(small, 1001);
    perf_hist_add(small, 1000);
    CHECK(perf_hist_lost(small) == 3 && perf_hist_count(small) == UINT32_MAX, "lost");
    perf_hist_add_n(small, 5000, UINT64_C(0x100000000));
    CHECK(perf_hist_lost(small) == 4, "lost");
    perf_hist_add_shared(small, 1000);
    CHECK(perf_hist_lost(small) == 5 && perf_hist_rank(small, 1000) == UINT32_MAX, "lost, shared");
    free(small);
}

/* The sum is kept: values far above the range do not blur the mean. */
static void far_above(void)
{
    static uint64_t mem[8192];
    perf_hist_opts  o = PERF_ZERO;
    perf_hist      *h, *other;
    double          mean, want = (6e5 * 1e6 + 8.64e13) / 1000001.0;
    int             i;

    o.lowest = 200;
    o.highest = 500000;
    o.counter_bytes = 8;
    h = perf_hist_init(mem, sizeof mem, &o);
    for (i = 0; i < 1000000; i++)
        perf_hist_add_own(h, 600000);
    perf_hist_add_own(h, UINT64_C(86400000000000));
    mean = perf_hist_mean(h);
    CHECK(mean > want * 0.999999 && mean < want * 1.000001, "mean %.9g, %.9g is right", mean, want);
    perf_hist_reset(&fixed_b);
    for (i = 0; i < 10; i++)
        perf_hist_add_double(&fixed_b, 5e12);
    perf_hist_add_double(&fixed_b, 1e300);
    want = (5e13 + 9223372036854775807.0) / 11.0;
    mean = perf_hist_mean(&fixed_b);
    CHECK(mean > want * 0.999999 && mean < want * 1.000001, "mean %.9g, %.9g is right", mean, want);
    perf_hist_reset(&fixed_b);
    for (i = 0; i < 9; i++)                     /* a sum that was not kept is not 2^64            */
        perf_hist_add_shared(&fixed_b, UINT64_C(1) << 61);
    CHECK(perf_hist_mean(&fixed_b) > 2.3e18, "mean %g", perf_hist_mean(&fixed_b));
    perf_hist_reset(&fixed_b);

    h = make(14, 8, UINT64_MAX >> 1);           /* ranks up to 2^63                               */
    perf_hist_add_own(h, UINT64_C(9215000000000000000));
    perf_hist_add_own(h, UINT64_C(9222000000000000000));
    CHECK(perf_hist_rank(h, 9.21e18) == 0 && perf_hist_rank(h, 9.218e18) == 1 && perf_hist_rank(h, 9.223e18) == 2 &&
              perf_hist_rank(h, 9223372036854775808.0) == 2, "ranks %d, %d", (int)perf_hist_rank(h, 9.21e18), (int)perf_hist_rank(h, 9.218e18));
    free(h);
    h = make(7, 8, 100000);                     /* and of as many values                          */
    other = make(7, 8, 100000);
    perf_hist_add_n(h, 10, UINT64_C(9100000000000000000));
    perf_hist_add_n(other, 10, UINT64_C(110000000000000000));
    perf_hist_add_n(other, 1000, UINT64_C(10000000000000000));
    CHECK(perf_hist_merge(h, other) == PERF_OK && perf_hist_quantile(h, 0.9985) == 10.0 && perf_hist_quantile(h, 0.9995) > 990.0 &&
              perf_hist_quantile(h, 1.0) == 1000.0, "of 9.22e18 values: %g", perf_hist_quantile(h, 0.9985));
    free(other);
    free(h);
}

static void options(void)
{
    perf_hist_opts o = PERF_ZERO, bad[5];
    uint64_t       mem[200];
    perf_hist     *h;
    int            i;

    o.bits = 6;
    CHECK(perf_hist_bytes(&o) <= 9600, "1 %%: %zu bytes", perf_hist_bytes(&o));
    printf("1 %%: %zu bytes; ", perf_hist_bytes(&o));
    o.bits = 9;
    CHECK(perf_hist_bytes(&o) <= 70000, "0.1 %%: %zu bytes", perf_hist_bytes(&o));
    printf("0.1 %%: %zu bytes; fixed: %zu bytes\n", perf_hist_bytes(&o), sizeof(perf_hist));
    for (i = 0; i < 5; i++)
        bad[i] = o;
    bad[0].bits = 15;
    bad[1].lowest = 1 + (bad[1].highest = 1000);
    bad[2].counter_bytes = 2;
    bad[3].highest = 1;
    bad[4].highest = UINT64_C(1) << 63;
    for (i = 0; i < 5; i++)
        CHECK(perf_hist_bytes(&bad[i]) == 0 && !perf_hist_init(mem, sizeof mem, &bad[i]), "%d", i);
    o.bits = 3;
    o.highest = 1000;
    CHECK(!perf_hist_init(NULL, 4096, &o), "no memory");
    CHECK(!perf_hist_init((char *)mem + 4, 1000, &o), "misaligned");
    CHECK(!perf_hist_init(mem, perf_hist_bytes(&o) - 1, &o), "too small");
    h = perf_hist_init(mem, perf_hist_bytes(&o), &o);
    CHECK(h != NULL && size_of(h) == perf_hist_bytes(&o), "fits");
    perf_hist_add_own(h, 100);
    perf_hist_add(h, 200);
    CHECK(perf_hist_attach(mem, sizeof mem) == h, "attach");
    CHECK(!perf_hist_attach(mem, perf_hist_bytes(&o) - 1), "attach: short");
    o.bits = 14;                                /* the finest there is                            */
    o.highest = 1000000;
    h = perf_hist_init(malloc(perf_hist_bytes(&o)), perf_hist_bytes(&o), &o);
    CHECK(h && perf_hist_attach(h, perf_hist_bytes(&o)) == h, "attach: 14 bits");
    free(h);
    o.bits = 3;
    o.highest = 1000;
    CHECK(!perf_hist_attach(NULL, sizeof mem), "attach: no memory");
    memmove((char *)mem + 4, mem, perf_hist_bytes(&o));
    CHECK(!perf_hist_attach((char *)mem + 4, perf_hist_bytes(&o)), "attach: misaligned");
    memmove(mem, (char *)mem + 4, perf_hist_bytes(&o));
    for (i = 0; i < 17; i++) {                  /* each wrong word of the head is seen             */
        uint64_t kept = mem[i];
        if (i < 4 || i >= 13) {
            mem[i] ^= i == 1 || i == 2 ? 1u : UINT64_C(0x8000000180808080);
            CHECK(!perf_hist_attach(mem, sizeof mem), "attach: word %d", i);
        }
        mem[i] = kept;
    }
    memset(&fixed_a, 0, sizeof fixed_a);
    CHECK(perf_hist_attach(&fixed_a, sizeof fixed_a) == &fixed_a, "zeros are the fixed form");
    CHECK(!perf_hist_attach(&fixed_a, sizeof fixed_a - 1), "short");
    fixed_a.head.lo = 1;
    fixed_a.head.width[0] = UINT64_C(1) << 42;
    CHECK(!perf_hist_attach(&fixed_a, sizeof fixed_a), "window out of range");
    memset(&fixed_a, 0, sizeof fixed_a);
}

static int same_content(const perf_hist *a, const perf_hist *b)
{
    perf_hist_head_ x = *perf_hist_peek_(a), y = *perf_hist_peek_(b);

    memset(&x, 0, offsetof(perf_hist_head_, not_min));      /* windows and parts of the sum         */
    memset(&y, 0, offsetof(perf_hist_head_, not_min));
    return size_of(a) == size_of(b) && !memcmp(&x, &y, sizeof x) &&
           kept_sum(a) == kept_sum(b) &&
           !memcmp(perf_hist_peek_cells_(a), perf_hist_peek_cells_(b), cell_bytes(a));
}

static void merging(void)
{
    rng  r = {21};
    int  bits, bytes, i, k;

    for (bits = 0; bits <= 10; bits += 5) {
        for (bytes = 4; bytes <= 8; bytes += 4) {
            perf_hist *p[3], *ab = make(bits, bytes, 0), *ba = make(bits, bytes, 0);
            perf_hist *direct = make(bits, bytes, 0);
            for (k = 0; k < 3; k++) {
                p[k] = make(bits, bytes, 0);
                for (i = 0; i < 20000; i++) {
                    uint64_t v = i % 50 ? lognormal(&r) : rng_magnitude(&r, 64);
                    perf_hist_add(p[k], v);
                    perf_hist_add(direct, v);
                }
                perf_hist_add(p[k], 0);
                perf_hist_add(direct, 0);
            }
            for (k = 0; k < 3; k++) {
                CHECK(perf_hist_merge(ab, p[k]) == PERF_OK, "merge");
                CHECK(perf_hist_merge(ba, p[2 - k]) == PERF_OK, "merge");
            }
            CHECK(same_content(ab, ba), "bits %d bytes %d: order", bits, bytes);
            CHECK(same_content(ab, direct), "bits %d bytes %d: merged = recorded", bits, bytes);
            perf_hist_add(ab, 123456);          /* windows are still right after a merge           */
            perf_hist_add(direct, 123456);
            CHECK(same_content(ab, direct), "record after merge");

            CHECK(perf_hist_subtract(ba, p[0]) == PERF_OK, "subtract");
            CHECK(perf_hist_subtract(ba, p[1]) == PERF_OK, "subtract");
            CHECK(!memcmp(perf_hist_peek_cells_(ba), perf_hist_peek_cells_(p[2]),
                          cell_bytes(ba)), "inverse: counters");
            CHECK(kept_sum(ba) == kept_sum(p[2]), "inverse: sum");
            CHECK(perf_hist_peek_(ba)->over == perf_hist_peek_(p[2])->over &&
                      perf_hist_lost(ba) == perf_hist_lost(p[2]), "inverse: the rest");
            CHECK(perf_hist_subtract(ba, p[2]) == PERF_OK && perf_hist_count(ba) == 0, "nothing left");
            CHECK(perf_hist_quantile(ba, 0.5) == PERF_HIST_NO_DATA, "nothing left");

            CHECK(perf_hist_copy(ba, p[0]) == PERF_OK && same_content(ba, p[0]), "copy");
            CHECK(perf_hist_subtract(ba, p[1]) == PERF_ERANGE && same_content(ba, p[0]),
                  "underflow: reported and undone");
            CHECK(perf_hist_copy(ba, p[1]) == PERF_OK && same_content(ba, p[1]), "snapshot");
            perf_hist_reset(ba);
            perf_hist_reset(direct);
            CHECK(same_content(ba, direct), "reset");
            for (i = 0; (size_t)i < cell_bytes(ba); i++)
                if (((const char *)perf_hist_peek_cells_(ba))[i])
                    break;
            CHECK((size_t)i == cell_bytes(ba), "all zero");
            CHECK(perf_hist_merge(ba, ba) == PERF_EINVAL, "into itself");
            CHECK(perf_hist_merge(ba, NULL) == PERF_EINVAL, "NULL");
            CHECK(perf_hist_merge(NULL, ba) == PERF_EINVAL, "NULL");
            for (k = 0; k < 3; k++)
                free(p[k]);
            free(ab);
            free(ba);
            free(direct);
        }
    }
}

static void other_precisions(void)
{
    rng        r = {31};
    int        fine, coarse, i;
    perf_hist *a, *b, *direct, *wide;

    for (fine = 0; fine <= 12; fine += 3) {
        for (coarse = 1; coarse <= 14; coarse += 2) {
            uint64_t v;
            a = make(fine, 8, 0);
            b = make(coarse, 4, 0);
            direct = make(coarse, 4, 0);
            for (i = 0; i < 20000; i++) {
                v = rng_magnitude(&r, 40);
                perf_hist_add(a, v);
                perf_hist_add_n(direct, v, 1);
            }
            perf_hist_add(a, 0);
            perf_hist_add_n(direct, 0, 1);
            if (bits_of(a) < coarse) {
                CHECK(perf_hist_merge(b, a) == PERF_EINVAL && perf_hist_count(b) == 0, "too coarse");
            } else {
                CHECK(perf_hist_copy(b, a) == PERF_OK, "%d to %d", bits_of(a), coarse);
                CHECK(same_content(b, direct), "%d to %d bits: as if recorded there", bits_of(a),
                      coarse);
                CHECK(perf_hist_subtract(b, a) == PERF_OK && perf_hist_count(b) == 0, "inverse");
                perf_hist_add(b, 12345);
                CHECK(perf_hist_subtract(b, a) == PERF_ERANGE && perf_hist_count(b) == 1,
                      "underflow undone");
            }
            free(a);
            free(b);
            free(direct);
        }
    }
    wide = make(7, 8, 0);                       /* a 64-bit count does not fit 32 bits             */
    b = make(5, 4, 0);
    perf_hist_add_n(wide, 10, 3);
    perf_hist_add_n(wide, 1000, UINT64_C(5000000000));
    CHECK(perf_hist_merge(b, wide) == PERF_ERANGE && perf_hist_count(b) == 0, "overflow undone");
    a = make(5, 4, 0);
    perf_hist_add_n(a, 1000, UINT32_C(3000000000));
    perf_hist_add_n(a, 9, 1);
    perf_hist_add_n(b, 1000, UINT32_C(3000000000));
    CHECK(perf_hist_merge(b, a) == PERF_ERANGE && perf_hist_count(b) == UINT32_C(3000000000),
          "overflow undone");
    direct = make(7, 8, 1000000);               /* a smaller range: what is above it goes to over  */
    perf_hist_add(wide, 2000000);
    CHECK(perf_hist_merge(direct, wide) == PERF_OK && perf_hist_peek_(direct)->over == 1 &&
              perf_hist_quantile(direct, 1) == 2000000.0, "other range");
    perf_hist_add_double(wide, -1.0);           /* what was lost there was not lost here          */
    CHECK(perf_hist_lost(wide) == 1 && perf_hist_subtract(direct, wide) == PERF_ERANGE &&
              perf_hist_lost(direct) == 0 && perf_hist_count(direct) == perf_hist_count(wide), "more lost");
    perf_hist_at_(wide)->lost = 0;
    CHECK(perf_hist_subtract(direct, wide) == PERF_OK && perf_hist_count(direct) == 0, "and back");
    perf_hist_reset(direct);
    perf_hist_add(direct, 3000000);
    perf_hist_reset(&fixed_a);
    CHECK(perf_hist_merge(&fixed_a, direct) == PERF_OK && perf_hist_peek_(&fixed_a)->over == 0 &&
              perf_hist_quantile(&fixed_a, 0.5) == 3000000.0, "one value above the range is known");
    CHECK(perf_hist_subtract(&fixed_a, direct) == PERF_OK && perf_hist_count(&fixed_a) == 0, "back");
    perf_hist_at_(direct)->lost = UINT64_MAX - 1;       /* too many to count: more cannot be less  */
    CHECK(perf_hist_merge(&fixed_a, direct) == PERF_OK && perf_hist_merge(&fixed_a, direct) == PERF_OK &&
              perf_hist_lost(&fixed_a) == UINT64_MAX, "lost at its end");
    perf_hist_add_shared(&fixed_a, UINT64_C(1) << 63);
    CHECK(perf_hist_subtract(&fixed_a, direct) == PERF_OK && perf_hist_lost(&fixed_a) == UINT64_MAX &&
              perf_hist_count(&fixed_a) == 1, "stays there");
    free(a);
    free(b);
    free(wide);
    free(direct);
}

static void walking(void)
{
    rng              r = {51};
    perf_hist       *h = make(8, 4, 100000000);
    perf_hist_bucket b = PERF_ZERO;
    uint64_t         total = 0, last = 0;
    size_t           i, n = 5000;
    int              k;

    for (i = 0; i < n; i++)
        perf_hist_add(h, sorted[i] = i % 7 ? rng_magnitude(&r, 28) : 0);
    qsort(sorted, n, sizeof *sorted, by_value);
    while (perf_hist_next(h, &b)) {
        size_t inside = 0;
        for (i = 0; i < n; i++)
            inside += sorted[i] >= b.lower && sorted[i] <= b.upper;
        CHECK(b.count == inside, "bucket %llu", (unsigned long long)b.lower);
        CHECK(b.below == total && (total == 0 || b.lower > last), "ascending");
        last = b.upper;
        total += b.count;
    }
    CHECK(total == n && perf_hist_peek_(h)->over > 0, "all of them");
    CHECK(perf_hist_next(h, &b) == 0 && perf_hist_next(NULL, &b) == 0, "stays at the end");
    for (k = 0; k < 300; k++) {
        uint64_t         v = k % 10 ? rng_magnitude(&r, 29) : 0, want = 0;
        perf_hist_bucket w = PERF_ZERO;
        while (perf_hist_next(h, &w))
            want += w.lower <= v ? w.count : 0;
        CHECK(perf_hist_rank(h, (double)v) == want, "rank of %lu", v);
    }
    free(h);
    {                                           /* values that a reset has taken since they were counted */
        perf_hist_shape_ shape = perf_hist_shape_of_(&fixed_b);
        perf_hist_reset(&fixed_b);
        CHECK(perf_hist_walk_(&fixed_b, &shape, 0, 20, 0, 5) == 19 && perf_hist_walk_(&fixed_b, &shape, 3, 4, 0, 5) == 3,
              "a walk ends at its end");
    }
}

/* A copy that cannot be done whole leaves what was there; no counter wraps. */
static void limits(void)
{
    perf_hist *small = make(7, 4, 0), *wide = make(7, 8, UINT64_MAX >> 1);

    perf_hist_reset(&fixed_a);
    perf_hist_add_n(&fixed_a, 1000, UINT64_C(1) << 32);
    perf_hist_add(small, 42);
    CHECK(perf_hist_copy(small, &fixed_a) == PERF_ERANGE, "too many for 32 bits");
    CHECK(perf_hist_count(small) == 1 && perf_hist_quantile(small, 1) == 42.0, "as it was");
    perf_hist_reset(&fixed_a);
    perf_hist_add_n(&fixed_a, 1000, UINT32_MAX);
    perf_hist_add_n(&fixed_a, 1024, UINT32_MAX);
    CHECK(perf_hist_copy(small, &fixed_a) == PERF_OK && perf_hist_count(small) == 2 * UINT64_C(0xffffffff), "just fit");
    perf_hist_add(&fixed_a, 1025);          /* of the bucket of 1024 */
    CHECK(perf_hist_copy(small, &fixed_a) == PERF_ERANGE && perf_hist_quantile(small, 1) == 1024.0, "one more does not");
    perf_hist_reset(&fixed_a);
    perf_hist_add_n(&fixed_a, 0, UINT64_MAX);
    perf_hist_add_n(&fixed_a, 0, 5);
    CHECK(perf_hist_count(&fixed_a) == PERF_HIST_BULK_ + 5 &&
              perf_hist_lost(&fixed_a) == UINT64_MAX - PERF_HIST_BULK_, "zeros");
    perf_hist_reset(&fixed_a);
    perf_hist_add_n(&fixed_a, UINT64_C(1) << 62, UINT64_MAX);
    perf_hist_add_n(&fixed_a, UINT64_C(1) << 62, 5);
    CHECK(perf_hist_peek_(&fixed_a)->over == PERF_HIST_BULK_ + 5 &&
              perf_hist_lost(&fixed_a) == UINT64_MAX - PERF_HIST_BULK_, "above the range");
    perf_hist_reset(&fixed_b);
    perf_hist_add_n(&fixed_b, UINT64_MAX, UINT64_MAX);
    CHECK(perf_hist_merge(&fixed_a, &fixed_b) == PERF_OK && perf_hist_lost(&fixed_a) == UINT64_MAX, "lost never wraps");
    perf_hist_add_double(wide, 9.21e18);
    CHECK(perf_hist_quantile(wide, 1) == 9.21e18 && perf_hist_peek_(wide)->over == 0, "%.17g", perf_hist_quantile(wide, 1));
    perf_hist_add_double(wide, 1e19);
    perf_hist_add_double(wide, check_from_bits(UINT64_C(0x7ff0000000000000)));
    perf_hist_add_double(&fixed_a, check_from_bits(UINT64_C(0x7ff0000000000000)));
    CHECK(perf_hist_count(wide) == 3 && perf_hist_quantile(wide, 1) == 9223372036854775807.0, "%.17g",
          perf_hist_quantile(wide, 1));
    CHECK(perf_hist_peek_(&fixed_a)->over == PERF_HIST_BULK_ + 6, "infinity is above the range");
    perf_hist_reset(&fixed_a);
    free(small);
    free(wide);
}

/* What a layout cannot be, window by window and option by option; sums and ranks at the ends of numbers. */
static void ends(void)
{
    const double   inf = check_from_bits(UINT64_C(0x7ff0000000000000)), nan = inf - inf;
    const double   unit[] = {-1.0, inf, nan, 5e-324};
    const int      bytes[] = {-4, 3, 6, 12, 16};
    const uint64_t lo[] = {1, 99, 1000, 1001, 500, 500, 64}, width[] = {1, 1, 2, 1, 502, UINT64_MAX, 937};
    perf_hist_opts o = PERF_ZERO;
    perf_hist     *h = make(7, 8, UINT64_MAX >> 1), *small = make(7, 4, 1000), *other = make(7, 4, 1000);
    uint64_t       mem[2000], lost;
    size_t         i;

    for (i = 0; i < sizeof unit / sizeof *unit; i++) {
        o.unit = unit[i];
        CHECK(perf_hist_bytes(&o) == 0, "a unit of %g", unit[i]);
    }
    o.unit = 0.0;
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        o.counter_bytes = bytes[i];
        CHECK(perf_hist_bytes(&o) == 0, "counters of %d bytes", bytes[i]);
    }

    /* a window that would let a record past the counters */
        memset(&o, 0, sizeof o);
    o.bits = 5;
    o.lowest = 100;
    o.highest = 1000;
    o.counter_bytes = 8;
    for (i = 0; i < sizeof lo / sizeof *lo; i++) {
        perf_hist      *x = perf_hist_init(mem, sizeof mem, &o);
        perf_hist_head_ *d = perf_hist_at_(x);
        uint64_t        top = perf_hist_shape_of_(x).highest, least = perf_hist_shape_of_(x).lowest;
        d->lo = i == 1 ? least - 1 : lo[i] > 1000 ? top + 1 : lo[i];
        d->width[1] = i == 4 ? top - 500 + 2 : width[i];
        CHECK((perf_hist_attach(mem, sizeof mem) != NULL) == (i == 2), "window %lu: %lu and %lu more", (unsigned long)i,
              (unsigned long)d->lo, (unsigned long)d->width[1]);
        d->lo = 500;
        d->width[1] = top - 500 + 1;
        CHECK(perf_hist_attach(mem, sizeof mem) == x, "all of it, from 500 on");
        d->width[2] = 1;
        CHECK(!perf_hist_attach(mem, sizeof mem), "a window of another form");
        d->width[2] = 0;
        d->width[0] = 1;
        CHECK(!perf_hist_attach(mem, sizeof mem), "a window of another form");
    }
    CHECK(!perf_hist_attach(mem, sizeof(perf_hist_head_) - 8), "half a head");

    /* nothing, told apart from no histogram */
    CHECK(!perf_hist_lost(NULL) && !perf_hist_lost(NULL) && !perf_hist_lost(NULL), "NULL");
    CHECK(!perf_hist_rank(h, nan) && !perf_hist_rank(h, 5.0), "ranks in nothing");
    CHECK(perf_hist_std(NULL) < 0 && perf_hist_std(h) < 0 && perf_hist_sum_(h) < 0 && perf_hist_mean(h) < 0, "no values");
    perf_hist_add(h, 5);

    /* counts of 2^62: the double of the count is less than the count */
    perf_hist_reset(h);
    perf_hist_add_n(h, 1000, PERF_HIST_BULK_ - 1);
    perf_hist_add(h, 3000);
    CHECK(perf_hist_quantile(h, 1.0 - 1e-16) < 1004.0 && perf_hist_quantile(h, 1.0) == 3000.0, "%g, %g", perf_hist_quantile(h, 1.0 - 1e-16),
          perf_hist_quantile(h, 1.0));
    CHECK(perf_hist_sum_(h) >= 1000.0 * (double)PERF_HIST_BULK_ && perf_hist_sum_(h) < 1004.0 * (double)PERF_HIST_BULK_, "within its bucket: %g",
          perf_hist_sum_(h));
    CHECK(perf_hist_mean(h) >= 1000.0 && perf_hist_mean(h) < 1004.0 && perf_hist_std(h) >= 0 && perf_hist_std(h) < 1.0, "%g, %g",
          perf_hist_mean(h), perf_hist_std(h));
    CHECK(perf_hist_merge(other, h) != PERF_OK && perf_hist_count(other) == 0, "too many for 32 bits");

    /* a sum that no longer belongs to the counters: the buckets are believed */
    perf_hist_reset(h);
    perf_hist_add_n(h, 1000, 10);
    perf_hist_at_(h)->sums[0] += 5000000;
    CHECK(fabs(perf_hist_sum_(h) - 10000) < 100, "%g", perf_hist_sum_(h));
    perf_hist_at_(h)->sums[0] -= 5009000;
    CHECK(fabs(perf_hist_sum_(h) - 10000) < 100, "%g", perf_hist_sum_(h));

    /* a merge of equal shapes that 32 bits may not hold goes bucket by bucket */
    perf_hist_add_n(small, 500, UINT32_MAX);
    perf_hist_add_n(other, 500, 1);
    CHECK(perf_hist_merge(small, other) == PERF_ERANGE && perf_hist_count(small) == UINT32_MAX, "one more than fits");
    perf_hist_reset(other);
    perf_hist_add_n(other, 900, 7);
    CHECK(perf_hist_merge(small, other) == PERF_OK && perf_hist_count(small) == UINT32_MAX + UINT64_C(7), "beside it");
    CHECK(perf_hist_subtract(small, other) == PERF_OK && perf_hist_count(small) == UINT32_MAX, "and back");
    lost = perf_hist_lost(small);
    perf_hist_add_own(small, 500);
    perf_hist_add_n(small, 500, 3);
    CHECK(perf_hist_lost(small) == lost + 4 && perf_hist_count(small) == UINT32_MAX, "a full counter: %d lost", (int)perf_hist_lost(small));
    perf_hist_add(small, 800);
    perf_hist_add(small, UINT64_MAX);
    perf_hist_add(small, 700);
    CHECK(perf_hist_count(small) == UINT32_MAX + UINT64_C(2) && perf_hist_lost(small) == lost + 5, "%g and %g", (double)perf_hist_count(small),
          (double)perf_hist_lost(small));
    free(h);
    free(small);
    free(other);
}

/* Random operations against a plain array. */
static void random_programs(void)
{
    rng r = {61};
    int program, step;

    for (program = 0; program < 200; program++) {
        int        bits = (int)rng_below(&r, 13), bytes = rng_below(&r, 2) ? 4 : 8;
        perf_hist *h = make(bits, bytes, 0), *other = make(bits, bytes, 0);
        size_t     n = 0, i;

        for (step = 0; step < 200; step++) {
            uint64_t v = rng_magnitude(&r, 41);
            switch (rng_below(&r, 8)) {
            case 0:
                perf_hist_add_own(h, v);
                values[n++] = v;
                break;
            case 1:
                perf_hist_add_shared(h, v);
                values[n++] = v;
                break;
            case 2:
                perf_hist_reset(other);
                perf_hist_add(other, v);
                perf_hist_add_own(other, v / 2);
                CHECK(perf_hist_merge(h, other) == PERF_OK, "merge");
                values[n++] = v;
                values[n++] = v / 2;
                break;
            case 3:
                if (rng_below(&r, 20) == 0) {
                    perf_hist_reset(h);
                    n = 0;
                }
                break;
            case 4:
                perf_hist_add(h, 0);
                values[n++] = 0;
                break;
            case 5:                             /* there and back: closes the windows              */
                perf_hist_reset(other);
                perf_hist_add_n(other, v, 1);
                if (n && v < (uint64_t)perf_hist_quantile(h, 1) &&
                    v > (uint64_t)perf_hist_quantile(h, 0)) {
                    uint64_t max = (uint64_t)perf_hist_quantile(h, 1);
                    uint64_t min = (uint64_t)perf_hist_quantile(h, 0);
                    CHECK(perf_hist_merge(h, other) == PERF_OK, "merge");
                    CHECK(perf_hist_subtract(h, other) == PERF_OK, "subtract");
                    CHECK((uint64_t)perf_hist_quantile(h, 1) == max &&
                              (uint64_t)perf_hist_quantile(h, 0) == min, "extremes kept");
                }
                break;
            default:
                perf_hist_add(h, v);
                values[n++] = v;
                break;
            }
        }
        if (n) {
            memcpy(sorted, values, n * sizeof *values);
            qsort(sorted, n, sizeof *sorted, by_value);
            CHECK(perf_hist_count(h) == n, "program %d: count", program);
            CHECK(perf_hist_quantile(h, 1) == (double)sorted[n - 1], "program %d: max", program);
            CHECK(perf_hist_quantile(h, 0) == (double)sorted[0], "program %d: min", program);
            for (i = 0; i <= 10; i++) {
                double q = (double)i / 10.0, got = perf_hist_quantile(h, q);
                double want = near_rank(q, n), err = got > want ? got - want : want - got;
                CHECK(err <= want / (double)(2 << bits_of(h)), "program %d: q %g: %g for %g",
                      program, q, got, want);
            }
        }
        free(h);
        free(other);
    }
}

int main(void)
{
    printf("seeds 1, 7..9, 11, 21, 31, 41, 51, 61\n");
    buckets_nest();
    against_sorted();
    records_agree();
    strange_values();
    far_above();
    options();
    merging();
    other_precisions();
    walking();
    limits();
    ends();
    random_programs();
    /* A reader that comes between the extremes and the counter of a record. */
    perf_hist_add(&fixed_b, 1000);
    fixed_b.head.max = 1003;
    fixed_b.head.not_min = ~UINT64_C(900);
    CHECK(perf_hist_copy(&fixed_c, &fixed_b) == PERF_OK && perf_hist_count(&fixed_c) == 1 &&
              perf_hist_quantile(&fixed_c, 0) == perf_hist_quantile(&fixed_c, 1) && perf_hist_quantile(&fixed_c, 0) >= 1000,
          "one value has one extreme");
    perf_hist_add_n(&fixed_b, 1000, 5);
    CHECK(perf_hist_copy(&fixed_c, &fixed_b) == PERF_OK && perf_hist_quantile(&fixed_c, 0) == 1000.0,
          "no extreme outside of the buckets");
    perf_hist_reset(&fixed_b);
    perf_hist_add(&fixed_b, 42);
    fixed_c = fixed_b;                          /* the fixed form is a plain value                 */
    CHECK(perf_hist_quantile(&fixed_c, 0.5) == 42.0, "assigned");
    return check_done();
}
