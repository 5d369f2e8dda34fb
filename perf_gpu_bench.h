/* perf_gpu_bench.h - how long does a kernel take, and is the new one faster?
 *
 *     perf_gpu_bench b = perf_gpu_bench_begin("saxpy", stream, NULL);
 *     while (perf_gpu_bench_next(&b))
 *         saxpy<<<grid, block, 0, stream>>>(n, 2.0f, x, y);        // on that stream, no waiting
 *     perf_gpu_result r = perf_gpu_bench_end(&b);                  // r.time.p50, r.text, r.status
 *
 * Works wherever perf_cuda.h does: also from plain C, with a stream that came as a pointer.
 * Sections (search for ">>"):  bench  ab  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_GPU_BENCH_H
#define PERF_GPU_BENCH_H

#include "perf_cuda.h"
#include "perf_gpu_meters.h"

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
    PERF_GPU_COLD,      /* before each sample four times L2 is read (HIP: written): some caches */
                        /* drop lines at random; lines made to persist become ordinary */
    PERF_GPU_HOT                /* what the iteration before left there */
} perf_gpu_cache;

typedef struct perf_gpu_bench_opts {    /* zero = default */
    perf_gpu_cache cache;       /* 0 -> PERF_GPU_COLD */
    int      graph;             /* 1: the body is captured once and the graph is timed; the body */
                                /* then no longer runs (a loop of a few rounds) */
    int      batch;             /* iterations a sample; 0 -> enough for the event clock, at most */
                                /* 512; COLD: always 1 */
    int      warmup;            /* launches thrown away; 0 -> 3 and a steady clock; n > 3 -> n */
    int      samples;           /* 0 -> 30 .. 1000, until rel_ci; n > 0 -> n, and throttled ones */
                                /* again, up to n more */
    double   rel_ci; /* half-width of the median's 95 % interval to stop at; 0 -> 0.005 */
    double   max_seconds;       /* 0 -> 2.0; slow bodies still get 3 samples */
    double   gate_ms;           /* the gate opens by itself; 0 -> 100; < 0: no gate */
    double   bytes, items;      /* per iteration, for GB/s, percent of peak and items/s */
    double   energy;            /* > 0: after the samples the body runs back to back, cache as it */
                                /* is, for so many seconds: joules an iteration; 1 will do */
    int      profile;           /* 1: the body runs once, between start and stop of the profiler */
    const perf_bench *in_place_of;      /* NULL: by itself.  Else a benchmark of perf_main.h, in */
                                /* place of its own loop: name, rates and time limit are its own */
                                /* where there are none here, and the result becomes its.  So */
                                /* sizes are swept on a device, too, and --profile runs each body */
                                /* once, for profilers: docs/cuda.md has a program.  No A/B's */
} perf_gpu_bench_opts;

/* Bits of perf_gpu_sample.flags. */
#define PERF_GPU_SAMPLE_EXPOSED   1u    /* host time may be in it: not in `time` */
#define PERF_GPU_SAMPLE_THROTTLED 2u    /* the device slowed itself down: taken again, in `time` */
                                        /* after 20 in a row or half of the time */
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
    double   flush_bytes;       /* read (HIP: written) before each sample; 0: none */
    double   gbs;               /* opts.bytes / time.p50; 0 without bytes */
    double   peak_gbs;          /* read bandwidth measured here, just before; 0: not measured */
    double   datasheet_gbs;     /* memory clock x 2 x bus; 0: unknown */
    double   joules, joules_low, joules_high;   /* an iteration with opts.energy: all that the */
    double   watts;             /* device took in its time; 0: not measured, or no meter */
    double   celsius, busy;     /* meanwhile: highest temperature, percent of the time at work */
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

typedef struct perf_gpu_loop {          /* private */
    int64_t                left;
    struct perf_gpu_loop_ *state;
    int                    variant;
} perf_gpu_loop;
typedef perf_gpu_loop perf_gpu_bench;   /* one that answers: how long? */

/* Allocates, and waits for what `stream` holds.  name copied, NULL is "(unnamed)"; opts NULL:
 * defaults.  Never fails visibly: without a device, a current context or memory the loop runs zero
 * times and perf_gpu_bench_end says why.  HIP before 7.0: an unread error of the program's ends the
 * loop with PERF_EGPU; while it is unread, perf_gpu_bench_end leaves all with the device. */
PERF_FN perf_gpu_bench  perf_gpu_bench_begin(const char *name, perf_stream stream,
                                             const perf_gpu_bench_opts *opts);

/* 1: run the body once more.  In a sample one decrement, one branch; between samples it waits. */
PERF_FN int             perf_gpu_bench_next(perf_gpu_bench *b);

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
    perf_compare_opts   accept; /* default: speed-up >= 1.3x at 95 %; memory, throughput and */
                                /* counts: PERF_EINVAL */
    int      min_pairs;         /* 0 -> 30 */
    int      max_pairs;         /* 0 -> 1,000 */
    uint64_t seed;              /* of the coin; 0 -> from the clock, shown in the result */
} perf_gpu_ab_opts;

typedef struct perf_gpu_ab_result {
    perf_verdict     verdict;   /* perf_verdict_text(&r.verdict) for a sentence */
    perf_gpu_result  baseline, candidate;
    double           seconds;   /* from begin to end */
    perf_gpu_ab_opts opts;      /* what really ran */
    perf_status      status;    /* anything but PERF_OK: the verdict is INCONCLUSIVE */
    uint32_t         warnings;
    int              forced;    /* 1: PERF_VARIANT let only one of the two run */
} perf_gpu_ab_result;

typedef perf_gpu_loop perf_gpu_ab;      /* one that answers: which of two is faster? */

/* Like perf_gpu_bench_begin.  PERF_EINVAL for a rule that asks for no time. */
PERF_FN perf_gpu_ab        perf_gpu_ab_begin(const char *name, perf_stream stream,
                                             const perf_gpu_ab_opts *opts);

/* 0: launch the baseline once; 1: launch the candidate once; -1: done. */
PERF_FN int                perf_gpu_ab_next(perf_gpu_ab *ab);

/* The result, also kept for perf_report.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

#define PERF_GPU_MOST_SAMPLES_ 1000     /* of a bench that looks for a narrow interval */
#define PERF_GPU_ASKED_MOST_   1000000  /* samples that anybody may ask for */
#define PERF_GPU_USUAL_PAIRS_  30
#define PERF_GPU_MOST_BATCH_   512      /* the driver takes about 1,000 launches, then it waits */
#define PERF_GPU_PROBES_       64       /* launches that show whether anything runs on the stream */
#define PERF_GPU_HOT_IN_A_ROW_ 20       /* throttled samples: to wait longer would not help */
#define PERF_GPU_NO_MEMORY_    (-2)     /* the variant of a loop that got no memory */
#define PERF_GPU_LEAST_        3        /* samples, and pairs, however slow the bodies are */
#define PERF_GPU_LEAST_PAIRS_  7
#define PERF_GPU_DISCARDED_    2        /* rounds before the samples */
#define PERF_GPU_SPARE_        4        /* samples of rounds that began anew as graphs */
#define PERF_GPU_PERCENT_      0.005    /* what step and cost of the events may be of a sample */

/* What the loop will use: each 0 replaced by its default. */
PERF_COLD_FN_ perf_gpu_bench_opts perf_gpu_bench_resolve_(const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts o = *opts;

    if (o.cache != PERF_GPU_HOT)
        o.cache = PERF_GPU_COLD;
    o.graph = o.graph > 0;
    o.batch = perf_clamp_(o.batch, 0, PERF_GPU_MOST_BATCH_);
    if (o.cache == PERF_GPU_COLD)
        o.batch = 1;
    if (o.warmup > 0)
        o.warmup = perf_clamp_(o.warmup, 3, o.warmup);
    else
        o.warmup = 0;
    o.samples = perf_clamp_(o.samples, 0, PERF_GPU_ASKED_MOST_);
    o.rel_ci = perf_or_default_(o.rel_ci, 1e-6, 1.0, 0.005);
    o.max_seconds = perf_or_default_(o.max_seconds, 1e-6, 1e6, 2.0);
    if (o.gate_ms < 0.0)
        o.gate_ms = -1.0;
    else
        o.gate_ms = perf_or_default_(o.gate_ms, 0.01, 10e3, 100.0);
    o.bytes = perf_or_default_(o.bytes, 1e-30, 1e30, 0.0);
    o.items = perf_or_default_(o.items, 1e-30, 1e30, 0.0);
    o.energy = perf_or_default_(o.energy, 0.01, 1e3, 0.0);
    o.profile = o.profile > 0;
    return o;
}

/* What the host's A/B loop is asked for: the device's defaults, and an answer of few pairs, for the
 * gate keeps out what the host's loop controls.                                                  */
PERF_COLD_FN_ perf_ab_opts perf_gpu_ab_ask_(const perf_gpu_ab_opts *o)
{
    perf_ab_opts ask = PERF_ZERO;

    ask.accept = o->accept;
    ask.min_pairs = PERF_GPU_USUAL_PAIRS_;
    if (o->min_pairs > 0)
        ask.min_pairs = o->min_pairs;
    ask.max_pairs = PERF_GPU_MOST_SAMPLES_;
    if (o->max_pairs > 0)
        ask.max_pairs = o->max_pairs;
    ask.max_seconds = o->device.max_seconds;
    ask.seed = o->seed;
    ask.control = -1;
    ask.min_seconds = -1.0;
    return ask;
}

/* ---- what a loop keeps ---- */

typedef struct perf_gpu_word_ {         /* the gate: host memory that the device can see */
    uint32_t flag;                      /* 1: open */
    uint32_t out; /* the gate's answer: 1 opened by the flag, 2 by the clock */
    uint64_t limit_ns;
} perf_gpu_word_;

typedef struct perf_gpu_energy_ {       /* by the host's clock */
    uint64_t began, ended, rounds, asked, back;     /* began: as the first round was done */
    uint64_t round;                     /* iterations of one */
    int      done;                      /* 1: there were enough of them */
    uint64_t at[2];                     /* the first and the last step of the counter of joules, */
    double   unsure[2], joules[2];      /* up to so many ns sooner; what it then said */
    double   now, celsius, busy, readings;
} perf_gpu_energy_;

typedef struct perf_gpu_arm_ {
    perf_loop_arm_  *arm;               /* of the loop's state: batch, runs, the times that count */
    perf_gpu_sample *sample;            /* all, in order */
    size_t           count;
    uint64_t         queue;             /* iterations that the driver takes before it waits */
    uint64_t         plain;             /* batch without a graph */
    uint64_t         doubted;           /* batch that shall be, while fewer launches show whether */
    int              sure;              /* anything runs on the stream; 1: it does */
    int              launches;
    int              timeouts;          /* of the gate, in a row */
    int              ahead; /* warm-up bodies that came back before the device was done */
    void            *exec;              /* the graph */
    perf_gpu_energy_ energy;
} perf_gpu_arm_;

typedef struct perf_gpu_loop_ {
    perf_loop_state_ *state;            /* what perf_report and writers of results see */
    perf_loop_state_ *host;             /* in a harness: the loop that it is in place of */
    const perf_gpu_backend *t;
    perf_gpu_arm_    arm[2];
    perf_gpu_result  r;                 /* of both arms: what holds for the whole loop */
    const char      *why;               /* more than the status says, or NULL */
    char             note[360];
    int              down;              /* the driver has shut down: nothing is called any more */
    int              waited;            /* the program had an unread error when we came in */
    int              profiling;         /* 1: between the profiler's start and stop */

    /* Where the slices run. */
    int              device;
    void            *stream, *ctx;
    void            *event[3];          /* before and after the body; of the whole context */
    uint64_t         multiprocessors;
    double           l2_bytes;
    int              persisting;        /* 1: the program keeps lines in L2 */

    /* The gate and the cold cache. */
    void            *module, *gate_kernel, *sweep_kernel;
    perf_gpu_word_  *word, own_word;
    uint64_t         word_address;
    int              gate_off;
    uint64_t         scratch, scratch_bytes;    /* what the sweep reads; bytes 0: it cannot */
    int              on_stream;         /* 1: it was allocated in the stream's order */

    /* The slice under way, or the last. */
    int              opened;            /* 1 timed, 2 captured; 0: none is under way */
    int              replayed;          /* 1: as a graph, without the body */
    int              variant;           /* the arm whose turn it is */
    uint64_t         host0;             /* when the host began to enqueue it */
    perf_gpu_sample  now;               /* the slice that has ended: of all its iterations */
    double           idle;              /* ns that a slice shows at most with nothing in it */

    /* What comes next. */
    int              profiled;          /* bodies that ran for a profiler */
    uint32_t         useless;           /* why this round is */
    int              hot;               /* throttled rounds in a row */
    size_t           again;             /* rounds that were repeated */
    int              own_graph;         /* 1: nobody asked for a graph, but it takes one */
    int              no_graph;          /* 1: there cannot be one */
    int              inside;            /* 1: the events are in the graph */
    int              spoilt;            /* 1: the graph under way lacks its first event */

    /* The warm-up: blocks of 5 ms that have to agree. */
    uint64_t         warm_began, block_began;
    double           warm_ns;           /* of the round under way */
    double           block, block_before;       /* ns: the quickest round of a block */
    uint32_t         mhz_before;        /* at the end of the block before */
    int              calm;              /* blocks in a row that agreed */

    /* Other streams of the context, see perf_gpu_look_around_. */
    int              probed, busy;      /* how often it was looked (8: no more), and was busy */
    int              asked;             /* how often it was busy in front of the body */
    double           quiet_ns;          /* what the question takes when it is quiet */
    int              elsewhere;         /* work was seen on other streams */
} perf_gpu_loop_;

/* 1 when there was no error.  Else the first is remembered; where it `ends` the loop it is told to
 * perf_gpu_error_text(), too.  After a shut-down nothing is called any more. */
PERF_COLD_FN_ int perf_gpu_met_(perf_gpu_loop_ *s, int code, int ends)
{
    perf_gpu_driver_ *d = perf_gpu_driver_get_();

    if (!code)
        return 1;
    if (code != PERF_GPU_SHUT_DOWN && !s->waited && s->t->error_clear)
        (void)s->t->error_clear();              /* no launch check of the program finds it */
    if (!s->r.code)
        s->r.code = code;
    if ((!ends && code != PERF_GPU_SHUT_DOWN) || s->down)
        return 0;
    s->down = code == PERF_GPU_SHUT_DOWN;
    if (s->down || s->state->status == PERF_OK)
        perf_gpu_error_(d, "perf_gpu_bench", code);
    if (s->state->status == PERF_OK)
        s->state->status = PERF_EGPU;
    s->state->phase = PERF_LOOP_DONE_;
    return 0;
}
#define perf_gpu_try_(s, code)     perf_gpu_met_(s, code, 1)    /* what the loop needs */
#define perf_gpu_attempt_(s, code) perf_gpu_met_(s, code, 0)    /* what can be done without */
#define PERF_GPU_GIVE_(s, have, call)   /* back, where it was taken and somebody takes it */      \
    ((void)((have) && !(s)->down && perf_gpu_attempt_(s, call)))

/* ---- helper kernels ---- */

/* perf_gate(flag, out, ns): waits until *flag, at most ns.  perf_sweep(base, vectors): reads. */
PERF_COLD_FN_ const char *perf_gpu_ptx_(void)
{
    return
        ".version 6.3\n.target sm_50\n.address_size 64\n"
        ".visible .entry perf_gate(.param .u64 f, .param .u64 o, .param .u64 n) {\n"
        ".reg .pred p; .reg .u32 v; .reg .u64 flag, out, ns, t0, t;\n"
        "ld.param.u64 flag, [f]; ld.param.u64 out, [o]; ld.param.u64 ns, [n];\n"
        "mov.u64 t0, %globaltimer;\n"
        "AGAIN:\n"
        "ld.volatile.global.u32 v, [flag]; setp.ne.u32 p, v, 0; @p bra OPEN;\n"
        "mov.u64 t, %globaltimer; sub.u64 t, t, t0; setp.lt.u64 p, t, ns; @p bra AGAIN;\n"
        "mov.u32 v, 2;\n"
        "OPEN:\n"
        "st.volatile.global.u32 [out], v; membar.sys; ret;\n"
        "}\n"
        ".visible .entry perf_sweep(.param .u64 b, .param .u64 n) {\n"
        ".reg .pred p; .reg .u32 c, d, x, a, e<4>; .reg .u64 at, end, step;\n"
        "ld.param.u64 at, [b]; ld.param.u64 end, [n]; shl.b64 end, end, 4; add.u64 end, at, end;\n"
        "mov.u32 c, %ctaid.x; mov.u32 d, %ntid.x; mov.u32 x, %tid.x; mad.lo.u32 c, c, d, x;\n"
        "mov.u32 x, %nctaid.x; mul.wide.u32 step, x, d; shl.b64 step, step, 4;\n"
        "mad.wide.u32 at, c, 16, at; mov.u32 a, 0;\n"
        "NEXT:\n"
        "setp.ge.u64 p, at, end; @p bra DONE;\n"
        "ld.global.cg.v4.u32 {e0, e1, e2, e3}, [at];\n"
        "or.b32 a, a, e0; or.b32 a, a, e1; or.b32 a, a, e2; or.b32 a, a, e3;\n"
        "add.u64 at, at, step; bra NEXT;\n"
        "DONE:\n"
        "setp.eq.u32 p, a, 0x9e3779b9; ld.param.u64 at, [b]; @p st.global.u32 [at], a; ret;\n"
        "}\n";
}

/* The gate where no kernel can be it: a function on the driver's thread.  No turn takes less than a
 * nanosecond, so it opens on a clock that stands still, too.                                     */
PERF_COLD_FN_ void perf_gpu_host_gate_(void *user)
{
    perf_gpu_word_ *w = PERF_CAST_(perf_gpu_word_ *, user);
    uint64_t        began = perf_now(), turns = 0;
    uint32_t        open = PERF_ACQ_(&w->flag);

    while (!open && turns++ <= w->limit_ns && perf_now() - began <= w->limit_ns)
        open = PERF_ACQ_(&w->flag);
    if (open)
        PERF_REL_(&w->out, 1u);
    else
        PERF_REL_(&w->out, 2u);
}

/* Reads that much, or writes zeros where our kernels cannot be loaded. */
PERF_COLD_FN_ int perf_gpu_sweep_(const perf_gpu_loop_ *s, uint64_t at, double bytes)
{
    uint64_t vectors = PERF_CAST_(uint64_t, bytes / 16.0);
    unsigned blocks = 8 * 128;                  /* 8 for each multiprocessor */
    void    *parameter[] = {&at, &vectors};

    if (s->multiprocessors)
        blocks = PERF_CAST_(unsigned, 8 * s->multiprocessors);
    if (!s->sweep_kernel)
        return s->t->fill(at, 0, PERF_CAST_(size_t, bytes), s->stream);
    if (vectors / 256 + 1 < blocks)
        blocks = PERF_CAST_(unsigned, vectors / 256 + 1);
    return s->t->launch(s->sweep_kernel, blocks, 1, 1, 256, 1, 1, 0, s->stream, parameter,
                        PERF_NULL_);
}

/* Closes the gate behind what the stream holds. */
PERF_COLD_FN_ int perf_gpu_shut_(perf_gpu_loop_ *s)
{
    uint64_t flag = s->word_address, out = flag + 4, limit = s->own_word.limit_ns;
    void    *parameter[] = {&flag, &out, &limit};

    PERF_REL_(&s->word->flag, 0u);
    PERF_REL_(&s->word->out, 0u);
    s->word->limit_ns = limit;
    if (s->r.gate == 2)
        return s->t->host_func(s->stream, perf_gpu_host_gate_, s->word);
    return s->t->launch(s->gate_kernel, 1, 1, 1, 1, 1, 1, 0, s->stream, parameter, PERF_NULL_);
}

/* ---- one slice: gate, event, body, event ---- */

/* After an error in a slice: opens the gate, so that nothing stays held back. */
PERF_COLD_FN_ int perf_gpu_let_go_(perf_gpu_loop_ *s)
{
    PERF_REL_(&s->word->flag, 1u);
    s->opened = 0;
    return 0;
}

/* 0: an error, and nothing is held back. */
PERF_COLD_FN_ int perf_gpu_slice_begin_(perf_gpu_loop_ *s, int gated, int flush)
{
    s->now.flags = 0;
    if (flush && s->persisting)
        (void)perf_gpu_attempt_(s, s->t->l2_release());
    if (flush && !perf_gpu_try_(s, perf_gpu_sweep_(s, s->scratch, s->r.flush_bytes)))
        return 0;
    gated = gated && s->r.gate && !s->gate_off;
    if (gated && !perf_gpu_try_(s, perf_gpu_shut_(s)))
        return 0;
    s->opened = 1;
    s->host0 = perf_now();
    if (s->inside && s->arm[s->variant].exec)   /* its events are in it */
        return 1;
    if (!perf_gpu_try_(s, s->t->event_record(s->event[0], s->stream)))
        return perf_gpu_let_go_(s);
    s->host0 = perf_now();
    return 1;
}

/* Waits for the slice and reads its time; 0: an error. */
PERF_COLD_FN_ int perf_gpu_slice_read_(perf_gpu_loop_ *s, int inside)
{
    float ms = 0.0f;
    int   code;

    if (inside)
        code = s->t->stream_sync(s->stream);
    else
        code = s->t->event_sync(s->event[1]);
    if (!perf_gpu_try_(s, code) ||
        !perf_gpu_try_(s, s->t->event_elapsed(&ms, s->event[0], s->event[1])))
        return 0;
    if (!(ms > -1e11f && ms < 1e11f))           /* the driver's mistake */
        return perf_gpu_try_(s, 999);
    if (PERF_ACQ_(&s->word->out) == 2) {
        s->now.flags |= PERF_GPU_SAMPLE_TIMEOUT;
        s->r.gate_timeouts++;
    }
    s->now.ns = 0.0;
    if (ms > 0.0f)
        s->now.ns = PERF_CAST_(double, ms) * 1e6;
    return 1;
}

/* Fills `now`; asked: with the device's clock while it is busy with the slice, and what holds that
 * back.  The gate is open afterwards whatever happened.  0: an error. */
PERF_COLD_FN_ int perf_gpu_slice_end_(perf_gpu_loop_ *s, int asked)
{
    perf_gpu_sample *x = &s->now;
    unsigned         mhz = 0;
    const int        inside = s->inside && s->arm[s->variant].exec;
    int              pending = PERF_GPU_NOT_READY;      /* inside: no host between the nodes */

    x->host_ns = perf_most_(perf_since_(s->host0, perf_now()), 0.0);  /* or it went back */
    s->opened = 0;
    if (!inside) {
        if (s->state->phase == PERF_LOOP_HEAT_)
            s->arm[s->variant].ahead += s->t->stream_query(s->stream) == PERF_GPU_NOT_READY;
        if (!perf_gpu_try_(s, s->t->event_record(s->event[1], s->stream)))
            return perf_gpu_let_go_(s);
        pending = s->t->event_query(s->event[0]);       /* the proof: it could not have begun yet */
    }
    PERF_REL_(&s->word->flag, 1u);
    if (pending != PERF_GPU_NOT_READY && !perf_gpu_try_(s, pending))
        return 0;
    x->flags = 0;
    if (pending != PERF_GPU_NOT_READY)
        x->flags = PERF_GPU_SAMPLE_EXPOSED;
    x->throttle = 0;
    x->sm_mhz = 0;
    if (asked && !perf_gpu_clock_(s->t, s->device, &mhz, &x->throttle))
        x->sm_mhz = mhz;
    return perf_gpu_slice_read_(s, inside);
}

/* A slice with nothing but a sweep in it, or nothing at all: `bytes` 0. */
PERF_COLD_FN_ int perf_gpu_slice_swept_(perf_gpu_loop_ *s, int gated, double bytes)
{
    if (!perf_gpu_slice_begin_(s, gated, 0))
        return 0;
    if (bytes > 0.0 && !perf_gpu_try_(s, perf_gpu_sweep_(s, s->scratch, bytes)))
        return perf_gpu_let_go_(s);
    return perf_gpu_slice_end_(s, 0);
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
        b = perf_fabs_(r);
    }
    return a;
}

/* The step of a clock that told these n times, ascending: what all differences are multiples of. */
PERF_COLD_FN_ double perf_gpu_step_of_(const double *x, size_t n)
{
    double d, whole, step = 0.0;
    size_t i;

    for (i = 1; i < n; i++) {
        d = x[i] - x[i - 1];
        if (d <= 0.4)
            continue;
        if (!(step > 0.0))
            step = d;
        else
            step = perf_gpu_gcd_(perf_most_(step, d), perf_least_(step, d));
    }
    whole = PERF_CAST_(double, PERF_CAST_(int64_t, step + 0.5));
    if (perf_fabs_(step - whole) < 0.1)         /* a float of ms is good for that much */
        return whole;
    return step;
}

/* The step of the event clock, from elapsed times of many lengths; and what two events with nothing
 * between them give.  0: an error. */
PERF_COLD_FN_ int perf_gpu_quantum_(perf_gpu_loop_ *s)
{
    double x[120], bytes, empty[15];
    size_t i, n = 0;

    for (i = 0; i < 15; i++) {
        if (!perf_gpu_slice_swept_(s, 1, 0.0))
            return 0;
        empty[i] = s->now.ns;
    }
    for (i = 0; i < 120; i++) {                 /* work whose time differs from round to round */
        bytes = PERF_CAST_(double, s->scratch_bytes / 3840 * 16 * (1 + 7 * i % 60));
        if (!perf_gpu_slice_swept_(s, PERF_CAST_(int, i & 1), bytes))
            return 0;                           /* without a gate: the host's jitter is welcome */
        if (s->now.ns > 0.4 && s->now.ns < 60e3)
            x[n++] = s->now.ns;
    }
    s->r.gate_timeouts = 0;
    perf_sort_values_(empty, 15);
    s->r.overhead_ns = empty[7];
    s->idle = 2.0 * empty[13] - empty[0];       /* plus once what they scatter by */
    perf_sort_values_(x, n);
    s->r.quantum_ns = perf_gpu_step_of_(x, n);
    if (!(s->r.quantum_ns > 0.0)) {             /* all alike: no finer than that */
        s->r.quantum_ns = 1000.0;
        if (n)
            s->r.quantum_ns = x[0];
    }
    s->state->timer.tick_ns = s->state->loop.step_ns = s->r.quantum_ns;
    return 1;
}

PERF_FN int perf_gpu_can_graph_(const perf_gpu_loop_ *s)
{
    return s->t->capture_begin && s->t->capture_end && s->t->graph_instantiate &&
           s->t->graph_launch && s->t->graph_exec_destroy && s->t->graph_destroy;
}

/* Does a launch come back only when it is done?  Then the gate's launch, or the one behind it,
 * lasts as long as a short gate holds: three times, for the host may lose its processor once. From
 * then on there is no gate, and a graph with the events inside it leaves the host out.           */
PERF_COLD_FN_ int perf_gpu_serialised_(perf_gpu_loop_ *s)
{
    const uint64_t limit = s->own_word.limit_ns;
    uint64_t       began;
    int            i, late = 0;

    if (!s->r.gate)
        return 1;
    if (limit > 2000000)
        s->own_word.limit_ns = 2000000;
    for (i = 0; i < 3 && late == i; i++) {
        began = perf_now();
        if (!perf_gpu_slice_begin_(s, 1, 0))
            return 0;
        if (s->scratch_bytes)
            (void)perf_gpu_attempt_(s, perf_gpu_sweep_(s, s->scratch, 4096.0));
        late += 2 * (perf_now() - began) > s->own_word.limit_ns && PERF_ACQ_(&s->word->out) == 2;
        if (!perf_gpu_slice_end_(s, 0))
            return 0;
    }
    s->own_word.limit_ns = limit;
    s->r.gate_timeouts = 0;
    if (late < 3)
        return 1;
    s->r.serialised = s->gate_off = 1;
    s->own_graph = s->inside = perf_gpu_can_graph_(s) && s->t->event_record_flags;
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
    if (code || v < 0)
        return 0;
    return v;
}

/* In the stream's order where that can be: a plain free waits for the whole device. */
PERF_FN int perf_gpu_scratch_free_(const perf_gpu_loop_ *s)
{
    if (s->on_stream)
        return s->t->mem_free_on(s->scratch, s->stream);
    return s->t->mem_free(s->scratch);
}

PERF_COLD_FN_ void perf_gpu_setup_memory_(perf_gpu_loop_ *s, int large)
{
    const perf_gpu_backend *t = s->t;
    const double            l2 = s->l2_bytes;
    const double            size[] = {4 * l2, 2 * l2, 1.25 * l2, 64 << 20, 1 << 20};
    int                     i, code = 0;        /* the last two: enough for the quantum */
    size_t                  bytes = 0;

    if (!t->mem_alloc || !t->mem_free || !t->fill)
        return;
    for (i = 3 * !large; i < 5 && !s->scratch && code != PERF_GPU_SHUT_DOWN; i++) {
        bytes = PERF_CAST_(size_t, size[i]) / 16 * 16;
        s->on_stream = t->mem_alloc_on && t->mem_free_on &&
                       !t->mem_alloc_on(&s->scratch, bytes, s->stream);
        code = 0;
        if (!s->on_stream)
            code = t->mem_alloc(&s->scratch, bytes);
        if (code)
            s->scratch = 0;
    }
    if (perf_gpu_attempt_(s, code) && s->scratch &&
        perf_gpu_attempt_(s, t->fill(s->scratch, 0, bytes, s->stream)))
        s->scratch_bytes = bytes;
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
    if (s->r.opts.gate_ms < 0.0 || s->down)
        return;
    s->own_word.limit_ns = PERF_CAST_(uint64_t, s->r.opts.gate_ms * 1e6);
    if (s->gate_kernel && t->host_alloc && t->host_free && t->host_address &&
        perf_gpu_attempt_(s, t->host_alloc(&p, sizeof *s->word, 2))) {
        if (perf_gpu_attempt_(s, t->host_address(&s->word_address, p, 0))) {
            s->word = PERF_CAST_(perf_gpu_word_ *, p);
            s->r.gate = 1;
            return;
        }
        if (!s->down)
            (void)t->host_free(p);
    }
    if (t->host_func)
        s->r.gate = 2;
}

PERF_FN int perf_gpu_fail_(perf_gpu_loop_ *s, perf_status status, const char *why)
{
    s->state->status = status;
    s->state->phase = PERF_LOOP_DONE_;
    s->why = why;
    return 0;
}

PERF_COLD_FN_ int perf_gpu_setup_(perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;
    size_t                  kept = 0;
    double                  bytes;
    int                     i, capturing = 0;
    int                     large = s->r.opts.cache != PERF_GPU_HOT || s->r.opts.bytes > 0.0;

    if (t->stream_capturing && !perf_gpu_try_(s, t->stream_capturing(s->stream, &capturing)))
        return 0;
    if (capturing)
        return perf_gpu_fail_(s, PERF_ESTATE, "the stream is being captured");
    if (t->ctx_device && perf_gpu_attempt_(s, t->ctx_device(&s->device)) && t->device_name)
        (void)perf_gpu_attempt_(s, t->device_name(s->state->loop.device,
                                                  sizeof s->state->loop.device, s->device));
    s->l2_bytes = perf_gpu_attribute_(s, 38);
    if (!(s->l2_bytes > 0.0))
        s->l2_bytes = 64 << 20;
    s->multiprocessors = PERF_CAST_(uint64_t, perf_gpu_attribute_(s, 16));
    s->persisting = t->l2_release && t->ctx_limit && !t->ctx_limit(&kept, 6) && kept;
    s->r.datasheet_gbs = 2.0 * perf_gpu_attribute_(s, 36) * (perf_gpu_attribute_(s, 37) / 8) * 1e-6;
    if (s->down || !perf_gpu_try_(s, t->event_create(&s->event[0], 0)) ||
        !perf_gpu_try_(s, t->event_create(&s->event[1], 0)))
        return 0;
    perf_gpu_setup_kernels_(s);
    if (!s->down)
        perf_gpu_setup_memory_(s, large);
    if (s->down || !perf_gpu_try_(s, t->stream_sync(s->stream)) || !perf_gpu_serialised_(s) ||
        !perf_gpu_quantum_(s))
        return 0;
    bytes = PERF_CAST_(double, s->scratch_bytes);
    large = bytes >= 1.2 * s->l2_bytes;
    if (large && s->r.opts.cache != PERF_GPU_HOT)
        s->r.flush_bytes = bytes;
    for (i = 0; i < 5 && large && s->sweep_kernel && s->r.opts.bytes > 0.0; i++) {
        if (!perf_gpu_slice_swept_(s, 1, bytes))
            return 0;
        if (s->now.ns > 0.0 && bytes / s->now.ns > s->r.peak_gbs)
            s->r.peak_gbs = bytes / s->now.ns;
    }
    if (s->r.opts.cache == PERF_GPU_COLD && !(s->r.flush_bytes > 0.0))
        s->r.warnings |= PERF_WARN_NOT_COLD;
    if (t->ctx_record && !perf_gpu_attempt_(s, t->event_create(&s->event[2], 0)))
        s->event[2] = PERF_NULL_;
    return !s->down;
}

/* ---- energy ---- */

/* The counter of joules moves 10 to 50 times a second: its rate is that from first to last step. */
PERF_COLD_FN_ void perf_gpu_energy_ask_(perf_gpu_loop_ *s, perf_gpu_energy_ *e, uint64_t now)
{
    const int    last = e->at[0] > 0;
    const double joules = perf_gpu_meter_(s->t, s->device, 0);
    double       heat, busy;

    if (e->now > 0.0 && joules > e->now) {
        e->at[last] = now;
        e->unsure[last] = PERF_CAST_(double, now - e->asked);
        e->joules[last] = joules;
        heat = perf_gpu_meter_(s->t, s->device, 1);
        busy = perf_gpu_meter_(s->t, s->device, 2);
        if (heat < 1e3)
            e->celsius = perf_most_(heat, e->celsius);
        if (busy >= 0.0 && busy <= 100.0)
            e->busy += (busy - e->busy) / ++e->readings;
    }
    e->now = joules;
    e->asked = now;
}

/* A round is enqueued: waits for the one before it, so that it never runs dry.  1: enough. */
PERF_COLD_FN_ int perf_gpu_energy_round_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    perf_gpu_energy_ *e = &a->energy;
    uint64_t          now;

    if (!a->exec)
        a->arm->runs += e->round;
    if (!perf_gpu_try_(s, s->t->event_record(s->event[e->rounds & 1], s->stream)) ||
        (e->rounds++ && !perf_gpu_try_(s, s->t->event_sync(s->event[e->rounds & 1]))))
        return 1;
    now = perf_now();
    e->back |= now < e->ended;                  /* the host's clock: then nothing can be told */
    e->ended = now;
    if (e->rounds <= 2)
        e->began = now;
    if (now - e->asked > 2000000)               /* to ask takes the host up to 1 ms */
        perf_gpu_energy_ask_(s, e, now);
    return PERF_CAST_(double, now - e->began) >= s->r.opts.energy * 1e9 ||
           (now == e->began && e->rounds > 1000);                       /* a clock that stands */
}

/* Iterations in a round of some 10 ms. */
PERF_COLD_FN_ uint64_t perf_gpu_energy_size_(const perf_gpu_arm_ *a)
{
    const uint64_t slices = 1 + PERF_CAST_(uint64_t, 10e6 / (a->arm->fastest + 10e3));

    if (!a->exec && slices * a->arm->batch > a->queue)
        return a->queue;
    return slices * a->arm->batch;
}

/* A round as graphs; 0: an error. */
PERF_COLD_FN_ int perf_gpu_energy_replay_(perf_gpu_loop_ *s, const perf_gpu_arm_ *a)
{
    uint64_t left = a->energy.round;

    for (; left; left -= a->arm->batch)
        if (!perf_gpu_try_(s, s->t->graph_launch(a->exec, s->stream)))
            return 0;
    return 1;
}

/* Another round of this arm, unless there were enough.  0: there were. */
PERF_COLD_FN_ int perf_gpu_energy_more_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    if (!a->energy.round)
        a->energy.round = perf_gpu_energy_size_(a);
    else if (!a->energy.done)
        a->energy.done = perf_gpu_energy_round_(s, a);
    return !a->energy.done;
}

/* After the samples, arm by arm: 64 * iterations of the next round + the arm; 0: no more. */
PERF_COLD_FN_ uint64_t perf_gpu_energy_next_(perf_loop_state_ *state)
{
    perf_gpu_loop_ *s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    perf_gpu_arm_  *a;
    int             i;

    for (i = 0; i < state->variants; i++) {
        a = &s->arm[i];
        while (a->launches && state->status == PERF_OK && perf_gpu_energy_more_(s, a)) {
            if (!a->exec)
                return 64 * a->energy.round + PERF_CAST_(uint64_t, i);
            if (!perf_gpu_energy_replay_(s, a))
                return 0;
        }
    }
    return 0;
}

PERF_COLD_FN_ void perf_gpu_joules_(perf_gpu_result *r, const perf_gpu_energy_ *e)
{
    double gained = e->joules[1] - e->joules[0], took = PERF_CAST_(double, e->at[1] - e->at[0]);
    double each = PERF_CAST_(double, e->ended - e->began) /
                  (PERF_CAST_(double, e->rounds - 2) * PERF_CAST_(double, e->round));

    if (e->back || !(gained > 0.0) || !(took > e->unsure[1]))
        return;
    r->joules_low = gained * each / (took + e->unsure[0]);
    r->joules = gained * each / took;
    r->joules_high = gained * each / (took - e->unsure[1]);
    r->watts = gained / took * 1e9;
    r->celsius = e->celsius;
    r->busy = e->busy;
}

/* ---- the loop ---- */

/* Host ns until the context's work is done, limit_ns at most; -1: not known, -2: not by then. */
PERF_COLD_FN_ double perf_gpu_quiet_(perf_gpu_loop_ *s, double limit_ns)
{
    uint64_t began = perf_now();
    double   ns = 0.0;
    int      code = PERF_GPU_NOT_READY;

    if (!perf_gpu_attempt_(s, s->t->ctx_record(s->ctx, s->event[2])))
        return -1.0;
    for (; code == PERF_GPU_NOT_READY && ns < limit_ns; limit_ns -= 50.0) {     /* it may stand */
        code = s->t->event_query(s->event[2]);
        ns = PERF_CAST_(double, perf_now() - began);
    }
    if (code == PERF_GPU_NOT_READY)
        return -2.0;
    if (!perf_gpu_attempt_(s, code))
        return -1.0;
    return ns;
}

/* Does the body leave work on other streams?  The context must be quiet in front of it, and still
 * busy when its own stream no longer is: what other threads do there is not the body's.          */
PERF_COLD_FN_ void perf_gpu_look_around_(perf_gpu_loop_ *s, int after)
{
    double ns, limit = 5e6;

    if (!s->event[2] || s->probed >= 8)
        return;
    if (after)
        limit = 100e6;
    ns = perf_gpu_quiet_(s, limit);
    s->elsewhere |= ns < 0.0 || (after && ns > 4.0 * s->quiet_ns + 10e3);
    if (ns < 0.0) {
        s->probed = 8;                          /* somebody is busy for long: nothing can be told */
        s->busy *= after;
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

/* 1: two readings of one thing agree to 2 %. */
PERF_FN int perf_gpu_agree_(double a, double b)
{
    return perf_fabs_(a - b) <= 0.02 * a;
}

/* Each body was launched once more.  A clock that reads the same twice may not have been read anew:
 * so the times of three blocks of 5 ms have to agree, and the clock with them.                   */
PERF_COLD_FN_ void perf_gpu_calm_(perf_gpu_loop_ *s)
{
    const uint64_t now = perf_now();

    if (!(s->block > 0.0 && s->block <= s->warm_ns))
        s->block = s->warm_ns;
    s->warm_ns = 0.0;
    if (now - s->block_began <= 5000000)
        return;
    s->calm++;
    if (!(s->block_before > 0.0) || !perf_gpu_agree_(s->block, s->block_before) ||
        !perf_gpu_agree_(PERF_CAST_(double, s->now.sm_mhz), PERF_CAST_(double, s->mhz_before)))
        s->calm = 0;
    s->block_before = s->block;
    s->mhz_before = s->now.sm_mhz;
    s->block = 0.0;
    s->block_began = now;
}

/* 1: the clock of the device is steady, or it takes too long to become so. */
PERF_COLD_FN_ int perf_gpu_is_warm_(const perf_gpu_loop_ *s, int late)
{
    const int      launches = s->arm[s->state->order[0]].launches;
    const uint64_t now = perf_now();
    const int      stands = now == s->warm_began && launches > 10000;   /* the host's clock */

    if (launches < 3 || (!late && launches < s->r.opts.warmup))
        return 0;
    return late || stands || s->calm > 1 || s->r.opts.warmup ||
           PERF_CAST_(double, now - s->warm_began) > 0.25e9 * s->r.opts.max_seconds;
}

/* 1: enough of the warm-up, from now on there are batches. */
PERF_COLD_FN_ int perf_device_warm_(perf_loop_state_ *state, int late)
{
    perf_gpu_loop_ *s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    int             i;

    perf_gpu_calm_(s);
    if (!perf_gpu_is_warm_(s, late))
        return 0;
    if (s->probed && 2 * s->busy >= s->probed && s->busy >= 2)
        s->r.warnings |= PERF_WARN_STREAM;
    for (i = 0; i < state->variants; i++) {
        state->arm[i].most = s->arm[i].queue;
        if (s->r.opts.batch)
            state->arm[i].batch = state->arm[i].most = PERF_CAST_(uint64_t, s->r.opts.batch);
    }
    return 1;
}

/* Nothing that takes time ran between the events of a slice, as far as one of them can tell. */
PERF_FN int perf_gpu_is_idle_(const perf_gpu_loop_ *s, double slice_ns)
{
    return slice_ns <= s->idle + 2.0 * s->r.quantum_ns;
}

/* What a sample takes at least: so long that step and cost of the events are little of it. */
PERF_FN double perf_gpu_least_ns_(const perf_gpu_loop_ *s)
{
    return perf_most_(s->r.quantum_ns, s->r.overhead_ns) / PERF_GPU_PERCENT_;
}

/* A slice counts as long enough at 0.7 of what is wanted. */
PERF_COLD_FN_ double perf_device_want_(const perf_loop_state_ *state)
{
    return 1.5 * perf_gpu_least_ns_(PERF_CAST_(const perf_gpu_loop_ *, state->own));
}

/* The slice of PERF_GPU_PROBES_ launches has ended: does anything run on the stream?  If not, the
 * loop ends. */
PERF_COLD_FN_ void perf_gpu_probed_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    /* How far two events scatter, but less than so many of the shortest kernels take. */
    const double scatter = perf_least_(s->idle - s->r.overhead_ns, 250.0 * PERF_GPU_PROBES_);

    a->arm->batch = a->doubted;
    a->doubted = 0;
    a->sure = 1;
    if (s->now.ns > s->r.overhead_ns + scatter + 2.0 * s->r.quantum_ns)
        return;
    s->r.warnings |= PERF_WARN_STREAM;
    (void)perf_gpu_fail_(s, PERF_ESTREAM, PERF_NULL_);
}

/* A reading at a batch that may be too small.  0: it does not count, the arm runs again. */
PERF_COLD_FN_ int perf_gpu_reading_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    perf_loop_arm_ *arm = a->arm;
    int             last;

    if (a->doubted) {
        perf_gpu_probed_(s, a);
        return 0;
    }
    if (s->now.flags & PERF_GPU_SAMPLE_TIMEOUT && arm->batch > 1) {
        arm->batch = arm->most = a->queue = arm->batch / 2;     /* its queue is full: fewer */
        arm->readings = 0;
        return 0;
    }
    if (s->gate_off || s->own_graph)            /* what is in a graph is on no other stream */
        arm->most = arm->batch;
    last = arm->batch >= arm->most || s->now.ns >= perf_gpu_least_ns_(s);
    if (!last || a->sure || s->own_graph || !perf_gpu_is_idle_(s, s->now.ns))
        return 1;
    a->doubted = arm->batch;                    /* not sure: many short kernels show */
    arm->batch = PERF_GPU_PROBES_;
    return 0;
}

/* Files the sample that has ended; 0 or what speaks against it. */
PERF_COLD_FN_ uint32_t perf_gpu_file_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    perf_gpu_sample *x = &a->sample[a->count++];
    double           n = PERF_CAST_(double, a->arm->batch);

    *x = s->now;
    x->ns /= n;
    x->host_ns /= n;
    if (perf_gpu_is_idle_(s, s->now.ns) && !a->exec && !perf_gpu_is_idle_(s, a->arm->fastest) &&
        2.0 * (s->now.ns - s->r.overhead_ns) < a->arm->fastest - s->r.overhead_ns)   /* no mere */
        x->flags |= PERF_GPU_SAMPLE_IDLE;       /* quick one */
    if (x->throttle & UINT64_C(0xec))   /* power cap, heat, brake: not idleness or settings */
        x->flags |= PERF_GPU_SAMPLE_THROTTLED;
    return x->flags & ~PERF_GPU_SAMPLE_TIMEOUT;
}

/* The most samples of an arm. */
PERF_FN size_t perf_gpu_most_samples_(const perf_gpu_loop_ *s)
{
    if (s->state->variants == 2)
        return PERF_CAST_(size_t, s->state->ask.max_pairs);
    if (s->r.opts.samples)
        return PERF_CAST_(size_t, s->r.opts.samples);
    return PERF_GPU_MOST_SAMPLES_;
}

/* How much of the time there is has passed. */
PERF_COLD_FN_ double perf_gpu_spent_(const perf_gpu_loop_ *s)
{
    const double took = perf_since_(s->state->timer.began, perf_now());

    return took / (s->r.opts.max_seconds * 1e9);
}

/* A sample of each arm was filed.  0: the round does not count, another one is taken: a throttled
 * one until there were too many in a row or half of the time is spent.                           */
PERF_COLD_FN_ int perf_device_keep_(perf_loop_state_ *state)
{
    perf_gpu_loop_ *s = PERF_CAST_(perf_gpu_loop_ *, state->own);

    if (!(s->useless & PERF_GPU_SAMPLE_THROTTLED))
        s->hot = 0;
    else if (++s->hot < PERF_GPU_HOT_IN_A_ROW_ && perf_gpu_spent_(s) < 0.5)
        s->again += s->again < perf_gpu_most_samples_(s);
    else
        s->useless &= ~PERF_GPU_SAMPLE_THROTTLED;
    return !s->useless;
}

/* The stop rule is that of all loops, but for bodies that are slow, or of which nothing counts. */
PERF_COLD_FN_ int perf_device_stop_(perf_loop_state_ *state, int enough)
{
    const perf_gpu_loop_ *s = PERF_CAST_(const perf_gpu_loop_ *, state->own);
    const int             one = state->order[0];        /* the others have as many */
    const size_t          filed = s->arm[one].count, most = perf_gpu_most_samples_(s);
    size_t                least = PERF_GPU_LEAST_;

    if (state->variants == 2)
        least = PERF_GPU_LEAST_PAIRS_;
    if (filed >= most + s->again || (!state->arm[one].count && filed >= 30))
        return 1;
    return filed >= least && (enough || (s->useless && perf_gpu_spent_(s) > 1.0));
}

/* ---- graphs ---- */

PERF_COLD_FN_ void perf_gpu_drop_graphs_(perf_gpu_loop_ *s)
{
    int i;

    for (i = 0; i < 2; i++) {
        PERF_GPU_GIVE_(s, s->arm[i].exec, s->t->graph_exec_destroy(s->arm[i].exec));
        s->arm[i].exec = PERF_NULL_;
    }
}

/* A body was captured; 0: it could not be. */
PERF_COLD_FN_ int perf_gpu_captured_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    void          *graph = PERF_NULL_;
    int            ok;

    s->opened = 0;
    ok = !s->inside || perf_gpu_attempt_(s, s->t->event_record_flags(s->event[1], s->stream, 1));
    ok = perf_gpu_attempt_(s, s->t->capture_end(s->stream, &graph)) && graph && ok && !s->spoilt;
    ok = ok && perf_gpu_attempt_(s, s->t->graph_instantiate(&a->exec, graph, 0));
    if (!ok)
        a->exec = PERF_NULL_;
    if (graph && !s->down)
        (void)s->t->graph_destroy(graph);
    return ok;
}

/* The next rounds are thrown away. */
PERF_COLD_FN_ void perf_gpu_discard_(perf_gpu_loop_ *s)
{
    if (s->state->phase == PERF_LOOP_DONE_)
        return;
    s->state->phase = PERF_LOOP_WARM_;
    s->state->left_to_warm = PERF_GPU_DISCARDED_;
}

PERF_COLD_FN_ void perf_gpu_no_graph_(perf_gpu_loop_ *s)
{
    int i;

    perf_gpu_drop_graphs_(s);
    if (s->r.opts.graph || s->r.serialised)
        s->r.warnings |= PERF_WARN_NO_GRAPH;
    s->gate_off |= s->own_graph;
    s->own_graph = s->inside = 0;
    s->no_graph = 1;
    for (i = 0; i < s->state->variants; i++)
        s->state->arm[i].batch = s->arm[i].plain;
    perf_gpu_discard_(s);
}

/* The stream records the body of this slice into a graph; 0: it cannot. */
PERF_COLD_FN_ int perf_gpu_capture_(perf_gpu_loop_ *s)
{
    if (!perf_gpu_attempt_(s, s->t->capture_begin(s->stream, 2)))
        return 0;
    s->opened = 2;
    s->spoilt = 0;
    if (s->inside)
        s->spoilt = !perf_gpu_attempt_(s, s->t->event_record_flags(s->event[0], s->stream, 1));
    return 1;
}

/* All batches are found.  Launches in a graph follow each other closer, so it takes some more. */
PERF_COLD_FN_ int perf_device_grown_(perf_loop_state_ *state)
{
    perf_gpu_loop_ *s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    int             i, more = !s->r.opts.batch && s->r.opts.graph && !s->own_graph;

    if (!perf_gpu_can_graph_(s)) {
        if (s->r.opts.graph)
            s->r.warnings |= PERF_WARN_NO_GRAPH;
        s->no_graph = 1;
    }
    for (i = 0; i < state->variants; i++) {
        s->arm[i].plain = state->arm[i].batch;
        if (more && !s->no_graph)
            state->arm[i].batch = PERF_CAST_(uint64_t, perf_least_(
                3.0 * PERF_CAST_(double, state->arm[i].batch), 1000.0));
    }
    return 1;
}

/* ---- the filling of the loop: what a slice is ---- */

/* Begins a slice: with the body, or without it as a graph. */
PERF_COLD_FN_ void perf_device_begin_(perf_loop_state_ *state, int variant)
{
    perf_gpu_loop_      *s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    const perf_gpu_arm_ *a = &s->arm[variant];
    const int            gated = state->phase >= PERF_LOOP_GROW_;
    const int            flushes = s->r.opts.cache == PERF_GPU_COLD && s->r.flush_bytes > 0.0;
    const int            wants_graph = (s->r.opts.graph || s->own_graph) && !s->no_graph;

    s->variant = variant;
    if (wants_graph && state->phase >= PERF_LOOP_WARM_ && !a->exec) {
        if (perf_gpu_capture_(s))
            return;
        perf_gpu_no_graph_(s);
    }
    if (state->phase == PERF_LOOP_HEAT_)
        perf_gpu_look_around_(s, 0);
    if (!perf_gpu_slice_begin_(s, gated, gated && flushes && !a->doubted) || !a->exec)
        return;
    s->replayed = 1;
    if (!perf_gpu_try_(s, s->t->graph_launch(a->exec, s->stream)))
        (void)perf_gpu_let_go_(s);
}

/* A body that waits for the device opens the gate by its limit each time: three times in a row, and
 * it is done without; or as a graph, where it was more launches than the driver's queue holds. */
PERF_COLD_FN_ void perf_gpu_watch_gate_(perf_gpu_loop_ *s, perf_gpu_arm_ *a)
{
    const int ran_ahead = a->ahead > 1 && !a->exec && !s->gate_off;

    a->timeouts++;
    if (!(s->now.flags & PERF_GPU_SAMPLE_TIMEOUT) || a->arm->batch != 1)
        a->timeouts = 0;
    if (a->timeouts < 3)
        return;
    if (!ran_ahead || s->no_graph || !perf_gpu_can_graph_(s)) {
        s->gate_off = 1;
        return;
    }
    s->own_graph = 1;
    a->timeouts = 0;
}

/* What a slice means that was timed, by the phase.  0: it does not count, the arm runs again. */
PERF_COLD_FN_ int perf_gpu_timed_(perf_gpu_loop_ *s, perf_gpu_arm_ *a, uint64_t now)
{
    switch (s->state->phase) {
    case PERF_LOOP_COLD_:
        s->warm_began = s->block_began = now;
        return 1;
    case PERF_LOOP_HEAT_:
        perf_gpu_look_around_(s, 1);
        s->warm_ns += s->now.ns;
        return 1;
    case PERF_LOOP_GROW_:
        return perf_gpu_reading_(s, a);
    default:
        if (s->own_graph && !a->exec)
            return 0;                           /* it begins anew as a graph */
    }
    if (s->state->phase != PERF_LOOP_SAMPLE_)
        return 1;
    if (!s->state->at)
        s->useless = 0;
    s->useless |= perf_gpu_file_(s, a);
    return 1;
}

PERF_COLD_FN_ int perf_device_end_(perf_loop_state_ *state, int variant, uint64_t now)
{
    perf_gpu_loop_ *s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    perf_gpu_arm_  *a = &s->arm[variant];

    if (s->opened == 2) {
        a->arm->runs += a->arm->batch;
        if (!perf_gpu_captured_(s, a))
            perf_gpu_no_graph_(s);
        perf_gpu_discard_(s);
        return 0;
    }
    if (!perf_gpu_slice_end_(s, 1))
        return 0;
    if (!a->exec)
        a->arm->runs += a->arm->batch;
    a->launches++;
    perf_gpu_watch_gate_(s, a);
    state->timer.ns[0] = s->now.ns;
    state->timer.spent_ns += s->now.ns;
    return perf_gpu_timed_(s, a, now);
}

PERF_FN const perf_filling_ *perf_device_filling_(void)
{
    static const perf_filling_ device = {perf_device_begin_, perf_device_end_,  perf_device_want_,
                                         perf_device_grown_, perf_device_warm_, perf_device_keep_,
                                         perf_device_stop_, 0.0};

    return &device;
}

/* ---- turns ---- */

/* The profiler that runs this program, if any, begins or ends to record. */
PERF_COLD_FN_ void perf_gpu_profiler_(perf_gpu_loop_ *s, int on)
{
    static const char *const roctx[] = {"librocprofiler-sdk-roctx.so.1", PERF_NULL_};
    static const char *const word[2] = {"Pause", "Resume"};
    int  (*call)(void) = s->t->profiler_stop;
    int  (*ask)(uint64_t thread) = PERF_NULL_;
    void  *library = PERF_NULL_;

    s->profiling = on;
    if (on)
        call = s->t->profiler_start;
    if (!call && s->t->flags & PERF_GPU_TABLE_AMD)
        library = perf_library_open_(roctx);
    if (library)
        perf_library_symbol_(library, "roctxProfiler", word[on], &ask);
    if (call)
        (void)perf_gpu_attempt_(s, call());
    else if (ask)
        (void)perf_gpu_attempt_(s, ask(0));
}

/* Each body once, with the device idle before and after. */
PERF_COLD_FN_ uint64_t perf_gpu_profile_(perf_gpu_loop_ *s)
{
    const int turn = s->profiled++;
    int       variant;

    if (!perf_gpu_try_(s, s->t->stream_sync(s->stream)))
        return 0;
    if (!s->profiling)
        perf_gpu_profiler_(s, 1);
    if (turn == s->state->running) {
        perf_gpu_profiler_(s, 0);
        (void)perf_gpu_fail_(s, PERF_ENODATA, "the body ran once, for a profiler");
        return 0;
    }
    variant = s->state->order[turn];
    s->state->arm[variant].runs = 1;
    return 64 + PERF_CAST_(uint64_t, variant);
}

/* The next slice in which the body runs, 64 * iterations + variant; 0: there is none. */
PERF_COLD_FN_ uint64_t perf_gpu_go_on_(perf_gpu_loop_ *s)
{
    uint64_t next;

    if (s->r.opts.profile)
        return perf_gpu_profile_(s);
    do {
        s->replayed = 0;
        next = perf_bench_engine_get_()->slice(s->state, s->state->variants);
    } while (next && s->replayed);
    return next;
}

/* 1: the body runs, as often and in the variant that `l` now says. */
PERF_COLD_FN_ int perf_gpu_turn_(perf_gpu_loop *l)
{
    perf_gpu_loop_   *s = l->state;
    perf_gpu_entered_ in;
    uint64_t          next = 0;
    int               code;

    l->left = 0;
    if (!s || s->state->phase == PERF_LOOP_DONE_)
        return 0;
    code = perf_gpu_enter_(s->t, s->ctx, &in);
    s->waited = in.waited;
    (void)perf_gpu_try_(s, code);
    if (s->state->status == PERF_OK && !(s->host && s->host->status != PERF_OK))
        next = perf_gpu_go_on_(s);
    if (!next)
        s->state->phase = PERF_LOOP_DONE_;
    if (!s->down)
        perf_gpu_leave_(s->t, &in);
    l->left = PERF_CAST_(int64_t, next >> 6) - (next != 0);
    l->variant = PERF_CAST_(int, next & 63);
    return next != 0;
}

/* ---- begin ---- */

/* Bytes of a loop of so many arms, without samples. */
#define PERF_GPU_OWN_(arms)                                                                       \
    (sizeof(perf_gpu_loop_) + (arms) * PERF_GPU_SPARE_ * sizeof(perf_gpu_sample))

/* A device's loop in that state, behind which there is room for twice so many samples of each arm:
 * a throttled one may be taken again.  They stay until the program ends, so perf_reset() does not
 * get the pages.  state NULL: no memory.                                                         */
PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_loop_open_(void *stream, size_t samples,
                                                  const perf_gpu_bench_opts *o,
                                                  perf_loop_state_ *state, perf_loop_state_ *host)
{
    perf_gpu_sample *sample;
    perf_gpu_loop_  *s;
    int              i;

    if (!state)
        return PERF_NULL_;
    s = PERF_CAST_(perf_gpu_loop_ *, state->own);
    sample = PERF_PTR_(perf_gpu_sample *, s + 1);
    s->state = state;
    s->host = host;
    s->r.opts = *o;
    s->stream = stream;
    s->word = &s->own_word;
    for (i = 0; i < state->variants; i++, sample += 2 * samples + PERF_GPU_SPARE_) {
        s->arm[i].arm = &state->arm[i];
        s->arm[i].sample = sample;
        s->arm[i].queue = PERF_GPU_MOST_BATCH_;
    }
    state->loop.kind = state->variants;
    state->loop.pages = 0;
    state->loop.note = s->note;
    state->fill = perf_device_filling_();
    if (o->energy > 0.0)
        state->counted = perf_gpu_energy_next_;
    state->opts.samples = o->samples;
    state->opts.rel_ci = o->rel_ci;
    state->opts.max_seconds = o->max_seconds;
    state->opts.bytes = o->bytes;
    state->opts.items = o->items;
    state->left_to_warm = PERF_GPU_DISCARDED_;
    return s;
}

/* Is there a device, and can it be measured? */
PERF_COLD_FN_ void perf_gpu_ask_(perf_gpu_loop_ *s)
{
    perf_gpu_entered_ in;

    s->state->phase = PERF_LOOP_DONE_;
    s->t = perf_gpu_table();
    if (s->t && s->t->error_waits)
        s->waited = s->t->error_waits();
    if (s->waited)
        s->r.code = PERF_GPU_UNREAD;            /* any call would lose it */
    else if (s->t)
        s->r.code = s->t->ctx_get(&s->ctx);
    if (!s->t || s->r.code == 201 || s->r.code == 3 || (!s->r.code && !s->ctx)) {
        s->state->status = PERF_ENOGPU;         /* none current, or the driver was not started */
        return;
    }
    if (!perf_gpu_try_(s, s->r.code) || (PERF_PTR_(uintptr_t, s->stream) > 2 && s->t->stream_ctx &&
         !perf_gpu_try_(s, s->t->stream_ctx(s->stream, &s->ctx))) ||
        !perf_gpu_try_(s, perf_gpu_enter_(s->t, s->ctx, &in)))
        return;
    s->waited = in.waited;
    if (s->r.opts.profile || perf_gpu_setup_(s))
        s->state->phase = PERF_LOOP_START_;
    if (!s->down)
        perf_gpu_leave_(s->t, &in);
    s->state->timer.began = perf_now();
}

/* A benchmark of a harness that profiles has a loop without a state, one iteration left. */
PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_bench_open_(const char *name, void *stream,
                                                   const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts o = PERF_ZERO;
    const perf_bench   *b;
    perf_loop_state_   *state, *host = PERF_NULL_;
    perf_gpu_loop_     *s;
    size_t              room = PERF_GPU_MOST_SAMPLES_, own;

    if (opts)
        o = *opts;
    b = o.in_place_of;
    if (b)
        name = PERF_NULL_;
    if (b && PERF_LOOP_KIND_(b->state) == 1)
        host = b->state;
    if (host) {
        if (!(o.bytes > 0.0))
            o.bytes = host->opts.bytes;
        if (!(o.items > 0.0))
            o.items = host->opts.items;
        if (!(o.max_seconds > 0.0))
            o.max_seconds = host->opts.max_seconds;
    } else {
        o.profile |= b && !b->state && b->left == 1;
    }
    o = perf_gpu_bench_resolve_(&o);
    if (o.samples)
        room = PERF_CAST_(size_t, o.samples);
    own = PERF_GPU_OWN_(1) + 2 * room * sizeof(perf_gpu_sample);
    state = perf_loop_pages_(name, !host && !o.profile, 1, room, own);
    s = perf_gpu_loop_open_(stream, room, &o, state, host);
    if (s)
        perf_gpu_ask_(s);
    return s;
}

PERF_COLD_FN_ perf_gpu_loop_ *perf_gpu_ab_open_(const char *name, void *stream,
                                                const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab_opts  o = PERF_ZERO;
    perf_ab_opts      ask;
    perf_loop_state_ *state;
    perf_gpu_loop_   *s;

    if (opts)
        o = *opts;
    o.device = perf_gpu_bench_resolve_(&o.device);
    ask = perf_gpu_ab_ask_(&o);
    state = perf_race_pages_(name, o.device.profile ? 0 : 2, &ask, PERF_GPU_OWN_(2),
                             4 * sizeof(perf_gpu_sample));
    if (!state)
        return PERF_NULL_;
    s = perf_gpu_loop_open_(stream, PERF_CAST_(size_t, state->ask.max_pairs), &o.device, state,
                            PERF_NULL_);
    if (state->status == PERF_OK)
        perf_gpu_ask_(s);
    return s;
}

/* ---- end ---- */

/* Gives back what it can.  What fails is left where it is; so is, while somebody else's kernel
 * runs, what only a call frees that may wait for the whole context.  While the program has an error
 * that any call would lose, all is left.                                                         */
PERF_COLD_FN_ void perf_gpu_release_(perf_gpu_loop_ *s)
{
    const perf_gpu_backend *t = s->t;
    perf_gpu_entered_       in;
    void                   *graph = PERF_NULL_;
    int                     i, code, quiet = 1;

    PERF_REL_(&s->word->flag, 1u);              /* left in the middle: nothing may stay held back */
    if (!t || !s->ctx || s->down)
        return;
    code = perf_gpu_enter_(s->t, s->ctx, &in);
    if (code == PERF_GPU_UNREAD && s->opened != 2)      /* but a capture must not stay open */
        return;
    s->waited = in.waited;
    (void)perf_gpu_try_(s, code);
    if (s->profiling && !s->down)
        perf_gpu_profiler_(s, 0);
    if (!s->down && s->opened == 2 && !t->capture_end(s->stream, &graph) && graph)
        (void)t->graph_destroy(graph);
    PERF_GPU_GIVE_(s, s->event[0], t->stream_sync(s->stream));
    if (!s->down && s->event[2] && s->elsewhere)        /* the question spoils captures there */
        quiet = perf_gpu_quiet_(s, 10e6) > -2.0;
    perf_gpu_drop_graphs_(s);
    for (i = 0; i < 3; i++)
        PERF_GPU_GIVE_(s, s->event[i], t->event_destroy(s->event[i]));
    PERF_GPU_GIVE_(s, s->module && quiet, t->module_unload(s->module));
    PERF_GPU_GIVE_(s, s->scratch && (quiet || s->on_stream), perf_gpu_scratch_free_(s));
    PERF_GPU_GIVE_(s, s->word != &s->own_word && quiet, t->host_free(s->word));
    if (!s->down)
        perf_gpu_leave_(s->t, &in);
}

/* The summary of the host's times, or of the samples without proof. */
PERF_COLD_FN_ perf_summary perf_gpu_flagged_(const perf_gpu_arm_ *a, double *spare, int host)
{
    size_t i, n = 0;

    for (i = 0; i < a->count; i++)
        if (host)
            spare[n++] = a->sample[i].host_ns;
        else if (a->sample[i].flags & PERF_GPU_SAMPLE_EXPOSED)
            spare[n++] = a->sample[i].ns;
    return perf_summarize(spare, n);
}

/* "; 3 of 100 samples throttled (power cap, heat); SM 1700 to 1980 MHz" */
PERF_COLD_FN_ void perf_gpu_put_flags_(perf_out_ *o, const perf_gpu_result *r)
{
    static const char *const why[] = {"power cap", "hardware slow-down", "", "heat",
                                      "heat (hardware)", "power brake"};
    static const char *const what[] = {"exposed", "without work", "throttled"};
    static const char *const before[] = {" (", ", "};
    const uint64_t n[] = {r->exposed.count, r->idle, r->throttled};
    double low = r->sm_mhz_low, high = r->sm_mhz_high;
    int    i, any = 0;

    for (i = 0; i < 3; i++)
        if (n[i])
            perf_putf_(o, "; %.0f of %.0f samples %s", PERF_CAST_(double, n[i]),
                       PERF_CAST_(double, r->samples), what[i]);
    for (i = 0; i < 6; i++)
        if (r->throttle >> (i + 2) & 1 && *why[i])
            perf_putf_(o, "%s%s", before[any++ > 0], why[i]);
    if (any)
        perf_put_(o, ")");
    if (high > low)
        perf_putf_(o, "; SM %.0f to %.0f MHz", low, high);
    else if (high > 0.0)
        perf_putf_(o, "; SM %.0f MHz", high);
}

/* Why there is no result, or only a part of one. */
PERF_COLD_FN_ void perf_gpu_put_failure_(perf_out_ *o, const perf_gpu_loop_ *s,
                                         const perf_gpu_result *r)
{
    const perf_gpu_backend *t = s->t;

    if (s->down)
        t = PERF_NULL_;
    if (s->why)
        perf_put_(o, s->why);
    else
        perf_put_(o, perf_status_text(r->status));
    if (r->code) {
        perf_put_(o, ": error ");
        perf_gpu_put_error_(o, t, r->code);
    }
    if (r->samples)
        perf_put_(o, "; until then: ");
    else if (r->serialised)
        perf_put_(o, "; ");
}

/* "cold L2 (after reading 105 MB), 1 a sample, event step 32 ns, ..." */
PERF_COLD_FN_ void perf_gpu_put_method_(perf_out_ *o, const perf_gpu_loop_ *s,
                                        const perf_gpu_result *r)
{
    if (r->flush_bytes > 0.0) {
        perf_put_(o, "cold L2 (after ");
        if (s->sweep_kernel)
            perf_put_(o, "reading");
        else
            perf_put_(o, "writing");
        perf_putf_(o, " %.0f MB)", r->flush_bytes * 1e-6);
    } else {
        perf_put_(o, "warm L2");
        if (r->opts.cache != PERF_GPU_HOT)
            perf_put_(o, " (no way to flush it)");
    }
    perf_put_(o, ", ");
    if (r->graph)
        perf_put_(o, "graph of ");
    perf_put_fixed_(o, PERF_CAST_(double, r->batch), 0);
    perf_put_(o, " a sample, event step ");
    perf_put_ns_(o, r->quantum_ns);
    perf_put_(o, ", events alone ");
    perf_put_ns_(o, r->overhead_ns);
    perf_gpu_put_flags_(o, r);
    if (r->datasheet_gbs > 0.0 && r->gbs > 0.0)
        perf_putf_(o, "; %.1f %% of the data sheet's", 100.0 * r->gbs / r->datasheet_gbs);
}

/* The line of text of a result: what went wrong, how it was measured, what was done without. */
PERF_COLD_FN_ void perf_gpu_describe_(perf_gpu_loop_ *s, perf_gpu_result *r)
{
    perf_out_ o = perf_out_open_(r->text, sizeof r->text);

    if (r->simulated)
        perf_put_(&o, "simulated device: ");
    if (r->status != PERF_OK)
        perf_gpu_put_failure_(&o, s, r);
    if (r->serialised && r->graph)
        perf_put_(&o, "launches are serialised, so a graph has the events inside; ");
    else if (r->serialised)
        perf_put_(&o, "launches are serialised, which no sample can leave out; ");
    else if (r->graph && !r->opts.graph)
        perf_put_(&o, "more launches than the driver's queue holds; ");
    if (r->samples)
        perf_gpu_put_method_(&o, s, r);
    if (r->status == PERF_OK && r->code) {
        perf_put_(&o, "; done without what met error ");
        perf_gpu_put_error_(&o, s->t, r->code);
    }
}

PERF_COLD_FN_ perf_gpu_result perf_gpu_arm_result_(perf_gpu_loop_ *s, int arm)
{
    perf_gpu_result      r = s->r;
    const perf_gpu_arm_ *a = &s->arm[arm];
    double               step = r.quantum_ns / PERF_CAST_(double, a->arm->batch);
    size_t               i;

    r.status = s->state->status;
    r.sample = a->sample;
    r.samples = a->count;
    r.batch = a->arm->batch;
    r.iterations = a->arm->runs;
    r.first_ns = a->arm->first_ns;
    r.graph = a->exec != PERF_NULL_;
    if (s->gate_off)
        r.gate = 0;
    r.simulated = s->t && (s->t->flags & PERF_GPU_TABLE_SIMULATED) != 0;
    r.time = perf_summarize_series_(a->arm->ns, a->arm->count);
    r.exposed = perf_gpu_flagged_(a, s->state->logs, 0);
    r.launch = perf_gpu_flagged_(a, s->state->logs, 1);
    perf_gpu_joules_(&r, &a->energy);
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
        r.warnings |= r.time.warnings;
        if (step > PERF_GPU_PERCENT_ * r.time.p50)
            r.warnings |= PERF_WARN_RESOLUTION;
        if (s->state->variants == 1 &&
            !(r.time.p50_high - r.time.p50_low <= 2.0 * s->r.opts.rel_ci * r.time.p50))
            r.warnings |= PERF_WARN_NOISY;
        r.time.p50_low = perf_most_(r.time.p50_low - step, 0.0);
        r.time.p50_high += step;
        if (r.opts.bytes > 0.0 && r.time.p50 > 0.0)
            r.gbs = r.opts.bytes / r.time.p50;
    } else if (r.status == PERF_OK) {
        r.status = r.time.status;
        if (r.status == PERF_OK)
            r.status = PERF_ENODATA;
    }
    if (r.exposed.count)
        r.warnings |= PERF_WARN_EXPOSED;
    if (r.idle)
        r.warnings |= PERF_WARN_STREAM;
    if (r.throttled)
        r.warnings |= PERF_WARN_THROTTLED;
    perf_gpu_describe_(s, &r);
    return r;
}

/* Energy as numbers of the loop's own, for its row and the files. */
PERF_COLD_FN_ void perf_gpu_count_(perf_loop_ *l, const perf_gpu_result *r)
{
    static const char *const name[] = {"joules", "watts", "celsius", "busy %"};
    const double x[] = {r->joules, r->watts, r->celsius, r->busy};
    double      *place;
    int          i;

    for (i = 0; i < 4 && r->joules > 0.0; i++) {
        if (!(x[i] > 0.0))
            continue;
        place = perf_told_place_(l, name[i]);
        if (place)
            *place = x[i];
    }
}

/* Why a loop cannot end: no memory, no begin, another kind, or ended already. */
PERF_COLD_FN_ perf_status perf_gpu_over_(const perf_gpu_loop *was, int arms)
{
    perf_gpu_loop_ *s = was->state;

    if (!s && was->variant == PERF_GPU_NO_MEMORY_)
        return PERF_ENOMEM;
    if (!s || s->state->variants != arms || PERF_ACQ_(&s->state->loop.done))
        return PERF_ESTATE;
    if (s->state->phase != PERF_LOOP_DONE_)
        s->r.warnings |= PERF_WARN_STOPPED;
    return PERF_OK;
}

/* The loop's result is known: the device gets back what was taken, the report shows `result`. */
PERF_COLD_FN_ void perf_gpu_settle_(perf_gpu_loop_ *s, const char *text, const void *result)
{
    perf_loop_state_ *h = s->host;

    perf_gpu_release_(s);
    s->state->phase = PERF_LOOP_DONE_;
    memcpy(s->note, text, sizeof s->note);
    perf_loop_done_(s->state, result);
    if (!h || h->status != PERF_OK)             /* perf_bench_fail() */
        return;
    h->result = s->state->result;
    h->loop.note = s->note;
    h->loop.step_ns = s->state->loop.step_ns;
    memcpy(h->loop.device, s->state->loop.device, sizeof h->loop.device);
    h->arm = s->state->arm;
    perf_loop_done_(h, &h->result);
}

PERF_COLD_FN_ perf_gpu_result perf_gpu_bench_close_(perf_gpu_loop was)
{
    perf_gpu_loop_ *s = was.state;
    perf_gpu_result r = PERF_ZERO;
    perf_result    *h;          /* what the report and the writers of results know */

    r.status = perf_gpu_over_(&was, 1);
    if (r.status != PERF_OK)
        return r;
    r = perf_gpu_arm_result_(s, 0);
    h = &s->state->result;
    h->time = r.time;
    h->first_ns = r.first_ns;
    h->overhead_ns = r.overhead_ns;
    h->batch = r.batch;
    h->iterations = r.iterations;
    h->opts = s->state->opts;
    h->opts.peak_gb_per_s = r.peak_gbs;
    h->status = r.status;
    if (r.time.count)
        h->status = PERF_OK;
    h->warnings = r.warnings;
    perf_result_rates_(h);
    perf_gpu_count_(s->host ? &s->host->loop : &s->state->loop, &r);
    perf_gpu_settle_(s, r.text, h);
    return r;
}

PERF_COLD_FN_ perf_gpu_ab_result perf_gpu_ab_close_(perf_gpu_loop was)
{
    perf_gpu_loop_    *s = was.state;
    perf_gpu_ab_result r = PERF_ZERO;
    perf_ab_result    *h;

    r.status = r.verdict.status = perf_gpu_over_(&was, 2);
    r.verdict.reason = perf_status_text(r.status);
    if (r.status != PERF_OK)
        return r;
    h = &s->state->ab;
    s->state->timer.overhead_ns[0] = s->r.overhead_ns;
    s->state->ask.accept.tick = s->r.quantum_ns / PERF_CAST_(double, s->state->arm[0].batch);
    *h = perf_ab_found_(s->state, -1);
    r.baseline = perf_gpu_arm_result_(s, 0);
    r.candidate = perf_gpu_arm_result_(s, 1);
    r.verdict = h->verdict;
    r.seconds = h->seconds;
    r.opts.device = s->r.opts;
    r.opts.accept = h->opts.accept;
    r.opts.min_pairs = h->opts.min_pairs;
    r.opts.max_pairs = h->opts.max_pairs;
    r.opts.seed = h->opts.seed;
    r.status = h->status;
    r.warnings = r.baseline.warnings | r.candidate.warnings | r.verdict.warnings;
    h->baseline = r.baseline.time;
    h->candidate = r.candidate.time;
    h->warnings = r.warnings;
    r.forced = h->forced;
    perf_gpu_settle_(s, s->state->forced ? r.candidate.text : r.baseline.text, h);
    return r;
}

/* ---- the loops: switched off, the body runs once, unmeasured ---- */

/* state NULL: there is no memory for one. */
PERF_FN perf_gpu_loop perf_gpu_loop_new_(struct perf_gpu_loop_ *state)
{
    perf_gpu_loop l = {PERF_DISABLE, state, PERF_DISABLE - 1};

    if (!state && !PERF_DISABLE)
        l.variant = PERF_GPU_NO_MEMORY_;
    return l;
}

/* What *l was; it is then a loop that has ended. */
PERF_FN perf_gpu_loop perf_gpu_loop_take_(perf_gpu_loop *l)
{
    perf_gpu_loop was = PERF_ZERO;

    if (l) {
        was = *l;
        memset(l, 0, sizeof *l);
        l->variant = -1;
    }
    return was;
}

PERF_FN perf_gpu_bench perf_gpu_bench_begin(const char *name, perf_stream stream,
                                            const perf_gpu_bench_opts *opts)
{
    struct perf_gpu_loop_ *s = PERF_NULL_;

    if (!PERF_DISABLE)
        s = perf_gpu_bench_open_(name, PERF_GPU_STREAM_(stream), opts);
    return perf_gpu_loop_new_(s);
}

PERF_FN int perf_gpu_bench_next(perf_gpu_bench *b)
{
    return PERF_LIKELY_(--b->left >= 0) || (!PERF_DISABLE && perf_gpu_turn_(b));
}

PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *b)
{
    perf_gpu_result r = PERF_ZERO;

    r.status = PERF_EDISABLED;
    if (!PERF_DISABLE)
        r = perf_gpu_bench_close_(perf_gpu_loop_take_(b));
    return r;
}

PERF_FN perf_gpu_ab perf_gpu_ab_begin(const char *name, perf_stream stream,
                                      const perf_gpu_ab_opts *opts)
{
    struct perf_gpu_loop_ *s = PERF_NULL_;

    if (!PERF_DISABLE)
        s = perf_gpu_ab_open_(name, PERF_GPU_STREAM_(stream), opts);
    return perf_gpu_loop_new_(s);
}

PERF_FN int perf_gpu_ab_next(perf_gpu_ab *ab)
{
    if (!PERF_LIKELY_(--ab->left >= 0) && (PERF_DISABLE || !perf_gpu_turn_(ab)))
        return -1;
    return ab->variant;
}

PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab)
{
    perf_gpu_ab_result r = PERF_ZERO;

    r.status = r.verdict.status = PERF_EDISABLED;
    r.verdict.reason = perf_status_text(PERF_EDISABLED);
    if (!PERF_DISABLE)
        r = perf_gpu_ab_close_(perf_gpu_loop_take_(ab));
    return r;
}

PERF_END_DECLS
#endif /* PERF_GPU_BENCH_H */
