/* faults.c DIR [STRIDE]: every call to the system fails once, and from then on for ever, in a tour of the
 * library: scopes, threads, loops, reports, files, baselines, streams.  Each place in the code that
 * calls the system, told apart by who called it, gets a process of its own in which just that one
 * fails; with STRIDE every so manieth of those that come after a call's first.  Nothing may crash,
 * hang or leave half a file: each is whole, or what it was before.
 * Linked with -Wl,--wrap=NAME for each name of CALLS, compiled with -fno-omit-frame-pointer.      */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#define PERF_DIAGNOSIS 1
#define PERF_MAIN      1
#define main           harness_main
#include "perf.h"
#undef main
#include "perf_diagnosis.h"
#include "perf_export.h"
#include "perf_memory.h"
#include "perf_tally.h"
#include "perf_trace.h"

#include "check.h"
#include "time/rows.h"
#include "inside.h"
#include "tools/stats.h"

/* ---- the calls that fail ----------------------------------------------------------------------- */

/* name, result, parameters, arguments, what it returns when it fails, errno */
#define CALLS(X)                                                                                   \
    X(mmap, void *, (void *a, size_t n, int p, int f, int d, long o), (a, n, p, f, d, o),          \
      MAP_FAILED, ENOMEM)                                                                          \
    X(madvise, int, (void *a, size_t n, int w), (a, n, w), -1, EINVAL)                             \
    X(malloc, void *, (size_t n), (n), NULL, ENOMEM)                                               \
    X(clock_gettime, int, (int c, void *t), (c, t), -1, EINVAL)                                    \
    X(getrusage, int, (int w, void *u), (w, u), -1, EINVAL)                                        \
    X(pthread_create, int, (void *t, const void *a, void *(*f)(void *), void *u), (t, a, f, u),    \
      EAGAIN, EAGAIN)                                                                              \
    X(regcomp, int, (void *r, const char *p, int f), (r, p, f), 12, ENOMEM)                        \
    X(sysconf, long, (int w), (w), -1, EINVAL)                                                     \
    X(dl_iterate_phdr, int, (void *f, void *d), (f, d), 0, 0)                                      \
    X(open, int, (const char *p, int f, int m), (p, f, m), -1, EMFILE)                             \
    X(fchmod, int, (int d, unsigned m), (d, m), -1, EPERM)                                         \
    X(fsync, int, (int d), (d), -1, EIO)                                                           \
    X(ftruncate, int, (int d, long n), (d, n), -1, EIO)                                            \
    X(readlink, long, (const char *p, char *b, size_t n), (p, b, n), -1, EACCES)                   \
    X(link, int, (const char *a, const char *b), (a, b), -1, EPERM)                                \
    X(stat, int, (const char *p, void *s), (p, s), -1, EACCES)                                     \
    X(rename, int, (const char *a, const char *b), (a, b), -1, EXDEV)                              \
    X(remove, int, (const char *p), (p), -1, EPERM)                                                \
    X(fdopen, FILE *, (int d, const char *m), (d, m), NULL, ENOMEM)                                \
    X(fopen, FILE *, (const char *p, const char *m), (p, m), NULL, EMFILE)                         \
    X(fread, size_t, (void *b, size_t s, size_t n, FILE *f), (b, s, n, f), 0, EIO)                 \
    X(fwrite, size_t, (const void *b, size_t s, size_t n, FILE *f), (b, s, n, f), 0, ENOSPC)       \
    X(fflush, int, (FILE * f), (f), EOF, ENOSPC)                                                   \
    X(fseek, int, (FILE * f, long o, int w), (f, o, w), -1, EIO)                                   \
    X(ferror, int, (FILE * f), (f), 1, EIO)

#define AS_NUMBER(name, ...) CALL_##name,
enum { CALLS(AS_NUMBER) CALL_close, CALL_fclose, NUMBER_OF_CALLS };
#define AS_TEXT(name, ...) #name,
static const char *const name_of[] = {CALLS(AS_TEXT) "close", "fclose"};

typedef struct place {
    int      call;
    uint64_t from; /* those that called, as one number                 */
} place;

enum { PLACES = 4000 };
static struct seen {
    uint64_t number, calls[NUMBER_OF_CALLS];
    place    at[PLACES];
} * seen; /* shared with the parent: what a tour without faults met */

static struct {
    place at;
    int   for_ever, began, learning;
    void *bottom; /* the frame that starts the tour                   */
} fault;
static __thread int off; /* above 0: this thread is the test's own: none fails */

extern char __executable_start, etext;

/* Who calls: up to eight return addresses of this program, the frames' own chain. */
static uint64_t called_from(void **frame)
{
    uint64_t  from = 0;
    uintptr_t to;
    int       i;

    for (i = 0; i < 8 && frame != (void **)fault.bottom; i++) {
        to = (uintptr_t)frame[1];
        if (to < (uintptr_t)&__executable_start || to >= (uintptr_t)&etext)
            break;
        from = (from ^ to) * UINT64_C(0x9e3779b97f4a7c15);
        frame = (void **)*frame;
    }
    return from;
}

static void learn(int call, uint64_t from)
{
    uint64_t i;

    for (i = 0; i < seen->number; i++)
        if (seen->at[i].call == call && seen->at[i].from == from)
            return;
    if (seen->number == PLACES)
        abort();
    seen->at[seen->number].call = call;
    seen->at[seen->number++].from = from;
}

static int fails(int call, void *frame)
{
    static int busy;
    uint64_t   from;

    if (off || (!fault.learning && fault.at.call != call))
        return 0;
    if (fault.for_ever && __atomic_load_n(&fault.began, __ATOMIC_RELAXED))
        return 1;
    from = called_from((void **)frame);
    if (fault.learning) {
        while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
        }
        seen->calls[call]++;
        learn(call, from);
        __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
        return 0;
    }
    return from == fault.at.from && !__atomic_exchange_n(&fault.began, 1, __ATOMIC_RELAXED);
}
#define FAILS(call) fails(call, __builtin_frame_address(0))

#define STAND_BEFORE(name, type, parameters, arguments, failed, code)                              \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (!FAILS(CALL_##name))                                                                   \
            return __real_##name arguments;                                                        \
        errno = code;                                                                              \
        return failed;                                                                             \
    }
CALLS(STAND_BEFORE)

/* What fails to close is closed all the same. */
#define CLOSE(name, type, failed)                                                                  \
    int __real_##name(type it);                                                                    \
    int __wrap_##name(type it);                                                                    \
    int __wrap_##name(type it)                                                                     \
    {                                                                                              \
        int bad = FAILS(CALL_##name), status = __real_##name(it);                                  \
                                                                                                   \
        errno = bad ? EIO : errno;                                                                 \
        return bad ? failed : status;                                                              \
    }
CLOSE(close, int, -1)
CLOSE(fclose, FILE *, EOF)

/* ---- the tour ---------------------------------------------------------------------------------- */

static char        path[500], part[500];
static const char *broken; /* what is wrong, once something is             */
static const char  OLD[] = "{\"perf_results\":1}\n";

static void wrong(int is, const char *what)
{
    if (is && !broken)
        broken = what;
}

static void old_file(const char *to)
{
    FILE *f;

    off++;
    f = fopen(to, "wb");
    if (!f || fwrite(OLD, 1, sizeof OLD - 1, f) != sizeof OLD - 1 || fclose(f))
        abort();
    off--;
}

/* The file must be whole, or what it was: json: it is, 0: it is another text or binary */
static void whole(const char *file, perf_status status, int json, const char *what)
{
    char  *text;
    size_t n;
    int    is_old;

    off++;
    text = file_text(file);
    n = text ? strlen(text) : 0;
    is_old = text && !strcmp(text, OLD);
    wrong(!text || (!n && json), what);
    wrong(status == PERF_OK && is_old, what);
    wrong(json && text && !json_valid(text), what);
    free(text);
    off--;
}

static void *thread(void *unused)
{
    int i;

    for (i = 0; i < 50; i++) {
        PERF_SCOPE("in a thread");
        PERF_COUNT("depth", i);
    }
    return unused;
}

static void again(int times)
{
    perf_scope s = perf_scope_begin("again");

    if (times)
        again(times - 1);
    perf_scope_end(&s);
}

/* What is told beside scopes, and what ends too late, too often or elsewhere. */
static void marks(void)
{
    perf_async a = perf_async_begin("request", 7);
    perf_lap   lap = perf_lap_begin();
    perf_scope outer = perf_scope_begin("outer"), wait = perf_wait_begin("wait");

    perf_scope_value("bytes", 12.0);
    perf_scope_text("file", "name of a file");
    perf_lap_end(&lap, "first");
    perf_scope_end(&outer); /* closes the wait, too */
    perf_scope_end(&wait);
    perf_async_end(&a);
    perf_async_end(&a);
    perf_thread_name("main");
    again(3);
}

enum { NAMES = 280 }; /* more than the first table of names has room for */
static void scopes(void)
{
    static char name[NAMES][24];
    pthread_t   other;
    int         i, started;

    for (i = 0; i < NAMES; i++) {
        perf_scope s;

        snprintf(name[i], sizeof name[i], "name %d", i);
        s = perf_scope_begin(name[i]);
        {
            PERF_SCOPE("inner");
            PERF_INSTANT("now");
        }
        perf_scope_end(&s);
    }
    off++; /* the thread is ours, what it calls is not */
    started = !pthread_create(&other, NULL, thread, NULL);
    off--;
    if (started)
        pthread_join(other, NULL);
    marks();
    perf_memory_mark("phase");
}

static void loops(void)
{
    perf_bench_opts o = PERF_ZERO;
    perf_ab_opts    a = PERF_ZERO;
    perf_bench      b;
    perf_ab         ab;
    perf_race       race;
    int             v;

    o.max_seconds = a.max_seconds = 0.002;
    b = perf_bench_begin("loop", &o);
    while (perf_bench_next(&b))
        perf_clobber();
    wrong(perf_bench_end(&b).time.count > 100000000, "a bench of too many slices");
    ab = perf_ab_begin("which", &a);
    while ((v = perf_ab_next(&ab)) >= 0)
        perf_clobber();
    (void)perf_ab_end(&ab); /* its answer is measured: no business of this test */
    race = perf_race_begin("three", 3, &a);
    while ((v = perf_race_next(&race)) >= 0)
        perf_clobber();
    (void)perf_race_end(&race);
}

/* Statistics of more values than fit on the stack. */
static void numbers(void)
{
    static double  x[2000], y[2000], p[2000];
    perf_tally     t;
    perf_diagnosis d;
    perf_summary   sum;
    perf_verdict   verdict;
    size_t         i;

    for (i = 0; i < 2000; i++) {
        x[i] = 10.0 + (double)(i * 7919 % 2000) / 2000.0;
        y[i] = 11.0 + (double)(i * 104729 % 2000) / 2000.0;
        p[i] = (double)i / 2000.0;
    }
    sum = perf_summarize(x, 2000);
    wrong(sum.status == PERF_OK ? sum.count != 2000 : sum.count != 0 || sum.status != PERF_ENOMEM,
          "perf_summarize");
    verdict = perf_compare_pairs(x, y, 2000, NULL);
    wrong(verdict.status != PERF_OK && verdict.decision != PERF_INCONCLUSIVE, "perf_compare_pairs");
    verdict = perf_compare(x, 2000, y, 2000, NULL);
    wrong(verdict.status != PERF_OK && verdict.decision != PERF_INCONCLUSIVE, "perf_compare");
    (void)ab_pairs_p(x, y, 2000, NULL);
    (void)baseline_holm(p, 2000, y);
    (void)stats_interval_series(x, 2000, 0.5, 0.95);
    (void)ab_mean_interval(x, 2000, 0.95);
    (void)perf_tally_of("again", 0, &t);
    wrong(perf_diagnose(&d) != PERF_OK && (d.calls || d.mean_ns > 0), "perf_diagnose");
}

static void reports(void)
{
    static char      text[1 << 16];
    perf_report_opts o = PERF_ZERO;
    FILE            *null;
    int              view;

    for (view = 0; view <= PERF_VIEW_DIAGNOSIS; view++) {
        o.view = (perf_view)view;
        (void)perf_report_text(text, sizeof text, &o);
        wrong(strnlen(text, sizeof text) == sizeof text, "a report without its end");
    }
    off++;
    null = fopen("/dev/null", "wb");
    off--;
    for (view = 0; view <= PERF_VIEW_DIAGNOSIS; view++) {
        o.view = (perf_view)view;
        (void)perf_report_to(null, &o);
    }
    (void)results_to(null, NULL);
    (void)export_to(null, PERF_EXPORT_OPENMETRICS, NULL);
    off++;
    (void)fclose(null);
    off--;
}

/* The file holds this run alone. */
static perf_status save_alone(const char *to, const perf_results_opts *with)
{
    perf_results_opts o = PERF_ZERO;

    if (with)
        o = *with;
    o.alone = 1;
    return perf_baseline_add(to, &o);
}

/* A stream; in the first round all that writes and reads files as well. */
static void files(int round)
{
    perf_trace_part merged = {NULL, NULL, 0, 0};
    perf_baseline   b;
    FILE           *null;
    int             format, i;

    old_file(path);
    whole(path, perf_results_save(path, NULL), 1, "perf_results_save");
    old_file(path);
    whole(path, perf_trace_save(path), 1, "perf_trace_save");
    for (format = 0; format <= PERF_EXPORT_FLAME && !round; format++) {
        old_file(path);
        whole(path, perf_export_save(path, (perf_export_format)format, NULL),
              format == PERF_EXPORT_GOOGLE, "perf_export_save");
    }
    old_file(part);
    old_file(path);
    merged.path = part;
    whole(part, perf_trace_save_perfetto(part), 0, "perf_trace_save_perfetto");
    (void)perf_trace_merge(path, &merged, 1, NULL);
    if (perf_trace_stream(path) == PERF_OK) {
        scopes();
        (void)perf_trace_stream_flush();
        (void)perf_trace_stream(NULL);
    }
    old_file(path);
    for (i = 0; i < 3; i++)
        whole(path, perf_baseline_add(path, NULL), 1, "perf_baseline_add");
    b = perf_baseline_check(path, NULL);
    wrong(b.status == PERF_OK && b.runs > 3, "a baseline of more runs than were added");
    off++;
    null = fopen("/dev/null", "wb");
    off--;
    (void)perf_baseline_to(null, &b);
    off++;
    (void)fclose(null);
    off--;
    perf_baseline_free(&b);
    whole(path, save_alone(path, NULL), 1, "perf_baseline_add, alone");
}

/* ---- the harness: its benchmarks, its files, one that calls off every option -------------------- */

PERF_BENCH(short_one)
{
    while (perf_bench_next(&b))
        perf_clobber();
}

PERF_BENCH_THREADS(threads_of, 2, 2)
{
    perf_bench_rates(&b, 8, 1.0 + (double)thread);
    while (perf_bench_next(&b))
        perf_clobber();
}

static int harness(const char *filter, const char *option, const char *value)
{
    char budget[] = "--budget", most[] = "0.0001", name[] = "harness", what[] = "--filter",
         quiet[] = "--no-env";
    char *words[10];
    int   n = 0;

    words[n++] = name;
    words[n++] = budget;
    words[n++] = most;
    words[n++] = quiet;
    words[n++] = what;
    words[n++] = (char *)(uintptr_t)filter;
    words[n++] = (char *)(uintptr_t)option;
    if (value)
        words[n++] = (char *)(uintptr_t)value;
    words[n] = NULL;
    return harness_main(n, words);
}

static void harnesses(void)
{
    int status;

    old_file(path);
    status = harness("^short", "--json", path);
    wrong(status != 0 && status != 2, "a status that says nothing");
    whole(path, status ? PERF_EIO : PERF_OK, 1, "--json");
    old_file(path);
    status = harness("threads_of", "--add", path);
    whole(path, status ? PERF_EIO : PERF_OK, 1, "--add");
    status = harness("short", "--compare", path);
    wrong(status != 0 && status != 1 && status != 2, "a status that says nothing");
    wrong(harness("(", "--list", NULL) != 2, "a pattern that is none");
}

static void tour(void)
{
    int round;

    off--;
    for (round = 0; round < 2; round++) {
        scopes();
        loops();
        numbers();
        reports();
        files(round);
        if (!round)
            harnesses();
        wrong(fault.for_ever && fault.at.call == CALL_mmap && fault.at.from == seen->at[0].from &&
                  perf_error() == PERF_OK,
              "all memory is lost, and perf_error() says nothing");
        perf_reset();
    }
    off++;
}

/* ---- a process for each fault ------------------------------------------------------------------ */

/* What the harness prints is nobody's business: 1: into nothing, 0: where it went before. */
static void quiet(int on)
{
    static int out, err, null;

    if (on) {
        fflush(stdout);
        out = dup(1);
        err = dup(2);
        null = open("/dev/null", O_WRONLY);
    }
    fflush(stdout);
    if (dup2(on ? null : out, 1) < 0 || dup2(on ? null : err, 2) < 0)
        abort();
}

/* 0: the tour with this fault came to its end. */
static int child(const place *at, int for_ever)
{
    int   status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        fault.bottom = __builtin_frame_address(0);
        alarm(120); /* a hang, not a limit: it takes milliseconds */
        fault.learning = !at;
        fault.for_ever = for_ever;
        if (at)
            fault.at = *at;
        quiet(1);
        tour();
        quiet(0);
        if (broken)
            printf("%s\n", broken);
        fflush(stdout);
        check_exit(broken != NULL);
    }
    return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

int main(int argc, char **argv)
{
    int      call, for_ever, stride = argc > 2 ? atoi(argv[2]) : 1, status, places;
    uint64_t i;

    off = 1;
    snprintf(path, sizeof path, "%s/out", argc > 1 ? argv[1] : ".");
    snprintf(part, sizeof part, "%s/part", argc > 1 ? argv[1] : ".");
    seen = (struct seen *)mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || stride < 1)
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    CHECK(child(NULL, 0) == 0, "nothing fails");
    CHECK(seen->number > 100, "only %d places", (int)seen->number);
    for (call = 0; call < NUMBER_OF_CALLS; call++) {
        for (places = 0, i = 0; i < seen->number; i++) {
            if (seen->at[i].call != call || places++ % stride)
                continue;
            for (for_ever = 0; for_ever < 2; for_ever++) {
                status = child(&seen->at[i], for_ever);
                CHECK(status == 0, "%s fails at place %d%s: status %x", name_of[call], places,
                      for_ever ? " and for ever" : "", (unsigned)status);
            }
        }
        printf("%s: %d calls from %d places\n", name_of[call], (int)seen->calls[call], places);
    }
    return check_done();
}
