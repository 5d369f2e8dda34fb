/* A shared object with scopes of its own; built several times with another NAME. */
#include "perf.h"

#ifdef __cplusplus
extern "C"
#endif
PERF_ATTR_((__visibility__("default"))) int run(int n);

int run(int n)
{
    int i;

    for (i = 0; i < n; i++) {
        PERF_SCOPE("shared");
        {
            PERF_SCOPE(NAME);
            perf_clobber();
        }
    }
    return perf_error() == PERF_OK;
}
