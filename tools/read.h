/* read.h - reads samples in any of the formats of docs/formats.md, and says where a file is wrong.
 *
 * ab_read() looks at the content, never at the file's name.  Every value it hands on is a positive
 * finite number.  What names a benchmark (parameters, package, arguments) is part of its key.  A
 * broken value costs its benchmark: ab_series.why says so.  Values that are not used are counted in
 * ab_set.note.  Formats: read_csv.h, read_go.h, read_json.h, read_others.h, read_xml.h.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_H
#define PERF_TOOLS_READ_H

#include "read_csv.h"
#include "read_go.h"
#include "read_others.h"
#include "read_xml.h"

PERF_FN const char *ab_format_name(ab_format f)
{
    static const char *const name[AB_FORMATS] = {
        "auto", "plain", "csv", "go", "json", "google", "hyperfine", "pyperf", "pytest", "jmh",
        "benchmarkdotnet", "criterion", "asv", "catch2"};
    return name[f];
}

/* The format of that name, or -1. */
PERF_FN int ab_format_of(const char *name)
{
    int f;

    for (f = AB_DETECT; f < AB_FORMATS; f++)
        if (!strcmp(name, ab_format_name((ab_format)f)))
            return f;
    return -1;
}

/* ---- which format ---- */

/* 1 for a line of Go's results: BenchmarkName, then a number of iterations. */
PERF_FN int ab_is_go_(const ab_source *s, size_t at)
{
    size_t end = at + ab_line_(s, at);

    if (!ab_starts_(s, at, "Benchmark"))
        return 0;
    at += ab_word_(s, &at, end);
    return ab_word_(s, &at, end) && ab_is_digit(s->text[at]);
}

/* 1 where one of the lines from `at` on is Go's. */
PERF_FN int ab_has_go_(const ab_source *s, size_t at)
{
    for (; at < s->len; at = ab_next_line_(s, at))  /* Go prints what the program prints, too     */
        if (ab_is_go_(s, at) || ab_starts_(s, at, "goos:") || ab_starts_(s, at, "pkg:"))
            return 1;
    return 0;
}

/* 1 where the first line is an event of go test -json. */
PERF_FN int ab_is_go_json_(const ab_source *s, size_t at)
{
    json_t *root = json_loadb(s->text + at, ab_line_(s, at), 0, NULL);
    int     is = json_is_string(json_object_get(root, "Action"));

    json_decref(root);
    return is;
}

/* What a text looks like, from its first line that says anything. */
PERF_FN ab_format ab_detect_(const ab_source *s)
{
    size_t at = 0, len, i;
    char   c;

    while (at < s->len && ab_skip_line_(s, at))
        at = ab_next_line_(s, at);
    if (at >= s->len)
        return AB_DETECT;
    i = json_blank_(s, at);
    c = s->text[i];
    if (c == '{' || c == '[')
        return ab_is_go_json_(s, i) ? AB_GO : AB_RESULTS;
    if (c == '<')
        return AB_CATCH2;
    len = ab_line_(s, at);
    if (ab_is_digit(c) || c == '.' || c == '-' || c == '+') {
        if (ab_starts_(s, i, "--- "))               /* of Go                                      */
            return AB_GO;
        return memchr(s->text + at, ',', len) || memchr(s->text + at, ';', len) ? AB_CSV : AB_PLAIN;
    }
    if (len == 3 && (ab_starts_(s, at, "nan") || ab_starts_(s, at, "NaN") ||
                     ab_starts_(s, at, "inf")))
        return AB_PLAIN;
    return ab_has_go_(s, at) ? AB_GO : AB_CSV;
}

/* Reads the text as that format.  -1 with a message. */
PERF_FN int ab_read_as_(const ab_source *s, ab_format format)
{
    const size_t start = json_blank_(s, 0);
    const int    json = start < s->len && (s->text[start] == '{' || s->text[start] == '[');

    if (format == AB_DETECT)
        return ab_fail_at(s, 0, "nothing to read: no number in this file", NULL, 0);
    if (format == AB_PLAIN)
        return ab_read_plain_(s);
    if (format == AB_CSV || (format == AB_CRITERION && !json))
        return ab_read_csv_(s);
    if (format == AB_GO)
        return json ? ab_read_go_json_(s) : ab_read_go_(s);
    return format == AB_CATCH2 ? ab_read_xml_(s) : ab_read_json_(s);
}

/* ---- when all is read ---- */

/* Benchmarks whose values say together that they cannot be judged. */
PERF_FN void ab_conclude_(const ab_source *s)
{
    size_t i;

    for (i = 0; i < s->set->n; i++) {
        ab_series *x = &s->set->s[i];
        if (x->zeros && x->fractions && ab_unit_kind(x->unit) == AB_OTHER) {
            ab_fail(s->e, s->file, 0, 0, "0 beside fractions of %.40s: no count, and no ratio to 0",
                    x->unit);
            ab_refuse(s, x);
        }
        if (x->aggregates && !x->runs) {
            ab_fail_at(s, x->aggregates - 1, "only aggregates: "
                       "--benchmark_report_aggregates_only=false keeps the repetitions", NULL, 0);
            ab_refuse(s, x);
        }
    }
}

/* Why a file that could be read has nothing for us. */
PERF_FN int ab_nothing_(const ab_source *s)
{
    static const char *const has[] = {"times", "memory figures", "rates", "what --value names"};
    static const char *const ask[] = {"time", "memory", "throughput"};
    char   what[160];
    size_t i;
    int    k;

    for (i = 0; i < s->set->n; i++)
        if (s->set->s[i].lack == AB_REFUSED || (s->set->s[i].lack != AB_HAS && !s->o->value)) {
            snprintf(s->e->text, sizeof s->e->text, "%s", s->set->s[i].why);
            return -1;
        }
    for (k = AB_TIME; k < AB_OTHER; k++)
        if (s->set->unwanted[k]) {
            snprintf(what, sizeof what, "asked for %s, this file has %s (--metric %s)",
                     has[s->o->want], has[k], ask[k]);
            return ab_fail_at(s, 0, what, NULL, 0);
        }
    if (s->o->value)
        return ab_fail_at(s, s->len, "nothing of the name that --value gives", NULL, 0);
    return ab_fail_at(s, s->len, "no value in this file", NULL, 0);
}

/* How many values can be judged. */
PERF_FN size_t ab_usable_(const ab_set *set)
{
    size_t i, k, n = 0;

    for (i = 0; i < set->n; i++)
        for (k = 0; k < set->s[i].runs && set->s[i].lack == AB_HAS; k++)
            n += set->s[i].run[k].v[0].n;
    return n;
}

/* Adds what text[0..len) holds to the set.  text[len] must be 0.  Returns 0, or -1 with a message;
 * the set then holds some of it and is only fit for ab_set_free.                                 */
PERF_FN int ab_read(ab_set *set, const char *file, const char *text, size_t len,
                    const ab_read_opts *o, ab_error *e)
{
    static const ab_read_opts none;
    ab_source   s;
    ab_cursor   cursor;
    ab_format   format;
    const char *zero;
    int         failed;
    char       *own = NULL;             /* the text as UTF-8, where it is not                     */

    memset(&s, 0, sizeof s);
    memset(&cursor, 0, sizeof cursor);
    s.file = file;
    s.text = text;
    s.len = len;
    s.o = o ? o : &none;
    s.set = set;
    s.e = e;
    s.cursor = &cursor;
    if (len >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return ab_fail_at(&s, 0, "UTF-16 text: save it as UTF-8", NULL, 0);
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        s.text += 3;
        s.len -= 3;
    }
    zero = (const char *)memchr(s.text, '\0', s.len);
    if (zero)
        return ab_fail_at(&s, (size_t)(zero - s.text), "a zero byte: this is no text file", NULL, 0);
    format = s.o->format == AB_DETECT ? ab_detect_(&s) : s.o->format;
    if (format < AB_RESULTS) {
        own = ab_as_utf8(s.text, &s.len);
        s.text = own ? own : s.text;
    }
    failed = ab_read_as_(&s, format);
    if (!failed)
        ab_conclude_(&s);
    if (!failed && !ab_usable_(set))
        failed = ab_nothing_(&s);
    free(own);
    return failed;
}

/* ---- files ---- */

/* Reads a stream to its end, with a zero byte behind; NULL with *why: it cannot be used. */
PERF_FN char *ab_slurp_stream_(FILE *f, size_t *len, const char **why)
{
    size_t cap = 1 << 16, n = 0, got;
    char  *t = (char *)ab_grow(NULL, cap, 1);

    while (!*why && (got = fread(t + n, 1, cap - 1 - n, f)) > 0) {
        if (memchr(t + n, '\0', got) && n + got >= 1 << 16)
            *why = "zero bytes: this is no text file";  /* a device gives them for ever          */
        n += got;
        if (n > AB_MOST_BYTES)
            *why = "more than 256 MiB: no file of measurements is so long";
        if (n == cap - 1 && !*why) {
            cap = cap * 2;
            t = (char *)ab_grow(t, cap, 1);
        }
    }
    if (*why || ferror(f)) {
        free(t);
        return NULL;
    }
    t[n] = '\0';
    *len = n;
    return t;
}

/* The whole file (- is standard input) with a zero byte behind; NULL with a message. */
PERF_FN char *ab_slurp(const char *file, size_t *len, ab_error *e)
{
    FILE       *f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    const char *why = NULL;
    char       *t;

    if (!f) {
        ab_fail(e, file, 0, 0, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    t = ab_slurp_stream_(f, len, &why);
    if (!t && why)
        ab_fail(e, file, 0, 0, "%s", why);
    else if (!t)
        ab_fail(e, file, 0, 0, "cannot be read: %s", strerror(errno));
    if (f != stdin)
        fclose(f);
    return t;
}

PERF_FN int ab_read_file(ab_set *set, const char *file, const ab_read_opts *o, ab_error *e)
{
    size_t len = 0;
    char  *text = ab_slurp(file, &len, e);
    int    failed = text ? ab_read(set, file, text, len, o, e) : -1;

    free(text);
    return failed;
}

#endif
