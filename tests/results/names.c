/* names.c DIR: loops whose names are long, alike, or both stay apart in every file and in a baseline;
 * the rates of threads add up; a report through a slow pipe comes whole past a timer's signals.
 * By a clock of its own: no check hangs on how long anything takes.                               */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdlib.h>
static uint64_t now_ns = 1000000;
static uint64_t fake_clock(void)
{
    return now_ns += 1;
}
#define PERF_CLOCK_FN fake_clock
#include "perf.h"
#include "perf_export.h"

#include "check.h"
#include "inside.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[400], path[500];

static char *slurp(const char *file)
{
    FILE  *f = fopen(file, "rb");
    char  *text = (char *)calloc(1, 8000000);
    size_t n = f ? fread(text, 1, 8000000 - 1, f) : 0;

    (void)n;
    if (f)
        (void)fclose(f);
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;

    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

static void bench(const char *name, unsigned ns)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      b;

    o.max_seconds = 0.001;
    b = perf_bench_begin(name, &o);
    while (perf_bench_next(&b))
        now_ns += ns;
    (void)perf_bench_end(&b);
}

static void duel(const char *name)
{
    perf_ab ab = perf_ab_begin(name, NULL);
    int     v;

    while ((v = perf_ab_next(&ab)) >= 0)
        now_ns += v ? 500u : 1000u;
    (void)perf_ab_end(&ab);
}

/* A name of `length` bytes that ends in `end`. */
static const char *long_name(char *name, size_t length, const char *end)
{
    memset(name, 'x', length);
    strcpy(name + length - strlen(end), end);
    return name;
}

/* Three names that differ behind byte 200; the third gets ten times as slow. */
static void baseline_tells_long_names(void)
{
    char              name[3][300];
    perf_results_opts r = PERF_ZERO;
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline     b;
    char              id[16];
    int               k;

    (void)long_name(name[0], 254, "fast");
    (void)long_name(name[1], 254, "middle");
    (void)long_name(name[2], 254, "slow");
    snprintf(path, sizeof path, "%s/names.json", dir);
    (void)remove(path);
    r.run = id;
    r.no_scopes = 1;
    for (k = 0; k < 8; k++) {
        perf_reset();
        bench(name[0], 1000 + 10 * (unsigned)(k % 3));
        bench(name[1], 1000 + 10 * (unsigned)(k % 3));
        bench(name[2], k == 7 ? 10000 : 1000 + 10 * (unsigned)(k % 3));
        snprintf(id, sizeof id, "%d", k);
        r.time_s = 1.79e9 + k * 60;
        if (k < 7)
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    }
    o.now = r;
    b = perf_baseline_check(path, &o);
    CHECK(b.entries == 3 && b.rejected == 1 && b.decision == PERF_REJECT, "%lu entries, %lu rejected",
          (unsigned long)b.entries, (unsigned long)b.rejected);
    CHECK(b.entries == 3 && b.entry[2].decision == PERF_REJECT && !strcmp(b.entry[2].name, name[2]), "%s",
          b.entries == 3 ? b.entry[2].name : "");
    perf_baseline_free(&b);
}

/* A process that adds a run after each of its loops saves the first ones again and again: that is one
 * measurement, not three that agree.                                                              */
static void one_measurement_in_many_runs(void)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    int                k;

    snprintf(path, sizeof path, "%s/many.json", dir);
    (void)remove(path);
    o.now.no_scopes = 1;
    perf_reset();
    bench("first", 1000);
    for (k = 0; k < 3; k++) {
        o.now.time_s = 1.79e9 + k * 60;         /* the ids differ, and are of one process          */
        CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    b = perf_baseline_check(path, &o);          /* of the same loop                                */
    CHECK(b.runs == 3 && b.entries == 1 && b.entry[0].runs == 0 && b.entry[0].decision == PERF_INCONCLUSIVE,
          "%lu runs, %lu entries", (unsigned long)b.runs, (unsigned long)b.entries);
    perf_baseline_free(&b);
    perf_reset();
    bench("first", 1003);
    o.now.time_s += 60;
    b = perf_baseline_check(path, &o);
    CHECK(b.entries == 1 && b.entry[0].runs == 1 && b.decision == PERF_INCONCLUSIVE, "%lu runs",
          b.entries ? (unsigned long)b.entry[0].runs : 0);
    perf_baseline_free(&b);
}

/* By a rule on a count it is one, too. */
static void one_count_in_many_runs(void)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    int                k;

    snprintf(path, sizeof path, "%s/counts.json", dir);
    (void)remove(path);
    o.now.no_scopes = 1;
    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, PERF_METRIC_INSTRUCTIONS);
    perf_reset();
    bench("first", 1000);
    CHECK(core_loop_counted("instructions", 5000.0), "counted");
    for (k = 0; k < 6; k++) {
        o.now.time_s = 1.79e9 + k * 60;
        CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    perf_reset();
    bench("first", 1003);
    CHECK(core_loop_counted("instructions", 5001.0), "counted");
    o.now.time_s += 60;
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 6 && b.entries == 1 && b.entry[0].runs == 1 && b.decision == PERF_INCONCLUSIVE,
          "%lu runs, %s", b.entries ? (unsigned long)b.entry[0].runs : 0, perf_decision_text(b.decision));
    perf_baseline_free(&b);
}

/* Adds runs to the file, each of a measurement of its own. */
static void add_measured(const perf_results_opts *opts, unsigned runs, unsigned ns)
{
    unsigned k;

    for (k = 0; k < runs; k++) {
        perf_reset();
        bench("one", ns + k);
        CHECK(perf_baseline_add(path, opts) == PERF_OK, "add");
    }
}

/* Adds of one process within a second are runs of their own, but for those of one id; a check takes
 * the newest of them for this run.                                                                */
static void adds_of_one_second(void)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    char              *text, table[500];
    FILE              *f;
    int                k;

    snprintf(path, sizeof path, "%s/second.json", dir);
    (void)remove(path);
    o.now.no_scopes = 1;
    o.now.time_s = 1.79e9;
    add_measured(&o.now, 8, 1000);
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 8 && b.own_runs == 1 && b.entries == 1 && b.entry[0].runs == 7,
          "%lu runs, %lu own, %lu entries", (unsigned long)b.runs, (unsigned long)b.own_runs,
          (unsigned long)b.entries);
    snprintf(table, sizeof table, "%s/table.txt", dir);
    f = fopen(table, "w");
    CHECK(f && perf_baseline_to(f, &b) == PERF_OK && !fclose(f), "the table");
    text = slurp(table);
    CHECK(strstr(text, "baseline: 7 runs of this machine and build"), "as its row says: %s", text);
    free(text);
    perf_baseline_free(&b);
    text = slurp(path);
    CHECK(count_of(text, " (2)\"") == 2 && count_of(text, " (8)\"") == 2, "%s", text);
    free(text);
    for (k = 0; k < 3; k++) {
        o.now.run = k < 2 ? "mine" : "mine (2)";
        CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    o.now.run = "mine";
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 10 && b.entries == 1 && b.entry[0].runs == 9, "%lu runs, %lu entries",
          (unsigned long)b.runs, (unsigned long)b.entries);
    perf_baseline_free(&b);
    o.now.run = NULL;
    add_measured(&o.now, 22, 1100);             /* the oldest go, and every id stays one run's     */
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 30 && b.entries == 1 && b.entry[0].runs == 29, "%lu runs, %lu entries",
          (unsigned long)b.runs, (unsigned long)b.entries);
    perf_baseline_free(&b);
}

/* A run that this process has saved is not used, however long ago: it holds the same calls.  What is
 * recorded after a perf_reset() is held against it.                                              */
static void adds_of_another_second(void)
{
    perf_baseline b;
    time_t        then;
    int           k;

    snprintf(path, sizeof path, "%s/later.json", dir);
    (void)remove(path);
    for (k = 0; k < 3; k++) {
        if (k != 1)
            perf_reset();
        {
            PERF_SCOPE("saved by itself");
        }
        then = time(NULL);
        if (k < 2)
            CHECK(perf_baseline_add(path, NULL) == PERF_OK, "add");
        while (time(NULL) <= then)
            usleep(20000);
        b = perf_baseline_check(path, NULL);
        CHECK(b.runs == (k ? 2u : 1u) && b.own_runs == (k < 2 ? b.runs : 0u) && b.entries == 1 &&
                  b.entry[0].runs == (k < 2 ? 0u : 2u), "%d: %lu runs, %lu own", k, (unsigned long)b.runs,
              (unsigned long)b.own_runs);
        perf_baseline_free(&b);
    }
}

/* What only another machine has saved is not missing here. */
static void missing_is_of_this_machine(void)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_results_opts  elsewhere = PERF_ZERO;
    perf_baseline      b;
    FILE              *f;
    char               table[600], *text;
    int                any;

    snprintf(path, sizeof path, "%s/elsewhere.json", dir);
    (void)remove(path);
    o.now.no_scopes = elsewhere.no_scopes = 1;
    o.now.time_s = elsewhere.time_s = 1.79e9;
    elsewhere.machine = "another one";
    add_measured(&o.now, 8, 1000);
    bench("two", 1000);
    CHECK(perf_baseline_add(path, &elsewhere) == PERF_OK, "add");
    perf_reset();
    bench("one", 1004);
    o.now.time_s += 60;
    for (any = 0; any < 2; any++) {
        o.any_machine = any;
        b = perf_baseline_check(path, &o);
        CHECK(b.runs == 9 && b.other_runs == (any ? 0u : 1u) && b.missing == (unsigned)any &&
                  b.entries == 1 + (unsigned)any, "%d: %lu other, %lu missing", any,
              (unsigned long)b.other_runs, (unsigned long)b.missing);
        CHECK(b.decision == (any ? PERF_INCONCLUSIVE : PERF_ACCEPT), "%d: %s", any,
              perf_decision_text(b.decision));
        snprintf(table, sizeof table, "%s/table.txt", dir);
        f = fopen(table, "w");
        CHECK(f && perf_baseline_to(f, &b) == PERF_OK && !fclose(f), "the table");
        text = slurp(table);
        CHECK(strstr(text, any ? "baseline: 9 runs of any machine and build" : "baseline: 8 runs of this machine and build"),
              "%d: %s", any, text);
        free(text);
        perf_baseline_free(&b);
    }
    (void)remove(path);
    perf_reset();
    bench("one", 1001);
    CHECK(perf_baseline_add(path, &elsewhere) == PERF_OK, "add");
    perf_reset();
    bench("one", 1004);
    b = perf_baseline_check(path, &o);
    CHECK(b.entries == 1 && b.entry[0].verdict.reason && !strcmp(b.entry[0].verdict.reason, "fewer than 6 saved runs: add some"),
          "%s", b.entries ? b.entry[0].verdict.reason : "nothing");
    perf_baseline_free(&b);
}

/* Ids longer than what is kept of them are of different runs if they differ anywhere. */
static void long_ids(void)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    const char        *accepted[] = {"one", NULL, NULL};
    char               id[3][130], *text;
    int                k;

    snprintf(path, sizeof path, "%s/ids.json", dir);
    (void)remove(path);
    (void)long_name(id[0], 96, "zero");
    (void)long_name(id[1], 120, "one");
    (void)long_name(id[2], 120, "two");
    o.now.no_scopes = 1;
    for (k = 0; k < 6; k++) {
        o.now.run = id[k % 3];
        o.now.time_s = 1.79e9 + k;
        add_measured(&o.now, 1, 1000);
    }
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 3 && b.own_runs == 1 && b.entries == 1 && b.entry[0].runs == 2, "%lu runs, %lu own",
          (unsigned long)b.runs, (unsigned long)b.own_runs);
    perf_baseline_free(&b);
    accepted[1] = id[1];                        /* the second of three: one is past                */
    o.now.accepted = accepted;
    o.now.run = "last";
    add_measured(&o.now, 1, 1000);
    text = slurp(path);
    CHECK(count_of(text, "\"past\"") == 1, "%.3000s", text);
    free(text);
}

/* Texts with bytes that are no UTF-8 are found again in a file, which has U+FFFD for them. */
static void broken_texts(void)
{
    static const char *const rejected[] = {"caf\xe9", NULL}, *const accepted[] = {"caf\xe9", "", NULL};
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    char              *text;
    int                k;

    snprintf(path, sizeof path, "%s/broken.json", dir);
    (void)remove(path);
    o.now.no_scopes = 1;
    o.now.time_s = 1.79e9;
    o.now.run = "b\xfcro";
    o.now.machine = "b\xfcro \xe2\x82";         /* a cut character, too                           */
    for (k = 0; k < 2; k++) {
        perf_reset();
        bench("caf\xe9", 1000);
        o.now.rejected = k ? rejected : NULL;
        CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    o.now.rejected = NULL;
    b = perf_baseline_check(path, &o);
    CHECK(b.runs == 1 && b.own_runs == 1 && b.other_runs == 0, "%lu runs, %lu own, %lu others",
          (unsigned long)b.runs, (unsigned long)b.own_runs, (unsigned long)b.other_runs);
    perf_baseline_free(&b);
    text = slurp(path);
    CHECK(count_of(text, "\"run\":\"b\\ufffdro\"") == 2 && count_of(text, "\"rejected\"") == 1, "%.3000s", text);
    free(text);
    o.now.accepted = accepted;
    o.now.run = "later";
    CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    text = slurp(path);
    CHECK(count_of(text, "\"past\"") == 1, "%.3000s", text);
    free(text);
}

/* Equal names, cut ones among them, are numbered in every format; what has a number already keeps it. */
static void equal_names(void)
{
    static const char *const suffix[] = {"google", "go", "openmetrics"};
    char  name[2][400], file[500], *text;
    int   k;

    perf_reset();
    bench("twin", 1000);
    bench("twin", 2000);
    bench("twin (2)", 3000);
    bench("twin", 4000);
    duel("twin");
    bench(long_name(name[0], 300, "one"), 1000);
    bench(long_name(name[1], 300, "two"), 2000);
    snprintf(path, sizeof path, "%s/equal.json", dir);
    CHECK(perf_results_save(path, NULL) == PERF_OK, "save");
    text = slurp(path);
    CHECK(count_of(text, "{\"name\":\"twin\"") == 2, "a bench and a duel: %lu",
          (unsigned long)count_of(text, "{\"name\":\"twin\""));
    CHECK(count_of(text, "\"name\":\"twin (2)\"") == 1 && count_of(text, "\"name\":\"twin (3)\"") == 1 &&
              count_of(text, "\"name\":\"twin (4)\"") == 1, "%.3000s", text);
    CHECK(count_of(text, "xxx\"") + count_of(text, "xxx (2)\"") == 2, "cut names: %lu and %lu",
          (unsigned long)count_of(text, "xxx\""), (unsigned long)count_of(text, "xxx (2)\""));
    CHECK(count_of(text, "its name was cut to 255 bytes") == 2, "%lu notes",
          (unsigned long)count_of(text, "its name was cut to 255 bytes"));
    free(text);
    for (k = 0; k < 3; k++) {
        snprintf(file, sizeof file, "%s/equal.%s", dir, suffix[k]);
        CHECK(perf_export_save(file, (perf_export_format)k, NULL) == PERF_OK, "%s", suffix[k]);
        text = slurp(file);
        CHECK(strstr(text, k == 1 ? "Twin_(3)" : "twin (3)") && strstr(text, k == 1 ? "x_(2)" : "x (2)"),
              "%s: %.2000s", suffix[k], text);
        free(text);
    }
}

/* An arm of an A/B loop has no name that a bench has: where formats know no pairs they would be one. */
static void arms_and_benches(void)
{
    static const char *const form[] = {"\"name\":\"x%s\",\"family_index\":%d,", "\nBenchmarkX%s\t", "{benchmark=\"x%s\"}"};
    static const char *const name[] = {"/baseline-2", "/candidate-3", "/baseline", "/candidate", "/candidate-2"};
    char   file[500], want[100], *text;
    int    format, i;
    size_t n;

    perf_reset();
    bench("first", 1000);
    duel("x");
    bench("x/baseline", 2000);
    bench("x/candidate", 3000);
    bench("x/candidate-2", 4000);
    snprintf(file, sizeof file, "%s/arms", dir);
    for (format = 0; format < 3; format++) {
        CHECK(perf_export_save(file, (perf_export_format)format, NULL) == PERF_OK, "%d", format);
        text = slurp(file);
        for (i = 0; i < 5; i++) {
            snprintf(want, sizeof want, form[format], name[i], i + 1);
            n = count_of(text, want);
            CHECK(format == 2 ? n == 1 : n > 0, "format %d: %lu of %s", format, (unsigned long)n, want);
        }
        free(text);
    }
}

/* As many loops of one name as a service makes in a day: each has a row of its own, none is slow. */
static void many_equal_names(void)
{
    char *text;
    int   i;

    perf_reset();
    for (i = 0; i < 120; i++)
        bench("again", 1000000);
    CHECK(perf_results_save(path, NULL) == PERF_OK, "save");
    text = slurp(path);
    CHECK(count_of(text, "\"name\":\"again") == 120 && strstr(text, "\"again (120)\""), "%lu",
          (unsigned long)count_of(text, "\"name\":\"again"));
    free(text);
    perf_reset();
}

static volatile sig_atomic_t signals;
static void on_alarm(int signal)
{
    (void)signal;
    signals++;
}

/* Whoever reads is slow, and a signal comes every millisecond. */
static void interrupted(void)
{
    struct sigaction act;
    struct itimerval every, never;
    int              way[2], status = 0;
    pid_t            reader;
    FILE            *file;
    long             wanted;
    char             part[512], name[40];
    int              i;

    for (i = 0; i < 3000; i++) {
        perf_scope s;
        snprintf(name, sizeof name, "a scope with number %d", i);
        s = perf_scope_begin(name);
        perf_scope_end(&s);
    }
    snprintf(path, sizeof path, "%s/whole.json", dir);
    CHECK(perf_results_save(path, NULL) == PERF_OK, "save");
    file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    wanted = ftell(file);
    (void)fclose(file);
    if (pipe(way) != 0 || (reader = fork()) < 0)
        abort();
    if (!reader) {
        long got = 0, n, turn = 0;
        close(way[1]);
        while ((n = read(way[0], part, sizeof part)) > 0) {
            got += n;
            if (turn++ % 8 == 0)
                usleep(1000);
        }
        _exit(got > wanted - 200 && got < wanted + 200 ? 0 : 1);        /* two dates, two ids      */
    }
    close(way[0]);
    file = fdopen(way[1], "wb");
    memset(&act, 0, sizeof act);
    act.sa_handler = on_alarm;                  /* without SA_RESTART                              */
    (void)sigaction(SIGALRM, &act, NULL);
    memset(&never, 0, sizeof never);
    memset(&every, 0, sizeof every);
    every.it_interval.tv_usec = every.it_value.tv_usec = 1000;
    (void)setitimer(ITIMER_REAL, &every, NULL);
    errno = 0;
    CHECK(results_to(file, NULL) == PERF_OK, "%s", strerror(errno));
    (void)setitimer(ITIMER_REAL, &never, NULL);
    (void)fclose(file);
    while (waitpid(reader, &status, 0) < 0)
        ;
    CHECK(status == 0, "the reader did not get all %ld bytes", wanted);
    CHECK(signals > 0, "no signal came");
}

int main(int argc, char **argv)
{
    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : ".");
    baseline_tells_long_names();
    adds_of_one_second();
    adds_of_another_second();
    missing_is_of_this_machine();
    long_ids();
    broken_texts();
    one_measurement_in_many_runs();
    one_count_in_many_runs();
    equal_names();
    arms_and_benches();
    many_equal_names();
    interrupted();
    return check_done();
}
