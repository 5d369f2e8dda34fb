/* Fuzz target: files given as a baseline.  Whatever comes in, the check ends with a status whose byte
 * lies in the file, its table can be written, and what was accepted survives having a run added and
 * being read again.  tests/results/meson.build runs it with run.c.                               */
#include <stdint.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "perf.h"
#include "perf_results.h"

#include <stdlib.h>
#include "../inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "results.c: %s\n", what);
    abort();
}

static void added(const char *text, size_t size, const perf_results_opts *opts)
{
    perf_status status;
    size_t      len;
    char       *out = results_added(text, size, opts, &len);

    must(out != NULL, "accepted once, refused the second time");
    status = results_read(out, len);
    must(status == PERF_OK || status == PERF_ELIMIT, "our own output is refused, or has too many runs");
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double samples[12] = {1.1, 1.2, 1.0, 1.3, 1.1, 1.2, 1.1, 1.2, 1.0, 1.3, 1.1, 1.2};
    static perf_result  result;
    perf_results_item   item = {"copy", NULL, NULL, 12};
    perf_baseline_opts  o = PERF_ZERO;
    char               *text = (char *)malloc(size + !size), *table;
    perf_baseline       b;
    size_t              n;

    memcpy(text, data, size);
    result.time.count = 12;
    item.result = &result;
    item.samples = samples;
    o.now.items = &item;
    o.now.count = 1;
    o.now.run = "now";
    o.now.machine = "m";
    o.now.time_s = 1.8e9;
    o.any_machine = size % 2 == 0;
    o.accept.rule.metric = (perf_metric)(size % 5);
    memset(&b, 0, sizeof b);
    baseline_of_text(&b, text, size, &o);
    must(b.status == PERF_OK || b.error_at <= size, "the byte lies outside");
    must(b.status == PERF_OK || !b.entries, "entries beside a failure");
    for (n = 0; n < b.entries; n++)
        must(b.entry[n].decision == PERF_INCONCLUSIVE ||
                 (b.entry[n].runs >= BASELINE_RUNS &&
                  b.entry[n].decision == b.entry[n].verdict.decision),
             "a claim out of fewer than 6 runs");
    table = baseline_table(&b, &n);
    must(table && n > 0 && n < 200000000, "no table");
    free(table);
    if (b.status == PERF_OK)
        added(text, size, &o.now);
    perf_baseline_free(&b);
    free(text);
    return 0;
}
