/* write.c DIR: results with known numbers and hostile names in every format, for formats.py to read
 * with the tools they are for; and what happens when a file cannot be written or memory ends.     */
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
static long allocations_left = -1;      /* -1: as many as you like */
static void *test_malloc(size_t n)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return malloc(n);
}
#define PERF_MALLOC(n) test_malloc(n)
#define PERF_FREE(p)   free(p)
#define PERF_CLOCK_FN  fake_clock
#include "perf.h"
#include "perf_export.h"

#include "check.h"
#include "numbers.h"
#include "inside.h"

#define HOSTILE "quo\"te \\back\nline\ttab\x01 \xff\xc3( \xc3\xa9 a/b <&> {x=\"1\"} %d"

static uint64_t state = 42;
static uint64_t noise(uint64_t below)
{
    return check_random(&state) % below;
}

/* Iterations of 1,000 to 1,019 ns. */
static perf_result bench(const char *name, double bytes)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      b;

    o.samples = 40;
    o.bytes = bytes;
    o.items = bytes / 8;
    b = perf_bench_begin(name, &o);
    while (perf_bench_next(&b))
        now_ns += 1000 + noise(20);
    return perf_bench_end(&b);
}

static perf_ab_result duel(const char *name)
{
    perf_ab ab = perf_ab_begin(name, NULL);
    int     v;

    while ((v = perf_ab_next(&ab)) >= 0)
        now_ns += (v ? 700u : 1000u) + noise(20);
    return perf_ab_end(&ab);
}

static void scopes(void)
{
    perf_async a;
    int        i;

    for (i = 1; i <= 100; i++) {
        PERF_SCOPE("load");
        now_ns += (uint64_t)i * 1000;           /* 1 .. 100 us */
        {
            PERF_WAIT("read");
            now_ns += 50;
        }
        PERF_COUNT("queue", i * 0.5);
        PERF_INSTANT("tick");
    }
    {
        PERF_WAIT("load");                      /* a name may be a scope's and a wait's */
        now_ns += 7000;
    }
    {
        perf_scope s = perf_scope_begin(HOSTILE);
        now_ns += 5;
        perf_scope_end(&s);
    }
    a = perf_async_begin("request", 0);
    now_ns += UINT64_C(2000000000);
    perf_async_end(&a);
}

static char *file_text(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long  size;

    if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
        *n = (size_t)size;
        text = (char *)calloc(1, *n + 4097);
        if (text && fread(text, 1, *n, f) != *n) {
            free(text);
            text = NULL;
        }
    }
    if (f)
        fclose(f);
    return text;
}

static char dir[400], path[500];
static const char *in(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Format 0 is our own JSON, the others those of perf_export.h. */
enum { TEXTS = 1 + PERF_EXPORT_FOLDED, FORMATS = 2 + PERF_EXPORT_FLAME };

static const char *format_name(int f)
{
    static const char *const name[] = {"json", "google", "go", "openmetrics", "folded", "flame"};

    return name[f];
}

static perf_status save(const char *to, int f, const perf_results_opts *o)
{
    return f ? perf_export_save(to, (perf_export_format)(f - 1), o) : perf_results_save(to, o);
}

static size_t put(char *buf, size_t cap, int f, const perf_results_opts *o)
{
    FILE  *file = tmpfile();
    size_t n = 0;

    if (file && (f ? export_to(file, (perf_export_format)(f - 1), o)
                   : results_to(file, o)) == PERF_OK) {
        rewind(file);
        n = fread(buf, 1, cap - 1, file);
    }
    buf[n] = '\0';
    if (file)
        (void)fclose(file);
    return n;
}

static void all_formats(void)
{
    char  *buffer = (char *)malloc(1 << 20), *text;
    size_t n, len;
    int    f;

    for (f = 0; f < TEXTS; f++) {
        const char       *name = format_name(f);
        perf_results_opts o = PERF_ZERO;
        o.time_s = 1795262400;                  /* 2026-11-21T12:00:00Z */
        o.machine = "ma\"chine\n1";
        CHECK(save(in(name), f, &o) == PERF_OK, "%s", name);
        text = file_text(in(name), &n);
        CHECK(text && n > 100, "%s", name);
        len = put(buffer, 1 << 20, f, &o);
        /* the clock's cost in our own JSON is measured anew each time */
        CHECK(len == n || f == 0 || f == 1 + PERF_EXPORT_GOOGLE, "%s %lu %lu", name,
              (unsigned long)len, (unsigned long)n);
        CHECK(strlen(buffer) == len, "%s", name);
        if (f != 1 + PERF_EXPORT_GOOGLE)
            CHECK(text && !strncmp(buffer, text, 9), "%s: '%.9s'", name, buffer);
        free(text);
    }
    for (; f < FORMATS; f++) {                  /* of the trace: files only                        */
        perf_export_format format = (perf_export_format)(f - 1);
        CHECK(save(in(format_name(f)), f, NULL) == PERF_OK, "%s", format_name(f));
        CHECK(export_to(stdout, format, NULL) == PERF_EINVAL, "%s", format_name(f));
        CHECK(put(buffer, 10, f, NULL) == 0 && !*buffer, "%s", format_name(f));
    }
    CHECK(put(buffer, 10, 99, NULL) == 0 && !*buffer, "99");
    CHECK(save(in("x"), 99, NULL) == PERF_EINVAL, "99");
    free(buffer);
}

static void numbers(void)
{
    static const struct {
        double      x;
        const char *text;
    } c[] = {{0.0, "0"}, {-0.0, "0"}, {1.0, "1"}, {0.1, "0.1"}, {123456.75, "123456.75"},
             {1e17, "1e+17"}, {1e16, "10000000000000000"}, {1.5e-7, "1.5e-7"}, {-2.5, "-2.5"},
             {0.00001, "0.00001"}, {1e300, "1e+300"}, {2.5e-300, "2.5e-300"},
             {999999999999.9, "1000000000000"}, {0.238419, "0.238419"}, {3e18, "3e+18"}};
    size_t i;
    char   text[64];

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        text_of_real(text, sizeof text, c[i].x);
        CHECK(!strcmp(text, c[i].text), "%s, want %s", text, c[i].text);
    }
    for (i = 0; i < 100000; i++) {              /* 12 digits survive */
        double    x = math_exp((double)noise(1000000) / 1e6 * 1200 - 600), back;
        text_of_real(text, sizeof text, x);
        back = strtod(text, NULL);
        CHECK(back > x * (1 - 6e-12) && back < x * (1 + 6e-12), "%.17g became %s", x, text);
    }
}

/* The file holds this run alone. */
static perf_status save_alone(const char *to, const perf_results_opts *with)
{
    perf_results_opts o = PERF_ZERO;

    if (with)
        o = *with;
    o.alone = 1;
    return perf_baseline_add(to, &o);
}

/* What cannot be written. */
static void failures(void)
{
    perf_results_opts o = PERF_ZERO;
    perf_results_item item;
    perf_result       r;
    char             *name = (char *)malloc(10000001), *before, *after;
    size_t            n, m;
    long              k;
    int               refused = 0;
    FILE             *full = fopen("/dev/full", "wb");

    CHECK(perf_results_save(NULL, NULL) == PERF_EINVAL, "no path");
    CHECK(perf_results_save("", NULL) == PERF_EINVAL, "no path");
    CHECK(perf_results_save(in("no/such/folder"), NULL) == PERF_EIO, "folder");
    CHECK(results_to(NULL, NULL) == PERF_EINVAL, "no file");
    if (full) {
        CHECK(perf_results_save("/dev/full", NULL) == PERF_EIO, "full disk");
        CHECK(export_to(full, PERF_EXPORT_GOOGLE, NULL) == PERF_EIO, "full disk");
        (void)fclose(full);
    }
    CHECK(perf_baseline_add(NULL, NULL) == PERF_EINVAL, "no path");
    CHECK(perf_baseline_add(dir, NULL) == PERF_EIO, "a folder");

    /* names of 10 MB, and none; values that are no times; a result without a name or result */
    memset(name, 'n', 10000000);
    name[10000000] = '\0';
    name[5] = '"';
    r = bench("for items", 0);
    item.name = name;
    item.result = &r;
    item.samples = NULL;
    item.count = 99;
    o.items = &item;
    o.count = 1;
    for (k = 0; k < TEXTS; k++)
        CHECK(save(in("large"), (int)k, &o) == PERF_OK, "%ld", k);
    CHECK(save_alone(in("large runs"), &o) == PERF_OK, "10 MB");
    before = file_text(in("large runs"), &n);
    CHECK(n > 10000000, "%lu", (unsigned long)n);
    free(before);
    item.name = NULL;
    {
        double values[5];
        values[0] = 1.5;
        values[1] = CHECK_NAN;
        values[2] = CHECK_INF;
        values[3] = -1.0;
        values[4] = 0.0;
        item.samples = values;
        item.count = 5;
        CHECK(perf_results_save(in("values"), &o) == PERF_OK, "values");
        before = file_text(in("values"), &n);
        before[n] = '\0';
        CHECK(strstr(before, "\"samples\":[1.5]") && strstr(before, "(unnamed)"), "%s", before);
        free(before);
        item.result = NULL;
        CHECK(perf_results_save(in("values"), &o) == PERF_OK, "no result");
    }
    free(name);

    /* memory that ends: at each allocation once */
    memset(&o, 0, sizeof o);
    o.run = "first";
    CHECK(save_alone(in("memory"), &o) == PERF_OK, "save");
    before = file_text(in("memory"), &n);
    for (k = 0;; k++) {
        perf_status   added, saved;
        perf_baseline b;
        o.run = "second";
        allocations_left = k;
        added = perf_baseline_add(in("memory"), &o);
        allocations_left = k;
        saved = perf_export_save(in("memory2"), PERF_EXPORT_GOOGLE, &o);
        allocations_left = k;
        b = perf_baseline_check(in("memory"), NULL);
        allocations_left = -1;
        CHECK(added == PERF_OK || added == PERF_ENOMEM, "%ld: %s", k, perf_status_text(added));
        CHECK(saved == PERF_OK || saved == PERF_ENOMEM, "%ld: %s", k, perf_status_text(saved));
        CHECK(b.status == PERF_OK || b.status == PERF_ENOMEM, "%ld: %s", k,
              perf_status_text(b.status));
        CHECK(b.status == PERF_OK || b.decision == PERF_INCONCLUSIVE, "%ld", k);
        perf_baseline_free(&b);
        perf_baseline_free(&b);
        if (added != PERF_OK) {
            after = file_text(in("memory"), &m);
            CHECK(after && m == n && !memcmp(after, before, n), "%ld: the file changed", k);
            free(after);
            refused++;
        } else {
            free(before);
            before = file_text(in("memory"), &n);
        }
        if (added == PERF_OK && saved == PERF_OK && b.status == PERF_OK && k > 200)
            break;
    }
    CHECK(refused > 10, "only %d allocations", refused);
    free(before);
    perf_baseline_free(NULL);
}

int main(int argc, char **argv)
{
    perf_bench broken;

    if (argc != 2) {
        printf("usage: write DIR\n");
        return 1;
    }
    snprintf(dir, sizeof dir, "%s", argv[1]);
    (void)bench("copy 4 KiB", 4096);
    (void)bench(HOSTILE, 0);
    (void)duel("duel");
    broken = perf_bench_begin("broken", NULL);
    (void)perf_bench_end(&broken);
    scopes();
    all_formats();
    numbers();
    failures();
    return check_done();
}
