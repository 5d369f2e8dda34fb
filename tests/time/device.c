/* A simulated device in files and in the diagnosis: what nobody has collected yet is in every trace,
 * and what bounds a step comes from the device's own times.                                       */
#define _GNU_SOURCE 1
#include <stdint.h>
#define PERF_CLOCK_FN sim_clock
#include "../gpu/sim.h"

#include "perf_diagnosis.h"
#include "perf_trace.h"
#include "../folder.h"
#include "rows.h"
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "inside.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) {
        perror(path);
        exit(1);
    }
}

/* A thread that always had a processor, in a process that is as old as it. */
static void busy(void)
{
    char path[64], text[96];

    snprintf(path, sizeof path, "proc/self/task/%ld", syscall(SYS_gettid));
    (void)mkdir("proc", 0755);
    (void)mkdir("proc/self", 0755);
    (void)mkdir("proc/self/task", 0755);
    (void)mkdir(path, 0755);
    put("proc/uptime", "10000.00 5.00\n");
    snprintf(text, sizeof text, "1 (a) S 1 2 3 0 -1 5 6 7 8 9 10 11 12 13 14 15 16 17 %.0f 0 0\n",
             1e6 - (double)sim.now / 1e7);
    put("proc/self/stat", text);
    strcat(path, "/schedstat");
    snprintf(text, sizeof text, "%.0f 0 77\n", (double)sim.now);
    put(path, text);
    snprintf(path, sizeof path, "proc/self/task/%ld/stat", syscall(SYS_gettid));
    put(path, "1 (a) S 1 2 3 0 -1 5 0 7 8 9 10 0 12 13\n");
}

static perf_stream start(void)
{
    const uint64_t now = sim.now;

    sim_stop();
    sim_start();
    sim.now += now;                                 /* the host's clock never goes back */
    perf_reset();
    return sim_stream(0);
}

/* 100 steps: prepare on the host, so many pieces on the device, each waited for at once or at the end. */
static void steps(perf_stream stream, uint64_t host, int pieces, uint64_t each, int copies, int at_once)
{
    int i, k;

    for (i = 0; i < 100; i++) {
        PERF_SCOPE("step");
        sim_host(host);
        for (k = 0; k < pieces; k++) {
            if (copies) {
                PERF_GPU_COPY_IN("in", stream);
                (void)sim_work(stream, each);
            } else {
                PERF_GPU_SCOPE("kernel", stream);
                (void)sim_work(stream, each);
            }
            if (at_once || k == pieces - 1) {
                PERF_GPU_WAIT("sync");
                (void)sim_stream_sync(stream);
            }
        }
    }
}

static void bound(perf_bound_by want, const char *where)
{
    perf_diagnosis d;

    busy();
    CHECK(perf_diagnose(&d) == PERF_OK && d.bound == want && !strcmp(d.where, where), "%s, not %s: %s (syncs %g, cpu %g)",
          perf_diagnosis_text(d.bound), perf_diagnosis_text(want), d.where, d.share[PERF_BY_SYNCS],
          d.share[PERF_BY_CPU]);
    CHECK(d.share[want] > 0.5 && d.share[want] <= 1, "%s: %g", perf_diagnosis_text(want), d.share[want]);
    CHECK(d.calls == 100 && !strcmp(d.unit, "step") && d.best > 1, "%s, %g", d.unit, d.best);
}

/* The scopes of a file of Perfetto's: 1 for a begin, 2 for an end. */
static void kinds_of(const char *path, char *kinds, size_t room)
{
    static unsigned char text[1 << 16];
    FILE                *f = fopen(path, "rb");
    size_t               n = f ? fread(text, 1, sizeof text, f) : 0, i, k = 0;

    for (i = 3; i + 1 < n; i++)                 /* a packet's track event, and in it the type */
        if (text[i - 2] == 0x5a && text[i] == 0x48 && k + 1 < room)
            kinds[k++] = (char)('0' + text[i + 1]);
    kinds[k] = 0;
    if (f)
        (void)fclose(f);
    (void)remove(path);
}

/* Two scopes of a busy stream, one in the other, begin at one moment of the device.  The inner one is fetched while the
 * outer one is open: it lies in that all the same. */
static void fetched_apart(void)
{
    perf_stream    stream = start();
    perf_gpu_scope outer, inner;
    char           kinds[32];

    (void)sim_work(stream, 50000);
    outer = perf_gpu_scope_begin("outer", stream);
    inner = perf_gpu_scope_begin("inner", stream);
    (void)sim_work(stream, 10000);
    perf_gpu_scope_end(&inner);
    sim_host(100000);
    CHECK(perf_gpu_collect() == PERF_OK && perf_gpu_stats_of("inner").scopes == 1, "%s", perf_gpu_error_text());
    (void)sim_work(stream, 1000);
    perf_gpu_scope_end(&outer);
    (void)perf_gpu_collect_sync();
    CHECK(perf_trace_save_perfetto("apart.pftrace") == PERF_OK, "save");
    kinds_of("apart.pftrace", kinds, sizeof kinds);
    CHECK(!strcmp(kinds, "1122"), "%s", kinds);
    sim_stop();
}

/* Nobody has collected: the file does. */
static void files(void)
{
    static const char *const path[] = {"saved.json", "saved.pftrace", "streamed.pftrace"};
    int                      k;

    for (k = 0; k < 3; k++) {
        perf_stream stream = start();
        FILE       *f;
        size_t      n, i, found = 0;
        static char text[1 << 20];
        if (k == 2)
            CHECK(perf_trace_stream(path[k]) == PERF_OK, "stream");
        {
            PERF_GPU_SCOPE("never collected", stream);
            (void)sim_work(stream, 5000);
        }
        sim_host(1000000);
        CHECK((k == 0   ? perf_trace_save(path[k])
               : k == 1 ? perf_trace_save_perfetto(path[k])
                        : perf_trace_stream(NULL)) == PERF_OK, "%s", path[k]);
        f = fopen(path[k], "rb");
        n = f ? fread(text, 1, sizeof text, f) : 0;
        for (i = 0; i + 15 <= n; i++)
            found += !memcmp(text + i, "never collected", 15);
        CHECK(found == 1, "%s: %d", path[k], (int)found);
        if (f)
            fclose(f);
    }
}

int main(void)
{
    perf_stream stream;

    if (!CORE_HAS_THREAD_IDS) {
        printf("skipped: threads have no numbers of the system here, so no file of /proc\n");
        return 77;
    }
    if (folder_enter())
        return 1;
    files();
    fetched_apart();
    stream = start();
    steps(stream, 1000, 2, 100000, 0, 0);           /* the device works, the host waits */
    bound(PERF_BY_DEVICE, "step > sync");
    stream = start();
    steps(stream, 1000, 2, 100000, 1, 0);
    bound(PERF_BY_COPIES, "step > sync");
    stream = start();
    sim.cost[SIM_stream_sync] = 20000;
    steps(stream, 20000, 10, 1000, 0, 1);           /* each small kernel is waited for */
    bound(PERF_BY_SYNCS, "step > sync");
    stream = start();
    steps(stream, 4000000, 3, 2000, 0, 0);          /* the device waits for the host */
    bound(PERF_BY_LAUNCHES, "step");
    sim_stop();
    return folder_leave() || check_done();
}
