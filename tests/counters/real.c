/* Counters of this machine, whatever it has: those of the system are real everywhere.  Threads, forks
 * and many turns leave no file open. */
#define _GNU_SOURCE
#include "check.h"
#include "perf_counters.h"
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64, PAGES = 100 };

static int descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void touch_pages(void)
{
    char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int   i;

    (void)madvise(p, PAGES * 4096, 15);             /* no huge pages */
    for (i = 0; i < PAGES; i++)
        ((volatile char *)p)[i * 4096] = 1;
    (void)munmap(p, PAGES * 4096);
}

static void faults_and_switches(void)
{
    perf_counters c = perf_counters_open(NULL);
    int           i;

    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    touch_pages();
    for (i = 0; i < 5; i++)
        (void)usleep(100);
    CHECK(perf_counters_stop(&c) == PERF_OK, "stop");
    CHECK(c.value[PERF_COUNTER_PAGE_FAULTS] >= PAGES && c.value[PERF_COUNTER_PAGE_FAULTS] < PAGES + 20,
          "%.0f page faults", c.value[PERF_COUNTER_PAGE_FAULTS]);
    CHECK(c.value[PERF_COUNTER_SWITCHES] >= 5, "%.0f switches", c.value[PERF_COUNTER_SWITCHES]);
    CHECK(c.value[PERF_COUNTER_TASK_CLOCK] > 0, "no processor time");
    for (i = 0; i < PERF_COUNTER_COUNT; i++) {      /* there, or NaN with a sentence */
        const int here = c.value[i] >= 0.0;
        const int said = perf_counters_why(&c, (perf_counter)i) != NULL;
        CHECK(here == !said, "counter %d: %g", i, c.value[i]);
        CHECK((c.share[i] > 0.0) == here, "share of counter %d", i);
    }
    printf("this machine: %s\n", perf_counters_text(&c));
    perf_counters_start(&c);
    perf_counters_stop(&c);
    CHECK(c.value[PERF_COUNTER_PAGE_FAULTS] < 5, "counted anew: %g", c.value[PERF_COUNTER_PAGE_FAULTS]);
    perf_counters_close(&c);
}

static void *of_threads(void *unused)
{
    int i;

    for (i = 0; i < 20; i++) {
        perf_counters c = perf_counters_open(NULL);
        if (perf_counters_start(&c) != PERF_OK || perf_counters_stop(&c) != PERF_OK)
            return unused;                          /* not NULL: it failed */
        perf_counters_close(&c);
    }
    return NULL;
}

static void crowd(void)
{
    pthread_t thread[THREADS];
    const int before = descriptors();
    void     *bad;
    int       i, failed = 0;

    for (i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, of_threads, thread))
            abort();
    for (i = 0; i < THREADS; i++) {
        (void)pthread_join(thread[i], &bad);
        failed += bad != NULL;
    }
    CHECK(!failed, "%d threads could not count", failed);
    CHECK(descriptors() == before, "%d files left", descriptors() - before);
}

static void after_fork(void)
{
    perf_counters c = perf_counters_open(NULL);
    pid_t         child;
    int           status = 1;

    perf_counters_start(&c);
    child = fork();
    if (!child) {
        perf_counters own;
        if (perf_counters_stop(&c) != PERF_ESTATE)
            check_exit(2);
        own = perf_counters_open(NULL);
        check_exit(perf_counters_start(&own) != PERF_OK);
    }
    (void)waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "child: %d", status);
    CHECK(perf_counters_stop(&c) == PERF_OK, "the parent goes on");
    perf_counters_close(&c);
}

static void *stops(void *c)
{
    (void)perf_counters_stop((perf_counters *)c);
    return NULL;
}

/* What the system tells is of the thread that asks: another one's is no difference. */
static void another_thread_stops(void)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c;
    pthread_t          t;
    int                i, all;

    opts.which = 1u << PERF_COUNTER_PAGE_FAULTS | 1u << PERF_COUNTER_SWITCHES | 1u << PERF_COUNTER_TASK_CLOCK;
    for (all = 0; all < 2; all++) {
        opts.threads = all;
        c = perf_counters_open(&opts);
        CHECK(perf_counters_start(&c) == PERF_OK, "start");
        CHECK(!pthread_create(&t, NULL, stops, &c) && !pthread_join(t, NULL), "a thread");
        for (i = PERF_COUNTER_PAGE_FAULTS; i < PERF_COUNTER_COUNT; i++)
            if (opts.which & (1u << i))
                CHECK((c.value[i] >= 0.0 && c.value[i] < 1e9) == all, "counter %d: %g", i, c.value[i]);
        CHECK(all || strstr(perf_counters_text(&c), "another thread stopped it"), "%s", c.text);
        CHECK(perf_counters_start(&c) == PERF_OK && c.status == PERF_OK, "it counts again: %d", (int)c.status);
        CHECK(perf_counters_stop(&c) == PERF_OK, "and this thread stops it");
        perf_counters_close(&c);
    }
}

/* A loop whose counters are closed in the middle goes on without them. */
static void closed_early(void)
{
    perf_counters c = perf_counters_open(NULL);
    perf_bench    b = perf_bench_begin("closed early", NULL);
    int           passes = 0;

    CHECK(perf_counters_loop(&c, &b) == PERF_OK, "the loop counts");
    while (perf_bench_next(&b))
        if (++passes == 1)
            perf_counters_close(&c);
    CHECK(perf_bench_end(&b).status == PERF_OK, "the loop's own result");
}

/* A command, from its exec on, with its children. */
static void of_command(void)
{
    perf_counters_opts opts = {0, 1, 0, 0, 0};
    perf_counters      c;
    int                gate[2], status;
    pid_t              child;
    char               byte;

    if (pipe(gate))
        abort();
    child = fork();
    if (!child) {
        if (read(gate[0], &byte, 1) == 1)
            (void)execlp("sh", "sh", "-c", "(true); (true); (true)", (char *)NULL);
        check_exit(3);
    }
    opts.process = child;
    c = perf_counters_open(&opts);
    if (write(gate[1], "x", 1) != 1)
        abort();
    (void)waitpid(child, &status, 0);
    (void)perf_counters_stop(&c);
    if (!perf_counters_why(&c, PERF_COUNTER_PAGE_FAULTS))
        CHECK(c.value[PERF_COUNTER_PAGE_FAULTS] > 50, "%s", perf_counters_text(&c));
    printf("a command: %s\n", perf_counters_text(&c));
    perf_counters_close(&c);
    (void)close(gate[0]);
    (void)close(gate[1]);
}

/* What this process starts later is counted from its exec on, and nothing of this process. */
static void of_started_later(void)
{
    static char        sh[] = "sh", option[] = "-c", script[] = "(true); (true); (true)";
    char              *word[] = {sh, option, script, NULL};
    perf_counters_opts opts = {0, 0, 0, 0, 0};
    perf_counters      c;
    pid_t              child;
    int                status;

    opts.process = (int)getpid();
    c = perf_counters_open(&opts);
    touch_pages();
    if (posix_spawnp(&child, "sh", NULL, NULL, word, environ))
        abort();
    touch_pages();
    (void)waitpid(child, &status, 0);
    touch_pages();
    (void)perf_counters_stop(&c);
    if (!perf_counters_why(&c, PERF_COUNTER_PAGE_FAULTS))
        CHECK(c.value[PERF_COUNTER_PAGE_FAULTS] > 50, "%s", perf_counters_text(&c));
    printf("started later: %s\n", perf_counters_text(&c));
    perf_counters_close(&c);
    opts.process = (int)getpid();
    c = perf_counters_open(&opts);
    touch_pages();
    touch_pages();
    (void)perf_counters_stop(&c);
    CHECK(!(c.value[PERF_COUNTER_PAGE_FAULTS] > 0.0), "own faults: %s", perf_counters_text(&c));
    perf_counters_close(&c);
}

int main(void)
{
    const int before = descriptors();

    faults_and_switches();
    crowd();
    after_fork();
    another_thread_stops();
    closed_early();
    of_command();
    of_started_later();
    CHECK(descriptors() == before, "%d files left", descriptors() - before);
    return check_done();
}
