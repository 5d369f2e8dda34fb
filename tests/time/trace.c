/* The trace file: strict JSON, exact times, nesting as it was; and what happens when it cannot be
 * written, or names are hostile.                                                                  */
#include <stdint.h>
static uint64_t now_ns = 5000000123;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TRACE_EVENTS 300000
#include "rows.h"
#include "perf_trace.h"
#include "inside.h"

#define PATH scratch_file()
#if defined(__SANITIZE_ADDRESS__)       /* whose strstr looks at the whole text each time */
#define NAMES 2000
#else
#define NAMES 100000
#endif

typedef struct zone {
    char     name[32];
    uint64_t start, length;     /* ns */
} zone;

static uint64_t ns_of(const char *p)
{
    uint64_t us = strtoull(p, (char **)&p, 10);

    return us * 1000 + strtoull(p + 1, NULL, 10);
}

/* The "X" records of the file, in its order. */
static size_t zones(const char *text, zone *z, size_t room)
{
    size_t n = 0;

    while (n < room && (text = strstr(text, "{\"ph\":\"X\",\"name\":\"")) != NULL) {
        text += 18;
        memset(&z[n], 0, sizeof z[n]);
        memcpy(z[n].name, text, strcspn(text, "\"") < 31 ? strcspn(text, "\"") : 31);
        z[n].start = ns_of(strstr(text, "\"ts\":") + 5);
        z[n++].length = ns_of(strstr(text, "\"dur\":") + 6);
    }
    return n;
}

static char *save(void)
{
    char *text;

    CHECK(perf_trace_save(PATH) == PERF_OK, "save");
    text = file_text(PATH);
    CHECK(json_valid(text), "%.2000s", text);
    return text;
}

static void exact(void)
{
    zone   z[8];
    size_t n;
    char  *text;

    {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("tie");          /* begins and ends with the one around it */
            now_ns += 10;
            {
                PERF_SCOPE("inner");
                now_ns += 7;
            }
        }
    }
    {
        PERF_SCOPE("long");             /* longer than 2^32 ns */
        now_ns += UINT64_C(10000000001);
    }
    text = save();
    n = zones(text, z, 8);
    CHECK(n == 4, "%zu", n);
    CHECK(!strcmp(z[0].name, "long") && z[0].start == 5000000140 && z[0].length == 10000000001, "%s %llu %llu",
          z[0].name, (unsigned long long)z[0].start, (unsigned long long)z[0].length);
    CHECK(!strcmp(z[1].name, "outer") && z[1].start == 5000000123 && z[1].length == 17, "%s", z[1].name);
    CHECK(!strcmp(z[2].name, "tie") && z[2].start == 5000000123 && z[2].length == 17, "%s", z[2].name);
    CHECK(!strcmp(z[3].name, "inner") && z[3].start == 5000000133 && z[3].length == 7, "%s", z[3].name);
    free(text);
}

static void again(int n, uint64_t ns)
{
    PERF_SCOPE("again");
    if (n)
        again(n - 1, ns);
    else
        now_ns += ns;
}

/* Lengths around 2^32, which do not fit in an event: of a first call, of more, of recursive ones. */
static void long_ones(void)
{
    static const uint64_t length[] = {1, UINT64_C(0x100000005), 0xfffffffe, 0xffffffff, UINT64_C(0x100000000), 7,
                                      0xffffffff, 0xfffffffe};
    zone   z[3 * 8];
    size_t n, i;
    char  *text;

    perf_reset();
    for (i = 0; i < 8; i++) {
        PERF_SCOPE("long ones");
        again(1, length[i]);
    }
    text = save();
    n = zones(text, z, 3 * 8);
    CHECK(n == 3 * 8, "%zu", n);
    for (i = 0; i < n; i++)
        CHECK(z[i].length == length[7 - i / 3] && !strcmp(z[i].name, i % 3 ? "again" : "long ones"),
              "%s: %llx, not %llx", z[i].name, (unsigned long long)z[i].length, (unsigned long long)length[7 - i / 3]);
    free(text);
}

/* Phases stand where they were, each beside the scopes in it. */
static void phases(void)
{
    zone     z[16];
    size_t   n, i;
    uint64_t begin;
    perf_lap lap;
    char    *text;

    perf_reset();
    begin = now_ns;
    {
        PERF_SCOPE("around");
        now_ns += 1;
        lap = perf_lap_begin();
        for (i = 0; i < 5; i++) {
            now_ns += 10;
            PERF_LAP(&lap, "phase");
        }
    }
    text = save();
    n = zones(text, z, 16);
    CHECK(n == 6 && !strcmp(z[0].name, "around") && z[0].start == begin && z[0].length == 51, "%zu", n);
    for (i = 1; i < n; i++)
        CHECK(!strcmp(z[i].name, "phase") && z[i].start == begin + 51 - 10 * i && z[i].length == 10, "%s %d", z[i].name,
              (int)(z[i].start - begin));
    free(text);
}

static void tells(int n)
{
    PERF_SCOPE("tells");
    now_ns += 1;
    PERF_SCOPE_VALUE("level", n);
    if (n)
        tells(n - 1);
    {
        PERF_SCOPE("inmost");
        PERF_SCOPE_VALUE("below", n);
        now_ns += 1;
    }
}

/* Numbers find their scope by its depth, with all recursive calls around it. */
static void values_of_calls(void)
{
    char *text, wanted[80];
    int   i;

    perf_reset();
    for (i = 0; i < 3; i++)
        tells(3);
    text = save();
    CHECK(count_of(text, "\"ph\":\"i\"") == 0, "%d numbers of no scope", count_of(text, "\"ph\":\"i\""));
    for (i = 0; i <= 3; i++) {
        snprintf(wanted, sizeof wanted, "\"level\":%d}", i);
        CHECK(count_of(text, wanted) == 3, "%s: %d", wanted, count_of(text, wanted));
        snprintf(wanted, sizeof wanted, "\"below\":%d}", i);
        CHECK(count_of(text, wanted) == 3, "%s: %d", wanted, count_of(text, wanted));
    }
    free(text);
}

static void kinds(void)
{
    char      *text, *at;
    perf_async a;
    double     zero = 0.0;

    perf_reset();
    perf_count("queue", 2.5);
    perf_count("queue", 1 / zero);
    perf_instant("now");
    a = perf_async_begin("request", 42);
    now_ns += 15;
    perf_async_end(&a);
    perf_thread_name("main \"thread\"");
    text = save();
    at = strchr(without_ids(text), '[');
    CHECK(at && !strcmp(at,
          "[\n{\"ph\":\"M\",\"name\":\"process_labels\",\"args\":{\"labels\":\"perf.h\"}},\n"
          "{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"main \\\"thread\\\"\"}},\n"
          "{\"ph\":\"b\",\"cat\":\"async\",\"name\":\"request\",\"ts\":15000000.141,\"id\":\"42\"},\n"
          "{\"ph\":\"e\",\"cat\":\"async\",\"name\":\"request\",\"ts\":15000000.156,\"id\":\"42\"},\n"
          "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"now\",\"ts\":15000000.141},\n"
          "{\"ph\":\"C\",\"name\":\"queue\",\"ts\":15000000.141,\"args\":{\"value\":null}},\n"
          "{\"ph\":\"C\",\"name\":\"queue\",\"ts\":15000000.141,\"args\":{\"value\":2.5}}\n]}\n"), "%s", text);
    free(text);
}

/* Spans of one id have a track of their own for each name. */
static void tracks(void)
{
    perf_async a, b, c;
    char      *text, *at, id[3][40] = {"", "", ""};
    int        i;

    perf_reset();
    a = perf_async_begin("request", 42);
    b = perf_async_begin("reply", 42);
    c = perf_async_begin("request", UINT64_C(9007199254740993));        /* no double              */
    perf_async_end(&a);
    perf_async_end(&b);
    perf_async_end(&c);
    text = save();
    for (i = 0, at = text; (at = strstr(at, "\"ph\":\"b\"")) != NULL && i < 3; at++)
        if (sscanf(strstr(at, "\"id\":"), "\"id\":\"%39[^\"]", id[i]) == 1)
            i++;
    CHECK(i == 3 && strcmp(id[0], id[1]) && !strncmp(id[0], "9007199254740993/", 17) && !strncmp(id[1], "42/", 3) &&
          !strncmp(id[2], "42/", 3) && strcmp(id[1], id[2]), "%s %s %s", id[0], id[1], id[2]);
    free(text);
    perf_reset();
}

static int about(double x, double wanted)
{
    return x > 0.999999 * wanted && x < 1.000001 * wanted;
}

/* Numbers of the user keep their digits, however small or large. */
static void numbers(void)
{
    const double zero = 0.0;
    char        *text;

    perf_reset();
    perf_count("rate", 0.0003);
    perf_count("tolerance", 1e-9);
    perf_count("slope", -0.0025);
    perf_count("endless", 1 / zero);
    {
        PERF_SCOPE("step");
        PERF_SCOPE_VALUE("error", 2e-20);
    }
    CHECK(about(row_of("rate", "counter").last, 0.0003) && about(row_of("rate", "counter").mean, 0.0003) &&
              about(row_of("tolerance", "counter").max, 1e-9) && about(row_of("error", "instant").min, 2e-20), "CSV");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "   3.00e-4   3.00e-4") && strstr(text, "   1.00e-9") && strstr(text, "  2.00e-20") &&
              strstr(text, "  -2.50e-3") && strstr(text, "       inf"), "%s", text);
    free(text);
    text = report_text(PERF_VIEW_CSV, PERF_SORT_SELF);
    CHECK(strstr(text, "\"endless\",counter,1,0,0,,,0,0,0,,\n"), "%s", text);
    free(text);
    text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
    CHECK(json_valid(text) && strstr(text, "\"max_ns\":0.0003,\"last\":0.0003}") && strstr(text, "\"last\":null}"), "%s", text);
    free(text);
    text = save();
    CHECK(strstr(text, "{\"value\":0.0003}") && strstr(text, "{\"value\":1e-9}") && strstr(text, "{\"value\":null}") &&
              strstr(text, "\"error\":2e-20}"), "%s", text);
    free(text);
}

/* No key stands twice in "args": the newest number or text of a name, and not the library's own. */
static void keys(void)
{
    char *text;

    perf_reset();
    {
        PERF_SCOPE("step");
        PERF_SCOPE_VALUE("rows", 3);
        PERF_SCOPE_TEXT("rows", "many");
        PERF_SCOPE_TEXT("source_file", "data.csv");
    }
    {
        PERF_SCOPE("other");
        PERF_SCOPE_TEXT("rows", "many");
        PERF_SCOPE_VALUE("rows", 4);
        PERF_SCOPE_VALUE("source_line", 7);
    }
    text = save();
    CHECK(strstr(text, "\"name\":\"step\",\"args\":{\"source_line\":") && count_of(text, "\"source_file\":\"data.csv\"") == 1,
          "%s", text);
    CHECK(count_of(text, "\"rows\":\"many\"") == 2 && count_of(text, "\"rows\":4") == 1, "%s", text);
    CHECK(count_of(text, "\"name\":\"rows\"") == 2, "the older ones stay instants: %s", text);
    CHECK(count_of(text, "\"source_line\":7") == 1, "%s", text);
    free(text);
}

static void names(void)
{
    char *big = (char *)malloc(10000001), *text, small[8];
    int   i;
    const char *const hostile[] = {"", "\"\\/\b\f\n\r\t", "\x01\x1f\x7f", "caf\xc3\xa9", "bad \xff\xc3 utf8 \xed\xa0\x80",
                                   "</script>", "%s%n", ","};

    perf_reset();
    memset(big, 'x', 10000000);
    big[10000000] = '\0';
    for (i = 0; i < (int)(sizeof hostile / sizeof hostile[0]); i++) {
        perf_scope s = perf_scope_begin(hostile[i]);
        now_ns += 5;
        perf_scope_end(&s);
        perf_count(hostile[i], 1);
        perf_instant(hostile[i]);
    }
    {
        perf_scope s = perf_scope_begin(big), t = perf_scope_begin(NULL);
        now_ns += 5;
        perf_scope_end(&t);
        perf_scope_end(&s);
    }
    CHECK(perf_error() == PERF_ELIMIT || perf_error() == PERF_EINVAL, "%s", perf_status_text(perf_error()));
    CHECK(row_of("(null)", "scope").calls == 1, "(null)");
    CHECK(row_of("(empty)", "scope").calls == 1, "(empty)");
    big[255] = '\0';
    CHECK(row_of(big, "scope").calls == 1, "10 MB");
    big[250] = '\0';
    strcat(big, "abcd\xc3\xa9");        /* a character across the limit is left out whole */
    {
        perf_scope s = perf_scope_begin(big);
        perf_scope_end(&s);
    }
    big[254] = '\0';
    CHECK(row_of(big, "scope").calls == 1, "cut at a character");
    text = save();
    CHECK(count_of(text, "\"ph\":\"X\"") == 11, "%d", count_of(text, "\"ph\":\"X\""));
    CHECK(count_of(text, "\"name\":\"caf\xc3\xa9\"") == 3, "valid UTF-8 stays");
    CHECK(count_of(text, "\"name\":\"bad \\ufffd\\ufffd utf8 \\ufffd\\ufffd\\ufffd\"") == 3, "other bytes do not");
    free(text);
    text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
    CHECK(json_valid(text), "%s", text);
    free(text);
    for (i = 0; i < 3; i++) {           /* one buffer, several names */
        perf_scope s;
        snprintf(small, sizeof small, "buf %d", i % 2);
        s = perf_scope_begin(small);
        perf_scope_end(&s);
    }
    CHECK(row_of("buf 0", "scope").calls == 2 && row_of("buf 1", "scope").calls == 1, "reused buffer");
    free(big);
}

static void deep(int n)
{
    perf_scope s = perf_scope_begin("deep");

    now_ns += 2;
    if (n)
        deep(n - 1);
    perf_scope_end(&s);
}

static void many(void)
{
    char  name[32], *text;
    zone *z = (zone *)malloc((NAMES + 1) * sizeof *z);
    int   i, wrong = 0;

    perf_reset();
    for (i = 0; i < NAMES; i++) {
        perf_scope s;
        snprintf(name, sizeof name, "name %d", i);
        s = perf_scope_begin(name);
        now_ns += 3;
        perf_scope_end(&s);
    }
    text = save();
    CHECK(zones(text, z, (NAMES + 1)) == NAMES, "%zu", zones(text, z, (NAMES + 1)));
    for (i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "name %d", NAMES - 1 - i);
        wrong += strcmp(z[i].name, name) != 0 || z[i].length != 3;
    }
    CHECK(wrong == 0, "%d wrong", wrong);
    free(text);
    text = report_text(PERF_VIEW_CSV, PERF_SORT_SELF);
    CHECK(count_of(text, "\n") == (NAMES + 1), "%d lines", count_of(text, "\n"));
    free(text);
    perf_reset();
    deep(NAMES / 5);
    text = save();
    i = (int)zones(text, z, (NAMES + 1));
    CHECK(i == NAMES / 5 + 1 && z[0].length == 2 * NAMES / 5 + 2 && z[NAMES / 5].length == 2, "%d", i);
    free(text);
    free(report_text(PERF_VIEW_TREE, PERF_SORT_SELF));
    free(z);
}

/* Events of Perfetto's form: how many begin, end and count; `whole`: nothing is left over at the end. */
static void packets(const char *text, size_t size, uint64_t kinds[5], int *whole)
{
    const char *p = text, *end = text + size;
    uint64_t    tag = 0, v = 0;

    memset(kinds, 0, 5 * sizeof *kinds);
    while (p && p < end) {
        const char *q;
        p = pb_next(p, end, &tag, &v);
        for (q = p ? p - v : NULL; q && q < p;) {
            uint64_t t = 0, n = 0, kind = 0;
            q = pb_next(q, p, &t, &n);
            if (q && t == (11 << 3 | 2))
                kind = pb_number(q - n, q, 9);
            kinds[kind < 5 ? kind : 0] += kind != 0;
        }
    }
    *whole = p == end;
}

static char *bytes_of(const char *path, size_t *size)
{
    static char *text;
    FILE        *f = fopen(path, "rb");

    text = (char *)realloc(text, 1 << 25);
    *size = f ? fread(text, 1, 1 << 25, f) : 0;
    if (f)
        fclose(f);
    return text;
}

/* More of each kind than the buffer of the file holds. */
static void perfetto(void)
{
    static char name[1000][260];
    uint64_t    kinds[5];
    size_t      size;
    char       *text;
    int         i, whole;

    perf_reset();
    for (i = 0; i < 1000; i++) {
        perf_scope s;
        snprintf(name[i], sizeof name[i], "%d %0240d", i, i);
        s = perf_scope_begin(name[i]);
        now_ns += 5;
        perf_scope_value("size", i);
        perf_scope_text("what", "a text of more than eight bytes");
        perf_scope_end(&s);
    }
    for (i = 0; i < 20000; i++) {
        PERF_SCOPE("caf\xc3\xa9 \xe2\x82\xac");
        now_ns += 5;
        perf_count("queue", i);
        perf_instant("now");
    }
    CHECK(perf_trace_save_perfetto(PATH) == PERF_OK, "save");
    text = bytes_of(PATH, &size);
    packets(text, size, kinds, &whole);
    CHECK(whole && kinds[1] == 21000 && kinds[2] == 21000 && kinds[3] == 20000 && kinds[4] == 20000, "%d: %d begin, %d end, %d instants, %d counts",
          whole, (int)kinds[1], (int)kinds[2], (int)kinds[3], (int)kinds[4]);
}

/* Marks whose names are known by their place: no lock is asked for, which the test below holds. */
static void queue(int n)
{
    PERF_COUNT("queue", n);
}

static void odd_one(void)
{
    PERF_INSTANT("odd");
}

/* A stream that could not be written for as long as the lock was ours: entries of several parts lie across
 * the ends of what is written at a time.                                                          */
static void behind(void)
{
    core_registry *r = core_read();
    uint64_t        kinds[5];
    size_t          size;
    char           *text;
    int             i, odd, whole;

    for (odd = 0; odd < 2; odd++) {
        perf_reset();
        queue(1);
        odd_one();
        CHECK(perf_trace_stream(PATH) == PERF_OK && core_lock(r), "start");
        for (i = 0; i < 100000; i++) {          /* two entries each: 65536 are written at a time */
            if (odd && i == 7)
                odd_one();
            now_ns++;
            queue(i);
        }
        core_unlock(r);
        CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
        text = bytes_of(PATH, &size);
        packets(text, size, kinds, &whole);
        CHECK(whole && kinds[4] == 100001 && kinds[3] == (uint64_t)odd + 1, "%d: %d counts, %d instants", whole, (int)kinds[4], (int)kinds[3]);
        CHECK(number_of("unsent_events") == 0, "%g", number_of("unsent_events"));
    }
}

static void failures(void)
{
    FILE *f;

    CHECK(perf_trace_save(NULL) == PERF_EINVAL, "NULL");
    CHECK(perf_trace_save("") == PERF_EINVAL, "empty");
    CHECK(perf_trace_save("no/such/folder/x.json") == PERF_EIO, "folder");
    f = fopen("/dev/full", "w");
    if (f) {
        fclose(f);
        CHECK(perf_trace_save("/dev/full") == PERF_EIO, "full disk");
    }
    CHECK(perf_trace_save("/dev/null") == PERF_OK, "device");
    CHECK(perf_report_to(f ? fopen("/dev/full", "w") : stdout, NULL) != PERF_OK || !f, "report to a full disk");
}

int main(void)
{
    exact();
    kinds();
    tracks();
    numbers();
    keys();
    long_ones();
    phases();
    values_of_calls();
    names();
    many();
    perfetto();
    behind();
    failures();
    remove(PATH);
    return check_done();
}
