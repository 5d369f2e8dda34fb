/* look_core.h - core files: of the kernel, of gcore, and as systemd keeps them (zstd).
 *
 *     look_target target;
 *     if (look_open_core(&target, "core.4711")) ...
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_CORE_H
#define PERF_TOOLS_LOOK_CORE_H

#include "look_target.h"

/* ---- zstd ---- */

extern void *look_dlopen(const char *, int) __asm__("dlopen") PERF_ATTR_((__weak__));
extern void *look_dlsym(void *, const char *) __asm__("dlsym") PERF_ATTR_((__weak__));

typedef struct look_zstd_buffer {       /* ZSTD_inBuffer and ZSTD_outBuffer                       */
    void  *bytes;
    size_t size, at;
} look_zstd_buffer;

/* Unpacks a file of zstd; returns a file that nobody else sees, -1: target->error says why not. */
PERF_FN int look_unpack(look_target *target, int from)
{
    enum { CHUNK = 1 << 17 };
    void  *(*create)(void) = NULL;
    size_t (*step)(void *, look_zstd_buffer *, look_zstd_buffer *) = NULL;
    unsigned (*is_error)(size_t) = NULL;
    size_t (*release)(void *) = NULL;
    void    *library = look_dlopen ? look_dlopen("libzstd.so.1", 2) : NULL, *stream;
    void    *symbol[4] = {NULL, NULL, NULL, NULL};
    char    *in, *out;
    FILE    *file = tmpfile();
    ssize_t  n;
    size_t   left = 1;
    int      fd = file ? dup(fileno(file)) : -1, whole = fd >= 0;

    if (file)
        fclose(file);
    if (library) {
        symbol[0] = look_dlsym(library, "ZSTD_createDStream");
        symbol[1] = look_dlsym(library, "ZSTD_decompressStream");
        symbol[2] = look_dlsym(library, "ZSTD_isError");
        symbol[3] = look_dlsym(library, "ZSTD_freeDStream");
    }
    if (!symbol[0] || !symbol[1] || !symbol[2] || !symbol[3] || fd < 0) {
        (void)look_fail(target, "%s",
                        fd < 0 ? "no room for the unpacked core file (TMPDIR)"
                               : "the core file is packed with zstd, and libzstd.so.1 is not "
                                 "installed: unpack it with zstd -d");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    memcpy(&create, &symbol[0], sizeof create);
    memcpy(&step, &symbol[1], sizeof step);
    memcpy(&is_error, &symbol[2], sizeof is_error);
    memcpy(&release, &symbol[3], sizeof release);
    stream = create();
    in = (char *)ab_grow(NULL, CHUNK, 1);
    out = (char *)ab_grow(NULL, CHUNK, 1);
    while (whole && stream && (n = read(from, in, CHUNK)) > 0) {
        look_zstd_buffer packed = {in, (size_t)n, 0};
        while (whole && packed.at < packed.size) {
            look_zstd_buffer unpacked = {out, CHUNK, 0};
            left = step(stream, &unpacked, &packed);
            whole = !is_error(left) && write(fd, out, unpacked.at) == (ssize_t)unpacked.at;
        }
    }
    free(in);
    free(out);
    whole = whole && stream && !left;
    (void)release(stream);
    if (whole)
        return fd;
    (void)look_fail(target,
                    "the packed core file is damaged or cut off, or there is no room for it");
    close(fd);
    return -1;
}

/* ---- notes of a core ---- */

PERF_FN uint64_t look_word(const char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* A thread: its number, and where its stack ends. */
PERF_FN void look_core_task(look_target *target, const char *at, size_t n)
{
    const size_t registers = 112;
#if defined(__x86_64__)
    const size_t stack = registers + 19 * 8;
#else
    const size_t stack = registers + 31 * 8;
#endif
    look_task    task;
    int          id;
    short        signal;

    if (n < stack + 8 || target->tasks >= LOOK_TASKS)
        return;
    memcpy(&signal, at + 12, sizeof signal);
    memcpy(&id, at + 32, sizeof id);
    task.id = (uint64_t)(uint32_t)id;
    task.signal = signal;
    task.stack = look_word(at + stack);
    target->task = (look_task *)ab_grow(target->task, target->tasks + 1, sizeof *target->task);
    target->task[target->tasks++] = task;
    if (target->tasks == 1)
        target->signal = signal;
}

/* Files that were mapped: a count, a page size, places, then names. */
PERF_FN void look_core_files(look_target *target, const char *note, size_t n)
{
    uint64_t    count, page, i;
    const char *name, *end = note + n;

    if (n < 16)
        return;
    count = look_word(note);
    page = look_word(note + 8);
    if (count > LOOK_MAPS || count > (n - 16) / 24 || !page || page > 1 << 20)
        return;
    name = note + 16 + 24 * count;
    for (i = 0; i < count && name < end; i++) {
        const char *at = note + 16 + 24 * i;
        size_t      length = strnlen(name, (size_t)(end - name));
        look_file  *file;
        if (name + length == end)
            return;
        target->file = (look_file *)ab_grow(target->file, target->files + 1, sizeof *target->file);
        file = &target->file[target->files++];
        file->at = look_word(at);
        file->end = look_word(at + 8);
        file->offset = look_word(at + 16) * page;
        file->path = ab_copy(name, length);
        file->fd = -1;
        name += length + 1;
    }
}

PERF_FN void look_core_notes(look_target *target, const char *at, size_t n)
{
    Elf64_Nhdr note;

    while (n >= sizeof note) {
        size_t name, body;
        memcpy(&note, at, sizeof note);
        name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        body = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        at += sizeof note;
        n -= sizeof note;
        if (name > n || body > n - name)
            return;
        if (note.n_namesz == 5 && !memcmp(at, "CORE", 5)) {
            const char *what = at + name;
            if (note.n_type == NT_PRSTATUS)
                look_core_task(target, what, note.n_descsz);
            else if (note.n_type == NT_PRPSINFO && note.n_descsz >= 56)
                snprintf(target->program, sizeof target->program, "%.16s", what + 40);
            else if (note.n_type == 0x46494c45)
                look_core_files(target, what, note.n_descsz);
        }
        at += name + body;
        n -= name + body;
    }
}

/* ---- the file ---- */

PERF_FN int look_map_before(const void *a_, const void *b_)
{
    const look_map *one = (const look_map *)a_, *other = (const look_map *)b_;

    return (one->at > other->at) - (one->at < other->at);
}

/* Segments and notes; 0: it is no core file that can be read here. */
PERF_FN int look_core_headers(look_target *target, const char *path)
{
    Elf64_Ehdr  header;
    Elf64_Phdr *phdr;
    struct stat info;
    size_t      n, i;

    if (pread(target->core, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        fstat(target->core, &info) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return look_fail(target, "%.200s is no process and no core file", path);
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return look_fail(target, "%.200s comes from a program of 32 bits, which cannot be read",
                         path);
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        return look_fail(target, "%.200s has the other byte order, which cannot be read", path);
    if (header.e_type != ET_CORE)
        return look_fail(target, "%.200s is a program, not the core file of one", path);
#if defined(__x86_64__)
    if (header.e_machine != EM_X86_64)
#else
    if (header.e_machine != EM_AARCH64)
#endif
        return look_fail(target, "%.200s comes from another processor than this one", path);
    n = header.e_phnum;
    if (n == PN_XNUM) {
        Elf64_Shdr first;
        if (pread(target->core, &first, sizeof first, (off_t)header.e_shoff) !=
            (ssize_t)sizeof first)
            return look_fail(target, "%.200s is cut off", path);
        n = first.sh_info;
    }
    if (!n || n > LOOK_MAPS || header.e_phentsize != sizeof *phdr)
        return look_fail(target, "%.200s is damaged: it has %zu segments", path, n);
    phdr = (Elf64_Phdr *)ab_grow(NULL, n, sizeof *phdr);
    if (pread(target->core, phdr, n * sizeof *phdr, (off_t)header.e_phoff) !=
        (ssize_t)(n * sizeof *phdr)) {
        free(phdr);
        return look_fail(target, "%.200s is cut off", path);
    }
    target->map = (look_map *)ab_grow(NULL, n, sizeof *target->map);
    for (i = 0; i < n; i++) {
        const uint64_t size = (uint64_t)info.st_size, offset = phdr[i].p_offset;
        const uint64_t there = offset < size ? size - offset : 0;
        const uint64_t bytes = phdr[i].p_filesz < there ? phdr[i].p_filesz : there;
        if (phdr[i].p_type == PT_NOTE && bytes && bytes <= LOOK_CORE_NOTES) {
            char *notes = (char *)ab_grow(NULL, bytes, 1);
            if (pread(target->core, notes, bytes, (off_t)offset) == (ssize_t)bytes)
                look_core_notes(target, notes, bytes);
            free(notes);
        }
        if (phdr[i].p_type == PT_LOAD && phdr[i].p_memsz &&
            phdr[i].p_vaddr + phdr[i].p_memsz > phdr[i].p_vaddr) {
            look_map *map = &target->map[target->maps++];
            memset(map, 0, sizeof *map);
            map->at = phdr[i].p_vaddr;
            map->end = phdr[i].p_vaddr + phdr[i].p_memsz;
            map->offset = offset;
            map->bytes = bytes < phdr[i].p_memsz ? bytes : phdr[i].p_memsz;
            map->writable = (phdr[i].p_flags & PF_W) != 0;
        }
    }
    free(phdr);
    qsort(target->map, target->maps, sizeof *target->map, look_map_before);
    return target->maps ? 1 : look_fail(target, "%.200s has no memory of the program in it", path);
}

/* Gets ready to read a core file; 0: target->error says why not. */
PERF_FN int look_open_core(look_target *target, const char *path)
{
    unsigned char magic[4] = {0, 0, 0, 0};
    struct stat   info;
    int           packed;

    memset(target, 0, sizeof *target);
    target->memory = -1;
    target->core = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (target->core < 0)
        return look_fail(target, "%.200s: %s", path, strerror(errno));
    if (fstat(target->core, &info) || !S_ISREG(info.st_mode))
        return look_fail(target, "%.200s is no file", path);
    if (pread(target->core, magic, sizeof magic, 0) == 4 && magic[0] == 0x28 && magic[1] == 0xb5 &&
        magic[2] == 0x2f && magic[3] == 0xfd) {
        packed = target->core;
        target->core = look_unpack(target, packed);
        close(packed);
        if (target->core < 0)
            return 0;
    }
    return look_core_headers(target, path);
}

#endif /* PERF_TOOLS_LOOK_CORE_H */
