/* Do the bench loop and the A/B loop end, count, and say what they could not measure?
 * The clock is made up: it moves by what bodies spend and by 20 ns a reading.  Only where a compiler
 * shall delete a body does it show this program's processor time.                                */
#define PERF_CLOCK_FN test_clock
#include <stdint.h>
static uint64_t test_clock(void);
#include "perf.h"
#include "check.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

static uint64_t now_ns = UINT64_C(1) << 40;
static int      real_clock;

static uint64_t test_clock(void)
{
    now_ns += 20;
    if (!real_clock)
        return now_ns;
    return (UINT64_C(1) << 41) + (uint64_t)((double)clock() * (1e9 / (double)CLOCKS_PER_SEC));
}

static void spend(uint64_t ns)
{
    now_ns += ns;
}

static NOINLINE CHECK_UNUSED uint64_t chain(uint64_t x, long n)
{
    for (; n > 0; n--)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return x;
}

static int wasted(int a)                        /* pure: without perf_keep a compiler deletes it  */
{
    int i, s = 0;
    for (i = 0; i < 100; i++)
        s += a * i;
    return s;
}

static void a_bench(void)
{
    perf_bench_opts o = PERF_ZERO;
    uint64_t        bodies = 0;
    perf_result     r;
    perf_bench      b;

    b = perf_bench_begin("chain", NULL);
    while (perf_bench_next(&b)) {
        spend(300);
        bodies++;
    }
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count >= 30 && r.time.count <= 1000, "%s, %lu slices",
          perf_status_text(r.status), (unsigned long)r.time.count);
    CHECK(r.iterations == bodies, "counted %lu of %lu iterations", (unsigned long)r.iterations,
          (unsigned long)bodies);
    CHECK(r.time.min > 0.0 && r.time.min <= r.time.p50 && r.time.p50 <= r.time.p95 &&
              r.time.p95 <= r.time.p99 && r.time.p99 <= r.time.max, "ordered");
    CHECK(r.time.p50_low <= r.time.p50 && r.time.p50 <= r.time.p50_high, "interval holds median");
    CHECK(r.first_ns > 0.0 && r.overhead_ns > 0.0 && r.batch > 1, "cold %g overhead %g", r.first_ns,
          r.overhead_ns);
    CHECK(r.opts.warmup == 5 && r.opts.rel_ci == 0.01 && r.opts.slice_ns == 50e3, "resolved");
    o.samples = 17;
    o.warmup = -1;
    b = perf_bench_begin("exactly 17 slices", &o);
    while (perf_bench_next(&b)) {
        spend(100);
    }
    r = perf_bench_end(&b);
    CHECK(r.time.count == 17, "%lu slices", (unsigned long)r.time.count);
    memset(&o, 0, sizeof o);
    o.max_seconds = 0.01;
    o.rel_ci = 1e-6;                            /* cannot be reached: the budget must end it      */
    bodies = 0;
    b = perf_bench_begin("budget", &o);
    while (perf_bench_next(&b)) {
        spend(100000);
        bodies++;
    }
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_OK && r.time.count >= 1 && r.iterations == bodies, "budget: %lu slices",
          (unsigned long)r.time.count);
}

/* What is too large ends at the end of its range; what cannot be meant is refused by its name. */
/* What a body tells its loop, in a program without perf_main.h. */
static void told(void)
{
    perf_bench_opts opts = PERF_ZERO;
    perf_bench      b;
    perf_result     r;
    char            name[32];
    int             i;

    opts.samples = 5;
    opts.slice_ns = 1e3;
    b = perf_bench_begin("rates", &opts);
    perf_bench_rates(&b, 64.0, 2.0);
    perf_bench_counter(&b, "wheels", 4.0);
    while (perf_bench_next(&b))
        spend(1000);
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_OK && r.gb_per_s > 0.0 && r.items_per_s > 0.0, "%s", perf_result_text(&r));
    CHECK(r.gb_per_s * 1e9 > r.items_per_s * 31.9 && r.gb_per_s * 1e9 < r.items_per_s * 32.1, "bytes an item");

    b = perf_bench_begin("fails", &opts);
    while (perf_bench_next(&b)) {
        spend(1000);
        perf_bench_fail(&b, "another checksum");
    }
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_EFAILED, "%s", perf_result_text(&r));

    b = perf_bench_begin("no rate", &opts);
    perf_bench_rates(&b, -1.0, 0.0);
    while (perf_bench_next(&b))
        spend(1000);
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_EFAILED, "%s", perf_result_text(&r));

    b = perf_bench_begin("too many counters", &opts);
    for (i = 0; i < 17; i++) {
        snprintf(name, sizeof name, "counter %d", i);
        perf_bench_counter(&b, name, 1.0);
    }
    while (perf_bench_next(&b))
        spend(1000);
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_EFAILED, "%s", perf_result_text(&r));

    perf_bench_rates(NULL, 1.0, 1.0);                       /* nothing happens                    */
    perf_bench_fail(&b, "the loop has ended");
    perf_bench_counter(&b, NULL, 1.0);
    CHECK(perf_bench_end(&b).status != PERF_OK, "the loop has ended");
}

static void odd_options(void)
{
    static const char *const member[] = {"max_seconds", "min_seconds", "rel_ci",   "slice_ns",
                                         "bytes",       "items",       "flops",    "peak_gb_per_s",
                                         "peak_gflop_per_s"};
    perf_bench_opts o;
    perf_ab_opts    p;
    perf_result     r;
    perf_ab_result  d;
    perf_bench      b;
    perf_ab         ab;
    size_t          i, runs = 0;

    memset(&o, 0, sizeof o);
    o.warmup = 1 << 30;
    o.slice_ns = 1e300;
    b = perf_bench_begin("odd", &o);
    o = perf_bench_end(&b).opts;
    CHECK(o.samples == 0 && o.rel_ci == 0.01 && o.max_seconds == 1.0 && o.slice_ns == 1e9 &&
              o.bytes == 0.0, "the default, or the end of the range");
    memset(&p, 0, sizeof p);
    p.min_pairs = 1 << 30;
    p.max_pairs = 10;
    ab = perf_ab_begin("odd", &p);
    p = perf_ab_end(&ab).opts;
    CHECK(p.min_pairs == 1000000 && p.max_pairs == 1000000 && p.max_seconds == 2.0 &&
              p.accept.rule.amount == 1.3, "A/B options");
    for (i = 0; i < 18; i++) {
        double *const at[] = {&o.max_seconds, &o.min_seconds, &o.rel_ci, &o.slice_ns, &o.bytes,
                              &o.items, &o.flops, &o.peak_gb_per_s, &o.peak_gflop_per_s};
        memset(&o, 0, sizeof o);
        *at[i / 2] = i % 2 ? CHECK_NAN : -1.0;
        b = perf_bench_begin("refused", &o);
        while (perf_bench_next(&b))
            runs++;
        r = perf_bench_end(&b);
        CHECK(r.status == PERF_EINVAL && strstr(r.why, member[i / 2]) &&
                  strstr(perf_result_text(&r), member[i / 2]), "%s: %s", member[i / 2], r.why);
    }
    memset(&o, 0, sizeof o);
    o.samples = -5;
    b = perf_bench_begin("refused", &o);
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_EINVAL && strstr(r.why, "opts.samples"), "%s", r.why);
    b = perf_bench_begin("", NULL);
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_EINVAL && strstr(r.why, "name"), "%s", r.why);
    memset(&p, 0, sizeof p);
    p.max_seconds = -2.0;
    ab = perf_ab_begin("refused", &p);
    while (perf_ab_next(&ab) >= 0)
        runs++;
    d = perf_ab_end(&ab);
    CHECK(d.status == PERF_EINVAL && strstr(d.verdict.reason, "opts.max_seconds"), "%s",
          d.verdict.reason);
    ab = perf_ab_begin("", NULL);
    d = perf_ab_end(&ab);
    CHECK(d.status == PERF_EINVAL && strstr(d.verdict.reason, "name"), "%s", d.verdict.reason);
    CHECK(runs == 0, "none of them ran");
}

/* begin without end, end twice, end before next, next after the end, break, nesting, NULL name. */
static void misuse(void)
{
    perf_bench  b = perf_bench_begin(NULL, NULL), none = PERF_ZERO;
    perf_ab     ab = perf_ab_begin(NULL, NULL), nothing = PERF_ZERO;
    perf_result r;
    uint64_t    outer = 0;
    int         i;

    r = perf_bench_end(&b);
    CHECK(r.status == PERF_ENODATA && r.time.count == 0, "end before next: %s",
          perf_status_text(r.status));
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_ESTATE && r.time.count == 0, "end twice");
    r = perf_bench_end(&none);
    CHECK(r.status == PERF_ESTATE, "end without begin");
    CHECK(perf_ab_end(&ab).status == PERF_ENODATA && perf_ab_end(&ab).status == PERF_ESTATE,
          "A/B: end before next, end twice");
    CHECK(perf_ab_end(&nothing).status == PERF_ESTATE, "A/B: end without begin");
    b = perf_bench_begin("left early", NULL);
    for (i = 0; i < 1000 && perf_bench_next(&b); i++)
        spend(10);
    r = perf_bench_end(&b);
    CHECK((r.warnings & PERF_WARN_STOPPED) && r.iterations == 1000 && r.status == PERF_ENODATA,
          "break is seen, and every iteration: %lu", (unsigned long)r.iterations);
    b = perf_bench_begin("outer", NULL);
    while (perf_bench_next(&b)) {
        perf_bench_opts quick = PERF_ZERO;
        perf_bench      in;
        quick.samples = 1;
        quick.slice_ns = 1000;
        in = perf_bench_begin("inner", &quick);
        while (perf_bench_next(&in))
            spend(10);
        r = perf_bench_end(&in);
        if (++outer == 3)
            break;
    }
    CHECK(outer == 3, "nested loops do not disturb each other");
    r = perf_bench_end(&b);
    b = perf_bench_begin("never ended", NULL);
    CHECK(perf_bench_next(&b), "starts");
    b = perf_bench_begin("run to its end twice", NULL);
    while (perf_bench_next(&b)) {
        spend(1000);
    }
    CHECK(!perf_bench_next(&b) && !perf_bench_next(&b), "stays ended");
    r = perf_bench_end(&b);
    CHECK(r.status == PERF_OK, "%s", perf_status_text(r.status));
    CHECK(!perf_bench_next(&b) && !perf_bench_next(&b), "and after the end");
    CHECK(!perf_bench_next(&none) && perf_bench_end(NULL).status == PERF_ESTATE, "all zero, NULL");
    ab = perf_ab_begin("left early too", NULL);
    for (i = 0; i < 5 && perf_ab_next(&ab) >= 0; i++)
        spend(10);
    CHECK(perf_ab_end(&ab).status == PERF_ENODATA && perf_ab_next(&ab) == -1, "A/B: left early");
    CHECK(perf_ab_next(&nothing) == -1 && perf_ab_end(NULL).status == PERF_ESTATE,
          "A/B: all zero, NULL");
}

/* With optimisation the body is gone: that must be said, in the bench and in the verdict.  By the real
 * clock, which other processes disturb: one undisturbed try of twenty is enough.                  */
static void deleted_body(void)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    perf_bench     b;
    perf_result    r;
    perf_ab_result v;
    perf_ab        ab;
    int            x = 0, variant, said = 0, withheld = 0, tries;

    real_clock = 1;
    for (tries = 0; tries < 20 && !said; tries++) {
        b = perf_bench_begin("deleted", NULL);
        while (perf_bench_next(&b))
            x = wasted(3);
        r = perf_bench_end(&b);
        said = r.status == PERF_EDELETED || (r.warnings & PERF_WARN_EMPTY_BODY) != 0;
    }
    CHECK(said, "%s, %g ns", perf_status_text(r.status), r.time.p50);
    for (tries = 0; tries < 20 && !withheld; tries++) {
        ab = perf_ab_begin("deleted candidate", NULL);
        while ((variant = perf_ab_next(&ab)) >= 0) {
            if (variant) {
                x = wasted(3);
            } else {
                uint64_t y = chain((uint64_t)x, 50);
                perf_keep(y);
            }
        }
        v = perf_ab_end(&ab);
        withheld = v.verdict.decision == PERF_INCONCLUSIVE && strstr(v.verdict.reason, "candidate");
    }
    real_clock = 0;
    CHECK(withheld, "%s", perf_verdict_text(&v.verdict));
#else
    CHECK(wasted(3) == 14850, "nothing is deleted without optimisation");
#endif
}

static void an_ab(void)
{
    perf_ab_opts   o = PERF_ZERO;
    uint64_t       runs[2] = {0, 0};
    int            v, decision;
    perf_ab_result r;
    perf_ab        ab;

    for (decision = 0; decision < 2; decision++) {
        ab = perf_ab_begin(decision ? "twice as fast" : "half as fast", NULL);
        runs[0] = runs[1] = 0;
        while ((v = perf_ab_next(&ab)) >= 0) {
            spend(v == decision ? 100 : 300);
            runs[v]++;
        }
        r = perf_ab_end(&ab);
        CHECK(r.verdict.decision == (decision ? PERF_ACCEPT : PERF_REJECT), "%s",
              perf_verdict_text(&r.verdict));
        CHECK(r.status == PERF_OK && r.verdict.pairs >= 24 && r.baseline.count == r.verdict.pairs &&
                  r.candidate.count == r.verdict.pairs, "%lu pairs", (unsigned long)r.verdict.pairs);
        CHECK(r.opts.seed != 0 && r.first_baseline_ns > 0.0 && r.first_candidate_ns > 0.0 &&
                  runs[0] > r.batch_baseline && runs[1] > r.batch_candidate, "both ran");
    }
    o.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_P95);
    o.max_pairs = 100;
    ab = perf_ab_begin("on p95", &o);
    while ((v = perf_ab_next(&ab)) >= 0)
        spend(v ? 100 : 900);
    r = perf_ab_end(&ab);
    CHECK(r.verdict.pairs == 100 && r.verdict.rule.metric == PERF_METRIC_P95, "%s",
          perf_verdict_text(&r.verdict));
    o.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_MEMORY);
    ab = perf_ab_begin("memory", &o);
    CHECK(perf_ab_next(&ab) == -1 && perf_ab_end(&ab).status == PERF_EINVAL, "it measures time");
    o.accept.rule.amount = -1.0;
    ab = perf_ab_begin("no such rule", &o);
    CHECK(perf_ab_next(&ab) == -1, "an unusable rule runs nothing");
    r = perf_ab_end(&ab);
    CHECK(r.status == PERF_EINVAL && r.verdict.decision == PERF_INCONCLUSIVE, "%s",
          perf_status_text(r.status));
}

/* Every order of a pair comes up, and the same seed gives the same orders. */
typedef struct turns_ {
    int count, again, last;                     /* slices; those of the variant that just ran     */
    uint64_t hash;                              /* of the order                                   */
} turns_;

static void take_turn(void *user, int variant)
{
    turns_ *t = user;

    t->again += t->count++ && t->last == variant;
    t->last = variant;
    t->hash = t->hash * UINT64_C(6364136223846793005) + (uint64_t)variant + 1;
}

static turns_ turns_of(uint64_t seed)
{
    perf_ab_opts o;
    perf_ab      ab;
    turns_       t = {0, 0, 0, 1};
    int          v;

    memset(&o, 0, sizeof o);
    o.seed = seed;
    o.before = take_turn;
    o.user = &t;
    o.min_pairs = o.max_pairs = 1000;
    o.control = -1;
    ab = perf_ab_begin("coin", &o);
    while ((v = perf_ab_next(&ab)) >= 0)
        spend(1000);
    perf_ab_end(&ab);
    return t;
}

static void coin(void)
{
    turns_ a = turns_of(42), b = turns_of(42), c = turns_of(43);

    CHECK(a.count >= 2000 && a.hash == b.hash && a.hash != c.hash, "a seed makes an order");
    CHECK(a.again > 400 && a.again < 600, "each variant begins half of the pairs: %d of %d",
          a.again, a.count / 2);
}

static void keep_takes_anything(void)
{
    struct {
        double a[100];
    } big = {{1.0}};
    int         i = 3, array[5] = {1, 2, 3, 4, 5};
    const char *text = "text";
    float       f = 1.5f;

    perf_keep(i);
    perf_keep(i + 1);
    perf_keep(f * 2.0f);
    perf_keep(big);
    perf_keep(array);
    perf_keep(array[2]);
    perf_keep(text);
    perf_keep("literal");
    perf_keep(&big);
    perf_clobber();
    CHECK(i == 3 && array[4] == 5 && big.a[0] == 1.0, "and changes nothing");
}

/* Two names that differ late stay two; what is longer than 255 bytes is cut, noted and counted. */
static void names(void)
{
    static char     text[65536];
    char            name[400];
    perf_bench_opts o;
    perf_result     r[3];
    perf_bench      b;
    int             i;

    memset(&o, 0, sizeof o);
    o.samples = 1;
    memset(name, 'n', sizeof name);
    for (i = 0; i < 3; i++) {
        name[i < 2 ? 255 : 300] = '\0';
        name[254] = i < 2 ? (char)('a' + i) : 'n';
        b = perf_bench_begin(name, &o);
        while (perf_bench_next(&b))
            spend(300);
        r[i] = perf_bench_end(&b);
        name[255] = 'n';
    }
    CHECK(!(r[0].warnings & (uint32_t)PERF_WARN_NAME) && !(r[1].warnings & (uint32_t)PERF_WARN_NAME),
          "255 bytes are kept");
    CHECK(r[2].warnings & (uint32_t)PERF_WARN_NAME, "300 bytes are noted");
    CHECK(strstr(perf_result_text(&r[2]), "cut to 255 bytes"), "%s", r[2].text);
    perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "1 name was cut to 255 bytes"), "counted");
    CHECK(perf_error() == PERF_ELIMIT, "and an error: %s", perf_status_text(perf_error()));
}

static int shown(const char *name)
{
    static char text[65536];

    perf_report_text(text, sizeof text, NULL);
    return strstr(text, name) != NULL;
}

/* perf_reset() forgets the loops that have ended, and gives their memory back. */
static void reset(void)
{
    static const char *const name[] = {"before", "under way"};
    perf_bench_opts          o;
    perf_bench               b[2], again;
    size_t                   i, same = 0;
    const void              *place = NULL;

    memset(&o, 0, sizeof o);
    o.samples = 1;
    for (i = 0; i < 2; i++) {
        b[i] = perf_bench_begin(name[i], &o);
        CHECK(perf_bench_next(&b[i]), "starts");
    }
    while (perf_bench_next(&b[0]))
        spend(300);
    perf_bench_end(&b[0]);
    CHECK(shown("before") && shown("under way"), "both are there");
    perf_reset();
    CHECK(!shown("before") && shown("under way"), "the one that had ended is forgotten");
    while (perf_bench_next(&b[1]))
        spend(300);
    CHECK(perf_bench_end(&b[1]).status == PERF_OK && shown("under way"), "the other goes on");
    perf_reset();
    CHECK(!shown("under way"), "until the next reset");
    for (i = 0; i < 1000; i++) {                /* the system hands out the same pages again       */
        again = perf_bench_begin("again", &o);
        same += again.state == place;
        place = again.state;
        while (perf_bench_next(&again))
            spend(300);
        perf_bench_end(&again);
        perf_reset();
    }
    CHECK(same > 900, "their memory is used again: %lu of 1000", (unsigned long)same);
}

static void report(void)
{
    static char text[65536];
    size_t      n = perf_report_text(text, sizeof text, NULL);

    CHECK(n > 0 && n < sizeof text, "%lu characters", (unsigned long)n);
    CHECK(strstr(text, "chain") && strstr(text, "exactly 17 slices") && strstr(text, "(unnamed)"),
          "benches are listed");
    CHECK(strstr(text, "never ended") && strstr(text, "begun, but not ended"), "open ones too");
    CHECK(strstr(text, "twice as fast: ACCEPT") && strstr(text, "half as fast: REJECT"),
          "verdicts are listed");
    CHECK(strstr(text, "chain") < strstr(text, "exactly 17 slices"), "in the order of begin");
    if (check_failed_)
        printf("%s", text);
}

/* A program that traps divisions by zero may begin any loop: nothing is divided before there is a time. */
static void divides(void)
{
#if defined(__SSE2__) && defined(__GNUC__)
    const unsigned was = __builtin_ia32_stmxcsr();
    perf_ab        ab;

    __builtin_ia32_ldmxcsr(was & ~0x3fu);
    ab = perf_ab_begin("divides", NULL);
    CHECK(!(__builtin_ia32_stmxcsr() & 0x4), "a division by zero");
    (void)perf_ab_end(&ab);
    CHECK(!(__builtin_ia32_stmxcsr() & 0x4), "a division by zero at the end");
    __builtin_ia32_ldmxcsr(was);
#endif
}

int main(void)
{
    divides();
    a_bench();
    told();
    odd_options();
    misuse();
    deleted_body();
    an_ab();
    coin();
    keep_takes_anything();
    report();
    names();
    reset();
    return check_done();
}
