# perf_scope.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_scope.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_SCOPE        s = perf_scope_begin(b"x"), try/finally: perf_scope_end(&s)
#     PERF_FUNCTION     the same, with the function's name
#     PERF_WAIT         s = perf_wait_begin(b"x"), try/finally: perf_scope_end(&s)
#     PERF_LAP          perf_lap_end(&lap, b"x")
#     PERF_COUNT        perf_count(b"x", value)
#     PERF_INSTANT      perf_instant(b"x")
#     PERF_SCOPE_VALUE  perf_scope_value(b"x", value)
#     PERF_SCOPE_TEXT   perf_scope_text(b"x", b"text")
from libc.stdint cimport uint64_t
from perfh.perf_base cimport *
from perfh.perf_clock cimport *

cdef extern from "perf_scope.h" nogil:
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
    void perf_instant_text(const char *name, const char *text) noexcept
    void perf_scope_value(const char *name, double value) noexcept
    void perf_scope_text(const char *name, const char *text) noexcept

    ctypedef struct perf_fiber:
        pass

    void perf_fiber_switch(perf_fiber *from_, perf_fiber *to) noexcept
    void perf_thread_name(const char *name) noexcept
