/* Device scopes, copies and parts of graphs on a simulated device, heard by a profiler: PERF_NVTX or
 * PERF_ROCTX is 1.  nvtx.sh reads what the tool wrote. */
#include "../gpu/sim.h"

#include "perf.h"

int main(void)
{
    void          *stream, *other, *graph = NULL;
    perf_gpu_scope s, ended = {NULL};
    int            i;

    sim_start();
    stream = sim_stream(0);
    other = sim_stream(0);
    for (i = 0; i < 50; i++) {
        {
            PERF_GPU_SCOPE("outer", stream);
            (void)sim_work(stream, 1000);
            {
                PERF_GPU_SCOPE("inner", stream);
                (void)sim_work(stream, 1000);
            }
        }
        {
            PERF_GPU_COPY_IN("in", other);
            (void)sim_work(other, 1000);
        }
        {
            PERF_GPU_COPY_OUT("out", stream);
            (void)sim_work(stream, 1000);
        }
        if (i == 24)
            (void)perf_gpu_collect();
    }
    s = perf_gpu_scope_begin("default", NULL);
    perf_gpu_scope_end(&s);
    perf_gpu_scope_end(&s);
    perf_gpu_scope_end(&ended);
    (void)sim_capture_begin(stream, 2);
    {
        PERF_GPU_PART("part", stream);
        (void)sim_work(stream, 1000);
    }
    (void)sim_capture_end(stream, &graph);
    (void)sim_graph_destroy(graph);
    (void)perf_gpu_collect_sync();
    i = perf_gpu_stats_of("outer").scopes == 50 && perf_gpu_stats_of("in").scopes == 50;
    printf("%d passed, %d failed\n", i, !i);
    return !i;
}
