/* perf_gpu_meters.h - what does a device say of itself? its clock, joules, heat, how busy it is.
 *
 * NVML for devices of NVIDIA, ROCm SMI for those of AMD, found at run time; or what a table of
 * perf_gpu_driver.h has.  ROCm SMI has met no hardware yet, only a stand-in.
 * For the library itself.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_GPU_METERS_H
#define PERF_GPU_METERS_H

#include "perf_gpu_driver.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_gpu_clock_   the SM clock, and why it is not higher; 0, or nonzero where nobody knows
 *   perf_gpu_meter_   joules, degrees Celsius or percent at work; negative: nobody knows         */

enum { PERF_GPU_JOULES_ = 0, PERF_GPU_CELSIUS_ = 1, PERF_GPU_BUSY_ = 2 };       /* what is asked */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* What is used of NVML, which every driver of NVIDIA brings along, or of AMD's ROCm SMI. */
typedef struct perf_gpu_meters_ {
    int   (*init)(void);
    int   (*by_address)(const char *bus, void **device);
    int   (*clock)(void *device, int which, unsigned *mhz);         /* which 1: of the SMs */
    int   (*reasons)(void *device, unsigned long long *why);
    int   (*energy)(void *device, unsigned long long *mj);
    int   (*celsius)(void *device, int sensor, unsigned *now);      /* sensor 0: the chip's */
    int   (*busy)(void *device, unsigned percent[2]);       /* the second: of the memory */
    int   (*smi_init)(uint64_t flags);
    int   (*smi_place)(uint32_t device, uint64_t *place);
    int   (*smi_energy)(uint32_t device, uint64_t *count, float *step_uj, uint64_t *when);
    int   (*smi_celsius)(uint32_t device, uint32_t sensor, int what, int64_t *thousandths);
    int   (*smi_busy)(uint32_t device, uint32_t *percent);
    uint32_t amd, usable;       /* amd: ROCm SMI was asked for */
    void *device[64];           /* NVML's, or SMI's number and 1, by ours; NULL: not asked */
} perf_gpu_meters_;

#define PERF_GPU_METERS_(X)                                                                       \
    X(init, "nvmlInit_v2") X(by_address, "nvmlDeviceGetHandleByPciBusId_v2")                      \
    X(clock, "nvmlDeviceGetClockInfo") X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons")    \
    X(reasons, "nvmlDeviceGetCurrentClocksEventReasons")                                          \
    X(energy, "nvmlDeviceGetTotalEnergyConsumption") X(celsius, "nvmlDeviceGetTemperature")       \
    X(busy, "nvmlDeviceGetUtilizationRates") X(smi_init, "rsmi_init")                             \
    X(smi_place, "rsmi_dev_pci_id_get") X(smi_energy, "rsmi_dev_energy_count_get")                \
    X(smi_celsius, "rsmi_dev_temp_metric_get") X(smi_busy, "rsmi_dev_busy_percent_get")
#define PERF_GPU_METER_(field, name) perf_library_symbol_(library, "", name, &meters->field);
#define PERF_GPU_SMI_THREADS_ (UINT64_C(1) << 58)       /* RSMI_INIT_FLAG_THRAD_ONLY_MUTEX */

/* 1: it has what is needed of it, and has started. */
PERF_COLD_FN_ int perf_gpu_meters_start_(const perf_gpu_meters_ *meters)
{
    if (meters->amd) {
        if (!meters->smi_init || !meters->smi_place || !meters->smi_energy ||
            !meters->smi_celsius || !meters->smi_busy)
            return 0;
        return !meters->smi_init(PERF_GPU_SMI_THREADS_);
    }
    return meters->init && meters->by_address && meters->clock && !meters->init();
}

/* NVML, or (amd 1) SMI; NULL: not to be had, or another thread is loading it.  Loaded and
 * started once in the process: tens of ms, no lock held.  Never stopped: others may use it.  SMI
 * gets a flag that keeps its locks within this process, as one that dies would never give them
 * back. */
PERF_COLD_FN_ perf_gpu_meters_ *perf_gpu_meters_get_(uint32_t amd)
{
    static const char *const name[2][6] = {
        {"libnvidia-ml.so.1"},
        {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1",
         "librocm_smi64.so"}};
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    perf_gpu_meters_ *meters = PERF_NULL_;
    void             *library = PERF_NULL_;

    if (driver)
        meters = PERF_CAST_(perf_gpu_meters_ *, PERF_ACQ_(&driver->meters));
    if (meters && meters->usable && meters->amd == amd)
        return meters;
    if (meters || !driver || !perf_claim_(&driver->meters_asked, 0, 1))
        return PERF_NULL_;
    meters = PERF_CAST_(perf_gpu_meters_ *, perf_pages_(sizeof *meters, 0));
    if (meters)
        library = perf_library_open_(name[amd]);
    if (library) {
        PERF_GPU_METERS_(PERF_GPU_METER_)
        meters->amd = amd;
        meters->usable = PERF_CAST_(uint32_t, perf_gpu_meters_start_(meters));
    }
    PERF_REL_(&driver->meters, PERF_CAST_(void *, meters));
    if (!meters || !meters->usable)
        return PERF_NULL_;
    return meters;
}

/* "0000:3b:00.0" as a number, up to the dot: domain << 16 | bus << 8 | device. */
PERF_COLD_FN_ uint64_t perf_gpu_place_of_(const char *bus)
{
    uint64_t place = 0;

    for (; *bus && *bus != '.'; bus++) {
        if (*bus == ':')
            continue;
        place = place * 16 + PERF_CAST_(uint64_t, *bus & 15);
        if (*bus > '9')
            place += 9;
    }
    return place;
}

/* The device in that place: SMI's number of it, plus 1; NULL: none.  Behind the dot stands the part
 * of a divided device.  The first part has the meters of all.  SMI's places: domain << 32 |
 * bus << 8 | device << 3 | ... */
PERF_COLD_FN_ void *perf_gpu_smi_at_(const perf_gpu_meters_ *meters, uint64_t want)
{
    uint64_t bits, place;
    uint32_t i;

    for (i = 0; i < 64; i++) {
        if (meters->smi_place(i, &bits))
            continue;
        place = bits >> 32 << 16 | (bits & 0xff00) | (bits >> 3 & 31);
        if (place == want)
            return PERF_PTR_(void *, PERF_CAST_(uintptr_t, i) + 1);
    }
    return PERF_NULL_;
}

/* The handle of a device, and *meters, who knows it; NULL: not to be had. */
PERF_COLD_FN_ void *perf_gpu_meters_of_(const perf_gpu_backend *backend, int device,
                                        perf_gpu_meters_ **meters)
{
    perf_gpu_meters_ *found = PERF_NULL_;
    char              bus[32] = "";
    void             *handle = PERF_NULL_;

    if (!(backend->flags & PERF_GPU_TABLE_SIMULATED))
        found = perf_gpu_meters_get_((backend->flags & PERF_GPU_TABLE_AMD) != 0);
    *meters = found;
    if (!found || device < 0 || device >= 64 || !backend->device_bus)
        return PERF_NULL_;
    handle = PERF_ACQ_(&found->device[device]);
    if (handle || backend->device_bus(bus, 32, device))
        return handle;
    if (found->amd)
        handle = perf_gpu_smi_at_(found, perf_gpu_place_of_(bus));
    else if (found->by_address(bus, &handle))
        return PERF_NULL_;
    PERF_REL_(&found->device[device], handle);
    return handle;
}

/* The SM clock of a device now, and why it is not higher: 0, or nonzero where nobody knows.  The
 * first call may load NVML, tens of ms; no lock.                                                 */
PERF_COLD_FN_ int perf_gpu_clock_(const perf_gpu_backend *backend, int device, unsigned *mhz,
                                  uint64_t *why)
{
    perf_gpu_meters_  *meters = PERF_CAST_(perf_gpu_meters_ *, PERF_NULL_);
    void              *handle;
    unsigned long long bits = 0;

    if (backend->device_clock)
        return backend->device_clock(device, mhz, why);
    if (backend->flags & PERF_GPU_TABLE_AMD)
        return 1;
    handle = perf_gpu_meters_of_(backend, device, &meters);
    if (!handle || meters->clock(handle, 1, mhz))
        return 1;
    if (meters->reasons && !meters->reasons(handle, &bits))
        *why = bits;
    return 0;
}

/* See perf_gpu_meter_.  Sensor 0 is at the edge of the chip; some chips have only 1, the hottest
 * point. */
PERF_COLD_FN_ double perf_gpu_smi_meter_(const perf_gpu_meters_ *meters, uint32_t at, int what)
{
    uint64_t count = 0, when;
    uint32_t percent = 0;
    int64_t  heat = 0;
    float    uj = 0;

    if (what == PERF_GPU_JOULES_ && !meters->smi_energy(at, &count, &uj, &when))
        return PERF_CAST_(double, count) * PERF_CAST_(double, uj) * 1e-6;
    if (what == PERF_GPU_CELSIUS_ && (!meters->smi_celsius(at, 0, 0, &heat) ||
                                      !meters->smi_celsius(at, 1, 0, &heat)))
        return PERF_CAST_(double, heat) * 1e-3;
    if (what == PERF_GPU_BUSY_ && !meters->smi_busy(at, &percent))
        return percent;
    return -1.0;
}

/* One value of a device, now.  what: PERF_GPU_JOULES_ and so on, as device_meter has them.
 * Negative: nobody knows. */
PERF_COLD_FN_ double perf_gpu_meter_(const perf_gpu_backend *backend, int device, int what)
{
    perf_gpu_meters_  *meters;
    void              *handle;
    unsigned long long mj = 0;
    unsigned           now[2] = {0, 0};
    double             value = -1.0;

    if (backend->device_meter && backend->device_meter(device, what, &value))
        return -1.0;                            /* it may have written `value` all the same */
    if (backend->device_meter)
        return value;
    handle = perf_gpu_meters_of_(backend, device, &meters);
    if (!handle)
        return -1.0;
    if (meters->amd)
        return perf_gpu_smi_meter_(meters, PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, handle)) - 1,
                                   what);
    if (what == PERF_GPU_JOULES_ && meters->energy && !meters->energy(handle, &mj))
        return PERF_CAST_(double, mj) * 1e-3;
    if (what == PERF_GPU_CELSIUS_ && meters->celsius && !meters->celsius(handle, 0, now))
        return now[0];
    if (what == PERF_GPU_BUSY_ && meters->busy && !meters->busy(handle, now))
        return now[0];
    return -1.0;
}

PERF_END_DECLS
#endif /* PERF_GPU_METERS_H */
