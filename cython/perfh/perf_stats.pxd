# perf_stats.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_stats.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_MALLOC  set for the C compiler: define_macros, c_args
#     PERF_FREE    see PERF_MALLOC
from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef extern from "perf_stats.h" nogil:
    enum:
        PERF_VERSION
        PERF_DISABLE
    const double PERF_HIST_NO_DATA

    ctypedef enum perf_status:
        PERF_OK
        PERF_EINVAL
        PERF_ENODATA
        PERF_ENOMEM
        PERF_EIO
        PERF_EFORMAT
        PERF_ERANGE
        PERF_ESTATE
        PERF_EDELETED
        PERF_EDISABLED
        PERF_ELIMIT
        PERF_ENOGPU
        PERF_EGPU
        PERF_ESTREAM

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
        PERF_WARN_EXPOSED
        PERF_WARN_THROTTLED
        PERF_WARN_STREAM
        PERF_WARN_NOT_COLD
        PERF_WARN_NO_GRAPH
        PERF_WARN_NONE

    const char *perf_warning_text(uint32_t bit) noexcept

    ctypedef struct perf_interval:
        double low
        double estimate
        double high

    const char *perf_status_text(perf_status s) noexcept
    double perf_sqrt(double x) noexcept
    double perf_log(double x) noexcept
    double perf_log1p(double x) noexcept
    double perf_exp(double x) noexcept
    double perf_erf(double x) noexcept
    double perf_erfc(double x) noexcept
    double perf_lgamma(double x) noexcept
    double perf_normal_cdf(double z) noexcept
    double perf_normal_quantile(double p) noexcept
    double perf_beta_cdf(double x, double a, double b) noexcept
    double perf_beta_quantile(double p, double a, double b) noexcept
    double perf_t_cdf(double t, double df) noexcept
    double perf_t_quantile(double p, double df) noexcept
    double perf_binomial_cdf(double k, double n, double p) noexcept
    double perf_binomial_quantile(double q, double n, double p) noexcept

    ctypedef struct perf_hist:
        pass

    ctypedef struct perf_hist_opts:
        int bits
        int counter_bytes
        uint64_t highest

    perf_hist_opts perf_hist_opts_default() noexcept
    perf_hist_opts perf_hist_opts_resolved(const perf_hist_opts *o) noexcept
    int perf_hist_bits_for(double relative_error) noexcept
    size_t perf_hist_bytes(const perf_hist_opts *o) noexcept
    perf_hist *perf_hist_init(void *mem, size_t bytes, const perf_hist_opts *o) noexcept
    perf_hist *perf_hist_attach(void *mem, size_t bytes) noexcept
    size_t perf_hist_size(const perf_hist *h) noexcept
    void perf_hist_add(perf_hist *h, uint64_t ns) noexcept
    void perf_hist_add_nosum(perf_hist *h, uint64_t ns) noexcept
    void perf_hist_add32(perf_hist *h, uint64_t value) noexcept
    void perf_hist_add_live(perf_hist *h, uint64_t ns) noexcept
    void perf_hist_add_shared(perf_hist *h, uint64_t ns) noexcept
    void perf_hist_add_n(perf_hist *h, uint64_t ns, uint64_t n) noexcept
    void perf_hist_add_double(perf_hist *h, double ns) noexcept
    void perf_hist_add_corrected(perf_hist *h, uint64_t ns, uint64_t interval) noexcept
    uint64_t perf_hist_count(const perf_hist *h) noexcept
    uint64_t perf_hist_over(const perf_hist *h) noexcept
    uint64_t perf_hist_invalid(const perf_hist *h) noexcept
    uint64_t perf_hist_lost(const perf_hist *h) noexcept
    double perf_hist_min(const perf_hist *h) noexcept
    double perf_hist_max(const perf_hist *h) noexcept
    double perf_hist_sum(const perf_hist *h) noexcept
    double perf_hist_mean(const perf_hist *h) noexcept
    double perf_hist_std(const perf_hist *h) noexcept
    double perf_hist_quantile(const perf_hist *h, double q) noexcept
    perf_status perf_hist_quantiles(const perf_hist *h, const double *q, size_t n,
            double *out) noexcept
    uint64_t perf_hist_count_between(const perf_hist *h, uint64_t lo, uint64_t hi) noexcept
    double perf_hist_mean_between(const perf_hist *h, uint64_t lo, uint64_t hi) noexcept

    ctypedef struct perf_hist_bucket:
        uint64_t lower
        uint64_t upper
        uint64_t count
        uint64_t below

    int perf_hist_next(const perf_hist *h, perf_hist_bucket *b) noexcept
    perf_status perf_hist_merge(perf_hist *into, const perf_hist *from_) noexcept
    perf_status perf_hist_subtract(perf_hist *into, const perf_hist *from_) noexcept
    perf_status perf_hist_copy(perf_hist *into, const perf_hist *from_) noexcept
    void perf_hist_reset(perf_hist *h) noexcept
    perf_status perf_hist_snapshot(perf_hist *into, const perf_hist *live) noexcept
    perf_status perf_hist_merge_corrected(perf_hist *into, const perf_hist *from_,
            uint64_t interval) noexcept

    ctypedef struct perf_hist_frozen

    size_t perf_hist_frozen_bytes(const perf_hist *h) noexcept
    perf_hist_frozen *perf_hist_freeze(const perf_hist *h, void *mem, size_t bytes) noexcept
    double perf_hist_frozen_quantile(const perf_hist_frozen *f, double q) noexcept

    ctypedef struct perf_summary:
        uint64_t count
        uint64_t bad
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

    perf_summary perf_summarize(const double *x, size_t n) noexcept
    double perf_quantile(const double *sorted, size_t n, double p) noexcept
    perf_interval perf_quantile_interval(const double *sorted, size_t n, double p,
            double confidence) noexcept
    perf_interval perf_quantile_interval_series(const double *x, size_t n, double p,
            double confidence) noexcept
    perf_interval perf_mean_interval(const double *x, size_t n, double confidence) noexcept
    size_t perf_quantile_min_count(double p, double confidence) noexcept
    void perf_sort_values(double *x, size_t n) noexcept

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

    ctypedef enum perf_rule_kind:
        PERF_RULE_SPEEDUP
        PERF_RULE_REDUCTION
        PERF_RULE_NO_REGRESSION

    ctypedef struct perf_rule:
        perf_rule_kind kind
        perf_metric metric
        double amount

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
        uint64_t bad
        double mde
        double more
        uint32_t warnings
        char text[240]

    perf_compare_opts perf_compare_opts_default() noexcept
    perf_compare_opts perf_compare_opts_resolved(const perf_compare_opts *opts) noexcept
    perf_rule perf_rule_speedup(double factor, perf_metric metric) noexcept
    perf_rule perf_rule_reduction(double percent, perf_metric metric) noexcept
    perf_rule perf_rule_no_regression(double percent, perf_metric metric) noexcept
    double perf_rule_threshold(const perf_rule *rule) noexcept
    perf_verdict perf_compare_pairs(const double *baseline, const double *candidate,
            size_t n, const perf_compare_opts *opts) noexcept
    perf_verdict perf_compare(const double *baseline, size_t nb,
            const double *candidate, size_t nc, const perf_compare_opts *opts) noexcept
    const char *perf_verdict_text(perf_verdict *v) noexcept
    const char *perf_decision_text(perf_decision d) noexcept
    void perf_verdict_guard(perf_verdict *v, const perf_guard *guard) noexcept
    perf_accuracy perf_accuracy_f64(const double *reference, const double *out,
            size_t n) noexcept
    perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n) noexcept
    perf_accuracy perf_accuracy_f16(const uint16_t *reference, const uint16_t *out,
            size_t n) noexcept
    perf_accuracy perf_accuracy_bf16(const uint16_t *reference, const uint16_t *out,
            size_t n) noexcept
    int perf_accuracy_ok(const perf_accuracy *seen, const perf_tolerance *limit) noexcept
    perf_status perf_rule_parse(const char *text, perf_rule *out) noexcept
    perf_decision perf_verdict_all(const perf_verdict *v, size_t n) noexcept
    double perf_compare_pairs_p(const double *baseline, const double *candidate,
            size_t n, const perf_compare_opts *opts) noexcept
    perf_status perf_adjust_holm(const double *p, size_t n, double *out) noexcept
    perf_status perf_adjust_bh(const double *p, size_t n, double *out) noexcept
    perf_verdict perf_compare_runs(const double *baseline,
            const uint32_t *baseline_run, size_t nb, const double *candidate,
            const uint32_t *candidate_run, size_t nc, const perf_compare_opts *opts) noexcept
    int perf_verdict_control(perf_verdict *v, const double *a1, const double *a2,
            size_t n) noexcept
    double perf_swap_test(const double *baseline, const double *candidate, size_t n,
            double p, int resamples, uint64_t seed) noexcept
    double perf_pairs_needed(double ratio, double threshold, double sd, double chance) noexcept
    double perf_autocorrelation(const double *x, size_t n, size_t lag) noexcept
    perf_interval perf_bootstrap_mean(const double *x, size_t n, size_t resamples,
            double confidence, uint64_t seed) noexcept
    perf_interval perf_bootstrap_quantile(const double *sorted, size_t n, double p,
            size_t resamples, double confidence, uint64_t seed) noexcept

    ctypedef struct perf_seq:
        pass

    perf_status perf_seq_init(perf_seq *s, const perf_rule *rule, double confidence,
            double tick) noexcept
    perf_decision perf_seq_add(perf_seq *s, double baseline, double candidate) noexcept
    perf_interval perf_seq_interval(const double *log_ratio, size_t n,
            double confidence) noexcept
    int perf_group_is_look(size_t n) noexcept
    perf_verdict perf_compare_group(const double *baseline, const double *candidate,
            size_t n, const perf_compare_opts *opts) noexcept

    ctypedef struct perf_hist_frozen:
        pass
