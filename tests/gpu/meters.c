/* Clocks and meters of NVML and of ROCm SMI, as an energy loop reads them, and the brackets of a
 * profile: the libraries are stand-ins.  meters nvidia|amd; FAKE_METERS: see fake_meters.c.       */
#define PERF_CLOCK_FN sim_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "check.h"
#include <dlfcn.h>

static const char *place;
static uint32_t    flags;
static int        *profiling, profiled;         /* what roctx was last told; what the body saw of it */
static char        row[1000];

static int bus_of(char *text, int length, int device)
{
    snprintf(text, (size_t)length, "%s", place);
    return device;
}

static perf_gpu_result run(const char *at, int profile)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = PERF_ZERO;
    perf_gpu_bench          b;
    perf_stream             stream;
    perf_gpu_result         r;

    sim_reset();
    perf_reset();
    place = at;
    t = sim_table();
    t.flags = flags;
    t.name = "not simulated";
    t.error_waits = NULL;
    t.device_clock = NULL;
    t.device_meter = NULL;
    t.device_bus = bus_of;
    t.profiler_start = t.profiler_stop = NULL;
    (void)perf_gpu_use(&t);
    stream = sim_stream(0);
    o.energy = 1;
    o.profile = profile;
    b = perf_gpu_bench_begin("metered", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        profiled = profiling ? *profiling : 0;
        (void)sim_work(stream, 20000);
    }
    r = perf_gpu_bench_end(&b);
    (void)perf_report_text(row, sizeof row, NULL);
    sim_stop();
    return r;
}

int main(int argc, char **argv)
{
    const char     *wrong = getenv("FAKE_METERS") ? getenv("FAKE_METERS") : "";
    const int       amd = argc > 1 && !strcmp(argv[1], "amd");
    void           *roctx = NULL, *found;
    perf_gpu_result r;

    flags = amd ? PERF_GPU_TABLE_AMD : 0;
    r = run("0000:99:00.0", 0);                 /* nobody knows it */
    CHECK(r.status == PERF_OK && r.time.count >= 30 && !r.sm_mhz_low && r.joules == 0, "%g J", r.joules);
    r = run("0000:3b:00.0", 0);
    CHECK(r.status == PERF_OK && r.time.count >= 30, "%s", r.text);
    CHECK(amd ? !r.sm_mhz_low && !r.throttle : r.sm_mhz_low == 1234 && r.throttle == 1 && !r.throttled, "%u MHz",
          r.sm_mhz_low);
    if (!strcmp(wrong, "back") || !strcmp(wrong, "twice")) {
        CHECK(r.joules == 0 && r.joules_high == 0 && r.watts == 0 && !strstr(row, "joules"), "%g to %g J, %g W",
              r.joules, r.joules_high, r.watts);
        return check_done();
    }
    CHECK(amd ? r.watts > 100 && r.watts < 300 : r.watts > 50 && r.watts < 150, "1 or 2 J in some 10 ms: %g W", r.watts);
    CHECK(r.joules_low < r.watts * 20e-6 && r.joules_high > r.watts * 20e-6, "%g to %g J", r.joules_low, r.joules_high);
    if (!strcmp(wrong, "poor") || !strcmp(wrong, "absurd")) {
        CHECK(r.celsius == 0 && r.busy == 0 && !strstr(row, "celsius") && !strstr(row, "busy %"), "%s", row);
        CHECK(strstr(row, "joules") && strstr(row, "watts"), "%s", row);
        return check_done();
    }
    CHECK(amd ? r.celsius == (strcmp(wrong, "slow") ? 55.5 : 44) && r.busy == 88 : r.celsius == 66 && r.busy == 77, "%g C, %g %%", r.celsius, r.busy);
    CHECK(strstr(row, "celsius") && strstr(row, "busy %"), "%s", row);
    flags ^= PERF_GPU_TABLE_AMD;                /* the other library was not asked for in this process */
    r = run("0000:3b:00.0", 0);
    CHECK(r.status == PERF_OK && r.joules == 0 && !r.sm_mhz_low, "another's meters: %g J", r.joules);
    flags ^= PERF_GPU_TABLE_AMD;

    roctx = dlopen("librocprofiler-sdk-roctx.so.1", RTLD_NOW);
    CHECK(roctx != NULL, "%s", dlerror());
    found = roctx ? dlsym(roctx, "roctx_profiling") : NULL;
    profiling = (int *)found;
    r = run("0000:3b:00.0", 1);
    CHECK(r.status == PERF_ENODATA && r.iterations == 1 && !r.code, "%s", r.text);
    CHECK(profiling && profiled == amd && *profiling == (amd ? -1 : 0), "the body saw %d", profiled);
    return check_done();
}
