/* A program whose scopes are ranges of a profiler (PERF_ROCTX 1 or PERF_NVTX 1), and that counts them:
 * by PERF_COUNTERS=1, or with a word by a call.  The counters are stood in for by the kernel's own.  */
#define _GNU_SOURCE
#define PERF_AT_EXIT 1
#include "perf.h"
#include "perf_counters.h"
#include "syscalls.h"
#include <errno.h>
#include <string.h>

static int opens(struct perf_event_attr *attr, int process, int group)
{
    (void)process, (void)group;
    if (attr->type != PERF_TYPE_HARDWARE || attr->config > 1 || attr->read_format != 11) {
        errno = ENOENT;
        return -1;
    }
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = PERF_COUNT_SW_TASK_CLOCK;
    return THE_KERNELS;
}

static void work(void)
{
    int i;

    for (i = 0; i < 10; i++) {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("inner");
            perf_clobber();
        }
    }
}

int main(int argc, char **argv)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c;
    perf_status        status;
    perf_bench         b;

    (void)argv;
    if (argc > 1) {
        opts.scopes = 1;
        c = perf_counters_open(&opts);
        status = perf_counters_start(&c);
        printf("start: %d\n", (int)status);
        work();
        (void)perf_counters_stop(&c);
        b = perf_bench_begin("loop", NULL);
        printf("loop: %d\n", (int)perf_counters_loop(&c, &b));
        (void)perf_bench_end(&b);
        perf_counters_close(&c);
    }
    work();
    perf_report_to(stdout, NULL);
    return 0;
}
