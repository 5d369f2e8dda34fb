/* places.c - five thousand places of a thread with durations of every size: the pages that they take stay few, as
 * blocks of counters that one has outgrown serve another, and no count comes to the wrong one, also for a thread
 * that reads meanwhile.  The clock is the test's own. */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now(void);
#define PERF_CLOCK_FN now
#include "rows.h"
#include "inside.h"
#include <pthread.h>
#include <sys/prctl.h>

#define PLACES 5000
#define CALLS  200                              /* of each place                                  */
#define GROUP  8                                /* places that are widened in turns               */

static __thread uint64_t ticks = 1000000;
static uint64_t          seed = 33, longest[PLACES];
static uint32_t          id[PLACES];             /* of the names                                   */
static int               current;               /* the first place of those that are written      */
static char              name[PLACES][16];

static uint64_t now(void)
{
    return ticks;
}

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return seed >> 33;
}

/* As scopes around nothing last where thousands of places take turns: most 24 to 98; one in 100 twice as long, one
 * in 400 up to 16 times, one in 10,000 far longer. */
static uint64_t duration(void)
{
    const uint64_t turn = draw() % 10000, d = 24 + draw() % 75;

    if (turn == 0)
        return d << 9;
    if (turn < 25)
        return d << (1 + turn % 4);
    return turn < 125 ? 2 * d : d;
}

static void call(int place, uint64_t d)
{
    perf_scope s = perf_scope_begin(name[place]);

    ticks += d;
    perf_scope_end(&s);
}

static double resident_megabytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long  all = 0, here = 0;

    CHECK(f && fscanf(f, "%ld %ld", &all, &here) == 2, "statm");
    if (f)
        fclose(f);
    return (double)here * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void test_pages(void)
{
    const double most = 11;
    double       before, grown;
    uint64_t     calls, buckets, wrong = 0, d;
    int          i, turn;

    for (i = 0; i < PLACES; i++)
        call(i, longest[i] = 50);
    before = resident_megabytes();
    for (turn = 1; turn < CALLS; turn++)
        for (i = 0; i < PLACES; i++) {
            d = duration();
            longest[i] = d > longest[i] ? d : longest[i];
            call(i, d);
        }
    grown = resident_megabytes() - before;
    CHECK(grown < most, "%.1f MB more for %d places of %d calls, not %.1f", grown, PLACES, CALLS, most);
    for (i = 0; i < PLACES; i++) {
        calls = core_name_calls(id[i], &buckets);
        wrong += calls != CALLS || buckets != CALLS;
    }
    CHECK(!wrong, "%lu places with wrong counts", (unsigned long)wrong);
    for (i = 0; i < PLACES; i += 1000)
        CHECK(row_of(name[i], "scope").max == (double)longest[i], "%s: %g, not %lu", name[i],
              row_of(name[i], "scope").max, (unsigned long)longest[i]);
}

/* Widens the counters of a few places in turns, so that each takes what another has outgrown.  Every second place
 * is called 50 times as often. */
static void *write_them(void *none)
{
    int group, i, k, octave;

    (void)none;
    for (group = 0; group < PLACES; group += GROUP) {
        __atomic_store_n(&current, group, __ATOMIC_RELEASE);
        for (octave = 5; octave < 19; octave++)
            for (i = group; i < group + GROUP; i++)
                for (k = 0; k < (i % 2 ? 50 : 1); k++)
                    call(i, UINT64_C(1) << octave);
    }
    __atomic_store_n(&current, -1, __ATOMIC_RELEASE);
    return NULL;
}

/* What a reader sees of a place is as many durations as calls, but for some that are under way. */
static void test_reader(void)
{
    const uint64_t  under_way = 10;
    uint64_t        before, after, buckets, other, wrong = 0, reads = 0;
    pthread_t       writer;
    int             i;

    for (i = 0; i < PLACES; i++) {
        call(i, 24);
        id[i] = core_scope_id(name[i]);
    }
    perf_reset();
    CHECK(!pthread_create(&writer, NULL, write_them, NULL), "no thread");
    while ((i = __atomic_load_n(&current, __ATOMIC_ACQUIRE)) >= 0) {
        i += (int)(draw() % GROUP);
        before = core_name_calls(id[i], &buckets);
        after = core_name_calls(id[i], &other);
        wrong += buckets + under_way < before || buckets > after + under_way;
        reads++;
    }
    (void)pthread_join(writer, NULL);
    CHECK(!wrong, "%lu of %lu readings have durations of other places", (unsigned long)wrong, (unsigned long)reads);
    perf_reset();
}

int main(void)
{
    int i;

    (void)prctl(41, 1, 0, 0, 0);                /* PR_SET_THP_DISABLE: pages are of one size      */
    for (i = 0; i < PLACES; i++)
        sprintf(name[i], "place %d", i);
    test_reader();
    test_pages();
    return check_done();
}
