/* Reads the CSV view of the report back, and tells whether a text is strict JSON. */
#ifndef PERF_TESTS_ROWS_H
#define PERF_TESTS_ROWS_H

#include <unistd.h>
#include "perf.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define CHECK_UNUSED __attribute__((__unused__))

typedef struct row {
    double calls, total, self, mean, min, p50, p95, p99, max, last;
} row;

/* A file of this process alone: the plain and the sanitized build of a test run at the same time.
 * Named once, so a forked child means its parent's.                                              */
static CHECK_UNUSED const char *scratch_file(void)
{
    static char name[64];

    if (!*name)
        snprintf(name, sizeof name, "time-test-%lu.json", (unsigned long)getpid());
    return name;
}

/* The report in one view as a fresh string. */
static char *report_text(perf_view view, perf_sort sort)
{
    perf_report_opts o = PERF_ZERO;
    size_t           n;
    char            *text;

    o.view = view;
    o.sort = sort;
    o.rows = -1;
    n = perf_report_text(NULL, 0, &o) + 4096;
    text = (char *)malloc(n);
    if (!text || perf_report_text(text, n, &o) >= n) {
        puts("report_text: no room");
        exit(1);
    }
    return text;
}

/* The row of a name and kind ("scope", "wait", ...); all zero when there is none. */
CHECK_UNUSED static row row_of(const char *name, const char *kind)
{
    char  *text = report_text(PERF_VIEW_CSV, PERF_SORT_SELF), key[400], *at;
    row    r;
    double x[10] = {0};
    int    i;

    snprintf(key, sizeof key, "\n\"%s\",%s,", name, kind);
    at = strstr(text, key);
    if (at) {
        at += strlen(key);
        for (i = 0; i < 10; i++) {
            x[i] = strtod(at, &at);
            if (*at == ',')
                at++;
        }
    }
    free(text);
    r.calls = x[0];
    r.total = x[1];
    r.self = x[2];
    r.mean = x[3];
    r.min = x[4];
    r.p50 = x[5];
    r.p95 = x[6];
    r.p99 = x[7];
    r.max = x[8];
    r.last = x[9];
    return r;
}

/* Which row of the CSV view a scope is, from 1 on; 0: it is not there. */
CHECK_UNUSED static int place_of(const char *name, perf_sort sort)
{
    char *text = report_text(PERF_VIEW_CSV, sort), key[400], *at, *p;
    int   n = 0;

    snprintf(key, sizeof key, "\n\"%s\",", name);
    at = strstr(text, key);
    for (p = text; at && p <= at; p++)
        n += *p == '\n';
    free(text);
    return n;
}

/* A trace without what differs from run to run: process and thread. */
CHECK_UNUSED static char *without_ids(char *text)
{
    char *from, *to = text;

    for (from = text; *from;)
        if (!strncmp(from, ",\"pid\":", 7) || !strncmp(from, ",\"tid\":", 7))
            from += 7 + strspn(from + 7, "0123456789");
        else if (*from == '/' && !strncmp(from + 1 + strspn(from + 1, "0123456789"), "\",", 2))
            from += 1 + strspn(from + 1, "0123456789");         /* "id":"42/7"                    */
        else
            *to++ = *from++;
    *to = '\0';
    return text;
}

/* A number of the report's JSON view, before its scopes; -1: no such member. */
CHECK_UNUSED static double number_of(const char *member)
{
    char  *text = report_text(PERF_VIEW_JSON, PERF_SORT_SELF), key[80], *at;
    double x;

    snprintf(key, sizeof key, "\"%s\":", member);
    at = strstr(text, key);
    x = at ? strtod(at + strlen(key), NULL) : -1;
    free(text);
    return x;
}

/* Strict JSON, by recursive descent; returns the character after the value, NULL if it is none. */
static const char *json_value(const char *p);

static const char *json_space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static const char *json_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p == '\\') {
            p++;
            if (*p == 'u') {
                int i;
                for (i = 1; i <= 4; i++)
                    if (!strchr("0123456789abcdefABCDEF", p[i]) || !p[i])
                        return NULL;
                p += 4;
            } else if (!*p || !strchr("\"\\/bfnrt", *p)) {
                return NULL;
            }
        }
    }
    return p + 1;
}

static const char *json_number(const char *p)
{
    if (*p == '-')
        p++;
    if (*p < '0' || *p > '9')
        return NULL;
    if (*p == '0' && p[1] >= '0' && p[1] <= '9')
        return NULL;
    while (*p >= '0' && *p <= '9')
        p++;
    if (*p == '.') {
        p++;
        if (*p < '0' || *p > '9')
            return NULL;
        while (*p >= '0' && *p <= '9')
            p++;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '-' || *p == '+')
            p++;
        if (*p < '0' || *p > '9')
            return NULL;
        while (*p >= '0' && *p <= '9')
            p++;
    }
    return p;
}

static const char *json_list(const char *p, char close)
{
    p = json_space(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        if (close == '}') {
            p = json_string(p);
            if (!p)
                return NULL;
            p = json_space(p);
            if (*p++ != ':')
                return NULL;
        }
        p = json_value(json_space(p));
        if (!p)
            return NULL;
        p = json_space(p);
        if (*p == close)
            return p + 1;
        if (*p++ != ',')
            return NULL;
        p = json_space(p);
    }
}

static const char *json_value(const char *p)
{
    if (*p == '{')
        return json_list(p, '}');
    if (*p == '[')
        return json_list(p, ']');
    if (*p == '"')
        return json_string(p);
    if (!strncmp(p, "null", 4) || !strncmp(p, "true", 4))
        return p + 4;
    if (!strncmp(p, "false", 5))
        return p + 5;
    return json_number(p);
}

CHECK_UNUSED static int json_valid(const char *p)
{
    p = json_value(json_space(p));
    return p && !*json_space(p);
}

CHECK_UNUSED static char *file_text(const char *path)
{
    FILE  *f = fopen(path, "rb");
    size_t n = 0, room = 1 << 16;
    char  *text = (char *)malloc(room);

    while (f && text) {
        size_t got = fread(text + n, 1, room - n - 1, f);
        n += got;
        if (!got)
            break;
        if (n + 1 == room) {
            char *more = (char *)realloc(text, room *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    if (f)
        fclose(f);
    if (text)
        text[n] = '\0';
    return text;
}

/* How often `what` occurs. */
CHECK_UNUSED static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        n++;
    return n;
}

#endif
