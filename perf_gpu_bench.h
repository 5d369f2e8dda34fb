/* perf_gpu_bench.h - how long does a kernel take, and is the new one faster?
 *
 *     perf_gpu_bench b = perf_gpu_bench_begin("saxpy", stream, NULL);
 *     while (perf_gpu_bench_next(&b))
 *         saxpy<<<grid, block, 0, stream>>>(n, 2.0f, x, y);        // on that stream, no waiting
 *     perf_gpu_result r = perf_gpu_bench_end(&b);                  // r.time.p50, r.text, r.status
 *
 * Works wherever perf_cuda.h does: also from plain C, with a stream that came as a pointer.
 * Needs perf_cuda.h, perf.h and perf_stats.h beside it.
 * Sections (search for ">>"):  bench  ab  private
 * SPDX-License-Identifier: MIT (full text at the end of perf.h)                                  */
#ifndef PERF_GPU_BENCH_H
#define PERF_GPU_BENCH_H

#include "perf_cuda.h"

PERF_BEGIN_DECLS

/* >>bench: how long does one iteration take on the device? ---------------------------------------
 * A sample is: [the cache is flushed] gate, event, body, event.  The gate holds the stream until
 * the host has enqueued all of it, so that no launch cost, scheduler or garbage collector can leak
 * into the time.  Each sample proves it: the first event must still be pending when the second has
 * been enqueued.  A sample without the proof is `exposed`: kept, counted, never mixed into `time`.
 * The gate opens by itself after gate_ms, so a body that waits for the device cannot hang.
 * The step of the event clock is measured; samples hold as many iterations as it takes to make it
 * 0.5 % of their time (cold: one), and no interval is printed narrower than it.
 * The first iteration is timed alone (first_ns: modules load there).  At least 3 launches and a
 * steady SM clock come before the samples; they end when the median is known to 0.5 %.
 * The call of next() that asks for the next sample waits for the last one.  One loop belongs to one
 * thread.  No other thread may capture in the context while the warm-up lasts.                   */
typedef enum perf_gpu_cache {
    PERF_GPU_COLD,              /* before each sample the L2 cache is read full of other, clean */
                                /* lines; how much that takes is measured */
    PERF_GPU_HOT,               /* what the iteration before left there */
    PERF_GPU_ROTATE             /* your body uses copy perf_gpu_bench_copy(&b) of its buffers */
} perf_gpu_cache;

typedef struct perf_gpu_bench_opts {    /* zero = default */
    perf_gpu_cache cache;       /* 0 -> PERF_GPU_COLD */
    int      graph;             /* 1: the body is captured once and the graph is timed; the body */
                                /* then no longer runs (a loop of a few rounds); not with ROTATE */
    int      batch;             /* iterations a sample; 0 -> enough for the event clock, at most */
                                /* 512; COLD: always 1 */
    int      warmup;            /* launches thrown away; 0 -> 3 and a steady clock; n > 3 -> n */
    int      samples;           /* 0 -> 30 .. 1000, until rel_ci; n > 0 -> n */
    double   rel_ci; /* half-width of the median's 95 % interval to stop at; 0 -> 0.005 */
    double   max_seconds;       /* 0 -> 2.0; slow bodies still get 3 samples */
    double   gate_ms;           /* the gate opens by itself; 0 -> 100; < 0: no gate */
    double   bytes, items;      /* per iteration, for GB/s, percent of peak and items/s */
    int      rotate_copies;     /* ROTATE: how many copies there are */
    double   rotate_bytes;      /* and how many bytes an iteration touches of its copy */
} perf_gpu_bench_opts;

/* Bits of perf_gpu_sample.flags. */
#define PERF_GPU_SAMPLE_EXPOSED   1u    /* host time may be in it: not in `time` */
#define PERF_GPU_SAMPLE_THROTTLED 2u    /* the device slowed itself down; still in `time` */
#define PERF_GPU_SAMPLE_IDLE      4u    /* nothing ran between the events: not in `time` */
#define PERF_GPU_SAMPLE_TIMEOUT   8u    /* the gate opened by itself */

typedef struct perf_gpu_sample {
    double   ns;                /* between the events, per iteration */
    double   host_ns;           /* that the host took to enqueue it, per iteration */
    uint64_t throttle;          /* NVML's clocks-event reasons, 0: none or unknown */
    uint32_t sm_mhz;            /* SM clock while it ran, 0: unknown */
    uint32_t flags;             /* PERF_GPU_SAMPLE_ bits */
} perf_gpu_sample;

typedef struct perf_gpu_result {
    perf_summary time;          /* device ns per iteration, proven samples; count 0: none, see */
                                /* status.  After an error: of the samples before it */
    perf_summary exposed;       /* ns of the samples without proof, host time included */
    perf_summary launch;        /* host ns to enqueue one iteration (of a graph: its launch) */
    double   first_ns;           /* the first iteration, host time included */
    double   quantum_ns;        /* step of the event clock, already in the interval of time.p50 */
    double   overhead_ns;       /* between two events with nothing between them; not taken off */
    uint64_t batch;             /* iterations a sample */
    uint64_t iterations;        /* of the body, warm-up included */
    uint64_t throttled, idle;   /* samples so flagged */
    uint64_t gate_timeouts;     /* how often the gate opened by itself, warm-up included */
    uint64_t throttle;          /* reasons of all samples, or-ed */
    uint32_t sm_mhz_low, sm_mhz_high;   /* 0: unknown */
    double   flush_bytes;       /* read before each sample; 0: none */
    double   flush_effect;      /* a small read after it / the same read warm; 0: not measured */
    double   gbs;               /* opts.bytes / time.p50; 0 without bytes */
    double   peak_gbs;          /* read bandwidth measured here, just before; 0: not measured */
    double   datasheet_gbs;     /* memory clock x 2 x bus; 0: unknown */
    const perf_gpu_sample *sample;      /* all of them, in order; valid until the program ends */
    uint64_t samples;
    int      graph;             /* 1: a graph was timed */
    int      gate;              /* 0 none, 1 a kernel of ours, 2 a function on a driver's thread */
    int      serialised;        /* 1: each launch waited for its end (CUDA_LAUNCH_BLOCKING, a */
                                /* profiler): timed by events inside a graph, or not at all */
    int      simulated;         /* 1: no hardware behind it */
    int      code;              /* the driver's first error, 0: none; its text is in `text` */
    perf_gpu_bench_opts opts;   /* what really ran */
    perf_status status;
    uint32_t warnings;          /* PERF_WARN_ bits */
    char     text[360];         /* how it was measured and what to read it with, one line */
} perf_gpu_result;

typedef struct perf_gpu_bench {         /* private */
    int64_t                left;
    struct perf_gpu_loop_ *state;
} perf_gpu_bench;

PERF_FN perf_gpu_bench_opts perf_gpu_bench_opts_default(void);  /* all zero; for C++11 and Cython */
/* What the loop will use: each 0 replaced by its default.  NULL: all defaults. */
PERF_FN perf_gpu_bench_opts perf_gpu_bench_opts_resolved(const perf_gpu_bench_opts *opts);

/* Allocates, and waits for what `stream` holds.  name copied, NULL is "(unnamed)"; opts NULL:
 * defaults.  Never fails visibly: without a device, a current context or memory the loop runs zero
 * times and perf_gpu_bench_end says why. */
PERF_FN perf_gpu_bench  perf_gpu_bench_begin(const char *name, perf_stream stream,
                                             const perf_gpu_bench_opts *opts);

/* 1: run the body once more.  Within a sample one decrement, one branch; between samples it
 * waits. */
PERF_FN int             perf_gpu_bench_next(perf_gpu_bench *b);

/* Which copy of your buffers this iteration has to use: 0 .. rotate_copies - 1; else 0. */
PERF_FN int             perf_gpu_bench_copy(const perf_gpu_bench *b);

/* The result, also kept for perf_report.  Waits for the stream, frees all that begin took from the
 * device.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *b);

/* >>ab: is the candidate faster than the baseline on the device? ---------------------------------
 *
 *     int v;
 *     perf_gpu_ab ab = perf_gpu_ab_begin("transpose", stream, NULL);  // asks for >= 1.3x
 *     while ((v = perf_gpu_ab_next(&ab)) >= 0) {
 *         if (v) tiled<<<grid, block, 0, stream>>>(out, in);
 *         else   naive<<<grid, block, 0, stream>>>(out, in);
 *     }
 *     perf_gpu_ab_result r = perf_gpu_ab_end(&ab);                   // r.verdict.decision
 *
 * The two take turns, sample by sample, in an order chosen by a coin for each pair; the loop stops
 * as soon as the question is decided.  Only pairs of two proven samples count.                   */
typedef struct perf_gpu_ab_opts {       /* zero = default */
    perf_gpu_bench_opts device; /* for both; samples and rel_ci are not used */
    perf_compare_opts   accept; /* default: speed-up >= 1.3x at 95 %; memory, throughput: EINVAL */
    int      min_pairs;         /* 0 -> 30 */
    int      max_pairs;         /* 0 -> 1,000 (typical ratio), 400 (quantiles, mean) */
    uint64_t seed;              /* of the coin; 0 -> from the clock, shown in the result */
} perf_gpu_ab_opts;

typedef struct perf_gpu_ab_result {
    perf_verdict     verdict;   /* perf_verdict_text(&r.verdict) for a sentence */
    perf_gpu_result  baseline, candidate;
    double           seconds;   /* from begin to end */
    perf_gpu_ab_opts opts;      /* what really ran */
    perf_status      status;    /* anything but PERF_OK: the verdict is INCONCLUSIVE */
    uint32_t         warnings;
} perf_gpu_ab_result;

typedef struct perf_gpu_ab {            /* private */
    int64_t                left;
    struct perf_gpu_loop_ *state;
    int                    variant;
} perf_gpu_ab;

PERF_FN perf_gpu_ab_opts   perf_gpu_ab_opts_default(void);      /* all zero; for C++11 and Cython */
/* What the loop will use: each 0 replaced by its default.  NULL: all defaults. */
PERF_FN perf_gpu_ab_opts   perf_gpu_ab_opts_resolved(const perf_gpu_ab_opts *opts);

/* Like perf_gpu_bench_begin.  PERF_EINVAL for a rule that asks for no time. */
PERF_FN perf_gpu_ab        perf_gpu_ab_begin(const char *name, perf_stream stream,
                                             const perf_gpu_ab_opts *opts);

/* 0: launch the baseline once; 1: launch the candidate once; -1: done. */
PERF_FN int                perf_gpu_ab_next(perf_gpu_ab *ab);

/* Which copy of your buffers this iteration has to use, see perf_gpu_bench_copy. */
PERF_FN int                perf_gpu_ab_copy(const perf_gpu_ab *ab);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab);

PERF_END_DECLS

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

#if (defined(__CUDACC__) || defined(__HIPCC__)) && !defined(__HIP_CPU_RT__) && !PERF_DISABLE
/* Where PTX cannot be loaded.  A template: no code in files that run no loop. */
template <int Unused_>
__global__ void perf_gpu_sweep_kernel_(uint4 *at, unsigned long long vectors)
{
    unsigned long long i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
    unsigned           a = 0;

    for (; i < vectors; i += static_cast<unsigned long long>(gridDim.x) * blockDim.x) {
        uint4 v = at[i];
        a |= v.x | v.y | v.z | v.w;
    }
    if (a == 0x9e3779b9u)                       /* never: it is all zeros */
        at->x = a;
}
#define PERF_GPU_OWN_SWEEP_ 1
#else
#define PERF_GPU_OWN_SWEEP_ 0
#endif

PERF_BEGIN_DECLS

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#endif

PERF_FN perf_gpu_bench_opts perf_gpu_bench_opts_default(void)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    return o;
}

#define PERF_GPU_MOST_SAMPLES_ 1000     /* of a bench that looks for a narrow interval */
#define PERF_GPU_MOST_BATCH_   512      /* the driver takes about 1,000 launches, then it waits */
#define PERF_GPU_PROBES_       64       /* launches that show whether anything runs on the stream */
#define PERF_GPU_PERCENT_      0.005    /* what step and cost of the events may be of a sample */

/* What the loop will use: each 0 replaced by its default.  NULL: all defaults. */
PERF_FN perf_gpu_bench_opts perf_gpu_bench_opts_resolved(const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts o = opts ? *opts : perf_gpu_bench_opts_default();

    if (o.cache != PERF_GPU_HOT && o.cache != PERF_GPU_ROTATE)
        o.cache = PERF_GPU_COLD;
    o.graph = o.graph > 0;
    o.batch = o.batch < 0 ? 0 : o.batch > PERF_GPU_MOST_BATCH_ ? PERF_GPU_MOST_BATCH_ : o.batch;
    if (o.cache == PERF_GPU_COLD)
        o.batch = 1;
    o.warmup = o.warmup <= 0 ? 0 : o.warmup < 3 ? 3 : o.warmup;
    o.samples = o.samples < 0 ? 0 : o.samples > 1000000 ? 1000000 : o.samples;
    o.rel_ci = perf_or_default_(o.rel_ci, 1e-6, 1.0, 0.005);
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    o.gate_ms = o.gate_ms < 0.0 ? -1.0 : perf_or_default_(o.gate_ms, 0.01, 10e3, 100.0);
    o.bytes = perf_or_default_(o.bytes, 1e-30, 1e30, 0.0);
    o.items = perf_or_default_(o.items, 1e-30, 1e30, 0.0);
    if (o.cache != PERF_GPU_ROTATE) {
        o.rotate_copies = 0;
        o.rotate_bytes = 0.0;
    }
    o.rotate_copies = o.rotate_copies < 0 ? 0 : o.rotate_copies;
    o.rotate_bytes = perf_or_default_(o.rotate_bytes, 1.0, 1e18, 0.0);
    return o;
}

PERF_FN perf_gpu_ab_opts perf_gpu_ab_opts_default(void)
{
    perf_gpu_ab_opts o = PERF_ZERO;
    return o;
}

PERF_FN perf_gpu_ab_opts perf_gpu_ab_opts_resolved(const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab_opts o = opts ? *opts : perf_gpu_ab_opts_default();
    perf_metric      m;

    o.device = perf_gpu_bench_opts_resolved(&o.device);
    o.accept = perf_compare_opts_resolved(&o.accept);
    o.accept.design = PERF_DESIGN_RANDOM;
    m = o.accept.rule.metric;
    o.min_pairs = o.min_pairs > 0 ? o.min_pairs : 30;
    if (o.max_pairs <= 0)
        o.max_pairs = m == PERF_METRIC_P50 || m == PERF_METRIC_P95 || m == PERF_METRIC_P99 ||
                      m == PERF_METRIC_MEAN ? 400 : PERF_GPU_MOST_SAMPLES_;
    if (o.max_pairs > 1000000)
        o.max_pairs = 1000000;
    if (o.min_pairs > 1000000)
        o.min_pairs = 1000000;
    if (o.max_pairs < o.min_pairs)
        o.max_pairs = o.min_pairs;
    return o;
}

#if !PERF_DISABLE
/* ---- what a loop keeps ---- */

typedef struct perf_gpu_word_ {         /* the gate: host memory that the device can see */
    uint32_t flag;                      /* 1: open */
    uint32_t out; /* the gate's answer: 1 opened by the flag, 2 by the clock */
    uint64_t limit_ns;
} perf_gpu_word_;

typedef struct perf_gpu_arm_ {
    perf_gpu_sample *sample;            /* all, in order */
    double          *clean;             /* ns per iteration of those that count */
    size_t           count, cleans;
    uint64_t         batch, most, runs; /* iterations a sample, at most; so far */
    uint64_t         plain;             /* batch without a graph */
    double           fastest, single;   /* ns a slice at this batch; of one iteration alone */
    double           first_ns;
    int              launches, readings, steady;
    int              ahead; /* warm-up bodies that came back before the device was done */
    void            *exec;              /* the graph */
} perf_gpu_arm_;

typedef struct perf_gpu_loop_ {
    union {                             /* what perf_report and writers of results see */
        perf_loop_       loop;
        perf_loop_state_ state;
    } as;
    const perf_gpu_backend *t;
    perf_gpu_bench_opts opts;
    perf_gpu_ab_opts ab_opts;
    void            *stream, *ctx, *start, *stop, *all, *module, *gate_kernel, *sweep_kernel;
    perf_gpu_word_  *word, own_word;
    uint64_t         word_address, scratch, scratch_bytes;
    int              device, gate, gate_off, timeouts_in_row, arms, variant, second, phase, typical;
    int              opened;            /* a slice is under way: 1 timed, 2 captured */
    int              code, down, discard, busy, probed, probing, useless, no_sweep, l2_known;
    int              serial, own_graph, inside, on_stream, asked, calm;
    double           l2_bytes, flush_bytes, flush_effect, quantum, empty, idle, quiet_ns;
    double           peak_gbs, datasheet_gbs, block, block_before, warm_limit;
    uint64_t         began, host0, warm_began, block_began, gate_timeouts, coin, shown;
    uint64_t         multiprocessors;
    double           slice_ns, slice_host_ns;   /* of the slice that has ended */
    int              slice_exposed, slice_timeout;
    uint32_t         slice_mhz, mhz_before;
    uint64_t         slice_throttle;
    perf_gpu_arm_    arm[2];
    perf_slice_      told[2];
    perf_seq         seq;
    size_t           look_at;
    perf_status      status;
    uint32_t         warnings;
    const char      *why;               /* more than the status says, or NULL */
    perf_gpu_result  result;
    char             note[360];
} perf_gpu_loop_;

enum { PERF_GPU_START_, PERF_GPU_FIRST_, PERF_GPU_WARM_, PERF_GPU_GROW_, PERF_GPU_CAPTURE_,
       PERF_GPU_DISCARD_, PERF_GPU_SAMPLE_, PERF_GPU_DONE_ };

/* Remembers the first error, and tells it to perf_gpu_error_code() if the loop ends with it.
 * After a shut-down nothing is called any more. */
PERF_COLD_FN_ void perf_gpu_met_(perf_gpu_loop_ *s, int code, int ends)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();

    if (!s->code)
        s->code = code;
    if (!ends || s->down)
        return;
    s->down = code == PERF_GPU_SHUT_DOWN;
    if (d && (s->down || s->status == PERF_OK))
        perf_gpu_error_(d, "perf_gpu_bench", code);
    if (s->status == PERF_OK)
        s->status = PERF_EGPU;
}

/* 1 when there was no error; else the loop has failed. */
PERF_FN int perf_gpu_try_(perf_gpu_loop_ *s, int code)
{
    if (!code)
        return 1;
    perf_gpu_met_(s, code, 1);
    return 0;
}

/* The same for what can be done without: remembered, but no failure. */
PERF_FN int perf_gpu_attempt_(perf_gpu_loop_ *s, int code)
{
    if (!code)
        return 1;
    perf_gpu_met_(s, code, code == PERF_GPU_SHUT_DOWN);
    return 0;
}

typedef struct perf_gpu_inside_ {
    int mode, relaxed, pushed;
} perf_gpu_inside_;

/* Our calls run in the stream's context, and may not ruin a capture of another thread. */
PERF_COLD_FN_ void perf_gpu_go_in_(perf_gpu_loop_ *s, perf_gpu_inside_ *in)
{
    void *now = PERF_NULL_;
    int   code = s->t->capture_mode ? 0 : 1;

    in->mode = 2;
    in->pushed = 0;
    if (!code)
        code = s->t->capture_mode(&in->mode);
    in->relaxed = !code;
    if (code != PERF_GPU_SHUT_DOWN && s->ctx && s->t->ctx_push && s->t->ctx_pop) {
        code = s->t->ctx_get(&now);
        if (!code && now != s->ctx)
            in->pushed = perf_gpu_try_(s, s->t->ctx_push(s->ctx));
    }
    if (code == PERF_GPU_SHUT_DOWN)
        (void)perf_gpu_try_(s, code);
}

PERF_COLD_FN_ void perf_gpu_go_out_(const perf_gpu_loop_ *s, perf_gpu_inside_ *in)
{
    void *was = PERF_NULL_;

    if (in->pushed && !s->down)
        (void)s->t->ctx_pop(&was);
    if (in->relaxed && !s->down)
        (void)s->t->capture_mode(&in->mode);
}

/* ---- helper kernels ---- */

/* perf_gate(flag, out, ns): waits until *flag, at most ns.  perf_sweep(base, vectors): reads. */
PERF_COLD_FN_ const char *perf_gpu_ptx_(void)
{
    return
        ".version 6.3\n"
        ".target sm_50\n"
        ".address_size 64\n"
        ".visible .entry perf_gate(.param .u64 f, .param .u64 o, .param .u64 n) {\n"
        ".reg .pred p;\n"
        ".reg .u32 v;\n"
        ".reg .u64 flag, out, ns, t0, t;\n"
        "ld.param.u64 flag, [f];\n"
        "ld.param.u64 out, [o];\n"
        "ld.param.u64 ns, [n];\n"
        "mov.u64 t0, %globaltimer;\n"
        "AGAIN:\n"
        "ld.volatile.global.u32 v, [flag];\n"
        "setp.ne.u32 p, v, 0;\n"
        "mov.u32 v, 1;\n"
        "@p bra OPEN;\n"
        "mov.u64 t, %globaltimer;\n"
        "sub.u64 t, t, t0;\n"
        "setp.lt.u64 p, t, ns;\n"
        "@p bra AGAIN;\n"
        "mov.u32 v, 2;\n"
        "OPEN:\n"
        "st.volatile.global.u32 [out], v;\n"
        "membar.sys;\n"
        "ret;\n"
        "}\n"
        ".visible .entry perf_sweep(.param .u64 b, .param .u64 n) {\n"
        ".reg .pred p;\n"
        ".reg .u32 c, d, x, a, e<4>;\n"
        ".reg .u64 at, end, step, k;\n"
        "ld.param.u64 at, [b];\n"
        "ld.param.u64 end, [n];\n"
        "mov.u32 c, %ctaid.x;\n"
        "mov.u32 d, %ntid.x;\n"
        "mov.u32 x, %tid.x;\n"
        "mad.lo.u32 c, c, d, x;\n"
        "mov.u32 x, %nctaid.x;\n"
        "mul.wide.u32 step, x, d;\n"
        "shl.b64 step, step, 4;\n"
        "shl.b64 end, end, 4;\n"
        "add.u64 end, at, end;\n"
        "mul.wide.u32 k, c, 16;\n"
        "mov.u32 a, 0;\n"
        "add.u64 at, at, k;\n"
        "NEXT:\n"
        "setp.ge.u64 p, at, end;\n"
        "@p bra DONE;\n"
        "ld.global.cg.v4.u32 {e0, e1, e2, e3}, [at];\n"
        "or.b32 a, a, e0;\n"
        "or.b32 a, a, e1;\n"
        "or.b32 a, a, e2;\n"
        "or.b32 a, a, e3;\n"
        "add.u64 at, at, step;\n"
        "bra NEXT;\n"
        "DONE:\n"
        "setp.ne.u32 p, a, 0x9e3779b9;\n"
        "@p bra LEAVE;\n"
        "ld.param.u64 at, [b];\n"
        "st.global.u32 [at], a;\n"
        "LEAVE:\n"
        "ret;\n"
        "}\n";
}

/* The gate where no kernel can be it: a function on the driver's thread. */
PERF_COLD_FN_ void perf_gpu_host_gate_(void *user)
{
    perf_gpu_word_ *w = PERF_CAST_(perf_gpu_word_ *, user);
    uint64_t        began = perf_now();

    while (!PERF_ACQ_(&w->flag))
        if (perf_now() - began > w->limit_ns) {
            PERF_REL_(&w->out, 2u);
            return;
        }
    PERF_REL_(&w->out, 1u);
}

PERF_COLD_FN_ int perf_gpu_sweep_(const perf_gpu_loop_ *s, uint64_t at, double bytes, void *stream)
{
    uint64_t vectors = PERF_CAST_(uint64_t, bytes / 16.0);
    unsigned blocks = PERF_CAST_(unsigned, 8 * (s->multiprocessors ? s->multiprocessors : 128));
    void    *parameter[2];

    if (vectors / 256 + 1 < blocks)
        blocks = PERF_CAST_(unsigned, vectors / 256 + 1);
    parameter[0] = &at;
    parameter[1] = &vectors;
    if (s->sweep_kernel)
        return s->t->launch(s->sweep_kernel, blocks, 1, 1, 256, 1, 1, 0, stream, parameter,
                            PERF_NULL_);
#if PERF_GPU_OWN_SWEEP_
#if defined(__HIPCC__)
    perf_gpu_sweep_kernel_<0><<<dim3(blocks), dim3(256), 0, PERF_CAST_(hipStream_t, stream)>>>(
        PERF_PTR_(uint4 *, at), vectors);
    return PERF_CAST_(int, hipGetLastError());
#else
    perf_gpu_sweep_kernel_<0><<<blocks, 256, 0, PERF_CAST_(cudaStream_t, stream)>>>(
        PERF_PTR_(uint4 *, at), vectors);
    return PERF_CAST_(int, cudaGetLastError());
#endif
#else
    return 1;
#endif
}

PERF_FN int perf_gpu_can_sweep_(const perf_gpu_loop_ *s)
{
    return s->scratch && (s->sweep_kernel || (PERF_GPU_OWN_SWEEP_ && !s->no_sweep));
}

/* Closes the gate behind what the stream holds. */
PERF_COLD_FN_ int perf_gpu_shut_(perf_gpu_loop_ *s)
{
    uint64_t flag = s->word_address, out = flag + 4, limit = s->own_word.limit_ns;
    void    *parameter[3];

    PERF_REL_(&s->word->flag, 0u);
    PERF_REL_(&s->word->out, 0u);
    s->word->limit_ns = limit;
    if (s->gate == 2)
        return s->t->host_func(s->stream, perf_gpu_host_gate_, s->word);
    parameter[0] = &flag;
    parameter[1] = &out;
    parameter[2] = &limit;
    return s->t->launch(s->gate_kernel, 1, 1, 1, 1, 1, 1, 0, s->stream, parameter, PERF_NULL_);
}

/* ---- one slice: gate, event, body, event ---- */

/* 0: an error, and nothing is held back. */
PERF_COLD_FN_ int perf_gpu_slice_begin_(perf_gpu_loop_ *s, int gated, int flush)
{
    s->slice_timeout = 0;
    if (flush && !perf_gpu_try_(s, perf_gpu_sweep_(s, s->scratch, s->flush_bytes, s->stream)))
        return 0;
    gated = gated && s->gate && !s->gate_off;
    if (gated && !perf_gpu_try_(s, perf_gpu_shut_(s)))
        return 0;
    s->opened = 1;
    s->host0 = perf_now();
    if (s->inside && s->arm[s->variant].exec)   /* its events are in it */
        return 1;
    if (!perf_gpu_try_(s, s->t->event_record(s->start, s->stream))) {
        PERF_REL_(&s->word->flag, 1u);
        s->opened = 0;
        return 0;
    }
    s->host0 = perf_now();
    return 1;
}

PERF_COLD_FN_ void perf_gpu_telemetry_(perf_gpu_loop_ *s)
{
    unsigned mhz = 0;
    uint64_t why = 0;

    s->slice_mhz = 0;
    s->slice_throttle = 0;
    if (!perf_gpu_clock_(s->t, s->device, &mhz, &why)) {
        s->slice_mhz = mhz;
        s->slice_throttle = why;
    }
}

/* Fills slice_*.  The gate is open afterwards whatever happened. */
PERF_COLD_FN_ int perf_gpu_slice_end_(perf_gpu_loop_ *s, int telemetry)
{
    float ms = 0.0f;
    int   pending, inside = s->inside && s->arm[s->variant].exec;

    s->slice_host_ns = PERF_CAST_(double, perf_now() - s->host0);
    s->opened = 0;
    if (inside) {
        pending = PERF_GPU_NOT_READY;           /* no host between the nodes of a graph */
    } else {
        if (s->phase == PERF_GPU_WARM_)
            s->arm[s->variant].ahead += s->t->stream_query(s->stream) == PERF_GPU_NOT_READY;
        if (!perf_gpu_try_(s, s->t->event_record(s->stop, s->stream))) {
            PERF_REL_(&s->word->flag, 1u);
            return 0;
        }
        pending = s->t->event_query(s->start);  /* the proof: it could not have begun yet */
    }
    PERF_REL_(&s->word->flag, 1u);
    if (pending != PERF_GPU_NOT_READY && !perf_gpu_try_(s, pending))
        return 0;
    s->slice_exposed = pending != PERF_GPU_NOT_READY;
    if (telemetry)
        perf_gpu_telemetry_(s);                 /* while the device is busy with it */
    if (!perf_gpu_try_(s, inside ? s->t->stream_sync(s->stream) : s->t->event_sync(s->stop)) ||
        !perf_gpu_try_(s, s->t->event_elapsed(&ms, s->start, s->stop)))
        return 0;
    s->slice_timeout = PERF_ACQ_(&s->word->out) == 2;
    s->gate_timeouts += PERF_CAST_(uint64_t, s->slice_timeout);
    s->slice_ns = ms > 0.0f ? PERF_CAST_(double, ms) * 1e6 : 0.0;
    return 1;
}

/* ---- setting up ---- */

/* The greatest common divisor of two lengths that are known to a small part of a nanosecond. */
PERF_FN double perf_gpu_gcd_(double a, double b)
{
    double r;
    int    i;

    for (i = 0; i < 64 && b > 0.4; i++) {
        r = a - b * PERF_CAST_(double, PERF_CAST_(int64_t, a / b + 0.5));
        a = b;
        b = r < 0.0 ? -r : r;
    }
    return a;
}

/* The step of the event clock, from the differences between elapsed times of many lengths; and what
 * two events with nothing between them give.                                                     */
PERF_COLD_FN_ int perf_gpu_quantum_(perf_gpu_loop_ *s)
{
    double x[120], d, step = 0.0, empty[15];
    size_t i, n = 0;

    for (i = 0; i < 15; i++) {
        if (!perf_gpu_slice_begin_(s, 1, 0) || !perf_gpu_slice_end_(s, 0))
            return 0;
        empty[i] = s->slice_ns;
    }
    for (i = 0; i < 120; i++) {
        if (!perf_gpu_slice_begin_(s, PERF_CAST_(int, i & 1), 0))
            return 0;                           /* without a gate: the host's jitter is welcome */
        if (s->scratch) {                       /* anything that takes another time each round */
            d = PERF_CAST_(double, s->scratch_bytes / 3840 * 16 * (1 + 7 * i % 60));
            if (!perf_gpu_try_(s, perf_gpu_can_sweep_(s)
                    ? perf_gpu_sweep_(s, s->scratch, d, s->stream)
                    : s->t->fill(s->scratch, 0, PERF_CAST_(size_t, d), s->stream))) {
                PERF_REL_(&s->word->flag, 1u);
                return 0;
            }
        }
        if (!perf_gpu_slice_end_(s, 0))
            return 0;
        if (s->slice_ns > 0.4 && s->slice_ns < 60e3)
            x[n++] = s->slice_ns;
    }
    s->gate_timeouts = 0;
    perf_sort_values(empty, 15);
    s->empty = empty[7];
    s->idle = 2.0 * empty[13] - empty[0];       /* what they scatter by, once more on top */
    perf_sort_values(x, n);
    for (i = 1; i < n; i++) {
        d = x[i] - x[i - 1];
        if (d > 0.4)
            step = step > 0.0 ? d < step ? perf_gpu_gcd_(step, d) : perf_gpu_gcd_(d, step) : d;
    }
    d = PERF_CAST_(double, PERF_CAST_(int64_t, step + 0.5));
    if (step - d < 0.1 && d - step < 0.1)       /* a float of ms is good for that much */
        step = d;
    s->quantum = step > 0.0 ? step : n ? x[0] : 1000.0;     /* all alike: no finer than that */
    return 1;
}

PERF_FN int perf_gpu_can_graph_(const perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;

    return t->capture_begin && t->capture_end && t->graph_instantiate && t->graph_launch &&
           t->graph_exec_destroy && t->graph_destroy;
}

/* Does a launch come back only when it is done? Then the gate's launch, or the one behind it,
 * lasts as long as a short gate holds: three times, for the host may lose its processor once.
 * From then on there is no gate, and a graph with the events inside it is the way to leave the
 * host out. */
PERF_COLD_FN_ int perf_gpu_serialised_(perf_gpu_loop_ *s)
{
    const uint64_t limit = s->own_word.limit_ns;
    uint64_t       began;
    int            i, late = 0;

    if (!s->gate)
        return 1;
    s->own_word.limit_ns = limit < 2000000 ? limit : 2000000;
    for (i = 0; i < 3 && late == i; i++) {
        began = perf_now();
        if (!perf_gpu_slice_begin_(s, 1, 0))
            return 0;
        if (perf_gpu_can_sweep_(s) &&
            !perf_gpu_attempt_(s, perf_gpu_sweep_(s, s->scratch, 4096.0, s->stream)))
            s->no_sweep = 1;
        late += 2 * (perf_now() - began) > s->own_word.limit_ns && PERF_ACQ_(&s->word->out) == 2;
        if (!perf_gpu_slice_end_(s, 0))
            return 0;
    }
    s->own_word.limit_ns = limit;
    s->gate_timeouts = 0;
    if (late < 3)
        return 1;
    s->serial = s->gate_off = 1;
    s->own_graph = s->inside = perf_gpu_can_graph_(s) && s->t->event_record_flags &&
                               s->opts.cache != PERF_GPU_ROTATE;
    return 1;
}

/* ns of one read of the scratch memory; negative: an error. */
PERF_COLD_FN_ double perf_gpu_read_(perf_gpu_loop_ *s, double flush, uint64_t at, double bytes)
{
    if (flush > 0.0 &&
        !perf_gpu_try_(s, perf_gpu_sweep_(s, s->scratch, flush, s->stream)))
        return -1.0;
    if (!perf_gpu_slice_begin_(s, 1, 0) ||
        !perf_gpu_try_(s, perf_gpu_sweep_(s, at, bytes, s->stream))) {
        PERF_REL_(&s->word->flag, 1u);
        s->opened = 0;
        return -1.0;
    }
    return perf_gpu_slice_end_(s, 0) ? s->slice_ns : -1.0;
}

/* How much has to be read before a small buffer is out of the cache: the least after which reading
 * it takes as long as it ever does.                                                              */
PERF_COLD_FN_ int perf_gpu_flush_size_(perf_gpu_loop_ *s)
{
    static const double factor[5] = {1.0, 1.5, 2.0, 3.0, 4.0};
    double   probe = s->l2_bytes / 4.0, cold[5], warm = PERF_INF_, most = 0.0, ns;
    double   area = PERF_CAST_(double, s->scratch_bytes) - probe;
    uint64_t at = s->scratch + s->scratch_bytes - PERF_CAST_(uint64_t, probe) / 16 * 16;
    int      k, i;

    for (i = 0; i < 4; i++) {                   /* the first one warms */
        ns = perf_gpu_read_(s, 0.0, at, probe);
        if (ns < 0.0)
            return 0;
        if (i && ns < warm)
            warm = ns;
    }
    for (k = 0; k < 5 && factor[k] * s->l2_bytes <= area; k++) {
        cold[k] = PERF_INF_;
        for (i = 0; i < 3; i++) {
            ns = perf_gpu_read_(s, factor[k] * s->l2_bytes, at, probe);
            if (ns < 0.0)
                return 0;
            if (ns < cold[k])
                cold[k] = ns;
        }
        if (cold[k] > most)
            most = cold[k];
    }
    if (!k)
        return 1;
    for (i = 0; cold[i] < 0.95 * most; i++) {
    }
    s->flush_effect = warm > 0.0 ? most / warm : 0.0;
    if (!(s->flush_effect > 1.1))               /* it makes no difference here: take no chances */
        i = k - 1;
    s->flush_bytes = factor[i] * s->l2_bytes;
    return 1;
}

/* 0: not known. */
PERF_COLD_FN_ int perf_gpu_attribute_(perf_gpu_loop_ *s, int which)
{
    int v = 0, code = !s->t->device_attribute || s->down;

    if (!code)
        code = s->t->device_attribute(&v, which, s->device);
    if (code == PERF_GPU_SHUT_DOWN)
        (void)perf_gpu_try_(s, code);
    return code || v < 0 ? 0 : v;
}

/* In the stream's order where that can be: a plain free waits for the whole device. */
PERF_FN int perf_gpu_scratch_free_(const perf_gpu_loop_ *s)
{
    return s->on_stream ? s->t->mem_free_on(s->scratch, s->stream) : s->t->mem_free(s->scratch);
}

PERF_COLD_FN_ void perf_gpu_setup_memory_(perf_gpu_loop_ *s, int large)
{
    static const double factor[3] = {4.25, 2.25, 1.25};
    int                 i, code = 0;

    if (!s->t->mem_alloc || !s->t->mem_free || !s->t->fill)
        return;
    for (i = large ? 0 : 3; i < 5 && !s->scratch && code != PERF_GPU_SHUT_DOWN; i++) { /* 3, 4: */
        s->scratch_bytes = i < 3 ? PERF_CAST_(uint64_t, factor[i] * s->l2_bytes) / 16 * 16
                                 : i < 4 ? 64 << 20 : 1 << 20;      /* enough for the quantum */
        s->on_stream = s->t->mem_alloc_on && s->t->mem_free_on &&
                       !s->t->mem_alloc_on(&s->scratch, PERF_CAST_(size_t, s->scratch_bytes),
                                           s->stream);
        code = s->on_stream ? 0 : s->t->mem_alloc(&s->scratch,
                                                  PERF_CAST_(size_t, s->scratch_bytes));
        if (code)
            s->scratch = 0;
    }
    if (!s->scratch) {
        s->scratch_bytes = 0;
        (void)perf_gpu_attempt_(s, code);
        return;
    }
    if (!perf_gpu_attempt_(s, s->t->fill(s->scratch, 0, PERF_CAST_(size_t, s->scratch_bytes),
                                         s->stream))) {
        if (!s->down)
            (void)perf_gpu_scratch_free_(s);
        s->scratch = s->scratch_bytes = 0;
    }
}

PERF_COLD_FN_ void perf_gpu_setup_kernels_(perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;
    void                   *p = PERF_NULL_;

    s->word = &s->own_word;
    if (t->module_load && t->module_unload && t->module_function && t->launch &&
        perf_gpu_attempt_(s, t->module_load(&s->module, perf_gpu_ptx_()))) {
        if (!perf_gpu_attempt_(s, t->module_function(&s->gate_kernel, s->module, "perf_gate")))
            s->gate_kernel = PERF_NULL_;
        if (s->down ||
            !perf_gpu_attempt_(s, t->module_function(&s->sweep_kernel, s->module, "perf_sweep")))
            s->sweep_kernel = PERF_NULL_;
    } else {
        s->module = PERF_NULL_;
    }
    if (s->opts.gate_ms < 0.0 || s->down)
        return;
    s->own_word.limit_ns = PERF_CAST_(uint64_t, s->opts.gate_ms * 1e6);
    if (s->gate_kernel && t->host_alloc && t->host_free && t->host_address &&
        perf_gpu_attempt_(s, t->host_alloc(&p, sizeof *s->word, 2))) {
        if (perf_gpu_attempt_(s, t->host_address(&s->word_address, p, 0))) {
            s->word = PERF_CAST_(perf_gpu_word_ *, p);
            s->gate = 1;
            return;
        }
        if (!s->down)
            (void)t->host_free(p);
    }
    s->gate = t->host_func ? 2 : 0;
}

PERF_FN int perf_gpu_fail_(perf_gpu_loop_ *s, perf_status status, const char *why)
{
    s->status = status;
    s->why = why;
    return 0;
}

/* Refused: an iteration would find in the cache what the last turn of its copy left there. */
PERF_COLD_FN_ int perf_gpu_rotation_ok_(perf_gpu_loop_ *s)
{
    double between = s->opts.rotate_bytes * (s->opts.rotate_copies - 1);
    double need = s->flush_bytes > 0.0 ? s->flush_bytes : 2.0 * s->l2_bytes;

    if (s->opts.graph)
        return perf_gpu_fail_(s, PERF_EINVAL, "a graph always uses the same copy: no rotation");
    if (!(s->flush_bytes > 0.0) && !s->l2_known)
        return perf_gpu_fail_(s, PERF_EINVAL, "the size of the L2 cache is unknown: no rotation");
    if (between < need)
        return perf_gpu_fail_(s, PERF_EINVAL,
                              "these copies do not fill the L2 cache: more of them");
    return 1;
}

PERF_COLD_FN_ int perf_gpu_setup_(perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;
    double                  ns;
    int                     i, capturing = 0;
    int                     large = s->opts.cache != PERF_GPU_HOT || s->opts.bytes > 0.0;

    if (t->stream_capturing && !perf_gpu_try_(s, t->stream_capturing(s->stream, &capturing)))
        return 0;
    if (capturing)
        return perf_gpu_fail_(s, PERF_ESTATE, "the stream is being captured");
    if (t->ctx_device)
        (void)perf_gpu_attempt_(s, t->ctx_device(&s->device));
    s->l2_bytes = perf_gpu_attribute_(s, 38);
    s->l2_known = s->l2_bytes > 0.0;
    if (!s->l2_known)
        s->l2_bytes = 64 << 20;
    s->multiprocessors = PERF_CAST_(uint64_t, perf_gpu_attribute_(s, 16));
    s->datasheet_gbs = 2.0 * perf_gpu_attribute_(s, 36) * (perf_gpu_attribute_(s, 37) / 8) * 1e-6;
    if (s->down || !perf_gpu_try_(s, t->event_create(&s->start, 0)) ||
        !perf_gpu_try_(s, t->event_create(&s->stop, 0)))
        return 0;
    perf_gpu_setup_kernels_(s);
    if (!s->down)
        perf_gpu_setup_memory_(s, large);
    if (s->down || !perf_gpu_try_(s, t->stream_sync(s->stream)))
        return 0;
    if (PERF_GPU_OWN_SWEEP_ && !s->sweep_kernel && s->scratch &&
        !perf_gpu_attempt_(s, perf_gpu_sweep_(s, s->scratch, 4096.0, s->stream)))
        s->no_sweep = 1;                        /* not compiled for this device */
    if (!perf_gpu_serialised_(s) || !perf_gpu_quantum_(s))
        return 0;
    large = PERF_CAST_(double, s->scratch_bytes) >= 1.2 * s->l2_bytes && perf_gpu_can_sweep_(s);
    if (large && s->opts.cache != PERF_GPU_HOT && !perf_gpu_flush_size_(s))
        return 0;
    if (large && s->opts.bytes > 0.0)
        for (i = 0; i < 5; i++) {
            ns = perf_gpu_read_(s, 0.0, s->scratch, PERF_CAST_(double, s->scratch_bytes));
            if (ns < 0.0)
                return 0;
            if (ns > 0.0 && PERF_CAST_(double, s->scratch_bytes) / ns > s->peak_gbs)
                s->peak_gbs = PERF_CAST_(double, s->scratch_bytes) / ns;
        }
    if (s->opts.cache == PERF_GPU_ROTATE && !perf_gpu_rotation_ok_(s))
        return 0;
    if (s->opts.cache == PERF_GPU_COLD && !(s->flush_bytes > 0.0))
        s->warnings |= PERF_WARN_NOT_COLD;
    if (t->ctx_record && !perf_gpu_attempt_(s, t->event_create(&s->all, 0)))
        s->all = PERF_NULL_;
    return !s->down;
}

/* ---- the loop ---- */

PERF_COLD_FN_ void perf_gpu_stop_(perf_gpu_loop_ *s)
{
    s->phase = PERF_GPU_DONE_;
}

/* Host time until all that the context was given is done, at most limit_ns; negative: cannot be
 * told, or not by then. */
PERF_COLD_FN_ double perf_gpu_quiet_(perf_gpu_loop_ *s, double limit_ns)
{
    uint64_t began = perf_now();
    double   ns = 0.0;
    int      code = perf_gpu_attempt_(s, s->t->ctx_record(s->ctx, s->all)) ? PERF_GPU_NOT_READY : 1;

    while (code == PERF_GPU_NOT_READY && ns < limit_ns) {
        code = s->t->event_query(s->all);
        ns = PERF_CAST_(double, perf_now() - began);
    }
    if (code && code != PERF_GPU_NOT_READY)
        (void)perf_gpu_attempt_(s, code);
    return code ? -1.0 : ns;
}

/* Does the body leave work on other streams? The context must be quiet in front of it, and still
 * busy when its own stream is not: what other threads do there is not the body's. */
PERF_COLD_FN_ void perf_gpu_look_around_(perf_gpu_loop_ *s, int after)
{
    double ns;

    if (!s->all || s->probed >= 8 || s->down)
        return;
    ns = perf_gpu_quiet_(s, after ? 100e6 : 5e6);
    if (ns < 0.0) {
        s->probed = 8;                          /* somebody is busy for long: nothing can be told */
        s->busy = after ? s->busy : 0;
    } else if (after) {
        s->probed++;
        s->busy += ns > 4.0 * s->quiet_ns + 10e3;
    } else if (!(s->quiet_ns > 0.0) || ns < s->quiet_ns) {
        s->quiet_ns = ns;
    } else if (ns > 4.0 * s->quiet_ns + 10e3 && ++s->asked > 1) {
        s->probed = 8;                          /* and not from here */
        s->busy = 0;
    }
}

/* A warm-up launch has ended.  1: enough of them.  A clock that reads the same twice is no proof,
 * it may not have been read anew: the times of three blocks of 5 ms have to agree, and the clock
 * with them. */
PERF_COLD_FN_ int perf_gpu_warm_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    uint64_t t = perf_now();
    double   now, mhz = PERF_CAST_(double, s->slice_mhz);
    int      least = s->opts.warmup > 3 ? s->opts.warmup : 3;

    if (!(a->single > 0.0) || s->slice_ns < a->single)
        a->single = s->slice_ns;
    if (!(s->block > 0.0) || s->slice_ns < s->block)
        s->block = s->slice_ns;
    if (t - s->block_began > 5000000) {
        now = s->block - s->block_before;
        mhz -= PERF_CAST_(double, s->mhz_before);
        s->calm = s->block_before > 0.0 && (now < 0.0 ? -now : now) <= 0.02 * s->block &&
                  (mhz < 0.0 ? -mhz : mhz) <= 0.02 * PERF_CAST_(double, s->slice_mhz)
                      ? s->calm + 1 : 0;
        s->block_before = s->block;
        s->mhz_before = s->slice_mhz;
        s->block = 0.0;
        s->block_began = t;
    }
    if (a->launches < least || s->arm[s->arms - 1].launches < least || s->arm[0].launches < least)
        return 0;
    return s->calm > 1 || s->opts.warmup ||
           PERF_CAST_(double, t - s->warm_began) > s->warm_limit;
}

/* Nothing that takes time ran between the events of a slice, as far as one of them can tell. */
PERF_FN int perf_gpu_is_idle_(const perf_gpu_loop_ *s, double slice_ns)
{
    return slice_ns <= s->idle + 2.0 * s->quantum;
}

/* Not even the shortest of kernels, PERF_GPU_PROBES_ times: two events may scatter, but not that
 * far. */
PERF_FN int perf_gpu_is_empty_(const perf_gpu_loop_ *s, double slice_ns)
{
    double most = s->idle - s->empty;

    most = most < 250.0 * PERF_GPU_PROBES_ ? most : 250.0 * PERF_GPU_PROBES_;
    return slice_ns <= s->empty + most + 2.0 * s->quantum;
}

/* Iterations of the arm's next slice on the way to a batch that makes the event clock small. */
PERF_COLD_FN_ uint64_t perf_gpu_grow_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    double want = (s->quantum > s->empty ? s->quantum : s->empty) / PERF_GPU_PERCENT_, grow;

    if (s->probing) {
        s->probing = 0;
        if (perf_gpu_is_empty_(s, s->slice_ns)) {
            (void)perf_gpu_fail_(s, PERF_ESTREAM, PERF_NULL_);
            s->warnings |= PERF_WARN_STREAM;
            return 0;
        }
        a->steady = 1;
        return a->batch;
    }
    if (s->slice_timeout && a->batch > 1) {     /* the driver's queue is full: fewer */
        a->most = a->batch / 2;
        a->batch = a->most;
        a->readings = 0;
        return a->batch;
    }
    if (!a->readings++ || s->slice_ns < a->fastest)
        a->fastest = s->slice_ns;
    if (s->own_graph && a->readings > 1) { /* what is in the graph cannot be on other streams */
        a->steady = 1;
        return a->batch;
    }
    if (s->opts.batch || a->fastest >= 0.9 * want || a->batch >= a->most || s->gate_off) {
        if (a->readings < 2)
            return a->batch;
        if (perf_gpu_is_idle_(s, a->fastest)) { /* not yet sure: many short kernels show */
            s->probing = 1;
            return PERF_GPU_PROBES_;
        }
        a->steady = 1;
        return a->batch;
    }
    grow = a->fastest > 0.0 ? 1.1 * want / a->fastest : 32.0;
    grow = grow > 32.0 ? 32.0 : grow < 1.3 ? 1.3 : grow;
    a->batch = PERF_CAST_(uint64_t, PERF_CAST_(double, a->batch) * grow) + 1;
    a->batch = a->batch > a->most ? a->most : a->batch;
    a->readings = 0;
    return a->batch;
}

/* Files the sample that has ended; 1 when it counts. */
PERF_COLD_FN_ int perf_gpu_file_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    perf_gpu_sample *x = &a->sample[a->count++];
    double           n = PERF_CAST_(double, a->batch);

    x->ns = s->slice_ns / n;
    x->host_ns = s->slice_host_ns / n;
    x->sm_mhz = s->slice_mhz;
    x->throttle = s->slice_throttle;
    if (s->slice_exposed)
        x->flags |= PERF_GPU_SAMPLE_EXPOSED;
    if (s->slice_timeout)
        x->flags |= PERF_GPU_SAMPLE_TIMEOUT;
    if (perf_gpu_is_idle_(s, s->slice_ns) && !a->exec && !perf_gpu_is_idle_(s, a->fastest) &&
        2.0 * (s->slice_ns - s->empty) < a->fastest - s->empty)         /* no mere quick one */
        x->flags |= PERF_GPU_SAMPLE_IDLE;
    if (x->throttle & UINT64_C(0xec)) /* power cap, heat, brake: not idleness or settings */
        x->flags |= PERF_GPU_SAMPLE_THROTTLED;
    return !(x->flags & (PERF_GPU_SAMPLE_EXPOSED | PERF_GPU_SAMPLE_IDLE));
}

PERF_COLD_FN_ perf_interval perf_gpu_median_(const double *x, size_t n, const perf_summary *sum)
{
    perf_interval q;

    if (n >= 40)
        return perf_quantile_interval_series(x, n, 0.5, 0.95);
    q.low = sum->p50_low;
    q.estimate = sum->p50;
    q.high = sum->p50_high;
    return q;
}

/* A sample of a bench was filed.  1: no more. */
PERF_COLD_FN_ int perf_gpu_enough_(perf_gpu_loop_ *s, int late)
{
    const perf_gpu_arm_ *a = &s->arm[0];
    size_t               most = s->opts.samples ? PERF_CAST_(size_t, s->opts.samples)
                                                : PERF_GPU_MOST_SAMPLES_;
    perf_summary  sum;
    perf_interval q;

    if (a->count >= most || (late && a->count >= 3) || (!a->cleans && a->count >= 30))
        return 1;
    if (s->opts.samples || a->cleans < s->look_at)
        return 0;
    s->look_at = a->cleans + a->cleans / 4;
    sum = perf_summarize(a->clean, a->cleans);
    q = perf_gpu_median_(a->clean, a->cleans, &sum);
    return q.high - q.low <= 2.0 * s->opts.rel_ci * sum.p50;
}

/* The log resolution of one pair. */
PERF_FN double perf_gpu_tick_(const perf_gpu_loop_ *s)
{
    double a = s->arm[0].fastest, b = s->arm[1].fastest;

    return a > 0.0 && b > 0.0 ? perf_step_log_(s->quantum / a, s->quantum / b) : 0.0;
}

/* A pair was filed.  1: no more. */
PERF_COLD_FN_ int perf_gpu_pair_(perf_gpu_loop_ *s, int good, int late)
{
    perf_gpu_arm_ *a = &s->arm[0], *b = &s->arm[1];
    perf_decision  d = PERF_INCONCLUSIVE;
    size_t         n;

    if (good) {
        a->clean[a->cleans++] = a->sample[a->count - 1].ns;
        b->clean[b->cleans++] = b->sample[b->count - 1].ns;
        n = a->cleans;
        if (s->typical)
            d = perf_seq_add(&s->seq, a->clean[n - 1], b->clean[n - 1]);
    }
    n = a->cleans;
    if (a->count >= PERF_CAST_(size_t, s->ab_opts.max_pairs) || (late && a->count >= 7) ||
        (!n && a->count >= 30))
        return 1;
    return d != PERF_INCONCLUSIVE && n >= PERF_CAST_(size_t, s->ab_opts.min_pairs);
}

PERF_FN int perf_gpu_flip_(perf_gpu_loop_ *s)
{
    return s->arms == 2 ? PERF_CAST_(int, perf_random_(&s->coin) >> 63) : 0;
}

/* All arms are steady: on to the graph, or to the samples. */
PERF_COLD_FN_ void perf_gpu_ready_(perf_gpu_loop_ *s)
{
    s->discard = 2 * s->arms;
    s->second = 0;
    s->phase = PERF_GPU_DISCARD_;
    s->variant = perf_gpu_flip_(s);
}

PERF_COLD_FN_ void perf_gpu_drop_graphs_(perf_gpu_loop_ *s)
{
    int i;

    for (i = 0; i < 2; i++)
        if (s->arm[i].exec) {
            if (!s->down)
                (void)perf_gpu_attempt_(s, s->t->graph_exec_destroy(s->arm[i].exec));
            s->arm[i].exec = PERF_NULL_;
        }
}

/* A body was captured; 0: it could not be. */
PERF_COLD_FN_ int perf_gpu_captured_(perf_gpu_loop_ *s)
{
    perf_gpu_arm_ *a = &s->arm[s->variant];
    void          *graph = PERF_NULL_;
    int            ok;

    s->opened = 0;
    ok = !s->inside ||
         perf_gpu_attempt_(s, s->t->event_record_flags(s->stop, s->stream, 1));
    ok = perf_gpu_attempt_(s, s->t->capture_end(s->stream, &graph)) && graph && ok;
    if (ok && !perf_gpu_attempt_(s, s->t->graph_instantiate(&a->exec, graph, 0))) {
        a->exec = PERF_NULL_;
        ok = 0;
    }
    if (graph && !s->down)
        (void)s->t->graph_destroy(graph);
    return ok;
}

PERF_COLD_FN_ void perf_gpu_no_graph_(perf_gpu_loop_ *s)
{
    int i;

    perf_gpu_drop_graphs_(s);
    if (s->opts.graph || s->serial)
        s->warnings |= PERF_WARN_NO_GRAPH;
    s->gate_off |= s->own_graph;
    s->own_graph = s->inside = 0;
    for (i = 0; i < s->arms; i++)
        s->arm[i].batch = s->arm[i].plain;
    perf_gpu_ready_(s);
}

PERF_COLD_FN_ uint64_t perf_gpu_next_phase_(perf_gpu_loop_ *s)
{
    perf_gpu_arm_ *a = &s->arm[s->variant];
    uint64_t       t = perf_now();
    int            i, late = PERF_CAST_(double, t - s->began) > s->opts.max_seconds * 1e9;

    if (s->own_graph && s->phase > PERF_GPU_CAPTURE_ && !s->arm[0].exec) {
        for (i = 0; i < s->arms; i++)
            s->arm[i].plain = s->arm[i].batch;
        s->phase = PERF_GPU_CAPTURE_;
        s->variant = 0;
        return s->arm[0].batch;
    }
    switch (s->phase) {
    case PERF_GPU_START_:
        s->variant = perf_gpu_flip_(s);
        s->phase = PERF_GPU_FIRST_;
        return 1;
    case PERF_GPU_FIRST_:
        a->first_ns = s->slice_ns;
        s->variant = s->arms - 1 - s->variant;
        if (!s->arm[s->variant].launches)
            return 1;
        s->phase = PERF_GPU_WARM_;
        s->warm_began = s->block_began = t;
        s->warm_limit = 0.25e9 * s->opts.max_seconds;
        return 1;
    case PERF_GPU_WARM_:
        s->variant = s->arms - 1 - s->variant;
        if (!perf_gpu_warm_(s, a) && !(late && a->launches >= 3))
            return 1;
        if (s->probed && 2 * s->busy >= s->probed && s->busy >= 2)
            s->warnings |= PERF_WARN_STREAM;
        s->phase = PERF_GPU_GROW_;
        s->variant = 0;
        return s->arm[0].batch;
    case PERF_GPU_GROW_: {
        uint64_t n = perf_gpu_grow_(s, a);
        if (!n)
            return 0;
        if (!a->steady)
            return n;
        if (s->variant < s->arms - 1)
            return s->arm[++s->variant].batch;
        if (s->arms == 2)
            (void)perf_seq_init(&s->seq, &s->ab_opts.accept.rule, s->ab_opts.accept.confidence,
                                perf_gpu_tick_(s));
        if ((s->opts.graph || s->own_graph) && perf_gpu_can_graph_(s)) {
            for (i = 0; i < s->arms; i++) {     /* launches in a graph follow each other closer */
                s->arm[i].plain = s->arm[i].batch;
                if (!s->opts.batch && s->opts.cache != PERF_GPU_COLD && !s->own_graph)
                    s->arm[i].batch = s->arm[i].batch > 300 ? 1000 : 3 * s->arm[i].batch;
            }
            s->phase = PERF_GPU_CAPTURE_;
            s->variant = 0;
        } else {
            if (s->opts.graph)
                s->warnings |= PERF_WARN_NO_GRAPH;
            perf_gpu_ready_(s);
        }
        break;
    }
    case PERF_GPU_CAPTURE_:
        if (!perf_gpu_captured_(s))
            perf_gpu_no_graph_(s);
        else if (++s->variant == s->arms)
            perf_gpu_ready_(s);
        break;
    case PERF_GPU_DISCARD_:
        s->variant = s->arms - 1 - s->variant;
        if (--s->discard <= 0) {
            s->phase = PERF_GPU_SAMPLE_;
            s->variant = perf_gpu_flip_(s);
        }
        break;
    default:
        i = perf_gpu_file_(s, a);
        if (s->arms == 1) {
            if (i)
                a->clean[a->cleans++] = a->sample[a->count - 1].ns;
            if (perf_gpu_enough_(s, late))
                return 0;
        } else if (!s->second) {
            s->second = 1;
            s->useless = !i;
            s->variant ^= 1;
        } else {
            s->second = 0;
            if (perf_gpu_pair_(s, i && !s->useless, late))
                return 0;
            s->variant = perf_gpu_flip_(s);
        }
    }
    return s->arm[s->variant].batch;
}

/* Ends the slice, begins the next: iterations of it, 0: no more. */
PERF_COLD_FN_ uint64_t perf_gpu_advance_(perf_gpu_loop_ *s)
{
    perf_gpu_arm_ *a;
    uint64_t       n;
    int            gated;

    for (;;) {
        if (s->opened == 1) {
            if (!perf_gpu_slice_end_(s, 1))
                return 0;
            a = &s->arm[s->variant];
            a->runs += a->exec ? 0 : s->shown;
            a->launches++;
            s->timeouts_in_row = s->slice_timeout && s->shown == 1 ? s->timeouts_in_row + 1 : 0;
            if (s->timeouts_in_row >= 3 && a->ahead > 1 && !a->exec && !s->gate_off &&
                s->opts.cache != PERF_GPU_ROTATE && perf_gpu_can_graph_(s)) {
                s->own_graph = 1; /* more launches than the driver's queue holds: as a */
                s->timeouts_in_row = 0;         /* graph they are one */
            } else if (s->timeouts_in_row >= 3) {
                s->gate_off = 1; /* the body waits for the device: it would each time */
            }
            if (s->phase == PERF_GPU_WARM_)
                perf_gpu_look_around_(s, 1);
        } else if (s->opened == 2) {
            s->arm[s->variant].runs += s->shown;
        }
        n = perf_gpu_next_phase_(s);
        if (!n || s->phase == PERF_GPU_DONE_)
            return 0;
        s->shown = n;
        a = &s->arm[s->variant];
        if (s->phase == PERF_GPU_CAPTURE_) {
            if (perf_gpu_attempt_(s, s->t->capture_begin(s->stream, 2))) {
                s->opened = 2;
                if (s->inside)                  /* an error shows when the capture ends */
                    (void)s->t->event_record_flags(s->start, s->stream, 1);
                return n;
            }
            perf_gpu_no_graph_(s);
            s->shown = n = s->arm[s->variant].batch;
            a = &s->arm[s->variant];
        }
        gated = s->phase >= PERF_GPU_GROW_;
        if (s->phase == PERF_GPU_WARM_)
            perf_gpu_look_around_(s, 0);
        if (!perf_gpu_slice_begin_(s, gated, gated && s->opts.cache == PERF_GPU_COLD &&
                                             s->flush_bytes > 0.0 && !s->probing))
            return 0;
        if (s->phase < PERF_GPU_DISCARD_ || !a->exec)
            return n;
        if (!perf_gpu_try_(s, s->t->graph_launch(a->exec, s->stream))) {
            PERF_REL_(&s->word->flag, 1u);
            return 0;
        }
    }
}

PERF_COLD_FN_ uint64_t perf_gpu_turn_(perf_gpu_loop_ *s)
{
    perf_gpu_inside_ in;
    uint64_t         n;

    if (!PERF_LOOP_IS_ONE_(s) || s->phase == PERF_GPU_DONE_)
        return 0;
    perf_gpu_go_in_(s, &in);
    n = s->status == PERF_OK ? perf_gpu_advance_(s) : 0;
    if (!n)
        perf_gpu_stop_(s);
    perf_gpu_go_out_(s, &in);
    return n ? 2 * n + PERF_CAST_(uint64_t, s->variant) : 0;
}

/* ---- begin ---- */

PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_open_(const char *name, void *stream, int arms,
                                             const perf_gpu_bench_opts *o, size_t room)
{
    const size_t     bytes = PERF_CAST_(size_t, arms) * room *
                             (sizeof(perf_gpu_sample) + sizeof(double));
    perf_gpu_loop_  *s = PERF_CAST_(perf_gpu_loop_ *, perf_pages_(sizeof *s + bytes, 0));
    perf_gpu_sample *sample;
    double          *clean;
    int              i;

    if (!s)
        return PERF_LOOP_NO_MEMORY_(perf_gpu_loop_);
    sample = PERF_PTR_(perf_gpu_sample *, s + 1);
    clean = PERF_PTR_(double *, sample + PERF_CAST_(size_t, arms) * room);
    s->opts = *o;
    s->stream = stream;
    s->arms = arms;
    s->word = &s->own_word;
    s->look_at = 30;
    s->began = perf_now();
    for (i = 0; i < arms; i++) {
        s->arm[i].sample = sample + PERF_CAST_(size_t, i) * room;
        s->arm[i].clean = clean + PERF_CAST_(size_t, i) * room;
        s->arm[i].batch = o->batch ? PERF_CAST_(uint64_t, o->batch) : 1;
        s->arm[i].most = PERF_GPU_MOST_BATCH_;
    }
    s->as.loop.note = s->note;
    perf_loop_add_(&s->as.loop, arms, name);
    return s;
}

PERF_COLD_FN_ void perf_gpu_ask_(perf_gpu_loop_ *s)
{
    perf_gpu_inside_ in;

    s->t = perf_gpu_table();
    if (!s->t) {
        s->status = PERF_ENOGPU;
    } else {
        s->code = s->t->ctx_get(&s->ctx);
        if (s->code == 201 || s->code == 3 || (!s->code && !s->ctx))
            s->status = PERF_ENOGPU;            /* none current, or the driver was not started */
        else
            (void)perf_gpu_try_(s, s->code);
        if (s->status == PERF_OK && PERF_PTR_(uintptr_t, s->stream) > 2 && s->t->stream_ctx)
            (void)perf_gpu_try_(s, s->t->stream_ctx(s->stream, &s->ctx));
    }
    if (s->status == PERF_OK) {
        perf_gpu_go_in_(s, &in);
        if (s->status != PERF_OK || !perf_gpu_setup_(s))
            perf_gpu_stop_(s);
        perf_gpu_go_out_(s, &in);
        s->began = perf_now();
    } else {
        perf_gpu_stop_(s);
    }
}

PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_bench_open_(const char *name, void *stream,
                                                   const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts o = perf_gpu_bench_opts_resolved(opts);
    size_t              room = o.samples ? PERF_CAST_(size_t, o.samples) : PERF_GPU_MOST_SAMPLES_;
    perf_gpu_loop_     *s = perf_gpu_open_(name, stream, 1, &o, room);

    if (PERF_LOOP_IS_ONE_(s))
        perf_gpu_ask_(s);
    return s;
}

PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_ab_open_(const char *name, void *stream,
                                                const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab_opts o = perf_gpu_ab_opts_resolved(opts);
    perf_metric      m = o.accept.rule.metric;
    perf_gpu_loop_  *s = perf_gpu_open_(name, stream, 2, &o.device,
                                        PERF_CAST_(size_t, o.max_pairs));

    if (!PERF_LOOP_IS_ONE_(s))
        return s;
    if (!o.seed)
        o.seed = (s->began ^ (perf_ticks() << 20)) | 1;
    s->ab_opts = o;
    s->coin = o.seed;
    s->typical = m == PERF_METRIC_PAIR;
    if (m == PERF_METRIC_MEMORY || m == PERF_METRIC_THROUGHPUT ||
        perf_is_nan_(o.accept.confidence) ||
        perf_is_nan_(perf_rule_threshold(&o.accept.rule))) {
        s->status = PERF_EINVAL;
        perf_gpu_stop_(s);
        return s;
    }
    perf_gpu_ask_(s);
    return s;
}

/* ---- end ---- */

/* Gives everything back; whatever cannot be given back is left where it is. */
PERF_COLD_FN_ void perf_gpu_release_(perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;
    perf_gpu_inside_        in;
    void                   *graph = PERF_NULL_;

    PERF_REL_(&s->word->flag, 1u);              /* left in the middle: nothing may stay held back */
    if (!t || s->down)
        return;
    perf_gpu_go_in_(s, &in);
    if (!s->down && s->opened == 2 && !t->capture_end(s->stream, &graph) && graph)
        (void)t->graph_destroy(graph);
    if (!s->down && (s->start || s->module || s->scratch))
        (void)perf_gpu_attempt_(s, t->stream_sync(s->stream));
    perf_gpu_drop_graphs_(s);
    if (!s->down && s->start)
        (void)perf_gpu_attempt_(s, t->event_destroy(s->start));
    if (!s->down && s->stop)
        (void)perf_gpu_attempt_(s, t->event_destroy(s->stop));
    if (!s->down && s->all)
        (void)perf_gpu_attempt_(s, t->event_destroy(s->all));
    if (!s->down && s->module)
        (void)perf_gpu_attempt_(s, t->module_unload(s->module));
    if (!s->down && s->scratch)
        (void)perf_gpu_attempt_(s, perf_gpu_scratch_free_(s));
    if (!s->down && s->word != &s->own_word)
        (void)perf_gpu_attempt_(s, t->host_free(s->word));
    s->word = &s->own_word;
    s->start = s->stop = s->all = s->module = PERF_NULL_;
    s->scratch = 0;
    perf_gpu_go_out_(s, &in);
}

PERF_COLD_FN_ perf_summary perf_gpu_flagged_(const perf_gpu_arm_ *a, int host)
{
    perf_summary sum = PERF_ZERO;
    double      *x = a->count ? PERF_CAST_(double *, PERF_MALLOC(a->count * sizeof(double)))
                              : PERF_CAST_(double *, PERF_NULL_);
    size_t       i, n = 0;

    sum.status = a->count ? PERF_ENOMEM : PERF_ENODATA;
    if (!x)
        return sum;
    for (i = 0; i < a->count; i++)
        if (host)
            x[n++] = a->sample[i].host_ns;
        else if (a->sample[i].flags & PERF_GPU_SAMPLE_EXPOSED)
            x[n++] = a->sample[i].ns;
    sum = perf_summarize(x, n);
    PERF_FREE(x);
    return sum;
}

PERF_FN void perf_gpu_put_count_(perf_out_ *o, uint64_t n, uint64_t of, const char *what)
{
    if (!n)
        return;
    perf_put_(o, "; ");
    perf_put_u64_(o, n);
    perf_put_(o, " of ");
    perf_put_u64_(o, of);
    perf_put_(o, what);
}

PERF_COLD_FN_ void perf_gpu_put_reasons_(perf_out_ *o, uint64_t why)
{
    static const char *const name[] = {"", "", "power cap", "hardware slow-down", "", "heat",
                                       "heat (hardware)", "power brake"};
    int                      i, any = 0;

    for (i = 0; i < 8; i++)
        if (why >> i & 1 && *name[i]) {
            perf_put_(o, any ? ", " : " (");
            perf_put_(o, name[i]);
            any = 1;
        }
    if (any)
        perf_put_(o, ")");
}

/* The first error, in the driver's words. */
PERF_COLD_FN_ void perf_gpu_put_code_(const perf_gpu_loop_ *s, perf_out_ *o, const char *before)
{
    const char *text = PERF_NULL_;

    if (!s->t || !s->code)
        return;
    perf_put_(o, before);
    if (s->code < 0)
        perf_put_char_(o, '-');
    perf_put_u64_(o, PERF_CAST_(uint64_t, s->code < 0 ? -PERF_CAST_(int64_t, s->code) : s->code));
    if (s->down)
        text = "the driver has shut down";      /* it is not asked for words any more */
    else if (!s->t->error_text || s->t->error_text(s->code, &text))
        text = PERF_NULL_;
    perf_put_(o, text ? ", " : "");
    perf_put_(o, text ? text : "");
}

/* "cold L2 (after reading 105 MB), 1 a sample, event step 32 ns, ..." */
PERF_COLD_FN_ void perf_gpu_describe_(perf_gpu_loop_ *s, perf_gpu_result *r)
{
    perf_out_ o = PERF_ZERO;

    o.p = r->text;
    o.cap = sizeof r->text;
    if (r->simulated)
        perf_put_(&o, "simulated device: ");
    if (r->status != PERF_OK) {
        perf_put_(&o, s->why ? s->why : perf_status_text(r->status));
        perf_gpu_put_code_(s, &o, ": error ");
        perf_put_(&o, r->samples ? "; until then: " : "");
    }
    if (r->serialised)
        perf_put_(&o, r->graph ? "launches are serialised, so a graph has the events inside; "
                               : "launches are serialised, which no sample can leave out; ");
    else if (r->graph && !r->opts.graph)
        perf_put_(&o, "more launches than the driver's queue holds; ");
    if (r->samples) {
        perf_put_(&o, r->opts.cache == PERF_GPU_HOT ? "warm L2" :
                      r->opts.cache == PERF_GPU_ROTATE ? "L2 flushed by rotation" :
                      r->flush_bytes > 0.0 ? "cold L2 (after reading "
                                           : "warm L2 (no way to flush it)");
        if (r->flush_bytes > 0.0) {
            perf_put_fixed_(&o, r->flush_bytes * 1e-6, 0);
            perf_put_(&o, " MB)");
        }
        perf_put_(&o, r->graph ? ", graph of " : ", ");
        perf_put_u64_(&o, r->batch);
        perf_put_(&o, " a sample, event step ");
        perf_put_time_(&o, r->quantum_ns);
        perf_put_(&o, ", events alone ");
        perf_put_time_(&o, r->overhead_ns);
        perf_gpu_put_count_(&o, r->exposed.count, r->samples, " samples exposed");
        perf_gpu_put_count_(&o, r->idle, r->samples, " samples without work");
        perf_gpu_put_count_(&o, r->throttled, r->samples, " samples throttled");
        perf_gpu_put_reasons_(&o, r->throttle);
        if (r->sm_mhz_high) {
            perf_put_(&o, "; SM ");
            perf_put_u64_(&o, r->sm_mhz_low);
            if (r->sm_mhz_high != r->sm_mhz_low) {
                perf_put_(&o, " to ");
                perf_put_u64_(&o, r->sm_mhz_high);
            }
            perf_put_(&o, " MHz");
        }
        if (r->gbs > 0.0 && r->peak_gbs > 0.0) {
            perf_put_(&o, "; ");
            perf_put_fixed_(&o, 100.0 * r->gbs / r->peak_gbs, 1);
            perf_put_(&o, " % of the measured peak");
        }
        if (r->gbs > 0.0 && r->datasheet_gbs > 0.0) {
            perf_put_(&o, "; ");
            perf_put_fixed_(&o, 100.0 * r->gbs / r->datasheet_gbs, 1);
            perf_put_(&o, " % of the data sheet's");
        }
    }
    if (r->status == PERF_OK)
        perf_gpu_put_code_(s, &o, "; done without what met error ");
    if (o.len >= o.cap)
        o.len = o.cap - 1;
    r->text[o.len] = '\0';
}

PERF_COLD_FN_ perf_gpu_result perf_gpu_arm_result_(perf_gpu_loop_ *s, int arm)
{
    perf_gpu_result      r = PERF_ZERO;
    const perf_gpu_arm_ *a = &s->arm[arm];
    perf_interval        q;
    double               step = s->quantum / PERF_CAST_(double, a->batch);
    size_t               i;

    r.status = s->status;
    r.warnings = s->warnings;
    r.opts = s->opts;
    r.sample = a->sample;
    r.samples = a->count;
    r.batch = a->batch;
    r.iterations = a->runs;
    r.first_ns = a->first_ns;
    r.quantum_ns = s->quantum;
    r.overhead_ns = s->empty;
    r.gate_timeouts = s->gate_timeouts;
    r.flush_bytes = s->opts.cache == PERF_GPU_COLD ? s->flush_bytes : 0.0;
    r.flush_effect = s->flush_effect;
    r.peak_gbs = s->peak_gbs;
    r.datasheet_gbs = s->datasheet_gbs;
    r.graph = a->exec != PERF_NULL_;
    r.gate = s->gate_off ? 0 : s->gate;
    r.serialised = s->serial;
    r.simulated = s->t && (s->t->flags & PERF_GPU_TABLE_SIMULATED) != 0;
    r.code = s->code;
    r.time = perf_summarize(a->clean, a->cleans);
    r.exposed = perf_gpu_flagged_(a, 0);
    r.launch = perf_gpu_flagged_(a, 1);
    for (i = 0; i < a->count; i++) {
        const perf_gpu_sample *x = &a->sample[i];
        r.throttled += (x->flags & PERF_GPU_SAMPLE_THROTTLED) != 0;
        r.idle += (x->flags & PERF_GPU_SAMPLE_IDLE) != 0;
        r.throttle |= x->throttle;
        if (x->sm_mhz > r.sm_mhz_high)
            r.sm_mhz_high = x->sm_mhz;
        if (x->sm_mhz && (!r.sm_mhz_low || x->sm_mhz < r.sm_mhz_low))
            r.sm_mhz_low = x->sm_mhz;
    }
    if (r.time.count) {
        q = perf_gpu_median_(a->clean, a->cleans, &r.time);
        r.time.p50_low = q.low - step > 0.0 ? q.low - step : 0.0;
        r.time.p50_high = q.high + step;
        r.warnings |= r.time.warnings;
        if (step > PERF_GPU_PERCENT_ * r.time.p50)
            r.warnings |= PERF_WARN_RESOLUTION;
        if (s->arms == 1 && !(q.high - q.low <= 2.0 * s->opts.rel_ci * r.time.p50))
            r.warnings |= PERF_WARN_NOISY;
        if (r.opts.bytes > 0.0 && r.time.p50 > 0.0)
            r.gbs = r.opts.bytes / r.time.p50;
    } else if (r.status == PERF_OK) {
        r.status = r.time.status != PERF_OK ? r.time.status : PERF_ENODATA;
    }
    if (r.exposed.count)
        r.warnings |= PERF_WARN_EXPOSED;
    if (r.throttled)
        r.warnings |= PERF_WARN_THROTTLED;
    if (r.idle)
        r.warnings |= PERF_WARN_STREAM;
    perf_gpu_describe_(s, &r);
    return r;
}

/* What the report and the writers of results know of a loop, from what a GPU loop knows. */
PERF_COLD_FN_ perf_result perf_gpu_as_result_(const perf_gpu_result *g)
{
    perf_result r = PERF_ZERO;

    r.time = g->time;
    r.first_ns = g->first_ns;
    r.overhead_ns = g->overhead_ns;
    r.batch = g->batch;
    r.iterations = g->iterations;
    r.opts.samples = g->opts.samples;
    r.opts.rel_ci = g->opts.rel_ci;
    r.opts.max_seconds = g->opts.max_seconds;
    r.opts.bytes = g->opts.bytes;
    r.opts.items = g->opts.items;
    r.status = g->time.count ? PERF_OK : g->status;
    r.warnings = g->warnings;
    return r;
}

PERF_COLD_FN_ perf_gpu_result perf_gpu_bench_close_(perf_gpu_loop_ *s)
{
    perf_gpu_result r = PERF_ZERO;

    if (!PERF_LOOP_IS_ONE_(s) || PERF_ACQ_(&s->as.loop.done)) {
        r.status = s && !PERF_LOOP_IS_ONE_(s) ? PERF_ENOMEM : PERF_ESTATE;
        return r;
    }
    if (s->phase != PERF_GPU_DONE_)
        s->warnings |= PERF_WARN_STOPPED;
    r = perf_gpu_arm_result_(s, 0);
    perf_gpu_release_(s);
    perf_gpu_stop_(s);
    memcpy(s->note, r.text, sizeof s->note);
    s->as.state.arm = s->told;
    s->told[0].ns = s->arm[0].clean;
    s->told[0].count = s->arm[0].cleans;
    s->as.state.result = perf_gpu_as_result_(&r);
    s->as.loop.result = &s->as.state.result;
    PERF_REL_(&s->as.loop.done, 1);
    return r;
}

/* The verdict of the pairs: what the bets decided, with the interval that goes with them. */
PERF_COLD_FN_ perf_verdict perf_gpu_verdict_(perf_gpu_loop_ *s)
{
    perf_verdict  v = perf_verdict_start_(&s->ab_opts.accept);
    size_t        k, n = s->arm[0].cleans;
    perf_interval i;
    double       *d;

    if (!n || v.status != PERF_OK)
        return v;
    if (!s->typical) {
        s->ab_opts.accept.tick = s->quantum / PERF_CAST_(double, s->arm[0].batch);
        return perf_compare_pairs(s->arm[0].clean, s->arm[1].clean, n, &s->ab_opts.accept);
    }
    d = PERF_CAST_(double *, PERF_MALLOC(n * sizeof(double)));
    if (!d) {
        v.status = PERF_ENOMEM;
        return v;
    }
    for (k = 0; k < n; k++)
        d[k] = perf_log(s->arm[1].clean[k]) - perf_log(s->arm[0].clean[k]);
    i = perf_seq_interval(d, n, s->ab_opts.accept.confidence);
    PERF_FREE(d);
    v.pairs = n;
    v.excluded = s->seq.excluded;
    perf_verdict_finish_(&v, perf_widen_(i, perf_gpu_tick_(s)), PERF_CAST_(double, n),
                         &s->ab_opts.accept);
    if (v.decision == PERF_ACCEPT && s->seq.decision != PERF_ACCEPT)
        perf_verdict_cap_(&v, "the interval contains the threshold");
    return v;
}

PERF_COLD_FN_ perf_gpu_ab_result perf_gpu_ab_close_(perf_gpu_loop_ *s)
{
    perf_gpu_ab_result r = PERF_ZERO;
    perf_ab_result    *h;
    int                i;

    if (!PERF_LOOP_IS_ONE_(s) || PERF_ACQ_(&s->as.loop.done)) {
        r.status = r.verdict.status = s && !PERF_LOOP_IS_ONE_(s) ? PERF_ENOMEM : PERF_ESTATE;
        r.verdict.reason = perf_status_text(r.status);
        return r;
    }
    if (s->phase != PERF_GPU_DONE_)
        s->warnings |= PERF_WARN_STOPPED;
    r.seconds = PERF_CAST_(double, perf_now() - s->began) * 1e-9;
    r.opts = s->ab_opts;
    r.verdict = perf_gpu_verdict_(s);
    r.baseline = perf_gpu_arm_result_(s, 0);
    r.candidate = perf_gpu_arm_result_(s, 1);
    r.status = s->status != PERF_OK ? s->status : r.baseline.status != PERF_OK ? r.baseline.status
                                                                               : r.candidate.status;
    r.warnings = r.baseline.warnings | r.candidate.warnings | r.verdict.warnings;
    if (r.status != PERF_OK) {
        perf_verdict_cap_(&r.verdict, perf_status_text(r.status));
        r.verdict.decision = PERF_INCONCLUSIVE;
        r.verdict.status = r.status;
    }
    perf_gpu_release_(s);
    perf_gpu_stop_(s);
    memcpy(s->note, r.candidate.text, sizeof s->note);
    for (i = 0; i < 2; i++) {
        s->told[i].ns = s->arm[i].clean;
        s->told[i].count = s->arm[i].cleans;
    }
    s->as.state.arm = s->told;
    h = &s->as.state.ab;
    h->verdict = r.verdict;
    h->baseline = r.baseline.time;
    h->candidate = r.candidate.time;
    h->first_baseline_ns = r.baseline.first_ns;
    h->first_candidate_ns = r.candidate.first_ns;
    h->overhead_ns = s->empty;
    h->batch_baseline = r.baseline.batch;
    h->batch_candidate = r.candidate.batch;
    h->seconds = r.seconds;
    h->opts.accept = r.opts.accept;
    h->opts.min_pairs = r.opts.min_pairs;
    h->opts.max_pairs = r.opts.max_pairs;
    h->opts.seed = r.opts.seed;
    h->status = r.status;
    h->warnings = r.warnings;
    s->as.loop.result = h;
    PERF_REL_(&s->as.loop.done, 1);
    return r;
}
#endif

/* ---- the loops ---- */

#if PERF_DISABLE
PERF_FN perf_gpu_bench perf_gpu_bench_begin(const char *name, perf_stream stream,
                                            const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench b = {2, PERF_NULL_};         /* the body runs once, unmeasured */
    (void)name;
    (void)stream;
    (void)opts;
    return b;
}

PERF_FN int perf_gpu_bench_next(perf_gpu_bench *b)
{
    return --b->left != 0;
}

PERF_FN int perf_gpu_bench_copy(const perf_gpu_bench *b)
{
    (void)b;
    return 0;
}

PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *b)
{
    perf_gpu_result r = PERF_ZERO;
    (void)b;
    r.status = PERF_EDISABLED;
    return r;
}

PERF_FN perf_gpu_ab perf_gpu_ab_begin(const char *name, perf_stream stream,
                                      const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab ab = {2, PERF_NULL_, 0};        /* the baseline runs once, unmeasured */
    (void)name;
    (void)stream;
    (void)opts;
    return ab;
}

PERF_FN int perf_gpu_ab_next(perf_gpu_ab *ab)
{
    return --ab->left ? 0 : -1;
}

PERF_FN int perf_gpu_ab_copy(const perf_gpu_ab *ab)
{
    (void)ab;
    return 0;
}

PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab)
{
    perf_gpu_ab_result r = PERF_ZERO;
    (void)ab;
    r.status = PERF_EDISABLED;
    r.verdict.status = PERF_EDISABLED;
    r.verdict.reason = perf_status_text(PERF_EDISABLED);
    return r;
}
#else
PERF_FN perf_gpu_bench perf_gpu_bench_begin(const char *name, perf_stream stream,
                                            const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench b;

    b.left = 0;
    b.state = perf_gpu_bench_open_(name, PERF_GPU_STREAM_(stream), opts);
    return b;
}

PERF_FN int perf_gpu_bench_next(perf_gpu_bench *b)
{
    uint64_t n;

    if (PERF_LIKELY_(--b->left >= 0))
        return 1;
    n = perf_gpu_turn_(b->state) >> 1;
    b->left = PERF_CAST_(int64_t, n) - (n != 0);
    return n != 0;
}

PERF_COLD_FN_ int perf_gpu_copy_(const perf_gpu_loop_ *s, int64_t left)
{
    uint64_t done;

    if (!PERF_LOOP_IS_ONE_(s) || s->opts.rotate_copies < 1)
        return 0;
    done = s->arm[0].runs + s->arm[1].runs + s->shown - 1 - PERF_CAST_(uint64_t, left);
    return PERF_CAST_(int, done % PERF_CAST_(uint64_t, s->opts.rotate_copies));
}

PERF_FN int perf_gpu_bench_copy(const perf_gpu_bench *b)
{
    return perf_gpu_copy_(b->state, b->left);
}

PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *b)
{
    perf_gpu_bench was = PERF_ZERO;

    if (b) {
        was = *b;
        memset(b, 0, sizeof *b);
    }
    return perf_gpu_bench_close_(was.state);
}

PERF_FN perf_gpu_ab perf_gpu_ab_begin(const char *name, perf_stream stream,
                                      const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab ab;

    ab.left = 0;
    ab.state = perf_gpu_ab_open_(name, PERF_GPU_STREAM_(stream), opts);
    ab.variant = -1;
    return ab;
}

PERF_FN int perf_gpu_ab_next(perf_gpu_ab *ab)
{
    uint64_t n;

    if (PERF_LIKELY_(--ab->left >= 0))
        return ab->variant;
    n = perf_gpu_turn_(ab->state);
    ab->left = PERF_CAST_(int64_t, n >> 1) - (n != 0);
    ab->variant = n ? PERF_CAST_(int, n & 1) : -1;
    return ab->variant;
}

PERF_FN int perf_gpu_ab_copy(const perf_gpu_ab *ab)
{
    return perf_gpu_copy_(ab->state, ab->left);
}

PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab)
{
    perf_gpu_ab was = PERF_ZERO;

    if (ab) {
        was = *ab;
        memset(ab, 0, sizeof *ab);
        ab->variant = -1;
    }
    return perf_gpu_ab_close_(was.state);
}
#endif

#if defined(__GNUC__) && !defined(__clang__) && !PERF_TCC_
#pragma GCC diagnostic pop
#endif

PERF_END_DECLS
#endif /* PERF_GPU_BENCH_H */
