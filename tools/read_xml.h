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
PERF_FN size_t xml_end_(const ab_source *source, size_t at)
{
    char quote = '\0';

    for (; at < source->len; at++) {
        if (quote) {
            quote = source->text[at] == quote ? '\0' : quote;
        } else if (source->text[at] == '"' || source->text[at] == '\'') {
            quote = source->text[at];
        } else if (source->text[at] == '>') {
            return at + 1;
        }
    }
    return source->len;
}

/* The character that the entity at[0..n) stands for; 0: none that is known. */
PERF_FN char xml_entity_(const char *at, size_t n)
{
    static const struct {
        const char *text;
        char        is;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= strlen(known[i].text) && !memcmp(at, known[i].text, strlen(known[i].text)))
            return known[i].is;
    return '\0';
}

/* The attribute of that name in the tag text[at..end), with *where it stands; NULL: it has none.
 * To be freed.                                                                                   */
PERF_FN char *xml_attribute_(const ab_source *source, size_t at, size_t end, const char *name,
                             size_t *where)
{
    const size_t len = strlen(name);
    size_t       i, n = 0;
    char         quote, *text, is;

    for (i = at; i + len + 2 < end; i++)
        if (ab_is_blank(source->text[i]) && !memcmp(source->text + i + 1, name, len) &&
            source->text[i + 1 + len] == '=')
            break;
    i += len + 2;
    if (i >= end || (source->text[i] != '"' && source->text[i] != '\''))
        return NULL;
    quote = source->text[i++];
    *where = i;
    text = (char *)ab_grow(NULL, end - i + 1, 1);
    for (; i < end && source->text[i] != quote; i++) {
        is = source->text[i] == '&' ? xml_entity_(source->text + i, end - i) : '\0';
        text[n++] = is ? is : source->text[i];
        while (is && source->text[i] != ';')
            i++;
    }
    text[n] = '\0';
    return text;
}

/* A test case or a section opens: its name is part of what it holds. */
PERF_FN int xml_open_(ab_xml *xml, size_t at, size_t end)
{
    size_t where = at, len = strlen(xml->path);
    char  *name = xml_attribute_(xml->s, at, end, "name", &where);

    if (xml->depth == XML_DEPTH) {
        free(name);
        return ab_fail_at(xml->s, at, "sections deeper than 64", NULL, 0);
    }
    xml->name[xml->depth++] = len;
    if (name) {
        xml->path = (char *)ab_grow(xml->path, len + strlen(name) + 2, 1);
        snprintf(xml->path + len, strlen(name) + 2, "%s%s", len ? "/" : "", name);
    }
    free(name);
    return 0;
}

/* A benchmark opens. */
PERF_FN void xml_benchmark_(ab_xml *xml, size_t at, size_t end)
{
    size_t where = at, size;
    char  *name = xml_attribute_(xml->s, at, end, "name", &where);

    free(xml->benchmark);
    size = strlen(xml->path) + (name ? strlen(name) : 0) + 2;
    xml->benchmark = (char *)ab_grow(NULL, size, 1);
    snprintf(xml->benchmark, size, "%s%s%s", xml->path, *xml->path ? "/" : "", name ? name : "");
    free(name);
}

/* The mean of the open benchmark, or why it has none. */
PERF_FN void xml_result_(ab_xml *xml, size_t at, size_t end, int failed)
{
    const ab_source *source = xml->s;
    ab_series       *series = ab_series_of(source->set, xml->benchmark);
    ab_reading       reading = {NULL, "ns", 0.0, 1.0};
    size_t           where = at, len = 0;
    char            *text = xml_attribute_(source, at, end, failed ? "message" : "value", &where);

    while (where + len < end && !strchr("\"'", source->text[where + len]))
        len++;
    if (failed)
        ab_lacks_at(source, series, AB_FAILED, at, text ? text : "");
    else if (series->lack == AB_HAS &&
             (ab_value_(source, where, len, "ns", &reading.x) < 0 ||
              ab_add_(source, where, series, &reading) < 0))
        ab_refuse(source, series);
    xml->means++;
    free(text);
}

/* One tag.  -1 with a message. */
PERF_FN int xml_tag_(ab_xml *xml, size_t at, size_t end)
{
    const ab_source *source = xml->s;
    const int        closed = end - at > 1 && source->text[end - 2] == '/';

    if (ab_starts_(source, at, "<TestCase ") || ab_starts_(source, at, "<Section "))
        return closed ? 0 : xml_open_(xml, at, end);
    if ((ab_starts_(source, at, "</TestCase>") || ab_starts_(source, at, "</Section>")) &&
        xml->depth) {
        xml->path[xml->name[--xml->depth]] = '\0';
    } else if (ab_starts_(source, at, "<BenchmarkResults ")) {
        xml_benchmark_(xml, at, end);
    } else if (xml->benchmark && ab_starts_(source, at, "<mean ")) {
        xml_result_(xml, at, end, 0);
    } else if (xml->benchmark && ab_starts_(source, at, "<failed ")) {
        xml_result_(xml, at, end, 1);
    } else if (ab_starts_(source, at, "</BenchmarkResults>")) {
        free(xml->benchmark);
        xml->benchmark = NULL;
    }
    return 0;
}

PERF_FN int ab_read_xml_(const ab_source *source)
{
    ab_xml      xml;
    size_t      at, end;
    const char *next;
    int         failed = 0;

    memset(&xml, 0, sizeof xml);
    xml.s = source;
    xml.path = ab_copy("", 0);
    source->set->format = "Catch2";
    for (at = 0; at < source->len && !failed; at = end) {
        next = (const char *)memchr(source->text + at, '<', source->len - at);
        if (!next)
            break;
        at = (size_t)(next - source->text);
        end = xml_end_(source, at);
        if (ab_starts_(source, at, "<!--")) {
            next = strstr(source->text + at, "-->");
            end = next ? (size_t)(next - source->text) + 3 : source->len;
        }
        failed = xml_tag_(&xml, at, end);
    }
    free(xml.path);
    free(xml.benchmark);
    if (!failed && !xml.means)
        failed = ab_fail_at(source, 0, "XML without a benchmark of Catch2", NULL, 0);
    return failed;
}

#endif
