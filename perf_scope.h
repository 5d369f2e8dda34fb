/* perf_scope.h - perf.h for the many files of a large program that only mark scopes.
 *
 *     #include "perf_scope.h"
 *     void load(void)
 *     {
 *         PERF_SCOPE("load");
 *     }
 *
 * Every name of the sections clock and scopes of perf.h and none of the others (reports, benches,
 * statistics), for a third of the compiler's instructions in C and a quarter in C++
 * (bench/include_cost.sh).  Some other file of the program includes perf.h and asks for the report;
 * PERF_AT_EXIT, PERF_NVTX, PERF_ROCTX and PERF_MAIN belong there and change nothing here.  Both
 * headers in one file are fine, in any order.  It needs perf.h and perf_stats.h beside it.
 * SPDX-License-Identifier: MIT (full text at the end of perf.h)                                 */
#ifndef PERF_SCOPE_H
#define PERF_SCOPE_H

#define PERF_SCOPES_ONLY_ 1
#include "perf.h"
#undef PERF_SCOPES_ONLY_

#endif /* PERF_SCOPE_H */
