/* perf_saved.h - results in files: our own JSON, written and read.
 *
 *     #include "perf.h"
 *     #include "perf_results.h"                       // with it comes this one
 *     perf_results_save("now.json", NULL);            // all benches, A/B loops, scopes
 *
 * perf_results.h and perf_export.h include it.  Files appear whole or not at all (written beside,
 * then renamed).  docs/formats.md describes the file.
 * Everything here allocates and may do I/O; nothing here is for a hot path.
 * Sections (search for ">>"):  results  internal  private
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_SAVED_H
#define PERF_SAVED_H

#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
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
    const char *run;            /* id of this run among others; NULL: made of time and process,   */
                                /* with a number behind it where the file has that one; of more   */
                                /* than 95 bytes the first 86 and a hash, "...-1f3a9c07"          */
    const char *machine;        /* NULL: PERF_MACHINE of the environment, else the host name      */
    double      time_s;         /* since the epoch; 0: now; PERF_EINVAL: below 0, 2e11 and more   */
    const char *const *context; /* "commit", "1f3a9c", another key, its value, NULL; each once    */
    const char *label;          /* of what was measured, as a commit; NULL: PERF_RUN_LABEL of the */
                                /* environment, or none                                           */
    const char *const *rejected;        /* names of entries, NULL at the end, that a check has    */
                                /* REJECTed: saved with a mark, and no part of a baseline until   */
                                /* perf-ab history --accept-change; NULL: none                    */
    const char *const *accepted;        /* an entry, the id of the first saved run of its new     */
                                /* level ("": this run), another entry, its run, NULL: older runs */
                                /* of it are no part of a baseline any more; for                  */
                                /* perf_baseline_add.  NULL: none                                 */
    const char *const *undecided;       /* names of entries, NULL at the end, that a check has    */
                                /* left open: saved with a mark that perf-ab history shows; to a  */
                                /* baseline they are as all others.  NULL: none                   */
    int         alone;          /* 1: perf_baseline_add replaces all runs of the file by this one */
} perf_results_opts;

/* What was measured under a name. */
typedef enum perf_baseline_kind {
    PERF_BASELINE_BENCH = 1, PERF_BASELINE_AB, PERF_BASELINE_SCOPE
} perf_baseline_kind;

#if defined(__cplusplus)        /* the old names of what PERF_ZERO makes                          */
#define perf_results_opts_default() perf_results_opts()
#else
#define perf_results_opts_default() ((perf_results_opts)PERF_ZERO)
#endif

/* Writes this run to a file, whole or not at all; devices (/dev/...) are written directly.  opts
 * NULL: defaults.  Any thread; allocates and takes a lock.  PERF_EINVAL: no path, or an option that
 * cannot be; PERF_EIO: it cannot be written; PERF_ENOMEM.                                        */
PERF_FN perf_status perf_results_save(const char *path, const perf_results_opts *opts);

/* Adds this run to a file of runs, or creates the file.  opts, NULL: defaults, describe the run.
 * The newest 30 runs are kept; a run of id opts.run is replaced.  The new file is read back, and is
 * on the disk before it replaces the old one.  opts.alone: it holds this run alone.
 * A damaged file of runs becomes PATH.damaged, then .damaged.2 and so on; then a new file begins
 * with this run.  After 100 of them: PERF_EIO.  PERF_EFOREIGN: any other file is there, or one of a
 * newer version; PERF_ELIMIT: one that is too large.  Both stay as they are.
 * Processes that add to files of one folder take turns by a lock of the folder (flock).  Each waits
 * 5 seconds at most, then goes on without it; with opts.alone nobody waits.
 * Other statuses as perf_results_save.                                                           */
PERF_FN perf_status perf_baseline_add(const char *path, const perf_results_opts *opts);

/* >>internal: what other headers may use --------------------------------------------------------
 *   perf_run_, perf_run_here_  machine, compiler and time of a run, cut to fit; reads /proc
 *   perf_saving_, perf_saved_, perf_saved_scope_, perf_saved_bucket_  what there is to write;
 *                          pointers into the core, which ended loops do not leave meanwhile
 *   perf_saved_value_      a value of an arm by the clock that decides; 0 for one that is none, or
 *                          of a pair that is not whole
 *   perf_saving_save_      runs a writer over all there is, into a file or an open stream; NULL:
 *                          that of our own JSON; status as perf_results_save
 *   perf_read_beside_, perf_read_free_  a file and, if it is one, what this process would save
 *   perf_read_, perf_read_entry_, perf_read_run_, PERF_SCOPE_*_  what stands in it
 *   PERF_LEVEL_REJECTED_   how a saved run was judged
 *   PERF_READ_RUNS_        more are PERF_ELIMIT                                                  */

/* >>private: bodies, in the order of the prototypes -------------------------------------------- */

/* ---- where and how this was measured ---- */

typedef struct perf_run_ {
    char   id[96], machine[96], cpu[96], os[96], compiler[96], build[200], label[96];
    char   gpu[136];            /* devices that ran its loops, "A, B"; "": none, or not told      */
    int    cores, hypervisor;
    double time_s;
    double load;                /* of the last minute; < 0: the system does not tell              */
} perf_run_;

#if defined(__clang__)
#define PERF_COMPILER_ "clang " __clang_version__
#elif PERF_TCC_
#define PERF_COMPILER_ "tcc " PERF_STR_(__TINYC__)
#else
#define PERF_COMPILER_ "gcc " __VERSION__
#endif

/* Copies the characters that fit, and a NUL, as a file has them: a byte that is no UTF-8 is U+FFFD.
 * 1: all of them.                                                                                */
PERF_COLD_FN_ int perf_copy_text_(char *to, size_t cap, const char *from)
{
    static const char unknown[] = "\xef\xbf\xbd";      /* U+FFFD                                 */
    perf_out_         out = perf_out_open_(to, cap);
    perf_char_        ch;

    for (; *from; from += ch.bytes) {
        size_t bytes = sizeof unknown - 1;
        ch = perf_char_of_(from);
        if (!ch.broken)
            bytes = PERF_CAST_(size_t, ch.bytes);
        if (out.len + bytes >= cap)
            return 0;
        perf_put_n_(&out, ch.broken ? unknown : from, bytes);
    }
    return 1;
}

/* 1: in a file the two texts are the same: there broken bytes are U+FFFD. */
PERF_COLD_FN_ int perf_same_text_(const char *one, const char *other)
{
    perf_char_ ch[2];

    for (; *one && *other; one += ch[0].bytes, other += ch[1].bytes) {
        ch[0] = perf_char_of_(one);
        ch[1] = perf_char_of_(other);
        if (ch[0].code != ch[1].code)
            return 0;
    }
    return !*one && !*other;
}

#define PERF_ID_MARK_ 9         /* bytes of "-1f3a9c07"                                           */

/* Copies the id of a run.  One that does not fit ends in a hash of the whole: ids that differ stay
 * different.                                                                                     */
PERF_COLD_FN_ void perf_copy_id_(char *to, size_t cap, const char *id)
{
    static const char digit[] = "0123456789abcdef";
    const uint32_t    hash = perf_text_hash_(PERF_TEXT_HASH_, id, strlen(id));
    perf_out_         out;
    int               shift;

    if (perf_copy_text_(to, cap, id))
        return;
    (void)perf_copy_text_(to, cap - PERF_ID_MARK_, id);
    out = perf_out_open_(to + strlen(to), PERF_ID_MARK_ + 1);
    perf_put_char_(&out, '-');
    for (shift = 28; shift >= 0; shift -= 4)
        perf_put_char_(&out, digit[hash >> shift & 15]);
}

/* The size of a pointer, and what the compiler's macros tell about its options. */
PERF_COLD_FN_ void perf_put_build_(perf_out_ *out)
{
    perf_put_u64_(out, 8 * sizeof(void *));
    perf_put_(out, "-bit");
#if defined(__OPTIMIZE_SIZE__)
    perf_put_(out, ", optimised for size");
#elif defined(__OPTIMIZE__)
    perf_put_(out, ", optimised");
#else
    perf_put_(out, ", not optimised");
#endif
#if defined(__AVX512F__)
    perf_put_(out, ", AVX-512");
#elif defined(__AVX2__)
    perf_put_(out, ", AVX2");
#elif defined(__AVX__)
    perf_put_(out, ", AVX");
#elif defined(__ARM_FEATURE_SVE)
    perf_put_(out, ", SVE");
#endif
#if defined(__FAST_MATH__)
    perf_put_(out, ", fast-math");
#endif
#if defined(NDEBUG)
    perf_put_(out, ", NDEBUG");
#endif
    if (PERF_SANITIZED_)
        perf_put_(out, ", sanitizer");
}

/* 1: the line of /proc/cpuinfo names the processor: "model name", or on Arm and RISC-V a part. */
PERF_FN int perf_names_cpu_(const char *line)
{
    return !strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8) ||
           !strncmp(line, "uarch", 5);
}

/* The model and the number of processors and whether they are virtual, where Linux tells. */
PERF_COLD_FN_ void perf_run_cpu_(perf_run_ *run)
{
    char  line[4096], *value;
    FILE *file = fopen("/proc/cpuinfo", "rb");

    (void)perf_copy_text_(run->cpu, sizeof run->cpu, "unknown");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        value = strchr(line, ':');
        if (!value)
            continue;
        value++;
        if (*value == ' ')
            value++;
        value[strcspn(value, "\n")] = '\0';
        if (!strncmp(line, "processor", 9))
            run->cores++;
        if (!strncmp(line, "flags", 5) && strstr(value, " hypervisor"))
            run->hypervisor = 1;
        if (!strcmp(run->cpu, "unknown") && perf_names_cpu_(line))
            (void)perf_copy_text_(run->cpu, sizeof run->cpu, value);
    }
    (void)fclose(file);
}

PERF_COLD_FN_ void perf_run_os_(perf_run_ *run)
{
    char      kind[80], release[80];
    perf_out_ out = perf_out_open_(run->os, sizeof run->os);

#if defined(_WIN32)
    perf_put_(&out, "Windows");
    if (perf_getenv_("PROCESSOR_IDENTIFIER"))
        (void)perf_copy_text_(run->cpu, sizeof run->cpu, perf_getenv_("PROCESSOR_IDENTIFIER"));
    return;
#endif
    if (!perf_first_line_("/proc/sys/kernel/ostype", kind, sizeof kind) ||
        !perf_first_line_("/proc/sys/kernel/osrelease", release, sizeof release)) {
        perf_put_(&out, "unknown");
        return;
    }
    perf_put_(&out, kind);
    perf_put_char_(&out, ' ');
    perf_put_(&out, release);
}

/* `asked`, else PERF_MACHINE of the environment, else the name of the host. */
PERF_COLD_FN_ void perf_run_machine_(perf_run_ *run, const char *asked)
{
    char line[80];

    if (!asked)
        asked = perf_getenv_("PERF_MACHINE");
#if defined(_WIN32)
    if (!asked)
        asked = perf_getenv_("COMPUTERNAME");
#endif
    if ((!asked || !*asked) && perf_first_line_("/proc/sys/kernel/hostname", line, sizeof line))
        asked = line;
    if (!asked || !*asked)
        asked = "unknown";
    (void)perf_copy_text_(run->machine, sizeof run->machine, asked);
}

/* Seconds since the epoch; finer than one, as many runs fit into it. */
PERF_COLD_FN_ double perf_time_now_(void)
{
#if defined(_WIN32)
    return PERF_CAST_(double, time(PERF_NULL_));
#else
    return 1e-9 * PERF_CAST_(double, perf_system_ns_(0));       /* of CLOCK_REALTIME              */
#endif
}

/* "2026-11-21T12:00:00Z 4711", of time and process. */
PERF_COLD_FN_ void perf_run_id_(perf_run_ *run)
{
    perf_out_ out = perf_out_open_(run->id, sizeof run->id);

    perf_put_date_(&out, run->time_s);
    perf_put_(&out, "Z ");
    perf_put_u64_(&out, perf_process_id_());
}

PERF_COLD_FN_ perf_run_ perf_run_here_(const perf_results_opts *opts)
{
    perf_run_   run = PERF_ZERO;
    const char *label = opts->label;
    char        line[80];
    perf_out_   out = perf_out_open_(run.build, sizeof run.build);

    run.time_s = opts->time_s;
    if (!(run.time_s > 0.0))
        run.time_s = perf_time_now_();
    perf_run_cpu_(&run);
    perf_run_os_(&run);
    perf_run_machine_(&run, opts->machine);
    (void)perf_copy_text_(run.compiler, sizeof run.compiler, PERF_COMPILER_);
    perf_put_build_(&out);
    if (opts->run)
        perf_copy_id_(run.id, sizeof run.id, opts->run);
    else
        perf_run_id_(&run);
    if (!label)
        label = perf_getenv_("PERF_RUN_LABEL");
    if (label)
        (void)perf_copy_text_(run.label, sizeof run.label, label);
    run.load = -1.0;
    if (perf_first_line_("/proc/loadavg", line, sizeof line))
        (void)perf_skip_number_(line, &run.load);
    return run;
}

/* ---- what there is to write ---- */

typedef struct perf_saved_ {            /* a bench, or an A/B loop: then x[0] is the baseline     */
    const char           *name;
    const perf_result    *bench;
    const perf_ab_result *ab;
    const perf_summary   *time[2];      /* of x, by the clock that decides                        */
    const double         *x[2];         /* ns an iteration, by slice                              */
    size_t                count;        /* of slices                                              */
    const perf_kept_loop_     *own;          /* has its counters; NULL: there are none            */
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
    const char *const  *context, *const *rejected, *const *accepted, *const *undecided;
    const struct perf_read_ *old;       /* NULL, or a file whose runs are kept beside this one    */
    double              step_ns;        /* of the clock; 0: the values are not ours               */
} perf_saving_;

/* Adds a loop, or notes that there is no memory.  A bench without slices gets its median as one. */
PERF_COLD_FN_ void perf_saving_loop_(perf_saving_ *saving, perf_saved_ loop)
{
    if (loop.bench) {
        loop.time[0] = perf_result_main_(loop.bench);
    } else if (loop.ab->decides == PERF_DECIDES_CPU) {
        loop.time[0] = &loop.ab->baseline_cpu;
        loop.time[1] = &loop.ab->candidate_cpu;
    } else {
        loop.time[0] = &loop.ab->baseline;
        loop.time[1] = &loop.ab->candidate;
    }
    if (!loop.count && loop.bench && loop.bench->time.count) {
        loop.x[0] = &loop.time[0]->p50;
        loop.count = 1;
    }
    if (!perf_more_(&saving->loop, &saving->loop_room, saving->loops, sizeof *saving->loop))
        saving->status = PERF_ENOMEM;
    else
        saving->loop[saving->loops++] = loop;
}

/* 1: two loops that files could not tell apart.  Rounds of --repeat are meant to be alike. */
PERF_FN int perf_saved_alike_(const perf_saved_ *one, const perf_saved_ *other)
{
    return !one->ab == !other->ab && one->own->round == other->own->round &&
           !strcmp(one->name, other->name);
}

/* The place of a loop like this one in a hash table (FNV-1a) of `room` places, a power of two; or
 * the free place where it belongs.  A place holds the number of a loop + 1; 0: free.             */
PERF_COLD_FN_ size_t perf_saving_find_(const perf_saving_ *saving, const size_t *table, size_t room,
                                       const perf_saved_ *loop)
{
    uint64_t    hash = UINT64_C(14695981039346656037);
    const char *letter;
    size_t      at;

    for (letter = loop->name; *letter; letter++)
        hash = (hash ^ PERF_CAST_(unsigned char, *letter)) * UINT64_C(1099511628211);
    at = PERF_CAST_(size_t, hash ^ hash >> 32) & (room - 1);
    while (table[at] && !perf_saved_alike_(&saving->loop[table[at] - 1], loop))
        at = (at + 1) & (room - 1);
    return at;
}

/* Gives a loop like `first` the next name that no loop has: "name (2)".  0: no memory. */
PERF_COLD_FN_ int perf_saving_number_(perf_saving_ *saving, const size_t *table, size_t room,
                                      perf_saved_ *first, perf_saved_ *loop)
{
    const char *name = loop->name;
    size_t      most = strlen(name) + 24;

    loop->numbered = PERF_CAST_(char *, PERF_MALLOC(most));
    if (!loop->numbered)
        return 0;
    loop->name = loop->numbered;
    do {
        perf_out_ out = perf_out_open_(loop->numbered, most);
        first->alike++;
        perf_put_(&out, name);
        perf_put_(&out, " (");
        perf_put_u64_(&out, first->alike + 1);
        perf_put_char_(&out, ')');
    } while (table[perf_saving_find_(saving, table, room, loop)]);
    return 1;
}

/* Numbers loops of equal names, oldest first: in one entry a fast loop would hide a slow one. */
PERF_COLD_FN_ void perf_saving_names_(perf_saving_ *saving)
{
    size_t room = 16, i, at, *table;

    while (room < 2 * saving->loops)
        room *= 2;
    table = PERF_CAST_(size_t *, PERF_MALLOC(room * sizeof *table));
    if (!table) {
        saving->status = PERF_ENOMEM;
        return;
    }
    memset(table, 0, room * sizeof *table);
    for (i = 0; i < saving->loops; i++) {
        at = perf_saving_find_(saving, table, room, &saving->loop[i]);
        if (!table[at])
            table[at] = i + 1;
    }
    for (i = 0; i < saving->loops; i++) {
        perf_saved_ *loop = &saving->loop[i];
        at = perf_saving_find_(saving, table, room, loop);
        if (table[at] != i + 1 &&
            !perf_saving_number_(saving, table, room, &saving->loop[table[at] - 1], loop))
            saving->status = PERF_ENOMEM;
    }
    PERF_FREE(table);
}

/* Fills in what an ended loop has measured; 0: it is a race, which files do not hold. */
PERF_COLD_FN_ int perf_saved_fill_(perf_saved_ *saved, const perf_kept_loop_ *loop)
{
    int measured;

    memset(saved, 0, sizeof *saved);
    saved->name = loop->name;
    saved->own = loop;
    saved->x[0] = loop->sample[0];
    saved->x[1] = loop->sample[1];
    if (loop->kind == 1) {                      /* a bench                                        */
        saved->bench = PERF_CAST_(const perf_result *, loop->result);
        measured = saved->bench->time.count > 0;
    } else if (loop->kind == 2) {               /* an A/B loop                                    */
        saved->ab = PERF_CAST_(const perf_ab_result *, loop->result);
        measured = saved->ab->baseline.count > 0;
    } else {
        return 0;
    }
    if (measured)
        saved->count = loop->samples;
    return 1;
}

/* 1: the list "A, B" has that name, as a whole: A100 does not hold A10. */
PERF_COLD_FN_ int perf_is_device_of_(const char *list, const char *device)
{
    const size_t length = strlen(device);
    const char  *at = strstr(list, device);

    for (; at; at = strstr(at + 1, device)) {
        const int begins = at == list || (at - list >= 2 && !strncmp(at - 2, ", ", 2));
        const int ends = !at[length] || !strncmp(at + length, ", ", 2);
        if (begins && ends)
            return 1;
    }
    return 0;
}

/* Adds the name of a loop's device, if it is not there and fits. */
PERF_COLD_FN_ void perf_run_device_(perf_run_ *run, const char *device)
{
    const size_t used = strlen(run->gpu);
    perf_out_    out = perf_out_open_(run->gpu + used, sizeof run->gpu - used);

    if (!*device || perf_is_device_of_(run->gpu, device) ||
        strlen(device) + 2 >= sizeof run->gpu - used)
        return;
    if (used)
        perf_put_(&out, ", ");
    perf_put_(&out, device);
}

/* Adds the finished loops of the process, oldest first. */
PERF_COLD_FN_ void perf_saving_loops_(perf_saving_ *saving, perf_registry_ *core)
{
    const perf_kept_loop_ *loop = PERF_CAST_(const perf_kept_loop_ *, PERF_ACQ_(&core->results));
    perf_saved_       one;
    size_t            i, last;

    for (; loop && saving->status == PERF_OK; loop = loop->next)
        if (PERF_ACQ_(&loop->done) && !PERF_GET_(&loop->forgotten) && perf_saved_fill_(&one, loop))
            perf_saving_loop_(saving, one);
    for (i = 0; i < saving->loops / 2; i++) {   /* the registry has the newest first              */
        last = saving->loops - 1 - i;
        one = saving->loop[i];
        saving->loop[i] = saving->loop[last];
        saving->loop[last] = one;
    }
    for (i = 0; i < saving->loops; i++)
        perf_run_device_(&saving->run, saving->loop[i].own->device);
    perf_saving_names_(saving);
}

/* Adds the calls of a scope by duration; 0: no memory. */
PERF_COLD_FN_ int perf_saving_buckets_(perf_saving_ *saving, const perf_sum_ *sum)
{
    uint32_t i;

    for (i = 0; i < PERF_CELL_BUCKETS_; i++) {
        if (!sum->bucket[i])
            continue;
        if (!perf_more_(&saving->bucket, &saving->bucket_room, saving->buckets,
                        sizeof *saving->bucket))
            return 0;
        saving->bucket[saving->buckets].index = i;
        saving->bucket[saving->buckets++].count = sum->bucket[i];
    }
    return 1;
}

/* Adds the scopes and counters that have counted something. */
PERF_COLD_FN_ void perf_saving_scopes_(perf_saving_ *saving, perf_registry_ *core)
{
    perf_sum_ *sum = PERF_CAST_(perf_sum_ *, PERF_MALLOC(sizeof *sum));
    uint32_t   id, names = PERF_ACQ_(&core->count);
    int        fits = sum != PERF_NULL_;

    for (id = 1; id < names && fits; id++) {
        perf_saved_scope_ *one;
        fits = perf_more_(&saving->scope, &saving->scope_room, saving->scopes,
                          sizeof *saving->scope);
        if (!fits)
            break;
        one = &saving->scope[saving->scopes];
        perf_row_fill_(&one->row, core, id, sum, saving->clock.tick_ns);
        one->bucket = saving->buckets;
        one->buckets = 0;
        if (!one->row.count)
            continue;
        if (one->row.kind < PERF_KIND_COUNT_)
            fits = perf_saving_buckets_(saving, sum);
        one->buckets = saving->buckets - one->bucket;
        saving->scopes++;
    }
    if (!fits)
        saving->status = PERF_ENOMEM;
    PERF_FREE(sum);
}

/* Adds the results that the caller gives. */
PERF_COLD_FN_ void perf_saving_items_(perf_saving_ *saving, const perf_results_opts *opts)
{
    size_t i;

    for (i = 0; i < opts->count; i++) {
        const perf_results_item *item = &opts->items[i];
        perf_saved_              one = PERF_ZERO;
        if (!item->result)
            continue;
        one.name = "(unnamed)";
        if (item->name)
            one.name = item->name;
        one.bench = item->result;
        one.x[0] = item->samples;
        if (item->samples)
            one.count = item->count;
        perf_saving_loop_(saving, one);
    }
}

/* All that there is to write now: this run, and the items of opts or, without them, the loops of
 * the registry that have ended, and its scopes.  `status` says whether there was memory.  opts
 * NULL: none.                                                                                    */
PERF_COLD_FN_ perf_saving_ perf_saving_take_(const perf_results_opts *opts)
{
    perf_results_opts none = PERF_ZERO;
    perf_saving_      saving = PERF_ZERO;
    perf_registry_   *core;

    if (!opts)
        opts = &none;
    saving.run = perf_run_here_(opts);
    saving.clock = perf_clock();
    saving.context = opts->context;
    saving.rejected = opts->rejected;
    saving.undecided = opts->undecided;
    saving.accepted = opts->accepted;
    if (opts->items) {
        perf_saving_items_(&saving, opts);
        return saving;
    }
    saving.step_ns = saving.clock.resolution_ns;
    core = perf_registry_read_();
    if (!core)
        return saving;
    if (perf_lock_(core))                       /* after a fork: forgets the parent's threads     */
        perf_unlock_(&core->lock);
    perf_saving_loops_(&saving, core);
    if (!opts->no_scopes)
        perf_saving_scopes_(&saving, core);
    return saving;
}

/* The value of slice i of an arm, whatever the other arm has; 0: there is none, or it is no
 * duration.                                                                                      */
PERF_FN double perf_saved_side_(const perf_saved_ *loop, int arm, size_t i)
{
    double x = 0.0;

    if (i < loop->count)
        x = loop->x[arm][i];
    if (!perf_is_duration_(x) || !(x > 1e-200) || !(x < 1e200))
        return 0.0;
    return x;
}

/* The same; 0 also where the other arm of the pair has none. */
PERF_FN double perf_saved_value_(const perf_saved_ *loop, int arm, size_t i)
{
    if (loop->ab && !(perf_saved_side_(loop, 1 - arm, i) > 0.0))
        return 0.0;
    return perf_saved_side_(loop, arm, i);
}

PERF_COLD_FN_ void perf_put_samples_(perf_writer_ *json, const char *key, const perf_saved_ *loop,
                                     int arm)
{
    size_t i;

    json->line = 1;
    perf_member_open_(json, key, '[');
    for (i = 0; i < loop->count; i++) {
        const double x = perf_saved_value_(loop, arm, i);
        if (x > 0.0)
            perf_member_real_(json, PERF_CAST_(const char *, PERF_NULL_), x);
    }
    perf_member_close_(json, ']');
}

/* ---- JSON: a strict reader that walks once, and takes any bytes ---- */

#define PERF_READ_BYTES_   (UINT64_C(256) << 20)    /* of a file                                  */
#define PERF_READ_DEPTH_   64u
#define PERF_READ_MOST_    1e290                    /* beyond: infinite                           */

typedef struct perf_reader_ {
    const char *text;                   /* stays: its parts may be copied                         */
    char       *decoded;                /* strings, each at the place where it stands in the text */
    size_t      size, at;
    perf_status status;                 /* the first failure, with its place                      */
    size_t      error_at;
} perf_reader_;

/* Keeps the first failure and its place, and goes to the end of the text.  Returns 0. */
PERF_COLD_FN_ int perf_read_fail_(perf_reader_ *in, perf_status why)
{
    if (in->status == PERF_OK) {
        in->status = why;
        in->error_at = in->at;
    }
    in->at = in->size;
    return 0;
}

/* Fails at that place unless `ok`.  Returns 1 if nothing has failed so far. */
PERF_COLD_FN_ int perf_read_need_(perf_reader_ *in, int ok, size_t at, perf_status why)
{
    if (!ok && in->status == PERF_OK) {
        in->at = at;
        (void)perf_read_fail_(in, why);
    }
    return in->status == PERF_OK;
}

/* Begins to read a text, which need not end with NUL.  0: it is too long, or no memory. */
PERF_COLD_FN_ int perf_reader_open_(perf_reader_ *in, const char *text, size_t size)
{
    memset(in, 0, sizeof *in);
    in->text = text;
    in->size = size;
    if (size > PERF_READ_BYTES_)
        return perf_read_fail_(in, PERF_ELIMIT);
    in->decoded = PERF_CAST_(char *, PERF_MALLOC(size + 1));
    if (!in->decoded)
        return perf_read_fail_(in, PERF_ENOMEM);
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        in->at = 3;
    return 1;
}

PERF_FN char perf_read_char_(const perf_reader_ *in)    /* NUL: the end, or a failure             */
{
    if (in->at >= in->size)
        return '\0';
    return in->text[in->at];
}

/* The next character that is no blank; NUL at the end or after a failure. */
PERF_FN char perf_read_peek_(perf_reader_ *in)
{
    while (perf_read_char_(in) && strchr(" \n\t\r", perf_read_char_(in)))
        in->at++;
    return perf_read_char_(in);
}

/* 1: the next character that is no blank is `wanted`, and is read. */
PERF_FN int perf_read_this_(perf_reader_ *in, char wanted)
{
    if (perf_read_peek_(in) != wanted)
        return 0;
    in->at++;
    return 1;
}

PERF_FN int perf_read_digit_(const perf_reader_ *in)
{
    return perf_read_char_(in) >= '0' && perf_read_char_(in) <= '9';
}

/* Reads four hexadecimal digits; 0: failed. */
PERF_COLD_FN_ int perf_read_hex_(perf_reader_ *in, uint32_t *out)
{
    static const char digit[] = "0123456789abcdef0123456789ABCDEF";
    int i;

    *out = 0;
    for (i = 0; i < 4; i++, in->at++) {
        const char  next = perf_read_char_(in);
        const char *found = strchr(digit, next);
        if (!next || !found)
            return perf_read_fail_(in, PERF_EFORMAT);
        *out = *out << 4 | PERF_CAST_(uint32_t, (found - digit) & 15);
    }
    return 1;
}

/* The code behind \u.  Of a surrogate pair it reads the second \u, too.  U+FFFD: NUL, or a lone
 * surrogate.                                                                                     */
PERF_COLD_FN_ uint32_t perf_read_code_(perf_reader_ *in)
{
    const uint32_t unknown = 0xfffd;
    const size_t   behind = in->at + 4;
    uint32_t       code, low;

    if (!perf_read_hex_(in, &code) || code == 0)
        return unknown;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code >= 0xdc00 || in->size - in->at < 6 || in->text[in->at] != '\\' ||
        in->text[in->at + 1] != 'u')
        return unknown;
    in->at += 2;
    if (!perf_read_hex_(in, &low))
        return unknown;
    if (low >= 0xdc00 && low < 0xe000)
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    in->at = behind;
    return unknown;
}

/* Writes a code as UTF-8; returns where it ends. */
PERF_COLD_FN_ char *perf_utf8_put_(char *to, uint32_t code)
{
    static const uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    int                   more = 3;     /* bytes behind the first                                 */

    if (code < 0x80)
        more = 0;
    else if (code < 0x800)
        more = 1;
    else if (code < 0x10000)
        more = 2;
    *to++ = PERF_CAST_(char, lead[more] | code >> 6 * more);
    while (more--)
        *to++ = PERF_CAST_(char, 0x80 | (code >> 6 * more & 63));
    return to;
}

/* Writes what a \ stands for, as UTF-8, and returns where that ends; it is never longer than the
 * escape.                                                                                        */
PERF_COLD_FN_ char *perf_read_escape_(perf_reader_ *in, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char  next = perf_read_char_(in);
    const char *found = strchr(from, next);

    if (next == 'u') {
        uint32_t code;
        in->at++;
        code = perf_read_code_(in);
        return in->status == PERF_OK ? perf_utf8_put_(to, code) : to;
    }
    if (!next || !found) {
        (void)perf_read_fail_(in, PERF_EFORMAT);
        return to;
    }
    in->at++;
    *to++ = into[found - from];
    return to;
}

/* A string, ended by NUL, valid as long as `in`; "" after a failure. */
PERF_COLD_FN_ const char *perf_read_string_(perf_reader_ *in)
{
    const int opens = perf_read_this_(in, '"');
    char     *begin = in->decoded + in->at - opens, *to = begin;

    while (opens && in->at < in->size) {
        const char next = in->text[in->at];
        if (next == '"') {
            in->at++;
            *to = '\0';
            return begin;
        }
        if (PERF_CAST_(unsigned char, next) < 0x20)
            break;
        in->at++;
        if (next == '\\')
            to = perf_read_escape_(in, to);
        else
            *to++ = next;
    }
    (void)perf_read_fail_(in, PERF_EFORMAT);
    return "";
}

/* Reads the word; 0: another one is there. */
PERF_COLD_FN_ int perf_read_word_(perf_reader_ *in, const char *word)
{
    size_t length = strlen(word);

    if (in->size - in->at < length || memcmp(in->text + in->at, word, length) != 0)
        return perf_read_fail_(in, PERF_EFORMAT);
    in->at += length;
    return 1;
}

#define PERF_READ_DIGITS_ 1e17          /* a number of more digits is no more exact              */

/* Reads digits with at most one point among them; *x is the number of the first of them, without
 * the point, and *power the power of ten to multiply it with.  0: they are no number of JSON.    */
PERF_COLD_FN_ int perf_read_digits_(perf_reader_ *in, double *x, int *power)
{
    const size_t first = in->at;
    int          whole = 0, behind = 0, point = 0;

    *x = 0.0;
    *power = 0;
    for (;; in->at++) {
        if (whole && !point && perf_read_char_(in) == '.') {
            point = 1;
            continue;
        }
        if (!perf_read_digit_(in))
            break;
        if (*x < PERF_READ_DIGITS_) {
            *x = 10.0 * *x + (in->text[in->at] - '0');
            *power -= point;
        } else {
            *power += !point;
        }
        if (point)
            behind++;
        else
            whole++;
    }
    return whole && (!point || behind) && (whole == 1 || in->text[first] != '0');
}

/* The power behind e or E, with its sign; 0 where there is none. */
PERF_COLD_FN_ int perf_read_power_(perf_reader_ *in)
{
    const int most = 100000;            /* beyond that all numbers are infinite or 0              */
    int       power = 0, digits = 0, minus;

    if (perf_read_char_(in) != 'e' && perf_read_char_(in) != 'E')
        return 0;
    in->at++;
    minus = perf_read_char_(in) == '-';
    if (minus || perf_read_char_(in) == '+')
        in->at++;
    for (; perf_read_digit_(in); in->at++, digits++)
        if (power < most)
            power = 10 * power + (in->text[in->at] - '0');
    if (!digits)
        (void)perf_read_fail_(in, PERF_EFORMAT);
    return minus ? -power : power;
}

/* A number as JSON spells it, good to 1e-15.  Beyond 1e290: infinite. */
PERF_COLD_FN_ double perf_read_number_(perf_reader_ *in)
{
    const int minus = perf_read_this_(in, '-');
    double    x;
    int       power;

    if (!perf_read_digits_(in, &x, &power))
        return perf_read_fail_(in, PERF_EFORMAT);
    power += perf_read_power_(in);
    for (; x > 0.0 && power > 0 && x <= PERF_READ_MOST_; power--)
        x *= 10.0;
    if (x > PERF_READ_MOST_)
        x = PERF_INF_;
    for (; x > 0.0 && power <= -16; power += 16)
        x /= 1e16;
    for (; x > 0.0 && power < 0; power++)
        x /= 10.0;
    return minus ? -x : x;
}

/* A number that is used: beyond 1e290 it is PERF_ERANGE. */
PERF_COLD_FN_ double perf_read_figure_(perf_reader_ *in)
{
    size_t at;
    double x;

    (void)perf_read_peek_(in);
    at = in->at;
    x = perf_read_number_(in);
    if (!perf_read_need_(in, perf_is_finite_(x), at, PERF_ERANGE))
        return 0.0;
    return x;
}

/* Goes to the next part of an object or a list; 0: its end, or a failure.  *count: the parts so
 * far; with 0 it reads `open` first.                                                             */
PERF_COLD_FN_ int perf_read_next_(perf_reader_ *in, size_t *count, char open, char close)
{
    if (!*count && !perf_read_this_(in, open))
        return perf_read_fail_(in, PERF_EFORMAT);
    if (perf_read_this_(in, close))
        return 0;
    if (*count && !perf_read_this_(in, ','))
        return perf_read_fail_(in, PERF_EFORMAT);
    ++*count;
    if (!perf_read_peek_(in) && in->at >= in->size)
        return perf_read_fail_(in, PERF_EFORMAT);
    return 1;
}

/* Goes to the value of the next member of an object; 0: its end, or a failure. */
PERF_COLD_FN_ int perf_read_member_(perf_reader_ *in, size_t *count, const char **key)
{
    if (!perf_read_next_(in, count, '{', '}'))
        return 0;
    *key = perf_read_string_(in);
    if (!perf_read_this_(in, ':'))
        return perf_read_fail_(in, PERF_EFORMAT);
    (void)perf_read_peek_(in);
    return in->status == PERF_OK;
}

/* Reads any value, and keeps nothing.  At most PERF_READ_DEPTH_ deep. */
PERF_COLD_FN_ void perf_read_skip_(perf_reader_ *in, unsigned depth)
{
    const char *key;
    const char  next = perf_read_peek_(in);
    size_t      parts = 0;

    if ((next == '{' || next == '[') && depth == PERF_READ_DEPTH_)
        (void)perf_read_fail_(in, PERF_ELIMIT);
    else if (next == '{')
        while (perf_read_member_(in, &parts, &key))
            perf_read_skip_(in, depth + 1);
    else if (next == '[')
        while (perf_read_next_(in, &parts, '[', ']'))
            perf_read_skip_(in, depth + 1);
    else if (next == '"')
        (void)perf_read_string_(in);
    else if (next == 't')
        (void)perf_read_word_(in, "true");
    else if (next == 'f')
        (void)perf_read_word_(in, "false");
    else if (next == 'n')
        (void)perf_read_word_(in, "null");
    else
        (void)perf_read_number_(in);
}

/* An object being read: its members that are known by name, and which of them have come. */
typedef struct perf_members_ {
    const char *const *name;    /* ends with NULL; at most 16                                     */
    size_t             count;   /* members so far                                                 */
    int                has[16]; /* 1: that member has come                                        */
} perf_members_;

/* The number of the next member with a known name; -1: the end.  Members of other names are
 * skipped, and a second one of the same name is an error.                                        */
PERF_COLD_FN_ int perf_read_known_(perf_reader_ *in, perf_members_ *members)
{
    const char *key;
    int         i;

    while (perf_read_member_(in, &members->count, &key)) {
        for (i = 0; members->name[i] && strcmp(members->name[i], key) != 0; i++)
            continue;
        if (!members->name[i]) {
            perf_read_skip_(in, 0);
            continue;
        }
        if (members->has[i]) {
            (void)perf_read_fail_(in, PERF_EFORMAT);
            return -1;
        }
        members->has[i] = 1;
        return i;
    }
    return -1;
}

/* Makes room for one more element of a list; 0: `in` has failed, now or before.  `most` elements
 * are allowed, more are PERF_ELIMIT.                                                             */
PERF_COLD_FN_ int perf_read_room_(perf_reader_ *in, void *list, size_t *room, size_t used,
                                  size_t size, size_t most)
{
    if (in->status != PERF_OK)
        return 0;
    if (used >= most)
        return perf_read_fail_(in, PERF_ELIMIT);
    if (!perf_more_(list, room, used, size))
        return perf_read_fail_(in, PERF_ENOMEM);
    return 1;
}

/* ---- our files ---- */

/* Most runs of a baseline that are read, most that are written, most entries that are read. */
enum { PERF_READ_RUNS_ = 100, PERF_KEEP_RUNS_ = 30, PERF_READ_ENTRIES_ = 1000000 };

/* The figures of a scope, in the order of the members that hold them. */
enum { PERF_SCOPE_CALLS_, PERF_SCOPE_P50_, PERF_SCOPE_P95_, PERF_SCOPE_P99_, PERF_SCOPE_MEAN_,
       PERF_SCOPE_FIGURES_ };

typedef struct perf_read_entry_ {
    const char *name, *run;
    int         kind;                   /* perf_baseline_kind; 0: a counter, or nothing measured  */
    int         of_run;                 /* index, or -1                                           */
    int         scope;                  /* 1: it stands among the scopes                          */
    size_t      from, to;               /* its text                                               */
    size_t      value, values;          /* a loop's part of file->value; the candidate's follow   */
    size_t      slice, slices;          /* the part with its times, where a counter is read, too  */
    double      figure[PERF_SCOPE_FIGURES_];
    double      step;                   /* of the clock, in ns; 0: the file does not say          */
    int         level;                  /* PERF_LEVEL_...                                         */
    size_t      level_from, level_to;   /* the text of that; 0, 0: there is none                  */
} perf_read_entry_;

/* The level of an entry: the one that is normal now; one that a check REJECTed; the one before a
 * change that was accepted; one that was open when it was saved (only perf-ab asks for that).    */
enum { PERF_LEVEL_NORMAL_, PERF_LEVEL_REJECTED_, PERF_LEVEL_PAST_, PERF_LEVEL_UNDECIDED_ };

typedef struct perf_read_run_ {
    const char *id, *machine, *cpu, *gpu, *compiler, *build, *label;
    double      time_s;
    double      load;                   /* -1: the file does not say                              */
    size_t      from, to;               /* its text                                               */
    int         ours;                   /* 1: of this machine and build, and not this very run    */
    int         usable;                 /* 1: ours, and not left out                              */
    int         marked;                 /* 1: some entry of it is not of the normal level         */
} perf_read_run_;

typedef struct perf_read_ {
    perf_reader_      in;               /* its text stays: parts are copied when a run is added   */
    double           *value;
    perf_read_entry_ *entry;
    perf_read_entry_ **order;           /* entries by kind, name, run, for those who compare      */
    perf_read_run_   *run;
    size_t            values, entries, runs, value_room, entry_room, run_room;
    const char       *counter;          /* read this counter of loops, and no times; NULL: times  */
    char             *own;              /* the text, freed with it; NULL: it is the caller's      */
    int               ours;             /* 1: it has said so, with a version that we know; else   */
                                        /* its status is PERF_EFOREIGN, but for an empty one      */
} perf_read_;

/* Bodies from the whole to its parts. */
PERF_COLD_DECL_ char *perf_read_file_(const char *path, size_t *size, perf_status *status);
PERF_COLD_DECL_ perf_status perf_read_refused_(const char *path);
PERF_COLD_DECL_ void perf_read_own_(perf_read_ *file, char *text, size_t size, perf_status status,
                                    const char *counter);
PERF_COLD_DECL_ void perf_read_results_(perf_read_ *file, const char *text, size_t size,
                                        const char *counter);
PERF_COLD_DECL_ void perf_read_run_of_(perf_read_ *file);
PERF_COLD_DECL_ void perf_read_scope_of_(perf_read_ *file);
PERF_COLD_DECL_ void perf_read_loop_of_(perf_read_ *file);
PERF_COLD_DECL_ void perf_read_level_(perf_read_ *file, perf_read_entry_ *entry);
PERF_COLD_DECL_ double perf_read_or_null_(perf_read_ *file);
PERF_COLD_DECL_ void perf_read_append_(perf_read_ *file, const perf_read_entry_ *entry);
PERF_COLD_DECL_ void perf_read_counters_(perf_read_ *file, double *found);
PERF_COLD_DECL_ size_t perf_read_times_(perf_read_ *file, size_t *no_time);
PERF_COLD_DECL_ void perf_read_count_(perf_read_ *file, perf_read_entry_ *entry, const double *x);
PERF_COLD_DECL_ void perf_read_match_runs_(perf_read_ *file);
PERF_COLD_DECL_ int perf_read_run_index_(const perf_read_ *file, const char *id);
PERF_COLD_DECL_ char *perf_saving_text_(void (*put)(perf_out_ *, const void *),
                                        const perf_results_opts *opts, const perf_read_ *old,
                                        size_t *len, perf_status *status);

/* Reads the file at `path` into *old (perf_read_results_) and, if it is a baseline, into *now what
 * this process would save as such a file.  in.status of each says how that went; then
 * perf_read_free_ for both.                                                                      */
PERF_COLD_FN_ void perf_read_beside_(const char *path, const perf_results_opts *opts,
                                     const char *counter, perf_read_ *old, perf_read_ *now)
{
    perf_status status;
    size_t      size;
    char       *text = perf_read_file_(path, &size, &status);

    memset(now, 0, sizeof *now);
    perf_read_own_(old, text, size, status, counter);
    if (old->in.status != PERF_OK)
        return;
    text = perf_saving_text_(PERF_NULL_, opts, PERF_NULL_, &size, &status);
    perf_read_own_(now, text, size, status, counter);
}

/* Reads a file into memory, to be given to PERF_FREE.  NULL: *status says why; PERF_ENODATA: there
 * is no such file.                                                                               */
PERF_COLD_FN_ char *perf_read_file_(const char *path, size_t *size, perf_status *status)
{
    const size_t page = 4096;
    char        *text = PERF_CAST_(char *, PERF_NULL_);
    FILE        *file = PERF_CAST_(FILE *, PERF_NULL_);
    size_t       room = 0, pages = 0, got;

    *size = 0;
    *status = PERF_OK;
    if (path && *path)
        file = perf_file_read_(path);
    if (!file) {
        *status = perf_read_refused_(path);
        return text;
    }
    do {
        got = 0;
        if (perf_more_(&text, &room, pages++, page))
            got = fread(text + *size, 1, page, file);
        else
            *status = PERF_ENOMEM;
        *size += got;
    } while (got == page && *size <= PERF_READ_BYTES_);
    if (ferror(file))
        *status = PERF_EIO;
    else if (*size > PERF_READ_BYTES_)
        *status = PERF_ELIMIT;
    (void)fclose(file);
    if (*status != PERF_OK) {
        PERF_FREE(text);
        text = PERF_CAST_(char *, PERF_NULL_);
        *size = 0;
    }
    return text;
}

/* Why a file does not open.  PERF_ENODATA: there is none; PERF_EINVAL: no path. */
PERF_COLD_FN_ perf_status perf_read_refused_(const char *path)
{
    unsigned mode;

    if (!path || !*path)
        return PERF_EINVAL;
    return perf_file_kind_(path, &mode) == PERF_FILE_NONE_ ? PERF_ENODATA : PERF_EIO;
}

/* perf_read_results_ of a text that the file owns from now on; text NULL: `status` says why there
 * is none.                                                                                       */
PERF_COLD_FN_ void perf_read_own_(perf_read_ *file, char *text, size_t size, perf_status status,
                                  const char *counter)
{
    memset(file, 0, sizeof *file);
    file->in.status = status;
    if (text)
        perf_read_results_(file, text, size, counter);
    file->own = text;
}

/* Reads the whole document: its runs, scopes and loops, in the order of the text; counter: see
 * perf_read_.  file->in.status says how that went; then perf_read_free_, whatever it says.       */
PERF_COLD_FN_ void perf_read_results_(perf_read_ *file, const char *text, size_t size,
                                      const char *counter)
{
    enum { PERF_FIELD_VERSION_, PERF_FIELD_RUNS_, PERF_FIELD_BENCHMARKS_, PERF_FIELD_SCOPES_ };
    static const char *const names[] = {"perf_results", "runs", "benchmarks", "scopes", PERF_NULL_};
    perf_members_ members = {names, 0, {0}};
    size_t        element;
    double        version;
    int           member;

    memset(file, 0, sizeof *file);
    file->counter = counter;
    if (!perf_reader_open_(&file->in, text, size))
        return;
    while ((member = perf_read_known_(&file->in, &members)) >= 0) {
        if (member == PERF_FIELD_VERSION_) {
            version = perf_read_figure_(&file->in);
            file->ours = version >= 1.0 && version < 2.0;
            (void)perf_read_need_(&file->in, file->ours, file->in.at, PERF_EFORMAT);
            continue;
        }
        for (element = 0; perf_read_next_(&file->in, &element, '[', ']');) {
            if (member == PERF_FIELD_RUNS_)
                perf_read_run_of_(file);
            else if (member == PERF_FIELD_SCOPES_)
                perf_read_scope_of_(file);
            else
                perf_read_loop_of_(file);
        }
    }
    (void)perf_read_peek_(&file->in);
    if (file->in.at < file->in.size)            /* something behind the end, a NUL included       */
        (void)perf_read_fail_(&file->in, PERF_EFORMAT);
    if (perf_read_need_(&file->in, file->ours, 0, PERF_EFORMAT))
        perf_read_match_runs_(file);
    if (!file->ours && size > 0 && file->in.status != PERF_ENOMEM) {
        file->in.status = PERF_EFOREIGN;
        file->in.error_at = 0;
    }
}

/* Reads a run, and appends it to file->run. */
PERF_COLD_FN_ void perf_read_run_of_(perf_read_ *file)
{
    enum { PERF_FIELD_TEXTS_ = 7, PERF_FIELD_TIME_ = PERF_FIELD_TEXTS_, PERF_FIELD_LOAD_ };
    static const char *const names[] = {"run", "machine", "cpu", "gpu", "compiler", "build",
                                        "label", "time", "load", PERF_NULL_};
    perf_members_  members = {names, 0, {0}};
    perf_read_run_ run = {"", "", "", "", "", "", "", 0.0, -1.0, 0, 0, 0, 0, 0};
    const char   **text[PERF_FIELD_TEXTS_];
    int            member;

    text[0] = &run.id;
    text[1] = &run.machine;
    text[2] = &run.cpu;
    text[3] = &run.gpu;
    text[4] = &run.compiler;
    text[5] = &run.build;
    text[6] = &run.label;
    run.from = file->in.at;
    while ((member = perf_read_known_(&file->in, &members)) >= 0) {
        if (member < PERF_FIELD_TEXTS_)
            *text[member] = perf_read_string_(&file->in);
        else if (member == PERF_FIELD_TIME_)
            run.time_s = perf_read_figure_(&file->in);
        else
            run.load = perf_read_figure_(&file->in);
    }
    run.to = file->in.at;
    if (perf_read_room_(&file->in, &file->run, &file->run_room, file->runs, sizeof run,
                        PERF_READ_RUNS_))
        file->run[file->runs++] = run;
}

/* A scope, or a counter, which has no median and may hold any number. */
PERF_COLD_FN_ void perf_read_scope_of_(perf_read_ *file)
{
    enum { PERF_FIELD_NAME_, PERF_FIELD_RUN_, PERF_FIELD_LEVEL_, PERF_FIELD_UNIT_,
        PERF_FIELD_FIGURE_ };
    static const char *const names[] = {"name", "run", "level", "unit", "calls", "p50", "p95",
                                        "p99", "mean", PERF_NULL_};
    perf_members_    members = {names, 0, {0}};
    perf_read_entry_ entry = PERF_ZERO;
    const char      *unit = "ns";
    int              member, i;

    entry.from = file->in.at;
    entry.scope = 1;
    entry.run = "";
    entry.of_run = -1;
    while ((member = perf_read_known_(&file->in, &members)) >= 0) {
        if (member == PERF_FIELD_NAME_)
            entry.name = perf_read_string_(&file->in);
        else if (member == PERF_FIELD_RUN_)
            entry.run = perf_read_string_(&file->in);
        else if (member == PERF_FIELD_LEVEL_)
            perf_read_level_(file, &entry);
        else if (member == PERF_FIELD_UNIT_)
            unit = perf_read_string_(&file->in);
        else
            entry.figure[member - PERF_FIELD_FIGURE_] = perf_read_or_null_(file);
    }
    entry.to = file->in.at;
    if (!strcmp(unit, "ns") && entry.figure[PERF_SCOPE_CALLS_] >= 1.0 &&
        members.has[PERF_FIELD_FIGURE_ + PERF_CAST_(int, PERF_SCOPE_P50_)] && !file->counter)
        entry.kind = PERF_BASELINE_SCOPE;
    (void)perf_read_need_(&file->in, entry.name != PERF_NULL_, entry.from, PERF_EFORMAT);
    for (i = 0; i < PERF_SCOPE_FIGURES_ && entry.kind; i++)
        (void)perf_read_need_(&file->in, perf_is_finite_(entry.figure[i]), entry.from, PERF_ERANGE);
    perf_read_append_(file, &entry);
}

/* The member "level"; what is not known, and what was undecided, counts as normal. */
PERF_COLD_FN_ void perf_read_level_(perf_read_ *file, perf_read_entry_ *entry)
{
    const char *level;

    (void)perf_read_peek_(&file->in);
    entry->level_from = file->in.at;
    level = perf_read_string_(&file->in);
    entry->level_to = file->in.at;
    entry->level = PERF_LEVEL_NORMAL_;
    if (!strcmp(level, "rejected"))
        entry->level = PERF_LEVEL_REJECTED_;
    else if (!strcmp(level, "past"))
        entry->level = PERF_LEVEL_PAST_;
}

/* A figure; null is written for what is infinite or none. */
PERF_COLD_FN_ double perf_read_or_null_(perf_read_ *file)
{
    if (perf_read_peek_(&file->in) != 'n')
        return perf_read_number_(&file->in);
    return perf_read_word_(&file->in, "null") ? PERF_INF_ : 0.0;
}

PERF_COLD_FN_ void perf_read_append_(perf_read_ *file, const perf_read_entry_ *entry)
{
    if (perf_read_room_(&file->in, &file->entry, &file->entry_room, file->entries, sizeof *entry,
                        PERF_READ_ENTRIES_))
        file->entry[file->entries++] = *entry;
}

/* Reads a bench or an A/B loop, and appends it to file->entry, its values to file->value.  Of pairs
 * the candidate's values stand directly behind the baseline's.                                   */
PERF_COLD_FN_ void perf_read_loop_of_(perf_read_ *file)
{
    enum { PERF_FIELD_NAME_, PERF_FIELD_RUN_, PERF_FIELD_SAMPLES_, PERF_FIELD_BASELINE_,
        PERF_FIELD_CANDIDATE_, PERF_FIELD_STEP_, PERF_FIELD_LEVEL_, PERF_FIELD_COUNTERS_,
        PERF_FIELD_UNIT_ };
    static const char *const names[] = {"name", "run", "samples", "baseline", "candidate", "step",
                                        "level", "counters", "unit", PERF_NULL_};
    perf_members_    members = {names, 0, {0}};
    perf_read_entry_ entry = PERF_ZERO;
    const char      *unit = "ns";
    size_t           candidate = 0, candidates = 0, no_time = 0;
    double           count[2] = {0.0, 0.0};
    int              member, is_pair, wrong;

    entry.from = file->in.at;
    entry.run = "";
    entry.of_run = -1;
    while ((member = perf_read_known_(&file->in, &members)) >= 0) {
        if (member == PERF_FIELD_NAME_) {
            entry.name = perf_read_string_(&file->in);
        } else if (member == PERF_FIELD_RUN_) {
            entry.run = perf_read_string_(&file->in);
        } else if (member == PERF_FIELD_STEP_) {
            entry.step = perf_read_figure_(&file->in);
        } else if (member == PERF_FIELD_LEVEL_) {
            perf_read_level_(file, &entry);
        } else if (member == PERF_FIELD_UNIT_) {
            unit = perf_read_string_(&file->in);
        } else if (member == PERF_FIELD_COUNTERS_ && file->counter) {
            perf_read_counters_(file, count);
        } else if (member == PERF_FIELD_COUNTERS_) {
            perf_read_skip_(&file->in, 0);
        } else if (member == PERF_FIELD_CANDIDATE_) {
            candidate = file->values;
            candidates = perf_read_times_(file, &no_time);
        } else {
            entry.value = file->values;
            entry.values = perf_read_times_(file, &no_time);
        }
    }
    entry.to = file->in.at;
    is_pair = members.has[PERF_FIELD_CANDIDATE_];
    wrong = !entry.name || (members.has[PERF_FIELD_SAMPLES_] && members.has[PERF_FIELD_BASELINE_]);
    if (is_pair)
        wrong |= candidates != entry.values || candidate != entry.value + entry.values;
    if (strcmp(unit, "ns") != 0)
        no_time = 0;                            /* not ours: it stays in the file as it is        */
    else if (entry.values && is_pair)
        entry.kind = PERF_BASELINE_AB;
    else if (entry.values && !members.has[PERF_FIELD_BASELINE_])    /* alone it is nothing        */
        entry.kind = PERF_BASELINE_BENCH;
    entry.slice = entry.value;
    entry.slices = entry.values;
    if (file->counter)
        perf_read_count_(file, &entry, count);
    (void)perf_read_need_(&file->in, !no_time, no_time, PERF_ERANGE);
    (void)perf_read_need_(&file->in, !wrong, entry.from, PERF_EFORMAT);
    perf_read_append_(file, &entry);
}

#define PERF_COUNT_LEAST_VALUE_ 0.01    /* an iteration: smaller counts are raised to this        */

/* Reads "counters" of a loop.  The one that is asked for goes to found[0]; those of the arms of an
 * A/B loop to found[0] and found[1].  What is not there stays as it is.                          */
PERF_COLD_FN_ void perf_read_counters_(perf_read_ *file, double *found)
{
    const size_t length = strlen(file->counter);
    size_t       count = 0;
    const char  *key;
    double       value;
    int          arm;

    while (perf_read_member_(&file->in, &count, &key)) {
        value = perf_read_or_null_(file);
        if (strncmp(key, file->counter, length) != 0)
            continue;
        arm = !strcmp(key + length, ", candidate");
        if (key[length] && !arm && strcmp(key + length, ", baseline") != 0)
            continue;
        if (value < PERF_COUNT_LEAST_VALUE_)
            value = PERF_COUNT_LEAST_VALUE_;
        found[arm] = value;
    }
}

/* Reads a list of times; returns how many, 0 after a failure.  *no_time: where the first number is
 * that can be none; 0 stays where all can.                                                       */
PERF_COLD_FN_ size_t perf_read_times_(perf_read_ *file, size_t *no_time)
{
    size_t count = 0, at;
    double x;

    while (perf_read_next_(&file->in, &count, '[', ']')) {
        at = file->in.at;
        x = perf_read_figure_(&file->in);
        if (!(x > 1e-290) && !*no_time)
            *no_time = at;
        if (!perf_read_room_(&file->in, &file->value, &file->value_room, file->values, sizeof x,
                             SIZE_MAX))
            return 0;
        file->value[file->values++] = x;
    }
    return count;
}

/* Makes the count x[arm] the only value of each arm of an entry; without counts the entry has no
 * values.                                                                                        */
PERF_COLD_FN_ void perf_read_count_(perf_read_ *file, perf_read_entry_ *entry, const double *x)
{
    int arm, arms = 1 + (entry->kind == PERF_BASELINE_AB);

    entry->value = file->values;
    entry->values = 0;
    entry->step = 0.0;
    for (arm = 0; arm < arms; arm++) {
        if (!(x[arm] > 0.0) || !perf_is_finite_(x[arm]) ||
            !perf_read_room_(&file->in, &file->value, &file->value_room, file->values, sizeof *x,
                             SIZE_MAX))
            return;
        file->value[file->values++] = x[arm];
    }
    entry->values = 1;
}

/* Sets of_run of each entry, and marks the runs with an entry that is not of the normal level. */
PERF_COLD_FN_ void perf_read_match_runs_(perf_read_ *file)
{
    size_t i;

    for (i = 0; i < file->entries; i++) {
        perf_read_entry_ *entry = &file->entry[i];
        if (i && !strcmp(entry->run, entry[-1].run))
            entry->of_run = entry[-1].of_run;
        else
            entry->of_run = perf_read_run_index_(file, entry->run);
        if (entry->level && entry->of_run >= 0)
            file->run[entry->of_run].marked = 1;
    }
}

/* The index of a run; -1: there is none such. */
PERF_COLD_FN_ int perf_read_run_index_(const perf_read_ *file, const char *id)
{
    size_t i;

    for (i = 0; i < file->runs; i++)
        if (!strcmp(file->run[i].id, id))
            return PERF_CAST_(int, i);
    return -1;
}

PERF_COLD_FN_ void perf_read_free_(perf_read_ *file)
{
    PERF_FREE(file->in.decoded);
    PERF_FREE(file->value);
    PERF_FREE(file->entry);
    PERF_FREE(file->order);
    PERF_FREE(file->run);
    PERF_FREE(file->own);
}

/* ---- our own JSON ---- */

PERF_COLD_FN_ void perf_put_summary_(perf_writer_ *json, const char *key, const perf_summary *time)
{
    json->line = 1;
    perf_member_open_(json, key, '{');
    perf_member_whole_(json, "count", time->count);
    perf_member_real_(json, "min", time->min);
    perf_member_real_(json, "mean", time->mean);
    perf_member_real_(json, "std", time->std);
    perf_member_real_(json, "p50", time->p50);
    perf_member_real_(json, "p50_low", time->p50_low);
    perf_member_real_(json, "p50_high", time->p50_high);
    perf_member_real_(json, "p95", time->p95);
    perf_member_real_(json, "p99", time->p99);
    perf_member_real_(json, "max", time->max);
    perf_member_close_(json, '}');
}

/* What a bench and an A/B loop have in common. */
PERF_COLD_FN_ void perf_put_outcome_(perf_writer_ *json, const char *design, perf_status status,
                                     uint32_t warnings)
{
    const char *const element = PERF_CAST_(const char *, PERF_NULL_);
    uint32_t          bit;

    perf_member_text_(json, "unit", "ns");
    perf_member_text_(json, "design", design);
    perf_member_text_(json, "status", perf_status_text(status));
    perf_member_open_(json, "warnings", '[');
    for (bit = 1; bit && bit <= warnings; bit <<= 1)
        if (warnings & bit)
            perf_member_text_(json, element, perf_warning_text(bit));
    perf_member_close_(json, ']');
}

/* The step of the clock in ns an iteration, if known.  Processor time is in whole ns. */
PERF_COLD_FN_ void perf_put_step_(perf_writer_ *json, const perf_saving_ *saving,
                                  const perf_kept_loop_ *own, perf_decides decides, uint64_t batch)
{
    double step = saving->step_ns;

    if (own && own->step_ns > 0.0)
        step = own->step_ns;
    if (!(step > 0.0) || !batch)
        return;
    if (step < 1.0 && decides == PERF_DECIDES_CPU)
        step = 1.0;
    perf_member_real_(json, "step", step / PERF_CAST_(double, batch));
}

/* Which clock decides; nothing where processor time was never taken (`timed` 0). */
PERF_COLD_FN_ void perf_put_decides_json_(perf_writer_ *json, perf_decides decides, uint64_t timed)
{
    if (timed)
        perf_member_text_(json, "decides", decides == PERF_DECIDES_CPU ? "cpu" : "wall");
}

PERF_COLD_FN_ void perf_put_bench_settings_(perf_writer_ *json, const perf_bench_opts *opts)
{
    json->line = 1;
    perf_member_open_(json, "settings", '{');
    perf_member_real_(json, "warmup", opts->warmup);
    perf_member_real_(json, "samples", opts->samples);
    perf_member_real_(json, "rel_ci", opts->rel_ci);
    perf_member_real_(json, "max_seconds", opts->max_seconds);
    perf_member_real_(json, "slice_ns", opts->slice_ns);
    perf_member_real_(json, "bytes", opts->bytes);
    perf_member_real_(json, "items", opts->items);
    perf_member_close_(json, '}');
}

/* The user's numbers, and the number of threads. */
PERF_COLD_FN_ void perf_put_loop_numbers_(perf_writer_ *json, const perf_kept_loop_ *own)
{
    int i;

    if (!own)
        return;
    if (own->counter[0][0]) {
        json->line = 1;
        perf_member_open_(json, "counters", '{');
        for (i = 0; own->counter[i][0]; i++)
            perf_member_real_(json, own->counter[i], own->value[i]);
        perf_member_close_(json, '}');
    }
    if (own->threads)
        perf_member_whole_(json, "threads", PERF_CAST_(uint64_t, own->threads));
}

PERF_COLD_FN_ void perf_put_rate_json_(perf_writer_ *json, const char *key, double rate)
{
    if (rate > 0.0)
        perf_member_real_(json, key, rate);
}

PERF_COLD_FN_ void perf_put_bench_json_(perf_writer_ *json, const perf_saving_ *saving,
                                        const perf_saved_ *loop)
{
    const perf_result *result = loop->bench;

    perf_put_outcome_(json, "separate", result->status, result->warnings);
    perf_member_real_(json, "first_ns", result->first_ns);
    perf_member_real_(json, "overhead_ns", result->overhead_ns);
    perf_member_whole_(json, "batch", result->batch);
    perf_member_whole_(json, "iterations", result->iterations);
    perf_put_bench_settings_(json, &result->opts);
    perf_put_loop_numbers_(json, loop->own);
    perf_put_rate_json_(json, "gb_per_s", result->gb_per_s);
    perf_put_rate_json_(json, "items_per_s", result->items_per_s);
    perf_put_rate_json_(json, "gflop_per_s", result->gflop_per_s);
    perf_put_step_(json, saving, loop->own, result->decides, result->batch);
    perf_put_decides_json_(json, result->decides, result->cpu.count);
    if (result->time.count)
        perf_put_summary_(json, "summary", loop->time[0]);
    perf_put_samples_(json, "samples", loop, 0);
}

PERF_COLD_FN_ void perf_put_interval_json_(perf_writer_ *json, const char *key,
                                           const perf_interval *x)
{
    const char *const element = PERF_CAST_(const char *, PERF_NULL_);

    perf_member_open_(json, key, '[');
    perf_member_real_(json, element, x->low);
    perf_member_real_(json, element, x->estimate);
    perf_member_real_(json, element, x->high);
    perf_member_close_(json, ']');
}

PERF_COLD_FN_ void perf_put_verdict_json_(perf_writer_ *json, const char *key,
                                          const perf_verdict *verdict)
{
    char      text[80];
    perf_out_ rule = perf_out_open_(text, sizeof text);

    perf_put_rule_(&rule, &verdict->rule);
    json->line = 1;
    perf_member_open_(json, key, '{');
    perf_member_text_(json, "decision", perf_decision_text(verdict->decision));
    perf_member_text_(json, "rule", text);
    perf_member_text_(json, "reason", verdict->reason ? verdict->reason : "");
    perf_member_real_(json, "confidence", verdict->confidence);
    perf_put_interval_json_(json, "ratio", &verdict->ratio);
    perf_put_interval_json_(json, "speedup", &verdict->speedup);
    perf_member_close_(json, '}');
}

PERF_COLD_FN_ void perf_put_ab_json_(perf_writer_ *json, const perf_saving_ *saving,
                                     const perf_saved_ *loop)
{
    const perf_ab_result *result = loop->ab;
    uint64_t              batch = result->batch_candidate;

    if (result->batch_baseline < batch)
        batch = result->batch_baseline;
    perf_put_outcome_(json, "pairs", result->status, result->warnings);
    perf_member_real_(json, "overhead_ns", result->overhead_ns);
    perf_member_real_(json, "seconds", result->seconds);
    json->line = 1;
    perf_member_open_(json, "settings", '{');
    perf_member_real_(json, "min_pairs", result->opts.min_pairs);
    perf_member_real_(json, "max_pairs", result->opts.max_pairs);
    perf_member_real_(json, "max_seconds", result->opts.max_seconds);
    perf_member_real_(json, "slice_ns", result->opts.slice_ns);
    perf_member_close_(json, '}');
    perf_put_verdict_json_(json, "verdict", &result->verdict);
    if (result->parts) {
        perf_put_verdict_json_(json, "verdict_of_rule_1", &result->part[0]);
        perf_put_verdict_json_(json, "verdict_of_rule_2", &result->part[1]);
    }
    perf_put_loop_numbers_(json, loop->own);
    perf_put_step_(json, saving, loop->own, result->decides, batch);
    perf_put_decides_json_(json, result->decides, result->baseline_cpu.count);
    if (result->baseline.count) {
        perf_put_summary_(json, "summary_baseline", loop->time[0]);
        perf_put_summary_(json, "summary_candidate", loop->time[1]);
    }
    perf_put_samples_(json, "baseline", loop, 0);
    perf_put_samples_(json, "candidate", loop, 1);
}

/* 1: that kind of row has a figure in this column. */
PERF_COLD_FN_ int perf_row_has_(uint32_t kind, size_t column)
{
    if (kind < PERF_KIND_COUNT_)
        return column != PERF_COLUMN_LAST_;
    if (kind == PERF_KIND_COUNT_)
        return column == PERF_COLUMN_MEAN_ || column == PERF_COLUMN_MIN_ ||
               column == PERF_COLUMN_MAX_ || column == PERF_COLUMN_LAST_;
    return 0;
}

/* Times in ns; a bucket is written as its middle and the calls in it. */
PERF_COLD_FN_ void perf_put_scope_json_(perf_writer_ *json, const perf_saving_ *saving,
                                        const perf_saved_scope_ *scope)
{
    static const char *const column[PERF_COLUMNS_] = {"total", "self", "mean", "min", "p50",
                                                      "p95", "p99", "max", "last"};
    const char *const element = PERF_CAST_(const char *, PERF_NULL_);
    size_t            i;

    perf_member_text_(json, "kind", perf_kind_text_(scope->row.kind));
    if (scope->row.kind < PERF_KIND_COUNT_)
        perf_member_text_(json, "unit", "ns");
    perf_member_whole_(json, "calls", scope->row.count);
    for (i = 0; i < PERF_COLUMNS_; i++)
        if (perf_row_has_(scope->row.kind, i))
            perf_member_real_(json, column[i], scope->row.figure[i]);
    if (!scope->buckets)
        return;
    json->line = 1;
    perf_member_open_(json, "buckets", '[');
    for (i = 0; i < scope->buckets; i++) {
        const perf_saved_bucket_ *bucket = &saving->bucket[scope->bucket + i];
        perf_member_open_(json, element, '[');
        perf_member_real_(json, element, perf_bucket_value_(bucket->index) * saving->clock.tick_ns);
        perf_member_whole_(json, element, bucket->count);
        perf_member_close_(json, ']');
    }
    perf_member_close_(json, ']');
}

/* 1: that run of the old file stays when this one is added: it has another id and is among the
 * newest, marked and other runs counted apart.  run -1: an entry of no run, which stays.         */
PERF_COLD_FN_ int perf_keep_run_(const perf_saving_ *saving, int run)
{
    const perf_read_ *old = saving->old;
    size_t            i, later = 0;

    if (run < 0)
        return 1;
    if (!strcmp(old->run[run].id, saving->run.id))
        return 0;
    for (i = PERF_CAST_(size_t, run) + 1; i < old->runs; i++)
        if (strcmp(old->run[i].id, saving->run.id) != 0 &&
            old->run[i].marked == old->run[run].marked)
            later++;
    return later + 1 < PERF_KEEP_RUNS_;
}

/* A part of the old file, as it stood there. */
PERF_COLD_FN_ void perf_put_saved_part_(perf_writer_ *json, const perf_read_ *old, size_t from,
                                        size_t to)
{
    json->line = 1;
    perf_member_key_(json, PERF_CAST_(const char *, PERF_NULL_));
    perf_put_n_(json->out, old->in.text + from, to - from);
}

/* 1: a list with NULL at the end has that name. */
PERF_COLD_FN_ int perf_is_listed_(const char *const *list, const char *name)
{
    while (list && *list && !perf_same_text_(*list, name))
        list++;
    return list && *list;
}

/* Begins an entry of ours. */
PERF_COLD_FN_ void perf_put_entry_head_(perf_writer_ *json, const perf_saving_ *saving,
                                        const char *name)
{
    json->line = 1;
    perf_member_open_(json, PERF_CAST_(const char *, PERF_NULL_), '{');
    perf_member_text_(json, "name", name);
    perf_member_text_(json, "run", saving->run.id);
    if (perf_is_listed_(saving->rejected, name))
        perf_member_text_(json, "level", "rejected");
    else if (perf_is_listed_(saving->undecided, name))
        perf_member_text_(json, "level", "undecided");
}

/* 1: that run was of this machine and build; one without a loop on a device is of any. */
PERF_COLD_FN_ int perf_run_is_like_(const perf_read_run_ *old, const perf_run_ *run)
{
    return !strcmp(old->machine, run->machine) && !strcmp(old->cpu, run->cpu) &&
           (!*old->gpu || !*run->gpu || !strcmp(old->gpu, run->gpu)) &&
           !strcmp(old->compiler, run->compiler) && !strcmp(old->build, run->build);
}

/* The new level of an old entry.  After an accepted change it is normal from the change's run on,
 * and past before.                                                                               */
PERF_COLD_FN_ int perf_keep_level_(const perf_saving_ *saving, const perf_read_entry_ *entry)
{
    const perf_read_  *old = saving->old;
    const char *const *accepted = saving->accepted;
    char               id[sizeof saving->run.id];       /* of that run, as it is saved            */
    int                first;

    for (; accepted && accepted[0] && accepted[1]; accepted += 2) {
        if (!perf_same_text_(accepted[0], entry->name) || entry->of_run < 0 ||
            !perf_run_is_like_(&old->run[entry->of_run], &saving->run))
            continue;
        perf_copy_id_(id, sizeof id, accepted[1]);
        first = perf_read_run_index_(old, accepted[1]);
        if (first < 0)
            first = perf_read_run_index_(old, id);
        return first >= 0 && entry->of_run >= first ? PERF_LEVEL_NORMAL_ : PERF_LEVEL_PAST_;
    }
    return entry->level;
}

/* An entry of the old file as it stood there, but for its level. */
PERF_COLD_FN_ void perf_put_old_entry_(perf_writer_ *json, const perf_saving_ *saving,
                                       const perf_read_entry_ *entry)
{
    static const char *const names[] = {"\"normal\"", "\"rejected\"", "\"past\""};
    const char *text = saving->old->in.text;
    const int   level = perf_keep_level_(saving, entry);

    if (level == entry->level) {
        perf_put_saved_part_(json, saving->old, entry->from, entry->to);
    } else if (entry->level_to) {
        perf_put_saved_part_(json, saving->old, entry->from, entry->level_from);
        perf_put_(json->out, names[level]);
        perf_put_n_(json->out, text + entry->level_to, entry->to - entry->level_to);
    } else {
        perf_put_saved_part_(json, saving->old, entry->from, entry->from + 1);
        perf_put_(json->out, "\"level\":");
        perf_put_(json->out, names[level]);
        perf_put_char_(json->out, ',');
        perf_put_n_(json->out, text + entry->from + 1, entry->to - entry->from - 1);
    }
}

/* The entries that are kept, as they stood in the old file, then ours: loops, or scopes. */
PERF_COLD_FN_ void perf_put_entries_(perf_writer_ *json, const perf_saving_ *saving, int scopes)
{
    const perf_read_ *old = saving->old;
    size_t            i;

    for (i = 0; old && i < old->entries; i++) {
        const perf_read_entry_ *entry = &old->entry[i];
        if (entry->scope == scopes && perf_keep_run_(saving, entry->of_run))
            perf_put_old_entry_(json, saving, entry);
    }
    for (i = 0; scopes && i < saving->scopes; i++) {
        perf_put_entry_head_(json, saving, saving->scope[i].row.name);
        perf_put_scope_json_(json, saving, &saving->scope[i]);
        perf_member_close_(json, '}');
    }
    for (i = 0; !scopes && i < saving->loops; i++) {
        const perf_saved_ *loop = &saving->loop[i];
        perf_put_entry_head_(json, saving, loop->name);
        if (loop->ab)
            perf_put_ab_json_(json, saving, loop);
        else
            perf_put_bench_json_(json, saving, loop);
        perf_member_close_(json, '}');
    }
}

/* This run: when, where, how, and what the user says of it. */
PERF_COLD_FN_ void perf_put_run_json_(perf_writer_ *json, const perf_saving_ *saving)
{
    const perf_run_ *run = &saving->run;
    char             date[40];
    perf_out_        out = perf_out_open_(date, sizeof date);
    size_t           i;

    perf_put_date_(&out, run->time_s);
    perf_put_char_(&out, 'Z');
    json->line = 1;
    perf_member_open_(json, PERF_CAST_(const char *, PERF_NULL_), '{');
    perf_member_text_(json, "run", run->id);
    perf_member_text_(json, "date", date);
    perf_member_real_(json, "time", run->time_s);
    perf_member_text_(json, "machine", run->machine);
    perf_member_text_(json, "cpu", run->cpu);
    if (run->gpu[0])
        perf_member_text_(json, "gpu", run->gpu);
    perf_member_real_(json, "cores", run->cores);
    perf_member_text_(json, "os", run->os);
    perf_member_text_(json, "compiler", run->compiler);
    perf_member_text_(json, "build", run->build);
    if (run->label[0])
        perf_member_text_(json, "label", run->label);
    if (run->load >= 0.0)
        perf_member_real_(json, "load", run->load);
    perf_member_whole_(json, "perf_h", PERF_VERSION);
    perf_member_text_(json, "clock", saving->clock.name);
    perf_member_real_(json, "clock_resolution_ns", saving->clock.resolution_ns);
    perf_member_real_(json, "clock_error_ppm", saving->clock.error_ppm);
    if (saving->context && saving->context[0] && saving->context[1]) {
        json->line = 1;
        perf_member_open_(json, "context", '{');
        for (i = 0; saving->context[i] && saving->context[i + 1]; i += 2)
            perf_member_text_(json, saving->context[i], saving->context[i + 1]);
        perf_member_close_(json, '}');
    }
    perf_member_close_(json, '}');
}

PERF_COLD_FN_ void perf_put_own_(perf_out_ *out, const void *with)
{
    const perf_saving_ *saving = PERF_CAST_(const perf_saving_ *, with);
    const perf_read_   *old = saving->old;
    perf_writer_        json = {PERF_NULL_, 0, 0};
    size_t              i;

    json.out = out;
    perf_member_open_(&json, PERF_CAST_(const char *, PERF_NULL_), '{');
    perf_member_whole_(&json, "perf_results", 1);
    json.line = 1;
    perf_member_open_(&json, "runs", '[');
    for (i = 0; old && i < old->runs; i++)
        if (perf_keep_run_(saving, PERF_CAST_(int, i)))
            perf_put_saved_part_(&json, old, old->run[i].from, old->run[i].to);
    perf_put_run_json_(&json, saving);
    perf_member_close_(&json, ']');
    json.line = 1;
    perf_member_open_(&json, "benchmarks", '[');
    perf_put_entries_(&json, saving, 0);
    perf_member_close_(&json, ']');
    json.line = 1;
    perf_member_open_(&json, "scopes", '[');
    perf_put_entries_(&json, saving, 1);
    perf_member_close_(&json, ']');
    perf_member_close_(&json, '}');
    perf_put_char_(out, '\n');
}

/* ---- writing ---- */

/* Bodies from the whole to its parts. */
PERF_FN int perf_results_opts_good_(const perf_results_opts *opts);
PERF_COLD_DECL_ perf_status perf_read_moved_(const char *path, const perf_read_ *file);
PERF_COLD_DECL_ int perf_file_aside_(const char *path);
PERF_COLD_DECL_ perf_status perf_saving_save_(const char *path, FILE *stream,
                                              void (*put)(perf_out_ *, const void *),
                                              const perf_results_opts *opts, const perf_read_ *old,
                                              int durable);
PERF_COLD_DECL_ void perf_text_go_(void *with);
PERF_COLD_DECL_ int perf_text_is_there_(FILE *file, const char *text, size_t len);
PERF_COLD_DECL_ void perf_run_number_(perf_run_ *run, const perf_read_ *old);
PERF_COLD_DECL_ perf_status perf_text_refused_(const char *text, size_t len);
PERF_COLD_DECL_ void perf_saving_free_(perf_saving_ *saving);

PERF_FN perf_status perf_results_save(const char *path, const perf_results_opts *opts)
{
    if (PERF_DISABLE)
        return PERF_EDISABLED;
    return perf_saving_save_(path, PERF_NULL_, PERF_NULL_, opts, PERF_NULL_, 0);
}

#define PERF_FILE_WAIT_NS_ UINT64_C(5000000000)         /* longest wait for the folder            */

PERF_FN perf_status perf_baseline_add(const char *path, const perf_results_opts *opts)
{
    perf_read_        file = PERF_ZERO;
    const perf_read_ *old = PERF_CAST_(const perf_read_ *, PERF_NULL_);
    const int         keep = !opts || !opts->alone;
    perf_status       status = PERF_OK;
    unsigned          mode;
    size_t            size = 0;
    char             *text = PERF_CAST_(char *, PERF_NULL_);
    int               folder;

    if (PERF_DISABLE)
        return PERF_EDISABLED;
    if (!path || !*path || !perf_results_opts_good_(opts))
        return PERF_EINVAL;
    folder = perf_file_folder_(path, keep ? PERF_FILE_WAIT_NS_ : 0);
    if (perf_file_kind_(path, &mode) == PERF_FILE_REGULAR_)
        text = perf_read_file_(path, &size, &status);
    if (size) {
        perf_read_results_(&file, text, size, PERF_NULL_);
        status = perf_read_moved_(path, &file);
        if (keep && file.in.status == PERF_OK)
            old = &file;
    }
    if (status == PERF_OK || status == PERF_ENODATA)
        status = perf_saving_save_(path, PERF_NULL_, PERF_NULL_, opts, old, 1);
    perf_read_free_(&file);
    PERF_FREE(text);
    (void)perf_close_(folder);
    return status;
}

/* 1: the options are within their ranges, or NULL. */
PERF_FN int perf_results_opts_good_(const perf_results_opts *opts)
{
    return !opts || (opts->time_s >= 0.0 && opts->time_s < PERF_TIME_MOST_);
}

/* The status of what was read, for who replaces it.  A damaged file of ours is moved out of the
 * way.                                                                                           */
PERF_COLD_FN_ perf_status perf_read_moved_(const char *path, const perf_read_ *file)
{
    const perf_status status = file->in.status;

    if (status != PERF_EFORMAT && status != PERF_ERANGE)
        return status;
    return perf_file_aside_(path) ? PERF_OK : PERF_EIO;
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
        perf_out_ out = perf_out_open_(name, room);
        perf_put_(&out, path);
        perf_put_(&out, ".damaged");
        if (i > 1)
            perf_putf_(&out, ".%.0f", 1.0 * i);
#if PERF_POSIX_FILES_
        done = !perf_link_(path, name);
#else
        done = !rename(path, name);             /* fails there when the name is taken             */
#endif
    }
    PERF_FREE(name);
    return done;
}

typedef struct perf_text_file_ {
    perf_file_  file;
    const char *text;
    size_t      len;
} perf_text_file_;

/* Writes the text of perf_saving_text_ into a file beside `path`, which then takes its name; or
 * into `stream`, if not NULL, which stays open.  durable: read back, and on the disk before it
 * replaces what was there.                                                                       */
PERF_COLD_FN_ perf_status perf_saving_save_(const char *path, FILE *stream,
                                            void (*put)(perf_out_ *, const void *),
                                            const perf_results_opts *opts, const perf_read_ *old,
                                            int durable)
{
    perf_text_file_ file = PERF_ZERO;
    perf_status     status;
    char           *text;

    if (!stream && (!path || !*path))
        return PERF_EINVAL;
    file.file.durable = durable;
    text = perf_saving_text_(put, opts, old, &file.len, &status);
    file.text = text;
    if (text && !stream)
        status = perf_file_save_(path, &file.file, perf_text_go_, &file);
    else if (text && !perf_out_write_(stream, text, file.len, 0))
        status = PERF_EIO;
    PERF_FREE(text);
    return status;
}

PERF_COLD_FN_ void perf_text_go_(void *with)
{
    perf_text_file_ *text = PERF_CAST_(perf_text_file_ *, with);
    perf_file_      *file = &text->file;

    if (!perf_out_write_(file->file, text->text, text->len, 0))
        file->failed = 1;
    if (file->durable && !file->direct && !perf_text_is_there_(file->file, text->text, text->len))
        file->failed = 1;
}

/* 1: the file holds the text and no more. */
PERF_COLD_FN_ int perf_text_is_there_(FILE *file, const char *text, size_t len)
{
    char   part[4096];
    size_t got, at = 0;

    if (fseek(file, 0, SEEK_SET))
        return 0;
    while ((got = fread(part, 1, sizeof part, file)) > 0) {
        if (got > len - at || memcmp(part, text + at, got) != 0)
            return 0;
        at += got;
    }
    return at == len && !ferror(file);
}

/* What there is to write (perf_saving_take_) as a text, to be freed, as `put` writes it (NULL: as
 * our own JSON, which our reader has read again).  With what is kept of `old`, if that is not NULL.
 * NULL: *status says why.                                                                        */
PERF_COLD_FN_ char *perf_saving_text_(void (*put)(perf_out_ *, const void *),
                                      const perf_results_opts *opts, const perf_read_ *old,
                                      size_t *len, perf_status *status)
{
    perf_registry_ *core = perf_registry_read_();
    perf_out_       out;
    perf_saving_    saving;
    int             held;

    *len = 0;
    *status = PERF_EINVAL;
    if (!perf_results_opts_good_(opts))
        return PERF_CAST_(char *, PERF_NULL_);
    out = perf_out_grows_();
    held = core && perf_loops_hold_(core);      /* ended loops stay while it reads                */
    saving = perf_saving_take_(opts);
    *status = saving.status;
    saving.old = old;
    if (old && (!opts || !opts->run))
        perf_run_number_(&saving.run, old);
    if (saving.status == PERF_OK && put)
        put(&out, &saving);
    else if (saving.status == PERF_OK)
        perf_put_own_(&out, &saving);
    if (held)
        perf_loops_let_(core);
    perf_saving_free_(&saving);
    if (*status == PERF_OK && out.failed)
        *status = PERF_ENOMEM;
    if (*status == PERF_OK && !put)
        *status = perf_text_refused_(out.p, out.len);
    if (*status == PERF_OK) {
        *len = out.len;
        return out.p;
    }
    PERF_FREE(out.p);
    return PERF_CAST_(char *, PERF_NULL_);
}

/* "2026-11-21T12:00:00Z 4711 (2)": an id made here is that of no run of the file. */
PERF_COLD_FN_ void perf_run_number_(perf_run_ *run, const perf_read_ *old)
{
    const size_t length = strlen(run->id);
    uint64_t     number;

    for (number = 2; perf_read_run_index_(old, run->id) >= 0; number++) {
        perf_out_ out = perf_out_open_(run->id + length, sizeof run->id - length);
        perf_put_(&out, " (");
        perf_put_u64_(&out, number);
        perf_put_char_(&out, ')');
    }
}

/* The status of our own reader on our own text: what it refuses is never written. */
PERF_COLD_FN_ perf_status perf_text_refused_(const char *text, size_t len)
{
    perf_read_  file;
    perf_status status;

    perf_read_results_(&file, text, len, PERF_NULL_);
    status = file.in.status;
    perf_read_free_(&file);
    return status;
}

PERF_COLD_FN_ void perf_saving_free_(perf_saving_ *saving)
{
    size_t i;

    for (i = 0; i < saving->loops; i++)
        PERF_FREE(saving->loop[i].numbered);
    PERF_FREE(saving->loop);
    PERF_FREE(saving->scope);
    PERF_FREE(saving->bucket);
}

PERF_END_DECLS

#endif /* PERF_SAVED_H */
