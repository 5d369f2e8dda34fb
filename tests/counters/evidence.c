/* The diagnosis with evidence from counters.  Bodies that everybody knows (a chase of pointers, wild
 * branches, plain arithmetic) are planted: this program stands behind perf_event_open, its clock
 * moves when a body says so, and it writes the /proc that is read.  Each case in a child.         */
#define _GNU_SOURCE
#include <stdint.h>
static uint64_t now_ns = 1000000000;
static uint64_t planted_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN planted_clock
#define PERF_DIAGNOSIS 1
#include "perf_counters.h"
#include "perf_diagnosis.h"
#include "../folder.h"
#include "../time/rows.h"
#include "syscalls.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { INSTRUCTIONS, CYCLES, LLC, BRANCH, FRONT, EVENTS, MOST = 1024, MS = 1000000 };

static int      refused[EVENTS];                /* errno; 0: it counts */
static int      event_of[MOST], leader_of[MOST];        /* by descriptor: 1 + number; its leader */
static uint64_t value[EVENTS], enabled, away[2];        /* away: ns without a counter, by group */
static int      others_have[2];                 /* 1: a group's counters, all the time of a body; [1]: the evidence's */
static char     text[20000];

static int event_number(const struct perf_event_attr *attr)
{
    if (attr->type == PERF_TYPE_HW_CACHE)
        return attr->config == (PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16) ? LLC : EVENTS;
    if (attr->type != PERF_TYPE_HARDWARE)
        return EVENTS;
    switch (attr->config) {
    case PERF_COUNT_HW_INSTRUCTIONS: return INSTRUCTIONS;
    case PERF_COUNT_HW_CPU_CYCLES: return CYCLES;
    case PERF_COUNT_HW_BRANCH_MISSES: return BRANCH;
    case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND: return FRONT;
    default: return EVENTS;
    }
}

/* Only events of scopes: read in groups, of the thread's own code. */
static int opens(struct perf_event_attr *attr, int process, int group)
{
    const int number = event_number(attr);
    int       fd;

    (void)process;
    if (attr->read_format != 11 || number == EVENTS || refused[number]) {
        errno = number == EVENTS || !refused[number] ? ENOENT : refused[number];
        return -1;
    }
    if (!attr->exclude_kernel || attr->inherit)
        abort();
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_of[fd] = 1 + number;
    leader_of[fd] = group < 0 ? fd : group;
    return fd;
}

ssize_t read(int fd, void *to, size_t n)
{
    uint64_t got[3 + EVENTS] = {0};
    int      i, members = 0;

    if (fd < 0 || fd >= MOST || !event_of[fd])
        return syscall(SYS_read, fd, to, n);
    for (i = fd; i < MOST; i++)                 /* later ones have larger descriptors */
        if (event_of[i] && leader_of[i] == fd)
            got[3 + members++] = value[event_of[i] - 1];
    got[0] = (uint64_t)members;
    got[1] = enabled;
    got[2] = enabled - away[event_of[fd] - 1 >= LLC];
    memcpy(to, got, (3 + (size_t)members) * sizeof *got);
    return (ssize_t)((3 + (size_t)members) * sizeof *got);
}

int ioctl(int fd, unsigned long order, ...)
{
    va_list a;
    long    x;

    va_start(a, order);
    x = va_arg(a, long);
    va_end(a);
    return fd >= 0 && fd < MOST && event_of[fd] ? 0 : (int)syscall(SYS_ioctl, fd, order, x);
}

static void put(const char *path, const char *what)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(what, f) < 0 || fclose(f))
        exit(1);
}

/* The program is as old as its clock says, and ran all the time. */
static void system_says(void)
{
    const double ms = (double)(now_ns - 1000000000) / MS;
    char         path[64], line[256];
    const long   thread = syscall(SYS_gettid);

    (void)mkdir("proc", 0755);
    (void)mkdir("proc/self", 0755);
    (void)mkdir("proc/self/task", 0755);
    snprintf(path, sizeof path, "proc/self/task/%ld", thread);
    (void)mkdir(path, 0755);
    put("proc/uptime", "10000.00 5.00\n");
    snprintf(line, sizeof line, "1 (a) S 1 2 3 0 -1 5 6 7 8 9 10 11 12 13 14 15 16 17 %.0f 0 0\n", 1e6 - (ms + 10) / 10);
    put("proc/self/stat", line);
    snprintf(path, sizeof path, "proc/self/task/%ld/schedstat", thread);
    snprintf(line, sizeof line, "%.0f 0 77\n", ms * MS);
    put(path, line);
    snprintf(path, sizeof path, "proc/self/task/%ld/stat", thread);
    put(path, "1 (a) S 1 2 3 0 -1 5 10 7 8 9 10 0 12 13\n");
}

/* A body: ms, thousands of instructions and of cycles, misses and stalled cycles in thousands. */
typedef struct {
    const char *name;
    double      ms, figure[EVENTS];
} body;

/* What these bodies are known for.  A million cycles a ms. */
static const body chase = {"walk", 8, {800, 8000, 40, 0, 100}};           /* IPC .1, 50 misses a 1,000 */
static const body guess = {"guess", 6, {6000, 6000, 0, 120, 300}};        /* 20 wrong guesses a 1,000 */
static const body wild = {"wild", 6, {6000, 6000, 0, 200, 300}};          /* 33 of them */
static const body flood = {"walk", 8, {800, 8000, 4000, 0, 100}};         /* more than 8,000 cycles hold */
static const body plain = {"add", 10, {30000, 10000, 0.01, 0.1, 50}};     /* IPC 3 */
static const body divide = {"divide", 10, {2000, 10000, 0, 0, 10}};       /* IPC .2, and no misses */
static const body stream = {"stream", 10, {15000, 10000, 60, 0, 10}};     /* IPC 1.5: they overlap */
static const body spread = {"spread", 10, {8000, 10000, 0, 10, 4000}};    /* code all over the place */

static void run(const body *b)
{
    perf_scope s = perf_scope_begin(b->name);
    int        i;

    now_ns += (uint64_t)(b->ms * MS);
    enabled += (uint64_t)(b->ms * MS);
    for (i = 0; i < 2; i++)
        away[i] += others_have[i] ? (uint64_t)(b->ms * MS) : 0;
    for (i = 0; i < EVENTS; i++)
        value[i] += (uint64_t)(b->figure[i] * 1000);
    perf_scope_end(&s);
}

static void steps(int count, const body *one, const body *two)
{
    int i;

    for (i = 0; i < count; i++) {
        PERF_SCOPE("step");
        run(one);
        if (two)
            run(two);
    }
    system_says();
}

static perf_counters counts(void)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c;

    opts.which = 1u << PERF_COUNTER_CYCLES;
    opts.scopes = 1;
    c = perf_counters_open(&opts);
    (void)perf_counters_start(&c);
    return c;
}

static perf_diagnosis d;

static const char *said(perf_view view)
{
    perf_report_opts o = PERF_ZERO;

    o.view = view;
    CHECK(perf_report_text(text, sizeof text, &o) < sizeof text, "room");
    return text;
}

static void is(perf_bound_by bound, const char *where)
{
    CHECK(perf_diagnose(&d) == PERF_OK && d.bound == bound && !strcmp(d.where, where), "%s in %s, not %s in %s:\n%s",
          perf_diagnosis_text(d.bound), d.where, perf_diagnosis_text(bound), where, said(PERF_VIEW_DIAGNOSIS));
}

static void has(perf_view view, const char *what)
{
    CHECK(strstr(said(view), what), "no '%s' in %s", what, text);
}

static const char without[] =                   /* what it says where nobody counts */
    "baseline: step, 100 calls: mean 8.00 ms; the last 99 without a first: mean 8.00 ms, std 0.00 ns, p50 8.00 ms, p95 8.00 ms\n"
    "bound by: cpu; at least: cpu 96 %, off the processor for no recorded reason 0 %\n"
    "where: step > walk: 100 % of a step, 7.99 ms in 1.0 calls\n"
    "try: a better algorithm first, then data layout, vectors, threads; at best 1000.00 times as fast if it vanished "
    "(1000.00 the threads' whole time), 1.00 if it ran beside the rest\n"
    "verify: perf-ab run --accept 'speedup >= 1.30' -- OLD -- NEW\n";

static void case_of(int n)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_counters      c, others;
    int                i;

    switch (n) {
    case 0:                                     /* a chase of pointers, beside plain arithmetic */
        c = counts();
        steps(100, &chase, &plain);
        is(PERF_BY_CACHE_MISSES, "step > walk");
        CHECK(d.counted.calls == 100 && !d.counted.scaled, "%d calls", (int)d.counted.calls);
        CHECK(d.counted.ipc > 1.71 && d.counted.ipc < 1.72, "IPC %g", d.counted.ipc);
        CHECK(!strcmp(d.counted.lost[0].scope, "walk"), "in %s", d.counted.lost[0].scope);
        CHECK(d.counted.lost[0].per_1000 > 49.9 && d.counted.lost[0].per_1000 < 50.1, "%g", d.counted.lost[0].per_1000);
        /* 40,000 misses of 180 cycles are 7.2 of the unit's 18 million cycles */
        CHECK(d.counted.lost[0].share > 0.399 && d.counted.lost[0].share < 0.401, "share %g", d.counted.lost[0].share);
        CHECK(d.share[PERF_BY_CACHE_MISSES] <= 0.4 * d.share[PERF_BY_CPU] + 1e-9, "of the time it ran: %g", d.share[PERF_BY_CPU]);
        CHECK(d.where_share > 0.37 && d.where_share < 0.401 && d.best < 1.7, "%g, %g", d.where_share, d.best);
        has(PERF_VIEW_DIAGNOSIS, "\nbound by: cache misses; at least: cpu 9");
        has(PERF_VIEW_DIAGNOSIS, "\ncounted: IPC 1.71; of the cycles about 40 % cache misses (most in walk: IPC 0.10, 50.0 a 1,000 "
                                 "instructions, at 180 cycles), 0 % branch misses, "
                                 "1 % front end (most in walk: IPC 0.10, 125.0 a 1,000 instructions)\nwhere: ");
        has(PERF_VIEW_TABLE, "\nbound by: cache misses (of step, 100 calls, IPC 0.10, 50.0 misses a 1,000 instructions in walk)\n");
        CHECK(json_valid(said(PERF_VIEW_JSON)), "%s", text);
        has(PERF_VIEW_JSON, "\"bound\":\"cache misses\"");
        has(PERF_VIEW_JSON, ",\"counted\":{\"calls\":100,\"scaled\":0,\"ipc\":1.711111,\"cache misses\":{\"share\":0.400000,"
                            "\"per_1000\":50.000000,\"ipc\":0.100000,\"in\":\"walk\"}");
        has(PERF_VIEW_JSON, "\"llc_misses\":40000.000");
        perf_reset();                           /* forgotten with the scopes */
        (void)perf_counters_stop(&c);
        steps(100, &chase, NULL);
        CHECK(perf_diagnose(&d) == PERF_OK && d.bound == PERF_BY_CPU && !d.counted.calls, "%s", said(PERF_VIEW_DIAGNOSIS));
        break;
    case 1:
        c = counts();
        steps(100, &guess, NULL);
        is(PERF_BY_BRANCH_MISSES, "step > guess");
        has(PERF_VIEW_DIAGNOSIS, "about 0 % cache misses, 40 % branch misses (most in guess: IPC 1.00, 20.0 a 1,000");
        break;
    case 2:
        c = counts();
        steps(100, &plain, NULL);
        is(PERF_BY_CPU, "step > add");
        has(PERF_VIEW_TABLE, "\nbound by: cpu (of step, 100 calls, IPC 3.00)\n");
        break;
    case 3:                                     /* few instructions a cycle alone are no cache misses */
        c = counts();
        steps(100, &divide, NULL);
        is(PERF_BY_CPU, "step > divide");
        has(PERF_VIEW_DIAGNOSIS, "\ncounted: IPC 0.20; of the cycles about 0 % cache misses, 0 % branch misses, ");
        break;
    case 4:                                     /* nor where no counter tells of misses */
        refused[LLC] = ENOENT;
        c = counts();
        steps(100, &chase, NULL);
        is(PERF_BY_CPU, "step > walk");
        CHECK(d.counted.lost[0].share != d.counted.lost[0].share && !strstr(said(PERF_VIEW_DIAGNOSIS), "cache misses"), "%s", text);
        has(PERF_VIEW_JSON, "\"cache misses\":{\"share\":null,\"per_1000\":null,\"ipc\":null,\"in\":\"\"}");
        CHECK(json_valid(said(PERF_VIEW_JSON)) && !strstr(text, "llc_misses"), "%s", text);
        break;
    case 5:                                     /* nor misses that hold nobody up */
        c = counts();
        steps(100, &stream, NULL);
        is(PERF_BY_CPU, "step > stream");
        break;
    case 6:
        c = counts();
        steps(100, &spread, NULL);
        is(PERF_BY_FRONT_END, "step > spread");
        has(PERF_VIEW_TABLE, "\nbound by: front end (of step, 100 calls, IPC 0.80, 500.0 lost cycles a 1,000 instructions in spread)\n");
        break;
    case 7:                                     /* two of them: the one that costs more, and both are shown */
        c = counts();
        steps(100, &chase, &wild);
        is(PERF_BY_CACHE_MISSES, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "about 51 % cache misses (most in walk: IPC 0.10, 50.0 a 1,000 instructions, at 180 cycles), "
                                 "29 % branch misses (most in wild");
        break;
    case 8:                                     /* others have the evidence's counters for half of the time */
        c = counts();
        for (i = 0; i < 50; i++) {
            PERF_SCOPE("step");
            run(&chase);
            away[1] += 4 * MS;
            for (int k = LLC; k < EVENTS; k++)
                value[k] -= (uint64_t)(chase.figure[k] * 500);
        }
        system_says();
        is(PERF_BY_CACHE_MISSES, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "of the cycles about 90 % cache misses (most in walk: IPC 0.10, 50.0 a 1,000");
        has(PERF_VIEW_DIAGNOSIS, "; scaled up, as others had the counters: 50 calls\n");
        break;
    case 9:                                     /* others have them all the time: the rest still counts */
        c = counts();
        for (i = 0; i < 50; i++) {
            PERF_SCOPE("step");
            away[1] += 8 * MS;
            run(&chase);
        }
        system_says();
        is(PERF_BY_CPU, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "\ncounted: IPC 0.10\n");
        break;
    case 14:                                    /* others have the evidence's in every second call */
        c = counts();
        for (i = 0; i < 50; i++) {
            PERF_SCOPE("step");
            others_have[1] = i % 2;
            run(&chase);
        }
        system_says();
        is(PERF_BY_CACHE_MISSES, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "of the cycles about 90 % cache misses (most in walk: IPC 0.10, 50.0 a 1,000");
        break;
    case 16:                                    /* or those of instructions and cycles */
        c = counts();
        for (i = 0; i < 50; i++) {
            PERF_SCOPE("step");
            others_have[0] = i % 2;
            run(&chase);
        }
        system_says();
        is(PERF_BY_CACHE_MISSES, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "of the cycles about 90 % cache misses (most in walk: IPC 0.10, 50.0 a 1,000");
        has(PERF_VIEW_DIAGNOSIS, "; calls that were counted: 25\n");
        break;
    case 15:                                    /* counters of a process have no scopes to stop */
        c = counts();
        opts.process = getpid();
        opts.scopes = 1;
        others = perf_counters_open(&opts);
        perf_counters_close(&others);
        steps(100, &chase, NULL);
        is(PERF_BY_CACHE_MISSES, "step > walk");
        break;
    case 10:                                    /* nothing counts: the answer of before, word for word */
        for (i = 0; i < EVENTS; i++)
            refused[i] = ENOENT;
        c = counts();
        steps(100, &chase, NULL);
        CHECK(!strcmp(said(PERF_VIEW_DIAGNOSIS), without), "%s", text);
        CHECK(json_valid(said(PERF_VIEW_JSON)) && strstr(text, "\"launches\":0.000000},\"where\"") && !strstr(text, "\"counted\""),
              "%s", text);
        has(PERF_VIEW_TABLE, "\nbound by: cpu (of step, 100 calls)\n");
        break;
    case 11:                                    /* nobody asked */
        steps(100, &chase, NULL);
        CHECK(!strcmp(said(PERF_VIEW_DIAGNOSIS), without), "%s", text);
        break;
    case 12:                                    /* seven counted calls are none */
        for (i = 0; i < 20; i++) {
            PERF_SCOPE("step");
            run(&chase);
        }
        c = counts();
        steps(7, &chase, NULL);
        is(PERF_BY_CPU, "step > walk");
        CHECK(!d.counted.calls, "%d", (int)d.counted.calls);
        (void)perf_counters_stop(&c);
        (void)perf_counters_start(&c);
        steps(2, &chase, NULL);
        is(PERF_BY_CACHE_MISSES, "step > walk");
        has(PERF_VIEW_DIAGNOSIS, "; calls that were counted: 9\n");
        break;
    default:                                    /* more misses than the cycles have room for */
        c = counts();
        steps(100, &flood, NULL);
        is(PERF_BY_CACHE_MISSES, "step > walk");
        CHECK(d.counted.lost[0].share < 0.9751, "four instructions leave a cycle: %g", d.counted.lost[0].share);
    }
}

int main(void)
{
    enum { CASES = 17 };
    int   n, status, bad = 0;
    pid_t child;

    for (n = 0; n < CASES; n++) {
        fflush(stdout);
        child = fork();
        if (!child) {
            if (folder_enter())
                return 1;
            case_of(n);
            status = check_done();
            return folder_leave() || status;
        }
        (void)waitpid(child, &status, 0);
        if (status)
            printf("case %d: status %#x\n", n, status);
        bad |= status != 0;
    }
    return bad;
}
