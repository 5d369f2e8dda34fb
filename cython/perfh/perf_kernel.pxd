# perf_kernel.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_kernel.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_KERNEL_SCOPE    for C and C++ only
#     PERF_KERNEL_INSTANT  for C and C++ only
#     PERF_KERNEL_SUM      for C and C++ only
#     PERF_KERNEL_HIST     for C and C++ only
from libc.stdint cimport int64_t, uint32_t, uint64_t
from perfh.perf cimport *
from perfh.perf_base cimport *
from perfh.perf_bench cimport *
from perfh.perf_bound cimport *
from perfh.perf_calibration cimport *
from perfh.perf_case cimport *
from perfh.perf_chrome cimport *
from perfh.perf_clock cimport *
from perfh.perf_hist cimport *
from perfh.perf_record cimport *
from perfh.perf_report cimport *
from perfh.perf_schedule cimport *
from perfh.perf_scope cimport *
from perfh.perf_stats cimport *
from perfh.perf_variant cimport *
from perfh.perf_verdict cimport *

cdef extern from "perf_kernel.h" nogil:
    enum:
        PERF_KERNEL_HOST
        PERF_DISABLE
        PERF_KERNEL_ID_MAX

    ctypedef struct perf_kernel_buffer:
        uint64_t magic
        uint64_t next
        uint64_t data_offset
        uint64_t ring_bytes
        uint64_t bytes
        uint64_t wall_hz
        uint32_t rings
        uint32_t version
        uint64_t spare

    ctypedef struct perf_kernel_ring:
        uint64_t opened
        uint64_t opened_wall
        uint64_t closed
        uint64_t closed_wall
        uint64_t used
        uint32_t block_x
        uint32_t block_yz
        uint32_t warp
        uint32_t sm
        uint32_t state
        uint32_t asked

    ctypedef struct perf_kernel_stamp:
        uint32_t lo
        uint32_t hi

    ctypedef struct perf_kernel_total:
        uint64_t cycles
        uint64_t warps
        uint64_t most
        uint64_t wrapped

    ctypedef struct perf_kernel_event:
        uint64_t start_ns
        uint64_t ns
        uint64_t cycles
        uint32_t id
        uint32_t value
        uint32_t instant
        uint32_t sm
        uint32_t track
        uint32_t block_x
        uint32_t block_y
        uint32_t block_z
        uint32_t warp

    ctypedef struct perf_kernel_info:
        uint64_t events
        uint64_t dropped
        uint64_t missed_warps
        uint64_t malformed
        uint32_t rings
        uint32_t unclosed
        uint32_t sms
        uint32_t tracks
        double cycle_ns
        double error_ns

    size_t perf_kernel_bytes(uint32_t rings, uint32_t scopes) noexcept
    perf_status perf_kernel_prepare(void *image, size_t bytes, const void *device,
            uint32_t rings, uint32_t scopes, uint64_t wall_hz) noexcept
    perf_status perf_kernel_decode(const void *image, size_t bytes,
            perf_kernel_event *out, uint64_t room, perf_kernel_info *info) noexcept
    perf_status perf_kernel_trace_save(const char *path, const void *image,
            size_t bytes, const char * *names, uint32_t count, int64_t host_ns) noexcept
