/* What only a real device can answer, in about three minutes and in the order of what it is worth: do
 * scopes and benches say what plain events say, what flushes the cache, does the gate hide launches,
 * does anything invalidate a capture, threads, graphs, a device that is reset, timers inside kernels,
 * costs.  tests/gpu/run.sh compiles and runs it, beside the examples.
 *
 *     device [--json FILE] [--driver TEXT] [--date TEXT] [--commit TEXT] [--seconds N] [--only PART]...
 *
 * Each expected value stands beside the physics that it comes from.  Each part is a process of its own
 * with a limit of time: a miss, a call that fails, a crash and a hang end a part and not the run.  FILE is
 * written anew with each result, and at the end there is a table "expected, measured, held".
 *     device --here PART                        in this process: for compute-sanitizer and ncu
 * Exit status: 0 all limits kept, 1 not, 2 a call failed, 77 no CUDA device.                        */
#include "perf_gpu_bench.h"
#include "perf_kernel.h"

#include <stdio.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef std::vector<double> numbers;

/* The step that divides both, a >= b > 0, where 0.4 is as good as 0 (Euclid's algorithm). */
static double common_step(double a, double b)
{
    while (b > 0.4) {
        const double rest = std::abs(a - b * std::round(a / b));
        a = b;
        b = rest;
    }
    return a;
}

/* ---- what was found ---- */

struct row {
    std::string name, unit, why;                /* why: where the limit comes from                 */
    double      value, limit;
    int         judged;                         /* 1: at most limit; -1: at least; 0: only told    */
};
static std::vector<row> rows;
static int              failed_calls;

static bool             save(bool complete);
static FILE            *to_parent;              /* of a part's process: where its rows go           */

static bool kept(const row &r)
{
    return r.judged > 0 ? r.value <= r.limit : r.judged < 0 ? r.value >= r.limit : true;
}

static void add(const row &r)
{
    if (to_parent) {
        fprintf(to_parent, "row\t%s\t%s\t%s\t%.17g\t%.17g\t%d\n", r.name.c_str(), r.unit.c_str(),
                r.why.c_str(), r.value, r.limit, r.judged);
        fflush(to_parent);
        return;
    }
    rows.push_back(r);
    printf("%-58s %12.4g %s", r.name.c_str(), r.value, r.unit.c_str());
    if (r.judged)
        printf(" (at %s %g)%s", r.judged > 0 ? "most" : "least", r.limit, kept(r) ? "" : "  MISSED");
    printf("\n");
    fflush(stdout);
    (void)save(false);
}

static void tell(const std::string &name, double value, const char *unit)
{
    add({name, unit, "", value, 0, 0});
}

static void judge(const std::string &name, double value, const char *unit, double limit, int how,
                  const std::string &why)
{
    add({name, unit, why, value, limit, how});
}

/* A call that fails ends its part. */
static void need(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
#define NEED(call) need(call, #call)

static double median(numbers x)
{
    std::sort(x.begin(), x.end());
    return x.empty() ? 0 : x[x.size() / 2];
}

static double least(const numbers &x)
{
    return x.empty() ? 0 : *std::min_element(x.begin(), x.end());
}

static void host_wait(double ns)
{
    uint64_t until = perf_now() + static_cast<uint64_t>(ns);
    while (perf_now() < until) {
    }
}

__global__ void spin(long long cycles)
{
    long long until = clock64() + cycles;
    while (clock64() < until) {
    }
}

static cudaStream_t stream, other;
static cudaEvent_t  first, second;
static double       mhz;                        /* SM clock under a little load                    */

static long long cycles_of(double ns)
{
    return static_cast<long long>(ns * mhz / 1e3);
}

/* Device time between two events around body(), ns; a kernel holds the stream meanwhile, so that the
 * launches of body() are not in it (0: nothing holds it).                                         */
template <class Body> static double between_ns(Body body, double hold_ns = 50e3)
{
    float ms = 0;

    NEED(cudaStreamSynchronize(stream));
    if (hold_ns > 0)
        spin<<<1, 1, 0, stream>>>(cycles_of(hold_ns));
    NEED(cudaEventRecord(first, stream));
    body();
    NEED(cudaEventRecord(second, stream));
    NEED(cudaEventSynchronize(second));
    NEED(cudaEventElapsedTime(&ms, first, second));
    return static_cast<double>(ms) * 1e6;
}

template <class Body> static double between_ns_of(int times, Body body, double hold_ns = 50e3)
{
    numbers x;
    for (int i = 0; i < times; i++)
        x.push_back(between_ns(body, hold_ns));
    return median(x);
}

/* ---- clocks ---- */

static double quantum_ns;

static void event_steps()
{
    const size_t             n = 500;
    std::vector<cudaEvent_t> e(n + 1);
    double                   divisor = 0;
    numbers                  x;
    float                    ms;

    for (size_t i = 0; i <= n; i++)
        NEED(cudaEventCreate(&e[i]));
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i <= n; i++)
            NEED(cudaEventRecord(e[i], stream));
        NEED(cudaStreamSynchronize(stream));
        for (size_t i = 0; i < n; i++) {
            NEED(cudaEventElapsedTime(&ms, e[i], e[i + 1]));
            x.push_back(static_cast<double>(ms) * 1e6);
        }
    }
    /* A step need not be a whole number of ns (15 MHz: 66.67): the differences of sorted ones, and 0.4 ns
     * are as good as 0. */
    std::sort(x.begin(), x.end());
    for (size_t i = 1; i < x.size(); i++) {
        double d = x[i] - x[i - 1];
        if (d > 0.4)
            divisor = divisor > 0 ? common_step(std::max(divisor, d), std::min(divisor, d)) : d;
    }
    quantum_ns = divisor;
    tell("event clock: step (divides every difference)", quantum_ns, "ns");
    tell("event clock: differences looked at", static_cast<double>(x.size()), "");
    tell("event clock: two events back to back, median", median(x), "ns");
    tell("event clock: two events back to back, least", least(x), "ns");
    for (size_t i = 0; i <= n; i++)
        NEED(cudaEventDestroy(e[i]));
}

__global__ void watch_timer(uint64_t *step, int n)
{
    uint64_t  last, now;
    long long until = clock64() + (1ll << 28);

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last));
    for (int i = 0; i < n && clock64() < until;) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if (now != last) {
            step[i++] = now - last;
            last = now;
        }
    }
}

static void timer_steps()
{
    const size_t          n = 4096;
    std::vector<uint64_t> x(n);
    numbers               step;
    uint64_t             *on_device;

    NEED(cudaMalloc(&on_device, n * sizeof *on_device));
    NEED(cudaMemset(on_device, 0, n * sizeof *on_device));
    watch_timer<<<1, 1, 0, stream>>>(on_device, static_cast<int>(n));
    NEED(cudaStreamSynchronize(stream));
    NEED(cudaMemcpy(x.data(), on_device, n * sizeof *on_device, cudaMemcpyDeviceToHost));
    for (size_t i = 1; i < n && x[i]; i++)      /* the first is cut                               */
        step.push_back(static_cast<double>(x[i]));
    tell("globaltimer: steps seen", static_cast<double>(step.size()), "");
    tell("globaltimer: step, least", least(step), "ns");
    tell("globaltimer: step, median", median(step), "ns");
    NEED(cudaFree(on_device));
}

/* ---- costs on the host ---- */

template <class Call> static double call_ns(int calls, Call call)
{
    numbers x;

    for (int round = 0; round < 30; round++) {
        uint64_t t = perf_now();
        for (int i = 0; i < calls; i++)
            call(i);
        x.push_back(static_cast<double>(perf_now() - t) / calls);
        NEED(cudaStreamSynchronize(stream));
        (void)perf_gpu_collect_sync();
    }
    return median(x);
}

static void host_costs()
{
    const perf_gpu_backend *t = perf_gpu_table();
    cudaEvent_t             plain;
    float                   ms;
    int                     status;

    if (!t)
        return;
    NEED(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    tell("host: record of an event", call_ns(400, [&](int) { t->event_record(first, stream); }), "ns");
    tell("host: record of an event without timing",
         call_ns(400, [&](int) { t->event_record(plain, stream); }), "ns");
    tell("host: query of an event", call_ns(400, [&](int) { t->event_query(first); }), "ns");
    NEED(cudaEventRecord(first, stream));
    NEED(cudaEventRecord(second, stream));
    NEED(cudaStreamSynchronize(stream));
    tell("host: elapsed time of two events",
         call_ns(400, [&](int) { t->event_elapsed(&ms, first, second); }), "ns");
    if (t->stream_capturing)
        tell("host: is the stream capturing?",
             call_ns(400, [&](int) { t->stream_capturing(stream, &status); }), "ns");
    tell("host: PERF_GPU_SCOPE around nothing",
         call_ns(200, [&](int) { PERF_GPU_SCOPE("nothing", stream); }), "ns");
    tell("host: launch of an empty kernel", call_ns(200, [&](int) { spin<<<1, 1, 0, stream>>>(0); }),
         "ns");
    NEED(cudaEventDestroy(plain));
}

/* ---- inside kernels ---- */

template <int Kind> __global__ void clock_twice(uint32_t *out)
{
    uint32_t fewest = ~0u;

    for (int i = 0; i < 64; i++) {
        uint32_t d = 0;
        if (Kind == 0) {
            uint32_t a, b;
            asm volatile("mov.u32 %0, %%clock;\n\tmov.u32 %1, %%clock;" : "=r"(a), "=r"(b));
            d = b - a;
        } else if (Kind == 1) {
            uint64_t a, b;
            asm volatile("mov.u64 %0, %%clock64;\n\tmov.u64 %1, %%clock64;" : "=l"(a), "=l"(b));
            d = static_cast<uint32_t>(b - a);
        } else {
            uint64_t a, b, c;
            asm volatile("mov.u64 %0, %%clock64;\n\tmov.u64 %2, %%globaltimer;\n\t"
                         "mov.u64 %1, %%clock64;" : "=l"(a), "=l"(b), "=l"(c));
            d = static_cast<uint32_t>(b - a) + static_cast<uint32_t>(c & 0);
        }
        fewest = d < fewest ? d : fewest;
    }
    *out = fewest;
}

enum { ROUNDS = 64, IN_A_ROW = 16 };
enum form { BARE, RING, SUM };

template <int I> struct in_a_row {
    template <int Form, class Sink> static __device__ __forceinline__ float go(Sink &s, float x, float y)
    {
        if (Form == RING) {
            PERF_KERNEL_SCOPE(s, I);
            x = x * y + y;
        } else {
            x = x * y + y;
        }
        return in_a_row<I - 1>::template go<Form>(s, x, y);
    }
    static __device__ __forceinline__ float add(perf_kernel_sum &s, float x, float y)
    {
        {
            PERF_KERNEL_SUM(s);
            x = x * y + y;
        }
        return in_a_row<I - 1>::add(s, x, y);
    }
};
template <> struct in_a_row<0> {
    template <int Form, class Sink> static __device__ __forceinline__ float go(Sink &, float x, float)
    {
        return x;
    }
    static __device__ __forceinline__ float add(perf_kernel_sum &, float x, float)
    {
        return x;
    }
};

/* Cycles of ROUNDS x IN_A_ROW scopes around one multiply-add each, as warp 0 of each block sees them. */
template <int Form>
__global__ void scopes(perf_kernel_buffer *buffer, perf_kernel_total *total, float *x, float y,
                       long long *cycles)
{
    float            v = x[threadIdx.x];
    perf_kernel_sink s(Form == RING ? buffer : NULL);
    perf_kernel_sum  t(Form == SUM ? total : NULL);
    long long        begin = clock64();

#pragma unroll 1
    for (int i = 0; i < ROUNDS; i++)
        v = Form == SUM ? in_a_row<IN_A_ROW>::add(t, v, y)
                        : in_a_row<IN_A_ROW>::template go<Form>(s, v, y);
    begin = clock64() - begin;
    x[threadIdx.x] = v;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = begin;
}

static unsigned multiprocessors;

template <int Form>
static double scope_cycles(unsigned blocks, unsigned threads, perf_kernel_buffer *buffer, const void *image,
                           size_t bytes, perf_kernel_total *total, float *x, long long *cycles)
{
    std::vector<long long> got(blocks);
    numbers                all;

    for (int i = 0; i < 11; i++) {
        NEED(cudaMemcpy(buffer, image, bytes, cudaMemcpyHostToDevice));
        scopes<Form><<<blocks, threads, 0, stream>>>(buffer, total, x, 0.5f, cycles);
        NEED(cudaStreamSynchronize(stream));
        NEED(cudaMemcpy(got.data(), cycles, blocks * sizeof got[0], cudaMemcpyDeviceToHost));
        for (unsigned j = 0; i && j < blocks; j++)
            all.push_back(static_cast<double>(got[j]));
    }
    return median(all);
}

static void inside_kernels()
{
    uint32_t *out, found[3];
    const int n = ROUNDS * IN_A_ROW;

    NEED(cudaMalloc(&out, 3 * sizeof *out));
    clock_twice<0><<<1, 32, 0, stream>>>(out);
    clock_twice<1><<<1, 32, 0, stream>>>(out + 1);
    clock_twice<2><<<1, 32, 0, stream>>>(out + 2);
    NEED(cudaStreamSynchronize(stream));
    NEED(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    tell("kernel: two readings of %clock", found[0], "cycles");
    tell("kernel: two readings of %clock64", found[1], "cycles");
    tell("kernel: globaltimer between two of %clock64", found[2], "cycles");
    NEED(cudaFree(out));

    for (int full = 0; full < 2; full++) {
        unsigned            blocks = full ? 2 * multiprocessors : 1, threads = full ? 512 : 32;
        uint32_t            warps = blocks * threads / 32;
        size_t              bytes = perf_kernel_bytes(warps, n);
        void               *image = malloc(bytes);
        perf_kernel_buffer *buffer;
        perf_kernel_total  *total, sums;
        perf_kernel_info    info;
        float              *x;
        long long          *cycles;
        const char         *where = full ? "full device" : "one warp";

        NEED(cudaMalloc(&buffer, bytes));
        NEED(cudaMalloc(&total, sizeof *total));
        NEED(cudaMemset(total, 0, sizeof *total));
        NEED(cudaMalloc(&x, 512 * sizeof *x));
        NEED(cudaMemset(x, 0, 512 * sizeof *x));
        NEED(cudaMalloc(&cycles, blocks * sizeof *cycles));
        if (!image || perf_kernel_prepare(image, bytes, buffer, warps, n, 0) != PERF_OK)
            throw std::runtime_error("in-kernel records: prepare or decode");
        double bare = scope_cycles<BARE>(blocks, threads, buffer, image, bytes, total, x, cycles);
        double ring = scope_cycles<RING>(blocks, threads, buffer, image, bytes, total, x, cycles);
        NEED(cudaMemcpy(image, buffer, bytes, cudaMemcpyDeviceToHost));
        double sum = scope_cycles<SUM>(blocks, threads, buffer, image, bytes, total, x, cycles);
        NEED(cudaMemcpy(&sums, total, sizeof sums, cudaMemcpyDeviceToHost));
        /* One warp: some 6 instructions that wait for each other, and a reading of the clock, some 30 cycles:
         * at most twice 50.  A full device: the 32 warps of an SM share its way to L2, which takes a store of
         * 8 bytes in one to two cycles: 64 cycles for one record of each, and twice that. */
        judge(std::string("kernel: a record of a scope, ") + where, (ring - bare) / n / 2, "cycles",
              full ? 128 : 100, 1, full ? "32 warps x 2 cycles a store, twice that" : "a clock read and 6 instructions, twice");
        tell(std::string("kernel: a scope of a sum, ") + where, (sum - bare) / n, "cycles");
        if (perf_kernel_decode(image, bytes, NULL, 0, &info) != PERF_OK)
            throw std::runtime_error("in-kernel records: prepare or decode");
        judge(std::string("kernel: records kept of those made, ") + where,
              static_cast<double>(info.events) / (static_cast<double>(warps) * n), "", 1, -1,
              "the buffer has room for all");
        judge(std::string("kernel: malformed records, ") + where, static_cast<double>(info.malformed),
              "", 0, 1, "nobody else writes there");
        judge(std::string("kernel: sums arrived of those stored, ") + where,
              static_cast<double>(sums.warps) / (11.0 * warps), "", 1, -1, "atomic adds");
        if (full)
            tell("kernel: SMs seen of those there", static_cast<double>(info.sms) / multiprocessors, "");
        free(image);
        NEED(cudaFree(buffer));
        NEED(cudaFree(total));
        NEED(cudaFree(x));
        NEED(cudaFree(cycles));
    }
}

/* One warp on each SM for 2 ms: the length of a cycle, and how far the clock pairs disagree. */
__global__ void long_warps(perf_kernel_buffer *buffer, long long cycles)
{
    perf_kernel_sink s(buffer);
    for (int i = 0; i < 20; i++) {
        PERF_KERNEL_SCOPE(s, static_cast<uint32_t>(i));
        long long until = clock64() + cycles / 20;
        while (clock64() < until) {
        }
    }
}

static void kernel_clock()
{
    const uint32_t       warps = 4 * multiprocessors;
    size_t               bytes = perf_kernel_bytes(warps, 20);
    void                *image = malloc(bytes), *device;
    perf_kernel_info     info;

    NEED(cudaMalloc(&device, bytes));
    if (!image || perf_kernel_prepare(image, bytes, device, warps, 20, 0) != PERF_OK)
        throw std::runtime_error("in-kernel records: prepare or decode");
    NEED(cudaMemcpy(device, image, bytes, cudaMemcpyHostToDevice));
    double ns = between_ns([&] {
        long_warps<<<warps, 32, 0, stream>>>(static_cast<perf_kernel_buffer *>(device),
                                             cycles_of(2e6));
    });
    NEED(cudaMemcpy(image, device, bytes, cudaMemcpyDeviceToHost));
    std::vector<perf_kernel_event> e(warps * 20);
    if (perf_kernel_decode(image, bytes, e.data(), e.size(), &info) != PERF_OK || !info.events)
        throw std::runtime_error("in-kernel records: prepare or decode");
    uint64_t begin = ~UINT64_C(0), end = 0;
    for (size_t i = 0; i < info.events; i++) {
        begin = std::min(begin, e[i].start_ns);
        end = std::max(end, e[i].start_ns + e[i].ns);
    }
    tell("kernel clock: length of a cycle", info.cycle_ns, "ns");
    tell("kernel clock: clock pairs of an SM disagree by", info.error_ns, "ns");
    tell("kernel clock: first start to last end / event time", static_cast<double>(end - begin) / ns,
         "");
    free(image);
    NEED(cudaFree(device));
}

/* ---- short kernels: what do the ways to time one find? ---- */

static perf_gpu_result bench(const char *name, perf_gpu_cache cache, int graph, double delay_ns,
                             long long cycles)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    o.cache = cache;
    o.graph = graph;
    o.max_seconds = 1;
    perf_gpu_bench b = perf_gpu_bench_begin(name, stream, &o);
    while (perf_gpu_bench_next(&b)) {
        spin<<<1, 32, 0, stream>>>(cycles);
        if (delay_ns > 0)
            host_wait(delay_ns);
    }
    perf_gpu_result r = perf_gpu_bench_end(&b);
    if (r.status != PERF_OK)
        printf("    %s: %s: %s\n", name, perf_status_text(r.status), r.text);
    return r;
}

/* Not through the library: graphs of n and 2 n kernels, the difference. */
static double own_graph_ns(long long cycles, int n)
{
    double ns[2];

    for (int k = 0; k < 2; k++) {
        cudaGraph_t     graph;
        cudaGraphExec_t exec;
        NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < n * (k + 1); i++)
            spin<<<1, 32, 0, stream>>>(cycles);
        NEED(cudaStreamEndCapture(stream, &graph));
        NEED(cudaGraphInstantiate(&exec, graph, 0));
        NEED(cudaGraphLaunch(exec, stream));
        ns[k] = between_ns_of(21, [&] { NEED(cudaGraphLaunch(exec, stream)); });
        NEED(cudaGraphExecDestroy(exec));
        NEED(cudaGraphDestroy(graph));
    }
    return (ns[1] - ns[0]) / n;
}

static void short_kernels()
{
    static const struct { const char *name; double ns; int n; } kind[] = {
        {"empty", 0, 100}, {"2 us", 2e3, 100}, {"10 us", 10e3, 100}, {"1 ms", 1e6, 4}};

    for (const auto &k : kind) {
        long long   c = cycles_of(k.ns);
        std::string name = std::string("kernel of ") + k.name + ": ";
        double      raw = between_ns_of(101, [&] { spin<<<1, 32, 0, stream>>>(c); }, 0);
        double      own = own_graph_ns(c, k.n);
        perf_gpu_result gate = bench("gate", PERF_GPU_HOT, 0, 0, c);
        perf_gpu_result graph = bench("graph", PERF_GPU_HOT, 1, 0, c);
        perf_gpu_result late = bench("late host", PERF_GPU_HOT, 0, k.ns < 1e5 ? 30e3 : 0, c);
        tell(name + "two events around it", raw, "ns");
        tell(name + "a graph of our own", own, "ns");
        tell(name + "perf_gpu_bench", gate.time.p50, "ns");
        tell(name + "perf_gpu_bench, graph", graph.time.p50, "ns");
        tell(name + "samples", static_cast<double>(gate.samples), "");
        tell(name + "samples without proof", static_cast<double>(gate.exposed.count), "");
        if (k.ns < 1e5) {
            double by_host = late.time.p50 - gate.time.p50, by_graph = graph.time.p50 - own;
            /* A step of the event clock at either end; the clock of the SMs wanders by 1 %; and 3 % of the delay:
             * a leak would show all of it. */
            judge(name + "30 us of host delay move it by", by_host < 0 ? -by_host : by_host, "ns",
                  2 * quantum_ns + 0.01 * k.ns + 900, 1, "two steps, 1 % of the SM clock, 3 % of the delay");
            if (k.ns > 0)                       /* an empty node costs what the graph around it makes of it */
                judge(name + "both graphs differ by", by_graph < 0 ? -by_graph : by_graph, "ns",
                      2 * quantum_ns + 0.03 * k.ns + 200, 1, "the same, and the nodes of graphs of other lengths");
            else
                tell(name + "both graphs differ by", by_graph, "ns");
        }
    }
}

/* A scope says what events around it say. */
static void scope_times()
{
    numbers events_of;

    perf_reset();
    for (int i = 0; i < 300; i++)               /* the clock comes up */
        spin<<<1, 32, 0, stream>>>(cycles_of(1e6));
    for (int i = 0; i < 50; i++) {              /* in turns: both see the same clock */
        spin<<<1, 1, 0, stream>>>(cycles_of(50e3));
        {
            PERF_GPU_SCOPE("1 ms", stream);
            spin<<<1, 32, 0, stream>>>(cycles_of(1e6));
        }
        events_of.push_back(between_ns([&] { spin<<<1, 32, 0, stream>>>(cycles_of(1e6)); }));
    }
    (void)perf_gpu_collect_sync();
    perf_gpu_stats s = perf_gpu_stats_of("1 ms"), all = perf_gpu_stats_of(NULL);
    double         events = 0;
    for (double x : events_of)
        events += x / static_cast<double>(events_of.size());
    double         ratio = s.scopes ? s.device_ns / static_cast<double>(s.scopes) / events : 0;
    judge("scope: of 50, fetched", static_cast<double>(s.scopes), "", 50, -1, "50 of 1,024 slots");
    /* A kernel in front of each hides the launch; of 1 ms. */
    judge("scope: of a kernel / two events around one", ratio, "", 1.02, 1,
          "the same kernel: 1 % of the SM clock, events of some us");
    judge("scope: of a kernel / two events around one", ratio, "", 0.98, -1, "the same");
    perf_gpu_result b = bench("1 ms", PERF_GPU_HOT, 0, 0, cycles_of(1e6));
    judge("bench: of a kernel / two events around one", b.time.p50 / events, "", 1.02, 1, "the same");
    judge("bench: of a kernel / two events around one", b.time.p50 / events, "", 0.98, -1, "the same");
    tell("scope: device times are this close to the host's clock", all.aligned_ns, "ns");
    tell("scope: begin on the host to start on the device, longest", s.lag_max_ns, "ns");
}

/* ---- the cache ---- */

__global__ void read_all(const uint4 *at, size_t n, uint4 *out)
{
    uint4 v = {0, 0, 0, 0};
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
         i += static_cast<size_t>(gridDim.x) * blockDim.x) {
        uint4 w = at[i];
        v.x |= w.x;
        v.y |= w.y;
        v.z |= w.z;
        v.w |= w.w;
    }
    if ((v.x | v.y | v.z | v.w) == 0x9e3779b9u)
        *out = v;
}

__global__ void write_all(uint4 *at, size_t n)
{
    uint4 v = {1, 2, 3, 4};
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
         i += static_cast<size_t>(gridDim.x) * blockDim.x)
        at[i] = v;
}

static int l2_bytes;

static void cache()
{
    const size_t l2 = static_cast<size_t>(l2_bytes);
    const size_t big = static_cast<size_t>(1) << 30, bytes = l2 / 2 / 16 * 16, mib = 1 << 20;
    const unsigned blocks = 4 * multiprocessors;
    char        *at, *scratch;
    uint4       *out;

    NEED(cudaMalloc(&at, big));
    NEED(cudaMalloc(&scratch, 4 * l2));
    NEED(cudaMalloc(&out, sizeof *out));
    NEED(cudaMemset(at, 0, big));
    NEED(cudaMemset(scratch, 0, 4 * l2));
    tell("cache: L2", static_cast<double>(l2) / mib, "MiB");

    /* A read of half of it, after each way to flush; "fresh" was not touched for a gigabyte. */
    size_t next = 0;
    auto   read_after = [&](int how, size_t size) {
        numbers x;
        for (int i = 0; i < 31; i++) {
            const char *from = at;
            if (how == 3) {
                next = next + 2 * bytes > big ? 0 : next + bytes;
                from = at + next;
            }
            if (how == 1)
                NEED(cudaMemsetAsync(scratch, i, size, stream));
            if (how == 2)
                read_all<<<blocks, 256, 0, stream>>>(reinterpret_cast<uint4 *>(scratch), size / 16,
                                                     out);
            x.push_back(between_ns([&] {
                read_all<<<blocks, 256, 0, stream>>>(reinterpret_cast<const uint4 *>(from),
                                                     bytes / 16, out);
            }));
        }
        return median(x);
    };
    double fresh = read_after(3, 0);
    tell("cache: read of half of L2, fresh memory", fresh, "ns");
    tell("cache: no flush / fresh", read_after(0, 0) / fresh, "");
    for (size_t times = 1; times <= 4; times *= 2) {
        std::string n = std::to_string(times);
        tell("cache: memset of " + n + " L2 / fresh", read_after(1, times * l2) / fresh, "");
        tell("cache: read of " + n + " L2 / fresh", read_after(2, times * l2) / fresh, "");
    }

    for (size_t mb = 8; mb <= 512; mb *= 4)
        for (int write = 0; write < 2; write++) {
            perf_gpu_bench_opts o = PERF_ZERO;
            o.bytes = static_cast<double>(mb * mib);
            o.max_seconds = 1;
            perf_gpu_bench b = perf_gpu_bench_begin(write ? "write" : "read", stream, &o);
            while (perf_gpu_bench_next(&b)) {
                if (write)
                    write_all<<<blocks, 256, 0, stream>>>(reinterpret_cast<uint4 *>(at), mb * mib / 16);
                else
                    read_all<<<blocks, 256, 0, stream>>>(reinterpret_cast<const uint4 *>(at),
                                                         mb * mib / 16, out);
            }
            perf_gpu_result r = perf_gpu_bench_end(&b);
            std::string     name = std::string("cache: cold ") + (write ? "write" : "read") + " of " +
                               std::to_string(mb) + " MiB, share of the measured peak";
            /* Memory clock x 2 x bus is what no read from the memory exceeds.  Of what is written as much as L2
             * holds may not have gone out yet.  The measured peak, a read of 4 L2, holds the start and the end
             * of a kernel: a longer read may exceed it by some percent, so that is only told. */
            double stays = write ? static_cast<double>(l2) / static_cast<double>(mb * mib) : 0;
            if (r.status == PERF_OK && r.datasheet_gb_per_s > 0 && stays < 0.5)
                judge(std::string("cache: cold ") + (write ? "write" : "read") + " of " + std::to_string(mb) +
                      " MiB, share of the data sheet's", r.gb_per_s / r.datasheet_gb_per_s, "", 1 / (1 - stays), 1,
                      write ? "all but one L2 of it went out" : "cold: all of it came from the memory");
            if (r.status == PERF_OK && r.peak_gb_per_s > 0)
                tell(name, r.gb_per_s / r.peak_gb_per_s, "");
            else
                printf("    %s: %s: %s\n", name.c_str(), perf_status_text(r.status), r.text);
            if (mb == 8 && !write) {
                tell("cache: flushed by reading", r.flush_bytes / mib, "MiB");
                tell("cache: peak by reading", r.peak_gb_per_s, "GB/s");
                tell("cache: peak of the data sheet", r.datasheet_gb_per_s, "GB/s");
            }
        }
    NEED(cudaFree(at));
    NEED(cudaFree(scratch));
    NEED(cudaFree(out));
}

/* ---- what goes wrong in programs ---- */

static void waiting_body()
{
    perf_gpu_bench_opts o = PERF_ZERO;
    uint64_t            t = perf_now();

    o.max_seconds = 1;
    o.gate_ms = 20;
    perf_gpu_bench b = perf_gpu_bench_begin("waits", stream, &o);
    while (perf_gpu_bench_next(&b)) {
        spin<<<1, 32, 0, stream>>>(cycles_of(10e3));
        NEED(cudaStreamSynchronize(stream));
    }
    perf_gpu_result r = perf_gpu_bench_end(&b);
    tell("gate: a body that waits for the device, loop ended after",
         static_cast<double>(perf_now() - t) / 1e9, "s");
    judge("gate: gates that opened by themselves", static_cast<double>(r.gate_timeouts), "", 1, -1,
          "the body cannot end before the gate opens");
    judge("gate: its samples taken for proven", static_cast<double>(r.time.count), "", 0, 1,
          "the start has passed when the body comes back");
}

static void wrong_streams()
{
    int flagged = 0;

    for (int i = 0; i < 100; i++) {
        perf_gpu_bench_opts o = PERF_ZERO;
        o.cache = i % 2 ? PERF_GPU_HOT : PERF_GPU_COLD;
        o.max_seconds = 0.1;
        perf_gpu_bench b = perf_gpu_bench_begin("wrong stream", stream, &o);
        while (perf_gpu_bench_next(&b))
            spin<<<1, 32, 0, other>>>(cycles_of(i % 4 < 2 ? 3e3 : 300e3));
        perf_gpu_result r = perf_gpu_bench_end(&b);
        flagged += r.status == PERF_ESTREAM;
    }
    judge("wrong stream: flagged of 100", flagged, "", 98, -1,
          "nothing runs between the events; 15 empty pairs say how far they scatter");
}

static void captures()
{
    std::atomic<bool> stop(false), ready(false);
    std::atomic<long> harvests(0);
    int               broken = 0, odd = 0;

    int device = 0;
    NEED(cudaGetDevice(&device));
    perf_reset();
    std::thread harvester([&] {
        (void)cudaSetDevice(device);
        (void)cudaFree(NULL);                   /* makes the context current in this thread        */
        ready = true;
        while (!stop) {
            {
                PERF_GPU_SCOPE("beside", other);
                spin<<<1, 32, 0, other>>>(1000);
            }
            (void)perf_gpu_collect();
            harvests++;
        }
    });
    while (!ready) {
    }
    for (int i = 0; i < 1000; i++) {
        cudaGraph_t graph = NULL;
        NEED(cudaStreamBeginCapture(stream, i % 2 ? cudaStreamCaptureModeRelaxed
                                                  : cudaStreamCaptureModeThreadLocal));
        for (int k = 0; k < 3; k++) {
            PERF_GPU_SCOPE("captured", stream);
            spin<<<1, 32, 0, stream>>>(10);
        }
        size_t nodes = 0;
        if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !graph) {
            (void)cudaGetLastError();
            broken++;
            continue;
        }
        odd += cudaGraphGetNodes(graph, NULL, &nodes) != cudaSuccess || nodes != 3;
        NEED(cudaGraphDestroy(graph));
    }
    /* Global capture: only the library's own calls beside it, no launches of another thread. */
    stop = true;
    harvester.join();
    NEED(cudaStreamSynchronize(other));
    stop = ready = false;
    std::thread collector([&] {
        (void)cudaSetDevice(device);
        (void)cudaFree(NULL);
        ready = true;
        while (!stop) {
            (void)perf_gpu_collect();
            harvests++;
        }
    });
    while (!ready) {
    }
    for (int i = 0; i < 1000; i++) {
        cudaGraph_t graph = NULL;
        {
            PERF_GPU_SCOPE("before", other);
            spin<<<1, 32, 0, other>>>(1000);
        }
        NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        {
            PERF_GPU_SCOPE("captured", stream);
            spin<<<1, 32, 0, stream>>>(10);
        }
        if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !graph) {
            (void)cudaGetLastError();
            broken++;
            continue;
        }
        NEED(cudaGraphDestroy(graph));
    }
    stop = true;
    collector.join();
    NEED(cudaDeviceSynchronize());
    (void)perf_gpu_collect_sync();
    judge("capture: of 2,000 invalidated", broken, "", 0, 1, "relaxed calls only");
    judge("capture: graphs with other nodes than the kernels", odd, "", 0, 1,
          "a plain event record is no node");
    judge("capture: scopes skipped in them", static_cast<double>(perf_gpu_stats_of(NULL).captured), "",
          4000, -1, "3 x 1,000 + 1,000");
    tell("capture: calls of perf_gpu_collect meanwhile", static_cast<double>(harvests.load()), "");
    judge("capture: errors of the library", perf_gpu_stats_of(NULL).error, "", 0, 1, "none is expected");
}

/* Parts of a graph: two event nodes each, recorded anew by each replay. */
static void graph_parts()
{
    cudaGraph_t     graph = NULL;
    cudaGraphExec_t exec = NULL;
    size_t          nodes = 0;

    perf_reset();
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    {
        PERF_GPU_PART("both", stream);
        spin<<<1, 32, 0, stream>>>(cycles_of(100e3));
        {
            PERF_GPU_PART("second", stream);
            spin<<<1, 32, 0, stream>>>(cycles_of(300e3));
        }
    }
    NEED(cudaStreamEndCapture(stream, &graph));
    NEED(cudaGraphGetNodes(graph, NULL, &nodes));
    NEED(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 300; i++)               /* the clock comes up */
        spin<<<1, 32, 0, stream>>>(cycles_of(1e6));
    for (int i = 0; i < 100; i++) {
        {
            PERF_GPU_SCOPE("replay", stream);
            NEED(cudaGraphLaunch(exec, stream));
        }
        (void)perf_gpu_collect();               /* in the middle of it: must find nothing, or all of it */
        NEED(cudaStreamSynchronize(stream));
        (void)perf_gpu_collect();
    }
    double         alone = between_ns_of(20, [] { spin<<<1, 32, 0, stream>>>(cycles_of(300e3)); });
    perf_gpu_stats both = perf_gpu_stats_of("both"), part = perf_gpu_stats_of("second");
    double         mean = part.scopes ? part.device_ns / static_cast<double>(part.scopes) : 0;
    judge("graph parts: nodes of the graph", static_cast<double>(nodes), "", 6, 1, "2 kernels, 2 x 2 events");
    judge("graph parts: of 100 replays, fetched", static_cast<double>(part.scopes), "", 100, -1, "each waited for");
    judge("graph parts: of 100 replays, fetched", static_cast<double>(part.scopes), "", 100, 1, "none twice");
    judge("graph parts: of a kernel / two events around one", mean / alone, "", 1.05, 1,
          "the same kernel: 1 % of the SM clock, a node's start of up to 10 us");
    judge("graph parts: of a kernel / two events around one", mean / alone, "", 0.95, -1, "the same");
    judge("graph parts: outer / inner", both.device_ns / (part.device_ns > 0 ? part.device_ns : 1), "", 1.25, -1,
          "400 us and 300");
    judge("graph parts: errors of the library", perf_gpu_stats_of(NULL).error, "", 0, 1, "none is expected");
    NEED(cudaGraphExecDestroy(exec));
    NEED(cudaGraphDestroy(graph));
}

/* ---- threads, and a device that is reset ---- */

/* A thread that has not called CUDA yet, with a stream of somebody else. */
static void fresh_threads()
{
    perf_reset();
    for (int i = 0; i < 10; i++)
        std::thread([] {
            PERF_GPU_SCOPE("fresh", stream);
            spin<<<1, 32, 0, stream>>>(1000);
        }).join();
    (void)perf_gpu_collect_sync();
    judge("threads: scopes of 10 fresh ones", static_cast<double>(perf_gpu_stats_of("fresh").scopes), "",
          10, -1, "the stream tells its context");
}

static void many_threads()
{
    const int                n = 16, scopes = 20000;
    std::vector<std::thread> threads;

    perf_reset();
    for (int i = 0; i < n; i++)
        threads.emplace_back([] {
            cudaStream_t mine;
            if (cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking) != cudaSuccess)
                return;
            for (int k = 0; k < scopes; k++) {
                {
                    PERF_GPU_SCOPE("many", mine);
                }
                host_wait(5e3);
                if (k % 200 == 0)               /* so that the device cannot be the one that is late */
                    (void)cudaStreamSynchronize(mine);
            }
            (void)cudaStreamSynchronize(mine);
        });
    for (std::thread &t : threads)
        t.join();
    (void)perf_gpu_collect_sync();
    perf_gpu_stats s = perf_gpu_stats_of(NULL);
    tell("threads: scopes of 16 at 5 us, fetched", static_cast<double>(s.scopes), "");
    judge("threads: of them dropped", static_cast<double>(s.dropped), "", 0, 1, "the device is idle");
}

/* Slower when the device has been idle: does the warm-up end after the clock has come up? */
static void after_idle()
{
    double ns[3];

    std::this_thread::sleep_for(std::chrono::seconds(5));
    for (double &x : ns)
        x = bench("ramp", PERF_GPU_HOT, 0, 0, cycles_of(1e5)).time.p50;
    judge("idle: first bench after 5 s / third", ns[0] / ns[2], "", 1.03, 1,
          "both at the same SM clock; less is a device that heats up");
}

static void make_streams()
{
    NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    NEED(cudaEventCreate(&first));
    NEED(cudaEventCreate(&second));
}

static void device_reset()
{
    perf_reset();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            PERF_GPU_SCOPE("around a reset", stream);
            spin<<<1, 32, 0, stream>>>(1000);
        }
        (void)perf_gpu_collect_sync();
        if (round < 2) {
            NEED(cudaDeviceReset());
            make_streams();
        }
    }
    judge("reset: scopes before and after", static_cast<double>(perf_gpu_stats_of("around a reset").scopes),
          "", 300, -1, "all were fetched before each reset");
    judge("reset: errors of the library", perf_gpu_stats_of(NULL).error, "", 0, 1, "old events are left alone");
}

/* For CUDA_LAUNCH_BLOCKING=1, compute-sanitizer and ncu: a scope, a bench, and what they say. */
static void brief()
{
    uint64_t began = perf_now();

    {
        PERF_GPU_SCOPE("brief", stream);
        spin<<<1, 32, 0, stream>>>(cycles_of(1e4));
    }
    perf_gpu_bench_opts o = PERF_ZERO;
    o.samples = 10;
    o.max_seconds = 0.5;
    perf_gpu_bench b = perf_gpu_bench_begin("brief", stream, &o);
    int            any = perf_gpu_bench_next(&b);
    tell("brief: until the first body", static_cast<double>(perf_now() - began) / 1e6, "ms");
    while (any) {
        spin<<<1, 32, 0, stream>>>(cycles_of(1e5));
        any = perf_gpu_bench_next(&b);
    }
    perf_gpu_result r = perf_gpu_bench_end(&b);
    printf("    %s\n", r.text);
    tell("brief: launches are serialised", r.serialised, "");
    tell("brief: 100 us take", r.time.p50, "ns");
    judge("brief: samples, proven or shown as exposed", static_cast<double>(r.time.count + r.exposed.count),
          "", 1, -1, "one way or the other it is timed");
    (void)perf_gpu_collect_sync();
    judge("brief: scope fetched", static_cast<double>(perf_gpu_stats_of("brief").scopes), "", 1, -1, "one");
}

/* ---- output ---- */

static std::string quoted(const std::string &s)
{
    std::string q = "\"";
    for (char c : s)
        if (c == '"' || c == '\\')
            q += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) >= 0x20)
            q += c;
    return q + "\"";
}

static std::string      json, driver = "unknown", date = "unknown", commit = "unknown", gpu;
static int              cuda, major, minor;

/* What is known so far, after each part: a device that hangs or dies later takes nothing along. */
static bool save(bool complete)
{
    if (json.empty())
        return true;
    FILE *f = fopen(json.c_str(), "w");
    if (!f) {
        printf("cannot write %s\n", json.c_str());
        return false;
    }
    fprintf(f, "{\n  \"complete\": %s,\n  \"date\": %s,\n  \"commit\": %s,\n  \"gpu\": %s,\n  \"driver\": %s,\n",
            complete ? "true" : "false", quoted(date).c_str(), quoted(commit).c_str(), quoted(gpu).c_str(),
            quoted(driver).c_str());
    fprintf(f, "  \"cuda\": \"%d.%d\",\n  \"compiled_with\": \"%d.%d\",\n  \"compute\": \"%d.%d\",\n"
            "  \"multiprocessors\": %u,\n  \"sm_mhz\": %.0f,\n  \"results\": [", cuda / 1000,
            cuda % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, major, minor,
            multiprocessors, mhz);
    for (size_t i = 0; i < rows.size(); i++) {
        fprintf(f, "%s\n    {\"name\": %s, \"value\": ", i ? "," : "", quoted(rows[i].name).c_str());
        if (isfinite(rows[i].value))
            fprintf(f, "%.9g", rows[i].value);
        else
            fprintf(f, "null");
        fprintf(f, ", \"unit\": %s", quoted(rows[i].unit).c_str());
        if (rows[i].judged)
            fprintf(f, ", \"%s\": %g, \"because\": %s, \"kept\": %s",
                    rows[i].judged > 0 ? "at_most" : "at_least", rows[i].limit,
                    quoted(rows[i].why).c_str(), kept(rows[i]) ? "true" : "false");
        fprintf(f, "}");
    }
    fprintf(f, "\n  ]\n}\n");
    if (fclose(f) != 0) {
        printf("cannot write %s\n", json.c_str());
        return false;
    }
    return true;
}

/* By worth: the first minute says whether the times are right. */
static const struct {
    const char *name;
    void      (*go)();
    unsigned    seconds;                        /* at most */
} part[] = {{"steps", event_steps, 20}, {"scopes", scope_times, 20}, {"cache", cache, 60}, {"gate", waiting_body, 20},
            {"short", short_kernels, 60}, {"captures", captures, 30}, {"parts", graph_parts, 20}, {"fresh", fresh_threads, 20},
            {"threads", many_threads, 40}, {"idle", after_idle, 30}, {"reset", device_reset, 30},
            {"kernels", inside_kernels, 30}, {"clock", kernel_clock, 20}, {"timer", timer_steps, 20},
            {"costs", host_costs, 30}, {"streams", wrong_streams, 60}, {"brief", brief, 20}};
enum { PARTS = sizeof part / sizeof part[0] };

/* What the device is; 0, or 77 where there is none. */
static int open_device()
{
    int            devices = 0, clock_khz = 0, sms = 0, device = 0;
    cudaDeviceProp p;

    cudaError_t e = cudaGetDeviceCount(&devices);
    if (e != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing can be measured (%s)\n", cudaGetErrorString(e));
        return 77;
    }
    NEED(cudaGetDevice(&device));
    NEED(cudaGetDeviceProperties(&p, device));
    gpu = p.name;
    major = p.major;
    minor = p.minor;
    NEED(cudaDriverGetVersion(&cuda));
    NEED(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device));
    NEED(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    NEED(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    multiprocessors = static_cast<unsigned>(sms);
    mhz = clock_khz > 0 ? clock_khz / 1e3 : 1000;       /* no longer told: spins are then longer or shorter */
    make_streams();
    return 0;
}

/* A part in this process; its exit status: 0, 2 a call failed, 77 no device. */
static int go_here(size_t i)
{
    try {
        if (open_device())
            return 77;
        if (to_parent)
            fprintf(to_parent, "device\t%s\t%d\t%d\t%d\t%u\t%.17g\n", gpu.c_str(), cuda, major, minor,
                    multiprocessors, mhz);
        part[i].go();
    } catch (const std::exception &e) {
        printf("FAILED: %s: %s\n", part[i].name, e.what());
        judge(std::string("part ") + part[i].name + ": " + e.what(), 1, "", 0, 1, "no call fails");
        return 2;
    }
    return 0;
}

static std::vector<std::string> fields(const std::string &line)
{
    std::vector<std::string> f(1);

    for (char c : line)
        if (c == '\t')
            f.push_back("");
        else if (c != '\n')
            f.back() += c;
    return f;
}

static void take(const std::vector<std::string> &f)
{
    if (f[0] == "row" && f.size() == 7) {
        if (f[1].find("event clock: step") == 0)
            quantum_ns = atof(f[4].c_str());    /* the parts after it build on it */
        add({f[1], f[2], f[3], atof(f[4].c_str()), atof(f[5].c_str()), atoi(f[6].c_str())});
    } else if (f[0] == "device" && f.size() == 7 && gpu.empty()) {
        gpu = f[1];
        cuda = atoi(f[2].c_str());
        major = atoi(f[3].c_str());
        minor = atoi(f[4].c_str());
        multiprocessors = static_cast<unsigned>(atoi(f[5].c_str()));
        mhz = atof(f[6].c_str());
        printf("%s, driver %s, CUDA %d.%d, compiled with %d.%d, %u SMs at %.0f MHz\n", gpu.c_str(),
               driver.c_str(), cuda / 1000, cuda % 1000 / 10, CUDART_VERSION / 1000,
               CUDART_VERSION % 1000 / 10, multiprocessors, mhz);
    }
}

/* A part in a process of its own.  This one calls no CUDA: the child of a fork could not. */
static int go_apart(size_t i, unsigned seconds)
{
    int         pipes[2], status = 0;
    char        line[2000];
    std::string how;

    fflush(stdout);
    if (pipe(pipes) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        to_parent = fdopen(pipes[1], "w");
        alarm(seconds);                         /* ends it, whatever it waits for */
        int code = to_parent ? go_here(i) : 2;
        fflush(stdout);
        if (to_parent)
            fflush(to_parent);
        _exit(code);
    }
    close(pipes[1]);
    FILE *f = fdopen(pipes[0], "r");
    while (f && fgets(line, sizeof line, f))
        take(fields(line));
    if (f)
        fclose(f);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    how = WTERMSIG(status) == SIGALRM ? "did not end in " + std::to_string(seconds) + " s"
                                      : "ended by signal " + std::to_string(WTERMSIG(status));
    printf("FAILED: %s %s\n", part[i].name, how.c_str());
    judge(std::string("part ") + part[i].name + " " + how, 1, "", 0, 1, "each part ends");
    return 2;
}

int main(int argc, char **argv)
{
    int                      missed = 0, status;
    long                     seconds = 250;
    std::vector<std::string> only;
    uint64_t                 began = perf_now();

    for (int i = 1; i + 1 < argc; i += 2) {
        std::string option = argv[i], value = argv[i + 1];
        if (option == "--json")
            json = value;
        else if (option == "--driver")
            driver = value;
        else if (option == "--date")
            date = value;
        else if (option == "--commit")
            commit = value;
        else if (option == "--seconds")
            seconds = atol(argv[i + 1]);
        else if (option == "--only")
            only.push_back(value);
        else if (option == "--here") {
            for (size_t k = 0; k < PARTS; k++)
                if (value == part[k].name) {
                    status = go_here(k);
                    missed = static_cast<int>(std::count_if(rows.begin(), rows.end(), [](const row &r) { return !kept(r); }));
                    return status ? status : missed != 0;
                }
            return 2;
        } else {
            printf("unknown option %s\n", argv[i]);
            return 2;
        }
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (only.empty() ? !strcmp(part[i].name, "brief")
                         : std::find(only.begin(), only.end(), part[i].name) == only.end())
            continue;
        long left = seconds - static_cast<long>((perf_now() - began) / 1000000000u);
        if (left < 5) {
            judge(std::string("part ") + part[i].name + ": no time left", 1, "", 0, 1, "all of it fits");
            continue;
        }
        status = go_apart(i, std::min(part[i].seconds, static_cast<unsigned>(left)));
        if (status == 77)
            return 77;                          /* the part has said why                          */
        failed_calls += status != 0;
    }
    if (!save(true))
        return 2;
    printf("\n%-58s %12s %12s  %s\n", "", "expected", "measured", "held");
    for (const row &r : rows)
        if (r.judged)
            printf("%-58s %s %10.4g %12.4g  %-4s %s\n", r.name.c_str(), r.judged > 0 ? "<" : ">", r.limit,
                   r.value, kept(r) ? "yes" : "NO", r.why.c_str());

    for (const row &r : rows)
        missed += !kept(r);
    printf("%d of %d limits missed\n", missed, static_cast<int>(std::count_if(
        rows.begin(), rows.end(), [](const row &r) { return r.judged != 0; })));
    if (!json.empty())
        printf("wrote %s\n", json.c_str());
    return failed_calls ? 2 : missed != 0;
}
