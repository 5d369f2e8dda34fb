/* The diagnosis of programs with a planted bound.  Each runs in a child of its own, on a clock that moves
 * when the program says so, and on a /proc that the program writes: what the answer is does not hang
 * on the machine.                                                                                  */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now_ns = 1000000000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_DIAGNOSIS 1
#include "perf_diagnosis.h"
#include "../folder.h"
#include "rows.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "inside.h"

enum { MS = 1000000 };

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) {
        perror(path);
        exit(1);
    }
}

/* What the system says: age of the process, and of a thread its time on a processor and ready for one,
 * faults, and time in the kernel.                                                                  */
static void system_says(unsigned thread, double age_ms, double cpu_ms, double ready_ms, int faults, double kernel_ms)
{
    char path[64], text[256];

    (void)mkdir("proc", 0755);
    (void)mkdir("proc/self", 0755);
    (void)mkdir("proc/self/task", 0755);
    snprintf(path, sizeof path, "proc/self/task/%u", thread);
    (void)mkdir(path, 0755);
    put("proc/uptime", "10000.00 5.00\n");
    snprintf(text, sizeof text, "1 (a (9) b) S 1 2 3 0 -1 5 6 7 8 9 10 11 12 13 14 15 16 17 %.0f 0 0\n", 1e6 - age_ms / 10);
    put("proc/self/stat", text);
    snprintf(path, sizeof path, "proc/self/task/%u/schedstat", thread);
    snprintf(text, sizeof text, "%.0f %.0f 77\n", cpu_ms * MS, ready_ms * MS);
    put(path, text);
    snprintf(path, sizeof path, "proc/self/task/%u/stat", thread);
    snprintf(text, sizeof text, "1 (a (9) b) S 1 2 3 0 -1 5 %d 7 8 9 10 %.0f 12 13\n", faults, kernel_ms / 10);
    put(path, text);
}

/* A scope, by name and kind, of so many ms. */
enum kind { SCOPE, WAIT };
static void spend(const char *name, enum kind kind, double ms)
{
    if (kind == WAIT) {
        perf_scope w = perf_wait_begin(name);
        now_ns += (uint64_t)(ms * MS);
        perf_scope_end(&w);
    } else {
        perf_scope w = perf_scope_begin(name);
        now_ns += (uint64_t)(ms * MS);
        perf_scope_end(&w);
    }
}

static void *device_thread(void *copies)
{
    int i;

    for (i = 0; i < 100; i++) {
        if (copies) {
            SCOPE_OF_COPY("in");
            now_ns += 6 * MS;
        } else {
            SCOPE_OF_DEVICE("kernel");
            now_ns += 6 * MS;
        }
    }
    return NULL;
}

static void *small_kernels(void *unused)
{
    int i;

    for (i = 0; i < 1000; i++) {
        SCOPE_OF_DEVICE("kernel");
        now_ns += MS / 10;
    }
    return unused;
}

static void in_thread(void *(*run)(void *), void *with)
{
    pthread_t t;

    CHECK(!pthread_create(&t, NULL, run, with) && !pthread_join(t, NULL), "thread");
}

/* 100 steps of 10 ms: so much in each part. */
static void steps(double read, double lock, double sync, double alloc, double compute)
{
    int i;

    for (i = 0; i < 100; i++) {
        PERF_SCOPE("step");
        if (i == 0)
            now_ns += 500 * MS;                 /* warm-up */
        if (read > 0)
            spend("read", WAIT, read);
        if (lock > 0)
            spend("lock of the queue", WAIT, lock);
        if (sync > 0) {
            SCOPE_OF_SYNC("synchronize");
            now_ns += (uint64_t)(sync * MS);
        }
        if (alloc > 0)
            spend("alloc buffers", SCOPE, alloc);
        spend("compute", SCOPE, compute);
    }
}

/* Records, says who it is, and stays until that is 0 again. */
static void *stays(void *id)
{
    perf_thread_name("second");
    { PERF_SCOPE("elsewhere"); }
    __atomic_store_n((unsigned *)id, core_thread_id(), __ATOMIC_RELEASE);
    while (__atomic_load_n((unsigned *)id, __ATOMIC_ACQUIRE))
        usleep(100);
    return NULL;
}

static perf_diagnosis d;

static void diagnosed(perf_bound_by bound, const char *where, double share)
{
    perf_status status = perf_diagnose(&d);

    CHECK(status == PERF_OK && d.bound == bound, "%s, not %s: data %.2f locks %.2f ready %.2f memory %.2f cpu %.2f "
          "syncs %.2f unexplained %.2f", perf_diagnosis_text(d.bound), perf_diagnosis_text(bound), d.share[1], d.share[2],
          d.share[3], d.share[4], d.share[5], d.share[8], d.share[0]);
    CHECK(!strcmp(d.where, where), "where: %s, not %s", d.where, where);
    CHECK(fabs(d.where_share - share) < 0.02, "share: %g, not %g", d.where_share, share);
    CHECK(bound == PERF_BY_UNKNOWN || fabs(d.best - 1 / (1 - d.where_share)) < 1e-9, "best: %g", d.best);
    CHECK(d.best_run <= d.best * (1 + 1e-9) && d.overlapped <= 2.001, "%g of the run, %g, %g", d.best_run, d.best, d.overlapped);
}

static unsigned me(void)
{
    return core_thread_id();
}

/* A unit that calls itself so often, and reads at the end. */
static void recursive(int n)
{
    PERF_SCOPE("walk");
    if (n)
        recursive(n - 1);
    else
        spend("read", WAIT, 10);
}

/* So many stages of long names around a read. */
static void stages(int n, const char *format)
{
    char       name[128];
    perf_scope s;

    snprintf(name, sizeof name, format, n);
    s = perf_scope_begin(name);
    if (n)
        stages(n - 1, format);
    else
        spend("read from disk", WAIT, 10);
    perf_scope_end(&s);
}

/* No character of UTF-8 is cut in two. */
static int whole_text(const char *text)
{
    for (; *text; text++)
        if ((*text & 0xe0) == 0xc0 && (*++text & 0xc0) != 0x80)
            return 0;
    return 1;
}

static void case_of(int n)
{
    int i;

    switch (n) {
    case 0:                                     /* half of it read, and the first step is no step */
        steps(6, 0, 0, 0, 4);
        system_says(me(), 1510, 900, 0, 10, 0);
        diagnosed(PERF_BY_DATA, "step > read", 0.4);
        CHECK(!strcmp(d.unit, "step") && d.calls == 100 && d.time.count == 99, "%s %u", d.unit, (unsigned)d.time.count);
        CHECK(fabs(d.time.mean - 10 * MS) < 1 && d.time.std < 1 && fabs(d.time.p95 - 10 * MS) < 1, "the first is left out: %g",
              d.time.mean);
        CHECK(fabs(d.where_ns - 6 * MS) < MS / 10 && fabs(d.where_calls - 1) < 1e-9, "%g %g", d.where_ns, d.where_calls);
        break;
    case 1:
        steps(0, 7, 0, 0, 3);
        system_says(me(), 1510, 800, 0, 10, 0);
        diagnosed(PERF_BY_LOCKS, "step > lock of the queue", 700 / 1500.0);
        break;
    case 2:                                     /* others ran */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 700, 800, 10, 0);
        diagnosed(PERF_BY_NO_PROCESSOR, "step", 0.52);
        break;
    case 3:                                     /* page faults */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 1500, 0, 4000000, 1200);
        diagnosed(PERF_BY_MEMORY, "step", 0.78);
        break;
    case 4:                                     /* allocation */
        steps(0, 0, 0, 8, 2);
        system_says(me(), 1510, 1500, 0, 1000, 100);
        diagnosed(PERF_BY_MEMORY, "step > alloc buffers", 800 / 1500.0);
        break;
    case 5:
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 1505, 0, 1000, 100);
        diagnosed(PERF_BY_CPU, "step > compute", 1000 / 1500.0);
        break;
    case 6:                                     /* it slept, and nobody says why */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 300, 0, 100, 0);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        CHECK(d.share[0] > 0.7 && d.share[PERF_BY_CPU] < 0.25, "%g", d.share[0]);
        break;
    case 7:                                     /* in small kernels, one after the other */
        steps(0, 0, 8, 0, 2);
        system_says(me(), 1610, 700, 0, 100, 0);
        in_thread(small_kernels, NULL);
        diagnosed(PERF_BY_SYNCS, "step > synchronize", 800 / 1500.0);
        break;
    case 8:
        steps(0, 0, 8, 0, 2);
        in_thread(device_thread, NULL);
        system_says(me(), 2110, 700, 0, 100, 0);
        diagnosed(PERF_BY_DEVICE, "step > synchronize", 800 / 1500.0);
        break;
    case 9:
        steps(0, 0, 8, 0, 2);
        in_thread(device_thread, &now_ns);
        system_says(me(), 2110, 700, 0, 100, 0);
        diagnosed(PERF_BY_COPIES, "step > synchronize", 800 / 1500.0);
        break;
    case 10:                                    /* the device waits for the host's launches */
        steps(0, 0, 0, 0, 10);
        in_thread(small_kernels, NULL);
        system_says(me(), 1610, 1600, 0, 100, 0);
        diagnosed(PERF_BY_LAUNCHES, "step > compute", 1000 / 1500.0);
        break;
    case 11:                                    /* nothing repeats */
        for (i = 0; i < 7; i++)
            spend("once", SCOPE, 5);
        CHECK(perf_diagnose(&d) == PERF_ENODATA && !d.advice && !*d.unit, "%s", d.unit);
        break;
    case 12:                                    /* half of the run is outside of the unit: the best of it, too */
        steps(5, 0, 0, 0, 5);
        now_ns += (uint64_t)1500 * MS;
        system_says(me(), 3010, 2500, 0, 10, 0);
        diagnosed(PERF_BY_DATA, "step > read", 500 / 1500.0);
        CHECK(d.best > 1.49 && d.best_run < 1.21, "%g and %g", d.best, d.best_run);
        break;
    case 13:                                    /* the processor was used outside of it: cannot tell */
        steps(0, 0, 0, 0, 10);
        now_ns += (uint64_t)1500 * MS;
        system_says(me(), 3010, 1500, 1400, 9000000, 1400);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        break;
    case 14:                                    /* no /proc: what scopes say, and no more */
        steps(0, 0, 0, 0, 10);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        CHECK(d.share[PERF_BY_CPU] <= 0 && d.share[0] <= 0, "%g", d.share[0]);
        break;
    case 15:                                    /* an age that lies */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 20, 1500, 1500, 9000000, 1400);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        break;
    case 16:                                    /* faults and time of another thread */
        steps(0, 0, 0, 0, 10);
        system_says(me() + 1, 1510, 1500, 0, 9000000, 1400);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        break;
    case 17:                                    /* a namesake elsewhere, as deep: its reads are not these */
        for (i = 0; i < 50; i++) {
            PERF_SCOPE("load");
            spend("step", SCOPE, 1);
            spend("read", WAIT, 1);
        }
        for (i = 0; i < 100; i++) {
            PERF_SCOPE("step");
            spend("compute", SCOPE, 10);
        }
        system_says(me(), 1110, 1110, 0, 10, 0);
        diagnosed(PERF_BY_CPU, "step > compute", 1.0);
        CHECK(d.share[PERF_BY_DATA] <= 0, "%g", d.share[PERF_BY_DATA]);
        break;
    case 18: {                                  /* all forms of it; none is longer than what it says */
        static char       text[4096], little[40];
        static core_loop loop, race;
        perf_report_opts o = PERF_ZERO;
        size_t           n;
        steps(6, 0, 0, 0, 4);
        o.view = PERF_VIEW_DIAGNOSIS;
        n = perf_report_text(text, sizeof text, &o);
        CHECK(n < sizeof text && !strcmp(text,
              "baseline: step, 100 calls: mean 15.0 ms; the last 99 without a first: mean 10.0 ms, std 0.00 ns, "
              "p50 10.0 ms, p95 10.0 ms\n"
              "bound by: waiting for data; at least: waiting for data 40 %, off the processor for no recorded reason 0 %\n"
              "where: step > read: 40 % of a step, 6.00 ms in 1.0 calls\n"
              "try: read ahead in another thread, in larger pieces; keep it in memory; at best 1.67 times as fast if it "
              "vanished (1.67 the threads' whole time), 1.67 if it ran beside the rest\n"
              "verify: perf-ab run --accept 'speedup >= 1.30' -- OLD -- NEW\n"), "%s", text);
        CHECK(perf_report_text(little, sizeof little, &o) == n && strlen(little) == 39, "%s", little);
        o.view = PERF_VIEW_JSON;
        CHECK(perf_report_text(text, sizeof text, &o) < sizeof text && json_valid(text), "%s", text);
        CHECK(count_of(text, "\"diagnosis\":{\"bound\":\"waiting for data\",\"unit\":\"step\",\"calls\":100,"
                             "\"mean_ns\":15000000.000,\"last\":{\"calls\":99,\"mean_ns\":10000000.000,"
                             "\"std_ns\":0.000,\"p50_ns\":10000000.000,\"p95_ns\":10000000.000},") == 1, "%s", text);
        loop.kind = 1;                          /* the program has a benchmark, then variants */
        core_get()->results = &loop;
        CHECK(perf_diagnose(&d) == PERF_OK && !strncmp(d.verify, "PROGRAM --save old.json", 23), "%s", d.verify);
        race.next = &loop;
        race.kind = 3;
        memcpy(race.name, "sum", 4);
        core_get()->results = &race;
        CHECK(perf_diagnose(&d) == PERF_OK && !strcmp(d.verify, "perf-ab run --accept 'speedup >= 1.30' -- env "
              "'PERF_VARIANT=sum=A' PROGRAM -- env 'PERF_VARIANT=sum=B' PROGRAM"), "%s", d.verify);
        memcpy(race.name, "it's", 5);           /* no shell would read it: the next one           */
        CHECK(perf_diagnose(&d) == PERF_OK && !strncmp(d.verify, "PROGRAM --save old.json", 23), "%s", d.verify);
        memset(race.name, 'x', 41);
        race.name[41] = '\0';
        CHECK(perf_diagnose(&d) == PERF_OK && !strncmp(d.verify, "PROGRAM --save old.json", 23), "%s", d.verify);
        break;
    }
    case 19:                                    /* page faults in a virtual machine: 1.7 us each  */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 1500, 0, 700000, 1200);
        diagnosed(PERF_BY_MEMORY, "step", 0.78);
        break;
    case 20:                                    /* calls of the system, and a few faults          */
        steps(0, 0, 0, 0, 10);
        system_says(me(), 1510, 1500, 0, 100000, 1200);
        diagnosed(PERF_BY_CPU, "step > compute", 1000 / 1500.0);
        break;
    case 21: {                                  /* two of one name, as deep: the calls are not told apart */
        static char      text[4096];
        perf_report_opts o = PERF_ZERO;
        {
            PERF_SCOPE("load");
            for (i = 0; i < 50; i++)
                spend("step", SCOPE, 1);
        }
        {
            PERF_SCOPE("run");
            for (i = 0; i < 100; i++)
                spend("step", SCOPE, 10);
        }
        system_says(me(), 1060, 1060, 0, 10, 0);
        diagnosed(PERF_BY_CPU, "run > step", 0.999);
        CHECK(d.calls == 100 && !d.time.count && fabs(d.mean_ns - 10 * MS) < 1, "%g: %g", (double)d.calls, d.mean_ns);
        o.view = PERF_VIEW_JSON;
        CHECK(perf_report_text(text, sizeof text, &o) < sizeof text && json_valid(text) && !strstr(text, "\"last\":{"), "%s", text);
        o.view = PERF_VIEW_DIAGNOSIS;
        (void)perf_report_text(text, sizeof text, &o);
        CHECK(strstr(text, "baseline: step, 100 calls: mean 10.0 ms\n"), "%s", text);
        break;
    }
    case 22:                                    /* all of the outer one is in the inner: the outer is the unit */
        spend("inner", SCOPE, 0);    /* known first */
        for (i = 0; i < 20; i++) {
            PERF_SCOPE("outer");
            spend("inner", SCOPE, 10);
        }
        system_says(me(), 210, 260, 0, 10, 0);
        diagnosed(PERF_BY_CPU, "outer > inner", 0.999);
        CHECK(!strcmp(d.unit, "outer") && d.share[PERF_BY_CPU] <= 1, "%s, %g", d.unit, d.share[PERF_BY_CPU]);
        break;
    case 23: {                                  /* two reasons, and two places of the first */
        static char      text[4096];
        perf_report_opts o = PERF_ZERO;
        for (i = 0; i < 100; i++) {
            PERF_SCOPE("step");
            spend("lock a", WAIT, 3);
            spend("lock b", WAIT, 2);
            spend("read", WAIT, 1);
            spend("compute", SCOPE, 4);
        }
        system_says(me(), 1010, 400, 0, 10, 0);
        diagnosed(PERF_BY_LOCKS, "step > lock a", 0.3);
        o.view = PERF_VIEW_DIAGNOSIS;
        (void)perf_report_text(text, sizeof text, &o);
        CHECK(strstr(text, "waiting for data 10 %, ") && strstr(text, " 50 %, "), "%s", text);
        break;
    }
    case 24:                                    /* faults, of which the one place that allocates has little */
        steps(0, 0, 0, 0.5, 9.5);
        system_says(me(), 1510, 1500, 0, 4000000, 1200);
        diagnosed(PERF_BY_MEMORY, "step", 0.78);
        break;
    case 25:                                    /* the device is busy, too: nothing waits for launches */
        steps(0, 0, 0, 0, 10);
        in_thread(device_thread, NULL);
        in_thread(device_thread, NULL);
        system_says(me(), 2710, 2700, 0, 100, 0);
        diagnosed(PERF_BY_CPU, "step > compute", 1000 / 1500.0);
        break;
    case 26: {                                  /* a second thread is alive: both stand below */
        static char      text[4096];
        perf_report_opts o = PERF_ZERO;
        pthread_t        t;
        unsigned         other = 0;
        char             line[64];
        steps(0, 0, 0, 0, 10);
        CHECK(!pthread_create(&t, NULL, stays, &other), "thread");
        while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE))
            usleep(100);
        system_says(other, 1510, 30, 4, 10, 0);
        system_says(me(), 1510, 1505, 0, 10, 0);
        o.view = PERF_VIEW_DIAGNOSIS;
        (void)perf_report_text(text, sizeof text, &o);
        snprintf(line, sizeof line, "%8u %-19s   30.0 ms   4.00 ms", other, "second");
        CHECK(strstr(text, "thread ") && strstr(text, line), "%s in %s", line, text);
        __atomic_store_n(&other, 0, __ATOMIC_RELEASE);
        pthread_join(t, NULL);
        break;
    }
    case 27: {                                  /* a wait for a lock is none for data, one for a block is */
        char *text;
        for (i = 0; i < 100; i++) {
            PERF_SCOPE("step");
            spend("read a block of the clock", WAIT, 1);
            spend("Mutex of the queue", WAIT, 5);
            spend("compute", SCOPE, 4);
        }
        system_says(me(), 1010, 600, 0, 10, 0);
        diagnosed(PERF_BY_LOCKS, "step > Mutex of the queue", 0.5);
        CHECK(fabs(d.share[PERF_BY_DATA] - 0.1) < 0.01, "%g", d.share[PERF_BY_DATA]);
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(count_of(text, "\nwaiting for data: 10.0 % of the time in scopes\nwaiting for a lock: 50.0 % of the time in "
                             "scopes\ndata wait: 10.0 % of the main thread (100 ms of 1.00 s in scopes, 100 ms of it in read a "
                             "block of the clock)\nbound by: locks (of step, 100 calls)\n") == 1, "%s", text);
        free(text);
        perf_thread_name("the \"first\"");
        text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
        CHECK(json_valid(text) && count_of(text, "\"threads\":[{\"thread\":") == 1 &&
                  count_of(text, ",\"name\":\"the \\\"first\\\"\",\"ran_ns\":600000000,\"no_cpu_ns\":0,\"at_once_ns\":0,"
                                 "\"in\":\"\"}]}") == 1, "%s", text);
        free(text);
        break;
    }
    case 28: {                                  /* a wait outside of the unit: one answer, and of what it is one */
        char *text;
        for (i = 0; i < 20; i++) {
            PERF_SCOPE("step");
            now_ns += 20 * MS;
        }
        spend("read config", WAIT, 300);
        system_says(me(), 710, 400, 0, 10, 0);
        diagnosed(PERF_BY_UNKNOWN, "step", 0);
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(count_of(text, "\ndata wait: 42.9 % of the main thread (300 ms of 700 ms in scopes, 300 ms of it in read config)\n"
                             "bound by: cannot tell (of step, 20 calls)\n") == 1 && count_of(text, "bound by") == 1 &&
                  !strstr(text, "-bound"), "%s", text);
        free(text);
        text = report_text(PERF_VIEW_DIAGNOSIS, PERF_SORT_SELF);
        CHECK(count_of(text, "\nbound by: cannot tell; at least:") == 1, "%s", text);
        CHECK(count_of(text, "\nwhere: anywhere in step\n") == 1 && !strstr(text, "0 % of a"), "%s", text);
        free(text);
        break;
    }
    case 30: {                                  /* a unit inside itself: the mean of the table, one read each */
        char *text;
        for (i = 0; i < 10; i++)
            recursive(3);
        system_says(me(), 110, 10, 0, 10, 0);
        diagnosed(PERF_BY_DATA, "walk > read", 0.999);
        CHECK(d.calls == 40 && fabs(d.mean_ns - 10 * MS) < 1, "%g calls of %g ns", (double)d.calls, d.mean_ns);
        CHECK(fabs(d.where_ns - 9.99 * MS) < MS / 10 && fabs(d.where_calls - 1) < 1e-9, "%g in %g", d.where_ns, d.where_calls);
        CHECK(fabs(row_of("walk", "scope").mean - d.mean_ns) < 1, "%g in the table", row_of("walk", "scope").mean);
        text = report_text(PERF_VIEW_DIAGNOSIS, PERF_SORT_SELF);
        CHECK(strstr(text, "baseline: walk, 40 calls: mean 10.0 ms") && strstr(text, "9.99 ms in 1.0 calls"), "%s", text);
        free(text);
        break;
    }
    case 31:                                    /* a long path names its end, and what is around it */
    case 32:
        for (i = 0; i < 10; i++)
            stages(12, n == 31 ? "server::request_stage_%02d" : "\xc3\xa9tape de la requ\xc3\xaate %d");
        CHECK(perf_diagnose(&d) == PERF_OK && d.bound == PERF_BY_DATA, "%s", perf_diagnosis_text(d.bound));
        CHECK(!strncmp(d.where, "... > ", 6) && strlen(d.where) > 200 && whole_text(d.where), "%s", d.where);
        CHECK(strstr(d.where, n == 31 ? " > server::request_stage_01 > server::request_stage_00 > read from disk" :
                     " > \xc3\xa9tape de la requ\xc3\xaate 0 > read from disk"), "%s", d.where);
        break;
    case 33: {                                  /* names as long as they can be */
        char name[256] = "x", marks[256] = "e";
        for (i = 0; i < 120; i++) {
            strcat(name, "\xc3\xa9");
            strcat(marks, "\xcc\x81");          /* no column of its own */
        }
        for (i = 0; i < 10; i++) {
            perf_scope s = perf_scope_begin(name);
            spend(marks, WAIT, 10);
            perf_scope_end(&s);
        }
        CHECK(perf_diagnose(&d) == PERF_OK && strlen(d.unit) > 120 && whole_text(d.unit), "%s", d.unit);
        CHECK(!strncmp(d.where, "... > e", 7) && strlen(d.where) > 240 && whole_text(d.where), "%s", d.where);
        break;
    }
    case 34:                                    /* each word of a name counts, and a carrier is no barrier */
        for (i = 0; i < 100; i++) {
            PERF_SCOPE("step");
            spend("lock", WAIT, 1);
            spend("block cache lock", WAIT, 4);
            spend("Barrier of the clock", WAIT, 2);
            spend("read carrier file", WAIT, 1);
            spend("read clock block", WAIT, 1);
            spend("compute", SCOPE, 1);
        }
        system_says(me(), 1010, 100, 0, 10, 0);
        diagnosed(PERF_BY_LOCKS, "step > block cache lock", 0.4);
        CHECK(fabs(d.share[PERF_BY_LOCKS] - 0.7) < 0.01 && fabs(d.share[PERF_BY_DATA] - 0.2) < 0.01, "%g locks, %g data",
              d.share[PERF_BY_LOCKS], d.share[PERF_BY_DATA]);
        break;
    default:
        CHECK(perf_diagnose(NULL) == PERF_EINVAL && perf_diagnose(&d) == PERF_ENODATA, "nothing was recorded");
        CHECK(!strcmp(perf_diagnosis_text((perf_bound_by)99), "cannot tell"), "another number");
    }
}

int main(void)
{
    int   n, status, bad = 0;
    pid_t child;

    if (!CORE_ASKS_SYSTEM) {
        printf("skipped: where long has 32 bits nobody asks the system what a thread does\n");
        return 77;
    }
    if (folder_enter())
        return 1;
    for (n = 0; n < 35; n++) {
        (void)system("rm -rf proc");
        fflush(stdout);
        child = fork();
        if (child == 0) {
            case_of(n);
            printf("%d: ", n);
            fflush(stdout);
            exit(check_done());
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0, "case %d", n);
        bad += status != 0;
    }
    return folder_leave() || check_done();
}
