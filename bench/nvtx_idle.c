/* What a pair of perf_nvtx_push and perf_nvtx_pop costs while no tool is attached, in cycles, beside
 * NVIDIA's own nvtxRangePushA and nvtxRangePop.
 *
 *     cc -O2 -falign-loops=32 -I. -isystem /usr/local/cuda/include bench/nvtx_idle.c -o nvtx_idle -ldl
 *     ./nvtx_idle
 *
 * The unit is a dependent addition, one cycle on every current processor, timed in the same rounds: so
 * clock rate and turbo cancel.  Each number is the least of 4,000 rounds of 200 pairs, less the loop
 * around nothing, the four loops taking turns.                                                    */
#define PERF_NVTX 1
#include "perf_nvtx.h"

#include <nvtx3/nvToolsExt.h>

enum { PAIRS = 200, ROUNDS = 4000, KINDS = 4 };

#define LOOP(name, body)                                                                          \
    static PERF_ATTR_((__noinline__)) void name(void)                                             \
    {                                                                                             \
        int n;                                                                                    \
        for (n = 0; n < PAIRS; n++) {                                                             \
            body;                                                                                 \
            perf_clobber();                                                                       \
        }                                                                                         \
    }
LOOP(nothing, (void)0)
LOOP(ours, perf_nvtx_push("pair"); perf_nvtx_pop())
LOOP(nvidia, nvtxRangePushA("pair"); nvtxRangePop())

/* 64 additions that wait for each other a round: longer than what an out-of-order machine hides. */
static PERF_ATTR_((__noinline__)) void additions(void)
{
    uint64_t x = 1, n;

    for (n = 0; n < PAIRS; n++) {
#define ADD4 __asm__ __volatile__("add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0" : "+r"(x));
#if defined(__x86_64__)
        ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4 ADD4
#else
#error "the unit is written for x86-64"
#endif
    }
}

int main(void)
{
    static void (*const loop[KINDS])(void) = {nothing, ours, nvidia, additions};
    uint64_t best[KINDS] = {0, 0, 0, 0}, t;
    double   cycle;
    int      round, k;

    perf_nvtx_push("first");                    /* finds that there is no tool                    */
    perf_nvtx_pop();
    for (round = 0; round < ROUNDS; round++)
        for (k = 0; k < KINDS; k++) {
            t = perf_ticks();
            loop[k]();
            t = perf_ticks() - t;
            best[k] = !best[k] || t < best[k] ? t : best[k];
        }
    cycle = (double)best[3] / (64.0 * PAIRS);
    printf("a cycle is %.3f ticks; a pair: ours %.2f cycles, NVIDIA's %.2f, the loop around it %.2f\n",
           cycle, ((double)best[1] - (double)best[0]) / PAIRS / cycle,
           ((double)best[2] - (double)best[0]) / PAIRS / cycle, (double)best[0] / PAIRS / cycle);
    return 0;
}
