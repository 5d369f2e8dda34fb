/* perf_results.h - results in files (perf_saved.h), and baselines to check against.
 *
 *     #include "perf.h"
 *     #include "perf_results.h"
 *     perf_results_save("now.json", NULL);            // all benches, A/B loops, scopes
 *
 *     perf_baseline_add("baseline.json", NULL);       // one run more; six or more make a baseline
 *     perf_baseline b = perf_baseline_check("baseline.json", NULL);
 *     perf_baseline_to(stdout, &b);                  // a line an entry: ACCEPT, REJECT, ...
 *     perf_baseline_free(&b);
 *
 * Optional: only files that save or check results include it.  Files appear whole or not at all
 * (written beside, then renamed).  docs/results.md has the rules of a check.
 * Everything here allocates and may do I/O; nothing here is for a hot path.
 * Sections (search for ">>"):  baseline  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_RESULTS_H
#define PERF_RESULTS_H

#include "perf.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_results.h: found another or an older perf.h; keep files of one release together"
#endif

#include "perf_saved.h"

PERF_BEGIN_DECLS

/* >>baseline ----------------------------------------------------------------------------------
 * A saved run and this one were not measured in turns, and the same program gives other times an
 * hour later.  So a whole run counts as one value: 6 or more saved runs of this machine and build
 * show how much runs differ, and a run beyond that is a change.  With fewer runs the ratio is
 * shown, and the verdict stays INCONCLUSIVE.  What is compared for each name:
 *   bench  the median of its slices (by a rule on p95, p99 or mean: that)
 *   A/B    the median ratio candidate / baseline of its pairs
 *   scope  the median of its calls (or their p95, p99, mean): good to 3 %
 * A rule on instructions, cycles, branches or branch misses compares the counters of that name
 * (perf_counters_loop, perf_bench_counter): what no run has counted is INCONCLUSIVE.
 * Runs are added by perf_baseline_add, which stands with what writes files (perf_saved.h).
 * One saved run of eight may lie far off (a backup ran): it is left out, and named in `odd`.  A
 * whole run is left out if most of its entries lie 16 % and more off.  Of a single entry a run is
 * left out that lies 50 % and more off.
 * A change that came with a saved run would hide in the spread of the saved runs.  So the runs are
 * cut in two where they differ most, and a line is laid through them.  What is worse by either than
 * the rule allows is a REJECT with `since`, until perf_baseline_add with `alone` begins anew.
 * An entry saved with a mark (perf_results_opts.rejected) is no part of a baseline.  So what was
 * REJECTed stays REJECT until somebody accepts it; `since` is the first run so marked.
 * A run may come later than twice the usual distance of the saved ones.  It gets the interval of a
 * random walk: the variance of the saved runs times 2 + 6 age / span, span 10 s at least.  The walk
 * ends at 10 %.                                                                                  */

typedef struct perf_baseline_opts { /* zero = default                                             */
    perf_results_opts now;      /* what to check; zero: this process                              */
    perf_compare_opts accept;   /* rule, zero: time no more than 5 % worse, at 95 %; on memory or */
                                /* throughput: PERF_EINVAL.  Of checks by several rules, each     */
                                /* says in accept.rules how many                                  */
    int    any_machine;         /* 1: runs of other machines and builds count like ours           */
    int    most_unchanged;      /* 1: you vouch that most entries are as fast as before: what the */
                                /* others of a run share is then the machine's, and is taken out; */
                                /* old runs count by how far they strayed (8 runs, 8 entries)     */
} perf_baseline_opts;

typedef struct perf_baseline_entry {
    const char        *name;    /* belongs to the perf_baseline                                   */
    perf_baseline_kind kind;
    size_t             runs;    /* saved runs that it was compared with; 0: it is new             */
    int                missing; /* 1: saved by a run of this machine and build, but not measured  */
                                /* in this run                                                    */
    double             before;  /* geometric mean of the saved runs, in ns; by a rule on a count, */
                                /* counts an iteration; of an A/B loop a ratio; 0: none           */
    double             now;     /* this run; 0: missing                                           */
    perf_verdict       verdict; /* by itself                                                      */
    perf_decision      decision;/* as one of the family: this is the one that counts              */
    double             p;       /* two-sided, before the correction; 1: no claim                  */
    const char        *since;   /* the id of the first run of a lasting change for the worse,     */
                                /* which the saved runs show themselves; NULL: they show none     */
    const char        *since_label;     /* of that run; ""; NULL where `since` is                 */
    size_t             since_number;    /* among the runs of this machine and build, from 1; one  */
                                /* more than there are: this run                                  */
    int                creeps;  /* 1: it gets worse run by run: `since` is the oldest run         */
    double             spread;  /* standard deviation of the logs of the saved runs; 0: not known */
    int                again;   /* how often a program of benchmarks measured it again before it  */
                                /* answered; 0: not                                               */
    int                withdrawn;       /* 1: that took a REJECT back                             */
    double             unseen;  /* what steps of the clock, or of a scope's histogram, hide of    */
                                /* the ratio, as a log, however many runs there are               */
} perf_baseline_entry;

typedef struct perf_baseline_odd {  /* a saved run that was left out                              */
    const char *run, *label;    /* its id; "" without a label.  Both belong to the perf_baseline  */
    const char *entry;          /* it was left out of this entry alone; NULL: of all              */
    size_t      number;         /* among the runs of this machine and build, from 1, oldest first */
    double      time_s;         /* since the epoch                                                */
    double      load;           /* of the machine then; < 0: not known                            */
    double      ratio;          /* to the middle of the runs: 2 is twice as slow                  */
} perf_baseline_odd;

typedef struct perf_baseline {
    perf_decision        decision;      /* of all: REJECT if any is, ACCEPT if all are            */
    perf_status          status;        /* PERF_OK, or why there is nothing here                  */
    size_t               error_at;      /* byte offset, for PERF_EFORMAT, ERANGE, ELIMIT          */
    perf_baseline_entry *entry;         /* of this run, then the missing ones                     */
    size_t               entries;
    size_t               accepted, rejected, fresh, missing;   /* how many of them                */
    size_t               runs;          /* in the file                                            */
    size_t               other_runs;    /* runs of another machine or build: not used             */
    size_t               own_runs;      /* saved by this process since its last perf_reset(): not */
                                        /* used                                                   */
    size_t               beside;        /* entries held against the others of their run, too      */
    char                 other[200];    /* such a machine and cpu, or compiler and build; or ""   */
    double               span_s;        /* what the used runs cover                               */
    double               age_s;         /* how long ago the last was; < 0: the first comes later  */
    perf_rule            rule;          /* as held against                                        */
    double               confidence;
    perf_baseline_odd   *odd;           /* runs that lie too far off to be like the others        */
    size_t               odds;          /* how many of them                                       */
    int                  any_machine;   /* 1: runs of other machines and builds count, as asked   */
    char                *memory_[2];    /* private: the names                                     */
} perf_baseline;

#if defined(__cplusplus)        /* the old name of what PERF_ZERO makes                           */
#define perf_baseline_opts_default() perf_baseline_opts()
#else
#define perf_baseline_opts_default() ((perf_baseline_opts)PERF_ZERO)
#endif

/* Compares what this process has measured with the file.  All entries together are one family of
 * questions, corrected after Holm.  A loop that one process saved in several runs counts once,
 * unless opts.run named them.  opts NULL: defaults.  Any file is safe to read: a damaged one gives
 * a status and the byte, one that is not ours PERF_EFOREIGN.  Free the result, whatever its
 * status.                                                                                        */
PERF_FN perf_baseline perf_baseline_check(const char *path, const perf_baseline_opts *opts);

PERF_FN void perf_baseline_free(perf_baseline *baseline);   /* NULL and a second call: nothing    */

/* Writes the verdicts as a table, on a screen with colours in green and red; `file` stays open.
 * PERF_EINVAL: NULL; PERF_EIO, PERF_ENOMEM.                                                      */
PERF_FN perf_status perf_baseline_to(FILE *file, const perf_baseline *baseline);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_baseline_count_  decisions of the entries, and of all
 *   perf_baseline_outlook_to_  says what a baseline can find, and for how long
 *   PERF_BASELINE_RUNS_  fewest saved runs that make a baseline                                  */

/* >>private: bodies from the whole to its parts; a helper stands above its first user ---------- */

/* ---- numbers of a check, and its parts in the order of their bodies ---- */

#define PERF_BASELINE_RUNS_ 6           /* fewer say too little about their spread                */
#define PERF_BASELINE_LEAST_S_ 10.0     /* runs within less count as spread over that much        */
#define PERF_BASELINE_BESIDE_ 8         /* fewer say too little about what entries share          */
#define PERF_BASELINE_STRAY_ 0.1        /* how far a machine strays by itself in any time: the    */
                                        /* standard deviation of the log                          */
#define PERF_BASELINE_REPEATS_ 64       /* of an entry in one run; further ones do not count      */

#define PERF_ODD_RUN_     0.15  /* a log, 16 %: a whole run that is left out lies so far off      */
#define PERF_ODD_ENTRY_   0.40  /* a log, 49 %: likewise one entry of a run, or a run of few      */
#define PERF_ODD_ENTRIES_ 4     /* fewer entries are few                                          */
#define PERF_ODD_NOISES_  6.0   /* and so many standard deviations off, by the median deviation   */
#define PERF_ODD_SHARE_   8     /* at most one in so many is left out; more are no exception      */
#define PERF_ODD_LEAST_   0.005 /* no standard deviation counts as less: that is chance           */

typedef struct perf_checking_ perf_checking_;
typedef struct perf_figures_  perf_figures_;
typedef struct perf_judged_   perf_judged_;
typedef struct perf_spread_   perf_spread_;
typedef struct perf_change_   perf_change_;
typedef struct perf_straying_ perf_straying_;

PERF_COLD_DECL_ perf_baseline perf_baseline_of_(const char *path, const perf_baseline_opts *opts,
                                                int count_own);
PERF_COLD_DECL_ int perf_checking_rule_(perf_checking_ *check, const perf_compare_opts *accept);
PERF_COLD_DECL_ void perf_checking_run_(perf_read_ *old, perf_read_ *now, perf_checking_ *check);
PERF_COLD_DECL_ void perf_checking_order_(perf_checking_ *check);
PERF_COLD_DECL_ int perf_read_sort_(perf_read_ *file);
PERF_COLD_DECL_ void perf_baseline_runs_(perf_checking_ *check);
PERF_COLD_DECL_ void perf_baseline_span_(perf_checking_ *check);
PERF_COLD_DECL_ void perf_times_cover_(double *time_s, size_t n, double *first, double *last);
PERF_COLD_DECL_ void perf_checking_entries_(perf_checking_ *check);
PERF_COLD_DECL_ size_t perf_read_find_(const perf_read_ *file, const perf_read_entry_ *entry);
PERF_FN int perf_read_same_(const perf_read_ *file, size_t at, const perf_read_entry_ *entry);
PERF_FN int perf_read_first_(const perf_read_ *file, size_t at);
PERF_COLD_DECL_ int perf_read_ours_(const perf_read_ *file, size_t at);
PERF_COLD_DECL_ perf_baseline_entry *perf_baseline_new_(perf_checking_ *check,
                                                        const perf_read_entry_ *like);
PERF_COLD_DECL_ void perf_baseline_one_(perf_checking_ *check, const perf_read_entry_ *like);
PERF_COLD_DECL_ size_t perf_read_onward_(const perf_read_ *file, size_t at, size_t *repeat);
PERF_COLD_DECL_ int perf_figure_counted_(const perf_checking_ *check, size_t first, size_t at);
PERF_COLD_DECL_ void perf_figures_of_(const perf_checking_ *check, const perf_read_ *file,
                                      const perf_read_entry_ *like, int saved,
                                      perf_figures_ *found);
PERF_FN double perf_middle_(double *x, size_t n, double p);
PERF_COLD_DECL_ double perf_entry_figure_(const perf_read_ *file, const perf_read_entry_ *entry,
                                          perf_metric metric, double *pool);
PERF_COLD_DECL_ void perf_baseline_fresh_(perf_checking_ *check, const perf_read_entry_ *like,
                                          perf_baseline_entry *entry);
PERF_COLD_DECL_ double perf_figures_walk_(const perf_checking_ *check, const perf_figures_ *found);
PERF_COLD_DECL_ double perf_entry_step_(const perf_read_ *file, const perf_read_entry_ *entry);
PERF_FN double perf_entry_tick_(int kind, perf_metric metric, double a, double b);
PERF_FN double perf_center_(double *value, size_t n);
PERF_FN double perf_logs_spread_(const double *logs, size_t n);
PERF_COLD_DECL_ perf_verdict perf_judge_(perf_checking_ *check, const perf_judged_ *judged,
                                         double *p);
PERF_COLD_DECL_ perf_spread_ perf_spread_alone_(const double *logs, size_t runs, double walk);
PERF_FN double perf_new_run_sd_(double variance, size_t runs, double walk, double *df);
PERF_COLD_DECL_ perf_verdict perf_judged_verdict_(const perf_compare_opts *opts,
                                                  const perf_judged_ *judged, double change,
                                                  double half);
PERF_COLD_DECL_ void perf_judge_reasons_(const perf_judged_ *judged, const perf_spread_ *spread,
                                         double gap, perf_verdict *verdict);
PERF_COLD_DECL_ void perf_baseline_since_(perf_checking_ *check, const perf_judged_ *judged,
                                          const perf_figures_ *saved, perf_baseline_entry *entry);
PERF_COLD_DECL_ size_t perf_baseline_number_(const perf_checking_ *check, int run);
PERF_COLD_DECL_ void perf_baseline_began_(const perf_checking_ *check, int run,
                                          perf_baseline_entry *entry);
PERF_COLD_DECL_ perf_change_ perf_change_of_(const double *logs, size_t n, double threshold,
                                             double tick);
PERF_COLD_DECL_ perf_change_ perf_change_cut_(const double *logs, size_t n);
PERF_COLD_DECL_ size_t perf_cut_(const double *logs, size_t n);
PERF_COLD_DECL_ perf_change_ perf_change_line_(const double *logs, size_t n);
PERF_COLD_DECL_ void perf_change_error_(perf_change_ *change, const double *residual, size_t n,
                                        double scale);
PERF_COLD_DECL_ double perf_residuals_inflation_(const double *residual, size_t n);
PERF_COLD_DECL_ void perf_change_judge_(perf_change_ *change, double threshold, double tick,
                                        double tries);
PERF_COLD_DECL_ void perf_baseline_family_(perf_baseline *baseline, int rules);
PERF_FN perf_status perf_adjust_holm_(const double *p, size_t n, double *out);
PERF_COLD_DECL_ void perf_baseline_count_(perf_baseline *baseline);
PERF_COLD_DECL_ void perf_odd_runs_(perf_checking_ *check);
PERF_COLD_DECL_ size_t perf_odd_moves_(const perf_checking_ *check, double *move, int *index);
PERF_COLD_DECL_ void perf_odd_figures_(perf_checking_ *check, const char *name,
                                       perf_figures_ *found);
PERF_COLD_DECL_ size_t perf_odd_ones_(const double *x, size_t n, double least, double *off);
PERF_COLD_DECL_ void perf_odd_note_(perf_checking_ *check, int run, double off, const char *entry);
PERF_COLD_DECL_ void perf_gather_(perf_checking_ *check);
PERF_COLD_DECL_ double *perf_gather_room_(perf_checking_ *check);
PERF_COLD_DECL_ void perf_gather_moves_(perf_checking_ *check, double *own);
PERF_COLD_DECL_ void perf_gather_prior_(perf_checking_ *check, const double *own);
PERF_COLD_DECL_ int perf_spread_beside_(const perf_checking_ *check, const double *logs,
                                        double walk, perf_spread_ *spread);
PERF_COLD_DECL_ int perf_beside_of_(const perf_checking_ *check, const double *logs,
                                    perf_spread_ *beside);
PERF_COLD_DECL_ double perf_beside_regress_(const perf_checking_ *check, const double *logs,
                                            double *change, double *times);
PERF_COLD_DECL_ int perf_beside_old_(const perf_checking_ *check, perf_spread_ *beside);
PERF_FN double perf_stray_others_(const double *sorted, size_t rank, double own);
PERF_COLD_DECL_ perf_straying_ perf_strayed_(const perf_checking_ *check,
                                             const perf_spread_ *beside);
PERF_COLD_DECL_ void perf_put_baseline_(perf_out_ *out, const perf_baseline *baseline);
PERF_COLD_DECL_ void perf_put_decision_in_color_(perf_out_ *out, perf_decision decision);
PERF_COLD_DECL_ void perf_put_baseline_failure_(perf_out_ *out, const perf_baseline *baseline);
PERF_COLD_DECL_ void perf_put_baseline_head_(perf_out_ *out, const perf_baseline *baseline);
PERF_COLD_DECL_ void perf_put_odd_(perf_out_ *out, const perf_baseline_odd *odd, size_t runs);
PERF_COLD_DECL_ void perf_put_baseline_row_(perf_out_ *out, const perf_baseline_entry *entry);
PERF_COLD_DECL_ void perf_put_row_name_(perf_out_ *out, const char *name);
PERF_COLD_DECL_ void perf_put_figure_(perf_out_ *out, const perf_baseline_entry *entry, double x);
PERF_COLD_DECL_ void perf_put_since_(perf_out_ *out, const perf_baseline_entry *entry);
PERF_COLD_DECL_ void perf_put_baseline_undecided_(perf_out_ *out, const perf_baseline *baseline);
PERF_COLD_DECL_ void perf_put_undecided_(perf_out_ *out, const perf_baseline *baseline,
                                         const perf_baseline_entry *entry);
PERF_COLD_DECL_ size_t perf_undecided_runs_(const perf_baseline *baseline,
                                       const perf_baseline_entry *entry);
PERF_COLD_DECL_ double perf_undecided_percent_(const perf_baseline *baseline,
                                          const perf_baseline_entry *entry);
PERF_COLD_DECL_ void perf_put_outlook_(perf_out_ *out, const perf_baseline *baseline);

/* ---- checking: the whole ---- */

/* What a check knows. */
struct perf_checking_ {
    perf_read_        *old, *now;       /* the file and this run                                  */
    const perf_baseline_opts *asked;
    perf_compare_opts  opts;
    double            *pool;            /* room for the values of the largest entry               */
    size_t             used;            /* saved runs that count                                  */
    /* What entries share.  moved: a row for each run that counts, and a last one for this run:   */
    /* how far its `each` entries moved, sorted.  A row has room for all entries of this run.     */
    double            *moved;
    size_t             each;
    double             common;          /* the variance that is left of an entry                  */
    double             weight;          /* degrees of freedom that it counts                      */
    double            *noises, *sizes;  /* by entry, sorted: see perf_straying_                   */
    perf_baseline     *baseline;
    int                count_own;       /* 1: this run, if saved, is one of the saved runs        */
    const char        *counter;         /* the rule is about this count of loops; NULL: about time*/
    size_t             entry_room, odd_room;
};

PERF_FN perf_baseline perf_baseline_check(const char *path, const perf_baseline_opts *opts)
{
    return perf_baseline_of_(path, opts, 0);
}

PERF_COLD_FN_ void perf_baseline_fail_(perf_baseline *baseline, perf_status why, size_t at)
{
    if (baseline->status != PERF_OK)
        return;
    baseline->status = why;
    baseline->error_at = at;
}

/* The whole check, as perf_baseline_check promises.  count_own: see perf_checking_. */
PERF_COLD_FN_ perf_baseline perf_baseline_of_(const char *path, const perf_baseline_opts *opts,
                                              int count_own)
{
    const perf_baseline_opts none = PERF_ZERO;
    perf_baseline            baseline = PERF_ZERO;
    perf_checking_           check = PERF_ZERO;
    perf_read_               old, now;

    if (!opts)
        opts = &none;
    check.baseline = &baseline;
    check.asked = opts;
    baseline.any_machine = opts->any_machine != 0;
    check.count_own = count_own;
    if (PERF_DISABLE) {
        perf_baseline_fail_(&baseline, PERF_EDISABLED, 0);
        return baseline;
    }
    if (!perf_checking_rule_(&check, &opts->accept)) {
        perf_baseline_fail_(&baseline, PERF_EINVAL, 0);
        return baseline;
    }
    perf_read_beside_(path, &opts->now, check.counter, &old, &now);
    perf_checking_run_(&old, &now, &check);
    perf_read_free_(&old);
    perf_read_free_(&now);
    return baseline;
}

/* Puts the rule and its confidence, by default no more than 5 % worse at 95 %, into the check and
 * its result, and into `counter` what the rule counts.  0: one that runs cannot be held against. */
PERF_COLD_FN_ int perf_checking_rule_(perf_checking_ *check, const perf_compare_opts *accept)
{
    static const char *const counters[] = {"instructions", "cycles", "branches", "branch misses"};
    perf_compare_opts        opts = *accept;
    perf_rule               *rule = &opts.rule;

    if (rule->kind == PERF_RULE_SPEEDUP && !(rule->amount > 0.0) && !perf_is_nan_(rule->amount))
        *rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 5.0, rule->metric);
    check->opts = perf_compare_opts_resolved_(&opts);
    check->baseline->rule = check->opts.rule;
    check->baseline->confidence = check->opts.confidence;
    if (check->opts.rule.metric >= PERF_METRIC_INSTRUCTIONS &&
        check->opts.rule.metric <= PERF_METRIC_BRANCH_MISSES)
        check->counter = counters[check->opts.rule.metric - PERF_METRIC_INSTRUCTIONS];
    else if (check->opts.rule.metric >= PERF_METRIC_MEMORY)
        return 0;
    return perf_verdict_of_(&check->opts, PERF_NULL_, 0.0, 0.0).status == PERF_OK;
}

/* The check itself, of a file and of this run, which have been read.  The names of the entries stay
 * with the result.                                                                               */
PERF_COLD_FN_ void perf_checking_run_(perf_read_ *old, perf_read_ *now, perf_checking_ *check)
{
    check->old = old;
    check->now = now;
    perf_checking_order_(check);
    if (check->baseline->status == PERF_OK) {
        perf_baseline_runs_(check);
        perf_odd_runs_(check);
        perf_baseline_span_(check);
        if (check->asked->most_unchanged && check->used >= PERF_BASELINE_BESIDE_)
            perf_gather_(check);
        perf_checking_entries_(check);
        perf_baseline_family_(check->baseline, check->opts.rules);
    }
    check->baseline->memory_[0] = old->in.decoded;
    check->baseline->memory_[1] = now->in.decoded;
    old->in.decoded = now->in.decoded = PERF_CAST_(char *, PERF_NULL_);
    PERF_FREE(check->pool);
    PERF_FREE(check->moved);
}

/* Sorts the entries of the file and of this run by kind, name and run, and makes `pool`.  A failure
 * of reading or of memory becomes that of the result.                                            */
PERF_COLD_FN_ void perf_checking_order_(perf_checking_ *check)
{
    perf_read_ *old = check->old, *now = check->now;
    size_t      room;

    if (old->in.status != PERF_OK) {
        perf_baseline_fail_(check->baseline, old->in.status, old->in.error_at);
        return;
    }
    if (now->in.status != PERF_OK) {
        perf_baseline_fail_(check->baseline, now->in.status, 0);
        return;
    }
    room = old->values;
    if (room < now->values)
        room = now->values;
    check->pool = PERF_CAST_(double *, PERF_MALLOC((room + 1) * sizeof *check->pool));
    if (!check->pool || !perf_read_sort_(old) || !perf_read_sort_(now))
        perf_baseline_fail_(check->baseline, PERF_ENOMEM, 0);
}

/* By kind and name. */
PERF_COLD_FN_ int perf_read_compare_(const perf_read_entry_ *one, const perf_read_entry_ *other)
{
    if (one->kind != other->kind)
        return one->kind - other->kind;
    return strcmp(one->name, other->name);
}

/* By kind, name, run and place in the file, for qsort. */
PERF_COLD_FN_ int perf_read_before_(const void *x, const void *y)
{
    const perf_read_entry_ *one = *PERF_CAST_(perf_read_entry_ *const *, x);
    const perf_read_entry_ *other = *PERF_CAST_(perf_read_entry_ *const *, y);
    const int               order = perf_read_compare_(one, other);

    if (order)
        return order;
    if (one->of_run != other->of_run)
        return one->of_run - other->of_run;
    return (one > other) - (one < other);
}

/* Puts the entries in order; 0: no memory. */
PERF_COLD_FN_ int perf_read_sort_(perf_read_ *file)
{
    size_t i;

    file->order = PERF_CAST_(perf_read_entry_ **,
                           PERF_MALLOC((file->entries + 1) * sizeof *file->order));
    for (i = 0; file->order && i < file->entries; i++)
        file->order[i] = &file->entry[i];
    if (file->order)
        qsort(file->order, file->entries, sizeof *file->order, perf_read_before_);
    return file->order != PERF_NULL_;
}

/* 1: one process made both ids: "2026-11-21T12:00:00Z 4711" and one with another time, or with a
 * number behind it.                                                                              */
PERF_COLD_FN_ int perf_run_relatives_(const char *one, const char *other)
{
    const size_t from = sizeof "2026-11-21T12:00:00Z";
    size_t       length;

    if (strlen(one) < from || strlen(other) < from || one[from - 2] != 'Z' ||
        other[from - 2] != 'Z')
        return 0;
    length = strcspn(one + from, " ");
    return length == strcspn(other + from, " ") && !strncmp(one + from, other + from, length);
}

#define PERF_BASELINE_ROUNDED_S_ 0.01   /* how far a time in a file may be off                    */

/* 1: this process has saved the run since its start or the last perf_reset(): it holds what is
 * being checked.                                                                                 */
PERF_COLD_FN_ int perf_baseline_held_(const perf_checking_ *check, const perf_read_run_ *run)
{
    const perf_read_run_ *me = check->now->run;
    perf_registry_       *reg = perf_registry_read_();
    perf_spent_           spent;
    double                since;

    if (check->asked->now.run || check->asked->now.time_s > 0.0 || !reg || !perf_lock_(reg))
        return 0;
    spent = reg->spent;
    perf_unlock_(&reg->lock);
    spent = perf_spent_since_(&spent, 0);
    since = me->time_s - 1e-9 * PERF_CAST_(double, spent.ns) - PERF_BASELINE_ROUNDED_S_;
    return perf_run_relatives_(run->id, me->id) && run->time_s >= since &&
           run->time_s <= me->time_s;
}

/* The id under which this run was added before it was checked.  made 1: it was not given, so it is
 * the newest id of this process and second, with or without a number behind it.                  */
PERF_COLD_FN_ const char *perf_baseline_own_(const perf_checking_ *check, int made)
{
    const char  *own = check->now->run->id;
    const size_t length = strlen(own);
    size_t       i;

    for (i = 0; made && i < check->old->runs; i++) {
        const char *id = check->old->run[i].id;
        if (!strncmp(id, check->now->run->id, length) && (!id[length] || id[length] == ' '))
            own = id;
    }
    return own;
}

/* Notes a saved run of another machine or build, which does not count. */
PERF_COLD_FN_ void perf_baseline_other_(perf_baseline *baseline, const perf_read_run_ *run,
                                        int same_machine, int same_gpu)
{
    perf_out_ out = perf_out_open_(baseline->other, sizeof baseline->other);

    baseline->other_runs++;
    perf_put_(&out, same_machine ? run->compiler : run->machine);
    perf_put_(&out, ", ");
    perf_put_(&out, same_machine ? run->build : run->cpu);
    if (!same_gpu) {
        perf_put_(&out, ", ");
        perf_put_(&out, run->gpu);
    }
}

/* Marks and counts (`used`) the saved runs that count: of this machine, cpu, device, compiler and
 * build, or any if that was asked; never this run itself.  The result counts the others, and names
 * one.                                                                                           */
PERF_COLD_FN_ void perf_baseline_runs_(perf_checking_ *check)
{
    const perf_read_run_ *me = check->now->run;
    const char           *own;
    size_t                i;

    check->baseline->runs = check->old->runs;
    if (!check->now->runs)
        return;
    own = perf_baseline_own_(check, !check->asked->now.run);
    for (i = 0; i < check->old->runs; i++) {
        perf_read_run_ *run = &check->old->run[i];
        const int same_gpu = !*run->gpu || !*me->gpu || !strcmp(run->gpu, me->gpu);
        const int same_machine =
            !strcmp(run->machine, me->machine) && !strcmp(run->cpu, me->cpu) && same_gpu;
        const int same_build =
            !strcmp(run->compiler, me->compiler) && !strcmp(run->build, me->build);
        if (!check->count_own && (!strcmp(run->id, own) || perf_baseline_held_(check, run))) {
            check->baseline->own_runs++;
            continue;
        }
        if (check->asked->any_machine || (same_machine && same_build)) {
            run->ours = run->usable = 1;
            check->used++;
        } else {
            perf_baseline_other_(check->baseline, run, same_machine, same_gpu);
        }
    }
}

/* Sets span_s, what the runs that count cover, and age_s, how long ago that was; < 0: this run
 * comes before them.                                                                             */
PERF_COLD_FN_ void perf_baseline_span_(perf_checking_ *check)
{
    perf_baseline *baseline = check->baseline;
    double         time_s[PERF_READ_RUNS_], first, last, now_s;
    size_t         i, n = 0;

    if (!check->used)
        return;
    now_s = check->now->run[0].time_s;
    for (i = 0; i < check->old->runs; i++)
        if (check->old->run[i].usable)
            time_s[n++] = check->old->run[i].time_s;
    perf_times_cover_(time_s, n, &first, &last);
    baseline->span_s = last - first;
    if (now_s < first)
        baseline->age_s = now_s - first;
    else if (now_s >= last)
        baseline->age_s = now_s - last;
}

/* The first and the last of n times, which are sorted on the way.  Of eight and more, one at each
 * end is left out if it lies off by ten times what the others cover: a clock had not been set.   */
PERF_COLD_FN_ void perf_times_cover_(double *time_s, size_t n, double *first, double *last)
{
    size_t low = 0, high = n - 1;
    double most;

    perf_sort_values_(time_s, n);
    if (n >= PERF_ODD_SHARE_) {
        most = PERF_BASELINE_LEAST_S_ + 10.0 * (time_s[high - 1] - time_s[1]);
        if (time_s[1] - time_s[0] > most)
            low++;
        if (time_s[high] - time_s[high - 1] > most)
            high--;
    }
    *first = time_s[low];
    *last = time_s[high];
}

/* Gives the result its entries: each of this run, which perf_baseline_one_ judges, those of one
 * name together; then, as missing, each one of a saved run of ours that this run lacks.          */
PERF_COLD_FN_ void perf_checking_entries_(perf_checking_ *check)
{
    perf_baseline *baseline = check->baseline;
    size_t         i;

    for (i = 0; i < check->now->entries && baseline->status == PERF_OK; i++) {
        const perf_read_entry_ *like = &check->now->entry[i];
        const size_t            at = perf_read_find_(check->now, like);
        if (like->kind && check->now->order[at] == like)        /* the first of its name          */
            perf_baseline_one_(check, like);
    }
    for (i = 0; i < check->old->entries && baseline->status == PERF_OK; i++) {
        const perf_read_entry_ *like = check->old->order[i];
        perf_baseline_entry    *entry;
        if (!perf_read_first_(check->old, i) || !perf_read_ours_(check->old, i) ||
            perf_read_same_(check->now, perf_read_find_(check->now, like), like))
            continue;
        entry = perf_baseline_new_(check, like);
        if (!entry)
            break;
        entry->missing = 1;
        entry->verdict.reason = "missing: saved, but not measured now";
        baseline->missing++;
    }
}

/* The place in order of the first entry that is not before *entry; `entries`: there is none. */
PERF_COLD_FN_ size_t perf_read_find_(const perf_read_ *file, const perf_read_entry_ *entry)
{
    size_t low = 0, high = file->entries, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (perf_read_compare_(file->order[middle], entry) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* 1: entry `at` in order has the kind and the name of *entry; `at` may be behind the last. */
PERF_FN int perf_read_same_(const perf_read_ *file, size_t at, const perf_read_entry_ *entry)
{
    return at < file->entries && !perf_read_compare_(file->order[at], entry);
}

/* 1: entry `at` in order is the first of its name and kind, and measured something. */
PERF_FN int perf_read_first_(const perf_read_ *file, size_t at)
{
    const perf_read_entry_ *entry = file->order[at];

    return entry->kind && !(at && perf_read_same_(file, at - 1, entry));
}

/* 1: a run of ours has the entry `at` in order, which is the first of its name and kind. */
PERF_COLD_FN_ int perf_read_ours_(const perf_read_ *file, size_t at)
{
    const perf_read_entry_ *like = file->order[at];

    for (; perf_read_same_(file, at, like); at++)
        if (file->order[at]->of_run >= 0 && file->run[file->order[at]->of_run].ours)
            return 1;
    return 0;
}

/* A new entry of the result; NULL: no memory, which the result then says. */
PERF_COLD_FN_ perf_baseline_entry *perf_baseline_new_(perf_checking_ *check,
                                                      const perf_read_entry_ *like)
{
    perf_baseline       *baseline = check->baseline;
    perf_baseline_entry *entry;

    if (!perf_more_(&baseline->entry, &check->entry_room, baseline->entries, sizeof *entry)) {
        perf_baseline_fail_(baseline, PERF_ENOMEM, 0);
        return PERF_CAST_(perf_baseline_entry *, PERF_NULL_);
    }
    entry = &baseline->entry[baseline->entries++];
    memset(entry, 0, sizeof *entry);
    entry->name = like->name;
    entry->kind = PERF_CAST_(perf_baseline_kind, like->kind);
    entry->verdict = perf_verdict_of_(&check->opts, PERF_NULL_, 0.0, 0.0);
    entry->p = 1.0;
    return entry;
}

/* ---- checking: one entry ---- */

/* What the runs of a file say of one entry, oldest run first. */
struct perf_figures_ {
    double                  value[PERF_READ_RUNS_ + 2]; /* one a run, the middle of its repeats;  */
                                                        /* with room for the new run's            */
    int                     run[PERF_READ_RUNS_ + 2];   /* its index                              */
    size_t                  count;
    const perf_read_entry_ *last;       /* the entry of the last; NULL: there is none             */
    int                     rejected;   /* the first of the newest runs that were REJECTed one    */
                                        /* after the other; -1: the last was not                  */
};

/* What is known of an entry before it is judged. */
struct perf_judged_ {
    const double *logs;         /* of the saved runs, 0 on average; then that of the new one      */
    size_t        runs;         /* saved ones                                                     */
    double        tick;         /* how far they differ by the clock's step, as a log              */
    double        walk;         /* see perf_new_run_sd_                                           */
    int           beside;       /* 1: the other entries of the run may be asked                   */
};

/* Gives the result the entry of this run that has the name and kind of *like, judged by all saved
 * ones that have them, too.                                                                      */
PERF_COLD_FN_ void perf_baseline_one_(perf_checking_ *check, const perf_read_entry_ *like)
{
    perf_baseline_entry *entry = perf_baseline_new_(check, like);
    perf_figures_        saved, now;
    perf_judged_         judged;

    if (!entry)
        return;
    perf_figures_of_(check, check->old, like, 1, &saved);
    perf_figures_of_(check, check->now, like, 0, &now);
    if (!now.count) {
        entry->verdict.reason = "too few values for this rule";
        if (check->counter)
            entry->verdict.reason = "this run did not count it";
        return;
    }
    entry->now = now.value[0];
    if (!saved.count) {
        perf_baseline_fresh_(check, like, entry);
        return;
    }
    perf_odd_figures_(check, like->name, &saved);
    entry->runs = saved.count;
    saved.value[saved.count] = entry->now;
    entry->before = perf_exp_(perf_center_(saved.value, saved.count));
    entry->spread = perf_logs_spread_(saved.value, saved.count);
    judged.logs = saved.value;
    judged.runs = saved.count;
    judged.walk = perf_figures_walk_(check, &saved);
    judged.tick = perf_entry_tick_(like->kind, check->opts.rule.metric,
                                   perf_entry_step_(check->old, saved.last),
                                   perf_entry_step_(check->now, now.last));
    entry->unseen = judged.tick;
    judged.beside = check->each >= PERF_BASELINE_BESIDE_ && saved.count == check->used &&
                    like->kind != PERF_BASELINE_AB;
    entry->verdict = perf_judge_(check, &judged, &entry->p);
    if (saved.rejected >= 0 && entry->verdict.decision == PERF_REJECT)
        perf_baseline_began_(check, saved.rejected, entry);
    perf_baseline_since_(check, &judged, &saved, entry);
}

/* 1: one loop, which a process has saved in two runs: as many slices, of the same lengths. */
PERF_COLD_FN_ int perf_saved_twice_(const perf_read_ *one, const perf_read_entry_ *entry,
                                    const perf_read_ *other, const perf_read_entry_ *again)
{
    if (entry->of_run < 0 || again->of_run < 0)
        return 0;
    return entry->slices > 1 && entry->slices == again->slices &&
           !memcmp(one->value + entry->slice, other->value + again->slice,
                   entry->slices * sizeof *one->value) &&
           perf_run_relatives_(one->run[entry->of_run].id, other->run[again->of_run].id);
}

/* The place in order behind entry `at`, which is repeat *repeat of its run, from 1.  Behind the
 * last repeat that counts it is the place of the next run's first.                               */
PERF_COLD_FN_ size_t perf_read_onward_(const perf_read_ *file, size_t at, size_t *repeat)
{
    const perf_read_entry_ *entry = file->order[at];
    size_t                  low = at + 1, high = low, middle;

    if (*repeat >= PERF_BASELINE_REPEATS_)
        high = file->entries;
    while (low < high) {
        middle = low + (high - low) / 2;
        if (perf_read_same_(file, middle, entry) && file->order[middle]->of_run == entry->of_run)
            low = middle + 1;
        else
            high = middle;
    }
    ++*repeat;
    if (low == file->entries || file->order[low]->of_run != entry->of_run)
        *repeat = 1;
    return low;
}

/* 1: entry `at` in order of the file is no measurement of its own: this run or another saved one
 * holds the same.  Each add saves all loops of its process, those of its earlier adds, too.  first:
 * the place of the first of its name and kind.                                                   */
PERF_COLD_FN_ int perf_figure_counted_(const perf_checking_ *check, size_t first, size_t at)
{
    const perf_read_       *old = check->old, *now = check->now;
    const perf_read_entry_ *entry = old->order[at];
    size_t                  i, repeat = 1;

    for (i = first; old->order[i]->of_run != entry->of_run; i = perf_read_onward_(old, i, &repeat))
        if (perf_saved_twice_(old, old->order[i], old, entry))
            return 1;
    if (check->count_own)
        return 0;
    for (i = perf_read_find_(now, entry); perf_read_same_(now, i, entry); i++)
        if (perf_saved_twice_(now, now->order[i], old, entry))
            return 1;
    return 0;
}

/* Finds the figures of the entries with the name and kind of *like: one a run, the middle of its
 * repeats.  saved 1: of the runs that count, less what is marked or saved twice; 0: of this run. */
PERF_COLD_FN_ void perf_figures_of_(const perf_checking_ *check, const perf_read_ *file,
                                    const perf_read_entry_ *like, int saved, perf_figures_ *found)
{
    double       repeat[PERF_BASELINE_REPEATS_], figure;
    const size_t first = perf_read_find_(file, like);
    size_t       at = first, repeat_of_run = 1, repeats = 0;

    found->count = 0;
    found->rejected = -1;
    found->last = PERF_CAST_(const perf_read_entry_ *, PERF_NULL_);
    for (; perf_read_same_(file, at, like); at = perf_read_onward_(file, at, &repeat_of_run)) {
        const perf_read_entry_ *entry = file->order[at];
        if (saved && (entry->of_run < 0 || !file->run[entry->of_run].usable))
            continue;
        if (saved && entry->level) {
            if (entry->level == PERF_LEVEL_REJECTED_ && found->rejected < 0)
                found->rejected = entry->of_run;
            continue;
        }
        if (saved && perf_figure_counted_(check, first, at))
            continue;
        figure = perf_entry_figure_(file, entry, check->opts.rule.metric, check->pool);
        if (!(figure > 0.0))
            continue;
        found->rejected = -1;
        if (!found->last || entry->of_run != found->last->of_run) {
            repeats = 0;
            found->run[found->count++] = entry->of_run;
        }
        found->last = entry;
        repeat[repeats++] = figure;
        found->value[found->count - 1] = perf_middle_(repeat, repeats, 0.5);
    }
}

/* Quantile p of x, which is sorted on the way. */
PERF_FN double perf_middle_(double *x, size_t n, double p)
{
    perf_sort_values_(x, n);
    return perf_quantile_(x, n, p);
}

/* The figure that a rule on a metric compares. */
typedef struct perf_figure_ {
    double p;                   /* the quantile; < 0: the mean                                    */
    size_t least;               /* values that bound it at 95 %: fewer are not compared           */
    int    scope;               /* where a scope has it                                           */
} perf_figure_;

PERF_FN perf_figure_ perf_figure_of_(perf_metric metric)
{
    static const perf_figure_ median = {0.5, 0, PERF_SCOPE_P50_}, p50 = {0.5, 6, PERF_SCOPE_P50_},
                              p95 = {0.95, 72, PERF_SCOPE_P95_}, p99 = {0.99, 368, PERF_SCOPE_P99_},
                              mean = {-1.0, 0, PERF_SCOPE_MEAN_};

    if (metric == PERF_METRIC_P50)
        return p50;
    if (metric == PERF_METRIC_P95)
        return p95;
    if (metric == PERF_METRIC_P99)
        return p99;
    if (metric == PERF_METRIC_MEAN)
        return mean;
    return median;
}

/* The values of a bench; of an A/B loop, the ratios of its pairs. */
PERF_COLD_FN_ void perf_entry_values_(const perf_read_ *file, const perf_read_entry_ *entry,
                                      double *values)
{
    const double *from = file->value + entry->value;
    size_t        i;

    for (i = 0; i < entry->values; i++) {
        values[i] = from[i];
        if (entry->kind == PERF_BASELINE_AB)
            values[i] = from[entry->values + i] / from[i];
    }
}

/* The figure of an entry that a rule on that metric compares: the median of its values, or another
 * quantile, or the mean.  0: it has none, or too few values.  `pool` has room for the values of the
 * largest entry.                                                                                 */
PERF_COLD_FN_ double perf_entry_figure_(const perf_read_ *file, const perf_read_entry_ *entry,
                                        perf_metric metric, double *pool)
{
    const perf_figure_ of = perf_figure_of_(metric);
    double             figure = 0.0;
    size_t             i;

    if (entry->kind == PERF_BASELINE_SCOPE) {
        if (entry->figure[PERF_SCOPE_CALLS_] >= PERF_CAST_(double, of.least))
            figure = entry->figure[of.scope];
    } else if (entry->values >= of.least) {
        perf_entry_values_(file, entry, pool);
        if (of.p < 0.0)
            for (i = 0; i < entry->values; i++)
                figure += pool[i] / PERF_CAST_(double, entry->values);
        else
            figure = perf_middle_(pool, entry->values, of.p);
    }
    if (!perf_is_duration_(figure))
        return 0.0;
    return figure;
}

/* An entry that no saved run of ours has. */
PERF_COLD_FN_ void perf_baseline_fresh_(perf_checking_ *check, const perf_read_entry_ *like,
                                        perf_baseline_entry *entry)
{
    if (perf_read_same_(check->old, perf_read_find_(check->old, like), like)) {
        entry->verdict.reason = "saved by this run, another machine or another build only";
        if (check->counter && check->used)
            entry->verdict.reason = "the saved runs did not count it";
        return;
    }
    entry->verdict.reason = "new: not in the baseline";
    check->baseline->fresh++;
}

/* How far a random walk strays that lasts from the last of n runs until now: a factor on the
 * variance of those runs, which cover span_s.  0: this run comes as soon as those did.           */
PERF_FN double perf_walk_(double age_s, double span_s, size_t n)
{
    if (span_s < PERF_BASELINE_LEAST_S_)
        span_s = PERF_BASELINE_LEAST_S_;
    if (n < 2 || !(age_s > 2.0 * span_s / PERF_CAST_(double, n - 1)))
        return 0.0;
    return 2.0 + 6.0 * age_s / span_s;
}

/* A random walk's factor on the variance of the saved runs that have an entry; 0: no walk.  There
 * is none if the newest runs were REJECTed: waiting must not turn a change of the program into one
 * of the machine.                                                                                */
PERF_COLD_FN_ double perf_figures_walk_(const perf_checking_ *check, const perf_figures_ *found)
{
    double time_s[PERF_READ_RUNS_ + 2], first, last, span, age;
    size_t i;

    if (found->count < 2 || found->rejected >= 0)
        return 0.0;
    for (i = 0; i < found->count; i++)
        time_s[i] = check->old->run[found->run[i]].time_s;
    perf_times_cover_(time_s, found->count, &first, &last);
    span = last - first;
    age = check->now->run[0].time_s - last;
    if (age < -span)                            /* before the first: a clock was set              */
        age = -span - age;
    return perf_walk_(age, span, found->count);
}

/* The step of the clock over the smallest of the entry's values; 0: the file does not say. */
PERF_COLD_FN_ double perf_entry_step_(const perf_read_ *file, const perf_read_entry_ *entry)
{
    const double *value = file->value + entry->value;
    size_t        i, count = entry->values;
    double        least = PERF_INF_;

    if (!(entry->step > 0.0))
        return 0.0;
    if (entry->kind == PERF_BASELINE_AB)
        count *= 2;
    for (i = 0; i < count; i++)
        if (value[i] < least)
            least = value[i];
    return entry->step / least;
}

/* How far two figures may differ by the clock's resolution alone, as a log.  a, b: their steps, see
 * perf_entry_step_; of an A/B loop a figure is itself a ratio of two values.                     */
PERF_FN double perf_entry_tick_(int kind, perf_metric metric, double a, double b)
{
    const double least = 0.001, bucket = 1.0 / 32;      /* of a scope's histogram                 */
    double       step = perf_step_log_(a, b);

    if (kind == PERF_BASELINE_SCOPE)
        return metric == PERF_METRIC_MEAN ? least : bucket;
    if (kind == PERF_BASELINE_AB)
        step *= 2.0;
    return step > least ? step : least;
}

/* Makes value[0..n] logs around the mean of the first n, and returns that: changes are seen from
 * it.                                                                                            */
PERF_FN double perf_center_(double *value, size_t n)
{
    double mean = 0.0;
    size_t i;

    for (i = 0; i <= n; i++) {
        value[i] = perf_log_(value[i]);
        if (i < n)
            mean += value[i] / PERF_CAST_(double, n);
    }
    for (i = 0; i <= n; i++)
        value[i] -= mean;
    return mean;
}

/* The standard deviation of n logs that are 0 on average; 0: fewer than two. */
PERF_FN double perf_logs_spread_(const double *logs, size_t n)
{
    double squares = 0.0;
    size_t i;

    if (n < 2)
        return 0.0;
    for (i = 0; i < n; i++)
        squares += logs[i] * logs[i];
    return perf_sqrt_(squares / (PERF_CAST_(double, n) - 1.0));
}

/* A new run against the saved ones: its change as a log, beside the other entries without what they
 * share, and how it is distributed.                                                              */
struct perf_spread_ {
    double change, sd, df;
    double sd_fresh;            /* if all runs had been made at one time                          */
};

/* The verdict on an entry alone.  *p: two-sided, of no change beyond the threshold; 1: no claim.
 * half: of the interval; gap: from its middle to the threshold or the nearer limit.              */
PERF_COLD_FN_ perf_verdict perf_judge_(perf_checking_ *check, const perf_judged_ *judged, double *p)
{
    const perf_compare_opts *opts = &check->opts;
    const size_t             runs = judged->runs;
    perf_verdict             verdict;
    perf_spread_             spread = {0.0, 0.0, 0.0, 0.0};
    double                   change = judged->logs[runs], half = PERF_INF_, gap;

    *p = 1.0;
    if (runs > 1) {
        spread = perf_spread_alone_(judged->logs, runs, judged->walk);
        if (judged->beside && perf_spread_beside_(check, judged->logs, judged->walk, &spread))
            check->baseline->beside++;
        change = spread.change;
        half = spread.sd * perf_t_quantile_(0.5 + 0.5 * opts->confidence, spread.df);
    }
    verdict = perf_judged_verdict_(opts, judged, change, half);
    if (verdict.decision == PERF_INCONCLUSIVE)
        verdict.pairs_needed = PERF_INF_;       /* one new run stays one, however many were saved */
    if (verdict.warnings & PERF_WARN_OUTPUTS)   /* wrong outputs: no number of runs mends that    */
        return verdict;
    gap = perf_fabs_(perf_rule_room_(&verdict.rule, change)) - (judged->tick + 1e-12);
    perf_judge_reasons_(judged, &spread, gap, &verdict);
    if (check->baseline->any_machine && judged->runs < PERF_BASELINE_RUNS_)
        verdict.reason = "fewer than 6 saved runs: add some";
    if (runs < PERF_BASELINE_RUNS_ || !(gap > 0.0))
        return verdict;
    *p = 0.0;
    if (spread.sd > 0.0)
        *p = 2.0 * perf_t_cdf_(-gap / spread.sd, spread.df);
    return verdict;
}

/* A prediction interval (Student's) for a new run against the saved ones, as change, sd and df.
 * logs: theirs, 0 on average, and behind them that of the new run.  It covers the ratio if the runs
 * are alike but for the change.  sd is that of their logs times sqrt(1 + 1 / runs), df is runs - 1;
 * with a walk see perf_new_run_sd_.                                                              */
PERF_COLD_FN_ perf_spread_ perf_spread_alone_(const double *logs, size_t runs, double walk)
{
    double       variance = 0.0;
    perf_spread_ spread = {0.0, 0.0, 0.0, 0.0};
    size_t       i;

    for (i = 0; i < runs; i++)
        variance += logs[i] * logs[i] / (PERF_CAST_(double, runs) - 1.0);
    spread.change = logs[runs];
    spread.sd_fresh = perf_new_run_sd_(variance, runs, 0.0, &spread.df);
    spread.sd = perf_new_run_sd_(variance, runs, walk, &spread.df);
    return spread;
}

/* The standard deviation of the change of a new run, as a log, and *df, its degrees of freedom.
 * variance: of the logs of `runs` saved ones.  walk 0: they are fresh.  Else machines drift like a
 * random walk.  Seen over a span S, it has a sample variance of S/6; after a time `age` its
 * distance from the mean has the variance age + S/3; `walk` is their quotient.  It ends at 10 %: no
 * machine walks for ever, and noise of one second does not add up.                               */
PERF_FN double perf_new_run_sd_(double variance, size_t runs, double walk, double *df)
{
    const double n = PERF_CAST_(double, runs), stray = PERF_BASELINE_STRAY_ * PERF_BASELINE_STRAY_;
    double       walked = variance * walk;

    *df = n - 1.0;
    if (!(walk > 0.0))
        return perf_sqrt_(variance * (1.0 + 1.0 / n));
    if (*df > 4.0)              /* a walk has 2.5, but 4 missed at most 4.3 % of 40,000 simulated */
        *df = 4.0;
    if (walked > 2.0 * variance + stray)
        walked = 2.0 * variance + stray;
    return perf_sqrt_(walked);
}

/* The verdict of the rule (perf_verdict_of_) on a new run.  change: how far it differs from the
 * saved ones, as a log, known to +-half.                                                         */
PERF_COLD_FN_ perf_verdict perf_judged_verdict_(const perf_compare_opts *opts,
                                                const perf_judged_ *judged, double change,
                                                double half)
{
    const perf_interval interval = {change - half, change, change + half};
    perf_verdict        verdict = perf_verdict_of_(opts, &interval, judged->tick,
                                                   PERF_CAST_(double, judged->runs));

    verdict.pairs = 1;
    verdict.baseline_values = judged->runs;
    verdict.candidate_values = 1;
    return verdict;
}

/* Says what withholds a verdict: runs too few, or too old. */
PERF_COLD_FN_ void perf_judge_reasons_(const perf_judged_ *judged, const perf_spread_ *spread,
                                       double gap, perf_verdict *verdict)
{
    const double p = 0.5 + 0.5 * verdict->confidence, df = PERF_CAST_(double, judged->runs) - 1.0;
    const int    walked = verdict->decision == PERF_INCONCLUSIVE && judged->walk > 0.0;

    if (judged->runs < PERF_BASELINE_RUNS_) {
        verdict->decision = PERF_INCONCLUSIVE;
        verdict->pairs_needed = PERF_CAST_(double, PERF_BASELINE_RUNS_ - judged->runs);
        verdict->reason = "fewer than 6 saved runs of this machine and build: add some";
    } else if (walked && gap > spread->sd_fresh * perf_t_quantile_(p, df)) {
        verdict->reason = "the saved runs are too old for the time they cover: add some from now "
                          "on";
    }
}

/* ---- checking: a change that came with a saved run ---- */

#define PERF_CHANGE_RUNS_   10  /* fewer, this one included, say too little about what lasts      */
#define PERF_CHANGE_BEFORE_ 5   /* runs on the older side of a cut                                */
#define PERF_CHANGE_AFTER_  3   /* on the newer                                                   */
#define PERF_CHANGE_ALIKE_  0.95        /* no more correlation than this is counted               */
#define PERF_CHANGE_LEAST_  0.001       /* log: of runs that all take the same time               */
#define PERF_CHANGE_LEVEL_  0.1 /* so much of the chance of error that one check is allowed:      */
                                /* a history is looked at every night                             */

/* How runs differ in order: a cut between two levels, or a line. */
struct perf_change_ {
    size_t at;                  /* the first run of the new level; of a line 0                    */
    double before;              /* the log that it departs from                                   */
    double size;                /* the change up to this run, as a log                            */
    double se, df;              /* its standard error, and degrees of freedom                     */
    double p;                   /* one-sided, of no change beyond the rule; 1: no claim           */
};

/* Where the saved runs, this one behind them, show a change for the worse themselves, the entry
 * gets its `since`, and the verdict becomes that on this change, a REJECT.  Wrong outputs stay,
 * they say more.  So does a REJECT of this run against all, if its p is smaller.                 */
PERF_COLD_FN_ void perf_baseline_since_(perf_checking_ *check, const perf_judged_ *judged,
                                        const perf_figures_ *saved, perf_baseline_entry *entry)
{
    perf_verdict *verdict = &entry->verdict;
    const double  level = 1.0 - check->opts.confidence;
    perf_change_  change;
    double        half;
    int           run;

    if (check->opts.rule.kind != PERF_RULE_NO_REGRESSION || (verdict->warnings & PERF_WARN_OUTPUTS))
        return;
    change = perf_change_of_(judged->logs, judged->runs + 1, perf_log_(verdict->threshold),
                             judged->tick);
    if (!(2.0 * change.p <= PERF_CHANGE_LEVEL_ * level))
        return;
    entry->creeps = change.at == 0;
    entry->since = check->now->run[0].id;
    entry->since_label = check->now->run[0].label;
    entry->since_number = perf_baseline_number_(check, PERF_CAST_(int, check->old->runs) - 1) + 1;
    run = saved->rejected;
    if (change.at < judged->runs)
        run = saved->run[change.at];
    if (run >= 0)
        perf_baseline_began_(check, run, entry);
    if (verdict->decision == PERF_REJECT && entry->p < 2.0 * change.p)
        return;
    half = change.se * perf_t_quantile_(1.0 - 0.5 * level, change.df);
    entry->before *= perf_exp_(change.before);
    *verdict = perf_judged_verdict_(&check->opts, judged, change.size, half);
    entry->p = 2.0 * change.p;
}

/* The number of a saved run among those of this machine and build, from 1. */
PERF_COLD_FN_ size_t perf_baseline_number_(const perf_checking_ *check, int run)
{
    size_t number = 0;
    int    i;

    for (i = 0; i <= run; i++)
        if (check->old->run[i].ours)
            number++;
    return number;
}

/* Notes that the change came with that saved run. */
PERF_COLD_FN_ void perf_baseline_began_(const perf_checking_ *check, int run,
                                        perf_baseline_entry *entry)
{
    entry->since = check->old->run[run].id;
    entry->since_label = check->old->run[run].label;
    entry->since_number = perf_baseline_number_(check, run);
}

/* The change for the worse that the saved runs and this one, the last of n logs, show by
 * themselves.  Its p is 1 where they show none, and where this run is back at the old level.     */
PERF_COLD_FN_ perf_change_ perf_change_of_(const double *logs, size_t n, double threshold,
                                           double tick)
{
    perf_change_ none = {0, 0.0, 0.0, 0.0, 0.0, 1.0}, cut, line, found;
    double       part;

    if (n < PERF_CHANGE_RUNS_ || n > PERF_READ_RUNS_ + 1 || !(threshold >= 0.0))
        return none;                            /* below 0: the rule asks for a change            */
    cut = perf_change_cut_(logs, n);
    line = perf_change_line_(logs, n);
    perf_change_judge_(&cut, threshold, tick, PERF_CAST_(double, n));
    perf_change_judge_(&line, threshold, tick, 2.0);
    found = cut;
    if (line.p < cut.p)
        found = line;
    part = (logs[n - 1] - found.before) / found.size;       /* of the change that is still there  */
    if (!(part > 0.5))
        return none;
    return found;
}

/* Two levels, with a cut where they differ most. */
PERF_COLD_FN_ perf_change_ perf_change_cut_(const double *logs, size_t n)
{
    perf_change_ change = {0, 0.0, 0.0, 0.0, 0.0, 1.0};
    double       residual[PERF_READ_RUNS_ + 2], before = 0.0, after = 0.0, older, newer;
    size_t       i, at = perf_cut_(logs, n);

    if (!at)
        return change;
    older = PERF_CAST_(double, at);
    newer = PERF_CAST_(double, n - at);
    for (i = 0; i < n; i++) {
        if (i < at)
            before += logs[i] / older;
        else
            after += logs[i] / newer;
    }
    for (i = 0; i < n; i++)
        residual[i] = logs[i] - (i < at ? before : after);
    change.at = at;
    change.before = before;
    change.size = after - before;
    perf_change_error_(&change, residual, n, perf_sqrt_(1.0 / older + 1.0 / newer));
    return change;
}

/* The cut after which the runs differ most from those before: the largest sum of squares between
 * both sides.  0: there is none to be made.                                                      */
PERF_COLD_FN_ size_t perf_cut_(const double *logs, size_t n)
{
    double mean = 0.0, sum = 0.0, most = 0.0, between;
    size_t i, at = 0;

    for (i = 0; i < n; i++)
        mean += logs[i] / PERF_CAST_(double, n);
    for (i = 0; i + PERF_CHANGE_AFTER_ <= n; i++) {
        const double older = PERF_CAST_(double, i), newer = PERF_CAST_(double, n - i);
        between = 0.0;
        if (i >= PERF_CHANGE_BEFORE_)
            between = sum * sum * (1.0 / older + 1.0 / newer);
        if (between > most) {
            most = between;
            at = i;
        }
        sum += logs[i] - mean;
    }
    return at;
}

/* The line of least squares; its change is that over all runs. */
PERF_COLD_FN_ perf_change_ perf_change_line_(const double *logs, size_t n)
{
    const double middle = 0.5 * (PERF_CAST_(double, n) - 1.0);
    perf_change_ change = {0, 0.0, 0.0, 0.0, 0.0, 1.0};
    double       residual[PERF_READ_RUNS_ + 2], mean = 0.0, xx = 0.0, xy = 0.0, x, slope;
    size_t       i;

    for (i = 0; i < n; i++) {
        x = PERF_CAST_(double, i) - middle;
        mean += logs[i] / PERF_CAST_(double, n);
        xx += x * x;
        xy += x * logs[i];
    }
    slope = xy / xx;
    for (i = 0; i < n; i++)
        residual[i] = logs[i] - mean - slope * (PERF_CAST_(double, i) - middle);
    change.before = mean - slope * middle;
    change.size = 2.0 * slope * middle;
    perf_change_error_(&change, residual, n, 2.0 * middle / perf_sqrt_(xx));
    return change;
}

/* Fills in se and df from the residuals.  The standard error of the change would be `scale` times
 * theirs if they were independent.                                                               */
PERF_COLD_FN_ void perf_change_error_(perf_change_ *change, const double *residual, size_t n,
                                      double scale)
{
    const double inflation = perf_residuals_inflation_(residual, n);
    double       squares = 0.0, sd;
    size_t       i;

    for (i = 0; i < n; i++)
        squares += residual[i] * residual[i];
    change->df = PERF_CAST_(double, n) - 2.0;
    sd = perf_sqrt_(squares / change->df);
    if (sd < PERF_CHANGE_LEAST_)
        sd = PERF_CHANGE_LEAST_;
    change->se = sd * scale * perf_sqrt_(inflation);
    change->df /= inflation;
    if (change->df < 2.0)
        change->df = 2.0;
}

/* The correlation of residuals, which add up to 0, with those `lag` later, 0 to 0.95.  A mean takes
 * some of it away, about (1 + 3 rho) / n (Kendall 1954); a cut that was searched for takes about
 * three times that.                                                                              */
PERF_COLD_FN_ double perf_residuals_lag_(const double *residual, size_t n, size_t lag)
{
    double xx = 0.0, xy = 0.0, rho;
    size_t i;

    for (i = 0; i < n; i++) {
        xx += residual[i] * residual[i];
        if (i >= lag)
            xy += residual[i] * residual[i - lag];
    }
    if (!(xx > PERF_CHANGE_LEAST_ * PERF_CHANGE_LEAST_ * PERF_CAST_(double, n)))
        return 0.0;                             /* what is left of equal values is rounding       */
    rho = xy / xx;
    rho += 3.0 * (1.0 + 3.0 * rho) / PERF_CAST_(double, n);
    if (rho < 0.0)
        return 0.0;
    return rho < PERF_CHANGE_ALIKE_ ? rho : PERF_CHANGE_ALIKE_;
}

/* By what factor the variance grows because runs resemble their neighbours.  With a noise of each
 * run beside what lasts, the correlation begins lower than it goes on.                           */
PERF_COLD_FN_ double perf_residuals_inflation_(const double *residual, size_t n)
{
    const double one = perf_residuals_lag_(residual, n, 1);
    double       lasts = one;

    if (one * one * PERF_CAST_(double, n) > 9.0)        /* three standard deviations              */
        lasts = perf_most_(perf_residuals_lag_(residual, n, 2) / one, lasts);
    lasts = perf_least_(PERF_CHANGE_ALIKE_, lasts);
    return 1.0 + 2.0 * one / (1.0 - lasts);
}

/* Sets p, of no change beyond the threshold, a log, 0 or more.  tries: places where it might have
 * been.                                                                                          */
PERF_COLD_FN_ void perf_change_judge_(perf_change_ *change, double threshold, double tick,
                                      double tries)
{
    const double gap = change->size - threshold - tick;

    if (!(gap > 0.0) || !(change->se > 0.0))
        return;
    change->p = tries * perf_t_cdf_(-gap / change->se, change->df);
    if (change->p > 1.0)
        change->p = 1.0;
}

/* ---- checking: all entries ---- */

/* Decides the entries as one family: by Holm over those that have saved runs.  One keeps its
 * verdict if its p stays below 1 - confidence or its outputs are wrong; else it is INCONCLUSIVE.
 * Of `rules` that must all hold any one is enough for a REJECT.                                  */
PERF_COLD_FN_ void perf_baseline_family_(perf_baseline *baseline, int rules)
{
    double *p = PERF_CAST_(double *, PERF_MALLOC((baseline->entries + 1) * sizeof *p));
    size_t  i, n = 0;

    if (!p) {
        perf_baseline_fail_(baseline, PERF_ENOMEM, 0);
        return;
    }
    for (i = 0; i < baseline->entries; i++) {
        const perf_baseline_entry *entry = &baseline->entry[i];
        if (!entry->runs)
            continue;
        p[n] = entry->p;
        if (entry->verdict.decision == PERF_REJECT && rules > 1)
            p[n] *= rules;
        p[n] = perf_least_(p[n], 1.0);
        n++;
    }
    if (n && perf_adjust_holm_(p, n, p) != PERF_OK)
        perf_baseline_fail_(baseline, PERF_ENOMEM, 0);
    n = 0;
    for (i = 0; i < baseline->entries && baseline->status == PERF_OK; i++) {
        perf_baseline_entry *entry = &baseline->entry[i];
        const int            wrong = (entry->verdict.warnings & PERF_WARN_OUTPUTS) != 0;
        entry->decision = PERF_INCONCLUSIVE;
        if (!entry->runs)
            continue;
        if (wrong || p[n] <= 1.0 - baseline->confidence)
            entry->decision = entry->verdict.decision;
        n++;
    }
    perf_baseline_count_(baseline);
    PERF_FREE(p);
}

/* The first of equal values in an ascending array that holds x. */
PERF_FN size_t perf_sorted_place_(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n, mid;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (sorted[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* p-values of a family of n questions, adjusted (Holm 1979): running maxima of (n - i) p_(i), at
 * most 1; equal p share that of the first.  out may be p; what is no probability counts as 1.
 * PERF_EINVAL for NULL, PERF_ENODATA for n = 0, PERF_ENOMEM.                                     */
PERF_FN perf_status perf_adjust_holm_(const double *p, size_t n, double *out)
{
    double *sorted = PERF_CAST_(double *, PERF_NULL_), *adjusted, run = 0.0;
    size_t  i;

    if (!n)
        return PERF_ENODATA;
    if (!p || !out)
        return PERF_EINVAL;
    if (n <= SIZE_MAX / 32)
        sorted = PERF_CAST_(double *, PERF_MALLOC(2 * n * sizeof *sorted));
    if (!sorted)
        return PERF_ENOMEM;
    adjusted = sorted + n;
    for (i = 0; i < n; i++) {
        out[i] = p[i];
        if (!(out[i] >= 0.0))
            out[i] = 1.0;
        sorted[i] = out[i];
    }
    perf_sort_values_(sorted, n);
    for (i = 0; i < n; i++) {
        run = perf_most_(perf_least_(sorted[i] * PERF_CAST_(double, n - i), 1.0), run);
        adjusted[i] = run;
    }
    for (i = 0; i < n; i++)
        out[i] = adjusted[perf_sorted_place_(sorted, n, out[i])];
    PERF_FREE(sorted);
    return PERF_OK;
}

/* Counts the decisions of the entries; that of all is REJECT if any is, ACCEPT if all are. */
PERF_COLD_FN_ void perf_baseline_count_(perf_baseline *baseline)
{
    size_t i;

    baseline->accepted = baseline->rejected = 0;
    for (i = 0; i < baseline->entries; i++) {
        baseline->accepted += baseline->entry[i].decision == PERF_ACCEPT;
        baseline->rejected += baseline->entry[i].decision == PERF_REJECT;
    }
    baseline->decision = PERF_INCONCLUSIVE;
    if (baseline->rejected)
        baseline->decision = PERF_REJECT;
    else if (baseline->entries && baseline->accepted == baseline->entries)
        baseline->decision = PERF_ACCEPT;
}

PERF_FN void perf_baseline_free(perf_baseline *baseline)
{
    if (!baseline)
        return;
    PERF_FREE(baseline->entry);
    PERF_FREE(baseline->odd);
    PERF_FREE(baseline->memory_[0]);
    PERF_FREE(baseline->memory_[1]);
    memset(baseline, 0, sizeof *baseline);
}

/* ---- checking: saved runs that are left out ----
 *
 * One run of eight that a backup slowed down twofold would make the spread so wide that nothing is
 * found for weeks.  It is left out, and named.  An entry of two speeds is not: what it did once it
 * may do again.                                                                                  */

/* Leaves out runs in which most entries lie far off. */
PERF_COLD_FN_ void perf_odd_runs_(perf_checking_ *check)
{
    double move[PERF_READ_RUNS_ + 2], off[PERF_READ_RUNS_ + 2];
    int    index[PERF_READ_RUNS_ + 2];
    size_t i, each = 0, n = check->used;

    if (n > PERF_BASELINE_RUNS_)
        each = perf_odd_moves_(check, move, index);
    if (!each)
        return;
    if (!perf_odd_ones_(move, n, each < PERF_ODD_ENTRIES_ ? PERF_ODD_ENTRY_ : PERF_ODD_RUN_, off))
        return;
    for (i = 0; i < n; i++) {
        if (!(off[i] < 0.0 || off[i] > 0.0))
            continue;
        check->old->run[index[i]].usable = 0;
        check->used--;
        perf_odd_note_(check, index[i], off[i], PERF_CAST_(const char *, PERF_NULL_));
    }
}

/* move[j]: how far run index[j] moved as a whole, the median over the entries that all runs have.
 * Ratios have no part in it.  Returns how many entries those are; 0: none, or no memory.         */
PERF_COLD_FN_ size_t perf_odd_moves_(const perf_checking_ *check, double *move, int *index)
{
    const size_t  room = check->now->entries, used = check->used;
    double       *all = PERF_CAST_(double *, PERF_MALLOC((used * room + 1) * sizeof *all));
    double        sorted[PERF_READ_RUNS_ + 2], middle;
    size_t        i, j, each = 0;
    perf_figures_ found;

    if (!all)
        return 0;
    for (i = 0; i < room; i++) {
        const perf_read_entry_ *entry = check->now->order[i];
        if (!perf_read_first_(check->now, i) || entry->kind == PERF_BASELINE_AB)
            continue;
        perf_figures_of_(check, check->old, entry, 1, &found);
        if (found.count < used)
            continue;
        memcpy(sorted, found.value, used * sizeof *sorted);
        middle = perf_log_(perf_middle_(sorted, used, 0.5));
        for (j = 0; j < used; j++) {
            all[j * room + each] = perf_log_(found.value[j]) - middle;
            index[j] = found.run[j];
        }
        each++;
    }
    for (j = 0; j < used && each; j++)
        move[j] = perf_middle_(all + j * room, each, 0.5);
    PERF_FREE(all);
    return each;
}

/* Leaves out of an entry's figures those that lie far off. */
PERF_COLD_FN_ void perf_odd_figures_(perf_checking_ *check, const char *name, perf_figures_ *found)
{
    double x[PERF_READ_RUNS_ + 2], off[PERF_READ_RUNS_ + 2];
    size_t i, kept = 0;

    for (i = 0; i < found->count; i++)
        x[i] = perf_log_(found->value[i]);
    if (found->count <= PERF_BASELINE_RUNS_ ||
        !perf_odd_ones_(x, found->count, PERF_ODD_ENTRY_, off))
        return;
    for (i = 0; i < found->count; i++) {
        if (off[i] < 0.0 || off[i] > 0.0) {
            perf_odd_note_(check, found->run[i], off[i], name);
            continue;
        }
        found->value[kept] = found->value[i];
        found->run[kept++] = found->run[i];
    }
    found->count = kept;
}

/* How many of the values x, logs, lie far off: by `least` and more, and by more than noise.
 * off[i]: how far; 0: not far.  Returns 0 if more do than may be left out.                       */
PERF_COLD_FN_ size_t perf_odd_ones_(const double *x, size_t n, double least, double *off)
{
    double sorted[PERF_READ_RUNS_ + 2], middle, sd, far_off;
    size_t i, odd = 0;

    memcpy(sorted, x, n * sizeof *x);
    middle = perf_middle_(sorted, n, 0.5);
    for (i = 0; i < n; i++)
        sorted[i] = perf_fabs_(x[i] - middle);
    sd = 1.4826 * perf_middle_(sorted, n, 0.5);         /* of a normal law                        */
    sd = perf_most_(PERF_ODD_LEAST_, sd);
    far_off = perf_most_(PERF_ODD_NOISES_ * sd, least);
    for (i = 0; i < n; i++) {
        off[i] = x[i] - middle;
        if (off[i] > far_off || off[i] < -far_off)
            odd++;
        else
            off[i] = 0.0;
    }
    if (odd * PERF_ODD_SHARE_ > n || n - odd < PERF_BASELINE_RUNS_)
        return 0;
    return odd;
}

/* Notes that a run was left out, of one entry or (NULL) of all. */
PERF_COLD_FN_ void perf_odd_note_(perf_checking_ *check, int run, double off, const char *entry)
{
    perf_baseline       *baseline = check->baseline;
    const perf_read_    *old = check->old;
    perf_baseline_odd   *odd;

    if (!perf_more_(&baseline->odd, &check->odd_room, baseline->odds, sizeof *odd)) {
        perf_baseline_fail_(baseline, PERF_ENOMEM, 0);
        return;
    }
    odd = &baseline->odd[baseline->odds++];
    memset(odd, 0, sizeof *odd);
    odd->run = old->run[run].id;
    odd->label = old->run[run].label;
    odd->entry = entry;
    odd->time_s = old->run[run].time_s;
    odd->load = old->run[run].load;
    odd->ratio = perf_exp_(off);
    odd->number = perf_baseline_number_(check, run);
}

/* ---- checking: what entries share ---- */

#define PERF_BESIDE_WEIGHT_ 12.0        /* most degrees of freedom of the prior                   */
#define PERF_BESIDE_FAR_    0.99995     /* a quantile: the others may move as far, by chance 1 in */
                                        /* 10,000 on both sides                                   */

/* How far an entry moved in this run.  noises: |change| over what its noise stays below in two
 * thirds of cases, so 1 is typical.  size: the standard deviation of a normal law that has this
 * |change| as its median.                                                                        */
struct perf_straying_ {
    double noises, size;
};

/* Fills in what entries share, if there are enough of them. */
PERF_COLD_FN_ void perf_gather_(perf_checking_ *check)
{
    double        *own = perf_gather_room_(check);
    perf_spread_   beside;
    perf_straying_ stray;
    size_t         i;

    if (!own)
        return;
    perf_gather_moves_(check, own);
    if (check->each < PERF_BASELINE_BESIDE_)
        return;
    perf_gather_prior_(check, own);
    for (i = 0; i < check->each; i++) {
        stray.noises = stray.size = PERF_INF_;
        if (perf_beside_of_(check, own + i * (check->used + 1), &beside))
            stray = perf_strayed_(check, &beside);
        check->noises[i] = stray.noises;
        check->sizes[i] = stray.size;
    }
    perf_sort_values_(check->noises, check->each);
    perf_sort_values_(check->sizes, check->each);
}

/* Memory for what entries share: moved, noises, sizes.  Returns what is behind them: a row an
 * entry, of its own moves.  NULL: no memory.                                                     */
PERF_COLD_FN_ double *perf_gather_room_(perf_checking_ *check)
{
    const size_t rows = check->used + 1, room = check->now->entries;
    const size_t numbers = 2 * (rows + 1) * (room + 1);

    check->moved = PERF_CAST_(double *, PERF_MALLOC(numbers * sizeof *check->moved));
    if (!check->moved) {
        perf_baseline_fail_(check->baseline, PERF_ENOMEM, 0);
        return PERF_CAST_(double *, PERF_NULL_);
    }
    check->noises = check->moved + rows * room;
    check->sizes = check->noises + room;
    return check->sizes + room;
}

/* Fills `moved` by run, and `own` by entry, from the entries that are in every run; ratios are left
 * out.                                                                                           */
PERF_COLD_FN_ void perf_gather_moves_(perf_checking_ *check, double *own)
{
    const size_t  rows = check->used + 1, room = check->now->entries;
    perf_figures_ saved, now;
    size_t        i, j;

    for (i = 0; i < room; i++) {
        const perf_read_entry_ *entry = check->now->order[i];
        if (!perf_read_first_(check->now, i) || entry->kind == PERF_BASELINE_AB)
            continue;
        perf_figures_of_(check, check->old, entry, 1, &saved);
        perf_figures_of_(check, check->now, entry, 0, &now);
        if (saved.count < check->used || !now.count)
            continue;
        saved.value[check->used] = now.value[0];
        (void)perf_center_(saved.value, check->used);
        memcpy(own + check->each * rows, saved.value, rows * sizeof *own);
        for (j = 0; j < rows; j++)
            check->moved[j * room + check->each] = saved.value[j];
        check->each++;
    }
    for (j = 0; j < rows; j++)
        perf_sort_values_(check->moved + j * room, check->each);
}

/* The prior: the geometric mean of the entries' variances.  It weighs PERF_BESIDE_WEIGHT_ degrees
 * of freedom, or fewer if entries differ more than sampling explains: 2 / excess.  Sampling: the
 * log of a variance with df degrees is on average 1 / df too low, and has the variance 2 / df + 2 /
 * df^2.                                                                                          */
PERF_COLD_FN_ void perf_gather_prior_(perf_checking_ *check, const double *own)
{
    const size_t rows = check->used + 1;
    const double df = PERF_CAST_(double, check->used) - 2.0;
    const double least = 1e-6;                  /* a tenth of 1 %, squared                        */
    double       sum = 0.0, squares = 0.0, n = 0.0, change = 0.0, times, excess, variance, x;
    size_t       i;

    for (i = 0; i < check->each; i++) {
        variance = perf_beside_regress_(check, own + i * rows, &change, &times);
        if (variance < 0.0)
            continue;
        x = perf_log_(variance + least);
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    check->common = perf_exp_(sum / n + 1.0 / df);
    excess = (squares - sum * sum / n) / (n - 1.0) - 2.0 / df - 2.0 / (df * df);
    check->weight = PERF_BESIDE_WEIGHT_;
    if (excess > 2.0 / check->weight)
        check->weight = 2.0 / excess;
}

/* The spread of a new run beside the other entries of its run.  0: those cannot tell, and *spread
 * is as it was.                                                                                  */
PERF_COLD_FN_ int perf_spread_beside_(const perf_checking_ *check, const double *logs, double walk,
                                      perf_spread_ *spread)
{
    perf_spread_ beside;

    if (!perf_beside_of_(check, logs, &beside))
        return 0;
    if (walk > 0.0 && !perf_beside_old_(check, &beside))
        return 0;
    *spread = beside;
    return 1;
}

/* An entry beside the others; 0: they moved too far to tell.  An entry much noisier than the others
 * has its own noise alone; else the prior variance, `common`, counts with its weight.            */
PERF_COLD_FN_ int perf_beside_of_(const perf_checking_ *check, const double *logs,
                                  perf_spread_ *beside)
{
    double variance, times;

    beside->change = logs[check->used];
    variance = perf_beside_regress_(check, logs, &beside->change, &times);
    if (variance < 0.0)
        return 0;
    beside->df = PERF_CAST_(double, check->used) - 2.0;
    if (variance < 2.0 * check->common) {
        variance = (beside->df * variance + check->weight * check->common) /
                   (beside->df + check->weight);
        beside->df += check->weight;
    }
    beside->sd_fresh = perf_sqrt_(variance * times);
    beside->sd = beside->sd_fresh;
    return 1;
}

/* A regression of the logs, 0 on average, on how far the other entries of each run moved.  It takes
 * their part out of the change of the new run, the last.  *times: the variance of that change over
 * a single run's, which is returned.  -1: the others moved farther than they do by themselves.   */
PERF_COLD_FN_ double perf_beside_regress_(const perf_checking_ *check, const double *logs,
                                          double *change, double *times)
{
    const size_t runs = check->used, low = check->each / 2, high = (check->each + 1) / 2;
    const double n = PERF_CAST_(double, runs), rounding = 1e-12;
    double       others[PERF_READ_RUNS_ + 1], middle = 0.0, x, most, squares;
    double       xx = rounding * n, xy = 0.0, yy = 0.0;
    size_t       j;

    for (j = 0; j <= runs; j++) {               /* the median of the others: ranks low, high      */
        const double *all = check->moved + j * check->now->entries;
        others[j] = 0.5 * (perf_stray_others_(all, low, logs[j]) +
                           perf_stray_others_(all, high, logs[j]));
        if (j < runs)
            middle += others[j] / n;
    }
    for (j = 0; j < runs; j++) {
        x = others[j] - middle;
        xx += x * x;
        xy += x * logs[j];
        yy += logs[j] * logs[j];
    }
    x = others[runs] - middle;                  /* from here on of the new run                    */
    most = perf_t_quantile_(PERF_BESIDE_FAR_, n - 1.0);
    if (!(x * x < most * most * (1.0 + 1.0 / n) * xx / (n - 1.0)))
        return -1.0;
    squares = yy - xy * xy / xx;
    *change -= xy / xx * x;
    *times = 1.0 + 1.0 / n + x * x / xx;
    if (!(squares > 0.0))
        return 0.0;
    return squares / (n - 2.0);
}

/* The ranks at two thirds and at one half of n sorted entries, from 1. */
PERF_FN size_t perf_rank_two_thirds_(size_t n)
{
    return (2 * n + 1) / 3;
}

PERF_FN size_t perf_rank_half_(size_t n)
{
    return (n + 1) / 2;
}

/* Sets sd, for saved runs that are old: by how far the others strayed since.  0: that is not
 * known.                                                                                         */
PERF_COLD_FN_ int perf_beside_old_(const perf_checking_ *check, perf_spread_ *beside)
{
    const double   most_df = 0.5 * PERF_CAST_(double, check->each) - 0.5;
    perf_straying_ stray = perf_strayed_(check, beside);

    stray.noises = perf_stray_others_(check->noises, perf_rank_two_thirds_(check->each),
                                      stray.noises);
    stray.size = perf_stray_others_(check->sizes, perf_rank_half_(check->each), stray.size);
    if (most_df < beside->df)
        beside->df = most_df;
    if (stray.noises > 1.0)
        beside->sd = stray.noises * beside->sd_fresh;
    if (stray.size > beside->sd)
        beside->sd = stray.size;
    return beside->sd < PERF_INF_;
}

/* The value at that rank, from 1, among the others: of the sorted ones, `own` is left out. */
PERF_FN double perf_stray_others_(const double *sorted, size_t rank, double own)
{
    return own <= sorted[rank - 1] ? sorted[rank] : sorted[rank - 1];
}

/* How far an entry strayed, see perf_straying_.  Not exactly two thirds and one half: the shares of
 * entries up to the ranks at which perf_beside_old_ looks.                                       */
PERF_COLD_FN_ perf_straying_ perf_strayed_(const perf_checking_ *check, const perf_spread_ *beside)
{
    const double  change = perf_fabs_(beside->change), n = PERF_CAST_(double, check->each);
    const double  two_thirds = PERF_CAST_(double, perf_rank_two_thirds_(check->each)) / n;
    const double  half = PERF_CAST_(double, perf_rank_half_(check->each)) / n;
    const double  below = perf_t_quantile_(0.5 + 0.5 * two_thirds, beside->df);
    perf_straying_ stray;

    stray.noises = change / (beside->sd_fresh * below);
    stray.size = change / perf_normal_quantile_(0.5 + 0.5 * half);
    return stray;
}

/* ---- the table ---- */

PERF_FN perf_status perf_baseline_to(FILE *file, const perf_baseline *baseline)
{
    perf_out_   out;
    perf_status status = PERF_OK;

    if (!file || !baseline)
        return PERF_EINVAL;
    out = perf_out_grows_();
#if PERF_POSIX_FILES_
    perf_screen_of_(&out, file);
#endif
    perf_put_baseline_(&out, baseline);
    if (out.failed)
        status = PERF_ENOMEM;
    else if (!perf_out_write_(file, out.p, out.len, 0))
        status = PERF_EIO;
    PERF_FREE(out.p);
    return status;
}

PERF_COLD_FN_ void perf_put_baseline_(perf_out_ *out, const perf_baseline *baseline)
{
    const size_t open = baseline->entries - baseline->accepted - baseline->rejected;
    size_t       i;

    if (baseline->status != PERF_OK) {
        perf_put_baseline_failure_(out, baseline);
        return;
    }
    perf_put_baseline_head_(out, baseline);
    if (baseline->entries)
        perf_put_(out, "  name                             before        now  runs"
                       "             change [interval]  verdict\n");
    for (i = 0; i < baseline->entries; i++)
        perf_put_baseline_row_(out, &baseline->entry[i]);
    perf_put_baseline_undecided_(out, baseline);
    perf_put_decision_in_color_(out, baseline->decision);
    perf_putf_(out, ": %.0f %s, %.0f ACCEPT, %.0f REJECT, %.0f INCONCLUSIVE (%.0f new, %.0f "
                    "missing)\n", PERF_CAST_(double, baseline->entries),
               baseline->entries == 1 ? "entry" : "entries", PERF_CAST_(double, baseline->accepted),
               PERF_CAST_(double, baseline->rejected), PERF_CAST_(double, open),
               PERF_CAST_(double, baseline->fresh), PERF_CAST_(double, baseline->missing));
}

/* "ACCEPT", on a screen in the colour of the decision. */
PERF_COLD_FN_ void perf_put_decision_in_color_(perf_out_ *out, perf_decision decision)
{
    const char *color = "";

    if ((out->style & PERF_COLOR_) && decision == PERF_ACCEPT)
        color = "\033[32m";
    else if ((out->style & PERF_COLOR_) && decision == PERF_REJECT)
        color = "\033[31m";
    perf_putf_(out, "%s%s%s", color, perf_decision_text(decision), *color ? "\033[0m" : "");
}

PERF_COLD_FN_ void perf_put_baseline_failure_(perf_out_ *out, const perf_baseline *baseline)
{
    const char *why = perf_status_text(baseline->status);

    if (baseline->status == PERF_ENODATA)
        why = "no such file";
    perf_put_(out, why);
    if (baseline->error_at)
        perf_putf_(out, " at byte %.0f", PERF_CAST_(double, baseline->error_at));
    perf_put_char_(out, '\n');
}

/* "3 hours" between two texts; nothing at all for 0.  Only seconds can be 1: "1 second". */
PERF_COLD_FN_ void perf_put_span_(perf_out_ *out, const char *before, double seconds,
                                  const char *behind)
{
    static const struct {
        double      below, unit;
        const char *name;
    } scale[] = {{1.5, 1, "second"}, {120, 1, "seconds"}, {7200, 60, "minutes"},
                 {172800, 3600, "hours"}, {1e300, 86400, "days"}};
    int i = 0;

    if (!(seconds > 0.0))
        return;
    if (seconds < 0.5)                          /* it prints "0 seconds"                          */
        i = 1;
    while (seconds >= scale[i].below)
        i++;
    perf_putf_(out, "%s%.0f %s%s", before, seconds / scale[i].unit, scale[i].name, behind);
}

/* How many runs of the file count. */
PERF_FN size_t perf_baseline_used_(const perf_baseline *baseline)
{
    return baseline->runs - baseline->other_runs - baseline->own_runs;
}

/* What the verdicts rest on, above the rows. */
PERF_COLD_FN_ void perf_put_baseline_head_(perf_out_ *out, const perf_baseline *baseline)
{
    const size_t used = perf_baseline_used_(baseline);
    const char  *which = baseline->any_machine ? "any" : "this";
    size_t       i;

    perf_putf_(out, "baseline: %.0f run%s of %s machine and build", PERF_CAST_(double, used),
               used == 1 ? "" : "s", which);
    perf_put_span_(out, " within ", baseline->span_s, "");
    perf_put_span_(out, ", the last ", baseline->age_s, " ago");
    perf_put_span_(out, ", the first ", -baseline->age_s, " later by the clock");
    perf_put_(out, "; asked: ");
    perf_put_rule_(out, &baseline->rule);
    if (baseline->beside)
        perf_put_(out, ", beside what the entries share");
    perf_put_char_(out, '\n');
    if (baseline->other_runs)
        perf_putf_(out, "warning: %.0f run%s of another machine or build left out: %.200s\n",
                   PERF_CAST_(double, baseline->other_runs), baseline->other_runs == 1 ? "" : "s",
                   baseline->other);
    for (i = 0; i < baseline->odds; i++)
        perf_put_odd_(out, &baseline->odd[i], used);
}

/* "run 5 of 16 (2026-11-21T03:00:00, load 7.5, 1f3a9c) is 100 % off: left out" */
PERF_COLD_FN_ void perf_put_odd_(perf_out_ *out, const perf_baseline_odd *odd, size_t runs)
{
    const double percent = 100.0 * (odd->ratio - 1.0);

    if (odd->entry)
        perf_putf_(out, "%.60s: ", odd->entry);
    perf_putf_(out, "run %.0f of %.0f (", PERF_CAST_(double, odd->number),
               PERF_CAST_(double, runs));
    perf_put_date_(out, odd->time_s);
    if (odd->load >= 0.0)
        perf_putf_(out, ", load %.1f", odd->load);
    if (*odd->label)
        perf_putf_(out, ", %.60s", odd->label);
    perf_putf_(out, ") is %.0f %% off: left out\n", percent < 0.0 ? -percent : percent);
}

PERF_COLD_FN_ void perf_put_baseline_row_(perf_out_ *out, const perf_baseline_entry *entry)
{
    const perf_verdict *verdict = &entry->verdict;
    char                text[96];
    perf_out_           change = perf_out_open_(text, sizeof text);

    perf_put_row_name_(out, entry->name);
    perf_put_figure_(out, entry, entry->before);
    perf_put_figure_(out, entry, entry->now);
    perf_putf_(out, "%6.0f", PERF_CAST_(double, entry->runs));
    if (!perf_is_nan_(verdict->ratio.estimate))
        perf_put_interval_(&change, verdict, 0, 1);
    perf_putf_(out, "%30s  ", text);
    perf_put_decision_in_color_(out, entry->decision);
    if (entry->decision != verdict->decision)
        perf_putf_(out, " (alone %s)", perf_decision_text(verdict->decision));
    else if (entry->decision == PERF_INCONCLUSIVE && verdict->reason)
        perf_putf_(out, ": %s", verdict->reason);
    perf_put_since_(out, entry);
    if (entry->again) {
        perf_putf_(out, "; measured again %.0f times", PERF_CAST_(double, entry->again));
        if (entry->withdrawn)
            perf_put_(out, ": REJECT withdrawn");
        else if (entry->decision == PERF_REJECT)
            perf_put_(out, ": confirmed");
    }
    perf_put_char_(out, '\n');
}

#define PERF_BASELINE_NAME_ 28u         /* columns of a name in the table                         */

/* A name in its column, or in a line of its own: the ends of long names differ, too. */
PERF_COLD_FN_ void perf_put_row_name_(perf_out_ *out, const char *name)
{
    if (perf_columns_(name) > PERF_BASELINE_NAME_) {
        perf_put_(out, "  ");
        perf_put_clean_(out, name, '?');
        perf_put_char_(out, '\n');
        name = "";
    }
    perf_putf_(out, "  %-28s", name);
}

/* A figure in 11 columns, in the unit of its entry and rule; "-": none. */
PERF_COLD_FN_ void perf_put_figure_(perf_out_ *out, const perf_baseline_entry *entry, double x)
{
    if (!(x > 0.0))
        perf_putf_(out, "%11s", "-");
    else if (entry->kind == PERF_BASELINE_AB)
        perf_putf_(out, "%10.3fx", x);
    else if (entry->verdict.rule.metric >= PERF_METRIC_INSTRUCTIONS)
        perf_putf_(out, "%11.*f", x < 1000.0 ? 2 : 0, x);
    else
        perf_put_ns_in_(out, x, 11);
}

/* ": since run 12 (1f3a9c)" */
PERF_COLD_FN_ void perf_put_since_(perf_out_ *out, const perf_baseline_entry *entry)
{
    if (!entry->since || entry->decision != PERF_REJECT)
        return;
    if (entry->creeps)
        perf_putf_(out, ": worse run by run since run %.0f",
                   PERF_CAST_(double, entry->since_number));
    else
        perf_putf_(out, ": since run %.0f", PERF_CAST_(double, entry->since_number));
    if (*entry->since_label)
        perf_putf_(out, " (%.60s)", entry->since_label);
}

/* ---- what a baseline can find, and what would make it decide ---- */

#define PERF_OUTLOOK_DAY_   86400.0
#define PERF_OUTLOOK_POWER_ 0.9         /* what is said to be found is found so often             */
#define PERF_OUTLOOK_LINES_ 8u          /* of entries that are open                               */

/* Says what would decide the entries that are open, below the rows. */
PERF_COLD_FN_ void perf_put_baseline_undecided_(perf_out_ *out, const perf_baseline *baseline)
{
    size_t i, open = 0;

    for (i = 0; i < baseline->entries; i++) {
        const perf_baseline_entry *entry = &baseline->entry[i];
        const int                  compared = entry->runs && !entry->missing;
        const int                  wrong = (entry->verdict.warnings & PERF_WARN_OUTPUTS) != 0;
        const int                  withheld = entry->p <= 1.0 - baseline->confidence &&
                                              entry->verdict.decision == PERF_INCONCLUSIVE;
        if (entry->decision != PERF_INCONCLUSIVE || !compared || wrong || withheld)
            continue;                           /* no run makes up for a missing accuracy check   */
        if (open++ < PERF_OUTLOOK_LINES_)
            perf_put_undecided_(out, baseline, entry);
    }
    if (open > PERF_OUTLOOK_LINES_)
        perf_putf_(out, "  and %.0f more that are open\n",
                   PERF_CAST_(double, open - PERF_OUTLOOK_LINES_));
}

/* "to decide parse: 12 more saved runs, 3 hours apart, or ask for no more than 9 % worse" */
PERF_COLD_FN_ void perf_put_undecided_(perf_out_ *out, const perf_baseline *baseline,
                                       const perf_baseline_entry *entry)
{
    const size_t more = perf_undecided_runs_(baseline, entry);
    const double percent = perf_undecided_percent_(baseline, entry);
    const int    helps = percent < 1000.0 && percent > baseline->rule.amount;
    const int    ask = helps && entry->runs >= PERF_BASELINE_RUNS_ &&
                    baseline->rule.kind == PERF_RULE_NO_REGRESSION;
    double       apart = 0.0;

    if (!more && !ask)
        return;
    if (entry->runs > 1)
        apart = baseline->span_s / PERF_CAST_(double, entry->runs - 1);
    if (baseline->age_s > apart)
        apart = baseline->age_s;
    perf_putf_(out, "  to decide %.60s: ", entry->name);
    if (more)
        perf_putf_(out, "%.0f more saved run%s", PERF_CAST_(double, more), more == 1 ? "" : "s");
    if (more > 1 && apart >= 1.0)
        perf_put_span_(out, ", ", apart, " apart");
    if (ask)
        perf_putf_(out, "%sask for no more than %.0f %% worse", more ? ", or " : "",
                   1.0 + PERF_CAST_(double, PERF_CAST_(int, percent)));
    perf_put_char_(out, '\n');
}

/* The quantile for a limit of one entry that shall count beside all others (Bonferroni). */
PERF_COLD_FN_ double perf_family_quantile_(const perf_baseline *baseline)
{
    return 1.0 - 0.5 * (1.0 - baseline->confidence) / PERF_CAST_(double, baseline->entries);
}

/* How many more runs like the saved ones decide the entry; 0: no number that a file keeps. */
PERF_COLD_FN_ size_t perf_undecided_runs_(const perf_baseline *baseline,
                                     const perf_baseline_entry *entry)
{
    const double p = perf_family_quantile_(baseline);
    const double walk = perf_walk_(baseline->age_s, baseline->span_s, entry->runs);
    const double gap = perf_fabs_(perf_rule_room_(&entry->verdict.rule,
                                                  perf_log_(entry->verdict.ratio.estimate))) -
                       entry->unseen;
    double       df, sd;
    size_t       runs = entry->runs + 1;

    if (entry->runs < PERF_BASELINE_RUNS_)
        return PERF_BASELINE_RUNS_ - entry->runs;
    if (walk > 0.0)                     /* the new ones have to come as late as this run does     */
        runs = 2 * entry->runs - 1;
    for (; runs <= PERF_READ_RUNS_; runs++) {
        sd = perf_new_run_sd_(entry->spread * entry->spread, runs, 0.0, &df);
        if (gap > sd * perf_t_quantile_(p, df))
            return runs - entry->runs;
    }
    return 0;
}

/* Up to how many percent the rule would have to allow for an ACCEPT. */
PERF_COLD_FN_ double perf_undecided_percent_(const perf_baseline *baseline,
                                        const perf_baseline_entry *entry)
{
    const perf_interval *ratio = &entry->verdict.ratio;
    const double p = perf_family_quantile_(baseline);
    double       df, most;

    (void)perf_new_run_sd_(entry->spread * entry->spread, entry->runs,
                           perf_walk_(baseline->age_s, baseline->span_s, entry->runs), &df);
    most = perf_log_(ratio->high / ratio->estimate) * perf_t_quantile_(p, df) /
           perf_t_quantile_(0.5 + 0.5 * baseline->confidence, df);
    return 100.0 * ratio->estimate * perf_exp_(most) - 100.0;
}

/* Says what the file is good for as a baseline; nothing where it cannot be read. */
PERF_COLD_FN_ void perf_baseline_outlook_to_(FILE *file, const char *path, const perf_rule *rule)
{
    perf_baseline_opts opts = PERF_ZERO;
    perf_baseline      baseline;
    perf_out_          out;

    opts.accept.rule = *rule;
    baseline = perf_baseline_of_(path, &opts, 1);
    if (baseline.status == PERF_OK) {
        out = perf_out_grows_();
        perf_put_outlook_(&out, &baseline);
        if (!out.failed)
            (void)fprintf(file, "%s: %s", path, out.p);
        PERF_FREE(out.p);
    }
    perf_baseline_free(&baseline);
}

/* The spread of the entry in the middle; 0: none has one. */
PERF_COLD_FN_ double perf_outlook_spread_(const perf_baseline *baseline)
{
    double *spread =
        PERF_CAST_(double *, PERF_MALLOC((baseline->entries + 1) * sizeof *spread));
    double  middle = 0.0;
    size_t  i, n = 0;

    for (i = 0; spread && i < baseline->entries; i++)
        if (baseline->entry[i].spread > 0.0)
            spread[n++] = baseline->entry[i].spread;
    if (n)
        middle = perf_middle_(spread, n, 0.5);
    PERF_FREE(spread);
    return middle;
}

/* The change, in percent, that a check made age_s from now finds in nine of ten runs. */
PERF_COLD_FN_ double perf_outlook_finds_(const perf_baseline *baseline, double spread, double age_s)
{
    const size_t runs = perf_baseline_used_(baseline);
    const double p = 0.5 + 0.5 * baseline->confidence;
    double       df, sd;

    sd = perf_new_run_sd_(spread * spread, runs, perf_walk_(age_s, baseline->span_s, runs), &df);
    sd *= perf_t_quantile_(p, df) + perf_t_quantile_(PERF_OUTLOOK_POWER_, df);
    return (1.0 + baseline->rule.amount / 100.0) * 100.0 * perf_exp_(sd) - 100.0;
}

/* "8 runs within 3 seconds: for 3 seconds more a check finds +8 %, a day later +39 %".  Of a check
 * in which this run counts as saved.  It tells of changes only by a rule on regressions.         */
PERF_COLD_FN_ void perf_put_outlook_(perf_out_ *out, const perf_baseline *baseline)
{
    const size_t runs = perf_baseline_used_(baseline);
    const double spread = perf_outlook_spread_(baseline);
    double       span = baseline->span_s, fresh;

    perf_putf_(out, "%.0f run%s of this machine and build", PERF_CAST_(double, runs),
               runs == 1 ? "" : "s");
    if (runs < PERF_BASELINE_RUNS_) {
        perf_putf_(out, ": %.0f more make it usable\n",
                   PERF_CAST_(double, PERF_BASELINE_RUNS_ - runs));
        return;
    }
    perf_put_span_(out, " within ", baseline->span_s, "");
    if (span < PERF_BASELINE_LEAST_S_)
        span = PERF_BASELINE_LEAST_S_;
    fresh = 2.0 * span / PERF_CAST_(double, runs - 1);
    if (baseline->rule.kind == PERF_RULE_NO_REGRESSION && spread > 0.0) {
        perf_put_span_(out, ": for ", fresh, " more");
        perf_putf_(out, " a check finds +%.0f %%", perf_outlook_finds_(baseline, spread, 0.0));
        if (fresh < PERF_OUTLOOK_DAY_)
            perf_putf_(out, ", a day later +%.0f %%",
                       perf_outlook_finds_(baseline, spread, PERF_OUTLOOK_DAY_));
    }
    if (fresh < PERF_OUTLOOK_DAY_)
        perf_put_(out, "; add one a day");
    perf_put_char_(out, '\n');
}

PERF_END_DECLS

#endif /* PERF_RESULTS_H */
