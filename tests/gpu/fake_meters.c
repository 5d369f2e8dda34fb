/* A stand-in for libnvidia-ml.so.1 and for librocm_smi64.so: each knows devices by their place, and
 * says other numbers than the other.  The counter of energy moves by 1 J (NVML) or by 2 J (SMI) from
 * one question to the next.  FAKE_METERS says what is wrong with it:
 *     poor      no temperature, no utilisation
 *     back      the counter of energy runs backwards
 *     twice     it moves twice, then never again
 *     absurd    all bits are ones: of each third count of energy, of temperature and utilisation
 *     slow      a call takes 3 ms; SMI has the sensor at the edge, too
 *     dead      every reading fails
 *     mute      no reasons for a low clock
 *     asleep    it cannot be started                                                             */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static int is(const char *mode)
{
    const char *now = getenv("FAKE_METERS");

    if (now && !strcmp(now, "slow"))
        (void)usleep(3000);
    return now && !strcmp(now, mode);
}

/* The counter of energy: how often was it asked? */
static uint64_t asked(void)
{
    static uint64_t n = 7, steps;

    if (is("back"))
        return 1000000 - n++;
    if (is("twice"))
        return 1000 + (steps < 3 ? ++steps : steps);
    return n++;
}

/* ---- NVML: one device, on bus 3b ---- */

static int device;

API int nvmlInit_v2(void)
{
    return is("asleep") ? 999 : 0;
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle)
{
    if (strcmp(bus, "0000:3b:00.0") != 0)
        return 6;                               /* NVML_ERROR_NOT_FOUND */
    *handle = &device;
    return 0;
}

API int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz)
{
    *mhz = 1234;
    return d != &device || which != 1 || is("dead");    /* 1: the SMs */
}

API int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *why)
{
    if (d != &device || is("mute"))
        return 3;
    *why = 1;                                   /* idle: no reason to take a sample again */
    return 0;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj)
{
    const uint64_t n = asked();

    *mj = is("absurd") && n % 3 == 0 ? ~0ull : 1000 * n;
    return d != &device || is("dead");
}

API int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *now)
{
    *now = is("absurd") ? ~0u : 66;
    return d != &device || sensor || is("poor") || is("dead");
}

API int nvmlDeviceGetUtilizationRates(void *d, unsigned now[2])
{
    now[0] = is("absurd") ? ~0u : 77;
    now[1] = 5;
    return d != &device || is("poor") || is("dead");
}

/* ---- ROCm SMI: 0 cannot be asked, 1 is another domain, 2 and 3 are parts of the one on bus 3b.  No
 * sensor at the edge of the chip. ---- */

API int rsmi_init(uint64_t flags)
{
    return flags != UINT64_C(0x400000000000000) || is("asleep");        /* locks of this process */
}

API int rsmi_dev_pci_id_get(uint32_t d, uint64_t *place)
{
    static const uint64_t known[4] = {0, UINT64_C(0x100003b00), UINT64_C(0x3b00), UINT64_C(0x10003b01)};

    if (d < 1 || d > 3)
        return 1;                               /* RSMI_STATUS_INVALID_ARGS */
    *place = known[d];
    return 0;
}

API int rsmi_dev_energy_count_get(uint32_t d, uint64_t *count, float *step_uj, uint64_t *when)
{
    const uint64_t n = asked();

    *count = is("absurd") && n % 3 == 0 ? ~UINT64_C(0) : n << 17;
    *step_uj = 15.2587890625f;
    *when = 0;
    return d != 2 || is("dead");
}

API int rsmi_dev_temp_metric_get(uint32_t d, uint32_t sensor, int metric, int64_t *now)
{
    if (d != 2 || (sensor != 1 && !is("slow")) || metric || is("poor") || is("dead"))
        return 2;                               /* RSMI_STATUS_NOT_SUPPORTED */
    *now = is("absurd") ? -1 : sensor ? 55500 : 44000;
    return 0;
}

API int rsmi_dev_busy_percent_get(uint32_t d, uint32_t *percent)
{
    *percent = is("absurd") ? ~0u : 88;
    return d != 2 || is("poor") || is("dead");
}
