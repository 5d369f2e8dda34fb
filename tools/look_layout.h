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
PERF_FN uint64_t look_get64(const look_layout *l, look_entry entry, const char *copy)
{
    uint64_t v;

    memcpy(&v, copy + l->at[entry], sizeof v);
    return v;
}

PERF_FN uint32_t look_get32(const look_layout *l, look_entry entry, const char *copy)
{
    uint32_t v;

    memcpy(&v, copy + l->at[entry], sizeof v);
    return v;
}

/* ---- images ---- */

PERF_FN void look_notes_of(look_target *t, look_program *p, uint64_t at, const char *notes,
                           size_t bytes)
{
    Elf64_Nhdr h;
    uint64_t   distance, name, body;
    size_t     i = 0;

    while (bytes - i >= sizeof h) {
        memcpy(&h, notes + i, sizeof h);
        name = ((uint64_t)h.n_namesz + 3) & ~(uint64_t)3;
        body = ((uint64_t)h.n_descsz + 3) & ~(uint64_t)3;
        if (name > bytes - i - sizeof h || body > bytes - i - sizeof h - name)
            return;
        if (h.n_namesz == 7 && h.n_descsz >= 8 && !memcmp(notes + i + sizeof h, "perf.h", 7)) {
            uint64_t where = at + i + sizeof h + name;
            memcpy(&distance, notes + i + sizeof h + name, sizeof distance);
            if (h.n_type == LOOK_NOTE_ANCHOR && p->anchors < LOOK_IMAGES)
                p->anchor[p->anchors++] = where + distance;
            if (h.n_type == LOOK_NOTE_LAYOUT && p->tables < LOOK_IMAGES)
                p->table[p->tables++] = where + distance;
        }
        i += sizeof h + (size_t)(name + body);
    }
    (void)t;
}

/* The notes of the image that begins at `base`, if one does. */
PERF_FN void look_image(look_target *t, look_program *p, uint64_t base)
{
    Elf64_Ehdr h;
    Elf64_Phdr s[LOOK_HEADERS];
    uint64_t   bias = base;
    char      *notes;
    int        i;

    if (!look_fetch_one(t, base, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    if (h.e_ident[EI_CLASS] == ELFCLASS32)
        t->narrow = 1;
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        h.e_phentsize != sizeof *s || !h.e_phnum || h.e_phnum > LOOK_HEADERS ||
        !look_fetch_one(t, base + h.e_phoff, s, h.e_phnum * sizeof *s))
        return;
    for (i = 0; i < h.e_phnum; i++)
        if (s[i].p_type == PT_LOAD) {
            bias = base - (s[i].p_vaddr & ~(uint64_t)4095);
            break;
        }
    for (i = 0; i < h.e_phnum; i++) {
        const uint64_t bytes = s[i].p_memsz;
        if (s[i].p_type != PT_NOTE || bytes < sizeof(Elf64_Nhdr) || bytes > LOOK_NOTES)
            continue;
        notes = (char *)ab_grow(NULL, (size_t)bytes, 1);
        if (look_fetch_one(t, bias + s[i].p_vaddr, notes, (size_t)bytes))
            look_notes_of(t, p, bias + s[i].p_vaddr, notes, (size_t)bytes);
        free(notes);
    }
}

/* Where images may begin: at each mapping of a file, and in a core also at what it names. */
PERF_FN void look_images(look_target *t, look_program *p)
{
    size_t i;

    for (i = 0; i < t->maps; i++)
        if (!t->pid || t->map[i].of_file)
            look_image(t, p, t->map[i].at);
    for (i = 0; i < t->files && !t->pid; i++)
        if (!t->file[i].offset) {
            uint64_t have[4];
            size_t   j, known = 0;
            for (j = 0; j < t->maps; j++)
                known += t->map[j].at == t->file[i].at && t->map[j].bytes >= sizeof have;
            if (!known)
                look_image(t, p, t->file[i].at);
        }
}

/* ---- the table ---- */

/* Is every entry one that may be used?  Sizes and places are small; bits and counts smaller. */
PERF_FN int look_layout_sane(const look_layout *l)
{
    size_t i;

    for (i = LOOK_BUCKET_BITS; i < LOOK_ENTRIES; i++)
        if (l->at[i] > LOOK_FARTHEST)
            return 0;
    return l->at[LOOK_BUCKET_BITS] <= 8 && l->at[LOOK_LATE] <= 16 && l->at[LOOK_LOSSES] <= 16 &&
           l->at[LOOK_RARE] <= LOOK_RARE_MOST && l->at[LOOK_SLOT_SIZE] >= 16 &&
           l->at[LOOK_SLOT_CELL] <= l->at[LOOK_SLOT_SIZE] - 8 &&
           l->at[LOOK_GAUGE_SIZE] == 48 && l->at[LOOK_EVENT_SIZE] == 16 &&
           l->at[LOOK_RETIRED_SIZE] >= 24 && l->at[LOOK_NAME_SIZE] >= 24;
}

PERF_FN int look_layout_gone(look_target *t)
{
    return look_fail(t, "%s keeps its layout in pages that are not there: a core file without "
                        "them, and the program's file is gone or has changed", t->program);
}

/* Reads a table; 0: it is none, or one of a layout that is not known here. */
PERF_FN int look_layout_read(look_target *t, uint64_t at, look_layout *l)
{
    uint64_t head[LOOK_VERSION + 1];

    if (!look_fetch_one(t, at, head, sizeof head) || head[LOOK_WORD] != LOOK_LAYOUT_WORD)
        return look_layout_gone(t);
    if (head[LOOK_VERSION] != LOOK_LAYOUT_VERSION)
        return look_fail(t, "%s was built with another layout (%llu) than this tool reads (%d): "
                            "use the perf-ab of its release", t->program,
                         (unsigned long long)(head[LOOK_VERSION] & 0xffff), LOOK_LAYOUT_VERSION);
    if (!look_fetch_one(t, at, l->at, sizeof l->at))
        return look_layout_gone(t);
    if (!look_layout_sane(l))
        return look_fail(t, "the layout of %s is damaged", t->program);
    return 1;
}

/* Finds the registry of the program and how to read it; 0: t->error says why not.  p->registry 0:
 * it is there, but nothing was recorded yet.                                                     */
PERF_FN int look_find(look_target *t, look_program *p)
{
    size_t   i, j;
    uint64_t registry = 0;
    uint32_t size = 0;

    memset(p, 0, sizeof *p);
    look_images(t, p);
    if (!p->anchors && t->narrow && !p->tables)
        return look_fail(t, "%s is a program of 32 bits, which cannot be read from outside",
                         t->program);
    if (!p->anchors && t->pid)
        return look_fail(t, "%s (%d) has no marks of perf.h that record", t->program, t->pid);
    if (!p->anchors)
        return look_fail(t, "no marks of perf.h that record in this core of %s, or neither its "
                            "headers nor its files are at hand", t->program);
    if (!p->tables)
        return look_fail(t, "%s has marks, but nothing in it keeps what they say: one file has to "
                            "define PERF_AT_EXIT 1 before it includes perf.h, or to call "
                            "perf_report() or perf_enable(1)", t->program);
    for (i = 0; i < p->tables; i++) {
        if (!look_layout_read(t, p->table[i], &p->layout))
            continue;
        for (j = 0; j < p->anchors; j++) {
            registry = 0;
            if (!look_fetch_one(t, p->anchor[j] + p->layout.at[LOOK_ANCHOR_REGISTRY], &registry,
                                sizeof registry) || !registry)
                continue;
            if (look_fetch_one(t, registry, &size, sizeof size) &&
                size == p->layout.at[LOOK_REGISTRY_SIZE]) {
                p->registry = registry;
                t->error[0] = '\0';
                return 1;
            }
        }
        if (!registry && i + 1 == p->tables) {
            t->error[0] = '\0';
            return 1;
        }
    }
    if (!t->error[0])
        (void)look_fail(t, "%s records in another layout than it describes", t->program);
    return 0;
}

#endif /* PERF_TOOLS_LOOK_LAYOUT_H */
