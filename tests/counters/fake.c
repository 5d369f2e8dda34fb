/* A kernel of our own behind perf_event_open: multiplexing, refusals, a full table of files,
 * groups without room.  What is said, what is scaled, and no descriptor is left. */
#define _GNU_SOURCE
#define PERF_CLOCK_FN made_up_clock     /* of loops: the body says how long it takes */
#include <stdint.h>
static uint64_t made_up_clock(void);
#include "check.h"
#include "perf_counters.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1024, KINDS = 32 };
static int      refuse, refuse_group, room = MOST, opened, alone;  /* errno; of grouped ones; ... */
static uint64_t refuse_kind = UINT64_MAX;       /* of that number alone */
static int      number_of[MOST];                /* by descriptor; 0: not ours */
static int      is_on[MOST];
static uint64_t value_of[KINDS], enabled, running;
static struct perf_event_attr last;
static int      last_process;
static long     runs[2];                        /* of each variant */
static int      strays;                         /* reads of files that are not ours */
static int      starts;                         /* of the instructions */
static uint64_t now_ns = UINT64_C(1) << 40;

static uint64_t made_up_clock(void)
{
    return now_ns += 20;
}

static int fake_open(const struct perf_event_attr *attr, int process, int group)
{
    int fd;

    if (refuse && (refuse_kind == UINT64_MAX || refuse_kind == attr->config))
        return -refuse;
    if (group >= 0 && refuse_group)
        return -refuse_group;
    if (opened >= room)
        return -EMFILE;
    fd = open("/dev/null", O_RDONLY);
    number_of[fd] = 1 + (int)attr->type * 8 + (int)(attr->config & 7);
    memset(&last, 0, sizeof last);                 /* the newest kernel headers have a larger one     */
    memcpy(&last, attr, attr->size < sizeof last ? attr->size : sizeof last);
    last_process = process;
    opened++;
    alone += group < 0;
    return fd;
}

/* What the program and the header call instead of the C library's. */
long syscall(long number, ...)
{
    va_list                 a;
    struct perf_event_attr *attr;
    int                     process, core, group, fd;
    unsigned long           flags;

    if (number != SYS_perf_event_open)
        return number == SYS_gettid ? getpid() : -1;
    va_start(a, number);
    attr = va_arg(a, struct perf_event_attr *);
    process = (int)va_arg(a, long);
    core = (int)va_arg(a, long);
    group = (int)va_arg(a, long);
    flags = va_arg(a, unsigned long);
    va_end(a);
    CHECK(core == -1 && flags == PERF_FLAG_FD_CLOEXEC, "core %d, flags %lu", core, flags);
    CHECK(attr->size == PERF_ATTR_SIZE_VER0, "size %u", attr->size);
    CHECK(attr->disabled == (group < 0), "a group starts and stops as a whole, by its leader");
    CHECK(attr->read_format == 3, "value, time enabled, time running: %d", (int)attr->read_format);
    fd = fake_open(attr, process, group);
    errno = fd < 0 ? -fd : errno;
    return fd < 0 ? -1 : fd;
}

ssize_t read(int fd, void *to, size_t n)
{
    uint64_t at[3];

    strays += fd >= 0 && !number_of[fd];
    if (fd < 0 || !number_of[fd] || n != sizeof at)
        return -1;
    at[0] = value_of[number_of[fd] - 1];
    at[1] = enabled;
    at[2] = running;
    memcpy(to, at, sizeof at);
    return sizeof at;
}

int ioctl(int fd, unsigned long order, ...)
{
    va_list a;

    if (order == PERF_EVENT_IOC_ID) {
        if (!number_of[fd])
            return -1;
        va_start(a, order);
        *va_arg(a, uint64_t *) = 1000 + (uint64_t)fd;
        va_end(a);
        return 0;
    }
    CHECK(order == PERF_EVENT_IOC_ENABLE || order == PERF_EVENT_IOC_DISABLE, "order %#lx", order);
    is_on[fd] = order == PERF_EVENT_IOC_ENABLE;
    starts += is_on[fd] && number_of[fd] == 1 + PERF_COUNT_HW_INSTRUCTIONS;
    return 0;
}

/* The index of a value. */
static int kind(int type, int number)
{
    return type * 8 + number;
}

static int descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < MOST; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void paranoid_is(const char *text)
{
    FILE *file = fopen("proc/sys/kernel/perf_event_paranoid", "w");

    fputs(text, file);
    fclose(file);
}

static const char *why_cycles(int error, int kernel)
{
    static char        text[300];
    perf_counters_opts opts = {0, 0, 0, 0, 0};
    perf_counters      c;

    refuse = error;
    opts.kernel = kernel;
    c = perf_counters_open(&opts);
    (void)perf_counters_start(&c);
    (void)perf_counters_stop(&c);
    CHECK(!(c.share[PERF_COUNTER_CYCLES] > 0.0), "cycles of nobody");
    CHECK(c.value[PERF_COUNTER_CYCLES] != c.value[PERF_COUNTER_CYCLES], "no NaN");
    (void)snprintf(text, sizeof text, "%s", perf_counters_why(&c, PERF_COUNTER_CYCLES));
    perf_counters_close(&c);
    refuse = 0;
    return text;
}

static void refusals(void)
{
    paranoid_is("3\n");
    CHECK(!strcmp(why_cycles(13, 0),
                  "the kernel forbids it: /proc/sys/kernel/perf_event_paranoid is 3"),
          "%s", why_cycles(13, 0));
    CHECK(strstr(why_cycles(1, 0), "is 3"), "%s", why_cycles(1, 0));
    paranoid_is("2\n");
    CHECK(strstr(why_cycles(1, 0), "a sandbox forbids it"), "%s", why_cycles(1, 0));
    CHECK(strstr(why_cycles(13, 1), "is 2"), "of the kernel: %s", why_cycles(13, 1));
    paranoid_is("-1\n");
    CHECK(strstr(why_cycles(13, 1), "a sandbox"), "paranoid -1: %s", why_cycles(13, 1));
    CHECK(strstr(why_cycles(2, 0), "this processor does not count it"), "%s", why_cycles(2, 0));
    CHECK(strstr(why_cycles(95, 0), "this processor does not count it"), "%s", why_cycles(95, 0));
    CHECK(strstr(why_cycles(24, 0), "too many files are open"), "%s", why_cycles(24, 0));
    CHECK(strstr(why_cycles(16, 0), "another program"), "%s", why_cycles(16, 0));
    CHECK(strstr(why_cycles(38, 0), "perf_event_open"), "%s", why_cycles(38, 0));
    CHECK(strstr(why_cycles(3, 0), "no such process"), "%s", why_cycles(3, 0));
    CHECK(strstr(why_cycles(77, 0), "not expected: 77"), "%s", why_cycles(77, 0));
}

static void counts(void)
{
    perf_counters c = perf_counters_open(NULL);
    double        value;
    int           i;

    for (i = 0; i < KINDS; i++)
        value_of[i] = 1000;
    enabled = running = 5000;
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    CHECK(perf_counters_start(&c) == PERF_ESTATE, "a second start");
    value_of[kind(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)] += 3000;
    value_of[kind(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)] += 1500;
    enabled += 100000;
    running += 25000;
    CHECK(perf_counters_stop(&c) == PERF_OK, "stop");
    CHECK(perf_counters_stop(&c) == PERF_ESTATE, "a second stop");
    value = c.value[PERF_COUNTER_INSTRUCTIONS];
    CHECK(value > 11999.0 && value < 12001.0, "a quarter of the time: 12000, not %g", value);
    value = c.share[PERF_COUNTER_INSTRUCTIONS];
    CHECK(value > 0.2499 && value < 0.2501, "share %g", value);
    CHECK(!(c.value[PERF_COUNTER_BRANCHES] > 0.0) && !(c.value[PERF_COUNTER_BRANCHES] < 0.0) &&
          !perf_counters_why(&c, PERF_COUNTER_BRANCHES), "a count of 0 is one");
    CHECK(strstr(perf_counters_text(&c), "12000 instructions (scaled: counted 25.0 % of the time)"),
          "%s", c.text);
    CHECK(strstr(c.text, "IPC 2.00"), "%s", c.text);
    perf_counters_start(&c);
    enabled += 1000;                    /* and none of it running */
    CHECK(perf_counters_stop(&c) == PERF_OK, "the system's own are there");
    CHECK(c.value[PERF_COUNTER_CYCLES] != c.value[PERF_COUNTER_CYCLES], "never ran: no 0");
    CHECK(strstr(perf_counters_why(&c, PERF_COUNTER_CYCLES), "never had its turn"), "%s", c.text);
    perf_counters_start(&c);
    enabled += 1000;
    running += 1000;
    perf_counters_stop(&c);
    CHECK(!perf_counters_why(&c, PERF_COUNTER_CYCLES), "it has its turn again");
    perf_counters_close(&c);
    perf_counters_close(&c);
    CHECK(perf_counters_start(&c) == PERF_ESTATE && perf_counters_stop(&c) == PERF_ESTATE, "closed");
}

/* The only counter has no turn: missing at the stop, and to come after the next start. */
static void no_turn(void)
{
    perf_counters_opts opts = {0, 0, 0, 0, 0};
    perf_counters      c;

    opts.which = 1u << PERF_COUNTER_CYCLES;
    c = perf_counters_open(&opts);
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    enabled += 1000;
    CHECK(perf_counters_stop(&c) == PERF_ENODATA && c.status == PERF_ENODATA, "it never ran");
    CHECK(perf_counters_start(&c) == PERF_OK && c.status == PERF_OK, "it counts again");
    CHECK(!perf_counters_why(&c, PERF_COUNTER_CYCLES), "while it counts: %s", c.text);
    perf_counters_close(&c);
}

static void options(void)
{
    perf_counters_opts opts = {0, 0, 0, 0, 0};
    perf_counters      c;

    opts.which = 1u << PERF_COUNTER_CYCLES;
    opened = 0;
    c = perf_counters_open(&opts);
    CHECK(opened == 1 && c.status == PERF_OK, "%d opened for cycles alone", opened);
    CHECK(last.exclude_kernel && last.exclude_hv && !last.inherit && !last.enable_on_exec, "flags");
    CHECK(strstr(perf_counters_why(&c, PERF_COUNTER_BRANCHES), "not asked for"), "%s", c.text);
    perf_counters_close(&c);
    opts.threads = opts.kernel = 1;
    c = perf_counters_open(&opts);
    CHECK(!last.exclude_kernel && last.inherit && !last.exclude_user, "flags");
    perf_counters_close(&c);
    opts.process = 4711;
    c = perf_counters_open(&opts);
    CHECK(last_process == 4711 && last.enable_on_exec && last.inherit, "flags");
    enabled += 10;
    running += 10;
    CHECK(perf_counters_start(&c) == PERF_ESTATE, "it starts by itself");
    CHECK(perf_counters_stop(&c) == PERF_OK, "stop without start");
    perf_counters_close(&c);
}

/* Room for so many files; groups that are refused. */
static void little_room(void)
{
    const int     before = descriptors();
    perf_counters c;

    for (room = 0; room < 8; room++) {
        opened = 0;
        c = perf_counters_open(NULL);
        perf_counters_start(&c);
        enabled += 10;
        running += 10;
        perf_counters_stop(&c);
        CHECK((c.share[PERF_COUNTER_CYCLES] > 0.0) == (room > 1), "room %d: %s", room,
              perf_counters_text(&c));
        CHECK(room > 6 || strstr(perf_counters_text(&c), "too many files"), "room %d: %s", room, c.text);
        perf_counters_close(&c);
        CHECK(descriptors() == before, "room %d: %d left", room, descriptors() - before);
    }
    room = MOST;
    alone = 0;
    c = perf_counters_open(NULL);
    CHECK(alone == 4, "three groups and the migrations, not %d", alone);
    perf_counters_close(&c);
    refuse_group = EINVAL;
    alone = 0;
    c = perf_counters_open(NULL);
    CHECK(alone == 7, "each alone, not %d", alone);
    perf_counters_close(&c);
    refuse_group = 0;
    refuse = ENOENT;
    refuse_kind = PERF_COUNT_HW_INSTRUCTIONS;       /* which lead the cycles */
    alone = 0;
    c = perf_counters_open(NULL);
    CHECK(alone == 4, "cycles without their leader: %d", alone);
    perf_counters_start(&c);
    enabled += 10;
    running += 10;
    perf_counters_stop(&c);
    CHECK(!perf_counters_why(&c, PERF_COUNTER_CYCLES), "%s", c.text);
    CHECK(perf_counters_why(&c, PERF_COUNTER_INSTRUCTIONS), "instructions of nobody");
    perf_counters_close(&c);
    refuse = 0;
    refuse_kind = UINT64_MAX;
    CHECK(descriptors() == before, "%d left", descriptors() - before);
}

/* Options that no loop can hold without counters, and why. */
static void refused(const char *name, const perf_ab_opts *opts, const char *why)
{
    perf_ab        ab = perf_ab_begin(name, opts);
    perf_ab_result result = perf_ab_end(&ab);

    CHECK(perf_ab_next(&ab) < 0 && result.status == PERF_EINVAL, "%s: it ran", name);
    CHECK(strstr(result.verdict.reason, why), "%s: %s", name, result.verdict.reason);
}

/* An A/B loop whose processor has no branch misses: said, not 0, and time is judged as ever. */
static void loops(void)
{
    const int     before = descriptors();
    perf_counters c;
    perf_rule     rule = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_BRANCH_MISSES);
    perf_ab_opts  opts = PERF_ZERO;
    perf_verdict  verdict;
    perf_ab       ab;
    int           v;

    refuse = ENOENT;
    refuse_kind = PERF_COUNT_HW_BRANCH_MISSES;
    c = perf_counters_open(NULL);
    opts.max_seconds = 0.02;
    ab = perf_ab_begin("twins", &opts);
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "it counts");
    while ((v = perf_ab_next(&ab)) >= 0) {
        now_ns += 1000;
        enabled++;                      /* the counters run, and stay at what they are */
        running++;
    }
    verdict = perf_counters_judge(&c, &rule);
    CHECK(verdict.decision == PERF_INCONCLUSIVE, "%s", perf_verdict_text(&verdict));
    CHECK(strstr(verdict.reason, "does not count it"), "%s", verdict.reason);
    CHECK(perf_ab_end(&ab).verdict.pairs > 0, "time is measured as ever");
    rule.metric = PERF_METRIC_PAIR;
    CHECK(perf_counters_judge(&c, &rule).status == PERF_EINVAL, "time is no counter");
    CHECK(perf_counters_judge(NULL, &rule).status == PERF_EINVAL, "NULL");
    perf_counters_close(&c);
    rule.metric = PERF_METRIC_CYCLES;
    CHECK(perf_counters_judge(&c, &rule).status == PERF_ESTATE, "closed");
    opts.accept.rule = rule;
    refused("a count is no time", &opts, "perf_counters_loop()");
    opts.accept.rule.metric = PERF_METRIC_PAIR;
    opts.also = rule;
    refused("a second rule on a count", &opts, "perf_counters_loop()");
    opts.also.metric = PERF_METRIC_MEMORY;
    refused("a second rule on memory", &opts, "opts.also is no rule on a count");
    opts.also.metric = (perf_metric)77;
    refused("a second rule on nothing", &opts, "opts.also is no rule on a count");
    opts.also.metric = PERF_METRIC_PAIR;
    refused("a second rule on time", &opts, "opts.also is no rule on a count");
    refuse = 0;
    refuse_kind = UINT64_MAX;
    CHECK(descriptors() == before, "%d left", descriptors() - before);
}

/* An A/B loop whose own rule is on a count, of 1000 instructions and 1000 - fewer. */
static perf_ab_result by_count(const char *name, perf_metric metric, int fewer, int close_early)
{
    perf_counters  c = perf_counters_open(NULL);
    perf_ab_opts   opts = PERF_ZERO;
    perf_ab_result result;
    perf_ab        ab;
    int            v;

    opts.max_pairs = 24;                            /* of the times; time enough for all rounds   */
    opts.max_seconds = 100.0;
    opts.control = -1;
    opts.accept.rule = perf_rule_make(PERF_RULE_REDUCTION, 5, metric);
    ab = perf_ab_begin(name, &opts);
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "%s: it counts", name);
    runs[0] = runs[1] = 0;
    while ((v = perf_ab_next(&ab)) >= 0) {
        value_of[kind(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)] += 1000 - (uint64_t)(v * fewer);
        runs[v]++;
        now_ns += 1000;
        enabled++;
        running++;
    }
    if (close_early)
        perf_counters_close(&c);
    result = perf_ab_end(&ab);
    CHECK(close_early || result.opts.accept.rule.metric == metric, "%s: what really ran", name);
    CHECK(result.status == PERF_OK, "%s: %s", name, result.verdict.reason);
    perf_counters_close(&c);
    return result;
}

static void rules_on_counts(void)
{
    perf_ab_result r = by_count("less", PERF_METRIC_INSTRUCTIONS, 100, 0);

    CHECK(r.verdict.decision == PERF_ACCEPT, "%s", perf_verdict_text(&r.verdict));
    CHECK(strstr(perf_verdict_text(&r.verdict), "instructions down by >= 5.0 %"), "%s", r.verdict.text);
    CHECK(r.baseline.count > 0 && r.candidate.count > 0, "time is measured beside it");
    r = by_count("as much", PERF_METRIC_INSTRUCTIONS, 0, 0);
    CHECK(r.verdict.decision == PERF_REJECT, "%s", perf_verdict_text(&r.verdict));
    r = by_count("just enough", PERF_METRIC_INSTRUCTIONS, 51, 0);
    CHECK(r.verdict.decision == PERF_INCONCLUSIVE, "%s", perf_verdict_text(&r.verdict));
    CHECK(strstr(r.verdict.reason, "what chooses the variant"), "%s", r.verdict.reason);
    refuse = ENOENT;
    refuse_kind = PERF_COUNT_HW_BRANCH_MISSES;
    r = by_count("none", PERF_METRIC_BRANCH_MISSES, 100, 0);
    CHECK(r.verdict.decision == PERF_INCONCLUSIVE, "%s", perf_verdict_text(&r.verdict));
    CHECK(strstr(r.verdict.reason, "this processor does not count it"), "%s", r.verdict.reason);
    refuse = 0;
    refuse_kind = UINT64_MAX;
    r = by_count("closed", PERF_METRIC_INSTRUCTIONS, 100, 1);
    CHECK(strstr(r.verdict.reason, "were closed"), "%s", r.verdict.reason);
    r = by_count("forced", PERF_METRIC_INSTRUCTIONS, 100, 0);
    CHECK(r.forced && !runs[0] && runs[1] > 0, "%ld runs of the other variant", runs[0]);
    CHECK(r.verdict.decision == PERF_INCONCLUSIVE, "%s", perf_verdict_text(&r.verdict));
    CHECK(strstr(r.verdict.reason, "PERF_VARIANT"), "%s", r.verdict.reason);
}

/* The counters of an A/B loop, 1000 instructions against 900, in 48 slices after two for the loop
 * itself.  away: in that slice others have the counter; pauses: from that one on the body pauses. */
static perf_verdict judged(int away, int pauses, double *seen)
{
    const perf_rule rule = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_INSTRUCTIONS);
    perf_counters   c = perf_counters_open(NULL);
    perf_ab_opts    opts = PERF_ZERO;
    perf_verdict    verdict;
    perf_ab         ab;
    int             v;

    opts.max_pairs = 24;
    opts.max_seconds = 100.0;
    opts.control = -1;
    ab = perf_ab_begin("judged", &opts);
    starts = 0;
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "it counts");
    while ((v = perf_ab_next(&ab)) >= 0) {
        if (starts >= pauses) {
            perf_bench_pause(&ab);
            perf_bench_resume(&ab);
        }
        value_of[kind(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)] += 1000 - (uint64_t)(v * 100);
        now_ns += 1000;
        enabled++;
        running += starts != away;
    }
    verdict = perf_counters_judge(&c, &rule);
    *seen = c.iteration[1][PERF_COUNTER_INSTRUCTIONS];
    CHECK(perf_counters_start(&c) == PERF_OK, "it still counted after the loop");
    CHECK(perf_ab_end(&ab).status == PERF_OK, "the loop's own result");
    perf_counters_close(&c);
    return verdict;
}

/* The last slice alone without its counter; a body that pauses late. */
static void late_troubles(void)
{
    double       seen;
    perf_verdict v = judged(50, 1000, &seen);

    CHECK(starts == 51, "%d starts: the last slice is another one", starts);
    CHECK(v.decision == PERF_ACCEPT && seen > 899.0 && seen < 901.0, "%s: %g", perf_verdict_text(&v), seen);
    CHECK(!strstr(v.reason, "never had its turn"), "decided, but: %s", v.reason);
    v = judged(1000, 40, &seen);
    CHECK(v.decision == PERF_INCONCLUSIVE && seen != seen, "%s: %g", perf_verdict_text(&v), seen);
    CHECK(strstr(v.reason, "the body pauses"), "%s", v.reason);
}

/* A `break` out of a counted slice ends the counting with the loop. */
static void broken_off(void)
{
    perf_counters    c = perf_counters_open(NULL);
    perf_bench_opts  one = PERF_ZERO;
    perf_ab_opts     two = PERF_ZERO;
    perf_bench       b;
    perf_ab          ab;

    one.max_seconds = two.max_seconds = 0.02;
    ab = perf_ab_begin("two, broken off", &two);
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "it counts");
    starts = 0;
    while (perf_ab_next(&ab) >= 0 && !starts)
        now_ns += 1000;
    CHECK(starts == 1 && perf_ab_end(&ab).verdict.pairs > 0, "time is measured as ever");
    CHECK(perf_counters_stop(&c) == PERF_ESTATE, "an A/B loop has ended, and it counts on");
    perf_counters_close(&c);
    c = perf_counters_open(NULL);
    b = perf_bench_begin("one, broken off", &one);
    CHECK(perf_counters_loop(&c, &b) == PERF_OK, "it counts");
    starts = 0;
    while (perf_bench_next(&b) && !starts)
        now_ns += 1000;
    CHECK(starts == 1 && perf_bench_end(&b).time.count > 0, "time is measured as ever");
    CHECK(perf_counters_stop(&c) == PERF_ESTATE, "a loop has ended, and it counts on");
    perf_counters_close(&c);
}

/* Counters that the parent has opened count no loop of its child. */
static void loop_of_a_child(void)
{
    perf_counters c = perf_counters_open(NULL);
    perf_bench    b;
    int           status = 1;
    pid_t         child = fork();

    if (!child) {
        b = perf_bench_begin("child", NULL);
        check_exit(perf_counters_loop(&c, &b) != PERF_ESTATE);
    }
    (void)waitpid(child, &status, 0);
    CHECK(!status, "a child's loop counts by its parent's counters");
    perf_counters_close(&c);
}

/* A loop of `variants` that take 1,000 ns and 10,000 instructions; the last one takes so much less
 * time and ten times so many fewer.  Its rules: time down by 5 %, the metric down by 5 %. */
typedef struct joined {
    int         variants, less_ns, fewer;
    perf_metric metric;
    int         counts;                         /* 0: the counter never has its turn; 2: not in one
                                                 * slice of five */
} joined;

static int slices;

static void a_slice_begins(void *user, int v)
{
    (void)user, (void)v;
    slices++;
}

static perf_ab_opts joined_opts(perf_metric metric)
{
    perf_ab_opts opts = PERF_ZERO;

    opts.max_pairs = 200;
    opts.max_seconds = 2.0;
    opts.control = -1;
    opts.before = a_slice_begins;
    opts.accept.rule = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_PAIR);
    opts.also = perf_rule_make(PERF_RULE_REDUCTION, 5, metric);
    return opts;
}

static void joined_body(const joined *w, int v)
{
    const int last = v == w->variants - 1;

    now_ns += 1000 - (uint64_t)(last * w->less_ns);
    value_of[kind(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)] +=
        10 * (1000 - (uint64_t)(last * w->fewer));
    enabled++;
    running += w->counts == 1 || (w->counts == 2 && slices % 5);
}

static perf_ab_result by_both(const char *name, joined w)
{
    const perf_ab_opts opts = joined_opts(w.metric);
    perf_counters      c = perf_counters_open(NULL);
    perf_ab_result     result;
    perf_ab            ab = perf_ab_begin(name, &opts);
    double             seen;
    int                v;

    w.variants = 2;
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "%s: it counts", name);
    while ((v = perf_ab_next(&ab)) >= 0)
        joined_body(&w, v);
    result = perf_ab_end(&ab);
    perf_counters_close(&c);
    seen = c.iteration[1][PERF_COUNTER_INSTRUCTIONS];
    CHECK(w.counts != 1 || (seen > 9999.0 - 10 * w.fewer && seen < 10001.0 - 10 * w.fewer),
          "%s: %g an iteration", name, seen);
    CHECK(w.counts || seen != seen, "%s: %g of a counter that never ran", name, seen);
    CHECK(result.status == PERF_OK && result.parts == 2, "%s: %s", name, result.verdict.reason);
    CHECK(result.opts.also.metric == w.metric && result.opts.accept.rules == 2, "%s: what ran", name);
    return result;
}

/* The worse part decides, and each is told. */
static void joined_rules(void)
{
    static const struct {
        int           less_ns, fewer;
        perf_metric   metric;
        perf_decision all, time, count;
        const char   *text;
    } row[] = {
        {100, 100, PERF_METRIC_INSTRUCTIONS, PERF_ACCEPT, PERF_ACCEPT, PERF_ACCEPT, "both rules hold"},
        {100, 0, PERF_METRIC_INSTRUCTIONS, PERF_REJECT, PERF_ACCEPT, PERF_REJECT, "asked: instructions"},
        {0, 100, PERF_METRIC_INSTRUCTIONS, PERF_REJECT, PERF_REJECT, PERF_ACCEPT, "asked: time down"},
        {0, 0, PERF_METRIC_INSTRUCTIONS, PERF_REJECT, PERF_REJECT, PERF_REJECT, "asked: time down"},
        {100, 50, PERF_METRIC_INSTRUCTIONS, PERF_INCONCLUSIVE, PERF_ACCEPT, PERF_INCONCLUSIVE,
         "asked: instructions"},
        {100, 9, PERF_METRIC_BRANCH_MISSES, PERF_INCONCLUSIVE, PERF_ACCEPT, PERF_INCONCLUSIVE,
         "this processor does not count it"},
        {0, 9, PERF_METRIC_BRANCH_MISSES, PERF_REJECT, PERF_REJECT, PERF_INCONCLUSIVE, "asked: time"}};
    perf_ab_result r;
    size_t         i;
    joined         w = {2, 0, 0, PERF_METRIC_PAIR, 1};

    refuse = ENOENT;
    refuse_kind = PERF_COUNT_HW_BRANCH_MISSES;
    for (i = 0; i < sizeof row / sizeof *row; i++) {
        w.less_ns = row[i].less_ns;
        w.fewer = row[i].fewer;
        w.metric = row[i].metric;
        r = by_both("joined", w);
        CHECK(r.verdict.decision == row[i].all && r.part[0].decision == row[i].time &&
              r.part[1].decision == row[i].count, "%d: %s\n%s\n%s", (int)i,
              perf_verdict_text(&r.verdict), perf_verdict_text(&r.part[0]),
              perf_verdict_text(&r.part[1]));
        CHECK(strstr(perf_verdict_text(&r.verdict), row[i].text), "%d: %s", (int)i, r.verdict.text);
    }
    refuse = 0;
    refuse_kind = UINT64_MAX;
    w.counts = 0;
    w.metric = PERF_METRIC_INSTRUCTIONS;
    r = by_both("no turn", w);
    CHECK(strstr(r.part[1].reason, "never had its turn"), "%s", r.part[1].reason);
    w.counts = 2;                               /* whole rounds of four slices are few */
    r = by_both("some turns", w);
    CHECK(r.part[1].decision == PERF_INCONCLUSIVE && strstr(r.part[1].reason, "had its turn"), "%s",
          r.part[1].reason);
    w.counts = 0;
    setenv("PERF_VARIANT", "joined=B", 1);
    r = by_both("joined", w);
    CHECK(r.verdict.decision == PERF_INCONCLUSIVE && strstr(r.part[1].reason, "PERF_VARIANT"), "%s",
          r.part[1].reason);
    setenv("PERF_VARIANT", "forced=B", 1);
}

/* All arms of a race: the last one differs. */
static void a_race(int variants)
{
    const joined     w = {variants, 100, 100, PERF_METRIC_INSTRUCTIONS, 1};
    perf_ab_opts     opts = joined_opts(w.metric);
    perf_counters    c = perf_counters_open(NULL);
    perf_race        race = perf_race_begin("race", variants, &opts);
    perf_race_result r;
    perf_verdict     one;
    static char      report[200000];
    int              v;

    CHECK(perf_counters_loop(&c, &race) == PERF_OK, "it counts");
    while ((v = perf_race_next(&race)) >= 0)
        joined_body(&w, v);
    r = perf_race_end(&race);
    perf_counters_close(&c);
    CHECK(r.status == PERF_OK && r.count == variants && !r.entry[0].parts, "%d variants", r.count);
    CHECK(r.opts.accept.rule.metric == PERF_METRIC_PAIR, "what ran");
    CHECK(1.0 - r.entry[1].part[1].confidence < 0.0501 / (variants - 1), "as sure for all: %g",
          r.entry[1].part[1].confidence);
    for (v = 0; v < r.count; v++) {
        const double wanted = v == variants - 1 ? 9000.0 : 10000.0;
        CHECK(r.entry[v].counted[0] > wanted - 1.0 && r.entry[v].counted[0] < wanted + 1.0,
              "%d: %g instructions, not %g", v, r.entry[v].counted[0], wanted);
        one = r.entry[v].part[1];
        CHECK(!v || one.decision == (v == variants - 1 ? PERF_ACCEPT : PERF_REJECT), "%d of %d: %s", v,
              variants, perf_verdict_text(&one));
        one = r.entry[v].verdict;
        CHECK(!v || one.decision == (v == variants - 1 ? PERF_ACCEPT : PERF_REJECT), "%d of %d: %s", v,
              variants, perf_verdict_text(&one));
    }
    (void)perf_report_text(report, sizeof report, NULL);
    CHECK(strstr(report, "\n    instructions 9000, cycles 0"), "%s", report);
    CHECK(strstr(report, "the best; REJECT\n    rule 1: REJECT") &&
              strstr(report, "    rule 2: ACCEPT: -10.0"), "%s", report);
    perf_reset();
}

static void nothing(void)
{
    perf_counters c;

    CHECK(perf_counters_start(NULL) == PERF_ESTATE, "NULL");
    CHECK(perf_counters_stop(NULL) == PERF_ESTATE, "NULL");
    CHECK(!perf_counters_text(NULL)[0], "NULL");
    CHECK(perf_counters_why(NULL, PERF_COUNTER_CYCLES), "NULL");
    perf_counters_close(NULL);
    memset(&c, 0, sizeof c);
    CHECK(perf_counters_start(&c) == PERF_ESTATE, "never opened");
    perf_counters_close(&c);
    CHECK(fcntl(0, F_GETFD) >= 0, "an object of zeros closes no file");
    CHECK(!strcmp(perf_counters_why(&c, PERF_COUNTER_COUNT), "there is no such counter"), "none");
}

/* The program closes all descriptors, as a daemon does, and opens files of its own: these are
 * neither read nor closed, and nothing that they hold is a count. */
static void a_daemon(void)
{
    perf_counters c = perf_counters_open(NULL);
    int           fd, i, taken = 0, open_still = 0;
    int           own[MOST];

    CHECK(perf_counters_start(&c) == PERF_OK, "counts");
    for (fd = 3; fd < MOST; fd++)
        if (number_of[fd]) {
            (void)close(fd);
            number_of[fd] = 0;
            own[taken++] = open("/dev/null", O_RDONLY);
        }
    CHECK(taken > 3 && own[0] >= 3, "%d files", taken);
    strays = 0;
    CHECK(perf_counters_stop(&c) == PERF_OK, "what the system tells is there");
    CHECK(strays == 0, "%d files of the program were read", strays);
    CHECK(c.value[PERF_COUNTER_INSTRUCTIONS] != c.value[PERF_COUNTER_INSTRUCTIONS], "no number");
    CHECK(strstr(perf_counters_why(&c, PERF_COUNTER_INSTRUCTIONS), "could not be read"), "%s",
          perf_counters_why(&c, PERF_COUNTER_INSTRUCTIONS));
    perf_counters_close(&c);
    for (i = 0; i < taken; i++) {
        open_still += fcntl(own[i], F_GETFD) >= 0;
        (void)close(own[i]);
    }
    CHECK(open_still == taken, "%d of %d files are open", open_still, taken);
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]))                 /* a scratch folder, for our proc/ */
        return 1;
    (void)setenv("PERF_VARIANT", "forced=B", 1);
    (void)mkdir("proc", 0755);
    (void)mkdir("proc/sys", 0755);
    (void)mkdir("proc/sys/kernel", 0755);
    nothing();
    refusals();
    counts();
    no_turn();
    options();
    little_room();
    loops();
    rules_on_counts();
    late_troubles();
    broken_off();
    loop_of_a_child();
    joined_rules();
    perf_reset();
    a_race(3);
    a_race(64);
    a_daemon();
    return check_done();
}
