/* perf_proc.h - numbers that Linux tells in files of /proc.
 *
 *     uint64_t up[2];
 *     perf_proc_read_(0, "uptime", up, 2);         // "1234.56": 1234 and 56
 *
 * For the library itself.  Elsewhere such files are missing: all numbers are 0.
 * Sections (search for ">>"):  config  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_PROC_H
#define PERF_PROC_H

#include "perf_file.h"

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_PROC_              /* our tests have one of their own                                */
#define PERF_PROC_ "/proc/"
#endif

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_proc_read_, perf_age_ns_  numbers in a file of /proc; age of the process                */

/* >>private: bodies, callees before their callers ---------------------------------------------- */

/* The first `room` numbers of a file of /proc, then zeros.  They count from behind a name in (), if
 * there is one.  thread: of ours, in whose folder the file is; 0: it is in /proc itself.         */
PERF_COLD_FN_ void perf_proc_read_(uint64_t thread, const char *file, uint64_t *number, int room)
{
    char        text[512];
    char        path[128];
    perf_out_   out = perf_out_open_(path, sizeof path);
    const char *digit;
    int         at = 0;

    perf_put_(&out, PERF_PROC_);
    if (thread) {
        perf_put_(&out, "self/task/");
        perf_put_u64_(&out, thread);
        perf_put_char_(&out, '/');
    }
    perf_put_(&out, file);
    (void)perf_file_head_(path, text, sizeof text);
    PERF_LIBC_(memset)(number, 0, PERF_CAST_(size_t, room) * sizeof *number);
    digit = PERF_LIBC_(strrchr)(text, ')');
    if (!digit)
        digit = text;
    for (; *digit && at < room; digit++) {
        if (*digit >= '0' && *digit <= '9') {
            number[at] = number[at] * 10 + PERF_CAST_(uint64_t, *digit - '0');
            at += digit[1] < '0' || digit[1] > '9';
        }
    }
}

#if defined(__linux__) && PERF_LP64_UNIX_
/* Nanoseconds since the program was started, to a hundredth of a second; 0: not known. */
PERF_COLD_FN_ uint64_t perf_age_ns_(void)
{
    uint64_t hz = PERF_CAST_(uint64_t, perf_sysconf_(2));       /* _SC_CLK_TCK                    */
    uint64_t stat[19], up[2], began, now;

    perf_proc_read_(0, "self/stat", stat, 19);  /* the last: the start, in ticks                  */
    perf_proc_read_(0, "uptime", up, 2);        /* "1234.56": seconds, hundredths                 */
    if (!hz)
        return 0;
    began = stat[18] * (1000000000 / hz);
    now = up[0] * 1000000000 + up[1] * 10000000;
    if (!began || now < began)
        return 0;
    return now - began;
}

#else
#define perf_age_ns_() UINT64_C(0)
#endif

PERF_END_DECLS

#endif /* PERF_PROC_H */
