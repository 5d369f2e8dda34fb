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
    uint64_t gate_timeouts;     /* of the gate, which then opened by itself; warm-up included */
    uint64_t throttle;          /* reasons of all samples, or-ed */
    uint32_t sm_mhz_low, sm_mhz_high;   /* 0: unknown */
    double   flush_bytes;       /* read (HIP: written) before each sample; 0: none */
    double   gb_per_s;          /* opts.bytes / time.p50; 0 without bytes */
    double   peak_gb_per_s;     /* read bandwidth measured here, just before; 0: not measured */
    double   datasheet_gb_per_s;        /* memory clock x 2 x bus; 0: unknown */
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
    struct perf_gpu_loop_state_ *state;
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
PERF_FN int             perf_gpu_bench_next(perf_gpu_bench *bench);

/* The result, also kept for perf_report.  Waits for the stream, frees all that begin took from the
 * device.  A second call, or one without begin: PERF_ESTATE. */
PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *bench);

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

/* >>private: bodies: first helpers, callees above their callers; last the way of a slice ------- */

#define PERF_GPU_MOST_SAMPLES_   1000   /* of a bench that looks for a narrow interval */
#define PERF_GPU_ASKED_MOST_     1000000        /* samples that anybody may ask for */
#define PERF_GPU_USUAL_PAIRS_    30
#define PERF_GPU_MOST_BATCH_     512    /* the driver takes about 1,000 launches, then it waits */
#define PERF_GPU_PROBES_         64     /* launches that show whether anything runs on the stream */
#define PERF_GPU_MOST_THROTTLED_ 20     /* samples in a row: to wait longer would not help */
#define PERF_GPU_NO_MEMORY_      (-2)   /* the variant of a loop that got no memory */
#define PERF_GPU_LEAST_SAMPLES_  3      /* however slow the bodies are */
#define PERF_GPU_LEAST_PAIRS_    7      /* likewise, of an A/B */
#define PERF_GPU_LEAST_WARM_     3      /* launches of the warm-up */
#define PERF_GPU_DISCARDED_      2      /* rounds thrown away before the samples */
#define PERF_GPU_MOST_LOOKS_     8      /* for work on other streams */
#define PERF_GPU_EMPTY_          15     /* slices with nothing in them */
#define PERF_GPU_LENGTHS_        120    /* slices of many lengths: shows the event clock's step */
#define PERF_GPU_GRAIN_NS_       0.4    /* shorter differences are errors of a float of ms */
#define PERF_GPU_SHORT_GATE_     2000000        /* ns */
#define PERF_GPU_THREADS_        256u   /* of a block of the sweep */
#define PERF_GPU_SLOWED_ UINT64_C(0xec) /* NVML's reasons: power cap, heat, brake; not idleness */
#define PERF_GPU_SPARE_          4      /* samples of rounds that began anew as graphs */
#define PERF_GPU_EVENT_SHARE_    0.005  /* that step and cost of the events may have in a sample */

/* What the loop will use: each 0 replaced by its default. */
PERF_COLD_FN_ perf_gpu_bench_opts perf_gpu_bench_resolve_(const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts options = *opts;

    if (options.cache != PERF_GPU_HOT)
        options.cache = PERF_GPU_COLD;
    options.graph = options.graph > 0;
    options.batch = perf_clamp_(options.batch, 0, PERF_GPU_MOST_BATCH_);
    if (options.cache == PERF_GPU_COLD)
        options.batch = 1;
    if (options.warmup < 0)
        options.warmup = 0;
    if (options.warmup > 0 && options.warmup < PERF_GPU_LEAST_WARM_)
        options.warmup = PERF_GPU_LEAST_WARM_;
    options.samples = perf_clamp_(options.samples, 0, PERF_GPU_ASKED_MOST_);
    options.rel_ci = perf_or_default_(options.rel_ci, 1e-6, 1.0, 0.005);
    options.max_seconds = perf_or_default_(options.max_seconds, 1e-6, 1e6, 2.0);
    if (options.gate_ms < 0.0)
        options.gate_ms = -1.0;
    else
        options.gate_ms = perf_or_default_(options.gate_ms, 0.01, 10e3, 100.0);
    options.bytes = perf_or_default_(options.bytes, 1e-30, 1e30, 0.0);
    options.items = perf_or_default_(options.items, 1e-30, 1e30, 0.0);
    options.energy = perf_or_default_(options.energy, 0.01, 1e3, 0.0);
    options.profile = options.profile > 0;
    return options;
}

/* What the host's A/B loop is asked for: the device's defaults, and an answer of few pairs, for the
 * gate keeps out what the host's loop controls.                                                  */
PERF_COLD_FN_ perf_ab_opts perf_gpu_ab_ask_(const perf_gpu_ab_opts *opts)
{
    perf_ab_opts ask = PERF_ZERO;

    ask.accept = opts->accept;
    ask.min_pairs = PERF_GPU_USUAL_PAIRS_;
    if (opts->min_pairs > 0)
        ask.min_pairs = opts->min_pairs;
    ask.max_pairs = PERF_GPU_MOST_SAMPLES_;
    if (opts->max_pairs > 0)
        ask.max_pairs = opts->max_pairs;
    ask.max_seconds = opts->device.max_seconds;
    ask.seed = opts->seed;
    ask.control = -1;
    ask.min_seconds = -1.0;
    return ask;
}

/* ---- what a loop keeps ---- */

/* The gate: host memory that the device can see. */
typedef struct perf_gpu_word_ {
    uint32_t flag;                      /* 1: open */
    uint32_t out;                       /* what has opened it, PERF_GPU_BY_; 0: it is shut */
    uint64_t limit_ns;                  /* then it opens by itself */
} perf_gpu_word_;
enum { PERF_GPU_BY_FLAG_ = 1, PERF_GPU_BY_CLOCK_ = 2 };
enum { PERF_GPU_GATE_KERNEL_ = 1, PERF_GPU_GATE_HOST_ = 2 };    /* perf_gpu_result.gate */

typedef struct perf_gpu_energy_ {       /* times in ns, by the host's clock */
    uint64_t began, ended;              /* when the first round was done, and the last one */
    uint64_t rounds;                    /* enqueued so far */
    uint64_t iterations;                /* of a round */
    uint64_t asked;                     /* when the counter of joules was read last */
    uint64_t back;                      /* 1: the clock went back */
    int      done;                      /* 1: there were enough rounds */
    uint64_t at[2];                     /* when the counter's first step, its last were seen */
    double   unsure[2];                 /* it may have come so many ns earlier */
    double   joules[2];                 /* what the counter then said */
    double   reading;                   /* the counter's last one */
    double   celsius;                   /* highest */
    double   busy, busy_readings;       /* percent at work: mean of so many readings */
} perf_gpu_energy_;

typedef struct perf_gpu_arm_ {
    perf_loop_arm_  *loop_arm;          /* in the loop's state: batch, runs, the times that count */
    perf_gpu_sample *sample;            /* all, in order */
    size_t           count;
    uint64_t         queue;             /* iterations that the driver takes before it waits */
    uint64_t         plain;             /* batch without a graph */
    uint64_t         doubted;           /* the batch to come, once PERF_GPU_PROBES_ launches have */
                                        /* shown that something runs on the stream; 0: no doubt */
    int              sure;              /* 1: they have shown it */
    int              launches;
    uint64_t         gate_timeouts;     /* since the set-up */
    int              timeouts_in_a_row; /* of the gate */
    int              ahead; /* warm-up bodies that came back before the device was done */
    void            *exec;              /* the graph */
    perf_gpu_energy_ energy;
} perf_gpu_arm_;

enum { PERF_GPU_TIMED_ = 1, PERF_GPU_RECORDED_ = 2 };   /* a slice; recorded: into a graph */

typedef struct perf_gpu_loop_state_ {
    perf_loop_state_ *state;            /* what perf_report and writers of results see */
    perf_loop_state_ *host;             /* in a harness: the loop that it is in place of */
    const perf_gpu_backend *backend;
    perf_gpu_arm_    arm[2];
    perf_gpu_result  result;            /* of both arms: what holds for the whole loop */
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
    int              scratch_on_stream; /* 1: it was allocated in the stream's order */

    /* The slice under way, or the last. */
    int              under_way;         /* PERF_GPU_TIMED_ or _RECORDED_; 0: no slice is */
    int              replayed;          /* 1: as a graph, without the body */
    int              variant;           /* the arm whose turn it is */
    uint64_t         host0;             /* when the host began to enqueue it */
    perf_gpu_sample  slice;             /* times are of all its iterations together */
    double           empty_ns;          /* the most that a slice shows with nothing in it */

    /* What comes next. */
    int              profiled;          /* bodies that ran for a profiler */
    uint32_t         useless;           /* why this round is */
    int              throttled;         /* rounds in a row that were */
    size_t           repeated;          /* rounds */
    int              own_graph;         /* 1: nobody asked for a graph, but it takes one */
    int              no_graph;          /* 1: there cannot be one */
    int              inside;            /* 1: the events are in the graph */
    int              spoilt;            /* 1: the graph under way lacks its first event */

    /* The warm-up: blocks of 5 ms that have to agree. */
    uint64_t         warm_began, block_began;
    double           warm_ns;           /* of the round under way */
    double           block_ns;          /* of the quickest round of this block */
    double           block_before_ns;   /* of the block before */
    uint32_t         mhz_before;        /* at the end of the block before */
    int              calm;              /* blocks in a row that agreed */

    /* Other streams of the context, see perf_gpu_look_after_. */
    int              looks, busy;       /* how often we have looked, and others were busy */
    int              busy_before;       /* how often they were busy before the body */
    double           quiet_ns;          /* what the question takes while nothing runs */
    int              elsewhere;         /* 1: work was seen on other streams */
} perf_gpu_loop_state_;

/* Keeps the first error of the loop.  What it left in the driver is cleared: no launch check of the
 * program finds it. */
PERF_COLD_FN_ void perf_gpu_keep_error_(perf_gpu_loop_state_ *loop, int code)
{
    if (code != PERF_GPU_SHUT_DOWN && !loop->waited && loop->backend->error_clear)
        (void)loop->backend->error_clear();
    if (!loop->result.code)
        loop->result.code = code;
}

/* An error ends the loop, and perf_gpu_error_text() tells it, too.  After a shut-down nothing is
 * called any more. */
PERF_COLD_FN_ void perf_gpu_end_by_error_(perf_gpu_loop_state_ *loop, int code)
{
    if (loop->down)
        return;
    loop->down = code == PERF_GPU_SHUT_DOWN;
    if (loop->down || loop->state->status == PERF_OK)
        perf_gpu_error_(perf_gpu_driver_get_(), "perf_gpu_bench", code);
    if (loop->state->status == PERF_OK)
        loop->state->status = PERF_EGPU;
    loop->state->phase = PERF_LOOP_DONE_;
}

/* `code` is of a call that the loop needs: any error ends it.  1: there was none. */
PERF_COLD_FN_ int perf_gpu_required_(perf_gpu_loop_state_ *loop, int code)
{
    if (!code)
        return 1;
    perf_gpu_keep_error_(loop, code);
    perf_gpu_end_by_error_(loop, code);
    return 0;
}

/* `code` is of a call that the loop can do without: a shut-down alone ends it.  1: no error. */
PERF_COLD_FN_ int perf_gpu_optional_(perf_gpu_loop_state_ *loop, int code)
{
    if (!code)
        return 1;
    perf_gpu_keep_error_(loop, code);
    if (code == PERF_GPU_SHUT_DOWN)
        perf_gpu_end_by_error_(loop, code);
    return 0;
}

/* Gives back what the loop has, unless the driver has shut down. */
#define PERF_GPU_GIVE_(loop, have, call)                                                          \
    ((void)((have) && !(loop)->down && perf_gpu_optional_(loop, call)))

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
    perf_gpu_word_ *word = PERF_CAST_(perf_gpu_word_ *, user);
    uint64_t        began = perf_now(), turns = 0;
    uint32_t        open = PERF_ACQ_(&word->flag);

    while (!open && turns++ <= word->limit_ns && perf_now() - began <= word->limit_ns)
        open = PERF_ACQ_(&word->flag);
    if (open)
        PERF_REL_(&word->out, PERF_CAST_(uint32_t, PERF_GPU_BY_FLAG_));
    else
        PERF_REL_(&word->out, PERF_CAST_(uint32_t, PERF_GPU_BY_CLOCK_));
}

/* Reads so many bytes, or writes zeros where our kernels cannot be loaded.  The driver's code. */
PERF_COLD_FN_ int perf_gpu_sweep_(const perf_gpu_loop_state_ *loop, uint64_t address, double bytes)
{
    uint64_t vectors = PERF_CAST_(uint64_t, bytes / 16.0);
    unsigned blocks = 8 * 128;                  /* 8 for each multiprocessor */
    void    *parameter[] = {&address, &vectors};

    if (loop->multiprocessors)
        blocks = PERF_CAST_(unsigned, 8 * loop->multiprocessors);
    if (!loop->sweep_kernel)
        return loop->backend->fill(address, 0, PERF_CAST_(size_t, bytes), loop->stream);
    if (vectors / PERF_GPU_THREADS_ + 1 < blocks)
        blocks = PERF_CAST_(unsigned, vectors / PERF_GPU_THREADS_ + 1);
    return loop->backend->launch(loop->sweep_kernel, blocks, 1, 1, PERF_GPU_THREADS_, 1, 1, 0,
                                 loop->stream, parameter, PERF_NULL_);
}

/* Closes the gate behind what the stream holds. */
PERF_COLD_FN_ int perf_gpu_shut_(perf_gpu_loop_state_ *loop)
{
    uint64_t flag = loop->word_address, out = flag + 4, limit = loop->own_word.limit_ns;
    void    *parameter[] = {&flag, &out, &limit};

    PERF_REL_(&loop->word->flag, 0u);
    loop->word->limit_ns = limit;
    if (loop->result.gate == PERF_GPU_GATE_HOST_)
        return loop->backend->host_func(loop->stream, perf_gpu_host_gate_, loop->word);
    return loop->backend->launch(loop->gate_kernel, 1, 1, 1, 1, 1, 1, 0, loop->stream, parameter,
                                 PERF_NULL_);
}

/* ---- one slice: gate, event, body, event ---- */

/* After an error in a slice: opens the gate, so that nothing stays held back. */
PERF_COLD_FN_ int perf_gpu_let_go_(perf_gpu_loop_state_ *loop)
{
    PERF_REL_(&loop->word->flag, 1u);
    loop->under_way = 0;
    return 0;
}

/* flush: the cache first.  Then the gate and the first event.  0: an error, nothing is held
 * back. */
PERF_COLD_FN_ int perf_gpu_slice_begin_(perf_gpu_loop_state_ *loop, int gated, int flush)
{
    int code = 0;

    loop->slice.flags = 0;
    PERF_REL_(&loop->word->out, 0u);            /* of the slice before: forgotten */
    if (flush && loop->persisting)
        (void)perf_gpu_optional_(loop, loop->backend->l2_release());
    if (flush)
        code = perf_gpu_sweep_(loop, loop->scratch, loop->result.flush_bytes);
    if (!perf_gpu_required_(loop, code))
        return 0;
    gated = gated && loop->result.gate && !loop->gate_off;
    if (gated && !perf_gpu_required_(loop, perf_gpu_shut_(loop)))
        return 0;
    loop->under_way = PERF_GPU_TIMED_;
    loop->host0 = perf_now();
    if (loop->inside && loop->arm[loop->variant].exec) /* its events are in it */
        return 1;
    if (!perf_gpu_required_(loop, loop->backend->event_record(loop->event[0], loop->stream)))
        return perf_gpu_let_go_(loop);
    loop->host0 = perf_now();
    return 1;
}

/* Waits for the slice and reads its time; 0: an error. */
PERF_COLD_FN_ int perf_gpu_slice_read_(perf_gpu_loop_state_ *loop, int inside)
{
    float ms = 0.0f;
    int   code;

    if (inside)
        code = loop->backend->stream_sync(loop->stream);
    else
        code = loop->backend->event_sync(loop->event[1]);
    if (!perf_gpu_required_(loop, code))
        return 0;
    code = loop->backend->event_elapsed(&ms, loop->event[0], loop->event[1]);
    if (!perf_gpu_required_(loop, code))
        return 0;
    if (!(ms > -1e11f && ms < 1e11f))           /* the driver's mistake */
        return perf_gpu_required_(loop, PERF_GPU_IMPOSSIBLE_);
    if (PERF_ACQ_(&loop->word->out) == PERF_GPU_BY_CLOCK_) {
        loop->slice.flags |= PERF_GPU_SAMPLE_TIMEOUT;
        loop->arm[loop->variant].gate_timeouts++;
    }
    loop->slice.ns = 0.0;
    if (ms > 0.0f)
        loop->slice.ns = PERF_CAST_(double, ms) * 1e6;
    return 1;
}

/* Fills loop->slice.  with_clock: also with the device's clock while it works on the slice, and
 * what slows it down.  The gate is open afterwards, whatever happened.  0: an error. */
PERF_COLD_FN_ int perf_gpu_slice_end_(perf_gpu_loop_state_ *loop, int with_clock)
{
    perf_gpu_sample *sample = &loop->slice;
    unsigned         mhz = 0;
    const int        inside = loop->inside && loop->arm[loop->variant].exec;
    int              pending = PERF_GPU_NOT_READY;      /* inside: no host between the nodes */

    sample->host_ns = perf_most_(perf_since_(loop->host0, perf_now()), 0.0); /* or it went back */
    loop->under_way = 0;
    if (!inside) {
        if (loop->state->phase == PERF_LOOP_HEAT_)
            loop->arm[loop->variant].ahead +=
                loop->backend->stream_query(loop->stream) == PERF_GPU_NOT_READY;
        if (!perf_gpu_required_(loop, loop->backend->event_record(loop->event[1], loop->stream)))
            return perf_gpu_let_go_(loop);
        /* the proof: it could not have begun yet */
        pending = loop->backend->event_query(loop->event[0]);
    }
    PERF_REL_(&loop->word->flag, 1u);
    if (pending != PERF_GPU_NOT_READY && !perf_gpu_required_(loop, pending))
        return 0;
    sample->flags = 0;
    if (pending != PERF_GPU_NOT_READY)
        sample->flags = PERF_GPU_SAMPLE_EXPOSED;
    sample->throttle = 0;
    sample->sm_mhz = 0;
    if (with_clock && !perf_gpu_clock_(loop->backend, loop->device, &mhz, &sample->throttle))
        sample->sm_mhz = mhz;
    return perf_gpu_slice_read_(loop, inside);
}

/* A slice with nothing but a sweep in it, or nothing at all: `bytes` 0. */
PERF_COLD_FN_ int perf_gpu_slice_swept_(perf_gpu_loop_state_ *loop, int gated, double bytes)
{
    if (!perf_gpu_slice_begin_(loop, gated, 0))
        return 0;
    if (bytes > 0.0 && !perf_gpu_required_(loop, perf_gpu_sweep_(loop, loop->scratch, bytes)))
        return perf_gpu_let_go_(loop);
    return perf_gpu_slice_end_(loop, 0);
}

/* ---- setting up ---- */

/* The greatest common divisor of two lengths in ns that are no whole numbers. */
PERF_FN double perf_gpu_gcd_(double a, double b)
{
    double rest;
    int    i;

    for (i = 0; i < 64 && b > PERF_GPU_GRAIN_NS_; i++) {
        rest = a - b * PERF_CAST_(double, PERF_CAST_(int64_t, a / b + 0.5));
        a = b;
        b = perf_fabs_(rest);
    }
    return a;
}

/* The step of a clock that told these n times, ascending: all differences are multiples of it. */
PERF_COLD_FN_ double perf_gpu_step_of_(const double *time, size_t n)
{
    double apart, whole, step = 0.0;
    size_t i;

    for (i = 1; i < n; i++) {
        apart = time[i] - time[i - 1];
        if (apart <= PERF_GPU_GRAIN_NS_)
            continue;
        if (!(step > 0.0))
            step = apart;
        else
            step = perf_gpu_gcd_(perf_most_(step, apart), perf_least_(step, apart));
    }
    whole = PERF_CAST_(double, PERF_CAST_(int64_t, step + 0.5));
    if (perf_fabs_(step - whole) < 0.1)         /* a float of ms is good for that much */
        return whole;
    return step;
}

/* The step of the event clock, from elapsed times of many lengths; and what two events with nothing
 * between them give.  0: an error. */
PERF_COLD_FN_ int perf_gpu_quantum_(perf_gpu_loop_state_ *loop)
{
    const uint64_t piece = loop->scratch_bytes / 240 / 16 * 16; /* the sweep reads 16 at once */
    double         time[PERF_GPU_LENGTHS_], bytes, empty[PERF_GPU_EMPTY_];
    size_t         i, n = 0;

    for (i = 0; i < PERF_GPU_EMPTY_; i++) {
        if (!perf_gpu_slice_swept_(loop, 1, 0.0))
            return 0;
        empty[i] = loop->slice.ns;
    }
    for (i = 0; i < PERF_GPU_LENGTHS_; i++) {
        bytes = PERF_CAST_(double, piece * (1 + 7 * i % 60));   /* 1 to 60 pieces, mixed up */
        if (!perf_gpu_slice_swept_(loop, PERF_CAST_(int, i & 1), bytes))
            return 0;                           /* without a gate: the host's jitter is welcome */
        if (loop->slice.ns > PERF_GPU_GRAIN_NS_ && loop->slice.ns < 60e3)
            time[n++] = loop->slice.ns;
    }
    perf_sort_values_(empty, PERF_GPU_EMPTY_);
    loop->result.overhead_ns = empty[PERF_GPU_EMPTY_ / 2];      /* the median */
    /* the last but one, and once more what lies between the first and that one */
    loop->empty_ns = 2.0 * empty[PERF_GPU_EMPTY_ - 2] - empty[0];
    perf_sort_values_(time, n);
    loop->result.quantum_ns = perf_gpu_step_of_(time, n);
    if (!(loop->result.quantum_ns > 0.0)) {     /* all alike: no finer than that */
        loop->result.quantum_ns = 1000.0;
        if (n)
            loop->result.quantum_ns = time[0];
    }
    loop->state->timer.tick_ns = loop->state->loop.step_ns = loop->result.quantum_ns;
    return 1;
}

PERF_FN int perf_gpu_can_graph_(const perf_gpu_loop_state_ *loop)
{
    return loop->backend->capture_begin && loop->backend->capture_end &&
           loop->backend->graph_instantiate && loop->backend->graph_launch &&
           loop->backend->graph_exec_destroy && loop->backend->graph_destroy;
}

/* Does a launch come back only when it is done?  Then the gate's launch, or the one behind it,
 * lasts as long as a short gate holds.  Only three in a row show it: the host may lose its
 * processor once.  Such a loop has no gate, and a graph with the events inside leaves the host
 * out.  0: an error. */
PERF_COLD_FN_ int perf_gpu_serialised_(perf_gpu_loop_state_ *loop)
{
    const uint64_t limit = loop->own_word.limit_ns;
    uint64_t       began;
    int            i, late = 1;

    if (!loop->result.gate)
        return 1;
    loop->own_word.limit_ns = PERF_GPU_SHORT_GATE_;     /* of any loop: a launch may be slow */
    for (i = 0; i < 3 && late; i++) {
        began = perf_now();
        if (!perf_gpu_slice_begin_(loop, 1, 0))
            return 0;
        if (loop->scratch_bytes)
            (void)perf_gpu_optional_(loop, perf_gpu_sweep_(loop, loop->scratch, 4096.0));
        late = 2 * (perf_now() - began) > loop->own_word.limit_ns &&
               PERF_ACQ_(&loop->word->out) == PERF_GPU_BY_CLOCK_;
        if (!perf_gpu_slice_end_(loop, 0))
            return 0;
    }
    loop->own_word.limit_ns = limit;
    if (!late)
        return 1;
    loop->result.serialised = loop->gate_off = 1;
    loop->own_graph = loop->inside = perf_gpu_can_graph_(loop) && loop->backend->event_record_flags;
    return 1;
}

/* An attribute of the device; 0: not known. */
PERF_COLD_FN_ int perf_gpu_attribute_(perf_gpu_loop_state_ *loop, int which)
{
    int value = 0, code;

    if (!loop->backend->device_attribute || loop->down)
        return 0;
    code = loop->backend->device_attribute(&value, which, loop->device);
    if (code == PERF_GPU_SHUT_DOWN)
        (void)perf_gpu_required_(loop, code);
    if (code || value < 0)
        return 0;
    return value;
}

/* Frees it in the stream's order if it came so: a plain free waits for the whole device. */
PERF_FN int perf_gpu_scratch_free_(const perf_gpu_loop_state_ *loop)
{
    if (loop->scratch_on_stream)
        return loop->backend->mem_free_on(loop->scratch, loop->stream);
    return (loop->backend->mem_free)(loop->scratch);  /* <rpc/rpc.h> has macros of these names */
}

/* Memory for the sweep.  large: several times L2; else, or if that cannot be had, 64 MB or 1 MB,
 * which is enough for the step of the event clock.  scratch_bytes stays 0 where there is none. */
PERF_COLD_FN_ void perf_gpu_setup_memory_(perf_gpu_loop_state_ *loop, int large)
{
    const perf_gpu_backend *backend = loop->backend;
    const double            l2 = loop->l2_bytes;
    const double            size[] = {4 * l2, 2 * l2, 1.25 * l2, 64 << 20, 1 << 20};
    int                     i = 0, code = 0;
    size_t                  bytes = 0;

    if (!backend->mem_alloc || !backend->mem_free || !backend->fill)
        return;
    if (!large)
        i = 3;                                  /* the first of those that L2 has no say in */
    for (; i < 5 && !loop->scratch && code != PERF_GPU_SHUT_DOWN; i++) {
        bytes = PERF_CAST_(size_t, size[i]) / 16 * 16;
        loop->scratch_on_stream = backend->mem_alloc_on && backend->mem_free_on &&
                                  !backend->mem_alloc_on(&loop->scratch, bytes, loop->stream);
        code = 0;
        if (!loop->scratch_on_stream)
            code = (backend->mem_alloc)(&loop->scratch, bytes);
        if (code)
            loop->scratch = 0;
    }
    if (perf_gpu_optional_(loop, code) && loop->scratch &&
        perf_gpu_optional_(loop, backend->fill(loop->scratch, 0, bytes, loop->stream)))
        loop->scratch_bytes = bytes;
}

/* A kernel of our module; NULL: it cannot be had. */
PERF_COLD_FN_ void *perf_gpu_kernel_of_(perf_gpu_loop_state_ *loop, const char *name)
{
    void *kernel = PERF_NULL_;
    int   code;

    if (loop->down)
        return PERF_NULL_;
    code = loop->backend->module_function(&kernel, loop->module, name);
    if (!perf_gpu_optional_(loop, code))
        return PERF_NULL_;
    return kernel;
}

/* Loads our kernels; those that cannot be had stay NULL. */
PERF_COLD_FN_ void perf_gpu_setup_kernels_(perf_gpu_loop_state_ *loop)
{
    const perf_gpu_backend *backend = loop->backend;

    if (!backend->module_load || !backend->module_unload || !backend->module_function ||
        !backend->launch)
        return;
    if (!perf_gpu_optional_(loop, backend->module_load(&loop->module, perf_gpu_ptx_()))) {
        loop->module = PERF_NULL_;
        return;
    }
    loop->gate_kernel = perf_gpu_kernel_of_(loop, "perf_gate");
    loop->sweep_kernel = perf_gpu_kernel_of_(loop, "perf_sweep");
}

/* Sets up the gate: by a kernel, else by a function on the host, else none. */
PERF_COLD_FN_ void perf_gpu_setup_gate_(perf_gpu_loop_state_ *loop)
{
    const perf_gpu_backend *backend = loop->backend;
    void                   *memory = PERF_NULL_;

    if (loop->result.opts.gate_ms < 0.0 || loop->down)
        return;
    loop->own_word.limit_ns = PERF_CAST_(uint64_t, loop->result.opts.gate_ms * 1e6);
    if (loop->gate_kernel && backend->host_alloc && backend->host_free && backend->host_address &&
        perf_gpu_optional_(loop, backend->host_alloc(&memory, sizeof *loop->word,
                                                     PERF_GPU_MAPPED_))) {
        if (perf_gpu_optional_(loop, backend->host_address(&loop->word_address, memory, 0))) {
            loop->word = PERF_CAST_(perf_gpu_word_ *, memory);
            loop->result.gate = PERF_GPU_GATE_KERNEL_;
            return;
        }
        if (!loop->down)
            (void)backend->host_free(memory);
    }
    if (backend->host_func)
        loop->result.gate = PERF_GPU_GATE_HOST_;
}

/* Ends the loop; why: more than the status says, or NULL.  Returns 0. */
PERF_FN int perf_gpu_fail_(perf_gpu_loop_state_ *loop, perf_status status, const char *why)
{
    loop->state->status = status;
    loop->state->phase = PERF_LOOP_DONE_;
    loop->why = why;
    return 0;
}

/* Takes from the device what the loop needs, and measures the event clock; 0: the loop has
 * ended. */
PERF_COLD_FN_ int perf_gpu_setup_(perf_gpu_loop_state_ *loop)
{
    const perf_gpu_backend *backend = loop->backend;
    size_t                  kept = 0;
    double                  bytes;
    int                     i, large, capturing = 0;
    const int               wants_large =
        loop->result.opts.cache != PERF_GPU_HOT || loop->result.opts.bytes > 0.0;

    if (backend->stream_capturing &&
        !perf_gpu_required_(loop, backend->stream_capturing(loop->stream, &capturing)))
        return 0;
    if (capturing)
        return perf_gpu_fail_(loop, PERF_ESTATE, "the stream is being captured");
    if (backend->ctx_device && perf_gpu_optional_(loop, backend->ctx_device(&loop->device)) &&
        backend->device_name)
        (void)perf_gpu_optional_(loop, backend->device_name(loop->state->loop.device,
                                                            sizeof loop->state->loop.device,
                                                            loop->device));
    loop->l2_bytes = perf_gpu_attribute_(loop, PERF_GPU_L2_BYTES_);
    if (!(loop->l2_bytes > 0.0))
        loop->l2_bytes = 64 << 20;
    loop->multiprocessors =
        PERF_CAST_(uint64_t, perf_gpu_attribute_(loop, PERF_GPU_MULTIPROCESSORS_));
    loop->persisting = backend->l2_release && backend->ctx_limit &&
                       !backend->ctx_limit(&kept, PERF_GPU_LIMIT_L2_) && kept;
    loop->result.datasheet_gb_per_s = 2.0 * perf_gpu_attribute_(loop, PERF_GPU_MEMORY_KHZ_) *
                                 (perf_gpu_attribute_(loop, PERF_GPU_MEMORY_BITS_) / 8) * 1e-6;
    if (loop->down || !perf_gpu_required_(loop, backend->event_create(&loop->event[0], 0)) ||
        !perf_gpu_required_(loop, backend->event_create(&loop->event[1], 0)))
        return 0;
    perf_gpu_setup_kernels_(loop);
    perf_gpu_setup_gate_(loop);
    if (!loop->down)
        perf_gpu_setup_memory_(loop, wants_large);
    if (loop->down || !perf_gpu_required_(loop, backend->stream_sync(loop->stream)) ||
        !perf_gpu_serialised_(loop) || !perf_gpu_quantum_(loop))
        return 0;
    bytes = PERF_CAST_(double, loop->scratch_bytes);
    large = bytes >= 1.2 * loop->l2_bytes;
    if (large && loop->result.opts.cache != PERF_GPU_HOT)
        loop->result.flush_bytes = bytes;
    for (i = 0; i < 5 && large && loop->sweep_kernel && loop->result.opts.bytes > 0.0; i++) {
        if (!perf_gpu_slice_swept_(loop, 1, bytes))
            return 0;
        if (loop->slice.ns > 0.0 && bytes / loop->slice.ns > loop->result.peak_gb_per_s)
            loop->result.peak_gb_per_s = bytes / loop->slice.ns;
    }
    if (loop->result.opts.cache == PERF_GPU_COLD && !(loop->result.flush_bytes > 0.0))
        loop->result.warnings |= PERF_WARN_NOT_COLD;
    loop->arm[0].gate_timeouts = 0;             /* those of the set-up are not its own */
    if (backend->ctx_record && !perf_gpu_optional_(loop, backend->event_create(&loop->event[2], 0)))
        loop->event[2] = PERF_NULL_;
    return !loop->down;
}

/* ---- energy ---- */

/* Reads the counter of joules.  It moves 10 to 50 times a second, so its first and its last step
 * are kept: the rate between them counts. */
PERF_COLD_FN_ void perf_gpu_energy_ask_(perf_gpu_loop_state_ *loop, perf_gpu_energy_ *energy,
                                        uint64_t now)
{
    const int    last = energy->at[0] > 0;
    const double joules = perf_gpu_meter_(loop->backend, loop->device, PERF_GPU_JOULES_);
    double       heat, busy;

    if (energy->reading > 0.0 && joules > energy->reading) {
        energy->at[last] = now;
        energy->unsure[last] = PERF_CAST_(double, now - energy->asked);
        energy->joules[last] = joules;
        heat = perf_gpu_meter_(loop->backend, loop->device, PERF_GPU_CELSIUS_);
        busy = perf_gpu_meter_(loop->backend, loop->device, PERF_GPU_BUSY_);
        if (heat < 1e3)
            energy->celsius = perf_most_(heat, energy->celsius);
        if (busy >= 0.0 && busy <= 100.0) {
            energy->busy_readings += 1.0;
            energy->busy += (busy - energy->busy) / energy->busy_readings;
        }
    }
    energy->reading = joules;
    energy->asked = now;
}

/* A round is enqueued: waits for the one before it, so that the device never runs dry.  The two
 * have an event each, in turns.  1: there were enough rounds, or an error. */
PERF_COLD_FN_ int perf_gpu_energy_round_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    perf_gpu_energy_ *energy = &arm->energy;
    uint64_t          now;
    int               code;

    if (!arm->exec)
        arm->loop_arm->runs += energy->iterations;
    code = loop->backend->event_record(loop->event[energy->rounds & 1], loop->stream);
    if (!perf_gpu_required_(loop, code))
        return 1;
    energy->rounds++;
    code = 0;
    if (energy->rounds > 1)                     /* the other event */
        code = loop->backend->event_sync(loop->event[energy->rounds & 1]);
    if (!perf_gpu_required_(loop, code))
        return 1;
    now = perf_now();
    energy->back |= now < energy->ended;        /* the host's clock: then nothing can be told */
    energy->ended = now;
    if (energy->rounds <= 2)
        energy->began = now;
    if (now - energy->asked > 2000000)          /* to ask takes the host up to 1 ms */
        perf_gpu_energy_ask_(loop, energy, now);
    return PERF_CAST_(double, now - energy->began) >= loop->result.opts.energy * 1e9 ||
           (now == energy->began && energy->rounds > 1000);             /* a clock that stands */
}

/* Iterations in a round of some 10 ms. */
PERF_COLD_FN_ uint64_t perf_gpu_energy_size_(const perf_gpu_arm_ *arm)
{
    const uint64_t slices = 1 + PERF_CAST_(uint64_t, 10e6 / (arm->loop_arm->fastest + 10e3));

    if (!arm->exec && slices * arm->loop_arm->batch > arm->queue)
        return arm->queue;
    return slices * arm->loop_arm->batch;
}

/* A round as graphs; 0: an error. */
PERF_COLD_FN_ int perf_gpu_energy_replay_(perf_gpu_loop_state_ *loop, const perf_gpu_arm_ *arm)
{
    uint64_t left = arm->energy.iterations;

    for (; left; left -= arm->loop_arm->batch)
        if (!perf_gpu_required_(loop, loop->backend->graph_launch(arm->exec, loop->stream)))
            return 0;
    return 1;
}

/* Another round of this arm, unless there were enough.  0: there were. */
PERF_COLD_FN_ int perf_gpu_energy_more_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    if (!arm->energy.iterations)
        arm->energy.iterations = perf_gpu_energy_size_(arm);
    else if (!arm->energy.done)
        arm->energy.done = perf_gpu_energy_round_(loop, arm);
    return !arm->energy.done;
}

/* After the samples, arm by arm: 64 * iterations of the next round + the arm; 0: no more. */
PERF_COLD_FN_ uint64_t perf_gpu_energy_next_(perf_loop_state_ *state)
{
    perf_gpu_loop_state_ *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    perf_gpu_arm_  *arm;
    int             i;

    for (i = 0; i < state->variants; i++) {
        arm = &loop->arm[i];
        while (arm->launches && state->status == PERF_OK && perf_gpu_energy_more_(loop, arm)) {
            if (!arm->exec)
                return 64 * arm->energy.iterations + PERF_CAST_(uint64_t, i);
            if (!perf_gpu_energy_replay_(loop, arm))
                return 0;
        }
    }
    return 0;
}

/* The energy of an iteration, with its bounds; nothing where it cannot be told.  Each of the
 * counter's two steps may have come `unsure` ns before it was seen. */
PERF_COLD_FN_ void perf_gpu_joules_(perf_gpu_result *result, const perf_gpu_energy_ *energy)
{
    const double gained = energy->joules[1] - energy->joules[0];
    const double passed_ns = PERF_CAST_(double, energy->at[1] - energy->at[0]);
    double       round_ns, iteration_ns;

    if (energy->back || energy->rounds <= 2 || !(gained > 0.0) || !(passed_ns > energy->unsure[1]))
        return;
    round_ns = PERF_CAST_(double, energy->ended - energy->began) /
               PERF_CAST_(double, energy->rounds - 2);
    iteration_ns = round_ns / PERF_CAST_(double, energy->iterations);
    result->joules_low = gained * iteration_ns / (passed_ns + energy->unsure[0]);
    result->joules = gained * iteration_ns / passed_ns;
    result->joules_high = gained * iteration_ns / (passed_ns - energy->unsure[1]);
    result->watts = gained / passed_ns * 1e9;
    result->celsius = energy->celsius;
    result->busy = energy->busy;
}

/* ---- the loop ---- */

#define PERF_GPU_UNKNOWN_    (-1.0)     /* of perf_gpu_quiet_, in place of ns */
#define PERF_GPU_STILL_BUSY_ (-2.0)

/* Host ns until the context's work is done; PERF_GPU_STILL_BUSY_: not within limit_ns;
 * PERF_GPU_UNKNOWN_: the driver does not say. */
PERF_COLD_FN_ double perf_gpu_quiet_(perf_gpu_loop_state_ *loop, double limit_ns)
{
    uint64_t began = perf_now();
    double   ns = 0.0;
    int      code = PERF_GPU_NOT_READY;

    if (!perf_gpu_optional_(loop, loop->backend->ctx_record(loop->ctx, loop->event[2])))
        return PERF_GPU_UNKNOWN_;
    while (code == PERF_GPU_NOT_READY && ns < limit_ns) {
        code = loop->backend->event_query(loop->event[2]);
        ns = PERF_CAST_(double, perf_now() - began);
        limit_ns -= 50.0;                       /* the host's clock may stand */
    }
    if (code == PERF_GPU_NOT_READY)
        return PERF_GPU_STILL_BUSY_;
    if (!perf_gpu_optional_(loop, code))
        return PERF_GPU_UNKNOWN_;
    return ns;
}

/* Does the body leave work on other streams?  Then the context is quiet before the body, and still
 * busy when the body's own stream is idle.  Where it is busy before the body, other threads work
 * there, and nothing can be told: the looks end.
 *
 * 1: a question that took so many ns met work of others. */
PERF_FN int perf_gpu_met_others_(const perf_gpu_loop_state_ *loop, double ns)
{
    return ns > 4.0 * loop->quiet_ns + 10e3;
}

/* Before the body. */
PERF_COLD_FN_ void perf_gpu_look_before_(perf_gpu_loop_state_ *loop)
{
    double ns;

    if (!loop->event[2] || loop->looks >= PERF_GPU_MOST_LOOKS_)
        return;
    ns = perf_gpu_quiet_(loop, 5e6);
    if (ns < 0.0) {                             /* somebody is busy for long */
        loop->elsewhere = 1;
        loop->looks = PERF_GPU_MOST_LOOKS_;
        loop->busy = 0;
        return;
    }
    if (!(loop->quiet_ns > 0.0) || ns < loop->quiet_ns)
        loop->quiet_ns = ns;
    else if (perf_gpu_met_others_(loop, ns))
        loop->busy_before++;
    if (loop->busy_before > 1) {                /* it is not the body's work */
        loop->looks = PERF_GPU_MOST_LOOKS_;
        loop->busy = 0;
    }
}

/* After the body, whose stream is idle. */
PERF_COLD_FN_ void perf_gpu_look_after_(perf_gpu_loop_state_ *loop)
{
    double ns;

    if (!loop->event[2] || loop->looks >= PERF_GPU_MOST_LOOKS_)
        return;
    loop->looks++;
    ns = perf_gpu_quiet_(loop, 100e6);
    if (ns < 0.0) {                             /* somebody is busy for long */
        loop->elsewhere = 1;
        loop->looks = PERF_GPU_MOST_LOOKS_;
    } else if (perf_gpu_met_others_(loop, ns)) {
        loop->elsewhere = 1;
        loop->busy++;
    }
}

/* 1: two readings of one thing agree to 2 %. */
PERF_FN int perf_gpu_agree_(double a, double b)
{
    return perf_fabs_(a - b) <= 0.02 * a;
}

/* Each body was launched once more.  A device's clock that reads the same twice may not have been
 * read anew.  So the times of three blocks of 5 ms have to agree, and the clock with them. */
PERF_COLD_FN_ void perf_gpu_calm_(perf_gpu_loop_state_ *loop)
{
    const uint64_t now = perf_now();

    if (!(loop->block_ns > 0.0) || loop->warm_ns < loop->block_ns)
        loop->block_ns = loop->warm_ns;
    loop->warm_ns = 0.0;
    if (now - loop->block_began <= 5000000)
        return;
    loop->calm++;
    if (!(loop->block_before_ns > 0.0) || !perf_gpu_agree_(loop->block_ns, loop->block_before_ns) ||
        !perf_gpu_agree_(PERF_CAST_(double, loop->slice.sm_mhz),
                         PERF_CAST_(double, loop->mhz_before)))
        loop->calm = 0;
    loop->block_before_ns = loop->block_ns;
    loop->mhz_before = loop->slice.sm_mhz;
    loop->block_ns = 0.0;
    loop->block_began = now;
}

/* 1: the clock of the device is steady, or it takes too long to become so. */
PERF_COLD_FN_ int perf_gpu_is_warm_(const perf_gpu_loop_state_ *loop, int late)
{
    const int      launches = loop->arm[loop->state->order[0]].launches;
    const uint64_t now = perf_now();
    const int      stands = now == loop->warm_began && launches > 10000; /* the host's clock */

    if (launches < PERF_GPU_LEAST_WARM_ || (!late && launches < loop->result.opts.warmup))
        return 0;
    return late || stands || loop->calm > 1 || loop->result.opts.warmup ||
           PERF_CAST_(double, now - loop->warm_began) > 0.25e9 * loop->result.opts.max_seconds;
}

/* 1: enough of the warm-up, from now on there are batches. */
PERF_COLD_FN_ int perf_device_warm_(perf_loop_state_ *state, int late)
{
    perf_gpu_loop_state_ *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    int             i;

    perf_gpu_calm_(loop);
    if (!perf_gpu_is_warm_(loop, late))
        return 0;
    if (loop->looks && 2 * loop->busy >= loop->looks && loop->busy >= 2)
        loop->result.warnings |= PERF_WARN_STREAM;
    for (i = 0; i < state->variants; i++) {
        state->arm[i].most = loop->arm[i].queue;
        if (loop->result.opts.batch)
            state->arm[i].batch = state->arm[i].most =
                PERF_CAST_(uint64_t, loop->result.opts.batch);
    }
    return 1;
}

/* Nothing that takes time ran between the events of a slice, as far as one of them can tell. */
PERF_FN int perf_gpu_is_idle_(const perf_gpu_loop_state_ *loop, double slice_ns)
{
    return slice_ns <= loop->empty_ns + 2.0 * loop->result.quantum_ns;
}

/* ns that a sample takes at least, so that step and cost of the events are a small part of it. */
PERF_FN double perf_gpu_least_ns_(const perf_gpu_loop_state_ *loop)
{
    return perf_most_(loop->result.quantum_ns, loop->result.overhead_ns) / PERF_GPU_EVENT_SHARE_;
}

/* The engine takes a slice as long enough at 0.7 of this. */
PERF_COLD_FN_ double perf_device_want_(const perf_loop_state_ *state)
{
    return 1.5 * perf_gpu_least_ns_(PERF_CAST_(const perf_gpu_loop_state_ *, state->own));
}

/* ---- graphs ---- */

PERF_COLD_FN_ void perf_gpu_drop_graphs_(perf_gpu_loop_state_ *loop)
{
    int i;

    for (i = 0; i < 2; i++) {
        PERF_GPU_GIVE_(loop, loop->arm[i].exec,
                       loop->backend->graph_exec_destroy(loop->arm[i].exec));
        loop->arm[i].exec = PERF_NULL_;
    }
}

/* The event becomes a node of the graph under way, timed by each launch.  0: it cannot. */
PERF_COLD_FN_ int perf_gpu_record_inside_(perf_gpu_loop_state_ *loop, void *event)
{
    int code = loop->backend->event_record_flags(event, loop->stream, PERF_GPU_EXTERNAL_);

    return perf_gpu_optional_(loop, code);
}

/* A body was captured; 0: it could not be. */
PERF_COLD_FN_ int perf_gpu_captured_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    void *graph = PERF_NULL_;
    int   code, ok;

    loop->under_way = 0;
    ok = !loop->spoilt;
    if (loop->inside && !perf_gpu_record_inside_(loop, loop->event[1]))
        ok = 0;
    code = loop->backend->capture_end(loop->stream, &graph);
    if (!perf_gpu_optional_(loop, code) || !graph)
        ok = 0;
    if (ok)
        ok = perf_gpu_optional_(loop, loop->backend->graph_instantiate(&arm->exec, graph, 0));
    if (!ok)
        arm->exec = PERF_NULL_;
    if (graph && !loop->down)
        (void)loop->backend->graph_destroy(graph);
    return ok;
}

/* The next rounds are a warm-up, and thrown away. */
PERF_COLD_FN_ void perf_gpu_warm_up_anew_(perf_gpu_loop_state_ *loop)
{
    if (loop->state->phase == PERF_LOOP_DONE_)
        return;
    loop->state->phase = PERF_LOOP_WARM_;
    loop->state->left_to_warm = PERF_GPU_DISCARDED_;
}

PERF_COLD_FN_ void perf_gpu_no_graph_(perf_gpu_loop_state_ *loop)
{
    int i;

    perf_gpu_drop_graphs_(loop);
    if (loop->result.opts.graph || loop->result.serialised)
        loop->result.warnings |= PERF_WARN_NO_GRAPH;
    loop->gate_off |= loop->own_graph;
    loop->own_graph = loop->inside = 0;
    loop->no_graph = 1;
    for (i = 0; i < loop->state->variants; i++)
        loop->state->arm[i].batch = loop->arm[i].plain;
    perf_gpu_warm_up_anew_(loop);
}

/* The stream records the body of this slice into a graph; 0: it cannot. */
PERF_COLD_FN_ int perf_gpu_capture_(perf_gpu_loop_state_ *loop)
{
    if (!perf_gpu_optional_(loop, loop->backend->capture_begin(loop->stream, PERF_GPU_RELAXED_)))
        return 0;
    loop->under_way = PERF_GPU_RECORDED_;
    loop->spoilt = 0;
    if (loop->inside)
        loop->spoilt = !perf_gpu_record_inside_(loop, loop->event[0]);
    return 1;
}

/* All batches are found.  Launches in a graph follow each other closer, so it holds some more. */
PERF_COLD_FN_ int perf_device_grown_(perf_loop_state_ *state)
{
    perf_gpu_loop_state_ *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    int             i, more =
        !loop->result.opts.batch && loop->result.opts.graph && !loop->own_graph;

    if (!perf_gpu_can_graph_(loop)) {
        if (loop->result.opts.graph)
            loop->result.warnings |= PERF_WARN_NO_GRAPH;
        loop->no_graph = 1;
    }
    for (i = 0; i < state->variants; i++) {
        loop->arm[i].plain = state->arm[i].batch;
        if (more && !loop->no_graph)
            state->arm[i].batch = PERF_CAST_(uint64_t, perf_least_(
                3.0 * PERF_CAST_(double, state->arm[i].batch), 1000.0));
    }
    return 1;
}

/* ---- profilers ---- */

/* The profiler that runs this program, if any, begins or ends to record. */
PERF_COLD_FN_ void perf_gpu_profiler_switch_(perf_gpu_loop_state_ *loop, int on)
{
    static const char *const roctx[] = {"librocprofiler-sdk-roctx.so.1", PERF_NULL_};
    static const char *const word[2] = {"Pause", "Resume"};
    int  (*call)(void) = loop->backend->profiler_stop;
    int  (*ask)(uint64_t thread) = PERF_NULL_;
    void  *library = PERF_NULL_;

    loop->profiling = on;
    if (on)
        call = loop->backend->profiler_start;
    if (!call && loop->backend->flags & PERF_GPU_TABLE_AMD)
        library = perf_library_open_(roctx);
    if (library)
        perf_library_symbol_(library, "roctxProfiler", word[on], &ask);
    if (call)
        (void)perf_gpu_optional_(loop, call());
    else if (ask)
        (void)perf_gpu_optional_(loop, ask(0));
}

/* Each body once, with the device idle before and after. */
PERF_COLD_FN_ uint64_t perf_gpu_profile_(perf_gpu_loop_state_ *loop)
{
    const int turn = loop->profiled++;
    int       variant;

    if (!perf_gpu_required_(loop, loop->backend->stream_sync(loop->stream)))
        return 0;
    if (!loop->profiling)
        perf_gpu_profiler_switch_(loop, 1);
    if (turn == loop->state->running) {
        perf_gpu_profiler_switch_(loop, 0);
        (void)perf_gpu_fail_(loop, PERF_ENODATA, "the body ran once, for a profiler");
        return 0;
    }
    variant = loop->state->order[turn];
    loop->state->arm[variant].runs = 1;
    return 64 + PERF_CAST_(uint64_t, variant);
}

/* ---- begin ---- */

/* The functions of the way of a slice, which stand below. */
PERF_COLD_DECL_ int perf_gpu_turn_(perf_gpu_loop *run);
PERF_COLD_DECL_ uint64_t perf_gpu_next_slice_(perf_gpu_loop_state_ *loop);
PERF_COLD_DECL_ int perf_device_end_(perf_loop_state_ *state, int variant, uint64_t now);
PERF_COLD_DECL_ void perf_gpu_watch_gate_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm);
PERF_COLD_DECL_ int perf_gpu_slice_counts_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm,
                                           uint64_t now);
PERF_COLD_DECL_ int perf_gpu_reading_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm);
PERF_COLD_DECL_ void perf_gpu_probed_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm);
PERF_COLD_DECL_ uint32_t perf_gpu_file_sample_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm);
PERF_COLD_DECL_ int perf_gpu_lacks_work_(const perf_gpu_loop_state_ *loop,
                                         const perf_gpu_arm_ *arm);
PERF_COLD_DECL_ int perf_device_keep_(perf_loop_state_ *state);
PERF_COLD_DECL_ int perf_device_stop_(perf_loop_state_ *state, int enough);
PERF_COLD_DECL_ double perf_gpu_spent_(const perf_gpu_loop_state_ *loop);
PERF_FN size_t perf_gpu_most_samples_(const perf_gpu_loop_state_ *loop);
PERF_COLD_DECL_ void perf_device_begin_(perf_loop_state_ *state, int variant);

PERF_FN const perf_filling_ *perf_device_filling_(void)
{
    static const perf_filling_ device = {perf_device_begin_, perf_device_end_,  perf_device_want_,
                                         perf_device_grown_, perf_device_warm_, perf_device_keep_,
                                         perf_device_stop_, 0.0};

    return &device;
}

/* Bytes of a loop of so many arms, without samples. */
#define PERF_GPU_OWN_(arms)                                                                       \
    (sizeof(perf_gpu_loop_state_) + (arms) * PERF_GPU_SPARE_ * sizeof(perf_gpu_sample))

/* A device's loop in that state, behind which there is room for twice so many samples of each arm:
 * a throttled one may be taken again.  They stay until the program ends, so perf_reset() does not
 * get the pages.  state NULL: no memory.                                                         */
PERF_COLD_FN_ perf_gpu_loop_state_ *perf_gpu_loop_open_(void *stream, size_t samples,
                                                        const perf_gpu_bench_opts *opts,
                                                        perf_loop_state_ *state,
                                                        perf_loop_state_ *host)
{
    perf_gpu_sample *sample;
    perf_gpu_loop_state_  *loop;
    int              i;

    if (!state)
        return PERF_NULL_;
    loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    sample = PERF_PTR_(perf_gpu_sample *, loop + 1);
    loop->state = state;
    loop->host = host;
    loop->result.opts = *opts;
    loop->stream = stream;
    loop->word = &loop->own_word;
    for (i = 0; i < state->variants; i++, sample += 2 * samples + PERF_GPU_SPARE_) {
        loop->arm[i].loop_arm = &state->arm[i];
        loop->arm[i].sample = sample;
        loop->arm[i].queue = PERF_GPU_MOST_BATCH_;
    }
    state->loop.kind = state->variants;
    state->loop.pages = 0;
    state->loop.note = loop->note;
    state->fill = perf_device_filling_();
    if (opts->energy > 0.0)
        state->counted = perf_gpu_energy_next_;
    state->opts.samples = opts->samples;
    state->opts.rel_ci = opts->rel_ci;
    state->opts.max_seconds = opts->max_seconds;
    state->opts.bytes = opts->bytes;
    state->opts.items = opts->items;
    state->left_to_warm = PERF_GPU_DISCARDED_;
    return loop;
}

/* Is there a device, and can it be measured? */
PERF_COLD_FN_ void perf_gpu_find_device_(perf_gpu_loop_state_ *loop)
{
    const int         named = PERF_PTR_(uintptr_t, loop->stream) > 2;   /* no default stream */
    perf_gpu_entered_ entered;

    loop->state->phase = PERF_LOOP_DONE_;
    loop->backend = perf_gpu_table();
    if (loop->backend && loop->backend->error_waits)
        loop->waited = loop->backend->error_waits();
    if (loop->waited)
        loop->result.code = PERF_GPU_UNREAD;    /* any call would lose it */
    else if (loop->backend)
        loop->result.code = loop->backend->ctx_get(&loop->ctx);
    if (!loop->backend || loop->result.code == PERF_GPU_NO_CURRENT_ ||
        loop->result.code == PERF_GPU_NOT_STARTED_ || (!loop->result.code && !loop->ctx)) {
        loop->state->status = PERF_ENOGPU;
        return;
    }
    if (!perf_gpu_required_(loop, loop->result.code) ||
        (named && loop->backend->stream_ctx &&
         !perf_gpu_required_(loop, loop->backend->stream_ctx(loop->stream, &loop->ctx))) ||
        !perf_gpu_required_(loop, perf_gpu_enter_(loop->backend, loop->ctx, &entered)))
        return;
    loop->waited = entered.waited;
    if (loop->result.opts.profile || perf_gpu_setup_(loop))
        loop->state->phase = PERF_LOOP_START_;
    if (!loop->down)
        perf_gpu_leave_(loop->backend, &entered);
    loop->state->timer.began = perf_now();
}

/* A benchmark of a harness that profiles has a loop without a state, one iteration left. */
PERF_COLD_FN_ perf_gpu_loop_state_ *perf_gpu_bench_open_(const char *name, void *stream,
                                                         const perf_gpu_bench_opts *opts)
{
    perf_gpu_bench_opts options = PERF_ZERO;
    const perf_bench   *bench;
    perf_loop_state_   *state, *host = PERF_NULL_;
    perf_gpu_loop_state_     *loop;
    size_t              room = PERF_GPU_MOST_SAMPLES_, own;

    if (opts)
        options = *opts;
    bench = options.in_place_of;
    if (bench)
        name = PERF_NULL_;
    if (bench && perf_loop_kind_(bench->state) == PERF_LOOP_BENCH_)
        host = bench->state;
    if (host) {
        if (!(options.bytes > 0.0))
            options.bytes = host->opts.bytes;
        if (!(options.items > 0.0))
            options.items = host->opts.items;
        if (!(options.max_seconds > 0.0))
            options.max_seconds = host->opts.max_seconds;
    } else if (bench && !bench->state && bench->left == 1) {
        options.profile = 1;                    /* the harness runs under a profiler */
    }
    options = perf_gpu_bench_resolve_(&options);
    if (options.samples)
        room = PERF_CAST_(size_t, options.samples);
    own = PERF_GPU_OWN_(1) + 2 * room * sizeof(perf_gpu_sample);
    state = perf_loop_pages_(name, !host && !options.profile, 1, room, own);
    loop = perf_gpu_loop_open_(stream, room, &options, state, host);
    if (loop)
        perf_gpu_find_device_(loop);
    return loop;
}

PERF_COLD_FN_ perf_gpu_loop_state_ *perf_gpu_ab_open_(const char *name, void *stream,
                                                      const perf_gpu_ab_opts *opts)
{
    perf_gpu_ab_opts  options = PERF_ZERO;
    perf_ab_opts      ask;
    perf_loop_state_ *state;
    perf_gpu_loop_state_   *loop;

    if (opts)
        options = *opts;
    options.device = perf_gpu_bench_resolve_(&options.device);
    ask = perf_gpu_ab_ask_(&options);
    state = perf_race_pages_(name, options.device.profile ? 0 : 2, &ask, PERF_GPU_OWN_(2),
                             4 * sizeof(perf_gpu_sample));
    if (!state)
        return PERF_NULL_;
    loop = perf_gpu_loop_open_(stream, PERF_CAST_(size_t, state->ask.max_pairs), &options.device,
                               state, PERF_NULL_);
    if (state->status == PERF_OK)
        perf_gpu_find_device_(loop);
    return loop;
}

/* A loop before its first slice.  With PERF_DISABLE one iteration of variant 0 is left.
 * state NULL: there is no memory for one. */
PERF_FN perf_gpu_loop perf_gpu_loop_new_(struct perf_gpu_loop_state_ *state)
{
    perf_gpu_loop loop = PERF_ZERO;

    loop.state = state;
    if (PERF_DISABLE)
        loop.left = 1;
    else if (state)
        loop.variant = -1;
    else
        loop.variant = PERF_GPU_NO_MEMORY_;
    return loop;
}

PERF_FN perf_gpu_bench perf_gpu_bench_begin(const char *name, perf_stream stream,
                                            const perf_gpu_bench_opts *opts)
{
    struct perf_gpu_loop_state_ *loop = PERF_NULL_;

    if (!PERF_DISABLE)
        loop = perf_gpu_bench_open_(name, PERF_GPU_STREAM_(stream), opts);
    return perf_gpu_loop_new_(loop);
}

PERF_FN perf_gpu_ab perf_gpu_ab_begin(const char *name, perf_stream stream,
                                      const perf_gpu_ab_opts *opts)
{
    struct perf_gpu_loop_state_ *loop = PERF_NULL_;

    if (!PERF_DISABLE)
        loop = perf_gpu_ab_open_(name, PERF_GPU_STREAM_(stream), opts);
    return perf_gpu_loop_new_(loop);
}

/* ---- the way of a slice, from the body to its sample: callers above what they call ---- */

PERF_FN int perf_gpu_bench_next(perf_gpu_bench *bench)
{
    return PERF_LIKELY_(--bench->left >= 0) || (!PERF_DISABLE && perf_gpu_turn_(bench));
}

PERF_FN int perf_gpu_ab_next(perf_gpu_ab *ab)
{
    if (!PERF_LIKELY_(--ab->left >= 0) && (PERF_DISABLE || !perf_gpu_turn_(ab)))
        return -1;
    return ab->variant;
}

/* 1: the body runs, as often and in the variant that `run` now says. */
PERF_COLD_FN_ int perf_gpu_turn_(perf_gpu_loop *run)
{
    perf_gpu_loop_state_   *loop = run->state;
    perf_gpu_entered_ entered;
    uint64_t          next = 0;
    int               code;

    run->left = 0;
    if (!loop || loop->state->phase == PERF_LOOP_DONE_)
        return 0;
    code = perf_gpu_enter_(loop->backend, loop->ctx, &entered);
    loop->waited = entered.waited;
    (void)perf_gpu_required_(loop, code);
    if (loop->state->status == PERF_OK && !(loop->host && loop->host->status != PERF_OK))
        next = perf_gpu_next_slice_(loop);
    if (!next)
        loop->state->phase = PERF_LOOP_DONE_;
    if (!code && !loop->down)
        perf_gpu_leave_(loop->backend, &entered);
    run->left = PERF_CAST_(int64_t, next >> 6) - (next != 0);
    run->variant = PERF_CAST_(int, next & 63);
    return next != 0;
}

/* The next slice in which the body runs, as perf_loop_slice_ returns it; 0: there is none.  That
 * calls perf_device_end_ and perf_device_begin_. */
PERF_COLD_FN_ uint64_t perf_gpu_next_slice_(perf_gpu_loop_state_ *loop)
{
    uint64_t next;

    if (loop->result.opts.profile)
        return perf_gpu_profile_(loop);
    do {
        loop->replayed = 0;
        next = perf_bench_engine_get_()->slice(loop->state, loop->state->loop.kind);
    } while (next && loop->replayed);
    return next;
}

/* Ends a slice: a captured body becomes a graph, a timed one counts by the phase.  0: the arm runs
 * again. */
PERF_COLD_FN_ int perf_device_end_(perf_loop_state_ *state, int variant, uint64_t now)
{
    perf_gpu_loop_state_ *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    perf_gpu_arm_  *arm = &loop->arm[variant];

    if (loop->under_way == PERF_GPU_RECORDED_) {
        arm->loop_arm->runs += arm->loop_arm->batch;
        if (!perf_gpu_captured_(loop, arm))
            perf_gpu_no_graph_(loop);
        perf_gpu_warm_up_anew_(loop);
        return 0;
    }
    if (!perf_gpu_slice_end_(loop, 1))
        return 0;
    if (!arm->exec)
        arm->loop_arm->runs += arm->loop_arm->batch;
    arm->launches++;
    perf_gpu_watch_gate_(loop, arm);
    state->timer.ns[0] = loop->slice.ns;
    state->timer.spent_ns += loop->slice.ns;
    return perf_gpu_slice_counts_(loop, arm, now);
}

/* A body that waits for the device opens the gate by its limit each time: three times in a row, and
 * it is done without; or as a graph, where it was more launches than the driver's queue holds. */
PERF_COLD_FN_ void perf_gpu_watch_gate_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    const int ran_ahead = arm->ahead > 1 && !arm->exec && !loop->gate_off;

    arm->timeouts_in_a_row++;
    if (!(loop->slice.flags & PERF_GPU_SAMPLE_TIMEOUT) || arm->loop_arm->batch != 1)
        arm->timeouts_in_a_row = 0;
    if (arm->timeouts_in_a_row < 3)
        return;
    if (!ran_ahead || loop->no_graph || !perf_gpu_can_graph_(loop)) {
        loop->gate_off = 1;
        return;
    }
    loop->own_graph = 1;
    arm->timeouts_in_a_row = 0;
}

/* A slice was timed: what it is for depends on the phase.  0: it does not count, the arm runs
 * again. */
PERF_COLD_FN_ int perf_gpu_slice_counts_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm,
                                         uint64_t now)
{
    switch (loop->state->phase) {
    case PERF_LOOP_COLD_:                       /* the first call of an arm */
        loop->warm_began = loop->block_began = now;
        return 1;
    case PERF_LOOP_HEAT_:                       /* until the device's clock is steady */
        perf_gpu_look_after_(loop);
        loop->warm_ns += loop->slice.ns;
        return 1;
    case PERF_LOOP_GROW_:                       /* the batch grows until slices are long */
        return perf_gpu_reading_(loop, arm);
    default:                                    /* thrown away, or a sample */
        break;
    }
    if (loop->own_graph && !arm->exec)          /* it begins anew as a graph */
        return 0;
    if (loop->state->phase != PERF_LOOP_SAMPLE_)
        return 1;
    if (!loop->state->at)
        loop->useless = 0;
    loop->useless |= perf_gpu_file_sample_(loop, arm);
    return 1;
}

/* A reading at a batch that may be too small.  0: it does not count, the arm runs again. */
PERF_COLD_FN_ int perf_gpu_reading_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    perf_loop_arm_ *common = arm->loop_arm;
    int             last;

    if (arm->doubted) {
        perf_gpu_probed_(loop, arm);
        return 0;
    }
    if (loop->slice.flags & PERF_GPU_SAMPLE_TIMEOUT && common->batch > 1) {
        /* its queue is full: fewer */
        common->batch = common->most = arm->queue = common->batch / 2;
        common->readings = 0;
        return 0;
    }
    if (loop->gate_off || loop->own_graph)      /* what is in a graph is on no other stream */
        common->most = common->batch;
    last = common->batch >= common->most || loop->slice.ns >= perf_gpu_least_ns_(loop);
    if (!last || arm->sure || loop->own_graph || !perf_gpu_is_idle_(loop, loop->slice.ns))
        return 1;
    arm->doubted = common->batch;               /* not sure: many short kernels show */
    common->batch = PERF_GPU_PROBES_;
    return 0;
}

/* The slice of PERF_GPU_PROBES_ launches has ended: does anything run on the stream?  If not, the
 * loop ends. */
PERF_COLD_FN_ void perf_gpu_probed_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    /* How far two events scatter, but less than so many of the shortest kernels take. */
    const double scatter =
        perf_least_(loop->empty_ns - loop->result.overhead_ns, 250.0 * PERF_GPU_PROBES_);

    arm->loop_arm->batch = arm->doubted;
    arm->doubted = 0;
    arm->sure = 1;
    if (loop->slice.ns > loop->result.overhead_ns + scatter + 2.0 * loop->result.quantum_ns)
        return;
    loop->result.warnings |= PERF_WARN_STREAM;
    (void)perf_gpu_fail_(loop, PERF_ESTREAM, PERF_NULL_);
}

/* Files the sample that has ended; 0 or what speaks against it. */
PERF_COLD_FN_ uint32_t perf_gpu_file_sample_(perf_gpu_loop_state_ *loop, perf_gpu_arm_ *arm)
{
    perf_gpu_sample *sample = &arm->sample[arm->count++];
    const double     batch = PERF_CAST_(double, arm->loop_arm->batch);

    *sample = loop->slice;
    sample->ns /= batch;
    sample->host_ns /= batch;
    if (!arm->exec && perf_gpu_lacks_work_(loop, arm))
        sample->flags |= PERF_GPU_SAMPLE_IDLE;
    if (sample->throttle & PERF_GPU_SLOWED_)
        sample->flags |= PERF_GPU_SAMPLE_THROTTLED;
    return sample->flags & ~PERF_GPU_SAMPLE_TIMEOUT;
}

/* 1: the slice that has ended looks empty, and the arm's other ones do not: their fastest took more
 * than twice as long, the events' own time not counted. */
PERF_COLD_FN_ int perf_gpu_lacks_work_(const perf_gpu_loop_state_ *loop, const perf_gpu_arm_ *arm)
{
    const double took = loop->slice.ns, fastest = arm->loop_arm->fastest;
    const double events = loop->result.overhead_ns;

    if (!perf_gpu_is_idle_(loop, took) || perf_gpu_is_idle_(loop, fastest))
        return 0;
    return 2.0 * (took - events) < fastest - events;
}

/* A sample of each arm was filed.  0: the round does not count, another one is taken: a throttled
 * one until there were too many in a row or half of the time is spent.                           */
PERF_COLD_FN_ int perf_device_keep_(perf_loop_state_ *state)
{
    perf_gpu_loop_state_ *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);

    if (!(loop->useless & PERF_GPU_SAMPLE_THROTTLED)) {
        loop->throttled = 0;
        return !loop->useless;
    }
    loop->throttled++;
    if (loop->throttled >= PERF_GPU_MOST_THROTTLED_ || perf_gpu_spent_(loop) >= 0.5)
        loop->useless &= ~PERF_GPU_SAMPLE_THROTTLED;
    else if (loop->repeated < perf_gpu_most_samples_(loop))
        loop->repeated++;
    return !loop->useless;
}

/* 1: the loop ends.  enough: the rule of all loops says so.  Beyond that: slow bodies get their
 * least samples, and bodies of which nothing counts do not go on for ever. */
PERF_COLD_FN_ int perf_device_stop_(perf_loop_state_ *state, int enough)
{
    const perf_gpu_loop_state_ *loop = PERF_CAST_(const perf_gpu_loop_state_ *, state->own);
    const int             one = state->order[0];        /* the others have as many */
    const size_t          filed = loop->arm[one].count, most = perf_gpu_most_samples_(loop);
    size_t                least = PERF_GPU_LEAST_SAMPLES_;

    if (state->variants == 2)
        least = PERF_GPU_LEAST_PAIRS_;
    if (filed >= most + loop->repeated || (!state->arm[one].count && filed >= 30))
        return 1;
    return filed >= least && (enough || (loop->useless && perf_gpu_spent_(loop) > 1.0));
}

/* How much of the time there is has passed. */
PERF_COLD_FN_ double perf_gpu_spent_(const perf_gpu_loop_state_ *loop)
{
    const double took = perf_since_(loop->state->timer.began, perf_now());

    return took / (loop->result.opts.max_seconds * 1e9);
}

/* The most samples of an arm. */
PERF_FN size_t perf_gpu_most_samples_(const perf_gpu_loop_state_ *loop)
{
    if (loop->state->variants == 2)
        return PERF_CAST_(size_t, loop->state->ask.max_pairs);
    if (loop->result.opts.samples)
        return PERF_CAST_(size_t, loop->result.opts.samples);
    return PERF_GPU_MOST_SAMPLES_;
}

/* Begins a slice: with the body, or without it as a graph. */
PERF_COLD_FN_ void perf_device_begin_(perf_loop_state_ *state, int variant)
{
    perf_gpu_loop_state_      *loop = PERF_CAST_(perf_gpu_loop_state_ *, state->own);
    const perf_gpu_arm_ *arm = &loop->arm[variant];
    const int            gated = state->phase >= PERF_LOOP_GROW_;
    const int            flushes =
        loop->result.opts.cache == PERF_GPU_COLD && loop->result.flush_bytes > 0.0;
    const int            wants_graph =
        (loop->result.opts.graph || loop->own_graph) && !loop->no_graph;

    loop->variant = variant;
    if (wants_graph && state->phase >= PERF_LOOP_WARM_ && !arm->exec) {
        if (perf_gpu_capture_(loop))
            return;
        perf_gpu_no_graph_(loop);
    }
    if (state->phase == PERF_LOOP_HEAT_)
        perf_gpu_look_before_(loop);
    if (!perf_gpu_slice_begin_(loop, gated, gated && flushes && !arm->doubted) || !arm->exec)
        return;
    loop->replayed = 1;
    if (!perf_gpu_required_(loop, loop->backend->graph_launch(arm->exec, loop->stream)))
        (void)perf_gpu_let_go_(loop);
}

/* ---- what the end of a loop needs ---- */

/* Gives back what the loop took from the device.  What fails stays there.  While others' kernels
 * run, so does what is freed by calls that wait for the whole context.  While the program has an
 * unread error, all of it stays. */
PERF_COLD_FN_ void perf_gpu_release_(perf_gpu_loop_state_ *loop)
{
    const perf_gpu_backend *backend = loop->backend;
    perf_gpu_entered_       entered;
    void                   *graph = PERF_NULL_;
    int                     i, code, recording, quiet = 1;

    PERF_REL_(&loop->word->flag, 1u);           /* left in the middle: nothing may stay held back */
    if (!backend || !loop->ctx || loop->down)
        return;
    code = perf_gpu_enter_(loop->backend, loop->ctx, &entered);
    recording = loop->under_way == PERF_GPU_RECORDED_;
    if (code == PERF_GPU_UNREAD && !recording)          /* but a capture must not stay open */
        return;
    loop->waited = entered.waited;
    (void)perf_gpu_required_(loop, code);
    if (loop->profiling && !loop->down)
        perf_gpu_profiler_switch_(loop, 0);
    if (!loop->down && recording && !backend->capture_end(loop->stream, &graph) && graph)
        (void)backend->graph_destroy(graph);
    PERF_GPU_GIVE_(loop, loop->event[0], backend->stream_sync(loop->stream));
    if (!loop->down && loop->event[2] && loop->elsewhere) /* the question spoils captures there */
        quiet = perf_gpu_quiet_(loop, 10e6) > PERF_GPU_STILL_BUSY_;
    perf_gpu_drop_graphs_(loop);
    for (i = 0; i < 3; i++)
        PERF_GPU_GIVE_(loop, loop->event[i], backend->event_destroy(loop->event[i]));
    PERF_GPU_GIVE_(loop, loop->module && quiet, backend->module_unload(loop->module));
    PERF_GPU_GIVE_(loop, loop->scratch && (quiet || loop->scratch_on_stream),
                   perf_gpu_scratch_free_(loop));
    PERF_GPU_GIVE_(loop, loop->word != &loop->own_word && quiet, backend->host_free(loop->word));
    if (!code && !loop->down)
        perf_gpu_leave_(loop->backend, &entered);
}

/* The summary of the host's times; spare: room for them. */
PERF_COLD_FN_ perf_summary perf_gpu_launches_(const perf_gpu_arm_ *arm, double *spare)
{
    size_t i;

    for (i = 0; i < arm->count; i++)
        spare[i] = arm->sample[i].host_ns;
    return perf_summarize(spare, arm->count);
}

/* The summary of the samples without proof; spare: room for them. */
PERF_COLD_FN_ perf_summary perf_gpu_exposed_(const perf_gpu_arm_ *arm, double *spare)
{
    size_t i, n = 0;

    for (i = 0; i < arm->count; i++)
        if (arm->sample[i].flags & PERF_GPU_SAMPLE_EXPOSED)
            spare[n++] = arm->sample[i].ns;
    return perf_summarize(spare, n);
}

/* "; 3 of 100 samples throttled (power cap, heat); SM 1700 to 1980 MHz" */
PERF_COLD_FN_ void perf_gpu_put_flags_(perf_out_ *out, const perf_gpu_result *result)
{
    static const char *const why[] = {"power cap", "hardware slow-down", "", "heat",
                                      "heat (hardware)", "power brake"};        /* bits 2 to 7 */
    static const char *const what[] = {"exposed", "without work", "throttled"};
    const char    *before = " (";
    const uint64_t n[] = {result->exposed.count, result->idle, result->throttled};
    double         low = result->sm_mhz_low, high = result->sm_mhz_high;
    int            i, any = 0;

    for (i = 0; i < 3; i++)
        if (n[i])
            perf_putf_(out, "; %.0f of %.0f samples %s", PERF_CAST_(double, n[i]),
                       PERF_CAST_(double, result->samples), what[i]);
    for (i = 0; i < 6; i++) {
        if (!(result->throttle >> (i + 2) & 1) || !*why[i])
            continue;
        perf_putf_(out, "%s%s", before, why[i]);
        before = ", ";
        any = 1;
    }
    if (any)
        perf_put_(out, ")");
    if (high > low)
        perf_putf_(out, "; SM %.0f to %.0f MHz", low, high);
    else if (high > 0.0)
        perf_putf_(out, "; SM %.0f MHz", high);
}

/* Why there is no result, or only a part of one. */
PERF_COLD_FN_ void perf_gpu_put_failure_(perf_out_ *out, const perf_gpu_loop_state_ *loop,
                                         const perf_gpu_result *result)
{
    const perf_gpu_backend *backend = loop->backend;

    if (loop->down)
        backend = PERF_NULL_;
    if (loop->why)
        perf_put_(out, loop->why);
    else
        perf_put_(out, perf_status_text(result->status));
    if (result->code) {
        perf_put_(out, ": error ");
        perf_gpu_put_error_(out, backend, result->code);
    }
    if (result->samples)
        perf_put_(out, "; until then: ");
    else if (result->serialised)
        perf_put_(out, "; ");
}

/* "cold L2 (after reading 105 MB), 1 a sample, event step 32 ns, ..." */
PERF_COLD_FN_ void perf_gpu_put_method_(perf_out_ *out, const perf_gpu_loop_state_ *loop,
                                        const perf_gpu_result *result)
{
    if (result->flush_bytes > 0.0) {
        perf_put_(out, "cold L2 (after ");
        if (loop->sweep_kernel)
            perf_put_(out, "reading");
        else
            perf_put_(out, "writing");
        perf_putf_(out, " %.0f MB)", result->flush_bytes * 1e-6);
    } else {
        perf_put_(out, "warm L2");
        if (result->opts.cache != PERF_GPU_HOT)
            perf_put_(out, " (no way to flush it)");
    }
    perf_put_(out, ", ");
    if (result->graph)
        perf_put_(out, "graph of ");
    perf_put_fixed_(out, PERF_CAST_(double, result->batch), 0);
    perf_put_(out, " a sample, event step ");
    perf_put_ns_(out, result->quantum_ns);
    perf_put_(out, ", events alone ");
    perf_put_ns_(out, result->overhead_ns);
    perf_gpu_put_flags_(out, result);
    if (result->datasheet_gb_per_s > 0.0 && result->gb_per_s > 0.0)
        perf_putf_(out, "; %.1f %% of the data sheet's",
                   100.0 * result->gb_per_s / result->datasheet_gb_per_s);
}

/* The line of text of a result: what went wrong, how it was measured, what was done without. */
PERF_COLD_FN_ void perf_gpu_describe_(perf_gpu_loop_state_ *loop, perf_gpu_result *result)
{
    perf_out_ out = perf_out_open_(result->text, sizeof result->text);

    if (result->simulated)
        perf_put_(&out, "simulated device: ");
    if (result->status != PERF_OK)
        perf_gpu_put_failure_(&out, loop, result);
    if (result->serialised && result->graph)
        perf_put_(&out, "launches are serialised, so a graph has the events inside; ");
    else if (result->serialised)
        perf_put_(&out, "launches are serialised, which no sample can leave out; ");
    else if (result->graph && !result->opts.graph)
        perf_put_(&out, "more launches than the driver's queue holds; ");
    if (result->samples)
        perf_gpu_put_method_(&out, loop, result);
    if (result->status == PERF_OK && result->code) {
        perf_put_(&out, "; done without what met error ");
        perf_gpu_put_error_(&out, loop->backend, result->code);
    }
}

/* ---- end: callers above what they call ---- */

PERF_COLD_DECL_ perf_gpu_result perf_gpu_bench_close_(perf_gpu_loop was);
PERF_COLD_DECL_ perf_gpu_ab_result perf_gpu_ab_close_(perf_gpu_loop was);
PERF_COLD_DECL_ perf_status perf_gpu_may_end_(const perf_gpu_loop *was, int arms);
PERF_COLD_DECL_ perf_gpu_result perf_gpu_arm_result_(perf_gpu_loop_state_ *loop, int which);
PERF_COLD_DECL_ void perf_gpu_tell_energy_(perf_kept_loop_ *loop, const perf_gpu_result *result);
PERF_COLD_DECL_ void perf_gpu_loop_done_(perf_gpu_loop_state_ *loop, const char *text,
                                         const void *result);

/* What *loop was; it is then a loop that has ended. */
PERF_FN perf_gpu_loop perf_gpu_loop_take_(perf_gpu_loop *loop)
{
    perf_gpu_loop was = PERF_ZERO;

    if (loop) {
        was = *loop;
        memset(loop, 0, sizeof *loop);
        loop->variant = -1;
    }
    return was;
}

PERF_FN perf_gpu_result perf_gpu_bench_end(perf_gpu_bench *bench)
{
    perf_gpu_result result = PERF_ZERO;

    result.status = PERF_EDISABLED;
    if (!PERF_DISABLE)
        result = perf_gpu_bench_close_(perf_gpu_loop_take_(bench));
    return result;
}

PERF_FN perf_gpu_ab_result perf_gpu_ab_end(perf_gpu_ab *ab)
{
    perf_gpu_ab_result result = PERF_ZERO;

    result.status = result.verdict.status = PERF_EDISABLED;
    result.verdict.reason = perf_status_text(PERF_EDISABLED);
    if (!PERF_DISABLE)
        result = perf_gpu_ab_close_(perf_gpu_loop_take_(ab));
    return result;
}

PERF_COLD_FN_ perf_gpu_result perf_gpu_bench_close_(perf_gpu_loop was)
{
    perf_gpu_loop_state_ *loop = was.state;
    perf_gpu_result result = PERF_ZERO;
    perf_result    *kept;       /* for the report and the writers of results */

    result.status = perf_gpu_may_end_(&was, 1);
    if (result.status != PERF_OK)
        return result;
    result = perf_gpu_arm_result_(loop, 0);
    kept = &loop->state->result;
    kept->time = result.time;
    kept->first_ns = result.first_ns;
    kept->overhead_ns = result.overhead_ns;
    kept->batch = result.batch;
    kept->iterations = result.iterations;
    kept->opts = loop->state->opts;
    kept->opts.peak_gb_per_s = result.peak_gb_per_s;
    kept->status = result.status;
    if (result.time.count)
        kept->status = PERF_OK;
    kept->warnings = result.warnings;
    perf_result_rates_(kept);
    perf_gpu_tell_energy_(loop->host ? &loop->host->loop : &loop->state->loop, &result);
    perf_gpu_loop_done_(loop, result.text, kept);
    return result;
}

PERF_COLD_FN_ perf_gpu_ab_result perf_gpu_ab_close_(perf_gpu_loop was)
{
    perf_gpu_loop_state_    *loop = was.state;
    perf_gpu_ab_result result = PERF_ZERO;
    perf_ab_result    *kept;

    result.status = result.verdict.status = perf_gpu_may_end_(&was, 2);
    result.verdict.reason = perf_status_text(result.status);
    if (result.status != PERF_OK)
        return result;
    kept = &loop->state->ab;
    loop->state->timer.overhead_ns[0] = loop->result.overhead_ns;
    loop->state->ask.accept.tick =
        loop->result.quantum_ns / PERF_CAST_(double, loop->state->arm[0].batch);
    *kept = perf_ab_found_(loop->state, -1);
    result.baseline = perf_gpu_arm_result_(loop, 0);
    result.candidate = perf_gpu_arm_result_(loop, 1);
    result.verdict = kept->verdict;
    result.seconds = kept->seconds;
    result.opts.device = loop->result.opts;
    result.opts.accept = kept->opts.accept;
    result.opts.min_pairs = kept->opts.min_pairs;
    result.opts.max_pairs = kept->opts.max_pairs;
    result.opts.seed = kept->opts.seed;
    result.status = kept->status;
    result.warnings =
        result.baseline.warnings | result.candidate.warnings | result.verdict.warnings;
    kept->baseline = result.baseline.time;
    kept->candidate = result.candidate.time;
    kept->warnings = result.warnings;
    result.forced = kept->forced;
    perf_gpu_loop_done_(loop, loop->state->forced ? result.candidate.text : result.baseline.text,
                     kept);
    return result;
}

/* PERF_OK; or why this is no loop of so many arms to be ended: no memory, no begin, ended already.
 * Notes that it was left early. */
PERF_COLD_FN_ perf_status perf_gpu_may_end_(const perf_gpu_loop *was, int arms)
{
    perf_gpu_loop_state_ *loop = was->state;

    if (!loop && was->variant == PERF_GPU_NO_MEMORY_)
        return PERF_ENOMEM;
    if (!loop || loop->state->variants != arms || PERF_ACQ_(&loop->state->loop.done))
        return PERF_ESTATE;
    if (loop->state->phase != PERF_LOOP_DONE_)
        loop->result.warnings |= PERF_WARN_STOPPED;
    return PERF_OK;
}

/* What one arm has measured. */
PERF_COLD_FN_ perf_gpu_result perf_gpu_arm_result_(perf_gpu_loop_state_ *loop, int which)
{
    perf_gpu_result      result = loop->result;
    const perf_gpu_arm_ *arm = &loop->arm[which];
    double               step = result.quantum_ns / PERF_CAST_(double, arm->loop_arm->batch);
    size_t               i;

    result.status = loop->state->status;
    result.sample = arm->sample;
    result.samples = arm->count;
    result.batch = arm->loop_arm->batch;
    result.iterations = arm->loop_arm->runs;
    result.first_ns = arm->loop_arm->first_ns;
    result.gate_timeouts = arm->gate_timeouts;
    result.graph = arm->exec != PERF_NULL_;
    if (loop->gate_off)
        result.gate = 0;
    result.simulated = loop->backend && (loop->backend->flags & PERF_GPU_TABLE_SIMULATED) != 0;
    result.time = perf_summarize_series_(arm->loop_arm->ns, arm->loop_arm->count);
    result.exposed = perf_gpu_exposed_(arm, loop->state->logs);
    result.launch = perf_gpu_launches_(arm, loop->state->logs);
    perf_gpu_joules_(&result, &arm->energy);
    for (i = 0; i < arm->count; i++) {
        const perf_gpu_sample *sample = &arm->sample[i];
        result.throttled += (sample->flags & PERF_GPU_SAMPLE_THROTTLED) != 0;
        result.idle += (sample->flags & PERF_GPU_SAMPLE_IDLE) != 0;
        result.throttle |= sample->throttle;
        if (sample->sm_mhz > result.sm_mhz_high)
            result.sm_mhz_high = sample->sm_mhz;
        if (sample->sm_mhz && (!result.sm_mhz_low || sample->sm_mhz < result.sm_mhz_low))
            result.sm_mhz_low = sample->sm_mhz;
    }
    if (result.time.count) {
        result.warnings |= result.time.warnings;
        if (step > PERF_GPU_EVENT_SHARE_ * result.time.p50)
            result.warnings |= PERF_WARN_RESOLUTION;
        if (loop->state->variants == 1 &&
            !(result.time.p50_high - result.time.p50_low <=
              2.0 * loop->result.opts.rel_ci * result.time.p50))
            result.warnings |= PERF_WARN_NOISY;
        result.time.p50_low = perf_most_(result.time.p50_low - step, 0.0);
        result.time.p50_high += step;
        if (result.opts.bytes > 0.0 && result.time.p50 > 0.0)
            result.gb_per_s = result.opts.bytes / result.time.p50;
    } else if (result.status == PERF_OK) {
        result.status = result.time.status;
        if (result.status == PERF_OK)
            result.status = PERF_ENODATA;
    }
    if (result.exposed.count)
        result.warnings |= PERF_WARN_EXPOSED;
    if (result.idle)
        result.warnings |= PERF_WARN_STREAM;
    if (result.throttled)
        result.warnings |= PERF_WARN_THROTTLED;
    perf_gpu_describe_(loop, &result);
    return result;
}

/* Energy as numbers of the loop's own, for its row and the files. */
PERF_COLD_FN_ void perf_gpu_tell_energy_(perf_kept_loop_ *loop, const perf_gpu_result *result)
{
    static const char *const name[] = {"joules", "watts", "celsius", "busy %"};
    const double value[] = {result->joules, result->watts, result->celsius, result->busy};
    double      *place;
    int          i;

    for (i = 0; i < 4 && result->joules > 0.0; i++) {
        if (!(value[i] > 0.0))
            continue;
        place = perf_told_place_(loop, name[i]);
        if (place)
            *place = value[i];
    }
}

/* The loop's result is known: the device gets back what was taken, the report shows `result`. */
PERF_COLD_FN_ void perf_gpu_loop_done_(perf_gpu_loop_state_ *loop, const char *text,
                                    const void *result)
{
    perf_loop_state_ *host = loop->host;

    perf_gpu_release_(loop);
    loop->state->phase = PERF_LOOP_DONE_;
    memcpy(loop->note, text, sizeof loop->note);
    perf_loop_done_(loop->state, result);
    if (!host || host->status != PERF_OK)       /* perf_bench_fail() */
        return;
    host->result = loop->state->result;
    host->loop.note = loop->note;
    host->loop.step_ns = loop->state->loop.step_ns;
    memcpy(host->loop.device, loop->state->loop.device, sizeof host->loop.device);
    host->arm = loop->state->arm;
    perf_loop_done_(host, &host->result);
}

PERF_END_DECLS
#endif /* PERF_GPU_BENCH_H */
