/* perf_layout.h - where do readers from outside find what is recorded?  Places, in an ELF note.
 *
 *   $ perf-ab top 4711                         # reads a process that runs; perf-ab look its core
 *
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_LAYOUT_H
#define PERF_LAYOUT_H

#include "perf_registry.h"

/* >>internal: what other headers may use -------------------------------------------------------
 *   perf_layout_note_  writes the note into a file that holds a core
 *   PERF_ENGINE_       leaves a table of functions under a symbol for the linker                 */

/* >>private: the note -------------------------------------------------------------------------- */

PERF_BEGIN_DECLS

#if PERF_ONE_CORE_
#define PERF_LAYOUT_WORD_    0x66726570     /* first and last in the table: "perf"                */
#define PERF_LAYOUT_VERSION_ 3
#if defined(__aarch64__)
#define PERF_NOTE_ADDRESS_  "%0"
#define PERF_NOTE_OPERAND_(object) "S"(object)
#else
#define PERF_NOTE_ADDRESS_  "%c0"
#define PERF_NOTE_OPERAND_(object) "i"(object)
#endif

/* A pointer to the table, in a group of sections of which the linker keeps one.  It is written into
 * the file that uses the function around it, so a file that does not use it carries no table.    */
#define PERF_ENGINE_(symbol, table)                                                               \
    __asm__ __volatile__(PERF_ENGINE_TEXT_(symbol, PERF_NOTE_ADDRESS_)                            \
                         : : PERF_NOTE_OPERAND_(&(table)))
#define PERF_ENGINE_TEXT_(symbol, table)                                                          \
    ".ifndef " symbol "\n"                                                                        \
    ".pushsection .data.rel.ro.perf_h,\"awG\",%%progbits," symbol ",comdat\n"                     \
    ".balign 8\n.weak " symbol "\n.hidden " symbol "\n" symbol ":\n"                             \
    ".quad " table "\n.popsection\n.endif\n"

/* The note: its sizes and type, the name of its owner, and how far away the table is. */
#define PERF_LAYOUT_SYMBOL_ "perf_layout_note_" PERF_STR_(PERF_VERSION)
#define PERF_LAYOUT_TEXT_                                                                         \
    ".ifndef " PERF_LAYOUT_SYMBOL_ "\n"                                                           \
    ".pushsection .note.perf_h,\"aG\",%%note," PERF_LAYOUT_SYMBOL_ ",comdat\n"                    \
    ".balign 4\n"                                                                                 \
    ".weak " PERF_LAYOUT_SYMBOL_ "\n"                                                             \
    ".hidden " PERF_LAYOUT_SYMBOL_ "\n"                                                           \
    PERF_LAYOUT_SYMBOL_ ":\n"                                                                     \
    ".long 7, 8, 0x50455247\n"                                                                    \
    ".asciz \"perf.h\"\n"                                                                         \
    ".byte 0\n"                                                                                   \
    ".quad " PERF_NOTE_ADDRESS_ " - .\n"                                                          \
    ".popsection\n"                                                                               \
    ".endif\n"                                                                                    \
    ".reloc ., BFD_RELOC_NONE, " PERF_LAYOUT_SYMBOL_ "\n"

/* A table of places and sizes in bytes, for readers from outside.  An ELF note leads to it, beside
 * the note of perf_images_walk_.  Readers know an entry by its number: new ones go to the end, one
 * that is gone becomes ~0.  Version 3: counters have 32 bits, see perf_cell_counter_, and rare
 * durations entries.  Of a process that runs, what was read of a cell is right if the cell has the
 * same `count` and `buckets` afterwards.
 * Writable, as core files leave out the pages that nobody can write.                             */
PERF_COLD_FN_ void perf_layout_note_(void)
{
    static size_t layout[] = {
        PERF_LAYOUT_WORD_, PERF_LAYOUT_VERSION_, PERF_CELL_BITS_, PERF_LATE_, PERF_LOSSES_,
        __builtin_offsetof(perf_anchor_, registry), __builtin_offsetof(perf_anchor_, clock.first),
        __builtin_offsetof(perf_anchor_, clock.length), sizeof(perf_name_),
        __builtin_offsetof(perf_name_, site.file), __builtin_offsetof(perf_name_, site.line),
        __builtin_offsetof(perf_name_, length), __builtin_offsetof(perf_name_, kind),
        sizeof(perf_registry_), __builtin_offsetof(perf_registry_, process),
        __builtin_offsetof(perf_registry_, clock), __builtin_offsetof(perf_registry_, warnings),
        __builtin_offsetof(perf_registry_, ring_events), __builtin_offsetof(perf_registry_, lost),
        __builtin_offsetof(perf_registry_, cut_names), __builtin_offsetof(perf_registry_, retired),
        __builtin_offsetof(perf_registry_, retired_bytes),
        __builtin_offsetof(perf_registry_, retired_lost),
        __builtin_offsetof(perf_registry_, recorders), __builtin_offsetof(perf_registry_, names),
        __builtin_offsetof(perf_registry_, count), __builtin_offsetof(perf_registry_, spent),
        __builtin_offsetof(perf_registry_, made),
        sizeof(perf_recorder_), __builtin_offsetof(perf_recorder_, late),
        __builtin_offsetof(perf_recorder_, open), __builtin_offsetof(perf_recorder_, ring),
        __builtin_offsetof(perf_recorder_, ring_next),
        __builtin_offsetof(perf_recorder_, ring_head),
        __builtin_offsetof(perf_recorder_, ring_lost),
        __builtin_offsetof(perf_recorder_, ring_more),
        __builtin_offsetof(perf_recorder_, ring_sent), __builtin_offsetof(perf_recorder_, extra),
        __builtin_offsetof(perf_recorder_, slot_room),
        __builtin_offsetof(perf_recorder_, slots_used),
        __builtin_offsetof(perf_recorder_, slot), __builtin_offsetof(perf_recorder_, request),
        __builtin_offsetof(perf_recorder_, birth), __builtin_offsetof(perf_recorder_, thread),
        __builtin_offsetof(perf_recorder_, number), __builtin_offsetof(perf_recorder_, losses),
        __builtin_offsetof(perf_recorder_, next), __builtin_offsetof(perf_recorder_, home),
        __builtin_offsetof(perf_recorder_, gone), __builtin_offsetof(perf_recorder_, foreign_track),
        __builtin_offsetof(perf_recorder_, strayed), __builtin_offsetof(perf_recorder_, away),
        __builtin_offsetof(perf_recorder_, away_in), __builtin_offsetof(perf_recorder_, name),
        __builtin_offsetof(perf_recorder_, root),
        sizeof(perf_slot_), __builtin_offsetof(perf_slot_, cell),
        __builtin_offsetof(perf_cell_, parent), __builtin_offsetof(perf_cell_, count),
        __builtin_offsetof(perf_cell_, sum), __builtin_offsetof(perf_cell_, tag),
        __builtin_offsetof(perf_cell_, inside), __builtin_offsetof(perf_cell_, again),
        __builtin_offsetof(perf_cell_, within), __builtin_offsetof(perf_cell_, of.calls.min),
        __builtin_offsetof(perf_cell_, of.calls.max), __builtin_offsetof(perf_cell_, buckets),
        __builtin_offsetof(perf_cell_, of.calls.gauge),
        __builtin_offsetof(perf_cell_, of.root.waiting),
        __builtin_offsetof(perf_cell_, of.root.again_open),
        __builtin_offsetof(perf_cell_, of.root.older), __builtin_offsetof(perf_buckets_, first),
        __builtin_offsetof(perf_buckets_, room), __builtin_offsetof(perf_buckets_, n),
        __builtin_offsetof(perf_buckets_, halves), __builtin_offsetof(perf_halves_, next),
        __builtin_offsetof(perf_halves_, index), __builtin_offsetof(perf_halves_, halves),
        sizeof(perf_gauge_), sizeof(perf_event_), sizeof(perf_retired_),
        __builtin_offsetof(perf_retired_, name), __builtin_offsetof(perf_scope, start),
        __builtin_offsetof(perf_scope, rec), __builtin_offsetof(perf_scope, open),
        __builtin_offsetof(perf_scope, cell), __builtin_offsetof(perf_registry_, off),
        __builtin_offsetof(perf_registry_, results), __builtin_offsetof(perf_kept_loop_, next),
        __builtin_offsetof(perf_kept_loop_, kind), __builtin_offsetof(perf_kept_loop_, forgotten),
        __builtin_offsetof(perf_kept_loop_, done), __builtin_offsetof(perf_kept_loop_, name),
        __builtin_offsetof(perf_kept_loop_, sample), __builtin_offsetof(perf_kept_loop_, samples),
        __builtin_offsetof(perf_buckets_, rare), PERF_RARE_,
        PERF_LAYOUT_WORD_};

    __asm__ __volatile__(PERF_LAYOUT_TEXT_ : : PERF_NOTE_OPERAND_(layout));
}
#else
#define PERF_ENGINE_(symbol, table) PERF_CAST_(void, 0)
#define perf_layout_note_() PERF_CAST_(void, 0)
#endif

PERF_END_DECLS

#if !PERF_ONE_CORE_
#include "perf_record.h"        /* see perf_scope.h                                               */
#endif
#endif /* PERF_LAYOUT_H */
