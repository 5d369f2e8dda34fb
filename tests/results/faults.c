/* faults.c DIR [PLACES]: every call to the system fails once, and from some call on for ever, in a tour
 * of the library: scopes, threads, loops, reports, files, baselines, streams.  Tried at each of its
 * first PLACES calls (8), then twice as far each time, in a process of its own.  Nothing may crash,
 * hang or leave half a file: each is whole, or what it was before.
 * Linked with -Wl,--wrap=NAME for each name of CALLS.                                            */
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
#include "perf.h"
#include "perf_export.h"
#include "perf_memory.h"
#include "perf_trace.h"

#include "check.h"
#include "time/rows.h"

/* ---- the calls that fail ----------------------------------------------------------------------- */

/* name, result, parameters, arguments, what it returns when it fails, errno */
#define CALLS(X)                                                                                   \
    X(mmap, void *, (void *a, size_t n, int p, int f, int d, long o), (a, n, p, f, d, o), MAP_FAILED, ENOMEM) \
    X(madvise, int, (void *a, size_t n, int w), (a, n, w), -1, EINVAL)                             \
    X(malloc, void *, (size_t n), (n), NULL, ENOMEM)                                               \
    X(clock_gettime, int, (int c, void *t), (c, t), -1, EINVAL)                                    \
    X(getrusage, int, (int w, void *u), (w, u), -1, EINVAL)                                        \
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
    X(fflush, int, (FILE *f), (f), EOF, ENOSPC)                                                    \
    X(fseek, int, (FILE *f, long o, int w), (f, o, w), -1, EIO)                                    \
    X(ferror, int, (FILE *f), (f), 1, EIO)

#define AS_NUMBER(name, ...) CALL_##name,
enum { CALLS(AS_NUMBER) CALL_close, CALL_fclose, NUMBER_OF_CALLS };
#define AS_TEXT(name, ...) #name,
static const char *const name_of[] = {CALLS(AS_TEXT) "close", "fclose"};

static struct {
    int call, at, for_ever;                     /* which call fails, at its how manieth time        */
    int on;                                     /* 0: none fails, none is counted                   */
} fault;
static int *seen;                               /* how often each was called; shared with the parent */

static int fails(int call)
{
    int n;

    if (!__atomic_load_n(&fault.on, __ATOMIC_RELAXED))
        return 0;
    n = __atomic_add_fetch(&seen[call], 1, __ATOMIC_RELAXED);
    return call == fault.call && (fault.for_ever ? n >= fault.at : n == fault.at);
}

#define STAND_BEFORE(name, type, parameters, arguments, failed, code)                              \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (!fails(CALL_##name))                                                                   \
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
        int bad = fails(CALL_##name), status = __real_##name(it);                                  \
                                                                                                   \
        errno = bad ? EIO : errno;                                                                 \
        return bad ? failed : status;                                                              \
    }
CLOSE(close, int, -1)
CLOSE(fclose, FILE *, EOF)

/* ---- the tour ---------------------------------------------------------------------------------- */

static char        path[500], part[500];
static const char *broken;                      /* what is wrong, once something is             */
static const char  OLD[] = "{\"perf_results\":1}\n";

static void wrong(int is, const char *what)
{
    if (is && !broken)
        broken = what;
}

static void old_file(const char *to)
{
    FILE *f;

    fault.on = 0;
    f = fopen(to, "wb");
    if (!f || fwrite(OLD, 1, sizeof OLD - 1, f) != sizeof OLD - 1 || fclose(f))
        abort();
    fault.on = 1;
}

/* The file must be whole, or what it was: json: it is, 0: it is another text or binary */
static void whole(const char *file, perf_status status, int json, const char *what)
{
    char  *text;
    size_t n;
    int    is_old;

    fault.on = 0;
    text = file_text(file);
    n = text ? strlen(text) : 0;
    is_old = text && !strcmp(text, OLD);
    wrong(!text || (!n && json), what);
    wrong(status == PERF_OK && is_old, what);
    wrong(json && text && !json_valid(text), what);
    free(text);
    fault.on = 1;
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

static void scopes(void)
{
    static char name[60][24];
    pthread_t   other;
    int         i, started;

    for (i = 0; i < 60; i++) {
        perf_scope s;

        snprintf(name[i], sizeof name[i], "name %d", i);
        s = perf_scope_begin(name[i]);
        {
            PERF_SCOPE("inner");
            PERF_INSTANT("now");
        }
        perf_scope_end(&s);
    }
    fault.on = 0;                               /* the thread is ours */
    started = !pthread_create(&other, NULL, thread, NULL);
    fault.on = 1;
    if (started)
        pthread_join(other, NULL);
    perf_memory_mark("phase");
}

static void loops(void)
{
    perf_bench_opts o = perf_bench_opts_default();
    perf_ab_opts    a = perf_ab_opts_default();
    perf_bench      b;
    perf_ab         ab;
    int             v;

    o.max_seconds = a.max_seconds = 0.002;
    b = perf_bench_begin("loop", &o);
    while (perf_bench_next(&b))
        perf_clobber();
    wrong(perf_bench_end(&b).time.count > 100000000, "a bench of too many slices");
    ab = perf_ab_begin("which", &a);
    while ((v = perf_ab_next(&ab)) >= 0)
        perf_clobber();
    (void)perf_ab_end(&ab);                     /* its answer is measured: no business of this test */
}

static void reports(void)
{
    static char      text[1 << 16];
    perf_report_opts o = perf_report_opts_default();
    FILE            *null;
    int              view;

    for (view = 0; view < 4; view++) {
        o.view = PERF_CAST_(perf_view, view);
        (void)perf_report_text(text, sizeof text, &o);
        wrong(strnlen(text, sizeof text) == sizeof text, "a report without its end");
    }
    fault.on = 0;
    null = fopen("/dev/null", "wb");
    fault.on = 1;
    (void)perf_report_to(null, NULL);
    fault.on = 0;
    (void)fclose(null);
    fault.on = 1;
}

static void files(void)
{
    perf_trace_part  merged = {PERF_NULL_, PERF_NULL_, 0, 0};
    perf_baseline    b;
    int              format, i;

    old_file(path);
    whole(path, perf_results_save(path, NULL), 1, "perf_results_save");
    old_file(path);
    whole(path, perf_trace_save(path), 1, "perf_trace_save");
    for (format = 0; format < PERF_EXPORT_FORMATS_; format++) {
        old_file(path);
        whole(path, perf_export_save(path, PERF_CAST_(perf_export_format, format), NULL), format == PERF_EXPORT_GOOGLE,
              "perf_export_save");
    }
    old_file(part);
    old_file(path);
    merged.path = part;
    whole(part, perf_trace_save_perfetto(part), 0, "perf_trace_save_perfetto");
    (void)perf_trace_merge(path, &merged, 1, NULL);
    if (perf_trace_stream(path) == PERF_OK) {
        scopes();
        (void)perf_trace_stream_end();
    }
    old_file(path);
    for (i = 0; i < 3; i++)
        whole(path, perf_baseline_add(path, NULL), 1, "perf_baseline_add");
    b = perf_baseline_check(path, NULL);
    wrong(b.status == PERF_OK && b.runs > 3, "a baseline of more runs than were added");
    perf_baseline_free(&b);
    whole(path, perf_baseline_save(path, NULL), 1, "perf_baseline_save");
}

static void tour(void)
{
    int round;

    fault.on = 1;
    for (round = 0; round < 2; round++) {
        scopes();
        loops();
        reports();
        files();
        perf_reset();
    }
    wrong(fault.call == CALL_mmap && fault.for_ever && fault.at == 1 && perf_error() == PERF_OK,
          "all memory is lost, and perf_error() says nothing");
    fault.on = 0;
}

/* ---- a process for each fault ------------------------------------------------------------------ */

/* 0: the tour with this fault came to its end. */
static int child(int call, int at, int for_ever)
{
    int   status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        alarm(120);                             /* a hang, not a limit: it takes milliseconds */
        memset(seen, 0, NUMBER_OF_CALLS * sizeof *seen);
        fault.call = call;
        fault.at = at;
        fault.for_ever = for_ever;
        tour();
        if (broken)
            printf("%s\n", broken);
        fflush(stdout);
        _exit(broken != NULL);
    }
    return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

int main(int argc, char **argv)
{
    int often[NUMBER_OF_CALLS], call, at, for_ever, most = argc > 2 ? atoi(argv[2]) : 8, status;

    snprintf(path, sizeof path, "%s/out", argc > 1 ? argv[1] : ".");
    snprintf(part, sizeof part, "%s/part", argc > 1 ? argv[1] : ".");
    seen = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    CHECK(child(-1, 0, 0) == 0, "nothing fails");
    memcpy(often, seen, sizeof often);
    for (call = 0; call < NUMBER_OF_CALLS; call++) {
        /* each of the first calls, then twice as far each time */
        for (at = 1; at <= often[call]; at += at < most ? 1 : at)
            for (for_ever = 0; for_ever < 2; for_ever++) {
                status = child(call, at, for_ever);
                CHECK(status == 0, "%s fails at call %d of %d%s: status %x", name_of[call], at, often[call],
                      for_ever ? " and for ever" : "", (unsigned)status);
            }
        printf("%s: %d calls\n", name_of[call], often[call]);
    }
    return check_done();
}
