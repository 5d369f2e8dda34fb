/* read_xml.h - the benchmarks in Catch2's XML (-r xml).  It keeps no single values: the mean of
 * each benchmark is one value, so a comparison takes several files a side.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_XML_H
#define PERF_TOOLS_READ_XML_H

#include "source.h"

enum { XML_DEPTH = 64 };

typedef struct ab_xml {
    const ab_source *s;
    size_t name[XML_DEPTH];             /* lengths of `path` before each open test case, section  */
    size_t depth;
    char  *path;                        /* names of what is open, with slashes between            */
    char  *benchmark;                   /* name of the open one; NULL: none is                    */
    size_t means;
} ab_xml;

/* Where the tag that begins at `at` ends: behind its '>', outside of quotes. */
PERF_FN size_t xml_end_(const ab_source *s, size_t at)
{
    char quote = '\0';

    for (; at < s->len; at++) {
        if (quote) {
            quote = s->text[at] == quote ? '\0' : quote;
        } else if (s->text[at] == '"' || s->text[at] == '\'') {
            quote = s->text[at];
        } else if (s->text[at] == '>') {
            return at + 1;
        }
    }
    return s->len;
}

/* The character that an entity at p[0..n) stands for; 0: none that is known. */
PERF_FN char xml_entity_(const char *p, size_t n)
{
    static const struct {
        const char *text;
        char        is;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= strlen(known[i].text) && !memcmp(p, known[i].text, strlen(known[i].text)))
            return known[i].is;
    return '\0';
}

/* The attribute of that name in the tag text[at..end), with *where it stands; NULL: it has none.
 * To be freed.                                                                                   */
PERF_FN char *xml_attribute_(const ab_source *s, size_t at, size_t end, const char *name,
                             size_t *where)
{
    const size_t len = strlen(name);
    size_t       i, n = 0;
    char         quote, *t, is;

    for (i = at; i + len + 2 < end; i++)
        if (ab_is_blank(s->text[i]) && !memcmp(s->text + i + 1, name, len) &&
            s->text[i + 1 + len] == '=')
            break;
    i += len + 2;
    if (i >= end || (s->text[i] != '"' && s->text[i] != '\''))
        return NULL;
    quote = s->text[i++];
    *where = i;
    t = (char *)ab_grow(NULL, end - i + 1, 1);
    for (; i < end && s->text[i] != quote; i++) {
        is = s->text[i] == '&' ? xml_entity_(s->text + i, end - i) : '\0';
        t[n++] = is ? is : s->text[i];
        while (is && s->text[i] != ';')
            i++;
    }
    t[n] = '\0';
    return t;
}

/* A test case or a section opens: its name is part of what it holds. */
PERF_FN int xml_open_(ab_xml *x, size_t at, size_t end)
{
    size_t where = at, len = strlen(x->path);
    char  *name = xml_attribute_(x->s, at, end, "name", &where);

    if (x->depth == XML_DEPTH) {
        free(name);
        return ab_fail_at(x->s, at, "sections deeper than 64", NULL, 0);
    }
    x->name[x->depth++] = len;
    if (name) {
        x->path = (char *)ab_grow(x->path, len + strlen(name) + 2, 1);
        snprintf(x->path + len, strlen(name) + 2, "%s%s", len ? "/" : "", name);
    }
    free(name);
    return 0;
}

/* A benchmark opens. */
PERF_FN void xml_benchmark_(ab_xml *x, size_t at, size_t end)
{
    size_t where = at, size;
    char  *name = xml_attribute_(x->s, at, end, "name", &where);

    free(x->benchmark);
    size = strlen(x->path) + (name ? strlen(name) : 0) + 2;
    x->benchmark = (char *)ab_grow(NULL, size, 1);
    snprintf(x->benchmark, size, "%s%s%s", x->path, *x->path ? "/" : "", name ? name : "");
    free(name);
}

/* The mean of the open benchmark, or why it has none. */
PERF_FN void xml_result_(ab_xml *x, size_t at, size_t end, int failed)
{
    const ab_source *s = x->s;
    ab_series       *series = ab_series_of(s->set, x->benchmark);
    ab_reading       m = {NULL, "ns", 0.0, 1.0};
    size_t           where = at, len = 0;
    char            *text = xml_attribute_(s, at, end, failed ? "message" : "value", &where);

    while (where + len < end && !strchr("\"'", s->text[where + len]))
        len++;
    if (failed)
        ab_lacks_at(s, series, AB_FAILED, at, text ? text : "");
    else if (series->lack == AB_HAS &&
             (ab_value_(s, where, len, "ns", &m.x) < 0 || ab_add_(s, where, series, &m) < 0))
        ab_refuse(s, series);
    x->means++;
    free(text);
}

/* One tag.  -1 with a message. */
PERF_FN int xml_tag_(ab_xml *x, size_t at, size_t end)
{
    const ab_source *s = x->s;
    const int        closed = end - at > 1 && s->text[end - 2] == '/';

    if (ab_starts_(s, at, "<TestCase ") || ab_starts_(s, at, "<Section "))
        return closed ? 0 : xml_open_(x, at, end);
    if ((ab_starts_(s, at, "</TestCase>") || ab_starts_(s, at, "</Section>")) && x->depth) {
        x->path[x->name[--x->depth]] = '\0';
    } else if (ab_starts_(s, at, "<BenchmarkResults ")) {
        xml_benchmark_(x, at, end);
    } else if (x->benchmark && ab_starts_(s, at, "<mean ")) {
        xml_result_(x, at, end, 0);
    } else if (x->benchmark && ab_starts_(s, at, "<failed ")) {
        xml_result_(x, at, end, 1);
    } else if (ab_starts_(s, at, "</BenchmarkResults>")) {
        free(x->benchmark);
        x->benchmark = NULL;
    }
    return 0;
}

PERF_FN int ab_read_xml_(const ab_source *s)
{
    ab_xml      x;
    size_t      at, end;
    const char *next;
    int         failed = 0;

    memset(&x, 0, sizeof x);
    x.s = s;
    x.path = ab_copy("", 0);
    s->set->format = "Catch2";
    for (at = 0; at < s->len && !failed; at = end) {
        next = (const char *)memchr(s->text + at, '<', s->len - at);
        if (!next)
            break;
        at = (size_t)(next - s->text);
        end = xml_end_(s, at);
        if (ab_starts_(s, at, "<!--")) {
            next = strstr(s->text + at, "-->");
            end = next ? (size_t)(next - s->text) + 3 : s->len;
        }
        failed = xml_tag_(&x, at, end);
    }
    free(x.path);
    free(x.benchmark);
    if (!failed && !x.means)
        failed = ab_fail_at(s, 0, "XML without a benchmark of Catch2", NULL, 0);
    return failed;
}

#endif
