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
