# perf_base.h for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.
# What each name means stands beside it in perf_base.h; cython/README.md shows the use.
#
# Macros that Cython cannot use, and what to write instead:
#     PERF_MALLOC  set for the C compiler: define_macros, c_args
#     PERF_FREE    see PERF_MALLOC

cdef extern from "perf_base.h" nogil:
    enum:
        PERF_VERSION
        PERF_DISABLE

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
        PERF_EFAILED
        PERF_EFOREIGN

    const char *perf_status_text(perf_status status) noexcept
