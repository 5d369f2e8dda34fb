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

/* All that a mark tells but its name.  PERF_ENODATA: the system does not tell. */
PERF_COLD_FN_ perf_status perf_mark_read_(perf_mark_ *mark)
{
    struct perf_usage_ usage;
    uint64_t           pages[2];                /* size, resident                                 */

    PERF_LIBC_(memset)(&usage, 0, sizeof usage);
    perf_proc_read_(0, "self/statm", pages, 2);
    mark->resident = pages[1] * PERF_CAST_(uint64_t, perf_sysconf_(30)); /* _SC_PAGESIZE          */
    if (perf_getrusage_(0, &usage) || !mark->resident)
        return PERF_ENODATA;
    perf_proc_read_(0, "self/io", mark->io, 4); /* missing in some containers: zeros              */
    mark->ns = perf_now();
    mark->age_ns = perf_age_ns_();
    mark->peak = PERF_CAST_(uint64_t, usage.maxrss) * 1024;
    if (mark->peak < mark->resident)            /* the kernel adds up late                        */
        mark->peak = mark->resident;
    mark->minor = PERF_CAST_(uint64_t, usage.minflt);
    mark->major = PERF_CAST_(uint64_t, usage.majflt);
    mark->cpu_ns = perf_system_ns_(PERF_CLOCK_PROCESS_ID_);
    mark->read_blocks = PERF_CAST_(uint64_t, usage.inblock);
    mark->written_blocks = PERF_CAST_(uint64_t, usage.oublock);
#if !PERF_TCC_
    if (perf_mallinfo2_ != PERF_NULL_) {
        struct perf_heap_ heap = perf_mallinfo2_();
        mark->heap = heap.used + heap.mapped;
    }
#endif
    return PERF_OK;
}
#else
#define perf_mark_read_(m) ((void)(m), PERF_ENODATA)
#endif

/* One phase: from mark `before` to `mark`. */
PERF_COLD_FN_ void perf_put_mark_(perf_table_ *table, const perf_mark_ *mark,
                                  const perf_mark_ *before)
{
    double io[4];
    int    i;

    for (i = 0; i < 4; i++)
        io[i] = PERF_CAST_(double, mark->io[i] - before->io[i]);
    perf_table_text_(table, mark->name->site.name);
    perf_table_ns_(table, PERF_CAST_(double, mark->ns - before->ns));
    perf_table_ns_(table, PERF_CAST_(double, mark->cpu_ns - before->cpu_ns));
    perf_table_bytes_(table, PERF_CAST_(double, mark->resident));
    perf_table_bytes_(table, PERF_CAST_(double, mark->resident) -
                             PERF_CAST_(double, before->resident));
    perf_table_bytes_(table, PERF_CAST_(double, mark->peak));
    perf_table_bytes_(table, PERF_CAST_(double, mark->heap));
    perf_table_fixed_(table, PERF_CAST_(double, mark->minor - before->minor), 0);
    perf_table_fixed_(table, PERF_CAST_(double, mark->major - before->major), 0);
    perf_table_fixed_(table, PERF_CAST_(double, mark->read_blocks - before->read_blocks), 0);
    perf_table_fixed_(table, PERF_CAST_(double, mark->written_blocks - before->written_blocks), 0);
    perf_table_bytes_(table, io[0]);            /* read, ...                                      */
    perf_table_fixed_(table, io[2], 0);         /* ... in so many calls                           */
    perf_table_bytes_(table, io[1]);            /* written, ...                                   */
    perf_table_fixed_(table, io[3], 0);
    perf_table_row_end_(table);
}

/* The marks so far, oldest first, as a table of the report. */
PERF_COLD_FN_ void perf_put_marks_(perf_out_ *out, perf_registry_ *reg)
{
    static const perf_column_ column[] = {
        {"memory phase", 25, 0, 0}, {"time", 10, 0, 0},      {"cpu", 10, 'j', 0},
        {"resident", 11, 0, 0},     {"change", 11, 'k', 0},  {"peak", 11, 'i', 0},
        {"heap", 11, 'g', 0},       {"faults", 9, 'h', 0},   {"major", 8, 'a', 0},
        {"read blk", 11, 'b', 0},   {"write blk", 11, 'c', 0}, {"read", 11, 'f', 0},
        {"calls", 9, 'd', 0},       {"written", 11, 'f', 0}, {"calls", 9, 'e', 0}};
    perf_table_ table = perf_table_open_(out, column, 15);
    perf_mark_ *newest = PERF_ACQ_(&reg->marks), *mark, *before = PERF_NULL_, start;
    uint64_t    age;

    if (!newest)
        return;
    perf_table_head_(&table);
    PERF_LIBC_(memset)(&start, 0, sizeof start);
    for (; before != newest; before = mark) {
        mark = newest;                          /* back to the one that came after `before`       */
        while (mark->next != before)
            mark = mark->next;
        age = mark->age_ns;                     /* known to 10 ms                                 */
        if (age < mark->cpu_ns)
            age = mark->cpu_ns;
        start.ns = mark->ns - age;
        perf_put_mark_(&table, mark, before ? before : &start);
    }
}

PERF_FN perf_status perf_memory_mark(const char *phase)
{
    perf_registry_ *reg = perf_registry_read_();
    perf_site_      site = PERF_ZERO;
    perf_mark_      now, *mark;
    perf_status     status;

    site.name = phase;
    site.line = PERF_KIND_INSTANT_ << 24;       /* a scope of that name keeps its place           */
    if (!reg || !perf_site_id_(reg, &site))
        return PERF_ENOMEM;
    for (;;) {
        mark = PERF_ACQ_(&reg->marks);
        PERF_LIBC_(memset)(&now, 0, sizeof now);
        status = perf_mark_read_(&now);
        if (status != PERF_OK)
            return status;
        if (!perf_lock_(reg))
            return PERF_ENOMEM;
        if (mark == reg->marks)
            break;
        perf_unlock_(&reg->lock);               /* another thread has marked meanwhile: again     */
    }
    now.name = reg->names[site.id];
    mark = PERF_CAST_(perf_mark_ *, perf_forever_(reg, sizeof *mark));
    if (mark) {
        *mark = now;
        mark->next = reg->marks;
        perf_image_pin_();                      /* any image may write the report                 */
        PERF_REL_(&reg->put_marks, &perf_put_marks_);
        PERF_REL_(&reg->marks, mark);
    }
    perf_unlock_(&reg->lock);
    return mark ? PERF_OK : PERF_ENOMEM;
}

#if PERF_DISABLE
#define perf_memory_mark(p) PERF_OFF_CODE_((perf_memory_mark)(p))
#endif

PERF_END_DECLS

#endif /* PERF_MEMORY_H */
