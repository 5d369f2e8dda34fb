/* history.c DIR: what saved runs say of each other.  A run that lies far off is left out and named; a
 * change that came with a saved run is found on every later night, and with the label of that run; a
 * creep is found; histories without a change stay without one.  Random, from a printed seed.      */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdlib.h>
static uint64_t now_ns = 1000000;
static uint64_t fake_clock(void)
{
    return now_ns += 1;
}
#define PERF_CLOCK_FN fake_clock
#include "perf.h"
#include "perf_results.h"

#include "check.h"
#include "numbers.h"

enum { ENTRIES = 6, SLICES = 5 };

static char              path[500];
static uint64_t          dice = 20261125;
static double            values[ENTRIES][SLICES];
static perf_result       results[ENTRIES];
static perf_results_item items[ENTRIES];
static const char *const names[ENTRIES] = {"a", "b", "c", "d", "e", "f"};

static double normal(void)
{
    double sum = 0.0;
    int    i;

    for (i = 0; i < 12; i++)
        sum += (double)(check_random(&dice) >> 11) / 9007199254740992.0;
    return sum - 6.0;
}

/* The run of that night: entries that take `level`[i] times 100 ns, give or take 1 %. */
static perf_results_opts night(int number, size_t entries, const double *level)
{
    static char       id[32], label[32];
    perf_results_opts o = PERF_ZERO;
    size_t            i, k;

    for (i = 0; i < entries; i++) {
        double time = 100.0 * level[i] * (1.0 + 0.01 * normal());
        for (k = 0; k < SLICES; k++)
            values[i][k] = time * (1.0 + 0.001 * (double)k);
        memset(&results[i], 0, sizeof results[i]);
        results[i].time = perf_summarize(values[i], SLICES);
        items[i].name = names[i];
        items[i].result = &results[i];
        items[i].samples = values[i];
        items[i].count = SLICES;
    }
    snprintf(id, sizeof id, "run%d", number);
    snprintf(label, sizeof label, "commit%d", number);
    o.items = items;
    o.count = entries;
    o.run = id;
    o.label = label;
    o.machine = "m";
    o.time_s = 1.79e9 + 86400.0 * number;
    return o;
}

/* Nights of the same times, the one of number `odd` with `by` times all of them or only the first. */
static void history(int nights, size_t entries, int odd, double by, int only_first)
{
    double level[ENTRIES];
    int    n;
    size_t i;

    (void)remove(path);
    for (n = 0; n < nights; n++) {
        perf_results_opts o;
        for (i = 0; i < entries; i++)
            level[i] = n == odd && (!only_first || i == 0) ? by : 1.0;
        o = night(n, entries, level);
        CHECK(perf_baseline_add(path, &o) == PERF_OK, "add");
    }
}

static perf_baseline check(int number, size_t entries, double first)
{
    double             level[ENTRIES] = {1, 1, 1, 1, 1, 1};
    perf_baseline_opts o = PERF_ZERO;

    level[0] = first;
    o.now = night(number, entries, level);
    return perf_baseline_check(path, &o);
}

static int says(const perf_baseline *b, const char *words)
{
    char   text[8000];
    FILE  *f = tmpfile();
    size_t n;

    CHECK(f && perf_baseline_to(f, b) == PERF_OK, "write");
    rewind(f);
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    (void)fclose(f);
    if (!strstr(text, words))
        printf("not in the table: %s\n%s", words, text);
    return strstr(text, words) != NULL;
}

/* One run of 8 and of 16 that is off, by 30 % to tenfold, slower and faster: +12 % is found as without. */
static void one_bad_run(void)
{
    static const double by[] = {1.3, 2.0, 10.0, 0.5};
    size_t k;
    int    runs;

    for (runs = 8; runs <= 16; runs += 8)
        for (k = 0; k < sizeof by / sizeof *by; k++) {
            perf_baseline b;
            history(runs, ENTRIES, 4, by[k], 0);
            b = check(runs, ENTRIES, 1.12);
            CHECK(b.status == PERF_OK && b.entries == ENTRIES && b.odds == 1, "%g: %lu", by[k],
                  (unsigned long)b.odds);
            CHECK(b.entry[0].verdict.decision == PERF_REJECT && b.rejected <= 1, "%d runs, %g: %s", runs, by[k],
                  perf_decision_text(b.entry[0].verdict.decision));
            CHECK(b.entry[0].runs == (size_t)runs - 1, "%lu", (unsigned long)b.entry[0].runs);
            CHECK(b.odds == 1 && b.odd[0].number == 5 && !b.odd[0].entry && !strcmp(b.odd[0].run, "run4") &&
                      !strcmp(b.odd[0].label, "commit4") && b.odd[0].ratio > 0.94 * by[k] &&
                      b.odd[0].ratio < 1.06 * by[k], "%g", by[k]);
            CHECK(says(&b, runs == 8 ? "run 5 of 8 (20" : "run 5 of 16 (20") && says(&b, ", commit4) is ") &&
                      says(&b, " % off: left out\n"), "named");
            perf_baseline_free(&b);
        }
}

/* What is no exception stays in: two of eight, a tenth, one entry of several that has a second speed,
 * fewer runs than would be left.                                                                   */
static void kept(void)
{
    perf_baseline b;

    history(8, ENTRIES, 4, 1.1, 0);
    b = check(8, ENTRIES, 1.0);
    CHECK(b.odds == 0 && b.entry[0].runs == 8, "a tenth");
    perf_baseline_free(&b);
    history(8, ENTRIES, 4, 1.2, 1);
    b = check(8, ENTRIES, 1.0);
    CHECK(b.odds == 0 && b.entry[0].runs == 8, "one entry by a fifth");
    perf_baseline_free(&b);
    history(8, ENTRIES, 4, 2.0, 1);
    b = check(8, ENTRIES, 1.12);
    CHECK(b.odds == 1 && b.odd[0].entry && !strcmp(b.odd[0].entry, "a") && b.entry[0].runs == 7 &&
              b.entry[1].runs == 8, "one entry twofold");
    CHECK(says(&b, "a: run 5 of 8 (20"), "named");
    perf_baseline_free(&b);
    history(6, ENTRIES, 4, 2.0, 0);
    b = check(6, ENTRIES, 1.0);
    CHECK(b.odds == 0 && b.entry[0].runs == 6, "five are too few");
    perf_baseline_free(&b);
    history(7, ENTRIES, 4, 2.0, 0);
    {
        double            level[ENTRIES] = {2, 2, 2, 2, 2, 2};
        perf_results_opts o = night(7, ENTRIES, level);
        CHECK(perf_baseline_add(path, &o) == PERF_OK, "add");
    }
    b = check(8, ENTRIES, 1.0);
    CHECK(b.odds == 0 && b.entry[0].runs == 8, "two of eight");
    perf_baseline_free(&b);
}

/* Nightly compare, then add: on which nights the first entry is REJECTed.  step: a level from night 12 on;
 * creep: so much more each night; back: from that night on as before.                              */
static int nights_rejected(double step, double creep, int back, int from, int to, int *since)
{
    int n, rejected = 0;

    *since = 0;
    (void)remove(path);
    for (n = 0; n < to; n++) {
        double             level[ENTRIES] = {1, 1, 1, 1, 1, 1};
        perf_baseline_opts o = PERF_ZERO;
        perf_baseline      b;
        level[0] = 1.0 + creep * n;
        if (n >= 12 && n < back)
            level[0] += step;
        o.now = night(n, ENTRIES, level);
        if (n >= from) {
            b = perf_baseline_check(path, &o);
            rejected += b.entry[0].decision == PERF_REJECT;
            *since += b.entry[0].since != NULL;
            if (b.entry[0].since && step > 0.0 && n < back && n > 13)
                CHECK(b.entry[0].since_number == 13 && !strcmp(b.entry[0].since_label, "commit12") &&
                          says(&b, "REJECT: since run 13 (commit12)\n"), "night %d: since %lu", n,
                      (unsigned long)b.entry[0].since_number);
            CHECK(b.entry[1].decision != PERF_REJECT && !b.entry[1].since, "night %d: another entry", n);
            perf_baseline_free(&b);
        }
        CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    return rejected;
}

static void changes(void)
{
    int since, found;

    found = nights_rejected(0.15, 0.0, 99, 14, 28, &since);
    CHECK(found == 14 && since == 14, "a step: on %d of 14 nights, %d with since", found, since);
    found = nights_rejected(0.15, 0.0, 16, 17, 24, &since);
    CHECK(found == 0 && since == 0, "it is back: %d, %d", found, since);
    found = nights_rejected(0.0, 0.0075, 99, 16, 24, &since);
    CHECK(found == 8, "a creep: on %d of 8 nights, %d with since", found, since);
    found = nights_rejected(0.0, 0.0, 99, 8, 36, &since);
    CHECK(found == 0 && since == 0, "nothing: %d, %d", found, since);
}

/* What is REJECTed is saved with a mark: it is REJECTed on every later night, pushes nothing out of the
 * file, and what is as before is ACCEPTed.                                                         */
static void rejected(void)
{
    static const char *const marks[] = {"a", NULL};
    double             level[ENTRIES] = {1.15, 1, 1, 1, 1, 1};
    perf_baseline      b;
    perf_results_opts  o;
    int                n;

    history(12, ENTRIES, -1, 1.0, 0);
    for (n = 12; n < 60; n++) {
        b = check(n, ENTRIES, 1.15);
        CHECK(b.entry[0].decision == PERF_REJECT && b.entry[0].runs == 12, "night %d: %s, %lu runs", n,
              perf_decision_text(b.entry[0].decision), (unsigned long)b.entry[0].runs);
        CHECK(b.entry[1].decision != PERF_REJECT && b.entry[1].runs == (size_t)(n < 42 ? n : 42), "night %d: %lu",
              n, (unsigned long)b.entry[1].runs);
        if (n > 12 && n < 42)
            CHECK(b.entry[0].since_number == 13 && !strcmp(b.entry[0].since_label, "commit12") &&
                      says(&b, "REJECT: since run 13 (commit12)\n"), "night %d", n);
        perf_baseline_free(&b);
        o = night(n, ENTRIES, level);
        o.rejected = marks;
        CHECK(perf_baseline_add(path, &o) == PERF_OK, "add");
    }
    b = check(60, ENTRIES, 1.0);
    CHECK(b.entry[0].decision != PERF_REJECT && !b.entry[0].since && b.runs == 42, "it is back");
    perf_baseline_free(&b);
}

/* One run whose clock was not set, long ago or far ahead: the others say how old the runs are.  The
 * name of another machine steers no terminal.                                                      */
static void wild_clocks(void)
{
    static const double wild_s[] = {0.0, 5.0, 4.1e9};
    double              level[ENTRIES] = {1};
    perf_results_opts   o;
    size_t              k;
    int                 n;

    for (k = 0; k < 3; k++) {
        perf_baseline_opts check = PERF_ZERO;
        perf_baseline      b;
        (void)remove(path);
        for (n = 0; n < 10; n++) {
            o = night(n, 1, level);
            o.time_s = n == 4 && wild_s[k] > 0.0 ? wild_s[k] : 1.79e9 + 60.0 * n;
            CHECK(perf_baseline_add(path, &o) == PERF_OK, "add");
        }
        level[0] = 1.12;
        check.now = night(30, 1, level);
        b = perf_baseline_check(path, &check);
        CHECK(b.decision == PERF_INCONCLUSIVE && says(&b, "too old") && says(&b, " within 9 minutes, the last 30 days ago"),
              "wild %g: %s", wild_s[k], perf_decision_text(b.decision));
        perf_baseline_free(&b);
        level[0] = 1.0;
        check.now.machine = "m\033[1m\n2";
        CHECK(perf_baseline_add(path, &check.now) == PERF_OK, "add");
        check.now = night(31, 1, level);
        b = perf_baseline_check(path, &check);
        CHECK(says(&b, "left out: m?[1m?2, "), "the other machine");
        perf_baseline_free(&b);
    }
}

/* Of two rules, each takes half of the chance of a false REJECT; an ACCEPT stays as it is. */
static void two_rules(void)
{
    int k, only_alone = 0;

    history(8, 1, -1, 1.0, 0);
    for (k = 0; k < 60; k++) {
        double             level[ENTRIES] = {1};
        perf_baseline_opts o = PERF_ZERO;
        perf_baseline      one, two;
        level[0] = 1.0 + 0.002 * k;
        o.now = night(8, 1, level);
        one = perf_baseline_check(path, &o);
        o.accept.rules = 2;
        two = perf_baseline_check(path, &o);
        CHECK(one.entries == 1 && two.entries == 1, "%d", k);
        CHECK((two.decision == PERF_ACCEPT) == (one.decision == PERF_ACCEPT), "%d: ACCEPT", k);
        CHECK((two.decision == PERF_REJECT) == (one.decision == PERF_REJECT && one.entry[0].p <= 0.025),
              "%d: p %g", k, one.entry[0].p);
        only_alone += one.decision == PERF_REJECT && two.decision != PERF_REJECT;
        perf_baseline_free(&one);
        perf_baseline_free(&two);
    }
    CHECK(only_alone >= 2, "%d", only_alone);
}

/* A step among the saved runs: by "no more than 0 % worse" it is found as by any other amount; a rule that
 * asks for more than as before finds no change for the worse in one for the better.               */
static void no_amount(double amount, double by, int found)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    int                n;

    (void)remove(path);
    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, amount, PERF_METRIC_PAIR);
    for (n = 0; n <= 20; n++) {
        double level[ENTRIES] = {1, 1, 1, 1, 1, 1};
        level[0] = n < 10 ? 1.0 : by;
        o.now = night(n, ENTRIES, level);
        CHECK(n == 20 || perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    b = perf_baseline_check(path, &o);
    CHECK(b.entries == ENTRIES && (b.entry[0].since != NULL) == found &&
              (!found || (b.entry[0].decision == PERF_REJECT && b.entry[0].since_number == 11)),
          "%g %%, x%g: %s, since run %lu", amount, by, perf_decision_text(b.entry[0].decision),
          (unsigned long)b.entry[0].since_number);
    perf_baseline_free(&b);
}

/* "The same within 5 %": a family asks as much of what is faster as of what is slower. */
static void same(void)
{
    static const double by[] = {1.02, 1.04, 1.075, 1.1};
    double              level[ENTRIES] = {1, 1, 1, 1, 1, 1}, p[2], ratio = 1.0;
    perf_baseline_opts  o = PERF_ZERO;
    perf_baseline       b;
    int                 i, k;

    history(8, ENTRIES, -1, 1.0, 0);
    o.accept.rule = perf_rule_make(PERF_RULE_SAME, 5.0, PERF_METRIC_PAIR);
    for (i = -1; i < 4; i++) {
        for (k = 0; k < 2; k++) {
            dice = 4711;                        /* the noise of each run is the same              */
            level[0] = i < 0 ? 1.0 : (k ? by[i] : 1.0 / by[i]) / ratio;
            o.now = night(8, ENTRIES, level);
            b = perf_baseline_check(path, &o);
            CHECK(b.entries == ENTRIES, "%lu entries", (unsigned long)b.entries);
            p[k] = b.entry[0].p;
            if (i < 0)
                ratio = b.entry[0].verdict.ratio.estimate;
            perf_baseline_free(&b);
        }
        CHECK(i < 0 || (p[0] > 0.0 && p[0] < 1.001 * p[1] && p[1] < 1.001 * p[0]), "%g: p %g, of its inverse %g",
              i < 0 ? 1.0 : by[i], p[1], p[0]);
    }
}

/* An accuracy check that was not made is made by no run, and by no other rule. */
static void unchecked(void)
{
    double             level[ENTRIES] = {1, 1, 1, 1, 1, 1};
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;

    history(8, ENTRIES, -1, 1.0, 0);
    o.accept.guard.required = 1;
    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 50.0, PERF_METRIC_PAIR);
    o.now = night(8, ENTRIES, level);
    b = perf_baseline_check(path, &o);
    CHECK(b.decision == PERF_INCONCLUSIVE && says(&b, "required accuracy check") && !says(&b, "to decide"), "not checked");
    perf_baseline_free(&b);
}

/* What the steps of a scope's histogram hide is not found by more saved runs, and none are asked for. */
static void hidden(const char *rule, double by, int helps)
{
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline      b;
    char               id[16];
    int                n, i;

    (void)remove(path);
    CHECK(perf_rule_parse(rule, &o.accept.rule) == PERF_OK, "%s", rule);
    o.now.run = id;
    for (n = 0; n <= 8; n++) {
        perf_reset();
        for (i = 0; i < 50; i++) {
            perf_scope s = perf_scope_begin("scope");
            now_ns += (uint64_t)(n < 8 ? 1e5 * (1.0 + 0.004 * (n * 3 % 8 - 3.5)) : 1e5 * by);
            perf_scope_end(&s);
        }
        snprintf(id, sizeof id, "%d", n);
        o.now.time_s = 1.79e9 + 3600.0 * n;
        CHECK(n == 8 || perf_baseline_add(path, &o.now) == PERF_OK, "add");
    }
    b = perf_baseline_check(path, &o);
    CHECK(b.entries == 1 && b.decision == PERF_INCONCLUSIVE && b.entry[0].unseen > 0.03 && b.entry[0].unseen < 0.033,
          "%lu entries", (unsigned long)b.entries);
    CHECK(says(&b, "more saved run") == helps, "%s: %g", rule, by);
    perf_baseline_free(&b);
}

int main(int argc, char **argv)
{
    printf("seed %lu\n", (unsigned long)dice);
    snprintf(path, sizeof path, "%s/history.json", argc > 1 ? argv[1] : ".");
    one_bad_run();
    kept();
    changes();
    rejected();
    wild_clocks();
    two_rules();
    no_amount(0.0, 1.1, 1);
    no_amount(0.0, 0.9, 0);
    no_amount(1.0, 1.1, 1);
    no_amount(-10.0, 0.7, 0);
    no_amount(-10.0, 1.3, 0);
    same();
    unchecked();
    hidden("no regression beyond 5 %", 1.02, 0);
    hidden("same within 5 %", 0.97, 0);
    hidden("no regression beyond 10 %", 1.042, 1);
    return check_done();
}
