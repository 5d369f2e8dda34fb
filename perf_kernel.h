/* perf_kernel.h - where does the time inside a kernel go?  Timers for CUDA and HIP device code.
 *
 *     __global__ void step(perf_kernel_buffer *buffer, float *x)
 *     {
 *         perf_kernel_sink sink(buffer);               // one ring of records for each warp
 *         {
 *             PERF_KERNEL_SCOPE(sink, 0);              // id 0 .. 4095; to the end of the block
 *             x[threadIdx.x] *= 2;
 *         }
 *     }
 *
 * The host gives the memory, copies it back after the kernel and decodes it: perf_kernel_bytes,
 * perf_kernel_prepare, perf_kernel_decode or perf_kernel_trace_save, see docs/cuda-kernels.md.
 * A scope is 16 bytes and six instructions, none of them a barrier, in a loop too; seven where
 * several follow each other (tests/kernel/sass.sh).  One lane of the warp writes, lane 0: code that
 * only other lanes run is not seen.  A full ring keeps what it has, drops the rest and counts it.
 * With PERF_DISABLE=1 the kernel is, byte for byte, the one without timers.  NVRTC and hipRTC need
 * this file and no other.
 * Sections (search for ">>"):  device  host  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_KERNEL_H
#define PERF_KERNEL_H

/* NVRTC and hipRTC compile at run time and need only this file, device side only.  No type of
 * <stdint.h> is named there: a program has its own, in front of this file or behind it. */
#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define PERF_KERNEL_RTC_ 1
#undef PERF_KERNEL_HOST
#define PERF_KERNEL_HOST 0
#ifndef PERF_DISABLE
#define PERF_DISABLE 0
#endif
#define PERF_BEGIN_DECLS extern "C" {
#define PERF_END_DECLS   }
#define PERF_ZERO        {}
#define PERF_NULL_       nullptr
#define PERF_CAST_(T, x) static_cast<T>(x)
#define PERF_PTR_(T, p)  reinterpret_cast<T>(p)
#define PERF_LIKELY_(x)  __builtin_expect(!!(x), 1)
#define PERF_CAT2_(a, b) a##b
#define PERF_CAT_(a, b)  PERF_CAT2_(a, b)
#define PERF_U32_        unsigned int
#define PERF_U64_        unsigned long long
#define PERF_UPTR_       unsigned long long
#else
#define PERF_KERNEL_RTC_ 0
#ifndef PERF_KERNEL_HOST        /* 0: device side only, without perf.h and the host functions     */
#define PERF_KERNEL_HOST 1
#endif
#define PERF_U32_  uint32_t
#define PERF_U64_  uint64_t
#define PERF_UPTR_ uintptr_t
#include "perf_hist.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_kernel.h: found another or an older perf_base.h; keep files of one release together"
#endif
#if PERF_KERNEL_HOST
#include "perf.h"
#endif
#endif

/* Device functions: in kernels, and where a test plays the machine on the host (see >>private). */
#if defined(__CUDACC__) || defined(__HIPCC__)
#define PERF_KERNEL_IN_ __device__ __forceinline__
#define PERF_KERNEL_DEVICE_ 1
#elif defined(PERF_KERNEL_MACHINE_)
#define PERF_KERNEL_IN_ inline
#define PERF_KERNEL_DEVICE_ 1
#else
#define PERF_KERNEL_DEVICE_ 0
#endif
#define PERF_KERNEL_FN_ static PERF_KERNEL_IN_

PERF_BEGIN_DECLS

/* >>device ------------------------------------------------------------------------------------
 * Memory as host and device see it.  Little-endian, no pointers: may be copied and saved.        */

#define PERF_KERNEL_ID_MAX 4095u        /* larger ids count as this one                           */

/* The buffer: this, `rings` of perf_kernel_ring, and at data_offset the records.  Private. */
typedef struct perf_kernel_buffer {
    PERF_U64_ magic;
    PERF_U64_ next;                     /* warps that have asked for a ring */
    PERF_U64_ data_offset;              /* of the device's copy */
    PERF_U64_ ring_bytes;               /* a power of two */
    PERF_U64_ bytes;
    PERF_U64_ wall_hz;                  /* of the second clock */
    PERF_U32_ rings, version;
    PERF_U64_ spare;
} perf_kernel_buffer;

typedef struct perf_kernel_ring {       /* what one warp leaves.  Private                         */
    PERF_U64_ opened, opened_wall;      /* cycles of its SM, and the clock of the whole device */
    PERF_U64_ closed, closed_wall;      /* state 2 only */
    PERF_U64_ used;                     /* closed: bytes of records, dropped ones too, mod. 2^32; */
                                        /* opened: low half of the address of the first           */
    PERF_U32_ block_x, block_yz;        /* y: low 16 bits */
    PERF_U32_ warp, sm;                 /* warp of its block; sm: see perf_kernel_event */
    PERF_U32_ state;                    /* PERF_KERNEL_OPENED_, _CLOSED_; 0: nobody has it */
    PERF_U32_ asked;                    /* ticks from before it asked for the ring to opened_wall */
} perf_kernel_ring;

typedef struct perf_kernel_stamp {      /* a reading of clock64                                   */
    PERF_U32_ lo, hi;
} perf_kernel_stamp;

/* Sums of one scope over many warps; device memory of yours, zeroed. */
typedef struct perf_kernel_total {
    PERF_U64_ cycles;
    PERF_U64_ warps;                    /* perf_kernel_sum that were stored */
    PERF_U64_ most;                     /* cycles of the one that had most */
    PERF_U64_ wrapped;                  /* warps that ran so long that their sum may have wrapped */
} perf_kernel_total;

#define PERF_KERNEL_MAGIC_ UINT64_C(0x316c656e72656b70)
#define PERF_KERNEL_OPENED_ 1u
#define PERF_KERNEL_CLOSED_ 2u

#if PERF_KERNEL_DEVICE_

/* What a warp carries in registers.  In C++ the constructor opens, the destructor closes. */
typedef struct perf_kernel_out_ {
    PERF_U64_          at;              /* address of the next record */
    PERF_U32_          end, on;         /* low half of the end; 0: not this lane, or full */
    perf_kernel_ring *ring;             /* NULL: nothing to close                                 */
} perf_kernel_out_;

/* Takes a ring for the calling warp, if one is free; its lane 0 records.  NULL: no recording. */
PERF_KERNEL_FN_ void perf_kernel_open(perf_kernel_out_ *sink, perf_kernel_buffer *buffer);

/* Writes down how much was recorded.  A kernel that ends without it (a trap, a forgotten close)
 * keeps its records, but not how many were dropped.                                              */
PERF_KERNEL_FN_ void perf_kernel_close(perf_kernel_out_ *sink);

/* A scope by hand: stamp = begin; ...; end(s, id, stamp).  Scopes of one warp may nest. */
PERF_KERNEL_FN_ perf_kernel_stamp perf_kernel_begin(void);
PERF_KERNEL_FN_ void perf_kernel_end(perf_kernel_out_ *sink, PERF_U32_ id,
                                     perf_kernel_stamp begin);

/* A moment with a value. */
PERF_KERNEL_FN_ void perf_kernel_instant(perf_kernel_out_ *sink, PERF_U32_ id, PERF_U32_ value);

/* PERF_KERNEL_SCOPE(sink, id);  PERF_KERNEL_INSTANT(sink, id, value);  C++ only:
 * PERF_KERNEL_SUM(sum);         adds this block's cycles to a perf_kernel_sum: three instructions,
 *                               no memory.  It holds 2^32 cycles (two seconds); a warp that lives
 *                               longer is counted as wrapped unless it calls sum.store() meanwhile.
 *                               Blocks of one sum may not nest: the inner cycles would count twice
 * PERF_KERNEL_HIST(hist);       adds this block's cycles, of lane 0, to a histogram in device
 *                               memory (any form: perf_hist_init); not in NVRTC and hipRTC       */
#if PERF_DISABLE
#define PERF_KERNEL_SCOPE(sink, id)          PERF_CAST_(void, sizeof(sink) + sizeof(id))
#define PERF_KERNEL_INSTANT(sink, id, value)                                                      \
    PERF_CAST_(void, sizeof(sink) + sizeof(id) + sizeof(value))
#define PERF_KERNEL_SUM(sum)                 PERF_CAST_(void, sizeof(sum))
#define PERF_KERNEL_HIST(hist)               PERF_CAST_(void, sizeof(hist))
#else
#if defined(__COUNTER__)        /* NVRTC has none: there a line holds one of a kind               */
#define PERF_KERNEL_NAME_(kind) PERF_CAT_(perf_kernel_##kind, __COUNTER__)
#else
#define PERF_KERNEL_NAME_(kind) PERF_CAT_(perf_kernel_##kind, __LINE__)
#endif
#define PERF_KERNEL_SCOPE(sink, id) const perf_kernel_scope_ PERF_KERNEL_NAME_(scope_)(sink, id)
#define PERF_KERNEL_INSTANT(sink, id, value) perf_kernel_instant(&(sink), id, value)
#define PERF_KERNEL_SUM(sum)   const perf_kernel_sum_scope_ PERF_KERNEL_NAME_(sum_)(sum)
#define PERF_KERNEL_HIST(hist) const perf_kernel_hist_scope_ PERF_KERNEL_NAME_(hist_)(hist)
#endif
#endif

/* >>host --------------------------------------------------------------------------------------
 *     bytes = perf_kernel_bytes(rings, scopes);            device memory to allocate
 *     perf_kernel_prepare(image, bytes, device, rings, scopes, 0);     copy image to the device
 *     kernel<<<...>>>(device, ...);                        copy the device back to image
 *     perf_kernel_trace_save("kernel.json", image, bytes, names, 3, 0);
 * None of these calls touches a device.  `image` is host memory, 8-byte aligned, yours.          */

#if PERF_KERNEL_HOST

typedef struct perf_kernel_event {
    uint64_t start_ns;                  /* clock of the device                                    */
    uint64_t ns;                        /* 0 for instants                                         */
    uint64_t cycles;                    /* of its SM                                              */
    uint32_t id;                        /* as given to PERF_KERNEL_SCOPE                          */
    uint32_t value;                     /* of an instant                                          */
    uint32_t instant;                   /* 1: PERF_KERNEL_INSTANT                                 */
    uint32_t sm;                        /* AMD: compute unit; MI300: + 65536 times its XCD        */
    uint32_t track;                     /* 0, 1, ...: warps that ran on this SM at the same time  */
    uint32_t block_x, block_y, block_z;
    uint32_t warp;                      /* of its block                                           */
} perf_kernel_event;

typedef struct perf_kernel_info {
    uint64_t events;                    /* in the buffer                                          */
    uint64_t dropped;                   /* records that met a full ring; closed rings only        */
    uint64_t missed_warps;              /* warps that found no free ring                          */
    uint64_t malformed;                 /* records that cannot be: skipped                        */
    uint32_t rings;                     /* in use                                                 */
    uint32_t unclosed;                  /* rings that were never closed: not in `dropped`         */
    uint32_t sms, tracks;               /* seen; most tracks of one SM                            */
    double   cycle_ns;                  /* all SMs together; 0: ran too short to tell, then the   */
                                        /* times of events count 1 ns a cycle                     */
    double   error_ns;                  /* largest disagreement of the clock pairs of one SM, and */
                                        /* by how much MI300's XCDs may be off; > 1e20: unknown   */
} perf_kernel_info;

/* Memory for `rings` (1 .. 2^20) warps of `scopes` (1 .. 2^24); 0: out of range, or > 2^40 bytes */
PERF_FN size_t perf_kernel_bytes(uint32_t rings, uint32_t scopes);

/* Writes an empty buffer into `image`, to be copied to `device` (only its address is looked at).
 * wall_hz: ticks a second of the device's common clock; 0 -> 1e9, which is right for CUDA; HIP:
 * 1000 * hipDeviceAttributeWallClockRate.  PERF_EINVAL: memory too small or misaligned.          */
PERF_FN perf_status perf_kernel_prepare(void *image, size_t bytes, const void *device,
                                        uint32_t rings, uint32_t scopes, uint64_t wall_hz);

/* All events of a buffer that came back: at most `room` into `out`, by SM, warp by warp, in order
 * of their ends; info->events says how many there are (call with out NULL and room 0 to learn it).
 * Trusts nothing: PERF_EFORMAT, with nothing written, when this is no buffer or it is cut short.
 * Allocates; PERF_ENOMEM.  info may be NULL.                                                     */
PERF_FN perf_status perf_kernel_decode(const void *image, size_t bytes, perf_kernel_event *out,
                                       uint64_t room, perf_kernel_info *info);

/* The events as a Chrome trace, each SM a process, each warp at a time a track; statuses as above,
 * PERF_EIO, PERF_EINVAL: no path.  names[id] for id < count, else "scope 7", cut at 255 bytes;
 * host_ns is added to device times (perf_now() less its clock at one moment: fits our traces).   */
PERF_FN perf_status perf_kernel_trace_save(const char *path, const void *image, size_t bytes,
                                           const char *const *names, uint32_t count,
                                           int64_t host_ns);

#endif

/* >>private: bodies ---------------------------------------------------------------------------- */

#if PERF_KERNEL_DEVICE_

/* ---- the machine: a test defines PERF_KERNEL_MACHINE_ and these six itself ---- */

#if !defined(PERF_KERNEL_MACHINE_)
/* AMD's clocks.  gfx11 has no 64-bit count of cycles, only one of 20 bits, full after 0.4 ms: there
 * a "cycle" is a tick of the common clock, 10 ns.  131: the message that asks for that clock.    */
#if defined(__GFX11__)
#define PERF_KERNEL_AMD_WALL_()   __builtin_amdgcn_s_sendmsg_rtnl(131)
#define PERF_KERNEL_AMD_CYCLES_() PERF_KERNEL_AMD_WALL_()
#elif defined(__GFX12__)
#define PERF_KERNEL_AMD_WALL_()   __builtin_amdgcn_s_sendmsg_rtnl(131)
#define PERF_KERNEL_AMD_CYCLES_() __builtin_readcyclecounter()
#else
#define PERF_KERNEL_AMD_WALL_()   __builtin_amdgcn_s_memrealtime()
#define PERF_KERNEL_AMD_CYCLES_() __builtin_amdgcn_s_memtime()
#endif

PERF_KERNEL_FN_ perf_kernel_stamp perf_kernel_clock_(void)
{
    perf_kernel_stamp stamp = PERF_ZERO;
#if defined(__CUDA_ARCH__)
    asm volatile("{ .reg .b64 c; mov.u64 c, %%clock64; mov.b64 {%0, %1}, c; }"
                 : "=r"(stamp.lo), "=r"(stamp.hi) : : "memory");
#elif defined(__GFX12__)        /* if it wraps in between, 1 of 10^8, the record is               */
                                /* malformed: it ends after the ring closed, or before it began   */
    stamp.lo = PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(31 << 11 | 0 << 6 | 29));
    stamp.hi = PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(31 << 11 | 0 << 6 | 30));
#elif defined(__HIP_DEVICE_COMPILE__)
    PERF_U64_ c = PERF_KERNEL_AMD_CYCLES_();
    stamp.lo = PERF_CAST_(PERF_U32_, c);
    stamp.hi = PERF_CAST_(PERF_U32_, c >> 32);
#endif
    return stamp;
}

PERF_KERNEL_FN_ PERF_U64_ perf_kernel_wall_(void)
{
    PERF_U64_ t = 0;
#if defined(__CUDA_ARCH__)
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) : : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
    t = PERF_KERNEL_AMD_WALL_();
#endif
    return t;
}

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
PERF_KERNEL_FN_ PERF_U32_ perf_kernel_thread_(void)
{
    return PERF_CAST_(PERF_U32_, threadIdx.x + blockDim.x *
                                                  (threadIdx.y + blockDim.y * threadIdx.z));
}
#endif

PERF_KERNEL_FN_ PERF_U32_ perf_kernel_lane_(void)
{
    PERF_U32_ lane = 0;
#if defined(__CUDA_ARCH__)
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#elif defined(__HIP_DEVICE_COMPILE__)
    lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#endif
    return lane;
}

/* SM; compute unit with its array and engine (RDNA: work group processor); from bit 16 up the XCD.
 * AMD: hardware register, first bit and bits less one of HW_ID, HW_ID1 and XCC_ID.               */
PERF_KERNEL_FN_ PERF_U32_ perf_kernel_sm_(void)
{
    PERF_U32_ sm = 0;
#if defined(__CUDA_ARCH__)
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
#elif defined(__HIP_DEVICE_COMPILE__) && (defined(__GFX9__) || defined(__GFX8__))
    sm = PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(7 << 11 | 8 << 6 | 4));
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__) ||   \
    defined(__gfx9_4_generic__)
    sm |= PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(3 << 11 | 0 << 6 | 20)) << 16;
#endif
#elif defined(__HIP_DEVICE_COMPILE__)
    sm = PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(10 << 11 | 10 << 6 | 23));
#endif
    return sm;
}

PERF_KERNEL_FN_ void perf_kernel_place_(perf_kernel_ring *ring)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    ring->block_x = PERF_CAST_(PERF_U32_, blockIdx.x);
    ring->block_yz = PERF_CAST_(PERF_U32_, (blockIdx.y & 0xffffu) | blockIdx.z << 16);
#if defined(__HIP_DEVICE_COMPILE__)             /* the macro for it is gone in ROCm 7             */
    ring->warp = perf_kernel_thread_() / PERF_CAST_(PERF_U32_, warpSize);
#else
    ring->warp = perf_kernel_thread_() / 32;
#endif
#else
    (void)ring;
#endif
}

PERF_KERNEL_FN_ PERF_U64_ perf_kernel_claim_(PERF_U64_ *next)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return atomicAdd(PERF_PTR_(unsigned long long *, next), 1ull);
#else
    return (*next)++;
#endif
}
#endif

/* Stores 16 bytes at the sink's address if this lane records, and moves on.  The address moves,
 * too, when nothing is stored: so it counts what is dropped.  `on` is never set again.  No ring
 * crosses 4 GB.  So only the low half of the address changes, by one addition where 64 bits take
 * two.  It moves before the store, which then needs no copy of it.  sm_120 adds 64 bits at once,
 * after the store.  AMD needs no `on`: one instruction adds, and stops at the end of the 4 GB. */
PERF_KERNEL_FN_ void perf_kernel_put_(perf_kernel_out_ *sink, PERF_U32_ a, PERF_U32_ b,
                                      PERF_U32_ c, PERF_U32_ d)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
    sink->on = sink->on && PERF_CAST_(PERF_U32_, sink->at) < sink->end;
    asm volatile("{ .reg .pred on; setp.ne.u32 on, %5, 0; @on st.global.v4.u32 [%0], "
                 "{%1, %2, %3, %4}; add.u64 %0, %0, 16; }"
                 : "+l"(sink->at) : "r"(a), "r"(b), "r"(c), "r"(d), "r"(sink->on) : "memory");
#elif defined(__CUDA_ARCH__)
    asm volatile("{ .reg .u32 lo, hi; mov.b64 {lo, hi}, %0; add.u32 lo, lo, 16; "
                 "mov.b64 %0, {lo, hi}; }" : "+l"(sink->at));
    sink->on = sink->on && PERF_CAST_(PERF_U32_, sink->at) <= sink->end;
    asm volatile("{ .reg .pred on; .reg .b64 x, y; mov.b64 x, {%1, %2}; mov.b64 y, {%3, %4}; "
                 "setp.ne.u32 on, %5, 0; @on st.global.v2.b64 [%0 + -16], {x, y}; }"
                 : : "l"(sink->at), "r"(a), "r"(b), "r"(c), "r"(d), "r"(sink->on) : "memory");
#else
    const PERF_U32_ low = PERF_CAST_(PERF_U32_, sink->at), next = low + 16;
#if defined(__HIP_DEVICE_COMPILE__)             /* in front of the branch: one wait, not two      */
    asm volatile("" : "+s"(b), "+s"(d));
#endif
    if (PERF_LIKELY_(low < sink->end)) {
#if defined(__HIP_DEVICE_COMPILE__)             /* memory of the device, in one store             */
        typedef PERF_U32_ four __attribute__((__ext_vector_type__(4)));
        *PERF_PTR_(__attribute__((address_space(1))) four *, sink->at) = four{a, b, c, d};
#else
        const PERF_U32_ record[4] = {a, b, c, d};
        memcpy(PERF_PTR_(void *, PERF_CAST_(PERF_UPTR_, sink->at)), record, sizeof record);
#endif
    }
    sink->at = (sink->at >> 32 << 32) | (next < low ? 0xffffffffu : next);
#endif
}

/* ---- rings ---- */

PERF_KERNEL_FN_ PERF_U64_ perf_kernel_cycles_(void)
{
#if defined(__HIP_DEVICE_COMPILE__)
    return PERF_KERNEL_AMD_CYCLES_();
#else
    perf_kernel_stamp stamp = perf_kernel_clock_();

    return PERF_CAST_(PERF_U64_, stamp.hi) << 32 | stamp.lo;
#endif
}

PERF_KERNEL_FN_ void perf_kernel_open(perf_kernel_out_ *sink, perf_kernel_buffer *buffer)
{
    sink->at = 0;
    sink->end = sink->on = 0;
    sink->ring = PERF_NULL_;
    if (!PERF_DISABLE && buffer && perf_kernel_lane_() == 0) {
        PERF_U64_ before = perf_kernel_wall_(), i = perf_kernel_claim_(&buffer->next);
        if (i < buffer->rings) {
            sink->ring = PERF_PTR_(perf_kernel_ring *, buffer + 1) + i;
            PERF_U64_ at = PERF_CAST_(PERF_U64_, PERF_PTR_(PERF_UPTR_, buffer)) +
                          buffer->data_offset + i * buffer->ring_bytes;
            sink->at = at;
            sink->end = PERF_CAST_(PERF_U32_, at + buffer->ring_bytes - 16);
            sink->on = 1;
            perf_kernel_place_(sink->ring);
            sink->ring->sm = perf_kernel_sm_();
            sink->ring->used = PERF_CAST_(PERF_U32_, sink->at);
            PERF_U64_ wall = perf_kernel_wall_();
            sink->ring->opened = perf_kernel_cycles_();
            sink->ring->opened_wall = wall;
            sink->ring->asked = PERF_CAST_(PERF_U32_, wall - before);
            sink->ring->state = PERF_KERNEL_OPENED_;    /* last: a trap may end it anywhere */
        }
    }
}

PERF_KERNEL_FN_ void perf_kernel_close(perf_kernel_out_ *sink)
{
    if (!PERF_DISABLE && sink->ring) {
        sink->ring->closed_wall = perf_kernel_wall_();
        sink->ring->closed = perf_kernel_cycles_();
        sink->ring->used =
            PERF_CAST_(PERF_U32_, sink->at) - PERF_CAST_(PERF_U32_, sink->ring->used);
        sink->ring->state = PERF_KERNEL_CLOSED_;
        sink->ring = PERF_NULL_;
    }
    sink->end = sink->on = 0;
}

PERF_KERNEL_FN_ perf_kernel_stamp perf_kernel_begin(void)
{
    perf_kernel_stamp off = PERF_ZERO;

    return PERF_DISABLE ? off : perf_kernel_clock_();
}

/* The lower half alone. */
PERF_KERNEL_FN_ PERF_U32_ perf_kernel_low_(void)
{
#if defined(__GFX12__)
    return PERF_CAST_(PERF_U32_, __builtin_amdgcn_s_getreg(31 << 11 | 0 << 6 | 29));
#else
    return perf_kernel_begin().lo;
#endif
}

/* The id goes above bit 20 of the begin's upper half, in one addition; the end's tells it apart. */
PERF_KERNEL_FN_ void perf_kernel_end(perf_kernel_out_ *sink, PERF_U32_ id, perf_kernel_stamp begin)
{
    perf_kernel_stamp end = perf_kernel_begin();

    id = id < PERF_KERNEL_ID_MAX ? id : PERF_KERNEL_ID_MAX;
    if (!PERF_DISABLE)
        perf_kernel_put_(sink, begin.lo, begin.hi + (id << 20), end.lo, end.hi);
}

/* As a scope whose end has an upper half that no clock reaches. */
PERF_KERNEL_FN_ void perf_kernel_instant(perf_kernel_out_ *sink, PERF_U32_ id, PERF_U32_ value)
{
    perf_kernel_stamp now = perf_kernel_begin();

    id = id < PERF_KERNEL_ID_MAX ? id : PERF_KERNEL_ID_MAX;
    if (!PERF_DISABLE)
        perf_kernel_put_(sink, now.lo, now.hi + (id << 20), value, 0xffffffffu);
}

/* Adds to a count of all warps.  A test that plays the machine has one warp at a time. */
PERF_KERNEL_FN_ void perf_kernel_add_(PERF_U64_ *count, PERF_U64_ n)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    atomicAdd(PERF_PTR_(unsigned long long *, count), n);
#else
    *count += n;
#endif
}

/* Raises *most to `value` where it is less.  It is read first: most warps need no atomic then. */
PERF_KERNEL_FN_ void perf_kernel_raise_(PERF_U64_ *most, PERF_U64_ value)
{
    if (value <= *PERF_PTR_(volatile PERF_U64_ *, most))
        return;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    atomicMax(PERF_PTR_(unsigned long long *, most), value);
#else
    *most = value;
#endif
}

#endif

PERF_END_DECLS

/* ---- C++: what opens and closes by itself ---- */

#if PERF_KERNEL_DEVICE_ && defined(__cplusplus)
struct perf_kernel_fixed_ {             /* what is never copied */
    perf_kernel_fixed_() = default;
    perf_kernel_fixed_(const perf_kernel_fixed_ &) = delete;
    perf_kernel_fixed_ &operator=(const perf_kernel_fixed_ &) = delete;
};

struct perf_kernel_sink : perf_kernel_out_, perf_kernel_fixed_ {
    PERF_KERNEL_IN_ explicit perf_kernel_sink(perf_kernel_buffer *buffer)
    {
        perf_kernel_open(this, buffer);
    }
    PERF_KERNEL_IN_ ~perf_kernel_sink()
    {
        perf_kernel_close(this);
    }
};

struct perf_kernel_scope_ : perf_kernel_fixed_ {
    perf_kernel_out_ &sink;
    const PERF_U32_     id;
    perf_kernel_stamp  begin;
    PERF_KERNEL_IN_ perf_kernel_scope_(perf_kernel_out_ &s, PERF_U32_ i) : sink(s), id(i), begin()
    {
        begin = perf_kernel_begin();
    }
    PERF_KERNEL_IN_ ~perf_kernel_scope_()
    {
        perf_kernel_end(&sink, id, begin);
    }
};

/* Cycles of PERF_KERNEL_SUM blocks; stored into *total, if any, when it goes out of scope. */
struct perf_kernel_sum : perf_kernel_fixed_ {
    perf_kernel_total *const total;
    PERF_U32_                 cycles;
    PERF_U64_                 since;
    PERF_KERNEL_IN_ explicit perf_kernel_sum(perf_kernel_total *to) : total(to), cycles(0), since(0)
    {
        if (!PERF_DISABLE)
            since = perf_kernel_cycles_();
    }
    PERF_KERNEL_IN_ ~perf_kernel_sum()
    {
        store();
    }
    /* Adds the sum of lane 0 to *total, atomically, and starts again from zero. */
    PERF_KERNEL_IN_ void store()
    {
        PERF_U64_ now = PERF_DISABLE ? 0 : perf_kernel_cycles_();

        if (!PERF_DISABLE && total && perf_kernel_lane_() == 0) {
            perf_kernel_add_(&total->cycles, cycles);
            perf_kernel_add_(&total->warps, 1);
            perf_kernel_raise_(&total->most, cycles);
            if ((now - since) >> 32)
                perf_kernel_add_(&total->wrapped, 1);
        }
        cycles = 0;
        since = now;
    }
};

struct perf_kernel_sum_scope_ : perf_kernel_fixed_ {
    perf_kernel_sum &sum;
    PERF_U32_         begin;
    PERF_KERNEL_IN_ explicit perf_kernel_sum_scope_(perf_kernel_sum &total) : sum(total), begin(0)
    {
        begin = perf_kernel_low_();
    }
    PERF_KERNEL_IN_ ~perf_kernel_sum_scope_()
    {
        sum.cycles += perf_kernel_low_() - begin;
    }
};

#if !PERF_KERNEL_RTC_
struct perf_kernel_hist_scope_ : perf_kernel_fixed_ {
    perf_hist *const hist;
    PERF_U64_         begin;
    PERF_KERNEL_IN_ explicit perf_kernel_hist_scope_(perf_hist *kept) : hist(kept), begin(0)
    {
        begin = perf_kernel_cycles_();
    }
    PERF_KERNEL_IN_ ~perf_kernel_hist_scope_()
    {
        PERF_U64_ cycles = perf_kernel_cycles_() - begin;

        if (hist && perf_kernel_lane_() == 0)
            perf_hist_add_shared(hist, cycles);
    }
};
#endif
#endif

/* ---- host ---- */

#if PERF_KERNEL_HOST
PERF_BEGIN_DECLS

/* Bytes of a ring: one slot more than scopes, which stays empty, so that its end has no carry. */
PERF_FN uint64_t perf_kernel_ring_bytes_(uint32_t scopes)
{
    uint64_t bytes = 32;

    while (bytes < (UINT64_C(1) + scopes) * 16)
        bytes *= 2;
    return bytes;
}

PERF_FN size_t perf_kernel_bytes(uint32_t rings, uint32_t scopes)
{
    uint64_t ring = perf_kernel_ring_bytes_(scopes), bytes;

    if (rings < 1 || rings > 1u << 20 || scopes < 1 || scopes > 1u << 24)
        return 0;
    bytes = sizeof(perf_kernel_buffer) + rings * sizeof(perf_kernel_ring) + (rings + 1) * ring;
    if (bytes > UINT64_C(1) << 40 || bytes > SIZE_MAX)
        return 0;
    return PERF_CAST_(size_t, bytes);
}

PERF_FN perf_status perf_kernel_prepare(void *image, size_t bytes, const void *device,
                                        uint32_t rings, uint32_t scopes, uint64_t wall_hz)
{
    perf_kernel_buffer *buffer = PERF_CAST_(perf_kernel_buffer *, image);
    size_t              need = perf_kernel_bytes(rings, scopes);
    uint64_t            at = PERF_CAST_(uint64_t, PERF_PTR_(uintptr_t, device)), ring, front;

    if (!image || !device || !need || bytes < need || PERF_PTR_(uintptr_t, image) % 8 || at % 16)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(image, 0, need);
    ring = perf_kernel_ring_bytes_(scopes);
    front = at + sizeof *buffer + rings * sizeof(perf_kernel_ring);
    buffer->magic = PERF_KERNEL_MAGIC_;
    buffer->version = 1;
    buffer->rings = rings;
    buffer->ring_bytes = ring;
    buffer->data_offset = ((front + ring - 1) & ~(ring - 1)) - at;
    buffer->bytes = need;
    buffer->wall_hz = wall_hz;
    if (!wall_hz)
        buffer->wall_hz = 1000000000u;
    return PERF_OK;
}

/* x >= 0 as an integer; 9.2e18 where it is larger than that, infinite or NaN. */
PERF_FN uint64_t perf_kernel_whole_(double x)
{
    if (perf_is_finite_(x) && x < 9.2e18)
        return PERF_CAST_(uint64_t, PERF_CAST_(int64_t, x));
    return UINT64_C(9200000000000000000);
}

/* A ring on its way through the decoder. */
typedef struct perf_kernel_warp_ {
    const perf_kernel_ring *ring;
    uint64_t                slot;       /* first record, as offset into the image                 */
    uint64_t                records;
    uint64_t                last;       /* cycles at which it was surely still running            */
    uint32_t                track, sm_first;    /* index of the first warp of its SM              */
} perf_kernel_warp_;

/* 1: warp x comes before warp y: by SM, then by time. */
PERF_FN int perf_kernel_before_(const void *x, const void *y, const void *unused)
{
    const perf_kernel_warp_ *first = PERF_CAST_(const perf_kernel_warp_ *, x);
    const perf_kernel_warp_ *second = PERF_CAST_(const perf_kernel_warp_ *, y);

    (void)unused;
    if (first->ring->sm != second->ring->sm)
        return first->ring->sm < second->ring->sm;
    if (first->ring->opened != second->ring->opened)
        return first->ring->opened < second->ring->opened;
    return first->slot < second->slot;
}

#define PERF_KERNEL_XCDS_ 16u           /* clocks of their own: what XCC_ID can say               */

typedef struct perf_kernel_reader_ {
    const unsigned char     *image;
    const perf_kernel_buffer *head;
    perf_kernel_warp_       *warp;
    size_t                   warps;
    double                   tick;      /* ns of a tick of the common clock                       */
    double                   unsure;    /* ticks that `ahead` may be wrong by                     */
    int64_t                  ahead[PERF_KERNEL_XCDS_];  /* ticks, to add to the clock of an XCD   */
    perf_kernel_info         info;
} perf_kernel_reader_;

/* The XCD on which a ring's warp ran; 0 on other devices. */
PERF_FN unsigned perf_kernel_xcd_(const perf_kernel_ring *ring)
{
    return (ring->sm >> 16) % PERF_KERNEL_XCDS_;
}

/* What the four words of a record say.  A scope: begin's low half, its high half + (id << 20),
 * end's low half, its high half.  An instant: the same of its moment, the value, 0xffffffff.  0:
 * no scope and no instant can look like this. */
PERF_FN int perf_kernel_event_of_(const perf_kernel_ring *ring, const uint32_t word[4],
                                  perf_kernel_event *event, uint64_t *begin)
{
    const uint32_t opened = PERF_CAST_(uint32_t, ring->opened >> 32);
    uint64_t       end = PERF_CAST_(uint64_t, word[3]) << 32 | word[2];

    event->instant = word[3] == 0xffffffffu;    /* begins at most 2^52 cycles after the opening */
    event->id = ((word[1] - word[3] + 0xfffffu) >> 20) & PERF_KERNEL_ID_MAX;
    event->value = 0;
    if (event->instant) {
        event->id = (word[1] - opened) >> 20;
        event->value = word[2];
    }
    *begin = PERF_CAST_(uint64_t, word[1] - (event->id << 20)) << 32 | word[0];
    if (event->instant)
        end = *begin;
    event->cycles = end - *begin;
    return *begin <= end && *begin >= ring->opened &&
           (ring->state != PERF_KERNEL_CLOSED_ || end <= ring->closed);
}

/* 1: this is the front of a buffer, and all that it speaks of lies within `bytes`. */
PERF_COLD_FN_ int perf_kernel_is_whole_(const perf_kernel_buffer *buffer, size_t bytes)
{
    uint64_t front;

    if (bytes < sizeof *buffer || buffer->magic != PERF_KERNEL_MAGIC_ || buffer->version != 1)
        return 0;
    if (buffer->rings < 1 || buffer->rings > 1u << 20 || buffer->bytes > bytes || !buffer->wall_hz)
        return 0;
    if (buffer->ring_bytes < 32 || buffer->ring_bytes > UINT64_C(1) << 29 ||
        (buffer->ring_bytes & (buffer->ring_bytes - 1))) /* a power of two */
        return 0;
    front = sizeof *buffer + buffer->rings * sizeof(perf_kernel_ring);
    if (buffer->data_offset < front || buffer->data_offset > bytes || buffer->data_offset % 16)
        return 0;
    return buffer->ring_bytes * buffer->rings <= bytes - buffer->data_offset;
}

/* 1: a warp has opened the ring. */
PERF_FN int perf_kernel_is_used_(const perf_kernel_ring *ring)
{
    return ring->state == PERF_KERNEL_OPENED_ || ring->state == PERF_KERNEL_CLOSED_;
}

/* Copies the record in slot n of a ring.  1: it holds something. */
PERF_FN int perf_kernel_record_(const perf_kernel_reader_ *reader, const perf_kernel_warp_ *warp,
                                uint64_t n, uint32_t word[4])
{
    PERF_LIBC_(memcpy)(word, reader->image + warp->slot + n * 16, 16);
    return (word[0] | word[1] | word[2] | word[3]) != 0;
}

/* How many records a ring has, `room` at most.  A closed ring tells how many there were,
 * dropped ones too, in 28 bits: if the slot behind the last one is full, that number has
 * wrapped.  An open ring has records up to its first empty slot. */
PERF_COLD_FN_ void perf_kernel_count_(perf_kernel_reader_ *reader, perf_kernel_warp_ *warp,
                                      uint64_t room)
{
    uint64_t used = warp->ring->used / 16;
    uint32_t word[4];

    if (warp->ring->state != PERF_KERNEL_CLOSED_) {
        reader->info.unclosed++;
        while (warp->records < room && perf_kernel_record_(reader, warp, warp->records, word))
            warp->records++;
        return;
    }
    if (used < room && perf_kernel_record_(reader, warp, used, word))
        used += UINT64_C(1) << 28;
    warp->records = room;
    if (used < room)
        warp->records = used;
    reader->info.dropped += used - warp->records;
}

/* Sets warp->last, the latest moment at which the warp is known to have run, and counts malformed
 * records.                                                                                       */
PERF_COLD_FN_ void perf_kernel_check_(perf_kernel_reader_ *reader, perf_kernel_warp_ *warp)
{
    perf_kernel_event event = PERF_ZERO;
    uint64_t          begin, n;
    uint32_t          word[4];

    warp->last = warp->ring->opened;
    for (n = 0; n < warp->records; n++) {
        (void)perf_kernel_record_(reader, warp, n, word);
        if (!perf_kernel_event_of_(warp->ring, word, &event, &begin))
            reader->info.malformed++;
        else if (begin + event.cycles > warp->last)
            warp->last = begin + event.cycles;
    }
    if (warp->ring->state == PERF_KERNEL_CLOSED_ && warp->ring->closed > warp->last)
        warp->last = warp->ring->closed;
}

/* The front of the buffer and its rings, bounds proven.  PERF_ENOMEM, PERF_EFORMAT. */
PERF_COLD_FN_ perf_status perf_kernel_read_(perf_kernel_reader_ *reader, const void *image,
                                            size_t bytes)
{
    const perf_kernel_buffer *buffer = PERF_CAST_(const perf_kernel_buffer *, image);
    const perf_kernel_ring   *ring;
    perf_kernel_warp_        *warp;
    uint64_t                  i, n;

    PERF_LIBC_(memset)(reader, 0, sizeof *reader);
    if (!image || PERF_PTR_(uintptr_t, image) % 8)
        return PERF_EINVAL;
    if (!perf_kernel_is_whole_(buffer, bytes))
        return PERF_EFORMAT;
    reader->image = PERF_CAST_(const unsigned char *, image);
    reader->head = buffer;
    reader->tick = 1e9 / PERF_CAST_(double, buffer->wall_hz);
    n = buffer->rings;
    if (buffer->next < n)
        n = buffer->next;
    reader->info.missed_warps = buffer->next - n;
    reader->warp = PERF_CAST_(perf_kernel_warp_ *,
                              PERF_MALLOC(PERF_CAST_(size_t, n + 1) * sizeof *reader->warp));
    if (!reader->warp)
        return PERF_ENOMEM;
    ring = PERF_PTR_(const perf_kernel_ring *, buffer + 1);
    for (i = 0; i < n; i++) {
        if (!perf_kernel_is_used_(&ring[i]))
            continue;                           /* not a word from it: the kernel was killed */
        warp = &reader->warp[reader->warps++];
        PERF_LIBC_(memset)(warp, 0, sizeof *warp);
        warp->ring = &ring[i];
        warp->slot = buffer->data_offset + i * buffer->ring_bytes;
        perf_kernel_count_(reader, warp, buffer->ring_bytes / 16 - 1);
        perf_kernel_check_(reader, warp);
        reader->info.events += warp->records;
    }
    reader->info.events -= reader->info.malformed;
    reader->info.rings = PERF_CAST_(uint32_t, reader->warps);
    perf_sort_items_(reader->warp, reader->warps, sizeof *reader->warp, perf_kernel_before_,
                     PERF_NULL_);
    return PERF_OK;
}

#define PERF_KERNEL_NONE_ (-1e30)       /* ticks: no bound.  Sums of some are below -1e29, too    */

/* bound[a][b]: the least, in ticks, by which the clock of b is put ahead of that of a.  Ring i
 * was taken before ring j > i.  So i was asked for before j was had, and each such pair gives a
 * bound. */
PERF_COLD_FN_ void perf_kernel_bounds_(const perf_kernel_reader_ *reader,
                                       double bound[PERF_KERNEL_XCDS_][PERF_KERNEL_XCDS_])
{
    const perf_kernel_ring *ring = PERF_PTR_(const perf_kernel_ring *, reader->head + 1);
    double                  asked[PERF_KERNEL_XCDS_], got;  /* the latest so far */
    uint64_t                i, zero = ring->opened_wall;
    unsigned                a, b, c;

    for (a = 0; a < PERF_KERNEL_XCDS_; a++) {
        asked[a] = PERF_KERNEL_NONE_;
        for (b = 0; b < PERF_KERNEL_XCDS_; b++)
            bound[a][b] = PERF_KERNEL_NONE_;
    }
    for (i = 0; i < reader->head->rings && i < reader->head->next; i++) {
        if (!perf_kernel_is_used_(&ring[i]))
            continue;
        b = perf_kernel_xcd_(&ring[i]);
        got = PERF_CAST_(double, PERF_CAST_(int64_t, ring[i].opened_wall - zero));
        for (a = 0; a < PERF_KERNEL_XCDS_; a++)
            bound[a][b] = perf_most_(asked[a] - got, bound[a][b]);
        got -= PERF_CAST_(double, ring[i].asked);
        asked[b] = perf_most_(got, asked[b]);
    }
    for (c = 0; c < PERF_KERNEL_XCDS_; c++)             /* what follows by way of a third         */
        for (a = 0; a < PERF_KERNEL_XCDS_; a++)
            for (b = 0; b < PERF_KERNEL_XCDS_; b++)
                bound[a][b] = perf_most_(bound[a][c] + bound[c][b], bound[a][b]);
}

/* Puts the clocks of the XCDs (chips of an MI300, each with its own count) on one time: in the
 * middle of what their rings allow, and not at all if the clocks fit as they are.                */
PERF_COLD_FN_ void perf_kernel_align_(perf_kernel_reader_ *reader)
{
    double   bound[PERF_KERNEL_XCDS_][PERF_KERNEL_XCDS_], low, high, ahead;
    unsigned a, b;
    int      no_low, no_high;

    perf_kernel_bounds_(reader, bound);
    for (b = 0; b < PERF_KERNEL_XCDS_; b++) {
        low = PERF_KERNEL_NONE_;
        high = -PERF_KERNEL_NONE_;
        for (a = 0; a < b; a++) {               /* those that are placed already */
            ahead = PERF_CAST_(double, reader->ahead[a]);
            low = perf_most_(ahead + bound[a][b], low);
            high = perf_least_(ahead - bound[b][a], high);
        }
        no_low = low < PERF_KERNEL_NONE_ / 10;
        no_high = high > -PERF_KERNEL_NONE_ / 10;
        if (no_low && no_high)
            continue;                   /* it has no rings, or is the first that has */
        reader->unsure = perf_most_(high - low, reader->unsure);
        ahead = (low + high) / 2;
        if (no_low)
            ahead = high;
        else if (no_high)
            ahead = low;
        if (!(low <= 0 && high >= 0) && ahead > -9e18 && ahead < 9e18)
            reader->ahead[b] = PERF_CAST_(int64_t, ahead);
    }
}

#define PERF_KERNEL_TRACKS_ 128u        /* no SM or compute unit runs more warps at a time        */
#define PERF_KERNEL_LONG_   10000       /* ns; in less, the step of the common clock (32 ns to    */
                                        /* 1 us) is too large a part to tell the rate             */

/* A clock pair of a warp: its first, or its last. */
PERF_FN void perf_kernel_pair_(const perf_kernel_ring *ring, int last, uint64_t *cycles,
                               uint64_t *wall)
{
    *cycles = ring->opened;
    *wall = ring->opened_wall;
    if (last && ring->state == PERF_KERNEL_CLOSED_) {
        *cycles = ring->closed;
        *wall = ring->closed_wall;
    }
}

/* Groups by SM and gives each warp the lowest track that is free when it opens. */
PERF_COLD_FN_ void perf_kernel_tracks_(perf_kernel_reader_ *reader)
{
    uint64_t over[PERF_KERNEL_TRACKS_];         /* when the last warp of a track ended            */
    uint32_t used = 0, track;
    size_t   i, first = 0;

    for (i = 0; i < reader->warps; i++) {
        perf_kernel_warp_ *warp = &reader->warp[i];
        if (i == 0 || warp->ring->sm != reader->warp[first].ring->sm) {
            first = i;
            used = 0;
            reader->info.sms++;
        }
        track = 0;
        while (track < used && over[track] > warp->ring->opened)
            track++;
        if (track == PERF_KERNEL_TRACKS_)       /* cannot be: one of them then shows an overlap   */
            track--;
        over[track] = warp->last;
        if (track >= used)
            used = track + 1;
        warp->track = track;
        warp->sm_first = PERF_CAST_(uint32_t, first);
        if (used > reader->info.tracks)
            reader->info.tracks = used;
    }
}

/* The rate of the cycles: from the first clock pair of each SM to the last of each warp there. */
PERF_COLD_FN_ void perf_kernel_scale_(perf_kernel_reader_ *reader)
{
    size_t   i;
    double   cycles = 0, ns = 0, least = 0, most = 0, passed_ns, off;
    uint64_t end, ticks;
    int      pass;

    perf_kernel_tracks_(reader);
    perf_kernel_align_(reader);
    for (i = 0; i < reader->warps; i++) {
        const perf_kernel_ring *ring = reader->warp[reader->warp[i].sm_first].ring;
        perf_kernel_pair_(reader->warp[i].ring, 1, &end, &ticks);
        passed_ns = PERF_CAST_(double, ticks - ring->opened_wall) * reader->tick;
        if (end > ring->opened && ticks > ring->opened_wall && passed_ns >= PERF_KERNEL_LONG_) {
            cycles += PERF_CAST_(double, end - ring->opened);
            ns += passed_ns;
        }
    }
    if (cycles > 0)
        reader->info.cycle_ns = ns / cycles;
    for (i = 0; i < reader->warps && cycles > 0; i++)
        for (pass = 0; pass < 2; pass++) {
            const perf_kernel_ring *ring = reader->warp[reader->warp[i].sm_first].ring;
            perf_kernel_pair_(reader->warp[i].ring, pass, &end, &ticks);
            off = PERF_CAST_(double, PERF_CAST_(int64_t, ticks - ring->opened_wall)) *
                  reader->tick -
                  PERF_CAST_(double, PERF_CAST_(int64_t, end - ring->opened)) *
                      reader->info.cycle_ns;
            least = perf_least_(off, least);
            most = perf_most_(off, most);
        }
    reader->info.error_ns = perf_most_(most - least, reader->unsure * reader->tick);
}

/* A moment in cycles of a warp's SM on the device's common clock, in ns. */
PERF_FN uint64_t perf_kernel_ns_(const perf_kernel_reader_ *reader, const perf_kernel_warp_ *warp,
                                 uint64_t cycles)
{
    const perf_kernel_ring *ring = reader->warp[warp->sm_first].ring;
    uint64_t                wall = ring->opened_wall +
                                   PERF_CAST_(uint64_t, reader->ahead[perf_kernel_xcd_(ring)]);
    double ns = PERF_CAST_(double, cycles - ring->opened);

    if (reader->info.cycle_ns > 0)
        ns *= reader->info.cycle_ns;
    if (reader->head->wall_hz == 1000000000u)   /* nothing rounded where there is nothing to do   */
        return wall + perf_kernel_whole_(ns);
    return perf_kernel_whole_(ns + PERF_CAST_(double, wall) * reader->tick);
}

typedef struct perf_kernel_json_ {
    perf_file_           file;
    perf_kernel_reader_ *reader;
    const char *const   *names;
    uint32_t             count;
    int64_t              host_ns;
} perf_kernel_json_;

#define PERF_KERNEL_PID_ 1e7            /* SM 0 as a process of the trace; Linux's end at 2^22    */

PERF_COLD_FN_ void perf_kernel_json_one_(perf_kernel_json_ *json, const perf_kernel_event *event)
{
    const char *name = PERF_NULL_, *kind = "X", *key = "cycles";
    uint64_t    value = event->cycles;
    perf_file_ *file = &json->file;
    char        text[PERF_NAME_MAX_ + 1];
    perf_out_   out = perf_out_open_(text, sizeof text);

    if (event->id < json->count)
        name = json->names[event->id];
    if (event->instant) {
        kind = "i\",\"s\":\"t";
        key = "value";
        value = event->value;
    }
    if (name)
        perf_put_n_(&out, name, perf_name_length_(name));
    else
        perf_putf_(&out, "scope %.0f", PERF_CAST_(double, event->id));
    perf_file_putf_(file, ",\n{\"ph\":\"%s\",\"name\":", kind);
    perf_file_json_(file, text);
    perf_file_put_(file, ",\"ts\":");
    file->at = perf_digits_us_(file->at, event->start_ns + PERF_CAST_(uint64_t, json->host_ns));
    if (!event->instant) {
        perf_file_put_(file, ",\"dur\":");
        file->at = perf_digits_us_(file->at, event->ns);
    }
    perf_file_putf_(file, ",\"pid\":%.0f,\"tid\":%.0f,\"args\":{\"%s\":%.0f,"
                          "\"block\":\"%.0f,%.0f,%.0f\",\"warp\":%.0f}}",
                    PERF_KERNEL_PID_ + PERF_CAST_(double, event->sm),
                    PERF_CAST_(double, event->track), key,
                    PERF_CAST_(double, value), PERF_CAST_(double, event->block_x),
                    PERF_CAST_(double, event->block_y), PERF_CAST_(double, event->block_z),
                    PERF_CAST_(double, event->warp));
}

/* Writes all events into the trace; trace NULL: the first `room` of them into `out`. */
PERF_COLD_FN_ void perf_kernel_each_(const perf_kernel_reader_ *reader, perf_kernel_json_ *trace,
                                     perf_kernel_event *out, uint64_t room)
{
    size_t   i;
    uint64_t n;

    for (i = 0; i < reader->warps; i++) {
        const perf_kernel_warp_ *warp = &reader->warp[i];
        perf_kernel_event        event = PERF_ZERO;
        event.sm = warp->ring->sm;
        event.track = warp->track;
        event.block_x = warp->ring->block_x;
        event.block_y = warp->ring->block_yz & 0xffff;
        event.block_z = warp->ring->block_yz >> 16;
        event.warp = warp->ring->warp;
        for (n = 0; n < warp->records; n++) {
            uint32_t word[4];
            uint64_t begin;
            (void)perf_kernel_record_(reader, warp, n, word);
            if (!perf_kernel_event_of_(warp->ring, word, &event, &begin))
                continue;
            event.start_ns = perf_kernel_ns_(reader, warp, begin);
            event.ns = perf_kernel_ns_(reader, warp, begin + event.cycles) - event.start_ns;
            if (trace) {
                perf_kernel_json_one_(trace, &event);
            } else if (room) {
                room--;
                *out++ = event;
            }
        }
    }
}

PERF_FN perf_status perf_kernel_decode(const void *image, size_t bytes, perf_kernel_event *out,
                                       uint64_t room, perf_kernel_info *info)
{
    perf_kernel_reader_ reader;
    perf_status         status = perf_kernel_read_(&reader, image, bytes);

    if (status == PERF_OK) {
        perf_kernel_scale_(&reader);
        if (!out)
            room = 0;
        perf_kernel_each_(&reader, PERF_NULL_, out, room);
        PERF_FREE(reader.warp);
    }
    if (info)
        *info = reader.info;
    return status;
}

PERF_COLD_FN_ void perf_kernel_json_go_(void *with)
{
    perf_kernel_json_         *json = PERF_CAST_(perf_kernel_json_ *, with);
    const perf_kernel_reader_ *reader = json->reader;
    perf_file_                *file = &json->file;
    char                       rate[48] = "unknown, taken as 1";
    const char                *between = "";
    perf_out_                  out;
    size_t                     i;
    int                        several_xcds = 0;

    if (reader->info.cycle_ns > 0) {
        out = perf_out_open_(rate, sizeof rate);
        perf_put_fixed_(&out, reader->info.cycle_ns, 4);
    }
    perf_file_putf_(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_records\":%.0f,"
                          "\"missed_warps\":%.0f,\"ns_per_cycle\":",
                    PERF_CAST_(double, reader->info.dropped),
                    PERF_CAST_(double, reader->info.missed_warps));
    perf_file_json_(file, rate);
    perf_file_put_(file, "},\"traceEvents\":[\n");
    if (reader->warps)                          /* by SM, so the last has the highest XCD */
        several_xcds = reader->warp[reader->warps - 1].ring->sm >> 16 != 0;
    for (i = 0; i < reader->warps; i++) {
        const uint32_t sm = reader->warp[i].ring->sm;
        if (reader->warp[i].sm_first != i)
            continue;
        perf_file_putf_(file, "%s{\"ph\":\"M\",\"pid\":%.0f,\"name\":\"process_name\","
                              "\"args\":{\"name\":\"", between,
                        PERF_KERNEL_PID_ + PERF_CAST_(double, sm));
        if (several_xcds)
            perf_file_putf_(file, "XCD %.0f CU ", PERF_CAST_(double, sm >> 16));
        else
            perf_file_put_(file, "SM ");
        perf_file_putf_(file, "%.0f\"}}", PERF_CAST_(double, sm & 0xffff));
        between = ",\n";
    }
    perf_kernel_each_(reader, json, PERF_NULL_, 0);
    perf_file_put_(file, "\n]}\n");
    perf_file_flush_(file);
}

PERF_FN perf_status perf_kernel_trace_save(const char *path, const void *image, size_t bytes,
                                           const char *const *names, uint32_t count,
                                           int64_t host_ns)
{
    perf_kernel_reader_ reader;
    perf_kernel_json_   json = PERF_ZERO;
    perf_status         status = PERF_EINVAL;

    if (path && *path)
        status = perf_kernel_read_(&reader, image, bytes);
    if (status != PERF_OK)
        return status;
    perf_kernel_scale_(&reader);
    json.reader = &reader;
    json.names = names;
    if (names)
        json.count = count;
    json.host_ns = host_ns;
    status = perf_file_save_(path, &json.file, perf_kernel_json_go_, &json);
    PERF_FREE(reader.warp);
    return status;
}

PERF_END_DECLS
#endif

#endif /* PERF_KERNEL_H */
