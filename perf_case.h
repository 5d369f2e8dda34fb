/* perf_case.h - benchmarks that a program finds by itself: PERF_BENCH and its kin.
 *
 *     #include "perf_bench.h"                  // brings this header; one file has PERF_MAIN
 *     PERF_BENCH(copy_4k)
 *     {
 *         static char from[4096], to[4096];
 *         perf_keep(from);                     // a static that nobody writes would be a constant
 *         while (perf_bench_next(&b)) {        // b comes with PERF_BENCH
 *             memcpy(to, from, sizeof to);
 *             perf_keep(to);
 *         }
 *     }
 *
 * The program: one file says `#define PERF_MAIN 1` above `#include "perf.h"`, see perf_main.h.
 * Benchmarks register by constructor functions: main() does not see those of a shared object.
 * Sections (search for ">>"):  cases  internal  private  c++
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_CASE_H
#define PERF_CASE_H

#include "perf_bench.h"

PERF_BEGIN_DECLS

/* >>cases -------------------------------------------------------------------------------------
 *     PERF_BENCH(name)                     { ... while (perf_bench_next(&b)) ... }
 *     PERF_BENCH_N(name, low, high)        the same for sizes n = low .. high, in equal factors
 *                                          (2, 4, 8 ..., at most 12 of them): `n` is a size_t.
 *                                          From 0 on: 0, then 1, 2, 4 ...
 *                                          Five sizes or more get their growth named: O(n log n)
 *     PERF_BENCH_ARGS(name, count, ...)    the same for each tuple of `count` whole numbers, as
 *                                          {4096, 1}, {4096, 8}: `arg` points to its numbers, and
 *                                          the entry is called name/4096/8
 *     PERF_BENCH_THREADS(name, low, high)  the same on low .. high threads at once (doubling; 1 to
 *                                          256); they start together, measure for the whole budget;
 *                                          `thread` is 0, 1, ..., `threads` is how many.  The rates
 *                                          of all threads add up
 * C++11 and later:
 *     PERF_BENCH_T(name, types...)         the same for each type T of the list: name<int>, ...
 *     PERF_BENCH_F(fixture, name)          the body is a member of a struct that inherits from
 *                                          `fixture`.  Each run makes one: the constructor sets up,
 *                                          the destructor cleans up
 * Code before the loop is not timed.  `b` is a local of yours: pass &b to functions of perf.h only.
 * Names are identifiers, each once in a file.  The same name in another file of the program becomes
 * "name (2)".                                                                                    */
#define PERF_BENCH(name) PERF_CASE_(name, 'b', perf_1_, perf_2_, perf_3_, PERF_NULL_, 0, 0)
#define PERF_BENCH_N(name, low, high)                                                             \
    PERF_CASE_(name, 'n', n, perf_2_, perf_3_, PERF_NULL_, low, high)
#define PERF_BENCH_ARGS(name, count, ...)                                                         \
    static const int64_t PERF_CAT_(perf_case_arg_, name)[][count] = {__VA_ARGS__};                \
    PERF_CASE_(name, 'a', perf_1_, perf_2_, arg, PERF_CAT_(perf_case_arg_, name)[0], count,       \
               sizeof PERF_CAT_(perf_case_arg_, name) / sizeof *PERF_CAT_(perf_case_arg_, name))
#define PERF_BENCH_THREADS(name, low, high)                                                       \
    PERF_CASE_(name, 't', thread, threads, perf_3_, PERF_NULL_, low, high)

/* What one iteration moves, for GB/s and items/s; 0: none.  In PERF_BENCH, before the loop.  Those
 * of threads add up.  Values outside 0 .. 1e30 make the benchmark fail.                          */
PERF_FN void perf_bench_rates(perf_bench *bench, double bytes, double items);

/* Says that the body is wrong: in a benchmark, before, within or after its loop, which then ends.
 * The result is PERF_EFAILED without a time; `why` (kept, not copied; NULL: nothing) stands below
 * its row.  The other benchmarks run, and the program ends with status 2.
 *     if (checksum != expected) perf_bench_fail(&b, "another checksum");                         */
PERF_FN void perf_bench_fail(perf_bench *bench, const char *why);

/* Adds a number of your own to this run: to its row, our JSON, Google's and Go's.  Call it before,
 * in or after the loop.  Of one name the last value counts; those of threads are added up.  There
 * is room for 16 names of 39 bytes, which are copied; with one more the benchmark fails.         */
PERF_FN void perf_bench_counter(perf_bench *bench, const char *name, double value);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_case_  a registered benchmark                                                           */

/* >>private ----------------------------------------------------------------------------------- */

#define PERF_UNUSED_ PERF_ATTR_((__unused__))

typedef struct perf_case_ {
    struct perf_case_ *next;
    const char        *name, *file;
    int                line;
    char               kind;            /* b, n, a, t: which macro made it                        */
    void (*run)(perf_bench bench, size_t first, size_t second, const int64_t *third);
    const int64_t     *arg;             /* `high` tuples of `low` numbers                         */
    size_t             low, high;
} perf_case_;

/* The cases of one image, in the order of registration. */
#if !PERF_TCC_
extern PERF_WEAK_ perf_case_ *perf_cases_v1_;
#endif
PERF_WEAK_ perf_case_ *perf_cases_v1_;

/* Files in the order of the linker, the cases of one file in the order of its lines. */
PERF_FN void perf_case_add_(perf_case_ *entry)
{
    perf_case_ **at = &perf_cases_v1_;

    for (; *at; at = &(*at)->next)
        if (!PERF_LIBC_(strcmp)((*at)->file, entry->file) && (*at)->line > entry->line)
            break;
    entry->next = *at;
    *at = entry;
}

#define PERF_CASE_TAKES_(first, second, third)                                                    \
    (PERF_UNUSED_ perf_bench b, PERF_UNUSED_ size_t first, PERF_UNUSED_ size_t second,            \
     PERF_UNUSED_ const int64_t *third)
#define PERF_CASE_(name, kind, first, second, third, arg, low, high)                              \
    static void PERF_CAT_(perf_case_run_, name) PERF_CASE_TAKES_(first, second, third);           \
    static perf_case_ PERF_CAT_(perf_case_, name) = {                                             \
        PERF_NULL_, #name, __FILE__, __LINE__, kind, PERF_CAT_(perf_case_run_, name), arg, low,   \
        high};                                                                                    \
    PERF_ATTR_((__constructor__, __used__)) PERF_OURS_                                            \
    static void PERF_CAT_(perf_case_add_, name)(void)                                             \
    {                                                                                             \
        perf_case_add_(&PERF_CAT_(perf_case_, name));                                             \
    }                                                                                             \
    static void PERF_CAT_(perf_case_run_, name) PERF_CASE_TAKES_(first, second, third)

PERF_FN void perf_bench_rates(perf_bench *bench, double bytes, double items)
{
    if (bench && !PERF_DISABLE)
        perf_bench_engine_get_()->rates(bench, bytes, items);
}

PERF_FN void perf_bench_fail(perf_bench *bench, const char *why)
{
    if (bench && !PERF_DISABLE)
        perf_bench_engine_get_()->failed(bench, why);
}

PERF_FN void perf_bench_counter(perf_bench *bench, const char *name, double value)
{
    if (bench && !PERF_DISABLE)
        perf_bench_engine_get_()->counter(bench, name, value);
}

PERF_END_DECLS

/* >>c++: a case for each type, a case with a fixture ------------------------------------------- */

#if defined(__cplusplus) && __cplusplus >= 201103L
/* The body is a function template of T: one benchmark for each type after the name.              */
#define PERF_BENCH_T(name, ...)                                                                   \
    template <class T> static void PERF_CAT_(perf_case_run_, name)                                \
        PERF_CASE_TAKES_(perf_1_, perf_2_, perf_3_);                                              \
    namespace {                                                                                   \
    template <class T> struct PERF_CAT_(perf_case_of_, name) {                                    \
        static void run(perf_bench b, size_t, size_t, const int64_t *)                            \
        {                                                                                         \
            PERF_CAT_(perf_case_run_, name)<T>(b, 0, 0, PERF_NULL_);                              \
        }                                                                                         \
    };                                                                                            \
    }                                                                                             \
    PERF_ATTR_((__constructor__, __used__)) static void PERF_CAT_(perf_case_add_, name)(void)     \
    {                                                                                             \
        ::perf::cases_<PERF_CAT_(perf_case_of_, name), __VA_ARGS__>::add(#name, #__VA_ARGS__,     \
                                                                         __FILE__, __LINE__);     \
    }                                                                                             \
    template <class T> static void PERF_CAT_(perf_case_run_, name)                                \
        PERF_CASE_TAKES_(perf_1_, perf_2_, perf_3_)

/* `fixture`: a class with a constructor without arguments; the body sees its members.            */
#define PERF_BENCH_F(fixture, name)                                                               \
    namespace {                                                                                   \
    struct PERF_CAT_(perf_case_of_, name) : fixture {                                             \
        void run PERF_CASE_TAKES_(perf_1_, perf_2_, perf_3_);                                     \
    };                                                                                            \
    }                                                                                             \
    PERF_BENCH(name)                                                                              \
    {                                                                                             \
        PERF_CAT_(perf_case_of_, name) object;                                                    \
        object.run(b, 0, 0, PERF_NULL_);                                                          \
    }                                                                                             \
    void PERF_CAT_(perf_case_of_, name)::run PERF_CASE_TAKES_(perf_1_, perf_2_, perf_3_)

namespace perf {

/* The end of the first type of a list: its first comma outside of brackets, or its end. */
inline const char *first_type_(const char *types)
{
    int depth = 0;

    for (; *types && (depth || *types != ','); types++) {
        if (*types == '<' || *types == '(' || *types == '[')
            depth++;
        if (*types == '>' || *types == ')' || *types == ']')
            depth--;
    }
    return types;
}

/* Registers a case for each type of a list, which `types` has as it was written. */
template <template <class> class Run_, class... Types_> struct cases_ {
    static void add(const char *, const char *, const char *, int)
    {
    }
};

template <template <class> class Run_, class First_, class... Rest_>
struct cases_<Run_, First_, Rest_...> {
    static void add(const char *name, const char *types, const char *file, int line)
    {
        static char       title[1024];          /* name<type>; the loop cuts it, with a note      */
        static perf_case_ entry;
        const char       *end = first_type_(types), *from;
        size_t            at = 0;

        for (from = name; *from && at < sizeof title - 3; from++)
            title[at++] = *from;
        title[at++] = '<';
        for (from = types; from < end && at < sizeof title - 2; from++)
            title[at++] = *from;
        title[at] = '>';
        entry.name = title;
        entry.file = file;
        entry.line = line;
        entry.kind = 'b';
        entry.run = Run_<First_>::run;
        ::perf_case_add_(&entry);
        while (*end == ',' || *end == ' ')
            end++;
        cases_<Run_, Rest_...>::add(name, end, file, line);
    }
};

} /* namespace perf */
#endif

#endif /* PERF_CASE_H */
