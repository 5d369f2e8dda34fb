/* perf_tally: are the numbers those of the scopes, and is the sum the same bits in any order and
 * tree?  The clock only moves when the test says so.                                             */
#include <stdint.h>
#include <string.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include <stdlib.h>
static int out_of_memory;
#define PERF_MALLOC(bytes) (out_of_memory ? NULL : malloc(bytes))
#define PERF_FREE(p)       free(p)
#include "perf_tally.h"

#include "check.h"

#include <time.h>
#include "inside.h"

enum { PARTS = 37 };

static perf_tally tally[PARTS], sum, other, kept;
static uint64_t   state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static void work(const char *name, uint64_t ns)
{
    perf_scope s = perf_scope_begin(name);
    now_ns += ns;
    perf_scope_end(&s);
}

static void recursive(int depth)
{
    perf_scope s = perf_scope_begin("recursive");
    now_ns += 10;
    if (depth)
        recursive(depth - 1);
    perf_scope_end(&s);
}

static void numbers(void)
{
    uint64_t i;
    double   p50, p99;

    perf_reset();
    CHECK(perf_tally_of("step", 4, &sum) == PERF_ENODATA && sum.parts == 1 && !sum.calls &&
              sum.most == 4 && !sum.most_ns, "a part without calls");
    for (i = 1; i <= 1000; i++)
        work("step", i * 1000);
    CHECK(perf_tally_of("step", 4, &sum) == PERF_OK, "step");
    CHECK(sum.calls == 1000 && sum.sum_ns == 500500000 && sum.total_ns == sum.sum_ns &&
              sum.self_ns == sum.sum_ns, "%llu calls, %llu ns", (unsigned long long)sum.calls,
          (unsigned long long)sum.sum_ns);
    CHECK(sum.parts == 1 && sum.most == 4 && sum.least == 4 && sum.most_ns == sum.total_ns &&
              sum.least_ns == sum.total_ns, "one part");
    CHECK(perf_hist_count(&sum.hist) == 1000, "%llu", (unsigned long long)perf_hist_count(&sum.hist));
    CHECK(perf_hist_quantile(&sum.hist, 0) == 1000 && perf_hist_quantile(&sum.hist, 1) == 1e6,
          "extremes %g %g", perf_hist_quantile(&sum.hist, 0), perf_hist_quantile(&sum.hist, 1));
    p50 = perf_hist_quantile(&sum.hist, 0.5);
    p99 = perf_hist_quantile(&sum.hist, 0.99);
    CHECK(p50 > 0.98 * 500e3 && p50 < 1.02 * 500e3, "p50 %g", p50);
    CHECK(p99 > 0.98 * 990e3 && p99 < 1.02 * 990e3, "p99 %g", p99);

    work("one", 777);
    CHECK(perf_tally_of("one", 0, &sum) == PERF_OK && perf_hist_count(&sum.hist) == 1 &&
              perf_hist_quantile(&sum.hist, 0) == 777 && perf_hist_quantile(&sum.hist, 1) == 777, "one call");
    work("nothing", 0);
    CHECK(perf_tally_of("nothing", 0, &sum) == PERF_OK && perf_hist_count(&sum.hist) == 1 &&
              perf_hist_quantile(&sum.hist, 1) == 0 && sum.imbalance == 0, "0 ns");
    recursive(3);
    CHECK(perf_tally_of("recursive", 0, &sum) == PERF_OK && sum.calls == 4 && sum.sum_ns == 100 &&
              sum.total_ns == 40 && sum.self_ns == 40, "recursion: %llu %llu",
          (unsigned long long)sum.sum_ns, (unsigned long long)sum.total_ns);
    perf_count("value", 3);
    CHECK(perf_tally_of("value", 0, &sum) == PERF_ENODATA, "a counter has no length");
}

/* The least and the most are exact, wherever in their buckets they lie. */
static void extremes(void)
{
    char     name[32];
    uint64_t low, high;
    int      i;

    for (i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "extremes %d", i);
        low = 1000 + draw(100000);
        high = 2 * low + draw(1000000);
        work(name, low);
        work(name, high);
        work(name, low + (high - low) / 2);
        CHECK(perf_tally_of(name, 0, &sum) == PERF_OK && perf_hist_count(&sum.hist) == 3 &&
                  perf_hist_quantile(&sum.hist, 0) == low && perf_hist_quantile(&sum.hist, 1) == high,
              "%llu to %llu, not %llu to %llu", (unsigned long long)perf_hist_quantile(&sum.hist, 0),
              (unsigned long long)perf_hist_quantile(&sum.hist, 1), (unsigned long long)low, (unsigned long long)high);
    }
    CHECK(tally_ns(10.0, 2.5) == 25 && tally_ns(3.0, 0.5) == 2, "ticks of another length");
}

/* Sum of the tallies order[from, to) in a random tree, into tally number `to - 1` of `node`. */
static perf_tally *tree(perf_tally *node, size_t n)
{
    size_t      left;
    perf_tally *a, *b;

    if (n == 1)
        return node;
    left = 1 + draw((uint32_t)n - 1);
    a = tree(node, left);
    b = tree(node + left, n - left);
    CHECK(perf_tally_merge(a, b) == PERF_OK, "merge");
    return a;
}

static void orders(void)
{
    static perf_tally node[PARTS], one;
    uint64_t calls = 0, total = 0;
    size_t   i, k, round;

    memset(&sum, 0, sizeof sum);
    for (i = 0; i < PARTS; i++) {
        perf_reset();
        for (k = draw(20); k; k--)                      /* some parts have no calls               */
            work("step", (uint64_t)draw(1000) << draw(30));
        (void)perf_tally_of("step", (uint32_t)i, &tally[i]);
        calls += tally[i].calls;
        total += tally[i].total_ns;
        CHECK(perf_tally_merge(&sum, &tally[i]) == PERF_OK, "merge");
    }
    CHECK(sum.calls == calls && sum.total_ns == total && sum.parts == PARTS &&
              perf_hist_count(&sum.hist) == calls, "sums");
    CHECK(tally[sum.most].total_ns == sum.most_ns && tally[sum.least].total_ns == sum.least_ns,
          "slowest and fastest");
    for (i = 0; i < PARTS; i++)
        CHECK(tally[i].total_ns <= sum.most_ns && tally[i].total_ns >= sum.least_ns, "part %zu", i);
    for (round = 0; round < 30; round++) {
        memcpy(node, tally, sizeof node);
        for (i = PARTS; i > 1; i--) {
            k = draw((uint32_t)i);
            one = node[i - 1];
            node[i - 1] = node[k];
            node[k] = one;
        }
        CHECK(!memcmp(tree(node, PARTS), &sum, sizeof sum), "round %zu: other bits", round);
    }
}

static void edges(void)
{
    perf_reset();
    work("step", 100);
    (void)perf_tally_of("step", 7, &sum);
    work("step", 200);
    (void)perf_tally_of("step", 3, &other);             /* 300 in all                             */
    memset(&kept, 0, sizeof kept);
    CHECK(perf_tally_merge(&kept, &sum) == PERF_OK && !memcmp(&kept, &sum, sizeof kept), "0 + x");
    memset(&kept, 0, sizeof kept);
    CHECK(perf_tally_merge(&sum, &kept) == PERF_OK && sum.parts == 1, "x + 0");
    CHECK(perf_tally_merge(&sum, &other) == PERF_OK && sum.most == 3 && sum.least == 7, "who");
    CHECK(sum.imbalance > 0.4999 && sum.imbalance < 0.5001, "300 of 200");
    other.most_ns = sum.most_ns;
    other.most = 2;
    (void)perf_tally_merge(&sum, &other);
    CHECK(sum.most == 2, "of equal ones the lower");

    kept = sum;
    other.sum_ns = ~UINT64_C(0);
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow");
    other.sum_ns = 0;
    other.total_ns = ~UINT64_C(0);
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow");
    other.total_ns = 0;
    other.self_ns = ~UINT64_C(0);
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow");
    other.self_ns = 0;
    other.parts = ~UINT64_C(0);
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow");
    other.parts = 1;
    other.calls = ~UINT64_C(0);
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow");
    other.calls = 0;
    CHECK(!memcmp(&kept, &sum, sizeof kept), "a failed merge changes nothing");
    perf_hist_add_n(&sum.hist, 5, UINT64_C(1) << 62);
    perf_hist_add_n(&other.hist, 5, UINT64_C(1) << 62);
    kept = sum;
    CHECK(perf_tally_merge(&sum, &other) == PERF_ERANGE, "overflow of the histogram");
    other.hist.head.highest = 77;
    CHECK(perf_tally_merge(&sum, &other) == PERF_EINVAL, "no tally");
    CHECK(perf_tally_merge(NULL, &other) == PERF_EINVAL, "NULL");
    CHECK(perf_tally_merge(&sum, NULL) == PERF_EINVAL, "NULL");
    CHECK(perf_tally_merge(&sum, &sum) == PERF_EINVAL, "itself");
    CHECK(!memcmp(&kept, &sum, sizeof kept), "a failed merge changes nothing");
    CHECK(perf_tally_of(NULL, 0, &other) == PERF_EINVAL && !other.parts, "no name");
    CHECK(perf_tally_of("step", 0, NULL) == PERF_EINVAL, "no out");
}

/* Sums that just fit. */
static void full(void)
{
    perf_reset();
    work("step", 100);
    (void)perf_tally_of("step", 1, &sum);
    memset(&other, 0, sizeof other);
    other.calls = other.sum_ns = other.total_ns = other.self_ns = other.parts = ~UINT64_C(0) - 1;
    sum.calls = sum.sum_ns = sum.total_ns = sum.self_ns = 1;
    CHECK(perf_tally_merge(&sum, &other) == PERF_OK && sum.calls == ~UINT64_C(0) && sum.sum_ns == sum.calls &&
              sum.total_ns == sum.calls && sum.self_ns == sum.calls && sum.parts == sum.calls, "they fit");
}

static int collected;

static void collect(core_registry *r)
{
    (void)r;
    collected++;
}

static void collects(void)
{
    static core_source source;

    source.collect = collect;
    core_source_add(&source);
    (void)perf_tally_of("step", 0, &sum);
    CHECK(collected == 1, "what a device has not told yet is asked for: %d", collected);
    out_of_memory = 1;
    memset(&sum, 7, sizeof sum);
    memset(&kept, 0, sizeof kept);
    CHECK(perf_tally_of("step", 0, &sum) == PERF_ENOMEM && !memcmp(&sum, &kept, sizeof sum), "no memory");
    out_of_memory = 0;
}

/* A name of a scope, a wait and a span is told as the scope, in whatever order they came. */
static void kinds(void)
{
    perf_async span = perf_async_begin("many kinds", 0);
    perf_scope s;

    now_ns += 7;
    perf_async_end(&span);
    CHECK(perf_tally_of("many kinds", 0, &other) == PERF_OK && other.sum_ns == 7, "a span");
    s = perf_scope_begin("many kinds");
    now_ns += 5;
    perf_scope_end(&s);
    s = perf_wait_begin("many kinds");
    now_ns += 3;
    perf_scope_end(&s);
    perf_count("many kinds", 9);
    CHECK(perf_tally_of("many kinds", 0, &other) == PERF_OK && other.calls == 1 && other.sum_ns == 5, "the scope: %lu",
          (unsigned long)other.sum_ns);
}

/* Of equal parts the lowest number is named, in whatever order; what cannot be added changes nothing. */
static void ties(void)
{
    static perf_tally part[3], all, before;
    static const int  order[4][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    int               i, k;

    for (i = 0; i < 4; i++) {
        memset(&all, 0, sizeof all);
        for (k = 0; k < 3; k++) {
            perf_tally *t = &part[order[i][k]];
            memset(t, 0, sizeof *t);
            t->parts = t->calls = 1;
            t->sum_ns = t->total_ns = t->most_ns = t->least_ns = 100;
            t->most = t->least = (uint32_t)order[i][k] + 5;
            CHECK(perf_tally_merge(&all, t) == PERF_OK, "merge");
        }
        CHECK(all.most == 5 && all.least == 5 && all.parts == 3 && all.total_ns == 300, "%d: %u and %u", i, all.most, all.least);
    }
    memset(&part[1], 0, sizeof part[1]);
    CHECK(perf_tally_merge(&all, &part[1]) == PERF_OK && all.parts == 3, "no part");
    part[0].hist.head.highest = all.hist.head.highest = 0;
    perf_hist_add_n(&part[0].hist, 1000, UINT64_MAX / 4 + 10);
    perf_hist_add_n(&all.hist, 2000, UINT64_MAX / 4 + 10);
    before = all;
    CHECK(perf_tally_merge(&all, &part[0]) == PERF_ERANGE && !memcmp(&all, &before, sizeof all), "too many values together");
    part[0].hist.head.highest = 7;
    CHECK(perf_tally_merge(&all, &part[0]) == PERF_EINVAL && perf_tally_merge(&part[0], &all) == PERF_EINVAL &&
              perf_tally_merge(NULL, &all) == PERF_EINVAL && perf_tally_merge(&all, NULL) == PERF_EINVAL && !memcmp(&all, &before, sizeof all),
          "another form of histogram");
    part[0].hist.head.highest = 0;
    for (i = 0; i < 5; i++) {                   /* each of the sums at its end */
        uint64_t *const end[] = {&part[2].calls, &part[2].sum_ns, &part[2].total_ns, &part[2].self_ns, &part[2].parts};
        uint64_t        was = *end[i];
        all.self_ns = before.self_ns = 1;
        *end[i] = UINT64_MAX;
        CHECK(perf_tally_merge(&all, &part[2]) == PERF_ERANGE && !memcmp(&all, &before, sizeof all), "sum %d", i);
        *end[i] = was;
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    CHECK(perf_tally_of("step", 0, &sum) == PERF_ENODATA && sum.parts == 1, "before any scope");
    numbers();
    extremes();
    orders();
    edges();
    full();
    kinds();
    collects();
    ties();
    return check_done();
}
