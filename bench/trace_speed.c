/* How fast a trace of a million scopes is written.
 *
 *     cc -O2 -DPERF_TRACE_EVENTS=1048576 -I. bench/trace_speed.c -o trace_speed && ./trace_speed FILE */
#include "perf.h"
#include <stdio.h>

static int depth_of(unsigned i)
{
    return (int)(i * 2654435761u >> 30);
}

static void branch(int depth, unsigned i)
{
    static const char *const name[] = {"load_batch", "decode_jpeg", "resize", "attention_qkv"};
    perf_scope               s = perf_scope_begin(name[depth & 3]);

    if (depth)
        branch(depth - 1, i);
    perf_scope_end(&s);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "/dev/null";
    double      best = 1e18;
    unsigned    i, n = 0;
    int         round;

    for (i = 0; n < 1048576; i++) {
        int depth = depth_of(i);
        branch(depth, i);
        n += (unsigned)depth + 1;
    }
    for (round = 0; round < 7; round++) {
        uint64_t t = perf_now();
        if (perf_trace_save(path) != PERF_OK)
            return 1;
        t = perf_now() - t;
        if ((double)t < best)
            best = (double)t;
    }
    printf("%u scopes: %.1f ms, %.1f million a second\n", 1048576u, best * 1e-6, 1048576 / best * 1e3);
    return 0;
}
