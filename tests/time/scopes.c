/* Scopes against a clock that only moves when the test says so: every number is known exactly. */
#include <stdint.h>
static uint64_t now_ns = 1000, backwards;
static int      readings;               /* until `at_reading` is called                           */
static void   (*at_reading)(void);
static uint64_t fake_clock(void)
{
    if (readings && --readings == 0)
        at_reading();
    return now_ns -= backwards;
}
#define PERF_CLOCK_FN fake_clock
#include "rows.h"
#include "perf_tally.h"
#include <pthread.h>
#include <setjmp.h>

static jmp_buf escape;

#define EQUAL(what, is, want)                                                                     \
    CHECK((is) > (want) - 0.01 && (is) < (want) + 0.01, "%s: %.3f, wanted %.3f", what, is, (double)(want))

#define LOST(what, want)                                                                          \
    CHECK(perf_losses_sum_(perf_registry_get_()).n[PERF_LOSS_##what##_] == (want), #what)

static void leaf(uint64_t ns)
{
    PERF_SCOPE("leaf");
    now_ns += ns;
}

static int early(int n)
{
    PERF_SCOPE("early");
    now_ns += 10;
    if (n)
        return 1;
    now_ns += 1000;
    return 0;
}

static void nesting(void)
{
    row parent, child;

    {
        PERF_SCOPE("parent");
        now_ns += 100;
        leaf(30);
        leaf(70);
        now_ns += 5;
    }
    parent = row_of("parent", "scope");
    child = row_of("leaf", "scope");
    EQUAL("parent total", parent.total, 205);
    EQUAL("parent self", parent.self, 105);
    EQUAL("leaf calls", child.calls, 2);
    EQUAL("leaf total", child.total, 100);
    EQUAL("leaf min", child.min, 30);
    EQUAL("leaf max", child.max, 70);
    EQUAL("leaf mean", child.mean, 50);
    CHECK(early(1) == 1, "early");
    EQUAL("early return", row_of("early", "scope").total, 10);
}

static void recurse(int n)
{
    PERF_SCOPE("recurse");
    now_ns += 10;
    if (n)
        recurse(n - 1);
}

static void recursion(void)
{
    row r;

    recurse(9);
    recurse(4);
    r = row_of("recurse", "scope");
    EQUAL("recursive calls", r.calls, 15);
    EQUAL("recursive total counts the outermost call once", r.total, 150);
    EQUAL("recursive self", r.self, 150);
    EQUAL("recursive mean is of all calls", r.mean, (10 * 55 + 150) / 15.0);
}

static void jumper(void)
{
    PERF_SCOPE("jumper");
    now_ns += 50;
    longjmp(escape, 1);
}

static void jumps(void)
{
    {
        PERF_SCOPE("catcher");
        now_ns += 5;
        if (!setjmp(escape))
            jumper();
        now_ns += 7;
        leaf(8);
    }
    EQUAL("catcher total", row_of("catcher", "scope").total, 70);
    EQUAL("catcher self has the jumper's time", row_of("catcher", "scope").self, 62);
    EQUAL("jumper was never ended", row_of("jumper", "scope").calls, 0);
}

static void disorder(void)
{
    perf_scope a = perf_scope_begin("a"), b, c;

    now_ns += 10;
    b = perf_scope_begin("b");
    now_ns += 10;
    perf_scope_end(&a);
    now_ns += 10;
    perf_scope_end(&b);
    perf_scope_end(&b);                 /* twice */
    perf_scope_end(NULL);
    memset(&c, 0, sizeof c);
    perf_scope_end(&c);                 /* never begun */
    EQUAL("a total", row_of("a", "scope").total, 20);
    EQUAL("a self", row_of("a", "scope").self, 20);
    EQUAL("b calls", row_of("b", "scope").calls, 1);
    EQUAL("b mean", row_of("b", "scope").mean, 20);
    EQUAL("b total, of which a has the half", row_of("b", "scope").total, 10);
    EQUAL("b self", row_of("b", "scope").self, 10);
    CHECK(perf_error() == PERF_ESTATE, "%s", perf_status_text(perf_error()));
    LOST(DISORDERED, 1);
    LOST(ABANDONED, 1);
    LOST(MISUSED, 2);
}

/* Two that outlive the scope around them: each has what passed since the end before its own. */
static void disorder_of_three(void)
{
    perf_scope a, b, c;

    perf_reset();
    a = perf_scope_begin("a");
    now_ns += 10;
    b = perf_scope_begin("b");
    now_ns += 10;
    c = perf_scope_begin("c");
    now_ns += 10;
    perf_scope_end(&a);
    now_ns += 4;
    perf_scope_end(&b);
    now_ns += 5;
    perf_scope_end(&c);
    EQUAL("a self", row_of("a", "scope").self, 30);
    EQUAL("b mean", row_of("b", "scope").mean, 24);
    EQUAL("b self", row_of("b", "scope").self, 4);
    EQUAL("c mean", row_of("c", "scope").mean, 19);
    EQUAL("c self", row_of("c", "scope").self, 5);
    LOST(DISORDERED, 2);
    LOST(ABANDONED, 0);
}

/* Whatever the flow of control, self times add up to what the outermost scopes took. */
static volatile uint64_t seed = 1;      /* not a local: longjmp may undo those */
static double            self;

static void sums(void)
{
    uint64_t     begin = now_ns;
    volatile int i;
    row          root;

    {
        PERF_SCOPE("sum root");
        for (i = 0; i < 20000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            switch (seed >> 61) {
            case 0: {
                PERF_SCOPE("sum x");
                now_ns += seed >> 40 & 255;
                leaf(seed >> 48 & 15);
                break;
            }
            case 1:
                recurse((int)(seed >> 40 & 7));
                break;
            case 2:
                if (!setjmp(escape))
                    jumper();
                break;
            case 3: {
                perf_scope s = perf_scope_begin("sum named");
                now_ns += seed >> 40 & 63;
                perf_scope_end(&s);
                break;
            }
            case 4: {
                perf_lap l = perf_lap_begin();
                now_ns += seed >> 40 & 63;
                PERF_LAP(&l, "sum lap");
                leaf(3);
                PERF_LAP(&l, "sum lap");
                break;
            }
            default: now_ns += seed >> 40 & 63;
            }
        }
    }
    root = row_of("sum root", "scope");
    EQUAL("root total", root.total, (double)(now_ns - begin));
    {
        static const char *const name[] = {"sum root", "sum x", "sum named", "sum lap", "leaf", "recurse"};
        size_t k;
        for (k = 0; k < sizeof name / sizeof name[0]; k++)
            self += row_of(name[k], "scope").self;
    }
    self -= 100 + 8 + 150;              /* leaf and recurse before this test */
    EQUAL("sum of self", self, root.total);
}

static void percentiles(void)
{
    int i;
    row r;

    for (i = 1; i <= 1000; i++) {
        PERF_SCOPE("spread");
        now_ns += (uint64_t)i * 1000;
    }
    r = row_of("spread", "scope");
    CHECK(r.p50 > 500e3 * 0.983 && r.p50 < 500e3 * 1.017, "p50 %.1f", r.p50);
    CHECK(r.p95 > 950e3 * 0.983 && r.p95 < 950e3 * 1.017, "p95 %.1f", r.p95);
    CHECK(r.p99 > 990e3 * 0.983 && r.p99 < 990e3 * 1.017, "p99 %.1f", r.p99);
    EQUAL("max", r.max, 1e6);
    EQUAL("min", r.min, 1000);
    for (i = 0; i < 10007; i++) {               /* in no order, between extremes seen at the start */
        PERF_SCOPE("mixed");
        now_ns += i == 0 ? 1 : i == 1 ? 20000 : 1 + (uint64_t)i * 5003 % 10007;
    }
    r = row_of("mixed", "scope");
    CHECK(r.p50 > 5003 * 0.983 && r.p50 < 5003 * 1.017, "mixed p50 %.1f", r.p50);
    CHECK(r.p99 > 9907 * 0.983 && r.p99 < 9907 * 1.017, "mixed p99 %.1f", r.p99);
    for (i = 0; i < 9; i++) {                   /* every new extreme, by one */
        PERF_SCOPE("creep");
        now_ns += (uint64_t)(i % 2 ? 100 - i : 100 + i);
    }
    r = row_of("creep", "scope");
    EQUAL("creeping min", r.min, 93);
    EQUAL("creeping max", r.max, 108);
}

static void extremes(void)
{
    row r;
    int i;

    {
        PERF_SCOPE("zero");
    }
    {
        PERF_SCOPE("zero");
    }
    r = row_of("zero", "scope");
    EQUAL("zero calls", r.calls, 2);
    EQUAL("zero total", r.total, 0);
    EQUAL("zero p50", r.p50, 0);
    for (i = 0; i < 40; i++) {                  /* among others, in each order                    */
        PERF_SCOPE("zero or not");
        now_ns += (uint64_t)i * 7 % 5;
    }
    r = row_of("zero or not", "scope");
    EQUAL("zero or not: total", r.total, 80);
    EQUAL("zero or not: min", r.min, 0);
    EQUAL("zero or not: max", r.max, 4);
    CHECK(r.p50 > 1.9 && r.p50 < 2.1, "zero or not: p50 %.3f", r.p50);
    for (i = 0; i < 4; i++) {                   /* none is short                                  */
        PERF_SCOPE("long ones");
        now_ns += UINT64_C(3000000) + (uint64_t)(i % 2 ? i : 4 - i) * 1000000;
    }
    r = row_of("long ones", "scope");
    EQUAL("long ones: total", r.total, 22e6);
    EQUAL("long ones: min", r.min, 4e6);
    EQUAL("long ones: max", r.max, 7e6);
    {
        PERF_SCOPE("hour");
        now_ns += UINT64_C(3600000000000);
    }
    EQUAL("an hour", row_of("hour", "scope").total, 3600e9);
    EQUAL("an hour p99", row_of("hour", "scope").p99, 3600e9);
    {
        PERF_SCOPE("year");
        now_ns += UINT64_C(31557600) * 1000000000;
    }
    EQUAL("a year", row_of("year", "scope").max / 31557600e9, 1);
    {
        PERF_SCOPE("back");
        now_ns -= 500;
    }
    EQUAL("a clock going back: no call", row_of("back", "scope").calls, 0);
    EQUAL("a clock going back: one lost", number_of("lost_to_clock"), 1);
    CHECK(perf_clock().warnings & PERF_CLOCK_BACKWARDS, "warnings %u", perf_clock().warnings);
    now_ns += 500;
}

/* Laps of a scope, with scopes in them: each ns belongs to one of them. */
static void laps_within(void)
{
    perf_lap lap;
    row      around, phase;
    int      i;

    {
        PERF_SCOPE("around laps");
        now_ns += 3;
        lap = perf_lap_begin();
        for (i = 0; i < 20; i++) {              /* the first goes the cold way, the others the hot */
            now_ns += 6;
            leaf(4);
            PERF_LAP(&lap, "phase of 10");
        }
        now_ns += 2;
    }
    around = row_of("around laps", "scope");
    phase = row_of("phase of 10", "scope");
    EQUAL("around: total", around.total, 205);
    EQUAL("around: self", around.self, 5);
    EQUAL("laps: calls", phase.calls, 20);
    EQUAL("laps: total", phase.total, 200);
    EQUAL("laps: self", phase.self, 120);
    lap = perf_lap_begin();
    for (i = 0; i < 20; i++) {
        now_ns += i == 0 ? 10 : i == 1 ? 1000 : 100;
        PERF_LAP(&lap, "mostly 100");
    }
    phase = row_of("mostly 100", "scope");
    CHECK(phase.p50 > 98 && phase.p50 < 102, "laps: p50 %g", phase.p50);
}

/* Phases that begin outside of a scope and end in it, and the other way round: they have a length, but are
 * in no total, and no scope's time is less for them.                                              */
static void laps_across(void)
{
    perf_lap lap;
    int      i;

    perf_reset();
    for (i = 0; i < 4; i++) {
        PERF_SCOPE("around");
        now_ns += 1;
        leaf(5);
        lap = perf_lap_begin();
        now_ns += 10;
        {
            PERF_SCOPE("within");
            leaf(2);
            now_ns += 20;
            PERF_LAP(&lap, "in");
            leaf(8);
            now_ns += 30;
            PERF_LAP(&lap, "whole");
            now_ns += 3;
        }
        leaf(7);
        PERF_LAP(&lap, "out");
        {
            PERF_SCOPE("itself");
            now_ns += 9;
            PERF_LAP(&lap, "both");             /* begun outside, and the next one not            */
            leaf(1);
            now_ns += 6;
            PERF_LAP(&lap, "both");
            now_ns += 4;
            PERF_LAP(&lap, "itself");
        }
    }
    EQUAL("both: total", row_of("both", "scope").total, 28);
    EQUAL("both: self", row_of("both", "scope").self, 24);
    EQUAL("itself: calls", row_of("itself", "scope").calls, 8);
    EQUAL("itself: total", row_of("itself", "scope").total, 80);
    EQUAL("itself: self", row_of("itself", "scope").self, 52);
    EQUAL("in: calls", row_of("in", "scope").calls, 4);
    EQUAL("in: mean", row_of("in", "scope").mean, 32);
    EQUAL("in: total", row_of("in", "scope").total, 0);
    EQUAL("whole: total", row_of("whole", "scope").total, 152);
    EQUAL("whole: self", row_of("whole", "scope").self, 120);
    EQUAL("out: mean", row_of("out", "scope").mean, 10);
    EQUAL("out: total", row_of("out", "scope").total, 0);
    EQUAL("within: total", row_of("within", "scope").total, 252);
    EQUAL("within: self", row_of("within", "scope").self, 92);
    EQUAL("around: self", row_of("around", "scope").self, 44);
}

/* One phase in many callers, whose cells must meet at some place of the hot path's table: each has its own
 * in the call tree.                                                                               */
static void laps_of_callers(void)
{
    static char name[100][24];
    perf_registry_ *r = perf_registry_get_();
    perf_tree_ *tree;
    uint32_t    i, wrong = 0, laps = 0, scopes = 0;
    int         k, round;

    perf_reset();
    for (round = 0; round < 3; round++)
        for (k = 0; k < 100; k++) {
            perf_scope s;
            perf_lap   lap;
            snprintf(name[k], sizeof name[k], "caller %d", k);
            s = perf_scope_begin(name[k]);
            lap = perf_lap_begin();
            now_ns += 10;
            PERF_LAP(&lap, "called lap");
            {
                PERF_SCOPE("called scope");
                now_ns += 10;
            }
            perf_scope_end(&s);
        }
    tree = perf_tree_make_(r);
    for (i = 1; tree && i < tree->count; i++) {
        const char *its = r->names[tree->node[i].name]->site.name;
        laps += !strcmp(its, "called lap");
        scopes += !strcmp(its, "called scope");
        wrong += !strncmp(its, "called", 6) && (tree->node[i].calls != 3 || tree->node[i].total != 30);
    }
    CHECK(laps == 100 && scopes == 100 && wrong == 0, "%u laps, %u scopes, %u of them wrong", laps, scopes, wrong);
    PERF_FREE(tree);
    EQUAL("their self time", row_of("caller 77", "scope").self, 0);
}

static void others(void)
{
    perf_async a, b, c;
    perf_lap   lap = perf_lap_begin();
    double     zero = 0.0;
    row        r;

    now_ns += 20;
    PERF_LAP(&lap, "phase a");
    now_ns += 5;
    PERF_LAP(&lap, "phase b");
    now_ns += 30;
    PERF_LAP(&lap, "phase a");
    EQUAL("lap a", row_of("phase a", "scope").total, 50);
    EQUAL("lap a calls", row_of("phase a", "scope").calls, 2);
    EQUAL("lap b", row_of("phase b", "scope").total, 5);
    lap = perf_lap_begin();
    now_ns += 7;
    perf_lap_end(&lap, "phase b");
    now_ns += 3;
    perf_lap_end(&lap, "phase c");
    perf_lap_end(NULL, "phase d");
    EQUAL("named lap joins the macro's", row_of("phase b", "scope").total, 12);
    EQUAL("named lap", row_of("phase c", "scope").total, 3);
    CHECK(row_of("phase d", "scope").calls == 0, "a lap without a begin was counted");

    a = perf_async_begin("request", 7);
    now_ns += 10;
    b = perf_async_begin("request", 0);
    now_ns += 10;
    perf_async_end(&a);
    c = b;
    now_ns += 10;
    perf_async_end(&c);
    perf_async_end(&c);
    perf_async_end(NULL);
    r = row_of("request", "async");
    EQUAL("async calls", r.calls, 2);
    EQUAL("async total", r.total, 40);
    EQUAL("async min", r.min, 20);

    perf_count("queue", 5);
    PERF_COUNT("queue", -3);
    perf_count("queue", zero / zero);
    perf_count("queue", 7);
    r = row_of("queue", "counter");
    EQUAL("updates", r.calls, 3);
    EQUAL("last", r.last, 7);
    EQUAL("least", r.min, -3);
    EQUAL("most", r.max, 7);
    EQUAL("mean", r.mean, 3);
    perf_instant("flush");
    PERF_INSTANT("flush");
    EQUAL("instants", row_of("flush", "instant").calls, 2);
    {
        PERF_SCOPE("same name");
        perf_instant("same name");
    }
    EQUAL("kinds do not mix", row_of("same name", "scope").calls, 1);

    perf_reset();
    {
        perf_scope wait;
        PERF_SCOPE("compute");
        now_ns += 75;
        {
            PERF_WAIT("read");
            now_ns += 20;
        }
        wait = perf_wait_begin("read");
        now_ns += 5;
        perf_scope_end(&wait);
    }
    EQUAL("waits of one name are one row", row_of("read", "wait").calls, 2);
    EQUAL("waits", number_of("data_wait_ns"), 25);
    EQUAL("of", number_of("main_thread_ns"), 100);
    EQUAL("open", number_of("open"), 0);
    {
        PERF_WAIT("socket");
        now_ns += 100;
    }
    EQUAL("waits", number_of("data_wait_ns"), 125);
    EQUAL("of", number_of("main_thread_ns"), 200);
}

/* The outer of two calls of one name ends, the inner never does: once it is lost, and no later call of
 * that name is.                                                                                   */
static void outer_first(void)
{
    perf_losses_ before = perf_losses_sum_(perf_registry_get_()), after;
    perf_scope   outer;
    int          i;

    outer = perf_scope_begin("twice open");
    now_ns += 1;
    (void)perf_scope_begin("twice open");
    now_ns += 2;
    perf_scope_end(&outer);
    for (i = 0; i < 3; i++) {
        PERF_SCOPE("twice open");
        now_ns += 5;
    }
    after = perf_losses_sum_(perf_registry_get_());
    CHECK(after.n[PERF_LOSS_ABANDONED_] - before.n[PERF_LOSS_ABANDONED_] == 1 &&
              after.n[PERF_LOSS_DISORDERED_] == before.n[PERF_LOSS_DISORDERED_], "one is lost");
    EQUAL("calls that ended", row_of("twice open", "scope").calls, 4);
    EQUAL("their time", row_of("twice open", "scope").total, 18);
    EQUAL("open", number_of("open"), 0);
}

/* The same where a call of that length is nothing new: the hot path must not take the outer end for the
 * end of all.                                                                                     */
static void known_outer_first(void)
{
    perf_scope outer, inner;
    int        i;

    perf_reset();
    for (i = 0; i < 8; i++) {
        outer = perf_scope_begin("known");
        now_ns += i == 0 ? 1 : i == 1 ? 1000 : 20;
        perf_scope_end(&outer);
    }
    outer = perf_scope_begin("known");
    now_ns += 10;
    (void)perf_scope_begin("known");
    now_ns += 20;
    inner = perf_scope_begin("known");
    now_ns += 40;
    perf_scope_end(&inner);
    now_ns += 80;
    perf_scope_end(&outer);
    LOST(ABANDONED, 1);
    EQUAL("open", number_of("open"), 0);
    EQUAL("calls that ended", row_of("known", "scope").calls, 10);
    EQUAL("their time", row_of("known", "scope").total, 1121 + 150);
    leaf(3);
    EQUAL("the next one", row_of("leaf", "scope").self, 3);
    LOST(ABANDONED, 1);
}

/* Crossing ends of names whose lengths are nothing new, inside another scope: each nanosecond is one scope's,
 * and what is lost, late, or both is counted.                                                     */
static void known_disorder(void)
{
    perf_scope a, b, c;
    int        i;

    perf_reset();
    for (i = 0; i < 3; i++) {
        PERF_SCOPE("around");
        a = perf_scope_begin("x");
        b = perf_scope_begin("x");
        c = perf_scope_begin("y");
        now_ns += i == 0 ? 1 : i == 1 ? 1000 : 50;
        perf_scope_end(&c);
        perf_scope_end(&b);
        perf_scope_end(&a);
    }
    {
        PERF_SCOPE("around");
        a = perf_scope_begin("x");
        b = perf_scope_begin("x");
        c = perf_scope_begin("y");
        now_ns += 100;
        perf_scope_end(&b);                     /* y is still open                                */
        LOST(ABANDONED, 1);
        now_ns += 10;
        perf_scope_end(&c);
        LOST(ABANDONED, 0);
        LOST(DISORDERED, 1);
        perf_scope_end(&a);
    }
    EQUAL("x: total", row_of("x", "scope").total, 1051 + 110);
    EQUAL("around: self", row_of("around", "scope").self, 0);
    {
        PERF_SCOPE("around");
        a = perf_scope_begin("x");
        c = perf_scope_begin("y");
        now_ns += 100;
        perf_scope_end(&a);
        now_ns += 20;                           /* y's own                                        */
        perf_scope_end(&c);
        now_ns += 3;
    }
    EQUAL("around: self", row_of("around", "scope").self, 3);
    LOST(DISORDERED, 2);
    {
        PERF_SCOPE("around");
        a = perf_scope_begin("x");
        b = perf_scope_begin("x");
        now_ns += 30;
        perf_scope_end(&a);
        LOST(ABANDONED, 1);
        a = perf_scope_begin("x");
        now_ns += 30;
        perf_scope_end(&b);                     /* of the x before                                */
        now_ns += 30;
        perf_scope_end(&a);
        EQUAL("one is open", number_of("open"), 1);
    }
    EQUAL("none is open", number_of("open"), 0);
    a = perf_scope_begin("x");
    b = perf_scope_begin("y");
    perf_scope_end(&a);
    perf_reset();
    perf_scope_end(&b);
    LOST(ABANDONED, 0);                         /* a reset forgot the one that was                */
    {
        PERF_SCOPE("catcher");
        if (!setjmp(escape)) {
            PERF_SCOPE("x");
            PERF_SCOPE("x");
            PERF_SCOPE("x");
            longjmp(escape, 1);
        }
    }
    LOST(ABANDONED, 3);
    EQUAL("none is open", number_of("open"), 0);
    perf_reset();
}

/* A second end is a mistake also where the begin took the hot path, or nobody recorded it. */
static void ends_again(void)
{
    perf_scope s;
    int        i;

    perf_reset();
    for (i = 0; i < 4; i++) {
        s = perf_scope_begin("ended twice");
        now_ns += 5;
        perf_scope_end(&s);
    }
    LOST(MISUSED, 0);
    perf_scope_end(&s);
    LOST(MISUSED, 1);
    perf_enable(0);
    s = perf_scope_begin("ended twice");
    perf_enable(1);
    perf_scope_end(&s);
    LOST(MISUSED, 1);
    perf_scope_end(&s);
    LOST(MISUSED, 2);
    EQUAL("calls", row_of("ended twice", "scope").calls, 4);
    perf_reset();
}

/* Scopes that are open while the report is made: counted (golden.c names them). */

static void open_below(int n)
{
    PERF_SCOPE("below");
    if (n)
        open_below(n - 1);
    else
        EQUAL("open", number_of("open"), 1000);
}

static void still_open(void)
{
    open_below(999);
    {
        PERF_SCOPE("compute");
        now_ns += 10;
    }
    {
        PERF_SCOPE("open for the first time");
        {
            PERF_SCOPE("compute");
            EQUAL("open", number_of("open"), 2);
        }
    }
    EQUAL("open", number_of("open"), 0);
}

static void resets(void)
{
    perf_scope open = perf_scope_begin("open");

    now_ns += 100;
    {
        PERF_SCOPE("outer");
        now_ns += 10;
        {
            PERF_SCOPE("outer");
            now_ns += 10;
            perf_reset();
            now_ns += 1;
        }
        now_ns += 2;
    }
    now_ns += 4;
    leaf(8);
    perf_scope_end(&open);
    EQUAL("an open scope counts from the reset on", row_of("open", "scope").total, 15);
    EQUAL("so does its self time", row_of("open", "scope").self, 4);
    EQUAL("recursive ones too", row_of("outer", "scope").total, 3);
    EQUAL("and self time", row_of("outer", "scope").self, 3);
    EQUAL("after it", row_of("leaf", "scope").total, 8);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    leaf(5);
    EQUAL("and later", row_of("leaf", "scope").total, 13);
}

static void lasts(uint64_t ns)
{
    PERF_SCOPE("lasts");
    now_ns += ns;
}

/* What the hot path has yet to count is forgotten, too; a phase counts from there, and so do the scopes in it. */
static void resets_and_late_ones(void)
{
    perf_lap lap, same;
    row      r;
    int      i;

    for (i = 0; i < 12; i++)
        lasts(i < 2 ? 10 : 1000);
    lap = perf_lap_begin();
    now_ns += 5;
    perf_reset();
    leaf(8);
    now_ns += 4;
    PERF_LAP(&lap, "over a reset");
    r = row_of("over a reset", "scope");
    EQUAL("a phase counts from the reset on", r.total, 12);
    EQUAL("less the scopes since then", r.self, 4);
    same = perf_lap_begin();
    perf_reset();                               /* in the same nanosecond                         */
    leaf(2);
    now_ns += 7;
    PERF_LAP(&same, "over a reset");
    EQUAL("again", row_of("over a reset", "scope").self, 7);
    lasts(10);
    lasts(900);
    EQUAL("calls", row_of("lasts", "scope").calls, 2);
    EQUAL("max", row_of("lasts", "scope").max, 900);
    CHECK(row_of("lasts", "scope").p50 < 11, "%g: the first of two", row_of("lasts", "scope").p50);
    perf_count("level", 7);
    EQUAL("least of one", row_of("level", "counter").min, 7);
    perf_reset();
    perf_count("level", 3);
    r = row_of("level", "counter");
    EQUAL("updates", r.calls, 1);
    EQUAL("least", r.min, 3);
    EQUAL("most", r.max, 3);
    EQUAL("mean", r.mean, 3);
}

/* A reset that another thread has asked for comes before the mark that finds it. */
static void asked(void)
{
    perf_word_set_(&perf_self_v1_->request, PERF_ASK_RESET_);
    PERF_SET_(&perf_self_v1_->quick, NULL);
}

static void resets_of_others(void)
{
    perf_async span;

    perf_count("asked", 1);
    asked();
    perf_count("asked", 2);
    EQUAL("a number", row_of("asked", "counter").mean, 2);
    span = perf_async_begin("asked", 0);
    asked();
    now_ns += 4;
    perf_async_end(&span);
    EQUAL("a span", row_of("asked", "async").calls, 1);
    EQUAL("no number", row_of("asked", "counter").calls, 0);
    span = perf_async_begin("asked", 0);
    now_ns += 9;
    perf_reset();
    now_ns += 4;
    perf_async_end(&span);
    EQUAL("a span from the reset on", row_of("asked", "async").total, 4);
}

/* A span that another thread ends while a reset is under way: nothing of it was after the reset. */
static uint32_t   met;
static perf_async ends_there;

static void wait_until(uint32_t step)
{
    while (PERF_ACQ_(&met) < step)
        (void)perf_sched_yield_();
}

static void *ends_twice(void *unused)
{
    perf_async_end(&ends_there);        /* takes what it needs a lock for                         */
    PERF_REL_(&met, 1u);
    wait_until(2);
    perf_async_end(&ends_there);
    PERF_REL_(&met, 3u);
    return unused;
}

static void lets_it_end(void)
{
    PERF_REL_(&met, 2u);
    wait_until(3);
}

static void ends_within_a_reset(void)
{
    pthread_t t;
    int       k;

    for (k = 1; k < 3; k++) {
        met = 0;
        ends_there = perf_async_begin("within", 0);
        if (pthread_create(&t, NULL, ends_twice, NULL))
            exit(1);
        wait_until(1);
        ends_there = perf_async_begin("within", 0);
        now_ns += 9;
        at_reading = lets_it_end;
        readings = k;
        perf_reset();
        CHECK(!readings, "the reset reads the clock twice");
        (void)pthread_join(t, NULL);
        EQUAL("a span that ends within a reset", row_of("within", "async").total, 0);
    }
}

/* The last value of a counter is the last in time, whoever said it; spans of all threads have ids of their own. */
static perf_async span_there;

static void *counts(void *unused)
{
    perf_count("shared", 5);
    span_there = perf_async_begin("shared", 0);
    perf_async_end(&span_there);
    return unused;
}

static void values_of_threads(void)
{
    perf_async one, two, given;
    pthread_t  t;

    perf_reset();
    perf_count("shared", 3);
    one = perf_async_begin("shared", 0);
    two = perf_async_begin("shared", 0);
    given = perf_async_begin("shared", 42);
    now_ns += 10;
    pthread_create(&t, NULL, counts, NULL);
    pthread_join(t, NULL);
    EQUAL("the other's is later", row_of("shared", "counter").last, 5);
    now_ns += 10;
    perf_count("shared", 4);
    EQUAL("ours is later", row_of("shared", "counter").last, 4);
    EQUAL("mean of both", row_of("shared", "counter").mean, 4);
    CHECK(one.id != two.id && one.id >> 40 != span_there.id >> 40 && given.id == 42, "ids: %lx, %lx, %lx, %lx",
          (unsigned long)one.id, (unsigned long)two.id, (unsigned long)span_there.id, (unsigned long)given.id);
    perf_async_end(&one);
    perf_async_end(&two);
    perf_async_end(&given);
    EQUAL("spans", row_of("shared", "async").total, 60);
}

/* A jump out of scopes over a reset: the one that catches it knows how many are missing. */
static void resets_and_jumps(void)
{
    perf_scope a, b;

    perf_reset();
    {
        PERF_SCOPE("catcher");
        now_ns += 10;
        if (!setjmp(escape)) {
            PERF_SCOPE("jumper");
            perf_reset();
            now_ns += 3;
            longjmp(escape, 1);
        }
        now_ns += 4;
    }
    EQUAL("catcher", row_of("catcher", "scope").self, 7);
    EQUAL("open", number_of("open"), 0);
    LOST(ABANDONED, 1);
    a = perf_scope_begin("a");
    b = perf_scope_begin("b");
    perf_reset();
    now_ns += 5;
    perf_scope_end(&a);
    now_ns += 6;
    perf_scope_end(&b);
    EQUAL("a", row_of("a", "scope").self, 5);
    EQUAL("b", row_of("b", "scope").mean, 11);
    EQUAL("b's self, the rest lies in a", row_of("b", "scope").self, 6);
    EQUAL("open", number_of("open"), 0);
    LOST(ABANDONED, 0);
    LOST(DISORDERED, 1);
    perf_reset();
}

/* Spans and laps that recording does not see whole are left out, and are no misuse. */
static void off_and_on(void)
{
    perf_async a;
    perf_lap   lap;

    perf_reset();
    perf_enable(0);
    a = perf_async_begin("span", 0);
    lap = perf_lap_begin();
    now_ns += 5;
    perf_enable(1);
    perf_async_end(&a);
    PERF_LAP(&lap, "begun while off");
    now_ns += 7;
    PERF_LAP(&lap, "whole");
    now_ns += 7;
    perf_enable(0);
    PERF_LAP(&lap, "ended while off");
    now_ns += 1000;
    perf_enable(1);
    perf_lap_end(&lap, "begun while off");
    now_ns += 2;
    perf_lap_end(&lap, "whole");
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    EQUAL("span", row_of("span", "async").calls, 0);
    EQUAL("laps", row_of("whole", "scope").calls, 2);
    EQUAL("laps", row_of("whole", "scope").total, 9);
    EQUAL("laps", row_of("begun while off", "scope").calls, 0);
    EQUAL("laps", row_of("ended while off", "scope").calls, 0);
    perf_enable(0);
    perf_async_end(&a);
    perf_enable(1);
    CHECK(perf_error() == PERF_OK, "a second end while off is no mistake that counts");
    perf_async_end(&a);
    CHECK(perf_error() == PERF_ESTATE, "a second end is one");
    lap = perf_lap_begin();
    perf_enable(0);
    perf_lap_end(&lap, "ended while off");
    now_ns += 1000;
    perf_enable(1);
    perf_lap_end(&lap, "partly off");
    EQUAL("a lap that was off", row_of("partly off", "scope").calls, 0);
}

/* As in a signal handler that comes while its thread is inside: what is new there is not counted, and
 * that is said. */
static void in_a_handler(void)
{
    perf_registry_ *r = perf_registry_get_();

    perf_reset();
    if (perf_lock_(r)) {
        perf_scope s = perf_scope_begin("new in a handler");
        leaf(1);
        perf_scope_end(&s);
        perf_unlock_(&r->lock);
    }
    EQUAL("a known one is counted", row_of("leaf", "scope").calls, 1);
    LOST(LOST, 1);
    CHECK(perf_error() == PERF_ELIMIT, "%s", perf_status_text(perf_error()));
}

/* The same in a thread that has marked nothing yet: none of its marks finds a recorder, none waits. */
static void first_in_a_handler(void)
{
    const perf_core_ *core = perf_core_get_();
    perf_registry_   *r = perf_registry_get_();
    perf_recorder_   *me;
    perf_scope        s, open, outside;
    perf_async        span, spans;
    perf_lap          lap, l;
    perf_fiber        from = PERF_ZERO, to = PERF_ZERO;

    perf_reset();
    open = outside = perf_scope_begin("begun outside");
    spans = span = perf_async_begin("span begun outside", 0);
    lap = perf_lap_begin();
    me = perf_self_v1_;
    if (perf_lock_(r)) {
        perf_self_v1_ = NULL;
        {
            PERF_SCOPE("never seen");
            PERF_WAIT("never seen");
            PERF_COUNT("never seen", 1);
            PERF_INSTANT("never seen");
            PERF_LAP(&lap, "never seen");
        }
        s = perf_scope_begin("never seen");
        perf_scope_end(&s);
        perf_scope_end(&outside);
        perf_count("never seen", 1);
        perf_instant("never seen");
        perf_scope_value("never seen", 1);
        perf_async_end(&spans);
        spans = perf_async_begin("never seen", 7);
        perf_async_end(&spans);
        l = perf_lap_begin();
        core->async_begin(&spans, "never seen", 7);
        perf_fiber_switch(&from, &to);
        perf_thread_name("never seen");
        core->misuse();
        CHECK(!perf_self_v1_ && !s.rec && !l.rec && !from.rec && !to.rec, "no recorder");
        CHECK(r->lost == 14 && me->name[0] == '\0', "%g: marks, and ends of marks; nobody was taken for this thread", (double)r->lost);
        perf_self_v1_ = me;
        perf_unlock_(&r->lock);
    }
    now_ns += 6;
    perf_async_end(&span);
    perf_scope_end(&open);
    CHECK(place_of("never seen", PERF_SORT_NAME) == 0, "none of them is counted");
    EQUAL("what was open goes on", row_of("begun outside", "scope").total, 6);
    EQUAL("a span, too", row_of("span begun outside", "async").total, 6);
    LOST(MISUSED, 0);
}

/* As if a million names were there: a new one is not counted, which is said; the known ones are. */
static void names_run_out(void)
{
    perf_registry_ *r = perf_registry_get_();
    uint32_t        count = r->count;
    perf_async      span;
    perf_lap        lap;

    perf_reset();
    lap = perf_lap_begin();
    r->count = PERF_DIFFERENT_NAMES_;
    {
        PERF_SCOPE("one too many");
        perf_scope s = perf_scope_begin("one too many by name");
        perf_scope_end(&s);
        PERF_COUNT("one too many", 1);
        PERF_INSTANT("one too many");
        now_ns += 5;
        PERF_LAP(&lap, "one too many");
        perf_lap_end(&lap, "one too many by name");
        span = perf_async_begin("one too many", 1);
        perf_async_end(&span);
        leaf(3);
    }
    r->count = count;
    CHECK(perf_error() == PERF_ELIMIT, "%s", perf_status_text(perf_error()));
    LOST(LOST, 7);                      /* a scope, one by name, a count, an instant, two laps, a span */
    CHECK(place_of("one too many", PERF_SORT_NAME) == 0, "not counted");
    EQUAL("a known name", row_of("leaf", "scope").total, 3);
    perf_reset();
    {
        PERF_SCOPE("one too many");
        now_ns += 2;
        PERF_LAP(&lap, "one too many");
    }
    EQUAL("room again: the scope and, in it, the lap of its name", row_of("one too many", "scope").calls, 2);
    EQUAL("whose time is the scope's already", row_of("one too many", "scope").total, 2);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
}

/* Names of one hash (32 bits of FNV-1a): of another length, of the same length, of another kind. */
static void same_hash(void)
{
    static const char *const name[] = {"costarring", "liquid", "declinate", "macallums", "bone"};
    size_t i;

    perf_reset();
    for (i = 0; i < sizeof name / sizeof name[0]; i++) {
        perf_scope s = perf_scope_begin(name[i]);
        now_ns += i + 1;
        perf_scope_end(&s);
    }
    perf_count("aone", 9);              /* the kind counts as part of the first letter */
    for (i = 0; i < sizeof name / sizeof name[0]; i++)
        EQUAL(name[i], row_of(name[i], "scope").total, (double)i + 1);
    EQUAL("aone", row_of("aone", "counter").last, 9);
}

/* The system has given the id of an ended thread to this one: it goes on with that recorder. */
static void id_comes_again(void)
{
    perf_registry_ *r = perf_registry_get_();
    perf_recorder_ *t = perf_recorder_get_();
    uint64_t        alive = r->alive, threads = r->threads;

    perf_reset();
    t->gone = 1;
    r->alive--;
    perf_self_v1_ = NULL;
    leaf(7);
    CHECK(perf_self_v1_ == t && !t->gone && r->alive == alive && r->threads == threads, "the same recorder");
    EQUAL("counted there", row_of("leaf", "scope").total, 7);
}

/* A phase that another thread has begun is counted, and told. */
static perf_lap theirs;
static void    *begin_lap(void *unused)
{
    theirs = perf_lap_begin();
    return unused;
}

static void lap_of_another(void)
{
    pthread_t t;

    perf_reset();
    pthread_create(&t, NULL, begin_lap, NULL);
    pthread_join(t, NULL);
    now_ns += 11;
    PERF_LAP(&theirs, "phase of two");
    EQUAL("phase of two", row_of("phase of two", "scope").mean, 11);
    LOST(FOREIGN, 1);
    now_ns += 2;
    PERF_LAP(&theirs, "phase of one");
    EQUAL("phase of one", row_of("phase of one", "scope").total, 2);
    LOST(FOREIGN, 1);
}

/* A scope that another thread ends is in no total, also where a duration like that is nothing new. */
static perf_scope lent;
static void      *end_lent(void *unused)
{
    perf_scope_end(&lent);
    return unused;
}

static void scope_of_another(void)
{
    pthread_t   t;
    perf_scope  outer;
    perf_cell_ *here;
    uint64_t    inside;
    int         i;

    perf_reset();
    outer = perf_scope_begin("lender");
    here = perf_self_v1_->open;
    for (i = 0; i < 2; i++) {
        lent = perf_scope_begin("lent");
        now_ns += 11;
        perf_scope_end(&lent);
    }
    lent = perf_scope_begin("lent");
    now_ns += 11;
    inside = here->inside;
    pthread_create(&t, NULL, end_lent, NULL);
    pthread_join(t, NULL);
    EQUAL("lent, here and there", row_of("lent", "scope").calls, 3);
    EQUAL("lent, here", row_of("lent", "scope").total, 22);
    CHECK(here->inside == inside, "the time of this thread");
    perf_scope_end(&outer);                     /* leaves the lent one, too                       */
    LOST(FOREIGN, 1);
    LOST(ABANDONED, 0);
}

static void *leaves(void *unused)
{
    int i;

    for (i = 0; i < 5; i++)
        leaf(1);
    return unused;
}

/* Without a trace everything is counted as before, and the file knows of nothing, nor does a thread that
 * has never had a ring.                                                                           */
static void no_trace(void)
{
    perf_async span;
    perf_lap   lap;
    pthread_t  t;
    char      *text;

    perf_reset();
    perf_trace_enable(0);
    pthread_create(&t, NULL, leaves, NULL);
    pthread_join(t, NULL);
    leaves(NULL);
    EQUAL("leaves", row_of("leaf", "scope").calls, 10);
    lap = perf_lap_begin();
    {
        PERF_SCOPE("untraced");
        now_ns += 9;
        span = perf_async_begin("untraced", 0);
        PERF_COUNT("untraced", 4);
        PERF_INSTANT("untraced");
        perf_scope_value("untraced", 3);
        now_ns += 2;
        perf_async_end(&span);
    }
    PERF_LAP(&lap, "untraced lap");
    EQUAL("scope", row_of("untraced", "scope").total, 11);
    EQUAL("span", row_of("untraced", "async").total, 2);
    EQUAL("counter", row_of("untraced", "counter").last, 4);
    EQUAL("instants", row_of("untraced", "instant").calls, 2);
    EQUAL("lap", row_of("untraced lap", "scope").total, 11);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text) && !strstr(text, "untraced"), "%s", text);
    free(text);
    perf_trace_enable(1);
    leaf(1);
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(count_of(text, "\"name\":\"leaf\"") == 1 && !strstr(text, "untraced"), "%s", text);
    free(text);
    remove(scratch_file());
}

/* A clock that runs backwards; a file that times by another clock than the others, which is told, but
 * where the counter was found bad no file can be at fault. */
static void odd_clocks(void)
{
    perf_registry_ *r = perf_registry_get_();
    static perf_site_ first = {"of a file", __FILE__, __LINE__, 0};
    static perf_site_ second = {"by another clock", __FILE__, __LINE__, 0};
    perf_scope span;
    uint64_t   before = now_ns;

    perf_reset();
    r->warnings = 0;
    CHECK(!(perf_clock().warnings & PERF_CLOCK_BACKWARDS), "%u", perf_clock().warnings);
    backwards = 1;
    CHECK(perf_clock().warnings & PERF_CLOCK_BACKWARDS, "%u", perf_clock().warnings);
    backwards = 0;
    now_ns = before;
    r->warnings = PERF_CLOCK_NOT_INVARIANT;
    CHECK(perf_core_get_()->begin(&span, &first, PERF_SELF_AT_, (int)r->clock), "begun");
    perf_core_get_()->end(&span, perf_ticks());
    CHECK(perf_clock().warnings == PERF_CLOCK_NOT_INVARIANT, "%u", perf_clock().warnings);
    r->warnings = 0;
    CHECK(perf_core_get_()->begin(&span, &second, PERF_SELF_AT_, (int)r->clock), "begun");
    now_ns += 8;
    perf_core_get_()->end(&span, perf_ticks());
    CHECK(perf_clock().warnings == PERF_CLOCK_MIXED, "%u", perf_clock().warnings);
    EQUAL("by the clock of the process", row_of("by another clock", "scope").total, 8);
    r->warnings = 0;
}

/* Each sort has a column of its own; a name that waits for a device is a row, and has its note. */
static void sorts(void)
{
    static const char *const name[] = {"often", "long", "most in all"};
    perf_report_opts o = PERF_ZERO;
    char  *text;
    int    i;

    perf_reset();
    for (i = 0; i < 112; i++) {
        perf_scope s = perf_scope_begin(name[i < 100 ? 0 : i < 101 ? 1 : 2]);
        now_ns += i < 100 ? 1 : i < 101 ? 500 : 100;
        perf_scope_end(&s);
    }
    CHECK(place_of("often", PERF_SORT_CALLS) == 1 && place_of("most in all", PERF_SORT_CALLS) == 2, "calls");
    CHECK(place_of("long", PERF_SORT_MAX) == 1 && place_of("often", PERF_SORT_MAX) == 3, "max");
    CHECK(place_of("long", PERF_SORT_MEAN) == 1 && place_of("most in all", PERF_SORT_MEAN) == 2, "mean");
    CHECK(place_of("most in all", PERF_SORT_TOTAL) == 1 && place_of("long", PERF_SORT_TOTAL) == 2, "total");
    for (i = 0; i < 2; i++) {
        o.view = i ? PERF_VIEW_JSON : PERF_VIEW_CSV;
        o.rows = 2;
        o.sort = PERF_SORT_MAX;
        text = (char *)malloc(20000);
        CHECK(perf_report_text(text, 20000, &o) < 20000, "room");
        CHECK(strstr(text, "\"long\"") && strstr(text, "\"most in all\"") && !strstr(text, "\"often\""), "%s", text);
        CHECK(!i || json_valid(text), "%s", text);
        free(text);
    }
    {
        PERF_SCOPE_OF_("for the device", PERF_KIND_SYNC_, sync);
        now_ns += 3000;
    }
    EQUAL("waits for a device", row_of("for the device", "sync").self, 3000);
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "for the device") && strstr(text, "a device"), "%s", text);
    free(text);
    text = report_text(PERF_VIEW_DIAGNOSIS, PERF_SORT_SELF);
    CHECK(strstr(text, "PERF_DIAGNOSIS"), "how to get one: %s", text);
    free(text);
}

/* More names inside each other than the tree has levels: none is lost, the last level has the rest. */
static void deeper(int level)
{
    static char name[150][16];
    perf_scope  s;

    snprintf(name[level], sizeof name[level], "d%03d", level);
    s = perf_scope_begin(name[level]);
    now_ns += 100;
    if (level < 149) {
        deeper(level + 1);
    } else {
        char *text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(strstr(text, "note: 150 scopes are still open, their time") && strstr(text, ", ...\n"), "%.3000s", text);
        free(text);
    }
    perf_scope_end(&s);
}

/* Calls inside their own name, at the time of a report: it says what a longjmp would have done. */
static void in_itself(int levels)
{
    perf_scope s = perf_scope_begin("in itself");
    char      *text;

    if (levels > 1) {
        in_itself(levels - 1);
    } else {
        text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
        CHECK(strstr(text, "note: 3 scopes are still open, ") &&
                  strstr(text, "note: 2 of them recursive, or after a longjmp: "), "%.3000s", text);
        free(text);
    }
    perf_scope_end(&s);
}

static void deep(void)
{
    perf_tree_ *tree;
    uint64_t    self = 0;
    uint32_t    i;
    char       *text;

    perf_reset();
    deeper(0);
    EQUAL("the outermost", row_of("d000", "scope").total, 15000);
    EQUAL("the innermost", row_of("d149", "scope").self, 100);
    tree = perf_tree_make_(perf_registry_get_());
    for (i = 1; i < tree->count; i++)
        self += tree->node[i].self;
    CHECK(self == 15000 && tree->count == 1 + PERF_TREE_DEPTH_, "%lu in %u nodes", (unsigned long)self, tree->count);
    PERF_FREE(tree);
    text = report_text(PERF_VIEW_TREE, PERF_SORT_SELF);
    CHECK(strstr(text, " d127\n") && !strstr(text, "d128"), "%.2000s", text);
    free(text);
}

/* What a terminal or a reader of CSV would choke on. */
static void hostile_names(void)
{
    const char *const name[] = {"bad \xff\xc3 end", "csi \xc2\x9b""31m", "cut \xe6\x97", "tab\t\x1b[31m\x7f",
                                "fine \xe6\x97\xa5 \xc2\xa0"};
    char   big[301];
    size_t i;
    static perf_tally tally;

    perf_reset();
    for (i = 0; i < sizeof name / sizeof name[0]; i++) {
        perf_scope s = perf_scope_begin(name[i]);
        perf_scope_end(&s);
    }
    CHECK(row_of("bad \xef\xbf\xbd\xef\xbf\xbd end", "scope").calls == 1, "not UTF-8");
    CHECK(row_of(name[4], "scope").calls == 1, "UTF-8");
    memset(big, 'y', 300);
    big[300] = '\0';
    for (i = 0; i < 3; i++) {
        perf_scope s = perf_scope_begin(i == 1 ? "" : big);
        perf_scope_end(&s);
    }
    CHECK(perf_tally_of(big, 0, &tally) == PERF_OK && tally.calls == 2, "as it was cut");
    CHECK(number_of("cut_names") == 1, "%g of one name", number_of("cut_names"));
    CHECK(perf_tally_of("", 0, &tally) == PERF_OK && tally.calls == 1, "empty");
    big[254] = '\0';
    CHECK(perf_tally_of(big, 0, &tally) == PERF_ENODATA, "another one");
}

/* A tree of 300,000 siblings, in an order that looks random: this hangs where each is looked for. */
static void wide_tree(void)
{
    const uint32_t n = 300000;
    perf_tree_    *tree = perf_tree_make_(perf_registry_get_());
    uint32_t       i, node, from = tree->count, seen = 0;

    for (i = 0; i < n; i++) {
        node = perf_tree_child_(&tree, 0, 1000 + i);
        tree->node[node].total = i * UINT64_C(7919) % n;
        node = perf_tree_child_(&tree, node, 7);
        tree->node[node].total = 1;
    }
    for (i = 0; i < n; i += 1000) {
        node = perf_tree_child_(&tree, 0, 1000 + i);
        CHECK(tree->node[node].name == 1000 + i, "found again");
    }
    CHECK(tree->count == from + 2 * n, "%u nodes", tree->count);
    perf_tree_sort_(tree);
    for (i = 1; i < tree->count && tree->node[i].name != 7; i++) {
    }
    for (; i + 1 < tree->count; i += 2, seen++)
        if (tree->node[i].name != 7 || tree->node[i].parent != i - 1 || tree->node[i + 1].parent != 0 ||
            tree->node[i + 1].total > tree->node[i - 1].total)
            break;
    CHECK(seen == n - 1, "%u in order", seen);
    PERF_FREE(tree);
}

static void switches(void)
{
    perf_reset();
    perf_enable(0);
    leaf(5);
    {
        perf_scope s = perf_scope_begin("off");
        PERF_SCOPE("crosses on");
        PERF_COUNT("off", 1);
        now_ns += 5;
        perf_enable(1);
        perf_scope_end(&s);
    }
    EQUAL("off", row_of("leaf", "scope").calls, 0);
    EQUAL("off", row_of("off", "scope").calls, 0);
    EQUAL("begun while off", row_of("crosses on", "scope").calls, 0);
    {
        PERF_SCOPE("crosses off");
        now_ns += 5;
        perf_enable(0);
    }
    perf_enable(1);
    EQUAL("begun while on", row_of("crosses off", "scope").calls, 1);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
}

static void views(void)
{
    char  *text;
    char   small[10];
    size_t n;

    perf_reset();
    {
        PERF_SCOPE("zzz \"quoted\", \\ and \n");
        now_ns += 90;
        leaf(10);
    }
    text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF);
    CHECK(json_valid(text), "%s", text);
    free(text);
    EQUAL("total", row_of("zzz \"\"quoted\"\", \\ and \n", "scope").total, 100);
    CHECK(place_of("leaf", PERF_SORT_NAME) == 1 && place_of("leaf", PERF_SORT_TOTAL) > 1, "sorted");
    n = perf_report_text(small, sizeof small, NULL);
    CHECK(n > 100 && strlen(small) == 9, "%zu %zu", n, strlen(small));
    CHECK(perf_report_text(NULL, 0, NULL) == n, "%zu", n);
    CHECK(perf_report_to(NULL, NULL) == PERF_EINVAL, "NULL file");
}

/* Names whose cells stand at one place of the table that the hot path looks into.  It has 128 places in a
 * thread of few names, so they are 128 names apart.                                               */
static void scope_a(void)
{
    PERF_SCOPE("place a");
    now_ns += 10;
}

static void scope_b(void)
{
    PERF_SCOPE("place b");
    now_ns += 1000;
}

static void lap_a(perf_lap *lap)
{
    now_ns += 30;
    PERF_LAP(lap, "lap a");
}

static void lap_b(perf_lap *lap)
{
    now_ns += 30;                               /* no other length: that would tell them apart     */
    PERF_LAP(lap, "lap b");
}

static void *same_place(void *unused)
{
    perf_lap lap;
    int      i;

    for (i = 0; i < 20; i++) {
        scope_a();
        scope_a();
        scope_b();
        scope_b();
    }
    lap = perf_lap_begin();
    for (i = 0; i < 20; i++) {
        lap_a(&lap);
        lap_a(&lap);
        lap_b(&lap);
        lap_b(&lap);
    }
    return unused;
}

static void names_of_one_place(void)
{
    char       name[40];
    perf_scope s;
    perf_lap   lap = perf_lap_begin();
    pthread_t  t;
    int        i;

    scope_a();
    lap_a(&lap);
    for (i = 2; i < 128; i++) {
        snprintf(name, sizeof name, "place %d", i);
        s = perf_scope_begin(name);
        perf_scope_end(&s);
    }
    scope_b();
    lap_b(&lap);
    perf_reset();
    pthread_create(&t, NULL, same_place, NULL);
    pthread_join(t, NULL);
    EQUAL("scope a", row_of("place a", "scope").calls, 40);
    EQUAL("scope a", row_of("place a", "scope").max, 10);
    EQUAL("scope b", row_of("place b", "scope").calls, 40);
    EQUAL("scope b", row_of("place b", "scope").min, 1000);
    EQUAL("lap a", row_of("lap a", "scope").calls, 40);
    EQUAL("lap b", row_of("lap b", "scope").calls, 40);
}

int main(void)
{
    still_open();
    perf_reset();
    nesting();
    recursion();
    jumps();
    disorder();
    sums();
    percentiles();
    extremes();
    outer_first();
    known_outer_first();
    known_disorder();
    ends_again();
    laps_within();
    laps_across();
    laps_of_callers();
    others();
    resets();
    resets_and_late_ones();
    resets_of_others();
    ends_within_a_reset();
    values_of_threads();
    resets_and_jumps();
    disorder_of_three();
    switches();
    off_and_on();
    in_a_handler();
    first_in_a_handler();
    names_run_out();
    same_hash();
    id_comes_again();
    lap_of_another();
    scope_of_another();
    no_trace();
    odd_clocks();
    sorts();
    deep();
    in_itself(3);
    hostile_names();
    views();
    perf_reset();
    wide_tree();
    names_of_one_place();
    return check_done();
}
