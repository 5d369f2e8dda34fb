/* A stand-in for libnvidia-ml.so.1, which knows one device by its place, and throttles it. */
#include <string.h>

#define API __attribute__((visibility("default")))

API int nvmlInit_v2(void) { return 0; }

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    static int there;

    if (strcmp(bus, "0000:3b:00.0"))
        return 6;                               /* NVML_ERROR_NOT_FOUND */
    *device = &there;
    return 0;
}

API int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
    (void)device;
    *mhz = which == 1 ? 1410 : 1;               /* 1: the SMs */
    return 0;
}

API int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *why)
{
    (void)device;
    *why = 4;                                   /* power cap */
    return 0;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
    (void)device;
    *mj = 2500;
    return 0;
}

API int nvmlDeviceGetTemperature(void *device, int which, unsigned *celsius)
{
    (void)device;
    *celsius = which == 0 ? 61 : 0;
    return 0;
}
