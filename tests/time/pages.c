/* pages.c - a thread with thousands of places asks for huge pages, a small program never does, and where they are
 * refused nothing changes. */
#define _GNU_SOURCE 1
#include "rows.h"
#include <sys/syscall.h>
#include <unistd.h>

#define PLACES 20000                    /* their cells alone are over 2 MB, whatever the durations */

static int  asked, refuse;
static char name[PLACES][16];

int madvise(void *p, size_t bytes, int advice);
int madvise(void *p, size_t bytes, int advice)
{
    if (advice == 14) {                         /* MADV_HUGEPAGE */
        asked++;
        if (refuse)
            return -1;
    }
    return (int)syscall(SYS_madvise, p, bytes, advice);
}

static void call(int places, int turns)
{
    int i, turn;

    for (turn = 0; turn < turns; turn++)
        for (i = 0; i < places; i++) {
            perf_scope s;

            if (!*name[i])
                sprintf(name[i], "place %d", i);
            s = perf_scope_begin(name[i]);
            if (turn % 7 == 0)
                perf_clobber();
            perf_scope_end(&s);
        }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (sizeof(long) == 4) {
        printf("skipped: where long has 32 bits nobody asks for huge pages\n");
        return 77;
    }
    refuse = argc > 1;
    call(200, 20);
    CHECK(asked == 0, "%d times with 200 places", asked);
    call(PLACES, 10);
    CHECK(asked > 0, "never with %d places", PLACES);
    CHECK(row_of("place 3", "scope").calls == 30 && row_of("place 19999", "scope").calls == 10, "%g and %g calls",
          row_of("place 3", "scope").calls, row_of("place 19999", "scope").calls);
    CHECK(number_of("uncounted") == 0 && perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    return check_done();
}
