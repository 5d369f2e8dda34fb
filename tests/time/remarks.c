/* Values and texts, as the trace shows them, and fibres: depth, self time. */
#define _GNU_SOURCE 1
#include <stdint.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TRACE_EVENTS 64
#include "rows.h"
#include <pthread.h>
#include "../numbers.h"

#define EQUAL(what, x, to) CHECK((x) > (to) - 0.01 && (x) < (to) + 0.01, "%s: %.3f", what, x)

static void values(void)
{
    static const char *const long_text = "0123456789012345678901234567890123456789012345678901234567"
                                         "89ABC tail that is cut";
    static const char *const wanted[] = {       /* the scope with its values, an older one alone   */
        "\"rows\":42,\"file\":\"/tmp/8\",\"long\":"
        "\"012345678901234567890123456789012345678901234567890123456789ABC\",\"eight\":\"12345678\","
        "\"none\":\"(null)\",\"empty\":\"\",\"quote\":\"\\\"\\\\\",\"not a number\":null},"
        "\"ts\":1.000,\"dur\":0.012",
        "\"name\":\"rows\",\"args\":{\"rows\":41},\"ts\":1.000",
        "\"depth\":2},\"ts\":1.000,\"dur\":0.005",
        "\"name\":\"nowhere\",\"args\":{\"nowhere\":1},\"ts\":1.000"};
    size_t i;
    char  *text;

    perf_scope_value("nowhere", 1);
    {
        PERF_SCOPE("query");
        PERF_SCOPE_VALUE("rows", 41);
        PERF_SCOPE_VALUE("rows", 42);
        {
            PERF_SCOPE("inner");
            PERF_SCOPE_VALUE("depth", 2);
            now_ns += 5;
        }
        PERF_SCOPE_TEXT("file", "/tmp/8");
        perf_scope_text("long", long_text);
        perf_scope_text("eight", "12345678");
        perf_scope_text("none", NULL);
        perf_scope_text("empty", "");
        perf_scope_text("quote", "\"\\");
        perf_scope_value("not a number", CHECK_NAN);
        PERF_INSTANT("bare");
        now_ns += 7;
    }
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text), "%s", text);
    for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CHECK(strstr(text, wanted[i]), "%s in %s", wanted[i], text);
    CHECK(count_of(text, "\"ph\":\"i\"") == 3, "the older one, that of no scope, the bare one: %s", text);
    free(text);
    CHECK(row_of("query", "scope").self == 7, "%g", row_of("query", "scope").self);
    CHECK(row_of("rows", "instant").calls == 2, "%g", row_of("rows", "instant").calls);
    EQUAL("mean", row_of("rows", "instant").mean, 41.5);
    EQUAL("last", row_of("rows", "instant").last, 42);
    EQUAL("a text has none", row_of("file", "instant").last, 0);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    for (i = 0; i < 100; i++)                   /* entries of several parts are counted as events  */
        perf_scope_text("many", "0123456789abcdefghijklmnop");
    CHECK(number_of("overwritten_events") == 101, "%g", number_of("overwritten_events"));
    remove(scratch_file());
}

/* Two fibres take turns inside scopes of their own, under the loop that runs them. */
static void fibers(void)
{
    perf_fiber home = PERF_ZERO, one = PERF_ZERO, two = PERF_ZERO;
    perf_scope loop, a, b, inner;
    char      *text;

    perf_reset();
    loop = perf_scope_begin("loop");
    now_ns += 1;
    perf_fiber_switch(&home, &one);
    a = perf_scope_begin("a");
    now_ns += 10;
    perf_fiber_switch(&one, &two);
    b = perf_scope_begin("b");
    inner = perf_scope_begin("a");              /* the same name, not inside the other a          */
    CHECK(perf_depth_(perf_recorder_get_()) == 2, "%u", perf_depth_(perf_recorder_get_()));
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "note: 4 scopes are still open, their time so far not in the numbers: a, b, loop"), "%s", text);
    free(text);
    now_ns += 100;
    perf_fiber_switch(&two, &one);
    CHECK(perf_depth_(perf_recorder_get_()) == 1, "%u", perf_depth_(perf_recorder_get_()));
    now_ns += 20;
    perf_fiber_switch(&one, &two);
    now_ns += 200;
    perf_scope_end(&inner);
    perf_scope_end(&b);
    perf_fiber_switch(&two, &one);
    now_ns += 40;
    perf_scope_end(&a);
    perf_fiber_switch(&one, &home);
    now_ns += 2;
    perf_scope_end(&loop);
    EQUAL("none is open", number_of("open"), 0);
    EQUAL("loop self", row_of("loop", "scope").self, 3);
    EQUAL("loop total", row_of("loop", "scope").total, 373);
    EQUAL("a self, both", row_of("a", "scope").self, 70 + 300);
    EQUAL("b self", row_of("b", "scope").self, 0);
    EQUAL("b total", row_of("b", "scope").total, 320);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    perf_fiber_switch(NULL, &home);
    perf_fiber_switch(&home, &home);
}

/* Each fibre has a depth of its own, recursive calls included: a number finds its scope by that. */
static void depths(void)
{
    perf_fiber one = PERF_ZERO, two = PERF_ZERO;
    perf_scope deep[3], flat;
    char      *text;
    int        i;

    perf_reset();
    for (i = 0; i < 3; i++)
        deep[i] = perf_scope_begin("deep");
    perf_fiber_switch(&one, &two);
    EQUAL("three wait", number_of("open"), 3);
    now_ns += 10;
    flat = perf_scope_begin("flat");
    CHECK(perf_depth_(perf_recorder_get_()) == 1, "%u", perf_depth_(perf_recorder_get_()));
    perf_scope_value("of flat", 1);
    now_ns += 5;
    perf_fiber_switch(&two, &one);
    CHECK(perf_depth_(perf_recorder_get_()) == 3, "%u", perf_depth_(perf_recorder_get_()));
    now_ns += 7;
    for (i = 2; i >= 0; i--)
        perf_scope_end(&deep[i]);
    CHECK(perf_depth_(perf_recorder_get_()) == 0, "%u", perf_depth_(perf_recorder_get_()));
    perf_fiber_switch(&one, &two);
    perf_scope_end(&flat);
    perf_fiber_switch(&two, &one);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(strstr(text, "\"of flat\":1}") && count_of(text, "\"ph\":\"i\"") == 0, "%s", text);
    free(text);
    remove(scratch_file());

    deep[0] = perf_scope_begin("held");         /* a reset while it waits: it was away since then */
    perf_fiber_switch(&one, &two);
    now_ns += 1000;
    perf_reset();
    now_ns += 10;
    perf_fiber_switch(&two, &one);
    now_ns += 3;
    perf_scope_end(&deep[0]);
    EQUAL("since the reset", row_of("held", "scope").total, 13);
    EQUAL("its own", row_of("held", "scope").self, 3);
}

/* A random walk of crossing ends and fibres: self times add up to what the outermost scopes took. */
static void walk(uint64_t seed)
{
    perf_scope open[6];
    perf_fiber fiber[4];
    int        i, k, now = 0, used[6] = {0}, of[6];
    char       name[2] = "a";
    uint64_t   began, x = seed;
    row        r;
    double     self = 0;

    memset(fiber, 0, sizeof fiber);
    perf_reset();
    began = now_ns;
    {
        PERF_SCOPE("walk");
        for (i = 0; i < 3000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            now_ns += x >> 58;
            k = (int)(x >> 40 & 255) % 6;
            if ((x >> 50 & 7) == 0) {
                int next = (int)(x >> 54 & 3);
                if (next != now && next)
                    perf_fiber_switch(&fiber[now], &fiber[next]);
                now = next ? next : now;
            } else if (used[k] && of[k] == now) {
                perf_scope_end(&open[k]);
                used[k] = 0;
            } else if (!used[k]) {
                *name = (char)('a' + (x >> 33 & 3));
                open[k] = perf_scope_begin(name);
                of[k] = now;
                used[k] = 1;
            }
        }
        for (i = 3; i >= 0; i--) {              /* back to the first, each fibre empty            */
            if (now != i)
                perf_fiber_switch(&fiber[now], &fiber[i]);
            now = i;
            for (k = 0; k < 6; k++)
                if (used[k] && of[k] == now) {
                    perf_scope_end(&open[k]);
                    used[k] = 0;
                }
        }
    }
    for (*name = 'a'; *name <= 'd'; ++*name) {
        r = row_of(name, "scope");
        CHECK(r.self >= 0 && r.self <= r.total, "seed %.0f: %s %g of %g", (double)seed, name,
              r.self, r.total);
        self += r.self;
    }
    r = row_of("walk", "scope");
    CHECK(r.total == (double)(now_ns - began), "%g", r.total);
    CHECK(r.self >= 0 && self + r.self <= r.total, "seed %.0f: %g + %g of %g", (double)seed, self,
          r.self, r.total);
}

/* Four fibres that recurse through the same four names: whose time it is, to the nanosecond. */
enum { FIBERS = 4, DEEP = 12, NAMES = 4 };
static perf_fiber fiber_of[FIBERS];
static perf_scope scope_of[FIBERS][DEEP];
static uint64_t   began_at[FIBERS][DEEP];
static int        named[FIBERS][DEEP], depth_of[FIBERS];
static double     want_self[NAMES], want_total[NAMES];

static void end_of(int f)
{
    int d = --depth_of[f], n = named[f][d], k, outermost = 1;

    for (k = 0; k < d; k++)
        outermost &= named[f][k] != n;
    perf_scope_end(&scope_of[f][d]);
    want_total[n] += outermost ? (double)(now_ns - began_at[f][d]) : 0;
}

static void recursive(uint64_t seed)
{
    int           i, k, d, f = 0;
    uint64_t      x = seed;
    char          name[2] = "a";
    perf_losses_  lost;

    perf_reset();
    memset(fiber_of, 0, sizeof fiber_of);
    memset(want_self, 0, sizeof want_self);
    memset(want_total, 0, sizeof want_total);
    for (i = 0; i < 4000 || depth_of[0] + depth_of[1] + depth_of[2] + depth_of[3]; i++) {
        int next = (int)(x >> 54 & 3), end = i >= 4000;
        x = x * 6364136223846793005u + 1442695040888963407u;
        now_ns += x >> 59;
        d = depth_of[f];
        if (d)
            want_self[named[f][d - 1]] += (double)(x >> 59);
        if (end && !d)
            next = (f + 1) % FIBERS;
        if ((end ? !d : (x >> 50 & 3) == 0) && next != f) {
            perf_fiber_switch(&fiber_of[f], &fiber_of[next]);
            f = next;
        } else if (d && (end || (x >> 45 & 1) || d == DEEP)) {
            end_of(f);
        } else if (!end && d < DEEP) {
            *name = (char)('a' + (x >> 33 & 3));
            named[f][d] = *name - 'a';
            began_at[f][d] = now_ns;
            depth_of[f]++;
            scope_of[f][d] = perf_scope_begin(name);
        }
    }
    if (f)
        perf_fiber_switch(&fiber_of[f], &fiber_of[0]);
    for (k = 0; k < NAMES; k++) {
        row r;
        *name = (char)('a' + k);
        r = row_of(name, "scope");
        CHECK(r.self == want_self[k] && r.total == want_total[k], "seed %.0f: %s %g of %g, not %g of %g", (double)seed,
              name, r.self, r.total, want_self[k], want_total[k]);
    }
    lost = perf_losses_sum_(perf_registry_get_());
    CHECK(!lost.n[PERF_LOSS_ABANDONED_] && !lost.n[PERF_LOSS_DISORDERED_] && number_of("open") == 0, "seed %.0f: %g open",
          (double)seed, number_of("open"));
}

/* A reset now and then: never is there more self time than has passed since. */
static void forgotten(uint64_t seed)
{
    int      i, f = 0, next, n;
    uint64_t x = seed, birth;
    char     name[2] = "a";

    perf_reset();
    birth = now_ns;
    memset(fiber_of, 0, sizeof fiber_of);
    for (i = 0; i < 3000 || depth_of[0] + depth_of[1] + depth_of[2] + depth_of[3]; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        now_ns += x >> 59;
        next = i < 3000 ? (x >> 50 & 3) ? f : (int)(x >> 54 & 3) : depth_of[f] ? f : (f + 1) % FIBERS;
        if (next != f && (seed & 1)) {
            perf_fiber_switch(&fiber_of[f], &fiber_of[next]);
            f = next;
        } else if ((x >> 40 & 511) == 7) {
            perf_reset();
            birth = now_ns;
        } else if (depth_of[f] && (i >= 3000 || (x >> 45 & 1) || depth_of[f] == DEEP)) {
            perf_scope_end(&scope_of[f][--depth_of[f]]);
        } else if (i < 3000 && depth_of[f] < DEEP) {
            *name = (char)('a' + (x >> 33 & 3));
            scope_of[f][depth_of[f]++] = perf_scope_begin(name);
        }
        if (i % 50 == 49) {
            double self = 0;
            for (n = 0; n < NAMES; n++) {
                *name = (char)('a' + n);
                self += row_of(name, "scope").self;
            }
            CHECK(self <= (double)(now_ns - birth), "seed %.0f: %g of %g", (double)seed, self, (double)(now_ns - birth));
        }
    }
    if (f)
        perf_fiber_switch(&fiber_of[f], &fiber_of[0]);
}

/* Fibres that come and go take no memory once there were as many at a time. */
static void short_lived(void)
{
    perf_recorder_ *t = perf_recorder_get_();
    char           *pool = NULL;
    int             i;

    for (i = 0; i < 10000; i++) {
        perf_fiber home = PERF_ZERO, one = PERF_ZERO;
        PERF_SCOPE("home");
        perf_fiber_switch(&home, &one);
        {
            PERF_SCOPE("one");
            now_ns++;
        }
        perf_fiber_switch(&one, &home);
        pool = i == 10 ? t->pool : pool;
    }
    CHECK(pool == t->pool, "%ld bytes", (long)(t->pool - pool));
}

/* Fibres that go to and fro between two threads with a scope open: what they leave behind serves
 * the next one, and each end is counted.                                                         */
enum { MOVERS = 16, MOVES = 3000 };
static perf_fiber        mover[MOVERS];
static perf_scope        held[MOVERS], inner[MOVERS];
static pthread_barrier_t both;
static long              grown[2];

static void *carry(void *second)
{
    perf_fiber      own = PERF_ZERO;
    perf_recorder_ *t = perf_recorder_get_();
    char           *pool = NULL;
    int             i, k;

    for (i = 0; i < MOVES; i++) {
        for (k = second != NULL; k < MOVERS; k += 2) {
            perf_fiber *f = &mover[(k + i) % MOVERS];
            perf_fiber_switch(&own, f);
            if (i) {
                perf_scope_end(&inner[(k + i) % MOVERS]);
                perf_scope_end(&held[(k + i) % MOVERS]);
            }
            held[(k + i) % MOVERS] = perf_scope_begin("held");
            inner[(k + i) % MOVERS] = perf_scope_begin("held");     /* a recursive call           */
            perf_fiber_switch(f, &own);
        }
        pthread_barrier_wait(&both);
        pool = i == 10 ? t->pool : pool;
    }
    grown[second != NULL] = (long)(t->pool - pool);
    return NULL;
}

static void moved(void)
{
    pthread_t    t;
    perf_losses_ lost;
    row          r;

    perf_reset();
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t, NULL, carry, &both);
    carry(NULL);
    pthread_join(t, NULL);
    CHECK(labs(grown[0]) < 65536 && labs(grown[1]) < 65536, "%ld and %ld bytes", grown[0], grown[1]);
    lost = perf_losses_sum_(perf_registry_get_());
    r = row_of("held", "scope");
    CHECK(lost.n[PERF_LOSS_FOREIGN_] == 2 * MOVERS * (MOVES - 1) && r.calls == 2 * MOVERS * (MOVES - 1),
          "%g of %g calls", (double)lost.n[PERF_LOSS_FOREIGN_], r.calls);
    CHECK(!lost.n[PERF_LOSS_ABANDONED_] && r.total <= 0 && r.self <= 0, "%g in totals, %g", r.total, r.self);
    EQUAL("open", number_of("open"), 2 * MOVERS);
    {
        PERF_SCOPE("later");
        EQUAL("and one more", number_of("open"), 2 * MOVERS + 1);
    }
}

static pthread_barrier_t half;

static int texts, wrong;

static void see_texts(void *with, const perf_events_ *e)
{
    uint64_t   i = 0;
    perf_zone_ z;
    perf_remark_ m;

    while (i < e->count)
        if (perf_zone_at_(e, &i, (perf_registry_ *)with, &z) &&
            perf_remark_next_(e, &z.remarks, &m)) {
            texts++;
            wrong += strchr(m.text, 'b') != NULL;
        }
}

/* A thread that has overwritten the text of its oldest event, but is not done with the newest one.  The oldest
 * but one is left out as well: where a processor reorders stores, a further call may be at it.    */
static void *half_way(void *unused)
{
    perf_recorder_ *t;
    uint64_t        at, i, what = 0;
    char            text[64];

    memset(text, 'a', 55);                      /* eight entries: the new one takes the place of the oldest */
    text[55] = '\0';
    for (i = 0; i < 50; i++)
        perf_scope_text("half way", text);
    t = PERF_SELF_;
    at = t->ring_next;
    t->ring_next += 8 * sizeof(perf_event_);
    for (i = 0; i < 7; i++) {
        what = t->ring[((at - (2 + i) * sizeof(perf_event_)) & t->ring_mask) / sizeof(perf_event_)].what;
        perf_entry_(t, at + (6 - i) * sizeof(perf_event_), UINT64_C(0x6262626262626262), what);
    }
    pthread_barrier_wait(&half);
    pthread_barrier_wait(&half);
    return unused;
}

static void half_written(void)
{
    pthread_t t;

    perf_reset();
    pthread_barrier_init(&half, NULL, 2);
    pthread_create(&t, NULL, half_way, NULL);
    pthread_barrier_wait(&half);
    CHECK(perf_events_each_(perf_registry_get_(), see_texts, perf_registry_get_()), "read");
    CHECK(texts == 6 && wrong == 0, "%d of %d events have the text of one that is being written", wrong, texts);
    pthread_barrier_wait(&half);
    pthread_join(t, NULL);
    pthread_barrier_destroy(&half);
}

int main(void)
{
    uint64_t seed = 1;

    values();
    fibers();
    depths();
    for (; seed < 80; seed++)
        walk(seed);
    for (seed = 1; seed < 15; seed++)
        recursive(seed);
    for (seed = 1; seed < 24; seed++)
        forgotten(seed);
    short_lived();
    moved();
    half_written();
    return check_done();
}
