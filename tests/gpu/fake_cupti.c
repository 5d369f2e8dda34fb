/* A stand-in for libcupti.so.13 of CUDA 13.0, written from the structs of its cupti_activity.h (Kernel10,
 * Memcpy6, Memset4, MemcpyPtoP4) and cupti_callbacks.h.  -DCUPTI_HEADERS checks them against the headers.
 * Its clock stands still until fake_advance(), so that each time is exact.
 * FAKE_CUPTI: taken (another profiler; with ", CUDA 10" or 13.3 as those say it), nothing (no device), denied (no
 * rights), worker (records come on a thread of its own). */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((__visibility__("default")))
#define RECORD __attribute__((__packed__, __aligned__(8)))

typedef struct RECORD kernel_record {
    uint32_t    kind;
    uint8_t     cache_config, shared_config;
    uint16_t    registers;
    uint32_t    partitioned[2];
    uint64_t    start, end, completed;
    uint32_t    device, context, stream;
    int32_t     grid[3], block[3], static_shared, dynamic_shared;
    uint32_t    local_per_thread, local_total, correlation;
    int64_t     grid_id;
    const char *name;
    void       *reserved;
    uint64_t    queued, submitted;
    uint8_t     launch_type, carveout[2], padding;
    uint32_t    shared_executed;
    uint64_t    graph_node;
    uint32_t    limits, graph;
    void       *window;
    uint32_t    channel, channel_type, cluster[3], scheduling;
    uint64_t    local_total_v2;
    uint32_t    clusters[2];
    uint8_t     device_launched, padding3[7];
} kernel_record;

typedef struct RECORD copy_record {
    uint32_t kind;
    uint8_t  copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, pad;
    void    *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t  device_launched, pad2[3];
    uint64_t copies;
} copy_record;

typedef struct RECORD fill_record {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t pad;
    void    *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t  device_launched, pad2[3];
} fill_record;

typedef struct RECORD peer_record {
    uint32_t kind;
    uint8_t  copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, from_device, from_context, to_device, to_context, correlation;
    void    *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
} peer_record;

typedef struct call_data {
    uint32_t    site;
    const char *function;
    const void *parameters;
    void       *result;
    const char *symbol;
    void       *context;
    uint32_t    context_number;
    uint64_t   *data;
    uint32_t    correlation;
} call_data;

#if defined(CUPTI_HEADERS)
#include <stddef.h>
#include <cupti_result.h>
#include <cupti_callbacks.h>
#include <cupti_activity.h>
#define SAME(ours, field, theirs, member)                                                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, member), #theirs "." #member)
SAME(kernel_record, start, CUpti_ActivityKernel10, start);
SAME(kernel_record, name, CUpti_ActivityKernel10, name);
SAME(kernel_record, graph, CUpti_ActivityKernel10, graphId);
SAME(kernel_record, device_launched, CUpti_ActivityKernel10, isDeviceLaunched);
SAME(copy_record, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME(copy_record, copies, CUpti_ActivityMemcpy6, copyCount);
SAME(fill_record, correlation, CUpti_ActivityMemset4, correlationId);
SAME(peer_record, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(call_data, correlation, CUpti_CallbackData, correlationId);
_Static_assert(sizeof(kernel_record) == sizeof(CUpti_ActivityKernel10), "CUpti_ActivityKernel10");
_Static_assert(sizeof(copy_record) == sizeof(CUpti_ActivityMemcpy6), "CUpti_ActivityMemcpy6");
_Static_assert(sizeof(fill_record) == sizeof(CUpti_ActivityMemset4), "CUpti_ActivityMemset4");
_Static_assert(sizeof(peer_record) == sizeof(CUpti_ActivityMemcpyPtoP4), "CUpti_ActivityMemcpyPtoP4");
_Static_assert(sizeof(call_data) == sizeof(CUpti_CallbackData), "CUpti_CallbackData");
#else

typedef void called(void *, int, uint32_t, const void *);
typedef void room(uint8_t **, size_t *, size_t *);
typedef void filled(void *, uint32_t, uint8_t *, size_t, size_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static called  *subscriber;
static void    *subscriber_data;
static int      domains, kinds, ended;
static room    *ask;
static filled  *give;
static size_t   lost;
static uint64_t clock_ns = UINT64_C(1700000000000000000);
static uint32_t correlations;
static uint8_t *buffer;                 /* records that wait for a flush */
static size_t   size, used;
static int      flushes, held;
static void   (*meanwhile)(void), (*interrupts)(void);
static pid_t    owner;
static int      readable = -1;          /* records, then one that is not; -1: all */

static int is(const char *mode)
{
    const char *asked = getenv("FAKE_CUPTI");

    if (subscriber && owner != getpid()) {
        fprintf(stderr, "CUPTI was called in a forked child\n");
        _exit(4);
    }
    if (ended) {
        fprintf(stderr, "CUPTI was called after its end\n");
        _exit(3);
    }
    return asked && !strcmp(asked, mode);
}

__attribute__((__destructor__)) static void end(void)
{
    ended = 1;
}

EXPORT int cuptiSubscribe(void **handle, called *callback, void *data)
{
    if (is("taken") || subscriber)
        return 39;
    if (is("taken, CUDA 10"))
        return 12;
    if (is("nothing"))
        return 15;
    owner = getpid();
    subscriber = callback;
    subscriber_data = data;
    *handle = &subscriber;
    return 0;
}

EXPORT int cuptiUnsubscribe(void *handle)
{
    if (is("?") || handle != &subscriber || !subscriber)
        return 1;
    subscriber = NULL;
    domains = 0;
    return 0;
}

EXPORT int cuptiEnableDomain(uint32_t on, void *handle, int domain)
{
    if (is("?") || handle != &subscriber)
        return 1;
    domains = on ? domains | 1 << domain : domains & ~(1 << domain);
    return 0;
}

static void keep(const void *record, size_t bytes);

EXPORT int cuptiActivityEnable(int kind)
{
    kernel_record k;

    if (is("denied") && kind == 1) {            /* another thread has launched a kernel meanwhile */
        memset(&k, 0, sizeof k);
        k.kind = 10;
        k.start = k.end = 1;
        keep(&k, sizeof k);
        return 35;
    }
    kinds |= 1 << kind;
    return 0;
}

EXPORT int cuptiActivityDisable(int kind)
{
    kinds &= ~(1 << kind);
    return is("?");
}

EXPORT int cuptiActivityRegisterCallbacks(room *request, filled *completed)
{
    if (is("taken, CUDA 13.3"))
        return 14;
    ask = request;
    give = completed;
    return is("?");
}

EXPORT int cuptiGetTimestamp(uint64_t *ns)
{
    void (*function)(void) = interrupts;

    *ns = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    if (function) {
        interrupts = NULL;
        function();
    }
    return is("?");
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    (void)context, (void)stream;
    *n = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
    return is("?");
}

EXPORT int cuptiGetResultString(int code, const char **text)
{
    *text = code == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_OF_SOME_KIND";
    return 0;
}

static size_t bytes_of(const void *record)
{
    uint32_t kind;

    memcpy(&kind, record, sizeof kind);
    switch (kind) {
    case 1: return sizeof(copy_record);
    case 2: return sizeof(fill_record);
    case 10: return sizeof(kernel_record);
    case 22: return sizeof(peer_record);
    default: return 48;                 /* one that nobody has asked for */
    }
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record)
{
    uint8_t *at = *record ? (uint8_t *)*record + bytes_of(*record) : from;

    if (is("?") || at >= from + valid)
        return 12;
    if (!readable)
        return 21;
    readable -= readable > 0;
    *record = at;
    return 0;
}

static void *hand_over(void *nothing)
{
    uint8_t *full = buffer;
    size_t   bytes = size, valid = used;

    buffer = NULL;
    size = used = 0;
    if (full)
        give(NULL, 0, full, bytes, valid);
    return nothing;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
    pthread_t thread;
    int       worker = is("worker");

    if (meanwhile)
        meanwhile();
    pthread_mutex_lock(&lock);
    flushes++;
    (void)flag;
    if (held)
        ;
    else if (worker && !pthread_create(&thread, NULL, hand_over, NULL))
        pthread_join(thread, NULL);
    else
        hand_over(NULL);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void keep(const void *record, size_t bytes)
{
    size_t most = 0;

    pthread_mutex_lock(&lock);
    if (buffer && used + bytes > size)
        hand_over(NULL);
    if (!buffer)
        ask(&buffer, &size, &most);
    if (used + bytes <= size) {
        memcpy(buffer + used, record, bytes);
        used += bytes;
    } else {
        __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what a program does: the runtime calls the driver, each with an id; its own is the record's ---- */

static void tell(const char *function, int domain, uint32_t site, uint32_t correlation)
{
    call_data data;

    memset(&data, 0, sizeof data);
    data.site = site;
    data.function = function;
    data.correlation = correlation;
    if (subscriber && domains & 1 << domain)
        subscriber(subscriber_data, domain, *function == 'c' ? 308 : 307, &data);
}

static uint32_t call(unsigned takes_us)
{
    uint32_t outer = __atomic_add_fetch(&correlations, 2, __ATOMIC_RELAXED), inner = outer + 1;

    tell("aLaunch", 2, 0, outer);
    tell("aLaunch", 1, 0, inner);
    if (takes_us)
        usleep(takes_us);
    tell("aLaunch", 1, 1, inner);
    tell("aLaunch", 2, 1, outer);
    return outer;
}

EXPORT void fake_advance(uint64_t ns)
{
    __atomic_add_fetch(&clock_ns, ns, __ATOMIC_RELAXED);
}

/* wait: ns from the launch to the start; takes_us: the launch itself, on the host's clock. */
EXPORT void fake_kernel(const char *name, uint32_t stream, uint64_t wait, uint64_t ns, unsigned takes_us)
{
    kernel_record k;

    memset(&k, 0, sizeof k);
    k.correlation = call(takes_us);
    k.kind = 10;
    k.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED) + wait;
    k.end = k.start + ns;
    k.device = stream / 100;
    k.stream = stream;
    k.name = name;
    if (kinds & 1 << 10)
        keep(&k, sizeof k);
}

EXPORT void fake_copy(int direction, uint32_t stream, uint64_t ns, uint64_t bytes)
{
    copy_record c;

    memset(&c, 0, sizeof c);
    c.correlation = call(0);
    c.kind = 1;
    c.copy_kind = (uint8_t)direction;
    c.bytes = bytes;
    c.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    c.end = c.start + ns;
    c.device = stream / 100;
    c.stream = stream;
    if (kinds & 1 << 1)
        keep(&c, sizeof c);
}

EXPORT void fake_others(uint32_t stream)
{
    fill_record   f;
    peer_record   p;
    kernel_record k;
    uint32_t      unknown[12] = {46};

    memset(&f, 0, sizeof f);
    f.kind = 2;
    f.bytes = 4096;
    f.correlation = call(0);
    f.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    f.end = f.start + 1000;
    f.stream = stream;
    keep(&f, sizeof f);
    memset(&p, 0, sizeof p);
    p.kind = 22;
    p.bytes = 8192;
    p.correlation = call(0);
    p.start = f.end;
    p.end = p.start + 1000;
    p.stream = stream;
    keep(&p, sizeof p);
    keep(unknown, sizeof unknown);
    memset(&k, 0, sizeof k);
    k.kind = 10;
    k.correlation = call(0);
    k.name = "untimed";
    keep(&k, sizeof k);                                         /* no device memory for its times */
    k.start = p.end;
    k.end = p.end + 1000;
    k.correlation = 4000000000u;
    k.name = "from_nowhere";
    keep(&k, sizeof k);
    __atomic_add_fetch(&lost, 7, __ATOMIC_RELAXED);
}

/* 1: a flush hands nothing over, as if nothing had ended. */
EXPORT void fake_hold(int on)
{
    held = on;
}

/* One launch of a graph of n kernels, which run one after the other. */
EXPORT void fake_graph(const char *name, int n, uint64_t ns, unsigned takes_us)
{
    kernel_record k;

    memset(&k, 0, sizeof k);
    k.correlation = call(takes_us);
    k.kind = 10;
    k.end = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    k.stream = 7;
    k.name = name;
    for (; n > 0; n--) {
        k.start = k.end;
        k.end += ns;
        keep(&k, sizeof k);
    }
}

/* A program that asks n times whether something has ended. */
EXPORT void fake_poll(int n)
{
    for (; n > 0; n--) {
        uint32_t id = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);

        tell("cudaEventQuery_v3020", 2, 0, id);
        tell("cudaEventQuery_v3020", 2, 1, id);
    }
}

/* A kernel whose launch nobody has seen. */
EXPORT void fake_nowhere(const char *name)
{
    kernel_record k;

    memset(&k, 0, sizeof k);
    k.kind = 10;
    k.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    k.end = k.start + 1000;
    k.correlation = 4000000000u;
    k.name = name;
    keep(&k, sizeof k);
}

/* Called as each flush begins: what other threads do meanwhile. */
EXPORT void fake_meanwhile(void (*function)(void))
{
    meanwhile = function;
}

/* Called once, as the next reading of the clock returns. */
EXPORT void fake_interrupts(void (*function)(void))
{
    interrupts = function;
}

/* After n more records comes one that cannot be read; -1: none. */
EXPORT void fake_unreadable(int n)
{
    readable = n;
}

EXPORT int fake_kinds(void)
{
    return subscriber ? kinds : 0;
}

EXPORT int fake_buffered(void)
{
    return buffer != NULL;
}

EXPORT int fake_flushes(void)
{
    return flushes;
}
#endif
