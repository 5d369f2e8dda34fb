/* look_target.h - memory that is read from outside: of a process that runs, or of a core file.
 *
 *     look_target target;
 *     if (look_attach(&target, 4711) || look_open_core(&target, "core.4711"))
 *         ... look_fetch_one(&target, address, &word, sizeof word) ...
 *
 * Nothing of the target is trusted.  It is never stopped, and nothing in it is changed.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_TARGET_H
#define PERF_TOOLS_LOOK_TARGET_H

#include "ab.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LOOK_MAPS = 65536,                  /* mappings or segments of one target                     */
    LOOK_HEADERS = 64,                  /* program headers of an image                            */
    LOOK_NOTES = 65536,                 /* bytes of an image's notes                              */
    LOOK_TASKS = 65536                  /* threads of a core                                      */
};
#define LOOK_BYTES      ((uint64_t)2 << 30)     /* that one reading takes at most                 */
#define LOOK_CORE_NOTES ((uint64_t)64 << 20)    /* bytes of a core's notes                        */

typedef struct look_map {               /* a mapping of a process, or a segment of a core         */
    uint64_t at, end;
    uint64_t offset;                    /* of a core: where its bytes are in the file             */
    uint64_t bytes;                     /* of a core: how many of them there are                  */
    int      writable, of_file;
} look_map;

typedef struct look_file {              /* of a core: pages that came from a file                 */
    uint64_t at, end, offset;
    char    *path;
    int      fd;                        /* -1: not opened yet, -2: cannot be                      */
} look_file;

typedef struct look_task {              /* a thread as a core has it                              */
    uint64_t id, stack;
    int      signal;
} look_task;

typedef struct look_piece {             /* so many bytes at an address of the target              */
    uint64_t at;
    void    *to;
    size_t   bytes;
    int      got;                       /* 1: all of them came                                    */
} look_piece;

typedef struct look_target {
    int        pid;                     /* 0: a core file                                         */
    int64_t    ahead;                   /* ns of its clock before ours: another time namespace    */
    int        memory;                  /* /proc/PID/mem where process_vm_readv is refused, or -1 */
    int        core;                    /* the file, or -1                                        */
    look_map  *map;
    size_t     maps;
    look_file *file;
    size_t     files;
    look_task *task;
    size_t     tasks;
    int        signal;                  /* that ended it; 0: none                                 */
    char       program[64];             /* its name                                               */
    uint64_t   bytes, reads;            /* taken in this reading; calls of the system so far      */
    int        narrow;                  /* 1: an image of 32 bits was seen                        */
    int        refused;                 /* errno of the last reading that was not allowed         */
    char       error[600];
} look_target;

/* Puts a sentence into target->error; returns 0. */
PERF_FN int look_fail(look_target *target, const char *format, ...)
    PERF_ATTR_((__format__(__printf__, 2, 3)));

PERF_FN int look_fail(look_target *target, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(target->error, sizeof target->error, format, args);
    va_end(args);
    ab_make_safe(target->error);
    return 0;
}

/* ---- reading ---- */

/* Pieces of a process, as many as the system takes in one call. */
PERF_FN void look_fetch_process(look_target *target, look_piece *piece, size_t n)
{
    enum { MOST = 256 };
    struct iovec here[MOST], there[MOST];
    size_t       i, done, count;
    long         got;

    while (n) {
        count = n < MOST ? n : MOST;
        for (i = 0; i < count; i++) {
            here[i].iov_base = piece[i].to;
            here[i].iov_len = piece[i].bytes;
            there[i].iov_base = (void *)(uintptr_t)piece[i].at;
            there[i].iov_len = piece[i].bytes;
        }
        target->reads++;
        got = syscall(SYS_process_vm_readv, (long)target->pid, here, (long)count, there,
                      (long)count, 0L);
        if (got < 0 && errno != EFAULT)
            target->refused = errno;
        for (done = 0; done < count && got >= (long)piece[done].bytes; done++) {
            got -= (long)piece[done].bytes;
            piece[done].got = 1;
        }
        if (done < count)
            done++;                     /* the one that is not there                              */
        piece += done;
        n -= done;
    }
}

/* The part of a core, or of a file that it names, which has this address.  0: neither. */
PERF_FN int look_fetch_core(look_target *target, uint64_t at, void *to, size_t bytes)
{
    size_t low = 0, high = target->maps, mid;

    while (low < high) {
        mid = (low + high) / 2;
        if (target->map[mid].end <= at)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < target->maps && target->map[low].at <= at) {
        const look_map *map = &target->map[low];
        const uint64_t  in = at - map->at;
        if (in < map->bytes && bytes <= map->bytes - in)
            return pread(target->core, to, bytes, (off_t)(map->offset + in)) == (ssize_t)bytes;
        if (map->writable && in < map->bytes)
            return 0;
    }
    for (low = 0; low < target->files; low++) {
        look_file  *file = &target->file[low];
        struct stat info;
        if (at < file->at || at >= file->end || bytes > file->end - at)
            continue;
        if (file->fd == -1) {
            file->fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
            if (file->fd >= 0 && (fstat(file->fd, &info) || !S_ISREG(info.st_mode))) {
                close(file->fd);
                file->fd = -1;
            }
            if (file->fd < 0)
                file->fd = -2;
        }
        return file->fd >= 0 &&
               pread(file->fd, to, bytes, (off_t)(file->offset + (at - file->at))) ==
                   (ssize_t)bytes;
    }
    return 0;
}

/* Reads n pieces.  What did not come has got == 0, and zeros. */
PERF_FN void look_fetch(look_target *target, look_piece *piece, size_t n)
{
    uint64_t all = 0;
    size_t   i;

    for (i = 0; i < n; i++) {
        piece[i].got = 0;
        memset(piece[i].to, 0, piece[i].bytes);
        all += piece[i].bytes;
    }
    target->bytes += all;
    if (target->bytes > LOOK_BYTES)
        return;
    if (target->pid && target->memory < 0) {
        look_fetch_process(target, piece, n);
        return;
    }
    for (i = 0; i < n; i++) {
        target->reads++;
        if (target->pid)
            piece[i].got = pread(target->memory, piece[i].to, piece[i].bytes, (off_t)piece[i].at) ==
                           (ssize_t)piece[i].bytes;
        else
            piece[i].got = look_fetch_core(target, piece[i].at, piece[i].to, piece[i].bytes);
    }
}

/* 1: all of it came. */
PERF_FN int look_fetch_one(look_target *target, uint64_t at, void *to, size_t bytes)
{
    look_piece piece = {at, to, bytes, 0};

    look_fetch(target, &piece, 1);
    return piece.got;
}

/* ---- a process ---- */

PERF_FN void look_close(look_target *target)
{
    size_t i;

    for (i = 0; i < target->files; i++) {
        if (target->file[i].fd >= 0)
            close(target->file[i].fd);
        free(target->file[i].path);
    }
    if (target->memory >= 0)
        close(target->memory);
    if (target->core >= 0)
        close(target->core);
    free(target->map);
    free(target->file);
    free(target->task);
    memset(target, 0, sizeof *target);
    target->memory = target->core = -1;
}

/* A small file of /proc, without the end of its last line; "" where it cannot be read. */
PERF_FN void look_proc_text(int pid, const char *file, char *text, size_t cap)
{
    char    path[96];
    ssize_t n;
    int     fd;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, cap - 1);
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    text[strcspn(text, "\n")] = '\0';
}

/* What decides why a process may not be read. */
typedef struct look_refusal {
    int      why;                       /* errno                                                  */
    char     scope;                     /* of kernel.yama.ptrace_scope: '0' to '3'; 0: no yama    */
    unsigned owner, reader;             /* users                                                  */
} look_refusal;

/* The sentence for it; returns 0. */
PERF_FN int look_refuse(look_target *target, const look_refusal *refusal)
{
    if (refusal->why == ESRCH)
        return look_fail(target, "process %d has ended", target->pid);
    if (refusal->owner != refusal->reader && refusal->reader != 0)
        return look_fail(target,
                         "process %d belongs to user %u: its user or root may read it (sudo "
                         "perf-ab ...)", target->pid, refusal->owner);
    if (refusal->scope == '3')
        return look_fail(target,
                         "the system lets nobody read process %d: kernel.yama.ptrace_scope is 3 "
                         "(it stays so until the next boot)", target->pid);
    if (refusal->scope > '0' && refusal->reader != 0)
        return look_fail(target,
                         "the system lets nobody read process %d: kernel.yama.ptrace_scope is "
                         "%c (sudo perf-ab ..., or sudo sysctl kernel.yama.ptrace_scope=0)",
                         target->pid, refusal->scope);
    return look_fail(target, "process %d may not be read (%s): it has more rights than its user "
                             "(setuid, capabilities), is not dumpable, or this is a container "
                             "without CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)",
                     target->pid, strerror(refusal->why));
}

/* Why a process may not be read, in a sentence; returns 0. */
PERF_FN int look_not_allowed(look_target *target, int why)
{
    char         scope[16], path[64];
    struct stat  info;
    look_refusal refusal;

    look_proc_text(target->pid, "../sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    snprintf(path, sizeof path, "/proc/%d", target->pid);
    refusal.why = why;
    refusal.scope = scope[0];
    refusal.reader = (unsigned)geteuid();
    refusal.owner = stat(path, &info) ? refusal.reader : (unsigned)info.st_uid;
    return look_refuse(target, &refusal);
}

/* The mappings as they are now; 0: the process cannot be read. */
PERF_FN int look_read_maps(look_target *target)
{
    char     path[64], line[PATH_MAX + 256], mode[8];
    FILE    *maps;
    look_map map;
    unsigned long long at, end, offset, node;

    snprintf(path, sizeof path, "/proc/%d/maps", target->pid);
    maps = fopen(path, "re");
    if (!maps)
        return look_not_allowed(target, errno == ENOENT ? ESRCH : errno);
    target->maps = 0;
    while (target->maps < LOOK_MAPS && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %7s %llx %*s %llu", &at, &end, mode, &offset, &node) != 5)
            continue;
        memset(&map, 0, sizeof map);
        map.at = at;
        map.end = end;
        map.writable = mode[1] == 'w';
        map.of_file = node != 0;
        if (mode[0] != 'r')
            continue;
        target->map = (look_map *)ab_grow(target->map, target->maps + 1, sizeof *target->map);
        target->map[target->maps++] = map;
    }
    fclose(maps);
    if (target->maps)
        return 1;
    return look_fail(target, "process %d has ended, or is a thread of the kernel", target->pid);
}

/* How far the clock of a process is set in its time namespace, in ns; 0: not known. */
PERF_FN int64_t look_clock_set(int pid)
{
    static const char *const link[2] = {"time", "time_for_children"};
    char                     path[96], text[2][64], offsets[128];
    long long                seconds, ns;
    int                      i;

    for (i = 0; i < 2; i++) {
        ssize_t n;
        snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, link[i]);
        n = readlink(path, text[i], sizeof text[i] - 1);
        text[i][n > 0 ? n : 0] = '\0';
    }
    if (strcmp(text[0], text[1]))               /* the file has what the children get             */
        return 0;
    look_proc_text(pid, "timens_offsets", offsets, sizeof offsets);
    if (sscanf(offsets, "monotonic %lld %lld", &seconds, &ns) != 2)
        return 0;
    return (int64_t)seconds * 1000000000 + (int64_t)ns;
}

/* Gets ready to read a process; 0: target->error says why not. */
PERF_FN int look_attach(look_target *target, int pid)
{
    char     path[64];
    uint64_t word;

    memset(target, 0, sizeof *target);
    target->core = target->memory = -1;
    target->pid = pid;
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (access(path, F_OK))
        return look_fail(target, "there is no process %d", pid);
    look_proc_text(pid, "comm", target->program, sizeof target->program);
    target->ahead = look_clock_set(pid) - look_clock_set((int)getpid());
    if (!look_read_maps(target))
        return 0;
    if (look_fetch_one(target, target->map[0].at, &word, sizeof word))
        return 1;
    if (!target->refused)
        return 1;
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    target->memory = open(path, O_RDONLY | O_CLOEXEC);
    if (target->memory >= 0 && look_fetch_one(target, target->map[0].at, &word, sizeof word))
        return 1;
    return look_not_allowed(target, target->refused);
}

/* Is this process another one now, or gone?  Its start, in ticks of the system; 0: gone. */
PERF_FN uint64_t look_started(int pid)
{
    char        text[1024];
    const char *at;
    int         i;

    look_proc_text(pid, "stat", text, sizeof text);
    at = strrchr(text, ')');
    for (i = 0; at && i < 20; i++) {
        at = strchr(at, ' ');
        if (at)
            at++;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The process of that number, or the only one of that name.  0: `why` has the reason. */
PERF_FN int look_find_process(const char *name, char *why, size_t cap)
{
    char           comm[64], *end;
    DIR           *all;
    struct dirent *d;
    long           pid = strtol(name, &end, 10);
    int            found = 0, more = 0;

    if (*name >= '0' && *name <= '9' && !*end && pid > 0 && pid < INT_MAX)
        return (int)pid;
    all = opendir("/proc");
    why[0] = '\0';
    while (all && (d = readdir(all)) != NULL) {
        pid = strtol(d->d_name, &end, 10);
        if (*end || pid <= 0 || pid == (long)getpid())
            continue;
        look_proc_text((int)pid, "comm", comm, sizeof comm);
        if (strncmp(comm, name, 15) != 0 || strlen(name) != strlen(comm))
            if (strlen(name) < 15 || strncmp(comm, name, 15) != 0)
                continue;
        more += found != 0;
        snprintf(why + strlen(why), cap - strlen(why), "%s%ld", found ? ", " : "", pid);
        found = (int)pid;
    }
    if (all)
        closedir(all);
    if (found && !more)
        return found;
    if (more) {
        char list[200];
        snprintf(list, sizeof list, "%.190s", why);
        snprintf(why, cap, "several processes are called '%.60s': %s", name, list);
    } else {
        snprintf(why, cap, "no process is called '%.60s'", name);
    }
    return 0;
}

#endif /* PERF_TOOLS_LOOK_TARGET_H */
