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
    perf_read_   r, again;
    perf_saving_ s = perf_saving_take_(opts);
    perf_status  status;
    size_t       len;
    char        *out;

    perf_read_results_(&r, text, size);
    must(r.in.status == PERF_OK, "accepted once, refused the second time");
    s.old = &r;
    out = perf_text_make_(perf_put_own_, &s, &len, &status);
    must(out && status == PERF_OK, "no text");
    perf_read_results_(&again, out, len);
    must(again.in.status == PERF_OK || again.in.status == PERF_ELIMIT, "our own output is refused");
    must(again.in.status != PERF_OK || again.runs <= PERF_READ_RUNS_, "too many runs");
    free(out);
    perf_read_free_(&again);
    perf_read_free_(&r);
    free(s.loop);
    free(s.scope);
    free(s.bucket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double samples[12] = {1.1, 1.2, 1.0, 1.3, 1.1, 1.2, 1.1, 1.2, 1.0, 1.3, 1.1, 1.2};
    static perf_result  result;
    perf_results_item   item = {"copy", NULL, NULL, 12};
    perf_baseline_opts  o = PERF_ZERO;
    char               *text = (char *)malloc(size + !size), *table;
    perf_status         status;
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
    perf_baseline_run_(&b, text, size, &o, 0);
    must(b.status == PERF_OK || b.error_at <= size, "the byte lies outside");
    must(b.status == PERF_OK || !b.entries, "entries beside a failure");
    for (n = 0; n < b.entries; n++)
        must(b.entry[n].decision == PERF_INCONCLUSIVE ||
                 (b.entry[n].runs >= PERF_BASELINE_RUNS_ &&
                  b.entry[n].decision == b.entry[n].verdict.decision),
             "a claim out of fewer than 6 runs");
    table = perf_text_make_(perf_put_baseline_, &b, &n, &status);
    must(table && n > 0 && n < 200000000, "no table");
    free(table);
    if (b.status == PERF_OK)
        added(text, size, &o.now);
    perf_baseline_free(&b);
    free(text);
    return 0;
}
