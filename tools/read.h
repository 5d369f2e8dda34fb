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

#include <sys/stat.h>

PERF_FN const char *ab_format_name(ab_format format)
{
    static const char *const name[AB_FORMATS] = {
        "auto", "plain", "csv", "go", "json", "google", "hyperfine", "pyperf", "pytest", "jmh",
        "benchmarkdotnet", "criterion", "asv", "catch2"};
    return name[format];
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
PERF_FN int ab_is_go_(const ab_source *source, size_t at)
{
    size_t end = at + ab_line_(source, at);

    if (!ab_starts_(source, at, "Benchmark"))
        return 0;
    at += ab_word_(source, &at, end);
    return ab_word_(source, &at, end) && ab_is_digit(source->text[at]);
}

/* 1 where one of the lines from `at` on is Go's. */
PERF_FN int ab_has_go_(const ab_source *source, size_t at)
{
    /* Go prints what the program prints, too */
    for (; at < source->len; at = ab_next_line_(source, at))
        if (ab_is_go_(source, at) || ab_starts_(source, at, "goos:") ||
            ab_starts_(source, at, "pkg:"))
            return 1;
    return 0;
}

/* 1 where the first line is an event of go test -json. */
PERF_FN int ab_is_go_json_(const ab_source *source, size_t at)
{
    json_t *root = json_loadb(source->text + at, ab_line_(source, at), 0, NULL);
    int     is = json_is_string(json_object_get(root, "Action"));

    json_decref(root);
    return is;
}

/* What a text looks like, from its first line that says anything. */
PERF_FN ab_format ab_detect_(const ab_source *source)
{
    size_t at = 0, len, i;
    char   ch;

    while (at < source->len && ab_skip_line_(source, at))
        at = ab_next_line_(source, at);
    if (at >= source->len)
        return AB_DETECT;
    i = json_blank_(source, at);
    ch = source->text[i];
    if (ch == '{' || ch == '[')
        return ab_is_go_json_(source, i) ? AB_GO : AB_RESULTS;
    if (ch == '<')
        return AB_CATCH2;
    len = ab_line_(source, at);
    if (ab_is_digit(ch) || ch == '.' || ch == '-' || ch == '+') {
        if (ab_starts_(source, i, "--- "))          /* of Go                                      */
            return AB_GO;
        return memchr(source->text + at, ',', len) || memchr(source->text + at, ';', len)
                   ? AB_CSV : AB_PLAIN;
    }
    if (len == 3 && (ab_starts_(source, at, "nan") || ab_starts_(source, at, "NaN") ||
                     ab_starts_(source, at, "inf")))
        return AB_PLAIN;
    return ab_has_go_(source, at) ? AB_GO : AB_CSV;
}

/* Reads the text as that format.  -1 with a message. */
PERF_FN int ab_read_as_(const ab_source *source, ab_format format)
{
    const size_t start = json_blank_(source, 0);
    const int    json =
        start < source->len && (source->text[start] == '{' || source->text[start] == '[');

    if (format == AB_DETECT)
        return ab_fail_at(source, 0, "nothing to read: no number in this file", NULL, 0);
    if (format == AB_PLAIN)
        return ab_read_plain_(source);
    if (format == AB_CSV || (format == AB_CRITERION && !json))
        return ab_read_csv_(source);
    if (format == AB_GO)
        return json ? ab_read_go_json_(source) : ab_read_go_(source);
    return format == AB_CATCH2 ? ab_read_xml_(source) : ab_read_json_(source);
}

/* ---- when all is read ---- */

/* Benchmarks whose values say together that they cannot be judged. */
PERF_FN void ab_conclude_(const ab_source *source)
{
    size_t i;

    for (i = 0; i < source->set->n; i++) {
        ab_series *series = &source->set->s[i];
        if (ab_is_odd_zero(series, series)) {
            ab_fail(source->e, source->file, 0, 0,
                    "0 beside fractions of %.40s: no count, and no ratio to 0", series->unit);
            ab_refuse(source, series);
        }
        if (series->aggregates && !series->runs) {
            ab_fail_at(source, series->aggregates - 1, "only aggregates: "
                       "--benchmark_report_aggregates_only=false keeps the repetitions", NULL, 0);
            ab_refuse(source, series);
        }
    }
}

/* Why a file that could be read has nothing for us. */
PERF_FN int ab_nothing_(const ab_source *source)
{
    static const char *const has[] = {"times", "memory figures", "rates", "what --value names"};
    static const char *const ask[] = {"time", "memory", "throughput"};
    char   what[160];
    size_t i;
    int    k;

    for (i = 0; i < source->set->n; i++)
        if (source->set->s[i].lack == AB_REFUSED ||
            (source->set->s[i].lack != AB_HAS && !source->o->value)) {
            snprintf(source->e->text, sizeof source->e->text, "%s", source->set->s[i].why);
            return -1;
        }
    for (k = AB_TIME; k < AB_OTHER; k++)
        if (source->set->unwanted[k]) {
            snprintf(what, sizeof what, "asked for %s, this file has %s (--metric %s)",
                     has[source->o->want], has[k], ask[k]);
            return ab_fail_at(source, 0, what, NULL, 0);
        }
    if (source->o->value)
        return ab_fail_at(source, source->len, "nothing of the name that --value gives", NULL, 0);
    if (source->set->scopes)
        return ab_fail_at(source, 0, "scopes, but no benchmark: perf_baseline_check() compares "
                          "those of several runs, perf-ab merge shows them", NULL, 0);
    return ab_fail_at(source, source->len, "no value in this file", NULL, 0);
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
                    const ab_read_opts *opts, ab_error *error)
{
    static const ab_read_opts none;
    ab_source   source;
    ab_cursor   cursor;
    ab_format   format;
    const char *zero;
    int         failed;
    char       *own = NULL;             /* the text as UTF-8, where it is not                     */

    memset(&source, 0, sizeof source);
    memset(&cursor, 0, sizeof cursor);
    source.file = file;
    source.text = text;
    source.len = len;
    source.o = opts ? opts : &none;
    source.set = set;
    source.e = error;
    source.cursor = &cursor;
    if (len >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return ab_fail_at(&source, 0, "UTF-16 text: save it as UTF-8", NULL, 0);
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        source.text += 3;
        source.len -= 3;
    }
    zero = (const char *)memchr(source.text, '\0', source.len);
    if (zero)
        return ab_fail_at(&source, (size_t)(zero - source.text),
                          "a zero byte: this is no text file", NULL, 0);
    format = source.o->format == AB_DETECT ? ab_detect_(&source) : source.o->format;
    if (format < AB_RESULTS) {
        own = ab_as_utf8(source.text, &source.len);
        source.text = own ? own : source.text;
    }
    failed = ab_read_as_(&source, format);
    if (!failed)
        ab_conclude_(&source);
    if (!failed && !ab_usable_(set))
        failed = ab_nothing_(&source);
    free(own);
    return failed;
}

/* ---- files ---- */

/* Reads a stream to its end, with a zero byte behind; NULL with *why: it cannot be used. */
PERF_FN char *ab_slurp_stream_(FILE *file, size_t *len, const char **why)
{
    size_t cap = 1 << 16, n = 0, got;
    char  *text = (char *)ab_grow(NULL, cap, 1);

    while (!*why && (got = fread(text + n, 1, cap - 1 - n, file)) > 0) {
        if (memchr(text + n, '\0', got) && n + got >= 1 << 16)
            *why = "zero bytes: this is no text file";  /* a device gives them for ever          */
        n += got;
        if (n > AB_MOST_BYTES)
            *why = "more than 256 MiB: no file of measurements is so long";
        if (n == cap - 1 && !*why) {
            cap = cap * 2;
            text = (char *)ab_grow(text, cap, 1);
        }
    }
    if (*why || ferror(file)) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *len = n;
    return text;
}

/* Texts of what can be read only once: standard input, pipes.  Some are asked for again, as by a rule
 * on times and one on memory.                                                                    */
typedef struct ab_kept {
    char  *file, *text;
    size_t len;
} ab_kept;

static struct {
    ab_kept *one;
    size_t   n;
} ab_kept_;

/* The whole stream with a zero byte behind; NULL with a message. */
PERF_FN char *ab_slurp_open_(FILE *f, const char *file, size_t *len, ab_error *error)
{
    const char *why = NULL;
    char       *text = ab_slurp_stream_(f, len, &why);
    struct stat info;
    ab_kept    *one;

    if (!text)
        ab_fail(error, file, 0, 0, why ? "%s" : "cannot be read: %s", why ? why : strerror(errno));
    if (text && (fstat(fileno(f), &info) != 0 || !S_ISREG(info.st_mode) || f == stdin)) {
        ab_kept_.one = (ab_kept *)ab_grow(ab_kept_.one, ab_kept_.n + 1, sizeof *ab_kept_.one);
        one = &ab_kept_.one[ab_kept_.n++];
        one->file = ab_copy(file, strlen(file));
        one->text = ab_copy(text, *len);
        one->len = *len;
    }
    return text;
}

/* The whole file (- is standard input) with a zero byte behind; NULL with a message. */
PERF_FN char *ab_slurp(const char *file, size_t *len, ab_error *error)
{
    FILE  *f;
    char  *text;
    size_t i;

    for (i = 0; i < ab_kept_.n; i++)
        if (!strcmp(ab_kept_.one[i].file, file)) {
            *len = ab_kept_.one[i].len;
            return ab_copy(ab_kept_.one[i].text, *len);
        }
    f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    if (!f) {
        ab_fail(error, file, 0, 0, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    text = ab_slurp_open_(f, file, len, error);
    if (f != stdin)
        fclose(f);
    return text;
}

PERF_FN int ab_read_file(ab_set *set, const char *file, const ab_read_opts *opts, ab_error *error)
{
    size_t len = 0;
    char  *text = ab_slurp(file, &len, error);
    int    failed = text ? ab_read(set, file, text, len, opts, error) : -1;

    free(text);
    return failed;
}

#endif
