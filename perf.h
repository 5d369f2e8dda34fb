/* perf.h - measure C, C++, CUDA host code and Cython by adding one #include.
 *
 *     #include "perf.h"
 *     int main(void)
 *     {
 *         PERF_SCOPE("decode");                // time from here to the end of this block
 *         return 0;
 *     }
 *
 * Compile with -DPERF_DISABLE=1 and it costs nothing.  No library, no set-up call.
 * Sections (search for ">>"):  config  platform  clock  scopes  report  trace  bench  ab  race
 *                              variant  schedule  private  c++
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_H

/* What PERF_SCOPES_SEEN_ encloses is all that perf_scope.h takes; the rest is PERF_SCOPES_ONLY_'s.
 * A file may include perf_scope.h first and this one later.                                      */
#ifndef PERF_SCOPES_ONLY_
#define PERF_H
#include <stdio.h>
#endif
#include "perf_stats.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf.h: found another or an older perf_stats.h; keep both files of one release together"
#endif

#ifndef PERF_SCOPES_SEEN_

/* >>config ------------------------------------------------------------------------------------
 * Beside those of perf_stats.h.  The sizes are read by the first scope of the program.           */

#define PERF_CLOCK_AUTO      0  /* what PERF_CLOCK may be, see there                              */
#define PERF_CLOCK_MONOTONIC 1  /* always clock_gettime                                           */
#define PERF_CLOCK_TSC       2  /* always the counter                                             */
#ifndef PERF_CLOCK              /* AUTO: the cpu counter when it is trustworthy, else MONOTONIC   */
#define PERF_CLOCK PERF_CLOCK_AUTO  /* MONOTONIC: clock_gettime  TSC: the counter, trusted or not */
#endif
/*      PERF_CLOCK_FN             a uint64_t f(void) of yours in ns; set it in every file or none */
#ifndef PERF_AT_EXIT            /* 1 in one file of a program (the one with main): when it ends,  */
#define PERF_AT_EXIT 0          /* PERF_REPORT=1 (or tree, csv, json) in the environment prints   */
#endif                          /* the report on stderr, PERF_TRACE=file saves the trace          */
#ifndef PERF_NVTX               /* 1 in one file of a program: every scope of all its files is an */
#define PERF_NVTX 0             /* NVTX range for Nsight Systems; needs nvtx3/nvToolsExt.h there  */
#endif
#ifndef PERF_ROCTX              /* 1 in one file: the same for AMD's rocprof, without any header  */
#define PERF_ROCTX 0
#endif
#ifndef PERF_NO_GPU             /* 1: a CUDA or HIP file does not get perf_cuda.h with this one   */
#define PERF_NO_GPU 0
#endif
#ifndef PERF_TRACE_EVENTS       /* trace ring of each thread, 16 bytes an event; 0 = no trace     */
#define PERF_TRACE_EVENTS 65536
#endif

/* >>platform ----------------------------------------------------------------------------------
 * The one place that knows compilers and systems.  System calls are declared under names of our
 * own on the libc symbols: strict C99 hides them, and asking for a feature macro comes too late. */

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define PERF_ARCH_X86_ 1
#else
#define PERF_ARCH_X86_ 0
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#define PERF_MSVC_ 1
#else
#define PERF_MSVC_ 0
#endif
#if defined(__TINYC__)
#define PERF_TCC_ 1
#else
#define PERF_TCC_ 0
#endif

#define PERF_STR2_(x) #x
#define PERF_STR_(x)  PERF_STR2_(x)
#if defined(__USER_LABEL_PREFIX__) && !PERF_TCC_
#define PERF_SYM_(name) PERF_STR_(__USER_LABEL_PREFIX__) name
#else
#define PERF_SYM_(name) name
#endif

/* Unix with 64-bit long: off_t, time_t and size_t are all one long (not so on x32 and 32 bit). */
#if !defined(_WIN32) && defined(__LP64__) && (defined(__unix__) || defined(__APPLE__))
#define PERF_LP64_UNIX_ 1
#else
#define PERF_LP64_UNIX_ 0
#endif
#if defined(__linux__) && PERF_LP64_UNIX_ && defined(__x86_64__)
#define PERF_SYS_GETTID_ 186L
#define PERF_SYS_TGKILL_ 234L
#elif defined(__linux__) && PERF_LP64_UNIX_ && (defined(__aarch64__) || defined(__riscv))
#define PERF_SYS_GETTID_ 178L
#define PERF_SYS_TGKILL_ 131L
#else
#define PERF_SYS_GETTID_ 0L     /* a thread is then known by the address of its own variable      */
#endif

#if PERF_MSVC_
#define PERF_WEAK_   __declspec(selectany)
#define PERF_THREAD_ __declspec(thread)
#elif PERF_TCC_
#define PERF_WEAK_              /* a common symbol: tcc has no working weak data (measured)       */
#define PERF_THREAD_
#elif defined(_WIN32)
#define PERF_WEAK_   __attribute__((weak))
#define PERF_THREAD_ __thread
#else
#define PERF_WEAK_   __attribute__((weak, visibility("hidden")))
#define PERF_THREAD_ __thread
#endif
/* Out of line: OUTLINE for what runs often, COLD for what does not.  `inline` all the same, so that
 * unused ones leave no code at -O0; gcc warns about the pair in C, see >>private.                */
#if PERF_MSVC_
#define PERF_OUTLINE_FN_ static __declspec(noinline)
#define PERF_COLD_FN_    static __declspec(noinline)
#define PERF_HOT_FN_     static __declspec(noinline)
#define PERF_INLINE_FN_  static __forceinline
#else
#define PERF_OUTLINE_FN_ static inline PERF_ATTR_((__noinline__, __nothrow__))
#define PERF_COLD_FN_    static inline PERF_ATTR_((__noinline__, __cold__, __nothrow__))
#define PERF_HOT_FN_     static inline PERF_ATTR_((__noinline__, __hot__, __nothrow__))
#define PERF_INLINE_FN_  static inline PERF_ATTR_((__always_inline__))
#endif
#define PERF_COLD_DECL_ static inline PERF_ATTR_((__nothrow__)) /* a COLD one, ahead of its body */

#if defined(__SANITIZE_THREAD__)
#define PERF_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PERF_TSAN_ 1
#endif
#endif
#if !defined(PERF_TSAN_)
#define PERF_TSAN_ 0
#endif

/* Relaxed loads and stores of single-writer counters: same code as plain ones on 64-bit machines,
 * and data races neither for the standard nor for ThreadSanitizer.                               */
#if PERF_MSVC_ || PERF_TCC_
#define PERF_GET_(p)    (*(p))
#define PERF_SET_(p, v) ((void)(*(p) = (v)))
#define PERF_ACQ_(p)    (*(p))
#define PERF_REL_(p, v) ((void)(*(p) = (v)))
#else
#define PERF_GET_(p)    __atomic_load_n(p, __ATOMIC_RELAXED)
#define PERF_SET_(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define PERF_ACQ_(p)    __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PERF_REL_(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#endif

PERF_BEGIN_DECLS

#if PERF_MSVC_
unsigned __int64 __rdtsc(void);
void             _mm_lfence(void);
long             _InterlockedCompareExchange(long volatile *, long, long);
#pragma intrinsic(__rdtsc, _mm_lfence, _InterlockedCompareExchange)
#endif

#if defined(_WIN32)
#if PERF_MSVC_
union _LARGE_INTEGER;
__declspec(dllimport) int __stdcall           QueryPerformanceCounter(union _LARGE_INTEGER *);
__declspec(dllimport) int __stdcall           QueryPerformanceFrequency(union _LARGE_INTEGER *);
__declspec(dllimport) unsigned long __stdcall GetCurrentThreadId(void);
#define perf_qpc_(p)  QueryPerformanceCounter((union _LARGE_INTEGER *)(p))
#define perf_qpf_(p)  QueryPerformanceFrequency((union _LARGE_INTEGER *)(p))
#define perf_win_tid_ GetCurrentThreadId
#elif defined(_WIN64)
extern int           perf_qpc_(int64_t *) __asm__("QueryPerformanceCounter");
extern int           perf_qpf_(int64_t *) __asm__("QueryPerformanceFrequency");
extern unsigned long perf_win_tid_(void) __asm__("GetCurrentThreadId");
#else
extern int __stdcall           perf_qpc_(int64_t *) __asm__("_QueryPerformanceCounter@4");
extern int __stdcall           perf_qpf_(int64_t *) __asm__("_QueryPerformanceFrequency@4");
extern unsigned long __stdcall perf_win_tid_(void) __asm__("_GetCurrentThreadId@0");
#endif
#else
#if PERF_LP64_UNIX_
struct perf_timespec_ {
    long sec, nsec;
};
extern int   perf_clock_gettime_(int, struct perf_timespec_ *) __asm__(PERF_SYM_("clock_gettime"));
extern void *perf_mmap_(void *, size_t, int, int, int, long) __asm__(PERF_SYM_("mmap"));
extern int   perf_madvise_(void *, size_t, int) __asm__(PERF_SYM_("madvise"));
extern int   perf_getpid_(void) __asm__(PERF_SYM_("getpid"));
extern int   perf_sched_yield_(void) __asm__(PERF_SYM_("sched_yield"));
extern char *perf_getenv_(const char *) __asm__(PERF_SYM_("getenv"));
#if defined(__linux__)
extern long perf_syscall_(long, ...) __asm__(PERF_SYM_("syscall"));
#endif
#elif defined(__linux__) && !defined(__x86_64__)    /* not x32, whose long is not its time_t      */
struct perf_timespec_ {         /* the plain symbol keeps 32-bit times for ever, with any libc    */
    long sec, nsec;
};
extern int perf_clock_gettime_(int, struct perf_timespec_ *) __asm__(PERF_SYM_("clock_gettime"));
#else
PERF_END_DECLS
#include <time.h>               /* 32-bit time_t comes in two sizes: only the system knows        */
#if !defined(CLOCK_MONOTONIC)
#error "perf.h: on this 32-bit system compile with -std=gnu99 (or -D_POSIX_C_SOURCE=199309L)"
#endif
PERF_BEGIN_DECLS
#endif
#if defined(__APPLE__)
#define PERF_CLOCK_MONOTONIC_ID_ 6
#define PERF_CLOCK_THREAD_ID_    16
#elif defined(__FreeBSD__) || defined(__DragonFly__)
#define PERF_CLOCK_MONOTONIC_ID_ 4
#define PERF_CLOCK_THREAD_ID_    14
#else
#define PERF_CLOCK_MONOTONIC_ID_ 1
#define PERF_CLOCK_THREAD_ID_    3
#endif
#endif

PERF_END_DECLS

#if !PERF_LP64_UNIX_
#include <stdlib.h>
#define perf_getenv_ getenv
#endif

PERF_BEGIN_DECLS

/* >>clock -------------------------------------------------------------------------------------
 * Two clocks: a counter of the processor, as cheap as time gets, and the monotonic nanoseconds of
 * the system.  The first is calibrated against the second whenever somebody asks, without a wait:
 * one bracketed pair of readings at first use, another one now, and the error follows from both.
 * perf_clock(), which says how good they are, stands with the reports: perf_scope.h leaves it out. */

#define PERF_CLOCK_LIST_(X)                                                                       \
    X(PERF_CLOCK_NOT_INVARIANT, 1u, "the cpu counter changes speed: clock_gettime used instead")  \
    X(PERF_CLOCK_UNTRUSTED, 2u, "the kernel does not trust the cpu counter on this machine")      \
    X(PERF_CLOCK_BACKWARDS, 4u, "the clock was seen going backwards")                             \
    X(PERF_CLOCK_ROUGH, 8u, "calibrated for too short: rate known to worse than 0.1 %")           \
    X(PERF_CLOCK_MIXED, 16u, "files of this program disagree about PERF_CLOCK")

#define PERF_CLOCK_ENUM_(name, bit, text) name = bit,
/* The bits of perf_clock_info.warnings. */
typedef enum perf_clock_warning {
    PERF_CLOCK_LIST_(PERF_CLOCK_ENUM_)
    PERF_CLOCK_FINE = 0
} perf_clock_warning;
#undef PERF_CLOCK_ENUM_

typedef struct perf_clock_info {
    const char *name;           /* "tsc", "cntvct", "rdtime", "clock_gettime", "qpc", "custom"    */
    double      hz;             /* ticks a second                                                 */
    double      tick_ns;        /* nanoseconds a tick                                             */
    double      resolution_ns;  /* smallest difference seen of two readings */
    double      cost_ns;        /* one reading                                                    */
    double      error_ppm;      /* bound on the error of tick_ns                                  */
    uint32_t    warnings;       /* PERF_CLOCK_... bits                                            */
} perf_clock_info;

/* The bare counter: about 9 ns, may be reordered with the code around it by some 60 ticks.  Its
 * unit is the tick; only differences mean anything.  Never fails.                                */
PERF_FN uint64_t perf_ticks(void);

/* The counter after everything before it has finished: 1.6 times the cost, no reordering. */
PERF_FN uint64_t perf_ticks_precise(void);

/* A difference of two perf_ticks() in nanoseconds.  The first call of this, of perf_clock() or of a
 * scope starts the calibration, which gets better by itself: the rate is good to 0.2 % at once,
 * 100 ppm after 100 us, 1 ppm after 10 ms; perf_clock().error_ppm is the bound.                  */
PERF_FN double perf_ticks_to_ns(uint64_t ticks);

/* Monotonic nanoseconds, the same for every thread and process of the machine (since boot). */
PERF_FN uint64_t perf_now(void);

/* Nanoseconds of processor time this thread has used; 0 where the system does not say. */
PERF_FN uint64_t perf_cpu_now(void);

/* >>scopes ------------------------------------------------------------------------------------
 *     PERF_SCOPE("decode");          a statement: times from here to the end of the block
 *     PERF_FUNCTION();               the same, named after the function
 *     perf_scope s = perf_scope_begin("decode");  ...  perf_scope_end(&s);
 *
 * Names of the macros are literals; perf_scope_begin takes any text.  In C a goto or a case label
 * must not jump past a PERF_SCOPE into its block: give the scope braces of its own (gcc finds such
 * jumps with -Wjump-misses-init, clang and C++ refuse them).
 * Any thread, any depth, recursion (inclusive time counts the outermost call once), early return,
 * exceptions; a longjmp or a forgotten end leaves its time in the scope around it and is counted.
 * Scopes of one name are one row in the report.  A scope costs what reading the counter twice
 * costs; calls never fail visibly, print or throw, and allocate only when a thread or name is new:
 * what went wrong is kept, see perf_error() and the notes under the report.                      */

struct perf_recorder_;
struct perf_cell_;

typedef struct perf_site_ {     /* what is measured; one static object a call site                */
    const char *name;
    const char *file;
    uint32_t    line;           /* kind : 8, line : 24                                            */
    uint32_t    id;             /* 0 until the registry has seen it                               */
} perf_site_;

/* An open scope.  With PERF_DISABLE at -O0 it must not even take room in the stack frame. */
#if PERF_DISABLE && defined(__GNUC__) && !PERF_TCC_ && !defined(__OPTIMIZE__)
#define PERF_SCOPE_EMPTY_ 1
#else
#define PERF_SCOPE_EMPTY_ 0
typedef struct perf_scope perf_span_;
#endif

struct
#if PERF_SCOPE_EMPTY_
    perf_span_
#else
    perf_scope
#endif
{                               /* every field private                                            */
    uint64_t               start;   /* ticks                                                      */
    struct perf_recorder_ *rec;     /* NULL: not recording                                        */
    uint64_t               nested;  /* the thread's running total of closed scopes at the begin   */
    struct perf_cell_     *cell;
    uint64_t               total;   /* of the cell at the begin                                   */
    uint32_t               depth;
    uint32_t               weight;  /* sampled scopes: calls this one stands for                  */
};

#if PERF_SCOPE_EMPTY_
typedef struct perf_span_ perf_span_;
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragmas"
#pragma clang diagnostic ignored "-Wc++-compat"
#pragma clang diagnostic ignored "-Wextern-c-compat"
#elif defined(__cplusplus)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
__extension__ struct perf_scope {
    char none[0];
};
#if defined(__cplusplus) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif
typedef struct perf_scope perf_scope;   /* an open scope; private inside                          */

/* Opens a scope called `name`: any string, copied when first seen; NULL reads "(null)".  Names
 * longer than 255 bytes are cut.  Where PERF_SCOPE fits it is cheaper and cannot be forgotten.   */
PERF_FN perf_scope perf_scope_begin(const char *name);

/* The same for a wait for data: its share is in the report.  What PERF_WAIT is to PERF_SCOPE. */
PERF_FN perf_scope perf_wait_begin(const char *name);

/* Closes it.  A second end and an end without begin do nothing but are counted; NULL does nothing. */
PERF_FN void perf_scope_end(perf_scope *scope);

/* Phases of a loop, one reading of the counter each: PERF_LAP(&lap, "parse") closes what has passed
 * since perf_lap_begin() or the last PERF_LAP.  Of one thread.  Where recording was off at either
 * end the phase is not counted.                                                                  */
typedef struct perf_lap {
    uint64_t               start, nested;       /* private                                        */
    struct perf_recorder_ *rec;
} perf_lap;
PERF_FN perf_lap perf_lap_begin(void);  /* starts the clock of the first phase                    */

/* PERF_LAP for names made at run time, and for Cython: name as for scopes.  NULL lap: nothing. */
PERF_FN void perf_lap_end(perf_lap *lap, const char *name);

/* A span that begins in one thread and may end in another, or overlap others: a request, a copy in
 * flight.  The struct may be copied and passed on; the end counts in the thread that calls it.
 * `id` tells spans of one name apart in the trace; 0 gives a fresh one.                          */
typedef struct perf_async {
    uint64_t start, id, range;                  /* private                                        */
    uint32_t name, open;
} perf_async;
PERF_FN perf_async perf_async_begin(const char *name, uint64_t id);     /* name as for scopes     */
PERF_FN void       perf_async_end(perf_async *span);        /* a second end: counted; NULL: not   */

/* The value of something now (queue length, bytes in flight): last, mean, extremes in the report,
 * a curve in the trace.  NaN is ignored and counted as misuse.  PERF_COUNT is cheaper.           */
PERF_FN void perf_count(const char *name, double value);

/* A moment worth seeing in the trace. */
PERF_FN void perf_instant(const char *name);

/* What the trace calls this thread; copied, cut to 31 bytes. */
PERF_FN void perf_thread_name(const char *name);

/* Run-time switches of the whole process, both on at the start: all recording, and the trace alone.
 * A switched-off scope costs one compare.  Take a lock.                                          */
PERF_FN void perf_enable(int on);
PERF_FN void perf_trace_enable(int on);

/* Forgets all that was recorded, in every thread; scopes open now count from here on. */
PERF_FN void perf_reset(void);

/* First failure since the start or the last perf_reset(); PERF_OK if there was none. */
PERF_FN perf_status perf_error(void);

/*     PERF_SCOPE_PRECISE("x")        waits for the work before it to finish: short bodies come out
 *                                    right, at 1.6 times the cost
 *     PERF_SCOPE_SAMPLED("x", 64)    measures one call in 64 (at random distances), counts all
 *     PERF_WAIT("read")              a scope that waits for data: its share is in the report, which
 *                                    calls the main thread data-bound from 30 % on
 *     PERF_COUNT("queue", n)  PERF_INSTANT("flush")  PERF_LAP(&lap, "parse")                     */
#define PERF_NOTHING_ PERF_CAST_(void, 0)
#if PERF_DISABLE
#define PERF_SCOPE(name)            PERF_NOTHING_
#define PERF_FUNCTION()             PERF_NOTHING_
#define PERF_SCOPE_PRECISE(name)    PERF_NOTHING_
#define PERF_SCOPE_SAMPLED(name, n) PERF_NOTHING_
#define PERF_WAIT(name)             PERF_NOTHING_
#define PERF_LAP(lap, name)         PERF_CAST_(void, sizeof(lap))
#define PERF_COUNT(name, value)     PERF_CAST_(void, sizeof(value))
#define PERF_INSTANT(name)          PERF_NOTHING_
#else
#if defined(__cplusplus) || defined(__GNUC__) || PERF_TCC_
#define PERF_SCOPE(name)            PERF_SCOPE_("" name "", PERF_KIND_SCOPE_, , __COUNTER__)
#define PERF_FUNCTION()             PERF_SCOPE_(__func__, PERF_KIND_SCOPE_, , __COUNTER__)
#define PERF_SCOPE_PRECISE(name)    PERF_SCOPE_("" name "", PERF_KIND_SCOPE_, precise_, __COUNTER__)
#define PERF_WAIT(name)             PERF_SCOPE_("" name "", PERF_KIND_WAIT_, , __COUNTER__)
#define PERF_SCOPE_SAMPLED(name, n) PERF_SAMPLED_("" name "", n, __COUNTER__)
#else
#define PERF_SCOPE(name) PERF_SCOPE_needs_GNU_C_or_Cxx__use_perf_scope_begin_and_perf_scope_end
#define PERF_FUNCTION()             PERF_SCOPE("")
#define PERF_SCOPE_PRECISE(name)    PERF_SCOPE(name)
#define PERF_WAIT(name)             PERF_SCOPE(name)
#define PERF_SCOPE_SAMPLED(name, n) PERF_SCOPE(name)
#endif
#define PERF_LAP(lap, name)                                                                       \
    PERF_AT_SITE_("" name "", PERF_KIND_SCOPE_, perf_lap_(lap, &perf_site_here_))
#define PERF_COUNT(name, value)                                                                   \
    PERF_AT_SITE_("" name "", PERF_KIND_COUNT_, perf_count_at_(&perf_site_here_, value))
#define PERF_INSTANT(name)                                                                        \
    PERF_AT_SITE_("" name "", PERF_KIND_INSTANT_, perf_instant_at_(&perf_site_here_))
#endif

#define PERF_KIND_SCOPE_   0u
#define PERF_KIND_WAIT_    1u
#define PERF_KIND_ASYNC_   2u
#define PERF_KIND_COUNT_   3u
#define PERF_KIND_INSTANT_ 4u
#define PERF_KIND_SYNC_    5u   /* a scope that waits for a device                                */
#define PERF_KIND_DEVICE_  6u   /* time of a device: its work, and what it copies in, out, within */
#define PERF_KIND_IN_      7u
#define PERF_KIND_OUT_     8u
#define PERF_KIND_COPY_    9u
#define PERF_KIND_HOST_(k)  ((k) < PERF_KIND_ASYNC_ || (k) == PERF_KIND_SYNC_)  /* has self time  */
#define PERF_KIND_SLICE_(k) ((k) < PERF_KIND_ASYNC_ || (k) >= PERF_KIND_SYNC_)  /* nests          */
#define PERF_KIND_POINT_(k) ((k) == PERF_KIND_COUNT_ || (k) == PERF_KIND_INSTANT_)  /* no length  */

#define PERF_SITE_(site, name, kind)                                                              \
    static perf_site_ site = {name, __FILE__, __LINE__ | kind << 24, 0}
#define PERF_AT_SITE_(name, kind, call)                                                           \
    do {                                                                                          \
        PERF_SITE_(perf_site_here_, name, kind);                                                  \
        call;                                                                                     \
    } while (0)

/* Two variables: the span lives in memory, the pointer in a register, so that a scope which is
 * switched off costs one compare (with one variable the end would have to read it back).         */
#define PERF_SCOPE_(name, kind, how, n)                                                           \
    PERF_SCOPE2_(name, kind, how, PERF_CAT_(perf_site_, n), PERF_CAT_(perf_span_, n),             \
                 PERF_CAT_(perf_open_, n))
#define PERF_SCOPE2_(name, kind, how, site, span, open)                                           \
    PERF_SITE_(site, name, kind);                                                                 \
    perf_span_ span;                                                                              \
    PERF_OPEN_(how, open, PERF_ON_() ? PERF_CAT_(perf_begin_, how)(&(span), &(site)) : PERF_NULL_)
#define PERF_SAMPLED_(name, n, k)                                                                 \
    PERF_SAMPLED2_(name, n, PERF_CAT_(perf_site_, k), PERF_CAT_(perf_skip_, k),                   \
                   PERF_CAT_(perf_span_, k), PERF_CAT_(perf_open_, k))
#define PERF_SAMPLED2_(name, n, site, skip, span, open)                                           \
    PERF_SITE_(site, name, PERF_KIND_SCOPE_);                                                     \
    static PERF_THREAD_ perf_skip_ skip;                                                          \
    perf_span_ span;                                                                              \
    PERF_OPEN_(sampled_, open, PERF_UNLIKELY_(--(skip).left < 0)                                  \
                                   ? perf_begin_sampled_(&(span), &(site), &(skip), n)            \
                                   : PERF_NULL_)

typedef struct perf_skip_ {     /* of a sampled scope and thread                                  */
    int32_t  left;              /* calls until the next one is measured                           */
    uint32_t gap;               /* calls that one will stand for                                  */
} perf_skip_;

PERF_END_DECLS
#endif /* PERF_SCOPES_SEEN_ */

#ifndef PERF_SCOPES_ONLY_
PERF_BEGIN_DECLS

/* >>report ------------------------------------------------------------------------------------
 * What has been recorded so far, while threads go on recording.  Allocates; takes no lock that a
 * running scope ever waits for.                                                                  */

/* What the scopes are timed with; measures resolution and cost anew (some 20 us). */
PERF_FN perf_clock_info perf_clock(void);

/* English text of one warning bit; never NULL. */
PERF_FN const char *perf_clock_warning_text(uint32_t bit);

typedef enum perf_sort {
    PERF_SORT_SELF,             /* by time spent in the scope itself, largest first               */
    PERF_SORT_TOTAL,
    PERF_SORT_CALLS,
    PERF_SORT_MEAN,
    PERF_SORT_P50,
    PERF_SORT_P95,
    PERF_SORT_P99,
    PERF_SORT_MAX,
    PERF_SORT_NAME              /* by name, a to z                                                */
} perf_sort;

/* How a report is laid out. */
typedef enum perf_view {
    PERF_VIEW_TABLE,
    PERF_VIEW_TREE,             /* who called whom, from the events still in the trace            */
    PERF_VIEW_CSV,              /* all scopes, times in ns; the header line names the columns     */
    PERF_VIEW_JSON              /* the same and the clock; NaN never occurs                       */
} perf_view;

typedef struct perf_report_opts {   /* zero = default                                             */
    perf_sort sort;             /* 0 -> PERF_SORT_SELF                                            */
    int       rows;             /* 0 -> 50 in table and tree, all in CSV and JSON; negative: all  */
    perf_view view;             /* 0 -> PERF_VIEW_TABLE                                           */
} perf_report_opts;

PERF_FN perf_report_opts perf_report_opts_default(void);    /* all zero; for C++11 and Cython     */
PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts);  /* what runs   */

/* The table on stderr.  At the end of a program on request: PERF_AT_EXIT in >>config.
 * Columns: calls; total (recursive calls once); self: total less the scopes inside; share: self of
 * all self; mean; the time below which 50, 95, 99 % of the calls stay (within 1.6 %); longest.   */
PERF_FN perf_status perf_report(void);

/* The same to any stream; opts NULL means defaults. */
PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts);

/* The same into buf, always terminated when cap > 0.  Returns the length of the full text, as
 * snprintf does: cut off if it is not below cap; buf NULL with cap 0 asks for the length.        */
PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts);

/* Marks the end of a phase ("load", "solve"): resident and peak memory, heap, page faults, time of
 * the processor, blocks from and to disks, bytes and calls of read and write (pipes and files in
 * memory too) since the mark before, as a table of the report.  Reads /proc: some 40 us and 4 of the
 * read calls.  PERF_ENODATA where the system does not tell.                                      */
PERF_FN perf_status perf_memory_mark(const char *phase);

/* What the scopes of one name have recorded, as a struct without pointers: keep it, send it, add it
 * to those of other processes in any order or tree, the bits of the sum are the same (one
 * MPI_Reduce: docs/mpi.md).  All zero is empty.  44 KB, so not on a small stack.                 */
typedef struct perf_tally {
    perf_hist hist;             /* of the calls in ns: exact extremes, percentiles within 2 %     */
    uint64_t  calls, sum_ns;    /* sum_ns / calls is the mean                                     */
    uint64_t  total_ns;         /* recursive calls once                                           */
    uint64_t  self_ns;          /* without the scopes inside                                      */
    uint64_t  parts;            /* tallies in it: 1 from perf_tally_of                            */
    uint64_t  most_ns, least_ns;        /* largest and smallest total_ns of a part, ...           */
    uint32_t  most, least;      /* ... and its number; of equal ones the lower                    */
} perf_tally;

/* Tally of `name` (the host's scope where a device scope has that name too) from all threads, which
 * may go on; `part` is a number of yours for this process, its rank.  PERF_ENODATA: nothing
 * recorded, *out is then a part without calls, which counts as one in an imbalance.  PERF_EINVAL:
 * no name or out; PERF_ENOMEM: *out is empty.                                                    */
PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out);

/* into += from.  PERF_ERANGE: a sum would overflow; PERF_EINVAL: NULL, or not a tally; either way
 * `into` stays as it was.                                                                        */
PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from);

/* By how much the part with the most time is beyond the mean of all parts: 0.2 is 20 %; 0 when
 * there is no time in it.                                                                        */
PERF_FN double perf_tally_imbalance(const perf_tally *t);

/* >>trace -------------------------------------------------------------------------------------
 * Each thread keeps its last PERF_TRACE_EVENTS scopes.                                           */

/* Writes them as Chrome trace JSON: open it in https://ui.perfetto.dev or chrome://tracing.  The
 * file appears whole or not at all (written beside, then renamed; devices are written directly).
 * Times are perf_now() in microseconds with three decimals: the traces of several processes of one
 * machine fit together.  PERF_EIO when it cannot be written, PERF_EINVAL for no path.            */
PERF_FN perf_status perf_trace_save(const char *path);

/* >>bench: how long does one iteration take? -----------------------------------------------------
 *
 *     perf_bench b = perf_bench_begin("copy 4 KiB", NULL);
 *     while (perf_bench_next(&b)) {
 *         memcpy(dst, src, 4096);
 *         perf_keep(dst);                      // or the compiler may delete the whole body
 *     }
 *     perf_result r = perf_bench_end(&b);      // r.time.p50, r.cold_ns, r.status
 *
 * The first iteration is timed on its own (cold_ns).  Then iterations are batched into slices of
 * 50 us, shorter than a scheduler's turn, so that most slices are untouched by other programs;
 * the clock's own cost is taken off each slice; sampling stops when the median is known to 1 %.
 * Leaving the loop early is fine: the result has what was measured until then.
 * One bench belongs to one thread; several threads may each run their own.
 *
 * A body over 300 us is longer than a scheduler's turn on a busy machine.  Its slices are timed by
 * two clocks, the wall's and the thread's own processor time, and `decides` says which one counts:
 *   wall  when the body waits by itself (sleeps, reads, locks: voluntary switches in over a tenth
 *         of the slices), or when it hardly ever waits (2 % of the time), or when the system does
 *         not tell the two apart (only 64-bit Linux does)
 *   cpu   otherwise: it was ready to run, and others had the processor                           */
typedef void (*perf_before_fn)(void *user, int variant);

/* Which of the two clocks a result rests on. */
typedef enum perf_decides { PERF_DECIDES_WALL, PERF_DECIDES_CPU } perf_decides;

typedef struct perf_bench_opts {        /* zero = default                                         */
    int    warmup;                      /* slices thrown away; 0 -> 5, < 0 -> none; >= 3 calls    */
    int    samples;                     /* slices; 0 -> 30 .. 1000, until rel_ci; n > 0 -> n      */
    double rel_ci;                      /* half-width of the median's 95 % interval over the      */
                                        /* median to stop at; 0 -> 0.01                           */
    double max_seconds;                 /* 0 -> 1.0; a slow body still gets 3 samples             */
    double slice_ns;                    /* 0 -> 50,000; 1,000 .. 1e9                              */
    double bytes, items;                /* per iteration, for GB/s and items/s in the report      */
    double flops;                       /* likewise, for GFLOP/s                                  */
    double peak_gb_per_s;               /* ceilings of your machine, for "percent of peak";       */
    double peak_gflop_per_s;            /* 0: none                                                */
    perf_before_fn before;              /* called outside the timing before each slice, as        */
    void          *user;                /* before(user, 0); may not throw; NULL: nothing          */
} perf_bench_opts;

typedef struct perf_result {
    perf_summary    time;               /* ns per iteration by the wall's clock; count == 0: not  */
                                        /* measured, see status                                   */
    double          cold_ns;            /* the first iteration alone; 0 when it never ran         */
    double          overhead_ns;        /* clock cost taken off every slice                       */
    uint64_t        batch;              /* iterations per slice                                   */
    uint64_t        iterations;         /* all iterations, warm-up included                       */
    perf_bench_opts opts;               /* what really ran, defaults filled in                    */
    perf_status     status;
    uint32_t        warnings;           /* PERF_WARN_ bits                                        */
    perf_summary    cpu;                /* the same by processor time; count == 0: not taken      */
    perf_decides    decides;            /* which of the two is the answer                         */
    const char     *why;                /* one static sentence about that, never NULL             */
    double          gb_per_s;           /* from the median that decides; 0: not asked for         */
    double          items_per_s;
    double          gflop_per_s;
    double          percent_of_peak_gb; /* 0: no ceiling given                                    */
    double          percent_of_peak_gflop;
    char            text[360];          /* filled by perf_result_text                             */
} perf_result;

typedef struct perf_bench {             /* private; lives in registers, so never take it apart    */
    int64_t                    left;
    int64_t                    first;   /* `left` at the first iteration of a slice               */
    struct perf_bench_state_  *state;
} perf_bench;

PERF_FN perf_bench_opts perf_bench_opts_default(void);      /* all zero; for C++11 and Cython     */
PERF_FN perf_bench_opts perf_bench_opts_resolved(const perf_bench_opts *opts);  /* what runs      */

/* Allocates.  name: any text, copied, NULL is "(unnamed)".  opts NULL: defaults.  Never fails
 * visibly: without memory the loop runs zero times and perf_bench_end says PERF_ENOMEM.          */
PERF_FN perf_bench  perf_bench_begin(const char *name, const perf_bench_opts *opts);
PERF_FN int         perf_bench_next(perf_bench *b); /* hot path: one decrement, one branch */

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_result perf_bench_end(perf_bench *b);

/* Work that is not to be timed, inside the loop.  Each pair costs two readings of the clock, which
 * are taken off, right to some ns: fine once per slice, or around bodies of microseconds.  A pause
 * lasts until resume or the last iteration of the slice; doubled, or outside a loop: ignored.    */
PERF_FN void perf_bench_pause(perf_bench *b);
PERF_FN void perf_bench_resume(perf_bench *b);

/* 1 in the first iteration of each slice, for set-up without a callback:
 *     if (perf_bench_slice_begins(&b)) { perf_bench_pause(&b); refill(); perf_bench_resume(&b); }
 * One compare an iteration, and nothing where it is not called.                                  */
PERF_FN int perf_bench_slice_begins(const perf_bench *b);

/* One line of English into r->text, which it returns: median, interval, rates, percent of the
 * ceilings, and which clock decided.  NULL gives "".                                             */
PERF_FN const char *perf_result_text(perf_result *r);

/* perf_keep(x): the compiler must assume that x is read here, so x gets computed.  x is any value
 * or object: an array, and what a pointer points to, count as read too; a struct is taken where it
 * lies, without a copy.  No memory clobber: other variables stay in registers.  (In C a macro, the
 * only one in lower case, because it takes any type; C++ has the templates at the end.)          */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__TINYC__)
#define PERF_KEEP_(x) ((void)(x))               /* tcc deletes nothing                            */
#elif defined(__clang__)                        /* "r,m" or "g" would store every double (14.0); */
                                                /* volatile asm reads memory here.  What has no   */
                                                /* register ("X" fails) goes by way of memory     */
#if defined(__AVX512F__)
#define PERF_KEEP_WIDEST_ 64u
#elif defined(__AVX__)
#define PERF_KEEP_WIDEST_ 32u
#else
#define PERF_KEEP_WIDEST_ 16u
#endif
#if defined(__cplusplus)
#define PERF_KEEP_SIZE_(x) (::perf::kept_<Type_>::size)
#else
#define PERF_KEEP_SIZE_(x)          /* of the value: a bit-field has no sizeof */                 \
    sizeof((void)0, __builtin_choose_expr(__builtin_classify_type(x) == 5, 0, (x)))
#endif
#define PERF_KEEP_HAS_NONE_(x)      /* 8: floating, 9: complex, -1 or 19: a vector */ \
    (__builtin_classify_type(x) == 8   ? PERF_KEEP_SIZE_(x) > 8                                   \
     : __builtin_classify_type(x) == 9 ? 1                                                        \
     : __builtin_classify_type(x) == -1 || __builtin_classify_type(x) == 19                       \
         ? PERF_KEEP_SIZE_(x) < 16 || PERF_KEEP_SIZE_(x) > PERF_KEEP_WIDEST_                      \
         : 0)
#if defined(__cplusplus)
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (PERF_KEEP_HAS_NONE_(x))                                                               \
            __asm__ __volatile__("" : : "m"(x));                                                  \
        else                                                                                      \
            __asm__ __volatile__("" : : "X"(x));                                                  \
    } while (0)
#else
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (PERF_KEEP_HAS_NONE_(x)) {                                                             \
            __typeof__((void)0, __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), (x), 0))            \
                perf_v_ = __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), (x), 0);                  \
            __asm__ __volatile__("" : : "m"(perf_v_));                                            \
        } else {                        /* the value of an integer, which may be a bit-field */   \
            __asm__ __volatile__("" : : "X"(__builtin_choose_expr(                                \
                __builtin_classify_type(x) >= 1 && __builtin_classify_type(x) <= 4,               \
                ((void)0, (x)),                                                                   \
                __builtin_choose_expr(PERF_KEEP_HAS_NONE_(x), 0, (x)))));                         \
        }                                                                                         \
    } while (0)
#endif
#elif defined(__GNUC__) && defined(__cplusplus)
#define PERF_KEEP_(x) __asm__ __volatile__("" : : "g,x"(x))
#elif defined(__GNUC__)
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (__builtin_classify_type(x) == 5) {  /* a pointer, or an array */ \
            uintptr_t perf_p_ = (uintptr_t)__builtin_choose_expr(                                 \
                __builtin_classify_type(x) == 5, (x), 0);                                         \
            __asm__ __volatile__("" : : "r"(perf_p_), "m"(*(char (*)[])perf_p_));                 \
        } else {                                                                                  \
            __asm__ __volatile__("" : : "g,x"(x));                                                \
        }                                                                                         \
    } while (0)
#else
#define PERF_KEEP_(x) perf_keep_at_(&(x))       /* other compilers: x must be a variable          */
PERF_FN void perf_keep_at_(const volatile void *p);
#endif
#ifndef __cplusplus
#define perf_keep(x) PERF_KEEP_(x)      /* see above                                              */
#endif

/* The compiler must assume that all memory that other code can reach is read and written here.  A
 * static that nobody writes is a constant, unless its address went somewhere: perf_keep(array) once. */
PERF_FN void perf_clobber(void);

/* >>ab: is the candidate faster than the baseline? -----------------------------------------------
 *
 *     int v;
 *     perf_ab ab = perf_ab_begin("count lines", NULL);         // asks for a speed-up >= 1.3x
 *     while ((v = perf_ab_next(&ab)) >= 0) {
 *         if (v) n = candidate(text);
 *         else   n = baseline(text);
 *         perf_keep(n);
 *     }
 *     perf_ab_result r = perf_ab_end(&ab);                     // r.verdict.decision
 *
 * Baseline and candidate take turns in slices of 50 us, in an order chosen by a coin for each pair,
 * so that no drift, clock step or neighbour can favour one of them.  The loop stops as soon as the
 * question is decided (and enough pairs are there to print a fair interval), or when the budget
 * ends: then the verdict is INCONCLUSIVE and says how much more it would take.  Bodies over 300 us
 * are decided by processor time where that is fairer, see >>bench.
 *
 * Two that share state (they walk the same memory, one behind the other) differ in turns though
 * they are equal alone, and no statistics of the turns can tell.  So a decision is
 * held against a control: the faster one runs alone for a while, then they take turns again.  If
 * that lead changes the ratio, or if the second of a pair is faster whichever it is, the verdict is
 * withheld and says so.  Cure: opts.before sets the state up anew before each slice.             */
typedef struct perf_ab_opts {           /* zero = default                                         */
    perf_compare_opts accept;           /* what to accept; default: speed-up >= 1.3x at 95 %; a   */
                                        /* rule on memory or throughput: PERF_EINVAL              */
    int      min_pairs;                 /* 0 -> 24; decided or not, while the time budget lasts   */
    int      max_pairs;                 /* 0 -> 5,000 (typical ratio), 400 (quantiles, mean)      */
    double   max_seconds;               /* 0 -> 2.0; slow bodies still get 8 pairs; the control   */
                                        /* comes on top: for half of that time, at least once     */
    double   slice_ns;                  /* 0 -> 50,000; 1,000 .. 1e9                              */
    uint64_t seed;                      /* of the coin; 0 -> from the clock, shown in the result  */
    int      control;                   /* 0 -> on, < 0 -> off                                    */
    perf_before_fn before;              /* called outside the timing before each slice, as        */
    void          *user;                /* before(user, variant); may not throw; NULL: nothing    */
} perf_ab_opts;

typedef struct perf_ab_result {
    perf_verdict verdict;               /* perf_verdict_text(&r.verdict) for a sentence           */
    perf_summary baseline, candidate;   /* ns per iteration; count == 0: not measured             */
    double       cold_baseline_ns;      /* the first run of each, alone                           */
    double       cold_candidate_ns;
    double       overhead_ns;           /* clock cost taken off every slice                       */
    uint64_t     batch_baseline;        /* iterations per slice                                   */
    uint64_t     batch_candidate;
    double       seconds;               /* from begin to end                                      */
    perf_ab_opts opts;                  /* what really ran                                        */
    perf_status  status;                /* anything but PERF_OK: the verdict is INCONCLUSIVE      */
    uint32_t     warnings;
    perf_summary baseline_cpu;          /* processor time; count == 0: not taken                  */
    perf_summary candidate_cpu;
    perf_decides decides;               /* which clock the verdict rests on                       */
    const char  *why;                   /* one static sentence about that, never NULL             */
    double       control_ratio;         /* candidate / baseline after one had a lead; 0: not run  */
    int          control_rounds;        /* leads until they agreed, 5 at most                     */
    int          control_failed;        /* 1: the verdict was withheld because of it              */
    int          forced;                /* 1: PERF_VARIANT let only one of the two run            */
} perf_ab_result;

typedef struct perf_ab {                /* private; lives in registers                            */
    int64_t                 left;
    int64_t                 first;
    struct perf_ab_state_  *state;
    int                     variant;
} perf_ab;

PERF_FN perf_ab_opts perf_ab_opts_default(void);            /* all zero; for C++11 and Cython     */
PERF_FN perf_ab_opts perf_ab_opts_resolved(const perf_ab_opts *opts);  /* what really runs        */

/* Allocates.  name copied, NULL is "(unnamed)"; opts NULL: defaults. */
PERF_FN perf_ab        perf_ab_begin(const char *name, const perf_ab_opts *opts);

/* 0: run the baseline once; 1: run the candidate once; -1: done.  One decrement, one branch. */
PERF_FN int            perf_ab_next(perf_ab *ab);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_ab_result perf_ab_end(perf_ab *ab);

/* As for a bench. */
PERF_FN void perf_ab_pause(perf_ab *ab);
PERF_FN void perf_ab_resume(perf_ab *ab);                   /* as for a bench                     */
PERF_FN int  perf_ab_slice_begins(const perf_ab *ab);       /* as for a bench                     */

/* What an accuracy check has seen, between begin and end, outside the timing: after the loop, or
 * paused.  The worst of several calls counts, against opts.accept.guard.limit (all zero: bit for
 * bit).  Can only turn an answer into REJECT; with guard.required nothing is accepted without.
 *     perf_ab_accuracy(&ab, perf_accuracy_f32(reference, out, n));                               */
PERF_FN void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen);

/* >>race: which of 2 to 64 variants is fastest? --------------------------------------------------
 *
 *     perf_race race = perf_race_begin("sort", 4, NULL);
 *     while ((v = perf_race_next(&race)) >= 0)
 *         run(v);                                              // 0 .. 3; 0 is the baseline
 *     perf_race_result r = perf_race_end(&race);               // r.best, r.entry[v].within_noise
 *
 * Each round runs every variant once, in a new random order.  Each is held against variant 0 by the
 * rule of opts.accept, all of them together wrong with at most 1 - confidence (Holm's levels), and
 * the race stops when all are decided.  Options as for perf_ab; max_pairs counts rounds, 0 ->
 * 1,000; a rule on a quantile or the mean is PERF_EINVAL.                                        */
typedef struct perf_race_entry {
    char         name[32];              /* of perf_race_name, or its number                       */
    perf_summary time;                  /* ns per iteration by the clock that decides             */
    double       cold_ns;
    uint64_t     batch;                 /* iterations per slice                                   */
    perf_verdict verdict;               /* against variant 0; of variant 0: not measured          */
    double       behind;                /* typical ratio to the best one, 1 for itself            */
    int          within_noise;          /* 1: not shown to be slower than the best one            */
    double       control_ratio;         /* to variant 0 after one had a lead; 0: not run          */
} perf_race_entry;

typedef struct perf_race_result {
    const perf_race_entry *entry;       /* [count], kept until the program ends; NULL: none       */
    int          count;
    int          best;                  /* smallest median; -1: nothing measured                  */
    uint64_t     rounds;
    double       overhead_ns, seconds;
    perf_ab_opts opts;                  /* what really ran                                        */
    perf_status  status;
    uint32_t     warnings;
    perf_decides decides;
    const char  *why;                   /* one static sentence about that, never NULL             */
    int          control_rounds;
    int          forced;                /* 1: PERF_VARIANT let only one of them run               */
} perf_race_result;

typedef struct perf_race {              /* private; lives in registers                            */
    perf_ab duel;
} perf_race;

/* Allocates.  variants outside 2 .. 64: the loop runs zero times, PERF_EINVAL. */
PERF_FN perf_race        perf_race_begin(const char *name, int variants, const perf_ab_opts *opts);
PERF_FN int              perf_race_next(perf_race *r);      /* the variant to run once; -1: done  */
PERF_FN perf_race_result perf_race_end(perf_race *r);       /* as for perf_ab                     */
PERF_FN void             perf_race_pause(perf_race *r);     /* as for a bench                     */
PERF_FN void             perf_race_resume(perf_race *r);    /* as for a bench                     */
PERF_FN int              perf_race_slice_begins(const perf_race *r);    /* as for a bench         */

/* What a variant is called in the report; copied, 31 bytes.  Between begin and end. */
PERF_FN void             perf_race_name(perf_race *r, int variant, const char *name);

/* >>variant: the switch to ship with a change ----------------------------------------------------
 * The environment can choose a variant by name without a new build, to roll a change back:
 *     PERF_VARIANT="parser=A,sum=candidate" ./program
 * A or baseline or 0 is the baseline, B or candidate or 1 the candidate, C or 2 the next one, in
 * either case of letters.  perf_ab and perf_race loops of that name then run this variant alone and
 * are INCONCLUSIVE.                                                                              */

/* The variant that PERF_VARIANT asks for, else `otherwise`.  A value that is none of the above, no
 * value, or no `=` in all of PERF_VARIANT: `otherwise`, and perf_error() says PERF_EFORMAT.  Reads
 * the environment at each call (some 100 ns): keep the answer.  Works with PERF_DISABLE=1 too, for
 * what is shipped.  Any thread, while none changes the environment.                              */
PERF_FN int perf_variant(const char *name, int otherwise);

/* >>schedule: record some steps of a long loop ---------------------------------------------------
 *
 *     perf_schedule s = perf_schedule_begin(NULL);
 *     for (step = 0; step < steps; step++) {
 *         perf_schedule_step(&s);                  // first thing in each step
 *         train();
 *     }
 *     perf_schedule_end(&s);
 *
 * Each cycle waits, warms up, then records: scopes, traces and device timers of the whole process
 * are on in active steps only, whatever thread they run in, and as they were before after the end.
 * Scopes that are open when a phase changes are finished as they were begun.  One thread steps.  */
typedef enum perf_phase {
    PERF_PHASE_WAIT,
    PERF_PHASE_WARMUP,                  /* off too: a step to fill caches that were let go cold   */
    PERF_PHASE_ACTIVE,
    PERF_PHASE_DONE                     /* all cycles are over: off                               */
} perf_phase;

typedef struct perf_schedule_opts {     /* zero = default; negative = none                        */
    int skip;                           /* steps before the first cycle; 0 -> none                */
    int wait;                           /* steps of each cycle; 0 -> 1                            */
    int warmup;                         /* 0 -> 1                                                 */
    int active;                         /* 0 or negative -> 3                                     */
    int repeat;                         /* cycles; 0 or negative -> until the end                 */
} perf_schedule_opts;

typedef struct perf_schedule {          /* read it; the library writes it                         */
    perf_schedule_opts opts;            /* what really runs                                       */
    perf_phase         phase;           /* of the step under way                                  */
    uint64_t           step;            /* steps begun                                            */
    uint64_t           cycle;           /* cycles begun; 0 while skipping                         */
    uint64_t           recorded;        /* active steps begun                                     */
    int                open;            /* 1: between begin and end                               */
    int                was_on;          /* whether recording was on before                        */
} perf_schedule;

PERF_FN perf_schedule_opts perf_schedule_opts_default(void);    /* all zero; for C++11 and Cython */
/* What really runs. */
PERF_FN perf_schedule_opts perf_schedule_opts_resolved(const perf_schedule_opts *opts);

/* Switches recording off until the first active step; NULL: defaults. */
PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts);

/* A step begins: returns its phase.  NULL, before begin or after end: PERF_PHASE_DONE. */
PERF_FN perf_phase perf_schedule_step(perf_schedule *s);

/* Recording is as it was before begin.  PERF_ESTATE without begin, PERF_ENODATA when no step was
 * active.                                                                                        */
PERF_FN perf_status perf_schedule_end(perf_schedule *s);

PERF_END_DECLS
#endif /* PERF_SCOPES_ONLY_ */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

#ifndef PERF_SCOPES_SEEN_
PERF_BEGIN_DECLS

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- clock ---- */

#if !defined(_WIN32)
#if PERF_LP64_UNIX_ || (defined(__linux__) && !defined(__x86_64__))
PERF_FN uint64_t perf_system_ns_(int id)
{
    struct perf_timespec_ t;

    if (perf_clock_gettime_(id, &t))
        return 0;
    return PERF_CAST_(uint64_t, t.sec) * 1000000000u + PERF_CAST_(uint64_t, t.nsec);
}
#else
PERF_FN uint64_t perf_system_ns_(int id)
{
    struct timespec t;

    if (clock_gettime(id, &t))
        return 0;
    return PERF_CAST_(uint64_t, t.tv_sec) * 1000000000u + PERF_CAST_(uint64_t, t.tv_nsec);
}
#endif

PERF_FN uint64_t perf_now(void)
{
#if defined(PERF_CLOCK_FN)
    return PERF_CLOCK_FN();
#else
    return perf_system_ns_(PERF_CLOCK_MONOTONIC_ID_);
#endif
}

PERF_FN uint64_t perf_cpu_now(void)
{
    return perf_system_ns_(PERF_CLOCK_THREAD_ID_);
}
#else
/* Seconds and rest apart: count * 1e9 alone wraps after half an hour of a 10 MHz counter. */
PERF_FN uint64_t perf_now(void)
{
#if defined(PERF_CLOCK_FN)
    return PERF_CLOCK_FN();
#else
    int64_t  c = 0, f = 1;
    uint64_t count, hz;

    perf_qpc_(&c);
    perf_qpf_(&f);
    count = PERF_CAST_(uint64_t, c);
    hz = PERF_CAST_(uint64_t, f);
    return count / hz * 1000000000u + count % hz * 1000000000u / hz;
#endif
}

PERF_FN uint64_t perf_cpu_now(void)
{
    return 0;
}
#endif

/* 1: a counter instruction; 0: this file's ticks are nanoseconds of the system clock. */
#if PERF_CLOCK != PERF_CLOCK_MONOTONIC && !defined(PERF_CLOCK_FN) &&                              \
    (PERF_ARCH_X86_ || ((defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)) &&     \
                        defined(__GNUC__)))
#define PERF_COUNTER_ 1
#else
#define PERF_COUNTER_ 0
#endif

PERF_FN uint64_t perf_ticks(void)
{
#if !PERF_COUNTER_
    return perf_now();
#elif PERF_MSVC_
    return __rdtsc();
#elif PERF_ARCH_X86_
    uintptr_t lo, hi;                           /* rdtsc clears the upper halves: none to mask    */
    __asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return (UINT64_C(0) + hi) << 32 | lo;
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#else
    uint64_t t;
    __asm__ __volatile__("rdtime %0" : "=r"(t) : : "memory");
    return t;
#endif
}

PERF_FN uint64_t perf_ticks_precise(void)
{
#if !PERF_COUNTER_
    return perf_now();
#elif PERF_MSVC_
    _mm_lfence();
    return __rdtsc();
#elif PERF_ARCH_X86_
    uintptr_t lo, hi;
    __asm__ __volatile__("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return (UINT64_C(0) + hi) << 32 | lo;
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#else
    uint64_t t;
    __asm__ __volatile__("fence\n\trdtime %0" : "=r"(t) : : "memory");
    return t;
#endif
}

/* One reading of both clocks.  The system clock is read somewhere inside the bracket, always at
 * the same place, so what differs between two narrow brackets is the step of the counter.        */
typedef struct perf_pair_ {
    uint64_t ticks, ns, width;
} perf_pair_;

/* The narrowest of eight: an interrupt lands in one or two of them.  0.5 us. */
PERF_COLD_FN_ perf_pair_ perf_pair_read_(void)
{
    perf_pair_ best = PERF_ZERO;
    int        i;

    best.width = ~UINT64_C(0);
    for (i = 0; i < 8; i++) {
        uint64_t before = perf_ticks();
        uint64_t ns = perf_now();
        uint64_t width = perf_ticks() - before;
        if (width < best.width) {
            best.ticks = before + width / 2;
            best.ns = ns;
            best.width = width;
        }
    }
    return best;
}

/* First reading of this image (executable or shared object), and the rate known so far. */
typedef struct perf_calibration_ {
    uint32_t state;             /* 0 none, 1 somebody is at it, 2 ready                           */
    uint32_t warnings;
    uint64_t ticks, ns, width;
    uint64_t length;            /* ticks between the two pairs behind `tick_ns`; 0: no rate yet   */
    uint64_t tick_ns;           /* bits of a double                                               */
    uint64_t error_ppm;         /* bits of a double                                               */
} perf_calibration_;

struct perf_registry_;

/* The one object every file of an image shares; zero until the first use. */
typedef struct perf_anchor_ {
    uint32_t               size;
    uint32_t               off;         /* 1: scopes of this image do nothing                     */
    struct perf_registry_ *registry;
    perf_calibration_      clock;
    uint32_t               deaf;        /* 1: nobody listens to perf_nvtx_... calls; 0: not known   */
    uint32_t               reserved;
    uint64_t               spare[3];
} perf_anchor_;

#if !PERF_MSVC_ && !PERF_TCC_
extern PERF_WEAK_ perf_anchor_ perf_anchor_v1_;
extern PERF_WEAK_ PERF_THREAD_ struct perf_recorder_ *perf_self_v1_;
#endif
PERF_WEAK_ perf_anchor_ perf_anchor_v1_;
#if !PERF_TCC_
PERF_WEAK_ PERF_THREAD_ struct perf_recorder_ *perf_self_v1_;
#endif

PERF_FN int perf_claim_(uint32_t *word, uint32_t from, uint32_t to)
{
#if PERF_MSVC_
    return _InterlockedCompareExchange((long volatile *)word, (long)to, (long)from) == (long)from;
#elif PERF_TCC_
    return *word == from ? (*word = to, 1) : 0;
#else
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

PERF_COLD_FN_ perf_calibration_ *perf_calibrate_(void)
{
    perf_calibration_ *c = &perf_anchor_v1_.clock;

    if (PERF_ACQ_(&c->state) != 2 && perf_claim_(&c->state, 0, 1)) {
        perf_pair_ p = perf_pair_read_();
        PERF_SET_(&c->ticks, p.ticks);
        PERF_SET_(&c->ns, p.ns);
        PERF_SET_(&c->width, p.width);
        PERF_REL_(&c->state, 2u);
    }
    return PERF_ACQ_(&c->state) == 2 ? c : PERF_NULL_;
}

/* Rate from the first pair and one taken now.  Worth it when the distance has doubled. */
PERF_COLD_FN_ double perf_tick_ns_(void)
{
#if PERF_COUNTER_
    perf_calibration_ *c = perf_calibrate_();
    perf_calibration_  mine;
    perf_pair_         p;
    uint64_t           length, slack;
    double             rate, ppm;

    if (!c) {                                   /* another thread is at it this microsecond       */
        PERF_LIBC_(memset)(&mine, 0, sizeof mine);
        p = perf_pair_read_();
        mine.ticks = p.ticks;
        mine.ns = p.ns;
        mine.width = p.width;
        c = &mine;
    }
    length = PERF_GET_(&c->length);
    if (length && perf_ticks() - PERF_GET_(&c->ticks) < 2 * length)
        return perf_from_bits_(PERF_GET_(&c->tick_ns));
    do
        p = perf_pair_read_();
    while (p.ns < PERF_GET_(&c->ns) + 1000);
    length = p.ticks - PERF_GET_(&c->ticks);
    rate = PERF_CAST_(double, p.ns - PERF_GET_(&c->ns)) / PERF_CAST_(double, length);
    slack = p.width > PERF_GET_(&c->width) ? p.width - PERF_GET_(&c->width)
                                           : PERF_GET_(&c->width) - p.width;
    /* Each reading may sit anywhere in a step of either clock: 10 ns at most (measured: 108 ppm
     * after 100 us, 11 after 1 ms). */
    ppm = (10.0 / rate + PERF_CAST_(double, slack) / 2) / PERF_CAST_(double, length) * 1e6;
    PERF_SET_(&c->tick_ns, perf_bits_(rate));
    PERF_SET_(&c->error_ppm, perf_bits_(ppm));
    PERF_SET_(&c->length, length);
    return rate;
#else
    return 1.0;
#endif
}

PERF_FN double perf_ticks_to_ns(uint64_t ticks)
{
    return PERF_CAST_(double, ticks) * perf_tick_ns_();
}

#if PERF_ARCH_X86_ && PERF_COUNTER_ && !PERF_MSVC_
/* ebx is saved by hand: i386 position-independent code keeps its own pointer there. */
PERF_FN uint32_t perf_cpuid_(uint32_t leaf, uint32_t *edx)
{
    uint32_t a = leaf, d, c = 0;
#if defined(__x86_64__)
    __asm__ __volatile__("cpuid" : "+a"(a), "+c"(c), "=d"(d) : : "ebx");
#else
    __asm__ __volatile__("pushl %%ebx\n\tcpuid\n\tpopl %%ebx" : "+a"(a), "+c"(c), "=d"(d));
#endif
    *edx = d + (c & 0);
    return a;
}

/* 8 us in a virtual machine, where cpuid leaves it: asked once, when the registry is made. */
PERF_COLD_FN_ int perf_counter_invariant_(void)
{
    uint32_t edx;

    if (perf_cpuid_(UINT32_C(0x80000000), &edx) < UINT32_C(0x80000007))
        return 0;
    (void)perf_cpuid_(UINT32_C(0x80000007), &edx);
    return (edx >> 8 & 1) != 0;
}
#else
PERF_FN int perf_counter_invariant_(void)
{
    return 1;                                   /* by definition of the other counters            */
}
#endif

/* ---- registry and scopes ---- */

/* What one thread knows about one name.  Only the owner writes.  `low` and `span` bound the
 * durations seen below 2^32 ticks; anything outside, and every longer one, takes the cold path,
 * so one unsigned compare proves the bucket valid and keeps both extremes exact.  No two sums are
 * neighbours: gcc and clang would update the pair as a vector, and the next scope would wait for
 * the store (8.9 instead of 1.9 cycles).                                                         */
#define PERF_CELL_BITS_    5                    /* 32 buckets an octave: 1.6 % wide at most       */
#define PERF_CELL_OCTAVES_ 44
#define PERF_CELL_BUCKETS_ (PERF_CELL_OCTAVES_ << PERF_CELL_BITS_)
#define PERF_CELL_BIAS_    (1023u << PERF_CELL_BITS_)
#define PERF_NO_LOW_       (UINT64_C(1) << 63)  /* with span 0 no duration passes the compare     */

typedef struct perf_cell_ {
    uint64_t count, low;
    uint64_t sum, span;         /* sum: of all calls                                              */
    uint64_t total, tag;        /* total: recursive calls once; tag: the id as an event wants it  */
    uint64_t self, min, max;
    uint64_t last, least, most, values; /* of a counter: bits of doubles; max: time of the last   */
    uint64_t bucket[PERF_CELL_BUCKETS_];
} perf_cell_;

/* 16 bytes in the ring: duration : 32, name id : 24, depth : 8.  A duration of 2^32 - 1 says that
 * the true one, a counter's value or an async span's length and id stand in the entries before it;
 * those have name 0.                                                                             */
typedef struct perf_event_ {
    uint64_t start;             /* ticks                                                          */
    uint64_t what;
} perf_event_;
#define PERF_EVENT_MORE_ UINT64_C(0xffffffff)

struct perf_registry_;

/* A thread's name cache in front of the interned ones. */
typedef struct perf_known_ {
    const char        *key;
    struct perf_name_ *name;
} perf_known_;

/* One thread.  The first fields are the hot path's, in two cache lines.  After a fork the child
 * finds all of it zero (MADV_WIPEONFORK), and `cells` 0 sends it to the cold path.               */
typedef struct perf_recorder_ {
    perf_cell_ **cell;          /* by name id; NULL for [0] and unseen ones                       */
    uint32_t     cells;         /* entries of it; 0: go to the cold path                          */
    uint32_t     depth;
    uint64_t     closed;        /* running total of closed scopes, for self time                  */
    uint64_t     late;          /* the previous duration: its bucket is counted one scope later,  */
    perf_event_ *ring;
    perf_cell_  *late_cell;     /* when the processor has it at hand (1.00 instead of 1.31 pairs) */
    uint64_t     ring_mask;     /* bytes; 0: no trace                                             */
    uint64_t     ring_head;     /* bytes written so far                                           */
    uint64_t     ring_limit;    /* where ring_head takes the cold path; 0: no trace               */
    /* cold */
    uint32_t     room;          /* entries of `cell`, also when `cells` is 0                      */
    uint32_t     request;       /* PERF_ASK_ bits set by other threads                            */
    uint64_t     made, birth;   /* ticks; birth: or of the last reset                             */
    uint64_t     birth_closed;  /* `closed` at birth                                              */
    uint64_t     thread;        /* id of the owner                                                */
    uint64_t     number;        /* 1, 2, ... in order of appearance                               */
    uint64_t     ring_lost;     /* bytes written before the last reset                            */
    uint64_t     ring_more;     /* entries since then that belong to the event after them         */
    uint64_t     ring_sent;     /* bytes that went into the streamed file, or were lost to it     */
    uint64_t     ring_at, ring_step;            /* ticks of the last flush, bytes to the next     */
    uint64_t    *ring_first;                    /* by depth, see perf_stream_ties_                */
    uint64_t     abandoned, disordered, foreign, orphans, lost, misused;    /* perf_losses_       */
    struct perf_recorder_ *next, *next_same;    /* all; of one hash of thread id                  */
    struct perf_registry_ *home;
    char        *pool, *pool_end;               /* room for cells                                 */
    uint32_t     gone;                          /* its thread has ended: to be taken over         */
    uint32_t     foreign_track;                 /* no thread's, see perf_track_make_()            */
    uint32_t     dice;                          /* state of the random distances of sampling      */
    uint32_t     ranges, ranges_room;           /* the sink's: open in this thread, room for them */
    uint32_t    *range;
    uint32_t     sinking;                       /* 1: inside the sink                             */
    uint32_t     strayed;                       /* of `depth`: ended by another thread            */
    char         name[32];
    perf_known_  known[64];
    perf_cell_   blank;                         /* the first `late_cell`                          */
} perf_recorder_;
#define PERF_ASK_RESET_ 1u
#define PERF_ASK_TRACE_ 2u                      /* or: look at the registry's switches again      */
#define PERF_DEPTH_     0x3fffffffu             /* 16 bits of depth, 14 that count resets         */
#define PERF_COLD_END_  (1u << 31)              /* in the depth of a span: its end is a cold one  */

typedef struct perf_name_ {     /* one name, for ever; `site` is what dynamic scopes point to     */
    perf_site_         site;
    struct perf_name_ *next_same;
    uint32_t           hash;
    uint32_t           length;  /* the text follows the struct                                    */
    uint32_t           kind;
    void              *handle;  /* the sink's                                                     */
} perf_name_;

#define PERF_NAME_MAX_  255
#define PERF_NAMES_MAX_ (1u << 22)

typedef struct perf_retired_ {  /* the trace of a thread whose recorder serves another one now    */
    struct perf_retired_ *next;
    uint64_t              thread, number, count;
    char                  name[32];             /* the events follow, oldest first                */
} perf_retired_;
#define PERF_RETIRED_ROOM_(k) (UINT64_C(256) << (k))    /* bytes of events, of class k            */

#define PERF_RETIRED_MAX_ (UINT64_C(64) << 20)  /* bytes of such traces kept                      */

typedef struct perf_mark_ {     /* one perf_memory_mark()                                         */
    struct perf_mark_ *next;
    perf_name_        *name;
    uint64_t           ns, resident, peak, heap, minor, major, cpu_ns, read_blocks, written_blocks;
    uint64_t           io[4];   /* bytes read, bytes written, calls of each                       */
} perf_mark_;

/* A trace that is written while the program runs; what perf.h must know of it.  perf_trace.h has
 * the rest, and `flush` lies in the image that started the stream.                               */
typedef struct perf_stream_ {
    void        (*flush)(struct perf_registry_ *, struct perf_stream_ *, perf_recorder_ *);
    const void   *image;        /* its anchor                                                     */
    uint32_t      state;        /* PERF_STREAM_ ...                                               */
    uint32_t      status;       /* perf_status: why it failed                                     */
    uint64_t      unsent;       /* entries lost to the file, of ended threads or overwritten      */
} perf_stream_;
#define PERF_STREAM_ON_     1u
#define PERF_STREAM_FAILED_ 2u
#define PERF_STREAM_ENDED_  3u

/* Another place where scopes go while they run: a profiler's ranges (perf_nvtx.h).  One file of
 * the program installs it with perf_sink_set_; from then on every scope of every file takes the
 * cold path and calls it.  Without one the hot path asks nothing: `cells` 0 of a recorder is the
 * switch at the begin, PERF_COLD_END_ in the depth of a span the one at the end.                 */
typedef struct perf_label_ {
    const char        *text;
    struct perf_name_ *name;    /* NULL: a text that is not interned                              */
    uint32_t           kind;
    uint32_t           type;    /* of the payload: 0 none, 1 integer, 2 bits of a double          */
    uint64_t           bits;
} perf_label_;

typedef struct perf_sink_ {
    uint32_t size;
    int      (*listens)(void);                                  /* is anybody there?              */
    void     (*begin)(perf_recorder_ *, const perf_label_ *, uint32_t depth);
    void     (*end)(perf_recorder_ *, uint32_t depth);          /* all that began there or deeper */
    int      (*open)(const perf_label_ *, uint64_t *range);     /* a span of any thread; 0: none  */
    void     (*close)(uint64_t range);
    void     (*mark)(const perf_label_ *);
    void     (*thread)(const char *name);
} perf_sink_;

/* One in the process, on the heap, never freed: it outlives the shared objects that use it. */
typedef struct perf_registry_ {
    uint32_t        size, abi;
    uint32_t        lock;       /* id of the thread inside; 0: free                               */
    uint32_t        process;
    uint32_t        off;
    uint32_t        clock;      /* 0: scopes are timed by the counter; 1: by perf_now()           */
    uint32_t        error;      /* first perf_status that was not PERF_OK                         */
    uint32_t        warnings;   /* PERF_CLOCK_ bits                                               */
    uint64_t        ring_events;
    uint32_t        trace_off;
    uint32_t        async_ids;
    uint64_t        threads;    /* recorders and take-overs so far                                */
    uint64_t        alive;      /* recorders not known to be gone                                 */
    uint64_t        scan_at;    /* look for ended threads when so many are alive                  */
    uint64_t        lost;       /* scopes without a recorder: no memory                           */
    uint64_t        cut_names;
    uint64_t        retired_bytes, retired_lost;
    perf_recorder_ *recorders;
    perf_recorder_ *by_thread[256];
    perf_name_    **names;      /* by id; old tables stay readable, so readers need no lock       */
    uint32_t        count, room;
    perf_name_     *by_hash[4096];
    char           *pool, *pool_end;
    void           *results;    /* atomic list head: what the bench and A/B loops have finished   */
    uint64_t      (*custom)(void);
    perf_retired_  *retired;
    perf_mark_     *marks;      /* newest first                                                   */
    uint64_t        ticks, ns;  /* when it was made: the origin of the trace                      */
    struct perf_stream_ *stream;        /* atomic; NULL: never streamed                           */
    uint32_t        forked;     /* the process whose clean-up after a fork was begun              */
    uint32_t        bad_variant;        /* PERF_VARIANT named one that does not exist             */
    const perf_sink_ *sink;
    void           *gpu;        /* what perf_cuda.h keeps                                         */
    struct perf_source_ *sources;       /* who else has durations to tell                         */
    perf_retired_  *unused[32]; /* of retired traces that a reset forgot, by class                */
    uint32_t        reading;    /* who goes through `retired` now                                 */
    uint64_t        spare[5];
} perf_registry_;

/* Fresh zeroed pages that a forked child sees as zeros again; NULL when there are none. */
PERF_COLD_FN_ void *perf_pages_(size_t bytes, int wipe_on_fork)
{
#if PERF_LP64_UNIX_
#if defined(__linux__)
    void *p = perf_mmap_(PERF_NULL_, bytes, 3, 0x4022, -1, 0);  /* private anonymous noreserve    */
#else
    void *p = perf_mmap_(PERF_NULL_, bytes, 3, 0x1002, -1, 0);
#endif
    if (PERF_PTR_(intptr_t, p) == -1)
        return PERF_NULL_;
#if defined(__linux__)
    if (wipe_on_fork)
        (void)perf_madvise_(p, bytes, 18);      /* since 4.14; before, the process id tells       */
#endif
#else
    void *p = PERF_MALLOC(bytes);
    if (p)
        PERF_LIBC_(memset)(p, 0, bytes);
#endif
    (void)wipe_on_fork;
    return p;
}

/* `bytes` more of a pool that grows by `step`; never given back. */
PERF_COLD_FN_ void *perf_pool_(char **pool, char **end, size_t bytes, size_t step, int wipe)
{
    char *p;

    bytes = (bytes + 63) & ~PERF_CAST_(size_t, 63);
    if (!*pool || PERF_CAST_(size_t, *end - *pool) < bytes) {
        if (step < bytes)
            step = bytes;
        p = PERF_CAST_(char *, perf_pages_(step, wipe));
        if (!p)
            return PERF_NULL_;
        *pool = p;
        *end = p + step;
    }
    p = *pool;
    *pool += bytes;
    return p;
}

/* Who is running: unique among the threads of the system while the thread lives. */
PERF_COLD_FN_ uint32_t perf_thread_id_(void)
{
#if PERF_SYS_GETTID_
    return PERF_CAST_(uint32_t, perf_syscall_(PERF_SYS_GETTID_));
#elif defined(_WIN32)
    return PERF_CAST_(uint32_t, perf_win_tid_());
#elif PERF_TCC_
    return 1;
#else
    return PERF_CAST_(uint32_t, PERF_PTR_(uintptr_t, &perf_self_v1_) >> 3) | 1u;
#endif
}

PERF_COLD_FN_ uint32_t perf_process_id_(void)
{
#if PERF_LP64_UNIX_
    return PERF_CAST_(uint32_t, perf_getpid_());
#else
    return 1;
#endif
}

PERF_COLD_FN_ void perf_fail_(perf_registry_ *r, perf_status why)
{
    (void)perf_claim_(&r->error, PERF_OK, PERF_CAST_(uint32_t, why));
}

/* The child starts clean.  Its recorders were wiped (then the list ends at the first one), or start
 * over when they next begin a scope. */
PERF_COLD_FN_ void perf_forked_(perf_registry_ *r, uint32_t process)
{
    perf_recorder_ *t, *next;

    for (t = r->recorders; t; t = next) {
        next = t->next;
        t->cells = 0;
        t->home = PERF_NULL_;
    }
    r->recorders = PERF_NULL_;
    PERF_LIBC_(memset)(r->by_thread, 0, sizeof r->by_thread);
    r->threads = r->alive = r->lost = r->cut_names = r->retired_bytes = r->retired_lost = 0;
    r->scan_at = 64;
    r->retired = PERF_NULL_;
    r->reading = 0;
    r->marks = PERF_NULL_;
    r->gpu = PERF_NULL_;
    r->sources = PERF_NULL_;                    /* added again when next used                     */
    r->error = PERF_OK;
    if (r->stream)                              /* the child's next flush opens a file of its own */
        r->stream->unsent = 0;
    PERF_SET_(&r->lock, 0u);
    PERF_REL_(&r->process, process);            /* last: other threads of the child wait for it   */
}

/* Only first uses and reports come here.  0: this very thread is inside already (a scope in a
 * signal handler or in the user's own mmap); the caller then gives up and counts.                */
PERF_COLD_FN_ int perf_lock_(perf_registry_ *r)
{
    uint32_t me = perf_thread_id_(), process = perf_process_id_(), was;

    while (PERF_ACQ_(&r->process) != process) { /* a child may have many threads by now: one does it */
        was = PERF_GET_(&r->forked);
        if (was != process && perf_claim_(&r->forked, was, process))
            perf_forked_(r, process);
    }
    while (!perf_claim_(&r->lock, 0, me)) {
        if (PERF_GET_(&r->lock) == me)
            return 0;
#if PERF_LP64_UNIX_
        (void)perf_sched_yield_();
#endif
    }
    return 1;
}

PERF_COLD_FN_ void perf_unlock_(perf_registry_ *r)
{
    PERF_REL_(&r->lock, 0u);
}

PERF_COLD_FN_ perf_registry_ *perf_registry_make_(void)
{
    perf_registry_ *r = PERF_CAST_(perf_registry_ *, perf_pages_(sizeof *r, 0));

    if (!r)
        return PERF_NULL_;
    r->size = PERF_CAST_(uint32_t, sizeof *r);
    r->abi = 1;
    r->process = perf_process_id_();
    r->scan_at = 64;
    r->count = 1;                               /* id 0 means "not yet registered"                */
    r->ticks = perf_anchor_v1_.clock.ticks;
    r->ns = perf_anchor_v1_.clock.ns;
#if defined(PERF_CLOCK_FN) && defined(PERF_TEST_HOT_)
    r->clock = 0;                               /* our tests: that clock through the hot path     */
#elif defined(PERF_CLOCK_FN)
    r->custom = PERF_CLOCK_FN;
    r->clock = 1;
#elif !PERF_COUNTER_
    r->clock = 1;
#elif PERF_CLOCK == PERF_CLOCK_AUTO
    if (!perf_counter_invariant_()) {
        r->clock = 1;
        r->warnings |= PERF_CLOCK_NOT_INVARIANT;
    }
#endif
    r->ring_events = 1;
    while (r->ring_events < PERF_TRACE_EVENTS)
        r->ring_events *= 2;
    if (PERF_TRACE_EVENTS < 1)
        r->ring_events = 0;
    return r;
}

/* Shared objects loaded RTLD_LOCAL (each Python extension) see no symbol of each other, so every
 * image that uses scopes carries an ELF note with the distance to its anchor, and the registry is
 * found by walking the notes of all images.  perf_images_ calls `visit` for each anchor until it
 * returns something else than 0.                                                                 */
typedef struct perf_search_ {
    perf_anchor_   *leader;     /* of the first image: races for a new registry are settled there */
    perf_registry_ *found;
    uint32_t        off;
    int             set_off, set_deaf, there;
    const void     *is_there;   /* an anchor, looked for                                          */
} perf_search_;

PERF_COLD_FN_ void perf_image_(perf_anchor_ *a, perf_search_ *s)
{
    if (!s->leader)
        s->leader = a;
    if (!s->found)
        s->found = PERF_ACQ_(&a->registry);
    if (s->set_off)
        PERF_SET_(&a->off, s->off);
    if (s->is_there == a)
        s->there = 1;
    if (s->set_deaf)
        PERF_SET_(&a->deaf, 0u);
}

#if defined(__ELF__) && PERF_LP64_UNIX_ && !PERF_TCC_ &&                                          \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#define PERF_NOTES_ 1
struct perf_segment_ {          /* Elf64_Phdr and dl_phdr_info, without <link.h>                  */
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
struct perf_image_info_ {
    uint64_t                    base;
    const char                 *name;
    const struct perf_segment_ *segment;
    uint16_t                    segments;
};
extern int perf_dl_iterate_phdr_(int (*)(struct perf_image_info_ *, size_t, void *),
                                 void *) __asm__(PERF_SYM_("dl_iterate_phdr"));

PERF_COLD_FN_ int perf_image_visit_(struct perf_image_info_ *image, size_t size, void *search)
{
    uint16_t i;

    (void)size;
    for (i = 0; i < image->segments; i++) {
        const struct perf_segment_ *s = &image->segment[i];
        uint64_t                    at = image->base + s->vaddr, end = at + s->memsz;
        uint64_t                    pad = s->align == 8 ? 7 : 3;

        while (s->type == 4 && at + 28 <= end) {        /* PT_NOTE: sizes of name and data, type  */
            uint32_t head[3];
            int64_t  distance;
            uint64_t data;
            PERF_LIBC_(memcpy)(head, PERF_PTR_(const void *, at), sizeof head);
            data = at + ((12 + head[0] + pad) & ~pad);
            if (head[0] == 7 && head[1] == 8 && head[2] == 0x50455246 && data + 8 <= end &&
                !PERF_LIBC_(memcmp)(PERF_PTR_(const char *, at + 12), "perf.h", 7)) {
                PERF_LIBC_(memcpy)(&distance, PERF_PTR_(const void *, data), sizeof distance);
                perf_image_(PERF_PTR_(perf_anchor_ *, data + PERF_CAST_(uint64_t, distance)),
                            PERF_CAST_(perf_search_ *, search));
                break;
            }
            at = data + ((head[1] + pad) & ~pad);
        }
    }
    return 0;
}
#else
#define PERF_NOTES_ 0
#endif

/* Every image that takes part.  The note is written here, into whatever file uses this function:
 * a file that only includes the header gets none.                                                */
PERF_COLD_FN_ void perf_images_(perf_search_ *s)
{
#if PERF_NOTES_
    __asm__ __volatile__(".ifndef perf_note_v1_\n"
                         ".pushsection .note.perf_h,\"aG\",%note,perf_note_v1_,comdat\n"
                         ".balign 4\n"
                         ".weak perf_note_v1_\n"
                         ".hidden perf_note_v1_\n"
                         "perf_note_v1_:\n"
                         ".long 7, 8, 0x50455246\n"
                         ".asciz \"perf.h\"\n"
                         ".byte 0\n"
                         ".quad perf_anchor_v1_ - .\n"
                         ".popsection\n"
                         ".endif\n");
    (void)perf_dl_iterate_phdr_(perf_image_visit_, s);
#endif
    perf_image_(&perf_anchor_v1_, s);
}

/* The registry of the process, made by whoever asks first; NULL without memory. */
PERF_OUTLINE_FN_ perf_registry_ *perf_registry_get_(void)
{
    perf_search_    s;
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    if (r)
        return r;
    (void)perf_calibrate_();
    PERF_LIBC_(memset)(&s, 0, sizeof s);
    perf_images_(&s);
    if (!s.found) {
        r = perf_registry_make_();
        if (!r)
            return PERF_NULL_;
#if PERF_MSVC_ || PERF_TCC_
        s.leader->registry = s.found = r;
#else
        if (__atomic_compare_exchange_n(&s.leader->registry, &s.found, r, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            s.found = r;                        /* else lost a race: ours stays unused            */
#endif
    }
    r = s.found;
    PERF_REL_(&perf_anchor_v1_.registry, r);
    PERF_SET_(&perf_anchor_v1_.off, PERF_GET_(&r->off));
    if ((PERF_COUNTER_ == 0) != (r->clock != 0) && !(r->warnings & PERF_CLOCK_NOT_INVARIANT))
        r->warnings |= PERF_CLOCK_MIXED;
    return r;
}

/* What the scopes are timed with when the counter will not do. */
PERF_COLD_FN_ uint64_t perf_scope_ticks_(const perf_registry_ *r)
{
    return !r->clock ? perf_ticks() : r->custom ? r->custom() : perf_now();
}

/* ---- names ---- */

PERF_COLD_FN_ int perf_table_grow_(perf_registry_ *r)
{
    uint32_t     room = r->room ? r->room * 2 : 256;
    perf_name_ **table = PERF_CAST_(
        perf_name_ **, perf_pool_(&r->pool, &r->pool_end, room * sizeof *table, 65536, 0));

    if (!table)
        return 0;
    if (r->room)
        PERF_LIBC_(memcpy)(table, r->names, r->room * sizeof *table);
    PERF_REL_(&r->names, table);
    PERF_REL_(&r->room, room);
    return 1;
}

/* Length of a text as kept: at most `most` bytes, no UTF-8 character cut in two. */
PERF_COLD_FN_ uint32_t perf_text_length_(const char *name, uint32_t most)
{
    uint32_t n = 0;

    while (name[n] && n < most)
        n++;
    if (name[n])
        while (n > most - 4 && (name[n] & 0xc0) == 0x80)
            n--;
    return n;
}

PERF_COLD_FN_ uint32_t perf_name_length_(const char *name)
{
    return perf_text_length_(name, PERF_NAME_MAX_);
}

/* The entry of a name, made on first sight; NULL: no room.  Called with the lock held. */
PERF_COLD_FN_ perf_name_ *perf_name_intern_(perf_registry_ *r, const perf_site_ *site)
{
    const char *name = site->name;
    uint32_t    length, i, kind = site->line >> 24, hash = UINT32_C(2166136261) ^ kind;
    perf_name_ *n;
    char       *text;

    if (!name || !*name) {
        if (!name)
            perf_fail_(r, PERF_EINVAL);
        name = name ? "(empty)" : "(null)";
    }
    length = perf_name_length_(name);
    for (i = 0; i < length; i++)
        hash = (hash ^ PERF_CAST_(unsigned char, name[i])) * UINT32_C(16777619);
    if (name[length]) {
        r->cut_names++;
        perf_fail_(r, PERF_ELIMIT);
    }
    for (n = r->by_hash[hash % 4096]; n; n = n->next_same)
        if (n->hash == hash && n->kind == kind && n->length == length &&
            !PERF_LIBC_(memcmp)(n->site.name, name, length))
            return n;
    if (r->count >= PERF_NAMES_MAX_ || (r->count >= r->room && !perf_table_grow_(r)))
        return PERF_NULL_;
    n = PERF_CAST_(perf_name_ *,
                   perf_pool_(&r->pool, &r->pool_end, sizeof *n + length + 1, 65536, 0));
    if (!n)
        return PERF_NULL_;
    text = PERF_PTR_(char *, n + 1);
    PERF_LIBC_(memcpy)(text, name, length);
    text[length] = '\0';
    n->site.name = text;
    n->site.line = site->line;
    n->hash = hash;
    n->length = length;
    n->kind = kind;
    n->site.id = r->count;
    n->next_same = r->by_hash[hash % 4096];
    r->by_hash[hash % 4096] = n;
    r->names[r->count] = n;
    PERF_REL_(&r->count, r->count + 1);
    return n;
}

PERF_COLD_FN_ perf_name_ *perf_name_find_(perf_registry_ *r, const perf_site_ *site)
{
    perf_name_ *n;

    if (!perf_lock_(r))
        return PERF_NULL_;
    n = perf_name_intern_(r, site);
    perf_unlock_(r);
    if (!n)
        perf_fail_(r, PERF_ELIMIT);
    return n;
}

PERF_COLD_FN_ uint32_t perf_site_id_(perf_registry_ *r, perf_site_ *site)
{
    uint32_t id = PERF_GET_(&site->id);

    if (!id) {
        perf_name_ *n = perf_name_find_(r, site);
        id = n ? n->site.id : 0;
        PERF_SET_(&site->id, id);
    }
    return id;
}

/* ---- recorders ---- */

/* The ring as the switch wants it; touched pages come one by one, so a large one costs nothing
 * until it is used. */
PERF_COLD_FN_ void perf_ring_set_(perf_registry_ *r, perf_recorder_ *t)
{
    int on = r->ring_events && !PERF_GET_(&r->trace_off);

    if (!t->ring && on) {
        size_t bytes = PERF_CAST_(size_t, r->ring_events) * sizeof *t->ring;
        t->ring = PERF_CAST_(perf_event_ *, perf_pages_(bytes, 1));
        if (!t->ring)
            perf_fail_(r, PERF_ENOMEM);
    }
    PERF_SET_(&t->ring_mask, t->ring && on ? (r->ring_events - 1) * sizeof(perf_event_) : 0);
    PERF_SET_(&t->ring_limit, !t->ring_mask                 ? UINT64_C(0)
                              : PERF_ACQ_(&r->stream)       ? t->ring_head + sizeof(perf_event_)
                                                            : ~UINT64_C(0));
}

/* Hands what a ring holds to the streamed file, with the lock held; 0: there is no stream.  The
 * code may lie in another shared object, which may be gone.                                      */
PERF_COLD_FN_ int perf_stream_flush_(perf_registry_ *r, perf_recorder_ *t)
{
    perf_stream_ *stream = PERF_ACQ_(&r->stream);
    perf_search_  s;

    if (!stream || PERF_GET_(&stream->state) != PERF_STREAM_ON_)
        return 0;
    if (stream->image != PERF_PTR_(const void *, &perf_anchor_v1_)) {
        PERF_LIBC_(memset)(&s, 0, sizeof s);
        s.is_there = stream->image;
        perf_images_(&s);
        if (!s.there) {
            stream->status = PERF_ESTATE;
            PERF_SET_(&stream->state, PERF_STREAM_FAILED_);
            return 0;
        }
    }
    stream->flush(r, stream, t);
    return PERF_GET_(&stream->state) == PERF_STREAM_ON_;
}

/* Sets up a recorder that is new, or that a fork has wiped. */
PERF_COLD_FN_ void perf_recorder_start_(perf_registry_ *r, perf_recorder_ *t, uint32_t thread)
{
    perf_recorder_ **same = &r->by_thread[thread % 256];

    PERF_LIBC_(memset)(t, 0, sizeof *t);
    t->late_cell = &t->blank;
    t->late = 1;
    t->home = r;
    t->thread = thread;
    t->dice = thread * UINT32_C(2654435761) | 1;
    t->number = ++r->threads;
    r->alive++;
    t->made = t->birth = perf_scope_ticks_(r);
    perf_ring_set_(r, t);
    t->next_same = *same;
    PERF_REL_(same, t);
    t->next = r->recorders;
    PERF_REL_(&r->recorders, t);
}

/* Events of a ring that newer ones have overwritten; those before `from` (bytes) do not count.  An
 * event of several entries is gone with its first one, so where there are such, the whole ones that
 * are left are counted.                                                                          */
PERF_COLD_FN_ uint64_t perf_ring_dropped_(const perf_registry_ *r, const perf_recorder_ *t,
                                          uint64_t from)
{
    uint64_t head = PERF_ACQ_(&t->ring_head), written = (head - from) / sizeof(perf_event_);
    uint64_t more = PERF_GET_(&t->ring_more), i = 0, entries, what, whole = 0;

    if (written <= r->ring_events)
        return 0;
    if (!more || from != PERF_GET_(&t->ring_lost))
        return written - r->ring_events;
    while (i < r->ring_events) {                /* from the newest back                           */
        what = PERF_GET_(&t->ring[(head / sizeof(perf_event_) - 1 - i) % r->ring_events].what);
        entries = (what & PERF_EVENT_MORE_) != PERF_EVENT_MORE_ ? 1 : 2;
        if (entries == 2 && PERF_ACQ_(&r->names)[what >> 32 & 0xffffff]->kind == PERF_KIND_ASYNC_)
            entries = 3;
        i += entries;
        whole += what != 0 && i <= r->ring_events;
    }
    return written > more + whole ? written - more - whole : 0;     /* it may be writing          */
}

/* Called with the lock held.  What somebody is reading stays as it is, for ever. */
PERF_COLD_FN_ void perf_retired_forget_(perf_registry_ *r)
{
    perf_retired_ *old = r->retired, *next;
    int            k;

    PERF_SET_(&r->retired, PERF_CAST_(perf_retired_ *, PERF_NULL_));
    for (; old && !r->reading; old = next) {
        next = old->next;
        for (k = 0; PERF_RETIRED_ROOM_(k) < old->count * sizeof(perf_event_); k++) {
        }
        old->next = r->unused[k];
        r->unused[k] = old;
    }
}

/* Keeps the events of an ended thread apart, so that its recorder can serve another one. */
PERF_COLD_FN_ void perf_recorder_retire_(perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t       bytes = t->ring_head - t->ring_lost, size = r->ring_events * sizeof(perf_event_);
    uint64_t       i;
    perf_retired_ *old = PERF_NULL_;
    char          *to;
    int            sent = perf_stream_flush_(r, t), k = 0;

    if (!sent && r->stream && r->stream->state == PERF_STREAM_FAILED_)
        r->stream->unsent += (t->ring_head - t->ring_sent) / sizeof(perf_event_);
    if (bytes > size) {
        if (!sent)
            r->retired_lost += perf_ring_dropped_(r, t, t->ring_lost);
        bytes = size;
    }
    while (PERF_RETIRED_ROOM_(k) < bytes)
        k++;
    if (bytes && r->retired_bytes < PERF_RETIRED_MAX_) {
        old = r->reading ? PERF_NULL_ : r->unused[k];
        if (old)
            r->unused[k] = old->next;
        else
            old = PERF_CAST_(perf_retired_ *,
                             perf_pool_(&r->pool, &r->pool_end,
                                        sizeof *old + PERF_CAST_(size_t, PERF_RETIRED_ROOM_(k)),
                                        65536, 0));
    }
    if (old) {
        old->thread = t->thread;
        old->number = t->number;
        old->count = bytes / sizeof(perf_event_);
        PERF_LIBC_(memcpy)(old->name, t->name, sizeof old->name);
        to = PERF_PTR_(char *, old + 1);
        for (i = t->ring_head - bytes; i != t->ring_head; i += sizeof(perf_event_))
            PERF_LIBC_(memcpy)(to + (i - (t->ring_head - bytes)),
                               PERF_PTR_(char *, t->ring) + (i & (size - 1)), sizeof(perf_event_));
        old->next = r->retired;
        PERF_REL_(&r->retired, old);
        r->retired_bytes += PERF_RETIRED_ROOM_(k);
    } else if (!sent) {
        r->retired_lost += bytes / sizeof(perf_event_);
    }
    PERF_SET_(&t->ring_head, UINT64_C(0));
    t->ring_lost = t->ring_more = t->ring_sent = 0;
    if (t->ring_limit)
        perf_ring_set_(r, t);
}

/* A recorder whose thread has ended, to be taken over; its sums stay.  The kernel is asked about
 * all of them only when their number has doubled.                                                */
PERF_COLD_FN_ perf_recorder_ *perf_recorder_adopt_(perf_registry_ *r, uint32_t thread)
{
#if PERF_SYS_GETTID_ && !PERF_TSAN_     /* which does not see that a thread has ended             */
    perf_recorder_  *t;
    perf_recorder_ **p;

    if (r->alive >= r->scan_at) {
        for (t = r->recorders; t; t = t->next)
            if (!t->gone && !t->foreign_track &&
                perf_syscall_(PERF_SYS_TGKILL_, PERF_CAST_(long, r->process),
                              PERF_CAST_(long, t->thread), 0L)) {
                t->gone = 1;
                r->alive--;
            }
        r->scan_at = 2 * r->alive + 64;
    }
    if (r->alive == r->threads)                 /* none has ever gone                             */
        return PERF_NULL_;
    for (t = r->recorders; t && !t->gone; t = t->next) {
    }
    if (!t)
        return PERF_NULL_;
    perf_recorder_retire_(r, t);
    for (p = &r->by_thread[t->thread % 256]; *p && *p != t; p = &(*p)->next_same) {
    }
    if (*p)
        *p = t->next_same;
    t->gone = 0;
    t->depth = t->ranges = t->strayed = 0;
    t->thread = thread;
    t->name[0] = '\0';
    t->number = ++r->threads;
    r->alive++;
    t->made = perf_scope_ticks_(r);
    t->next_same = r->by_thread[thread % 256];
    r->by_thread[thread % 256] = t;
    return t;
#else
    (void)r;
    (void)thread;
    return PERF_NULL_;
#endif
}

#if PERF_TCC_
#define PERF_SELF_ PERF_CAST_(perf_recorder_ *, 0)
#else
#define PERF_SELF_ perf_self_v1_
#endif

/* Empty, without touching pages that are zero anyway. */
PERF_COLD_FN_ void perf_cell_clear_(perf_cell_ *c, uint32_t id)
{
    uint64_t *word = PERF_PTR_(uint64_t *, c);
    size_t    i;

    for (i = 0; i < sizeof *c / sizeof *word; i++)
        if (PERF_GET_(&word[i]))
            PERF_SET_(&word[i], UINT64_C(0));
    PERF_SET_(&c->low, PERF_NO_LOW_);
    PERF_SET_(&c->min, ~UINT64_C(0));
    PERF_SET_(&c->tag, PERF_CAST_(uint64_t, id) << 32);
}

/* What other threads have asked for, done by the owner when it next begins a scope. */
PERF_COLD_FN_ void perf_recorder_serve_(perf_recorder_ *t)
{
    perf_registry_ *r = t->home;
    uint32_t        i, ask;

    do {
        do
            ask = PERF_GET_(&t->request);
        while (!perf_claim_(&t->request, ask, 0));
        if (ask & PERF_ASK_RESET_) {
            for (i = 0; i < t->room; i++)
                if (t->cell[i])
                    perf_cell_clear_(t->cell[i], i);
            PERF_SET_(&t->late_cell, &t->blank);
            PERF_SET_(&t->late, UINT64_C(1));
            PERF_SET_(&t->ring_lost, t->ring_head);
            PERF_SET_(&t->ring_more, UINT64_C(0));
            PERF_SET_(&t->ring_sent, t->ring_head);
            PERF_SET_(&t->abandoned, UINT64_C(0));
            PERF_SET_(&t->disordered, UINT64_C(0));
            PERF_SET_(&t->foreign, UINT64_C(0));
            PERF_SET_(&t->orphans, UINT64_C(0));
            PERF_SET_(&t->lost, UINT64_C(0));
            PERF_SET_(&t->misused, UINT64_C(0));
            t->birth = perf_scope_ticks_(r);
            t->birth_closed = t->closed;
            /* Ends of scopes that are open now take the cold path. */
            PERF_SET_(&t->depth, (t->depth + (1u << 16)) & PERF_DEPTH_);
        }
        if (ask & PERF_ASK_TRACE_)
            perf_ring_set_(r, t);
        PERF_SET_(&t->cells, r->clock || PERF_ACQ_(&r->sink) ? 0 : t->room);
    } while (!perf_claim_(&t->request, 0, 0));  /* asked meanwhile: again                         */
}

/* The calling thread's recorder; NULL without memory. */
PERF_OUTLINE_FN_ perf_recorder_ *perf_recorder_get_(void)
{
    perf_registry_ *r;
    perf_recorder_ *t = PERF_SELF_;
    uint32_t        thread;

    if (t && t->home)
        return t;
    r = perf_registry_get_();
    if (!r || !perf_lock_(r))
        return PERF_NULL_;
    thread = perf_thread_id_();
    if (t) {                                    /* wiped by a fork: start over in the same place  */
        perf_recorder_start_(r, t, thread);
        perf_unlock_(r);
        return t;
    }
    for (t = r->by_thread[thread % 256]; t && t->thread != thread; t = t->next_same) {
    }
    if (t && t->gone) {                         /* the system has given the id to a new thread    */
        t->gone = 0;
        r->alive++;
    }
    if (!t)
        t = perf_recorder_adopt_(r, thread);
    if (!t) {
        t = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *t, 1));
        if (t)
            perf_recorder_start_(r, t, thread);
    }
    perf_unlock_(r);
#if !PERF_TCC_
    perf_self_v1_ = t;
#endif
    if (t && PERF_GET_(&t->request))            /* left over from the thread before               */
        perf_recorder_serve_(t);
    if (!t) {
        r->lost++;
        perf_fail_(r, PERF_ENOMEM);
    }
    return t;
}

/* The cell of a name, with room made for it; NULL without memory or for id 0. */
PERF_COLD_FN_ perf_cell_ *perf_cell_get_(perf_recorder_ *t, uint32_t id)
{
    perf_cell_ *c;

    if (id >= t->room) {
        uint32_t     room = t->room ? t->room : 64;
        perf_cell_ **table;

        while (room <= id)
            room *= 2;
        table = PERF_CAST_(perf_cell_ **,
                           perf_pool_(&t->pool, &t->pool_end, room * sizeof *table, 262144, 1));
        if (!table)
            return PERF_NULL_;
        if (t->room)
            PERF_LIBC_(memcpy)(table, t->cell, t->room * sizeof *table);
        PERF_REL_(&t->cell, table);             /* readers take `room` first, then the table      */
        PERF_REL_(&t->room, room);
    }
    c = t->cell[id];
    if (!c && id) {
        c = PERF_CAST_(perf_cell_ *, perf_pool_(&t->pool, &t->pool_end, sizeof *c, 262144, 1));
        if (!c)
            return PERF_NULL_;
        perf_cell_clear_(c, id);
        PERF_REL_(&t->cell[id], c);
    }
    return c;
}

/* ---- sink ---- */

/* Asks every thread for something; each does it when it next begins a scope. */
PERF_COLD_FN_ void perf_ask_(perf_registry_ *r, uint32_t what)
{
    perf_recorder_ *t, *mine = PERF_SELF_;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint32_t before;
        do
            before = PERF_GET_(&t->request);
        while (!perf_claim_(&t->request, before, before | what));
        PERF_SET_(&t->cells, 0u);
    }
    if (mine && mine->home)
        perf_recorder_serve_(mine);
}

/* Changes the sink from `old` to `now`, NULL for none; PERF_ESTATE: it is another one than `old`. */
PERF_COLD_FN_ perf_status perf_sink_set_(const perf_sink_ *old, const perf_sink_ *now)
{
    perf_registry_ *r = perf_registry_get_();
    perf_search_    s;
    int             ours;

    if (!r || !perf_lock_(r))
        return PERF_ENOMEM;
    ours = r->sink == old;
    if (ours) {
        PERF_REL_(&r->sink, now);
        perf_ask_(r, PERF_ASK_TRACE_);
    }
    perf_unlock_(r);
    PERF_LIBC_(memset)(&s, 0, sizeof s);
    s.set_deaf = 1;
    perf_images_(&s);
    return ours ? PERF_OK : PERF_ESTATE;
}

PERF_COLD_FN_ perf_label_ perf_label_of_(perf_name_ *n, uint32_t type, uint64_t bits)
{
    perf_label_ l;

    l.text = n->site.name;
    l.name = n;
    l.kind = n->kind;
    l.type = type;
    l.bits = bits;
    return l;
}

/* The payload of a scope is the number of calls before it, of this name in this thread. */
PERF_COLD_FN_ void perf_sink_begin_(perf_recorder_ *t, perf_name_ *n, uint64_t calls)
{
    const perf_sink_ *sink = PERF_ACQ_(&t->home->sink);
    perf_label_       l = perf_label_of_(n, 1, calls);

    if (sink)
        sink->begin(t, &l, t->depth);
}

PERF_COLD_FN_ void perf_sink_end_(perf_recorder_ *t, uint32_t depth)
{
    const perf_sink_ *sink = PERF_ACQ_(&t->home->sink);

    if (sink)
        sink->end(t, depth);
}

/* A moment: counters and laps with a value, instants without. */
PERF_COLD_FN_ void perf_sink_mark_(perf_recorder_ *t, uint32_t id, uint32_t type, double value)
{
    const perf_sink_ *sink = PERF_ACQ_(&t->home->sink);
    perf_label_       l;

    if (sink && !t->sinking) {
        l = perf_label_of_(PERF_ACQ_(&t->home->names)[id], type, perf_bits_(value));
        sink->mark(&l);
    }
}

/* ---- one scope ---- */

/* A counter that only its thread writes and reports read: one instruction.  Aligned words do not
 * tear on any machine this runs on; for ThreadSanitizer they are atomics, at three instructions. */
#if PERF_TSAN_
#define PERF_ADD_(x, n) PERF_SET_(&(x), PERF_GET_(&(x)) + (n))
#define PERF_PEEK_(x)   PERF_GET_(&(x))         /* what other threads write now and then          */
#else
#define PERF_PEEK_(x)   (x)
#define PERF_ADD_(x, n) ((void)((x) += (n)))
#endif

/* Bits above the mantissa's first five: the double of `ticks` is its own logarithm. */
#define PERF_BUCKET_(cell, ticks)                                                                 \
    (cell)->bucket[(perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, ticks))) >>                 \
                    (52 - PERF_CELL_BITS_)) - PERF_CELL_BIAS_]

PERF_INLINE_FN_ void *perf_event_at_(const perf_recorder_ *t, uint64_t byte)
{
    return PERF_PTR_(char *, t->ring) + byte;
}

PERF_INLINE_FN_ void perf_event_put_(perf_recorder_ *t, uint64_t start, uint64_t what)
{
    uint64_t     head = t->ring_head;
    perf_event_ *e = PERF_CAST_(perf_event_ *, perf_event_at_(t, head & t->ring_mask));

    PERF_SET_(&e->start, start);
    PERF_SET_(&e->what, what);
    PERF_REL_(&t->ring_head, head + sizeof *e);
}

PERF_COLD_DECL_ void perf_ring_due_(perf_recorder_ *t);

/* An entry that belongs to the event after it. */
PERF_COLD_FN_ void perf_event_more_(perf_recorder_ *t, uint64_t bits)
{
    PERF_ADD_(t->ring_more, 1);
    perf_event_put_(t, bits, 0);
}

/* The same where the ring may be due to be written to a file. */
PERF_COLD_FN_ void perf_event_add_(perf_recorder_ *t, uint64_t start, uint64_t what)
{
    perf_event_put_(t, start, what);
    if (t->ring_head >= t->ring_limit)
        perf_ring_due_(t);
}

/* The event of the scope in `late` where the ring is off or due; that way the hot path need not
 * make up the arguments. */
PERF_COLD_FN_ void perf_event_last_(perf_recorder_ *t, uint64_t start, uint32_t depth)
{
    perf_event_add_(t, start, t->late | t->late_cell->tag | PERF_CAST_(uint64_t, depth) << 56);
}

/* A duration the hot path would not take: a new extreme, 0, or 2^32 ticks and more.  Returns it
 * moved into the range of the buckets.                                                           */
PERF_COLD_FN_ uint64_t perf_cell_extend_(perf_cell_ *c, uint64_t d)
{
    if (d < c->min)
        PERF_SET_(&c->min, d);
    if (d > c->max)
        PERF_SET_(&c->max, d);
    if (d == 0)
        return 1;
    if (d >> PERF_CELL_OCTAVES_)
        return (UINT64_C(1) << PERF_CELL_OCTAVES_) - 1;
    if (!(d >> 32)) {
        uint64_t low = c->low, high = c->low + c->span;
        if (low == PERF_NO_LOW_)
            low = high = d;
        c->low = d < low ? d : low;
        c->span = (d > high ? d : high) - c->low;
    }
    return d;
}

/* Counts a closed scope `weight` times, at once: the cold twin of the end of perf_end_at_(). */
PERF_COLD_FN_ void perf_record_(perf_recorder_ *t, perf_cell_ *c, const perf_span_ *s, uint64_t d,
                                uint64_t weight)
{
    PERF_ADD_(c->count, weight);
    PERF_ADD_(c->sum, d * weight);
    PERF_SET_(&c->total, s->total + d * weight);
    PERF_ADD_(PERF_BUCKET_(c, perf_cell_extend_(c, d)), weight);
    if (t->ring_limit) {
        if (d >= PERF_EVENT_MORE_)
            perf_event_more_(t, d);
        perf_event_add_(t, s->start, (d < PERF_EVENT_MORE_ ? d : PERF_EVENT_MORE_) | c->tag |
                                         PERF_CAST_(uint64_t, s->depth) << 56);
    }
}

/* Everything that is not the common case of a scope's end. */
PERF_COLD_FN_ void perf_end_slow_(perf_span_ *s, uint64_t end, uint64_t weight)
{
    perf_recorder_ *t = perf_recorder_get_();   /* who counts it                                  */
    perf_registry_ *r;
    perf_cell_     *c;
    uint64_t        d, self;
    uint32_t        above, known;
    int             ours = t == s->rec;         /* the time is self time of this thread           */

    if (!t)
        return;
    r = t->home;
    if (r->clock)
        end = perf_scope_ticks_(r);
    s->depth &= PERF_DEPTH_;
    if (ours && t->ranges)
        perf_sink_end_(t, s->depth);
    if (ours && s->start < t->made) {
        PERF_ADD_(t->orphans, 1);               /* begun before a fork                            */
        return;
    }
    c = ours ? s->cell : perf_cell_get_(t, PERF_CAST_(uint32_t, s->cell->tag >> 32));
    if (!c) {
        PERF_ADD_(t->lost, 1);
        perf_fail_(r, PERF_ENOMEM);
        return;
    }
    if (ours && s->start <= t->birth) {         /* begun before a reset: counts from there        */
        s->start = t->birth;
        s->nested = t->birth_closed;
        s->total = 0;
        above = (t->depth - s->depth) & 0xffff; /* scopes in it that are open; 65535 is -1        */
        s->depth = t->depth - above + 2 * (above & 0x8000);
    }
    if (!ours) {
        PERF_ADD_(t->foreign, 1);
        do                                      /* its own thread will find it not ended          */
            above = PERF_GET_(&s->rec->strayed);
        while (!perf_claim_(&s->rec->strayed, above, above + 1));
        s->total = c->total;
    } else if (t->depth < s->depth) {           /* the scope around it has ended                  */
        PERF_ADD_(t->disordered, 1);            /* that end took it for abandoned                 */
        PERF_ADD_(t->abandoned, t->abandoned ? ~UINT64_C(0) : 0);
        perf_fail_(r, PERF_ESTATE);
        s->total = c->total;
        ours = 0;
    } else {
        do {
            above = PERF_GET_(&t->strayed);
            known = above < t->depth - s->depth ? above : t->depth - s->depth;
        } while (known && !perf_claim_(&t->strayed, above, above - known));
        PERF_ADD_(t->abandoned, t->depth - s->depth - known);
        PERF_SET_(&t->depth, s->depth - 1);
    }
    if (s->total > c->total)                    /* a reset while it was open                      */
        s->total = c->total;
    d = end - s->start;
    if (d >> 63) {
        d = 0;
        r->warnings |= PERF_CLOCK_BACKWARDS;
    }
    if (ours) {
        self = weight * (s->nested + d - t->closed);
        PERF_ADD_(c->self, self);
        t->closed += self;
    }
    perf_record_(t, c, s, d, weight);
}

/* The end of a scope, most of it in the shadow of the counter's 40 cycles. */
PERF_INLINE_FN_ void perf_end_at_(perf_span_ *s, uint64_t end)
{
    perf_recorder_ *t = s->rec;
    perf_cell_     *c = s->cell, *late = t->late_cell;
    uint64_t        d = end - s->start, closed = s->nested + d;
    uint32_t        depth = s->depth;

    if (PERF_UNLIKELY_(t->depth != depth || d - c->low > c->span)) {
        perf_end_slow_(s, end, 1);
        return;
    }
    PERF_SET_(&t->depth, depth - 1);
    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, d);
    PERF_SET_(&c->total, s->total + d);         /* overwrites what calls inside this one added    */
    PERF_ADD_(c->self, closed - t->closed);
    t->closed = closed;
    PERF_ADD_(PERF_BUCKET_(late, t->late), 1);
    PERF_SET_(&t->late, d);
    PERF_SET_(&t->late_cell, c);
    if (PERF_LIKELY_(t->ring_head < PERF_PEEK_(t->ring_limit)))
        perf_event_put_(t, s->start, d | c->tag | PERF_CAST_(uint64_t, depth) << 56);
    else if (PERF_PEEK_(t->ring_mask))
        perf_event_last_(t, s->start, depth);
}

PERF_OUTLINE_FN_ void perf_end_(perf_span_ *s)
{
    perf_end_at_(s, perf_ticks());
}

PERF_OUTLINE_FN_ void perf_end_precise_(perf_span_ *s)
{
    perf_end_at_(s, perf_ticks_precise());
}

PERF_COLD_FN_ void perf_end_sampled_(perf_span_ *s)
{
    perf_end_slow_(s, perf_ticks(), s->weight);
}

/* Begins a scope that the sink need not see: `sunk` 0. */
PERF_COLD_FN_ perf_span_ *perf_begin_cold_(perf_span_ *s, perf_site_ *site, int sunk)
{
    perf_recorder_ *t = perf_recorder_get_();
    perf_registry_ *r;
    uint32_t        id, cold;

    s->rec = PERF_NULL_;
    if (!t || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    r = t->home;
    id = perf_site_id_(r, site);
    s->cell = perf_cell_get_(t, id);
    if (!s->cell) {
        PERF_ADD_(t->lost, 1);
        perf_fail_(r, id ? PERF_ENOMEM : PERF_ELIMIT);
        return PERF_NULL_;
    }
    if (!PERF_ACQ_(&r->sink) || PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    cold = r->clock;
    PERF_SET_(&t->depth, t->depth + 1);
    if (PERF_ACQ_(&r->sink)) {
        if (sunk)
            perf_sink_begin_(t, PERF_ACQ_(&r->names)[id], s->cell->count);
        cold |= t->ranges;
    }
    s->rec = t;
    s->total = s->cell->total;
    s->depth = t->depth | (cold ? PERF_COLD_END_ : 0);
    s->nested = t->closed;
    s->start = perf_scope_ticks_(r);
    return s;
}

PERF_COLD_FN_ perf_span_ *perf_begin_slow_(perf_span_ *s, perf_site_ *site)
{
    return perf_begin_cold_(s, site, 1);
}

/* Time to write the ring to the file.  That is a scope itself: the time it takes is seen, and is in
 * no other scope's self time. */
PERF_COLD_FN_ void perf_ring_due_(perf_recorder_ *t)
{
    static perf_site_ site = {"(perf.h writes the trace)", __FILE__, __LINE__, 0};
    perf_registry_   *r = t->home;
    perf_span_        s, *open;
    int               on;

    t->ring_limit = t->ring_head + 64 * sizeof(perf_event_);    /* room for what follows here     */
    open = perf_begin_slow_(&s, &site);
    if (perf_lock_(r)) {                        /* else inside of it already: soon again          */
        on = perf_stream_flush_(r, t);
        perf_unlock_(r);
        if (!on)
            t->ring_limit = ~UINT64_C(0);
    }
    if (open)
        perf_end_slow_(&s, perf_scope_ticks_(r), 1);
}

PERF_INLINE_FN_ int perf_begin_at_(perf_span_ *s, perf_site_ *site)
{
    perf_recorder_ *t = PERF_SELF_;
    uint32_t        id = PERF_GET_(&site->id);
    perf_cell_     *c;

    if (PERF_UNLIKELY_(!t || id >= PERF_PEEK_(t->cells)))
        return 0;
    c = t->cell[id];
    if (PERF_UNLIKELY_(!c))
        return 0;
    PERF_SET_(&s->cell, c);
    PERF_SET_(&s->rec, t);
    s->total = c->total;
    s->depth = t->depth + 1;
    PERF_SET_(&t->depth, s->depth);
    s->nested = t->closed;
    return 1;
}

PERF_OUTLINE_FN_ perf_span_ *perf_begin_(perf_span_ *s, perf_site_ *site)
{
    if (PERF_UNLIKELY_(!perf_begin_at_(s, site)))
        return perf_begin_slow_(s, site);
    s->start = perf_ticks();
    return s;
}

PERF_OUTLINE_FN_ perf_span_ *perf_begin_precise_(perf_span_ *s, perf_site_ *site)
{
    if (PERF_UNLIKELY_(!perf_begin_at_(s, site)))
        return perf_begin_slow_(s, site);
    s->start = perf_ticks_precise();
    return s;
}

/* Unlikely, so that gcc splits the path of a switched-off scope from the other one and tests once
 * (2 instructions instead of 5); a scope that is on does not notice (measured).                  */
#if PERF_DISABLE
#define PERF_ON_() 0
#else
#define PERF_ON_() PERF_UNLIKELY_(!PERF_GET_(&perf_anchor_v1_.off))
#endif

/* One call in n, at random distances of n/2 .. 3n/2: no rhythm of the program is in step.        */
PERF_COLD_FN_ perf_span_ *perf_begin_sampled_(perf_span_ *s, perf_site_ *site, perf_skip_ *skip,
                                              uint32_t n)
{
    perf_recorder_ *t = PERF_ON_() ? perf_recorder_get_() : PERF_NULL_;

    s->weight = skip->gap ? skip->gap : 1;
    skip->gap = n < 2 ? 1 : n > 1u << 30 ? 1u << 30 : n;
    if (t && n > 1) {
        t->dice = t->dice * UINT32_C(1664525) + UINT32_C(1013904223);
        skip->gap = skip->gap / 2 + PERF_CAST_(uint32_t, (PERF_CAST_(uint64_t, t->dice) *
                                                          (skip->gap + 1)) >> 32);
        skip->gap += !skip->gap;
    }
    skip->left = PERF_CAST_(int32_t, skip->gap) - 1;
    return t ? perf_begin_(s, site) : PERF_NULL_;
}

#if defined(__cplusplus)
#define PERF_GUARD_(guard, end)                                                                   \
    struct guard {                                                                                \
        perf_span_ *const span;                                                                   \
        explicit guard(perf_span_ *s) : span(s)                                                   \
        {                                                                                         \
        }                                                                                         \
        guard(const guard &) = delete;                                                            \
        guard &operator=(const guard &) = delete;                                                 \
        ~guard()                                                                                  \
        {                                                                                         \
            if (span)                                                                             \
                end(span);                                                                        \
        }                                                                                         \
    };
#define PERF_OPEN_(how, open, span) const PERF_CAT_(perf_guard_, how) open(span)
#else
#define PERF_GUARD_(guard, end)                                                                   \
    PERF_INLINE_FN_ void guard(perf_span_ *const *open)                                           \
    {                                                                                             \
        if (*open)                                                                                \
            end(*open);                                                                           \
    }
#define PERF_OPEN_(how, open, span)                                                               \
    perf_span_ *const open PERF_ATTR_((__cleanup__(PERF_CAT_(perf_guard_, how)), __unused__)) = span
#endif
PERF_GUARD_(perf_guard_, perf_end_)
PERF_GUARD_(perf_guard_precise_, perf_end_precise_)
PERF_GUARD_(perf_guard_sampled_, perf_end_sampled_)

/* ---- sources ---- */

struct perf_out_;

/* Somebody who measures durations apart from the threads' scopes.  collect hands over what is known
 * by now, before each report and trace; report writes its own lines under the table; reset forgets.
 * Any may be NULL.  The object lives as long as the process, or as the image that holds it.      */
typedef struct perf_source_ {
    struct perf_source_ *next;
    void (*collect)(perf_registry_ *);
    void (*report)(struct perf_out_ *);
    void (*reset)(void);
} perf_source_;

/* ---- scopes by name ---- */

PERF_COLD_FN_ void perf_misuse_(void)
{
    perf_recorder_ *t = perf_recorder_get_();

    if (t) {
        PERF_ADD_(t->misused, 1);
        perf_fail_(t->home, PERF_ESTATE);
    }
}

/* The site of a name that is no static object: a small table by address in front of the interned
 * names; the text is compared, so the caller may use its buffer again.  NULL: no room.           */
PERF_OUTLINE_FN_ perf_site_ *perf_site_find_(const char *name, uint32_t kind)
{
    perf_recorder_ *t = PERF_SELF_ && PERF_SELF_->home ? PERF_SELF_ : perf_recorder_get_();
    uintptr_t       at = PERF_PTR_(uintptr_t, name);
    perf_known_    *k;
    perf_site_      site = PERF_ZERO;
    perf_name_     *n;

    if (!t)
        return PERF_NULL_;
    k = &t->known[(at ^ at >> 6) % 64];
    if (k->key == name && k->name && k->name->kind == kind &&
        !PERF_LIBC_(strcmp)(k->name->site.name, name))
        return &k->name->site;
    site.name = name;
    site.line = kind << 24;
    n = perf_name_find_(t->home, &site);
    if (!n) {
        PERF_ADD_(t->lost, 1);
        perf_fail_(t->home, PERF_ELIMIT);
        return PERF_NULL_;
    }
    k->key = name;
    k->name = name ? n : PERF_CAST_(perf_name_ *, PERF_NULL_);
    return &n->site;
}

#if PERF_DISABLE
PERF_INLINE_FN_ perf_scope perf_scope_begin(const char *name)
{
    perf_scope s;

    PERF_LIBC_(memset)(&s, 0, sizeof s);
    (void)name;
    return s;
}

PERF_INLINE_FN_ perf_scope perf_wait_begin(const char *name)
{
    return perf_scope_begin(name);
}

PERF_FN void perf_scope_end(perf_scope *scope)
{
    (void)scope;
}
#else
PERF_FN perf_scope perf_named_begin_(const char *name, uint32_t kind)
{
    perf_scope  s = PERF_ZERO;
    perf_site_ *site = PERF_ON_() ? perf_site_find_(name, kind) : PERF_NULL_;

    s.depth = ~UINT32_C(0);                     /* so that the end is not taken for a stray one   */
    if (site)
        (void)perf_begin_(&s, site);
    return s;
}

PERF_FN perf_scope perf_scope_begin(const char *name)
{
    return perf_named_begin_(name, PERF_KIND_SCOPE_);
}

PERF_FN perf_scope perf_wait_begin(const char *name)
{
    return perf_named_begin_(name, PERF_KIND_WAIT_);
}

PERF_FN void perf_scope_end(perf_scope *scope)
{
    if (!scope)
        return;
    if (scope->rec && (PERF_TCC_ || PERF_SELF_ == scope->rec))
        perf_end_(scope);
    else if (scope->rec)
        perf_end_slow_(scope, perf_ticks(), 1);
    else if (scope->depth != ~UINT32_C(0))
        perf_misuse_();
    scope->rec = PERF_NULL_;
    scope->depth = 0;
}
#endif

/* ---- laps, spans, counters ---- */

PERF_FN perf_lap perf_lap_begin(void)
{
    perf_lap        l = PERF_ZERO;
    perf_recorder_ *t = PERF_ON_() ? perf_recorder_get_() : PERF_NULL_;

    if (t) {
        l.rec = t;
        l.nested = t->closed;
        l.start = perf_scope_ticks_(t->home);
    }
    return l;
}

/* As a scope that began when the lap did.  The sink hears of it when it is over: as a mark whose
 * payload is the length in ns.                                                                   */
PERF_COLD_FN_ void perf_lap_slow_(perf_lap *l, perf_site_ *site, uint64_t now)
{
    perf_recorder_ *t = perf_recorder_get_();
    perf_span_      s;
    double          tick;

    if (!t)
        return;
    if (l->rec == t && l->start < t->made) {    /* begun before a fork                            */
        PERF_ADD_(t->orphans, 1);
        *l = perf_lap_begin();
        return;
    }
    tick = t->home->clock ? 1.0 : perf_tick_ns_();
    PERF_LIBC_(memset)(&s, 0, sizeof s);
    if (t->home->clock)
        now = perf_scope_ticks_(t->home);
    if (perf_begin_cold_(&s, site, 0)) {
        s.start = l->start;
        s.nested = l->nested;
        perf_end_slow_(&s, now, 1);
        perf_sink_mark_(t, site->id, 2, PERF_CAST_(double, now - l->start) * tick);
        l->nested = t->closed;
    }
    l->start = now;
}

/* One reading closes a phase and opens the next. */
PERF_OUTLINE_FN_ void perf_lap_(perf_lap *l, perf_site_ *site)
{
    perf_recorder_ *t = l ? l->rec : PERF_CAST_(perf_recorder_ *, PERF_NULL_);
    uint64_t        now = perf_ticks(), start, d;
    uint32_t        id = PERF_GET_(&site->id);

    if (!t || !PERF_ON_()) {                    /* what passes while it is off is in no phase     */
        if (l)
            *l = perf_lap_begin();
        return;
    }
    start = l->start;
    d = now - start;
    if (PERF_LIKELY_(id < PERF_PEEK_(t->cells))) {
        perf_cell_ *c = t->cell[id], *late = t->late_cell;
        if (PERF_LIKELY_(c && d - c->low <= c->span)) {
            uint64_t closed = l->nested + d;
            l->start = now;
            l->nested = closed;
            PERF_ADD_(c->count, 1);
            PERF_ADD_(c->sum, d);
            PERF_SET_(&c->total, c->total + d);
            PERF_ADD_(c->self, closed - t->closed);
            t->closed = closed;
            PERF_ADD_(PERF_BUCKET_(late, t->late), 1);
            PERF_SET_(&t->late, d);
            PERF_SET_(&t->late_cell, c);
            if (PERF_LIKELY_(t->ring_head < PERF_PEEK_(t->ring_limit)))
                perf_event_put_(t, start, d | c->tag | PERF_CAST_(uint64_t, t->depth + 1) << 56);
            else if (PERF_PEEK_(t->ring_mask))
                perf_event_last_(t, start, t->depth + 1);
            return;
        }
    }
    perf_lap_slow_(l, site, now);
}

PERF_FN void perf_lap_end(perf_lap *lap, const char *name)
{
    perf_site_ *site = PERF_ON_() ? perf_site_find_(name, PERF_KIND_SCOPE_) : PERF_NULL_;

    if (site)
        perf_lap_(lap, site);
}

#define PERF_SPAN_OFF_ 3u       /* `open` of a span that nobody records: 1, and 2 with a range    */

PERF_FN perf_async perf_async_begin(const char *name, uint64_t id)
{
    perf_async        a = PERF_ZERO;
    perf_site_       *site = PERF_ON_() ? perf_site_find_(name, PERF_KIND_ASYNC_) : PERF_NULL_;
    perf_recorder_   *t = site ? perf_recorder_get_() : PERF_NULL_;
    const perf_sink_ *sink = t ? PERF_ACQ_(&t->home->sink) : PERF_NULL_;

    if (!t) {
        a.open = PERF_SPAN_OFF_;                /* so that the end is not taken for a stray one   */
        return a;
    }
    a.name = site->id;
    a.open = 1;
    a.id = id;
    if (!id && perf_lock_(t->home)) {
        a.id = ++t->home->async_ids;
        perf_unlock_(t->home);
    }
    if (sink && !t->sinking) {
        perf_label_ l = perf_label_of_(PERF_ACQ_(&t->home->names)[site->id], 1, a.id);
        a.open += PERF_CAST_(uint32_t, sink->open(&l, &a.range));
    }
    a.start = perf_scope_ticks_(t->home);
    return a;
}

PERF_FN void perf_async_end(perf_async *span)
{
    perf_recorder_   *t;
    perf_cell_       *c;
    const perf_sink_ *sink;
    uint64_t          d;
    int               ranged;

    if (!span || !span->open) {
        if (span && PERF_ON_())
            perf_misuse_();
        return;
    }
    ranged = span->open == 2;
    if (span->open == PERF_SPAN_OFF_) {
        span->open = 0;
        return;
    }
    span->open = 0;
    t = perf_recorder_get_();
    sink = t && ranged ? PERF_ACQ_(&t->home->sink) : PERF_NULL_;
    if (sink)
        sink->close(span->range);
    c = t ? perf_cell_get_(t, span->name) : PERF_NULL_;
    if (!c)
        return;
    if (PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    d = perf_scope_ticks_(t->home) - span->start;
    if (d >> 63)
        d = 0;
    PERF_ADD_(c->count, 1);
    PERF_ADD_(c->sum, d);
    PERF_ADD_(c->total, d);
    PERF_ADD_(PERF_BUCKET_(c, perf_cell_extend_(c, d)), 1);
    if (t->ring_limit) {
        perf_event_more_(t, span->id);
        perf_event_more_(t, d);
        perf_event_add_(t, span->start, PERF_EVENT_MORE_ | c->tag);
    }
}

PERF_COLD_FN_ perf_recorder_ *perf_at_site_(perf_site_ *site, perf_cell_ **c)
{
    perf_recorder_ *t = site && PERF_ON_() ? perf_recorder_get_() : PERF_NULL_;

    *c = t ? perf_cell_get_(t, perf_site_id_(t->home, site)) : PERF_NULL_;
    if (t && PERF_GET_(&t->request))
        perf_recorder_serve_(t);
    return *c ? t : PERF_NULL_;
}

PERF_OUTLINE_FN_ void perf_count_at_(perf_site_ *site, double value)
{
    perf_cell_     *c;
    perf_recorder_ *t = perf_at_site_(site, &c);
    uint64_t        now;

    if (!t)
        return;
    if (perf_is_nan_(value)) {
        perf_misuse_();
        return;
    }
    now = perf_scope_ticks_(t->home);
    if (!c->count || value < perf_from_bits_(c->least))
        PERF_SET_(&c->least, perf_bits_(value));
    if (!c->count || value > perf_from_bits_(c->most))
        PERF_SET_(&c->most, perf_bits_(value));
    PERF_SET_(&c->last, perf_bits_(value));
    PERF_SET_(&c->max, now);
    PERF_SET_(&c->values, perf_bits_(perf_from_bits_(c->values) + value));
    PERF_ADD_(c->count, 1);
    if (t->ring_limit) {
        perf_event_more_(t, perf_bits_(value));
        perf_event_add_(t, now, PERF_EVENT_MORE_ | c->tag);
    }
    perf_sink_mark_(t, site->id, 2, value);
}

PERF_OUTLINE_FN_ void perf_instant_at_(perf_site_ *site)
{
    perf_cell_     *c;
    perf_recorder_ *t = perf_at_site_(site, &c);

    if (!t)
        return;
    PERF_ADD_(c->count, 1);
    if (t->ring_limit)
        perf_event_add_(t, perf_scope_ticks_(t->home), c->tag);
    perf_sink_mark_(t, site->id, 0, 0.0);
}

PERF_FN void perf_count(const char *name, double value)
{
    if (PERF_ON_())
        perf_count_at_(perf_site_find_(name, PERF_KIND_COUNT_), value);
}

PERF_FN void perf_instant(const char *name)
{
    if (PERF_ON_())
        perf_instant_at_(perf_site_find_(name, PERF_KIND_INSTANT_));
}

PERF_FN void perf_thread_name(const char *name)
{
    perf_recorder_   *t = perf_recorder_get_();
    const perf_sink_ *sink = t ? PERF_ACQ_(&t->home->sink) : PERF_NULL_;
    uint32_t          i = 0, n = t && name ? perf_text_length_(name, sizeof t->name - 1) : 0;

    for (; i < n; i++)
        t->name[i] = name[i];
    if (t)
        t->name[i] = '\0';
    if (sink && !t->sinking)
        sink->thread(t->name);
}

/* ---- switches ---- */

PERF_FN perf_status perf_error(void)
{
    perf_registry_ *r = perf_registry_get_();

    return r ? PERF_CAST_(perf_status, PERF_GET_(&r->error)) : PERF_OK;
}

PERF_FN void perf_enable(int on)
{
    perf_registry_ *r = perf_registry_get_();
    perf_search_    s;

    if (!r)
        return;
    PERF_SET_(&r->off, on ? 0u : 1u);           /* images to come ask the registry                */
    PERF_LIBC_(memset)(&s, 0, sizeof s);
    s.set_off = 1;
    s.off = on ? 0 : 1;
    perf_images_(&s);
}

PERF_FN void perf_trace_enable(int on)
{
    perf_registry_ *r = perf_registry_get_();

    if (!r || !perf_lock_(r))
        return;
    PERF_SET_(&r->trace_off, on ? 0u : 1u);
    perf_ask_(r, PERF_ASK_TRACE_);
    perf_unlock_(r);
}

PERF_FN void perf_reset(void)
{
    perf_registry_ *r = perf_registry_get_();
    perf_source_   *source;

    if (!r || !perf_lock_(r))
        return;
    perf_ask_(r, PERF_ASK_RESET_);
    PERF_SET_(&r->lost, UINT64_C(0));
    PERF_SET_(&r->cut_names, UINT64_C(0));
    PERF_SET_(&r->retired_lost, UINT64_C(0));
    perf_retired_forget_(r);
    PERF_SET_(&r->marks, PERF_CAST_(perf_mark_ *, PERF_NULL_));
    r->retired_bytes = 0;
    PERF_SET_(&r->error, PERF_CAST_(uint32_t, PERF_OK));
    perf_unlock_(r);
    for (source = PERF_ACQ_(&r->sources); source; source = source->next)
        if (source->reset)
            source->reset();
}

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

/* ---- off: with PERF_DISABLE=1 each call is looked at by the compiler, and compiled to nothing ---- */

#if PERF_DISABLE
PERF_INLINE_FN_ perf_status perf_off_(void)
{
    return PERF_EDISABLED;
}
#define PERF_OFF_(call)      PERF_CAST_(void, sizeof(((call), 0)))
#define PERF_OFF_CODE_(call) (PERF_CAST_(void, sizeof(call)), perf_off_())
#if PERF_SCOPE_EMPTY_ && defined(__cplusplus)
#define perf_scope_begin(name) (PERF_CAST_(void, sizeof(name)), perf_scope())
#define perf_wait_begin(name)  (PERF_CAST_(void, sizeof(name)), perf_scope())
#elif PERF_SCOPE_EMPTY_
extern perf_scope perf_none_;   /* no bytes: never read, never linked                             */
#define perf_scope_begin(name) (PERF_CAST_(void, sizeof(name)), perf_none_)
#define perf_wait_begin(name)  (PERF_CAST_(void, sizeof(name)), perf_none_)
#endif
#if defined(__GNUC__) && !defined(__cplusplus)
#undef PERF_OFF_CODE_           /* an inline function leaves a nop behind at -O0                  */
#define PERF_OFF_CODE_(call) (__extension__({ (void)sizeof(call); PERF_EDISABLED; }))
#endif
#define perf_scope_end(scope) PERF_OFF_((perf_scope_end)(scope))
#define perf_enable(on)       PERF_OFF_((perf_enable)(on))
#define perf_trace_enable(on) PERF_OFF_((perf_trace_enable)(on))
#define perf_reset()          PERF_OFF_((perf_reset)())
#define perf_lap_end(lap, n)  PERF_OFF_((perf_lap_end)(lap, n))
#define perf_async_end(span)  PERF_OFF_((perf_async_end)(span))
#define perf_count(name, v)   PERF_OFF_((perf_count)(name, v))
#define perf_instant(name)    PERF_OFF_((perf_instant)(name))
#define perf_thread_name(n)   PERF_OFF_((perf_thread_name)(n))
#endif

PERF_END_DECLS

#ifdef __cplusplus
namespace perf {

#if PERF_SCOPE_EMPTY_ && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"     /* a member of no bytes                           */
#endif
/* perf::scope s("load"); times until the end of the block, for names made at run time too. */
class scope {
    perf_scope scope_;

public:
    explicit scope(const char *name) : scope_(perf_scope_begin(name))
    {
        (void)name;
    }
    ~scope()
    {
        perf_scope_end(&scope_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
};
#if PERF_SCOPE_EMPTY_ && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

} /* namespace perf */
#endif
#define PERF_SCOPES_SEEN_ 1
#endif /* PERF_SCOPES_SEEN_ */

#ifndef PERF_SCOPES_ONLY_
PERF_BEGIN_DECLS

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- the clock's quality ---- */

#define PERF_CLOCK_TEXT_(name, bit, text)                                                         \
    if (warning & bit)                                                                            \
        return text;
PERF_FN const char *perf_clock_warning_text(uint32_t warning)
{
    PERF_CLOCK_LIST_(PERF_CLOCK_TEXT_)
    return "no warning";
}
#undef PERF_CLOCK_TEXT_

#if PERF_ARCH_X86_
#define PERF_COUNTER_NAME_ "tsc"
#elif defined(__aarch64__)
#define PERF_COUNTER_NAME_ "cntvct"
#else
#define PERF_COUNTER_NAME_ "rdtime"
#endif
#if defined(_WIN32)
#define PERF_SYSTEM_CLOCK_NAME_ "qpc"
#else
#define PERF_SYSTEM_CLOCK_NAME_ "clock_gettime"
#endif

/* Smallest step between successive readings, and the cost of one, of what scopes use. */
PERF_FN perf_clock_info perf_clock(void)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    perf_clock_info c;
    uint64_t        first, last, step = ~UINT64_C(0), best = ~UINT64_C(0);
    int             i, k, counter = r ? !r->clock : PERF_COUNTER_;

    memset(&c, 0, sizeof c);
    for (k = 0; k < 16; k++) {
        first = last = counter ? perf_ticks() : perf_now();
        for (i = 0; i < 32; i++) {
            uint64_t t = counter ? perf_ticks() : perf_now();
            if (t != last && t - last < step)
                step = t - last;
            if (t < last)
                c.warnings |= PERF_CLOCK_BACKWARDS;
            last = t;
        }
        if (last - first < best)
            best = last - first;
    }
    c.tick_ns = counter ? perf_tick_ns_() : 1.0;
    c.error_ppm = counter ? perf_from_bits_(PERF_GET_(&perf_anchor_v1_.clock.error_ppm)) : 0.0;
    c.hz = 1e9 / c.tick_ns;
    c.resolution_ns = step == ~UINT64_C(0) ? 0.0 : PERF_CAST_(double, step) * c.tick_ns;
    c.cost_ns = PERF_CAST_(double, best) / 32 * c.tick_ns;
    if (c.error_ppm > 1000)
        c.warnings |= PERF_CLOCK_ROUGH;
    if (r)
        c.warnings |= PERF_GET_(&r->warnings);
#if defined(PERF_CLOCK_FN)
    c.name = "custom";
#else
    c.name = counter ? PERF_COUNTER_NAME_ : PERF_SYSTEM_CLOCK_NAME_;
#endif
    return c;
}

/* ---- durations from elsewhere: a device, another clock ---- */

/* Adds it once; later calls with the same object do nothing. */
PERF_COLD_FN_ void perf_source_add_(perf_registry_ *r, perf_source_ *s)
{
    perf_source_ *p;

    if (!perf_lock_(r))
        return;
    for (p = r->sources; p && p != s; p = p->next) {
    }
    if (!p) {
        s->next = r->sources;
        PERF_REL_(&r->sources, s);
    }
    perf_unlock_(r);
}

PERF_COLD_FN_ void perf_sources_collect_(perf_registry_ *r)
{
    perf_source_ *s;

    for (s = PERF_ACQ_(&r->sources); s; s = s->next)
        if (s->collect)
            s->collect(r);
}

/* A recorder that belongs to no thread: one line of the trace, `name` its title.  Whoever makes it
 * sees to it that one thread at a time writes.  NULL without memory.                             */
PERF_COLD_FN_ perf_recorder_ *perf_track_make_(perf_registry_ *r, const char *name)
{
    perf_recorder_ *t = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *t, 1));
    size_t          i;

    if (!t || !perf_lock_(r))
        return PERF_NULL_;
    t->late_cell = &t->blank;
    t->late = 1;
    t->home = r;
    t->foreign_track = 1;
    t->number = ++r->threads;
    t->thread = 5000000 + t->number;            /* above the ids that Linux gives to threads      */
    r->alive++;
    t->made = t->birth = perf_scope_ticks_(r);
    for (i = 0; name[i] && i + 1 < sizeof t->name; i++)
        t->name[i] = name[i];
    perf_ring_set_(r, t);
    t->next = r->recorders;
    PERF_REL_(&r->recorders, t);
    perf_unlock_(r);
    return t;
}

/* ---- report ---- */

typedef struct perf_row_ {      /* one name, all threads; times in ticks                          */
    const char *name;
    uint32_t    kind;
    uint64_t    count, sum, total, self, min, max;
    double      p50, p95, p99;
    double      last, least, most, values;      /* of a counter                                   */
} perf_row_;

typedef struct perf_losses_ {   /* what is missing from the numbers, and why                      */
    uint64_t abandoned, disordered, foreign, orphans, lost, misused, overwritten, cut, unsent;
} perf_losses_;

/* Middle of a bucket in ticks. */
PERF_FN double perf_bucket_value_(uint32_t index)
{
    uint64_t bits = PERF_CAST_(uint64_t, index + PERF_CELL_BIAS_) << (52 - PERF_CELL_BITS_);
    double   low = perf_from_bits_(bits);

    return low + (perf_from_bits_(bits + (UINT64_C(1) << (52 - PERF_CELL_BITS_))) - low) / 2;
}

/* Nearest rank: the value at or below which a share q of the calls lie, within [min, max]. */
PERF_FN double perf_cell_quantile_(const perf_cell_ *c, uint64_t calls, double q)
{
    double   want = q * PERF_CAST_(double, calls), value;
    uint64_t rank = PERF_CAST_(uint64_t, want), seen = 0;
    uint32_t i;

    if (PERF_CAST_(double, rank) < want || rank == 0)
        rank++;
    for (i = 0; i < PERF_CELL_BUCKETS_ - 1; i++) {
        seen += c->bucket[i];
        if (seen >= rank)
            break;
    }
    value = perf_bucket_value_(i);
    if (value > PERF_CAST_(double, c->max))
        value = PERF_CAST_(double, c->max);
    return value < PERF_CAST_(double, c->min) ? PERF_CAST_(double, c->min) : value;
}

/* Adds what thread t has recorded for a name; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_cell_merge_(perf_cell_ *sum, perf_row_ *row, perf_recorder_ *t, uint32_t id)
{
    perf_cell_ *c, **table;
    uint64_t    x;
    uint32_t    i;

    if (id >= PERF_ACQ_(&t->room) || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return;
    table = PERF_ACQ_(&t->cell);
    c = PERF_ACQ_(&table[id]);
    if (!c || !PERF_GET_(&c->count))
        return;
    sum->count += PERF_GET_(&c->count);
    if (row->kind == PERF_KIND_COUNT_) {
        double v = perf_from_bits_(PERF_GET_(&c->least));
        if (!row->count || v < row->least)
            row->least = v;
        v = perf_from_bits_(PERF_GET_(&c->most));
        if (!row->count || v > row->most)
            row->most = v;
        row->values += perf_from_bits_(PERF_GET_(&c->values));
        x = PERF_GET_(&c->max);
        if (x >= sum->max) {
            sum->max = x;
            row->last = perf_from_bits_(PERF_GET_(&c->last));
        }
        row->count = sum->count;
        return;
    }
    sum->sum += PERF_GET_(&c->sum);
    sum->total += PERF_GET_(&c->total);
    sum->self += PERF_GET_(&c->self);
    x = PERF_GET_(&c->min);
    sum->min = x < sum->min ? x : sum->min;
    x = PERF_GET_(&c->max);
    sum->max = x > sum->max ? x : sum->max;
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        sum->bucket[i] += PERF_GET_(&c->bucket[i]);
    if (PERF_GET_(&t->late_cell) == c)
        PERF_BUCKET_(sum, PERF_GET_(&t->late))++;
}

PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *r, uint32_t id, perf_cell_ *sum)
{
    perf_name_    **table = PERF_ACQ_(&r->names);
    perf_recorder_ *t;
    uint64_t        calls = 0;
    uint32_t        i;

    memset(sum, 0, sizeof *sum);
    memset(row, 0, sizeof *row);
    sum->min = ~UINT64_C(0);
    row->name = table[id]->site.name;
    row->kind = table[id]->kind;
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_cell_merge_(sum, row, t, id);
    row->count = sum->count;
    if (!row->count || PERF_KIND_POINT_(row->kind))
        return;
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += sum->bucket[i];
    row->sum = sum->sum;
    row->total = sum->total;
    row->self = sum->self >> 63 ? 0 : sum->self;        /* sampled scopes are estimates           */
    row->min = sum->min;
    row->max = sum->max;
    row->p50 = perf_cell_quantile_(sum, calls, 0.50);
    row->p95 = perf_cell_quantile_(sum, calls, 0.95);
    row->p99 = perf_cell_quantile_(sum, calls, 0.99);
}

PERF_COLD_FN_ perf_losses_ perf_losses_sum_(perf_registry_ *r)
{
    perf_losses_    l = PERF_ZERO;
    perf_recorder_ *t;
    perf_stream_   *stream = PERF_ACQ_(&r->stream);
    int             failed = stream && PERF_GET_(&stream->state) == PERF_STREAM_FAILED_;

    if (stream)
        l.unsent = PERF_GET_(&stream->unsent);
    l.lost = PERF_GET_(&r->lost);
    l.cut = PERF_GET_(&r->cut_names);
    l.overwritten = PERF_GET_(&r->retired_lost);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint64_t head = PERF_GET_(&t->ring_head), from = PERF_GET_(&t->ring_lost);
        if (PERF_GET_(&t->request) & PERF_ASK_RESET_)
            continue;                           /* forgotten, though its thread sleeps or is gone */
        if (failed)
            l.unsent += (head - PERF_GET_(&t->ring_sent)) / sizeof(perf_event_);
        if (PERF_GET_(&t->ring_sent) > from)    /* what is in the file is not lost                */
            from = PERF_GET_(&t->ring_sent);
        l.abandoned += PERF_GET_(&t->abandoned);
        l.disordered += PERF_GET_(&t->disordered);
        l.foreign += PERF_GET_(&t->foreign);
        l.orphans += PERF_GET_(&t->orphans);
        l.lost += PERF_GET_(&t->lost);
        l.misused += PERF_GET_(&t->misused);
        l.overwritten += perf_ring_dropped_(r, t, from);
    }
    return l;
}

PERF_FN double perf_row_key_(const perf_row_ *r, perf_sort by)
{
    switch (by) {
    case PERF_SORT_TOTAL: return PERF_CAST_(double, r->total);
    case PERF_SORT_CALLS: return PERF_CAST_(double, r->count);
    case PERF_SORT_MEAN: return PERF_CAST_(double, r->sum) / PERF_CAST_(double, r->count);
    case PERF_SORT_P50: return r->p50;
    case PERF_SORT_P95: return r->p95;
    case PERF_SORT_P99: return r->p99;
    case PERF_SORT_MAX: return PERF_CAST_(double, r->max);
    case PERF_SORT_SELF:
    case PERF_SORT_NAME: break;
    }
    return PERF_CAST_(double, r->self);
}

PERF_FN int perf_row_before_(const perf_row_ *a, const perf_row_ *b, perf_sort by)
{
    double x = perf_row_key_(a, by), y = perf_row_key_(b, by);

    if (by != PERF_SORT_NAME && (x > y || x < y))
        return x > y;
    return strcmp(a->name, b->name) < 0;
}

/* Heap sort: no recursion, no worst case, no <stdlib.h>. */
PERF_COLD_FN_ void perf_rows_sort_(perf_row_ *row, size_t n, perf_sort by)
{
    size_t i, end;

    for (i = n / 2, end = n; end > 1;) {
        size_t    root, child;
        perf_row_ moved;
        if (i > 0) {
            moved = row[--i];
        } else {
            moved = row[--end];
            row[end] = row[0];
        }
        for (root = i; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && perf_row_before_(&row[child], &row[child + 1], by))
                child++;
            if (!perf_row_before_(&moved, &row[child], by))
                break;
            row[root] = row[child];
        }
        row[root] = moved;
    }
}

/* All rows with calls in them, sorted; *n is their number.  PERF_FREE the result. */
PERF_COLD_FN_ perf_row_ *perf_rows_(perf_registry_ *r, perf_sort by, size_t *n)
{
    uint32_t    id, count = PERF_ACQ_(&r->count);
    perf_row_  *row = PERF_CAST_(perf_row_ *, PERF_MALLOC(count * sizeof *row));
    perf_cell_ *sum = PERF_CAST_(perf_cell_ *, PERF_MALLOC(sizeof *sum));

    *n = 0;
    for (id = 1; row && sum && id < count; id++) {
        perf_row_fill_(&row[*n], r, id, sum);
        if (row[*n].count)
            ++*n;
    }
    if (row && sum)
        perf_rows_sort_(row, *n, by);
    if (!sum) {
        PERF_FREE(row);
        row = PERF_CAST_(perf_row_ *, PERF_NULL_);
    }
    PERF_FREE(sum);
    return row;
}

/* Three digits and a unit: "17.4 ns", "1.23 us", "98.2 s". */
PERF_FN void perf_put_time_(perf_out_ *o, double ns)
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    double                   x = ns < 0 ? -ns : ns;
    int                      u = 0;

    while (u < 3 && x >= 999.5) {
        x /= 1000;
        ns /= 1000;
        u++;
    }
    perf_put_fixed_(o, ns, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
    perf_put_(o, unit[u]);
}

PERF_FN void perf_put_spaces_(perf_out_ *o, size_t n)
{
    while (n--)
        perf_put_char_(o, ' ');
}

/* Right-aligned cells of a table. */
PERF_FN void perf_put_cell_(perf_out_ *o, const char *text, size_t width)
{
    size_t n = strlen(text);

    perf_put_spaces_(o, n < width ? width - n : 1);
    perf_put_(o, text);
}

PERF_COLD_FN_ void perf_put_time_cell_(perf_out_ *o, double ns, size_t width)
{
    char      text[48];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_time_(&t, ns);
    perf_put_cell_(o, text, width);
}

PERF_COLD_FN_ void perf_put_number_cell_(perf_out_ *o, double x, int decimals, const char *unit,
                                         size_t width)
{
    char      text[48];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_fixed_(&t, x, decimals);
    perf_put_(&t, unit);
    perf_put_cell_(o, text, width);
}

/* Length of the UTF-8 character at s, 0 if it is not one. */
PERF_COLD_FN_ int perf_utf8_(const char *s)
{
    unsigned char c = PERF_CAST_(unsigned char, *s), second;
    int           n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    int           i;

    for (i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    second = PERF_CAST_(unsigned char, n > 1 ? s[1] : 0);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
        (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

/* A name in at most `width` columns, one a character: control characters, those of UTF-8 too, and
 * bytes that are not UTF-8 shown as '?', long ones cut with "...".  Returns the columns left.    */
PERF_COLD_FN_ size_t perf_put_cut_(perf_out_ *o, const char *name, size_t width)
{
    size_t      columns = 0, shown;
    const char *s;
    int         n;

    for (s = name; *s; s += n ? n : 1, columns++)
        n = perf_utf8_(s);
    for (shown = 0; *name && (columns <= width || shown + 3 < width); shown++) {
        unsigned char c = PERF_CAST_(unsigned char, *name);
        n = perf_utf8_(name);
        if (n == 0 || c < 0x20 || c == 0x7f ||
            (c == 0xc2 && PERF_CAST_(unsigned char, name[1]) < 0xa0)) {
            perf_put_char_(o, '?');
            name += n ? n : 1;
        } else {
            while (n--)
                perf_put_char_(o, *name++);
        }
    }
    if (columns > width)
        perf_put_(o, "...");
    return columns > width ? 0 : width - columns;
}

PERF_FN void perf_put_name_(perf_out_ *o, const char *name, size_t width)
{
    perf_put_spaces_(o, perf_put_cut_(o, name, width));
}

PERF_COLD_FN_ void perf_put_clock_(perf_out_ *o, const perf_clock_info *c)
{
    uint32_t bit;

    perf_put_(o, "clock ");
    perf_put_(o, c->name);
    perf_put_(o, ": readings at least ");
    perf_put_time_(o, c->resolution_ns);
    perf_put_(o, " apart, ");
    perf_put_time_(o, c->cost_ns);
    perf_put_(o, " each, ");
    perf_put_fixed_(o, c->hz * 1e-6, c->hz < 1e9 ? 3 : 1);
    perf_put_(o, " MHz within ");
    perf_put_fixed_(o, c->error_ppm, c->error_ppm < 10 ? 2 : 0);
    perf_put_(o, " ppm\n");
    for (bit = 1; bit <= c->warnings; bit <<= 1)
        if (c->warnings & bit) {
            perf_put_(o, "warning: ");
            perf_put_(o, perf_clock_warning_text(bit));
            perf_put_char_(o, '\n');
        }
}

#define PERF_DATA_BOUND_ 0.3    /* from this share of waiting on it pays to look at the data first */
typedef struct perf_bound_ {
    uint64_t    wait, all, most;        /* ticks: waiting for data, in scopes, in the longest wait */
    uint64_t    sync;                   /* waiting for a device                                   */
    const char *where;
} perf_bound_;

/* One snapshot, so that the text has the same length each time it is written. */
typedef struct perf_snapshot_ {
    perf_report_opts opts;
    perf_clock_info  clock;
    perf_registry_  *registry;
    perf_row_       *row;
    size_t           rows;
    double           tick, self;        /* ns a tick; ticks of self time of all scopes            */
    perf_losses_     losses;
    perf_mark_     **mark;      /* oldest first                                                   */
    size_t           marks;
    struct perf_tree_ *tree;
    perf_bound_        bound;
} perf_snapshot_;

PERF_COLD_FN_ const char *perf_kind_text_(uint32_t kind)
{
    static const char *const text[] = {"scope", "wait",   "async",   "counter",  "instant",
                                       "sync",  "device", "copy in", "copy out", "copy"};

    return kind < sizeof text / sizeof text[0] ? text[kind] : "unknown";
}

PERF_COLD_FN_ void perf_put_row_(perf_out_ *o, const perf_row_ *row, const perf_snapshot_ *s)
{
    double calls = PERF_CAST_(double, row->count);

    perf_put_name_(o, row->name, 28);
    perf_put_number_cell_(o, calls, 0, "", 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->total) * s->tick, 10);
    if (!PERF_KIND_HOST_(row->kind)) {
        perf_put_cell_(o, perf_kind_text_(row->kind), 10);
        perf_put_(o, "         ");
    } else {
        perf_put_time_cell_(o, PERF_CAST_(double, row->self) * s->tick, 10);
        perf_put_number_cell_(o, PERF_CAST_(double, row->self) / s->self * 100, 1, " %", 9);
    }
    perf_put_time_cell_(o, PERF_CAST_(double, row->sum) / calls * s->tick, 10);
    perf_put_time_cell_(o, row->p50 * s->tick, 10);
    perf_put_time_cell_(o, row->p95 * s->tick, 10);
    perf_put_time_cell_(o, row->p99 * s->tick, 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->max) * s->tick, 10);
    perf_put_char_(o, '\n');
}

/* Nanoseconds of one scope tick. */
PERF_FN double perf_scope_tick_ns_(perf_registry_ *r)
{
    return r && r->clock ? 1.0 : perf_tick_ns_();
}

PERF_COLD_FN_ void perf_put_losses_(perf_out_ *o, const perf_losses_ *l)
{
    const struct {
        uint64_t    n;
        const char *one, *many, *what;
    } note[] = {
        {l->abandoned, " scope was never ended (longjmp?): the scope around it has its time",
         " scopes were never ended (longjmp?): the scope around them has their time", ""},
        {l->disordered, " scope", " scopes", " ended after the scope around it: no self time"},
        {l->foreign, " scope was", " scopes were", " ended by another thread: no self time"},
        {l->orphans, " scope was", " scopes were",
         " begun before a fork and not counted in the child"},
        {l->misused, " end without a begin or NaN count was",
         " ends without a begin or NaN counts were", " ignored"},
        {l->lost, " scope was", " scopes were",
         " not counted: no memory, too many names, or new ones in a signal handler"},
        {l->cut, " name was", " names were", " cut to 255 bytes"},
        {l->overwritten, " older trace event was", " older trace events were",
         " overwritten: PERF_TRACE_EVENTS is the room"},
        {l->unsent, " trace event is", " trace events are",
         " not in the streamed file: it is full, or cannot be written"},
    };
    size_t i;

    for (i = 0; i < sizeof note / sizeof note[0]; i++)
        if (note[i].n) {
            perf_put_(o, "note: ");
            perf_put_u64_(o, note[i].n);
            perf_put_(o, note[i].n == 1 ? note[i].one : note[i].many);
            perf_put_(o, note[i].what);
            perf_put_char_(o, '\n');
        }
}

PERF_COLD_FN_ void perf_put_counters_(perf_out_ *o, const perf_snapshot_ *s)
{
    int    title = 0;
    size_t i;

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (!PERF_KIND_POINT_(row->kind))
            continue;
        if (!title++)
            perf_put_(o, "counter                      updates      last      mean       min"
                         "       max\n");
        perf_put_name_(o, row->name, 28);
        perf_put_number_cell_(o, PERF_CAST_(double, row->count), 0, "", 8);
        if (row->kind == PERF_KIND_COUNT_) {
            perf_put_number_cell_(o, row->last, 2, "", 10);
            perf_put_number_cell_(o, row->values / PERF_CAST_(double, row->count), 2, "", 10);
            perf_put_number_cell_(o, row->least, 2, "", 10);
            perf_put_number_cell_(o, row->most, 2, "", 10);
        }
        perf_put_char_(o, '\n');
    }
}

/* Scopes of a thread that are open now. */
PERF_FN uint32_t perf_depth_of_(perf_recorder_ *t)
{
    uint32_t depth = PERF_PEEK_(t->depth) & 0xffff, strayed = PERF_GET_(&t->strayed);

    return depth > strayed ? depth - strayed : 0;
}

/* How many scopes are open now, and those of them that have never been closed by name: a cell is
 * made at the first begin and counts at the end.  After a reset the names are not known.         */
PERF_COLD_FN_ void perf_put_open_(perf_out_ *o, perf_registry_ *r)
{
    perf_recorder_ *t;
    uint64_t        open = 0, named = 0, in_thread;
    uint32_t        i, room, pass;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        open += perf_depth_of_(t);
    if (!open)
        return;
    perf_put_(o, "note: ");
    perf_put_u64_(o, open);
    perf_put_(o, open == 1 ? " scope is still open, its time so far not in the numbers"
                           : " scopes are still open, their time so far not in the numbers");
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        perf_cell_ **table;
        room = PERF_ACQ_(&t->room);
        table = PERF_ACQ_(&t->cell);
        in_thread = 0;
        for (pass = 0; pass < 2; pass++)
            for (i = 1; i < room && i < PERF_ACQ_(&r->count); i++) {
                perf_cell_ *c = PERF_ACQ_(&table[i]);
                if (!c || PERF_GET_(&c->count) || r->names[i]->kind > PERF_KIND_WAIT_)
                    continue;
                if (!pass) {
                    in_thread++;
                } else if (in_thread <= perf_depth_of_(t) && named++ < 8) {
                    perf_put_(o, named == 1 ? ": " : ", ");
                    (void)perf_put_cut_(o, r->names[i]->site.name, 40);
                }
            }
    }
    if (named && named < open)
        perf_put_(o, ", ...");
    perf_put_char_(o, '\n');
}

/* What the main thread (or the first that recorded) waits for data. */
PERF_COLD_FN_ void perf_bound_fill_(perf_bound_ *b, perf_registry_ *r)
{
    perf_recorder_ *t, *main = PERF_NULL_;
    perf_cell_    **table;
    uint32_t        i, room;

    memset(b, 0, sizeof *b);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        if (t->thread == PERF_GET_(&r->process) || (t->number == 1 && !main))
            main = t;
    if (!main || (PERF_GET_(&main->request) & PERF_ASK_RESET_))
        return;
    room = PERF_ACQ_(&main->room);
    table = PERF_ACQ_(&main->cell);
    for (i = 1; i < room && i < PERF_ACQ_(&r->count); i++) {
        perf_cell_ *c = PERF_ACQ_(&table[i]);
        uint64_t    self = c ? PERF_GET_(&c->self) : 0;
        if (!c || !PERF_KIND_HOST_(r->names[i]->kind) || self >> 63)
            continue;
        b->all += self;
        b->sync += r->names[i]->kind == PERF_KIND_SYNC_ ? self : 0;
        if (r->names[i]->kind != PERF_KIND_WAIT_)
            continue;
        b->wait += self;
        if (self > b->most) {
            b->most = self;
            b->where = r->names[i]->site.name;
        }
    }
}

/* "data wait: 34.0 % of the main thread (1.2 s of 3.5 s in scopes, 1.1 s of it in read): data-bound" */
PERF_COLD_FN_ void perf_put_bound_(perf_out_ *o, const perf_snapshot_ *s)
{
    const perf_bound_ *b = &s->bound;
    double             share = PERF_CAST_(double, b->wait) / (PERF_CAST_(double, b->all) + 1e-9);

    if (!b->wait)
        return;
    perf_put_(o, "data wait: ");
    perf_put_fixed_(o, share * 100, 1);
    perf_put_(o, " % of the main thread (");
    perf_put_time_(o, PERF_CAST_(double, b->wait) * s->tick);
    perf_put_(o, " of ");
    perf_put_time_(o, PERF_CAST_(double, b->all) * s->tick);
    perf_put_(o, " in scopes, ");
    perf_put_time_(o, PERF_CAST_(double, b->most) * s->tick);
    perf_put_(o, " of it in ");
    (void)perf_put_cut_(o, b->where, 40);
    perf_put_(o, share >= PERF_DATA_BOUND_ ? "): data-bound\n"
                 : s->registry->gpu        ? ")\n"             /* the device's lines say by what */
                                           : "): host-bound\n");
}

static void perf_put_marks_(perf_out_ *o, perf_mark_ *const *m, size_t n) PERF_ATTR_((__nothrow__));

PERF_COLD_FN_ void perf_put_table_(perf_out_ *o, const perf_snapshot_ *s)
{
    size_t   i, shown = 0, left = 0;
    uint64_t wait = 0, sync = 0;

    for (i = 0; i < s->rows; i++) {
        const perf_row_ *row = &s->row[i];
        if (row->kind == PERF_KIND_WAIT_)
            wait += row->self;
        if (row->kind == PERF_KIND_SYNC_)
            sync += row->self;
        if (PERF_KIND_POINT_(row->kind))
            continue;
        if (s->opts.rows >= 0 && shown >= PERF_CAST_(size_t, s->opts.rows)) {
            left++;
            continue;
        }
        if (!shown++)
            perf_put_(o, "scope                            calls     total      self    share"
                         "      mean       p50       p95       p99       max\n");
        perf_put_row_(o, row, s);
    }
    if (left) {
        perf_put_(o, "... and ");
        perf_put_u64_(o, left);
        perf_put_(o, " more\n");
    }
    if (wait) {
        perf_put_(o, "waiting for data: ");
        perf_put_fixed_(o, PERF_CAST_(double, wait) / s->self * 100, 1);
        perf_put_(o, " % of the time in scopes\n");
    }
    if (sync) {
        perf_put_(o, "waiting for a device: ");
        perf_put_fixed_(o, PERF_CAST_(double, sync) / s->self * 100, 1);
        perf_put_(o, " % of the time in scopes\n");
    }
    perf_put_bound_(o, s);
    perf_put_counters_(o, s);
    perf_put_marks_(o, s->mark, s->marks);
    perf_put_open_(o, s->registry);
    perf_put_losses_(o, &s->losses);
    if (s->registry && PERF_GET_(&s->registry->bad_variant))
        perf_put_(o, "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

/* ---- report: tree ---- */

typedef struct perf_node_ {     /* one path of names; indexes into perf_tree_, 0 none             */
    uint32_t name, parent, child, sibling;
    uint64_t calls, total, inside;      /* ticks; inside: of its children                         */
} perf_node_;

typedef struct perf_tree_ {
    perf_node_ *node;           /* [0] is the root                                                */
    uint32_t    count, room;
    uint32_t   *slot;           /* [2 * room], by hash of parent and name: a node, 0 for none     */
    uint64_t    events;
    perf_registry_ *registry;
} perf_tree_;

#define PERF_TREE_DEPTH_ 128u   /* deeper calls are added to the node at that depth               */

/* Where the child of `parent` with that name is, or should be. */
PERF_FN uint32_t *perf_tree_slot_(perf_tree_ *tree, uint32_t parent, uint32_t name)
{
    uint32_t mask = 2 * tree->room - 1, at = parent * UINT32_C(2654435761) ^ name * UINT32_C(40503);

    for (at ^= at >> 15;; at++) {
        uint32_t *slot = &tree->slot[at & mask];
        if (!*slot || (tree->node[*slot].name == name && tree->node[*slot].parent == parent))
            return slot;
    }
}

/* Room for so many nodes, a power of two; 0 without memory. */
PERF_COLD_FN_ int perf_tree_grow_(perf_tree_ *tree, uint32_t room)
{
    perf_node_ *more = PERF_CAST_(perf_node_ *, PERF_MALLOC(room * sizeof *more));
    uint32_t   *slot = PERF_CAST_(uint32_t *, PERF_MALLOC(2 * room * sizeof *slot)), i;

    if (!more || !slot) {
        PERF_FREE(more);
        PERF_FREE(slot);
        return 0;
    }
    if (tree->node)
        memcpy(more, tree->node, tree->count * sizeof *more);
    PERF_FREE(tree->node);
    PERF_FREE(tree->slot);
    memset(slot, 0, 2 * room * sizeof *slot);
    tree->node = more;
    tree->slot = slot;
    tree->room = room;
    for (i = 1; i < tree->count; i++)
        *perf_tree_slot_(tree, more[i].parent, more[i].name) = i;
    return 1;
}

/* The child of `parent` with that name, made if need be; the parent itself without memory. */
PERF_COLD_FN_ uint32_t perf_tree_child_(perf_tree_ *tree, uint32_t parent, uint32_t name)
{
    uint32_t *slot = perf_tree_slot_(tree, parent, name), i = *slot;

    if (i)
        return i;
    if (tree->count == tree->room) {
        if (!perf_tree_grow_(tree, 2 * tree->room))
            return parent;
        slot = perf_tree_slot_(tree, parent, name);
    }
    *slot = i = tree->count++;
    memset(&tree->node[i], 0, sizeof tree->node[i]);
    tree->node[i].name = name;
    tree->node[i].parent = parent;
    tree->node[i].sibling = tree->node[parent].child;
    tree->node[parent].child = i;
    return i;
}

/* A thread's events as they were at one moment, newest first. */
typedef struct perf_events_ {
    perf_event_ *event;
    uint64_t     count;
    uint64_t     thread, number;
    const char  *name;
} perf_events_;

/* Decodes entry *i, and moves *i past it and the entries it needs.  0: not a whole one. */
typedef struct perf_zone_ {
    uint64_t start, length, extra;      /* extra: value of a counter, id of a span                */
    uint32_t name, kind, depth;
} perf_zone_;

PERF_FN int perf_zone_at_(const perf_events_ *e, uint64_t *i, perf_registry_ *r, perf_zone_ *z)
{
    uint64_t at = (*i)++, what = e->event[at].what;

    z->name = PERF_CAST_(uint32_t, what >> 32 & 0xffffff);
    z->depth = PERF_CAST_(uint32_t, what >> 56);
    z->start = e->event[at].start;
    z->length = what & PERF_EVENT_MORE_;
    z->extra = 0;
    if (!z->name || z->name >= PERF_ACQ_(&r->count))
        return 0;
    z->kind = r->names[z->name]->kind;
    if (z->length != PERF_EVENT_MORE_)
        return 1;
    if (at + 1 >= e->count || e->event[at + 1].what)
        return 0;                               /* its first half has been overwritten            */
    *i = at + 2;
    z->length = e->event[at + 1].start;
    if (z->kind == PERF_KIND_ASYNC_) {
        if (at + 2 >= e->count || e->event[at + 2].what)
            return 0;
        z->extra = e->event[at + 2].start;
        *i = at + 3;
    } else if (z->kind == PERF_KIND_COUNT_) {
        z->extra = z->length;
        z->length = 0;
    }
    return 1;
}

/* Copies n bytes of the ring before `head`, and drops what the thread may have overwritten during
 * the copy.  At most the ring. */
PERF_HOT_FN_ void perf_events_read_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t,
                                    uint64_t head, uint64_t n)
{
    uint64_t i, now, room = r->ring_events * sizeof(perf_event_);

    for (i = 0; i < n; i += sizeof(perf_event_)) {
        perf_event_ *from = PERF_CAST_(
            perf_event_ *, perf_event_at_(t, (head - sizeof *from - i) & (room - 1)));
        e->event[i / sizeof *from].start = PERF_GET_(&from->start);
        e->event[i / sizeof *from].what = PERF_GET_(&from->what);
    }
    now = PERF_ACQ_(&t->ring_head);             /* one more may be half written                   */
    if (t != PERF_SELF_ && now != head)
        now += sizeof(perf_event_);
    if (now - head + n > room)
        n = now - head > room ? 0 : room - (now - head);
    e->count = n / sizeof(perf_event_);
}

/* Copies all that the ring of a thread holds, which may go on writing.  PERF_FREE e->event. */
PERF_COLD_FN_ int perf_events_copy_(perf_events_ *e, perf_registry_ *r, perf_recorder_ *t)
{
    uint64_t head = PERF_ACQ_(&t->ring_head), lost = PERF_GET_(&t->ring_lost), n;
    uint64_t room = r->ring_events * sizeof(perf_event_);

    memset(e, 0, sizeof *e);
    e->thread = t->thread;
    e->number = t->number;
    e->name = t->name;
    if (!t->ring || head == lost || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return 1;
    n = head - lost > room ? room : head - lost;
    e->event = PERF_CAST_(perf_event_ *, PERF_MALLOC(PERF_CAST_(size_t, n)));
    if (!e->event)
        return 0;
    perf_events_read_(e, r, t, head, n);
    return 1;
}

/* Hands the events of every thread there is or was to `use`; 0 without memory. */
PERF_COLD_FN_ int perf_events_each_(perf_registry_ *r, void (*use)(void *, const perf_events_ *),
                                    void *with)
{
    perf_recorder_ *t;
    perf_retired_  *old;
    perf_events_    e;
    int             whole = 1, got;

    if (!perf_lock_(r))
        return 0;
    r->reading++;                               /* a reset keeps off `retired`                    */
    perf_unlock_(r);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        if (!perf_lock_(r)) {                   /* keeps it from being retired meanwhile          */
            whole = 0;
            break;
        }
        got = perf_events_copy_(&e, r, t);
        perf_unlock_(r);
        if (got)
            use(with, &e);
        PERF_FREE(e.event);
        whole &= got;
    }
    for (old = PERF_ACQ_(&r->retired); old; old = old->next) {
        const perf_event_ *from = PERF_PTR_(const perf_event_ *, old + 1);
        uint64_t           i;
        e.count = old->count;
        e.thread = old->thread;
        e.number = old->number;
        e.name = old->name;
        e.event = PERF_CAST_(
            perf_event_ *, PERF_MALLOC(PERF_CAST_(size_t, old->count) * sizeof *from));
        for (i = 0; e.event && i < e.count; i++)
            e.event[i] = from[e.count - 1 - i];
        if (e.event)
            use(with, &e);
        else
            whole = 0;
        PERF_FREE(e.event);
    }
    if (perf_lock_(r)) {
        r->reading--;
        perf_unlock_(r);
    }
    return whole;
}

/* Newest first, a scope comes before those inside it: each belongs to the nearest one on the stack
 * that began before it; of two that began together, to the less deep.                            */
PERF_HOT_FN_ void perf_tree_add_(void *with, const perf_events_ *e)
{
    perf_tree_ *tree = PERF_CAST_(perf_tree_ *, with);
    struct {
        uint64_t start;
        uint32_t node, depth;
    } open[PERF_TREE_DEPTH_];
    perf_zone_ z;
    uint32_t   top = 0, node;
    uint64_t   i = 0;

    while (i < e->count) {
        if (!perf_zone_at_(e, &i, tree->registry, &z) || !PERF_KIND_HOST_(z.kind))
            continue;
        while (top && (z.start < open[top - 1].start ||
                       (z.start == open[top - 1].start &&
                        PERF_CAST_(uint8_t, z.depth - open[top - 1].depth - 1) > 127)))
            top--;
        node = top ? open[top - 1].node : 0;
        if (top < PERF_TREE_DEPTH_) {
            tree->node[node].inside += z.length;
            node = perf_tree_child_(tree, node, z.name);
            tree->node[node].total += z.length;
            open[top].start = z.start;
            open[top].depth = z.depth;
            open[top++].node = node;
        }
        tree->node[node].calls++;
        tree->events++;
    }
}

PERF_COLD_FN_ perf_tree_ *perf_tree_make_(perf_registry_ *r)
{
    perf_tree_ *tree = PERF_CAST_(perf_tree_ *, PERF_MALLOC(sizeof *tree));

    if (!tree)
        return tree;
    memset(tree, 0, sizeof *tree);
    tree->registry = r;
    if (!perf_tree_grow_(tree, 256)) {
        PERF_FREE(tree);
        return PERF_NULL_;
    }
    memset(tree->node, 0, sizeof *tree->node);
    tree->count = 1;
    (void)perf_events_each_(r, perf_tree_add_, tree);
    return tree;
}

PERF_FN void perf_tree_free_(perf_tree_ *tree)
{
    if (tree) {
        PERF_FREE(tree->node);
        PERF_FREE(tree->slot);
    }
    PERF_FREE(tree);
}

/* Puts the children of a node in order of time, largest first, by merging runs of 1, 2, 4, ... */
PERF_COLD_FN_ void perf_tree_order_(perf_node_ *node, uint32_t parent)
{
    uint32_t run, merges = 2;

    for (run = 1; merges > 1; run *= 2) {
        uint32_t rest = node[parent].child, *link = &node[parent].child;
        for (merges = 0; rest; merges++) {
            uint32_t a = rest, b = rest, left = 0, right = run, *from;
            while (b && left < run) {
                b = node[b].sibling;
                left++;
            }
            while (left || (right && b)) {
                from = !left || (right && b && node[b].total > node[a].total) ? &b : &a;
                *(from == &a ? &left : &right) -= 1;
                *link = *from;
                link = &node[*from].sibling;
                *from = *link;
            }
            rest = b;
        }
        *link = 0;
    }
}

PERF_COLD_FN_ void perf_put_tree_(perf_out_ *o, const perf_snapshot_ *s)
{
    uint32_t node = 0, depth = 0, i;
    int      rows = 0;
    double   all;

    if (!s->tree || !s->tree->events)
        return;
    all = PERF_CAST_(double, s->tree->node[0].inside) + 1e-9;
    perf_put_(o, "of total   of parent      total       self     calls  scope (from the ");
    perf_put_u64_(o, s->tree->events);
    perf_put_(o, s->tree->events == 1 ? " event in the trace)\n" : " events in the trace)\n");
    for (i = 1; i < s->tree->count; i++) {      /* stored in the order they are shown             */
        const perf_node_ *n = &s->tree->node[i];
        double            total = PERF_CAST_(double, n->total);
        double            around = PERF_CAST_(double, s->tree->node[n->parent].inside);
        if (s->opts.rows >= 0 && rows++ >= s->opts.rows)
            break;
        for (depth = 0, node = n->parent; node; node = s->tree->node[node].parent)
            depth++;
        if (n->parent)
            around = PERF_CAST_(double, s->tree->node[n->parent].total);
        perf_put_number_cell_(o, total / all * 100, 1, " %", 8);
        perf_put_number_cell_(o, total / (around + 1e-9) * 100, 1, " %", 12);
        perf_put_(o, " ");
        perf_put_time_cell_(o, total * s->tick, 10);
        perf_put_(o, " ");
        perf_put_time_cell_(o, (total - PERF_CAST_(double, n->inside)) * s->tick, 10);
        perf_put_number_cell_(o, PERF_CAST_(double, n->calls), 0, "", 10);
        perf_put_spaces_(o, 2 + 2 * depth);
        (void)perf_put_cut_(o, PERF_ACQ_(&s->registry->names)[n->name]->site.name, 40);
        perf_put_char_(o, '\n');
    }
    perf_put_open_(o, s->registry);
    perf_put_losses_(o, &s->losses);
    if (s->registry && PERF_GET_(&s->registry->bad_variant))
        perf_put_(o, "note: PERF_VARIANT names a variant that does not exist: it was not forced\n");
}

/* Rewrites the nodes in the order of a walk from the root, largest child first. */
PERF_COLD_FN_ void perf_tree_sort_(perf_tree_ *tree)
{
    perf_node_ *out = PERF_CAST_(perf_node_ *, PERF_MALLOC(tree->count * sizeof *out));
    uint32_t   *place = PERF_CAST_(uint32_t *, PERF_MALLOC(tree->count * sizeof *place));
    uint32_t    node = 0, n = 0, i;

    if (out && place) {
        for (i = 0; i < tree->count; i++)
            perf_tree_order_(tree->node, i);
        out[n] = tree->node[0];
        place[0] = n++;
        for (;;) {
            if (tree->node[node].child) {       /* taken off the list: the next one is first      */
                i = tree->node[node].child;
                tree->node[node].child = tree->node[i].sibling;
                node = i;
                out[n] = tree->node[node];
                out[n].parent = place[tree->node[node].parent];
                place[node] = n++;
            } else if (node) {
                node = tree->node[node].parent;
            } else {
                break;
            }
        }
        PERF_FREE(tree->node);
        tree->node = out;
        tree->room = tree->count;
        out = PERF_CAST_(perf_node_ *, PERF_NULL_);
    }
    PERF_FREE(out);
    PERF_FREE(place);
}

/* ---- report: CSV and JSON ---- */

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
PERF_COLD_FN_ void perf_put_json_(perf_out_ *o, const char *s)
{
    static const char hex[] = "0123456789abcdef";

    perf_put_char_(o, '"');
    while (*s) {
        unsigned char c = PERF_CAST_(unsigned char, *s);
        int           n = perf_utf8_(s);
        if (n == 0) {
            perf_put_(o, "\\ufffd");
            s++;
        } else if (c < 0x20 || c == 0x7f) {
            perf_put_(o, "\\u00");
            perf_put_char_(o, hex[c >> 4]);
            perf_put_char_(o, hex[c & 15]);
            s++;
        } else {
            if (c == '"' || c == '\\')
                perf_put_char_(o, '\\');
            while (n--)
                perf_put_char_(o, *s++);
        }
    }
    perf_put_char_(o, '"');
}

/* A CSV field, always quoted: quotes doubled (RFC 4180); bytes that are not UTF-8 become U+FFFD. */
PERF_COLD_FN_ void perf_put_csv_(perf_out_ *o, const char *s)
{
    perf_put_char_(o, '"');
    while (*s) {
        int n = perf_utf8_(s);
        if (n == 0) {
            perf_put_(o, "\xef\xbf\xbd");
            s++;
        }
        if (*s == '"' && n)
            perf_put_char_(o, '"');
        while (n-- > 0)
            perf_put_char_(o, *s++);
    }
    perf_put_char_(o, '"');
}

/* The numbers of a row in the order of PERF_COLUMNS_, to a thousandth of a nanosecond. */
#define PERF_COLUMNS_ 9
PERF_COLD_FN_ void perf_row_numbers_(const perf_row_ *row, double tick, double *x)
{
    x[0] = PERF_CAST_(double, row->total) * tick;
    x[1] = PERF_CAST_(double, row->self) * tick;
    x[2] = PERF_CAST_(double, row->sum) * tick / PERF_CAST_(double, row->count);
    x[3] = PERF_CAST_(double, row->min) * tick;
    x[4] = row->p50 * tick;
    x[5] = row->p95 * tick;
    x[6] = row->p99 * tick;
    x[7] = PERF_CAST_(double, row->max) * tick;
    x[8] = 0;
    if (row->kind == PERF_KIND_COUNT_) {
        memset(x, 0, PERF_COLUMNS_ * sizeof *x);
        x[2] = row->values / PERF_CAST_(double, row->count);
        x[3] = row->least;
        x[7] = row->most;
        x[8] = row->last;
    }
}

PERF_COLD_FN_ void perf_put_data_(perf_out_ *o, const perf_snapshot_ *s, int json)
{
    static const char *const column[PERF_COLUMNS_] = {"total_ns", "self_ns", "mean_ns",
                                                      "min_ns",   "p50_ns",  "p95_ns",
                                                      "p99_ns",   "max_ns",  "last"};
    double                   x[PERF_COLUMNS_];
    size_t                   i, k;

    if (json) {
        perf_put_(o, "{\"clock\":{\"name\":\"");
        perf_put_(o, s->clock.name);
        perf_put_(o, "\",\"resolution_ns\":");
        perf_put_fixed_(o, s->clock.resolution_ns, 3);
        perf_put_(o, ",\"cost_ns\":");
        perf_put_fixed_(o, s->clock.cost_ns, 3);
        perf_put_(o, ",\"error_ppm\":");
        perf_put_fixed_(o, s->clock.error_ppm, 3);
        perf_put_(o, ",\"warnings\":");
        perf_put_u64_(o, s->clock.warnings);
        perf_put_(o, "},\n\"lost\":");
        perf_put_u64_(o, s->losses.lost + s->losses.orphans);
        perf_put_(o, ",\"overwritten_events\":");
        perf_put_u64_(o, s->losses.overwritten);
        perf_put_(o, ",\"data_wait_ns\":");
        perf_put_fixed_(o, PERF_CAST_(double, s->bound.wait) * s->tick, 0);
        perf_put_(o, ",\"main_thread_ns\":");
        perf_put_fixed_(o, PERF_CAST_(double, s->bound.all) * s->tick, 0);
        perf_put_(o, ",\n\"scopes\":[");
    } else {
        perf_put_(o, "name,kind,calls");
        for (k = 0; k < PERF_COLUMNS_; k++) {
            perf_put_char_(o, ',');
            perf_put_(o, column[k]);
        }
        perf_put_char_(o, '\n');
    }
    for (i = 0; i < s->rows && (s->opts.rows < 0 || i < PERF_CAST_(size_t, s->opts.rows)); i++) {
        const perf_row_ *row = &s->row[i];
        perf_row_numbers_(row, s->tick, x);
        if (json) {
            perf_put_(o, i ? ",\n{\"name\":" : "\n{\"name\":");
            perf_put_json_(o, row->name);
            perf_put_(o, ",\"kind\":\"");
            perf_put_(o, perf_kind_text_(row->kind));
            perf_put_(o, "\",\"calls\":");
        } else {
            perf_put_csv_(o, row->name);
            perf_put_char_(o, ',');
            perf_put_(o, perf_kind_text_(row->kind));
            perf_put_char_(o, ',');
        }
        perf_put_u64_(o, row->count);
        for (k = 0; k < PERF_COLUMNS_; k++) {
            perf_put_char_(o, ',');
            if (json) {
                perf_put_char_(o, '"');
                perf_put_(o, column[k]);
                perf_put_(o, "\":");
            }
            if (perf_is_finite_(x[k]))
                perf_put_fixed_(o, x[k], 3);
            else
                perf_put_(o, json ? "null" : "");
        }
        perf_put_(o, json ? "}" : "\n");
    }
    if (json)
        perf_put_(o, "\n]}\n");
}

/* ---- report: memory ---- */

#if defined(__linux__) && PERF_LP64_UNIX_
struct perf_usage_ {            /* struct rusage                                                  */
    long user_s, user_us, system_s, system_us;
    long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, rest[16];
};
struct perf_heap_ {             /* struct mallinfo2                                               */
    size_t arena, chunks, fast, mapped_chunks, mapped, highest, fast_bytes, used, free, top;
};
extern int  perf_getrusage_(int, struct perf_usage_ *) __asm__(PERF_SYM_("getrusage"));
extern long perf_sysconf_(int) __asm__(PERF_SYM_("sysconf"));
#if !PERF_TCC_
extern struct perf_heap_ perf_mallinfo2_(void) __asm__(PERF_SYM_("mallinfo2"))
    PERF_ATTR_((__weak__));
#endif

PERF_COLD_FN_ perf_status perf_mark_read_(perf_mark_ *m)
{
    struct perf_usage_ u;
    char               text[128];
    FILE              *f = fopen("/proc/self/statm", "r");
    size_t             n = 0, i;
    int                field = 0;

    memset(&u, 0, sizeof u);
    if (f) {
        n = fread(text, 1, sizeof text, f);
        (void)fclose(f);
    }
    for (i = 0; i < n && field < 2; i++) {      /* pages: size, resident, ...                     */
        if (text[i] == ' ')
            field++;
        else if (field == 1)
            m->resident = m->resident * 10 + PERF_CAST_(uint64_t, text[i] - '0');
    }
    m->resident *= PERF_CAST_(uint64_t, perf_sysconf_(30));     /* _SC_PAGESIZE */
    if (perf_getrusage_(0, &u) || !m->resident)
        return PERF_ENODATA;
    f = fopen("/proc/self/io", "r");            /* missing in some containers: zeros              */
    n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        (void)fclose(f);
    for (field = 0, i = 0; i < n && field < 4; i++) {   /* "rchar: 1\nwchar: 2\nsyscr: 3\n..."     */
        if (text[i] == '\n')
            field++;
        else if (text[i] >= '0' && text[i] <= '9')
            m->io[field] = m->io[field] * 10 + PERF_CAST_(uint64_t, text[i] - '0');
    }
    m->ns = perf_now();
    m->peak = PERF_CAST_(uint64_t, u.maxrss) * 1024;    /* the kernel adds up late: may be behind  */
    if (m->peak < m->resident)
        m->peak = m->resident;
    m->minor = PERF_CAST_(uint64_t, u.minflt);
    m->major = PERF_CAST_(uint64_t, u.majflt);
    m->cpu_ns = PERF_CAST_(uint64_t, u.user_s + u.system_s) * 1000000000u +
                PERF_CAST_(uint64_t, u.user_us + u.system_us) * 1000u;
    m->read_blocks = PERF_CAST_(uint64_t, u.inblock);
    m->written_blocks = PERF_CAST_(uint64_t, u.oublock);
#if !PERF_TCC_
    if (perf_mallinfo2_ != PERF_NULL_) {
        struct perf_heap_ h = perf_mallinfo2_();
        m->heap = h.used + h.mapped;
    }
#endif
    return PERF_OK;
}
#else
PERF_FN perf_status perf_mark_read_(perf_mark_ *m)
{
    (void)m;
    return PERF_ENODATA;
}
#endif

PERF_FN perf_status perf_memory_mark(const char *phase)
{
    perf_registry_ *r = perf_registry_get_();
    perf_site_      site = PERF_ZERO;
    perf_mark_      now, *m;
    perf_status     status;

    memset(&now, 0, sizeof now);
    status = perf_mark_read_(&now);
    if (status != PERF_OK)
        return status;
    if (!r || !perf_lock_(r))
        return PERF_ENOMEM;
    site.name = phase;
    now.name = perf_name_intern_(r, &site);
    m = now.name ? PERF_CAST_(perf_mark_ *, perf_pool_(&r->pool, &r->pool_end, sizeof *m, 65536, 0))
                 : PERF_NULL_;
    if (m) {
        *m = now;
        m->next = r->marks;
        PERF_REL_(&r->marks, m);
    }
    perf_unlock_(r);
    return m ? PERF_OK : PERF_ENOMEM;
}

PERF_COLD_FN_ void perf_put_bytes_(perf_out_ *o, double bytes)
{
    static const char *const unit[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    double                   x = bytes < 0 ? -bytes : bytes;
    int                      u = 0;

    while (u < 4 && x >= 1023.5) {
        x /= 1024;
        bytes /= 1024;
        u++;
    }
    perf_put_number_cell_(o, bytes, u && x < 99.95 ? 1 : 0, unit[u], 11);
}

PERF_FN void perf_put_since_(perf_out_ *o, uint64_t now, uint64_t before, size_t width)
{
    perf_put_number_cell_(o, PERF_CAST_(double, now - before), 0, "", width);
}

/* The marks so far, oldest first; *n of them, then NULL.  PERF_FREE the result. */
PERF_COLD_FN_ perf_mark_ **perf_marks_(perf_registry_ *r, size_t *n)
{
    perf_mark_ *newest = PERF_ACQ_(&r->marks), *m, **mark;
    size_t      i = 0;

    for (m = newest; m; m = m->next)
        i++;
    mark = PERF_CAST_(perf_mark_ **, PERF_MALLOC((i + 1) * sizeof *mark));
    *n = mark ? i : 0;
    if (mark)
        mark[i] = PERF_NULL_;
    for (m = newest; mark && m; m = m->next)
        mark[--i] = m;
    return mark;
}

PERF_COLD_FN_ void perf_put_marks_(perf_out_ *o, perf_mark_ *const *mark, size_t n)
{
    size_t i;
    int    k;

    if (n)
        perf_put_(o, "memory phase                   time       cpu   resident     change"
                     "       peak       heap   faults   major   read blk  write blk       read"
                     "    calls    written    calls\n");
    for (i = 0; i < n; i++) {
        const perf_mark_ *m = mark[i], *before = i ? mark[i - 1] : mark[n];
        perf_put_name_(o, m->name->site.name, 25);
        perf_put_time_cell_(o, before ? PERF_CAST_(double, m->ns - before->ns) : 0.0, 10);
        perf_put_time_cell_(o, PERF_CAST_(double, m->cpu_ns - (before ? before->cpu_ns : 0)), 10);
        perf_put_bytes_(o, PERF_CAST_(double, m->resident));
        perf_put_bytes_(o, PERF_CAST_(double, m->resident) -
                               (before ? PERF_CAST_(double, before->resident) : 0.0));
        perf_put_bytes_(o, PERF_CAST_(double, m->peak));
        perf_put_bytes_(o, PERF_CAST_(double, m->heap));
        perf_put_since_(o, m->minor, before ? before->minor : 0, 9);
        perf_put_since_(o, m->major, before ? before->major : 0, 8);
        perf_put_since_(o, m->read_blocks, before ? before->read_blocks : 0, 11);
        perf_put_since_(o, m->written_blocks, before ? before->written_blocks : 0, 11);
        for (k = 0; k < 2; k++) {
            perf_put_bytes_(o, PERF_CAST_(double, m->io[k] - (before ? before->io[k] : 0)));
            perf_put_since_(o, m->io[2 + k], before ? before->io[2 + k] : 0, 9);
        }
        perf_put_char_(o, '\n');
    }
}

/* ---- report: the whole ---- */

PERF_FN perf_report_opts perf_report_opts_default(void)
{
    perf_report_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts)
{
    perf_report_opts o = PERF_ZERO;

    if (opts)
        o = *opts;
    if (o.rows == 0)
        o.rows = o.view == PERF_VIEW_TABLE || o.view == PERF_VIEW_TREE ? 50 : -1;
    return o;
}

PERF_FN void perf_report_results_(perf_out_ *o);

PERF_COLD_FN_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts)
{
    perf_snapshot_ s;
    size_t         i;

    memset(&s, 0, sizeof s);
    s.opts = perf_report_opts_resolved(opts);
    s.clock = perf_clock();
    s.registry = perf_registry_get_();          /* this image may not have recorded anything      */
    s.tick = s.clock.tick_ns;
    if (s.registry) {
        if (perf_lock_(s.registry))             /* after a fork: forgets the parent's threads     */
            perf_unlock_(s.registry);
        perf_sources_collect_(s.registry);
        s.losses = perf_losses_sum_(s.registry);
        s.mark = perf_marks_(s.registry, &s.marks);
        s.row = perf_rows_(s.registry, s.opts.sort, &s.rows);
        perf_bound_fill_(&s.bound, s.registry);
        if (s.opts.view == PERF_VIEW_TREE) {
            s.tree = perf_tree_make_(s.registry);
            if (s.tree)
                perf_tree_sort_(s.tree);
        }
    }
    for (i = 0; i < s.rows; i++)
        s.self += PERF_CAST_(double, s.row[i].self);
    if (!(s.self > 0))
        s.self = 1;
    return s;
}

PERF_FN void perf_snapshot_free_(perf_snapshot_ *s)
{
    PERF_FREE(s->row);
    PERF_FREE(s->mark);
    perf_tree_free_(s->tree);
}

PERF_COLD_FN_ void perf_snapshot_put_(perf_out_ *o, const perf_snapshot_ *s)
{
    perf_source_ *source;

    if (s->opts.view == PERF_VIEW_CSV || s->opts.view == PERF_VIEW_JSON) {
        perf_put_data_(o, s, s->opts.view == PERF_VIEW_JSON);
        return;
    }
    perf_put_clock_(o, &s->clock);
    if (s->registry && s->opts.view == PERF_VIEW_TREE)
        perf_put_tree_(o, s);
    else if (s->registry)
        perf_put_table_(o, s);
    if (s->registry)
        for (source = PERF_ACQ_(&s->registry->sources); source; source = source->next)
            if (source->report)
                source->report(o);
    perf_report_results_(o);
}

PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts)
{
    perf_snapshot_ s = perf_snapshot_take_(opts);
    perf_out_      o = PERF_ZERO;

    o.p = buf;
    o.cap = buf ? cap : 0;
    if (o.cap)
        buf[0] = '\0';
    perf_snapshot_put_(&o, &s);
    perf_snapshot_free_(&s);
    return o.len;
}

PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts)
{
    perf_snapshot_ s;
    perf_out_      o = PERF_ZERO, again = PERF_ZERO;
    perf_status    status = PERF_ENOMEM;

    if (!file)
        return PERF_EINVAL;
    s = perf_snapshot_take_(opts);
    perf_snapshot_put_(&o, &s);
    again.cap = o.len + 4096;                   /* slack: benches of other threads may finish     */
    again.p = PERF_CAST_(char *, PERF_MALLOC(again.cap));
    if (again.p) {
        perf_snapshot_put_(&again, &s);
        if (again.len >= again.cap)
            again.len = again.cap - 1;
        status = fwrite(again.p, 1, again.len, file) == again.len ? PERF_OK : PERF_EIO;
        if (fflush(file))
            status = PERF_EIO;
    }
    PERF_FREE(again.p);
    perf_snapshot_free_(&s);
    return status;
}

PERF_FN perf_status perf_report(void)
{
    return perf_report_to(stderr, PERF_NULL_);
}

/* ---- tallies ---- */

PERF_FN uint64_t perf_tally_ns_(double ticks, double tick)
{
    return PERF_CAST_(uint64_t, ticks * tick + 0.5);
}

/* The buckets in ns.  One call each goes to the extremes themselves, which are exact so. */
PERF_COLD_FN_ void perf_tally_hist_(perf_hist *h, const perf_cell_ *c, double tick)
{
    uint64_t min = perf_tally_ns_(PERF_CAST_(double, c->min), tick), ns, n, calls = 0, seen = 0;
    uint64_t max = perf_tally_ns_(PERF_CAST_(double, c->max), tick);
    uint32_t i;

    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += c->bucket[i];
    for (i = 0; i < PERF_CELL_BUCKETS_ && seen < calls; i++) {
        n = c->bucket[i];
        if (!n)
            continue;
        if (seen == 0) {
            perf_hist_add_n(h, min, 1);
            n--;
        }
        seen += c->bucket[i];
        if (seen == calls && n) {
            perf_hist_add_n(h, max, 1);
            n--;
        }
        ns = perf_tally_ns_(perf_bucket_value_(i), tick);
        ns = ns < min ? min : ns > max ? max : ns;
        if (n)
            perf_hist_add_n(h, ns, n);
    }
    h->head.lo = h->head.width = 0;             /* the windows depend on the order of records     */
    h->head.lo32 = h->head.width32 = 0;
}

PERF_FN perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out)
{
    perf_registry_ *r = perf_registry_get_();
    perf_row_       row;
    perf_cell_     *sum;
    double          tick;
    uint32_t        id, count, best = 0, kind, length;

    if (out)
        memset(out, 0, sizeof *out);
    if (!name || !out)
        return PERF_EINVAL;
    if (!*name)
        name = "(empty)";                       /* as it was recorded                             */
    length = perf_name_length_(name);
    sum = PERF_CAST_(perf_cell_ *, PERF_MALLOC(sizeof *sum));
    if (!sum)
        return PERF_ENOMEM;
    out->parts = 1;
    out->most = out->least = part;
    if (r && perf_lock_(r))                     /* after a fork: forgets the parent's threads     */
        perf_unlock_(r);
    if (r)
        perf_sources_collect_(r);
    count = r ? PERF_ACQ_(&r->count) : 0;
    for (id = 1; id < count; id++) {
        perf_name_ *n = PERF_ACQ_(&r->names)[id];
        kind = n->kind;
        if (PERF_KIND_POINT_(kind) || n->length != length || memcmp(n->site.name, name, length))
            continue;
        if (!best || kind < PERF_ACQ_(&r->names)[best]->kind) {
            perf_row_fill_(&row, r, id, sum);
            best = row.count ? id : best;
        }
    }
    if (best) {
        perf_row_fill_(&row, r, best, sum);
        tick = perf_scope_tick_ns_(r);
        perf_tally_hist_(&out->hist, sum, tick);
        out->calls = row.count;
        out->sum_ns = perf_tally_ns_(PERF_CAST_(double, row.sum), tick);
        out->total_ns = perf_tally_ns_(PERF_CAST_(double, row.total), tick);
        out->self_ns = perf_tally_ns_(PERF_CAST_(double, row.self), tick);
        out->most_ns = out->least_ns = out->total_ns;
    }
    PERF_FREE(sum);
    return best ? PERF_OK : PERF_ENODATA;
}

PERF_FN perf_status perf_tally_merge(perf_tally *into, const perf_tally *from)
{
    uint64_t    most = ~UINT64_C(0);
    perf_status status;

    if (!into || !from || into == from || from->hist.head.highest || into->hist.head.highest)
        return PERF_EINVAL;
    if (!from->parts)
        return PERF_OK;
    if (from->calls > most - into->calls || from->sum_ns > most - into->sum_ns ||
        from->total_ns > most - into->total_ns || from->self_ns > most - into->self_ns ||
        from->parts > most - into->parts)
        return PERF_ERANGE;
    status = perf_hist_merge(&into->hist, &from->hist);
    if (status != PERF_OK)
        return status;
    if (!into->parts || from->most_ns > into->most_ns ||
        (from->most_ns == into->most_ns && from->most < into->most)) {
        into->most_ns = from->most_ns;
        into->most = from->most;
    }
    if (!into->parts || from->least_ns < into->least_ns ||
        (from->least_ns == into->least_ns && from->least < into->least)) {
        into->least_ns = from->least_ns;
        into->least = from->least;
    }
    into->calls += from->calls;
    into->sum_ns += from->sum_ns;
    into->total_ns += from->total_ns;
    into->self_ns += from->self_ns;
    into->parts += from->parts;
    return PERF_OK;
}

PERF_FN double perf_tally_imbalance(const perf_tally *t)
{
    if (!t || !t->total_ns)
        return 0.0;
    return PERF_CAST_(double, t->most_ns) * PERF_CAST_(double, t->parts) /
               PERF_CAST_(double, t->total_ns) - 1.0;
}

/* ---- trace ---- */

/* A file written through a buffer with room for one record; the first failure sticks. */
typedef struct perf_file_ {
    FILE  *file;
    char  *p, *begin, *limit;   /* next character; buffer; flush when past it                     */
    int    failed;
    uint64_t written;           /* bytes                                                          */
} perf_file_;
#define PERF_FILE_BYTES_  262144
#define PERF_FILE_RECORD_ 4096  /* no record is longer: names are cut                             */

PERF_COLD_FN_ void perf_file_flush_(perf_file_ *f)
{
    size_t n = PERF_CAST_(size_t, f->p - f->begin);

    if (n && fwrite(f->begin, 1, n, f->file) != n)
        f->failed = 1;
    f->written += n;
    f->p = f->begin;
}

PERF_FN void perf_file_put_(perf_file_ *f, const char *s)
{
    size_t n = strlen(s);

    memcpy(f->p, s, n);
    f->p += n;
    if (f->p > f->limit)
        perf_file_flush_(f);
}

/* The two digits of 0 .. 99. */
PERF_FN char *perf_digits2_(char *p, uint64_t v)
{
    static const char pair[] = "00010203040506070809101112131415161718192021222324"
                               "25262728293031323334353637383940414243444546474849"
                               "50515253545556575859606162636465666768697071727374"
                               "75767778798081828384858687888990919293949596979899";

    memcpy(p, pair + v * 2, 2);
    return p + 2;
}

/* Decimal, two digits at a time from the last: 20 characters at most. */
PERF_FN char *perf_digits_(char *p, uint64_t v)
{
    char   text[20], *q = text + 20;
    size_t n;

    if (v < 10) {
        *p = PERF_CAST_(char, '0' + PERF_CAST_(int, v));
        return p + 1;
    }
    while (v >= 10) {
        q -= 2;
        (void)perf_digits2_(q, v % 100);
        v /= 100;
    }
    if (v)
        *--q = PERF_CAST_(char, '0' + PERF_CAST_(int, v));
    n = PERF_CAST_(size_t, text + 20 - q);
    memcpy(p, q, n);
    return p + n;
}

/* ".123": what is left of a microsecond. */
PERF_FN char *perf_digits_rest_(char *p, uint64_t ns)
{
    p[0] = '.';
    p[1] = PERF_CAST_(char, '0' + PERF_CAST_(int, ns / 100));
    return perf_digits2_(p + 2, ns % 100);
}

/* Nanoseconds as microseconds with three decimals, exact. */
PERF_FN char *perf_digits_us_(char *p, uint64_t ns)
{
    uint64_t us = ns / 1000;

    return perf_digits_rest_(perf_digits_(p, us), ns - us * 1000);
}

/* The same for times that follow each other: the digits above 10 ms are kept from the last one. */
typedef struct perf_digits_high_ {
    uint64_t high;
    size_t   length;
    char     text[24];
} perf_digits_high_;

PERF_FN char *perf_digits_time_(char *p, uint64_t ns, perf_digits_high_ *d)
{
    uint64_t us = ns / 1000, high = us / 10000, low = us - high * 10000;

    if (high != d->high || !high) {
        if (!high)
            return perf_digits_us_(p, ns);
        d->high = high;
        d->length = PERF_CAST_(size_t, perf_digits_(d->text, high) - d->text);
    }
    memcpy(p, d->text, sizeof d->text);
    p = perf_digits2_(p + d->length, low / 100);
    return perf_digits_rest_(perf_digits2_(p, low % 100), ns - us * 1000);
}

PERF_FN void perf_file_number_(perf_file_ *f, uint64_t v)
{
    f->p = perf_digits_(f->p, v);
}

/* A name or other text as JSON string. */
PERF_COLD_FN_ void perf_file_json_(perf_file_ *f, const char *s)
{
    perf_out_ o = PERF_ZERO;

    o.p = f->p;
    o.cap = PERF_FILE_RECORD_;
    perf_put_json_(&o, s);
    f->p += o.len;
}

/* Ticks to the nanoseconds of perf_now(): start and end are converted, the length is what lies
 * between them, so that rounding never moves a scope out of the one around it.                   */
typedef struct perf_epoch_ {
    uint64_t                  ticks, ns;
    double                    tick_ns;
    const struct perf_epoch_ *older;            /* for times before `ticks`; NULL: this one       */
} perf_epoch_;

PERF_COLD_FN_ perf_epoch_ perf_epoch_of_(perf_registry_ *r)
{
    perf_epoch_ e;

    e.ticks = r->clock ? r->ns : r->ticks;
    e.ns = r->ns;
    e.tick_ns = perf_scope_tick_ns_(r);
    e.older = PERF_NULL_;
    return e;
}

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *e, uint64_t ticks)
{
    int64_t since = PERF_CAST_(int64_t, ticks - e->ticks);
    double  ns;

    while (PERF_UNLIKELY_(since < 0) && e->older) {
        e = e->older;
        since = PERF_CAST_(int64_t, ticks - e->ticks);
    }
    ns = PERF_CAST_(double, since) * e->tick_ns;
    return e->ns + PERF_CAST_(uint64_t, PERF_CAST_(int64_t, ns));
}

/* `,"pid":7,"tid":7` and the like, the same for all records of a thread. */
typedef struct perf_json_ {
    perf_file_      file;
    perf_registry_ *registry;
    perf_epoch_     epoch;
    char           *prefix;     /* of all names: record up to its time, PERF_PREFIX_ bytes each   */
    uint32_t        names;
} perf_json_;
#define PERF_PREFIX_ 96         /* the length in the first byte; longer ones are written anew     */

PERF_COLD_FN_ char *perf_json_prefix_(char *p, const char *name)
{
    perf_out_ o = PERF_ZERO;

    o.p = p;
    o.cap = PERF_FILE_RECORD_;
    perf_put_(&o, ",\n{\"ph\":\"X\",\"name\":");
    perf_put_json_(&o, name);
    perf_put_(&o, ",\"ts\":");
    return p + o.len;
}

/* The other kinds: counters, instants, spans that may overlap. */
PERF_COLD_FN_ void perf_json_other_(perf_json_ *j, const perf_zone_ *z, const char *name,
                                    const char *where)
{
    perf_file_ *f = &j->file;
    uint64_t    start = perf_epoch_ns_(&j->epoch, z->start);
    int         half;

    if (z->kind == PERF_KIND_ASYNC_) {
        for (half = 0; half < 2; half++) {
            perf_file_put_(f, half ? ",\n{\"ph\":\"e\",\"cat\":\"async\",\"name\":"
                                   : ",\n{\"ph\":\"b\",\"cat\":\"async\",\"name\":");
            perf_file_json_(f, name);
            perf_file_put_(f, ",\"id\":\"");
            perf_file_number_(f, z->extra);
            perf_file_put_(f, "\",\"ts\":");
            if (half)
                start = perf_epoch_ns_(&j->epoch, z->start + z->length);
            f->p = perf_digits_us_(f->p, start);
            perf_file_put_(f, where);
        }
        return;
    }
    perf_file_put_(f, z->kind == PERF_KIND_COUNT_ ? ",\n{\"ph\":\"C\",\"name\":"
                                                  : ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    perf_file_json_(f, name);
    if (z->kind == PERF_KIND_COUNT_) {
        perf_out_ o = PERF_ZERO;
        double    value = perf_from_bits_(z->extra);
        perf_file_put_(f, ",\"args\":{\"value\":");
        o.p = f->p;
        o.cap = 64;
        if (perf_is_finite_(value))
            perf_put_fixed_(&o, value, 6);
        else
            perf_put_(&o, "null");
        f->p += o.len;
        perf_file_put_(f, "}");
    }
    perf_file_put_(f, ",\"ts\":");
    f->p = perf_digits_us_(f->p, start);
    perf_file_put_(f, where);
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  Hot, for else gcc finds that only cold functions call it,
 * and divides by 100 with a division, five times slower. */
PERF_HOT_FN_ void perf_json_thread_(void *with, const perf_events_ *e)
{
    perf_json_ *j = PERF_CAST_(perf_json_ *, with);
    perf_file_ *f = &j->file;
    char        where[64], *w = where;
    perf_zone_  z;
    uint64_t    i = 0, start;
    perf_digits_high_ high = PERF_ZERO;

    memcpy(w, ",\"pid\":", 7);
    w = perf_digits_(w + 7, PERF_GET_(&j->registry->process));
    memcpy(w, ",\"tid\":", 7);
    w = perf_digits_(w + 7, e->thread);
    memcpy(w, "}", 2);
    if (e->name[0]) {
        perf_file_put_(f, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":");
        perf_file_json_(f, e->name);
        perf_file_put_(f, "}");
        perf_file_put_(f, where);
    }
    while (i < e->count) {
        const char *prefix;
        if (!perf_zone_at_(e, &i, j->registry, &z))
            continue;
        if (f->p > f->limit)
            perf_file_flush_(f);
        if (!PERF_KIND_SLICE_(z.kind)) {
            perf_json_other_(j, &z, PERF_ACQ_(&j->registry->names)[z.name]->site.name, where);
            continue;
        }
        prefix = j->prefix + PERF_CAST_(size_t, z.name) * PERF_PREFIX_;
        if (z.name < j->names && *prefix) {
            memcpy(f->p, prefix + 1, PERF_PREFIX_);
            f->p += PERF_CAST_(unsigned char, *prefix);
        } else {
            f->p = perf_json_prefix_(f->p, PERF_ACQ_(&j->registry->names)[z.name]->site.name);
        }
        start = perf_epoch_ns_(&j->epoch, z.start);
        f->p = perf_digits_time_(f->p, start, &high);
        memcpy(f->p, ",\"dur\":", 7);
        f->p = perf_digits_us_(f->p + 7, perf_epoch_ns_(&j->epoch, z.start + z.length) - start);
        memcpy(f->p, where, sizeof where);
        f->p += w - where + 1;
    }
}

/* The prefixes of names from .. j->names. */
PERF_COLD_FN_ void perf_json_names_(perf_json_ *j, uint32_t from)
{
    uint32_t id;

    for (id = from; id < j->names; id++) {
        char  text[PERF_FILE_RECORD_];
        char *end = perf_json_prefix_(text, PERF_ACQ_(&j->registry->names)[id]->site.name);
        char *to = j->prefix + PERF_CAST_(size_t, id) * PERF_PREFIX_;
        to[0] = 0;
        if (end - text < PERF_PREFIX_) {
            to[0] = PERF_CAST_(char, end - text);
            memcpy(to + 1, text, PERF_CAST_(size_t, end - text));
        }
    }
}

/* Everything of the process to an open file. */
PERF_COLD_FN_ void perf_json_write_(perf_json_ *j)
{
    perf_file_  *f = &j->file;
    perf_losses_ l = perf_losses_sum_(j->registry);

    perf_json_names_(j, 1);
    perf_file_put_(f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":");
    perf_file_number_(f, l.overwritten);
    perf_file_put_(f, ",\"uncounted_scopes\":");
    perf_file_number_(f, l.lost + l.orphans);
    perf_file_put_(f, "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_labels\",");
    perf_file_put_(f, "\"args\":{\"labels\":\"perf.h\"},\"pid\":");
    perf_file_number_(f, PERF_GET_(&j->registry->process));
    perf_file_put_(f, "}");
    if (!perf_events_each_(j->registry, perf_json_thread_, j))
        f->failed = 1;
    perf_file_put_(f, "\n]}\n");
    perf_file_flush_(f);
}

/* Opens a file to write beside `path`, calls write, and renames it: the whole file or none, also
 * when several processes or threads save to one path (the last one wins).  Devices and pipes under
 * /dev and /proc are written directly.                                                           */
PERF_COLD_FN_ perf_status perf_file_save_(const char *path, perf_file_ *f, void (*write)(void *),
                                          void *with)
{
    perf_out_         name = PERF_ZERO;
    size_t            length;
    char             *part, *buffer;
    int               direct, memory;

    if (!path || !*path)
        return PERF_EINVAL;
    length = strlen(path);
    direct = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
    part = PERF_CAST_(char *, PERF_MALLOC(length + 24));
    buffer = PERF_CAST_(char *, PERF_MALLOC(PERF_FILE_BYTES_ + 2 * PERF_FILE_RECORD_));
    memory = part && buffer;
    f->failed = 1;
    if (memory) {
        name.p = part;
        name.cap = length + 24;
        perf_put_(&name, path);
        if (!direct) {
            perf_put_char_(&name, '.');
            perf_put_u64_(&name, perf_thread_id_());
            perf_put_(&name, ".part");
        }
        f->p = f->begin = buffer;
        f->limit = buffer + PERF_FILE_BYTES_ - PERF_FILE_RECORD_;
        f->file = fopen(part, "wb");
        if (f->file) {
            f->failed = 0;
            write(with);
            if (fclose(f->file))
                f->failed = 1;
#if defined(_WIN32)
            if (!direct && !f->failed)
                (void)remove(path);             /* rename does not replace there                  */
#endif
            if (!direct && !f->failed && rename(part, path))
                f->failed = 1;
            if (!direct && f->failed)
                (void)remove(part);
        }
    }
    PERF_FREE(part);
    PERF_FREE(buffer);
    return !memory ? PERF_ENOMEM : f->failed ? PERF_EIO : PERF_OK;
}

PERF_COLD_FN_ void perf_json_go_(void *with)
{
    perf_json_write_(PERF_CAST_(perf_json_ *, with));
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    perf_json_  j;
    perf_status status;

    memset(&j, 0, sizeof j);
    j.registry = perf_registry_get_();
    if (!j.registry)
        return PERF_ENOMEM;
    if (perf_lock_(j.registry))                 /* after a fork: forgets the parent's threads     */
        perf_unlock_(j.registry);
    perf_sources_collect_(j.registry);
    j.epoch = perf_epoch_of_(j.registry);
    j.names = PERF_ACQ_(&j.registry->count);
    j.prefix = PERF_CAST_(char *, PERF_MALLOC((j.names + 2) * PERF_PREFIX_));
    if (!j.prefix)
        return PERF_ENOMEM;
    status = perf_file_save_(path, &j.file, perf_json_go_, &j);
    PERF_FREE(j.prefix);
    return status;
}

/* ---- bench ---- */

/* One slice under way, by both clocks. */
typedef struct perf_timer_ {
    uint64_t    began, t0, cpu0, paused_at, paused_cpu_at;
    double      overhead_ns, tick_ns, cpu_overhead_ns;
    double      least_ns;               /* the shortest slice that took any time; 0: none yet     */
    int         coarse;                 /* 1: one took none, so a tick is longer than a reading   */
    double      paused_ns, paused_cpu_ns;   /* of this slice                                      */
    double      wall, cpu;                  /* of the last slice, ns                              */
    double      spent_ns;                   /* in slices so far                                   */
    int         use_cpu, paused;
    int64_t     waits_at;                   /* voluntary switches when the slice began            */
    double      waited_ns, timed_ns;        /* over the slices that both clocks saw               */
    uint64_t    slices, waiting_slices;     /* of them, those that gave the processor up          */
    int         switches_known, backwards;
} perf_timer_;

/* What one slice of iterations needs; a bench has one of these, an A/B loop one per variant. */
typedef struct perf_slice_ {
    uint64_t batch;                     /* iterations per slice                                   */
    uint64_t runs;                      /* iterations so far                                      */
    double   fastest;                   /* of the readings at this batch, ns a slice              */
    double   cold_ns;
    int      readings;                  /* at this batch                                          */
    int      steady;                    /* the batch is chosen                                    */
    double  *ns;                        /* ns per iteration, by slice; room for all that may come */
    double  *cpu;                       /* likewise by processor time                             */
    size_t   count;
} perf_slice_;

/* Every finished or running loop, newest first; perf_report walks them. */
typedef struct perf_loop_ {
    struct perf_loop_ *next;
    int                kind;            /* 1 bench, 2 A/B, 3 race                                 */
    int                done;            /* written once, last: the result is complete             */
    char               name[96];
    const char        *note;            /* a line below its row, kept with the loop, or NULL      */
} perf_loop_;

typedef struct perf_bench_state_ {
    perf_loop_      loop;               /* first: the list is of these                            */
    perf_bench_opts opts;
    perf_slice_     slice;
    perf_timer_     timer;
    size_t          look_at;            /* samples at which to look at the interval again         */
    int             phase, left_to_warm;
    perf_status     status;
    uint32_t        warnings;
    perf_result     result;
} perf_bench_state_;

enum { PERF_LOOP_START_, PERF_LOOP_COLD_, PERF_LOOP_GROW_, PERF_LOOP_GROW_ONE_, PERF_LOOP_WARM_,
       PERF_LOOP_SAMPLE_, PERF_LOOP_CONTROL_, PERF_LOOP_DONE_ };

PERF_INLINE_FN_ void perf_clobber(void)
{
#if defined(__GNUC__) && !defined(__TINYC__)
    __asm__ __volatile__("" : : : "memory");
#endif
}

#if !defined(__GNUC__) && !defined(__TINYC__)
PERF_FN void perf_keep_at_(const volatile void *p)
{
    static const volatile void *volatile sink;
    sink = p;
}
#endif

/* 1, which gcc does not know.  It takes a function that is bound to call a cold one for cold, too,
 * and its callers in turn: the user's loop would be compiled for size (no vectors at -O3).        */
PERF_INLINE_FN_ int perf_not_cold_(void)
{
    int yes = 1;

#if defined(__GNUC__) && !defined(__TINYC__)
    __asm__("" : "+r"(yes));
#endif
    return yes;
}

#define PERF_LOOP_NO_MEMORY_(T) PERF_PTR_(T *, PERF_CAST_(uintptr_t, 1)) /* stands for a state */
#define PERF_LOOP_IS_ONE_(s)    (PERF_PTR_(uintptr_t, s) > 1)
#define PERF_LOOP_SAMPLES_      1000    /* of a bench that looks for a narrow interval            */
#define PERF_LOOP_MAX_SAMPLES_  1000000
#define PERF_LOOP_LONG_NS_      300e3   /* an iteration above this is timed by both clocks        */
#define PERF_LOOP_STEPS_BACK_   100     /* a clock that steps back this often is no clock         */

PERF_COLD_FN_ void perf_loop_add_(perf_loop_ *l, int kind, const char *name)
{
    perf_registry_ *r = perf_registry_get_();
    size_t          i = 0;

    if (!name)
        name = "(unnamed)";
    while (name[i] && i + 1 < sizeof l->name) {
        l->name[i] = name[i];
        i++;
    }
    l->name[i] = '\0';
    l->kind = kind;
    if (!r)
        return;
    if (!perf_lock_(r))
        return;                                     /* inside a signal handler: only not reported */
    l->next = PERF_CAST_(perf_loop_ *, r->results);
    PERF_REL_(&r->results, PERF_CAST_(void *, l));
    perf_unlock_(r);
}

/* How often this thread has given the processor up by itself: to sleep, read, or wait for a lock.
 * -1 where the system does not say.                                                              */
PERF_COLD_FN_ int64_t perf_voluntary_(void)
{
#if defined(__linux__) && PERF_LP64_UNIX_
    struct perf_usage_ u;

    return perf_getrusage_(1, &u) ? -1 : u.rest[3];
#else
    return -1;
#endif
}

/* The cost of one reading and its smallest step, from 100 back-to-back readings. */
PERF_COLD_FN_ void perf_loop_clock_(double *cost, double *tick)
{
    uint64_t best = UINT64_MAX, step = UINT64_MAX, first, last, t = 0, d;
    int      i, round;

    for (round = 0; round < 5; round++) {
        first = last = perf_now();
        for (i = 0; i < 20; i++) {
            t = perf_now();
            d = t - last;
            if (d && d < step)
                step = d;
            last = t;
        }
        d = t - first;
        if (d < best)
            best = d;
    }
    *cost = best > 20000000 ? 0.0 : PERF_CAST_(double, best) / 20.0;    /* it stepped each time   */
    *tick = step == UINT64_MAX || step > 1000000 ? 1.0 : PERF_CAST_(double, step);
    if (*tick > *cost && *cost > 0.0) /* finer than a reading: its step stays unseen */
        *tick = *cost;
}

PERF_COLD_FN_ void perf_timer_open_(perf_timer_ *t)
{
    t->began = perf_now();
    perf_loop_clock_(&t->overhead_ns, &t->tick_ns);
}

/* Once an iteration is known to be long: its slices are timed by both clocks from now on. */
PERF_COLD_FN_ void perf_timer_choose_(perf_timer_ *t, double ns_per_iteration)
{
#if !defined(PERF_CLOCK_FN)                         /* one clock of yours, and one of ours: no    */
    uint64_t first, last, d, best = UINT64_MAX;
    int      i;

    if (t->use_cpu || !(ns_per_iteration > PERF_LOOP_LONG_NS_) || !perf_cpu_now())
        return;
    for (i = 0; i < 5; i++) {
        first = perf_cpu_now();
        last = perf_cpu_now();
        d = last - first;
        best = d < best ? d : best;
    }
    t->use_cpu = 1;
    t->cpu_overhead_ns = PERF_CAST_(double, best) + t->overhead_ns;
    t->switches_known = perf_voluntary_() >= 0;
#else
    (void)t;
    (void)ns_per_iteration;
#endif
}

PERF_FN double perf_timer_since_(uint64_t then, uint64_t now)
{
    return PERF_CAST_(double, PERF_CAST_(int64_t, now - then));
}

/* The last thing before the body runs. */
PERF_FN void perf_timer_start_(perf_timer_ *t, perf_before_fn before, void *user, int variant)
{
    if (before)
        before(user, variant);
    t->paused = 0;
    t->paused_ns = t->paused_cpu_ns = 0.0;
    if (t->use_cpu) {
        t->waits_at = t->switches_known ? perf_voluntary_() : 0;
        t->cpu0 = perf_cpu_now();
    }
    t->t0 = perf_now();
}

/* The first thing after it, with the reading `now`.  0: the clock went backwards, nothing to file. */
PERF_FN int perf_timer_stop_(perf_timer_ *t, uint64_t now)
{
    double   raw;
    uint64_t cpu = t->use_cpu ? perf_cpu_now() : 0;

    raw = perf_timer_since_(t->t0, t->paused ? t->paused_at : now);
    if (t->paused)
        cpu = t->paused_cpu_at;
    t->wall = raw - t->paused_ns - t->overhead_ns;
    t->wall = t->wall > 0.0 ? t->wall : 0.0;
    if (raw < 0.0) {
        t->backwards++;
        return 0;
    }
    if (!(raw > 0.0))
        t->coarse = 1;
    else if (!(t->least_ns > 0.0) || raw < t->least_ns)
        t->least_ns = raw;
    t->spent_ns += raw;
    if (t->use_cpu) {
        t->cpu = perf_timer_since_(t->cpu0, cpu) - t->paused_cpu_ns - t->cpu_overhead_ns;
        t->cpu = t->cpu > 0.0 ? t->cpu : 0.0;
        t->slices++;
        t->timed_ns += t->wall;
        if (t->wall > t->cpu)
            t->waited_ns += t->wall - t->cpu;
        if (t->switches_known && perf_voluntary_() > t->waits_at)
            t->waiting_slices++;
    }
    return 1;
}

/* The step of the clock.  One of milliseconds does not move while it is looked at, but then some
 * slices take no time at all, and the shortest of the others is a step or two.                   */
PERF_FN double perf_timer_tick_(const perf_timer_ *t)
{
    return t->coarse && t->least_ns > t->tick_ns ? t->least_ns : t->tick_ns;
}

/* How long slices are to be: as asked for, or 30 steps of such a clock, if the time allows.      */
PERF_FN double perf_timer_want_(const perf_timer_ *t, double slice_ns, double max_seconds)
{
    double steps = t->coarse ? 30.0 * perf_timer_tick_(t) : 0.0, most = max_seconds * 1e9 / 32.0;

    steps = steps < most ? steps : most;
    return steps > slice_ns ? steps : slice_ns;
}

PERF_FN int perf_timer_late_(const perf_timer_ *t, uint64_t now, double max_seconds)
{
    return perf_timer_since_(t->began, now) > max_seconds * 1e9 || t->spent_ns > max_seconds * 1e9;
}

PERF_OUTLINE_FN_ void perf_timer_pause_(perf_timer_ *t)
{
    if (t->paused)
        return;
    t->paused = 1;
    t->paused_at = perf_now();
    if (t->use_cpu)
        t->paused_cpu_at = perf_cpu_now();
}

PERF_OUTLINE_FN_ void perf_timer_resume_(perf_timer_ *t)
{
    double paused;

    if (!t->paused)
        return;
    t->paused = 0;
    if (t->use_cpu)
        t->paused_cpu_ns += perf_timer_since_(t->paused_cpu_at, perf_cpu_now()) + t->cpu_overhead_ns;
    paused = perf_timer_since_(t->paused_at, perf_now());
    t->paused_ns += paused > 0.0 ? paused + t->overhead_ns : 0.0;
}

/* Which clock decides.  The answer depends on waits and switches alone, never on who is faster. */
PERF_COLD_FN_ perf_decides perf_timer_decides_(const perf_timer_ *t, const char **why)
{
    const char *text;
    int         cpu = 0;

    if (!t->use_cpu)
        text = "the slices are short";
    else if (!t->switches_known)
        text = "this system does not tell own waits from waits for the processor";
    else if (10 * t->waiting_slices > t->slices)
        text = "the body waits by itself";
    else if (!(t->waited_ns > 0.02 * t->timed_ns))
        text = "it hardly ever waited for the processor";
    else {
        cpu = 1;
        text = "others had the processor for part of the time";
    }
    if (why)
        *why = text;
    return cpu ? PERF_DECIDES_CPU : PERF_DECIDES_WALL;
}

/* A loop's state with room for its samples behind it, in fresh pages: kept for the report until the
 * program ends, and touched only as far as it is used.                                           */
PERF_COLD_FN_ void *perf_loop_pages_(size_t state, size_t samples)
{
    return perf_pages_(state + samples * sizeof(double), 0);
}

/* Finds the batch: grow until three readings in a row are long enough; a single one may have been
 * long for reasons of its own.  Returns 0 when the body cannot be there: over a million iterations
 * in less time than the loop's own branch could take.                                            */
PERF_FN int perf_slice_grow_(perf_slice_ *s, double ns, double want)
{
    double grow;

    if (!s->readings || ns < s->fastest)
        s->fastest = ns;
    s->readings++;
    if (s->fastest >= 0.7 * want) {
        if (s->batch == 1 || s->readings >= 3)
            s->steady = 1;
        return 1;
    }
    if (s->batch >= 1000000 && s->fastest < 0.03 * PERF_CAST_(double, s->batch))
        return 0;
    grow = s->fastest > 0.0 ? want / s->fastest : 10.0;
    grow = grow > 10.0 ? 10.0 : grow < 1.2 ? 1.2 : grow;
    s->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, s->batch) * grow) + 1;
    s->readings = 0;
    return 1;
}

/* ns per iteration of an empty loop that the compiler may not delete, the best of 5. */
PERF_COLD_FN_ double perf_loop_empty_ns_(double overhead)
{
    double   best = PERF_INF_, ns;
    uint64_t t, n;
    int      i;

    for (i = 0; i < 5; i++) {
        t = perf_now();
        for (n = 20000; n; n--)
            perf_clobber();
        ns = (perf_timer_since_(t, perf_now()) - overhead) / 20000.0;
        if (ns < best)
            best = ns;
    }
    return best;
}

/* x: ns per iteration by slice, in time order. */
PERF_COLD_FN_ uint32_t perf_slice_warnings_(const double *x, size_t n, const perf_summary *all,
                                            double overhead)
{
    perf_summary early, late;
    double       gap;
    uint32_t     w = 0;

    /* A deleted body leaves the loop, up to 3 cycles of it in 25 runs measured; an honest single
     * multiply is in that range too, so a bench only warns, while a verdict is withheld.         */
    if (all->count && all->p50 < 5.0 && all->p50 < 5.0 * perf_loop_empty_ns_(overhead))
        w |= PERF_WARN_EMPTY_BODY;
    if (n >= 30) {
        early = perf_summarize(x, n / 3);
        late = perf_summarize(x + (n - n / 3), n / 3);
        gap = early.p50 > late.p50 ? early.p50 - late.p50 : late.p50 - early.p50;
        if (gap > 0.05 * all->p50 && (early.p50_low > late.p50_high || late.p50_low > early.p50_high))
            w |= PERF_WARN_DRIFT;
    }
    return w;
}

PERF_FN perf_bench_opts perf_bench_opts_default(void)
{
    perf_bench_opts o = PERF_ZERO;
    return o;
}

/* 0, negative and NaN: the default; anything else is moved into the range. */
PERF_FN double perf_or_default_(double x, double low, double high, double otherwise)
{
    return !(x > 0.0) ? otherwise : x < low ? low : x > high ? high : x;
}

PERF_FN perf_bench_opts perf_bench_opts_resolved(const perf_bench_opts *opts)
{
    perf_bench_opts o = opts ? *opts : perf_bench_opts_default();

    o.warmup = o.warmup ? o.warmup < 0 ? 0 : o.warmup : 5;
    o.samples = o.samples < 0 ? 0
                : o.samples > PERF_LOOP_MAX_SAMPLES_ ? PERF_LOOP_MAX_SAMPLES_ : o.samples;
    o.rel_ci = perf_or_default_(o.rel_ci, 1e-6, 1.0, 0.01);
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 1.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    o.bytes = perf_or_default_(o.bytes, 1e-30, 1e30, 0.0);
    o.items = perf_or_default_(o.items, 1e-30, 1e30, 0.0);
    o.flops = perf_or_default_(o.flops, 1e-30, 1e30, 0.0);
    o.peak_gb_per_s = perf_or_default_(o.peak_gb_per_s, 1e-30, 1e30, 0.0);
    o.peak_gflop_per_s = perf_or_default_(o.peak_gflop_per_s, 1e-30, 1e30, 0.0);
    return o;
}

PERF_OUTLINE_FN_ perf_bench_state_ *perf_bench_open_(const char *name, const perf_bench_opts *opts,
                                                  int optimised)
{
    perf_bench_opts    o = perf_bench_opts_resolved(opts);
    size_t             room = o.samples ? PERF_CAST_(size_t, o.samples) : PERF_LOOP_SAMPLES_;
    perf_bench_state_ *s = PERF_CAST_(perf_bench_state_ *, PERF_NULL_);

    if (perf_not_cold_())
        s = PERF_CAST_(perf_bench_state_ *, perf_loop_pages_(sizeof *s, 2 * room));
    if (!s)
        return PERF_LOOP_NO_MEMORY_(perf_bench_state_);
    s->opts = o;
    s->slice.ns = PERF_PTR_(double *, s + 1);
    s->slice.cpu = s->slice.ns + room;
    if (!optimised)
        s->warnings |= PERF_WARN_UNOPTIMISED;
    s->look_at = 30;
    s->left_to_warm = s->opts.warmup;
    perf_timer_open_(&s->timer);
    perf_loop_add_(&s->loop, 1, name);
    return s;
}

/* The slices by the clock that decides. */
PERF_FN const double *perf_bench_times_(const perf_bench_state_ *s)
{
    return perf_timer_decides_(&s->timer, PERF_NULL_) == PERF_DECIDES_CPU ? s->slice.cpu
                                                                           : s->slice.ns;
}

/* 1 when sampling may end: the median is known well enough, or samples or time have run out. */
PERF_COLD_FN_ int perf_bench_enough_(perf_bench_state_ *s, int late)
{
    const perf_slice_ *p = &s->slice;
    const double      *x;
    perf_interval      q;
    perf_summary       sum;

    if (late)
        return 1;
    if (s->opts.samples)
        return p->count >= PERF_CAST_(size_t, s->opts.samples);
    if (p->count >= PERF_LOOP_SAMPLES_)
        return 1;
    if (p->count < s->look_at)
        return 0;
    s->look_at = p->count + p->count / 4;
    x = perf_bench_times_(s);
    sum = perf_summarize(x, p->count);
    q = perf_quantile_interval_series(x, p->count, 0.5, 0.95);
    if (p->count < 40) {
        q.low = sum.p50_low;
        q.high = sum.p50_high;
    }
    return q.high - q.low <= 2.0 * s->opts.rel_ci * sum.p50;
}

/* A slice has ended: file its time, and say how many iterations the next one has; 0: no more. */
PERF_OUTLINE_FN_ uint64_t perf_bench_slice_(perf_bench_state_ *s)
{
    uint64_t     now = perf_now();
    perf_slice_ *p;
    double       ns;
    int          late, good = 1;

    if (!PERF_LOOP_IS_ONE_(s) || s->phase == PERF_LOOP_DONE_)
        return 0;
    p = &s->slice;
    if (s->phase != PERF_LOOP_START_) {
        good = perf_timer_stop_(&s->timer, now);
        p->runs += p->batch;
    }
    ns = s->timer.wall;
    late = perf_timer_late_(&s->timer, now, s->opts.max_seconds);
    late = late && (s->phase != PERF_LOOP_SAMPLE_ || p->count >= 2);    /* three samples at least */
    if (!good && s->timer.backwards > PERF_LOOP_STEPS_BACK_) {
        s->status = PERF_ERANGE;
        s->phase = PERF_LOOP_DONE_;
        return 0;
    }
    switch (s->phase) {
    case PERF_LOOP_START_:
        p->batch = 1;
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        p->cold_ns = ns;
        s->phase = late ? PERF_LOOP_SAMPLE_ : PERF_LOOP_GROW_;
        if (late)
            perf_timer_choose_(&s->timer, ns);
        break;
    case PERF_LOOP_GROW_:
        if (good && !perf_slice_grow_(p, ns, perf_timer_want_(&s->timer, s->opts.slice_ns,
                                                              s->opts.max_seconds))) {
            s->status = PERF_EDELETED;
            s->phase = PERF_LOOP_DONE_;
            return 0;
        }
        if (p->steady || late) {
            s->phase = s->left_to_warm > 0 && !late ? PERF_LOOP_WARM_ : PERF_LOOP_SAMPLE_;
            perf_timer_choose_(&s->timer, p->fastest / PERF_CAST_(double, p->batch));
        }
        break;
    case PERF_LOOP_WARM_:
        if (--s->left_to_warm <= 0 || (late && p->runs >= 3))
            s->phase = PERF_LOOP_SAMPLE_;
        break;
    default:
        if (!good)
            break;                                  /* that slice again                           */
        p->cpu[p->count] = s->timer.cpu / PERF_CAST_(double, p->batch);
        p->ns[p->count++] = ns / PERF_CAST_(double, p->batch);
        if (perf_bench_enough_(s, late)) {
            s->phase = PERF_LOOP_DONE_;
            return 0;
        }
    }
    perf_timer_start_(&s->timer, s->opts.before, s->opts.user, 0);
    return p->batch;
}

/* The summary of a bench's slices, its interval allowing for neighbours that are alike. */
PERF_COLD_FN_ perf_summary perf_bench_summary_(const double *x, size_t n)
{
    perf_summary  sum = perf_summarize(x, n);
    perf_interval q;

    if (n >= 40) {
        q = perf_quantile_interval_series(x, n, 0.5, 0.95);
        sum.p50_low = q.low;
        sum.p50_high = q.high;
    }
    return sum;
}

/* The summary that counts. */
PERF_FN const perf_summary *perf_result_main_(const perf_result *r)
{
    return r->decides == PERF_DECIDES_CPU ? &r->cpu : &r->time;
}

PERF_COLD_FN_ void perf_result_rates_(perf_result *r)
{
    double ns = perf_result_main_(r)->p50;

    if (!(ns > 0.0))
        return;
    r->gb_per_s = r->opts.bytes / ns;
    r->items_per_s = r->opts.items / ns * 1e9;
    r->gflop_per_s = r->opts.flops / ns;
    if (r->opts.peak_gb_per_s > 0.0)
        r->percent_of_peak_gb = 100.0 * r->gb_per_s / r->opts.peak_gb_per_s;
    if (r->opts.peak_gflop_per_s > 0.0)
        r->percent_of_peak_gflop = 100.0 * r->gflop_per_s / r->opts.peak_gflop_per_s;
}

/* Of a coarse clock each slice is right to a step. */
PERF_COLD_FN_ uint32_t perf_bench_widen_(perf_summary *sum, double step)
{
    sum->p50_low = sum->p50_low > step ? sum->p50_low - step : 0.0;
    sum->p50_high += step;
    return step > 0.001 * sum->p50 ? PERF_CAST_(uint32_t, PERF_WARN_RESOLUTION) : 0u;
}

PERF_OUTLINE_FN_ perf_result perf_bench_close_(perf_bench_state_ *s, int64_t left)
{
    perf_result         r = PERF_ZERO;
    const perf_slice_  *p;
    const perf_summary *sum;

    r.why = "nothing was measured";
    if (!PERF_LOOP_IS_ONE_(s) || PERF_ACQ_(&s->loop.done)) {
        r.status = s && !PERF_LOOP_IS_ONE_(s) ? PERF_ENOMEM : PERF_ESTATE;
        return r;
    }
    p = &s->slice;
    if (s->phase != PERF_LOOP_DONE_ && s->phase != PERF_LOOP_START_ && left >= 0)
        s->slice.runs += p->batch - PERF_CAST_(uint64_t, left);     /* a slice that a break cut short */
    r.decides = perf_timer_decides_(&s->timer, &r.why);
    r.time = perf_bench_summary_(p->ns, p->count);
    if (s->timer.use_cpu)
        r.cpu = perf_bench_summary_(p->cpu, p->count);
    sum = perf_result_main_(&r);
    r.cold_ns = p->cold_ns;
    r.overhead_ns = s->timer.overhead_ns;
    r.batch = p->batch;
    r.iterations = p->runs;
    r.opts = s->opts;
    r.status = s->status;
    r.warnings = s->warnings | sum->warnings;
    if (s->timer.backwards)
        r.warnings |= PERF_WARN_CLOCK;
    if (s->status != PERF_OK) {                     /* never a plausible time beside a failure    */
        memset(&r.time, 0, sizeof r.time);
        memset(&r.cpu, 0, sizeof r.cpu);
        r.time.status = s->status;
    } else if (!r.time.count) {
        r.status = PERF_ENODATA;
    } else {
        if (s->timer.coarse && r.decides == PERF_DECIDES_WALL)
            r.warnings |= perf_bench_widen_(&r.time, perf_timer_tick_(&s->timer) /
                                                         PERF_CAST_(double, p->batch));
        r.warnings |= perf_slice_warnings_(perf_bench_times_(s), p->count, sum, s->timer.overhead_ns);
        if (!(sum->p50_high - sum->p50_low <= 2.0 * s->opts.rel_ci * sum->p50))
            r.warnings |= PERF_WARN_NOISY;
        perf_result_rates_(&r);
    }
    if (s->phase != PERF_LOOP_DONE_)
        r.warnings |= PERF_WARN_STOPPED;
    s->phase = PERF_LOOP_DONE_;
    s->result = r;
    PERF_REL_(&s->loop.done, 1);
    return r;
}

#if PERF_DISABLE
PERF_FN perf_bench perf_bench_begin(const char *name, const perf_bench_opts *opts)
{
    perf_bench b = {2, 1, PERF_NULL_};          /* the body runs once, unmeasured                 */
    (void)name;
    (void)opts;
    return b;
}

PERF_FN int perf_bench_next(perf_bench *b)
{
    return --b->left != 0;
}

PERF_FN perf_result perf_bench_end(perf_bench *b)
{
    perf_result r = PERF_ZERO;
    (void)b;
    r.status = PERF_EDISABLED;
    r.why = perf_status_text(PERF_EDISABLED);
    return r;
}

PERF_FN void perf_bench_pause(perf_bench *b)
{
    (void)b;
}

PERF_FN void perf_bench_resume(perf_bench *b)
{
    (void)b;
}
#else
#if defined(__OPTIMIZE__) || defined(_MSC_VER)
#define PERF_OPTIMISED_ 1
#else
#define PERF_OPTIMISED_ 0
#endif

PERF_INLINE_FN_ perf_bench perf_bench_begin(const char *name, const perf_bench_opts *opts)
{
    perf_bench b;

    b.left = 0;
    b.first = -1;
    b.state = perf_bench_open_(name, opts, PERF_OPTIMISED_);
    return b;
}

/* --left >= 0 in one instruction and a branch.  clang makes two of the plain form. */
#if defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
PERF_INLINE_FN_ int perf_loop_goes_on_(int64_t *left)
{
    uint64_t u;
    int      over = __builtin_sub_overflow(PERF_CAST_(uint64_t, *left), PERF_CAST_(uint64_t, 1), &u);

    *left = PERF_CAST_(int64_t, u);
    return !over;
}
#define PERF_LOOP_GOES_ON_(left) perf_loop_goes_on_(&(left))
#else
#define PERF_LOOP_GOES_ON_(left) (--(left) >= 0)
#endif
#if defined(__GNUC__) && !PERF_TCC_
#define PERF_LOOP_KNOWN_(x)                                                                       \
    do {                                                                                          \
        if (!(x))                                                                                 \
            __builtin_unreachable();                                                              \
    } while (0)
#else
#define PERF_LOOP_KNOWN_(x) ((void)0)
#endif

/* The state travels by value and comes back by value, so the counter's address is never taken and
 * both stay in registers: the loop is the body, one decrement and one branch.                    */
PERF_INLINE_FN_ int perf_bench_next(perf_bench *b)
{
    uint64_t n;

    if (PERF_LIKELY_(PERF_LOOP_GOES_ON_(b->left)))  /* an ended or all-zero bench falls through   */
        return 1;
    n = perf_bench_slice_(b->state);
    b->left = b->first = PERF_CAST_(int64_t, n) - (n != 0);
    return n != 0;
}

PERF_INLINE_FN_ perf_result perf_bench_end(perf_bench *b)
{
    perf_bench was = PERF_ZERO;

    if (b) {
        was = *b;
        memset(b, 0, sizeof *b);
        b->first = -1;
    }
    return perf_bench_close_(was.state, was.left);
}

/* The clobbers keep the body's memory traffic on its side. */
PERF_INLINE_FN_ void perf_bench_pause(perf_bench *b)
{
    perf_clobber();
    if (b && PERF_LOOP_IS_ONE_(b->state))
        perf_timer_pause_(&b->state->timer);
}

PERF_INLINE_FN_ void perf_bench_resume(perf_bench *b)
{
    if (b && PERF_LOOP_IS_ONE_(b->state))
        perf_timer_resume_(&b->state->timer);
    perf_clobber();
}
#endif

PERF_INLINE_FN_ int perf_bench_slice_begins(const perf_bench *b)
{
    return b && b->left == b->first;
}

/* "12.3 ns [12.2, 12.4]", the interval left out where there is none. */
PERF_FN void perf_put_estimate_(perf_out_ *o, const perf_summary *s, size_t width)
{
    char      text[96];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_time_(&t, s->p50);
    if (perf_is_finite_(s->p50_low) && perf_is_finite_(s->p50_high)) {
        perf_put_(&t, " [");
        perf_put_time_(&t, s->p50_low);
        perf_put_(&t, ", ");
        perf_put_time_(&t, s->p50_high);
        perf_put_(&t, "]");
    } else {
        perf_put_(&t, " [no interval]");
    }
    perf_put_cell_(o, text, width);
}

/* A percentile; "~" where there are too few slices to bound it from above (p95: 72, p99: 368). */
PERF_COLD_FN_ void perf_put_tail_cell_(perf_out_ *o, double ns, double high)
{
    char      text[40];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    if (!perf_is_finite_(high))
        perf_put_char_(&t, '~');
    perf_put_time_(&t, ns);
    perf_put_cell_(o, text, 10);
}

PERF_COLD_FN_ void perf_put_loop_row_(perf_out_ *o, const char *name, const char *arm,
                                      const perf_summary *s, double cold_ns)
{
    char      label[140];
    perf_out_ t = PERF_ZERO;

    t.p = label;
    t.cap = sizeof label;
    perf_put_(&t, name);
    perf_put_(&t, arm);
    perf_put_(o, "  ");
    perf_put_name_(o, label, 30);
    perf_put_estimate_(o, s, 34);
    perf_put_tail_cell_(o, s->p95, s->p95_high);
    perf_put_tail_cell_(o, s->p99, s->p99_high);
    perf_put_time_cell_(o, cold_ns, 10);
    perf_put_(o, "\n");
}

PERF_COLD_FN_ void perf_put_warnings_(perf_out_ *o, uint32_t warnings)
{
    uint32_t bit;

    for (bit = 1; bit && bit <= warnings; bit <<= 1) {
        if (!(warnings & bit) || bit == PERF_CAST_(uint32_t, PERF_WARN_UNBOUNDED))
            continue;                               /* an open interval shows itself              */
        perf_put_(o, "    note: ");
        perf_put_(o, perf_warning_text(bit));
        perf_put_(o, "\n");
    }
}

PERF_COLD_FN_ void perf_put_rate_(perf_out_ *o, double x, const char *unit, double percent,
                                  double ceiling)
{
    perf_put_fixed_(o, x, x < 9.995 ? 3 : x < 99.95 ? 2 : 1);
    perf_put_(o, unit);
    if (percent > 0.0) {
        perf_put_(o, " (");
        perf_put_fixed_(o, percent, 1);
        perf_put_(o, " % of the peak of ");
        perf_put_fixed_(o, ceiling, ceiling < 99.95 ? 1 : 0);
        perf_put_char_(o, ')');
    }
}

/* "3.2 GB/s (16.0 % of the peak of 20.0), 4.1 M items/s" when the caller said what one iteration
 * moves; returns whether there was anything to say.                                              */
PERF_COLD_FN_ int perf_put_rates_(perf_out_ *o, const perf_result *r, const char *lead)
{
    int some = 0;

    if (r->gb_per_s > 0.0) {
        perf_put_(o, lead);
        perf_put_rate_(o, r->gb_per_s, " GB/s", r->percent_of_peak_gb, r->opts.peak_gb_per_s);
        some = 1;
    }
    if (r->gflop_per_s > 0.0) {
        perf_put_(o, some ? ", " : lead);
        perf_put_rate_(o, r->gflop_per_s, " GFLOP/s", r->percent_of_peak_gflop,
                       r->opts.peak_gflop_per_s);
        some = 1;
    }
    if (r->items_per_s > 0.0) {
        perf_put_(o, some ? ", " : lead);
        perf_put_rate_(o, r->items_per_s * 1e-6, " M items/s", 0.0, 0.0);
        some = 1;
    }
    return some;
}

/* "cpu time decides: why; wall 12 ms [11, 14]". */
PERF_COLD_FN_ void perf_put_decides_(perf_out_ *o, perf_decides d, const char *why,
                                     const perf_summary *other)
{
    perf_put_(o, d == PERF_DECIDES_CPU ? "cpu time decides: " : "wall time decides: ");
    perf_put_(o, why);
    perf_put_(o, d == PERF_DECIDES_CPU ? "; wall" : "; cpu");
    perf_put_estimate_(o, other, 1);
}

PERF_FN const char *perf_result_text(perf_result *r)
{
    perf_out_ o = PERF_ZERO;

    if (!r)
        return "";
    o.p = r->text;
    o.cap = sizeof r->text;
    r->text[0] = '\0';
    if (!r->time.count) {
        perf_put_(&o, "not measured: ");
        perf_put_(&o, perf_status_text(r->status));
        return r->text;
    }
    perf_put_(&o, "median");
    perf_put_estimate_(&o, perf_result_main_(r), 1);
    perf_put_(&o, " per iteration");
    (void)perf_put_rates_(&o, r, "; ");
    if (r->cpu.count) {
        perf_put_(&o, "; ");
        perf_put_decides_(&o, r->decides, r->why,
                          r->decides == PERF_DECIDES_CPU ? &r->time : &r->cpu);
    }
    return r->text;
}

PERF_COLD_DECL_ void perf_put_ab_(perf_out_ *o, const perf_loop_ *l);
PERF_COLD_DECL_ void perf_put_race_(perf_out_ *o, const perf_loop_ *l);

PERF_COLD_FN_ void perf_put_bench_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_result *b = &PERF_PTR_(const perf_bench_state_ *, l)->result;

    if (b->time.count) {
        perf_put_loop_row_(o, l->name, "", perf_result_main_(b), b->cold_ns);
        if (perf_put_rates_(o, b, "    "))
            perf_put_(o, "\n");
        if (b->cpu.count) {
            perf_put_(o, "    ");
            perf_put_decides_(o, b->decides, b->why,
                              b->decides == PERF_DECIDES_CPU ? &b->time : &b->cpu);
            perf_put_(o, "\n");
        }
    } else {
        perf_put_(o, "  ");
        perf_put_name_(o, l->name, 30);
        perf_put_(o, "   not measured: ");
        perf_put_(o, perf_status_text(b->status));
        perf_put_(o, "\n");
    }
    perf_put_warnings_(o, b->warnings);
}

PERF_COLD_FN_ void perf_put_loop_(perf_out_ *o, const perf_loop_ *l)
{
    if (!PERF_ACQ_(&l->done)) {
        perf_put_(o, "  ");
        perf_put_name_(o, l->name, 30);
        perf_put_(o, "   begun, but not ended\n");
        return;
    }
    (l->kind == 1 ? perf_put_bench_ : l->kind == 2 ? perf_put_ab_ : perf_put_race_)(o, l);
    if (l->note && *l->note) {
        perf_put_(o, "    ");
        perf_put_(o, l->note);
        perf_put_(o, "\n");
    }
}

/* Benches and comparisons in the order they were begun; follows perf_registry_get_()->results,
 * which is newest first.  Each loop lies in pages of its own: of 40,000 of them, looking for the
 * one before from the start of the list took 84 s.                                               */
PERF_FN void perf_report_results_(perf_out_ *o)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    perf_loop_     *l, *first, *stop = PERF_CAST_(perf_loop_ *, PERF_NULL_), **all;
    size_t          n = 0, i;

    if (!r || !PERF_ACQ_(&r->results))
        return;
    perf_put_(o, "\n  benchmark                                median [95 % interval]");
    perf_put_(o, "       p95       p99      cold\n");
    first = PERF_CAST_(perf_loop_ *, PERF_ACQ_(&r->results));
    for (l = first; l; l = l->next)
        n++;
    all = PERF_CAST_(perf_loop_ **, PERF_MALLOC(n * sizeof *all));
    for (l = first, i = n; all && l; l = l->next)
        all[--i] = l;
    for (i = 0; all && i < n; i++)
        perf_put_loop_(o, all[i]);
    while (!all && stop != first) {                 /* no memory: slowly                          */
        for (l = first; l->next != stop; l = l->next)
            ;
        stop = l;
        perf_put_loop_(o, l);
    }
    PERF_FREE(all);
}

/* ---- ab and race: one engine for 2 to 64 variants ---- */

#define PERF_RACE_MOST_     64
#define PERF_CONTROL_PAIRS_ 6           /* after a lead                                           */
#define PERF_CONTROL_LEADS_ 5           /* until a control has failed                             */
#define PERF_CONTROL_MOST_  (PERF_CONTROL_PAIRS_ * PERF_CONTROL_LEADS_)

typedef struct perf_ab_state_ {
    perf_loop_       loop;              /* first: the list is of these                            */
    perf_ab_opts     opts;
    perf_timer_      timer;
    perf_slice_     *arm;               /* [variants]                                             */
    perf_seq        *seq;               /* [variants] against variant 0, by the wall; 0 unused    */
    perf_seq        *seq_cpu;           /* likewise by processor time                             */
    double          *pending;           /* [2 * variants] of the round under way                  */
    double          *again;             /* [variants * PERF_CONTROL_MOST_] control: log ratios    */
    int             *against;           /* [variants] control: it disagrees                       */
    perf_interval   *kept;              /* [variants] of the log ratio, at kept_at pairs          */
    double          *control_ratio;     /* [variants] of the last time                            */
    unsigned char   *first;             /* [max_pairs] the variant that began the round           */
    perf_race_entry *entry;             /* a race has one for each variant                        */
    uint64_t         coin;
    int              variants, running; /* running: 1 when one is forced                          */
    int              forced;            /* the variant, or -1                                     */
    int              phase, at, left_to_warm, typical;
    size_t           look_at, lead, lead_left;  /* control: slices that the fastest runs alone    */
    size_t           again_count, kept_at;
    double           control_end;       /* ns since begin: the control in hand then is the last    */
    int              control_pairs, control_at, control_rounds;
    unsigned char    order[PERF_RACE_MOST_];    /* of the round under way                         */
    perf_status      status;
    perf_accuracy    seen;
    uint32_t         warnings;
    perf_ab_result   result;
    perf_race_result race;
} perf_ab_state_;

PERF_FN perf_ab_opts perf_ab_opts_default(void)
{
    perf_ab_opts o = PERF_ZERO;
    return o;
}

PERF_FN int perf_metric_is_typical_(perf_metric m)
{
    return m == PERF_METRIC_PAIR || m == PERF_METRIC_MEMORY || m == PERF_METRIC_THROUGHPUT;
}

PERF_FN perf_ab_opts perf_duel_resolved_(const perf_ab_opts *opts, int variants)
{
    perf_ab_opts o = opts ? *opts : perf_ab_opts_default();

    o.accept = perf_compare_opts_resolved(&o.accept);
    o.accept.design = PERF_DESIGN_RANDOM;
    o.min_pairs = o.min_pairs > 0 ? o.min_pairs : 24;
    if (o.max_pairs <= 0)
        o.max_pairs = variants > 2 ? 1000
                      : perf_metric_is_typical_(o.accept.rule.metric) ? 5000 : 400;
    if (o.max_pairs > PERF_LOOP_MAX_SAMPLES_)
        o.max_pairs = PERF_LOOP_MAX_SAMPLES_;
    if (o.min_pairs > PERF_LOOP_MAX_SAMPLES_)
        o.min_pairs = PERF_LOOP_MAX_SAMPLES_;
    if (o.max_pairs < o.min_pairs)
        o.max_pairs = o.min_pairs;
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    o.control = o.control < 0 ? -1 : 1;
    return o;
}

PERF_FN perf_ab_opts perf_ab_opts_resolved(const perf_ab_opts *opts)
{
    return perf_duel_resolved_(opts, 2);
}

PERF_FN int perf_coin_(uint64_t *state)
{
    return PERF_CAST_(int, perf_random_(state) >> 63);
}

PERF_COLD_DECL_ void perf_variant_bad_(perf_status why);

/* A new order for the next round: each equally likely. */
PERF_COLD_FN_ void perf_duel_shuffle_(perf_ab_state_ *s)
{
    unsigned char one;
    int           i, j;

    s->at = 0;
    for (i = s->running - 1; i > 0; i--) {
        j = i == 1 ? perf_coin_(&s->coin)
                   : PERF_CAST_(int, (perf_random_(&s->coin) >> 32) *
                                         PERF_CAST_(uint64_t, i + 1) >> 32);
        one = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = one;
    }
}

/* Bytes of a part, so that the next one is aligned for anything in it. */
PERF_FN size_t perf_duel_part_(size_t bytes)
{
    return (bytes + 63) & ~PERF_CAST_(size_t, 63);
}

PERF_OUTLINE_FN_ perf_ab_state_ *perf_duel_open_(const char *name, int variants,
                                              const perf_ab_opts *opts, int kind, int optimised)
{
    int             in_range = variants >= 2 && variants <= PERF_RACE_MOST_, i;
    size_t          k = in_range ? PERF_CAST_(size_t, variants) : 2, room;
    perf_ab_opts    o = perf_duel_resolved_(opts, PERF_CAST_(int, k));
    perf_ab_state_ *s;
    size_t          part[10], bytes = perf_duel_part_(sizeof *s), n = 0;
    double         *at;

    room = PERF_CAST_(size_t, o.max_pairs);
    part[n++] = perf_duel_part_(k * sizeof *s->arm);
    part[n++] = perf_duel_part_(k * sizeof *s->seq);
    part[n++] = perf_duel_part_(k * sizeof *s->seq_cpu);
    part[n++] = perf_duel_part_(2 * k * sizeof(double));
    part[n++] = perf_duel_part_(k * PERF_CONTROL_MOST_ * sizeof(double));
    part[n++] = perf_duel_part_(k * sizeof(int));
    part[n++] = perf_duel_part_(k * sizeof(perf_interval));
    part[n++] = perf_duel_part_(k * sizeof(double));
    part[n++] = perf_duel_part_(room);
    part[n++] = kind == 3 ? perf_duel_part_(k * sizeof(perf_race_entry)) : 0;
    while (n)
        bytes += part[--n];
    s = perf_not_cold_() ? PERF_CAST_(perf_ab_state_ *, perf_loop_pages_(bytes, 2 * k * room))
                         : PERF_CAST_(perf_ab_state_ *, PERF_NULL_);
    if (!s)
        return PERF_LOOP_NO_MEMORY_(perf_ab_state_);
    at = PERF_PTR_(double *, s) + perf_duel_part_(sizeof *s) / sizeof *at;
    s->arm = PERF_PTR_(perf_slice_ *, at);
    s->seq = PERF_PTR_(perf_seq *, at += part[n++] / sizeof *at);
    s->seq_cpu = PERF_PTR_(perf_seq *, at += part[n++] / sizeof *at);
    s->pending = (at += part[n++] / sizeof *at);
    s->again = (at += part[n++] / sizeof *at);
    s->against = PERF_PTR_(int *, at += part[n++] / sizeof *at);
    s->kept = PERF_PTR_(perf_interval *, at += part[n++] / sizeof *at);
    s->control_ratio = (at += part[n++] / sizeof *at);
    s->first = PERF_PTR_(unsigned char *, at += part[n++] / sizeof *at);
    s->entry = PERF_PTR_(perf_race_entry *, at += part[n++] / sizeof *at);
    at += part[n] / sizeof *at;
    s->opts = o;
    s->variants = s->running = PERF_CAST_(int, k);
    for (i = 0; i < s->variants; i++) {
        s->arm[i].ns = at + 2 * PERF_CAST_(size_t, i) * room;
        s->arm[i].cpu = s->arm[i].ns + room;
        s->arm[i].batch = 1;
        s->order[i] = PERF_CAST_(unsigned char, i);
    }
    if (!optimised)
        s->warnings |= PERF_WARN_UNOPTIMISED;
    perf_timer_open_(&s->timer);
    if (!s->opts.seed)
        s->opts.seed = (s->timer.began ^ (perf_ticks() << 20)) | 1;
    s->coin = s->opts.seed;
    s->typical = perf_metric_is_typical_(s->opts.accept.rule.metric);
    s->left_to_warm = 2;
    s->look_at = 60;
    s->forced = perf_variant(name, -1);
    if (s->forced >= s->variants) {
        s->forced = -1;
        perf_variant_bad_(PERF_ERANGE);
    }
    if (s->forced >= 0) {
        s->running = 1;
        s->order[0] = PERF_CAST_(unsigned char, s->forced);
    }
    if (perf_is_nan_(perf_rule_threshold(&s->opts.accept.rule)) ||
        perf_is_nan_(s->opts.accept.confidence) || !in_range || (kind == 3 && !s->typical) ||
        s->opts.accept.rule.metric == PERF_METRIC_MEMORY ||     /* the loop measures time          */
        s->opts.accept.rule.metric == PERF_METRIC_THROUGHPUT) {
        s->status = PERF_EINVAL;
        s->phase = PERF_LOOP_DONE_;
    }
    perf_loop_add_(&s->loop, kind, name);
    return s;
}

/* The log resolution of one pair, from the step of the clock and the length of the slices. */
PERF_FN double perf_race_tick_(const perf_ab_state_ *s, int i, int j)
{
    double a = s->arm[j].fastest, b = s->arm[i].fastest;

    return a > 0.0 && b > 0.0 ? 0.5 * perf_timer_tick_(&s->timer) * (1.0 / a + 1.0 / b) : 0.0;
}

PERF_FN double perf_duel_tick_(const perf_ab_state_ *s, int i)
{
    return perf_race_tick_(s, i, 0);
}

/* The times of a variant by the clock that decides, and the bets on them. */
PERF_FN const double *perf_duel_times_(const perf_ab_state_ *s, int i)
{
    return perf_timer_decides_(&s->timer, PERF_NULL_) == PERF_DECIDES_CPU ? s->arm[i].cpu
                                                                           : s->arm[i].ns;
}

PERF_FN perf_seq *perf_duel_seq_(const perf_ab_state_ *s)
{
    return perf_timer_decides_(&s->timer, PERF_NULL_) == PERF_DECIDES_CPU ? s->seq_cpu : s->seq;
}

PERF_COLD_FN_ double perf_loop_median_(const double *x, size_t n)
{
    double  local[256], *s = n ? perf_scratch_(local, 256, n) : local, m;

    if (!n || !s)
        return PERF_NAN_;
    memcpy(s, x, n * sizeof *x);
    perf_sort_values(s, n);
    m = perf_quantile(s, n, 0.5);
    perf_scratch_free_(s, local);
    return m;
}

/* Log ratios of variants i and j into d, leaving out pairs that have none; returns how many.  only:
 * the variant that began the round, or -1 for all.                                               */
PERF_COLD_FN_ size_t perf_duel_logs_(const perf_ab_state_ *s, int i, int j, int only, double *d)
{
    const double *a = perf_duel_times_(s, i), *b = perf_duel_times_(s, j);
    size_t        n = 0, k;

    for (k = 0; k < s->arm[0].count; k++)
        if (a[k] > 0.0 && b[k] > 0.0 && (only < 0 || s->first[k] == only))
            d[n++] = perf_log(b[k]) - perf_log(a[k]);
    return n;
}

/* Median of n log ratios and their median distance from it; d is changed. */
PERF_COLD_FN_ double perf_duel_centre_(double *d, size_t n, double *spread)
{
    double m = perf_loop_median_(d, n);
    size_t k;

    for (k = 0; k < n; k++)
        d[k] = d[k] < m ? m - d[k] : d[k] - m;
    *spread = perf_loop_median_(d, n);
    return m;
}

/* Is the second of a pair faster whichever it is?  Then the two share state: what the first one
 * leaves behind is what the second one finds.  The coin makes this fair, but it hides the answer:
 * when one kind of pairs is on either side of the threshold, the verdict hangs on who began how often.
 * 1 when that is so and the two kinds hardly overlap.                                            */
PERF_COLD_FN_ int perf_duel_order_matters_(const perf_ab_state_ *s)
{
    double  t = perf_log(perf_rule_threshold(&s->opts.accept.rule)), *d, m[2], spread[2], gap;
    size_t  n = s->arm[0].count, k[2];
    int     i;

    if (s->running != 2 || n < 16)
        return 0;
    d = PERF_CAST_(double *, PERF_MALLOC(n * sizeof *d));
    if (!d)
        return 0;
    for (i = 0; i < 2; i++) {
        k[i] = perf_duel_logs_(s, 0, 1, i, d);
        m[i] = perf_duel_centre_(d, k[i], &spread[i]);
    }
    PERF_FREE(d);
    if (k[0] < 5 || k[1] < 5)
        return 0;
    gap = m[0] < m[1] ? m[1] - m[0] : m[0] - m[1];
    return gap > 2.0 * (spread[0] + spread[1]) && gap > 0.004 && (m[0] < t) != (m[1] < t);
}

/* The intervals of all log ratios, widened by the resolution of the clock. */
PERF_COLD_FN_ void perf_duel_keep_(perf_ab_state_ *s)
{
    perf_seq *q = perf_duel_seq_(s);
    size_t    n = s->arm[0].count, k;
    double   *d = PERF_CAST_(double *, PERF_MALLOC((n + 1) * sizeof *d)), c;
    int       i;

    for (i = 1; i < s->variants; i++) {
        c = s->variants > 2 ? 1.0 - 2.0 / q[i].level : s->opts.accept.confidence;
        k = d ? perf_duel_logs_(s, 0, i, -1, d) : 0;
        s->kept[i] = perf_widen_(perf_seq_interval(d, k, c), perf_duel_tick_(s, i));
    }
    s->kept_at = n;
    PERF_FREE(d);
}

/* A round is complete.  1: stop. */
PERF_COLD_FN_ int perf_duel_enough_(perf_ab_state_ *s, int late)
{
    size_t        n = s->arm[0].count > s->arm[s->order[0]].count ? s->arm[0].count
                                                                  : s->arm[s->order[0]].count;
    perf_seq     *q = perf_duel_seq_(s);
    perf_decision d;
    int           i, open = 0;

    if (n >= PERF_CAST_(size_t, s->opts.max_pairs) || (late && n >= 8))
        return 1;                                   /* 8: the fewest that are sure to be decided  */
    if (s->running == 1)
        return n >= PERF_CAST_(size_t, s->opts.min_pairs);
    if (!s->typical)
        return 0;
    for (i = 1; i < s->variants; i++) {
        d = q[i].decision;
        open += d == PERF_INCONCLUSIVE;
    }
    for (i = 1; i < s->variants && s->variants > 2; i++)    /* Holm: one question fewer is open   */
        q[i].level = 2.0 * (open ? open : 1) / (1.0 - s->opts.accept.confidence);
    if (!open && n >= PERF_CAST_(size_t, s->opts.min_pairs) && n >= s->kept_at + s->kept_at / 8) {
        perf_duel_keep_(s);
        for (i = 1; i < s->variants; i++)           /* rarely the interval is a pair or two behind */
            open |= (q[i].decision == PERF_ACCEPT ? s->kept[i].high >= q[i].log_threshold
                                                  : s->kept[i].low <= q[i].log_threshold);
        return !open;
    }
    if (n >= s->look_at) {
        s->look_at = 2 * n;
        return perf_duel_order_matters_(s);         /* more of the same will not help             */
    }
    return 0;
}

/* The bets after one more round. */
PERF_COLD_FN_ void perf_duel_bet_(perf_ab_state_ *s)
{
    size_t n = s->arm[0].count;
    int    i;

    for (i = 1; i < s->variants; i++) {
        (void)perf_seq_add(&s->seq[i], s->arm[0].ns[n - 1], s->arm[i].ns[n - 1]);
        if (s->timer.use_cpu)
            (void)perf_seq_add(&s->seq_cpu[i], s->arm[0].cpu[n - 1], s->arm[i].cpu[n - 1]);
    }
}

PERF_FN uint64_t perf_duel_stop_(perf_ab_state_ *s, perf_status why)
{
    s->status = why;
    s->phase = PERF_LOOP_DONE_;
    return 0;
}

/* All variants have been read at the common batch.  They share it as long as their costs are within
 * a factor of four: then each has done as many iterations as the other, and two that walk the same
 * memory stand at the same place when a round begins.  0: a body is not there.                   */
PERF_COLD_FN_ int perf_duel_grow_(perf_ab_state_ *s, int late)
{
    perf_slice_ *p = &s->arm[s->order[0]];
    double       want = perf_timer_want_(&s->timer, s->opts.slice_ns, s->opts.max_seconds);
    double       slowest = 0.0, factor;
    uint64_t     batch = p->batch;
    int          i;

    for (i = 0; i < s->running; i++)
        if (s->arm[s->order[i]].fastest > slowest)
            slowest = s->arm[s->order[i]].fastest;
    if (batch >= 1000000 && slowest < 0.03 * PERF_CAST_(double, batch))
        return 0;
    if (slowest >= 0.7 * want || late) {
        if (batch > 1 && p->readings < 3 && !late)
            return 1;
        for (i = 0; i < s->running; i++) {
            p = &s->arm[s->order[i]];
            p->steady = late || 4.0 * p->fastest >= slowest || p->fastest >= 0.7 * want;
            p->readings = p->steady ? p->readings : 0;
        }
        s->phase = PERF_LOOP_GROW_ONE_;
        return 1;
    }
    factor = slowest > 0.0 ? want / slowest : 10.0;
    factor = factor > 10.0 ? 10.0 : factor < 1.2 ? 1.2 : factor;
    for (i = 0; i < s->running; i++) {
        p = &s->arm[s->order[i]];
        p->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, batch) * factor) + 1;
        p->readings = 0;
    }
    return 1;
}

/* The first variant whose batch is still to be found, or the warm-up begins. */
PERF_COLD_FN_ void perf_duel_grow_next_(perf_ab_state_ *s, int late)
{
    double      c = s->opts.accept.confidence;
    perf_slice_ *p;
    int          i;

    for (s->at = 0; s->at < s->running; s->at++)
        if (!s->arm[s->order[s->at]].steady)
            return;
    s->phase = late ? PERF_LOOP_SAMPLE_ : PERF_LOOP_WARM_;
    perf_duel_shuffle_(s);
    for (i = 0; i < s->running; i++) {
        p = &s->arm[s->order[i]];
        perf_timer_choose_(&s->timer, (p->fastest > 0.0 ? p->fastest : p->cold_ns) /
                                          PERF_CAST_(double, p->batch));
    }
    for (i = 1; i < s->variants; i++) {
        (void)perf_seq_init(&s->seq[i], &s->opts.accept.rule, c, perf_duel_tick_(s, i));
        s->seq[i].level *= s->variants - 1;
        s->seq_cpu[i] = s->seq[i];
    }
}

/* The control gives the fastest variant a lead: it runs alone for half as many slices as it had, and
 * then they take turns again for some pairs.  If it is fast only because another one walks ahead and
 * warms its memory, it is ahead now, and slow.  Pairs again, and not the variants alone: what
 * neighbours do to the machine within a millisecond moves lone times by 2 to 8 % (measured).      */
PERF_COLD_FN_ void perf_duel_lead_(perf_ab_state_ *s)
{
    double m, least = PERF_INF_;
    int    i, fastest = 0;

    for (i = 0; i < s->variants; i++) {
        m = perf_loop_median_(perf_duel_times_(s, i), s->arm[i].count);
        if (m < least) {
            least = m;
            fastest = i;
        }
    }
    for (s->at = 0; s->order[s->at] != fastest; s->at++)
        ;
    m = 20e6 / (least * PERF_CAST_(double, s->arm[fastest].batch) + 1.0);
    s->lead = s->arm[0].count / 2;                  /* 20 ms at most, or some slices              */
    s->lead = s->lead < 4 ? 4 : PERF_CAST_(double, s->lead) > m + 4.0 ? PERF_CAST_(size_t, m) + 4
                                                                     : s->lead;
    s->control_pairs = m < 1.0 ? 3 : PERF_CONTROL_PAIRS_;
    s->lead = m < 1.0 ? 2 : s->lead;
    s->lead_left = s->lead;
    s->control_at = -1;                             /* the first pair only warms up               */
    s->phase = PERF_LOOP_CONTROL_;
}

/* Is there a decision to hold against a control?  Then it begins. */
PERF_COLD_FN_ int perf_duel_control_(perf_ab_state_ *s)
{
    double now = perf_timer_since_(s->timer.began, perf_now());
    int    i, any = 0;

    if (s->opts.control < 0 || s->running < 2)
        return 0;
    for (i = 1; i < s->variants; i++)
        any |= !s->typical || perf_duel_seq_(s)[i].decision != PERF_INCONCLUSIVE;
    if (any) {
        s->control_end = now + (now > 0.4e9 ? 0.5 * now : 0.2e9);
        perf_duel_lead_(s);
    }
    return any;
}

/* The pairs after a lead are complete.  They agree when their median is off by at most half of what
 * decides, and two standard errors of it are no more than that (1.86 spreads over the root of the
 * number each, if they followed a normal law): then the control is over.  It has failed if after the
 * last lead they still are off by more, and
 *   by more than 2.5 standard errors of both medians, or
 *   on the other side of the threshold, though the pairs in turns are as far from it as they spread.
 * Bets on signs can be won by two groups of pairs far apart, as when each walks ahead for a while:
 * what decides is then less than two standard errors of the pairs in turns.  So it is on a noisy
 * machine, and then all leads are needed, and a certain agreement (opts.before rules the groups out).
 * 1: the control is over.                                                                         */
PERF_COLD_FN_ int perf_duel_vote_(perf_ab_state_ *s)
{
    double t = perf_log(perf_rule_threshold(&s->opts.accept.rule)), *d, c[PERF_CONTROL_MOST_];
    double est, spread, spread_c, gap, far_off, error, error_c;
    size_t n = s->arm[0].count, k, m = s->again_count;
    int    i, over = 1, off, apart, across;

    d = PERF_CAST_(double *, PERF_MALLOC(n * sizeof *d));
    if (!d)
        return 1;
    s->control_rounds++;
    for (i = 1; i < s->variants; i++) {
        k = perf_duel_logs_(s, 0, i, -1, d);
        est = perf_duel_centre_(d, k, &spread);
        memcpy(c, s->again + PERF_CAST_(size_t, i) * PERF_CONTROL_MOST_, m * sizeof *c);
        gap = perf_duel_centre_(c, m, &spread_c);
        s->control_ratio[i] = perf_exp(gap);
        far_off = est < t ? t - est : est - t;
        across = (gap < t) != (est < t) && far_off > 0.75 * spread;
        gap = gap < est ? est - gap : gap - est;
        off = gap > 0.5 * far_off && gap > 0.002;
        error = 1.86 * spread / perf_sqrt(PERF_CAST_(double, k));
        error_c = 1.86 * spread_c / perf_sqrt(PERF_CAST_(double, m));
        apart = !s->opts.before && 2.0 * error > far_off &&
                (!s->typical || perf_duel_seq_(s)[i].decision != PERF_INCONCLUSIVE);
        over &= !off && !apart && 2.0 * error_c <= far_off;
        s->against[i] = (apart && (off || 2.0 * error_c > far_off)) ||
                        (off && (across || gap > 2.5 * perf_sqrt(error * error + error_c * error_c)));
    }
    PERF_FREE(d);
    return over || s->control_rounds >= PERF_CONTROL_LEADS_ ||
           perf_timer_since_(s->timer.began, perf_now()) > s->control_end;
}

/* One slice of the control has ended.  1: the control is over. */
PERF_COLD_FN_ int perf_duel_control_slice_(perf_ab_state_ *s, const perf_slice_ *p)
{
    int cpu = perf_timer_decides_(&s->timer, PERF_NULL_) == PERF_DECIDES_CPU, i;

    if (s->lead_left) {
        if (!--s->lead_left)
            perf_duel_shuffle_(s);
        return 0;
    }
    s->pending[s->order[s->at]] = (cpu ? s->timer.cpu : s->timer.wall) /
                                  PERF_CAST_(double, p->batch);
    if (++s->at < s->running)
        return 0;
    if (s->control_at >= 0) {
        for (i = 1; i < s->variants; i++)
            s->again[PERF_CAST_(size_t, i) * PERF_CONTROL_MOST_ + s->again_count] =
                perf_log(s->pending[i]) - perf_log(s->pending[0]);
        s->again_count++;
    }
    perf_duel_shuffle_(s);
    if (++s->control_at < s->control_pairs)
        return 0;
    if (perf_duel_vote_(s))
        return 1;
    perf_duel_lead_(s);
    return 0;
}

/* A slice has ended: file its time, choose the next one.  Returns 64 * iterations + variant, or 0. */
PERF_OUTLINE_FN_ uint64_t perf_duel_slice_(perf_ab_state_ *s)
{
    uint64_t     now = perf_now();
    perf_slice_ *p;
    double       ns;
    int          late, good = 1, i;

    if (!PERF_LOOP_IS_ONE_(s) || s->phase == PERF_LOOP_DONE_)
        return 0;
    p = &s->arm[s->order[s->at]];
    if (s->phase != PERF_LOOP_START_) {
        good = perf_timer_stop_(&s->timer, now);
        p->runs += p->batch;
    }
    ns = s->timer.wall;
    late = perf_timer_late_(&s->timer, now, s->opts.max_seconds);
    if (!good && s->timer.backwards > PERF_LOOP_STEPS_BACK_)
        return perf_duel_stop_(s, PERF_ERANGE);
    switch (good || s->phase == PERF_LOOP_COLD_ ? s->phase : PERF_LOOP_DONE_) {
    case PERF_LOOP_START_:
        perf_duel_shuffle_(s);
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        p->cold_ns = ns;
        if (++s->at == s->running) {
            s->phase = PERF_LOOP_GROW_;
            perf_duel_shuffle_(s);
        }
        break;
    case PERF_LOOP_GROW_:                           /* all at the same batch                      */
        if (!p->readings || ns < p->fastest)
            p->fastest = ns;
        p->readings++;
        if (++s->at == s->running) {
            if (!perf_duel_grow_(s, late))
                return perf_duel_stop_(s, PERF_EDELETED);
            perf_duel_shuffle_(s);
            if (s->phase == PERF_LOOP_GROW_ONE_)
                perf_duel_grow_next_(s, late);
        }
        break;
    case PERF_LOOP_GROW_ONE_:                       /* those that are much faster                 */
        if (!perf_slice_grow_(p, ns, perf_timer_want_(&s->timer, s->opts.slice_ns,
                                                      s->opts.max_seconds)))
            return perf_duel_stop_(s, PERF_EDELETED);
        p->steady |= late;
        perf_duel_grow_next_(s, late);
        break;
    case PERF_LOOP_WARM_:
        if (++s->at == s->running) {
            if (--s->left_to_warm <= 0 || late)
                s->phase = PERF_LOOP_SAMPLE_;
            perf_duel_shuffle_(s);
        }
        break;
    case PERF_LOOP_SAMPLE_:
        s->pending[2 * s->order[s->at]] = ns / PERF_CAST_(double, p->batch);
        s->pending[2 * s->order[s->at] + 1] = s->timer.cpu / PERF_CAST_(double, p->batch);
        if (++s->at < s->running)
            break;
        s->first[s->arm[s->order[0]].count] = s->order[0];
        for (i = 0; i < s->running; i++) {
            p = &s->arm[s->order[i]];
            p->cpu[p->count] = s->pending[2 * s->order[i] + 1];
            p->ns[p->count++] = s->pending[2 * s->order[i]];
        }
        if (s->running > 1)
            perf_duel_bet_(s);
        if (!perf_duel_enough_(s, late))
            perf_duel_shuffle_(s);
        else if (!perf_duel_control_(s))
            return perf_duel_stop_(s, PERF_OK);
        break;
    case PERF_LOOP_CONTROL_:
        if (perf_duel_control_slice_(s, p))
            return perf_duel_stop_(s, PERF_OK);
        break;
    default:                                        /* the clock stepped back: that slice again   */
        break;
    }
    p = &s->arm[s->order[s->at]];
    perf_timer_start_(&s->timer, s->opts.before, s->opts.user, s->order[s->at]);
    return 64 * p->batch + s->order[s->at];
}

/* The verdict on variant i: what the bets decided, with the interval that goes with them. */
PERF_COLD_FN_ perf_verdict perf_duel_verdict_(perf_ab_state_ *s, int i, size_t n)
{
    perf_compare_opts o = s->opts.accept;
    perf_verdict      v;
    perf_seq         *q = &perf_duel_seq_(s)[i];

    if (s->variants > 2 && q->level > 0.0)          /* the interval that goes with Holm's level   */
        o.confidence = 1.0 - 2.0 / q->level;
    o.guard.seen = s->seen.compared ? s->seen : o.guard.seen;
    v = perf_verdict_start_(&o);
    if (!n || v.status != PERF_OK)
        return v;
    if (!s->typical)
        return perf_compare_pairs(perf_duel_times_(s, 0), perf_duel_times_(s, i), n, &o);
    if (s->kept_at != n)
        perf_duel_keep_(s);
    v.pairs = n;
    v.bad = q->bad;
    perf_verdict_finish_(&v, s->kept[i], PERF_CAST_(double, n), &o);
    if (v.decision == PERF_ACCEPT && q->decision != PERF_ACCEPT)
        perf_verdict_cap_(&v, "the interval contains the threshold");
    return v;
}

/* What withholds the verdict on variant i, or explains that there is none. */
PERF_COLD_FN_ void perf_duel_veto_(perf_ab_state_ *s, int i, perf_verdict *v)
{
    if (v->status != PERF_OK || !v->pairs)
        return;
    if (s->running == 2 && perf_duel_order_matters_(s)) {
        v->decision = PERF_INCONCLUSIVE;
        v->reason = "the second of a pair is faster, whichever it is: they share state; set it up "
                    "anew in opts.before";
        v->more = PERF_INF_;
    } else if (s->against[i]) {
        perf_verdict_cap_(v, "the control failed: once the faster one runs ahead the ratio is another: "
                             "they share state; set it up anew in opts.before");
    }
}

PERF_COLD_FN_ void perf_duel_empty_(perf_verdict *v, uint32_t baseline, uint32_t candidate)
{
    if (candidate & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(v, "the candidate takes little longer than an empty loop: was it deleted? "
                             "perf_keep() its result");
    else if (baseline & PERF_WARN_EMPTY_BODY)
        perf_verdict_cap_(v, "the baseline takes little longer than an empty loop: was it deleted? "
                             "perf_keep() its result");
}

/* No more slices; returns the number of complete rounds, 0 after a failure. */
PERF_COLD_FN_ size_t perf_duel_settle_(perf_ab_state_ *s, int64_t left)
{
    perf_slice_ *p = &s->arm[s->order[s->at < s->running ? s->at : 0]];

    if (s->phase != PERF_LOOP_DONE_ && s->phase != PERF_LOOP_START_ && left >= 0)
        p->runs += p->batch - PERF_CAST_(uint64_t, left);
    if (s->phase != PERF_LOOP_DONE_)
        s->warnings |= PERF_WARN_STOPPED;
    if (s->timer.backwards)
        s->warnings |= PERF_WARN_CLOCK;
    return s->status != PERF_OK ? 0 : s->arm[s->order[0]].count;
}

#define PERF_FORCED_ "PERF_VARIANT forced one variant: nothing to compare it with"

/* Why there is no number at all. */
PERF_COLD_FN_ const char *perf_duel_failure_(const perf_ab_state_ *s, perf_status status)
{
    if (s->status != PERF_EDELETED)
        return perf_status_text(status);
    if (s->loop.kind == 3)
        return "the compiler deleted a body: perf_keep() its result";
    return s->order[s->at < s->running ? s->at : 0]
               ? "the compiler deleted the candidate's body: perf_keep() its result"
               : "the compiler deleted the baseline's body: perf_keep() its result";
}

PERF_OUTLINE_FN_ perf_ab_result perf_ab_close_(perf_ab_state_ *s, int64_t left)
{
    perf_ab_result r = PERF_ZERO;
    perf_summary  *to[2];
    uint32_t       seen[2] = {0, 0};
    size_t         n;
    int            i;

    r.why = "nothing was measured";
    if (!PERF_LOOP_IS_ONE_(s) || PERF_ACQ_(&s->loop.done)) {
        r.status = r.verdict.status = s && !PERF_LOOP_IS_ONE_(s) ? PERF_ENOMEM : PERF_ESTATE;
        r.verdict.reason = perf_status_text(r.status);
        return r;
    }
    n = perf_duel_settle_(s, left);
    r.cold_baseline_ns = s->arm[0].cold_ns;
    r.cold_candidate_ns = s->arm[1].cold_ns;
    r.overhead_ns = s->timer.overhead_ns;
    r.batch_baseline = s->arm[0].batch;
    r.batch_candidate = s->arm[1].batch;
    r.seconds = perf_timer_since_(s->timer.began, perf_now()) * 1e-9;
    r.opts = s->opts;
    r.status = s->status;
    r.warnings = s->warnings;
    r.decides = perf_timer_decides_(&s->timer, &r.why);
    r.control_ratio = s->control_ratio[1];
    r.control_rounds = s->control_rounds;
    r.forced = s->forced >= 0;
    r.verdict = perf_duel_verdict_(s, 1, r.forced ? 0 : n);
    if (n) {
        to[0] = &r.baseline;
        to[1] = &r.candidate;
        for (i = 0; i < 2; i++) {
            if (!s->arm[i].count)
                continue;
            *to[i] = perf_summarize(s->arm[i].ns, n);
            if (s->timer.use_cpu)
                *(i ? &r.candidate_cpu : &r.baseline_cpu) = perf_summarize(s->arm[i].cpu, n);
            seen[i] = perf_slice_warnings_(s->arm[i].ns, n, to[i], s->timer.overhead_ns);
        }
        r.warnings |= ((seen[0] | seen[1]) & ~PERF_CAST_(uint32_t, PERF_WARN_DRIFT)) |
                      r.verdict.warnings;          /* pairs do not mind a drift                  */
        perf_duel_veto_(s, 1, &r.verdict);
        r.control_failed = s->against[1];
        perf_duel_empty_(&r.verdict, seen[0], seen[1]);
        if (r.forced)
            r.verdict.reason = PERF_FORCED_;
    } else {
        if (s->status == PERF_OK)
            r.status = PERF_ENODATA;
        r.verdict.status = r.status;
        r.verdict.reason = perf_duel_failure_(s, r.status);
    }
    s->phase = PERF_LOOP_DONE_;
    s->result = r;
    PERF_REL_(&s->loop.done, 1);
    return r;
}

/* Names the best variant and those that cannot be told from it: a bet on "slower than the best" is
 * lost for them, at a level that covers any pair of variants being looked at.                    */
PERF_COLD_FN_ void perf_race_rank_(perf_ab_state_ *s, perf_race_result *r)
{
    double  pairs = 0.5 * s->variants * (s->variants - 1), spread, tick;
    double  level = 2.0 * pairs / (1.0 - s->opts.accept.confidence);
    double *d = PERF_CAST_(double *, PERF_MALLOC((s->arm[0].count + 1) * sizeof *d));
    size_t  k, i;
    int     j;

    for (j = 0; j < s->variants; j++)
        if (s->entry[j].time.count &&
            (r->best < 0 || s->entry[j].time.p50 < s->entry[r->best].time.p50))
            r->best = j;
    for (j = 0; d && r->best >= 0 && j < s->variants; j++) {
        if (!s->entry[j].time.count)
            continue;                               /* another one was forced                     */
        k = perf_duel_logs_(s, r->best, j, -1, d);
        tick = perf_race_tick_(s, j, r->best);
        for (i = 0; i < k; i++)
            d[i] -= tick + 1e-12;
        s->entry[j].within_noise = j == r->best || !perf_seq_excludes_(d, k, 0.0, 1.0, level);
        s->entry[j].behind = j == r->best ? 1.0 : perf_exp(perf_duel_centre_(d, k, &spread) + tick);
    }
    PERF_FREE(d);
}

PERF_OUTLINE_FN_ perf_race_result perf_race_close_(perf_ab_state_ *s, int64_t left)
{
    perf_race_result r = PERF_ZERO;
    perf_race_entry *e;
    uint32_t         seen = 0, base = 0;
    perf_out_        o;
    size_t           n;
    int              i;

    r.best = -1;
    r.why = "nothing was measured";
    if (!PERF_LOOP_IS_ONE_(s) || PERF_ACQ_(&s->loop.done)) {
        r.status = s && !PERF_LOOP_IS_ONE_(s) ? PERF_ENOMEM : PERF_ESTATE;
        return r;
    }
    n = perf_duel_settle_(s, left);
    r.overhead_ns = s->timer.overhead_ns;
    r.seconds = perf_timer_since_(s->timer.began, perf_now()) * 1e-9;
    r.opts = s->opts;
    r.status = s->status == PERF_OK && !n ? PERF_ENODATA : s->status;
    r.decides = perf_timer_decides_(&s->timer, &r.why);
    r.control_rounds = s->control_rounds;
    r.forced = s->forced >= 0;
    r.rounds = n;
    r.warnings = s->warnings;
    if (s->status != PERF_EINVAL) {
        r.entry = s->entry;
        r.count = s->variants;
    }
    for (i = 0; i < r.count; i++) {
        e = &s->entry[i];
        if (!e->name[0]) {
            o.p = e->name;
            o.cap = sizeof e->name;
            o.len = 0;
            perf_put_u64_(&o, PERF_CAST_(uint64_t, i));
        }
        e->cold_ns = s->arm[i].cold_ns;
        e->batch = s->arm[i].batch;
        e->control_ratio = s->control_ratio[i];
        e->verdict = perf_duel_verdict_(s, i ? i : 1, i && !r.forced ? n : 0);
        if (!n) {
            e->verdict.status = r.status;
            e->verdict.reason = perf_duel_failure_(s, r.status);
            continue;
        }
        if (r.forced)
            e->verdict.reason = PERF_FORCED_;
        else if (!i)
            e->verdict.reason = "this is the baseline";
        if (!s->arm[i].count)
            continue;
        e->time = perf_summarize(perf_duel_times_(s, i), n);
        seen = perf_slice_warnings_(s->arm[i].ns, n, &e->time, s->timer.overhead_ns);
        base = i ? base : seen;
        r.warnings |= seen & ~PERF_CAST_(uint32_t, PERF_WARN_DRIFT);
        perf_duel_veto_(s, i, &e->verdict);
        perf_duel_empty_(&e->verdict, base, seen);
    }
    if (n)
        perf_race_rank_(s, &r);
    s->phase = PERF_LOOP_DONE_;
    s->race = r;
    PERF_REL_(&s->loop.done, 1);
    return r;
}

#if PERF_DISABLE
PERF_FN perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts)
{
    perf_ab ab = {2, 1, PERF_NULL_, 0};         /* the baseline runs once, unmeasured             */
    (void)name;
    (void)opts;
    return ab;
}

PERF_FN int perf_ab_next(perf_ab *ab)
{
    return --ab->left ? 0 : -1;
}

PERF_FN perf_ab_result perf_ab_end(perf_ab *ab)
{
    perf_ab_result r = PERF_ZERO;
    (void)ab;
    r.status = PERF_EDISABLED;
    r.why = perf_status_text(PERF_EDISABLED);
    r.verdict.status = PERF_EDISABLED;
    r.verdict.reason = perf_status_text(PERF_EDISABLED);
    return r;
}

PERF_FN void perf_ab_pause(perf_ab *ab)
{
    (void)ab;
}

PERF_FN void perf_ab_resume(perf_ab *ab)
{
    (void)ab;
}

PERF_FN void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen)
{
    (void)ab;
    (void)seen;
}

PERF_FN perf_race perf_race_begin(const char *name, int variants, const perf_ab_opts *opts)
{
    perf_race r;

    (void)variants;
    r.duel = perf_ab_begin(name, opts);
    return r;
}

PERF_FN perf_race_result perf_race_end(perf_race *race)
{
    perf_race_result r = PERF_ZERO;
    (void)race;
    r.best = -1;
    r.status = PERF_EDISABLED;
    r.why = perf_status_text(PERF_EDISABLED);
    return r;
}

PERF_FN void perf_race_name(perf_race *r, int variant, const char *name)
{
    (void)r;
    (void)variant;
    (void)name;
}
#else
PERF_INLINE_FN_ perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts)
{
    perf_ab ab;

    ab.left = 0;
    ab.first = -1;
    ab.state = perf_duel_open_(name, 2, opts, 2, PERF_OPTIMISED_);
    ab.variant = -1;
    return ab;
}

PERF_INLINE_FN_ int perf_ab_next(perf_ab *ab)
{
    uint64_t n;

    if (PERF_LIKELY_(PERF_LOOP_GOES_ON_(ab->left))) {
        PERF_LOOP_KNOWN_(ab->variant >= 0);     /* so that the caller's `>= 0` costs no branch    */
        return ab->variant;
    }
    n = perf_duel_slice_(ab->state);
    ab->left = ab->first = PERF_CAST_(int64_t, n >> 6) - (n != 0);
    ab->variant = n ? PERF_CAST_(int, n & 63) : -1;
    return ab->variant;
}

PERF_INLINE_FN_ perf_ab_result perf_ab_end(perf_ab *ab)
{
    perf_ab was = PERF_ZERO;

    if (ab) {
        was = *ab;
        memset(ab, 0, sizeof *ab);
        ab->first = ab->variant = -1;
    }
    return perf_ab_close_(was.state, was.left);
}

PERF_INLINE_FN_ void perf_ab_pause(perf_ab *ab)
{
    perf_clobber();
    if (ab && PERF_LOOP_IS_ONE_(ab->state))
        perf_timer_pause_(&ab->state->timer);
}

PERF_INLINE_FN_ void perf_ab_resume(perf_ab *ab)
{
    if (ab && PERF_LOOP_IS_ONE_(ab->state))
        perf_timer_resume_(&ab->state->timer);
    perf_clobber();
}

PERF_FN void perf_worse_(double *worst, double seen)
{
    if (!(seen <= *worst))                          /* NaN is the worst, and stays                */
        *worst = perf_is_nan_(*worst) ? *worst : seen;
}

PERF_OUTLINE_FN_ void perf_duel_accuracy_(perf_ab_state_ *s, perf_accuracy seen)
{
    if (!seen.compared)
        return;
    perf_worse_(&s->seen.max_abs, seen.max_abs);
    perf_worse_(&s->seen.max_rel, seen.max_rel);
    perf_worse_(&s->seen.max_ulp, seen.max_ulp);
    s->seen.compared += seen.compared;
}

PERF_INLINE_FN_ void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen)
{
    if (ab && PERF_LOOP_IS_ONE_(ab->state))
        perf_duel_accuracy_(ab->state, seen);
}

PERF_INLINE_FN_ perf_race perf_race_begin(const char *name, int variants, const perf_ab_opts *opts)
{
    perf_race r;

    r.duel.left = 0;
    r.duel.first = -1;
    r.duel.state = perf_duel_open_(name, variants, opts, 3, PERF_OPTIMISED_);
    r.duel.variant = -1;
    return r;
}

PERF_INLINE_FN_ perf_race_result perf_race_end(perf_race *r)
{
    perf_ab was = PERF_ZERO;

    if (r) {
        was = r->duel;
        memset(r, 0, sizeof *r);
        r->duel.first = r->duel.variant = -1;
    }
    return perf_race_close_(was.state, was.left);
}

PERF_OUTLINE_FN_ void perf_duel_name_(perf_ab_state_ *s, int variant, const char *name)
{
    size_t i;

    if (!PERF_LOOP_IS_ONE_(s) || variant < 0 || variant >= s->variants || !name)
        return;
    for (i = 0; name[i] && i + 1 < sizeof s->entry[0].name; i++)
        s->entry[variant].name[i] = name[i];
    s->entry[variant].name[i] = '\0';
}

PERF_FN void perf_race_name(perf_race *r, int variant, const char *name)
{
    if (r)
        perf_duel_name_(r->duel.state, variant, name);
}
#endif

PERF_INLINE_FN_ int perf_ab_slice_begins(const perf_ab *ab)
{
    return ab && ab->left == ab->first;
}

PERF_INLINE_FN_ int perf_race_next(perf_race *r)
{
    return perf_ab_next(&r->duel);
}

PERF_INLINE_FN_ void perf_race_pause(perf_race *r)
{
    perf_ab_pause(r ? &r->duel : PERF_CAST_(perf_ab *, PERF_NULL_));
}

PERF_INLINE_FN_ void perf_race_resume(perf_race *r)
{
    perf_ab_resume(r ? &r->duel : PERF_CAST_(perf_ab *, PERF_NULL_));
}

PERF_INLINE_FN_ int perf_race_slice_begins(const perf_race *r)
{
    return r && perf_ab_slice_begins(&r->duel);
}

/* Both arms and the verdict, for perf_report. */
PERF_COLD_FN_ void perf_put_ab_(perf_out_ *o, const perf_loop_ *l)
{
    perf_ab_result r = PERF_PTR_(const perf_ab_state_ *, l)->result;
    int            cpu = r.decides == PERF_DECIDES_CPU;

    if (r.baseline.count)
        perf_put_loop_row_(o, l->name, ", baseline", cpu ? &r.baseline_cpu : &r.baseline,
                           r.cold_baseline_ns);
    if (r.candidate.count)
        perf_put_loop_row_(o, l->name, ", candidate", cpu ? &r.candidate_cpu : &r.candidate,
                           r.cold_candidate_ns);
    perf_put_(o, "  ");
    (void)perf_put_cut_(o, l->name, sizeof l->name);
    perf_put_(o, ": ");
    perf_put_(o, perf_verdict_text(&r.verdict));
    perf_put_(o, "\n");
    if (r.control_failed) {
        perf_put_(o, "    control: candidate / baseline is ");
        perf_put_fixed_(o, r.control_ratio, 4);
        perf_put_(o, " after one of them had a lead\n");
    }
    if (r.baseline_cpu.count) {
        perf_put_(o, cpu ? "    cpu time decides: " : "    wall time decides: ");
        perf_put_(o, r.why);
        perf_put_(o, "\n");
    }
    perf_put_warnings_(o, r.warnings);
}

/* A row for each variant, with what it lags behind and its verdict. */
PERF_COLD_FN_ void perf_put_race_(perf_out_ *o, const perf_loop_ *l)
{
    const perf_race_result *r = &PERF_PTR_(const perf_ab_state_ *, l)->race;
    perf_verdict            v;
    char                    arm[40];
    int                     i;

    for (i = 0; i < r->count; i++) {
        arm[0] = ',';
        arm[1] = ' ';
        memcpy(arm + 2, r->entry[i].name, sizeof r->entry[i].name);
        if (r->entry[i].time.count)
            perf_put_loop_row_(o, l->name, arm, &r->entry[i].time, r->entry[i].cold_ns);
    }
    for (i = 0; i < r->count; i++) {
        perf_put_(o, "  ");
        (void)perf_put_cut_(o, l->name, sizeof l->name);
        perf_put_(o, ", ");
        (void)perf_put_cut_(o, r->entry[i].name, sizeof r->entry[i].name);
        perf_put_(o, r->forced ? ": " : i == r->best ? ": the best; "
                     : r->entry[i].within_noise ? ": within noise of the best; " : ": ");
        if (r->best >= 0 && !r->entry[i].within_noise && r->entry[i].behind > 0.0) {
            perf_put_fixed_(o, r->entry[i].behind, 3);
            perf_put_(o, "x the best; ");
        }
        v = r->entry[i].verdict;
        perf_put_(o, i || r->status != PERF_OK || r->forced ? perf_verdict_text(&v) : "the baseline");
        perf_put_(o, "\n");
    }
    if (!r->count) {
        perf_put_(o, "  ");
        perf_put_name_(o, l->name, 30);
        perf_put_(o, "   not measured: ");
        perf_put_(o, perf_status_text(r->status));
        perf_put_(o, "\n");
    }
    perf_put_warnings_(o, r->warnings);
}

/* ---- variant ---- */

/* A letter, a number below 64, baseline or candidate, in either case; -1: none of these. */
PERF_COLD_FN_ int perf_variant_number_(const char *p, size_t n)
{
    static const char word[2][10] = {"baseline", "candidate"};
    size_t i;
    int    k, v = 0;

    for (k = 0; k < 2; k++) {
        for (i = 0; i < n && word[k][i] && (p[i] | 32) == word[k][i]; i++)
            ;
        if (i == n && !word[k][i])
            return k;
    }
    if (n == 1 && (p[0] | 32) >= 'a' && (p[0] | 32) <= 'z')
        return (p[0] | 32) - 'a';
    for (i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9' || i == 2)
            return -1;
        v = 10 * v + (p[i] - '0');
    }
    return n && v < PERF_RACE_MOST_ ? v : -1;
}

/* A rollback that was mistyped must not pass in silence: a note of every report. */
PERF_COLD_FN_ void perf_variant_bad_(perf_status why)
{
    perf_registry_ *r = perf_registry_get_();

    if (r) {
        PERF_SET_(&r->bad_variant, 1u);
        perf_fail_(r, why);
    }
}

PERF_FN int perf_variant(const char *name, int otherwise)
{
    const char *p = perf_getenv_("PERF_VARIANT"), *end, *equals, *to;
    size_t      n = name ? strlen(name) : 0;
    int         v, is, bad = p && n && *p && !strchr(p, '=');

    for (; p && n && *p; p = *end ? end + 1 : end) {
        while (*p == ' ' && *name != ' ')
            p++;
        is = !strncmp(p, name, n);                  /* a name may have commas of its own          */
        equals = PERF_CAST_(const char *, PERF_NULL_);
        for (end = is && p[n] == '=' ? p + n : p; *end && *end != ','; end++)
            if (*end == '=')
                equals = end;                       /* the last one: names may have some          */
        for (to = equals ? equals : end; to > p + n && to[-1] == ' '; to--)
            ;
        if (!is || to != p + n)
            continue;
        for (p = equals ? equals + 1 : end; *p == ' '; p++)
            ;
        for (to = end; to > p && to[-1] == ' '; to--)
            ;
        v = !equals ? -1 : perf_variant_number_(p, PERF_CAST_(size_t, to - p));
        if (v >= 0)
            return v;
        bad = 1;
        break;
    }
    if (bad)
        perf_variant_bad_(PERF_EFORMAT);
    return otherwise;
}

/* ---- schedule ---- */

PERF_FN perf_schedule_opts perf_schedule_opts_default(void)
{
    perf_schedule_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_schedule_opts perf_schedule_opts_resolved(const perf_schedule_opts *opts)
{
    perf_schedule_opts o = opts ? *opts : perf_schedule_opts_default();

    o.skip = o.skip < 0 ? 0 : o.skip;
    o.wait = o.wait < 0 ? 0 : o.wait ? o.wait : 1;
    o.warmup = o.warmup < 0 ? 0 : o.warmup ? o.warmup : 1;
    o.active = o.active > 0 ? o.active : 3;
    o.repeat = o.repeat < 0 ? 0 : o.repeat;
    return o;
}

#if PERF_DISABLE
PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts)
{
    perf_schedule s = PERF_ZERO;
    (void)opts;
    s.phase = PERF_PHASE_DONE;
    return s;
}

PERF_FN perf_phase perf_schedule_step(perf_schedule *s)
{
    (void)s;
    return PERF_PHASE_DONE;
}

PERF_FN perf_status perf_schedule_end(perf_schedule *s)
{
    (void)s;
    return PERF_EDISABLED;
}
#else
PERF_FN perf_schedule perf_schedule_begin(const perf_schedule_opts *opts)
{
    perf_registry_ *r = perf_registry_get_();
    perf_schedule   s = PERF_ZERO;

    s.opts = perf_schedule_opts_resolved(opts);
    s.open = 1;
    s.was_on = r && !PERF_GET_(&r->off);
    perf_enable(0);
    return s;
}

PERF_FN perf_phase perf_schedule_phase_(const perf_schedule *s, uint64_t *cycle)
{
    const perf_schedule_opts *o = &s->opts;
    uint64_t step = s->step - 1, skip = PERF_CAST_(uint64_t, o->skip), quiet, warm, all;

    quiet = PERF_CAST_(uint64_t, o->wait);
    warm = quiet + PERF_CAST_(uint64_t, o->warmup);
    all = warm + PERF_CAST_(uint64_t, o->active);
    *cycle = 0;
    if (step < skip)
        return PERF_PHASE_WAIT;
    step -= skip;
    *cycle = step / all + 1;
    if (o->repeat && *cycle > PERF_CAST_(uint64_t, o->repeat)) {
        *cycle = PERF_CAST_(uint64_t, o->repeat);
        return PERF_PHASE_DONE;
    }
    step %= all;
    return step < quiet ? PERF_PHASE_WAIT : step < warm ? PERF_PHASE_WARMUP : PERF_PHASE_ACTIVE;
}

PERF_FN perf_phase perf_schedule_step(perf_schedule *s)
{
    perf_phase was;

    if (!s || !s->open)
        return PERF_PHASE_DONE;
    was = s->phase;
    s->step++;
    s->phase = perf_schedule_phase_(s, &s->cycle);
    if (s->phase == PERF_PHASE_ACTIVE)
        s->recorded++;
    if ((s->phase == PERF_PHASE_ACTIVE) != (was == PERF_PHASE_ACTIVE))
        perf_enable(s->phase == PERF_PHASE_ACTIVE);
    return s->phase;
}

PERF_FN perf_status perf_schedule_end(perf_schedule *s)
{
    if (!s || !s->open)
        return PERF_ESTATE;
    perf_enable(s->was_on);
    s->open = 0;
    s->phase = PERF_PHASE_DONE;
    return s->recorded ? PERF_OK : PERF_ENODATA;
}
#endif

/* ---- at exit ---- */

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__destructor__, __used__)) static void perf_at_exit_(void)
{
    const char      *report = perf_getenv_("PERF_REPORT"), *trace = perf_getenv_("PERF_TRACE");
    perf_report_opts o = PERF_ZERO;

    if (report && *report && strcmp(report, "0")) {
        o.view = !strcmp(report, "tree")   ? PERF_VIEW_TREE
                 : !strcmp(report, "csv")  ? PERF_VIEW_CSV
                 : !strcmp(report, "json") ? PERF_VIEW_JSON
                                           : PERF_VIEW_TABLE;
        (void)perf_report_to(stderr, &o);
    }
    if (trace && *trace && perf_trace_save(trace) != PERF_OK)
        (void)fprintf(stderr, "perf.h: cannot write %s\n", trace);
}
#endif

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

#if PERF_DISABLE
#define perf_memory_mark(p)   PERF_OFF_CODE_((perf_memory_mark)(p))
#define perf_report()         PERF_OFF_CODE_((perf_report)())
#define perf_report_to(...)   PERF_OFF_CODE_((perf_report_to)(__VA_ARGS__))
#define perf_trace_save(path) PERF_OFF_CODE_((perf_trace_save)(path))
#define perf_tally_of(n, p, out) PERF_OFF_CODE_((perf_tally_of)(n, p, out))
#endif

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

#ifdef __cplusplus
namespace perf {

#if defined(__clang__)
template <class Type_, bool Function_ = __is_function(Type_)> struct kept_ {
    static const size_t size = sizeof(Type_);
};
template <class Type_> struct kept_<Type_, true> {
    static const size_t size = sizeof(void *);
};
#endif

/* How perf_keep holds on to a value: scalars in a register, objects where they lie. */
template <bool Object_> struct keep_ {
    template <class Type_> static void at(const Type_ &x)
    {
        PERF_KEEP_(x);
    }
};
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
template <> struct keep_<true> {
    template <class Type_> static void at(const Type_ &x)
    {
        __asm__ __volatile__("" : : "m"(x));
    }
};
#endif

} /* namespace perf */

template <class Type_> inline void perf_keep(const Type_ &x)
{
    ::perf::keep_<__is_class(Type_) || __is_union(Type_)>::at(x);
}
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
template <class Type_, size_t Count_> inline void perf_keep(const Type_ (&x)[Count_])
{
    __asm__ __volatile__("" : : "m"(x));
}
template <class Type_> inline void perf_keep(Type_ *const &p) /* what it points to counts as read */
{
    __asm__ __volatile__("" : : "r"(p),
                         "m"(*reinterpret_cast<char (*)[]>(reinterpret_cast<uintptr_t>(p))));
}
#endif
#endif

#if PERF_NVTX || PERF_ROCTX
#include "perf_nvtx.h"
#endif
#ifdef PERF_MAIN                /* 1: this file gets a main() that runs the benchmarks           */
#include "perf_main.h"
#endif

/* MIT License
 *
 * Copyright (c) 2026 The perf.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */

/* In a CUDA or HIP compilation the GPU's part comes along; PERF_NO_GPU=1 leaves it out. */
#if (defined(__CUDACC__) || defined(__HIPCC__)) && !PERF_NO_GPU
#include "perf_cuda.h"
#endif
#endif /* PERF_SCOPES_ONLY_ */
#endif /* PERF_H */
