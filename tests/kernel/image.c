/* What comes back from a device may be anything: cut short, half written, not ours.  The decoder and the
 * trace writer stay within it (run under the sanitizers), end soon, and say the same number of events.
 *
 *     image [SEED]                                                                                */
#include "machine.h"
#include "../check.h"

#include <time.h>

static uint64_t seed;

static uint64_t next(void)              /* xorshift64*                                            */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

/* A run with everything in it: full rings, one left open, instants. */
static memory a_run(void)
{
    memory   x;
    uint32_t warp, i;

    m = machine_new();
    m.cycle_ns = 0.6;
    m.ahead[1] = UINT64_C(0xfffff0000);
    x = memory_new(12, 7, 0);
    for (warp = 0; warp < 15; warp++) {
        machine_sink s;
        m.sm = warp % 3;
        m.block[0] = warp;
        perf_kernel_open(&s, (perf_kernel_buffer *)x.device);
        for (i = 0; i < warp; i++) {
            perf_kernel_stamp begin = perf_kernel_begin();
            machine_run(3000);
            perf_kernel_end(&s, i, begin);
            perf_kernel_instant(&s, i, i);
        }
        if (warp != 7)
            perf_kernel_close(&s);
    }
    memory_back(&x);
    return x;
}

static uint64_t wild(void)              /* numbers that decoders get wrong                        */
{
    static const uint64_t edge[] = {0, 1, 2, 15, 16, 31, 32, 64, 4095, 4096, 0x7fffffff, 0x80000000,
                                    0xffffffff, UINT64_C(1) << 32, UINT64_C(1) << 40,
                                    UINT64_C(1) << 61, UINT64_C(1) << 62, UINT64_C(1) << 63};
    uint64_t r = next();

    switch (r % 4) {
    case 0: return edge[(r >> 8) % (sizeof edge / sizeof *edge)];
    case 1: return 0 - edge[(r >> 8) % (sizeof edge / sizeof *edge)];
    case 2: return (r >> 8) % 1000;
    default: return next();
    }
}

static void mutate(unsigned char *p, size_t bytes)
{
    size_t   front = sizeof(perf_kernel_buffer) + 12 * sizeof(perf_kernel_ring), at;
    uint64_t n = 1 + next() % 6, v;

    if (front > bytes)
        front = bytes;
    while (n-- && bytes) {
        switch (next() % 4) {
        case 0:                                 /* a field of the front or of a ring              */
            v = wild();
            at = next() % front / 8 * 8;
            if (at + 8 <= bytes && (at || next() % 16 == 0))
                memcpy(p + at, &v, 8);
            break;
        case 1:
            v = wild();
            at = next() % front / 4 * 4;
            if (at + 4 <= bytes && at >= 8)
                memcpy(p + at, &v, 4);
            break;
        case 2:                                 /* a word of a record                             */
            v = wild();
            at = next() % bytes / 4 * 4;
            if (at + 4 <= bytes && at >= 8)
                memcpy(p + at, &v, 4);
            break;
        default:
            p[next() % bytes] ^= (unsigned char)(1u << next() % 8);
        }
    }
}

/* A million warps on one SM that never end: sorting them into tracks must not take hours. */
static void a_long_image(void)
{
    uint32_t          n = 1u << 20, i;
    size_t            bytes = perf_kernel_bytes(n, 1);
    void             *image = malloc(bytes);
    uint64_t          to[4];
    perf_kernel_ring *ring;
    perf_kernel_info  info;
    void             *at = (void *)(((uintptr_t)to + 15) & ~(uintptr_t)15);

    if (!image) {
        printf("no memory for a long image\n");
        return;
    }
    CHECK(perf_kernel_prepare(image, bytes, at, n, 1, 0) == PERF_OK, "prepare");
    ring = (perf_kernel_ring *)(void *)((perf_kernel_buffer *)image + 1);
    ((perf_kernel_buffer *)image)->next = n;
    for (i = 0; i < n; i++) {
        ring[i].state = 2;
        ring[i].opened = next() % 1000000;
        ring[i].closed = i % 2 ? ring[i].opened + next() % 100 : UINT64_C(1) << 40;
    }
    CHECK(perf_kernel_decode(image, bytes, NULL, 0, &info) == PERF_OK && info.rings == n &&
          info.sms == 1 && info.tracks <= 128, "%u rings, %u tracks", info.rings, info.tracks);
    free(image);
}

int main(int argc, char **argv)
{
    static perf_kernel_event out[4096];
    memory   x = a_run();
    int      i, ok = 0, refused = 0;
    char     name[64];

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL) * 2 + 1;
    printf("seed %llu\n", (unsigned long long)seed);
    snprintf(name, sizeof name, "image-%llu.json", (unsigned long long)seed);
    for (i = 0; i < 30000; i++) {
        size_t           bytes = next() % 3 ? x.bytes : next() % (x.bytes + 1);
        unsigned char   *p = malloc(bytes + !bytes);    /* exactly as long: the sanitizer sees more */
        perf_kernel_info info;
        perf_status      status;
        uint64_t         given = 0, k;

        if (!p)
            return 1;
        memcpy(p, x.image, bytes);
        if (bytes >= sizeof(perf_kernel_buffer) && next() % 2) {
            uint64_t b = bytes;                 /* one that claims to be whole                    */
            memcpy(p + offsetof(perf_kernel_buffer, bytes), &b, 8);
        }
        mutate(p, bytes);
        memset(out, 0xff, sizeof out);
        status = perf_kernel_decode(p, bytes, out, 4096, &info);
        CHECK(status == PERF_OK || status == PERF_EFORMAT, "mutation %d: %d", i, status);
        while (given < 4096 && out[given].id != ~0u)
            given++;
        CHECK(given == (status == PERF_OK && info.events < 4096 ? info.events
                        : status == PERF_OK ? 4096 : 0), "mutation %d: %d events of %d", i,
              (int)given, (int)info.events);
        for (k = 0; k < given; k++)
            CHECK(out[k].id <= 4095 && out[k].instant <= 1 && out[k].track < 128, "mutation %d", i);
        ok += status == PERF_OK;
        refused += status != PERF_OK;
        if (i % 50 == 0) {
            CHECK(perf_kernel_trace_save(name, p, bytes, NULL, 0, (int64_t)wild()) == status,
                  "mutation %d: the trace says otherwise", i);
            remove(name);
        }
        free(p);
    }
    CHECK(ok > 5000 && refused > 1500, "%d decoded, %d refused: both matter", ok, refused);
    printf("%d decoded, %d refused\n", ok, refused);
    a_long_image();
    memory_free(&x);
    return check_done();
}
