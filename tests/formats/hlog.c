/* HdrHistogram logs: those of its own tests, our own round trip, and malformed ones.
 * usage: hlog FOLDER-WITH-THE-LOGS                                                                */
#include "lines.h"
#include "../check.h"
#include "../hist/samples.h"
#include "../inside.h"

#include <stdlib.h>
#include "../numbers.h"

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
        max = perf_hist_quantile(&one, 1) / 1e6;        /* end of a bucket, 2^14 ns or 1/128 wide          */
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
    static const int digit_bits[5] = {0, 4, 7, 10, 14};
    rng r = {121};
    int digits, bits, kind, coarser;

    for (coarser = 0; coarser <= 1; coarser++) {
        for (bits = 0; bits <= 12; bits++) {
            for (digits = 1; digit_bits[digits] < (bits ? bits : 7);)
                digits++;
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
                p.bits = coarser ? digit_bits[digits] - 1 : digit_bits[digits];
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
                need = perf_hlog_text(NULL, 0, h, &iv);
                CHECK(perf_hlog_text(text, need, h, &iv) == need && !*text, "one short");
                CHECK(perf_hlog_text(text, need + 1, h, &iv) == need, "fits");
                CHECK(strlen(text) == need && text[need - 1] == '\n', "length %zu", need);

                size = perf_hist_bytes(&p);
                other = calloc(2, size);
                g = perf_hist_init(other, size, &p);
                expect = perf_hist_init((char *)other + size, size, &p);
                rd.text = text;
                rd.size = need;
                CHECK(perf_hlog_next(&rd, &got, g) == PERF_OK, "digits %d bits %d kind %d: at %zu",
                      digits, bits, kind, rd.error_at);
                CHECK(got.version == 2 && got.digits == digits && got.count == perf_hist_count(h) &&
                          got.start_seconds == 12.5 && got.length_seconds == 1.25, "fields");
                CHECK(!kind || (got.tag_size == 5 && !memcmp(got.tag, "a_b_c", 5)), "tag");
                if (perf_hist_merge(expect, h) == PERF_OK)      /* as fine or finer                */
                    CHECK(!memcmp(hist_cells(expect), hist_cells(g),
                                  hist_cell_bytes(g)), "digits %d bits %d kind %d", digits,
                          bits, kind);
                CHECK(perf_hist_count(g) == perf_hist_count(h), "count");
                CHECK(perf_hlog_next(&rd, &got, g) == PERF_ENODATA, "end");
                free(mem);
                free(other);
            }
        }
    }
    CHECK(perf_hlog_text(text, sizeof text, NULL, NULL) == 0, "NULL");
    perf_hist_reset(&one);
    {
        perf_hlog_interval iv = PERF_ZERO;
        perf_hlog_reader   rd = PERF_ZERO;
        rd.size = (size_t)(snprintf(text, sizeof text, "#[StartTime: %.3f (seconds since epoch)]\n%s",
                                              1441812279.474, PERF_HLOG_HEADER));
        rd.size += perf_hlog_text(text + rd.size, sizeof text - rd.size, &one, &iv);
        rd.text = text;
        CHECK(perf_hlog_next(&rd, &iv, &total) == PERF_OK && iv.count == 0, "empty histogram");
        CHECK(rd.start_seconds > 1441812279.473 && rd.start_seconds < 1441812279.475, "start");
    }
}

/* What other writers do around the numbers: blanks, tabs, signs, both ends of lines, a time to add. */
static void dialects(void)
{
    static const char *const wrong[] = {"1,2", "1,2,", "x,2,3,", "1;2,3,", "Tag=", "Tag=a", "-,2,3,", ""};
    perf_hlog_interval iv = PERF_ZERO;
    perf_hlog_reader   rd = PERF_ZERO;
    size_t             n, i;
    char              *line, *fields;

    perf_hist_reset(&one);
    perf_hist_add(&one, 4711);
    line = (char *)malloc(4096);
    n = perf_hlog_text(line, 4096, &one, &iv);
    CHECK(n && n < 4096, "a line");
    fields = strrchr(line, ',') + 1;            /* the histogram itself */
    rd.text = text;
    rd.size = (size_t)(snprintf(text, sizeof text,
        "#[BaseTime: 1441812279.500 (seconds since epoch)]\r\n\r\n   \n#[Other: 1]\n\"StartTimestamp\",\"x\"\r\n"
        "Tag=a b, -1.5 ,\t+2.25 , 3.  ,  %.*s  \r\n%0299d1,2,3,%s", (int)strcspn(fields, "\n"), fields, 0, fields));
    perf_hist_reset(&back);
    CHECK(perf_hlog_next(&rd, &iv, &back) == PERF_OK, "at %zu", rd.error_at);
    CHECK(rd.base_seconds == 1441812279.5 && iv.start_seconds == -1.5 && iv.length_seconds == 2.25 && iv.max == 3.0,
          "%g %g %g", iv.start_seconds, iv.length_seconds, iv.max);
    CHECK(iv.tag_size == 3 && !memcmp(iv.tag, "a b", 3) && iv.count == 1, "tag");
    CHECK(perf_hist_count(&back) == 1 && perf_hist_quantile(&back, 1) >= 4640 && perf_hist_quantile(&back, 1) <= 4790, "%g %g", (double)perf_hist_count(&back),
          (double)perf_hist_quantile(&back, 1));
    CHECK(perf_hlog_next(&rd, &iv, &back) == PERF_OK && iv.start_seconds == 1.0, "300 digits: %g", iv.start_seconds);
    CHECK(perf_hlog_next(&rd, &iv, &back) == PERF_ENODATA, "end");
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        perf_status status;
        rd.text = wrong[i];
        rd.size = strlen(wrong[i]);
        rd.at = 0;
        status = perf_hlog_next(&rd, &iv, &back);
        CHECK(status == (*wrong[i] ? PERF_EFORMAT : PERF_ENODATA) && (!*wrong[i] || rd.error_at <= rd.size),
              "'%s': %s", wrong[i], perf_status_text(status));
    }
    CHECK(perf_hist_count(&back) == 2, "what is refused changes nothing");
    rd.text = NULL;
    rd.size = 1;
    CHECK(perf_hlog_next(&rd, &iv, &back) == PERF_EINVAL, "no text");
    free(line);
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
        at = (size_t)((char *)memchr(text + at, '\n', size - at) - text) + 1;
    end = (size_t)((char *)memchr(text + at, '\n', size - at) - text);
    for (i = 1; i < end - at; i++) {
        perf_status st;
        line = (char *)malloc(i);   /* exactly as long: an over-read is seen by ASan   */
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
            line = (char *)malloc(end - at);
            memcpy(line, text + at, end - at);
            line[i] = (char)(line[i] ^ (1 << bits));
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

static perf_hist *make(const perf_hist_opts *o)
{
    size_t n = perf_hist_bytes(o);

    return perf_hist_init(malloc(n), n, o);
}

static int near(double x, double want, double relative)
{
    double e = x - want;

    return (e < 0 ? -e : e) <= relative * want;
}

/* What the Java library says of its own double histograms; histograms of 0 digits. */
static void java(const char *folder)
{
    static const double median[2] = {25.687, 24.875}, mean[2] = {25.4148, 24.6994};
    perf_hlog_reader    r = PERF_ZERO;
    perf_hlog_interval  iv;
    perf_hist_opts      o = PERF_ZERO;
    perf_hist          *h;
    int                 i;

    r.text = text;
    r.size = load(folder, "java-double.hlog");
    o.bits = -1;
    o.counter_bytes = 8;
    h = make(&o);
    for (i = 0; i < 2; i++) {
        perf_hist_reset(&one);
        CHECK(perf_hlog_next(&r, &iv, &one) == PERF_OK && iv.count == 2000, "double %d", i);
        CHECK(iv.digits == 3 - i && near(perf_hist_quantile(&one, 0.5) * iv.ratio, median[i], 0.01) &&
                  near(perf_hist_mean(&one) * iv.ratio, mean[i], 0.001), "double %d: p50 %g, mean %g",
              i, perf_hist_quantile(&one, 0.5) * iv.ratio, perf_hist_mean(&one) * iv.ratio);
    }
    perf_hist_reset(&one);
    i = (int)r.at;
    CHECK(perf_hlog_next(&r, &iv, &one) == PERF_EINVAL && perf_hist_count(&one) == 0, "0 digits into K 7");
    r.at = (size_t)i;
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_OK && iv.digits == 0 && iv.count == 2000 &&
              perf_hist_quantile(h, 1) == 65535.0 && perf_hist_quantile(h, 0.5) == 24575.5, "0 digits");
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_OK && iv.count == 0, "empty");
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_ENODATA, "end");
    o.unit = 0.5;
    free(h);
    h = make(&o);
    r.at = 0;
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_EINVAL && perf_hist_count(h) == 0, "another unit");
    free(h);
}

/* The header of a plain V2 histogram of 2 digits, and its payload length. */
static size_t plain(unsigned char *p, size_t payload, const unsigned char *counts, size_t n)
{
    unsigned char *q = line_be(p, UINT32_C(0x1c849313), 4);

    q = line_be(q, payload, 4);
    q = line_be(q, 0, 4);
    q = line_be(q, 2, 4);
    q = line_be(q, 1, 8);
    q = line_be(q, 3600000000000, 8);
    q = line_be(q, check_bits(1.0), 8);
    memcpy(q, counts, n);
    return (size_t)(q + n - p);
}

static perf_status read_plain(size_t payload, const unsigned char *counts, size_t n)
{
    static unsigned char content[70000], raw[70100];
    perf_hlog_reader     r = PERF_ZERO;
    perf_hlog_interval   iv;
    size_t               size = plain(content, payload, counts, n);

    memcpy(text, "1,1,1,", 6);
    size = line_stored(raw, UINT32_C(0x1c849314), content, size);
    r.text = text;
    r.size = 6 + line_base64(text + 6, raw, size);
    return perf_hlog_next(&r, &iv, &one);
}

/* Old versions of HdrHistogram_c counted the header into the payload's length. */
static void lengths(void)
{
    static const unsigned char counts[60] = {9, 2, 2, 4};   /* a run of 5, then counts             */

    perf_hist_reset(&one);
    CHECK(read_plain(4, counts, 4) == PERF_OK && perf_hist_count(&one) == 4 &&
              perf_hist_quantile(&one, 0) == 5.0, "right length");
    CHECK(read_plain(44, counts, 4) == PERF_OK && perf_hist_count(&one) == 8, "with the header");
    back = one;
    CHECK(read_plain(43, counts, 4) == PERF_EFORMAT && read_plain(45, counts, 4) == PERF_EFORMAT,
          "one off");
    CHECK(read_plain(3, counts, 4) == PERF_EFORMAT, "too short");
    CHECK(!memcmp(&one, &back, sizeof one), "nothing of it added");
    CHECK(read_plain(44, counts, 44) == PERF_OK && perf_hist_count(&one) == 12, "zeros at the end");
}

/* A line of one histogram whose front is all ours to choose. */
static perf_status read_front(uint32_t outer, uint32_t cookie, size_t payload, uint64_t digits,
                              uint64_t lowest, uint64_t highest, const unsigned char *counts, size_t n)
{
    static unsigned char content[300], raw[400];
    perf_hlog_reader     r = PERF_ZERO;
    perf_hlog_interval   iv;
    unsigned char       *q = line_be(content, cookie, 4);

    if (outer != UINT32_C(0x1c849309))
        q = line_be(line_be(q, payload, 4), 0, 4);
    q = line_be(q, digits, 4);
    q = line_be(line_be(line_be(q, lowest, 8), highest, 8), check_bits(1.0), 8);
    memcpy(q, counts, n);
    memcpy(text, "1,1,1,", 6);
    n = line_stored(raw, outer, content, (size_t)(q + n - content));
    r.text = text;
    r.size = 6 + line_base64(text + 6, raw, n);
    return perf_hlog_next(&r, &iv, &one);
}

/* Each field wrong alone; what is refused adds nothing. */
static void fronts(void)
{
    static const unsigned char some[8] = {0, 0, 0, 2, 0, 0, 0, 3};
    static const unsigned char huge[18] = {254, 255, 255, 255, 255, 255, 255, 255, 255,
                                           254, 255, 255, 255, 255, 255, 255, 255, 255};
    static const unsigned char least[9] = {255, 255, 255, 255, 255, 255, 255, 255, 255};
    const uint32_t v1 = UINT32_C(0x1c849302), v2 = UINT32_C(0x1c849304), p1 = UINT32_C(0x1c849341);
    const uint32_t p2 = UINT32_C(0x1c849313);
    unsigned char  end[5] = {0, 0, 2, 0, 0}, run[3], wide[16];
    int            i;

    perf_hist_reset(&one);
    perf_hist_add(&one, 777);
    back = one;
    for (i = 0; i < 22; i++) {
        static const perf_status want[22] = {PERF_OK, PERF_OK, PERF_OK, PERF_OK, PERF_OK};
        perf_status              st = PERF_OK;
        switch (i) {
        case 0: st = read_front(v1, p1, 8, 2, 1, 1000, some, 8); break;
        case 1: st = read_front(v2, p2, 5, 2, 1, 1000, end, 5); break;
        case 2: st = read_front(UINT32_C(0x1c849309), UINT32_C(0x1c849348), 0, 2, 1, 1000, some, 8); break;
        case 3: st = read_front(v2, p2, 5, 2, 4, UINT64_C(1) << 62, end, 5); break;
        case 4:                                 /* the last count that 2..255 can have: index 255  */
            run[0] = 0xfd, run[1] = 3, run[2] = 2;
            st = read_front(v2, p2, 3, 2, 1, 2, run, 3);
            break;
        case 5:                                 /* and one behind it                              */
            run[0] = 0xff, run[1] = 3, run[2] = 2;
            st = read_front(v2, p2, 3, 2, 1, 2, run, 3);
            break;
        case 6: st = read_front(v2, p2, 9, 2, 1, 1000, least, 9); break;   /* a run of 2^63       */
        case 7: st = read_front(v2, p2 + 1, 5, 2, 1, 1000, end, 5); break;
        case 8: st = read_front(v2, p1, 5, 2, 1, 1000, end, 5); break;
        case 9: st = read_front(v2, p2, 5, 6, 1, 1000, end, 5); break;
        case 10: st = read_front(v2, p2, 5, 2, 0, 1000, end, 5); break;
        case 11: st = read_front(v2, p2, 5, 2, 1, UINT64_C(1) << 63, end, 5); break;
        case 12: st = read_front(v2, p2, 5, 2, 501, 1000, end, 5); break;
        case 13: st = read_front(v2, p2, 5, 5, UINT64_C(1) << 60, UINT64_C(1) << 62, end, 5); break;
        case 14: st = read_front(v2, p2, 18, 2, 1, 1000, huge, 18); break; /* 2^63 - 1, twice     */
        case 15: st = read_front(v1, p1, 7, 2, 1, 1000, some, 7); break;
        case 16: st = read_front(v1, p1 - 0x10 * 4, 8, 2, 1, 1000, some, 8); break;
        case 17: st = read_front(v1, p1 + 0x10 * 2, 8, 2, 1, 1000, some, 8); break;
        case 18: st = read_front(v2, p2, UINT64_C(0x80000000), 2, 1, 1000, end, 5); break;
        case 19: st = read_front(v2, p2, 5, 0, UINT64_C(1) << 61, UINT64_C(1) << 62, end, 5); break;
        case 20:                                /* 1, then 2^64 - 1 of 8 bytes                    */
            memset(wide, 255, 16);
            memset(wide, 0, 7);
            wide[7] = 1;
            st = read_front(v1, UINT32_C(0x1c849381), 16, 2, 1, 1000, wide, 16);
            break;
        default: st = read_front(v2, p2, 6, 2, 1, 1000, end, 5); break;
        }
        CHECK(st == (i < 5 ? want[i] : PERF_EFORMAT), "front %d: %s", i, perf_status_text(st));
        if (i >= 5)
            CHECK(!memcmp(&one, &back, sizeof one), "front %d adds", i);
        else
            CHECK(perf_hist_count(&one) > 1, "front %d", i);
        one = back;
    }
}

/* 25 million empty blocks must not cost a table each; the line is 42 MB, a tenth will do. */
static void many_blocks(void)
{
    static unsigned char raw[3200000];
    static char          line[4300000];
    perf_hlog_reader     r = PERF_ZERO;
    perf_hlog_interval   iv;
    size_t               i, bits = 0, n = 2500000;

    line_be(line_be(raw, UINT32_C(0x1c849314), 4), sizeof raw - 8, 4);
    line_be(raw + 8, 0x7801, 2);
    for (i = 0; i < n; i++, bits += 10)         /* not the last, type 1, end of block: 0 10 0000000 */
        raw[10 + (bits + 1) / 8] |= (unsigned char)(1 << (bits + 1) % 8);
    memcpy(line, "1,1,1,", 6);
    r.text = line;
    r.size = 6 + line_base64(line + 6, raw, sizeof raw);
    CHECK(perf_hlog_next(&r, &iv, NULL) == PERF_EFORMAT, "no end");
}

/* Every form is written with all it holds and read back into the same form. */
static void saved(void)
{
    rng r = {151};
    int k, i;

    for (k = 0; k < 60; k++) {
        perf_hist_opts     o = PERF_ZERO;
        perf_hlog_interval iv = PERF_ZERO, got;
        perf_hlog_reader   rd = PERF_ZERO;
        perf_hist         *h, *g;
        o.bits = k % 15 - (k % 15 == 0);
        o.counter_bytes = k % 2 ? 4 : 8;
        o.lowest = k % 4 == 3 ? 500 : 0;
        o.highest = k % 3 ? 0 : 1000000;
        o.unit = k % 5 ? 0.0 : 0.25;
        h = make(&o);
        g = make(&o);
        for (i = 0; i < 3000; i++)
            perf_hist_add(h, i % 50 ? lognormal(&r) : rng_magnitude(&r, 63));
        perf_hist_add_n(h, 700, k % 2 ? 100000 : UINT64_C(1) << 60);
        iv.max_unit = 1e12;
        rd.text = text;
        rd.size = perf_hlog_text(text, sizeof text, h, &iv);
        CHECK(rd.size && perf_hlog_next(&rd, &got, g) == PERF_OK, "form %d", k);
        CHECK(perf_hist_count(g) == perf_hist_count(h) && hist_over(g) == hist_over(h) &&
                  hist_under(g) == hist_under(h), "form %d: outside", k);
        CHECK(!memcmp(hist_cells(g), hist_cells(h),
                      hist_cell_bytes(h)),
              "form %d: counters", k);
        CHECK(near(got.ratio, o.unit > 0.0 ? o.unit : 1.0, 1e-15), "ratio");
        iv = got;
        iv.max_unit = 1e12;
        CHECK(perf_hlog_text(text, sizeof text, g, &iv) > 0, "form %d: again", k);
        free(h);
        free(g);
    }
}

/* A range that ends below 2^K: no counter beyond its end is touched (ASan looks). */
static void small_range(void)
{
    perf_hlog_interval iv = PERF_ZERO;
    perf_hlog_reader   r = PERF_ZERO;
    perf_hist_opts     o = PERF_ZERO;
    perf_hist         *h, *g;

    o.bits = 10;
    o.counter_bytes = 8;
    g = make(&o);
    perf_hist_add(g, 90);
    perf_hist_add(g, 5000000);
    o.highest = 100;
    h = make(&o);
    r.text = text;
    r.size = perf_hlog_text(text, sizeof text, g, &iv);
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_OK && perf_hist_count(h) == 2 && hist_over(h) == 1,
          "%lu, %lu over", perf_hist_count(h), hist_over(h));
    perf_hist_reset(g);                         /* each counter has room, the total has not         */
    perf_hist_add_n(g, 70, UINT64_MAX / 4 + 10);
    perf_hist_reset(h);
    perf_hist_add_n(h, 50, UINT64_MAX / 4 + 10);
    r.size = perf_hlog_text(text, sizeof text, g, &iv);
    r.at = 0;
    CHECK(perf_hlog_next(&r, &iv, h) == PERF_ERANGE && perf_hist_count(h) == UINT64_MAX / 4 + 10 &&
              perf_hist_quantile(h, 1) == 50.0, "too many together");
    free(h);
    free(g);
}

/* Buckets of 1,024 values that were read into finer ones: the maximum lies behind the last counter
 * that is not 0.  Of some such histograms the last counter fills the writer's buffer. */
static void ends_with_buffer(void)
{
    static unsigned char content[8300], raw[8400];
    perf_hist_opts       o = PERF_ZERO;
    perf_hlog_interval   iv = PERF_ZERO;
    perf_hlog_reader     r = PERF_ZERO;
    perf_hist           *h;
    uint64_t             n;
    unsigned char       *q;

    o.bits = 14;
    o.counter_bytes = 8;
    h = make(&o);
    memset(content, 2, sizeof content);         /* one value in each */
    for (n = 7900; n < 8192; n++) {
        q = line_be(line_be(line_be(content, UINT32_C(0x1c849313), 4), n, 4), 0, 4);
        q = line_be(line_be(line_be(q, 4, 4), 1024, 8), UINT64_C(1) << 40, 8);
        q = line_be(q, check_bits(1.0), 8);
        memcpy(text, "1,1,1,", 6);
        r.text = text;
        r.at = 0;
        r.size = 6 + line_base64(text + 6, raw, line_stored(raw, UINT32_C(0x1c849314), content, 40 + n));
        perf_hist_reset(h);
        CHECK(perf_hlog_next(&r, &iv, h) == PERF_OK && iv.count == n, "%lu values", n);
        perf_hist_add(h, (n - 1) * 1024 + 256); /* right before the last */
        r.at = 0;
        r.size = perf_hlog_text(text, sizeof text, h, &iv);
        CHECK(perf_hlog_next(&r, &iv, NULL) == PERF_OK && iv.count == n + 1, "%lu values, written again", n);
    }
    free(h);
}

/* Text that every reader takes, whatever is asked for. */
static void plain_numbers(void)
{
    perf_hlog_interval iv = PERF_ZERO, got;
    perf_hlog_reader   r = PERF_ZERO;
    size_t             n;
    char              *p;

    perf_hist_reset(&one);
    iv.start_seconds = CHECK_INF;
    CHECK(perf_hlog_text(text, sizeof text, &one, &iv) == 0 && !*text, "inf");
    iv.start_seconds = 0.0;
    iv.length_seconds = -1e15;
    CHECK(perf_hlog_text(text, sizeof text, &one, &iv) == 0, "-1e15");
    iv.length_seconds = 1.0;
    n = perf_hlog_text(text, sizeof text, &one, &iv);
    r.text = text;
    r.size = n;
    CHECK(perf_hlog_next(&r, &got, NULL) == PERF_OK && got.count == 0, "empty");
    p = strrchr(text, ',') + 1;
    CHECK(!strncmp(p, "HIST", 4), "as HdrHistogram's lines begin: %s", p);
    perf_hist_add(&one, UINT64_C(1) << 62);
    iv.max_unit = 1e-3;
    CHECK(perf_hlog_text(text, sizeof text, &one, &iv) == 0, "a maximum of 4.6e21");
}

/* An empty interval carries one count, a zero: HdrHistogram_c answers -29994 to one without. */
static void empty(void)
{
    perf_hlog_interval iv = PERF_ZERO;
    unsigned char      first = 1;
    size_t             n;

    perf_hist_reset(&one);
    n = hlog_counts(&one, 7, &first);
    CHECK(n == 1 && first == 0, "%zu bytes", n);
    CHECK(perf_hlog_text(text, sizeof text, &one, &iv) < 100, "short");
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "tests/data/hlog";

    printf("seeds 121, 151\n");
    known_log(folder, "jHiccup-2.0.1.logV0.hlog", 0, 81, 0, 61256);
    known_log(folder, "jHiccup-2.0.7S.logV2.hlog", 2, 62, 0, 48761);
    known_log(folder, "tagged-Log.logV2.hlog", 2, 42, 21, 32290);
    round_trip();
    dialects();
    malformed(folder, "jHiccup-2.0.1.logV0.hlog");
    malformed(folder, "jHiccup-2.0.7S.logV2.hlog");
    refused(folder);
    java(folder);
    lengths();
    fronts();
    many_blocks();
    saved();
    small_range();
    ends_with_buffer();
    plain_numbers();
    empty();
    return check_done();
}
