/* say.h - what the commands of perf-ab say to the shell: sentences on standard error, statuses.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_SAY_H
#define PERF_TOOLS_SAY_H

#include "ab.h"

#include <sys/stat.h>
#include <unistd.h>

/* "perf-ab: what 'which'"; which may be "".  Returns the exit status. */
PERF_FN int usage_error(const char *what, const char *which)
{
    fprintf(stderr, "perf-ab: %s%s", what, *which ? " '" : "");
    ab_print_name(stderr, which);
    fprintf(stderr, "%s (perf-ab --help)\n", *which ? "'" : "");
    return AB_UNUSABLE;
}

/* Says why `path` cannot be written: errno. */
PERF_FN int unwritten(const char *path)
{
    const int why = errno;

    fputs("perf-ab: ", stderr);
    ab_print_name(stderr, path);
    fprintf(stderr, ": cannot be written: %s\n", strerror(why));
    return AB_UNUSABLE;
}

/* Has standard output taken everything?  An exit status. */
PERF_FN int written(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "perf-ab: standard output cannot be written%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return AB_UNUSABLE;
}

/* 1: a name in a folder, and the same name in the same folder. */
PERF_FN int is_same_name_(const char *one, const char *other)
{
    const char *text[2], *last;
    char       *folder;
    struct stat info[2];
    int         i, known = 1;

    text[0] = one;
    text[1] = other;
    for (i = 0; i < 2 && known; i++) {
        last = strrchr(text[i], '/');
        folder = last ? ab_copy(text[i], (size_t)(last - text[i]) + 1) : ab_copy(".", 1);
        known = stat(folder, &info[i]) == 0;
        text[i] = last ? last + 1 : text[i];
        free(folder);
    }
    return known && info[0].st_dev == info[1].st_dev && info[0].st_ino == info[1].st_ino &&
           !strcmp(text[0], text[1]);
}

/* 1: both are the same regular file; "-" as input is the file that standard input is. */
PERF_FN int is_same_file(const char *input, const char *output)
{
    struct stat a, b;

    return (strcmp(input, "-") ? stat(input, &a) : fstat(0, &a)) == 0 && stat(output, &b) == 0 &&
           S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* 1: both are "-", or will be one file.  A device takes several. */
PERF_FN int is_same_output(const char *one, const char *other)
{
    if (!strcmp(one, "-") || !strcmp(other, "-"))
        return !strcmp(one, other);
    return is_same_file(one, other) ||
           (access(one, F_OK) != 0 && access(other, F_OK) != 0 && is_same_name_(one, other));
}

/* Refuses an output that would replace an input or another output; one that is NULL was not asked
 * for, "-" is a standard stream.  An exit status, 0: fine.                                       */
PERF_FN int would_replace(const char *const *output, size_t outputs, const char *const *input,
                          size_t inputs)
{
    size_t i, k;

    for (i = 0; i < outputs; i++) {
        if (!output[i])
            continue;
        for (k = 0; k < i; k++)
            if (output[k] && is_same_output(output[k], output[i]))
                return usage_error("two reports into one:", output[i]);
        for (k = 0; k < inputs && strcmp(output[i], "-") != 0; k++)
            if (is_same_file(input[k], output[i]))
                return usage_error("the report would replace the measurements in", output[i]);
    }
    return 0;
}

PERF_FN int unusable(const ab_error *error)
{
    fprintf(stderr, "perf-ab: %s\n", error->text);
    return AB_UNUSABLE;
}

/* Names what of a file is not used by `verb` ("merged"), and drops it from the set. */
PERF_FN void say_left_out(ab_set *set, const char *verb)
{
    size_t i;

    for (i = 0; i < set->notes; i++) {
        fprintf(stderr, "perf-ab: not %s: ", verb);
        ab_print_name(stderr, set->note[i].where);
        fputs(": ", stderr);
        ab_print_name(stderr, set->note[i].what);
        fprintf(stderr, " (%zu)\n", set->note[i].count);
    }
    for (i = 0; i < set->n; i++) {
        if (set->s[i].lack == AB_HAS && set->s[i].runs)
            continue;
        fprintf(stderr, "perf-ab: not %s: '", verb);
        ab_print_name(stderr, set->s[i].name);
        fputs("': ", stderr);
        ab_print_name(stderr, set->s[i].why ? set->s[i].why : "it has no values");
        putc('\n', stderr);
        ab_forget(&set->s[i]);
    }
}

#endif
