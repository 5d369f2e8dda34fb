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
    double        where_share, where_ns, where_calls;   /* of a unit's time; per unit.  Share 0:  */
                                /* no place in it is known                                        */
    double        best, best_run;       /* so many times as fast without it: a unit, the threads  */
    double        overlapped;   /* the same, if it ran beside the rest                            */
    const char   *advice;       /* what usually helps                                             */
    char          verify[224];  /* the command that would accept it: OLD, NEW, PROGRAM are yours  */
    perf_counted  counted;      /* of the unit                                                    */
} perf_diagnosis;

/* Any thread; reads /proc.  PERF_ENODATA: nothing that repeats was recorded; PERF_EINVAL: NULL;
 * PERF_ENOMEM.  After any of these *diagnosis is all zero.                                       */
PERF_FN perf_status perf_diagnose(perf_diagnosis *diagnosis);

/* >>private: bodies, callees before their callers -------------------------------------------- */

#define PERF_UNIT_CALLS_ 8u     /* fewer are no repetition                                        */

typedef struct perf_look_ {     /* what is looked at; times in ns                                 */
    perf_registry_ *registry;
    perf_tree_     *tree;
    uint32_t        unit;       /* its node                                                       */
    double          tick, age;
    double          total;      /* of the unit                                                    */
    double          units;      /* its calls that are inside of no other                          */
    double          life;       /* of the threads that have it, since their first mark            */
    double          sure[PERF_BY_ALL_];
    double         *call;       /* lengths from the ring                                          */
    size_t          calls, room;
} perf_look_;

/* Numbers of a line of /proc/PID/task/TID/stat, counted from the parent's: page faults without
 * I/O, and time in the kernel, in steps of PERF_STAT_NS_.                                        */
enum { PERF_STAT_FAULTS_ = 6, PERF_STAT_SYSTEM_ = 11 };
#define PERF_STAT_NS_ 1e7

/* Looks at what Linux says of a thread that has the unit.  Whatever may have happened outside of
 * the unit is taken off, so that what is left is a lower bound.                                  */
PERF_COLD_FN_ void perf_look_thread_(perf_look_ *look, perf_recorder_ *rec, double total,
                                     double waits)
{
    const uint64_t birth = PERF_GET_(&rec->birth);
    const double   life =
        PERF_CAST_(double, perf_scope_ticks_(look->registry) - birth) * look->tick;
    const double   outside = look->age - total; /* of the unit, at most                           */
    double         ran, ready, system, faults, unexplained;
    uint64_t       sched[3], stat[13];

    look->life += life;
    perf_proc_read_(rec->thread, "schedstat", sched, 3);
    ran = PERF_CAST_(double, sched[0]);
    if (!(ran > 0) || outside < life - total)   /* ended, no Linux, or a clock of the user's      */
        return;
    perf_proc_read_(rec->thread, "stat", stat, 13);
    ready = PERF_CAST_(double, sched[1]) - outside;
    if (ready < 0)
        ready = 0;
    look->sure[PERF_BY_NO_PROCESSOR] += ready;
    unexplained = total - ran - waits - ready;
    if (unexplained > 0)
        look->sure[PERF_BY_UNKNOWN] += unexplained;
    system = PERF_CAST_(double, stat[PERF_STAT_SYSTEM_]) * PERF_STAT_NS_ - outside;
    faults = PERF_CAST_(double, stat[PERF_STAT_FAULTS_]);
    if (system > 0 && faults * 2000 >= system)  /* 0.3 to 2 us a fault                            */
        look->sure[PERF_BY_MEMORY] += system;
    if (ran > outside)
        look->sure[PERF_BY_CPU] += ran - outside < total ? ran - outside : total;
}

/* Keeps the calls of the unit that the ring of a thread still holds, but for the oldest. */
PERF_COLD_FN_ void perf_look_calls_(void *with, const perf_events_ *events)
{
    perf_look_       *look = PERF_CAST_(perf_look_ *, with);
    const perf_node_ *unit = &look->tree->node[look->unit];
    size_t            before = look->calls;
    perf_zone_        zone;
    uint64_t          i = 0;

    while (i < events->count && look->calls < look->room)
        if (perf_zone_at_(events, &i, look->registry, &zone) && zone.name == unit->name &&
            zone.depth == (unit->depth & 255))
            look->call[look->calls++] = PERF_CAST_(double, zone.length) * look->tick;
    look->calls -= look->calls > before;
}

/* Figures of the unit; of the mean alone where another scope of that name is as deep. */
PERF_COLD_FN_ void perf_look_baseline_(perf_look_ *look, perf_diagnosis *diagnosis)
{
    const perf_node_ *node = look->tree->node, *unit = &node[look->unit];
    uint32_t          i;

    diagnosis->calls = unit->calls;
    look->units = PERF_CAST_(double, unit->calls);
    diagnosis->mean_ns = look->total / look->units;
    if (unit->sum > unit->total) {              /* recursive: as the table has it                 */
        diagnosis->mean_ns = PERF_CAST_(double, unit->sum) * look->tick / look->units;
        look->units = look->total / diagnosis->mean_ns;
    }
    for (i = 1; i < look->tree->count; i++)
        if (i != look->unit && node[i].name == unit->name && node[i].depth == unit->depth)
            return;
    look->room = PERF_CAST_(size_t, unit->calls < 1000000 ? unit->calls : 1000000);
    look->call = PERF_CAST_(double *, PERF_MALLOC(look->room * sizeof *look->call));
    if (look->call && perf_events_each_(look->registry, perf_look_calls_, look) &&
        look->calls >= PERF_UNIT_CALLS_ - 1)
        diagnosis->time = perf_summarize(look->call, look->calls);
    PERF_FREE(look->call);
}

/* The threads that have the unit, and what devices did meanwhile; *device and *copies in ns. */
PERF_COLD_FN_ void perf_look_threads_(perf_look_ *look, double *device, double *copies)
{
    const uint32_t  depth = look->tree->node[look->unit].depth;
    perf_recorder_ *rec;

    for (rec = PERF_ACQ_(&look->registry->recorders); rec; rec = rec->next) {
        perf_visit_ visit = PERF_ZERO;
        double      total = 0, waits = 0;
        visit.recorder = rec;
        while (perf_visit_next_(&visit)) {
            const uint32_t    kind = visit.name->kind;
            const double      ns = PERF_CAST_(double, PERF_GET_(&visit.cell->sum)) * look->tick;
            const perf_cell_ *up = visit.cell;
            if (kind == PERF_KIND_DEVICE_)
                *device += ns;
            else if (kind > PERF_KIND_DEVICE_ && kind <= PERF_KIND_COPY_)
                *copies += ns;
            if (!perf_kind_is_host_(kind))
                continue;
            while (up->depth > depth)
                up = up->parent;
            if (perf_tree_path_(look->tree, up) != look->unit)
                continue;
            if (up == visit.cell)
                total += PERF_CAST_(double, visit.ticks.total) * look->tick;
            if (kind != PERF_KIND_SCOPE_)
                waits += PERF_CAST_(double, visit.ticks.self) * look->tick;
        }
        if (total > 0)
            perf_look_thread_(look, rec, total, waits);
    }
}

/* The node inside the unit that has the most time of a bound; *all: the time of all such nodes. */
PERF_COLD_FN_ uint32_t perf_look_where_(const perf_look_ *look, perf_bound_by bound, double *all)
{
    const perf_node_ *node = look->tree->node;
    const perf_name_ *name;
    uint32_t          i, up, best = 0;

    *all = 0;
    for (i = 1; i < look->tree->count; i++) {
        up = i;
        while (up && up != look->unit)
            up = node[up].parent;
        name = PERF_ACQ_(&look->registry->names)[node[i].name];
        if (!up || perf_kind_bound_(name->kind, name->site.name) != bound)
            continue;
        *all += PERF_CAST_(double, node[i].self) * look->tick;
        if (!best || node[i].self > node[best].self)
            best = i;
    }
    return best;
}

/* What devices did, in ns of their scopes; these count twice when two streams or nested scopes
 * were busy, so what a device itself tells comes before that.                                    */
PERF_COLD_FN_ void perf_look_device_(const perf_look_ *look, perf_evidence_ *evidence,
                                     double device, double copies)
{
    perf_source_ *source;

    evidence->busy = -1;
    if (device + copies > 0) {
        evidence->busy = (device + copies) / look->total;
        evidence->copies = copies / (device + copies);
        evidence->starved = evidence->busy < 0.25 ? 0.5 : 0; /* when, no cell can tell            */
    }
    for (source = PERF_ACQ_(&look->registry->sources); source; source = source->next)
        if (source->evidence)
            source->evidence(evidence, look->total);
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
PERF_COLD_FN_ int perf_look_forces_(const perf_kept_loop_ *loop)
{
    if (loop->kind == PERF_LOOP_BENCH_ || PERF_GET_(&loop->forgotten))
        return 0;
    return PERF_LIBC_(strlen)(loop->name) <= 40 && !PERF_LIBC_(strchr)(loop->name, '\'');
}

PERF_COLD_FN_ void perf_look_put_variant_(perf_out_ *out, const char *name, const char *variant)
{
    perf_put_(out, " -- env 'PERF_VARIANT=");
    (void)perf_put_cut_(out, name, 40);
    perf_put_(out, variant);
    perf_put_(out, "' PROGRAM");
}

/* How to verify with what the program offers: variants, saved runs; else with two programs. */
PERF_COLD_FN_ void perf_look_verify_(perf_registry_ *reg, perf_diagnosis *diagnosis)
{
    perf_out_         out = perf_out_open_(diagnosis->verify, sizeof diagnosis->verify);
    const int         held = perf_loops_hold_(reg);
    const perf_kept_loop_ *any = held ? PERF_ACQ_(&reg->results) : PERF_NULL_, *race = any;
    const double      goal = perf_look_goal_(diagnosis->best_run);

    while (race && !perf_look_forces_(race))
        race = race->next;
    if (any && !race) {
        perf_put_(&out, "PROGRAM --save old.json, and with the change PROGRAM --compare old.json ");
        perf_put_number_(&out, "--accept 'speedup >= ", goal, 2);
        perf_put_(&out, "' (PERF_MAIN)");
    } else {
        perf_put_number_(&out, "perf-ab run --accept 'speedup >= ", goal, 2);
        perf_put_char_(&out, '\'');
        if (race) {
            perf_look_put_variant_(&out, race->name, "=A");
            perf_look_put_variant_(&out, race->name, "=B");
        } else {
            perf_put_(&out, " -- OLD -- NEW");
        }
    }
    if (held)
        perf_loops_let_(reg);
}

PERF_FN const char *perf_look_name_(const perf_look_ *look, uint32_t node)
{
    return PERF_ACQ_(&look->registry->names)[look->tree->node[node].name]->site.name;
}

#define PERF_LOOK_AWAY_ "... > "     /* stands for the scopes around that have no room            */

/* A name of the path, cut to 40 columns and to `room` bytes; out NULL: it is measured alone.
 * Returns its bytes.                                                                             */
PERF_COLD_FN_ size_t perf_look_part_(const perf_look_ *look, uint32_t node, perf_out_ *out,
                                     size_t room)
{
    char      text[PERF_NAME_MAX_ + 8];
    perf_out_ part = perf_out_open_(text, sizeof text);
    uint32_t  n;

    (void)perf_put_cut_(&part, perf_look_name_(look, node), 40);
    n = perf_text_length_(text, PERF_CAST_(uint32_t, room));
    if (out)
        perf_put_n_(out, text, n);
    return n;
}

/* "step > read" in `room` bytes at most; where they are too few, "... > " and the end of it. */
PERF_COLD_FN_ void perf_look_path_(const perf_look_ *look, uint32_t node, perf_out_ *out,
                                   size_t room)
{
    const size_t   away = sizeof PERF_LOOK_AWAY_ - 1, most = room - away;
    const uint32_t up = look->tree->node[node].parent;
    size_t         left;                        /* for what is around it                          */

    if (!up) {
        (void)perf_look_part_(look, node, out, room);
        return;
    }
    left = room - perf_look_part_(look, node, PERF_NULL_, most);
    if (left >= 3 + away + perf_look_part_(look, up, PERF_NULL_, PERF_NAME_MAX_)) {
        perf_look_path_(look, up, out, left - 3);
        perf_put_(out, " > ");
    } else {
        perf_put_(out, PERF_LOOK_AWAY_);
    }
    (void)perf_look_part_(look, node, out, most);
}

/* Shares of the unit's time, each at least so much. */
PERF_COLD_FN_ void perf_look_shares_(perf_look_ *look, perf_diagnosis *diagnosis)
{
    double all;
    int    i;

    for (i = 0; i < PERF_BY_ALL_; i++)
        diagnosis->share[i] = look->sure[i] / look->total;
    for (i = PERF_BY_DATA; i <= PERF_BY_SYNCS; i++) {
        if (i == PERF_BY_CPU || !perf_look_where_(look, PERF_CAST_(perf_bound_by, i), &all))
            continue;
        if (all / look->total > diagnosis->share[i])
            diagnosis->share[i] = all / look->total;
    }
}

/* What a device did, of the unit's time: busy, busy with copies, and without anything to do. */
PERF_COLD_FN_ void perf_look_device_shares_(perf_diagnosis *diagnosis,
                                            const perf_evidence_ *evidence)
{
    double busy = 1, copies = 0;

    if (evidence->busy < 1)
        busy = evidence->busy;
    if (evidence->copies > 0)
        copies = evidence->copies;
    if (busy < 0)
        return;
    diagnosis->share[PERF_BY_DEVICE] = busy * (1 - copies);
    diagnosis->share[PERF_BY_COPIES] = busy * copies;
    if (evidence->measured)
        diagnosis->share[PERF_BY_LAUNCHES] = evidence->starved;
}

/* The scopes that show a bound: devices are seen where the host waits, launches where it works. */
PERF_FN perf_bound_by perf_look_shown_by_(perf_bound_by bound)
{
    if (bound == PERF_BY_DEVICE || bound == PERF_BY_COPIES)
        return PERF_BY_SYNCS;
    return bound == PERF_BY_LAUNCHES ? PERF_BY_CPU : bound;
}

/* The node that shows a bound, and *part of the unit's time that it spends so. */
PERF_COLD_FN_ uint32_t perf_look_shown_(const perf_look_ *look, const perf_evidence_ *evidence,
                                        const perf_diagnosis *diagnosis, double *part)
{
    const perf_bound_by shown_by = perf_look_shown_by_(diagnosis->bound);
    double              all, self = 0;
    uint32_t            where;

    if (diagnosis->bound >= PERF_BY_CACHE_MISSES)
        where = evidence->lost_in[diagnosis->bound - PERF_BY_CACHE_MISSES];
    else
        where = perf_look_where_(look, shown_by, &all);
    if (where)
        self = PERF_CAST_(double, look->tree->node[where].self) * look->tick / look->total;
    *part = self;
    if (diagnosis->bound >= PERF_BY_CACHE_MISSES) {
        *part = evidence->lost_there[diagnosis->bound - PERF_BY_CACHE_MISSES] *
                diagnosis->share[PERF_BY_CPU];
        if (*part > self)
            *part = self;
    }
    if (shown_by == PERF_BY_MEMORY && *part < diagnosis->share[shown_by] / 2)
        where = 0;                              /* faults: no scope is known to have made them    */
    return where;
}

/* Where most of it is, and what it would bring if it vanished. */
PERF_COLD_FN_ void perf_look_place_(perf_look_ *look, const perf_evidence_ *evidence,
                                    perf_diagnosis *diagnosis)
{
    perf_out_ out = perf_out_open_(diagnosis->where, sizeof diagnosis->where);
    double    part;
    uint32_t  where = perf_look_shown_(look, evidence, diagnosis, &part);

    if (!where) {
        where = look->unit;
        part = diagnosis->bound == PERF_BY_UNKNOWN ? 0 :
               diagnosis->share[perf_look_shown_by_(diagnosis->bound)];
    }
    if (part > 0.999)
        part = 0.999;
    perf_look_path_(look, where, &out, sizeof diagnosis->where - 1);
    diagnosis->where_share = part;
    diagnosis->where_ns = part * look->total / look->units;
    diagnosis->where_calls = PERF_CAST_(double, look->tree->node[where].calls) / look->units;
    diagnosis->best = 1 / (1 - part);
    diagnosis->overlapped = 1 / (part > 0.5 ? part : 1 - part);
    diagnosis->best_run = diagnosis->best;
    if (look->life > look->total)
        diagnosis->best_run = 1 / (1 - part * look->total / look->life);
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

PERF_COLD_FN_ void perf_look_solve_(perf_look_ *look, perf_diagnosis *diagnosis)
{
    perf_evidence_ evidence = PERF_ZERO;
    perf_out_      out = perf_out_open_(diagnosis->unit, sizeof diagnosis->unit);
    const char    *unit = perf_look_name_(look, look->unit);
    double         device = 0, copies = 0;
    int            i;

    perf_put_n_(&out, unit, perf_text_length_(unit, sizeof diagnosis->unit - 1));
    perf_look_baseline_(look, diagnosis);
    perf_look_threads_(look, &device, &copies);
    perf_look_shares_(look, diagnosis);
    PERF_LIBC_(memcpy)(evidence.share, diagnosis->share, sizeof evidence.share);
    evidence.tree = look->tree;
    evidence.unit = look->unit;
    perf_look_device_(look, &evidence, device, copies);
    diagnosis->bound = perf_bound_decide_(&evidence);
    perf_look_device_shares_(diagnosis, &evidence);
    diagnosis->counted = evidence.counted;
    for (i = 0; i < PERF_LOST_ && evidence.counted.calls; i++)
        if (evidence.counted.lost[i].share > 0)
            diagnosis->share[PERF_BY_CACHE_MISSES + i] =
                evidence.counted.lost[i].share * diagnosis->share[PERF_BY_CPU];
    perf_look_place_(look, &evidence, diagnosis);
    diagnosis->advice = perf_advice_of_(diagnosis->bound);
    perf_look_verify_(look->registry, diagnosis);
}

/* Is it a scope that repeats, with more time than the best so far, or as much and further out? */
PERF_COLD_FN_ int perf_unit_is_(const perf_visit_ *visit, const perf_visit_ *best)
{
    if (visit->name->kind != PERF_KIND_SCOPE_ || PERF_GET_(&visit->cell->count) < PERF_UNIT_CALLS_)
        return 0;
    if (visit->ticks.total != best->ticks.total)
        return visit->ticks.total > best->ticks.total;
    return best->cell && visit->cell->depth < best->cell->depth;
}

/* The scope that repeats and has most time; NULL: none was called PERF_UNIT_CALLS_ times. */
PERF_COLD_FN_ perf_cell_ *perf_look_unit_(perf_registry_ *reg)
{
    perf_recorder_ *rec;
    perf_visit_     best = PERF_ZERO;

    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        perf_visit_ visit = PERF_ZERO;
        visit.recorder = rec;
        while (perf_visit_next_(&visit))
            if (perf_unit_is_(&visit, &best))
                best = visit;
    }
    return best.cell;
}

PERF_FN perf_status perf_diagnose(perf_diagnosis *diagnosis)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_cell_     *unit;
    perf_look_      look;
    perf_status     status = PERF_ENODATA;

    if (!diagnosis)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(diagnosis, 0, sizeof *diagnosis);
    PERF_LIBC_(memset)(&look, 0, sizeof look);
    if (!reg)
        return PERF_ENOMEM;
    perf_sources_collect_(reg);
    unit = perf_look_unit_(reg);
    if (!unit)
        return PERF_ENODATA;
    look.registry = reg;
    look.tick = perf_scope_tick_ns_(reg);
    look.age = PERF_CAST_(double, perf_age_ns_()) + 2 * PERF_STAT_NS_;      /* never too young    */
    look.tree = perf_tree_make_(reg);
    if (!look.tree)
        return PERF_ENOMEM;
    look.unit = perf_tree_path_(look.tree, unit);
    if (look.unit)
        look.total = PERF_CAST_(double, look.tree->node[look.unit].total) * look.tick;
    if (look.total > 0) {
        perf_look_solve_(&look, diagnosis);
        status = PERF_OK;
    }
    PERF_FREE(look.tree);
    return status;
}

/* A thread that records and still runs; times in ns since it began. */
typedef struct perf_thread_facts_ {
    uint64_t number;
    char     name[32];
    double   ran, ready;        /* on a processor; ready for one                                  */
    double   at_once;           /* the most of that which is known to lie in one call, ...        */
    const char *in;             /* ... and of which scope; "": none                               */
    int      alone;             /* 1: no other is known to run                                    */
} perf_thread_facts_;

/* 0: Linux does not tell, or the thread is gone. */
PERF_COLD_FN_ int perf_thread_look_(perf_registry_ *reg, perf_recorder_ *rec,
                                    perf_thread_facts_ *facts)
{
    uint64_t sched[2], away = 0;

    PERF_LIBC_(memset)(facts, 0, sizeof *facts);
    perf_proc_read_(rec->thread, "schedstat", sched, 2);
    if (!sched[0] || !perf_lock_(reg))
        return 0;
    PERF_LIBC_(memcpy)(facts->name, rec->name, sizeof rec->name);
    facts->alone = reg->alive < 2;
    perf_unlock_(&reg->lock);
    if (!(PERF_GET_(&rec->request) & PERF_ASK_RESET_))
        away = PERF_ACQ_(&rec->away);
    facts->number = rec->thread;
    facts->ran = PERF_CAST_(double, sched[0]);
    facts->ready = PERF_CAST_(double, sched[1]);
    facts->at_once = PERF_CAST_(double, away);
    facts->in = away ? PERF_ACQ_(&reg->names)[PERF_GET_(&rec->away_in)]->site.name : "";
    return 1;
}

PERF_COLD_FN_ void perf_put_json_threads_(perf_writer_ *json, perf_registry_ *reg)
{
    perf_recorder_   *rec;
    perf_thread_facts_ facts;

    perf_member_open_(json, "threads", '[');
    for (rec = PERF_ACQ_(&reg->recorders); rec; rec = rec->next) {
        if (!perf_thread_look_(reg, rec, &facts))
            continue;
        perf_member_open_(json, PERF_NULL_, '{');
        perf_member_whole_(json, "thread", facts.number);
        perf_member_text_(json, "name", facts.name);
        perf_member_fixed_(json, "ran_ns", facts.ran, 0);
        perf_member_fixed_(json, "no_cpu_ns", facts.ready, 0);
        perf_member_fixed_(json, "at_once_ns", facts.at_once, 0);
        perf_member_text_(json, "in", facts.in);
        perf_member_close_(json, '}');
    }
    perf_member_close_(json, ']');
}

/* Eight threads at most; none where there is but one, which was never off for long. */
PERF_COLD_FN_ void perf_put_threads_(perf_out_ *out, perf_registry_ *reg)
{
    perf_recorder_   *rec = PERF_ACQ_(&reg->recorders);
    perf_thread_facts_ facts;
    int               rows = 0;

    for (; rec && rows < 8; rec = rec->next) {
        if (!perf_thread_look_(reg, rec, &facts) || (facts.alone && !(facts.at_once > 0)))
            continue;
        if (!rows++)
            perf_put_(out, "  thread                           ran    no cpu   at once  in\n");
        perf_put_fixed_in_(out, PERF_CAST_(double, facts.number), 0, 8);
        perf_put_char_(out, ' ');
        perf_put_padded_(out, facts.name, 19);
        perf_put_ns_in_(out, facts.ran, 10);
        perf_put_ns_in_(out, facts.ready, 10);
        perf_put_ns_in_(out, facts.at_once, 10);
        perf_put_(out, "  ");
        (void)perf_put_cut_(out, facts.in, 20);
        perf_put_char_(out, '\n');
    }
}

/* "IPC 0.12, 31.0 a 1,000 instructions in walk": what the answer is based on.  Nothing was counted,
 * or the answer is none of the processor's: nothing.                                             */
PERF_COLD_FN_ void perf_put_because_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    const perf_lost *lost = &diagnosis->counted.lost[0];

    if (!diagnosis->counted.calls ||
        (diagnosis->bound != PERF_BY_CPU && diagnosis->bound < PERF_BY_CACHE_MISSES))
        return;
    if (diagnosis->bound == PERF_BY_CPU) {
        perf_put_number_(out, ", IPC ", diagnosis->counted.ipc, 2);
        return;
    }
    lost += diagnosis->bound - PERF_BY_CACHE_MISSES;
    perf_put_number_(out, ", IPC ", lost->ipc, 2);
    perf_put_number_(out, ", ", lost->per_1000, 1);
    perf_put_(out, diagnosis->bound == PERF_BY_FRONT_END ? " lost cycles" : " misses");
    perf_put_(out, " a 1,000 instructions in ");
    (void)perf_put_cut_(out, lost->scope, 40);
}

/* "counted: IPC 0.42; cache misses about 58 % of the cycles (most in walk: IPC 0.12, 31.0 a 1,000
 * instructions), branch misses about 1 % ...": below the line of the bound.                      */
PERF_COLD_FN_ void perf_put_counts_line_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    static const char *const each[PERF_LOST_] = {", at 180 cycles", ", at 20 cycles", ""};
    const perf_lost         *lost;
    int                      i, some = 0;

    if (!diagnosis->counted.calls)
        return;
    perf_put_number_(out, "counted: IPC ", diagnosis->counted.ipc, 2);
    for (i = 0; i < PERF_LOST_; i++) {
        lost = &diagnosis->counted.lost[i];
        if (perf_is_nan_(lost->share))
            continue;
        perf_put_(out, some++ ? ", " : "; of the cycles about ");
        perf_put_fixed_(out, lost->share * 100, 0);
        perf_put_(out, " % ");
        perf_put_(out, perf_diagnosis_text(PERF_CAST_(perf_bound_by, PERF_BY_CACHE_MISSES + i)));
        if (lost->share < 0.005)
            continue;
        perf_put_(out, " (most in ");
        (void)perf_put_cut_(out, lost->scope, 40);
        perf_put_number_(out, ": IPC ", lost->ipc, 2);
        perf_put_number_(out, ", ", lost->per_1000, 1);
        perf_put_(out, " a 1,000 instructions");
        perf_put_(out, each[i]);
        perf_put_char_(out, ')');
    }
    if (diagnosis->counted.calls < diagnosis->calls)
        perf_put_number_(out, "; calls that were counted: ",
                         PERF_CAST_(double, diagnosis->counted.calls), 0);
    if (diagnosis->counted.scaled) {
        perf_put_number_(out, "; scaled up, as others had the counters: ",
                         PERF_CAST_(double, diagnosis->counted.scaled), 0);
        perf_put_(out, " calls");
    }
    perf_put_char_(out, '\n');
}

/* "cpu (of step, 100 calls)", for the table and the line of the GPU. */
PERF_COLD_FN_ void perf_put_answer_(perf_out_ *out, perf_status status,
                                    const perf_diagnosis *diagnosis)
{
    perf_put_(out, perf_diagnosis_text(diagnosis->bound));
    if (status != PERF_OK) {
        perf_put_(out, " (no scope was called 8 times)");
        return;
    }
    perf_put_(out, " (of ");
    (void)perf_put_cut_(out, diagnosis->unit, 60);
    perf_put_(out, ", ");
    perf_put_u64_(out, diagnosis->calls);
    perf_put_(out, " calls");
    perf_put_because_(out, diagnosis);
    perf_put_char_(out, ')');
}

/* A text that may be NULL. */
PERF_COLD_FN_ void perf_put_json_text_(perf_writer_ *json, const char *key, const char *text)
{
    perf_member_text_(json, key, text ? text : "");
}

/* Nothing where nothing was counted. */
PERF_COLD_FN_ void perf_put_counts_json_(perf_writer_ *json, const perf_counted *counted)
{
    int i;

    if (!counted->calls)
        return;
    perf_member_open_(json, "counted", '{');
    perf_member_whole_(json, "calls", counted->calls);
    perf_member_whole_(json, "scaled", counted->scaled);
    perf_member_fixed_(json, "ipc", counted->ipc, 6);
    for (i = 0; i < PERF_LOST_; i++) {
        perf_member_open_(json, perf_diagnosis_text(PERF_CAST_(perf_bound_by,
                                                               PERF_BY_CACHE_MISSES + i)), '{');
        perf_member_fixed_(json, "share", counted->lost[i].share, 6);
        perf_member_fixed_(json, "per_1000", counted->lost[i].per_1000, 6);
        perf_member_fixed_(json, "ipc", counted->lost[i].ipc, 6);
        perf_put_json_text_(json, "in", counted->lost[i].scope);
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

PERF_COLD_FN_ void perf_put_diagnosis_json_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    perf_writer_ json = {PERF_NULL_, 0, 0};
    int          i;

    json.out = out;
    perf_member_open_(&json, PERF_NULL_, '{');
    perf_member_text_(&json, "bound", perf_diagnosis_text(diagnosis->bound));
    perf_put_json_text_(&json, "unit", diagnosis->unit);
    perf_member_whole_(&json, "calls", diagnosis->calls);
    perf_member_fixed_(&json, "mean_ns", diagnosis->mean_ns, 3);
    perf_put_json_last_(&json, &diagnosis->time);
    perf_member_open_(&json, "share", '{');
    for (i = 0; i < PERF_BY_ALL_ && (i < PERF_BY_CACHE_MISSES || diagnosis->counted.calls); i++)
        perf_member_fixed_(&json, perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)),
                           diagnosis->share[i], 6);
    perf_member_close_(&json, '}');
    perf_put_json_text_(&json, "where", diagnosis->where);
    perf_member_fixed_(&json, "where_share", diagnosis->where_share, 6);
    perf_member_fixed_(&json, "where_ns", diagnosis->where_ns, 3);
    perf_member_fixed_(&json, "where_calls", diagnosis->where_calls, 3);
    perf_member_fixed_(&json, "best", diagnosis->best, 3);
    perf_member_fixed_(&json, "best_run", diagnosis->best_run, 3);
    perf_member_fixed_(&json, "overlapped", diagnosis->overlapped, 3);
    perf_put_json_text_(&json, "advice", diagnosis->advice);
    perf_put_json_text_(&json, "verify", diagnosis->verify);
    perf_put_counts_json_(&json, &diagnosis->counted);
    perf_put_json_threads_(&json, perf_registry_get_());
    perf_member_close_(&json, '}');
}

/* "baseline: step, 100 calls: mean 10.0 ms; the last 99 without a first: mean 10.0 ms, ..." */
PERF_COLD_FN_ void perf_put_unit_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    perf_put_(out, "baseline: ");
    (void)perf_put_cut_(out, diagnosis->unit, 60);
    perf_put_(out, ", ");
    perf_put_u64_(out, diagnosis->calls);
    perf_put_(out, " calls: mean ");
    perf_put_ns_(out, diagnosis->mean_ns);
    if (diagnosis->time.count) {
        perf_put_(out, "; the last ");
        perf_put_u64_(out, diagnosis->time.count);
        perf_put_(out, " without a first: mean ");
        perf_put_ns_(out, diagnosis->time.mean);
        perf_put_(out, ", std ");
        perf_put_ns_(out, diagnosis->time.std);
        perf_put_(out, ", p50 ");
        perf_put_ns_(out, diagnosis->time.p50);
        perf_put_(out, ", p95 ");
        perf_put_ns_(out, diagnosis->time.p95);
    }
    perf_put_char_(out, '\n');
}

/* "bound by: cpu; at least: cpu 80 %, off the processor for no recorded reason 3 %" */
PERF_COLD_FN_ void perf_put_shares_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    int i, some = 0;

    perf_put_(out, "bound by: ");
    perf_put_(out, perf_diagnosis_text(diagnosis->bound));
    perf_put_(out, "; at least:");
    for (i = PERF_BY_DATA; i <= PERF_BY_LAUNCHES; i++) {
        if (diagnosis->share[i] < 0.005)
            continue;
        perf_put_(out, some++ ? ", " : " ");
        perf_put_(out, perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)));
        perf_put_number_(out, " ", diagnosis->share[i] * 100, 0);
        perf_put_(out, " %");
    }
    perf_put_number_(out, some ? ", off the processor for no recorded reason "
                               : " off the processor for no recorded reason ",
                     diagnosis->share[PERF_BY_UNKNOWN] * 100, 0);
    perf_put_(out, " %\n");
}

/* Where it is, what to try, and how to verify. */
PERF_COLD_FN_ void perf_put_advice_(perf_out_ *out, const perf_diagnosis *diagnosis)
{
    perf_put_(out, diagnosis->where_share > 0 ? "where: " : "where: anywhere in ");
    perf_put_(out, diagnosis->where);
    if (diagnosis->where_share > 0) {
        perf_put_number_(out, ": ", diagnosis->where_share * 100, 0);
        perf_put_(out, " % of a ");
        (void)perf_put_cut_(out, diagnosis->unit, 60);
        perf_put_(out, ", ");
        perf_put_ns_(out, diagnosis->where_ns);
        perf_put_number_(out, " in ", diagnosis->where_calls, 1);
        perf_put_(out, " calls");
    }
    perf_put_(out, "\ntry: ");
    perf_put_(out, diagnosis->advice);
    if (diagnosis->bound != PERF_BY_UNKNOWN) {
        perf_put_number_(out, "; at best ", diagnosis->best, 2);
        perf_put_number_(out, " times as fast if it vanished (", diagnosis->best_run, 2);
        perf_put_number_(out, " the threads' whole time), ", diagnosis->overlapped, 2);
        perf_put_(out, " if it ran beside the rest");
    }
    perf_put_(out, "\nverify: ");
    perf_put_(out, diagnosis->verify);
    perf_put_char_(out, '\n');
}

/* The five lines, one JSON object, or the answer alone: PERF_DIAGNOSIS_ in perf_bound.h. */
PERF_COLD_FN_ void perf_put_diagnosis_(perf_out_ *out, int form)
{
    perf_diagnosis diagnosis = PERF_ZERO;
    perf_status    status = perf_diagnose(&diagnosis);

    if (form == PERF_DIAGNOSIS_ANSWER_) {
        perf_put_answer_(out, status, &diagnosis);
    } else if (form == PERF_DIAGNOSIS_JSON_) {
        perf_put_diagnosis_json_(out, &diagnosis);
    } else if (status != PERF_OK) {
        perf_put_(out, "diagnosis: no scope was called 8 times: give one step a PERF_SCOPE\n");
    } else {
        perf_put_unit_(out, &diagnosis);
        perf_put_shares_(out, &diagnosis);
        perf_put_counts_line_(out, &diagnosis);
        perf_put_advice_(out, &diagnosis);
        perf_put_threads_(out, perf_registry_get_());
    }
}

#if PERF_DIAGNOSIS && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__constructor__, __used__)) PERF_OURS_ static void perf_diagnosis_at_start_(void)
{
    perf_registry_ *reg = perf_registry_get_();

    if (reg) {
        perf_image_pin_();                      /* any image may write the report                 */
        PERF_REL_(&reg->put_diagnosis, &perf_put_diagnosis_);
    }
}
#endif

#if PERF_DISABLE
#define perf_diagnose(d) PERF_OFF_CODE_((perf_diagnose)(d))
#endif

PERF_END_DECLS

#endif /* PERF_DIAGNOSIS_H */
