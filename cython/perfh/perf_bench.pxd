# perf_bench.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_bench.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
from perfh.perf_base cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_bench.h" nogil:
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
        double min_seconds

    ctypedef struct perf_result:
        perf_summary time
        double first_ns
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
        char text[1400]

    ctypedef struct perf_loop:
        pass

    ctypedef perf_loop perf_bench

    perf_bench perf_bench_begin(const char *name, const perf_bench_opts *opts) noexcept
    int perf_bench_next(perf_bench *bench) noexcept
    perf_result perf_bench_end(perf_bench *bench) noexcept
    void perf_bench_pause(perf_loop *loop) noexcept
    void perf_bench_resume(perf_loop *loop) noexcept
    int perf_loop_slice_begins(const perf_loop *loop) noexcept
    const char *perf_result_text(perf_result *result) noexcept
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
        double min_seconds
        perf_rule also

    ctypedef struct perf_ab_result:
        perf_verdict verdict
        perf_summary baseline
        perf_summary candidate
        double first_baseline_ns
        double first_candidate_ns
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
        double turns_ratio
        int forced
        int parts
        perf_verdict part[2]

    ctypedef perf_loop perf_ab

    perf_ab perf_ab_begin(const char *name, const perf_ab_opts *opts) noexcept
    int perf_ab_next(perf_ab *ab) noexcept
    perf_ab_result perf_ab_end(perf_ab *ab) noexcept
    void perf_ab_accuracy(perf_ab *ab, perf_accuracy seen) noexcept

    ctypedef struct perf_race_entry:
        char name[32]
        perf_summary time
        double first_ns
        uint64_t batch
        perf_verdict verdict
        double behind
        int within_noise
        double control_ratio
        double counted[4]
        int parts
        perf_verdict part[2]

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

    ctypedef perf_loop perf_race

    perf_race perf_race_begin(const char *name, int variants, const perf_ab_opts *opts) noexcept
    int perf_race_next(perf_race *race) noexcept
    perf_race_result perf_race_end(perf_race *race) noexcept
    void perf_race_name(perf_race *race, int variant, const char *name) noexcept

    void perf_keep(...) noexcept    # a number or a pointer
    perf_bench_opts perf_bench_opts_default() noexcept
    perf_ab_opts perf_ab_opts_default() noexcept
