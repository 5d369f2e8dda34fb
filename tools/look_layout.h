/* look_layout.h - finds what perf.h left in a program: ELF notes, their anchors, and the table of
 * places and sizes, by which everything else is read.
 *
 * The table belongs to the program that is read (perf_layout_note_ of perf_record.h), so this tool
 * reads programs of other builds, too.  No struct of the headers is used here.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_LAYOUT_H
#define PERF_TOOLS_LOOK_LAYOUT_H

#include "look_target.h"

/* Entries of the table by their numbers; it begins and ends with the word "perf". */
typedef enum look_entry {
    LOOK_WORD, LOOK_VERSION, LOOK_BUCKET_BITS, LOOK_LATE, LOOK_LOSSES,
    LOOK_ANCHOR_REGISTRY, LOOK_ANCHOR_FIRST, LOOK_ANCHOR_LENGTH,
    LOOK_NAME_SIZE, LOOK_NAME_FILE, LOOK_NAME_LINE, LOOK_NAME_LENGTH, LOOK_NAME_KIND,
    LOOK_REGISTRY_SIZE, LOOK_REGISTRY_PROCESS, LOOK_REGISTRY_CLOCK, LOOK_REGISTRY_WARNINGS,
    LOOK_REGISTRY_EVENTS, LOOK_REGISTRY_LOST, LOOK_REGISTRY_CUT, LOOK_REGISTRY_RETIRED,
    LOOK_REGISTRY_RETIRED_BYTES, LOOK_REGISTRY_RETIRED_LOST, LOOK_REGISTRY_RECORDERS,
    LOOK_REGISTRY_NAMES, LOOK_REGISTRY_COUNT, LOOK_REGISTRY_SPENT, LOOK_REGISTRY_MADE,
    LOOK_RECORDER_SIZE, LOOK_RECORDER_LATE, LOOK_RECORDER_OPEN, LOOK_RECORDER_RING,
    LOOK_RECORDER_RING_NEXT, LOOK_RECORDER_RING_HEAD, LOOK_RECORDER_RING_LOST,
    LOOK_RECORDER_RING_MORE, LOOK_RECORDER_RING_SENT, LOOK_RECORDER_EXTRA, LOOK_RECORDER_SLOTS,
    LOOK_RECORDER_SLOTS_USED, LOOK_RECORDER_SLOT, LOOK_RECORDER_REQUEST, LOOK_RECORDER_BIRTH,
    LOOK_RECORDER_THREAD, LOOK_RECORDER_NUMBER, LOOK_RECORDER_LOSSES, LOOK_RECORDER_NEXT,
    LOOK_RECORDER_HOME, LOOK_RECORDER_GONE, LOOK_RECORDER_FOREIGN, LOOK_RECORDER_STRAYED,
    LOOK_RECORDER_AWAY, LOOK_RECORDER_AWAY_IN, LOOK_RECORDER_NAME, LOOK_RECORDER_ROOT,
    LOOK_SLOT_SIZE, LOOK_SLOT_CELL,
    LOOK_CELL_PARENT, LOOK_CELL_COUNT, LOOK_CELL_SUM, LOOK_CELL_TAG, LOOK_CELL_INSIDE,
    LOOK_CELL_AGAIN, LOOK_CELL_WITHIN, LOOK_CELL_MIN, LOOK_CELL_MAX, LOOK_CELL_BUCKETS,
    LOOK_CELL_GAUGE, LOOK_ROOT_WAITS, LOOK_ROOT_CALLS, LOOK_ROOT_OLDER,
    LOOK_BUCKETS_FIRST, LOOK_BUCKETS_ROOM, LOOK_BUCKETS_N,
    LOOK_BUCKETS_HALVES, LOOK_HALVES_NEXT, LOOK_HALVES_INDEX, LOOK_HALVES_N,
    LOOK_GAUGE_SIZE, LOOK_EVENT_SIZE, LOOK_RETIRED_SIZE, LOOK_RETIRED_NAME,
    LOOK_SPAN_START, LOOK_SPAN_RECORDER, LOOK_SPAN_OPEN, LOOK_SPAN_CELL, LOOK_REGISTRY_OFF,
    LOOK_REGISTRY_LOOPS, LOOK_LOOP_NEXT, LOOK_LOOP_KIND, LOOK_LOOP_FORGOTTEN, LOOK_LOOP_DONE,
    LOOK_LOOP_NAME, LOOK_LOOP_SAMPLE, LOOK_LOOP_SAMPLES, LOOK_BUCKETS_RARE, LOOK_RARE,
    LOOK_ENTRIES
} look_entry;

enum {
    LOOK_LAYOUT_WORD = 0x66726570,      /* first and last of the table: "perf"                    */
    LOOK_LAYOUT_VERSION = 3,
    LOOK_LAYOUT_MOST = 512,             /* words of a table, of a newer program, too              */
    LOOK_FARTHEST = 65536,              /* bytes: no struct of ours comes near it                 */
    LOOK_NOTE_ANCHOR = 0x50455246, LOOK_NOTE_LAYOUT = 0x50455247,
    LOOK_RARE_MOST = 16,                /* entries of a cell's rare durations                     */
    LOOK_IMAGES = 256                   /* with marks, in one program                             */
};

typedef struct look_layout {
    uint64_t at[LOOK_ENTRIES];
} look_layout;

typedef struct look_program {           /* what was found                                         */
    uint64_t    anchor[LOOK_IMAGES];
    size_t      anchors;
    uint64_t    table[LOOK_IMAGES];     /* addresses of layouts                                   */
    size_t      tables;
    look_layout layout;
    uint64_t    registry;               /* 0: nothing recorded yet                                */
} look_program;

/* ---- reading by the table ---- */

/* The number of so many bytes at an entry's place in a copy of a struct. */
PERF_FN uint64_t look_get64(const look_layout *layout, look_entry entry, const char *copy)
{
    uint64_t value;

    memcpy(&value, copy + layout->at[entry], sizeof value);
    return value;
}

PERF_FN uint32_t look_get32(const look_layout *layout, look_entry entry, const char *copy)
{
    uint32_t value;

    memcpy(&value, copy + layout->at[entry], sizeof value);
    return value;
}

/* ---- images ---- */

PERF_FN void look_notes_of(look_target *target, look_program *program, uint64_t at,
                           const char *notes, size_t bytes)
{
    Elf64_Nhdr note;
    uint64_t   distance, name, body;
    size_t     i = 0;

    while (bytes - i >= sizeof note) {
        memcpy(&note, notes + i, sizeof note);
        name = ((uint64_t)note.n_namesz + 3) & ~(uint64_t)3;
        body = ((uint64_t)note.n_descsz + 3) & ~(uint64_t)3;
        if (name > bytes - i - sizeof note || body > bytes - i - sizeof note - name)
            return;
        if (note.n_namesz == 7 && note.n_descsz >= 8 &&
            !memcmp(notes + i + sizeof note, "perf.h", 7)) {
            uint64_t where = at + i + sizeof note + name;
            memcpy(&distance, notes + i + sizeof note + name, sizeof distance);
            if (note.n_type == LOOK_NOTE_ANCHOR && program->anchors < LOOK_IMAGES)
                program->anchor[program->anchors++] = where + distance;
            if (note.n_type == LOOK_NOTE_LAYOUT && program->tables < LOOK_IMAGES)
                program->table[program->tables++] = where + distance;
        }
        i += sizeof note + (size_t)(name + body);
    }
    (void)target;
}

/* The notes of the image that begins at `base`, if one does. */
PERF_FN void look_image(look_target *target, look_program *program, uint64_t base)
{
    Elf64_Ehdr header;
    Elf64_Phdr phdr[LOOK_HEADERS];
    uint64_t   bias = base;
    char      *notes;
    int        i;

    if (!look_fetch_one(target, base, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    if (header.e_ident[EI_CLASS] == ELFCLASS32)
        target->narrow = 1;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof *phdr || !header.e_phnum || header.e_phnum > LOOK_HEADERS ||
        !look_fetch_one(target, base + header.e_phoff, phdr, header.e_phnum * sizeof *phdr))
        return;
    for (i = 0; i < header.e_phnum; i++)
        if (phdr[i].p_type == PT_LOAD) {
            bias = base - (phdr[i].p_vaddr & ~(uint64_t)4095);
            break;
        }
    for (i = 0; i < header.e_phnum; i++) {
        const uint64_t bytes = phdr[i].p_memsz;
        if (phdr[i].p_type != PT_NOTE || bytes < sizeof(Elf64_Nhdr) || bytes > LOOK_NOTES)
            continue;
        notes = (char *)ab_grow(NULL, (size_t)bytes, 1);
        if (look_fetch_one(target, bias + phdr[i].p_vaddr, notes, (size_t)bytes))
            look_notes_of(target, program, bias + phdr[i].p_vaddr, notes, (size_t)bytes);
        free(notes);
    }
}

/* Where images may begin: at each mapping of a file, and in a core also at what it names. */
PERF_FN void look_images(look_target *target, look_program *program)
{
    size_t i;

    for (i = 0; i < target->maps; i++)
        if (!target->pid || target->map[i].of_file)
            look_image(target, program, target->map[i].at);
    for (i = 0; i < target->files && !target->pid; i++)
        if (!target->file[i].offset) {
            uint64_t have[4];
            size_t   j, known = 0;
            for (j = 0; j < target->maps; j++)
                known += target->map[j].at == target->file[i].at &&
                         target->map[j].bytes >= sizeof have;
            if (!known)
                look_image(target, program, target->file[i].at);
        }
}

/* ---- the table ---- */

/* Is every entry one that may be used?  Sizes and places are small; bits and counts smaller. */
PERF_FN int look_layout_sane(const look_layout *layout)
{
    static const look_entry of_name[] = {LOOK_NAME_LENGTH, LOOK_NAME_FILE, LOOK_NAME_LINE, LOOK_NAME_KIND};
    size_t                  i;

    for (i = LOOK_BUCKET_BITS; i < LOOK_ENTRIES; i++)
        if (layout->at[i] > LOOK_FARTHEST)
            return 0;
    if (layout->at[LOOK_NAME_SIZE] < 24)
        return 0;
    for (i = 0; i < sizeof of_name / sizeof *of_name; i++)
        if (layout->at[of_name[i]] > layout->at[LOOK_NAME_SIZE] - 8)    /* 8: the widest of them  */
            return 0;
    return layout->at[LOOK_BUCKET_BITS] <= 8 && layout->at[LOOK_LATE] <= 16 &&
           layout->at[LOOK_LOSSES] <= 16 && layout->at[LOOK_RARE] <= LOOK_RARE_MOST &&
           layout->at[LOOK_SLOT_SIZE] >= 16 &&
           layout->at[LOOK_SLOT_CELL] <= layout->at[LOOK_SLOT_SIZE] - 8 &&
           layout->at[LOOK_GAUGE_SIZE] == 48 && layout->at[LOOK_EVENT_SIZE] == 16 &&
           layout->at[LOOK_RETIRED_SIZE] >= 24;
}

PERF_FN int look_layout_gone(look_target *target)
{
    return look_fail(target, "%s keeps its layout in pages that are not there: a core file without "
                             "them, and the program's file is gone or has changed",
                     target->program);
}

/* Reads a table; 0: it is none, or one of a layout that is not known here. */
PERF_FN int look_layout_read(look_target *target, uint64_t at, look_layout *layout)
{
    uint64_t head[LOOK_VERSION + 1];

    if (!look_fetch_one(target, at, head, sizeof head) || head[LOOK_WORD] != LOOK_LAYOUT_WORD)
        return look_layout_gone(target);
    if (head[LOOK_VERSION] != LOOK_LAYOUT_VERSION)
        return look_fail(target,
                         "%s was built with another layout (%llu) than this tool reads (%d): "
                         "use the perf-ab of its release", target->program,
                         (unsigned long long)(head[LOOK_VERSION] & 0xffff), LOOK_LAYOUT_VERSION);
    if (!look_fetch_one(target, at, layout->at, sizeof layout->at))
        return look_layout_gone(target);
    if (!look_layout_sane(layout))
        return look_fail(target, "the layout of %s is damaged", target->program);
    return 1;
}

/* Finds the registry of the program and how to read it; 0: target->error says why not.
 * program->registry 0: it is there, but nothing was recorded yet.                                */
PERF_FN int look_find(look_target *target, look_program *program)
{
    size_t   i, j;
    uint64_t registry = 0;
    uint32_t size = 0;

    memset(program, 0, sizeof *program);
    look_images(target, program);
    if (!program->anchors && target->narrow && !program->tables)
        return look_fail(target, "%s is a program of 32 bits, which cannot be read from outside",
                         target->program);
    if (!program->anchors && target->pid)
        return look_fail(target, "%s (%d) has no marks of perf.h that record", target->program,
                         target->pid);
    if (!program->anchors)
        return look_fail(target,
                         "no marks of perf.h that record in this core of %s, or neither its "
                         "headers nor its files are at hand", target->program);
    if (!program->tables)
        return look_fail(target,
                         "%s has marks, but nothing in it keeps what they say: one file has to "
                         "define PERF_AT_EXIT 1 before it includes perf.h, or to call "
                         "perf_report() or perf_enable(1)", target->program);
    for (i = 0; i < program->tables; i++) {
        if (!look_layout_read(target, program->table[i], &program->layout))
            continue;
        for (j = 0; j < program->anchors; j++) {
            registry = 0;
            if (!look_fetch_one(target,
                                program->anchor[j] + program->layout.at[LOOK_ANCHOR_REGISTRY],
                                &registry, sizeof registry) || !registry)
                continue;
            if (look_fetch_one(target, registry, &size, sizeof size) &&
                size == program->layout.at[LOOK_REGISTRY_SIZE]) {
                program->registry = registry;
                target->error[0] = '\0';
                return 1;
            }
        }
        if (!registry && i + 1 == program->tables) {
            target->error[0] = '\0';
            return 1;
        }
    }
    if (!target->error[0])
        (void)look_fail(target, "%s records in another layout than it describes", target->program);
    return 0;
}

#endif /* PERF_TOOLS_LOOK_LAYOUT_H */
