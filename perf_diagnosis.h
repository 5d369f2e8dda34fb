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
                                /* off the processor for a reason that nothing recorded says      */
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

/* `best`, or the thread's cell that repeats and has more time; of equal ones the outer. */
PERF_COLD_FN_ perf_cell_ *perf_unit_of_(perf_registry_ *r, perf_recorder_ *t, perf_cell_ *best)
{
    perf_cell_ *first, *c;
    uint32_t    id;

    for (id = 1; id < PERF_ACQ_(&r->count); id++) {
        first = PERF_ACQ_(&r->names)[id]->kind == PERF_KIND_SCOPE_ ? perf_kin_(t, id)
                                                 : PERF_CAST_(perf_cell_ *, PERF_NULL_);
        for (c = first; c; c = perf_kin_next_(c, first)) {
            uint64_t total = perf_cell_total_(c), most = best ? perf_cell_total_(best) : 0;
            if (PERF_GET_(&c->count) >= PERF_UNIT_CALLS_ &&
                (total > most || (best && total == most && c->depth < best->depth)))
                best = c;
        }
    }
    return best;
}

/* Looks at what Linux says of a thread that has the unit.  Whatever may have happened outside of
 * the unit is taken off, so that what is left is a lower bound.                                  */
PERF_COLD_FN_ void perf_look_thread_(perf_look_ *k, perf_recorder_ *t, double total, double waits)
{
    uint64_t  birth = PERF_GET_(&t->birth);
    double    life = PERF_CAST_(double, perf_scope_ticks_(k->registry) - birth) * k->tick;
    double    outside = k->age - total, cpu, x;
    uint64_t  sched[3], stat[13];

    k->life += life;
    perf_proc_read_(t->thread, "schedstat", sched, 3);
    cpu = PERF_CAST_(double, sched[0]);         /* ran; then: was ready to; since it began        */
    if (!(cpu > 0) || outside < life - total)   /* ended, no Linux, or a clock of the user's      */
        return;
    perf_proc_read_(t->thread, "stat", stat, 13);
    x = PERF_CAST_(double, sched[1]) - outside;
    k->sure[PERF_BY_NO_PROCESSOR] += x > 0 ? x : 0;
    if (total - cpu - waits > (x > 0 ? x : 0))
        k->sure[PERF_BY_UNKNOWN] += total - cpu - waits - (x > 0 ? x : 0);
    x = PERF_CAST_(double, stat[11]) * 1e7 - outside;   /* in the kernel, in ticks of 10 ms       */
    if (x > 0 && PERF_CAST_(double, stat[6]) * 2000 >= x)       /* 0.3 to 2 us a fault explain it */
        k->sure[PERF_BY_MEMORY] += x;
    x = cpu - outside;
    k->sure[PERF_BY_CPU] += x > 0 ? x < total ? x : total : 0;
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
    perf_registry_ *r = k->registry;
    perf_recorder_ *t;
    perf_cell_     *first, *c, *up;
    uint32_t        id;

    for (t = PERF_ACQ_(&r->recorders); t; t = t->next) {
        double      total = 0, waits = 0;
        for (id = 1; id < PERF_ACQ_(&r->count); id++) {
            uint32_t kind = PERF_ACQ_(&r->names)[id]->kind;
            for (c = first = perf_kin_(t, id); c; c = perf_kin_next_(c, first)) {
                double ns = PERF_CAST_(double, PERF_GET_(&c->sum)) * k->tick;
                if (kind == PERF_KIND_DEVICE_)
                    *device += ns;
                else if (kind > PERF_KIND_DEVICE_ && kind <= PERF_KIND_COPY_)
                    *copies += ns;
                if (!PERF_KIND_HOST_(kind))
                    continue;
                for (up = c; up->depth > k->tree->node[k->unit].depth; up = up->parent) {
                }
                if (perf_tree_path_(k->tree, up) != k->unit)
                    continue;
                if (up == c)
                    total += PERF_CAST_(double, perf_cell_total_(c)) * k->tick;
                if (kind != PERF_KIND_SCOPE_)
                    waits += PERF_CAST_(double, perf_cell_self_(c)) * k->tick;
            }
        }
        if (total > 0)
            perf_look_thread_(k, t, total, waits);
    }
}

/* The node inside the unit that has the most time of a bound; *all: the time of all such nodes. */
PERF_COLD_FN_ uint32_t perf_look_where_(const perf_look_ *k, perf_bound_by bound, double *all)
{
    const perf_node_ *node = k->tree->node;
    uint32_t          i, up, best = 0;

    *all = 0;
    for (i = 1; i < k->tree->count; i++) {
        for (up = i; up && up != k->unit; up = node[up].parent) {
        }
        if (!up || perf_kind_bound_(PERF_ACQ_(&k->registry->names)[node[i].name]) != bound)
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

/* How to verify with what the program offers: variants, saved runs; else with two programs. */
PERF_COLD_FN_ void perf_look_verify_(perf_registry_ *r, perf_diagnosis *d)
{
    perf_out_         o = perf_out_open_(d->verify, sizeof d->verify);
    const int         held = perf_loops_hold_(r);
    const perf_loop_ *l = held ? PERF_ACQ_(&r->results) : PERF_NULL_, *race = l;
    double            goal = d->best_run > 1.6 ? 1.3 : 1 + (d->best_run - 1) / 2;

    goal = goal < 1.02 ? 1.02 : goal;
    while (race && (race->kind == 1 || PERF_GET_(&race->forgotten) ||
                    PERF_LIBC_(strlen)(race->name) > 40 || PERF_LIBC_(strchr)(race->name, '\'')))
        race = race->next;                      /* a name that the command cannot hold            */
    if (race)
        perf_putf_(&o, "perf-ab run --accept 'speedup >= %.2f' -- env 'PERF_VARIANT=%.40s=A' "
                       "PROGRAM -- env 'PERF_VARIANT=%.40s=B' PROGRAM", goal, race->name,
                   race->name);
    else if (l)
        perf_putf_(&o, "PROGRAM --save old.json, and with the change PROGRAM --compare old.json "
                       "--accept 'speedup >= %.2f' (PERF_MAIN)", goal);
    else
        perf_putf_(&o, "perf-ab run --accept 'speedup >= %.2f' -- OLD -- NEW", goal);
    if (held)
        perf_loops_let_(r);
}

PERF_COLD_FN_ void perf_look_path_(const perf_look_ *k, uint32_t node, perf_out_ *o)
{
    uint32_t up = k->tree->node[node].parent;

    if (up) {
        perf_look_path_(k, up, o);
        perf_put_(o, " > ");
    }
    (void)perf_put_cut_(o, PERF_ACQ_(&k->registry->names)[k->tree->node[node].name]->site.name, 40);
}

PERF_COLD_FN_ void perf_look_solve_(perf_look_ *k, perf_diagnosis *d)
{
    const perf_node_ *node;
    perf_bound_by     kind;
    perf_evidence_    e = PERF_ZERO;
    perf_out_         o = perf_out_open_(d->unit, sizeof d->unit);
    double            device = 0, copies = 0, all, p, units;
    uint32_t          i, where;

    node = &k->tree->node[k->unit];
    units = PERF_CAST_(double, node->calls);
    perf_put_(&o, PERF_ACQ_(&k->registry->names)[node->name]->site.name);
    perf_look_baseline_(k, d);
    perf_look_threads_(k, &device, &copies);
    for (i = 0; i < PERF_BY_ALL_; i++)
        d->share[i] = k->sure[i] / k->total;
    for (i = PERF_BY_DATA; i <= PERF_BY_SYNCS; i++)
        if (i != PERF_BY_CPU && perf_look_where_(k, PERF_CAST_(perf_bound_by, i), &all) &&
            all / k->total > d->share[i])
            d->share[i] = all / k->total;
    PERF_LIBC_(memcpy)(e.share, d->share, sizeof e.share);
    perf_look_device_(k, &e, device, copies);
    kind = d->bound = perf_bound_decide_(&e);
    if (kind == PERF_BY_DEVICE || kind == PERF_BY_COPIES)
        kind = PERF_BY_SYNCS;                   /* the scopes that show it                        */
    if (kind == PERF_BY_LAUNCHES)
        kind = PERF_BY_CPU;
    where = perf_look_where_(k, kind, &all);
    p = where ? PERF_CAST_(double, k->tree->node[where].self) * k->tick / k->total : 0;
    if (kind == PERF_BY_MEMORY && p < d->share[kind] / 2)
        where = 0;                              /* faults: no scope is known to have made them    */
    if (!where) {
        where = k->unit;
        p = d->bound == PERF_BY_UNKNOWN ? 0 : d->share[kind];
    }
    p = p > 0.999 ? 0.999 : p;
    o = perf_out_open_(d->where, sizeof d->where);
    perf_look_path_(k, where, &o);
    d->where_share = p;
    d->where_ns = p * k->total / units;
    d->where_calls = PERF_CAST_(double, k->tree->node[where].calls) / units;
    d->best = 1 / (1 - p);
    d->overlapped = 1 / (p > 0.5 ? p : 1 - p);
    d->best_run = k->life > k->total ? 1 / (1 - p * k->total / k->life) : d->best;
    d->advice = perf_by_words_(d->bound, 1);
    perf_look_verify_(k->registry, d);
}

PERF_FN perf_status perf_diagnose(perf_diagnosis *d)
{
    perf_registry_ *r = perf_registry_read_();
    perf_recorder_ *t;
    perf_cell_     *unit = PERF_NULL_;
    perf_look_      k;
    perf_status     status = PERF_ENODATA;

    if (!d)
        return PERF_EINVAL;
    PERF_LIBC_(memset)(d, 0, sizeof *d);
    PERF_LIBC_(memset)(&k, 0, sizeof k);
    if (!r)
        return PERF_ENOMEM;
    perf_sources_collect_(r);
    for (t = PERF_ACQ_(&r->recorders); t; t = t->next)
        unit = perf_unit_of_(r, t, unit);
    k.registry = r;
    k.tick = perf_scope_tick_ns_(r);
    k.age = PERF_CAST_(double, perf_age_ns_()) + 2e7;       /* known to 10 ms: never too young    */
    k.tree = unit ? perf_tree_make_(r) : PERF_CAST_(perf_tree_ *, PERF_NULL_);
    if (unit && !k.tree)
        return PERF_ENOMEM;
    k.unit = unit ? perf_tree_path_(k.tree, unit) : 0;
    k.total = k.unit ? PERF_CAST_(double, k.tree->node[k.unit].total) * k.tick : 0;
    if (k.total > 0) {
        perf_look_solve_(&k, d);
        status = PERF_OK;
    }
    perf_tree_free_(k.tree);
    return status;
}

/* Threads that record and still run, in text eight at most: time on a processor and ready without
 * one since they began; the most of that which is known to lie in one call.                      */
PERF_COLD_FN_ void perf_put_threads_(perf_out_ *o, perf_registry_ *r, int json)
{
    perf_recorder_ *t;
    uint64_t        sched[2], away;
    char            name[sizeof t->name];
    int             n = 0, alone;

    for (t = PERF_ACQ_(&r->recorders); t && (json || n < 8); t = t->next) {
        perf_proc_read_(t->thread, "schedstat", sched, 2);
        away = PERF_GET_(&t->request) & PERF_ASK_RESET_ ? 0 : PERF_ACQ_(&t->away);
        if (!sched[0] || !perf_lock_(r))
            continue;
        PERF_LIBC_(memcpy)(name, t->name, sizeof name);
        alone = r->alive < 2;
        perf_unlock_(r);
        if (!json && !away && alone)
            continue;
        if (!json && !n)
            perf_putf_(o, "%8s %-19s%10s%10s%10s  in\n", "thread", "", "ran", "no cpu", "at once");
        perf_putf_(o, json ? "%s{\"thread\":%.0f,\"name\":%.0s,\"ran_ns\":%.0f,"
                             "\"no_cpu_ns\":%.0f,\"at_once_ns\":%.0f,\"in\":%.0s}"
                           : "%s%8.0f %-19s%10g%10g%10g  %.20s\n", json && n ? "," : "",
                   PERF_CAST_(double, t->thread), name, PERF_CAST_(double, sched[0]),
                   PERF_CAST_(double, sched[1]), PERF_CAST_(double, away),
                   away ? PERF_ACQ_(&r->names)[PERF_GET_(&t->away_in)]->site.name : "");
        n++;
    }
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
    perf_put_(o, " calls)");
}

/* The five lines, one JSON object, or the answer alone: PERF_DIAGNOSIS_ in perf_bound.h. */
PERF_COLD_FN_ void perf_put_diagnosis_(perf_out_ *o, int form)
{
    perf_diagnosis d = PERF_ZERO;
    perf_status    status = perf_diagnose(&d);
    int            i, some = 0;

    if (form == PERF_DIAGNOSIS_ANSWER_) {
        perf_put_answer_(o, status, &d);
        return;
    }
    if (form == PERF_DIAGNOSIS_JSON_) {
        perf_putf_(o, "{\"bound\":%.0s,\"unit\":%.0s,\"calls\":%.0f,\"mean_ns\":%.3f,",
                   perf_diagnosis_text(d.bound), d.unit, PERF_CAST_(double, d.calls), d.mean_ns);
        if (d.time.count)                       /* of the calls that the ring still holds         */
            perf_putf_(o, "\"last\":{\"calls\":%.0f,\"mean_ns\":%.3f,\"std_ns\":%.3f,"
                          "\"p50_ns\":%.3f,\"p95_ns\":%.3f},", PERF_CAST_(double, d.time.count),
                       d.time.mean, d.time.std, d.time.p50, d.time.p95);
        perf_put_(o, "\"share\":{");
        for (i = 0; i < PERF_BY_ALL_; i++)
            perf_putf_(o, "%s%.0s:%.6f", i ? "," : "",
                       perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)), d.share[i]);
        perf_putf_(o, "},\"where\":%.0s,\"where_share\":%.6f,\"where_ns\":%.3f,"
                      "\"where_calls\":%.3f,\"best\":%.3f,\"best_run\":%.3f,\"overlapped\":%.3f,"
                      "\"advice\":%.0s,\"verify\":%.0s,\"threads\":[",
                   d.where, d.where_share, d.where_ns, d.where_calls, d.best, d.best_run,
                   d.overlapped, d.advice ? d.advice : "", d.verify);
        perf_put_threads_(o, perf_registry_get_(), 1);
        perf_put_(o, "]}");
        return;
    }
    if (status != PERF_OK) {
        perf_put_(o, "diagnosis: no scope was called 8 times: give one step a PERF_SCOPE\n");
        return;
    }
    perf_putf_(o, "baseline: %.60s, %.0f calls: mean %g", d.unit, PERF_CAST_(double, d.calls),
               d.mean_ns);
    if (d.time.count)
        perf_putf_(o, "; the last %.0f without a first: mean %g, std %g, p50 %g, p95 %g",
                   PERF_CAST_(double, d.time.count), d.time.mean, d.time.std, d.time.p50,
                   d.time.p95);
    perf_putf_(o, "\nbound by: %s; at least:", perf_diagnosis_text(d.bound));
    for (i = PERF_BY_DATA; i <= PERF_BY_SYNCS; i++)
        if (d.share[i] >= 0.005)
            perf_putf_(o, "%s %s %.0f %%", some++ ? "," : "",
                       perf_diagnosis_text(PERF_CAST_(perf_bound_by, i)), d.share[i] * 100);
    perf_putf_(o, "%s off the processor for no recorded reason %.0f %%\n", some ? "," : "",
               d.share[0] * 100);
    perf_putf_(o, "where: %s: %.0f %% of a %.60s, %g in %.1f calls\ntry: %s", d.where,
               d.where_share * 100, d.unit, d.where_ns, d.where_calls, d.advice);
    if (d.bound != PERF_BY_UNKNOWN)
        perf_putf_(o, "; at best %.2f times as fast if it vanished (%.2f the threads' whole time), "
                      "%.2f if it ran beside the rest", d.best, d.best_run, d.overlapped);
    perf_putf_(o, "\nverify: %s\n", d.verify);
    perf_put_threads_(o, perf_registry_get_(), 0);
}

#if PERF_DIAGNOSIS && !PERF_DISABLE && defined(__GNUC__)
PERF_ATTR_((__constructor__, __used__)) static void perf_diagnosis_at_start_(void)
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
