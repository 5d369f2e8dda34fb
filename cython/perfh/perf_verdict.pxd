# perf_verdict.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_verdict.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
from perfh.perf_base cimport *

cdef extern from "perf_verdict.h" nogil:
    ctypedef enum perf_warning:
        PERF_WARN_UNBOUNDED
        PERF_WARN_BAD_VALUES
        PERF_WARN_RESOLUTION
        PERF_WARN_MEAN
        PERF_WARN_ORDER
        PERF_WARN_NOISY
        PERF_WARN_EMPTY_BODY
        PERF_WARN_DRIFT
        PERF_WARN_STOPPED
        PERF_WARN_UNOPTIMISED
        PERF_WARN_CLOCK
        PERF_WARN_PAUSED
        PERF_WARN_EXPOSED
        PERF_WARN_THROTTLED
        PERF_WARN_STREAM
        PERF_WARN_NOT_COLD
        PERF_WARN_NO_GRAPH
        PERF_WARN_OUTPUTS
        PERF_WARN_SHAPE
        PERF_WARN_TURNS
        PERF_WARN_NAME
        PERF_WARN_PAUSES
        PERF_WARN_NONE

    const char *perf_warning_text(uint32_t bit) noexcept

    ctypedef struct perf_interval:
        double low
        double estimate
        double high

    ctypedef struct perf_summary:
        uint64_t count
        uint64_t excluded
        double min
        double max
        double mean
        double std
        double mad
        double p50
        double p95
        double p99
        double p50_low
        double p50_high
        double p95_low
        double p95_high
        double p99_low
        double p99_high
        double confidence
        perf_status status
        uint32_t warnings

    ctypedef enum perf_decision:
        PERF_INCONCLUSIVE
        PERF_ACCEPT
        PERF_REJECT

    ctypedef enum perf_metric:
        PERF_METRIC_PAIR
        PERF_METRIC_P50
        PERF_METRIC_P95
        PERF_METRIC_P99
        PERF_METRIC_MEAN
        PERF_METRIC_MEMORY
        PERF_METRIC_THROUGHPUT
        PERF_METRIC_INSTRUCTIONS
        PERF_METRIC_CYCLES
        PERF_METRIC_BRANCHES
        PERF_METRIC_BRANCH_MISSES

    ctypedef enum perf_rule_kind:
        PERF_RULE_SPEEDUP
        PERF_RULE_REDUCTION
        PERF_RULE_NO_REGRESSION
        PERF_RULE_SAME

    ctypedef struct perf_rule:
        perf_rule_kind kind
        perf_metric metric
        double amount
        int memory

    ctypedef enum perf_design:
        PERF_DESIGN_UNKNOWN
        PERF_DESIGN_RANDOM
        PERF_DESIGN_SEPARATE

    ctypedef struct perf_accuracy:
        double max_abs
        double max_rel
        double max_ulp
        uint64_t compared

    ctypedef struct perf_tolerance:
        double abs
        double rel
        double ulp

    ctypedef struct perf_guard:
        int required
        perf_accuracy seen
        perf_tolerance limit

    ctypedef struct perf_compare_opts:
        double confidence
        perf_rule rule
        perf_design design
        double tick
        perf_guard guard
        int rules

    ctypedef struct perf_verdict:
        perf_decision decision
        perf_status status
        const char *reason
        perf_rule rule
        double threshold
        double confidence
        perf_interval ratio
        perf_interval speedup
        uint64_t pairs
        uint64_t baseline_values
        uint64_t candidate_values
        uint64_t excluded
        double min_detectable_change
        double pairs_needed
        uint32_t warnings
        const char *clock
        double mean_ratio
        double p99_ratio
        double led_ratio
        char text[400]
