/* printed.h - a number and its unit, in what a command prints.
 *
 * The number is the last one of a text, or the first behind words that the user gives.  Units of
 * time are brought to one; any other unit has to be that of the number before.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_PRINTED_H
#define PERF_TOOLS_PRINTED_H

#include "judge.h"
#include "source.h"

typedef enum ab_printed {
    AB_PRINTED_NONE,                    /* there is no number                                     */
    AB_PRINTED_NUMBER,
    AB_PRINTED_COMMA,                   /* its digits are joined by a comma                       */
    AB_PRINTED_GROUPS,                  /* its digits are joined by _ or '                        */
    AB_PRINTED_PART,                    /* it is a part of a time, as the 5 of 1m5s               */
    AB_PRINTED_NO_NUMBER,               /* NaN or infinity stands in its place                    */
    AB_PRINTED_OTHER_UNIT,              /* its unit does not go with the one before               */
    AB_PRINTED_RATE                     /* its unit is a rate, and --unit does not say so         */
} ab_printed;

typedef struct ab_printed_word {
    char s[24];                         /* "": nothing                                            */
} ab_printed_word;

typedef struct ab_printed_unit {        /* of the numbers that commands print                     */
    int             known;              /* 1: a number was printed                                */
    double          ns;                 /* of --unit, or of the first number; 0: no time          */
    ab_printed_word word;               /* what stands behind the first number                    */
    ab_printed_word given;              /* --unit, of a number without one; "": not given         */
} ab_printed_unit;

/* Why a number cannot be used, as a sentence; NULL: it can. */
PERF_FN const char *ab_printed_why(ab_printed result)
{
    switch (result) {
    case AB_PRINTED_NUMBER:
        return NULL;
    case AB_PRINTED_COMMA:
        return "printed a decimal comma? write 1.5, not 1,5";
    case AB_PRINTED_GROUPS:
        return "printed a number in groups, as 1_000 or 1'000: have it print 1000";
    case AB_PRINTED_NO_NUMBER:
        return "printed NaN or infinity in place of a number";
    case AB_PRINTED_PART:
        return "printed a time in parts, as 1m5s or 0:01:30: have it print one number";
    case AB_PRINTED_OTHER_UNIT:
        return "printed its number in another unit than before: have it print one unit (--unit U: of "
               "a number without one)";
    case AB_PRINTED_RATE:
        return "printed a rate, of which more is better: give its unit, as --unit MB/s";
    default:
        return "printed no such number";
    }
}

/* ---- units ---- */

/* What stands behind a number, one blank between them at most, in a form to compare: a time per
 * anything is that time, "/sec" is "/s", and many bytes are a byte.                              */
PERF_FN ab_printed_word ab_printed_word_(const char *at)
{
    ab_printed_word word;
    char           *slash, *end;
    size_t          n;

    at += *at == ' ';
    n = strcspn(at, " \t\r\n,;:.()[]{}\"'");
    n = n < sizeof word.s ? n : sizeof word.s - 1;
    memcpy(word.s, at, n);
    word.s[n] = '\0';
    slash = strchr(word.s, '/');
    if (slash) {
        *slash = '\0';
        if (ab_unit_ns(word.s) > 0.0)
            return word;
        *slash = '/';
        if (!strncmp(slash, "/sec", 4))
            slash[2] = '\0';
    }
    end = slash ? slash : word.s + strlen(word.s);
    if (end - word.s > 2 && end[-1] == 's' && !(ab_unit_ns(word.s) > 0.0))
        memmove(end - 1, end, strlen(end) + 1);
    return word;
}

/* That of numbers printed without one, as --unit says. */
PERF_FN ab_printed_unit ab_printed_unit_of(const char *given)
{
    ab_printed_unit unit;

    memset(&unit, 0, sizeof unit);
    unit.ns = ab_unit_ns(given);
    unit.given = ab_printed_word_(given);
    return unit;
}

/* The unit without what makes it a larger or a smaller one: "B" of "KiB", "byte" of "kilobyte". */
PERF_FN const char *ab_unit_base_(const char *word)
{
    static const char *const prefix[] = {"kilo", "mega", "giga", "tera", "peta", "kibi", "mebi",
                                         "gibi", "tebi", "milli", "micro", "nano", "Ki", "Mi", "Gi",
                                         "Ti", "k", "K", "M", "G", "T", "P", "E", "m", "u", "n"};
    size_t i, n;

    for (i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        n = strlen(prefix[i]);
        if (!strncmp(word, prefix[i], n) && word[n])
            return word + n;
    }
    return word;
}

/* Are they sizes of one unit, as KB and MB, J and mJ, or B and byte of another spelling? */
PERF_FN int ab_units_scale_(const char *one, const char *other)
{
    const char *one_base = ab_unit_base_(one), *other_base = ab_unit_base_(other);

    return !strcasecmp(one_base, other_base) || !strcasecmp(one, other_base) ||
           !strcasecmp(one_base, other);
}

/* 1: a unit for sure, which no bare number and no other unit goes with; 0: maybe a word of the
 * sentence, as in "7 files".                                                                     */
PERF_FN int ab_is_unit_(const char *word)
{
    static const char *const base[] = {"B", "b", "bit", "byte", "bp", "Hz", "FLOP", "J", "W"};
    const char  *rest = ab_unit_base_(word);
    const size_t n = strlen(word);
    size_t       i;

    for (i = 0; i < sizeof base / sizeof *base; i++)
        if (!strcasecmp(rest, base[i]))
            return 1;
    return !strcmp(word, "%") || (n == 1 && strchr("kKMGT", *word)) ||
           (n > 2 && !strcmp(word + n - 2, "/s"));
}

/* 1: the unit of a number goes with that of those before it, or with --unit; 0: it does not, as MB
 * after KB (of 1,000 or of 1,024?), or a time after no unit.  Times are not asked here.          */
PERF_FN int ab_unit_goes_with_(const ab_printed_unit *unit, const char *word)
{
    const char *first = unit->word.s, *given = unit->given.s;

    if (*given && strcmp(word, given) &&
        (ab_units_scale_(word, given) || (unit->ns > 0.0 && ab_is_unit_(word)) ||
         (ab_unit_kind(word) != ab_unit_kind(given) && ab_unit_kind(word) != AB_OTHER)))
        return 0;
    if (!strcmp(word, first))
        return 1;
    if (ab_unit_ns(word) > 0.0 || ab_unit_ns(first) > 0.0)
        return 0;
    return !ab_is_unit_(word) && !ab_is_unit_(first) && !ab_units_scale_(word, first);
}

/* Brings a number to the unit of those before it, and *tick with it: many programs print times as
 * "850 us" or "1.2 ms", as it fits.  `behind`: the text behind the number.  0: the units do not go
 * together.                                                                                      */
PERF_FN int ab_to_one_unit_(const char *behind, ab_printed_unit *unit, double *x, double *tick)
{
    const ab_printed_word word = ab_printed_word_(behind);
    const double          ns = ab_unit_ns(word.s);

    if (*unit->given.s && !*word.s)
        return 1;
    if (!unit->known) {
        unit->known = 1;
        unit->word = word;
        if (!*unit->given.s)
            unit->ns = ns;
    }
    if (ns > 0.0 && unit->ns > 0.0) {
        *x *= ns / unit->ns;
        *tick *= ns / unit->ns;
        return 1;
    }
    return ab_unit_goes_with_(unit, word.s);
}

/* 1: the number is a rate, which would be judged the wrong way round unless --unit says so. */
PERF_FN int ab_is_unsaid_rate_(const char *behind, const ab_printed_unit *unit)
{
    const ab_printed_word word = ab_printed_word_(behind);

    return ab_unit_kind(word.s) == AB_RATE && !*unit->given.s;
}

/* ---- times in parts ---- */

/* Does a unit of minutes or hours begin there? */
PERF_FN int ab_is_long_time_(const char *at)
{
    const ab_printed_word word = ab_printed_word_(at);

    return !strcmp(word.s, "m") || ab_unit_ns(word.s) > 1e9;
}

/* Is a number behind one with a larger unit of time before it, as the 5 of "1m 5s"? */
PERF_FN int ab_is_rest_of_time_(const char *text, const char *number)
{
    const char *at = number;

    while (at > text && at[-1] == ' ')
        at--;
    while (at > text && ab_is_letter(at[-1]))
        at--;
    if (at == number || !ab_is_long_time_(at))
        return 0;
    while (at > text && at[-1] == ' ')
        at--;
    return at > text && ab_is_digit(at[-1]);
}

/* Does a time come next, behind a number with the unit of a longer one, as 5 s behind 1 min? */
PERF_FN int ab_has_rest_of_time_(const char *behind)
{
    const char *next = behind + (*behind == ' ');
    char       *end;

    if (!ab_is_long_time_(behind))
        return 0;
    next += strcspn(next, " ");
    if (*next != ' ' || !ab_is_digit(next[1]))
        return 0;
    (void)strtod(next, &end);
    return ab_unit_ns(ab_printed_word_(end).s) > 0.0;
}

/* Is a number behind a colon and a number, as the 30 of 1:30?  "step-1:30" is a name and a number. */
PERF_FN int ab_is_behind_colon_(const char *text, const char *number)
{
    const char *at = number;

    if (at == text || at[-1] != ':')
        return 0;
    for (at--; at > text && ab_is_digit(at[-1]); at--)
        continue;
    return ab_is_digit(*at) && (at == text || !(ab_is_letter(at[-1]) || strchr("_-", at[-1])));
}

/* Is the number from `number` to `end` a part of a time, as of 1m5s, 1 min 5 s or 0:01:30? */
PERF_FN int ab_is_part_of_time_(const char *text, const char *number, const char *end)
{
    if (*end && strchr("mh:", *end) && ab_is_digit(end[1]))
        return 1;
    return ab_is_rest_of_time_(text, number) || ab_has_rest_of_time_(end) ||
           ab_is_behind_colon_(text, number);
}

/* ---- numbers ---- */

/* The last number of a text, or its first; NULL: there is none.  Digits in a name, as in "step2",
 * are none.                                                                                      */
PERF_FN const char *ab_find_number_(const char *text, int first)
{
    const char *at, *found = NULL;
    char       *end;

    for (at = text; *at; at++) {
        if (!ab_is_digit(*at))
            continue;
        if (at == text || !(ab_is_letter(at[-1]) || at[-1] == '_')) {
            found = at;
            if (at > text && at[-1] == '.' && (at == text + 1 || strchr(" \t\n=:(-+", at[-2])))
                found--;                        /* ".5"                                           */
            if (first)
                return found;
        }
        (void)strtod(at, &end);
        at = end > at ? end - 1 : at;
    }
    return found;
}

/* 1: behind blanks and signs of a table ("= : |") stands nan or inf, the word of no number. */
PERF_FN int ab_is_no_number_(const char *at)
{
    static const char *const word[] = {"nan", "inf", "infinity"};
    size_t i, n;

    at += strspn(at, " \t=:|+-");
    for (n = 0; ab_is_letter(at[n]); n++)
        continue;
    for (i = 0; i < sizeof word / sizeof *word; i++)
        if (n == strlen(word[i]) && !strncasecmp(at, word[i], n))
            return 1;
    return 0;
}

/* 1: the digits go on, or began before, with _ or ' between them. */
PERF_FN int ab_is_in_groups_(const char *text, const char *number, const char *end)
{
    if (strchr("_'", *end) && *end && ab_is_digit(end[1]))
        return 1;
    return number > text + 1 && strchr("_'", number[-1]) && ab_is_digit(number[-2]);
}

/* One unit of the last digit of a number as it is printed; 0: it has an exponent. */
PERF_FN double ab_last_digit_(const char *number, const char *end)
{
    const size_t len = (size_t)(end - number);
    const char  *point = (const char *)memchr(number, '.', len);
    double       tick = 1.0;

    if (memchr(number, 'e', len) || memchr(number, 'E', len))
        return 0.0;
    for (point = point ? point + 1 : end; point < end; point++)
        tick /= 10.0;
    return tick;
}

/* The number that a command prints, in the unit of those before it: the last one, or the first
 * behind the last `behind` ("": anywhere).  *tick: one unit of its last digit.                   */
PERF_FN ab_printed ab_printed_number(const char *text, const char *behind, ab_printed_unit *unit,
                                     double *x, double *tick)
{
    const char *at = text, *next, *found = NULL;
    char       *end;

    if (*behind) {
        for (next = text; (next = strstr(next, behind)) != NULL; next++)
            found = next;
        if (!found)
            return AB_PRINTED_NONE;
        at = found + strlen(behind);
        if (ab_is_no_number_(at))
            return AB_PRINTED_NO_NUMBER;
    }
    found = ab_find_number_(at, *behind != '\0');
    if (!found)
        return AB_PRINTED_NONE;
    *x = strtod(found, &end);
    if ((*end == ',' && ab_is_digit(end[1])) ||
        (found > at + 1 && found[-1] == ',' && ab_is_digit(found[-2])))
        return AB_PRINTED_COMMA;
    if (ab_is_in_groups_(at, found, end))
        return AB_PRINTED_GROUPS;
    if (ab_is_part_of_time_(at, found, end))
        return AB_PRINTED_PART;
    *tick = ab_last_digit_(found, end);
    if (found > at && found[-1] == '-')
        *x = -*x;
    if (ab_is_unsaid_rate_(end, unit))
        return AB_PRINTED_RATE;
    return ab_to_one_unit_(end, unit, x, tick) ? AB_PRINTED_NUMBER : AB_PRINTED_OTHER_UNIT;
}

/* Every number that a command prints: the last one of each line, or the first behind each `behind`.
 * *x: their median, or the one that is not positive, where this ends; *tick: the largest.        */
PERF_FN ab_printed ab_printed_each(char *text, const char *behind, ab_values *all,
                                   ab_printed_unit *unit, double *x, double *tick)
{
    char      *piece = *behind ? strstr(text, behind) : text, *next, was;
    double     one, step;
    ab_printed result;

    for (*tick = 0.0; piece && *piece; piece = next) {
        next = *behind ? strstr(piece + strlen(behind), behind) : strchr(piece, '\n');
        next = next ? next + !*behind : piece + strlen(piece);
        was = *next;
        *next = '\0';
        result = ab_printed_number(piece, behind, unit, &one, &step);
        *next = was;
        if (result == AB_PRINTED_NONE)
            continue;
        if (result != AB_PRINTED_NUMBER)
            return result;
        ab_push(all, one);
        *tick = step > *tick ? step : *tick;
        if (!(one > 0.0) || !perf_is_finite_(one)) {
            *x = one;
            return AB_PRINTED_NUMBER;
        }
    }
    if (!all->n)
        return AB_PRINTED_NONE;
    *x = ab_statistic(all->x, all->n, PERF_METRIC_P50);
    return AB_PRINTED_NUMBER;
}

#endif /* PERF_TOOLS_PRINTED_H */
