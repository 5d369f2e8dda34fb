/* A stand-in for librocprofiler-sdk, written from AMD's headers of releases 0.5 (ROCm 6.3) and 1.1 (7.1).
 * Its clock stands still until fake_advance(), so that each time is exact.
 * FAKE_ROCPROFILER: locked (another tool came first), nothing (no device), refused (a service is not to be
 * had), deaf (it never calls the tool), late (it runs, and returns an error); anything with "1.1": the record of that release, which is longer. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((__visibility__("default")))

typedef struct { uint64_t handle; } handle_t;

typedef struct kernel_record {
    uint64_t size;
    int      kind, operation;
    uint64_t internal, external, thread, start, end;
    uint64_t info_size;
    handle_t agent, queue;
    uint64_t kernel, dispatch;
    uint32_t private_bytes, group_bytes, workgroup[3], grid[3];
    uint8_t  reserved[56];
} kernel_record;

typedef struct copy_record {
    uint64_t size;
    int      kind, operation;
    uint64_t internal, external, thread, start, end;
    handle_t to, from;
    uint64_t bytes;
} copy_record;

typedef struct header_t {
    uint32_t category, kind;
    void    *payload;
} header_t;

typedef struct call_05 {
    handle_t context;
    uint64_t thread, internal, external;
    int      kind, operation, phase;
    void    *payload;
} call_05;

typedef struct call_11 {
    handle_t context;
    uint64_t thread, internal, external, ancestor;
    int      kind, operation, phase;
    void    *payload;
} call_11;

typedef struct symbol_t {
    uint64_t    size, kernel, code_object;
    const char *name;
    uint64_t    object;
    uint32_t    bytes[7];
} symbol_t;

typedef struct client_t { const char *name; const uint32_t handle; } client_t;
typedef struct tool_t {
    size_t size;
    int  (*initialize)(void (*)(client_t), void *);
    void (*finalize)(void *);
    void  *data;
} tool_t;
typedef tool_t *configure_t(uint32_t, const char *, uint32_t, client_t *);
typedef void filled_t(handle_t, handle_t, header_t **, size_t, void *, uint64_t);
typedef int request_t(uint64_t, handle_t, int, int32_t, uint64_t, uint64_t *, void *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int       initializing, started, services, ended, flushes;
static filled_t *filled;
static request_t *request;
static void     *filled_data, *request_data, *call_data;
static void     *call;                  /* its first argument's size differs by release */
static uint64_t  clock_ns = UINT64_C(1700000000000000000), internals, lost;
static union { kernel_record kernel; copy_record copy; } kept[4096];
static uint32_t  kinds[4096];
static size_t    used;
static int       cut;                   /* the next record has fewer members than any release so far */
static int       buffers, nth;          /* that it has; which one fills: AMD has a second for LOSSLESS alone */

static int is(const char *mode)
{
    const char *asked = getenv("FAKE_ROCPROFILER");

    if (ended) {
        fprintf(stderr, "rocprofiler was called after its end\n");
        _exit(3);
    }
    return asked && strstr(asked, mode) != NULL;
}

static void end(void)
{
    ended = 1;
}

EXPORT int rocprofiler_query_available_agents(int version, int (*tell)(int, const void **, size_t, void *), size_t size, void *data)
{
    static struct { uint64_t size; handle_t id; int type; } cpu = {24, {4096}, 1}, one = {24, {5001}, 2}, two = {24, {5002}, 2};
    const void *all[] = {&cpu, &one, &two};

    if (version != 1 || size > 400)
        return 18;
    return tell(1, all, is("nothing") ? 1 : 3, data);
}

EXPORT int rocprofiler_force_configure(configure_t *configure)
{
    client_t client = {NULL, 1};
    tool_t  *tool;

    if (is("locked"))
        return 16;
    atexit(end);
    tool = configure(is("1.1") ? 10100 : 500, "stand-in", 0, &client);
    if (!tool || tool->size != sizeof *tool || is("deaf"))
        return 0;
    initializing = 1;
    if (tool->initialize(NULL, tool->data))
        started = services = 0;
    initializing = 0;
    return is("late") ? 1 : 0;                  /* it runs, but HIP could not be told */
}

EXPORT int rocprofiler_create_context(handle_t *context)
{
    if (!initializing)
        return 16;
    if (context->handle)
        return 13;
    context->handle = 77;
    return 0;
}

EXPORT int rocprofiler_create_buffer(handle_t context, size_t size, size_t mark, int policy, filled_t *callback, void *data, handle_t *buffer)
{
    if (context.handle != 77 || mark > size || policy < 1 || policy > 2)
        return 19;
    buffers = policy;                           /* 1 DISCARD, 2 LOSSLESS */
    filled = callback;
    filled_data = data;
    buffer->handle = 88;
    return 0;
}

EXPORT int rocprofiler_configure_buffer_tracing_service(handle_t context, int kind, const int32_t *operations, size_t count, handle_t buffer)
{
    if (!initializing || context.handle != 77 || buffer.handle != 88 || (count && !operations))
        return 19;
    if (is("refused") && kind == 11)
        return 17;
    services |= 1 << kind;
    return 0;
}

EXPORT int rocprofiler_configure_callback_tracing_service(handle_t context, int kind, const int32_t *operations, size_t count, void *callback, void *data)
{
    if (context.handle != 77 || kind != 10 || count != 1 || operations[0] != 2)
        return 19;
    call = callback;
    call_data = data;
    return 0;
}

EXPORT int rocprofiler_configure_external_correlation_id_request_service(handle_t context, const int *wanted, size_t count, request_t *callback, void *data)
{
    if (context.handle != 77 || count != 2 || wanted[0] != 10 || wanted[1] != 11)
        return 19;
    request = callback;
    request_data = data;
    return 0;
}

EXPORT int rocprofiler_start_context(handle_t context)
{
    started = context.handle == 77;
    return started ? 0 : 2;
}

EXPORT int rocprofiler_get_timestamp(uint64_t *ns)
{
    *ns = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    return is("?");
}

EXPORT const char *rocprofiler_get_status_name(int code)
{
    if (code == 16)
        return "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED";
    return code == 17 ? "ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED" : "ROCPROFILER_STATUS_ERROR";
}

/* On a thread of its own, as there. */
static void *hand_over(void *nothing)
{
    static header_t  head[4096];
    static header_t *heads[4096];
    handle_t         context = {77}, buffer = {88};
    size_t           i;

    for (i = 0; i < used; i++) {
        head[i].category = 1;
        head[i].kind = kinds[i];
        head[i].payload = &kept[i];
        heads[i] = &head[i];
    }
    filled(context, buffer, heads, used, filled_data, __atomic_load_n(&lost, __ATOMIC_RELAXED));
    used = 0;
    nth = !nth;
    return nothing;
}

EXPORT int rocprofiler_flush_buffer(handle_t buffer)
{
    pthread_t thread;

    if (is("?") || buffer.handle != 88)
        return 3;
    pthread_mutex_lock(&lock);
    flushes++;
    if (!pthread_create(&thread, NULL, hand_over, NULL))
        pthread_join(thread, NULL);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- what a program does ---- */

EXPORT void fake_advance(uint64_t ns)
{
    __atomic_add_fetch(&clock_ns, ns, __ATOMIC_RELAXED);
}

EXPORT void fake_load(uint64_t kernel, const char *name)
{
    symbol_t symbol;

    memset(&symbol, 0, sizeof symbol);
    symbol.size = sizeof symbol;
    symbol.kernel = kernel;
    symbol.name = name;
    if (!started)
        return;
    if (is("1.1")) {
        call_11 r = {{77}, 1, 0, 0, 0, 10, 2, 1, NULL};
        r.payload = &symbol;
        ((void (*)(call_11, uint64_t *, void *))(uintptr_t)call)(r, &internals, call_data);
    } else {
        call_05 r = {{77}, 1, 0, 0, 10, 2, 1, NULL};
        r.payload = &symbol;
        ((void (*)(call_05, uint64_t *, void *))(uintptr_t)call)(r, &internals, call_data);
    }
}

static uint64_t asked(int kind)
{
    handle_t context = {77};
    uint64_t external = 0;

    if (request(1, context, kind, 1, __atomic_add_fetch(&internals, 1, __ATOMIC_RELAXED), &external, request_data))
        external = 0;
    return external;
}

static void keep(uint32_t kind, const void *record, size_t size)
{
    pthread_mutex_lock(&lock);
    if (used == 4096)
        hand_over(NULL);
    if (nth < buffers && cut) {
        memcpy(&kept[used], record, 64);
        kept[used].kernel.size = 64;
        kinds[used++] = kind;
        cut = 0;
    } else if (nth < buffers) {                 /* else it is lost, and not counted */
        memcpy(&kept[used], record, size);
        kinds[used++] = kind;
    }
    pthread_mutex_unlock(&lock);
}

EXPORT void fake_kernel(uint64_t kernel, int device, uint64_t wait, uint64_t ns)
{
    kernel_record k;

    if (!started)
        return;
    memset(&k, 0, sizeof k);
    k.size = sizeof k;
    k.kind = 11;
    k.operation = 2;
    k.external = asked(11);
    k.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED) + wait;
    k.end = k.start + ns;
    k.info_size = 96;
    k.agent.handle = 5001 + (uint64_t)device;
    k.queue.handle = 7;
    k.kernel = kernel;
    keep(11, &k, sizeof k);
}

EXPORT void fake_copy(int direction, uint64_t ns, uint64_t bytes)
{
    copy_record c;

    if (!started)
        return;
    memset(&c, 0, sizeof c);
    c.size = sizeof c;
    c.kind = 10;
    c.operation = direction;
    c.external = asked(10);
    c.start = __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    c.end = c.start + ns;
    c.to.handle = direction == 3 || direction == 1 ? 4096 : 5001;       /* 4: from one device to the other */
    c.from.handle = direction == 3 ? 5001 : direction == 4 ? 5002 : 4096;
    c.bytes = bytes;
    keep(10, &c, sizeof c);
}

EXPORT void fake_lose(uint64_t n)
{
    __atomic_add_fetch(&lost, n, __ATOMIC_RELAXED);
}

EXPORT void fake_cut(void)
{
    cut = 1;
}

EXPORT int fake_services(void)
{
    return started ? services : 0;
}

EXPORT int fake_flushes(void)
{
    return flushes;
}
