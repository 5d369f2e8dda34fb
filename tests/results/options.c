/* options.c DIR: a program of benchmarks run from within, with every option, with what is just too much
 * for each, and with files that cannot be written: which exit status, which words, what is in the file. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dlfcn.h>
#include <pthread.h>
#define PERF_MAIN 1
#define main      harness_main
#include "perf.h"
#undef main

#include "check.h"
#include "time/rows.h"

static const char *dir = ".";
static int         broken, bodies;

/* As many threads as there are; below 0: all that are wanted. */
static int threads_left = -1;
int pthread_create(pthread_t *t, const pthread_attr_t *how, void *(*run)(void *), void *with)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (!threads_left)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return real(t, how, run, with);
}

/* A machine of enough processors: on a smaller one two threads do less than twice the work of one. */
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    int i;

    (void)process;
    memset(set, 0, size);
    for (i = 0; i < 8; i++)
        CPU_SET((size_t)i, set);
    return 0;
}

PERF_BENCH(full)
{
    char name[16];
    int  i;

    for (i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "c%d", i);
        perf_bench_counter(&b, name, i ? i * 1e-3 : (double)INFINITY);
    }
    while (perf_bench_next(&b))
        perf_clobber();
}

PERF_BENCH_ARGS(tuple, 2, {4, -1}, {INT64_MAX, INT64_MIN})
{
    perf_bench_counter(&b, "first", (double)(arg[0] == 4));
    while (perf_bench_next(&b))
        perf_clobber();
}

PERF_BENCH(one)
{
    bodies++;
    if (broken)
        perf_bench_fail(&b, "as planned");
    while (perf_bench_next(&b))
        perf_clobber();
}

PERF_BENCH_N(from_none, 0, 16)
{
    size_t i;

    while (perf_bench_next(&b))
        for (i = 0; i < n; i++)
            perf_clobber();
}

PERF_BENCH_THREADS(nobody, 0, 2)
{
    (void)threads;
    (void)thread;
    while (perf_bench_next(&b))
        perf_clobber();
}

static double moved = 1.0;
PERF_BENCH_THREADS(movers, 1, 2)
{
    (void)threads;
    (void)thread;
    perf_bench_rates(&b, moved, 1000.0);
    while (perf_bench_next(&b))
        perf_clobber();
}

PERF_BENCH_THREADS(crew, 1, 2)
{
    if (broken)
        perf_bench_fail(&b, "as planned");
    while (perf_bench_next(&b))
        perf_clobber();
    perf_bench_counter(&b, thread ? "second" : "first", (double)threads);
}

/* A loop of its own, whose name is Latin-1: in files, and so in comparisons, its e is U+FFFD. */
PERF_BENCH(latin)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      own;

    o.max_seconds = 0.001;
    own = perf_bench_begin("caf\xe9", &o);
    while (perf_bench_next(&own))
        perf_clobber();
    (void)perf_bench_end(&own);
    while (perf_bench_next(&b))
        perf_clobber();
}

/* One with a scope, which has a time, but no count of instructions. */
PERF_BENCH(scoped)
{
    while (perf_bench_next(&b)) {
        PERF_SCOPE("inside");
        perf_clobber();
    }
}

static char *in(const char *name)
{
    static char path[2][500];
    static int  turn;

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

/* Runs the program with `words`, as a shell would cut them; what it printed is in `said`. */
static char *said;
static int run(const char *words)
{
    static char text[9000];
    static char program[] = "options", brief[] = "--budget=0.001", quiet[] = "--no-env";
    char       *word[300], *to = in("said");
    int         n = 0, status, out, err, file;

    snprintf(text, sizeof text, "%s", words);
    word[n++] = program;
    word[n++] = brief;
    word[n++] = quiet;
    for (word[n] = strtok(text, " "); word[n]; word[n] = strtok(NULL, " "))
        n++;
    fflush(stdout);
    out = dup(1);
    err = dup(2);
    file = open(to, O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
    if (out < 0 || err < 0 || file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
        abort();
    status = harness_main(n, word);
    fflush(stdout);
    if (dup2(out, 1) < 0 || dup2(err, 2) < 0)
        abort();
    close(out);
    close(err);
    close(file);
    free(said);
    said = file_text(to);
    return status;
}

/* The number behind `key` in the entry of that name; -1: none. */
static double value_of(const char *text, const char *name, const char *key)
{
    const char *at = strstr(text, name), *end = at ? strstr(at, "\"samples\":[") : NULL;

    at = at ? strstr(at, key) : NULL;
    return at && at < end ? atof(at + strlen(key)) : -1.0;
}

/* Two threads do what both of them do: bytes and items per second are sums. */
static void rates_add_up(const char *text)
{
    static const char *const key[] = {"\"items_per_s\":", "\"gb_per_s\":"};
    int k;

    CHECK(value_of(text, "\"movers/threads:2\"", "\"threads\":") > 1.5, "%.2000s", text);
    for (k = 0; k < 2; k++) {
        double both = value_of(text, "\"movers/threads:2\"", key[k]);
        double sum = value_of(text, "\"movers/threads:2 #0\"", key[k]) +
                     value_of(text, "\"movers/threads:2 #1\"", key[k]);
        CHECK(both > 0.0 && both > 0.999 * sum && both < 1.001 * sum, "%s %g, not %g", key[k], both, sum);
    }
}

static void says(int status, const char *words, const char *text)
{
    int got = run(words);

    CHECK(got == status && strstr(said, text), "'%s': status %d, not %d, and not '%s' in: %.300s", words, got,
          status, text, said);
}

static void options(void)
{
    static const char *const wrong[][2] = {
        {"--repeat 0", "--repeat needs a count, not '0'"},
        {"--repeat 1.5", "--repeat needs a count, not '1.5'"},
        {"--repeat 10001", "--repeat needs a count"},
        {"--repeat", "--repeat needs a count, not ''"},
        {"--threads 257", "--threads needs 1 .. 256, not '257'"},
        {"--min-time 5x", "--min-time needs seconds, not '5x'"},
        {"--budget x", "--budget needs seconds, not 'x'"},
        {"--json", "needs a value: '--json'"},
        {"--output=", "needs a value: '--output'"},
        {"--json=x --output=y", "--output needs one file, not also 'y'"},
        {"--format google", "--format needs --output FILE"},
        {"--output x --format html", "--format does not know 'html'"},
        {"--accept faster", "--accept does not understand 'faster'"},
        {"--accept memory=down", "--accept does not understand"},
        {"--filter (", "--filter needs a text or a pattern, 64 at most, not '('"},
        {"--filter", "--filter needs a text"},
        {"--lists", "unknown option '--lists'"},
        {"--jsonx=1", "unknown option '--jsonx=1'"},
        {"--context x", "--context needs KEY=VALUE"}};
    char   many[3000] = "";
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        says(2, wrong[i][0], wrong[i][1]);
        CHECK(strstr(said, "usage: options"), "'%s': no usage", wrong[i][0]);
    }
    for (i = 0; i < 64; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), " --filter f%d --context k%d=%d", (int)i, (int)i,
                 (int)i);
    says(2, many, "no benchmark is called like f0");
    snprintf(many + strlen(many), sizeof many - strlen(many), " --context k63=new --context k=");
    says(2, many, "64 at most, not 'k='");
    many[strlen(many) - 12] = '\0';
    snprintf(many + strlen(many), sizeof many - strlen(many), " --filter one");
    says(2, many, "64 at most, not 'one'");
    says(0, "--help", "usage: options");
    says(0, "-h", "usage: options");
    says(0, "--list --filter ^o", "one\n");
    says(0, "--filter=one", "one ");
    CHECK(!strstr(said, "crew"), "--filter=one: %s", said);
    bodies = 0;
    says(0, "--profile --filter one --repeat 3", "one ran once");
    CHECK(bodies == 3, "%d", bodies);
}

/* In words that strtok would cut: rules that measure something else than time. */
static void rules(void)
{
    char  name[] = "options", accept[] = "--accept", list[] = "--list", memory[] = "memory down >= 10 %",
         throughput[] = "no regression beyond 2 % on throughput";
    char *word[] = {name, list, accept, memory, NULL};

    CHECK(harness_main(4, word) == 2, "memory");
    word[3] = throughput;
    CHECK(harness_main(4, word) == 2, "throughput");
}

/* A change is accepted only where both rules have compared it: else nothing of it becomes past. */
static void accepted_by_both(void)
{
    char  name[] = "options", brief[] = "--budget=0.001", filter[] = "--filter=scoped", add[] = "--add=", compare[] = "--compare=",
          inside[] = "--accept-change=inside", time[] = "--accept=no regression beyond 900 %",
          count[] = "--accept=instructions no more than 2 % worse", to[2][520];
    char *word[] = {name, brief, filter, to[0], to[1], inside, time, count, NULL}, *text;
    int   rules;

    snprintf(to[0], sizeof to[0], "%s%s", add, in("both.json"));
    snprintf(to[1], sizeof to[1], "%s%s", compare, in("both.json"));
    CHECK(harness_main(4, word) == 0, "saved");
    for (rules = 2; rules > 0; rules--) {
        CHECK(harness_main(6 + rules, word) == (rules == 2 ? 2 : 0), "%d rules", rules);
        text = file_text(in("both.json"));
        CHECK(strstr(text, "\"inside\"") && !strstr(text, "\"past\"") == (rules == 2), "%d rules: %.3000s", rules, text);
        free(text);
    }
}

static void files(void)
{
    static const char *const bad[] = {"--json", "--save", "--add"};
    char   words[1200];
    char  *text;
    size_t i;

    for (i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "--filter one %s no/such/folder/x", bad[i]);
        says(2, words, "no/such/folder/x: input/output error");
    }
    snprintf(words, sizeof words, "--filter one --format json --json %s --context k=1 --context=k=2", in("r.json"));
    says(0, words, "one ");
    text = file_text(in("r.json"));
    CHECK(json_valid(text) && strstr(text, "\"context\":{\"k\":\"2\"}"), "%.400s", text);
    free(text);
    snprintf(words, sizeof words, "--filter one --format flame --output %s", in("r.html"));
    says(0, words, "one ");
    text = file_text(in("r.html"));
    CHECK(!strncmp(text, "<!doctype html>", 15), "%.40s", text);
    free(text);
    says(2, "--filter one --format flame --output -", "standard output: invalid argument");
    snprintf(words, sizeof words, "--filter crew --json %s", in("r.json"));
    says(0, words, "crew/threads:2");
    text = file_text(in("r.json"));
    CHECK(json_valid(text) && strstr(text, "\"counters\":{\"first\":2,\"second\":2}"), "%.2000s", text);
    free(text);
    snprintf(words, sizeof words, "--filter full --json %s", in("r.json"));
    says(0, words, "c1 0.001, ");
    text = file_text(in("r.json"));
    CHECK(json_valid(text) && strstr(text, "\"c0\":null,\"c1\":0.001,") && strstr(text, ",\"c15\":0.015}"), "%.2000s", text);
    free(text);
    snprintf(words, sizeof words, "--filter full --format google --output %s", in("r.google"));
    says(0, words, "full ");
    text = file_text(in("r.google"));
    CHECK(json_valid(text) && strstr(text, "{\"c1\":0.001,") && strstr(text, "\"c15\":0.015,\"name\":\"full\""), "%.2000s",
          text);
    free(text);
    snprintf(words, sizeof words, "--filter full --format go --output %s", in("r.go"));
    says(0, words, "full ");
    text = file_text(in("r.go"));
    CHECK(strstr(text, " ns/op\t0.001 c1\t") && strstr(text, "\t0.015 c15\n"), "%.2000s", text);
    free(text);
    says(0, "--filter tuple", "tuple/4/-1 ");
    CHECK(strstr(said, "tuple/92233720368...6854775808 ") && strstr(said, "first 1\n") &&
              strstr(said, "first 0\n"),
          "%s", said);
    says(0, "--filter from_none", "from_none/0 ");
    CHECK(strstr(said, "from_none/1 ") && strstr(said, "from_none/16 "), "%s", said);
    says(2, "--filter nobody", "nobody  not measured: PERF_BENCH_THREADS begins at 1 thread, not at 0\n");
    snprintf(words, sizeof words, "--filter movers --json %s", in("r.json"));
    says(0, words, "speed-up over 1 thread\n           1 ");
    CHECK(strstr(said, " 1.00x\n           2 "), "%s", said);
    text = file_text(in("r.json"));
    rates_add_up(text);
    free(text);
    snprintf(words, sizeof words, "--filter movers --format google --output %s", in("r.google"));
    says(0, words, "movers/threads:2");
    text = file_text(in("r.google"));
    CHECK(json_valid(text) && strstr(text, "\"threads\":2,"), "%.2000s", text);
    free(text);
    moved = -1.0;
    says(2, "--filter movers/threads:1", "perf_bench_rates: `bytes` is not within 0 .. 1e30");
    moved = 1.0;
    threads_left = 1;
    says(2, "--filter crew/threads:2", "not measured: no threads to be had");
    threads_left = 0;
    says(2, "--filter crew/threads:2", "not measured: no threads to be had");
    threads_left = -1;
    {
        perf_case_ *kept = perf_cases_v1_;
        perf_cases_v1_ = NULL;
        says(2, "--repeat 2", "no benchmark in this program");
        perf_cases_v1_ = kept;
    }
    broken = 1;
    says(2, "--filter one", "as planned");
    says(2, "--filter crew", "not measured");
    broken = 0;
}

/* No words at all: the program has a name, the default budget holds, and its bodies fail at once. */
static void nothing_said(void)
{
    char *none[] = {NULL};
    int   status, out;

    fflush(stdout);
    out = dup(1);
    if (!freopen(in("said"), "wb", stdout))
        abort();
    broken = 1;
    status = harness_main(0, none);
    broken = 0;
    fflush(stdout);
    if (dup2(out, 1) < 0)
        abort();
    close(out);
    CHECK(status == 2, "%d", status);
    free(said);
    said = file_text(in("said"));
    CHECK(!strncmp(said, "environment: ", 13) && strstr(said, "as planned"), "%.200s", said);
}

/* ---- what is planned from low and high --------------------------------------------------------- */

static void plans(void)
{
    static const struct {
        char   kind;
        size_t low, high, count;
        double first, last;
    } c[] = {{'n', 4, 64, 5, 4, 64},       {'n', 64, 4, 5, 4, 64},     {'n', 0, 0, 1, 0, 0},
             {'n', 0, 64, 8, 0, 64},       {'n', 64, 0, 8, 0, 64},     {'n', 0, 1, 2, 0, 1},
             {'n', 1, 1 << 30, 11, 1, 1073741824}, {'n', 7, 7, 1, 7, 7},
             {'t', 1, 8, 4, 1, 8},         {'t', 300, 1000, 1, 256, 256}, {'t', 2, 1000, 8, 2, 256},
             {'b', 0, 0, 1, 0, 0}, {'t', 0, 2, 0, 0, 0}};
    perf_main_ m;
    double     n[PERF_MAIN_SIZES_];
    size_t     i, count;

    memset(&m, 0, sizeof m);
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_case_ one;
        memset(&one, 0, sizeof one);
        one.kind = c[i].kind;
        one.low = c[i].low;
        one.high = c[i].high;
        count = perf_main_plan_(&m, &one, n);
        if (!count)
            n[count++] = 0.0;
        CHECK(count == (c[i].count ? c[i].count : 1) && fabs(n[0] - c[i].first) < 0.5 &&
                  fabs(n[count - 1] - c[i].last) < 0.5,
              "%c %d .. %d: %d from %g to %g", c[i].kind, (int)c[i].low, (int)c[i].high, (int)count, n[0],
              n[count - 1]);
    }
}

/* Whatever order the constructors run in, the cases of one file come in the order of its lines. */
static void order(void)
{
    perf_case_  c[4], *kept = perf_cases_v1_, *at;
    const int   line[4] = {30, 10, 20, 5};
    size_t      i;

    memset(c, 0, sizeof c);
    perf_cases_v1_ = NULL;
    for (i = 0; i < 4; i++) {
        c[i].file = i == 3 ? "another.c" : "one.c";
        c[i].line = line[i];
        perf_case_add_(&c[i]);
    }
    for (at = perf_cases_v1_, i = 0; at; at = at->next, i++)
        CHECK(at == &c[i == 0 ? 1 : i == 1 ? 2 : i == 2 ? 0 : 3], "%d: line %d", (int)i, at->line);
    CHECK(i == 4, "%d of them", (int)i);
    perf_cases_v1_ = kept;
}

static void name_growth(const perf_main_ *m, const double *n, const double *median, const double *fastest)
{
    perf_times_ medians, best;

    medians.n = best.n = n;
    medians.ns = median;
    best.ns = fastest;
    medians.count = best.count = 9;
    perf_main_growth_(m, "sweep", &medians, &best);
}

/* What is said of sizes that tell little. */
static void growth(void)
{
    static const struct {
        double      low, factor, power, first;          /* first: of the first three times */
        const char *text;
    } c[] = {{16, 2, 1, 1, "sweep: O(n), off by 0 %"},
             {16, 2, 1, 0.4, "sweep: O(n) from 128 on, off by 0 %"},
             {16, 1.2, 1, 1, "the sizes lie within a factor of 8"},
             {16, 2, 7, 1, "no fit; the closest, O(n^3), is off by"}};
    perf_main_ m;
    double     n[9], ns[9], other[9];
    size_t     i, k;
    char      *text;

    memset(&m, 0, sizeof m);
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        n[0] = c[i].low;
        for (k = 0; k < 9; k++) {
            n[k] = k ? n[k - 1] * c[i].factor : c[i].low;
            ns[k] = pow(n[k], c[i].power) * (k < 3 ? c[i].first : 1);
            other[k] = ns[k] * (k % 2 ? 4 : 1); /* disturbed: follows no law                      */
        }
        for (k = 0; k < 3; k++) {               /* both are fine, or only one is                  */
            m.out = fopen(in("growth"), "wb");
            name_growth(&m, n, k == 1 ? other : ns, k == 2 ? other : ns);
            fclose(m.out);
            text = file_text(in("growth"));
            CHECK(strstr(text, c[i].text), "%d: not '%s': %s", (int)k, c[i].text, text);
            free(text);
        }
    }
    for (k = 0; k < 9; k++) {                   /* 10 % to either side: n or n log n */
        n[k] = 1000.0 * (double)(k + 1);
        ns[k] = n[k] * (k % 2 ? 1.1 : 0.9);
    }
    m.out = fopen(in("growth"), "wb");
    name_growth(&m, n, ns, ns);
    fclose(m.out);
    text = file_text(in("growth"));
    CHECK(strstr(text, "sweep: O(n") && strstr(text, " or O(n") && strstr(text, "these sizes cannot tell"), "%s",
          text);
    free(text);
}

/* Counters and failures that come too late, without a name, or for another loop: only one counts. */
static void late(void)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      b, copy;
    perf_ab         ab = perf_ab_begin("no bench", NULL);
    perf_result     r;
    char           *text;

    o.max_seconds = 0.001;
    b = perf_bench_begin("late", &o);
    perf_bench_counter(&b, NULL, 3);
    perf_bench_counter(&b, "", 4);
    perf_bench_counter(&ab, "of a duel", 5);
    perf_bench_fail(&ab, "a duel does not fail");
    perf_bench_rates(&ab, 1, 1);
    while (perf_bench_next(&b))
        perf_clobber();
    b.left = -1;
    copy = b;
    r = perf_bench_end(&b);
    perf_bench_fail(&b, "too late");
    perf_bench_counter(&b, "too late", 6);
    perf_bench_fail(&copy, "too late");
    perf_bench_counter(&copy, "too late", 6);
    CHECK(r.status == PERF_OK && r.time.count > 0, "%s", perf_status_text(r.status));
    CHECK(perf_ab_end(&ab).status != PERF_EFAILED, "not a bench");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "(unnamed) 4") && !strstr(text, "too late") && !strstr(text, "duel 5"), "%s", text);
    free(text);
}

/* A file that two options write, or read and write, is one however it is spelt: nothing is measured.
 * Nor is the name of a loop another one where a file cannot have its bytes. */
static void one_file(void)
{
    static const char *const spelt[] = {"plain", "./plain", "sub/../plain", "soft", "hard", "deep/plain"};
    static const char *const also[] = {"--add", "--save", "--compare"};
    char   words[1600], was[PATH_MAX];
    size_t i, k;

    if (!getcwd(was, sizeof was) || chdir(dir) || mkdir("sub", 0700) || symlink("sub/..", "deep"))
        abort();
    for (i = 0; i < 9; i++) {                   /* 6 .. 8: no such file yet, the first three ways */
        if (i == 6 && (remove("plain") || remove("soft") || remove("hard")))
            abort();
        if (i == 0) {
            says(0, "--filter one --save plain", "one ");
            if (symlink("plain", "soft") || link("plain", "hard"))
                abort();
        }
        for (k = 0; k < 3; k++) {
            snprintf(words, sizeof words, "--filter one --output %s %s plain", spelt[i % 6], also[k]);
            says(2, words, "--output needs another file than --compare, --add and --save, not");
        }
        snprintf(words, sizeof words, "--filter one --save %s --add plain", spelt[i % 6]);
        says(2, words, "--save needs another file than --add, not");
    }
    CHECK(access("plain", F_OK) != 0, "it was written");
    says(0, "--filter one --save plain", "one ");
    says(0, "--filter one --add sub/../plain --compare ./plain --accept-change one", "accepted: one");
    says(0, "--filter latin --save latin", "latin ");
    says(0, "--filter latin --add latin --compare latin --accept-change caf\xe9", "accepted: caf\xe9");
    says(0, "--filter latin --add latin --compare latin --accept-change caf\xef\xbf\xbd", "accepted: caf");
    says(2, "--filter latin --add latin --compare latin --accept-change cafe", "not measured in this run: 'cafe'");
    says(0, "--filter one --output sub/plain --add plain", "one ");
    says(0, "--filter one --output other --add plain", "one ");
    says(0, "--filter one --output /dev/null --add plain", "one ");
    says(0, "--filter one --compare plain --save ./plain", "one ");
    if (chdir(was))
        abort();
}

/* What can only end in a refusal is refused before anything is measured; what --add or --save make is
 * not there at first. */
static void in_vain(void)
{
    static const struct {
        const char *words, *says;
        int         measured;
    } c[] = {
        {"--compare typo", "typo: no such file", 0},
        {"--compare typo --add elsewhere --save another", "typo: no such file", 0},
        {"--compare half", "half: malformed or truncated data at byte 18", 0},
        {"--compare half --add elsewhere", "half: malformed or truncated data", 0},
        {"--compare foreign --add foreign", "foreign: no file of this kind", 0},
        {"--compare sub", "sub: input/output error", 0},
        {"--add foreign", "foreign: no file of this kind", 0},
        {"--save foreign", "foreign: no file of this kind", 0},
        {"--compare fresh --add sub/../fresh", "fresh: no such file", 1},
        {"--compare new --save new", "new: no such file", 1},
        {"--compare half --add half", "half: malformed or truncated data", 1},
    };
    static const char *const text[][2] = {{"half", "{\"perf_results\":1,"}, {"foreign", "mine\n"}};
    char   words[200], was[PATH_MAX];
    FILE  *file;
    size_t i;

    if (!getcwd(was, sizeof was) || chdir(dir))
        abort();
    for (i = 0; i < 2; i++) {
        file = fopen(text[i][0], "w");
        if (!file || fputs(text[i][1], file) < 0 || fclose(file))
            abort();
    }
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        bodies = 0;
        snprintf(words, sizeof words, "--filter one %s", c[i].words);
        says(2, words, c[i].says);
        CHECK(!bodies == !c[i].measured, "%s: %d bodies", words, bodies);
    }
    CHECK(access("elsewhere", F_OK) && access("another", F_OK) && !access("fresh", F_OK) && !access("new", F_OK) &&
          !access("half.damaged", F_OK), "what was written");
    says(0, "--filter one --compare half --add half", "one ");
    if (chdir(was))
        abort();
}

int main(int argc, char **argv)
{
    dir = argc > 1 ? argv[1] : dir;
    late();
    plans();
    order();
    growth();
    options();
    rules();
    accepted_by_both();
    files();
    one_file();
    in_vain();
    nothing_said();
    return check_done();
}
