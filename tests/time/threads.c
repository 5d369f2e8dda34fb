/* Threads: nothing is lost when they end, thousands come and go, and reports, resets and traces may
 * be taken while all of them record.                                                              */
#define PERF_TRACE_EVENTS 1024
#include "rows.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#if defined(__linux__) && defined(__has_include) && PERF_SYS_GETTID_
#if __has_include(<linux/seccomp.h>)
#define SANDBOX
#include "child.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)       /* some 50 times slower */
#define MANY   500
#define ROUNDS 4
#else
#define MANY   10000
#define ROUNDS 15
#endif

static int stop;

static double fabs_(double x)
{
    return x < 0 ? -x : x;
}

static void *brief(void *arg)
{
    {
        PERF_SCOPE("brief");
        perf_clobber();
    }
    perf_thread_name((const char *)arg);
    return arg;
}

/* Waits until the system has forgotten all threads but this one, a moment after they were joined: the next
 * one takes over the recorder that comes first.                                                   */
static void others_gone(void)
{
#if PERF_SYS_GETTID_
    perf_recorder_ *t;

    for (t = perf_registry_get_()->recorders; t; t = t->next)
        while (t != perf_self_v1_ && !t->gone && !perf_thread_ended_(perf_process_id_(), t->thread))
            (void)sched_yield();
#endif
    perf_registry_get_()->scan_at = 0;
}

static void *busy(void *arg)
{
    uint64_t *n = (uint64_t *)arg;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        PERF_SCOPE("busy");
        {
            PERF_SCOPE("inner");
            PERF_COUNT("turns", (double)*n);
        }
        ++*n;
    }
    return NULL;
}

static void *resetter(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        perf_reset();
        perf_trace_enable(0);
        perf_trace_enable(1);
        perf_enable(1);
    }
    return NULL;
}

/* Leaves losses behind, and a scope open. */
static void *careless(void *arg)
{
    perf_scope s = PERF_ZERO;

    perf_scope_end(&s);
    {
        PERF_SCOPE("around");
        (void)perf_scope_begin("forgotten");
    }
    return arg;
}

enum { TOGETHER = 8 };
static perf_recorder_ *own[TOGETHER];
static int             here;

static void *alive(void *arg)
{
    PERF_SET_(&perf_registry_get_()->scan_at, UINT64_C(0));     /* who has ended?  Not only of 64 */
    {
        PERF_SCOPE("alive");
        perf_clobber();
    }
    *(perf_recorder_ **)arg = perf_recorder_get_();
    __atomic_add_fetch(&here, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&here, __ATOMIC_ACQUIRE) < TOGETHER)
        (void)sched_yield();
    return NULL;
}

/* Recorders of threads that have ended are taken over, by one thread each. */
static void taken_over(void)
{
    pthread_t       t[TOGETHER];
    perf_recorder_ *r;
    int             round, i, k, same = 0, before = 0, after = 0;

    for (r = perf_registry_get_()->recorders; r; r = r->next)
        before++;
    for (round = 0; round < 20; round++) {
        here = 0;
        for (i = 0; i < TOGETHER; i++)
            pthread_create(&t[i], NULL, alive, &own[i]);
        for (i = 0; i < TOGETHER; i++)
            pthread_join(t[i], NULL);
        for (i = 0; i < TOGETHER; i++)
            for (k = 0; k < i; k++)
                same += own[i] == own[k];
    }
    for (r = perf_registry_get_()->recorders; r; r = r->next)
        after++;
    CHECK(same == 0, "%d times two threads had one recorder", same);
    /* a thread that was joined may be seen for a moment; were none taken over, it would be 160 more */
    CHECK(PERF_TSAN_ || before < 64 || after <= before + 4 * TOGETHER, "%d recorders, then %d", before, after);
    CHECK(row_of("alive", "scope").calls == 20.0 * TOGETHER, "%g calls", row_of("alive", "scope").calls);
}

#ifdef SANDBOX
/* In a process of its own, which cannot take it back: a sandbox refuses to say whether a thread runs. */
static void refuse_to_tell(void)
{
    struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),          /* the number of the call */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PERF_SYS_TGKILL_, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog rules = {sizeof rule / sizeof *rule, rule};

    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules))
        taken_over();
}
#endif

static perf_scope crossing;

static void *ender(void *arg)
{
    perf_scope_end(&crossing);
    return arg;
}

static void *around_two(void *arg)
{
    pthread_t t;

    {
        PERF_SCOPE("around two");
        crossing = perf_scope_begin("another that crosses");
        (void)perf_scope_begin("nobody ends it");
        pthread_create(&t, NULL, ender, NULL);
        pthread_join(t, NULL);
    }
    {
        PERF_SCOPE("around one");               /* what was known of the two is used up           */
        (void)perf_scope_begin("nobody ends this either");
    }
    return arg;
}

/* A thread that takes over a recorder has nothing of the one before: no name, no scope that was lent, none that
 * is missing.                                                                                     */
static perf_recorder_ *owner[2];
static uint64_t        track[2];

static void *lender(void *arg)
{
    pthread_t t;

    perf_thread_name("the first owner");
    {
        PERF_SCOPE("around");
        owner[0] = perf_recorder_get_();
        track[0] = owner[0]->number;
    }
    crossing = perf_scope_begin("lent and left");
    pthread_create(&t, NULL, ender, NULL);
    pthread_join(t, NULL);
    return arg;
}

static void *nameless(void *arg)
{
    owner[1] = perf_recorder_get_();
    track[1] = owner[1]->number;
    {
        PERF_SCOPE("around");
        (void)perf_scope_begin("forgotten");
    }
    return arg;
}

static void *forgotten(void *arg)
{
    int i;

    for (i = 0; i < 2000; i++) {
        PERF_SCOPE("before the reset");
    }
    return arg;
}

static void *resets_itself(void *arg)
{
    int i;

    forgotten(arg);
    perf_reset();
    for (i = 0; i < 100; i++)
        PERF_COUNT("level", i);
    return arg;
}

static void inherits_nothing(void)
{
    pthread_t t;
    double    never;
    char     *text;

    perf_reset();
    never = number_of("never_ended");
    others_gone();
    pthread_create(&t, NULL, lender, NULL);
    pthread_join(t, NULL);
    others_gone();
    pthread_create(&t, NULL, nameless, NULL);
    pthread_join(t, NULL);
    CHECK((PERF_TSAN_ || owner[0] == owner[1]) && track[0] != track[1], "taken over, on a track of its own");
    CHECK(number_of("never_ended") == never + 1, "%g, not %g", number_of("never_ended"), never + 1);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(count_of(text, "the first owner") == 1, "the name is that of one: %.300s", text);
    free(text);
    others_gone();
    pthread_create(&t, NULL, forgotten, NULL);
    pthread_join(t, NULL);
    perf_reset();                                   /* which it does not live to see              */
    others_gone();
    pthread_create(&t, NULL, brief, NULL);
    pthread_join(t, NULL);
    CHECK(number_of("overwritten_events") == 0, "%g", number_of("overwritten_events"));
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(!strstr(text, "before the reset") && strstr(text, "brief"), "%.300s", text);
    free(text);
    others_gone();
    pthread_create(&t, NULL, resets_itself, NULL);
    pthread_join(t, NULL);
    others_gone();
    pthread_create(&t, NULL, forgotten, NULL);      /* which has the ring, from its begin          */
    pthread_join(t, NULL);
    CHECK(number_of("overwritten_events") == 2000 - PERF_TRACE_EVENTS, "%g", number_of("overwritten_events"));
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(count_of(text, "\"before the reset\"") == PERF_TRACE_EVENTS && count_of(text, "\"level\"") == 100, "%d, %d",
          count_of(text, "\"before the reset\""), count_of(text, "\"level\""));
    free(text);
    perf_reset();
}

/* Ten thousand threads, a hundred at a time: all counted, all in the trace or its losses. */
static void many(void)
{
    pthread_t t[100];
    int       i, k;
    char     *text;

    for (k = 0; k < MANY / 100; k++) {
        for (i = 0; i < 100; i++)
            if (pthread_create(&t[i], NULL, brief, (void *)"brief \"one\""))
                exit(77);
        for (i = 0; i < 100; i++)
            pthread_join(t[i], NULL);
    }
    CHECK(row_of("brief", "scope").calls == MANY, "%.0f", row_of("brief", "scope").calls);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text), "JSON of many threads");
    CHECK(count_of(text, "\"name\":\"brief\",") == MANY, "%d in the trace", count_of(text, "\"name\":\"brief\","));
    CHECK(count_of(text, "brief \\\"one\\\"") == MANY, "names");
    free(text);
}

/* No room for the trace of another ended thread: what it had is counted as overwritten. */
static void no_room(void)
{
    perf_registry_ *r = perf_registry_get_();
    pthread_t       t;
    double          calls, before, lost;
    uint64_t        used;
    char           *text;
    int             i;

    if (PERF_TSAN_)                                 /* no recorder is taken over there */
        return;
    perf_reset();
    others_gone();
    pthread_create(&t, NULL, brief, NULL);
    pthread_join(t, NULL);
    used = r->retired_bytes;
    r->retired_bytes = PERF_RETIRED_MAX_;
    before = number_of("overwritten_events");
    for (i = 0; i < 3; i++) {
        others_gone();
        pthread_create(&t, NULL, brief, NULL);
        pthread_join(t, NULL);
    }
    calls = row_of("brief", "scope").calls;
    CHECK(calls == 4, "%.0f", calls);
    r->retired_bytes = used;
    lost = number_of("overwritten_events") - before;
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(lost == 3 && lost + count_of(text, "\"name\":\"brief\"") == calls, "%g lost of %g: %.300s", lost, calls,
          text);
    free(text);
    perf_reset();
}

/* 10 times the ring: it holds its size, the newest, and the drops are counted exactly. */
static void overflow(void)
{
    char *text;
    int   i;

    perf_reset();
    for (i = 0; i < 10240; i++) {
        PERF_SCOPE("fill");
        if (i == 10239)
            PERF_INSTANT("newest");
    }
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(count_of(text, "\"name\":\"fill\"") == 1023, "%d", count_of(text, "\"name\":\"fill\""));
    CHECK(count_of(text, "\"name\":\"newest\"") == 1, "%d", count_of(text, "\"name\":\"newest\""));
    CHECK(number_of("overwritten_events") == 9217, "%.100s", text);
    free(text);
}

/* The same with counters (two entries of the ring each) and spans (three) among them, in two threads
 * of which one has ended: events, not entries, are what is in the file and what is not.           */
static void *mixed(void *arg)
{
    int i, n = *(const int *)arg;

    for (i = 0; i < n; i++) {
        PERF_COUNT("level", i);
        if (i % 3 == 0) {
            perf_async a = perf_async_begin("span", 0);
            perf_async_end(&a);
        }
        if (i % 5 == 0)
            PERF_INSTANT("moment");
    }
    return NULL;
}

static void overflow_mixed(void)
{
    pthread_t t;
    char     *text;
    int       n, k, dropped, kept;

    for (k = 0; k < 5; k++) {
        perf_reset();
        n = 5000 + k;
        others_gone();
        pthread_create(&t, NULL, mixed, &n);
        pthread_join(t, NULL);
        if (k % 2) {                                /* its ring is put away: another thread has its recorder */
            others_gone();
            pthread_create(&t, NULL, brief, NULL);
            pthread_join(t, NULL);
        }
        mixed(&n);
        CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
        text = file_text(scratch_file());
        dropped = (int)number_of("overwritten_events");
        kept = count_of(text, "\"ph\":\"C\"") + count_of(text, "\"ph\":\"b\"") + count_of(text, "\"ph\":\"i\"");
        CHECK(kept > 800 && kept + dropped == 2 * (n + (n + 2) / 3 + (n + 4) / 5), "%d kept, %d dropped of %d", kept,
              dropped, 2 * (n + (n + 2) / 3 + (n + 4) / 5));
        free(text);
    }
}

static void together(void)
{
    pthread_t t[4], r;
    uint64_t  n[4] = {0, 0, 0, 0};
    int       i, k;
    char     *text;
    double    sum = 0;

    perf_reset();
    for (i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, busy, &n[i]);
    pthread_create(&r, NULL, resetter, NULL);
    for (k = 0; k < ROUNDS; k++) {
        text = report_text(PERF_VIEW_JSON, PERF_SORT_MEAN);
        CHECK(json_valid(text), "%.300s", text);
        free(text);
        free(report_text(PERF_VIEW_TREE, PERF_SORT_SELF));
        CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
        text = file_text(scratch_file());
        CHECK(json_valid(text), "trace while recording");
        free(text);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    pthread_join(r, NULL);
    stop = 0;
    perf_reset();
    for (i = 0; i < 4; i++) {
        n[i] = 0;
        pthread_create(&t[i], NULL, busy, &n[i]);
    }
    while (row_of("busy", "scope").calls < 1000 * ROUNDS) {
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        sum += (double)n[i];
    }
    CHECK(row_of("busy", "scope").calls == sum, "%.0f of %.0f", row_of("busy", "scope").calls, sum);
    CHECK(row_of("inner", "scope").calls == sum, "%.0f of %.0f", row_of("inner", "scope").calls, sum);
}

/* 0 where the system does not tell. */
static long mapped_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long  pages = 0;

    if (f && fscanf(f, "%ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

static void *thousand(void *arg)
{
    int i;

    for (i = 0; i < 1000; i++) {
        PERF_SCOPE("thousand");
    }
    return arg;
}

/* A server with a thread a request that is reset every interval: what the reset forgets is used again. */
static void intervals(void)
{
    const unsigned hundred = 100;
    long           before = 0;
    unsigned       i;
    pthread_t      t;

    for (i = 0; i < 20 * hundred; i++) {
        pthread_create(&t, NULL, thousand, NULL);
        pthread_join(t, NULL);
        if (i % hundred == 0)
            perf_reset();
        if (i == 4 * hundred)
            before = mapped_kib();
    }
    if (MANY == 10000)                              /* sanitizers map for themselves */
        CHECK(mapped_kib() - before < 8192, "%ld KiB more", mapped_kib() - before);
    perf_reset();
}

/* A reset that somebody asked for is served after the end of a phase has been read: no clock went backwards. */
static void reset_in_lap(void)
{
    perf_recorder_ *t = perf_recorder_get_();
    perf_lap        lap = perf_lap_begin();

    PERF_LAP(&lap, "phase");
    perf_word_set_(&t->request, PERF_ASK_RESET_);
    PERF_SET_(&t->quick, NULL);
    PERF_LAP(&lap, "phase");
    CHECK(row_of("phase", "scope").calls == 1, "%g", row_of("phase", "scope").calls);
    CHECK(!(perf_clock().warnings & PERF_CLOCK_BACKWARDS), "%x", perf_clock().warnings);
}

static void *ends_inside(void *arg)
{
    (void)perf_scope_begin("left");
    return arg;
}

/* Threads that end inside a scope, more than there are recorders for: each scope is told of. */
static void left_open(void)
{
    double    before;
    pthread_t t;
    int       i;

    perf_reset();
    before = number_of("open") + number_of("never_ended");
    for (i = 0; i < 300; i++) {
        pthread_create(&t, NULL, ends_inside, NULL);
        pthread_join(t, NULL);
    }
    CHECK(number_of("open") + number_of("never_ended") == before + 300, "%g open, %g never ended", number_of("open"),
          number_of("never_ended"));
}

/* A trace that is read while threads come and go has each event once. */
static int seen;

static void *once(void *arg)
{
    errno = 77;
    {
        PERF_SCOPE("once");
    }
    return errno == 77 ? arg : &seen;
}

static void see(void *with, const perf_events_ *e)
{
    perf_registry_ *r = (perf_registry_ *)with;
    perf_zone_      z;
    pthread_t       t;
    uint64_t        i = 0;

    while (i < e->count)
        seen += perf_zone_at_(e, &i, r, &z) && !strcmp(r->names[z.name]->site.name, "once");
    for (i = 0; i < 3; i++) {                   /* each would take over what was just read        */
        pthread_create(&t, NULL, brief, NULL);
        pthread_join(t, NULL);
    }
}

static void each_once(void)
{
    pthread_t t;
    void     *changed;
    int       i, n = 0;

    perf_reset();
    for (i = 0; i < 150; i++) {
        pthread_create(&t, NULL, once, NULL);
        pthread_join(t, &changed);
        n += changed != NULL;
    }
    CHECK(n == 0, "the first scopes of %d threads have changed errno", n);
    CHECK(perf_events_each_(perf_registry_get_(), see, perf_registry_get_()) && seen == 150, "%d events of 150", seen);
}

static void recurse(int depth)
{
    PERF_SCOPE("recurse");
    if (depth)
        recurse(depth - 1);
    {
        PERF_SCOPE("leaf");
    }
}

/* By the counter: calls of what is open already end on a way of their own. */
static void recursion(void)
{
    row    a, b;
    double open;
    int    i;

    perf_reset();
    open = number_of("open");                   /* in threads that have ended */
    for (i = 0; i < 500; i++)
        recurse(7);
    a = row_of("recurse", "scope");
    b = row_of("leaf", "scope");
    CHECK(a.calls == 4000 && b.calls == 4000, "%g and %g calls", a.calls, b.calls);
    CHECK(a.self > 0 && a.total < a.max * 500 + 1, "%g ns, %g of its own, %g inside", a.total, a.self, b.total);
    CHECK(fabs_(a.total - a.self - b.total) <= 1e-6 * a.total, "what is not in the leaf is its own: %g, %g, %g", a.total, a.self, b.total);
    CHECK(number_of("open") == open && number_of("never_ended") == 0 && number_of("ended_late") == 0, "nothing is left open");
}

static void *untold(void *arg)
{
    { PERF_SCOPE("untold"); }
    (void)perf_scope_begin("left");
    return arg;
}

/* Threads that come and go while the trace is off leave nothing behind in it; then it is on again. */
static void untraced(void)
{
    pthread_t t;
    char     *text;
    double    before;
    int       i;

    before = number_of("open") + number_of("never_ended");      /* no reset: it forgets those that it finds */
    perf_trace_enable(0);
    for (i = 0; i < 10; i++) {
        perf_registry_read_()->scan_at = i % 2 ? 0 : 1000000;
        pthread_create(&t, NULL, untold, NULL);
        pthread_join(t, NULL);
    }
    perf_trace_enable(1);
    perf_registry_read_()->scan_at = 0;
    pthread_create(&t, NULL, untold, NULL);
    pthread_join(t, NULL);
    { PERF_SCOPE("traced"); }
    CHECK(number_of("never_ended") + number_of("open") == before + 11, "%g, not %g", number_of("never_ended") + number_of("open"),
          before + 11);
    CHECK(number_of("overwritten_events") == 0, "%g", number_of("overwritten_events"));
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(count_of(text, "\"name\":\"traced\"") == 1 && count_of(text, "\"name\":\"untold\"") == 1, "%s", text);
    free(text);
}

int main(void)
{
    pthread_t t;

    many();
    no_room();
    overflow();
    overflow_mixed();
    together();
    intervals();
    taken_over();
#ifdef SANDBOX
    CHECK(child_of(refuse_to_tell) == 0, "threads that run are not taken for ended ones");
#endif
    inherits_nothing();
    pthread_create(&t, NULL, careless, NULL);
    pthread_join(t, NULL);
    CHECK(number_of("never_ended") == 1 && number_of("misused") == 1, "of an ended thread");
    perf_reset();
    CHECK(number_of("never_ended") == 0 && number_of("misused") == 0, "a reset forgets those");
    crossing = perf_scope_begin("crossing");
    pthread_create(&t, NULL, ender, NULL);
    pthread_join(t, NULL);
    CHECK(row_of("crossing", "scope").calls == 1, "a scope ended by another thread");
    CHECK(number_of("ended_elsewhere") == 1 && number_of("open") == 0, "ended, and by whom");
    {
        PERF_SCOPE("around it");
        crossing = perf_scope_begin("crossing");
        pthread_create(&t, NULL, ender, NULL);
        pthread_join(t, NULL);
    }
    CHECK(number_of("ended_elsewhere") == 2 && number_of("never_ended") == 0, "inside another");
    pthread_create(&t, NULL, around_two, NULL);
    pthread_join(t, NULL);
    CHECK(number_of("ended_elsewhere") == 3 && number_of("never_ended") == 2, "two of three: %g, %g",
          number_of("ended_elsewhere"), number_of("never_ended"));
    CHECK(row_of("crossing", "scope").total <= 0 && row_of("crossing", "scope").mean > 0, "in no total, but with a length");
    left_open();
    untraced();
    recursion();
    reset_in_lap();
    each_once();
    remove(scratch_file());
    return check_done();
}
