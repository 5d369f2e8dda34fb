/* perf_sink.h - who else hears of the scopes while they run?
 *
 *     perf_status status = perf_sink_set_(NULL, &sink);    // all scopes go there, too
 *
 * For the library itself: a profiler's ranges (perf_nvtx.h), counters of scopes (perf_counters.h).
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_SINK_H
#define PERF_SINK_H

#include "perf_record.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_sink_set_  makes all scopes of all threads go to a perf_sink_, or to none               */

/* >>private: bodies ---------------------------------------------------------------------------- */

/* Replaces the sink `old` by `now`; either may be NULL: none.  PERF_ESTATE: the sink was not
 * `old`, for somebody has replaced it; PERF_ENOMEM: no registry, or this thread is inside the
 * lock.                                                                                          */
PERF_COLD_FN_ perf_status perf_sink_set_(const perf_sink_ *old, const perf_sink_ *now)
{
    perf_registry_ *reg = perf_registry_get_();
    int             ours;

    if (!reg || !perf_lock_(reg))
        return PERF_ENOMEM;
    ours = reg->sink == old;
    if (ours) {
        PERF_REL_(&reg->sink, now);
        perf_ask_(reg, PERF_ASK_TRACE_);
    }
    perf_unlock_(&reg->lock);
    if (!ours)
        return PERF_ESTATE;
    return PERF_OK;
}

PERF_END_DECLS

#endif /* PERF_SINK_H */
