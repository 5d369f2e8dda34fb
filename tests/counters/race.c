/* Threads come, count their scopes and go, while another starts and stops counting, forgets and
 * reports: no race (built with -fsanitize=thread), and no descriptor is left. */
#define _GNU_SOURCE
#define PERF_DIAGNOSIS 1
#include "perf.h"
#include "perf_counters.h"
#include "perf_diagnosis.h"
#include "check.h"
#include "syscalls.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

enum { MOST = 1024, THREADS = 3, ROUNDS = 16 };
static int members[MOST], stop;
static __thread uint64_t counted;

/* Groups of counters that anybody may have; each read counts on. */
static int opens(struct perf_event_attr *attr, int process, int group)
{
    int fd;

    (void)process;
    if (attr->read_format != 11) {
        errno = ENOENT;
        return -1;
    }
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (group < 0)
        __atomic_store_n(&members[fd], 1, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_add(&members[group], 1, __ATOMIC_RELAXED);
    return fd;
}

ssize_t read(int fd, void *to, size_t n)
{
    uint64_t got[8] = {0};
    int      i, many = fd >= 0 && fd < MOST ? __atomic_load_n(&members[fd], __ATOMIC_RELAXED) : 0;

    if (!many || n < sizeof got)
        return syscall(SYS_read, fd, to, n);
    got[1] = got[2] = ++counted;
    for (i = 0; i < many; i++)
        got[3 + i] = counted * 1000 / (uint64_t)(i + 1);
    memcpy(to, got, (3 + (size_t)many) * sizeof *got);
    return (ssize_t)((3 + (size_t)many) * sizeof *got);
}

int ioctl(int fd, unsigned long order, ...)
{
    (void)fd;
    (void)order;
    return 0;
}

static int descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < MOST; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void *scopes(void *rounds)
{
    int i;

    for (i = 0; i < *(const int *)rounds && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("inner");
            perf_clobber();
        }
    }
    return NULL;
}

/* Short threads, one after the other: each opens its counters, and gives them back. */
static void *comes_and_goes(void *unused)
{
    static const int few = 20;
    pthread_t        t;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        if (!pthread_create(&t, NULL, scopes, (void *)(uintptr_t)&few))
            (void)pthread_join(t, NULL);
    return unused;
}

/* Counts scopes for moments; another thread does so, too. */
static void *counts_often(void *refused)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c;
    int                i;

    opts.which = 1u << PERF_COUNTER_TASK_CLOCK;
    opts.scopes = 1;
    c = perf_counters_open(&opts);
    for (i = 0; i < 2000; i++) {
        *(int *)refused += perf_counters_start(&c) != PERF_OK;
        (void)perf_counters_stop(&c);
    }
    perf_counters_close(&c);
    return NULL;
}

static void two_count(void)
{
    int       i, refused[2] = {0, 0};
    pthread_t t[2];

    for (i = 0; i < 2; i++)
        CHECK(!pthread_create(&t[i], NULL, counts_often, &refused[i]), "thread %d", i);
    for (i = 0; i < 2; i++) {
        (void)pthread_join(t[i], NULL);
        CHECK(!refused[i], "%d of 2000 starts refused", refused[i]);
    }
}

int main(void)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE, PERF_VIEW_JSON, PERF_VIEW_DIAGNOSIS};
    static char        text[60000];
    static const int   endless = 1 << 30;
    const int          before = descriptors();
    perf_counters_opts opts = PERF_ZERO;
    perf_report_opts   report = PERF_ZERO;
    perf_counters      c;
    pthread_t          t[THREADS];
    int                i, some = 0;

    for (i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&t[i], NULL, i ? scopes : comes_and_goes, (void *)(uintptr_t)&endless), "thread %d", i);
    opts.which = 1u << PERF_COUNTER_TASK_CLOCK;
    opts.scopes = 1;
    c = perf_counters_open(&opts);
    for (i = 0; i < ROUNDS; i++) {
        if (i % 3 == 0)
            (void)perf_counters_start(&c);
        report.view = view[i % 4];
        (void)perf_report_text(text, sizeof text, &report);
        some += strstr(text, "counted") != NULL;
        if (i % 5 == 4)
            perf_reset();
        if (i % 3 == 2)
            (void)perf_counters_stop(&c);
    }
    perf_counters_close(&c);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < THREADS; i++)
        (void)pthread_join(t[i], NULL);
    CHECK(some > 0, "nothing was counted");
    two_count();
    CHECK(descriptors() == before, "%d are left", descriptors() - before);
    return check_done();
}
