/* files.c DIR: what is written lands where it should and nowhere else, keeps its permissions, and takes
 * the place of an old file only when it is whole; what is read is left alone.                      */
#define _DEFAULT_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#define PERF_TRACE_EVENTS 1024
#include "perf.h"
#include "perf_export.h"
#include "perf_trace.h"

#include "check.h"
#include "inside.h"

static char dir[400], path[500], other[500];

/* Stands before the C library's: counts, and fails when told to. */
static int syncs, syncs_fail;
int        fsync(int fd);
int        fsync(int fd)
{
    (void)fd;
    syncs++;
    errno = EIO;
    return syncs_fail ? -1 : 0;
}

/* The same: for a moment everything is a regular file, as what is swapped behind our back was. */
static int stat_lies;
int        stat(const char *file, struct stat *s)
{
    int status = fstatat(AT_FDCWD, file, s, 0);

    if (stat_lies)
        s->st_mode = S_IFREG | 0600;
    return status;
}

static const char *in(char *to, const char *name)
{
    snprintf(to, sizeof path, "%s/%s", dir, name);
    return to;
}

static void put(const char *file, const char *text, size_t n)
{
    FILE *f = fopen(file, "wb");

    if (!f || fwrite(text, 1, n, f) != n || fclose(f))
        abort();
}

static int holds(const char *file, const char *text, size_t n)
{
    static char buffer[65536];
    FILE       *f = fopen(file, "rb");
    size_t      got = f ? fread(buffer, 1, sizeof buffer, f) : 0;

    if (f)
        (void)fclose(f);
    return f && got == n && !memcmp(buffer, text, n);
}

static unsigned mode_of(const char *file)
{
    struct stat s;

    return lstat(file, &s) ? 0 : S_ISREG(s.st_mode) ? s.st_mode & 07777 : 1;
}

/* Files whose names end in ".part". */
static int leftovers(const char *folder)
{
    DIR           *d = opendir(folder);
    struct dirent *e;
    int            n = 0;

    while (d && (e = readdir(d)) != NULL)
        n += strlen(e->d_name) > 5 && !strcmp(e->d_name + strlen(e->d_name) - 5, ".part");
    if (d)
        (void)closedir(d);
    return n;
}

/* The file holds this run alone. */
static perf_status save_alone(const char *to, const perf_results_opts *with)
{
    perf_results_opts o = PERF_ZERO;

    if (with)
        o = *with;
    o.alone = 1;
    return perf_baseline_add(to, &o);
}

/* Every way to write a file. */
enum { WAYS = 8 };
static perf_status way(int i, const char *to)
{
    perf_trace_part part = {NULL, NULL, 0, 0};
    perf_status     status;

    switch (i) {
    case 0: return perf_results_save(to, NULL);
    case 1: return save_alone(to, NULL);
    case 2: return perf_export_save(to, PERF_EXPORT_OPENMETRICS, NULL);
    case 3: return perf_export_save(to, PERF_EXPORT_FLAME, NULL);
    case 4: return perf_trace_save(to);
    case 5: return perf_trace_save_perfetto(to);
    case 6: part.path = in(other, "part.pftrace"); return perf_trace_merge(to, &part, 1, NULL);
    default:
        status = perf_trace_stream(to);
        return status == PERF_OK ? perf_trace_stream(NULL) : status;
    }
}

#define PRECIOUS "{\"perf_results\":1}"     /* what baselines would replace, too                     */
static void links_and_modes(void)
{
    char target[500], planted[600];
    int  i, k;

    for (i = 0; i < WAYS; i++) {
        /* nothing there: as the umask has it */
        (void)remove(in(path, "out"));
        CHECK(way(i, path) == PERF_OK && mode_of(path) == 0644, "way %d: mode %o", i, mode_of(path));
        /* an old file keeps its permissions */
        CHECK(chmod(path, 0640) == 0 && way(i, path) == PERF_OK && mode_of(path) == 0640,
              "way %d: mode %o", i, mode_of(path));
        (void)remove(path);
        put(path, "", 0);
        CHECK(chmod(path, 0606) == 0 && way(i, path) == PERF_OK && mode_of(path) == 0606,
              "way %d: mode %o", i, mode_of(path));
        CHECK(chmod(path, 0) == 0 && (way(i, path) != PERF_OK || (!access(path, F_OK) && !mode_of(path))),
              "%d: nobody may read it: %o", i, mode_of(path));
        CHECK(chmod(path, 0640) == 0, "as it was");
        /* a planted link is replaced, what it leads to is not touched */
        put(in(target, "target"), PRECIOUS, strlen(PRECIOUS));
        (void)remove(path);
        CHECK(symlink(target, path) == 0 && way(i, path) == PERF_OK, "way %d", i);
        CHECK(holds(target, PRECIOUS, strlen(PRECIOUS)) && mode_of(path) == 0644, "way %d: link followed", i);
        /* nor one with the name that older releases gave the file while it was written */
        for (k = 0; k < 40; k++) {
            snprintf(planted, sizeof planted, "%s.%ld.part", path, (long)getpid() - 20 + k);
            if (symlink(target, planted))
                abort();
        }
        CHECK(way(i, path) == PERF_OK && holds(target, PRECIOUS, strlen(PRECIOUS)), "way %d: planted", i);
        for (k = 0; k < 40; k++) {
            snprintf(planted, sizeof planted, "%s.%ld.part", path, (long)getpid() - 20 + k);
            (void)remove(planted);
        }
        CHECK(leftovers(dir) == 0, "way %d: %d left", i, leftovers(dir));
    }
}

/* A disk that is full, as far as a process without rights can have one. */
static void full_disk(const char *folder)
{
    struct rlimit limit, old;
    char          to[500];
    perf_status   status;
    int           i;

    (void)signal(SIGXFSZ, SIG_IGN);
    snprintf(to, sizeof to, "%s/perf_files_%ld", folder, (long)getpid());
    for (i = 0; i < WAYS - 1; i++) {
        put(to, "{\"perf_results\":1}\n", 19);
        getrlimit(RLIMIT_FSIZE, &old);
        limit = old;
        limit.rlim_cur = 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        status = way(i, to);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK(status == PERF_EIO, "way %d: %s", i, perf_status_text(status));
        CHECK(holds(to, "{\"perf_results\":1}\n", 19), "%s, way %d: the old file is gone", folder, i);
        CHECK(leftovers(folder) == 0, "way %d: %d left", i, leftovers(folder));
    }
    (void)remove(to);
}

static void durable(void)
{
    perf_status status;
    int         i;

    (void)remove(in(path, "durable.json"));
    for (i = 0; i < 2; i++) {
        syncs = 0;
        status = i ? perf_baseline_add(path, NULL) : save_alone(path, NULL);
        CHECK(status == PERF_OK && syncs == 2, "%s, %d: the file and its folder",
              perf_status_text(status), syncs);
    }
    syncs = 0;
    CHECK(perf_results_save(path, NULL) == PERF_OK && syncs == 0, "%d", syncs);
    put(path, "{\"perf_results\":1}\n", 19);
    syncs_fail = 1;
    CHECK(perf_baseline_add(path, NULL) == PERF_EIO, "the disk failed");
    CHECK(save_alone(path, NULL) == PERF_EIO, "the disk failed");
    syncs_fail = 0;
    CHECK(holds(path, "{\"perf_results\":1}\n", 19) && leftovers(dir) == 0, "old file");
}

static void damaged(void)
{
    static const char *const text[] = {"{\"perf_results\":1,\"benchm", "{\"perf_results\":1.5} x", "{\"perf_results\":1"};
    perf_baseline            b;
    perf_status              status;
    char                     aside[600];
    int                      i;

    in(path, "broken.json");
    for (i = 0; i < 3; i++) {
        put(path, text[i], strlen(text[i]));
        status = i == 1 ? perf_baseline_add(path, NULL) : save_alone(path, NULL);
        CHECK(status == PERF_OK, "%d: %s", i, perf_status_text(status));
        b = perf_baseline_check(path, NULL);
        CHECK(b.status == PERF_OK && b.runs == 1, "%s", perf_status_text(b.status));
        perf_baseline_free(&b);
    }
    for (i = 0; i < 3; i++) {
        snprintf(aside, sizeof aside, i ? "%s.damaged.%d" : "%s.damaged", path, i + 1);
        CHECK(holds(aside, text[i], strlen(text[i])), "%s", aside);
    }
    snprintf(aside, sizeof aside, "%s.damaged.4", path);
    CHECK(save_alone(path, NULL) == PERF_OK && !mode_of(aside), "a good one is replaced");
    put(path, "", 0);
    CHECK(save_alone(path, NULL) == PERF_OK && !mode_of(aside), "an empty one is no loss");
    put(path, "", 0);
    CHECK(perf_baseline_add(path, NULL) == PERF_OK && !mode_of(aside), "nor when a run is added");
    b = perf_baseline_check(path, NULL);
    CHECK(b.status == PERF_OK && b.runs == 1, "%s", perf_status_text(b.status));
    perf_baseline_free(&b);
}

/* What is no file of runs, or one of a newer version, is left as it is. */
static void foreign(void)
{
    static const char *const text[] = {"not a baseline\n", "{\"perf_results\":2,\"benchmarks\":", "{}", "\x1f\x8b",
                                       "{\"benchmarks\":[{\"samples\":[1e400]}]}", "{\"perf_results\":\"1\"}", "[1]"};
    char                     aside[600];
    size_t                   i;

    in(path, "foreign.json");
    snprintf(aside, sizeof aside, "%s.damaged", path);
    for (i = 0; i < 2 * sizeof text / sizeof *text; i++) {
        const char *wrong = text[i / 2];
        perf_status status;
        put(path, wrong, strlen(wrong));
        status = i % 2 ? perf_baseline_add(path, NULL) : save_alone(path, NULL);
        CHECK(status == PERF_EFOREIGN && holds(path, wrong, strlen(wrong)), "%lu: %s", (unsigned long)i, perf_status_text(status));
    }
    CHECK(!mode_of(aside), "moved");
}

/* In place of the system's: there are file systems that lock no folder. */
static int locks, lockless, slow;
int        flock(int fd, int how)
{
    locks++;
    if (slow && locks <= 500) {                 /* another has it; a busy machine: 20 ms a turn   */
        usleep(20000);
        errno = EWOULDBLOCK;
        return -1;
    }
    if (!lockless)
        return (int)syscall(SYS_flock, fd, how);
    errno = EBADF;                              /* as NFS                                         */
    return -1;
}

/* Processes that add at once each keep their run; one that holds the folder for ever stops nobody, nor
 * does one that cannot be locked.                                                                */
static void together(void)
{
    perf_results_opts o = PERF_ZERO;
    perf_baseline     b;
    char              id[16];
    int               i, status, failed = 0, folder;

    (void)remove(in(path, "together.json"));
    for (i = 0; i < 12; i++)
        if (fork() == 0) {
            snprintf(id, sizeof id, "run %d", i);
            o.run = id;
            _exit(perf_baseline_add(path, &o) != PERF_OK);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    b = perf_baseline_check(path, NULL);
    CHECK(b.status == PERF_OK && b.runs == 12 && !failed, "%s, %d of 12 runs, %d failed", perf_status_text(b.status),
          (int)b.runs, failed);
    perf_baseline_free(&b);
    folder = open(dir, O_RDONLY);
    CHECK(folder >= 0 && flock(folder, LOCK_EX) == 0, "hold it");
    CHECK(perf_baseline_add(path, NULL) == PERF_OK && leftovers(dir) == 0, "held for ever");
    (void)close(folder);
    locks = 0;
    lockless = 1;
    CHECK(perf_baseline_add(path, NULL) == PERF_OK && locks == 1, "asked %d times for what cannot be", locks);
    lockless = 0;
    locks = 0;
    slow = 1;
    CHECK(perf_baseline_add(path, NULL) == PERF_OK && locks <= 251, "waited %d turns of 20 ms", locks);
    slow = 0;
}

/* Merging what is no trace changes nothing. */
static void merged(void)
{
    static const struct {
        const char *text;
        size_t      n;
    } c[] = {{"", 0}, {"\n", 1}, {"\nA letter.\n", 11}, {"\n\x7fshort", 7}, {"\n\x05xxxxx", 7},
             {"\n\x05xxxxx\n\x05xxxxx", 14}, {"[", 1}, {"[\n", 2}, {"[\nhello", 7}, {"[\n]\n", 4},
             {"{\"a\":1}\n", 8}, {"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", 40},
             {"{\"displayTimeUnit\" is what I write about.\n", 42}, {"#!/bin/sh\n", 10}};
    size_t i, bad;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_trace_part part = {NULL, NULL, 0, 0};
        perf_status     status;
        part.path = in(path, "letter.txt");
        put(path, c[i].text, c[i].n);
        status = perf_trace_merge(path, &part, 1, &bad);
        CHECK(status == PERF_EFORMAT && bad == 0, "%lu: %s", (unsigned long)i,
              perf_status_text(status));
        CHECK(holds(path, c[i].text, c[i].n), "%lu: the file has changed", (unsigned long)i);
    }
}

static void devices(void)
{
    char text[8192], link[64];
    long n;
    int  end[2], fd;

    CHECK(perf_results_save("/dev/null", NULL) == PERF_OK, "null");
    CHECK(save_alone("/dev/null", NULL) == PERF_OK, "null");
    if (!access("/dev/full", W_OK))
        CHECK(perf_results_save("/dev/full", NULL) == PERF_EIO, "full");
    CHECK(perf_results_save(dir, NULL) == PERF_EIO, "a folder");
    CHECK(perf_results_save(in(path, "no/such"), NULL) == PERF_EIO, "no folder");
    if (access("/proc/self/fd", R_OK) || pipe(end))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", end[1]);
    CHECK(perf_export_save(link, PERF_EXPORT_GOOGLE, NULL) == PERF_OK, "a pipe");
    n = (long)read(end[0], text, sizeof text);
    CHECK(n > 5 && !memcmp(text, "{\"con", 5), "%ld bytes through a pipe", n);
    (void)remove(in(path, "redirected"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    snprintf(link, sizeof link, "/dev/fd/%d", fd);
    CHECK(perf_export_save(link, PERF_EXPORT_GOOGLE, NULL) == PERF_OK, "/dev/fd");
    n = (long)read(fd, text, sizeof text);
    CHECK(n > 5 && !memcmp(text, "{\"con", 5), "%ld bytes through /dev/fd", n);
    (void)close(fd);
}

static void waits(int signal)
{
    static const char text[] = "FAILED: waits for ever\n";
    ssize_t           n = write(1, text, sizeof text - 1);

    (void)signal;
    _exit(n > 0 ? 1 : 2);
}

/* What is no file, or will not end, is neither waited for nor read. */
static void odd(void)
{
    static const struct {
        const char *name;
        perf_status read;
    } c[] = {{"fifo", PERF_EIO}, {"folder", PERF_EIO}, {"socket", PERF_EIO}, {"loop", PERF_ENODATA},
             {"held", PERF_EIO}, {"/dev/zero", PERF_EIO}};
    perf_trace_part    part = {NULL, NULL, 0, 0};
    struct sockaddr_un at = {AF_UNIX, ""};
    char               result[500], text[70000];
    size_t             i, bad;
    int                held, end, k, sock = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)signal(SIGALRM, waits);
    (void)alarm(60);
    (void)mkfifo(in(path, "fifo"), 0600);
    (void)mkfifo(in(path, "held"), 0600);       /* one that a writer has, who says nothing        */
    held = open(path, O_RDWR);
    (void)mkdir(in(path, "folder"), 0700);
    (void)symlink(in(path, "loop"), path);
    if (strlen(in(path, "socket")) < sizeof at.sun_path) {
        memcpy(at.sun_path, path, strlen(path) + 1);
        CHECK(bind(sock, (struct sockaddr *)&at, sizeof at) == 0, "a socket");
    } else {
        put(path, "", 0);                       /* no room for its name: not the matter here      */
        (void)remove(path);
        (void)mkfifo(path, 0600);
    }
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_baseline b;
        FILE         *f = tmpfile();
        size_t        n = 0;
        part.path = c[i].name[0] == '/' ? c[i].name : in(path, c[i].name);
        if (c[i].read == PERF_EIO && access(part.path, F_OK))
            continue;                           /* a system without /dev/zero                     */
        b = perf_baseline_check(part.path, NULL);
        CHECK(b.status == c[i].read, "%s: %s", c[i].name, perf_status_text(b.status));
        if (f && perf_baseline_to(f, &b) == PERF_OK) {
            rewind(f);
            n = fread(text, 1, sizeof text - 1, f);
        }
        text[n] = '\0';
        CHECK(strstr(text, c[i].read == PERF_EIO ? "input/output error" : "no such file"), "%s", text);
        if (f)
            (void)fclose(f);
        perf_baseline_free(&b);
        bad = 9;
        CHECK(perf_trace_merge(in(result, "merged"), &part, 1, &bad) == PERF_EIO && bad == 0 &&
              !mode_of(result), "%s is no trace", c[i].name);
    }
    stat_lies = 1;                              /* a pipe that has just taken a file's place      */
    for (i = 0; i < 2; i++) {
        perf_baseline b;
        part.path = in(path, i ? "held" : "fifo");
        b = perf_baseline_check(path, NULL);
        CHECK(b.status != PERF_OK, "a pipe");
        perf_baseline_free(&b);
        CHECK(perf_trace_merge(in(result, "merged"), &part, 1, &bad) != PERF_OK, "a pipe");
    }
    stat_lies = 0;

    for (k = 0; k < WAYS; k++)                  /* written: a pipe that nobody reads is an error  */
        CHECK(way(k, in(path, "fifo")) == PERF_EIO && way(k, in(path, "socket")) == PERF_EIO &&
              way(k, in(path, "folder")) == PERF_EIO, "way %d", k);
    CHECK(perf_baseline_add(in(path, "fifo"), NULL) == PERF_EIO, "nobody reads");
    end = open(in(path, "fifo"), O_RDONLY | O_NONBLOCK);
    CHECK(perf_baseline_add(path, NULL) == PERF_OK && read(end, text, 30) == 30, "somebody does");
    (void)close(end);
    for (i = 0; i < 1024; i++) {
        PERF_SCOPE("enough to fill a pipe, which holds 65,536 bytes");
    }
    if (fork() == 0) {                          /* a slow reader gets all                         */
        ssize_t n, all = 0;
        end = open(in(path, "fifo"), O_RDONLY);
        (void)usleep(200000);
        while ((n = read(end, text, sizeof text)) > 0)
            all += n;
        check_exit(all > 65536 ? 0 : 2);
    }
    while ((end = open(in(path, "fifo"), O_WRONLY | O_NONBLOCK)) < 0)
        (void)usleep(1000);                     /* until it is there                              */
    CHECK(perf_trace_save(path) == PERF_OK, "a slow reader");
    (void)close(end);
    CHECK(wait(&k) > 0 && WIFEXITED(k) && WEXITSTATUS(k) == 0, "it got all: %d", k);
    CHECK(way(0, in(path, "loop")) == PERF_OK && mode_of(path) == 0644, "a loop of links is replaced");
    (void)close(held);
    (void)close(sock);
    (void)alarm(0);
}

int main(int argc, char **argv)
{
    int i;

    if (argc > 1 && !strcmp(argv[1], "machine")) {      /* for secure.sh: what PERF_MACHINE does   */
        char text[65536];
        FILE *f = tmpfile();
        size_t n = 0;
        if (f && results_to(f, NULL) == PERF_OK) {
            rewind(f);
            n = fread(text, 1, sizeof text - 1, f);
        }
        text[n] = '\0';
        return strstr(text, "\"machine\":\"of the environment\"") ? 10 : 11;
    }
    if (argc > 1 && !strcmp(argv[1], "uid"))
        return printf("%ld\n", (long)geteuid()) < 0;
    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : ".");
    (void)umask(022);
    for (i = 0; i < 100; i++) {
        PERF_SCOPE("work");
    }
    CHECK(perf_trace_save_perfetto(in(path, "part.pftrace")) == PERF_OK, "a part to merge");
    links_and_modes();
    full_disk(dir);
    if (!access("/dev/shm", W_OK))
        full_disk("/dev/shm");
    durable();
    damaged();
    foreign();
    together();
    merged();
    devices();
    odd();
    return check_done();
}
