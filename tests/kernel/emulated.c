/* The host's half of emulated.py: for each kernel of kernels.cu its arguments, and what must be in memory
 * after it.  The device is an emulator in this process: an address is the same for both.
 *
 * Its clock goes on by STEP a reading and by nothing else, so every duration is known. */
#include "perf_kernel.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { STEP = 7, UNIT = 37, WIDE = 32, THREADS = 64 /* emulated.hip */, BLOCKS = 3, WARPS = BLOCKS * THREADS / WIDE, ROUNDS = 10 };

typedef struct job {
    const char *kernel;
    unsigned    blocks, threads;
    void       *arguments;
} job;

static float             x[THREADS], y[THREADS];
static void             *memory;
static size_t            bytes;
static perf_kernel_total total;
static unsigned char     packed[64];
static unsigned          used;

static void start(void)
{
    unsigned i;

    for (i = 0; i < THREADS; i++)
        x[i] = y[i] = (float)(i % 4);
    memset(packed, 0, sizeof packed);
    used = 0;
}

/* One more argument of the kernel, aligned as its own type. */
static void pass(const void *value, unsigned size)
{
    used = (used + size - 1) / size * size;
    memcpy(packed + used, value, size);
    used += size;
}

static void buffer(uint32_t rings, uint32_t scopes)
{
    free(memory);
    bytes = perf_kernel_bytes(rings, scopes);
    memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    CHECK(perf_kernel_prepare(memory, bytes, memory, rings, scopes, 100000000) == PERF_OK, "prepare");
    pass(&memory, sizeof memory);
}

static void numbers(int rounds)
{
    const float factor = 2.0f;
    float      *at = x;

    pass(&at, sizeof at);
    pass(&factor, sizeof factor);
    if (rounds)
        pass(&rounds, sizeof rounds);
}

/* v = v * 2 + 2, so often, in each block one after the other. */
static void computed(int times)
{
    float want;
    int   i, k;

    for (i = 0; i < THREADS; i++) {
        for (want = (float)(i % 4), k = 0; k < times; k++)
            want = want * 2.0f + 2.0f;
        CHECK(x[i] < want + 1e-6f * want && x[i] > want - 1e-6f * want, "x[%d]: %g, not %g", i, (double)x[i], (double)want);
    }
}

/* So many warps left so many records each, with the times and places that the clock and the unit say. */
static perf_kernel_info records(unsigned warps, unsigned each)
{
    static perf_kernel_event e[1024];
    perf_kernel_info         info;
    unsigned                 i;

    CHECK(perf_kernel_decode(memory, bytes, e, 1024, &info) == PERF_OK, "decode");
    CHECK(info.events == (uint64_t)warps * each, "events: %llu", (unsigned long long)info.events);
    CHECK(info.malformed == 0 && info.unclosed == 0 && info.rings == warps, "rings: %u", info.rings);
    CHECK(info.sms == 1, "units: %u", info.sms);
    for (i = 0; i < info.events && i < 1024; i++) {
        CHECK(e[i].sm == UNIT, "unit %u", e[i].sm);
        CHECK(e[i].instant ? e[i].value == i % each : e[i].cycles == STEP, "record %u: %llu cycles", i,
              (unsigned long long)e[i].cycles);
        CHECK(e[i].block_x < BLOCKS && e[i].block_y == 0 && e[i].warp < THREADS / WIDE, "record %u: its place", i);
        CHECK(i % each == 0 || e[i].start_ns > e[i - 1].start_ns, "record %u: after the one before", i);
    }
    return info;
}

static void start_loop(void)
{
    buffer(WARPS, ROUNDS);
    numbers(ROUNDS);
}

static void check_loop(void)
{
    perf_kernel_info info = records(WARPS, ROUNDS);

    CHECK(info.dropped == 0 && info.missed_warps == 0, "dropped: %llu", (unsigned long long)info.dropped);
    computed(ROUNDS * BLOCKS);
}

/* A ring of 7 records for 20 scopes; two rings for six warps. */
static void start_full(void)
{
    buffer(2, 7);
    numbers(ROUNDS);
}

static void check_full(void)
{
    perf_kernel_info info = records(2, 7);

    CHECK(info.dropped == 2 * (2 * ROUNDS - 7), "dropped: %llu", (unsigned long long)info.dropped);
    CHECK(info.missed_warps == WARPS - 2, "missed: %llu", (unsigned long long)info.missed_warps);
    computed(2 * ROUNDS * BLOCKS);
}

static void start_ring(void)
{
    buffer(WARPS, 8);
    numbers(0);
}

static void check_ring(void)
{
    (void)records(WARPS, 8);
    computed(8 * BLOCKS);
}

static void start_moments(void)
{
    float *at = x;

    buffer(WARPS, 4);
    pass(&at, sizeof at);
}

static void check_moments(void)
{
    (void)records(WARPS, 4);
}

static void start_sum(void)
{
    perf_kernel_total *at = &total;

    memset(&total, 0, sizeof total);
    pass(&at, sizeof at);
    numbers(ROUNDS);
}

static void check_sum(void)
{
    CHECK(total.cycles == WARPS * ROUNDS * STEP, "cycles: %llu", (unsigned long long)total.cycles);
    CHECK(total.warps == WARPS && total.most == ROUNDS * STEP && total.wrapped == 0, "warps: %llu, most: %llu",
          (unsigned long long)total.warps, (unsigned long long)total.most);
    computed(ROUNDS * BLOCKS);
}

static void start_hist(void)
{
    free(memory);
    bytes = perf_hist_bytes(NULL);
    memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    CHECK(perf_hist_init(memory, bytes, NULL) != NULL, "histogram");
    pass(&memory, sizeof memory);
    numbers(0);
}

static void check_hist(void)
{
    const perf_hist *h = perf_hist_attach(memory, bytes);

    CHECK(perf_hist_count(h) == WARPS && perf_hist_lost(h) == 0, "values: %llu", (unsigned long long)perf_hist_count(h));
    CHECK(perf_hist_quantile(h, 0.5) > STEP - 0.01 && perf_hist_quantile(h, 0.5) < STEP + 0.01, "median: %g",
          perf_hist_quantile(h, 0.5));
    computed(BLOCKS);
}

static const struct { const char *kernel; void (*start)(void), (*check)(void); } jobs[] = {
    {"loop", start_loop, check_loop},    {"loop2", start_full, check_full}, {"ring", start_ring, check_ring},
    {"moments", start_moments, check_moments}, {"sumloop", start_sum, check_sum}, {"hist", start_hist, check_hist},
};

/* What to run next; kernel NULL: that was all. */
job emulated_start(unsigned i);
job emulated_start(unsigned i)
{
    job it = {NULL, BLOCKS, THREADS, packed};

    if (i < sizeof jobs / sizeof *jobs) {
        start();
        jobs[i].start();
        it.kernel = jobs[i].kernel;
    }
    return it;
}

void emulated_check(unsigned i);
void emulated_check(unsigned i)
{
    jobs[i].check();
}

int emulated_end(void);
int emulated_end(void)
{
    free(memory);
    return check_done();
}
