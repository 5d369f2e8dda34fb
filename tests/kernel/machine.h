/* A machine to play kernels on: perf_kernel.h asks it for everything that it would ask a GPU.
 * One warp at a time; its SM's counter and the common clock go on when machine_run says so.       */
#ifndef TESTS_KERNEL_MACHINE_H
#define TESTS_KERNEL_MACHINE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct perf_kernel_stamp;
struct perf_kernel_ring;
#define PERF_KERNEL_MACHINE_ 1
static inline struct perf_kernel_stamp perf_kernel_clock_(void);
static inline uint64_t                 perf_kernel_wall_(void);
static inline uint32_t                 perf_kernel_lane_(void);
static inline uint32_t                 perf_kernel_sm_(void);
static inline void                     perf_kernel_place_(struct perf_kernel_ring *r);
static inline uint64_t                 perf_kernel_claim_(uint64_t *next);
#include "perf_kernel.h"

typedef perf_kernel_out_ machine_sink;          /* what a warp writes into */

typedef struct machine {
    uint64_t cycles;                    /* since the machine started                              */
    uint64_t ahead[4];                  /* by which the counter of each SM is ahead of that       */
    uint64_t wall_ahead[8];             /* by which the common clock of each XCD is, ticks        */
    uint64_t claim;                     /* cycles from asking for a ring to the atomic operation, */
                                        /* and as many from there until its answer is there       */
    double   cycle_ns;
    uint64_t wall_base, wall_step;      /* common clock: ticks when it started, granularity       */
    double   wall_ns;                   /* ns of a tick                                           */
    uint32_t lane, sm, block[3], warp;
    void   (*looks)(void);              /* the host, whenever a clock is read; or NULL            */
} machine;
static machine m;

static inline machine machine_new(void)
{
    machine new_;

    memset(&new_, 0, sizeof new_);
    new_.cycle_ns = 1.0;
    new_.wall_ns = 1.0;
    new_.wall_step = 1;
    return new_;
}

static inline void machine_run(uint64_t cycles)
{
    m.cycles += cycles;
}

/* What the common clock would read if it had no steps, ns. */
static inline double machine_true_ns(void)
{
    return (double)m.wall_base * m.wall_ns + (double)m.cycles * m.cycle_ns;
}

static inline void machine_looks(void)
{
    if (m.looks)
        m.looks();
}

static inline struct perf_kernel_stamp perf_kernel_clock_(void)
{
    struct perf_kernel_stamp t;
    uint64_t                 c = m.cycles + m.ahead[m.sm % 4] +
                                 (m.sm >> 16) * UINT64_C(0x123456789);

    machine_looks();
    t.lo = (uint32_t)c;
    t.hi = (uint32_t)(c >> 32);
    return t;
}

static inline uint64_t perf_kernel_wall_(void)
{
    uint64_t ticks = m.wall_base + (uint64_t)((double)m.cycles * m.cycle_ns / m.wall_ns);

    machine_looks();
    return ticks - ticks % m.wall_step + m.wall_ahead[(m.sm >> 16) % 8];
}

static inline uint32_t perf_kernel_lane_(void)
{
    return m.lane;
}

static inline uint32_t perf_kernel_sm_(void)
{
    return m.sm;
}

static inline void perf_kernel_place_(struct perf_kernel_ring *r)
{
    r->block_x = m.block[0];
    r->block_yz = (m.block[1] & 0xffffu) | m.block[2] << 16;
    r->warp = m.warp;
}

static inline uint64_t perf_kernel_claim_(uint64_t *next)
{
    uint64_t i;

    machine_run(m.claim);
    i = (*next)++;
    machine_run(m.claim);
    return i;
}

/* Memory of the device and its copy on the host, which lie elsewhere. */
typedef struct memory {
    void  *device, *image;
    size_t bytes;
} memory;

static inline memory memory_new(uint32_t rings, uint32_t scopes, uint64_t wall_hz)
{
    memory x;

    x.bytes = perf_kernel_bytes(rings, scopes);
    x.device = calloc(1, x.bytes + 1);          /* at 16 bytes on every 64-bit system             */
    x.image = malloc(x.bytes);
    if (!x.device || !x.image ||
        perf_kernel_prepare(x.image, x.bytes, x.device, rings, scopes, wall_hz) != PERF_OK)
        abort();
    memcpy(x.device, x.image, x.bytes);
    return x;
}

static inline perf_kernel_buffer *memory_buffer(const memory *x)
{
    return (perf_kernel_buffer *)x->device;
}

static inline void memory_back(memory *x)
{
    memcpy(x->image, x->device, x->bytes);
}

static inline void memory_free(memory *x)
{
    free(x->device);
    free(x->image);
}

#endif
