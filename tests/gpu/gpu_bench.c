/* GPU bench and A/B loops on the simulated device: what they measure, what they refuse, what they
 * flag.  Every number below is virtual time, so the answers are exact and no test can flicker.
 *
 *     gpu_bench [SEED]                 prints the seed; 0 or none: a fixed one                    */
#define _GNU_SOURCE 1
#include <stdint.h>
static inline uint64_t host_clock(void);
#define PERF_CLOCK_FN host_clock
#include "sim.h"

#include "../../perf_gpu_bench.h"
#include "../../perf_results.h"
#include "check.h"
#include "numbers.h"
#include "inside.h"
#include <unistd.h>


/* The host's clock: the machine's, less what it went back. */
static uint64_t gone_back;

static uint64_t stands_at;                      /* not 0: it stands there */

static inline uint64_t host_clock(void)
{
    return stands_at ? stands_at : sim_clock() - gone_back;
}

static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static double uniform(void)
{
    return ((double)(check_random(&seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* A duration around `ns` with a coefficient of variation, quantised by the device afterwards. */
static uint64_t noisy(double ns, double cv)
{
    double x = ns * (1.0 + cv * math_normal(uniform()));

    return x > 1.0 ? (uint64_t)(x + uniform()) : 1;
}

/* ---- a device with an L2 cache: reading what was read lately is four times as fast ---- */

static double l2_bytes = 52428800.0, since_probe;   /* bytes read since the last small read          */
static uint64_t probe_at;
static double worst_sweep;                          /* the least swept before a small read           */

static uint64_t cached_kernel(const char *name, void **parameters, sim_item *item)
{
    uint64_t at, bytes;
    double   miss;

    if (!strcmp(name, "perf_gate")) {
        item->what = SIM_ITEM_GATE;
        item->address = *(uint64_t *)parameters[0];
        item->from = *(uint64_t *)parameters[1];
        return *(uint64_t *)parameters[2];
    }
    at = *(uint64_t *)parameters[0];
    bytes = *(uint64_t *)parameters[1] * 16;
    if (at != probe_at) {
        since_probe += (double)bytes;
        if ((double)bytes < l2_bytes / 2 && bytes > 1 << 20)    /* a new small buffer                */
            probe_at = at;
        return (uint64_t)((double)bytes / sim.copy_gbs);
    }
    miss = since_probe / (1.7 * l2_bytes);          /* an imperfect cache: 1.7 times its size        */
    miss = miss > 1.0 ? 1.0 : miss;
    since_probe = 0;
    return (uint64_t)((double)bytes / sim.copy_gbs * (0.25 + 0.75 * miss));
}

/* ---- benches ---- */

static int nothing_left(void)
{
    return !sim.events && !sim.allocations && !sim.modules && !sim.graphs && !sim.deadlocks;
}

static perf_gpu_bench_opts plain(perf_gpu_cache cache)
{
    perf_gpu_bench_opts o = PERF_ZERO;

    o.cache = cache;
    return o;
}

static void test_plain(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 c, runs;

    for (c = 0; c < 2; c++) {
        sim_start();
        stream = sim_stream(0);
        o = plain(c ? PERF_GPU_HOT : PERF_GPU_COLD);
        o.bytes = 20e6;
        b = perf_gpu_bench_begin("plain", stream, &o);
        runs = 0;
        while (perf_gpu_bench_next(&b)) {
            sim_work(stream, 10000);
            sim_host(30000);                        /* 30 us of host delay in every iteration        */
            runs++;
        }
        r = perf_gpu_bench_end(&b);
        CHECK(r.status == PERF_OK && r.time.count >= 30, "%s", perf_status_text(r.status));
        CHECK(r.time.p50 > 9968 && r.time.p50 < 10032, "10 us under 30 us of host delay: %g", r.time.p50);
        CHECK(r.time.p50_low <= 10000 && r.time.p50_high >= 10000, "%g %g", r.time.p50_low, r.time.p50_high);
        CHECK(!r.exposed.count && !r.idle && !r.throttled && !r.gate_timeouts, "%s", r.text);
        CHECK(r.launch.p50 >= 32500 && r.launch.p50 < 34000, "host: %g", r.launch.p50);
        CHECK(r.quantum_ns == 32.0, "quantum %.17g", r.quantum_ns);
        CHECK((uint64_t)runs == r.iterations, "%d of %g", runs, (double)r.iterations);
        CHECK(r.simulated && r.gate == 1 && r.text[0], "%s", r.text);
        CHECK(c ? r.batch > 1 && r.flush_bytes == 0 : r.batch == 1 && r.flush_bytes > 0, "batch %g", (double)r.batch);
        CHECK(c == 0 || r.quantum_ns / (r.time.p50 * (double)r.batch) <= 0.005, "quantum against sample");
        CHECK(r.gb_per_s > 1990 && r.gb_per_s < 2010 && r.peak_gb_per_s > 2900 && r.peak_gb_per_s < 3100,
              "%g %g", r.gb_per_s, r.peak_gb_per_s);
        CHECK(r.datasheet_gb_per_s > 4000 && r.datasheet_gb_per_s < 4030, "2619 MHz x 2 x 768: %g", r.datasheet_gb_per_s);
        CHECK(r.first_ns >= 10000, "cold %g", r.first_ns);
        CHECK(r.sm_mhz_low == 1980 && r.sm_mhz_high == 1980, "%u", r.sm_mhz_low);
        CHECK(nothing_left(), "left: %d events", (int)sim.events);
        CHECK(perf_gpu_bench_end(&b).status == PERF_ESTATE, "twice");
        sim_stop();
    }
}

/* Coarse event clocks: the interval may not be narrower than the step, and a warning says so. */
static void test_quantum(void)
{
    static const uint64_t quantum[] = {1, 32, 500, 1024};
    size_t                i;

    for (i = 0; i < 4; i++) {
        perf_stream         stream;
        perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
        perf_gpu_bench      b;
        perf_gpu_result     r;
        double              q = (double)quantum[i], width;

        sim_start();
        sim.quantum_ns = quantum[i];
        stream = sim_stream(0);
        b = perf_gpu_bench_begin("quantum", stream, &o);
        while (perf_gpu_bench_next(&b))
            sim_work(stream, 2613);
        r = perf_gpu_bench_end(&b);
        width = r.time.p50_high - r.time.p50_low;
        CHECK(r.quantum_ns > 0.9 * q && r.quantum_ns < 1.1 * q, "%g measured as %g", q, r.quantum_ns);
        CHECK(width >= 1.9 * r.quantum_ns, "step %g, interval %g", q, width);
        CHECK(r.time.p50_low <= 2613 && r.time.p50_high >= 2613, "%g: %g %g", q, r.time.p50_low, r.time.p50_high);
        CHECK(!(r.warnings & PERF_WARN_RESOLUTION) == (q < 0.005 * 2613), "step %g", q);
        sim_stop();

        sim_start();                            /* warm: batches make the step small               */
        sim.quantum_ns = quantum[i];
        stream = sim_stream(0);
        o.cache = PERF_GPU_HOT;
        b = perf_gpu_bench_begin("quantum, warm", stream, &o);
        while (perf_gpu_bench_next(&b))
            sim_work(stream, 2613);
        r = perf_gpu_bench_end(&b);
        CHECK(r.quantum_ns / ((double)r.batch * r.time.p50) <= 0.005, "step %g, batch %g", q, (double)r.batch);
        CHECK(r.time.p50 > 2600 && r.time.p50 < 2626 && !(r.warnings & PERF_WARN_RESOLUTION), "%g", r.time.p50);
        CHECK(r.time.p50_low <= 2613 && r.time.p50_high >= 2613, "%g: %g %g", q, r.time.p50_low, r.time.p50_high);
        sim_stop();
    }
}

static void test_flush(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    uint64_t            fills;

    sim_start();
    sim.kernel = cached_kernel;
    since_probe = worst_sweep = 0;
    probe_at = 0;
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("flush", stream, &o);
    fills = sim.calls[SIM_fill];
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.flush_bytes == 4.0 * l2_bytes, "as much as makes sure: %g", r.flush_bytes / l2_bytes);
    CHECK(sim.calls[SIM_fill] == fills, "only reads between samples: no dirty lines");
    sim_stop();

    sim_start();                                /* little memory: less, but never nothing unsaid   */
    sim.memory[0] = 140 << 20;
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("little memory", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.flush_bytes >= l2_bytes && r.flush_bytes < 3 * l2_bytes, "%g", r.flush_bytes);
    sim_stop();

    sim_start();
    sim.memory[0] = 20 << 20;
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("no memory", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.flush_bytes == 0 && r.warnings & PERF_WARN_NOT_COLD, "%s", r.text);
    CHECK(nothing_left(), "left");
    sim_stop();
}

/* A body that waits for the device: the gate opens by itself, every sample is flagged, nothing hangs.  After three in a row
 * there is no gate any more, so none opens by itself. */
static void test_self_synchronising(void)
{
    int c;

    for (c = 0; c < 2; c++) {
        perf_stream         stream;
        perf_gpu_bench_opts o = plain(c ? PERF_GPU_HOT : PERF_GPU_COLD);
        perf_gpu_bench      b;
        perf_gpu_result     r;
        size_t              i;

        sim_start();
        stream = sim_stream(0);
        b = perf_gpu_bench_begin("waits", stream, &o);
        while (perf_gpu_bench_next(&b)) {
            sim_work(stream, 10000);
            CHECK(sim_stream_sync(stream) == 0, "deadlock");
        }
        r = perf_gpu_bench_end(&b);
        CHECK(!sim.deadlocks, "%d", (int)sim.deadlocks);
        CHECK(!r.time.count && r.exposed.count == r.samples && r.samples >= 30, "%s", r.text);
        CHECK(r.status == PERF_ENODATA && r.warnings & PERF_WARN_EXPOSED, "%s", perf_status_text(r.status));
        CHECK(r.gate_timeouts >= 1 && r.gate_timeouts <= 10, "%g time-outs", (double)r.gate_timeouts);
        for (i = 0; i < r.samples; i++)
            CHECK(r.sample[i].flags == PERF_GPU_SAMPLE_EXPOSED, "sample %d: %x", (int)i, (unsigned)r.sample[i].flags);
        CHECK(sim.now < UINT64_C(8000000000), "it took %g s", (double)sim.now * 1e-9);
        CHECK(nothing_left(), "left");
        sim_stop();
    }
}

/* One of two bodies waits for the device: the other has its own batch, and no time-outs of the gate. */
static void test_ab_one_waits(void)
{
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_stream        stream;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                v;

    o.device.cache = PERF_GPU_HOT;
    sim_start();
    stream = sim_stream(0);
    ab = perf_gpu_ab_begin("one waits", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        sim_work(stream, 2000);
        if (!v)
            CHECK(sim_stream_sync(stream) == 0, "deadlock");
    }
    r = perf_gpu_ab_end(&ab);
    CHECK(r.baseline.gate_timeouts >= 3 && !r.candidate.gate_timeouts, "%g and %g time-outs",
          (double)r.baseline.gate_timeouts, (double)r.candidate.gate_timeouts);
    CHECK(r.baseline.batch == 1 && r.candidate.batch > 10, "%g and %g iterations a sample", (double)r.baseline.batch,
          (double)r.candidate.batch);
    CHECK(nothing_left(), "left");
    sim_stop();
}

/* Now and then the host is held up for longer than the gate waits: those samples, no others. */
static void test_exposed_now_and_then(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 calls = 0, delayed = 0;
    size_t              i, flagged = 0;

    sim_start();
    stream = sim_stream(0);
    o.samples = 200;
    o.warmup = 3;
    b = perf_gpu_bench_begin("now and then", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_work(stream, 5000);
        if (++calls > 20 && calls % 10 == 0) {
            sim_host(150000000);
            delayed++;
        }
        sim_work(stream, 5000);
    }
    r = perf_gpu_bench_end(&b);
    for (i = 0; i < r.samples; i++) {
        flagged += (r.sample[i].flags & PERF_GPU_SAMPLE_EXPOSED) != 0;
        CHECK(!(r.sample[i].flags & PERF_GPU_SAMPLE_EXPOSED) == (r.sample[i].ns < 20000), "%g ns", r.sample[i].ns);
    }
    CHECK(flagged >= 5 && flagged == r.exposed.count && r.time.count + flagged == r.samples, "%d of %d", (int)flagged, delayed);
    CHECK(r.time.max < 10100, "host time leaked: %g", r.time.max);
    CHECK(r.warnings & PERF_WARN_EXPOSED, "%s", r.text);
    sim_stop();
}

/* No gate at all: without the flush in front there is no proof, so nothing counts. */
static void test_no_gate(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o = plain(PERF_GPU_HOT);
    perf_gpu_bench      b;
    perf_gpu_result     r;

    o.gate_ms = -1;
    sim_start();
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("no gate", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_host(30000);
        sim_work(stream, 10000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(!r.time.count && r.exposed.count == r.samples && r.gate == 0, "%s", r.text);
    CHECK(r.exposed.p50 > 30000, "host time is in them: %g", r.exposed.p50);
    CHECK(sim.calls[SIM_host_func] == 0, "gate by host function");
    sim_stop();
}

/* Where no kernel can be loaded the gate is a host function. */
static uint64_t host_gates;
static int gate_as_item(void *stream, void (*fn)(void *), void *user)
{
    gpu_gate *w = (gpu_gate *)user;
    sim_item        i;

    (void)fn;
    host_gates++;
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_GATE;
    i.address = (uint64_t)(uintptr_t)&w->flag;
    i.from = (uint64_t)(uintptr_t)&w->out;
    i.ns = w->limit_ns;
    sim_enter_lock();
    return sim_leave(sim_submit(stream, &i));
}

static void test_host_gate(void)
{
    static perf_gpu_backend t;
    perf_stream             stream;
    perf_gpu_bench_opts     o = plain(PERF_GPU_COLD);
    perf_gpu_bench          b;
    perf_gpu_result         r;
    gpu_gate          w = {1, 0, 1000};

    gpu_gate_wait(&w);
    CHECK(w.out == 1, "open: %u", w.out);
    w.flag = 0;
    gpu_gate_wait(&w);
    CHECK(w.out == 2, "its time is up: %u", w.out);
    stands_at = sim_clock();
    w.out = 0;
    gpu_gate_wait(&w);
    CHECK(w.out == 2, "also on a clock that stands still: %u", w.out);
    stands_at = 0;
    sim_start();
    t = sim_table();
    t.module_load = NULL;
    t.host_func = gate_as_item;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("host gate", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_work(stream, 10000);
        sim_host(20000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.gate == 2 && host_gates > 30, "%s", r.text);
    CHECK(r.time.p50 > 9960 && r.time.p50 < 10040 && !r.exposed.count, "%g", r.time.p50);
    CHECK(r.flush_bytes == 4.0 * l2_bytes && sim.calls[SIM_fill] > r.samples, "written, no sweep here: %s", r.text);
    CHECK(r.quantum_ns == 32, "%g", r.quantum_ns);
    sim_stop();
}

static void test_wrong_stream(void)
{
    perf_gpu_bench_opts o;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 c, times, flagged[3] = {0, 0, 0};

    for (times = 0; times < 100; times++)
        for (c = 0; c < 3; c++) {
            perf_stream timed, other;

            sim_start();
            timed = sim_stream(0);
            other = c == 2 ? NULL : sim_stream(0);
            o = plain(c ? PERF_GPU_HOT : PERF_GPU_COLD);
            b = perf_gpu_bench_begin("wrong stream", timed, &o);
            while (perf_gpu_bench_next(&b))
                sim_work(other, noisy(10000, 0.1));
            r = perf_gpu_bench_end(&b);
            flagged[c] += r.status == PERF_ESTREAM && !r.time.count && r.warnings & PERF_WARN_STREAM;
            CHECK(nothing_left(), "left");
            sim_stop();
        }
    for (c = 0; c < 3; c++)
        CHECK(flagged[c] == 100, "%d: flagged %d of 100", c, flagged[c]);

    sim_start();                                /* half here, half there                           */
    {
        perf_stream timed = sim_stream(0), other = sim_stream(0);

        o = plain(PERF_GPU_COLD);
        b = perf_gpu_bench_begin("two streams", timed, &o);
        while (perf_gpu_bench_next(&b)) {
            sim_work(timed, 10000);
            sim_work(other, 200000);
        }
        r = perf_gpu_bench_end(&b);
        CHECK(r.warnings & PERF_WARN_STREAM && r.time.count, "%s", r.text);
    }
    sim_stop();

    sim_start();                                /* sometimes the body forgets to launch            */
    {
        perf_stream timed = sim_stream(0);
        int         n = 0;

        o = plain(PERF_GPU_COLD);
        o.samples = 100;
        b = perf_gpu_bench_begin("forgets", timed, &o);
        while (perf_gpu_bench_next(&b))
            if (++n < 1000 || n % 5)
                sim_work(timed, 10000);
        r = perf_gpu_bench_end(&b);
        CHECK(r.idle == 0 || r.time.min > 9000, "%g", r.time.min);
    }
    sim_stop();
}

/* Two events with nothing between them scatter on a real device: still nobody else's kernels. */
static uint64_t scatter;

static int scattered_record(void *event, void *stream)
{
    sim_item i;

    sim_enter_lock();
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_WORK;
    i.ns = 1000 + (uint64_t)((double)scatter * uniform());
    (void)sim_leave(sim_submit(stream, &i));
    return sim_event_record(event, stream);
}

static void test_scattered_events(void)
{
    static perf_gpu_backend t;
    int                     i, flagged, sound;

    for (scatter = 150; scatter <= 600; scatter *= 2) {
        for (i = flagged = sound = 0; i < 200; i++) {
            perf_gpu_bench_opts o = plain(i % 2 ? PERF_GPU_HOT : PERF_GPU_COLD);
            perf_gpu_bench      b;
            perf_gpu_result     r;
            perf_stream         timed, other;

            sim_start();
            t = sim_table();
            t.event_record = scattered_record;
            CHECK(perf_gpu_use(&t) == PERF_OK, "table");
            timed = sim_stream(0);
            other = i < 100 ? sim_stream(0) : timed;
            o.max_seconds = 0.1;
            b = perf_gpu_bench_begin("scattered", timed, &o);
            while (perf_gpu_bench_next(&b))
                sim_work(other, i < 100 ? i % 4 < 2 ? 3000 : 300000 : 1000);
            r = perf_gpu_bench_end(&b);
            flagged += i < 100 && r.status == PERF_ESTREAM;
            sound += i >= 100 && r.status == PERF_OK && !(r.warnings & PERF_WARN_STREAM);
            sim_stop();
        }
        /* 15 empty pairs say how far they scatter; now and then all of them lie close together. */
        CHECK(flagged >= 99, "%d ns: flagged %d of 100", (int)scatter, flagged);
        CHECK(sound == 100, "%d ns: %d of 100 kernels of 1 us taken as they are", (int)scatter, sound);
    }
}

static void test_idle_samples(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    perf_stream         timed;
    int                 n = 0;

    sim_start();
    timed = sim_stream(0);
    o.samples = 100;
    o.warmup = 3;
    b = perf_gpu_bench_begin("forgets", timed, &o);
    while (perf_gpu_bench_next(&b))
        if (++n < 20 || n % 5)
            sim_work(timed, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.idle >= 15 && r.idle <= 25, "%g idle", (double)r.idle);
    CHECK(r.time.min > 9000 && r.warnings & PERF_WARN_STREAM, "never mixed in: %g", r.time.min);
    sim_stop();
}

static void test_throttling(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 n = 0;
    size_t              i;

    sim_start();
    stream = sim_stream(0);
    o.samples = 100;
    o.warmup = 3;
    b = perf_gpu_bench_begin("hot device", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        int hot = ++n > 60;
        sim.sm_mhz = hot ? 1200 : 1980;
        sim.throttle = hot ? 0x40 : 0x1;        /* idleness is no throttling                       */
        sim_work(stream, hot ? 16500 : 10000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.samples == 119 && r.time.count == 100, "taken again, then as it is: %d", (int)r.time.count);
    CHECK(r.throttled >= 59 && r.throttled <= 79 && r.throttle & 0x40, "%g", (double)r.throttled);
    CHECK(r.warnings & PERF_WARN_THROTTLED && r.throttle == 0x41, "%s", r.text);
    CHECK(r.sm_mhz_low == 1200 && r.sm_mhz_high == 1980, "%u %u", r.sm_mhz_low, r.sm_mhz_high);
    for (i = 0; i < r.samples; i++)
        CHECK(!(r.sample[i].flags & PERF_GPU_SAMPLE_THROTTLED) == (r.sample[i].sm_mhz == 1980), "sample %d", (int)i);
    sim_stop();

    sim_start();                                /* all of them: still a result                     */
    stream = sim_stream(0);
    sim.throttle = 0x4;
    b = perf_gpu_bench_begin("power cap", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.time.count == 100 && r.throttled == 119 && r.throttle == 4, "%s", r.text);
    sim_stop();

    sim_start();                                /* now and then: none of them in the time */
    stream = sim_stream(0);
    sim.persisting = 1 << 20;
    b = perf_gpu_bench_begin("now and then hot", stream, &o);
    for (n = 0; perf_gpu_bench_next(&b); n++) {
        sim.throttle = n % 20 > 14 ? 0x20 : 0;
        sim_work(stream, n % 20 > 14 ? 16500 : 10000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.time.count == 100 && r.throttled > 20 && r.samples == 100 + r.throttled, "%g of %g", (double)r.throttled,
          (double)r.samples);
    CHECK(r.time.max < 11000 && r.warnings & PERF_WARN_THROTTLED, "%g", r.time.max);
    CHECK(sim.calls[SIM_l2_release] >= r.samples, "%g", (double)sim.calls[SIM_l2_release]);
    sim_stop();

    sim_start();                                /* slow and hot: the time is too short to wait for better ones */
    stream = sim_stream(0);
    sim.throttle = 0x4;
    o.samples = 0;
    b = perf_gpu_bench_begin("slow and hot", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 150e6);
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count >= 3, "%s: %d of %d", r.text, (int)r.time.count, (int)r.samples);
    sim_stop();
}

/* Only one of the two draws so much: that is how it runs, and there is a verdict. */
static void test_throttling_one(void)
{
    perf_stream        stream;
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                v;

    sim_start();
    stream = sim_stream(0);
    o.device.warmup = 3;
    o.seed = 1;
    ab = perf_gpu_ab_begin("hot and cool", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        sim.throttle = v ? 0 : 0x4;
        sim_work(stream, noisy(v ? 10000 : 20000, 0.01));
    }
    r = perf_gpu_ab_end(&ab);
    CHECK(r.verdict.decision == PERF_ACCEPT && r.baseline.throttled >= r.baseline.time.count, "%s: %s, %d pairs",
          r.verdict.reason, r.baseline.text, (int)r.verdict.pairs);
    CHECK(!r.candidate.throttled, "%s", r.candidate.text);
    sim_stop();
}

/* The clock rises for 60 ms after the first launch: no sample may be taken on the way up. */
static void test_warm_up(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o = plain(PERF_GPU_HOT);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    uint64_t            began;

    sim_start();
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("rising clock", stream, &o);
    began = sim.now;
    while (perf_gpu_bench_next(&b)) {
        double up = (double)(sim.now - began) / 60e6;
        sim.sm_mhz = (unsigned)(up < 1.0 ? 345 + 1635 * up : 1980);
        sim_work(stream, (uint64_t)(10000.0 * 1980 / sim.sm_mhz));
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.sm_mhz_low >= 1900, "sampled at %u MHz", r.sm_mhz_low);
    CHECK(r.time.max < 10500, "%g", r.time.max);
    sim_stop();

    sim_start();
    stream = sim_stream(0);
    o.warmup = 3;
    o.samples = 3;
    o.batch = 1;
    b = perf_gpu_bench_begin("three", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 50000000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.iterations >= 6 && r.time.count == 3, "three launches come first: %g", (double)r.iterations);
    sim_stop();
}

static void test_graph(void)
{
    perf_stream         stream;
    perf_gpu_bench_opts o;
    perf_gpu_bench      b;
    perf_gpu_result     r;
    int                 c, runs;

    for (c = 0; c < 4; c++) {                   /* 2: a body that may not be captured; 3: NULL      */
        sim_start();
        stream = sim_stream(0);
        if (c == 3)
            stream = NULL;
        o = plain(c & 1 ? PERF_GPU_HOT : PERF_GPU_COLD);
        o.graph = 1;
        runs = 0;
        b = perf_gpu_bench_begin("graph", stream, &o);
        while (perf_gpu_bench_next(&b)) {
            sim_work(stream, 3000);
            if (c == 2 && ((sim_stream *)stream)->capturing)
                ((sim_stream *)stream)->capturing = 2;      /* as an illegal call would              */
            runs++;
        }
        r = perf_gpu_bench_end(&b);
        CHECK(r.status == PERF_OK && r.time.count >= 30, "%d: %s", c, r.text);
        CHECK(r.time.p50 > 2960 && r.time.p50 < 3040, "%d: %g", c, r.time.p50);
        CHECK(r.graph == (c < 2) && !(r.warnings & PERF_WARN_NO_GRAPH) == (c < 2), "%d: %s", c, r.text);
        CHECK(c < 2 ? r.code == 0 : r.code >= 900, "%d: code %d", c, r.code);
        CHECK(c || sim.calls[SIM_graph_launch] >= 30, "%d launches", (int)sim.calls[SIM_graph_launch]);
        CHECK(!r.exposed.count, "%s", r.text);
        CHECK(nothing_left(), "%d: %d graphs left", c, (int)sim.graphs);
        sim_stop();
    }
}

/* A graph holds more launches than the driver's queue: without one it is the plain batch again. */
static void test_no_graph(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_HOT);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    perf_stream         stream;
    int                 c;

    for (c = 0; c < 2; c++) {
        sim_start();
        stream = sim_stream(0);
        o.graph = 1;
        if (c)
            sim_fail(SIM_capture_begin, 1, 900, 0);
        b = perf_gpu_bench_begin("no graph", stream, &o);
        while (perf_gpu_bench_next(&b)) {
            sim_work(stream, 50);
            if (((sim_stream *)stream)->capturing)
                ((sim_stream *)stream)->capturing = 2;
        }
        r = perf_gpu_bench_end(&b);
        CHECK(r.status == PERF_OK && !r.graph && r.batch <= 512, "%d: %d launches a sample", c, (int)r.batch);
        CHECK(r.code >= 900 && r.code < 910 && r.warnings & PERF_WARN_NO_GRAPH, "%d: %s", c, r.text);
        CHECK(nothing_left(), "left");
        sim_stop();
    }
}

/* Shorter than the step of the event clock. */
static void test_nothing_seen(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    perf_stream         stream;

    sim_start();
    sim.quantum_ns = 1024;
    stream = sim_stream(0);
    o.bytes = 1000;
    b = perf_gpu_bench_begin("nothing seen", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 100);
    r = perf_gpu_bench_end(&b);
    CHECK(r.time.p50 <= 0 && r.time.p50_high >= 1024 && r.warnings & PERF_WARN_RESOLUTION, "%g %g", r.time.p50, r.time.p50_high);
    CHECK(r.gb_per_s == 0 && r.datasheet_gb_per_s > 0, "%g GB/s: %s", r.gb_per_s, r.text);
    sim_stop();
}

/* Errors that end a loop are told like those of scopes; a driver that has ended is left alone. */
static void test_errors(void)
{
    static const int codes[] = {3, 201, 700, 4};
    int              c, n;

    for (c = 0; c < 4; c++) {
        perf_gpu_bench  b;
        perf_gpu_result r;
        perf_stream     stream;

        sim_start();
        perf_reset();
        stream = sim_stream(0);
        if (c < 3)
            sim_fail(c < 2 ? SIM_ctx_get : SIM_event_record, c < 2 ? 1 : 40, codes[c], 0);
        b = perf_gpu_bench_begin("errors", stream, NULL);
        for (n = 0; perf_gpu_bench_next(&b); n++) {
            sim_work(stream, 10000);
            sim.down = c == 3 && n > 60;
        }
        r = perf_gpu_bench_end(&b);
        CHECK(r.code == codes[c] && r.status == (c < 2 ? PERF_ENOGPU : PERF_EGPU), "%d: %s", codes[c], r.text);
        CHECK(perf_gpu_stats_of(NULL).error == (c < 2 ? 0 : codes[c]), "%d: %d", codes[c], perf_gpu_stats_of(NULL).error);
        CHECK(!*perf_gpu_error_text() == (c < 2), "%s", perf_gpu_error_text());
        CHECK(sim.calls_down <= 1, "%d calls after the end", (int)sim.calls_down);
        CHECK(c == 3 || nothing_left(), "left");
        sim.down = 0;
        perf_reset();
        sim_stop();
    }
}

static float odd_ms;
static int   odd_after;                         /* so many answers are right */

static int odd_elapsed(float *ms, void *start, void *stop)
{
    int code = sim_event_elapsed(ms, start, stop);

    if (!code && odd_after-- <= 0)
        *ms = odd_ms;
    return code;
}

/* What is no length of time ends the loop, and never becomes a sample; those before it stay. */
static void test_odd_times(void)
{
    static const float      odd[] = {1e30f, 2e11f, -3e38f, 0.0f};       /* 0: made to NaN */
    static perf_gpu_backend t;
    int                     i, late;

    for (i = 0; i < 4; i++)
        for (late = 0; late < 2; late++) {
            perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
            perf_gpu_bench      b;
            perf_gpu_result     r;
            perf_stream         stream;

            sim_start();
            perf_reset();
            t = *perf_gpu_table();
            t.event_elapsed = odd_elapsed;
            (void)perf_gpu_use(&t);
            stream = sim_stream(0);
            odd_after = late ? 1000 : 0;
            odd_ms = odd[i];
            if (i == 3)
                memset(&odd_ms, 0xff, sizeof odd_ms);
            o.samples = 2000;
            b = perf_gpu_bench_begin("odd times", stream, &o);
            while (perf_gpu_bench_next(&b))
                sim_work(stream, 10000);
            r = perf_gpu_bench_end(&b);
            CHECK(r.status == PERF_EGPU && r.code == 999 && strstr(r.text, "error 999"), "%d: %s", r.code, r.text);
            CHECK(late ? r.time.count > 100 && r.time.max < 20000 && r.time.min > 9000 : !r.time.count, "%g: %g to %g",
                  (double)r.time.count, r.time.min, r.time.max);
            CHECK(perf_gpu_stats_of(NULL).error == 999 && nothing_left(), "%s", perf_gpu_error_text());
            perf_reset();
            sim_stop();
        }
}

/* The stop rule of the issue: 10 us, 3.2 % of noise, at most 1,000 samples, coverage >= 94 %. */
static void test_stop_rule(int runs)
{
    double   sum = 0;
    uint64_t most = 0;
    int      covered = 0, narrow = 0, i;

    for (i = 0; i < runs; i++) {
        perf_stream         stream;
        perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
        perf_gpu_bench      b;
        perf_gpu_result     r;

        sim_start();
        stream = sim_stream(0);
        o.warmup = 3;
        b = perf_gpu_bench_begin("stop rule", stream, &o);
        while (perf_gpu_bench_next(&b))
            sim_work(stream, noisy(10000, 0.032));
        r = perf_gpu_bench_end(&b);
        sum += (double)r.samples;
        most = r.samples > most ? r.samples : most;
        covered += r.time.p50_low <= 10000 && 10000 <= r.time.p50_high;
        narrow += r.time.p50_high - r.time.p50_low <= 0.01 * 10000 + 2.02 * r.quantum_ns;
        sim_stop();
    }
    printf("stop rule: %d runs, %.0f samples on average, most %d, coverage %.1f %%, narrow enough %.0f %%\n",
           runs, sum / runs, (int)most, 100.0 * covered / runs, 100.0 * narrow / runs);
    CHECK(most <= 1000, "%d", (int)most);
    CHECK(covered >= 0.94 * runs, "%d of %d", covered, runs);
    CHECK(narrow >= 0.9 * runs, "%d of %d", narrow, runs);
}

/* ---- A/B ---- */

static perf_gpu_ab_result compare(double a, double b, double cv, int graph, double *used)
{
    perf_stream        stream;
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                v;

    sim_start();
    stream = sim_stream(0);
    o.device.warmup = 3;
    o.device.graph = graph;
    o.seed = check_random(&seed) | 1;
    ab = perf_gpu_ab_begin("compare", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        double drift = 1.0 + 0.1 * (double)((sim.now / 7000000) % 10);   /* of both alike           */
        sim_work(stream, noisy((v ? b : a) * (graph ? 1.0 : drift), cv));
        sim_host(v ? 20000 : 3000);
    }
    r = perf_gpu_ab_end(&ab);
    *used += (double)r.verdict.pairs;
    CHECK(perf_gpu_ab_end(&ab).status == PERF_ESTATE, "twice");
    CHECK(nothing_left(), "left");
    sim_stop();
    return r;
}

static void test_ab(void)
{
    double used = 0;
    int    i, wrong = 0, yes = 0, inside = 0;

    for (i = 0; i < 40; i++) {
        perf_gpu_ab_result r = compare(20000, 10000, 0.05, 0, &used);   /* 2x                      */
        yes += r.verdict.decision == PERF_ACCEPT;
        inside += r.verdict.speedup.low <= 2.02 && r.verdict.speedup.high >= 1.98;
    }
    CHECK(yes == 40, "%d of 40 accepted", yes);
    CHECK(inside >= 35, "2x inside the interval %d times of 40", inside);
    printf("A/B: 2x against 1.3x after %.0f pairs on average\n", used / 40);
    for (i = 0; i < 200; i++) {                 /* the same twice: an ACCEPT is wrong              */
        perf_gpu_ab_result r = compare(10000, 10000, 0.05, 0, &used);
        wrong += r.verdict.decision == PERF_ACCEPT;
    }
    CHECK(wrong <= 10, "%d of 200 wrong", wrong);
    {
        perf_gpu_ab_result r = compare(20000, 10000, 0, 1, &used);
        CHECK(r.verdict.decision == PERF_ACCEPT && r.baseline.graph && r.candidate.graph, "%s", r.candidate.text);
    }
}

/* Arms of one median and two shapes: a mode of its own in 3 of 10 against scatter to both sides. */
static void test_ab_shape(void)
{
    int    i, said[2] = {0, 0};
    double used = 0;

    for (i = 0; i < 40; i++) {
        perf_gpu_ab_opts   o = PERF_ZERO;
        perf_gpu_ab        ab;
        perf_gpu_ab_result r;
        perf_stream        stream;
        int                v;

        sim_start();
        stream = sim_stream(0);
        o.seed = check_random(&seed) | 1;
        o.min_pairs = 200;
        ab = perf_gpu_ab_begin("shape", stream, &o);
        while ((v = perf_gpu_ab_next(&ab)) >= 0)
            sim_work(stream, v && i % 2 ? uniform() < 0.3 ? noisy(9000, 0.005) : noisy(6000, 0.005) : noisy(v ? 6000 : 10000, 0.02));
        r = perf_gpu_ab_end(&ab);
        CHECK(r.verdict.decision == PERF_ACCEPT, "%s", r.verdict.reason);
        said[i % 2] += (r.verdict.warnings & r.warnings & PERF_WARN_SHAPE) != 0;
        sim_stop();
        sim_start();                            /* wrong outputs stay the reason                  */
        stream = sim_stream(0);
        o.accept.guard.seen.compared = 1;
        o.accept.guard.seen.max_abs = o.accept.guard.seen.max_rel = 1.0;
        ab = perf_gpu_ab_begin("wrong", stream, &o);
        while ((v = perf_gpu_ab_next(&ab)) >= 0)
            sim_work(stream, v ? uniform() < 0.3 ? noisy(9000, 0.005) : noisy(6000, 0.005) : noisy(10000, 0.02));
        r = perf_gpu_ab_end(&ab);
        CHECK(r.verdict.decision == PERF_REJECT && strstr(r.verdict.reason, "outputs"), "%s", r.verdict.reason);
        sim_stop();
    }
    CHECK(said[1] >= 18 && said[0] <= 2, "%d of 20 of two shapes, %d of 20 of one", said[1], said[0]);
    for (i = 0, said[0] = 0; i < 40; i++)       /* nothing scatters but the step of the event clock */
        said[0] += (compare(20000 + 1000 * i, 10000 + 777 * i, 0, 0, &used).verdict.warnings & PERF_WARN_SHAPE) != 0;
    CHECK(said[0] <= 1, "%d of 40 of no scatter", said[0]);
}

static void test_ab_exposed(void)
{
    perf_stream        stream;
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                v;

    sim_start();                                /* a candidate that waits: never a verdict         */
    stream = sim_stream(0);
    ab = perf_gpu_ab_begin("waits", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        sim_work(stream, v ? 1000 : 10000);
        if (v)
            (void)sim_stream_sync(stream);
    }
    r = perf_gpu_ab_end(&ab);
    CHECK(r.verdict.decision == PERF_INCONCLUSIVE && r.candidate.exposed.count >= 30, "%s", r.candidate.text);
    CHECK(r.status != PERF_OK && !r.candidate.time.count, "%d", r.status);
    CHECK(!sim.deadlocks && nothing_left(), "left");
    o.accept.rule.metric = PERF_METRIC_MEMORY;
    ab = perf_gpu_ab_begin("memory", stream, &o);
    CHECK(perf_gpu_ab_next(&ab) == -1, "must refuse");
    r = perf_gpu_ab_end(&ab);
    CHECK(r.status == PERF_EINVAL && r.verdict.decision == PERF_INCONCLUSIVE, "%d", r.status);
    sim_stop();
}

/* ---- where things go wrong ---- */

static void test_nowhere(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = plain(PERF_GPU_HOT);
    perf_gpu_bench          b;
    perf_gpu_result         r;
    perf_stream             stream;
    int                     n = 0;

    memset(&b, 0, sizeof b);
    CHECK(perf_gpu_bench_end(&b).status == PERF_ESTATE && perf_gpu_bench_end(NULL).status == PERF_ESTATE, "no begin");
    CHECK(!perf_gpu_bench_next(&b), "no begin");
    sim_start();
    b = perf_gpu_bench_begin("no context", NULL, NULL);
    CHECK(!perf_gpu_bench_next(&b), "no context");
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_ENOGPU && !r.time.count && sim.contexts == 0, "%s", r.text);
    CHECK(r.text[0], "no text");

    stream = sim_stream(0);                     /* left in the middle of a sample                  */
    b = perf_gpu_bench_begin("left", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_work(stream, 10000);
        if (++n == 9000)
            break;
        if (n > 400 && n % 7 == 0 && n > 700)
            break;
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.warnings & PERF_WARN_STOPPED && nothing_left(), "left");
    CHECK(sim_stream_sync(stream) == 0, "still held back");

    CHECK(sim_capture_begin(stream, 0) == 0, "capture");
    b = perf_gpu_bench_begin("captured", stream, &o);
    CHECK(!perf_gpu_bench_next(&b) && perf_gpu_bench_end(&b).status == PERF_ESTATE, "captured stream");
    CHECK(!sim.spoilt, "the capture lives");
    sim_stop();

    sim_start();                                /* another context is current: put back            */
    stream = sim_stream(1);
    sim_device(0);
    b = perf_gpu_bench_begin("other device", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        void *now = NULL;
        (void)sim_ctx_get(&now);
        CHECK(now == sim.ctx[0], "context");
        sim_work(stream, 10000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count >= 30 && !sim.wrong_context, "%s", r.text);
    CHECK(sim_depth == 1 && sim_stack[0] == sim.ctx[0], "context");
    sim_stop();

    sim_start();                                /* a bare table: the first nine                    */
    memset(&t, 0, sizeof t);
    t.size = sizeof t;
    t.name = "bare";
    t.ctx_get = sim_ctx_get;
    t.event_create = sim_event_create;
    t.event_destroy = sim_event_destroy;
    t.event_record = sim_event_record;
    t.event_query = sim_event_query;
    t.event_sync = sim_event_sync;
    t.event_elapsed = sim_event_elapsed;
    t.stream_query = sim_stream_query;
    t.stream_sync = sim_stream_sync;
    t.device_clock = sim_device_clock;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    stream = sim_stream(0);
    o.graph = 1;
    b = perf_gpu_bench_begin("bare", stream, &o);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    CHECK(r.gate == 0 && !r.time.count && r.exposed.count && r.warnings & PERF_WARN_NO_GRAPH, "%s", r.text);
    CHECK(nothing_left(), "left");
    sim_stop();
}

static void test_report(void)
{
    static char text[60000];
    double      used = 0;
    size_t      n;

    (void)compare(20000, 10000, 0.05, 0, &used);
    n = perf_report_text(text, sizeof text, NULL);

    CHECK(n < sizeof text, "%d", (int)n);
    CHECK(strstr(text, "plain") && strstr(text, "event step 32.0 ns") && strstr(text, "compare, baseline"), "%.2000s", text);
}

/* The samples of a result stay until the program ends, also where the report forgets the loop. */
static void test_kept(void)
{
    perf_gpu_result r;
    perf_gpu_bench  b;
    perf_stream     stream;
    uint64_t        i, alike = 0;

    sim_start();
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("kept", stream, NULL);
    while (perf_gpu_bench_next(&b))
        sim_work(stream, 10000);
    r = perf_gpu_bench_end(&b);
    perf_reset();
    for (i = 0; i < r.samples; i++)
        alike += r.sample[i].ns > 9900 && r.sample[i].ns < 10100;
    CHECK(r.samples >= 30 && alike == r.samples, "%g of %g", (double)alike, (double)r.samples);
    sim_stop();
}

/* Writers of result files read the slices of every loop, those of a device too. */
static void test_results(void)
{
    static char text[400000];
    double      used = 0;
    size_t      n;
    FILE       *f;

    perf_reset();
    (void)compare(20000, 10000, 0.05, 0, &used);
    f = tmpfile();
    n = 0;
    if (f && results_to(f, NULL) == PERF_OK) {
        rewind(f);
        n = fread(text, 1, sizeof text - 1, f);
    }
    text[n] = '\0';
    if (f)
        fclose(f);
    CHECK(n && n < sizeof text - 1 && strstr(text, "\"compare\"") && strstr(text, "\"pairs\""), "%lu: %.2000s",
          (unsigned long)n, text);
    CHECK(strstr(text, "\"step\":32,"), "the step of the events, not of the host's clock: %.2000s", text);
}

/* ---- what stands beside a loop, and what the host does to it ---- */

static perf_gpu_result run_body(const perf_gpu_bench_opts *o, void (*body)(perf_stream), perf_stream stream)
{
    perf_gpu_bench b = perf_gpu_bench_begin("body", stream, o);

    while (perf_gpu_bench_next(&b))
        body(stream);
    return perf_gpu_bench_end(&b);
}

static void plain_body(perf_stream stream)
{
    (void)sim_work(stream, 10000);
}

static const char *device_now;

static int name_now(char *name, int cap, int device)
{
    (void)device;
    if (!device_now)
        return 101;
    snprintf(name, (size_t)cap, "%s", device_now);
    return 0;
}

/* A baseline of one device is none of another's; one that is not told may be any. */
static void test_another_device(void)
{
    static const char *const device[] = {"device A", "device \"B\"", NULL};
    char                    file[64];          /* of this process alone: two builds of this test run at once */
    perf_results_opts       opts = PERF_ZERO;
    perf_baseline_opts      check = PERF_ZERO;
    perf_gpu_bench_opts     o = plain(PERF_GPU_HOT);
    perf_gpu_backend        table = sim_table();
    perf_baseline           b;
    char                    run[16];
    int                     i;

    table.device_name = name_now;
    snprintf(file, sizeof file, "another-device-%ld.json", (long)getpid());
    (void)remove(file);
    for (i = 0; i < 9; i++) {
        device_now = device[i < 6 ? 0 : i - 6];
        perf_reset();
        sim_start();
        CHECK(perf_gpu_use(&table) == PERF_OK, "table");
        (void)run_body(&o, plain_body, sim_stream(0));
        snprintf(run, sizeof run, "%d", i);
        opts.run = run;
        opts.time_s = 1.7e9 + 3600 * i;
        opts.no_scopes = 1;
        if (i < 6) {
            CHECK(perf_baseline_add(file, &opts) == PERF_OK, "added");
            continue;
        }
        check.now = opts;
        b = perf_baseline_check(file, &check);
        CHECK(b.status == PERF_OK && b.entries == 1 && b.other_runs == (i == 7 ? 6u : 0u), "%d: %d other runs", i,
              (int)b.other_runs);
        CHECK(i != 7 || (b.entry[0].verdict.decision == PERF_INCONCLUSIVE && strstr(b.other, "device A")), "%s", b.other);
        perf_baseline_free(&b);
        sim_stop();
    }
    (void)remove(file);
}

static void slow_body(perf_stream stream)
{
    (void)sim_work(stream, 400000000);
}

static uint64_t fail_at;

static void failing_body(perf_stream stream)
{
    if (fail_at && sim.now > fail_at) {
        sim_fail(SIM_event_sync, 1, 700, 0);
        fail_at = 0;
    }
    (void)sim_work(stream, 1000000);
}

/* A kernel that never ends, on another stream: nothing waits for it, and it is not the body's. */
static void test_persistent(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;
    int                 c;

    for (c = 0; c < 2; c++) {
        sim_start();
        (void)sim_work(sim_stream(0), UINT64_MAX / 4);
        stream = sim_stream(0);
        o.cache = c ? PERF_GPU_HOT : PERF_GPU_COLD;
        r = run_body(&o, plain_body, stream);
        CHECK(r.status == PERF_OK && r.time.p50 > 9900 && r.time.p50 < 10100, "%g: %s", r.time.p50, r.text);
        CHECK(!(r.warnings & PERF_WARN_STREAM) && sim.now < UINT64_MAX / 8, "%s", r.text);
        sim_stop();
    }
}

static perf_stream elsewhere;

static void forked_body(perf_stream stream)
{
    (void)sim_work(stream, 10000);
    (void)sim_work(elsewhere, 300000);
}

/* Work of another thread comes and goes: not the body's either; the body's own still is. */
static void test_others(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;
    perf_gpu_bench      b;

    sim_start();
    elsewhere = sim_stream(0);
    stream = sim_stream(0);
    r = run_body(&o, forked_body, stream);
    CHECK(r.warnings & PERF_WARN_STREAM, "%s", r.text);
    sim_stop();

    sim_start();
    elsewhere = sim_stream(0);
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("others", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_host(1000);
        if (sim.now % 4096 < 2048)                      /* "another thread" */
            (void)sim_work(elsewhere, 200000);
        (void)sim_work(stream, 10000);
        sim_host(250000);
    }
    r = perf_gpu_bench_end(&b);
    CHECK(r.time.count || r.exposed.count, "%s", r.text);
    sim_stop();
}

/* CUDA_LAUNCH_BLOCKING=1: seen at once, and timed with the events inside a graph. */
static void test_serialised(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;
    perf_gpu_bench      b;
    uint64_t            began;
    int                 c;

    for (c = 0; c < 2; c++) {
        sim_start();
        sim.serial = 1;
        stream = sim_stream(0);
        o.cache = c ? PERF_GPU_HOT : PERF_GPU_COLD;
        began = sim.now;
        b = perf_gpu_bench_begin("serialised", stream, &o);
        CHECK(perf_gpu_bench_next(&b) == 1 && sim.now - began < 100000000, "%g ns", (double)(sim.now - began));
        do
            plain_body(stream);
        while (perf_gpu_bench_next(&b));
        r = perf_gpu_bench_end(&b);
        CHECK(r.status == PERF_OK && r.serialised && r.graph, "%s", r.text);
        CHECK(r.time.p50 > 9900 && r.time.p50 < 10100 && !r.exposed.count, "%g: %s", r.time.p50, r.text);
        CHECK(sim.now - began < UINT64_C(2000000000), "%s", r.text);
        CHECK(nothing_left(), "left");
        sim_stop();
    }

    /* Launches that take twice the time of a gate of 10 us are slow, not serialised. */
    sim_start();
    sim.cost[SIM_launch] = 20000;
    stream = sim_stream(0);
    o.gate_ms = 0.01;
    r = run_body(&o, plain_body, stream);
    CHECK(r.status == PERF_OK && !r.serialised, "%s", r.text);
    CHECK(nothing_left(), "left");
    o.gate_ms = 0;
    sim_stop();

    /* Where no graph can do it, nothing is claimed. */
    {
        static perf_gpu_backend t;
        sim_start();
        t = sim_table();
        t.error_waits = NULL;
        t.event_record_flags = NULL;
        (void)perf_gpu_use(&t);
        sim.serial = 1;
        stream = sim_stream(0);
        r = run_body(&o, plain_body, stream);
        CHECK(!r.time.count && r.exposed.count && r.serialised && !r.graph, "%s", r.text);
        sim_stop();
    }
}

static void long_body(perf_stream stream)
{
    int i;

    for (i = 0; i < 2500; i++)
        (void)sim_work(stream, 5000);
}

/* More launches than the driver's queue holds: behind a gate they would never all be in. */
static void test_many_launches(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;

    sim_start();
    sim.queue = 1024;
    stream = sim_stream(0);
    o.max_seconds = 5;
    r = run_body(&o, long_body, stream);
    CHECK(r.status == PERF_OK && r.graph && r.time.count >= 3, "%s", r.text);
    CHECK(r.time.p50 > 12.4e6 && r.time.p50 < 12.6e6, "%g: %s", r.time.p50, r.text);
    sim_stop();
}

static uint64_t ramp_from;

static void ramp_body(perf_stream stream)
{
    double t = (double)(sim.now - ramp_from) * 1e-6;    /* ms: twice as slow at first, 40 ms long */

    (void)sim_work(stream, (uint64_t)(t < 40 ? 20000 - 250 * t : 10000));
}

/* A clock that reads the same while the kernel still gets faster: it was not read anew. */
static void test_stale_clock(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;

    sim_start();
    stream = sim_stream(0);
    o.samples = 30;
    ramp_from = sim.now + 10000000;                     /* about when the loop begins */
    r = run_body(&o, ramp_body, stream);
    CHECK(r.time.max < 10300, "warm after %g ns: %s", r.time.max, r.text);
    sim_stop();
}

/* 300 W for 10 us: 3 mJ, whatever the cache; inside the bounds, which the steps of the meter set. */
static void test_energy(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_stream         stream;
    perf_gpu_result     r;
    int                 c;

    for (c = 0; c < 4; c++) {
        sim_start();
        sim.meter_ns = c ? 20000000 : 100000000;
        sim.cost[SIM_graph_launch] = 1000;
        stream = sim_stream(0);
        o.energy = 1;
        o.cache = c ? PERF_GPU_HOT : PERF_GPU_COLD;
        o.graph = c == 2;
        if (c == 3)
            sim.watts = 0;                      /* no meter */
        r = run_body(&o, plain_body, stream);
        CHECK(r.status == PERF_OK && r.opts.energy == 1, "%s", r.text);
        if (c == 3) {
            CHECK(r.joules == 0 && r.watts == 0 && r.celsius == 0 && r.busy == 0, "%g J", r.joules);
        } else {
            CHECK(r.joules_low < 3.03e-3 && r.joules_high > 3e-3, "%d: %g to %g J", c, r.joules_low, r.joules_high);
            CHECK(r.joules > r.joules_low && r.joules < r.joules_high, "%g J", r.joules);
            CHECK(r.joules_high - r.joules_low < 0.07 * r.joules, "%g to %g J", r.joules_low, r.joules_high);
            CHECK(r.watts > 290 && r.watts < 310 && r.celsius == 61 && r.busy == 98, "%g W", r.watts);
        }
        CHECK(nothing_left(), "left");
        sim_stop();
    }
    sim_start();                                /* a body of 0.4 s: three rounds, and still an answer */
    stream = sim_stream(0);
    o.graph = 0;
    o.max_seconds = 1;
    r = run_body(&o, slow_body, stream);
    CHECK(r.joules_low <= 120 && r.joules_high >= 120, "%g to %g J", r.joules_low, r.joules_high);
    sim_stop();
    sim_start();                                /* the driver fails meanwhile: what was measured stays */
    stream = sim_stream(0);
    fail_at = sim.now + 1500000000;
    o.max_seconds = 0.2;
    o.energy = 3;
    r = run_body(&o, failing_body, stream);
    CHECK(r.status == PERF_EGPU && r.time.count >= 30 && nothing_left(), "%s", r.text);
    sim_stop();
}

static void test_energy_ab(void)
{
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    perf_stream        stream;
    int                v;

    sim_start();
    stream = sim_stream(0);
    o.device.energy = 0.5;
    o.seed = 1;
    ab = perf_gpu_ab_begin("energy of two", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        (void)sim_work(stream, v ? 10000 : 20000);
    r = perf_gpu_ab_end(&ab);
    CHECK(r.verdict.decision == PERF_ACCEPT, "%s", r.verdict.reason);
    CHECK(r.baseline.joules_low <= 6e-3 && r.baseline.joules_high >= 6e-3, "%g J", r.baseline.joules);
    CHECK(r.candidate.joules_low <= 3e-3 && r.candidate.joules_high >= 3e-3, "%g J", r.candidate.joules);
    sim_stop();
}

/* Each body once, all of it between the profiler's start and stop; also where it is left early. */
static void test_profile(void)
{
    perf_gpu_ab_opts o = PERF_ZERO;
    perf_gpu_bench   b;
    perf_gpu_result  r;
    perf_gpu_ab      ab;
    perf_stream      stream;
    int              v, runs[2] = {0, 0};

    sim_start();
    stream = sim_stream(0);
    o.device.profile = 1;
    b = perf_gpu_bench_begin("profile", stream, &o.device);
    CHECK(!sim.profiled, "what stands before the loop is not in the profile");
    while (perf_gpu_bench_next(&b)) {
        CHECK(sim.profiled, "not recorded");
        plain_body(stream);
        runs[0]++;
    }
    CHECK(!sim.profiled && sim_stream_query(stream) == 0, "stopped when the body was done");
    r = perf_gpu_bench_end(&b);
    CHECK(runs[0] == 1 && r.iterations == 1 && !r.time.count && r.status == PERF_ENODATA, "%s", r.text);
    CHECK(sim.calls[SIM_profiler_start] == 1 && sim.calls[SIM_profiler_stop] == 1 && !sim.calls[SIM_launch], "once");
    ab = perf_gpu_ab_begin("profile of two", stream, &o);
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        runs[v]++;
    CHECK(runs[0] == 2 && runs[1] == 1 && !sim.profiled, "%d and %d", runs[0], runs[1]);
    CHECK(perf_gpu_ab_end(&ab).status == PERF_ENODATA, "no verdict");
    b = perf_gpu_bench_begin("left", stream, &o.device);
    CHECK(perf_gpu_bench_next(&b) && sim.profiled, "recorded");
    (void)perf_gpu_bench_end(&b);
    CHECK(!sim.profiled && nothing_left(), "left");
    sim_stop();
}

/* PERF_VARIANT lets one body of two run: alone, in graphs, for joules and for a profiler. */
static void test_forced(void)
{
    perf_gpu_ab_result r;
    perf_gpu_ab_opts   o;
    perf_gpu_ab        ab;
    perf_stream        stream;
    char               report[8192];
    int                c, v, want, runs[2];

    for (c = 0; c < 8; c++) {
        want = c % 2;
        setenv("PERF_VARIANT", want ? "other=A,forced=1" : "forced=A", 1);
        memset(&o, 0, sizeof o);
        o.device.graph = c / 2 == 1;
        o.device.energy = c / 2 == 2 ? 0.5 : 0;
        o.device.profile = c / 2 == 3;
        o.seed = 1;
        sim_start();
        stream = sim_stream(0);
        runs[0] = runs[1] = 0;
        ab = perf_gpu_ab_begin("forced", stream, &o);
        while ((v = perf_gpu_ab_next(&ab)) >= 0) {
            (void)sim_work(stream, v ? 10000 : 20000);
            runs[v]++;
        }
        r = perf_gpu_ab_end(&ab);
        CHECK(runs[want] && !runs[!want], "%d: %d and %d", c, runs[0], runs[1]);
        CHECK(r.forced && r.verdict.decision == PERF_INCONCLUSIVE, "%s", r.verdict.reason);
        CHECK(nothing_left(), "left");
        if (!o.device.profile) {
            CHECK(r.status == PERF_OK && strstr(r.verdict.reason, "PERF_VARIANT"), "%s", r.verdict.reason);
            CHECK((want ? r.candidate : r.baseline).time.count == 30 && !(want ? r.baseline : r.candidate).time.count, "one");
            CHECK(((want ? r.candidate : r.baseline).joules > 0) == (o.device.energy > 0), "joules");
            (void)perf_report_text(report, sizeof report, NULL);
            CHECK(strstr(report, "forced, candidate") ? want : !want, "%s", report);
            CHECK(strstr(report, "event step 32.0 ns"), "%s", report);
        }
        sim_stop();
        perf_reset();
    }
    setenv("PERF_VARIANT", "forced=C", 1);
    sim_start();
    stream = sim_stream(0);
    ab = perf_gpu_ab_begin("forced", stream, NULL);
    while ((v = perf_gpu_ab_next(&ab)) >= 0)
        (void)sim_work(stream, v ? 10000 : 20000);
    r = perf_gpu_ab_end(&ab);
    CHECK(!r.forced && r.verdict.decision == PERF_ACCEPT && perf_error() == PERF_ERANGE, "there is no such variant");
    unsetenv("PERF_VARIANT");
    sim_stop();
    perf_reset();
}

/* Rules that ask for another number than the typical ratio of a pair. */
static void test_ab_metric(void)
{
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    perf_stream        stream;
    int                c, v, pairs[2];

    for (c = 0; c < 4; c++) {
        sim_start();
        stream = sim_stream(0);
        memset(&o, 0, sizeof o);
        o.seed = 1;
        o.min_pairs = o.max_pairs = 300;
        o.accept.rule.metric = c == 0 ? PERF_METRIC_P95 : c == 1 ? PERF_METRIC_MEAN : c == 2 ? PERF_METRIC_PAIR
                                                                                             : PERF_METRIC_THROUGHPUT;
        o.accept.confidence = c == 2 ? (double)NAN : 0;
        ab = perf_gpu_ab_begin("another number", stream, &o);
        while ((v = perf_gpu_ab_next(&ab)) >= 0)
            (void)sim_work(stream, noisy(v ? 5000 : 10000, 0.01));
        r = perf_gpu_ab_end(&ab);
        CHECK(r.status == (c < 2 ? PERF_OK : PERF_EINVAL), "%d: %s", c, perf_status_text(r.status));
        if (c < 2)
            CHECK(r.verdict.decision == PERF_ACCEPT && r.verdict.pairs == 300, "%d: %s, %d pairs", c, r.verdict.reason,
                  (int)r.verdict.pairs);
        CHECK(nothing_left(), "left");
        sim_stop();
    }
    for (c = 1; c < 40; c += 38) {              /* one of so many rules: more evidence, the same answer */
        sim_start();
        stream = sim_stream(0);
        memset(&o, 0, sizeof o);
        o.seed = 1;
        o.min_pairs = 1;
        o.accept.rules = c;
        ab = perf_gpu_ab_begin("joined", stream, &o);
        while ((v = perf_gpu_ab_next(&ab)) >= 0)
            (void)sim_work(stream, noisy(v ? 7000 : 10000, 0.02));
        r = perf_gpu_ab_end(&ab);
        CHECK(r.status == PERF_OK && r.verdict.decision == PERF_ACCEPT, "%s", r.verdict.reason);
        pairs[c > 1] = (int)r.verdict.pairs;
        sim_stop();
    }
    CHECK(pairs[1] > pairs[0], "%d pairs of one rule, %d of 39", pairs[0], pairs[1]);
}

/* Left, or failing, where something is under way that has to be ended or given back. */
static void test_left(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = plain(PERF_GPU_HOT);
    perf_gpu_bench          b;
    perf_gpu_result         r;
    perf_stream             stream;
    int                     n = 0;

    sim_start();                                /* a capture is open, and makes a graph */
    stream = sim_stream(0);
    o.graph = 1;
    b = perf_gpu_bench_begin("captures", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        plain_body(stream);
        if (((sim_stream *)stream)->capturing)
            break;
    }
    CHECK(((sim_stream *)stream)->capturing == 1, "no capture");
    r = perf_gpu_bench_end(&b);
    CHECK(r.warnings & PERF_WARN_STOPPED && !((sim_stream *)stream)->capturing && nothing_left(), "left");
    sim_stop();

    sim_start();                                /* the body cannot be waited for: no profile */
    stream = sim_stream(0);
    o = plain(PERF_GPU_HOT);
    o.profile = 1;
    b = perf_gpu_bench_begin("profile", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        sim_fail(SIM_stream_sync, 1, 700, 0);
        n++;
    }
    r = perf_gpu_bench_end(&b);
    CHECK(n == 1 && r.status == PERF_EGPU && r.code == 700 && !sim.profiled, "%s", r.text);
    sim_stop();

    sim_start();                                /* a driver without a profiler: the body runs all the same */
    t = sim_table();
    t.error_waits = NULL;
    t.profiler_start = t.profiler_stop = NULL;
    (void)perf_gpu_use(&t);
    stream = sim_stream(0);
    r = run_body(&o, plain_body, stream);
    CHECK(r.iterations == 1 && r.status == PERF_ENODATA && !r.code, "%s", r.text);
    b = perf_gpu_bench_begin(NULL, stream, &o);
    CHECK(perf_gpu_bench_next(&b) && !perf_gpu_bench_next(&b), "once");
    CHECK(perf_gpu_bench_end(&b).iterations == 1, "once");
    sim_stop();

    sim_start();                                /* the peak cannot be measured */
    stream = sim_stream(0);
    o = plain(PERF_GPU_COLD);
    o.bytes = 1e6;
    for (n = 1; n < 12; n++) {
        sim_fail(n % 2 ? SIM_event_record : SIM_launch, n % 2 ? 270 + (uint64_t)n : 200 + (uint64_t)n, 700, 0);
        r = run_body(&o, plain_body, stream);
        CHECK(r.status == PERF_EGPU && r.code == 700 && nothing_left(), "%d: %s", n, r.text);
    }
    sim_stop();
}

/* ---- tables that lack a function, answers that are odd ---- */

#define SIM_FIELD_AT(f) {#f, offsetof(perf_gpu_backend, f)},
static const struct {
    const char *name;
    size_t      at;
} field[] = {SIM_LIST(SIM_FIELD_AT)};

static void without(perf_gpu_backend *t, size_t i)
{
    memset((char *)t + field[i].at, 0, sizeof t->ctx_get);
}

/* A table without each function that may be missing: cold, warm, as a graph, of two, where launches are serialised.  What
 * is measured is right, what cannot be done is said, nothing is left behind. */
static void test_lacking(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o;
    perf_gpu_ab_opts        a = PERF_ZERO;
    perf_gpu_ab             ab;
    perf_gpu_result         r;
    perf_gpu_ab_result      e;
    perf_stream             stream;
    size_t                  i;
    int                     how, graph, v;

    for (i = 9; i < sizeof field / sizeof *field; i++)
        for (how = 0; how < 5; how++) {
            const char *name = field[i].name;
            sim_start();
            perf_reset();
            sim.serial = how == 4;
            sim.persisting = 1 << 20;
            t = sim_table();
            t.error_waits = NULL;
            t.host_func = gate_as_item;
            without(&t, i);
            CHECK(perf_gpu_use(&t) == PERF_OK, "%s", name);
            stream = sim_stream(0);
            o = plain(how == 1 ? PERF_GPU_HOT : PERF_GPU_COLD);
            o.graph = how == 2;
            o.bytes = 1e6;
            o.samples = 8;
            o.energy = 0.2;
            o.profile = how == 3 && !strncmp(name, "profiler", 8);
            if (how == 3) {
                a.device = o;
                a.min_pairs = a.max_pairs = 8;
                ab = perf_gpu_ab_begin("lacking", stream, &a);
                while ((v = perf_gpu_ab_next(&ab)) >= 0)
                    (void)sim_work(stream, v ? 5000 : 10000);
                e = perf_gpu_ab_end(&ab);
                r = e.baseline;
                CHECK(e.status == (o.profile ? PERF_ENODATA : PERF_OK) || !strcmp(name, "fill"), "%s: %s", name, r.text);
            } else {
                r = run_body(&o, plain_body, stream);
            }
            graph = !strncmp(name, "capture_b", 9) || !strncmp(name, "capture_e", 9) || !strncmp(name, "graph", 5);
            CHECK(r.status == PERF_OK ? r.time.p50 > 9900 && r.time.p50 < 10100 : r.status == PERF_ENODATA, "%s, %d: %g %s", name, how, r.time.p50, r.text);
            CHECK(r.status == PERF_OK || o.profile || (how == 4 && (graph || !strncmp(name, "module", 6) || !strcmp(name, "launch") || !strcmp(name, "event_record_flags"))), "%s, %d: %s", name, how, r.text);
            CHECK(how != 2 || r.graph != graph, "%s: %s", name, r.text);
            CHECK(how != 2 || !(r.warnings & PERF_WARN_NO_GRAPH) == !graph, "%s: %s", name, r.text);
            CHECK(!r.code && !perf_gpu_stats_of(NULL).error, "%s, %d: %d", name, how, r.code);
            if (!strcmp(name, "mem_alloc") || !strcmp(name, "mem_free") || !strcmp(name, "fill"))
                CHECK((how == 1 || o.profile || r.warnings & PERF_WARN_NOT_COLD) && r.flush_bytes == 0, "%s: %s", name, r.text);
            else
                CHECK(!(r.warnings & PERF_WARN_NOT_COLD), "%s: %s", name, r.text);
            if (!strncmp(name, "module", 6) || !strcmp(name, "launch") || !strncmp(name, "host_a", 6) || !strcmp(name, "host_free"))
                CHECK(o.profile || how == 4 || r.gate == 2, "%s, %d: gate %d", name, how, r.gate);
            if (!strcmp(name, "l2_release") || !strcmp(name, "ctx_limit"))
                CHECK(sim.calls[SIM_l2_release] == 0, "%s", name);
            CHECK(nothing_left() && sim_depth == 1 && !sim.bad_handle, "%s, %d: %d events, %d allocations, %d modules, %d graphs left", name, how,
                  (int)sim.events, (int)sim.allocations, (int)sim.modules, (int)sim.graphs);
            sim_stop();
        }
}

static int odd_attribute(int *value, int attribute, int device)
{
    (void)attribute, (void)device;
    *value = -1;
    return 0;
}

static int finer_elapsed(float *ms, void *start, void *stop)
{
    int code = sim_event_elapsed(ms, start, stop);

    *ms *= 31.25f / 32.0f;
    return code;
}

/* Attributes below nothing are none; a step that is no whole nanosecond is told as it is. */
static void test_odd_answers(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = plain(PERF_GPU_COLD);
    perf_gpu_result         r;
    perf_stream             stream;

    sim_start();
    t = sim_table();
    t.error_waits = NULL;
    t.device_attribute = odd_attribute;
    t.event_elapsed = finer_elapsed;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    stream = sim_stream(0);
    o.bytes = 1e6;
    r = run_body(&o, plain_body, stream);
    CHECK(r.status == PERF_OK && r.datasheet_gb_per_s == 0 && !strstr(r.text, "data sheet"), "%g: %s", r.datasheet_gb_per_s, r.text);
    CHECK(r.flush_bytes >= 64 << 20 && r.quantum_ns > 31.2 && r.quantum_ns < 31.3, "%g, %g", r.flush_bytes, r.quantum_ns);
    CHECK(r.time.p50 > 9700 && r.time.p50 < 9820, "%g", r.time.p50);
    CHECK(nothing_left(), "left");
    sim_stop();
}

/* One call fails once, where the loop can do without it: measured all the same, and said. */
static void test_done_without(void)
{
    static const struct {
        sim_fn   f;
        uint64_t n;
        int      serial, graph;
    } fault[] = {{SIM_host_address, 1, 0, 0}, {SIM_host_alloc, 1, 0, 0}, {SIM_event_record_flags, 2, 1, 0},
                 {SIM_event_record_flags, 1, 1, 0},
                 {SIM_graph_instantiate, 1, 0, 1}, {SIM_mem_alloc_on, 1, 0, 0}, {SIM_ctx_limit, 1, 0, 0},
                 {SIM_ctx_record, 1, 0, 0}, {SIM_ctx_record, 2, 0, 0}, {SIM_event_create, 3, 0, 0},
                 {SIM_module_function, 1, 0, 0}, {SIM_module_function, 2, 0, 0}, {SIM_l2_release, 3, 0, 0}};
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = plain(PERF_GPU_COLD);
    perf_gpu_result         r;
    perf_stream             stream;
    size_t                  i;

    for (i = 0; i < sizeof fault / sizeof *fault; i++) {
        sim_start();
        perf_reset();
        sim.serial = fault[i].serial;
        sim.persisting = 1 << 20;
        t = sim_table();
        t.error_waits = NULL;
        t.host_func = gate_as_item;
        CHECK(perf_gpu_use(&t) == PERF_OK, "table");
        stream = sim_stream(0);
        o.graph = fault[i].graph;
        sim_fail(fault[i].f, fault[i].n, 801, 0);
        r = run_body(&o, plain_body, stream);
        if (fault[i].serial)
            CHECK(!r.time.count && r.exposed.count && r.serialised && !r.graph && r.warnings & PERF_WARN_NO_GRAPH, "%d: %g ns: %s", (int)i, r.time.p50, r.text);
        else
            CHECK(r.status == PERF_OK && r.time.p50 > 9900 && r.time.p50 < 10100, "%d: %s", (int)i, r.text);
        CHECK(!r.graph && !(r.warnings & PERF_WARN_NO_GRAPH) == !(fault[i].graph || fault[i].serial), "%d: %s", (int)i, r.text);
        CHECK(fault[i].f == SIM_mem_alloc_on || fault[i].f == SIM_ctx_limit || r.code == 801 || r.code == 901, "%d: %d %s", (int)i, r.code, r.text);
        CHECK(fault[i].f != SIM_host_address || r.gate == 2, "gate %d", r.gate);
        CHECK(nothing_left(), "%d: %d events, %d allocations, %d graphs left", (int)i, (int)sim.events, (int)sim.allocations, (int)sim.graphs);
        sim_stop();
    }
}

static int asks;

/* Work of another thread each time in front of a body, never behind one. */
static int busy_record(void *ctx, void *event)
{
    if (asks++ % 2 == 0 && asks > 1)
        (void)sim_work(elsewhere, 400000);
    return sim_ctx_record(ctx, event);
}

/* What others do in the context in front of each body is not the body's. */
static void test_busy_before(void)
{
    static perf_gpu_backend t;
    perf_gpu_bench_opts     o = plain(PERF_GPU_COLD);
    perf_gpu_result         r;
    perf_stream             stream;

    sim_start();
    t = sim_table();
    t.error_waits = NULL;
    t.ctx_record = busy_record;
    CHECK(perf_gpu_use(&t) == PERF_OK, "table");
    elsewhere = sim_stream(0);
    stream = sim_stream(0);
    asks = 0;
    r = run_body(&o, plain_body, stream);
    CHECK(r.status == PERF_OK && !(r.warnings & PERF_WARN_STREAM) && asks >= 5 && asks <= 8, "%d questions: %s", asks, r.text);
    CHECK(r.time.p50 > 9900 && r.time.p50 < 10100 && nothing_left(), "%s", r.text);
    sim_stop();
}

/* Numbers below nothing are the defaults. */
static void test_negative(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_HOT);
    perf_gpu_result     r;
    perf_stream         stream;

    sim_start();
    stream = sim_stream(0);
    o.batch = o.samples = o.warmup = -5;
    o.rel_ci = o.max_seconds = o.bytes = o.items = o.energy = -1;
    r = run_body(&o, plain_body, stream);
    CHECK(r.status == PERF_OK && r.time.count >= 30 && r.batch > 1, "%s", r.text);
    CHECK(r.opts.samples == 0 && r.opts.batch == 0 && r.opts.warmup == 0 && r.opts.max_seconds > 1.9 && r.opts.rel_ci > 0.004 &&
          r.opts.bytes == 0 && r.opts.items == 0 && r.opts.energy == 0, "%d samples, %g s", r.opts.samples, r.opts.max_seconds);
    sim_stop();
}

/* Why it was slow, in words: those that are reasons. */
static void test_reasons(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_result     r;
    perf_stream         stream;

    sim_start();
    stream = sim_stream(0);
    sim.throttle = 0x4 | 0x8 | 0x10 | 0x20;     /* 0x10 is a setting */
    o.samples = 10;
    r = run_body(&o, plain_body, stream);
    CHECK(strstr(r.text, " samples throttled (power cap, hardware slow-down, heat); SM 1980 MHz"), "%s", r.text);
    CHECK(r.throttled == r.samples && r.time.count > 0, "%s", r.text);
    sim_stop();
}

/* Ends that are none: of a copy, of the other kind; a rule that is no number; a profile left when the driver has gone. */
static void test_ends(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_HOT);
    perf_gpu_ab_opts    a = PERF_ZERO;
    perf_gpu_bench      b, copy;
    perf_gpu_ab         ab;
    perf_gpu_ab_result  e;
    perf_stream         stream;

    sim_start();
    stream = sim_stream(0);
    b = perf_gpu_bench_begin("ends", stream, &o);
    while (perf_gpu_bench_next(&b))
        plain_body(stream);
    copy = b;
    CHECK(perf_gpu_ab_end(&copy).status == PERF_ESTATE, "of another kind");
    copy = b;
    CHECK(perf_gpu_bench_end(&b).status == PERF_OK, "once");
    CHECK(perf_gpu_bench_end(&copy).status == PERF_ESTATE && nothing_left(), "of a copy");
    a.accept.rule.amount = (double)NAN;
    ab = perf_gpu_ab_begin("no number", stream, &a);
    CHECK(perf_gpu_ab_next(&ab) == -1, "runs");
    e = perf_gpu_ab_end(&ab);
    CHECK(e.status == PERF_EINVAL && e.verdict.decision == PERF_INCONCLUSIVE, "%s", perf_status_text(e.status));
    o.profile = 1;
    b = perf_gpu_bench_begin("profile", stream, &o);
    CHECK(perf_gpu_bench_next(&b) && sim.profiled, "recorded");
    sim.down = 1;
    sim.calls_down = 0;
    CHECK(perf_gpu_bench_end(&b).iterations == 1 && sim.calls_down <= 1, "%d calls after the end", (int)sim.calls_down);
    sim.down = 0;
    sim_stop();
}

/* The host's clock goes back while a loop runs, and while energy is measured: no time of the host's is below nothing, or
 * centuries; what the device says is right. */
static uint64_t back_after;

static void back_body(perf_stream stream)
{
    plain_body(stream);
    if (back_after ? sim.now > back_after && !gone_back : ++asks % 7 == 0)
        gone_back += back_after ? UINT64_C(3000000000) : 100000;
}

static void test_clock_back(void)
{
    perf_gpu_ab_opts    a = PERF_ZERO;
    perf_gpu_ab         ab;
    perf_gpu_ab_result  e;
    int                 v;
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_result     r;
    perf_stream         stream;
    size_t              i;

    sim_start();
    sim.now += UINT64_C(20000000000);
    stream = sim_stream(0);
    back_after = 0;
    asks = 0;
    r = run_body(&o, back_body, stream);
    gone_back = 0;
    CHECK(r.status == PERF_OK && r.time.p50 > 9900 && r.time.p50 < 10100, "%s", r.text);
    CHECK(r.launch.max < 1e6 && r.launch.min >= 0, "%g to %g ns", r.launch.min, r.launch.max);
    for (i = 0; i < r.samples; i++)
        CHECK(r.sample[i].host_ns >= 0 && r.sample[i].host_ns < 1e6, "%g ns", r.sample[i].host_ns);
    sim_stop();

    sim_start();
    sim.now += UINT64_C(20000000000);
    stream = sim_stream(0);
    o.samples = 5;
    o.warmup = 3;
    o.energy = 2;
    back_after = sim.now + UINT64_C(1500000000);
    r = run_body(&o, back_body, stream);
    CHECK(gone_back && r.status == PERF_OK && r.time.count >= 5, "%s", r.text);
    gone_back = 0;
    CHECK(r.joules == 0 || (r.joules_low < 3.1e-3 && r.joules_high > 2.9e-3), "%g to %g J", r.joules_low, r.joules_high);
    CHECK(r.joules < 3.2e-3 && r.joules >= 0, "%g J", r.joules);
    sim_stop();

    sim_start();
    sim.now += UINT64_C(20000000000);
    stream = sim_stream(0);
    a.seed = 1;
    ab = perf_gpu_ab_begin("back", stream, &a);
    while ((v = perf_gpu_ab_next(&ab)) >= 0) {
        gone_back = UINT64_C(3000000000);
        (void)sim_work(stream, v ? 5000 : 10000);
    }
    e = perf_gpu_ab_end(&ab);
    gone_back = 0;
    CHECK(e.seconds > -4 && e.seconds < 4, "%g s", e.seconds);
    CHECK(!e.baseline.time.count || (e.baseline.time.p50 > 9900 && e.baseline.time.p50 < 10100), "%g ns", e.baseline.time.p50);
    sim_stop();
}

/* The host's clock stands still: what the device says is right, and it ends. */
static void test_clock_stands(void)
{
    perf_gpu_bench_opts o = plain(PERF_GPU_COLD);
    perf_gpu_bench      b;
    perf_gpu_result     r;
    perf_stream         stream, other;
    gpu_gate      gate = {0, 0, 1000000};
    uint32_t            held = 0;
    int                 n = 0;

    sim_start();
    stream = sim_stream(0);
    other = sim_stream(0);
    (void)sim_wait_value32(other, (uint64_t)(uintptr_t)&held, 1, 0);    /* the context is never quiet */
    stands_at = sim.now;
    gpu_gate_wait(&gate);
    CHECK(gate.out == 2, "a gate of the host's opens: %u", gate.out);
    o.energy = 0.1;
    b = perf_gpu_bench_begin("stands", stream, &o);
    while (perf_gpu_bench_next(&b) && n++ < 2000000)
        plain_body(stream);
    r = perf_gpu_bench_end(&b);
    stands_at = 0;
    CHECK(n < 2000000 && r.status == PERF_OK && r.time.p50 > 9900 && r.time.p50 < 10100, "after %d bodies: %s", n, r.text);
    CHECK(r.joules == 0 && r.launch.max <= 0, "%g J, %g ns", r.joules, r.launch.max);
    held = 1;
    (void)sim_stream_sync(other);
    sim_stop();
}

int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]))
        seed = (uint64_t)atoi(argv[1]);
    printf("seed %llu\n", (unsigned long long)seed);
    test_plain();
    test_report();
    test_results();
    test_another_device();
    test_kept();
    test_quantum();
    test_flush();
    test_self_synchronising();
    test_ab_one_waits();
    test_exposed_now_and_then();
    test_no_gate();
    test_host_gate();
    test_wrong_stream();
    test_scattered_events();
    test_idle_samples();
    test_throttling();
    test_throttling_one();
    test_warm_up();
    test_graph();
    test_no_graph();
    test_nothing_seen();
    test_errors();
    test_odd_times();
    test_stop_rule(400);
    test_ab();
    test_ab_shape();
    test_ab_exposed();
    test_nowhere();
    test_persistent();
    test_others();
    test_serialised();
    test_many_launches();
    test_stale_clock();
    test_ab_metric();
    test_forced();
    test_left();
    test_energy();
    test_energy_ab();
    test_profile();
    test_lacking();
    test_odd_answers();
    test_done_without();
    test_busy_before();
    test_negative();
    test_reasons();
    test_ends();
    test_clock_back();
    test_clock_stands();
    return check_done();
}
