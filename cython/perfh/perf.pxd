# perf.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_SCOPE          s = perf_scope_begin(b"x"), try/finally: perf_scope_end(&s)
#     PERF_FUNCTION       the same, with the function's name
#     PERF_SCOPE_PRECISE  the same; Cython cannot ask for the precise counter
#     PERF_SCOPE_SAMPLED  the same; every call is measured
#     PERF_WAIT           s = perf_wait_begin(b"x"), try/finally: perf_scope_end(&s)
#     PERF_LAP            perf_lap_end(&lap, b"x")
#     PERF_COUNT          perf_count(b"x", value)
#     PERF_INSTANT        perf_instant(b"x")
from libc.stdint cimport uint32_t, uint64_t
from libc.stdio cimport FILE
from perfh.perf_stats cimport *

cdef extern from "perf.h" nogil:
    enum:
        PERF_CLOCK_AUTO
        PERF_CLOCK_MONOTONIC
        PERF_CLOCK_TSC
        PERF_CLOCK
        PERF_AT_EXIT
        PERF_NVTX
        PERF_ROCTX
        PERF_NO_GPU
        PERF_TRACE_EVENTS

    ctypedef enum perf_clock_warning:
        PERF_CLOCK_NOT_INVARIANT
        PERF_CLOCK_UNTRUSTED
        PERF_CLOCK_BACKWARDS
        PERF_CLOCK_ROUGH
        PERF_CLOCK_MIXED
        PERF_CLOCK_FINE

    ctypedef struct perf_clock_info:
        const char *name
        double hz
        double tick_ns
        double resolution_ns
        double cost_ns
        double error_ppm
        uint32_t warnings

    uint64_t perf_ticks() noexcept
    uint64_t perf_ticks_precise() noexcept
    double perf_ticks_to_ns(uint64_t ticks) noexcept
    uint64_t perf_now() noexcept
    uint64_t perf_cpu_now() noexcept

    ctypedef struct perf_scope:
        pass

    perf_scope perf_scope_begin(const char *name) noexcept
    perf_scope perf_wait_begin(const char *name) noexcept
    void perf_scope_end(perf_scope *scope) noexcept

    ctypedef struct perf_lap:
        pass

    perf_lap perf_lap_begin() noexcept
    void perf_lap_end(perf_lap *lap, const char *name) noexcept

    ctypedef struct perf_async:
        pass

    perf_async perf_async_begin(const char *name, uint64_t id) noexcept
    void perf_async_end(perf_async *span) noexcept
    void perf_count(const char *name, double value) noexcept
    void perf_instant(const char *name) noexcept
    void perf_thread_name(const char *name) noexcept
    void perf_enable(int on) noexcept
    void perf_trace_enable(int on) noexcept
    void perf_reset() noexcept
    perf_status perf_error() noexcept
    perf_clock_info perf_clock() noexcept
    const char *perf_clock_warning_text(uint32_t bit) noexcept

    ctypedef enum perf_sort:
        PERF_SORT_SELF
        PERF_SORT_TOTAL
        PERF_SORT_CALLS
        PERF_SORT_MEAN
        PERF_SORT_P50
        PERF_SORT_P95
        PERF_SORT_P99
        PERF_SORT_MAX
        PERF_SORT_NAME

    ctypedef enum perf_view:
        PERF_VIEW_TABLE
        PERF_VIEW_TREE
        PERF_VIEW_CSV
        PERF_VIEW_JSON

    ctypedef struct perf_report_opts:
        perf_sort sort
        int rows
        perf_view view

    perf_report_opts perf_report_opts_default() noexcept
    perf_report_opts perf_report_opts_resolved(const perf_report_opts *opts) noexcept
    perf_status perf_report() noexcept
    perf_status perf_report_to(FILE *file, const perf_report_opts *opts) noexcept
    size_t perf_report_text(char *buf, size_t cap, const perf_report_opts *opts) noexcept
    perf_status perf_memory_mark(const char *phase) noexcept

    ctypedef struct perf_tally:
        perf_hist hist
        uint64_t calls
        uint64_t sum_ns
        uint64_t total_ns
        uint64_t self_ns
        uint64_t parts
        uint64_t most_ns
        uint64_t least_ns
        uint32_t most
        uint32_t least

    perf_status perf_tally_of(const char *name, uint32_t part, perf_tally *out) noexcept
    perf_status perf_tally_merge(perf_tally *into, const perf_tally *from_) noexcept
    double perf_tally_imbalance(const perf_tally *t) noexcept
    perf_status perf_trace_save(const char *path) noexcept

    ctypedef void (*perf_before_fn)(void *, int) noexcept nogil

    ctypedef enum perf_decides:
        PERF_DECIDES_WALL
        PERF_DECIDES_CPU

    ctypedef struct perf_bench_opts:
        int warmup
        int samples
        double rel_ci
        double max_seconds
        double slice_ns
        double bytes
        double items
        double flops
        double peak_gb_per_s
        double peak_gflop_per_s
        perf_before_fn before
        void *user

    ctypedef struct perf_result:
        perf_summary time
        double cold_ns
        double overhead_ns
        uint64_t batch
        uint64_t iterations
        perf_bench_opts opts
        perf_status status
        uint32_t warnings
        perf_summary cpu
        perf_decides decides
        const char *why
        double gb_per_s
        double items_per_s
        double gflop_per_s
        double percent_of_peak_gb
        double percent_of_peak_gflop
        char text[360]

    ctypedef struct perf_bench:
        pass

    perf_bench_opts perf_bench_opts_default() noexcept
    perf_bench_opts perf_bench_opts_resolved(const perf_bench_opts *opts) noexcept
    perf_bench perf_bench_begin(const char *name, const perf_bench_opts *opts) noexcept
    int perf_bench_next(perf_bench *b) noexcept
    perf_result perf_bench_end(perf_bench *b) noexcept
    void perf_bench_pause(perf_bench *b) noexcept
    void perf_bench_resume(perf_bench *b) noexcept
    int perf_bench_slice_begins(const perf_bench *b) noexcept
    const char *perf_result_text(perf_result *r) noexcept
    void perf_clobber() noexcept

    ctypedef struct perf_ab_opts:
        perf_compare_opts accept
        int min_pairs
        int max_pairs
        double max_seconds
        double slice_ns
        uint64_t seed
        int control
        perf_before_fn before
        void *user

    ctypedef struct perf_ab_result:
        perf_verdict verdict
        perf_summary baseline
        perf_summary candidate
        double cold_baseline_ns
        double cold_candidate_ns
        double overhead_ns
        uint64_t batch_baseline
        uint64_t batch_candidate
        double seconds
        perf_ab_opts opts
        perf_status status
        uint32_t warnings
        perf_summary baseline_cpu
        perf_summary candidate_cpu
        perf_decides decides
        const char *why
        double control_ratio
        int control_rounds
        int control_failed
        int forced

    ctypedef struct perf_ab:
        pass

    perf_ab_opts perf_ab_opts_default() noexcept
    perf_ab_opts perf_ab_opts_resolved(const perf_ab_opts *opts) noexcept
    perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts) noexcept
    int perf_ab_next(perf_ab *ab) noexcept
    perf_ab_result perf_ab_end(perf_ab *ab) noexcept
    void perf_ab_pause(perf_ab *ab) noexcept
    void perf_ab_resume(perf_ab *ab) noexcept
    int perf_ab_slice_begins(const perf_ab *ab) noexcept
    void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen) noexcept

    ctypedef struct perf_race_entry:
        char name[32]
        perf_summary time
        double cold_ns
        uint64_t batch
        perf_verdict verdict
        double behind
        int within_noise
        double control_ratio

    ctypedef struct perf_race_result:
        const perf_race_entry *entry
        int count
        int best
        uint64_t rounds
        double overhead_ns
        double seconds
        perf_ab_opts opts
        perf_status status
        uint32_t warnings
        perf_decides decides
        const char *why
        int control_rounds
        int forced

    ctypedef struct perf_race:
        pass

    perf_race perf_race_begin(const char *name, int variants, const perf_ab_opts *opts) noexcept
    int perf_race_next(perf_race *r) noexcept
    perf_race_result perf_race_end(perf_race *r) noexcept
    void perf_race_pause(perf_race *r) noexcept
    void perf_race_resume(perf_race *r) noexcept
    int perf_race_slice_begins(const perf_race *r) noexcept
    void perf_race_name(perf_race *r, int variant, const char *name) noexcept
    int perf_variant(const char *name, int otherwise) noexcept

    ctypedef enum perf_phase:
        PERF_PHASE_WAIT
        PERF_PHASE_WARMUP
        PERF_PHASE_ACTIVE
        PERF_PHASE_DONE

    ctypedef struct perf_schedule_opts:
        int skip
        int wait
        int warmup
        int active
        int repeat

    ctypedef struct perf_schedule:
        perf_schedule_opts opts
        perf_phase phase
        uint64_t step
        uint64_t cycle
        uint64_t recorded
        int open
        int was_on

    perf_schedule_opts perf_schedule_opts_default() noexcept
    perf_schedule_opts perf_schedule_opts_resolved(const perf_schedule_opts *opts) noexcept
    perf_schedule perf_schedule_begin(const perf_schedule_opts *opts) noexcept
    perf_phase perf_schedule_step(perf_schedule *s) noexcept
    perf_status perf_schedule_end(perf_schedule *s) noexcept

    void perf_keep(...) noexcept    # a number or a pointer
