/* perf_bound.h - what bounds a part of a program: evidence in, one answer out.
 *
 *     #include "perf_diagnosis.h"
 *     perf_diagnosis d;
 *     if (perf_diagnose(&d) == PERF_OK)
 *         puts(perf_diagnosis_text(d.bound));             // "waiting for data"
 *
 * The table, the five lines, pages, JSON and the line of the GPU all ask perf_bound_decide_.
 * Sections (search for ">>"):  bound  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_BOUND_H
#define PERF_BOUND_H

#include "perf_rows.h"

PERF_BEGIN_DECLS

/* >>bound ------------------------------------------------------------------------------------- */

typedef enum perf_bound_by {
    PERF_BY_UNKNOWN,            /* cannot tell                                                    */
    PERF_BY_DATA,               /* waits: PERF_WAIT                                               */
    PERF_BY_LOCKS,              /* the same, where its name speaks of a lock, mutex or barrier    */
    PERF_BY_NO_PROCESSOR,       /* ready to run, but others ran                                   */
    PERF_BY_MEMORY,             /* page faults, or scopes whose name speaks of allocation         */
    PERF_BY_CPU,
    PERF_BY_DEVICE,             /* the host waits for work of a device; ...                       */
    PERF_BY_COPIES,             /* ... mostly copies                                              */
    PERF_BY_SYNCS,              /* the host waits, and the device mostly idles                    */
    PERF_BY_LAUNCHES,           /* neither waits, the device idles between many small works       */
    PERF_BY_CACHE_MISSES,       /* cpu, where its counters say that it waits for main memory, ... */
    PERF_BY_BRANCH_MISSES,      /* ... does what a wrong guess has begun, ...                     */
    PERF_BY_FRONT_END,          /* ... or waits for instructions                                  */
    PERF_BY_ALL_
} perf_bound_by;

/* Cycles that were lost to one cause, by counters of the processor. */
typedef struct perf_lost {
    double      share;          /* of the unit's cycles, an estimate; NaN: no such counter        */
    double      per_1000;       /* of the scope that lost most: misses, or lost cycles, in 1,000  */
                                /* instructions                                                   */
    double      ipc;            /* of that scope itself                                           */
    const char *scope;          /* its name, never freed; "": no scope lost any                   */
} perf_lost;

/* What the processor has counted in the unit, of all threads (perf_counters.h, PERF_COUNTERS=1). */
typedef struct perf_counted {
    uint64_t  calls;            /* of the unit, that were counted; 0: fewer than 8, the rest is 0 */
    uint64_t  scaled;           /* of these, counted for a part of their time and scaled up       */
    double    ipc;              /* instructions a cycle, with all that it calls                   */
    perf_lost lost[3];          /* to what PERF_BY_CACHE_MISSES, ..., PERF_BY_FRONT_END say       */
} perf_counted;

/* "cpu", "waiting for data", ...; "cannot tell" for any other number. */
PERF_FN const char *perf_diagnosis_text(perf_bound_by bound);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_evidence_, perf_bound_decide_  what is known of a part of a program; what bounds it
 *   PERF_LOST_  how many causes counters tell
 *   perf_host_time_, perf_host_evidence_  what the main thread waits for
 *   perf_kind_bound_  what the time of a scope itself is evidence of
 *   PERF_DIAGNOSIS_LINES_, PERF_DIAGNOSIS_JSON_, PERF_DIAGNOSIS_ANSWER_  forms of it             */

typedef struct perf_evidence_ {
    double share[PERF_BY_ALL_]; /* of the part's time, at least; CPU negative: not known          */
    double busy;                /* of a device, of that time; negative: none                      */
    double copies;              /* of its busy time: copying                                      */
    double starved;             /* of the part's time: the device had nothing to do               */
    int    measured;            /* 0: sums of scopes, may count twice; 1: times of the device; 2: of
                                 * all its work, also without marks                               */
    struct perf_tree_ *tree;    /* asked for: what the processor counted below node `unit`; NULL: */
    uint32_t     unit;          /* nothing                                                        */
    perf_counted counted;       /* the answer                                                     */
    uint32_t     lost_in[3];    /* node of each counted.lost[]; 0: none                           */
    double       lost_there[3]; /* of the unit's cycles: lost in that node alone                  */
} perf_evidence_;

enum { PERF_LOST_ = 3 };        /* causes: from PERF_BY_CACHE_MISSES on                           */

/* What perf_registry_.put_diagnosis writes. */
enum { PERF_DIAGNOSIS_LINES_, PERF_DIAGNOSIS_JSON_, PERF_DIAGNOSIS_ANSWER_ };

/* >>private: bodies, callees before their callers ---------------------------------------------- */

PERF_FN const char *perf_diagnosis_text(perf_bound_by bound)
{
    static const char *const words[PERF_BY_ALL_] = {
        "cannot tell", "waiting for data", "locks", "no processor", "memory", "cpu", "device",
        "copies", "syncs", "launches", "cache misses", "branch misses", "front end"};

    if (PERF_CAST_(unsigned, bound) >= PERF_BY_ALL_)
        bound = PERF_BY_UNKNOWN;
    return words[bound];
}

/* Does the name of a wait speak of a lock, not of a block, a clock or a carrier? */
PERF_COLD_FN_ int perf_of_lock_(const char *name)
{
    const char *lock = PERF_LIBC_(strstr)(name, "lock");

    while (lock && lock != name && PERF_LIBC_(strchr)("bcBC", lock[-1]))
        lock = PERF_LIBC_(strstr)(lock + 1, "lock");
    return lock || PERF_LIBC_(strstr)(name, "Lock") || PERF_LIBC_(strstr)(name, "utex") ||
           PERF_LIBC_(strstr)(name, "barrier") || PERF_LIBC_(strstr)(name, "Barrier");
}

/* What the time that a scope of that kind and name spends in itself is evidence of. */
PERF_COLD_FN_ perf_bound_by perf_kind_bound_(uint32_t kind, const char *name)
{
    if (kind == PERF_KIND_SYNC_)
        return PERF_BY_SYNCS;
    if (kind == PERF_KIND_WAIT_)
        return perf_of_lock_(name) ? PERF_BY_LOCKS : PERF_BY_DATA;
    if (PERF_LIBC_(strstr)(name, "alloc") || PERF_LIBC_(strstr)(name, "free("))
        return PERF_BY_MEMORY;
    return PERF_BY_CPU;
}

typedef struct perf_host_time_ {        /* of the main thread's scopes themselves, in ticks       */
    uint64_t    self[PERF_BY_ALL_];     /* by what it is evidence of                              */
    uint64_t    all, most;              /* most: of the scope that waits longest for data, ...    */
    const char *where;                  /* ... and its name                                       */
} perf_host_time_;

/* What the main thread waits for, or the first that recorded.  0: it has no time in scopes. */
PERF_COLD_FN_ int perf_host_evidence_(perf_host_time_ *host, perf_registry_ *reg,
                                      perf_evidence_ *evidence)
{
    perf_recorder_ *rec;
    perf_visit_     main = PERF_ZERO;
    uint64_t        self = 0;                   /* of all cells of a name                         */
    int             i;

    PERF_LIBC_(memset)(host, 0, sizeof *host);
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next)
        if (rec->thread == PERF_GET_(&reg->process) || (rec->number == 1 && !main.recorder))
            main.recorder = rec;
    while (main.recorder && perf_visit_next_(&main)) {
        const char   *name = main.name->site.name;
        perf_bound_by by = perf_kind_bound_(main.name->kind, name);
        if (!perf_kind_is_host_(main.name->kind))
            continue;
        if (main.cell == main.first)
            self = 0;
        self += main.ticks.self;
        host->all += main.ticks.self;
        host->self[by] += main.ticks.self;
        if (by == PERF_BY_DATA && self > host->most) {
            host->most = self;
            host->where = name;
        }
    }
    for (i = 0; i < PERF_BY_ALL_ && host->all; i++)
        evidence->share[i] = PERF_CAST_(double, host->self[i]) / PERF_CAST_(double, host->all);
    evidence->share[PERF_BY_CPU] = -1;          /* in scopes that do not wait: not known to run   */
    return host->all > 0;
}

#define PERF_BOUND_SHARE_ 0.3   /* of the time: from here on a wait is worth a look first         */
#define PERF_BOUND_BUSY_  0.8   /* a device that is at work for so much bounds what it works for  */

/* The largest share of at least PERF_BOUND_SHARE_, the processor's left out. */
PERF_COLD_FN_ perf_bound_by perf_bound_most_(const perf_evidence_ *evidence)
{
    int    best = PERF_BY_UNKNOWN, i;
    double most = PERF_BOUND_SHARE_;

    for (i = PERF_BY_DATA; i <= PERF_BY_SYNCS; i++)
        if (i != PERF_BY_CPU && evidence->share[i] >= most) {
            best = i;
            most = evidence->share[i];
        }
    return PERF_CAST_(perf_bound_by, best);
}

/* What the processor's time goes to: the cause that has cost most, of those beyond their threshold
 * in pmcstudy(8); without counters, or where nothing is beyond it, CPU.                          */
PERF_COLD_FN_ perf_bound_by perf_bound_of_cpu_(const perf_evidence_ *evidence)
{
    static const double least[PERF_LOST_] = {0.2, 0.2, 0.15};
    double              most = 0;
    int                 best = PERF_BY_CPU, i;

    for (i = 0; i < PERF_LOST_ && evidence->counted.calls; i++)
        if (evidence->counted.lost[i].share >= least[i] && evidence->counted.lost[i].share > most) {
            best = PERF_BY_CACHE_MISSES + i;
            most = evidence->counted.lost[i].share;
        }
    return PERF_CAST_(perf_bound_by, best);
}

/* The decision: the one of the whole library. */
PERF_COLD_FN_ perf_bound_by perf_bound_decide_(const perf_evidence_ *evidence)
{
    const perf_bound_by most = perf_bound_most_(evidence);
    const perf_bound_by device = evidence->copies > 0.5 ? PERF_BY_COPIES : PERF_BY_DEVICE;
    const double        cpu = evidence->share[PERF_BY_CPU];     /* negative: not known            */
    const double        idle = 1 - evidence->busy;
    const int           mostly_idle = evidence->starved >= evidence->busy;

    if (most != PERF_BY_UNKNOWN && most != PERF_BY_SYNCS)
        return most;
    if (evidence->measured && evidence->busy >= PERF_BOUND_BUSY_)
        return device;
    if (most == PERF_BY_SYNCS && !mostly_idle &&
        evidence->busy >= evidence->share[PERF_BY_SYNCS] / 2)
        return device;
    if (most == PERF_BY_SYNCS)
        return PERF_BY_SYNCS;
    if (evidence->busy >= 0 && (cpu >= 0.5 || cpu < 0) && evidence->starved >= idle / 2)
        return PERF_BY_LAUNCHES;
    if (cpu >= 0.5)
        return perf_bound_of_cpu_(evidence);
    return PERF_BY_UNKNOWN;
}

PERF_END_DECLS

#endif /* PERF_BOUND_H */
