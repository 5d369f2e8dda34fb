/* refusals.c DIR: what every call does with what it cannot use: nothing to write to, no values, numbers
 * that are none, texts with mistakes, a lock that this very thread holds (a signal handler's case). */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <string.h>
#define PERF_DIAGNOSIS 1
#include "perf.h"
#include "perf_diagnosis.h"
#include "perf_export.h"
#include "perf_hlog.h"
#include "perf_memory.h"
#include "perf_nvtx.h"
#include "perf_tally.h"
#include "perf_trace.h"

#include "time/rows.h"
#include "../numbers.h"
#include "inside.h"
#include "tools/stats.h"

static char        path[500];
static const char *dir = ".";
static void *volatile nothing; /* NULL that no compiler sees */

/* ---- texts ---- */

static void texts(void)
{
    int  i, known;
    char text[64];

    perf_out_ o = perf_out_open_(text, sizeof text);

    for (i = 0; i < PERF_STATUS_COUNT_; i++)
        CHECK(strcmp(perf_status_text((perf_status)i), "unknown status") != 0, "status %d", i);
    CHECK(!strcmp(perf_status_text(PERF_STATUS_COUNT_), "unknown status"), "no status");
    for (known = 0, i = 0; i < 32; i++)
        known += strcmp(perf_warning_text(UINT32_C(1) << i), "unknown warning") != 0;
    CHECK(known > 10 && known < 32, "%d warnings have a text", known);
    CHECK(strstr(perf_warning_text(PERF_WARN_PAUSES), "cost of pauses") && strstr(perf_warning_text(PERF_WARN_CLOCK), "clock"),
          "the texts are those of their bits");
    for (i = 0; i < PERF_BY_ALL_; i++)
        CHECK(*perf_diagnosis_text((perf_bound_by)i), "bound %d", i);
    CHECK(!strcmp(perf_decision_text(PERF_ACCEPT), "ACCEPT") &&
              !strcmp(perf_decision_text(PERF_REJECT), "REJECT") &&
              !strcmp(perf_decision_text(PERF_INCONCLUSIVE), "INCONCLUSIVE"),
          "decisions");
    CHECK(!*perf_verdict_text(NULL) && !*perf_result_text(NULL), "NULL has no text");
    perf_putf_(&o, "%.1f %.1f %.1f %c", CHECK_INF, -CHECK_INF, CHECK_NAN, 'x');
    CHECK(!strcmp(text, "inf -inf nan x"), "%s", text);
}

/* The devices of a run, each once. */
static void devices(void)
{
    static const char *const name[] = {"Model A100", "Model A10", "A100", "", "Model A10", "Model A100", "A100"};
    perf_run_                run = PERF_ZERO;
    size_t                   i;

    for (i = 0; i < sizeof name / sizeof *name; i++)
        perf_run_device_(&run, name[i]);
    CHECK(!strcmp(run.gpu, "Model A100, Model A10, A100"), "%s", run.gpu);
}

/* What a name says of the time that is spent in it. */
static void bounds(void)
{
    static const struct {
        uint32_t      kind;
        const char   *name;
        perf_bound_by by;
    } c[] = {{PERF_KIND_WAIT_, "a lock", PERF_BY_LOCKS},    {PERF_KIND_WAIT_, "spinLock", PERF_BY_LOCKS},
             {PERF_KIND_WAIT_, "mutex 7", PERF_BY_LOCKS},   {PERF_KIND_WAIT_, "at the barrier", PERF_BY_LOCKS},
             {PERF_KIND_WAIT_, "read", PERF_BY_DATA},       {PERF_KIND_SCOPE_, "malloc", PERF_BY_MEMORY},
             {PERF_KIND_SCOPE_, "free(x)", PERF_BY_MEMORY}, {PERF_KIND_SCOPE_, "freedom", PERF_BY_CPU},
             {PERF_KIND_SCOPE_, "mutex", PERF_BY_CPU},      {PERF_KIND_SYNC_, "malloc", PERF_BY_SYNCS}};
    size_t i;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_bound_by by = perf_kind_bound_(c[i].kind, c[i].name);
        CHECK(by == c[i].by, "'%s': %s", c[i].name, perf_diagnosis_text(by));
    }
}

/* The first and the last character of each length, and what is none: too long, half a pair, too high. */
static void characters(void)
{
    static const struct {
        const char *text;
        int         length;
    } c[] = {{"\x7f", 1},         {"\x80", 0},         {"\xc1\xbf", 0},         {"\xc2\x80", 2},
             {"\xdf\xbf", 2},     {"\xe0\x9f\xbf", 0}, {"\xe0\xa0\x80", 3},     {"\xed\x9f\xbf", 3},
             {"\xed\xa0\x80", 0}, {"\xef\xbf\xbf", 3}, {"\xf0\x8f\xbf\xbf", 0}, {"\xf0\x90\x80\x80", 4},
             {"\xf4\x8f\xbf\xbf", 4}, {"\xf4\x90\x80\x80", 0}, {"\xf5\x80\x80\x80", 0}, {"\xe2\x82", 0}};
    size_t i;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_char_ is = perf_char_of_(c[i].text);
        int        length = is.broken ? 0 : is.bytes;
        CHECK(length == c[i].length, "%d: %d, not %d", (int)i, length, c[i].length);
    }
}

/* ---- numbers ---- */

static int is_nan(perf_interval r)
{
    return isnan(r.low) && isnan(r.estimate) && isnan(r.high);
}

static void numbers(void)
{
    static const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, odd[4] = {1, NAN, INFINITY, 2},
                        same[4] = {1, NAN, INFINITY, 3};
    double        out[8], zero = 0.0;
    perf_accuracy a;
    perf_summary  s;
    perf_verdict  v;

    CHECK(isnan(perf_log_(-1)) && isnan(perf_erfc_(NAN)) &&
              isnan(perf_normal_quantile_(1.5)),
          "domain");
    CHECK(perf_erfc_(-40) > 1.999 && perf_erfc_(40) < 1e-300, "tails");
    CHECK(perf_normal_quantile_(0) < -1e308 && perf_normal_quantile_(1) > 1e308, "all of it");
    CHECK(isnan(perf_t_cdf_(1, 0)) && isnan(perf_t_cdf_(NAN, 3)) &&
              isnan(perf_t_quantile_(0.5, -1)) && isnan(perf_t_quantile_(2, 3)),
          "Student");
    CHECK(fabs(perf_t_cdf_(1.96, 1e16) - perf_normal_cdf_(1.96)) < 1e-15,
          "Student at infinity is normal");
    CHECK(perf_t_cdf_(-1e150, 2) >= 0 && perf_t_cdf_(1e150, 2) > 1 - 1e-9, "Student far out");
    CHECK(isnan(perf_beta_cdf_(0.5, -1, 2)) && isnan(perf_beta_cdf_(NAN, 1, 2)),
          "beta");
    CHECK(perf_beta_cdf_(0, 2, 2) <= 0 && perf_beta_cdf_(1, 2, 2) >= 1, "beta's ends");
    CHECK(isnan(perf_binomial_cdf_(NAN, 3, 0.5)) && perf_binomial_cdf_(-1, 3, 0.5) <= 0 &&
              perf_binomial_cdf_(3, 3, 0.5) >= 1,
          "binomial");
    CHECK(!perf_quantile_min_count_(0, 0.95) && !perf_quantile_min_count_(1, 0.95) &&
              !perf_quantile_min_count_(0.5, NAN) && perf_quantile_min_count_(0.5, 0.95) == 6,
          "fewest values");
    CHECK(isnan(perf_quantile_(x, 0, 0.5)) && isnan(perf_quantile_(x, 8, 1.5)) &&
              isnan(perf_quantile_(NULL, 3, 0.5)),
          "quantile");
    CHECK(is_nan(stats_interval(NULL, 3, 0.5, 0)) &&
              is_nan(stats_interval(x, 8, 2, 0)),
          "interval");
    CHECK(is_nan(perf_quantile_interval_series_(NULL, 8, 0.5, 0)) &&
              is_nan(perf_quantile_interval_series_(x, 8, 0.5, NAN)),
          "series");
    CHECK(is_nan(ab_mean_interval(NULL, 8, 0)) && is_nan(ab_mean_interval(x, 0, 0)), "mean");
    CHECK(ab_mean_interval(x, 1, 0).high > 1e308 && ab_mean_interval(odd, 4, 0).high > 1e308,
          "no interval of the mean");
    CHECK(is_nan(perf_hist_quantile_interval(NULL, 0.5, 0)), "of no histogram");
    CHECK(perf_seq_interval(NULL, 8, 0).high > 1e308 && perf_seq_interval(x, 8, NAN).low < -1e308,
          "bets");
    s = perf_summarize(NULL, 5);
    CHECK(s.status != PERF_OK && s.count == 0, "%s", perf_status_text(s.status));
    s = perf_summarize(x, 0);
    CHECK(s.status != PERF_OK && s.count == 0, "%s", perf_status_text(s.status));
    v = perf_compare_pairs(NULL, x, 8, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.status == PERF_EINVAL, "%s",
          perf_status_text(v.status));
    v = perf_compare(x, 8, NULL, 8, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.status == PERF_EINVAL, "%s",
          perf_status_text(v.status));
    v = perf_compare_pairs(x, x, 0, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE && v.pairs == 0, "no pairs");
    v = perf_compare_pairs(&zero, x, 1, NULL);
    CHECK(v.decision == PERF_INCONCLUSIVE, "a duration of zero");
    CHECK(perf_adjust_holm_(NULL, 3, out) == PERF_EINVAL &&
              perf_adjust_holm_(x, 3, NULL) == PERF_EINVAL &&
              perf_adjust_holm_(x, 0, out) == PERF_ENODATA,
          "Holm");
    a = perf_accuracy_f64(odd, same, 4);
    CHECK(a.compared == 4 && fabs(a.max_abs - 1) < 1e-12, "NaN for NaN agrees: %g of %d", a.max_abs,
          (int)a.compared);
    a = perf_accuracy_f64(x, odd, 4);
    CHECK(a.compared == 4 && isnan(a.max_abs) && isnan(a.max_ulp),
          "NaN for a number does not");
    a = perf_accuracy_f64(x, NULL, 4);
    CHECK(!a.compared && isnan(a.max_rel), "nothing compared");
    a = perf_accuracy_f32(NULL, NULL, 4);
    CHECK(!a.compared && isnan(a.max_rel), "nothing compared");
    CHECK(!perf_accuracy_ok_(NULL, NULL) && !perf_accuracy_ok_(&a, NULL), "nothing is not enough");
}

/* The ends of each function's range, and one step beyond. */
static void ends(void)
{
    static const double small[2] = {-1.7e308, 1.7e308}, zero[1] = {0}, some[1] = {1e-3}, x[4] = {1, 2, 3, 4},
                        bad[4] = {0, -1, NAN, INFINITY}, infinite[3] = {INFINITY, 0.1, 0.2};
    perf_compare_opts   o;
    perf_tolerance      limit;
    perf_accuracy       a;
    perf_verdict        v;
    perf_guard          g;
    perf_seq            seq;
    size_t              i;

    CHECK(isnan(perf_log_(NAN)) && perf_log_(-0.0) < -1e308 && perf_log_(0.0) < -1e308, "log");
    CHECK(isnan(perf_log1p_(-2)) && fabs(perf_log1p_(1e301) / perf_log_(1e301) - 1) < 1e-12, "log1p");
    CHECK(isnan(perf_beta_cdf_(-0.1, 2, 2)) && isnan(perf_beta_cdf_(1.1, 2, 2)) &&
              isnan(perf_beta_cdf_(0.5, INFINITY, 2)) && isnan(perf_beta_cdf_(0.5, 2, 0)),
          "beta");
    CHECK(isnan(perf_binomial_cdf_(1, -1, 0.5)) && isnan(perf_binomial_cdf_(1, 3, 2)) &&
              isnan(perf_binomial_cdf_(1, 3, -1)) && isnan(perf_binomial_cdf_(1, INFINITY, 0.5)) &&
              perf_binomial_cdf_(1e17, 1e17, 0.5) >= 1 &&
              perf_binomial_cdf_(INFINITY, 7, 0.5) >= 1 && perf_binomial_cdf_(6e16, 1e17, 0.5) > 0.999 &&
              perf_binomial_cdf_(4e16, 1e17, 0.5) < 0.001 && perf_binomial_cdf_(-INFINITY, 7, 0.5) <= 0,
          "binomial");
    CHECK(fabs(perf_quantile_(small, 2, 0.5)) < 1e-300 && isfinite(perf_quantile_(small, 2, 0.25)),
          "a distance that is no number");
    CHECK(is_nan(stats_interval(x, 4, 0.5, NAN)) && is_nan(stats_interval(x, 4, -1, 0)) &&
              is_nan(perf_quantile_interval_series_(x, 4, 0.5, 0)) && is_nan(perf_quantile_interval_series_(x, 4, 0, 0)) &&
              is_nan(ab_mean_interval(x, 4, NAN)),
          "intervals");
    CHECK(perf_seq_interval(infinite, 3, 0).high > 1e308 || isfinite(perf_seq_interval(infinite, 3, 0).high),
          "an infinite ratio tells nothing");
    CHECK(perf_seq_init(&seq, NULL, NAN, 0) == PERF_EINVAL && perf_seq_init(&seq, NULL, 0, NAN) == PERF_EINVAL &&
              perf_seq_init(&seq, NULL, 0, -1) == PERF_EINVAL && perf_seq_init(NULL, NULL, 0, 0) == PERF_EINVAL,
          "bets");

    /* the outputs of two programs */
    a = perf_accuracy_f64(zero, some, 1);
    CHECK(a.max_rel > 1e308 && fabs(a.max_abs - 1e-3) < 1e-12, "something for nothing: %g", a.max_rel);
    a = perf_accuracy_f64(bad, bad + 2, 1);
    CHECK(isnan(a.max_abs), "NaN for a number");
    a = perf_accuracy_f64(zero, zero, 1);
    CHECK(a.max_abs <= 0 && a.max_rel <= 0 && a.max_ulp <= 0, "the same");
    a = perf_accuracy_f64(NULL, x, 4);
    CHECK(!a.compared, "nothing to compare with");
    memset(&limit, 0, sizeof limit);
    a = perf_accuracy_f64(some, x, 1);
    limit.abs = 1;
    CHECK(perf_accuracy_ok_(&a, &limit), "within 1");
    limit.abs = 0.5;
    CHECK(!perf_accuracy_ok_(&a, &limit), "not within a half");
    limit.abs = 0;
    limit.rel = 1000;
    CHECK(perf_accuracy_ok_(&a, &limit), "within a factor");
    limit.rel = 1;
    CHECK(!perf_accuracy_ok_(&a, &limit), "not the half of it");
    limit.rel = 0;
    limit.ulp = 1e18;
    CHECK(perf_accuracy_ok_(&a, &limit), "within all steps");
    limit.ulp = 4;
    CHECK(!perf_accuracy_ok_(&a, &limit), "not within four");

    /* a guard stands before what was measured */
    memset(&g, 0, sizeof g);
    v = perf_compare_pairs(x, x, 4, NULL);
    perf_verdict_guard_(NULL, &g);
    perf_verdict_guard_(&v, NULL);
    v.decision = PERF_ACCEPT;
    perf_verdict_guard_(&v, &g);
    CHECK(v.decision == PERF_ACCEPT, "none was asked for");
    g.required = 1;
    perf_verdict_guard_(&v, &g);
    CHECK(v.decision == PERF_INCONCLUSIVE, "asked for, and not made");
    v.decision = PERF_REJECT;
    perf_verdict_guard_(&v, &g);
    CHECK(v.decision == PERF_REJECT, "too slow is too slow");
    v.decision = PERF_ACCEPT;
    g.limit.rel = -1;
    perf_verdict_guard_(&v, &g);
    CHECK(v.decision == PERF_INCONCLUSIVE, "a limit that is none");
    g.limit.rel = 0;
    g.seen = a;
    v.decision = PERF_ACCEPT;
    perf_verdict_guard_(&v, &g);
    CHECK(v.decision == PERF_REJECT && v.warnings & PERF_WARN_OUTPUTS, "other outputs");

    /* options out of range, one by one; values that are none */
    for (i = 0; i < 7; i++) {
        memset(&o, 0, sizeof o);
        if (i == 0)
            o.rules = 2000;
        else if (i == 1)
            o.rules = -1;
        else if (i == 2)
            o.design = (perf_design)9;
        else if (i == 3)
            o.rule.metric = (perf_metric)99;
        else if (i == 4)
            o.confidence = NAN;
        else if (i == 5)
            o.tick = NAN;
        else
            o.guard.limit.abs = -1;
        v = perf_compare_pairs(x, x, 4, &o);
        CHECK(v.status == PERF_EINVAL && v.decision == PERF_INCONCLUSIVE && !v.pairs, "%d: %s", (int)i,
              perf_status_text(v.status));
        CHECK(strstr(perf_verdict_text(&v), "not measured: the rule or an option"), "%s", v.text);
        v.reason = NULL;
        CHECK(strstr(perf_verdict_text(&v), "not measured: invalid argument"), "%s", v.text);
    }
    v = perf_compare(x, 4, x, 0, NULL);
    CHECK(v.status == PERF_ENODATA, "%s", perf_status_text(v.status));
    v = perf_compare(x, 0, x, 4, NULL);
    CHECK(v.status == PERF_ENODATA, "%s", perf_status_text(v.status));
    v = perf_compare(NULL, 4, x, 4, NULL);
    CHECK(v.status == PERF_EINVAL, "%s", perf_status_text(v.status));
    v = perf_compare(x, 4, bad, 4, NULL);
    CHECK(v.status == PERF_ENODATA && v.excluded == 4, "%s", perf_status_text(v.status));
    v = perf_compare(bad, 4, x, 4, NULL);
    CHECK(v.status == PERF_ENODATA && v.excluded == 4, "%s", perf_status_text(v.status));
    v = perf_compare_pairs(x, bad, 4, NULL);
    CHECK(v.status == PERF_ENODATA && v.excluded == 4, "%s", perf_status_text(v.status));
}

static void rules(void)
{
    static const struct {
        const char *text;
        perf_status status;
    } c[] = {{"speedup >= 1.3", PERF_OK},
             {"latency speed-up >= 2x", PERF_OK},
             {"down >= 20 % on p95", PERF_OK},
             {"memory down >= 10 % on p95", PERF_OK},
             {"no regression beyond 2 % on mean", PERF_OK},
             {"", PERF_EFORMAT},
             {"speedup", PERF_EFORMAT},
             {"speedup >=", PERF_EFORMAT},
             {"speedup >= 1.3 on", PERF_EFORMAT},
             {"speedup >= 1.3 on p42", PERF_EFORMAT},
             {"p95 down >= 3 % on p99", PERF_EFORMAT},
             {"down >= 100 %", PERF_EFORMAT},
             {"speedup >= 0", PERF_EFORMAT},
             {"down >= nan %", PERF_EFORMAT},
             {"down >= 3 % really", PERF_EFORMAT},
             {"speedup >= 1.3.2", PERF_EFORMAT},
             {"speedup\t>=\t1.3", PERF_OK},
             {"memory down >= 10 % on p42", PERF_EFORMAT}};
    size_t i;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_rule r, before;
        memset(&r, 1, sizeof r);
        before = r;
        CHECK(perf_rule_parse(c[i].text, &r) == c[i].status, "'%s': %s", c[i].text,
              perf_status_text(perf_rule_parse(c[i].text, &r)));
        CHECK((memcmp(&r, &before, sizeof r) != 0) == (c[i].status == PERF_OK),
              "'%s': changed or not", c[i].text);
    }
    CHECK(perf_rule_parse(NULL, NULL) == PERF_EINVAL, "NULL");
    CHECK(fabs(perf_rule_threshold_(NULL) - 1 / 1.3) < 1e-12, "the default rule");
}

/* ---- histograms ---- */

static void histograms(void)
{
    static uint64_t    room[20000];
    perf_hist_opts     o = PERF_ZERO;
    perf_hist          mine = PERF_ZERO, other = PERF_ZERO, *h;
    perf_hist_bucket   b = PERF_ZERO;
    perf_hlog_reader   reader = PERF_ZERO;
    perf_hlog_interval iv = PERF_ZERO;
    size_t             i, taken;

    CHECK(!perf_hist_init(NULL, sizeof room, NULL) && !perf_hist_attach(NULL, sizeof room) &&
              !perf_hist_init(room, 8, &o),
          "no room");
    CHECK(perf_hist_merge((perf_hist *)nothing, &mine) == PERF_EINVAL &&
              perf_hist_merge(&mine, (perf_hist *)nothing) == PERF_EINVAL &&
              perf_hist_subtract((perf_hist *)nothing, &mine) == PERF_EINVAL &&
              perf_hist_copy((perf_hist *)nothing, &mine) == PERF_EINVAL &&
              perf_hist_copy(&mine, (perf_hist *)nothing) == PERF_EINVAL,
          "NULL");
    perf_hist_reset((perf_hist *)nothing);
    CHECK(!perf_hist_count(NULL) && !perf_hist_lost(NULL) && !perf_hist_rank(NULL, 1) &&
              perf_hist_quantile(NULL, 0.5) < 0 && !perf_hist_next(NULL, &b) &&
              !perf_hist_next(&mine, NULL),
          "NULL holds nothing");
    perf_hist_add_double(&mine, NAN);
    perf_hist_add_double(&mine, -1);
    CHECK(perf_hist_count(&mine) == 0 && perf_hist_lost(&mine) == 2, "what is no duration is lost");
    CHECK(perf_hist_subtract(&other, &mine) == PERF_OK || perf_hist_lost(&other) == 0,
          "less than nothing");
    perf_hist_add(&mine, 7);
    CHECK(perf_hist_subtract(&other, &mine) != PERF_OK && perf_hist_count(&other) == 0,
          "7 was never in there");
    CHECK(perf_hlog_next(NULL, &iv, &mine) == PERF_EINVAL &&
              perf_hlog_next(&reader, NULL, NULL) == PERF_EINVAL,
          "no reader");

    /* whoever changes any byte of the head is found out, or it means another histogram that is whole */
    o.bits = 5;
    o.lowest = 100;
    o.highest = 1000000;
    o.counter_bytes = 4;
    h = perf_hist_init(room, sizeof room, &o);
    CHECK(h && perf_hist_attach(room, sizeof room) == h &&
              !perf_hist_attach((char *)room + 1, sizeof room - 8),
          "attach");
    perf_hist_add_n(h, 500, UINT64_C(1) << 40);
    CHECK(perf_hist_count(h) + perf_hist_lost(h) == UINT64_C(1) << 40 &&
              perf_hist_count(h) <= UINT32_MAX,
          "a full counter");
    perf_hist_add_n(h, 99, 33);                 /* below the range */
    CHECK(perf_hist_peek_(h)->under == 33, "%d", (int)perf_hist_peek_(h)->under);
    for (taken = 0, i = offsetof(perf_hist_head_, highest); i < sizeof(perf_hist_head_); i++) {
        ((unsigned char *)room)[i] ^= 0xff;
        taken += perf_hist_attach(room, sizeof room) != NULL;
        ((unsigned char *)room)[i] ^= 0xff;
    }
    CHECK(taken <= 8 && perf_hist_attach(room, sizeof room) == h, "%d heads with a wrong byte",
          (int)taken);
}

/* ---- files ---- */

static perf_baseline checked(const char *text)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(text, 1, strlen(text), f) != strlen(text) || fclose(f))
        abort();
    return perf_baseline_check(path, NULL);
}

/* A number may have any number of digits. */
static void digits(void)
{
    static const struct {
        const char *first, *last;       /* with 300 zeros between                                 */
        double      is;
    } number[] = {{"0.1", "", 0.1}, {"1.", "", 1}, {"1", "e-300", 1}, {"0.", "5e302", 50},
                  {"12345678901234567890.", "", 12345678901234567890.0}, {"3.14159265358979323846", "", 3.14159265358979},
                  {"0.00001", "e+2", 0.001}, {"25", "7.5e-299", 2500}};
    perf_baseline_opts o = PERF_ZERO;
    perf_results_item  item = {"x", NULL, NULL, 0};
    perf_result        result = PERF_ZERO;
    perf_baseline      b;
    double             one = 1.0;
    char               zeros[301], text[700];
    size_t             i;

    memset(zeros, '0', 300);
    zeros[300] = '\0';
    result.time = perf_summarize(&one, 1);
    item.result = &result;
    o.now.items = &item;
    o.now.count = 1;
    o.any_machine = 1;
    for (i = 0; i < sizeof number / sizeof *number; i++) {
        snprintf(text, sizeof text, "{\"perf_results\":1,\"runs\":[{\"run\":\"r\"}],\"benchmarks\":["
                 "{\"name\":\"x\",\"run\":\"r\",\"samples\":[%s%s%s]}]}", number[i].first, zeros, number[i].last);
        memset(&b, 0, sizeof b);
        baseline_of_text(&b, text, strlen(text), &o);
        CHECK(b.status == PERF_OK && b.entries == 1 && fabs(b.entry[0].before / number[i].is - 1) < 1e-12, "%s: %s, %.17g",
              number[i].first, perf_status_text(b.status), b.entries ? b.entry[0].before : 0.0);
        perf_baseline_free(&b);
    }
}

#define FRONT "{\"perf_results\":1,\"a\":"
static void files(void)
{
    static const char *const bad[] = {FRONT "\"\\u12",     FRONT "\"\\ud83d\\u12\"}",
                                      FRONT "\"\\",        FRONT "\"\x01\"}",
                                      FRONT "\"open",      FRONT "nul}",
                                      FRONT "1",           FRONT "{\"b\"}}",
                                      FRONT "[1 2]}",      FRONT "-}",
                                      FRONT "\"\\u00G0\"}"};
    static const char *const good[] = {
        FRONT "\"\\u0000\\udc00\\ud800\\u20ac\\ud83d\\ude00\\/\\b\\f\\r\"}", FRONT "-0.5e+3}",
        FRONT "\"\\ud83d\\u0041\\ud83d\\ue000\"}",
        FRONT "{\"b\":[],\"c\":{}}}"};
    static const char *const units[] = {"", "\"unit\":\"ns\",", "\"unit\":\"us\",", "\"unit\":\"B\","};
    perf_baseline_opts o = PERF_ZERO;
    perf_baseline   b;
    perf_trace_part part = PERF_ZERO;
    size_t          i, at;
    perf_tally      t, u;
    char            name[300];

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        b = checked(bad[i]);
        CHECK(b.status == PERF_EFORMAT && b.entries == 0 && b.error_at <= strlen(bad[i]), "%s: %s",
              bad[i], perf_status_text(b.status));
        perf_baseline_free(&b);
        perf_baseline_free(&b);
    }
    for (i = 0; i < sizeof good / sizeof *good; i++) {
        b = checked(good[i]);
        CHECK(b.status == PERF_OK || b.status == PERF_ENODATA, "%s: %s", good[i],
              perf_status_text(b.status));
        perf_baseline_free(&b);
    }
    for (i = 0; i < sizeof units / sizeof *units; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"perf_results\":1,\"runs\":[{\"run\":\"r\"}],\"benchmarks\":["
                 "{\"name\":\"x\",\"run\":\"r\",%s\"samples\":[2,2.001]}],\"scopes\":["
                 "{\"name\":\"x\",\"run\":\"r\",%s\"calls\":9,\"p50\":2}]}", units[i], units[i]);
        o.any_machine = 1;
        memset(&b, 0, sizeof b);
        baseline_of_text(&b, text, strlen(text), &o);
        CHECK(b.status == PERF_OK && b.entries == (i < 2 ? 2u : 0u) && b.missing == b.entries, "%s: %s, %d entries", units[i],
              perf_status_text(b.status), (int)b.entries);
        perf_baseline_free(&b);
        for (at = 0; at < 6; at++) {            /* in other units 0 and less are numbers, too     */
            static const char *const form[] = {"%1$s\"samples\":[3,%2$s]", "\"samples\":[%2$s,3],%1$s\"step\":1",
                                               "%1$s\"baseline\":[1,%2$s],\"candidate\":[%2$s,2]"};
            char                     list[200];
            snprintf(list, sizeof list, form[at / 2], units[i], at % 2 ? "0" : "-2.5");
            snprintf(text, sizeof text, "{\"perf_results\":1,\"runs\":[{\"run\":\"r\"}],\"benchmarks\":["
                     "{\"name\":\"x\",\"run\":\"r\",%s}]}", list);
            memset(&b, 0, sizeof b);
            baseline_of_text(&b, text, strlen(text), &o);
            CHECK(b.status == (i < 2 ? PERF_ERANGE : PERF_OK) && b.entries == 0, "%s: %s", list, perf_status_text(b.status));
            perf_baseline_free(&b);
        }
    }
    for (i = 100; i < 102; i++) {
        static char many[4000];
        size_t      k;
        snprintf(many, sizeof many, "{\"perf_results\":1,\"runs\":[");
        for (k = 0; k < i; k++)
            snprintf(many + strlen(many), sizeof many - strlen(many), "%s{\"run\":\"r%d\"}", k ? "," : "", (int)k);
        snprintf(many + strlen(many), sizeof many - strlen(many), "]}");
        b = checked(many);
        CHECK(b.status == (i == 100 ? PERF_OK : PERF_ELIMIT), "%d runs: %s", (int)i, perf_status_text(b.status));
        perf_baseline_free(&b);
    }
    {
        static const char *const odd[] = {
            "{\"perf_results\":1,\"benchmarks\":[{\"run\":\"r\",\"samples\":[1]}]}",
            "{\"perf_results\":1,\"benchmarks\":[{\"name\":\"x\",\"samples\":[1],\"baseline\":[1]}]}",
            "{\"perf_results\":1,\"benchmarks\":[{\"name\":\"x\",\"baseline\":[1,2],\"candidate\":[1]}]}",
            "{\"perf_results\":1,\"scopes\":[{\"run\":\"r\",\"calls\":3}]}"};
        for (i = 0; i < sizeof odd / sizeof *odd; i++) {
            b = checked(odd[i]);
            CHECK(b.status == PERF_EFORMAT && b.error_at > 0, "%s: %s", odd[i], perf_status_text(b.status));
            perf_baseline_free(&b);
        }
        b = checked("{\"perf_results\":1,\"benchmarks\":[{\"name\":\"x\",\"baseline\":[1,2]}]}");
        CHECK(b.status == PERF_OK && b.entries == 0, "half a duel is nothing: %s", perf_status_text(b.status));
        perf_baseline_free(&b);
    }
    perf_baseline_free(NULL);
    CHECK(perf_baseline_check(NULL, NULL).status == PERF_EINVAL &&
              perf_baseline_check("", NULL).status == PERF_EINVAL,
          "no path");
    CHECK(perf_baseline_check("/no/such/file", NULL).status == PERF_ENODATA, "no file");
    b = perf_baseline_check(dir, NULL);
    CHECK(b.status == PERF_EIO, "a folder: %s", perf_status_text(b.status));
    perf_baseline_free(&b);
    CHECK(perf_results_save(NULL, NULL) == PERF_EINVAL &&
              results_to(NULL, NULL) == PERF_EINVAL &&
              perf_baseline_add("", NULL) == PERF_EINVAL &&
              perf_baseline_add(NULL, NULL) == PERF_EINVAL &&
              perf_baseline_to(stdout, NULL) == PERF_EINVAL &&
              perf_baseline_to(NULL, &b) == PERF_EINVAL,
          "nothing to write to");
    CHECK(perf_report_to(NULL, NULL) == PERF_EINVAL && perf_trace_save("") == PERF_EINVAL &&
              perf_trace_save_perfetto(NULL) == PERF_EINVAL &&
              perf_export_save(NULL, PERF_EXPORT_FLAME, NULL) == PERF_EINVAL &&
              export_to(NULL, PERF_EXPORT_FLAME, NULL) == PERF_EINVAL &&
              perf_export_save(path, PERF_EXPORT_FORMATS_, NULL) == PERF_EINVAL,
          "nothing to write to");
    CHECK(perf_trace_stream(NULL) == PERF_ESTATE &&
              perf_trace_stream("/no/such/folder/x") == PERF_EIO &&
              perf_trace_stream_flush() == PERF_ESTATE && perf_trace_stream(NULL) == PERF_ESTATE,
          "no stream");
    CHECK(perf_trace_merge(NULL, &part, 1, NULL) == PERF_EINVAL &&
              perf_trace_merge(path, &part, 0, NULL) == PERF_EINVAL &&
              perf_trace_merge(path, NULL, 1, NULL) == PERF_EINVAL,
          "nothing to merge");
    at = 9;
    CHECK(perf_trace_merge(path, &part, 1, &at) == PERF_EINVAL && at == 0,
          "a part without a path: %d", (int)at);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    part.path = path;
    part.name = name;
    CHECK(perf_trace_merge(path, &part, 1, &at) == PERF_EINVAL && at == 0, "a name of 299 bytes");
    part.name = NULL;
    CHECK(perf_trace_merge("", &part, 1, NULL) == PERF_EINVAL, "no path");
    part.bound_ns = -1;
    CHECK(perf_trace_merge(path, &part, 1, NULL) == PERF_EINVAL, "less than exact");
    part.bound_ns = 0;
    part.path = "";
    CHECK(perf_trace_merge(path, &part, 1, NULL) == PERF_EINVAL, "no part");
    part.path = "/no/such/file";
    CHECK(perf_trace_merge(path, &part, 1, &at) == PERF_EIO && at == 0, "a part that is not there");
    CHECK(perf_tally_of(NULL, 0, &t) == PERF_EINVAL && perf_tally_of("x", 0, NULL) == PERF_EINVAL &&
              perf_tally_of("never recorded", 0, &t) == PERF_ENODATA && !t.calls,
          "tallies");
    memset(&u, 0, sizeof u);
    t.calls = UINT64_MAX;
    t.parts = u.parts = 1;
    u.calls = 1;
    CHECK(perf_tally_merge(&t, &u) == PERF_ERANGE && t.calls == UINT64_MAX &&
              perf_tally_merge(&t, &t) == PERF_EINVAL,
          "a sum that is too large changes nothing");
    CHECK(perf_diagnose(NULL) == PERF_EINVAL, "NULL");
    {
        static const char seven[2] = {'\x87', '\0'}, ever[11] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
        uint64_t          v;
        CHECK(!perf_varint_read_(NULL, NULL, &v) && !perf_varint_read_(seven, seven, &v) &&
                  !perf_varint_read_(seven, seven + 1, &v) && perf_varint_read_(seven, seven + 2, &v) == seven + 2 && v == 7,
              "a number of one byte and its end");
        CHECK(!perf_varint_read_(ever, ever + sizeof ever, &v), "more than 70 bits");
    }
}

/* ---- other tools' formats ---- */

/* Results of our own in that format; to be freed. */
static char *exported(perf_export_format format, const perf_results_opts *o)
{
    perf_status status = perf_export_save(path, format, o);

    CHECK(status == PERF_OK, "format %d: %s", (int)format, perf_status_text(status));
    return file_text(path);
}

static void exports(void)
{
    static const double times[5] = {100, NAN, -1, 120, 0};
    static char         title[300];
    int                 k;
    perf_result         r = PERF_ZERO, broken = PERF_ZERO;
    perf_results_item   item[5];
    perf_results_opts   o = PERF_ZERO;
    const char         *context[] = {"k", "v", "half of a pair", NULL};
    char               *text;

    memset(item, 0, sizeof item);
    r.time = perf_summarize(times, 1);
    r.time.count = 2;
    r.time.std = 14;
    broken.status = PERF_EDELETED;
    item[0].name = "wide\xc2\xa0\xe1\x9a\x80\xe2\x80\x83\xe3\x80\x80 \x7f\xff\xc3\xa9\xe4\xb8\x80\n\"";
    item[0].result = &r;
    item[0].samples = times;
    item[0].count = 5;
    item[1] = item[0];          /* the same name again */
    item[2].name = "broken";
    item[2].result = &broken;
    item[3].name = "nothing"; /* left out */
    item[4] = item[2];
    item[4].name = NULL;
    o.items = item;
    o.count = 5;
    o.context = context;
    text = exported(PERF_EXPORT_GO, &o);
    CHECK(strstr(text, "BenchmarkWide_______\xc3\xa9\xe4\xb8\x80_\"\t1\t100 ns/op\n") == text &&
              count_of(text, "ns/op") == 4 && count_of(text, "120 ns/op") == 2,
          "%s", text);
    free(text);
    text = exported(PERF_EXPORT_GOOGLE, &o);
    CHECK(json_valid(text) && count_of(text, "\"run_type\":\"iteration\"") == 6 &&
              count_of(text, "\"error_occurred\":true") == 2 && count_of(text, "(unnamed)") == 2 &&
              count_of(text, "\"aggregate_name\":\"stddev\"") == 2 && strstr(text, "{\"k\":\"v\",\"date\"") &&
              !strstr(text, "nothing"),
          "%s", text);
    free(text);
    text = exported(PERF_EXPORT_OPENMETRICS, &o);
    CHECK(count_of(text, "\nperf_benchmark_seconds{") == 1 && strstr(text, "\\n\\\"\"} 1e-7\n"), "%s", text);
    free(text);
    o.time_s = 1e12; /* past all calendars */
    CHECK(perf_results_save(path, &o) == PERF_EINVAL, "a time past all calendars");
    o.time_s = -1.0;
    CHECK(perf_results_save(path, &o) == PERF_EINVAL, "a time before all calendars");
    o.time_s = 0.0;  /* now */
    CHECK(perf_results_save(path, &o) == PERF_OK, "save");
    text = file_text(path);
    CHECK(json_valid(text) && strstr(text, "\"context\":{\"k\":\"v\"}") && !strstr(text, "1000000000000"), "%s", text);
    free(text);
    for (k = 0; k < 100 && !(perf_run_here_(&o).time_s > (double)(uint64_t)perf_run_here_(&o).time_s); k++)
        ;
    CHECK(k < 100, "runs of one second are told apart");
    item[0].count = 0; /* a result without a slice that may be written: nothing to tell */
    o.count = 1;
    text = exported(PERF_EXPORT_GO, &o);
    CHECK(count_of(text, "\t100 ns/op") == 1, "its median alone: %s", text);
    free(text);

    /* bytes beside those of wide blanks are letters */
    item[0].name = "x\xc2\xa1\xe1\x9b\x8f\xe2\x82\xac\xe3\x81\x82";
    text = exported(PERF_EXPORT_GO, &o);
    CHECK(strstr(text, "BenchmarkX\xc2\xa1\xe1\x9b\x8f\xe2\x82\xac\xe3\x81\x82\t") == text, "%s", text);
    free(text);
    perf_reset();
    perf_count("endless", INFINITY);
    perf_count("two", 2);
    text = exported(PERF_EXPORT_OPENMETRICS, NULL);
    CHECK(!strstr(text, "endless") && strstr(text, "perf_value{counter=\"two\"} 2\n") &&
              count_of(text, "# TYPE perf_value gauge") == 1,
          "%s", text);
    free(text);

    /* more text than the buffer of a file: every line is there */
    for (k = 0; k < 400; k++) {
        static char long_name[400][250];
        perf_scope  s;
        uint64_t    end;
        snprintf(long_name[k], sizeof long_name[k], "%0240d", k);
        s = perf_scope_begin(long_name[k]);
        end = perf_now() + 2000;
        while (perf_now() < end)
            perf_clobber();
        perf_scope_end(&s);
    }
    text = exported(PERF_EXPORT_FOLDED, NULL);
    k = count_of(text, "\n0") + (*text == '0'); /* others are of perf.h itself */
    CHECK(k == 400 && strlen(text) > 400 * 242, "%d lines", k);
    free(text);

    /* the call tree */
    perf_reset();
    {
        PERF_SCOPE("a;b\x7f\x01\xff");
        perf_scope s = perf_scope_begin("slow"), wait = perf_wait_begin("inside");
        uint64_t   end = perf_now() + 1000000;
        while (perf_now() < end)
            perf_clobber();
        perf_scope_end(&wait);
        perf_scope_end(&s);
    }
    text = exported(PERF_EXPORT_FOLDED, NULL);
    CHECK(strstr(text, "a_b__?;slow;inside "), "%s", text);
    free(text);
    memset(title, 't', sizeof title - 1);
    o.run = title;
    text = exported(PERF_EXPORT_FLAME, &o);
    CHECK(strstr(text, "const title=\"perf.h\"") && strstr(text, "\nconst diagnosis=\"") &&
              !strstr(text, "\nconst diagnosis=\"\""),
          "%.80s", strstr(text, "const title"));
    free(text);
    {
        FILE  *f;
        size_t n;
        char   bytes[8000];
        CHECK(perf_trace_save_perfetto(path) == PERF_OK, "perfetto");
        f = fopen(path, "rb");
        n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        for (k = 0; k + 6 <= (int)n && memcmp(bytes + k, "a;b\x7f\x01?", 6); k++) {
        }
        CHECK(k + 6 <= (int)n, "what is no character is a question mark there");
        if (f)
            fclose(f);
    }
    o.run = "mine";
    text = exported(PERF_EXPORT_FLAME, &o);
    CHECK(strstr(text, "const title=\"mine\""), "%.80s", strstr(text, "const title"));
    free(text);
    perf_reset();
}

/* Writes the file anew with `from` as `to` wherever it is. */
static void replace(const char *from, const char *to)
{
    char *text = file_text(path), *at = text, *next;
    FILE *f = fopen(path, "wb");

    if (!f)
        abort();
    for (; (next = strstr(at, from)) != NULL; at = next + strlen(from)) {
        fwrite(at, 1, (size_t)(next - at), f);
        fputs(to, f);
    }
    fputs(at, f);
    fclose(f);
    free(text);
}

/* Runs of another compiler, build or machine are counted and named, and not used. */
static void other_runs(void)
{
    static const double  times[8] = {100, 101, 102, 103, 104, 105, 106, 107};
    static const char   *const change[][3] = {{"\"compiler\":\"", "\"compiler\":\"other ", "other "},
                                             {"\"build\":\"", "\"build\":\"strange ", "strange "},
                                             {"\"machine\":\"", "\"machine\":\"far away ", "far away "}};
    perf_result         r = PERF_ZERO;
    perf_results_item   item;
    perf_baseline_opts  o;
    perf_baseline       b;
    char                name[20], to[600];
    char               *text;
    FILE               *f;
    int                 i, k;

    memset(&item, 0, sizeof item);
    memset(&o, 0, sizeof o);
    r.time = perf_summarize(times, 8);
    item.name = "one";
    item.result = &r;
    item.samples = times;
    item.count = 8;
    o.now.items = &item;
    o.now.count = 1;
    snprintf(to, sizeof to, "%s.table", path);
    for (i = 0; i < 3; i++) {
        remove(path);
        for (k = 0; k < 8; k++) {
            if (k == 1 || k == 2)
                replace(change[i][0], change[i][1]);
            snprintf(name, sizeof name, "run %d", k);
            o.now.run = name;
            o.now.time_s = 1.7e9 + 1000 * k;
            CHECK(perf_baseline_add(path, &o.now) == PERF_OK, "run %d", k);
        }
        o.now.run = "now";
        o.now.time_s = 1.7e9 + 9000;
        b = perf_baseline_check(path, &o);
        CHECK(b.status == PERF_OK && b.runs == 8 && b.other_runs == 2 && strstr(b.other, change[i][2]), "%d: %d of %d: %s", i,
              (int)b.other_runs, (int)b.runs, b.other);
        CHECK(b.entries == 1 && b.entry[0].runs == 6, "%d", (int)b.entries);
        f = fopen(to, "wb");
        CHECK(f && perf_baseline_to(f, &b) == PERF_OK, "table");
        fclose(f);
        text = file_text(to);
        CHECK(strstr(text, "2 runs of another") && strstr(text, change[i][2]), "%s", text);
        free(text);
        perf_baseline_free(&b);
        o.any_machine = 1;
        b = perf_baseline_check(path, &o);
        CHECK(b.other_runs == 0 && b.entry[0].runs == 8, "all count: %d", (int)b.other_runs);
        perf_baseline_free(&b);
        o.any_machine = 0;
    }
    remove(to);
    remove(path);
}

/* What this process has measured itself, each of nine runs alike: a duel, a bench, a scope, a counter.  All is
 * found again under its kind; then as if the processor's time had decided.                        */
static void own_loops(void)
{
    static double      cpu[2][4] = {{100, 101, 102, 103}, {50, 51, 1e-210, 1e210}};
    perf_registry_    *r = perf_registry_read_();
    perf_results_opts  o = PERF_ZERO;
    perf_baseline_opts c = PERF_ZERO;
    perf_ab_opts       ab = PERF_ZERO;
    perf_bench_opts    bo = PERF_ZERO;
    perf_loop_state_  *duel;
    perf_race          race;
    perf_bench         b;
    perf_ab            loop;
    perf_baseline      found;
    static const char *const name[8] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"};
    static const perf_metric metric[4] = {PERF_METRIC_P50, PERF_METRIC_P95, PERF_METRIC_P99, PERF_METRIC_MEAN};
    char               run[20], *text;
    FILE              *f;
    size_t             k, i, kinds[4];

    perf_reset();
    r->results = NULL;
    ab.max_pairs = ab.min_pairs = 6;
    ab.max_seconds = 0.02;
    ab.control = -1;
    race = perf_race_begin("race", 2, &ab);     /* a race is no pair: it is not saved */
    while (perf_race_next(&race) >= 0)
        perf_clobber();
    (void)perf_race_end(&race);
    bo.max_seconds = 0.005;
    for (i = 0; i < 8; i++) {
        b = perf_bench_begin(name[i], &bo);
        while (perf_bench_next(&b))
            perf_clobber();
        CHECK(perf_bench_end(&b).status == PERF_OK, "bench");
    }
    loop = perf_ab_begin("duel", &ab);
    while (perf_ab_next(&loop) >= 0)
        perf_clobber();
    (void)perf_ab_end(&loop);
    for (i = 0; i < 2000; i++) {
        PERF_SCOPE("often");
        perf_count("counter", 1);
    }
    for (i = 0; i < 3; i++) {
        PERF_SCOPE("thrice");
    }
    remove(path);
    for (k = 0; k < 9; k++) {
        snprintf(run, sizeof run, "run %d", (int)k);
        o.run = run;
        o.time_s = 1.7e9 + (double)k;
        CHECK(perf_baseline_add(path, &o) == PERF_OK, "run %d", (int)k);
    }
    o.run = "now";
    o.time_s = 1.7e9 + 9;                       /* "1 second ago" */
    c.now = o;
    c.most_unchanged = 1;
    found = perf_baseline_check(path, &c);
    CHECK(found.status == PERF_OK && found.runs == 9 && !found.other_runs && !found.missing && !found.fresh && !found.rejected, "%s: %d runs, %d missing",
          perf_status_text(found.status), (int)found.runs, (int)found.missing);
    memset(kinds, 0, sizeof kinds);
    for (i = 0; i < found.entries; i++) {
        kinds[found.entry[i].kind]++;
        CHECK(found.entry[i].runs == 9 && fabs(found.entry[i].now / found.entry[i].before - 1) < 1e-3, "%s: %g to %g", found.entry[i].name,
              found.entry[i].before, found.entry[i].now);
    }
    CHECK(kinds[1] == 8 && kinds[2] == 1 && kinds[3] == 2, "%d benches, %d duels, %d scopes", (int)kinds[1], (int)kinds[2], (int)kinds[3]);
    CHECK(found.beside == 10, "all but the duel: %d", (int)found.beside);
    snprintf(run, sizeof run, "%.3fx", found.entry[8].now);
    f = fopen("table", "wb");
    CHECK(f && perf_baseline_to(f, &found) == PERF_OK && !fclose(f), "table");
    text = file_text("table");
    CHECK(strstr(text, "the last 1 second ago") && strstr(text, ", beside what the entries share\n") && strstr(text, run), "%s in %s", run, text);
    free(text);
    remove("table");
    perf_baseline_free(&found);
    for (i = 0; i < 4; i++) {                   /* percentiles of three calls are not known */
        c.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, metric[i]);
        found = perf_baseline_check(path, &c);
        CHECK(found.status == PERF_OK && found.entries == 11, "%s", perf_status_text(found.status));
        for (k = 0; k < found.entries; k++) {
            int few = !strcmp(found.entry[k].name, "thrice") && metric[i] != PERF_METRIC_MEAN;
            if (found.entry[k].kind == PERF_BASELINE_SCOPE)
                CHECK((found.entry[k].runs == 0) == few && (!few || strstr(found.entry[k].verdict.reason, "too few")), "%d: %s: %d runs", (int)i,
                      found.entry[k].name, (int)found.entry[k].runs);
        }
        perf_baseline_free(&found);
    }
    c.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 2.0, PERF_METRIC_PAIR);
    c.accept.rule.metric = PERF_METRIC_THROUGHPUT;
    found = perf_baseline_check(path, &c);
    CHECK(found.status == PERF_EINVAL && !found.entries, "throughput: %s", perf_status_text(found.status));
    c.accept.rule.metric = PERF_METRIC_MEMORY;
    found = perf_baseline_check(path, &c);
    CHECK(found.status == PERF_EINVAL && !found.entries, "memory: %s", perf_status_text(found.status));

    /* the processor's time decides: its values are written, pair by pair where both are durations */
    duel = (perf_loop_state_ *)r->results;
    CHECK(duel->loop.kind == 2 && !strcmp(duel->loop.name, "duel"), "the last one");
    duel->ab.decides = PERF_DECIDES_CPU;
    duel->ab.baseline_cpu = perf_summarize(cpu[0], 4);
    duel->ab.candidate_cpu = perf_summarize(cpu[1], 2);
    duel->ab.verdict.reason = NULL;
    duel->ab.warnings = UINT32_C(1) << 31;
    for (i = 0; i < 2; i++) {
        duel->arm[i].cpu = cpu[i];
        duel->arm[i].count = 4;
    }
    perf_loop_samples_(duel);
    CHECK(perf_results_save(path, &o) == PERF_OK, "save");
    text = file_text(path);
    CHECK(json_valid(text) && strstr(text, "\"decides\":\"cpu\"") && strstr(text, "\"reason\":\"\"") && strstr(text, "\"unknown warning\"") &&
              strstr(text, "\"baseline\":[100,101]") && strstr(text, "\"candidate\":[50,51]"),
          "%.3000s", strstr(text, "\"duel\""));
    free(text);
    CHECK(results_to(fopen("/dev/full", "wb"), &o) == PERF_EIO, "a full disk");
    f = fopen("/dev/full", "wb");
    (void)setvbuf(f, NULL, _IONBF, 0);
    CHECK(f && results_to(f, &o) == PERF_EIO, "a full disk, without a buffer");
    fclose(f);
    r->results = NULL;
    perf_reset();
}

/* A hundred damaged files are kept, each under a name of its own; the next is left where it is. */
static void damaged(void)
{
    static const char *const wrong[] = {"{\"perf_results\":1,\"runs\":[", "{\"perf_results\":1,\"benchmarks\":[{\"name\":\"x\",\"samples\":[1e400]}]}",
                                        "{\"perf_results\":1}}"};
    char        name[600], *text;
    int         i;
    perf_status status;

    for (i = 1; i <= 101; i++) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fputs(wrong[i % 3], f) >= 0 && !fclose(f), "write");
        status = perf_baseline_add(path, NULL);
        CHECK(status == (i == 101 ? PERF_EIO : PERF_OK), "%d: %s", i, perf_status_text(status));
        text = file_text(path);
        CHECK((strcmp(text, wrong[i % 3]) == 0) == (i == 101), "%d: %.100s", i, text);
        free(text);
    }
    for (i = 1; i <= 101; i++) {
        snprintf(name, sizeof name, i > 1 ? "%s.damaged.%d" : "%s.damaged", path, i);
        text = i < 101 ? file_text(name) : NULL;
        CHECK(i == 101 || !strcmp(text, wrong[i % 3]), "%s", name);
        CHECK((remove(name) == 0) == (i < 101), "%s", name);
        free(text);
    }
    remove(path);
}

/* ---- scopes and loops ---- */

static void names(void)
{
    char       text[400];
    perf_scope s;
    perf_async a = PERF_ZERO;

    perf_reset();
    s = perf_scope_begin(NULL);
    perf_scope_end(&s);
    CHECK(perf_error() == PERF_EINVAL && row_of("(null)", "scope").calls == 1, "NULL is told");
    perf_reset();
    s = perf_scope_begin("");
    perf_scope_end(&s);
    CHECK(perf_error() == PERF_OK && row_of("(empty)", "scope").calls == 1, "no name is a name");
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[253] = '\xe2'; /* three bytes from 253 on: the cut is before them */
    text[254] = '\x82';
    text[255] = '\xac';
    s = perf_scope_begin(text);
    perf_scope_end(&s);
    text[253] = '\0';
    CHECK(perf_error() == PERF_ELIMIT && row_of(text, "scope").calls == 1,
          "cut between characters");
    perf_reset();
    {
/* a file whose path is longer than what is kept of it */
#define TEN   "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
        static perf_site_ site = {"a long path", FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "/end.c", 7,
                                  0};
        perf_registry_   *r = perf_registry_get_();
        uint32_t          id = perf_site_id_(r, &site);
        const char       *file = r->names[id]->site.file;
        CHECK(id && strlen(file) == 255 && !strcmp(file + 255 - 6, "/end.c"), "%s", file);
    }
    memset(text, '\x80', sizeof text - 1); /* no character at all: cut where the last one may have begun */
    s = perf_scope_begin(text);
    perf_scope_end(&s);
    {
        perf_registry_ *r = perf_registry_get_();
        CHECK(r->names[r->count - 1]->length == 251, "%u", r->names[r->count - 1]->length);
    }
    {
        perf_fiber fiber = PERF_ZERO, none = PERF_ZERO;
        perf_fiber_switch(NULL, &fiber);
        perf_fiber_switch(&fiber, NULL);
        CHECK(!memcmp(&fiber, &none, sizeof none), "from where, to where?");
    }
    perf_scope_end(NULL);
    perf_async_end(NULL);
    perf_async_end(&a);
    perf_lap_end(NULL, "x");
    perf_thread_name(NULL);
    perf_count(NULL, 1);
    perf_instant(NULL);
    CHECK(row_of("(null)", "counter").calls == 1 && row_of("(null)", "instant").calls == 1,
          "of no name");
    perf_reset();
    perf_count("odd", NAN);
    CHECK(perf_error() == PERF_ESTATE && row_of("odd", "counter").calls < 0.5, "NaN is no count");
    perf_count("odd", INFINITY);
    CHECK(row_of("odd", "counter").calls <= 2, "no numbers");
    perf_reset();
}

/* Names and checks that are none leave a race as it is; a check that saw nothing keeps back an ACCEPT. */
static void odd_marks(void)
{
    perf_ab_opts     o = PERF_ZERO;
    perf_accuracy    a;
    perf_race        r;
    perf_race_result e;
    perf_ab          ab;
    int              v;

    memset(&a, 0, sizeof a);
    o.max_seconds = 0.01;
    o.control = -1;
    r = perf_race_begin("names", 2, &o);
    perf_race_name(&r, 1, "second");
    perf_race_name(&r, -1, "before the first");
    perf_race_name(&r, 2, "behind the last");
    perf_race_name(&r, 1, NULL);
    perf_ab_accuracy(&r, a); /* without a value: nothing to say */
    while ((v = perf_race_next(&r)) >= 0)
        perf_clobber();
    e = perf_race_end(&r);
    CHECK(e.count == 2 && !strcmp(e.entry[0].name, "0") && !strcmp(e.entry[1].name, "second"), "'%s' '%s'",
          e.entry[0].name, e.entry[1].name);
    perf_race_name(&r, 1, "too late");
    CHECK(!strcmp(e.entry[1].name, "second"), "'%s'", e.entry[1].name);
    ab = perf_ab_begin("checked", &o);
    a.max_abs = CHECK_NAN;
    perf_ab_accuracy(&ab, a);
    perf_race_name(&ab, 0, "a duel has no names");
    while ((v = perf_ab_next(&ab)) >= 0)
        perf_clobber();
    CHECK(perf_ab_end(&ab).opts.accept.guard.required == 1, "looked at nothing");
}

/* A table of loops and scopes keeps to the width asked for, with fewer columns. */
static void widths(void)
{
    static const char *const column[] = {"p95", "p99", "first"};
    static const int         least[] = {76, 86, 96};
    perf_report_opts         o = PERF_ZERO;
    int                      width, i;
    size_t                   n;
    char                    *text, *line, *loops;
    FILE                    *f;

    for (width = 60; width <= 120; width += 5) {
        o.width = width;
        f = fopen(path, "wb");
        CHECK(f && perf_report_to(f, &o) == PERF_OK, "report");
        fclose(f);
        text = file_text(path);
        for (line = text; *line; line += n + (line[n] != '\0')) {
            n = strcspn(line, "\n");
            CHECK(n <= (size_t)width || !memchr(line, ' ', n), "%d: %d columns: %.*s", width, (int)n, (int)n, line);
        }
        loops = strstr(text, "\n  benchmark ");
        CHECK(loops, "%d: no loops in %s", width, text);
        n = loops ? strcspn(loops + 1, "\n") : 0;
        for (i = 0; loops && i < 3; i++) {
            loops[n + 1] = '\0';
            CHECK((strstr(loops + 1, column[i]) != NULL) == (width >= least[i]), "%d: %s", width, loops + 1);
        }
        free(text);
    }
}

static void loops(void)
{
    static const struct {
        const char *text;
        int         says;
        perf_status error;
    } c[] = {{"x=1", 1, PERF_OK},         {"x=b", 1, PERF_OK},
             {"x=B", 1, PERF_OK},
             {"x=candidate", -7, PERF_EFORMAT}, {"y=3, x = 12 ,z=1", 12, PERF_OK},
             {"", -7, PERF_OK},           {"y=1", -7, PERF_OK},
             {"x=64", -7, PERF_EFORMAT},  {"x=123", -7, PERF_EFORMAT},
             {"x=b2", -7, PERF_EFORMAT},  {"x=", -7, PERF_EFORMAT},
             {"x", -7, PERF_EFORMAT},     {"x, y=1", -7, PERF_EFORMAT},
             {"x=1 2", -7, PERF_EFORMAT}, {"x=0", 0, PERF_OK},
             {"xy=3", -7, PERF_OK},       {"x={", -7, PERF_EFORMAT},
             {"x=@", -7, PERF_EFORMAT},   {"x=1=2", -7, PERF_OK},
             {"z=1,x=z", 25, PERF_OK}};
    perf_ab_opts o = PERF_ZERO;
    perf_bench   b = perf_bench_begin(NULL, NULL);
    perf_race    r;
    size_t       i;

    for (i = 0; i < sizeof c / sizeof *c; i++) {
        perf_reset();
        setenv("PERF_VARIANT", c[i].text, 1);
        CHECK(perf_variant("x", -7) == c[i].says && perf_error() == c[i].error, "'%s': %d, %s",
              c[i].text, perf_variant("x", -7), perf_status_text(perf_error()));
    }
    setenv("PERF_VARIANT", "y=2, x=3", 1);
    CHECK(perf_variant(" x", -7) == 3, "a name may begin with a blank: %d", perf_variant(" x", -7));
    setenv("PERF_VARIANT", "x=1=2", 1);
    CHECK(perf_variant("x=1", -7) == 2, "and hold a sign: %d", perf_variant("x=1", -7));
    unsetenv("PERF_VARIANT");
    CHECK(perf_variant(NULL, 4) == 4, "of no name");
    CHECK(perf_bench_end(&b).status == PERF_ESTATE || perf_bench_end(&b).time.count == 0,
          "ended before it began");
    CHECK(perf_bench_end(&b).status == PERF_ESTATE, "ended twice");
    r = perf_race_begin("none", 0, &o);
    CHECK(perf_race_next(&r) == -1 && perf_race_end(&r).status != PERF_OK, "no variants");
    r = perf_race_begin("too many", 1000, &o);
    CHECK(perf_race_next(&r) == -1 && perf_race_end(&r).status != PERF_OK, "too many variants");
    perf_race_name(&r, 0, "x");
    {
        perf_loop     none = PERF_ZERO, still = PERF_ZERO;
        perf_accuracy a;
        memset(&a, 0, sizeof a);
        perf_bench_pause(NULL);
        perf_bench_resume(NULL);
        perf_bench_pause(&none);
        perf_bench_resume(&none);
        perf_ab_accuracy(NULL, a);
        perf_ab_accuracy(&b, a); /* a bench compares nothing */
        perf_race_name(NULL, 0, "x");
        CHECK(!perf_loop_slice_begins(NULL) && !memcmp(&none, &still, sizeof none), "no loop");
    }
    perf_reset();
}

/* The lock is ours, as in a signal handler that came while this thread held it: nobody waits, nothing is
 * changed, and what could not be counted is counted as lost.                                      */
static int  collected, forgotten;
static void collect(struct perf_registry_ *unused)
{
    (void)unused;
    collected++;
}

static void tell(perf_out_ *o, int json)
{
    CHECK(!json, "a table");
    perf_put_(o, "told by a source\n");
}

static void forget(void)
{
    forgotten++;
}

static void inside(void)
{
    static perf_source_ source, other;
    static char         text[20000];
    perf_registry_     *r = perf_registry_get_();
    perf_bench          b;

    CHECK(perf_lock_(r) && !perf_lock_(r), "ours");
    PERF_SCOPE("first seen inside");
    perf_count("counted inside", 1);
    perf_instant("told inside");
    perf_trace_enable(0);
    CHECK(!PERF_GET_(&r->trace_off), "not switched");
    perf_reset();
    CHECK(perf_error() != PERF_OK, "not reset");
    perf_source_add_(r, &source);
    CHECK(r->sources != &source && !perf_track_make_(r, "track"), "nothing added");
    b = perf_bench_begin("begun inside", NULL);
    CHECK(perf_bench_end(&b).time.count == 0 && perf_memory_mark("inside") != PERF_OK,
          "not measured");
    CHECK(perf_trace_stream(path) == PERF_ESTATE && perf_trace_stream(NULL) == PERF_ESTATE,
          "no stream");
    CHECK(perf_sink_set_(NULL, NULL) == PERF_ENOMEM, "no sink");
    CHECK(perf_report_text(text, sizeof text, NULL) > 0 && !strstr(text, "first seen inside"), "%s", text);
    CHECK(perf_trace_save(path) == PERF_EIO, "no trace: %s", perf_status_text(perf_trace_save(path)));
    CHECK(perf_results_save(path, NULL) == PERF_OK, "results of what is known");
    CHECK(perf_trace_stream_flush() == PERF_ESTATE, "no stream");
    perf_unlock_(&r->lock);
    CHECK(row_of("first seen inside", "scope").calls < 0.5 &&
              row_of("counted inside", "counter").calls < 0.5,
          "not counted");
    perf_reset();
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    source.collect = collect;
    perf_source_add_(r, &source);
    perf_source_add_(r, &source);
    CHECK(r->sources == &source && !source.next, "added once");
    (void)row_of("any", "scope");
    CHECK(collected == 2, "one for the length, one for the text: %d", collected);
    perf_source_add_(r, &other);
    perf_source_add_(r, &source);
    CHECK(r->sources == &other && other.next == &source && !source.next, "behind the other one, once");
    other.reset = forget;
    other.report = tell;
    perf_reset();
    CHECK(forgotten == 1, "%d", forgotten);
    (void)perf_report_text(text, sizeof text, NULL);
    CHECK(strstr(text, "told by a source\n"), "%s", text);
    r->sources = NULL;
    {
        perf_recorder_ *t = perf_track_make_(r, "a track whose name is longer than 31 bytes");
        CHECK(t && !strcmp(t->name, "a track whose name is longer th") && t->foreign_track, "a track");
    }
}

int main(int argc, char **argv)
{
    dir = argc > 1 ? argv[1] : dir;
    snprintf(path, sizeof path, "%s/file", dir);
    texts();
    devices();
    bounds();
    characters();
    numbers();
    ends();
    rules();
    histograms();
    files();
    digits();
    exports();
    other_runs();
    own_loops();
    damaged();
    names();
    loops();
    odd_marks();
    widths();
    inside();
    return check_done();
}
