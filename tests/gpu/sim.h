/* A simulated GPU behind the table of perf_cuda.h: two devices, asynchronous streams, a virtual
 * clock, stream capture, memory, and faults on request.
 *
 *     sim_start();                          // a fresh machine, installed with perf_gpu_use()
 *     void *stream = sim_stream(0);         // on device 0, whose context is now current
 *     PERF_GPU_SCOPE("k", stream);
 *     sim_work(stream, 10000);              // a kernel of 10 us; the launch costs the host 2.5 us
 *
 * Time is virtual: sim.now is the host's clock in ns.  It moves by sim.cost[...] with each call of
 * the API, when a call waits for the device, and by sim_host(ns), which is host code that runs.
 * Compile with -DPERF_CLOCK_FN=sim_clock to have perf_now() and scopes run on it too.  A device's
 * clock is the host's with an offset and a drift, cut to sim.quantum_ns.  Items of a stream run
 * one after the other, each no earlier than sim.latency_ns after it was submitted.
 * One lock around every call: any thread may call.  Counters, see struct sim_state, may be read
 * and set at will between calls.
 *
 * sim_start_real() is a second machine, with the same rules and real time: sim.now is the system's
 * clock, a call that costs or waits does so, and threads really run beside each other.           */
#ifndef SIM_H
#define SIM_H
#include <stdint.h>

/* In front of perf.h, for PERF_CLOCK_FN. */
static inline uint64_t sim_clock(void);

#include "../../perf_cuda.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* The functions of the table: enum sim_fn, and what counters and faults are indexed with. */
#define SIM_LIST(X)                                                                               \
    X(ctx_get) X(event_create) X(event_destroy) X(event_record) X(event_query) X(event_sync)      \
    X(event_elapsed) X(stream_query) X(stream_sync) X(ctx_set)                                    \
    X(ctx_device) X(stream_ctx) X(device_attribute) X(stream_capturing) X(capture_mode)           \
    X(capture_begin) X(capture_end) X(graph_instantiate) X(graph_launch) X(graph_exec_destroy)    \
    X(graph_destroy) X(event_record_flags) X(host_func)                                           \
    X(mem_info) X(mem_alloc) X(mem_free) X(host_alloc) X(host_free) X(host_address)               \
    X(fill) X(pool_get) X(pool_value) X(module_load) X(module_unload) X(module_function)          \
    X(launch) X(error_name) X(error_text) X(device_clock) X(ctx_id) X(ctx_record)                 \
    X(mem_alloc_on) X(mem_free_on) X(error_waits) X(pool_set)                             \
    X(ctx_limit) X(l2_release) X(device_name) X(device_meter) X(profiler_start) X(profiler_stop)
/* And what only programs call. */
#define SIM_ALL(X)                                                                                \
    SIM_LIST(X) X(device_count) X(stream_create) X(stream_destroy) X(stream_wait)
#define SIM_ENUM(f) SIM_##f,
typedef enum sim_fn { SIM_ALL(SIM_ENUM) SIM_FUNCTIONS } sim_fn;

#define SIM_DEVICES 2

typedef enum sim_what {
    SIM_ITEM_WORK, SIM_ITEM_RECORD, SIM_ITEM_WAIT_EVENT, SIM_ITEM_WAIT_VALUE,
    SIM_ITEM_GATE, SIM_ITEM_HOST, SIM_ITEM_FILL
} sim_what;

typedef struct sim_event sim_event;
typedef struct sim_item {
    sim_what  what;
    uint64_t  ready;            /* submitted + latency, host ns: not before this */
    uint64_t  ns;               /* duration; of a gate: how long it holds at most */
    sim_event *event;
    uint64_t  round;            /* the record of the event that is meant */
    uint64_t  address, from, bytes;
    uint32_t  value;
    void    (*fn)(void *);
    void     *user;
} sim_item;

typedef struct sim_items {
    sim_item *item;
    size_t    count, room, done;
} sim_items;

typedef struct sim_ctx {
    int               device;
    unsigned long long id;
    struct sim_stream *fallback[3];     /* what NULL (and 1) and 2 mean */
} sim_ctx;

typedef struct sim_stream {
    uint32_t  magic;            /* SIM_STREAM_MAGIC while alive */
    sim_ctx  *ctx;
    uint64_t  idle;             /* host ns at which all resolved items are done */
    sim_items queue;            /* items behind a closed gate */
    int       capturing;        /* 0 no, 1 yes, 2 spoilt */
    int       mode;
    unsigned  flags;
    struct sim_graph *graph;
    struct sim_stream *next;
} sim_stream;
#define SIM_STREAM_MAGIC 0x57e4a11u
#define SIM_EVENT_MAGIC  0xe7e47u

struct sim_event {
    uint32_t magic;
    sim_ctx *ctx;
    unsigned flags;
    uint64_t submitted, resolved;       /* records so far, and those whose time is known */
    uint64_t at;                /* host ns */
    int      whole;             /* of ctx_record: `at` is when all of its context is done */
    unsigned long long born;    /* id of its context at the time */
    sim_stream *captured;       /* recorded into this stream's capture */
};

typedef struct sim_graph {
    sim_items items;
} sim_graph;

typedef struct sim_allocation {
    uint64_t address, bytes;
    int      device;
    struct sim_allocation *next;
} sim_allocation;

typedef struct sim_fault {
    uint64_t left;              /* fails the left-th call from now; 0: none */
    int      code, sticky;      /* sticky 1: so does every call from then on; 2: shut down */
} sim_fault;

/* All of the machine. */
static struct sim_state {
    /* settings */
    uint64_t cost[SIM_FUNCTIONS];       /* host ns a call */
    uint64_t launch_ns;         /* host ns of sim_work() */
    int      real;              /* real time; see sim_start_real() */
    int      serial;            /* each launch waits for its end, as with CUDA_LAUNCH_BLOCKING=1 */
    size_t   queue;             /* a stream holds so many launches, then the next one waits; 0: any */
    int      unread;            /* what error_waits answers; any other call wipes it */
    int      no_current;        /* 1: records need their context current, as nothing promises */
    uint64_t latency_ns;        /* from the submission to the start on an idle stream */
    uint64_t quantum_ns;        /* step of the event clock */
    int64_t  offset_ns[SIM_DEVICES];    /* device clock - host clock */
    double   drift_ppm[SIM_DEVICES];
    uint64_t memory[SIM_DEVICES];       /* bytes of each device                                     */
    double   copy_gbs;          /* GB/s of copy and fill                                            */
    unsigned sm_mhz;            /* what device_clock answers                                        */
    uint64_t throttle;
    double   watts;             /* what it takes; 0: device_meter fails.  The joules are counted up */
    uint64_t meter_ns;          /* in steps of so long */
    int      profiled;          /* 1: between profiler_start and profiler_stop */
    sim_fault fault[SIM_FUNCTIONS];
    int      sticky;            /* every call answers this; 0: none */
    int      down;              /* shut down: every call answers 4 */
    /* Kernels launched through the table: returns the duration in ns; may fill *item.  NULL: the
     * built-in ones, perf_gate(flag, out, ns) and perf_sweep(base, vectors), others take 1 us.    */
    uint64_t (*kernel)(const char *name, void **parameters, sim_item *item);
    /* counters */
    uint64_t calls[SIM_FUNCTIONS];
    uint64_t calls_down;        /* made after the shut-down */
    uint64_t wrong_context;     /* an event used with a stream or event of another context */
    uint64_t bad_handle;        /* dead streams and events */
    uint64_t spoilt;            /* captures that somebody's call invalidated */
    uint64_t surfaced[1000];    /* how often each code below 1000 was answered */
    uint64_t deadlocks;         /* waits that no one could have ended */
    uint64_t stale;             /* handles of before a reset of their device */
    uint64_t wiped;             /* errors of the program that a call has wiped */
    uint64_t contexts;          /* made, all by the test itself */
    int64_t  events, streams, graphs, allocations, modules, bytes;      /* alive */
    uint64_t most_events;
    /* private */
    uint64_t now;
    uint32_t lock;
    unsigned long long contexts_made;
    sim_ctx *ctx[SIM_DEVICES];
    sim_stream *list;
    sim_allocation *memory_list;
    uint64_t used[SIM_DEVICES], used_high[SIM_DEVICES];
    void    *pool[SIM_DEVICES];
    size_t   persisting;        /* bytes of L2 that the program set apart */
} sim;

static __thread sim_ctx *sim_stack[16];
static __thread int sim_depth;
static __thread int sim_mode;           /* 0 global, 1 thread local, 2 relaxed */

static inline uint64_t sim_clock(void)
{
    return __atomic_load_n(&sim.now, __ATOMIC_RELAXED);
}

static inline void sim_enter_lock(void)
{
    uint32_t free_ = 0;
    while (!__atomic_compare_exchange_n(&sim.lock, &free_, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free_ = 0;
        if (sim.real)
            (void)sched_yield();
    }
}

/* The real clock, and what a call costs on it. */
static inline uint64_t sim_real_ns(void)
{
    return perf_now();
}

static inline void sim_spend(uint64_t ns)
{
    const uint64_t until = ns ? sim_real_ns() + ns : 0;
    while (ns && sim_real_ns() < until) {
    }
}

/* With the lock held: the host's clock after `cost`, or what it is by itself. */
static inline void sim_pass(uint64_t cost)
{
    __atomic_store_n(&sim.now, sim.real ? sim_real_ns() : sim.now + cost, __ATOMIC_RELAXED);
}

static inline int sim_leave(int code)
{
    if (code >= 0 && code < 1000)
        sim.surfaced[code]++;
    __atomic_store_n(&sim.lock, 0, __ATOMIC_RELEASE);
    return code;
}

static inline void sim_add(sim_items *q, const sim_item *item)
{
    if (q->done == q->count)
        q->done = q->count = 0;
    if (q->count == q->room) {
        q->room = q->room ? 2 * q->room : 16;
        q->item = (sim_item *)realloc(q->item, q->room * sizeof *q->item);
    }
    q->item[q->count++] = *item;
}

/* Tries to run one item of a stream; 0: it has to wait. */
static inline int sim_run(sim_stream *s, sim_item *i)
{
    uint64_t at = s->idle > i->ready ? s->idle : i->ready;

    switch (i->what) {
    case SIM_ITEM_WORK:
        at += i->ns;
        break;
    case SIM_ITEM_RECORD:
        i->event->resolved = i->round;
        i->event->at = at;
        break;
    case SIM_ITEM_WAIT_EVENT:
        if (i->event->resolved < i->round)
            return 0;
        at = i->event->at > at ? i->event->at : at;
        break;
    case SIM_ITEM_WAIT_VALUE:
        if (at > sim.now)       /* not there yet: what will the word say then? */
            return 0;
        if ((int32_t)(__atomic_load_n((uint32_t *)(uintptr_t)i->address, __ATOMIC_ACQUIRE) - i->value) < 0)
            return 0;
        at = sim.now;
        break;
    case SIM_ITEM_GATE:
        if (at > sim.now)
            return 0;
        if (sim.now >= at + i->ns) {
            at += i->ns;
            if (i->from)
                *(uint32_t *)(uintptr_t)i->from = 2;
        } else if (__atomic_load_n((uint32_t *)(uintptr_t)i->address, __ATOMIC_ACQUIRE)) {
            at = sim.now;
            if (i->from)
                *(uint32_t *)(uintptr_t)i->from = 1;
        } else {
            return 0;
        }
        break;
    case SIM_ITEM_HOST:
        if (at > sim.now)
            return 0;
        i->fn(i->user);
        break;
    case SIM_ITEM_FILL:
        memset((void *)(uintptr_t)i->address, (int)i->value, i->bytes);
        at += i->ns;
        break;
    }
    s->idle = at;
    return 1;
}

/* Whatever can happen by now. */
static inline void sim_pump(void)
{
    int         moved;
    sim_stream *s;

    do {
        moved = 0;
        for (s = sim.list; s; s = s->next)
            while (s->queue.done < s->queue.count && sim_run(s, &s->queue.item[s->queue.done])) {
                s->queue.done++;
                moved = 1;
            }
    } while (moved);
}

/* When all that a context holds is done, as far as that is known; ~0: it is not. */
static inline uint64_t sim_ctx_done(const sim_ctx *ctx)
{
    const sim_stream *s;
    uint64_t          at = 0;

    for (s = sim.list; s; s = s->next)
        if (s->ctx == ctx) {
            if (s->queue.done < s->queue.count)
                return UINT64_MAX;
            at = s->idle > at ? s->idle : at;
        }
    return at;
}

/* Lets time pass until `*until` items of the stream are through, or the event is; 0: it never is. */
static inline int sim_wait(const sim_stream *s, const sim_event *e)
{
    for (;;) {
        uint64_t    next = UINT64_MAX, at;
        sim_stream *other;

        sim_pump();
        if (s ? s->queue.done == s->queue.count : e->resolved >= e->submitted) {
            at = s ? s->idle : e->at;
            if (sim.now >= at)
                return 1;
            if (!sim.real) {
                if (at > UINT64_MAX / 2) {
                    sim.deadlocks++;
                    return 0;
                }
                __atomic_store_n(&sim.now, at, __ATOMIC_RELAXED);
                return 1;
            }
        }
        for (other = sim.list; other; other = other->next)
            if (other->queue.done < other->queue.count) {
                const sim_item *i = &other->queue.item[other->queue.done];
                at = other->idle > i->ready ? other->idle : i->ready;
                if (i->what == SIM_ITEM_GATE && at <= sim.now)
                    at += i->ns;
                if (at > sim.now && at < next)
                    next = at;
            }
        if (sim.real) {
            (void)sim_leave(-1);
            (void)sched_yield();
            sim_enter_lock();
            sim_pass(0);
            continue;
        }
        if (next == UINT64_MAX) {
            sim.deadlocks++;
            return 0;
        }
        __atomic_store_n(&sim.now, next, __ATOMIC_RELAXED);
    }
}

static inline void sim_spoil_captures(int from_query)
{
    sim_stream *s;

    for (s = sim.list; s; s = s->next)
        if (s->capturing == 1 && from_query && s->mode == 0 && sim_mode != 2) {
            s->capturing = 2;
            sim.spoilt++;
        }
}

/* A global-mode capture anywhere and a thread that is not relaxed: the call is refused, and ruins
 * the capture, as cudaEventQuery does. */
static inline int sim_unsafe(void)
{
    uint64_t before = sim.spoilt;

    sim_spoil_captures(1);
    return sim.spoilt > before ? 900 : 0;
}

#define SIM_ENTER(f)                                                                              \
    if (sim.real)                                                                                 \
        sim_spend(sim.cost[SIM_##f]);                                                             \
    sim_enter_lock();                                                                             \
    (void)__atomic_fetch_add(&sim.calls[SIM_##f], 1, __ATOMIC_RELAXED);                          \
    sim_pass(sim.cost[SIM_##f]);                                                                  \
    if (sim.unread && SIM_##f != SIM_error_waits) {                                               \
        sim.unread = 0;                                                                           \
        sim.wiped++;                                                                              \
    }                                                                                             \
    if (sim.down) {                                                                               \
        sim.calls_down++;                                                                         \
        return sim_leave(4);                                                                      \
    }                                                                                             \
    if (sim.fault[SIM_##f].left && !--sim.fault[SIM_##f].left) {                                  \
        if (sim.fault[SIM_##f].sticky > 1)                                                        \
            sim.down = 1;                                                                         \
        else if (sim.fault[SIM_##f].sticky)                                                       \
            sim.sticky = sim.fault[SIM_##f].code;                                                 \
        return sim_leave(sim.fault[SIM_##f].code);                                                \
    }                                                                                             \
    if (sim.sticky)                                                                               \
        return sim_leave(sim.sticky);                                                             \
    sim_pump()

static inline sim_ctx *sim_current(void)
{
    return sim_depth ? sim_stack[sim_depth - 1] : NULL;
}

/* The stream behind a handle; NULL: dead, or no context. */
static inline sim_stream *sim_of(void *stream)
{
    sim_ctx    *c = sim_current();
    sim_stream *s = (sim_stream *)stream;

    if ((uintptr_t)stream <= 2)
        return c ? c->fallback[(uintptr_t)stream == 2] : NULL;
    for (s = sim.list; s && s != stream; s = s->next) {
    }
    if (!s || s->magic != SIM_STREAM_MAGIC) {
        sim.bad_handle++;
        return NULL;
    }
    return s;
}

static inline int sim_event_ok(void *event)
{
    if (event && ((sim_event *)event)->magic == SIM_EVENT_MAGIC) {
        if (((sim_event *)event)->born == ((sim_event *)event)->ctx->id)
            return 1;
        sim.stale++;
        return 0;
    }
    sim.bad_handle++;
    return 0;
}

/* Into the stream, or into the graph that it captures. */
static inline int sim_submit(void *stream, sim_item *item)
{
    sim_stream *s = sim_of(stream), *other;

    if (!s)
        return sim_current() ? 400 : 201;
    if (s->capturing == 2)
        return 901;
    if (s->capturing) {
        sim_add(&s->graph->items, item);
        return 0;
    }
    if ((uintptr_t)stream < 2)
        for (other = sim.list; other; other = other->next)
            if (other->capturing == 1 && other->ctx == s->ctx && !(other->flags & 1)) {
                other->capturing = 2;
                sim.spoilt++;
                return 906;
            }
    if (sim.queue)
        while (s->queue.count - s->queue.done >= sim.queue && !sim.sticky) {   /* full: a launch waits */
            if (sim.real) {
                (void)sim_leave(-1);
                (void)sched_yield();
                sim_enter_lock();
            }
            sim_pass(1000);
            sim_pump();
        }
    item->ready = sim.now + sim.latency_ns;
    if (s->queue.done < s->queue.count || !sim_run(s, item))
        sim_add(&s->queue, item);
    return 0;
}

/* ---- the table's functions ---- */

static inline int sim_ctx_get(void **ctx)
{
    SIM_ENTER(ctx_get);
    *ctx = sim_current();
    return sim_leave(0);
}

static inline int sim_ctx_id(void *ctx, unsigned long long *id)
{
    SIM_ENTER(ctx_id);
    if (!ctx && !sim_current())
        return sim_leave(201);
    *id = ctx ? ((sim_ctx *)ctx)->id : sim_current()->id;
    return sim_leave(*id ? 0 : 709);
}

static inline int sim_error_waits(void)
{
    SIM_ENTER(error_waits);
    return sim_leave(sim.unread);
}

static inline int sim_ctx_set(void *ctx)
{
    SIM_ENTER(ctx_set);
    if (!sim_depth)
        sim_depth = 1;
    sim_stack[sim_depth - 1] = (sim_ctx *)ctx;
    if (!ctx)
        sim_depth--;
    return sim_leave(0);
}

static inline int sim_ctx_device(int *device)
{
    SIM_ENTER(ctx_device);
    if (!sim_current())
        return sim_leave(201);
    *device = sim_current()->device;
    return sim_leave(0);
}

static inline int sim_stream_ctx(void *stream, void **ctx)
{
    sim_stream *s;
    SIM_ENTER(stream_ctx);
    s = sim_of(stream);
    if (!s)
        return sim_leave(400);
    *ctx = s->ctx;
    return sim_leave(0);
}

static inline int sim_device_count(int *count)
{
    SIM_ENTER(device_count);
    *count = SIM_DEVICES;
    return sim_leave(0);
}

/* 13 clock kHz, 16 multiprocessors, 36 memory kHz, 37 bus bits, 38 bytes of L2, 75 and 76 version. */
static inline int sim_device_attribute(int *value, int attribute, int device)
{
    SIM_ENTER(device_attribute);
    if (device < 0 || device >= SIM_DEVICES)
        return sim_leave(101);
    *value = attribute == 13 ? 1980000 : attribute == 16 ? 132 : attribute == 36 ? 2619000
             : attribute == 37 ? 6144 : attribute == 38 ? 52428800 : attribute == 75 ? 9
             : attribute == 76 ? 0 : 1;
    return sim_leave(0);
}

static inline int sim_device_name(char *name, int cap, int device)
{
    SIM_ENTER(device_name);
    if (device < 0 || device >= SIM_DEVICES || cap < 1)
        return sim_leave(101);
    snprintf(name, (size_t)cap, "simulated device %d", device);
    return sim_leave(0);
}

static inline sim_stream *sim_stream_make(sim_ctx *ctx, unsigned flags)
{
    sim_stream *s = (sim_stream *)calloc(1, sizeof *s);
    s->magic = SIM_STREAM_MAGIC;
    s->ctx = ctx;
    s->flags = flags;
    s->next = sim.list;
    sim.list = s;
    return s;
}

static inline int sim_stream_create(void **stream, unsigned flags)
{
    SIM_ENTER(stream_create);
    if (!sim_current())
        return sim_leave(201);
    *stream = sim_stream_make(sim_current(), flags);
    sim.streams++;
    return sim_leave(0);
}

static inline void sim_graph_free(sim_graph *g)
{
    free(g->items.item);
    free(g);
    sim.graphs--;
}

/* What is in it still runs, as the driver promises: at once, here. */
static inline int sim_stream_destroy(void *stream)
{
    sim_stream **p, *s;
    SIM_ENTER(stream_destroy);
    s = sim_of(stream);
    if (!s || (uintptr_t)stream <= 2)
        return sim_leave(400);
    for (p = &sim.list; *p != s; p = &(*p)->next) {
    }
    *p = s->next;
    if (s->graph)
        sim_graph_free(s->graph);
    s->magic = 0;
    free(s->queue.item);
    free(s);
    sim.streams--;
    return sim_leave(0);
}

static inline int sim_stream_query(void *stream)
{
    sim_stream *s;
    int         code;
    SIM_ENTER(stream_query);
    s = sim_of(stream);
    if (!s)
        return sim_leave(400);
    code = sim_unsafe();
    if (code || s->capturing)
        return sim_leave(900);
    return sim_leave(s->queue.done < s->queue.count || s->idle > sim.now ? 600 : 0);
}

static inline int sim_stream_sync(void *stream)
{
    sim_stream *s;
    SIM_ENTER(stream_sync);
    s = sim_of(stream);
    if (!s)
        return sim_leave(400);
    if (sim_unsafe() || s->capturing)
        return sim_leave(900);
    return sim_leave(sim_wait(s, NULL) ? 0 : 702);
}

static inline int sim_stream_wait(void *stream, void *event, unsigned flags)
{
    sim_item i;
    SIM_ENTER(stream_wait);
    (void)flags;
    if (!sim_event_ok(event))
        return sim_leave(400);
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_WAIT_EVENT;
    i.event = (sim_event *)event;
    i.round = i.event->submitted;
    return sim_leave(sim_submit(stream, &i));
}

static inline int sim_stream_capturing(void *stream, int *status)
{
    sim_stream *s, *other;
    SIM_ENTER(stream_capturing);
    s = sim_of(stream);
    if (!s)
        return sim_leave(400);
    if ((uintptr_t)stream < 2)
        for (other = sim.list; other; other = other->next)
            if (other->capturing && other->ctx == s->ctx && !(other->flags & 1))
                return sim_leave(906);
    *status = s->capturing;
    return sim_leave(0);
}

static inline int sim_capture_mode(int *mode)
{
    int before;
    SIM_ENTER(capture_mode);
    before = sim_mode;
    sim_mode = *mode;
    *mode = before;
    return sim_leave(0);
}

static inline int sim_capture_begin(void *stream, int mode)
{
    sim_stream *s;
    SIM_ENTER(capture_begin);
    s = sim_of(stream);
    if (!s || (uintptr_t)stream < 2)
        return sim_leave(s ? 900 : 400);
    if (s->capturing)
        return sim_leave(900);
    s->capturing = 1;
    s->mode = mode;
    s->graph = (sim_graph *)calloc(1, sizeof *s->graph);
    sim.graphs++;
    return sim_leave(0);
}

static inline int sim_capture_end(void *stream, void **graph)
{
    sim_stream *s;
    SIM_ENTER(capture_end);
    s = sim_of(stream);
    if (!s || !s->capturing)
        return sim_leave(s ? 900 : 400);
    if (s->capturing == 2) {
        sim_graph_free(s->graph);
        *graph = NULL;
    } else {
        *graph = s->graph;
    }
    s->graph = NULL;
    if (s->capturing == 2) {
        s->capturing = 0;
        return sim_leave(901);
    }
    s->capturing = 0;
    return sim_leave(0);
}

static inline int sim_graph_instantiate(void **exec, void *graph, unsigned long long flags)
{
    sim_graph *g, *from = (sim_graph *)graph;
    size_t     i;
    SIM_ENTER(graph_instantiate);
    (void)flags;
    if (!graph)
        return sim_leave(1);
    g = (sim_graph *)calloc(1, sizeof *g);
    for (i = 0; i < from->items.count; i++)
        sim_add(&g->items, &from->items.item[i]);
    sim.graphs++;
    *exec = g;
    return sim_leave(0);
}

static inline int sim_graph_launch(void *exec, void *stream)
{
    sim_graph *g = (sim_graph *)exec;
    size_t     i;
    int        code = 0;
    SIM_ENTER(graph_launch);
    if (!exec)
        return sim_leave(1);
    for (i = 0; i < g->items.count && !code; i++) {
        sim_item item = g->items.item[i];
        if (item.what == SIM_ITEM_RECORD)
            item.round = ++item.event->submitted;
        code = sim_submit(stream, &item);
    }
    if (sim.serial && !code)
        (void)sim_wait(sim_of(stream), NULL);
    return sim_leave(code);
}

static inline int sim_graph_exec_destroy(void *exec)
{
    SIM_ENTER(graph_exec_destroy);
    if (!exec)
        return sim_leave(1);
    sim_graph_free((sim_graph *)exec);
    return sim_leave(0);
}

static inline int sim_graph_destroy(void *graph)
{
    SIM_ENTER(graph_destroy);
    if (!graph)
        return sim_leave(1);
    sim_graph_free((sim_graph *)graph);
    return sim_leave(0);
}

static inline int sim_event_create(void **event, unsigned flags)
{
    sim_event *e;
    SIM_ENTER(event_create);
    if (!sim_current())
        return sim_leave(201);
    e = (sim_event *)calloc(1, sizeof *e);
    e->magic = SIM_EVENT_MAGIC;
    e->ctx = sim_current();
    e->born = e->ctx->id;
    e->flags = flags;
    *event = e;
    if ((uint64_t)++sim.events > sim.most_events)
        sim.most_events = (uint64_t)sim.events;
    return sim_leave(0);
}

static inline int sim_event_destroy(void *event)
{
    SIM_ENTER(event_destroy);
    if (!sim_event_ok(event))
        return sim_leave(400);
    ((sim_event *)event)->magic = 0;
    sim.events--;
    free(event);
    return sim_leave(0);
}

static inline int sim_record(void *event, void *stream, unsigned flags)
{
    sim_event  *e = (sim_event *)event;
    sim_stream *s = sim_of(stream);
    sim_item    i;

    if (!sim_event_ok(event) || !s)
        return s || sim_current() ? 400 : 201;
    if (sim.no_current && !sim_current())
        return 201;
    if (e->ctx != s->ctx) {
        sim.wrong_context++;
        return 400;
    }
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_RECORD;
    i.event = e;
    if (s->capturing == 1 && !(flags & 1)) {
        e->captured = s;
        return 0;
    }
    if (!s->capturing) {
        i.round = ++e->submitted;
        e->captured = NULL;
    }
    return sim_submit(stream, &i);
}

static inline int sim_event_record(void *event, void *stream)
{
    SIM_ENTER(event_record);
    return sim_leave(sim_record(event, stream, 0));
}

static inline int sim_event_record_flags(void *event, void *stream, unsigned flags)
{
    SIM_ENTER(event_record_flags);
    return sim_leave(sim_record(event, stream, flags));
}

/* 907 for an event of a capture, which is ruined by it while it lasts. */
static inline int sim_captured(const sim_event *e)
{
    sim_stream *s;

    if (!e->captured)
        return 0;
    for (s = sim.list; s && s != e->captured; s = s->next) {
    }
    if (s && s->capturing == 1) {
        s->capturing = 2;
        sim.spoilt++;
    }
    return 907;
}

static inline int sim_event_query(void *event)
{
    sim_event *e = (sim_event *)event;
    int        code;
    SIM_ENTER(event_query);
    if (!sim_event_ok(event))
        return sim_leave(400);
    if ((code = sim_unsafe()) != 0 || (code = sim_captured(e)) != 0)
        return sim_leave(code);
    if (e->whole)
        return sim_leave(sim_ctx_done(e->ctx) > sim.now ? 600 : 0);
    return sim_leave(e->submitted && (e->resolved < e->submitted || e->at > sim.now) ? 600 : 0);
}

static inline int sim_event_sync(void *event)
{
    sim_event *e = (sim_event *)event;
    int        code;
    SIM_ENTER(event_sync);
    if (!sim_event_ok(event))
        return sim_leave(400);
    if ((code = sim_unsafe()) != 0 || (code = sim_captured(e)) != 0)
        return sim_leave(code);
    return sim_leave(sim_wait(NULL, e) ? 0 : 702);
}

/* The device's clock at a moment of the host's, in ns, cut to the quantum. */
static inline double sim_device_ns(int device, uint64_t at)
{
    double  drift = (double)at * sim.drift_ppm[device] * 1e-6;
    int64_t t = (int64_t)at + sim.offset_ns[device] + (int64_t)drift;
    int64_t q = (int64_t)(sim.quantum_ns ? sim.quantum_ns : 1);

    return (double)(t / q * q);
}

static inline int sim_event_elapsed(float *ms, void *start, void *stop)
{
    sim_event *a = (sim_event *)start, *b = (sim_event *)stop;
    int        code;
    SIM_ENTER(event_elapsed);
    if (!sim_event_ok(start) || !sim_event_ok(stop))
        return sim_leave(400);
    if (a->ctx != b->ctx) {
        sim.wrong_context++;
        return sim_leave(400);
    }
    if ((code = sim_unsafe()) != 0 || (code = sim_captured(a)) != 0 || (code = sim_captured(b)) != 0)
        return sim_leave(code);
    if ((a->flags | b->flags) & 2 || !a->submitted || !b->submitted)
        return sim_leave(400);
    if (a->resolved < a->submitted || b->resolved < b->submitted || a->at > sim.now || b->at > sim.now)
        return sim_leave(600);
    *ms = (float)((sim_device_ns(b->ctx->device, b->at) - sim_device_ns(a->ctx->device, a->at)) * 1e-6);
    return sim_leave(0);
}

static inline int sim_host_func(void *stream, void (*fn)(void *), void *user)
{
    sim_item i;
    SIM_ENTER(host_func);
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_HOST;
    i.fn = fn;
    i.user = user;
    return sim_leave(sim_submit(stream, &i));
}

/* Work that runs until the word is at least `value`: what tests hold a stream back with. */
static inline int sim_wait_value32(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    sim_item i;

    (void)flags;
    sim_enter_lock();
    sim_pass(0);
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_WAIT_VALUE;
    i.address = address;
    i.value = value;
    return sim_leave(sim_submit(stream, &i));
}

static inline int sim_mem_info(size_t *free_bytes, size_t *total_bytes)
{
    int d;
    SIM_ENTER(mem_info);
    if (sim_unsafe())                           /* nothing promises that it is not */
        return sim_leave(900);
    if (!sim_current())
        return sim_leave(201);
    d = sim_current()->device;
    *free_bytes = (size_t)(sim.memory[d] - sim.used[d]);
    *total_bytes = (size_t)sim.memory[d];
    return sim_leave(0);
}

static inline int sim_take(uint64_t *address, size_t bytes)
{
    sim_allocation *a;
    void           *p;
    int             d;

    if (!sim_current())
        return 201;
    d = sim_current()->device;
    if (!bytes)
        return 1;
    if (bytes > sim.memory[d] - sim.used[d])
        return 2;
    p = bytes < (size_t)1 << 24 ? calloc(1, bytes) : malloc(1);     /* large ones: nothing behind  */
    a = (sim_allocation *)calloc(1, sizeof *a);
    a->address = (uint64_t)(uintptr_t)p;
    a->bytes = bytes;
    a->device = d;
    a->next = sim.memory_list;
    sim.memory_list = a;
    sim.used[d] += bytes;
    if (sim.used[d] > sim.used_high[d])
        sim.used_high[d] = sim.used[d];
    sim.allocations++;
    sim.bytes += (int64_t)bytes;
    *address = a->address;
    return 0;
}

static inline int sim_give(uint64_t address)
{
    sim_allocation **p, *a;

    for (p = &sim.memory_list; *p && (*p)->address != address; p = &(*p)->next) {
    }
    a = *p;
    if (!a)
        return 1;
    *p = a->next;
    sim.used[a->device] -= a->bytes;
    sim.bytes -= (int64_t)a->bytes;
    sim.allocations--;
    free((void *)(uintptr_t)a->address);
    free(a);
    return 0;
}

static inline int sim_mem_alloc(uint64_t *address, size_t bytes)
{
    SIM_ENTER(mem_alloc);
    return sim_leave(sim_take(address, bytes));
}

static inline int sim_mem_alloc_on(uint64_t *address, size_t bytes, void *stream)
{
    SIM_ENTER(mem_alloc_on);
    (void)stream;
    return sim_leave(sim_take(address, bytes));
}

/* Waits for all that the context holds. */
/* What frees may wait for all that the context has to do. */
static inline void sim_wait_all(void)
{
    sim_stream *s;

    for (s = sim.list; s; s = s->next)
        if (s->ctx == sim_current())
            (void)sim_wait(s, NULL);
}

static inline int sim_mem_free(uint64_t address)
{
    SIM_ENTER(mem_free);
    sim_wait_all();
    return sim_leave(sim_give(address));
}

static inline int sim_mem_free_on(uint64_t address, void *stream)
{
    sim_stream *s;
    SIM_ENTER(mem_free_on);
    s = sim_of(stream);
    if (s)
        (void)sim_wait(s, NULL);        /* nothing is left in it that could still use the memory */
    return sim_leave(s ? sim_give(address) : 400);
}

static inline int sim_ctx_record(void *ctx, void *event)
{
    sim_stream *s;
    SIM_ENTER(ctx_record);
    if (!sim_event_ok(event) || ((sim_event *)event)->ctx != ctx)
        return sim_leave(400);
    for (s = sim.list; s; s = s->next)
        if (s->ctx == ctx && s->capturing) {
            s->capturing = 2;
            sim.spoilt++;
            return sim_leave(900);
        }
    ((sim_event *)event)->whole = 1;
    ((sim_event *)event)->submitted++;
    ((sim_event *)event)->resolved++;
    return sim_leave(0);
}

static inline int sim_host_alloc(void **p, size_t bytes, unsigned flags)
{
    SIM_ENTER(host_alloc);
    (void)flags;
    *p = calloc(1, bytes ? bytes : 1);
    sim.allocations++;
    return sim_leave(0);
}

static inline int sim_host_free(void *p)
{
    SIM_ENTER(host_free);
    if (!p)
        return sim_leave(1);
    sim_wait_all();
    free(p);
    sim.allocations--;
    return sim_leave(0);
}

static inline int sim_host_address(uint64_t *address, void *p, unsigned flags)
{
    SIM_ENTER(host_address);
    (void)flags;
    *address = (uint64_t)(uintptr_t)p;
    return sim_leave(0);
}

/* Large allocations have nothing behind them: time passes, bytes do not move. */
static inline uint64_t sim_real(uint64_t address, size_t bytes)
{
    const sim_allocation *a;

    for (a = sim.memory_list; a; a = a->next)
        if (a->address <= address && address - a->address < a->bytes)
            return a->bytes < (uint64_t)1 << 24 && bytes <= a->bytes - (address - a->address) ? bytes : 0;
    return bytes;
}

static inline int sim_fill(uint64_t to, unsigned char byte, size_t bytes, void *stream)
{
    sim_item i;
    SIM_ENTER(fill);
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_FILL;
    i.address = to;
    i.value = byte;
    i.bytes = sim_real(to, bytes);
    i.ns = (uint64_t)((double)bytes / sim.copy_gbs);
    return sim_leave(sim_submit(stream, &i));
}

static inline int sim_pool_get(void **pool, int device)
{
    SIM_ENTER(pool_get);
    if (device < 0 || device >= SIM_DEVICES)
        return sim_leave(101);
    *pool = &sim.pool[device];
    return sim_leave(0);
}

static inline int sim_pool_value(void *pool, int what, void *value)
{
    size_t   d = (size_t)((void **)pool - sim.pool);
    uint64_t v;
    SIM_ENTER(pool_value);
    v = what == PERF_GPU_POOL_USED_HIGH ? sim.used_high[d]
                                                                               : sim.used[d];
    memcpy(value, &v, sizeof v);
    return sim_leave(0);
}

static inline int sim_pool_set(void *pool, int what, void *value)
{
    size_t   d = (size_t)((void **)pool - sim.pool);
    uint64_t v;
    SIM_ENTER(pool_set);
    memcpy(&v, value, sizeof v);
    if (v || what != PERF_GPU_POOL_USED_HIGH)
        return sim_leave(1);
    sim.used_high[d] = sim.used[d];
    return sim_leave(0);
}

static inline int sim_ctx_limit(size_t *value, int limit)
{
    SIM_ENTER(ctx_limit);
    *value = limit == 6 ? sim.persisting : 0;
    return sim_leave(0);
}

static inline int sim_l2_release(void)
{
    SIM_ENTER(l2_release);
    return sim_leave(0);
}

static inline int sim_module_load(void **module, const void *image)
{
    SIM_ENTER(module_load);
    if (!sim_current() || !image)
        return sim_leave(sim_current() ? 200 : 201);
    *module = malloc(1);
    sim.modules++;
    return sim_leave(0);
}

static inline int sim_module_unload(void *module)
{
    SIM_ENTER(module_unload);
    sim_wait_all();
    free(module);
    sim.modules--;
    return sim_leave(0);
}

/* A function is its name, kept for ever. */
static inline int sim_module_function(void **function, void *module, const char *name)
{
    static const char *known[64];
    size_t             i;
    SIM_ENTER(module_function);
    (void)module;
    for (i = 0; i < 64 && known[i] && strcmp(known[i], name); i++) {
    }
    if (i == 64)
        return sim_leave(500);
    if (!known[i])
        known[i] = name;        /* callers pass literals */
    *function = (void *)(uintptr_t)known[i];
    return sim_leave(0);
}

/* A launch that was accepted: with `serial` it comes back when it is done. */
static inline int sim_launched(void *stream, int code)
{
    sim_stream *s = sim.serial && !code ? sim_of(stream) : NULL;

    if (s && !s->capturing)
        (void)sim_wait(s, NULL);
    return code;
}

static inline int sim_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared_bytes, void *stream, void **parameters, void **extra)
{
    const char *name = (const char *)function;
    sim_item    i;
    SIM_ENTER(launch);
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared_bytes, (void)extra;
    if (!name)
        return sim_leave(400);
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_WORK;
    i.ns = 1000;
    if (sim.kernel) {
        i.ns = sim.kernel(name, parameters, &i);
    } else if (!strcmp(name, "perf_gate")) {
        i.what = SIM_ITEM_GATE;
        i.address = *(uint64_t *)parameters[0];
        i.from = *(uint64_t *)parameters[1];
        i.ns = *(uint64_t *)parameters[2];
    } else if (!strcmp(name, "perf_sweep")) {
        i.ns = (uint64_t)((double)*(uint64_t *)parameters[1] * 16 / sim.copy_gbs);
    }
    return sim_leave(sim_launched(stream, sim_submit(stream, &i)));
}

static inline int sim_error_name(int code, const char **text)
{
    SIM_ENTER(error_name);
    *text = code == 2 ? "SIM_ERROR_OUT_OF_MEMORY" : code == 4 ? "SIM_ERROR_DEINITIALIZED"
            : code == 400 ? "SIM_ERROR_INVALID_HANDLE" : code == 600 ? "SIM_ERROR_NOT_READY"
            : code == 700 ? "SIM_ERROR_ILLEGAL_ADDRESS" : "SIM_ERROR_OTHER";
    return sim_leave(0);
}

static inline int sim_error_text(int code, const char **text)
{
    SIM_ENTER(error_text);
    *text = code == 2 ? "out of memory (simulated)" : code == 4 ? "driver shutting down (simulated)"
            : code == 700 ? "an illegal memory access was encountered (simulated)"
                          : "a simulated error";
    return sim_leave(0);
}

/* cudaDeviceSynchronize(), of the tests themselves. */
static inline int sim_ctx_sync(void)
{
    sim_stream *s;
    int         ok = 1;

    sim_enter_lock();
    sim_pass(2000);
    for (s = sim.list; s; s = s->next)
        if (s->ctx == sim_current())
            ok = sim_wait(s, NULL) && ok;
    return sim_leave(ok ? 0 : 702);
}

static inline int sim_device_clock(int device, unsigned *sm_mhz, uint64_t *reasons)
{
    SIM_ENTER(device_clock);
    (void)device;
    *sm_mhz = sim.sm_mhz;
    *reasons = sim.throttle;
    return sim_leave(0);
}

static inline int sim_device_meter(int device, int what, double *value)
{
    SIM_ENTER(device_meter);
    (void)device;
    if (!(sim.watts > 0))
        return sim_leave(3);
    *value = what == 0 ? (double)(sim.now / sim.meter_ns * sim.meter_ns) * 1e-9 * sim.watts : what == 1 ? 61 : 98;
    return sim_leave(0);
}

static inline int sim_profiler_start(void)
{
    SIM_ENTER(profiler_start);
    sim.profiled = 1;
    return sim_leave(0);
}

static inline int sim_profiler_stop(void)
{
    SIM_ENTER(profiler_stop);
    sim.profiled = 0;
    return sim_leave(0);
}

/* ---- for tests ---- */

static inline perf_gpu_backend sim_table(void)
{
    perf_gpu_backend b;

    memset(&b, 0, sizeof b);
    b.size = sizeof b;
    b.flags = PERF_GPU_TABLE_SIMULATED;
    b.name = "simulated";
#define SIM_FIELD(f) b.f = sim_##f;
    SIM_LIST(SIM_FIELD)
#undef SIM_FIELD
    return b;
}

/* The context of a device, made the first time: only tests make contexts. */
static inline void *sim_context(int device)
{
    int i;

    if (!sim.ctx[device]) {
        sim_ctx *c = (sim_ctx *)calloc(1, sizeof *c);
        c->device = device;
        c->id = ++sim.contexts_made;
        sim.contexts++;
        sim.ctx[device] = c;
        for (i = 0; i < 2; i++)
            c->fallback[i] = sim_stream_make(c, 0);
    }
    return sim.ctx[device];
}

/* Makes a device's context the calling thread's only one; negative: none. */
static inline void sim_device(int device)
{
    sim_depth = 0;
    if (device >= 0)
        sim_stack[sim_depth++] = (sim_ctx *)sim_context(device);
}

/* A new stream of a device, whose context becomes current. */
static inline void *sim_stream_on(int device)
{
    sim_stream *s;

    sim_device(device);
    sim_enter_lock();
    s = sim_stream_make(sim_current(), 1);
    sim.streams++;
    (void)sim_leave(0);
    return s;
}
#define sim_stream(device) ((perf_stream)sim_stream_on(device))

/* A kernel of `ns`, launched as a user would: costs the host sim.launch_ns. */
static inline int sim_work(void *stream, uint64_t ns)
{
    sim_item i;

    if (sim.real)
        sim_spend(sim.launch_ns);
    sim_enter_lock();
    sim_pass(sim.launch_ns);
    if (sim.down || sim.sticky)
        return sim_leave(sim.down ? 4 : sim.sticky);
    sim_pump();
    memset(&i, 0, sizeof i);
    i.what = SIM_ITEM_WORK;
    i.ns = ns;
    return sim_leave(sim_launched(stream, sim_submit(stream, &i)));
}

/* cudaDeviceReset(): all handles of the device are dead; those made next look just the same. */
static inline void sim_device_reset(int device)
{
    sim_ctx    *c = sim.ctx[device];
    sim_stream *s;

    sim_enter_lock();
    c->id = ++sim.contexts_made;
    for (s = sim.list; s; s = s->next)
        if (s->ctx == c) {
            s->queue.done = s->queue.count = 0;
            s->capturing = 0;
            s->idle = sim.now;
        }
    (void)sim_leave(0);
}

/* Host code that runs for `ns`. */
static inline void sim_host(uint64_t ns)
{
    if (sim.real)
        sim_spend(ns);
    sim_enter_lock();
    sim_pass(ns);
    sim_pump();
    (void)sim_leave(0);
}

/* The n-th call of a function from now on answers `code`; sticky 1: and everything
 * after it; 2: the driver has ended with it. */
static inline void sim_fail(sim_fn f, uint64_t n, int code, int sticky)
{
    sim.fault[f].left = n;
    sim.fault[f].code = code;
    sim.fault[f].sticky = sticky;
}

/* Frees the machine.  Events, streams and the like that are still alive leak: read the counters. */
static inline void sim_stop(void)
{
    int d;

    (void)perf_gpu_use(NULL);
    while (sim.list) {
        sim_stream *s = sim.list;
        sim.list = s->next;
        free(s->queue.item);
        if (s->graph)
            sim_graph_free(s->graph);
        free(s);
    }
    for (d = 0; d < SIM_DEVICES; d++) {
        free(sim.ctx[d]);
        sim.ctx[d] = NULL;
    }
    sim_depth = 0;
    sim_mode = 0;
}

/* A fresh machine with the defaults of an H100 or so, no context current. */
static inline void sim_reset(void)
{
    static const uint64_t record_ns = 800;

    memset(&sim, 0, sizeof sim);
    sim.now = 1000000000;
    sim.cost[SIM_event_record] = record_ns;
    sim.cost[SIM_event_create] = 800;
    sim.cost[SIM_event_query] = 500;
    sim.cost[SIM_event_elapsed] = 500;
    sim.cost[SIM_stream_sync] = 2000;
    sim.cost[SIM_event_sync] = 2000;
    sim.cost[SIM_graph_launch] = 5000;
    sim.cost[SIM_launch] = 2500;
    sim.cost[SIM_ctx_get] = 10;
    sim.cost[SIM_stream_capturing] = 20;
    sim.launch_ns = 2500;
    sim.latency_ns = 3000;
    sim.quantum_ns = 32;
    sim.memory[0] = sim.memory[1] = UINT64_C(80) << 30;
    sim.copy_gbs = 3000;
    sim.sm_mhz = 1980;
    sim.watts = 300;
    sim.meter_ns = 50000000;
    sim.cost[SIM_device_meter] = 300000;
    sim.cost[SIM_ctx_id] = 10;
    sim.cost[SIM_ctx_record] = 2000;
    sim.cost[SIM_device_clock] = 20000;
    sim.offset_ns[0] = 123456789;
    sim.offset_ns[1] = -987654321;
    sim_depth = 0;
    sim_mode = 0;
}

/* The same, installed for perf_cuda.h. */
static inline void sim_start(void)
{
    static perf_gpu_backend table;

    sim_reset();
    table = sim_table();
    table.error_waits = NULL;           /* tests that want it set it */
    (void)perf_gpu_use(&table);
}

/* Real time: not with PERF_CLOCK_FN. */
static inline void sim_start_real(void)
{
    sim_start();
    sim.real = 1;
    sim_pass(0);
}

#endif /* SIM_H */
