/* A file that knows nothing of NVTX. */
#include "perf.h"
#include "scopes.h"

static void thrower()
{
    PERF_SCOPE("thrower");
    throw 1;
}

void in_cpp(void)
{
    PERF_FUNCTION();
    try {
        perf::scope named("named");
        thrower();
    } catch (int) {
        PERF_INSTANT("caught");
    }
}
