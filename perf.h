/* perf.h 0.1.0 - measure C, C++, CUDA host code and Cython by adding one #include.
 *
 *     #include "perf.h"
 *     int main(void)
 *     {
 *         PERF_SCOPE("decode");                // time from here to the end of this block
 *         return 0;
 *     }
 *
 * Compile with -DPERF_DISABLE=1 and it costs nothing.  No library, no set-up call.
 * Sections (search for ">>"):  config  platform  clock  scopes  report  trace  bench  ab
 *                              private  c++
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_H
#define PERF_H

#include "perf_stats.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf.h: found another or an older perf_stats.h; keep both files of one release together"
#endif

#include <stdio.h>

/* >>config ------------------------------------------------------------------------------------
 * Beside those of perf_stats.h.  The sizes are read by the first scope of the program.           */

#define PERF_CLOCK_AUTO      0
#define PERF_CLOCK_MONOTONIC 1
#define PERF_CLOCK_TSC       2
#ifndef PERF_CLOCK              /* AUTO: the cpu counter when it is trustworthy, else MONOTONIC    */
#define PERF_CLOCK PERF_CLOCK_AUTO  /* MONOTONIC: clock_gettime   TSC: the counter, trusted or not */
#endif
/*      PERF_CLOCK_FN              a uint64_t f(void) of yours in ns; set it in every file or none */
#ifndef PERF_TRACE_EVENTS       /* trace ring of each thread, 16 bytes an event; 0 = no trace      */
#define PERF_TRACE_EVENTS 65536
#endif

/* >>platform ----------------------------------------------------------------------------------
 * The one place that knows compilers and systems.  System calls are declared under names of our
 * own on the libc symbols: strict C99 hides them, and asking for a feature macro comes too late.  */

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
#define PERF_SYS_GETTID_ 0L     /* a thread is then known by the address of its own variable       */
#endif

#if PERF_MSVC_
#define PERF_WEAK_   __declspec(selectany)
#define PERF_THREAD_ __declspec(thread)
#elif PERF_TCC_
#define PERF_WEAK_              /* a common symbol: tcc has no working weak data (measured)        */
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
#define PERF_INLINE_FN_  static __forceinline
#else
#define PERF_OUTLINE_FN_ static inline PERF_ATTR_((__noinline__, __nothrow__))
#define PERF_COLD_FN_    static inline PERF_ATTR_((__noinline__, __cold__, __nothrow__))
#define PERF_INLINE_FN_  static inline PERF_ATTR_((__always_inline__))
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
#if defined(__linux__)
extern long perf_syscall_(long, ...) __asm__(PERF_SYM_("syscall"));
#endif
#else
PERF_END_DECLS
#include <time.h>               /* 32-bit time_t comes in two sizes: only the system knows         */
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

PERF_BEGIN_DECLS

/* >>clock -------------------------------------------------------------------------------------
 * Two clocks: a counter of the processor, as cheap as time gets, and the monotonic nanoseconds of
 * the system.  The first is calibrated against the second whenever somebody asks, without a wait:
 * one bracketed pair of readings at first use, another one now, and the error follows from both.  */

#define PERF_CLOCK_LIST_(X)                                                                        \
    X(PERF_CLOCK_NOT_INVARIANT, 1u, "the cpu counter changes speed: clock_gettime used instead")   \
    X(PERF_CLOCK_UNTRUSTED, 2u, "the kernel does not trust the cpu counter on this machine")       \
    X(PERF_CLOCK_BACKWARDS, 4u, "the clock was seen going backwards")                              \
    X(PERF_CLOCK_ROUGH, 8u, "calibrated for too short: rate known to worse than 0.1 %")            \
    X(PERF_CLOCK_MIXED, 16u, "files of this program disagree about PERF_CLOCK")

#define PERF_CLOCK_ENUM_(name, bit, text) name = bit,
typedef enum perf_clock_warning { PERF_CLOCK_LIST_(PERF_CLOCK_ENUM_) PERF_CLOCK_FINE = 0 } perf_clock_warning;
#undef PERF_CLOCK_ENUM_

typedef struct perf_clock_info {
    const char *name;           /* "tsc", "cntvct", "rdtime", "clock_gettime", "qpc", "custom"     */
    double      hz;             /* ticks a second                                                  */
    double      tick_ns;        /* nanoseconds a tick                                              */
    double      resolution_ns;  /* smallest step seen between two readings                         */
    double      cost_ns;        /* one reading                                                     */
    double      error_ppm;      /* bound on the error of tick_ns                                   */
    uint32_t    warnings;       /* PERF_CLOCK_... bits                                             */
} perf_clock_info;

/* The bare counter: about 9 ns, may be reordered with the code around it by some 60 ticks.  Its
 * unit is the tick; only differences mean anything.  Never fails.                                */
PERF_FN uint64_t perf_ticks(void);

/* The counter after everything before it has finished: 1.6 times the cost, no reordering. */
PERF_FN uint64_t perf_ticks_precise(void);

/* A difference of two perf_ticks() in nanoseconds.  Recalibrates itself when that pays. */
PERF_FN double perf_ticks_to_ns(uint64_t ticks);

/* Monotonic nanoseconds, the same for every thread and process of the machine (since boot). */
PERF_FN uint64_t perf_now(void);

/* Nanoseconds of processor time this thread has used; 0 where the system does not say. */
PERF_FN uint64_t perf_cpu_now(void);

/* What the scopes are timed with; measures resolution and cost anew (some 20 us). */
PERF_FN perf_clock_info perf_clock(void);

/* English text of one warning bit; never NULL. */
PERF_FN const char *perf_clock_warning_text(uint32_t bit);

/* >>scopes ------------------------------------------------------------------------------------
 *     PERF_SCOPE("decode");          a statement: times from here to the end of the block
 *     PERF_FUNCTION();               the same, named after the function
 *     perf_scope s = perf_scope_begin("decode");  ...  perf_scope_end(&s);
 *
 * Any thread, any depth, recursion, early return, exceptions; a longjmp or a forgotten end leaves
 * its time in the scope around it and is counted.  Scopes of one name are one row in the report.
 * Every call is cheap, never fails, never prints; what went wrong is kept: perf_error().
 * The time of a scope is its own thread's; spans that change threads: perf_async_begin.          */

struct perf_recorder_;

typedef struct perf_site_ {     /* what a scope is called; one static object a call site           */
    const char *name;
    const char *file;
    uint32_t    line;
    uint32_t    id;             /* 0 until the registry has seen it                                */
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
{                               /* every field private                                             */
    uint64_t               start;   /* ticks                                                       */
    uint64_t               nested;  /* the thread's running total of closed scopes at the begin    */
    struct perf_recorder_ *rec;     /* NULL: not recording                                         */
    perf_site_            *site;
    uint32_t               depth;
    uint32_t               weight;  /* calls this one stands for                                   */
};

#if PERF_SCOPE_EMPTY_
typedef struct perf_span_ perf_span_;
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragmas"
#pragma clang diagnostic ignored "-Wc++-compat"
#pragma clang diagnostic ignored "-Wextern-c-compat"
#endif
__extension__ struct perf_scope {
    char none[0];
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif
typedef struct perf_scope perf_scope;

/* Opens a scope called `name`: any string, copied when first seen; NULL reads "(null)".  Names
 * longer than 255 bytes are cut.  Where PERF_SCOPE fits it is cheaper and cannot be forgotten.   */
PERF_FN perf_scope perf_scope_begin(const char *name);

/* Closes it.  NULL, a second end and an end without begin do nothing but are counted. */
PERF_FN void perf_scope_end(perf_scope *scope);

/* First failure since the start or the last perf_reset(); PERF_OK if there was none. */
PERF_FN perf_status perf_error(void);

/* Run-time switch of all recording in this process; on at the start.  Takes a lock. */
PERF_FN void perf_enable(int on);

#if PERF_DISABLE
#define PERF_SCOPE(name) PERF_NOTHING_
#define PERF_FUNCTION()  PERF_NOTHING_
#elif defined(__cplusplus) || (defined(__GNUC__) || PERF_TCC_)
#define PERF_SCOPE(name) PERF_SCOPE_(name, __COUNTER__)
#define PERF_FUNCTION()  PERF_SCOPE_(__func__, __COUNTER__)
#else
#define PERF_SCOPE(name) PERF_SCOPE_needs_GNU_C_or_Cxx__use_perf_scope_begin_and_perf_scope_end
#define PERF_FUNCTION()  PERF_SCOPE(0)
#endif
#define PERF_NOTHING_ PERF_CAST_(void, 0)

/* Two variables: `span` lives in memory, the pointer in a register, so that a scope which is
 * switched off costs one compare (with one variable the end would have to read it back).         */
#define PERF_SCOPE_(name, n)  PERF_SCOPE2_(name, PERF_CAT_(perf_site_, n), PERF_CAT_(perf_span_, n), PERF_CAT_(perf_open_, n))
#define PERF_SCOPE2_(name, site, span, open)                                                      \
    static perf_site_ site = {name, __FILE__, __LINE__, 0};                                       \
    perf_span_        span;                                                                       \
    PERF_OPEN_(open, PERF_ON_() ? perf_begin_(&(span), &(site)) : PERF_NULL_)

/* >>report ------------------------------------------------------------------------------------
 * What has been recorded so far, while threads go on recording.  Allocates; takes no lock that a
 * running scope ever waits for.                                                                   */

typedef enum perf_sort {
    PERF_SORT_SELF,             /* by time spent in the scope itself, largest first                */
    PERF_SORT_TOTAL,
    PERF_SORT_CALLS,
    PERF_SORT_MEAN,
    PERF_SORT_P50,
    PERF_SORT_P95,
    PERF_SORT_P99,
    PERF_SORT_MAX,
    PERF_SORT_NAME              /* by name, a to z                                                 */
} perf_sort;

typedef struct perf_report_opts {   /* zero = default                                              */
    perf_sort sort;             /* 0 -> PERF_SORT_SELF                                             */
    int       rows;             /* 0 -> 50 scopes; negative: all                                   */
} perf_report_opts;

PERF_FN perf_report_opts perf_report_opts_default(void);
PERF_FN perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts);

/* The table on stderr.  PERF_ENODATA when nothing was recorded (it says so). */
PERF_FN perf_status perf_report(void);

/* The same to any stream; opts NULL means defaults. */
PERF_FN perf_status perf_report_to(FILE *file, const perf_report_opts *opts);

/* The same into buf, always terminated when cap > 0.  Returns the length of the full text, as
 * snprintf does: cut off if it is not below cap; buf NULL with cap 0 asks for the length.         */
PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts);

/* >>trace -------------------------------------------------------------------------------------
 * Each thread keeps its last PERF_TRACE_EVENTS scopes.                                            */

/* Writes them as Chrome trace JSON: open it in https://ui.perfetto.dev or chrome://tracing.  The
 * file appears whole or not at all (written beside, then renamed; devices are written directly).
 * PERF_EIO when it cannot be written, PERF_EINVAL for a NULL or empty path.                       */
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
 * One bench belongs to one thread; several threads may each run their own.                       */
typedef struct perf_bench_opts {        /* zero = default                                         */
    int    warmup;                      /* slices thrown away; 0 -> 5, < 0 -> none; >= 3 calls    */
    int    samples;                     /* slices; 0 -> 30 .. 1000, until rel_ci; n > 0 -> n      */
    double rel_ci;                      /* half-width of the median's 95 % interval over the      */
                                        /* median to stop at; 0 -> 0.01                           */
    double max_seconds;                 /* 0 -> 1.0; a slow body still runs twice                 */
    double slice_ns;                    /* 0 -> 50,000; 1,000 .. 1e9                              */
    double bytes, items;                /* per iteration, for GB/s and items/s in the report      */
} perf_bench_opts;

typedef struct perf_result {
    perf_summary    time;               /* ns per iteration; count == 0: not measured, see status */
    double          cold_ns;            /* the first iteration alone; 0 when it never ran         */
    double          overhead_ns;        /* clock cost taken off every slice                       */
    uint64_t        batch;              /* iterations per slice                                   */
    uint64_t        iterations;         /* all iterations, warm-up included                       */
    perf_bench_opts opts;               /* what really ran, defaults filled in                    */
    perf_status     status;
    uint32_t        warnings;           /* PERF_WARN_ bits                                        */
} perf_result;

typedef struct perf_bench {             /* private; lives in registers, so never take it apart    */
    uint64_t                   left;
    struct perf_bench_state_  *state;
} perf_bench;

PERF_FN perf_bench_opts perf_bench_opts_default(void);      /* all zero; for C++11 and Cython      */
PERF_FN perf_bench_opts perf_bench_opts_resolved(const perf_bench_opts *opts);  /* what runs       */

/* Allocates.  name: any text, copied, NULL is "(unnamed)".  opts NULL: defaults.  Never fails
 * visibly: without memory the loop runs zero times and perf_bench_end says PERF_ENOMEM.           */
PERF_FN perf_bench  perf_bench_begin(const char *name, const perf_bench_opts *opts);
PERF_FN int         perf_bench_next(perf_bench *b);         /* hot path: one decrement, one branch */

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_result perf_bench_end(perf_bench *b);

/* perf_keep(x): the compiler must assume that x is read here, so x gets computed.  x is any value
 * or object: an array, and what a pointer points to, count as read too; a struct is taken where it
 * lies, without a copy.  No memory clobber: other variables stay in registers.  (In C a macro, the
 * only one in lower case, because it takes any type; C++ has the templates at the end.)           */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__TINYC__)
#define PERF_KEEP_(x) ((void)(x))               /* tcc deletes nothing                            */
#elif defined(__clang__)                        /* "r,m" or "g" would store every double (14.0);  */
#define PERF_KEEP_(x) __asm__ __volatile__("" : : "X"(x))       /* volatile asm reads memory here */
#elif defined(__GNUC__) && defined(__cplusplus)
#define PERF_KEEP_(x) __asm__ __volatile__("" : : "g,x"(x))
#elif defined(__GNUC__)
#define PERF_KEEP_(x)                                                                             \
    do {                                                                                          \
        if (__builtin_classify_type(x) == 5) {  /* a pointer, or an array                         */ \
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
#define perf_keep(x) PERF_KEEP_(x)
#endif

/* The compiler must assume that all memory is read and written here. */
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
 * ends: then the verdict is INCONCLUSIVE and says how much more it would take.
 * Keep the two from sharing state that one of them warms up for the other: no statistics helps.  */
typedef struct perf_ab_opts {           /* zero = default                                         */
    perf_compare_opts accept;           /* what to accept; default: speed-up >= 1.3x at 95 %      */
    int      min_pairs;                 /* 0 -> 30; never fewer, even when decided                */
    int      max_pairs;                 /* 0 -> 5,000 (typical ratio), 400 (quantiles, mean)      */
    double   max_seconds;               /* 0 -> 2.0; slow bodies still get 3 pairs                */
    double   slice_ns;                  /* 0 -> 50,000; 1,000 .. 1e9                              */
    uint64_t seed;                      /* of the coin; 0 -> from the clock, shown in the result  */
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
} perf_ab_result;

typedef struct perf_ab {                /* private; lives in registers                            */
    uint64_t                left;
    struct perf_ab_state_  *state;
    int                     variant;
} perf_ab;

PERF_FN perf_ab_opts perf_ab_opts_default(void);            /* all zero; for C++11 and Cython      */
PERF_FN perf_ab_opts perf_ab_opts_resolved(const perf_ab_opts *opts);  /* what really runs         */

/* Allocates.  name copied, NULL is "(unnamed)"; opts NULL: defaults. */
PERF_FN perf_ab        perf_ab_begin(const char *name, const perf_ab_opts *opts);

/* 0: run the baseline once; 1: run the candidate once; -1: done.  One decrement, one branch. */
PERF_FN int            perf_ab_next(perf_ab *ab);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_ab_result perf_ab_end(perf_ab *ab);

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"   /* "inline function given attribute noinline"     */
#endif

/* ---- clock ---- */

#if !defined(_WIN32)
#if PERF_LP64_UNIX_
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
#if PERF_CLOCK != PERF_CLOCK_MONOTONIC && !defined(PERF_CLOCK_FN) &&                               \
    (PERF_ARCH_X86_ || ((defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)) &&      \
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
    uint32_t lo, hi;
    __asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return PERF_CAST_(uint64_t, hi) << 32 | lo;
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
    uint32_t lo, hi;
    __asm__ __volatile__("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return PERF_CAST_(uint64_t, hi) << 32 | lo;
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
 * the same place, so what differs between two narrow brackets is the step of the counter.         */
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
    uint32_t state;             /* 0 none, 1 somebody is at it, 2 ready                            */
    uint32_t warnings;
    uint64_t ticks, ns, width;
    uint64_t length;            /* ticks between the two pairs behind `tick_ns`; 0: no rate yet    */
    uint64_t tick_ns;           /* bits of a double                                                */
    uint64_t error_ppm;         /* bits of a double                                                */
} perf_calibration_;

struct perf_registry_;

/* The one object every file of an image shares; zero until the first use. */
typedef struct perf_anchor_ {
    uint32_t               size;
    uint32_t               off;         /* 1: scopes of this image do nothing                      */
    struct perf_registry_ *registry;
    perf_calibration_      clock;
    uint64_t               spare[4];
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
        memset(&mine, 0, sizeof mine);
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
PERF_FN void perf_cpuid_(uint32_t leaf, uint32_t *eax, uint32_t *edx)
{
    uint32_t a = leaf, d, c = 0;
#if defined(__x86_64__)
    uint32_t b;
    __asm__ __volatile__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    (void)b;
#else
    __asm__ __volatile__("pushl %%ebx\n\tcpuid\n\tpopl %%ebx" : "+a"(a), "+c"(c), "=d"(d));
#endif
    *eax = a;
    *edx = d;
}

/* 8 us in a virtual machine, where cpuid leaves it: asked once, when the registry is made. */
PERF_COLD_FN_ int perf_counter_invariant_(void)
{
    uint32_t eax, edx;

    perf_cpuid_(UINT32_C(0x80000000), &eax, &edx);
    if (eax < UINT32_C(0x80000007))
        return 0;
    perf_cpuid_(UINT32_C(0x80000007), &eax, &edx);
    return (edx >> 8 & 1) != 0;
}
#else
PERF_FN int perf_counter_invariant_(void)
{
    return 1;                                   /* by definition of the other counters            */
}
#endif

#define PERF_CLOCK_TEXT_(name, bit, text)                                                          \
    if (warning & bit)                                                                             \
        return text;
PERF_FN const char *perf_clock_warning_text(uint32_t warning)
{
    PERF_CLOCK_LIST_(PERF_CLOCK_TEXT_)
    return "no warning";
}
#undef PERF_CLOCK_TEXT_

/* ---- registry and scopes ---- */

/* What one thread knows about one name.  Only the owner writes.  `low` and `span` bound the
 * durations seen below 2^32 ticks; anything outside, and every longer one, takes the cold path,
 * so one unsigned compare proves the bucket valid and keeps both extremes exact.                  */
#define PERF_CELL_BITS_    5                    /* 32 buckets an octave: 1.6 % wide at most        */
#define PERF_CELL_OCTAVES_ 44
#define PERF_CELL_BUCKETS_ (PERF_CELL_OCTAVES_ << PERF_CELL_BITS_)
#define PERF_CELL_BIAS_    (1023u << PERF_CELL_BITS_)
#define PERF_NO_LOW_       (UINT64_C(1) << 63)  /* with span 0 no duration passes the compare      */

typedef struct perf_cell_ {
    uint64_t count;
    uint64_t total;
    uint64_t self;
    uint64_t low, span;
    uint64_t min, max;
    uint64_t zero, over;        /* durations of 0 ticks and of more than the last bucket           */
    uint64_t bucket[PERF_CELL_BUCKETS_];
} perf_cell_;

typedef struct perf_event_ {
    uint64_t start;             /* ticks                                                           */
    uint64_t what;              /* duration : 32, depth : 8, name id : 24                          */
} perf_event_;
#define PERF_EV_DEPTH_ 247u     /* deeper ones are written as this deep                            */
#define PERF_EV_LONG_  255u     /* in place of the depth: `start` is the duration of the next one  */

/* One thread.  The first fields are the hot path's and sit in one or two cache lines.  After a
 * fork the child finds all of it zero (MADV_WIPEONFORK), and `ready` 0 sends it to the cold path. */
typedef struct perf_recorder_ {
    uint32_t     ready;         /* 1: scopes may begin here, timed by the counter                  */
    uint32_t     depth;
    uint64_t     closed;        /* running total of closed scopes, for self time                   */
    perf_cell_ **cell;          /* by name id; [0] and unseen ones point to `blank`                */
    uint32_t     cells;         /* 0: go to the cold path                                          */
    uint32_t     room;          /* entries of `cell` when `cells` is 0                             */
    uint64_t     late;          /* the previous duration: its bucket is counted one scope later,   */
    perf_cell_  *late_cell;     /* when the processor has it at hand (1.00 instead of 1.31 pairs)  */
    perf_event_ *ring;
    uint64_t     ring_mask;     /* 0: no trace                                                     */
    uint64_t     ring_head;     /* events written so far                                           */
    /* cold */
    uint32_t     request;       /* PERF_ASK_ bits set by other threads                             */
    uint64_t     birth;         /* ticks; scopes begun before belong to a parent process           */
    uint64_t     thread;        /* id of the owner                                                 */
    uint64_t     number;        /* 1, 2, ... in order of appearance                                */
    uint64_t     abandoned;     /* scopes never ended (longjmp, forgotten)                         */
    uint64_t     disordered;    /* ended after a scope around them                                 */
    uint64_t     foreign;       /* ended by another thread                                         */
    uint64_t     orphans;       /* begun before a fork                                             */
    uint64_t     lost;          /* no memory for them                                              */
    uint64_t     misused;       /* ended twice or without a begin                                  */
    uint64_t     ring_lost;     /* events overwritten before the last reset                        */
    struct perf_recorder_ *next, *next_same;    /* all; of one hash of thread id                   */
    struct perf_registry_ *home;
    char        *pool, *pool_end;               /* room for cells                                  */
    perf_cell_   blank;                         /* low = max, span = 0: nothing passes             */
} perf_recorder_;
#define PERF_ASK_RESET_ 1u

typedef struct perf_name_ {     /* one name, for ever; `site` is what dynamic scopes point to      */
    perf_site_         site;
    struct perf_name_ *next_same;
    uint32_t           hash;
    uint32_t           length;  /* the text follows the struct                                     */
} perf_name_;

#define PERF_NAME_MAX_ 255
#define PERF_NAMES_MAX_ (1u << 22)

/* One in the process, on the heap, never freed: it outlives the shared objects that use it. */
typedef struct perf_registry_ {
    uint32_t        size, abi;
    uint32_t        lock;       /* id of the thread inside; 0: free                                */
    uint32_t        process;
    uint32_t        off;
    uint32_t        clock;      /* 0: scopes are timed by the counter; 1: by perf_now()            */
    uint32_t        error;      /* first perf_status that was not PERF_OK                          */
    uint32_t        warnings;   /* PERF_CLOCK_ bits                                                */
    uint64_t        ring_events;
    uint64_t        threads;    /* recorders made                                                  */
    uint64_t        misused;    /* ends without begin where no recorder was at hand                */
    uint64_t        lost;       /* scopes without a recorder: no memory                            */
    uint64_t        cut_names;
    uint64_t        scan_at;    /* look for dead threads when there are so many recorders          */
    perf_recorder_ *recorders;
    perf_recorder_ *by_thread[256];
    perf_name_    **names;      /* by id; old tables stay readable, so readers need no lock        */
    uint32_t        count, room;
    perf_name_     *by_hash[4096];
    char           *pool, *pool_end;
    void           *results;    /* atomic list head: what the bench and A/B loops have finished    */
    uint64_t      (*custom)(void);
} perf_registry_;

/* Fresh zeroed pages that a forked child sees as zeros again; NULL when there are none. */
PERF_COLD_FN_ void *perf_pages_(size_t bytes, int wipe_on_fork)
{
#if PERF_LP64_UNIX_
#if defined(__APPLE__) || defined(__FreeBSD__)
    void *p = perf_mmap_(PERF_NULL_, bytes, 3, 0x1002, -1, 0);
#else
    void *p = perf_mmap_(PERF_NULL_, bytes, 3, 0x4022, -1, 0);  /* private anonymous noreserve     */
#endif
    if (PERF_PTR_(intptr_t, p) == -1)
        return PERF_NULL_;
#if defined(__linux__)
    if (wipe_on_fork)
        (void)perf_madvise_(p, bytes, 18);      /* since 4.14; before, the process id tells        */
#endif
#else
    void *p = PERF_MALLOC(bytes);
    if (p)
        memset(p, 0, bytes);
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

/* The child starts clean: its recorders were wiped, or start over when they next end a scope. */
PERF_COLD_FN_ void perf_forked_(perf_registry_ *r, uint32_t process)
{
    size_t i;

    r->recorders = PERF_NULL_;
    for (i = 0; i < sizeof r->by_thread / sizeof r->by_thread[0]; i++)
        r->by_thread[i] = PERF_NULL_;
    r->threads = 0;
    r->misused = 0;
    r->lost = 0;
    r->error = PERF_OK;
    PERF_SET_(&r->process, process);
    PERF_REL_(&r->lock, 0u);
}

/* Only first uses and reports come here.  0: this very thread is inside already (a scope in a
 * signal handler or in the user's own mmap); the caller then gives up and counts.                */
PERF_COLD_FN_ int perf_lock_(perf_registry_ *r)
{
    uint32_t me = perf_thread_id_(), process = perf_process_id_();

    if (PERF_GET_(&r->process) != process)
        perf_forked_(r, process);               /* a child begins with one thread: no race         */
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
#if defined(PERF_CLOCK_FN)
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

/* The registry of the process, made by whoever asks first; NULL without memory. */
PERF_COLD_FN_ perf_registry_ *perf_registry_get_(void)
{
    perf_anchor_   *a = &perf_anchor_v1_;
    perf_registry_ *r = PERF_ACQ_(&a->registry);

    if (r)
        return r;
    (void)perf_calibrate_();
    r = perf_registry_make_();
    if (!r)
        return PERF_NULL_;
#if PERF_MSVC_ || PERF_TCC_
    a->registry = r;
#else
    {
        perf_registry_ *none = PERF_NULL_;
        if (!__atomic_compare_exchange_n(&a->registry, &none, r, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            r = none;                           /* lost a race: ours stays unused, once            */
    }
#endif
    PERF_SET_(&a->off, r->off);
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
        memcpy(table, r->names, r->room * sizeof *table);
    PERF_REL_(&r->names, table);
    PERF_REL_(&r->room, room);
    return 1;
}

/* Id of a name, given on first sight; 0: no room.  Called with the lock held. */
PERF_COLD_FN_ perf_name_ *perf_name_intern_(perf_registry_ *r, const char *name, const char *file,
                                            uint32_t line)
{
    uint32_t    length = 0, hash = UINT32_C(2166136261);
    perf_name_ *n;
    char       *text;

    if (!name) {
        name = "(null)";
        perf_fail_(r, PERF_EINVAL);
    }
    if (!*name)
        name = "(empty)";
    for (; name[length]; length++) {
        if (length == PERF_NAME_MAX_) {         /* cut before the lead byte of a cut character     */
            while (length > PERF_NAME_MAX_ - 4 && (name[length] & 0xc0) == 0x80)
                length--;
            r->cut_names++;
            perf_fail_(r, PERF_ELIMIT);
            break;
        }
    }
    {
        uint32_t i;
        for (i = 0; i < length; i++)
            hash = (hash ^ PERF_CAST_(unsigned char, name[i])) * UINT32_C(16777619);
    }
    for (n = r->by_hash[hash % 4096]; n; n = n->next_same)
        if (n->hash == hash && n->length == length && !memcmp(n->site.name, name, length))
            return n;
    if (r->count >= PERF_NAMES_MAX_ || (r->count >= r->room && !perf_table_grow_(r)))
        return PERF_NULL_;
    n = PERF_CAST_(perf_name_ *,
                   perf_pool_(&r->pool, &r->pool_end, sizeof *n + length + 1, 65536, 0));
    if (!n)
        return PERF_NULL_;
    text = PERF_PTR_(char *, n + 1);
    memcpy(text, name, length);
    text[length] = '\0';
    n->site.name = text;
    n->site.file = file;
    n->site.line = line;
    n->hash = hash;
    n->length = length;
    n->site.id = r->count;
    n->next_same = r->by_hash[hash % 4096];
    r->by_hash[hash % 4096] = n;
    r->names[r->count] = n;
    PERF_REL_(&r->count, r->count + 1);
    return n;
}

PERF_COLD_FN_ perf_name_ *perf_name_find_(perf_registry_ *r, const char *name)
{
    perf_name_ *n;

    if (!perf_lock_(r))
        return PERF_NULL_;
    n = perf_name_intern_(r, name, PERF_NULL_, 0);
    perf_unlock_(r);
    if (!n)
        perf_fail_(r, PERF_ELIMIT);
    return n;
}

PERF_COLD_FN_ uint32_t perf_site_id_(perf_registry_ *r, perf_site_ *site)
{
    uint32_t id = PERF_GET_(&site->id);

    if (!id) {
        perf_name_ *n = perf_name_find_(r, site->name);
        id = n ? n->site.id : 0;
        PERF_SET_(&site->id, id);
    }
    return id;
}

/* ---- recorders ---- */

/* Sets up a recorder that is new, or that a fork has wiped. */
PERF_COLD_FN_ void perf_recorder_start_(perf_registry_ *r, perf_recorder_ *t, uint32_t thread)
{
    perf_recorder_ **same = &r->by_thread[thread % 256];

    t->blank.low = PERF_NO_LOW_;
    t->late_cell = &t->blank;
    t->late = 1;
    t->home = r;
    t->thread = thread;
    t->number = ++r->threads;
    t->birth = perf_scope_ticks_(r);
    if (r->ring_events) {
        t->ring = PERF_CAST_(perf_event_ *, perf_pages_(r->ring_events * sizeof *t->ring, 1));
        if (t->ring)
            PERF_SET_(&t->ring_mask, r->ring_events - 1);
        else
            perf_fail_(r, PERF_ENOMEM);
    }
    t->next_same = *same;
    PERF_REL_(same, t);
    t->next = r->recorders;
    PERF_REL_(&r->recorders, t);
    PERF_SET_(&t->ready, r->clock ? 0u : 1u);
}

/* A recorder whose thread has ended, to be taken over by a new one; its numbers stay in the sum.
 * The kernel is asked only when the number of recorders has doubled. */
PERF_COLD_FN_ perf_recorder_ *perf_recorder_adopt_(perf_registry_ *r)
{
    (void)r;
    return PERF_NULL_;
}

/* The calling thread's recorder; NULL without memory. */
PERF_COLD_FN_ perf_recorder_ *perf_recorder_get_(void)
{
    perf_registry_ *r = perf_registry_get_();
    perf_recorder_ *t;
    uint32_t        thread;

#if !PERF_TCC_
    t = perf_self_v1_;
    if (t && t->home)
        return t;
#endif
    if (!r || !perf_lock_(r))
        return PERF_NULL_;
    thread = perf_thread_id_();
#if !PERF_TCC_
    t = perf_self_v1_;
    if (t) {                                    /* wiped by a fork: start over in the same place   */
        perf_recorder_start_(r, t, thread);
        perf_unlock_(r);
        return t;
    }
#endif
    for (t = r->by_thread[thread % 256]; t; t = t->next_same)
        if (t->thread == thread)
            break;
    if (!t)
        t = perf_recorder_adopt_(r);
    if (!t) {
        t = PERF_CAST_(perf_recorder_ *, perf_pages_(sizeof *t, 1));
        if (t)
            perf_recorder_start_(r, t, thread);
    }
    perf_unlock_(r);
#if !PERF_TCC_
    perf_self_v1_ = t;
#endif
    if (!t) {
        r->lost++;
        perf_fail_(r, PERF_ENOMEM);
    }
    return t;
}

/* Makes room for name `id` and gives it a cell of its own. */
PERF_COLD_FN_ perf_cell_ *perf_cell_new_(perf_recorder_ *t, uint32_t id)
{
    perf_cell_ *c;

    if (id >= t->room) {
        uint32_t     room = t->room ? t->room : 64, i;
        perf_cell_ **table;

        while (room <= id)
            room *= 2;
        table = PERF_CAST_(perf_cell_ **,
                           perf_pool_(&t->pool, &t->pool_end, room * sizeof *table, 262144, 1));
        if (!table)
            return PERF_NULL_;
        if (t->room)
            memcpy(table, t->cell, t->room * sizeof *table);
        for (i = t->room; i < room; i++)
            table[i] = &t->blank;
        PERF_REL_(&t->cell, table);             /* readers take `room` first, then the table       */
        PERF_REL_(&t->room, room);
        PERF_SET_(&t->cells, room);
    }
    c = t->cell[id];
    if (c == &t->blank) {
        c = PERF_CAST_(perf_cell_ *, perf_pool_(&t->pool, &t->pool_end, sizeof *c, 262144, 1));
        if (!c)
            return PERF_NULL_;
        c->low = PERF_NO_LOW_;
        c->min = ~UINT64_C(0);
        PERF_REL_(&t->cell[id], c);
    }
    return c;
}

/* ---- one scope ---- */

PERF_FN uint32_t perf_cell_index_(uint64_t ticks)
{
    return PERF_CAST_(uint32_t, perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, ticks))) >>
                                    (52 - PERF_CELL_BITS_)) - PERF_CELL_BIAS_;
}

PERF_COLD_FN_ void perf_cell_reset_(perf_cell_ *c)
{
    size_t i;

    PERF_SET_(&c->count, UINT64_C(0));
    PERF_SET_(&c->total, UINT64_C(0));
    PERF_SET_(&c->self, UINT64_C(0));
    PERF_SET_(&c->low, PERF_NO_LOW_);
    PERF_SET_(&c->span, UINT64_C(0));
    PERF_SET_(&c->min, ~UINT64_C(0));
    PERF_SET_(&c->max, UINT64_C(0));
    PERF_SET_(&c->zero, UINT64_C(0));
    PERF_SET_(&c->over, UINT64_C(0));
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        PERF_SET_(&c->bucket[i], UINT64_C(0));
}

/* What other threads have asked for, done by the owner the next time it ends a scope. */
PERF_COLD_FN_ void perf_recorder_serve_(perf_recorder_ *t)
{
    uint32_t i;

    do {
        uint32_t ask = PERF_GET_(&t->request);
        if (ask & PERF_ASK_RESET_) {
            for (i = 0; i < t->room; i++)
                if (t->cell[i] != &t->blank)
                    perf_cell_reset_(t->cell[i]);
            t->late_cell = &t->blank;
            t->late = 1;
            t->ring_lost = PERF_GET_(&t->ring_head);
            t->abandoned = t->disordered = t->foreign = t->orphans = t->lost = t->misused = 0;
        }
        PERF_SET_(&t->cells, t->room);
        if (perf_claim_(&t->request, ask, 0))
            break;
    } while (1);
}

PERF_FN void perf_add_(uint64_t *p, uint64_t n)
{
    PERF_SET_(p, PERF_GET_(p) + n);
}

PERF_FN void perf_event_put_(perf_recorder_ *t, uint64_t start, uint64_t what)
{
    uint64_t     head = PERF_GET_(&t->ring_head);
    perf_event_ *e = &t->ring[head & t->ring_mask];

    PERF_SET_(&e->start, start);
    PERF_SET_(&e->what, what);
    PERF_REL_(&t->ring_head, head + 1);
}

/* A duration the hot path would not take: a new extreme, 0, or 2^32 ticks and more. */
PERF_COLD_FN_ uint64_t perf_cell_extend_(perf_cell_ *c, uint64_t d)
{
    if (d < PERF_GET_(&c->min))
        PERF_SET_(&c->min, d);
    if (d > PERF_GET_(&c->max))
        PERF_SET_(&c->max, d);
    if (d == 0) {
        perf_add_(&c->zero, 1);
        return 1;
    }
    if (d >> PERF_CELL_OCTAVES_) {
        perf_add_(&c->over, 1);
        return (UINT64_C(1) << PERF_CELL_OCTAVES_) - 1;
    }
    if (!(d >> 32)) {
        uint64_t low = c->low, high = c->low + c->span;
        if (low == PERF_NO_LOW_)
            low = high = d;
        low = d < low ? d : low;
        high = d > high ? d : high;
        c->low = low;
        c->span = high - low;
    }
    return d;
}

/* Counts a closed scope at once, weight times: the cold twin of the end of perf_end_at_(). */
PERF_COLD_FN_ void perf_record_(perf_recorder_ *t, perf_span_ *s, uint32_t id, uint64_t d,
                                uint64_t self)
{
    perf_cell_ *c = id < t->room ? t->cell[id] : &t->blank;
    uint64_t    n = s->weight, clipped, depth = s->depth - 1;

    if (c == &t->blank)
        c = id ? perf_cell_new_(t, id) : PERF_NULL_;
    if (!c) {
        perf_add_(&t->lost, 1);
        perf_fail_(t->home, PERF_ENOMEM);
        return;
    }
    clipped = perf_cell_extend_(c, d);
    perf_add_(&c->count, n);
    perf_add_(&c->total, d * n);
    perf_add_(&c->self, self * n);
    perf_add_(&c->bucket[perf_cell_index_(clipped)], n);
    if (t->ring_mask) {
        if (d >> 32)
            perf_event_put_(t, d, PERF_CAST_(uint64_t, PERF_EV_LONG_) << 32);
        if (depth > PERF_EV_DEPTH_)
            depth = PERF_EV_DEPTH_;
        perf_event_put_(t, s->start, (d >> 32 ? UINT64_C(0xffffffff) : d) | depth << 32 |
                                         PERF_CAST_(uint64_t, id) << 40);
    }
}

/* Everything that is not the common case of a scope's end. */
PERF_COLD_FN_ void perf_end_slow_(perf_span_ *s, uint64_t end)
{
    perf_recorder_ *t = s->rec, *mine = perf_recorder_get_();
    perf_registry_ *r;
    uint64_t        d, self;
    uint32_t        id;

    s->rec = PERF_NULL_;
    if (!mine)
        return;
    r = mine->home;
    if (r->clock)
        end = perf_scope_ticks_(r);
    if (mine->cells == 0 || PERF_GET_(&mine->request))
        perf_recorder_serve_(mine);
    if (s->start < mine->birth && t == mine) {
        perf_add_(&mine->orphans, 1);
        perf_fail_(r, PERF_ESTATE);
        return;
    }
    id = perf_site_id_(r, s->site);
    d = end - s->start;
    if (d >> 63) {
        d = 0;
        r->warnings |= PERF_CLOCK_BACKWARDS;
    }
    if (t != mine) {                            /* its own thread keeps the time as self           */
        perf_add_(&mine->foreign, 1);
        perf_record_(mine, s, id, d, 0);
        return;
    }
    if (t->depth < s->depth) {                  /* a scope around it has ended: the time is there  */
        perf_add_(&t->disordered, 1);
        perf_fail_(r, PERF_ESTATE);
        perf_record_(t, s, id, d, 0);
        return;
    }
    perf_add_(&t->abandoned, t->depth - s->depth);
    t->depth = s->depth - 1;
    self = d - (t->closed - s->nested);
    t->closed = s->nested + d;
    perf_record_(t, s, id, d, self);
}

/* The end of a scope: 50 instructions, most of them in the shadow of the counter's 40 cycles. */
PERF_INLINE_FN_ void perf_end_at_(perf_span_ *s, uint64_t end)
{
    perf_recorder_ *t = s->rec;
    uint64_t        d = end - s->start, depth = s->depth;
    uint32_t        id = PERF_GET_(&s->site->id);
    perf_cell_     *c, *late = t->late_cell;

    if (PERF_UNLIKELY_(t->depth != depth || id >= PERF_GET_(&t->cells))) {
        perf_end_slow_(s, end);
        return;
    }
    c = t->cell[id];
    if (PERF_UNLIKELY_(d - c->low > c->span)) {
        perf_end_slow_(s, end);
        return;
    }
    s->rec = PERF_NULL_;
    t->depth = PERF_CAST_(uint32_t, depth - 1);
    perf_add_(&c->count, 1);
    perf_add_(&c->total, d);
    perf_add_(&c->self, d - (t->closed - s->nested));
    t->closed = s->nested + d;
    perf_add_(&late->bucket[perf_cell_index_(t->late)], 1);
    PERF_SET_(&t->late, d);
    PERF_SET_(&t->late_cell, c);
    if (t->ring_mask) {
        depth = depth > PERF_EV_DEPTH_ ? PERF_EV_DEPTH_ : depth - 1;
        perf_event_put_(t, s->start, d | depth << 32 | PERF_CAST_(uint64_t, id) << 40);
    }
}

PERF_OUTLINE_FN_ void perf_end_(perf_span_ *s)
{
    perf_end_at_(s, perf_ticks());
}

PERF_COLD_FN_ perf_span_ *perf_begin_slow_(perf_span_ *s, perf_site_ *site)
{
    perf_recorder_ *t = perf_recorder_get_();

    s->rec = PERF_NULL_;
    if (!t || PERF_GET_(&perf_anchor_v1_.off))
        return PERF_NULL_;
    s->rec = t;
    s->site = site;
    s->weight = 1;
    s->depth = ++t->depth;
    s->nested = t->closed;
    s->start = perf_scope_ticks_(t->home);
    return s;
}

#if PERF_TCC_
#define PERF_SELF_ PERF_CAST_(perf_recorder_ *, 0)
#else
#define PERF_SELF_ perf_self_v1_
#endif
#define PERF_ON_() PERF_LIKELY_(!PERF_GET_(&perf_anchor_v1_.off))

PERF_OUTLINE_FN_ perf_span_ *perf_begin_(perf_span_ *s, perf_site_ *site)
{
    perf_recorder_ *t = PERF_SELF_;

    if (PERF_UNLIKELY_(!t || !t->ready))
        return perf_begin_slow_(s, site);
    s->rec = t;
    s->site = site;
    s->weight = 1;
    s->depth = ++t->depth;
    s->nested = t->closed;
    s->start = perf_ticks();
    return s;
}

#if defined(__cplusplus)
struct perf_guard_ {
    perf_span_ *span;
    explicit perf_guard_(perf_span_ *s) : span(s)
    {
    }
    perf_guard_(const perf_guard_ &) = delete;
    perf_guard_ &operator=(const perf_guard_ &) = delete;
    ~perf_guard_()
    {
        if (span)
            perf_end_(span);
    }
};
#define PERF_OPEN_(open, span)                                                                    \
    const perf_guard_ open(span)
#else
PERF_INLINE_FN_ void perf_close_(perf_span_ *const *open)
{
    if (*open)
        perf_end_(*open);
}
#define PERF_OPEN_(open, span)                                                                    \
    perf_span_ *const open PERF_ATTR_((__cleanup__(perf_close_), __unused__)) = span
#endif

PERF_COLD_FN_ void perf_misuse_(void)
{
    perf_recorder_ *t = perf_recorder_get_();

    if (t) {
        perf_add_(&t->misused, 1);
        perf_fail_(t->home, PERF_ESTATE);
    }
}

/* The site of a name that is not a static object: a small table by address in front of the
 * interned names; the text is compared, so the caller may reuse a buffer.                        */
PERF_COLD_FN_ perf_site_ *perf_site_find_(const char *name)
{
    perf_registry_ *r = perf_registry_get_();
    perf_name_     *n = r ? perf_name_find_(r, name) : PERF_NULL_;

    return n ? &n->site : PERF_NULL_;
}

#if PERF_DISABLE
PERF_FN perf_scope perf_scope_begin(const char *name)
{
    perf_scope s;

    memset(&s, 0, sizeof s);
    (void)name;
    return s;
}

PERF_FN void perf_scope_end(perf_scope *scope)
{
    (void)scope;
}
#else
PERF_FN perf_scope perf_scope_begin(const char *name)
{
    perf_scope  s = PERF_ZERO;
    perf_site_ *site = PERF_ON_() ? perf_site_find_(name) : PERF_NULL_;

    s.depth = ~UINT32_C(0);                     /* so that the end is not taken for a stray one    */
    if (site)
        (void)perf_begin_(&s, site);
    return s;
}

PERF_FN void perf_scope_end(perf_scope *scope)
{
    if (!scope)
        return;
    if (scope->rec && (PERF_SELF_ == scope->rec || PERF_TCC_))
        perf_end_(scope);
    else if (scope->rec)
        perf_end_slow_(scope, perf_ticks());
    else if (scope->depth != ~UINT32_C(0))
        perf_misuse_();
    scope->depth = 0;
}
#endif

PERF_FN perf_status perf_error(void)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);

    return r ? PERF_CAST_(perf_status, PERF_GET_(&r->error)) : PERF_OK;
}

PERF_FN void perf_enable(int on)
{
    perf_registry_ *r = perf_registry_get_();

    if (r) {
        PERF_SET_(&r->off, on ? 0u : 1u);
        PERF_SET_(&perf_anchor_v1_.off, on ? 0u : 1u);
    }
}

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
    c.resolution_ns = PERF_CAST_(double, step) * c.tick_ns;
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

/* ---- report ---- */

typedef struct perf_row_ {      /* one name, all threads; times in ticks                           */
    const char *name;
    uint64_t    count, total, self, min, max;
    double      p50, p95, p99;
} perf_row_;

typedef struct perf_losses_ {   /* what is missing from the numbers, and why                       */
    uint64_t abandoned, disordered, foreign, orphans, lost, misused, overwritten;
} perf_losses_;

/* Middle of a bucket in ticks. */
PERF_FN double perf_cell_value_(uint32_t index)
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
    value = perf_cell_value_(i);
    if (value > PERF_CAST_(double, c->max))
        value = PERF_CAST_(double, c->max);
    return value < PERF_CAST_(double, c->min) ? PERF_CAST_(double, c->min) : value;
}

/* Adds what thread t has recorded for a name; its owner may be writing meanwhile. */
PERF_COLD_FN_ void perf_cell_merge_(perf_cell_ *sum, perf_recorder_ *t, uint32_t id)
{
    perf_cell_ *c;
    uint64_t    x;
    uint32_t    i;

    if (id >= PERF_ACQ_(&t->room) || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return;
    c = PERF_ACQ_(&PERF_ACQ_(&t->cell)[id]);
    if (c == &t->blank)
        return;
    sum->count += PERF_GET_(&c->count);
    sum->total += PERF_GET_(&c->total);
    sum->self += PERF_GET_(&c->self);
    x = PERF_GET_(&c->min);
    sum->min = x < sum->min ? x : sum->min;
    x = PERF_GET_(&c->max);
    sum->max = x > sum->max ? x : sum->max;
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        sum->bucket[i] += PERF_GET_(&c->bucket[i]);
    if (PERF_GET_(&t->late_cell) == c)
        sum->bucket[perf_cell_index_(PERF_GET_(&t->late))]++;
}

PERF_COLD_FN_ void perf_row_fill_(perf_row_ *row, perf_registry_ *r, uint32_t id, perf_cell_ *sum)
{
    perf_recorder_ *t;
    uint64_t        calls = 0;
    uint32_t        i;

    memset(sum, 0, sizeof *sum);
    sum->min = ~UINT64_C(0);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_cell_merge_(sum, t, id);
    for (i = 0; i < PERF_CELL_BUCKETS_; i++)
        calls += sum->bucket[i];
    row->name = PERF_ACQ_(&r->names)[id]->site.name;
    row->count = sum->count;
    row->total = sum->total;
    row->self = sum->self;
    row->min = sum->count ? sum->min : 0;
    row->max = sum->max;
    row->p50 = perf_cell_quantile_(sum, calls, 0.50);
    row->p95 = perf_cell_quantile_(sum, calls, 0.95);
    row->p99 = perf_cell_quantile_(sum, calls, 0.99);
}

PERF_FN perf_losses_ perf_losses_sum_(perf_registry_ *r)
{
    perf_losses_    l = PERF_ZERO;
    perf_recorder_ *t;

    l.lost = PERF_GET_(&r->lost);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        uint64_t written = PERF_GET_(&t->ring_head) - PERF_GET_(&t->ring_lost);
        l.abandoned += PERF_GET_(&t->abandoned);
        l.disordered += PERF_GET_(&t->disordered);
        l.foreign += PERF_GET_(&t->foreign);
        l.orphans += PERF_GET_(&t->orphans);
        l.lost += PERF_GET_(&t->lost);
        l.misused += PERF_GET_(&t->misused);
        if (written > t->ring_mask + 1)
            l.overwritten += written - (t->ring_mask + 1);
    }
    return l;
}

PERF_FN double perf_row_key_(const perf_row_ *r, perf_sort by)
{
    switch (by) {
    case PERF_SORT_TOTAL: return PERF_CAST_(double, r->total);
    case PERF_SORT_CALLS: return PERF_CAST_(double, r->count);
    case PERF_SORT_MEAN: return PERF_CAST_(double, r->total) / PERF_CAST_(double, r->count);
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
    size_t      bytes = sizeof(perf_cell_) + count * sizeof(perf_row_);
    perf_row_  *row = PERF_CAST_(perf_row_ *, PERF_MALLOC(bytes));
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
        row = PERF_NULL_;
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

/* Right-aligned cell of the table. */
PERF_FN void perf_put_cell_(perf_out_ *o, const char *text, size_t width)
{
    size_t n = strlen(text);

    perf_put_spaces_(o, n < width ? width - n : 1);
    perf_put_(o, text);
}

PERF_FN void perf_put_time_cell_(perf_out_ *o, double ns, size_t width)
{
    char      text[40];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_time_(&t, ns);
    perf_put_cell_(o, text, width);
}

/* A name in `width` columns: control characters shown as '?', long ones cut with "...". */
PERF_FN void perf_put_name_(perf_out_ *o, const char *name, size_t width)
{
    size_t columns = 0, i, shown = 0;

    for (i = 0; name[i]; i++)
        columns += (name[i] & 0xc0) != 0x80;
    for (i = 0; name[i]; i++) {
        unsigned char c = PERF_CAST_(unsigned char, name[i]);
        if ((c & 0xc0) != 0x80 && ++shown > width - 3 && columns > width)
            break;
        perf_put_char_(o, c < 0x20 || c == 0x7f ? '?' : name[i]);
    }
    if (columns > width)
        perf_put_(o, "...");
    else
        perf_put_spaces_(o, width - columns);
}

PERF_COLD_FN_ void perf_put_loss_(perf_out_ *o, uint64_t n, const char *what)
{
    if (!n)
        return;
    perf_put_(o, "note: ");
    perf_put_u64_(o, n);
    perf_put_char_(o, ' ');
    perf_put_(o, what);
    perf_put_char_(o, '\n');
}

PERF_COLD_FN_ void perf_put_clock_(perf_out_ *o, const perf_clock_info *c)
{
    uint32_t bit;

    perf_put_(o, "clock ");
    perf_put_(o, c->name);
    perf_put_(o, ": step ");
    perf_put_time_(o, c->resolution_ns);
    perf_put_(o, ", cost ");
    perf_put_time_(o, c->cost_ns);
    perf_put_(o, " a reading, ");
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

PERF_COLD_FN_ void perf_put_row_(perf_out_ *o, const perf_row_ *row, double tick, double all)
{
    char      text[40];
    perf_out_ t = PERF_ZERO;

    t.p = text;
    t.cap = sizeof text;
    perf_put_name_(o, row->name, 28);
    perf_put_u64_(&t, row->count);
    perf_put_cell_(o, text, 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->total) * tick, 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->self) * tick, 10);
    t.len = 0;
    perf_put_fixed_(&t, PERF_CAST_(double, row->self) / all * 100, 1);
    perf_put_(&t, " %");
    perf_put_cell_(o, text, 9);
    perf_put_time_cell_(o, PERF_CAST_(double, row->total) * tick / PERF_CAST_(double, row->count), 10);
    perf_put_time_cell_(o, row->p50 * tick, 10);
    perf_put_time_cell_(o, row->p95 * tick, 10);
    perf_put_time_cell_(o, row->p99 * tick, 10);
    perf_put_time_cell_(o, PERF_CAST_(double, row->max) * tick, 10);
    perf_put_char_(o, '\n');
}

/* Nanoseconds of one scope tick. */
PERF_FN double perf_scope_tick_ns_(perf_registry_ *r)
{
    return r && r->clock ? 1.0 : perf_tick_ns_();
}

PERF_COLD_FN_ void perf_put_table_(perf_out_ *o, perf_registry_ *r, const perf_row_ *row, size_t n,
                                   int limit, double tick)
{
    perf_losses_ l = perf_losses_sum_(r);
    double       all = 0;
    size_t       i;

    for (i = 0; i < n; i++)
        all += PERF_CAST_(double, row[i].self);
    if (!(all > 0))
        all = 1;
    if (n)
        perf_put_(o, "scope                            calls     total      self    share"
                     "      mean       p50       p95       p99       max\n");
    for (i = 0; i < n && (limit < 0 || i < PERF_CAST_(size_t, limit)); i++)
        perf_put_row_(o, &row[i], tick, all);
    if (i < n) {
        perf_put_(o, "... and ");
        perf_put_u64_(o, n - i);
        perf_put_(o, " more\n");
    }
    perf_put_loss_(o, l.abandoned, "scopes were never ended (longjmp?): their time is in the scope around them");
    perf_put_loss_(o, l.disordered, "scopes ended after the scope around them: no self time");
    perf_put_loss_(o, l.foreign, "scopes were ended by another thread: no self time");
    perf_put_loss_(o, l.orphans, "scopes were begun before a fork or reset and not counted");
    perf_put_loss_(o, l.misused, "ends without a begin were ignored");
    perf_put_loss_(o, l.lost, "scopes were not counted: no memory");
    perf_put_loss_(o, l.overwritten, "older trace events were overwritten: raise PERF_TRACE_EVENTS");
}

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
        o.rows = 50;
    return o;
}

PERF_FN void perf_report_results_(perf_out_ *o);

/* One snapshot, so that the text has the same length each time it is written. */
typedef struct perf_snapshot_ {
    perf_report_opts opts;
    perf_clock_info  clock;
    perf_registry_  *registry;
    perf_row_       *row;
    size_t           rows;
} perf_snapshot_;

PERF_COLD_FN_ perf_snapshot_ perf_snapshot_take_(const perf_report_opts *opts)
{
    perf_snapshot_ s;

    memset(&s, 0, sizeof s);
    s.opts = perf_report_opts_resolved(opts);
    s.clock = perf_clock();
    s.registry = PERF_ACQ_(&perf_anchor_v1_.registry);
    if (s.registry)
        s.row = perf_rows_(s.registry, s.opts.sort, &s.rows);
    return s;
}

PERF_COLD_FN_ void perf_snapshot_put_(perf_out_ *o, const perf_snapshot_ *s)
{
    perf_put_clock_(o, &s->clock);
    if (s->registry)
        perf_put_table_(o, s->registry, s->row, s->rows, s->opts.rows, s->clock.tick_ns);
    perf_report_results_(o);
}

PERF_FN size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts)
{
    perf_snapshot_ s = perf_snapshot_take_(opts);
    perf_out_      o = PERF_ZERO;

    o.p = buf;
    o.cap = buf ? cap : 0;
    perf_snapshot_put_(&o, &s);
    PERF_FREE(s.row);
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
    again.cap = o.len + 4096;                   /* some slack: other threads go on                */
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
    PERF_FREE(s.row);
    return status;
}

PERF_FN perf_status perf_report(void)
{
    return perf_report_to(stderr, PERF_NULL_);
}

/* ---- trace ---- */

/* A file written through a buffer; the first failure sticks. */
typedef struct perf_file_ {
    FILE     *file;
    perf_out_ out;
    int       failed;
} perf_file_;

PERF_COLD_FN_ void perf_file_flush_(perf_file_ *f)
{
    if (f->out.len && fwrite(f->out.p, 1, f->out.len, f->file) != f->out.len)
        f->failed = 1;
    f->out.len = 0;
}

/* Room for one more record of at most 4 KB. */
PERF_FN void perf_file_room_(perf_file_ *f)
{
    if (f->out.cap - f->out.len < 4096)
        perf_file_flush_(f);
}

/* Length of the UTF-8 character at s, 0 if it is not one. */
PERF_COLD_FN_ int perf_utf8_(const char *s)
{
    unsigned char c = PERF_CAST_(unsigned char, *s);
    int           n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    int           i;
    unsigned char second = PERF_CAST_(unsigned char, n > 1 ? s[1] : 0);

    for (i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
        (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

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

/* Nanoseconds as microseconds with three decimals, exact. */
PERF_FN void perf_put_us_(perf_out_ *o, uint64_t ns)
{
    uint64_t rest = ns % 1000;

    perf_put_u64_(o, ns / 1000);
    perf_put_char_(o, '.');
    perf_put_char_(o, PERF_CAST_(char, '0' + PERF_CAST_(int, rest / 100)));
    perf_put_char_(o, PERF_CAST_(char, '0' + PERF_CAST_(int, rest / 10 % 10)));
    perf_put_char_(o, PERF_CAST_(char, '0' + PERF_CAST_(int, rest % 10)));
}

/* Ticks to the nanoseconds of perf_now(). */
typedef struct perf_epoch_ {
    uint64_t ticks, ns;
    double   tick_ns;
} perf_epoch_;

PERF_FN uint64_t perf_epoch_ns_(const perf_epoch_ *e, uint64_t ticks)
{
    double past;

    if (ticks >= e->ticks)
        return e->ns + PERF_CAST_(uint64_t, PERF_CAST_(double, ticks - e->ticks) * e->tick_ns);
    past = PERF_CAST_(double, e->ticks - ticks) * e->tick_ns;
    return past < PERF_CAST_(double, e->ns) ? e->ns - PERF_CAST_(uint64_t, past) : 0;
}

/* The events of one thread, newest first: a scope then comes before those inside it, and viewers
 * nest equal times in that order.  The owner may go on writing; what it may have overwritten while
 * we copied is left out.                                                                          */
PERF_COLD_FN_ void perf_trace_thread_(perf_file_ *f, perf_registry_ *r, perf_recorder_ *t,
                                      const perf_epoch_ *epoch)
{
    uint64_t     head = PERF_ACQ_(&t->ring_head), lost = PERF_GET_(&t->ring_lost), n, i, now;
    perf_event_ *copy;

    if (!t->ring_mask || head == lost || (PERF_GET_(&t->request) & PERF_ASK_RESET_))
        return;
    n = head - lost > t->ring_mask + 1 ? t->ring_mask + 1 : head - lost;
    copy = PERF_CAST_(perf_event_ *, PERF_MALLOC(n * sizeof *copy));
    if (!copy) {
        f->failed = 1;
        return;
    }
    for (i = 0; i < n; i++) {
        perf_event_ *e = &t->ring[(head - 1 - i) & t->ring_mask];
        copy[i].start = PERF_GET_(&e->start);
        copy[i].what = PERF_GET_(&e->what);
    }
    now = PERF_ACQ_(&t->ring_head) + 1;
    if (now - (head - n) > t->ring_mask + 1) {
        uint64_t torn = now - (head - n) - (t->ring_mask + 1);
        n = torn < n ? n - torn : 0;
    }
    for (i = 0; i < n; i++) {
        uint32_t id = PERF_CAST_(uint32_t, copy[i].what >> 40);
        uint64_t d = copy[i].what & UINT64_C(0xffffffff), start, end;

        if (!id || id >= PERF_ACQ_(&r->count))
            continue;
        if (d == UINT64_C(0xffffffff)) {        /* the true length stands before it                */
            if (i + 1 == n)
                continue;
            d = copy[i + 1].start;
        }
        start = perf_epoch_ns_(epoch, copy[i].start);
        end = perf_epoch_ns_(epoch, copy[i].start + d);
        perf_file_room_(f);
        perf_put_(&f->out, ",\n{\"ph\":\"X\",\"name\":");
        perf_put_json_(&f->out, PERF_ACQ_(&r->names)[id]->site.name);
        perf_put_(&f->out, ",\"pid\":");
        perf_put_u64_(&f->out, PERF_GET_(&r->process));
        perf_put_(&f->out, ",\"tid\":");
        perf_put_u64_(&f->out, t->thread);
        perf_put_(&f->out, ",\"ts\":");
        perf_put_us_(&f->out, start);
        perf_put_(&f->out, ",\"dur\":");
        perf_put_us_(&f->out, end - start);
        perf_put_char_(&f->out, '}');
    }
    PERF_FREE(copy);
}

PERF_COLD_FN_ void perf_trace_put_(perf_file_ *f, perf_registry_ *r)
{
    perf_epoch_     epoch;
    perf_recorder_ *t;
    perf_losses_    l = perf_losses_sum_(r);

    epoch.ticks = r->clock ? 0 : PERF_GET_(&perf_anchor_v1_.clock.ticks);
    epoch.ns = r->clock ? 0 : PERF_GET_(&perf_anchor_v1_.clock.ns);
    epoch.tick_ns = perf_scope_tick_ns_(r);
    perf_put_(&f->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten_events\":");
    perf_put_u64_(&f->out, l.overwritten);
    perf_put_(&f->out, ",\"uncounted_scopes\":");
    perf_put_u64_(&f->out, l.lost + l.orphans);
    perf_put_(&f->out, "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":");
    perf_put_u64_(&f->out, PERF_GET_(&r->process));
    perf_put_(&f->out, ",\"tid\":0,\"args\":{\"sort_index\":0}}");
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        perf_trace_thread_(f, r, t, &epoch);
    perf_put_(&f->out, "\n]}\n");
    perf_file_flush_(f);
}

PERF_FN perf_status perf_trace_save(const char *path)
{
    static const char suffix[] = ".part";
    perf_registry_   *r = perf_registry_get_();
    perf_file_        f;
    size_t            length;
    char             *part, *buffer;
    int               direct;

    if (!path || !*path)
        return PERF_EINVAL;
    if (!r)
        return PERF_ENOMEM;
    length = strlen(path);
    direct = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
    memset(&f, 0, sizeof f);
    part = PERF_CAST_(char *, PERF_MALLOC(length + sizeof suffix));
    buffer = PERF_CAST_(char *, PERF_MALLOC(65536));
    if (part && buffer) {
        memcpy(part, path, length + 1);
        if (!direct)
            memcpy(part + length, suffix, sizeof suffix);
        f.out.p = buffer;
        f.out.cap = 65536;
        f.file = fopen(part, "wb");
        f.failed = !f.file;
        if (f.file) {
            perf_trace_put_(&f, r);
            if (fclose(f.file))
                f.failed = 1;
            if (!direct && !f.failed && rename(part, path))
                f.failed = 1;
            if (!direct && f.failed)
                (void)remove(part);
        }
    }
    f.failed = f.failed ? 1 : part && buffer ? 0 : 2;
    PERF_FREE(part);
    PERF_FREE(buffer);
    return f.failed == 2 ? PERF_ENOMEM : f.failed ? PERF_EIO : PERF_OK;
}

/* ---- bench ---- */

/* What one slice of iterations needs; a bench has one of these, an A/B loop one per variant. */
typedef struct perf_slice_ {
    uint64_t batch;                     /* iterations per slice                                   */
    uint64_t runs;                      /* iterations so far                                      */
    double   fastest;                   /* of the readings at this batch, ns a slice              */
    double   cold_ns;
    int      readings;                  /* at this batch                                          */
    int      steady;                    /* the batch is chosen                                    */
    double  *ns;                        /* ns per iteration, by slice; room for all that may come */
    size_t   count;
} perf_slice_;

/* Every finished or running loop, newest first; perf_report walks them. */
typedef struct perf_loop_ {
    struct perf_loop_ *next;
    int                kind;            /* 1 bench, 2 A/B                                         */
    int                done;            /* written once, last: the result is complete             */
    char               name[96];
} perf_loop_;

typedef struct perf_bench_state_ {
    perf_loop_      loop;               /* first: the list is of these                            */
    perf_bench_opts opts;
    perf_slice_     slice;
    double          overhead_ns, tick_ns;
    uint64_t        t0, began;
    size_t          look_at;            /* samples at which to look at the interval again         */
    int             phase, left_to_warm;
    perf_status     status;
    uint32_t        warnings;
    perf_result     result;
} perf_bench_state_;

enum { PERF_LOOP_START_, PERF_LOOP_COLD_, PERF_LOOP_GROW_, PERF_LOOP_WARM_, PERF_LOOP_SAMPLE_,
       PERF_LOOP_DONE_ };

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

#define PERF_LOOP_SAMPLES_     1000     /* of a bench that looks for a narrow interval            */
#define PERF_LOOP_MAX_SAMPLES_ 1000000

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

/* The cost of one reading and its smallest step, from 100 back-to-back readings (about 4 us). */
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
    *cost = PERF_CAST_(double, best) / 20.0;
    *tick = step == UINT64_MAX || step > 1000000 ? 1.0 : PERF_CAST_(double, step);
    if (*tick > *cost && *cost > 0.0)               /* finer than a reading: its step stays unseen */
        *tick = *cost;
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
        ns = (PERF_CAST_(double, perf_now() - t) - overhead) / 20000.0;
        if (ns < best)
            best = ns;
    }
    return best;
}

PERF_COLD_FN_ uint32_t perf_slice_warnings_(const perf_slice_ *s, const perf_summary *all,
                                            double overhead)
{
    perf_summary early, late;
    double       gap;
    uint32_t     w = 0;

    /* A deleted body leaves the loop, up to 4 cycles of it (25 builds measured); an honest single
     * multiply is in that range too, so a bench only warns, while a verdict is withheld.         */
    if (all->count && all->p50 < 5.0 && all->p50 < 5.0 * perf_loop_empty_ns_(overhead))
        w |= PERF_WARN_EMPTY_BODY;
    if (s->count >= 30) {
        early = perf_summarize(s->ns, s->count / 3);
        late = perf_summarize(s->ns + (s->count - s->count / 3), s->count / 3);
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

PERF_FN double perf_or_default_(double x, double low, double high, double otherwise)
{
    return x >= low && x <= high ? x : otherwise;
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
    o.bytes = perf_or_default_(o.bytes, 0.0, 1e30, 0.0);
    o.items = perf_or_default_(o.items, 0.0, 1e30, 0.0);
    return o;
}

PERF_COLD_FN_ perf_bench_state_ *perf_bench_open_(const char *name, const perf_bench_opts *opts,
                                                  int optimised)
{
    perf_bench_opts    o = perf_bench_opts_resolved(opts);
    size_t             room = o.samples ? PERF_CAST_(size_t, o.samples) : PERF_LOOP_SAMPLES_;
    perf_bench_state_ *s = PERF_CAST_(perf_bench_state_ *, perf_loop_pages_(sizeof *s, room));

    if (!s)
        return s;
    s->opts = o;
    s->slice.ns = PERF_PTR_(double *, s + 1);
    if (!optimised)
        s->warnings |= PERF_WARN_UNOPTIMISED;
    s->look_at = 30;
    s->left_to_warm = s->opts.warmup;
    s->began = perf_now();
    perf_loop_clock_(&s->overhead_ns, &s->tick_ns);
    perf_loop_add_(&s->loop, 1, name);
    return s;
}

/* 1 when sampling may end: the median is known well enough, or samples or time have run out. */
PERF_COLD_FN_ int perf_bench_enough_(perf_bench_state_ *s, int late)
{
    const perf_slice_ *p = &s->slice;
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
    sum = perf_summarize(p->ns, p->count);
    q = perf_quantile_interval_series(p->ns, p->count, 0.5, 0.95);
    if (p->count < 40) {
        q.low = sum.p50_low;
        q.high = sum.p50_high;
    }
    return q.high - q.low <= 2.0 * s->opts.rel_ci * sum.p50;
}

/* A slice has ended: file its time, and say how many iterations the next one has; 0: no more. */
PERF_COLD_FN_ uint64_t perf_bench_slice_(perf_bench_state_ *s)
{
    uint64_t     t = perf_now();
    perf_slice_ *p;
    double       ns;
    int          late;

    if (!s || s->phase == PERF_LOOP_DONE_)
        return 0;
    p = &s->slice;
    ns = PERF_CAST_(double, t - s->t0) - s->overhead_ns;
    ns = ns > 0.0 ? ns : 0.0;
    late = PERF_CAST_(double, t - s->began) > s->opts.max_seconds * 1e9;
    p->runs += s->phase == PERF_LOOP_START_ ? 0 : p->batch;
    switch (s->phase) {
    case PERF_LOOP_START_:
        p->batch = 1;
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        p->cold_ns = ns;
        s->phase = late ? PERF_LOOP_SAMPLE_ : PERF_LOOP_GROW_;
        break;
    case PERF_LOOP_GROW_:
        if (!perf_slice_grow_(p, ns, s->opts.slice_ns)) {
            s->status = PERF_EDELETED;
            s->phase = PERF_LOOP_DONE_;
            return 0;
        }
        if (p->steady || late)
            s->phase = s->left_to_warm > 0 && !late ? PERF_LOOP_WARM_ : PERF_LOOP_SAMPLE_;
        break;
    case PERF_LOOP_WARM_:
        if (--s->left_to_warm <= 0 || (late && p->runs >= 3))
            s->phase = PERF_LOOP_SAMPLE_;
        break;
    default:
        p->ns[p->count++] = ns / PERF_CAST_(double, p->batch);
        if (perf_bench_enough_(s, late)) {
            s->phase = PERF_LOOP_DONE_;
            return 0;
        }
    }
    s->t0 = perf_now();
    return p->batch;
}

PERF_COLD_FN_ perf_result perf_bench_close_(perf_bench_state_ *s, uint64_t left)
{
    perf_result        r = PERF_ZERO;
    const perf_slice_ *p;
    perf_interval      q;

    if (!s || PERF_ACQ_(&s->loop.done)) {
        r.status = !s && left ? PERF_ENOMEM : PERF_ESTATE;
        return r;
    }
    p = &s->slice;
    r.time = perf_summarize(p->ns, p->count);
    r.cold_ns = p->cold_ns;
    r.overhead_ns = s->overhead_ns;
    r.batch = p->batch;
    r.iterations = p->runs;
    r.opts = s->opts;
    r.status = s->status;
    r.warnings = s->warnings | r.time.warnings;
    if (s->status != PERF_OK) {                     /* never a plausible time beside a failure     */
        memset(&r.time, 0, sizeof r.time);
        r.time.status = s->status;
    } else if (!r.time.count) {
        r.status = p->runs ? PERF_ETIMEOUT : PERF_ENODATA;
    } else {
        if (p->count >= 40) {                       /* slices next to each other are alike        */
            q = perf_quantile_interval_series(p->ns, p->count, 0.5, 0.95);
            r.time.p50_low = q.low;
            r.time.p50_high = q.high;
        }
        r.warnings |= perf_slice_warnings_(p, &r.time, s->overhead_ns);
        if (!(r.time.p50_high - r.time.p50_low <= 2.0 * s->opts.rel_ci * r.time.p50))
            r.warnings |= PERF_WARN_NOISY;
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
    perf_bench b = {2, PERF_NULL_};             /* the body runs once, unmeasured                 */
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
    return r;
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

    b.left = 1;
    b.state = perf_bench_open_(name, opts, PERF_OPTIMISED_);
    return b;
}

/* The state travels by value and comes back by value, so the counter's address is never taken and
 * both stay in registers: the loop is the body, one decrement and one branch.                    */
PERF_INLINE_FN_ int perf_bench_next(perf_bench *b)
{
    uint64_t n;

    if (PERF_LIKELY_(--b->left != 0))
        return 1;
    n = perf_bench_slice_(b->state);
    b->left = n ? n : 1;
    return n != 0;
}

PERF_INLINE_FN_ perf_result perf_bench_end(perf_bench *b)
{
    struct perf_bench_state_ *state = b->state;
    uint64_t                  left = b->left;

    b->state = PERF_CAST_(perf_bench_state_ *, PERF_NULL_);
    b->left = 0;
    return perf_bench_close_(state, left);
}
#endif

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
    perf_put_time_cell_(o, s->p95, 10);
    perf_put_time_cell_(o, s->p99, 10);
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

/* "  3.2 GB/s, 4.1 M items/s" when the caller said how much one iteration moves. */
PERF_COLD_FN_ void perf_put_rates_(perf_out_ *o, const perf_result *r)
{
    if (!r->time.count || !(r->time.p50 > 0.0) || !(r->opts.bytes > 0.0 || r->opts.items > 0.0))
        return;
    perf_put_(o, "    ");
    if (r->opts.bytes > 0.0) {
        perf_put_fixed_(o, r->opts.bytes / r->time.p50, 3);
        perf_put_(o, " GB/s  ");
    }
    if (r->opts.items > 0.0) {
        perf_put_fixed_(o, r->opts.items / r->time.p50 * 1e3, 3);
        perf_put_(o, " M items/s");
    }
    perf_put_(o, "\n");
}

PERF_FN void perf_put_ab_(perf_out_ *o, const perf_loop_ *l);

/* Benches and comparisons in the order they were begun; follows perf_registry_get_()->results. */
PERF_FN void perf_report_results_(perf_out_ *o)
{
    perf_registry_ *r = PERF_ACQ_(&perf_anchor_v1_.registry);
    perf_loop_     *l, *first, *stop = PERF_CAST_(perf_loop_ *, PERF_NULL_);

    if (!r || !PERF_ACQ_(&r->results))
        return;
    perf_put_(o, "\n  benchmark                                median [95 % interval]");
    perf_put_(o, "       p95       p99      cold\n");
    first = PERF_CAST_(perf_loop_ *, PERF_ACQ_(&r->results));
    while (stop != first) {                         /* the list is newest first: walk it backwards */
        for (l = first; l->next != stop; l = l->next)
            ;
        stop = l;
        if (!PERF_ACQ_(&l->done)) {
            perf_put_(o, "  ");
            perf_put_name_(o, l->name, 30);
            perf_put_(o, "   begun, but not ended\n");
        } else if (l->kind == 1) {
            const perf_result *b = &PERF_PTR_(perf_bench_state_ *, l)->result;
            if (b->time.count) {
                perf_put_loop_row_(o, l->name, "", &b->time, b->cold_ns);
                perf_put_rates_(o, b);
            } else {
                perf_put_(o, "  ");
                perf_put_name_(o, l->name, 30);
                perf_put_(o, "   not measured: ");
                perf_put_(o, perf_status_text(b->status));
                perf_put_(o, "\n");
            }
            perf_put_warnings_(o, b->warnings);
        } else {
            perf_put_ab_(o, l);
        }
    }
}

/* ---- ab ---- */

typedef struct perf_ab_state_ {
    perf_loop_     loop;                /* first: the list is of these                            */
    perf_ab_opts   opts;
    perf_slice_    arm[2];
    perf_seq       seq;
    double         overhead_ns, tick_ns, pending_ns;
    uint64_t       t0, began, coin;
    int            phase, variant, second, left_to_warm, typical;
    perf_status    status;
    uint32_t       warnings;
    perf_ab_result result;
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

PERF_FN perf_ab_opts perf_ab_opts_resolved(const perf_ab_opts *opts)
{
    perf_ab_opts o = opts ? *opts : perf_ab_opts_default();

    o.accept = perf_compare_opts_resolved(&o.accept);
    o.accept.design = PERF_DESIGN_RANDOM;
    o.min_pairs = o.min_pairs > 0 ? o.min_pairs : 30;
    if (o.max_pairs <= 0)
        o.max_pairs = perf_metric_is_typical_(o.accept.rule.metric) ? 5000 : 400;
    if (o.max_pairs > PERF_LOOP_MAX_SAMPLES_)
        o.max_pairs = PERF_LOOP_MAX_SAMPLES_;
    if (o.min_pairs > o.max_pairs)
        o.min_pairs = o.max_pairs;
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    o.slice_ns = perf_or_default_(o.slice_ns, 1e3, 1e9, 50e3);
    return o;
}

PERF_FN int perf_coin_(uint64_t *state)
{
    return PERF_CAST_(int, perf_random_(state) >> 63);
}

PERF_COLD_FN_ perf_ab_state_ *perf_ab_open_(const char *name, const perf_ab_opts *opts,
                                            int optimised)
{
    perf_ab_opts    o = perf_ab_opts_resolved(opts);
    size_t          room = PERF_CAST_(size_t, o.max_pairs);
    perf_ab_state_ *s = PERF_CAST_(perf_ab_state_ *, perf_loop_pages_(sizeof *s, 2 * room));

    if (!s)
        return s;
    s->opts = o;
    s->arm[0].ns = PERF_PTR_(double *, s + 1);
    s->arm[1].ns = s->arm[0].ns + room;
    if (!optimised)
        s->warnings |= PERF_WARN_UNOPTIMISED;
    s->began = perf_now();
    if (!s->opts.seed)
        s->opts.seed = (s->began ^ (perf_ticks() << 20)) | 1;
    s->coin = s->opts.seed;
    s->typical = perf_metric_is_typical_(s->opts.accept.rule.metric);
    s->left_to_warm = 3;
    s->arm[0].batch = s->arm[1].batch = 1;
    if (perf_is_nan_(perf_rule_threshold(&s->opts.accept.rule)) ||
        perf_is_nan_(s->opts.accept.confidence)) {
        s->status = PERF_EINVAL;
        s->phase = PERF_LOOP_DONE_;
    }
    perf_loop_clock_(&s->overhead_ns, &s->tick_ns);
    perf_loop_add_(&s->loop, 2, name);
    return s;
}

/* The log resolution of one pair, from the step of the clock and the length of the slices. */
PERF_FN double perf_ab_tick_(const perf_ab_state_ *s)
{
    double a = s->arm[0].fastest, b = s->arm[1].fastest;

    return a > 0.0 && b > 0.0 ? 0.5 * (s->tick_ns / a + s->tick_ns / b) : 0.0;
}

/* One pair is complete.  1: stop. */
PERF_FN int perf_ab_pair_(perf_ab_state_ *s, int late)
{
    size_t        n = s->arm[0].count;
    perf_decision d = PERF_INCONCLUSIVE;

    if (s->typical)
        d = perf_seq_add(&s->seq, s->arm[0].ns[n - 1], s->arm[1].ns[n - 1]);
    if (n >= PERF_CAST_(size_t, s->opts.max_pairs) || (late && n >= 3))
        return 1;
    return d != PERF_INCONCLUSIVE && n >= PERF_CAST_(size_t, s->opts.min_pairs);
}

PERF_FN uint64_t perf_ab_stop_(perf_ab_state_ *s, perf_status why)
{
    s->status = why;
    s->phase = PERF_LOOP_DONE_;
    return 0;
}

/* A slice has ended: file its time, choose the next one.  Returns 2 * iterations + variant, or 0. */
PERF_COLD_FN_ uint64_t perf_ab_slice_(perf_ab_state_ *s)
{
    uint64_t     t = perf_now();
    perf_slice_ *p;
    double       ns;
    int          late;

    if (!s || s->phase == PERF_LOOP_DONE_)
        return 0;
    p = &s->arm[s->variant];
    ns = PERF_CAST_(double, t - s->t0) - s->overhead_ns;
    ns = ns > 0.0 ? ns : 0.0;
    late = PERF_CAST_(double, t - s->began) > s->opts.max_seconds * 1e9;
    if (s->phase != PERF_LOOP_START_)
        p->runs += p->batch;
    switch (s->phase) {
    case PERF_LOOP_START_:
        s->variant = perf_coin_(&s->coin);
        s->phase = PERF_LOOP_COLD_;
        break;
    case PERF_LOOP_COLD_:
        p->cold_ns = ns;
        s->variant ^= 1;
        if (s->arm[s->variant].runs)
            s->phase = PERF_LOOP_GROW_;
        break;
    case PERF_LOOP_GROW_:                           /* first one variant, then the other          */
        if (!perf_slice_grow_(p, ns, s->opts.slice_ns))
            return perf_ab_stop_(s, PERF_EDELETED);
        if (p->steady || late) {
            p->steady = 1;
            s->variant ^= 1;
            if (s->arm[s->variant].steady) {
                s->phase = late ? PERF_LOOP_SAMPLE_ : PERF_LOOP_WARM_;
                (void)perf_seq_init(&s->seq, &s->opts.accept.rule, s->opts.accept.confidence,
                                    perf_ab_tick_(s));
                s->variant = perf_coin_(&s->coin);
            }
        }
        break;
    case PERF_LOOP_WARM_:
    default:                                        /* pairs: coin, one, other                    */
        if (!s->second) {
            s->pending_ns = ns / PERF_CAST_(double, p->batch);
            s->second = 1;
            s->variant ^= 1;
            break;
        }
        s->second = 0;
        if (s->phase == PERF_LOOP_WARM_) {
            if (--s->left_to_warm <= 0 || late)
                s->phase = PERF_LOOP_SAMPLE_;
        } else {
            s->arm[s->variant ^ 1].ns[s->arm[s->variant ^ 1].count++] = s->pending_ns;
            p->ns[p->count++] = ns / PERF_CAST_(double, p->batch);
            if (perf_ab_pair_(s, late))
                return perf_ab_stop_(s, PERF_OK);
        }
        s->variant = perf_coin_(&s->coin);
    }
    s->t0 = perf_now();
    return 2 * s->arm[s->variant].batch + PERF_CAST_(uint64_t, s->variant);
}

/* The verdict of the pairs: what the bets decided, with the interval that goes with them. */
PERF_COLD_FN_ perf_verdict perf_ab_verdict_(perf_ab_state_ *s, size_t n)
{
    perf_verdict  v = perf_verdict_start_(&s->opts.accept);
    perf_interval i;
    double       *d;
    size_t        k;

    if (!n || v.status != PERF_OK)
        return v;
    if (!s->typical)
        return perf_compare_pairs(s->arm[0].ns, s->arm[1].ns, n, &s->opts.accept);
    d = PERF_CAST_(double *, PERF_MALLOC(n * sizeof(double)));
    if (!d) {
        v.status = PERF_ENOMEM;
        return v;
    }
    for (k = 0; k < n; k++)
        d[k] = perf_log(s->arm[1].ns[k]) - perf_log(s->arm[0].ns[k]);
    i = perf_seq_interval(d, n, s->opts.accept.confidence);
    PERF_FREE(d);
    v.pairs = n;
    v.bad = s->seq.bad;
    perf_verdict_finish_(&v, perf_widen_(i, perf_ab_tick_(s)), PERF_CAST_(double, n),
                         &s->opts.accept);
    if (v.decision == PERF_ACCEPT && s->seq.decision != PERF_ACCEPT)
        perf_verdict_cap_(&v, "the interval contains the threshold");
    return v;
}

PERF_COLD_FN_ perf_ab_result perf_ab_close_(perf_ab_state_ *s, uint64_t left)
{
    perf_ab_result r = PERF_ZERO;
    uint32_t       empty[2];
    size_t         n;

    if (!s || PERF_ACQ_(&s->loop.done)) {
        r.status = r.verdict.status = !s && left ? PERF_ENOMEM : PERF_ESTATE;
        r.verdict.reason = perf_status_text(r.status);
        return r;
    }
    n = s->arm[0].count < s->arm[1].count ? s->arm[0].count : s->arm[1].count;
    r.cold_baseline_ns = s->arm[0].cold_ns;
    r.cold_candidate_ns = s->arm[1].cold_ns;
    r.overhead_ns = s->overhead_ns;
    r.batch_baseline = s->arm[0].batch;
    r.batch_candidate = s->arm[1].batch;
    r.seconds = PERF_CAST_(double, perf_now() - s->began) * 1e-9;
    r.opts = s->opts;
    r.status = s->status;
    r.warnings = s->warnings;
    if (s->status != PERF_OK)
        n = 0;                                      /* never a plausible time beside a failure     */
    r.verdict = perf_ab_verdict_(s, n);
    if (n) {
        r.baseline = perf_summarize(s->arm[0].ns, n);
        r.candidate = perf_summarize(s->arm[1].ns, n);
        empty[0] = perf_slice_warnings_(&s->arm[0], &r.baseline, s->overhead_ns);
        empty[1] = perf_slice_warnings_(&s->arm[1], &r.candidate, s->overhead_ns);
        r.warnings |= ((empty[0] | empty[1]) & ~PERF_CAST_(uint32_t, PERF_WARN_DRIFT)) |
                      r.verdict.warnings;          /* pairs do not mind a drift                  */
        if (empty[1] & PERF_WARN_EMPTY_BODY)
            perf_verdict_cap_(&r.verdict, "the candidate takes little longer than an empty loop: was it "
                                          "deleted? perf_keep() its result");
        else if (empty[0] & PERF_WARN_EMPTY_BODY)
            perf_verdict_cap_(&r.verdict, "the baseline takes little longer than an empty loop: was it "
                                          "deleted? perf_keep() its result");
    } else {
        if (s->status == PERF_OK)
            r.status = PERF_ENODATA;
        r.verdict.status = r.status;
        r.verdict.reason = s->status == PERF_EDELETED
            ? s->variant ? "the compiler deleted the candidate's body: perf_keep() its result"
                         : "the compiler deleted the baseline's body: perf_keep() its result"
            : perf_status_text(r.status);
    }
    if (s->phase != PERF_LOOP_DONE_)
        r.warnings |= PERF_WARN_STOPPED;
    s->phase = PERF_LOOP_DONE_;
    s->result = r;
    PERF_REL_(&s->loop.done, 1);
    return r;
}

#if PERF_DISABLE
PERF_FN perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts)
{
    perf_ab ab = {2, PERF_NULL_, 0};            /* the baseline runs once, unmeasured             */
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
    r.verdict.status = PERF_EDISABLED;
    r.verdict.reason = perf_status_text(PERF_EDISABLED);
    return r;
}
#else
PERF_INLINE_FN_ perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts)
{
    perf_ab ab;

    ab.left = 1;
    ab.state = perf_ab_open_(name, opts, PERF_OPTIMISED_);
    ab.variant = -1;
    return ab;
}

PERF_INLINE_FN_ int perf_ab_next(perf_ab *ab)
{
    uint64_t n;

    if (PERF_LIKELY_(--ab->left != 0))
        return ab->variant;
    n = perf_ab_slice_(ab->state);
    ab->left = n ? n >> 1 : 1;
    ab->variant = n ? PERF_CAST_(int, n & 1) : -1;
    return ab->variant;
}

PERF_INLINE_FN_ perf_ab_result perf_ab_end(perf_ab *ab)
{
    struct perf_ab_state_ *state = ab->state;
    uint64_t               left = ab->left;

    ab->state = PERF_CAST_(perf_ab_state_ *, PERF_NULL_);
    ab->left = 0;
    return perf_ab_close_(state, left);
}
#endif

/* Both arms and the verdict, for perf_report. */
PERF_FN void perf_put_ab_(perf_out_ *o, const perf_loop_ *l)
{
    perf_ab_result r = PERF_PTR_(const perf_ab_state_ *, l)->result;

    if (r.baseline.count) {
        perf_put_loop_row_(o, l->name, ", baseline", &r.baseline, r.cold_baseline_ns);
        perf_put_loop_row_(o, l->name, ", candidate", &r.candidate, r.cold_candidate_ns);
    }
    perf_put_(o, "  ");
    perf_put_(o, l->name);
    perf_put_(o, ": ");
    perf_put_(o, perf_verdict_text(&r.verdict));
    perf_put_(o, "\n");
    perf_put_warnings_(o, r.warnings);
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
#elif PERF_SCOPE_EMPTY_
extern perf_scope perf_none_;   /* no bytes: never read, never linked                              */
#define perf_scope_begin(name) (PERF_CAST_(void, sizeof(name)), perf_none_)
#endif
#if defined(__GNUC__) && !defined(__cplusplus)
#undef PERF_OFF_CODE_           /* an inline function leaves a nop behind at -O0                   */
#define PERF_OFF_CODE_(call) (__extension__({ (void)sizeof(call); PERF_EDISABLED; }))
#endif
#define perf_scope_end(scope) PERF_OFF_(perf_scope_end(scope))
#define perf_enable(on)       PERF_OFF_(perf_enable(on))
#define perf_report()         PERF_OFF_CODE_(perf_report())
#define perf_report_to(...)   PERF_OFF_CODE_(perf_report_to(__VA_ARGS__))
#define perf_trace_save(path) PERF_OFF_CODE_(perf_trace_save(path))
#endif

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

#ifdef __cplusplus
namespace perf {

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
template <class Type_> inline void perf_keep(Type_ *const &p)       /* what it points to counts as read    */
{
    __asm__ __volatile__("" : : "r"(p),
                         "m"(*reinterpret_cast<char (*)[]>(reinterpret_cast<uintptr_t>(p))));
}
#endif
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
#endif /* PERF_H */
