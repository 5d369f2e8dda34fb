/* accept.h - perf-ab history --accept-change ENTRY[@RUN] FILE: what is now is the normal level.
 *
 * In the file of the baseline the entry's older runs get the mark "level": "past", and the newer
 * ones lose theirs.  A check then rests on the newer ones.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_ACCEPT_H
#define PERF_TOOLS_ACCEPT_H

#include "history.h"

#include <jansson.h>

#define ACCEPT_WAIT_NS UINT64_C(5000000000)     /* longest wait for the folder                    */

/* 1: the text names that run of the row: by its id, label, or number in the history. */
PERF_FN int accept_is_run(const history_row *r, size_t i, const char *text)
{
    const ab_run *run = r->point[i].run;
    char          number[24];

    snprintf(number, sizeof number, "%zu", i + 1);
    return (run->id && !strcmp(run->id, text)) || (run->label && !strcmp(run->label, text)) ||
           !strcmp(number, text);
}

/* The first run of the new level: the one named, else that of the last change, else the first of
 * the newest runs that were REJECTed.  r->n: there is none.                                      */
PERF_FN size_t accept_at(const history_row *r, const char *named)
{
    size_t i;

    for (i = 0; named && i < r->n; i++)
        if (accept_is_run(r, i, named))
            return i;
    if (named)
        return r->n;
    if (r->changes.n)
        return r->changes.point[r->changes.n - 1].at;
    for (i = r->n; i > 0 && r->point[i - 1].run->level == PERF_LEVEL_REJECTED_; i--)
        continue;
    return i;
}

/* Marks the entry `b` of the file if it is one of the row's runs.  Returns whether. */
PERF_FN int accept_mark(const history_row *r, size_t at, json_t *b)
{
    const char *name = json_string_value(json_object_get(b, "name"));
    const char *id = json_string_value(json_object_get(b, "run"));
    size_t      i;

    if (!name || strcmp(name, r->s->name) != 0)
        return 0;
    for (i = 0; i < r->n; i++)
        if (!strcmp(r->point[i].run->id ? r->point[i].run->id : "", id ? id : ""))
            break;
    if (i == r->n)
        return 0;
    if (i < at)
        json_object_set_new(b, "level", json_string("past"));
    else
        json_object_del(b, "level");
    return 1;
}

/* Marks all entries of a row.  Returns how many. */
PERF_FN size_t accept_row(const history_row *r, size_t at, json_t *root)
{
    static const char *const list[] = {"benchmarks", "scopes"};
    json_t *b;
    size_t  i, k, marked = 0;

    for (k = 0; k < 2; k++)
        json_array_foreach(json_object_get(root, list[k]), i, b)
            marked += (size_t)accept_mark(r, at, b);
    return marked;
}

/* The document as our headers write it: a line for each run and entry. */
PERF_FN void accept_write(FILE *f, json_t *root)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15);
    const char  *key, *before = "{\n";
    json_t      *value, *one;
    size_t       i;

    json_object_foreach(root, key, value) {
        fputs(before, f);
        ab_print_json(f, key);
        fputs(": ", f);
        before = ",\n";
        if (!json_is_array(value)) {
            json_dumpf(value, f, flags);
            continue;
        }
        putc('[', f);
        json_array_foreach(value, i, one) {
            fputs(i ? ",\n" : "\n", f);
            json_dumpf(one, f, flags);
        }
        putc(']', f);
    }
    fputs("\n}\n", f);
}

/* Marks the rows of that entry, and says what is accepted.  Returns how many runs of it.         */
PERF_FN size_t accept_rows(const history *h, const char *entry, const char *named, json_t *root)
{
    size_t i, at, marked = 0;

    for (i = 0; i < h->n; i++) {
        const history_row *r = &h->row[i];
        if (strcmp(r->s->name, entry) != 0 || !r->n)
            continue;
        at = accept_at(r, named);
        if (at == r->n || !at)
            continue;
        marked += accept_row(r, at, root);
        fputs("accepted: ", stdout);
        ab_print_name(stdout, entry);
        printf(", run %zu of %zu and later", at + 1, r->n);
        if (*r->machine) {
            fputs(", on ", stdout);
            ab_print_name(stdout, r->machine);
        }
        putchar('\n');
    }
    return marked;
}

/* `entry` as a name of ours; else what stands behind its last @ is the run.  NULL: no such name. */
PERF_FN char *accept_split(const history *h, const char *text, const char **named)
{
    char  *entry = ab_copy(text, strlen(text)), *sign = strrchr(entry, '@');
    size_t i;

    *named = NULL;
    for (i = 0; i < h->n; i++)
        if (!strcmp(h->row[i].s->name, entry))
            return entry;
    if (!sign)
        sign = entry;
    *named = text + (sign - entry) + 1;
    *sign = '\0';
    for (i = 0; i < h->n; i++)
        if (!strcmp(h->row[i].s->name, entry))
            return entry;
    free(entry);
    return NULL;
}

/* Changes the file, while nobody else may.  An exit status. */
PERF_FN int accept_alone(const history *h, const char *entry, const char *named)
{
    json_error_t why;
    json_t      *root = json_load_file(h->file[0], JSON_REJECT_DUPLICATES, &why);
    perf_file_   out;
    int          status = 0;

    if (!json_object_get(root, "perf_results"))
        status = usage_error("changes are accepted in a file of perf_results, not in", h->file[0]);
    else if (!accept_rows(h, entry, named, root))
        status = usage_error("no change is known, or no such run; name one: ENTRY@RUN, not",
                             h->accept);
    else if (!ab_begin_file(&out, h->file[0]))
        status = unwritten(h->file[0]);
    if (!status) {
        out.durable = 1;
        accept_write(out.file, root);
        (void)fflush(out.file);                 /* before it is told to go to the disk            */
        status = ab_end_file(&out, h->file[0]) ? unwritten(h->file[0]) : written();
    }
    json_decref(root);
    return status;
}

/* Takes turns with programs that add a run: none of theirs is lost.  An exit status. */
PERF_FN int accept_file(const history *h, const char *entry, const char *named)
{
    const int folder = perf_file_folder_(h->file[0], ACCEPT_WAIT_NS);
    const int status = accept_alone(h, entry, named);

    (void)perf_close_(folder);
    return status;
}

/* --accept-change.  An exit status. */
PERF_FN int accept_change(const history *h)
{
    const char *named;
    char       *entry;
    int         status;

    if (h->files != 1)
        return usage_error("--accept-change needs one file, which is changed", "");
    entry = accept_split(h, h->accept, &named);
    if (!entry)
        return usage_error("no such entry:", h->accept);
    status = accept_file(h, entry, named);
    free(entry);
    return status;
}

#endif
