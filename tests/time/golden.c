/* The report as a whole, against report.txt: what people read, word by word, in one place.  Other tests
 * ask for numbers and fields.  The clock only moves when the program says so.
 *
 *     golden report.txt           compares;  UPDATE=1 golden report.txt  writes it anew (then read it) */
#define _POSIX_C_SOURCE 200809L         /* popen */
#include <stdint.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "rows.h"

static void work(const char *name, uint64_t ns)
{
    perf_scope s = perf_scope_begin(name);

    now_ns += ns;
    perf_scope_end(&s);
}

static void story(void)
{
    perf_scope a, b, never;
    perf_async request = perf_async_begin("request", 7);
    perf_lap   lap;
    int        i;

    {
        PERF_SCOPE("load");
        now_ns += 1500;
        {
            PERF_WAIT("read");
            now_ns += 2500000;
        }
        for (i = 0; i < 40; i++)
            work("decode", i < 39 ? 1000u + 10u * (unsigned)i : 90000u);
    }
    lap = perf_lap_begin();
    for (i = 0; i < 3; i++) {
        PERF_SCOPE("step");
        now_ns += 400;
        PERF_LAP(&lap, "first half");
        now_ns += 600;
        PERF_LAP(&lap, "second half");
        PERF_COUNT("queue", i);
    }
    PERF_INSTANT("turning point");
    perf_async_end(&request);
    a = perf_scope_begin("ends too late");
    b = perf_scope_begin("inside");
    now_ns += 50;
    perf_scope_end(&a);
    perf_scope_end(&b);
    perf_scope_end(&b);
    a = perf_scope_begin("around");
    never = perf_scope_begin("left open by a jump");
    now_ns += 5;
    perf_scope_end(&a);
    (void)never;
    work("a name with \t control \033 characters", 12);
    work("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 34);
}

/* All of these begin at one moment: only the depth tells; what terminals and readers of CSV would choke
 * on; and two scopes stay open.                                                                   */
static void second_story(void)
{
    static const char *const name[] = {"bad \xff\xc3 end", "csi \xc2\x9b""31m", "cut \xe6\x97",
                                       "tab\t\x1b[31m\x7f", "fine \xe6\x97\xa5 \xc2\xa0"};
    size_t i;

    perf_reset();
    for (i = 0; i < 2; i++) {                   /* the second round takes the hot path */
        PERF_SCOPE("tie a");
        {
            PERF_SCOPE("tie b");
            {
                PERF_SCOPE("tie c");
                now_ns += 5;
            }
        }
        {
            PERF_SCOPE("tie d");
        }
        {
            PERF_SCOPE("tie e");
        }
    }
    for (i = 0; i < sizeof name / sizeof *name; i++)
        work(name[i], i);
    {
        PERF_WAIT("read");
        now_ns += 6;
    }
    PERF_SCOPE_VALUE("rows", 12);
    PERF_SCOPE_VALUE("rows", 24);
    PERF_SCOPE_TEXT("file", "a");
    (void)perf_scope_begin("open for the first time");
    (void)perf_scope_begin("tie a");
}

/* Without the lines that differ from run to run: what the process spent. */
static char *steady(char *text)
{
    char *line = text, *to = text, *end;

    for (; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (strncmp(line, "processor", 9) != 0) {
            memmove(to, line, (size_t)(end - line));
            to += end - line;
        }
    }
    *to = '\0';
    return text;
}

static void put(char *all, size_t room)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE, PERF_VIEW_CSV};
    size_t                 i;

    for (i = 0; i < sizeof view / sizeof *view; i++) {
        char *text = report_text(view[i], PERF_SORT_SELF);
        snprintf(all + strlen(all), room - strlen(all), "== view %lu\n%s", (unsigned long)i, steady(text));
        free(text);
    }
}

/* Prints what is new (+) and what is gone (-). */
static void differ(const char *file, const char *all)
{
    char  command[1024];
    FILE *diff;

    snprintf(command, sizeof command, "diff -u '%s' -", file);
    fflush(stdout);
    diff = popen(command, "w");
    if (diff) {
        fputs(all, diff);
        pclose(diff);
    }
}

int main(int argc, char **argv)
{
    static char all[65536], wanted[65536];
    FILE       *f;
    size_t      n;

    CHECK(argc == 2, "golden FILE");
    story();
    put(all, sizeof all);
    second_story();
    put(all, sizeof all);
    f = fopen(argv[1], getenv("UPDATE") ? "wb" : "rb");
    CHECK(f != NULL, "%s", argv[1]);
    if (f && getenv("UPDATE")) {
        fputs(all, f);
    } else if (f) {
        n = fread(wanted, 1, sizeof wanted - 1, f);
        wanted[n] = '\0';
        CHECK(!strcmp(all, wanted), "the report has changed; UPDATE=1 writes it anew");
        if (strcmp(all, wanted))
            differ(argv[1], all);
    }
    if (f)
        fclose(f);
    return check_done();
}
