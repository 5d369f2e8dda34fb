# perf_gpu_bench.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_gpu_bench.h; cython/README.md shows the use.
from libc.stdint cimport uint32_t, uint64_t
from perfh.perf cimport *
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_bound cimport *
from perfh.perf_calibration cimport *
from perfh.perf_case cimport *
from perfh.perf_chrome cimport *
from perfh.perf_clock cimport *
from perfh.perf_cuda cimport *
from perfh.perf_gpu_driver cimport *
from perfh.perf_gpu_memory cimport *
from perfh.perf_gpu_scope cimport *
from perfh.perf_hist cimport *
from perfh.perf_record cimport *
from perfh.perf_report cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_gpu_bench.h" nogil:
    enum:
        PERF_GPU_SAMPLE_EXPOSED
        PERF_GPU_SAMPLE_THROTTLED
        PERF_GPU_SAMPLE_IDLE
        PERF_GPU_SAMPLE_TIMEOUT

    ctypedef enum perf_gpu_cache:
        PERF_GPU_COLD
        PERF_GPU_HOT

    ctypedef struct perf_gpu_bench_opts:
        perf_gpu_cache cache
        int graph
        int batch
        int warmup
        int samples
        double rel_ci
        double max_seconds
        double gate_ms
        double bytes
        double items
        double energy
        int profile
        const perf_bench *in_place_of

    ctypedef struct perf_gpu_sample:
        double ns
        double host_ns
        uint64_t throttle
        uint32_t sm_mhz
        uint32_t flags

    ctypedef struct perf_gpu_result:
        perf_summary time
        perf_summary exposed
        perf_summary launch
        double first_ns
        double quantum_ns
        double overhead_ns
        uint64_t batch
        uint64_t iterations
        uint64_t throttled
        uint64_t idle
        uint64_t gate_timeouts
        uint64_t throttle
        uint32_t sm_mhz_low
        uint32_t sm_mhz_high
        double flush_bytes
        double gb_per_s
        double peak_gb_per_s
        double datasheet_gb_per_s
        double joules
        double joules_low
        double joules_high
        double watts
        double celsius
        double busy
        const perf_gpu_sample *sample
        uint64_t samples
        int graph
        int gate
        int serialised
        int simulated
        int code
        perf_gpu_bench_opts opts
        perf_status status
        uint32_t warnings
        char text[360]

    ctypedef struct perf_gpu_loop:
        pass

    ctypedef perf_gpu_loop perf_gpu_bench

    perf_gpu_bench perf_gpu_bench_begin(const char *name, perf_stream stream,
            const perf_gpu_bench_opts *opts) noexcept
    int perf_gpu_bench_next(perf_gpu_bench *bench) noexcept
    perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *bench) noexcept

    ctypedef struct perf_gpu_ab_opts:
        perf_gpu_bench_opts device
        perf_compare_opts accept
        int min_pairs
        int max_pairs
        uint64_t seed

    ctypedef struct perf_gpu_ab_result:
        perf_verdict verdict
        perf_gpu_result baseline
        perf_gpu_result candidate
        double seconds
        perf_gpu_ab_opts opts
        perf_status status
        uint32_t warnings
        int forced

    ctypedef perf_gpu_loop perf_gpu_ab

    perf_gpu_ab perf_gpu_ab_begin(const char *name, perf_stream stream,
            const perf_gpu_ab_opts *opts) noexcept
    int perf_gpu_ab_next(perf_gpu_ab *ab) noexcept
    perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab) noexcept
