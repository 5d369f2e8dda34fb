/* perf_results.h - results in files: our own JSON, and baselines to check against.
 *
 *     #include "perf.h"
 *     #include "perf_results.h"
 *     perf_results_save("now.json", NULL);            // all benches, A/B loops, scopes
 *
 *     perf_baseline_add("baseline.json", NULL);       // one run more; six or more make a baseline
 *     perf_baseline b = perf_baseline_check("baseline.json", NULL);
 *     perf_baseline_to(stdout, &b);                  // a line an entry: ACCEPT, REJECT, ...
 *     perf_baseline_free(&b);
 *
 * Optional: only files that save or check results include it.  Files appear whole or not at all
 * (written beside, then renamed).  docs/results.md has the rules of a check.
 * Everything here allocates and may do I/O; nothing here is for a hot path.
 * Sections (search for ">>"):  results  baseline  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_RESULTS_H
#define PERF_RESULTS_H

#include "perf.h"
#if !defined(PERF_VERSION) || PERF_VERSION < 100
#error "perf_results.h: found another or an older perf.h; keep all files of one release together"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>             /* qsort                                                          */
#include <string.h>
#include <time.h>               /* time, on Windows                                               */

PERF_BEGIN_DECLS

/* >>results -----------------------------------------------------------------------------------
 * What is written: every bench and A/B loop that has ended, with each slice as measured by the
 * clock that decides (wall or processor time, as in the report), and every scope with its
 * histogram.  Values that are no positive numbers are left out.                                  */

typedef struct perf_results_item {  /* a result of your own to write; the pointers stay yours     */
    const char        *name;    /* any text; NULL reads "(unnamed)"                               */
    const perf_result *result;  /* NULL: left out                                                 */
    const double      *samples; /* ns an iteration, oldest first; NULL: only the result's median  */
    size_t             count;   /* of samples                                                     */
} perf_results_item;

typedef struct perf_results_opts {  /* zero = default                                             */
    const perf_results_item *items; /* NULL: all that this process has finished                   */
    size_t      count;          /* of items                                                       */
    int         no_scopes;      /* 1: benches and A/B loops only; with `items` there are none     */
    const char *run;            /* id of this run among others; NULL: made of time and process    */
    const char *machine;        /* NULL: PERF_MACHINE of the environment, else the host name      */
    double      time_s;         /* since the epoch; 0: now                                        */
    const char *const *context; /* "commit", "1f3a9c", another key, its value, NULL; each once    */
} perf_results_opts;

PERF_FN perf_results_opts perf_results_opts_default(void);  /* all zero; for C++11 and Cython     */

/* To a file, whole or not at all; devices (/dev/...) are written directly.  opts NULL: defaults.
 * PERF_EINVAL: no path; PERF_EIO, PERF_ENOMEM; PERF_ESTATE: samples changed while being written. */
PERF_FN perf_status perf_results_save(const char *path, const perf_results_opts *opts);

/* The same to an open stream, which stays open.  PERF_EINVAL: NULL. */
PERF_FN perf_status perf_results_to(FILE *file, const perf_results_opts *opts);

/* >>baseline ----------------------------------------------------------------------------------
 * A saved run and this one were not measured in turns, and the same program gives other times an
 * hour later.  So a whole run counts as one value: 6 or more saved runs of this machine and build
 * show how much runs differ, and a run beyond that is a change.  With fewer runs the ratio is
 * shown, and the verdict stays INCONCLUSIVE.  What is compared for each name:
 *   bench  the median of its slices (by a rule on p95, p99 or mean: that)
 *   A/B    the median ratio candidate / baseline of its pairs
 *   scope  the median of its calls (or their p95, p99, mean): good to 3 %
 * A run that comes later than twice the usual distance of the saved ones gets the interval of a
 * random walk of at most 10 %: the variance of the saved runs, times 2 + 6 age / span (>= 10 s). */

/* Replaces the file by this run, which perf_results_opts describes.  The new file is read back,
 * and on the disk before it replaces the old one.  A file that is no baseline, as a damaged one,
 * stays as PATH.damaged (.damaged.2 ...; 100 at most: PERF_EIO).  Statuses as perf_results_save. */
PERF_FN perf_status perf_baseline_save(const char *path, const perf_results_opts *opts);

/* Adds this run to the file, or creates it, as safely as perf_baseline_save.  The newest 30 runs
 * are kept; a run of the same id is replaced.  A file that is no baseline is kept aside as there,
 * and a new one begins with this run.  Those who add in one folder at once take turns, by its lock
 * (flock); where somebody holds that for a second and more, it is done without.                  */
PERF_FN perf_status perf_baseline_add(const char *path, const perf_results_opts *opts);

/* What was measured under a name. */
typedef enum perf_baseline_kind {
    PERF_BASELINE_BENCH = 1, PERF_BASELINE_AB, PERF_BASELINE_SCOPE
} perf_baseline_kind;

typedef struct perf_baseline_opts { /* zero = default                                             */
    perf_results_opts now;      /* what to check; zero: this process                              */
    perf_compare_opts accept;   /* rule, zero: time no more than 5 % worse, at 95 %               */
    int    any_machine;         /* 1: runs of other machines and builds count like ours           */
    int    most_unchanged;      /* 1: you vouch that most entries are as fast as before: what the */
                                /* others of a run share is then the machine's, and is taken out; */
                                /* old runs count by how far they strayed (8 runs, 8 entries)     */
} perf_baseline_opts;

typedef struct perf_baseline_entry {
    const char        *name;    /* belongs to the perf_baseline                                   */
    perf_baseline_kind kind;
    size_t             runs;    /* saved runs that it was compared with; 0: it is new             */
    int                missing; /* 1: saved, but not measured in this run                         */
    double             before;  /* geometric mean of the saved runs, ns (A/B: a ratio); 0: none   */
    double             now;     /* this run; 0: missing                                           */
    perf_verdict       verdict; /* by itself                                                      */
    perf_decision      decision;/* as one of the family: this is the one that counts              */
    double             p;       /* two-sided, before the correction; 1: no claim                  */
} perf_baseline_entry;

typedef struct perf_baseline {
    perf_decision        decision;      /* of all: REJECT if any is, ACCEPT if all are            */
    perf_status          status;        /* PERF_OK, or why there is nothing here                  */
    size_t               error_at;      /* byte offset, for PERF_EFORMAT, ERANGE, ELIMIT          */
    perf_baseline_entry *entry;         /* of this run, then the missing ones                     */
    size_t               entries;
    size_t               accepted, rejected, fresh, missing;   /* how many of them                */
    size_t               runs;          /* in the file                                            */
    size_t               other_runs;    /* runs of another machine or build: not used             */
    size_t               beside;        /* entries held against the others of their run, too      */
    char                 other[200];    /* such a machine and cpu, or compiler and build; or ""   */
    double               span_s;        /* what the used runs cover                               */
    double               age_s;         /* how long ago the last was; < 0: the first comes later  */
    perf_rule            rule;          /* as held against                                        */
    double               confidence;
    char                *memory_[2];    /* private: the names                                     */
} perf_baseline;

PERF_FN perf_baseline_opts perf_baseline_opts_default(void);    /* all zero; C++11 and Cython     */

/* Compares what this process has measured with the file.  All entries together are one family of
 * questions, corrected after Holm.  opts NULL: defaults.  Any file is safe to read: one that is no
 * baseline gives a status and the byte.  Free the result, whatever its status.                   */
PERF_FN perf_baseline perf_baseline_check(const char *path, const perf_baseline_opts *opts);

PERF_FN void perf_baseline_free(perf_baseline *b);          /* NULL and a second call: nothing    */

/* Writes the verdicts as a table; `file` stays open.  PERF_EINVAL: NULL; PERF_EIO, PERF_ENOMEM. */
PERF_FN perf_status perf_baseline_to(FILE *file, const perf_baseline *b);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_say_, perf_text_make_, perf_put_baseline_  write by a format; a text in memory, to be
 *                   freed; the table of a check
 *   perf_put_date_         writes a time as "2026-11-21T12:00:00" and an end
 *   perf_run_, perf_run_here_  machine, compiler and time of a run, cut to fit; reads /proc
 *   perf_first_line_       the first line of a small file; 0: there is none
 *   PERF_SANITIZED_        1: compiled with a sanitizer
 *   perf_saving_, perf_saved_, perf_saved_scope_  what there is to write; pointers into the core,
 *                          which finished loops never leave
 *   perf_saved_summary_, perf_saved_value_, perf_saved_whole_  a loop's arm by
 *                          the clock that decides; 0 for a value that is none
 *   perf_saving_save_, perf_saving_to_  run a writer over all there is, into a file or a stream;
 *                          take the registry's lock for a moment; status as perf_results_save    */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* ---- text ---- */

/* A number with 12 significant digits; null for what JSON has no number for. */
PERF_COLD_FN_ void perf_put_real_(perf_out_ *o, double x)
{
    char      text[64];
    perf_out_ t = perf_out_open_(text, sizeof text);
    int       e = 0, decimals = 11;
    double    m;

    if (!perf_is_finite_(x) || !(x < 0.0 || x > 0.0)) {
        perf_put_(o, perf_is_finite_(x) ? "0" : "null");
        return;
    }
    if (x < 0.0)
        perf_put_char_(o, '-');
    m = x = x < 0.0 ? -x : x;
    for (; m >= 10.0; e++)
        m /= 10.0;
    for (; m < 1.0; e--)
        m *= 10.0;
    if (e >= -5 && e < 17) {                    /* else one digit before the point, and e         */
        m = x;
        decimals = e < 11 ? 11 - e : 0;
        e = 0;
    }
    perf_put_fixed_(&t, m, decimals);
    while (decimals && (text[t.len - 1] == '0' || text[t.len - 1] == '.'))
        decimals = text[--t.len] != '.';
    text[t.len] = '\0';
    perf_put_(o, text);
    if (e)
        perf_putf_(o, "e%s%.0f", e > 0 ? "+" : "", PERF_CAST_(double, e));
}

/* Writes `format`, in which ' stands for a quotation mark and arguments stand in for
 *   %s a text    %j a text as JSON    %u a uint64_t    %z a size_t    %i an int    %r a double
 * They must have exactly these types.                                                            */
PERF_COLD_FN_ void perf_say_(perf_out_ *o, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    for (; *format; format++) {
        if (*format != '%') {
            perf_put_char_(o, PERF_CAST_(char, *format == '\'' ? '"' : *format));
            continue;
        }
        switch (*++format) {
        case 's': perf_put_(o, va_arg(list, const char *)); break;
        case 'j': perf_put_json_(o, va_arg(list, const char *)); break;
        case 'u': perf_put_u64_(o, va_arg(list, uint64_t)); break;
        case 'z': perf_put_u64_(o, va_arg(list, size_t)); break;
        case 'i': perf_put_real_(o, va_arg(list, int)); break;
        default: perf_put_real_(o, va_arg(list, double)); break;
        }
    }
    va_end(list);
}

/* Copies what fits, with its NUL; a cut UTF-8 character becomes U+FFFD when it is written. */
PERF_COLD_FN_ void perf_copy_text_(char *to, size_t cap, const char *from)
{
    perf_out_ o = perf_out_open_(to, cap);
    perf_put_(&o, from);
}

/* Seconds since the epoch as "2026-11-21T12:00:00", and `end` behind.  For the date a year begins
 * in March: then its leap day is the last.                                                       */
PERF_COLD_FN_ void perf_put_date_(perf_out_ *o, double time_s, const char *end)
{
    uint64_t s = time_s > 0.0 && time_s < 2e11 ? PERF_CAST_(uint64_t, time_s) : 0;
    uint64_t days = s / 86400 + 719468, era = days / 146097, day = days % 146097, year, month, f[6];
    int      i;

    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    f[2] = day - (153 * month + 2) / 5 + 1;
    f[1] = month < 10 ? month + 3 : month - 9;
    f[0] = year + 400 * era + (f[1] <= 2);
    f[3] = s % 86400 / 3600;
    f[4] = s % 3600 / 60;
    f[5] = s % 60;
    for (i = 0; i < 6; i++) {
        if (i)
            perf_put_char_(o, i < 3 ? '-' : i == 3 ? 'T' : ':');
        if (i && f[i] < 10)
            perf_put_char_(o, '0');
        perf_put_u64_(o, f[i]);
    }
    perf_put_(o, end);
}

/* ---- where and how this was measured ---- */

typedef struct perf_run_ {
    char   id[96], machine[96], cpu[96], os[96], compiler[96], build[200];
    int    cores, hypervisor;
    double time_s;
} perf_run_;

#if defined(__clang__)
#define PERF_COMPILER_ "clang " __clang_version__
#elif PERF_TCC_
#define PERF_COMPILER_ "tcc " PERF_STR_(__TINYC__)
#else
#define PERF_COMPILER_ "gcc " __VERSION__
#endif

#if defined(__SANITIZE_ADDRESS__) || PERF_TSAN_
#define PERF_SANITIZED_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PERF_SANITIZED_ 1
#endif
#endif
#ifndef PERF_SANITIZED_
#define PERF_SANITIZED_ 0
#endif

/* The size of a pointer, and what the compiler's macros tell about its options. */
PERF_COLD_FN_ void perf_put_build_(perf_out_ *o)
{
    perf_say_(o, "%i-bit", PERF_CAST_(int, 8 * sizeof(void *)));
#if defined(__OPTIMIZE_SIZE__)
    perf_put_(o, ", optimised for size");
#elif defined(__OPTIMIZE__)
    perf_put_(o, ", optimised");
#else
    perf_put_(o, ", not optimised");
#endif
#if defined(__AVX512F__)
    perf_put_(o, ", AVX-512");
#elif defined(__AVX2__)
    perf_put_(o, ", AVX2");
#elif defined(__AVX__)
    perf_put_(o, ", AVX");
#elif defined(__ARM_FEATURE_SVE)
    perf_put_(o, ", SVE");
#endif
#if defined(__FAST_MATH__)
    perf_put_(o, ", fast-math");
#endif
#if defined(NDEBUG)
    perf_put_(o, ", NDEBUG");
#endif
    perf_put_(o, PERF_SANITIZED_ ? ", sanitizer" : "");
}

/* The first line of a small file, without its newline; 0: there is none. */
PERF_COLD_FN_ int perf_first_line_(const char *path, char *line, size_t cap)
{
    FILE *f = fopen(path, "rb");
    int   any = f && fgets(line, PERF_CAST_(int, cap), f);

    if (f)
        (void)fclose(f);
    if (any)
        line[strcspn(line, "\n")] = '\0';
    return any;
}

/* The model and the number of processors and whether they are virtual, where Linux tells. */
PERF_COLD_FN_ void perf_run_cpu_(perf_run_ *r)
{
    char  line[4096], *value;
    FILE *f = fopen("/proc/cpuinfo", "rb");

    perf_copy_text_(r->cpu, sizeof r->cpu, "unknown");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        value = strchr(line, ':');
        if (!value)
            continue;
        value += value[1] == ' ' ? 2 : 1;
        value[strcspn(value, "\n")] = '\0';
        r->cores += !strncmp(line, "processor", 9);
        r->hypervisor |= !strncmp(line, "flags", 5) && strstr(value, " hypervisor");
        if (!strcmp(r->cpu, "unknown") &&
            (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8) ||
             !strncmp(line, "uarch", 5)))
            perf_copy_text_(r->cpu, sizeof r->cpu, value);
    }
    (void)fclose(f);
}

PERF_COLD_FN_ perf_run_ perf_run_here_(const perf_results_opts *opts)
{
    perf_run_   r = PERF_ZERO;
    perf_out_   o;
    char        line[80], release[80];
    const char *machine = opts->machine ? opts->machine : perf_getenv_("PERF_MACHINE");

    r.time_s = opts->time_s;
    if (!(r.time_s > 0.0 && r.time_s < 2e11))   /* finer than seconds: many runs fit into one     */
#if defined(_WIN32)
        r.time_s = PERF_CAST_(double, time(PERF_NULL_));
#else
        r.time_s = 1e-9 * PERF_CAST_(double, perf_system_ns_(0));       /* of CLOCK_REALTIME      */
#endif
    perf_run_cpu_(&r);
    perf_copy_text_(r.os, sizeof r.os, "unknown");
    if (perf_first_line_("/proc/sys/kernel/ostype", line, sizeof line) &&
        perf_first_line_("/proc/sys/kernel/osrelease", release, sizeof release)) {
        o = perf_out_open_(r.os, sizeof r.os);
        perf_say_(&o, "%s %s", line, release);
    }
#if defined(_WIN32)
    perf_copy_text_(r.os, sizeof r.os, "Windows");
    if (perf_getenv_("PROCESSOR_IDENTIFIER"))
        perf_copy_text_(r.cpu, sizeof r.cpu, perf_getenv_("PROCESSOR_IDENTIFIER"));
    if (!machine)
        machine = perf_getenv_("COMPUTERNAME");
#endif
    if ((!machine || !*machine) && perf_first_line_("/proc/sys/kernel/hostname", line, sizeof line))
        machine = line;
    perf_copy_text_(r.machine, sizeof r.machine, machine && *machine ? machine : "unknown");
    perf_copy_text_(r.compiler, sizeof r.compiler, PERF_COMPILER_);
    o = perf_out_open_(r.build, sizeof r.build);
    perf_put_build_(&o);
    if (opts->run) {
        perf_copy_text_(r.id, sizeof r.id, opts->run);
    } else {
        o = perf_out_open_(r.id, sizeof r.id);
        perf_put_date_(&o, r.time_s, "Z ");
        perf_put_u64_(&o, perf_process_id_());
    }
    return r;
}

/* ---- what there is to write ---- */

typedef struct perf_saved_ {            /* a bench, or an A/B loop: then x[0] is the baseline     */
    const char           *name;
    const perf_result    *bench;
    const perf_ab_result *ab;
    const double         *x[2];         /* ns an iteration, by slice                              */
    size_t                n;
    const perf_loop_     *own;          /* has its counters; NULL: there are none                 */
    char                 *numbered;     /* "name (2)", freed with the list; NULL: name is enough  */
    size_t                alike;        /* further loops of this name in the same round           */
} perf_saved_;

typedef struct perf_saved_bucket_ {
    uint32_t index;
    uint64_t count;
} perf_saved_bucket_;

typedef struct perf_saved_scope_ {      /* a scope or a counter                                   */
    perf_row_ row;
    size_t    bucket, buckets;          /* its part of the list of buckets                        */
} perf_saved_scope_;

typedef struct perf_saving_ {           /* all of it, at one moment                               */
    perf_run_           run;
    perf_clock_info     clock;          /* the rate is read here once: it may change at any time  */
    perf_saved_        *loop;
    perf_saved_scope_  *scope;
    perf_saved_bucket_ *bucket;
    size_t              loops, scopes, buckets, loop_room, scope_room, bucket_room;
    perf_status         status;
    const char *const  *context;
    const struct perf_read_ *old;       /* NULL, or a file whose runs are kept beside this one    */
    double              step_ns;        /* of the clock; 0: the values are not ours               */
} perf_saving_;

/* Room for one more element of a list that doubles; 0: no memory, and the list is as it was. */
PERF_COLD_FN_ int perf_more_(void *list_, size_t *room, size_t used, size_t size)
{
    void  *list, *more;
    size_t next = *room ? 2 * *room : 16;

    if (used < *room)
        return 1;
    memcpy(&list, list_, sizeof list);
    more = next > PERF_CAST_(size_t, -1) / 4 / size ? PERF_NULL_ : PERF_MALLOC(next * size);
    if (!more)
        return 0;
    if (used)
        memcpy(more, list, used * size);
    PERF_FREE(list);
    memcpy(list_, &more, sizeof more);
    *room = next;
    return 1;
}

/* A bench without slices has its median as its only slice. */
PERF_COLD_FN_ void perf_saving_loop_(perf_saving_ *s, perf_saved_ loop)
{
    if (!loop.n && loop.bench && loop.bench->time.count) {
        loop.x[0] = &perf_result_main_(loop.bench)->p50;
        loop.n = 1;
    }
    if (!perf_more_(&s->loop, &s->loop_room, s->loops, sizeof *s->loop))
        s->status = PERF_ENOMEM;
    else
        s->loop[s->loops++] = loop;
}

/* 1: two loops that files could not tell apart.  Rounds of --repeat are meant to be alike. */
PERF_FN int perf_saved_alike_(const perf_saved_ *a, const perf_saved_ *b)
{
    return !a->ab == !b->ab && a->own->round == b->own->round && !strcmp(a->name, b->name);
}

/* Where in a table of `room` (a power of two) places a loop like l stands, or would: FNV-1a. */
PERF_COLD_FN_ size_t perf_saving_find_(const perf_saving_ *s, const size_t *table, size_t room,
                                       const perf_saved_ *l)
{
    uint64_t    hash = UINT64_C(14695981039346656037);
    const char *c;
    size_t      at;

    for (c = l->name; *c; c++)
        hash = (hash ^ PERF_CAST_(unsigned char, *c)) * UINT64_C(1099511628211);
    at = PERF_CAST_(size_t, hash ^ hash >> 32) & (room - 1);
    while (table[at] && !perf_saved_alike_(&s->loop[table[at] - 1], l))
        at = (at + 1) & (room - 1);
    return at;
}

/* Gives the loop, which is like `first`, the next name that no loop has: "name (2)". */
PERF_COLD_FN_ int perf_saving_number_(perf_saving_ *s, const size_t *table, size_t room,
                                      perf_saved_ *first, perf_saved_ *l)
{
    const char *name = l->name;
    size_t      most = strlen(name) + 24;

    l->numbered = PERF_CAST_(char *, PERF_MALLOC(most));
    if (!l->numbered)
        return 0;
    l->name = l->numbered;
    do {
        perf_out_ o = perf_out_open_(l->numbered, most);
        first->alike++;
        perf_put_(&o, name);
        perf_put_(&o, " (");
        perf_put_u64_(&o, first->alike + 1);
        perf_put_(&o, ")");
    } while (table[perf_saving_find_(s, table, room, l)]);
    return 1;
}

/* Numbers loops of equal names, oldest first: as one entry a slow one would hide behind a fast. */
PERF_COLD_FN_ void perf_saving_names_(perf_saving_ *s)
{
    size_t  room = 16, i, at, *table;

    while (room < 2 * s->loops)
        room *= 2;
    table = PERF_CAST_(size_t *, PERF_MALLOC(room * sizeof *table));
    if (!table) {
        s->status = PERF_ENOMEM;
        return;
    }
    memset(table, 0, room * sizeof *table);
    for (i = 0; i < s->loops; i++) {
        at = perf_saving_find_(s, table, room, &s->loop[i]);
        if (!table[at])
            table[at] = i + 1;
    }
    for (i = 0; i < s->loops; i++) {
        at = perf_saving_find_(s, table, room, &s->loop[i]);
        if (table[at] != i + 1 &&
            !perf_saving_number_(s, table, room, &s->loop[table[at] - 1], &s->loop[i]))
            s->status = PERF_ENOMEM;
    }
    PERF_FREE(table);
}

/* The finished loops of the process, oldest first. */
PERF_COLD_FN_ void perf_saving_loops_(perf_saving_ *s, perf_registry_ *r)
{
    perf_loop_             *l = PERF_ACQ_(&r->results);
    const perf_loop_state_ *a;
    perf_saved_             one;
    size_t                  i;

    for (; l && s->status == PERF_OK; l = l->next) {
        if (!PERF_ACQ_(&l->done) || PERF_GET_(&l->forgotten) || l->kind > 2)
            continue;
        memset(&one, 0, sizeof one);
        one.name = l->name;
        one.own = l;
        a = PERF_PTR_(const perf_loop_state_ *, l);
        if (l->kind == 1) {
            one.bench = &a->result;
            one.x[0] = a->result.decides == PERF_DECIDES_CPU ? a->arm->cpu : a->arm->ns;
            one.n = a->result.time.count ? a->arm->count : 0;
        } else {
            one.ab = &a->ab;
            one.x[0] = a->ab.decides == PERF_DECIDES_CPU ? a->arm[0].cpu : a->arm[0].ns;
            one.x[1] = a->ab.decides == PERF_DECIDES_CPU ? a->arm[1].cpu : a->arm[1].ns;
            one.n = a->arm[0].count < a->arm[1].count ? a->arm[0].count : a->arm[1].count;
            one.n = a->ab.baseline.count ? one.n : 0;
        }
        perf_saving_loop_(s, one);
    }
    for (i = 0; i < s->loops / 2; i++) {
        one = s->loop[i];
        s->loop[i] = s->loop[s->loops - 1 - i];
        s->loop[s->loops - 1 - i] = one;
    }
    perf_saving_names_(s);
}

PERF_COLD_FN_ void perf_saving_scopes_(perf_saving_ *s, perf_registry_ *r)
{
    perf_sum_  *sum = PERF_CAST_(perf_sum_ *, PERF_MALLOC(sizeof *sum));
    uint32_t    id, i, names = PERF_ACQ_(&r->count);

    if (!sum)
        s->status = PERF_ENOMEM;
    for (id = 1; id < names && s->status == PERF_OK; id++) {
        perf_saved_scope_ *one;
        if (!perf_more_(&s->scope, &s->scope_room, s->scopes, sizeof *s->scope)) {
            s->status = PERF_ENOMEM;
            break;
        }
        one = &s->scope[s->scopes];
        perf_row_fill_(&one->row, r, id, sum);
        one->bucket = s->buckets;
        one->buckets = 0;
        if (!one->row.count)
            continue;
        for (i = 0; i < PERF_CELL_BUCKETS_ && one->row.kind < PERF_KIND_COUNT_; i++) {
            if (!sum->bucket[i])
                continue;
            if (!perf_more_(&s->bucket, &s->bucket_room, s->buckets, sizeof *s->bucket)) {
                s->status = PERF_ENOMEM;
                break;
            }
            s->bucket[s->buckets].index = i;
            s->bucket[s->buckets++].count = sum->bucket[i];
            one->buckets++;
        }
        s->scopes++;
    }
    PERF_FREE(sum);
}

PERF_COLD_FN_ perf_saving_ perf_saving_take_(const perf_results_opts *opts)
{
    perf_results_opts o = opts ? *opts : perf_results_opts_default();
    perf_registry_   *r;
    perf_saving_      s = PERF_ZERO;
    size_t            i;

    s.run = perf_run_here_(&o);
    s.clock = perf_clock();
    s.context = o.context;
    s.step_ns = o.items ? 0.0 : s.clock.resolution_ns;
    for (i = 0; o.items && i < o.count; i++) {
        perf_saved_ one = PERF_ZERO;
        one.name = o.items[i].name ? o.items[i].name : "(unnamed)";
        one.bench = o.items[i].result;
        one.x[0] = o.items[i].samples;
        one.n = o.items[i].samples ? o.items[i].count : 0;
        if (one.bench)
            perf_saving_loop_(&s, one);
    }
    r = perf_registry_read_();
    if (o.items || !r)
        return s;
    if (perf_lock_(r))                          /* after a fork: forgets the parent's threads     */
        perf_unlock_(r);
    perf_saving_loops_(&s, r);
    if (!o.no_scopes)
        perf_saving_scopes_(&s, r);
    return s;
}

/* The summary of a loop's arm by the clock that decides. */
PERF_FN const perf_summary *perf_saved_summary_(const perf_saved_ *l, int arm)
{
    if (!l->ab)
        return perf_result_main_(l->bench);
    if (l->ab->decides == PERF_DECIDES_CPU)
        return arm ? &l->ab->candidate_cpu : &l->ab->baseline_cpu;
    return arm ? &l->ab->candidate : &l->ab->baseline;
}

/* Value i of an arm, by slice; 0: none such. */
PERF_FN double perf_saved_value_(const perf_saved_ *l, int arm, size_t i)
{
    double x = i < l->n ? l->x[arm][i] : 0.0;

    return perf_is_duration_(x) && x > 1e-200 && x < 1e200 ? x : 0.0;
}

/* 1: value i is there; of a pair, both. */
PERF_FN int perf_saved_whole_(const perf_saved_ *l, size_t i)
{
    return perf_saved_value_(l, 0, i) > 0.0 && (!l->ab || perf_saved_value_(l, 1, i) > 0.0);
}

PERF_COLD_FN_ void perf_put_samples_(perf_out_ *o, const char *key, const perf_saved_ *l, int arm)
{
    size_t i, written = 0;

    perf_say_(o, key);
    for (i = 0; i < l->n; i++)
        if (perf_saved_whole_(l, i))
            perf_say_(o, "%s%r", written++ ? "," : "[", perf_saved_value_(l, arm, i));
    perf_put_(o, written ? "]" : "[]");
}

/* ---- reading: a strict JSON reader that walks once ---- */

#define PERF_READ_BYTES_   (UINT64_C(256) << 20)    /* of a file                                  */
#define PERF_READ_DEPTH_   64u
#define PERF_READ_RUNS_    100u                     /* of a baseline; writers keep 30             */
#define PERF_READ_ENTRIES_ 1000000u
#define PERF_KEEP_RUNS_    30u

typedef struct perf_read_entry_ {
    const char *name, *run;
    int         kind;                   /* perf_baseline_kind; 0: a counter, or nothing measured  */
    int         of_run;                 /* index, or -1                                           */
    int         scope;                  /* it stands among the scopes                             */
    size_t      from, to;               /* its text                                               */
    size_t      value, values;          /* a loop's part of the numbers; pairs: as many again     */
    double      figure[5];              /* of a scope: its calls, p50, p95, p99, mean             */
    double      step;                   /* of the clock, in ns; 0: the file does not say          */
} perf_read_entry_;

typedef struct perf_read_run_ {
    const char *id, *machine, *cpu, *compiler, *build;
    double      time_s;
    size_t      from, to;               /* its text                                               */
    int         usable;
} perf_read_run_;

typedef struct perf_read_ {
    const char       *text;             /* stays: its parts are copied when a run is added        */
    char             *decoded;          /* strings, each at the place where it stands in the text */
    size_t            size, at;
    perf_status       status;           /* the first failure, with its place                      */
    size_t            error_at;
    double           *value;
    perf_read_entry_ *entry;
    perf_read_entry_ **order;           /* entries by kind, name, run                             */
    perf_read_run_   *run;
    size_t            values, entries, runs, value_room, entry_room, run_room;
} perf_read_;

PERF_COLD_FN_ int perf_read_fail_(perf_read_ *r, perf_status why)
{
    if (r->status == PERF_OK) {
        r->status = why;
        r->error_at = r->at < r->size ? r->at : r->size;
    }
    r->at = r->size;
    return 0;
}

/* Fails at that place unless `ok`.  Returns 1 if nothing has failed so far. */
PERF_COLD_FN_ int perf_read_need_(perf_read_ *r, int ok, size_t at, perf_status why)
{
    if (!ok && r->status == PERF_OK) {
        r->at = at;
        (void)perf_read_fail_(r, why);
    }
    return r->status == PERF_OK;
}

PERF_FN char perf_read_char_(const perf_read_ *r)   /* 0: the end, or a failure                   */
{
    return r->at < r->size ? r->text[r->at] : '\0';
}

/* The next character that is no blank; 0 at the end or after a failure. */
PERF_FN char perf_read_peek_(perf_read_ *r)
{
    while (perf_read_char_(r) && strchr(" \n\t\r", perf_read_char_(r)))
        r->at++;
    return perf_read_char_(r);
}

PERF_FN int perf_read_this_(perf_read_ *r, char c)
{
    if (perf_read_peek_(r) != c)
        return 0;
    r->at++;
    return 1;
}

PERF_FN int perf_read_digit_(const perf_read_ *r)
{
    return perf_read_char_(r) >= '0' && perf_read_char_(r) <= '9';
}

PERF_COLD_FN_ int perf_read_hex_(perf_read_ *r, uint32_t *out)
{
    static const char digit[] = "0123456789abcdef0123456789ABCDEF";
    int i;

    *out = 0;
    for (i = 0; i < 4; i++, r->at++) {
        const char *p = perf_read_char_(r) ? strchr(digit, perf_read_char_(r)) : PERF_NULL_;
        if (!p)
            return perf_read_fail_(r, PERF_EFORMAT);
        *out = *out << 4 | PERF_CAST_(uint32_t, (p - digit) & 15);
    }
    return 1;
}

/* What a \ stands for, as UTF-8; never longer than it was.  NUL and lone surrogates: U+FFFD. */
PERF_COLD_FN_ char *perf_read_escape_(perf_read_ *r, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char        c = perf_read_char_(r);
    const char *p = c ? strchr(from, c) : PERF_CAST_(const char *, PERF_NULL_);
    uint32_t    code, low;
    int         more;

    if (!p && c != 'u') {
        (void)perf_read_fail_(r, PERF_EFORMAT);
        return to;
    }
    r->at++;
    if (p)
        *to++ = into[p - from];
    if (p || !perf_read_hex_(r, &code))
        return to;
    if (code >= 0xd800 && code < 0xdc00 && r->size - r->at >= 6 && r->text[r->at] == '\\' &&
        r->text[r->at + 1] == 'u') {
        size_t back = r->at;
        r->at += 2;
        if (!perf_read_hex_(r, &low))
            return to;
        if (low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            r->at = back;
    }
    if (code == 0 || (code >= 0xd800 && code <= 0xdfff))
        code = 0xfffd;
    more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = PERF_CAST_(char, (more ? 0xf00u >> more & 0xff : 0u) | code >> 6 * more);
    while (more--)
        *to++ = PERF_CAST_(char, 0x80 | (code >> 6 * more & 63));
    return to;
}

/* A string, ended by NUL, valid as long as r; "" after a failure. */
PERF_COLD_FN_ const char *perf_read_string_(perf_read_ *r)
{
    const int open = perf_read_this_(r, '"');
    char     *begin = r->decoded + r->at - open, *to = begin;

    while (open && r->at < r->size) {
        char c = r->text[r->at];
        if (c == '"') {
            r->at++;
            *to = '\0';
            return begin;
        }
        if (PERF_CAST_(unsigned char, c) < 0x20)
            break;
        r->at++;
        if (c == '\\')
            to = perf_read_escape_(r, to);
        else
            *to++ = c;
    }
    (void)perf_read_fail_(r, PERF_EFORMAT);
    return "";
}

PERF_COLD_FN_ int perf_read_word_(perf_read_ *r, const char *word)
{
    size_t n = strlen(word);

    if (r->size - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return perf_read_fail_(r, PERF_EFORMAT);
    r->at += n;
    return 1;
}

/* A number as JSON spells it, good to 1e-15.  Beyond 1e290: infinite. */
PERF_COLD_FN_ double perf_read_number_(perf_read_ *r)
{
    double x = 0.0;
    int    digits = 0, point = -1, e = 0, power = 0, minus = perf_read_this_(r, '-'), sign;
    size_t first = r->at;

    for (; perf_read_digit_(r) || (digits && point < 0 && perf_read_char_(r) == '.'); r->at++) {
        if (r->text[r->at] == '.') {
            point = digits;
            continue;
        }
        x = 10.0 * x + (r->text[r->at] - '0');
        e -= point >= 0;
        digits++;
    }
    if (!digits || point == digits || ((point < 0 ? digits : point) > 1 && r->text[first] == '0'))
        return perf_read_fail_(r, PERF_EFORMAT);
    if (perf_read_char_(r) == 'e' || perf_read_char_(r) == 'E') {
        r->at++;
        sign = perf_read_char_(r) == '-' ? -1 : 1;
        r->at += sign < 0 || perf_read_char_(r) == '+';
        for (digits = 0; perf_read_digit_(r); r->at++, digits++)
            power = power < 100000 ? 10 * power + (r->text[r->at] - '0') : power;
        if (!digits)
            return perf_read_fail_(r, PERF_EFORMAT);
        e += sign * power;
    }
    for (; x > 0.0 && e > 0 && x <= 1e290; e--)
        x *= 10.0;
    if (x > 1e290)
        return minus ? -PERF_INF_ : PERF_INF_;
    for (; x > 0.0 && e <= -16; e += 16)
        x /= 1e16;
    for (; x > 0.0 && e < 0; e++)
        x /= 10.0;
    return minus ? -x : x;
}

/* A number that is used: beyond 1e290 it is PERF_ERANGE. */
PERF_COLD_FN_ double perf_read_figure_(perf_read_ *r)
{
    size_t at;
    double x;

    (void)perf_read_peek_(r);
    at = r->at;
    x = perf_read_number_(r);
    return perf_read_need_(r, perf_is_finite_(x), at, PERF_ERANGE) ? x : 0.0;
}

/* Goes to the next part of an object or a list.  *n counts them; 0 expects `open`.  0: the end. */
PERF_COLD_FN_ int perf_read_next_(perf_read_ *r, size_t *n, char open, char close)
{
    if (!*n && !perf_read_this_(r, open))
        return perf_read_fail_(r, PERF_EFORMAT);
    if (perf_read_this_(r, close))
        return 0;
    if (*n && !perf_read_this_(r, ','))
        return perf_read_fail_(r, PERF_EFORMAT);
    ++*n;
    return perf_read_peek_(r) || r->at < r->size ? 1 : perf_read_fail_(r, PERF_EFORMAT);
}

PERF_COLD_FN_ int perf_read_member_(perf_read_ *r, size_t *n, const char **key)
{
    if (!perf_read_next_(r, n, '{', '}'))
        return 0;
    *key = perf_read_string_(r);
    if (!perf_read_this_(r, ':'))
        return perf_read_fail_(r, PERF_EFORMAT);
    (void)perf_read_peek_(r);
    return r->status == PERF_OK;
}

/* Any value, not kept.  Calls itself for what is inside, at most PERF_READ_DEPTH_ deep. */
PERF_COLD_FN_ void perf_read_skip_(perf_read_ *r, unsigned depth)
{
    const char *key;
    size_t      n = 0;
    char        c = perf_read_peek_(r);

    if ((c == '{' || c == '[') && depth == PERF_READ_DEPTH_)
        (void)perf_read_fail_(r, PERF_ELIMIT);
    else if (c == '{')
        while (perf_read_member_(r, &n, &key))
            perf_read_skip_(r, depth + 1);
    else if (c == '[')
        while (perf_read_next_(r, &n, '[', ']'))
            perf_read_skip_(r, depth + 1);
    else if (c == '"')
        (void)perf_read_string_(r);
    else if (c == 't' || c == 'f' || c == 'n')
        (void)perf_read_word_(r, c == 't' ? "true" : c == 'f' ? "false" : "null");
    else
        (void)perf_read_number_(r);
}

/* ---- reading: results ---- */

/* The number of the next member in the list `keys`, which ends with NULL; -1: the end.  Members of
 * other names are skipped, and a second one of the same name is an error.                        */
PERF_COLD_FN_ int perf_read_known_(perf_read_ *r, const char *const *keys, size_t *n,
                                   uint32_t *seen)
{
    const char *key;
    int         k;

    while (perf_read_member_(r, n, &key)) {
        for (k = 0; keys[k] && strcmp(keys[k], key) != 0; k++)
            ;
        if (keys[k] && (*seen & 1u << k))
            (void)perf_read_fail_(r, PERF_EFORMAT);
        if (!keys[k] || r->status != PERF_OK) {
            perf_read_skip_(r, 0);
            continue;
        }
        *seen |= 1u << k;
        return k;
    }
    return -1;
}

/* Room for one more element of a list, or the failure of r. */
PERF_COLD_FN_ int perf_read_room_(perf_read_ *r, void *list, size_t *room, size_t used, size_t size,
                                  size_t most)
{
    if (r->status == PERF_OK && used >= most)
        (void)perf_read_fail_(r, PERF_ELIMIT);
    else if (r->status == PERF_OK && !perf_more_(list, room, used, size))
        (void)perf_read_fail_(r, PERF_ENOMEM);
    return r->status == PERF_OK;
}

/* A list of times; returns how many. */
PERF_COLD_FN_ size_t perf_read_times_(perf_read_ *r)
{
    size_t n = 0, at;
    double x;

    while (perf_read_next_(r, &n, '[', ']')) {
        at = r->at;
        x = perf_read_figure_(r);
        if (!perf_read_need_(r, x > 1e-290, at, PERF_ERANGE) ||
            !perf_read_room_(r, &r->value, &r->value_room, r->values, sizeof x, SIZE_MAX))
            return 0;
        r->value[r->values++] = x;
    }
    return n;
}

PERF_COLD_FN_ void perf_read_entry_of_(perf_read_ *r, int scope)
{
    static const char *const of_loop[] = {"name", "run", "samples", "baseline", "candidate", "step",
                                          PERF_NULL_};
    static const char *const of_scope[] = {"name", "run", "calls", "p50", "p95", "p99", "mean",
                                           PERF_NULL_};
    perf_read_entry_ e = PERF_ZERO;
    size_t           n = 0, at[2] = {0, 0}, count[2] = {0, 0};  /* the values; the candidate's    */
    uint32_t         seen = 0;
    int              k, wrong;

    e.from = r->at;
    e.scope = scope;
    e.run = "";
    e.of_run = -1;
    while ((k = perf_read_known_(r, scope ? of_scope : of_loop, &n, &seen)) >= 0)
        if (k < 2) {
            *(k ? &e.run : &e.name) = perf_read_string_(r);
        } else if (scope) {                     /* null is written for what is infinite or none   */
            e.figure[k - 2] = perf_read_peek_(r) != 'n' ? perf_read_number_(r)
                              : perf_read_word_(r, "null") ? PERF_INF_ : 0.0;
        } else if (k == 5) {
            e.step = perf_read_figure_(r);
        } else {
            at[k == 4] = r->values;
            count[k == 4] = perf_read_times_(r);
        }
    e.to = r->at;
    e.value = at[0];
    e.values = count[0];
    if (scope && seen & 8 && e.figure[0] >= 1.0)        /* counters have no median                */
        e.kind = PERF_BASELINE_SCOPE;
    else if (e.values && !scope)                /* a baseline without a candidate is nothing      */
        e.kind = seen & 16 ? PERF_BASELINE_AB : seen & 8 ? 0 : PERF_BASELINE_BENCH;
    wrong = !e.name || (!scope && (seen & 12) == 12);
    if (!scope && seen & 16)                    /* pairs: the candidate's directly behind         */
        wrong |= count[1] != e.values || at[1] != e.value + e.values;
    (void)perf_read_need_(r, !wrong, e.from, PERF_EFORMAT);
    if (e.kind == PERF_BASELINE_SCOPE)          /* a counter may hold any number                  */
        for (k = 0; k < 5; k++)
            (void)perf_read_need_(r, perf_is_finite_(e.figure[k]), e.from, PERF_ERANGE);
    if (perf_read_room_(r, &r->entry, &r->entry_room, r->entries, sizeof e, PERF_READ_ENTRIES_))
        r->entry[r->entries++] = e;
}

PERF_COLD_FN_ void perf_read_run_of_(perf_read_ *r)
{
    static const char *const keys[] = {"run", "machine", "cpu", "compiler", "build", "time",
                                       PERF_NULL_};
    perf_read_run_ one = {"", "", "", "", "", 0.0, 0, 0, 0};
    const char   **text[5] = {&one.id, &one.machine, &one.cpu, &one.compiler, &one.build};
    size_t         n = 0;
    uint32_t       seen = 0;
    int            k;

    one.from = r->at;
    while ((k = perf_read_known_(r, keys, &n, &seen)) >= 0)
        if (k < 5)
            *text[k] = perf_read_string_(r);
        else
            one.time_s = perf_read_figure_(r);
    one.to = r->at;
    if (perf_read_room_(r, &r->run, &r->run_room, r->runs, sizeof one, PERF_READ_RUNS_))
        r->run[r->runs++] = one;
}

/* By kind, name and run. */
PERF_COLD_FN_ int perf_read_compare_(const perf_read_entry_ *a, const perf_read_entry_ *b)
{
    int c = a->kind - b->kind;

    return c ? c : strcmp(a->name, b->name);
}

PERF_COLD_FN_ int perf_read_before_(const void *x, const void *y)
{
    const perf_read_entry_ *a = *PERF_CAST_(perf_read_entry_ *const *, x);
    const perf_read_entry_ *b = *PERF_CAST_(perf_read_entry_ *const *, y);
    int                     c = perf_read_compare_(a, b);

    c = c ? c : a->of_run - b->of_run;
    return c ? c : a < b ? -1 : a > b;
}

/* Finds the run of each entry, then sorts. */
PERF_COLD_FN_ void perf_read_link_(perf_read_ *r)
{
    size_t i, k;

    r->order = PERF_CAST_(perf_read_entry_ **, PERF_MALLOC((r->entries + 1) * sizeof *r->order));
    if (!r->order) {
        (void)perf_read_fail_(r, PERF_ENOMEM);
        return;
    }
    for (i = 0; i < r->entries; i++) {
        perf_read_entry_ *e = &r->entry[i];
        r->order[i] = e;
        if (i && !strcmp(e->run, e[-1].run)) {
            e->of_run = e[-1].of_run;
            continue;
        }
        for (k = 0; k < r->runs && strcmp(r->run[k].id, e->run) != 0; k++)
            ;
        e->of_run = k < r->runs ? PERF_CAST_(int, k) : -1;
    }
    qsort(r->order, r->entries, sizeof *r->order, perf_read_before_);
}

/* The whole document.  r->status says how it went; perf_read_free_ whatever it says. */
PERF_COLD_FN_ void perf_read_results_(perf_read_ *r, const char *text, size_t size)
{
    static const char *const keys[] = {"perf_results", "runs", "benchmarks", "scopes", PERF_NULL_};
    size_t   n = 0, element;
    uint32_t seen = 0;
    double   version;
    int      k;

    memset(r, 0, sizeof *r);
    r->text = text;
    r->size = size;
    r->decoded = size > PERF_READ_BYTES_ ? PERF_CAST_(char *, PERF_NULL_)
                                         : PERF_CAST_(char *, PERF_MALLOC(size + 1));
    if (!r->decoded) {
        (void)perf_read_fail_(r, size > PERF_READ_BYTES_ ? PERF_ELIMIT : PERF_ENOMEM);
        return;
    }
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        r->at = 3;
    while ((k = perf_read_known_(r, keys, &n, &seen)) >= 0) {
        if (!k) {
            version = perf_read_figure_(r);
            (void)perf_read_need_(r, version >= 1.0 && version < 2.0, r->at, PERF_EFORMAT);
            continue;
        }
        for (element = 0; perf_read_next_(r, &element, '[', ']');)
            if (k == 1)
                perf_read_run_of_(r);
            else
                perf_read_entry_of_(r, k == 3);
    }
    if (perf_read_peek_(r))                     /* something behind the end                       */
        (void)perf_read_fail_(r, PERF_EFORMAT);
    if (perf_read_need_(r, PERF_CAST_(int, seen & 1u), 0, PERF_EFORMAT))
        perf_read_link_(r);
}

PERF_COLD_FN_ void perf_read_free_(perf_read_ *r)
{
    PERF_FREE(r->decoded);
    PERF_FREE(r->value);
    PERF_FREE(r->entry);
    PERF_FREE(r->order);
    PERF_FREE(r->run);
}

/* A file in memory; PERF_FREE it.  NULL: *status says why; PERF_ENODATA: there is no such file. */
PERF_COLD_FN_ char *perf_read_file_(const char *path, size_t *size, perf_status *status)
{
    char    *text = PERF_CAST_(char *, PERF_NULL_);
    FILE    *f;
    size_t   room = 0, used = 0, n;
    unsigned mode;

    *size = 0;
    f = path && *path ? perf_file_read_(path) : PERF_CAST_(FILE *, PERF_NULL_);
    *status = f ? PERF_OK : !path || !*path ? PERF_EINVAL
              : perf_file_kind_(path, &mode) == PERF_FILE_NONE_ ? PERF_ENODATA : PERF_EIO;
    if (!f)
        return text;
    do {                                        /* in pages: room and used count those            */
        n = 0;
        if (perf_more_(&text, &room, used++, 4096))
            n = fread(text + *size, 1, 4096, f);
        else
            *status = PERF_ENOMEM;
        *size += n;
    } while (n == 4096 && *size <= PERF_READ_BYTES_);
    if (*size > PERF_READ_BYTES_ || ferror(f))
        *status = ferror(f) ? PERF_EIO : PERF_ELIMIT;
    (void)fclose(f);
    if (*status != PERF_OK) {
        PERF_FREE(text);
        text = PERF_CAST_(char *, PERF_NULL_);
        *size = 0;
    }
    return text;
}

/* ---- our own JSON ---- */

PERF_COLD_FN_ void perf_put_summary_(perf_out_ *o, const char *key, const perf_summary *t)
{
    perf_say_(o, ",\n  %j:{'count':%u,'min':%r,'mean':%r,'std':%r,'p50':%r,'p50_low':%r,"
                 "'p50_high':%r,'p95':%r,'p99':%r,'max':%r}",
              key, t->count, t->min, t->mean, t->std, t->p50, t->p50_low, t->p50_high, t->p95,
              t->p99, t->max);
}

/* What a bench and an A/B loop have in common. */
PERF_COLD_FN_ void perf_put_outcome_(perf_out_ *o, const char *design, perf_status status,
                                     uint32_t warnings)
{
    uint32_t bit, any = 0;

    perf_say_(o, ",'unit':'ns','design':%j,'status':%j,'warnings':[", design,
              perf_status_text(status));
    for (bit = 1; bit && bit <= warnings; bit <<= 1)
        if (warnings & bit)
            perf_say_(o, "%s%j", any++ ? "," : "", perf_warning_text(bit));
    perf_put_char_(o, ']');
}

/* Writes the step of the clock in ns an iteration, if known; and which clock decides, if processor
 * time was taken (`timed` times).                                                                */
PERF_COLD_FN_ void perf_put_step_(perf_out_ *o, const perf_saving_ *s, perf_decides decides,
                                  uint64_t batch, uint64_t timed)
{
    double step = s->step_ns;

    if (step > 0.0 && step < 1.0 && decides == PERF_DECIDES_CPU)
        step = 1.0;                             /* processor time is in whole ns                  */
    if (step > 0.0 && batch)
        perf_say_(o, ",'step':%r", step / PERF_CAST_(double, batch));
    if (timed)
        perf_say_(o, ",'decides':%j", decides == PERF_DECIDES_CPU ? "cpu" : "wall");
}

PERF_COLD_FN_ void perf_put_bench_json_(perf_out_ *o, const perf_saving_ *s, const perf_saved_ *l)
{
    const perf_result     *r = l->bench;
    const perf_bench_opts *p = &r->opts;
    int                    i;

    perf_put_outcome_(o, "separate", r->status, r->warnings);
    perf_say_(o, ",'first_ns':%r,'overhead_ns':%r,'batch':%u,'iterations':%u,\n  'settings':{"
                 "'warmup':%i,'samples':%i,'rel_ci':%r,'max_seconds':%r,'slice_ns':%r,'bytes':%r,"
                 "'items':%r}",
              r->first_ns, r->overhead_ns, r->batch, r->iterations, p->warmup, p->samples,
              p->rel_ci, p->max_seconds, p->slice_ns, p->bytes, p->items);
    for (i = 0; l->own && i < PERF_COUNTERS_ && l->own->counter[i][0]; i++)
        perf_say_(o, "%s%j:%r", i ? "," : ",\n  \"counters\":{", l->own->counter[i],
                  l->own->value[i]);
    perf_put_(o, i ? "}" : "");
    if (l->own && l->own->threads)
        perf_say_(o, ",'threads':%i", l->own->threads);
    if (r->gb_per_s > 0.0)
        perf_say_(o, ",'gb_per_s':%r", r->gb_per_s);
    if (r->items_per_s > 0.0)
        perf_say_(o, ",'items_per_s':%r", r->items_per_s);
    if (r->gflop_per_s > 0.0)
        perf_say_(o, ",'gflop_per_s':%r", r->gflop_per_s);
    perf_put_step_(o, s, r->decides, r->batch, r->cpu.count);
    if (r->time.count)
        perf_put_summary_(o, "summary", perf_saved_summary_(l, 0));
    perf_put_samples_(o, ",\n  'samples':", l, 0);
}

PERF_COLD_FN_ void perf_put_ab_json_(perf_out_ *o, const perf_saving_ *s, const perf_saved_ *l)
{
    const perf_ab_result *r = l->ab;
    const perf_verdict   *v = &r->verdict;
    char                  text[80];
    perf_out_             rule = perf_out_open_(text, sizeof text);

    perf_put_rule_(&rule, &v->rule);
    perf_put_outcome_(o, "pairs", r->status, r->warnings);
    perf_say_(o, ",'overhead_ns':%r,'seconds':%r,\n  'settings':{'min_pairs':%i,'max_pairs':%i,"
                 "'max_seconds':%r,'slice_ns':%r},\n  'verdict':{'decision':%j,'rule':%j,"
                 "'reason':%j,'confidence':%r,'ratio':[%r,%r,%r],'speedup':[%r,%r,%r]}",
              r->overhead_ns, r->seconds, r->opts.min_pairs, r->opts.max_pairs,
              r->opts.max_seconds, r->opts.slice_ns, perf_decision_text(v->decision), text,
              v->reason ? v->reason : "", v->confidence, v->ratio.low, v->ratio.estimate,
              v->ratio.high, v->speedup.low, v->speedup.estimate, v->speedup.high);
    perf_put_step_(o, s, r->decides, r->batch_baseline < r->batch_candidate ? r->batch_baseline
                                     : r->batch_candidate, r->baseline_cpu.count);
    if (r->baseline.count) {
        perf_put_summary_(o, "summary_baseline", perf_saved_summary_(l, 0));
        perf_put_summary_(o, "summary_candidate", perf_saved_summary_(l, 1));
    }
    perf_put_samples_(o, ",\n  'baseline':", l, 0);
    perf_put_samples_(o, ",\n  'candidate':", l, 1);
}

/* Times in ns; a bucket is written as its middle and the calls in it. */
PERF_COLD_FN_ void perf_put_scope_json_(perf_out_ *o, const perf_saving_ *s,
                                        const perf_saved_scope_ *p)
{
    static const char *const column[PERF_COLUMNS_] = {"total", "self", "mean", "min", "p50",
                                                      "p95", "p99", "max", "last"};
    double x[PERF_COLUMNS_];
    size_t k;
    int    timed = p->row.kind < PERF_KIND_COUNT_, counter = p->row.kind == PERF_KIND_COUNT_;

    perf_row_numbers_(&p->row, s->clock.tick_ns, x);
    perf_say_(o, ",'kind':%j%s,'calls':%u", perf_kind_text_(p->row.kind),
              timed ? ",\"unit\":\"ns\"" : "", p->row.count);
    for (k = 0; k < PERF_COLUMNS_; k++)
        if (timed ? k < 8 : counter && (k == 2 || k == 3 || k >= 7))
            perf_say_(o, ",%j:%r", column[k], x[k]);
    for (k = 0; k < p->buckets; k++) {
        const perf_saved_bucket_ *b = &s->bucket[p->bucket + k];
        perf_say_(o, "%s[%r,%u]", k ? "," : ",\n  \"buckets\":[",
                  perf_bucket_value_(b->index) * s->clock.tick_ns, b->count);
    }
    perf_put_(o, p->buckets ? "]" : "");
}

/* 1: that run of the old file stays when one is added: another run, among the newest. */
PERF_COLD_FN_ int perf_keep_run_(const perf_saving_ *s, int run)
{
    const perf_read_ *r = s->old;
    size_t            i, later = 0;

    if (run < 0 || !strcmp(r->run[run].id, s->run.id))
        return run < 0;
    for (i = PERF_CAST_(size_t, run) + 1; i < r->runs; i++)
        later += strcmp(r->run[i].id, s->run.id) != 0;
    return later + 1 < PERF_KEEP_RUNS_;
}

/* The entries that are kept, as they stood in the old file, then ours: loops, or scopes. */
PERF_COLD_FN_ void perf_put_entries_(perf_out_ *o, const perf_saving_ *s, int scopes)
{
    size_t i, some = 0;

    for (i = 0; s->old && i < s->old->entries; i++) {
        const perf_read_entry_ *e = &s->old->entry[i];
        if (e->scope != scopes || !perf_keep_run_(s, e->of_run))
            continue;
        perf_put_(o, some++ ? ",\n " : "\n ");
        perf_put_n_(o, s->old->text + e->from, e->to - e->from);
    }
    for (i = 0; i < (scopes ? s->scopes : s->loops); i++) {
        perf_say_(o, "%s\n {'name':%j,'run':%j", some++ ? "," : "",
                  scopes ? s->scope[i].row.name : s->loop[i].name, s->run.id);
        if (scopes)
            perf_put_scope_json_(o, s, &s->scope[i]);
        else if (s->loop[i].ab)
            perf_put_ab_json_(o, s, &s->loop[i]);
        else
            perf_put_bench_json_(o, s, &s->loop[i]);
        perf_put_char_(o, '}');
    }
}

PERF_COLD_FN_ void perf_put_own_(perf_out_ *o, const void *saving)
{
    const perf_saving_ *s = PERF_CAST_(const perf_saving_ *, saving);
    const perf_run_    *r = &s->run;
    size_t              i;

    perf_put_(o, "{\"perf_results\":1,\n\"runs\":[");
    for (i = 0; s->old && i < s->old->runs; i++)
        if (perf_keep_run_(s, PERF_CAST_(int, i))) {
            const perf_read_run_ *one = &s->old->run[i];
            perf_put_(o, "\n ");
            perf_put_n_(o, s->old->text + one->from, one->to - one->from);
            perf_put_char_(o, ',');
        }
    perf_say_(o, "\n {'run':%j,'date':'", r->id);
    perf_put_date_(o, r->time_s, "Z");
    perf_say_(o, "','time':%r,'machine':%j,'cpu':%j,'cores':%i,'os':%j,'compiler':%j,'build':%j,"
                 "'perf_h':%i,'clock':%j,'clock_resolution_ns':%r,'clock_error_ppm':%r",
              r->time_s, r->machine, r->cpu, r->cores, r->os, r->compiler, r->build, PERF_VERSION,
              s->clock.name, s->clock.resolution_ns, s->clock.error_ppm);
    for (i = 0; s->context && s->context[i] && s->context[i + 1]; i += 2)
        perf_say_(o, "%s%j:%j", i ? "," : ",\n  \"context\":{", s->context[i], s->context[i + 1]);
    perf_say_(o, "%s],\n'benchmarks':[", i ? "}}" : "}");
    perf_put_entries_(o, s, 0);
    perf_put_(o, "],\n\"scopes\":[");
    perf_put_entries_(o, s, 1);
    perf_put_(o, "]}\n");
}

/* ---- writing ---- */

PERF_FN perf_results_opts perf_results_opts_default(void)
{
    perf_results_opts o = PERF_ZERO;
    return o;
}

/* The text that `put` makes of `with`, in memory of its own; PERF_FREE it.  It is made again if it
 * does not fit, or if it has grown because a thread was still writing samples.  NULL: *status says
 * why, PERF_ESTATE if it kept growing.                                                           */
PERF_COLD_FN_ char *perf_text_make_(void (*put)(perf_out_ *, const void *), const void *with,
                                    size_t *len, perf_status *status)
{
    perf_out_ o;
    size_t    room = 65536;
    int       turn;

    *len = 0;
    for (turn = 0; turn < 5; turn++) {
        o = perf_out_open_(PERF_CAST_(char *, PERF_MALLOC(room)), room);
        *status = o.p ? PERF_OK : PERF_ENOMEM;
        if (!o.p)
            return o.p;
        put(&o, with);
        if (o.len < o.cap) {
            *len = o.len;
            return o.p;
        }
        PERF_FREE(o.p);
        room = o.len + 1;
    }
    *status = PERF_ESTATE;
    return PERF_CAST_(char *, PERF_NULL_);
}

/* What there is to write, as `put` writes it, with what is kept of `old`, if not NULL.  A text of
 * ours that our own reader refuses is never written: NULL, and the reader's status.              */
PERF_COLD_FN_ char *perf_saving_make_(void (*put)(perf_out_ *, const void *),
                                      const perf_results_opts *opts, const perf_read_ *old,
                                      size_t *len, perf_status *status)
{
    perf_registry_ *core = perf_registry_read_();
    const int       held = core && perf_loops_hold_(core);     /* not given back while it reads   */
    perf_saving_    s = perf_saving_take_(opts);
    perf_read_      r = PERF_ZERO;
    char           *text = PERF_CAST_(char *, PERF_NULL_);
    size_t          i;

    *len = 0;
    *status = s.status;
    s.old = old;
    if (s.status == PERF_OK)
        text = perf_text_make_(put, &s, len, status);
    for (i = 0; i < s.loops; i++)
        PERF_FREE(s.loop[i].numbered);
    if (held)
        perf_loops_let_(core);
    PERF_FREE(s.loop);
    PERF_FREE(s.scope);
    PERF_FREE(s.bucket);
    if (text && put == perf_put_own_) {
        perf_read_results_(&r, text, *len);
        *status = r.status;
        perf_read_free_(&r);
    }
    if (*status == PERF_OK)
        return text;
    PERF_FREE(text);
    return PERF_CAST_(char *, PERF_NULL_);
}

typedef struct perf_text_file_ {
    perf_file_  file;
    const char *text;
    size_t      len;
} perf_text_file_;

/* 1: the file holds the text and no more. */
PERF_COLD_FN_ int perf_text_is_there_(FILE *file, const char *text, size_t len)
{
    char   part[4096];
    size_t n, at = 0;

    if (fseek(file, 0, SEEK_SET))
        return 0;
    while ((n = fread(part, 1, sizeof part, file)) > 0) {
        if (n > len - at || memcmp(part, text + at, n) != 0)
            return 0;
        at += n;
    }
    return at == len && !ferror(file);
}

PERF_COLD_FN_ void perf_text_go_(void *with)
{
    perf_text_file_ *w = PERF_CAST_(perf_text_file_ *, with);

    w->file.failed |= !perf_out_write_(w->file.file, w->text, w->len, 0);
    w->file.failed |= w->file.durable && !w->file.direct &&
                      !perf_text_is_there_(w->file.file, w->text, w->len);
}

/* durable: read back, and on the disk before it replaces what was there. */
PERF_COLD_FN_ perf_status perf_saving_save_(const char *path,
                                            void (*put)(perf_out_ *, const void *),
                                            const perf_results_opts *opts, const perf_read_ *old,
                                            int durable)
{
    perf_text_file_ w = PERF_ZERO;
    perf_status     status;
    char           *text;

    if (!path || !*path)
        return PERF_EINVAL;
    w.file.durable = durable;
    w.text = text = perf_saving_make_(put, opts, old, &w.len, &status);
    if (text)
        status = perf_file_save_(path, &w.file, perf_text_go_, &w);
    PERF_FREE(text);
    return status;
}

PERF_COLD_FN_ perf_status perf_text_to_(FILE *file, char *text, size_t len, perf_status status)
{
    if (text && !perf_out_write_(file, text, len, 0))
        status = PERF_EIO;
    PERF_FREE(text);
    return status;
}

PERF_COLD_FN_ perf_status perf_saving_to_(FILE *file, void (*put)(perf_out_ *, const void *),
                                          const perf_results_opts *opts)
{
    perf_status status;
    size_t      len;
    char       *text;

    if (!file)
        return PERF_EINVAL;
    text = perf_saving_make_(put, opts, PERF_NULL_, &len, &status);
    return perf_text_to_(file, text, len, status);
}

PERF_FN perf_status perf_results_save(const char *path, const perf_results_opts *opts)
{
    return PERF_DISABLE ? PERF_EDISABLED
                        : perf_saving_save_(path, perf_put_own_, opts, PERF_NULL_, 0);
}

PERF_FN perf_status perf_results_to(FILE *file, const perf_results_opts *opts)
{
    return PERF_DISABLE ? PERF_EDISABLED : perf_saving_to_(file, perf_put_own_, opts);
}

#if PERF_POSIX_FILES_
extern int perf_link_(const char *, const char *) __asm__(PERF_SYM_("link"));
#endif
#define PERF_FILE_ASIDE_ 100    /* damaged files of one name                                      */

/* Keeps the file at `path`, which is to be replaced, as PATH.damaged, or .damaged.2 ...; 0: not
 * kept.  Unlike rename(), link() replaces nothing.                                               */
PERF_COLD_FN_ int perf_file_aside_(const char *path)
{
    size_t room = strlen(path) + 24;
    char  *name = PERF_CAST_(char *, PERF_MALLOC(room));
    int    i, done = 0;

    for (i = 1; name && i <= PERF_FILE_ASIDE_ && !done; i++) {
        perf_out_ o = perf_out_open_(name, room);
        perf_putf_(&o, "%s.damaged", path);
        if (i > 1)
            perf_putf_(&o, ".%.0f", 1.0 * i);
#if PERF_POSIX_FILES_
        done = !perf_link_(path, name);
#else
        done = !rename(path, name);             /* fails there when the name is taken             */
#endif
    }
    PERF_FREE(name);
    return done;
}

/* Replaces the baseline at `path` by those of its runs that are kept, if any, and this one.  A
 * file that is no baseline may be a damaged one: it is moved aside, unless it is empty.          */
PERF_COLD_FN_ perf_status perf_baseline_write_(const char *path, const perf_results_opts *opts,
                                               int keep)
{
    perf_read_  r = PERF_ZERO;
    perf_status status = PERF_OK;
    unsigned    mode;
    size_t      size = 0;
    char       *old = PERF_CAST_(char *, PERF_NULL_);
    int         fd;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!path || !*path)
        return PERF_EINVAL;
    fd = perf_file_folder_(path, keep * 1000000);
    if (perf_file_kind_(path, &mode) == PERF_FILE_REGULAR_)
        old = perf_read_file_(path, &size, &status);
    if (size) {
        perf_read_results_(&r, old, size);
        status = r.status;
    }
    keep = keep && size && status == PERF_OK;
    if (status == PERF_EFORMAT || status == PERF_ERANGE || status == PERF_ELIMIT)
        status = perf_file_aside_(path) ? PERF_OK : PERF_EIO;
    if (status == PERF_OK || status == PERF_ENODATA)
        status = perf_saving_save_(path, perf_put_own_, opts, keep ? &r : PERF_NULL_, 1);
    perf_read_free_(&r);
    PERF_FREE(old);
    (void)perf_close_(fd);
    return status;
}

PERF_FN perf_status perf_baseline_save(const char *path, const perf_results_opts *opts)
{
    return perf_baseline_write_(path, opts, 0);
}

PERF_FN perf_status perf_baseline_add(const char *path, const perf_results_opts *opts)
{
    return perf_baseline_write_(path, opts, 1);
}

/* ---- checking ---- */

PERF_FN perf_baseline_opts perf_baseline_opts_default(void)
{
    perf_baseline_opts o = PERF_ZERO;
    return o;
}

/* Quantile p of x, which is sorted on the way. */
PERF_FN double perf_middle_(double *x, size_t n, double p)
{
    perf_sort_values(x, n);
    return perf_quantile(x, n, p);
}

#define PERF_BASELINE_RUNS_ 6           /* fewer say too little about their spread                */
#define PERF_BASELINE_LEAST_S_ 10.0     /* runs within less count as spread over that much        */
#define PERF_BASELINE_BESIDE_ 8         /* fewer say too little about what entries share          */
#define PERF_BASELINE_STRAY_ 0.1        /* how far a machine strays by itself in any time: the    */
                                        /* standard deviation of the log                          */

/* The figure of one run that a rule compares.  0: none; `pool` has room for the largest entry.   */
PERF_COLD_FN_ double perf_baseline_figure_(const perf_read_ *r, const perf_read_entry_ *e,
                                           perf_metric metric, double *pool)
{
    size_t i, least = metric == PERF_METRIC_PAIR || metric == PERF_METRIC_MEAN
                          ? 0 : perf_quantile_min_count(perf_metric_p_(metric), 0.95);
    double all = 0.0, x;

    if (e->kind == PERF_BASELINE_SCOPE) {
        x = e->figure[metric == PERF_METRIC_MEAN ? 4 : metric == PERF_METRIC_P99 ? 3
                      : metric == PERF_METRIC_P95 ? 2 : 1];
        return perf_is_duration_(x) && e->figure[0] >= PERF_CAST_(double, least) ? x : 0.0;
    }
    for (i = 0; i < e->values; i++) {
        pool[i] = r->value[e->value + i];
        if (e->kind == PERF_BASELINE_AB)
            pool[i] = r->value[e->value + e->values + i] / pool[i];
    }
    if (metric == PERF_METRIC_MEAN) {
        for (i = 0; i < e->values; i++)
            all += pool[i] / PERF_CAST_(double, e->values);
        return perf_is_duration_(all) ? all : 0.0;
    }
    if (e->values < least)                      /* too few to know that percentile                */
        return 0.0;
    x = perf_middle_(pool, e->values, perf_metric_p_(metric));
    return perf_is_duration_(x) ? x : 0.0;
}

/* The step of the clock over the least of the values; 0: the file does not say. */
PERF_COLD_FN_ double perf_baseline_step_(const perf_read_ *r, const perf_read_entry_ *e)
{
    double least = PERF_INF_;
    size_t i, n = e->kind == PERF_BASELINE_AB ? 2 * e->values : e->values;

    for (i = 0; i < n && e->step > 0.0; i++)
        least = r->value[e->value + i] < least ? r->value[e->value + i] : least;
    return e->step > 0.0 ? e->step / least : 0.0;
}

/* How far two figures may differ because of the clock's resolution, as a log.  a, b: their steps,
 * as above; of a ratio, of its two sides.                                                        */
PERF_FN double perf_baseline_tick_(int kind, perf_metric metric, double a, double b)
{
    double log_step = perf_step_log_(a, b) * (kind == PERF_BASELINE_AB ? 2.0 : 1.0);

    if (kind == PERF_BASELINE_SCOPE)
        return metric == PERF_METRIC_MEAN ? 0.001 : 1.0 / 32;
    return log_step > 0.001 ? log_step : 0.001;
}

/* Makes x[0..n] logs around the mean of the first n, and returns that: changes are seen from it. */
PERF_FN double perf_baseline_center_(double *x, size_t n)
{
    double mean = 0.0;
    size_t i;

    for (i = 0; i <= n; i++) {
        x[i] = perf_log(x[i]);
        mean += i < n ? x[i] / PERF_CAST_(double, n) : 0.0;
    }
    for (i = 0; i <= n; i++)
        x[i] -= mean;
    return mean;
}

typedef struct perf_checking_ {
    perf_read_         old, now;
    perf_compare_opts  o;
    double            *pool;
    double            *moved;           /* of each run that counts, and of this one: how far its  */
    size_t             each, used;      /* `each` entries moved, sorted; saved runs that count    */
    double             common, weight;  /* the variance that is left of them; what it counts      */
    double            *strayed;         /* their changes in this run, in noises and as they are   */
    double             first, last;     /* of the saved runs that hold the present entry          */
    perf_baseline     *b;
    size_t             entry_room;
} perf_checking_;

/* A regression of the logs y, 0 on average, on how far the other entries of each run moved.  It
 * takes their part out of the new run's (the last's) *change, whose variance is *times what is
 * returned, a single run's.  -1: the others moved farther than they do alone (1 in 10,000).      */
PERF_COLD_FN_ double perf_baseline_regress_(const perf_checking_ *c, const double *y,
                                            double *change, double *times)
{
    double beside[PERF_READ_RUNS_ + 1], n = PERF_CAST_(double, c->used);
    double middle = 0.0, xx = 1e-12 * n, xy = 0.0, yy = 0.0, x, most; /* xx: rounding is no move  */
    size_t a = (c->each - 2) / 2, b = (c->each - 1) / 2, j, k = c->used;

    for (j = 0; j <= k; j++) {
        const double *all = c->moved + j * c->now.entries;
        beside[j] = 0.5 * (all[a + (y[j] <= all[a])] + all[b + (y[j] <= all[b])]);
        middle += j < k ? beside[j] / n : 0.0;
    }
    for (j = 0; j < k; j++) {
        x = beside[j] - middle;
        xx += x * x;
        xy += x * y[j];
        yy += y[j] * y[j];
    }
    x = beside[k] - middle;
    most = perf_t_quantile(0.99995, n - 1.0);
    if (!(x * x < most * most * (1.0 + 1.0 / n) * xx / (n - 1.0)))
        return -1.0;
    yy -= xy * xy / xx;
    *change -= xy / xx * x;
    *times = 1.0 + 1.0 / n + x * x / xx;
    return yy > 0.0 ? yy / (n - 2.0) : 0.0;
}

/* Its standard deviation, with the *df degrees of freedom of all entries; -1: as above.  strayed:
 * how far it did, in its own noise, of which two thirds stay below 1, and as it is, half do.  old:
 * [0] is the standard deviation by how far the others strayed.                                   */
PERF_COLD_FN_ double perf_baseline_left_(const perf_checking_ *c, const double *y, int old,
                                         double *change, double *df, double *strayed)
{
    const size_t rank[2] = {(2 * c->each + 1) / 3, (c->each + 1) / 2};
    double n = PERF_CAST_(double, 2 * c->each), sd, size;
    size_t j;

    sd = perf_baseline_regress_(c, y, change, &size);
    strayed[0] = strayed[1] = PERF_INF_;
    if (sd < 0.0)
        return sd;
    *df = PERF_CAST_(double, c->used) - 2.0;
    if (sd < 2.0 * c->common) {                 /* else it is noisier than the others             */
        sd = (*df * sd + c->weight * c->common) / (*df + c->weight);
        *df += c->weight;
    }
    sd = perf_sqrt_(sd * size);
    size = *change < 0.0 ? -*change : *change;
    strayed[0] = size / (sd * perf_t_quantile(0.5 + PERF_CAST_(double, rank[0]) / n, *df));
    strayed[1] = size / perf_normal_quantile(0.5 + PERF_CAST_(double, rank[1]) / n);
    if (!old)
        return sd;
    for (j = 0; j < 2; j++) {
        const double *x = c->strayed + j * c->now.entries + rank[j] - 1;
        strayed[j] = x[strayed[j] <= *x];       /* the others'                                    */
    }
    *df = 0.25 * n - 0.5 < *df ? 0.25 * n - 0.5 : *df;
    strayed[0] = strayed[0] > 1.0 ? strayed[0] * sd : sd;
    strayed[0] = strayed[0] > strayed[1] ? strayed[0] : strayed[1];
    return strayed[0] < PERF_INF_ ? sd : -1.0;
}

/* One new run, y[k], against k saved ones, whose logs y are 0 on average: Student's prediction
 * interval.  It covers the ratio if the runs are alike but for the change.  A random walk seen over
 * a span S has a sample variance of S/6; after a time `age` its distance from the mean has the
 * variance age + S/3.  `walk`, if not 0, is their quotient.  It ends at 10 %: no machine walks for
 * ever, and noise of one second does not add up.  together: how far the others strayed, instead. */
PERF_COLD_FN_ perf_verdict perf_baseline_judge_(const perf_checking_ *c, const double *y, size_t k,
                                                double tick, double walk, int together, double *p)
{
    const perf_compare_opts *o = &c->o;
    perf_verdict  v = perf_verdict_start_(o);
    perf_interval i = {-PERF_INF_, 0.0, PERF_INF_};
    double        n = PERF_CAST_(double, k), sd = 0.0, gap, fresh = 0.0, most;
    double        change = y[k], own = 0.0, strayed[2] = {0.0, 0.0};
    double        df = walk > 0.0 && n > 5.0 ? 4.0 : n - 1.0;   /* a walk has 2.5, but 4 missed   */
    size_t        j;                            /* at most 4.3 % of 40,000 simulated changes      */

    *p = 1.0;
    for (j = 0; j < k; j++)
        sd += y[j] * y[j];
    i.estimate = y[k];
    if (k > 1) {
        sd /= n - 1.0;
        fresh = perf_sqrt_(sd * (1.0 + 1.0 / n));    /* if all runs were made at one time          */
        most = 2.0 * sd + PERF_BASELINE_STRAY_ * PERF_BASELINE_STRAY_;
        sd = walk > 0.0 ? perf_sqrt_(sd * walk < most ? sd * walk : most) : fresh;
        most = together ? perf_baseline_left_(c, y, walk > 0.0, &change, &own, strayed) : -1.0;
        if (!(most < 0.0)) {
            c->b->beside++;
            i.estimate = change;
            fresh = most;
            sd = walk > 0.0 ? strayed[0] : most;
            df = own;
        }
        i.low = i.high = i.estimate;
        i = perf_widen_(i, sd * perf_t_quantile(0.5 + 0.5 * o->confidence, df));
    }
    v.pairs = 1;
    v.baseline_values = k;
    v.candidate_values = 1;
    perf_verdict_finish_(&v, perf_widen_(i, tick), n, o);
    if (v.decision == PERF_INCONCLUSIVE)
        v.pairs_needed = PERF_INF_;             /* one new run stays one, however many were saved */
    if (v.warnings & PERF_WARN_OUTPUTS)         /* wrong outputs: no number of runs mends that    */
        return v;
    if (k < PERF_BASELINE_RUNS_) {
        v.decision = PERF_INCONCLUSIVE;
        v.pairs_needed = PERF_CAST_(double, PERF_BASELINE_RUNS_ - k);
        v.reason = "fewer than 6 saved runs of this machine and build: add some";
        return v;
    }
    gap = i.estimate - perf_log(v.threshold);
    gap = (gap < 0.0 ? -gap : gap) - tick - 1e-12;
    if (v.decision == PERF_INCONCLUSIVE && walk > 0.0 &&
        gap > fresh * perf_t_quantile(0.5 + 0.5 * o->confidence, n - 1.0))
        v.reason = "the saved runs are too old for the time they cover: add some from now on";
    if (gap > 0.0)
        *p = sd > 0.0 ? 2.0 * perf_t_cdf(-gap / sd, df) : 0.0;
    return v;
}

PERF_COLD_FN_ void perf_baseline_fail_(perf_baseline *b, perf_status why, size_t at)
{
    if (b->status != PERF_OK)
        return;
    b->status = why;
    b->error_at = at;
}

/* Which saved runs count, and what they cover. */
PERF_COLD_FN_ void perf_baseline_runs_(perf_checking_ *c, int any)
{
    const perf_read_run_ *me = c->now.runs ? &c->now.run[0]
                                           : PERF_CAST_(const perf_read_run_ *, PERF_NULL_);
    double                first = 0.0, last = 0.0;
    size_t                i, used = 0;
    perf_out_             o;

    for (i = 0; me && i < c->old.runs; i++) {
        perf_read_run_ *r = &c->old.run[i];
        int machine = !strcmp(r->machine, me->machine) && !strcmp(r->cpu, me->cpu);
        r->usable = any || (machine && !strcmp(r->compiler, me->compiler) &&
                            !strcmp(r->build, me->build));
        if (!strcmp(r->id, me->id))
            r->usable = 0;                      /* this very run, added before it was checked     */
        else if (!r->usable) {
            c->b->other_runs++;
            o = perf_out_open_(c->b->other, sizeof c->b->other);
            perf_say_(&o, "%s, %s", machine ? r->compiler : r->machine,
                      machine ? r->build : r->cpu);
        }
        if (!r->usable)
            continue;
        first = !used || r->time_s < first ? r->time_s : first;
        last = !used || r->time_s > last ? r->time_s : last;
        used++;
    }
    c->used = used;
    c->b->runs = c->old.runs;
    c->b->span_s = last - first;
    c->b->age_s = !used || (me->time_s < last && me->time_s > first) ? 0.0
                : me->time_s < first ? me->time_s - first : me->time_s - last;
}

/* A random walk's factor on the variance of the k saved runs that have an entry; 0: no walk. */
PERF_COLD_FN_ double perf_baseline_walk_(const perf_checking_ *c, size_t k)
{
    double span = c->last - c->first, age = c->now.run[0].time_s - c->last;

    age = age > -span ? age : -span - age;      /* before the first: a clock was set              */
    span = span > PERF_BASELINE_LEAST_S_ ? span : PERF_BASELINE_LEAST_S_;
    return k > 1 && age > 2.0 * span / PERF_CAST_(double, k - 1) ? 2.0 + 6.0 * age / span : 0.0;
}

/* The first in order of those that are not before *e. */
PERF_COLD_FN_ size_t perf_read_find_(const perf_read_ *r, const perf_read_entry_ *e)
{
    size_t low = 0, high = r->entries, mid;

    while (low < high) {
        mid = low + (high - low) / 2;
        if (perf_read_compare_(r->order[mid], e) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

PERF_FN int perf_read_same_(const perf_read_ *r, size_t i, const perf_read_entry_ *e)
{
    return i < r->entries && !perf_read_compare_(r->order[i], e);
}

PERF_COLD_FN_ perf_baseline_entry *perf_baseline_new_(perf_checking_ *c, const perf_read_entry_ *e)
{
    perf_baseline       *b = c->b;
    perf_baseline_entry *n;

    if (!perf_more_(&b->entry, &c->entry_room, b->entries, sizeof *b->entry)) {
        perf_baseline_fail_(b, PERF_ENOMEM, 0);
        return PERF_CAST_(perf_baseline_entry *, PERF_NULL_);
    }
    n = &b->entry[b->entries++];
    memset(n, 0, sizeof *n);
    n->name = e->name;
    n->kind = PERF_CAST_(perf_baseline_kind, e->kind);
    n->verdict = perf_verdict_start_(&c->o);
    n->p = 1.0;
    return n;
}

/* The figures of the entries like e: one for each run that counts, the middle of its repeats.
 * Returns how many; *last is the entry of the last.                                              */
PERF_COLD_FN_ size_t perf_baseline_figures_(perf_checking_ *c, const perf_read_ *r,
                                            const perf_read_entry_ *e, int saved, double *figure,
                                            const perf_read_entry_ **last)
{
    double repeat[64], x;
    size_t at = perf_read_find_(r, e), n = 0, repeats = 0;
    int    run = -2;

    for (; perf_read_same_(r, at, e); at++) {
        const perf_read_entry_ *one = r->order[at];
        if (saved && (one->of_run < 0 || !r->run[one->of_run].usable))
            continue;
        x = perf_baseline_figure_(r, one, c->o.rule.metric, c->pool);
        if (!(x > 0.0))
            continue;
        if (one->of_run != run) {
            run = one->of_run;
            repeats = 0;
            n++;
        }
        if (repeats < 64) {
            repeat[repeats++] = x;
            figure[n - 1] = perf_middle_(repeat, repeats, 0.5);
        }
        if (saved) {
            double when = r->run[run].time_s;
            c->first = n == 1 && repeats == 1 ? when : when < c->first ? when : c->first;
            c->last = n == 1 && repeats == 1 ? when : when > c->last ? when : c->last;
        }
        *last = one;
    }
    return n;
}

/* Fills c->moved from entries that are in every run; ratios have no part in what entries share.
 * Then c->common: 8 runs tell little of one entry's noise, so the geometric mean of all is worth 12
 * degrees of freedom more, or fewer as the entries differ by more than 8 runs make them.         */
PERF_COLD_FN_ void perf_baseline_gather_(perf_checking_ *c)
{
    double figure[PERF_READ_RUNS_ + 2], now[PERF_READ_RUNS_ + 1], x, sum = 0.0, squares = 0.0;
    double df = PERF_CAST_(double, c->used) - 2.0, n = 0.0, *own;
    size_t i, j, room = c->now.entries, rows = c->used + 1;

    c->moved = PERF_CAST_(double *, PERF_MALLOC(2 * (rows + 1) * (room + 1) * sizeof *c->moved));
    if (!c->moved)
        perf_baseline_fail_(c->b, PERF_ENOMEM, 0);
    c->strayed = c->moved ? c->moved + rows * room : c->moved;
    own = c->strayed ? c->strayed + 2 * room : c->moved;        /* by entry                       */
    for (i = 0; own && i < room; i++) {
        const perf_read_entry_ *e = c->now.order[i];
        if (!e->kind || e->kind == PERF_BASELINE_AB || (i && perf_read_same_(&c->now, i - 1, e)) ||
            perf_baseline_figures_(c, &c->old, e, 1, figure, &e) < c->used ||
            !perf_baseline_figures_(c, &c->now, e, 0, now, &e))
            continue;
        figure[c->used] = now[0];
        (void)perf_baseline_center_(figure, c->used);
        memcpy(own + c->each * rows, figure, rows * sizeof *own);
        for (j = 0; j < rows; j++)
            c->moved[j * room + c->each] = figure[j];
        c->each++;
    }
    if (c->each < PERF_BASELINE_BESIDE_)
        return;
    for (j = 0; j < rows; j++)
        perf_sort_values(c->moved + j * room, c->each);
    for (i = 0; i < c->each; i++) {
        x = perf_baseline_regress_(c, own + i * rows, now, now + 1);
        n += x < 0.0 ? 0.0 : 1.0;
        x = x < 0.0 ? 0.0 : perf_log(x + 1e-6); /* a tenth of a percent: ties are no noise        */
        sum += x;
        squares += x * x;
    }
    c->common = perf_exp(sum / n + 1.0 / df);   /* log(chi^2 / df) is on average -1 / df, with    */
    x = (squares - sum * sum / n) / (n - 1.0) - 2.0 / df - 2.0 / (df * df);
    c->weight = x > 1.0 / 6 ? 2.0 / x : 12.0;   /* the variance 2 / df + 2 / df^2                 */
    for (i = 0; i < c->each; i++) {
        x = own[i * rows + c->used];
        (void)perf_baseline_left_(c, own + i * rows, 0, &x, &df, now);
        c->strayed[i] = now[0];
        c->strayed[room + i] = now[1];
    }
    perf_sort_values(c->strayed, c->each);
    perf_sort_values(c->strayed + room, c->each);
}

PERF_COLD_FN_ void perf_baseline_one_(perf_checking_ *c, const perf_read_entry_ *e)
{
    double                  before[PERF_READ_RUNS_ + 2], now[PERF_READ_RUNS_ + 1];
    double                  walk, tick;
    const perf_read_entry_ *was = e, *is = e;
    perf_baseline_entry    *n = perf_baseline_new_(c, e);
    size_t                  k, any;

    if (!n)
        return;
    any = PERF_CAST_(size_t, perf_read_same_(&c->old, perf_read_find_(&c->old, e), e));
    k = perf_baseline_figures_(c, &c->old, e, 1, before, &was);
    if (!perf_baseline_figures_(c, &c->now, e, 0, now, &is)) {
        n->verdict.reason = "too few values for this rule";
        return;
    }
    n->runs = k;
    n->now = now[0];
    if (!k) {
        c->b->fresh += !any;
        n->verdict.reason = any ? "saved on another machine or by another build only"
                                : "new: not in the baseline";
        return;
    }
    before[k] = n->now;
    n->before = perf_exp(perf_baseline_center_(before, k));
    walk = perf_baseline_walk_(c, k);
    tick = perf_baseline_tick_(e->kind, c->o.rule.metric, perf_baseline_step_(&c->old, was),
                               perf_baseline_step_(&c->now, is));
    n->verdict = perf_baseline_judge_(c, before, k, tick, walk, c->each >= PERF_BASELINE_BESIDE_ &&
                                      k == c->used && e->kind != PERF_BASELINE_AB, &n->p);
}

/* Decisions within the family: Holm over those that make a claim at all. */
PERF_COLD_FN_ void perf_baseline_family_(perf_baseline *b)
{
    double *p = PERF_CAST_(double *, PERF_MALLOC((b->entries + 1) * sizeof *p));
    size_t  i, n = 0;

    if (!p) {
        perf_baseline_fail_(b, PERF_ENOMEM, 0);
        return;
    }
    for (i = 0; i < b->entries; i++)
        if (b->entry[i].runs)
            p[n++] = b->entry[i].p;
    if (n && perf_adjust_holm(p, n, p) != PERF_OK)
        perf_baseline_fail_(b, PERF_ENOMEM, 0);
    for (i = n = 0; i < b->entries && b->status == PERF_OK; i++) {
        perf_baseline_entry *e = &b->entry[i];
        e->decision = PERF_INCONCLUSIVE;
        if (e->runs && (p[n++] <= 1.0 - b->confidence || (e->verdict.warnings & PERF_WARN_OUTPUTS)))
            e->decision = e->verdict.decision;
        b->accepted += e->decision == PERF_ACCEPT;
        b->rejected += e->decision == PERF_REJECT;
    }
    b->decision = b->rejected ? PERF_REJECT
                  : b->entries && b->accepted == b->entries ? PERF_ACCEPT : PERF_INCONCLUSIVE;
    PERF_FREE(p);
}

PERF_COLD_FN_ void perf_checking_entries_(perf_checking_ *c)
{
    size_t i, at;

    for (i = 0; i < c->now.entries && c->b->status == PERF_OK; i++) {
        const perf_read_entry_ *e = &c->now.entry[i];
        at = perf_read_find_(&c->now, e);
        if (e->kind && c->now.order[at] == e)   /* the first of its name                          */
            perf_baseline_one_(c, e);
    }
    for (at = 0; at < c->old.entries && c->b->status == PERF_OK; at++) {
        const perf_read_entry_ *e = c->old.order[at];
        perf_baseline_entry    *n;
        if (!e->kind || (at && perf_read_same_(&c->old, at - 1, e)) ||
            perf_read_same_(&c->now, perf_read_find_(&c->now, e), e))
            continue;
        n = perf_baseline_new_(c, e);
        if (!n)
            break;
        n->missing = 1;
        n->verdict.reason = "missing: saved, but not measured now";
        c->b->missing++;
    }
}

/* The text need not end with NUL. */
PERF_COLD_FN_ void perf_baseline_run_(perf_baseline *b, const char *text, size_t size,
                                      const perf_baseline_opts *opts)
{
    perf_baseline_opts o = opts ? *opts : perf_baseline_opts_default();
    perf_checking_     c = PERF_ZERO;
    perf_status        status;
    char              *now;
    size_t             len, room;

    c.b = b;
    if (o.accept.rule.kind == PERF_RULE_SPEEDUP && !(o.accept.rule.amount > 0.0) &&
        !perf_is_nan_(o.accept.rule.amount))
        o.accept.rule = perf_rule_no_regression(5.0, o.accept.rule.metric);
    c.o = perf_compare_opts_resolved(&o.accept);
    b->rule = c.o.rule;
    b->confidence = c.o.confidence;
    if (perf_verdict_start_(&c.o).status != PERF_OK || c.o.rule.metric == PERF_METRIC_MEMORY ||
        c.o.rule.metric == PERF_METRIC_THROUGHPUT) {
        perf_baseline_fail_(b, PERF_EINVAL, 0);
        return;
    }
    now = perf_saving_make_(perf_put_own_, &o.now, PERF_NULL_, &len, &status);
    if (!now) {
        perf_baseline_fail_(b, status, 0);
        return;
    }
    perf_read_results_(&c.now, now, len);
    perf_read_results_(&c.old, text, size);
    if (c.old.status != PERF_OK)
        perf_baseline_fail_(b, c.old.status, c.old.error_at);
    else if (c.now.status != PERF_OK)
        perf_baseline_fail_(b, c.now.status, 0);
    room = c.old.values > c.now.values ? c.old.values : c.now.values;
    c.pool = PERF_CAST_(double *, PERF_MALLOC((room + 1) * sizeof *c.pool));
    if (!c.pool)
        perf_baseline_fail_(b, PERF_ENOMEM, 0);
    if (b->status == PERF_OK) {
        perf_baseline_runs_(&c, o.any_machine);
        if (o.most_unchanged && c.used >= PERF_BASELINE_BESIDE_)
            perf_baseline_gather_(&c);
        perf_checking_entries_(&c);
        perf_baseline_family_(b);
    }
    b->memory_[0] = c.old.decoded;              /* the names of the entries                       */
    b->memory_[1] = c.now.decoded;
    c.old.decoded = c.now.decoded = PERF_CAST_(char *, PERF_NULL_);
    PERF_FREE(c.pool);
    PERF_FREE(c.moved);
    perf_read_free_(&c.old);
    perf_read_free_(&c.now);
    PERF_FREE(now);
}

PERF_FN perf_baseline perf_baseline_check(const char *path, const perf_baseline_opts *opts)
{
    perf_baseline b = PERF_ZERO;
    perf_status   status = PERF_EDISABLED;
    size_t        size = 0;
    char         *text = PERF_CAST_(char *, PERF_NULL_);

    if (!PERF_DISABLE)
        text = perf_read_file_(path, &size, &status);
    if (text)
        perf_baseline_run_(&b, text, size, opts);
    else
        perf_baseline_fail_(&b, status, 0);
    PERF_FREE(text);
    return b;
}

PERF_FN void perf_baseline_free(perf_baseline *b)
{
    if (!b)
        return;
    PERF_FREE(b->entry);
    PERF_FREE(b->memory_[0]);
    PERF_FREE(b->memory_[1]);
    memset(b, 0, sizeof *b);
}

/* ---- the table ---- */

PERF_COLD_FN_ void perf_put_figure_(perf_out_ *o, const perf_baseline_entry *e, double x)
{
    if (!(x > 0.0))
        perf_putf_(o, "%11s", "-");
    else if (e->kind == PERF_BASELINE_AB)
        perf_putf_(o, "%10.3fx", x);
    else
        perf_putf_(o, "%11g", x);
}

#define PERF_BASELINE_NAME_ 28u         /* columns of a name in the table                         */
#define PERF_NAME_COLUMNS_  4096u

PERF_COLD_FN_ size_t perf_name_columns_(const char *name)
{
    perf_out_ nowhere = perf_out_open_(PERF_CAST_(char *, PERF_NULL_), 0);

    return PERF_NAME_COLUMNS_ - perf_put_cut_(&nowhere, name, PERF_NAME_COLUMNS_);
}

PERF_COLD_FN_ void perf_put_baseline_row_(perf_out_ *o, const perf_baseline_entry *e)
{
    char      text[96];
    perf_out_ change = perf_out_open_(text, sizeof text);


    if (perf_name_columns_(e->name) > PERF_BASELINE_NAME_) {    /* the ends of names differ, too  */
        perf_put_(o, "  ");
        (void)perf_put_cut_(o, e->name, PERF_NAME_COLUMNS_);
        perf_putf_(o, "\n  %-28s", "");
    } else {
        perf_putf_(o, "  %-28s", e->name);
    }
    perf_put_figure_(o, e, e->before);
    perf_put_figure_(o, e, e->now);
    perf_putf_(o, "%6.0f", PERF_CAST_(double, e->runs));
    if (!perf_is_nan_(e->verdict.ratio.estimate))
        perf_put_interval_(&change, &e->verdict, 0, 1);
    perf_putf_(o, "%30s  %s", text, perf_decision_text(e->decision));
    if (e->decision != e->verdict.decision)
        perf_say_(o, " (alone %s)", perf_decision_text(e->verdict.decision));
    else if (e->decision == PERF_INCONCLUSIVE && e->verdict.reason)
        perf_say_(o, ": %s", e->verdict.reason);
    perf_put_(o, "\n");
}

/* "3 hours" between two texts; nothing at all for 0.  Only seconds can be 1: "1 second". */
PERF_COLD_FN_ void perf_put_span_(perf_out_ *o, const char *before, double s, const char *behind)
{
    double      unit = s < 120 ? 1 : s < 7200 ? 60 : s < 172800 ? 3600 : 86400;
    const char *name = s < 120 ? "seconds" : s < 7200 ? "minutes" : s < 172800 ? "hours" : "days";

    if (s > 0.0)
        perf_putf_(o, "%s%.0f %s%s", before, s / unit, s >= 0.5 && s < 1.5 ? "second" : name,
                   behind);
}

PERF_COLD_FN_ void perf_put_baseline_(perf_out_ *o, const void *baseline)
{
    const perf_baseline *b = PERF_CAST_(const perf_baseline *, baseline);
    size_t               i, used = b->runs - b->other_runs;

    if (b->status != PERF_OK) {
        perf_put_(o, b->status == PERF_ENODATA ? "no such file" : perf_status_text(b->status));
        if (b->error_at)
            perf_say_(o, " at byte %z", b->error_at);
        perf_put_(o, "\n");
        return;
    }
    perf_say_(o, "baseline: %z run%s of this machine and build", used, used == 1 ? "" : "s");
    perf_put_span_(o, " within ", b->span_s, "");
    perf_put_span_(o, ", the last ", b->age_s, " ago");
    perf_put_span_(o, ", the first ", -b->age_s, " later by the clock");
    perf_put_(o, "; asked: ");
    perf_put_rule_(o, &b->rule);
    perf_put_(o, b->beside ? ", beside what the entries share\n" : "\n");
    if (b->other_runs)
        perf_say_(o, "warning: %z run%s of another machine or build left out: %s\n", b->other_runs,
                  b->other_runs == 1 ? "" : "s", b->other);
    if (b->entries)
        perf_put_(o, "  name                             before        now  runs"
                     "             change [interval]  verdict\n");
    for (i = 0; i < b->entries; i++)
        perf_put_baseline_row_(o, &b->entry[i]);
    perf_say_(o, "%s: %z %s, %z ACCEPT, %z REJECT, %z INCONCLUSIVE (%z new, %z missing)\n",
              perf_decision_text(b->decision), b->entries, b->entries == 1 ? "entry" : "entries",
              b->accepted, b->rejected, b->entries - b->accepted - b->rejected, b->fresh,
              b->missing);
}

PERF_FN perf_status perf_baseline_to(FILE *file, const perf_baseline *b)
{
    perf_status status;
    size_t      len;
    char       *text;

    if (!file || !b)
        return PERF_EINVAL;
    text = perf_text_make_(perf_put_baseline_, b, &len, &status);
    return perf_text_to_(file, text, len, status);
}

PERF_END_DECLS

#endif /* PERF_RESULTS_H */
