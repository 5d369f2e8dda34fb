/* moments.c - marks of a signal handler that comes while its thread makes a recorder, a name, a cell or room:
 * each is counted, or counted as lost.  The system's mmap is where it comes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "rows.h"
#include "perf_tally.h"

#define PLACES 1000

static volatile int handles;            /* 1: handlers come */
static int          inside, handled[3];

static void begin_new_name(void)
{
    static char name[4096][12];
    perf_scope  s;

    sprintf(name[handled[2] % 4096], "new %d", handled[2]);
    s = perf_scope_begin(name[handled[2] % 4096]);
    perf_scope_end(&s);
    handled[2]++;
}

/* What a handler does: a scope of a name that is known or not, a counter, a name made at run time. */
static void handler(void)
{
    if (!handles || inside)
        return;
    inside = 1;
    {
        PERF_SCOPE("handler");
        handled[0]++;
    }
    PERF_COUNT("handled", handled[0]);
    handled[1]++;
    begin_new_name();
    inside = 0;
}

/* By its symbol: <sys/mman.h> calls it mmap64 where files are large. */
void *pages(void *p, size_t bytes, int access, int flags, int file, long at) __asm__("mmap");
void *pages(void *p, size_t bytes, int access, int flags, int file, long at)
{
    handler();
    p = (void *)syscall(SYS_mmap, p, bytes, access, flags, file, at);
    handler();
    return p;
}

static double calls_of(const char *pattern, int count)
{
    perf_tally tally;
    char       name[16];
    double     calls = 0;
    int        i;

    for (i = 0; i < count; i++) {
        sprintf(name, pattern, i);
        if (perf_tally_of(name, 0, &tally) == PERF_OK)
            calls += (double)tally.calls;
    }
    return calls;
}

static void *first_moment(void *unused)
{
    PERF_SCOPE("thread");
    (void)unused;
    return NULL;
}

static void many_places(void)
{
    static char name[PLACES][12];
    int         i;

    for (i = 0; i < PLACES; i++) {
        perf_scope s;

        sprintf(name[i], "place %d", i);
        s = perf_scope_begin(name[i]);
        perf_scope_end(&s);
        perf_count(name[i], i);
    }
}

int main(void)
{
    pthread_t thread;
    double    counted, lost;
    int       i;

    if (sizeof(long) == 4) {
        printf("skipped: where long has 32 bits memory comes from malloc, which no handler may interrupt\n");
        return 77;
    }
    pthread_create(&thread, NULL, first_moment, NULL);
    pthread_join(thread, NULL);
    handles = 1;
    for (i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, first_moment, NULL);
        pthread_join(thread, NULL);
    }
    many_places();
    handles = 0;
    lost = number_of("uncounted");
    counted = row_of("handler", "scope").calls + row_of("handled", "counter").calls + calls_of("new %d", handled[2]);
    CHECK(handled[0] > 20 && counted + lost == handled[0] + handled[1] + handled[2],
          "%d scopes, %d counts, %d new names in handlers; %g counted, %g lost", handled[0], handled[1], handled[2],
          counted, lost);
    CHECK(lost > 0, "none came at a bad moment");
    CHECK(row_of("thread", "scope").calls == 21, "%g", row_of("thread", "scope").calls);
    CHECK(calls_of("place %d", PLACES) == PLACES, "%g places of the thread itself", calls_of("place %d", PLACES));
    CHECK(perf_error() == PERF_ELIMIT, "%s", perf_status_text(perf_error()));
    return check_done();
}
