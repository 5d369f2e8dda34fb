/* The report as a whole, against report.txt: what people read, word by word, in one place.  Other tests
 * ask for numbers and fields.  The clock only moves when the program says so.
 *
 *     golden report.txt           compares;  UPDATE=1 golden report.txt  writes it anew (then read it) */
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

int main(int argc, char **argv)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE, PERF_VIEW_CSV};
    static char            all[65536], wanted[65536];
    FILE                  *f;
    size_t                 i, n;

    CHECK(argc == 2, "golden FILE");
    story();
    for (i = 0; i < sizeof view / sizeof *view; i++) {
        char *text = report_text(view[i], PERF_SORT_SELF);
        snprintf(all + strlen(all), sizeof all - strlen(all), "== view %lu\n%s", (unsigned long)i, steady(text));
        free(text);
    }
    f = fopen(argv[1], getenv("UPDATE") ? "wb" : "rb");
    CHECK(f != NULL, "%s", argv[1]);
    if (f && getenv("UPDATE")) {
        fputs(all, f);
    } else if (f) {
        n = fread(wanted, 1, sizeof wanted - 1, f);
        wanted[n] = '\0';
        for (n = 0; all[n] && all[n] == wanted[n]; n++) {
        }
        CHECK(all[n] == wanted[n], "differs here:\n%.200s\nwanted:\n%.200s", all + n, wanted + n);
    }
    if (f)
        fclose(f);
    return check_done();
}
