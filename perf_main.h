/* perf_main.h - a program of benchmarks: register them anywhere, run, list, save and compare them.
 *
 *     #define PERF_MAIN 1                      // in one file: defines main()
 *     #include "perf.h"                        // in the other files: #include "perf_bench.h"
 *     #include <string.h>
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
 * Then: ./a.out --help, ./a.out --filter copy --json results.json, ...
 *
 * perf.h includes this file only where PERF_MAIN is defined.  docs/results.md has the options,
 * perf_case.h has PERF_BENCH and its kin.
 * Sections (search for ">>"):  private  main
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_MAIN_H
#define PERF_MAIN_H

#include "perf.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_main.h: found another or an older perf.h; keep files of one release together"
#endif

PERF_BEGIN_DECLS

/* >>private ----------------------------------------------------------------------------------- */

/* ---- growth: how a time depends on a size ---- */

/* A law, and how well it fits. */
typedef struct perf_growth_ {
    const char *name;           /* "O(n log n)", ...; "no fit" when nothing is within 15 %        */
    const char *closest;        /* the best of the candidates, whatever its error                 */
    const char *rival;          /* one that these sizes cannot tell from it; NULL: none           */
    double      factor;         /* ns = constant + factor * f(n); log is to the base 2            */
    double      constant;       /* 0 .. half of the fastest time                                  */
    double      error;          /* root mean square of the relative errors of `closest`           */
    double      from;           /* smallest size that it was fitted to; 0: not fitted             */
} perf_growth_;

#define PERF_GROWTH_LAWS_  6
#define PERF_GROWTH_LEAST_ 5    /* sizes                                                          */
#define PERF_GROWTH_SPAN_  8.0  /* the largest over the smallest                                  */
#define PERF_GROWTH_ERROR_ 0.15 /* with more no law is named                                      */
#define PERF_GROWTH_GOOD_  0.05 /* with less no size is left out                                  */

/* The times that a law is fitted to. */
typedef struct perf_times_ {
    const double *n, *ns;       /* sizes, and the time of each                                    */
    size_t        count;
} perf_times_;

/* f(n) of a law. */
PERF_FN double perf_growth_of_(int law, double n)
{
    const double log2 = perf_log_(n) * 1.44269504088896340736;

    switch (law) {
    case 0: return 1.0;
    case 1: return log2;
    case 2: return n;
    case 3: return n * log2;
    case 4: return n * n;
    default: return n * n * n;
    }
}

/* Factor and constant >= 0 with the smallest sum of (1 - (constant + factor * f(n)) / ns)^2 over
 * sizes from law->from on; law->error is the root of its mean.  The constant is at most half of the
 * least time.  u is 1 / ns, v is f(n) / ns.                                                      */
PERF_FN void perf_growth_fit_(int number, const perf_times_ *times, perf_growth_ *law)
{
    double u, v, uu = 0.0, uv = 0.0, vv = 0.0, su = 0.0, sv = 0.0, most = PERF_INF_, sum = 0.0;
    double used = 0.0, determinant;
    size_t i;

    for (i = 0; i < times->count; i++) {
        if (times->n[i] < law->from)
            continue;
        u = 1.0 / times->ns[i];
        v = perf_growth_of_(number, times->n[i]) / times->ns[i];
        uu += u * u;
        uv += u * v;
        vv += v * v;
        su += u;
        sv += v;
        used += 1.0;
        if (0.5 * times->ns[i] < most)
            most = 0.5 * times->ns[i];
    }
    determinant = uu * vv - uv * uv;
    law->constant = 0.0;
    if (number && determinant > 1e-12 * uu * vv)
        law->constant = (su * vv - sv * uv) / determinant;
    if (!(law->constant > 0.0))
        law->constant = 0.0;
    if (law->constant > most)
        law->constant = most;
    law->factor = 0.0;
    if (vv > 0.0)
        law->factor = (sv - law->constant * uv) / vv;
    for (i = 0; i < times->count; i++) {
        if (times->n[i] < law->from)
            continue;
        v = law->constant + law->factor * perf_growth_of_(number, times->n[i]);
        v = 1.0 - v / times->ns[i];
        sum += v * v / used;
    }
    law->error = perf_sqrt_(sum);
}

/* The best law for the sizes from `from` on. */
PERF_FN perf_growth_ perf_growth_best_(const perf_times_ *times, double from)
{
    static const char *const name[PERF_GROWTH_LAWS_] = {"O(1)",       "O(log n)", "O(n)",
                                                        "O(n log n)", "O(n^2)",   "O(n^3)"};
    perf_growth_ best = {"no fit", "no fit", PERF_NULL_, 0.0, 0.0, PERF_INF_, 0.0}, law = best;
    const char  *second = PERF_NULL_;
    double       error = PERF_INF_;             /* of the second                                  */
    int          i;

    law.from = from;
    for (i = 0; i < PERF_GROWTH_LAWS_; i++) {
        perf_growth_fit_(i, times, &law);
        if (law.error < best.error) {
            if (i)
                second = best.closest;
            error = best.error;
            best = law;
            best.closest = name[i];
        } else if (law.error < error) {
            second = name[i];
            error = law.error;
        }
    }
    if (best.error <= PERF_GROWTH_ERROR_)
        best.name = best.closest;
    best.rival = PERF_NULL_;
    if (error < 1.5 * best.error && error <= PERF_GROWTH_ERROR_)
        best.rival = second;
    return best;
}

/* The least size above `low`; without one, `high`.  *left: how many sizes are above `low`. */
PERF_FN double perf_growth_next_(const perf_times_ *times, double low, double high, size_t *left)
{
    double next = high;
    size_t i;

    *left = 0;
    for (i = 0; i < times->count; i++) {
        if (!(times->n[i] > low))
            continue;
        ++*left;
        if (times->n[i] < next)
            next = times->n[i];
    }
    return next;
}

/* The law that fits best.  It needs 5 sizes that span a factor of 8, all positive: else "no fit"
 * with error 1.  Small sizes may hide the law (cost of a call, branches that are still predicted):
 * if no law fits within 5 %, the smallest size is left out, again and again, while 4 sizes and a
 * third of all remain.                                                                           */
PERF_FN perf_growth_ perf_growth_law_(const perf_times_ *times)
{
    perf_growth_ best = {"no fit", "no fit", PERF_NULL_, 0.0, 0.0, 1.0, 0.0}, law;
    double       next = 0.0, low, high = 0.0;
    size_t       i, left;

    for (i = 0; i < times->count; i++) {
        if (!perf_is_duration_(times->n[i]) || !perf_is_duration_(times->ns[i]))
            return best;
        if (times->n[i] > high)
            high = times->n[i];
    }
    do {
        low = next;                             /* only sizes above it are fitted                 */
        next = perf_growth_next_(times, low, high, &left);
        if (times->count < PERF_GROWTH_LEAST_ || high < PERF_GROWTH_SPAN_ * next)
            return best;
        if (left < 4 || 3 * left < times->count)
            return best;
        law = perf_growth_best_(times, next);
        if (low <= 0.0 || law.error <= PERF_GROWTH_GOOD_)
            best = law;
    } while (best.error > PERF_GROWTH_GOOD_);
    return best;
}

PERF_END_DECLS

#define PERF_MAIN_READY_ 1      /* not defined while the perf.h above includes this file again    */
#endif /* PERF_MAIN_H */

/* >>main: the program itself, in the file that asks for it ------------------------------------ */

#if defined(PERF_MAIN) && defined(PERF_MAIN_READY_) && !defined(PERF_MAIN_DONE_)
#define PERF_MAIN_DONE_ 1
#if PERF_MAIN

#include "perf_counters.h"
#include "perf_export.h"        /* and with it <stdio.h>, <stdlib.h> */
#if PERF_LP64_UNIX_ && !PERF_TCC_       /* glibc's <regex.h> does not compile with tcc            */
#include <regex.h>
#endif

PERF_BEGIN_DECLS

#define PERF_MAIN_FILTERS_ 64
#define PERF_MAIN_SIZES_   13
#define PERF_CASE_NAME_    1024     /* room for the name of an entry: longer than a loop keeps    */
#define PERF_MAIN_THREADS_ 256

typedef struct perf_main_ {
    const char *filter[PERF_MAIN_FILTERS_];     /* a name needs to match one of them              */
    size_t      filters;
    const char *program, *compare, *save, *add;
    const char *accept, *also;  /* the first and the second --accept; NULL: not given             */
    const char *output, *named; /* --output, --format                                             */
    int         format;         /* 1 + perf_export_format; 0: our own JSON                        */
    int         list, no_env, shuffle, profile, most_unchanged, strict, bad, counters;
    double      repeat, threads, again_after;
    perf_bench_opts opts;       /* of each measurement                                            */
    FILE       *out;            /* of the table; stderr if the results go to standard output      */
    size_t      todo, failed;
    int         round;          /* of --repeat, from 0                                            */
    uint32_t    process;        /* its id, which a forked child does not have                     */
    const char *context[2 * PERF_MAIN_FILTERS_ + 1];    /* key, value, ..., NULL                  */
    perf_results_opts with;     /* `context` and the lists below, for the writers                 */
    perf_rule   rule, second;   /* what `accept` and `also` say                                   */
    perf_baseline *first;       /* the comparison whose entries are measured again; NULL: none    */
    unsigned char *chosen;      /* by entry of `first`; 1: measure it again                       */
    const char **rejected, **undecided;         /* names of entries, then NULL                    */
    /* --accept-change: name, id of the first run of its new level ("": this run), ..., NULL      */
    const char *accepted[2 * PERF_MAIN_FILTERS_ + 1];
    char       *since[PERF_MAIN_FILTERS_];      /* owns those ids; NULL: this run                 */
    size_t      since_number[PERF_MAIN_FILTERS_];       /* of those runs, from 1                  */
    int         found[PERF_MAIN_FILTERS_];      /* how many comparisons have an answer of it      */
    int         over;           /* 1: a body has called exit(): nothing more is measured          */
} perf_main_;

/* Whose bodies run now, for one that calls exit(); NULL: none can. */
static perf_main_ *perf_main_now_;

typedef struct perf_sweep_ perf_sweep_;
typedef struct perf_crew_  perf_crew_;
typedef struct perf_hand_  perf_hand_;

/* Bodies from the whole to its parts. */
PERF_COLD_DECL_ int perf_main_begin_(perf_main_ *run, int argc, char **argv);
PERF_COLD_DECL_ void perf_main_usage_(const char *program);
PERF_COLD_DECL_ int perf_main_printed_(FILE *file);
PERF_COLD_DECL_ void perf_main_option_(perf_main_ *run, int argc, char **argv, int *at);
PERF_COLD_DECL_ int perf_main_flag_(perf_main_ *run, const char *word);
PERF_COLD_DECL_ int perf_main_text_(perf_main_ *run, int argc, char **argv, int *at);
PERF_COLD_DECL_ const char *perf_main_value_(const char *option, int argc, char **argv, int *i);
PERF_COLD_DECL_ void perf_main_wrong_(perf_main_ *run, const char *what, const char *value);
PERF_COLD_DECL_ int perf_main_number_(perf_main_ *run, int argc, char **argv, int *at);
PERF_COLD_DECL_ int perf_main_is_number_(const char *value, double most, int whole, double *x);
PERF_COLD_DECL_ void perf_main_context_(perf_main_ *run, char *key);
PERF_COLD_DECL_ void perf_main_accepts_(perf_main_ *run, const char *name);
PERF_COLD_DECL_ void perf_main_filter_(perf_main_ *run, const char *pattern);
PERF_COLD_DECL_ int perf_main_match_(const char *pattern, const char *name);
PERF_COLD_DECL_ void perf_main_settle_(perf_main_ *run);
PERF_COLD_DECL_ int perf_main_is_one_(const char *one, const char *other);
PERF_COLD_DECL_ uint64_t perf_main_folder_(const char *path, size_t n);
PERF_COLD_DECL_ int perf_main_usable_(const perf_main_ *run);
PERF_COLD_DECL_ int perf_main_format_(const char *name);
PERF_COLD_DECL_ void perf_main_rule_(perf_main_ *run, const char *text, perf_rule *rule);
PERF_COLD_DECL_ int perf_main_list_(const perf_main_ *run);
PERF_COLD_DECL_ int perf_main_lists_(const perf_main_ *run, const perf_case_ *entry);
PERF_COLD_DECL_ void perf_env_text_(perf_out_ *out);
PERF_COLD_DECL_ void perf_put_settings_(perf_out_ *out);
PERF_COLD_DECL_ void perf_main_try_counters_(perf_main_ *run);
PERF_COLD_DECL_ perf_counters perf_main_counters_(void);
PERF_OURS_ static void perf_main_exit_(void);
PERF_COLD_DECL_ void perf_main_cases_(perf_main_ *run, size_t rounds);
PERF_COLD_DECL_ void perf_main_shuffle_(void);
PERF_COLD_DECL_ void perf_main_case_(perf_main_ *run, const perf_case_ *entry);
PERF_COLD_DECL_ size_t perf_main_plan_(const perf_main_ *run, const perf_case_ *entry, double *n);
PERF_COLD_DECL_ size_t perf_main_sizes_(double low, double high, double *n);
PERF_COLD_DECL_ void perf_main_entry_(perf_main_ *run, const perf_case_ *entry, size_t i,
                                      double size, perf_sweep_ *sweep);
PERF_COLD_DECL_ void perf_put_entry_(perf_out_ *out, const perf_case_ *entry, size_t i,
                                     double size);
PERF_COLD_DECL_ void perf_put_case_(perf_out_ *out, const perf_case_ *entry);
PERF_COLD_DECL_ size_t perf_case_number_(const perf_case_ *entry);
PERF_COLD_DECL_ void perf_put_argument_(perf_out_ *out, int64_t value);
PERF_COLD_DECL_ int perf_main_takes_(const perf_main_ *run, const perf_case_ *of,
                                     const char *name);
PERF_COLD_DECL_ int perf_main_makes_(const perf_case_ *of, const char *name, const char *entry);
PERF_COLD_DECL_ int perf_main_wants_(const perf_main_ *run, const char *name);
PERF_COLD_DECL_ perf_result perf_main_one_(perf_main_ *run, const perf_case_ *entry,
                                           const char *name, size_t n, const int64_t *arg);
PERF_COLD_DECL_ perf_result perf_main_end_(perf_bench bench);
PERF_COLD_DECL_ void perf_main_row_(perf_main_ *run, const char *name, const perf_result *result,
                                    const perf_loop_state_ *state);
PERF_COLD_DECL_ void perf_main_growth_(const perf_main_ *run, const char *name,
                                       const perf_times_ *medians, const perf_times_ *fastest);
PERF_COLD_DECL_ void perf_put_growth_(perf_out_ *out, const perf_growth_ *law);
PERF_COLD_DECL_ void perf_main_nothing_(const perf_main_ *run);
PERF_COLD_DECL_ double perf_main_crew_(perf_main_ *run, const perf_case_ *entry, const char *name,
                                       size_t threads, perf_summary *time);
PERF_COLD_DECL_ size_t perf_crew_run_(perf_crew_ *crew, perf_hand_ *hand);
PERF_COLD_DECL_ perf_result perf_crew_merge_(const char *name, const perf_hand_ *hand,
                                             size_t threads, perf_loop_state_ **merged);
PERF_COLD_DECL_ perf_status perf_crew_status_(const perf_hand_ *hand, size_t threads,
                                              size_t *slices, perf_loop_state_ **failed);
PERF_COLD_DECL_ void perf_crew_add_(perf_loop_state_ *all, perf_result *sum,
                                    const perf_hand_ *hand);
PERF_COLD_DECL_ void perf_crew_rates_(perf_result *sum, const perf_hand_ *hand, size_t threads);
PERF_COLD_DECL_ double perf_hand_kept_(const perf_result *one, size_t threads);
PERF_COLD_DECL_ size_t perf_processors_(void);
PERF_COLD_DECL_ double perf_crew_speed_(const perf_hand_ *hand, size_t threads);
PERF_COLD_DECL_ void perf_main_scaling_(const perf_main_ *run, const perf_sweep_ *sweep);
PERF_COLD_DECL_ int perf_main_finish_(perf_main_ *run);
PERF_COLD_DECL_ int perf_main_files_(perf_main_ *run);
PERF_COLD_DECL_ int perf_main_compare_all_(perf_main_ *run);
PERF_COLD_DECL_ int perf_main_compare_(perf_main_ *run, const perf_rule *rule);
PERF_COLD_DECL_ void perf_main_unread_(const perf_main_ *run, const perf_baseline *baseline);
PERF_COLD_DECL_ void perf_main_again_(perf_main_ *run, perf_baseline *baseline,
                                      const perf_baseline_opts *opts);
PERF_COLD_DECL_ size_t perf_main_choose_(perf_main_ *run, const perf_baseline *baseline);
PERF_COLD_DECL_ int perf_main_doubts_(const perf_main_ *run, const perf_baseline_entry *entry);
PERF_COLD_DECL_ void perf_main_wait_(const perf_main_ *run);
PERF_COLD_DECL_ void perf_main_confirm_(const perf_baseline *first, perf_baseline *second);
PERF_COLD_DECL_ int perf_main_judged_(perf_main_ *run, const perf_baseline *baseline);
PERF_COLD_DECL_ int perf_main_is_rejected_(const perf_main_ *run,
                                           const perf_baseline_entry *entry);
PERF_COLD_DECL_ int perf_main_same_(const char *one, const char *other);
PERF_COLD_DECL_ size_t perf_main_accepted_(const perf_main_ *run, const char *name);
PERF_COLD_DECL_ int perf_main_accept_one_(perf_main_ *run, size_t at,
                                          const perf_baseline *baseline);
PERF_COLD_DECL_ size_t perf_main_open_(const perf_main_ *run, const perf_baseline *baseline);
PERF_COLD_DECL_ const char **perf_main_names_(const perf_main_ *run, const char **kept,
                                              const perf_baseline *baseline,
                                              int (*is)(const perf_main_ *,
                                                        const perf_baseline_entry *));
PERF_COLD_DECL_ int perf_main_is_undecided_(const perf_main_ *run,
                                            const perf_baseline_entry *entry);
PERF_COLD_DECL_ int perf_main_answered_(const perf_main_ *run, size_t at);
PERF_COLD_DECL_ void perf_main_accepted_say_(const perf_main_ *run);
PERF_COLD_DECL_ void perf_main_refuse_(perf_main_ *run);
PERF_COLD_DECL_ perf_status perf_main_output_(const perf_main_ *run);
PERF_COLD_DECL_ int perf_main_wrote_(const perf_main_ *run, const char *path, perf_status status);

PERF_END_DECLS

int main(int argc, char **argv)
{
    perf_main_ run = PERF_ZERO;
    char       text[512];
    perf_out_  out = perf_out_open_(text, sizeof text);
    int        result = perf_main_begin_(&run, argc, argv);

    if (result >= 0)
        return result;
    if (!run.no_env) {
        perf_env_text_(&out);
        (void)fprintf(run.out, "environment: %s\n", text);
    }
    if (run.counters)
        perf_main_try_counters_(&run);
    run.process = perf_process_id_();
    perf_main_now_ = &run;
    (void)atexit(perf_main_exit_);
    perf_main_cases_(&run, PERF_CAST_(size_t, run.repeat));
    if (!run.todo) {
        perf_main_now_ = PERF_CAST_(perf_main_ *, PERF_NULL_);
        perf_main_nothing_(&run);
        return 2;
    }
    return perf_main_finish_(&run);
}

PERF_BEGIN_DECLS

/* ---- options ---- */

/* Fills *run from the command line.  Returns -1: go on; else the exit status: --help or --list has
 * been answered, or a wrong option named.                                                        */
PERF_COLD_FN_ int perf_main_begin_(perf_main_ *run, int argc, char **argv)
{
    int i;

    run->program = "benchmarks";
    if (argc > 0 && argv[0])
        run->program = argv[0];
    run->repeat = 1;
    run->with.context = run->context;
    run->with.accepted = run->accepted;
    for (i = 1; i < argc && !run->bad; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            perf_main_usage_(run->program);
            return perf_main_printed_(stdout) ? 0 : 2;
        }
        perf_main_option_(run, argc, argv, &i);
    }
    if (!run->bad)
        perf_main_settle_(run);
    if (run->bad) {                             /* the message stays in sight: no list below it   */
        (void)fprintf(stderr, "usage: %s [OPTION...]: %s --help\n", run->program,
                      run->program);
        return 2;
    }
    run->out = stdout;
    if (run->output && !strcmp(run->output, "-"))
        run->out = stderr;
    if (run->list)
        return perf_main_list_(run);
    if (PERF_DISABLE) {
        (void)fprintf(stderr, "%s: %s\n", run->program, perf_status_text(PERF_EDISABLED));
        return 2;
    }
    return perf_main_usable_(run) ? -1 : 2;
}

PERF_COLD_FN_ void perf_main_usage_(const char *program)
{
    (void)printf("usage: %s [OPTION...]\n", program);
    (void)fputs(
        "  --filter TEXT      only benchmarks whose name, as --list or their row has it, contains\n"
        "                     TEXT; with any of ^$|()[]{}*+?. a regular expression; several: any\n"
        "  --list             print the names and end\n"
        "  --repeat N         measure each N times, in N rounds; default 1\n"
        "  --budget SECONDS   for one measurement at most; default 1\n"
        "  --min-time SECONDS for one measurement at least; default 0\n"
        "  --counters         also instructions, cycles, branches and branch misses\n"
        "  --shuffle          in each round another order, by chance\n"
        "  --threads N        this many threads instead of those of PERF_BENCH_THREADS\n"
        "  --profile          run each body once; on a GPU for ncu --profile-from-start off\n"
        "  --output FILE      write all results; - is standard output; also --json FILE\n"
        "  --format F         json, google, go, openmetrics; to a file also folded, flame\n"
        "  --save FILE        make FILE a baseline of this run alone\n"
        "  --add FILE         add this run to the baseline FILE; 6 runs make it usable\n"
        "  --compare FILE     hold this run against the baseline FILE\n"
        "  --accept RULE      for --compare; default \"no regression beyond 5 %\"; a second one\n"
        "                     joins: --accept \"instructions no more than 2 % worse\"\n"
        "  --accept-change X  with --compare and --add: what X takes now is normal; several\n"
        "  --most-unchanged   for --compare: take out what all have in common\n"
        "  --strict           for --compare: measure again what is open; 3 if it stays open\n"
        "  --again-after SECONDS  wait so long before each round that is measured again\n"
        "  --context K=VALUE  into the files, as a word about this run; may come several times\n"
        "  --no-env           no line about the environment\n"
        "  --help             this text\n"
        "exit status: 0 measured, no regression shown; 1 a regression beyond the rule;\n"
        "             2 wrong usage, a file that cannot be read or written, nothing measured;\n"
        "             3 with --strict: not decided\n", stdout);
}

/* 1: what was printed there has arrived. */
PERF_COLD_FN_ int perf_main_printed_(FILE *file)
{
    return !fflush(file) && !ferror(file);
}

PERF_COLD_FN_ void perf_main_option_(perf_main_ *run, int argc, char **argv, int *at)
{
    const char *value;

    if (perf_main_flag_(run, argv[*at]) || perf_main_text_(run, argc, argv, at) ||
        perf_main_number_(run, argc, argv, at))
        return;
    value = perf_main_value_("--context", argc, argv, at);
    if (value) {
        perf_main_context_(run, PERF_PTR_(char *, PERF_PTR_(uintptr_t, value)));
        return;
    }
    value = perf_main_value_("--accept-change", argc, argv, at);
    if (value) {
        perf_main_accepts_(run, value);
        return;
    }
    value = perf_main_value_("--filter", argc, argv, at);
    if (value)
        perf_main_filter_(run, value);
    else
        perf_main_wrong_(run, "unknown option", argv[*at]);
}

/* An option without a value; 1: it was one. */
PERF_COLD_FN_ int perf_main_flag_(perf_main_ *run, const char *word)
{
    const struct {
        const char *name;
        int        *to;
    } flag[] = {{"--list", &run->list},       {"--no-env", &run->no_env},
                {"--shuffle", &run->shuffle}, {"--profile", &run->profile},
                {"--most-unchanged", &run->most_unchanged}, {"--strict", &run->strict},
                  {"--counters", &run->counters}};
    size_t i;

    for (i = 0; i < sizeof flag / sizeof *flag; i++) {
        if (strcmp(word, flag[i].name) != 0)
            continue;
        *flag[i].to = 1;
        return 1;
    }
    return 0;
}

/* An option with a text; 1: it was one. */
PERF_COLD_FN_ int perf_main_text_(perf_main_ *run, int argc, char **argv, int *at)
{
    const struct {
        const char  *name, **to;
    } text[] = {{"--json", &run->output}, {"--output", &run->output},   {"--format", &run->named},
                {"--save", &run->save},   {"--add", &run->add},
                        {"--compare", &run->compare}, {"--accept", &run->accept}};
    size_t i;

    for (i = 0; i < sizeof text / sizeof *text; i++) {
        const char *value = perf_main_value_(text[i].name, argc, argv, at);
        if (!value)
            continue;
        if (text[i].to == &run->accept && run->accept) {
            if (run->also)
                perf_main_wrong_(run, "--accept: two rules at most, and this is a third:", value);
            run->also = value;
        } else {
            if (text[i].to == &run->output && run->output)
                perf_main_wrong_(run, "--output needs one file, not also", value);
            *text[i].to = value;
        }
        if (!*value)
            perf_main_wrong_(run, "this option needs a value:", text[i].name);
        return 1;
    }
    return 0;
}

/* The value of `option`, if argument *i is that: behind '=', or the next argument, to which *i then
 * moves; "": it is missing.  NULL: argument *i is another one.                                   */
PERF_COLD_FN_ const char *perf_main_value_(const char *option, int argc, char **argv, int *i)
{
    size_t n = strlen(option);

    if (strncmp(argv[*i], option, n) != 0 || (argv[*i][n] && argv[*i][n] != '='))
        return PERF_CAST_(const char *, PERF_NULL_);
    if (argv[*i][n] == '=')
        return argv[*i] + n + 1;
    return *i + 1 < argc ? argv[++*i] : "";
}

PERF_COLD_FN_ void perf_main_wrong_(perf_main_ *run, const char *what, const char *value)
{
    (void)fprintf(stderr, "%s: %s '%s'\n", run->program, what, value);
    run->bad = 1;
}

/* An option with a number; 1: it was one. */
PERF_COLD_FN_ int perf_main_number_(perf_main_ *run, int argc, char **argv, int *at)
{
    const struct {
        const char *name, *wants;
        double     *to, most;
        int         whole;
    } number[] = {{"--min-time", "--min-time needs seconds, not", &run->opts.min_seconds, 1e6, 0},
                  {"--budget", "--budget needs seconds, not", &run->opts.max_seconds, 1e6, 0},
                  {"--repeat", "--repeat needs a count, not", &run->repeat, 1e4, 1},
                  {"--again-after", "--again-after needs seconds, not", &run->again_after, 1e5, 0},
                  {"--threads", "--threads needs 1 .. 256, not", &run->threads, 256, 1}};
    double x = 0.0;
    size_t i;

    for (i = 0; i < sizeof number / sizeof *number; i++) {
        const char *value = perf_main_value_(number[i].name, argc, argv, at);
        if (!value)
            continue;
        if (!perf_main_is_number_(value, number[i].most, number[i].whole, &x))
            perf_main_wrong_(run, number[i].wants, value);
        *number[i].to = x;
        return 1;
    }
    return 0;
}

/* 1: it is a number above 0, at most `most`, and a whole one where asked for. */
PERF_COLD_FN_ int perf_main_is_number_(const char *value, double most, int whole, double *x)
{
    const char *end = perf_skip_number_(value, x);

    if (!end || *end || !(*x > 0.0) || *x > most)
        return 0;
    return !whole || !(PERF_CAST_(double, PERF_CAST_(uint64_t, *x)) < *x);
}

PERF_COLD_FN_ void perf_main_context_(perf_main_ *run, char *key)
{
    size_t n = strcspn(key, "="), i = 0;

    while (run->context[i] && (strncmp(run->context[i], key, n) || run->context[i][n]))
        i += 2;
    if (!n || !key[n] || i == 2 * PERF_MAIN_FILTERS_) {
        perf_main_wrong_(run, "--context needs KEY=VALUE, 64 at most, not", key);
        return;
    }
    key[n] = '\0';
    run->context[i] = key;
    run->context[i + 1] = key + n + 1;
}

/* Takes a name of --accept-change. */
PERF_COLD_FN_ void perf_main_accepts_(perf_main_ *run, const char *name)
{
    size_t i = 0;

    while (i < PERF_MAIN_FILTERS_ && run->accepted[2 * i])
        i++;
    if (!*name || i == PERF_MAIN_FILTERS_) {
        perf_main_wrong_(run, "--accept-change needs a benchmark, 64 at most, not", name);
        return;
    }
    run->accepted[2 * i] = name;
    run->accepted[2 * i + 1] = "";
}

PERF_COLD_FN_ void perf_main_filter_(perf_main_ *run, const char *pattern)
{
    if (!*pattern || run->filters == PERF_MAIN_FILTERS_ || perf_main_match_(pattern, "") < 0)
        perf_main_wrong_(run, "--filter needs a text or a pattern, 64 at most, not", pattern);
    else
        run->filter[run->filters++] = pattern;
}

/* 1: the name contains the pattern or, if that has one of ^$|()[]{}*+?.\, matches it as a POSIX
 * regular expression.  0: not.  -1: not a valid one, or this system has no such expressions.     */
PERF_COLD_FN_ int perf_main_match_(const char *pattern, const char *name)
{
    if (!pattern[strcspn(pattern, "^$|()[]{}*+?.\\")])
        return strstr(name, pattern) != PERF_NULL_;
#if PERF_LP64_UNIX_ && !PERF_TCC_
    {
        regex_t regex;
        int     found;

        if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
            return -1;
        found = !regexec(&regex, name, 0, PERF_NULL_, 0);
        regfree(&regex);
        return found;
    }
#else
    return -1;
#endif
}

/* Checks options that depend on each other. */
PERF_COLD_FN_ void perf_main_settle_(perf_main_ *run)
{
    if (run->named && !run->output)
        perf_main_wrong_(run, "--format needs --output FILE, too, not only", run->named);
    run->format = perf_main_format_(run->named);
    if (run->format < 0)
        perf_main_wrong_(run, "--format does not know", run->named);
    if ((run->strict || run->again_after > 0.0) && !run->compare)
        perf_main_wrong_(run, "--strict and --again-after need the option", "--compare");
    if (run->accepted[0] && !perf_main_is_one_(run->compare, run->add))
        perf_main_wrong_(run, "--accept-change needs --compare and --add of one file, for",
                         run->accepted[0]);
    if (perf_main_is_one_(run->output, run->compare) ||
        perf_main_is_one_(run->output, run->add) || perf_main_is_one_(run->output, run->save))
        perf_main_wrong_(run, "--output needs another file than --compare, --add and --save, not",
                         run->output);
    if (perf_main_is_one_(run->save, run->add))
        perf_main_wrong_(run, "--save needs another file than --add, not", run->save);
    if (run->profile && (run->add || run->save))
        perf_main_wrong_(run, "--profile measures nothing that could go into the baseline",
                         run->add ? run->add : run->save);
    perf_main_rule_(run, run->accept, &run->rule);
    perf_main_rule_(run, run->also, &run->second);
    if (run->rule.metric >= PERF_METRIC_INSTRUCTIONS ||
        run->second.metric >= PERF_METRIC_INSTRUCTIONS)
        run->counters = 1;
}

/* 1: two paths, of which none is NULL, are one file or will be: links are what they name. */
PERF_COLD_FN_ int perf_main_is_one_(const char *one, const char *other)
{
    const char *const path[2] = {one, other}, *name[2];
    uint64_t          file[2], folder[2];
    int               i;

    if (!one || !other || !strcmp(one, other))
        return one && other;
    for (i = 0; i < 2; i++) {
        file[i] = perf_file_inode_(path[i]);
        name[i] = strrchr(path[i], '/') ? strrchr(path[i], '/') + 1 : path[i];
        folder[i] = perf_main_folder_(path[i], PERF_CAST_(size_t, name[i] - path[i]));
    }
    if (file[0] || file[1])
        return file[0] == file[1];
    return folder[0] && folder[0] == folder[1] && !strcmp(name[0], name[1]);
}

/* What perf_file_inode_ says of the folder whose name is the first n bytes, "": this one. */
PERF_COLD_FN_ uint64_t perf_main_folder_(const char *path, size_t n)
{
    char    *name = PERF_CAST_(char *, PERF_MALLOC(n + 2));
    uint64_t folder = 0;

    if (name) {
        memcpy(PERF_CAST_(char *, memcpy(name, path, n)) + n, ".", 2);
        folder = perf_file_inode_(name);
    }
    PERF_FREE(name);
    return folder;
}

/* Looks at the files of --compare, --add and --save before minutes are measured in vain.  0, with a
 * message: --compare cannot read its file, or the others would leave it as it is.  A file that they
 * make is not there at first, and a damaged one they move away: then --compare may name it.      */
PERF_COLD_FN_ int perf_main_usable_(const perf_main_ *run)
{
    const char *const  to[] = {run->add, run->save};
    perf_baseline_opts opts = PERF_ZERO;
    perf_baseline      baseline;
    perf_status        status;
    int                i;

    opts.accept.rule = run->rule;
    if (run->compare) {
        baseline = perf_baseline_check(run->compare, &opts);
        status = baseline.status;
        if ((status == PERF_ENODATA || status == PERF_EFORMAT || status == PERF_ERANGE) &&
            (perf_main_is_one_(run->compare, run->add) ||
             perf_main_is_one_(run->compare, run->save)))
            status = PERF_OK;
        if (status != PERF_OK)
            perf_main_unread_(run, &baseline);
        perf_baseline_free(&baseline);
        if (status != PERF_OK)
            return 0;
    }
    for (i = 0; i < 2; i++) {
        if (!to[i] || perf_main_is_one_(to[i], run->compare))   /* that was read above            */
            continue;
        baseline = perf_baseline_check(to[i], &opts);
        status = baseline.status;
        perf_baseline_free(&baseline);
        if ((status == PERF_EFOREIGN || status == PERF_ELIMIT) &&
            !perf_main_wrote_(run, to[i], status))
            return 0;
    }
    return 1;
}

/* The format of that name: 0 json (or NULL), else 1 + perf_export_format; -1: there is none. */
PERF_COLD_FN_ int perf_main_format_(const char *name)
{
    int format;

    if (!name || !strcmp(name, "json"))
        return 0;
    for (format = 0; format < PERF_EXPORT_FORMATS_; format++)
        if (!strcmp(perf_export_row_of_(PERF_CAST_(perf_export_format, format)).name, name))
            return format + 1;
    return -1;
}

/* Reads a rule of --accept; NULL: none was given. */
PERF_COLD_FN_ void perf_main_rule_(perf_main_ *run, const char *text, perf_rule *rule)
{
    if (text && perf_rule_parse(text, rule) != PERF_OK)
        perf_main_wrong_(run, "--accept does not understand", text);
    else if (rule->memory || rule->metric == PERF_METRIC_MEMORY ||
             rule->metric == PERF_METRIC_THROUGHPUT)
        perf_main_wrong_(run, "--accept: benchmarks measure time and counts, not", text);
}

/* Prints what --list asks for; returns the exit status. */
PERF_COLD_FN_ int perf_main_list_(const perf_main_ *run)
{
    char              text[PERF_CASE_NAME_];
    const perf_case_ *entry;

    for (entry = perf_cases_v1_; entry; entry = entry->next) {
        perf_out_ out = perf_out_open_(text, sizeof text);
        if (!perf_main_lists_(run, entry))
            continue;
        perf_put_case_(&out, entry);
        (void)printf("%s\n", text);
    }
    return perf_main_printed_(stdout) ? 0 : 2;
}

/* 1: the case, or an entry of it, would be measured. */
PERF_COLD_FN_ int perf_main_lists_(const perf_main_ *run, const perf_case_ *entry)
{
    char         name[PERF_CASE_NAME_];
    double       n[PERF_MAIN_SIZES_];
    const size_t count = perf_main_plan_(run, entry, n);
    size_t       i;

    for (i = 0; i < count; i++) {
        perf_out_ out = perf_out_open_(name, sizeof name);
        perf_put_entry_(&out, entry, i, n[entry->arg ? 0 : i]);
        if (perf_main_wants_(run, name))
            return 1;
    }
    return perf_main_wants_(run, entry->name);
}

/* ---- the environment in one line ---- */

PERF_COLD_FN_ void perf_env_text_(perf_out_ *out)
{
    const perf_results_opts none = PERF_ZERO;
    const perf_run_         run = perf_run_here_(&none);
    int                     cores = run.cores;

    if (cores < 1)
        cores = 1;
    perf_putf_(out, "%.0f x %.40s", PERF_CAST_(double, cores), run.cpu);
    perf_put_settings_(out);
    if (run.hypervisor)
        perf_put_(out, ", virtual machine");
    if (run.load >= 0.0) {
        perf_putf_(out, ", load %.1f", run.load);
        if (run.cores && run.load > 0.5 * run.cores)
            perf_put_(out, " (busy)");
    }
    perf_put_(out, ", ");
    perf_put_(out, run.compiler);
#if !defined(__OPTIMIZE__)
    perf_put_(out, ", NOT OPTIMISED");
#endif
#if PERF_SANITIZED_
    perf_put_(out, ", WITH A SANITIZER");
#endif
}

/* ", governor powersave", ", turbo off" ...: what Linux tells of the processor's settings. */
PERF_COLD_FN_ void perf_put_settings_(perf_out_ *out)
{
    static const struct {
        const char *path, *what;
        char        off;        /* how a file begins that says no; 0: it has a word               */
    } file[] = {{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "governor", 0},
                {"/sys/devices/system/cpu/intel_pstate/no_turbo", "turbo", '1'},
                {"/sys/devices/system/cpu/cpufreq/boost", "turbo", '0'},
                {"/proc/sys/kernel/randomize_va_space", "ASLR", '0'}};
    char   line[256];
    size_t i;

    for (i = 0; i < sizeof file / sizeof *file; i++) {
        const char *word = line;
        if (!perf_first_line_(file[i].path, line, sizeof line))
            continue;
        if (file[i].off && *line == file[i].off)
            word = "off";
        else if (file[i].off)
            word = "on";
        perf_putf_(out, ", %s %.20s", file[i].what, word);
    }
}

/* ---- counters of the processor ---- */

/* Says once which are missing, and why.  If none counts, no entry tries again. */
PERF_COLD_FN_ void perf_main_try_counters_(perf_main_ *run)
{
    perf_counters counters = perf_main_counters_();
    const char   *missing;

    (void)perf_counters_start(&counters);
    (void)perf_counters_stop(&counters);
    missing = strstr(perf_counters_text(&counters), "no ");
    if (missing)
        (void)fprintf(run->out, "counters: %s\n", missing);
    run->counters = counters.status == PERF_OK;
    perf_counters_close(&counters);
}

/* Opens those of this thread; the caller closes them. */
PERF_COLD_FN_ perf_counters perf_main_counters_(void)
{
    perf_counters_opts opts = PERF_ZERO;

    opts.which = 1u << PERF_COUNTER_INSTRUCTIONS | 1u << PERF_COUNTER_CYCLES |
                 1u << PERF_COUNTER_BRANCHES | 1u << PERF_COUNTER_BRANCH_MISSES;
    return perf_counters_open(&opts);
}

/* ---- a body that calls exit() ---- */

/* The exit status of a program whose body has called exit(); 0: the body's own. */
static int perf_main_status_;

/* For a body that calls exit(): what was measured until then is not lost. */
PERF_OURS_ static void perf_main_exit_(void)
{
    perf_main_ *run = perf_main_now_;

    if (!run || run->process != perf_process_id_()) /* in a child that a body has forked          */
        return;
    perf_main_now_ = PERF_CAST_(perf_main_ *, PERF_NULL_);
    run->over = 1;
    (void)fprintf(stderr, "%s: a benchmark called exit(): what was measured before is kept\n",
                  run->program);
    perf_main_status_ = perf_main_finish_(run);
}

#if defined(__GNUC__)
/* A body's exit(0) does not hide a REJECT or a failure; nor does a number of its own, which ours
 * replaces.  Nobody may call exit() twice: this runs last, behind the report (PERF_AT_EXIT), and
 * ends the program.                                                                              */
PERF_ATTR_((__destructor__(101), __used__)) PERF_OURS_ static void perf_main_leave_(void)
{
    if (!perf_main_status_)
        return;
    (void)fflush(PERF_CAST_(FILE *, PERF_NULL_));
    _Exit(perf_main_status_);
}
#endif

/* ---- running ---- */

/* Measures all cases `rounds` times.  Loops are held: perf_reset() in a body frees none. */
PERF_COLD_FN_ void perf_main_cases_(perf_main_ *run, size_t rounds)
{
    perf_registry_ *reg = perf_registry_get_();
    const int       held = reg && perf_loops_hold_(reg);
    perf_case_     *entry;
    size_t          i;

    for (i = 0; i < rounds; i++, run->round++) {
        if (run->shuffle || run->first)
            perf_main_shuffle_();
        for (entry = perf_cases_v1_; entry; entry = entry->next)
            perf_main_case_(run, entry);
    }
    if (held)
        perf_loops_let_(reg);
}

/* Shuffles the list: inserts each case at a random place among those before it. */
PERF_COLD_FN_ void perf_main_shuffle_(void)
{
    uint64_t    dice = perf_now() | 1, n = 0, k;
    perf_case_ *entry = perf_cases_v1_, *next, **at;

    perf_cases_v1_ = PERF_CAST_(perf_case_ *, PERF_NULL_);
    for (; entry; entry = next) {
        next = entry->next;
        k = (perf_random_(&dice) >> 32) * ++n >> 32;
        for (at = &perf_cases_v1_; k--; at = &(*at)->next)
            ;
        entry->next = *at;
        *at = entry;
    }
}

/* What a sweep has found so far, by size or number of threads. */
struct perf_sweep_ {
    double       size[PERF_MAIN_SIZES_], median[PERF_MAIN_SIZES_], fastest[PERF_MAIN_SIZES_];
    double       speed[PERF_MAIN_SIZES_];       /* iterations per second of all threads           */
    perf_summary time[PERF_MAIN_SIZES_];        /* of an iteration                                */
    size_t       count;
};

/* Measures the entries of a case one after another (perf_main_entry_), then prints what a sweep of
 * sizes or threads shows.  It needs memory, without which the case has failed.                   */
PERF_COLD_FN_ void perf_main_case_(perf_main_ *run, const perf_case_ *entry)
{
    double       n[PERF_MAIN_SIZES_];
    perf_times_  medians, fastest;
    size_t       i, count = perf_main_plan_(run, entry, n);
    perf_sweep_ *sweep = PERF_CAST_(perf_sweep_ *, PERF_MALLOC(sizeof *sweep));

    if (!sweep) {
        (void)fprintf(run->out, "%s  not measured: %s\n", entry->name,
                      perf_status_text(PERF_ENOMEM));
        run->failed++;
        return;
    }
    sweep->count = 0;
    if (!count && !run->first && perf_main_wants_(run, entry->name)) {
        (void)fprintf(run->out,
                      "%s  not measured: PERF_BENCH_THREADS begins at 1 thread, not at 0\n",
                      entry->name);
        run->todo++;
        run->failed++;
    }
    for (i = 0; i < count; i++)
        perf_main_entry_(run, entry, i, n[entry->arg ? 0 : i], sweep);
    if (entry->kind == 't' && sweep->count &&
        (entry->low > PERF_MAIN_THREADS_ || entry->high > PERF_MAIN_THREADS_))
        (void)fprintf(run->out, "  %s: no more than %d threads are measured\n", entry->name,
                      PERF_MAIN_THREADS_);
    medians.n = fastest.n = sweep->size;
    medians.ns = sweep->median;
    fastest.ns = sweep->fastest;
    medians.count = fastest.count = sweep->count;
    if (entry->kind == 'n' && sweep->count >= PERF_GROWTH_LEAST_)
        perf_main_growth_(run, entry->name, &medians, &fastest);
    else if (entry->kind == 't' && sweep->count > 1)
        perf_main_scaling_(run, sweep);
    PERF_FREE(sweep);
}

/* Returns how many entries the case has, n[]: its sizes or numbers of threads.  0: it begins at 0
 * threads.                                                                                       */
PERF_COLD_FN_ size_t perf_main_plan_(const perf_main_ *run, const perf_case_ *entry, double *n)
{
    double low = PERF_CAST_(double, entry->low), high = PERF_CAST_(double, entry->high);

    n[0] = 0.0;
    if (entry->kind == 'a')
        return entry->high;
    if (entry->kind == 'b')
        return 1;
    if (high < low) {
        low = high;
        high = PERF_CAST_(double, entry->low);
    }
    if (entry->kind == 'n')
        return perf_main_sizes_(low, high, n);
    if (run->threads > 0.0) {
        n[0] = run->threads;
        return 1;
    }
    if (low < 1.0)
        return 0;
    if (low > PERF_MAIN_THREADS_)
        low = PERF_MAIN_THREADS_;
    if (high > PERF_MAIN_THREADS_)
        high = PERF_MAIN_THREADS_;
    return perf_main_sizes_(low, high, n);
}

/* Fills n with at most 12 sizes low .. high and returns how many.  Each is the one before times a
 * power of two, the smallest that is enough.  A `low` of 0 gives the sizes 0, 1, ...             */
PERF_COLD_FN_ size_t perf_main_sizes_(double low, double high, double *n)
{
    const size_t most = PERF_MAIN_SIZES_ - 1;
    double       factor = 2.0, size;
    size_t       count, zero = 0;

    if (low < 1.0) {
        n[0] = 0.0;
        zero = 1;
        low = 1.0;
    }
    do {
        count = zero;
        for (size = low; size <= high && count <= most; size *= factor)
            n[count++] = size;
        factor *= 2.0;
    } while (count > most);
    return count;
}

/* Measures one entry of a case; what a table or a law needs of it goes to *sweep. */
PERF_COLD_FN_ void perf_main_entry_(perf_main_ *run, const perf_case_ *entry, size_t i, double size,
                                    perf_sweep_ *sweep)
{
    char                name[PERF_CASE_NAME_];
    perf_out_           out = perf_out_open_(name, sizeof name);
    const int64_t      *arg = entry->arg;
    const size_t        number = PERF_CAST_(size_t, size), at = sweep->count;
    perf_result         result;
    const perf_summary *second;

    if (arg)
        arg += i * entry->low;
    perf_put_entry_(&out, entry, i, size);
    if (!perf_main_takes_(run, entry, name))
        return;
    if (!run->todo++ && !run->profile)
        (void)fputs("benchmark                                  median [95 % interval]"
                    "       p95       p99     first\n", run->out);
    if (entry->kind == 't' && !run->profile) {
        sweep->size[at] = size;
        sweep->speed[at] = perf_main_crew_(run, entry, name, number, &sweep->time[at]);
        sweep->count += sweep->speed[at] > 0.0;
        return;
    }
    result = perf_main_one_(run, entry, name, number, arg);
    if (entry->kind != 'n' || !result.time.count || !(size > 0.0))
        return;
    second = perf_result_main_(&result);
    sweep->size[at] = size;
    sweep->median[at] = second->p50;
    sweep->fastest[at] = second->min;
    sweep->count++;
}

/* "name/4096/8", "name/64", "name/threads:2": entry i; size: its size or number of threads. */
PERF_COLD_FN_ void perf_put_entry_(perf_out_ *out, const perf_case_ *entry, size_t i, double size)
{
    size_t k;

    perf_put_case_(out, entry);
    for (k = 0; entry->arg && k < entry->low; k++) {
        perf_put_char_(out, '/');
        perf_put_argument_(out, entry->arg[i * entry->low + k]);
    }
    if (entry->kind == 'n')
        perf_put_char_(out, '/');
    else if (entry->kind == 't')
        perf_put_(out, "/threads:");
    if (entry->kind == 'n' || entry->kind == 't')
        perf_put_u64_(out, PERF_CAST_(uint64_t, size));
}

/* "copy", or "copy (2)" if another file of the program has a benchmark of that name, too. */
PERF_COLD_FN_ void perf_put_case_(perf_out_ *out, const perf_case_ *entry)
{
    size_t number = perf_case_number_(entry);

    perf_put_(out, entry->name);
    if (number > 1)
        perf_putf_(out, " (%.0f)", PERF_CAST_(double, number));
}

/* The number of this case among those of its name, in the order of their files and lines: 1, 2. */
PERF_COLD_FN_ size_t perf_case_number_(const perf_case_ *entry)
{
    const perf_case_ *other;
    size_t            number = 1;

    for (other = perf_cases_v1_; other; other = other->next) {
        int order = strcmp(other->file, entry->file);
        if (other != entry && !strcmp(other->name, entry->name) &&
            (order < 0 || (order == 0 && other->line < entry->line)))
            number++;
    }
    return number;
}

PERF_COLD_FN_ void perf_put_argument_(perf_out_ *out, int64_t value)
{
    uint64_t size = PERF_CAST_(uint64_t, value);

    if (value < 0) {
        perf_put_char_(out, '-');
        size = 0 - size;
    }
    perf_put_u64_(out, size);
}

/* 1: the entry `name` of the case `of` is to be measured in this round: a filter matches one of the
 * names, or there is none.  When entries are measured again: the chosen ones, each time counted. */
PERF_COLD_FN_ int perf_main_takes_(const perf_main_ *run, const perf_case_ *of,
                                   const char *name)
{
    size_t i;
    int    chosen = 0;

    if (!run->first)
        return perf_main_wants_(run, of->name) || perf_main_wants_(run, name);
    for (i = 0; i < run->first->entries; i++) {
        perf_baseline_entry *entry = &run->first->entry[i];
        if (!run->chosen[i] || !perf_main_makes_(of, name, entry->name))
            continue;
        entry->again++;
        chosen = 1;
    }
    return chosen;
}

/* 1: measuring `name` of the case `of` makes that entry of a baseline: its name is what is kept of
 * `name`, with threads also followed by " #0", " #1", ...                                        */
PERF_COLD_FN_ int perf_main_makes_(const perf_case_ *of, const char *name, const char *entry)
{
    const size_t length = perf_name_length_(name);
    const char  *rest;

    if (strncmp(entry, name, length) != 0)
        return 0;
    rest = entry + length;
    if (of->kind == 't' && !strncmp(rest, " #", 2))
        rest += 2 + strspn(rest + 2, "0123456789");
    return !*rest;
}

PERF_COLD_FN_ int perf_main_wants_(const perf_main_ *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->filters && perf_main_match_(run->filter[i], name) <= 0; i++)
        continue;
    return !run->filters || i < run->filters;
}

/* Measures one entry on this thread, prints its row, and leaves its loop in the registry, from
 * where files and comparisons take it.  n: its size, or 0; arg: its numbers, or NULL.            */
PERF_COLD_FN_ perf_result perf_main_one_(perf_main_ *run, const perf_case_ *entry, const char *name,
                                         size_t n, const int64_t *arg)
{
    perf_bench    bench = {1, 0, PERF_NULL_, PERF_NULL_, 0};    /* one iteration                  */
    perf_result   result = PERF_ZERO;
    perf_counters counters = PERF_ZERO;

    if (entry->kind == 't')
        n = 0;                                  /* the thread's number                            */
    if (run->profile) {
        entry->run(bench, n, 1, arg);
        (void)fprintf(run->out, "%s ran once\n", name);
        return result;
    }
    bench = perf_bench_begin(name, &run->opts);
    if (perf_loop_kind_(bench.state))
        bench.state->loop.round = run->round;
    if (run->counters) {
        counters = perf_main_counters_();
        (void)perf_counters_loop(&counters, &bench);
    }
    entry->run(bench, n, 1, arg);
    result = perf_main_end_(bench);
    perf_counters_close(&counters);
    perf_main_row_(run, name, &result, bench.state);
    return result;
}

/* The result.  The body got the loop by value, and may have ended it. */
PERF_COLD_FN_ perf_result perf_main_end_(perf_bench bench)
{
    const perf_loop_state_ *state = bench.state;

    if (perf_loop_kind_(state) && PERF_ACQ_(&state->loop.done))
        return state->result;
    bench.left = -1;                            /* only the body's copy knows                     */
    return perf_bench_end(&bench);
}

/* A row, as in the report, without its margin. */
PERF_COLD_FN_ void perf_main_row_(perf_main_ *run, const char *name, const perf_result *result,
                                  const perf_loop_state_ *state)
{
    char       text[8192];
    perf_kept_loop_ loop = PERF_ZERO;
    perf_out_  out = perf_out_open_(loop.name, sizeof loop.name);

    if (perf_loop_kind_(state))
        loop = state->loop;                     /* for its note and its counters                  */
    perf_put_(&out, name);
    loop.result = result;
    loop.kind = PERF_LOOP_BENCH_;
    loop.done = 1;
    out = perf_out_open_(text, sizeof text);
    perf_put_loop_(&out, &loop);
    (void)fputs(text + 2, run->out);
    if (!result->time.count)
        run->failed++;
    (void)fflush(run->out);
}

/* Prints how the times of a sweep grow: the medians or the fastest slices, whichever fit better.
 * Other programs raise medians; a change of the processor's speed makes single slices fast.      */
PERF_COLD_FN_ void perf_main_growth_(const perf_main_ *run, const char *name,
                                     const perf_times_ *medians, const perf_times_ *fastest)
{
    const perf_growth_ by_median = perf_growth_law_(medians);
    perf_growth_       law = perf_growth_law_(fastest);
    char               text[200];
    perf_out_          out = perf_out_open_(text, sizeof text);

    if (!(law.error < by_median.error))
        law = by_median;
    perf_putf_(&out, "  %.60s: %s", name, law.name);
    if (law.from > medians->n[0])
        perf_putf_(&out, " from %.0f on", law.from);
    perf_put_growth_(&out, &law);
    perf_put_char_(&out, '\n');
    (void)fputs(text, run->out);
}

/* How well a law fits, behind its name. */
PERF_COLD_FN_ void perf_put_growth_(perf_out_ *out, const perf_growth_ *law)
{
    if (law->rival)
        perf_putf_(out, " or %s: these sizes cannot tell", law->rival);
    else if (law->error >= 1.0)
        perf_put_(out, ": the sizes lie within a factor of 8");
    else if (law->name == law->closest)
        perf_putf_(out, ", off by %.0f %%", 100.0 * law->error);
    else
        perf_putf_(out, "; the closest, %s, is off by %.0f %%", law->closest, 100.0 * law->error);
}

/* Says that nothing was measured, and why. */
PERF_COLD_FN_ void perf_main_nothing_(const perf_main_ *run)
{
    if (run->filters)
        (void)fprintf(stderr, "%s: no benchmark is called like %s\n", run->program, run->filter[0]);
    else
        (void)fprintf(stderr, "%s: no benchmark in this program\n", run->program);
}

/* ---- several threads ---- */

#if (PERF_LP64_UNIX_ || (defined(__linux__) && !defined(__x86_64__))) && !PERF_TCC_
#define PERF_PTHREAD_ 1
/* In the C library since glibc 2.34 and always in musl's and Apple's: no -lpthread.  Elsewhere the
 * functions are weak, and without them threads are refused with a sentence.                      */
#if defined(__APPLE__) || (defined(__linux__) && !defined(__GLIBC__)) ||                          \
    (defined(__GLIBC__) && __GLIBC_MINOR__ >= 34)
#define PERF_PTHREAD_ATTR_
#define PERF_PTHREAD_THERE_ 1
#else
#define PERF_PTHREAD_ATTR_  PERF_ATTR_((__weak__))
#define PERF_PTHREAD_THERE_ (perf_pthread_create_ && perf_pthread_join_)
#endif
extern PERF_PTHREAD_ATTR_ int perf_pthread_create_(void **, const void *, void *(*)(void *), void *)
    __asm__(PERF_SYM_("pthread_create"));
extern PERF_PTHREAD_ATTR_ int perf_pthread_join_(void *, void **)
    __asm__(PERF_SYM_("pthread_join"));
#else
#define PERF_PTHREAD_ 0
#endif

/* The threads that measure one entry at once. */
struct perf_crew_ {
    const perf_case_      *entry;
    const perf_bench_opts *opts;
    const char            *name;
    size_t                 threads;
    uint32_t               ready;       /* how many threads have started                          */
    uint32_t               go;          /* 0 wait, 1 run, 2 give up                               */
    int                    round;       /* of --repeat                                            */
};

/* One of them. */
struct perf_hand_ {
    perf_crew_        *crew;
    size_t             number;
    void              *thread;
    perf_loop_state_  *state;
    perf_result        result;
};

/* Measures on that many threads; returns their iterations per second, 0: not measured.  *time: of
 * an iteration on one of them.                                                                   */
PERF_COLD_FN_ double perf_main_crew_(perf_main_ *run, const perf_case_ *entry, const char *name,
                                     size_t threads, perf_summary *time)
{
    perf_bench_opts opts = run->opts;
    perf_crew_      crew = {entry, &opts, name, threads, 0, 0, run->round};
    double          speed = 0.0;
    perf_hand_     *hand = PERF_CAST_(perf_hand_ *, PERF_MALLOC(threads * sizeof *hand));
    perf_loop_state_ *state = PERF_CAST_(perf_loop_state_ *, PERF_NULL_);
    perf_result     result;
    size_t          i;
    char            one[40];

    opts.samples = 1000000;                     /* every thread runs until the budget ends        */
    if (!(opts.max_seconds > 0.0))
        opts.max_seconds = 0.5;
    if (hand)
        memset(hand, 0, threads * sizeof *hand);
    if (hand && perf_crew_run_(&crew, hand) == threads) {
        result = perf_crew_merge_(name, hand, threads, &state);
        if (state && result.status == PERF_OK && run->counters)
            state->loop.note = "not counted: several threads run it";
        perf_main_row_(run, name, &result, state);
        if (result.time.count) {
            *time = result.time;
            speed = perf_crew_speed_(hand, threads);
        }
        for (i = 0; i < threads && threads > 1; i++) {
            perf_out_ out = perf_out_open_(one, sizeof one);
            perf_put_(&out, "  thread ");
            perf_put_u64_(&out, i);
            perf_main_row_(run, one, &hand[i].result, hand[i].state);
        }
    } else {
        (void)fprintf(run->out, "%s  not measured: no threads to be had (older C libraries: link "
                                "with -lpthread)\n", name);
        run->failed++;
    }
    PERF_FREE(hand);
    return speed;
}

#if PERF_PTHREAD_
PERF_COLD_FN_ void *perf_hand_run_(void *with)
{
    perf_hand_ *hand = PERF_CAST_(perf_hand_ *, with);
    perf_crew_ *crew = hand->crew;
    perf_bench  bench;
    char        name[PERF_CASE_NAME_ + 24];
    perf_out_   out = perf_out_open_(name, sizeof name);

    perf_put_(&out, crew->name);
    perf_put_(&out, " #");
    perf_put_u64_(&out, hand->number);
    (void)__atomic_add_fetch(&crew->ready, 1u, __ATOMIC_ACQ_REL);
    while (!PERF_ACQ_(&crew->go))               /* all begin within one turn of this loop         */
        (void)perf_sched_yield_();
    if (PERF_ACQ_(&crew->go) == 2u)
        return PERF_NULL_;
    bench = perf_bench_begin(name, crew->opts);
    if (perf_loop_kind_(bench.state)) {
        hand->state = bench.state;
        hand->state->loop.round = crew->round;
    }
    crew->entry->run(bench, hand->number, crew->threads, PERF_NULL_);
    hand->result = perf_main_end_(bench);
    return PERF_NULL_;
}

/* Starts all threads, waits for all.  If not all can start, none of them measures. */
PERF_COLD_FN_ size_t perf_crew_run_(perf_crew_ *crew, perf_hand_ *hand)
{
    size_t i, made = 0;

    if (!PERF_PTHREAD_THERE_)
        return 0;
    for (; made < crew->threads; made++) {
        hand[made].crew = crew;
        hand[made].number = made;
        if (perf_pthread_create_(&hand[made].thread, PERF_NULL_, perf_hand_run_, &hand[made]) != 0)
            break;
    }
    while (PERF_ACQ_(&crew->ready) < made)
        (void)perf_sched_yield_();
    if (made == crew->threads)
        PERF_REL_(&crew->go, 1u);
    else
        PERF_REL_(&crew->go, 2u);
    for (i = 0; i < made; i++)
        (void)perf_pthread_join_(hand[i].thread, PERF_CAST_(void **, PERF_NULL_));
    return made;
}
#else
PERF_COLD_FN_ size_t perf_crew_run_(perf_crew_ *crew, perf_hand_ *hand)
{
    (void)crew;
    (void)hand;
    return 0;
}
#endif

/* All slices of all threads as one result, which the report and the files then have as well.
 * *merged: its loop, or the one that failed.                                                     */
PERF_COLD_FN_ perf_result perf_crew_merge_(const char *name, const perf_hand_ *hand, size_t threads,
                                           perf_loop_state_ **merged)
{
    perf_result       sum = hand[0].result;
    perf_loop_state_ *all;
    size_t            i, slices;

    sum.status = perf_crew_status_(hand, threads, &slices, merged);
    memset(&sum.time, 0, sizeof sum.time);
    memset(&sum.cpu, 0, sizeof sum.cpu);
    sum.decides = PERF_DECIDES_WALL;
    sum.iterations = 0;
    sum.first_ns = 0.0;
    if (sum.status != PERF_OK)
        return sum;
    all = *merged = perf_loop_pages_(name, PERF_LOOP_BENCH_, 1, slices + 1, 0);
    if (!all) {
        sum.status = PERF_ENOMEM;
        return sum;
    }
    for (i = 0; i < threads; i++)
        perf_crew_add_(all, &sum, &hand[i]);
    /* Thread by thread, so that slices of one thread, which are alike, count as neighbours. */
    sum.time = perf_summarize_series_(all->arm->ns, all->arm->count);
    perf_crew_rates_(&sum, hand, threads);
    all->loop.threads = PERF_CAST_(int, threads);
    all->loop.round = hand[0].crew->round;
    all->result = sum;
    perf_loop_done_(all, &all->result);
    return sum;
}

/* The first failure of a thread, with its loop; PERF_OK: there is none.  *slices: of all. */
PERF_COLD_FN_ perf_status perf_crew_status_(const perf_hand_ *hand, size_t threads, size_t *slices,
                                            perf_loop_state_ **failed)
{
    perf_status status = PERF_OK;
    size_t      i;

    *slices = 0;
    for (i = 0; i < threads; i++) {
        if (hand[i].state)
            *slices += hand[i].state->arm->count;
        if (hand[i].result.status == PERF_OK || status != PERF_OK)
            continue;
        status = hand[i].result.status;
        *failed = hand[i].state;
    }
    return status;
}

/* Adds the counters and slices of a thread to those of all. */
PERF_COLD_FN_ void perf_crew_add_(perf_loop_state_ *all, perf_result *sum, const perf_hand_ *hand)
{
    const perf_kept_loop_ *own = &hand->state->loop;
    const size_t      count = hand->state->arm->count;
    int               i;

    for (i = 0; own->counter[i][0]; i++) {
        double *counter = perf_told_place_(&all->loop, own->counter[i]);
        if (counter)
            *counter += own->value[i];
    }
    memcpy(all->arm->ns + all->arm->count, hand->state->arm->ns, count * sizeof(double));
    all->arm->count += count;
    sum->iterations += hand->result.iterations;
    sum->warnings |= hand->result.warnings;
    if (hand->result.first_ns > sum->first_ns)
        sum->first_ns = hand->result.first_ns;
}

/* Rates add up: n threads do n times the work of one if nothing holds them up. */
PERF_COLD_FN_ void perf_crew_rates_(perf_result *sum, const perf_hand_ *hand, size_t threads)
{
    size_t i;

    sum->gb_per_s = sum->items_per_s = sum->gflop_per_s = 0.0;
    sum->percent_of_peak_gb = sum->percent_of_peak_gflop = 0.0;
    for (i = 0; i < threads; i++) {
        const perf_result *one = &hand[i].result;
        const double       kept = perf_hand_kept_(one, threads);
        sum->gb_per_s += kept * one->gb_per_s;
        sum->items_per_s += kept * one->items_per_s;
        sum->gflop_per_s += kept * one->gflop_per_s;
        sum->percent_of_peak_gb += kept * one->percent_of_peak_gb;
        sum->percent_of_peak_gflop += kept * one->percent_of_peak_gflop;
    }
}

/* The share of its time in which a thread ran, 0 .. 1: median over mean of its slices.  Waiting for
 * a processor raises the mean, not the median.  At least processors / threads: what is lost beyond
 * that, other programs took.                                                                     */
PERF_COLD_FN_ double perf_hand_kept_(const perf_result *one, size_t threads)
{
    const double measured = perf_result_main_(one)->p50 / one->time.mean;
    const size_t processors = perf_processors_();
    double       least = 1.0;

    if (processors && threads > processors)
        least = PERF_CAST_(double, processors) / PERF_CAST_(double, threads);
    if (!processors)
        least = 0.0;
    if (measured >= 1.0)
        return 1.0;
    return measured > least ? measured : least;
}

#if defined(__linux__) && !PERF_TCC_
extern int perf_sched_getaffinity_(int, size_t, void *) __asm__(PERF_SYM_("sched_getaffinity"));
#endif

/* Processors that this process may use; 0: not known.  Ignores a container's quota. */
PERF_COLD_FN_ size_t perf_processors_(void)
{
    size_t count = 0;
#if defined(__linux__) && !PERF_TCC_
    uint64_t mask[128];                 /* 8192 processors                                        */
    size_t   i;

    memset(mask, 0, sizeof mask);
    if (perf_sched_getaffinity_(0, sizeof mask, mask) < 0)
        return 0;
    for (i = 0; i < sizeof mask / sizeof *mask; i++)
        for (; mask[i]; mask[i] &= mask[i] - 1)
            count++;
#endif
    return count;
}

/* Iterations per second of all threads together. */
PERF_COLD_FN_ double perf_crew_speed_(const perf_hand_ *hand, size_t threads)
{
    double sum = 0.0;
    size_t i;

    for (i = 0; i < threads; i++)
        sum += perf_hand_kept_(&hand[i].result, threads) * 1e9 /
               perf_result_main_(&hand[i].result)->p50;
    return sum;
}

/* A row for each number of threads: what an iteration takes on one of them, how many all do in a
 * second, and that over what one thread does.                                                    */
PERF_COLD_FN_ void perf_main_scaling_(const perf_main_ *run, const perf_sweep_ *sweep)
{
    char   text[200], cell[80];
    size_t i;

    (void)fputs("     threads             an iteration [interval]    iterations/s  "
                "speed-up over 1 thread\n", run->out);
    for (i = 0; i < sweep->count; i++) {
        const perf_summary *time = &sweep->time[i];
        perf_out_           out = perf_out_open_(text, sizeof text);
        perf_out_           estimate = perf_out_open_(cell, sizeof cell);
        perf_put_ns_(&estimate, time->p50);
        if (perf_is_finite_(time->p50_low) && perf_is_finite_(time->p50_high)) {
            perf_put_(&estimate, " [");
            perf_put_ns_(&estimate, time->p50_low);
            perf_put_(&estimate, ", ");
            perf_put_ns_(&estimate, time->p50_high);
            perf_put_char_(&estimate, ']');
        }
        perf_putf_(&out, "%12.0f", sweep->size[i]);
        perf_put_cell_(&out, cell, 34);
        perf_putf_(&out, "%16.0f", sweep->speed[i]);
        if (sweep->size[0] > 1.0)
            perf_putf_(&out, "%10s\n", "-");
        else
            perf_putf_(&out, "%9.2fx\n", sweep->speed[i] / sweep->speed[0]);
        (void)fputs(text, run->out);
    }
}

/* ---- comparing, then writing ---- */

/* What follows the last measurement; returns the exit status of the program. */
PERF_COLD_FN_ int perf_main_finish_(perf_main_ *run)
{
    const int result = perf_main_files_(run);

    if (!perf_main_printed_(run->out)) {
        (void)fprintf(stderr, "%s: standard output: %s\n", run->program,
                      perf_status_text(PERF_EIO));
        return 2;
    }
    if (run->failed && (!result || result == 3))
        return 2;
    return result;
}

/* Compares (--compare), then writes (--output, --save, --add); returns the exit status. */
PERF_COLD_FN_ int perf_main_files_(perf_main_ *run)
{
    size_t i;
    int    result = 0;

    if (run->compare)
        result = perf_main_compare_all_(run);   /* may run bodies again */
    perf_main_now_ = PERF_CAST_(perf_main_ *, PERF_NULL_);
    perf_main_refuse_(run);
    if (run->output) {
        const char *where = run->output;
        if (!strcmp(where, "-"))
            where = "standard output";
        if (!perf_main_wrote_(run, where, perf_main_output_(run)))
            result = 2;
    }
    run->with.alone = 1;                        /* --save accepts all as it is: no marks         */
    run->with.rejected = run->with.undecided = PERF_CAST_(const char *const *, PERF_NULL_);
    if (run->save && !perf_main_wrote_(run, run->save, perf_baseline_add(run->save, &run->with)))
        result = 2;
    run->with.alone = 0;
    run->with.rejected = PERF_PTR_(const char *const *, run->rejected);
    run->with.undecided = PERF_PTR_(const char *const *, run->undecided);
    if (run->add && perf_main_wrote_(run, run->add, perf_baseline_add(run->add, &run->with)))
        perf_baseline_outlook_to_(run->out, run->add, &run->rule);
    else if (run->add)
        result = 2;
    run->with.rejected = run->with.accepted = run->with.undecided =
        PERF_CAST_(const char *const *, PERF_NULL_);
    PERF_FREE(run->rejected);
    PERF_FREE(run->undecided);
    for (i = 0; i < PERF_MAIN_FILTERS_; i++)
        PERF_FREE(run->since[i]);
    return result;
}

/* perf_main_compare_ by the rule, then by the second, if there is one; says what was accepted.
 * Returns the worst status: an error, 2, then a REJECT, 1, then 3.                               */
PERF_COLD_FN_ int perf_main_compare_all_(perf_main_ *run)
{
    const int first = perf_main_compare_(run, &run->rule);
    int       second = 0;

    if (run->also && first != 2)
        second = perf_main_compare_(run, &run->second);
    perf_main_accepted_say_(run);
    if (first == 2 || second == 2)
        return 2;
    if (first == 1 || second == 1)
        return 1;
    return first > second ? first : second;
}

/* Holds this run against the baseline by one rule: checks, measures again what is in doubt, prints
 * the table, keeps the names that --add marks.  Returns the exit status.                         */
PERF_COLD_FN_ int perf_main_compare_(perf_main_ *run, const perf_rule *rule)
{
    perf_baseline_opts opts = PERF_ZERO;
    perf_baseline      baseline;
    int                result = 2;

    opts.accept.rule = *rule;                   /* `now` stays zero: this process                 */
    opts.accept.rules = run->also ? 2 : 1;
    opts.most_unchanged = run->most_unchanged;
    baseline = perf_baseline_check(run->compare, &opts);
    if (baseline.status == PERF_OK && !run->over && !run->profile &&
        rule->metric < PERF_METRIC_MEMORY)
        perf_main_again_(run, &baseline, &opts);
    if (baseline.status != PERF_OK) {
        perf_main_unread_(run, &baseline);
    } else {
        (void)fputs("\n", run->out);
        (void)perf_baseline_to(run->out, &baseline);
        result = perf_main_judged_(run, &baseline);
        /* --add marks what is REJECT, so that it does not become normal, and what is open. */
        run->rejected = perf_main_names_(run, run->rejected, &baseline, perf_main_is_rejected_);
        run->undecided = perf_main_names_(run, run->undecided, &baseline, perf_main_is_undecided_);
        run->with.rejected = PERF_PTR_(const char *const *, run->rejected);
        run->with.undecided = PERF_PTR_(const char *const *, run->undecided);
    }
    perf_baseline_free(&baseline);
    return result;
}

/* Says why the file of --compare is not used. */
PERF_COLD_FN_ void perf_main_unread_(const perf_main_ *run, const perf_baseline *baseline)
{
    (void)fprintf(stderr, "%s: %s: ", run->program, run->compare);
    (void)perf_baseline_to(stderr, baseline);
}

/* ---- measuring again, before a REJECT is told ---- */

#define PERF_MAIN_AGAIN_ 4      /* rounds: with the first an odd number, which has a median       */

#if PERF_POSIX_FILES_
extern int perf_poll_(void *, unsigned long, int) __asm__(PERF_SYM_("poll"));
#endif

/* Measures what is in doubt four rounds more, and replaces *baseline by the answer of a new check.
 * Where that fails it says so, and *baseline stays.                                              */
PERF_COLD_FN_ void perf_main_again_(perf_main_ *run, perf_baseline *baseline,
                                    const perf_baseline_opts *opts)
{
    const size_t  doubts = perf_main_choose_(run, baseline);
    perf_baseline second;
    size_t        k;
    int           i;

    for (i = 0; i < PERF_MAIN_AGAIN_ && doubts; i++) {
        (void)fprintf(run->out, "\nmeasured again, %d of %d:\n", i + 1, PERF_MAIN_AGAIN_);
        perf_main_wait_(run);
        run->first = baseline;
        perf_main_cases_(run, 1);
        run->first = PERF_CAST_(perf_baseline *, PERF_NULL_);
    }
    PERF_FREE(run->chosen);
    run->chosen = PERF_CAST_(unsigned char *, PERF_NULL_);
    if (!doubts)
        return;
    second = perf_baseline_check(run->compare, opts);
    if (second.status == PERF_OK) {
        perf_main_confirm_(baseline, &second);
        perf_baseline_free(baseline);
        *baseline = second;
        return;
    }
    (void)fprintf(run->out, "not compared again, the first answers stay: %s: ", run->compare);
    (void)perf_baseline_to(run->out, &second);
    perf_baseline_free(&second);
    for (k = 0; k < baseline->entries; k++)
        baseline->entry[k].again = 0;           /* its answer is that of the first look           */
}

/* Chooses the entries in doubt; if it is one alone, another one, too, so that two take turns.
 * Returns how many are in doubt.                                                                 */
PERF_COLD_FN_ size_t perf_main_choose_(perf_main_ *run, const perf_baseline *baseline)
{
    size_t i, doubts = 0, other = baseline->entries;

    run->chosen = PERF_CAST_(unsigned char *, PERF_MALLOC(baseline->entries + 1));
    if (!run->chosen)
        return 0;
    memset(run->chosen, 0, baseline->entries + 1);
    for (i = 0; i < baseline->entries; i++) {
        const perf_baseline_entry *entry = &baseline->entry[i];
        if (perf_main_doubts_(run, entry)) {
            run->chosen[i] = 1;
            doubts++;
        } else if (!entry->missing && entry->kind == PERF_BASELINE_BENCH) {
            other = i;
        }
    }
    if (doubts == 1 && other < baseline->entries)
        run->chosen[other] = 1;
    return doubts;
}

/* 1: measuring again may change the answer to a bench with saved runs enough: by itself it is
 * REJECT, its ratio is beyond the threshold, or it is INCONCLUSIVE and --strict is given.        */
PERF_COLD_FN_ int perf_main_doubts_(const perf_main_ *run, const perf_baseline_entry *entry)
{
    const perf_verdict *verdict = &entry->verdict;

    if (entry->missing || entry->kind != PERF_BASELINE_BENCH ||
        entry->runs < PERF_BASELINE_RUNS_ || (verdict->warnings & PERF_WARN_OUTPUTS))
        return 0;
    if (verdict->decision == PERF_REJECT || verdict->ratio.estimate > verdict->threshold)
        return 1;
    return run->strict && entry->decision == PERF_INCONCLUSIVE;
}

/* --again-after; an early end of the wait does no harm. */
PERF_COLD_FN_ void perf_main_wait_(const perf_main_ *run)
{
#if PERF_POSIX_FILES_
    if (run->again_after > 0.0)
        (void)perf_poll_(PERF_NULL_, 0, PERF_CAST_(int, 1000.0 * run->again_after));
#else
    (void)run;
#endif
}

/* The answers after measuring again.  A REJECT of the first look stays one if the entry alone is
 * REJECT, else it is withdrawn.  A new REJECT must hold in the family of all entries, and be
 * measured again: else INCONCLUSIVE.                                                             */
PERF_COLD_FN_ void perf_main_confirm_(const perf_baseline *first, perf_baseline *second)
{
    size_t i, k;

    for (i = 0; i < second->entries; i++) {
        perf_baseline_entry       *entry = &second->entry[i];
        const perf_baseline_entry *before = PERF_CAST_(const perf_baseline_entry *, PERF_NULL_);
        for (k = 0; k < first->entries && !before; k++)
            if (first->entry[k].kind == entry->kind && !strcmp(first->entry[k].name, entry->name))
                before = &first->entry[k];
        if (!before)
            continue;
        entry->again = before->again;
        if (before->decision == PERF_REJECT && entry->verdict.decision == PERF_REJECT)
            entry->decision = PERF_REJECT;
        entry->withdrawn = before->decision == PERF_REJECT && entry->decision != PERF_REJECT;
        if (entry->decision == PERF_REJECT && !entry->again && before->decision != PERF_REJECT)
            entry->decision = PERF_INCONCLUSIVE;
    }
    perf_baseline_count_(second);
}

/* ---- the answers ---- */

/* The exit status of a comparison: 1 a REJECT that is not accepted, 2 an accepted name that was not
 * measured, 3 open with --strict; else 0.                                                        */
PERF_COLD_FN_ int perf_main_judged_(perf_main_ *run, const perf_baseline *baseline)
{
    size_t i;
    int    result = 0;

    for (i = 0; i < baseline->entries; i++)
        if (perf_main_is_rejected_(run, &baseline->entry[i]))
            result = 1;
    for (i = 0; i < PERF_MAIN_FILTERS_ && run->accepted[2 * i]; i++)
        if (!perf_main_accept_one_(run, i, baseline))
            result = 2;
    if (result || !run->strict || !perf_main_open_(run, baseline))
        return result;
    if (run->failed)                            /* the status will be 2                           */
        return 3;
    (void)fputs("--strict: not decided, exit status 3\n", run->out);
    return 3;
}

/* 1: REJECT in its family, and its name is not among those of --accept-change. */
PERF_COLD_FN_ int perf_main_is_rejected_(const perf_main_ *run, const perf_baseline_entry *entry)
{
    return entry->decision == PERF_REJECT &&
           perf_main_accepted_(run, entry->name) == PERF_MAIN_FILTERS_;
}

/* 1: in a file the two names are the same: there a byte that is no UTF-8 is U+FFFD. */
PERF_COLD_FN_ int perf_main_same_(const char *one, const char *other)
{
    char      text[2][2048];
    perf_out_ first = perf_out_open_(text[0], sizeof text[0]);
    perf_out_ second = perf_out_open_(text[1], sizeof text[1]);

    perf_put_json_(&first, one);
    perf_put_json_(&second, other);
    if (first.len >= sizeof text[0])                    /* they do not fit: are the bytes equal?  */
        return !strcmp(one, other);
    return first.len == second.len && !strcmp(text[0], text[1]);
}

/* The place of a name in --accept-change; PERF_MAIN_FILTERS_: it is not there. */
PERF_COLD_FN_ size_t perf_main_accepted_(const perf_main_ *run, const char *name)
{
    size_t i;

    for (i = 0; i < PERF_MAIN_FILTERS_ && run->accepted[2 * i]; i++)
        if (perf_main_same_(run->accepted[2 * i], name))
            return i;
    return PERF_MAIN_FILTERS_;
}

/* Notes since which run the change is accepted.  0: such an entry is not there. */
PERF_COLD_FN_ int perf_main_accept_one_(perf_main_ *run, size_t at, const perf_baseline *baseline)
{
    const char *const name = run->accepted[2 * at];
    size_t            i = 0;

    while (i < baseline->entries &&
           (!perf_main_same_(baseline->entry[i].name, name) || baseline->entry[i].missing))
        i++;
    if (i == baseline->entries) {
        (void)fprintf(stderr, "%s: --accept-change: not measured in this run: '%s'\n", run->program,
                      name);
        return 0;
    }
    run->found[at]++;
    if (baseline->entry[i].since && !run->since[at]) {
        run->since[at] = PERF_CAST_(char *, PERF_MALLOC(strlen(baseline->entry[i].since) + 1));
        if (run->since[at])
            run->accepted[2 * at + 1] = strcpy(run->since[at], baseline->entry[i].since);
        run->since_number[at] = baseline->entry[i].since_number;
    }
    return 1;
}

/* How many entries stay open: not the new ones, which have no saved runs.  At least 1 if none was
 * decided.                                                                                       */
PERF_COLD_FN_ size_t perf_main_open_(const perf_main_ *run, const perf_baseline *baseline)
{
    size_t i, open = baseline->entries - baseline->accepted - baseline->rejected - baseline->fresh -
                     baseline->missing;

    for (i = 0; i < baseline->entries; i++)
        if (baseline->entry[i].missing && perf_main_wants_(run, baseline->entry[i].name))
            open++;
    if (!open && !baseline->accepted && !baseline->rejected)
        open = 1;
    return open;
}

/* The names in `kept`, then those of the entries for which is() says 1, then NULL.  One allocation
 * has list and names.  Frees `kept`; without memory it is returned.                              */
PERF_COLD_FN_ const char **perf_main_names_(const perf_main_ *run, const char **kept,
                                            const perf_baseline *baseline,
                                            int (*is)(const perf_main_ *,
                                                      const perf_baseline_entry *))
{
    const char **list;
    size_t       i, old = 0, fresh = 0, n = 0, room = sizeof *kept;
    char        *to;

    for (; kept && kept[old]; old++)
        room += sizeof *kept + strlen(kept[old]) + 1;
    for (i = 0; i < baseline->entries; i++)
        if (is(run, &baseline->entry[i])) {
            room += sizeof *kept + strlen(baseline->entry[i].name) + 1;
            fresh++;
        }
    list = PERF_CAST_(const char **, PERF_MALLOC(room));
    if (!list)
        return kept;
    to = PERF_PTR_(char *, list + old + fresh + 1);
    for (i = 0; i < old + baseline->entries; i++) {
        if (i >= old && !is(run, &baseline->entry[i - old]))
            continue;
        list[n++] = strcpy(to, i < old ? kept[i] : baseline->entry[i - old].name);
        to += strlen(to) + 1;
    }
    list[n] = PERF_CAST_(const char *, PERF_NULL_);
    PERF_FREE(kept);
    return list;
}

/* 1: open, though there were runs enough. */
PERF_COLD_FN_ int perf_main_is_undecided_(const perf_main_ *run, const perf_baseline_entry *entry)
{
    (void)run;
    return entry->decision == PERF_INCONCLUSIVE && !entry->missing &&
           entry->runs >= PERF_BASELINE_RUNS_;
}

/* 1: the change of a name is accepted: each of the rules has an answer of it. */
PERF_COLD_FN_ int perf_main_answered_(const perf_main_ *run, size_t at)
{
    return run->found[at] == 1 + (run->also != PERF_NULL_);
}

/* Says what --accept-change has accepted. */
PERF_COLD_FN_ void perf_main_accepted_say_(const perf_main_ *run)
{
    size_t i;

    for (i = 0; i < PERF_MAIN_FILTERS_ && run->accepted[2 * i]; i++) {
        if (!perf_main_answered_(run, i))
            continue;
        (void)fprintf(run->out, "accepted: %s is normal as it is now, since ",
                      run->accepted[2 * i]);
        if (run->since[i])
            (void)fprintf(run->out, "run %lu\n", PERF_CAST_(unsigned long, run->since_number[i]));
        else
            (void)fputs("this run\n", run->out);
    }
}

/* Takes the names that this run has not measured, or not compared by each of the rules, out of
 * --accept-change: --add would make what is saved of them past.  The other arrays by name keep
 * their order.                                                                                   */
PERF_COLD_FN_ void perf_main_refuse_(perf_main_ *run)
{
    size_t i, kept = 0;

    for (i = 0; i < PERF_MAIN_FILTERS_ && run->accepted[2 * i]; i++) {
        if (!perf_main_answered_(run, i))
            continue;
        run->accepted[2 * kept] = run->accepted[2 * i];
        run->accepted[2 * kept + 1] = run->accepted[2 * i + 1];
        kept++;
    }
    run->accepted[2 * kept] = PERF_CAST_(const char *, PERF_NULL_);
}

/* ---- writing ---- */

/* Writes --output. */
PERF_COLD_FN_ perf_status perf_main_output_(const perf_main_ *run)
{
    const perf_export_format format = PERF_CAST_(perf_export_format, run->format - 1);
    const int                to_screen = !strcmp(run->output, "-");
    perf_export_row_         row;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!run->format && to_screen)
        return perf_saving_save_(PERF_NULL_, stdout, PERF_NULL_, &run->with, PERF_NULL_, 0);
    if (!run->format)
        return perf_results_save(run->output, &run->with);
    if (!to_screen)
        return perf_export_save(run->output, format, &run->with);
    row = perf_export_row_of_(format);
    if (!row.put)                               /* this format goes to files only                 */
        return PERF_EINVAL;
    return perf_saving_save_(PERF_NULL_, stdout, row.put, &run->with, PERF_NULL_, 0);
}

PERF_COLD_FN_ int perf_main_wrote_(const perf_main_ *run, const char *path, perf_status status)
{
    if (status == PERF_OK)
        return 1;
    (void)fprintf(stderr, "%s: %s: %s\n", run->program, path, perf_status_text(status));
    return 0;
}

PERF_END_DECLS

#endif
#endif
