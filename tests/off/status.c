/* Compiled with PERF_DISABLE=1: what measures, reports or saves says so, and leaves no file. */
#include "perf.h"
#include "perf_diagnosis.h"
#include "perf_export.h"
#include "perf_tally.h"
#include "perf_memory.h"
#include "perf_trace.h"
#include "check.h"

#define OFF(call) CHECK((call) == PERF_EDISABLED, "not disabled")

int main(void)
{
    static perf_tally tally;
    perf_diagnosis    diagnosis;
    perf_loop         loop = PERF_ZERO;
    const char       *file = "perf_off_test.tmp";
    FILE             *f;

    OFF(perf_report());
    OFF(perf_report_to(stdout, NULL));
    OFF(perf_memory_mark("phase"));
    OFF(perf_tally_of("scope", 0, &tally));
    OFF(perf_diagnose(&diagnosis));
    OFF(perf_trace_save(file));
    OFF(perf_trace_save_perfetto(file));
    OFF(perf_export_save(file, PERF_EXPORT_FOLDED, NULL));
    OFF(perf_results_save(file, NULL));
    OFF(perf_baseline_add(file, NULL));
    OFF(perf_baseline_check(file, NULL).status);
    OFF(perf_bench_end(&loop).status);
    OFF(perf_ab_end(&loop).status);
    OFF(perf_race_end(&loop).status);
    CHECK(!strcmp(perf_bench_end(&loop).why, perf_status_text(PERF_EDISABLED)), "why");
    OFF(perf_trace_stream(file));
    OFF(perf_trace_stream_flush());
    OFF(perf_trace_stream(NULL));
    CHECK(perf_error() == PERF_OK, "nothing has failed");
    f = fopen(file, "rb");
    CHECK(!f, "%s was written", file);
    if (f) {
        fclose(f);
        remove(file);
    }
    return check_done();
}
