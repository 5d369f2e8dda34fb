/* Device scopes in a file that only marks: perf_gpu_scope.h and nothing else of ours.  The program
 * around it, in marks_main.c, has the simulated device and reads. */
#include "perf_gpu_scope.h"

void nested(void *stream, int (*work)(void *stream, uint64_t ns));
void waits(void (*sleep)(uint64_t ns));

void nested(void *stream, int (*work)(void *stream, uint64_t ns))
{
    PERF_GPU_SCOPE("outer", stream);
    (void)work(stream, 10000);
    {
        PERF_GPU_COPY_IN("inner", stream);
        (void)work(stream, 20000);
    }
}

void waits(void (*sleep)(uint64_t ns))
{
    PERF_GPU_WAIT("wait");
    sleep(1000);
}
