/* Values and texts on scopes and instants, as the ring keeps them, and fibres: depth, self time. */
#include <stdint.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TRACE_EVENTS 64
#include "rows.h"

#define EQUAL(what, x, to) CHECK((x) > (to) - 0.01 && (x) < (to) + 0.01, "%s: %.3f", what, x)

typedef struct found {
    uint32_t    remarks, depth;
    perf_seen_  seen[20];
    perf_zone_  zone;
    int         there;
} found;

/* The newest event of that name, with its remarks in the order they were made. */
static found find(const char *name)
{
    perf_registry_ *r = perf_registry_read_();
    perf_events_    e;
    uint64_t        i, k;
    uint32_t        n;
    found           f;

    memset(&f, 0, sizeof f);
    CHECK(perf_events_copy_(&e, r, perf_recorder_get_()), "copy");
    for (i = 0; i < e.count && !f.there;) {
        if (!perf_zone_at_(&e, &i, r, &f.zone) || strcmp(r->names[f.zone.name]->site.name, name))
            continue;
        f.there = 1;
        f.depth = f.zone.depth;
        for (k = f.zone.remarks; k < i; k += n) {
            n = perf_remark_read_(&e.event[k], i - k, &f.seen[f.remarks]);
            CHECK(n > 0, "a part that is no remark");
            if (!n)
                break;
            f.remarks += f.seen[f.remarks].kind != PERF_REMARK_FIBER_;
        }
    }
    PERF_FREE(e.event);
    return f;
}

static const char *name_of(const perf_seen_ *m)
{
    return perf_registry_read_()->names[m->name]->site.name;
}

static void remarks(void)
{
    static const char *const long_text = "0123456789012345678901234567890123456789012345678901234567"
                                         "89ABC tail that is cut";
    found    f;
    unsigned i;

    {
        PERF_SCOPE("query");
        PERF_SCOPE_VALUE("rows", 42);
        {
            PERF_SCOPE("inner");
            now_ns += 5;
        }
        PERF_SCOPE_TEXT("file", "/tmp/8");
        perf_scope_text("long", long_text);
        perf_scope_text("eight", "12345678");
        perf_scope_text("none", NULL);
        perf_scope_text("empty", "");
        now_ns += 7;
    }
    f = find("query");
    CHECK(f.there && f.remarks == 6 && f.depth == 1 && f.zone.length == 12, "%u", f.remarks);
    CHECK(f.seen[0].kind == PERF_REMARK_IS_VALUE_ && f.seen[0].value == 42.0, "%g", f.seen[0].value);
    CHECK(!strcmp(name_of(&f.seen[0]), "rows"), "%s", name_of(&f.seen[0]));
    CHECK(!strcmp(f.seen[1].text, "/tmp/8") && !strcmp(name_of(&f.seen[1]), "file"), "%s",
          f.seen[1].text);
    CHECK(strlen(f.seen[2].text) == 63 && !strncmp(f.seen[2].text, long_text, 63), "%s",
          f.seen[2].text);
    CHECK(!strcmp(f.seen[3].text, "12345678"), "%s", f.seen[3].text);
    CHECK(!strcmp(f.seen[4].text, "(null)"), "%s", f.seen[4].text);
    CHECK(!strcmp(f.seen[5].text, ""), "%s", f.seen[5].text);
    CHECK(find("inner").there && find("inner").remarks == 0, "inner has none");
    for (i = 0; i < 3; i++) {                   /* and the next call has none                     */
        PERF_SCOPE("query");
        now_ns += 12;
    }
    CHECK(find("query").there && find("query").remarks == 0, "the next call has none");
    CHECK(row_of("query", "scope").calls == 4, "%g", row_of("query", "scope").calls);
    CHECK(row_of("query", "scope").self == 43, "%g", row_of("query", "scope").self);

    perf_instant_text("miss", "key 7");
    perf_instant("hit");
    f = find("miss");
    CHECK(f.there && f.remarks == 1 && !strcmp(f.seen[0].text, "key 7"), "%s", f.seen[0].text);
    CHECK(find("hit").there && !find("hit").remarks, "hit");
    {
        PERF_SCOPE("long scope");               /* a length that stands apart, and a remark       */
        PERF_SCOPE_VALUE("n", -1.5);
        now_ns += UINT64_C(1) << 40;
    }
    f = find("long scope");
    CHECK(f.remarks == 1 && f.zone.length == UINT64_C(1) << 40 && f.seen[0].value == -1.5, "long");
}

static void deeper(int n)
{
    PERF_SCOPE("deeper");
    now_ns += 1;
    PERF_SCOPE_VALUE("n", n);
    if (n)
        deeper(n - 1);
    now_ns += 1;
}

static void odd(void)
{
    perf_scope a, b;
    found      f;
    int        i;

    deeper(5);
    f = find("deeper");                         /* the outermost ends last                        */
    CHECK(f.remarks == 1 && f.seen[0].value == 5.0 && f.depth == 1, "%g", f.seen[0].value);
    a = perf_scope_begin("around");
    b = perf_scope_begin("lost");
    PERF_SCOPE_VALUE("of lost", 1);
    now_ns += 3;
    perf_scope_end(&a);                         /* `lost` never ends, its remark is nobody's      */
    CHECK(find("around").there && find("around").remarks == 0, "%u", find("around").remarks);
    a = perf_scope_begin("around");
    now_ns += 2;
    {
        PERF_SCOPE("again");                    /* as deep as `lost` was                          */
        PERF_SCOPE_VALUE("of again", 2);
        now_ns += 2;
    }
    perf_scope_end(&a);
    f = find("again");
    CHECK(f.remarks == 1 && f.seen[0].value == 2.0, "%u", f.remarks);
    perf_scope_end(&b);
    perf_reset();
    CHECK(perf_error() == PERF_OK, "clean");
    PERF_SCOPE_VALUE("on nothing", 1);
    CHECK(perf_error() == PERF_ESTATE, "on no scope");
    perf_reset();
    {
        PERF_SCOPE("many");
        for (i = 0; i < 20; i++)
            PERF_SCOPE_VALUE("i", i);
        now_ns += 1;
    }
    CHECK(perf_error() == PERF_ELIMIT, "%s", perf_status_text(perf_error()));
    CHECK(perf_recorder_get_()->losses[PERF_LOSS_LOST_] == 4, "four too many");
    CHECK(find("many").remarks == 16 && find("many").seen[15].value == 15.0, "the first sixteen");
    CHECK(perf_recorder_get_()->remarks == 0, "none waits");
    perf_reset();
    perf_trace_enable(0);
    {
        PERF_SCOPE("untraced");
        PERF_SCOPE_VALUE("i", 1);
    }
    CHECK(perf_recorder_get_()->remarks == 0 && row_of("untraced", "scope").calls == 1, "no trace");
    perf_trace_enable(1);
}

/* Two fibres take turns inside scopes of their own, under the loop that runs them. */
static void fibers(void)
{
    perf_fiber home = PERF_ZERO, one = PERF_ZERO, two = PERF_ZERO;
    perf_scope loop, a, b, inner;

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
    now_ns += 100;
    perf_fiber_switch(&two, &one);
    CHECK(perf_depth_(perf_recorder_get_()) == 1, "%u", perf_depth_(perf_recorder_get_()));
    now_ns += 20;
    PERF_SCOPE_VALUE("of one", 1);
    perf_fiber_switch(&one, &two);
    PERF_SCOPE_VALUE("of two", 2);
    now_ns += 200;
    perf_scope_end(&inner);
    perf_scope_end(&b);
    perf_fiber_switch(&two, &one);
    now_ns += 40;
    perf_scope_end(&a);
    CHECK(find("a").remarks == 1 && find("a").seen[0].value == 1.0, "its own remark");
    perf_fiber_switch(&one, &home);
    now_ns += 2;
    perf_scope_end(&loop);
    EQUAL("loop self", row_of("loop", "scope").self, 3);
    EQUAL("loop total", row_of("loop", "scope").total, 373);
    EQUAL("a self, both", row_of("a", "scope").self, 70 + 300);
    EQUAL("b self", row_of("b", "scope").self, 0);
    EQUAL("b total", row_of("b", "scope").total, 320);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    perf_fiber_switch(NULL, &home);
    perf_fiber_switch(&home, &home);
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

int main(void)
{
    uint64_t seed = 1;

    remarks();
    odd();
    fibers();
    for (; seed < 200; seed++)
        walk(seed);
    return check_done();
}
