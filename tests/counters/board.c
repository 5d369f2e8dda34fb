/* The first process of a machine with counters: what they say of bodies that are known to the
 * instruction.  board.sh boots it on QEMU's board, whose counters are exact.  Built with
 * -DBOARD_BENCH it is a program of benchmarks, /bench, which the first process starts. */
#ifdef BOARD_BENCH
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(fourteen)
{
    while (perf_bench_next(&b))
        __asm__ __volatile__(".rept 14\n\tadd x9, x9, #1\n\t.endr" : : : "x9");
}
#else
#include "check.h"
#include "perf_counters.h"
#define PERF_DIAGNOSIS 1
#include "perf_diagnosis.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADD     "add x9, x9, #1\n\t"
#define ADD10   ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD100  ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10
#define ADD1000 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100
#define RUN(body) __asm__ __volatile__(body : : : "x9")

static int within(double value, double wanted, double share)
{
    return value >= wanted * (1.0 - share) && value <= wanted * (1.0 + share);
}

/* 100,000 rounds of six instructions: five and a branch. */
static void loop_of_six(void)
{
    long n = 100000;

    __asm__ __volatile__("1:\n\t" ADD ADD ADD ADD "subs %0, %0, #1\n\tb.ne 1b"
                         : "+r"(n) : : "x9", "cc");
}

static void whole_loop(void)
{
    perf_counters c = perf_counters_open(NULL);
    int           i;

    for (i = 0; i < 3; i++) {
        CHECK(perf_counters_start(&c) == PERF_OK, "start");
        loop_of_six();
        CHECK(perf_counters_stop(&c) == PERF_OK, "stop");
        printf("board: %s\n", perf_counters_text(&c));
        CHECK(within(c.value[PERF_COUNTER_INSTRUCTIONS], 600000.0, 0.001), "%.0f instructions",
              c.value[PERF_COUNTER_INSTRUCTIONS]);
        CHECK(within(c.value[PERF_COUNTER_CYCLES], 600000.0, 0.01), "%.0f cycles",
              c.value[PERF_COUNTER_CYCLES]);
        CHECK(!perf_counters_why(&c, PERF_COUNTER_CYCLES), "cycles are missing");
    }
    CHECK(c.value[PERF_COUNTER_BRANCH_MISSES] != c.value[PERF_COUNTER_BRANCH_MISSES],
          "this board has no branch misses, but %g", c.value[PERF_COUNTER_BRANCH_MISSES]);
    CHECK(perf_counters_why(&c, PERF_COUNTER_BRANCH_MISSES) &&
              strstr(perf_counters_why(&c, PERF_COUNTER_BRANCH_MISSES), "does not count it"),
          "%s", c.text);
    perf_counters_close(&c);
}

/* A child of fork counts with threads = 1, a thread of the body likewise. */
static void of_children(void)
{
    perf_counters_opts opts = {0, 1, 0, 0, 0};
    perf_counters      c = perf_counters_open(&opts);
    pid_t              child;
    int                status;

    perf_counters_start(&c);
    child = fork();
    if (!child) {
        loop_of_six();
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    perf_counters_stop(&c);
    CHECK(within(c.value[PERF_COUNTER_INSTRUCTIONS], 600000.0, 0.05), "with a child: %s",
          perf_counters_text(&c));
    perf_counters_close(&c);
}

/* The value of a counter in the text of a report: the number behind its name; -1: none. */
static double shown(const char *report, const char *name)
{
    const char *at = strstr(report, name);

    return at ? strtod(at + strlen(name), NULL) : -1.0;
}

/* Nothing but the loop, so that the compiler gives it what a user's gets: two instructions. */
#define BENCH(name, body)                                                                         \
    static perf_status name(perf_counters *c)                                                     \
    {                                                                                             \
        const perf_bench_opts opts = {.max_seconds = 0.02};                                       \
        perf_bench            b = perf_bench_begin(#name, &opts);                                 \
        const perf_status     status = perf_counters_loop(c, &b);                                 \
        while (perf_bench_next(&b))                                                               \
            RUN(body);                                                                            \
        (void)perf_bench_end(&b);                                                                 \
        return status;                                                                            \
    }
BENCH(body_of_1, ADD)
BENCH(body_of_10, ADD10)
BENCH(body_of_1000, ADD1000)

static void known_body(perf_status (*bench)(perf_counters *), double instructions)
{
    static char   report[20000];
    perf_counters c = perf_counters_open(NULL);
    double        seen;

    perf_reset();
    CHECK(bench(&c) == PERF_OK, "it counts");
    perf_counters_close(&c);
    (void)perf_report_text(report, sizeof report, NULL);
    seen = shown(report, "instructions ");
    printf("board: a body of %.0f: %g instructions, IPC %g\n", instructions, seen,
           shown(report, "IPC "));
    CHECK(within(seen, instructions, 0.001), "%g of %g:\n%s", seen, instructions, report);
    CHECK(within(shown(report, "IPC "), 1.0, 0.05), "one a cycle here:\n%s", report);
    CHECK(shown(report, "branches ") < 0.0, "no branches here:\n%s", report);
}

/* 1,000 instructions against 900, or 20 against 20. */
static perf_decision judged(int fewer, double percent, perf_metric metric, perf_verdict *v)
{
    perf_counters c = perf_counters_open(NULL);
    perf_ab_opts  opts = {0};
    perf_rule     rule = perf_rule_make(PERF_RULE_REDUCTION, percent, metric);
    perf_ab       ab;
    int           variant;

    opts.max_seconds = 1;               /* of a machine that others keep busy, too */
    opts.max_pairs = 12;
    ab = perf_ab_begin("twenty", &opts);
    CHECK(perf_counters_loop(&c, &ab) == PERF_OK, "it counts");
    CHECK(perf_counters_loop(&c, &ab) == PERF_ESTATE, "twice");
    while ((variant = perf_ab_next(&ab)) >= 0) {
        if (fewer && variant)
            RUN(ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100);
        else if (fewer)
            RUN(ADD1000);
        else if (variant)
            RUN(ADD10 ADD10 "//");
        else
            RUN(ADD10 ADD10);
    }
    *v = perf_counters_judge(&c, &rule);
    printf("board: %s\n", perf_verdict_text(v));
    (void)perf_ab_end(&ab);
    perf_counters_close(&c);
    return v->decision;
}

static void verdicts(void)
{
    perf_verdict v;

    CHECK(judged(1, 5, PERF_METRIC_INSTRUCTIONS, &v) == PERF_ACCEPT, "%s", perf_verdict_text(&v));
    CHECK(within(v.ratio.estimate, 0.9, 0.01), "ratio %g", v.ratio.estimate);   /* and the `if`s  */
    CHECK(judged(1, 15, PERF_METRIC_INSTRUCTIONS, &v) == PERF_REJECT, "%s", perf_verdict_text(&v));
    CHECK(judged(0, 15, PERF_METRIC_INSTRUCTIONS, &v) == PERF_REJECT, "%s", perf_verdict_text(&v));
    CHECK(judged(0, 1, PERF_METRIC_INSTRUCTIONS, &v) != PERF_ACCEPT, "%s", perf_verdict_text(&v));
    CHECK(judged(1, 5, PERF_METRIC_BRANCH_MISSES, &v) == PERF_INCONCLUSIVE, "%s",
          perf_verdict_text(&v));
    CHECK(strstr(perf_verdict_text(&v), "does not count it"), "%s", v.text);
    CHECK(judged(1, 5, PERF_METRIC_MEMORY, &v) == PERF_INCONCLUSIVE && v.status == PERF_EINVAL,
          "no counter: %s", perf_verdict_text(&v));
}

/* Three variants, of 1,000, 900 and 1,000 instructions, by two rules each. */
static void race_of_three(void)
{
    perf_counters    c = perf_counters_open(NULL);
    perf_ab_opts     opts = {0};
    perf_race        race;
    perf_race_result r;
    perf_verdict     v;
    int              i;

    opts.max_seconds = 0.1;
    opts.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 900, PERF_METRIC_PAIR);
    opts.also = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_INSTRUCTIONS);
    race = perf_race_begin("three", 3, &opts);
    CHECK(perf_counters_loop(&c, &race) == PERF_OK, "it counts");
    while ((i = perf_race_next(&race)) >= 0) {
        if (i == 1)
            RUN(ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100);
        else if (i)
            RUN(ADD1000);
        else
            RUN(ADD1000 "//");
    }
    r = perf_race_end(&race);
    for (i = 0; i < r.count; i++) {
        v = r.entry[i].part[1];
        printf("board: %d: %g instructions; %s\n", i, r.entry[i].counted[0], perf_verdict_text(&v));
        CHECK(within(r.entry[i].counted[0], i == 1 ? 900.0 : 1000.0, 0.01), "%d: %g", i,
              r.entry[i].counted[0]);
        CHECK(!i || v.decision == (i == 1 ? PERF_ACCEPT : PERF_REJECT), "%d: %s", i, v.text);
        CHECK(i != 2 || r.entry[i].verdict.decision == PERF_REJECT, "%d: the worse part", i);
    }
    CHECK(r.count == 3 && r.entry[1].counted[3] != r.entry[1].counted[3], "no branch misses here");
    perf_counters_close(&c);
}

/* What a program prints, without its code being changed: /bench --counters. */
static void program_of_benchmarks(void)
{
    static char text[8000];
    size_t      length = 0;
    ssize_t     more;
    int         ends[2], status = -1;
    pid_t       child;

    CHECK(!pipe(ends), "a pipe");
    child = fork();
    if (!child) {
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        execl("/bench", "bench", "--no-env", "--counters", "--budget", "0.05", (char *)0);
        _exit(9);
    }
    (void)close(ends[1]);
    while ((more = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)more;
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    printf("%s", text);
    CHECK(!status, "status %d", status);
    CHECK(within(shown(text, "    instructions "), 14.0, 0.001), "14 instructions");
    CHECK(within(shown(text, ", IPC "), 1.0, 0.05), "one a cycle here");
    CHECK(strstr(text, "counters: no branches, branch misses: this processor does not count it"),
          "what is missing is said");
}

/* ---- scopes ---- */

/* The number behind `key` in the part of a JSON report that begins with `path`; -1: none. */
static double of_path(const char *report, const char *path, const char *key)
{
    const char *at = strstr(report, "\"counters\":[");

    at = at ? strstr(at, path) : NULL;
    return at ? shown(at, key) : -1.0;
}

static void empty_scope(void)
{
    PERF_SCOPE("empty");
    perf_clobber();
}

static void *some_scopes(void *rounds)
{
    int i;

    for (i = 0; i < *(const int *)rounds; i++) {
        PERF_SCOPE("around");
        empty_scope();
        {
            PERF_SCOPE("thousand");
            RUN(ADD1000);
        }
        {
            PERF_SCOPE("three thousand");
            RUN(ADD1000 ADD1000 ADD1000);
        }
    }
    return NULL;
}

static int open_files(void)
{
    int fd, n = 0;

    for (fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The report of so many threads' scopes; text says how they are read.  Returns ns of `around`. */
static double scopes_of_threads(const char *text, int threads)
{
    static char        report[40000], table[40000];
    int                rounds = 50, i, before = open_files();
    pthread_t          thread[8];
    perf_counters_opts opts = {0, 0, 0, 0, 1};
    perf_counters      c = perf_counters_open(&opts);
    perf_report_opts   json = PERF_ZERO;
    double             empty, thousand, three, around;

    perf_reset();
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    for (i = 0; i < threads; i++)
        CHECK(!pthread_create(&thread[i], NULL, some_scopes, &rounds), "a thread");
    for (i = 0; i < threads; i++)
        (void)pthread_join(thread[i], NULL);
    json.view = PERF_VIEW_JSON;
    (void)perf_report_text(report, sizeof report, &json);
    CHECK(perf_counters_stop(&c) == PERF_OK, "stop");
    perf_counters_close(&c);
    (void)perf_report_text(table, sizeof table, NULL);
    CHECK(strstr(table, "counted, of a call"), "%s", table);
    printf("%s", strstr(table, "counted, of a call") ? strstr(table, "counted, of a call") : "");
    empty = of_path(report, "\"around\",\"empty\"]", "\"instructions\":");
    thousand = of_path(report, "\"around\",\"thousand\"]", "\"instructions\":");
    three = of_path(report, "\"around\",\"three thousand\"]", "\"instructions\":");
    around = of_path(report, "[\"around\"]", "\"instructions\":");
    printf("board: scopes read by %s: empty %.1f, of 1000 %.1f, of 3000 %.1f, around them %.1f\n",
           text, empty, thousand, three, around);
    CHECK(within(three - thousand, 2000.0, 0.001), "2000 more: %g", three - thousand);
    CHECK(within(thousand - empty, 1000.0, 0.01), "1000 more: %g", thousand - empty);
    CHECK(empty > 0.0 && empty < 600.0, "an empty one: %g", empty);
    CHECK(around > 4000.0 && around < 4000.0 + 3 * 3000.0, "around: %g", around);
    CHECK(within(of_path(report, "[\"around\"]", "\"calls\":"), threads * rounds, 1e-9), "calls");
    CHECK(within(of_path(report, "\"three thousand\"]", "\"ipc\":"), 1.0, 0.05), "IPC of one");
    CHECK(open_files() == before, "%d files are left open", open_files() - before);
    return shown(strstr(report, "\"name\":\"around\""), "\"p50_ns\":");
}

static void scopes(void)
{
    FILE  *file = fopen("/proc/sys/kernel/perf_user_access", "w");
    double by_kernel = scopes_of_threads("the kernel", 1), by_program;

    CHECK(file && fputs("1\n", file) > 0 && !fclose(file), "perf_user_access");
    by_program = scopes_of_threads("mrs", 4);
    printf("board: a scope with three takes %.0f ns, and %.0f by mrs\n", by_kernel, by_program);
    CHECK(by_program < 0.9 * by_kernel, "no system call any more");
}

/* More counters than the processor has: instructions and cycles come together, or neither does. */
static void crowded(void)
{
    perf_counters c[12];
    double        instructions, cycles;
    int           i, missing = 0;

    for (i = 0; i < 12; i++)
        c[i] = perf_counters_open(NULL);
    for (i = 0; i < 12; i++)
        (void)perf_counters_start(&c[i]);
    loop_of_six();
    for (i = 0; i < 12; i++) {
        (void)perf_counters_stop(&c[i]);
        instructions = c[i].value[PERF_COUNTER_INSTRUCTIONS];
        cycles = c[i].value[PERF_COUNTER_CYCLES];
        missing += instructions != instructions;
        CHECK((instructions > 0.0 && within(cycles, instructions, 0.01)) ||
                  (instructions != instructions && cycles != cycles),
              "%d: %g instructions, %g cycles", i, instructions, cycles);
        perf_counters_close(&c[i]);
    }
    CHECK(missing > 2 && missing < 10, "%d of 12 never had their turn", missing);
}

/* Scopes whose counters others have for most of the time, read by mrs: scaled, and right.  Each turn
 * costs some 36 us of the kernel's work, and the shortest that counts is 0.9 ms.                   */
static void crowded_scopes(void)
{
    static char        report[40000];
    perf_counters_opts opts = {0, 0, 0, 0, 1};
    perf_report_opts   json = PERF_ZERO;
    perf_counters      other[6], c = perf_counters_open(&opts);
    double             seen;
    int                i, j;

    for (i = 0; i < 6; i++) {
        other[i] = perf_counters_open(NULL);
        (void)perf_counters_start(&other[i]);
    }
    perf_reset();
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    for (i = 0; i < 10; i++) {
        PERF_SCOPE("eighteen million");
        for (j = 0; j < 30; j++)
            loop_of_six();
    }
    json.view = PERF_VIEW_JSON;
    (void)perf_report_text(report, sizeof report, &json);
    seen = of_path(report, "[\"eighteen million\"]", "\"instructions\":");
    printf("board: of 18000000 instructions, with others at the counters: %.0f, scaled in %.0f\n",
           seen, of_path(report, "[\"eighteen million\"]", "\"scaled\":"));
    CHECK(of_path(report, "[\"eighteen million\"]", "\"scaled\":") > 4.0, "not scaled");
    CHECK(within(seen, 18e6, 0.02), "%.0f", seen);
    perf_counters_close(&c);
    for (i = 0; i < 6; i++)
        perf_counters_close(&other[i]);
}

/* Plain arithmetic, one instruction a cycle, and no counter of misses: cpu, and no word on memory.
 * In a child of its own, so that nearly all of its life is in the steps; again, at most five times,
 * where the kernel took the only processor for work of its own. */
static void diagnosis(void)
{
    perf_counters_opts opts = {0, 0, 0, 0, 1};
    perf_report_opts   lines = PERF_ZERO;
    static char        text[8000], *line;
    perf_counters      c;
    perf_diagnosis     d;
    int                step, i, turn, status = -1;
    pid_t              child = 1;

    for (turn = 0; turn < 5 && status && child; turn++) {
        child = fork();
        if (child)
            (void)waitpid(child, &status, 0);
    }
    if (child) {
        CHECK(!status, "status %#x", status);
        return;
    }
    perf_reset();
    c = perf_counters_open(&opts);
    CHECK(perf_counters_start(&c) == PERF_OK, "start");
    for (step = 0; step < 20; step++) {
        PERF_SCOPE("step");
        for (i = 0; i < 10; i++)
            loop_of_six();
    }
    CHECK(perf_diagnose(&d) == PERF_OK, "a diagnosis");
    lines.view = PERF_VIEW_DIAGNOSIS;
    (void)perf_report_text(text, sizeof text, &lines);
    CHECK(d.bound == PERF_BY_CPU && d.counted.calls == 20, "%s", perf_diagnosis_text(d.bound));
    CHECK(within(d.counted.ipc, 1.0, 0.01), "IPC %g", d.counted.ipc);
    CHECK(d.counted.lost[0].share != d.counted.lost[0].share, "this board has no cache misses");
    CHECK(!strstr(text, "misses"), "and none are invented");
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        printf("board: %s\n", line);
    fflush(stdout);
    _exit(check_done());
}

int main(void)
{
    int failed;

    (void)mkdir("/proc", 0755);
    (void)mount("proc", "/proc", "proc", 0, "");
    whole_loop();
    of_children();
    known_body(body_of_1, 1.0);
    known_body(body_of_10, 10.0);
    known_body(body_of_1000, 1000.0);
    verdicts();
    race_of_three();
    program_of_benchmarks();
    scopes();
    crowded();
    crowded_scopes();
    diagnosis();
    failed = check_done();
    printf("board: %s\n", failed ? "failed" : "passed");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return failed;
}
#endif
