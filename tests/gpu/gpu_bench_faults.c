/* Every function of the table made to fail, at each of its first calls, once and for good: a status
 * or a whole result, what was measured before is kept, nothing hangs, nothing is left behind.    */
#define PERF_CLOCK_FN sim_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "check.h"
#include "inside.h"

#define SIM_NAME(f) #f,
static const char *const name_of[] = {SIM_ALL(SIM_NAME)};

typedef struct outcome {
    perf_gpu_result    bench;
    perf_gpu_ab_result ab;
    int                bodies;
} outcome;

/* The gate as a host function would spin for ever on a clock that stands still: an item instead. */
static int gate_as_item(void *stream, void (*fn)(void *), void *user)
{
    gpu_gate *w = (gpu_gate *)user;
    sim_item        i;
    SIM_ENTER(host_func);
    (void)fn;
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_GATE;
    i.address = (uint64_t)(uintptr_t)&w->flag;
    i.from = (uint64_t)(uintptr_t)&w->out;
    i.ns = w->limit_ns;
    return sim_leave(sim_submit(stream, &i));
}

static perf_stream start(void)
{
    static perf_gpu_backend t;

    sim_start();
    t = sim_table();
    t.host_func = gate_as_item;
    (void)perf_gpu_use(&t);
    return sim_stream(0);
}

static void one(outcome *o, int mode, perf_stream stream)
{
    perf_gpu_bench_opts b = PERF_ZERO;
    int                 v;

    b.cache = mode == 1 ? PERF_GPU_HOT : PERF_GPU_COLD;
    b.graph = mode == 2;
    b.warmup = 3;
    b.bytes = 1e6;
    b.samples = 8;
    if (mode < 3) {
        perf_gpu_bench loop = perf_gpu_bench_begin("fault", stream, &b);
        while (perf_gpu_bench_next(&loop)) {
            (void)sim_work(stream, 10000);
            o->bodies++;
        }
        o->bench = perf_gpu_bench_end(&loop);
    } else {
        perf_gpu_ab_opts a = PERF_ZERO;
        perf_gpu_ab      loop;
        a.device = b;
        a.max_pairs = a.min_pairs = 8;
        a.seed = 5;
        loop = perf_gpu_ab_begin("fault", stream, &a);
        while ((v = perf_gpu_ab_next(&loop)) >= 0) {
            (void)sim_work(stream, v ? 5000 : 10000);
            o->bodies++;
        }
        o->ab = perf_gpu_ab_end(&loop);
        o->bench = o->ab.baseline;
    }
}

int main(void)
{
    static const int codes[] = {1, 2, 4, 201, 400, 700, 719, 907, 999};
    static outcome   o, whole[4];
    uint64_t         calls[4][SIM_FUNCTIONS], n, kept = 0, cases = 0;
    size_t           c;
    int              f, mode, sticky;

    for (mode = 0; mode < 4; mode++) {
        perf_stream stream;
        stream = start();
        memset(&whole[mode], 0, sizeof whole[mode]);
        one(&whole[mode], mode, stream);
        memcpy(calls[mode], sim.calls, sizeof sim.calls);
        CHECK(whole[mode].bench.status == PERF_OK && whole[mode].bench.time.count == 8, "%s", whole[mode].bench.text);
        sim_stop();
    }
    for (mode = 0; mode < 4; mode++)
        for (f = 0; f < SIM_FUNCTIONS; f++)
            for (n = 1; n <= calls[mode][f] && n <= 400; n += n < 6 ? 1 : n / 3)
                for (sticky = 0; sticky < 3; sticky++) {        /* 2: the driver has ended    */
                    perf_stream   stream;
                    int64_t       left;
                    int           frees;
                    perf_status   s;
                    const double *p50 = &o.bench.time.p50;

                    c = (size_t)(n + (uint64_t)f) % (sizeof codes / sizeof *codes);
                    stream = start();
                    if (sticky == 2)
                        c = 2;
                    sim_fail((sim_fn)f, n, codes[c], sticky);
                    memset(&o, 0, sizeof o);
                    one(&o, mode, stream);
                    s = mode == 3 ? o.ab.status : o.bench.status;
                    cases++;
                    CHECK(s == PERF_OK || s == PERF_EGPU || s == PERF_ENODATA || s == PERF_ENOGPU || s == PERF_ESTREAM,
                          "%s call %d code %d: %s", name_of[f], (int)n, codes[c], perf_status_text(s));
                    CHECK(s != PERF_EGPU || o.bench.code, "%s call %d: no code", name_of[f], (int)n);
                    CHECK(s == PERF_OK || o.bench.text[0], "no text");
                    CHECK(sticky < 2 || sim.calls_down <= 1, "%s call %d: %d calls of a driver that had shut down", name_of[f], (int)n, (int)sim.calls_down);
                    CHECK(!sim.deadlocks, "%s call %d code %d: deadlock", name_of[f], (int)n, codes[c]);
                    CHECK(!o.bench.time.count || (*p50 > 9900 && *p50 < 10100), "%s call %d: %g", name_of[f], (int)n, *p50);
                    CHECK(o.bench.time.count + o.bench.exposed.count + o.bench.idle >= o.bench.samples || mode == 3,
                          "%s call %d: %d of %d", name_of[f], (int)n, (int)o.bench.time.count, (int)o.bench.samples);
                    kept += s == PERF_EGPU && o.bench.time.count > 0;
                    CHECK(mode != 3 || s == PERF_OK || o.ab.verdict.decision == PERF_INCONCLUSIVE, "a verdict after an error");
                    frees = f == SIM_event_destroy || f == SIM_module_unload || f == SIM_mem_free || f == SIM_mem_free_on ||
                            f == SIM_host_free || f == SIM_graph_destroy || f == SIM_graph_exec_destroy ||
                            f == SIM_capture_end;
                    left = sim.events + sim.allocations + sim.modules + sim.graphs;
                    if (!sticky && codes[c] != 4 && f != SIM_error_waits)      /* else nothing may be called to give it back */
                        CHECK(left <= frees, "%s call %d code %d: %d left", name_of[f], (int)n, codes[c], (int)left);
                    sim.sticky = sim.down = 0;
                    CHECK(sticky || f == SIM_capture_end || sim_stream_sync(stream) == 0, "%s call %d: held back", name_of[f], (int)n);
                    CHECK(sticky || codes[c] == 4 || f == SIM_capture_mode || (sim_depth == 1 && sim_mode == 0), "%s call %d: context or mode not put back", name_of[f], (int)n);
                    sim_stop();
                }
    CHECK(kept > 20, "errors in the middle keep what was measured: %d", (int)kept);
    printf("%d faults, %d of them with samples before\n", (int)cases, (int)kept);
    return check_done();
}
