/* Streamed traces: what a kill -9 leaves, what a full disk leaves, forks, limits, ties over two
 * writes, merging and repairing; each event once, or counted as not in the file.                  */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now_ns = 5000000123;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TRACE_EVENTS 1024
#define PERF_STREAM_BYTES limit
static uint64_t limit = UINT64_C(1) << 30;
#include "rows.h"
#include "perf_trace.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "inside.h"

static char first_path[96], other_path[96], merged_path[96];

typedef struct zone {
    uint64_t start, end;
    int      depth;
    char     name[24];
} zone;

typedef struct edge {
    uint64_t ns;
    int      place, begins;     /* place in the file */
    char     name[24];
} edge;

static edge     edges[600000];
static int      writes, counts;         /* found by the last zones(): of perf.h itself, counters */
static int      left_open;              /* so many scopes may lack their end: their writer was killed */
static uint32_t pid[16];                /* processes */
static size_t   pids;

/* As a viewer does: by time, then by the place in the file. */
static int before(const void *a, const void *b)
{
    const edge *x = (const edge *)a, *y = (const edge *)b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->place - y->place;
}

/* The number in a message's field, and where the bytes in it begin; 0 without one. */
static uint64_t number(const char *p, const char *end, uint64_t field, const char **bytes)
{
    uint64_t tag = 0, v = 0;

    while (p && p < end) {
        p = pb_next(p, end, &tag, &v);
        if (p && tag >> 3 == field) {
            if (bytes)
                *bytes = p - v;
            return v;
        }
    }
    return 0;
}

static const char *parent_of(const char *name)
{
    static const char *const pair[][2] = {{"first child", "round"}, {"grandchild", "first child"},
        {"tie", "middle"}, {"later", "middle"}, {"middle", "outer"}};
    size_t i;

    for (i = 0; i < sizeof pair / sizeof *pair; i++)
        if (!strcmp(pair[i][0], name))
            return pair[i][1];
    return "";
}

static void copy_name(char *to, const char *from, uint64_t n)
{
    memset(to, 0, 24);
    memcpy(to, from, n < 23 ? (size_t)n : 23);
}

/* One packet: a name, the start of a thread's clock, an event. */
static size_t packet(const char *p, const char *end, size_t n)
{
    static char     name[64][24];
    static uint64_t clock;
    const char     *at = NULL, *in = NULL, *text = NULL;
    uint64_t        size = number(p, end, 12, &at), length, kind;
    edge           *e = &edges[n];

    if (size) {
        length = number(at, at + size, 2, &in);
        copy_name(name[number(in, in + length, 1, NULL) % 64], (number(in, in + length, 2, &text), text),
                  number(in, in + length, 2, NULL));
    }
    if ((size = number(p, end, 6, &at)) != 0) {
        length = number(at, at + size, 1, &in);
        clock = number(in, in + length, 2, NULL);
    }
    if ((size = number(p, end, 60, &at)) != 0 && (length = number(at, at + size, 3, &in)) != 0 && pids < 16)
        pid[pids++] = (uint32_t)number(in, in + length, 1, NULL);
    if ((size = number(p, end, 11, &at)) == 0)
        return n;
    e->place = (int)n;
    kind = number(at, at + size, 9, NULL);
    counts += kind == 4;
    if (number(p, end, 58, NULL))
        e->ns = number(p, end, 8, NULL);
    else
        e->ns = clock += number(p, end, 8, NULL);
    e->begins = kind == 1;
    if ((length = number(at, at + size, 23, &text)) != 0)
        copy_name(e->name, text, length);
    else
        memcpy(e->name, name[number(at, at + size, 10, NULL) % 64], 24);
    return n + (kind == 1 || kind == 2);
}

/* The scopes of a valid trace of one thread, by their begin; those that are not where they belong
 * are counted in *crossed.                                                                       */
static size_t zones(const char *path, zone *z, size_t room, int *crossed)
{
    static char  text[1 << 24];
    static size_t stack[256];
    FILE        *f = fopen(path, "rb");
    size_t       size = f ? fread(text, 1, sizeof text, f) : 0, n = 0, k = 0, i, top = 0;
    const char  *p = text, *end = text + size;
    uint64_t     tag = 0, v = 0;

    if (f)
        fclose(f);
    *crossed = writes = counts = 0;
    pids = 0;
    while (p && p < end) {
        p = pb_next(p, end, &tag, &v);
        CHECK(p && tag == 10, "%s is not whole", path);
        if (p)
            n = packet(p - v, p, n);
    }
    CHECK(n > 0, "%s has no scope", path);
    qsort(edges, n, sizeof *edges, before);
    for (i = 0; i < n && k < room; i++) {
        if (edges[i].begins) {
            const char *around = parent_of(edges[i].name);
            memset(&z[k], 0, sizeof z[k]);
            z[k].start = edges[i].ns;
            z[k].depth = (int)top;
            memcpy(z[k].name, edges[i].name, 24);
            *crossed += *around && (!top || strcmp(z[stack[top - 1]].name, around) != 0);
            stack[top] = k++;
            top += top < 255;
        } else if (top) {
            z[stack[--top]].end = edges[i].ns;
        } else {
            ++*crossed;
        }
    }
    CHECK((int)top <= left_open, "%d scopes are never ended in %s", (int)top, path);
    for (i = n = 0; i < k; i++) {
        if (!strncmp(z[i].name, "(perf.h", 7))
            writes++;
        else
            z[n++] = z[i];
    }
    return n;
}

static int count_named(const zone *z, size_t n, const char *name)
{
    int    found = 0;
    size_t i;

    for (i = 0; i < n; i++)
        found += !strcmp(z[i].name, name);
    return found;
}

static void round_of(int i)
{
    PERF_SCOPE("round");
    {
        PERF_SCOPE("first child");      /* begins with the round, in the same nanosecond */
        {
            PERF_SCOPE("grandchild");
            now_ns += 10;
        }
    }
    if (i % 3 == 0)
        perf_count("queue", i);
    now_ns += 5;
}

static zone all[200000];
static char room_[1 << 20];

/* The child writes until it is killed: everything it has acknowledged must be in the file. */
static void killed(const char *path)
{
    int                fd[2], status, done = 0, got, crossed;
    pid_t              child;
    size_t             n, bad;
    perf_trace_part    part = PERF_ZERO;

    fflush(stdout);
    remove(path);
    CHECK(pipe(fd) == 0, "pipe");
    child = fork();
    if (child == 0) {
        int i;
        if (perf_trace_stream(path) != PERF_OK)
            check_exit(9);
        for (i = 1;; i++) {
            round_of(i);
            if (i % 500 == 0 && (perf_trace_stream_flush() != PERF_OK || write(fd[1], &i, sizeof i) < 0))
                check_exit(8);
            if (i % 500 == 499)                 /* in the middle of things */
                now_ns += 1000;
        }
    }
    close(fd[1]);
    while (done < 9000 && (got = (int)read(fd[0], &done, sizeof done)) > 0) {
    }
    CHECK(kill(child, SIGKILL) == 0, "kill");
    waitpid(child, &status, 0);
    while (read(fd[0], &done, sizeof done) > 0) {
    }
    close(fd[0]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && done >= 9000, "status %x after %d", status, done);
    part.path = path;
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK && bad == 1, "%s cannot be repaired", path);
    left_open = 3;                              /* a round and its children, when a write is cut in two */
    n = zones(merged_path, all, 200000, &crossed);
    left_open = 0;
    CHECK(count_named(all, n, "round") >= done, "%d of %d", count_named(all, n, "round"), done);
    CHECK(count_named(all, n, "first child") >= done, "children");
    CHECK(crossed <= 2, "%d scopes cross another, not those alone that the last round was not written for", crossed);
}

/* Exactly what was recorded, whatever the ring holds. */
static void whole(void)
{
    int    i, crossed;
    size_t n;

    perf_reset();
    CHECK(perf_trace_stream(first_path) == PERF_OK, "start");
    CHECK(perf_trace_stream(first_path) == PERF_ESTATE, "twice");
    for (i = 0; i < 10000; i++)
        round_of(i);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    CHECK(perf_trace_stream(NULL) == PERF_ESTATE && perf_trace_stream_flush() == PERF_ESTATE, "end twice");
    n = zones(first_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 10000, "%d", count_named(all, n, "round"));
    CHECK(count_named(all, n, "first child") == 10000, "%d", count_named(all, n, "first child"));
    CHECK(count_named(all, n, "grandchild") == 10000, "%d", count_named(all, n, "grandchild"));
    CHECK(crossed == 0, "%d scopes cross another", crossed);
    CHECK(counts == 3334, "%d counts", counts);
    CHECK(number_of("overwritten_events") == 0 && number_of("unsent_events") == 0, "all is there");
    CHECK(row_of("(perf.h writes the trace)", "scope").calls > 0, "its own time is seen");
}

/* A scope around everything, and its children in earlier writes. */
static void open_scopes(void)
{
    int    i, crossed;
    size_t n, k;

    perf_reset();
    CHECK(perf_trace_stream(first_path) == PERF_OK, "start");
    for (i = 0; i < 20; i++) {
        PERF_SCOPE("outer");
        {
            PERF_SCOPE("middle");
            {
                PERF_SCOPE("tie");
                now_ns += 10;
            }
            CHECK(perf_trace_stream_flush() == PERF_OK, "flush");
            {
                PERF_SCOPE("later");
                now_ns += 10;
            }
        }
        CHECK(perf_trace_stream_flush() == PERF_OK, "flush");
        now_ns += 10;
    }
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(first_path, all, 200000, &crossed);
    CHECK(n == 80 && crossed == 0, "%lu scopes, %d cross", (unsigned long)n, crossed);
    for (k = 0; k + 3 < n; k += 4)
        CHECK(!strcmp(all[k].name, "outer") && !strcmp(all[k + 1].name, "middle") &&
                  !strcmp(all[k + 2].name, "tie") && !strcmp(all[k + 3].name, "later"),
              "%s %s %s %s", all[k].name, all[k + 1].name, all[k + 2].name, all[k + 3].name);
}

/* A handler that comes while its thread holds the lock records more than the ring wants to be written at
 * once: it waits for nobody, and all that still fits the ring is in the file later.               */
static void inside(const char *path)
{
    core_registry *r = core_read();
    size_t          n;
    int             i, crossed;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    for (i = 0; i < 900; i++) {
        PERF_SCOPE("round");            /* known by its first turn */
        if (i == 1)
            CHECK(core_lock(r), "ours");
        now_ns += 10;
    }
    core_unlock(r);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 900 && crossed == 0, "%d", count_named(all, n, "round"));
    CHECK(number_of("unsent_events") == 0, "%g", number_of("unsent_events"));
}

static void *rounds(void *unused)
{
    int i;

    for (i = 0; i < 10; i++) {
        PERF_SCOPE("round");
    }
    return unused;
}

/* No room on the disk: RLIMIT_FSIZE ends the file in the middle of a write. */
static void full_disk(const char *path)
{
    struct rlimit   old, small;
    int             i, k, crossed, in_file;
    size_t          n, bad;
    perf_trace_part part = PERF_ZERO;

    perf_reset();
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    small = old;
    small.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &small);
    errno = 0;
    for (i = 0; i < 20000; i++) {
        PERF_SCOPE("round");
        now_ns += 10;
    }
    CHECK(errno == 0, "a scope that finds the disk full has changed errno to %d", errno);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(perf_trace_stream_flush() == PERF_EIO, "flush");
    CHECK(perf_trace_stream("/dev/full") == PERF_EIO, "another one, which fails, too");
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "end");
    CHECK(perf_error() == PERF_EIO, "%s", perf_status_text(perf_error()));
    part.path = path;
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK, "repair");
    n = zones(merged_path, all, 200000, &crossed);
    in_file = (int)n + writes;
    CHECK(count_named(all, n, "round") > 100 && crossed == 0, "%d", in_file);
    i = 20000 + (int)row_of("(perf.h writes the trace)", "scope").calls - in_file;
    CHECK(number_of("unsent_events") == i, "%g, not %d", number_of("unsent_events"), i);
    for (k = 0; k < 3; k++) {                   /* what an ended thread could not send stays counted */
        pthread_t t;
        core_read()->scan_at = 0;     /* the next thread takes over its recorder */
        pthread_create(&t, NULL, rounds, NULL);
        pthread_join(t, NULL);
        i = 20000 + 10 * (k + 1) + (int)row_of("(perf.h writes the trace)", "scope").calls - in_file;
        CHECK(number_of("unsent_events") == i, "%g, not %d", number_of("unsent_events"), i);
    }
    limit = 50000;
    CHECK(perf_trace_stream(path) == PERF_OK, "another one after that");
    for (i = 0; i < 20000; i++) {
        PERF_SCOPE("round");
        now_ns += 10;
    }
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "the limit was reached");
    limit = UINT64_C(1) << 30;
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK, "whole at its limit");
    {
        FILE *f = fopen(path, "rb");
        fseek(f, 0, SEEK_END);
        CHECK(ftell(f) >= 50000 && ftell(f) < 150000, "%ld bytes", ftell(f));
        fclose(f);
    }
}

/* Numbers are two entries of the ring, but one event: so many are counted as not in the file.  A reset forgets
 * them; what comes after it is not sent, either.                                                  */
static void full_of_numbers(const char *path)
{
    int i, crossed;

    perf_reset();
    for (i = 0; i < 20; i++)
        perf_count("value", i);
    limit = 20000;
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    for (i = 0; i < 5000; i++) {
        PERF_SCOPE("round");
        perf_count("value", i);
        now_ns += 10;
    }
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "the limit was reached");
    limit = UINT64_C(1) << 30;
    i = (int)zones(path, all, 200000, &crossed) + writes + counts;
    i = 10020 + (int)row_of("(perf.h writes the trace)", "scope").calls - i;
    CHECK(i > 1000 && number_of("unsent_events") == i, "%g, not %d", number_of("unsent_events"), i);
    perf_reset();
    CHECK(number_of("unsent_events") == 0, "%g", number_of("unsent_events"));
    perf_count("value", 1);
    perf_count("value", 2);
    CHECK(number_of("unsent_events") == 2, "%g, not 2", number_of("unsent_events"));
}

static void *many_rounds(void *unused)
{
    int i;

    for (i = 0; i < 3000; i++) {
        PERF_SCOPE("round");
    }
    return unused;
}

/* A thread that takes over a recorder sends its events as soon as its ring asks for it, not when that of the
 * thread before would have.                                                                       */
static void one_after_another(const char *path)
{
    int       i, crossed;
    size_t    n;
    pthread_t t;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    for (i = 0; i < 4; i++) {
        core_read()->scan_at = 0;
        pthread_create(&t, NULL, many_rounds, NULL);
        pthread_join(t, NULL);
        usleep(1000);                           /* so that the system has forgotten it            */
    }
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 12000 && number_of("unsent_events") == 0 &&
              number_of("overwritten_events") == 0, "%d rounds, %g unsent, %g overwritten",
          count_named(all, n, "round"), number_of("unsent_events"), number_of("overwritten_events"));
}

static void forks(void)
{
    int    i, crossed, status = -1;
    pid_t  child;
    size_t n;
    char   child_path[128];

    perf_reset();
    CHECK(perf_trace_stream(first_path) == PERF_OK, "start");
    for (i = 0; i < 1000; i++)
        round_of(i);
    fflush(stdout);
    core_get()->stream->unsent = 7;   /* as if so many were lost: by the parent         */
    {
        PERF_SCOPE("around the fork");
        child = fork();
        if (child == 0) {
            for (i = 0; i < 3000; i++)
                round_of(i);
            check_exit(perf_trace_stream(NULL) == PERF_OK && number_of("unsent_events") == 0 ? 0 : 7);
        }
        waitpid(child, &status, 0);
    }
    CHECK(status == 0, "child %x", status);
    CHECK(number_of("unsent_events") == 7, "%g", number_of("unsent_events"));
    core_get()->stream->unsent = 0;
    for (i = 0; i < 1000; i++)
        round_of(i);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(first_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 2000 && crossed == 0, "%d in the parent's", count_named(all, n, "round"));
    CHECK(count_named(all, n, "around the fork") == 1, "around");
    snprintf(child_path, sizeof child_path, "%s.%ld", first_path, (long)child);
    n = zones(child_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 3000 && crossed == 0, "%d in the child's", count_named(all, n, "round"));
    CHECK(count_named(all, n, "around the fork") == 0, "the parent's scope");
    remove(child_path);
}

static int holds(const char *path, const char *text)
{
    FILE  *f = fopen(path, "rb");
    size_t n = f ? fread(room_, 1, sizeof room_, f) : 0;

    if (f)
        fclose(f);
    return memmem(room_, n, text, strlen(text)) != NULL;
}

static void merges(void)
{
    perf_trace_part part[3];
    size_t          bad, n, size, cut, k;
    int             crossed;
    uint64_t        first, dice = 12345;
    FILE           *f;

    perf_reset();
    memset(part, 0, sizeof part);
    round_of(1);
    first = now_ns - 15;
    CHECK(perf_trace_save_perfetto(first_path) == PERF_OK && perf_trace_save_perfetto(other_path) == PERF_OK, "save");
    part[0].path = first_path;
    part[0].name = "rank \"0\"";
    part[1].path = other_path;
    part[1].name = "rank 1";
    part[1].offset_ns = -1000;
    part[1].bound_ns = 250;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_OK && bad == 2, "merge");
    n = zones(merged_path, all, 100, &crossed);
    CHECK(n == 6 && all[0].start == first - 1000 && all[3].start == first && crossed == 0, "%lu: %llu, %llu",
          (unsigned long)n, (unsigned long long)all[0].start, (unsigned long long)first);
    CHECK(holds(merged_path, "rank \"0\"") && holds(merged_path, "rank 1"), "names");
    CHECK(holds(merged_path, "clock moved by -1000 ns, within 250 ns"), "label");
    CHECK(pids == 2 && pid[0] == (uint32_t)getpid() && pid[1] == 4194304, "two processes of one number: %u %u",
          (unsigned)pid[0], (unsigned)pid[1]);
    part[2].path = merged_path;                 /* onto itself, and again */
    part[0].name = part[1].name = NULL;
    CHECK(perf_trace_merge(merged_path, part, 3, NULL) == PERF_OK, "again");
    CHECK(zones(merged_path, all, 100, &crossed) == 12 && pids == 4, "again");

    part[1].offset_ns = -1000 - (int64_t)now_ns;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_ERANGE && bad == 1, "before 0: %lu", (unsigned long)bad);
    part[1].offset_ns = INT64_MAX;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_ERANGE && bad == 1, "beyond the end: %lu", (unsigned long)bad);
    CHECK(zones(merged_path, all, 100, &crossed) == 12, "left as it was, too");
    part[1].offset_ns = -1000;

    CHECK(perf_trace_merge(merged_path, part, 0, &bad) == PERF_EINVAL && bad == 0, "none");
    CHECK(perf_trace_merge(NULL, part, 1, &bad) == PERF_EINVAL, "no file");
    part[1].path = "no/such/file";
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_EIO && bad == 1, "missing: %lu", (unsigned long)bad);
    CHECK(perf_trace_save(other_path) == PERF_OK, "save");
    part[1].path = other_path;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_EFORMAT && bad == 1, "Chrome's JSON");
    CHECK(zones(merged_path, all, 100, &crossed) == 12, "left as it was");
    CHECK(perf_trace_merge("no/such/folder/x", part, 1, &bad) == PERF_EIO, "no folder");
    CHECK(perf_trace_merge("/dev/full", part, 1, &bad) == PERF_EIO, "full disk");
    part[0].bound_ns = -1;
    CHECK(perf_trace_merge(merged_path, part, 1, &bad) == PERF_EINVAL && bad == 0, "bound");

    /* hostile files: every cut, and bytes changed at random */
    memset(part, 0, sizeof part);
    part[0].path = scratch_file();
    part[0].name = "x";
    part[0].bound_ns = 5;
    f = fopen(first_path, "rb");
    size = f ? fread(room_, 1, sizeof room_, f) : 0;
    if (f)
        fclose(f);
    CHECK(size > 100, "%lu", (unsigned long)size);
    for (cut = 0; cut < size + 1000; cut++) {
        perf_status s;
        f = fopen(scratch_file(), "wb");
        if (cut < size) {
            fwrite(room_, 1, cut, f);
        } else {
            char *copy = room_ + sizeof room_ / 2;
            memcpy(copy, room_, size);
            for (k = 0; k < 3; k++) {
                dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
                copy[(dice >> 33) % size] = (char)(dice >> 20);
            }
            fwrite(copy, 1, size, f);
        }
        fclose(f);
        s = perf_trace_merge(merged_path, part, 1, &bad);
        CHECK(s == PERF_OK || s == PERF_EFORMAT, "%s", perf_status_text(s));
    }
}

/* The memory of a stream serves the next one. */
static void many(void)
{
    core_registry *r = core_get();
    char           *pool = NULL;
    int             i, crossed;

    for (i = 0; i < 40; i++) {
        CHECK(perf_trace_stream(i % 4 < 2 ? other_path : first_path) == PERF_OK, "stream %d", i);
        round_of(i);
        CHECK(perf_trace_stream(NULL) == PERF_OK, "end %d", i);
        CHECK(i < 4 || r->pool == pool, "stream %d took %d bytes", i, (int)(r->pool - pool));
        pool = r->pool;
    }
    CHECK(count_named(all, zones(first_path, all, 1000, &crossed), "grandchild") >= 1, "the last one");
}

/* A counter is two entries of the ring: what is lost after a stream is counted in events. */
static void lost_after(const char *path)
{
    core_registry *r = core_read();
    uint64_t        fit = r->ring_events / 2, i, lost;

    perf_reset();
    for (i = 0; i < 3 * fit; i++)
        perf_count("value", 1.0);
    CHECK(perf_trace_stream(path) == PERF_OK, "stream");
    for (i = 0; i < 100; i++)
        perf_count("value", 1.0);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    for (i = 0; i < 2 * fit; i++)
        perf_count("value", 1.0);
    lost = core_overwritten();     /* and the scope that wrote the last part */
    CHECK(lost == fit || lost == fit + 1, "%lu lost of %lu", (unsigned long)lost, (unsigned long)(2 * fit));
    perf_reset();
}

/* Writes one file of packets: n bytes of each, given as field numbers of a hand-made trace. */
static size_t put_field(char *to, size_t at, uint64_t tag, uint64_t v)
{
    return (size_t)(pb_put(pb_put(to + at, tag), v) - to);
}

static perf_status merged(const char *bytes, size_t n, const char *name, size_t *bad)
{
    perf_trace_part part = PERF_ZERO;
    FILE           *f = fopen(scratch_file(), "wb");

    CHECK(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "hand-made");
    part.path = scratch_file();
    part.name = name;
    return perf_trace_merge(merged_path, &part, 1, bad);
}

/* A trace begins with a packet that has a track (field 60). */
static const char front[] = "\x0a\x07\xe2\x03\x04\x1a\x02\x08\x05";
#define FRONT (sizeof front - 1)

/* Traces made by hand: numbers that are none, packets that are too long, messages of messages. */
static void hand_made(void)
{
    static const struct {
        const char *bytes;
        size_t      n;
        perf_status status;
    } c[] = {{"\x0a\x00", 2, PERF_EFORMAT},                             /* an empty packet              */
             {"\x0a\x02\x00\x05", 4, PERF_EFORMAT},                     /* field 0                      */
             {"\x0a\x02\x0b\x05", 4, PERF_EFORMAT},                     /* a group                      */
             {"\x0a\x02\x08\x85", 4, PERF_EFORMAT},                     /* a number without an end      */
             {"\x0a\x03\x12\x05x", 5, PERF_EFORMAT},                    /* 5 bytes, one there           */
             {"\x0a\x04\x15" "abc", 6, PERF_EFORMAT},                   /* 4 bytes, 3 there             */
             {"\x0a\x05\x15" "abcd", 7, PERF_OK},
             {"\x0a\x09\x11" "abcdefgh", 11, PERF_OK},
             {"\x0a\x08\x11" "abcdefg", 10, PERF_EFORMAT},              /* 8 bytes, 7 there             */
             {"\x0a\x0b\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, PERF_OK},
             {"\x0a\x0c\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14, PERF_EFORMAT},  /* 77 bits */
             {"\x0a\x06\x80\x80\x80\x80\x80\x08", 8, PERF_EFORMAT},     /* a tag of 2^38                */
             {"\x12\x02\x08\x05", 4, PERF_EFORMAT},                     /* no packet                    */
             {"\x0a\xf1", 2, PERF_OK},                                  /* cut off, as by a kill        */
             {"\x0a\xf1\xff\x03\x08\x05 and eleven bytes more", 28, PERF_EFORMAT},      /* 65521 bytes  */
             {"\x0a\x0d\xe2\x03\x0a\x1a\x08\x08\x85\x80\x80\x80\x80\x80\x01", 15, PERF_EFORMAT},  /* process 2^42 + 5 */
             {"\x0a\x08\xe2\x03\x05\x1a\x03\x32\x05x", 10, PERF_EFORMAT}};
    static char     big[80000];
    perf_trace_part part[2];
    perf_status     status;
    size_t          i, n, bad, at;
    char            name[300];

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        memcpy(big, front, FRONT);
        memcpy(big + FRONT, c[i].bytes, c[i].n);
        status = merged(big, FRONT + c[i].n, NULL, &bad);
        CHECK(status == c[i].status && bad == (status == PERF_OK), "%lu: %s", (unsigned long)i, perf_status_text(status));
        status = merged(c[i].bytes, c[i].n, NULL, &bad);
        CHECK(status == PERF_EFORMAT || c[i].bytes[2] == '\xe2', "%lu without its front: %s", (unsigned long)i, perf_status_text(status));
    }

    /* the longest packet that is read and written, and one byte more */
    for (i = 0; i < 2; i++) {
        memcpy(big, front, FRONT);
        at = put_field(big, FRONT, 0x0a, 65520 + i);
        n = at + 65520 + i;
        at = put_field(big, at, 0x12, 65520 + i - 4);
        memset(big + at, 'x', n - at);
        status = merged(big, n, NULL, &bad);
        CHECK(status == (i ? PERF_EFORMAT : PERF_OK), "%lu bytes: %s", (unsigned long)(65520 + i), perf_status_text(status));
    }
    /* a packet that would be too long with the name that it gets */
    memcpy(big, front, FRONT);
    at = put_field(big, FRONT, 0x0a, 65500);
    n = at + 65500;
    at = put_field(big, at, 0x1e2, 65500 - 5);
    at = put_field(big, at, 0x1a, n - at - 4);
    at = put_field(big, at, 0x0a, n - at - 4);
    memset(big + at, 'x', n - at);
    CHECK(merged(big, n, NULL, &bad) == PERF_OK, "without a name");
    memset(name, 'n', sizeof name);
    name[250] = '\0';
    CHECK(merged(big, n, name, &bad) == PERF_EFORMAT && bad == 0, "it could not be read again");

    /* a name takes the place of the one before; messages of 128 bytes and more */
    perf_reset();
    round_of(1);
    CHECK(perf_trace_save_perfetto(first_path) == PERF_OK, "save");
    memset(part, 0, sizeof part);
    part[0].path = first_path;
    part[0].name = name;
    CHECK(perf_trace_merge(merged_path, part, 1, &bad) == PERF_OK && holds(merged_path, name), "a name of 250 bytes");
    part[0].path = merged_path;
    part[0].name = "short";
    CHECK(perf_trace_merge(other_path, part, 1, &bad) == PERF_OK && !holds(other_path, name) && holds(other_path, "short"),
          "the other name");
    part[0].name = NULL;
    CHECK(perf_trace_merge(other_path, part, 1, &bad) == PERF_OK && holds(other_path, name), "kept");
    part[0].path = "/";
    CHECK(perf_trace_merge(other_path, part, 1, &bad) == PERF_EIO && bad == 0, "a folder");
}

/* Seventy minutes: the clock's pieces are used again, and all scopes stay where they were. */
static void long_stream(void)
{
    int      i, crossed;
    size_t   n;
    uint64_t began;

    perf_reset();
    CHECK(perf_trace_stream(first_path) == PERF_OK, "start");
    began = now_ns;
    for (i = 0; i < 140; i++) {
        PERF_SCOPE("round");
        now_ns += UINT64_C(30000000000);
        CHECK(perf_trace_stream_flush() == PERF_OK, "flush");
    }
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(first_path, all, 200000, &crossed);
    CHECK(n == 140 && crossed == 0, "%lu scopes, %d cross", (unsigned long)n, crossed);
    for (i = 0; i < (int)n; i++)
        CHECK(all[i].start == began + (uint64_t)i * UINT64_C(30000000000) && all[i].end == all[i].start + UINT64_C(30000000000),
              "%d: %llu to %llu", i, (unsigned long long)(all[i].start - began), (unsigned long long)(all[i].end - began));
    perf_reset();
    /* events that come ever slower, then all at once: each period is written */
    CHECK(perf_trace_stream(first_path) == PERF_OK, "start");
    for (i = 0; i < 3000; i++) {
        PERF_SCOPE("round");
        now_ns += i < 1000 ? 10 : i < 2000 ? 900000000 : 1;
    }
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(first_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 3000 && crossed == 0, "%d, %d cross", count_named(all, n, "round"), crossed);
    CHECK(number_of("unsent_events") == 0, "%g", number_of("unsent_events"));
}

static void *untraced(void *unused)
{
    int i;

    for (i = 0; i < 20; i++) {
        PERF_SCOPE("untraced");
        if (i == 10) {                          /* from here on this thread has a ring, and its limit */
            perf_trace_enable(1);
            CHECK(perf_trace_stream_flush() == PERF_OK, "flush");
        }
    }
    return unused;
}

/* Threads that record while the trace is off; what stands in the file's place; a child without a folder. */
static void odd_streams(const char *path)
{
    char      folder[128], inner[140];
    pthread_t t;
    pid_t     child;
    size_t    n;
    int       crossed, status = -1, fd, i;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    perf_trace_enable(0);
    core_read()->scan_at = 1000000;   /* a recorder of its own, without a ring */
    pthread_create(&t, NULL, untraced, NULL);
    pthread_join(t, NULL);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, 200000, &crossed);
    CHECK(count_named(all, n, "untraced") >= 9 && count_named(all, n, "untraced") <= 11 && crossed == 0, "%d", count_named(all, n, "untraced"));
    CHECK(row_of("untraced", "scope").calls == 20, "%g", row_of("untraced", "scope").calls);

    snprintf(folder, sizeof folder, "%s.d", path);
    snprintf(inner, sizeof inner, "%s/x", folder);
    CHECK(mkdir(folder, 0700) == 0, "mkdir");
    CHECK(perf_trace_stream(folder) == PERF_EIO, "a folder in its place");
    CHECK(perf_trace_stream(inner) == PERF_OK, "start");
    round_of(1);
    fflush(stdout);
    CHECK(remove(inner) == 0 && rmdir(folder) == 0, "the folder is gone");
    child = fork();
    if (child == 0) {
        round_of(2);
        i = perf_trace_stream_flush() == PERF_EIO && perf_error() == PERF_EIO && perf_trace_stream(NULL) == PERF_EIO;
        check_exit(i ? 0 : 3);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "a child that cannot open its file: %x", status);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "the parent's goes on, without a name");

    CHECK(mkfifo(folder, 0600) == 0, "mkfifo");
    CHECK(perf_trace_stream(folder) == PERF_EIO, "nobody reads it");
    fd = open(folder, O_RDONLY | O_NONBLOCK);
    CHECK(fd >= 0 && perf_trace_stream(folder) == PERF_OK, "a pipe");
    round_of(3);
    CHECK(perf_trace_stream_flush() == PERF_OK && read(fd, room_, sizeof room_) > 50, "read");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        round_of(4);
        check_exit(perf_trace_stream_flush() == PERF_EIO && perf_trace_stream(NULL) == PERF_EIO ? 0 : 3);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "a child has no pipe of its own: %x", status);
    snprintf(inner, sizeof inner, "%s.%ld", folder, (long)child);
    CHECK(access(inner, F_OK) != 0, "and makes no file beside it");
    close(fd);
    round_of(4);
    CHECK(perf_trace_stream_flush() == PERF_EIO && perf_trace_stream(NULL) == PERF_EIO, "its reader is gone");
    remove(folder);
    perf_reset();
}

/* A relative path is that of the folder in which the stream was begun. */
static void elsewhere(const char *path)
{
    char  was[1000], folder[200], inner[300];
    pid_t child;
    int   status = 1, file;

    perf_reset();
    snprintf(folder, sizeof folder, "%s.e", path);
    snprintf(inner, sizeof inner, "%s/sub", folder);
    CHECK(getcwd(was, sizeof was) && mkdir(folder, 0700) == 0 && mkdir(inner, 0700) == 0 && chdir(folder) == 0, "folders");
    CHECK(perf_trace_stream("x") == PERF_OK, "start");
    round_of(1);
    CHECK(chdir("sub") == 0 && (file = open("x", O_CREAT | O_WRONLY, 0600)) >= 0 && close(file) == 0, "a file of that name");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        round_of(2);
        check_exit(perf_trace_stream(NULL) == PERF_OK ? 0 : 3);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "a child: %x", status);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    snprintf(inner, sizeof inner, "../x.%ld", (long)child);
    CHECK(access("../x", R_OK) == 0 && remove("../x") == 0 && remove(inner) == 0, "both files");
    CHECK(remove("x") == 0 && chdir("..") == 0 && rmdir("sub") == 0, "and no other one");
    CHECK(chdir(was) == 0 && rmdir(folder) == 0, "back");
    perf_reset();
}

/* A folder whose name leaves hardly any room, as 4,095 bytes is all that a path may have. */
static void deep(const char *path)
{
    char   was[1000], here[4096], folder[200], name[100];
    size_t at, length = 0, levels = 0;

    snprintf(folder, sizeof folder, "%s.d", path);
    CHECK(getcwd(was, sizeof was) && mkdir(folder, 0700) == 0 && chdir(folder) == 0 && getcwd(here, sizeof here), "a folder");
    for (at = strlen(here); at < 4080; at += length + 1, levels++) {
        length = 4085 - at - 1 < sizeof name ? 4085 - at - 1 : sizeof name - 1;
        memset(name, 'd', sizeof name);
        name[length] = 0;
        if (mkdir(name, 0700) || chdir(name))
            break;
    }
    CHECK(at == 4085, "a long name: %lu", (unsigned long)at);
    perf_reset();
    CHECK(perf_trace_stream("x") == PERF_OK, "start");
    round_of(1);
    CHECK(perf_trace_stream(NULL) == PERF_OK && remove("x") == 0, "end");
    for (; levels > 0 && chdir("..") == 0 && rmdir(name) == 0; levels--) {
        memset(name, 'd', sizeof name);
        name[sizeof name - 1] = 0;
    }
    CHECK(levels == 0 && chdir(was) == 0 && rmdir(folder) == 0, "back");
}

/* A pipe stays the stream's when the program puts another file in its number, as with its stdout. */
static void redirected(void)
{
    char name[40];
    int  end[2], null = open("/dev/null", O_WRONLY);

    if (access("/dev/fd", R_OK) || null < 0 || pipe(end))
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", end[1]);
    CHECK(perf_trace_stream(name) == PERF_OK, "start");
    round_of(1);
    CHECK(dup2(null, end[1]) == end[1] && perf_trace_stream(NULL) == PERF_OK, "the pipe has it all");
    CHECK(read(end[0], room_, sizeof room_) > 100, "read");
    close(null);
    close(end[0]);
    close(end[1]);
}

/* What ends a program that writes where it cannot, by default: of ours it is an error.  What the
 * program has waiting itself stays. */
static void no_signal(const char *path)
{
    struct rlimit limit, small;
    sigset_t      set, was;
    FILE         *f;
    int           end[2], mine, got;

    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR && signal(SIGXFSZ, SIG_DFL) != SIG_ERR, "default");
    for (mine = 0; mine < 2; mine++) {
        CHECK(pipe(end) == 0 && close(end[0]) == 0, "a pipe without a reader");
        f = fdopen(end[1], "w");
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        CHECK(f && pthread_sigmask(SIG_BLOCK, &set, &was) == 0, "mask");
        if (mine)
            CHECK(pthread_kill(pthread_self(), SIGPIPE) == 0, "kill");
        else
            CHECK(pthread_sigmask(SIG_SETMASK, &was, NULL) == 0, "mask");
        setvbuf(f, NULL, _IONBF, 0);
        errno = 0;
        CHECK(perf_report_to(f, NULL) == PERF_EIO && errno == EPIPE, "%d", errno);
        CHECK(sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == mine, "mine: %d", mine);
        if (mine)
            CHECK(sigwait(&set, &got) == 0 && got == SIGPIPE, "%d", got);
        CHECK(pthread_sigmask(SIG_SETMASK, &was, &set) == 0 && sigismember(&set, SIGPIPE) == mine, "the mask is as it was");
        fclose(f);
    }

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    small = limit;
    small.rlim_cur = 100;
    fflush(stdout);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0, "limit");
    errno = 0;
    CHECK(perf_trace_save(path) == PERF_EIO && errno == EFBIG, "%d", errno);
    CHECK(perf_trace_stream(path) == PERF_OK, "stream");
    round_of(5);
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "end");
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
}

/* A device that has gone reads as all ones. */
static void dead_clock(const char *path)
{
    uint64_t was = now_ns;

    perf_reset();
    now_ns = UINT64_MAX;
    {
        PERF_SCOPE("still open");
        PERF_SCOPE_VALUE("of a dead clock", 1);
        {
            PERF_SCOPE("ended");
        }
        CHECK(perf_trace_save_perfetto(path) == PERF_OK && perf_trace_save(path) == PERF_OK, "saved");
    }
    now_ns = was;
    perf_reset();
}

/* The file is whole up to its last write, and no memory is lost: a sanitizer looks when this ends. */
static void never_ended(const char *path)
{
    int crossed;

    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    round_of(1);
    CHECK(perf_trace_stream_flush() == PERF_OK && zones(path, all, 1000, &crossed) >= 3, "flush");
}

/* Another program, started by this one with the same environment, say, streams to the same path. */
static void replaced(const char *path)
{
    char  moved[128];
    FILE *other;

    snprintf(moved, sizeof moved, "%s.moved", path);
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    round_of(1);
    CHECK(!rename(path, moved) && perf_trace_stream_flush() == PERF_OK, "moved away");
    CHECK(perf_trace_stream(NULL) == PERF_OK, "it is whole where it is now");
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    round_of(2);
    other = fopen(moved, "wb");
    CHECK(other && !fclose(other) && !rename(moved, path), "replaced");
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "the file of that name is another one");
}

static void bad_input(void)
{
    static char long_path[5000];

    memset(long_path, 'x', sizeof long_path - 1);
    CHECK(perf_trace_stream("") == PERF_EINVAL, "path");
    CHECK(perf_trace_stream(long_path) == PERF_EINVAL && perf_trace_stream(long_path + 904) == PERF_EIO, "long path");
    CHECK(perf_trace_stream("no/such/folder/x") == PERF_EIO, "folder");
    CHECK(perf_trace_stream("/dev/full") == PERF_EIO, "full disk");
    CHECK(perf_trace_stream_flush() == PERF_ESTATE && perf_trace_stream(NULL) == PERF_ESTATE, "no stream");
}

static pthread_barrier_t both;

/* Records, is reset while it waits, ends a scope in that state, and goes on. */
static void *reset_meanwhile(void *unused)
{
    perf_scope open;
    int        i;

    for (i = 0; i < 100; i++)
        round_of(1);
    open = perf_scope_begin("open at the reset");
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    perf_scope_end(&open);
    for (i = 0; i < 100; i++)
        round_of(1);
    return unused;
}

static uint64_t not_sent(void)
{
    char    *text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
    uint64_t n = strtoull(strstr(text, "\"unsent_events\":") + 16, NULL, 10);

    free(text);
    return n;
}

/* A program that reports and resets each period, and streams: the file has every event. */
static void resets(const char *path)
{
    pthread_t t;
    size_t    n;
    int       i, k, crossed;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "stream");
    for (k = 0; k < 10; k++) {
        for (i = 0; i < 100 * k + 17; i++)      /* also more than the ring holds */
            round_of(3);
        {
            PERF_SCOPE("last");
        }
        perf_reset();
    }
    pthread_barrier_init(&both, NULL, 2);
    CHECK(!pthread_create(&t, NULL, reset_meanwhile, NULL), "thread");
    pthread_barrier_wait(&both);
    perf_reset();
    pthread_barrier_wait(&both);
    pthread_join(t, NULL);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, sizeof all / sizeof *all, &crossed);
    CHECK(count_named(all, n, "round") == 4500 + 170 + 200 && count_named(all, n, "last") == 10, "%d rounds, %d last",
          count_named(all, n, "round"), count_named(all, n, "last"));
    CHECK(count_named(all, n, "open at the reset") == 1 && !not_sent(), "%llu not sent", (unsigned long long)not_sent());
    for (i = 0; i < 50; i++)                    /* what was reset before a stream begins is not in it */
        round_of(3);
    CHECK(!pthread_create(&t, NULL, reset_meanwhile, NULL), "thread");
    pthread_barrier_wait(&both);
    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "again");
    pthread_barrier_wait(&both);
    pthread_join(t, NULL);
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, sizeof all / sizeof *all, &crossed);
    CHECK(count_named(all, n, "round") == 100 && count_named(all, n, "open at the reset") == 1 && !not_sent(),
          "%d rounds", count_named(all, n, "round"));
    pthread_barrier_destroy(&both);
}

/* A reset while a stream is on, which fails before a thread has done it: what the thread had recorded is
 * counted as not in the file.  A reset after the failure forgets it, of ended threads, too.       */
static void reset_and_full(const char *path)
{
    pthread_t t;
    int       crossed, missing;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "stream");
    pthread_barrier_init(&both, NULL, 2);
    CHECK(!pthread_create(&t, NULL, reset_meanwhile, NULL), "thread");
    pthread_barrier_wait(&both);
    perf_reset();
    limit = 0;
    CHECK(perf_trace_stream_flush() == PERF_EIO, "full");
    limit = UINT64_C(1) << 30;
    missing = 300 - (int)zones(path, all, sizeof all / sizeof *all, &crossed);
    CHECK(missing > 100 && not_sent() >= (uint64_t)missing, "%d missing, %llu not sent", missing,
          (unsigned long long)not_sent());
    pthread_barrier_wait(&both);
    pthread_join(t, NULL);
    CHECK(not_sent() >= (uint64_t)missing + 301, "%llu not sent", (unsigned long long)not_sent());
    core_read()->scan_at = 0;                   /* the next thread takes over its recorder */
    CHECK(!pthread_create(&t, NULL, rounds, NULL), "thread");
    pthread_join(t, NULL);
    CHECK(not_sent() >= (uint64_t)missing + 311, "%llu not sent", (unsigned long long)not_sent());
    perf_reset();
    CHECK(not_sent() == 0, "%llu after a reset", (unsigned long long)not_sent());
    CHECK(!pthread_create(&t, NULL, rounds, NULL), "thread");
    pthread_join(t, NULL);
    CHECK(not_sent() >= 10 && not_sent() < 20, "%llu since the reset", (unsigned long long)not_sent());
    CHECK(perf_trace_stream(NULL) == PERF_EIO, "end");
    pthread_barrier_destroy(&both);
}

static int leaves;

/* Three scopes, one in another, the innermost ended and written; `leaves`: the others never end. */
static void *ties(void *unused)
{
    perf_scope outer = perf_scope_begin("outer"), middle = perf_scope_begin("middle"), tie = perf_scope_begin("tie");

    now_ns += 10;
    perf_scope_end(&tie);
    CHECK(perf_trace_stream_flush() == PERF_OK, "flush");
    if (!leaves) {
        now_ns += 10;
        perf_scope_end(&middle);
        perf_scope_end(&outer);
    }
    return unused;
}

/* A thread takes over the record of one that has ended inside scopes. */
static void ties_of_another(const char *path)
{
    pthread_t t;
    size_t    n;
    int       crossed;

    perf_reset();
    CHECK(perf_trace_stream(path) == PERF_OK, "start");
    for (leaves = 1; leaves >= 0; leaves--) {
        core_read()->scan_at = 0;
        CHECK(!pthread_create(&t, NULL, ties, NULL), "thread");
        pthread_join(t, NULL);
        now_ns += 1000;
    }
    CHECK(perf_trace_stream(NULL) == PERF_OK, "end");
    n = zones(path, all, sizeof all / sizeof *all, &crossed);
    CHECK(n == 4 && crossed == 1, "%lu scopes, %d cross: that around which no scope has ended", (unsigned long)n,
          crossed);
}

int main(void)
{
    snprintf(first_path, sizeof first_path, "%s.a", scratch_file());
    snprintf(other_path, sizeof other_path, "%s.b", scratch_file());
    snprintf(merged_path, sizeof merged_path, "%s.c", scratch_file());
    bad_input();
    killed(first_path);
    whole();
    open_scopes();
    inside(first_path);
    full_disk(first_path);
    full_of_numbers(first_path);
    one_after_another(first_path);
    forks();
    merges();
    lost_after(other_path);
    many();
    hand_made();
    long_stream();
    odd_streams(first_path);
    elsewhere(first_path);
    deep(first_path);
    redirected();
    no_signal(first_path);
    replaced(first_path);
    resets(first_path);
    reset_and_full(first_path);
    ties_of_another(first_path);
    dead_clock(first_path);
    never_ended(first_path);
    remove(first_path);
    remove(other_path);
    remove(merged_path);
    remove(scratch_file());
    return check_done();
}
