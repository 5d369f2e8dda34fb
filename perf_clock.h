/* perf_clock.h - what time is it?  The cheapest counter of the processor, and nanoseconds.
 *
 *     uint64_t t = perf_ticks();
 *     work();
 *     t = perf_ticks() - t;                    // ticks; perf_record.h turns them into nanoseconds
 *
 * Sections (search for ">>"):  config  clock  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include "perf_base.h"

/* >>config ------------------------------------------------------------------------------------ */

#define PERF_CLOCK_AUTO      0  /* values of PERF_CLOCK, see there                                */
#define PERF_CLOCK_MONOTONIC 1  /* always clock_gettime                                           */
#define PERF_CLOCK_TSC       2  /* always the counter                                             */
#ifndef PERF_CLOCK              /* AUTO: the cpu counter when it is trustworthy, else MONOTONIC   */
#define PERF_CLOCK PERF_CLOCK_AUTO  /* MONOTONIC: clock_gettime  TSC: the counter, trusted or not */
#endif
/*      PERF_CLOCK_FN             a uint64_t f(void) of yours in ns; set it in every file or none */
#if defined(PERF_CLOCK_FN) || (!PERF_ARCH_X86_ && !defined(__aarch64__) &&                        \
                               !(defined(__riscv) && __riscv_xlen == 64))
#undef PERF_CLOCK               /* no counter, or none wanted                                     */
#define PERF_CLOCK PERF_CLOCK_MONOTONIC
#endif

PERF_BEGIN_DECLS

/* >>clock -------------------------------------------------------------------------------------
 * Two clocks: the processor's counter, the cheapest there is, and the system's monotonic
 * nanoseconds.  The counter is calibrated against these when somebody asks, without waiting: from a
 * bracketed pair of readings at first use and another one now, which also give the error.
 * perf_clock() of perf_record.h says how good they are.                                          */

/* The bare counter, about 9 ns a reading; the processor may move it by some 60 ticks among the
 * code around it.  Its unit is the tick; only differences mean anything.  Never fails.           */
PERF_FN uint64_t perf_ticks(void);

/* Monotonic nanoseconds, the same for every thread and process of the machine (since boot). */
PERF_FN uint64_t perf_now(void);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

PERF_FN uint64_t perf_now(void)
{
#if defined(PERF_CLOCK_FN)
    return PERF_CLOCK_FN();
#else
    return perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
#endif
}

PERF_FN uint64_t perf_ticks(void)
{
#if PERF_CLOCK == PERF_CLOCK_MONOTONIC
    return perf_now();
#elif PERF_ARCH_X86_
    uintptr_t lo, hi;                           /* rdtsc clears the upper halves: no mask         */

    __asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return (UINT64_C(0) + hi) << 32 | lo;
#else
    uint64_t ticks;

#if defined(__aarch64__)
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
#else
    __asm__ __volatile__("rdtime %0" : "=r"(ticks) : : "memory");
#endif
    return ticks;
#endif
}

PERF_END_DECLS

#endif /* PERF_CLOCK_H */
