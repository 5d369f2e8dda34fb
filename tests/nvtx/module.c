/* A shared object that knows nothing of NVTX; the test loads it RTLD_LOCAL. */
#include "perf.h"
#include "scopes.h"

__attribute__((__visibility__("default"))) in_module work;
void work(int n)
{
    while (n--) {
        PERF_SCOPE("io: module");
    }
}
