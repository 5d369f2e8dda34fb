/* perf_memory.h - what each phase of a program took: memory, faults, disk, processor.
 *
 *     perf_memory_mark("load");                    // the phase "load" ends here
 *     perf_memory_mark("solve");
 *     perf_report();                               // a row for each
 *
 * Optional: only files that mark phases include it.
 * Sections (search for ">>"):  memory  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_MEMORY_H
#define PERF_MEMORY_H

#include "perf_proc.h"
#include "perf_report.h"

PERF_BEGIN_DECLS

/* >>memory ------------------------------------------------------------------------------------ */

/* Marks the end of a phase ("load", "solve"); NULL reads "(null)".  The report then has a table
 * of phases: resident and peak memory, heap, page faults, time of the processor, blocks from and
 * to disks, bytes and calls of read and write (of pipes and files in memory, too) since the mark
 * before, or since the program began.  Reads /proc: some 60 us and 8 calls of read.  PERF_ENODATA
 * where the system does not tell.                                                                */
PERF_FN perf_status perf_memory_mark(const char *phase);

/* >>private: bodies, in the order of the prototypes ------------------------------------------ */

#if defined(__linux__) && PERF_LP64_UNIX_
struct perf_heap_ {             /* struct mallinfo2                                               */
    size_t arena, chunks, fast, mapped_chunks, mapped, highest, fast_bytes, used, free, top;
};
#if !PERF_TCC_
extern struct perf_heap_ perf_mallinfo2_(void) __asm__(PERF_SYM_("mallinfo2"))
    PERF_ATTR_((__weak__));
#endif

PERF_COLD_FN_ perf_status perf_mark_read_(perf_mark_ *m)
{
    struct perf_usage_ u;
    uint64_t           pages[2];                /* size, resident                                 */

    PERF_LIBC_(memset)(&u, 0, sizeof u);
    perf_proc_read_(0, "self/statm", pages, 2);
    m->resident = pages[1] * PERF_CAST_(uint64_t, perf_sysconf_(30));   /* _SC_PAGESIZE           */
    if (perf_getrusage_(0, &u) || !m->resident)
        return PERF_ENODATA;
    perf_proc_read_(0, "self/io", m->io, 4); /* missing in some containers: zeros      */
    m->ns = perf_now();
    m->age_ns = perf_age_ns_();
    m->peak = PERF_CAST_(uint64_t, u.maxrss) * 1024;    /* the kernel adds up late: may be behind */
    if (m->peak < m->resident)
        m->peak = m->resident;
    m->minor = PERF_CAST_(uint64_t, u.minflt);
    m->major = PERF_CAST_(uint64_t, u.majflt);
    m->cpu_ns = perf_system_ns_(PERF_CLOCK_PROCESS_ID_);
    m->read_blocks = PERF_CAST_(uint64_t, u.inblock);
    m->written_blocks = PERF_CAST_(uint64_t, u.oublock);
#if !PERF_TCC_
    if (perf_mallinfo2_ != PERF_NULL_) {
        struct perf_heap_ h = perf_mallinfo2_();
        m->heap = h.used + h.mapped;
    }
#endif
    return PERF_OK;
}
#else
#define perf_mark_read_(m) ((void)(m), PERF_ENODATA)
#endif

/* The marks so far, oldest first, as a table of the report. */
PERF_COLD_FN_ void perf_put_marks_(perf_out_ *o, perf_registry_ *r)
{
    perf_mark_ *newest = PERF_ACQ_(&r->marks), *m, *older = PERF_NULL_, none;
    int         name = perf_fit_(o, "25 10 10j 11 11k 11i 11g 9h 8a 11b 11c 11f 9d 11f 9e"), k;

    PERF_LIBC_(memset)(&none, 0, sizeof none);
    if (newest)
        perf_putf_(o, "%-*s%10s%10s%11s%11s%11s%11s%9s%8s%11s%11s%11s%9s%11s%9s\n", name,
                   "memory phase", "time", "cpu", "resident", "change", "peak", "heap", "faults",
                   "major", "read blk", "write blk", "read", "calls", "written", "calls");
    for (; newest && older != newest; older = m) {
        const perf_mark_ *b = older ? older : &none;
        double            io[4];
        for (m = newest; m->next != older; m = m->next) {
        }
        if (!older)                             /* a start is known to 10 ms                      */
            none.ns = m->ns - (m->age_ns > m->cpu_ns ? m->age_ns : m->cpu_ns);
        for (k = 0; k < 4; k++)
            io[k] = PERF_CAST_(double, m->io[k] - b->io[k]);
        perf_putf_(o, "%-*s%10g%10g%11e%11e%11e%11e%9.0f%8.0f%11.0f%11.0f%11e%9.0f%11e%9.0f\n",
                   name, m->name->site.name, PERF_CAST_(double, m->ns - b->ns),
                   PERF_CAST_(double, m->cpu_ns - b->cpu_ns), PERF_CAST_(double, m->resident),
                   PERF_CAST_(double, m->resident) - PERF_CAST_(double, b->resident),
                   PERF_CAST_(double, m->peak), PERF_CAST_(double, m->heap),
                   PERF_CAST_(double, m->minor - b->minor), PERF_CAST_(double, m->major - b->major),
                   PERF_CAST_(double, m->read_blocks - b->read_blocks),
                   PERF_CAST_(double, m->written_blocks - b->written_blocks), io[0], io[2], io[1],
                   io[3]);
    }
    o->skip = 0;
}

PERF_FN perf_status perf_memory_mark(const char *phase)
{
    perf_registry_ *r = perf_registry_read_();
    perf_site_      site = PERF_ZERO;
    perf_mark_      now, *m;
    perf_status     status;

    if (!r)
        return PERF_ENOMEM;
    for (;;) {
        m = PERF_ACQ_(&r->marks);
        PERF_LIBC_(memset)(&now, 0, sizeof now);
        status = perf_mark_read_(&now);
        if (status != PERF_OK || !perf_lock_(r))
            return status != PERF_OK ? status : PERF_ENOMEM;
        if (m == r->marks)
            break;
        perf_unlock_(r);                        /* another thread has marked meanwhile: again     */
    }
    site.name = phase;
    site.line = PERF_KIND_INSTANT_ << 24;       /* a scope of that name keeps its place           */
    now.name = perf_name_intern_(r, &site);
    m = now.name ? PERF_CAST_(perf_mark_ *, perf_keep_(r, sizeof *m)) : PERF_NULL_;
    if (m) {
        *m = now;
        m->next = r->marks;
        perf_image_pin_();                      /* any image may write the report                 */
        PERF_REL_(&r->put_marks, &perf_put_marks_);
        PERF_REL_(&r->marks, m);
    }
    perf_unlock_(r);
    return m ? PERF_OK : PERF_ENOMEM;
}

#if PERF_DISABLE
#define perf_memory_mark(p) PERF_OFF_CODE_((perf_memory_mark)(p))
#endif

PERF_END_DECLS

#endif /* PERF_MEMORY_H */
