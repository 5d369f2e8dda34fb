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

#include "perf_base.h"

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
