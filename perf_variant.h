/* perf_variant.h - which variant shall run?
 *
 *     int v = perf_variant("parser", 0);       // PERF_VARIANT="parser=B" in the environment: 1
 *
 * Sections (search for ">>"):  variant  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_VARIANT_H
#define PERF_VARIANT_H

#include "perf_record.h"

PERF_BEGIN_DECLS

/* >>variant: the switch to ship with a change ----------------------------------------------------
 * The environment can choose a variant by name without a new build, to roll a change back:
 *     PERF_VARIANT="parser=A,sum=1" ./program
 * A or 0 is the baseline, B or 1 the candidate, C or 2 the next one, in either case of letters.
 * perf_ab, perf_gpu_ab and perf_race loops of that name then run it alone and are INCONCLUSIVE.  */

/* The variant that PERF_VARIANT asks for, else `otherwise`.  If the value is missing or none of
 * the above, or PERF_VARIANT has no `=`, it is `otherwise`, and perf_error() says PERF_EFORMAT.
 * Reads the environment at each call (some 100 ns): keep the answer.  Works with PERF_DISABLE=1,
 * too, as a shipped program needs it.  Any thread, while none changes the environment.           */
PERF_FN int perf_variant(const char *name, int otherwise);

/* >>private: bodies, callees before their callers ---------------------------------------------- */

#define PERF_VARIANT_LAST_ 63           /* a race has up to 64                                    */

/* A letter in either case or a number below 64; -1: none of these. */
PERF_COLD_FN_ int perf_variant_number_(const char *at, size_t n)
{
    size_t i;
    int    variant = 0;

    if (n == 1 && (at[0] | 32) >= 'a' && (at[0] | 32) <= 'z')
        return (at[0] | 32) - 'a';
    for (i = 0; i < n; i++) {
        if (at[i] < '0' || at[i] > '9' || i == 2)
            return -1;
        variant = 10 * variant + (at[i] - '0');
    }
    if (!n || variant > PERF_VARIANT_LAST_)
        return -1;
    return variant;
}

/* "=B" of an entry "name=B"; *end: behind it.  -1: no number follows, -2: not an entry's value. */
PERF_COLD_FN_ int perf_variant_value_(const char *text, const char **end)
{
    const char *value = text + PERF_LIBC_(strspn)(text, " ");
    size_t      length;

    *end = value;
    if (!*value || *value == ',')
        return -1;
    if (*value != '=' || PERF_LIBC_(memchr)(value + 1, '=', PERF_LIBC_(strcspn)(value + 1, ",")))
        return -2;                                  /* a name may have commas and = of its own    */
    value += 1 + PERF_LIBC_(strspn)(value + 1, " ");
    length = PERF_LIBC_(strcspn)(value, ", ");
    *end = value + length + PERF_LIBC_(strspn)(value + length, " ");
    if (**end && **end != ',')
        return -1;
    return perf_variant_number_(value, length);
}

/* What the list asks for under that name: -1 a value that is none, -2 nothing. */
PERF_COLD_FN_ int perf_variant_find_(const char *list, const char *name)
{
    const size_t length = PERF_LIBC_(strlen)(name);
    const char  *entry = list, *end;
    int          variant;

    if (!length || !*list)
        return -2;
    if (!PERF_LIBC_(strchr)(list, '='))
        return -1;
    while (*entry) {
        end = entry;
        if (*name != ' ')
            end += PERF_LIBC_(strspn)(entry, " ");
        if (PERF_LIBC_(strncmp)(end, name, length) == 0) {
            variant = perf_variant_value_(end + length, &end);
            if (variant > -2)
                return variant;
        }
        entry = end + PERF_LIBC_(strcspn)(end, ",");
        if (*entry)
            entry++;
    }
    return -2;
}

PERF_FN int perf_variant(const char *name, int otherwise)
{
    const char     *list = perf_getenv_("PERF_VARIANT");
    perf_registry_ *reg;
    int             variant = -2;

    if (list && name)
        variant = perf_variant_find_(list, name);
    if (variant >= 0)
        return variant;
    reg = PERF_NULL_;
    if (variant == -1)
        reg = perf_registry_get_();
    if (reg) {                          /* a mistyped rollback must not pass in silence: every    */
        PERF_SET_(&reg->bad_variant, 1u); /* report notes it                                      */
        perf_fail_(reg, PERF_EFORMAT);
    }
    return otherwise;
}

PERF_END_DECLS

#endif /* PERF_VARIANT_H */
