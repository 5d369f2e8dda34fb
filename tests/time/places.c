/* places.c - five thousand places of a thread with durations of every size: the pages that they take stay few, as
 * durations far from the others have no counters, and no count is lost or comes to the wrong one when those that are
 * frequent get some, also for a thread that reads meanwhile.  Billions of durations are as many as a histogram of
 * 64-bit counters has, with a signal handler that records as well.  The clock is the test's own. */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now(void);
#define PERF_CLOCK_FN now
#include "rows.h"
#include "inside.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>

#define PLACES 5000
#define CALLS  200                              /* of each place                                  */
#define GROUP  8                                /* places that are widened in turns               */

static __thread uint64_t ticks = 1000000;
static uint64_t          seed = 33;
static uint32_t          id[PLACES];             /* of the names                                   */
static int               current;               /* the first place of those that are written      */
static char              name[2 * PLACES][16];   /* the second half: of test_pages                 */

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

/* All durations of a place are there, and its percentiles are those of its histogram. */
static void same_durations(int place, const perf_hist *truth)
{
    uint64_t calls, buckets;
    row      r = row_of(name[place], "scope");
    double   p50 = perf_hist_quantile(truth, 0.5), p99 = perf_hist_quantile(truth, 0.99);

    calls = core_name_calls(core_scope_id(name[place]), &buckets);
    CHECK(calls == perf_hist_count(truth) && buckets == calls, "%s: %lu calls, %lu in buckets, not %lu", name[place],
          (unsigned long)calls, (unsigned long)buckets, (unsigned long)perf_hist_count(truth));
    CHECK(r.min == perf_hist_quantile(truth, 0.0) && r.max == perf_hist_quantile(truth, 1.0), "%s: %g to %g",
          name[place], r.min, r.max);
    CHECK(r.p50 <= p50 * 1.02 && r.p50 >= p50 * 0.98 && r.p99 <= p99 * 1.02 && r.p99 >= p99 * 0.98,
          "%s: p50 %g, not %g; p99 %g, not %g", name[place], r.p50, p50, r.p99, p99);
}

/* A million calls in random order; then each place has a duration far from all others, a long one or a short one,
 * and a few of them often. */
static void *test_pages(void *none)
{
    static perf_hist truth[5];
    const int        step = PLACES / 5;
    const double     most = 8;
    double           before, all;
    uint64_t         d;
    int              i, k, turn;

    (void)none;
    for (turn = 0; turn < PLACES * CALLS; turn++) {
        i = turn < PLACES ? turn : (int)(draw() % PLACES);
        d = duration();
        call(PLACES + i, d);
        if (i % step == 0)
            perf_hist_add(&truth[i / step], d);
    }
    all = resident_megabytes();
    CHECK(all < most, "%.1f MB for %d places of %d calls, not %.1f", all, PLACES, CALLS, most);
    before = all;
    for (turn = 0; turn < 3; turn++)
        for (i = 0; i < PLACES; i++) {
            d = (i + turn) % 2 ? UINT64_C(3) << (16 + i % 20) : 1;
            call(PLACES + i, d);
            if (i % step == 0)
                perf_hist_add(&truth[i / step], d);
        }
    all = resident_megabytes();
    CHECK(all < before + 1, "%.1f MB more for a duration far from the others", all - before);
    printf("%.1f MB, with far durations %.1f\n", before, all);
    for (i = 0; i < PLACES; i += step)
        for (k = 0; k < 5; k++)
            for (turn = 0; turn < 20 << k; turn++) {
                d = UINT64_C(5) << 3 * k;
                call(PLACES + i, d);
                perf_hist_add(&truth[i / step], d);
            }
    for (i = 0; i < PLACES; i += step)
        same_durations(PLACES + i, &truth[i / step]);
    perf_reset();
    for (i = 0; i < PLACES; i += step) {
        memset(&truth[i / step], 0, sizeof truth[0]);
        for (turn = 0; turn < 100; turn++) {
            d = turn % 10 ? duration() : UINT64_C(1) << turn / 4;
            call(PLACES + i, d);
            perf_hist_add(&truth[i / step], d);
        }
        same_durations(PLACES + i, &truth[i / step]);
    }
    perf_reset();
    return NULL;
}

/* Widens the counters of a few places in turns.  Every second place is called 50 times as often. */
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

#define FULL   8                                /* places with billions of calls                   */
#define LEAPS  3000
#define LEAP   (UINT64_C(1) << 30)

static uint64_t planted, handled;

static void handler(int sig)
{
    uint64_t was = ticks;

    (void)sig;
    {
        PERF_SCOPE("handler");
        ticks += 24;
    }
    ticks = was;
    handled++;
}

/* What a reader sees of such a place never falls, and is at no time half a counter's range off. */
static void *read_them(void *none)
{
    uint64_t last[FULL] = {0}, before, after, buckets, other, wrong = 0, reads = 0;
    int      i = 0;

    (void)none;
    while (__atomic_load_n(&current, __ATOMIC_ACQUIRE) >= 0) {
        i = (i + 1) % FULL;
        before = core_name_calls(id[i], &buckets);
        after = core_name_calls(id[i], &other);
        wrong += buckets + 10 < last[i] || buckets + LEAP + 10 < before || buckets > after + LEAP + 10;
        last[i] = buckets;
        reads++;
    }
    CHECK(!wrong, "%lu of %lu readings of full counters", (unsigned long)wrong, (unsigned long)reads);
    return NULL;
}

/* Durations by the billion into a few places; as many into histograms. */
static void leap(perf_hist *truth, int leaps)
{
    uint64_t d;
    uint32_t times;
    int      i;

    for (; leaps; leaps--) {
        i = (int)(draw() % FULL);
        d = duration();
        times = (uint32_t)(draw() % LEAP);
        call(i, d);
        core_calls_more(id[i], d, times);
        call(i, d);                             /* comes to the counters' turn                    */
        perf_hist_add_n(&truth[i], d, UINT64_C(2) + times);
        planted += UINT64_C(2) + times;
    }
}

static void compare(const perf_hist *truth)
{
    static const double q[] = {0.5, 0.95, 0.99};
    uint64_t            calls, buckets;
    double              seen[3], is[3];
    int                 i, k;

    for (i = 0; i < FULL; i++) {
        row r = row_of(name[i], "scope");
        calls = core_name_calls(id[i], &buckets);
        CHECK(calls == perf_hist_count(&truth[i]) && calls == buckets, "%s: %lu calls, %lu in buckets, seed %lu",
              name[i], (unsigned long)calls, (unsigned long)buckets, (unsigned long)seed);
        for (k = 0; k < 3; k++)
            is[k] = perf_hist_quantile(&truth[i], q[k]);
        seen[0] = r.p50;
        seen[1] = r.p95;
        seen[2] = r.p99;
        for (k = 0; k < 3; k++)
            CHECK(seen[k] <= is[k] * 1.02 && seen[k] >= is[k] * 0.98, "%s: quantile %g is %g, not %g", name[i],
                  q[k], seen[k], is[k]);
    }
}

static void test_full(void)
{
    static perf_hist truth[FULL];
    struct itimerval often, never;
    pthread_t        reader;
    sigset_t         alarm_only;
    uint64_t         calls, buckets;
    int              i;

    memset(&often, 0, sizeof often);
    memset(&never, 0, sizeof never);
    often.it_value.tv_usec = often.it_interval.tv_usec = 50;
    for (i = 0; i < FULL; i++) {
        call(i, 24);
        id[i] = core_scope_id(name[i]);
    }
    handler(0);
    perf_reset();
    handled = 0;
    current = 0;
    (void)sigemptyset(&alarm_only);
    (void)sigaddset(&alarm_only, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);        /* the reader's                   */
    CHECK(!pthread_create(&reader, NULL, read_them, NULL), "no thread");
    (void)pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    (void)signal(SIGALRM, handler);
#ifdef CORE_ADDS_AT_ONCE
    (void)setitimer(ITIMER_REAL, &often, NULL);
#endif
    leap(truth, LEAPS);
    (void)setitimer(ITIMER_REAL, &never, NULL);
    (void)signal(SIGALRM, SIG_IGN);
    __atomic_store_n(&current, -1, __ATOMIC_RELEASE);
    (void)pthread_join(reader, NULL);
    compare(truth);
    calls = core_calls("handler", &buckets);
    CHECK(calls == buckets && (calls == handled || calls + core_uncounted() == handled),
          "handler: %lu calls, %lu in buckets, %lu", (unsigned long)calls, (unsigned long)buckets,
          (unsigned long)handled);
    printf("%.1e durations, %lu of a handler\n", (double)planted, (unsigned long)handled);
    perf_reset();                               /* counters that have been full begin again       */
    memset(truth, 0, sizeof truth);
    leap(truth, LEAPS / 10);
    compare(truth);
    perf_reset();
}

int main(void)
{
    pthread_t other;                            /* its places are none of those in the other tests */
    int       i;

    (void)prctl(41, 1, 0, 0, 0);                /* PR_SET_THP_DISABLE: pages are of one size      */
    for (i = 0; i < PLACES; i++) {
        sprintf(name[i], "place %d", i);
        sprintf(name[PLACES + i], "page %d", i);
    }
    CHECK(!pthread_create(&other, NULL, test_pages, NULL), "no thread");
    (void)pthread_join(other, NULL);
    test_full();
    test_reader();
    return check_done();
}
