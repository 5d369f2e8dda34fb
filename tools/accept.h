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
PERF_FN int accept_is_run(const history_row *row, size_t i, const char *text)
{
    const ab_run *run = row->point[i].run;
    char          number[24];

    snprintf(number, sizeof number, "%zu", i + 1);
    return (run->id && !strcmp(run->id, text)) || (run->label && !strcmp(run->label, text)) ||
           !strcmp(number, text);
}

/* The first run of the new level: the one named, else that of the last change, else the first of
 * the newest runs that were REJECTed.  row->n: there is none.                                    */
PERF_FN size_t accept_at(const history_row *row, const char *named)
{
    size_t i;

    for (i = 0; named && i < row->n; i++)
        if (accept_is_run(row, i, named))
            return i;
    if (named)
        return row->n;
    if (row->changes.n)
        return row->changes.point[row->changes.n - 1].at;
    for (i = row->n; i > 0 && row->point[i - 1].run->level == PERF_LEVEL_REJECTED_; i--)
        continue;
    return i;
}

/* Marks the entry `object` of the file if it is one of the row's runs.  Returns whether.  Time and
 * memory of one name are two rows.                                                               */
PERF_FN int accept_mark(const history_row *row, size_t at, json_t *object, int is_scope)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *id = json_string_value(json_object_get(object, "run"));
    size_t      i;

    if (!name || strcmp(name, row->s->name) != 0)
        return 0;
    if (!is_scope && ab_unit_kind(json_text_(object, "unit", "")) != ab_unit_kind(row->s->unit))
        return 0;
    for (i = 0; i < row->n; i++)
        if (!strcmp(row->point[i].run->id ? row->point[i].run->id : "", id ? id : ""))
            break;
    if (i == row->n)
        return 0;
    if (i < at)
        json_object_set_new(object, "level", json_string("past"));
    else
        json_object_del(object, "level");
    return 1;
}

/* Marks all entries of a row.  Returns how many. */
PERF_FN size_t accept_row(const history_row *row, size_t at, json_t *root)
{
    static const char *const list[] = {"benchmarks", "scopes"};
    json_t *object;
    size_t  i, k, marked = 0;

    for (k = 0; k < 2; k++)
        json_array_foreach(json_object_get(root, list[k]), i, object)
            marked += (size_t)accept_mark(row, at, object, k == 1);
    return marked;
}

/* The document as our headers write it: a line for each run and entry. */
PERF_FN void accept_write(FILE *file, json_t *root)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17);
    const char  *key, *before = "{\n";
    json_t      *value, *one;
    size_t       i;

    json_object_foreach(root, key, value) {
        fputs(before, file);
        ab_print_json(file, key);
        fputs(": ", file);
        before = ",\n";
        if (!json_is_array(value)) {
            json_dumpf(value, file, flags);
            continue;
        }
        putc('[', file);
        json_array_foreach(value, i, one) {
            fputs(i ? ",\n" : "\n", file);
            json_dumpf(one, file, flags);
        }
        putc(']', file);
    }
    fputs("\n}\n", file);
}

/* Marks the rows of that entry, and says what is accepted.  Returns how many runs of it.         */
PERF_FN size_t accept_rows(const history *past, const char *entry, const char *named, json_t *root)
{
    size_t i, at, marked = 0;

    for (i = 0; i < past->n; i++) {
        const history_row *row = &past->row[i];
        if (!perf_same_text_(row->s->name, entry) || !row->n)
            continue;
        at = accept_at(row, named);
        if (at == row->n || !at)
            continue;
        marked += accept_row(row, at, root);
        fputs("accepted: ", stdout);
        ab_print_name(stdout, entry);
        printf(", run %zu of %zu and later", at + 1, row->n);
        if (*row->machine) {
            fputs(", on ", stdout);
            ab_print_name(stdout, row->machine);
        }
        putchar('\n');
    }
    return marked;
}

/* `entry` as a name of ours; else what stands behind its last @ is the run.  NULL: no such name. */
PERF_FN char *accept_split(const history *past, const char *text, const char **named)
{
    char  *entry = ab_copy(text, strlen(text)), *sign = strrchr(entry, '@');
    size_t i;

    *named = NULL;
    for (i = 0; i < past->n; i++)
        if (perf_same_text_(past->row[i].s->name, entry))
            return entry;
    if (!sign)
        sign = entry;
    *named = text + (sign - entry) + 1;
    *sign = '\0';
    for (i = 0; i < past->n; i++)
        if (perf_same_text_(past->row[i].s->name, entry))
            return entry;
    free(entry);
    return NULL;
}

/* The document of the file.  One with NaN is refused: it could not be written again as it was.  NULL
 * with a message.                                                                                */
PERF_FN json_t *accept_load(const char *path, ab_error *error)
{
    size_t       len = 0, mark;
    char        *text = ab_slurp(path, &len, error);
    json_error_t why;
    json_t      *root;

    if (!text)
        return NULL;
    mark = json_mark(text, len);
    root = json_loadb(text + mark, len - mark, JSON_REJECT_DUPLICATES, &why);
    free(text);
    if (!root)
        ab_fail(error, path, why.line > 0 ? (size_t)why.line : 1,
                why.column > 0 ? (size_t)why.column : 1, "not JSON: %s", why.text);
    return root;
}

/* Changes the file, while nobody else may.  An exit status. */
PERF_FN int accept_alone(const history *past, const char *entry, const char *named)
{
    ab_error   error;
    json_t    *root = accept_load(past->file[0], &error);
    perf_file_ out;
    int        status = 0;

    if (!root)
        return unusable(&error);
    if (!json_object_get(root, "perf_results"))
        status = usage_error("changes are accepted in a file of perf_results, not in",
                             past->file[0]);
    else if (!accept_rows(past, entry, named, root))
        status = usage_error("no change is known, or no such run; name one: ENTRY@RUN, not",
                             past->accept);
    else if (!ab_begin_file(&out, past->file[0]))
        status = unwritten(past->file[0]);
    if (!status) {
        out.durable = 1;
        accept_write(out.file, root);
        (void)fflush(out.file);                 /* before it is told to go to the disk            */
        status = ab_end_file(&out, past->file[0]) ? unwritten(past->file[0]) : written();
    }
    json_decref(root);
    return status;
}

/* Takes turns with programs that add a run: none of theirs is lost.  An exit status. */
PERF_FN int accept_file(const history *past, const char *entry, const char *named)
{
    const int folder = perf_file_folder_(past->file[0], ACCEPT_WAIT_NS);
    const int status = accept_alone(past, entry, named);

    (void)perf_close_(folder);
    return status;
}

/* --accept-change.  An exit status. */
PERF_FN int accept_change(const history *past)
{
    const char *named;
    char       *entry;
    int         status;

    if (past->files != 1)
        return usage_error("--accept-change needs one file, which is changed", "");
    if (!strcmp(past->file[0], "-"))
        return usage_error("--accept-change changes a file, not standard input", "");
    if (past->json || past->html || past->markdown)
        return usage_error("--accept-change writes no report: ask for it in a call of its own", "");
    entry = accept_split(past, past->accept, &named);
    if (!entry)
        return usage_error("no such entry:", past->accept);
    status = accept_file(past, entry, named);
    free(entry);
    return status;
}

#endif
