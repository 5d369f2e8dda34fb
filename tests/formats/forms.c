/* Our binary form, the percentile text and CSV: round trips, hostile bytes, short buffers. */
#include "perf_export.h"
#include "../check.h"
#include "../hist/samples.h"

#include <stdlib.h>

static perf_hist     fixed, back, kept;
static unsigned char bytes[1 << 20];
static char          text[1 << 20];

static perf_hist *make(int bits, int counter_bytes)
{
    perf_hist_opts o = perf_hist_opts_default();
    size_t         n;

    o.bits = bits;
    o.counter_bytes = counter_bytes;
    n = perf_hist_bytes(&o);
    return perf_hist_init(malloc(n), n, &o);
}

static void binary(void)
{
    rng    r = {131};
    int    bits, i;
    size_t n, at, at2;

    for (bits = 1; bits <= 14; bits++) {
        perf_hist     *h = make(bits, bits % 2 ? 4 : 8), *g;
        perf_hist_opts o = PERF_ZERO;
        size_t         size;
        perf_status    st;
        for (i = 0; i < 20000; i++)
            perf_hist_add(h, i % 100 ? lognormal(&r) : rng_magnitude(&r, 64));
        perf_hist_add(h, 0);
        perf_hist_add_double(h, -3.0);
        n = perf_hist_save(NULL, 0, h);
        memset(bytes, 0xee, sizeof bytes);
        CHECK(perf_hist_save(bytes, n - 1, h) == n && bytes[0] == 0xee, "bits %d: one short", bits);
        CHECK(perf_hist_save(bytes, n, h) == n && bytes[n] == 0xee, "bits %d: size", bits);
        st = perf_hist_saved_opts(bytes, n, &o);
        CHECK(st == PERF_OK && o.bits == bits, "bits %d: %s", bits, perf_status_text(st));
        size = perf_hist_bytes(&o);
        g = perf_hist_init(malloc(size), size, &o);
        st = perf_hist_load(g, bytes, n, &at);
        CHECK(st == PERF_OK, "bits %d: %s at %zu", bits, perf_status_text(st), at);
        perf_hist_add(h, 5000);                 /* closes any difference of the windows            */
        perf_hist_add(g, 5000);
        CHECK(!memcmp(perf_hist_peek_cells_(h), perf_hist_peek_cells_(g),
                      size - sizeof(perf_hist_head_)), "bits %d: counters", bits);
        CHECK(perf_hist_sum(h) == perf_hist_sum(g) && perf_hist_min(h) == perf_hist_min(g) &&
                  perf_hist_max(h) == perf_hist_max(g) && perf_hist_over(h) == perf_hist_over(g) &&
                  perf_hist_invalid(h) == perf_hist_invalid(g) &&
                  perf_hist_std(h) == perf_hist_std(g), "bits %d: the rest", bits);
        perf_hist_reset(&fixed);
        st = perf_hist_load(&fixed, bytes, n, NULL);
        CHECK(st == (bits < 7 ? PERF_EINVAL : PERF_OK), "bits %d into 7: %s", bits,
              perf_status_text(st));
        if (bits >= 7) {
            perf_hist_reset(&back);
            CHECK(perf_hist_merge(&back, h) == PERF_OK, "merge");
            perf_hist_add(&fixed, 5000);
            CHECK(!memcmp(back.counter, fixed.counter, sizeof back.counter), "bits %d into 7", bits);
        }
        free(h);
        free(g);
    }
    /* The fixed form is saved in the same numbering. */
    perf_hist_reset(&fixed);
    for (i = 0; i < 5000; i++)
        perf_hist_add(&fixed, rng_magnitude(&r, 43));
    n = perf_hist_save(bytes, sizeof bytes, &fixed);
    perf_hist_reset(&back);
    CHECK(perf_hist_load(&back, bytes, n, NULL) == PERF_OK &&
              !memcmp(back.counter, fixed.counter, sizeof back.counter), "fixed form");
    /* Every prefix and every changed bit. */
    perf_hist_reset(&fixed);
    for (i = 0; i < 60; i++)
        perf_hist_add(&fixed, 100 + rng_magnitude(&r, 12));
    n = perf_hist_save(bytes, sizeof bytes, &fixed);
    kept = back;
    for (at2 = 0; at2 < n; at2++) {
        unsigned char *part = PERF_CAST_(unsigned char *, malloc(at2 + 1));
        memcpy(part, bytes, at2);
        CHECK(perf_hist_load(&back, part, at2, &at) == PERF_EFORMAT && at <= at2, "prefix %zu", at2);
        free(part);
    }
    for (at2 = 0; at2 < n * 8; at2++) {
        bytes[at2 / 8] ^= PERF_CAST_(unsigned char, 1 << at2 % 8);
        CHECK(perf_hist_load(&back, bytes, n, &at) == PERF_EFORMAT, "bit %zu", at2);
        /* The same with a right checksum: accepted or not, but never out of bounds. */
        if (at2 / 8 < 76 || at2 / 8 >= 80) {
            uint32_t crc = perf_crc32_(perf_crc32_(0, bytes, 76), bytes + 80, n - 80);
            unsigned char old[4];
            memcpy(old, bytes + 76, 4);
            perf_put_le_(bytes + 76, crc, 4);
            (void)perf_hist_load(&fixed, bytes, n, &at);
            memcpy(bytes + 76, old, 4);
        }
        bytes[at2 / 8] ^= PERF_CAST_(unsigned char, 1 << at2 % 8);
    }
    CHECK(!memcmp(&back, &kept, sizeof back), "errors changed nothing");
    CHECK(perf_hist_save(NULL, 0, NULL) == 0 && perf_hist_load(NULL, bytes, n, NULL) == PERF_EINVAL &&
              perf_hist_load(&back, NULL, 0, NULL) == PERF_EFORMAT, "NULL");
    CHECK(perf_hist_saved_opts(bytes, n, NULL) == PERF_EINVAL, "NULL");
    CHECK(perf_crc32_(0, PERF_PTR_(const unsigned char *, "123456789"), 9) == 0xcbf43926u, "CRC-32");
    perf_hist_reset(&fixed);                    /* nothing at all is a histogram, too              */
    n = perf_hist_save(bytes, sizeof bytes, &fixed);
    CHECK(n == 80 && perf_hist_load(&back, bytes, n, NULL) == PERF_OK, "empty");
    CHECK(!memcmp(&back, &kept, sizeof back), "empty");
}

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
    n = perf_hist_write_percentiles(text, sizeof text, &fixed, 1.0, 2);
    CHECK(n == strlen(text) && !strcmp(text, small), "got:\n%s", text);
    for (i = 0; PERF_CAST_(size_t, i) < n; i++) {
        CHECK(perf_hist_write_percentiles(text, PERF_CAST_(size_t, i), &fixed, 1.0, 2) == n &&
                  (i == 0 || strlen(text) == PERF_CAST_(size_t, i) - 1), "cut at %d", i);
    }
    for (i = 0; i < 100000; i++)
        perf_hist_add(&fixed, pareto(&r));
    n = perf_hist_write_percentiles(text, sizeof text, &fixed, 1000.0, 0);
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
    n = perf_hist_write_percentiles(text, sizeof text, NULL, 0.0, 0);
    CHECK(n == strlen(text) && strstr(text, "Total count    =            0"), "NULL:\n%s", text);

    perf_hist_reset(&fixed);
    perf_hist_add_n(&fixed, 5, 3);
    perf_hist_add(&fixed, 1000);
    perf_hist_add(&fixed, 0);
    n = perf_hist_write_csv(text, sizeof text, &fixed);
    CHECK(n == strlen(text) &&
              !strcmp(text, "lower,upper,count,cumulative,fraction\n0,0,1,1,0.200000000\n"
                            "5,5,3,4,0.800000000\n1000,1003,1,5,1.000000000\n"), "got:\n%s", text);
    CHECK(perf_hist_write_csv(NULL, 0, &fixed) == n && perf_hist_write_csv(text, 10, &fixed) == n,
          "csv size");
}

int main(void)
{
    printf("seeds 131, 141\n");
    binary();
    percentiles();
    return check_done();
}
