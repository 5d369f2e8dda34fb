/* Fuzz target: every reader of perf-ab.  The input is a file, read by its looks, then as one of the
 * formats that its length chooses, and its scopes as those of two processes.  What is accepted holds
 * positive finite numbers only, and survives being written as perf_results and read again; what is
 * refused says where.
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itools tests/fuzz/samples.c -ljansson
 * tests/tool/meson.build runs it with run.c.                                                     */
#define _POSIX_C_SOURCE 200809L

#include "../../tools/page.h"
#include "../../tools/ranks.h"
#include "../../tools/read.h"
#include "../../tools/write.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition, const char *what, const ab_error *e)
{
    if (condition)
        return;
    fprintf(stderr, "samples.c: %s: %s\n", what, e->text);
    abort();
}

/* How many values a set holds; each must be usable. */
static size_t count(const ab_set *set)
{
    ab_error e = {""};
    size_t   i, k, n, total = 0;
    int      side;

    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs; k++)
            for (side = 0; side < (set->s[i].design == AB_PAIRS ? 2 : 1); side++) {
                const ab_values *v = &set->s[i].run[k].v[side];
                must(v->n == set->s[i].run[k].v[0].n, "pairs of different length", &e);
                for (n = 0; n < v->n; n++)
                    must(v->x[n] > 0.0 && isfinite(v->x[n]), "a value that is no duration",
                         &e);
                total += v->n;
            }
    return total;
}

/* Judged against itself, in every form of output. */
static void report(const ab_set *set)
{
    ab_report r;
    ab_row    row;
    ab_series b = set->s[0];
    ab_error  e;
    FILE     *f = fopen("/dev/null", "w");

    memset(&r, 0, sizeof r);
    memset(&row, 0, sizeof row);
    r.name[0] = r.name[1] = set->s[0].name;
    r.format[0] = r.format[1] = set->format;
    r.plan.rules = 1;
    r.plan.confidence = 0.95;
    r.plan.rule[0] = row.d[0].rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    r.row = &row;
    r.n = 1;
    row.name = set->s[0].name;
    if (f && ab_collect(&row.d[0], &set->s[0], b.design == AB_PAIRS ? &set->s[0] : &b,
                        &r.plan, "x", &e) == 0) {
        ab_judge(&r);
        ab_print_table(f, &r);
        ab_print_report_json(f, &r);
        ab_print_csv(f, &r);
        ab_print_markdown(f, &r);
        ab_print_page(f, &r);
    }
    ab_data_free(&row.d[0]);
    if (f)
        fclose(f);
}

static void read_as(const char *text, size_t size, const ab_read_opts *o)
{
    ab_set       set, again;
    ab_error     e = {""};
    ab_read_opts all;
    char        *written = NULL;
    size_t       length = 0;
    FILE        *f;

    memset(&set, 0, sizeof set);
    memset(&again, 0, sizeof again);
    if (ab_read(&set, "input", text, size, o, &e) < 0) {
        must(!strncmp(e.text, "input:", 6), "a message without its place", &e);
        ab_set_free(&set);
        return;
    }
    must(count(&set) > 0, "accepted without a value", &e);
    f = open_memstream(&written, &length);
    ab_print_results(f, &set);
    fclose(f);
    memset(&all, 0, sizeof all);
    all.every = 1;
    /* Names that are not UTF-8 may be the same once they are written: two units in one, then. */
    if (ab_read(&again, "again", written, length, &all, &e) == 0)
        must(count(&again) == count(&set), "lost a value on the way", &e);
    else
        must(strstr(written, "\\ufffd") || strstr(written, "\xef\xbf\xbd"), "cannot read what it wrote", &e);
    if (set.s[0].runs)
        report(&set);
    free(written);
    ab_set_free(&again);
    ab_set_free(&set);
}

/* The scopes of two such files, as perf-ab merge does it. */
static void merge(const char *text, size_t size)
{
    static const char *const name[] = {"rank 7", "rank 8"};
    ab_about_file about;
    ab_rank       rank[2];
    ab_set        set;
    ab_scopes     both, again;
    ab_error      e = {""};
    char         *written = NULL;
    size_t        length = 0;
    int           found = 1, i;
    FILE         *f;

    memset(&set, 0, sizeof set);
    memset(&both, 0, sizeof both);
    memset(&again, 0, sizeof again);
    for (i = 0; i < 2; i++) {
        rank[i].name = name[i];
        rank[i].runs = json_object();
        if (found > 0)
            found = ab_read_scopes(&both, "input", text, size, (size_t)i + 1, size % 3 ? NULL : &rank[i],
                                   &about, &e);
        json_decref(rank[i].runs);
    }
    must(found >= 0 || !strncmp(e.text, "input:", 6), "a message without its place", &e);
    if (found > 0) {
        f = open_memstream(&written, &length);
        ab_print_results_begin(f, &set);
        ab_print_scopes_json(f, &both);
        fputs("\n}\n", f);
        fclose(f);
        must(ab_read_scopes(&again, "again", written, length, 1, NULL, &about, &e) == 2 * found,
             "lost a scope on the way", &e);
        must(ab_scope_runs_(&again) == ab_scope_runs_(&both), "lost a run on the way", &e);
        free(written);
        f = fopen("/dev/null", "w");
        if (f) {
            ab_print_scopes(f, &both);
            fclose(f);
        }
        ab_scopes_free(&again);
    }
    ab_scopes_free(&both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ab_read_opts o;
    char        *text = (char *)malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&o, 0, sizeof o);
    read_as(text, size, &o);
    o.format = (ab_format)(size % AB_FORMATS);
    o.want = (ab_kind)(size / 16 % 3);
    o.every = size / 48 % 2 != 0;
    o.value = size / 96 % 4 ? NULL : "b";
    read_as(text, size, &o);
    merge(text, size);
    free(text);
    return 0;
}
