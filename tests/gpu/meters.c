/* NVML's clocks and meters, as an energy loop reads them; with -DFAKE the stand-in for NVML, built as
 * libnvidia-ml.so.1: one device, on bus 3b, that takes 1 J from one question to the next.          */
#ifdef FAKE
#include <string.h>
#define API __attribute__((visibility("default")))

static int device;

API int nvmlInit_v2(void) { return 0; }
API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle)
{
    if (strcmp(bus, "0000:3b:00.0") != 0)
        return 6;
    *handle = &device;
    return 0;
}
API int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz)
{
    *mhz = 1234;
    return d != &device || which != 1;
}
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *why)
{
    *why = 1;
    return d != &device;
}
API int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj)
{
    static unsigned long long asked = 7;
    *mj = 1000 * asked++;
    return d != &device;
}
API int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *now)
{
    *now = 66;
    return d != &device || sensor;
}
API int nvmlDeviceGetUtilizationRates(void *d, unsigned now[2])
{
    now[0] = 77;
    now[1] = 5;
    return d != &device;
}
#else
#define PERF_CLOCK_FN sim_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "check.h"

static const char *place;

static int bus_of(char *text, int length, int device)
{
    snprintf(text, (size_t)length, "%s", place);
    return device;
}

static perf_gpu_result run(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = perf_gpu_bench_opts_default();
    perf_gpu_bench          b;
    perf_stream             stream;
    perf_gpu_result         r;

    sim_reset();
    t = sim_table();
    t.flags = 0;
    t.name = "not simulated";
    t.error_waits = NULL;
    t.device_clock = NULL;
    t.device_meter = NULL;
    t.device_bus = bus_of;
    (void)perf_gpu_use(&t);
    stream = sim_stream(0);
    o.energy = 1;
    b = perf_gpu_bench_begin("metered", stream, &o);
    while (perf_gpu_bench_next(&b))
        (void)sim_work(stream, 20000);
    r = perf_gpu_bench_end(&b);
    sim_stop();
    return r;
}

int main(void)
{
    perf_gpu_result r;

    place = "0000:99:00.0";                     /* NVML does not know it */
    r = run();
    CHECK(r.status == PERF_OK && r.time.count >= 30 && !r.sm_mhz_low && r.joules == 0, "%g J", r.joules);
    place = "0000:3b:00.0";
    r = run();
    CHECK(r.status == PERF_OK && r.sm_mhz_low == 1234 && r.throttle == 1 && !r.throttled, "%u MHz", r.sm_mhz_low);
    CHECK(r.celsius == 66 && r.busy == 77, "%g C, %g %%", r.celsius, r.busy);
    CHECK(r.watts > 50 && r.watts < 150, "1 J in some 10 ms: %g W", r.watts);
    CHECK(r.joules_low < r.watts * 20e-6 && r.joules_high > r.watts * 20e-6, "%g to %g J", r.joules_low, r.joules_high);
    return check_done();
}
#endif
