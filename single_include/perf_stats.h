/* perf_stats.h in one file, made by tools/single.py of the headers of the repository. */
/* ==== perf_stats.h ==== */
/* perf_stats.h - summaries, confidence intervals, accept/reject decisions.
 *
 *     perf_summary s = perf_summarize(ns, 100);      // median, p95, p99 with their intervals
 *
 *     perf_verdict v = perf_compare_pairs(old_ns, new_ns, 30, NULL);   // taken in random order
 *     puts(perf_verdict_text(&v));                   // "ACCEPT: speed-up 1.42x (95 % CI ..."
 *
 * C99, C++11, CUDA, Cython.  libc only, no -lm, no global state, no clock, no thread.
 * It measures nothing itself: perf.h does, and has its numbers judged here.
 * Sections (search for ">>"):  summary  compare  sequential  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_STATS_H
#define PERF_STATS_H

/* ==== perf_hist.h ==== */
/* perf_hist.h - a histogram that keeps every percentile of any number of values.
 *
 *     perf_hist h = PERF_ZERO;                       // ready: nothing to set up or free
 *     for (i = 0; i < n; i++) perf_hist_add(&h, ns[i]);
 *     printf("p99 = %.0f ns\n", perf_hist_quantile(&h, 0.99));
 *
 * C99, C++11, CUDA, HIP, Cython.  libc only, no -lm, no global state, no clock, no thread.
 * Sections (search for ">>"):  histogram  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_HIST_H
#define PERF_HIST_H

/* ==== perf_math.h ==== */
/* perf_math.h - what libm would give without linking it, distributions, one sort, quantiles.
 *
 *   double z = perf_normal_quantile_(0.975);               // 1.96
 *   double p = 2.0 * perf_t_cdf_(-2.5, 12.0);              // two-sided p-value of t = -2.5
 *
 * For the library itself: verdicts are made of it (perf_stats.h).  No state, no allocation.
 * docs/statistics-evidence.md has the errors measured against 60-digit references.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_MATH_H
#define PERF_MATH_H

/* ==== perf_base.h ==== */
/* perf_base.h - the words that every header of perf.h shares: version, status, compilers, systems.
 *
 *     #include "perf_base.h"
 *     puts(perf_status_text(PERF_ENODATA));          // "no data"
 *
 * It includes <stddef.h> and <stdint.h> only.  You rarely need it by itself: perf.h brings it.
 * Sections (search for ">>"):  config  compiler  types  system  internal
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_BASE_H
#define PERF_BASE_H

#if !defined(__GNUC__) && !defined(__TINYC__)
#error "perf.h needs a compiler that speaks GNU C: gcc, clang, nvcc, tcc; on Windows those of mingw"
#endif
/* One sentence and no more: the #include cannot be found, which ends the compilation. */
#if defined(__cplusplus) && __cplusplus < 201103L
#error "perf.h needs C++11: compile with -std=c++11 or later"
#include <perf.h needs C++11>
#elif !defined(__cplusplus) && defined(__STRICT_ANSI__) &&                                        \
    (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "perf.h needs C99: compile with -std=c99, -std=gnu99 or later (-ansi is C90)"
#include <perf.h needs C99>
#endif

/* The one hand-written version of the project: major * 10000 + minor * 100 + patch. */
#define PERF_VERSION 100

#include <stddef.h>
#include <stdint.h>

/* >>config ----------------------------------------------------------------------------------
 * Every macro may be set before the first include (or with -D).  None changes the layout of
 * anything that two files share, so files built with different settings link together.          */

#ifndef PERF_DISABLE
#define PERF_DISABLE 0          /* 1: every scope, timer and PERF_ macro compiles to nothing      */
#endif
#ifndef PERF_MALLOC             /* scratch for sorting more than a few hundred values; may fail   */
#if !defined(__TINYC__) && !defined(__Aro__)
#define PERF_MALLOC(bytes) __builtin_malloc(bytes)   /* no user has to parse <stdlib.h>           */
#define PERF_FREE(p)       __builtin_free(p)         /* gives back what PERF_MALLOC gave          */
#else
#include <stdlib.h>
#define PERF_MALLOC(bytes) malloc(bytes)
#define PERF_FREE(p)       free(p)
#endif
#endif

/* >>compiler --------------------------------------------------------------------------------- */

/* PERF_QUIET_ silences two warnings.  gcc warns of `inline` and `noinline` in one declaration (see
 * PERF_COLD_FN_).  clang as the host compiler of nvcc, which shows it no headers, warns of
 * functions that are not used.  PERF_QUIET_CASTS_: casts that 32-bit machines need are useless on
 * others, and {0} is C alone.                                                                    */
#if defined(__clang__) || defined(__TINYC__)
#define PERF_QUIET_CASTS_
#elif defined(__cplusplus)
#define PERF_QUIET_CASTS_ _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
#else
#define PERF_QUIET_CASTS_ _Pragma("GCC diagnostic ignored \"-Wc++-compat\"")
#endif
#if defined(__GNUC__) && !defined(__TINYC__) && (!defined(__clang__) || defined(__NVCC__))
#define PERF_QUIET_                                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wattributes\"")            \
        _Pragma("GCC diagnostic ignored \"-Wunused-function\"") PERF_QUIET_CASTS_
#define PERF_LOUD_  _Pragma("GCC diagnostic pop")
#else
#define PERF_QUIET_
#define PERF_LOUD_
#endif
#ifdef __cplusplus
#define PERF_BEGIN_DECLS PERF_QUIET_ extern "C" {   /* around declarations that C and C++ share   */
#define PERF_END_DECLS   } PERF_LOUD_               /* closes PERF_BEGIN_DECLS                    */
#define PERF_ZERO        {}                     /* spells "all zero" without a warning            */
#define PERF_NULL_       nullptr
#define PERF_CAST_(T, x) static_cast<T>(x)
#define PERF_PTR_(T, p)  reinterpret_cast<T>(p) /* T is a pointer type                            */
#else
#define PERF_BEGIN_DECLS PERF_QUIET_
#define PERF_END_DECLS   PERF_LOUD_
#define PERF_ZERO        {0}
#define PERF_NULL_       ((void *)0)
#define PERF_CAST_(T, x) ((T)(x))
#define PERF_PTR_(T, p)  ((T)(p))
#endif

#ifdef PERF_AUTO                /* -finstrument-functions leaves our functions out: perf_auto.h   */
#define PERF_OURS_ PERF_ATTR_((__no_instrument_function__))
#define PERF_FN static inline PERF_OURS_
#define PERF_OUTLINE_FN_ PERF_FN PERF_ATTR_((__noinline__, __nothrow__))
#define PERF_COLD_FN_ PERF_OUTLINE_FN_
#define PERF_INLINE_FN_ PERF_FN PERF_ATTR_((__always_inline__))
#else
#define PERF_OURS_
#define PERF_FN static inline                   /* every public function: no symbol, no link      */
/* Never inlined: OUTLINE for functions that run often, COLD for those that seldom run.  They are
 * `inline` as well, so that an unused one leaves no code at -O0.                                 */
#define PERF_OUTLINE_FN_ static inline PERF_ATTR_((__noinline__, __nothrow__))
#define PERF_COLD_FN_    static inline PERF_ATTR_((__noinline__, __cold__, __nothrow__))
#define PERF_INLINE_FN_  static inline PERF_ATTR_((__always_inline__))
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PERF_HD_FN static inline __host__ __device__
#else
#define PERF_HD_FN PERF_FN                      /* callable from kernels where there are kernels  */
#endif

#if defined(__TINYC__)
#define PERF_ATTR_(x) __attribute(x)            /* glibc erases __attribute__ for tcc (measured)  */
#else
#define PERF_ATTR_(x) __attribute__(x)
#endif
#define PERF_LIKELY_(x)   __builtin_expect(!!(x), 1)
#define PERF_UNLIKELY_(x) __builtin_expect(!!(x), 0)
/* A function of <string.h> as a builtin: files that only mark scopes need not parse that header. */
#if !defined(__TINYC__) && !defined(__Aro__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define PERF_LIBC_(function) __builtin_##function
#else
#include <string.h>
#define PERF_LIBC_(function) function
#endif

#define PERF_CAT2_(a, b) a##b
#define PERF_CAT_(a, b)  PERF_CAT2_(a, b)

PERF_BEGIN_DECLS

/* >>types ------------------------------------------------------------------------------------- */

/* All statuses in one list: the enum, the texts and the docs are made from it. */
#define PERF_STATUS_LIST_(X)                                                                      \
    X(PERF_OK,        "ok")                                                                       \
    X(PERF_EINVAL,    "invalid argument")                                                         \
    X(PERF_ENODATA,   "no data")                                                                  \
    X(PERF_ENOMEM,    "out of memory")                                                            \
    X(PERF_EIO,       "input/output error")                                                       \
    X(PERF_EFORMAT,   "malformed or truncated data")                                              \
    X(PERF_ERANGE,    "value out of range")                                                       \
    X(PERF_ESTATE,    "called out of order (no begin, no resume, or already ended)")              \
    X(PERF_EDELETED,  "the compiler deleted the body: pass its result to perf_keep()")            \
    X(PERF_EDISABLED, "compiled with PERF_DISABLE=1")                                             \
    X(PERF_ELIMIT,    "a fixed limit of this library was reached")                                \
    X(PERF_ENOGPU,    "no GPU: no driver, no device, or no context current in this thread")       \
    X(PERF_EGPU,      "the GPU's driver reported an error: see perf_gpu_error_text()")            \
    X(PERF_ESTREAM,   "nothing ran on the timed stream: was it launched on another one?")         \
    X(PERF_EFAILED,   "the benchmark says that it failed: perf_bench_fail()")                     \
    X(PERF_EFOREIGN,  "no file of this kind, or one of a newer version: left as it is")

#define PERF_STATUS_ENUM_(name, text) name,
/* The result of a call that can fail; PERF_OK is 0. */
typedef enum perf_status { PERF_STATUS_LIST_(PERF_STATUS_ENUM_) PERF_STATUS_COUNT_ } perf_status;
#undef PERF_STATUS_ENUM_

PERF_HD_FN uint64_t perf_bits_(double x)
{
    uint64_t bits;
    PERF_LIBC_(memcpy)(&bits, &x, sizeof bits);
    return bits;
}

PERF_HD_FN double perf_from_bits_(uint64_t bits)
{
    double x;
    PERF_LIBC_(memcpy)(&x, &bits, sizeof x);
    return x;
}

/* Tests the bits: -ffast-math may fold x == x to 1, but never this. */
PERF_HD_FN int perf_is_nan_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000);
}

/* Static English text of a status; never NULL, "unknown status" for any other number. */
PERF_FN const char *perf_status_text(perf_status status);

/* >>system ------------------------------------------------------------------------------------
 * The one place that knows compilers and systems.  Strict C99 hides system calls, and in a header a
 * feature macro comes too late: so they are declared here, by our names on the symbols of libc.  */

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define PERF_ARCH_X86_ 1
#else
#define PERF_ARCH_X86_ 0
#endif
#if defined(__TINYC__) || defined(__Aro__)      /* Aro: what zig translates C with */
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
#elif defined(__linux__) && defined(__i386__)
#define PERF_SYS_GETTID_ 224L
#define PERF_SYS_TGKILL_ 270L
#elif defined(__linux__) && defined(__ARM_EABI__)
#define PERF_SYS_GETTID_ 224L
#define PERF_SYS_TGKILL_ 268L
#else
#define PERF_SYS_GETTID_ 0L     /* 0: a thread's number is the address of its variable            */
#endif

#if PERF_TCC_
#define PERF_WEAK_              /* a common symbol: tcc has no working weak data (measured)       */
#define PERF_THREAD_
#elif defined(_WIN32)
#define PERF_WEAK_   __attribute__((__weak__))
#define PERF_THREAD_ __thread
#else
#define PERF_WEAK_   __attribute__((__weak__, __visibility__("hidden")))
#define PERF_THREAD_ __thread
#endif
#define PERF_HOT_FN_    PERF_FN PERF_ATTR_((__noinline__, __hot__, __nothrow__))
#if defined(__cplusplus)
#define PERF_COLD_DECL_ PERF_FN PERF_ATTR_((__nothrow__))       /* the prototype of a COLD one    */
#else
#define PERF_COLD_DECL_ PERF_FN /* in C no call throws */
#endif

/* NOTES: images find each other by ELF notes.  ONE_CORE: one core serves all files, put in place
 * by an early constructor.  Elsewhere (tcc, Windows, macOS, 32 bits) each file has a core.       */
#if defined(__ELF__) && PERF_LP64_UNIX_ && !PERF_TCC_ &&                                          \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#define PERF_NOTES_ 1
#else
#define PERF_NOTES_ 0
#endif
#if PERF_NOTES_ && !defined(__riscv) && !defined(__code_model_large__)
#define PERF_ONE_CORE_ 1
#else
#define PERF_ONE_CORE_ 0
#endif

/* Defines `name`, a function that returns the table of functions which another file leaves under
 * `symbol` (PERF_ENGINE_).  One word of data in the program wants it: where no file has one, the
 * linker says in one line the symbol, which is a sentence.                                       */
#if defined(__PIC__) && !defined(__PIE__)   /* a shared library would say it when it is loaded    */
#define PERF_WANTED_HIDDEN_(symbol) "\n.hidden " symbol
#else
#define PERF_WANTED_HIDDEN_(symbol)
#endif
#define PERF_WANTED_FN_(type, name, symbol)                                                       \
    extern const type *const *const PERF_CAT_(name, at_) __asm__(#name "at_")                     \
        PERF_ATTR_((__visibility__("hidden")));                                                   \
    PERF_FN const type *name(void)                                                                \
    {                                                                                             \
        __asm__ __volatile__(".ifndef " #name "at_\n.pushsection .data.rel.ro.perf_h,\"awG\","    \
                             "%%progbits," #name "at_,comdat\n.balign 8\n.weak " #name "at_\n"    \
                             ".hidden " #name "at_\n.type " #name "at_, %%object\n" #name         \
                             "at_:\n.quad " symbol PERF_WANTED_HIDDEN_(symbol)                    \
                             "\n.popsection\n.endif\n" : :);                                      \
        return *PERF_CAT_(name, at_);                                                             \
    }

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

#if defined(__SANITIZE_ADDRESS__) || PERF_TSAN_
#define PERF_SANITIZED_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PERF_SANITIZED_ 1
#endif
#endif
#ifndef PERF_SANITIZED_
#define PERF_SANITIZED_ 0
#endif

/* GET, SET: relaxed, for counters with one writer: the code of plain ones on 64-bit machines, yet
 * no data race for the standard or ThreadSanitizer.  ACQ, REL: acquire and release.  The numbers
 * are __ATOMIC_RELAXED 0, ACQUIRE 2, RELEASE 3: their names cost 0.9 M instructions in C++.      */
#if PERF_TCC_
#define PERF_GET_(p)    (*(p))
#define PERF_SET_(p, v) ((void)(*(p) = (v)))
#define PERF_ACQ_(p)    (*(p))
#define PERF_REL_(p, v) ((void)(*(p) = (v)))
#else
#define PERF_GET_(p)    __atomic_load_n(p, 0)   /* nvcc 13 crashes on -> right behind a    */
#define PERF_SET_(p, v) __atomic_store_n(p, v, 0)
#define PERF_ACQ_(p)    __atomic_load_n(p, 2)   /* load: say (*PERF_ACQ_(p)).x instead     */
#define PERF_REL_(p, v) __atomic_store_n(p, v, 3)
#endif

extern char *perf_getenv_any_(const char *) __asm__(PERF_SYM_("getenv"));
#if defined(__linux__) && !defined(__ANDROID__)
extern int *perf_errno_(void) __asm__(PERF_SYM_("__errno_location"));   /* the header costs more  */
#define PERF_ERRNO_ (*perf_errno_())
#else
#include <errno.h>
#define PERF_ERRNO_ errno
#endif
#if defined(_WIN32)             /* 64-bit only                                                    */
extern int           perf_qpc_(int64_t *) __asm__("QueryPerformanceCounter");
extern int           perf_qpf_(int64_t *) __asm__("QueryPerformanceFrequency");
extern unsigned long perf_win_tid_(void) __asm__("GetCurrentThreadId");
#define perf_sched_yield_() 0
#else
extern int perf_sched_yield_(void) __asm__(PERF_SYM_("sched_yield"));
#if PERF_LP64_UNIX_
extern long perf_fd_write_(int, const void *, size_t) __asm__(PERF_SYM_("write"));
#endif
#if defined(__linux__) && (PERF_LP64_UNIX_ || !defined(__x86_64__))
#define PERF_OWN_TIMESPEC_ 1    /* 32-bit Linux: the plain symbol keeps 32-bit times for ever     */
#define PERF_CLOCK_MONOTONIC_ID_ 1
#define PERF_CLOCK_PROCESS_ID_   2
#define PERF_CLOCK_THREAD_ID_    3
struct perf_timespec_ {
    long sec, nsec;
};
extern int perf_clock_gettime_(int, struct perf_timespec_ *) __asm__(PERF_SYM_("clock_gettime"));
#else
#define PERF_OWN_TIMESPEC_ 0
PERF_END_DECLS
#include <time.h>
#if !defined(CLOCK_MONOTONIC)
#error "perf.h: this system shows its clock with -std=gnu99 (or -D_POSIX_C_SOURCE=199309L)"
#endif
PERF_BEGIN_DECLS
#define PERF_CLOCK_MONOTONIC_ID_ CLOCK_MONOTONIC
#define PERF_CLOCK_PROCESS_ID_   CLOCK_PROCESS_CPUTIME_ID
#define PERF_CLOCK_THREAD_ID_    CLOCK_THREAD_CPUTIME_ID
#endif
#endif

/* >>internal: what other headers may use ----------------------------------------------------------
 *   PERF_CAST_, PERF_PTR_, PERF_NULL_  casts, and NULL, without a warning in C and C++
 *   PERF_ATTR_, PERF_LIKELY_, PERF_UNLIKELY_, PERF_LIBC_  attributes, hints for branches, builtins
 *   PERF_OURS_  a function that is none of the user's
 *   PERF_CAT_, PERF_CAT2_, PERF_STR_, PERF_SYM_  paste, quote, the symbol of a function of libc
 *   PERF_COLD_FN_, PERF_COLD_DECL_, PERF_OUTLINE_FN_, PERF_HOT_FN_, PERF_INLINE_FN_  kinds of them
 *   PERF_WEAK_, PERF_THREAD_  an object that an image has once; that each thread has
 *   PERF_GET_, PERF_SET_, PERF_ACQ_, PERF_REL_  atomic: load, store
 *   PERF_ARCH_X86_, PERF_TCC_, PERF_TSAN_, PERF_SANITIZED_, PERF_LP64_UNIX_
 *       1: compiled for it
 *   PERF_WANTED_FN_  a table of functions that another file of the program has
 *   PERF_NOTES_, PERF_ONE_CORE_, PERF_SYS_GETTID_, PERF_SYS_TGKILL_  how threads and images meet
 *   perf_timespec_, perf_sched_yield_, perf_fd_write_; Windows: perf_qpc_, perf_qpf_, perf_win_tid_
 *   PERF_ERRNO_  errno; perf_getenv_any_  getenv: see perf_getenv_
 *   PERF_CLOCK_*_ID_        of clocks
 *   PERF_INF_, PERF_NAN_, perf_is_finite_, perf_is_nan_, perf_bits_, perf_from_bits_  doubles
 *   perf_is_zero_, perf_is_duration_, perf_fabs_, perf_least_, perf_most_, perf_or_default_: same
 *   perf_clamp_  a count within limits; perf_since_  ns between two readings of a clock
 *   PERF_ADD_, PERF_PEEK_  a counter that one thread writes
 *   perf_system_ns_  nanoseconds; PERF_OFF_, PERF_OFF_CODE_  a call with PERF_DISABLE            */

#define PERF_STATUS_TEXT_(name, text) text,
PERF_FN const char *perf_status_text(perf_status status)
{
    static const char *const texts[] = {PERF_STATUS_LIST_(PERF_STATUS_TEXT_) "unknown status"};

    return texts[status < PERF_STATUS_COUNT_ ? status : PERF_STATUS_COUNT_];
}
#undef PERF_STATUS_TEXT_

/* ---- numbers the compiler may not fold away under -ffast-math ---- */

#define PERF_INF_ perf_from_bits_(UINT64_C(0x7ff0000000000000))
#define PERF_NAN_ perf_from_bits_(UINT64_C(0x7ff8000000000000))

PERF_HD_FN int perf_is_finite_(double x)
{
    return (perf_bits_(x) & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
}

/* 1: x is 0, of either sign. */
PERF_FN int perf_is_zero_(double x)
{
    return !(perf_bits_(x) << 1);
}

/* |x| */
PERF_FN double perf_fabs_(double x)
{
    if (x < 0.0)
        return -x;
    return x;
}

/* The smaller of two numbers; b if one is NaN. */
PERF_FN double perf_least_(double a, double b)
{
    if (a < b)
        return a;
    return b;
}

/* The larger of two numbers; b if one is NaN. */
PERF_FN double perf_most_(double a, double b)
{
    if (a > b)
        return a;
    return b;
}

/* x, at least low, at most high; `otherwise` where x is not above 0, or NaN. */
PERF_FN double perf_or_default_(double x, double low, double high, double otherwise)
{
    if (!(x > 0.0))
        return otherwise;
    return perf_most_(perf_least_(x, high), low);
}

/* 1: finite and above 0. */
PERF_FN int perf_is_duration_(double x)
{
    return perf_is_finite_(x) && x > 0.0;
}

/* n, at least low, at most high. */
PERF_FN int perf_clamp_(int n, int low, int high)
{
    if (n < low)
        return low;
    if (n > high)
        return high;
    return n;
}

/* ns between two readings of a clock; below 0 if it was set back. */
PERF_FN double perf_since_(uint64_t then, uint64_t now)
{
    return PERF_CAST_(double, PERF_CAST_(int64_t, now - then));
}

/* ---- counters of one thread ---- */

/* A counter that only its thread writes and reports read: one instruction, also without
 * optimisation, so that a signal handler may add to it, too.  Aligned words do not tear on any
 * machine this runs on; for ThreadSanitizer they are atomics, at three instructions.             */
#if PERF_TSAN_
#define PERF_ADD_(x, n) PERF_SET_(&(x), PERF_GET_(&(x)) + (n))
#define PERF_PEEK_(x)   PERF_GET_(&(x))         /* what other threads write now and then          */
#else
#define PERF_PEEK_(x)   (x)
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_
#define PERF_ADD_ASM_
#define PERF_ADD_(x, n) perf_add_(&(x), n, sizeof(x) == 8)
PERF_INLINE_FN_ void perf_add_(void *memory, uint64_t n, int wide)
{
    if (wide)
        __asm__("add{q %1, %0| qword ptr %0, %1}" : "+m"(*PERF_CAST_(uint64_t *, memory))
                              : "er"(n) : "cc");
    else
        __asm__("add{l %1, %0| dword ptr %0, %1}" : "+m"(*PERF_CAST_(uint32_t *, memory))
                              : "er"(PERF_CAST_(uint32_t, n)) : "cc");
}
#else
#define PERF_ADD_(x, n) ((void)((x) += (n)))
#endif
#endif

/* ---- the system's clocks ---- */

#if defined(_WIN32)
enum { PERF_CLOCK_MONOTONIC_ID_ = 1, PERF_CLOCK_PROCESS_ID_, PERF_CLOCK_THREAD_ID_ };
#endif

/* Nanoseconds of a clock of the system, PERF_CLOCK_..._ID_; 0: there is none. */
PERF_FN uint64_t perf_system_ns_(int id)
{
#if defined(_WIN32)
    int64_t  c = 0, f = 1;
    uint64_t count, hz;

    if (id != PERF_CLOCK_MONOTONIC_ID_)
        return 0;
    perf_qpc_(&c);
    perf_qpf_(&f);
    count = PERF_CAST_(uint64_t, c);                /* seconds and the rest apart: count * 1e9    */
    hz = PERF_CAST_(uint64_t, f);                   /* overflows after half an hour at 10 MHz */
    return count / hz * 1000000000u + count % hz * 1000000000u / hz;
#elif PERF_OWN_TIMESPEC_
    struct perf_timespec_ time;

    if (perf_clock_gettime_(id, &time))
        return 0;
    return PERF_CAST_(uint64_t, time.sec) * 1000000000u + PERF_CAST_(uint64_t, time.nsec);
#else
    struct timespec time;

    if (clock_gettime(PERF_CAST_(clockid_t, id), &time))
        return 0;
    return PERF_CAST_(uint64_t, time.tv_sec) * 1000000000u + PERF_CAST_(uint64_t, time.tv_nsec);
#endif
}

/* ---- a call with PERF_DISABLE=1 is looked at, and compiled to nothing ---- */

#if PERF_DISABLE
PERF_INLINE_FN_ perf_status perf_off_(void)
{
    return PERF_EDISABLED;
}
#define PERF_OFF_(call)      PERF_CAST_(void, sizeof(((call), 0)))
#define PERF_OFF_CODE_(call) (PERF_CAST_(void, sizeof(call)), perf_off_())
#endif

PERF_END_DECLS

/* MIT License
 *
 * Copyright (c) 2026 The perf.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software
 * and associated documentation files (the "Software"), to deal in the Software without
 * restriction, including without limitation the rights to use, copy, modify, merge, publish,
 * distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
 * Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or
 * substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
 * BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
 * NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
 * DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */

#endif /* PERF_BASE_H */
/* ==== perf_math.h, continued ==== */

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 * Outside its domain a function returns NaN.  Infinities are honoured.
 *   perf_log_, perf_exp_, perf_log1p_       natural logarithm, its inverse, log(1 + x)
 *   perf_normal_cdf_, perf_normal_quantile_     of the standard normal distribution
 *   perf_t_cdf_, perf_t_quantile_           of Student's t with df > 0 degrees of freedom
 *   perf_beta_cdf_, perf_binomial_cdf_      regularised incomplete beta; P(X <= k), X ~ Bin(n, p)
 *   perf_sort_values_          sorts x[0..n) upwards, NaN last: n log n always, no allocation
 *   perf_quantile_      quantile p of an ascending array, type 7; NaN: n is 0 or p outside 0..1
 *   perf_sqrt_          square root, correctly rounded on x86-64 and AArch64                     */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- square root: histograms and statistics need it, and libm is not linked ---- */

/* NaN below 0.  Any thread. */
PERF_FN double perf_sqrt_(double x)
{
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_
    double r;
    __asm__("sqrtsd {%1, %0|%0, %1}" : "=x"(r) : "x"(x));    /* __builtin_sqrt calls libm at -O0 */
    return r;
#elif defined(__GNUC__) && defined(__aarch64__)
    double r;
    __asm__("fsqrt %d0, %d1" : "=w"(r) : "w"(x));
    return r;
#else
    double y, scale = 1.0;
    int    i;

    if (!(x > 0.0) || !perf_is_finite_(x))
        return perf_is_nan_(x) || x < 0.0 ? PERF_NAN_ : x;
    if (x < 1e-290) {                               /* halving the exponent needs a normal number */
        x *= 18014398509481984.0;                   /* 2^54                                       */
        scale = 1.0 / 134217728.0;                  /* 2^-27                                      */
    }
    y = perf_from_bits_((perf_bits_(x) >> 1) + (UINT64_C(511) << 52) + (UINT64_C(1) << 51));
    for (i = 0; i < 5; i++)                         /* Newton doubles the digits: 5 are plenty    */
        y = 0.5 * (y + x / y);
    return y * scale;
#endif
}

/* ---- numbers ---- */

/* c[0] + c[1] x + ... + c[degree] x^degree, by Horner's rule. */
PERF_FN double perf_poly_(double x, const double *c, int degree)
{
    double sum = c[degree];

    while (degree--)
        sum = sum * x + c[degree];
    return sum;
}

/* ---- logarithm and exponential ---- */

#define PERF_LN2_HI_ 6.93147180369123816490e-01     /* upper bits of ln 2: k * this is exact      */
#define PERF_LN2_LO_ 1.90821492927058770002e-10     /* ln 2 minus the above                       */

/* log(1 + f) - f for -0.3 < f < 0.42.  With s = f / (2 + f): log(1 + f) = 2 atanh(s), so that the
 * leading terms cancel on paper.  Eleven terms: |s| < 0.18, and the next one is below 1e-18.     */
PERF_FN double perf_log1p_minus_(double f)
{
    double s = f / (2.0 + f), z = s * s;
    double r = z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 +
               z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19 + z * (2.0 / 21 +
               z * (2.0 / 23)))))))))));
    return s * (r - f);
}

/* x = 2^k (1 + f) with |log(1 + f)| at most half of ln 2: log x = k ln 2 + f + (log(1 + f) - f). */
PERF_FN double perf_log_(double x)
{
    const uint64_t one = UINT64_C(0x3ff0000000000000), sqrt2 = UINT64_C(0x3ff6a09e667f3bcd);
    const uint64_t least_normal = UINT64_C(0x0010000000000000);
    uint64_t       bits = perf_bits_(x), mantissa;
    int            exponent, negative = bits >> 63 && x < 0.0;
    double         f, k, rest;

    if (perf_is_nan_(x) || negative)
        return PERF_NAN_;
    if (perf_is_zero_(x))
        return -PERF_INF_;
    if (!perf_is_finite_(x))
        return x;
    if (bits < least_normal)                        /* subnormal: 2^54 times it, less 54 ln 2     */
        return perf_log_(x * 18014398509481984.0) - 37.429947750237047899;
    exponent = PERF_CAST_(int, bits >> 52) - 1023;
    mantissa = (bits & (least_normal - 1)) | one;
    if (mantissa > sqrt2) {                         /* halve it, so that |log| stays small        */
        mantissa -= least_normal;
        exponent++;
    }
    f = perf_from_bits_(mantissa) - 1.0;
    k = PERF_CAST_(double, exponent);
    rest = perf_log1p_minus_(f) + k * PERF_LN2_LO_;
    return k * PERF_LN2_HI_ + (f + rest);
}

PERF_FN double perf_log1p_(double x)
{
    double sum;

    if (x > -0.29 && x < 0.41)
        return x + perf_log1p_minus_(x);
    if (!(x > -1.0) || x > 1e300)
        return perf_log_(1.0 + x);
    sum = 1.0 + x;
    return perf_log_(sum) + (x - (sum - 1.0)) / sum;        /* what the addition rounded away     */
}

/* log(1 + x) - x for any x > -1. */
PERF_FN double perf_log1pmx_(double x)
{
    if (x > -0.29 && x < 0.41)
        return perf_log1p_minus_(x);
    return perf_log1p_(x) - x;
}

/* 2^k * x in two steps, so that a subnormal result rounds once, at the end. */
PERF_FN double perf_scale2_(double x, int k)
{
    int    half = k / 2;
    double first = perf_from_bits_(PERF_CAST_(uint64_t, half + 1023) << 52);
    double second = perf_from_bits_(PERF_CAST_(uint64_t, k - half + 1023) << 52);

    return x * first * second;
}

/* x = n ln 2 + r, |r| <= ln 2 / 2: exp x = 2^n exp r, and exp r by its series. */
PERF_FN double perf_exp_(double x)
{
    /* 1 / (k + 2)!: |r| <= 0.347, the terms left out are below 1e-18 */
    static const double term[12] = {0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                                    1.0 / 479001600, 1.0 / 6227020800.0};
    double k, r;
    int    n;

    if (perf_is_nan_(x))
        return x;
    if (x < -745.2)
        return 0.0;
    if (x > 709.8)
        return PERF_INF_;
    k = x * 1.44269504088896340736;                 /* x / ln 2, then rounded to the nearest      */
    if (k < 0.0)
        n = PERF_CAST_(int, k - 0.5);
    else
        n = PERF_CAST_(int, k + 0.5);
    k = PERF_CAST_(double, n);
    r = (x - k * PERF_LN2_HI_) - k * PERF_LN2_LO_;
    return perf_scale2_(1.0 + (r + r * r * perf_poly_(r, term, 11)), n);
}

/* exp(-x * x * part), part a power of two: the square is split so that its rounding error does not
 * grow with x.                                                                                   */
PERF_FN double perf_exp_neg_square_(double x, double part)
{
    double high = perf_from_bits_(perf_bits_(x) & UINT64_C(0xfffffffff8000000));

    return perf_exp_(-high * high * part) * perf_exp_(-(x - high) * (x + high) * part);
}

/* ---- normal distribution ---- */

/* F(1/2, 1; c; -w) by Gauss's continued fraction (DLMF 15.7.5), all of whose terms are positive. */
PERF_FN double perf_gauss_fraction_(double c, double w)
{
    double f = 1.0, up = 1.0, down = 0.0, change = 1.0, m, k;
    int    i;

    for (i = 1; i < 2000 && (change > 3e-16 || change < -3e-16); i++) {
        m = PERF_CAST_(double, i / 2);
        k = m * (c + m - 1.5);
        if (i % 2)
            k = (0.5 + m) * (c - 1.0 + m);
        k *= w / ((c + i - 2.0) * (c + i - 1.0));
        up = 1.0 + k / up;
        down = 1.0 / (1.0 + k * down);
        f *= up * down;
        if (i >= 3)
            change = up * down - 1.0;
    }
    return 1.0 / f;
}

/* Below 1: 1 - erf by its all-positive series (Abramowitz & Stegun 7.1.6).  From 1 on that would
 * cancel: continued fraction 7.1.14, which is Gauss's for c to infinity (DLMF 7.9.1).            */
PERF_FN double perf_erfc_(double x)
{
    const double two_by_sqrt_pi = 1.12837916709551257390, one_by_sqrt_pi = 0.56418958354775628695;
    double       term = x, sum = x;
    int          n;

    if (perf_is_nan_(x))
        return x;
    if (x < 0.0)
        return 2.0 - perf_erfc_(-x);
    if (x > 27.3)
        return 0.0;
    if (x >= 1.0)
        return one_by_sqrt_pi * perf_exp_neg_square_(x, 1.0) / x *
               perf_gauss_fraction_(1e18, 1e18 / (x * x));
    for (n = 1; n < 80 && term > sum * 1e-17; n++) {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    return 1.0 - two_by_sqrt_pi * perf_exp_neg_square_(x, 1.0) * sum;
}

/* Below -1.5 the tail by the same fraction, in z itself: z / sqrt(2) would be rounded, and the tail
 * multiplies that error by z^2.                                                                  */
PERF_FN double perf_normal_cdf_(double z)
{
    const double one_by_sqrt_2pi = 0.39894228040143267794, one_by_sqrt_2 = 0.70710678118654752440;

    if (!(z < -1.5))
        return 0.5 * perf_erfc_(-z * one_by_sqrt_2);
    if (z < -38.6)
        return 0.0;
    return one_by_sqrt_2pi * perf_exp_neg_square_(z, 0.5) / -z *
           perf_gauss_fraction_(1e18, 1e18 / (0.5 * z * z));
}

/* A ratio of two polynomials of degree 7. */
PERF_FN double perf_ratio7_(double x, const double c[2][8])
{
    return perf_poly_(x, c[0], 7) / perf_poly_(x, c[1], 7);
}

/* Wichura's AS 241 (Applied Statistics 37, 1988), constants of PPND16: good down to p = 1e-300.
 * Three ranges, each a ratio of polynomials.                                                     */
PERF_FN double perf_normal_quantile_(double p)
{
    static const double middle[2][8] = {
        {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
         13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
         33430.575583588128105, 2509.0809287301226727},
        {1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
         21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
         5226.4952788528545610}};
    static const double side[2][8] = {
        {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
         3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
         0.0227238449892691845833, 7.74545014278341407640e-4},
        {1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
         0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double tail_end[2][8] = {
        {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
         0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    double q = p - 0.5, tail, r;

    if (!(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    if (q < 0.425 && q > -0.425) {
        r = 0.180625 - q * q;
        return q * perf_poly_(r, middle[0], 7) / perf_poly_(r, middle[1], 7);
    }
    tail = perf_least_(p, 1.0 - p);
    if (!(tail > 0.0)) {
        r = PERF_INF_;
    } else {
        r = perf_sqrt_(-perf_log_(tail));
        if (r <= 5.0)
            r = perf_ratio7_(r - 1.6, side);
        else
            r = perf_ratio7_(r - 5.0, tail_end);
    }
    if (q < 0.0)
        return -r;
    return r;
}

/* ---- beta, t and binomial distributions ---- */

/* log gamma(x) minus Stirling's (x - 1/2) log x - x + log sqrt(2 pi); x > 0.  Series of Abramowitz
 * & Stegun 6.1.41 above 15, the recurrence gamma(x + 1) = x gamma(x) below.                      */
PERF_FN double perf_stirling_rest_(double x)
{
    double sum = 0.0, z;

    while (x < 15.0) {
        sum += (x + 0.5) * perf_log1p_(1.0 / x) - 1.0;
        x += 1.0;
    }
    z = 1.0 / (x * x);
    return sum + (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 -
                 z * (691.0 / 360360 - z * (1.0 / 156))))))) / x;
}

/* x^a y^b / B(a, b) with x + y = 1, after Loader's saddle point form ("Fast and accurate
 * computation of binomial probabilities", 2000).  delta = a y - b x comes from the caller, who
 * may know it without cancellation.                                                              */
PERF_FN double perf_beta_front_(double x, double y, double a, double b, double delta)
{
    double da = -a * perf_log1pmx_(-delta / a), db = -b * perf_log1pmx_(delta / b);

    if (delta > 0.5 * a)                            /* far from the mean nothing cancels, and     */
        da = a * perf_log_(a / (a + b) / x) - delta;    /* 1 - delta / a would lose a tiny x      */
    if (-delta > 0.5 * b)
        db = b * perf_log_(b / (a + b) / y) + delta;
    return perf_exp_(perf_stirling_rest_(a + b) - perf_stirling_rest_(a) - perf_stirling_rest_(b) -
                     da - db) *
           perf_sqrt_(a / (a + b) * b * 0.15915494309189533577);        /* 1 / (2 pi)             */
}

/* x, or 1e-300 where it is nearly 0 and something is to be divided by it. */
PERF_FN double perf_not_zero_(double x)
{
    if (x < 1e-300 && x > -1e-300)
        return 1e-300;
    return x;
}

/* The continued fraction of I_x(a, b) (DLMF 8.17.22) by Lentz's method; x below the mean. */
PERF_FN double perf_beta_fraction_(double x, double a, double b)
{
    double c = 1.0, d = 1.0 / perf_not_zero_(1.0 - (a + b) * x / (a + 1.0)), f = d, step, m, term;
    int    i;

    for (i = 2; i < 200000; i++) {                  /* even and odd terms                         */
        m = PERF_CAST_(double, i / 2);
        if (i % 2)
            term = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        else
            term = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / perf_not_zero_(1.0 + term * d);
        c = perf_not_zero_(1.0 + term / c);
        step = d * c;
        f *= step;
        if (i % 2 && step - 1.0 < 3e-16 && step - 1.0 > -3e-16)   /* -ffast-math: not 1 */
            break;
    }
    return f;
}

/* I_x(a, b), x + y = 1; a small one is computed itself, not as 1 minus the rest. */
PERF_FN double perf_beta_tail_(double x, double y, double a, double b, double delta)
{
    double front;

    if (!(x > 0.0))
        return 0.0;
    if (!(y > 0.0))
        return 1.0;
    front = perf_beta_front_(x, y, a, b, delta);
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * perf_beta_fraction_(x, a, b) / a;
    return 1.0 - front * perf_beta_fraction_(y, b, a) / b;
}

PERF_FN double perf_beta_cdf_(double x, double a, double b)
{
    if (!(a > 0.0) || !(b > 0.0) || !perf_is_finite_(a + b) || !(x >= 0.0 && x <= 1.0))
        return PERF_NAN_;
    return perf_beta_tail_(x, 1.0 - x, a, b, a * (1.0 - x) - b * x);
}

/* P(T > t), t >= 0; *fall: its relative decrease with log t.  With a = df / 2 it is half of
 * I_x(a, 1/2), x = a / (a + t^2 / 2), as DLMF 8.17.7 writes it: nothing cancels for x near 1.    */
PERF_FN double perf_t_upper_(double t, double df, double *fall)
{
    double a = 0.5 * df, s = 0.5 * t * t, x = a / (a + s), y = s / (a + s), power;

    if (t > 1e140) {                                /* a power law by now; t * t would overflow   */
        power = perf_exp_(df * (perf_log_(1e140) - perf_log_(t)));
        s = perf_t_upper_(1e140, df, fall) * power;
        *fall *= power;
        return s;
    }
    *fall = 0.0;
    if (t > 0.0)
        *fall = perf_beta_front_(x, y, a, 0.5, x * (s - 0.5));
    if (t < 1.0)
        return 0.5 - *fall * perf_beta_fraction_(y, 0.5, a);
    return *fall * perf_gauss_fraction_(a + 1.0, a / s) / (df * y);
}

PERF_FN double perf_t_cdf_(double t, double df)
{
    double fall, tail;

    if (perf_is_nan_(t) || !(df > 0.0))
        return PERF_NAN_;
    if (!(df < 1e15))
        return perf_normal_cdf_(t);
    tail = perf_t_upper_(perf_fabs_(t), df, &fall);
    if (t < 0.0)
        return tail;
    return 1.0 - tail;
}

/* t > 0 with P(T > t) = tail.  Newton on the log of the tail against log t, kept inside a shrinking
 * bracket.  It begins at the normal quantile, which is always nearer to 0.                       */
PERF_FN double perf_t_upper_quantile_(double tail, double df)
{
    double t = -perf_normal_quantile_(tail), low = t, high = PERF_INF_, here, next, fall;
    int    i;

    for (i = 0; i < 200 && df < 1e15 && t > 0.0 && perf_is_finite_(t); i++) {
        here = perf_t_upper_(t, df, &fall);
        if (here > tail)
            low = t;
        else
            high = t;
        next = 0.0;
        if (here > 0.0)
            next = t * perf_exp_(perf_log_(here / tail) * (here / fall));
        if (next - t < t * 2e-16 && t - next < t * 2e-16)
            break;
        if (!(next > low && next < high))
            next = perf_sqrt_(low) * perf_sqrt_(high);
        t = next;
    }
    return t;
}

PERF_FN double perf_t_quantile_(double p, double df)
{
    if (!(p >= 0.0 && p <= 1.0) || !(df > 0.0))
        return PERF_NAN_;
    if (p < 0.5)
        return -perf_t_upper_quantile_(p, df);
    return perf_t_upper_quantile_(1.0 - p, df);
}

PERF_FN double perf_binomial_cdf_(double k, double n, double p)
{
    if (!(n >= 0.0) || !(p >= 0.0 && p <= 1.0) || perf_is_nan_(k) || !perf_is_finite_(n))
        return PERF_NAN_;
    if (k < 0.0)
        return 0.0;
    if (k <= 9e15)                                  /* else it is a whole number already          */
        k = PERF_CAST_(double, PERF_CAST_(int64_t, k));
    if (k >= n)
        return 1.0;
    return perf_beta_tail_(1.0 - p, p, n - k, k + 1.0, (n - k) * p - (k + 1.0) * (1.0 - p));
}

/* ---- order ---- */

/* Moves what is < pivot (with or_equal 1: <= pivot) to the front; returns how many those are.  No
 * branch depends on the data, since half of them would be mispredicted.                          */
PERF_FN size_t perf_partition_(double *x, size_t n, double pivot, int or_equal)
{
    size_t i, front = 0;

    for (i = 0; i < n; i++) {
        double value = x[i];
        x[i] = x[front];
        x[front] = value;
        front += PERF_CAST_(size_t, (value < pivot) | (or_equal & (value <= pivot)));
    }
    return front;
}

/* Moves what lies below the middle of the extremes to the front; returns how many those are.
 * 0: all are equal.  Each such cut halves the range of values: 2,100 of them sort anything.      */
PERF_FN size_t perf_sort_cut_(double *x, size_t n)
{
    double low = x[0], high = x[0], pivot;
    size_t i;

    for (i = 1; i < n; i++) {
        low = perf_least_(x[i], low);
        high = perf_most_(x[i], high);
    }
    if (!(low < high))
        return 0;
    pivot = 0.5 * low + 0.5 * high;
    if (!(pivot > low))
        pivot = high;
    return perf_partition_(x, n, pivot, 0);
}

PERF_FN double perf_median_of_three_(double a, double b, double c)
{
    return perf_most_(perf_least_(a, b), perf_least_(perf_most_(a, b), c));
}

/* For few values. */
PERF_FN void perf_sort_by_insertion_(double *x, size_t n)
{
    size_t i, j;

    for (i = 1; i < n; i++) {
        double value = x[i];
        for (j = i; j > 0 && x[j - 1] > value; j--)
            x[j] = x[j - 1];
        x[j] = value;
    }
}

/* Quicksort on the median of three, or by a cut where that would part badly.  Only the smaller part
 * is sorted by a call, so the recursion is at most log2(n) deep.  No value is NaN.               */
PERF_FN void perf_sort_part_(double *x, size_t n)
{
    while (n > 24) {
        size_t below = perf_partition_(x, n, perf_median_of_three_(x[0], x[n / 2], x[n - 1]), 0);
        if (below < n / 16 || n - below < n / 16)
            below = perf_sort_cut_(x, n);
        if (!below)
            return;
        if (below < n - below) {
            perf_sort_part_(x, below);
            x += below;
            n -= below;
        } else {
            perf_sort_part_(x + below, n - below);
            n = below;
        }
    }
    perf_sort_by_insertion_(x, n);
}

PERF_FN void perf_sort_values_(double *x, size_t n)
{
    perf_sort_part_(x, perf_partition_(x, n, PERF_INF_, 1));    /* NaN stay behind the numbers    */
}

/* x_(h) with h = 1 + (n - 1) p, linear between neighbours (Hyndman and Fan 1996, type 7). */
PERF_FN double perf_quantile_(const double *sorted, size_t n, double p)
{
    double h, part, gap;
    size_t i;

    if (!sorted || !n || !(p >= 0.0 && p <= 1.0))
        return PERF_NAN_;
    h = PERF_CAST_(double, n - 1) * p;
    i = PERF_CAST_(size_t, h);
    if (i >= n - 1)
        return sorted[n - 1];
    part = h - PERF_CAST_(double, i);
    gap = sorted[i + 1] - sorted[i];
    if (!(part > 0.0) || !(gap > 0.0))              /* infinities, too                            */
        return sorted[i];
    if (!perf_is_finite_(gap))
        return (1.0 - part) * sorted[i] + part * sorted[i + 1];
    return sorted[i] + part * gap;
}

PERF_END_DECLS

#endif /* PERF_MATH_H */
/* ==== perf_hist.h, continued ==== */

PERF_BEGIN_DECLS

/* >>histogram ----------------------------------------------------------------------------------
 * A histogram holds any number of unsigned 64-bit values (here: ns, but any unit will do) in
 * buckets whose width grows with the value, so that a percentile is known to a fixed relative
 * error however many values there were.  Bucket edges are those of HdrHistogram.
 *
 * Two forms, one pointer type, the same functions:
 *   perf_hist h = PERF_ZERO;   43 KB, 64-bit counters, percentiles within 2^-8 (0.4 %), and the
 *                              cheapest record: 16 instructions with its loop
 *   perf_hist_init(mem, ...)   precision, range, unit and counter size chosen at run time, in
 *                              memory that you own: 0.1 % over 1 ns..1 h in 69 KB, 1 % in 9.5 KB,
 *                              0.4 % over 200 ns..500 us in 6 KB
 * There is no pointer inside: either form may be copied with memcpy (perf_hist_bytes of its
 * options), sent, mapped by two processes, or live in device memory.
 *
 * Rank rule: quantile q of n values is the value of rank ceil(q * n), at least 1 (nearest rank).
 * The answer is the midpoint of that value's bucket, never outside [min, max]; q = 0 and q = 1
 * give the exact extremes.  Zero is a value like any other.  A value outside the range keeps its
 * count, takes part in every percentile and is answered by the exact extreme; perf_hist_next shows
 * those below the range first, those above it last.  Negative (from bit 63 up) and NaN values are
 * counted by perf_hist_lost and take no part.
 *
 * Counts never wrap: at some 9.2e18 values perf_hist_add_n counts the rest as lost, and merging
 * refuses.
 * Threads: one writer and no reader at a time, except where a function says otherwise.
 * No function here allocates, waits, prints or needs <math.h>.                                  */

#define PERF_HIST_NO_DATA (-1.0)    /* the answer where there are no values: never a time         */
#define PERF_HIST_BITS_    7        /* of the fixed form: 2^7 buckets an octave                   */
#define PERF_HIST_OCTAVES_ 42       /* of the fixed form: 1 ns .. 73 minutes                      */
#define PERF_HIST_FIXED_   (PERF_HIST_OCTAVES_ << PERF_HIST_BITS_)

/* The front of every histogram.  All zero is an empty fixed form.  Counters follow it.  A value in
 * the window [lo, lo + width) is in range and no new extreme, so one compare admits it.  Each form
 * has its own width: a record meant for another finds an empty window and takes the slow way.    */
typedef struct perf_hist_head_ {
    uint64_t lo;
    uint64_t width[3];              /* of the fixed form, of caller-owned 64 and 32-bit counters  */
    uint64_t sums[4];               /* together the sum of all values, modulo 2^64                */
    uint64_t not_min;               /* ~minimum, so that zero means none                          */
    uint64_t max;
    uint64_t under;                 /* values below the lowest with a bucket: zeros by default    */
    uint64_t over;                  /* values above `highest`                                     */
    uint64_t lost;                  /* negative or NaN, or met a full counter                     */
    uint64_t highest;               /* largest value with a bucket; 0: fixed form                 */
    uint64_t bias;                  /* index = (bits of the double >> shift) - bias               */
    double   unit;                  /* of a stored integer; 0: 1                                  */
    uint32_t counters;
    uint8_t  bits;                  /* K: 2^K buckets an octave                                   */
    uint8_t  bytes;                 /* of a counter: 4 or 8                                       */
    uint8_t  shift;
    uint8_t  reserved;
} perf_hist_head_;

typedef struct perf_hist {          /* read it through the functions below                        */
    perf_hist_head_ head;
    uint64_t        counter[PERF_HIST_FIXED_];
} perf_hist;

/* ---- caller-owned memory ---- */

typedef struct perf_hist_opts {     /* zero = default                                             */
    int      bits;                  /* 0 -> 7   K, 1..14: percentiles within 2^-(K+1); negative:  */
                                    /*          K = 0, an octave a bucket                         */
    int      counter_bytes;         /* 0 -> 4   or 8                                              */
    uint64_t highest;               /* 0 -> 3.6e12 (1 h in ns), then up to the end of its bucket; */
                                    /*          above it values count as `over`                   */
    uint64_t lowest;                /* 0 -> 1   then down to the start of its bucket; below it    */
                                    /*          values count as `under`.  A narrow range is small */
    double   unit;                  /* 0 -> 1   one stored integer is so much: 1e-3 keeps         */
                                    /*          thousandths.  perf_hist_add_double divides by it, */
                                    /*          every double that is read is in your unit again;  */
                                    /*          integers (buckets, lowest, highest) are not       */
} perf_hist_opts;

/* Bytes that a histogram with these options (NULL: defaults) needs; 0: they are out of range. */
PERF_FN size_t perf_hist_bytes(const perf_hist_opts *opts);

/* Makes an empty histogram in `mem` (8-byte aligned, yours, needs no freeing) and returns it.
 * NULL: memory too small, misaligned or options out of range.  Do not copy it with `=`, which
 * would copy sizeof(perf_hist) bytes: use perf_hist_copy or memcpy of perf_hist_bytes.           */
PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *opts);

/* Histogram in memory that somebody else filled (a mapping, a message).  NULL: not one of ours. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes);

/* ---- record ----  `hist` is not NULL, of any form.  The first two have one writer; meanwhile
 * perf_hist_copy may read, from other threads or processes too.                                  */

/* Inlined for the fixed form.  Keeps the sum. */
PERF_FN void perf_hist_add(perf_hist *hist, uint64_t ns);

/* The same, inlined for caller-owned memory.  Keeps the sum if its counters have 64 bits; with 32
 * the mean comes from the buckets.                                                               */
PERF_FN void perf_hist_add_own(perf_hist *hist, uint64_t value);

/* Any number of writers, on the host or on the device; not together with the forms above.  Keeps no
 * sum.  perf_hist_copy may read at any time (on the device: after the kernel).                   */
PERF_HD_FN void perf_hist_add_shared(perf_hist *hist, uint64_t ns);

/* `n` times the same value.  A count that would pass 2^63 - 2^56 stays there, the rest is lost. */
PERF_FN void perf_hist_add_n(perf_hist *hist, uint64_t ns, uint64_t n);

/* Rounded to the nearest multiple of the histogram's unit.  NaN is lost, and so is what is half a
 * unit or more below zero.  What is 2^63 units or more is recorded as 2^63 - 1 of them.          */
PERF_FN void perf_hist_add_double(perf_hist *hist, double ns);

/* ---- read ----  no values, or `hist` NULL: PERF_HIST_NO_DATA, and 0 from what counts */

PERF_FN uint64_t perf_hist_count(const perf_hist *hist);   /* values, without the lost ones      */
PERF_FN uint64_t perf_hist_lost(const perf_hist *hist);    /* not counted: negative or NaN, or   */
                                                           /* met a full one; at most UINT64_MAX */

/* Exact when every record kept the sum, also past 2^64: the buckets tell how often it wrapped.
 * Otherwise from bucket midpoints.  Either way within 2^-K, but values outside the range are rough
 * without a kept sum: half-way to the extreme.                                                   */
PERF_FN double perf_hist_mean(const perf_hist *hist);

/* Sample standard deviation (n - 1), from bucket midpoints with Sheppard's correction.  Good when
 * values spread over many buckets; a few values in wide buckets can be far off (figures:
 * docs/histogram.md), and values outside the range are rough: half-way to the extreme.           */
PERF_FN double perf_hist_std(const perf_hist *hist);

/* 0 <= q <= 1, else PERF_HIST_NO_DATA.  0 is the minimum, 1 the maximum: exact below 2^53. */
PERF_FN double perf_hist_quantile(const perf_hist *hist, double q);

/* How many values are at most `value`, those in its bucket included: divided by perf_hist_count
 * the distribution function.  0 for NaN.                                                         */
PERF_FN uint64_t perf_hist_rank(const perf_hist *hist, double value);

/* Occupied buckets in ascending order:
 *     perf_hist_bucket b = PERF_ZERO;
 *     while (perf_hist_next(h, &b)) use(b.lower, b.upper, b.count);
 * `upper` is inclusive.  Values below the range come first as one bucket from the minimum, values
 * above it last as one bucket up to the maximum.                                                 */
typedef struct perf_hist_bucket {
    uint64_t lower, upper;          /* integers, in the histogram's unit                          */
    uint64_t count;                 /* values in this bucket, never 0                             */
    uint64_t below;                 /* values in all buckets before it                            */
    size_t   next_, end_;           /* where the walk is                                          */
} perf_hist_bucket;
PERF_FN int perf_hist_next(const perf_hist *hist, perf_hist_bucket *bucket);

/* ---- combine ----  a call that fails leaves `into` as it was; NULL is PERF_EINVAL              */

/* into += from, exactly; any order gives the same bits.  `from` may be finer than `into` (its
 * buckets nest).  PERF_EINVAL: it is coarser, has another unit, or values beyond its range where
 * `into` has buckets.  PERF_ERANGE: a counter or the count of `into` would overflow.             */
PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from);

/* into -= from: undoes a merge, and turns two snapshots into an interval.  PERF_ERANGE: `from`
 * is not contained in `into`.  The extremes become those of the buckets that remain.             */
PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from);

/* into = from, also to fewer bits (coarser) or other counters.  Statuses as for perf_hist_merge.
 * Of its own form `from` may be written meanwhile by another thread or process: `into` is then that
 * of one moment, whose count, percentiles and extremes agree with each other.                    */
PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from);

/* Empty again; touches only the memory that was used.  NULL: nothing. */
PERF_FN void perf_hist_reset(perf_hist *hist);

/* >>internal: what other headers may use -------------------------------------------------------
 * No function here takes a lock; the histogram is the caller's, as above.
 *   perf_hist_head_, perf_hist_at_, perf_hist_peek_     the head of a histogram of any form
 *   perf_hist_shape_, perf_hist_shape_of_               layout: range, buckets, counters; not NULL
 *   perf_hist_cell_                                     what a counter holds
 *   perf_hist_book_                                     adds to a value's counter, 0: no room
 *   perf_hist_occupied_                                 the next counter that is not zero
 *   perf_shared_add_                                    atomic, on host and device               */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- histogram ----
 *
 * The index is the top of the double: (double)v has its exponent above its mantissa, so the bits
 * from 52-K up count octaves and, within each, 2^K equal steps: one conversion, one shift.
 * The fixed form uses that number as it is.  Caller-owned memory uses the compact index, which is
 * v itself below 2^(K+1) and then goes on without a gap: octaves shorter than 2^K cost no unused
 * counters (0.1 %: 69 KB in place of 86).  Both are equal from 2^K up, except for a constant.
 * The counters of a narrow range begin with the bucket of its lowest value.                      */

#if defined(__GNUC__) && !PERF_TCC_
#define PERF_HIDE_(x) __asm__("" : "+r"(x))         /* the compiler forgets its value             */
#else
#define PERF_HIDE_(x) ((void)0)
#endif

/* *p += n; its value before. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PERF_ATOMIC_ADD_(T, p, n) atomicAdd(PERF_PTR_(T *, p), (n))
#elif defined(__GNUC__) && !PERF_TCC_
#define PERF_ATOMIC_ADD_(T, p, n) __atomic_fetch_add(p, n, 0)      /* relaxed */
#else                               /* no threads promised there                                  */
#define PERF_ATOMIC_ADD_(T, p, n) ((*(p) += (n)) - (n))
#endif

/* What an inlined record needs: the double of a value, and constants of the fixed form. */
#define PERF_HIST_TOP_(v)  perf_bits_(PERF_CAST_(double, PERF_CAST_(int64_t, v)))
#define PERF_HIST_SHIFT_ (52 - PERF_HIST_BITS_)
#define PERF_HIST_BIAS_  (UINT64_C(1023) << PERF_HIST_BITS_)
#define PERF_HIST_HIGHEST_ ((UINT64_C(1) << PERF_HIST_OCTAVES_) - 1)
#define PERF_HIST_FULL_  UINT32_C(0xff000000)   /* shared 32-bit counters stop here: 2^24 writers */
                                                /* may pass it together without a wrap            */
#define PERF_HIST_MOST_  (UINT64_MAX >> 1)      /* values in a histogram, and the largest value   */
#define PERF_HIST_BULK_  (PERF_HIST_MOST_ - (UINT64_C(1) << 56))    /* of them by perf_hist_add_n */

/* Indexes of the widths in the head. */
enum { PERF_HIST_FORM_FIXED_, PERF_HIST_FORM_64_, PERF_HIST_FORM_32_ };

typedef struct perf_hist_shape_ {
    uint64_t highest;
    uint64_t lowest;                /* first value with a bucket                                  */
    size_t   first;                 /* compact index of the first counter                         */
    size_t   counters;
    double   unit;
    unsigned bits;
    unsigned bytes;
    int      compact;
    int      form;                  /* index of its width in the head                             */
} perf_hist_shape_;

/* The head by its own type: caller-owned memory may be smaller than a perf_hist. */
PERF_HD_FN perf_hist_head_ *perf_hist_at_(perf_hist *hist)
{
    return PERF_PTR_(perf_hist_head_ *, hist);
}

PERF_HD_FN const perf_hist_head_ *perf_hist_peek_(const perf_hist *hist)
{
    return PERF_PTR_(const perf_hist_head_ *, hist);
}

PERF_HD_FN const void *perf_hist_peek_cells_(const perf_hist *hist)
{
    return PERF_PTR_(const char *, hist) + sizeof(perf_hist_head_);
}

/* Position of the highest set bit of `value`, `value` > 0. */
PERF_HD_FN unsigned perf_top_bit_(uint64_t value)
{
#if defined(__CUDA_ARCH__)
    return PERF_CAST_(unsigned, 63 - __clzll(PERF_CAST_(long long, value)));
#elif defined(__GNUC__) && !PERF_TCC_
    return 63u ^ PERF_CAST_(unsigned, __builtin_clzll(value));
#else
    unsigned n = 0;

    while (value >>= 1)
        n++;
    return n;
#endif
}

PERF_HD_FN uint64_t perf_lesser_(uint64_t a, uint64_t b)
{
    if (a < b)
        return a;
    return b;
}

PERF_HD_FN uint64_t perf_greater_(uint64_t a, uint64_t b)
{
    if (a > b)
        return a;
    return b;
}

/* x within [low, high], low <= high. */
PERF_FN double perf_clamped_(double x, double low, double high)
{
    if (x < low)
        return low;
    if (x > high)
        return high;
    return x;
}

/* The index of the counter of `value`, lowest <= `value` <= highest.  2^octave <= value, and an
 * octave has 2^bits counters.  Integer arithmetic: a device does the same as the host.           */
PERF_HD_FN uint64_t perf_hist_index_(const perf_hist_shape_ *shape, uint64_t value)
{
    unsigned octave = perf_top_bit_(value), bits = shape->bits;
    uint64_t step;                                  /* in [2^bits, 2^(bits + 1))                  */

    if (octave >= bits)
        step = value >> (octave - bits);
    else
        step = value << (bits - octave);
    if (!shape->compact)
        return (PERF_CAST_(uint64_t, octave) << bits) + step - (UINT64_C(1) << bits);
    if (octave <= bits)
        return value - shape->first;
    return (PERF_CAST_(uint64_t, octave - bits) << bits) + step - shape->first;
}

/* First value of counter i; *width becomes the number of integers in its bucket. */
PERF_HD_FN uint64_t perf_hist_lower_(const perf_hist_shape_ *shape, size_t i, uint64_t *width)
{
    size_t   index = i + shape->first;
    unsigned bits = shape->bits, octave = PERF_CAST_(unsigned, index >> bits);
    size_t   start = PERF_CAST_(size_t, 1) << bits;     /* the first step of an octave            */
    uint64_t step = (index & (start - 1)) | start;

    *width = 1;
    if (shape->compact) {
        if (octave < 2)
            return index;
        *width = UINT64_C(1) << (octave - 1);
        return step << (octave - 1);
    }
    if (octave < bits)
        return step >> (bits - octave);
    *width = UINT64_C(1) << (octave - bits);
    return step << (octave - bits);
}

PERF_HD_FN perf_hist_shape_ perf_hist_shape_of_(const perf_hist *hist)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    uint64_t               width;

    shape.compact = head->highest != 0;
    shape.highest = PERF_HIST_HIGHEST_;
    shape.lowest = 1;
    shape.first = 0;
    shape.counters = PERF_HIST_FIXED_;
    shape.bits = PERF_HIST_BITS_;
    shape.bytes = 8;
    shape.form = PERF_HIST_FORM_FIXED_;
    shape.unit = 1.0;
    if (head->unit > 0.0)
        shape.unit = head->unit;
    if (!shape.compact)
        return shape;
    shape.highest = head->highest;
    shape.counters = head->counters;
    shape.bits = head->bits;
    shape.bytes = head->bytes;
    shape.form = PERF_HIST_FORM_32_;
    if (shape.bytes == 8)
        shape.form = PERF_HIST_FORM_64_;
    shape.first =
        PERF_CAST_(size_t, head->bias - (PERF_CAST_(uint64_t, 1022 + shape.bits) << shape.bits));
    if (shape.first)
        shape.lowest = perf_hist_lower_(&shape, 0, &width);
    return shape;
}

PERF_FN uint64_t perf_hist_cell_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i)
{
    const void *cells = perf_hist_peek_cells_(hist);

    if (shape->bytes == 4)
        return PERF_GET_(&PERF_CAST_(const uint32_t *, cells)[i]);
    return PERF_GET_(&PERF_CAST_(const uint64_t *, cells)[i]);
}

/* The sum of eight counters from i on.  zero: sums of 32-bit counters have 64 bits. */
#define PERF_EIGHT_(p)                                                                            \
    (zero + (p)[0] + (p)[1] + (p)[2] + (p)[3] + (zero + (p)[4] + (p)[5] + (p)[6] + (p)[7]))
PERF_FN uint64_t perf_hist_eight_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i)
{
    const void     *cells = perf_hist_peek_cells_(hist);
    const uint64_t *c64 = PERF_CAST_(const uint64_t *, cells) + i;
    const uint32_t *c32 = PERF_CAST_(const uint32_t *, cells) + i;
    uint64_t        zero = 0;

    if (shape->bytes == 4)
        return PERF_EIGHT_(c32);
    return PERF_EIGHT_(c64);
}
#undef PERF_EIGHT_

/* The first counter in [i, end) that is not zero, else end. */
PERF_FN size_t perf_hist_occupied_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i,
                                   size_t end)
{
    while (i < end && !perf_hist_cell_(hist, shape, i)) {
        i++;
        while (end - i >= 8 && !perf_hist_eight_(hist, shape, i))
            i += 8;
    }
    return i;
}

/* Buckets that may be occupied: [*first, return value). */
PERF_FN size_t perf_hist_touched_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                  size_t *first)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    uint64_t               lo = ~PERF_GET_(&head->not_min), hi = PERF_GET_(&head->max);

    lo = perf_greater_(lo, shape->lowest);
    hi = perf_lesser_(hi, shape->highest);
    *first = 0;
    if (lo > hi)
        return 0;
    *first = PERF_CAST_(size_t, perf_hist_index_(shape, lo));
    return PERF_CAST_(size_t, perf_hist_index_(shape, hi)) + 1;
}

PERF_FN double perf_hist_unit_(const perf_hist *hist)
{
    return perf_hist_shape_of_(hist).unit;
}

/* ---- histogram: caller-owned memory ---- */

/* 1: every option is in its range; defaults are filled in. */
PERF_FN int perf_hist_opts_ok_(const perf_hist_opts *opts)
{
    const int bytes_ok = opts->counter_bytes == 4 || opts->counter_bytes == 8;

    return opts->bits <= 14 && bytes_ok && opts->highest >= 2 && opts->highest <= PERF_HIST_MOST_ &&
           opts->lowest <= opts->highest && opts->unit > 0.0 && perf_is_finite_(opts->unit) &&
           perf_is_finite_(1.0 / opts->unit);
}

/* Fills in *shape, the layout that the options ask for (NULL: defaults).  Returns the bytes that it
 * takes; 0: options out of range.                                                                */
PERF_FN size_t perf_hist_plan_(const perf_hist_opts *opts, perf_hist_shape_ *shape)
{
    perf_hist_opts options = PERF_ZERO;
    uint64_t       width;

    if (opts)
        options = *opts;
    if (options.highest == 0)
        options.highest = UINT64_C(3600000000000);          /* an hour in ns                      */
    if (options.counter_bytes == 0)
        options.counter_bytes = 4;
    if (perf_is_zero_(options.unit))
        options.unit = 1.0;
    if (!perf_hist_opts_ok_(&options))
        return 0;
    shape->unit = options.unit;
    shape->bits = 7;
    if (options.bits < 0)
        shape->bits = 0;
    else if (options.bits > 0)
        shape->bits = PERF_CAST_(unsigned, options.bits);
    shape->bytes = PERF_CAST_(unsigned, options.counter_bytes);
    shape->form = PERF_HIST_FORM_32_;
    if (shape->bytes == 8)
        shape->form = PERF_HIST_FORM_64_;
    shape->compact = 1;
    shape->first = 0;
    shape->lowest = 1;
    if (options.lowest > 1)
        shape->first = PERF_CAST_(size_t, perf_hist_index_(shape, options.lowest));
    if (shape->first)
        shape->lowest = perf_hist_lower_(shape, 0, &width);
    shape->counters = PERF_CAST_(size_t, perf_hist_index_(shape, options.highest)) + 1;
    shape->highest = perf_hist_lower_(shape, shape->counters - 1, &width);
    shape->highest += width - 1;
    return sizeof(perf_hist_head_) +
           ((shape->counters * shape->bytes + 31) & ~PERF_CAST_(size_t, 31));
}

PERF_FN size_t perf_hist_bytes(const perf_hist_opts *opts)
{
    perf_hist_shape_ shape = PERF_ZERO;

    return perf_hist_plan_(opts, &shape);
}

/* The head of an empty histogram. */
PERF_FN void perf_hist_head_make_(perf_hist_head_ *head, const perf_hist_shape_ *shape)
{
    PERF_LIBC_(memset)(head, 0, sizeof *head);
    if (!shape->compact)
        return;
    head->highest = shape->highest;
    head->counters = PERF_CAST_(uint32_t, shape->counters);
    head->bits = PERF_CAST_(uint8_t, shape->bits);
    head->bytes = PERF_CAST_(uint8_t, shape->bytes);
    head->shift = PERF_CAST_(uint8_t, 52 - shape->bits);
    head->bias = (PERF_CAST_(uint64_t, 1022 + shape->bits) << shape->bits) + shape->first;
    if (perf_bits_(shape->unit) != perf_bits_(1.0))
        head->unit = shape->unit;
}

PERF_FN perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *opts)
{
    perf_hist_shape_ shape = PERF_ZERO;
    size_t           need = perf_hist_plan_(opts, &shape);

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || need == 0 || bytes < need)
        return PERF_CAST_(perf_hist *, PERF_NULL_);
    PERF_LIBC_(memset)(mem, 0, need);
    perf_hist_head_make_(PERF_CAST_(perf_hist_head_ *, mem), &shape);
    return PERF_CAST_(perf_hist *, mem);
}

/* Smallest value that an inlined record may take: its double tells its counter. */
PERF_FN uint64_t perf_hist_least_(const perf_hist_shape_ *shape)
{
    if (!shape->compact)
        return 1;
    return perf_greater_(shape->lowest, UINT64_C(1) << shape->bits);
}

/* The layout that a head in memory asks for, and the bytes that it needs; 0: not one of ours. */
PERF_FN size_t perf_hist_plan_of_head_(const perf_hist_head_ *head, perf_hist_shape_ *shape)
{
    perf_hist_opts opts = PERF_ZERO;
    uint64_t       least_bias, first, width;

    shape->highest = PERF_HIST_HIGHEST_;
    if (!head->highest)
        return sizeof(perf_hist);
    if (head->bits > 14 || !head->bytes)
        return 0;
    least_bias = PERF_CAST_(uint64_t, 1022 + head->bits) << head->bits;
    first = head->bias - least_bias;
    if (head->bias < least_bias || first >= 64u << head->bits)      /* of 64 octaves              */
        return 0;
    shape->bits = head->bits;
    shape->compact = 1;
    opts.bits = head->bits;
    if (head->bits == 0)
        opts.bits = -1;
    opts.counter_bytes = head->bytes;
    opts.highest = head->highest;
    opts.lowest = perf_hist_lower_(shape, PERF_CAST_(size_t, first), &width);
    opts.unit = head->unit;
    return perf_hist_plan_(&opts, shape);
}

/* 1: the window of a head leads no record past the counters, and other forms have none. */
PERF_FN int perf_hist_window_ok_(const perf_hist_head_ *head, const perf_hist_shape_ *shape)
{
    uint64_t width = head->width[shape->form];
    uint64_t top = perf_lesser_(shape->highest, UINT64_MAX >> 11);  /* exact as a double          */

    if (head->width[(shape->form + 1) % 3] || head->width[(shape->form + 2) % 3])
        return 0;
    return !width || (head->lo >= perf_hist_least_(shape) && head->lo <= top &&
                      width - 1 <= top - head->lo);
}

/* The constant fields of the head must be those that perf_hist_init would write. */
PERF_FN perf_hist *perf_hist_attach(void *mem, size_t bytes)
{
    const perf_hist_head_ *head = PERF_CAST_(const perf_hist_head_ *, mem);
    perf_hist_head_        same;
    perf_hist_shape_       shape = PERF_ZERO;
    perf_hist             *none = PERF_CAST_(perf_hist *, PERF_NULL_);
    size_t                 need;

    if (!mem || PERF_PTR_(uintptr_t, mem) % 8 || bytes < sizeof *head)
        return none;
    need = perf_hist_plan_of_head_(head, &shape);
    if (need == 0 || need > bytes)
        return none;
    perf_hist_head_make_(&same, &shape);
    if (PERF_LIBC_(memcmp)(&same.highest, &head->highest,
                           sizeof same - offsetof(perf_hist_head_, highest)) != 0)
        return none;
    if (!perf_hist_window_ok_(head, &shape))
        return none;
    return PERF_CAST_(perf_hist *, mem);
}

/* ---- histogram: record ---- */

/* One writer's *counter += n, which no reader sees half done.  On x86-64 it is one instruction, as
 * a plain += is; of a relaxed load and store gcc makes three.                                    */
PERF_FN void perf_hist_raise_(uint64_t *counter, uint64_t n)
{
#if defined(__GNUC__) && defined(__x86_64__) && !PERF_TCC_ && !PERF_TSAN_
    __asm__("add{q %1, %0| qword ptr %0, %1}" : "+m"(*counter) : "er"(n) : "cc");
#else
    PERF_SET_(counter, PERF_GET_(counter) + n);
#endif
}

/* n records that are not counted. */
PERF_FN void perf_hist_lose_(perf_hist *hist, uint64_t n)
{
    uint64_t *lost = &perf_hist_at_(hist)->lost;

    PERF_SET_(lost, *lost + perf_lesser_(n, UINT64_MAX - *lost));
}

/* Where a value goes: the number of a counter, or one of these. */
#define PERF_HIST_UNDER_ (UINT64_MAX - 1)
#define PERF_HIST_OVER_  UINT64_MAX
PERF_HD_FN uint64_t perf_hist_place_(const perf_hist_shape_ *shape, uint64_t value)
{
    if (value < shape->lowest)
        return PERF_HIST_UNDER_;
    if (value > shape->highest)
        return PERF_HIST_OVER_;
    return perf_hist_index_(shape, value);
}

/* The 64-bit counter of a place: in the head for values outside the range. */
PERF_HD_FN uint64_t *perf_hist_counter_(perf_hist *hist, uint64_t place)
{
    perf_hist_head_ *head = perf_hist_at_(hist);

    if (place == PERF_HIST_UNDER_)
        return &head->under;
    if (place == PERF_HIST_OVER_)
        return &head->over;
    return PERF_PTR_(uint64_t *, head + 1) + place;
}

/* n more values at a place (minus 1: fewer); 0: its counter cannot hold that, and is as it was. */
PERF_FN int perf_hist_bump_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t place,
                            uint64_t n, int minus)
{
    uint64_t *wide, sum, change = n;
    uint32_t *narrow;

    if (minus)
        change = 0 - n;
    if (place < PERF_HIST_UNDER_ && shape->bytes == 4) {
        narrow = PERF_PTR_(uint32_t *, perf_hist_at_(hist) + 1) + place;
        sum = *narrow + change;
        if ((n | sum) >> 32)
            return 0;
        PERF_SET_(narrow, PERF_CAST_(uint32_t, sum));
        return 1;
    }
    wide = perf_hist_counter_(hist, place);
    sum = *wide + change;
    if ((n | sum) >> 63)
        return 0;
    PERF_SET_(wide, sum);
    return 1;
}

/* n more (or fewer) values like `value`; 0: no room, nothing is changed. */
PERF_FN int perf_hist_book_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t value,
                            uint64_t n, int minus)
{
    return perf_hist_bump_(hist, shape, perf_hist_place_(shape, value), n, minus);
}

/* How many of n more values of a place are counted; the others are lost.  Only a large n can bring
 * the total to its end, so a small one does not pay for the count.                               */
PERF_FN uint64_t perf_hist_room_(perf_hist *hist, const perf_hist_shape_ *shape, uint64_t place,
                                 uint64_t n)
{
    uint64_t room = n, held;

    if (n >> 20) {
        held = perf_hist_count(hist);
        room = PERF_HIST_BULK_ - perf_lesser_(held, PERF_HIST_BULK_);
    }
    if (shape->bytes == 4 && place < PERF_HIST_UNDER_) {
        held = UINT32_MAX - perf_hist_cell_(hist, shape, PERF_CAST_(size_t, place));
        room = perf_lesser_(room, held);
    }
    if (n <= room)
        return n;
    perf_hist_lose_(hist, n - room);
    return room;
}

/* Widens the window of admitted values to `value`. */
PERF_FN void perf_hist_admit_(perf_hist_head_ *head, int form, uint64_t value)
{
    uint64_t *width = &head->width[form], end = value + 1;

    if (*width) {
        end = perf_greater_(end, head->lo + *width);
        value = perf_lesser_(value, head->lo);
    }
    head->lo = value;
    *width = end - value;
}

/* Every record that the inlined compare did not admit: a new extreme, zero, out of range, small
 * values of the compact form, another form.  n values like `value` whose sum is `sum`.           */
PERF_OUTLINE_FN_ void perf_hist_put_(perf_hist *hist, uint64_t value, uint64_t n, uint64_t sum)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape;
    uint64_t         place;

    if (value >> 63) {
        perf_hist_lose_(hist, n);
        return;
    }
    shape = perf_hist_shape_of_(hist);
    place = perf_hist_place_(&shape, value);
    n = perf_hist_room_(hist, &shape, place, n);
    if (n == 0)
        return;
    PERF_SET_(&head->sums[0], head->sums[0] + sum);
    if (~value > head->not_min)
        PERF_SET_(&head->not_min, ~value);
    if (value > head->max)
        PERF_SET_(&head->max, value);
    (void)perf_hist_bump_(hist, &shape, place, n, 0);
    if (place < PERF_HIST_UNDER_ && value >= perf_hist_least_(&shape) && !(value >> 53))
        perf_hist_admit_(head, shape.form, value);  /* its double is exact                        */
}

/* A record that perf_hist_add did not admit; out of line, so that perf_hist_add stays small. */
PERF_OUTLINE_FN_ void perf_hist_put_other_(perf_hist *hist, uint64_t value)
{
    perf_hist_add_own(hist, value);
}

/* One sum would make every record wait until the one before has stored it (2.5 in place of 1.4 ns
 * on a Xeon); with four, picked by the bucket, only records near each other wait, and those wait
 * for their counter anyway.  A record updates one sum and one counter: two adjacent accumulators
 * would be joined into one vector by clang and by gcc -march=native, and the next load would wait
 * for both stores (8.9 in place of 1.9 cycles; bench/hist.c shows it).                           */
PERF_FN void perf_hist_add(perf_hist *hist, uint64_t ns)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top;

    PERF_HIDE_(head);               /* one base register for all that follows                     */
    if (PERF_UNLIKELY_(ns - head->lo >= head->width[0])) {
        perf_hist_put_other_(hist, ns);
        return;
    }
    top = PERF_HIST_TOP_(ns) >> PERF_HIST_SHIFT_;
    PERF_HIDE_(top);
    perf_hist_raise_(&head->sums[top & 3], ns);
    perf_hist_raise_(PERF_PTR_(uint64_t *, head + 1) + (top - PERF_HIST_BIAS_), 1);
}

/* One more in a 32-bit counter, by the index of an admitted value.  A full one stays full. */
PERF_INLINE_FN_ void perf_hist_add32_(perf_hist *hist, uint64_t value)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top = (PERF_HIST_TOP_(value) >> head->shift) - head->bias;
    uint32_t        *counter, raised;

    PERF_HIDE_(top);
    counter = PERF_PTR_(uint32_t *, head + 1) + top;
    raised = *counter + 1;
    if (PERF_UNLIKELY_(raised == 0)) {
        perf_hist_put_(hist, value, 1, 0);
        return;
    }
    PERF_SET_(counter, raised);
}

PERF_FN void perf_hist_add_own(perf_hist *hist, uint64_t value)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    uint64_t         top, sum = value;

    PERF_HIDE_(head);
    if (PERF_UNLIKELY_(value - head->lo >= head->width[PERF_HIST_FORM_64_])) {
        if (value - head->lo < head->width[PERF_HIST_FORM_32_]) {
            perf_hist_add32_(hist, value);
            return;
        }
        if (head->bytes == 4)
            sum = 0;                /* 32-bit counters come without a sum                         */
        perf_hist_put_(hist, value, 1, sum);
        return;
    }
    top = PERF_HIST_TOP_(value) >> head->shift;
    perf_hist_raise_(&head->sums[top & 3], value);
    top -= head->bias;
    PERF_HIDE_(top);                /* else gcc subtracts it from the address, in three steps     */
    perf_hist_raise_(PERF_PTR_(uint64_t *, head + 1) + top, 1);
}

PERF_HD_FN uint64_t perf_shared_add_(uint64_t *p, uint64_t n)
{
    return PERF_ATOMIC_ADD_(unsigned long long, p, n);
}

PERF_HD_FN void perf_shared_max_(uint64_t *p, uint64_t value)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    if (value > *PERF_PTR_(volatile uint64_t *, p))
        atomicMax(PERF_PTR_(unsigned long long *, p), value);
#elif defined(__GNUC__) && !PERF_TCC_
    uint64_t old = PERF_GET_(p);

    while (value > old && !__atomic_compare_exchange_n(p, &old, value, 1, 0, 0))
        continue;
#else
    if (value > *p)
        *p = value;
#endif
}

PERF_HD_FN void perf_hist_add_shared(perf_hist *hist, uint64_t ns)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape = perf_hist_shape_of_(hist);
    uint64_t         place;
    uint32_t        *c32;

    if (ns >> 63 == 0) {
        perf_shared_max_(&head->not_min, ~ns);
        perf_shared_max_(&head->max, ns);
        place = perf_hist_place_(&shape, ns);
        if (place >= PERF_HIST_UNDER_ || shape.bytes == 8) {
            (void)perf_shared_add_(perf_hist_counter_(hist, place), 1);
            return;
        }
        c32 = PERF_PTR_(uint32_t *, head + 1) + place;
        if (PERF_ATOMIC_ADD_(uint32_t, c32, 1) < PERF_HIST_FULL_)
            return;
        (void)PERF_ATOMIC_ADD_(uint32_t, c32, UINT32_MAX);      /* take it back                   */
    }
    if (perf_shared_add_(&head->lost, 1) == UINT64_MAX)         /* at its end it stays            */
        (void)perf_shared_add_(&head->lost, UINT64_MAX);
}

PERF_FN void perf_hist_add_n(perf_hist *hist, uint64_t ns, uint64_t n)
{
    perf_hist_put_(hist, ns, n, ns * n);
}

PERF_FN void perf_hist_add_double(perf_hist *hist, double ns)
{
    double   x = ns / perf_hist_unit_(hist);
    uint64_t value;

    if (perf_is_nan_(x) || x <= -0.5) {
        perf_hist_lose_(hist, 1);
    } else if (x >= 9223372036854775807.0) {
        perf_hist_add(hist, PERF_HIST_MOST_);
    } else {
        value = PERF_CAST_(uint64_t, PERF_CAST_(int64_t, x));
        perf_hist_add(hist, value + (x - PERF_CAST_(double, PERF_CAST_(int64_t, value)) >= 0.5));
    }
}

/* ---- histogram: read ---- */

/* sums[k]: the sum of block k, each of `block` counters (64 or a multiple).  Returns that of all n.
 * 64-bit counters are read 10 KB and more at a time: in vectors where the compiler has them (gcc
 * -O2 makes none on its own), in the wide ones of AVX2 where the processor has it.               */
#if defined(__GNUC__) && !PERF_TCC_ && !defined(__NVCC__)
typedef uint64_t perf_lanes_ PERF_ATTR_((__vector_size__(32), __aligned__(8), __may_alias__));
#define PERF_HIST_LANES_(name)                                                                    \
    PERF_FN uint64_t name(const void *cells, size_t block, size_t n, uint64_t *sums)              \
    {                                                                                             \
        const perf_lanes_ *v = PERF_CAST_(const perf_lanes_ *, cells);                            \
        uint64_t           total = 0;                                                             \
        size_t             i, k;                                                                  \
        for (k = 0; k < n; k++) {                                                                 \
            perf_lanes_ a = PERF_ZERO, b = PERF_ZERO;                                             \
            for (i = 0; i < block; i += 16, v += 4) {                                             \
                a += v[0] + v[1];                                                                 \
                b += v[2] + v[3];                                                                 \
            }                                                                                     \
            a += b;                                                                               \
            sums[k] = a[0] + a[1] + a[2] + a[3];                                                  \
            total += sums[k];                                                                     \
        }                                                                                         \
        return total;                                                                             \
    }
PERF_HIST_LANES_(perf_hist_lanes_)
#if defined(__x86_64__) && !defined(__AVX2__) && !defined(_WIN32)  /* stack aligned to 16 bytes   */
#define PERF_HIST_AVX2_ 1
PERF_ATTR_((__target__("avx2"))) PERF_HIST_LANES_(perf_hist_avx2_lanes_)
#endif
#undef PERF_HIST_LANES_
#else
#define PERF_HIST_NO_LANES_ 1
typedef uint64_t perf_lanes_ PERF_ATTR_((__may_alias__));
#endif

PERF_FN uint64_t perf_hist_sums_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t first,
                                 size_t block, size_t n, uint64_t *sums)
{
    uint64_t total = 0;
    size_t   i, k;

#if !defined(PERF_HIST_NO_LANES_)
    if (shape->bytes == 8) {
        const uint64_t *c = PERF_CAST_(const uint64_t *, perf_hist_peek_cells_(hist)) + first;
#if defined(PERF_HIST_AVX2_)
        if (__builtin_cpu_supports("avx2"))
            return perf_hist_avx2_lanes_(c, block, n, sums);
#endif
        return perf_hist_lanes_(c, block, n, sums);
    }
#endif
    for (k = 0; k < n; k++) {
        sums[k] = 0;
        for (i = 0; i < block; i += 8)
            sums[k] += perf_hist_eight_(hist, shape, first + i);
        first += block;
        total += sums[k];
    }
    return total;
}

/* The sum of counters [first, first + n). */
PERF_FN uint64_t perf_hist_sum_cells_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                      size_t first, size_t n)
{
    uint64_t sum = 0, part = 0;

    for (; n % 64; n--)
        sum += perf_hist_cell_(hist, shape, first + n - 1);
    if (n)
        sum += perf_hist_sums_(hist, shape, first, n, 1, &part);
    return sum;
}

PERF_FN uint64_t perf_hist_count(const perf_hist *hist)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    size_t                 first, end;

    if (!hist)
        return 0;
    shape = perf_hist_shape_of_(hist);
    end = perf_hist_touched_(hist, &shape, &first);
    return head->under + head->over + perf_hist_sum_cells_(hist, &shape, first, end - first);
}

PERF_FN uint64_t perf_hist_lost(const perf_hist *hist)
{
    if (!hist)
        return 0;
    return PERF_GET_(&perf_hist_peek_(hist)->lost);
}

/* The extremes as integers; 0: there are none. */
PERF_FN int perf_hist_extremes_(const perf_hist *hist, uint64_t *min, uint64_t *max)
{
    uint64_t not_min = 0;

    *max = 0;
    if (hist)
        not_min = PERF_GET_(&perf_hist_peek_(hist)->not_min);
    if (not_min)
        *max = PERF_GET_(&perf_hist_peek_(hist)->max);
    *min = ~not_min;
    return not_min != 0;
}

/* The values below the range as a bucket; a single one is the minimum itself.  0: none. */
PERF_FN int perf_hist_bucket_under_(const perf_hist_head_ *head, uint64_t lowest,
                                    perf_hist_bucket *bucket)
{
    bucket->count = head->under;
    if (!bucket->count)
        return 0;
    bucket->lower = perf_lesser_(~head->not_min, lowest - 1);
    bucket->upper = lowest - 1;
    if (bucket->count == 1)
        bucket->upper = bucket->lower;
    return 1;
}

/* The values above the range likewise. */
PERF_FN int perf_hist_bucket_over_(const perf_hist_head_ *head, uint64_t highest,
                                   perf_hist_bucket *bucket)
{
    bucket->count = head->over;
    if (!bucket->count)
        return 0;
    bucket->upper = perf_greater_(head->max, highest + 1);
    bucket->lower = highest + 1;
    if (bucket->count == 1)
        bucket->lower = bucket->upper;
    return 1;
}

/* One step of the walk.  next_: 0 at the start, then 1 + index of the counter to look at; end_: the
 * values above the range; end_ + 1: nothing is left.                                             */
PERF_FN int perf_hist_next(const perf_hist *hist, perf_hist_bucket *bucket)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    perf_hist_shape_       shape;
    uint64_t               width;

    if (!hist || !bucket)
        return 0;
    shape = perf_hist_shape_of_(hist);
    bucket->below += bucket->count;
    bucket->count = 0;
    if (bucket->next_ == 0) {
        bucket->end_ = perf_hist_touched_(hist, &shape, &bucket->next_) + 1;
        bucket->next_++;
        if (perf_hist_bucket_under_(head, shape.lowest, bucket))
            return 1;
    }
    if (bucket->next_ < bucket->end_) {
        size_t i = perf_hist_occupied_(hist, &shape, bucket->next_ - 1, bucket->end_ - 1);
        bucket->next_ = i + 1;
        if (bucket->next_ < bucket->end_) {
            bucket->next_++;
            bucket->count = perf_hist_cell_(hist, &shape, i);
            bucket->lower = perf_hist_lower_(&shape, i, &width);
            bucket->upper = bucket->lower + width - 1;
            return 1;
        }
    }
    if (bucket->next_ != bucket->end_)
        return 0;
    if (!perf_hist_bucket_over_(head, shape.highest, bucket))
        return 0;
    bucket->next_++;
    return 1;
}

/* Middle of the integers of a bucket, as far as they are within the extremes. */
PERF_FN double perf_hist_middle_(const perf_hist *hist, uint64_t lower, uint64_t upper)
{
    double   x = PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, upper - lower);
    uint64_t min, max;

    (void)perf_hist_extremes_(hist, &min, &max);
    return perf_clamped_(x, PERF_CAST_(double, min), PERF_CAST_(double, max));
}

/* The sum of all values, exact modulo 2^64 where every record kept it.  The multiple that comes
 * nearest to the midpoints is added.  Those above the range are no guide: then it is the smallest
 * that reaches the lower edges.  A sum not between the edges is not that of these records: that of
 * the midpoints is taken.                                                                        */
PERF_FN double perf_hist_sum_(const perf_hist *hist)
{
    perf_hist_bucket bucket = PERF_ZERO;
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    double           low = 0.0, mid = 0.0, high = 0.0, sum, least, wraps;

    while (perf_hist_next(hist, &bucket)) {
        double n = PERF_CAST_(double, bucket.count);
        low += n * PERF_CAST_(double, bucket.lower);
        mid += n * perf_hist_middle_(hist, bucket.lower, bucket.upper);
        high += n * PERF_CAST_(double, bucket.upper);
    }
    if (bucket.below == 0)
        return PERF_HIST_NO_DATA;
    sum = PERF_CAST_(double, PERF_GET_(&head->sums[0]) + PERF_GET_(&head->sums[1]) +
                             PERF_GET_(&head->sums[2]) + PERF_GET_(&head->sums[3]));
    least = mid - 0.5 * 18446744073709551616.0;
    if (head->over)
        least = low * (1.0 - 1e-12);
    wraps = (least - sum) / 18446744073709551616.0;
    if (wraps > 0.0 && wraps < 4e15 && sum > 0.0)   /* 0: no record kept it                       */
        sum += 18446744073709551616.0 * PERF_CAST_(double, PERF_CAST_(int64_t, wraps) + 1);
    if (!(sum >= low * (1.0 - 1e-12) && sum <= high * (1.0 + 1e-12)))
        sum = mid;
    return sum * perf_hist_unit_(hist);
}

PERF_FN double perf_hist_mean(const perf_hist *hist)
{
    uint64_t n = perf_hist_count(hist), min, max;
    double   unit;

    if (n == 0)
        return PERF_HIST_NO_DATA;
    (void)perf_hist_extremes_(hist, &min, &max);
    unit = perf_hist_unit_(hist);
    return perf_clamped_(perf_hist_sum_(hist) / PERF_CAST_(double, n),
                         PERF_CAST_(double, min) * unit, PERF_CAST_(double, max) * unit);
}

PERF_FN double perf_hist_std(const perf_hist *hist)
{
    perf_hist_bucket bucket = PERF_ZERO;
    perf_hist_shape_ shape;
    double           n, mean, sum = 0.0, squares = 0.0, within = 0.0, var, limit;
    uint64_t         min, max;

    n = PERF_CAST_(double, perf_hist_count(hist));
    if (n < 1.0 || !perf_hist_extremes_(hist, &min, &max))
        return PERF_HIST_NO_DATA;
    if (n < 2.0)
        return 0.0;
    shape = perf_hist_shape_of_(hist);
    mean = perf_hist_mean(hist) / perf_hist_unit_(hist);
    while (perf_hist_next(hist, &bucket)) { /* deviations from near the mean: no cancellation     */
        double held = PERF_CAST_(double, bucket.count);
        double width = PERF_CAST_(double, bucket.upper - bucket.lower) + 1.0;
        double off = perf_hist_middle_(hist, bucket.lower, bucket.upper) - mean;
        int    in_range = bucket.lower >= shape.lowest && bucket.upper <= shape.highest;
        sum += held * off;
        squares += held * off * off;
        if (in_range)
            within += held * (width * width - 1.0) / 12.0;  /* Sheppard, for integers             */
    }
    var = squares - sum * sum / n - within;
    limit = (mean - PERF_CAST_(double, min)) * (PERF_CAST_(double, max) - mean) * n;
    if (var > limit)                                /* Bhatia and Davis                           */
        var = limit;
    if (var < 0.0)
        var = 0.0;
    return perf_sqrt_(var / (n - 1.0)) * perf_hist_unit_(hist);
}

/* Sums of up to 256 blocks of counters: what a quantile needs to find its bucket. */
typedef struct perf_hist_scan_ {
    perf_hist_shape_ shape;
    size_t           first, end, block;     /* counters; `block` of them per sum                  */
    size_t           blocks;
    uint64_t         total;
    double           min, max;
    uint64_t         sums[256];
} perf_hist_scan_;

PERF_FN void perf_hist_scan_blocks_(const perf_hist *hist, perf_hist_scan_ *scan)
{
    const perf_hist_head_ *head = perf_hist_peek_(hist);
    uint64_t               min, max;
    size_t                 i;

    scan->shape = perf_hist_shape_of_(hist);
    scan->end = perf_hist_touched_(hist, &scan->shape, &scan->first);
    scan->first &= ~PERF_CAST_(size_t, 63);     /* whole blocks: the ones around are zero         */
    scan->end = (scan->end + 63) & ~PERF_CAST_(size_t, 63);
    if (scan->end > scan->shape.counters)
        scan->end = scan->shape.counters;
    (void)perf_hist_extremes_(hist, &min, &max);
    scan->min = PERF_CAST_(double, min);
    scan->max = PERF_CAST_(double, max);
    for (scan->block = 64; (scan->end - scan->first) / scan->block >= 256; scan->block *= 2)
        continue;
    scan->total = head->under + head->over;
    i = scan->first;
    scan->blocks = (scan->end - i) / scan->block;
    scan->total += perf_hist_sums_(hist, &scan->shape, i, scan->block, scan->blocks, scan->sums);
    i += scan->blocks * scan->block;
    if (i < scan->end) {
        scan->sums[scan->blocks] = perf_hist_sum_cells_(hist, &scan->shape, i, scan->end - i);
        scan->total += scan->sums[scan->blocks++];
    }
}

/* The counter in [i, end) where the running count, `below` so far, reaches rank. */
PERF_FN size_t perf_hist_walk_(const perf_hist *hist, const perf_hist_shape_ *shape, size_t i,
                               size_t end, uint64_t below, uint64_t rank)
{
    uint64_t eight;

    for (; end - i > 8; i += 8) {
        eight = perf_hist_eight_(hist, shape, i);
        if (below + eight >= rank)
            break;
        below += eight;
    }
    for (; i < end - 1; i++) {
        below += perf_hist_cell_(hist, shape, i);
        if (below >= rank)
            break;
    }
    return i;
}

/* ceil(q * n), at least 1; a product that is an integer but for rounding is that integer. */
PERF_FN uint64_t perf_quantile_rank_(double q, uint64_t n)
{
    double   exact = q * PERF_CAST_(double, n);
    uint64_t rank;

    if (q >= 1.0)                               /* n as a double may be less than n               */
        return n;
    rank = PERF_CAST_(uint64_t, exact);
    if (exact - PERF_CAST_(double, rank) > exact * 4.5e-16)
        rank++;
    return perf_greater_(perf_lesser_(rank, n), 1);
}

/* The value of a rank in 1..total, in integers of the histogram. */
PERF_FN double perf_hist_value_(const perf_hist *hist, const perf_hist_scan_ *scan, uint64_t rank)
{
    uint64_t under = perf_hist_peek_(hist)->under, below = under, width, lower;
    size_t   i, end, block = 0;

    if (rank == scan->total)
        return scan->max;
    if (rank == 1 || rank <= under)
        return scan->min;
    while (block < scan->blocks && rank - below > scan->sums[block])
        below += scan->sums[block++];
    if (block == scan->blocks)
        return scan->max;                       /* above the range                                */
    i = scan->first + block * scan->block;
    end = i + scan->block;
    if (end > scan->end)
        end = scan->end;
    i = perf_hist_walk_(hist, &scan->shape, i, end, below, rank);
    lower = perf_hist_lower_(&scan->shape, i, &width);
    return perf_clamped_(PERF_CAST_(double, lower) + 0.5 * PERF_CAST_(double, width - 1), scan->min,
                         scan->max);
}

PERF_FN double perf_hist_quantile(const perf_hist *hist, double q)
{
    perf_hist_scan_ scan;
    uint64_t        rank;

    if (!hist || !(q >= 0.0 && q <= 1.0))
        return PERF_HIST_NO_DATA;
    perf_hist_scan_blocks_(hist, &scan);
    if (scan.total == 0)
        return PERF_HIST_NO_DATA;
    rank = perf_quantile_rank_(q, scan.total);
    return scan.shape.unit * perf_hist_value_(hist, &scan, rank);
}

/* Values in the buckets up to that of the integer `value`. */
PERF_FN uint64_t perf_hist_up_to_(const perf_hist *hist, uint64_t value)
{
    perf_hist_shape_ shape = perf_hist_shape_of_(hist);
    size_t           first, i;
    uint64_t         min, max;

    if (!perf_hist_extremes_(hist, &min, &max) || value < min)
        return 0;
    if (value >= max || value > shape.highest)
        return perf_hist_count(hist);
    if (value < shape.lowest)
        return perf_hist_peek_(hist)->under;
    (void)perf_hist_touched_(hist, &shape, &first);
    i = PERF_CAST_(size_t, perf_hist_index_(&shape, value)) + 1;
    return perf_hist_peek_(hist)->under + perf_hist_sum_cells_(hist, &shape, first, i - first);
}

PERF_FN uint64_t perf_hist_rank(const perf_hist *hist, double value)
{
    double x;

    if (!hist || perf_is_nan_(value))
        return 0;
    x = value / perf_hist_unit_(hist);
    if (perf_hist_peek_(hist)->unit > 0.0)
        x *= 1.0 + 4.5e-16;                     /* 0.3 / 0.1 is 3                                 */
    if (x < 0.0)
        return 0;
    if (x < 9223372036854775808.0)                  /* 2^63, one beyond the most                  */
        return perf_hist_up_to_(hist, PERF_CAST_(uint64_t, x));
    return perf_hist_up_to_(hist, PERF_HIST_MOST_);
}

/* ---- histogram: combine ---- */

PERF_FN int perf_hist_same_(const perf_hist_shape_ *a, const perf_hist_shape_ *b)
{
    return a->bits == b->bits && a->bytes == b->bytes && a->compact == b->compact &&
           a->counters == b->counters && a->first == b->first;
}

/* PERF_EINVAL: by unit or bits no values of `from` can go to `into`.  Else fills in both shapes. */
PERF_FN perf_status perf_hist_nests_(const perf_hist *into, const perf_hist *from,
                                     perf_hist_shape_ *into_shape, perf_hist_shape_ *from_shape)
{
    if (!into || !from || into == from)
        return PERF_EINVAL;
    *into_shape = perf_hist_shape_of_(into);
    *from_shape = perf_hist_shape_of_(from);
    if (from_shape->bits < into_shape->bits ||
        perf_bits_(into_shape->unit) != perf_bits_(from_shape->unit))
        return PERF_EINVAL;
    return PERF_OK;
}

/* What the counter of a place holds. */
PERF_FN uint64_t perf_hist_held_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                 uint64_t place)
{
    if (place == PERF_HIST_UNDER_)
        return perf_hist_peek_(hist)->under;
    if (place == PERF_HIST_OVER_)
        return perf_hist_peek_(hist)->over;
    return perf_hist_cell_(hist, shape, PERF_CAST_(size_t, place));
}

/* What is to be done with the values of another histogram. */
typedef enum perf_hist_deed_ {
    PERF_HIST_PLUS_, PERF_HIST_MINUS_, PERF_HIST_INSTEAD_
} perf_hist_deed_;

/* 1: the counter of a place can take (or give back) n values. */
PERF_FN int perf_hist_has_room_(const perf_hist *hist, const perf_hist_shape_ *shape,
                                uint64_t place, uint64_t n, perf_hist_deed_ deed)
{
    uint64_t held = 0, most = PERF_HIST_MOST_;

    if (deed != PERF_HIST_INSTEAD_)
        held = perf_hist_held_(hist, shape, place);
    if (shape->bytes == 4 && place < PERF_HIST_UNDER_)
        most = UINT32_MAX;
    if ((n | held) >> 63)
        return 0;
    if (deed == PERF_HIST_MINUS_)
        return n <= held;
    return n + held <= most;
}

/* PERF_OK: `into` can take (or give back) all of `from`, which has another shape. */
PERF_FN perf_status perf_hist_fits_(const perf_hist *into, const perf_hist *from,
                                    perf_hist_deed_ deed)
{
    perf_hist_shape_ shape = perf_hist_shape_of_(into);
    uint64_t         n = 0, last = PERF_HIST_UNDER_, place, held = 0;
    perf_hist_bucket bucket = PERF_ZERO;

    while (perf_hist_next(from, &bucket)) {     /* ascending: what shares a place is together     */
        place = perf_hist_place_(&shape, bucket.lower);
        if (place != perf_hist_place_(&shape, bucket.upper))
            return PERF_EINVAL;                 /* outside the range of `from` alone              */
        if (place != last)
            n = 0;
        n += bucket.count;
        last = place;
        if (bucket.count >> 63 || !perf_hist_has_room_(into, &shape, place, n, deed))
            return PERF_ERANGE;
    }
    if (deed == PERF_HIST_PLUS_)
        held = perf_hist_count(into);
    if ((bucket.below | held) >> 63 || bucket.below + held > PERF_HIST_MOST_)
        return PERF_ERANGE;
    return PERF_OK;
}

/* Equal shapes are added as they lie, two 32-bit counters as one number: none can overflow where
 * the total does not.  The memory of the counters is a multiple of 32 bytes.                     */
PERF_FN void perf_hist_merge_equal_(perf_hist *into, const perf_hist *from,
                                    const perf_hist_shape_ *shape)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);
    size_t                 i, end = perf_hist_touched_(from, shape, &i);
    size_t                 at_once = sizeof(perf_lanes_) / shape->bytes;
    perf_lanes_           *sums = PERF_PTR_(perf_lanes_ *, head + 1);
    const perf_lanes_     *added = PERF_CAST_(const perf_lanes_ *, perf_hist_peek_cells_(from));

    for (i /= at_once; i * at_once < end; i++)
        sums[i] += added[i];
    head->under += source->under;
    head->over += source->over;
}

/* 1: the shapes are equal, and the totals fit together: then no counter can overflow. */
PERF_FN int perf_hist_adds_up_(const perf_hist *into, const perf_hist *from,
                               const perf_hist_shape_ *into_shape,
                               const perf_hist_shape_ *from_shape)
{
    uint64_t n = perf_hist_count(into), more = perf_hist_count(from), most = PERF_HIST_MOST_;

    if (into_shape->bytes == 4)
        most = UINT32_MAX;
    return perf_hist_same_(into_shape, from_shape) && (n | more) >> 63 == 0 && n + more <= most;
}

/* into += from, or -= */
PERF_FN perf_status perf_hist_combine_(perf_hist *into, const perf_hist *from, int minus)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);
    perf_hist_shape_       into_shape, from_shape;
    perf_hist_bucket       bucket = PERF_ZERO;
    perf_status            status = perf_hist_nests_(into, from, &into_shape, &from_shape);
    int                    i;

    if (status != PERF_OK)
        return status;
    if (minus && head->lost < source->lost)
        return PERF_ERANGE;
    if (!minus && perf_hist_adds_up_(into, from, &into_shape, &from_shape)) {
        perf_hist_merge_equal_(into, from, &into_shape);
    } else {
        status = perf_hist_fits_(into, from, minus ? PERF_HIST_MINUS_ : PERF_HIST_PLUS_);
        while (status == PERF_OK && perf_hist_next(from, &bucket))
            (void)perf_hist_book_(into, &into_shape, bucket.lower, bucket.count, minus);
    }
    if (status != PERF_OK)
        return status;
    for (i = 0; i < 4; i++)
        if (minus)
            head->sums[i] -= source->sums[i];
        else
            head->sums[i] += source->sums[i];
    if (!minus)
        perf_hist_lose_(into, source->lost);
    else if (head->lost != UINT64_MAX)
        head->lost -= source->lost;
    return PERF_OK;
}

PERF_FN perf_status perf_hist_merge(perf_hist *into, const perf_hist *from)
{
    perf_status            status = perf_hist_combine_(into, from, 0);
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *source = perf_hist_peek_(from);

    if (status == PERF_OK) {        /* the windows stay: what they admit is still no new extreme  */
        head->not_min = perf_greater_(source->not_min, head->not_min);
        head->max = perf_greater_(source->max, head->max);
    }
    return status;
}

/* Sets the extremes: those given, moved into the first and the last occupied bucket.  Closes the
 * windows, so that the next records find new ones.                                               */
PERF_FN void perf_hist_settle_(perf_hist *hist, uint64_t min, uint64_t max)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_bucket bucket = PERF_ZERO, first = bucket, last = bucket;

    head->lo = head->width[0] = head->width[1] = head->width[2] = 0;
    while (perf_hist_next(hist, &bucket)) {
        if (bucket.below == 0)
            first = bucket;
        last = bucket;
    }
    head->not_min = head->max = 0;
    if (bucket.below == 0)
        return;
    head->not_min = ~perf_greater_(perf_lesser_(min, first.upper), first.lower);
    head->max = perf_greater_(perf_lesser_(max, last.upper), last.lower);
    if (bucket.below == 1)
        head->not_min = ~head->max;             /* one value has no two extremes                  */
}

PERF_FN perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from)
{
    perf_status status = perf_hist_combine_(into, from, 1);

    if (status == PERF_OK)
        perf_hist_settle_(into, ~perf_hist_peek_(into)->not_min, perf_hist_peek_(into)->max);
    return status;
}

PERF_FN void perf_hist_reset(perf_hist *hist)
{
    perf_hist_head_ *head = perf_hist_at_(hist);
    perf_hist_shape_ shape;
    size_t           first, end;

    if (!hist)
        return;
    shape = perf_hist_shape_of_(hist);
    end = perf_hist_touched_(hist, &shape, &first);
    PERF_LIBC_(memset)(PERF_PTR_(char *, head + 1) + first * shape.bytes, 0,
                       (end - first) * shape.bytes);
    perf_hist_head_make_(head, &shape);
}

/* A histogram of the same form, which somebody may be writing. */
PERF_FN void perf_hist_copy_live_(perf_hist *into, const perf_hist *live,
                                  const perf_hist_shape_ *shape)
{
    perf_hist_head_       *head = perf_hist_at_(into);
    const perf_hist_head_ *from = perf_hist_peek_(live);
    size_t                 i, end;

    perf_hist_reset(into);
    for (end = perf_hist_touched_(live, shape, &i); i < end; i++)
        (void)perf_hist_bump_(into, shape, i, perf_hist_cell_(live, shape, i), 0);
    head->under = PERF_GET_(&from->under);
    head->over = PERF_GET_(&from->over);
    head->lost = PERF_GET_(&from->lost);
    for (i = 0; i < 4; i++)
        head->sums[i] = PERF_GET_(&from->sums[i]);
    head->not_min = PERF_GET_(&from->not_min);  /* the walk below needs the touched range         */
    head->max = PERF_GET_(&from->max);
    perf_hist_settle_(into, ~head->not_min, head->max);
}

PERF_FN perf_status perf_hist_copy(perf_hist *into, const perf_hist *from)
{
    perf_hist_shape_ into_shape, from_shape;
    perf_status      status = perf_hist_nests_(into, from, &into_shape, &from_shape);

    if (status != PERF_OK)
        return status;
    if (perf_hist_same_(&into_shape, &from_shape)) {
        perf_hist_copy_live_(into, from, &into_shape);
        return PERF_OK;
    }
    status = perf_hist_fits_(into, from, PERF_HIST_INSTEAD_);
    if (status != PERF_OK)
        return status;
    perf_hist_reset(into);
    return perf_hist_merge(into, from);
}

PERF_END_DECLS

#endif /* PERF_HIST_H */
/* ==== perf_stats.h, continued ==== */
/* ==== perf_text.h ==== */
/* perf_text.h - a bounded writer of text, for the other headers.
 *
 *   char      line[80];
 *   perf_out_ o = perf_out_open_(line, sizeof line);
 *   perf_put_(&o, "load took ");
 *   perf_put_ns_(&o, 1234);                                 // "load took 1.23 us"
 *
 * For the library itself.  It calls no printf: no locale, no stdio, and fast enough for traces.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_TEXT_H
#define PERF_TEXT_H

#include <stdarg.h>

PERF_BEGIN_DECLS

/* >>internal: what other headers may use; most write into a perf_out_ --------------------------
 *   perf_out_, perf_out_open_  text that ends before `cap`; what is beyond is counted
 *   perf_out_grows_  a text that has always room, unless `failed` says that memory has ended
 *   perf_more_  room in a list that doubles
 *   perf_put_, perf_put_n_, perf_put_char_  a text, so many bytes, a character
 *   perf_put_u64_, perf_put_fixed_  numbers; perf_put_number_: with a text before it
 *   perf_put_real_  a number with 12 digits as JSON has it; perf_power_of_ten_  its exponent
 *   perf_put_date_, PERF_TIME_MOST_  "2026-11-21T12:00:00", and up to which time
 *   perf_columns_  columns of a name; perf_put_cut_, perf_put_cell_, perf_put_padded_  in columns
 *   and perf_put_ns_, perf_put_bytes_: "1.23 us", "1.5 MiB"
 *   perf_put_json_, perf_put_csv_  a name in quotes, as a program reads it
 *   perf_writer_, perf_member_key_, perf_member_open_, perf_member_close_, perf_member_text_,
 *   perf_member_whole_, perf_member_fixed_, perf_member_real_  members of JSON, with their commas
 *   perf_put_clean_  a name without control characters and broken bytes
 *   perf_table_, perf_column_, perf_table_open_, perf_table_head_ a table as wide as the screen:
 *   its cells from left to right are perf_table_text_, perf_table_ns_, perf_table_bytes_ and
 *   perf_table_fixed_; perf_table_row_end_ ends a row; perf_put_ns_in_, perf_put_fixed_in_,
 *   perf_put_bytes_in_ and perf_put_blanks_ write one cell alone
 *   perf_skip_word_, perf_skip_number_  what is behind a word, a number; NULL: it is not there
 *   PERF_NAME_MAX_, perf_name_length_, perf_text_length_  bytes kept of a name, of a text
 *   perf_text_hash_, PERF_TEXT_HASH_  a hash of a text, and what it begins with
 *   perf_few_, perf_few_add_, perf_put_few_  the first names of many
 *   perf_putf_, perf_putv_  by a format, see below
 *   perf_digits_, perf_digits_us_  digits in memory
 *   perf_char_, perf_char_of_, perf_char_columns_  of UTF-8                                      */

typedef struct perf_out_ {
    char  *p;           /* where to write; NULL with cap 0 only counts                            */
    size_t len;         /* characters asked for so far, also past the end                         */
    size_t cap;         /* size of p; output is always NUL-terminated when cap > 0                */
    int    width;       /* columns of the screen; 0: as many as there are                         */
    int    style;       /* what it can show: PERF_BARS_, PERF_COLOR_                              */
    int    grows;       /* 1: p comes from PERF_MALLOC, and is replaced by more when it is full   */
    int    failed;      /* 1: there was no memory to grow; the text is cut                        */
} perf_out_;
enum { PERF_BARS_ = 1, PERF_COLOR_ = 2 };

/* Writes a format of printf; compilers check the arguments.  Only these letters exist:
 *   %s  text    %c  character    %.3f  number with so many decimals (always given)    %%
 * %10.3f, %*s: right-aligned, after at least one blank.  %-20s: cut or padded to 20 columns;
 * %.20s: cut (perf_put_cut_).  Times, bytes and JSON have calls of their own, see >>internal.    */
PERF_FN void perf_putf_(perf_out_ *out, const char *format, ...)
    PERF_ATTR_((__format__(__printf__, 2, 3)));

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* ---- plain text ---- */

/* A text in `cap` bytes at `out`; NULL: it only counts. */
PERF_FN perf_out_ perf_out_open_(char *out, size_t cap)
{
    perf_out_ buffer = PERF_ZERO;

    buffer.p = out;
    buffer.cap = out ? cap : 0;
    if (buffer.cap)
        *out = '\0';
    return buffer;
}

/* Makes room for one more element of a list that doubles; `list` points to the pointer to it.  0:
 * no memory, and the list is as it was.                                                          */
PERF_COLD_FN_ int perf_more_(void *list, size_t *room, size_t used, size_t size)
{
    void  *old, *more = PERF_NULL_;
    size_t next = 16;

    if (used < *room)
        return 1;
    if (*room)
        next = 2 * *room;
    PERF_LIBC_(memcpy)(&old, list, sizeof old);
    if (next <= PERF_CAST_(size_t, -1) / 4 / size)
        more = PERF_MALLOC(next * size);
    if (!more)
        return 0;
    if (used)
        PERF_LIBC_(memcpy)(more, old, used * size);
    PERF_FREE(old);
    PERF_LIBC_(memcpy)(list, &more, sizeof more);
    *room = next;
    return 1;
}

/* Doubles the room of a text that grows. */
PERF_COLD_FN_ void perf_out_more_(perf_out_ *out)
{
    if (!perf_more_(&out->p, &out->cap, out->cap, 1)) {
        out->grows = 0;
        out->failed = 1;
    } else if (!out->len) {
        out->p[0] = '\0';
    }
}

/* A text in memory of its own, which grows; PERF_FREE its p when it is done with. */
PERF_COLD_FN_ perf_out_ perf_out_grows_(void)
{
    perf_out_ out = PERF_ZERO;

    out.grows = 1;
    perf_out_more_(&out);
    return out;
}

PERF_FN void perf_put_char_(perf_out_ *out, char ch)
{
    if (out->grows && out->len + 1 >= out->cap)
        perf_out_more_(out);
    if (out->len + 1 < out->cap) {
        out->p[out->len] = ch;
        out->p[out->len + 1] = '\0';
    }
    out->len++;
}

PERF_FN void perf_put_n_(perf_out_ *out, const char *text, size_t n)
{
    while (n--)
        perf_put_char_(out, *text++);
}

PERF_FN void perf_put_(perf_out_ *out, const char *text)
{
    perf_put_n_(out, text, PERF_LIBC_(strlen)(text));
}

PERF_COLD_FN_ void perf_put_blanks_(perf_out_ *out, size_t n)
{
    for (; n; n--)
        perf_put_char_(out, ' ');
}

/* ---- numbers ---- */

/* Writes `value` in decimal, without a NUL, where there is room for 20.  Returns where it ends. */
PERF_FN char *perf_digits_(char *at, uint64_t value)
{
    static const char two[] =                   /* the time of a trace is mostly that of digits   */
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
        "888990919293949596979899";
    char text[40], *q = text + 20;

    do {
        PERF_LIBC_(memcpy)(q -= 2, two + value % 100 * 2, 2);
        value /= 100;
    } while (value);
    q += *q == '0';
    PERF_LIBC_(memcpy)(at, q, 20);              /* quicker than as many as there are              */
    return at + (text + 20 - q);
}

/* Nanoseconds as microseconds with three decimals, exact: "0.042".  Below 1000 a 1 before the three
 * digits makes room for the 0, which then replaces it.                                           */
PERF_FN char *perf_digits_us_(char *at, uint64_t ns)
{
    char *end = perf_digits_(at, ns < 1000 ? ns + 1000 : ns);

    *at = PERF_CAST_(char, ns < 1000 ? '0' : *at);
    end[0] = end[-1];                           /* the last three move behind the point           */
    end[-1] = end[-2];
    end[-2] = end[-3];
    end[-3] = '.';
    return end + 1;
}

PERF_FN void perf_put_u64_(perf_out_ *out, uint64_t value)
{
    char digits[20];

    perf_put_n_(out, digits, PERF_CAST_(size_t, perf_digits_(digits, value) - digits));
}

/* The power of ten of x > 0; *first becomes x / 10^power, from 1 to below 10. */
PERF_COLD_FN_ int perf_power_of_ten_(double x, double *first)
{
    int power = 0;

    for (; x >= 10.0; power++)
        x /= 10.0;
    for (; x < 1.0; power--)
        x *= 10.0;
    *first = x;
    return power;
}

/* x >= 1e18 as "1.234e20", with 2 to 6 decimals. */
PERF_COLD_DECL_ void perf_put_huge_(perf_out_ *out, double x, int decimals);

/* x with `decimals` (0..15) digits after the point, rounded to nearest; "nan", "inf" in letters. */
PERF_FN void perf_put_fixed_(perf_out_ *out, double x, int decimals)
{
    uint64_t scale = 1, whole, frac;
    int      i;

    if (perf_is_nan_(x)) {
        perf_put_(out, "nan");
        return;
    }
    if (perf_bits_(x) >> 63) {
        perf_put_char_(out, '-');
        x = -x;
    }
    if (!perf_is_finite_(x)) {
        perf_put_(out, "inf");
        return;
    }
    if (x >= 1e18) {                            /* too large for the split below                  */
        perf_put_huge_(out, x, decimals);
        return;
    }
    for (i = 0; i < decimals; i++)
        scale *= 10;
    whole = PERF_CAST_(uint64_t, x);
    frac = PERF_CAST_(uint64_t, (x - PERF_CAST_(double, whole)) * PERF_CAST_(double, scale) + 0.5);
    if (frac >= scale) {
        whole++;
        frac -= scale;
    }
    perf_put_u64_(out, whole);
    if (decimals > 0) {
        perf_put_char_(out, '.');
        while ((scale /= 10) > 1 && frac < scale)
            perf_put_char_(out, '0');
        perf_put_u64_(out, frac);
    }
}

PERF_COLD_FN_ void perf_put_huge_(perf_out_ *out, double x, int decimals)
{
    const int tens = perf_power_of_ten_(x, &x);

    if (decimals > 6)
        decimals = 6;
    if (decimals < 2)
        decimals = 2;
    perf_put_fixed_(out, x, decimals);
    perf_put_char_(out, 'e');
    perf_put_u64_(out, PERF_CAST_(uint64_t, tens));
}

/* The text `before`, then x as perf_put_fixed_ does. */
PERF_COLD_FN_ void perf_put_number_(perf_out_ *out, const char *before, double x, int decimals)
{
    perf_put_(out, before);
    perf_put_fixed_(out, x, decimals);
}

/* Three digits and a unit: "17.4 ns", "1.23 us", "98.2 s". */
PERF_COLD_FN_ void perf_put_ns_(perf_out_ *out, double ns)
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    double                   size = ns < 0 ? -ns : ns;
    int                      i = 0, decimals = 0;

    for (; i < 3 && size >= 999.5; i++) {
        size /= 1000;
        ns /= 1000;
    }
    if (size < 99.95)
        decimals = 1;
    if (size < 9.995)
        decimals = 2;
    perf_put_fixed_(out, ns, decimals);
    perf_put_(out, unit[i]);
}

/* "512 B", "1.5 MiB", "200 GiB". */
PERF_COLD_FN_ void perf_put_bytes_(perf_out_ *out, double bytes)
{
    static const char *const unit[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    double                   size = bytes < 0 ? -bytes : bytes;
    int                      i = 0;

    for (; i < 4 && size >= 1023.5; i++) {
        size /= 1024;
        bytes /= 1024;
    }
    perf_put_fixed_(out, bytes, i > 0 && size < 99.95);
    perf_put_(out, unit[i]);
}

#define PERF_REAL_DIGITS_ 12    /* significant ones of a number in a file                         */

/* A number as JSON has it, without trailing zeros; null for what is infinite or none.  It has an
 * exponent below 1e-5 and from 1e17 on.                                                          */
PERF_COLD_FN_ void perf_put_real_(perf_out_ *out, double x)
{
    char      text[64];
    perf_out_ digits = perf_out_open_(text, sizeof text);
    double    first;
    int       power, plain, decimals = PERF_REAL_DIGITS_ - 1;

    if (!perf_is_finite_(x)) {
        perf_put_(out, "null");
        return;
    }
    if (x < 0.0) {
        perf_put_char_(out, '-');
        x = -x;
    }
    if (!(x > 0.0)) {
        perf_put_char_(out, '0');
        return;
    }
    power = perf_power_of_ten_(x, &first);
    plain = power >= -5 && power < 17;
    if (plain)
        decimals -= power;
    if (decimals < 0)
        decimals = 0;
    perf_put_fixed_(&digits, plain ? x : first, decimals);
    if (decimals) {
        while (text[digits.len - 1] == '0')
            digits.len--;
        if (text[digits.len - 1] == '.')
            digits.len--;
    }
    perf_put_n_(out, text, digits.len);
    if (!plain)
        perf_putf_(out, power > 0 ? "e+%.0f" : "e%.0f", PERF_CAST_(double, power));
}

#define PERF_TIME_MOST_ 2e11    /* seconds since the epoch: in 6,000 years                        */

/* "07" after `before`. */
PERF_COLD_FN_ void perf_put_two_digits_(perf_out_ *out, char before, uint64_t value)
{
    perf_put_char_(out, before);
    if (value < 10)
        perf_put_char_(out, '0');
    perf_put_u64_(out, value);
}

/* Seconds since the epoch as "2026-11-21T12:00:00".  Here a year begins in March, so that its leap
 * day is the last.  Days count from 0000-03-01; an era has 400 years, which are 146097 days.     */
PERF_COLD_FN_ void perf_put_date_(perf_out_ *out, double time_s)
{
    uint64_t seconds = 0, days, era, day, year, month;

    if (time_s > 0.0 && time_s < PERF_TIME_MOST_)
        seconds = PERF_CAST_(uint64_t, time_s);
    days = seconds / 86400 + 719468;            /* of 1970-01-01                                  */
    era = days / 146097;
    day = days % 146097;
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    month += 3;
    if (month > 12) {
        month -= 12;
        year++;
    }
    perf_put_u64_(out, year + 400 * era);
    perf_put_two_digits_(out, '-', month);
    perf_put_two_digits_(out, '-', day + 1);
    perf_put_two_digits_(out, 'T', seconds % 86400 / 3600);
    perf_put_two_digits_(out, ':', seconds % 3600 / 60);
    perf_put_two_digits_(out, ':', seconds % 60);
}

/* ---- numbers and words read ---- */

/* Skips blanks and, without regard to case, `word`; NULL when it is not there. */
PERF_FN const char *perf_skip_word_(const char *text, const char *word)
{
    while (*text == ' ' || *text == '\t')
        text++;
    for (; *word; word++, text++) {
        int letter = *text;
        if (letter >= 'A' && letter <= 'Z')
            letter += 'a' - 'A';
        if (letter != *word)
            return PERF_NULL_;
    }
    return text;
}

/* A plain decimal number of at most 14 digits; NULL when there is none. */
PERF_FN const char *perf_skip_number_(const char *text, double *out)
{
    double x = 0.0, unit = 0.0;                     /* unit 0: no point yet                       */
    int    digits = 0;

    for (text = perf_skip_word_(text, ""); digits < 15; text++)
        if (*text >= '0' && *text <= '9') {
            x = 10.0 * x + (*text - '0');
            unit *= 10.0;
            digits++;
        } else if (*text == '.' && !(unit > 0.0)) {
            unit = 1.0;
        } else {
            break;
        }
    *out = x;
    if (unit > 0.0)
        *out = x / unit;
    if (digits == 0 || digits == 15)
        return PERF_NULL_;
    return text;
}

/* ---- names: the one place that knows UTF-8 ---- */

#define PERF_NAME_MAX_ 255             /* bytes of a name that are kept                          */

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

#define perf_name_length_(name) perf_text_length_(name, PERF_NAME_MAX_)

#define PERF_TEXT_HASH_ UINT32_C(2166136261)

/* FNV-1a of n bytes, beginning with `hash`. */
PERF_FN uint32_t perf_text_hash_(uint32_t hash, const char *text, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        hash = (hash ^ PERF_CAST_(unsigned char, text[i])) * UINT32_C(16777619);
    return hash;
}

/* A character: how many bytes it has, 1 if it is broken. */
typedef struct perf_char_ {
    int      bytes;
    int      broken;            /* 1: a byte that is no UTF-8                                     */
    int      control;           /* 1: U+0000..001F, 007F, 0080..009F: a terminal obeys them       */
    uint32_t code;              /* of Unicode; U+FFFD for a broken one                            */
} perf_char_;

/* The character that begins at `text`; *text is not 0. */
PERF_COLD_FN_ perf_char_ perf_char_of_(const char *text)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint32_t mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t              code = PERF_CAST_(unsigned char, *text);
    perf_char_            ch = {1, 1, 0, 0xfffd};
    int                   i, bytes = 1;

    if (code >= 0xf0)
        bytes = 4;
    else if (code >= 0xe0)
        bytes = 3;
    else if (code >= 0x80)
        bytes = 2;
    if ((code >= 0x80 && code < 0xc0) || code > 0xf4)       /* begins no character                */
        return ch;
    code &= mask[bytes];
    for (i = 1; i < bytes && (text[i] & 0xc0) == 0x80; i++)
        code = code << 6 | (PERF_CAST_(unsigned char, text[i]) & 0x3f);
    if (i == bytes && code >= least[bytes] && code <= 0x10ffff &&
        (code < 0xd800 || code > 0xdfff)) {                 /* no half of a UTF-16 pair           */
        ch.bytes = bytes;
        ch.broken = 0;
        ch.control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        ch.code = code;
    }
    return ch;
}

/* The columns that a character takes on a terminal: 2 for East Asian wide ones and emoji, 0 for
 * combining marks, else 1 (by large blocks of Unicode's East Asian Width).                       */
PERF_COLD_FN_ size_t perf_char_columns_(perf_char_ ch)
{
    static const uint32_t block[][3] = {        /* first, last, columns                           */
        {0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x2e80, 0x303e, 2},
        {0x3041, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
        {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f6ff, 2},
        {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
    size_t i;

    for (i = 0; i < sizeof block / sizeof *block; i++)
        if (ch.code >= block[i][0] && ch.code <= block[i][1])
            return block[i][2];
    return 1;
}

/* Writes a text with `control` for each control character, '?' for each byte that is no UTF-8.
 * control 0: such characters stay as they are.                                                   */
PERF_COLD_FN_ void perf_put_clean_(perf_out_ *out, const char *text, char control)
{
    perf_char_ ch;

    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.broken)
            perf_put_char_(out, '?');
        else if (ch.control && control)
            perf_put_char_(out, control);
        else
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
    }
}

/* Columns of a terminal that a name takes. */
PERF_COLD_FN_ size_t perf_columns_(const char *name)
{
    size_t      columns = 0;
    perf_char_  ch;

    for (; *name; name += ch.bytes) {
        ch = perf_char_of_(name);
        columns += perf_char_columns_(ch);
    }
    return columns;
}

/* Writes a name in at most `width` columns: a longer one is cut, with "..." behind.  Control
 * characters and bytes that are not UTF-8 become '?'.  Returns the columns left.                 */
PERF_COLD_FN_ size_t perf_put_cut_(perf_out_ *out, const char *name, size_t width)
{
    const int  cut = perf_columns_(name) > width;
    size_t     shown = 0, wide;
    perf_char_ ch;

    for (; *name; name += ch.bytes, shown += wide) {
        ch = perf_char_of_(name);
        wide = perf_char_columns_(ch);
        if (cut && shown + wide + 3 > width)
            break;
        if (ch.broken || ch.control)
            perf_put_char_(out, '?');
        else
            perf_put_n_(out, name, PERF_CAST_(size_t, ch.bytes));
    }
    if (cut) {
        perf_put_(out, "...");
        shown += 3;
    }
    return shown < width ? width - shown : 0;
}

/* Fills a column with a name, and blanks.  A longer one is cut within: names of one family, types
 * and paths, often differ at their end alone.                                                    */
PERF_COLD_FN_ void perf_put_padded_(perf_out_ *out, const char *name, size_t width)
{
    const size_t end = width / 3;               /* columns of the end of a cut name               */
    size_t       left = perf_columns_(name), room = width;
    perf_char_   ch;

    if (left > width && end > 3) {
        room = end + perf_put_cut_(out, name, width - end);
        for (; left > room; name += ch.bytes) {
            ch = perf_char_of_(name);
            left -= perf_char_columns_(ch);
        }
    }
    perf_put_blanks_(out, perf_put_cut_(out, name, room));
}

/* Right-aligned in `width` columns, after at least one blank. */
PERF_FN void perf_put_cell_(perf_out_ *out, const char *text, size_t width)
{
    size_t n = PERF_LIBC_(strlen)(text);

    do
        perf_put_char_(out, ' ');
    while (++n < width);
    perf_put_(out, text);
}

/* The same of numbers, right-aligned in `width` columns after at least one blank. */
PERF_COLD_FN_ void perf_put_fixed_in_(perf_out_ *out, double x, int decimals, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_fixed_(&cell, x, decimals);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_put_ns_in_(perf_out_ *out, double ns, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_ns_(&cell, ns);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_put_bytes_in_(perf_out_ *out, double bytes, int width)
{
    char      text[48];
    perf_out_ cell = perf_out_open_(text, sizeof text);

    perf_put_bytes_(&cell, bytes);
    perf_put_cell_(out, text, PERF_CAST_(size_t, width));
}

/* A name as a JSON string in quotes, safe in a <script>; a byte that is no UTF-8 is \ufffd. */
PERF_COLD_FN_ void perf_put_json_(perf_out_ *out, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    perf_char_        ch;

    perf_put_char_(out, '"');
    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.code == 0xfffd) {
            perf_put_(out, "\\ufffd");
        } else if (ch.control || ch.code == '<') {
            perf_put_(out, "\\u00");
            perf_put_char_(out, hex[ch.code >> 4]);
            perf_put_char_(out, hex[ch.code & 15]);
        } else {
            if (ch.code == '"' || ch.code == '\\')
                perf_put_char_(out, '\\');
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
        }
    }
    perf_put_char_(out, '"');
}

/* A name as a CSV field in quotes, which are doubled inside (RFC 4180).  Control characters but
 * tabs and ends of lines become '?', broken bytes U+FFFD.  A spreadsheet would run a text that
 * begins with = + - or @: such a one gets a ' before it.                                         */
PERF_COLD_FN_ void perf_put_csv_(perf_out_ *out, const char *text)
{
    perf_char_ ch;

    perf_put_char_(out, '"');
    if (*text && PERF_LIBC_(strchr)("=+-@", *text))
        perf_put_char_(out, '\'');
    for (; *text; text += ch.bytes) {
        ch = perf_char_of_(text);
        if (ch.broken) {
            perf_put_(out, "\xef\xbf\xbd");
        } else if (ch.control && ch.code != '\n' && ch.code != '\t') {
            perf_put_char_(out, '?');
        } else {
            if (ch.code == '"')
                perf_put_char_(out, '"');
            perf_put_n_(out, text, PERF_CAST_(size_t, ch.bytes));
        }
    }
    perf_put_char_(out, '"');
}

/* The first names of many, each once. */
typedef struct perf_few_ {
    const char *name[8];
    size_t      n;
} perf_few_;

PERF_COLD_FN_ void perf_few_add_(perf_few_ *few, const char *name)
{
    size_t i;

    for (i = 0; i < few->n && PERF_LIBC_(strcmp)(few->name[i], name) != 0; i++) {
    }
    if (i == few->n && i < sizeof few->name / sizeof *few->name)
        few->name[few->n++] = name;
}

/* ": load, decode\n" */
PERF_COLD_FN_ void perf_put_few_(perf_out_ *out, const perf_few_ *few, uint64_t all)
{
    size_t i;

    for (i = 0; i < few->n; i++) {
        perf_put_(out, i ? ", " : ": ");
        (void)perf_put_cut_(out, few->name[i], 40);
    }
    perf_put_(out, few->n && few->n < all ? ", ...\n" : "\n");
}

/* ---- tables ---- */

/* One column of a table. */
typedef struct perf_column_ {
    const char *title;
    int         width;          /* characters, with the blank before it                           */
    char        leaves;         /* of a narrow screen: 'a' first, then 'b', ...; 0: it stays      */
    char        bar;            /* 1: only where bars are drawn                                   */
} perf_column_;

/* A table as wide as the screen; its first column holds names. */
typedef struct perf_table_ {
    perf_out_          *out;
    const perf_column_ *column;
    int                 columns;        /* at most 16                                             */
    int                 at;             /* the column of the next cell                            */
    int                 name;           /* width of the names: 20 at least where that fits        */
    char                shown[16];
} perf_table_;

/* Leaves out columns until the rest fits, then makes the names shorter. */
PERF_COLD_FN_ perf_table_ perf_table_open_(perf_out_ *out, const perf_column_ *column, int columns)
{
    perf_table_ table = PERF_ZERO;
    int         i, used = 0, wanted, fits = 0;
    char        gone = 'a' - 1;

    table.out = out;
    table.column = column;
    table.columns = columns;
    table.name = column[0].width;
    for (; !fits && gone <= 'z'; gone++) {
        for (i = used = 0; i < columns; i++) {
            const int leaves = column[i].leaves && column[i].leaves <= gone;
            table.shown[i] = !leaves && (!column[i].bar || (out->style & PERF_BARS_));
            if (table.shown[i])
                used += column[i].width;
        }
        wanted = used - table.name + 20;
        fits = !out->width || wanted <= out->width;
    }
    if (out->width && used > out->width)
        table.name -= used - out->width;
    if (table.name < 8)
        table.name = 8;
    return table;
}

/* The width of the next cell of a row, from left to right; 0: its column is left out. */
PERF_COLD_FN_ int perf_table_width_(perf_table_ *table)
{
    const int at = table->at++;

    return table->shown[at] ? table->column[at].width : 0;
}

/* A name in the first column, a text in others. */
PERF_COLD_FN_ void perf_table_text_(perf_table_ *table, const char *text)
{
    const int first = table->at == 0, width = perf_table_width_(table);

    if (first)
        perf_put_padded_(table->out, text, PERF_CAST_(size_t, table->name));
    else if (width)
        perf_put_cell_(table->out, text, PERF_CAST_(size_t, width));
}

PERF_COLD_FN_ void perf_table_fixed_(perf_table_ *table, double x, int decimals)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_fixed_in_(table->out, x, decimals, width);
}

PERF_COLD_FN_ void perf_table_ns_(perf_table_ *table, double ns)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_ns_in_(table->out, ns, width);
}

PERF_COLD_FN_ void perf_table_bytes_(perf_table_ *table, double bytes)
{
    const int width = perf_table_width_(table);

    if (width)
        perf_put_bytes_in_(table->out, bytes, width);
}

PERF_COLD_FN_ void perf_table_row_end_(perf_table_ *table)
{
    table->at = 0;
    perf_put_char_(table->out, '\n');
}

/* The row of titles. */
PERF_COLD_FN_ void perf_table_head_(perf_table_ *table)
{
    int i;

    for (i = 0; i < table->columns; i++)
        perf_table_text_(table, table->column[i].title);
    perf_table_row_end_(table);
}

/* ---- by a format ---- */

/* What stands between a % and its letter; -1: not given. */
typedef struct perf_spec_ {
    int left, width, precision;
} perf_spec_;

/* Reads a number, or takes the argument that a * stands for; returns what follows it. */
PERF_COLD_FN_ const char *perf_spec_number_(const char *format, va_list *args, int *number)
{
    if (*format == '*') {
        *number = va_arg(*args, int);
        return format + 1;
    }
    for (*number = 0; *format >= '0' && *format <= '9'; format++)
        *number = 10 * *number + (*format - '0');
    return format;
}

/* A text as a spec says: cut, padded, or a cell. */
PERF_COLD_FN_ void perf_put_spec_(perf_out_ *out, const char *text, perf_spec_ spec)
{
    if (spec.left)
        perf_put_padded_(out, text, PERF_CAST_(size_t, spec.width));
    else if (spec.precision > 0)
        (void)perf_put_cut_(out, text, PERF_CAST_(size_t, spec.precision));
    else if (spec.width)
        perf_put_cell_(out, text, PERF_CAST_(size_t, spec.width));
    else
        perf_put_(out, text);
}

PERF_COLD_FN_ void perf_putv_(perf_out_ *out, const char *format, va_list *args)
{
    for (; *format; format++) {
        char       text[48];
        perf_out_  cell = perf_out_open_(text, sizeof text);
        perf_spec_ spec = {0, 0, -1};

        if (*format != '%' || *++format == '%') {
            perf_put_char_(out, *format);
            continue;
        }
        if (*format == '-') {
            spec.left = 1;
            format++;
        }
        format = perf_spec_number_(format, args, &spec.width);
        if (*format == '.')
            format = perf_spec_number_(format + 1, args, &spec.precision);
        if (*format == 's') {
            perf_put_spec_(out, va_arg(*args, const char *), spec);
            continue;
        }
        if (*format == 'c')
            perf_put_char_(&cell, PERF_CAST_(char, va_arg(*args, int)));
        else
            perf_put_fixed_(&cell, va_arg(*args, double), spec.precision);
        spec.precision = 0;
        perf_put_spec_(out, text, spec);
    }
}

PERF_FN void perf_putf_(perf_out_ *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    perf_putv_(out, format, &args);
    va_end(args);
}

/* ---- JSON ---- */

/* Writes JSON and puts the commas. */
typedef struct perf_writer_ {
    perf_out_ *out;
    int        comma;           /* 1: one stands before the next value                            */
    int        line;            /* 1: and a new line                                              */
} perf_writer_;

/* What comes before a value: its comma, line and key; key NULL: an element of a list. */
PERF_COLD_FN_ void perf_member_key_(perf_writer_ *json, const char *key)
{
    if (json->comma)
        perf_put_char_(json->out, ',');
    if (json->line)
        perf_put_(json->out, "\n ");
    json->comma = 1;
    json->line = 0;
    if (!key)
        return;
    perf_put_json_(json->out, key);
    perf_put_char_(json->out, ':');
}

/* bracket: '{' or '['. */
PERF_COLD_FN_ void perf_member_open_(perf_writer_ *json, const char *key, char bracket)
{
    perf_member_key_(json, key);
    perf_put_char_(json->out, bracket);
    json->comma = 0;
}

PERF_COLD_FN_ void perf_member_close_(perf_writer_ *json, char bracket)
{
    perf_put_char_(json->out, bracket);
    json->comma = 1;
    json->line = 0;
}

PERF_COLD_FN_ void perf_member_text_(perf_writer_ *json, const char *key, const char *text)
{
    perf_member_key_(json, key);
    perf_put_json_(json->out, text);
}

PERF_COLD_FN_ void perf_member_real_(perf_writer_ *json, const char *key, double x)
{
    perf_member_key_(json, key);
    perf_put_real_(json->out, x);
}

/* With so many decimals; null for what is infinite or none. */
PERF_COLD_FN_ void perf_member_fixed_(perf_writer_ *json, const char *key, double x, int decimals)
{
    perf_member_key_(json, key);
    if (perf_is_finite_(x))
        perf_put_fixed_(json->out, x, decimals);
    else
        perf_put_(json->out, "null");
}

PERF_COLD_FN_ void perf_member_whole_(perf_writer_ *json, const char *key, uint64_t value)
{
    perf_member_key_(json, key);
    perf_put_u64_(json->out, value);
}

PERF_END_DECLS

#endif /* PERF_TEXT_H */
/* ==== perf_stats.h, continued ==== */
/* ==== perf_verdict.h ==== */
/* perf_verdict.h - the words of an answer: summaries, rules, verdicts, warnings.  Types.
 *
 *     perf_rule rule = {PERF_RULE_REDUCTION, PERF_METRIC_P95, 20, 0};   // p95 down by 20 %
 *
 * perf_stats.h fills them in; perf_bench.h hands them out.  A file that only declares or stores
 * them needs no more than this.
 * Sections (search for ">>"):  warnings  summary  compare  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_VERDICT_H
#define PERF_VERDICT_H


PERF_BEGIN_DECLS

/* >>warnings ---------------------------------------------------------------------------------- */

/* What you should know when you read a result, as bits, from 0 on without a gap.  A warning never
 * changes a number.                                                                              */
#define PERF_WARN_LIST_(X)                                                                        \
    X(PERF_WARN_UNBOUNDED,   0, "too few values to bound every interval")                         \
    X(PERF_WARN_BAD_VALUES,  1, "values that are no positive numbers were left out")              \
    X(PERF_WARN_RESOLUTION,  2, "the clock's resolution widens the interval")                     \
    X(PERF_WARN_MEAN,        3, "one value carries over 10 % of the sum: the mean means little")  \
    X(PERF_WARN_ORDER,       4, "not measured in random order")                                   \
    X(PERF_WARN_NOISY,       5, "the interval is wider than asked for")                           \
    X(PERF_WARN_EMPTY_BODY,  6, "little more than an empty loop: was the body deleted? "          \
                                "perf_keep() it")                                                 \
    X(PERF_WARN_DRIFT,       7, "times still drifted after the warm-up")                          \
    X(PERF_WARN_STOPPED,     8, "the loop was left before it was done")                           \
    X(PERF_WARN_UNOPTIMISED, 9, "compiled without optimisation")                                  \
    X(PERF_WARN_CLOCK,      10, "the clock went backwards: those slices were thrown away")        \
    X(PERF_WARN_PAUSED,     11, "a pause without resume: the rest of its slice was not timed")    \
    X(PERF_WARN_EXPOSED,    12, "GPU samples that host time may have leaked into were left out")  \
    X(PERF_WARN_THROTTLED,  13, "the GPU slowed itself down during some samples")                 \
    X(PERF_WARN_STREAM,     14, "the GPU worked on other streams than the timed one")             \
    X(PERF_WARN_NOT_COLD,   15, "nothing here can flush the L2 cache: these are warm times")      \
    X(PERF_WARN_NO_GRAPH,   16, "the body could not be captured: timed as it is, without a graph") \
    X(PERF_WARN_OUTPUTS,    17, "the outputs differ by more than the tolerance")       \
    X(PERF_WARN_SHAPE,      18, "the two differ in shape: look at p95 and mean, too") \
    X(PERF_WARN_TURNS,      19, "in turns without leads the ratio is another: they share caches") \
    X(PERF_WARN_NAME,       20, "its name was cut to 255 bytes") \
    X(PERF_WARN_PAUSES,     21, "the cost of pauses is uncertain by over 1 %: intervals hold that")

#define PERF_WARN_ENUM_(name, bit, text) name = 1 << (bit),
/* The bits by name; `warnings` fields hold any number of them. */
typedef enum perf_warning { PERF_WARN_LIST_(PERF_WARN_ENUM_) PERF_WARN_NONE = 0 } perf_warning;
#undef PERF_WARN_ENUM_

/* Static English text of one warning bit (1u << n); never NULL. */
PERF_FN const char *perf_warning_text(uint32_t bit);

/* An estimate with the bounds of its confidence interval. */
typedef struct perf_interval {
    double low, estimate, high;
} perf_interval;

/* >>summary: one sample of durations (or bytes, or anything >= 0) ---------------------------------
 * Values that are NaN, infinite or negative are left out and counted in `excluded`.  Intervals are
 * exact binomial order-statistic intervals: right for any distribution of independent values.  A
 * side is infinite when n is too small for it (95 %: p50 needs 6 values, p95 72, p99 368).*/
typedef struct perf_summary {
    uint64_t    count;                  /* values used; 0: no data, every other number is 0       */
    uint64_t    excluded;               /* values left out                                        */
    double      min, max;
    double      mean, std;              /* std: n - 1 in the denominator; 0 for one value         */
    double      mad;                    /* median distance to the median, not scaled              */
    double      p50, p95, p99;          /* linear interpolation (R's type 7)                      */
    double      p50_low, p50_high;      /* interval of p50 at `confidence`; +-infinity: unbounded */
    double      p95_low, p95_high;
    double      p99_low, p99_high;
    double      confidence;             /* 0.95                                                   */
    perf_status status;                 /* PERF_OK, PERF_ENODATA, PERF_EINVAL or PERF_ENOMEM      */
    uint32_t    warnings;               /* PERF_WARN_ bits                                        */
} perf_summary;

/* >>compare: is the candidate better by as much as you asked? -------------------------------------
 * ACCEPT: the whole interval clears the threshold.  REJECT: the whole interval misses it.  (Of
 * PERF_RULE_SAME: lies within both limits, outside of them.)
 * INCONCLUSIVE: neither; `pairs_needed` says how many further pairs would probably settle it.  A
 * wrong ACCEPT has a chance of at most half of 1 - confidence (2.5 %), and so has a wrong REJECT.
 * (Of PERF_RULE_SAME, with its two limits, a wrong REJECT: 1 - confidence.)
 * docs/statistics.md says why, and what is assumed.                                              */
typedef enum perf_decision { PERF_INCONCLUSIVE, PERF_ACCEPT, PERF_REJECT } perf_decision;

typedef enum perf_metric {              /* what is compared, candidate against baseline           */
    PERF_METRIC_PAIR,                   /* the typical ratio within a pair; samples: of medians  */
    PERF_METRIC_P50, PERF_METRIC_P95, PERF_METRIC_P99, PERF_METRIC_MEAN,
    PERF_METRIC_MEMORY,                 /* like PAIR; only the wording differs                    */
    PERF_METRIC_THROUGHPUT,             /* like PAIR; more is better                              */
    PERF_METRIC_INSTRUCTIONS, PERF_METRIC_CYCLES,   /* like MEMORY, of perf_counters.h: see       */
    PERF_METRIC_BRANCHES, PERF_METRIC_BRANCH_MISSES /* perf_counters_judge()                      */
} perf_metric;

typedef enum perf_rule_kind {
    PERF_RULE_SPEEDUP,                  /* amount: factor;  0 -> 1.3   "speed-up >= 1.3x"         */
    PERF_RULE_REDUCTION,                /* amount: percent; 0 -> 20    "down >= 20 %"             */
    PERF_RULE_NO_REGRESSION,            /* amount: percent; 0 -> 2     "no more than 2 % worse"   */
    PERF_RULE_SAME                      /* amount: percent; 0 -> 2     "the same within 2 %"      */
} perf_rule_kind;

typedef struct perf_rule {              /* an acceptance rule as data; all zero: speed-up >= 1.3x */
    perf_rule_kind kind;
    perf_metric    metric;
    double         amount;
    int            memory;              /* 1: the metric is one of memory, not of time            */
} perf_rule;

typedef enum perf_design {              /* how the two samples came about                         */
    PERF_DESIGN_UNKNOWN,                /* pairs: each is taken to be in the order of a coin;     */
                                        /* separate samples: never better than INCONCLUSIVE       */
    PERF_DESIGN_RANDOM,                 /* the order of measurement was randomised: you vouch     */
    PERF_DESIGN_SEPARATE                /* one after the other (a saved baseline): INCONCLUSIVE   */
} perf_design;

/* Largest differences between two arrays of outputs, and how much of them is tolerated. */
typedef struct perf_accuracy {
    double   max_abs, max_rel, max_ulp; /* NaN: an element is NaN or infinite on one side only,   */
                                        /* or there was none to look at                           */
    uint64_t compared;                  /* elements looked at                                     */
} perf_accuracy;

typedef struct perf_tolerance {         /* each > 0 limits that error; all 0: bit for bit equal;  */
    double abs, rel, ulp;               /* negative or NaN: no tolerance, nothing passes          */
} perf_tolerance;

typedef struct perf_guard {             /* all zero: no check is asked for                        */
    int            required;            /* 1: without a passed check nothing is ACCEPTed; a limit */
                                        /* or anything in `seen` means 1, too                     */
    perf_accuracy  seen;                /* from perf_accuracy_f64 and friends                     */
    perf_tolerance limit;
} perf_guard;

typedef struct perf_compare_opts {      /* zero = default                                         */
    double      confidence;             /* 0 -> 0.95, of the two-sided interval; 0.5 .. 0.999999  */
    perf_rule   rule;                   /* 0 -> speed-up >= 1.3x                                  */
    perf_design design;
    double      tick;                   /* step of the clock, in the unit of the samples; 0: the  */
                                        /* step that the values of both arms show (memory: none); */
                                        /* negative: the values are exact                         */
    perf_guard  guard;
    int         rules;                  /* how many rules are joined by AND, this one included;   */
                                        /* 0 -> 1.  REJECT (in loops both answers) then needs 1 - */
                                        /* (1 - confidence) / rules: all together err as seldom   */
} perf_compare_opts;

/* The answer, with all it rests on.  A plain struct: no pointer into your data. */
typedef struct perf_verdict {
    perf_decision decision;
    perf_status   status;               /* PERF_OK or why nothing can be said                     */
    const char   *reason;               /* one static sentence, never NULL                        */
    perf_rule     rule;                 /* as held against, defaults filled in                    */
    double        threshold;            /* the same as a ratio candidate / baseline               */
    double        confidence;
    perf_interval ratio;                /* candidate / baseline; low 0 or high inf: unbounded     */
    perf_interval speedup;              /* baseline / candidate (throughput: the inverse)         */
    uint64_t      pairs;                /* pairs used; separate samples: the smaller count        */
    uint64_t      baseline_values;      /* separate samples: values used of each; pairs: 0        */
    uint64_t      candidate_values;
    uint64_t      excluded;             /* values left out: NaN, infinite, zero or negative       */
    double        min_detectable_change;    /* so many find it with 80 % chance: 0.02 is 2 %;     */
                                        /* inf: none                                              */
    double        pairs_needed;         /* INCONCLUSIVE: further pairs for an 80 % chance of an   */
                                        /* answer; inf: no number is enough; else 0               */
    uint32_t      warnings;             /* PERF_WARN_ bits                                        */
    const char   *clock;                /* "by processor time", "by the wall's clock"; NULL: the  */
                                        /* library did not take the times                         */
    double        mean_ratio;           /* ratio of the means, of the p99, where they lie on the  */
    double        p99_ratio;            /* other side of the threshold than the answer; else 0    */
    double        led_ratio;            /* after longer leads, where it is another; else 0        */
    char          text[400];            /* filled by perf_verdict_text                            */
} perf_verdict;

/* >>private: bodies ---------------------------------------------------------------------------- */

#define PERF_WARN_TEXT_(name, bit, text) text,
PERF_FN const char *perf_warning_text(uint32_t bit)
{
    static const char *const texts[] = {PERF_WARN_LIST_(PERF_WARN_TEXT_) PERF_NULL_};
    int                      i;

    for (i = 0; texts[i]; i++)
        if (bit == 1u << i)
            return texts[i];
    return "unknown warning";
}
#undef PERF_WARN_TEXT_

PERF_END_DECLS

#endif /* PERF_VERDICT_H */
/* ==== perf_stats.h, continued ==== */

PERF_BEGIN_DECLS

/* >>summary: without an array the status is PERF_EINVAL, or else the answer is NaN ------- */

/* Summary of x[0..n).  x is not changed; sorts a copy, so it allocates above 256 values. */
PERF_FN perf_summary perf_summarize(const double *x, size_t n);

/* Quantile p (0..1) of a histogram with its exact binomial interval.  confidence 0 means 0.95.  The
 * limits are the outer ends of the buckets that hold the two ranks: it covers no less often than
 * from the values themselves, and is wider by a bucket on either side at most (2^-K each).  A side
 * without bound is +-infinity.  All NaN: no values, or p or confidence out of range.             */
PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *hist, double p,
                                                  double confidence);

/* >>compare: without an array the status is PERF_EINVAL; without a rule the default ------- */

/* A rule by a number that is taken as it is: 0 percent is a threshold of 1; a factor of 0 is no
 * rule (NaN).  (In a perf_rule of your own an amount of 0 takes the default of its kind.)        */
PERF_FN perf_rule perf_rule_make(perf_rule_kind kind, double amount, perf_metric metric);

/* A rule from text: "speedup >= 1.3", "down >= 20 % on p95", "no regression beyond 2 % on mean",
 * "same within 2 %" (neither faster nor slower by more), "cycles no more than 2 % worse".
 * "memory down >= 10 %" names the metric first; "memory down >= 10 % on p95" is about the p95 of
 * memory.  Leading "latency", a trailing "x" or "%" and letter case do not matter; metrics: time
 * p50 p95 p99 mean memory throughput instructions cycles branches branch-misses.
 * NULL: PERF_EINVAL; else PERF_EFORMAT.  Then *out stays.                                        */
PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out);

/* n pairs in the order of time, each measured back to back in an order chosen by a fair coin.
 * Allocates above 128 pairs.  n < 6 is INCONCLUSIVE (95 %; of means n < 2); opts NULL: defaults. */
PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts);

/* Two separate samples, any sizes.  Honest only if the order of all measurements was random: say
 * so with opts->design, or the verdict stays INCONCLUSIVE (the interval is still computed).      */
PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts);

/* One line of English into verdict->text, which it returns.  NULL gives "". */
PERF_FN const char *perf_verdict_text(perf_verdict *verdict);

/* "ACCEPT", "REJECT", "INCONCLUSIVE". */
PERF_FN const char *perf_decision_text(perf_decision decision);

/* Largest errors of out[] against reference[], n elements; NULL or n = 0: `compared` is 0, errors
 * are NaN, and a guard with them lets nothing be ACCEPTed.                                       */
PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n);
PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n);

/* >>sequential: look after every pair, stop when it is decided ------------------------------------
 * Bets on the signs of log(candidate / baseline) - log(threshold).  If the threshold is the median
 * of the ratio within a pair, the signs are fair whatever the noise and the shapes.  So you may
 * look after every pair, with any budget, and each wrong answer still has a chance of at most half
 * of 1 - confidence (Ville's inequality).  PERF_RULE_SAME has two limits: a wrong REJECT has a
 * chance of at most 1 - confidence.                                                              */
#define PERF_SEQ_BETS_ 7

typedef struct perf_seq {               /* fixed size, no pointer: copy it, keep it anywhere      */
    double         log_threshold;
    double         tick;                /* the clock's step as a log, conceded on both sides      */
    double         level;               /* evidence needed: 2 / (1 - confidence)                  */
    uint64_t       pairs, excluded;
    uint64_t       decided_at;          /* pairs used by the decision, 0 while open               */
    perf_decision  decision;
    double         accept[PERF_SEQ_BETS_];      /* private: the capital of those who bet on it    */
    double         reject[PERF_SEQ_BETS_];
    perf_rule_kind kind;
    int            below, above;        /* PERF_RULE_SAME: that limit is known to hold            */
    double         faster[PERF_SEQ_BETS_];      /* ... capital of bets against the lower limit    */
    double         slower[PERF_SEQ_BETS_];      /* ... and for it                                 */
} perf_seq;

/* rule NULL: speed-up >= 1.3x; confidence 0: 0.95; tick: clock resolution / typical value, >= 0;
 * from 2 on nothing can be decided.  PERF_EINVAL: `seq` NULL, or a rule without a threshold: then
 * perf_seq_add never decides.                                                                    */
PERF_FN perf_status perf_seq_init(perf_seq *seq, const perf_rule *rule, double confidence,
                                  double tick);

/* One more pair.  Returns the decision so far; once taken it stays.  Values that are not positive
 * numbers are counted in `excluded` and change nothing.                                          */
PERF_FN perf_decision perf_seq_add(perf_seq *seq, double baseline, double candidate);

/* Interval of the median log ratio that is valid at whatever pair you stopped: log_ratio[0..n) in
 * time order.  At the pair where the bets decide, it excludes the threshold; if you go on and the
 * median comes back over it, the interval follows.  confidence: .5 to below 1, 0 is .95.  Unbounded
 * below 7 pairs (95 %), for another confidence, and when there is no memory above 256.  About
 * 2 log2(n) passes over the data.                                                                */
PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_compare_opts_resolved_  options with their defaults filled in (NULL: all)
 *   perf_step_log_         what a clock's step may hide, as a log
 *   perf_verdict_of_       a verdict from a log interval and what a step hides of it, over n
 *                          measurements; without numbers if that is NULL, or opts are refused
 *   perf_verdict_cap_      withholds a decision, but never a guard's
 *   perf_pairs_judge_      a verdict from the bets on pairs and the log ratios of those
 *   perf_summarize_series_  a summary where neighbours in time may be alike (40 values)
 *   perf_rule_room_        how far a ratio is from another answer
 *   perf_put_rule_, perf_put_interval_  a rule and an answer as words                            */

/* >>private: bodies, callees before their callers; bets and verdicts the other way round ------- */

/* ---- summary ---- */

/* The confidence itself; 0: 0.95.  NaN: outside 0.5 to 0.999999. */
PERF_FN double perf_confidence_(double confidence)
{
    if (perf_is_zero_(confidence))
        return 0.95;
    if (confidence >= 0.5 && confidence <= 0.999999)
        return confidence;
    return PERF_NAN_;
}

/* The same, but up to 1: what is one of many is asked for at a higher one. */
PERF_FN double perf_confidence_of_each_(double confidence)
{
    if (confidence > 0.999999 && confidence < 1.0)
        return confidence;
    return perf_confidence_(confidence);
}

/* `local` if n numbers fit there, else memory; NULL: there is none.  To be given back below. */
PERF_FN double *perf_scratch_(double *local, size_t local_n, size_t n)
{
    if (n <= local_n)
        return local;
    if (n > SIZE_MAX / sizeof(double))
        return PERF_NULL_;
    return PERF_CAST_(double *, PERF_MALLOC(n * sizeof(double)));
}

PERF_FN void perf_scratch_free_(double *p, const double *local)
{
    if (p != local)
        PERF_FREE(p);
}

/* The largest r with P(Bin(n, p) <= r - 1) <= tail.  The r-th smallest value x_(r) is a lower limit
 * with that error; 0: there is none.                                                             */
PERF_FN uint64_t perf_rank_low_(double n, double p, double tail)
{
    uint64_t low = 0, high = PERF_CAST_(uint64_t, n) + 1, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;               /* equality qualifies                         */
        if (perf_binomial_cdf_(PERF_CAST_(double, mid - 1), n, p) <= tail * (1.0 + 1e-12))
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Quantile p (0..1) of an ascending array (type 7) with its exact binomial interval.  confidence 0
 * means 0.95.  A side without bound is +-infinity.  NaN: n is 0, p or confidence out of range.   */
PERF_FN perf_interval perf_quantile_interval_(const double *sorted, size_t n, double p,
                                              double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        tail = 0.5 - 0.5 * perf_confidence_of_each_(confidence);
    double        all = PERF_CAST_(double, n);
    uint64_t      low, high;

    if (!sorted || !n || perf_is_nan_(tail) || !(p >= 0.0 && p <= 1.0))
        return result;
    low = perf_rank_low_(all, p, tail);
    high = perf_rank_low_(all, 1.0 - p, tail);
    result.estimate = perf_quantile_(sorted, n, p);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (low)
        result.low = sorted[low - 1];
    if (high)
        result.high = sorted[n - high];
    return result;
}

/* The same for any number of values.  Above 1e12 it counts in blocks of values, not one by one. */
PERF_FN uint64_t perf_hist_rank_low_(uint64_t count, double p, double tail)
{
    double   n = PERF_CAST_(double, count), block = perf_most_(n / 1e12, 1.0);
    uint64_t rank = PERF_CAST_(uint64_t,
                               block * PERF_CAST_(double, perf_rank_low_(n / block, p, tail)));

    if (rank > count)
        return count;
    return rank;
}

/* The lower end (upper 1: the upper) of the bucket that holds a rank, within the extremes. */
PERF_FN double perf_hist_edge_(const perf_hist *hist, uint64_t rank, int upper)
{
    perf_hist_bucket bucket = PERF_ZERO;
    const double     unit = perf_hist_shape_of_(hist).unit;

    while (perf_hist_next(hist, &bucket) && bucket.below + bucket.count < rank)
        continue;
    if (upper)
        return perf_least_(PERF_CAST_(double, bucket.upper) * unit, perf_hist_quantile(hist, 1.0));
    return perf_most_(PERF_CAST_(double, bucket.lower) * unit, perf_hist_quantile(hist, 0.0));
}

PERF_FN perf_interval perf_hist_quantile_interval(const perf_hist *hist, double p,
                                                  double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    uint64_t      count = perf_hist_count(hist), low, high;
    double        tail = 0.5 - 0.5 * perf_confidence_(confidence);

    if (count == 0 || perf_is_nan_(tail) || !(p >= 0.0 && p <= 1.0))
        return result;
    low = perf_hist_rank_low_(count, p, tail);
    high = perf_hist_rank_low_(count, 1.0 - p, tail);
    result.estimate = perf_hist_quantile(hist, p);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (low)
        result.low = perf_hist_edge_(hist, low, 0);
    if (high)
        result.high = perf_hist_edge_(hist, count + 1 - high, 1);
    return result;
}

/* The smallest n with max(p, 1 - p)^n <= (1 - confidence) / 2: fewer values do not bound quantile
 * p.  0: there is none.                                                                          */
PERF_FN size_t perf_quantile_min_count_(double p, double confidence)
{
    double tail = 0.5 - 0.5 * perf_confidence_of_each_(confidence), log_larger, least;
    size_t whole;

    if (perf_is_nan_(tail) || !(p > 0.0 && p < 1.0))
        return 0;
    if (p > 0.5)
        log_larger = perf_log_(p);
    else
        log_larger = perf_log1p_(-p);
    least = perf_log_(tail) / log_larger;
    if (!(least < 0.5 * PERF_CAST_(double, SIZE_MAX)))
        return 0;                                   /* no array has that many                     */
    whole = PERF_CAST_(size_t, least);
    return whole + (least > PERF_CAST_(double, whole));
}

/* Largest i < n with I(i / n; a, b) <= tail: Clopper and Pearson's lower limit, as a place. */
PERF_FN size_t perf_share_low_(size_t n, double a, double b, double tail)
{
    size_t low = 0, high = n, mid;

    while (high - low > 1) {
        mid = low + (high - low) / 2;
        if (perf_beta_cdf_(PERF_CAST_(double, mid) / PERF_CAST_(double, n), a, b) <= tail)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* n times the variance of the mean of the indicator {x <= quantile}, whose mean is p.  From the
 * means of 10 batches in time order (Korn and Graubard 1998).  At least p (1 - p): never more than
 * n independent values.                                                                          */
PERF_FN double perf_long_run_variance_(const double *x, size_t n, double quantile, double p)
{
    const size_t batches = 10, batch = n / batches;
    double       var = 0.0, off;
    size_t       i, j;

    for (i = 0; i < batches; i++) {
        double below = 0.0;
        for (j = 0; j < batch; j++)
            if (x[i * batch + j] <= quantile)
                below += 1.0;
        off = below / PERF_CAST_(double, batch) - p;
        var += off * off;
    }
    var = var / PERF_CAST_(double, batches - 1) * PERF_CAST_(double, batch);
    if (!(var > p * (1.0 - p)))
        return p * (1.0 - p);
    return var;
}

/* The interval of quantile p of values in time order, neighbours of which may be alike.  They count
 * as n p (1 - p) / variance * (z / t_9)^2 independent ones.  Clopper and Pearson's limits of p at
 * that number are read back as quantiles (Woodruff 1952).  All NaN: fewer than 40, no memory
 * above 256, x NULL, or p or confidence out of range.                                            */
PERF_FN perf_interval perf_quantile_interval_series_(const double *x, size_t n, double p,
                                                     double confidence)
{
    perf_interval result = {PERF_NAN_, PERF_NAN_, PERF_NAN_};
    double        local[256], *sorted, var, z_by_t, effective, below, edge, tail;
    size_t        from_top;

    confidence = perf_confidence_(confidence);
    tail = 0.5 - 0.5 * confidence;
    if (!x || n < 40 || perf_is_nan_(tail) || !(p > 0.0 && p < 1.0))
        return result;
    sorted = perf_scratch_(local, 256, n);
    if (!sorted)
        return result;
    PERF_LIBC_(memcpy)(sorted, x, n * sizeof *sorted);
    perf_sort_values_(sorted, n);
    result.low = -PERF_INF_;
    result.estimate = perf_quantile_(sorted, n, p);
    result.high = PERF_INF_;
    var = perf_long_run_variance_(x, n, result.estimate, p);
    z_by_t = perf_normal_quantile_(0.5 + 0.5 * confidence) /
             perf_t_quantile_(0.5 + 0.5 * confidence, 9.0);
    effective = PERF_CAST_(double, n) * p * (1.0 - p) / var * z_by_t * z_by_t;
    if (effective >= 1.0) {
        below = effective * p;
        edge = perf_exp_(perf_log_(tail) / effective);          /* p beyond it has no limit there */
        if (!(1.0 - p > edge))
            result.low = sorted[perf_share_low_(n, below, effective - below + 1.0, tail)];
        from_top = perf_share_low_(n, effective - below, below + 1.0, tail);
        if (from_top == 0)
            from_top = 1;
        if (!(p > edge))
            result.high = sorted[n - from_top];
    }
    perf_scratch_free_(sorted, local);
    return result;
}

typedef struct perf_moments_ {
    double mean;
    double std;                                     /* n - 1 in the denominator                   */
    double cubes;                                   /* sum of (x - mean)^3 / mean^3               */
} perf_moments_;

/* Neumaier's compensated sum of scale * x[i]. */
PERF_FN double perf_sum_scaled_(const double *x, size_t n, double scale)
{
    double sum = 0.0, lost = 0.0;
    size_t i;

    for (i = 0; i < n; i++) {
        double value = x[i] * scale, next = sum + value;
        if (perf_fabs_(sum) >= perf_fabs_(value))
            lost += (sum - next) + value;
        else
            lost += (value - next) + sum;
        sum = next;
    }
    return sum + lost;
}

/* The mean, then the corrected second pass (Chan, Golub, LeVeque 1983).  A power of two scales the
 * largest value to about 1 first, so that no sum and no cube leaves the range.                   */
PERF_FN perf_moments_ perf_moments_of_(const double *x, size_t n)
{
    perf_moments_ moments = PERF_ZERO;
    double        sum = 0.0, squares = 0.0, cubes = 0.0, count = PERF_CAST_(double, n);
    double        largest = 0.0, scale;
    size_t        i;
    int           power;

    for (i = 0; i < n; i++)
        largest = perf_most_(perf_fabs_(x[i]), largest);
    power = 1023 - PERF_CAST_(int, perf_bits_(largest) >> 52);
    if (power > 1000)
        power = 1000;
    if (power < -1022)                              /* the smallest that keeps all digits         */
        power = -1022;
    scale = perf_from_bits_(PERF_CAST_(uint64_t, 1023 + power) << 52);      /* 2^power            */
    if (n)
        moments.mean = perf_sum_scaled_(x, n, scale) / count;
    for (i = 0; i < n; i++) {
        double off = x[i] * scale - moments.mean;
        sum += off;
        squares += off * off;
        cubes += off * off * off;
    }
    squares -= sum * sum / count;
    moments.cubes = cubes / (moments.mean * moments.mean * moments.mean);
    moments.mean /= scale;
    if (n > 1 && squares > 0.0)
        moments.std = perf_sqrt_(squares / (count - 1.0)) / scale;
    return moments;
}

/* The median distance to the median.  Overwrites x. */
PERF_FN double perf_mad_(double *x, size_t n, double median)
{
    size_t i;

    for (i = 0; i < n; i++)
        x[i] = perf_fabs_(x[i] - median);
    perf_sort_values_(x, n);
    return perf_quantile_(x, n, 0.5);
}

/* The numbers of n good values in x, n > 0, which are sorted and overwritten. */
PERF_FN void perf_summary_fill_(perf_summary *summary, double *x, size_t n)
{
    perf_moments_ moments = perf_moments_of_(x, n); /* before sorting: the order of time          */
    perf_interval interval;
    int           bounded;

    perf_sort_values_(x, n);
    summary->count = n;
    summary->min = x[0];
    summary->max = x[n - 1];
    summary->mean = moments.mean;
    summary->std = moments.std;
    interval = perf_quantile_interval_(x, n, 0.50, 0.95);
    summary->p50 = interval.estimate;
    summary->p50_low = interval.low;
    summary->p50_high = interval.high;
    interval = perf_quantile_interval_(x, n, 0.95, 0.95);
    summary->p95 = interval.estimate;
    summary->p95_low = interval.low;
    summary->p95_high = interval.high;
    interval = perf_quantile_interval_(x, n, 0.99, 0.95);
    summary->p99 = interval.estimate;
    summary->p99_low = interval.low;
    summary->p99_high = interval.high;
    bounded = perf_is_finite_(summary->p50_low) && perf_is_finite_(summary->p50_high) &&
              perf_is_finite_(summary->p95_high) && perf_is_finite_(summary->p99_high);
    if (!bounded)
        summary->warnings |= PERF_WARN_UNBOUNDED;
    if ((summary->max - summary->p50) / PERF_CAST_(double, n) > 0.1 * moments.mean)
        summary->warnings |= PERF_WARN_MEAN;
    summary->mad = perf_mad_(x, n, summary->p50);
}

PERF_FN perf_summary perf_summarize(const double *x, size_t n)
{
    perf_summary summary = PERF_ZERO;
    double       local[256], *good;
    size_t       i, count = 0;

    summary.confidence = 0.95;
    summary.status = PERF_ENODATA;
    if (!n)
        return summary;
    summary.status = PERF_EINVAL;
    if (!x)
        return summary;
    good = perf_scratch_(local, 256, n);
    summary.status = PERF_ENOMEM;
    if (!good)
        return summary;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(x[i]) && x[i] >= 0.0)
            good[count++] = x[i];
    summary.excluded = n - count;
    if (summary.excluded)
        summary.warnings |= PERF_WARN_BAD_VALUES;
    summary.status = PERF_ENODATA;
    if (count) {
        summary.status = PERF_OK;
        perf_summary_fill_(&summary, good, count);
    }
    perf_scratch_free_(good, local);
    return summary;
}

/* The summary of values in time order.  From 40 on the interval of its median allows for neighbours
 * that are alike.                                                                                */
PERF_COLD_FN_ perf_summary perf_summarize_series_(const double *x, size_t n)
{
    perf_summary  summary = perf_summarize(x, n);
    perf_interval interval;

    if (n >= 40) {
        interval = perf_quantile_interval_series_(x, n, 0.5, 0.95);
        summary.p50_low = interval.low;
        summary.p50_high = interval.high;
    }
    return summary;
}

/* ---- rules ---- */

/* The rule, with the default amount of its kind in place of 0. */
PERF_FN perf_rule perf_rule_resolved_(perf_rule rule)
{
    if (!perf_is_zero_(rule.amount))
        return rule;
    rule.amount = 2.0;
    if (rule.kind == PERF_RULE_SPEEDUP)
        rule.amount = 1.3;
    if (rule.kind == PERF_RULE_REDUCTION)
        rule.amount = 20.0;
    return rule;
}

PERF_FN perf_rule perf_rule_make(perf_rule_kind kind, double amount, perf_metric metric)
{
    perf_rule rule = {kind, metric, amount, 0};

    if (amount < 0.0 || amount > 0.0)
        return rule;
    rule.amount = PERF_NAN_;
    if (kind != PERF_RULE_SPEEDUP && !perf_is_nan_(amount))
        rule.amount = 5e-324;                       /* a 0 is meant: no default                   */
    return rule;
}

/* The rule (NULL: default) as the largest acceptable ratio candidate / baseline; NaN: invalid.  Of
 * PERF_RULE_SAME its inverse is the smallest.                                                    */
PERF_FN double perf_rule_threshold_(const perf_rule *rule)
{
    perf_rule none = PERF_ZERO, found;
    double    threshold = PERF_NAN_;

    if (!rule)
        rule = &none;
    found = perf_rule_resolved_(*rule);
    if (found.kind == PERF_RULE_SPEEDUP)
        threshold = 1.0 / found.amount;
    else if (found.kind == PERF_RULE_REDUCTION)
        threshold = 1.0 - found.amount / 100.0;
    else if (found.kind == PERF_RULE_NO_REGRESSION || found.kind == PERF_RULE_SAME)
        threshold = 1.0 + found.amount / 100.0;
    if (found.kind == PERF_RULE_SAME && threshold < 1.0)
        return PERF_NAN_;
    if (!perf_is_duration_(threshold))
        return PERF_NAN_;
    return threshold;
}

/* Skips the name of a metric, which goes to *metric; NULL: there is none. */
PERF_FN const char *perf_skip_metric_(const char *text, perf_metric *metric)
{
    static const char *const name[] = {"time", "p50", "p95", "p99", "mean", "memory", "throughput",
                                       "instructions", "cycles", "branches", "branch-misses",
                                       "branch misses"};
    int i;

    for (i = 0; i < 12; i++) {
        const char *after = perf_skip_word_(text, name[i]);
        if (after) {
            *metric = PERF_CAST_(perf_metric, i);
            if (i > PERF_METRIC_BRANCH_MISSES)      /* its other spelling                         */
                *metric = PERF_METRIC_BRANCH_MISSES;
            return after;
        }
    }
    return PERF_NULL_;
}

/* Skips "speedup >=", "no regression beyond", "down >=", "same within" and the amount; NULL: there
 * is none.                                                                                       */
PERF_FN const char *perf_skip_form_(const char *text, perf_rule_kind *kind, double *amount)
{
    static const struct {
        const char    *verb, *relation;
        perf_rule_kind kind;
    } form[6] = {{"speedup", ">=", PERF_RULE_SPEEDUP},
                 {"speed-up", ">=", PERF_RULE_SPEEDUP},
                 {"no regression", "beyond", PERF_RULE_NO_REGRESSION},
                 {"no more", "than", PERF_RULE_NO_REGRESSION},
                 {"down", ">=", PERF_RULE_REDUCTION},
                 {"same", "within", PERF_RULE_SAME}};
    int i;

    for (i = 0; i < 6; i++) {
        const char *after = perf_skip_word_(text, form[i].verb);
        if (after)
            after = perf_skip_word_(after, form[i].relation);
        if (after) {
            *kind = form[i].kind;
            return perf_skip_number_(after, amount);
        }
    }
    return PERF_NULL_;
}

/* Adds what "on METRIC" at the end says.  0: the rule is about another metric already. */
PERF_FN int perf_rule_on_(perf_rule *rule, perf_metric metric)
{
    if (rule->metric == PERF_METRIC_MEMORY && metric >= PERF_METRIC_P50 &&
        metric <= PERF_METRIC_MEAN)
        rule->memory = 1;
    else if (rule->metric != PERF_METRIC_PAIR && rule->metric != metric)
        return 0;
    rule->metric = metric;
    return 1;
}

/* What is behind `word` if that comes next, else `text`. */
PERF_FN const char *perf_skip_maybe_(const char *text, const char *word)
{
    const char *after = perf_skip_word_(text, word);

    if (after)
        return after;
    return text;
}

PERF_FN perf_status perf_rule_parse(const char *text, perf_rule *out)
{
    perf_rule      rule;
    perf_rule_kind kind = PERF_RULE_SPEEDUP;
    perf_metric    metric = PERF_METRIC_PAIR;
    const char    *rest, *after;
    double         amount = 0.0;

    if (!text || !out)
        return PERF_EINVAL;
    rest = perf_skip_maybe_(text, "latency");
    after = perf_skip_metric_(rest, &metric);
    if (after)
        rest = after;
    rest = perf_skip_form_(rest, &kind, &amount);
    if (!rest)
        return PERF_EFORMAT;
    rule = perf_rule_make(kind, amount, metric);
    if (kind == PERF_RULE_SPEEDUP)
        rest = perf_skip_maybe_(rest, "x");
    else
        rest = perf_skip_maybe_(rest, "%");
    if (kind == PERF_RULE_NO_REGRESSION)
        rest = perf_skip_maybe_(rest, "worse");
    after = perf_skip_word_(rest, "on");
    if (after) {
        rest = perf_skip_metric_(after, &metric);
        if (!rest || !perf_rule_on_(&rule, metric))
            return PERF_EFORMAT;
    }
    if (*perf_skip_word_(rest, "") || perf_is_nan_(perf_rule_threshold_(&rule)))
        return PERF_EFORMAT;
    *out = rule;
    return PERF_OK;
}

/* 1: every limit is 0 or a positive number. */
PERF_FN int perf_tolerance_ok_(const perf_tolerance *tolerance)
{
    return tolerance->abs >= 0.0 && tolerance->rel >= 0.0 && tolerance->ulp >= 0.0;
}

/* 1: the caller asks for an accuracy check, or has made one. */
PERF_FN int perf_guard_asked_(const perf_guard *guard)
{
    return guard->required || guard->seen.compared || perf_is_nan_(guard->seen.max_abs) ||
           !perf_tolerance_ok_(&guard->limit) ||
           guard->limit.abs + guard->limit.rel + guard->limit.ulp > 0.0;
}

PERF_FN perf_compare_opts perf_compare_opts_resolved_(const perf_compare_opts *opts)
{
    perf_compare_opts options = PERF_ZERO;

    if (opts)
        options = *opts;
    options.confidence = perf_confidence_(options.confidence);
    options.rule = perf_rule_resolved_(options.rule);
    options.guard.required = perf_guard_asked_(&options.guard);
    return options;
}

/* ---- steps of a clock ---- */

/* The step of the clock (or of printing) that sorted values show: their smallest distance, if 5 %
 * or more are equal.  `rates`: in 1 / value.  0: none shows; infinite: all are equal.  Distances
 * below 1e-9 of a value are rounding.                                                            */
PERF_FN double perf_step_of_(const double *sorted, size_t n, int rates)
{
    double gap = PERF_INF_;
    size_t i, ties = 0;

    for (i = 1; i < n; i++) {
        double distance = sorted[i] - sorted[i - 1];
        if (!(distance > 1e-9 * sorted[i])) {
            ties++;
            continue;
        }
        if (rates)
            distance = distance / sorted[i] / sorted[i - 1];
        gap = perf_least_(distance, gap);
    }
    if (ties * 20 < n - 1)
        return 0.0;
    return gap;
}

/* The largest number that a and b are multiples of, by Euclid; 1e-9 of the larger stands for 0. */
PERF_FN double perf_step_common_(double a, double b)
{
    double least = 1e-9 * perf_most_(a, b), rest;

    while (b > least) {
        rest = a - b * PERF_CAST_(double, PERF_CAST_(uint64_t, a / b));
        a = b;
        if (rest < b - least)
            b = rest;
        else
            b = 0.0;
    }
    return a;
}

/* The largest power of ten, at most x, that x is a multiple of: the place of its last decimal. */
PERF_FN double perf_step_decimal_(double x)
{
    double power = 1.0;

    while (power < x && power < 1e300)
        power *= 10.0;
    while (power > x || perf_step_common_(x, power) < 0.9 * power)
        power *= 0.1;
    return power;
}

/* How far the log of a ratio may be off when both sides are read in steps; a, b: the step over the
 * value of each side.  With s, the larger, rounding to the nearest step is off by log((1 + s/2) /
 * (1 - s/2)) at worst.  That also covers one side read a whole step too short, log(1 + s).
 * Infinite: s is 2 or more.                                                                      */
PERF_FN double perf_step_log_(double a, double b)
{
    double step = perf_most_(a, b);

    if (!(step < 2.0))
        return PERF_INF_;
    return perf_log1p_(2.0 * step / (2.0 - step));
}

/* The step of both arms, from the one that each shows (see perf_step_of_) and its typical
 * value.                                                                                         */
PERF_FN double perf_step_shown_(double step_a, double step_b, double typical_a, double typical_b)
{
    const int flat = !perf_is_finite_(step_a + step_b);     /* all values of an arm are equal     */
    double    step;

    if (!flat)
        return perf_most_(step_a, step_b);
    step = perf_least_(step_a, step_b);             /* of the other arm                           */
    if (!perf_is_finite_(step))
        return perf_step_common_(typical_a, typical_b);
    if (step > 0.0)
        return step;
    if (step_a > step_b)                            /* the other shows none: it has another clock */
        return perf_step_decimal_(typical_a);
    return perf_step_decimal_(typical_b);
}

/* How far the log of the ratio may be off by the clock's step.  tick: that step; 0: what both arms
 * show (`rates`: the times behind them); negative: the values are exact.                         */
PERF_FN double perf_tick_log_(const double *sorted_a, size_t na, const double *sorted_b, size_t nb,
                              double tick, int rates)
{
    double typical_a = perf_quantile_(sorted_a, na, 0.5);
    double typical_b = perf_quantile_(sorted_b, nb, 0.5);

    if (rates) {
        typical_a = 1.0 / typical_a;
        typical_b = 1.0 / typical_b;
    }
    if (tick < 0.0 || !perf_is_finite_(typical_a + typical_b))
        return 0.0;
    if (!(tick > 0.0))
        tick = perf_step_shown_(perf_step_of_(sorted_a, na, rates),
                                perf_step_of_(sorted_b, nb, rates), typical_a, typical_b);
    return perf_step_log_(tick / typical_a, tick / typical_b);
}

/* ---- intervals of a ratio, as logs ---- */

/* Rounding moves a log ratio by less: what differs by no more is a tie. */
#define PERF_LOG_ROUNDING_ 1e-12

/* The smallest interval that holds both; the estimate is that of the first. */
PERF_FN perf_interval perf_hull_(perf_interval x, perf_interval y)
{
    x.low = perf_least_(y.low, x.low);
    x.high = perf_most_(y.high, x.high);
    return x;
}

PERF_FN perf_interval perf_widen_(perf_interval x, double by)
{
    by += PERF_LOG_ROUNDING_;
    x.low -= by;
    x.high += by;
    return x;
}

/* P(W <= k) for Wilcoxon's signed-rank W of n > 80 values.  W is a sum of independent terms that
 * are 0 or j, so its cumulants are sums of powers of j: s1, s2, s4, s6, s8.  A uniform number added
 * to W makes it continuous without changing P(W <= k).  Edgeworth's series to order 1/n^3 (Cramer
 * 1946, 17.7): h3 .. h11 are Hermite polynomials over x.                                         */
PERF_FN double perf_signed_rank_cdf_(double n, double k)
{
    double s1 = 0.5 * n * (n + 1.0), s2 = s1 * (2.0 * n + 1.0) / 3.0, n2 = n * n;
    double s4 = s2 * (3.0 * n2 + 3.0 * n - 1.0) / 5.0;
    double s6 = s2 * (3.0 * n2 * n2 + 6.0 * n2 * n - 3.0 * n + 1.0) / 7.0;
    double s8 = s2 * (n2 * (n2 * (5.0 * n2 + 15.0 * n + 5.0) - 15.0 * n - 1.0) + 9.0 * n - 3.0) /
                15.0;
    double variance = s2 / 4.0 + 1.0 / 12, variance2 = variance * variance;
    double l4 = -(s4 / 8.0 + 1.0 / 120) / variance2;
    double l6 = (s6 / 4.0 + 1.0 / 252) / (variance2 * variance);
    double l8 = -(17.0 / 16 * s8 + 1.0 / 240) / (variance2 * variance2);
    double x = (k + 0.5 - 0.5 * s1) / perf_sqrt_(variance), y = x * x;
    double h3 = y - 3.0, h5 = y * (y - 10.0) + 15.0, h7 = y * (y * (y - 21.0) + 105.0) - 105.0;
    double h9 = y * (y * (y * (y - 36.0) + 378.0) - 1260.0) + 945.0;
    double h11 = y * (y * (y * (y * (y - 55.0) + 990.0) - 6930.0) + 17325.0) - 10395.0;

    return perf_normal_cdf_(x) - 0.39894228040143267794 * perf_exp_(-0.5 * y) * x *
           (l4 / 24.0 * h3 + l6 / 720.0 * h5 + (l4 * l4 / 1152.0 + l8 / 40320.0) * h7 +
            l4 * l6 / 17280.0 * h9 + l4 * l4 * l4 / 82944.0 * h11);
}

#define PERF_SIGNED_RANK_COUNTED_ 80

/* perf_signed_rank_k_ for n <= 80: counts the subsets of ranks with each sum. */
PERF_FN uint64_t perf_signed_rank_counted_(size_t n, double tail)
{
    double   ways[PERF_SIGNED_RANK_COUNTED_ * (PERF_SIGNED_RANK_COUNTED_ + 1) / 4 + 1], total = 0.0;
    size_t   rank, sum, top = n * (n + 1) / 4;
    uint64_t k = 0;

    for (sum = 0; sum <= top; sum++)
        ways[sum] = 0.0;
    ways[0] = perf_from_bits_(PERF_CAST_(uint64_t, 1023 - n) << 52);        /* 2^-n               */
    for (rank = 1; rank <= n; rank++)
        for (sum = top; sum >= rank; sum--)
            ways[sum] += ways[sum - rank];
    for (sum = 0; sum <= top; sum++) {
        total += ways[sum];
        if (total > tail * (1.0 + 1e-12))
            break;
        k++;
    }
    return k;
}

/* Largest k with P(W <= k - 1) <= tail: the k-th smallest and k-th largest Walsh average bound the
 * centre.  Above 80 by the series, which gave the counted k for every n to 400 at twelve tails from
 * 0.25 to 0.00001 (tests/stats/oracle.c).                                                        */
PERF_FN uint64_t perf_signed_rank_k_(size_t n, double tail)
{
    double   all = PERF_CAST_(double, n), guess;
    uint64_t k = 0;

    if (n <= PERF_SIGNED_RANK_COUNTED_)
        return perf_signed_rank_counted_(n, tail);
    guess = all * (all + 1.0) / 4.0 + perf_normal_quantile_(tail) *
            perf_sqrt_(all * (all + 1.0) * (2.0 * all + 1.0) / 24.0);
    if (guess >= 1.0)
        k = PERF_CAST_(uint64_t, guess);            /* by the normal law, then steps              */
    while (k && perf_signed_rank_cdf_(all, PERF_CAST_(double, k) - 1.0) > tail)
        k--;
    while (perf_signed_rank_cdf_(all, PERF_CAST_(double, k)) <= tail)
        k++;
    return k;
}

/* How many Walsh averages (d[i] + d[j]) / 2, j >= i, of sorted d are <= cut.  *top: the largest of
 * those, or d[0].  One walk along the diagonal, O(n).                                            */
PERF_FN uint64_t perf_walsh_count_(const double *d, size_t n, double cut, double *top)
{
    uint64_t count = 0;
    size_t   i, end = n;

    *top = d[0];
    for (i = 0; i < n; i++) {
        while (end > i && 0.5 * (d[i] + d[end - 1]) > cut)
            end--;
        if (end <= i)
            break;
        *top = perf_most_(0.5 * (d[i] + d[end - 1]), *top);
        count += end - i;
    }
    return count;
}

/* A search for the k-th smallest of `upto` averages: it lies in (low, high], or is d[0]. */
typedef struct perf_walsh_ {
    double   low, high;                             /* high is itself an average                  */
    uint64_t below, upto;                           /* how many are <= low, <= high               */
} perf_walsh_;

/* Where to look next: by interpolation between the ranks.  But it may crawl, so every fourth turn
 * takes the middle; and every fourth the last number before high, in case equal averages begin
 * there.                                                                                         */
PERF_FN double perf_walsh_guess_(const perf_walsh_ *walsh, uint64_t k, int turn)
{
    double part = (PERF_CAST_(double, k - walsh->below) - 0.5) /
                  PERF_CAST_(double, walsh->upto - walsh->below);

    if (turn % 4 == 3)
        return walsh->high - perf_fabs_(walsh->high) * 1.2e-16 - 5e-324;
    if (turn % 4 == 2)
        part = 0.5;
    return walsh->low + part * (walsh->high - walsh->low);
}

/* The k-th smallest Walsh average (1 = smallest), exactly: numbers between the averages would turn
 * ties into false verdicts.                                                                      */
PERF_FN double perf_walsh_kth_(const double *d, size_t n, uint64_t k)
{
    perf_walsh_ walsh = PERF_ZERO;
    double      cut, top, spread = (d[n - 1 - n / 4] - d[n / 4]) * 0.524;  /* of a normal d       */
    uint64_t    count;
    int         turn;

    walsh.low = d[0];
    walsh.high = d[n - 1];
    walsh.upto = PERF_CAST_(uint64_t, n) * (n + UINT64_C(1)) / 2;
    cut = d[n / 2] + spread * perf_normal_quantile_((PERF_CAST_(double, k) - 0.5) /
                                                  PERF_CAST_(double, walsh.upto));
    for (turn = 0; walsh.upto > k && walsh.low < walsh.high && turn < 500; turn++) {
        if (turn)
            cut = perf_walsh_guess_(&walsh, k, turn);
        if (!(cut > walsh.low && cut < walsh.high))
            cut = walsh.low + 0.5 * (walsh.high - walsh.low);
        if (!(cut < walsh.high))
            cut = walsh.low;                        /* no number between low and high             */
        count = perf_walsh_count_(d, n, cut, &top);
        if (count >= k) {
            walsh.high = top;
            walsh.upto = count;
        } else if (!(cut > walsh.low)) {
            break;
        } else {
            walsh.low = cut;
            walsh.below = count;
        }
    }
    return walsh.high;
}

/* Log interval of the centre of d: estimate = median of the Walsh averages.  Sorts d. */
PERF_FN perf_interval perf_signed_rank_(double *d, size_t n, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    uint64_t      k = perf_signed_rank_k_(n, tail);
    uint64_t      averages = PERF_CAST_(uint64_t, n) * (n + UINT64_C(1)) / 2;

    perf_sort_values_(d, n);
    result.estimate = perf_walsh_kth_(d, n, (averages + 1) / 2);
    if (averages % 2 == 0)
        result.estimate = 0.5 * (result.estimate + perf_walsh_kth_(d, n, averages / 2 + 1));
    if (k) {
        result.low = perf_walsh_kth_(d, n, k);
        result.high = perf_walsh_kth_(d, n, averages + 1 - k);
    }
    return result;
}

/* Values of two arms, all positive.  Of rates more is better: there `a` holds the candidate's. */
typedef struct perf_arms_ {
    double *a, *b;                                  /* in the order of time                       */
    size_t  na, nb;
    double *logs;                                   /* log(b[i] / a[i]) of pairs; NULL: separate  */
    double *sorted_a, *sorted_b;
} perf_arms_;

/* Medians of fewer pairs are not interpolated: values of two speeds have none in between. */
#define PERF_FEW_MEDIANS_ 32

/* The lower limit of quantile p of positive values, by Nyblom's interpolation between order
 * statistics (1992).  sign -1 reads the array backwards, for the upper limit.  0 or infinite: there
 * is none.  exact 1: the order statistic itself.                                                 */
PERF_FN double perf_nyblom_(const double *sorted, size_t n, double p, double tail, int sign,
                            int exact)
{
    double   all = PERF_CAST_(double, n), here, next, covers_here, covers_next, part, k;
    uint64_t r = perf_rank_low_(all, p, tail);      /* P(Bin >= r) >= 1 - tail                    */

    if (!r || !perf_rank_low_(all, 1.0 - p, tail)) {    /* both sides or none: few are not right  */
        if (sign > 0)
            return 0.0;
        return PERF_INF_;
    }
    here = sorted[r - 1];
    if (sign < 0)
        here = sorted[n - r];
    if (r >= n || exact)
        return here;
    next = sorted[r];
    if (sign < 0)
        next = sorted[n - r - 1];
    k = PERF_CAST_(double, r);
    covers_here = 1.0 - perf_binomial_cdf_(k - 1.0, all, p);
    covers_next = 1.0 - perf_binomial_cdf_(k, all, p);
    if (!(covers_here > 1.0 - tail))
        return here;
    part = 1.0 / (1.0 + k * (1.0 - p) / ((all - k) * p) * (1.0 - tail - covers_next) /
                            (covers_here - (1.0 - tail)));
    return here + part * (next - here);
}

/* 1: values have two speeds near quantile p, and few lie in between: a sixteenth of those between
 * its limits (95 %, or more if asked) fills .45 of their log width.  Fewer than ten neighbours
 * leave such a gap by chance.                                                                    */
PERF_FN int perf_jumps_(const double *sorted, size_t n, double p, double tail)
{
    const double   all = PERF_CAST_(double, n), each = perf_least_(tail, 0.025);
    const uint64_t low = perf_rank_low_(all, p, each), high = perf_rank_low_(all, 1.0 - p, each);
    const double  *from = sorted + low, *to = sorted + n - high;
    const double  *end = to - (to - from + 1) / 16;
    double         widest = 1.0;

    if (!low || !high || to - from < 9)
        return 0;
    for (; from <= end; from++)
        widest = perf_most_(widest, from[to - end] / from[-1]);
    return perf_log_(widest) > 0.45 * perf_log_(*to / sorted[low - 1]);
}

/* The log interval of the ratio of two quantiles: MOVER (Zou and Donner 2008) on the limits of each
 * arm.  low = estimate - shrink * sqrt(down_b^2 + up_a^2); high is its mirror.  An arm that jumps
 * has nothing between its order statistics.  If both do, each estimate may be of the wrong speed:
 * then the sum takes the place of the root, with half the error for each.                        */
PERF_FN perf_interval perf_quantile_ratio_plain_(const perf_arms_ *arms, double p, double tail,
                                                 double shrink)
{
    perf_interval result;
    const int few = arms->logs && arms->na < PERF_FEW_MEDIANS_;
    const int jumps_a = perf_jumps_(arms->sorted_a, arms->na, p, tail);
    const int jumps_b = perf_jumps_(arms->sorted_b, arms->nb, p, tail);
    const double each = jumps_a && jumps_b ? 0.5 * tail : tail;
    double low_a = perf_nyblom_(arms->sorted_a, arms->na, p, each, 1, few || jumps_a);
    double high_a = perf_nyblom_(arms->sorted_a, arms->na, 1.0 - p, each, -1, few || jumps_a);
    double low_b = perf_nyblom_(arms->sorted_b, arms->nb, p, each, 1, few || jumps_b);
    double high_b = perf_nyblom_(arms->sorted_b, arms->nb, 1.0 - p, each, -1, few || jumps_b);
    double log_a = perf_log_(perf_quantile_(arms->sorted_a, arms->na, p));
    double log_b = perf_log_(perf_quantile_(arms->sorted_b, arms->nb, p));
    double down_a = log_a - perf_log_(low_a), up_a = perf_log_(high_a) - log_a;
    double down_b = log_b - perf_log_(low_b), up_b = perf_log_(high_b) - log_b;
    double down = perf_sqrt_(down_b * down_b + up_a * up_a);
    double up = perf_sqrt_(up_b * up_b + down_a * down_a);

    if (jumps_a && jumps_b) {
        down = down_b + up_a;
        up = up_b + down_a;
    }
    result.estimate = log_b - log_a;
    result.low = result.estimate - shrink * down;
    result.high = result.estimate + shrink * up;
    return result;
}

/* The same, with `shrink` as below; 1: separate samples.  Where values jump from one speed to
 * another, limits at ranks that are nearer by `shrink` may lie farther out: the interval holds
 * those, too.                                                                                    */
PERF_FN perf_interval perf_quantile_ratio_(const perf_arms_ *arms, double p, double tail,
                                           double shrink)
{
    perf_interval result = perf_quantile_ratio_plain_(arms, p, tail, shrink), jump;

    if (!(shrink < 1.0) && !(shrink > 1.0))
        return result;
    tail = perf_normal_cdf_(shrink * perf_normal_quantile_(tail));
    jump = perf_quantile_ratio_plain_(arms, p, tail, 1.0);
    if (!perf_is_finite_(jump.high - jump.low))
        return result;
    return perf_hull_(result, jump);
}

/* How much pairing narrows the interval of the ratio of quantiles p, from 0.3 to 1 and above:
 * shrink^2 = Var(1{b <= quantile_b} - 1{a <= quantile_a}) / (2 p (1 - p)).  It is an estimate:
 * below 1 one standard error is added.                                                           */
PERF_FN double perf_pair_shrink_(const perf_arms_ *arms, double p)
{
    double quantile_a = perf_quantile_(arms->sorted_a, arms->na, p);
    double quantile_b = perf_quantile_(arms->sorted_b, arms->nb, p);
    double sum = 0.0, squares = 0.0, n = PERF_CAST_(double, arms->na), shrink;
    size_t i;

    for (i = 0; i < arms->na; i++) {
        double differs =
            PERF_CAST_(double, (arms->b[i] <= quantile_b) - (arms->a[i] <= quantile_a));
        sum += differs;
        squares += differs * differs;
    }
    shrink = perf_sqrt_((squares / n - sum / n * (sum / n)) / (2.0 * p * (1.0 - p)));
    if (shrink < 1.0)
        shrink = perf_least_(shrink * (1.0 + 1.0 / perf_sqrt_(2.0 * n * p * (1.0 - p))), 1.0);
    return perf_most_(shrink, 0.3);
}

/* What Fieller's interval needs of two means: each value as a part of its arm's mean. */
typedef struct perf_means_ {
    double var_a, var_b, var;                       /* of mean a, of mean b, of their difference  */
    double df;                                      /* degrees of freedom                         */
    double cubes;                                   /* third cumulant of the difference           */
} perf_means_;

/* Pairs: the covariance counts, n - 1 degrees of freedom. */
PERF_FN void perf_means_paired_(perf_means_ *means, const perf_arms_ *arms, double mean_a,
                                double mean_b)
{
    double n = PERF_CAST_(double, arms->na);
    size_t i;

    means->df = n - 1.0;
    for (i = 0; i < arms->na; i++) {
        double d = arms->b[i] / mean_b - arms->a[i] / mean_a;
        means->var += d * d / (means->df * n);
        means->cubes += d * d * d / (n * n * n);
    }
}

/* Separate samples: Welch's degrees of freedom. */
PERF_FN void perf_means_separate_(perf_means_ *means, const perf_arms_ *arms, double cubes_a,
                                  double cubes_b)
{
    double na = PERF_CAST_(double, arms->na), nb = PERF_CAST_(double, arms->nb);

    means->var = means->var_a + means->var_b;
    means->df = na - 1.0;
    if (means->var > 0.0)
        means->df = means->var * means->var /
                    (means->var_a * means->var_a / means->df +
                     means->var_b * means->var_b / (nb - 1.0));
    means->cubes = cubes_b / (nb * nb * nb) - cubes_a / (na * na * na);
}

/* The log ratios theta with qa theta^2 - 2 qb theta + 1 - t^2 var_b <= 0 (Fieller 1954), around
 * the estimate.  Skewed values make t unequal on its two sides: the end that this leaves too short
 * moves out by Johnson's correction (1978), 2.5 times, because small samples show less skewness
 * than there is (docs/statistics-evidence.md).                                                   */
PERF_FN perf_interval perf_fieller_(const perf_means_ *means, double estimate, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    double        cov = 0.5 * (means->var_a + means->var_b - means->var), t2, qa, qb;
    double        quarter, root = 0.0, shift = 0.0;

    result.estimate = estimate;
    t2 = perf_t_quantile_(1.0 - tail, means->df);
    t2 *= t2;
    qa = 1.0 - t2 * means->var_a;
    qb = 1.0 - t2 * cov;
    if (!(qa > 1e-9))                               /* the baseline's mean may be 0, nearly       */
        return result;
    quarter = t2 * (means->var - t2 * (means->var_a * means->var_b - cov * cov));
    if (quarter > 0.0)                              /* of the discriminant                        */
        root = perf_sqrt_(quarter);
    result.high = estimate + perf_log_((qb + root) / qa);
    if (qb > root)
        result.low = estimate + perf_log_((qb - root) / qa);
    if (means->var > 0.0)
        shift = 2.5 * means->cubes / (6.0 * means->var) * (1.0 + 2.0 * t2);
    if (shift > 0.0)
        result.high += shift;
    if (shift < 0.0)
        result.low += shift;
    return result;
}

/* The log interval of mean(b) / mean(a).  Few values see little of a tail: the arm with fewer
 * values counts as no less spread than the other.                                                */
PERF_FN perf_interval perf_mean_ratio_(const perf_arms_ *arms, double tail)
{
    perf_interval result = {-PERF_INF_, 0.0, PERF_INF_};
    perf_means_   means = PERF_ZERO;
    perf_moments_ a = perf_moments_of_(arms->a, arms->na), b = perf_moments_of_(arms->b, arms->nb);
    double        spread_a = a.std / a.mean, spread_b = b.std / b.mean;

    result.estimate = perf_log_(b.mean) - perf_log_(a.mean);
    if (arms->na < 2 || arms->nb < 2)
        return result;
    if (arms->na < arms->nb)
        spread_a = perf_most_(spread_b, spread_a);
    else if (arms->nb < arms->na)
        spread_b = perf_most_(spread_a, spread_b);
    means.var_a = spread_a * spread_a / PERF_CAST_(double, arms->na);
    means.var_b = spread_b * spread_b / PERF_CAST_(double, arms->nb);
    if (arms->logs)
        perf_means_paired_(&means, arms, a.mean, b.mean);
    else
        perf_means_separate_(&means, arms, a.cubes, b.cubes);
    return perf_fieller_(&means, result.estimate, tail);
}

/* 1: one value is so large a part of the sum that the mean says little about the others. */
PERF_FN int perf_mean_hostage_(const double *sorted, size_t n)
{
    return (sorted[n - 1] - perf_quantile_(sorted, n, 0.5)) / PERF_CAST_(double, n) >
           0.1 * perf_moments_of_(sorted, n).mean;
}

/* ---- shapes ---- */

/* How lopsided sorted x is, in standard errors of a normal law; below 0: to the left.  Each
 * distance to the median has a rank; the sum of the ranks, with their signs, has a variance of
 * 0.126 n^3.  Distances that differ by no more than `step`, which a clock may hide, share a
 * rank.                                                                                          */
PERF_FN double perf_lopsidedness_(const double *x, size_t n, double step)
{
    double median = perf_quantile_(x, n, 0.5), rank = PERF_CAST_(double, n % 2), sum = 0.0;
    size_t low = n / 2, high = (n + 1) / 2;         /* what is left: below low, from high on      */

    while (low > 0 || high < n) {
        double down = PERF_INF_, up = PERF_INF_;
        if (low > 0)
            down = median - x[low - 1];
        if (high < n)
            up = x[high] - median;
        rank += 1.0;
        if (high == n || up - step > down) {
            sum -= rank;
            low--;
        } else if (low == 0 || up < down - step) {
            sum += rank;
            high++;
        } else {                                    /* the same rank on both sides                */
            rank += 1.0;
            low--;
            high++;
        }
    }
    return sum / perf_sqrt_(0.126 * rank * rank * rank);
}

/* 1: sorted d is lopsided by more than so many standard errors.  Arms of one shape differ by a
 * shift of logs, and then d is symmetric.  errors: 1.4 where a false 1 only costs width and a miss
 * may cost a wrong answer (rates: docs/statistics-evidence.md); 2.58 where it is said: 1 in 100. */
PERF_FN int perf_lopsided_(const double *d, size_t n, double errors, double step)
{
    return perf_fabs_(perf_lopsidedness_(d, n, step)) > errors;
}

/* 1: the sorted arms are lopsided to unlike sides, as of two speeds that overlap where one arm is
 * mostly fast and the other mostly slow.                                                         */
PERF_FN int perf_mirrored_(const perf_arms_ *arms)
{
    const double errors = 1.7;
    const double apart = perf_lopsidedness_(arms->sorted_b, arms->nb, 0.0) -
                         perf_lopsidedness_(arms->sorted_a, arms->na, 0.0);

    return apart * apart > 2.0 * errors * errors;
}

/* 1: the middle halves of the sorted arms differ so much in relative width that their shapes do,
 * too.  3.3 / sqrt(n) is twice the standard error of the log of the quotient for normal values.  */
PERF_FN int perf_unlike_(const perf_arms_ *arms)
{
    size_t low = arms->na / 4, high = arms->na - 1 - low;
    double most = perf_exp_(3.3 / perf_sqrt_(PERF_CAST_(double, arms->na)));
    double width_a = perf_log_(arms->sorted_a[high] / arms->sorted_a[low]);
    double width_b = perf_log_(arms->sorted_b[high] / arms->sorted_b[low]);

    return width_a > width_b * most || width_b > width_a * most;
}

/* How many more values of sorted d lie far above the middle than far below, or the other way round;
 * far: four times the width of the middle half.  Rare pauses of one arm look so, and signed ranks
 * find little where they are one in seven.                                                       */
PERF_FN double perf_spikes_excess_(const double *d, size_t n)
{
    double median = perf_quantile_(d, n, 0.5), excess = 0.0;
    double middle = perf_quantile_(d, n, 0.75) - perf_quantile_(d, n, 0.25);
    double far_off = 4.0 * middle + PERF_LOG_ROUNDING_;
    size_t i;

    for (i = 0; i < n; i++) {
        if (d[i] - median > far_off)
            excess += 1.0;
        if (median - d[i] > far_off)
            excess -= 1.0;
    }
    return perf_fabs_(excess);
}

/* ---- sequential ---- */

PERF_FN double perf_seq_bet_(double *capital, double x, double toward);

PERF_FN void perf_seq_start_(double *capital)
{
    static const double share[PERF_SEQ_BETS_] = {0.04, 0.06, 0.12, 0.20, 0.22, 0.17, 0.19};

    PERF_LIBC_(memcpy)(capital, share, sizeof share);
}

PERF_FN perf_status perf_seq_init(perf_seq *seq, const perf_rule *rule, double confidence,
                                  double tick)
{
    double threshold = perf_rule_threshold_(rule);

    if (!seq)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(seq, 0, sizeof *seq);
    perf_seq_start_(seq->accept);
    perf_seq_start_(seq->reject);
    perf_seq_start_(seq->faster);
    perf_seq_start_(seq->slower);
    seq->level = PERF_NAN_;                         /* which no capital reaches                   */
    confidence = perf_confidence_(confidence);
    if (perf_is_nan_(threshold) || perf_is_nan_(confidence) || !(tick >= 0.0))
        return PERF_EINVAL;
    if (rule)
        seq->kind = rule->kind;
    seq->log_threshold = perf_log_(threshold);
    seq->tick = perf_step_log_(tick, tick) + PERF_LOG_ROUNDING_;
    seq->level = 2.0 / (1.0 - confidence);
    return PERF_OK;
}

/* "The same within x %": ACCEPT when the bets against both limits have been won, REJECT when one
 * for lying outside has.                                                                         */
PERF_FN void perf_seq_same_(perf_seq *seq, double log_ratio, int *accept, int *reject)
{
    double from_lower = log_ratio + seq->log_threshold;

    if (*accept)
        seq->below = 1;
    if (perf_seq_bet_(seq->slower, from_lower - seq->tick, 1.0) >= seq->level)
        seq->above = 1;
    if (perf_seq_bet_(seq->faster, from_lower + seq->tick, -1.0) >= seq->level)
        *reject = 1;
    *accept = seq->below && seq->above;
}

PERF_FN perf_decision perf_seq_add(perf_seq *seq, double baseline, double candidate)
{
    double log_ratio;
    int    accept, reject;

    if (!seq)
        return PERF_INCONCLUSIVE;
    if (!perf_is_duration_(baseline) || !perf_is_duration_(candidate)) {
        seq->excluded++;
        return seq->decision;
    }
    seq->pairs++;
    if (seq->decision != PERF_INCONCLUSIVE || seq->pairs > 0x7fffffffu)
        return seq->decision;
    log_ratio = perf_log_(candidate) - perf_log_(baseline);
    accept =
        perf_seq_bet_(seq->accept, log_ratio - seq->log_threshold + seq->tick, -1.0) >= seq->level;
    reject =
        perf_seq_bet_(seq->reject, log_ratio - seq->log_threshold - seq->tick, 1.0) >= seq->level;
    if (seq->kind == PERF_RULE_SAME)
        perf_seq_same_(seq, log_ratio, &accept, &reject);
    if (accept == reject)
        return PERF_INCONCLUSIVE;
    seq->decision = PERF_REJECT;
    if (accept)
        seq->decision = PERF_ACCEPT;
    seq->decided_at = seq->pairs;
    return seq->decision;
}

/* One round of bets: each stakes a fixed share of its capital on x having the sign of `toward`.
 * Returns the sum of the capitals, which starts at 1 and exceeds L with probability at most 1/L if
 * the signs are fair (Ville 1939).  The stakes cover weak and strong effects; seven pairs that
 * agree make 43, which passes 40.                                                                */
PERF_FN double perf_seq_bet_(double *capital, double x, double toward)
{
    static const double stake[PERF_SEQ_BETS_] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0};
    double win = PERF_CAST_(double, (x * toward > 0.0) - (x * toward < 0.0)), sum = 0.0;
    int    i;

    for (i = 0; i < PERF_SEQ_BETS_; i++) {
        capital[i] *= 1.0 + stake[i] * win;
        sum += capital[i];
    }
    return sum;
}

/* From bets and a log interval to the verdict: callers above what they call. */
PERF_FN perf_verdict perf_verdict_of_(const perf_compare_opts *opts, const perf_interval *log_ratio,
                                      double unseen, double n);
PERF_FN void perf_verdict_finish_(perf_verdict *verdict, perf_interval log_ratio, double n,
                                  const perf_compare_opts *opts);
PERF_FN perf_decision perf_rule_answer_(const perf_rule *rule, perf_interval log_ratio);
PERF_FN void perf_verdict_cap_(perf_verdict *verdict, const char *reason);

/* The answer of the interval of n log ratios, which come in the order of time, and are sorted.  An
 * ACCEPT needs that of the bets, too.  pairs: with those that have no log ratio.                 */
PERF_COLD_FN_ perf_verdict perf_pairs_judge_(const perf_seq *bets, double *logs, size_t n,
                                             size_t pairs, const perf_compare_opts *opts)
{
    const perf_interval log_ratio = perf_seq_interval(logs, n, opts->confidence);
    perf_verdict        verdict =
        perf_verdict_of_(opts, &log_ratio, bets->tick, PERF_CAST_(double, pairs));
    perf_seq            agree = PERF_ZERO;
    int                 by_median;

    perf_seq_start_(agree.accept);                  /* how many pairs decide, if all agree        */
    agree.level = 2.0 / (1.0 - verdict.confidence);
    while ((verdict.warnings & PERF_WARN_UNBOUNDED) && !agree.decided_at)
        (void)perf_seq_add(&agree, 2.0, 1.0);
    if (agree.decided_at > n)
        verdict.pairs_needed = PERF_CAST_(double, agree.decided_at - n);
    verdict.pairs = pairs;
    verdict.excluded = bets->excluded;
    perf_sort_values_(logs, n);
    if (perf_lopsided_(logs, n, 2.58, bets->tick))
        verdict.warnings |= PERF_WARN_SHAPE;
    by_median = (verdict.warnings & PERF_WARN_SHAPE) && !(verdict.warnings & PERF_WARN_OUTPUTS);
    if (by_median && verdict.decision == PERF_ACCEPT)
        verdict.reason = "the median of the pairs' ratios clears the threshold";
    else if (by_median && verdict.decision == PERF_REJECT)
        verdict.reason = "the median of the pairs' ratios misses the threshold";
    if (verdict.decision == PERF_ACCEPT && bets->decision != PERF_ACCEPT)
        perf_verdict_cap_(&verdict,
                          "the pairs disagree: the interval clears it, too few of them do");
    return verdict;
}

/* 1: the bet that the centre lies in direction `toward` of theta was ever won at `level`. */
PERF_FN int perf_seq_rules_out_(const double *d, size_t n, double theta, double toward,
                                double level)
{
    double capital[PERF_SEQ_BETS_];
    size_t i;

    perf_seq_start_(capital);
    for (i = 0; i < n; i++)
        if (!(perf_seq_bet_(capital, d[i] - theta, toward) < level))
            return 1;
    return 0;
}

/* Log ratios: in the order of time, and those that are finite in ascending order. */
typedef struct perf_logs_ {
    const double *in_time, *sorted;
    size_t        n, finite;
} perf_logs_;

/* Half-way between sorted value i and the one before it, of the first a little beyond.  Values
 * count from 1, from the low end if toward > 0, else from the high end.                          */
PERF_FN double perf_seq_between_(const perf_logs_ *logs, size_t i, double toward)
{
    double here, before;

    if (toward > 0.0)
        here = logs->sorted[i - 1];
    else
        here = logs->sorted[logs->finite - i];
    if (i == 1)
        before = here - toward;
    else if (toward > 0.0)
        before = logs->sorted[i - 2];
    else
        before = logs->sorted[logs->finite - i + 1];
    return 0.5 * (here + before);
}

/* How many of the sorted values, from one end, the bets have excluded on that side.  The capital
 * falls as theta moves towards the data, so the excluded ones have no gaps: bisection.           */
PERF_FN size_t perf_seq_excluded_(const perf_logs_ *logs, double toward, double level)
{
    size_t low = 0, high = logs->finite, mid;       /* excluded just before the low-th value      */

    while (high > low) {
        mid = low + (high - low + 1) / 2;
        if (perf_seq_rules_out_(logs->in_time, logs->n, perf_seq_between_(logs, mid, toward),
                                toward, level))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

PERF_FN perf_interval perf_seq_interval(const double *log_ratio, size_t n, double confidence)
{
    perf_interval result = {-PERF_INF_, PERF_NAN_, PERF_INF_};
    double        level, local[256], *sorted;
    perf_logs_    logs = PERF_ZERO;
    size_t        i, finite = 0, low, high;

    confidence = perf_confidence_of_each_(confidence);
    if (!log_ratio || !n || perf_is_nan_(confidence))
        return result;
    sorted = perf_scratch_(local, 256, n);
    if (!sorted)
        return result;
    for (i = 0; i < n; i++)
        if (perf_is_finite_(log_ratio[i]))
            sorted[finite++] = log_ratio[i];
    perf_sort_values_(sorted, finite);
    logs.in_time = log_ratio;
    logs.n = n;
    logs.sorted = sorted;
    logs.finite = finite;
    level = 2.0 / (1.0 - confidence);
    /* How many of the smallest, and of the largest values the bets rule out as the median. */
    low = perf_seq_excluded_(&logs, 1.0, level);
    high = perf_seq_excluded_(&logs, -1.0, level);
    result.estimate = perf_quantile_(sorted, finite, 0.5);
    /* The median may have come back over a limit of the bets since. */
    if (low)
        result.low = perf_least_(sorted[low - 1], result.estimate);
    if (high)
        result.high = perf_most_(sorted[finite - high], result.estimate);
    perf_scratch_free_(sorted, local);
    return result;
}

/* ---- verdicts ---- */

PERF_FN double perf_metric_p_(perf_metric metric)
{
    if (metric == PERF_METRIC_P99)
        return 0.99;
    if (metric == PERF_METRIC_P95)
        return 0.95;
    return 0.5;
}

/* A verdict that says nothing yet, with the rule it will be held against. */
PERF_FN perf_verdict perf_verdict_start_(const perf_compare_opts *opts)
{
    perf_verdict verdict = PERF_ZERO;
    int          in_range;

    verdict.reason = "no measurements";
    verdict.rule = opts->rule;
    verdict.threshold = perf_rule_threshold_(&opts->rule);
    verdict.confidence = opts->confidence;
    verdict.ratio.high = verdict.speedup.high = PERF_INF_;
    verdict.ratio.estimate = verdict.speedup.estimate = PERF_NAN_;
    verdict.min_detectable_change = verdict.pairs_needed = PERF_INF_;
    in_range = !perf_is_nan_(verdict.threshold) && !perf_is_nan_(verdict.confidence) &&
               !perf_is_nan_(opts->tick) &&
               PERF_CAST_(unsigned, opts->rule.metric) <= PERF_METRIC_BRANCH_MISSES &&
               PERF_CAST_(unsigned, opts->design) <= PERF_DESIGN_SEPARATE && opts->rules >= 0 &&
               opts->rules <= 1000 && perf_tolerance_ok_(&opts->guard.limit);
    if (!in_range) {
        verdict.status = PERF_EINVAL;
        verdict.reason = "the rule or an option is out of its range";
    }
    return verdict;
}

/* Withholds the decision for `reason`, whatever the numbers say.  Wrong outputs stay REJECTed. */
PERF_FN void perf_verdict_cap_(perf_verdict *verdict, const char *reason)
{
    if (verdict->decision == PERF_INCONCLUSIVE || (verdict->warnings & PERF_WARN_OUTPUTS))
        return;
    verdict->decision = PERF_INCONCLUSIVE;
    verdict->reason = reason;
    verdict->pairs_needed = PERF_INF_;
}

/* 1: the error is within a limit that is set; a limit of 0 is none. */
PERF_FN int perf_within_(double error, double limit)
{
    return !(limit > 0.0) || error <= limit;
}

/* 1 only when something was compared and every limit that was set holds.  None set: bit for bit. */
PERF_FN int perf_accuracy_ok_(const perf_accuracy *seen, const perf_tolerance *limit)
{
    perf_tolerance none = PERF_ZERO;
    int            any_limit;

    if (!limit)
        limit = &none;
    if (!seen || !seen->compared || perf_is_nan_(seen->max_abs) || !perf_tolerance_ok_(limit))
        return 0;
    any_limit = limit->abs > 0.0 || limit->rel > 0.0 || limit->ulp > 0.0;
    if (!any_limit)
        return seen->max_abs <= 0.0 && seen->max_rel <= 0.0 && seen->max_ulp <= 0.0;
    return perf_within_(seen->max_abs, limit->abs) && perf_within_(seen->max_rel, limit->rel) &&
           perf_within_(seen->max_ulp, limit->ulp);
}

/* Applies an accuracy check to a finished verdict.  Failed: REJECT, whatever else is in doubt.
 * Asked for but not made, or an invalid limit: no ACCEPT.  Passed, or NULL: nothing changes.     */
PERF_FN void perf_verdict_guard_(perf_verdict *verdict, const perf_guard *guard)
{
    if (!verdict || !guard || !perf_guard_asked_(guard) ||
        (verdict->status != PERF_OK && !verdict->pairs))
        return;                                     /* what was not measured stays so             */
    if (!perf_tolerance_ok_(&guard->limit)) {
        perf_verdict_cap_(verdict, "a limit of the accuracy check is negative or not a number");
    } else if (guard->seen.compared && !perf_accuracy_ok_(&guard->seen, &guard->limit)) {
        verdict->decision = PERF_REJECT;
        verdict->reason = "the outputs differ by more than the tolerance";
        verdict->warnings |= PERF_WARN_OUTPUTS;
        verdict->pairs_needed = 0.0;
    } else if (!guard->seen.compared && verdict->decision == PERF_ACCEPT) {
        perf_verdict_cap_(verdict, "fast enough, but the required accuracy check was not made");
    }
}

/* Further pairs for an 80 % chance of an answer: n ((2.80 / 1.96)^2 (half / gap)^2 - 1), but 1 at
 * least.  gap: of the estimate to the threshold, as a log.                                       */
PERF_FN double perf_pairs_needed_(const perf_verdict *verdict, double n, double half, double gap)
{
    double least, needed = n * (2.04 / (gap / half * (gap / half)) - 1.0);

    if (!perf_is_finite_(half)) {
        least = 2.0;
        if (verdict->rule.metric != PERF_METRIC_MEAN)
            least = PERF_CAST_(double,
                               perf_quantile_min_count_(perf_metric_p_(verdict->rule.metric),
                                                        verdict->confidence));
        needed = n;
        if (least > n)
            needed = least - n;
    }
    if (!(needed >= 1.0))
        return 1.0;
    return needed;
}

/* How far a log ratio is from where the answer changes: above 0 the rule holds.  "The same within
 * x %": to the nearer limit.                                                                     */
PERF_FN double perf_rule_room_(const perf_rule *rule, double log_ratio)
{
    const double log_t = perf_log_(perf_rule_threshold_(rule));

    if (rule->kind == PERF_RULE_SAME)
        return log_t - perf_fabs_(log_ratio);
    return log_t - log_ratio;
}

/* No number of pairs is enough if `unseen`, as a log, is as much as the estimate needs to pass.
 * exact: the interval without that; where there is none yet, more values are needed first.       */
PERF_FN void perf_verdict_hidden_(perf_verdict *verdict, perf_interval exact, double unseen)
{
    if (verdict->decision == PERF_INCONCLUSIVE && perf_is_finite_(exact.low) &&
        perf_is_finite_(exact.high) &&
        unseen >= perf_fabs_(perf_rule_room_(&verdict->rule, exact.estimate)))
        verdict->pairs_needed = PERF_INF_;
}

/* perf_verdict_finish_ makes it; without a log interval, or with refused opts, it says nothing. */
PERF_FN perf_verdict perf_verdict_of_(const perf_compare_opts *opts, const perf_interval *log_ratio,
                                      double unseen, double n)
{
    perf_verdict verdict = perf_verdict_start_(opts);

    if (log_ratio && verdict.status == PERF_OK) {
        perf_verdict_finish_(&verdict, perf_widen_(*log_ratio, unseen), n, opts);
        perf_verdict_hidden_(&verdict, *log_ratio, unseen);
    }
    return verdict;
}

/* The answer of a log interval, which includes what the clock hides already, with its reason. */
PERF_FN void perf_verdict_finish_(perf_verdict *verdict, perf_interval log_ratio, double n,
                                  const perf_compare_opts *opts)
{
    static const char *const reason[3] = {"the interval contains the threshold",
                                          "the whole interval clears the threshold",
                                          "the whole interval misses the threshold"};
    static const char *const of_same[3] = {"the interval contains a limit",
                                           "the whole interval lies within both limits",
                                           "the whole interval lies outside the limits"};
    double half = 0.5 * (log_ratio.high - log_ratio.low), room;
    int    bounded = perf_is_finite_(half);

    verdict->ratio.low = perf_exp_(log_ratio.low);
    verdict->ratio.estimate = perf_exp_(log_ratio.estimate);
    verdict->ratio.high = perf_exp_(log_ratio.high);
    verdict->speedup.low = perf_exp_(-log_ratio.high);
    verdict->speedup.estimate = perf_exp_(-log_ratio.estimate);
    verdict->speedup.high = perf_exp_(-log_ratio.low);
    if (bounded)                                    /* 2.80 = z(.975) + z(.80)                    */
        verdict->min_detectable_change = perf_exp_(half * (2.80 / 1.96)) - 1.0;
    else
        verdict->warnings |= PERF_WARN_UNBOUNDED;
    verdict->pairs_needed = 0.0;
    verdict->decision = perf_rule_answer_(&verdict->rule, log_ratio);
    verdict->reason = reason[verdict->decision];
    if (verdict->rule.kind == PERF_RULE_SAME)
        verdict->reason = of_same[verdict->decision];
    if (verdict->decision == PERF_INCONCLUSIVE) {
        room = perf_rule_room_(&verdict->rule, log_ratio.estimate);
        verdict->pairs_needed = perf_pairs_needed_(verdict, n, half, room);
        if (!bounded)
            verdict->reason = "too few measurements for an interval";
    }
    perf_verdict_guard_(verdict, &opts->guard);
}

/* What a log interval says to a rule.  Each limit of "the same within x %" is a one-sided test, and
 * ACCEPT needs both (Schuirmann 1987).                                                           */
PERF_FN perf_decision perf_rule_answer_(const perf_rule *rule, perf_interval log_ratio)
{
    const double log_t = perf_log_(perf_rule_threshold_(rule));
    const int    same = rule->kind == PERF_RULE_SAME;

    if (log_ratio.low > log_t || (same && log_ratio.high < -log_t))
        return PERF_REJECT;
    if (log_ratio.high < log_t && (!same || log_ratio.low > -log_t))
        return PERF_ACCEPT;
    return PERF_INCONCLUSIVE;
}

/* What the clock's step may hide in the ratio of the arms, as a log. */
PERF_FN double perf_arms_tick_(const perf_arms_ *arms, const perf_compare_opts *opts)
{
    const int is_count = opts->rule.memory || opts->rule.metric == PERF_METRIC_MEMORY ||
                         opts->rule.metric > PERF_METRIC_THROUGHPUT;
    double    tick = opts->tick, unseen;

    if (is_count && !(tick > 0.0))
        tick = -1.0;                                /* bytes and instructions are exact           */
    unseen = perf_tick_log_(arms->sorted_a, arms->na, arms->sorted_b, arms->nb, tick, 0);
    if (opts->rule.metric == PERF_METRIC_THROUGHPUT && !(opts->tick < 0.0))
        unseen = perf_most_(perf_tick_log_(arms->sorted_a, arms->na, arms->sorted_b, arms->nb, 0.0,
                                           1), unseen);
    return unseen;
}

/* 1: the metric is about the typical ratio, not about a quantile of each arm or a mean. */
PERF_FN int perf_metric_is_typical_(perf_metric metric)
{
    return metric == PERF_METRIC_PAIR || metric >= PERF_METRIC_MEMORY;
}

/* Below this many pairs the typical ratio holds the interval from signs, too: where one arm has two
 * speeds, signed ranks of few pairs are wrong in up to .13 a side.                               */
#define PERF_FEW_PAIRS_ 20

/* 1: the sorted logs have a gap at their middle, as of two speeds.  It fills .4 of their interval
 * from signs (95 %), or the median and `centre`, that of signed ranks, differ by .17 of it.  Of one
 * shape, .15 of 20 pairs look so, .05 of 24, .02 of 36.                                          */
PERF_FN int perf_split_(const double *d, size_t n, double centre)
{
    const perf_interval signs = perf_quantile_interval_(d, n, 0.5, 0.95);
    const double        width = signs.high - signs.low;
    size_t              i;

    if (perf_fabs_(signs.estimate - centre) > 0.17 * width)
        return 1;
    for (i = 1; i < n; i++)
        if (d[i - 1] >= signs.low && d[i] <= signs.high && d[i] - d[i - 1] > 0.4 * width)
            return 1;
    return 0;
}

/* The typical ratio of pairs.  Arms of one shape: the interval from signed ranks.  Else the median
 * of the pairs' ratios (from signs) and the ratio of medians differ: the answer holds for both.
 * Sorts the logs.                                                                                */
PERF_FN perf_interval perf_typical_pairs_(perf_verdict *verdict, const perf_arms_ *arms,
                                          double tail)
{
    perf_interval ranks = perf_signed_rank_(arms->logs, arms->na, tail);
    perf_interval signs = perf_quantile_interval_(arms->logs, arms->na, 0.5, verdict->confidence),
                  result;
    double        excess = perf_spikes_excess_(arms->logs, arms->na);
    const int     unlike = perf_lopsided_(arms->logs, arms->na, 1.4, PERF_LOG_ROUNDING_) ||
                           perf_unlike_(arms);

    if (unlike || excess >= 3.0)
        verdict->warnings |= PERF_WARN_SHAPE;
    if (unlike || excess > 0.0) {
        result =
            perf_hull_(signs, perf_quantile_ratio_(arms, 0.5, tail, perf_pair_shrink_(arms, 0.5)));
        result.estimate = perf_quantile_(arms->logs, arms->na, 0.5);
        return result;
    }
    if (arms->na < PERF_FEW_PAIRS_ || perf_split_(arms->logs, arms->na, ranks.estimate) ||
        perf_mirrored_(arms))
        return perf_hull_(ranks, signs);
    return ranks;
}

/* The ratio of medians with both at their worst limits: asks nothing of the laws of the arms. */
PERF_FN perf_interval perf_medians_apart_(const perf_arms_ *arms, double confidence)
{
    const perf_interval a = perf_quantile_interval_(arms->sorted_a, arms->na, 0.5, confidence);
    const perf_interval b = perf_quantile_interval_(arms->sorted_b, arms->nb, 0.5, confidence);
    perf_interval       result;

    result.estimate = perf_log_(b.estimate / a.estimate);
    result.low = -PERF_INF_;
    result.high = PERF_INF_;
    if (b.low > 0.0 && perf_is_finite_(a.high))
        result.low = perf_log_(b.low / a.high);
    if (a.low > 0.0 && perf_is_finite_(b.high))
        result.high = perf_log_(b.high / a.low);
    return result;
}

/* The ratio of medians of pairs.  Medians of few jump between two speeds: so below 32 pairs the
 * interval holds that of the typical ratio, below 20 the one from signs.  Where the arms spread
 * unlike, a root of squares takes lumps for a law: it holds the worst limits.  Sorts the logs.   */
PERF_FN perf_interval perf_median_pairs_(const perf_arms_ *arms, double confidence)
{
    double        tail = 0.5 - 0.5 * confidence;
    perf_interval result = perf_quantile_ratio_(arms, 0.5, tail, perf_pair_shrink_(arms, 0.5));

    if (arms->na < PERF_FEW_MEDIANS_)
        result = perf_hull_(result, perf_signed_rank_(arms->logs, arms->na, tail));
    if (arms->na < PERF_FEW_PAIRS_)
        result = perf_hull_(result, perf_quantile_interval_(arms->logs, arms->na, 0.5, confidence));
    if (perf_unlike_(arms))
        result = perf_hull_(result, perf_medians_apart_(arms, confidence));
    return result;
}

/* The log interval of the metric that the rule is about. */
PERF_FN perf_interval perf_arms_interval_(perf_verdict *verdict, const perf_arms_ *arms)
{
    perf_metric   metric = verdict->rule.metric;
    perf_interval result;
    double        p = perf_metric_p_(metric), tail = 0.5 - 0.5 * verdict->confidence, shrink = 1.0;

    if (metric == PERF_METRIC_MEAN) {
        result = perf_mean_ratio_(arms, tail);
        if (perf_mean_hostage_(arms->sorted_a, arms->na) ||
            perf_mean_hostage_(arms->sorted_b, arms->nb))
            verdict->warnings |= PERF_WARN_MEAN;
        return result;
    }
    if (arms->logs && perf_metric_is_typical_(metric))
        return perf_typical_pairs_(verdict, arms, tail);
    if (arms->logs && metric == PERF_METRIC_P50)
        return perf_median_pairs_(arms, verdict->confidence);
    if (arms->logs)
        shrink = perf_pair_shrink_(arms, p);
    return perf_quantile_ratio_(arms, p, tail, shrink);
}

/* Says of an interval that the clock's step, as a log, makes undecided that this does so.  It may
 * do so for any number of pairs: if it hides all that is between the estimate and the threshold. */
PERF_FN void perf_verdict_coarse_(perf_verdict *verdict, perf_interval exact, double tick)
{
    const perf_rule *rule = &verdict->rule;
    int              hides_all;

    if (verdict->decision != PERF_INCONCLUSIVE ||
        perf_rule_answer_(rule, perf_widen_(exact, tick)) != PERF_INCONCLUSIVE)
        return;                                     /* else the guard has withheld the answer     */
    perf_verdict_hidden_(verdict, exact, tick);
    hides_all = !perf_is_finite_(verdict->pairs_needed) &&
                (verdict->warnings & PERF_WARN_RESOLUTION);
    if (hides_all || perf_rule_answer_(rule, exact) != PERF_INCONCLUSIVE) {
        verdict->reason = "the clock is too coarse for this: time more work at once";
        verdict->pairs_needed = PERF_INF_;
    }
}

/* Judges two arms: values are good, and there is one at least of each. */
PERF_FN void perf_verdict_arms_(perf_verdict *verdict, const perf_arms_ *arms,
                                const perf_compare_opts *opts)
{
    perf_interval result;
    double        tick;
    int           few_medians;

    PERF_LIBC_(memcpy)(arms->sorted_a, arms->a, arms->na * sizeof *arms->a);
    PERF_LIBC_(memcpy)(arms->sorted_b, arms->b, arms->nb * sizeof *arms->b);
    perf_sort_values_(arms->sorted_a, arms->na);
    perf_sort_values_(arms->sorted_b, arms->nb);
    result = perf_arms_interval_(verdict, arms);
    tick = perf_arms_tick_(arms, opts);
    if (tick > 0.0 && tick > 0.1 * (result.high - result.low))
        verdict->warnings |= PERF_WARN_RESOLUTION;
    verdict->pairs = arms->na;
    if (arms->nb < arms->na)
        verdict->pairs = arms->nb;
    perf_verdict_finish_(verdict, perf_widen_(result, tick), PERF_CAST_(double, verdict->pairs),
                         opts);
    if (tick > 0.0)
        perf_verdict_coarse_(verdict, result, tick);
    if (verdict->warnings & PERF_WARN_MEAN)
        perf_verdict_cap_(verdict,
                          "one value carries over 10 % of the sum: the mean is not identified");
    few_medians = arms->logs && arms->na < 100 && verdict->rule.metric == PERF_METRIC_P50;
    if (few_medians && perf_unlike_(arms)) {
        verdict->warnings |= PERF_WARN_SHAPE;
        perf_verdict_cap_(verdict,
                          "medians of so few values mean little where the two differ in shape");
    }
}

/* What was handed over to be compared; pairs: nx is ny. */
typedef struct perf_samples_ {
    const double *x, *y;                            /* baseline, candidate                        */
    size_t        nx, ny;
    int           paired;
} perf_samples_;

/* Copies the values that are positive numbers: of pairs only whole ones.  Returns how many of the
 * values (or pairs) were left out.                                                               */
PERF_FN uint64_t perf_samples_gather_(const perf_samples_ *in, perf_arms_ *arms)
{
    size_t n = in->nx, i;

    if (in->ny > n)
        n = in->ny;
    for (i = 0; i < n; i++) {
        int good_x = i < in->nx && perf_is_duration_(in->x[i]);
        int good_y = i < in->ny && perf_is_duration_(in->y[i]);
        if (in->paired && good_x && good_y)
            arms->logs[arms->na] = perf_log_(in->y[i]) - perf_log_(in->x[i]);
        if (good_x && (good_y || !in->paired))
            arms->a[arms->na++] = in->x[i];
        if (good_y && (good_x || !in->paired))
            arms->b[arms->nb++] = in->y[i];
    }
    if (in->paired)
        return in->nx - arms->na;
    return in->nx - arms->na + (in->ny - arms->nb);
}

/* Of rates more is better: the arms change sides. */
PERF_FN void perf_arms_swap_(perf_arms_ *arms)
{
    double *a = arms->a;
    size_t  na = arms->na, i;

    arms->a = arms->b;
    arms->na = arms->nb;
    arms->b = a;
    arms->nb = na;
    for (i = 0; i < arms->na && arms->logs; i++)
        arms->logs[i] = -arms->logs[i];
}

/* What is known to be wrong with the way in which the values came about. */
PERF_FN void perf_verdict_doubt_(perf_verdict *verdict, const perf_samples_ *in, perf_design design)
{
    const int ordered = design == PERF_DESIGN_RANDOM ||
                        (in->paired && design != PERF_DESIGN_SEPARATE);

    if (verdict->excluded) {
        verdict->warnings |= PERF_WARN_BAD_VALUES;
        perf_verdict_cap_(verdict, "some values are no positive numbers: measure again");
    }
    if (!ordered) {
        verdict->warnings |= PERF_WARN_ORDER;
        perf_verdict_cap_(verdict,
                          "not interleaved: a drift between the two runs would look the same");
    }
    if (verdict->decision == PERF_INCONCLUSIVE && (verdict->excluded || !ordered) &&
        verdict->ratio.low > 0.0 && perf_is_finite_(verdict->ratio.high))
        verdict->pairs_needed = PERF_INF_;          /* else an interval comes first               */
}

/* One rule, alone. */
PERF_FN perf_verdict perf_compare_alone_(const perf_samples_ *in, const perf_compare_opts *opts)
{
    perf_verdict verdict = perf_verdict_start_(opts);
    perf_arms_   arms = PERF_ZERO;
    double       local[5 * 128], *memory = PERF_NULL_;
    size_t       n = in->nx;

    if (in->ny > n)
        n = in->ny;
    if (n <= SIZE_MAX / 64)
        memory = perf_scratch_(local, 5 * 128, 5 * n);
    if (!memory) {
        verdict.status = PERF_ENOMEM;
        return verdict;
    }
    arms.a = memory;
    arms.b = memory + n;
    arms.sorted_a = memory + 2 * n;
    arms.sorted_b = memory + 3 * n;
    if (in->paired)
        arms.logs = memory + 4 * n;
    verdict.excluded = perf_samples_gather_(in, &arms);
    if (!in->paired) {
        verdict.baseline_values = arms.na;
        verdict.candidate_values = arms.nb;
    }
    if (verdict.excluded)
        verdict.status = PERF_ENODATA;
    if (arms.na && arms.nb) {
        if (opts->rule.metric == PERF_METRIC_THROUGHPUT)
            perf_arms_swap_(&arms);
        perf_verdict_arms_(&verdict, &arms, opts);
        if (verdict.excluded)
            verdict.status = PERF_ERANGE;
    }
    perf_scratch_free_(memory, local);
    perf_verdict_doubt_(&verdict, in, opts->design);
    return verdict;
}

/* With joined rules a REJECT must also hold at a higher confidence: at that all rules together err
 * as seldom as one.  An ACCEPT needs no correction: all rules must agree.                        */
PERF_FN perf_verdict perf_compare_samples_(const perf_samples_ *in, const perf_compare_opts *opts)
{
    perf_compare_opts options = *opts;
    perf_verdict      verdict = perf_verdict_start_(&options), strict;

    if (verdict.status == PERF_OK && (!in->nx || !in->ny))
        verdict.status = PERF_ENODATA;
    if (verdict.status == PERF_OK && (!in->x || !in->y))
        verdict.status = PERF_EINVAL;
    if (verdict.status != PERF_OK)
        return verdict;
    options.rules = 1;
    verdict = perf_compare_alone_(in, &options);
    if (opts->rules <= 1)
        return verdict;
    options.confidence = 1.0 - (1.0 - options.confidence) / PERF_CAST_(double, opts->rules);
    strict = perf_compare_alone_(in, &options);
    if (strict.status == PERF_ENOMEM)
        return strict;
    if (verdict.decision != PERF_ACCEPT) {          /* the interval shown is the one that decides */
        if (verdict.rule.kind != PERF_RULE_SAME) {
            strict.ratio.high = verdict.ratio.high;
            strict.speedup.low = verdict.speedup.low;
        }
        verdict.ratio = strict.ratio;
        verdict.speedup = strict.speedup;
    }
    if (verdict.decision == PERF_REJECT && strict.decision != PERF_REJECT) {
        verdict.decision = PERF_INCONCLUSIVE;
        verdict.reason = "alone it would be REJECT; among several rules that is not sure enough";
        verdict.pairs_needed = strict.pairs_needed;
    }
    return verdict;
}

PERF_FN perf_verdict perf_compare_pairs(const double *baseline, const double *candidate, size_t n,
                                        const perf_compare_opts *opts)
{
    perf_compare_opts options = perf_compare_opts_resolved_(opts);
    perf_samples_     in = PERF_ZERO;

    in.x = baseline;
    in.y = candidate;
    in.nx = in.ny = n;
    in.paired = 1;
    return perf_compare_samples_(&in, &options);
}

PERF_FN perf_verdict perf_compare(const double *baseline, size_t nb, const double *candidate,
                                  size_t nc, const perf_compare_opts *opts)
{
    perf_compare_opts options = perf_compare_opts_resolved_(opts);
    perf_samples_     in = PERF_ZERO;

    in.x = baseline;
    in.y = candidate;
    in.nx = nb;
    in.ny = nc;
    return perf_compare_samples_(&in, &options);
}

/* ---- verdicts as text ---- */

/* A change of so many percent: "+2.1 %". */
PERF_FN void perf_put_percent_(perf_out_ *out, double ratio, int digits)
{
    double percent = (ratio - 1.0) * 100.0;

    if (!perf_is_finite_(percent)) {
        perf_put_(out, "unbounded");
        return;
    }
    if (percent >= 0.0)
        perf_put_char_(out, '+');
    perf_put_fixed_(out, percent, digits);
    perf_put_(out, " %");
}

/* A factor: "1.42x". */
PERF_FN void perf_put_factor_(perf_out_ *out, double factor, int digits)
{
    if (!perf_is_finite_(factor)) {
        perf_put_(out, "unbounded");
        return;
    }
    if (factor < 0.001)
        digits = 9;
    perf_put_fixed_(out, factor, digits);
    perf_put_char_(out, 'x');
}

PERF_FN void perf_put_change_(perf_out_ *out, double x, int is_factor, int digits)
{
    if (is_factor)
        perf_put_factor_(out, x, digits);
    else
        perf_put_percent_(out, x, digits);
}

PERF_FN const char *perf_decision_text(perf_decision decision)
{
    if (decision == PERF_ACCEPT)
        return "ACCEPT";
    if (decision == PERF_REJECT)
        return "REJECT";
    return "INCONCLUSIVE";
}

/* Digits after the point, 1 to 4, that show two digits of a width: 0.37 -> 2, 0.0021 -> 4. */
PERF_FN int perf_digits_of_width_(double width)
{
    int digits;

    for (digits = 1; digits < 5 && width < 10.0; digits++)
        width *= 10.0;
    if (digits > 2)
        return digits - 1;
    return digits;
}

/* "95 % CI ", with as many decimals as the confidence has, if it has no more than 4. */
PERF_FN void perf_put_confidence_(perf_out_ *out, double confidence)
{
    double percent = confidence * 100.0, step = perf_step_decimal_(percent);
    int    digits = 0;

    for (; step < 0.5 && digits < 5; step *= 10.0)
        digits++;
    if (digits == 5 && percent > 99.55)
        digits = 4;
    else if (digits == 5)                           /* 1 - 0.05 / 3                               */
        digits = 1;
    digits += 5 * (percent >= 99.99995);            /* of one of many: never "100.0000 %"         */
    perf_put_fixed_(out, percent, digits);
    perf_put_(out, " % CI ");
}

/* The answer as a speed-up, "1.42x (95 % CI 1.38x to 1.46x)", or else as a change, "+2.1 % (...)".
 * In a table "+2.1 % [-0.3 %, +4.6 %]".  Without limits the estimate alone.                      */
PERF_FN void perf_put_interval_(perf_out_ *out, const perf_verdict *verdict, int speedup, int table)
{
    const perf_interval *x = &verdict->ratio;
    double               width;
    int                  digits, bounded;

    if (speedup || verdict->rule.metric == PERF_METRIC_THROUGHPUT) /* ratios of rates are inverse */
        x = &verdict->speedup;
    width = x->high - x->low;
    if (!speedup)
        width *= 100.0;
    bounded = perf_is_finite_(x->high) && verdict->ratio.low > 0.0 &&
              perf_is_finite_(verdict->ratio.high);
    digits = perf_digits_of_width_(width);
    if (!bounded)
        digits = table ? 1 : 2;
    perf_put_change_(out, x->estimate, speedup, digits);
    if (!bounded) {
        perf_put_(out, table ? "" : " (no interval yet)");
        return;
    }
    perf_put_(out, table ? " [" : " (");
    if (!table)
        perf_put_confidence_(out, verdict->confidence);
    perf_put_change_(out, x->low, speedup, digits);
    perf_put_(out, table ? ", " : " to ");
    perf_put_change_(out, x->high, speedup, digits);
    perf_put_char_(out, table ? ']' : ')');
}

/* Decimals that show all of a rule's amount: 6 at most, for a factor or below 10 % at least one. */
PERF_FN int perf_rule_decimals_(const perf_rule *rule)
{
    double step = 1.0;
    int    digits = 0;

    if (rule->amount > 1e-7 && rule->amount < 1e15)
        step = perf_step_decimal_(rule->amount);
    if (step > 0.1 && (rule->kind == PERF_RULE_SPEEDUP || rule->amount < 10.0))
        step = 0.1;
    for (; step < 0.5 && digits < 6; step *= 10.0)
        digits++;
    return digits;
}

/* What a rule is about.  A rate "down" would be worse: its inverse is meant. */
PERF_FN const char *perf_rule_subject_(const perf_rule *rule)
{
    static const char *const name[] = {"time", "median", "p95", "p99", "mean", "memory",
                                       "throughput", "instructions", "cycles", "branches",
                                       "branch misses"};

    if (PERF_CAST_(unsigned, rule->metric) > PERF_METRIC_BRANCH_MISSES)
        return "metric";
    if (rule->kind == PERF_RULE_REDUCTION && rule->metric == PERF_METRIC_THROUGHPUT)
        return "1 / throughput";
    return name[rule->metric];
}

/* "speed-up >= 1.3x", "memory p95 down by >= 20 %", "mean no more than 2.0 % worse". */
PERF_FN void perf_put_rule_(perf_out_ *out, const perf_rule *rule)
{
    const int is_speedup = rule->kind == PERF_RULE_SPEEDUP;

    if (rule->memory)
        perf_put_(out, "memory ");
    if (is_speedup && rule->metric == PERF_METRIC_PAIR && !rule->memory) {
        perf_put_(out, "speed-up >= ");
    } else {
        perf_put_(out, perf_rule_subject_(rule));
        if (is_speedup)
            perf_put_(out, " better by >= ");
        else if (rule->kind == PERF_RULE_REDUCTION)
            perf_put_(out, " down by >= ");
        else if (rule->kind == PERF_RULE_SAME)
            perf_put_(out, " the same within ");
        else
            perf_put_(out, " no more than ");
    }
    perf_put_fixed_(out, rule->amount, perf_rule_decimals_(rule));
    if (is_speedup)
        perf_put_(out, "x");
    else if (rule->kind == PERF_RULE_REDUCTION || rule->kind == PERF_RULE_SAME)
        perf_put_(out, " %");
    else
        perf_put_(out, " % worse");
}

/* How many values the answer rests on. */
PERF_FN void perf_put_evidence_(perf_out_ *out, const perf_verdict *verdict)
{
    if (verdict->baseline_values) {
        perf_put_u64_(out, verdict->baseline_values);
        perf_put_(out, " and ");
        perf_put_u64_(out, verdict->candidate_values);
        perf_put_(out, " values; ");
        return;
    }
    perf_put_u64_(out, verdict->pairs);
    perf_put_(out, verdict->pairs == 1 ? " pair; " : " pairs; ");
}

PERF_FN const char *perf_verdict_text(perf_verdict *verdict)
{
    perf_out_   out;
    const char *reason;
    int         speedup;

    if (!verdict)
        return "";
    out = perf_out_open_(verdict->text, sizeof verdict->text);
    perf_put_(&out, perf_decision_text(verdict->decision));
    perf_put_(&out, ": ");
    reason = verdict->reason;
    if (!verdict->pairs) {
        if (!reason)
            reason = perf_status_text(verdict->status);
        perf_put_(&out, "not measured: ");
        perf_put_(&out, reason);
        return verdict->text;
    }
    if (!reason)
        reason = "no reason given";
    speedup = verdict->rule.kind == PERF_RULE_SPEEDUP;
    if (speedup)
        perf_put_(&out, "speed-up ");
    perf_put_interval_(&out, verdict, speedup, 0);
    perf_put_(&out, ", asked: ");
    perf_put_rule_(&out, &verdict->rule);
    perf_put_(&out, "; ");
    if (verdict->clock) {
        perf_put_(&out, verdict->clock);
        perf_put_(&out, "; ");
    }
    perf_put_evidence_(&out, verdict);
    perf_put_(&out, reason);
    if (verdict->led_ratio > 0.0) {
        perf_put_(&out, "; after longer leads ");
        perf_put_change_(&out, speedup ? 1.0 / verdict->led_ratio : verdict->led_ratio, speedup, 4);
    }
    if (verdict->mean_ratio > 0.0) {
        perf_put_(&out, "; but the ratio of means is ");
        perf_put_fixed_(&out, verdict->mean_ratio, 3);
    }
    if (verdict->p99_ratio > 0.0) {
        perf_put_(&out, "; but the ratio of p99 is ");
        perf_put_fixed_(&out, verdict->p99_ratio, 3);
    }
    if (verdict->warnings & PERF_WARN_SHAPE) {
        perf_put_(&out, "; ");
        perf_put_(&out, perf_warning_text(PERF_WARN_SHAPE));
    }
    if (verdict->decision == PERF_INCONCLUSIVE && verdict->pairs_needed > 0.0 &&
        verdict->pairs_needed < 1e6) {
        perf_put_(&out, "; about ");
        perf_put_u64_(&out, PERF_CAST_(uint64_t, verdict->pairs_needed + 0.999999));
        perf_put_(&out, " more would probably settle it");
    }
    return verdict->text;
}

/* ---- accuracy ---- */

/* Bits of a floating-point number as an integer that grows with it: their difference counts the
 * representable numbers in between.  sign: its highest bit.                                      */
PERF_FN uint64_t perf_ulp_order_(uint64_t bits, uint64_t sign)
{
    if (bits & sign)
        return sign - (bits & (sign - 1));
    return sign + bits;
}

PERF_FN double perf_ulp_gap_(uint64_t a, uint64_t b, uint64_t sign)
{
    a = perf_ulp_order_(a, sign);
    b = perf_ulp_order_(b, sign);
    if (a > b)
        return PERF_CAST_(double, a - b);
    return PERF_CAST_(double, b - a);
}

/* One more element of the outputs; ulp: how many representable numbers lie between. */
PERF_FN void perf_accuracy_add_(perf_accuracy *accuracy, double ref, double out, double ulp)
{
    double error = perf_fabs_(out - ref), size = perf_fabs_(ref);

    accuracy->compared++;
    if (perf_is_nan_(ref) && perf_is_nan_(out))
        return;                                     /* both say "not a number": they agree        */
    if (!perf_is_finite_(ref) || !perf_is_finite_(out)) {
        if (ulp > 0.0 || perf_is_nan_(ref) || perf_is_nan_(out))
            accuracy->max_abs = accuracy->max_rel = accuracy->max_ulp = PERF_NAN_;
        return;
    }
    if (perf_is_nan_(accuracy->max_abs))
        return;
    accuracy->max_abs = perf_most_(error, accuracy->max_abs);
    accuracy->max_ulp = perf_most_(ulp, accuracy->max_ulp);
    if (!(error > 0.0))
        return;
    if (size > 0.0)
        accuracy->max_rel = perf_most_(error / size, accuracy->max_rel);
    else
        accuracy->max_rel = PERF_INF_;
}

PERF_FN perf_accuracy perf_accuracy_f64(const double *reference, const double *out, size_t n)
{
    perf_accuracy accuracy = PERF_ZERO;
    size_t        i;

    if (!n || !reference || !out) {
        accuracy.max_abs = accuracy.max_rel = accuracy.max_ulp = PERF_NAN_;
        return accuracy;
    }
    for (i = 0; i < n; i++)
        perf_accuracy_add_(&accuracy, reference[i], out[i],
                           perf_ulp_gap_(perf_bits_(reference[i]), perf_bits_(out[i]),
                                         UINT64_C(1) << 63));
    return accuracy;
}

PERF_FN perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n)
{
    perf_accuracy accuracy = PERF_ZERO;
    uint32_t      a, b;
    size_t        i;

    if (!n || !reference || !out) {
        accuracy.max_abs = accuracy.max_rel = accuracy.max_ulp = PERF_NAN_;
        return accuracy;
    }
    for (i = 0; i < n; i++) {
        PERF_LIBC_(memcpy)(&a, reference + i, sizeof a);
        PERF_LIBC_(memcpy)(&b, out + i, sizeof b);
        perf_accuracy_add_(&accuracy, PERF_CAST_(double, reference[i]), PERF_CAST_(double, out[i]),
                           perf_ulp_gap_(a, b, UINT64_C(1) << 31));
    }
    return accuracy;
}

PERF_END_DECLS

#endif /* PERF_STATS_H */
