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
#include "rows.h"
#include "perf_trace.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char json_path[96], other_path[96], merged_path[96];

static uint64_t ns_of(const char *p)
{
    uint64_t us = strtoull(p, (char **)&p, 10);

    return us * 1000 + strtoull(p + 1, NULL, 10);
}

typedef struct zone {
    uint64_t start, end;
    int      place;             /* in the file */
    char     name[24];
} zone;

/* As a viewer does: by start, then by the longer one, then by the place in the file. */
static int before(const void *a, const void *b)
{
    const zone *x = (const zone *)a, *y = (const zone *)b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->place - y->place;
}

/* The scopes of a valid trace that nest; those that do not are counted in *crossed. */
static size_t zones(const char *path, zone *z, size_t room, int *crossed)
{
    char       *text = file_text(path), *p = text, *next;
    size_t      n = 0, i, top = 0;
    uint64_t    open[256];

    *crossed = 0;
    CHECK(json_valid(text), "%s is no JSON: %.200s", path, text);
    for (; n < room && p; p = next) {           /* a line each */
        next = strchr(p, '\n');
        if (next)
            *next++ = '\0';
        if (strncmp(p, "{\"ph\":\"X\",\"name\":\"", 18) != 0)
            continue;
        p += 18;
        memset(&z[n], 0, sizeof z[n]);
        memcpy(z[n].name, p, strcspn(p, "\"") < 23 ? strcspn(p, "\"") : 23);
        z[n].start = ns_of(strstr(p, "\"ts\":") + 5);
        z[n].end = z[n].start + ns_of(strstr(p, "\"dur\":") + 6);
        z[n].place = (int)n;
        if (strncmp(z[n].name, "(perf.h", 7) != 0)
            n++;
    }
    free(text);
    qsort(z, n, sizeof *z, before);
    for (i = 0; i < n; i++) {
        while (top && open[top - 1] <= z[i].start)
            top--;
        *crossed += top > 0 && open[top - 1] < z[i].end;
        if (top < 256)
            open[top++] = z[i].end;
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
static void killed(const char *path, int seconds)
{
    int                fd[2], status, done = 0, got, crossed;
    pid_t              pid;
    size_t             n, bad;
    perf_trace_part    part = PERF_ZERO;
    perf_stream_opts   o = perf_stream_opts_default();

    fflush(stdout);
    remove(path);
    CHECK(pipe(fd) == 0, "pipe");
    pid = fork();
    if (pid == 0) {
        int i;
        o.seconds = seconds;
        if (perf_trace_stream(path, &o) != PERF_OK)
            _exit(9);
        for (i = 1;; i++) {
            round_of(i);
            if (i % 500 == 0 && (perf_trace_stream_flush() != PERF_OK || write(fd[1], &i, sizeof i) < 0))
                _exit(8);
            if (i % 500 == 499)                 /* in the middle of things */
                now_ns += 1000;
        }
    }
    close(fd[1]);
    while (done < 9000 && (got = (int)read(fd[0], &done, sizeof done)) > 0) {
    }
    CHECK(kill(pid, SIGKILL) == 0, "kill");
    waitpid(pid, &status, 0);
    while (read(fd[0], &done, sizeof done) > 0) {
    }
    close(fd[0]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && done >= 9000, "status %x after %d", status, done);
    part.path = path;
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK && bad == 1, "%s cannot be repaired", path);
    if (path == json_path) {
        n = zones(merged_path, all, 200000, &crossed);
        CHECK(count_named(all, n, "round") >= done, "%d of %d", count_named(all, n, "round"), done);
        CHECK(count_named(all, n, "first child") >= done, "children");
        CHECK(crossed == 0, "%d scopes cross another", crossed);
    }
}

/* Exactly what was recorded, whatever the ring holds. */
static void whole(void)
{
    int    i, crossed;
    size_t n;
    char  *text;

    perf_reset();
    CHECK(perf_trace_stream(json_path, NULL) == PERF_OK, "start");
    CHECK(perf_trace_stream(json_path, NULL) == PERF_ESTATE, "twice");
    for (i = 0; i < 10000; i++)
        round_of(i);
    CHECK(perf_trace_stream_end() == PERF_OK, "end");
    CHECK(perf_trace_stream_end() == PERF_ESTATE && perf_trace_stream_flush() == PERF_ESTATE, "end twice");
    n = zones(json_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 10000, "%d", count_named(all, n, "round"));
    CHECK(count_named(all, n, "first child") == 10000, "%d", count_named(all, n, "first child"));
    CHECK(count_named(all, n, "grandchild") == 10000, "%d", count_named(all, n, "grandchild"));
    CHECK(crossed == 0, "%d scopes cross another", crossed);
    text = file_text(json_path);
    CHECK(count_of(text, "\"ph\":\"C\"") == 3334, "%d counts", count_of(text, "\"ph\":\"C\""));
    free(text);
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(!strstr(text, "were overwritten") && !strstr(text, "not in the streamed"), "%s", text);
    CHECK(strstr(text, "(perf.h writes the trace)"), "its own time is seen: %s", text);
    free(text);
}

/* A scope around everything, and its children in earlier writes. */
static void open_scopes(void)
{
    int    i, crossed;
    size_t n, k;

    perf_reset();
    CHECK(perf_trace_stream(json_path, NULL) == PERF_OK, "start");
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
    CHECK(perf_trace_stream_end() == PERF_OK, "end");
    n = zones(json_path, all, 200000, &crossed);
    CHECK(n == 80 && crossed == 0, "%lu scopes, %d cross", (unsigned long)n, crossed);
    for (k = 0; k + 3 < n; k += 4)
        CHECK(!strcmp(all[k].name, "outer") && !strcmp(all[k + 1].name, "middle") &&
                  !strcmp(all[k + 2].name, "tie") && !strcmp(all[k + 3].name, "later"),
              "%s %s %s %s", all[k].name, all[k + 1].name, all[k + 2].name, all[k + 3].name);
}

/* No room on the disk: RLIMIT_FSIZE ends the file in the middle of a write. */
static void full_disk(const char *path)
{
    struct rlimit   old, small;
    int             i, crossed, in_file;
    size_t          n, bad;
    char           *text, note[120];
    perf_trace_part part = PERF_ZERO;
    perf_stream_opts o = perf_stream_opts_default();

    perf_reset();
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    CHECK(perf_trace_stream(path, NULL) == PERF_OK, "start");
    small = old;
    small.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &small);
    for (i = 0; i < 20000; i++) {
        PERF_SCOPE("round");
        now_ns += 10;
    }
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(perf_trace_stream_flush() == PERF_EIO, "flush");
    CHECK(perf_trace_stream_end() == PERF_EIO, "end");
    CHECK(perf_error() == PERF_EIO, "%s", perf_status_text(perf_error()));
    part.path = path;
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK, "repair");
    if (path == json_path) {
        n = zones(merged_path, all, 200000, &crossed);
        in_file = count_of(text = file_text(merged_path), "\"ph\":\"X\"");
        free(text);
        CHECK(count_named(all, n, "round") > 100 && crossed == 0, "%d", in_file);
        i = 20000 + (int)row_of("(perf.h writes the trace)", "scope").calls - in_file;
        snprintf(note, sizeof note, "note: %d trace events are not in the streamed file", i);
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(strstr(text, note), "%s in: %s", note, text);
        free(text);
    }
    o.max_bytes = 50000;
    CHECK(perf_trace_stream(path, &o) == PERF_OK, "another one after that");
    for (i = 0; i < 20000; i++) {
        PERF_SCOPE("round");
        now_ns += 10;
    }
    CHECK(perf_trace_stream_end() == PERF_EIO, "the limit was reached");
    text = file_text(path);
    CHECK(perf_trace_merge(merged_path, &part, 1, &bad) == PERF_OK, "whole at its limit");
    free(text);
    {
        FILE *f = fopen(path, "rb");
        fseek(f, 0, SEEK_END);
        CHECK(ftell(f) >= 50000 && ftell(f) < 150000, "%ld bytes", ftell(f));
        fclose(f);
    }
}

static void forks(void)
{
    int    i, crossed, status = -1;
    pid_t  pid;
    size_t n;
    char   child_path[128];

    perf_reset();
    CHECK(perf_trace_stream(json_path, NULL) == PERF_OK, "start");
    for (i = 0; i < 1000; i++)
        round_of(i);
    fflush(stdout);
    {
        PERF_SCOPE("around the fork");
        pid = fork();
        if (pid == 0) {
            for (i = 0; i < 3000; i++)
                round_of(i);
            _exit(perf_trace_stream_end() == PERF_OK ? 0 : 7);
        }
        waitpid(pid, &status, 0);
    }
    CHECK(status == 0, "child %x", status);
    for (i = 0; i < 1000; i++)
        round_of(i);
    CHECK(perf_trace_stream_end() == PERF_OK, "end");
    n = zones(json_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 2000 && crossed == 0, "%d in the parent's", count_named(all, n, "round"));
    CHECK(count_named(all, n, "around the fork") == 1, "around");
    snprintf(child_path, sizeof child_path, "%s.%ld", json_path, (long)pid);
    n = zones(child_path, all, 200000, &crossed);
    CHECK(count_named(all, n, "round") == 3000 && crossed == 0, "%d in the child's", count_named(all, n, "round"));
    CHECK(count_named(all, n, "around the fork") == 0, "the parent's scope");
    remove(child_path);
}

static void merges(void)
{
    perf_trace_part part[3];
    size_t          bad, n, i;
    char           *text;
    int             crossed;
    uint64_t        first;
    FILE           *f;

    perf_reset();
    memset(part, 0, sizeof part);
    round_of(1);
    first = now_ns - 15;
    CHECK(perf_trace_save(json_path) == PERF_OK && perf_trace_save(other_path) == PERF_OK, "save");
    part[0].path = json_path;
    part[0].name = "rank \"0\"";
    part[1].path = other_path;
    part[1].name = "rank 1";
    part[1].offset_ns = -1000;
    part[1].bound_ns = 250;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_OK && bad == 2, "merge");
    n = zones(merged_path, all, 100, &crossed);
    CHECK(n == 6 && all[0].start == first - 1000 && all[3].start == first, "%lu: %llu, %llu", (unsigned long)n,
          (unsigned long long)all[0].start, (unsigned long long)first);
    text = file_text(merged_path);
    CHECK(strstr(text, "\"process_name\",\"args\":{\"name\":\"rank \\\"0\\\"\"}") && strstr(text, "\"rank 1\""), "%s", text);
    CHECK(strstr(text, "clock moved by -1000 ns, within 250 ns"), "%s", text);
    snprintf(room_, sizeof room_, "\"pid\":%u,", (unsigned)perf_process_id_());
    CHECK(count_of(text, room_) == 3 && count_of(text, "\"pid\":4194304,") == 3,
          "two processes of one number: %s", text);
    free(text);
    part[2].path = merged_path;                 /* onto itself, and again */
    part[0].name = part[1].name = NULL;
    CHECK(perf_trace_merge(merged_path, part, 3, NULL) == PERF_OK, "again");
    CHECK(zones(merged_path, all, 100, &crossed) == 12, "again");

    CHECK(perf_trace_merge(merged_path, part, 0, &bad) == PERF_EINVAL && bad == 0, "none");
    CHECK(perf_trace_merge(NULL, part, 1, &bad) == PERF_EINVAL, "no file");
    part[1].path = "no/such/file";
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_EIO && bad == 1, "missing: %lu", (unsigned long)bad);
    CHECK(perf_trace_save_perfetto(other_path) == PERF_OK, "save");
    part[1].path = other_path;
    CHECK(perf_trace_merge(merged_path, part, 2, &bad) == PERF_EFORMAT && bad == 1, "two kinds");
    CHECK(perf_trace_merge("no/such/folder/x", part, 1, &bad) == PERF_EIO, "no folder");
    CHECK(perf_trace_merge("/dev/full", part, 1, &bad) == PERF_EIO, "full disk");
    part[0].bound_ns = -1;
    CHECK(perf_trace_merge(merged_path, part, 1, &bad) == PERF_EINVAL && bad == 0, "bound");

    /* hostile files: every cut, and bytes changed at random, of both formats */
    for (i = 0; i < 2; i++) {
        const char *from = i ? other_path : json_path;
        size_t      size, cut, k;
        uint64_t    dice = 12345 + i;
        memset(part, 0, sizeof part);
        part[0].path = scratch_file();
        part[0].name = "x";
        part[0].bound_ns = 5;
        f = fopen(from, "rb");
        size = f ? fread(room_, 1, sizeof room_, f) : 0;
        if (f)
            fclose(f);
        CHECK(size > 100, "%lu", (unsigned long)size);
        for (cut = 0; cut < size + 1000; cut++) {
            perf_status s;
            size_t      length = cut < size ? cut : size;
            f = fopen(scratch_file(), "wb");
            if (cut < size) {
                fwrite(room_, 1, length, f);
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
            if (s == PERF_OK && !i && cut < size) {
                text = file_text(merged_path);
                CHECK(json_valid(text), "cut at %lu: %s", (unsigned long)cut, text);
                free(text);
            }
        }
    }
}

static void clocks(void)
{
    perf_clock_sync s = PERF_ZERO;

    CHECK(perf_clock_sync_add(&s, 1000, 500, 1400) == PERF_OK && s.offset_ns == 700 && s.bound_ns >= 200, "%lld",
          (long long)s.offset_ns);
    CHECK(perf_clock_sync_add(&s, 2000, 1350, 2100) == PERF_OK && s.offset_ns == 700 && s.bound_ns >= 50 && s.bound_ns <= 51,
          "%lld %lld", (long long)s.offset_ns, (long long)s.bound_ns);
    CHECK(perf_clock_sync_add(&s, 3000, 9, 4000) == PERF_OK && s.offset_ns == 700 && s.messages == 3, "the fastest counts");
    CHECK(perf_clock_sync_add(&s, 3000, 9, 2000) == PERF_EINVAL && perf_clock_sync_add(NULL, 1, 2, 3) == PERF_EINVAL, "bad");
}

/* The memory of a stream serves the next one, of either kind. */
static void many(void)
{
    perf_registry_ *r = perf_registry_get_();
    char           *pool = NULL, *text;
    int             i;

    for (i = 0; i < 40; i++) {
        const char *path = i % 4 < 2 ? other_path : json_path;
        CHECK(perf_trace_stream(path, NULL) == PERF_OK, "stream %d", i);
        round_of(i);
        CHECK(perf_trace_stream_end() == PERF_OK, "end %d", i);
        CHECK(i < 4 || r->pool == pool, "stream %d took %d bytes", i, (int)(r->pool - pool));
        pool = r->pool;
    }
    text = file_text(json_path);
    CHECK(json_valid(text) && strstr(text, "grandchild"), "%s", text);
    free(text);
}

/* A counter is two entries of the ring: what is lost after a stream is counted in events. */
static void lost_after(const char *path)
{
    perf_registry_ *r = perf_registry_read_();
    uint64_t        fit = r->ring_events / 2, i, lost;

    perf_reset();
    for (i = 0; i < 3 * fit; i++)
        perf_count("value", 1.0);
    CHECK(perf_trace_stream(path, NULL) == PERF_OK, "stream");
    for (i = 0; i < 100; i++)
        perf_count("value", 1.0);
    CHECK(perf_trace_stream_end() == PERF_OK, "end");
    for (i = 0; i < 2 * fit; i++)
        perf_count("value", 1.0);
    lost = perf_losses_sum_(r).n[PERF_LOSS_OVERWRITTEN_];     /* and the scope that wrote the last part */
    CHECK(lost == fit || lost == fit + 1, "%lu lost of %lu", (unsigned long)lost, (unsigned long)(2 * fit));
    perf_reset();
}

static void bad_input(void)
{
    perf_stream_opts o = perf_stream_opts_default();

    CHECK(perf_trace_stream(NULL, NULL) == PERF_EINVAL && perf_trace_stream("", NULL) == PERF_EINVAL, "path");
    CHECK(perf_trace_stream("no/such/folder/x", NULL) == PERF_EIO, "folder");
    CHECK(perf_trace_stream("/dev/full", NULL) == PERF_EIO, "full disk");
    o.seconds = -1;
    CHECK(perf_trace_stream(json_path, &o) == PERF_EINVAL, "seconds");
    o.seconds = strtod("nan", NULL);
    CHECK(perf_trace_stream(json_path, &o) == PERF_EINVAL, "NaN");
    CHECK(perf_trace_stream_flush() == PERF_ESTATE && perf_trace_stream_end() == PERF_ESTATE, "no stream");
    CHECK(perf_stream_opts_resolved(NULL).max_bytes == UINT64_C(1) << 30, "default");
}

int main(void)
{
    snprintf(json_path, sizeof json_path, "%s", scratch_file());
    snprintf(json_path + strlen(json_path) - 5, 20, "-a.json");
    snprintf(other_path, sizeof other_path, "%s.b", scratch_file());
    snprintf(merged_path, sizeof merged_path, "%s.c", scratch_file());
    bad_input();
    killed(json_path, 0);
    killed(other_path, 1);
    whole();
    open_scopes();
    full_disk(json_path);
    full_disk(other_path);
    forks();
    merges();
    clocks();
    lost_after(other_path);
    many();
    remove(json_path);
    remove(other_path);
    remove(merged_path);
    remove(scratch_file());
    return check_done();
}
