/* perf_missing.h - what is in no row of a report?  Forked children, variables that nobody reads.
 *
 *   note: 4 forked processes recorded 6000 calls that are in no row: fetch 4000, decode 2000
 *
 * Notes of perf_report.h.
 * Sections (search for ">>"):  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_MISSING_H
#define PERF_MISSING_H

#include "perf_record.h"
#include "perf_text.h"

/* >>internal: what other headers may use -------------------------------------------------------
 *   perf_put_unseen_  notes of a report, or members of a JSON object
 *   perf_env_slip_  variables that nobody reads, but that look like one                          */

/* >>private: bodies ---------------------------------------------------------------------------- */

PERF_BEGIN_DECLS

/* ---- the environment ---- */

/* All variables that the headers read. */
#define PERF_ENVIRONMENT_ALL_                                                                     \
    "PERF_REPORT, PERF_TRACE, PERF_TRACE_STREAM, PERF_VARIANT, PERF_MACHINE, PERF_RUN_LABEL"
#ifdef PERF_AUTO
#define PERF_ENVIRONMENT_ PERF_ENVIRONMENT_ALL_ ", PERF_AUTO"
#else
#define PERF_ENVIRONMENT_ PERF_ENVIRONMENT_ALL_
#endif

#if defined(__linux__) && PERF_LP64_UNIX_
extern char **perf_environ_ __asm__(PERF_SYM_("environ"));

/* Is a name of `length` bytes in this list, whose words end with a comma? */
PERF_COLD_FN_ int perf_env_listed_(const char *list, const char *name, size_t length)
{
    const char *at = list;

    for (; at; at = PERF_LIBC_(strchr)(at, ',')) {
        while (*at == ',' || *at == ' ')
            at++;
        if (!PERF_LIBC_(strncmp)(at, name, length) && (!at[length] || at[length] == ','))
            return 1;
    }
    return 0;
}

/* The next variable behind *at (0 at the start) that begins with PERF_, and that neither these
 * headers, perf-ab and perfh nor Linux' own perf know.  Returns its length, 0: there is none.    */
PERF_COLD_FN_ size_t perf_env_unknown_(size_t *at, const char **name)
{
    static const char *const others = "PERF_PLACEMENT, PERF_AB, PERF_CONFIG, PERF_EXEC_PATH, "
                                      "PERF_PAGER, PERF_PAGER_IN_USE, PERF_BUILDID_DIR, PERF_COLOR";
    static const char *const more[] = {"", "PERF_CUPTI", "PERF_COUNTERS",
                                       "PERF_CUPTI, PERF_COUNTERS"};
    const perf_registry_ *r = perf_registry_get_();
    const char           *heard = more[r ? PERF_GET_(&r->heard_more) & 3u : 0];
    size_t                length;

    while (perf_environ_ && !PERF_SETUID_ && perf_environ_[*at]) {
        *name = perf_environ_[(*at)++];
        length = PERF_LIBC_(strcspn)(*name, "=");
        if (length > 5 && !PERF_LIBC_(strncmp)(*name, "PERF_", 5) &&
            !perf_env_listed_(PERF_ENVIRONMENT_, *name, length) &&
            !perf_env_listed_(others, *name, length) && !perf_env_listed_(heard, *name, length))
            return length;
    }
    return 0;
}

/* Is the name a slip of the pen for this word: do two letters in one place, or fewer, differ? */
PERF_COLD_FN_ int perf_env_resembles_(const char *name, size_t length, const char *word)
{
    size_t letters = PERF_LIBC_(strlen)(word), shorter = length;
    size_t head = 0, tail = 0;

    if (shorter > letters)
        shorter = letters;
    while (head < shorter && name[head] == word[head])
        head++;
    while (tail < shorter - head && name[length - 1 - tail] == word[letters - 1 - tail])
        tail++;
    return length - head - tail <= 2 && letters - head - tail <= 2;
}

/* The next such variable that looks like one which asks for a report, *meant; its length or 0. */
PERF_COLD_FN_ size_t perf_env_slip_(size_t *at, const char **name, const char **meant)
{
    static const char *const asks[] = {"PERF_REPORT", "PERF_TRACE"};
    size_t                   i, length;

    while ((length = perf_env_unknown_(at, name)) != 0)
        for (i = 0; i < 2; i++) {
            *meant = asks[i];
            if (perf_env_resembles_(*name, length, *meant))
                return length;
        }
    return 0;
}
#else
#define perf_env_unknown_(at, name)     PERF_CAST_(size_t, 0 * (*(at) + (*(name) != 0)))
#define perf_env_slip_(at, name, meant) (PERF_CAST_(void, meant), perf_env_unknown_(at, name))
#endif

/* Names what is set and read by nobody: a slip of the pen? */
PERF_COLD_FN_ void perf_put_environment_(perf_out_ *o)
{
    const char *name = "";
    char        text[41];
    size_t      at = 0, length = perf_env_unknown_(&at, &name), said;

    for (said = 0; length && said < 3; said++) {
        PERF_LIBC_(memset)(text, 0, sizeof text);
        if (length > sizeof text - 1)
            length = sizeof text - 1;
        PERF_LIBC_(memcpy)(text, name, length);
        perf_putf_(o, "note: %s is set, but is none of " PERF_ENVIRONMENT_ "\n", text);
        length = perf_env_unknown_(&at, &name);
    }
}

/* ---- forked children, as their parent sees them ---- */

#define PERF_CHILD_NAMES_ 32
typedef struct perf_children_ { /* what all descendants of this process have recorded             */
    uint64_t calls, processes;
    int      whole;             /* 0: some of it is where it cannot be read                       */
    uint32_t names;             /* the first PERF_CHILD_NAMES_ that were met                      */
    struct {
        const char *name;
        uint64_t    calls;
    } name[PERF_CHILD_NAMES_];
} perf_children_;

/* Does p lie in the block?  A child that found no room there points to memory of its own. */
PERF_COLD_FN_ int perf_family_has_(const perf_family_ *family, const void *p)
{
    return PERF_PTR_(uintptr_t, p) - PERF_PTR_(uintptr_t, family) < PERF_FAMILY_BYTES_ - 4096;
}

/* The name of an id of a child; NULL: it cannot be read. */
PERF_COLD_FN_ const perf_name_ *perf_member_name_(perf_registry_ *r, const perf_member_ *m,
                                                  uint32_t id)
{
    perf_name_ **names;

    while (m && m != r->member && id < m->inherited)
        m = m->parent;
    if (m == r->member)
        return PERF_ACQ_(&r->names)[id];
    names = PERF_ACQ_(&m->names);
    if (!perf_family_has_(r->family, names) || !perf_family_has_(r->family, names[id]))
        return PERF_NULL_;
    return names[id];
}

PERF_COLD_FN_ void perf_children_add_(perf_children_ *c, const char *name, uint64_t calls)
{
    uint32_t i = 0;

    c->calls += calls;
    while (i < c->names && PERF_LIBC_(strcmp)(c->name[i].name, name))
        i++;
    if (i == PERF_CHILD_NAMES_)
        return;
    if (i == c->names)
        c->name[c->names++].name = name;
    c->name[i].calls += calls;
}

/* Calls of a name in one recorder of a child. */
PERF_COLD_FN_ uint64_t perf_shown_calls_(const perf_family_ *family, perf_cell_ *first)
{
    perf_cell_ *c = first;
    uint64_t    calls = 0, cells = 0;

    while (perf_family_has_(family, c) && cells++ < PERF_FAMILY_BYTES_ / 64) {
        calls += PERF_GET_(&c->count);
        c = PERF_ACQ_(&c->kin);
        if (c == first)
            break;
    }
    return calls;
}

/* Adds the scopes of one child. */
PERF_COLD_FN_ void perf_member_add_(perf_registry_ *r, const perf_member_ *m, perf_children_ *c)
{
    const perf_shown_ *shown = PERF_ACQ_(&m->recorders);
    const uint64_t     before = c->calls;
    const perf_name_  *name;
    perf_cell_       **cell;
    uint64_t           calls;
    uint32_t           id, room;

    for (; shown; shown = shown->next) {
        room = PERF_ACQ_(&shown->room);
        cell = PERF_ACQ_(&shown->cell);
        for (id = 1; id < room && perf_family_has_(r->family, cell); id++) {
            calls = perf_shown_calls_(r->family, PERF_ACQ_(&cell[id]));
            if (!calls)
                continue;
            name = perf_member_name_(r, m, id);
            if (!name)
                c->whole = 0;
            else if (PERF_KIND_HOST_(name->kind))
                perf_children_add_(c, name->site.name, calls);
        }
    }
    c->processes += c->calls > before;
}

/* The scopes of all descendants that have recorded any. */
PERF_COLD_FN_ void perf_children_count_(perf_registry_ *r, perf_children_ *c)
{
    perf_family_ *family = PERF_ACQ_(&r->family);
    perf_member_ *m = family ? PERF_ACQ_(&family->members) : PERF_NULL_;

    PERF_LIBC_(memset)(c, 0, sizeof *c);
    c->whole = !family || !PERF_GET_(&family->full);
    for (; m; m = m->next)
        if (perf_member_ours_(r, m))
            perf_member_add_(r, m, c);
}

/* Writes what forked processes have recorded, which is in none of the rows: how many, and the three
 * names with the most calls.                                                                     */
PERF_COLD_FN_ void perf_put_children_(perf_out_ *o, perf_registry_ *r, int json)
{
    perf_children_ c;
    uint32_t       i, most, said;

    perf_children_count_(r, &c);
    if (json) {
        perf_putf_(o, ",\"child_processes\":%.0f,\"child_calls\":%.0f",
                   PERF_CAST_(double, c.processes), PERF_CAST_(double, c.calls));
        return;
    }
    if (!c.calls)
        return;
    perf_putf_(o, "note: %.0f forked process%s recorded %.0f calls that are in no row: ",
               PERF_CAST_(double, c.processes), c.processes > 1 ? "es" : "",
               PERF_CAST_(double, c.calls));
    for (said = 0; said < 3 && said < c.names; said++) {
        for (i = most = 0; i < c.names; i++)
            if (c.name[i].calls > c.name[most].calls)
                most = i;
        if (!c.name[most].calls)
            break;
        perf_putf_(o, "%s%.40s %.0f", said ? ", " : "", c.name[most].name,
                   PERF_CAST_(double, c.name[most].calls));
        c.name[most].calls = 0;
    }
    perf_putf_(o, "%s%s\n", c.names > 3 ? ", ..." : "", c.whole ? "" : " (and more)");
}

/* What a report says of what it cannot see: children that did not report, and, not in JSON, names
 * in the environment that nobody reads.                                                          */
PERF_COLD_FN_ void perf_put_unseen_(perf_out_ *o, perf_registry_ *r, int json)
{
    perf_put_children_(o, r, json);
    if (!json)
        perf_put_environment_(o);
}

PERF_END_DECLS

#endif /* PERF_MISSING_H */
