/* Scopes that count.  Behind perf_event_open stands this program: it hands on to the kernel, which
 * counts ns and page faults of each thread (no machine lacks those), or it plants what is read, by
 * read() and from the kernel's page.  Called with a word, it is a program under PERF_COUNTERS=1. */
#define _GNU_SOURCE
#include <stdint.h>
uint64_t planted_pmc(uint32_t index);           /* PERF_PMC_ */
#include "perf.h"
#include "perf_counters.h"
#include "check.h"
#include "syscalls.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_NEAR(value, wanted)                                                                 \
    do {                                                                                          \
        const double is = (value);                                                                \
        CHECK(is > (wanted) - 0.001 && is < (wanted) + 0.001, "%g, not %g: %s", is, wanted, report);    \
    } while (0)

enum { MOST = 1024, THREADS = 64 };
static int      refuse, refuse_cycles, planted, with_branches;
static int      is_ours[MOST];                  /* planted descriptors */
static uint64_t value[2], enabled, running, reads, pmcs;
static struct perf_event_mmap_page *page[3];      /* instructions, cycles, branch misses */
static char     report[100000];

/* A page as the kernel's, in memory that both map. */
static int plants(int which)
{
    int fd = memfd_create("page", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, 4096))
        return -1;
    page[which] = (struct perf_event_mmap_page *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    is_ours[fd] = 1;
    return fd;
}

static int opens(struct perf_event_attr *attr, int process, int group)
{
    const int cycles = attr->config == PERF_COUNT_HW_CPU_CYCLES;

    (void)group;
    if (attr->read_format == 11 && attr->config == PERF_COUNT_HW_BRANCH_MISSES && with_branches)
        return plants(2);
    if (attr->type != PERF_TYPE_HARDWARE || attr->read_format != 11 || attr->config >= 2) {
        errno = ENOENT;
        return -1;
    }
    if (!attr->exclude_kernel || !attr->exclude_hv || attr->inherit || process)
        abort();                                /* not of this thread's own code alone */
    if (refuse || (refuse_cycles && cycles)) {
        errno = refuse ? refuse : refuse_cycles;
        return -1;
    }
    if (planted)
        return plants(cycles);
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = cycles ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_TASK_CLOCK;
    return THE_KERNELS;
}

ssize_t read(int fd, void *to, size_t n)
{
    uint64_t got[5] = {2, 0, 0, 0, 0};

    if (fd < 0 || fd >= MOST || !is_ours[fd])
        return syscall(SYS_read, fd, to, n);
    reads++;
    got[1] = enabled;
    got[2] = running;
    got[3] = value[0];
    got[4] = value[1];
    memcpy(to, got, sizeof got);
    return sizeof got;
}

int ioctl(int fd, unsigned long order, ...)
{
    va_list a;
    long    x;

    va_start(a, order);
    x = va_arg(a, long);
    va_end(a);
    return fd >= 0 && fd < MOST && is_ours[fd] ? 0 : (int)syscall(SYS_ioctl, fd, order, x);
}

/* The counter of a page; the thread is taken off once while it is read. */
uint64_t planted_pmc(uint32_t index)
{
    if (pmcs++ == 0) {
        page[index]->lock++;
        page[index]->offset += 1000;
        return 5;
    }
    return index ? 7 : 0xfffffffffffdull;       /* 48 bits: -3 */
}

static int descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < MOST; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static const char *json(void)
{
    perf_report_opts opts = PERF_ZERO;

    opts.view = PERF_VIEW_JSON;
    (void)perf_report_text(report, sizeof report, &opts);
    return report;
}

/* A figure of a path of JSON's "counters"; -1: none. */
static double figure(const char *path, const char *key)
{
    const char *at = strstr(json(), "\"counters\":[");

    at = at ? strstr(at, path) : NULL;
    at = at ? strstr(at, key) : NULL;
    return at ? strtod(at + strlen(key), NULL) : -1.0;
}

static perf_counters begin(void)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c;

    opts.scopes = 1;
    c = perf_counters_open(&opts);
    perf_reset();
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    return c;
}

static void end(perf_counters *c)
{
    CHECK(perf_counters_stop(c) == PERF_OK, "stop");
    perf_counters_close(c);
}

static void touch(size_t pages)
{
    char  *p = (char *)mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t i;

    (void)madvise(p, pages * 4096, MADV_NOHUGEPAGE);
    for (i = 0; i < pages; i++)
        *(volatile char *)(p + 4096 * i) = 1;
    (void)munmap(p, pages * 4096);
}

static void recurse(int depth)
{
    PERF_SCOPE("recurse");
    if (depth)
        recurse(depth - 1);
}

static void *some(void *barrier)
{
    int i;

    for (i = 0; i < 20; i++) {
        PERF_SCOPE("step");
        {
            PERF_SCOPE("faults");
            touch(10);
        }
        recurse(3);
        if (!i && barrier) {
            (void)pthread_barrier_wait((pthread_barrier_t *)barrier);
            (void)pthread_barrier_wait((pthread_barrier_t *)barrier);
        }
    }
    return NULL;
}

/* 64 threads at once: all counted, and no descriptor is left when they have ended. */
static void threads(void)
{
    static pthread_t  thread[THREADS];
    pthread_barrier_t barrier;
    const int         before = descriptors();
    perf_counters     c = begin();
    const int         own = descriptors() - before;
    int               i;

    (void)pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, some, &barrier), "thread %d", i);
    (void)pthread_barrier_wait(&barrier);
    CHECK(descriptors() >= before + 2 * THREADS, "each has two: %d", descriptors() - before);
    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < THREADS; i++)
        (void)pthread_join(thread[i], NULL);
    CHECK(descriptors() == before + own, "%d are left", descriptors() - before - own);
    CHECK_NEAR(figure("[\"step\"]", "\"calls\":"), 20.0 * THREADS);
    CHECK_NEAR(figure("[\"step\",\"recurse\"]", "\"calls\":"), 20.0 * THREADS);
    CHECK(figure("[\"step\",\"faults\"]", "\"cycles\":") >= 10.0, "page faults: %s", report);
    CHECK(figure("[\"step\",\"faults\"]", "\"cycles\":") < 300.0, "page faults: %s", report);
    CHECK(figure("[\"step\"]", "\"instructions\":") > figure("[\"step\",\"faults\"]", "\"instructions\":"), "%s", report);
    end(&c);
    (void)some(NULL);
    CHECK_NEAR(figure("[\"step\"]", "\"calls\":"), 20.0 * THREADS);
    CHECK(descriptors() == before, "%d are left", descriptors() - before);
    perf_reset();
    CHECK(figure("[\"step\"]", "\"calls\":") < 0.0, "forgotten: %s", report);
}

/* A child closes its parent's, opens its own, and tells what it has counted itself. */
static void forked(void)
{
    perf_counters c = begin();
    int           before, status = -1;
    pid_t         child;

    (void)some(NULL);
    before = descriptors();
    child = fork();
    if (!child) {
        (void)some(NULL);
        (void)some(NULL);
        _exit((figure("[\"step\"]", "\"calls\":") > 39.5 && figure("[\"step\"]", "\"calls\":") < 40.5 ? 0 : 1) |
              (descriptors() > before ? 2 : 0) | (figure("faults\"]", "\"cycles\":") < 9.5 ? 4 : 0));
    }
    (void)waitpid(child, &status, 0);
    CHECK(!status, "status %#x", status);
    CHECK_NEAR(figure("[\"step\"]", "\"calls\":"), 20.0);
    end(&c);
}

/* A child that closes all its files, as a daemon does: files that it opens then stay its own. */
static void daemons(void)
{
    perf_counters c = begin();
    struct stat   file;
    int           fd, status = -1, lost = 0;
    pid_t         child;

    (void)some(NULL);
    child = fork();
    if (!child) {
        for (fd = 3; fd < MOST; fd++)
            (void)close(fd);
        for (fd = 3; fd < 64; fd++)
            (void)open("/dev/null", O_RDONLY);
        (void)some(NULL);
        for (fd = 3; fd < 64; fd++)
            lost += fstat(fd, &file) || !S_ISCHR(file.st_mode);
        _exit(lost);
    }
    (void)waitpid(child, &status, 0);
    CHECK(!status, "status %#x: files of the program were closed", status);
    end(&c);
}

/* The report and the trace of a thread of its own. */
static void shown(void)
{
    perf_report_opts opts = PERF_ZERO;
    perf_counters    c = begin();
    FILE            *file;

    (void)some(NULL);
    end(&c);
    (void)perf_report_text(report, sizeof report, NULL);
    CHECK(strstr(report, "counted, of a call"), "%s", report);
    CHECK(strstr(report, "\n  faults "), "%s", report);
    opts.view = PERF_VIEW_TREE;
    (void)perf_report_text(report, sizeof report, &opts);
    CHECK(strstr(report, "counted, of a call"), "%s", report);
    CHECK(perf_trace_save("trace.json") == PERF_OK, "trace");
    file = fopen("trace.json", "r");
    report[file ? fread(report, 1, sizeof report - 1, file) : 0] = '\0';
    if (file)
        (void)fclose(file);
    CHECK(strstr(report, "\"name\":\"faults\""), "%s", report);
    CHECK(strstr(strstr(report, "\"name\":\"faults\""), "\"cycles\":"), "%s", report);
}

static void *in_thread(void *work)
{
    (*(void (**)(void))work)();
    return NULL;
}

/* A thread of its own opens its own counters. */
static void alone(void (*work)(void))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, in_thread, &work))
        abort();
    (void)pthread_join(thread, NULL);
}

/* Read by read(): a counter that others had for half of the time, and one that never ran. */
static void scaled(void)
{
    perf_counters c = begin();

    reads = pmcs = 0;
    {
        PERF_SCOPE("first");
        value[0] += 100;
        enabled += 50;
        running += 50;
    }
    {
        PERF_SCOPE("half");
        value[0] += 100;
        value[1] += 50;
        enabled += 100;
        running += 50;
    }
    {
        PERF_SCOPE("hardly");           /* a turn too short to be scaled up                       */
        value[0] += 1;
        enabled += 100;
        running += 4;
    }
    {
        PERF_SCOPE("a little");
        value[0] += 5;
        enabled += 100;
        running += 5;
    }
    {
        PERF_SCOPE("never");
        enabled += 100;
    }
    CHECK(reads >= 6 && !pmcs, "%g reads", (double)reads);
    CHECK_NEAR(figure("[\"first\"]", "\"instructions\":"), 100.0);
    CHECK_NEAR(figure("[\"half\"]", "\"instructions\":"), 200.0);
    CHECK_NEAR(figure("[\"half\"]", "\"cycles\":"), 100.0);
    CHECK_NEAR(figure("[\"half\"]", "\"ipc\":"), 2.0);
    CHECK_NEAR(figure("[\"half\"]", "\"scaled\":"), 1.0);
    CHECK_NEAR(figure("[\"a little\"]", "\"instructions\":"), 100.0);
    CHECK(figure("[\"hardly\"]", "\"calls\":") < 0.0, "%s", report);
    CHECK(figure("[\"never\"]", "\"calls\":") < 0.0, "%s", report);
    (void)perf_report_text(report, sizeof report, NULL);
    CHECK(strstr(report, "note: 2 calls had counters for a part of their time"), "%s", report);
    CHECK(strstr(report, "note: 2 calls had counters for under 5 % of"), "%s", report);
    end(&c);
}

/* A first scope opens the counters; then their pages let the program read them.  away: ns without them so far. */
static void pages(uint64_t capabilities, uint64_t away)
{
    int i;

    {
        PERF_SCOPE("opens");
    }
    for (i = 0; i < 2; i++) {
        page[i]->index = (uint32_t)(1 + i);
        page[i]->capabilities = capabilities;
        page[i]->pmc_width = 48;
        page[i]->offset = 0;
        page[i]->time_enabled = enabled;
        page[i]->time_running = running - away;
    }
}

static void read_by_program(void)
{
    perf_counters c = begin();
    uint64_t      before;

    pages(4, 0);
    page[0]->offset = 100;
    page[1]->offset = 200;
    before = reads;
    pmcs = 1;
    {
        PERF_SCOPE("page");
        page[0]->offset += 5000;
        page[1]->offset += 2500;
        pmcs = 0;                       /* the thread is away while the cycles are read: again */
    }
    CHECK(reads == before && pmcs == 3, "%d reads, %d of the page", (int)(reads - before), (int)pmcs);
    CHECK_NEAR(figure("[\"page\"]", "\"instructions\":"), 5000.0);
    CHECK_NEAR(figure("[\"page\"]", "\"cycles\":"), 3500.0);
    page[0]->index = 0;                 /* not on the processor now */
    {
        PERF_SCOPE("off");
        value[0] += 70;
    }
    CHECK(reads == before + 2, "%d reads", (int)(reads - before));
    CHECK_NEAR(figure("[\"off\"]", "\"instructions\":"), 70.0);
    page[0]->index = 1;
    page[0]->time_running -= 10;        /* others had the counter since the last read() */
    {
        PERF_SCOPE("others");
    }
    CHECK(reads == before + 4, "%d reads", (int)(reads - before));
    page[0]->time_running += 10;
    {
        PERF_SCOPE("stale");            /* when did it begin?  The page says when the thread came */
        value[0] += 100;
        enabled += 100;
        running += 50;
        page[0]->index = 0;
    }
    CHECK(figure("[\"stale\"]", "\"calls\":") < 0.0, "%s", report);
    (void)perf_report_text(report, sizeof report, NULL);
    CHECK(strstr(report, "note: 1 calls had counters for under 5 % of"), "%s", report);
    end(&c);
}

/* The page tells the time, too: 1,000 ns after the thread came a scope begins. */
static void times_by_program(void)
{
    perf_counters c = begin();
    uint64_t      before;

    pages(4 | 8, 5);
    page[0]->time_offset = page[1]->time_offset = 1000;     /* and none a tick: time_mult is 0 */
    before = reads;
    pmcs = 1;
    {
        PERF_SCOPE("timed");
        page[0]->offset += 4000;
        page[1]->offset += 2000;
        page[0]->time_enabled = page[1]->time_enabled += 1000 + 60;
        page[0]->time_running = page[1]->time_running += 1000 + 20;
        page[0]->time_offset = 140;     /* 200 ns since the begin, 40 of them without */
    }
    CHECK(reads == before, "%d reads", (int)(reads - before));
    CHECK_NEAR(figure("[\"timed\"]", "\"instructions\":"), 5000.0);
    CHECK_NEAR(figure("[\"timed\"]", "\"cycles\":"), 2500.0);
    CHECK_NEAR(figure("[\"timed\"]", "\"scaled\":"), 1.0);
    end(&c);
}

/* A counter of the second group, which is evidence for the diagnosis: no read(), too. */
static void evidence_by_program(void)
{
    perf_counters c = begin();
    uint64_t      before;
    int           i;

    {
        PERF_SCOPE("opens");
    }
    for (i = 0; i < 3; i++) {
        page[i]->index = (uint32_t)(1 + i);
        page[i]->capabilities = 4;
        page[i]->pmc_width = 48;
        page[i]->time_enabled = enabled;
        page[i]->time_running = running;
    }
    before = reads;
    pmcs = 1;
    {
        PERF_SCOPE("wild");
        page[0]->offset += 1000;
        page[2]->offset += 20;
    }
    CHECK(reads == before && pmcs == 7, "%d reads, %d of the page", (int)(reads - before), (int)pmcs);
    CHECK_NEAR(figure("[\"wild\"]", "\"instructions\":"), 1000.0);
    CHECK_NEAR(figure("[\"wild\"]", "\"branch_misses\":"), 20.0);
    CHECK(!strstr(strstr(report, "[\"wild\"]"), "llc_misses"), "nobody counts them: %s", report);
    end(&c);
}

static void refused(void)
{
    perf_counters c = begin();

    {
        PERF_SCOPE("refused");
    }
    CHECK(figure("[\"refused\"]", "\"calls\":") < 0.0, "%s", report);
    CHECK(strstr(report, "\"counters_missing\":\"no instructions, cycles: this processor does not"), "%s", report);
    (void)perf_report_text(report, sizeof report, NULL);
    CHECK(strstr(report, "note: counters of scopes: no instructions, cycles: this processor"), "%s", report);
    CHECK(!strstr(report, "counted, of a call"), "%s", report);
    end(&c);
}

static void without_cycles(void)
{
    perf_counters c = begin();

    {
        PERF_SCOPE("one of two");
    }
    CHECK(figure("[\"one of two\"]", "\"instructions\":") >= 0.0, "%s", report);
    CHECK(strstr(strstr(report, "\"counters\":["), "\"cycles\":null,\"ipc\":null"), "%s", report);
    CHECK(strstr(report, "\"counters_missing\":\"no cycles: another program"), "%s", report);
    end(&c);
}

/* The environment alone. */
static void by_environment(const char *self)
{
    char  command[4200];
    FILE *pipe;

    (void)snprintf(command, sizeof command, "PERF_COUNTERS=1 '%s' . child", self);
    pipe = popen(command, "r");
    report[pipe ? fread(report, 1, sizeof report - 1, pipe) : 0] = '\0';
    CHECK(pipe && !pclose(pipe), "status");
}

int main(int argc, char **argv)
{
    static char self[4096];

    if (!realpath(argv[0], self))
        return 1;
    if (argc < 2 || chdir(argv[1]))             /* a scratch folder */
        return 1;
    if (argc > 2) {
        (void)some(NULL);
        puts(json());
        return 0;
    }
    by_environment(self);
    CHECK(strstr(report, "{\"path\":[\"step\",\"faults\"],\"calls\":20,"), "%s", report);
    CHECK(!strstr(report, "PERF_COUNTERS is set"), "%s", report);
    threads();
    forked();
    daemons();
    alone(shown);
    planted = 1;
    alone(scaled);
    alone(read_by_program);
    alone(times_by_program);
    with_branches = 1;
    alone(evidence_by_program);
    planted = 0;
    refuse_cycles = EBUSY;
    alone(without_cycles);
    refuse_cycles = 0;
    refuse = ENOENT;
    alone(refused);
    return check_done();
}
