/* What a program does with scopes, each case once; check.py knows what the tool must have heard. */
#include "perf_nvtx.h"
#include "scopes.h"
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS  500

static jmp_buf    back;
static perf_async request;
static perf_scope foreign;

static void *worker(void *name)
{
    int i;

    perf_thread_name((const char *)name);
    for (i = 0; i < ROUNDS; i++) {
        PERF_SCOPE("outer");
        { PERF_SCOPE("inner"); }
    }
    return NULL;
}

static void *ender(void *unused)
{
    PERF_SCOPE("ender");
    perf_async_end(&request);
    perf_scope_end(&foreign);
    return unused;
}

static void recurse(int n)
{
    PERF_SCOPE("recurse");
    if (n > 1)
        recurse(n - 1);
}

static void jumper(void)
{
    PERF_SCOPE("jumper");
    PERF_WAIT("lost");
    longjmp(back, 1);
}

int main(int argc, char **argv)
{
    pthread_t  thread[THREADS];
    char       name[THREADS][16];
    void      *module;
    in_module *work;
    perf_scope a, b;
    perf_lap   lap;
    int        i;

    perf_thread_name("main thread");
    for (i = 0; i < 3; i++) {
        PERF_SCOPE("io: read");
        { PERF_WAIT("io: disk"); }
    }
    in_cpp();
    module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (module) {
        *(void **)&work = dlsym(module, "work");
        work(2);
    }
    PERF_COUNT("queue", 2.5);
    PERF_INSTANT("flush");
    lap = perf_lap_begin();
    PERF_LAP(&lap, "phase");
    {
        PERF_SCOPE("jump");
        if (!setjmp(back))
            jumper();
    }
    a = perf_scope_begin("first");
    b = perf_scope_begin("second");
    perf_scope_end(&a);
    perf_scope_end(&b);

    {
        PERF_SCOPE("across");
        request = perf_async_begin("request", 7);
        foreign = perf_scope_begin("foreign");
        pthread_create(&thread[0], NULL, ender, NULL);
        pthread_join(thread[0], NULL);
        perf_async_end(&request);               /* a second time: counted, not heard              */
    }
    recurse(200);
    perf_enable(0);
    { PERF_SCOPE("off"); PERF_INSTANT("off"); perf_count("off", 1); }
    perf_enable(1);
    {
        PERF_SCOPE("reset");
        perf_reset();
        { PERF_SCOPE("after"); }
    }
    perf_thread_name("renamed");
    for (i = 0; i < THREADS; i++) {
        snprintf(name[i], sizeof name[i], "worker %d", i);
        pthread_create(&thread[i], NULL, worker, name[i]);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    if (module)
        dlclose(module);
    { PERF_SCOPE("late"); }
    if (getenv("SHOW"))
        perf_report();
    return 0;
}
