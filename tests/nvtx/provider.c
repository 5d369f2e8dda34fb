/* The one file of the program that asks for ranges. */
#if defined(ROCTX)
#define PERF_ROCTX 1
#else
#define PERF_NVTX 1
#endif
#include "perf.h"
