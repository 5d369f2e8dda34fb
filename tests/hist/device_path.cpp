/* The code that a kernel runs, compiled for the host: the device branches of the header with a
 * host stand-in for each of the three device functions they use.  Every value must land in the
 * bucket that the host's own record chose.                                                       */
static inline int __clzll(long long v)
{
    unsigned long long u = static_cast<unsigned long long>(v);
    int n = 0;
    while (n < 64 && !(u >> 63)) {
        u <<= 1;
        n++;
    }
    return n;
}

template <class T, class U> static inline T atomicAdd(T *p, U n)
{
    T old = *p;
    *p = static_cast<T>(old + static_cast<T>(n));
    return old;
}

template <class T, class U> static inline T atomicMax(T *p, U v)
{
    T old = *p;
    if (static_cast<T>(v) > old)
        *p = static_cast<T>(v);
    return old;
}

#define __CUDA_ARCH__ 900
#include "perf_stats.h"
#undef __CUDA_ARCH__

#include "samples.h"
#include "../check.h"

#include <stdlib.h>
#include <string.h>

int main()
{
    rng r = {101};

    printf("seed 101\n");
    for (int bits = 0; bits <= 14; bits++) {
        perf_hist_opts o = PERF_ZERO;
        o.bits = bits ? bits : 7;
        size_t     bytes = bits ? perf_hist_bytes(&o) : sizeof(perf_hist);
        void      *m = calloc(1, bytes), *n = calloc(1, bytes);
        perf_hist *device = bits ? perf_hist_init(m, bytes, &o) : perf_hist_attach(m, bytes);
        perf_hist *host = bits ? perf_hist_init(n, bytes, &o) : perf_hist_attach(n, bytes);
        for (int i = 0; i < 100000; i++) {
            uint64_t v = i < 70000 ? rng_magnitude(&r, 64) : static_cast<uint64_t>(i - 70000);
            perf_hist_add_shared(device, v);
            if (bits)
                perf_hist_add_own(host, v);
            else
                perf_hist_add(host, v);
        }
        CHECK(!memcmp(hist_cells(device), hist_cells(host),
                      hist_cell_bytes(host)), "bits %d: counters", bits);
        CHECK(perf_hist_count(device) == perf_hist_count(host) &&
                  perf_hist_quantile(device, 0) == perf_hist_quantile(host, 0) &&
                  perf_hist_quantile(device, 1) == perf_hist_quantile(host, 1) &&
                  hist_over(device) == hist_over(host) &&
                  perf_hist_lost(device) == perf_hist_lost(host), "bits %d: head", bits);
        free(m);
        free(n);
    }
    return check_done();
}
