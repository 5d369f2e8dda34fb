/* perf_diagnosis.h - five lines: what repeats, what bounds it, where, what to try, how to verify.
 *
 *     #define PERF_DIAGNOSIS 1                     // in one file; then also PERF_REPORT=diagnosis
 *     #include "perf_diagnosis.h"
 *     perf_report_opts o = PERF_ZERO;
 *     o.view = PERF_VIEW_DIAGNOSIS;
 *     perf_report_to(stderr, &o);
 *
 * It uses what was recorded and what Linux says of threads.  Shares are lower bounds: where the
 * evidence is thin the answer is "cannot tell".  Of threads that have ended only the scopes are
 * known.  Devices of perf_cuda.h tell when they were busy and when they got no work.
 * Sections (search for ">>"):  config  diagnosis  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_DIAGNOSIS_H
#define PERF_DIAGNOSIS_H

#include "perf_bound.h"
#include "perf_proc.h"
#include "perf_report.h"

/* >>config ------------------------------------------------------------------------------------ */

#ifndef PERF_DIAGNOSIS          /* 1 in one file of a program: its reports and flame pages have   */
#define PERF_DIAGNOSIS PERF_AT_EXIT     /* the five lines; PERF_AT_EXIT 1 brings them along       */
#endif

PERF_BEGIN_DECLS

/* >>diagnosis --------------------------------------------------------------------------------- */

/* What perf_diagnose() has found.  Times in ns; a plain struct, texts are its own. */
typedef struct perf_diagnosis {
    perf_bound_by bound;
    double        share[PERF_BY_ALL_];       /* of the unit's time, at least so much; UNKNOWN: */
                                /* off the processor for a reason that nothing recorded says;     */
                                /* CACHE_MISSES to FRONT_END: an estimate, a part of CPU          */
                                /* DEVICE, COPIES: it was busy; LAUNCHES: it had nothing to do    */
    char          unit[128];    /* the outermost scope that repeats                               */
    uint64_t      calls;        /* of the unit                                                    */
    double        mean_ns;
    perf_summary  time;         /* of the calls in the ring, a thread's first left out; count 0:  */
                                /* fewer than 7, or another scope of that name is as deep         */
    char          where[256];   /* path of scopes                                                 */
    double        where_share, where_ns, where_calls;   /* of a unit's time; per unit             */
    double        best, best_run;       /* so many times as fast without it: a unit, the threads  */
    double        overlapped;   /* the same, if it ran beside the rest                            */
    const char   *advice;       /* what usually helps                                             */
    char          verify[224];  /* the command that would accept it: OLD, NEW, PROGRAM are yours  */
    perf_counted  counted;      /* of the unit                                                    */
} perf_diagnosis;

/* Any thread; reads /proc.  PERF_ENODATA: nothing that repeats was recorded; PERF_EINVAL: NULL;
 * PERF_ENOMEM.  After any of these *d is all zero.                                               */
PERF_FN perf_status perf_diagnose(perf_diagnosis *d);

/* >>private: bodies, callees before their callers -------------------------------------------- */

#define PERF_UNIT_CALLS_ 8u     /* fewer are no repetition                                        */

typedef struct perf_look_ {     /* what is looked at; times in ns                                 */
    perf_registry_ *registry;
    perf_tree_     *tree;
    uint32_t        unit;       /* its node                                                       */
    double          tick, age;
    double          total;      /* of the unit                                                    */
    double          life;       /* of the threads that have it, since their first mark            */
    double          sure[PERF_BY_ALL_];
    double         *call;       /* lengths from the ring                                          */
    size_t          calls, room;
} perf_look_;

/* Looks at what Linux says of a thread that has the unit.  Whatever may have happened outside of
 * the unit is taken off, so that what is left is a lower bound.                                  */
PERF_COLD_FN_ void perf_look_thread_(perf_look_ *k, perf_recorder_ *t, double total, double waits)
{
    const uint64_t birth = PERF_GET_(&t->birth);
    const double   life = PERF_CAST_(double, perf_scope_ticks_(k->registry) - birth) * k->tick;
    const double   outside = k->age - total;    /* of the unit, at most                           */
    double         ran, ready, system, unexplained;
    uint64_t       sched[3], stat[13];

    k->life += life;
    perf_proc_read_(t->thread, "schedstat", sched, 3);
    ran = PERF_CAST_(double, sched[0]);
    if (!(ran > 0) || outside < life - total)   /* ended, no Linux, or a clock of the user's      */
        return;
    perf_proc_read_(t->thread, "stat", stat, 13);
    ready = PERF_CAST_(double, sched[1]) - outside;
    if (ready < 0)
        ready = 0;
    k->sure[PERF_BY_NO_PROCESSOR] += ready;
    unexplained = total - ran - waits - ready;
    if (unexplained > 0)
        k->sure[PERF_BY_UNKNOWN] += unexplained;
    system = PERF_CAST_(double, stat[11]) * 1e7 - outside;      /* in the kernel, in 10 ms        */
    if (system > 0 && PERF_CAST_(double, stat[6]) * 2000 >= system)     /* 0.3 to 2 us a fault    */
        k->sure[PERF_BY_MEMORY] += system;
    if (ran > outside)
        k->sure[PERF_BY_CPU] += ran - outside < total ? ran - outside : total;
}

/* Keeps the calls of the unit that the ring of a thread still holds, but for the oldest. */
PERF_COLD_FN_ void perf_look_calls_(void *with, const perf_events_ *e)
{
    perf_look_       *k = PERF_CAST_(perf_look_ *, with);
    const perf_node_ *unit = &k->tree->node[k->unit];
    size_t            before = k->calls;
    perf_zone_        z;
    uint64_t          i = 0;

    while (i < e->count && k->calls < k->room)
        if (perf_zone_at_(e, &i, k->registry, &z) && z.name == unit->name &&
            z.depth == (unit->depth & 255))
            k->call[k->calls++] = PERF_CAST_(double, z.length) * k->tick;
    k->calls -= k->calls > before;
}

/* Figures of the unit; of the mean alone where another scope of that name is as deep. */
PERF_COLD_FN_ void perf_look_baseline_(perf_look_ *k, perf_diagnosis *d)
{
    const perf_node_ *node = k->tree->node, *unit = &node[k->unit];
    uint32_t          i;

    d->calls = unit->calls;
    d->mean_ns = k->total / PERF_CAST_(double, unit->calls);
    for (i = 1; i < k->tree->count; i++)
        if (i != k->unit && node[i].name == unit->name && node[i].depth == unit->depth)
            return;
    k->room = PERF_CAST_(size_t, unit->calls < 1000000 ? unit->calls : 1000000);
    k->call = PERF_CAST_(double *, PERF_MALLOC(k->room * sizeof *k->call));
    if (k->call && perf_events_each_(k->registry, perf_look_calls_, k) &&
        k->calls >= PERF_UNIT_CALLS_ - 1)
        d->time = perf_summarize(k->call, k->calls);
    PERF_FREE(k->call);
}

/* The threads that have the unit, and what devices did meanwhile; *device and *copies in ns. */
PERF_COLD_FN_ void perf_look_threads_(perf_look_ *k, double *device, double *copies)
{
    const uint32_t  depth = k->tree->node[k->unit].depth;
    perf_recorder_ *t;

    for (t = PERF_ACQ_(&k->registry->recorders); t; t = t->next) {
        perf_visit_ v = PERF_ZERO;
        double      total = 0, waits = 0;
        v.recorder = t;
        while (perf_visit_next_(&v)) {
            const uint32_t    kind = v.name->kind;
            const double      ns = PERF_CAST_(double, PERF_GET_(&v.cell->sum)) * k->tick;
            const perf_cell_ *up = v.cell;
            if (kind == PERF_KIND_DEVICE_)
                *device += ns;
            else if (kind > PERF_KIND_DEVICE_ && kind <= PERF_KIND_COPY_)
                *copies += ns;
            if (!PERF_KIND_HOST_(kind))
                continue;
            while (up->depth > depth)
                up = up->parent;
            if (perf_tree_path_(k->tree, up) != k->unit)
                continue;
            if (up == v.cell)
                total += PERF_CAST_(double, v.ticks.total) * k->tick;
            if (kind != PERF_KIND_SCOPE_)
                waits += PERF_CAST_(double, v.ticks.self) * k->tick;
        }
        if (total > 0)
            perf_look_thread_(k, t, total, waits);
    }
}

/* The node inside the unit that has the most time of a bound; *all: the time of all such nodes. */
PERF_COLD_FN_ uint32_t perf_look_where_(const perf_look_ *k, perf_bound_by bound, double *all)
{
    const perf_node_ *node = k->tree->node;
    const perf_name_ *name;
    uint32_t          i, up, best = 0;

    *all = 0;
    for (i = 1; i < k->tree->count; i++) {
        for (up = i; up && up != k->unit; up = node[up].parent) {
        }
        name = PERF_ACQ_(&k->registry->names)[node[i].name];
        if (!up || perf_kind_bound_(name->kind, name->site.name) != bound)
            continue;
        *all += PERF_CAST_(double, node[i].self) * k->tick;
        if (!best || node[i].self > node[best].self)
            best = i;
    }
    return best;
}

/* What devices did, in ns of their scopes; these count twice when two streams or nested scopes
 * were busy, so what a device itself tells comes before that.                                    */
PERF_COLD_FN_ void perf_look_device_(const perf_look_ *k, perf_evidence_ *e, double device,
                                     double copies)
{
    perf_source_ *source;

    e->busy = -1;
    if (device + copies > 0) {
        e->busy = (device + copies) / k->total;
        e->copies = copies / (device + copies);
        e->starved = e->busy < 0.25 ? 0.5 : 0;  /* when, no cell can tell                         */
    }
    for (source = PERF_ACQ_(&k->registry->sources); source; source = source->next)
        if (source->evidence)
            source->evidence(e, k->total);
}

/* A speed-up to ask for: half of what is possible, 1.02 to 1.3. */
PERF_FN double perf_look_goal_(double best_run)
{
    double goal = 1 + (best_run - 1) / 2;

    if (best_run > 1.6)
        goal = 1.3;
    return goal < 1.02 ? 1.02 : goal;
}

/* Can the command of perf_look_verify_ hold the name of that loop, and force its variants? */
PERF_COLD_FN_ int perf_look_forces_(const perf_loop_ *loop)
{
    if (loop->kind == 1 || PERF_GET_(&loop->forgotten))
        return 0;
    return PERF_LIBC_(strlen)(loop->name) <= 40 && !PERF_LIBC_(strchr)(loop->name, '\'');
}

PERF_COLD_FN_ void perf_look_put_variant_(perf_out_ *o, const char *name, const char *variant)
{
    perf_put_(o, " -- env 'PERF_VARIANT=");
    (void)perf_put_cut_(o, name, 40);
    perf_put_(o, variant);
    perf_put_(o, "' PROGRAM");
}

/* How to verify with what the program offers: variants, saved runs; else with two programs. */
PERF_COLD_FN_ void perf_look_verify_(perf_registry_ *r, perf_diagnosis *d)
{
    perf_out_         o = perf_out_open_(d->verify, sizeof d->verify);
    const int         held = perf_loops_hold_(r);
    const perf_loop_ *any = held ? PERF_ACQ_(&r->results) : PERF_NULL_, *race = any;
    const double      goal = perf_look_goal_(d->best_run);

    while (race && !perf_look_forces_(race))
        race = race->next;
    if (any && !race) {
        perf_put_(&o, "PROGRAM --save old.json, and with the change PROGRAM --compare old.json ");
        perf_put_number_(&o, "--accept 'speedup >= ", goal, 2);
        perf_put_(&o, "' (PERF_MAIN)");
    } else {
        perf_put_number_(&o, "perf-ab run --accept 'speedup >= ", goal, 2);
        perf_put_char_(&o, '\'');
        if (race) {
            perf_look_put_variant_(&o, race->name, "=A");
            perf_look_put_variant_(&o, race->name, "=B");
        } else {
            perf_put_(&o, " -- OLD -- NEW");
        }
    }
    if (held)
        perf_loops_let_(r);
}

PERF_FN const char *perf_look_name_(const perf_look_ *k, uint32_t node)
{
    return PERF_ACQ_(&k->registry->names)[k->tree->node[node].name]->site.name;
}

/* "step > read" */
PERF_COLD_FN_ void perf_look_path_(const perf_look_ *k, uint32_t node, perf_out_ *o)
{
    uint32_t up = k->tree->node[node].parent;

    if (up) {
        perf_look_path_(k, up, o);
        perf_put_(o, " > ");
    }
    (void)perf_put_cut_(o, perf_look_name_(k, node), 40);
}

/* Shares of the unit's time, each at least so much. */
PERF_COLD_FN_ void perf_look_shares_(perf_look_ *k, perf_diagnosis *d)
{
    double all;
    int    i;

    for (i = 0; i < PERF_BY_ALL_; i++)
        d->share[i] = k->sure[i] / k->total;
    for (i = PERF_BY_DATA; i <= PERF_BY_SYNCS; i++) {
        if (i == PERF_BY_CPU || !perf_look_where_(k, PERF_CAST_(perf_bound_by, i), &all))
            continue;
        if (all / k->total > d->share[i])
            d->share[i] = all / k->total;
    }
}

/* What a device did, of the unit's time: busy, busy with copies, and without anything to do. */
PERF_COLD_FN_ void perf_look_device_shares_(perf_diagnosis *d, const perf_evidence_ *e)
{
    double busy = 1, copies = 0;

    if (e->busy < 1)
        busy = e->busy;
    if (e->copies > 0)
        copies = e->copies;
    if (busy < 0)
        return;
    d->share[PERF_BY_DEVICE] = busy * (1 - copies);
    d->share[PERF_BY_COPIES] = busy * copies;
    if (e->measured)
        d->share[PERF_BY_LAUNCHES] = e->starved;
}

/* The scopes that show a bound: devices are seen where the host waits, launches where it works. */
PERF_FN perf_bound_by perf_look_shown_by_(perf_bound_by bound)
{
    if (bound == PERF_BY_DEVICE || bound == PERF_BY_COPIES)
        return PERF_BY_SYNCS;
    return bound == PERF_BY_LAUNCHES ? PERF_BY_CPU : bound;
}

/* The node that shows a bound, and *part of the unit's time that it spends so. */
PERF_COLD_FN_ uint32_t perf_look_shown_(const perf_look_ *k, const perf_evidence_ *e,
                                        const perf_diagnosis *d, double *part)
{
    const perf_bound_by shown_by = perf_look_shown_by_(d->bound);
    double              all, self = 0;
    uint32_t            where;

    if (d->bound >= PERF_BY_CACHE_MISSES)
        where = e->lost_in[d->bound - PERF_BY_CACHE_MISSES];
    else
        where = perf_look_where_(k, shown_by, &all);
    if (where)
        self = PERF_CAST_(double, k->tree->node[where].self) * k->tick / k->total;
    *part = self;
    if (d->bound >= PERF_BY_CACHE_MISSES) {
        *part = e->lost_there[d->bound - PERF_BY_CACHE_MISSES] * d->share[PERF_BY_CPU];
        if (*part > self)
            *part = self;
    }
    if (shown_by == PERF_BY_MEMORY && *part < d->share[shown_by] / 2)
        where = 0;                              /* faults: no scope is known to have made them    */
    return where;
}

/* Where most of it is, and what it would bring if it vanished. */
PERF_COLD_FN_ void perf_look_place_(perf_look_ *k, const perf_evidence_ *e, perf_diagnosis *d)
{
    const double units = PERF_CAST_(double, k->tree->node[k->unit].calls);
    perf_out_    o = perf_out_open_(d->where, sizeof d->where);
    double       part;
    uint32_t     where = perf_look_shown_(k, e, d, &part);

    if (!where) {
        where = k->unit;
        part = d->bound == PERF_BY_UNKNOWN ? 0 : d->share[perf_look_shown_by_(d->bound)];
    }
    if (part > 0.999)
        part = 0.999;
    perf_look_path_(k, where, &o);
    d->where_share = part;
    d->where_ns = part * k->total / units;
    d->where_calls = PERF_CAST_(double, k->tree->node[where].calls) / units;
    d->best = 1 / (1 - part);
    d->overlapped = 1 / (part > 0.5 ? part : 1 - part);
    d->best_run = d->best;
    if (k->life > k->total)
        d->best_run = 1 / (1 - part * k->total / k->life);
}

/* What usually helps. */
PERF_COLD_FN_ const char *perf_advice_of_(perf_bound_by bound)
{
    static const char *const advice[PERF_BY_ALL_] = {
        "mark the parts of a unit with PERF_SCOPE, and what waits with PERF_WAIT",
        "read ahead in another thread, in larger pieces; keep it in memory",
        "hold it for less, split it, or give each thread data of its own",
        "fewer threads than processors, or a machine that others leave alone",
        "reuse buffers, allocate once before the loop, use larger pages",
        "a better algorithm first, then data layout, vectors, threads",
        "a faster kernel: look at it with the device's own profiler",
        "copy less, from pinned memory, beside kernels of another stream",
        "wait once a unit, not after each piece of work",
        "more work a launch: fuse kernels, batch, or capture a graph",
        "smaller data, used in the order in which it lies, in blocks that fit",
        "sort the data, compute both sides and select, or let a table decide",
        "less code in the loop, fewer copies of it; a profile-guided build"};

    return advice[bound];
}

PERF_COLD_FN_ void perf_look_solve_(perf_look_ *k, perf_diagnosis *d)
{
    perf_evidence_ e = PERF_ZERO;
    perf_out_      o = perf_out_open_(d->unit, sizeof d->unit);
    double         device = 0, copies = 0;
    int            i;

    perf_put_(&o, perf_look_name_(k, k->unit));
    perf_look_baseline_(k, d);
    perf_look_threads_(k, &device, &copies);
    perf_look_shares_(k, d);
    PERF_LIBC_(memcpy)(e.share, d->share, sizeof e.share);
    e.tree = k->tree;
    e.unit = k->unit;
    perf_look_device_(k, &e, device, copies);
    d->bound = perf_bound_decide_(&e);
    perf_look_device_shares_(d, &e);
    d->counted = e.counted;
    for (i = 0; i < PERF_LOST_ && e.counted.calls; i++)
        if (e.counted.lost[i].share > 0)
            d->share[PERF_BY_CACHE_MISSES + i] = e.counted.lost[i].share * d->share[PERF_BY_CPU];
    perf_look_place_(k, &e, d);
    d->advice = perf_advice_of_(d->bound);
    perf_look_verify_(k->registry, d);
}

/* Is it a scope that repeats, with more time than the best so far, or as much and further out? */
PERF_COLD_FN_ int perf_unit_is_(const perf_visit_ *v, const perf_visit_ *best)
{
    if (v->name->kind != PERF_KIND_SCOPE_ || PERF_GET_(&v->cell->count) < PERF_UNIT_CALLS_)
        return 0;
    if (v->ticks.total != best->ticks.total)
        return v->ticks.total > best->ticks.total;
    return best->cell && v->cell->depth < best->cell->depth;
}

/* The scope that repeats and has most time; NULL: none was called PERF_UNIT_CALLS_ times. */
PERF_COLD_FN_ perf_cell_ *perf_look_unit_(perf_registry_ *r)
{
    perf_recorder_ *t;
    perf_visit_     best = PERF_ZERO;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        perf_visit_ v = PERF_ZERO;
        v.recorder = t;
        while (perf_visit_next_(&v))
            if (perf_unit_is_(&v, &best))
                best = v;
    }
    return best.cell;
}

PERF_FN perf_status perf_diagnose(perf_diagnosis *d)
{
    perf_registry_ *r = perf_registry_read_();
    perf_cell_     *unit;
    perf_look_      k;
    perf_status     status = PERF_ENODATA;

    if (!d)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(d, 0, sizeof *d);
    PERF_LIBC_(memset)(&k, 0, sizeof k);
    if (!r)
        return PERF_ENOMEM;
    perf_sources_collect_(r);
    unit = perf_look_unit_(r);
    if (!unit)
        return PERF_ENODATA;
    k.registry = r;
    k.tick = perf_scope_tick_ns_(r);
    k.age = PERF_CAST_(double, perf_age_ns_()) + 2e7;       /* known to 10 ms: never too young    */
    k.tree = perf_tree_make_(r);
    if (!k.tree)
        return PERF_ENOMEM;
    k.unit = perf_tree_path_(k.tree, unit);
    if (k.unit)
        k.total = PERF_CAST_(double, k.tree->node[k.unit].total) * k.tick;
    if (k.total > 0) {
        perf_look_solve_(&k, d);
        status = PERF_OK;
    }
    PERF_FREE(k.tree);
    return status;
}

/* A thread that records and still runs; times in ns since it began. */
typedef struct perf_thread_seen_ {
    uint64_t number;
    char     name[32];
    double   ran, ready;        /* on a processor; ready for one                                  */
    double   at_once;           /* the most of that which is known to lie in one call, ...        */
    const char *in;             /* ... and of which scope; "": none                               */
    int      alone;             /* 1: no other is known to run                                    */
} perf_thread_seen_;

/* 0: Linux does not tell, or the thread is gone. */
PERF_COLD_FN_ int perf_thread_look_(perf_registry_ *r, perf_recorder_ *t, perf_thread_seen_ *seen)
{
    uint64_t sched[2], away = 0;

    PERF_LIBC_(memset)(seen, 0, sizeof *seen);
    perf_proc_read_(t->thread, "schedstat", sched, 2);
    if (!sched[0] || !perf_lock_(r))
        return 0;
    PERF_LIBC_(memcpy)(seen->name, t->name, sizeof t->name);
    seen->alone = r->alive < 2;
    perf_unlock_(&r->lock);
    if (!(PERF_GET_(&t->request) & PERF_ASK_RESET_))
        away = PERF_ACQ_(&t->away);
    seen->number = t->thread;
    seen->ran = PERF_CAST_(double, sched[0]);
    seen->ready = PERF_CAST_(double, sched[1]);
    seen->at_once = PERF_CAST_(double, away);
    seen->in = away ? PERF_ACQ_(&r->names)[PERF_GET_(&t->away_in)]->site.name : "";
    return 1;
}

PERF_COLD_FN_ void perf_put_json_threads_(perf_writer_ *json, perf_registry_ *r)
{
    perf_recorder_   *t;
    perf_thread_seen_ seen;

    perf_member_open_(json, "threads", '[');
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        if (!perf_thread_look_(r, t, &seen))
            continue;
        perf_member_open_(json, PERF_NULL_, '{');
        perf_member_whole_(json, "thread", seen.number);
        perf_member_text_(json, "name", seen.name);
        perf_member_fixed_(json, "ran_ns", seen.ran, 0);
        perf_member_fixed_(json, "no_cpu_ns", seen.ready, 0);
        perf_member_fixed_(json, "at_once_ns", seen.at_once, 0);
        perf_member_text_(json, "in", seen.in);
        perf_member_close_(json, '}');
    }
    perf_member_close_(json, ']');
}

/* Eight threads at most; none where there is but one, which was never off for long. */
PERF_COLD_FN_ void perf_put_threads_(perf_out_ *o, perf_registry_ *r)
{
    perf_recorder_   *t = PERF_ACQ_(&r->recorders);
    perf_thread_seen_ seen;
    int               rows = 0;

    for (; t && rows < 8; t = t->next) {
        if (!perf_thread_look_(r, t, &seen) || (seen.alone && !(seen.at_once > 0)))
            continue;
        if (!rows++)
            perf_put_(o, "  thread                           ran    no cpu   at once  in\n");
        perf_put_fixed_in_(o, PERF_CAST_(double, seen.number), 0, 8);
        perf_put_char_(o, ' ');
        perf_put_padded_(o, seen.name, 19);
        perf_put_ns_in_(o, seen.ran, 10);
        perf_put_ns_in_(o, seen.ready, 10);
        perf_put_ns_in_(o, seen.at_once, 10);
        perf_put_(o, "  ");
        (void)perf_put_cut_(o, seen.in, 20);
        perf_put_char_(o, '\n');
    }
}

/* "IPC 0.12, 31.0 a 1,000 instructions in walk": what the answer is based on.  Nothing was counted,
 * or the answer is none of the processor's: nothing.                                             */
PERF_COLD_FN_ void perf_put_because_(perf_out_ *o, const perf_diagnosis *d)
{
    const perf_lost *lost = &d->counted.lost[0];

    if (!d->counted.calls || (d->bound != PERF_BY_CPU && d->bound < PERF_BY_CACHE_MISSES))
        return;
    if (d->bound == PERF_BY_CPU) {
        perf_put_number_(o, ", IPC ", d->counted.ipc, 2);
        return;
    }
    lost += d->bound - PERF_BY_CACHE_MISSES;
    perf_put_number_(o, ", IPC ", lost->ipc, 2);
    perf_put_number_(o, ", ", lost->per_1000, 1);
    perf_put_(o, d->bound == PERF_BY_FRONT_END ? " lost cycles" : " misses");
    perf_put_(o, " a 1,000 instructions in ");
    (void)perf_put_cut_(o, lost->scope, 40);
}

/* "counted: IPC 0.42; cache misses about 58 % of the cycles (most in walk: IPC 0.12, 31.0 a 1,000
 * instructions), branch misses about 1 % ...": below the line of the bound.                      */
PERF_COLD_FN_ void perf_put_counts_line_(perf_out_ *o, const perf_diagnosis *d)
{
    static const char *const each[PERF_LOST_] = {", at 180 cycles", ", at 20 cycles", ""};
    const perf_lost         *lost;
    int                      i, some = 0;

    if (!d->counted.calls)
        return;
    perf_put_number_(o, "counted: IPC ", d->counted.ipc, 2);
    for (i = 0; i < PERF_LOST_; i++) {
        lost = &d->counted.lost[i];
        if (perf_is_nan_(lost->share))
            continue;
        perf_put_(o, some++ ? ", " : "; of the cycles about ");
        perf_put_fixed_(o, lost->share * 100, 0);
        perf_put_(o, " % ");
        perf_put_(o, perf_diagnosis_text(PERF_CAST_(perf_bound_by, PERF_BY_CACHE_MISSES + i)));
        if (lost->share < 0.005)
            continue;
        perf_put_(o, " (most in ");
        (void)perf_put_cut_(o, lost->scope, 40);
        perf_put_number_(o, ": IPC ", lost->ipc, 2);
        perf_put_number_(o, ", ", lost->per_1000, 1);
        perf_put_(o, " a 1,000 instructions");
        perf_put_(o, each[i]);
        perf_put_char_(o, ')');
    }
    if (d->counted.calls < d->calls)
        perf_put_number_(o, "; calls that were counted: ", PERF_CAST_(double, d->counted.calls), 0);
    if (d->counted.scaled) {
        perf_put_number_(o, "; scaled up, as others had the counters: ",
                         PERF_CAST_(double, d->counted.scaled), 0);
        perf_put_(o, " calls");
    }
    perf_put_char_(o, '\n');
}

/* "cpu (of step, 100 calls)", for the table and the line of the GPU. */
PERF_COLD_FN_ void perf_put_answer_(perf_out_ *o, perf_status status, const perf_diagnosis *d)
{
    perf_put_(o, perf_diagnosis_text(d->bound));
    if (status != PERF_OK) {
        perf_put_(o, " (no scope was called 8 times)");
        return;
    }
    perf_put_(o, " (of ");
    (void)perf_put_cut_(o, d->unit, 60);
    perf_put_(o, ", ");
    perf_put_u64_(o, d->calls);
    perf_put_(o, " calls");
    perf_put_because_(o, d);
    perf_put_char_(o, ')');
}

/* A text that may be NULL. */
PERF_COLD_FN_ void perf_put_json_text_(perf_writer_ *json, const char *key, const char *text)
{
    perf_member_text_(json, key, text ? text : "");
}

/* Nothing where nothing was counted. */
PERF_COLD_FN_ void perf_put_counts_json_(perf_writer_ *json, const perf_counted *c)
{
    int i;

    if (!c->calls)
        return;
    perf_member_open_(json, "counted", '{');
    perf_member_whole_(json, "calls", c->calls);
    perf_member_whole_(json, "scaled", c->scaled);
    perf_member_fixed_(json, "ipc", c->ipc, 6);
    for (i = 0; i < PERF_LOST_; i++) {
        perf_member_open_(json, perf_diagnosis_text(PERF_CAST_(perf_bound_by,
                                                               PERF_BY_CACHE_MISSES + i)), '{');
        perf_member_fixed_(json, "share", c->lost[i].share, 6);
        perf_member_fixed_(json, "per_1000", c->lost[i].per_1000, 6);
        perf_member_fixed_(json, "ipc", c->lost[i].ipc, 6);
        perf_put_json_text_(json, "in", c->lost[i].scope);
        perf_member_close_(json, '}');
    }
    perf_member_close_(json, '}');
}

/* Of the calls that the ring still holds; nothing where there are none. */
PERF_COLD_FN_ void perf_put_json_last_(perf_writer_ *json, const perf_summary *time)
{
    if (!time->count)
        return;
    perf_member_open_(json, "last", '{');
    perf_member_whole_(json, "calls", time->count);
    perf_member_fixed_(json, "mean_ns", time->mean, 3);
    perf_member_fixed_(json, "std_ns", time->std, 3);
    perf_member_fixed_(json, "p50_ns", time->p50, 3);
    perf_member_fixed_(json, "p95_ns", time->p95, 3);
    perf_member_close_(json, '}');
}

PERF_COLD_FN_ void perf_put_diagnosis_json_(perf_out_ *o, const perf_diagnosis *d)
{
    perf_writer_ json = {PERF_NULL_, 0, 0};
    int          i;

    json.out = o;
    perf_member_open_(&json, PERF_NULL_, '{');
    perf_member_text_(&json, "bound", perf_diagnosis_text(d->bound));
    perf_put_json_text_(&json, "unit", d->unit);
    perf_member_whole_(&json, "calls", d->calls);
    perf_member_fixed_(&json, "mean_ns", d->mean_ns, 3);
    perf_put_json_last_(&json, &d->time);
    perf_member_open_(&json, "share", '{');
    for (i = 0; i < PERF_BY_ALL_ && (i < PERF_BY_CACHE_MISSES || d->counted.calls); i++)
        perf_member_fixed_(&json, perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)), d->share[i],
                           6);
    perf_member_close_(&json, '}');
    perf_put_json_text_(&json, "where", d->where);
    perf_member_fixed_(&json, "where_share", d->where_share, 6);
    perf_member_fixed_(&json, "where_ns", d->where_ns, 3);
    perf_member_fixed_(&json, "where_calls", d->where_calls, 3);
    perf_member_fixed_(&json, "best", d->best, 3);
    perf_member_fixed_(&json, "best_run", d->best_run, 3);
    perf_member_fixed_(&json, "overlapped", d->overlapped, 3);
    perf_put_json_text_(&json, "advice", d->advice);
    perf_put_json_text_(&json, "verify", d->verify);
    perf_put_counts_json_(&json, &d->counted);
    perf_put_json_threads_(&json, perf_registry_get_());
    perf_member_close_(&json, '}');
}

/* "baseline: step, 100 calls: mean 10.0 ms; the last 99 without a first: mean 10.0 ms, ..." */
PERF_COLD_FN_ void perf_put_unit_(perf_out_ *o, const perf_diagnosis *d)
{
    perf_put_(o, "baseline: ");
    (void)perf_put_cut_(o, d->unit, 60);
    perf_put_(o, ", ");
    perf_put_u64_(o, d->calls);
    perf_put_(o, " calls: mean ");
    perf_put_ns_(o, d->mean_ns);
    if (d->time.count) {
        perf_put_(o, "; the last ");
        perf_put_u64_(o, d->time.count);
        perf_put_(o, " without a first: mean ");
        perf_put_ns_(o, d->time.mean);
        perf_put_(o, ", std ");
        perf_put_ns_(o, d->time.std);
        perf_put_(o, ", p50 ");
        perf_put_ns_(o, d->time.p50);
        perf_put_(o, ", p95 ");
        perf_put_ns_(o, d->time.p95);
    }
    perf_put_char_(o, '\n');
}

/* "bound by: cpu; at least: cpu 80 %, off the processor for no recorded reason 3 %" */
PERF_COLD_FN_ void perf_put_shares_(perf_out_ *o, const perf_diagnosis *d)
{
    int i, some = 0;

    perf_put_(o, "bound by: ");
    perf_put_(o, perf_diagnosis_text(d->bound));
    perf_put_(o, "; at least:");
    for (i = PERF_BY_DATA; i <= PERF_BY_LAUNCHES; i++) {
        if (d->share[i] < 0.005)
            continue;
        perf_put_(o, some++ ? ", " : " ");
        perf_put_(o, perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)));
        perf_put_number_(o, " ", d->share[i] * 100, 0);
        perf_put_(o, " %");
    }
    perf_put_number_(o, some ? ", off the processor for no recorded reason "
                             : " off the processor for no recorded reason ",
                     d->share[PERF_BY_UNKNOWN] * 100, 0);
    perf_put_(o, " %\n");
}

/* Where it is, what to try, and how to verify. */
PERF_COLD_FN_ void perf_put_advice_(perf_out_ *o, const perf_diagnosis *d)
{
    perf_put_(o, "where: ");
    perf_put_(o, d->where);
    perf_put_number_(o, ": ", d->where_share * 100, 0);
    perf_put_(o, " % of a ");
    (void)perf_put_cut_(o, d->unit, 60);
    perf_put_(o, ", ");
    perf_put_ns_(o, d->where_ns);
    perf_put_number_(o, " in ", d->where_calls, 1);
    perf_put_(o, " calls\ntry: ");
    perf_put_(o, d->advice);
    if (d->bound != PERF_BY_UNKNOWN) {
        perf_put_number_(o, "; at best ", d->best, 2);
        perf_put_number_(o, " times as fast if it vanished (", d->best_run, 2);
        perf_put_number_(o, " the threads' whole time), ", d->overlapped, 2);
        perf_put_(o, " if it ran beside the rest");
    }
    perf_put_(o, "\nverify: ");
    perf_put_(o, d->verify);
    perf_put_char_(o, '\n');
}

/* The five lines, one JSON object, or the answer alone: PERF_DIAGNOSIS_ in perf_bound.h. */
PERF_COLD_FN_ void perf_put_diagnosis_(perf_out_ *o, int form)
{
    perf_diagnosis d = PERF_ZERO;
    perf_status    status = perf_diagnose(&d);

    if (form == PERF_DIAGNOSIS_ANSWER_) {
        perf_put_answer_(o, status, &d);
    } else if (form == PERF_DIAGNOSIS_JSON_) {
        perf_put_diagnosis_json_(o, &d);
    } else if (status != PERF_OK) {
        perf_put_(o, "diagnosis: no scope was called 8 times: give one step a PERF_SCOPE\n");
    } else {
        perf_put_unit_(o, &d);
        perf_put_shares_(o, &d);
        perf_put_counts_line_(o, &d);
        perf_put_advice_(o, &d);
        perf_put_threads_(o, perf_registry_get_());
    }
}

#if PERF_DIAGNOSIS && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_diagnosis_at_start_(void)
{
    perf_registry_ *r = perf_registry_get_();

    if (r) {
        perf_image_pin_();                      /* any image may write the report                 */
        PERF_REL_(&r->put_diagnosis, &perf_put_diagnosis_);
    }
}
#endif

#if PERF_DISABLE
#define perf_diagnose(d) PERF_OFF_CODE_((perf_diagnose)(d))
#endif

PERF_END_DECLS

#endif /* PERF_DIAGNOSIS_H */
