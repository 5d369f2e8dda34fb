/* One process writes a histogram in shared memory while others read it: no snapshot may ever be
 * impossible.  The writers are killed at a random moment, as a crash would do it.
 * Forms: fixed with add, caller-owned 32-bit with add32, shared by two writers.             */
#define _DEFAULT_SOURCE 1
#include "samples.h"
#include "../check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVE, ADD32, SHARED };

#define LEAST UINT64_C(20)
#define MOST  UINT64_C(5000000)

static void write_forever(perf_hist *h, int way, uint64_t seed)
{
    rng r = {seed};

    for (;;) {
        uint64_t v = LEAST + rng_magnitude(&r, 22) % (MOST - LEAST);
        if (way == LIVE)
            perf_hist_add(h, v);
        else if (way == ADD32)
            perf_hist_add_own(h, v);
        else
            perf_hist_add_shared(h, v);
    }
}

static void check_snapshot(const perf_hist *s, int way, uint64_t *seen)
{
    static const double q[] = {0.0, 0.5, 0.9, 0.99, 0.999, 1.0};
    double              out[6], before = 0.0, mean, std;
    uint64_t            n = perf_hist_count(s);
    int                 i;

    CHECK(n >= *seen, "way %d: count went from %lu to %lu", way, *seen, n);
    *seen = n;
    if (n == 0) {
        CHECK(perf_hist_quantile(s, 1) == PERF_HIST_NO_DATA, "way %d: empty", way);
        return;
    }
    for (i = 0; i < 6; i++) {
        out[i] = perf_hist_quantile(s, q[i]);
        CHECK(out[i] >= 20.0 && out[i] <= 5e6, "way %d: q %g is %g of %lu", way, q[i], out[i], n);
        CHECK(out[i] >= before, "way %d: q %g is %g after %g", way, q[i], out[i], before);
        before = out[i];
    }
    mean = perf_hist_mean(s);
    std = perf_hist_std(s);
    CHECK(mean >= out[0] && mean <= out[5], "way %d: mean %g", way, mean);
    CHECK(std >= 0.0 && std <= out[5] - out[0] + 1e-9, "way %d: std %g", way, std);
    CHECK(perf_hist_lost(s) == 0 && hist_over(s) == 0,
          "way %d: nothing else", way);
}

static void one_round(int way, uint64_t seed)
{
    perf_hist_opts  o = PERF_ZERO;
    size_t          bytes;
    void           *mem, *copy;
    perf_hist      *h, *s;
    pid_t           pid[2];
    uint64_t        seen = 0;
    struct timespec t0, t;
    int             i, writers = way == SHARED ? 2 : 1, reads = 0, killed = 0;

    o.bits = 6;
    bytes = way == LIVE ? sizeof(perf_hist) : perf_hist_bytes(&o);
    mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    copy = calloc(1, bytes);
    h = way == LIVE ? perf_hist_attach(mem, bytes) : perf_hist_init(mem, bytes, &o);
    s = way == LIVE ? perf_hist_attach(copy, bytes) : perf_hist_init(copy, bytes, &o);
    CHECK(mem != MAP_FAILED && h && s, "set-up");
    for (i = 0; i < writers; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            write_forever(h, way, seed + (uint64_t)i * 1000);
    }
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (;;) {
        double seconds;
        CHECK(perf_hist_copy(s, h) == PERF_OK, "snapshot");
        check_snapshot(s, way, &seen);
        reads++;
        clock_gettime(CLOCK_MONOTONIC, &t);
        seconds = (double)(t.tv_sec - t0.tv_sec) +
                  (double)(t.tv_nsec - t0.tv_nsec) * 1e-9;
        if (killed)
            break;
        if (seconds > 0.1 + (double)(seed % 7) * 0.013 && seen > 0) {
            for (i = 0; i < writers; i++) {
                kill(pid[i], SIGKILL);
                waitpid(pid[i], NULL, 0);
            }
            killed = 1;                         /* one more look at what the crash left            */
        }
    }
    CHECK(perf_hist_attach(mem, bytes) == h, "what a killed writer left can still be attached");
    printf("way %d seed %lu: %d reads, %lu values\n", way, seed, reads, seen);
    munmap(mem, bytes);
    free(copy);
}

int main(void)
{
    uint64_t seed;

    for (seed = 1; seed <= 4; seed++) {
        one_round(LIVE, seed);
        one_round(ADD32, seed);
        one_round(SHARED, seed);
    }
    return check_done();
}
