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

/* Notes bytes that were allocated (> 0) or given back (< 0); also those that you only plan: the
 * report names the first phase that would not fit.  what: this curve of the trace goes to the sum
 * of all notes; NULL: none does.  PERF_EINVAL: NaN, or not within 1e18. */
PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

typedef struct perf_gpu_mark_ {
    struct perf_gpu_mark_ *next, *before;       /* all; the one before on its device */
    perf_name_            *name;
    double                 used, total, peak, noted;    /* bytes */
    double                 needed;              /* `used` without what a pool keeps for later */
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
    perf_gpu_driver_ *driver = perf_gpu_driver_get_();
    perf_registry_   *reg = perf_registry_get_();
    perf_gpu_memory_ *memory;

    if (!driver)
        return PERF_NULL_;
    memory = PERF_CAST_(perf_gpu_memory_ *, PERF_ACQ_(&driver->memory));
    if (memory || !perf_lock_(reg))
        return memory;
    memory = PERF_CAST_(perf_gpu_memory_ *, driver->memory);
    if (!memory) {
        memory = PERF_CAST_(perf_gpu_memory_ *, perf_pages_(sizeof *memory, 0));
        if (memory) {
            memory->driver = driver;
            memory->source.report = perf_gpu_memory_report_;
            memory->source.reset = perf_gpu_memory_reset_;
            PERF_REL_(&driver->memory, PERF_CAST_(void *, memory));
        }
    }
    perf_unlock_(&reg->lock);
    if (memory)
        perf_source_add_(reg, &memory->source);
    return memory;
}

PERF_FN perf_status perf_gpu_memory_note(const char *what, double bytes)
{
    perf_gpu_memory_ *memory;
    double            sum;

    if (!(bytes > -1e18 && bytes < 1e18) || !perf_is_finite_(bytes))
        return PERF_EINVAL;
    if (PERF_DISABLE)
        return PERF_EDISABLED;
    memory = perf_gpu_memory_get_();
    if (!memory)
        return PERF_ENOMEM;
    if (!perf_lock_word_(&memory->lock, 1))
        return PERF_ESTATE;
    sum = memory->noted + bytes;
    memory->noted = sum;
    memory->noted_peak = perf_most_(sum, memory->noted_peak);
    perf_unlock_(&memory->lock);
    if (what)
        perf_count(what, sum);
    return PERF_OK;
}

/* What the driver knows: bytes in use now.  *high: how much more the pool had handed out at most
 * since the mark before; its high-water mark is set back, so that it is of one phase.  Spoils no
 * capture.  The table must have mem_info.  0 or the driver's code. */
PERF_COLD_FN_ int perf_gpu_memory_ask_(const perf_gpu_backend *backend, perf_gpu_mark_ *mark,
                                       uint64_t *high)
{
    size_t   unused = 0, total = 0;
    uint64_t held = 0, handed_out = 0, zero = 0;        /* by the pool, bytes */
    void    *pool = PERF_NULL_;
    perf_gpu_entered_ entered;
    int      code = perf_gpu_enter_(backend, PERF_NULL_, &entered);

    if (code)
        return code;
    code = backend->mem_info(&unused, &total);
    if (backend->ctx_device)
        (void)backend->ctx_device(&mark->device);
    mark->total = PERF_CAST_(double, total);
    mark->used = mark->needed = mark->total - PERF_CAST_(double, unused);
    if (!code && backend->pool_get && backend->pool_value && backend->pool_set &&
        !backend->pool_get(&pool, mark->device) &&
        !backend->pool_value(pool, PERF_GPU_POOL_RESERVED, &held) &&
        !backend->pool_value(pool, PERF_GPU_POOL_USED, &handed_out)) {
        mark->needed -= PERF_CAST_(double, held) - PERF_CAST_(double, handed_out);
        if (backend->pool_value(pool, PERF_GPU_POOL_USED_HIGH, high) ||
            backend->pool_set(pool, PERF_GPU_POOL_USED_HIGH, &zero))
            *high = 0;
        if (*high < handed_out)
            *high = handed_out;
        *high -= handed_out;
    }
    mark->peak = mark->needed;
    perf_gpu_leave_(backend, &entered);
    return code;
}

/* Adds a mark.  Its peak is the largest of: what it says already; the pool's; that of notes taken
 * back meanwhile; and the notes' peak on top of what the mark before needed without its notes. */
PERF_COLD_FN_ void perf_gpu_memory_book_(perf_gpu_memory_ *memory, perf_gpu_mark_ *mark,
                                         uint64_t high)
{
    perf_gpu_mark_      **link;
    const perf_gpu_mark_ *before;

    for (link = &memory->marks; *link; link = &(*link)->next)
        if ((*link)->device == mark->device)
            mark->before = *link;
    *link = mark;
    before = mark->before;
    mark->peak = perf_most_(mark->needed + PERF_CAST_(double, high), mark->peak);
    mark->peak = perf_most_(mark->needed + (memory->noted_peak - memory->noted), mark->peak);
    if (before)
        mark->peak = perf_most_(before->needed - before->noted + memory->noted_peak, mark->peak);
    else if (mark == memory->marks)             /* the first of all */
        mark->peak = perf_most_(memory->noted_peak, mark->peak);
    mark->noted = memory->noted_peak = memory->noted;
}

PERF_FN perf_status perf_gpu_memory_mark(const char *phase)
{
    const perf_gpu_backend *backend = perf_gpu_table();
    perf_registry_         *reg = perf_registry_get_();
    perf_gpu_memory_       *memory;
    perf_gpu_mark_          now = PERF_ZERO, *added;
    perf_status             status = perf_gpu_status();
    perf_site_              site = PERF_ZERO;
    uint64_t                high = 0;
    uint32_t                id;
    int                     code;

    if (status != PERF_OK)
        return status;
    memory = perf_gpu_memory_get_();
    if (!memory)
        return PERF_ENOMEM;
    if (!backend->mem_info)
        return PERF_ENODATA;
    code = perf_gpu_memory_ask_(backend, &now, &high);
    if (code) {
        perf_gpu_error_(memory->driver, "mem_info", code);
        return PERF_EGPU;
    }
    site.name = phase;
    site.line = PERF_KIND_INSTANT_ << 24;       /* a scope of that name keeps its place */
    id = perf_site_id_(reg, &site);
    if (!perf_lock_(reg))
        return PERF_ESTATE;
    added = PERF_CAST_(perf_gpu_mark_ *, perf_forever_(reg, sizeof *added));
    perf_unlock_(&reg->lock);
    if (!added || !id)
        return PERF_ENOMEM;
    now.name = PERF_ACQ_(&reg->names)[id];
    if (!perf_lock_word_(&memory->lock, 1))
        return PERF_ESTATE;
    *added = now;
    perf_gpu_memory_book_(memory, added, high);
    perf_unlock_(&memory->lock);
    return PERF_OK;
}

PERF_COLD_FN_ void perf_gpu_memory_reset_(void)
{
    perf_gpu_memory_       *memory = perf_gpu_memory_get_();
    const perf_gpu_backend *backend = perf_gpu_table();
    perf_gpu_mark_          mark = PERF_ZERO;
    uint64_t                high = 0;

    if (!memory)
        return;
    /* the pool's high-water mark, too */
    if (memory->marks && backend && backend->mem_info && perf_gpu_status() == PERF_OK)
        (void)perf_gpu_memory_ask_(backend, &mark, &high);
    if (!perf_lock_word_(&memory->lock, 1))
        return;
    memory->marks = PERF_NULL_;
    memory->noted_peak = memory->noted;
    perf_unlock_(&memory->lock);
}

PERF_COLD_FN_ void perf_gpu_put_mark_(perf_out_ *out, const perf_gpu_mark_ *mark)
{
    double      before = 0;
    const char *fits = "";

    if (mark->before)
        before = mark->before->used;
    if (mark->peak > mark->total)
        fits = "  does not fit";
    perf_put_padded_(out, mark->name->site.name, 25);
    perf_put_fixed_in_(out, PERF_CAST_(double, mark->device), 0, 6);
    perf_put_bytes_in_(out, mark->used, 11);
    perf_put_bytes_in_(out, mark->used - before, 11);
    perf_put_bytes_in_(out, mark->peak, 11);
    perf_put_bytes_in_(out, mark->noted, 11);
    perf_put_bytes_in_(out, mark->total, 11);
    perf_put_(out, fits);
    perf_put_char_(out, '\n');
}

/* The phases as a table of the report, and the first that would not fit. */
PERF_COLD_FN_ void perf_gpu_memory_report_(perf_out_ *out, int json)
{
    perf_gpu_memory_     *memory = perf_gpu_memory_get_();
    const perf_gpu_mark_ *mark, *first = PERF_NULL_;

    if (json || !memory || !perf_lock_word_(&memory->lock, 1))
        return;
    if (memory->marks)
        perf_put_(out, "device memory phase         GPU    in use     change       peak     noted"
                       "      total\n");
    for (mark = memory->marks; mark; mark = mark->next) {
        perf_gpu_put_mark_(out, mark);
        if (mark->peak > mark->total && !first)
            first = mark;
    }
    if (first) {
        perf_put_(out, "note: ");
        (void)perf_put_cut_(out, first->name->site.name, 60);
        perf_put_number_(out, " is the first phase that does not fit on GPU ",
                         PERF_CAST_(double, first->device), 0);
        perf_put_(out, ": short of");
        perf_put_bytes_in_(out, first->peak - first->total, 11);
        perf_put_char_(out, '\n');
    }
    perf_unlock_(&memory->lock);
}

#if PERF_DISABLE
#define perf_gpu_memory_mark(phase)       PERF_OFF_CODE_((perf_gpu_memory_mark)(phase))
#define perf_gpu_memory_note(what, bytes) PERF_OFF_CODE_((perf_gpu_memory_note)(what, bytes))
#endif

PERF_END_DECLS

#endif /* PERF_GPU_MEMORY_H */
