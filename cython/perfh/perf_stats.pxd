# perf_stats.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_stats.h; cython/README.md shows the use.
from perfh.perf_base cimport *
from perfh.perf_hist cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_stats.h" nogil:
    perf_summary perf_summarize(const double *x, size_t n) noexcept
    perf_interval perf_hist_quantile_interval(const perf_hist *hist, double p,
            double confidence) noexcept
    perf_rule perf_rule_make(perf_rule_kind kind, double amount, perf_metric metric) noexcept
    perf_status perf_rule_parse(const char *text, perf_rule *out) noexcept
    perf_verdict perf_compare_pairs(const double *baseline, const double *candidate,
            size_t n, const perf_compare_opts *opts) noexcept
    perf_verdict perf_compare(const double *baseline, size_t nb,
            const double *candidate, size_t nc, const perf_compare_opts *opts) noexcept
    const char *perf_verdict_text(perf_verdict *verdict) noexcept
    const char *perf_decision_text(perf_decision decision) noexcept
    perf_accuracy perf_accuracy_f64(const double *reference, const double *out,
            size_t n) noexcept
    perf_accuracy perf_accuracy_f32(const float *reference, const float *out, size_t n) noexcept

    ctypedef struct perf_seq:
        pass

    perf_status perf_seq_init(perf_seq *seq, const perf_rule *rule, double confidence,
            double tick) noexcept
    perf_decision perf_seq_add(perf_seq *seq, double baseline, double candidate) noexcept
    perf_interval perf_seq_interval(const double *log_ratio, size_t n,
            double confidence) noexcept
