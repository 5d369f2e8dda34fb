/* perf.h - measure C, C++, CUDA host code and Cython by adding one #include.
 *
 *     #include "perf.h"
 *     int main(void)
 *     {
 *         PERF_SCOPE("decode");                // time from here to the end of this block
 *         return 0;
 *     }
 *
 * Compile with -DPERF_DISABLE=1 and it costs nothing.  No library, no set-up call.  This is the
 * door; the rooms behind it answer one question each, and each may be included by itself:
 *
 *   perf_base.h     words: version, status, compilers and systems
 *   perf_hist.h     how are values distributed?  a histogram
 *   perf_verdict.h  words of an answer: summaries, rules, verdicts
 *   perf_math.h     what would libm give?  functions, distributions, one sort; for the others
 *   perf_stats.h    what follows from numbers?  summaries, intervals, accept or reject
 *   perf_clock.h    what time is it?
 *   perf_scope.h    what is timed?  scopes, laps, spans, counters: all that a marking file needs
 *   perf_record.h   what was recorded?  clock, names, threads, switches
 *   perf_report.h   where does the time go?  table, call tree, trace
 *   perf_bench.h    how long, and which is faster?  the loops
 *   perf_variant.h  which variant shall run?
 *   perf_schedule.h which steps of a long loop are recorded?
 *   perf_loop.h     how do the loops decide?  their engine
 *
 * Not behind this door, include them when you need them: perf_cuda.h (comes along in a CUDA or HIP
 * file), perf_gpu_bench.h, perf_kernel.h, perf_cupti.h, perf_nvtx.h, perf_trace.h, perf_memory.h,
 * perf_tally.h, perf_diagnosis.h, perf_results.h, perf_export.h, perf_hlog.h (logs of histograms).
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_H
#define PERF_H

#include "perf_base.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf.h: found another or an older perf_base.h; keep files of one release together"
#endif

/* >>config: these, and those of the rooms ------------------------------------------------------ */

#ifndef PERF_NVTX               /* 1 in one file of a program: every scope of all its files is an */
#define PERF_NVTX 0             /* NVTX range for Nsight Systems; needs nvtx3/nvToolsExt.h there  */
#endif
#ifndef PERF_ROCTX              /* 1 in one file: the same for AMD's rocprof, without any header  */
#define PERF_ROCTX 0
#endif
#ifndef PERF_NO_GPU             /* 1: a CUDA or HIP file does not get perf_cuda.h with this one   */
#define PERF_NO_GPU 0
#endif

#include "perf_loop.h"          /* with it all of the rooms above                                 */

#if PERF_NVTX || PERF_ROCTX
#include "perf_nvtx.h"
#endif
#ifdef PERF_MAIN                /* 1: this file gets a main() that runs the benchmarks           */
#include "perf_main.h"
#endif

#if PERF_AT_EXIT && !PERF_DISABLE && defined(__has_include)
#if __has_include("perf_counters.h")
#include "perf_counters.h"      /* PERF_COUNTERS=1 may be asked for                               */
#endif
#endif

/* In a CUDA or HIP compilation the GPU's part comes along where it lies beside this file;
 * PERF_NO_GPU=1 leaves it out. */
#if (defined(__CUDACC__) || defined(__HIPCC__)) && !PERF_NO_GPU && defined(__has_include)
#if __has_include("perf_cuda.h")
#include "perf_cuda.h"
#endif
#endif

#endif /* PERF_H */
