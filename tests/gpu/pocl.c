/* Real kernels without a GPU: scopes, copies, the answer to what bounds a program, a bench, an A/B loop
 * and a baseline on OpenCL (opencl.h), which Debian's pocl runs on the processor.  Only counts, orders and ratios
 * are asserted: the machine may be as busy as it likes.  Exit status 77: no OpenCL device. */
#include "opencl.h"

#include <unistd.h>

#include "perf_diagnosis.h"
#include "perf_results.h"
#include "check.h"

static const char source[] =
    "__kernel void turns(__global uint *x, uint n)\n"
    "{\n"
    "    uint at = get_global_id(0), a = at + 1, i;\n"
    "    for (i = 0; i < n; i++)\n"
    "        a = a * 1664525u + 1013904223u;\n"
    "    x[at] = a;\n"
    "}\n";

static cl_kernel turns;
static cl_mem    memory;
static char      host[8 << 20];

static int build(void)
{
    const char *text = source;
    cl_int      code = 0;
    cl_program  program = clCreateProgramWithSource(ocl_context, 1, &text, NULL, &code);

    if (code || clBuildProgram(program, 1, &ocl_device, "", NULL, NULL))
        return 0;
    turns = clCreateKernel(program, "turns", &code);
    memory = clCreateBuffer(ocl_context, CL_MEM_READ_WRITE, sizeof host, NULL, &code);
    return !code;
}

/* n turns of a dependent chain: so long the kernel takes. */
static void launch(cl_command_queue stream, cl_uint n)
{
    const size_t items = 1;

    (void)clSetKernelArg(turns, 0, sizeof memory, &memory);
    (void)clSetKernelArg(turns, 1, sizeof n, &n);
    (void)clEnqueueNDRangeKernel(stream, turns, 1, NULL, &items, NULL, 0, NULL, NULL);
    (void)clFlush(stream);
}

static void copy_in(cl_command_queue stream)
{
    (void)clEnqueueWriteBuffer(stream, memory, CL_FALSE, 0, sizeof host, host, 0, NULL, NULL);
    (void)clFlush(stream);
}

static double mean(const char *name)
{
    perf_gpu_stats a = perf_gpu_stats_of(name);

    return a.scopes ? a.device_ns / (double)a.scopes : 0;
}

enum { TRIES = 5 };             /* a mean of thirty kernels moves with one that lost the processor */

/* Nested scopes on two streams: each is fetched, the inner ones are within.  Whether ten times the turns took
 * longer, as they do where no other program kept the short ones from a processor. */
static int scopes(cl_command_queue one, cl_command_queue two)
{
    perf_gpu_stats a;
    int            i;

    perf_reset();
    for (i = 0; i < 30; i++) {
        {
            PERF_GPU_SCOPE("outer", one);
            launch(one, 20000);
            {
                PERF_GPU_SCOPE("inner", one);
                launch(one, 200000);
            }
        }
        {
            PERF_GPU_SCOPE("beside", two);
            launch(two, 20000);
        }
        if (i % 10 == 9) {
            PERF_GPU_WAIT("wait");
            (void)clFinish(one);
            (void)clFinish(two);
        }
    }
    CHECK(perf_gpu_collect_sync() == PERF_OK, "%s", perf_gpu_error_text());
    a = perf_gpu_stats_of(NULL);
    CHECK(a.scopes == 90 && !a.failed && !a.dropped && !a.pending && !a.captured && !a.no_context, "%g fetched, %g failed", (double)a.scopes,
          (double)a.failed);
    CHECK(mean("outer") > mean("inner"), "outer %g, inner %g ns", mean("outer"), mean("inner"));
    CHECK(a.busy_ns > 0 && a.busy_ns <= a.span_ns, "busy %g of %g ns", a.busy_ns, a.span_ns);
    CHECK(a.aligned_ns >= 0 && a.lag_ns >= 0, "clock within %g ns", a.aligned_ns);
    printf("outer %.3f times inner, inner %.3f times beside, clock within %.3f of a mean\n", mean("outer") / mean("inner"),
           mean("inner") / mean("beside"), a.aligned_ns / mean("inner"));
    return mean("inner") > mean("beside");
}

/* The text of a report of what was done since the last perf_reset(). */
static const char *report(void)
{
    static char text[1 << 16];

    (void)perf_gpu_collect_sync();
    (void)perf_report_text(text, sizeof text, NULL);
    return text;
}

/* Copies one behind the other with hardly a kernel between: whether the copies are said to bound it. */
static int copy_bound(cl_command_queue stream)
{
    const char *text;
    int         i;

    perf_reset();
    for (i = 0; i < 60; i++) {
        PERF_SCOPE("step");
        {
            PERF_GPU_COPY_IN("weights", stream);
            copy_in(stream);
        }
        {
            PERF_GPU_SCOPE("tiny", stream);
            launch(stream, 10);
        }
    }
    {
        PERF_GPU_WAIT("wait");
        (void)clFinish(stream);
    }
    text = report();
    CHECK(perf_gpu_stats_of("weights").scopes == 60 && perf_gpu_stats_of(NULL).copy_ns == perf_gpu_stats_of("weights").device_ns, "%s", text);
    return strstr(text, "bottleneck: copies") != NULL;
}

static volatile unsigned kept;

/* Kernels of no length between long thoughts of the host: the device waits for it.  Where other programs keep
 * pocl's threads from a processor it is open which of the two it was. */
static void host_bound(cl_command_queue stream)
{
    const char *text;
    int         i;
    unsigned    k, x = 1;

    perf_reset();
    for (i = 0; i < 100; i++) {
        PERF_SCOPE("step");
        for (k = 0; k < 1000000; k++)
            x = x * 1664525u + 1013904223u;
        kept = x;
        PERF_GPU_SCOPE("tiny", stream);
        launch(stream, 10);
    }
    (void)clFinish(stream);
    text = report();
    CHECK(strstr(text, "bottleneck: launches") || strstr(text, "bottleneck: cannot tell"), "%s", text);
}

static perf_gpu_result bench_of(cl_command_queue stream, cl_uint n, double seconds)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    perf_gpu_bench      b;

    o.cache = PERF_GPU_HOT;
    o.max_seconds = seconds;
    b = perf_gpu_bench_begin("turns", stream, &o);
    while (perf_gpu_bench_next(&b))
        launch(stream, n);
    return perf_gpu_bench_end(&b);
}

static void bench(cl_command_queue stream)
{
    const perf_gpu_result r = bench_of(stream, 100000, 1.0);

    CHECK(r.status == PERF_OK && r.time.count >= 3 && r.time.p50 > 0, "%s", r.text);
    CHECK((r.gate == 2 || r.gate_timeouts >= 3) && !r.serialised && r.exposed.count < r.samples, "gate %d, %d of %d exposed", r.gate,
          (int)r.exposed.count, (int)r.samples);
    printf("bench: %s\n", r.text);
}

/* The baseline does 1.667 times the work. */
static void race(cl_command_queue stream, cl_uint baseline, cl_uint candidate, perf_decision wanted)
{
    perf_gpu_ab_opts   o = PERF_ZERO;
    perf_gpu_ab        ab;
    perf_gpu_ab_result r;
    int                which;

    o.device.cache = PERF_GPU_HOT;
    o.device.max_seconds = 4.0;
    o.seed = 7;
    ab = perf_gpu_ab_begin("turns", stream, &o);
    while ((which = perf_gpu_ab_next(&ab)) >= 0)
        launch(stream, which ? candidate : baseline);
    r = perf_gpu_ab_end(&ab);
    CHECK(r.status == PERF_OK && r.baseline.time.count > 0, "%s", r.baseline.text);
    CHECK(r.verdict.decision != (wanted == PERF_ACCEPT ? PERF_REJECT : PERF_ACCEPT), "the wrong answer");
    if (r.verdict.decision == PERF_INCONCLUSIVE)
        printf("A/B: open after %d pairs, on a busy machine\n", (int)r.baseline.time.count);
    printf("A/B: p50 %.3f of the candidate's, %.3f true\n", r.baseline.time.p50 / r.candidate.time.p50, (double)baseline / candidate);
}

/* One process is one run: adds it to the baseline, or checks it. */
static void run_of_baseline(cl_command_queue stream, const char *file, int add, cl_uint turns_of_it)
{
    const perf_gpu_result r = bench_of(stream, turns_of_it, 0.4);
    perf_baseline         b;

    CHECK(r.status == PERF_OK && r.time.count > 0, "%s", r.text);
    if (add) {
        CHECK(perf_baseline_add(file, NULL) == PERF_OK, "%s", file);
        return;
    }
    b = perf_baseline_check(file, NULL);
    CHECK(b.status == PERF_OK && b.runs == 6 && b.entries == 1 && !b.other_runs, "%d runs, %d entries", (int)b.runs, (int)b.entries);
    if (b.entries == 1) {
        CHECK(!strcmp(b.entry[0].name, "turns") && b.entry[0].runs >= 1, "%s, %d runs", b.entry[0].name, (int)b.entry[0].runs);
        CHECK(b.entry[0].now > 2 * b.entry[0].before && b.decision != PERF_ACCEPT, "five times the turns: %g, before %g ns",
              b.entry[0].now, b.entry[0].before);
        (void)perf_baseline_to(stdout, &b);
    }
    perf_baseline_free(&b);
}

/* Six runs saved, and a seventh with five times the turns. */
static void baseline(const char *program)
{
    char command[600], file[64];
    int  i;

    (void)snprintf(file, sizeof file, "pocl-baseline-%d.json", (int)getpid());
    for (i = 0; i < 7; i++) {
        (void)snprintf(command, sizeof command, "'%s' %s %s %d", program, i < 6 ? "add" : "check", file, i < 6 ? 50000 : 250000);
        CHECK(system(command) == 0, "%s", command);
    }
    (void)remove(file);
}

int main(int n, char **word)
{
    cl_command_queue one, two;
    int              tries;

    if (!ocl_start() || !build()) {
        printf("no OpenCL device (Debian: pocl-opencl-icd)\n");
        return 77;
    }
    one = ocl_stream();
    two = ocl_stream();
    launch(one, 10);
    copy_in(one);
    (void)clFinish(one);
    if (n == 4) {
        run_of_baseline(one, word[2], !strcmp(word[1], "add"), (cl_uint)atoi(word[3]));
        return check_done();
    }
    for (tries = 0; tries < TRIES && !scopes(one, two); tries++)
        ;
    CHECK(tries < TRIES, "ten times the turns took no longer in %d tries", tries);
    for (tries = 0; tries < TRIES && !copy_bound(one); tries++)
        ;
    CHECK(tries < TRIES, "%s", report());
    host_bound(one);
    bench(one);
    race(one, 166700, 100000, PERF_ACCEPT);
    race(one, 100000, 100000, PERF_REJECT);
    baseline(word[0]);
    return check_done();
}
