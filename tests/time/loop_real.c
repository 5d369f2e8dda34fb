/* The loops under what a real system does to them: signals, migration, sleep, a crowded processor;
 * the variant switch and the schedule.  No wall-clock time is asserted, only which clock decides. */
#define _GNU_SOURCE
#include "perf.h"
#include "perf_tally.h"
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t chain(uint64_t x, long n)
{
    for (; n > 0; n--) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        perf_keep(x);
    }
    return x;
}

/* ---- signals and migration ---- */

static volatile sig_atomic_t rang;

static void ring(int number)
{
    (void)number;
    perf_keep(chain(1, 1000));
    rang = rang + 1;
}

static volatile int stop;

static void *migrate(void *thread)
{
    cpu_set_t       all, one;
    int             cpu = 0;
    struct timespec nap = {0, 200000};

    if (pthread_getaffinity_np(*(pthread_t *)thread, sizeof all, &all))
        return NULL;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        do
            cpu = (cpu + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(cpu, &all));
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(*(pthread_t *)thread, sizeof one, &one);
        nanosleep(&nap, NULL);
    }
    pthread_setaffinity_np(*(pthread_t *)thread, sizeof all, &all);
    return NULL;
}

static void disturbed(void)
{
    struct itimerval each = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    pthread_t        self = pthread_self(), mover;
    perf_bench_opts  o = PERF_ZERO;
    perf_ab_opts     p = PERF_ZERO;
    uint64_t         x = 1, runs = 0;
    perf_result      r;
    perf_ab_result   w;
    perf_bench       b;
    perf_ab          ab;
    int              v, k;

    signal(SIGALRM, ring);
    CHECK(!pthread_create(&mover, NULL, migrate, &self), "thread");
    setitimer(ITIMER_REAL, &each, NULL);
    o.samples = 200;
    b = perf_bench_begin("disturbed", &o);
    while (perf_bench_next(&b)) {
        x = chain(x, 2000);
        runs++;
    }
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count >= 3 && r.iterations == runs && r.time.min > 0.0 &&
              isfinite(r.time.max), "%s, %lu", perf_status_text(r.status),
          (unsigned long)r.time.count);
    for (k = 0; k < 20; k++) {
        p.max_seconds = 1.0;
        ab = perf_ab_begin("disturbed too", &p);
        while ((v = perf_ab_next(&ab)) >= 0)
            x = chain(x, v ? 500 : 1000);
        w = perf_ab_end(&ab);
        CHECK(w.status == PERF_OK && w.verdict.decision != PERF_REJECT, "%s",
              perf_verdict_text(&w.verdict));
    }
    setitimer(ITIMER_REAL, &off, NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(mover, NULL);
    CHECK(rang > 0, "no signal came");
    perf_keep(x);
}

/* ---- which clock decides ---- */

/* Another program that has the processor; it ends by itself should this test not end it. */
static pid_t crowd(void)
{
    uint64_t x = 1;
    pid_t    child = fork();

    if (child)
        return child;
    alarm(100);
    for (;;)
        x = chain(x, 10000);
}

/* The share of the time by the wall that was not processor time. */
static double waited(const perf_summary *wall, const perf_summary *cpu)
{
    return 1.0 - cpu->mean / wall->mean;
}

/* Is the answer the one that the samples show?  The warm-up counts too, so below 8 % either may be.
 * 1: others had the processor.                                                                     */
static int says_so(perf_decides d, const char *why, double share, double of)
{
    if (share / of > 0.08)              /* by chance the crowd may meet one variant more than the other */
        CHECK(d == PERF_DECIDES_CPU || strstr(why, "waited differently"),
              "%s, though it waited %.3f", why, share / of);
    return share / of > 0.08;
}

/* The candidate hands its work, a tenth more of it, to a thread of its own and waits by sched_yield. */
static volatile int job;

static void *worker(void *arg)
{
    uint64_t x = 1;

    while (job >= 0) {
        if (job) {
            x = chain(x, 1100000);
            job = 0;
        }
        sched_yield();
    }
    perf_keep(x);
    return arg;
}

static void handed_over(void)
{
    perf_ab_opts   o = PERF_ZERO;
    perf_ab_result r;
    perf_ab        ab;
    pthread_t      hand;
    uint64_t       x = 1;
    int            v, i;

    job = 0;
    CHECK(!pthread_create(&hand, NULL, worker, NULL), "thread");
    for (i = 0; i < 3; i++) {
        ab = perf_ab_begin("handed over", &o);
        while ((v = perf_ab_next(&ab)) >= 0) {
            if (!v) {
                x = chain(x, 1000000);
                continue;
            }
            for (job = 1; job;)
                sched_yield();
        }
        r = perf_ab_end(&ab);
        CHECK(r.verdict.decision != PERF_ACCEPT && r.decides == PERF_DECIDES_WALL, "%s, %s",
              perf_verdict_text(&r.verdict), r.why);
    }
    job = -1;
    pthread_join(hand, NULL);
    perf_keep(x);
}

static void waits(void)
{
    struct timespec nap = {0, 1000000};
    perf_bench_opts o = PERF_ZERO;
    perf_result     r;
    perf_ab_result  w;
    perf_bench      b;
    perf_ab         ab;
    perf_ab_opts    p = PERF_ZERO;
    cpu_set_t       all, one;
    pid_t           others[2];
    uint64_t        x = 1;
    int             i, v, others_seen = 0;

    o.samples = 20;
    o.max_seconds = 20.0;
    b = perf_bench_begin("sleeps", &o);
    while (perf_bench_next(&b))
        nanosleep(&nap, NULL);
    r = perf_bench_end(&b);
    CHECK(r.cpu.count == r.time.count && r.decides == PERF_DECIDES_WALL,
          "a body that sleeps is timed by the wall: %s", perf_result_text(&r));
    CHECK(r.cpu.p50 < r.time.p50, "%g of %g ns", r.cpu.p50, r.time.p50);

    if (pthread_getaffinity_np(pthread_self(), sizeof all, &all))
        return;
    for (i = 0; !CPU_ISSET(i, &all); i++)
        ;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);   /* children inherit it             */
    for (i = 0; i < 2; i++)
        others[i] = crowd();
    for (i = 0; i < 20 && others_seen < 3; i++) {   /* whether they get their turn in so short a time is */
        b = perf_bench_begin("crowded", &o);        /* the system's affair: what is said of it is ours   */
        while (perf_bench_next(&b))
            x = chain(x, 2000000);
        r = perf_bench_end(&b);
        others_seen += says_so(r.decides, r.why, waited(&r.time, &r.cpu), 1.0);
    }
    if (!others_seen)
        printf("note: in %d benches nobody else had the processor\n", i);
    p.max_seconds = 20.0;
    p.min_pairs = 60;
    for (others_seen = i = 0; i < 20 && others_seen < 3; i++) {
        ab = perf_ab_begin("crowded A/B", &p);
        while ((v = perf_ab_next(&ab)) >= 0)
            x = chain(x, v ? 500000 : 1000000);
        w = perf_ab_end(&ab);
        CHECK(w.baseline_cpu.count == w.baseline.count && w.candidate_cpu.count == w.candidate.count,
              "both clocks");
        others_seen += says_so(w.decides, w.why, waited(&w.baseline, &w.baseline_cpu) +
                               waited(&w.candidate, &w.candidate_cpu), 2.0);
        if (w.decides == PERF_DECIDES_CPU)
            CHECK(w.verdict.decision == PERF_ACCEPT, "%s", perf_verdict_text(&w.verdict));
    }
    if (!others_seen)
        printf("note: in %d A/B loops nobody else had the processor\n", i);
    b = perf_bench_begin("paused by both clocks", &o);
    while (perf_bench_next(&b)) {
        x = chain(x, 400000);
        perf_bench_pause(&b);
        x = chain(x, 4000000);
        perf_bench_resume(&b);
    }
    r = perf_bench_end(&b);
    CHECK(r.cpu.count && r.cpu.p50 < 0.5 * (r.first_ns + r.cpu.p50 * 10.0), "%s", perf_result_text(&r));
    handed_over();
    for (i = 0; i < 2; i++) {
        CHECK(others[i] > 0, "fork");
        if (others[i] > 0) {
            kill(others[i], SIGKILL);
            waitpid(others[i], NULL, 0);
        }
    }
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    perf_keep(x);
}

/* ---- the variant switch ---- */

static int asked(const char *setting, const char *name)
{
    setenv("PERF_VARIANT", setting, 1);
    return perf_variant(name, 7);
}

static void variants(void)
{
    perf_ab_result   r;
    perf_race_result k;
    perf_race        race;
    perf_ab          ab;
    int              v, seen[4] = {0, 0, 0, 0}, want;
    uint64_t         x = 1;

    unsetenv("PERF_VARIANT");
    CHECK(perf_variant("sum", 7) == 7 && perf_variant(NULL, 3) == 3, "not asked");
    CHECK(asked("sum=A", "sum") == 0 && asked("sum=b", "sum") == 1 && asked("sum=z", "sum") == 25,
          "letters");
    CHECK(asked("sum=a", "sum") == 0 && asked("sum=B", "sum") == 1, "letters");
    CHECK(asked("sum=0", "sum") == 0 && asked("sum=63", "sum") == 63, "numbers");
    CHECK(asked("x=A,sum=B,y=A", "sum") == 1 && asked("sum=B,", "sum") == 1 &&
              asked(",,sum=1", "sum") == 1, "lists");
    CHECK(asked("a=b=c", "a=b") == 2, "the last equals sign divides");
    CHECK(asked("x=A, sum = B , y=A", "sum") == 1 && asked(" sum=B ", "sum") == 1, "blanks");
    CHECK(asked("copy, 4 KiB=B,sum=C", "copy, 4 KiB") == 1 && asked("copy, 4 KiB=B,sum=C", "sum") == 2,
          "a name with a comma");
    CHECK(asked("summand=A,su=A,=A", "sum") == 7 && asked("", "sum") == 7 && asked("=A", "") == 7,
          "other names");
    CHECK(perf_error() == PERF_OK, "no error yet");
    CHECK(asked("sum=64", "sum") == 7 && perf_error() == PERF_EFORMAT, "too large");
    perf_reset();
    CHECK(asked("sum=baselin", "sum") == 7 && asked("sum=", "sum") == 7 && asked("sum=1x", "sum") == 7 &&
              asked("sum=-1", "sum") == 7 && asked("sum=000000000000000000001", "sum") == 7 &&
              asked("sum=baseline", "sum") == 7 && perf_error() == PERF_EFORMAT, "no variant");
    perf_reset();
    CHECK(asked("x=A,sum", "sum") == 7 && perf_error() == PERF_EFORMAT, "a name without a value");
    perf_reset();
    CHECK(asked("A", "sum") == 7 && perf_error() == PERF_EFORMAT, "a value without a name");
    {
        char text[8192];
        (void)perf_report_text(text, sizeof text, NULL);
        CHECK(strstr(text, "note: PERF_VARIANT names a variant that does not exist"), "%s", text);
    }
    perf_reset();

    for (want = 0; want < 2; want++) {
        setenv("PERF_VARIANT", want ? "other=A,sum=1" : "sum=A", 1);
        seen[0] = seen[1] = 0;
        ab = perf_ab_begin("sum", NULL);
        while ((v = perf_ab_next(&ab)) >= 0) {
            x = chain(x, v ? 100 : 300);
            seen[v]++;
        }
        r = perf_ab_end(&ab);
        CHECK(seen[!want] == 0 && seen[want] > 24 && r.forced == 1, "%d %d", seen[0], seen[1]);
        CHECK(r.verdict.decision == PERF_INCONCLUSIVE && r.status == PERF_OK && r.control_rounds == 0, "%s", perf_verdict_text(&r.verdict));
        CHECK((want ? r.candidate : r.baseline).count >= 24 &&
                  (want ? r.baseline : r.candidate).count == 0, "one of them is measured");
    }
    ab = perf_ab_begin("another", NULL);
    while ((v = perf_ab_next(&ab)) >= 0)
        x = chain(x, v ? 100 : 300);
    CHECK(perf_ab_end(&ab).forced == 0, "others run as ever");
    setenv("PERF_VARIANT", "race=C", 1);
    memset(seen, 0, sizeof seen);
    race = perf_race_begin("race", 4, NULL);
    while ((v = perf_race_next(&race)) >= 0) {
        x = chain(x, 100);
        seen[v]++;
    }
    k = perf_race_end(&race);
    CHECK(seen[2] > 24 && !seen[0] && !seen[1] && !seen[3] && k.forced && k.entry[2].time.count &&
              k.entry[1].verdict.decision == PERF_INCONCLUSIVE && !k.entry[1].within_noise &&
              !k.entry[1].time.count, "race: %d", seen[2]);
    setenv("PERF_VARIANT", "race=Z", 1);
    race = perf_race_begin("race", 2, NULL);
    while (perf_race_next(&race) >= 0)
        x = chain(x, 100);
    CHECK(!perf_race_end(&race).forced, "there is no such variant");
    unsetenv("PERF_VARIANT");
    perf_keep(x);
}

/* ---- the report ---- */

/* A name may be any text, and a line of the report is a line. */
static void odd_names(void)
{
    static char  text[65536];
    perf_ab_opts o = PERF_ZERO;
    perf_ab      ab;
    perf_race    race;
    int          v;
    uint64_t     x = 1;

    o.max_seconds = 0.01;
    ab = perf_ab_begin("odd\nab\033[2J", &o);
    while ((v = perf_ab_next(&ab)) >= 0)
        x = chain(x, 100);
    perf_ab_end(&ab);
    race = perf_race_begin("odd\nrace", 2, &o);
    perf_race_name(&race, 1, "odd\rvariant");
    while ((v = perf_race_next(&race)) >= 0)
        x = chain(x, 100);
    perf_race_end(&race);
    perf_keep(x);
    (void)perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "odd?ab?[2J: ") && strstr(text, "odd?race, odd?variant: "), "%s", text);
    CHECK(!strstr(text, "odd\n") && !strchr(text, '\033') && !strchr(text, '\r'), "%s", text);
}

/* ---- the schedule ---- */

static void schedule(void)
{
    static const int     try_[][5] = {{0, 0, 0, 0, 0}, {2, 1, 1, 3, 2}, {0, -1, -1, 2, 0}, {0, 0, -1, 1, 3},
                                     {-4, -1, 5, -1, -1}, {7, 2, 0, 4, 1}};
    perf_schedule_opts   o;
    perf_schedule        s, none = PERF_ZERO;
    static perf_tally    tally;
    char                 name[32];
    size_t               k;
    int                  i, active, was;

    for (k = 0; k < sizeof try_ / sizeof *try_; k++) {
        const int *t = try_[k];
        int        wait = t[1] < 0 ? 0 : t[1] ? t[1] : 1, warm = t[2] < 0 ? 0 : t[2] ? t[2] : 1;
        int        on = t[3] > 0 ? t[3] : 3, wrong = 0;
        o.skip = t[0];
        o.wait = t[1];
        o.warmup = t[2];
        o.active = t[3];
        o.repeat = t[4];
        snprintf(name, sizeof name, "step of schedule %d", (int)k);
        active = 0;
        s = perf_schedule_begin(&o);
        for (i = 0; i < 60; i++) {
            int        at = i - (t[0] > 0 ? t[0] : 0), cycle = at / (wait + warm + on);
            perf_phase want = at < 0 ? PERF_PHASE_WAIT : PERF_PHASE_ACTIVE;
            perf_scope scope;
            if (at >= 0 && t[4] > 0 && cycle >= t[4])
                want = PERF_PHASE_DONE;
            else if (at >= 0 && at % (wait + warm + on) < wait)
                want = PERF_PHASE_WAIT;
            else if (at >= 0 && at % (wait + warm + on) < wait + warm)
                want = PERF_PHASE_WARMUP;
            wrong += perf_schedule_step(&s) != want || s.phase != want;
            active += want == PERF_PHASE_ACTIVE;
            scope = perf_scope_begin(name);
            perf_scope_end(&scope);
        }
        CHECK(wrong == 0, "schedule %d: %d steps in a wrong phase", (int)k, wrong);
        CHECK(s.step == 60 && s.recorded == (uint64_t)active, "%lu active steps, not %d",
              (unsigned long)s.recorded, active);
        CHECK(perf_schedule_end(&s) == PERF_OK && perf_schedule_end(&s) == PERF_ESTATE &&
                  perf_schedule_step(&s) == PERF_PHASE_DONE, "end");
        CHECK(perf_tally_of(name, 0, &tally) == PERF_OK && tally.calls == (uint64_t)active,
              "recorded in %lu of %d active steps", (unsigned long)tally.calls, active);
    }
    for (was = 0; was < 2; was++) {
        perf_scope scope;
        perf_enable(was);
        s = perf_schedule_begin(NULL);
        CHECK(perf_schedule_end(&s) == PERF_ENODATA, "no step was active");
        snprintf(name, sizeof name, "afterwards %d", was);
        scope = perf_scope_begin(name);
        perf_scope_end(&scope);
        CHECK(perf_tally_of(name, 0, &tally) == (was ? PERF_OK : PERF_ENODATA),
              "recording is as it was before: %d", was);
    }
    CHECK(perf_schedule_step(NULL) == PERF_PHASE_DONE && perf_schedule_end(NULL) == PERF_ESTATE &&
              perf_schedule_step(&none) == PERF_PHASE_DONE && perf_schedule_end(&none) == PERF_ESTATE,
          "NULL, all zero");
}

int main(void)
{
    disturbed();
    waits();
    variants();
    odd_names();
    schedule();
    return check_done();
}
