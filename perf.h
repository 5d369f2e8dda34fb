/* perf.h 0.1.0 - measure C, C++, CUDA host code and Cython by adding one #include.
 *
 *     #include "perf.h"
 *     int main(void)
 *     {
 *         PERF_SCOPE("decode");                // time from here to the end of this block
 *         return 0;
 *     }
 *
 * Compile with -DPERF_DISABLE=1 and it costs nothing.  No library, no set-up call.
 * Sections (search for ">>"):  config  platform  clock  scopes  report  trace  bench  ab
 *                              private  c++
 * SPDX-License-Identifier: MIT (full text at the end of this file)                              */
#ifndef PERF_H
#define PERF_H

#include "perf_stats.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf.h: found another or an older perf_stats.h; keep both files of one release together"
#endif

#include <stdio.h>

/* >>config ------------------------------------------------------------------------------------ */

/* >>platform ---------------------------------------------------------------------------------- */

PERF_BEGIN_DECLS

/* >>clock ------------------------------------------------------------------------------------- */

/* >>scopes ------------------------------------------------------------------------------------ */

/* >>report ------------------------------------------------------------------------------------ */

/* >>trace ------------------------------------------------------------------------------------- */

/* >>bench ------------------------------------------------------------------------------------- */

/* >>ab ---------------------------------------------------------------------------------------- */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* ---- clock ---- */

/* ---- registry and scopes ---- */

/* ---- report ---- */

/* ---- trace ---- */

/* ---- bench ---- */

/* ---- ab ---- */

PERF_END_DECLS

/* >>c++ --------------------------------------------------------------------------------------- */

/* MIT License
 *
 * Copyright (c) 2026 The perf.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
#endif /* PERF_H */
