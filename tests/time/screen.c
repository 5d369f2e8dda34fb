/* The report on a screen: every line fits, on 60 columns and more; bars and colour on a terminal only. */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "rows.h"
#include "perf_memory.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "inside.h"

static char text[65536];

static void work(const char *name, uint64_t ns)
{
    perf_scope s = perf_scope_begin(name);

    now_ns += ns;
    perf_scope_end(&s);
}

static void story(void)
{
    int i;

    for (i = 0; i < 30; i++) {
        PERF_SCOPE("a long name of a scope, longer than any table has room for, in fact");
        work("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe5\x90\x8d\xe5\x89\x8d\xe3\x81\xaf\xe9\x95\xb7\xe3\x81\x84\xe3\x81\xa7\xe3\x81\x99", 999999);
        PERF_COUNT("a counter with a long name", i * 1000);
        {
            PERF_WAIT("read");
            now_ns += 123456789012;
        }
    }
    (void)perf_memory_mark("a phase with a name that is long");
    (void)perf_memory_mark("another one");
}

/* Columns of a line without colours, and whether there are any. */
static int columns(const char *line, const char *end, int *colors)
{
    int n = 0;

    while (line < end) {
        size_t bytes;
        int    wide = (int)text_columns(line, &bytes);
        if (*line == '\033') {
            line = strchr(line, 'm') + 1;
            ++*colors;
            continue;
        }
        n += wide;
        line += bytes;
    }
    return n;
}

/* The widest line; *colors and *bars are counted. */
static int widest(const char *p, int *colors, int *bars)
{
    int most = 0;

    *colors = *bars = 0;
    for (; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        int n = columns(p, p + strcspn(p, "\n"), colors);
        most = n > most ? n : most;
        *bars += strstr(p, "###") && strstr(p, "###") < p + strcspn(p, "\n");
    }
    return most;
}

static void read_back(FILE *f)
{
    size_t n;

    rewind(f);
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    (void)!ftruncate(fileno(f), 0);
    rewind(f);
}

static void files(void)
{
    static const int  width[] = {60, 61, 66, 72, 76, 80, 86, 90, 100, 113, 118, 168, 300};
    perf_report_opts  o = PERF_ZERO;
    FILE             *f = tmpfile();
    size_t            i;
    int               most, colors, bars;
    char              columns_of[16];

    CHECK(f != NULL, "no file");
    if (!f)
        return;
    for (i = 0; i < 2 * sizeof width / sizeof *width; i++) {
        o.view = i % 2 ? PERF_VIEW_TREE : PERF_VIEW_TABLE;
        o.width = width[i / 2];
        CHECK(perf_report_to(f, &o) == PERF_OK, "report");
        read_back(f);
        most = widest(text, &colors, &bars);
        CHECK(most <= width[i / 2] && most > 50 && !colors && !bars, "%d columns, %d colours, %d bars of %d:\n%s", most,
              colors, bars, width[i / 2], text);
        o.width = 0;
        snprintf(columns_of, sizeof columns_of, "%d", width[i / 2]);
        setenv("COLUMNS", columns_of, 1);
        CHECK(perf_report_to(f, &o) == PERF_OK, "report");
        read_back(f);
        CHECK(widest(text, &colors, &bars) == most, "COLUMNS: %d, not %d", widest(text, &colors, &bars), most);
    }
    for (i = 0; i < 4; i++) {                   /* nonsense is harmless */
        static const char *const bad[] = {"0", "-5", "99999999999999999999", "1"};
        setenv("COLUMNS", bad[i], 1);
        CHECK(perf_report_to(f, NULL) == PERF_OK, "report");
        read_back(f);
        CHECK(widest(text, &colors, &bars) > 50, "%s: %s", bad[i], text);
    }
    o.width = 1;
    CHECK(perf_report_to(f, &o) == PERF_OK, "the least");
    read_back(f);
    CHECK(widest(text, &colors, &bars) == 60, "the least: %d", widest(text, &colors, &bars));
    o.width = -1;
    setenv("COLUMNS", "60", 1);
    o.view = PERF_VIEW_TABLE;
    read_back(f);
    CHECK(perf_report_to(f, &o) == PERF_OK, "report");
    read_back(f);
    CHECK(widest(text, &colors, &bars) > 113, "all columns");
    unsetenv("COLUMNS");
    o.width = 0;
    CHECK(perf_report_to(f, &o) == PERF_OK, "report");
    read_back(f);
    CHECK(widest(text, &colors, &bars) > 113 && !colors && !bars, "a file has all columns");
    CHECK(perf_report_text(text, sizeof text, NULL) > 100 && widest(text, &colors, &bars) > 113, "a text too");
    fclose(f);
}

/* What programs read has no width: no line of it is broken inside a name. */
static void machines(void)
{
    static char      whole[sizeof text];
    perf_report_opts o = PERF_ZERO;
    FILE            *f = tmpfile();
    int              i;

    { PERF_SCOPE("load all of the files that a user has, then sort them by what they are for"); }
    for (i = 0; f && i < 2; i++) {
        o.view = i ? PERF_VIEW_JSON : PERF_VIEW_CSV;
        o.width = 60;
        CHECK(perf_report_to(f, &o) == PERF_OK, "report");
        read_back(f);
        memcpy(whole, text, sizeof text);
        CHECK(strstr(whole, "\"load all of the files that a user has, then sort them by what they are for\""),
              "view %d: %s", (int)o.view, whole);
        CHECK(!i || json_valid(whole), "%s", whole);
    }
    if (f)
        fclose(f);
}

/* A pseudo-terminal of 80 columns, or of the size that is not known. */
static void terminal(int wide, int color)
{
    struct winsize size;
    int            master = posix_openpt(O_RDWR | O_NOCTTY), slave, most, colors, bars;
    ssize_t        n, all = 0;
    FILE          *f;

    if (master < 0 || grantpt(master) || unlockpt(master)) {
        puts("no pseudo-terminal");
        return;
    }
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    memset(&size, 0, sizeof size);
    size.ws_row = 24;
    size.ws_col = (unsigned short)wide;
    CHECK(!ioctl(slave, TIOCSWINSZ, &size), "size");
    f = fdopen(slave, "w");
    CHECK(perf_report_to(f, NULL) == PERF_OK, "report");
    CHECK(fcntl(master, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    while ((n = read(master, text + all, sizeof text - 1 - (size_t)all)) > 0)
        all += n;
    text[all] = '\0';
    fclose(f);
    close(master);
    while (strchr(text, '\r'))
        memmove(strchr(text, '\r'), strchr(text, '\r') + 1, strlen(strchr(text, '\r')));
    most = widest(text, &colors, &bars);
    CHECK(most <= (wide ? wide : 80) && most > 50, "%d columns of %d:\n%s", most, wide, text);
    CHECK(bars >= 1 && !colors == !color, "%d bars, %d colours:\n%s", bars, colors, text);
}

int main(void)
{
    story();
    files();
    machines();
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    terminal(80, 1);
    terminal(132, 1);
    terminal(0, 1);
    setenv("NO_COLOR", "1", 1);
    terminal(80, 0);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    terminal(80, 0);
    return check_done();
}
