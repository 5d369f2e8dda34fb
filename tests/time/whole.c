/* A report is whole, or the call says that it is not: beside loops that end while it is written, and
 * through a slow pipe whose writer is interrupted by a timer.  And what names may do to a terminal or a
 * spreadsheet.                                                                                     */
#define _GNU_SOURCE 1
#include <stdlib.h>
static int refused;                     /* the allocation that gets no memory, counted down; 0: none */
static void *test_malloc(size_t bytes)
{
    return refused && !--refused ? NULL : malloc(bytes);
}
#define PERF_MALLOC(bytes) test_malloc(bytes)
#define PERF_FREE(memory) free(memory)
#include "rows.h"
#include "perf_counters.h"
#include "perf_trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 3000, REPORTS = 20 };

static void bench(const char *name, int number)
{
    perf_bench_opts o = PERF_ZERO;
    perf_bench      b;
    char            text[90];

    snprintf(text, sizeof text, "%s number %d, with a name that is long enough to take its line", name, number);
    o.samples = 1;
    o.max_seconds = 1e-6;
    b = perf_bench_begin(text, &o);
    while (perf_bench_next(&b)) {
    }
    (void)perf_bench_end(&b);
}

static int stop;

static void *ends_loops(void *unused)
{
    int i;

    for (i = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE) && i < 8000; i++)
        bench("other", i);
    return unused;
}

static const char *read_all(FILE *f)
{
    static char *text;
    long         n;

    free(text);
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    rewind(f);
    text = (char *)malloc((size_t)n + 1);
    if (!text || fread(text, 1, (size_t)n, f) != (size_t)n)
        exit(1);
    text[n] = '\0';
    return text;
}

/* Every row of a loop has a median: "[a, b]" or "[no interval]", and the text ends with a line. */
static int cut(const char *text)
{
    const char *last;
    size_t      n = strlen(text);

    if (!n || text[n - 1] != '\n')
        return 1;
    for (last = text + n - 1; last > text && last[-1] != '\n'; last--) {
    }
    return strstr(last, "number") && !strchr(last, ']') && !strstr(last, "begun");
}

static void beside_loops(void)
{
    pthread_t t;
    int       i, bad = 0;

    for (i = 0; i < 300; i++)
        bench("mine", i);
    CHECK(!pthread_create(&t, NULL, ends_loops, NULL), "thread");
    for (i = 0; i < REPORTS; i++) {
        FILE       *f = tmpfile();
        perf_status status = perf_report_to(f, NULL);
        bad += status == PERF_OK && cut(read_all(f));
        CHECK(status == PERF_OK, "%s", perf_status_text(status));
        fclose(f);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    CHECK(!bad, "%d of %d reports are cut, with PERF_OK", bad, REPORTS);
}

/* More paths of names than the tree has room for at first. */
static void many_paths(void)
{
    char name[32];
    int  i;

    for (i = 0; i < 400; i++) {
        perf_scope inside;
        PERF_SCOPE("of many");

        sprintf(name, "inside %d", i);
        inside = perf_scope_begin(name);
        perf_scope_end(&inside);
    }
}

/* What stands behind the lines that change from report to report. */
static char *rows_of(FILE *f)
{
    const char *text = read_all(f), *rows = strstr(text, "of total");
    char       *copy = strdup(rows ? rows : text);

    if (!copy)
        exit(1);
    return copy;
}

/* A tree for which memory is short is no other tree. */
static void tree_without_memory(void)
{
    perf_report_opts o = PERF_ZERO;
    char            *whole = NULL, *rows;
    int              at, left = 0, short_of = 0;

    many_paths();
    o.view = PERF_VIEW_TREE;
    o.rows = -1;
    for (at = 0; at < 100 && !left; at++) {
        FILE       *f = tmpfile();
        perf_status status;
        refused = at;
        status = perf_report_to(f, &o);
        left = refused;
        refused = 0;
        rows = rows_of(f);
        fclose(f);
        if (!at)
            whole = strdup(rows);
        short_of += status == PERF_ENOMEM;
        CHECK(status == PERF_ENOMEM || (whole && !strcmp(rows, whole)), "allocation %d: another tree, %s", at,
              perf_status_text(status));
        free(rows);
    }
    free(whole);
    CHECK(left && short_of > 8, "%d", short_of);
}

/* Reports have a list of what scopes have counted, or why they have not, unless memory is short. */
static void counted_without_memory(void)
{
    perf_counters_opts wanted = PERF_ZERO;
    perf_report_opts   o = PERF_ZERO;
    perf_counters      counters;
    perf_status        status;
    int                view, at, left;

    wanted.scopes = 1;
    counters = perf_counters_open(&wanted);
    status = perf_counters_start(&counters);
    CHECK(status == PERF_OK || status == PERF_ENODATA, "%s", perf_status_text(status));
    many_paths();
    for (view = PERF_VIEW_TABLE; view <= PERF_VIEW_JSON; view++) {
        o.view = (perf_view)view;
        for (at = 1, left = 0; at < 100 && !left; at++) {
            FILE *f = tmpfile();
            refused = at;
            status = perf_report_to(f, &o);
            left = refused;
            refused = 0;
            CHECK(status == (left ? PERF_OK : PERF_ENOMEM), "view %d, allocation %d: %s", view, at,
                  perf_status_text(status));
            fclose(f);
        }
        CHECK(left, "view %d has %d allocations", view, at);
    }
    (void)perf_counters_stop(&counters);
    perf_counters_close(&counters);
}

/* Memory is short: PERF_ENOMEM, or each row is there. */
static void without_memory(void)
{
    perf_report_opts o = PERF_ZERO;
    int              view, at, left = 0, short_of = 0;

    { PERF_SCOPE("of few"); }
    for (view = PERF_VIEW_TABLE; view <= PERF_VIEW_JSON; view++) {
        o.view = (perf_view)view;
        for (at = 1, left = 0; at < 100 && !left; at++) {
            FILE       *f = tmpfile();
            perf_status status;
            refused = at;
            status = perf_report_to(f, &o);
            left = refused;
            refused = 0;
            short_of += status == PERF_ENOMEM;
            CHECK(status == PERF_ENOMEM || (status == PERF_OK && strstr(read_all(f), "of few")), "view %d, allocation %d: %s",
                  view, at, perf_status_text(status));
            fclose(f);
        }
        CHECK(left && at > 3, "view %d has %d allocations", view, at);
    }
    CHECK(short_of > 8, "%d", short_of);
}

static void ignore(int signal)
{
    (void)signal;
}

/* The writer's handlers interrupt it: no SA_RESTART. */
static void interrupt_often(void)
{
    struct sigaction act;
    struct itimerval each = {{0, 500}, {0, 500}};

    memset(&act, 0, sizeof act);
    act.sa_handler = ignore;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
}

static void interrupt_no_more(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &off, NULL);
}

/* How many lines a slow reader got of what `write` wrote into its pipe. */
static int lines_through(perf_status (*write_it)(FILE *), perf_status *status)
{
    int   way[2], answer[2], lines = 0;
    pid_t child;
    FILE *f;

    if (pipe(way) || pipe(answer))
        exit(1);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        char    text[512];
        ssize_t n, i;
        close(way[1]);
        while ((n = read(way[0], text, sizeof text)) > 0) {
            for (i = 0; i < n; i++)
                lines += text[i] == '\n';
            usleep(300);
        }
        n = write(answer[1], &lines, sizeof lines);
        _exit(n != sizeof lines);
    }
    close(way[0]);
    f = fdopen(way[1], "w");
    interrupt_often();
    *status = write_it(f);
    interrupt_no_more();
    fclose(f);
    if (read(answer[0], &lines, sizeof lines) != sizeof lines)
        lines = -1;
    close(answer[0]);
    close(answer[1]);
    waitpid(child, NULL, 0);
    return lines;
}

static perf_status csv(FILE *f)
{
    perf_report_opts o = PERF_ZERO;

    o.view = PERF_VIEW_CSV;
    return perf_report_to(f, &o);
}

static perf_status trace(FILE *f)
{
    char path[40];

    snprintf(path, sizeof path, "/dev/fd/%d", fileno(f));
    return perf_trace_save(path);
}

static void through_a_pipe(void)
{
    perf_status status;
    char        name[40];
    int         i, lines;

    for (i = 0; i < ROWS; i++) {
        perf_scope s;
        snprintf(name, sizeof name, "scope %d", i);
        s = perf_scope_begin(name);
        perf_scope_end(&s);
    }
    lines = lines_through(csv, &status);
    CHECK(status == PERF_OK && lines == ROWS + 1, "CSV: %d of %d lines, %s", lines, ROWS + 1, perf_status_text(status));
    lines = lines_through(trace, &status);
    CHECK(status == PERF_OK && lines >= ROWS, "trace: %d of %d lines, %s", lines, ROWS, perf_status_text(status));
}

/* Characters that a terminal obeys, in two bytes (U+009B is ESC [) and in one; a formula. */
static void names(void)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE, PERF_VIEW_CSV, PERF_VIEW_JSON};
    size_t i;

    { PERF_SCOPE("a\xc2\x9b" "31mRED"); }
    { PERF_SCOPE("b\x1b[31mRED"); }
    { PERF_SCOPE("=1+1"); }
    { PERF_SCOPE("@sum"); }
    { PERF_SCOPE("minus-"); }
    PERF_COUNT("-2", 1);
    for (i = 0; i < sizeof view / sizeof *view; i++) {
        char *text = report_text(view[i], PERF_SORT_NAME);
        CHECK(!strstr(text, "\xc2\x9b") && !strchr(text, '\033'), "view %d: %s", (int)view[i], text);
        if (view[i] == PERF_VIEW_CSV) {
            CHECK(strstr(text, "\n\"'=1+1\",") && strstr(text, "\n\"'@sum\",") && strstr(text, "\n\"'-2\","), "%s", text);
            CHECK(strstr(text, "\n\"minus-\","), "%s", text);
        }
        if (view[i] == PERF_VIEW_JSON)
            CHECK(json_valid(text) && strstr(text, "\"a\\u009b31mRED\"") && strstr(text, "\"=1+1\""), "%s", text);
        free(text);
    }
}

int main(void)
{
    without_memory();
    tree_without_memory();
    (void)perf_reset();
    counted_without_memory();
    (void)perf_reset();
    names();
    (void)perf_reset();
    through_a_pipe();
    (void)perf_reset();
    beside_loops();
    return check_done();
}
