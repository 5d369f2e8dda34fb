/* A program to be looked at.  target KIND [N]: it does what KIND says, prints its own report as CSV
 * between the lines "begin" and "end", and waits for a line on standard input.                   */
#define PERF_AT_EXIT 1
#include "perf.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

static void spin(int n)
{
    int i;

    for (i = 0; i < n; i++)
        sink += i;
}

static void leaf(int i)
{
    PERF_SCOPE("leaf");
    spin(i % 50);
}

static void again(int depth)
{
    PERF_SCOPE("again");
    leaf(depth);
    if (depth > 0)
        again(depth - 1);
}

static void work(int n)
{
    perf_lap   lap;
    perf_async span;
    int        i;

    for (i = 0; i < n; i++) {
        PERF_SCOPE("work");
        lap = perf_lap_begin();
        leaf(i);
        PERF_LAP(&lap, "first phase");
        again(i % 4);
        PERF_LAP(&lap, "second phase");
        PERF_COUNT("queue", i % 7);
        if (i % 10 == 0) {
            PERF_WAIT("read");
            spin(20);
        }
        if (i % 16 == 0) {
            span = perf_async_begin("request", 0);
            perf_async_end(&span);
            PERF_INSTANT("flush");
            PERF_SCOPE_VALUE("rows", i);
            PERF_SCOPE_TEXT("file", "a/b.c");
        }
    }
}

static void wait_for_line(void)
{
    char line[8];

    while (!fgets(line, sizeof line, stdin) && !feof(stdin)) {
    }
}

static void tell(void)
{
    perf_report_opts o = PERF_ZERO;

    o.view = PERF_VIEW_CSV;
    (void)usleep(60000);                        /* until the clock's rate is known well           */
    puts("begin");
    (void)perf_report_to(stdout, &o);
    puts("end");
    (void)fflush(stdout);
}

static pthread_barrier_t all;
static pthread_mutex_t   held = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *n)
{
    char name[32];

    (void)snprintf(name, sizeof name, "worker %d", *(int *)n);
    perf_thread_name(name);
    work(200);
    {
        PERF_SCOPE("stuck");
        {
            PERF_SCOPE("in here");
            pthread_barrier_wait(&all);
            pthread_mutex_lock(&held);
            pthread_mutex_unlock(&held);
        }
    }
    return NULL;
}

static void threads(int n)
{
    pthread_t *t = (pthread_t *)calloc((size_t)n, sizeof *t);
    int       *number = (int *)calloc((size_t)n, sizeof *number), i;

    pthread_mutex_lock(&held);
    pthread_barrier_init(&all, NULL, (unsigned)n + 1);
    for (i = 0; i < n; i++) {
        number[i] = i;
        pthread_create(&t[i], NULL, thread, &number[i]);
    }
    pthread_barrier_wait(&all);
    tell();
    wait_for_line();
    pthread_mutex_unlock(&held);
    for (i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static void names(int n)
{
    char       name[64];
    perf_scope s;
    int        i;

    for (i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "name %d", i);
        s = perf_scope_begin(name);
        perf_scope_end(&s);
    }
    tell();
    wait_for_line();
}

static void hostile(void)
{
    perf_scope s = perf_scope_begin("\033[2J\033]0;title\007 red\x9b"
                                    "31m \xe2\x80\xae <b>&\"',;\n=1+1");

    perf_scope_end(&s);
    perf_thread_name("\033[31mthread");
    tell();
    wait_for_line();
}

static void fibers(void)
{
    perf_fiber one = PERF_ZERO, two = PERF_ZERO;
    perf_scope a, b;

    a = perf_scope_begin("outer of one");
    perf_fiber_switch(&one, &two);
    b = perf_scope_begin("of two");
    perf_scope_end(&b);
    work(10);
    tell();
    wait_for_line();
    perf_fiber_switch(&two, &one);
    perf_scope_end(&a);
}

static void forked(void)
{
    work(50);
    if (!fork()) {
        work(7);
        tell();
        wait_for_line();
        _exit(0);
    }
    (void)pause();
}

static void crash(int how)
{
    PERF_SCOPE("run");
    work(100);
    {
        PERF_SCOPE("decode");
        if (how == 1)
            abort();
        raise(SIGSEGV);
    }
}

/* Two benches, one of them still running, and an A/B loop; what they found is printed. */
static void loops(void)
{
    perf_bench_opts o = PERF_ZERO;
    perf_ab_opts    ask = PERF_ZERO;
    perf_bench      b;
    perf_ab         ab;
    perf_result     r;
    perf_ab_result  a;
    int             arm, cpu;

    o.samples = 21;
    b = perf_bench_begin("spin \033[2J", &o);
    while (perf_bench_next(&b))
        spin(100);
    r = perf_bench_end(&b);
    ask.max_seconds = 0.2;
    ab = perf_ab_begin("spin less", &ask);
    while ((arm = perf_ab_next(&ab)) >= 0)
        spin(arm ? 100 : 200);
    a = perf_ab_end(&ab);
    b = perf_bench_begin("still", &o);
    (void)perf_bench_next(&b);
    cpu = r.decides == PERF_DECIDES_CPU;
    puts("begin");
    printf("%.17g %.17g ", (double)r.time.count, cpu ? r.cpu.p50 : r.time.p50);
    cpu = a.decides == PERF_DECIDES_CPU;
    printf("%.17g %.17g\n", cpu ? a.baseline_cpu.p50 : a.baseline.p50,
           cpu ? a.candidate_cpu.p50 : a.candidate.p50);
    puts("end");
    (void)fflush(stdout);
    wait_for_line();
    while (perf_bench_next(&b))
        spin(1);
    r = perf_bench_end(&b);
}

/* Works until it is told to stop. */
static void busy(void)
{
    work(100);                                  /* who looks at once finds something               */
    puts("begin");
    puts("end");
    (void)fflush(stdout);
    for (;;)
        work(100);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "work";
    int         n = argc > 2 ? atoi(argv[2]) : 300;

    if (!strcmp(kind, "work")) {
        PERF_SCOPE("main");
        work(n);
        tell();
        wait_for_line();
    } else if (!strcmp(kind, "threads")) {
        threads(n);
    } else if (!strcmp(kind, "names")) {
        names(n);
    } else if (!strcmp(kind, "hostile")) {
        hostile();
    } else if (!strcmp(kind, "fibers")) {
        fibers();
    } else if (!strcmp(kind, "fork")) {
        forked();
    } else if (!strcmp(kind, "crash")) {
        crash(n);
    } else if (!strcmp(kind, "loops")) {
        loops();
    } else if (!strcmp(kind, "busy")) {
        busy();
    } else if (!strcmp(kind, "reset")) {
        work(n);
        perf_reset();
        work(5);
        tell();
        wait_for_line();
    } else if (!strcmp(kind, "off")) {
        work(n);
        perf_enable(0);
        work(n);
        tell();
        wait_for_line();
    } else if (!strcmp(kind, "exec")) {
        work(n);
        tell();
        wait_for_line();
        (void)execl(argv[0], argv[0], "work", "7", (char *)NULL);
    } else if (!strcmp(kind, "nothing")) {
        puts("begin");
        puts("end");
        (void)fflush(stdout);
        wait_for_line();
    }
    return 0;
}
