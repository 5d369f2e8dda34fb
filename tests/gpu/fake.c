/* A plain C program on a fake driver, found at run time as the real one is: ./fake MODE, see fake.sh. */
#include "no_maps.h"
#include "sim.h"                        /* for its types; the device itself is in the library */

#include "../../perf_gpu_bench.h"
#include "time/rows.h"
#include <dlfcn.h>
#include "inside.h"

static void            *library;
static struct sim_state *there;
static void (*fake_start)(void), (*fake_device)(int), (*fake_down)(void), (*fake_down_at_exit)(void);
static void *(*fake_stream)(int);
static int (*fake_work)(void *, unsigned long), (*get_current)(void **), (*init)(unsigned);
static void (*fake_host)(unsigned long);
static int (*fake_launch_fails)(int), (*last_error)(void), (*begin_capture)(void *, int), (*end_capture)(void *, void **);

static void find(const char *name, void *field)
{
    void *p = dlsym(library, name);
    memcpy(field, &p, sizeof p);
}

static int open_library(const char *name)
{
    struct sim_state *(*fake_sim)(void) = NULL;

    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        return 0;
    }
    find("fake_start", &fake_start);
    find("fake_device", &fake_device);
    find("fake_stream", &fake_stream);
    find("fake_work", &fake_work);
    find("fake_host", &fake_host);
    find("fake_down", &fake_down);
    find("fake_down_at_exit", &fake_down_at_exit);
    find("fake_sim", &fake_sim);
    find("cuCtxGetCurrent", &get_current);
    find("cuInit", &init);
    find("fake_launch_fails", &fake_launch_fails);
    find("hipGetLastError", &last_error);
    find("hipStreamBeginCapture", &begin_capture);
    find("hipStreamEndCapture", &end_capture);
    there = fake_sim();
    return 1;
}

static void step(void *stream)
{
    PERF_GPU_SCOPE("step", stream);
    (void)fake_work(stream, 1000);
}

/* A million scopes on one stream. */
static void many(void)
{
    const long     n = 1000000;
    long           i;
    void          *stream;
    uint64_t       waits;
    perf_gpu_stats a;

    (void)init(0);
    fake_start();
    stream = fake_stream(0);
    for (i = 0; i < n; i++) {
        step(stream);
        fake_host(4000);
    }
    CHECK(!there->calls[SIM_event_sync] && !there->calls[SIM_stream_sync], "a wait");
    CHECK(!there->calls[SIM_event_query] && !there->calls[SIM_stream_query], "a query");
    CHECK(there->calls[SIM_event_record] == 2 * (uint64_t)n, "%g records", (double)there->calls[SIM_event_record]);
    CHECK(there->calls[SIM_event_create] <= 2 * PERF_GPU_SLOTS + 2, "%g events", (double)there->calls[SIM_event_create]);
    CHECK(there->calls[SIM_stream_ctx] < 10 && there->calls[SIM_ctx_get] < 20000, "%g questions about contexts",
          (double)there->calls[SIM_ctx_get]);
    waits = there->calls[SIM_event_sync] + there->calls[SIM_stream_sync];
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());     /* this one waits */
    a = perf_gpu_stats_of(NULL);
    CHECK(a.scopes == (uint64_t)n && !a.dropped && !a.failed && !a.pending, "%g of a million", (double)a.scopes);
    printf("%g scopes: %g events, %g questions for times, %g waits\n", (double)a.scopes,
           (double)there->calls[SIM_event_create], (double)there->calls[SIM_event_elapsed],
           (double)waits);
    CHECK(!strcmp(perf_gpu_table()->name, "CUDA driver"), "%s", perf_gpu_table()->name);
    CHECK(!there->wrong_context && !there->bad_handle && there->contexts == 1, "contexts");
}

/* Two devices; the current context is the same after every call. */
static void two(void)
{
    void *stream[4], *before = NULL, *now = NULL;
    int   i, other = 0;

    (void)init(0);
    fake_start();
    for (i = 0; i < 4; i++)
        stream[i] = fake_stream(i % 2);
    for (i = 0; i < 20000; i++) {
        fake_device(i / 100 % 2);
        (void)get_current(&before);
        {
            PERF_GPU_SCOPE("two", stream[i % 4]);
            (void)fake_work(stream[i % 4], 1000);
            (void)get_current(&now);
            other += now != before;
        }
        fake_host(10000);
        if (i % 10 == 0)
            (void)perf_gpu_collect();
        if (i % 1000 == 0)
            CHECK(perf_gpu_memory_mark("mark") == PERF_OK, "%s", perf_gpu_error_text());
        (void)get_current(&now);
        other += now != before;
    }
    fake_host(1000000);
    CHECK(perf_gpu_collect() == PERF_OK && perf_gpu_stats_of("two").scopes == 20000, "%g",
          (double)perf_gpu_stats_of("two").scopes);
    CHECK(other == 0, "%d times another context than before", other);
    CHECK(!there->wrong_context && !there->bad_handle && there->contexts == 2, "%g", (double)there->wrong_context);
    CHECK(!there->surfaced[400] && !there->surfaced[201], "errors");
}

/* No memory for what a collection needs: no error of the driver. */
static void poor(void)
{
    (void)init(0);
    fake_start();
    (void)fake_stream(0);
    CHECK(perf_gpu_status() == PERF_OK, "%s", perf_status_text(perf_gpu_status()));
    no_maps(0, 1);
    CHECK(perf_gpu_collect_sync() == PERF_ENOMEM && refused, "%s", perf_status_text(perf_gpu_collect_sync()));
    no_maps(-1, 0);
    CHECK(perf_gpu_collect_sync() == PERF_OK && !perf_gpu_stats_of(NULL).error, "%s", perf_gpu_error_text());
}

/* No cuInit yet: nobody else does it. */
static void passive(void)
{
    perf_gpu_scope s = perf_gpu_scope_begin("early", NULL);

    perf_gpu_scope_end(&s);
    CHECK(perf_gpu_status() == PERF_ENOGPU && perf_gpu_table() != NULL, "%s", perf_status_text(perf_gpu_status()));
    CHECK(perf_gpu_stats_of(NULL).no_context == 1 && there->contexts == 0, "%g", (double)perf_gpu_stats_of(NULL).no_context);
    CHECK(!there->calls[SIM_event_create] && !there->calls[SIM_event_record], "calls without a context");
}

/* The driver goes away: in the middle, or in the exit handlers. */
static void deinit(int in_the_middle)
{
    void *stream;
    int   i;

    (void)init(0);
    fake_start();
    if (!in_the_middle)
        fake_down_at_exit();
    stream = fake_stream(0);
    for (i = 0; i < 100; i++) {
        PERF_SCOPE("host");
        step(stream);
        fake_host(4000);
    }
    if (in_the_middle) {
        (void)perf_gpu_collect();
        fake_down();
        step(stream);
        CHECK(there->calls_down <= 3, "%d calls of a driver that was down", (int)there->calls_down);
        there->calls_down = 0;
        for (i = 0; i < 100; i++)
            step(stream);
        (void)perf_gpu_collect();
        (void)perf_gpu_collect_sync();
        (void)perf_gpu_memory_mark("after");
        CHECK(perf_gpu_status() == PERF_EGPU, "%s", perf_status_text(perf_gpu_status()));
        CHECK(perf_gpu_stats_of("step").scopes == 100, "%g", (double)perf_gpu_stats_of("step").scopes);
    }
}

/* No driver at all. */
static void none(void)
{
    int i;

    for (i = 0; i < 10; i++) {
        PERF_SCOPE("host");
        PERF_GPU_SCOPE("device", &i);
        PERF_GPU_WAIT("wait");
    }
    CHECK(perf_gpu_table() == NULL && perf_gpu_status() == PERF_ENOGPU, "%s", perf_status_text(perf_gpu_status()));
    CHECK(perf_gpu_collect() == PERF_ENOGPU && perf_gpu_collect_sync() == PERF_ENOGPU, "status");
    CHECK(perf_gpu_memory_mark("mark") == PERF_ENOGPU && perf_gpu_stats_of(NULL).error == 0, "status");
    CHECK(perf_gpu_stats_of(NULL).no_gpu == 10, "%g", (double)perf_gpu_stats_of(NULL).no_gpu);
    CHECK(row_of("host", "scope").calls == 10 && row_of("device", "device").calls == 0, "%g", row_of("host", "scope").calls);
}

/* NVML beside it: clock, reasons, energy and heat of the device that it knows by its place. */
static void nvml(void)
{
    const perf_gpu_backend *t;
    unsigned                mhz = 0;
    uint64_t                why = 0;
    int                     i;

    (void)init(0);
    fake_start();
    t = perf_gpu_table();
    for (i = 0; i < 2; i++)                     /* found, and found again */
        CHECK(gpu_clock(t, 0, &mhz, &why) == 0 && mhz == 1234 && why == 1, "%u MHz, %d", mhz, (int)why);
    for (i = -1; i < 66; i++)
        CHECK(i == 0 || gpu_clock(t, i, &mhz, &why) != 0, "device %d", i);
    CHECK(gpu_meter(t, 0, 0) == 7 && gpu_meter(t, 0, 0) == 8, "%g J", gpu_meter(t, 0, 0));
    CHECK(gpu_meter(t, 0, 1) == 66 && gpu_meter(t, 0, 2) == 77, "%g degrees", gpu_meter(t, 0, 1));
    CHECK(gpu_meter(t, 1, 1) < 0, "a device that NVML does not know");
}

/* NVML or SMI without one of its functions, or that fails: `there` holds a letter for each meter that is left,
 * c clock, r reasons, e energy, h heat, b busy.                                                   */
static void meters(const char *there)
{
    const perf_gpu_backend *t;
    const int               amd = !strcmp(perf_gpu_table()->name, "HIP");
    unsigned                mhz = 0;
    uint64_t                why = 7;
    int                     i, k, code;

    fake_start();
    t = perf_gpu_table();
    for (k = 0; k < 2; k++) {                   /* found, and found again */
        code = gpu_clock(t, 0, &mhz, &why);
        CHECK((code == 0) == (strchr(there, 'c') != NULL) && (code || mhz == 1234), "%s: %d, %u MHz", there, code, mhz);
        CHECK(why == (strchr(there, 'r') ? 1 : 7), "%s: reasons %d", there, (int)why);
        for (i = 0; i < 3; i++) {
            double x = gpu_meter(t, 0, i);
            CHECK((x >= 0) == (strchr(there, "ehb"[i]) != NULL), "%s: meter %d says %g", there, i, x);
            CHECK(x < 0 || i == 0 || x == (amd ? i == 1 ? 55.5 : 88 : i == 1 ? 66 : 77), "%s: meter %d says %g", there, i, x);
        }
    }
}

/* A library that lacks what must be there is none. */
static void half(void)
{
    PERF_GPU_SCOPE("device", NULL);
    CHECK(perf_gpu_table() == NULL && perf_gpu_status() == PERF_ENOGPU, "%s", perf_status_text(perf_gpu_status()));
    CHECK(perf_gpu_table() == NULL && perf_gpu_stats_of(NULL).no_gpu == 1, "asked again");
}

/* One of AMD's that has no device, or cannot tell. */
static void hip_none(void)
{
    perf_gpu_scope s = perf_gpu_scope_begin("early", NULL);

    perf_gpu_scope_end(&s);
    CHECK(perf_gpu_table() == NULL && perf_gpu_status() == PERF_ENOGPU, "%s", perf_status_text(perf_gpu_status()));
    CHECK(perf_gpu_stats_of(NULL).no_gpu == 1, "%g", (double)perf_gpu_stats_of(NULL).no_gpu);
}

/* A thread without a device: nothing is asked of it. */
static void hip_lost(void)
{
    perf_gpu_scope s = perf_gpu_scope_begin("lost", NULL);
    perf_gpu_stats a;

    perf_gpu_scope_end(&s);
    a = perf_gpu_stats_of(NULL);
    CHECK(perf_gpu_table() && perf_gpu_status() == PERF_ENOGPU, "%s", perf_status_text(perf_gpu_status()));
    CHECK(a.failed == 1 && a.scopes == 0 && perf_gpu_stats_of(NULL).error == 100, "%g failed, %g, error %d", (double)a.failed, (double)a.scopes,
          perf_gpu_stats_of(NULL).error);
}

/* Older and newer ones, and such as lack a function: every scope has its time, on both devices.  `what` names
 * what is left: w a waiting error is respected, o it knows whose a stream is.                     */
static void hip_other(const char *what)
{
    void *stream[2];
    int   i, (*set)(int) = NULL;

    if (!open_library("libamdhip64.so.6"))
        return;
    find("hipSetDevice", &set);
    fake_start();
    stream[0] = fake_stream(0);
    stream[1] = fake_stream(1);
    for (i = 0; i < 400; i++) {
        CHECK(set(i / 100 % 2) == 0, "hipSetDevice");
        step(stream[strchr(what, 'o') ? i % 2 : i / 100 % 2]);
        fake_host(4000);
    }
    CHECK(set(0) == 0 && perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(set(1) == 0 && perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("step").scopes == 400 && !perf_gpu_stats_of(NULL).dropped && !there->wrong_context, "%g of 400, %g dropped",
          (double)perf_gpu_stats_of("step").scopes, (double)perf_gpu_stats_of(NULL).dropped);
    (void)last_error();
    (void)fake_launch_fails(719);               /* and the program has not looked yet */
    {
        PERF_GPU_SCOPE("empty", stream[1]);
    }
    if (strchr(what, 'w'))
        CHECK(last_error() == 719 && perf_gpu_stats_of(NULL).dropped == 1, "the program's own error is gone");
    else
        CHECK(perf_gpu_stats_of(NULL).dropped == 0, "%g", (double)perf_gpu_stats_of(NULL).dropped);
    (void)last_error();
}

/* What the program reads of errors is the same with scopes, in every release: its own failed launch, inside a
 * scope and before one, and none of ours. */
static void hip_errors(int newer)
{
    void *stream[2];
    int   i, code;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream[0] = fake_stream(0);
    stream[1] = fake_stream(0);
    (void)perf_gpu_status();
    for (i = 0; i < 20; i++) {
        step(stream[i % 2]);
        CHECK(last_error() == 0, "%d: an error after a good launch", i);
        {
            PERF_GPU_SCOPE("fails", stream[i % 2]);
            (void)fake_launch_fails(98);
        }
        code = last_error();
        CHECK(code == 98, "%d: a launch failed inside a scope, the program reads %d", i, code);
        (void)fake_launch_fails(98);
        step(stream[i % 2]);
        code = last_error();
        CHECK(newer ? code == 98 : code == 0, "%d: a launch failed before a scope and a good launch: %d", i, code);
        {
            PERF_GPU_SCOPE("pending", stream[i % 2]);
            (void)fake_work(stream[i % 2], 50000000);
        }
        (void)last_error();
        (void)perf_gpu_collect();               /* not ready: no error of the program */
        (void)perf_gpu_memory_mark("mark");
        code = last_error();
        CHECK(code == 0, "%d: work is pending, the program reads %d", i, code);
        fake_host(100000000);
    }
    there->fault[SIM_event_record].left = 1;
    there->fault[SIM_event_record].code = 700;
    {
        PERF_GPU_SCOPE("fails for us", stream[0]);
        (void)fake_work(stream[0], 1000);
    }
    (void)perf_gpu_collect();
    code = last_error();
    CHECK(code == 0, "our own failure is the program's %d", code);
    CHECK(perf_gpu_stats_of(NULL).failed == 1, "%g failed", (double)perf_gpu_stats_of(NULL).failed);
}

/* The short way of a begin: a scope while the program has an unread error is dropped before HIP 7.0, no failure. */
static void hip_refused(int newer)
{
    const double   dropped = newer ? 0 : 10;
    perf_gpu_stats a;
    void          *stream;
    int            round, i, code;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream = fake_stream(0);
    for (round = 0; round < 10; round++) {
        for (i = 0; i < 2 * PERF_GPU_SLOTS; i++) {      /* all slots have been used on this stream */
            step(stream);
            fake_host(4000);
        }
        (void)fake_launch_fails(98);
        {
            PERF_GPU_SCOPE("refused", stream);
        }
        code = last_error();
        CHECK(code == 98, "%d: the program reads %d", round, code);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    a = perf_gpu_stats_of(NULL);
    CHECK((double)a.dropped == dropped && !a.failed, "%g dropped, %g failed: %s", (double)a.dropped, (double)a.failed,
          perf_gpu_error_text());
}

/* The scopes of a stream that is being captured are waited for later: the capture is whole. */
static void hip_capture(void)
{
    void *stream, *graph = NULL;
    int   code;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream = fake_stream(0);
    step(stream);
    {
        PERF_GPU_SCOPE("long", stream);
        (void)fake_work(stream, 50000000);
    }
    CHECK(begin_capture(stream, 2) == 0, "capture");
    (void)fake_work(stream, 1000);
    (void)perf_gpu_collect();
    (void)perf_gpu_collect_sync();
    code = end_capture(stream, &graph);
    CHECK(code == 0 && !there->spoilt, "the capture was spoilt: %d", code);
    CHECK(perf_gpu_collect_sync() == PERF_OK && perf_gpu_stats_of("long").scopes == 1, "%s", perf_gpu_error_text());
}

/* Times that run backwards are no failure. */
static void hip_short(void)
{
    void *stream;
    int   i;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream = fake_stream(0);
    for (i = 0; i < 200; i++) {
        step(stream);
        fake_host(5000);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK && perf_gpu_stats_of(NULL).failed == 0, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("step").scopes == 200 && perf_gpu_stats_of(NULL).backwards > 10, "%g scopes, %g backwards",
          (double)perf_gpu_stats_of("step").scopes, (double)perf_gpu_stats_of(NULL).backwards);
}

/* A bench whose memory for the flush does not fit leaves no error to the program. */
static void hip_bench(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    void               *stream;
    int                 code;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    (void)last_error();
    there->memory[0] = 100 << 20;               /* bytes; four times L2 are more */
    stream = fake_stream(0);
    o.samples = 5;
    b = perf_gpu_bench_begin("k", stream, &o);
    code = last_error();
    CHECK(code == 0, "after the begin the program reads %d", code);
    while (perf_gpu_bench_next(&b)) {
        (void)fake_work(stream, 20000);
        code = last_error();
        CHECK(code == 0, "in the loop the program reads %d", code);
    }
    r = perf_gpu_bench_end(&b);
    code = last_error();
    CHECK(code == 0 && r.time.count > 0, "after the end the program reads %d: %s", code, r.text);
}

/* A program's own unread error before a loop, and one in its body.  Before HIP 7.0 any call of the loop's would lose it:
 * the loop ends there, and says why. */
static void hip_unread(int newer)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    void               *stream;
    int                 in_body, bodies, code;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream = fake_stream(0);
    step(stream);
    o.samples = 5;
    for (in_body = 0; in_body < 2; in_body++) {
        bodies = 0;
        (void)last_error();
        if (!in_body)
            (void)fake_launch_fails(98);
        b = perf_gpu_bench_begin("unread", stream, &o);
        while (perf_gpu_bench_next(&b)) {
            (void)fake_work(stream, 20000);
            if (in_body && ++bodies == 3)
                (void)fake_launch_fails(98);
        }
        r = perf_gpu_bench_end(&b);
        code = last_error();
        CHECK(code == 98, "in_body %d: the program reads %d: %s", in_body, code, r.text);
        CHECK(r.status == (newer ? PERF_OK : PERF_EGPU), "in_body %d: %s: %s", in_body, perf_status_text(r.status), r.text);
        CHECK(newer || strstr(r.text, "unread error"), "in_body %d: %s", in_body, r.text);
        CHECK(!*perf_gpu_error_text(), "in_body %d: %s", in_body, perf_gpu_error_text());
    }
    b = perf_gpu_bench_begin("read", stream, &o);
    while (perf_gpu_bench_next(&b))
        (void)fake_work(stream, 20000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count > 0, "once it is read: %s", r.text);
}

/* AMD's library, asked for with -DPERF_HIP=1. */
static void hip(void)
{
    void *stream;
    int   i;

    if (!open_library("libamdhip64.so.6"))
        return;
    fake_start();
    stream = fake_stream(1);
    for (i = 0; i < 5000; i++) {
        step(stream);
        fake_host(4000);
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK && perf_gpu_memory_mark("mark") == PERF_OK, "%s", perf_gpu_error_text());
    CHECK(perf_gpu_stats_of("step").scopes == 5000 && !there->wrong_context, "%g", (double)perf_gpu_stats_of("step").scopes);
    CHECK(!strcmp(perf_gpu_table()->name, "HIP"), "%s", perf_gpu_table()->name);
    CHECK(gpu_meter(perf_gpu_table(), 0, 1) == 55.5 && gpu_meter(perf_gpu_table(), 1, 1) < 0, "%g degrees",
          gpu_meter(perf_gpu_table(), 0, 1));
    (void)last_error();
    for (i = 0; i < 10; i++) {                  /* an error of the program's own, before and in a scope */
        perf_gpu_scope scope;
        if (i % 2)
            (void)fake_launch_fails(719);
        scope = perf_gpu_scope_begin("step", stream);
        (void)fake_launch_fails(719);
        perf_gpu_scope_end(&scope);
        (void)perf_gpu_collect();
        CHECK(last_error() == 719, "hipGetLastError() would have lost it");
    }
    CHECK(perf_gpu_stats_of(NULL).dropped == 10, "%g", (double)perf_gpu_stats_of(NULL).dropped);
    there->fault[SIM_stream_ctx].left = 1;      /* whose is this new stream? */
    there->fault[SIM_stream_ctx].code = 400;
    i = (int)perf_gpu_stats_of(NULL).failed;
    step(fake_stream(0));
    CHECK((int)perf_gpu_stats_of(NULL).failed == i + 1 && perf_gpu_stats_of(NULL).error == 400, "%d failed, %d", (int)perf_gpu_stats_of(NULL).failed - i,
          perf_gpu_stats_of(NULL).error);
    perf_reset();
    there->fault[SIM_event_record].left = 1;
    there->fault[SIM_event_record].code = 700;
    step(stream);
    CHECK(strstr(perf_gpu_error_text(), "700 SIM_ERROR_ILLEGAL_ADDRESS: an illegal"), "%s", perf_gpu_error_text());
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "none", *what = argc > 2 ? argv[2] : "";

    if (strcmp(mode, "none") && strcmp(mode, "half") && strncmp(mode, "hip", 3) && !open_library("libcuda.so.1"))
        return 1;
    if (!strcmp(mode, "many"))
        many();
    if (!strcmp(mode, "two"))
        two();
    if (!strcmp(mode, "poor"))
        poor();
    if (!strcmp(mode, "passive"))
        passive();
    if (!strcmp(mode, "deinit"))
        deinit(1);
    if (!strcmp(mode, "exit"))
        deinit(0);
    if (!strcmp(mode, "none"))
        none();
    if (!strcmp(mode, "half"))
        half();
    if (!strcmp(mode, "nvml"))
        nvml();
    if (!strcmp(mode, "meters")) {
        (void)init(0);
        meters(what);
    }
    if (!strcmp(mode, "hip"))
        hip();
    if (!strcmp(mode, "hip-none"))
        hip_none();
    if (!strcmp(mode, "hip-lost"))
        hip_lost();
    if (!strcmp(mode, "hip-errors"))
        hip_errors(!strcmp(what, "newer"));
    if (!strcmp(mode, "hip-refused"))
        hip_refused(!strcmp(what, "newer"));
    if (!strcmp(mode, "hip-capture"))
        hip_capture();
    if (!strcmp(mode, "hip-short"))
        hip_short();
    if (!strcmp(mode, "hip-bench"))
        hip_bench();
    if (!strcmp(mode, "hip-unread"))
        hip_unread(!strcmp(what, "newer"));
    if (!strcmp(mode, "hip-other"))
        hip_other(what);
    if (!strcmp(mode, "hip-meters") && open_library("libamdhip64.so.6"))
        meters(what);
    CHECK(1, "%s", mode);
    return check_done();
}
