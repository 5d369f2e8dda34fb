/* perf_gpu_memory.h - where does the memory of a device go, phase by phase?
 *
 *     #include "perf_gpu_memory.h"                // perf_cuda.h brings it, too
 *     perf_gpu_memory_mark("load");               // the phase "load" ends here
 *     perf_gpu_memory_mark("forward");            // in use, change and peak: a table of the report
 *
 * Without a GPU each call says PERF_ENOGPU; with -DPERF_DISABLE=1 it costs nothing.
 * Sections (search for ">>"):  memory  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_GPU_MEMORY_H
#define PERF_GPU_MEMORY_H

#include "perf_gpu_driver.h"

PERF_BEGIN_DECLS

/* >>memory ------------------------------------------------------------------------------------
 * Marks the end of a phase ("load", "forward"): bytes in use on the current context's device, what
 * that is more than at the mark before, and the peak: from the driver's memory pool where the
 * program allocates from it, from your notes, and from the marks.  A table of the report.  NULL
 * reads "(null)".  PERF_ENOGPU: no current context; PERF_EGPU: the driver failed.  Some us. */
PERF_FN perf_status perf_gpu_memory_mark(const char *phase);

/* Notes bytes that were allocated (> 0) or given back (< 0), under a name or NULL; also those that
 * you only plan: the report names the first phase that would not fit.  PERF_EINVAL: NaN, inf.    */
PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

typedef struct perf_gpu_mark_ {
    struct perf_gpu_mark_ *next, *before;       /* all; the one before on its device */
    perf_name_            *name;
    double                 used, total, peak, noted;
    double                 needed;              /* without what a pool keeps for later */
    int32_t                device, spare;
} perf_gpu_mark_;

/* One for all images of the process, hung into the driver's; never freed. */
typedef struct perf_gpu_memory_ {
    perf_gpu_driver_ *driver;
    uint32_t          lock, spare;      /* the thread that is at it; 0: free */
    perf_gpu_mark_   *marks;            /* oldest first */
    double            noted, noted_peak;
    perf_source_      source;
} perf_gpu_memory_;

PERF_COLD_DECL_ void perf_gpu_memory_report_(perf_out_ *, int json);
PERF_COLD_DECL_ void perf_gpu_memory_reset_(void);

/* NULL without memory. */
PERF_COLD_FN_ perf_gpu_memory_ *perf_gpu_memory_get_(void)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();
    perf_registry_   *r = perf_registry_get_();
    perf_gpu_memory_ *g;

    if (!d)
        return PERF_NULL_;
    g = PERF_CAST_(perf_gpu_memory_ *, PERF_ACQ_(&d->memory));
    if (g || !perf_lock_(r))
        return g;
    g = PERF_CAST_(perf_gpu_memory_ *, d->memory);
    if (!g) {
        g = PERF_CAST_(perf_gpu_memory_ *, perf_pages_(sizeof *g, 0));
        if (g) {
            g->driver = d;
            g->source.report = perf_gpu_memory_report_;
            g->source.reset = perf_gpu_memory_reset_;
            PERF_REL_(&d->memory, PERF_CAST_(void *, g));
        }
    }
    perf_unlock_(&r->lock);
    if (g)
        perf_source_add_(r, &g->source);
    return g;
}

PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes)
{
    perf_gpu_memory_ *g;

    if (!(bytes > -1e18 && bytes < 1e18) || !perf_is_finite_(bytes))
        return PERF_EINVAL;
    if (PERF_DISABLE)
        return PERF_EDISABLED;
    g = perf_gpu_memory_get_();
    if (!g)
        return PERF_ENOMEM;
    if (!perf_lock_word_(&g->lock, 1))
        return PERF_ESTATE;
    bytes += g->noted;
    g->noted = bytes;
    g->noted_peak = perf_most_(bytes, g->noted_peak);
    perf_unlock_(&g->lock);
    if (what)
        perf_count(what, bytes);                /* a curve in the trace */
    return PERF_OK;
}

/* What the driver knows: bytes in use now, and the most since the mark before.  Spoils no capture.
 * Sets back the pool's high-water mark, which so belongs to one phase.  0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_memory_ask_(const perf_gpu_backend *b, perf_gpu_mark_ *m, uint64_t *high)
{
    size_t   left = 0, total = 0;
    uint64_t held = 0, out = 0, zero = 0;
    void    *pool = PERF_NULL_;
    perf_gpu_entered_ e;
    int      code = perf_gpu_enter_(b, PERF_NULL_, &e);

    if (code)
        return code;
    code = 1;                                   /* another table by now */
    if (b->mem_info)
        code = b->mem_info(&left, &total);
    (void)(b->ctx_device && b->ctx_device(&m->device));
    m->total = PERF_CAST_(double, total);
    m->used = m->needed = m->total - PERF_CAST_(double, left);
    if (!code && b->pool_get && b->pool_value && b->pool_set && !b->pool_get(&pool, m->device) &&
        !b->pool_value(pool, PERF_GPU_POOL_RESERVED, &held) &&
        !b->pool_value(pool, PERF_GPU_POOL_USED, &out)) {
        m->needed -= PERF_CAST_(double, held) - PERF_CAST_(double, out);
        if (b->pool_value(pool, PERF_GPU_POOL_USED_HIGH, high) ||
            b->pool_set(pool, PERF_GPU_POOL_USED_HIGH, &zero))
            *high = 0;
        if (*high < out)
            *high = out;
        *high -= out;
    }
    m->peak = m->needed;
    perf_gpu_leave_(b, &e);
    return code;
}

/* The peak of the pool, of notes taken back, of notes that stand, and at both ends of the phase. */
PERF_COLD_FN_ void perf_gpu_memory_book_(perf_gpu_memory_ *g, perf_gpu_mark_ *m, uint64_t high)
{
    perf_gpu_mark_ **link;
    double           least[3];
    int              i;

    for (link = &g->marks; *link; link = &(*link)->next)
        if ((*link)->device == m->device)
            m->before = *link;
    *link = m;
    least[0] = m->needed + PERF_CAST_(double, high);
    least[1] = m->needed + (g->noted_peak - g->noted);
    least[2] = 0;
    if (m->before)
        least[2] = m->before->needed - m->before->noted;
    if (m->before || m == g->marks)
        least[2] += g->noted_peak;
    for (i = 0; i < 3; i++)
        m->peak = perf_most_(least[i], m->peak);
    m->noted = g->noted_peak = g->noted;
}

PERF_FN perf_status perf_gpu_memory_mark(const char *phase)
{
    const perf_gpu_backend *b = perf_gpu_table();
    perf_registry_         *r = perf_registry_get_();
    perf_gpu_memory_        *g;
    perf_gpu_mark_          now = PERF_ZERO, *added;
    perf_status             status = perf_gpu_status();
    perf_site_              site = PERF_ZERO;
    uint64_t                high = 0;
    uint32_t                id;
    int                     code;

    if (status != PERF_OK)
        return status;
    g = perf_gpu_memory_get_();
    if (!g)
        return PERF_ENOMEM;
    if (!b->mem_info)
        return PERF_ENODATA;
    code = perf_gpu_memory_ask_(b, &now, &high);
    if (code) {
        perf_gpu_error_(g->driver, "mem_info", code);
        return PERF_EGPU;
    }
    site.name = phase;
    site.line = PERF_KIND_INSTANT_ << 24;       /* a scope of that name keeps its place           */
    id = perf_site_id_(r, &site);
    if (!perf_lock_(r))
        return PERF_ESTATE;
    added = PERF_CAST_(perf_gpu_mark_ *, perf_keep_(r, sizeof *added));
    perf_unlock_(&r->lock);
    if (!added || !id)
        return PERF_ENOMEM;
    now.name = PERF_ACQ_(&r->names)[id];
    if (!perf_lock_word_(&g->lock, 1))
        return PERF_ESTATE;
    *added = now;
    perf_gpu_memory_book_(g, added, high);
    perf_unlock_(&g->lock);
    return PERF_OK;
}

PERF_COLD_FN_ void perf_gpu_memory_reset_(void)
{
    perf_gpu_memory_       *g = perf_gpu_memory_get_();
    const perf_gpu_backend *b = perf_gpu_table();
    perf_gpu_mark_          mark = PERF_ZERO;
    uint64_t                high;

    if (!g)
        return;
    if (g->marks && b && perf_gpu_status() == PERF_OK)  /* the pool's high-water mark, too */
        (void)perf_gpu_memory_ask_(b, &mark, &high);
    if (!perf_lock_word_(&g->lock, 1))
        return;
    g->marks = PERF_NULL_;
    g->noted_peak = g->noted;
    perf_unlock_(&g->lock);
}

PERF_COLD_FN_ void perf_gpu_put_mark_(perf_out_ *o, const perf_gpu_mark_ *m)
{
    double      before = 0;
    const char *fits = "";

    if (m->before)
        before = m->before->used;
    if (m->peak > m->total)
        fits = "  does not fit";
    perf_put_padded_(o, m->name->site.name, 25);
    perf_put_fixed_in_(o, PERF_CAST_(double, m->device), 0, 6);
    perf_put_bytes_in_(o, m->used, 11);
    perf_put_bytes_in_(o, m->used - before, 11);
    perf_put_bytes_in_(o, m->peak, 11);
    perf_put_bytes_in_(o, m->noted, 11);
    perf_put_bytes_in_(o, m->total, 11);
    perf_put_(o, fits);
    perf_put_char_(o, '\n');
}

/* The phases as a table of the report, and the first that would not fit. */
PERF_COLD_FN_ void perf_gpu_memory_report_(perf_out_ *o, int json)
{
    perf_gpu_memory_     *g = perf_gpu_memory_get_();
    const perf_gpu_mark_ *m, *first = PERF_NULL_;

    if (json || !g || !perf_lock_word_(&g->lock, 1))
        return;
    if (g->marks)
        perf_put_(o, "device memory phase         GPU    in use     change       peak     noted"
                     "      total\n");
    for (m = g->marks; m; m = m->next) {
        perf_gpu_put_mark_(o, m);
        if (m->peak > m->total && !first)
            first = m;
    }
    if (first) {
        perf_put_(o, "note: ");
        (void)perf_put_cut_(o, first->name->site.name, 60);
        perf_put_number_(o, " is the first phase that does not fit on GPU ",
                         PERF_CAST_(double, first->device), 0);
        perf_put_(o, ": short of");
        perf_put_bytes_in_(o, first->peak - first->total, 11);
        perf_put_char_(o, '\n');
    }
    perf_unlock_(&g->lock);
}

#if PERF_DISABLE
#define perf_gpu_memory_mark(phase)       PERF_OFF_CODE_((perf_gpu_memory_mark)(phase))
#define perf_gpu_memory_note(what, bytes) PERF_OFF_CODE_((perf_gpu_memory_note)(what, bytes))
#endif

PERF_END_DECLS

#endif /* PERF_GPU_MEMORY_H */
