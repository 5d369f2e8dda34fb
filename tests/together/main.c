/* Opens its own scope, runs the other files, and reads the report: one line for each of them, with
 * its number of calls.  If two files had a registry each, some line would be missing or short.   */
#include "perf.h"

#include <stdio.h>
#include <string.h>

#include "work.h"

static char report[1 << 16];

void work_main(void)
{
    int i;

    for (i = 0; i < CALLS_MAIN; i++) {
        PERF_SCOPE("main.c scope");
    }
}

/* Is `number` a word of its own in the line? */
static int line_has_number(const char *line, size_t len, long number)
{
    char   word[16];
    size_t n, i;

    n = (size_t)snprintf(word, sizeof word, "%ld", number);
    for (i = 0; i + n <= len; i++) {
        int starts = i == 0 || !strchr("0123456789.,", line[i - 1]);
        int ends = i + n == len || !strchr("0123456789.,%", line[i + n]);

        if (starts && ends && memcmp(line + i, word, n) == 0)
            return 1;
    }
    return 0;
}

/* 1 failed, 0 fine: exactly `lines` lines begin with `name`, with this number of calls.  A note may name it, too: where
 * others had the processor. */
static int check(const char *name, int lines, long calls)
{
    const char *line = report;
    int         seen = 0, bad = 0;

    while (*line) {
        size_t len = strcspn(line, "\n");
        size_t n = strlen(name);

        if (n <= len && memcmp(line, name, n) == 0) {
            seen++;
            if (!line_has_number(line, len, calls)) {
                printf("FAILED: %s: the line does not say %ld calls\n", name, calls);
                bad = 1;
            }
        }
        line += len + (line[len] == '\n');
    }
    if (seen != lines) {
        printf("FAILED: %s begins %d lines of the report, not %d\n", name, seen, lines);
        bad = 1;
    }
    return bad;
}

int main(void)
{
    int bad = 0;

    work_main();
    work_second();
    work_cpp();
    work_scope();
    work_both();
    work_off();
    work_off_cpp();
#ifdef WITH_CU
    work_cu();
#endif
    perf_report_text(report, sizeof report, NULL);

    bad |= check("main.c scope", 1, CALLS_MAIN);
    bad |= check("second.c scope", 1, CALLS_SECOND);
    bad |= check("cpp.cpp scope", 1, CALLS_CPP);
    bad |= check("scope.c scope", 1, CALLS_SCOPE);
    bad |= check("both.cpp scope", 1, CALLS_BOTH);
    bad |= check("off.c scope", 0, CALLS_OFF);
    bad |= check("off_cpp.cpp scope", 0, CALLS_OFF);
#ifdef WITH_CU
    bad |= check("cu.cu scope", 1, CALLS_CU);
#endif
    if (bad)
        printf("---- the report ----\n%s", report);
    return bad;
}
