/* Are our buckets those of other histograms, after the conversion that docs/histogram.md states?
 * Each formula below is written from the peer's published layout, in its own terms.
 *   SPDK   range = 0 below 2^g, else the octave above; 2^g buckets a range (granularity g)
 *   fio    64 values an octave above 64 in groups, exact below                        (K = 6)
 *   H2     grouping power p: linear below 2^(p+1), then 2^p divisions a power of two
 *   Go     runtime time histogram of 1.19: 16 sub-buckets a super-bucket              (K = 4)
 *   HdrHistogram   counts index of 1, 2, 3 digits: sub-buckets in half-counts          (K 4, 7, 10) */
#include "samples.h"
#include "../check.h"

static unsigned floor_log2(uint64_t v)
{
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}

static uint64_t spdk_index(uint64_t v, unsigned g)
{
    unsigned leading_zeros = 63 - floor_log2(v), lsb = 64 - g;
    uint64_t range = leading_zeros < lsb ? lsb - leading_zeros : 0;
    uint64_t shift = range ? range - 1 : 0;

    return (range << g) + ((v >> shift) & ((UINT64_C(1) << g) - 1));
}

static uint64_t fio_index(uint64_t v)
{
    unsigned msb = floor_log2(v), error_bits;

    if (msb <= 6)
        return v;
    error_bits = msb - 6;
    return ((error_bits + 1) << 6) + ((v >> error_bits) & 63);
}

static uint64_t h2_index(uint64_t v, unsigned p)
{
    uint64_t linear = UINT64_C(1) << (p + 1);
    unsigned power;

    if (v < linear)
        return v;
    power = floor_log2(v);
    return linear + ((uint64_t)(power - (p + 1)) << p) +
           ((v - (UINT64_C(1) << power)) >> (power - p));
}

static uint64_t go_index(uint64_t v)
{
    uint64_t super = 0, sub = v;

    if (v >= 16) {
        super = floor_log2(v) + 1 - 4;
        sub = (v >> (super - 1)) % 16;
    }
    return super * 16 + sub;
}

static uint64_t hdr_index(uint64_t v, unsigned digits)
{
    static const uint64_t sub_buckets[] = {0, 32, 256, 2048};   /* 2 * 10^digits, rounded up       */
    uint64_t count = sub_buckets[digits], half = count / 2;
    unsigned magnitude = floor_log2(count);
    unsigned bucket = floor_log2(v | (count - 1)) + 1 - magnitude;
    uint64_t sub = v >> bucket;

    return (bucket + 1) * half + (sub - half);
}

int main(void)
{
    rng      r = {91};
    unsigned bits;
    long     i;

    printf("seed 91\n");
    for (bits = 1; bits <= 14; bits++) {
        for (i = 0; i < 200000; i++) {
            uint64_t v = i < 70000 ? (uint64_t)i + 1 : rng_magnitude(&r, 63);
            uint64_t ours = hist_index(bits, v);
            CHECK(ours == spdk_index(v, bits), "SPDK %u: %lu", bits, v);
            CHECK(ours == h2_index(v, bits), "H2 %u: %lu", bits, v);
            if (bits == 6)
                CHECK(ours == fio_index(v), "fio: %lu", v);
            if (bits == 4) {
                CHECK(ours == go_index(v), "Go: %lu", v);
                CHECK(ours == hdr_index(v, 1), "HDR 1 digit: %lu", v);
            }
            if (bits == 7)
                CHECK(ours == hdr_index(v, 2), "HDR 2 digits: %lu", v);
            if (bits == 10)
                CHECK(ours == hdr_index(v, 3), "HDR 3 digits: %lu", v);
        }
    }
    return check_done();
}
