/* A program whose scopes are ranges of a profiler (PERF_ROCTX 1 or PERF_NVTX 1), and that counts them:
 * by PERF_COUNTERS=1, or with a word by a call.  The counters are stood in for by the kernel's own.  */
#define _GNU_SOURCE
#define PERF_AT_EXIT 1
#include "perf.h"
#include "perf_counters.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
    void                   *found = dlsym(RTLD_NEXT, "syscall");
    long                  (*real)(long, ...);
    struct perf_event_attr *attr;
    va_list                 a;
    long                    x[6];
    int                     i;

    memcpy(&real, &found, sizeof real);
    va_start(a, number);
    for (i = 0; i < 6; i++)
        x[i] = va_arg(a, long);
    va_end(a);
    if (number == SYS_perf_event_open) {
        attr = (struct perf_event_attr *)x[0];
        if (attr->type != PERF_TYPE_HARDWARE || attr->config > 1 || attr->read_format != 11) {
            errno = ENOENT;
            return -1;
        }
        attr->type = PERF_TYPE_SOFTWARE;
        attr->config = PERF_COUNT_SW_TASK_CLOCK;
    }
    return real(number, x[0], x[1], x[2], x[3], x[4], x[5]);
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

    (void)argv;
    if (argc > 1) {
        opts.scopes = 1;
        c = perf_counters_open(&opts);
        status = perf_counters_start(&c);
        printf("start: %d\n", (int)status);
        work();
        (void)perf_counters_stop(&c);
        perf_counters_close(&c);
    }
    work();
    perf_report_to(stdout, NULL);
    return 0;
}
