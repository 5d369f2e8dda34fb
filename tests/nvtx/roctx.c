/* Stands in for AMD's libroctx64.so: writes its calls to $NVTX_LOG in the format of inject.c. */
#define _GNU_SOURCE 1                           /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

API int      roctxRangePushA(const char *name);
API int      roctxRangePop(void);
API void     roctxMarkA(const char *name);
API uint64_t roctxRangeStartA(const char *name);
API void     roctxRangeStop(uint64_t id);
API int      roctxNameHipStream(const char *name, const void *stream);
API int      roctxProfilerPause(uint64_t thread);
API int      roctxProfilerResume(uint64_t thread);

API int roctx_profiling;                        /* 1 resumed, -1 paused; 0: nobody said anything */

static FILE           *out;
static uint64_t        starts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *call, const char *text, uint64_t id)
{
    pthread_mutex_lock(&lock);
    if (!out)
        out = fopen(getenv("NVTX_LOG") ? getenv("NVTX_LOG") : "/dev/null", "w");
    if (out)
        fprintf(out, "%ld\t%s\t-\ta:%s\t0\t00000000\t-\t%llu\n", (long)syscall(SYS_gettid), call, text,
                (unsigned long long)id);
    pthread_mutex_unlock(&lock);
}

static void work(void)
{
    void (*in_the_tool)(void);

    *(void **)&in_the_tool = dlsym(RTLD_DEFAULT, "in_the_tool");
    if (in_the_tool)
        in_the_tool();
}

/* A tool may be instrumented itself, and at work while it is loaded. */
__attribute__((constructor)) static void begin(void)
{
    work();
}

int roctxRangePushA(const char *name)
{
    say("push", name, 0);
    work();
    return 0;
}

int roctxNameHipStream(const char *name, const void *stream)
{
    (void)stream;
    say("stream", name, 0);
    return 0;
}

int roctxRangePop(void)
{
    say("pop", "", 0);
    work();
    return 0;
}

void roctxMarkA(const char *name)
{
    say("mark", name, 0);
    work();
}

uint64_t roctxRangeStartA(const char *name)
{
    uint64_t id = __atomic_fetch_add(&starts, 1, __ATOMIC_RELAXED);

    say("start", name, id);
    work();
    return id;
}

void roctxRangeStop(uint64_t id)
{
    say("end", "", id);
    work();
}

int roctxProfilerPause(uint64_t thread)
{
    roctx_profiling = -1;
    return thread != 0;
}

int roctxProfilerResume(uint64_t thread)
{
    roctx_profiling = 1;
    return thread != 0;
}

__attribute__((destructor)) static void finish(void)
{
    if (out)
        fclose(out);
}
