/* look_core.h - core files: of the kernel, of gcore, and as systemd keeps them (zstd).
 *
 *     look_target t;
 *     if (look_open_core(&t, "core.4711")) ...
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

/* Unpacks a file of zstd; returns a file that nobody else sees, -1: t->error says why not. */
PERF_FN int look_unpack(look_target *t, int from)
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
        (void)look_fail(t, "%s", fd < 0 ? "no room for the unpacked core file (TMPDIR)"
                                        : "the core file is packed with zstd, and libzstd.so.1 is "
                                          "not installed: unpack it with zstd -d");
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
        look_zstd_buffer source = {in, (size_t)n, 0};
        while (whole && source.at < source.size) {
            look_zstd_buffer target = {out, CHUNK, 0};
            left = step(stream, &target, &source);
            whole = !is_error(left) && write(fd, out, target.at) == (ssize_t)target.at;
        }
    }
    free(in);
    free(out);
    whole = whole && stream && !left;
    (void)release(stream);
    if (whole)
        return fd;
    (void)look_fail(t, "the packed core file is damaged or cut off, or there is no room for it");
    close(fd);
    return -1;
}

/* ---- notes of a core ---- */

PERF_FN uint64_t look_word(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* A thread: its number, and where its stack ends. */
PERF_FN void look_core_task(look_target *t, const char *p, size_t n)
{
    const size_t registers = 112;
#if defined(__x86_64__)
    const size_t stack = registers + 19 * 8;
#else
    const size_t stack = registers + 31 * 8;
#endif
    look_task    k;
    int          id;
    short        signal;

    if (n < stack + 8 || t->tasks >= LOOK_TASKS)
        return;
    memcpy(&signal, p + 12, sizeof signal);
    memcpy(&id, p + 32, sizeof id);
    k.id = (uint64_t)(uint32_t)id;
    k.signal = signal;
    k.stack = look_word(p + stack);
    t->task = (look_task *)ab_grow(t->task, t->tasks + 1, sizeof *t->task);
    t->task[t->tasks++] = k;
    if (t->tasks == 1)
        t->signal = signal;
}

/* Files that were mapped: a count, a page size, places, then names. */
PERF_FN void look_core_files(look_target *t, const char *p, size_t n)
{
    uint64_t    count, page, i;
    const char *name, *end = p + n;

    if (n < 16)
        return;
    count = look_word(p);
    page = look_word(p + 8);
    if (count > LOOK_MAPS || count > (n - 16) / 24 || !page || page > 1 << 20)
        return;
    name = p + 16 + 24 * count;
    for (i = 0; i < count && name < end; i++) {
        const char *at = p + 16 + 24 * i;
        size_t      length = strnlen(name, (size_t)(end - name));
        look_file  *f;
        if (name + length == end)
            return;
        t->file = (look_file *)ab_grow(t->file, t->files + 1, sizeof *t->file);
        f = &t->file[t->files++];
        f->at = look_word(at);
        f->end = look_word(at + 8);
        f->offset = look_word(at + 16) * page;
        f->path = ab_copy(name, length);
        f->fd = -1;
        name += length + 1;
    }
}

PERF_FN void look_core_notes(look_target *t, const char *p, size_t n)
{
    Elf64_Nhdr h;

    while (n >= sizeof h) {
        size_t name, body;
        memcpy(&h, p, sizeof h);
        name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
        body = ((size_t)h.n_descsz + 3) & ~(size_t)3;
        p += sizeof h;
        n -= sizeof h;
        if (name > n || body > n - name)
            return;
        if (h.n_namesz == 5 && !memcmp(p, "CORE", 5)) {
            const char *what = p + name;
            if (h.n_type == NT_PRSTATUS)
                look_core_task(t, what, h.n_descsz);
            else if (h.n_type == NT_PRPSINFO && h.n_descsz >= 56)
                snprintf(t->program, sizeof t->program, "%.16s", what + 40);
            else if (h.n_type == 0x46494c45)
                look_core_files(t, what, h.n_descsz);
        }
        p += name + body;
        n -= name + body;
    }
}

/* ---- the file ---- */

PERF_FN int look_map_before(const void *one, const void *two)
{
    const look_map *a = (const look_map *)one, *b = (const look_map *)two;

    return (a->at > b->at) - (a->at < b->at);
}

/* Segments and notes; 0: it is no core file that can be read here. */
PERF_FN int look_core_headers(look_target *t, const char *path)
{
    Elf64_Ehdr  h;
    Elf64_Phdr *p;
    struct stat s;
    size_t      n, i;

    if (pread(t->core, &h, sizeof h, 0) != (ssize_t)sizeof h || fstat(t->core, &s) ||
        memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return look_fail(t, "%.200s is no process and no core file", path);
    if (h.e_ident[EI_CLASS] != ELFCLASS64)
        return look_fail(t, "%.200s comes from a program of 32 bits, which cannot be read", path);
    if (h.e_ident[EI_DATA] != ELFDATA2LSB)
        return look_fail(t, "%.200s has the other byte order, which cannot be read", path);
    if (h.e_type != ET_CORE)
        return look_fail(t, "%.200s is a program, not the core file of one", path);
#if defined(__x86_64__)
    if (h.e_machine != EM_X86_64)
#else
    if (h.e_machine != EM_AARCH64)
#endif
        return look_fail(t, "%.200s comes from another processor than this one", path);
    n = h.e_phnum;
    if (n == PN_XNUM) {
        Elf64_Shdr first;
        if (pread(t->core, &first, sizeof first, (off_t)h.e_shoff) != (ssize_t)sizeof first)
            return look_fail(t, "%.200s is cut off", path);
        n = first.sh_info;
    }
    if (!n || n > LOOK_MAPS || h.e_phentsize != sizeof *p)
        return look_fail(t, "%.200s is damaged: it has %zu segments", path, n);
    p = (Elf64_Phdr *)ab_grow(NULL, n, sizeof *p);
    if (pread(t->core, p, n * sizeof *p, (off_t)h.e_phoff) != (ssize_t)(n * sizeof *p)) {
        free(p);
        return look_fail(t, "%.200s is cut off", path);
    }
    t->map = (look_map *)ab_grow(NULL, n, sizeof *t->map);
    for (i = 0; i < n; i++) {
        const uint64_t size = (uint64_t)s.st_size, offset = p[i].p_offset;
        const uint64_t there = offset < size ? size - offset : 0;
        const uint64_t bytes = p[i].p_filesz < there ? p[i].p_filesz : there;
        if (p[i].p_type == PT_NOTE && bytes && bytes <= LOOK_CORE_NOTES) {
            char *notes = (char *)ab_grow(NULL, bytes, 1);
            if (pread(t->core, notes, bytes, (off_t)offset) == (ssize_t)bytes)
                look_core_notes(t, notes, bytes);
            free(notes);
        }
        if (p[i].p_type == PT_LOAD && p[i].p_memsz && p[i].p_vaddr + p[i].p_memsz > p[i].p_vaddr) {
            look_map *m = &t->map[t->maps++];
            memset(m, 0, sizeof *m);
            m->at = p[i].p_vaddr;
            m->end = p[i].p_vaddr + p[i].p_memsz;
            m->offset = offset;
            m->bytes = bytes < p[i].p_memsz ? bytes : p[i].p_memsz;
            m->writable = (p[i].p_flags & PF_W) != 0;
        }
    }
    free(p);
    qsort(t->map, t->maps, sizeof *t->map, look_map_before);
    return t->maps ? 1 : look_fail(t, "%.200s has no memory of the program in it", path);
}

/* Gets ready to read a core file; 0: t->error says why not. */
PERF_FN int look_open_core(look_target *t, const char *path)
{
    unsigned char magic[4] = {0, 0, 0, 0};
    struct stat   s;
    int           packed;

    memset(t, 0, sizeof *t);
    t->memory = -1;
    t->core = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (t->core < 0)
        return look_fail(t, "%.200s: %s", path, strerror(errno));
    if (fstat(t->core, &s) || !S_ISREG(s.st_mode))
        return look_fail(t, "%.200s is no file", path);
    if (pread(t->core, magic, sizeof magic, 0) == 4 && magic[0] == 0x28 && magic[1] == 0xb5 &&
        magic[2] == 0x2f && magic[3] == 0xfd) {
        packed = t->core;
        t->core = look_unpack(t, packed);
        close(packed);
        if (t->core < 0)
            return 0;
    }
    return look_core_headers(t, path);
}

#endif /* PERF_TOOLS_LOOK_CORE_H */
