/* Writes one trace in every format, for viewers.py: ./writer FOLDER [kill].  Names tell the depth, so
 * that the reader can see whether each scope lies where it was.                                    */
#include "perf.h"
#include "perf_trace.h"
#include "perf_export.h"
#include <stdio.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static const char *const name[] = {"d0", "d1", "d2", "d3", "d4", "d5"};

static void nest(int depth, unsigned *dice)
{
    perf_scope s = perf_scope_begin(name[depth]);
    unsigned   i;

    *dice = *dice * 1664525u + 1013904223u;
    if (depth < 5)
        for (i = 0; i < (*dice >> 28) % 4; i++)
            nest(depth + 1, dice);
    if (depth == 3)
        perf_count("queue", (double)i);
    perf_scope_end(&s);
}

static void *work(void *rounds)
{
    unsigned dice = (unsigned)*(const int *)rounds;
    int      i;

    perf_thread_name("worker \"\xc3\xa9\"");
    {
        PERF_SCOPE("placed");
        PERF_INSTANT("placed too");
        PERF_SCOPE_VALUE("rows", 2.5);
        PERF_SCOPE_TEXT("path \"x\"", "caf\xc3\xa9 \\ a text that is longer than a few entries of the ring");
        PERF_SCOPE_TEXT("told", "why");
    }
    for (i = 0; i < *(const int *)rounds; i++) {
        perf_async a = perf_async_begin("request", (uint64_t)i);
        nest(0, &dice);
        perf_instant("tick");
        perf_async_end(&a);
    }
    return NULL;
}

static const char *in(const char *folder, const char *file)
{
    static char path[4][4096];
    static int  n;

    n = (n + 1) % 4;
    snprintf(path[n], sizeof path[n], "%s/%s", folder, file);
    return path[n];
}

#define TRY(call)                                                                                 \
    do {                                                                                          \
        perf_status status_ = (call);                                                             \
        if (status_ != PERF_OK) {                                                                 \
            printf("%s: %s\n", #call, perf_status_text(status_));                                 \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

int main(int argc, char **argv)
{
    const char     *folder = argc > 1 ? argv[1] : ".";
    pthread_t       thread[4];
    int             i, few = 40, many = 1000, kill = argc > 2;
    perf_trace_part part[3];

    perf_instant("hello \x01 \xff </script>");  /* no scope, and no name for a viewer */
    for (i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, &few))
            return 1;
    for (i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    work(&few);
    TRY(perf_trace_save(in(folder, "saved.json")));
    TRY(perf_trace_save_perfetto(in(folder, "saved.pftrace")));
    TRY(perf_export_save(in(folder, "saved.folded"), PERF_EXPORT_FOLDED, NULL));
    perf_reset();
    TRY(perf_trace_stream(in(folder, kill ? "killed.pftrace" : "streamed.pftrace")));
    for (i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, work, &many))
            return 1;
    if (!kill)
        work(&many);
    for (i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    if (kill) {
        TRY(perf_trace_stream_flush());
        work(&few);                             /* these may be lost */
        return raise(SIGKILL);
    }
    TRY(perf_trace_stream(NULL));
    printf("d0 %d\n", 5 * many);
    memset(part, 0, sizeof part);
    part[0].path = in(folder, "saved.pftrace");
    part[0].name = "rank 0";
    part[1] = part[0];
    part[1].name = "rank \"1\"";
    part[1].offset_ns = 12345;
    part[1].bound_ns = 99;
    part[2].path = in(folder, "streamed.pftrace");
    TRY(perf_trace_merge(in(folder, "merged.pftrace"), part, 3, NULL));
    return 0;
}
