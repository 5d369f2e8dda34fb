/* The promised thread rules under ThreadSanitizer: a writer with each live record, a reader that
 * snapshots, no data race and the right count in the end.                                        */
#include "samples.h"
#include "../check.h"

#include <pthread.h>
#include <stdlib.h>

#define N 300000

static perf_hist  fixed, fixed_shared;
static perf_hist *small, *small_shared;

static void *owner(void *arg)
{
    rng r = {71};
    int i;

    (void)arg;
    for (i = 0; i < N; i++) {
        uint64_t v = rng_magnitude(&r, 64);
        perf_hist_add(&fixed, v);
        perf_hist_add_own(small, v);
    }
    return NULL;
}

static void *sharer(void *arg)
{
    rng r = {(uintptr_t)arg};
    int i;

    for (i = 0; i < N; i++) {
        uint64_t v = rng_magnitude(&r, 64);
        perf_hist_add_shared(&fixed_shared, v);
        perf_hist_add_shared(small_shared, v);
    }
    return NULL;
}

int main(void)
{
    static perf_hist copy;
    perf_hist_opts   o = PERF_ZERO;
    size_t           bytes = perf_hist_bytes(&o);
    perf_hist       *small_copy = perf_hist_init(malloc(bytes), bytes, &o);
    pthread_t        t[3];
    uint64_t         n[4], last[4] = {0, 0, 0, 0};
    int              i, k;

    small = perf_hist_init(malloc(bytes), bytes, &o);
    small_shared = perf_hist_init(malloc(bytes), bytes, &o);
    pthread_create(&t[0], NULL, owner, NULL);
    pthread_create(&t[1], NULL, sharer, (void *)((uintptr_t)81));
    pthread_create(&t[2], NULL, sharer, (void *)((uintptr_t)82));
    for (i = 0; i < 200; i++) {
        perf_hist_copy(&copy, &fixed);
        n[0] = perf_hist_count(&copy);
        perf_hist_copy(small_copy, small);
        n[1] = perf_hist_count(small_copy);
        perf_hist_copy(&copy, &fixed_shared);
        n[2] = perf_hist_count(&copy);
        perf_hist_copy(small_copy, small_shared);
        n[3] = perf_hist_count(small_copy);
        for (k = 0; k < 4; k++) {
            CHECK(n[k] >= last[k] && n[k] <= 2 * N, "%d: from %lu to %lu", k, last[k], n[k]);
            last[k] = n[k];
        }
    }
    for (i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    CHECK(perf_hist_count(&fixed) + perf_hist_lost(&fixed) == N, "fixed");
    CHECK(perf_hist_count(small) + perf_hist_lost(small) == N, "32-bit");
    CHECK(perf_hist_count(&fixed_shared) + perf_hist_lost(&fixed_shared) == 2 * N, "shared");
    CHECK(perf_hist_count(small_shared) + perf_hist_lost(small_shared) == 2 * N, "shared 32-bit");
    CHECK(perf_hist_lost(&fixed) == perf_hist_lost(small) && perf_hist_lost(small) > 0,
          "lost");
    free(small);
    free(small_shared);
    free(small_copy);
    return check_done();
}
