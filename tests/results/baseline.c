/* baseline.c DIR [TRIALS]: runs of known truth against baselines of known truth, how often the answer is
 * wrong; and what the reader says about files that are none.                                      */
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "perf.h"
#include "perf_results.h"

#include "check.h"
#include "numbers.h"
#include "inside.h"

enum { NAMES = 5, SLICES = 40 };

static const uint64_t seed = 20261121;
static uint64_t       rng[4];
static int            trials = 250;     /* enough to tell 2.5 % from 5 %; the sanitizers need fewer */
static char           dir[400], path[500];

static double uniform(void)             /* xoshiro256++ (Blackman and Vigna 2021)                 */
{
    uint64_t sum = rng[0] + rng[3], r = ((sum << 23) | (sum >> 41)) + rng[0], t = rng[1] << 17;

    rng[2] ^= rng[0];
    rng[3] ^= rng[1];
    rng[1] ^= rng[2];
    rng[0] ^= rng[3];
    rng[2] ^= t;
    rng[3] = (rng[3] << 45) | (rng[3] >> 19);
    return ((double)(r >> 11) + 0.5) / 9007199254740992.0;
}

static perf_baseline check_text(const char *text, size_t size, const perf_baseline_opts *opts)
{
    perf_baseline b;

    memset(&b, 0, sizeof b);
    baseline_of_text(&b, text, size, opts);
    return b;
}

/* What results_to or perf_baseline_to writes, as a text; returns its length. */
static size_t text_of(char *text, size_t cap, const perf_results_opts *o, const perf_baseline *b)
{
    FILE  *f = tmpfile();
    size_t n = 0;

    if (f && (b ? perf_baseline_to(f, b) : results_to(f, o)) == PERF_OK) {
        rewind(f);
        n = fread(text, 1, cap - 1, f);
    }
    text[n] = '\0';
    if (f)
        (void)fclose(f);
    return n;
}

static double normal(void)
{
    return math_normal(uniform());
}

/* One run: each benchmark at its level, less a run's own luck; slices with spikes. */
static double      values[NAMES][SLICES];
static perf_result results[NAMES];
static perf_results_item items[NAMES];
static const char *const names[NAMES] = {"parse", "sort", "copy", "hash \"x\"", "walk"};

static perf_results_opts run(int id, double time_s, const double *level, double run_sd)
{
    static char       text[32];
    perf_results_opts o = PERF_ZERO;
    int               i, k;

    for (i = 0; i < NAMES; i++) {
        double luck = math_exp(level[i] + run_sd * normal());
        for (k = 0; k < SLICES; k++) {
            values[i][k] = 100.0 * (i + 1) * luck * math_exp(0.03 * normal());
            if (uniform() < 0.05)
                values[i][k] *= 8.0;
        }
        memset(&results[i], 0, sizeof results[i]);
        results[i].time = perf_summarize(values[i], SLICES);
        results[i].batch = 10;
        items[i].name = names[i];
        items[i].result = &results[i];
        items[i].samples = values[i];
        items[i].count = SLICES;
    }
    snprintf(text, sizeof text, "%d", id);
    o.items = items;
    o.count = NAMES;
    o.run = text;
    o.machine = "m";
    o.time_s = 1.79e9 + time_s;
    return o;
}

typedef struct tally {
    int wrong_reject, wrong_accept, rejected, accepted, trials;
} tally;

/* `saved` runs an hour apart, then one `later` hours after the last, whose benchmark 1 is slower by
 * `change`.  sd: between runs; walk: the level drifts by so much a run.                            */
static tally world(int trials, int saved, double later, double change, double sd, double walk,
                   int alone)
{
    tally t;
    int   trial, i, k;

    memset(&t, 0, sizeof t);
    for (trial = 0; trial < trials; trial++) {
        double             level[NAMES] = {0}, hour = 0;
        perf_baseline_opts o = PERF_ZERO;
        perf_baseline      b;
        perf_results_opts  r;
        (void)remove(path);
        for (k = 0; k < saved; k++, hour += 1.0) {
            for (i = 0; i < NAMES; i++)
                level[i] += walk * normal();
            r = run(k, hour * 3600, level, sd);
            if (perf_baseline_add(path, &r) != PERF_OK)
                abort();
        }
        hour += later - 1.0;
        for (i = 0; i < NAMES; i++)
            level[i] += walk * math_sqrt(later) * normal();
        level[1] += math_log(change);
        o.now = run(saved, hour * 3600, level, sd);
        b = perf_baseline_check(path, &o);
        if (b.status != PERF_OK || b.entries != NAMES) {
            printf("%s\n", perf_status_text(b.status));
            abort();
        }
        for (i = 0; i < NAMES; i++) {
            perf_decision d = alone ? b.entry[i].verdict.decision : b.entry[i].decision;
            t.trials += i == 1;
            t.rejected += i == 1 && d == PERF_REJECT;
            t.accepted += i == 1 && d == PERF_ACCEPT;
            t.wrong_reject += i != 1 && d == PERF_REJECT;
            t.wrong_accept += i == 1 && d == PERF_ACCEPT && change >= 1.05;
        }
        perf_baseline_free(&b);
    }
    printf("%d runs, %g h later, x%.2f, sd %g, walk %g%s: benchmark 1 rejected %d, accepted %d of %d; "
           "others rejected %d\n", saved, later, change, sd, walk, alone ? ", alone" : "",
           t.rejected, t.accepted, t.trials, t.wrong_reject);
    return t;
}

/* At most a share p of n, with three standard errors. */
static int at_most(int k, int n, double p)
{
    return k <= n * p + 3.0 * math_sqrt(n * p * (1 - p)) + 1;
}

static void statistics(void)
{
    int   n = trials;
    tally t;

    snprintf(path, sizeof path, "%s/world.json", dir);
    /* the truth is at the threshold: each wrong answer 2.5 % */
    t = world(n, 8, 1, 1.05, 0.013, 0, 1);
    CHECK(at_most(t.rejected, n, 0.025), "%d of %d", t.rejected, n);
    CHECK(at_most(t.accepted, n, 0.025), "%d of %d", t.accepted, n);
    /* identical code is not accused; within the family neither */
    t = world(n, 8, 1, 1.0, 0.013, 0, 0);
    CHECK(t.rejected + t.wrong_reject == 0, "%d + %d", t.rejected, t.wrong_reject);
    t = world(n, 6, 1, 1.0, 0.05, 0, 0);
    CHECK(at_most(t.rejected + t.wrong_reject, n, 0.025), "%d + %d", t.rejected, t.wrong_reject);
    /* a planted regression is seen, the others stay clean; a small one needs more quiet */
    t = world(n, 8, 1, 1.20, 0.013, 0, 0);
    CHECK(t.rejected >= n * 95 / 100, "%d of %d", t.rejected, n);
    CHECK(t.wrong_reject == 0 && t.accepted == 0, "%d %d", t.wrong_reject, t.accepted);
    t = world(n, 10, 1, 1.08, 0.003, 0, 0);
    CHECK(t.rejected >= n * 85 / 100, "%d of %d", t.rejected, n);
    t = world(n, 10, 1, 1.0, 0.003, 0, 0);
    CHECK(t.accepted >= n * 95 / 100, "%d of %d", t.accepted, n);
    /* a drift between then and now is not taken for a change */
    t = world(n, 8, 24, 1.05, 0.002, 0.02, 1);
    CHECK(at_most(t.rejected, n, 0.025), "%d of %d", t.rejected, n);
    CHECK(at_most(t.accepted, n, 0.025), "%d of %d", t.accepted, n);
    /* fewer than six runs claim nothing, whatever the numbers say */
    t = world(40, 1, 1, 3.0, 0.013, 0, 0);
    CHECK(t.rejected + t.accepted + t.wrong_reject == 0, "%d %d", t.rejected, t.accepted);
    t = world(40, 5, 1, 3.0, 0.001, 0, 1);
    CHECK(t.rejected + t.accepted + t.wrong_reject == 0, "%d %d", t.rejected, t.accepted);
}

static perf_baseline check_now(const perf_results_opts *r, const char *rule)
{
    perf_baseline_opts o = PERF_ZERO;

    o.now = *r;
    if (rule)
        CHECK(perf_rule_parse(rule, &o.accept.rule) == PERF_OK, "%s", rule);
    return perf_baseline_check(path, &o);
}

/* The file holds this run alone. */
static perf_status save_alone(const char *to, const perf_results_opts *with)
{
    perf_results_opts o = PERF_ZERO;

    if (with)
        o = *with;
    o.alone = 1;
    return perf_baseline_add(to, &o);
}

/* New, missing, other machines, the run itself, a run that is vouched for, options, the text. */
static void cases(void)
{
    double             level[NAMES] = {0};
    perf_results_opts  r;
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    char               text[8192];
    double             low;
    size_t             n;
    int                k;

    snprintf(path, sizeof path, "%s/cases.json", dir);
    (void)remove(path);
    b = perf_baseline_check(path, NULL);
    CHECK(b.status == PERF_ENODATA && !b.entries, "%s", perf_status_text(b.status));
    perf_baseline_free(&b);
    for (k = 0; k < 7; k++) {
        r = run(k, k * 3600, level, 0.01);
        r.count = 4;                            /* "walk" will be new */
        CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    }
    r = run(7, 7 * 3600, level, 0.01);
    items[0].name = "renamed";
    b = check_now(&r, NULL);
    CHECK(b.status == PERF_OK && b.entries == 6 && b.runs == 7, "%lu", (unsigned long)b.entries);
    CHECK(b.fresh == 2 && b.missing == 1, "%lu %lu", (unsigned long)b.fresh,
          (unsigned long)b.missing);
    CHECK(b.entries == 6 && !strcmp(b.entry[5].name, "parse") && b.entry[5].missing, "the last");
    CHECK(b.entries == 6 && b.entry[0].runs == 0 && b.entry[0].now > 0, "the first");
    CHECK(b.decision == PERF_INCONCLUSIVE, "%d", (int)b.decision);
    CHECK(b.span_s > 21599 && b.span_s < 21601 && b.age_s > 3599 && b.age_s < 3601, "%g %g",
          b.span_s, b.age_s);
    n = text_of(text, sizeof text, NULL, &b);
    CHECK(n < sizeof text - 1 && strstr(text, "new: not in the baseline") &&
          strstr(text, "missing: saved, but not measured now") && strstr(text, "(2 new, 1 missing)") &&
          strstr(text, "7 runs of this machine and build within 6 hours, the last 60 minutes ago"),
          "%s", text);
    perf_baseline_free(&b);
    items[0].name = names[0];

    /* a clock that was set: a day before the first is as far as a day after the last */
    r = run(8, 6 * 3600 + 86400, level, 0.01);
    b = check_now(&r, NULL);
    low = b.entry[0].verdict.ratio.low;
    perf_baseline_free(&b);
    r.time_s = 1.79e9 - 86400;
    b = check_now(&r, NULL);
    CHECK(b.age_s > -86401 && b.age_s < -86399 && b.entry[0].verdict.ratio.low == low && low < 0.9,
          "%g: %g, %g", b.age_s, b.entry[0].verdict.ratio.low, low);
    (void)text_of(text, sizeof text, NULL, &b);
    CHECK(strstr(text, "within 6 hours, the first 24 hours later by the clock; asked"), "%s", text);
    perf_baseline_free(&b);
    r.time_s = 1.79e9 + 3 * 3600 + 60;          /* among them: no age */
    b = check_now(&r, NULL);
    CHECK(b.age_s == 0.0 && b.entry[0].verdict.ratio.low > 0.9, "%g, %g", b.age_s, b.entry[0].verdict.ratio.low);
    perf_baseline_free(&b);

    /* the run itself, when it was added first, is not held against itself */
    r = run(7, 7 * 3600, level, 0.01);
    CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    b = check_now(&r, NULL);
    CHECK(b.runs == 8 && b.entry[0].runs == 7, "%lu", (unsigned long)b.entry[0].runs);
    perf_baseline_free(&b);

    /* another machine: warned about, and no claim */
    level[0] = level[1] = level[2] = level[3] = level[4] = 1.0;
    r = run(8, 8 * 3600, level, 0.01);
    r.machine = "other";
    b = check_now(&r, NULL);
    CHECK(b.status == PERF_OK && b.other_runs == 8 && b.rejected == 0 && strstr(b.other, "m, "),
          "%lu '%s'", (unsigned long)b.other_runs, b.other);
    CHECK(b.decision == PERF_INCONCLUSIVE && b.entry[0].runs == 0 && b.fresh == 0, "claims");
    (void)text_of(text, sizeof text, NULL, &b);
    CHECK(strstr(text, "warning: 8 runs of another machine or build"), "%s", text);
    perf_baseline_free(&b);
    o.now = r;
    o.any_machine = 1;
    b = perf_baseline_check(path, &o);
    CHECK(b.rejected == 4 && b.decision == PERF_REJECT, "%lu", (unsigned long)b.rejected);
    perf_baseline_free(&b);

    /* rules: on p95 it takes 72 slices, here are 40; on the mean; nonsense */
    r = run(8, 8 * 3600, level, 0.01);
    b = check_now(&r, "no regression beyond 5 % on p95");
    CHECK(b.status == PERF_OK && b.rejected == 0 && b.accepted == 0, "p95 of 40");
    perf_baseline_free(&b);
    b = check_now(&r, "no regression beyond 5 % on p50");
    CHECK(b.status == PERF_OK && b.rejected == 4, "%lu", (unsigned long)b.rejected);
    perf_baseline_free(&b);
    b = check_now(&r, "no regression beyond 100 % on mean");
    CHECK(b.status == PERF_OK && b.entry[0].verdict.ratio.estimate > 1.8 &&
          b.entry[0].verdict.ratio.estimate < 4.0, "%g", b.entry[0].verdict.ratio.estimate);
    perf_baseline_free(&b);
    b = check_now(&r, "memory down >= 5 %");
    CHECK(b.status == PERF_EINVAL && !b.entries, "%s", perf_status_text(b.status));
    perf_baseline_free(&b);
    o.accept.confidence = CHECK_NAN;
    b = perf_baseline_check(path, &o);
    CHECK(b.status == PERF_EINVAL, "%s", perf_status_text(b.status));
    perf_baseline_free(&b);
    (void)text_of(text, sizeof text, NULL, &b);
    CHECK(perf_baseline_to(stdout, NULL) == PERF_EINVAL, "no baseline");

    /* one saved run: the ratio, and no claim */
    memset(level, 0, sizeof level);
    r = run(0, 0, level, 0.0);
    CHECK(save_alone(path, &r) == PERF_OK, "save");
    level[2] = 0.5;
    r = run(1, 10, level, 0.0);
    memset(&o, 0, sizeof o);
    o.now = r;
    b = perf_baseline_check(path, &o);
    CHECK(b.rejected == 0 && b.entry[2].verdict.ratio.estimate > 1.4, "%g", b.entry[2].verdict.ratio.estimate);
    perf_baseline_free(&b);
    /* the newest 30 runs are kept, a run of the same id is replaced */
    for (k = 0; k < 33; k++) {
        r = run(k, k, level, 0.01);
        CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    }
    r = run(32, 32, level, 0.01);
    CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    r = run(33, 33, level, 0.01);
    b = check_now(&r, NULL);
    CHECK(b.runs == 30 && b.entry[0].runs == 30 && b.missing == 0, "%lu %lu", (unsigned long)b.runs,
          (unsigned long)b.entry[0].runs);
    perf_baseline_free(&b);
}

/* "parse" without luck and spikes: what is asked of it then hangs on no seed. */
static void steady(double level)
{
    int k;

    for (k = 0; k < SLICES; k++)
        values[0][k] = 100.0 * math_exp(level) * (1.0 + 0.001 * (k % 5 - 2));
}

/* Runs that do not hold an entry say nothing about its age; more repeats than are kept have the same
 * middle.                                                                                          */
static void gaps_and_repeats(void)
{
    static perf_result       same[1024];
    static perf_results_item many[1024];
    double                   level[NAMES] = {0}, width;
    perf_results_opts        r;
    perf_baseline            b;
    int                      k, later;

    for (later = 0; later < 2; later++) {
        snprintf(path, sizeof path, "%s/gap%d.json", dir, later);
        (void)remove(path);
        level[0] = -0.16;
        for (k = 0; k < 6; k++) {
            r = run(k, k * 3600, level, 0.002);
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
        }
        for (k = 0; k < 6 * later; k++) {       /* without "parse", the first                     */
            r = run(6 + k, (94 + k) * 86400, level, 0.002);
            r.items = items + 1;
            r.count = NAMES - 1;
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
        }
        level[0] = 0;
        r = run(20, 100 * 86400, level, 0.002);
        items[0].name = "parse";
        b = check_now(&r, NULL);
        CHECK(b.entries == NAMES && !strcmp(b.entry[0].name, "parse") && b.entry[0].runs == 6, "parse");
        width = b.entries ? b.entry[0].verdict.ratio.high / b.entry[0].verdict.ratio.low : 0;
        CHECK(b.entries && b.entry[0].decision == PERF_INCONCLUSIVE && width > 1.1,
              "figures 100 days old: within a factor of %g", width);
        perf_baseline_free(&b);
    }

    /* six runs of one second, and the next one in five seconds, ten minutes, a month */
    for (k = 0; k < 12; k++) {
        static const double age[] = {5, 600, 30 * 86400.0}, change[] = {1.0, 1.2, 0.5, 2.0};
        double              by = change[k % 4], old = age[k / 4];
        char                table[4096];
        int                 j;
        snprintf(path, sizeof path, "%s/second.json", dir);
        (void)remove(path);
        memset(level, 0, sizeof level);
        for (j = 0; j < 6; j++) {
            level[0] = 0.005 * (j % 3 - 1);     /* the same spread in any case                    */
            r = run(j, 1000 + j / 5.0, level, 0);
            steady(level[0]);
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
        }
        level[0] = math_log(by);
        r = run(20, 1001 + old, level, 0);
        steady(level[0]);
        b = check_now(&r, NULL);
        CHECK(b.entries == NAMES && !strcmp(b.entry[0].name, "parse"), "parse");
        width = b.entry[0].verdict.ratio.high / b.entry[0].verdict.ratio.low;
        CHECK(width > 1.02 && width < 1.9, "%g s old: within a factor of %g", old, width);
        CHECK(b.entry[0].decision ==
                  (by > 1.5 || (by > 1.1 && old < 10) ? PERF_REJECT
                   : by < 0.9 || old < 10 ? PERF_ACCEPT : PERF_INCONCLUSIVE),
              "x%g, %g s old: %s", by, old, perf_decision_text(b.entry[0].decision));
        CHECK((b.entry[0].decision == PERF_INCONCLUSIVE) ==
                  (strstr(b.entry[0].verdict.reason, "too old") != NULL), "%s",
              b.entry[0].verdict.reason);
        (void)text_of(table, sizeof table, NULL, &b);
        CHECK(strstr(table, " within 1 second, the last "), "%s", table);
        perf_baseline_free(&b);
    }

    memset(level, 0, sizeof level);
    snprintf(path, sizeof path, "%s/repeats.json", dir);
    (void)remove(path);
    r = run(0, 0, level, 0.01);
    for (k = 0; k < 1024; k++) {
        values[0][0] = 100.0 + (k * 397 % 1024 - 512) / 51.2;       /* 90 .. 110, in a mixed order  */
        same[k] = results[0];
        same[k].time = perf_summarize(values[0], 1);
        many[k].name = "parse";
        many[k].result = &same[k];
    }
    r.items = many;
    r.count = 1024;
    CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    r.run = "1";
    b = check_now(&r, NULL);
    CHECK(b.entries == 1 && b.entry[0].now > 97 && b.entry[0].now < 103, "middle of 1,024 repeats: %g",
          b.entries ? b.entry[0].now : 0);
    perf_baseline_free(&b);
}

/* A file with `runs` saved runs of one entry, eight times `before` each, and the clock's step. */
static size_t stepped(char *text, size_t cap, int runs, double before, double step)
{
    size_t n = (size_t)snprintf(text, cap, "{\"perf_results\":1,\"runs\":[");
    int    k, i;

    for (k = 0; k < runs; k++)
        n += (size_t)snprintf(text + n, cap - n, "%s{\"run\":\"%d\",\"time\":%d}", k ? "," : "", k,
                              1000 + k);
    n += (size_t)snprintf(text + n, cap - n, "],\"benchmarks\":[");
    for (k = 0; k < runs; k++) {
        n += (size_t)snprintf(text + n, cap - n, "%s{\"name\":\"x\",\"run\":\"%d\"", k ? "," : "", k);
        if (step > 0)
            n += (size_t)snprintf(text + n, cap - n, ",\"step\":%g", step);
        for (i = 0; i < 8; i++)
            n += (size_t)snprintf(text + n, cap - n, "%s%g", i ? "," : ",\"samples\":[", before);
        n += (size_t)snprintf(text + n, cap - n, "]}");
    }
    return n + (size_t)snprintf(text + n, cap - n, "]}");
}

/* Eight times 0.12 before and eight times 0.11 now: a step of 0.01 in the file allows for no answer
 * to "down by 5 %", one of 0.0001 does.  Wrong outputs are REJECTed whatever the runs say.        */
static void steps_and_guards(void)
{
    static const double now[8] = {0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11};
    perf_result         result;
    perf_results_item   item = {"x", NULL, NULL, 8};
    perf_baseline_opts  o = PERF_ZERO;
    perf_baseline       b;
    char                text[32768];
    int                 runs, coarse, k;

    memset(&result, 0, sizeof result);
    result.time.count = 8;
    item.result = &result;
    item.samples = now;
    o.now.items = &item;
    o.now.count = 1;
    o.now.run = "now";
    o.now.time_s = 1007;
    o.any_machine = 1;
    CHECK(perf_rule_parse("down >= 5 %", &o.accept.rule) == PERF_OK, "rule");
    for (runs = 8; runs < 31; runs += 22)
        for (coarse = 0; coarse < 2; coarse++) {
            size_t n = stepped(text, sizeof text, runs, 0.12, coarse ? 0.01 : 0.0001);
            b = check_text(text, n, &o);
            CHECK(b.status == PERF_OK && b.entries == 1 && b.entry[0].runs == (size_t)runs, "%s",
                  perf_status_text(b.status));
            CHECK(b.decision == (coarse ? PERF_INCONCLUSIVE : PERF_ACCEPT), "%d runs, step %d: %s", runs,
                  coarse, perf_decision_text(b.decision));
            perf_baseline_free(&b);
        }
    memset(&o.accept, 0, sizeof o.accept);
    o.accept.guard.limit.abs = 0.1;             /* outputs that differ by 1                        */
    o.accept.guard.seen.max_abs = o.accept.guard.seen.max_rel = o.accept.guard.seen.max_ulp = 1.0;
    o.accept.guard.seen.compared = 10;
    for (k = 0; k < 4; k++) {
        size_t n = stepped(text, sizeof text, k == 3 ? 8 : 1 + k, 0.12, 0.0);
        b = check_text(text, n, &o);
        CHECK(b.entries == 1 && b.decision == PERF_REJECT && b.entry[0].verdict.decision == PERF_REJECT &&
                  (b.entry[0].verdict.warnings & PERF_WARN_OUTPUTS), "%d: %s", k,
              b.entries ? b.entry[0].verdict.reason : "");
        perf_baseline_free(&b);
    }
}

/* Scopes and A/B loops of this process, by the fake clock; medians of repeats. */
static void process(void)
{
    perf_results_opts r = PERF_ZERO;
    perf_baseline     b;
    char              id[16];
    int               k, i, v;

    snprintf(path, sizeof path, "%s/process.json", dir);
    (void)remove(path);
    r.machine = "m";
    r.run = id;
    for (k = 0; k < 8; k++) {
        uint64_t slow = k == 7 ? 3 : 2;
        perf_reset();
        for (i = 0; i < 200; i++) {
            PERF_SCOPE("step");
            now_ns += 5000 * slow + check_random(&rng[0]) % 1000;
        }
        for (i = 0; i < 200; i++) {
            PERF_SCOPE("same");
            now_ns += 10000 + check_random(&rng[0]) % 1000;
        }
        snprintf(id, sizeof id, "%d", k);
        r.time_s = 1.79e9 + k * 60;
        if (k < 7)
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    }
    b = check_now(&r, NULL);
    CHECK(b.status == PERF_OK && b.entries == 2, "%lu", (unsigned long)b.entries);
    CHECK(b.entries == 2 && b.entry[0].kind == PERF_BASELINE_SCOPE &&
          b.entry[0].decision == PERF_REJECT && b.entry[0].verdict.ratio.low > 1.3 &&
          b.entry[0].verdict.ratio.high < 1.7, "%g", b.entry[0].verdict.ratio.estimate);
    CHECK(b.entries == 2 && b.entry[1].decision != PERF_REJECT, "%d", (int)b.entry[1].decision);
    perf_baseline_free(&b);
    b = check_now(&r, "no regression beyond 10 %");
    CHECK(b.entries == 2 && b.entry[1].decision == PERF_ACCEPT, "%d", (int)b.entry[1].decision);
    perf_baseline_free(&b);
    b = check_now(&r, "no regression beyond 5 % on mean");
    CHECK(b.entries == 2 && b.entry[0].decision == PERF_REJECT, "mean");
    perf_baseline_free(&b);
    b = check_now(&r, "no regression beyond 5 % on p99");     /* 200 calls are too few */
    CHECK(b.rejected + b.accepted == 0, "p99 of 200");
    perf_baseline_free(&b);

    (void)remove(path);
    r.no_scopes = 1;
    for (k = 0; k < 8; k++) {
        perf_ab ab = perf_ab_begin("duel", NULL);
        while ((v = perf_ab_next(&ab)) >= 0)
            now_ns += (v ? (k == 7 ? 900u : 700u) : 1000u) * (unsigned)(k + 1);
        (void)perf_ab_end(&ab);
        snprintf(id, sizeof id, "%d", k);
        r.time_s = 1.79e9 + k * 60;
        if (k < 7)
            CHECK(perf_baseline_add(path, &r) == PERF_OK, "add");
    }
    b = check_now(&r, NULL);                    /* eight duels of one name: "duel" to "duel (8)"  */
    CHECK(b.entries == 8 && b.entry[0].kind == PERF_BASELINE_AB && b.entry[0].before > 0.69 &&
          b.entry[0].before < 0.71 && b.entry[0].now > 0.69 && b.entry[0].now < 0.71, "%g %g",
          b.entry[0].before, b.entry[0].now);
    CHECK(b.entries == 8 && b.entry[0].runs == 7 && b.entry[6].runs == 1 && b.fresh == 1 &&
          !strcmp(b.entry[7].name, "duel (8)") && !b.entry[7].runs && b.entry[7].now > 0.89,
          "%s: %g", b.entry[7].name, b.entry[7].now);
    perf_baseline_free(&b);
}

/* What is no baseline: status and byte. */
static void reader(void)
{
#define FRONT "{\"perf_results\":1,"
    static const struct {
        const char *text;
        perf_status status;
        size_t      at;
    } c[] = {
        {"", PERF_EFORMAT, 0},
        {"{}", PERF_EFOREIGN, 0},
        {"[]", PERF_EFOREIGN, 0},
        {"nonsense", PERF_EFOREIGN, 0},
        {"{\"perf_results\":1}", PERF_OK, 0},
        {"\xef\xbb\xbf {\"perf_results\" : 1 }\n", PERF_OK, 0},
        {"{\"perf_results\":2}", PERF_EFOREIGN, 0},
        {"{\"perf_results\":2,\"benchmarks\":[1", PERF_EFOREIGN, 0},
        {"{\"perf_results\":0}", PERF_EFOREIGN, 0},
        {"{\"perf_results\":1} x", PERF_EFORMAT, 19},
        {"{\"perf_results\":1,}", PERF_EFORMAT, 18},
        {"{\"perf_results\":1,\"perf_results\":1}", PERF_EFORMAT, 33},
        {"{\"perf_results\":1", PERF_EFORMAT, 17},
        {"{\"perf_results\":01}", PERF_EFOREIGN, 0},
        {"{\"perf_results\":1.}", PERF_EFOREIGN, 0},
        {"{\"perf_results\":1e}", PERF_EFOREIGN, 0},
        {"{\"perf_results\":+1}", PERF_EFOREIGN, 0},
        {FRONT "\"a\":[1,2,{\"b\":[[]]}],\"b\":\"\\u00e9\\ud83d\\ude00\\ud83d\"}", PERF_OK, 0},
        {FRONT "\"a\":[1,2}", PERF_EFORMAT, 26},
        {FRONT "\"a\":\"\\x\"}", PERF_EFORMAT, 24},
        {FRONT "\"a\":\"\\u12g4\"}", PERF_EFORMAT, 27},
        {FRONT "\"a\":\"line\nfeed\"}", PERF_EFORMAT, 27},
        {FRONT "\"a\":1e999}", PERF_OK, 0},     /* not used                                       */
        {FRONT "\"a\":-99999999999999999999e99999999999}", PERF_OK, 0},
        {FRONT "\"runs\":[{\"time\":1e291}]}", PERF_ERANGE, 34},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"samples\":[1e999]}]}", PERF_ERANGE, 55},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"calls\":3,\"p50\":1,\"p95\":null}]}", PERF_ERANGE, 28},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"kind\":\"counter\",\"max\":null}]}", PERF_OK, 0},
        {FRONT "\"a\":1e-999}", PERF_OK, 0},
        {FRONT "\"a\":tru}", PERF_EFORMAT, 22},
        {FRONT "\"benchmarks\":[{\"samples\":[1]}]}", PERF_EFORMAT, 32},
        {FRONT "\"benchmarks\":[{\"name\":5}]}", PERF_EFORMAT, 40},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"name\":\"y\"}]}", PERF_EFORMAT, 51},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"samples\":[1,0]}]}", PERF_ERANGE, 57},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"samples\":[-1]}]}", PERF_ERANGE, 55},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"samples\":[1,null]}]}", PERF_EFORMAT, 57},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"baseline\":[1,2],\"candidate\":[1]}]}",
         PERF_EFORMAT, 32},
        {FRONT "\"benchmarks\":[{\"name\":\"x\",\"baseline\":[1,2],\"candidate\":[1,2]}]}", PERF_OK, 0},
        {FRONT "\"benchmarks\":{}}", PERF_EFORMAT, 31},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"kind\":\"scope\",\"buckets\":[[2,1],[1,1]]}]}", PERF_OK,
         0},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"calls\":1,\"p50\":1e291}]}", PERF_ERANGE, 28},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"calls\":\"1\"}]}", PERF_EFORMAT, 48},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"p50\":1,\"p50\":1}]}", PERF_EFORMAT, 54},
        {FRONT "\"scopes\":[{\"name\":\"x\",\"kind\":\"counter\",\"min\":-3,\"mean\":-1.5}]}", PERF_OK,
         0},
        {FRONT "\"runs\":[{\"run\":\"a\",\"run\":\"b\"}]}", PERF_EFORMAT, 43}};
    size_t i, n;
    char  *deep;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        size_t        size = strlen(c[i].text);
        char         *exact = (char *)malloc(size + !size);
        perf_baseline b;
        memcpy(exact, c[i].text, size);
        b = check_text(exact, size, NULL);
        CHECK(b.status == c[i].status && b.error_at == c[i].at, "%s: %s at %lu, want %s at %lu",
              c[i].text, perf_status_text(b.status), (unsigned long)b.error_at,
              perf_status_text(c[i].status), (unsigned long)c[i].at);
        perf_baseline_free(&b);
        free(exact);
    }
    {
        static const char zeros[] = "{\"perf_results\":1}\n\0\0";
        perf_baseline     b = check_text(zeros, sizeof zeros, NULL);
        CHECK(b.status == PERF_EFORMAT && b.error_at == 19, "zeros behind the end: %s at %lu",
              perf_status_text(b.status), (unsigned long)b.error_at);
        perf_baseline_free(&b);
    }
    /* depth: 64 is read, more is refused, a million does no harm */
    for (n = 60; n < 2000000; n = n < 70 ? n + 1 : n * 30) {
        perf_baseline b;
        deep = (char *)malloc(2 * n + 40);
        strcpy(deep, FRONT "\"a\":");
        memset(deep + 22, '[', n);
        memset(deep + 22 + n, ']', n);
        deep[22 + 2 * n] = '}';
        b = check_text(deep, 23 + 2 * n, NULL);
        CHECK(b.status == (n <= 64 ? PERF_OK : PERF_ELIMIT), "%lu: %s", (unsigned long)n,
              perf_status_text(b.status));
        CHECK(b.status == PERF_OK || b.error_at == 22 + 64, "%lu", (unsigned long)b.error_at);
        perf_baseline_free(&b);
        free(deep);
    }
    {
        perf_baseline b = perf_baseline_check(NULL, NULL);
        CHECK(b.status == PERF_EINVAL, "NULL");
        b = perf_baseline_check(dir, NULL);
        CHECK(b.status == PERF_EIO, "a folder: %s", perf_status_text(b.status));
    }
    /* every prefix of a real file is refused, and what is refused is not overwritten */
    {
        double            level[NAMES] = {0};
        perf_results_opts o = run(1, 0, level, 0.01);
        size_t            len = 1 << 20;
        char             *text = (char *)malloc(len);
        FILE             *f;
        perf_baseline     b;
        len = text_of(text, len, &o, NULL);
        while (len && text[len - 1] != '}')
            len--;
        for (n = 0; n < len; n++) {
            b = check_text(text, n, &(perf_baseline_opts){.now = o});
            CHECK(b.status == (n && n < sizeof FRONT - 2 ? PERF_EFOREIGN : PERF_EFORMAT) && b.error_at <= n,
                  "%lu of %lu: %s", (unsigned long)n, (unsigned long)len, perf_status_text(b.status));
            perf_baseline_free(&b);
        }
        snprintf(path, sizeof path, "%s/broken.json.damaged", dir);
        (void)remove(path);
        snprintf(path, sizeof path, "%s/broken.json", dir);
        f = fopen(path, "wb");
        (void)fwrite(text, 1, len / 2, f);
        (void)fclose(f);
        CHECK(perf_baseline_add(path, &o) == PERF_OK, "added beside a broken file");
        b = perf_baseline_check(path, &(perf_baseline_opts){.now = o});
        CHECK(b.status == PERF_OK && b.runs == 1, "a new one with %lu runs", (unsigned long)b.runs);
        perf_baseline_free(&b);
        snprintf(path, sizeof path, "%s/broken.json.damaged", dir);
        f = fopen(path, "rb");
        CHECK(f && fread(text, 1, len, f) == len / 2, "the broken file is kept");
        if (f)
            (void)fclose(f);
        free(text);
    }
}

/* A machine on which all entries of a run move together: twelve of them, one number each.  By
 * itself each moves by 2 %, the last one by `last`.                                               */
enum { TOGETHER = 12 };
static double calm = 0.02;              /* of every second entry                                   */

static perf_results_opts shared_run(int id, double common, double last, const double *change)
{
    static char              text[32], name[TOGETHER][16];
    static double            value[TOGETHER];
    static perf_result       result[TOGETHER];
    static perf_results_item item[TOGETHER];
    perf_results_opts        o = PERF_ZERO;
    double                   factor = math_exp(common * normal());
    int                      i;

    for (i = 0; i < TOGETHER; i++) {
        double sd = i == TOGETHER - 1 ? last : i % 2 ? calm : 0.02;
        value[i] = 100.0 * factor * change[i] * math_exp(sd * normal());
        memset(&result[i], 0, sizeof result[i]);
        result[i].time = perf_summarize(&value[i], 1);
        result[i].batch = 10;
        snprintf(name[i], sizeof name[i], "e%02d", i);
        item[i].name = name[i];
        item[i].result = &result[i];
        item[i].samples = &value[i];
        item[i].count = 1;
    }
    snprintf(text, sizeof text, "%d", id);
    o.items = item;
    o.count = TOGETHER;
    o.run = text;
    o.machine = "m";
    o.time_s = 1.79e9 + 3600.0 * id;
    return o;
}

/* Entries 0 and 2 are 10 % slower, entry 1 and the noisy last exactly at the threshold.  A change of all does
 * not hide.                                                                                       */
static void together(void)
{
    int                n = trials < 80 ? trials : 80, rough = n / 4, trial, k, i, vouch, found[2] = {0, 0}, edge[2] = {0, 0};
    int                noisy = 0, wrong = 0, all = 0, apart = 0;
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;

    snprintf(path, sizeof path, "%s/together.json", dir);
    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, PERF_METRIC_PAIR);
    for (trial = 0; trial < n + rough; trial++) {
        double same[TOGETHER], change[TOGETHER], last = trial < n ? 0.02 : 0.08;
        for (i = 0; i < TOGETHER; i++)
            same[i] = change[i] = 1.0;
        change[0] = change[2] = 1.1;
        change[1] = change[TOGETHER - 1] = 1.02;
        (void)remove(path);
        for (k = 0; k < 9; k++) {
            perf_results_opts r = shared_run(k, 0.05, last, same);
            if (perf_baseline_add(path, &r) != PERF_OK)
                abort();
        }
        o.now = shared_run(k, 0.05, last, change);
        for (vouch = 0; vouch < 2; vouch++) {
            o.most_unchanged = vouch;
            b = perf_baseline_check(path, &o);
            CHECK(b.status == PERF_OK && (vouch || !b.beside), "%lu beside", (unsigned long)b.beside);
            apart += vouch && b.beside < TOGETHER;
            found[vouch] += trial >= n ? 0 : (b.entry[0].decision == PERF_REJECT) + (b.entry[2].decision == PERF_REJECT);
            edge[vouch] += b.entry[1].verdict.decision != PERF_INCONCLUSIVE;
            noisy += vouch && trial >= n && b.entry[TOGETHER - 1].verdict.decision != PERF_INCONCLUSIVE;
            for (i = 3; i < TOGETHER; i++)
                wrong += vouch && b.entry[i].decision == PERF_REJECT;
            perf_baseline_free(&b);
        }
        for (i = 0; i < TOGETHER; i++)
            change[i] = 3.0;
        o.now = shared_run(k, 0.05, last, change);
        b = perf_baseline_check(path, &o);
        all += b.rejected == TOGETHER && !b.accepted;
        perf_baseline_free(&b);
    }
    printf("together: +10 %% found %d by itself, %d beside the others, of %d; wrong at the threshold %d, %d\n",
           found[0], found[1], 2 * n, edge[1], noisy);
    CHECK(at_most(apart, n + rough, 0.01), "%d judged apart", apart);
    CHECK(at_most(2 * n - found[1], 2 * n, 0.68) && found[0] * 10 < 2 * n, "%d, %d of %d", found[0], found[1], 2 * n);
    CHECK(at_most(edge[1], n + rough, 0.05) && at_most(noisy, rough, 0.06) && at_most(wrong, 10 * n, 0.005),
          "%d, %d, %d wrong", edge[1], noisy, wrong);
    CHECK(all == n + rough, "all tripled, all REJECTed: %d of %d", all, n + rough);
}

/* Nine runs within seconds, and the new one a day later, when each entry has strayed by `stray`:
 * how far the others have strayed by themselves says how far an entry may, changed or not.       */
static void strayed(double stray)
{
    int                n = trials < 100 ? trials : 100, trial, k, i, found[2] = {0, 0}, edge = 0, vouch;
    int                apart = 0;           /* the others moved as they do once in 10,000         */
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;

    snprintf(path, sizeof path, "%s/strayed.json", dir);
    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, PERF_METRIC_PAIR);
    for (trial = 0; trial < n; trial++) {
        double change[TOGETHER];
        for (i = 0; i < TOGETHER; i++)
            change[i] = 1.0;
        (void)remove(path);
        for (k = 0; k < 9; k++) {
            perf_results_opts r = shared_run(k, 0.05, 0.02, change);
            r.time_s = 1.79e9 + 0.4 * k;
            if (perf_baseline_add(path, &r) != PERF_OK)
                abort();
        }
        change[0] = 1.1;
        for (i = 1; i < TOGETHER; i++)          /* 1 to 4 at the threshold, the others unchanged   */
            change[i] = (i < 5 ? 1.02 : 1.0) * math_exp(stray * normal());
        o.now = shared_run(k, 0.05, 0.02, change);
        o.now.time_s = 1.79e9 + 86400.0;
        for (vouch = 0; vouch < 2; vouch++) {
            o.most_unchanged = vouch;
            b = perf_baseline_check(path, &o);
            CHECK(b.status == PERF_OK && (vouch || !b.beside), "%lu beside", (unsigned long)b.beside);
            apart += vouch && b.beside < TOGETHER;
            found[vouch] += b.entry[0].verdict.decision == PERF_REJECT;
            for (i = 1; i < 5; i++)
                edge += vouch && b.entry[i].verdict.decision != PERF_INCONCLUSIVE;
            perf_baseline_free(&b);
        }
    }
    printf("a day later, strayed by %g: +10 %% found %d by itself, %d beside the others, of %d; "
           "wrong at the threshold %d of %d\n", stray, found[0], found[1], n, edge, 4 * n);
    CHECK(at_most(apart, n, 0.01), "%d judged apart", apart);
    CHECK(at_most(found[0], n, 0.05) && (stray > 0.0 || at_most(n - found[1], n, 0.65)), "%d, %d of %d", found[0], found[1], n);
    CHECK(at_most(edge, 4 * n, 0.06), "%d wrong of %d", edge, 4 * n);
}

int main(int argc, char **argv)
{
    uint64_t s = seed;
    int      i;

    if (argc == 3)
        trials = atoi(argv[2]);
    if (argc != 2 && argc != 3) {
        printf("usage: baseline DIR [TRIALS]\n");
        return 1;
    }
    printf("seed %lu\n", (unsigned long)seed);
    for (i = 0; i < 4; i++)
        rng[i] = check_random(&s);
    snprintf(dir, sizeof dir, "%s", argv[1]);
    reader();
    cases();
    gaps_and_repeats();
    steps_and_guards();
    process();
    statistics();
    together();
    strayed(0.0);
    strayed(0.02);
    strayed(0.06);
    calm = 0.002;                               /* as far as the others, though it repeats better          */
    strayed(0.03);
    return check_done();
}
