/* HdrHistogram logs: those of its own tests, our own round trip, and malformed ones.
 * usage: hlog FOLDER-WITH-THE-LOGS                                                                */
#include "perf_export.h"
#include "../check.h"
#include "../hist/samples.h"

#include <stdlib.h>

static perf_hist total, one, back;
static char      text[1 << 22];

static size_t load(const char *folder, const char *name)
{
    char   path[512];
    FILE  *f;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (!f) {
        CHECK(f != NULL, "cannot read %s", path);
        return 0;
    }
    n = fread(text, 1, sizeof text, f);
    fclose(f);
    return n;
}

/* Every line: its printed maximum (ms) must be that of its histogram. */
static void known_log(const char *folder, const char *name, int version, int lines, int tagged,
                      uint64_t values)
{
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv;
    perf_status        st;
    int                n = 0, tags = 0;
    uint64_t           count = 0;

    r.text = text;
    r.size = load(folder, name);
    perf_hist_reset(&total);
    while ((st = perf_hlog_next(&r, &iv, &total)) != PERF_ENODATA) {
        double max;
        CHECK(st == PERF_OK, "%s: %s at byte %zu", name, perf_status_text(st), r.error_at);
        CHECK(iv.version == version, "%s: version %d", name, iv.version);
        n++;
        tags += iv.tag && iv.tag_size == 1 && *iv.tag == 'A';
        count += iv.count;
        perf_hist_reset(&one);
        r.at = iv.offset;                       /* the same line again, on its own                 */
        CHECK(perf_hlog_next(&r, &iv, &one) == PERF_OK, "%s: again", name);
        CHECK(perf_hist_count(&one) == iv.count, "%s line %d: count", name, n);
        max = perf_hist_max(&one) / 1e6;        /* end of a bucket, 2^14 ns or 1/128 wide          */
        CHECK(iv.max < max + 0.0006 && iv.max > max - 0.017 - max / 128, "%s line %d: max %f for %f",
              name, n, max, iv.max);
        CHECK(iv.length_seconds > 0.0 && iv.length_seconds < 30.0, "%s line %d", name, n);
    }
    CHECK(n == lines && tags == tagged, "%s: %d lines, %d tagged", name, n, tags);
    CHECK(count == values && perf_hist_count(&total) == values, "%s: %lu values", name, count);
    CHECK(r.start_seconds > 1.4e9 && r.start_seconds < 1.5e9, "%s: start time", name);
}

/* Written and read back: the same counters, for every precision. */
static void round_trip(void)
{
    static const int digit_bits[4] = {0, 4, 7, 10};
    rng r = {121};
    int digits, bits, kind;

    for (digits = 1; digits <= 3; digits++) {
        for (bits = 0; bits <= 12; bits++) {
            for (kind = 0; kind < 3; kind++) {
                perf_hist_opts     o = PERF_ZERO, p = PERF_ZERO;
                size_t             size, need, i, n = kind == 2 ? 200000 : 5000;
                void              *mem, *other;
                perf_hist         *h, *g, *expect;
                perf_hlog_interval iv = PERF_ZERO, got;
                perf_hlog_reader   rd = PERF_ZERO;
                o.bits = bits;
                o.counter_bytes = 8;
                p = o;
                p.bits = digit_bits[digits];
                size = bits ? perf_hist_bytes(&o) : sizeof(perf_hist);
                mem = calloc(1, size);
                h = bits ? perf_hist_init(mem, size, &o) : perf_hist_attach(mem, size);
                for (i = 0; i < n; i++)
                    perf_hist_add(h, kind == 0 ? lognormal(&r) : kind == 1 ? 7 : rng_magnitude(&r, 41));
                if (kind)
                    perf_hist_add(h, 0);
                iv.start_seconds = 12.5;
                iv.length_seconds = 1.25;
                iv.tag = kind ? "a b,c" : NULL;
                need = perf_hlog_write(NULL, 0, h, &iv, digits);
                CHECK(perf_hlog_write(text, need, h, &iv, digits) == need && !*text, "one short");
                CHECK(perf_hlog_write(text, need + 1, h, &iv, digits) == need, "fits");
                CHECK(strlen(text) == need && text[need - 1] == '\n', "length %zu", need);

                size = perf_hist_bytes(&p);
                other = calloc(2, size);
                g = perf_hist_init(other, size, &p);
                expect = perf_hist_init(PERF_CAST_(char *, other) + size, size, &p);
                rd.text = text;
                rd.size = need;
                CHECK(perf_hlog_next(&rd, &got, g) == PERF_OK, "digits %d bits %d kind %d: at %zu",
                      digits, bits, kind, rd.error_at);
                CHECK(got.version == 2 && got.digits == digits && got.count == perf_hist_count(h) &&
                          got.start_seconds == 12.5 && got.length_seconds == 1.25, "fields");
                CHECK(!kind || (got.tag_size == 5 && !memcmp(got.tag, "a_b_c", 5)), "tag");
                if (perf_hist_merge(expect, h) == PERF_OK)      /* as fine or finer                */
                    CHECK(!memcmp(perf_hist_peek_cells_(expect), perf_hist_peek_cells_(g),
                                  size - sizeof(perf_hist_head_)), "digits %d bits %d kind %d", digits,
                          bits, kind);
                CHECK(perf_hist_count(g) == perf_hist_count(h), "count");
                CHECK(perf_hlog_next(&rd, &got, g) == PERF_ENODATA, "end");
                free(mem);
                free(other);
            }
        }
    }
    CHECK(perf_hlog_write(text, sizeof text, NULL, NULL, 3) == 0, "NULL");
    perf_hist_reset(&one);
    {
        perf_hlog_interval iv = PERF_ZERO;
        perf_hlog_reader   rd = PERF_ZERO;
        CHECK(perf_hlog_write(text, sizeof text, &one, &iv, 4) == 0, "4 digits");
        rd.size = perf_hlog_write_header(text, sizeof text, "by a test", 1441812279.474);
        rd.size += perf_hlog_write(text + rd.size, sizeof text - rd.size, &one, &iv, 3);
        rd.text = text;
        CHECK(perf_hlog_next(&rd, &iv, &total) == PERF_OK && iv.count == 0, "empty histogram");
        CHECK(rd.start_seconds > 1441812279.473 && rd.start_seconds < 1441812279.475, "start");
    }
}

/* A whole line, then every prefix and every changed byte of it: a status, never a change. */
static void malformed(const char *folder, const char *name)
{
    size_t             size = load(folder, name), at = 0, end, i, wrong = 0, bits;
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv;
    char              *line;

    perf_hist_reset(&one);
    perf_hist_add(&one, 777);
    back = one;
    while (at < size && (text[at] == '#' || text[at] == '"'))
        at = PERF_CAST_(size_t, PERF_CAST_(char *, memchr(text + at, '\n', size - at)) - text) + 1;
    end = PERF_CAST_(size_t, PERF_CAST_(char *, memchr(text + at, '\n', size - at)) - text);
    for (i = 1; i < end - at; i++) {
        perf_status st;
        line = PERF_CAST_(char *, malloc(i));   /* exactly as long: an over-read is seen by ASan   */
        memcpy(line, text + at, i);
        r.text = line;
        r.size = i;
        r.at = 0;
        st = perf_hlog_next(&r, &iv, &one);
        CHECK(st == PERF_EFORMAT || (st == PERF_OK && i + 3 > end - at), "%s: prefix of %zu: %s",
              name, i, perf_status_text(st));
        CHECK(st == PERF_OK || r.error_at <= i, "%s: error at %zu of %zu", name, r.error_at, i);
        if (st == PERF_OK)
            one = back;
        free(line);
    }
    for (i = 0; i < end - at; i++) {
        for (bits = 0; bits < 7; bits++) {
            perf_status st;
            line = PERF_CAST_(char *, malloc(end - at));
            memcpy(line, text + at, end - at);
            line[i] = PERF_CAST_(char, line[i] ^ (1 << bits));
            r.text = line;
            r.size = end - at;
            r.at = 0;
            st = perf_hlog_next(&r, &iv, &one);
            wrong += st != PERF_OK;
            if (st != PERF_OK)
                CHECK(!memcmp(&one, &back, sizeof one), "%s: byte %zu changed what was there", name,
                      i);
            one = back;
            free(line);
        }
    }
    CHECK(wrong > (end - at) * 5, "%s: %zu of %zu changes seen", name, wrong, (end - at) * 7);
}

static void refused(const char *folder)
{
    perf_hist_opts     o = PERF_ZERO;
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv;
    void              *mem, *before;
    perf_hist         *fine, *small;
    size_t             bytes;
    perf_status        st;
    perf_hist_bucket   b = PERF_ZERO;
    uint64_t           full = 0, n = 0;

    r.text = text;
    r.size = load(folder, "jHiccup-2.0.7S.logV2.hlog");
    o.bits = 14;
    bytes = perf_hist_bytes(&o);
    mem = malloc(bytes);
    fine = perf_hist_init(mem, bytes, &o);
    CHECK(perf_hlog_next(&r, &iv, fine) == PERF_EINVAL && perf_hist_count(fine) == 0, "coarser");
    free(mem);
    o.bits = 4;
    bytes = perf_hist_bytes(&o);
    mem = malloc(bytes);
    small = perf_hist_init(mem, bytes, &o);
    r.at = 0;
    CHECK(perf_hlog_next(&r, &iv, NULL) == PERF_OK && iv.count > 100, "only looked at");
    r.at = iv.offset;
    CHECK(perf_hlog_next(&r, &iv, small) == PERF_OK, "line");
    while (perf_hist_next(small, &b)) {         /* its last bucket, filled but for too little room */
        full = b.lower;
        n = b.count;
    }
    perf_hist_reset(small);
    perf_hist_add_n(small, full, UINT32_MAX - n + 1);
    r.at = iv.offset;
    before = malloc(bytes);
    memcpy(before, mem, bytes);
    st = perf_hlog_next(&r, &iv, small);
    CHECK(st == PERF_ERANGE && !memcmp(before, mem, bytes), "overflow undone: %s",
          perf_status_text(st));
    free(before);
    free(mem);
    CHECK(perf_hlog_next(NULL, &iv, NULL) == PERF_EINVAL, "NULL");
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "tests/data/hlog";

    printf("seed 121\n");
    known_log(folder, "jHiccup-2.0.1.logV0.hlog", 0, 81, 0, 61256);
    known_log(folder, "jHiccup-2.0.7S.logV2.hlog", 2, 62, 0, 48761);
    known_log(folder, "tagged-Log.logV2.hlog", 2, 42, 21, 32290);
    round_trip();
    malformed(folder, "jHiccup-2.0.1.logV0.hlog");
    malformed(folder, "jHiccup-2.0.7S.logV2.hlog");
    refused(folder);
    return check_done();
}
