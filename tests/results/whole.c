/* whole.c DIR: files are whole whatever happens while they are written.  The rate of the clock is
 * another one after every allocation, as when another thread measures it again; what is written must
 * be readable text of one rate.  Run it under sanitizers: the old file may not be lost, and no byte
 * of the heap may come in.                                                                        */
#include <stdint.h>
#include <stdlib.h>
static void *other_rate(size_t size);
#define PERF_MALLOC(size) other_rate(size)
#define PERF_FREE(p)      free(p)
#include "perf.h"
#include "perf_export.h"

#include "check.h"
#include "numbers.h"
#include "inside.h"

enum { SCOPES = 300, RUNS = 12 };

static char     dir[400], path[500];
static unsigned rates;
static double   sample[2000];       /* a user's, changed while they are written                    */

/* Between "0.5" and "0.333333333333" a number gains 13 characters. */
static void *other_rate(size_t size)
{
    static const double rate[] = {0.5, 1.0 / 3.0, 0.25, 2.0 / 7.0, 0.4};
    size_t              i;

    rates++;
    for (i = 0; i < sizeof sample / sizeof sample[0]; i++)
        sample[i] = rate[rates % 5];
    core_set_tick(rate[rates % 5]);
    return malloc(size);
}

static char *slurp(const char *file, size_t *size)
{
    FILE *f = fopen(file, "rb");
    char *text = (char *)calloc(1, 4000000);

    *size = f ? fread(text, 1, 4000000 - 1, f) : 0;
    if (f)
        (void)fclose(f);
    return text;
}

static void some_scopes(void)
{
    char name[32];
    int  i, k;

    for (i = 0; i < SCOPES; i++) {
        snprintf(name, sizeof name, "scope number %d", i);
        for (k = 0; k < 40; k++) {
            perf_scope scope = perf_scope_begin(name);
            perf_scope_end(&scope);
        }
    }
}

/* All of it is text, and it ends as it should. */
static void check_text(const char *what, const char *text, size_t size, const char *end)
{
    size_t i, n = strlen(end), strange = 0;

    for (i = 0; i < size; i++)
        strange += (unsigned char)text[i] < 0x20 && text[i] != '\n';
    CHECK(size > 1000 && !strange, "%s: %lu bytes, %lu of them no text", what, (unsigned long)size,
          (unsigned long)strange);
    CHECK(size > n && !memcmp(text + size - n, end, n), "%s: ends otherwise", what);
}

/* Every scope's total is its mean times its calls: all numbers are of one rate. */
static void check_rate(const char *text)
{
    const char *p = text;
    int         scopes = 0, odd = 0;

    while ((p = strstr(p, "\"calls\":")) != NULL) {
        double calls = strtod(p + 8, NULL), total, mean;
        p = strstr(p, "\"total\":");
        total = p ? strtod(p + 8, NULL) : 0;
        p = p ? strstr(p, "\"mean\":") : NULL;
        mean = p ? strtod(p + 7, NULL) : 0;
        if (!p)
            break;
        odd += !(total > 0.999 * calls * mean && total < 1.001 * calls * mean);
        scopes++;
    }
    CHECK(scopes == SCOPES && !odd, "%d scopes, %d of two rates", scopes, odd);
}

/* Format 0 is our own JSON, the others those of perf_export.h. */
enum { FORMATS = 1 + PERF_EXPORT_FOLDED };

static const char *format_name(int f)
{
    static const char *const name[] = {"json", "google", "go", "openmetrics", "folded", "flame"};

    return name[f];
}

static perf_status save(const char *to, int f, const perf_results_opts *o)
{
    return f ? perf_export_save(to, (perf_export_format)(f - 1), o) : perf_results_save(to, o);
}

static void results(void)
{
    static const char *const end[FORMATS] = {"]}\n", "]}\n", NULL, "# EOF\n"};
    size_t size;
    char  *text;
    int    i, turn;

    for (i = 0; i < FORMATS; i++)
        for (turn = 0; turn < 5 && end[i]; turn++) {
            perf_status status = save(path, i, NULL);
            CHECK(status == PERF_OK, "%d: %s", i, perf_status_text(status));
            text = slurp(path, &size);
            if (i == 0 || i > PERF_EXPORT_OPENMETRICS)
                check_text(format_name(i), text, size, end[i]);
            if (i == 0)
                check_rate(text);
            free(text);
        }
}

static void baselines(void)
{
    int    i;
    size_t size;
    char  *text, run[16];

    (void)remove(path);
    for (i = 0; i < RUNS; i++) {
        perf_results_opts o = PERF_ZERO;
        perf_baseline     b;
        perf_status       status;
        snprintf(run, sizeof run, "run %d", i);
        o.run = run;
        o.time_s = 1.8e9 + 60 * i;
        status = perf_baseline_add(path, &o);
        CHECK(status == PERF_OK, "run %d: %s", i, perf_status_text(status));
        b = perf_baseline_check(path, NULL);
        CHECK(b.status == PERF_OK && b.runs == (size_t)i + 1 && b.entries == SCOPES,
              "run %d: %s at %lu, %lu runs", i, perf_status_text(b.status), (unsigned long)b.error_at,
              (unsigned long)b.runs);
        perf_baseline_free(&b);
        text = slurp(path, &size);
        check_text("baseline", text, size, "]}\n");
        free(text);
    }
}

/* Samples that another thread writes, and numbers that no reader of ours may refuse. */
static void moving(void)
{
    static perf_result result;
    perf_results_item  item;
    perf_results_opts  o = PERF_ZERO;
    perf_baseline      b;
    perf_status        status;
    char              *text;
    size_t             size;
    int                i;

    memset(&item, 0, sizeof item);
    result.time.count = sizeof sample / sizeof sample[0];
    result.opts.bytes = 1e300;
    item.name = "moving";
    item.result = &result;
    item.samples = sample;
    item.count = sizeof sample / sizeof sample[0];
    o.items = &item;
    o.count = 1;
    (void)remove(path);
    for (i = 0; i < 10; i++) {
        status = perf_baseline_add(path, &o);
        CHECK(status == PERF_OK, "%d: %s", i, perf_status_text(status));
        b = perf_baseline_check(path, NULL);
        CHECK(b.status == PERF_OK, "%d: %s at %lu", i, perf_status_text(b.status),
              (unsigned long)b.error_at);
        perf_baseline_free(&b);
        text = slurp(path, &size);
        check_text("moving", text, size, "]}\n");
        free(text);
    }
    perf_count("enormous", 1.7e308);
    perf_count("enormous", -1.7e308);
    perf_count("infinite", CHECK_INF);
    status = perf_baseline_add(path, NULL);
    CHECK(status == PERF_OK, "%s", perf_status_text(status));
    b = perf_baseline_check(path, NULL);
    CHECK(b.status == PERF_OK, "%s at %lu", perf_status_text(b.status), (unsigned long)b.error_at);
    perf_baseline_free(&b);
}

int main(int argc, char **argv)
{
    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : ".");
    snprintf(path, sizeof path, "%s/whole.json", dir);
    some_scopes();
    results();
    baselines();
    moving();
    CHECK(rates > 100, "the rate has changed %u times", rates);
    return check_done();
}
